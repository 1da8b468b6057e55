/* recompute.c - which modules to put under torch.utils.checkpoint so that the step fits, at the least extra work.
 *
 * A candidate is a module whose calls stand together; candidates of a level lie side by side. Two runs of the step, without checkpoints
 * and with all of a level's, make a linear model: the peak of each window between two candidates' backward passes is what it was, less
 * what the checkpointed ones before it no longer keep, plus what recomputation adds in its own window. On that model a plan for a
 * budget is a knapsack whose constraints are prefixes, solved over Pareto lists. Every plan that is reported was then run as a step of its
 * own: the model only chooses.
 */
#include "memlint.h"

#include <stdlib.h>
#include <string.h>

/* Per module the calls of it and those below it; first -1 where none are, or others stand between. */
static struct region *
regions_of(struct arena *a, const struct program *p)
{
    struct region *r = NEWN(a, struct region, p->nmodules + 1);
    int *count = NEWN(a, int, p->nmodules + 1);
    for (int i = 0; i < p->ncalls; i++)
        for (int at = p->calls[i].scope; at >= 0; at = p->modules[at].parent) {
            r[at].first = count[at]++ ? r[at].first : i;
            r[at].end = i + 1;
        }
    for (int i = 0; i < p->nmodules; i++)
        if (!count[i] || r[i].end - r[i].first != count[i])
            r[i].first = -1;
    return r;
}

static int
by_place(const void *a, const void *b)
{
    const struct region *r = a, *q = b;
    return r->first - q->first;
}

bool
recompute_modules(struct arena *a, struct program *p, const char *globs, const char **why)
{
    struct region *r = NEWN(a, struct region, p->nmodules + 1), *all = regions_of(a, p);
    int n = 0;
    for (int i = 1; i < p->nmodules; i++)
        for (const char *g = globs; *g; g += strcspn(g, ",") + (g[strcspn(g, ",")] == ',')) {
            if (!glob_match(arena_strn(a, g, strcspn(g, ",")), p->modules[i].path))
                continue;
            if (all[i].first >= 0)
                r[n++] = all[i];
            break;
        }
    qsort(r, (size_t)n, sizeof(*r), by_place);
    for (int i = 1; i < n; i++)
        if (r[i].first < r[i - 1].end) {
            *why = "one of these modules is inside of another";
            return false;
        }
    p->nregions = n;
    p->regions = r;
    *why = "no module of that name runs as one piece";
    return n > 0;
}

/* ---- candidates ---------------------------------------------------------------------------------------------------------- */

struct candidate {
    int module;
    struct region region;
    int64_t kept;         /* bytes that only its backward pass reads: gone under a checkpoint */
    int64_t own, own_all; /* peak of its window: without checkpoints, with all of the level */
    double flops;         /* of its second forward */
};

/* Candidates side by side, in the order of their forward passes, and the windows between them. */
struct level {
    int n;
    struct candidate *c;
    int64_t last;   /* peak from the loss to the last candidate's backward pass */
    int64_t update; /* peak of the update: nothing is pending */
    struct measured all;
};

struct planner {
    struct arena *a;
    const struct study *s;
    struct result *r;
    struct measured base;
    double *module_flops;
    struct region *region; /* per module */
    bool *called;          /* per module: its forward was called; a list of modules has none */
    const char **listed;   /* per module: the type of a child that takes a list, "" unknown; NULL none */
};

static int
depth_of(const struct program *p, int module)
{
    int n = 0;
    for (; p->modules[module].parent >= 0; module = p->modules[module].parent)
        n++;
    return n;
}

/* What PyTorch's checkpoint can't run: a module whose first call writes over its argument, or joins those of a list. */
static bool
begins_with_list(const struct program *p, const struct region *r)
{
    const struct call *c = &p->calls[r->first];
    return c->nargs && c->args[0].kind == ARG_LIST && c->args[0].n > 1;
}

/* A module like it beside it takes a list that its caller extends: the first one's list of one leaves no trace in the file. */
static bool
takes_list(const struct planner *x, int module)
{
    const struct module *m = &x->s->p->modules[module];
    const char *listed = m->parent < 0 ? NULL : x->listed[m->parent];
    return listed && (!*listed || !m->type || strcmp(listed, m->type) == 0);
}

static bool
can_wrap(const struct planner *x, int module)
{
    const struct program *p = x->s->p;
    const struct region *r = &x->region[module];
    return module > 0 && x->called[module] && x->module_flops[module] > 0 && r->first >= 0 && r->end - r->first > 1 &&
           r->end - r->first < p->ncalls && !p->calls[r->first].in_place && !begins_with_list(p, r) &&
           !takes_list(x, module);
}

