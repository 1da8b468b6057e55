/* SPDX-License-Identifier: Apache-2.0 */
/* recompute.c - what to put under torch.utils.checkpoint so that the step fits, at the least extra work.
 *
 * A candidate is a run of calls: a module's, or for operator plans any. Candidates of a level lie side by side; each
 * is left alone, recomputed, recomputed but for the results that a policy keeps, or recomputed with those inside of it
 * under checkpoint, too. A run of the step without checkpoints and one for each of these with all of a level's make a
 * linear model: the peak of each window between two candidates' backward passes is what it was, less what the
 * candidates before it no longer keep, plus what recomputation adds in its own window. On that model a plan for a
 * budget is a path of candidates of any level from the first call to the last: a knapsack whose constraints are
 * prefixes, solved over Pareto lists. Every plan that is reported was then run as a step of its own: the model only
 * chooses.
 */
#include "advice/modules.h"
#include "base/setup.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static int
by_place(const void *a, const void *b)
{
    const struct region *r = a, *q = b;
    return r->first != q->first ? r->first - q->first : q->end - r->end; /* an outer one before the one inside */
}

/* ---- selective policies ------------------------------------------------------------------------------------------ */

enum { MOST_OPS = 8 };

/* What a region keeps although it is recomputed: results that cost much to make again. Source: the lists that people
 * pass to create_selective_checkpoint_contexts in torch/utils/checkpoint.py. */
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

