/* SPDX-License-Identifier: Apache-2.0 */
/* traced.c - lines of what was traced without them.
 *
 * What runs under torch.no_grad has the code of a graph for its lines, one a call. Where the network runs elsewhere,
 * too, or another does of which it is a copy, the lines are known: the same calls run in the same order with parameters
 * of the same names. torch.autocast leaves such code, too; but what runs both with it and without is what no_grad is
 * for: a teacher, a target, rounds that are not trained.
 */
#include "lower/dynamo.h"
#include "torch/torch.h"

#include <string.h>

#define REGION "no_grad" /* the function that its frames have: no forward(), by which modules are counted */

enum { FEWEST = 4, MOST_SKIPPED = 8 }; /* calls that make a run; that it may lack in a row, since they were merged */

/* The n-th parameter that the call reads; NULL fewer. */
static const struct param *
nth_param(const struct param *const *of, const struct call *c, int n)
{
    int slot;
    for (struct call_reads r = {c}; (slot = next_read(&r)) >= 0;)
        if (of[slot] && n-- == 0)
            return of[slot];
    return NULL;
}

/* A run whose lines are known, and one without: from which calls on, of what modules. */
struct pair {
    int known, traced;
    const char *module, *again;
};

/* Whether two calls are of one operator, as far as a line may have told its overload: mean.pixel is a mean.dim; a
 * convolution that went into a norm has no other name. */
static bool
same_operator(const struct call *c, const struct call *other)
{
    const char *one = target_bare(c->target), *two = target_bare(other->target);
    const size_t n = strcspn(one, ".");
    if (strcmp(one, two) == 0 || (spelled(one, CONVOLVES) && spelled(two, CONVOLVES)))
        return true;
    bool same = n == strcspn(two, ".") && strncmp(one, two, n) == 0 && c->nargs == other->nargs;
    for (int i = 0; i < c->nargs && same; i++)
        same = c->args[i].kind == other->args[i].kind;
    return same;
}

/* Whether the call is what that known one is to the other network. */
static bool
matches(struct arena *a, const struct program *p, const struct param *const *of, const struct pair *r,
        const struct call *known, const struct call *traced)
{
    if (!same_operator(known, traced) || !path_within(p->modules[known->scope].path, r->module))
        return false;
    for (int n = 0;; n++) {
        const struct param *q = nth_param(of, known, n), *other = nth_param(of, traced, n);
        if (!q || !other)
            return q == other;
        const char *name = q == other ? q->name : path_moved(a, q->name, r->module, r->again);
        if (!name || strcmp(name, other->name) != 0)
            return false;
    }
}

/* Whether the call has the code of a graph for its line, or none, as what splits a tensor. */
static bool
has_no_line(const struct call *c)
{
    return !c->stack || python_is_traced(c->stack);
}

/* How many traced calls from the pair's on are the known ones, in order; at: per such call which. */
static int
follow(struct arena *a, const struct program *p, const struct param *const *of, const struct pair *r, int *at)
{
    int n = 0;
    for (int k = r->known, t = r->traced; t < p->ncalls && has_no_line(&p->calls[t]); t++) {
        int skipped = 0;
        while (k + skipped < p->ncalls && skipped <= MOST_SKIPPED && !python_is_traced(p->calls[k + skipped].stack) &&
               !matches(a, p, of, r, &p->calls[k + skipped], &p->calls[t]))
            skipped++;
        k += skipped;
        if (k >= p->ncalls || skipped > MOST_SKIPPED || python_is_traced(p->calls[k].stack))
            break;
        at[n++] = k++;
    }
    while (n && !p->calls[r->traced + n - 1].stack)
        n--;
    return n;
}

/* Lets the pair begin before its first parameter is read, with what the networks make of their inputs; not before a
 * call of these. A known one may have more, which its lines tell and the file has not. */
static void
begin_before(struct arena *a, const struct program *p, const struct param *const *of, int from, struct pair *r)
{
    while (r->traced > from && r->known > 0) {
        int at = r->known - 1;
        while (at > 0 && p->calls[at].rank < 0)
            at--;
        const struct call *known = &p->calls[at], *traced = &p->calls[r->traced - 1];
        if (!python_is_traced(traced->stack) || python_is_traced(known->stack) || !matches(a, p, of, r, known, traced))
            return;
        r->known = at;
        r->traced--;
    }
}

