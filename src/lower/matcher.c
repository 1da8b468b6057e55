/* SPDX-License-Identifier: Apache-2.0 */
/* matcher.c - tensors of a file as arguments of calls: slots, numbers, parameters. */
#include "lower/matcher.h"
#include "torch/torch.h"

int
matcher_origin(const struct matcher *x, int tensor)
{
    const struct node *n = maker(x, tensor);
    return n && node_call(n) == CALL_IDENTITY && x->g->t[n->in[0]].is_initializer ? n->in[0] : tensor;
}

bool
matcher_constant(const struct matcher *x, int tensor)
{
    const struct node *n = maker(x, tensor);
    return tensor >= 0 && (matcher_initial(x, tensor) || (n && node_is(n, OP_CONSTANT)) ||
                           names_find(x->params, x->g->t[tensor].name) >= 0);
}

bool
matcher_number(const struct matcher *x, int tensor, double *v)
{
    const struct tensor *t = tensor_at(x, tensor);
    struct arg number = t->rank > 1 ? NONE : lower_number(t);
    if (number.kind == ARG_NONE)
        return false;
    *v = number.kind == ARG_INT ? (double)number.i : number.f;
    return true;
}

bool
matcher_renamed(const struct matcher *x, int tensor)
{
    const char *name = x->g->t[tensor].name;
    return matcher_initial(x, tensor) && (strncmp(name, "onnx::", 6) == 0 ||
                                          (graph_torch(x->g) >= 102 && *name && !name[strspn(name, "0123456789")]));
}

/* "layer1.0.conv1_2" to "layer1.0.conv1": the third call of a module. NULL: it is the first. Source:
 * NodeNameGenerator::CreateUniqueName in torch/csrc/jit/passes/onnx/naming.cpp. */
static const char *
first_call(struct arena *a, const char *path)
{
    size_t n = strlen(path), digits = 0;
    while (digits < n && path[n - 1 - digits] >= '0' && path[n - 1 - digits] <= '9')
        digits++;
    return digits && digits + 1 < n && path[n - 1 - digits] == '_' ? arena_strn(a, path, n - digits - 1) : NULL;
}

/* The exporter writes what is equal once, so that what it computed twice for a module that runs twice is one. */
static const char *
computed_for(const struct matcher *x, int tensor, const char *path, const char *role)
{
    return arena_printf(x->l->a, "%s of %s.%s", x->g->t[matcher_origin(x, tensor)].name, path, role);
}

struct param *
matcher_param(struct matcher *x, int tensor, const struct node *user, const char *role, bool transposed, bool buffer)
{
    struct lowering *l = x->l;
    const struct tensor *t = &x->g->t[tensor];
    int at = names_find(x->params, t->name);
    if (at >= 0)
        return &l->p->params[at];
    const char *name = t->name, *path = lower_node_module(l->a, user), *first = first_call(l->a, path);
    at = first && matcher_renamed(x, tensor) ? names_find(x->params, computed_for(x, tensor, first, role)) : -1;
    if (at >= 0)
        return &l->p->params[at];
    if (!strchr(name, '.') && matcher_renamed(x, tensor) && *path)
        name = arena_printf(l->a, "%s.%s", path, role);
    bool state = buffer || !dtypes[t->dtype].is_float;
    struct param *q = lower_param(l, name, state ? PARAM_BUFFER : PARAM_TRAINED);
    names_put(x->params, t->name, l->p->nparams - 1);
    if (matcher_renamed(x, tensor))
        names_put(x->params, computed_for(x, tensor, path, role), l->p->nparams - 1);
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
matcher_folded(struct matcher *x, const struct node *n, int tensor)
{
    struct call *c = matcher_call(x, n, "aten.folded.default", 2);
    c->args[0] = (struct arg){.kind = ARG_TEXT, .s = "zeros_like.default"};
    c->args[1] = DTYPE(tensor_at(x, tensor)->dtype);
    lower_sizes(x->l, tensor_at(x, tensor), &c->rank, &c->size);
    return (struct arg){.kind = ARG_SLOT, .i = c->outs[0]};
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
    if (matcher_number(x, tensor, &v) && (t->rank == 0 || !matcher_initial(x, tensor)) && !is_learned_number(x, t))
        return t->value->i ? INT(to_int(v)) : FLT(v);
    if (t->producer >= 0 && !x->data[t->producer] && !matcher_constant(x, tensor))
        return t->rank == 1 && t->dims[0].n > 1 ? matcher_folded(x, n, tensor)
               : dtypes[t->dtype].is_float      ? FLT(0)
                                                : INT(0); /* a number that isn't known */
    if (matcher_constant(x, tensor)) {
        struct param *q = matcher_param(x, tensor, n, role, false, !matcher_initial(x, tensor) && !x->in_constants);
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

int
matcher_integers(const struct matcher *x, int tensor, int64_t *out, int max)
{
    const struct tensor *t = tensor < 0 ? NULL : &x->g->t[tensor];
    if (!t || !t->value || !t->value->i)
        return 0;
    int n = t->value->n < max ? t->value->n : max;
    memcpy(out, t->value->i, sizeof(*out) * (size_t)n);
    return n;
}

struct arg
matcher_ints(struct matcher *x, int n, const int64_t *v)
{
    if (n < 0) /* as many as the dimensions of something whose rank is unknown */
        return NONE;
    struct arg l = {.kind = ARG_LIST, .n = n, .list = NEWN(x->l->a, struct arg, n ? n : 1)};
    for (int i = 0; i < n; i++)
        l.list[i] = INT(v[i]);
    return l;
}

struct arg
matcher_axes(struct matcher *x, const struct node *n)
{
    int64_t v[MAX_RANK];
    const struct attr *a = node_attr(n, "axes");
    a = a && a->type == ATTR_INTS && a->ints ? a : NULL;
    int count = a ? 0 : n->nin > 1 ? matcher_integers(x, n->in[1], v, MAX_RANK) : 0;
    return a ? matcher_ints(x, a->n, a->ints) : count ? matcher_ints(x, count, v) : NONE;
}

bool
matcher_same_module(const struct matcher *x, const struct node *n, const struct node *m)
{
    struct arena *a = x->l->a;
    return strcmp(lower_node_module(a, m), lower_node_module(a, n)) == 0;
}
