/* SPDX-License-Identifier: Apache-2.0 */
/* scale.c - the step on 1 to 1,024 GPUs: what each of them needs, and for every device the cheapest way that fits.
 *
 * Every cell is a step that was run, with the same batch on each GPU, or on all together under tensor parallelism, or
 * as a micro-batch of a pipeline. Ways stand in the order of what they cost: one that comes later sends more, or
 * computes or copies more; behind those that leave a model as it is stand those that cut it, tensor parallelism and a
 * pipeline. They are for the GPUs of one node: links between nodes are too slow for what tensor parallelism sends
 * (Narayanan et al., Efficient Large-Scale Language Model Training on GPU Clusters Using Megatron-LM, arXiv:2104.04473,
 * section 3.2), and as many stages as a longer pipeline has would all have to be run. A model that as a whole takes
 * more than a rank's step does is built on the meta device. Devices of another kind run their own steps, as far as
 * these are needed to find the first way that fits.
 */
#include "advice/edit.h"
#include "base/setup.h"

#include <string.h>

static const struct rung {
    const char *strategy; /* a row of --list=parallel; NULL: one GPU */
    const char *large;    /* instead, for a model that is built on the meta device */
    const char *more;     /* what is said behind it */
    bool checkpoint;      /* of every unit */
} ladder[] = {
    {NULL, NULL, "", false},
    {NULL, NULL, ", checkpoints", true},
    {"ddp", NULL, "", false},
    {"ddp:bucket-view", NULL, "", false},
    {"zero1", NULL, "", false},
    {"fsdp", "fsdp:meta", "", false},
    {"fsdp", "fsdp:meta", ", checkpoints", true},
    {"fsdp:cpu-offload", "fsdp:meta,cpu-offload", ", checkpoints", true},
    {"tensor", NULL, ", one batch together", false},
    {"pipeline", NULL, ", micro-batches", false},
};
enum { WAYS = COUNT(ladder), DOUBLINGS = 10, COLUMNS = DOUBLINGS + 2 /* with that of --gpus */, NODE = 8 /* GPUs */ };

struct scaler {
    const struct study *s;
    struct arena *a;
    const struct result *r;
    struct scale *scale;
    const struct parallel *strategy[WAYS]; /* NULL: one GPU */
    const struct program *program[WAYS];   /* NULL: this model has no such way */
    struct rank_need *runs[DEVICE_KINDS][WAYS][COLUMNS];
};

/* ---- runs -------------------------------------------------------------------------------------------------------- */

struct look {
    struct arena *a;
    struct rank_need *need;
};

static void
look(const struct step *st, void *to)
{
    const struct look *l = to;
    const struct live *live = live_run(st);
    const struct graph *g = st->program->graph;
    int most = 0;
    for (int c = 0; c < CLASS_COUNT; c++)
        most = live->at_peak[c] > live->at_peak[most] ? c : most;
    l->need->holder = most;
    l->need->holder_bytes = live->at_peak[most];
    if (g->ndoubts)
        l->need->stops = arena_str(l->a, g->doubts[0].why);
}

static struct setup
setup_of(const struct scaler *x, int way, int column)
{
    struct setup s = *x->s->s;
    s.parallel = x->strategy[way];
    s.gpus = x->scale->gpus[column];
    return s;
}

static bool
cuts(const struct parallel *how)
{
    return how && (how->tensor || how->pipeline);
}

/* The program that a rank runs of one that is cut, and in *s its stage; NULL where the GPUs can't share it. */
static const struct program *
cut_for(struct arena *a, const struct program *p, struct setup *s)
{
    struct edit e = edit_new(a, s, p);
    const char *why;
    return (s->parallel->tensor ? tensor_cut(a, e.program, s, &why) : stage_worst(e.program, s, &why)) ? e.program
                                                                                                       : NULL;
}

static struct rank_need *
measure(struct scaler *x, int kind, int way, int column)
{
    struct rank_need *need = NEW(x->a, struct rank_need);
    struct arena *own = arena_new();
    struct setup s = setup_of(x, way, column);
    struct look l = {x->a, need};
    const struct program *p = x->program[way];
    s.device = kind == x->r->own_kind ? s.device : device_of_kind(kind);
    if (cuts(s.parallel) && !(p = cut_for(own, x->program[way], &s))) {
        need->allocated = -1;
        arena_free(own);
        return need;
    }
    struct measured m = measure_step(p, &s, look, &l);
    need->allocated = m.allocated;
    need->reserved = m.reserved;
    need->exchanged = m.exchanged;
    need->passed = m.passed;
    arena_free(own);
    return need;
}

/* What a GPU of that kind needs; a way that divides nothing needs the same on any number of them. */
static const struct rank_need *
run(struct scaler *x, int kind, int way, int column)
{
    const struct parallel *how = x->strategy[way];
    int at = !how ? 0 : how->shards || how->partitions || cuts(how) ? column : 1;
    struct rank_need **need = &x->runs[kind][way][at];
    if (!*need)
        *need = measure(x, kind, way, at);
    return *need;
}

static bool
has_column(const struct scaler *x, int way, int column)
{
    return (ladder[way].strategy == NULL) == (column == 0) &&
           (!cuts(x->strategy[way]) || x->scale->gpus[column] <= NODE);
}