static int
by_forward(const void *a, const void *b)
{
    const struct candidate *c = a, *d = b;
    return c->region.first - d->region.first;
}

/* The candidates of a level: the deepest ones down to a depth that have none inside of them. */
static int
candidates_at(struct planner *x, int depth, struct candidate *c)
{
    const struct program *p = x->s->p;
    bool *can = NEWN(x->a, bool, p->nmodules + 1), *outer = NEWN(x->a, bool, p->nmodules + 1);
    int n = 0;
    for (int i = 0; i < p->nmodules; i++)
        can[i] = depth_of(p, i) <= depth && can_wrap(x, i);
    for (int i = 0; i < p->nmodules; i++)
        for (int up = p->modules[i].parent; can[i] && up >= 0; up = p->modules[up].parent)
            outer[up] = true;
    for (int i = 0; i < p->nmodules; i++)
        if (can[i] && !outer[i])
            c[n++] = (struct candidate){.module = i, .region = x->region[i]};
    qsort(c, (size_t)n, sizeof(*c), by_forward);
    return n;
}

/* ---- the model ------------------------------------------------------------------------------------------------------------- */

/* Runs a plan: the candidates whose bit is set. */
static struct measured
run_plan(struct planner *x, const struct level *l, const bool *in, void (*look)(const struct step *st, void *to),
         void *to)
{
    struct program p = *x->s->p;
    struct region *r = NEWN(x->a, struct region, l->n + 1);
    p.nregions = 0;
    p.regions = r;
    for (int i = 0; i < l->n; i++)
        if (in[i])
            r[p.nregions++] = l->c[i].region;
    return measure_step(&p, x->s->s, look, to);
}

static int
candidate_of(const struct level *l, int call)
{
    int low = 0, high = l->n;
    while (low < high) {
        int mid = (low + high) / 2;
        if (l->c[mid].region.end <= call)
            low = mid + 1;
        else
            high = mid;
    }
    return low < l->n && l->c[low].region.first <= call ? low : -1;
}

/* The peak of every window: that of candidate i lasts from its backward pass to that of the one before. */
static void
windows(const struct step *st, const struct level *l, int64_t *own, int64_t *last, int64_t *update)
{
    const struct machine *m = st->m;
    int64_t total = st->before_bytes;
    int at = l->n;
    for (int i = 0; i < m->nev; i++) {
        const struct event *e = &m->ev[i];
        total += e->birth ? m->st[e->storage]->bytes : -m->st[e->storage]->bytes;
        int in = e->call ? candidate_of(l, (int)(e->call - st->program->calls)) : -1;
        if (e->phase == PHASE_BACKWARD && in >= 0 && in < at)
            at = in;
        int64_t *w = e->phase == PHASE_UPDATE ? update : e->phase < PHASE_LOSS ? NULL : at == l->n ? last : &own[at];
        if (w && total > *w)
            *w = total;
    }
}

/* The step without checkpoints: what each candidate keeps, and the windows. */
static void
look_plain(const struct step *st, struct level *l)
{
    const struct machine *m = st->m;
    int *born = NEWN(st->arena, int, m->nst + 1); /* candidate + 1 */
    int64_t *own = NEWN(st->arena, int64_t, l->n + 1);
    for (int i = 0; i < m->nev; i++) {
        const struct event *e = &m->ev[i];
        int in = e->call ? candidate_of(l, (int)(e->call - st->program->calls)) : -1;
        if (e->birth && e->phase == PHASE_FORWARD)
            born[e->storage] = in + 1;
        else if (!e->birth && e->phase == PHASE_BACKWARD && in >= 0 && born[e->storage] == in + 1)
            l->c[in].kept += m->st[e->storage]->bytes;
    }
    windows(st, l, own, &l->last, &l->update);
    for (int i = 0; i < l->n; i++)
        l->c[i].own = own[i];
}

static void
look_all(const struct step *st, void *to)
{
    struct level *l = to;
    int64_t *own = NEWN(st->arena, int64_t, l->n + 1), last = 0, update = 0;
    windows(st, l, own, &last, &update);
    for (int i = 0; i < l->n; i++) {
        l->c[i].own_all = own[i];
        l->c[i].flops = st->region_flops[i];
    }
}

