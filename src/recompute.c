/* recompute.c - what to put under torch.utils.checkpoint so that the step fits, at the least extra work.
 *
 * A candidate is a run of calls: a module's, or for operator plans any. Candidates of a level lie side by side; each is left alone, recomputed,
 * or recomputed but for the results that a policy keeps. A run of the step without checkpoints and one for each of these with all of a level's
 * make a linear model: the peak of each window between two candidates' backward passes is what it was, less what the candidates before it no longer
 * keep, plus what recomputation adds in its own window. On that model a plan for a budget is a knapsack whose constraints are prefixes,
 * solved over Pareto lists. Every plan that is reported was then run as a step of its own: the model only chooses.
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
    return r->first != q->first ? r->first - q->first : q->end - r->end; /* an outer one before the one inside */
}

/* ---- selective policies ---------------------------------------------------------------------------------------------------- */

enum { MOST_OPS = 8 };

/* What a region keeps although it is recomputed: results that cost much to make again. Source: the lists that people pass to
 * create_selective_checkpoint_contexts in torch/utils/checkpoint.py. */
static const struct policy {
    const char *name, *help;
    const char *ops[MOST_OPS];
} policies[] = {
    {"attention",
     "fused attention",
     {"_scaled_dot_product_flash_attention.default", "_scaled_dot_product_efficient_attention.default",
      "_scaled_dot_product_cudnn_attention.default"}},
    {"linear", "products with a weight", {"mm.default", "addmm.default"}},
    {"heavy",
     "products with a weight, fused attention, convolutions",
     {"mm.default", "addmm.default", "convolution.default", "_scaled_dot_product_flash_attention.default",
      "_scaled_dot_product_efficient_attention.default", "_scaled_dot_product_cudnn_attention.default"}},
    {"products",
     "as heavy, and products of activations",
     {"mm.default", "addmm.default", "convolution.default", "_scaled_dot_product_flash_attention.default",
      "_scaled_dot_product_efficient_attention.default", "_scaled_dot_product_cudnn_attention.default", "bmm.default",
      "baddbmm.default"}},
};

void
policy_list(FILE *out)
{
    for (int i = 0; i < COUNT(policies); i++) {
        fprintf(out, "%s\t%s\t", policies[i].name, policies[i].help);
        for (int k = 0; k < MOST_OPS && policies[i].ops[k]; k++)
            fprintf(out, "%s%s", k ? " " : "", policies[i].ops[k]);
        fprintf(out, "\n");
    }
}

/* Per row of aten_table whether the policy keeps it. */
static const bool *
keeps_of(struct arena *a, const struct policy *k)
{
    bool *keeps = NEWN(a, bool, aten_count);
    for (int i = 0; i < MOST_OPS && k->ops[i]; i++)
        keeps[aten_find(k->ops[i]) - aten_table] = true;
    return keeps;
}

/* Takes the policy off the end of "blocks.*+attention"; false for no such policy. */
static bool
policy_split(struct arena *a, char *glob, const bool **keeps)
{
    char *plus = strrchr(glob, '+');
    *keeps = NULL;
    if (!plus)
        return true;
    *plus = 0;
    for (int i = 0; i < COUNT(policies); i++)
        if (strcmp(plus + 1, policies[i].name) == 0)
            *keeps = keeps_of(a, &policies[i]);
    return *keeps != NULL;
}

bool
recompute_modules(struct arena *a, struct program *p, const char *globs, const char **why)
{
    struct region *r = NEWN(a, struct region, p->nmodules + 1), *all = regions_of(a, p);
    bool *taken = NEWN(a, bool, p->nmodules + 1);
    int n = 0;
    for (const char *g = globs; *g; g += strcspn(g, ",") + (g[strcspn(g, ",")] == ',')) {
        char *glob = arena_strn(a, g, strcspn(g, ","));
        const bool *keeps;
        if (!policy_split(a, glob, &keeps)) {
            *why = "no policy of that name in --list=policies";
            return false;
        }
        for (int i = 1; i < p->nmodules; i++)
            if (!taken[i] && glob_match(glob, p->modules[i].path)) {
                taken[i] = true;
                if (all[i].first >= 0)
                    r[n++] = (struct region){all[i].first, all[i].end, keeps};
            }
    }
    qsort(r, (size_t)n, sizeof(*r), by_place);
    p->nregions = n;
    p->regions = r;
    *why = "no module of that name runs as one piece";
    return n > 0;
}

