/* SPDX-License-Identifier: Apache-2.0 */
/* masks.c - masks of attention that a library makes for the trace alone.
 *
 * Where no token is masked, Transformers leaves the mask out; but not while a model is exported, since there it can't
 * look at a mask's values (masking_utils.py, _ignore_causal_mask_sdpa and _ignore_bidirectional_mask_sdpa). So a mask
 * that depends on no input is none of the step's, and neither are the calls that make it. One with a window is there
 * where the sequence is longer than the window, which a folded constant does not say.
 *
 * With a mask keys and values are repeated for the heads of a group, without one attention does that itself
 * (integrations/sdpa_attention.py, use_gqa_in_sdpa).
 */
#include "lower/dynamo.h"
#include "torch/torch.h"

#include <string.h>

enum { KEY = 1, VALUE, MASK, IS_CAUSAL = 5, ENABLE_GQA = 7, ALL, DEEPEST = 16 };

/* Whether what a slot holds follows from constants alone; *window: one of them compares with a window's end. */
static bool
is_constant(const struct program *p, int64_t slot, int depth, bool *window)
{
    const struct call *c = depth < DEEPEST ? group_maker(p, slot) : NULL;
    if (!c)
        return false;
    if (target_is(c->target, TARGET_FOLDED)) {
        *window |= target_is(c->args[0].s, TARGET_EXCEEDS);
        return true;
    }
    for (int i = 0; i < c->nargs; i++)
        if (c->args[i].kind == ARG_LIST ||
            (c->args[i].kind == ARG_SLOT && !is_constant(p, c->args[i].i, depth + 1, window)))
            return false;
    return c->nargs > 0;
}

/* What was repeated for the heads of each group, [B, G, S, D] as [B, G, N, S, D]; -1: it was not. */
static int
repeated(const struct program *p, const struct arg *a)
{
    const struct call *c = a->kind == ARG_SLOT ? group_maker(p, a->i) : NULL;
    if (c && target_is(c->target, TARGET_KEEPS) && c->args[0].kind == ARG_SLOT) /* reshape */
        c = group_maker(p, c->args[0].i);
    const bool wide = c && target_is(c->target, TARGET_VIEWS) && !target_is(c->target, TARGET_KEEPS) && c->rank == 5 &&
                      c->args[0].kind == ARG_SLOT; /* expand */
    const struct call *by = wide ? group_maker(p, c->args[0].i) : NULL;
    bool one = by && target_is(by->target, TARGET_KEEPS) && by->nargs > 1 && by->args[1].kind == ARG_INT &&
               by->args[1].i == 2; /* unsqueeze */
    return one && by->args[0].kind == ARG_SLOT ? (int)by->args[0].i : -1;
}

static void
leave(struct dynamo *d, const struct arg *a)
{
    *PUSH(d->l->a, d->traced, d->ntraced, d->cap_traced) = (int)a->i;
}

static const struct fact *
masking_fact(const struct dynamo *d, const struct group *g, const struct arg *args, int n)
{
    if (n <= MASK || !args[MASK].s || !g->path)
        return NULL;
    const struct place at = fact_place(d->l, g->path, target_bare(g->target));
    const struct fact *f = fact_next(d->l, NULL, 1u << FACT_MASKS_ALWAYS | 1u << FACT_MASKS_TRACE, &at);
    return f && f->kind == FACT_MASKS_TRACE && starts_with(args[MASK].s, f->arg) ? f : NULL;
}

/* A small mask is folded with the numbers that attention adds, so that nothing is left of it. */
void
masks_lost(const struct dynamo *d, const struct group *g, struct arg *args, int n)
{
    const struct graph *graph = d->l->g;
    if (!masking_fact(d, g, args, n) || args[MASK].kind != ARG_SLOT || args[MASK].i >= 0 ||
        graph_find(graph, args[MASK].s) >= 0)
        return;
    for (int i = 0; i < g->nnodes; i++)
        for (int k = 0; k < graph->n[g->nodes[i]].nin; k++) {
            int t = graph->n[g->nodes[i]].in[k], by = t < 0 ? -1 : graph->t[t].producer;
            if (t >= 0 && graph->t[t].dtype == DT_BOOL && (by < 0 || d->group_of[by] != d->group_of[g->last]))
                return;
        }
    args[MASK] = (struct arg){.kind = ARG_NONE, .s = args[MASK].s};
}

int
masks_leave(struct dynamo *d, const struct group *g, struct arg *args, int n)
{
    const struct program *p = d->l->p;
    bool window = false;
    if (!masking_fact(d, g, args, n))
        return n;
    if (args[MASK].kind == ARG_SLOT) {
        const bool again = d->ntraced && args[MASK].i == d->traced[0];
        if (!again && !is_constant(p, args[MASK].i, 0, &window))
            return n;
        if (window || (d->ntraced && !again)) {
            graph_doubt(d->l->g, d->l->g->n[g->last].name, g->target, NULL,
                        "whether the sequence is longer than a window of attention, and masked");
            return n;
        }
        leave(d, &args[MASK]);
    }
    args[MASK] = NONE;
    int key = repeated(p, &args[KEY]), value = repeated(p, &args[VALUE]);
    if (key < 0 || value < 0)
        return n;
    leave(d, &args[KEY]);
    leave(d, &args[VALUE]);
    args[KEY].i = key;
    args[VALUE].i = value;
    while (n < ALL)
        args[n++] = NONE;
    args[IS_CAUSAL] = args[ENABLE_GQA] = BOOL(true);
    return n;
}

static void
count_reads(const struct arg *a, int *reads, int by)
{
    if (a->kind == ARG_SLOT && a->i >= 0)
        reads[a->i] += by;
    for (int i = 0; a->kind == ARG_LIST && i < a->n; i++)
        count_reads(&a->list[i], reads, by);
}

void
masks_sweep(struct dynamo *d)
{
    if (!d->ntraced)
        return;
    struct program *p = d->l->p;
    int *reads = NEWN(d->l->a, int, p->nslots + 1);
    bool *made = NEWN(d->l->a, bool, p->nslots + 1); /* for what is left out */
    for (int i = 0; i < p->ncalls; i++)
        for (int k = 0; k < p->calls[i].nargs; k++)
            count_reads(&p->calls[i].args[k], reads, 1);
    for (int i = 0; i < d->ntraced; i++)
        made[d->traced[i]] = true;
    int to = p->ncalls;
    for (int i = p->ncalls - 1; i >= 0; i--) {
        const struct call *c = &p->calls[i];
        if (c->nouts != 1 || !made[c->outs[0]] || reads[c->outs[0]]) {
            p->calls[--to] = *c;
            continue;
        }
        for (int k = 0; k < c->nargs; k++) {
            count_reads(&c->args[k], reads, -1);
            if (c->args[k].kind == ARG_SLOT && c->args[k].i >= 0)
                made[c->args[k].i] = true;
        }
    }
    p->ncalls -= to;
    memmove(p->calls, p->calls + to, sizeof(*p->calls) * (size_t)p->ncalls);
}