/* The first way that fits the device on so many GPUs; -1 none. */
static int
cheapest(struct scaler *x, const struct fit *f, int column)
{
    for (int i = 0; i < x->scale->nways; i++) {
        int way = x->scale->ways[i].rung;
        struct setup s = setup_of(x, way, column);
        if (!has_column(x, way, column))
            continue;
        const struct rank_need *need = run(x, f->kind, way, column);
        int64_t context = device_context(&s, device_find(f->device)).most;
        if (need->allocated >= 0 && !need->stops && bytes_add(need->reserved, context) <= f->capacity)
            return i;
    }
    return -1;
}

/* ---- the table --------------------------------------------------------------------------------------------------- */

static const char *
name_of(struct arena *a, const char *strategy, const struct rung *rung)
{
    return arena_printf(a, "%s%s", strategy ? strategy : "one GPU", rung->more);
}

/* Whether the model as a whole takes more than the step does on a rank of the most GPUs, and would decide what is
 * reserved. */
static bool
is_large(struct scaler *x)
{
    int way = 0;
    while (!ladder[way].large)
        way++;
    return x->s->st->after.model > run(x, x->r->own_kind, way, x->scale->ncolumns - 1)->allocated;
}

/* The Python of a way, on the GPUs that were asked for, else on the fewest that it can be run on; NULL none. */
static const char *
python_of(const struct scaler *x, int way, const struct rank_need *on)
{
    int column = on[x->scale->own].allocated >= 0 ? x->scale->own : 0;
    while (on[column].allocated < 0)
        column++;
    struct setup s = setup_of(x, way, column);
    const struct program *p = x->program[way];
    return ranks_python(x->a, s.parallel && s.parallel->tensor ? cut_for(x->a, p, &s) : p, &s, ladder[way].checkpoint);
}

/* The needs of a way per column; NULL where it can't be run on any. */
static struct rank_need *
needs_of(struct scaler *x, int way)
{
    struct rank_need *on = NEWN(x->a, struct rank_need, x->scale->ncolumns);
    bool any = false;
    for (int c = 0; c < x->scale->ncolumns; c++) {
        on[c].allocated = -1;
        if (has_column(x, way, c))
            on[c] = *run(x, x->r->own_kind, way, c);
        any |= on[c].allocated >= 0;
    }
    return any ? on : NULL;
}

/* The program of a way; NULL where it is none of its own. */
static const struct program *
program_of(const struct scaler *x, const struct program *wrapped, int way)
{
    if (!ladder[way].checkpoint)
        return wrapped;
    if (!wrapped->nunits || wrapped->nregions)
        return NULL;
    struct program *p = arena_dup(x->a, wrapped, sizeof(*p));
    p->nregions = p->nunits;
    p->regions = p->units;
    return p;
}

static void
columns_of(struct scale *scale, struct arena *a, int asked)
{
    int *gpus = NEWN(a, int, COLUMNS);
    for (int i = 0; i <= DOUBLINGS; i++) {
        if (asked < 1 << i && (i == 0 || asked > 1 << (i - 1)))
            gpus[scale->ncolumns++] = asked;
        gpus[scale->ncolumns++] = 1 << i;
    }
    if (asked > 1 << DOUBLINGS)
        gpus[scale->ncolumns++] = asked;
    while (gpus[scale->own] != asked)
        scale->own++;
    scale->gpus = gpus;
}

bool
scale_run(const struct study *s, struct result *r, const char **why)
{
    struct program *wrapped = arena_dup(s->a, s->p, sizeof(*wrapped));
    if (s->s->mode != MODE_TRAINING || r->ndoubts || r->provenance.none || study_is_large(s))
        return true;
    if (!unit_modules(s->a, wrapped, s->s->units, why))
        return false;
    struct scale *scale = NEW(s->a, struct scale);
    struct scaler *x = NEW(s->a, struct scaler);
    *x = (struct scaler){.s = s, .a = s->a, .r = r, .scale = scale};
    columns_of(scale, s->a, s->s->gpus);
    scale->ways = NEWN(s->a, struct way, WAYS);
    for (int i = 0; i < WAYS; i++) {
        x->program[i] = program_of(x, wrapped, i);
        x->strategy[i] = ladder[i].strategy ? parallel_find(s->a, ladder[i].strategy) : NULL;
    }
    bool large = is_large(x);
    for (int i = 0; i < WAYS; i++) {
        if (large && ladder[i].large) {
            x->strategy[i] = parallel_find(s->a, ladder[i].large);
            memset(x->runs[r->own_kind][i], 0, sizeof(x->runs[r->own_kind][i]));
        }
        study_tell(s, "trying several GPUs", i, WAYS);
        struct rank_need *on = x->program[i] ? needs_of(x, i) : NULL;
        const char *strategy = x->strategy[i] ? x->strategy[i]->name : NULL;
        if (on)
            scale->ways[scale->nways++] = (struct way){.rung = i,
                                                       .name = name_of(s->a, strategy, &ladder[i]),
                                                       .strategy = strategy,
                                                       .python = python_of(x, i, on),
                                                       .on = on};
    }
    int *found = NEWN(s->a, int, r->nfits * scale->ncolumns + 1);
    scale->chosen = -1;
    for (int f = 0; f < r->nfits; f++)
        for (int c = 0; c < scale->ncolumns; c++) {
            int way = found[f * scale->ncolumns + c] = cheapest(x, &r->fits[f], c);
            if (c == scale->own && &r->fits[f] == fits_own(r))
                scale->chosen = way;
        }
    scale->cheapest = found;
    r->scale = scale;
    return true;
}