/* ---- candidates ---------------------------------------------------------------------------------------------------------- */

enum { ALONE, WHOLE, FIRST_POLICY, MOST_OPTIONS = FIRST_POLICY + COUNT(policies) };

struct candidate {
    int module; /* -1: a run of calls that is no module's */
    struct region region;
    struct option {
        int64_t kept; /* bytes of its forward pass that live into the backward pass */
        int64_t own;  /* peak of its window, when all of the level are so */
        double flops; /* of its second forward */
    } option[MOST_OPTIONS];
};

/* Candidates side by side, in the order of their forward passes, and the windows between them. */
struct level {
    int n;
    struct candidate *c;
    bool tried[MOST_OPTIONS]; /* and worth choosing */
    int64_t last;             /* peak from the loss to the last candidate's backward pass */
    int64_t update;           /* peak of the update: nothing is pending */
    struct measured all;
};

/* Plans, before they are sorted, and those that no other beats. */
struct front {
    int n, cap;
    struct plan *plan;
};

/* What a byte costs that is not kept at the step's peak, the cheapest first. */
struct price {
    int64_t bytes;
    double flops;
    int call;
};

struct planner {
    struct arena *a;
    int nprices;
    struct price *price;
    const struct study *s;
    struct result *r;
    struct measured base;
    const bool *keeps[COUNT(policies)];
    bool policy_works[COUNT(policies)];
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

/* Runs a plan: an option for each candidate. */
static struct measured
run_plan(struct planner *x, const struct level *l, const unsigned char *option,
         void (*look)(const struct step *st, void *to), void *to)
{
    struct program p = *x->s->p;
    struct region *r = NEWN(x->a, struct region, l->n + 1);
    p.nregions = 0;
    p.regions = r;
    for (int i = 0; i < l->n; i++)
        if (option[i] != ALONE) {
            r[p.nregions] = l->c[i].region;
            r[p.nregions++].keeps = option[i] == WHOLE ? NULL : x->keeps[option[i] - FIRST_POLICY];
        }
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

struct look {
    struct level *l;
    int option;
};

/* What each candidate keeps and its window, all of the level being so. */
static void
look_at(const struct step *st, void *to)
{
    const struct look *k = to;
    struct level *l = k->l;
    const struct machine *m = st->m;
    int *born = NEWN(st->arena, int, m->nst + 1); /* candidate + 1 */
    int64_t *own = NEWN(st->arena, int64_t, l->n + 1), last = 0, update = 0;
    for (int i = 0; i < m->nev; i++) {
        const struct event *e = &m->ev[i];
        int in = e->call ? candidate_of(l, (int)(e->call - st->program->calls)) : -1;
        if (e->birth && e->phase == PHASE_FORWARD)
            born[e->storage] = in + 1;
        else if (!e->birth && e->phase == PHASE_BACKWARD && born[e->storage])
            l->c[born[e->storage] - 1].option[k->option].kept += m->st[e->storage]->bytes;
    }
    windows(st, l, own, &last, &update);
    for (int i = 0; i < l->n; i++) {
        l->c[i].option[k->option].own = own[i];
        if (k->option != ALONE)
            l->c[i].option[k->option].flops = st->region_flops[i];
    }
    if (k->option == ALONE) {
        l->last = last;
        l->update = update;
    }
}

static struct measured
try_option(struct planner *x, struct level *l, int option)
{
    unsigned char *all = NEWN(x->a, unsigned char, l->n + 1);
    struct look k = {l, option};
    memset(all, option, (size_t)l->n);
    l->tried[option] = true;
    return run_plan(x, l, all, look_at, &k);
}

static void
level_fit(struct planner *x, struct level *l)
{
    struct look k = {l, ALONE};
    look_at(x->s->st, &k);
    l->tried[ALONE] = true;
    l->all = try_option(x, l, WHOLE);
}

/* A policy that keeps nothing of this model, or what another one keeps, is no choice. */
static void
fit_policies(struct planner *x, struct level *l)
{
    for (int o = FIRST_POLICY; o < MOST_OPTIONS; o++) {
        if (!x->policy_works[o - FIRST_POLICY])
            continue;
        try_option(x, l, o);
        l->tried[o] = false;
        for (int i = 0; i < l->n; i++) {
            const struct option *k = l->c[i].option;
            l->tried[o] |= k[o].flops < k[WHOLE].flops && k[o].kept < k[ALONE].kept;
        }
    }
}

/* ---- the knapsack ------------------------------------------------------------------------------------------------------------ */

struct state {
    int64_t freed; /* bytes that the chosen ones before no longer keep */
    double cost;
    int from; /* state of the candidate before */
    unsigned char option;
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
solve(const struct level *l, int64_t budget, unsigned char *option)
{
    struct arena *a = arena_new();
    struct state **list = NEWN(a, struct state *, l->n + 1);
    int n = 1, most = MOST_WORK / (l->n + 1);
    most = most > MOST_STATES ? MOST_STATES : most < FEWEST_STATES ? FEWEST_STATES : most;
    int64_t prefix[MOST_OPTIONS] = {0}; /* all that candidates before free when all are so */
    list[0] = NEWN(a, struct state, 1);
    for (int i = 0; i < l->n && n; i++) {
        const struct option *o = l->c[i].option;
        list[i + 1] = NEWN(a, struct state, MOST_OPTIONS * n);
        int m = 0;
        for (int k = 0; k < n; k++)
            for (int c = 0; c < MOST_OPTIONS; c++) {
                const struct state *s = &list[i][k];
                int64_t adds = o[c].own - (o[ALONE].own - prefix[c]); /* recomputation, in its own window */
                if (!l->tried[c] || o[ALONE].own - s->freed + adds > budget)
                    continue;
                list[i + 1][m++] =
                    (struct state){s->freed + o[ALONE].kept - o[c].kept, s->cost + o[c].flops, k, (unsigned char)c};
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
        for (int c = 0; c < MOST_OPTIONS; c++)
            prefix[c] += o[ALONE].kept - o[c].kept;
    }
    int best = -1;
    for (int k = 0; k < n && best < 0; k++)
        if (l->last - list[l->n][k].freed <= budget)
            best = k;
    bool ok = best >= 0 && l->update <= budget;
    for (int i = l->n; i > 0 && ok; i--) {
        option[i - 1] = list[i][best].option;
        best = list[i][best].from;
    }
    arena_free(a);
    return ok;
}

/* ---- the front ----------------------------------------------------------------------------------------------------------------- */

enum { MOST_LEVELS = 3, SMALL = 700, LARGE = 4000, HUGE_ONE = 20000 /* calls */ };

static double
extra_percent(const struct planner *x, const struct measured *m)
{
    return x->base.flops > 0 ? 100 * m->recomputed_flops / (3 * x->base.flops) : 0; /* backward is twice the forward */
}

/* The plan in the words of --recompute; a run of calls by its first and last. */
static const char *
name_of(const struct planner *x, const struct candidate *c, int option)
{
    const struct program *p = x->s->p;
    const char *name = c->module >= 0 ? p->modules[c->module].path
                                      : arena_printf(x->a, "%s to %s", p->calls[c->region.first].name,
                                                     p->calls[c->region.end - 1].name);
    return option == WHOLE ? name : arena_printf(x->a, "%s+%s", name, policies[option - FIRST_POLICY].name);
}

static int
by_price(const void *a, const void *b)
{
    const struct price *p = a, *q = b;
    double f = p->flops * (double)q->bytes, g = q->flops * (double)p->bytes;
    return f < g ? -1 : f > g;
}

/* Saved tensors at the peak. Who doesn't keep one runs its call again; a call's several tensors share its cost. */
static void
find_prices(struct planner *x)
{
    const struct step *st = x->s->st;
    const struct machine *m = st->m;
    const struct program *p = x->s->p;
    const struct live *l = live_run(st);
    int64_t *made = NEWN(x->a, int64_t, p->ncalls + 1);
    int cap = 0;
    for (int i = 0; i < m->nst; i++) {
        const struct storage *s = m->st[i];
        if (l->alive[i] && s->saved && s->phase == PHASE_FORWARD && s->class == CLASS_SAVED && s->call && s->bytes) {
            int call = (int)(s->call - p->calls);
            made[call] += s->bytes;
            *PUSH(x->a, x->price, x->nprices, cap) = (struct price){s->bytes, st->call_flops[call], call};
        }
    }
    for (int i = 0; i < x->nprices; i++)
        x->price[i].flops *= (double)x->price[i].bytes / (double)made[x->price[i].call];
    if (x->nprices)
        qsort(x->price, (size_t)x->nprices, sizeof(*x->price), by_price);
}

/* The least work of any plan with that peak, as a fraction of bytes: a bound for plans of whole tensors. */
static double
least_percent(const struct planner *x, int64_t peak)
{
    double flops = 0;
    int64_t need = x->base.allocated - peak;
    for (int i = 0; i < x->nprices && need > 0; i++) {
        const struct price *p = &x->price[i];
        int64_t taken = p->bytes < need ? p->bytes : need;
        flops += p->flops * (double)taken / (double)p->bytes;
        need -= taken;
    }
    return x->base.flops > 0 ? 100 * flops / (3 * x->base.flops) : 0;
}

static void
add_plan(struct planner *x, struct front *f, const struct level *l, const unsigned char *option,
         const struct measured *m)
{
    struct plan *q = PUSH(x->a, f->plan, f->n, f->cap);
    *q = (struct plan){.peak = m->allocated,
                       .extra_flops_percent = extra_percent(x, m),
                       .least_flops_percent = least_percent(x, m->allocated)};
    q->held_by = m->op ? arena_printf(x->a, "%s in the %s phase%s%s", m->op, phase_names[m->phase],
                                      m->location ? ", at " : "", m->location ? m->location : "")
                       : "";
    q->after = l ? arena_dup(x->a, &m->curve, sizeof(m->curve)) : NULL;
    q->modules = NEWN(x->a, const char *, l ? l->n + 1 : 1);
    for (int i = 0; l && i < l->n; i++)
        if (option[i] != ALONE)
            q->modules[q->nmodules++] = name_of(x, &l->c[i], option[i]);
}

static void
try_budget(struct planner *x, struct front *f, const struct level *l, int64_t budget)
{
    unsigned char *option = NEWN(x->a, unsigned char, l->n + 1);
    if (!solve(l, budget, option))
        return;
    struct measured m = run_plan(x, l, option, NULL, NULL);
    if (m.allocated > budget && solve(l, budget - (m.allocated - budget), option)) /* the model was off by so much */
        m = run_plan(x, l, option, NULL, NULL);
    add_plan(x, f, l, option, &m);
}

/* Plans of a level for budgets between its least peak and the step's, and for the one that was asked for. */
static void
add_level(struct planner *x, struct front *f, const struct level *l, int steps, int64_t budget)
{
    int64_t low = l->all.allocated, high = x->base.allocated;
    unsigned char *all = NEWN(x->a, unsigned char, l->n + 1);
    memset(all, WHOLE, (size_t)l->n);
    add_plan(x, f, l, all, &l->all);
    for (int k = 0; k < steps && low < high; k++)
        try_budget(x, f, l, low + (high - low) / steps * k);
    if (budget > 0)
        try_budget(x, f, l, budget);
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
keep_front(struct front *front)
{
    enum { TIE = 4096 };
    struct plan *f = front->plan;
    int n = 0;
    qsort(f, (size_t)front->n, sizeof(*f), by_peak);
    for (int i = 0; i < front->n; i++) {
        bool beaten = false;
        for (int k = 0; k < front->n; k++)
            beaten |= k != i && f[k].extra_flops_percent <= f[i].extra_flops_percent && f[k].peak <= f[i].peak + TIE &&
                      (f[k].extra_flops_percent < f[i].extra_flops_percent || f[k].peak + TIE < f[i].peak || k < i);
        f[i].beaten = beaten;
    }
    for (int i = 0; i < front->n; i++)
        if (!f[i].beaten)
            f[n++] = f[i];
    front->n = n;
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

/* The policies that keep something of this model that no earlier one keeps alone. */
static void
find_policies(struct planner *x)
{
    const struct machine *m = x->s->st->m;
    bool *made = NEWN(x->a, bool, aten_count);
    const char *last = NULL;
    for (int i = 0; i < m->nst; i++) {
        const struct aten *op =
            m->st[i]->phase == PHASE_FORWARD && m->st[i]->op && m->st[i]->op != last ? aten_find(m->st[i]->op) : NULL;
        last = m->st[i]->op;
        if (op)
            made[op - aten_table] = true;
    }
    for (int i = 0; i < COUNT(policies); i++) {
        x->keeps[i] = keeps_of(x->a, &policies[i]);
        for (int o = 0; o < aten_count; o++)
            x->policy_works[i] |= x->keeps[i][o] && made[o];
        for (int k = 0; k < i; k++) {
            bool differs = false;
            for (int o = 0; o < aten_count; o++)
                differs |= made[o] && x->keeps[i][o] != x->keeps[k][o];
            x->policy_works[i] &= differs;
        }
    }
}

static struct planner
planner_new(const struct study *s, struct result *r)
{
    struct planner x = {.a = s->a, .s = s, .r = r};
    x.base = (struct measured){.allocated = r->peak.allocated,
                               .phase = r->peak.phase,
                               .op = r->peak.op,
                               .location = r->peak.location,
                               .flops = s->st->forward_flops};
    find_policies(&x);
    look_at_modules(&x);
    return x;
}

/* ---- operator plans --------------------------------------------------------------------------------------------------------- */

/* Elements of tensors that calls before a call make and calls from it on read, per call. */
static int64_t *
crossing(struct planner *x)
{
    const struct program *p = x->s->p;
    int64_t *c = NEWN(x->a, int64_t, p->ncalls + 1);
    int *last = NEWN(x->a, int, p->nslots + 1), slot;
    for (int i = 0; i < p->ncalls; i++)
        for (struct call_reads r = {&p->calls[i]}; (slot = next_read(&r)) >= 0;)
            last[slot] = i;
    for (int i = 0; i < p->ncalls; i++) {
        const struct call *k = &p->calls[i];
        int64_t n = k->rank >= 0;
        for (int d = 0; d < k->rank; d++)
            n *= k->size[d] > 0 ? k->size[d] : 1;
        if (last[k->outs[0]] > i) {
            c[i + 1] += n;
            c[last[k->outs[0]] + 1] -= n;
        }
    }
    for (int i = 1; i <= p->ncalls; i++)
        c[i] += c[i - 1];
    return c;
}

/* Runs of about so many calls, each cut where least crosses. */
static struct level
level_of_runs(struct planner *x, const int64_t *crosses, int length)
{
    const struct program *p = x->s->p;
    struct level l = {.c = NEWN(x->a, struct candidate, 2 * p->ncalls / length + 2)};
    for (int from = 0; from < p->ncalls;) {
        int end = p->ncalls;
        for (int at = from + length / 2; at <= from + 3 * length / 2 && at < p->ncalls; at++)
            if (!p->calls[at].in_place && (end == p->ncalls || crosses[at] < crosses[end]))
                end = at;
        double flops = 0;
        for (int i = from; i < end; i++)
            flops += x->s->st->call_flops[i];
        if (!p->calls[from].in_place && flops > 0 && end - from > 1)
            l.c[l.n++] = (struct candidate){.module = -1, .region = {from, end, NULL}};
        from = end;
    }
    return l;
}

/* The plan's modules as strings of Python, NULL where a name could be a program. */
static const char *
names_of(struct arena *a, const struct plan *q)
{
    const char *names = "";
    for (int i = 0; i < q->nmodules; i++) {
        const char *plus = strrchr(q->modules[i], '+');
        if (!is_pasteable(plus ? arena_strn(a, q->modules[i], (size_t)(plus - q->modules[i])) : q->modules[i]))
            return NULL;
        names = arena_printf(a, "%s%s\"%s\"", names, !i ? "" : i % 4 ? ", " : ",\n             ", q->modules[i]);
    }
    return names;
}

/* Python that puts the plan's modules under checkpoint. */
static const char *
python_of(struct arena *a, const struct plan *q)
{
    const char *names = names_of(a, q);
    if (!names)
        return NULL;
    return arena_printf(a,
                        "from torch.utils.checkpoint import checkpoint\n\n"
                        "for name in [%s]:\n"
                        "    module = model.get_submodule(name)\n"
                        "    def run(*args, forward=module.forward, **kwargs):\n"
                        "        return checkpoint(forward, *args, use_reentrant=False, **kwargs)\n"
                        "    module.forward = run",
                        names);
}

/* The same with policies: "blocks.0+linear". */
static const char *
selective_python_of(struct arena *a, const struct plan *q)
{
    const char *names = names_of(a, q), *keep = "";
    if (!names)
        return NULL;
    for (int k = 0; k < COUNT(policies); k++) {
        const char *ops = "", *suffix = arena_printf(a, "+%s", policies[k].name);
        bool used = false;
        for (int i = 0; i < q->nmodules; i++)
            used |= strstr(q->modules[i], suffix) != NULL;
        for (int i = 0; i < MOST_OPS && policies[k].ops[i]; i++)
            ops = arena_printf(a, "%s%saten.%s", ops,
                               !i      ? ""
                               : i % 2 ? ", "
                                       : ",\n                    ",
                               policies[k].ops[i]);
        if (used)
            keep = arena_printf(a, "%s    \"%s\": [%s],\n", keep, policies[k].name, ops);
    }
    return arena_printf(
        a,
        "from functools import partial\n"
        "from torch.utils.checkpoint import checkpoint, create_selective_checkpoint_contexts, noop_context_fn\n\n"
        "aten = torch.ops.aten\n"
        "keep = {\n%s}\n"
        "for name in [%s]:\n"
        "    name, _, policy = name.partition(\"+\")\n"
        "    module = model.get_submodule(name)\n"
        "    context = partial(create_selective_checkpoint_contexts, keep[policy]) if policy else noop_context_fn\n"
        "    def run(*args, forward=module.forward, context=context, **kwargs):\n"
        "        return checkpoint(forward, *args, use_reentrant=False, context_fn=context, **kwargs)\n"
        "    module.forward = run",
        keep, names);
}

static bool
is_selective(const struct plan *q)
{
    for (int i = 0; i < q->nmodules; i++)
        if (strchr(q->modules[i], '+'))
            return true;
    return false;
}

/* ---- nested plans ----------------------------------------------------------------------------------------------------------- */

enum { FEWEST_VALUES = 3 /* an activation, a gradient coming in and one going out */, LONGEST = 400, MOST_PASSES = 4 };

/* To reverse n equal steps with m values alive at once: advance by `first` steps, keep what is there, reverse the rest, then those. Source:
 * Griewank and Walther, Algorithm 799: revolve, ACM TOMS 26, 2000. */
struct chain
recompute_chain(struct arena *a, int steps, int values)
{
    size_t row = (size_t)steps + 1, size = row * ((size_t)values + 1);
    struct chain t = {steps, NEWN(a, int64_t, size), NEWN(a, int, size)};
    for (size_t m = 0; m <= (size_t)values; m++)
        for (size_t n = 1; n <= (size_t)steps; n++) {
            int64_t *c = &t.cost[m * row + n];
            *c = m < FEWEST_VALUES ? NO_CHAIN : n == 1 ? 1 : INT64_MAX;
            t.first[m * row + n] = 1;
            for (size_t k = 1; k <= n && n > 1 && m >= FEWEST_VALUES; k++) {
                int64_t with = (int64_t)k + t.cost[(m - 1) * row + n - k] + t.cost[m * row + k - 1];
                if (with < *c) {
                    *c = with;
                    t.first[m * row + n] = (int)k;
                }
            }
        }
    return t;
}

/* Regions of n candidates from `from` on, each before those inside of it. */
static void
nest(const struct level *l, const struct chain *t, int from, int n, int values, struct region *r, int *nr)
{
    size_t at = (size_t)values * ((size_t)t->steps + 1) + (size_t)n;
    if (n < 1 || t->cost[at] >= NO_CHAIN)
        return;
    int first = t->first[at];
    r[(*nr)++] = (struct region){l->c[from].region.first, l->c[from + first - 1].region.end, NULL};
    nest(l, t, from, first - 1, values, r, nr);
    nest(l, t, from + first, n - first, values - 1, r, nr);
}

/* Where one region inside of another helps: many candidates that are alike, with few boundaries kept. */
static void
add_nested(struct planner *x, struct front *f, const struct level *l)
{
    if (l->n < FEWEST_VALUES || l->n > LONGEST)
        return;
    static const int alive[] = {FEWEST_VALUES, 4, 6, 10};
    struct chain t = recompute_chain(x->a, l->n, alive[COUNT(alive) - 1]);
    for (int i = 0; i < COUNT(alive); i++) {
        if (t.cost[alive[i] * (l->n + 1) + l->n] > MOST_PASSES * l->n)
            continue;
        struct program p = *x->s->p;
        struct region *r = NEWN(x->a, struct region, l->n + 1);
        p.nregions = 0;
        p.regions = r;
        nest(l, &t, 0, l->n, alive[i], r, &p.nregions);
        if (!p.nregions)
            continue;
        struct measured m = measure_step(&p, x->s->s, NULL, NULL);
        struct candidate *runs = NEWN(x->a, struct candidate, p.nregions + 1);
        unsigned char *whole = NEWN(x->a, unsigned char, p.nregions + 1);
        memset(whole, WHOLE, (size_t)p.nregions);
        for (int k = 0; k < p.nregions; k++)
            runs[k] = (struct candidate){.module = -1, .region = r[k]};
        add_plan(x, f, &(struct level){.n = p.nregions, .c = runs}, whole, &m);
    }
}

/* The front of all plans so far, as the reports have it. */
static void
show(struct planner *x, const struct front *all, int *n, struct plan **to)
{
    struct front f = {.n = all->n, .plan = arena_dup(x->a, all->plan, sizeof(*all->plan) * (size_t)all->n)};
    keep_front(&f);
    *n = f.n;
    *to = f.plan;
}

void
recompute_plan(const struct study *s, struct result *r, int64_t budget)
{
    struct planner x = planner_new(s, r);
    struct level levels[MOST_LEVELS];
    struct front f = {0};
    int n = levels_of(&x, levels);
    int steps = s->p->ncalls < LARGE      ? 8
                : s->p->ncalls < HUGE_ONE ? 4
                                          : 2; /* and half as many again for the best level */
    find_prices(&x);
    add_plan(&x, &f, NULL, NULL, &x.base);
    for (int i = 0; i < n; i++) {
        study_tell(s, "trying checkpoints", i, n + 2);
        add_level(&x, &f, &levels[i], i ? steps : steps + steps / 2, budget);
    }
    show(&x, &f, &r->recompute.nfront, &r->recompute.front);
    study_tell(s, "trying checkpoints", n, n + 2);
    if (n) {
        fit_policies(&x, &levels[0]);
        add_level(&x, &f, &levels[0], steps, budget);
    }
    show(&x, &f, &r->recompute.nselective, &r->recompute.selective);
    study_tell(s, "trying checkpoints", n + 1, n + 2);
    static const int lengths[] = {5, 20, 60, 10, 40};
    const int64_t *crosses = crossing(&x);
    for (int i = s->p->ncalls < SMALL ? 0 : COUNT(lengths) - 2; i < COUNT(lengths); i++) {
        struct level l = level_of_runs(&x, crosses, lengths[i]);
        if (!l.n)
            continue;
        level_fit(&x, &l);
        fit_policies(&x, &l);
        add_level(&x, &f, &l, steps, budget);
    }
    if (n && s->p->ncalls < LARGE)
        add_nested(&x, &f, &levels[0]);
    show(&x, &f, &r->recompute.noperators, &r->recompute.operators);
    r->recompute.lower_bound = bound_of(s->st);
    r->recompute.chosen = -1;
    for (int i = r->recompute.nfront - 1; i >= 0 && budget > 0; i--) /* the cheapest comes first */
        if (r->recompute.front[i].peak <= budget)
            r->recompute.chosen = i;
    int shown = r->recompute.chosen >= 0 ? r->recompute.chosen : r->recompute.nfront - 1;
    if (r->recompute.front[shown].nmodules)
        r->recompute.python = python_of(x.a, &r->recompute.front[shown]);
    for (int i = 0; i < r->recompute.nselective && !r->recompute.selective_python; i++) { /* the cheapest comes first */
        const struct plan *q = &r->recompute.selective[i];
        if (is_selective(q) && (budget <= 0 || q->peak <= budget))
            r->recompute.selective_python = selective_python_of(x.a, q);
    }
}

bool
recompute_level(const struct study *s, struct result *r, struct program *p, const char **names, const char **python)
{
    struct planner x = planner_new(s, r);
    struct level l = {0}, best = {0};
    int depth = 0;
    while (next_level(&x, &depth, &l)) {
        unsigned char *all = NEWN(x.a, unsigned char, l.n + 1);
        memset(all, WHOLE, (size_t)l.n);
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
