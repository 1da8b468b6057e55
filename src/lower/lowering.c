/* SPDX-License-Identifier: Apache-2.0 */
/* lowering.c - a program under construction: its slots, modules, parameters, calls, inputs and outputs. */
#include "lower/lowering.h"
#include "torch/torch.h"

#include <stdlib.h>
#include <string.h>

struct lowering *
lowering_new(struct graph *g, const struct setup *s)
{
    struct lowering *l = NEW(g->arena, struct lowering);
    l->a = g->arena;
    l->g = g;
    l->s = s;
    l->p = NEW(l->a, struct program);
    l->p->arena = l->a;
    l->p->graph = g;
    l->p->frames = frames_new(l->a, g->first ? g->first->frames : NULL);
    l->slots = names_new(l->a);
    l->modules = names_new(l->a);
    l->params = names_new(l->a);
    l->slot_of = NEWN(l->a, int, g->nt + 1);
    memset(l->slot_of, -1, sizeof(int) * (size_t)(g->nt + 1));
    return l;
}

int
lower_slot(struct lowering *l)
{
    *PUSH(l->a, l->p->made, l->p->nslots, l->p->cap_made) = l->p->ncalls - 1;
    return l->p->nslots - 1;
}

/* The module of that path, its parents made as needed. */
int
lower_module(struct lowering *l, const char *path, const char *type)
{
    struct program *p = l->p;
    int at = path == l->asked.path ? l->asked.module : names_find(l->modules, path);
    if (at < 0) {
        const char *dot = strrchr(path, '.');
        int parent = !*path ? -1 : lower_module(l, dot ? arena_strn(l->a, path, (size_t)(dot - path)) : "", NULL);
        at = p->nmodules;
        *PUSH(l->a, p->modules, p->nmodules, p->cap_modules) = (struct module){arena_str(l->a, path), NULL, parent};
        names_put(l->modules, p->modules[at].path, at);
    }
    if (type && !p->modules[at].type)
        p->modules[at].type = arena_str(l->a, type);
    l->asked.path = path;
    l->asked.module = at;
    return at;
}

const char *
lower_before(struct lowering *l, const char *path)
{
    const char *number = path_last(path);
    char *end;
    long k = strtol(number, &end, 10);
    return k > 0 && !*end ? arena_printf(l->a, "%.*s%ld", (int)(number - path), path, k - 1) : NULL;
}

static bool
matches(const struct globs *of, const char *name)
{
    for (int i = 0; i < of->n; i++)
        if (glob_match(of->glob[i], name))
            return true;
    return false;
}

struct param *
lower_param(struct lowering *l, const char *name, enum param_kind kind)
{
    const char *dot = strrchr(name, '.');
    struct param *q = PUSH(l->a, l->p->params, l->p->nparams, l->p->cap_params);
    q->name = arena_str(l->a, name);
    if (names_find(l->params, name) < 0)
        names_put(l->params, q->name, l->p->nparams - 1);
    q->kind = kind;
    q->slot = lower_slot(l);
    q->module = lower_module(l, dot ? arena_strn(l->a, name, (size_t)(dot - name)) : "", NULL);
    q->tied_to = -1;
    q->rank = -1;
    if (kind == PARAM_TRAINED && (matches(&l->s->freeze, name) || (l->s->train.n && !matches(&l->s->train, name))))
        q->kind = PARAM_FROZEN;
    return q;
}

/* Known sizes of a file's tensor. */
bool
lower_sizes(struct lowering *l, const struct tensor *t, int *rank, const int64_t **size)
{
    if (t->rank < 0)
        return false;
    int64_t *s = NEWN(l->a, int64_t, t->rank ? t->rank : 1);
    for (int i = 0; i < t->rank; i++) {
        if (t->dims[i].n < 0)
            return false;
        s[i] = t->dims[i].n;
    }
    *rank = t->rank;
    *size = s;
    return true;
}

void
lower_param_shape(struct lowering *l, struct param *q, const struct tensor *t)
{
    if (lower_sizes(l, t, &q->rank, &q->size) && t->dtype)
        q->dtype = t->dtype;
}

