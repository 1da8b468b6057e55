/* SPDX-License-Identifier: Apache-2.0 */
/* traced.c - lines of what was traced without them.
 *
 * What runs under torch.no_grad has the code of a graph for its lines, one a call. Where the network runs elsewhere,
 * too, or another does of which it is a copy, the lines are known: the same calls run in the same order with parameters
 * of the same names.
 */
#include "lower/dynamo.h"
#include "torch/torch.h"

#include <string.h>

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

/* Whether the call is what that known one is to the other network. */
static bool
matches(struct arena *a, const struct program *p, const struct param *const *of, const struct pair *r,
        const struct call *known, const struct call *traced)
{
    if (strcmp(known->target, traced->target) != 0 || !path_within(p->modules[known->scope].path, r->module))
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

/* How many traced calls from the pair's on are the known ones, in order; at: per such call which. */
static int
follow(struct arena *a, const struct program *p, const struct param *const *of, const struct pair *r, int *at)
{
    int n = 0;
    for (int k = r->known, t = r->traced; t < p->ncalls && python_is_traced(p->calls[t].stack); t++) {
        int skipped = 0;
        while (k + skipped < p->ncalls && skipped <= MOST_SKIPPED && !python_is_traced(p->calls[k + skipped].stack) &&
               !matches(a, p, of, r, &p->calls[k + skipped], &p->calls[t]))
            skipped++;
        k += skipped;
        if (k >= p->ncalls || skipped > MOST_SKIPPED || python_is_traced(p->calls[k].stack))
            break;
        at[n++] = k++;
    }
    return n;
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
            resolve_modules_part(a, other->name, q->name, &r->module, &r->again) &&
            strcmp(other->name + strlen(r->module), q->name + strlen(r->again)) == 0)
            return true;
    }
    return false;
}

/* How many frames are around the module's own: those of the modules that its scopes name before it. */
static int
frames_around(const char *scopes, const char *module, struct arena *a)
{
    const char *own = scopes ? strstr(scopes, arena_printf(a, "'%s'", module)) : NULL;
    int quotes = 0;
    for (const char *p = scopes; own && p < own; p++)
        quotes += *p == '\'';
    return quotes / 2;
}

static void
give_lines(struct lowering *l, const struct pair *r, const int *at, int n)
{
    struct program *p = l->p;
    const char *end = p->calls[r->traced + n - 1].stack, *last = arena_strn(l->a, end, strcspn(end, ";"));
    for (int i = 0; i < n; i++) {
        struct call *c = &p->calls[r->traced + i];
        const struct call *known = &p->calls[at[i]];
        const int around = frames_around(known->scopes, r->module, l->a);
        const char *inner = known->stack, *outer = "";
        for (int k = 0; k < around && inner; k++) {
            inner = python_frame(inner);
            inner = inner ? python_frame(inner + 1) : NULL;
            outer = arena_printf(l->a, "%s%s\n  ", outer, last);
        }
        if (!around || !inner)
            continue;
        if (c->in_place && !known->in_place) /* as that code says */
            lower_in_place(l, &p->calls[at[i]]);
        const struct module *m = &p->modules[known->scope];
        c->stack = arena_printf(l->a, "%s%s", outer, inner);
        c->frames = fx_frames(l->a, c->stack);
        c->location = fx_location(l->a, c->stack);
        c->scopes = known->scopes;
        c->scope = lower_module(l, path_moved(l->a, m->path, r->module, r->again), m->type);
    }
}

void
traced_lines(struct lowering *l)
{
    struct program *p = l->p;
    struct arena *a = arena_new();
    const struct param **of = program_params(p, a);
    int *reader = NEWN(a, int, p->nslots + 1), *at = NEWN(a, int, p->ncalls + 1), slot;
    memset(reader, -1, sizeof(*reader) * (size_t)(p->nslots + 1));
    for (int i = p->ncalls - 1; i >= 0; i--)
        for (struct call_reads r = {&p->calls[i]}; (slot = next_read(&r)) >= 0;)
            if (of[slot] && p->calls[i].stack && !python_is_traced(p->calls[i].stack))
                reader[slot] = i;
    for (int i = 0, n; i < p->ncalls; i += n) {
        struct pair r = {.traced = i};
        const struct param *q = python_is_traced(p->calls[i].stack) ? nth_param(of, &p->calls[i], 0) : NULL;
        n = q && find_known(a, p, reader, q, &r) ? follow(a, p, of, &r, at) : 0;
        if (n >= FEWEST)
            give_lines(l, &r, at, n);
        n = n < FEWEST ? 1 : n;
    }
    arena_free(a);
}
