/* SPDX-License-Identifier: Apache-2.0 */
/* assume.c - what a file can't show is assumed, and what an assumption is worth is measured: the model is read and the
 * step run again with the alternative, in an arena of its own.
 *
 * Dimensions that nobody bound are measured alike. A row is an alternative: the option that chooses it, where there is one, and the change of the set-up. Where no option
 * does, a bit of setup.instead asks the lowering for its other reading.
 */
#include "advice/advice.h"

#include <string.h>

static void
to_mse(struct setup *s)
{
    s->loss = loss_find("mse");
}

static void
to_late_zero(struct setup *s)
{
    s->loop = loop_find("late-zero");
}

static void
without_dropout(struct setup *s)
{
    s->dropout = DROPOUT_NONE;
}

static void
out_of_place(struct setup *s)
{
    s->inplace = INPLACE_NONE;
}

static void
to_math(struct setup *s)
{
    s->attention = ATTENTION_MATH;
}

static const struct {
    const char *option; /* NULL: none says so */
    void (*change)(struct setup *s);
    bool runs; /* it changes how the program runs, not what the program is */
} rows[ALTERNATIVE_COUNT] = {
    [ALTERNATIVE_LOSS] = {"--loss=mse", to_mse, true},
    [ALTERNATIVE_LOOP] = {"--loop=late-zero", to_late_zero, true},
    [ALTERNATIVE_DROPOUT] = {"--dropout=none", without_dropout, false},
    [ALTERNATIVE_INPLACE] = {"--assume inplace=none", out_of_place, false},
    [ALTERNATIVE_ATTENTION] = {"--assume attention=math", to_math, true},
};

/* The peak under another set-up, less that of the step, of the program as it is or read again; false when the model can't be read so. */
static bool
measure(const struct study *x, const struct result *r, bool again, struct setup *s, int64_t *effect)
{
    struct arena *a = arena_new();
    const struct program *p = again ? x->reload(x, a, s) : x->p;
    if (p)
        *effect = measure_step(p, s, NULL, NULL).allocated - r->peak.allocated;
    arena_free(a);
    return p != NULL;
}

/* Dimensions that nobody bound: what 8 instead of 1 would add, each alone. */
static void
measure_dims(const struct study *x, struct result *r)
{
    enum { MOST = 4 };
    struct doubt *all = arena_dup(x->a, r->doubts, sizeof(*r->doubts) * (size_t)r->ndoubts);
    for (int i = 0, n = 0; i < r->ndoubts && n < MOST; i++) {
        n += all[i].dim != NULL;
        struct setup s = *x->s;
        s.dims = arena_dup(x->a, s.dims, sizeof(*s.dims) * (size_t)s.ndims);
        for (int k = 0; k < s.ndims && all[i].dim; k++)
            s.dims[k].n = strcmp(s.dims[k].name, all[i].dim) == 0 ? 8 : s.dims[k].n;
        if (all[i].dim)
            measure(x, r, true, &s, &all[i].effect_bytes);
    }
    r->doubts = all;
}

void
assume_measure(const struct study *x, struct result *r)
{
    struct assumption *all = NEWN(x->a, struct assumption, r->setup.nassumptions + 1);
    if (study_is_large(x))
        return;
    for (int i = 0; i < r->setup.nassumptions; i++) {
        struct assumption *q = &all[i];
        *q = r->setup.assumptions[i];
        if (q->alternative == ALTERNATIVE_NONE)
            continue;
        q->option = rows[q->alternative].option;
        struct setup s = *x->s;
        if (rows[q->alternative].change)
            rows[q->alternative].change(&s);
        else
            s.instead |= 1u << q->alternative;
        study_tell(x, "trying assumptions", i, r->setup.nassumptions);
        q->measured = measure(x, r, !rows[q->alternative].runs, &s, &q->effect_bytes);
    }
    r->setup.assumptions = all;
    if (r->ndoubts)
        measure_dims(x, r);
}