struct call *
lower_call(struct lowering *l, const char *target, int nargs)
{
    struct call *c = PUSH(l->a, l->p->calls, l->p->ncalls, l->p->cap_calls);
    c->target = arena_str(l->a, target);
    c->op = aten_find(target);
    c->nargs = nargs;
    c->args = arena_alloc(l->a, sizeof(*c->args) * (size_t)nargs + sizeof(*c->outs));
    c->nouts = 1;
    c->outs = (int *)(c->args + nargs);
    c->outs[0] = lower_slot(l);
    c->rank = -1;
    return c;
}

struct call *
lower_call_at(struct lowering *l, int at, int of, const char *target, int nargs)
{
    struct program *p = l->p;
    lower_call(l, target, nargs);
    const struct call *like = &p->calls[of];
    struct call made = p->calls[p->ncalls - 1];
    made.node = like->node;
    made.name = like->name;
    made.scope = like->scope;
    made.location = like->location;
    made.stack = like->stack;
    made.frames = like->frames;
    memmove(&p->calls[at + 1], &p->calls[at], sizeof(made) * (size_t)(p->ncalls - 1 - at));
    p->calls[at] = made;
    return &p->calls[at];
}

void
lower_requires_grad(struct lowering *l, int at)
{
    struct call *c = lower_call_at(l, at + 1, at, "aten.requires_grad_.default", 1), *made = c - 1;
    const int slot = c->outs[0];
    c->outs[0] = made->outs[0];
    made->outs[0] = slot;
    c->args[0] = (struct arg){.kind = ARG_SLOT, .i = slot};
}

bool
lower_reads(const struct call *c, int slot)
{
    struct call_reads r = {c};
    bool reads = false;
    for (int of; !reads && (of = next_read(&r)) >= 0;)
        reads = of == slot;
    return reads;
}

struct arg
lower_number(const struct tensor *t)
{
    if (!t->value || t->value->n != 1 || (t->value->known && !t->value->known[0]))
        return NONE;
    return t->value->i ? INT(t->value->i[0]) : FLT(t->value->f[0]);
}

void
lower_results(struct lowering *l, struct call *c, int n)
{
    c->nouts = n;
    c->outs = NEWN(l->a, int, n);
    for (int i = 0; i < n; i++)
        c->outs[i] = lower_slot(l);
}

void
lower_inputs(struct lowering *l)
{
    struct program *p = l->p;
    p->inputs = NEWN(l->a, struct input, l->g->nin + 1);
    for (int i = 0; i < l->g->nin; i++) {
        const struct tensor *t = &l->g->t[l->g->in[i]];
        struct input *in = &p->inputs[p->ninputs++];
        in->name = t->name;
        in->dtype = t->dtype;
        in->slot = lower_slot(l);
        in->rank = -1;
        lower_sizes(l, t, &in->rank, &in->size);
        l->slot_of[l->g->in[i]] = in->slot;
        names_put(l->slots, t->fx_name ? t->fx_name : t->name, in->slot);
    }
}

void
lower_outputs(struct lowering *l)
{
    struct program *p = l->p;
    p->outputs = NEWN(l->a, struct returned, l->g->nout + 1);
    for (int i = 0; i < l->g->nout; i++) {
        const struct tensor *t = &l->g->t[l->g->out[i]];
        int slot = l->slot_of[l->g->out[i]];
        for (int k = 0; k < p->ncalls; k++) /* a cast that no node is: a loss asks for its sizes */
            if (p->calls[k].outs[0] == slot && p->calls[k].rank < 0)
                lower_sizes(l, t, &p->calls[k].rank, &p->calls[k].size);
        if (slot >= 0)
            p->outputs[p->noutputs++] = (struct returned){t->name, slot, t->rank, dtypes[t->dtype].is_float};
    }
    if (!p->noutputs && p->ncalls)
        p->outputs[p->noutputs++] = (struct returned){"", p->calls[p->ncalls - 1].outs[0], -1, true};
}

bool
lower_may_overwrite(const struct graph *g, int in, int out, int last, bool inputs)
{
    if (in < 0 || g->t[in].is_initializer || (g->t[in].is_input && !inputs) || g->t[in].is_output ||
        g->t[in].rank != g->t[out].rank)
        return false;
    for (int i = 0; i < g->t[in].rank; i++)
        if (g->t[in].dims[i].n != g->t[out].dims[i].n)
            return false;
    for (int u = 0; u < g->t[in].nusers; u++)
        if (g->t[in].users[u] > last)
            return false;
    return true;
}

