/* SPDX-License-Identifier: Apache-2.0 */
/* bind.c - numbers for the dimensions of a graph, and the pass over it.
 *
 *   bind     symbols get numbers from --dim and --input-shape; a binding of the batch that names no dimension of the
 *            model goes to its only open leading dimension, if there is exactly one. What binds nothing is refused
 *   eval     a dimension may be an expression of symbols, as exporters print them: 197*batch, (s0 + 1)//2, Max(1, s1)
 *
 * There is no algebra on symbols: an unbound dimension is unknown, and its symbol is only a name that two equal
 * dimensions share.
 */
#include "base/setup.h"
#include "graph/infer.h"

#include <assert.h>
#include <errno.h>

enum { MAX_EXPRESSION = 4096, MAX_PARENTHESES = 32, TOLD = 20 /* names in a message */ };
/* ---- expressions: recursive descent over + - * / // % ** and calls ----------------------------------------------- */

struct expr {
    const char *p;
    const struct shapes *run;
    int depth;
    bool ok;
};

static int64_t expr_sum(struct expr *x);

static void
skip_space(struct expr *x)
{
    while (*x->p == ' ' || *x->p == '\t')
        x->p++;
}

static bool
eat(struct expr *x, const char *token)
{
    skip_space(x);
    size_t n = strlen(token);
    if (strncmp(x->p, token, n) != 0)
        return false;
    x->p += n;
    return true;
}

static bool
is_symbol(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' ||
           (unsigned char)c >= 0x80;
}

static int64_t
fail(struct expr *x)
{
    x->ok = false;
    return 0;
}