/* The call with a known line that reads the parameter, or that of the other network which has its name. */
static bool
find_known(struct arena *a, const struct program *p, const int *reader, const struct param *q, struct pair *r)
{
    const size_t first = strcspn(q->name, ".");
    r->known = reader[q->slot];
    if (r->known >= 0 && q->name[first]) {
        r->module = r->again = arena_strn(a, q->name, first);
        return true;
    }
    for (const struct param *other = p->params; other < p->params + p->nparams; other++) {
        r->known = reader[other->slot];
        if (r->known >= 0 && other->rank == q->rank && strcmp(path_last(other->name), path_last(q->name)) == 0 &&
            path_parts(a, other->name, q->name, &r->module, &r->again) &&
            strcmp(other->name + strlen(r->module), q->name + strlen(r->again)) == 0)
            return true;
    }
    return false;
}

/* How many components two names end with, from the dot on that they begin with: *one and *two. */
static int
same_end(const char *a, const char *b, size_t *one, size_t *two)
{
    size_t i = strlen(a), k = strlen(b);
    int n = 0;
    for (; i && k && a[i - 1] == b[k - 1]; i--, k--)
        if (a[i - 1] == '.') {
            n++;
            *one = i - 1;
            *two = k - 1;
        }
    return n;
}

/* Of layers that only the traced network has: the layer of a known one that has most calls in common with them. How
 * many; at: which. */
static int
find_layer(struct arena *a, const struct program *p, const struct param *const *of, const int *reader,
           const struct param *q, struct pair *r, int *at)
{
    enum { TRIES = 8, FEWEST_SAME = 2 }; /* "bn0.weight" */
    int best = FEWEST_SAME - 1, most = 0, tries = 0;
    size_t one = 0, two = 0;
    for (const struct param *other = p->params; other < p->params + p->nparams; other++)
        if (reader[other->slot] >= 0 && other->rank == q->rank) {
            const int same = same_end(other->name, q->name, &one, &two);
            best = same > best ? same : best;
        }
    for (const struct param *other = p->params; other < p->params + p->nparams && tries < TRIES; other++) {
        if (reader[other->slot] < 0 || other->rank != q->rank || same_end(other->name, q->name, &one, &two) != best)
            continue;
        struct pair try = {.known = reader[other->slot],
                           .traced = r->traced,
                           .module = arena_strn(a, other->name, one),
                           .again = arena_strn(a, q->name, two)};
        const int n = follow(a, p, of, &try, at);
        tries++;
        if (n > most) {
            most = n;
            *r = try;
        }
    }
    return most ? follow(a, p, of, r, at) : 0;
}

/* How many frames are around the module's own, or around those of its list: those of the modules that its scopes name
 * before it. */
static int
frames_around(const char *scopes, const char *module, struct arena *a)
{
    int quotes = 0;
    for (const char *p = scopes ? strchr(scopes, '\'') : NULL; p; p = strchr(p + 1, '\''), quotes++)
        if (quotes % 2 == 0 && path_within(arena_strn(a, p + 1, strcspn(p + 1, "'")), module))
            return quotes / 2;
    return 0;
}

/* A stack down to that frame of its, which is on another line, of which nothing is known. */
static const char *
stack_on_line(struct arena *a, const char *stack, const char *frame, int line)
{
    static const char begin[] = "File \"";
    const size_t file = strlen(begin) + strcspn(frame + strlen(begin), "\"");
    const char *in = strstr(frame, ", in ");
    return arena_printf(a, "%.*s%.*s\", line %d%.*s\n    \n  ", (int)(frame - stack), stack, (int)file, frame, line,
                        (int)strcspn(in, "\n"), in);
}

/* The frames of the function around what lies between two calls: those that both have, and a line of it between theirs,
 * or the later one's own. NULL: they share no function, or are of one line. */
