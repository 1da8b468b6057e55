/* SPDX-License-Identifier: Apache-2.0 */
/* pipeline.c - pipeline parallelism: which calls of the program are a stage's, and what it is sent.
 *
 * The units are shared evenly, in their order; what stands before the first one is the first stage's, what stands
 * behind the last one the last's. A stage is sent what earlier ones made of parameters or of real numbers and it or a
 * later one reads. Masks, positions and other tables that no parameter goes into every stage makes for itself, as a
 * model does that was built with a part of its layers; of inputs, and of parameters that several stages read, each of
 * them has its own.
 *
 * Source: torch/distributed/pipelining/stage.py (PipelineStage), schedules.py (Schedule1F1B).
 */
#include "base/setup.h"
#include "torch/torch.h"

enum { SHOWN = 16 /* stages whose peak is listed */ };

/* Per slot the call that makes it, -1 none. */
static int *
makers_of(struct arena *a, const struct program *p)
{
    int *maker = NEWN(a, int, p->nslots + 1);
    memset(maker, -1, sizeof(*maker) * (size_t)(p->nslots + 1));
    for (int i = 0; i < p->ncalls; i++)
        for (int k = 0; k < p->calls[i].nouts; k++)
            maker[p->calls[i].outs[k]] = i;
    return maker;
}

/* Per slot whether a parameter or an input of real numbers goes into it. */
static bool *
learned_of(struct arena *a, const struct program *p)
{
    bool *learned = NEWN(a, bool, p->nslots + 1);
    for (int i = 0; i < p->nparams; i++)
        learned[p->params[i].slot] |= p->params[i].kind == PARAM_TRAINED || p->params[i].kind == PARAM_FROZEN;
    for (int i = 0; i < p->ninputs; i++)
        learned[p->inputs[i].slot] = dtypes[p->inputs[i].dtype].is_float;
    for (int i = 0, slot; i < p->ncalls; i++) {
        bool any = false;
        for (struct call_reads r = {&p->calls[i]}; (slot = next_read(&r)) >= 0;)
            any |= learned[slot];
        for (int k = 0; k < p->calls[i].nouts; k++)
            learned[p->calls[i].outs[k]] = any;
    }
    return learned;
}

/* The first call of a stage, from the units shared evenly. */
static int
begin_of(const struct program *p, int stages, int stage)
{
    int each = p->nunits / stages, more = p->nunits % stages;
    int unit = stage * each + (stage < more ? stage : more);
    return stage == 0 ? 0 : stage == stages ? p->ncalls : p->units[unit].first;
}

const struct program *
stage_of(struct arena *a, const struct program *p, const struct setup *s, struct stage **stage)
{
    struct stage *t = *stage = NEW(a, struct stage);
    const int *maker = makers_of(a, p);
    const bool *learned = learned_of(a, p);
    bool *read = NEWN(a, bool, p->nslots + 1), *sent = NEWN(a, bool, p->nslots + 1);
    int first = begin_of(p, s->gpus, s->stage), end = begin_of(p, s->gpus, s->stage + 1), slot;
    t->first = first;
    t->is_first = s->stage == 0;
    t->is_last = s->stage == s->gpus - 1;
    t->runs = NEWN(a, bool, p->ncalls + 1);
    t->in = NEWN(a, int, p->nslots + 1);
    t->out = NEWN(a, int, p->nslots + 1);
    t->reads = NEWN(a, bool, p->nslots + 1);
    t->warmup = s->gpus - s->stage < s->micro_batches ? s->gpus - s->stage : s->micro_batches;
    for (int i = p->ncalls - 1; i >= 0; i--) {
        const struct call *c = &p->calls[i];
        bool needed = i >= first && i < end;
        for (int k = 0; k < c->nouts && i < first; k++)
            needed |= t->reads[c->outs[k]] && !learned[c->outs[k]];
        t->runs[i] = needed;
        for (struct call_reads r = {c}; (slot = next_read(&r)) >= 0;) {
            t->reads[slot] |= needed;
            read[slot] |= i >= first;
            sent[slot] |= i >= end;
        }
    }
    for (int i = 0; i < p->nslots; i++) {
        if (maker[i] < 0 || !learned[i])
            continue;
        if (maker[i] < first && read[i])
            t->in[t->nin++] = i;
        if (maker[i] < end && sent[i])
            t->out[t->nout++] = i;
    }
    struct program *own = arena_dup(a, p, sizeof(*p));
    struct region *regions = NEWN(a, struct region, p->nregions + 1);
    for (int i = 0; i < p->nregions; i++) {
        regions[i] = p->regions[i];
        if (regions[i].end > first && regions[i].first < first)
            regions[i].first = first;
        if (regions[i].first < end && regions[i].end > end)
            regions[i].end = end;
    }
    own->regions = regions;
    return own;
}

bool
stage_worst(struct program *p, struct setup *s, const char **why)
{
    struct arena *a = p->arena;
    const char *peaks = "";
    int64_t most = -1;
    int worst = 0;
    s->micro_batches = s->micro_batches == 1 ? s->gpus : s->micro_batches;
    if (s->loop != loop_find("plain") && s->loop != loop_find("accumulate-N")) {
        *why = "of loops a pipeline has --loop=accumulate-N alone";
        return false;
    }
    if (p->nunits < s->gpus)
        *why = arena_printf(a, "%d GPUs can't share %d units, which --units names or lists have", s->gpus, p->nunits);
    else if (s->micro_batches < s->gpus)
        *why = arena_printf(a,
                            "Schedule1F1B wants a micro-batch for each stage, and --loop=accumulate-%d has fewer "
                            "than %d",
                            s->micro_batches, s->gpus);
    if (p->nunits < s->gpus || s->micro_batches < s->gpus)
        return false;
    for (s->stage = 0; s->stage < s->gpus; s->stage++) {
        int64_t bytes = measure_step(p, s, NULL, NULL).allocated;
        if (s->stage < SHOWN)
            peaks = arena_printf(a, "%s%s%s", peaks, s->stage ? ", " : "", bytes_text(a, bytes));
        worst = bytes > most ? s->stage : worst;
        most = bytes > most ? bytes : most;
    }
    s->stage = worst;
    program_assume(p, ALTERNATIVE_NONE,
                   "stage %d of %d, which is told, has the highest peak of the pipeline (stages 0 on: %s%s)", worst,
                   s->gpus, peaks, s->gpus > SHOWN ? ", ..." : "");
    program_assume(p, ALTERNATIVE_NONE,
                   "a step has %d micro-batches, each of the batch that was asked for, and schedule.step returns no "
                   "outputs (return_outputs=False); masks and positions each stage makes for itself",
                   s->micro_batches);
    return true;
}
