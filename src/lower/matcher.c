/* SPDX-License-Identifier: Apache-2.0 */
/* matcher.c - tensors of a file as arguments of calls: slots, numbers, parameters. */
#include "lower/matcher.h"
#include "torch/torch.h"

bool
matcher_constant(const struct matcher *x, int tensor)
{
    const struct node *n = maker(x, tensor);
    return tensor >= 0 && (x->g->t[tensor].is_initializer || (n && node_is(n, OP_CONSTANT)) ||
                           names_find(x->params, x->g->t[tensor].name) >= 0);
}

bool
matcher_number(const struct matcher *x, int tensor, double *v)
{
    const struct tensor *t = tensor < 0 ? NULL : &x->g->t[tensor];
    if (!t || !t->value || t->value->n != 1 || t->rank > 1 || (t->value->known && !t->value->known[0]))
        return false;
    *v = t->value->i ? (double)t->value->i[0] : t->value->f[0];
    return true;
}

bool
matcher_renamed(const struct matcher *x, int tensor)
{
    const char *name = x->g->t[tensor].name;
    return x->g->t[tensor].is_initializer && (strncmp(name, "onnx::", 6) == 0 ||
                                              (graph_torch(x->g) >= 102 && *name && !name[strspn(name, "0123456789")]));
}

struct param *
matcher_param(struct matcher *x, int tensor, const struct node *user, const char *role, bool transposed, bool buffer)
{
    struct lowering *l = x->l;
    const struct tensor *t = &x->g->t[tensor];
    int at = names_find(x->params, t->name);
    if (at >= 0)
        return &l->p->params[at];
    const char *name = t->name;
    if (!strchr(name, '.')) {
        const char *path = lower_node_module(l->a, user);
        name = matcher_renamed(x, tensor) && *path ? arena_printf(l->a, "%s.%s", path, role) : name;
    }
    bool state = buffer || !dtypes[t->dtype].is_float;
    struct param *q = lower_param(l, name, state ? PARAM_BUFFER : PARAM_TRAINED);
    names_put(x->params, t->name, l->p->nparams - 1);
    lower_param_shape(l, q, t);
    if (transposed && q->rank == 2) {
        int64_t *size = NEWN(l->a, int64_t, 2);
        size[0] = q->size[1];
        size[1] = q->size[0];
        q->size = size;
    }
    if (q->rank < 0)
        graph_doubt(l->g, name, "parameter", NULL, "the file does not state its size");
    return q;
}

/* TorchScript's exporter keeps the names of parameters, and calls other initializers "onnx::Mul_12" or "/Constant_1". A
 * parameter may be one number: a temperature, a gate. */
static bool
is_learned_number(const struct matcher *x, const struct tensor *t)
{
    const char *by = x->g->producer;
    return t->is_initializer && t->rank == 0 && dtypes[t->dtype].is_float && by && strcmp(by, "pytorch") == 0 &&
           !strpbrk(t->name, ":/");
}

struct arg
matcher_arg(struct matcher *x, const struct node *n, int tensor, const char *role)
{
    double v;
    if (tensor < 0)
        return NONE;
    if (x->l->slot_of[tensor] >= 0)
        return (struct arg){.kind = ARG_SLOT, .i = x->l->slot_of[tensor]};
    const struct tensor *t = &x->g->t[tensor];
    if (matcher_number(x, tensor, &v) && (t->rank == 0 || !t->is_initializer) && !is_learned_number(x, t))
        return t->value->i ? INT(to_int(v)) : FLT(v);
    if (t->producer >= 0 && !x->data[t->producer] && !matcher_constant(x, tensor))
        return dtypes[t->dtype].is_float ? FLT(0) : INT(0); /* a number that isn't known */
    if (matcher_constant(x, tensor)) {
        struct param *q = matcher_param(x, tensor, n, role, false, !t->is_initializer && !x->in_constants);
        x->l->slot_of[tensor] = q->slot;
        return (struct arg){.kind = ARG_SLOT, .i = q->slot};
    }
    return INT(-1);
}

struct call *
matcher_call(struct matcher *x, const struct node *n, const char *target, int nargs)
{
    struct lowering *l = x->l;
    struct call *c = lower_call(l, target, nargs);
    c->node = c->name = n->name;
    c->scope = lower_module(l, lower_node_module(l->a, n), NULL);
    const char *path = l->p->modules[c->scope].path;
    c->location = *path ? path : NULL;
    return c;
}

struct arg
matcher_input(struct matcher *x, const struct node *n, int k)
{
    return k < n->nin ? matcher_arg(x, n, n->in[k], "weight") : NONE;
}

void
matcher_define(struct matcher *x, int tensor, int slot)
{
    struct program *p = x->l->p;
    x->l->slot_of[tensor] = slot;
    if (p->ncalls && p->calls[p->ncalls - 1].outs[0] == slot)
        lower_sizes(x->l, &x->g->t[tensor], &p->calls[p->ncalls - 1].rank, &p->calls[p->ncalls - 1].size);
}
