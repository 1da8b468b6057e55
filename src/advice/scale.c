/* SPDX-License-Identifier: Apache-2.0 */
/* scale.c - the step on 1 to 1,024 GPUs: what each of them needs, and for every device the cheapest way that fits.
 *
 * Every cell is a step that was run, with the same batch on each GPU. Ways stand in the order of what they cost: one
 * that comes later sends more, or computes or copies more. Devices of another kind run their own steps, as far as
 * these are needed to find the first way that fits.
 */
#include "advice/advice.h"
#include "base/setup.h"

#include <string.h>

static const struct rung {
    const char *strategy; /* a row of --list=parallel; NULL: one GPU */
    bool checkpoint;      /* of every unit */
} ladder[] = {
    {NULL, false},    {NULL, true},    {"ddp", false}, {"ddp:bucket-view", false},
    {"zero1", false}, {"fsdp", false}, {"fsdp", true}, {"fsdp:cpu-offload", true},
};
enum { WAYS = COUNT(ladder), DOUBLINGS = 10, COLUMNS = DOUBLINGS + 2 /* with that of --gpus */ };

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

static struct rank_need *
measure(struct scaler *x, int kind, int way, int column)
{
    struct rank_need *need = NEW(x->a, struct rank_need);
    struct setup s = setup_of(x, way, column);
    struct look l = {x->a, need};
    s.device = kind == x->r->own_kind ? s.device : device_of_kind(kind);
    struct measured m = measure_step(x->program[way], &s, look, &l);
    need->allocated = m.allocated;
    need->reserved = m.reserved;
    need->exchanged = m.exchanged;
    return need;
}

/* What a GPU of that kind needs; a way that divides nothing needs the same on any number of them. */
static const struct rank_need *
run(struct scaler *x, int kind, int way, int column)
{
    const struct parallel *how = x->strategy[way];
    int at = !how ? 0 : how->shards || how->partitions ? column : 1;
    struct rank_need **need = &x->runs[kind][way][at];
    if (!*need)
        *need = measure(x, kind, way, at);
    return *need;
}

static bool
has_column(int way, int column)
{
    return (ladder[way].strategy == NULL) == (column == 0);
}

/* The first way that fits the device on so many GPUs; -1 none. */
static int
cheapest(struct scaler *x, const struct fit *f, int column)
{
    for (int i = 0; i < x->scale->nways; i++) {
        int way = x->scale->ways[i].rung;
        struct setup s = setup_of(x, way, column);
        if (!has_column(way, column))
            continue;
        const struct rank_need *need = run(x, f->kind, way, column);
        int64_t context = device_context(&s, device_find(f->device)).most;
        if (!need->stops && bytes_add(need->reserved, context) <= f->capacity)
            return i;
    }
    return -1;
}

/* ---- the table --------------------------------------------------------------------------------------------------- */

static const char *
name_of(struct arena *a, const struct rung *rung)
{
    return arena_printf(a, "%s%s", rung->strategy ? rung->strategy : "one GPU",
                        rung->checkpoint ? ", checkpoints" : "");
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
        if (!(x->program[i] = program_of(x, wrapped, i)))
            continue;
        x->strategy[i] = ladder[i].strategy ? parallel_find(s->a, ladder[i].strategy) : NULL;
        study_tell(s, "trying several GPUs", i, WAYS);
        struct way *w = &scale->ways[scale->nways++];
        w->rung = i;
        w->name = name_of(s->a, &ladder[i]);
        w->strategy = ladder[i].strategy;
        const struct setup own = setup_of(x, i, scale->own);
        w->python = ranks_python(s->a, x->program[i], &own, ladder[i].checkpoint);
        w->on = NEWN(s->a, struct rank_need, scale->ncolumns);
        for (int c = 0; c < scale->ncolumns; c++)
            w->on[c] = has_column(i, c) ? *run(x, r->own_kind, i, c) : (struct rank_need){.allocated = -1};
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
