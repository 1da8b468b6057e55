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
    const struct program *program[WAYS]; /* NULL: this model has no such way */
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

static const struct parallel *
strategy_of(int way)
{
    return ladder[way].strategy ? parallel_find(ladder[way].strategy) : NULL;
}

static struct setup
setup_of(const struct scaler *x, int way, int column)
{
    struct setup s = *x->s->s;
    s.parallel = strategy_of(way);
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
    const struct parallel *how = strategy_of(way);
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

/* ---- Python ------------------------------------------------------------------------------------------------------ */

/* A module's path as a regular expression: "layers\.3", with any number for its numbers "layers\.\d+". */
static const char *
expression(struct arena *a, const char *path, bool any)
{
    const char *text = "";
    for (const char *s = path; *s;) {
        size_t n = strcspn(s, ".");
        bool number = any && strspn(s, "0123456789") == n;
        text = arena_printf(a, "%s%s%.*s", text, s == path ? "" : "\\.", number ? 3 : (int)n, number ? "\\d+" : s);
        s += n + (s[n] == '.');
    }
    return text;
}

/* A regular expression for the units' names, that of no other module; NULL where a name could be more than one. */
static const char *
pattern_of(struct arena *a, const struct program *p)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.";
    struct names *units = names_new(a), *others = names_new(a), *seen = names_new(a);
    const char *all = "";
    for (int i = 0; i < p->nunits; i++) {
        names_put(units, p->units[i].module, i);
        if (p->units[i].module[strspn(p->units[i].module, letters)])
            return NULL;
    }
    for (int i = 1; i < p->nmodules; i++)
        if (names_find(units, p->modules[i].path) < 0)
            names_put(others, expression(a, p->modules[i].path, true), i);
    for (int i = 0; i < p->nunits; i++) {
        const char *one = expression(a, p->units[i].module, true);
        if (names_find(others, one) >= 0)
            one = expression(a, p->units[i].module, false);
        if (names_find(seen, one) < 0)
            all = arena_printf(a, "%s%s%s", all, *all ? "|" : "", one);
        names_put(seen, one, i);
    }
    return all;
}

/* What wraps the model so, after the process group is there. */
static const char *
python_of(const struct scaler *x, int way, const char *pattern)
{
    struct arena *a = x->a;
    const struct rung *rung = &ladder[way];
    const struct parallel *how = strategy_of(way);
    bool units = *pattern && (rung->checkpoint || (how && how->shards));
    const char *optimizer = optimizer_python(x->s->s->optimizer), *s = units ? "import re\n" : "";
    if (rung->checkpoint)
        s = arena_printf(a, "%sfrom torch.utils.checkpoint import checkpoint\n", s);
    if (how)
        s = arena_printf(a, "%s%s\n%s", s, how->import, how->before ? arena_printf(a, "\n%s", how->before) : "");
    if (units)
        s = arena_printf(a, "%s\nunits = re.compile(r\"%s\")\nfor name, module in model.named_modules():\n", s,
                         pattern);
    if (units)
        s = arena_printf(a, "%s    if not units.fullmatch(name):\n        continue\n", s);
    if (rung->checkpoint)
        s = arena_printf(a, "%s%s\n", s, checkpoint_module);
    if (how && how->shards && units)
        s = arena_printf(a, "%s    fully_shard(module%s)\n", s, how->arguments);
    if (how)
        s = arena_printf(a, "%s%s(model%s)", s, how->shards ? "fully_shard" : "\nmodel = DistributedDataParallel",
                         how->arguments);
    if (how && how->partitions && optimizer)
        s = arena_printf(a, "%s\noptimizer = ZeroRedundancyOptimizer(model.parameters(), optimizer_class=%s, lr=lr)", s,
                         optimizer);
    return s;
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
    const char *pattern = pattern_of(s->a, wrapped);
    columns_of(scale, s->a, s->s->gpus);
    scale->ways = NEWN(s->a, struct way, WAYS);
    for (int i = 0; i < WAYS; i++) {
        if (!(x->program[i] = program_of(x, wrapped, i)))
            continue;
        study_tell(s, "trying several GPUs", i, WAYS);
        struct way *w = &scale->ways[scale->nways++];
        w->rung = i;
        w->name = name_of(s->a, &ladder[i]);
        w->strategy = ladder[i].strategy;
        w->python = pattern ? python_of(x, i, pattern) : NULL;
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
