/* SPDX-License-Identifier: Apache-2.0 */
/* lower.c - from the nodes of a file to the framework calls that the Python program made: the pass.
 *
 * Files whose calls PyTorch's exporter recorded go through dynamo.c, others through patterns.c.
 */
#include "lower/dynamo.h"
#include "torch/torch.h"

#include <string.h>

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
    if (s->mode == MODE_TRAINING && !s->recompute)
        python_checkpoints(l->p, setup_instead(s, ALTERNATIVE_CHECKPOINTS));
    if (g->leading)
        program_assume(l->p, ALTERNATIVE_NONE, "the batch is %s, the only leading dimension of an input that is open",
                       g->leading);
    for (int i = 0; i < l->p->ncalls; i++)
        if (l->p->calls[i].op && l->p->calls[i].op->assumes && setup_assumes(s, l->p->calls[i].op->alternative))
            program_assume(l->p, l->p->calls[i].op->alternative, "%s", l->p->calls[i].op->assumes);
    return l->p;
}
