/* SPDX-License-Identifier: Apache-2.0 */
/* live.c - bytes at every instant, and who owns them at the peak.
 *
 * The step is a list of births and deaths already; the sweep adds them up by class. live_recount shares no code with
 * it: it asks of every storage whether it is alive, and is quadratic. Tests compare the two.
 */
#include "base/setup.h"
#include "torch/torch.h"

#include <string.h>

struct live *
live_run(const struct step *st)
{
    const struct machine *m = st->m;
    struct live *l = NEW(st->arena, struct live);
    int64_t now[CLASS_COUNT] = {0}, total = st->before_bytes;
    for (int i = 0; i < st->before; i++)
        now[m->st[i]->class] += m->st[i]->bytes;
    memcpy(l->start, now, sizeof(now));
    memcpy(l->at_peak, now, sizeof(now));
    l->peak_bytes = l->forward_bytes = l->backward_bytes = total;
    l->peak = -1;
    for (int i = 0; i < m->nev; i++) {
        const struct event *e = &m->ev[i];
        const struct storage *s = m->st[e->storage];
        int64_t change = e->birth ? s->bytes : -s->bytes;
        now[s->class] += change;
        total += change;
        if (e->phase <= PHASE_LOSS && total > l->forward_bytes)
            l->forward_bytes = total;
        if (e->phase <= PHASE_BACKWARD && total > l->backward_bytes)
            l->backward_bytes = total;
        if (total > l->peak_bytes) {
            l->peak_bytes = total;
            l->peak = i;
            memcpy(l->at_peak, now, sizeof(now));
        }
    }
    l->alive = NEWN(st->arena, bool, m->nst + 1);
    memset(l->alive, true, (size_t)st->before * sizeof(*l->alive));
    for (int i = 0; i <= l->peak; i++)
        l->alive[m->ev[i].storage] = m->ev[i].birth;
    return l;
}

int64_t
live_recount(const struct step *st, int at)
{
    const struct machine *m = st->m;
    int64_t bytes = 0;
    for (int s = 0; s < m->nst; s++) {
        int births = s < st->before, deaths = 0;
        for (int i = 0; i <= at; i++)
            if (m->ev[i].storage == s) {
                births += m->ev[i].birth;
                deaths += !m->ev[i].birth;
            }
        bytes += births > deaths ? m->st[s]->bytes : 0;
    }
    return bytes;
}

struct curve
curve_of(int n, const int64_t *bytes, const enum phase *phase)
{
    struct curve c = {0};
    int runs = 0;
    for (int i = 1; i < n; i++)
        runs += phase[i] != phase[i - 1];
    const bool parts = runs < CURVE / 4; /* a column of two phases is neither's */
    const int columns = parts ? CURVE - runs - 1 : CURVE;
    for (int64_t i = 0, next = 0, end; i < n; i = end) { /* next: where the next column begins */
        int64_t most = 0;
        if (i == next)
            next = div_up((i * columns / n + 1) * n, columns);
        for (end = i; end < n && end < next && (!parts || phase[end] == phase[i]); end++)
            most = bytes[end] > most ? bytes[end] : most;
        c.at[c.n].phase = phase[i];
        c.at[c.n++].bytes = most;
    }
    return c;
}

struct program
program_apart(const struct program *p, struct graph *g, struct arena *a)
{
    struct program q = *p;
    *g = graph_apart(p->graph, a);
    q.arena = a;
    q.assumptions = NULL;
    q.nassumptions = q.cap_assumptions = 0;
    q.graph = g;
    return q;
}

static struct measured
measured_of(struct arena *a, const struct step *st)
{
    const struct machine *m = st->m;
    const bool drawn = !m->unreserved && !m->tape;
    int64_t *bytes = drawn ? NEWN(a, int64_t, m->nev + 1) : NULL, total = st->before_bytes, peak = total;
    enum phase *phase = drawn ? NEWN(a, enum phase, m->nev + 1) : NULL;
    const struct event none = {.phase = PHASE_INPUT}, *at = &none;
    for (int i = 0; i < m->nev; i++) {
        const struct event *e = &m->ev[i];
        const struct storage *s = m->st[e->storage];
        total += e->birth ? s->bytes : -s->bytes;
        if (drawn) {
            bytes[i] = total;
            phase[i] = e->phase;
        }
        if (total > peak) {
            peak = total;
            at = e;
        }
    }
    return (struct measured){.allocated = peak,
                             .reserved = m->reserved_bytes,
                             .phase = at->phase,
                             .op = at->op,
                             .location = at->call ? at->call->location : NULL,
                             .flops = st->forward_flops,
                             .recomputed_flops = st->recomputed_flops,
                             .exchanged = m->exchanged,
                             .passed = m->passed,
                             .same = m->same,
                             .curve = curve_of(drawn ? m->nev : 0, bytes, phase)};
}

static void
measure_update(const struct step *st, int i, void *to)
{
    struct measured *all = to;
    all[i] = measured_of(st->arena, st);
}

void
measure_updates(const struct program *p, const struct setup *s, int n, const struct optimizer *const *optimizer,
                struct measured *to)
{
    struct arena *a = arena_new();
    struct graph g;
    struct program q = program_apart(p, &g, a);
    for (int i = 0; i < n; i++)
        to[i] = (struct measured){.allocated = -1};
    step_updates(&q, s, &(struct updates){n, optimizer, measure_update, to});
    arena_free(a);
}

struct measured
measure_step(const struct program *p, const struct setup *s, void (*look)(const struct step *st, void *to), void *to)
{
    struct arena *a = arena_new();
    struct graph g;
    struct program q = program_apart(p, &g, a); /* doubts and assumptions were said by the first run */
    jmp_buf enough;
    struct setup own = *s;
    struct measured m = {.allocated = INT64_MAX};
    own.enough = &enough;
    own.measured = true;
    own.looked_at = look != NULL;
    if (setjmp(enough) == 0) {
        struct step *st = step_run(&q, &own);
        m = measured_of(a, st);
        if (look)
            look(st, to);
    } else {
        arena_free_newer(a);
    }
    arena_free(a);
    return m;
}

/* ---- the stages of a pipeline ------------------------------------------------------------------------------------ */

enum { SHOWN = 16 /* stages whose peak is listed */ };

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