bool
lower_overwrites(struct lowering *l, const char *target)
{
    if (l->s->inplace == INPLACE_AUTO)
        program_assume(l->p, ALTERNATIVE_OVERWRITES, "activations that may be told to write in place (ReLU) are not");
    return l->s->inplace == INPLACE_ALL || (l->s->inplace == INPLACE_RELU && spelled(target, RECTIFIES));
}

void
lower_in_place(struct lowering *l, struct call *c)
{
    size_t stem = strcspn(c->op->name, ".");
    const char *name = arena_printf(l->a, "%.*s_%s", (int)stem, c->op->name, c->op->name + stem);
    const struct aten *own = aten_find(name);
    c->in_place = true;
    if (own && own->grad) { /* others are what formulas of gradients call */
        c->op = own;
        c->target = arena_printf(l->a, "aten.%s", name);
    }
}

/* "/layer1/layer1.0/conv1/Conv" to "layer1.0.conv1": a component that begins with its parent's name replaces it. */
const char *
lower_node_module(struct arena *a, const struct node *n)
{
    char path[512] = "";
    size_t len = 0, start = 0; /* of the last component in path */
    const char *p = n->name ? n->name : "";
    while (*p == '/') {
        const char *end = strchr(p + 1, '/');
        size_t n = end ? (size_t)(end - p - 1) : 0;
        if (!end || len + n + 2 > sizeof(path))
            break;
        size_t last = len - start;
        if (len && n > last && strncmp(path + start, p + 1, last) == 0 && p[1 + last] == '.') {
            len = start;
        } else if (len) {
            path[len++] = '.';
            start = len;
        }
        memcpy(path + len, p + 1, n);
        len += n;
        path[len] = 0;
        p = end;
    }
    return arena_str(a, path);
}

bool
lower_is_module(const struct lowering *l, const struct node *n)
{
    const struct graph *g = l->g;
    const char *path = lower_node_module(l->a, n);
    int at = (int)(n - g->n);
    for (int step = -1; step <= 1; step += 2) {
        int k = at + step;
        while (k >= 0 && k < g->nn && node_is(&g->n[k], OP_CONSTANT))
            k += step;
        if (k >= 0 && k < g->nn && path_within(lower_node_module(l->a, &g->n[k]), path))
            return false;
    }
    return *path;
}

bool *
lower_trained(const struct program *p, struct arena *a)
{
    bool *grows = NEWN(a, bool, p->nslots + 1);
    for (int i = 0; i < p->nparams; i++)
        grows[p->params[i].slot] = p->params[i].kind == PARAM_TRAINED;
    return grows;
}

bool
lower_grows(const struct call *c, bool *grows)
{
    bool reads = false;
    struct call_reads r = {c};
    for (int slot; !c->no_grad && (slot = next_read(&r)) >= 0;)
        reads |= grows[slot];
    for (int k = 0; k < c->nouts; k++)
        grows[c->outs[k]] = reads && (!c->op || c->op->grad);
    return reads;
}

struct call
lower_cast(struct lowering *l, int of, const char *target, int slot, struct arg to)
{
    const struct call *by = &l->p->calls[of];
    struct call c = {.target = target,
                     .op = aten_find(target),
                     .nargs = 2,
                     .args = NEWN(l->a, struct arg, 2),
                     .rank = -1,
                     .node = by->node,
                     .location = by->location,
                     .frames = by->frames};
    lower_results(l, &c, 1);
    c.args[0] = (struct arg){.kind = ARG_SLOT, .i = slot};
    c.args[1] = to;
    return c;
}

static int
by_place(const void *a, const void *b)
{
    const struct added *x = a, *y = b;
    return x->at != y->at ? (x->at > y->at) - (x->at < y->at) : (x->turn > y->turn) - (x->turn < y->turn);
}

void
lower_insert(struct lowering *l, struct added *added, int n)
{
    struct program *p = l->p;
    const int ncalls = p->ncalls;
    if (!n)
        return;
    qsort(added, (size_t)n, sizeof(*added), by_place);
    for (int i = 0; i < n; i++)
        *PUSH(l->a, p->calls, p->ncalls, p->cap_calls) = added[i].call;
    struct call *to = p->calls + p->ncalls;
    for (int i = ncalls, k = n - 1; i >= 0; i--) {
        if (i < ncalls)
            *--to = p->calls[i];
        for (; k >= 0 && added[k].at == i; k--)
            *--to = added[k].call;
    }
}