static const char *
frames_between(struct arena *a, const char *before, const char *behind)
{
    const char *x = python_frame(before), *y = python_frame(behind);
    while (x && y && python_frame_end(x) - x == python_frame_end(y) - y &&
           memcmp(x, y, (size_t)(python_frame_end(x) - x)) == 0) {
        x = python_frame(x + 1);
        y = python_frame(y + 1);
    }
    const int from = x && y ? python_frame_line(x) : 0, to = from ? python_frame_line(y) : 0;
    const size_t file = to ? strcspn(x + 6, "\"") + 6 : 0;
    const char *in = to ? strstr(x, ", in ") : NULL, *other = in ? strstr(y, ", in ") : NULL;
    const size_t name = in ? strcspn(in, "\n") : 0;
    if (!other || from == to || strncmp(x, y, file) != 0 || strncmp(in, other, name + 1) != 0)
        return NULL;
    if (to == from + 1)
        return arena_strn(a, behind, (size_t)(python_frame_end(y) - behind));
    return stack_on_line(a, before, x, to > from ? from + 1 : to - 1);
}

/* The frames of the function in which calls from the first one on run, with the call behind them, where a module begins
 * with them that is no layer: a line before that call's own. NULL: it began before, or no frame is the module's. */
static const char *
frames_begun(struct arena *a, const struct program *p, int before, int first, int behind)
{
    const struct call *c = &p->calls[behind];
    const char *path = p->modules[c->scope].path, *inner = python_inner(c->stack);
    if (!inner || !*path || python_in_torch(c->stack) || path_within(p->modules[p->calls[before].scope].path, path))
        return NULL;
    for (int i = first; i < behind; i++)
        if (!path_within(p->modules[p->calls[i].scope].path, path))
            return NULL;
    return strstr(inner, ", in ") ? stack_on_line(a, c->stack, inner, python_frame_line(inner) - 1) : NULL;
}

/* What has the code of a graph for its lines runs in a function, whose names live on: its frames are those of the calls
 * before and behind, as far as these tell. */
static void
give_frames(struct lowering *l)
{
    struct program *p = l->p;
    int before = -1;
    for (int i = 0, end; i < p->ncalls; i = end) {
        for (end = i + 1; end < p->ncalls && python_is_traced(p->calls[i].stack) &&
                          (!p->calls[end].stack || python_is_traced(p->calls[end].stack));)
            end++;
        if (!python_is_traced(p->calls[i].stack)) {
            before = p->calls[i].stack ? i : before;
            continue;
        }
        const bool between = before >= 0 && end < p->ncalls;
        const char *outer = between ? frames_begun(l->a, p, before, i, end) : NULL;
        if (between && !outer)
            outer = frames_between(l->a, p->calls[before].stack, p->calls[end].stack);
        for (int k = i; k < end && outer; k++) {
            const char *stack = p->calls[k].stack, *in = stack ? strstr(stack, ", in ") : NULL,
                       *text = in ? strchr(in, '\n') : NULL;
            if (text && python_inner(stack) == python_frame(stack))
                p->calls[k].stack =
                    arena_printf(l->a, "%s%.*s, in " REGION "%s", outer, (int)(in - stack), stack, text);
        }
    }
}

/* How many of the frames that calls of a region have around their own are of modules; -1 none was found. */
static int
forwards_around(const char *stack)
{
    static const char forward[] = ", in forward\n";
    const char *own = python_inner(stack);
    int n = 0;
    for (const char *p = stack; (p = strstr(p, forward)) && p < own; p++)
        n++;
    return own == python_frame(stack) ? -1 : n;
}

/* What that line of that module makes, whenever it runs, is written over what it reads. */
static void
write_alike(struct lowering *l, const struct call *known)
{
    struct program *p = l->p;
    const char *line = python_inner(known->stack), *target = known->target;
    const int scope = known->scope;
    for (struct call *c = p->calls; c < p->calls + p->ncalls; c++)
        if (c->scope == scope && c->stack && !c->in_place && strcmp(c->target, target) == 0 &&
            strcmp(python_inner(c->stack), line) == 0)
            lower_in_place(l, c);
}