static void
level_fit(struct planner *x, struct level *l)
{
    bool *all = NEWN(x->a, bool, l->n + 1);
    look_plain(x->s->st, l);
    memset(all, true, (size_t)l->n);
    l->all = run_plan(x, l, all, look_all, l);
}

/* ---- the knapsack ------------------------------------------------------------------------------------------------------------ */

struct state {
    int64_t freed; /* bytes that the chosen ones before no longer keep */
    double cost;
    int from; /* state of the candidate before */
    bool in;
};

enum { MOST_STATES = 2000, FEWEST_STATES = 64, MOST_WORK = 200000 }; /* states, and states of all candidates */

static int
by_cost(const void *a, const void *b)
{
    const struct state *s = a, *t = b;
    if (s->cost != t->cost)
        return s->cost < t->cost ? -1 : 1;
    return s->freed > t->freed ? -1 : s->freed < t->freed;
}

/* The cheapest plan under the budget, by the model; false when there is none. */
static bool
solve(const struct level *l, int64_t budget, bool *in)
{
    struct arena *a = arena_new();
    struct state **list = NEWN(a, struct state *, l->n + 1);
    int n = 1, most = MOST_WORK / (l->n + 1);
    most = most > MOST_STATES ? MOST_STATES : most < FEWEST_STATES ? FEWEST_STATES : most;
    int64_t prefix = 0; /* all that candidates before could free */
    list[0] = NEWN(a, struct state, 1);
    for (int i = 0; i < l->n && n; i++) {
        struct candidate *c = &l->c[i];
        int64_t adds = c->own_all - (c->own - prefix); /* recomputation, in its own window */
        list[i + 1] = NEWN(a, struct state, 2 * n);
        int m = 0;
        for (int k = 0; k < n; k++)
            for (int wrap = 0; wrap < 2; wrap++) {
                const struct state *s = &list[i][k];
                if (c->own - s->freed + (wrap ? adds : 0) > budget)
                    continue;
                list[i + 1][m++] =
                    (struct state){s->freed + (wrap ? c->kept : 0), s->cost + (wrap ? c->flops : 0), k, wrap};
            }
        qsort(list[i + 1], (size_t)m, sizeof(struct state), by_cost);
        n = 0;
        for (int k = 0; k < m; k++)
            if (n == 0 || list[i + 1][k].freed > list[i + 1][n - 1].freed)
                list[i + 1][n++] = list[i + 1][k];
        if (n > most) { /* evenly over the list */
            for (int k = 0; k < most; k++)
                list[i + 1][k] = list[i + 1][(int64_t)k * (n - 1) / (most - 1)];
            n = most;
        }
        prefix += c->kept;
    }
    int best = -1;
    for (int k = 0; k < n && best < 0; k++)
        if (l->last - list[l->n][k].freed <= budget)
            best = k;
    bool ok = best >= 0 && l->update <= budget;
    for (int i = l->n; i > 0 && ok; i--) {
        in[i - 1] = list[i][best].in;
        best = list[i][best].from;
    }
    arena_free(a);
    return ok;
}

/* ---- the front ----------------------------------------------------------------------------------------------------------------- */

enum { MOST_LEVELS = 3, LARGE = 4000, HUGE_ONE = 20000 /* calls */ };

static double
extra_percent(const struct planner *x, const struct measured *m)
{
    return x->base.flops > 0 ? 100 * m->recomputed_flops / (3 * x->base.flops) : 0; /* backward is twice the forward */
}

static void
add_plan(struct planner *x, const struct level *l, const bool *in, const struct measured *m)
{
    struct result *r = x->r;
    struct plan *q = PUSH(x->a, r->recompute.front, r->recompute.nfront, r->recompute.cap);
    *q = (struct plan){.peak = m->allocated, .extra_flops_percent = extra_percent(x, m)};
    q->modules = NEWN(x->a, const char *, l ? l->n + 1 : 1);
    for (int i = 0; l && i < l->n; i++)
        if (in[i])
            q->modules[q->nmodules++] = x->s->p->modules[l->c[i].module].path;
}

static void
try_budget(struct planner *x, const struct level *l, int64_t budget)
{
    bool *in = NEWN(x->a, bool, l->n + 1);
    if (!solve(l, budget, in))
        return;
    struct measured m = run_plan(x, l, in, NULL, NULL);
    if (m.allocated > budget && solve(l, budget - (m.allocated - budget), in)) /* the model was off by so much */
        m = run_plan(x, l, in, NULL, NULL);
    add_plan(x, l, in, &m);
}