/* The inner dimension of a product, as aten_table has it, from its arguments in Python. */
static const struct {
    const char *op, *python;
} inner_dimensions[] = {
    {"mm.default", "lambda a, b: a.shape[1]"},
    {"addmm.default", "lambda c, a, b: a.shape[1]"},
    {"convolution.default", "lambda x, w, *_: w[0].numel()"},
    {"bmm.default", "lambda a, b: a.shape[2]"},
    {"baddbmm.default", "lambda c, a, b: a.shape[2]"},
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

/* Takes the policy off the end of "h.?/2+products:512" and puts it into r, then the stride; what is wrong, NULL
 * nothing. */
static const char *
glob_split(struct arena *a, char *glob, struct region *r, int *every)
{
    char *plus = strrchr(glob, '+'), *colon = plus ? strchr(plus, ':') : NULL, *end = NULL;
    if (plus) {
        *plus = 0;
        if (colon) {
            *colon = 0;
            r->inner = strtoll(colon + 1, &end, 10);
        }
        for (int i = 0; i < COUNT(policies); i++)
            if (strcmp(plus + 1, policies[i].name) == 0)
                r->keeps = keeps_of(a, &policies[i]);
        if (!r->keeps || (colon && (r->inner <= 0 || *end)))
            return "no policy of that name in --list=policies";
    }
    char *slash = strrchr(glob, '/');
    if (!slash)
        return NULL;
    *slash = 0;
    long n = strtol(slash + 1, &end, 10);
    *every = n > 0 && n <= INT_MAX ? (int)n : 0;
    return *end || !*every ? "wanted NAME/N for every N-th of its modules" : NULL;
}

static const char *
no_module(struct arena *a, const struct program *p, const char *glob)
{
    const char **paths = NEWN(a, const char *, p->nmodules);
    for (int i = 1; i < p->nmodules; i++)
        paths[i - 1] = p->modules[i].path;
    const char *near = words_near(a, glob, p->nmodules - 1, paths);
    return near ? arena_printf(a, "no module called %s runs as one piece; did you mean %s?", glob, near)
                : arena_printf(a, "no module called %s runs as one piece", glob);
}

/* The next of globs with commas between, *globs moves behind it; NULL no more. */
static char *
next_glob(struct arena *a, const char **globs)
{
    size_t n = strcspn(*globs, ",");
    char *glob = **globs ? arena_strn(a, *globs, n) : NULL;
    *globs += n + ((*globs)[n] == ',');
    return glob;
}

/* Whether two calls are the same one of a module that runs twice. *reads: a parameter is among what it reads. */
static bool
is_again(const bool *is_param, const struct call *c, const struct call *d, bool *reads)
{
    int slot, other;
    if (c->scope != d->scope || !c->target || !d->target || strcmp(c->target, d->target) != 0 || c->nargs != d->nargs)
        return false;
    struct call_reads r = {c}, q = {d};
    while ((slot = next_read(&r)) >= 0) {
        if ((other = next_read(&q)) < 0 || is_param[slot] != is_param[other] || (is_param[slot] && slot != other))
            return false;
        *reads |= is_param[slot];
    }
    return next_read(&q) < 0;
}

/* How often a module runs whose calls these are: as often as they are the same calls over the same parameters. */
static int
times_of(struct arena *a, const struct program *p, const struct region *r)
{
    bool *is_param = NEWN(a, bool, p->nslots + 1);
    int n = r->end - r->first;
    for (int i = 0; i < p->nparams; i++)
        is_param[p->params[i].slot] = !param_is_state(&p->params[i]);
    for (int length = 1; length <= n / 2; length++) {
        bool reads = false, again = n % length == 0;
        for (int i = r->first; i + length < r->end && again; i++)
            again = is_again(is_param, &p->calls[i], &p->calls[i + length], &reads);
        if (again && reads)
            return n / length;
    }
    return 1;
}

bool
recompute_modules(struct arena *a, struct program *p, const char *globs, const char **why)
{
    struct region *r = NULL, *all = modules_regions(a, p);
    bool *taken = NEWN(a, bool, p->nmodules + 1);
    int n = 0, cap = 0, *named = NEWN(a, int, p->nmodules + 1);
    for (char *glob; (glob = next_glob(a, &globs));) {
        struct region like = {0};
        int every = 1, nnamed;
        if ((*why = glob_split(a, glob, &like, &every)))
            return false;
        if (!(nnamed = modules_named(p, all, glob, every, named))) {
            *why = no_module(a, p, glob);
            return false;
        }
        for (int i = 0; i < nnamed; i++) {
            like.first = all[named[i]].first;
            like.end = all[named[i]].end;
            like.module = all[named[i]].module;
            int times = taken[named[i]] ? 0 : times_of(a, p, &like),
                length = times ? (like.end - like.first) / times : 0;
            for (int k = 0; k < times; k++) { /* each of its runs is a checkpoint */
                like.end = like.first + length;
                *PUSH(a, r, n, cap) = like;
                like.first = like.end;
            }
            taken[named[i]] = true;
        }
    }
    if (n)
        qsort(r, (size_t)n, sizeof(*r), by_place);
    p->nregions = n;
    p->regions = r;
    return true;
}

static bool
glob_among(struct arena *a, const char *globs, const char *path)
{
    for (const char *glob; (glob = next_glob(a, &globs));)
        if (glob_match(glob, path))
            return true;
    return false;
}

bool
unit_modules(struct arena *a, struct program *p, const char *globs, const char **why)
{
    struct region *r = NEWN(a, struct region, p->nmodules + 1), *all = modules_regions(a, p);
    const char *left = NULL;
    int n = 0;
    for (int i = 1; i < p->nmodules; i++)
        if (all[i].first >= 0 && (globs ? glob_among(a, globs, p->modules[i].path) : path_listed(p->modules[i].path)))
            r[n++] = all[i];
    for (const char *rest = globs ? globs : "", *glob; (glob = next_glob(a, &rest));) {
        int at = 1;
        while (at < p->nmodules && (all[at].first < 0 || !glob_match(glob, p->modules[at].path)))
            at++;
        if (at == p->nmodules)
            left = left ? arena_printf(a, "%s, %s", left, glob) : glob;
    }
    if (globs && !n) {
        *why = no_module(a, p, globs);
        return false;
    }
    if (left)
        graph_doubt(p->graph, left, "fully_shard", NULL,
                    "no module of that name runs as one piece in the file, which may have lost it; none is sharded by "
                    "itself");
    qsort(r, (size_t)n, sizeof(*r), by_place);
    int outer = 0;
    for (int i = 1; i < n; i++)
        if (r[i].first >= r[outer].end)
            r[++outer] = r[i];
    p->nunits = n ? outer + 1 : 0;
    p->units = r;
    return true;
}

void
recompute_check(const struct step *st)
{
    const struct program *p = st->program;
    for (int i = 0; i < p->nregions; i++)
        if (st->region_flops[i] == HUGE_VAL)
            graph_doubt(p->graph, p->calls[p->regions[i].first].node, "torch.utils.checkpoint", NULL,
                        "the policy keeps a result that is then written over: PyTorch refuses to run this step");
}

/* ---- candidates -------------------------------------------------------------------------------------------------- */

enum {
    ALONE,
    WHOLE,
    NESTED, /* and those inside of it, too */
    FIRST_POLICY,
    FIRST_GRADE = FIRST_POLICY + COUNT(policies), /* the last policy, of products with a large inner dimension */
    GRADES = 6,
    MOST_OPTIONS = FIRST_GRADE + GRADES
};

struct candidate {
    int module; /* -1: a run of calls that is no module's */
    struct region region;
    const struct level *inside; /* has those, NULL none */
    struct option {
        int64_t kept; /* bytes of its forward pass that live into the backward pass */
        int64_t own;  /* peak of its window, when all of the level are so */
        int64_t adds; /* what recomputation adds there */
        double flops; /* of its second forward; HUGE_VAL: no choice */
    } option[MOST_OPTIONS];
};

/* Candidates in the order of their forward passes, side by side, and the windows between them; of several levels, they
 * overlap. */
struct level {
    int n;
    struct candidate *c;
    int64_t last;   /* peak from the loss to the last candidate's backward pass */
    int64_t update; /* peak of the update: nothing is pending */
    struct measured all;
};

/* Plans, before they are sorted, and those that no other beats. */
struct front {
    int n, cap;
    struct plan *plan;
};

struct planner {
    struct arena *a;
    int npatterns;
    struct pattern *patterns; /* to be tried */
    const struct study *s;
    struct result *r;
    struct measured base;
    int64_t worth; /* plans with a higher peak save too little to be told */
    const bool *keeps[COUNT(policies)];
    bool policy_works[COUNT(policies)];
    int64_t grade[GRADES]; /* inner dimensions, falling; 0 none */
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

/* A module like it beside it takes a list that its caller extends: the first one's list of one leaves no trace in the
 * file. */
static bool
takes_list(const struct planner *x, int module)
{
    const struct module *m = &x->s->p->modules[module];
    const char *listed = m->parent < 0 ? NULL : x->listed[m->parent];
    return listed && (!*listed || !m->type || strcmp(listed, m->type) == 0);
}

static bool
may_wrap(const struct planner *x, int module)
{
    const struct program *p = x->s->p;
    const struct region *r = &x->region[module];
    return module > 0 && x->called[module] && r->first >= 0 && r->end - r->first < p->ncalls &&
           !p->calls[r->first].in_place && !begins_with_list(p, r) && !takes_list(x, module);
}

/* And it is worth it. */
static bool
can_wrap(const struct planner *x, int module)
{
    const struct region *r = &x->region[module];
    return may_wrap(x, module) && x->module_flops[module] > 0 && r->end - r->first > 1;
}

static int
by_forward(const void *a, const void *b)
{
    const struct candidate *c = a, *d = b;
    return by_place(&c->region, &d->region);
}

/* A level, with no numbers yet: the deepest ones down to a depth that have none inside of them. */
static struct level
level_at(struct planner *x, int depth)
{
    const struct program *p = x->s->p;
    bool *can = NEWN(x->a, bool, p->nmodules + 1), *outer = NEWN(x->a, bool, p->nmodules + 1);
    struct level l = {0};
    int most = 1;
    for (int i = 0; i < p->nmodules; i++)
        can[i] = depth_of(p, i) <= depth && can_wrap(x, i);
    for (int i = 0; i < p->nmodules; i++)
        for (int up = p->modules[i].parent; can[i] && up >= 0; up = p->modules[up].parent)
            outer[up] = true;
    for (int i = 0; i < p->nmodules; i++)
        most += can[i] && !outer[i];
    l.c = NEWN(x->a, struct candidate, most);
    for (int i = 0; i < p->nmodules; i++)
        if (can[i] && !outer[i])
            l.c[l.n++] = (struct candidate){.module = i, .region = x->region[i]};
    qsort(l.c, (size_t)l.n, sizeof(*l.c), by_forward);
    return l;
}

/* ---- the model --------------------------------------------------------------------------------------------------- */

/* The first candidate that ends behind a call; l->n: none. */
static int
candidate_at(const struct level *l, int call)
{
    int low = 0, high = l->n;
    while (low < high) {
        int mid = (low + high) / 2;
        if (l->c[mid].region.end <= call)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

/* The candidates that an option puts under checkpoint inside of one, from the first on, and how many. */
static const struct candidate *
inside_of(const struct candidate *c, int option, int *n)
{
    const struct level *l = c->inside;
    *n = 0;
    if (option != NESTED || !l)
        return NULL;
    int first = candidate_at(l, c->region.first);
    while (first + *n < l->n && l->c[first + *n].region.end <= c->region.end)
        ++*n;
    if (*n == 1 && l->c[first].region.first == c->region.first && l->c[first].region.end == c->region.end)
        *n = 0; /* itself */
    return &l->c[first];
}

/* Puts a plan, an option for each candidate, into a program. */
static void
put_regions(struct planner *x, const struct level *l, const unsigned char *option, struct program *p)
{
    struct region *r = NULL;
    int n = 0, cap = 0;
    for (int i = 0; i < l->n; i++) {
        const struct candidate *c = &l->c[i];
        int o = option[i];
        if (o == ALONE)
            continue;
        struct region *q = PUSH(x->a, r, n, cap);
        *q = c->region;
        q->keeps = o < FIRST_POLICY  ? NULL
                   : o < FIRST_GRADE ? x->keeps[o - FIRST_POLICY]
                                     : x->keeps[COUNT(policies) - 1];
        q->inner = o < FIRST_GRADE ? 0 : x->grade[o - FIRST_GRADE];
        int ninside;
        const struct candidate *in = inside_of(c, o, &ninside);
        for (int k = 0; k < ninside; k++)
            *PUSH(x->a, r, n, cap) = in[k].region;
    }
    p->nregions = n;
    p->regions = r;
}

/* The optimizer's states, which plans leave alone. */
static int64_t
states_of(const struct planner *x)
{
    const struct machine *m = x->s->st->m;
    int64_t bytes = 0;
    for (int i = 0; i < m->nst && x->s->st->setup == x->s->s; i++)
        bytes += m->st[i]->class == CLASS_OPTIMIZER ? m->st[i]->requested : 0;
    return bytes;
}

/* What a plan holds at least: until the backward pass comes to one of its regions, what others than these made lives as
 * it does in the step. */
static int64_t
least_of(const struct planner *x, const struct program *p)
{
    const struct step *st = x->s->st;
    const struct machine *m = st->m;
    bool *inside = NEWN(x->a, bool, p->ncalls + 1);
    int64_t bytes = 0, most = 0;
    for (int i = 0; i < p->nregions; i++)
        memset(inside + p->regions[i].first, true, (size_t)(p->regions[i].end - p->regions[i].first));
    for (int i = -st->before; i < m->nev && st->setup == x->s->s && !st->setup->parallel; i++) {
        const struct event *e = i < 0 ? NULL : &m->ev[i];
        const struct storage *s = m->st[e ? e->storage : i + st->before];
        if (e && e->phase >= PHASE_BACKWARD && e->call && inside[e->call - p->calls])
            break;
        if (!s->call || !inside[s->call - p->calls])
            bytes += !e || e->birth ? s->requested : -s->requested;
        most = bytes > most ? bytes : most;
    }
    return most;
}

/* most: of peaks above it nothing more is wanted. */
static struct measured
run_plan_below(struct planner *x, const struct level *l, const unsigned char *option, int64_t most)
{
    struct program p = *x->s->p;
    struct setup s = *x->s->s;
    s.most = most;
    s.besides = states_of(x);
    put_regions(x, l, option, &p);
    if (least_of(x, &p) > most)
        return (struct measured){.allocated = INT64_MAX};
    return measure_step(&p, &s, NULL, NULL);
}

static struct measured
run_plan(struct planner *x, const struct level *l, const unsigned char *option,
         void (*look)(const struct step *st, void *to), void *to)
{
    struct program p = *x->s->p;
    put_regions(x, l, option, &p);
    return measure_step(&p, x->s->s, look, to);
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
        int call = e->call ? (int)(e->call - st->program->calls) : st->program->ncalls;
        int in = candidate_at(l, call);
        if (e->phase == PHASE_BACKWARD && in < at && l->c[in].region.first <= call)
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

/* What each candidate and the calls before it keep, and its window, all of the level being so. */
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
        int in = e->call ? candidate_at(l, (int)(e->call - st->program->calls)) : l->n;
        if (e->birth && e->phase == PHASE_FORWARD)
            born[e->storage] = in < l->n ? in + 1 : 0;
        else if (!e->birth && e->phase == PHASE_BACKWARD && born[e->storage])
            l->c[born[e->storage] - 1].option[k->option].kept += m->st[e->storage]->bytes;
    }
    windows(st, l, own, &last, &update);
    int64_t freed = 0; /* by those before */
    for (int i = 0, r = 0; i < l->n; i++) {
        struct option *o = &l->c[i].option[k->option], *alone = &l->c[i].option[ALONE];
        o->own = own[i];
        o->adds = own[i] - (alone->own - freed);
        o->flops = 0;
        for (; r < st->program->nregions && st->program->regions[r].first < l->c[i].region.end; r++)
            o->flops += st->region_flops[r];
        freed += alone->kept - o->kept;
    }
    if (k->option == ALONE)
        l->last = last;
    if (k->option == ALONE || update < l->update)
        l->update = update;
}

static struct measured
try_option(struct planner *x, struct level *l, int option)
{
    unsigned char *all = NEWN(x->a, unsigned char, l->n + 1);
    struct look k = {l, option};
    memset(all, option, (size_t)l->n);
    return run_plan(x, l, all, look_at, &k);
}

static void
level_fit(struct planner *x, struct level *l)
{
    struct look k = {l, ALONE};
    for (int i = 0; i < l->n; i++)
        for (int o = 0; o < MOST_OPTIONS; o++)
            l->c[i].option[o].flops = HUGE_VAL;
    look_at(x->s->st, &k);
    l->all = try_option(x, l, WHOLE);
}

/* A policy that keeps nothing of this model, or what another one keeps, is no choice. */
static void
fit_policies(struct planner *x, struct level *l)
{
    for (int o = FIRST_POLICY; o < MOST_OPTIONS; o++)
        if (o < FIRST_GRADE ? x->policy_works[o - FIRST_POLICY] : x->grade[o - FIRST_GRADE] > 0)
            try_option(x, l, o);
}

/* ---- the knapsack ------------------------------------------------------------------------------------------------ */

struct state {
    int64_t freed; /* bytes that the chosen ones before no longer keep */
    double cost;
    const struct state *from; /* before the candidate's choice */
    int candidate;
    unsigned char option;
};

/* The states in which the backward pass may come to a call. */
struct reach {
    int n, cap;
    struct state *state;
};

enum { MOST_STATES = 300, FEWEST_STATES = 24, MOST_WORK = 100000 }; /* states, and states of all calls */

static int
by_cost(const struct state *s, const struct state *t)
{
    if (s->cost != t->cost)
        return s->cost < t->cost ? -1 : 1;
    return s->freed > t->freed ? -1 : s->freed < t->freed;
}

/* Puts more states, the cheapest first as those there are, among them; keeps those that no other beats. */
static void
merge(struct arena *a, struct reach *r, const struct state *more, int n)
{
    int i = r->n, k = n;
    r->n += n;
    r->state = arena_grow(a, r->state, &r->cap, r->n, sizeof(*r->state));
    for (int at = r->n; k > 0;)
        r->state[--at] = i > 0 && by_cost(&more[k - 1], &r->state[i - 1]) < 0 ? r->state[--i] : more[--k];
    n = r->n;
    r->n = 0;
    for (k = 0; k < n; k++)
        if (r->n == 0 || r->state[k].freed > r->state[r->n - 1].freed)
            r->state[r->n++] = r->state[k];
}

/* Keeps the most states, evenly. */
static void
thin(struct reach *r, int most)
{
    for (int k = 0; k < most && r->n > most; k++)
        r->state[k] = r->state[(int64_t)k * (r->n - 1) / (most - 1)];
    r->n = r->n > most ? most : r->n;
}

/* The options of a candidate that no other beats. */
static int
choices(const struct option *o, int *choice)
{
    int n = 0;
    for (int c = 0; c < MOST_OPTIONS; c++) {
        bool beaten = o[c].flops == HUGE_VAL;
        for (int d = 0; d < MOST_OPTIONS && !beaten; d++)
            beaten = o[d].kept <= o[c].kept && o[d].flops <= o[c].flops && o[d].adds <= o[c].adds &&
                     (d < c || o[d].kept < o[c].kept || o[d].flops < o[c].flops || o[d].adds < o[c].adds);
        if (!beaten)
            choice[n++] = c;
    }
    return n;
}

static void
choose(struct arena *a, const struct level *l, int at, int64_t budget, const struct reach *from, struct reach *to)
{
    const struct option *o = l->c[at].option;
    int choice[MOST_OPTIONS], n = choices(o, choice);
    struct state more[MOST_STATES];
    for (int j = 0; j < n; j++) {
        int c = choice[j], nmore = 0;
        for (int k = 0; k < from->n; k++) {
            const struct state *s = &from->state[k];
            if (o[ALONE].own - s->freed + o[c].adds <= budget)
                more[nmore++] =
                    (struct state){s->freed + o[ALONE].kept - o[c].kept, s->cost + o[c].flops, s, at, (unsigned char)c};
        }
        merge(a, to, more, nmore);
    }
}

/* The cheapest plan under the budget, by the model; false when there is none. */
static bool
solve(const struct level *l, int64_t budget, unsigned char *option)
{
    struct arena *a = arena_new();
    int *cut = NEWN(a, int, 2 * l->n + 1), n = 0;
    for (int i = 0; i < l->n; i++) {
        cut[2 * i] = l->c[i].region.first;
        cut[2 * i + 1] = l->c[i].region.end;
    }
    qsort(cut, 2 * (size_t)l->n, sizeof(*cut), by_number);
    for (int i = 0; i < 2 * l->n; i++)
        if (!n || cut[n - 1] != cut[i])
            cut[n++] = cut[i];
    struct reach *reach = NEWN(a, struct reach, n + 1);
    int most = MOST_WORK / (n + 1), next = 0;
    most = most > MOST_STATES ? MOST_STATES : most < FEWEST_STATES ? FEWEST_STATES : most;
    *PUSH(a, reach[0].state, reach[0].n, reach[0].cap) = (struct state){.candidate = -1};
    for (int i = 0; i < n; i++) {
        bool between = true; /* no candidate begins here but such as others lie in */
        thin(&reach[i], most);
        for (; next < l->n && l->c[next].region.first == cut[i]; next++) {
            const int *end = bsearch(&l->c[next].region.end, cut, (size_t)n, sizeof(*cut), by_number);
            choose(a, l, next, budget, &reach[i], &reach[end - cut]);
            between &= next + 1 < l->n && l->c[next + 1].region.end <= l->c[next].region.end;
        }
        if (between && i + 1 < n)
            merge(a, &reach[i + 1], reach[i].state, reach[i].n);
    }
    const struct state *best = NULL;
    for (int k = 0; k < reach[n - 1].n && !best; k++)
        if (l->last - reach[n - 1].state[k].freed <= budget && l->update <= budget)
            best = &reach[n - 1].state[k];
    bool ok = best != NULL;
    memset(option, ALONE, (size_t)l->n);
    for (; best && best->candidate >= 0; best = best->from)
        option[best->candidate] = best->option;
    arena_free(a);
    return ok;
}

/* ---- the front --------------------------------------------------------------------------------------------------- */

#define NEAR_FRONT 5 /* percent of the peak: who pastes a line gives up that much, and is told */

enum { MOST_LEVELS = 3, MOST_PATTERNS = 16, SMALL = 700, LARGE = 4000, HUGE_ONE = 20000 /* calls */ };

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
    return option < FIRST_POLICY  ? name
           : option < FIRST_GRADE ? arena_printf(x->a, "%s+%s", name, policies[option - FIRST_POLICY].name)
                                  : arena_printf(x->a, "%s+%s:%lld", name, policies[COUNT(policies) - 1].name,
                                                 (long long)x->grade[option - FIRST_GRADE]);
}

static const char *
joined(struct arena *a, int n, const char **names, const char *by)
{
    size_t length = 0;
    for (int i = 0; i < n; i++)
        length += strlen(by) + strlen(names[i]);
    char *text = arena_alloc(a, length + 1), *end = text;
    for (int i = 0; i < n; i++)
        end = stpcpy(stpcpy(end, i ? by : ""), names[i]);
    return text;
}

/* The plan's modules as strings of Python, NULL where a name could be a program. */
static const char *
names_of(struct arena *a, const struct plan *q)
{
    const char **quoted = NEWN(a, const char *, q->nmodules + 1);
    for (int i = 0; i < q->nmodules; i++) {
        const char *plus = strrchr(q->modules[i], '+');
        if (!is_pasteable(plus ? arena_strn(a, q->modules[i], (size_t)(plus - q->modules[i])) : q->modules[i]))
            return NULL;
        quoted[i] = arena_printf(a, "%s\"%s\"", !i ? "" : i % 4 ? ", " : ",\n             ", q->modules[i]);
    }
    return joined(a, q->nmodules, quoted, "");
}

const char checkpoint_module[] = "    def run(*args, forward=module.forward, **kwargs):\n"
                                 "        return checkpoint(forward, *args, use_reentrant=False, **kwargs)\n"
                                 "    module.forward = run";

/* Python that puts modules under checkpoint; names: a list of their names. */
static const char *
loop_over(struct arena *a, const char *names)
{
    return arena_printf(a, "for name in %s:\n    module = model.get_submodule(name)\n%s", names, checkpoint_module);
}

static const char *
python_of(struct arena *a, const struct plan *q)
{
    const char *names = names_of(a, q);
    return names ? arena_printf(a, "from torch.utils.checkpoint import checkpoint\n\n%s",
                                loop_over(a, arena_printf(a, "[%s]", names)))
                 : NULL;
}

static const char switching[] = "transformers.models.*"; /* models that have such a switch */
/* Layers that their library's own switch puts under checkpoint, all of them. Source: what derives from
 * GradientCheckpointingLayer in transformers/models of Transformers 4.57. */
static const char *const switched[] = {
    "BartEncoderLayer",   "BartDecoderLayer",  "BertLayer",         "BloomBlock",          "CLIPEncoderLayer",
    "CodeGenBlock",       "DebertaV2Layer",    "Dinov2Layer",       "ElectraLayer",        "FalconDecoderLayer",
    "GPT2Block",          "GPTJBlock",         "GPTNeoBlock",       "GPTNeoXLayer",        "Gemma2DecoderLayer",
    "Gemma3DecoderLayer", "GemmaDecoderLayer", "LlamaDecoderLayer", "MistralDecoderLayer", "MixtralDecoderLayer",
    "OPTDecoderLayer",    "Phi3DecoderLayer",  "PhiDecoderLayer",   "Qwen2DecoderLayer",   "Qwen3DecoderLayer",
    "RobertaLayer",       "T5Block",           "ViTLayer",          "WhisperEncoderLayer", "WhisperDecoderLayer",
    "XLMRobertaLayer",
};

static bool
is_switched(const char *type)
{
    bool is = false;
    const bool may = type && glob_match(switching, type);
    for (int i = 0; i < COUNT(switched) && may; i++)
        is |= strcmp(path_last(type), switched[i]) == 0;
    return is;
}

/* The line that switches on just what a pattern tells; NULL there is none. */
static const char *
switch_python(struct arena *a, const struct program *p, const struct pattern *k)
{
    int found = 0, outer = k->module[0];
    bool same = true;
    for (int i = 0; i < p->nmodules; i++)
        found += is_switched(p->modules[i].type);
    for (int i = 0; i < k->n; i++)
        same &= is_switched(p->modules[k->module[i]].type);
    for (int up = outer; up >= 0; up = p->modules[up].parent)
        outer = p->modules[up].type && glob_match(switching, p->modules[up].type) ? up : outer;
    const char *path = p->modules[outer].path;
    if (!same || found != k->n || !is_pasteable(path))
        return *path || !same || found != k->n
                   ? NULL
                   : "model.gradient_checkpointing_enable({\"use_reentrant\": False})  # switch of Transformers";
    return arena_printf(a,
                        "model.get_submodule(\"%s\").gradient_checkpointing_enable({\"use_reentrant\": False})  # of "
                        "Transformers itself",
                        path);
}

static const char *
pattern_python(struct arena *a, const struct program *p, const struct pattern *k)
{
    const char *line = switch_python(a, p, k);
    if (line)
        return line;
    return arena_printf(a,
                        "import re\n"
                        "from torch.utils.checkpoint import checkpoint\n\n"
                        "names = [name for name, _ in model.named_modules()\n"
                        "         if re.fullmatch(r\"%s\", name)]\n%s",
                        k->regex, loop_over(a, k->every > 1 ? arena_printf(a, "names[::%d]", k->every) : "names"));
}

enum { FEW = 2 /* modules: their names are as good as a pattern, if no list numbers them */ };

/* k: the pattern that tells its modules, NULL none. */
static void
add_plan(struct planner *x, struct front *f, const struct level *l, const unsigned char *option,
         const struct measured *m, const struct pattern *k)
{
    struct plan *q = PUSH(x->a, f->plan, f->n, f->cap);
    *q = (struct plan){.peak = m->allocated, .extra_flops_percent = extra_percent(x, m)};
    q->held_by = m->op ? arena_printf(x->a, "%s in the %s phase%s%s", m->op, phase_names[m->phase],
                                      m->location ? ", at " : "", m->location ? m->location : "")
                       : "";
    q->after = l ? arena_dup(x->a, &m->curve, sizeof(m->curve)) : NULL;
    int cap = 0, ninside;
    bool plain = true;
    for (int i = 0; l && i < l->n; i++) {
        if (option[i] == ALONE)
            continue;
        *PUSH(x->a, q->modules, q->nmodules, cap) = name_of(x, &l->c[i], option[i]);
        plain &= l->c[i].module >= 0 && option[i] < FIRST_POLICY && !modules_numbered(q->modules[q->nmodules - 1]);
        const struct candidate *in = inside_of(&l->c[i], option[i], &ninside);
        for (int k = 0; k < ninside; k++)
            *PUSH(x->a, q->modules, q->nmodules, cap) = name_of(x, &in[k], WHOLE);
    }
    if (k || (plain && q->nmodules && q->nmodules <= FEW)) {
        q->pattern = k ? k->name : joined(x->a, q->nmodules, q->modules, ",");
        q->python = k ? pattern_python(x->a, x->s->p, k) : python_of(x->a, q);
    }
}

struct trial {
    unsigned char *option; /* the plan that was run last */
    int64_t peak;
    struct measured m;
};

/* Runs the cheapest plan under the budget; the model may be off, so that more than one is tried. */
static void
try_budget(struct planner *x, struct front *f, const struct level *l, int64_t budget, int tries, struct trial *last)
{
    unsigned char *option = NEWN(x->a, unsigned char, l->n + 1);
    int64_t aim = budget, over = 0;
    for (; tries && aim > 0 && solve(l, aim, option); tries--) {
        if (memcmp(option, last->option, (size_t)l->n) != 0) {
            last->m = run_plan(x, l, option, NULL, NULL);
            add_plan(x, f, l, option, &last->m, NULL);
            memcpy(last->option, option, (size_t)l->n);
            last->peak = last->m.allocated;
            over = 0;
        }
        if (last->peak <= budget)
            return;
        over = over ? 2 * over : last->peak - budget;
        aim -= over;
    }
}

/* The plan in which all of a level are so. */
static void
add_all(struct planner *x, struct front *f, const struct level *l, int option, const struct measured *m)
{
    unsigned char *all = NEWN(x->a, unsigned char, l->n + 1);
    memset(all, option, (size_t)l->n);
    add_plan(x, f, l, all, m, NULL);
}

/* All of a level, and with them those of a finer level inside of each. */
static void
add_levels(struct planner *x, struct front *f, struct level *l, const struct level *finer)
{
    add_all(x, f, l, WHOLE, &l->all);
    if (!finer)
        return;
    for (int i = 0; i < l->n; i++)
        l->c[i].inside = finer;
    struct measured m = try_option(x, l, NESTED);
    add_all(x, f, l, NESTED, &m);
    if (m.allocated < l->all.allocated)
        l->all = m;
}

/* Of several levels one, in which a plan may choose from each what it likes. */
static struct level
mixed(struct planner *x, const struct level *levels, int n)
{
    struct level m = {0};
    int end = -1;
    for (int i = 0; i < n; i++)
        m.n += levels[i].n;
    m.c = NEWN(x->a, struct candidate, m.n + 1);
    m.n = 0;
    for (int i = 0; i < n; i++) {
        const struct level *l = &levels[i];
        if (!l->n)
            continue;
        memcpy(&m.c[m.n], l->c, sizeof(*l->c) * (size_t)l->n);
        m.n += l->n;
        if (!m.all.allocated || l->all.allocated < m.all.allocated)
            m.all = l->all;
        if (l->c[l->n - 1].region.end > end) {
            end = l->c[l->n - 1].region.end;
            m.last = l->last;
            m.update = l->update;
        }
    }
    if (m.n)
        qsort(m.c, (size_t)m.n, sizeof(*m.c), by_forward);
    return m;
}

/* Plans of a level for budgets between its least peak and the step's, and for the one that was asked for. */
static void
add_plans(struct planner *x, struct front *f, const struct level *l, int steps, int64_t asked)
{
    int64_t low = l->all.allocated, high = x->base.allocated;
    struct trial last = {.option = NEWN(x->a, unsigned char, l->n + 1), .peak = high};
    if (!l->n)
        return;
    for (int k = 0; k < steps && low < high; k++)
        try_budget(x, f, l, low + (high - low) / steps * k, 2, &last);
    if (asked > 0)
        try_budget(x, f, l, asked, 8, &last);
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

/* Keeps the step as it is, then of the plans below that peak those that no other beats in both: from the highest peak
 * to the lowest, each with more work. */
static void
keep_front(struct front *front, int64_t below)
{
    enum { TIE = 4096 };
    struct plan *f = front->plan;
    int n = 0, first = 0;
    if (!f)
        return;
    qsort(f, (size_t)front->n, sizeof(*f), by_peak);
    while (first < front->n && f[first].nmodules)
        first++;
    for (int i = 0; i < front->n; i++) {
        bool beaten = false;
        for (int k = 0; k < front->n; k++)
            beaten |= k != i && f[k].extra_flops_percent <= f[i].extra_flops_percent && f[k].peak <= f[i].peak + TIE &&
                      (f[k].extra_flops_percent < f[i].extra_flops_percent || f[k].peak + TIE < f[i].peak || k < i);
        f[i].beaten = f[i].nmodules ? beaten || f[i].peak > below : i != first;
    }
    for (int i = 0; i < front->n; i++)
        if (!f[i].beaten)
            f[n++] = f[i];
    front->n = n;
}

/* No checkpoint takes away what no call of the model made: parameters, states, gradients once they are there, the
 * batch and the loss with all that it makes. Blocks of other steps have other slack, so bytes are counted as asked
 * for. */
static int64_t
bound_of(const struct step *st)
{
    static const bool stays[CLASS_COUNT] = {[CLASS_PARAMETERS] = true,
                                            [CLASS_BUFFERS] = true,
                                            [CLASS_GRADIENTS] = true,
                                            [CLASS_OPTIMIZER] = true,
                                            [CLASS_INPUTS] = true};
    const struct machine *m = st->m;
    int64_t bound = 0, total = 0;
    for (int i = -st->before; i < m->nev; i++) {
        const struct storage *s = m->st[i < 0 ? i + st->before : m->ev[i].storage];
        if (s->class == CLASS_WORKSPACE || (s->call && !stays[s->class]))
            continue;
        total += i < 0 || m->ev[i].birth ? s->requested : -s->requested;
        bound = total > bound ? total : bound;
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
    x->region = modules_regions(x->a, p);
    for (int i = 1; i < p->nmodules; i++)
        typed |= p->modules[i].type != NULL;
    for (int i = 0; i < p->ncalls; i++) {
        x->called[p->calls[i].scope] = true;
        for (int at = p->calls[i].scope; at >= 0; at = p->modules[at].parent)
            x->module_flops[at] += x->s->st->call_flops[i];
    }
    for (int i = 1; i < p->nmodules; i++) {
        const struct module *m = &p->modules[i];
        if (typed)
            x->called[i] = m->type != NULL;
        else if (m->parent >= 0) /* a list's children have numbers for names */
            x->called[m->parent] |= !path_listed(m->path);
        if (x->region[i].first >= 0 && m->parent >= 0 && begins_with_list(p, &x->region[i]))
            x->listed[m->parent] = m->type ? m->type : "";
    }
}

/* The next level that differs from the one before; *depth is where to look. */
static bool
next_level(struct planner *x, int *depth, struct level *l)
{
    enum { DEEPEST = 12 };
    while (++*depth <= DEEPEST) {
        struct level next = level_at(x, *depth);
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

/* At most MAX_STORAGE_BYTES. */
static int64_t
elements_of(const struct call *c)
{
    int64_t n = c->rank >= 0;
    for (int d = 0; d < c->rank; d++)
        if (!mul_ok(n, c->size[d] > 0 ? c->size[d] : 1, &n) || n > MAX_STORAGE_BYTES)
            return MAX_STORAGE_BYTES;
    return n;
}

struct product {
    int64_t inner, elements;
};

static int
by_inner(const void *a, const void *b)
{
    const struct product *p = a, *q = b;
    return p->inner < q->inner ? 1 : p->inner > q->inner ? -1 : 0;
}

/* Inner dimensions that cut what products make into parts of about as many elements. */
static void
find_grades(struct planner *x)
{
    const struct program *p = x->s->p;
    struct product *d = NEWN(x->a, struct product, p->ncalls + 1);
    int64_t total = 0, sum = 0;
    int n = 0, at = 0;
    for (int i = 0; i < p->ncalls; i++) {
        int64_t elements = elements_of(&p->calls[i]);
        if (elements && x->s->st->call_flops[i] > 0) {
            double inner = x->s->st->call_flops[i] / 2 / (double)elements;
            d[n++] = (struct product){(int64_t)fmin(inner, (double)MAX_STORAGE_BYTES), elements};
            total += elements;
        }
    }
    if (n)
        qsort(d, (size_t)n, sizeof(*d), by_inner);
    for (int i = 0; i < n - 1 && at < GRADES; i++) {
        sum += d[i].elements;
        if (d[i + 1].inner < d[i].inner && sum / (at + 1) >= total / (GRADES + 1))
            x->grade[at++] = d[i].inner;
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
    find_grades(&x);
    look_at_modules(&x);
    return x;
}

/* ---- patterns ---------------------------------------------------------------------------------------------------- */

/* Of each module with those below it: bytes that it saves, those that no call behind it reads, and the work of its
 * second forward, which ends with the last that is saved. */
static void
saved_of(struct planner *x, int64_t *inside, int64_t *kept, double *flops)
{
    const struct program *p = x->s->p;
    const struct machine *m = x->s->st->m;
    int *last = NEWN(x->a, int, p->nslots + 1), *until = NEWN(x->a, int, p->nmodules + 1), slot;
    for (int i = 0; i < p->ncalls; i++)
        for (struct call_reads r = {&p->calls[i]}; (slot = next_read(&r)) >= 0;)
            last[slot] = i;
    for (int i = 0; i < m->nst; i++) {
        const struct storage *s = m->st[i];
        if (!s->saved || !s->call || s->class != CLASS_SAVED)
            continue;
        int call = (int)(s->call - p->calls);
        for (int at = s->call->scope; at >= 0; at = p->modules[at].parent) {
            inside[at] += s->bytes;
            kept[at] += last[s->call->outs[0]] < x->region[at].end ? s->bytes : 0;
            until[at] = call > until[at] ? call : until[at];
        }
    }
    for (int i = 0; i < p->ncalls; i++)
        for (int at = p->calls[i].scope; at >= 0; at = p->modules[at].parent)
            flops[at] += i <= until[at] ? x->s->st->call_flops[i] : 0;
}

static void
find_patterns(struct planner *x, int most)
{
    const struct program *p = x->s->p;
    int64_t *inside = NEWN(x->a, int64_t, p->nmodules + 1), *kept = NEWN(x->a, int64_t, p->nmodules + 1);
    double *flops = NEWN(x->a, double, p->nmodules + 1);
    bool *can = NEWN(x->a, bool, p->nmodules + 1), *worth = NEWN(x->a, bool, p->nmodules + 1);
    saved_of(x, inside, kept, flops);
    for (int i = 0; i < p->nmodules; i++) {
        can[i] = may_wrap(x, i);
        worth[i] = can_wrap(x, i);
    }
    x->patterns = modules_patterns(x->a, p, x->region, can, worth, kept, inside, flops, most, &x->npatterns);
}

/* Its modules as a level, and the option that puts all of them under checkpoint. */
static struct level
level_of_pattern(struct planner *x, const struct pattern *k, unsigned char **whole)
{
    struct level l = {.n = k->n, .c = NEWN(x->a, struct candidate, k->n + 1)};
    for (int i = 0; i < k->n; i++)
        l.c[i] = (struct candidate){.module = k->module[i], .region = x->region[k->module[i]]};
    *whole = NEWN(x->a, unsigned char, l.n + 1);
    memset(*whole, WHOLE, (size_t)l.n);
    return l;
}

static void
add_patterns(struct planner *x, struct front *f)
{
    for (int i = 0; i < x->npatterns; i++) {
        unsigned char *whole;
        struct level l = level_of_pattern(x, &x->patterns[i], &whole);
        struct measured m = run_plan(x, &l, whole, NULL, NULL);
        add_plan(x, f, &l, whole, &m, &x->patterns[i]);
    }
}

static int64_t
near_least(const struct planner *x, int64_t least)
{
    return least + (x->base.allocated - least) / 20;
}

/* The pattern with 19 in 20 parts of what any of them saves, at the least work; NULL where none saves a tenth of the
 * peak. */
static const struct pattern *
best_pattern(struct planner *x, struct measured *after)
{
    const struct pattern *best = NULL;
    int64_t least = x->base.allocated;
    struct measured *m = NEWN(x->a, struct measured, x->npatterns + 1);
    for (int i = 0; i < x->npatterns; i++) {
        unsigned char *whole;
        struct level l = level_of_pattern(x, &x->patterns[i], &whole);
        m[i] = run_plan_below(x, &l, whole, near_least(x, least));
        least = m[i].allocated < least ? m[i].allocated : least;
    }
    double flops = HUGE_VAL;
    for (int i = 0; i < x->npatterns && least < x->base.allocated - x->base.allocated / 10; i++)
        if (m[i].allocated <= near_least(x, least) && m[i].recomputed_flops < flops) {
            flops = m[i].recomputed_flops;
            best = &x->patterns[i];
            *after = m[i];
        }
    return best;
}

/* ---- operator plans ---------------------------------------------------------------------------------------------- */

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
        int64_t n = elements_of(k);
        if (last[k->outs[0]] > i) {
            c[i + 1] += n;
            c[last[k->outs[0]] + 1] -= n;
        }
    }
    for (int i = 1; i <= p->ncalls; i++)
        c[i] += c[i - 1];
    return c;
}

/* Whether a run is better cut at one place than at another: less crosses there, or as much and its length is nearer to
 * what was asked for. */
static bool
better_cut(const int64_t *crosses, int at, int other, int aim)
{
    return crosses[at] != crosses[other] ? crosses[at] < crosses[other] : abs(at - aim) < abs(other - aim);
}

/* Runs of about so many calls, inside of those of longer levels: cut there, and between where least crosses. */
static struct level
level_of_runs(struct planner *x, const int64_t *crosses, bool *cut, int length)
{
    const struct program *p = x->s->p;
    struct level l = {.c = NEWN(x->a, struct candidate, p->ncalls / (length / 2) + 2)};
    for (int from = 0, limit = 0; from < p->ncalls;) {
        while (limit <= from || (limit < p->ncalls && !cut[limit]))
            limit++;
        int end = limit;
        if (limit - from > 3 * length / 2)
            for (int at = from + length / 2; at <= from + 3 * length / 2 && at <= limit - length / 2; at++)
                if (!p->calls[at].in_place && (end == limit || better_cut(crosses, at, end, from + length)))
                    end = at;
        cut[end] = true;
        double flops = 0;
        for (int i = from; i < end; i++)
            flops += x->s->st->call_flops[i];
        if (!p->calls[from].in_place && flops > 0 && end - from > 1)
            l.c[l.n++] = (struct candidate){.module = -1, .region = {from, end, NULL, 0}};
        from = end;
    }
    return l;
}

/* The same with policies: "blocks.0+linear". */
static const char *
selective_python_of(struct arena *a, const struct plan *q)
{
    const char *names = names_of(a, q), *keep = "", *inner = "";
    if (!names)
        return NULL;
    for (int k = 0; k < COUNT(policies); k++) {
        const char *ops = "", *suffix = arena_printf(a, "+%s", policies[k].name);
        bool used = false;
        for (int i = 0; i < q->nmodules; i++) {
            const char *found = strstr(q->modules[i], suffix);
            used |= found && (!found[strlen(suffix)] || found[strlen(suffix)] == ':');
        }
        for (int i = 0; i < MOST_OPS && policies[k].ops[i]; i++)
            ops = arena_printf(a, "%s%saten.%s", ops,
                               !i      ? ""
                               : i % 2 ? ", "
                                       : ",\n                    ",
                               policies[k].ops[i]);
        if (used)
            keep = arena_printf(a, "%s    \"%s\": [%s],\n", keep, policies[k].name, ops);
    }
    for (int i = 0; i < COUNT(inner_dimensions); i++)
        inner = arena_printf(a, "%s    aten.%s: %s,\n", inner, inner_dimensions[i].op, inner_dimensions[i].python);
    return arena_printf(
        a,
        "from functools import partial\n\n"
        "import torch\n"
        "from torch.utils.checkpoint import checkpoint, create_selective_checkpoint_contexts, CheckpointPolicy\n\n"
        "aten = torch.ops.aten\n"
        "keep = {\n%s}\n"
        "inner = {  # products an element of the result is the sum of\n%s}\n\n"
        "def policy(ops, least, ctx, op, *args, **kwargs):\n"
        "    kept = op in ops and (op not in inner or inner[op](*args) >= least)\n"
        "    return CheckpointPolicy.MUST_SAVE if kept else CheckpointPolicy.PREFER_RECOMPUTE\n\n"
        "for name in [%s]:\n"
        "    name, _, kept = name.partition(\"+\")\n"
        "    ops, _, least = kept.partition(\":\")\n"
        "    context = partial(create_selective_checkpoint_contexts, partial(policy, keep.get(ops, []), int(least or "
        "0)))\n"
        "    module = model.get_submodule(name)\n"
        "    def run(*args, forward=module.forward, context=context, **kwargs):\n"
        "        return checkpoint(forward, *args, use_reentrant=False, context_fn=context, **kwargs)\n"
        "    module.forward = run",
        keep, inner, names);
}

static bool
is_selective(const struct plan *q)
{
    for (int i = 0; i < q->nmodules; i++)
        if (strchr(q->modules[i], '+'))
            return true;
    return false;
}

/* ---- nested plans ------------------------------------------------------------------------------------------------ */

enum { FEWEST_VALUES = 3 /* an activation, a gradient coming in and one going out */, LONGEST = 400, MOST_PASSES = 4 };

/* To reverse n equal steps with m values alive at once: advance by `first` steps, keep what is there, reverse the
 * rest, then those. Source: Griewank and Walther, Algorithm 799: revolve, ACM TOMS 26, 2000. */
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
    r[(*nr)++] = (struct region){.first = l->c[from].region.first, .end = l->c[from + first - 1].region.end};
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
        add_plan(x, f, &(struct level){.n = p.nregions, .c = runs}, whole, &m, NULL);
    }
}

/* The front of all plans so far, as the reports have it. */
static void
show(struct planner *x, const struct front *all, int *n, struct plan **to)
{
    struct front f = {.n = all->n, .plan = arena_dup(x->a, all->plan, sizeof(*all->plan) * (size_t)all->n)};
    keep_front(&f, x->worth);
    *n = f.n;
    *to = f.plan;
}

/* Of the patterns that were tried those that no other beats and whose peak is near the lowest that no more work
 * reaches, after the step as it is; the front is there. */
static void
keep_patterns(struct planner *x, const struct front *all)
{
    struct front f = {0};
    const struct plan *front = x->r->recompute.front;
    for (int i = 0; i < all->n; i++) {
        struct plan *q = &all->plan[i];
        int64_t least = x->base.allocated;
        for (int k = 0; k < x->r->recompute.nfront; k++)
            if (front[k].extra_flops_percent <= q->extra_flops_percent && front[k].peak < least)
                least = front[k].peak;
        q->above_front_percent = bytes_percent(q->peak - least, least);
        if (!q->nmodules || (q->pattern && q->peak < x->base.allocated && q->above_front_percent <= NEAR_FRONT))
            *PUSH(x->a, f.plan, f.n, f.cap) = *q;
    }
    keep_front(&f, x->worth);
    x->r->recompute.npatterns = f.n;
    x->r->recompute.patterns = f.plan;
}

/* Under a budget the cheapest. Without one the knee: of those with half of the lowest's saving the one that saves most
 * of that for least of its work, both as shares (Satopaa et al., Finding a "Kneedle" in a Haystack, 2011); patterns
 * that scattered plans beat by much come last. -1 none. */
static int
chosen_of(int n, const struct plan *front, int64_t budget)
{
    double all = n ? (double)(front[0].peak - front[n - 1].peak) : 0, work = n ? front[n - 1].extra_flops_percent : 0;
    double most = -1;
    int best = -1;
    for (int i = 0; i < n && budget > 0; i++) /* the cheapest comes first */
        if (front[i].peak <= budget)
            return i;
    for (int i = 1; i < n && budget <= 0; i++) {
        double saved = (double)(front[0].peak - front[i].peak) / all;
        double knee = saved - (work > 0 ? front[i].extra_flops_percent / work : 0);
        knee += front[i].above_front_percent < 0.5; /* a share is at most 1 */
        if (saved >= 0.5 && knee > most) {
            most = knee;
            best = i;
        }
    }
    return best;
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
                                          : 2; /* and half as many again for plans of modules */
    x.worth = x.base.allocated - (budget > 0 ? 0 : x.base.allocated / 100);
    add_plan(&x, &f, NULL, NULL, &x.base, NULL);
    for (int i = 0; i < n; i++) {
        const struct level *finer = NULL;
        for (int k = 0; k < n; k++)
            if (levels[k].n > levels[i].n && (!finer || levels[k].n < finer->n))
                finer = &levels[k];
        add_levels(&x, &f, &levels[i], finer);
    }
    find_patterns(&x, s->p->ncalls < LARGE ? MOST_PATTERNS : MOST_PATTERNS / 2);
    add_patterns(&x, &f);
    struct level modules = mixed(&x, levels, n);
    study_tell(s, "trying checkpoints", 0, 3);
    add_plans(&x, &f, &modules, steps + steps / 2, budget);
    show(&x, &f, &r->recompute.nfront, &r->recompute.front);
    struct front modules_tried = {.n = f.n, .plan = arena_dup(x.a, f.plan, sizeof(*f.plan) * (size_t)f.n)};
    study_tell(s, "trying checkpoints", 1, 3);
    for (int i = 0; i < n; i++)
        fit_policies(&x, &levels[i]);
    modules = mixed(&x, levels, n);
    add_plans(&x, &f, &modules, steps + steps / 2, budget);
    show(&x, &f, &r->recompute.nselective, &r->recompute.selective);
    study_tell(s, "trying checkpoints", 2, 3);
    static const int lengths[] = {80, 40, 20, 10, 5};
    const int64_t *crosses = crossing(&x);
    bool *cut = NEWN(x.a, bool, s->p->ncalls + 1);
    struct level any[COUNT(lengths) + 1] = {modules};
    int nany = COUNT(lengths) + 1 - (s->p->ncalls < SMALL ? 0 : s->p->ncalls < LARGE ? 1 : 2);
    for (int i = 1; i < nany; i++)
        any[i] = level_of_runs(&x, crosses, cut, lengths[i - 1]);
    for (int i = 1; i < nany; i++) {
        struct level *l = &any[i];
        if (!l->n)
            continue;
        level_fit(&x, l);
        fit_policies(&x, l);
        add_levels(&x, &f, l, i + 1 < nany ? &any[i + 1] : NULL);
    }
    struct level all = mixed(&x, any, nany);
    add_plans(&x, &f, &all, steps, budget);
    if (n && s->p->ncalls < LARGE)
        add_nested(&x, &f, &levels[0]);
    show(&x, &f, &r->recompute.noperators, &r->recompute.operators);
    r->recompute.lower_bound = r->ndoubts ? -1 : bound_of(s->st);
    r->recompute.chosen = chosen_of(r->recompute.nfront, r->recompute.front, budget);
    keep_patterns(&x, &modules_tried);
    r->recompute.chosen_pattern = chosen_of(r->recompute.npatterns, r->recompute.patterns, budget);
    int shown = r->recompute.chosen >= 0 ? r->recompute.chosen : r->recompute.nfront - 1;
    const struct plan *q = r->recompute.chosen_pattern >= 0 ? &r->recompute.patterns[r->recompute.chosen_pattern]
                                                            : &r->recompute.front[shown];
    r->recompute.python = q->python ? q->python : q->nmodules ? python_of(x.a, q) : NULL;
    for (int i = 0; i < r->recompute.nselective && !r->recompute.selective_python; i++) { /* the cheapest comes first */
        const struct plan *q = &r->recompute.selective[i];
        if (is_selective(q) && (budget <= 0 || q->peak <= budget))
            r->recompute.selective_python = selective_python_of(x.a, q);
    }
}

bool
recompute_level(const struct study *s, struct result *r, struct program *p, struct measured *after, const char **names,
                const char **python)
{
    struct planner x = planner_new(s, r);
    struct level levels[MOST_LEVELS];
    struct front tried = {0};
    find_patterns(&x, MOST_PATTERNS / 2);
    const struct pattern *k = best_pattern(&x, after);
    if (k) {
        unsigned char *whole;
        struct level l = level_of_pattern(&x, k, &whole);
        put_regions(&x, &l, whole, p);
        const char *name = string_quote(x.a, k->name, 200);
        *names = k->n == 1 ? name : arena_printf(x.a, "the %d modules %s", k->n, name);
        *python = pattern_python(x.a, s->p, k);
        return true;
    }
    int n = levels_of(&x, levels);
    if (!n)
        return false;
    struct level all = mixed(&x, levels, n), *l = &all;
    struct trial t = {.option = NEWN(x.a, unsigned char, all.n + 1), .peak = INT64_MAX};
    int64_t low = levels[0].all.allocated + levels[0].all.allocated / 1000, step = (x.base.allocated - low) / 64;
    for (int k = 0; k < 6 && t.peak > low; k++) /* the model may be too careful */
        try_budget(&x, &tried, l, low + step * k, 2, &t);
    if (t.peak > low) {
        l = &levels[0];
        memset(t.option, WHOLE, (size_t)l->n);
        t.m = l->all;
    }
    *after = t.m;
    put_regions(&x, l, t.option, p);
    struct plan q = {.modules = NEWN(x.a, const char *, l->n + 1)};
    for (int i = 0; i < l->n; i++)
        if (t.option[i] != ALONE)
            q.modules[q.nmodules++] = s->p->modules[l->c[i].module].path;
    const char *first = string_quote(x.a, q.modules[0], 80);
    *names = q.nmodules == 1 ? first
                             : arena_printf(x.a, "%s to %s (%d modules)", first,
                                            string_quote(x.a, q.modules[q.nmodules - 1], 80), q.nmodules);
    *python = python_of(x.a, &q);
    return true;
}
