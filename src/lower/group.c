/* SPDX-License-Identifier: Apache-2.0 */
/* group.c - a group: the nodes of one recorded call, what enters and leaves it, and the calls made in its place. */

#include "lower/dynamo.h"
#include "torch/torch.h"

#include <string.h>

static void
mark_referenced(struct dynamo *d, const struct record *r)
{
    for (int i = 0; i < r->nreads; i++) {
        int at = names_find(d->params, r->reads[i]);
        if (at >= 0)
            d->referenced[at] = true;
    }
}

/* The class of every module around a node. */
static void
note_modules(struct lowering *l, const struct record *r)
{
    const char *path, *type;
    for (int i = 2; (path = fx_entry(&r->scopes, i)) && (type = fx_entry(&r->classes, i)); i++) {
        int at = names_find(l->modules, path);
        if (at >= 0 && l->p->modules[at].type)
            return;
        lower_module(l, path, type);
    }
}

/* The calls in whose place unroll.c made nodes: what is left of them are numbers that nobody reads. NULL none. */
static struct names *
calls_unrolled(const struct dynamo *d)
{
    const struct graph *gr = d->l->g;
    struct names *gone = NULL;
    for (int i = 0; i < gr->nn; i++)
        if (gr->n[i].made && fx_record(d->l, i)->name) {
            gone = gone ? gone : names_new(d->l->a);
            names_put(gone, fx_record(d->l, i)->name, i);
        }
    return gone;
}

void
group_make(struct dynamo *d)
{
    struct lowering *l = d->l;
    const struct names *gone = calls_unrolled(d);
    struct names *by_name = names_new(l->a);
    d->group_of = NEWN(l->a, int, l->g->nn + 1);
    d->groups = NEWN(l->a, struct group, l->g->nn + 1);
    d->referenced = NEWN(l->a, bool, l->p->nparams + l->g->nt + 1); /* nodes without a record may add some */
    d->folded = NEWN(l->a, const struct tensor *, l->p->nparams + l->g->nt + 1);
    d->source = NEWN(l->a, int, l->p->nparams + l->g->nt + 1);
    d->copied = NEWN(l->a, bool, l->p->nparams + l->g->nt + 1);
    for (int i = 0; i < l->g->nn; i++) {
        const struct record *r = fx_record(l, i);
        d->group_of[i] = -1;
        if (!r->name || (gone && names_find(gone, r->name) >= 0))
            continue;
        int item, *id = names_id(by_name, r->name), at = *id;
        const char *list = fx_list(l->a, r, &item);
        const int whose = *list ? names_find(by_name, list) : -1;
        if (whose >= 0) { /* an item that has a node of its own is its list's */
            *PUSH(l->a, d->groups[whose].nodes, d->groups[whose].nnodes, d->groups[whose].cap) = i;
            d->groups[whose].last = i;
            d->group_of[i] = whose;
            continue;
        }
        if (at < 0) {
            at = *id = d->ngroups++;
            const char *path = fx_entry(&r->scopes, 2);
            d->groups[at] = (struct group){.fx_name = r->name,
                                           .target = r->target,
                                           .args = r->args,
                                           .aim = r->aim,
                                           .given = r->given,
                                           .path = path,
                                           .type = path ? fx_entry(&r->classes, 2) : NULL,
                                           .call = -1,
                                           .drawn = -1};
            mark_referenced(d, r);
            spelled_read(r->aim, r->target);
            d->takes_batch |= r->aim->batch;
            d->trained |= d->takes_batch || (r->aim->trains && spelled_in_training(r->target, r->args, &l->g->n[i]));
            d->drops |= r->drops;
            note_modules(l, r);
        }
        struct group *g = &d->groups[at];
        *PUSH(l->a, g->nodes, g->nnodes, g->cap) = i;
        g->last = i;
        d->group_of[i] = at;
    }
}

/* ---- what enters and leaves -------------------------------------------------------------------------------------- */

/* The tensor by which the group's result leaves it. */
int
group_output(const struct dynamo *d, const struct group *g)
{
    const struct graph *gr = d->l->g;
    int self = d->group_of[g->last];
    if (!g->nnodes) /* a piece */
        return -1;
    for (int k = g->nnodes - 1; k >= 0; k--) {
        const struct node *n = &gr->n[g->nodes[k]];
        for (int o = 0; o < n->nout; o++) {
            if (n->out[o] < 0)
                continue;
            const struct tensor *t = &gr->t[n->out[o]];
            bool leaves = t->is_output;
            for (int u = 0; u < t->nusers && !leaves; u++)
                leaves = d->group_of[t->users[u]] != self;
            if (leaves)
                return n->out[o];
        }
    }
    return gr->n[g->last].nout ? gr->n[g->last].out[0] : -1;
}

bool
group_of_sizes(const struct group *g)
{
    return g->aim ? g->aim->number : spelled_number(g->target);
}

bool
group_makes(const struct dynamo *d, const struct group *g, int tensor)
{
    int at = d->l->g->t[tensor].producer;
    return at >= 0 && d->group_of[at] == d->group_of[g->last];
}

/* The argument is this tensor, or what a lost call made of it. */
static bool
stands_for(const struct dynamo *d, const struct arg *a, int tensor)
{
    if (a->kind != ARG_SLOT)
        return false;
    if (a->s && strcmp(a->s, d->l->g->t[tensor].name) == 0)
        return true;
    if (a->i < 0)
        return false;
    for (int i = 0; i < d->norigins; i++)
        if (d->origins[i].slot == a->i)
            return d->origins[i].tensor == tensor;
    return a->i == d->l->slot_of[tensor];
}

