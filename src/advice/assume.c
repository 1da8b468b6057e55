/* SPDX-License-Identifier: Apache-2.0 */
/* assume.c - what a file can't show is assumed, and what an assumption is worth is measured: the model is read and the
 * step run again with the alternative, in an arena of its own.
 *
 * Dimensions that nobody bound are measured alike. A row is an alternative: the option that chooses it, where there is
 * one, and the change of the set-up. Where no option does, a bit of setup.instead asks the lowering for its other
 * reading.
 */
#include "advice/advice.h"
#include "base/setup.h"

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
all_in_place(struct setup *s)
{
    s->inplace = INPLACE_ALL;
}

static void
to_math(struct setup *s)
{
    s->attention = ATTENTION_MATH;
}

static void
to_cells(struct setup *s)
{
    s->recurrent = RECURRENT_CELLS;
}

/* Percent. What is less is said with the assumption, under the headline. */
static const double OPEN = 0.5;

static const struct {
    const char *option; /* NULL: none says so */
    void (*change)(struct setup *s);
    bool runs;        /* it changes how the program runs, not what the program is */
    bool names;       /* likewise, by nothing but how long its names hold */
    bool casts;       /* by nothing but casts that an export left out: which did nothing to the types that it had */
    bool checkpoints; /* it puts layers under checkpoint */
    bool open; /* neither is the usual one: where the alternative moves the peak by more than OPEN, it is a doubt */
    const char *what;    /* is open, in a word */
    const char *settles; /* says which it is */
    enum sure sure;      /* what is certain then */
} rows[ALTERNATIVE_COUNT] = {
    [ALTERNATIVE_LOSS] = {"--loss=mse", to_mse, true},
    [ALTERNATIVE_LOOP] = {"--loop=late-zero", to_late_zero, true},
    [ALTERNATIVE_DROPOUT] = {"--dropout=none", without_dropout, false},
    [ALTERNATIVE_DROPS] = {.option = "--dropout=none",
                           .change = without_dropout,
                           .open = true,
                           .what = "dropout",
                           .settles = "--dropout=auto or --dropout=none says which",
                           .sure = SURE_UPDATE},
    [ALTERNATIVE_UNSEEN] = {.open = true,
                            .what = "dropout",
                            .settles = "--dropout=none says that there is none, and an export in training mode has it",
                            .sure = SURE_UPDATE},
    [ALTERNATIVE_INPLACE] = {"--assume inplace=none", out_of_place, false},
    [ALTERNATIVE_OVERWRITES] = {.option = "--assume inplace=all",
                                .change = all_in_place,
                                .open = true,
                                .what = "activation",
                                .settles = "--assume inplace=none or inplace=all says which",
                                .sure = SURE_UPDATE},
    [ALTERNATIVE_ATTENTION] = {"--assume attention=math", to_math, true},
    [ALTERNATIVE_TRANSPOSED] = {.open = true,
                                .what = "parameter",
                                .settles = "an export with dynamo=True, or in training mode, says which",
                                .sure = SURE_UPDATE},
    [ALTERNATIVE_MAX] = {.open = true,
                         .what = "maximum",
                         .settles = "an export with dynamo=True says which",
                         .sure = SURE_UPDATE},
    [ALTERNATIVE_TURNED] = {.open = true,
                            .what = "copy",
                            .settles = "an export with dynamo=True says which",
                            .sure = SURE_UPDATE},
    [ALTERNATIVE_EARLY] = {.open = true,
                           .what = "loss",
                           .settles = "an export with dynamo=True says which",
                           .sure = SURE_UPDATE},
    [ALTERNATIVE_TWICE] = {.open = true,
                           .what = "equal tensors",
                           .settles = "an export with dynamo=True has both",
                           .sure = SURE_UPDATE},
    [ALTERNATIVE_PRODUCTS] = {.open = true,
                              .what = "product",
                              .settles = "an export with dynamo=True says which",
                              .sure = SURE_UPDATE},
    [ALTERNATIVE_DETACHED] = {.open = true,
                              .what = "gradient",
                              .settles = "an export with dynamo=True says which",
                              .sure = SURE_UPDATE},
    [ALTERNATIVE_GRADIENTS] = {.open = true,
                               .what = "gradient",
                               .settles = "a file of memlint.export says which",
                               .sure = SURE_UPDATE},
    [ALTERNATIVE_WIDENED] = {.open = true,
                             .what = "gradient",
                             .settles = "a file of memlint.export says which",
                             .sure = SURE_UPDATE},
    [ALTERNATIVE_SQUARES] = {.open = true,
                             .what = "square",
                             .settles = "an export with dynamo=True says which",
                             .sure = SURE_UPDATE},
    [ALTERNATIVE_LEFT] = {.open = true,
                          .what = "copy",
                          .settles = "a file of memlint.export says which",
                          .sure = SURE_UPDATE},
    [ALTERNATIVE_CLONED] = {.open = true,
                            .what = "copy",
                            .settles = "a file of memlint.export says which",
                            .sure = SURE_UPDATE},
    [ALTERNATIVE_BUFFERS] = {.open = true,
                             .what = "parameter",
                             .settles = "an export with dynamo=True says which, or --freeze=NAME",
                             .sure = SURE_MODEL},
    [ALTERNATIVE_FOLDED] = {.open = true,
                            .what = "folded tensor",
                            .settles = "an export with optimize=False has their data",
                            .sure = SURE_CALLS},
    [ALTERNATIVE_COMPUTED] = {.open = true,
                              .what = "parameter",
                              .settles = "an export with dynamo=True, or in training mode, says which",
                              .sure = SURE_MODEL},
    [ALTERNATIVE_CHECKPOINTS] = {.open = true,
                                 .what = "torch.utils.checkpoint",
                                 .settles = "--recompute=none or --recompute=NAMES says which",
                                 .sure = SURE_UPDATE},
    [ALTERNATIVE_SWITCH] = {.checkpoints = true},
    [ALTERNATIVE_LOCALS] = {.names = true,
                            .open = true,
                            .what = "locals",
                            .settles = "an export with dynamo=True has the lines",
                            .sure = SURE_UPDATE},
    [ALTERNATIVE_TYPES] = {.open = true,
                           .what = "dtype",
                           .settles = "a cast in a line of forward, or a file of memlint.export, says which",
                           .sure = SURE_UPDATE},
    [ALTERNATIVE_CASTS] = {.open = true,
                           .what = "dtype",
                           .settles = "a file of memlint.export has the casts",
                           .sure = SURE_UPDATE},
    [ALTERNATIVE_LISTS] = {.names = true,
                           .open = true,
                           .what = "locals",
                           .settles = "a file of memlint.export says how long",
                           .sure = SURE_UPDATE},
    [ALTERNATIVE_FUNCTIONS] = {.names = true,
                               .open = true,
                               .what = "locals",
                               .settles = "a file of memlint.export says how long",
                               .sure = SURE_UPDATE},
    [ALTERNATIVE_WEIGHTS] = {.names = true,
                             .open = true,
                             .what = "attention",
                             .settles = "a file of memlint.export says how long",
                             .sure = SURE_UPDATE},
    [ALTERNATIVE_CELLS] = {.option = "--assume recurrent=cells",
                           .change = to_cells,
                           .runs = true,
                           .open = true,
                           .what = "cuDNN",
                           .settles = "torch.backends.cudnn.version() says which: --assume recurrent=cudnn or "
                                      "recurrent=cells",
                           .sure = SURE_UPDATE},
    [ALTERNATIVE_MERGED] = {.open = true,
                            .what = "merged call",
                            .settles = "a file of memlint.export has each",
                            .sure = SURE_UPDATE},
    [ALTERNATIVE_REMADE] = {.open = true,
                            .what = "merged call",
                            .settles = "a file of memlint.export has each",
                            .sure = SURE_UPDATE},
    [ALTERNATIVE_PARTS] = {.open = true,
                           .what = "split",
                           .settles = "a file of memlint.export has the line",
                           .sure = SURE_UPDATE},
    [ALTERNATIVE_UNREAD] = {.open = true,
                            .what = "layer",
                            .settles = "a file of memlint.export has each call that ran",
                            .sure = SURE_UPDATE},
    [ALTERNATIVE_UNSIZED] = {.open = true,
                             .what = "parameter",
                             .settles = "a file of memlint.export has their sizes",
                             .sure = SURE_UPDATE},
    [ALTERNATIVE_KERNEL] = {.runs = true,
                            .open = true,
                            .what = "bitsandbytes",
                            .settles = "the GPU says which; above that many rows there is one way",
                            .sure = SURE_UPDATE},
    [ALTERNATIVE_SILU] = {.open = true,
                          .what = "activation",
                          .settles = "an export with dynamo=True says which",
                          .sure = SURE_UPDATE},
    [ALTERNATIVE_ASKS] = {.open = true,
                          .what = "gradient",
                          .settles = "a file of memlint.export says which",
                          .sure = SURE_UPDATE},
    [ALTERNATIVE_FACT_CASTS] = {.casts = true},
    [ALTERNATIVE_BEHIND] = {.names = true,
                            .open = true,
                            .what = "locals",
                            .settles = "a file of memlint.export says how long",
                            .sure = SURE_UPDATE},
    [ALTERNATIVE_TRACED] = {.names = true,
                            .open = true,
                            .what = "locals",
                            .settles = "an export whose forward has no such region has the lines",
                            .sure = SURE_UPDATE},
};

