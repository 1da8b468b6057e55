/* SPDX-License-Identifier: Apache-2.0 */
/* shapes.c - run the rules of the operator table over a graph.
 *
 *   run      nodes in order: shape rule, then value rule; what a rule leaves open is filled from value_info. Where both
 *            know something and differ, the rule is right, and the value is marked `contradicted`
 *   doubts   one a cause: an unbound input, an operator without a row, an output that stays open though everything
 *            about its inputs is known
 *
 * Subgraphs are run by the rules of If, Loop and Scan through shapes_subgraph, a bounded number of times in all. Values
 * are followed up to a limit of elements each, and up to a budget for the whole graph, so the cost is linear in the
 * nodes.
 */
#include "graph/infer.h"

static bool
is_known(const struct tensor *t)
{
    if (!t->dtype || (*t->wrap && (t->rank < 0 || t->seq)))
        return t->dtype;
    if (t->rank < 0)
        return false;
    for (int i = 0; i < t->rank; i++)
        if (t->dims[i].n < 0)
            return false;
    return true;
}

/* Known in all dims, but of a size that 64 bits don't hold. */
bool
shapes_overflow(const struct tensor *t)
{
    return t->dtype && !*t->wrap && is_known(t) && dtypes[t->dtype].bits &&
           dtype_bytes(t->dtype, tensor_elements(t)) < 0;
}

bool
shapes_recorded(const struct node *n)
{
    bool flows = false;
    for (int i = 0; i < n->nattr; i++)
        flows |= n->attr[i].type == ATTR_GRAPH;
    return flows && n->fx && strstr(n->fx, "[target=torch.ops.aten.");
}

/* ---- running ----------------------------------------------------------------------------------------------------- */

struct constant *
shapes_constant(struct infer *in, enum dtype t, int64_t n)
{
    struct shapes *run = in->run;
    bool number = t && (t <= DT_INT64 || (t >= DT_BOOL && t <= DT_UINT64) || t == DT_BFLOAT16);
    if (n < 0 || !number)
        return NULL;
    if (n > limit(LIMIT_FOLD) || (run->folds -= n + 1) < 0) {
        if (!dtypes[t].is_float) /* perhaps a shape */
            run->remedy = limit_remedy(run->a, run->folds < 0 ? LIMIT_FOLDED : LIMIT_FOLD);
        return NULL;
    }
    struct constant *c = NEW(run->a, struct constant);
    c->n = (int)n;
    c->known = NEWN(run->a, bool, n + 1);
    if (dtypes[t].is_float)
        c->f = NEWN(run->a, double, n + 1);
    else
        c->i = NEWN(run->a, int64_t, n + 1);
    return c;
}

/* Completes t from what value_info says of it. */
void
shapes_declared(struct tensor *t)
{
    if (t->declared_rank < 0)
        return;
    if (t->rank < 0) {
        t->rank = t->declared_rank;
        t->dims = t->declared;
        return;
    }
    if (t->rank != t->declared_rank) {
        t->contradicted = true;
        return;
    }
    for (int i = 0; i < t->rank; i++)
        if (t->dims[i].n < 0) {
            if (t->declared[i].n >= 0 || !t->dims[i].sym)
                t->dims[i] = t->declared[i];
        } else if (t->declared[i].n >= 0 && t->declared[i].n != t->dims[i].n) {
            t->contradicted = true;
        }
}

static void
doubt_node(struct shapes *run, const struct infer *in)
{
    const struct node *n = in->n;
    const char *name = *n->name ? n->name : in->nout && in->out[0] ? in->out[0]->name : n->op;
    const char *op = *n->domain ? arena_printf(run->a, "%s.%s", n->domain, n->op) : n->op;
    const struct tensor *open = NULL;
    for (int k = 0; k < in->nout && !open; k++)
        if (in->out[k] && !is_known(in->out[k]))
            open = in->out[k];
    for (int k = 0; k < in->nout; k++)
        if (in->out[k] && shapes_overflow(in->out[k]))
            graph_doubt(run->root, name, op, NULL, "the size of its output %s overflows 64 bits", in->out[k]->name);
    if (!open && in->why)
        graph_doubt(run->root, name, op, NULL, "%s", in->why);
    if (!open)
        return;
    if (!n->row) {
        graph_doubt(run->root, name, op, NULL, "the operator is not known, and the file does not say what it makes");
        return;
    }
    for (int k = 0; k < in->nin; k++)
        if (in->in[k] && !is_known(in->in[k]))
            return;
    if (in->why)
        graph_doubt(run->root, name, op, NULL, "%s", in->why);
    else
        graph_doubt(run->root, name, op, run->remedy, "the shape of its output %s can't be told from the file",
                    open->name);
}