/* The group's inputs from outside that hold data of the step (not constants) and are no argument already resolved. */
int
group_inputs(const struct dynamo *d, const struct group *g, const struct arg *args, int nargs, int *out, int max)
{
    const struct lowering *l = d->l;
    int n = 0;
    for (int k = g->nnodes - 1; k >= 0; k--) { /* view-like calls: the last node's input comes first */
        const struct node *node = &l->g->n[g->nodes[k]];
        for (int i = 0; i < node->nin; i++) {
            int t = node->in[i], slot = t < 0 ? -1 : l->slot_of[t];
            bool taken = slot < 0 || t == d->fed || group_makes(d, g, t);
            for (int j = 0; j < nargs && !taken; j++) {
                taken = stands_for(d, &args[j], t);
                for (int e = 0; args[j].kind == ARG_LIST && e < args[j].n && !taken; e++)
                    taken = stands_for(d, &args[j].list[e], t);
            }
            for (int j = 0; j < n && !taken; j++)
                taken = out[j] == t;
            if (!taken && n < max)
                out[n++] = t;
        }
    }
    return n;
}

/* One line runs for every module of a class: the module counts too. */
bool
group_same_statement(const struct dynamo *d, int a, int b)
{
    const bool stacks = d->l->g->n[a].stack && d->l->g->n[b].stack;
    int ga = d->group_of[a], gb = d->group_of[b];
    const char *pa = ga < 0 ? NULL : d->groups[ga].path, *pb = gb < 0 ? NULL : d->groups[gb].path;
    return stacks && fx_record(d->l, a)->traced == fx_record(d->l, b)->traced && (!pa || !pb || strcmp(pa, pb) == 0);
}

/* ---- calls ------------------------------------------------------------------------------------------------------- */

struct call *
group_placed(struct lowering *l, const struct node *n, const char *path, const char *type, const char *target,
             int nargs)
{
    const struct record *r = fx_record(l, (int)(n - l->g->n));
    struct call *c = lower_call(l, target, nargs);
    c->node = n->name;
    c->location = r->traced->location;
    c->frames = r->traced->frames;
    c->scope = lower_module(l, path ? path : "", type);
    if (!c->location && path && *path)
        c->location = path;
    return c;
}

struct call *
group_call(struct dynamo *d, const struct group *g, const char *target, int nargs)
{
    const struct node *n = &d->l->g->n[g->last];
    struct call *c = group_placed(d->l, n, g->path, g->type, target, nargs);
    c->name = g->fx_name;
    c->stack = n->stack;
    c->scopes = n->scopes;
    return c;
}

void
group_move(struct dynamo *d, int from, int at)
{
    struct program *p = d->l->p;
    int n = p->ncalls - from;
    struct call *moved = arena_dup(d->l->a, &p->calls[from], sizeof(*moved) * (size_t)n);
    memmove(&p->calls[at + n], &p->calls[at], sizeof(*moved) * (size_t)(from - at));
    memcpy(&p->calls[at], moved, sizeof(*moved) * (size_t)n);
    for (int k = 0; k < d->ngroups; k++) {
        int *call = &d->groups[k].call;
        *call += *call >= from ? at - from : *call >= at ? n : 0;
    }
}

void
group_define(struct dynamo *d, const struct group *g, int tensor, int slot)
{
    names_put(d->l->slots, g->fx_name, slot);
    if (tensor >= 0)
        d->l->slot_of[tensor] = slot;
}

bool
group_reflects(const char *target, struct arg *args, int n)
{
    if (n < 2 || args[0].kind == ARG_SLOT || !spelled(target, SUBTRACTS))
        return false;
    struct arg number = args[0];
    args[0] = args[1];
    args[1] = number;
    return true;
}

int
group_cast_like(struct dynamo *d, const struct group *g, int slot, int like)
{
    struct call *c = group_call(d, g, "aten.to_like", 2);
    c->args[0] = (struct arg){.kind = ARG_SLOT, .i = slot};
    c->args[1] = (struct arg){.kind = ARG_SLOT, .i = like};
    return c->outs[0];
}

int
group_to_float(struct dynamo *d, const struct group *g, int slot)
{
    struct call *c = group_call(d, g, "aten.to.dtype", 2);
    c->args[0] = (struct arg){.kind = ARG_SLOT, .i = slot};
    c->args[1] = DTYPE(DT_FLOAT);
    return c->outs[0];
}

static inline bool
makes(const struct program *p, int at, int64_t slot)
{
    bool made = false;
    for (int k = 0; at >= 0 && at < p->ncalls && k < p->calls[at].nouts && !made; k++)
        made = p->calls[at].outs[k] == slot;
    return made;
}

const struct call *
group_maker(const struct program *p, int64_t slot)
{
    if (slot < p->ngiven)
        return NULL;
    if (makes(p, p->made[slot], slot))
        return &p->calls[p->made[slot]];
    int at = p->ncalls - 1;
    while (at >= 0 && !makes(p, at, slot))
        at--;
    p->made[slot] = at;
    return at < 0 ? NULL : &p->calls[at];
}

bool
group_of_written(const struct program *p, const struct call *c)
{
    while (c && target_is(c->target, TARGET_VIEWS | TARGET_REORDERS))
        c = c->args[0].kind == ARG_SLOT ? group_maker(p, c->args[0].i) : NULL;
    return c && (c->in_place || target_is(c->target, TARGET_WRITES));
}