/* The program under another set-up, of what it was made being the same, or read again; false when the model can't be
 * read so. */
static bool
measure(const struct study *x, bool again, struct setup *s, struct measured *to)
{
    struct arena *a = arena_new();
    const struct program *p = again ? x->reload(x, a, s) : x->p;
    if (p)
        *to = measure_step(p, s, NULL, NULL);
    arena_free(a);
    return p != NULL;
}

/* The same of other names; false where they hold what they held, and nothing runs. */
static bool
measure_names(const struct study *x, const struct setup *s, struct measured *to)
{
    struct arena *a = arena_new();
    struct graph g;
    struct program p = program_apart(x->p, &g, a);
    p.held = NULL;
    g.first = g.first ? g.first : x->p; /* which has asked what else its lines say */
    step_holds(&p, s);
    bool same = memcmp(p.held, x->p->held, sizeof(*p.held) * (size_t)p.nslots) == 0;
    if (!same)
        *to = measure_step(&p, s, NULL, NULL);
    arena_free(a);
    return !same;
}

/* The same with what the library's switch puts under checkpoint; false where no call is of that. */
static bool
measure_switched(const struct study *x, const struct setup *s, struct measured *to)
{
    struct arena *a = arena_new();
    struct program p = *x->p;
    const char *why;
    const bool there = recompute_modules(a, &p, p.switched, &why);
    if (there)
        *to = measure_step(&p, s, NULL, NULL);
    arena_free(a);
    return there;
}

