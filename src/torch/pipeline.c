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

int
stage_first(int units, int stages, int stage)
{
    int each = units / stages, more = units % stages;
    return stage * each + (stage < more ? stage : more);
}

/* The first call of a stage, from the units shared evenly. */
static int
begin_of(const struct program *p, int stages, int stage)
{
    return stage == 0 ? 0 : stage == stages ? p->ncalls : p->units[stage_first(p->nunits, stages, stage)].first;
}

const struct program *
stage_of(struct arena *a, const struct program *p, const struct setup *s, struct stage **stage)
{
    struct stage *t = *stage = NEW(a, struct stage);
    const int *maker = program_makers(p, a);
    const bool *learned = program_learned(p, a);
    bool *read = NEWN(a, bool, p->nslots + 1), *sent = NEWN(a, bool, p->nslots + 1);
    int first = begin_of(p, s->gpus, s->stage), end = begin_of(p, s->gpus, s->stage + 1), slot;
    t->first = first;
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