static int
by_peak(const void *a, const void *b)
{
    const struct plan *p = a, *q = b;
    if (p->peak != q->peak)
        return p->peak > q->peak ? -1 : 1; /* the highest first */
    return p->extra_flops_percent > q->extra_flops_percent   ? 1
           : p->extra_flops_percent < q->extra_flops_percent ? -1
                                                             : 0;
}

/* Keeps the plans that no other beats in both: from the highest peak to the lowest, each with more work. */
static void
keep_front(struct result *r)
{
    enum { TIE = 4096 };
    struct plan *f = r->recompute.front;
    int n = 0;
    qsort(f, (size_t)r->recompute.nfront, sizeof(*f), by_peak);
    for (int i = 0; i < r->recompute.nfront; i++) {
        bool beaten = false;
        for (int k = 0; k < r->recompute.nfront; k++)
            beaten |= k != i && f[k].extra_flops_percent <= f[i].extra_flops_percent && f[k].peak <= f[i].peak + TIE &&
                      (f[k].extra_flops_percent < f[i].extra_flops_percent || f[k].peak + TIE < f[i].peak || k < i);
        f[i].beaten = beaten;
    }
    for (int i = 0; i < r->recompute.nfront; i++)
        if (!f[i].beaten)
            f[n++] = f[i];
    r->recompute.nfront = n;
}

/* No plan of any operators goes below: at each instant of the backward pass what is not saved is there anyhow, and what its operator
 * reads for the last time. */
static int64_t
bound_of(const struct step *st)
{
    const struct machine *m = st->m;
    int64_t bound = 0, total = st->before_bytes, saved = 0;
    bool *counts = NEWN(st->arena, bool, m->nst + 1);
    for (int i = 0, group = 0; i < m->nev; i++) {
        const struct event *e = &m->ev[i];
        int64_t bytes = m->st[e->storage]->bytes;
        if (i == group) { /* what dies of this operator was read by it */
            for (group = i; group < m->nev && m->ev[group].call == e->call && m->ev[group].op == e->op &&
                            m->ev[group].phase == e->phase;
                 group++)
                if (!m->ev[group].birth && counts[m->ev[group].storage]) {
                    counts[m->ev[group].storage] = false;
                    saved -= m->st[m->ev[group].storage]->bytes;
                }
        }
        if (e->birth && e->phase == PHASE_FORWARD && m->st[e->storage]->saved &&
            m->st[e->storage]->class == CLASS_SAVED) {
            counts[e->storage] = true;
            saved += bytes;
        }
        total += e->birth ? bytes : -bytes;
        if (e->phase >= PHASE_BACKWARD && total - saved > bound)
            bound = total - saved;
    }
    return bound;
}

static void
look_at_modules(struct planner *x)
{
    const struct program *p = x->s->p;
    bool typed = false; /* the file tells which modules were called: those with a type */
    x->module_flops = NEWN(x->a, double, p->nmodules + 1);
    x->called = NEWN(x->a, bool, p->nmodules + 1);
    x->listed = NEWN(x->a, const char *, p->nmodules + 1);
    x->region = regions_of(x->a, p);
    for (int i = 1; i < p->nmodules; i++)
        typed |= p->modules[i].type != NULL;
    for (int i = 0; i < p->ncalls; i++) {
        x->called[p->calls[i].scope] = true;
        for (int at = p->calls[i].scope; at >= 0; at = p->modules[at].parent)
            x->module_flops[at] += x->s->st->call_flops[i];
    }
    for (int i = 1; i < p->nmodules; i++) {
        const struct module *m = &p->modules[i];
        const char *dot = strrchr(m->path, '.'), *leaf = dot ? dot + 1 : m->path;
        if (typed)
            x->called[i] = m->type != NULL;
        else if (m->parent >= 0) /* a list's children have numbers for names */
            x->called[m->parent] |= leaf[strspn(leaf, "0123456789")] != 0;
        if (x->region[i].first >= 0 && m->parent >= 0 && begins_with_list(p, &x->region[i]))
            x->listed[m->parent] = m->type ? m->type : "";
    }
}

/* The next level that differs from the one before; *depth is where to look. */
static bool
next_level(struct planner *x, int *depth, struct level *l)
{
    enum { DEEPEST = 12 };
    const struct program *p = x->s->p;
    while (++*depth <= DEEPEST) {
        struct level next = {.c = NEWN(x->a, struct candidate, p->nmodules + 1)};
        next.n = candidates_at(x, *depth, next.c);
        bool same = next.n == l->n;
        for (int i = 0; i < next.n && same; i++)
            same = next.c[i].module == l->c[i].module;
        *l = next;
        if (!same && next.n)
            return true;
    }
    return false;
}