/* Whether all numbers with a fraction are of one type, so that a cast from one to another is the tensor that it casts.
 */
static bool
has_one_type(const struct step *st)
{
    enum dtype one = DT_UNDEFINED;
    for (int i = 0; i < st->m->nst; i++) {
        const enum dtype t = st->m->st[i]->dtype;
        if (dtypes[t].is_float && one && t != one)
            return false;
        one = dtypes[t].is_float ? t : one;
    }
    return true;
}

/* The i-th of all; what was assumed twice has one alternative. */
static void
measure_one(const struct study *x, int64_t peak, struct assumption *all, int i)
{
    struct assumption *q = &all[i];
    struct setup s = *x->s;
    for (int k = 0; k < i; k++)
        if (all[k].alternative == q->alternative && all[k].measured) {
            q->effect_bytes = all[k].effect_bytes;
            q->reserved = all[k].reserved;
            q->measured = true;
            return;
        }
    if (rows[q->alternative].casts && has_one_type(x->st)) {
        q->measured = true;
        return;
    }
    s.unreserved = !rows[q->alternative].open || s.capacity <= 0; /* whether a device has room for it */
    bool asked = s.parallel || rows[q->alternative].change || x->p->asked >> q->alternative & 1;
    if (rows[q->alternative].change)
        rows[q->alternative].change(&s);
    else
        s.instead |= UINT64_C(1) << q->alternative;
    struct measured m;
    const bool names = rows[q->alternative].names && !asked,
               ran = names                              ? measure_names(x, &s, &m)
                     : rows[q->alternative].checkpoints ? measure_switched(x, &s, &m)
                                                        : measure(x, asked && !rows[q->alternative].runs, &s, &m);
    q->measured = ran || names;
    q->effect_bytes = ran ? m.allocated - peak : 0;
    q->reserved = ran ? m.reserved : 0;
}

void
assume_doubt(const struct study *x)
{
    int64_t peak = -1; /* not known yet */
    for (int i = 0; i < x->p->nassumptions && !study_is_large(x); i++) {
        struct assumption *q = &x->p->assumptions[i];
        if (!rows[q->alternative].open)
            continue;
        peak = peak < 0 ? live_run(x->st)->peak_bytes : peak;
        measure_one(x, peak, x->p->assumptions, i);
        double percent = peak > 0 ? 100.0 * (double)q->effect_bytes / (double)peak : 0;
        if (!q->measured || (percent <= OPEN && percent >= -OPEN))
            continue;
        struct doubt *d =
            graph_doubt(x->p->graph, "model", rows[q->alternative].what, NULL, "%s; otherwise the peak is %+.1f %%: %s",
                        q->text, percent, rows[q->alternative].settles);
        d->sure = rows[q->alternative].sure;
        d->assumed = q->text;
    }
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
        struct measured m;
        if (all[i].dim && measure(x, true, &s, &m))
            all[i].effect_bytes = m.allocated - r->peak.allocated;
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
        const char *layers = rows[q->alternative].checkpoints ? string_shell(x->a, x->p->switched) : NULL;
        q->option = layers ? arena_printf(x->a, "--recompute=%s", layers) : rows[q->alternative].option;
        q->called = layers ? x->p->unseen_switch : NULL;
        study_tell(x, "trying assumptions", i, r->setup.nassumptions);
        if (!q->measured)
            measure_one(x, r->peak.allocated, all, i);
    }
    r->setup.assumptions = all;
    if (r->ndoubts)
        measure_dims(x, r);
}