static void
give_lines(struct lowering *l, const struct pair *r, const int *at, int n)
{
    struct program *p = l->p;
    const char *end = p->calls[r->traced + n - 1].stack, *last = arena_strn(l->a, end, strcspn(end, ";"));
    const int forwards = forwards_around(end);
    for (int i = 0; i < n; i++) {
        struct call *c = &p->calls[r->traced + i];
        const struct call *known = &p->calls[at[i]];
        const int around = frames_around(known->scopes, r->module, l->a);
        const char *inner = known->stack, *outer = "";
        for (int k = 0; k < around && inner; k++) {
            inner = python_frame(inner);
            inner = inner ? python_frame(inner + 1) : NULL;
            outer = arena_printf(l->a, "%s%s\n  ", outer, python_inner(last));
        }
        if (around == forwards)
            outer = arena_printf(l->a, "%s\n  ", last);
        if (!around || !inner)
            continue;
        if (c->in_place && !known->in_place) /* as that code says */
            write_alike(l, known);
        const struct module *m = &p->modules[known->scope];
        c->target = known->target;
        c->op = known->op;
        c->stack = arena_printf(l->a, "%s%s", outer, inner);
        c->frames = fx_frames(l->a, c->stack);
        c->location = fx_location(l->a, c->stack);
        c->scopes = known->scopes;
        c->scope = lower_module(l, path_moved(l->a, m->path, r->module, r->again), m->type);
    }
}

enum { DROPS = 2 /* the argument of a clone that may be a dropout */ };

/* Whether the call is such a clone, of what one of those calls made, or none of them. */
static bool
may_drop(const struct program *p, const bool *traced, const struct call *c, bool of_traced)
{
    const bool clone = target_named(c->target, "lost_clone") && c->nargs > DROPS;
    const struct call *m = clone ? group_maker(p, (int)c->args[0].i) : NULL;
    return m && traced[m - p->calls] == of_traced;
}

/* What is traced drops out where anything else does: its lines tell no module's class. */
static void
drop_alike(struct program *p, const bool *traced)
{
    bool any = false;
    for (struct call *c = p->calls; c < p->calls + p->ncalls; c++)
        any |= may_drop(p, traced, c, false) && c->args[DROPS].i;
    for (struct call *c = p->calls; c < p->calls + p->ncalls && !any; c++)
        if (may_drop(p, traced, c, true))
            c->args[DROPS] = BOOL(false);
}

void
traced_lines(struct lowering *l)
{
    struct program *p = l->p;
    struct arena *a = arena_new();
    const struct param **of = program_params(p, a);
    int *reader = NEWN(a, int, p->nslots + 1), *at = NEWN(a, int, p->ncalls + 1), slot;
    bool any = false, *traced = NEWN(a, bool, p->ncalls + 1);
    give_frames(l);
    const bool *go_on = regions_go_on(l, a);
    for (int i = 0; i < p->ncalls; i++)
        traced[i] = python_is_traced(p->calls[i].stack);
    memset(reader, -1, sizeof(*reader) * (size_t)(p->nslots + 1));
    for (int i = p->ncalls - 1; i >= 0; i--)
        for (struct call_reads r = {&p->calls[i]}; (slot = next_read(&r)) >= 0;)
            if (of[slot] && p->calls[i].stack && !python_is_traced(p->calls[i].stack))
                reader[slot] = i;
    for (int i = 0, end = 0; i < p->ncalls;) {
        struct pair r = {.traced = i};
        const struct param *q = traced[i] && !go_on[i] ? nth_param(of, &p->calls[i], 0) : NULL;
        int n = 0;
        if (q && find_known(a, p, reader, q, &r)) {
            begin_before(a, p, of, end, &r);
            n = follow(a, p, of, &r, at);
        } else if (q) {
            n = find_layer(a, p, of, reader, q, &r, at);
        }
        if (n >= FEWEST) {
            any = true;
            regions_no_grad(l, i);
            give_lines(l, &r, at, n);
            end = r.traced + n;
        }
        i = n < FEWEST ? i + 1 : end;
    }
    if (any)
        drop_alike(p, traced);
    if (any && l->s->mode == MODE_TRAINING)
        program_assume(
            p, ALTERNATIVE_NONE,
            "what runs twice, once with lines and once with the code of a graph, does so under torch.no_grad "
            "then: torch.autocast has such code, too, but what it holds hardly runs outside of it as well");
    arena_free(a);
}