static struct tensor **
resolve(struct shapes *run, struct graph *g, const int *ids, int n)
{
    struct tensor **t = NEWN(run->a, struct tensor *, n + 1);
    for (int i = 0; i < n; i++)
        t[i] = ids[i] < 0 ? NULL : &g->t[ids[i]];
    return t;
}

static void
run_node(struct shapes *run, struct graph *g, const struct node *n)
{
    struct infer in = {.g = g, .n = n, .run = run, .nin = n->nin, .nout = n->nout};
    in.in = resolve(run, g, n->in, n->nin);
    in.out = resolve(run, g, n->out, n->nout);
    for (int k = 0; k < n->nout; k++)
        if (in.out[k]) {
            in.out[k]->rank = -1;
            in.out[k]->value = NULL;
            in.out[k]->seq = NULL;
        }
    int doubts = run->root->ndoubts;
    if (n->row && n->row->shape)
        n->row->shape(&in);
    if (shapes_recorded(n))
        run->root->ndoubts = doubts; /* its body didn't run */
    for (int k = 0; k < n->nout; k++)
        if (in.out[k])
            shapes_declared(in.out[k]);
    if (n->row && n->row->value)
        n->row->value(&in);
    doubt_node(run, &in);
}

bool
shapes_graph(struct shapes *run, struct graph *g)
{
    if ((run->visits -= g->nn + 1) < 0)
        return false;
    for (int i = 0; i < g->nn; i++)
        run_node(run, g, &g->n[i]);
    return true;
}

void
shapes_node(struct shapes *run, struct graph *g, const struct node *n)
{
    run_node(run, g, n);
}

bool
shapes_subgraph(struct infer *in, struct graph *sub)
{
    for (int i = 0; i < sub->nt; i++) {
        struct tensor *t = &sub->t[i];
        if (!t->outer)
            continue;
        t->dtype = t->outer->dtype;
        t->wrap = t->outer->wrap;
        t->rank = t->outer->rank;
        t->dims = t->outer->dims;
        t->value = t->outer->value;
        t->seq = t->outer->seq;
    }
    return shapes_graph(in->run, sub);
}

/* ---- dump -------------------------------------------------------------------------------------------------------- */

static void
dump_type(const struct tensor *t, FILE *out)
{
    static const struct {
        char letter;
        const char *name;
    } wraps[] = {{'s', "seq("}, {'o', "optional("}, {'m', "map("}, {'p', "sparse_tensor("}};
    for (const char *w = t->wrap; *w; w++)
        for (int i = 0; i < COUNT(wraps); i++)
            if (wraps[i].letter == *w)
                fputs(wraps[i].name, out);
    fputs(t->dtype ? dtypes[t->dtype].onnx : "?", out);
    for (const char *w = t->wrap; *w; w++)
        fputc(')', out);
}

void
shapes_dump(const struct graph *g, FILE *out)
{
    for (int i = 0; i < g->nt; i++) {
        const struct tensor *t = &g->t[i];
        for (const unsigned char *c = (const unsigned char *)t->name; *c; c++)
            fputc(*c < ' ' || *c == 0x7f ? '?' : *c, out); /* one line a value, whatever its name */
        fputc('\t', out);
        dump_type(t, out);
        fputs(t->rank < 0 ? "\t?" : "\t[", out);
        for (int d = 0; d < t->rank; d++) {
            fputs(d ? "," : "", out);
            if (t->dims[d].n >= 0)
                fprintf(out, "%lld", (long long)t->dims[d].n);
            else
                fputc('?', out);
        }
        fputs(t->rank < 0 ? "\n" : "]\n", out);
    }
}