/* The levels that differ, those with the lowest peaks first. */
static int
levels_of(struct planner *x, struct level *levels)
{
    struct level next = {0};
    int n = 0, depth = 0;
    while (next_level(x, &depth, &next)) {
        struct level l = next;
        level_fit(x, &l);
        int at = n < MOST_LEVELS ? n++ : MOST_LEVELS;
        for (; at > 0 && l.all.allocated < levels[at - 1].all.allocated; at--)
            if (at < MOST_LEVELS)
                levels[at] = levels[at - 1];
        if (at < MOST_LEVELS)
            levels[at] = l;
    }
    return n;
}

static struct planner
planner_new(const struct study *s, struct result *r)
{
    struct planner x = {.a = s->a, .s = s, .r = r};
    x.base = (struct measured){.allocated = r->peak.allocated, .flops = s->st->forward_flops};
    look_at_modules(&x);
    return x;
}

static const char *
python_of(struct arena *a, const struct plan *q)
{
    const char *names = "";
    for (int i = 0; i < q->nmodules; i++)
        if (!is_pasteable(q->modules[i])) /* a name could be a program */
            return NULL;
    for (int i = 0; i < q->nmodules; i++)
        names = arena_printf(a, "%s%s\"%s\"", names, !i ? "" : i % 4 ? ", " : ",\n             ", q->modules[i]);
    return arena_printf(a,
                        "from torch.utils.checkpoint import checkpoint\n\n"
                        "for name in [%s]:\n"
                        "    module = model.get_submodule(name)\n"
                        "    def run(*args, forward=module.forward, **kwargs):\n"
                        "        return checkpoint(forward, *args, use_reentrant=False, **kwargs)\n"
                        "    module.forward = run",
                        names);
}

void
recompute_plan(const struct study *s, struct result *r, int64_t budget)
{
    struct planner x = planner_new(s, r);
    struct level levels[MOST_LEVELS];
    int n = levels_of(&x, levels), steps = s->p->ncalls < LARGE ? 12 : s->p->ncalls < HUGE_ONE ? 6 : 4;
    add_plan(&x, NULL, NULL, &x.base);
    for (int i = 0; i < n; i++) {
        const struct level *l = &levels[i];
        int64_t low = l->all.allocated, high = x.base.allocated;
        bool *all = NEWN(x.a, bool, l->n + 1);
        memset(all, true, (size_t)l->n);
        add_plan(&x, l, all, &l->all);
        for (int k = 0; k < steps && low < high; k++)
            try_budget(&x, l, low + (high - low) / steps * k);
        if (budget > 0)
            try_budget(&x, l, budget);
    }
    keep_front(r);
    r->recompute.lower_bound = bound_of(s->st);
    r->recompute.chosen = -1;
    for (int i = r->recompute.nfront - 1; i >= 0 && budget > 0; i--) /* the cheapest comes first */
        if (r->recompute.front[i].peak <= budget)
            r->recompute.chosen = i;
    int shown = r->recompute.chosen >= 0 ? r->recompute.chosen : r->recompute.nfront - 1;
    if (r->recompute.front[shown].nmodules)
        r->recompute.python = python_of(x.a, &r->recompute.front[shown]);
}

bool
recompute_level(const struct study *s, struct result *r, struct program *p, const char **names, const char **python)
{
    struct planner x = planner_new(s, r);
    struct level l = {0}, best = {0};
    int depth = 0;
    while (next_level(&x, &depth, &l)) {
        bool *all = NEWN(x.a, bool, l.n + 1);
        memset(all, true, (size_t)l.n);
        l.all = run_plan(&x, &l, all, NULL, NULL);
        if (!best.n || l.all.allocated < best.all.allocated)
            best = l;
    }
    struct region *regions = NEWN(x.a, struct region, best.n + 1);
    struct plan q = {.modules = NEWN(x.a, const char *, best.n + 1)};
    for (int i = 0; i < best.n; i++) {
        regions[i] = best.c[i].region;
        q.modules[q.nmodules++] = s->p->modules[best.c[i].module].path;
    }
    p->nregions = best.n;
    p->regions = regions;
    if (best.n) {
        *names = best.n == 1 ? q.modules[0]
                             : arena_printf(x.a, "%s to %s (%d modules)", q.modules[0], q.modules[best.n - 1], best.n);
        *python = python_of(x.a, &q);
    }
    return best.n > 0;
}