static int64_t
floor_div(struct expr *x, int64_t a, int64_t b)
{
    if (b == 0 || (a == INT64_MIN && b == -1))
        return fail(x);
    return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

static int64_t
expr_call(struct expr *x, const char *name, size_t n)
{
    static const char *const names[] = {"Max",     "max", "Min",      "min", "floor",
                                        "ceiling", "Mod", "FloorDiv", "Abs", "CleanDiv"};
    int f = 0, args = 0;
    int64_t v[2] = {0, 0};
    while (f < COUNT(names) && (strlen(names[f]) != n || strncmp(names[f], name, n) != 0))
        f++;
    do {
        int64_t arg = expr_sum(x);
        if (args < 2)
            v[args] = arg;
        if (f < 2)
            v[0] = arg > v[0] || !args ? arg : v[0];
        else if (f < 4)
            v[0] = arg < v[0] || !args ? arg : v[0];
        args++;
    } while (x->ok && eat(x, ","));
    if (!eat(x, ")") || f == COUNT(names))
        return fail(x);
    if (f == 6)
        return args == 2 && v[1] > 0 ? v[0] - v[1] * floor_div(x, v[0], v[1]) : fail(x);
    if (f == 7 || f == 9)
        return args == 2 ? floor_div(x, v[0], v[1]) : fail(x);
    if (f == 8)
        return v[0] == INT64_MIN ? fail(x) : v[0] < 0 ? -v[0] : v[0];
    return v[0];
}

static int64_t
expr_atom(struct expr *x)
{
    if (!x->ok || ++x->depth > MAX_PARENTHESES)
        return fail(x);
    int64_t v = 0;
    skip_space(x);
    if (eat(x, "(")) {
        v = expr_sum(x);
        if (!eat(x, ")"))
            fail(x);
    } else if (eat(x, "-")) {
        v = expr_atom(x);
        v = v == INT64_MIN ? fail(x) : -v;
    } else if (*x->p >= '0' && *x->p <= '9') {
        char *end;
        errno = 0;
        v = strtoll(x->p, &end, 10);
        if (errno || is_symbol(*end))
            fail(x);
        x->p = end;
    } else {
        const char *start = x->p;
        while (is_symbol(*x->p))
            x->p++;
        size_t n = (size_t)(x->p - start);
        if (!n) {
            fail(x);
        } else if (eat(x, "(")) {
            v = expr_call(x, start, n);
        } else {
            int id = names_find(x->run->bound, arena_strn(x->run->a, start, n));
            v = id < 0 ? fail(x) : x->run->values[id];
        }
    }
    x->depth--;
    return v;
}

static int64_t
expr_power(struct expr *x)
{
    int64_t v = expr_atom(x);
    if (!x->ok || !eat(x, "**"))
        return v;
    int64_t n = expr_atom(x), r = 1;
    if (n < 0 || n > 63)
        return fail(x);
    while (n-- > 0)
        if (__builtin_mul_overflow(r, v, &r))
            return fail(x);
    return r;
}

static int64_t
expr_product(struct expr *x)
{
    int64_t v = expr_power(x);
    while (x->ok) {
        if (eat(x, "//")) {
            v = floor_div(x, v, expr_power(x));
        } else if (eat(x, "*")) {
            if (__builtin_mul_overflow(v, expr_power(x), &v))
                fail(x);
        } else if (eat(x, "/")) { /* exact, or inside floor() */
            v = floor_div(x, v, expr_power(x));
        } else if (eat(x, "%")) {
            int64_t b = expr_power(x);
            v = b > 0 ? v - b * floor_div(x, v, b) : fail(x);
        } else {
            break;
        }
    }
    return v;
}

static int64_t
expr_sum(struct expr *x)
{
    int64_t v = expr_product(x);
    while (x->ok)
        if (eat(x, "+")) {
            if (__builtin_add_overflow(v, expr_product(x), &v))
                fail(x);
        } else if (eat(x, "-")) {
            if (__builtin_sub_overflow(v, expr_product(x), &v))
                fail(x);
        } else {
            break;
        }
    return v;
}

/* The number that an expression has now, or -1. A bound name may itself look like an expression. */
static int64_t
eval(const struct shapes *run, const char *sym)
{
    int id = names_find(run->bound, sym);
    if (id >= 0 && id < run->nvalues)
        return run->values[id];
    if (!run->nvalues || strlen(sym) > MAX_EXPRESSION)
        return -1;
    struct expr x = {.p = sym, .run = run, .ok = true};
    int64_t v = expr_sum(&x);
    skip_space(&x);
    return x.ok && !*x.p && v >= 0 ? v : -1;
}

static void
bind_dims(const struct shapes *run, int rank, struct dim *dims)
{
    for (int i = 0; i < rank; i++)
        if (dims[i].n < 0 && dims[i].sym && (dims[i].n = eval(run, dims[i].sym)) >= 0)
            dims[i].sym = NULL;
}

/* ---- binding ----------------------------------------------------------------------------------------------------- */

static void
bind(struct shapes *run, const char *name, int64_t n)
{
    *PUSH(run->a, run->values, run->nvalues, run->cap_values) = n;
    names_put(run->bound, name, run->nvalues - 1);
}

static bool
is_name(const char *sym)
{
    for (const char *s = sym; *s; s++)
        if (!is_symbol(*s))
            return false;
    return *sym && !(*sym >= '0' && *sym <= '9');
}

/* The symbols of the inputs' open dimensions, those inside an expression too. */
static struct names *
open_symbols(const struct graph *g)
{
    struct names *open = names_new(g->arena);
    for (int i = 0; i < g->nin; i++) {
        const struct tensor *t = &g->t[g->in[i]];
        for (int d = 0; d < t->rank; d++) {
            if (t->dims[d].n >= 0 || !t->dims[d].sym)
                continue;
            names_put(open, t->dims[d].sym, 1);
            for (const char *s = t->dims[d].sym; *s; s++) {
                const char *start = s;
                while (is_symbol(*s))
                    s++;
                if (s > start)
                    names_put(open, arena_strn(g->arena, start, (size_t)(s - start)), 1);
                if (!*s)
                    break;
            }
        }
    }
    return open;
}

/* The inputs' only open leading dimension; NULL when there is none, or more than one. */
static struct dim *
only_leading(const struct graph *g)
{
    struct dim *only = NULL;
    for (int i = 0; i < g->nin; i++) {
        const struct tensor *t = &g->t[g->in[i]];
        if (t->rank < 1 || *t->wrap || t->dims[0].n >= 0)
            continue;
        struct dim *d = &t->dims[0];
        if (only && !(only->sym && d->sym && strcmp(only->sym, d->sym) == 0))
            return NULL;
        only = d;
    }
    return only;
}

static bool
is_batch(const char *name)
{
    static const char *const names[] = {"batch", "batch-size", "bs"};
    for (int i = 0; i < COUNT(names); i++)
        if (word_same(names[i], name))
            return true;
    return false;
}

/* The binding of the batch, where the model calls its only open leading dimension otherwise; NULL none. */
static const struct binding *
for_leading(const struct graph *g, const struct setup *s, const struct names *open)
{
    for (int i = 0; i < s->ndims && only_leading(g); i++)
        if (is_batch(s->dims[i].name) && names_find(open, s->dims[i].name) < 0)
            return &s->dims[i];
    return NULL;
}

/* A name on its own in an expression. */
static bool
mentions(const char *sym, const char *name)
{
    size_t n = strlen(name);
    for (const char *p = sym; sym && n && (p = strstr(p, name)); p++)
        if ((p == sym || !is_symbol(p[-1])) && !is_symbol(p[n]))
            return true;
    return false;
}

/* Whether dimensions inside of the model, which no input has, are called so. */
static bool
is_inside(const struct graph *g, const char *name)
{
    for (int i = 0; i < g->nt; i++) {
        const struct tensor *t = &g->t[i];
        for (int d = 0; d < t->rank; d++)
            if (mentions(t->dims[d].sym, name))
                return true;
        for (int d = 0; d < t->declared_rank; d++)
            if (mentions(t->declared[d].sym, name))
                return true;
    }
    return false;
}

/* Notes what a flag file says in vain: it may be for models of all kinds. */
static void
note_idle(struct graph *g, const char *place, const char *option, const char *why)
{
    *PUSH(g->arena, g->idle, g->nidle, g->cap_idle) = arena_printf(g->arena, "%s: %s: %s", place, option, why);
}

static bool
no_input(struct shapes *run, const char *place, const char *option, const char *name, struct err *e)
{
    struct graph *g = run->root;
    const char **names = NEWN(run->a, const char *, g->nin + 1), *all = "none";
    option = arena_printf(run->a, "--%s %s", option, name);
    for (int i = 0; i < g->nin; i++) {
        names[i] = g->t[g->in[i]].name;
        if (i < TOLD)
            all = i ? arena_printf(run->a, "%s, %s", all, names[i]) : names[i];
    }
    const char *near = words_near(run->a, name, g->nin, names);
    const char *why = near ? arena_printf(run->a, "the model has no input of that name; did you mean %s?", near)
                           : arena_printf(run->a, "the model has no input of that name; it has %s", all);
    if (!place)
        return err_set(e, run->a, option, "%s", why);
    note_idle(g, place, option, why);
    return true;
}

static const char *
option_of(struct arena *a, const struct binding *b)
{
    return arena_printf(a, "--dim %s=%lld", b->name, (long long)b->n);
}

/* Why a binding binds no dimension; NULL: it does, or it is that of the batch and says what the file has fixed. */
static const char *
no_dimension(const struct graph *g, const struct names *open, const struct binding *b)
{
    struct arena *a = g->arena;
    const char **names = NULL, *all = "";
    int n = 0, cap = 0;
    if (names_find(open, b->name) >= 0 || is_inside(g, b->name) || (is_batch(b->name) && only_leading(g)))
        return NULL;
    struct names *seen = names_new(a);
    const struct tensor *first = NULL;
    for (int i = 0; i < g->nin; i++) {
        const struct tensor *t = &g->t[g->in[i]];
        first = first || t->rank < 1 || *t->wrap ? first : t;
        for (int d = 0; d < t->rank; d++) {
            const char *sym = t->dims[d].sym;
            if (t->dims[d].n >= 0 || (sym && names_find(seen, sym) >= 0))
                continue;
            const char *name = sym ? sym : arena_printf(a, "%s[%d], which has no name", t->name, d);
            if (sym)
                names_put(seen, sym, 1);
            *PUSH(a, names, n, cap) = name;
        }
    }
    if (is_batch(b->name) && first && first->dims[0].n == b->n)
        return NULL;
    for (int i = 0; i < n && i < TOLD; i++)
        all = arena_printf(a, "%s%s%s", all, i ? ", " : "", names[i]);
    const char *near = words_near(a, b->name, n, names);
    return near ? arena_printf(a, "the model has no dimension of that name; did you mean %s?", near)
           : n  ? arena_printf(a, "the model has no dimension of that name; it has %s", all)
                : "the model's dimensions are fixed; export it with dynamic shapes";
}

static bool
fix_input(struct shapes *run, const struct input_shape *s, struct err *e)
{
    struct graph *g = run->root;
    int id = graph_find(g, s->name);
    if (id < 0 || !g->t[id].is_input)
        return no_input(run, s->place, "input-shape", s->name, e);
    struct tensor *t = &g->t[id];
    if (t->rank >= 0 && t->rank != s->rank)
        return err_set(e, run->a, s->name, "the input has rank %d, --input-shape says %d", t->rank, s->rank);
    struct dim *dims = NEWN(run->a, struct dim, s->rank);
    for (int i = 0; i < s->rank; i++) {
        const char *sym = t->rank >= 0 && t->dims[i].n < 0 ? t->dims[i].sym : NULL;
        if (sym && is_name(sym) && names_find(run->bound, sym) < 0)
            bind(run, sym, s->dims[i]);
        dims[i].n = s->dims[i];
    }
    t->rank = s->rank;
    t->dims = dims;
    return true;
}

static bool
fix_value(struct shapes *run, const struct input_value *v, struct err *e)
{
    struct graph *g = run->root;
    int id = graph_find(g, v->name);
    if (id < 0 || !g->t[id].is_input)
        return no_input(run, NULL, "input-value", v->name, e);
    struct tensor *t = &g->t[id];
    if (*t->wrap)
        return true;
    t->dtype = v->t->dtype;
    t->rank = v->t->rank;
    t->dims = v->t->dims;
    t->value = v->t->value;
    return true;
}

static void
bind_graph(struct shapes *run, struct graph *g)
{
    for (int i = 0; i < g->nt; i++) {
        bind_dims(run, g->t[i].rank, g->t[i].dims);
        bind_dims(run, g->t[i].declared_rank, g->t[i].declared);
    }
    for (int i = 0; i < g->nn; i++)
        for (int k = 0; k < g->n[i].nattr; k++)
            if (g->n[i].attr[k].g)
                bind_graph(run, g->n[i].attr[k].g);
}

static bool
bind_all(struct shapes *run, const struct setup *s, struct err *e)
{
    struct graph *g = run->root;
    for (int i = 0; i < s->nshapes; i++)
        if (!fix_input(run, &s->shapes[i], e))
            return false;
    for (int i = 0; i < s->nvalues; i++)
        if (!fix_value(run, &s->values[i], e))
            return false;
    const struct names *open = open_symbols(g);
    const struct binding *leading = for_leading(g, s, open);
    for (int i = 0; i < s->ndims; i++) {
        const struct binding *b = &s->dims[i];
        int shaped = names_find(run->bound, b->name);
        if (shaped >= 0 && run->values && run->values[shaped] != b->n)
            return err_set(e, run->a, option_of(run->a, b), "--input-shape makes it %lld",
                           (long long)run->values[shaped]);
        const char *idle = shaped >= 0 || b->place ? NULL : no_dimension(g, open, b);
        if (idle)
            return err_set(e, run->a, option_of(run->a, b), "%s", idle);
        bind(run, b->name, b->n);
    }
    struct dim *d = leading ? only_leading(g) : NULL;
    if (d && (!d->sym || names_find(run->bound, d->sym) < 0)) {
        g->leading = d->sym ? d->sym : "one without a name";
        if (d->sym)
            bind(run, d->sym, leading->n);
        else
            d->n = leading->n;
    }
    bind_graph(run, g);
    return true;
}

/* The option that gives an input its sizes, 8 where the file leaves one open: "--input-shape x=8x3x224x224". */
static const char *
example_shape(struct shapes *run, const struct tensor *t)
{
    const char *sizes = t->rank > 0 ? "" : "...";
    for (int d = 0; d < t->rank; d++) {
        int64_t n = t->dims[d].n < 0 ? 8 : t->dims[d].n;
        sizes = arena_printf(run->a, "%s%s%lld", sizes, d ? "x" : "", (long long)n);
    }
    return arena_printf(run->a, "--input-shape %s=%s", is_pasteable(t->name) ? t->name : "NAME", sizes);
}

/* Lists what is still open in the inputs, as doubts or, where it must be known, as an error. */
static bool
check_open(struct shapes *run, bool need_bound, struct err *e)
{
    struct graph *g = run->root;
    struct names *seen = names_new(run->a);
    const char *list = "", *example = "";
    bool leading = only_leading(g);
    int n = 0;
    for (int i = 0; i < g->nin; i++) {
        const struct tensor *t = &g->t[g->in[i]];
        if (shapes_overflow(t))
            graph_doubt(g, t->name, NULL, NULL, "the size of the input %s overflows 64 bits",
                        string_quote(g->arena, t->name, 80));
        if (*t->wrap || (t->rank < 0 && t->dtype == DT_STRING))
            continue;
        for (int d = 0; d < t->rank || (t->rank < 0 && d < 1); d++) {
            bool named = t->rank >= 0 && t->dims[d].sym;
            if (t->rank >= 0 && t->dims[d].n >= 0)
                continue;
            const char *what = named ? t->dims[d].sym : arena_printf(run->a, "%s[%d]", t->name, d);
            if (names_find(seen, what) >= 0)
                continue;
            names_put(seen, what, 1);
            const char *option = named && is_name(what) ? arena_printf(run->a, "--dim %s=8", what)
                                 : d == 0 && leading    ? "--dim batch=8"
                                                        : example_shape(run, t);
            if (!need_bound)
                graph_doubt(g, t->name, NULL, option, "the size of dimension %s, which the file leaves open",
                            string_quote(g->arena, what, 80));
            if (n++ < 16) {
                list = arena_printf(run->a, "%s%s%s", list, *list ? ", " : "", what);
                if (!strstr(example, option))
                    example = arena_printf(run->a, "%s %s", example, option);
            }
        }
    }
    if (!n || !need_bound)
        return true;
    e->remedy = arena_printf(run->a, "memlint%s %s", example, g->file ? g->file : "MODEL.onnx");
    return err_set(e, run->a, NULL, "the inputs have open dimensions: %s; bind them, for example: %s", list, e->remedy);
}

/* ---- the pass ---------------------------------------------------------------------------------------------------- */

static int64_t
count_nodes(const struct graph *g)
{
    int64_t n = g->nn + 1;
    for (int i = 0; i < g->nn; i++)
        for (int k = 0; k < g->n[i].nattr; k++)
            if (g->n[i].attr[k].g)
                n += count_nodes(g->n[i].attr[k].g);
    return n;
}

struct binding *
setup_batch(const struct setup *s)
{
    for (int i = 0; i < s->ndims; i++)
        if (is_batch(s->dims[i].name))
            return &s->dims[i];
    return NULL;
}

int64_t
graph_number(const struct graph *g, const char *expression)
{
    return g->shapes ? eval(g->shapes, expression) : -1;
}

/* Such an input is given its whole shape by --input-shape. */
static bool
has_nameless(const struct tensor *t)
{
    bool nameless = false;
    for (int d = 0; d < t->rank; d++)
        nameless |= t->dims[d].n < 0 && !(t->dims[d].sym && is_name(t->dims[d].sym));
    return nameless;
}

struct setup
shapes_bind_open(struct graph *g, const struct setup *s)
{
    struct setup own = *s;
    int cap = 0;
    struct names *taken = names_new(g->arena), *open = open_symbols(g);
    own.dims = NULL;
    own.ndims = 0;
    for (int k = 0; k < s->ndims; k++) {
        const struct binding *b = &s->dims[k];
        const char *idle = b->place ? no_dimension(g, open, b) : NULL;
        if (idle) {
            note_idle(g, b->place, option_of(g->arena, b), idle);
            continue;
        }
        names_put(taken, b->name, 1);
        *PUSH(g->arena, own.dims, own.ndims, cap) = *b;
    }
    bool leading = for_leading(g, &own, open);
    for (int i = 0; i < g->nin; i++) {
        const struct tensor *t = &g->t[g->in[i]];
        for (int d = 0; d < t->rank; d++) {
            const char *sym = t->dims[d].sym;
            bool bound =
                t->dims[d].n >= 0 || !sym || !is_name(sym) || (d == 0 && leading) || names_find(taken, sym) >= 0;
            for (int k = 0; k < s->nshapes && !bound; k++)
                bound = strcmp(s->shapes[k].name, t->name) == 0;
            if (bound)
                continue;
            names_put(taken, sym, 1);
            *PUSH(g->arena, own.dims, own.ndims, cap) = (struct binding){sym, 1};
            graph_doubt(g, t->name, NULL, has_nameless(t) ? NULL : arena_printf(g->arena, "--dim %s=8", sym),
                        "the size of dimension %s, which the file leaves open (taken as 1)",
                        string_quote(g->arena, sym, 80))
                ->dim = sym;
        }
    }
    return own;
}

bool
shapes_run(struct graph *g, const struct setup *s, bool need_bound, struct err *e)
{
    struct shapes run = {.a = g->arena, .root = g, .bound = names_new(g->arena), .folds = limit(LIMIT_FOLDED)};
    run.visits = 4 * count_nodes(g) + 10000;
    if (!bind_all(&run, s, e) || !check_open(&run, need_bound, e))
        return false;
    g->shapes = arena_dup(run.a, &run, sizeof(run));
    if (s->unroll && unroll_needed(g))
        unroll_run(&run, g);
    else
        shapes_graph(&run, g);
    for (int i = 0; i < g->nout; i++)
        if (g->t[g->out[i]].producer < 0)
            shapes_declared(&g->t[g->out[i]]);
    return true;
}
