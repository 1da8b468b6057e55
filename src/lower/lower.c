/* SPDX-License-Identifier: Apache-2.0 */
/* lower.c - from the nodes of a file to the framework calls that the Python program made: the program under
 * construction, and the pass.
 *
 * Files whose calls PyTorch's exporter recorded go through dynamo.c, others through patterns.c.
 */
#include "lower/dynamo.h"
#include "torch/torch.h"

#include <string.h>

/* ---- a program under construction ------------------------------------------------------------------------------- */

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
    l->slots = names_new(l->a);
    l->modules = names_new(l->a);
    l->slot_of = NEWN(l->a, int, g->nt + 1);
    memset(l->slot_of, -1, sizeof(int) * (size_t)(g->nt + 1));
    return l;
}

int
lower_slot(struct lowering *l)
{
    return l->p->nslots++;
}

/* The module of that path, its parents made as needed. */
int
lower_module(struct lowering *l, const char *path, const char *type)
{
    struct program *p = l->p;
    int at = names_find(l->modules, path);
    if (at < 0) {
        const char *dot = strrchr(path, '.');
        int parent = !*path ? -1 : lower_module(l, dot ? arena_strn(l->a, path, (size_t)(dot - path)) : "", NULL);
        at = p->nmodules;
        *PUSH(l->a, p->modules, p->nmodules, p->cap_modules) = (struct module){arena_str(l->a, path), NULL, parent};
        names_put(l->modules, p->modules[at].path, at);
    }
    if (type && !p->modules[at].type)
        p->modules[at].type = arena_str(l->a, type);
    return at;
}

struct param *
lower_param(struct lowering *l, const char *name, enum param_kind kind)
{
    const char *dot = strrchr(name, '.');
    struct param *q = PUSH(l->a, l->p->params, l->p->nparams, l->p->cap_params);
    q->name = arena_str(l->a, name);
    q->kind = kind;
    q->slot = lower_slot(l);
    q->module = lower_module(l, dot ? arena_strn(l->a, name, (size_t)(dot - name)) : "", NULL);
    q->tied_to = -1;
    q->rank = -1;
    for (int i = 0; i < l->s->nfreeze && q->kind == PARAM_TRAINED; i++)
        if (glob_match(l->s->freeze[i], name))
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
    c->args = NEWN(l->a, struct arg, nargs ? nargs : 1);
    c->nouts = 1;
    c->outs = NEWN(l->a, int, 1);
    c->outs[0] = lower_slot(l);
    c->rank = -1;
    return c;
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
    p->outputs = NEWN(l->a, int, l->g->nout + 1);
    for (int i = 0; i < l->g->nout; i++)
        if (l->slot_of[l->g->out[i]] >= 0)
            p->outputs[p->noutputs++] = l->slot_of[l->g->out[i]];
    if (!p->noutputs && p->ncalls)
        p->outputs[p->noutputs++] = p->calls[p->ncalls - 1].outs[0];
}

bool
lower_may_overwrite(const struct graph *g, int in, int out, int last)
{
    if (in < 0 || g->t[in].is_initializer || g->t[in].is_input || g->t[in].is_output || g->t[in].rank != g->t[out].rank)
        return false;
    for (int i = 0; i < g->t[in].rank; i++)
        if (g->t[in].dims[i].n != g->t[out].dims[i].n)
            return false;
    for (int u = 0; u < g->t[in].nusers; u++)
        if (g->t[in].users[u] > last)
            return false;
    return true;
}

/* ---- the pass --------------------------------------------------------------------------------------------------- */

/* Whether the exporter computed the data: it fuses batch norms into convolutions in float, whatever a model's type. */
static bool
is_fused(const struct graph *g, int tensor)
{
    for (int i = 0; i < g->t[tensor].nusers; i++) {
        const char *rules = g->n[g->t[tensor].users[i]].rules;
        if (rules && strstr(rules, "FuseBatchNorm"))
            return true;
    }
    return false;
}

/* Parameters whose own data the file lacks are of the type that most others are of, or the first input that has
 * numbers. */
static void
type_params(struct graph *g, struct program *p)
{
    int count[DT_COUNT] = {0};
    enum dtype most = DT_FLOAT;
    for (int i = p->ninputs - 1; i >= 0; i--)
        most = dtypes[p->inputs[i].dtype].is_float ? p->inputs[i].dtype : most;
    for (int i = 0; i < p->nparams; i++) {
        struct param *q = &p->params[i];
        int own = graph_find(g, q->name);
        if (own >= 0 && is_fused(g, own))
            q->dtype = DT_UNDEFINED;
        else if (own >= 0 && dtypes[q->dtype].is_float && ++count[q->dtype] > count[most])
            most = q->dtype;
    }
    for (int i = 0; i < p->nparams; i++) {
        struct param *q = &p->params[i];
        bool wider = dtypes[q->dtype].is_float && dtypes[q->dtype].bits > dtypes[most].bits;
        if (q->dtype == DT_UNDEFINED)
            q->dtype = most;
        else if (!g->signature && wider && q->rank == 2 && graph_find(g, q->name) < 0) /* of a linear layer */
            graph_doubt(g, q->name, "parameter", NULL,
                        "the exporter computed its data in a wider type than the model's, where PyTorch computes in "
                        "the model's type: an export with dynamo=True, or in float with --precision, is exact");
    }
}

/* Operators that no row knows, in a file whose others PyTorch's exporter recorded. */
static void
doubt_unrecorded(struct graph *g)
{
    for (int i = 0; i < g->nn; i++) {
        const struct node *n = &g->n[i];
        if (!n->row && !n->fx && !n->made)
            graph_doubt(g, n->name, n->op, NULL, "the operator is not known, and the exporter recorded nothing of it");
    }
}

struct program *
lower_run(struct graph *g, const struct setup *s)
{
    struct lowering *l = lowering_new(g, s);
    lower_module(l, "", NULL);
    lower_inputs(l);
    if (g->signature) {
        lower_dynamo(l);
        doubt_unrecorded(g);
    } else {
        lower_patterns(l);
    }
    lower_outputs(l);
    fact_assume(l);
    type_params(g, l->p);
    if (g->leading)
        program_assume(l->p, ALTERNATIVE_NONE, "the batch is %s, the only leading dimension of an input that is open",
                       g->leading);
    for (int i = 0; i < l->p->ncalls; i++)
        if (l->p->calls[i].op && l->p->calls[i].op->assumes && setup_assumes(s, l->p->calls[i].op->alternative))
            program_assume(l->p, l->p->calls[i].op->alternative, "%s", l->p->calls[i].op->assumes);
    return l->p;
}
