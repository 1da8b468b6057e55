/* SPDX-License-Identifier: Apache-2.0 */
/* patterns.c - files without recorded calls: their nodes to framework calls.
 *
 * TorchScript exports keep the names of modules and parameters but not the calls. First the nodes that carry data are
 * told from those that only compute shapes, by walking back from the outputs through data inputs. Then patterns (gelu,
 * attention, linear, ...) are matched at their last node and cover the nodes they stand for; what no pattern covers is
 * lowered one to one, by the row of its operator. What can't be told apart is assumed, and said: x.reshape from
 * contiguous().view, F.gelu from the same formula by hand, SiLU from x * sigmoid(x).
 *
 * Control flow that unroll.c left gets a doubt.
 */
#include "lower/matcher.h"
#include "torch/torch.h"

#include <assert.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_PADS = 2 * MAX_RANK };

/* ---- which nodes carry data -------------------------------------------------------------------------------------- */

/* An input that is a setting, not data, has no digit in the row. */
static bool
carries(const struct node *n, int k)
{
    const char *data = n->row ? n->row->data : NULL;
    return !data || (k < 10 && strchr(data, '0' + k));
}

/* A tensor that belongs to a module: a bias, of which a program may read a part. */
static bool
is_of_module(const struct matcher *x, int tensor)
{
    const struct tensor *t = tensor_at(x, tensor);
    return x->by_torch && t->is_initializer && t->rank > 0 && dtypes[t->dtype].is_float && !matcher_renamed(x, tensor);
}

/* Python numbers of the traced program: what is computed from sizes and constants alone. Factories make tensors of
 * them. */
static bool *
find_numbers(const struct matcher *x)
{
    const struct graph *g = x->g;
    bool *numeric = NEWN(x->l->a, bool, g->nt + 1);
    for (int i = 0; i < g->nn; i++) {
        const struct node *n = &g->n[i];
        bool sizes = node_is(n, OP_SIZES), all = !node_is(n, OP_MAKES), some = sizes;
        for (int k = 0; k < n->nin && !sizes; k++) {
            int t = n->in[k], from = t < 0 ? -1 : g->t[t].producer;
            bool constant = t < 0 || (g->t[t].is_initializer && !is_of_module(x, t)) ||
                            (from >= 0 && node_is(&g->n[from], OP_CONSTANT));
            all &= constant || numeric[t];
            some |= t >= 0 && numeric[t];
        }
        for (int o = 0; o < n->nout && all && some; o++) /* a size, a list of sizes */
            if (n->out[o] >= 0 && g->t[n->out[o]].rank <= 1)
                numeric[n->out[o]] = true;
    }
    return numeric;
}

static void
find_data(struct matcher *x)
{
    struct graph *g = x->g;
    bool *wanted = NEWN(x->l->a, bool, g->nt + 1), *numeric = find_numbers(x);
    for (int i = 0; i < g->nout; i++)
        wanted[g->out[i]] = true;
    for (int i = g->nn - 1; i >= 0; i--) {
        const struct node *n = &g->n[i];
        for (int o = 0; o < n->nout; o++)
            x->data[i] |= n->out[o] >= 0 && wanted[n->out[o]] && !numeric[n->out[o]];
        x->data[i] &= !node_is(n, OP_CONSTANT);
        for (int k = 0; k < n->nin && x->data[i]; k++)
            if (n->in[k] >= 0 && carries(n, k))
                wanted[n->in[k]] = true;
    }
}

/* ---- constants and parameters ------------------------------------------------------------------------------------ */

static void
finish(struct matcher *x, struct call *c, int tensor)
{
    if (tensor < 0)
        return;
    lower_sizes(x->l, &x->g->t[tensor], &c->rank, &c->size);
    x->l->slot_of[tensor] = c->outs[0];
}

static void
set_slot(struct matcher *x, int tensor, int slot)
{
    if (tensor >= 0)
        x->l->slot_of[tensor] = slot;
}

static const struct arg none = {.kind = ARG_NONE}, last_dim = {.kind = ARG_INT, .i = -1};

/* A call of one result with up to three more arguments. */
static struct arg
called(struct matcher *x, const struct node *n, const char *target, struct arg a, struct arg b, struct arg c,
       struct arg d)
{
    struct call *k = matcher_call(x, n, target, 4);
    const struct arg args[] = {a, b, c, d};
    memcpy(k->args, args, sizeof(args));
    return (struct arg){.kind = ARG_SLOT, .i = k->outs[0]};
}

static struct arg
attr_ints(struct matcher *x, const struct node *n, const char *name, int from, int count)
{
    const struct attr *a = node_attr(n, name);
    if (!a || a->type != ATTR_INTS || !a->ints || a->n <= from)
        return NONE;
    return matcher_ints(x, count > 0 && count < a->n - from ? count : a->n - from, a->ints + from);
}

/* ---- patterns ---------------------------------------------------------------------------------------------------- */

/* The node that makes input k, when its result goes nowhere else. */
static const struct node *
only_maker(const struct matcher *x, const struct node *n, int k, const char *op)
{
    const struct node *m = k < n->nin ? maker(x, n->in[k]) : NULL;
    return m && is(m, op) && tensor_at(x, n->in[k])->nusers == 1 && !tensor_at(x, n->in[k])->is_output ? m : NULL;
}

/* A binary node with a constant on one side: the position of the other. */
static int
beside_number(const struct matcher *x, const struct node *n, double want)
{
    double v;
    for (int k = 0; k < 2 && n->nin == 2; k++)
        if (matcher_number(x, n->in[1 - k], &v) && (isnan(want) || fabs(v - want) <= 1e-3 * fabs(want)))
            return k;
    return -1;
}

static void
cover(struct matcher *x, const struct node *n)
{
    x->covered[n - x->g->n] = true;
}

/* The weight of a linear layer behind a MatMul: through a Transpose, or already transposed by constant folding. */
static int
linear_weight(const struct matcher *x, const struct node *mm, bool *folded)
{
    const struct node *t = mm->nin == 2 ? maker(x, mm->in[1]) : NULL;
    *folded = false;
    if (t && is(t, "Transpose") && matcher_constant(x, t->in[0]) && tensor_at(x, t->in[0])->rank == 2)
        return t->in[0];
    if (mm->nin == 2 && matcher_initial(x, mm->in[1]) && tensor_at(x, mm->in[1])->rank == 2) {
        *folded = matcher_renamed(x, mm->in[1]);
        return *folded ? mm->in[1] : -1;
    }
    return -1;
}

/* MatMul with a weight, then Add of a one-dimensional constant, which PyTorch's exporter writes first, and in the same
 * module; else the line adds it. Source: linear in torch/onnx/_internal/torchscript_exporter/symbolic_opset9.py. */
static bool
match_linear_bias(struct matcher *x, const struct node *n)
{
    bool folded;
    for (int k = x->by_torch ? 1 : 0; k < 2; k++) {
        const struct node *mm = only_maker(x, n, k, "MatMul");
        const struct tensor *b = tensor_at(x, n->in[1 - k]);
        if (mm && linear_weight(x, mm, &folded) >= 0 && b->rank == 1 && matcher_constant(x, n->in[1 - k]) &&
            (!x->by_torch || matcher_same_module(x, n, mm))) {
            cover(x, mm);
            const struct node *t = maker(x, mm->in[1]);
            if (t)
                cover(x, t);
            return true;
        }
    }
    return false;
}

static bool
match_linear(struct matcher *x, const struct node *n)
{
    bool folded;
    if (linear_weight(x, n, &folded) < 0)
        return false;
    const struct node *t = maker(x, n->in[1]);
    if (t)
        cover(x, t);
    return true;
}

/* An embedding whose transpose a folded weight could be: evaluation exports write tied weights twice. */
static struct param *
tied_table(struct matcher *x, int weight)
{
    const struct tensor *w = &x->g->t[weight];
    for (int i = 0; i < x->l->p->nparams && !setup_instead(x->l->s, ALTERNATIVE_TRANSPOSED); i++) {
        struct param *q = &x->l->p->params[i];
        if (q->rank == 2 && q->is_table && w->rank == 2 && q->size[0] == w->dims[1].n && q->size[1] == w->dims[0].n) {
            program_assume(x->l->p, ALTERNATIVE_TRANSPOSED,
                           "a weight that constant folding transposed has the shape of the embedding %s: they are "
                           "taken to be tied",
                           q->name);
            return q;
        }
    }
    return NULL;
}

/* torch.nn's own modules call their parameters so, and no buffer. */
static bool
named_weight(const char *name)
{
    const char *last = path_last(name);
    return strncmp(last, "weight", 6) == 0 || strncmp(last, "bias", 4) == 0 || strncmp(last, "original", 8) == 0;
}

/* Whether a weight is read several times that has no name of torch.nn's: x @ w.T, or F.linear(x, w), whose cast
 * autocast keeps for the next. Source: cached_cast in aten/src/ATen/autocast_mode.cpp. */
static bool
is_product(struct matcher *x, const struct node *mm, int weight)
{
    const struct node *t = maker(x, mm->in[1]);
    const struct tensor *w = tensor_at(x, weight);
    if (!x->by_torch || !t || (w->nusers < 2 && tensor_at(x, t->out[0])->nusers < 2) || named_weight(w->name))
        return false;
    program_assume(x->l->p, ALTERNATIVE_PRODUCTS,
                   "a product with a transposed parameter that is read several times, and is no layer's weight, is "
                   "x @ w.T, not F.linear(x, w): the file can't tell them apart");
    return !setup_instead(x->l->s, ALTERNATIVE_PRODUCTS);
}

static void
emit_linear(struct matcher *x, const struct node *n)
{
    bool folded, biased = is(n, "Add");
    const struct node *mm = !biased                                                  ? n
                            : maker(x, n->in[0]) && is(maker(x, n->in[0]), "MatMul") ? maker(x, n->in[0])
                                                                                     : maker(x, n->in[1]);
    assert(mm); /* match_linear's, or match_linear_bias's */
    int weight = linear_weight(x, mm, &folded), bias = !biased ? -1 : n->in[n->in[0] == mm->out[0] ? 1 : 0];
    struct arg in = matcher_arg(x, mm, mm->in[0], "input");
    struct param *q = folded ? tied_table(x, weight) : NULL;
    q = q ? q : matcher_param(x, weight, mm, "weight", folded, false);
    struct arg w = {.kind = ARG_SLOT, .i = q->slot}, b = matcher_arg(x, mm, bias, "bias");
    x->l->slot_of[weight] = q->slot;
    bool product = !biased && is_product(x, mm, weight);
    w = product ? called(x, mm, "aten.t.default", w, none, none, none) : w;
    struct call *c = matcher_call(x, mm, product ? "aten.matmul.default" : "aten.linear.default", product ? 2 : 3);
    c->args[0] = in;
    c->args[1] = w;
    if (!product)
        c->args[2] = b;
    finish(x, c, n->out[0]);
}

/* The product by the square root of the scale that both operands of scaled_dot_product_attention's scores get. */
static const struct node *
scaled(const struct matcher *x, const struct node *mm, int k)
{
    const struct node *mul = only_maker(x, mm, k, "Mul");
    const struct node *s = mul ? maker(x, mul->in[1]) : NULL;
    double v;
    return mul && ((s && is(s, "Sqrt")) || matcher_number(x, mul->in[1], &v)) ? mul : NULL;
}

/* What the mask comes from: itself, a boolean under Where, or nothing for the triangle of is_causal. */
static int
mask_of(const struct matcher *x, int tensor, bool *causal)
{
    const struct node *w = maker(x, tensor);
    *causal = false;
    if (!w || !is(w, "Where"))
        return tensor;
    const struct node *eq = maker(x, w->in[0]), *tri = eq && is(eq, "Equal") ? maker(x, eq->in[0]) : NULL;
    for (int hops = 0; tri && hops < 3 && !is(tri, "Trilu"); hops++)
        tri = tri->nin ? maker(x, tri->in[0]) : NULL;
    if (tri && is(tri, "Trilu")) {
        *causal = true;
        return -1;
    }
    double a, b;
    return matcher_number(x, w->in[1], &a) && matcher_number(x, w->in[2], &b) && a == 0 && isinf(b) ? w->in[0] : tensor;
}

struct sdpa {
    const struct node *qmul, *kmul, *scores, *add, *softmax, *isnan, *guard, *drop;
};

/* Rows that a mask leaves nothing of are 0: torch/onnx/_internal/torchscript_exporter/symbolic_opset14.py. */
static const struct node *
guarded(const struct matcher *x, const struct node *n, struct sdpa *s)
{
    double v;
    s->guard = only_maker(x, n, 0, "Where");
    s->isnan = s->guard ? only_maker(x, s->guard, 0, "IsNaN") : NULL;
    const struct node *m = s->isnan ? maker(x, s->isnan->in[0]) : NULL;
    bool whole = m && is(m, "Softmax") && s->guard->in[2] == s->isnan->in[0] && tensor_at(x, m->out[0])->nusers == 2 &&
                 matcher_number(x, s->guard->in[1], &v) && v == 0;
    if (whole)
        return m;
    s->guard = s->isnan = NULL;
    return only_maker(x, n, 0, "Softmax");
}

static bool
sdpa_parts(const struct matcher *x, const struct node *n, struct sdpa *s)
{
    memset(s, 0, sizeof(*s));
    s->drop = only_maker(x, n, 0, "Dropout");
    s->softmax = guarded(x, s->drop ? s->drop : n, s);
    if (!s->softmax)
        return false;
    s->scores = only_maker(x, s->softmax, 0, "MatMul");
    if (!s->scores && (s->add = only_maker(x, s->softmax, 0, "Add")))
        s->scores = only_maker(x, s->add, 0, "MatMul");
    if (!s->scores)
        return false;
    s->qmul = scaled(x, s->scores, 0);
    s->kmul = scaled(x, s->scores, 1);
    return s->qmul && s->kmul;
}

static bool
match_attention(struct matcher *x, const struct node *n)
{
    struct sdpa s;
    bool causal;
    if (!sdpa_parts(x, n, &s))
        return false;
    const struct node *inner[] = {s.qmul, s.kmul, s.scores, s.add, s.softmax, s.isnan, s.guard, s.drop};
    for (int i = 0; i < COUNT(inner); i++)
        if (inner[i])
            cover(x, inner[i]);
    if (s.add) { /* a triangle's own nodes never run, and a Where over a boolean mask is attention's */
        int t = s.add->in[1];
        const struct node *w = maker(x, t);
        if (mask_of(x, t, &causal) != t && w)
            cover(x, w);
        for (const struct node *m = causal ? w : NULL; m && !node_is(m, OP_SIZES);)
            cover(x, m), m = m->nin ? maker(x, m->in[0]) : NULL;
    }
    return true;
}

static void
emit_attention(struct matcher *x, const struct node *n)
{
    struct sdpa s;
    bool causal = false;
    double p = 0;
    sdpa_parts(x, n, &s);
    assert(s.qmul && s.kmul); /* as when it was matched */
    struct arg q = matcher_arg(x, n, s.qmul->in[0], "query"), k = matcher_arg(x, n, s.kmul->in[0], "key"),
               v = matcher_arg(x, n, n->in[1], "value");
    struct arg mask = s.add ? matcher_arg(x, n, mask_of(x, s.add->in[1], &causal), "attn_mask") : NONE;
    if (s.drop && s.drop->nin > 1)
        matcher_number(x, s.drop->in[1], &p);
    struct call *t = matcher_call(x, n, "aten.transpose.int", 3); /* the file holds key transposed */
    t->args[0] = k;
    t->args[1] = INT(-2);
    t->args[2] = INT(-1);
    k = (struct arg){.kind = ARG_SLOT, .i = t->outs[0]};
    struct call *c = matcher_call(x, n, "aten.scaled_dot_product_attention.default", 6);
    c->args[0] = q;
    c->args[1] = k;
    c->args[2] = v;
    c->args[3] = mask;
    c->args[4] = FLT(p);
    c->args[5] = BOOL(causal);
    finish(x, c, n->out[0]);
}

/* Before opset 17: (x - mean) / sqrt(mean((x - mean)^2) + eps) * weight + bias. */
struct norm {
    const struct node *mul, *div, *sub, *mean, *sqrt, *eps, *var, *pow;
};

static bool
norm_parts(const struct matcher *x, const struct node *n, struct norm *p)
{
    for (int k = 0; k < 2; k++) {
        p->mul = only_maker(x, n, k, "Mul");
        for (int j = 0; p->mul && j < 2; j++) {
            p->div = only_maker(x, p->mul, j, "Div");
            if (!p->div || !matcher_constant(x, p->mul->in[1 - j]) || !matcher_constant(x, n->in[1 - k]))
                continue;
            p->sub = maker(x, p->div->in[0]);
            p->sqrt = maker(x, p->div->in[1]);
            p->mean = p->sub && is(p->sub, "Sub") ? maker(x, p->sub->in[1]) : NULL;
            p->eps = p->sqrt && is(p->sqrt, "Sqrt") ? maker(x, p->sqrt->in[0]) : NULL;
            int at = p->eps && is(p->eps, "Add") ? beside_number(x, p->eps, NAN) : -1;
            p->var = at < 0 ? NULL : maker(x, p->eps->in[at]);
            p->pow = p->var && is(p->var, "ReduceMean") ? maker(x, p->var->in[0]) : NULL;
            if (p->mean && is(p->mean, "ReduceMean") && p->pow && p->mean->in[0] == p->sub->in[0])
                return true;
        }
    }
    return false;
}

static bool
match_layer_norm(struct matcher *x, const struct node *n)
{
    struct norm p;
    if (!norm_parts(x, n, &p))
        return false;
    const struct node *inner[] = {p.mul, p.div, p.sub, p.mean, p.sqrt, p.eps, p.var, p.pow};
    for (int i = 0; i < COUNT(inner); i++)
        cover(x, inner[i]);
    return true;
}

static void
emit_layer_norm(struct matcher *x, const struct node *n)
{
    struct norm p;
    norm_parts(x, n, &p);
    int w = matcher_constant(x, p.mul->in[0]) ? p.mul->in[0] : p.mul->in[1],
        b = matcher_constant(x, n->in[0]) ? n->in[0] : n->in[1];
    struct arg in = matcher_arg(x, n, p.sub->in[0], "input"), weight = matcher_arg(x, n, w, "weight"),
               bias = matcher_arg(x, n, b, "bias");
    struct call *c = matcher_call(x, n, "aten.layer_norm.default", 4);
    int rank = x->g->t[w].rank;
    c->args[0] = in;
    c->args[1] = (struct arg){.kind = ARG_LIST, .n = rank, .list = NEWN(x->l->a, struct arg, rank ? rank : 1)};
    for (int i = 0; i < rank; i++)
        c->args[1].list[i] = INT(x->g->t[w].dims[i].n);
    c->args[2] = weight;
    c->args[3] = bias;
    finish(x, c, n->out[0]);
}

/* What scales or shifts a norm. Where the module has none, the exporter writes ones or zeros as a Constant node, which
 * no parameter is. Source: layer_norm in symbolic_opset17.py, _batchnorm_helper in symbolic_helper.py. */
static struct arg
affine(struct matcher *x, const struct node *n, int tensor, const char *role)
{
    const struct node *m = x->by_torch ? maker(x, tensor) : NULL;
    return m && node_is(m, OP_CONSTANT) ? NONE : matcher_arg(x, n, tensor, role);
}

/* A constant, or the one that an Unsqueeze gives more dimensions; -1 none. */
static int
constant_behind(const struct matcher *x, int tensor)
{
    const struct node *m = maker(x, tensor);
    if (m && is(m, "Unsqueeze") && m->nin)
        tensor = m->in[0];
    return matcher_constant(x, tensor) ? tensor : -1;
}

/* group_norm: Reshape to [N, G, -1], InstanceNormalization, Reshape back, Mul, Add. */
static const struct node *
group_norm_core(const struct matcher *x, const struct node *n, const struct node **mul, const struct node **back)
{
    for (int k = 0; k < 2; k++) {
        *mul = only_maker(x, n, k, "Mul");
        for (int j = 0; *mul && j < 2; j++) {
            *back = only_maker(x, *mul, j, "Reshape");
            const struct node *core = *back ? only_maker(x, *back, 0, "InstanceNormalization") : NULL;
            if (core && only_maker(x, core, 0, "Reshape") && constant_behind(x, (*mul)->in[1 - j]) >= 0 &&
                constant_behind(x, n->in[1 - k]) >= 0)
                return core;
        }
    }
    return NULL;
}

static bool
match_group_norm(struct matcher *x, const struct node *n)
{
    const struct node *mul, *back, *core = group_norm_core(x, n, &mul, &back), *sides[2];
    if (!core)
        return false;
    sides[0] = maker(x, mul->in[mul->in[0] == back->out[0]]);
    sides[1] = maker(x, n->in[n->in[0] == mul->out[0]]);
    for (int i = 0; i < 2; i++)
        if (sides[i] && is(sides[i], "Unsqueeze"))
            cover(x, sides[i]);
    cover(x, mul), cover(x, back), cover(x, core), cover(x, maker(x, core->in[0]));
    return true;
}

static void
emit_group_norm(struct matcher *x, const struct node *n)
{
    const struct node *mul, *back, *core = group_norm_core(x, n, &mul, &back);
    const struct tensor *grouped = tensor_at(x, core->in[0]);
    int w = constant_behind(x, mul->in[mul->in[0] == back->out[0]]),
        b = constant_behind(x, n->in[n->in[0] == mul->out[0]]);
    struct arg in = matcher_arg(x, n, maker(x, core->in[0])->in[0], "input"), weight = affine(x, n, w, "weight"),
               bias = affine(x, n, b, "bias");
    struct call *c = matcher_call(x, n, "aten.group_norm.default", 4);
    c->args[0] = in;
    c->args[1] = INT(grouped->rank > 1 ? grouped->dims[1].n : 1);
    c->args[2] = weight;
    c->args[3] = bias;
    finish(x, c, n->out[0]);
}

/* glu: the first half times the sigmoid of the second. */
static const struct node *
glu_split(const struct matcher *x, const struct node *n, const struct node **gate)
{
    for (int k = 0; k < 2; k++) {
        *gate = only_maker(x, n, 1 - k, "Sigmoid");
        const struct node *split = maker(x, n->in[k]);
        if (*gate && split && is(split, "Split") && split->nout == 2 && split->out[0] == n->in[k] &&
            split->out[1] == (*gate)->in[0] && tensor_at(x, split->out[0])->nusers == 1 &&
            tensor_at(x, split->out[1])->nusers == 1)
            return split;
    }
    return NULL;
}

static bool
match_glu(struct matcher *x, const struct node *n)
{
    const struct node *gate, *split = glu_split(x, n, &gate);
    if (!split)
        return false;
    cover(x, gate), cover(x, split);
    return true;
}

static void
emit_glu(struct matcher *x, const struct node *n)
{
    const struct node *gate, *split = glu_split(x, n, &gate);
    struct arg a = matcher_arg(x, n, split->in[0], "input");
    struct call *c = matcher_call(x, n, "aten.glu.default", 2);
    c->args[0] = a;
    c->args[1] = INT(node_int(split, "axis", -1));
    finish(x, c, n->out[0]);
}

static const struct node *
made_by(const struct matcher *x, const struct node *n, int k, const char *op, int inputs)
{
    const struct node *m = n ? maker(x, n->in[k]) : NULL;
    return m && is(m, op) && m->nin == inputs ? m : NULL;
}

enum { START = 1, END, AXES, INPUTS }; /* of a Slice without steps, which the exporter writes for pieces */

/* Piece k, from 1, of chunk(): from what the piece before ends with to k * ((size + chunks - 1) / chunks), all of it
 * computed from the shape. Returns the node that divides, NULL none. Source: prim_constant_chunk in
 * torch/onnx/_internal/torchscript_exporter/symbolic_opset11.py. */
static const struct node *
chunk_of(const struct matcher *x, const struct node *n, double *k)
{
    const struct node *end = is(n, "Slice") && n->nin == INPUTS ? made_by(x, n, END, "Mul", 2) : NULL;
    const struct node *by = made_by(x, end, 0, "Div", 2),
                      *size = made_by(x, made_by(x, by, 0, "Add", 2), 0, "Gather", 2),
                      *shape = made_by(x, size, 0, "Shape", 1);
    bool own = shape && shape->in[0] == n->in[0] && size->in[1] == n->in[AXES];
    return own && matcher_number(x, end->in[1], k) ? by : NULL;
}

/* The first of the pieces stands for the call. */
static bool
match_chunk(struct matcher *x, const struct node *n)
{
    enum { MOST = 1024 }; /* pieces: a file that has few may say any number */
    double k, other, chunks, axis;
    const struct node *by = x->by_torch ? chunk_of(x, n, &k) : NULL;
    if (!by || !matcher_number(x, by->in[1], &chunks) || !matcher_number(x, n->in[3], &axis) ||
        !(chunks >= 1 && chunks <= MOST && k >= 1 && k <= chunks))
        return false;
    const struct tensor *t = tensor_at(x, n->in[0]);
    for (int i = 0; i < t->nusers; i++) {
        const struct node *m = &x->g->n[t->users[i]];
        if (m < n && chunk_of(x, m, &other) == by) {
            cover(x, n);
            return false;
        }
    }
    return true;
}

static void
emit_chunk(struct matcher *x, const struct node *n)
{
    double k, chunks, axis;
    const struct node *by = chunk_of(x, n, &k);
    const struct tensor *t = tensor_at(x, n->in[0]);
    struct arg in = matcher_arg(x, n, n->in[0], "input");
    if (!matcher_number(x, by->in[1], &chunks) || !matcher_number(x, n->in[3], &axis))
        return;
    struct call *c = matcher_call(x, n, "aten.chunk.default", 3);
    c->args[0] = in;
    c->args[1] = INT(to_int(chunks));
    c->args[2] = INT(to_int(axis));
    lower_results(x->l, c, (int)chunks);
    for (int i = 0; i < t->nusers; i++) {
        const struct node *m = &x->g->n[t->users[i]];
        if (chunk_of(x, m, &k) == by && k >= 1 && k <= c->nouts)
            set_slot(x, m->out[0], c->outs[(int)k - 1]);
    }
}

/* The sum that a piece of split() ends with, of what the piece before ends with and its own size, where the trace
 * computed sizes; NULL none. Source: split in torch/onnx/_internal/torchscript_exporter/symbolic_opset13.py. */
static const struct node *
sum_at(const struct matcher *x, int end)
{
    const struct node *sum = maker(x, end);
    return sum && is(sum, "Add") && sum->nin == 2 && made_by(x, sum, 1, "Unsqueeze", 2) ? sum : NULL;
}

static bool
is_zero(const struct matcher *x, int tensor)
{
    double v;
    return matcher_number(x, tensor, &v) && v == 0;
}

static bool
is_piece(const struct matcher *x, const struct node *n)
{
    const struct node *sum = x->by_torch && is(n, "Slice") && n->nin == INPUTS ? sum_at(x, n->in[END]) : NULL;
    return sum && (n->in[START] == sum->in[0] || (is_zero(x, n->in[START]) && is_zero(x, sum->in[0])));
}

/* The piece of the tensor that n reads which ends there; NULL nobody reads it. */
static const struct node *
piece_to(const struct matcher *x, const struct node *n, int end)
{
    const struct tensor *t = tensor_at(x, end);
    for (int i = 0; i < t->nusers; i++) {
        const struct node *m = &x->g->n[t->users[i]];
        if (is_piece(x, m) && m->in[0] == n->in[0] && m->in[END] == end)
            return m;
    }
    return NULL;
}

/* Where the piece behind ends; -1 none is. */
static int
next_end(const struct matcher *x, int end)
{
    const struct tensor *t = tensor_at(x, end);
    for (int i = 0; i < t->nusers; i++) {
        const struct node *m = &x->g->n[t->users[i]];
        if (is(m, "Add") && m->nin == 2 && m->in[0] == end && sum_at(x, m->out[0]) == m)
            return m->out[0];
    }
    return -1;
}

/* Ends and sizes of all pieces of the call that n is the first read piece of; there are none where they are unknown. */
struct pieces {
    int64_t *size;
    int *end, n, cap_size, cap_end;
};

static struct pieces
pieces_of(const struct matcher *x, const struct node *n)
{
    struct arena *a = x->l->a;
    const struct tensor *t = tensor_at(x, n->in[0]);
    struct pieces p = {.n = 0};
    double axis, size;
    bool known = matcher_number(x, n->in[AXES], &axis) && axis < t->rank && axis >= -t->rank, reached = false;
    int64_t left = known ? t->dims[(int)axis + (axis < 0 ? t->rank : 0)].n : -1;
    int end = n->in[END], nsizes = 0;
    for (const struct node *s; (s = sum_at(x, sum_at(x, end)->in[0]));)
        end = s->out[0];
    known &= is_zero(x, sum_at(x, end)->in[0]);
    for (; known && end >= 0; end = next_end(x, end)) {
        known = matcher_number(x, maker(x, sum_at(x, end)->in[1])->in[0], &size) && size >= 0 && size <= left;
        left -= known ? to_int(size) : 0;
        reached |= end == n->in[END];
        *PUSH(a, p.end, p.n, p.cap_end) = end;
        *PUSH(a, p.size, nsizes, p.cap_size) = known ? to_int(size) : 0;
    }
    if (left > 0) { /* of what nobody reads */
        *PUSH(a, p.end, p.n, p.cap_end) = -1;
        *PUSH(a, p.size, nsizes, p.cap_size) = left;
    }
    return known && reached ? p : (struct pieces){.n = 0};
}

/* The first of the pieces stands for the call, and covers the others. */
static bool
match_pieces(struct matcher *x, const struct node *n)
{
    if (!is_piece(x, n) || piece_to(x, n, n->in[END]) != n)
        return false;
    for (const struct node *s = sum_at(x, n->in[END]); (s = sum_at(x, s->in[0]));)
        if (piece_to(x, n, s->out[0]))
            return false;
    struct pieces p = pieces_of(x, n);
    for (int i = 0; i < p.n; i++) {
        const struct node *m = piece_to(x, n, p.end[i]);
        if (m && m != n)
            cover(x, m);
    }
    return p.n > 0;
}

static void
emit_pieces(struct matcher *x, const struct node *n)
{
    struct pieces p = pieces_of(x, n);
    struct arg in = matcher_arg(x, n, n->in[0], "input");
    double axis = 0;
    matcher_number(x, n->in[AXES], &axis);
    struct call *c = matcher_call(x, n, "aten.split_with_sizes.default", 3);
    c->args[0] = in;
    c->args[1] = matcher_ints(x, p.n, p.size);
    c->args[2] = INT(to_int(axis));
    lower_results(x->l, c, p.n);
    for (int i = 0; i < p.n; i++) {
        const struct node *m = piece_to(x, n, p.end[i]);
        if (m)
            set_slot(x, m->out[0], c->outs[i]);
    }
}

/* batch_norm without running statistics: the exporter writes those of the batch, which the operator itself computes.
 * Source: _batchnorm_helper in symbolic_helper.py. */
static bool
batch_statistics(const struct matcher *x, const struct node *n, const struct node **mean, const struct node **var)
{
    *mean = n->nin > 4 ? maker(x, n->in[3]) : NULL;
    *var = n->nin > 4 ? maker(x, n->in[4]) : NULL;
    const struct node *turn = *mean && is(*mean, "ReduceMean") ? maker(x, (*mean)->in[0]) : NULL,
                      *square = *var && is(*var, "ReduceMean") ? only_maker(x, *var, 0, "Mul") : NULL,
                      *sub = square && square->in[0] == square->in[1] ? maker(x, square->in[0]) : NULL,
                      *shape = turn && is(turn, "Transpose") ? maker(x, turn->in[0]) : NULL;
    return sub && is(sub, "Sub") && turn && shape && sub->in[0] == turn->out[0] && is(shape, "Reshape") &&
           shape->in[0] == n->in[0];
}

static bool
match_batch_statistics(struct matcher *x, const struct node *n)
{
    const struct node *mean, *var;
    if (!batch_statistics(x, n, &mean, &var))
        return false;
    const struct node *square = maker(x, var->in[0]), *sub = maker(x, square->in[0]), *turn = maker(x, mean->in[0]);
    const struct node *inner[] = {mean, var, square, sub, maker(x, sub->in[1]), turn, maker(x, turn->in[0])};
    for (int i = 0; i < COUNT(inner); i++)
        if (inner[i])
            cover(x, inner[i]);
    return true;
}

static void emit_batch_norm(struct matcher *x, const struct node *n, const char *target);

static void
emit_batch_statistics(struct matcher *x, const struct node *n)
{
    emit_batch_norm(x, n, NULL);
}

/* weight_norm: v over its norm, times g. The fused operator runs where the norm leaves the first or the last dimension.
 * Source: _weight_norm in symbolic_opset9.py and in aten/src/ATen/native/WeightNorm.cpp. */
static const struct node *
weight_norm_parts(const struct matcher *x, const struct node *n, const struct node **norm)
{
    const struct node *div = only_maker(x, n, 0, "Div");
    *norm = div ? only_maker(x, div, 1, "ReduceL2") : NULL;
    if (!*norm || (*norm)->in[0] != div->in[0] || !matcher_constant(x, div->in[0]) || !matcher_constant(x, n->in[1]))
        return NULL;
    const struct tensor *v = tensor_at(x, div->in[0]), *g = tensor_at(x, n->in[1]), *of = tensor_at(x, (*norm)->out[0]);
    bool left = v->rank > 1 && of->rank == v->rank && g->rank == v->rank;
    int kept = 0;
    for (int i = 0; i < v->rank && left; i++) {
        left = of->dims[i].n == g->dims[i].n;
        kept = of->dims[i].n != 1 ? i : kept;
        left &= of->dims[i].n == 1 || ((i == 0 || i == v->rank - 1) && i == kept && of->dims[i].n == v->dims[i].n);
    }
    for (int i = 0; i < kept && left; i++)
        left = of->dims[i].n == 1;
    return left ? div : NULL;
}

static bool
match_weight_norm(struct matcher *x, const struct node *n)
{
    const struct node *norm, *div = weight_norm_parts(x, n, &norm);
    if (!div)
        return false;
    cover(x, div), cover(x, norm);
    return true;
}

static void
emit_weight_norm(struct matcher *x, const struct node *n)
{
    const struct node *norm, *div = weight_norm_parts(x, n, &norm);
    struct arg v = matcher_arg(x, n, div->in[0], "v"), g = matcher_arg(x, n, n->in[1], "g");
    struct call *c = matcher_call(x, n, "aten._weight_norm_interface.default", 2);
    c->args[0] = v;
    c->args[1] = g;
    finish(x, c, n->out[0]);
}

/* One step of LSTMCell: h = sigmoid(o) * tanh(c), c = sigmoid(f) * cx + sigmoid(i) * tanh(g), of a split sum of two
 * products. */
struct cell {
    const struct node *out, *tanh, *state, *keep, *add, *gate[4], *split, *gates, *product[2];
    int cx;
};

static bool
sigmoid_beside(const struct matcher *x, const struct node *mul, const char *other, const struct node **s,
               const struct node **o)
{
    for (int k = 0; k < 2 && mul->nin == 2; k++) {
        *s = only_maker(x, mul, k, "Sigmoid");
        *o = other ? only_maker(x, mul, 1 - k, other) : NULL;
        if (*s && (!other || *o))
            return true;
    }
    return false;
}

static bool
cell_parts(const struct matcher *x, const struct node *n, struct cell *p)
{
    const struct node *none;
    memset(p, 0, sizeof(*p));
    p->out = n;
    if (!sigmoid_beside(x, n, "Tanh", &p->gate[3], &p->tanh))
        return false;
    p->state = maker(x, p->tanh->in[0]);
    for (int k = 0; p->state && is(p->state, "Add") && k < 2 && !p->product[0]; k++) {
        p->add = only_maker(x, p->state, k, "Mul");
        p->keep = only_maker(x, p->state, 1 - k, "Mul");
        if (!p->add || !p->keep || !sigmoid_beside(x, p->add, "Tanh", &p->gate[0], &p->gate[2]) ||
            !sigmoid_beside(x, p->keep, NULL, &p->gate[1], &none))
            continue;
        p->cx = p->keep->in[p->keep->in[0] == p->gate[1]->out[0]];
        p->split = maker(x, p->gate[0]->in[0]);
        p->gates = p->split && is(p->split, "Split") && p->split->nout == 4 ? only_maker(x, p->split, 0, "Add") : NULL;
        for (int g = 0; g < 4 && p->gates; g++)
            if (maker(x, p->gate[g]->in[0]) != p->split)
                p->gates = NULL;
        const struct node *h = p->gates ? only_maker(x, p->gates, 0, "Gemm") : NULL,
                          *i = p->gates ? only_maker(x, p->gates, 1, "Gemm") : NULL;
        if (h && i && h->nin > 2 && i->nin > 2 && node_int(h, "transB", 0) && node_int(i, "transB", 0)) {
            p->product[0] = i;
            p->product[1] = h;
        }
    }
    return p->product[0];
}

static bool
match_lstm_cell(struct matcher *x, const struct node *n)
{
    struct cell p;
    if (!cell_parts(x, n, &p))
        return false;
    const struct node *inner[] = {p.tanh,    p.state,   p.keep,  p.add,   p.gate[0],    p.gate[1],
                                  p.gate[2], p.gate[3], p.split, p.gates, p.product[0], p.product[1]};
    for (int i = 0; i < COUNT(inner); i++)
        cover(x, inner[i]);
    return true;
}

static void
emit_lstm_cell(struct matcher *x, const struct node *n)
{
    struct cell p;
    struct arg a[5];
    cell_parts(x, n, &p);
    for (int i = 0; i < 2; i++) {
        const struct node *g = p.product[i];
        assert(g); /* as when it was matched */
        struct arg in = matcher_arg(x, g, g->in[0], "input"), w = matcher_arg(x, g, g->in[1], "weight");
        a[3 + i] = matcher_arg(x, g, g->in[2], "bias");
        struct call *c = matcher_call(x, g, "aten.linear.default", 2);
        c->args[0] = in;
        c->args[1] = w;
        a[i] = (struct arg){.kind = ARG_SLOT, .i = c->outs[0]};
    }
    a[2] = matcher_arg(x, p.keep, p.cx, "cx");
    struct call *c = matcher_call(x, n, "aten._thnn_fused_lstm_cell.default", 5);
    memcpy(c->args, a, sizeof(a));
    lower_results(x->l, c, 2);
    finish(x, c, n->out[0]);
    set_slot(x, p.state->out[0], c->outs[1]);
}

/* index_add: what is added is scattered over zeros, index and source expanded to the sizes of one another. Source:
 * index_add in torch/onnx/_internal/torchscript_exporter/symbolic_opset9.py. */
static const struct node *
scattered(const struct matcher *x, const struct node *n, const struct node **index, const struct node **source)
{
    const struct node *scatter = only_maker(x, n, 1, "ScatterElements");
    *index = scatter ? maker(x, scatter->in[1]) : NULL;
    *source = scatter ? maker(x, scatter->in[2]) : NULL;
    bool fits =
        *index && *source && is(*index, "Expand") && is(*source, "Expand") && matcher_constant(x, scatter->in[0]);
    return fits ? scatter : NULL;
}

static bool
match_index_add(struct matcher *x, const struct node *n)
{
    const struct node *index, *source, *scatter = scattered(x, n, &index, &source);
    if (!scatter)
        return false;
    cover(x, scatter), cover(x, index), cover(x, source);
    for (const struct node *u = maker(x, index->in[0]); u && is(u, "Unsqueeze"); u = maker(x, u->in[0]))
        cover(x, u);
    return true;
}

static void
emit_index_add(struct matcher *x, const struct node *n)
{
    const struct node *index, *source, *scatter = scattered(x, n, &index, &source);
    /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): it matched */
    int from = index->in[0];
    for (const struct node *u = maker(x, from); u && is(u, "Unsqueeze"); u = maker(x, u->in[0]))
        from = u->in[0];
    struct arg self, at = matcher_arg(x, n, from, "index"), added = matcher_arg(x, n, source->in[0], "source");
    const struct node *made = maker(x, n->in[0]);
    if (made && node_is(made, OP_CONSTANT)) /* zeros_like of what has fixed sizes */
        self = matcher_folded(x, n, n->in[0]);
    else
        self = matcher_arg(x, n, n->in[0], "self");
    struct call *c = matcher_call(x, n, "aten.index_add.default", 4);
    c->args[0] = self;
    c->args[1] = INT(node_int(scatter, "axis", 0));
    c->args[2] = at;
    c->args[3] = added;
    finish(x, c, n->out[0]);
}

/* What scatter_add adds: the source is cut to the index's sizes, where it may be larger; -1 none is added. Source:
 * scatter_add in torch/onnx/_internal/torchscript_exporter/symbolic_opset16.py. */
static int
added_source(const struct matcher *x, const struct node *n, const struct node **cut)
{
    const struct attr *a = node_attr(n, "reduction");
    *cut = only_maker(x, n, 2, "Slice");
    const struct node *sizes = *cut && (*cut)->nin == 3 ? maker(x, (*cut)->in[2]) : NULL;
    if (!x->by_torch || !a || !a->s || strcmp(a->s, "add") != 0)
        return -1;
    if (sizes && is(sizes, "Shape") && sizes->in[0] == n->in[1])
        return (*cut)->in[0];
    *cut = NULL;
    return n->in[2];
}

static bool
match_scatter_add(struct matcher *x, const struct node *n)
{
    const struct node *cut;
    if (added_source(x, n, &cut) < 0)
        return false;
    const struct node *made = only_maker(x, n, 0, "ConstantOfShape");
    if (cut)
        cover(x, cut);
    if (made)
        cover(x, made);
    return true;
}

/* Zeros of which nothing else is read are added to in place, which takes them of the source's type: "scatter_add_". */
static void
emit_scatter_add(struct matcher *x, const struct node *n)
{
    const struct node *cut;
    struct arg index = matcher_arg(x, n, n->in[1], "index"),
               source = matcher_arg(x, n, added_source(x, n, &cut), "src");
    const struct node *made = only_maker(x, n, 0, "ConstantOfShape");
    struct arg self;
    if (made) {
        struct call *zeros = matcher_call(x, n, "aten.new_zeros.default", 1);
        zeros->args[0] = source;
        lower_sizes(x->l, tensor_at(x, n->out[0]), &zeros->rank, &zeros->size);
        self = (struct arg){.kind = ARG_SLOT, .i = zeros->outs[0]};
    } else {
        self = matcher_arg(x, n, n->in[0], "self");
    }
    struct call *c = matcher_call(x, n, "aten.scatter_add.default", 4);
    if (made)
        lower_in_place(x->l, c);
    c->args[0] = self;
    c->args[1] = INT(node_int(n, "axis", 0));
    c->args[2] = index;
    c->args[3] = source;
    finish(x, c, n->out[0]);
}

/* The node that turns what n reads, which is no parameter. */
static const struct node *
turned_by(const struct matcher *x, const struct node *n)
{
    const struct node *turn = x->by_torch ? maker(x, n->in[0]) : NULL;
    return turn && node_call(turn) == CALL_PERMUTE && !matcher_constant(x, turn->in[0]) ? turn : NULL;
}

static struct arg
perhaps_contiguous(struct matcher *x, const struct node *n, struct arg turned)
{
    program_assume(x->l->p, ALTERNATIVE_TURNED,
                   "what is turned before a convolution or a view is not made contiguous: the file can't tell");
    return turned.kind == ARG_SLOT && setup_instead(x->l->s, ALTERNATIVE_TURNED)
               ? called(x, n, "aten.contiguous.default", turned, none, none, none)
               : turned;
}

/* Whether what was dense before it was turned has these sizes as a view: what becomes one dimension stood side by side
 * before. */
static bool
views_turned(const struct node *turn, const struct tensor *t, const struct tensor *out)
{
    const struct attr *perm = node_attr(turn, "perm");
    if (!perm || perm->type != ATTR_INTS || perm->n != t->rank)
        return false;
    for (int i = 0, o = 0; i < t->rank && o < out->rank;) {
        int64_t have = 1, want = out->dims[o++].n;
        for (int64_t last = -1; have < want && i < t->rank; i++) {
            if (t->dims[i].n < 1)
                return false;
            if (have > 1 && t->dims[i].n > 1 && perm->ints[i] != last + 1)
                return false;
            last = t->dims[i].n > 1 ? perm->ints[i] : last;
            have *= t->dims[i].n;
        }
        while (want < have && o < out->rank)
            want *= out->dims[o++].n;
        if (want != have)
            return false;
    }
    return true;
}

/* Whether a turn leaves the order of all dimensions that have more than one element. */
static bool
keeps_order(const struct node *turn, const struct tensor *t)
{
    const struct attr *perm = node_attr(turn, "perm");
    int64_t last = -1;
    bool kept = perm && perm->type == ATTR_INTS && perm->n == t->rank;
    for (int i = 0; i < t->rank && kept; i++) {
        kept = t->dims[i].n == 1 || perm->ints[i] > last;
        last = t->dims[i].n == 1 ? last : perm->ints[i];
    }
    return kept;
}

/* Query, key and value, which nn.MultiheadAttention turns and views without a copy. Source:
 * multi_head_attention_forward in torch/nn/functional.py. */
static bool
turns_heads(const struct matcher *x, const struct node *turn, const struct node *view)
{
    static const int64_t turned[] = {1, 0, 2};
    const struct attr *perm = node_attr(turn, "perm");
    const struct node *heads = maker(x, turn->in[0]);
    return perm && perm->type == ATTR_INTS && perm->n == COUNT(turned) &&
           memcmp(perm->ints, turned, sizeof(turned)) == 0 && heads && is(heads, "Reshape") &&
           tensor_at(x, heads->in[0])->rank == COUNT(turned) && tensor_at(x, view->out[0])->rank == COUNT(turned) + 1;
}

/* A copy leaves no node, and none is needed for these sizes: people write contiguous() before view(). */
static bool
match_turned_view(struct matcher *x, const struct node *n)
{
    const struct node *turn = turned_by(x, n);
    const struct tensor *t = tensor_at(x, n->in[0]);
    return turn && !keeps_order(turn, t) && views_turned(turn, t, tensor_at(x, n->out[0])) && !turns_heads(x, turn, n);
}

static void
emit_turned_view(struct matcher *x, const struct node *n)
{
    struct arg in = perhaps_contiguous(x, n, matcher_arg(x, n, n->in[0], "input"));
    struct call *c = matcher_call(x, n, "aten.reshape.default", 1);
    c->args[0] = in;
    finish(x, c, n->out[0]);
}

/* Query, key and value of nn.MultiheadAttention in one tensor, or key and value of what is attended to:
 * proj.unflatten(-1, (3, E)).unsqueeze(0).transpose(0, -2).squeeze(-2).contiguous(). Source: _in_projection_packed in
 * torch/nn/functional.py, from 2.0 on. */
static bool
match_packed_projection(struct matcher *x, const struct node *n)
{
    static const int64_t turned[] = {3, 1, 2, 0, 4};
    const struct node *turn = only_maker(x, n, 0, "Transpose");
    const struct attr *perm = turn ? node_attr(turn, "perm") : NULL;
    const struct tensor *from = turn ? tensor_at(x, turn->in[0]) : NULL, *to = tensor_at(x, n->out[0]);
    return perm && perm->type == ATTR_INTS && perm->n == COUNT(turned) &&
           memcmp(perm->ints, turned, sizeof(turned)) == 0 && from->rank == COUNT(turned) && from->dims[0].n == 1 &&
           (from->dims[3].n == 3 || from->dims[3].n == 2) && to->rank == COUNT(turned) - 1 &&
           to->dims[0].n == from->dims[3].n;
}

static void
emit_packed_projection(struct matcher *x, const struct node *n)
{
    struct arg a = matcher_arg(x, n, n->in[0], "input");
    struct call *c = matcher_call(x, n, "aten.squeeze.dim", 2);
    c->args[0] = a;
    c->args[1] = INT(-2);
    int squeezed = c->outs[0];
    c = matcher_call(x, n, "aten.contiguous.default", 1);
    c->args[0] = (struct arg){.kind = ARG_SLOT, .i = squeezed};
    finish(x, c, n->out[0]);
}

/* In the order in which they are tried: a larger pattern before one that could be its part. */
static const struct pattern {
    const char *root;
    int whole; /* opset from which PyTorch's exporter writes one node: the pattern was written by hand; 0 none */
    bool (*match)(struct matcher *x, const struct node *n); /* covers its inner nodes */
    void (*emit)(struct matcher *x, const struct node *n);
} patterns[] = {
    {"MatMul", 0, match_attention, emit_attention},
    {"Add", 17 /* torch.onnx's symbolic_opset17.py */, match_layer_norm, emit_layer_norm},
    {"Add", 0, match_group_norm, emit_group_norm},
    {"Add", 0, match_index_add, emit_index_add},
    {"ScatterElements", 0, match_scatter_add, emit_scatter_add},
    {"Add", 0, match_linear_bias, emit_linear},
    {"MatMul", 0, match_linear, emit_linear},
    {"Mul", 0, match_lstm_cell, emit_lstm_cell},
    {"BatchNormalization", 0, match_batch_statistics, emit_batch_statistics},
    {"Mul", 0, match_weight_norm, emit_weight_norm},
    {"Mul", 0, match_glu, emit_glu},
    {"Squeeze", 0, match_packed_projection, emit_packed_projection},
    {"Reshape", 0, match_turned_view, emit_turned_view},
    {"Slice", 0, match_chunk, emit_chunk},
    {"Slice", 0, match_pieces, emit_pieces},
};

/* ---- one to one -------------------------------------------------------------------------------------------------- */

/* What Python runs when a number stands first, the reflected operator, and when one stands second. Source:
 * torch/_tensor.py, __rsub__, __rdiv__. */
static const struct reflected {
    const char *target, *instead;
    const char *first;  /* run on the tensor before; NULL nothing */
    const char *second; /* NULL the target */
} reflections[] = {
    {"aten.add.Tensor", "aten.add.Tensor"},
    {"aten.mul.Tensor", "aten.mul.Tensor"},
    {"aten.sub.Tensor", "aten.rsub.Scalar"},
    {"aten.div.Tensor", "aten.mul.Scalar", "aten.reciprocal.default"},
    {"aten.lt.Tensor", "aten.gt.Scalar", NULL, "aten.lt.Scalar"},
    {"aten.le.Tensor", "aten.ge.Scalar", NULL, "aten.le.Scalar"},
    {"aten.gt.Tensor", "aten.lt.Scalar", NULL, "aten.gt.Scalar"},
    {"aten.ge.Tensor", "aten.le.Scalar", NULL, "aten.ge.Scalar"},
    {"aten.eq.Tensor", "aten.eq.Scalar", NULL, "aten.eq.Scalar"},
};

/* Before opset 7: the second input begins at an axis of the first, by default so that both end together. */
static struct arg
from_axis(struct matcher *x, const struct node *n, struct arg b)
{
    const struct tensor *to = tensor_at(x, n->in[0]), *t = tensor_at(x, n->in[1]);
    int64_t size[MAX_PADS], axis = node_int(n, "axis", to->rank - t->rank);
    int rank = to->rank - (int)axis;
    if (t->rank < 0 || axis < 0 || axis > to->rank || rank <= t->rank || rank > MAX_PADS)
        return b;
    for (int i = 0; i < rank; i++)
        size[i] = i < t->rank ? t->dims[i].n : 1;
    struct call *c = matcher_call(x, n, "aten.reshape.default", 2);
    c->args[0] = b;
    c->args[1] = matcher_ints(x, rank, size);
    return (struct arg){.kind = ARG_SLOT, .i = c->outs[0]};
}

/* What the exporter computed when it wrote the file, and no module of torch.nn reads as its weight, was a parameter, a
 * part of one, several or a buffer. */
static void
doubt_computed(struct matcher *x, int tensor, struct arg a)
{
    struct param *q = a.kind == ARG_SLOT && matcher_renamed(x, tensor) ? program_param(x->l->p, (int)a.i) : NULL;
    if (!q || q->kind != PARAM_TRAINED)
        return;
    program_assume(x->l->p, ALTERNATIVE_COMPUTED,
                   "what was computed when the file was written, and no layer's weight, is a parameter");
    q->kind = setup_instead(x->l->s, ALTERNATIVE_COMPUTED) ? PARAM_BUFFER : q->kind;
}

static void
emit_first(struct matcher *x, const struct node *n, const char *target)
{
    struct arg a = matcher_arg(x, n, n->in[0], "input");
    struct call *c = matcher_call(x, n, target, 1);
    c->args[0] = a;
    finish(x, c, n->out[0]);
}

/* All inputs in order. Source of squares: square in torch/onnx/_internal/torchscript_exporter/symbolic_opset9.py. */
static void
emit_inputs(struct matcher *x, const struct node *n, const char *target)
{
    struct arg a[MAX_ARGS];
    int k = n->nin < MAX_ARGS ? n->nin : MAX_ARGS;
    for (int i = 0; i < k; i++) {
        a[i] = matcher_arg(x, n, n->in[i], "constant");
        doubt_computed(x, n->in[i], a[i]);
    }
    if (k == 2 && node_int(n, "broadcast", 0) && a[1].kind == ARG_SLOT)
        a[1] = from_axis(x, n, a[1]);
    if (k == 2 && x->by_torch && n->in[0] == n->in[1] && is(n, "Mul") && a[0].kind == ARG_SLOT) {
        program_assume(x->l->p, ALTERNATIVE_SQUARES,
                       "x * x is no square(x), which autocast computes in fp32: the file can't tell them apart");
        if (setup_instead(x->l->s, ALTERNATIVE_SQUARES)) {
            emit_first(x, n, "aten.square.default");
            return;
        }
    }
    const struct reflected *r = NULL;
    for (int i = 0; i < COUNT(reflections) && k == 2 && !r; i++)
        r = strcmp(reflections[i].target, target) == 0 ? &reflections[i] : NULL;
    if (r && a[0].kind == ARG_SLOT && is_numeral(&a[1])) {
        target = r->second ? r->second : target;
    } else if (r && a[1].kind == ARG_SLOT && is_numeral(&a[0])) {
        struct arg number = a[0];
        a[0] = a[1];
        a[1] = number;
        if (r->first) {
            struct call *c = matcher_call(x, n, r->first, 1);
            c->args[0] = a[0];
            a[0].i = c->outs[0];
        }
        target = r->instead;
    }
    struct call *c = matcher_call(x, n, target, k);
    memcpy(c->args, a, sizeof(*a) * (size_t)k);
    finish(x, c, n->out[0]);
}

static void
emit_alias(struct matcher *x, const struct node *n, const char *target)
{
    (void)target;
    struct arg a = matcher_arg(x, n, n->in[0], "input");
    if (a.kind == ARG_SLOT)
        set_slot(x, n->out[0], (int)a.i);
}

/* An Identity of an initializer is a second parameter of equal content; one that the exporter computed is made where it
 * is read. */
static void
emit_identity(struct matcher *x, const struct node *n, const char *target)
{
    const struct tensor *from = tensor_at(x, n->in[0]), *to = tensor_at(x, n->out[0]);
    if (!from->is_initializer || !dtypes[from->dtype].is_float) {
        emit_alias(x, n, target);
        return;
    }
    if (matcher_renamed(x, n->out[0]))
        return;
    struct param *q = lower_param(x->l, to->name, PARAM_TRAINED);
    lower_param_shape(x->l, q, from);
    names_put(x->params, to->name, x->l->p->nparams - 1);
    set_slot(x, n->out[0], q->slot);
}

static void
emit_axis(struct matcher *x, const struct node *n, const char *target)
{
    struct arg a = matcher_arg(x, n, n->in[0], "input");
    struct call *c = matcher_call(x, n, target, 2);
    c->args[0] = a;
    c->args[1] = INT(node_int(n, "axis", -1));
    finish(x, c, n->out[0]);
}

static void
emit_permute(struct matcher *x, const struct node *n, const char *target)
{
    struct arg a = matcher_arg(x, n, n->in[0], "weight");
    struct call *c = matcher_call(x, n, target, 2);
    c->args[0] = a;
    c->args[1] = attr_ints(x, n, "perm", 0, 0);
    if (c->args[1].kind == ARG_NONE) {
        int rank = tensor_at(x, n->in[0])->rank;
        int64_t v[MAX_PADS];
        for (int i = 0; i < rank && i < MAX_PADS; i++)
            v[i] = rank - 1 - i;
        c->args[1] = matcher_ints(x, rank < MAX_PADS ? rank : MAX_PADS, v);
    }
    finish(x, c, n->out[0]);
}

static void
emit_slice(struct matcher *x, const struct node *n, const char *target)
{
    enum { MOST = MAX_RANK };
    int64_t v[4][MOST];
    int count[4];
    static const char *const names[] = {"starts", "ends", "axes", "steps"};
    for (int k = 0; k < 4; k++) {
        const struct attr *a = node_attr(n, names[k]);
        a = a && a->type == ATTR_INTS && a->ints ? a : NULL;
        count[k] = a ? (a->n < MOST ? a->n : MOST) : k + 1 < n->nin ? matcher_integers(x, n->in[k + 1], v[k], MOST) : 0;
        for (int i = 0; a && i < count[k]; i++)
            v[k][i] = a->ints[i];
    }
    struct arg in = matcher_arg(x, n, n->in[0], "constant");
    int axes = count[0] > 0 ? count[0] : 1;
    if (count[3] > 0 && v[3][0] == -1) { /* no slice of Python's. Source: flip in symbolic_opset9.py */
        struct call *c = matcher_call(x, n, "aten.flip.default", 2);
        c->args[0] = in;
        c->args[1] = matcher_ints(x, count[2], v[2]);
        finish(x, c, n->out[0]);
        return;
    }
    for (int i = 0; i < axes; i++) {
        struct call *c = matcher_call(x, n, target, 5);
        c->args[0] = in;
        c->args[1] = INT(i < count[2] ? v[2][i] : i);
        c->args[2] = INT(i < count[0] ? v[0][i] : 0);
        c->args[3] = INT(i < count[1] ? v[1][i] : INT64_MAX);
        c->args[4] = INT(i < count[3] ? v[3][i] : 1);
        in = (struct arg){.kind = ARG_SLOT, .i = c->outs[0]};
        if (i == axes - 1)
            finish(x, c, n->out[0]);
    }
}

/* A table of parameters read by indices is an embedding; a constant index selects; else index_select. */
static void
emit_gather(struct matcher *x, const struct node *n, const char *target)
{
    double v;
    const struct tensor *table = tensor_at(x, n->in[0]), *index = tensor_at(x, n->in[1]);
    bool embedding = (table->is_initializer || names_find(x->params, table->name) >= 0) && table->rank == 2 &&
                     dtypes[table->dtype].is_float && node_int(n, "axis", 0) == 0;
    struct arg a = matcher_arg(x, n, n->in[0], "weight");
    if (matcher_number(x, n->in[1], &v) && index->rank == 0) {
        struct call *c = matcher_call(x, n, "aten.select.int", 3);
        c->args[0] = a;
        c->args[1] = INT(node_int(n, "axis", 0));
        c->args[2] = INT(to_int(v));
        finish(x, c, n->out[0]);
        return;
    }
    struct arg i = matcher_arg(x, n, n->in[1], "index");
    struct call *c = matcher_call(x, n,
                                  embedding         ? "aten.embedding.default"
                                  : index->rank > 1 ? "aten.index.Tensor"
                                                    : target,
                                  3);
    c->args[0] = a;
    if (embedding) {
        x->l->p->params[names_find(x->params, table->name)].is_table = true;
        c->args[1] = i;
    } else if (index->rank > 1) {
        c->args[1] = (struct arg){.kind = ARG_LIST, .n = 1, .list = NEWN(x->l->a, struct arg, 1)};
        c->args[1].list[0] = i;
    } else {
        c->args[1] = INT(node_int(n, "axis", 0));
        c->args[2] = i;
    }
    finish(x, c, n->out[0]);
}

static void
emit_gather_elements(struct matcher *x, const struct node *n, const char *target)
{
    struct arg a = matcher_arg(x, n, n->in[0], "input"), i = matcher_arg(x, n, n->in[1], "index");
    struct call *c = matcher_call(x, n, target, 3);
    c->args[0] = a;
    c->args[1] = INT(node_int(n, "axis", 0));
    c->args[2] = i;
    finish(x, c, n->out[0]);
}

static void
emit_concat(struct matcher *x, const struct node *n, const char *target)
{
    struct arg l = {.kind = ARG_LIST, .n = n->nin, .list = NEWN(x->l->a, struct arg, n->nin ? n->nin : 1)};
    for (int i = 0; i < n->nin; i++)
        l.list[i] = matcher_arg(x, n, n->in[i], "constant");
    struct call *c = matcher_call(x, n, target, 2);
    c->args[0] = l;
    c->args[1] = INT(node_int(n, "axis", 0));
    finish(x, c, n->out[0]);
}

static void
emit_split(struct matcher *x, const struct node *n, const char *target)
{
    struct arg a = matcher_arg(x, n, n->in[0], "input");
    int64_t axis = node_int(n, "axis", 0), *part = NEWN(x->l->a, int64_t, n->nout);
    struct call *c = matcher_call(x, n, target, 3);
    lower_results(x->l, c, n->nout);
    for (int i = 0; i < n->nout; i++) {
        const struct tensor *t = tensor_at(x, n->out[i]);
        int64_t d = axis < 0 ? axis + t->rank : axis;
        part[i] = d >= 0 && d < t->rank ? t->dims[d].n : 0;
        set_slot(x, n->out[i], c->outs[i]);
    }
    c->args[0] = a;
    c->args[1] = matcher_ints(x, n->nout, part);
    c->args[2] = INT(axis);
}

/* Whether the node makes a weight wider, or one that was transposed. */
static bool
widens_weight(const struct matcher *x, const struct node *n)
{
    const struct tensor *from = tensor_at(x, n->in[0]), *to = tensor_at(x, n->out[0]);
    const struct node *made = from->producer >= 0 ? &x->g->n[from->producer] : NULL;
    if (made && node_call(made) == CALL_PERMUTE && made->nin && made->in[0] >= 0)
        from = tensor_at(x, made->in[0]);
    return from->is_initializer && dtypes[from->dtype].is_float && dtypes[to->dtype].is_float &&
           dtypes[to->dtype].bits > dtypes[from->dtype].bits;
}

/* Whether a cast to fp32 of what is fp32 in the file may go to another tensor's type: "x.to(y.dtype)". What a softmax
 * or a square reads is made fp32 for their sake, and a softmax's result is read as it was made before. */
static bool
goes_to_another(const struct matcher *x, const struct node *n)
{
    static const char *const precise[] = {"Softmax", "LogSoftmax", "Pow"};
    const struct tensor *t = tensor_at(x, n->out[0]), *from = tensor_at(x, n->in[0]);
    const struct node *made = maker(x, n->in[0]);
    const int at = (int)(n - x->g->n); /* readers are found beside it */
    bool another = x->by_torch && t->dtype == DT_FLOAT && from->dtype == DT_FLOAT;
    for (int i = 0; i < COUNT(precise) && another; i++) {
        another = !made || !is(made, precise[i]);
        for (int u = 0; u < t->nusers && another; u++)
            another = !is(n + (t->users[u] - at), precise[i]);
    }
    return another;
}

static void
emit_cast(struct matcher *x, const struct node *n, const char *target)
{
    struct arg a = matcher_arg(x, n, n->in[0], "input");
    if (widens_weight(x, n))
        graph_doubt(x->g, n->name, n->op, NULL,
                    "the exporter may have cast this weight to make types agree, where PyTorch computes in the "
                    "weight's type: an export with dynamo=True, or of the model in float with --precision, is exact");
    struct call *c = matcher_call(x, n, target, 2);
    int64_t to = tensor_at(x, n->out[0])->dtype ? tensor_at(x, n->out[0])->dtype : node_int(n, "to", DT_FLOAT);
    c->args[0] = a;
    c->args[1] = DTYPE(to > DT_UNDEFINED && to < DT_COUNT ? to : DT_FLOAT);
    c->either_type = goes_to_another(x, n);
    finish(x, c, n->out[0]);
}

/* In the type of the tensor whose sizes it has, or in fp32: "x.new_zeros(n)" and "torch.zeros(n)" leave the same node.
 * Source: new_zeros, zeros_like in torch/onnx/_internal/torchscript_exporter/symbolic_opset9.py. */
static void
emit_factory(struct matcher *x, const struct node *n, const char *target)
{
    struct call *c = matcher_call(x, n, target, 3);
    c->args[2] = DTYPE(tensor_at(x, n->out[0])->dtype);
    c->either_type = x->by_torch && is(n, "ConstantOfShape") && !matcher_constant(x, n->in[0]) &&
                     tensor_at(x, n->out[0])->dtype == DT_FLOAT && c->op && aten_arg(c->op, "dtype") >= 0;
    finish(x, c, n->out[0]);
}

/* Of a number: a fresh tensor. */
static void
emit_expand(struct matcher *x, const struct node *n, const char *target)
{
    struct arg a = matcher_arg(x, n, n->in[0], "input");
    if (a.kind != ARG_SLOT) {
        emit_factory(x, n, "aten.full.default");
        return;
    }
    struct call *c = matcher_call(x, n, target, 1);
    c->args[0] = a;
    finish(x, c, n->out[0]);
}

/* What else PyTorch's exporter writes as the reduction that a row calls: over one dimension, and over all. Source:
 * _max_helper in symbolic_helper.py, amax in symbolic_opset9.py. */
static const struct selection {
    const char *target, *one, *all;
} selections[] = {
    {"aten.amax.default", "aten.max.dim", "aten.max.default"},
    {"aten.amin.default", "aten.min.dim", "aten.min.default"},
};

/* x.max(dim)[0] and x.amax(dim) are one node in the file. */
static bool
emit_selection(struct matcher *x, const struct node *n, struct arg a, struct arg axes, const struct selection *row)
{
    bool all = axes.kind == ARG_NONE && !node_int(n, "keepdims", 1);
    bool one = axes.kind == ARG_LIST && axes.n == 1;
    if (one)
        program_assume(x->l->p, ALTERNATIVE_MAX,
                       "a maximum over one dimension is taken for amax(dim), not max(dim)[0], which keeps indices: the "
                       "file can't tell them apart");
    if (!all && !(one && setup_instead(x->l->s, ALTERNATIVE_MAX)))
        return false;
    struct call *c = matcher_call(x, n, all ? row->all : row->one, all ? 1 : 3);
    c->args[0] = a;
    if (!all) {
        c->args[1] = axes.list[0];
        c->args[2] = BOOL(node_int(n, "keepdims", 1) != 0);
        lower_results(x->l, c, 2);
    }
    finish(x, c, n->out[0]);
    return true;
}

/* Reductions without dimensions, which are operators of their own. Source: _reduce_op_symbolic_helper in
 * torch/onnx/_internal/torchscript_exporter/symbolic_helper.py. */
static const struct {
    const char *target, *whole;
    bool one; /* dimension, not a list */
} wholes[] = {{"aten.sum.dim_IntList", "aten.sum.default"},
              {"aten.mean.dim", "aten.mean.default"},
              {"aten.prod.dim_int", "aten.prod.default", true}};

static void
emit_reduce(struct matcher *x, const struct node *n, const char *target)
{
    struct arg a = matcher_arg(x, n, n->in[0], "input"), axes = matcher_axes(x, n);
    bool keeps = node_int(n, "keepdims", 1) != 0;
    for (int i = 0; i < COUNT(selections) && x->by_torch; i++)
        if (strcmp(selections[i].target, target) == 0 && emit_selection(x, n, a, axes, &selections[i]))
            return;
    for (int i = 0; i < COUNT(wholes); i++) {
        bool is_row = strcmp(wholes[i].target, target) == 0;
        if (is_row && axes.kind == ARG_NONE && n->nin == 1 && !keeps && x->by_torch) {
            struct call *c = matcher_call(x, n, wholes[i].whole, 1);
            c->args[0] = a;
            finish(x, c, n->out[0]);
            return;
        }
        if (is_row && wholes[i].one && axes.kind == ARG_LIST && axes.n == 1)
            axes = axes.list[0];
    }
    struct call *c = matcher_call(x, n, target, 3);
    c->args[0] = a;
    c->args[1] = axes;
    c->args[2] = BOOL(keeps);
    finish(x, c, n->out[0]);
}

static void
emit_arg_reduce(struct matcher *x, const struct node *n, const char *target)
{
    struct arg a = matcher_arg(x, n, n->in[0], "input");
    struct call *c = matcher_call(x, n, target, 3);
    c->args[0] = a;
    c->args[1] = INT(node_int(n, "axis", 0));
    c->args[2] = BOOL(node_int(n, "keepdims", 1) != 0);
    finish(x, c, n->out[0]);
}

static void
emit_norm(struct matcher *x, const struct node *n, const char *target)
{
    struct arg a = matcher_arg(x, n, n->in[0], "input");
    struct call *c = matcher_call(x, n, target, 4);
    c->args[0] = a;
    c->args[1] = FLT(node_call(n) == CALL_NORM_1 ? 1 : 2);
    c->args[2] = matcher_axes(x, n);
    c->args[3] = BOOL(node_int(n, "keepdims", 1) != 0);
    finish(x, c, n->out[0]);
}

/* Numbers, not tensors, clamp; 0 and 6 are ReLU6's, and a module of its own is Hardtanh: PyTorch runs both as hardtanh.
 * Source: torch/nn/modules/activation.py. */
static void
emit_clamp(struct matcher *x, const struct node *n, const char *target)
{
    double lo = 0, hi = 0;
    bool from = n->nin > 1 ? matcher_number(x, n->in[1], &lo) : false,
         to = n->nin > 2 ? matcher_number(x, n->in[2], &hi) : false;
    const struct attr *l = node_attr(n, "min"), *h = node_attr(n, "max");
    lo = l ? l->f : lo;
    hi = h ? h->f : hi;
    from |= l != NULL;
    to |= h != NULL;
    struct arg a = matcher_arg(x, n, n->in[0], "input");
    bool hardtanh = from && to && ((lo == 0 && hi == 6) || lower_is_module(x->l, n));
    struct call *c = matcher_call(x, n,
                                  hardtanh     ? "aten.hardtanh.default"
                                  : from && to ? target
                                  : from       ? "aten.clamp_min.default"
                                               : "aten.clamp_max.default",
                                  from && to ? 3 : 2);
    c->args[0] = a;
    c->args[1] = FLT(from ? lo : hi);
    if (from && to)
        c->args[2] = FLT(hi);
    finish(x, c, n->out[0]);
}

/* PyTorch's exporter writes mm as a Gemm that multiplies its bias with 0, and has merged mm and a sum where a Gemm has
 * no module's name. Source: mm in torch/onnx/_internal/torchscript_exporter/symbolic_opset9.py; FuseAddMM in
 * torch/csrc/jit/passes/peephole.cpp. */
static void
emit_gemm(struct matcher *x, const struct node *n, const char *target)
{
    bool transposed = node_int(n, "transB", 0);
    const struct attr *alpha = node_attr(n, "alpha"), *beta = node_attr(n, "beta");
    struct arg in = matcher_arg(x, n, n->in[0], "input"), w = matcher_arg(x, n, n->in[1], "weight"),
               b = n->nin > 2 ? matcher_arg(x, n, n->in[2], "bias") : NONE;
    struct call *c;
    if (node_int(n, "transA", 0))
        in = called(x, n, "aten.t.default", in, none, none, none);
    bool added = x->scoped && *n->name != '/';
    if (x->by_torch && (added || (beta && beta->f == 0))) {
        w = transposed ? called(x, n, "aten.t.default", w, none, none, none) : w;
        in = added ? called(x, n, "aten.mm.default", in, w, none, none) : in;
        c = matcher_call(x, n, added ? "aten.add.Tensor" : "aten.mm.default", 2);
        c->args[0] = in;
        c->args[1] = added ? b : w;
    } else if (transposed || b.kind != ARG_SLOT) {
        c = matcher_call(x, n, transposed ? target : "aten.matmul.default", 3);
        c->args[0] = in;
        c->args[1] = w;
        c->args[2] = b;
        c->nargs = transposed ? 3 : 2;
    } else { /* addmm, as in Transformers' Conv1D */
        bool scaled = (beta && beta->f != 1) || (alpha && alpha->f != 1);
        c = matcher_call(x, n, "aten.addmm.default", scaled ? 5 : 3);
        c->args[0] = b;
        c->args[1] = in;
        c->args[2] = w;
        if (scaled) {
            c->args[3] = FLT(beta ? beta->f : 1);
            c->args[4] = FLT(alpha ? alpha->f : 1);
        }
    }
    finish(x, c, n->out[0]);
}

static int
buffer_slot(struct matcher *x, const struct node *n, int tensor, const char *role)
{
    if (tensor < 0)
        return -1;
    if (x->l->slot_of[tensor] < 0 && matcher_constant(x, tensor))
        x->l->slot_of[tensor] = matcher_param(x, tensor, n, role, false, true)->slot;
    return x->l->slot_of[tensor];
}

static int
made_param(struct matcher *x, const char *path, const char *role, enum param_kind kind, enum dtype t, int rank,
           int64_t channels)
{
    struct param *q = lower_param(x->l, arena_printf(x->l->a, "%s%s%s", path, *path ? "." : "", role), kind);
    int64_t *size = NEWN(x->l->a, int64_t, 1);
    *size = channels;
    q->rank = rank;
    q->size = size;
    q->dtype = t;
    return q->slot;
}

/* Of the norm behind a weight: one, wherever the weight is read. */
static int
norm_param(struct matcher *x, const char *path, int weight, const char *role, enum param_kind kind, enum dtype t,
           int rank, int64_t channels)
{
    const char *key = arena_printf(x->l->a, "%s of slot %d", role, weight);
    int at = names_find(x->params, key);
    if (at >= 0)
        return x->l->p->params[at].slot;
    int slot = made_param(x, path, role, kind, t, rank, channels);
    names_put(x->params, key, x->l->p->nparams - 1);
    return slot;
}

static struct call *
batch_norm_call(struct matcher *x, const struct node *n, struct arg in, const int *slot, double eps)
{
    struct call *c = matcher_call(x, n, "aten.batch_norm.default", 8);
    c->args[0] = in;
    for (int i = 0; i < 4; i++)
        c->args[1 + i] = slot[i] >= 0 ? (struct arg){.kind = ARG_SLOT, .i = slot[i]} : NONE;
    c->args[5] = BOOL(setup_trains(x->l->s));
    c->args[6] = FLT(0.1);
    c->args[7] = FLT(eps);
    return c;
}

static void
emit_batch_norm(struct matcher *x, const struct node *n, const char *target)
{
    (void)target;
    int slot[4];
    const struct node *mean, *var;
    bool batch = batch_statistics(x, n, &mean, &var);
    struct arg in = matcher_arg(x, n, n->in[0], "input");
    static const char *const roles[] = {"weight", "bias", "running_mean", "running_var"};
    for (int i = 0; i < 4; i++) {
        struct arg a = i < 2 ? affine(x, n, n->in[1 + i], roles[i]) : NONE;
        slot[i] = i < 2 ? (a.kind == ARG_SLOT ? (int)a.i : -1) : batch ? -1 : buffer_slot(x, n, n->in[1 + i], roles[i]);
    }
    if (!batch)
        made_param(x, lower_node_module(x->l->a, n), "num_batches_tracked", PARAM_BUFFER, DT_INT64, 0, 0);
    finish(x, batch_norm_call(x, n, in, slot, node_float(n, "epsilon", 1e-5)), n->out[0]);
}

/* A batch norm that an evaluation export folded away: the convolution's weight lost its name. */
static void
unfold_batch_norm(struct matcher *x, const struct node *n, struct call *conv, int out)
{
    const char *path = x->l->p->modules[conv->scope].path;
    const char *name = arena_printf(x->l->a, "%s.norm", *path ? path : tensor_at(x, n->in[1])->name);
    int64_t channels = conv->rank > 1 ? conv->size[1] : 0;
    int w = (int)conv->args[1].i;
    int slot[] = {norm_param(x, name, w, "weight", PARAM_TRAINED, DT_FLOAT, 1, channels),
                  norm_param(x, name, w, "bias", PARAM_TRAINED, DT_FLOAT, 1, channels),
                  norm_param(x, name, w, "running_mean", PARAM_BUFFER, DT_FLOAT, 1, channels),
                  norm_param(x, name, w, "running_var", PARAM_BUFFER, DT_FLOAT, 1, channels)};
    norm_param(x, name, w, "num_batches_tracked", PARAM_BUFFER, DT_INT64, 0, 0);
    finish(x, batch_norm_call(x, n, (struct arg){.kind = ARG_SLOT, .i = conv->outs[0]}, slot, 1e-5), out);
    program_assume(x->l->p, ALTERNATIVE_NORMS,
                   "an evaluation export folded batch norms into the convolutions: they are put back after every "
                   "convolution whose weight lost its name");
}

/* Of an attribute that lists a number for each of `all` places that at place k, where a window may have it. */
static int64_t
listed(const struct node *n, const char *name, int all, int k, int64_t otherwise)
{
    const struct attr *a = node_attr(n, name);
    bool given = a && a->type == ATTR_INTS && a->ints && a->n == all;
    return given && a->ints[k] >= -MAX_WINDOW && a->ints[k] <= MAX_WINDOW ? a->ints[k] : otherwise;
}

/* What a convolution pads at both sides of a dimension of so many elements, with a filter of so many. */
static void
padding_of(const struct node *n, int spatial, int k, int64_t in, int64_t filter, int64_t *left, int64_t *right)
{
    const char *mode = node_str(n, "auto_pad", "NOTSET");
    *left = listed(n, "pads", 2 * spatial, k, 0);
    *right = listed(n, "pads", 2 * spatial, k + spatial, 0);
    if (strncmp(mode, "SAME", 4) != 0)
        return;
    int64_t stride = listed(n, "strides", spatial, k, 1), span = listed(n, "dilations", spatial, k, 1) * (filter - 1);
    int64_t all = stride > 0 ? ((in + stride - 1) / stride - 1) * stride + span + 1 - in : 0;
    all = all > 0 ? all : 0;
    *left = strcmp(mode, "SAME_LOWER") == 0 ? all - all / 2 : all / 2;
    *right = all - *left;
}

/* PyTorch pads both sides alike: padding="same" of an even kernel pads its input beforehand by what one side has more.
 * both: what the convolution pads then. Source: _convolution_same in native/Convolution.cpp. */
static bool
pad_one_side(struct matcher *x, const struct node *n, const struct tensor *w, int64_t *both, struct arg *in)
{
    int rank, wrank, spatial = w->rank - 2;
    const int64_t *size, *filter;
    if (in->kind != ARG_SLOT || spatial < 1 || !lower_sizes(x->l, tensor_at(x, n->in[0]), &rank, &size) ||
        !lower_sizes(x->l, w, &wrank, &filter) || rank != spatial + 2)
        return false;
    bool more = false;
    int64_t sides[2 * MAX_RANK], *wide = arena_dup(x->l->a, size, sizeof(*size) * (size_t)rank);
    for (int k = 0; k < spatial; k++) {
        int64_t left, right;
        if (size[2 + k] > MAX_WINDOW || filter[2 + k] > MAX_WINDOW)
            return false;
        padding_of(n, spatial, k, size[2 + k], filter[2 + k], &left, &right);
        both[k] = left < right ? left : right;
        sides[2 * (spatial - 1 - k)] = left - both[k];
        sides[2 * (spatial - 1 - k) + 1] = right - both[k];
        wide[2 + k] += left + right - 2 * both[k];
        more |= left != right;
    }
    if (!more)
        return true;
    struct call *c = matcher_call(x, n, "aten.constant_pad_nd.default", 3);
    c->args[0] = *in;
    c->args[1] = matcher_ints(x, 2 * spatial, sides);
    c->args[2] = FLT(0);
    c->rank = rank;
    c->size = wide;
    c->outs[0] = lower_slot(x->l);
    *in = (struct arg){.kind = ARG_SLOT, .i = c->outs[0]};
    return true;
}

/* A batch norm gives the convolution that it is folded into a bias of its own: a weight that was computed while the
 * bias kept its name, or there is none, is one that a parametrization computes. torch.nn.utils.weight_norm makes
 * it the module's attribute before each run: WeightNorm.__call__ in torch/nn/utils/weight_norm.py. */
static struct arg
weight_normalized(struct matcher *x, const struct node *n, struct arg weight)
{
    const struct tensor *w = tensor_at(x, n->in[1]);
    int rank;
    const int64_t *size;
    program_assume(x->l->p, ALTERNATIVE_COMPUTED,
                   "convolutions whose weight was computed when the file was written have torch.nn.utils.weight_norm");
    if (weight.kind != ARG_SLOT || !lower_sizes(x->l, w, &rank, &size) || setup_instead(x->l->s, ALTERNATIVE_COMPUTED))
        return weight;
    int64_t *ones = arena_dup(x->l->a, size, sizeof(*size) * (size_t)rank);
    for (int i = 1; i < rank; i++)
        ones[i] = 1;
    int g =
        norm_param(x, lower_node_module(x->l->a, n), (int)weight.i, "weight_g", PARAM_TRAINED, w->dtype, rank, size[0]);
    program_param(x->l->p, g)->size = ones;
    const char *key = arena_printf(x->l->a, "attribute of slot %d", g);
    if (names_find(x->params, key) < 0)
        names_put(x->params, key, ++x->l->p->nattributes);
    struct call *c = matcher_call(x, n, "aten._weight_norm_interface.default", 2);
    c->args[0] = weight;
    c->args[1] = (struct arg){.kind = ARG_SLOT, .i = g};
    c->rank = rank;
    c->size = size;
    c->kept = c->outs[0];
    c->attribute = names_find(x->params, key);
    return (struct arg){.kind = ARG_SLOT, .i = c->outs[0]};
}

static void
emit_conv(struct matcher *x, const struct node *n, const char *target)
{
    bool transposed = node_call(n) == CALL_CONV_TRANSPOSE;
    const struct tensor *w = tensor_at(x, n->in[1]);
    bool computed = matcher_renamed(x, n->in[1]) && setup_trains(x->l->s),
         whole = n->nin > 2 && n->in[2] >= 0 && matcher_renamed(x, n->in[2]),
         folded = computed && whole && !setup_instead(x->l->s, ALTERNATIVE_NORMS);
    struct arg in = matcher_arg(x, n, n->in[0], "input"), weight = matcher_arg(x, n, n->in[1], "weight");
    struct arg bias = n->nin > 2 && !folded ? matcher_arg(x, n, n->in[2], "bias") : NONE;
    if (turned_by(x, n))
        in = perhaps_contiguous(x, n, in);
    if (computed && !whole)
        weight = weight_normalized(x, n, weight);
    int spatial = w->rank - 2;
    int64_t both[MAX_RANK];
    bool padded = !transposed && pad_one_side(x, n, w, both, &in);
    struct call *c = matcher_call(x, n, target, 9);
    c->args[0] = in;
    c->args[1] = weight;
    c->args[2] = bias;
    c->args[3] = attr_ints(x, n, "strides", 0, 0);
    c->args[4] = padded ? matcher_ints(x, spatial, both) : attr_ints(x, n, "pads", 0, spatial);
    c->args[5] = attr_ints(x, n, "dilations", 0, 0);
    c->args[6] = BOOL(transposed);
    c->args[7] = attr_ints(x, n, "output_padding", 0, 0);
    c->args[8] = INT(node_int(n, "group", 1));
    finish(x, c, n->out[0]);
    if (folded)
        unfold_batch_norm(x, n, c, n->out[0]);
}

static void
emit_pool(struct matcher *x, const struct node *n, const char *target)
{
    bool max = node_call(n) == CALL_MAX_POOL;
    struct arg a = matcher_arg(x, n, n->in[0], "input");
    int spatial = tensor_at(x, n->in[0])->rank - 2;
    struct call *c = matcher_call(
        x, n, spatial == 1 ? (max ? "aten.max_pool1d.default" : "aten.avg_pool1d.default") : target, max ? 6 : 5);
    c->args[0] = a;
    c->args[1] = attr_ints(x, n, "kernel_shape", 0, 0);
    c->args[2] = attr_ints(x, n, "strides", 0, 0);
    c->args[3] = attr_ints(x, n, "pads", 0, spatial);
    if (max)
        c->args[4] = attr_ints(x, n, "dilations", 0, 0);
    c->args[max ? 5 : 4] = BOOL(node_int(n, "ceil_mode", 0));
    finish(x, c, n->out[0]);
}

static void
emit_global_pool(struct matcher *x, const struct node *n, const char *target)
{
    struct arg a = matcher_arg(x, n, n->in[0], "input");
    int rank = tensor_at(x, n->in[0])->rank;
    struct call *c = matcher_call(x, n,
                                  rank == 3   ? "aten.adaptive_avg_pool1d.default"
                                  : rank == 5 ? "aten.adaptive_avg_pool3d.default"
                                              : target,
                                  2);
    c->args[0] = a;
    c->args[1] = INT(1);
    finish(x, c, n->out[0]);
}

static void
emit_layer_norm_node(struct matcher *x, const struct node *n, const char *target)
{
    struct arg in = matcher_arg(x, n, n->in[0], "input"), w = affine(x, n, n->in[1], "weight"),
               b = n->nin > 2 ? affine(x, n, n->in[2], "bias") : NONE;
    struct call *c = matcher_call(x, n, target, 4);
    const struct tensor *t = tensor_at(x, n->in[0]);
    int64_t axis = node_int(n, "axis", -1), v[MAX_PADS];
    int from = (int)(axis < 0 ? axis + t->rank : axis), k = 0;
    for (int i = from; i >= 0 && i < t->rank && k < MAX_PADS; i++)
        v[k++] = t->dims[i].n;
    c->args[0] = in;
    c->args[1] = matcher_ints(x, k, v);
    c->args[2] = w;
    c->args[3] = b;
    finish(x, c, n->out[0]);
}

static void
emit_group_norm_node(struct matcher *x, const struct node *n, const char *target)
{
    struct arg in = matcher_arg(x, n, n->in[0], "input"), w = matcher_arg(x, n, n->in[1], "weight"),
               b = matcher_arg(x, n, n->in[2], "bias");
    struct call *c = matcher_call(x, n, target, 4);
    c->args[0] = in;
    c->args[1] = INT(node_int(n, "num_groups", 1));
    c->args[2] = w;
    c->args[3] = b;
    finish(x, c, n->out[0]);
}

/* Without parameters the exporter writes ones and zeros. */
static void
emit_instance_norm(struct matcher *x, const struct node *n, const char *target)
{
    struct arg a[3] = {matcher_arg(x, n, n->in[0], "input"), NONE, NONE};
    static const char *const roles[] = {NULL, "weight", "bias"};
    for (int i = 1; i < 3 && i < n->nin; i++)
        if (n->in[i] >= 0 && tensor_at(x, n->in[i])->is_initializer)
            a[i] = matcher_arg(x, n, n->in[i], roles[i]);
    struct call *c = matcher_call(x, n, target, 3);
    memcpy(c->args, a, sizeof(a));
    finish(x, c, n->out[0]);
}

static void
emit_dropout(struct matcher *x, const struct node *n, const char *target)
{
    double p = node_float(n, "ratio", 0.5), train = 0;
    bool given = n->nin > 1 && matcher_number(x, n->in[1], &p),
         training = n->nin > 2 && matcher_number(x, n->in[2], &train) && train != 0;
    (void)given;
    struct arg a = matcher_arg(x, n, n->in[0], "input");
    if ((!training && n->nin > 2) || !setup_trains(x->l->s)) {
        if (a.kind == ARG_SLOT)
            set_slot(x, n->out[0], (int)a.i);
        return;
    }
    struct call *c = matcher_call(x, n, target, 3);
    c->args[0] = a;
    c->args[1] = FLT(p);
    c->args[2] = BOOL(true);
    finish(x, c, n->out[0]);
}

/* ONNX lists all leading pads, then all trailing ones; PyTorch pairs, from the last dimension. The result's size is
 * the file's. */
static void
emit_pad(struct matcher *x, const struct node *n, const char *target)
{
    struct arg a = matcher_arg(x, n, n->in[0], "input");
    const char *mode = node_str(n, "mode", "constant");
    struct call *c = matcher_call(x, n, target, 3);
    c->args[0] = a;
    c->args[1] = NONE;
    c->args[2] = (struct arg){.kind = ARG_TEXT, .s = strcmp(mode, "edge") == 0 ? "replicate" : mode};
    finish(x, c, n->out[0]);
}

static void
emit_resize(struct matcher *x, const struct node *n, const char *target)
{
    static const char *const rows[][3] = {
        {"aten.upsample_nearest1d.default", "aten.upsample_nearest2d.default", "aten.upsample_nearest3d.default"},
        {"aten.upsample_linear1d.default", "aten.upsample_bilinear2d.default", "aten.upsample_trilinear3d.default"},
        {"aten.upsample_bicubic2d.default", "aten.upsample_bicubic2d.default", "aten.upsample_bicubic2d.default"}};
    (void)target;
    const char *mode = node_str(n, "mode", "nearest");
    int kind = strcmp(mode, "linear") == 0  ? 1
               : strcmp(mode, "cubic") == 0 ? 2
                                            : 0,
        rank = tensor_at(x, n->out[0])->rank;
    struct arg a = matcher_arg(x, n, n->in[0], "input");
    struct call *c = matcher_call(x, n, rows[kind][rank == 3 ? 0 : rank == 5 ? 2 : 1], 1);
    c->args[0] = a;
    finish(x, c, n->out[0]);
}

static void
emit_pow(struct matcher *x, const struct node *n, const char *target)
{
    struct arg a = matcher_arg(x, n, n->in[0], "input"), e = matcher_arg(x, n, n->in[1], "exponent");
    struct call *c = matcher_call(
        x, n, e.kind == ARG_SLOT ? a.kind == ARG_SLOT ? "aten.pow.Tensor_Tensor" : "aten.pow.Scalar" : target, 2);
    c->args[0] = a;
    c->args[1] = e;
    finish(x, c, n->out[0]);
}

static void
emit_where(struct matcher *x, const struct node *n, const char *target)
{
    struct arg a[3];
    for (int i = 0; i < 3; i++)
        a[i] = matcher_arg(x, n, n->in[i], "constant");
    bool tensors = a[1].kind == ARG_SLOT && a[2].kind == ARG_SLOT;
    struct call *c = matcher_call(x, n, tensors ? target : "aten.where.ScalarOther", 3);
    memcpy(c->args, a, sizeof(a));
    finish(x, c, n->out[0]);
}

static void
emit_einsum(struct matcher *x, const struct node *n, const char *target)
{
    struct arg l = {.kind = ARG_LIST, .n = n->nin, .list = NEWN(x->l->a, struct arg, n->nin ? n->nin : 1)};
    for (int i = 0; i < n->nin; i++)
        l.list[i] = matcher_arg(x, n, n->in[i], "constant");
    struct call *c = matcher_call(x, n, target, 2);
    c->args[0] = (struct arg){.kind = ARG_TEXT, .s = node_str(n, "equation", "")};
    c->args[1] = l;
    finish(x, c, n->out[0]);
}

/* The exporter sorts by taking as many as there are. Source: _sort_helper in
 * torch/onnx/_internal/torchscript_exporter/symbolic_helper.py. */
static void
emit_topk(struct matcher *x, const struct node *n, const char *target)
{
    int64_t k = node_int(n, "k", 1), axis = node_int(n, "axis", -1), d;
    struct arg a = matcher_arg(x, n, n->in[0], "input");
    const struct tensor *in = tensor_at(x, n->in[0]);
    if (n->nin > 1)
        matcher_integers(x, n->in[1], &k, 1);
    d = axis + (axis < 0 ? in->rank : 0);
    bool all = x->by_torch && d >= 0 && d < in->rank && in->dims[d].n == k,
         told = n->nin < 2 || matcher_constant(x, n->in[1]);
    if (all && told)
        graph_doubt(x->g, n->name, n->op, NULL, "the exporter writes sort and topk of all elements alike");
    all &= !told;
    struct call *c = matcher_call(x, n, all ? "aten.sort.default" : target, 3);
    lower_results(x->l, c, 2);
    c->args[0] = a;
    c->args[1] = INT(all ? axis : k);
    c->args[2] = INT(all ? node_int(n, "largest", 1) : axis);
    finish(x, c, n->out[0]);
    if (n->nout > 1)
        set_slot(x, n->out[1], c->outs[1]);
}

static void emit_unknown(struct matcher *x, const struct node *n);

/* The parameters behind a weight that reordering of gates took apart and put together. */
static void
weights_behind(struct matcher *x, const struct node *n, int tensor, const char *role, struct arg *list, int depth)
{
    static const char *const movers[] = {"Unsqueeze", "Concat", "Slice", "Squeeze", "Transpose", "Reshape", "Split"};
    const struct node *from = maker(x, tensor);
    if (tensor < 0 || depth > 8)
        return;
    if (matcher_constant(x, tensor) || x->l->slot_of[tensor] >= 0) {
        struct arg a = matcher_arg(x, n, tensor, role);
        for (int i = 0; i < list->n; i++)
            if (list->list[i].i == a.i)
                return;
        if (list->n < MAX_PADS)
            list->list[list->n++] = a;
        return;
    }
    for (int i = 0; i < COUNT(movers) && from; i++)
        for (int k = 0; is(from, movers[i]) && k < from->nin && (k == 0 || is(from, "Concat")); k++)
            weights_behind(x, n, from->in[k], role, list, depth + 1);
}

/* The state that the node reads, or the zeros that the module makes. */
static struct arg
initial_state(struct matcher *x, const struct node *n, int k, const int64_t *size)
{
    if (k < n->nin && n->in[k] >= 0)
        return matcher_arg(x, n, n->in[k], "hx");
    struct call *c = matcher_call(x, n, "aten.zeros.default", 2);
    c->args[0] = matcher_ints(x, 3, size);
    c->args[1] = matcher_arg(x, n, n->in[0], "input"); /* torch/nn/modules/rnn.py: dtype=input.dtype */
    c->rank = 3;
    c->size = arena_dup(x->l->a, size, 3 * sizeof(*size));
    return (struct arg){.kind = ARG_SLOT, .i = c->outs[0]};
}

/* A view of what a call made: sizes as stated. */
static int
viewed(struct matcher *x, const struct node *n, const char *target, int slot, struct arg how, int rank,
       const int64_t *size)
{
    struct call *c = matcher_call(x, n, target, 2);
    c->args[0] = (struct arg){.kind = ARG_SLOT, .i = slot};
    c->args[1] = how;
    c->rank = rank;
    c->size = arena_dup(x->l->a, size, sizeof(*size) * (size_t)rank);
    return c->outs[0];
}

/* Whether the node reads what another one of its module made: layers of one call, a node each. */
static bool
is_stacked(const struct matcher *x, const struct node *n)
{
    static const char *const between[] = {"Squeeze", "Transpose", "Reshape", "Dropout"};
    const struct node *m = maker(x, n->in[0]);
    for (bool inside = true; m && inside;) {
        inside = false;
        for (int i = 0; i < COUNT(between); i++)
            inside |= is(m, between[i]);
        m = inside ? maker(x, m->in[0]) : m;
    }
    return m && node_call(m) == node_call(n) && matcher_same_module(x, n, m);
}

/* Of a layer's weights, by role, those of each direction together, as PyTorch has them; otherwise as they are. ends:
 * behind each role. */
static void
by_direction(struct matcher *x, struct arg *weights, const int ends[3], int directions)
{
    const int biases = ends[2] - ends[1];
    if (ends[0] != directions || ends[1] != 2 * directions || (biases && biases != 2 * directions))
        return;
    struct arg *own = NEWN(x->l->a, struct arg, weights->n);
    int n = 0;
    for (int d = 0; d < directions; d++) {
        own[n++] = weights->list[d];
        own[n++] = weights->list[ends[0] + d];
        for (int k = 0; k < biases / directions; k++)
            own[n++] = weights->list[ends[1] + 2 * d + k];
    }
    weights->list = own;
}

/* ONNX gives [time, direction, batch, hidden], PyTorch [time, batch, direction * hidden]: two views lie between. */
static void
emit_rnn(struct matcher *x, const struct node *n, const char *target)
{
    static const char *const roles[] = {"weight_ih", "weight_hh", "bias"};
    const struct tensor *in = tensor_at(x, n->in[0]);
    bool lstm = node_call(n) == CALL_LSTM, batch_first = node_int(n, "layout", 0) != 0;
    int64_t both = strcmp(node_str(n, "direction", ""), "bidirectional") == 0 ? 2 : 1, hidden;
    hidden = node_int(
        n, "hidden_size",
        n->nin > 2 && n->in[2] >= 0 && tensor_at(x, n->in[2])->rank == 3 ? tensor_at(x, n->in[2])->dims[2].n : -1);
    struct arg input = matcher_arg(x, n, n->in[0], "input"), weights = {.kind = ARG_LIST}, hx, cx = NONE;
    weights.list = NEWN(x->l->a, struct arg, MAX_PADS);
    int ends[COUNT(roles)] = {0};
    for (int k = 0; k < COUNT(roles); k++) {
        if (k + 1 < n->nin)
            weights_behind(x, n, n->in[k + 1], roles[k], &weights, 0);
        ends[k] = weights.n;
    }
    by_direction(x, &weights, ends, (int)both);
    if (in->rank != 3 || in->dims[0].n < 0 || in->dims[1].n < 0 || hidden < 1 || hidden > INT32_MAX || !weights.n) {
        emit_unknown(x, n);
        return;
    }
    if (is_stacked(x, n))
        graph_doubt(x->g, n->name, n->op, NULL,
                    "PyTorch runs the layers of a module at once, whose nodes are counted one after the other: an "
                    "export with dynamo=True has the call");
    int64_t time = in->dims[batch_first].n, batch = in->dims[!batch_first].n, state[] = {both, batch, hidden};
    hx = initial_state(x, n, 5, state);
    if (lstm)
        cx = initial_state(x, n, 6, state);
    const struct attr *act = node_attr(n, "activations");
    bool rectifies = act && act->type == ATTR_STRINGS && act->n > 0 && strcmp(act->strings[0], "Relu") == 0;
    if (node_call(n) == CALL_RNN && rectifies)
        target = "aten.rnn_relu.input";
    struct call *c = matcher_call(x, n, target, 9);
    struct arg pair = {.kind = ARG_LIST, .n = 2, .list = NEWN(x->l->a, struct arg, 2)};
    pair.list[0] = hx;
    pair.list[1] = cx;
    struct arg args[] = {
        input,      lstm ? pair : hx, weights,          BOOL(n->nin > 3 && n->in[3] >= 0), INT(1), FLT(0),
        BOOL(true), BOOL(both > 1),   BOOL(batch_first)};
    memcpy(c->args, args, sizeof(args));
    lower_results(x->l, c, lstm ? 3 : 2);
    for (int i = 1; i < c->nouts && i < n->nout; i++)
        set_slot(x, n->out[i], c->outs[i]);
    int64_t sides[2] = {batch_first ? batch : time, batch_first ? time : batch}, perm[] = {0, 2, 1, 3};
    int64_t apart[] = {sides[0], sides[1], both, hidden}, onnx[] = {sides[0], both, sides[1], hidden};
    c->rank = 3;
    c->size = arena_dup(x->l->a, (int64_t[]){sides[0], sides[1], both * hidden}, 3 * sizeof(*apart));
    if (n->out[0] < 0)
        return;
    int slot = viewed(x, n, "aten.reshape.default", c->outs[0], matcher_ints(x, 4, apart), 4, apart);
    if (!batch_first) /* with layout 1 the file has batch, time, direction, hidden */
        slot = viewed(x, n, "aten.permute.default", slot, matcher_ints(x, 4, perm), 4, onnx);
    set_slot(x, n->out[0], slot);
}

/* An operator without a row: its result as large as the file says, made of what it reads. */
static void
emit_unknown(struct matcher *x, const struct node *n)
{
    const char *op = *n->domain ? arena_printf(x->l->a, "%s.%s", n->domain, n->op) : n->op;
    struct arg a = {.kind = ARG_LIST, .list = NEWN(x->l->a, struct arg, n->nin + 1)};
    for (int i = 0; i < n->nin; i++)
        if (n->in[i] >= 0)
            a.list[a.n++] = matcher_arg(x, n, n->in[i], "weight");
    graph_doubt(x->g, n->name, op, NULL,
                "what PyTorch runs for this operator is not known: only its result is counted");
    for (int o = 0; o < n->nout; o++) {
        if (n->out[o] < 0 || *tensor_at(x, n->out[o])->wrap)
            continue;
        struct call *c = matcher_call(x, n, op, 1);
        c->op = NULL; /* whatever its name says */
        c->args[0] = a;
        finish(x, c, n->out[o]);
    }
}

/* torch.arange(size) along a dimension of the index: each sample's own number. */
static struct arg
own_number(struct matcher *x, const struct node *n, int64_t size, int dim, int rank)
{
    int64_t along[MAX_RANK];
    for (int d = 0; d < rank; d++)
        along[d] = d == dim ? size : 1;
    struct arg all = called(x, n, "aten.arange.default", INT(size), none, none, none);
    return called(x, n, "aten.view.default", all, matcher_ints(x, rank, along), none, none);
}

/* An index a dimension, each a view of the coordinates; none of coordinates that the file computes from sizes. NONE
 * where they can't be told. */
static struct arg
coordinates(struct matcher *x, const struct node *n)
{
    const struct tensor *at = tensor_at(x, n->in[1]);
    int64_t k = at->rank > 0 ? at->dims[at->rank - 1].n : -1, own = node_int(n, "batch_dims", 0);
    if (k < 1 || k > MAX_ARGS || own < 0 || own + 1 > at->rank || at->rank > MAX_RANK)
        return NONE;
    for (int d = 0; d < own; d++)
        if (at->dims[d].n < 1)
            return NONE;
    struct arg all = matcher_arg(x, n, n->in[1], "index");
    struct arg l = {.kind = ARG_LIST, .list = NEWN(x->l->a, struct arg, k + own)};
    for (int d = 0; d < own; d++)
        l.list[l.n++] = own_number(x, n, at->dims[d].n, d, at->rank - 1);
    for (int i = 0; i < k && all.kind == ARG_SLOT; i++)
        l.list[l.n++] = called(x, n, "aten.select.int", all, last_dim, INT(i), none);
    if (own)
        program_assume(
            x->l->p, ALTERNATIVE_NONE,
            "what a file picks from each sample (batch_dims) PyTorch picks by x[torch.arange(samples), index]");
    return l;
}

static void
emit_gather_nd(struct matcher *x, const struct node *n, const char *target)
{
    struct arg a = matcher_arg(x, n, n->in[0], "input"), at = coordinates(x, n);
    if (at.kind == ARG_NONE) {
        emit_unknown(x, n);
        return;
    }
    struct call *c = matcher_call(x, n, target, 2);
    c->args[0] = a;
    c->args[1] = at;
    finish(x, c, n->out[0]);
}

/* Numbers written into a part of a tensor: x[i] = y, or a copy to a view of x, which autograd keeps otherwise. */
static void
emit_scatter_nd(struct matcher *x, const struct node *n, const char *target)
{
    struct arg a = matcher_arg(x, n, n->in[0], "input"), from = matcher_arg(x, n, n->in[2], "values");
    if (from.kind != ARG_SLOT || !dtypes[tensor_at(x, n->in[0])->dtype].is_float || node_attr(n, "reduction")) {
        emit_alias(x, n, target);
        return;
    }
    struct arg at = coordinates(x, n);
    if (at.kind == ARG_NONE || a.kind != ARG_SLOT) {
        emit_unknown(x, n);
        return;
    }
    struct call *c = matcher_call(x, n, target, 3);
    c->args[0] = a;
    c->args[1] = at;
    c->args[2] = from;
    c->in_place = true;
    finish(x, c, n->out[0]);
    *PUSH(x->l->a, x->written, x->nwritten, x->cap_written) = x->l->p->ncalls - 1;
}

/* torch.fft.fft, rfft, ifft and irfft of what is as long as the result: complex numbers are pairs in the last
 * dimension. */
static void
emit_dft(struct matcher *x, const struct node *n, const char *target)
{
    const struct tensor *in = tensor_at(x, n->in[0]), *out = tensor_at(x, n->out[0]);
    double axis = node_int(n, "axis", x->g->opset >= 20 ? -2 : 1), length = -1;
    bool known = (n->nin < 3 || n->in[2] < 0 || matcher_number(x, n->in[2], &axis)) && in->rank > 1,
         half = node_int(n, "onesided", 0) != 0, inverse = node_int(n, "inverse", 0) != 0;
    int d = (int)axis < 0 ? (int)axis + in->rank : (int)axis;
    known = known && d >= 0 && d < in->rank - 1 &&
            (n->nin < 2 || n->in[1] < 0 ||
             (matcher_number(x, n->in[1], &length) && (!inverse || !half) && in->dims[d].n == to_int(length)));
    int64_t parts = known ? in->dims[in->rank - 1].n : -1, at = d;
    if ((parts != 1 && parts != 2) || (inverse && parts == 1) || out->rank != in->rank || out->dims[d].n < 0) {
        emit_unknown(x, n);
        return;
    }
    struct arg a = matcher_arg(x, n, n->in[0], "input"), dim = matcher_ints(x, 1, &at);
    if (parts == 1)
        a = called(x, n, "aten._fft_r2c.default", called(x, n, "aten.squeeze.dim", a, last_dim, none, none), dim,
                   INT(0), BOOL(half));
    else if (inverse && half)
        a = called(x, n, "aten._fft_c2r.default", called(x, n, "aten.view_as_complex.default", a, none, none, none),
                   dim, INT(2), INT(out->dims[d].n));
    else
        a = called(x, n, target, called(x, n, "aten.view_as_complex.default", a, none, none, none), dim,
                   INT(inverse ? 2 : 0), BOOL(!inverse));
    struct call *c = inverse && half ? matcher_call(x, n, "aten.unsqueeze.default", 2)
                                     : matcher_call(x, n, "aten.view_as_real.default", 1);
    c->args[0] = a;
    if (inverse && half)
        c->args[1] = INT(-1);
    finish(x, c, n->out[0]);
}

/* torch.stft of what is padded already; ONNX has time before frequency. */
static void
emit_stft(struct matcher *x, const struct node *n, const char *target)
{
    const struct tensor *in = tensor_at(x, n->in[0]);
    const bool has_window = n->nin > 2 && n->in[2] >= 0;
    double hop = 0,
           size = has_window && tensor_at(x, n->in[2])->rank == 1 ? (double)tensor_at(x, n->in[2])->dims[0].n : -1;
    bool known = matcher_number(x, n->in[1], &hop) &&
                 (n->nin < 4 || n->in[3] < 0 || matcher_number(x, n->in[3], &size)) && size > 0 && hop > 0;
    if (!known || (in->rank != 2 && (in->rank != 3 || in->dims[2].n != 1))) {
        emit_unknown(x, n);
        return;
    }
    struct arg a = matcher_arg(x, n, n->in[0], "input");
    a = in->rank == 3 ? called(x, n, "aten.squeeze.dim", a, last_dim, none, none) : a;
    if (has_window && matcher_constant(x, n->in[2])) /* torch.hann_window and its like */
        matcher_param(x, n->in[2], n, "window", false, true);
    struct arg window = has_window ? matcher_arg(x, n, n->in[2], "window") : NONE;
    struct call *c = matcher_call(x, n, target, 8);
    const struct arg args[] = {a,
                               INT(to_int(size)),
                               INT(to_int(hop)),
                               INT(to_int(size)),
                               window,
                               BOOL(false),
                               BOOL(node_int(n, "onesided", 1) != 0),
                               BOOL(false)};
    memcpy(c->args, args, sizeof(args));
    struct arg made = {.kind = ARG_SLOT, .i = c->outs[0]};
    c = matcher_call(x, n, "aten.transpose.int", 3);
    c->args[0] = made;
    c->args[1] = INT(1);
    c->args[2] = INT(2);
    finish(x, c, n->out[0]);
}

/* How the call is made, by what the operator's row says of it. */
static void (*const emitters[CALL_COUNT])(struct matcher *x, const struct node *n, const char *target) = {
    [CALL_ALIAS] = emit_alias,
    [CALL_ALL] = emit_inputs,
    [CALL_ARG_REDUCE] = emit_arg_reduce,
    [CALL_AVG_POOL] = emit_pool,
    [CALL_AXIS] = emit_axis,
    [CALL_BATCH_NORM] = emit_batch_norm,
    [CALL_CAST] = emit_cast,
    [CALL_CLAMP] = emit_clamp,
    [CALL_CONCAT] = emit_concat,
    [CALL_CONV] = emit_conv,
    [CALL_CONV_TRANSPOSE] = emit_conv,
    [CALL_DFT] = emit_dft,
    [CALL_DROPOUT] = emit_dropout,
    [CALL_EINSUM] = emit_einsum,
    [CALL_EXPAND] = emit_expand,
    [CALL_FACTORY] = emit_factory,
    [CALL_FIRST] = emit_first,
    [CALL_GATHER] = emit_gather,
    [CALL_GATHER_ND] = emit_gather_nd,
    [CALL_GEMM] = emit_gemm,
    [CALL_GLOBAL_POOL] = emit_global_pool,
    [CALL_GROUP_NORM] = emit_group_norm_node,
    [CALL_IDENTITY] = emit_identity,
    [CALL_INSTANCE_NORM] = emit_instance_norm,
    [CALL_LAYER_NORM] = emit_layer_norm_node,
    [CALL_LSTM] = emit_rnn,
    [CALL_MAX_POOL] = emit_pool,
    [CALL_NORM_1] = emit_norm,
    [CALL_NORM_2] = emit_norm,
    [CALL_PAD] = emit_pad,
    [CALL_PERMUTE] = emit_permute,
    [CALL_PICK] = emit_gather_elements,
    [CALL_POW] = emit_pow,
    [CALL_REDUCE] = emit_reduce,
    [CALL_RESIZE] = emit_resize,
    [CALL_RNN] = emit_rnn,
    [CALL_SCATTER_ND] = emit_scatter_nd,
    [CALL_SLICE] = emit_slice,
    [CALL_SPLIT] = emit_split,
    [CALL_STFT] = emit_stft,
    [CALL_TOPK] = emit_topk,
    [CALL_WHERE] = emit_where,
};

/* The operator that a program called; NULL where the row has none of its own. */
static const char *
target_of(const struct op *o)
{
    return o->calls ? o->calls : o->aten;
}

static bool
emit_one(struct matcher *x, const struct node *n)
{
    const struct op *o = n->row;
    if (!o || !emitters[o->call])
        return false;
    emitters[o->call](x, n, target_of(o));
    return true;
}

/* ONNX Runtime's operators that are one of the default domain, then a sum, then an activation: each by the row of its
 * name. */
static bool
emit_like(struct matcher *x, const struct node *n, const char *op)
{
    struct node plain = *n;
    plain.domain = "";
    plain.op = op;
    plain.row = op_find("", op, x->g->opset);
    const struct op *after = op_find("", node_str(n, "activation", ""), x->g->opset);
    if (broken(&plain) || n->out[0] < 0 || !emit_one(x, &plain))
        return false;
    if (n->nin > 3 && n->in[3] >= 0) {
        struct arg with = matcher_arg(x, n, n->in[3], "sum");
        struct call *c = matcher_call(x, n, "aten.add.Tensor", 2);
        c->args[0] = (struct arg){.kind = ARG_SLOT, .i = x->l->slot_of[n->out[0]]};
        c->args[1] = with;
        finish(x, c, n->out[0]);
    }
    if (after && emitters[after->call] && target_of(after)) {
        struct call *c = matcher_call(x, n, target_of(after), 1);
        c->args[0] = (struct arg){.kind = ARG_SLOT, .i = x->l->slot_of[n->out[0]]};
        finish(x, c, n->out[0]);
    }
    return true;
}

/* ---- the pass ---------------------------------------------------------------------------------------------------- */

static void
match_patterns(struct matcher *x)
{
    for (int i = x->g->nn - 1; i >= 0;
         i--) { /* from the end: an outer pattern takes its parts before they can match alone */
        for (int k = 0; k < COUNT(patterns) && x->data[i] && !x->covered[i] && !x->match[i] && !broken(&x->g->n[i]);
             k++)
            if (is(&x->g->n[i], patterns[k].root) &&
                !(x->by_torch && patterns[k].whole && patterns[k].whole <= x->g->opset) &&
                patterns[k].match(x, &x->g->n[i]))
                x->match[i] = &patterns[k];
        if (x->data[i] && !x->covered[i] && !x->match[i] && !broken(&x->g->n[i]))
            x->form[i] = forms_match(x, &x->g->n[i]);
    }
}

/* One number whose value is known: Python's. */
static bool
is_number(const struct matcher *x, const struct node *n)
{
    double v;
    return n->nout == 1 && matcher_number(x, n->out[0], &v) && !tensor_at(x, n->out[0])->is_output;
}

/* ---- buffers ----------------------------------------------------------------------------------------------------- */

/* Which arguments of a row are called like a weight, as bits. */
static unsigned
weights_of(const struct aten *op)
{
    static const char *const roles[] = {"weight", "bias", "v", "g", "params"};
    unsigned bits = 0;
    for (int k = 0; k < COUNT(roles) && op; k++) {
        int at = aten_arg(op, roles[k]);
        bits |= at >= 0 ? 1u << at : 0;
    }
    return bits;
}

static bool
same_module(const char *a, const char *b)
{
    const char *ea = strrchr(a, '.'), *eb = strrchr(b, '.');
    size_t na = ea ? (size_t)(ea - a) : 0, nb = eb ? (size_t)(eb - b) : 0;
    return na == nb && strncmp(a, b, na) == 0;
}

/* Whether torch.nn would call a parameter so: a bias of more dimensions has a weight beside it, as LayerNorm's. */
static bool
named_parameter(const struct matcher *x, const struct tensor *t)
{
    bool named = named_weight(t->name), alone = strncmp(path_last(t->name), "bias", 4) == 0 && t->rank != 1;
    for (int i = 0; i < x->g->nt && named && alone; i++)
        alone = !(x->g->t[i].is_initializer && same_module(t->name, x->g->t[i].name) &&
                  strstr(path_last(x->g->t[i].name), "weight"));
    return named && !alone;
}

/* Whether a product reads the slot as its left side, and data as its right one: an adjacency as often as a weight. So
 * is what an einsum reads beside data, such as a queue of negatives. */
static bool
mixes(const struct call *c, int slot, const bool *data)
{
    bool beside = false;
    for (int i = 1; i < c->nargs && strcmp(c->target, "aten.einsum.default") == 0; i++)
        for (int k = 0; c->args[i].kind == ARG_LIST && k < c->args[i].n; k++)
            beside |= c->args[i].list[k].kind == ARG_SLOT && data[c->args[i].list[k].i];
    bool product = strcmp(c->target, "aten.matmul.default") == 0 || strcmp(c->target, "aten.mm.default") == 0;
    return beside || (product && c->nargs > 1 && c->args[0].kind == ARG_SLOT && c->args[0].i == slot &&
                      c->args[1].kind == ARG_SLOT && data[c->args[1].i]);
}

/* Which slots are weights: what an operator calls so, multiplies matrices with, or what such a one is computed from,
 * but what a weight of torch.nn is computed with may be a mask. A convolution's filter is as often a buffer where no
 * module of torch.nn has it and it kept its name, in PyTorch's files. */
static bool *
find_weights(const struct matcher *x)
{
    static const char *const products[] = {"aten.matmul.default", "aten.mm.default", "aten.einsum.default",
                                           "aten.addmm.default"};
    const struct program *p = x->l->p;
    bool *weight = NEWN(x->l->a, bool, p->nslots + 1), *data = NEWN(x->l->a, bool, p->nslots + 1),
         *named = NEWN(x->l->a, bool, p->nslots + 1);
    for (int i = 0; i < p->ninputs; i++)
        data[p->inputs[i].slot] = true;
    for (int i = 0; i < p->nparams; i++)
        named[p->params[i].slot] = named_weight(p->params[i].name);
    const struct aten *op = NULL;
    unsigned called_so = 0;
    for (int i = 0, slot; i < p->ncalls; i++) {
        bool reads = false, product = false;
        called_so = p->calls[i].op == op ? called_so : weights_of(p->calls[i].op);
        op = p->calls[i].op;
        for (int k = 0; k < COUNT(products); k++)
            product |= strcmp(p->calls[i].target, products[k]) == 0;
        for (struct call_reads r = {&p->calls[i]}; (slot = next_read(&r)) >= 0;) {
            bool called = called_so >> r.arg & 1;
            const struct param *q = called && spelled(p->calls[i].target, CONVOLVES) ? program_param(p, slot) : NULL;
            reads |= data[slot];
            weight[slot] |= (product && (x->in_constants || !mixes(&p->calls[i], slot, data))) ||
                            (called && (!q || x->in_constants || named_weight(q->name)));
        }
        for (struct call_reads r = {&p->calls[i]}; (slot = next_read(&r)) >= 0;)
            named[p->calls[i].outs[0]] |= named[slot];
        for (int k = 0; k < p->calls[i].nouts; k++)
            data[p->calls[i].outs[k]] = reads;
    }
    for (int i = p->ncalls - 1, slot; i >= 0; i--)
        for (struct call_reads r = {&p->calls[i]}; (slot = next_read(&r)) >= 0;)
            weight[slot] |= !data[p->calls[i].outs[0]] && weight[p->calls[i].outs[0]] &&
                            (named[slot] || !named[p->calls[i].outs[0]] || x->in_constants);
    return weight;
}

/* Other converters write weights as Constant nodes (paddle2onnx/mapper/exporter.cc until it had initializers, spox);
 * PyTorch's exporters write none so. */
static bool
keeps_weights_in_constants(const struct matcher *x)
{
    bool initializer = false;
    for (int i = 0; i < x->g->nt; i++)
        initializer |= x->g->t[i].is_initializer && x->g->t[i].rank > 1 && dtypes[x->g->t[i].dtype].is_float;
    return !x->by_torch && !initializer;
}

/* What hooks register beside NAME_orig is no parameter. Source: BasePruningMethod.apply in torch/nn/utils/prune.py,
 * SpectralNorm.apply in torch/nn/utils/spectral_norm.py. */
static bool
is_beside(const struct matcher *x, const char *name)
{
    static const char *const ends[] = {"_mask", "_u", "_v"};
    const char *end = strrchr(name, '_');
    bool beside = false;
    for (int i = 0; i < COUNT(ends) && end; i++)
        beside |= strcmp(end, ends[i]) == 0 &&
                  names_find(x->params, arena_printf(x->l->a, "%.*s_orig", (int)(end - name), name)) >= 0;
    return beside;
}

/* The file has parameters and buffers in one list, each module's parameters first (torch/nn/modules/module.py,
 * _save_to_state_dict): one before a weight of its module is a parameter, one after a buffer of it is a buffer. Of
 * what is left nothing tells which it is. */
static void
find_buffers(struct matcher *x, const struct names *modules)
{
    struct program *p = x->l->p;
    const struct graph *g = x->g;
    const bool *weight = find_weights(x);
    const struct tensor *open = NULL;
    for (int i = 0; i < p->nparams && x->in_constants; i++)
        if (p->params[i].kind == PARAM_TRAINED && !weight[p->params[i].slot])
            p->params[i].kind = PARAM_BUFFER;
    for (int i = 0; i < g->nt && x->by_torch; i++) {
        int at = g->t[i].is_initializer ? names_find(x->params, g->t[i].name) : -1;
        if (at >= 0 && is_beside(x, g->t[i].name))
            p->params[at].kind = PARAM_BUFFER;
        if (at < 0 || p->params[at].kind != PARAM_TRAINED || weight[p->params[at].slot] || named_parameter(x, &g->t[i]))
            continue;
        const struct place here = {.path = g->t[i].name, .modules = modules};
        const struct fact *f = fact_next(x->l, NULL, 1u << FACT_TRAINED | 1u << FACT_BUFFER, &here);
        bool before = f && f->kind == FACT_TRAINED, after = f && f->kind == FACT_BUFFER;
        for (int k = 0; k < g->nt; k++) {
            int other = g->t[k].is_initializer && same_module(g->t[i].name, g->t[k].name)
                            ? names_find(x->params, g->t[k].name)
                            : -1;
            if (other < 0 || k == i)
                continue;
            before |= k > i && p->params[other].kind == PARAM_TRAINED &&
                      (weight[p->params[other].slot] || named_weight(g->t[k].name));
            after |= k < i && p->params[other].kind == PARAM_BUFFER;
        }
        if (after || (!before && setup_instead(x->l->s, ALTERNATIVE_BUFFERS)))
            p->params[at].kind = PARAM_BUFFER;
        open = before || after || open ? open : &g->t[i];
    }
    for (int i = 0; i < g->nt && x->by_torch; i++) {
        int at = !g->t[i].is_initializer || matcher_renamed(x, i) ? names_find(x->params, g->t[i].name) : -1;
        if (at >= 0 && p->params[at].kind == PARAM_BUFFER)
            p->params[at].kind = PARAM_CONSTANT; /* buffers keep their names */
    }
    if (open)
        program_assume(p, ALTERNATIVE_BUFFERS,
                       "what no operator reads as its weight, %s first, is taken to be trained: the file can't tell "
                       "parameters from buffers",
                       open->name);
}

void
lower_made(struct lowering *l, int at)
{
    struct matcher x = {.l = l, .g = l->g, .params = names_new(l->a)};
    const struct node *n = &l->g->n[at];
    bool ready = emitters[node_call(n)] && n->nin > 0 && n->nout > 0 && !broken(n);
    x.data = NEWN(l->a, bool, l->g->nn + 1);
    memset(x.data, true, sizeof(*x.data) * (size_t)l->g->nn);
    for (int k = 0; k < n->nin && ready; k++)
        ready = n->in[k] >= 0 && (l->slot_of[n->in[k]] >= 0 || matcher_constant(&x, n->in[k]));
    if (ready)
        emit_one(&x, n);
    for (int k = 0; k < n->nout; k++)
        if (n->out[k] >= 0 && l->slot_of[n->out[k]] >= 0)
            names_put(l->slots, l->g->t[n->out[k]].name, l->slot_of[n->out[k]]);
}

static void
emit_node(struct matcher *x, const struct node *n)
{
    const struct pattern *match = x->match[n - x->g->n];
    const struct op *o = n->row;
    const struct form *form = x->form[n - x->g->n];
    if (match)
        match->emit(x, n);
    else if (form)
        forms_call(x, n, form);
    else if (n->out[0] >= 0 && x->l->slot_of[n->out[0]] >= 0)
        return; /* an Identity: done */
    else if (o && ((o->call == CALL_TEXT && compose_node(x->l, x, n)) ||
                   (o->call == CALL_LIKE && emit_like(x, n, o->calls)) || emit_one(x, n)))
        return;
    else if (o && o->aten && aten_find(o->aten) && n->nout == 1)
        emit_inputs(x, n, o->aten);
    else
        emit_unknown(x, n);
}

/* Characters that two modules' names have in common, in whole names. */
static size_t
common(const char *p, const char *q)
{
    size_t n = 0;
    for (size_t i = 0;; i++) {
        if ((!p[i] || p[i] == '.') && (!q[i] || q[i] == '.'))
            n = i;
        if (!p[i] || p[i] != q[i])
            return n;
    }
}

static bool
inside(const struct matcher *x, const struct node *n, const char *module)
{
    return path_within(lower_node_module(x->l->a, n), module);
}

/* Without a parameter and nothing random, from what the module was given; in_form: the node may be inside of one. */
static bool
is_plain(const struct matcher *x, const struct node *m, const char *module, bool in_form)
{
    int at = (int)(m - x->g->n);
    bool form = x->form[at] || (in_form && x->covered[at]);
    bool plain = m->row && m->nout == 1 && !x->match[at] && x->data[at] && !is(m, "Dropout") &&
                 (form || (!x->covered[at] && (emitters[m->row->call] || m->row->aten)));
    for (int k = 0; k < m->nin && plain; k++) {
        const struct node *by = maker(x, m->in[k]);
        plain = !by || !x->data[by - x->g->n] || !inside(x, by, module) || is_plain(x, by, module, form);
        plain &= m->in[k] < 0 || names_find(x->params, x->g->t[m->in[k]].name) < 0;
    }
    return plain;
}

static void
emit_again(struct matcher *x, const struct node *m, const struct node *reader, const char *module)
{
    int *shared = NEWN(x->l->a, int, m->nin + 1), at = (int)(m - x->g->n);
    for (int k = 0; k < m->nin; k++) {
        const struct node *by = maker(x, m->in[k]);
        shared[k] = m->in[k] < 0 ? -1 : x->l->slot_of[m->in[k]];
        if (by && x->data[by - x->g->n] && inside(x, by, module))
            emit_again(x, by, reader, module);
    }
    const char *own = m->name;
    /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): m is one of them */
    x->g->n[at].name = reader->name; /* whose module it runs in */
    if (x->form[at])
        forms_call(x, m, x->form[at]);
    else if (!x->covered[at] && !emit_one(x, m))
        emit_inputs(x, m, m->row->aten);
    x->g->n[at].name = own;
    for (int k = 0; k < m->nin; k++)
        if (shared[k] >= 0)
            x->l->slot_of[m->in[k]] = shared[k];
}

/* The exporter writes equal nodes once. What a module reads that another one made inside, for a node of the same kind,
 * it made itself. Source: _jit_pass_cse in torch/onnx/_internal/torchscript_exporter/utils.py. */
static int
merged_input(const struct matcher *x, const struct node *n, const char **module)
{
    for (int k = 0; k < n->nin; k++) {
        const struct node *m = maker(x, n->in[k]);
        if (!m || !x->data[m - x->g->n] || tensor_at(x, n->in[k])->nusers < 2)
            continue;
        const char *own = lower_node_module(x->l->a, n), *path = lower_node_module(x->l->a, m);
        size_t same = common(own, path);
        if (!own[same] || !path[same])
            continue;
        *module = arena_strn(x->l->a, path, same + (same > 0) + strcspn(path + same + (same > 0), "."));
        const struct tensor *t = tensor_at(x, n->in[k]);
        for (int u = 0; u < t->nusers; u++) {
            const struct node *other = &x->g->n[t->users[u]];
            if (other < n && strcmp(other->op, n->op) == 0 && inside(x, other, *module) &&
                is_plain(x, m, *module, false))
                return k;
        }
    }
    return -1;
}

static bool
squares(const struct node *n, int tensor)
{
    return n->nin == 2 && n->in[0] == tensor && (is(n, "Pow") || (is(n, "Mul") && n->in[1] == tensor));
}

/* What n reads and another node squares, a difference from a mean: (x - u) / sqrt(((x - u) ** 2).mean()). */
static int
difference_twice(const struct matcher *x, const struct node *n)
{
    for (int k = 0; k < n->nin; k++) {
        const struct node *m = n->in[k] >= 0 ? maker(x, n->in[k]) : NULL,
                          *mean = m && is(m, "Sub") ? maker(x, m->in[1]) : NULL;
        const struct tensor *t = tensor_at(x, n->in[k]);
        bool squared = false;
        if (!mean || !is(mean, "ReduceMean") || mean->in[0] != m->in[0] || squares(n, n->in[k]) ||
            !matcher_same_module(x, n, m))
            continue;
        for (int u = 0; u < t->nusers; u++)
            squared |= squares(&x->g->n[t->users[u]], n->in[k]);
        if (squared)
            return k;
    }
    return -1;
}

/* Until the node that reads it is there, the tensor is what its reader's module made, or its line. */
static void
make_again(struct matcher *x, const struct node *n)
{
    const char *module = NULL;
    int k = x->by_torch && x->again < 0 ? merged_input(x, n, &module) : -1,
        twice = k < 0 && x->by_torch && x->again < 0 ? difference_twice(x, n) : -1;
    if (twice >= 0) {
        program_assume(x->l->p, ALTERNATIVE_TWICE,
                       "a difference from a mean that is squared is computed once, though the program may write it "
                       "twice: the file has what is equal once");
        k = setup_instead(x->l->s, ALTERNATIVE_TWICE) ? twice : -1;
    }
    const struct node *m = k < 0 ? NULL : maker(x, n->in[k]);
    if (!m)
        return;
    x->again = n->in[k];
    x->shared = x->l->slot_of[x->again];
    if (module)
        emit_again(x, m, n, module);
    else
        emit_one(x, m);
}

static void
share_again(struct matcher *x)
{
    if (x->again >= 0)
        x->l->slot_of[x->again] = x->shared;
    x->again = -1;
}

/* Behind the call that made what call `at` reads; `at` where nothing runs in between that a gradient goes through. */
static int
place_behind(const struct program *p, int at, const bool *grown)
{
    int from = at;
    bool apart = false;
    for (int i = at - 1; i >= 0 && from == at; i--)
        for (int k = 0; k < p->calls[i].nouts; k++)
            from = p->calls[i].outs[k] == (int)p->calls[at].args[0].i ? i + 1 : from;
    for (int i = from; i < at; i++)
        apart |= grown[i];
    return apart ? from : at;
}

/* The exporter merges log_softmax and the nll_loss that reads it, wherever that is. Source: fuseLogSoftmaxNllLoss in
 * torch/csrc/jit/passes/onnx/peephole.cpp. */
static void
part_losses(struct lowering *l)
{
    struct program *p = l->p;
    bool *grows = lower_trained(p, l->a), *grown = NEWN(l->a, bool, p->ncalls + 1), apart = false;
    for (int i = 0; i < p->ncalls; i++)
        grown[i] = lower_grows(&p->calls[i], grows);
    for (int i = p->ncalls - 1; i >= 0; i--) {
        const struct call *c = &p->calls[i];
        bool merged = strcmp(c->target, "aten.cross_entropy_loss.default") == 0 && c->args[0].kind == ARG_SLOT;
        int at = merged ? place_behind(p, i, grown) : i;
        apart |= at < i;
        if (at == i || !setup_instead(l->s, ALTERNATIVE_EARLY))
            continue;
        struct call *softmax = lower_call_at(l, at, i, "aten.log_softmax.int", 2), *loss = &p->calls[i + 1];
        softmax->args[0] = loss->args[0];
        softmax->args[1] = INT(1);
        loss->args[0].i = softmax->outs[0];
        loss->target = "aten.nll_loss_nd.default";
        loss->op = aten_find(loss->target);
    }
    if (apart)
        program_assume(p, ALTERNATIVE_EARLY,
                       "the log_softmax of a loss runs with it, not before what lies in between: the file has both as "
                       "one node");
}

/* Where a gradient goes through a part that was written: what autograd keeps then hangs on how. */
static void
doubt_written(const struct matcher *x)
{
    const struct program *p = x->l->p;
    bool *grows = lower_trained(p, x->l->a);
    for (int i = 0, at = 0; i < p->ncalls && at < x->nwritten; i++) {
        const struct call *c = &p->calls[i];
        bool reads = lower_grows(c, grows);
        if (x->written[at] != i)
            continue;
        at++;
        if (reads)
            graph_doubt(x->g, c->node, c->target, "export with dynamo=True",
                        "whether the program wrote by index or copied to a view is not told");
    }
}

/* A parameter of the file: where the first call reads it, and its rank among the file's initializers, -1 it is none. */
struct registered {
    struct param param;
    int call, arg, rank;
};

static int
by_use(const void *a, const void *b)
{
    const struct registered *x = a, *y = b;
    return x->call != y->call ? (x->call > y->call) - (x->call < y->call) : x->arg - y->arg;
}

static int
by_initializer(const void *a, const void *b)
{
    return (*(const struct registered *const *)a)->rank - (*(const struct registered *const *)b)->rank;
}

/* Into the order in which the model registers its parameters, which is that of the initializers that have their names;
 * those that were renamed, or of equal content with another, stand at the file's end and go where they are used. */
static void
register_params(struct lowering *l)
{
    struct program *p = l->p;
    int *at = NEWN(l->a, int, p->nslots + 1), nnamed = 0;
    struct registered *r = NEWN(l->a, struct registered, p->nparams + 1);
    struct registered **named = NEWN(l->a, struct registered *, p->nparams + 1);
    memset(at, -1, sizeof(*at) * (size_t)(p->nslots + 1));
    for (int i = 0; i < p->nparams; i++) {
        int own = graph_find(l->g, p->params[i].name);
        at[p->params[i].slot] = i;
        r[i] = (struct registered){p->params[i], INT_MAX, i, own >= 0 && l->g->t[own].is_initializer ? own : -1};
    }
    for (int i = 0; i < p->ncalls; i++) {
        struct call_reads reads = {&p->calls[i]};
        for (int slot, arg = 0; (slot = next_read(&reads)) >= 0; arg++)
            if (at[slot] >= 0 && r[at[slot]].call == INT_MAX)
                r[at[slot]].call = i, r[at[slot]].arg = arg;
    }
    qsort(r, (size_t)p->nparams, sizeof(*r), by_use);
    for (int i = 0; i < p->nparams; i++)
        if (r[i].rank >= 0)
            named[nnamed++] = &r[i];
    qsort(named, (size_t)nnamed, sizeof(*named), by_initializer);
    for (int i = 0, next = 0; i < p->nparams; i++)
        p->params[i] = (r[i].rank >= 0 ? named[next++] : &r[i])->param;
}

void
lower_patterns(struct lowering *l)
{
    struct matcher x = {.l = l, .g = l->g, .params = names_new(l->a), .again = -1};
    x.data = NEWN(l->a, bool, l->g->nn + 1);
    x.covered = NEWN(l->a, bool, l->g->nn + 1);
    x.match = NEWN(l->a, const struct pattern *, l->g->nn + 1);
    x.form = NEWN(l->a, const struct form *, l->g->nn + 1);
    x.by_torch = l->g->producer && strcmp(l->g->producer, "pytorch") == 0;
    x.in_constants = keeps_weights_in_constants(&x);
    for (int i = 0; i < l->g->nn; i++)
        x.scoped |= *l->g->n[i].name == '/';
    find_data(&x);
    for (int i = 0; i < l->g->nn; i++)
        if (node_call(&l->g->n[i]) == CALL_IDENTITY && x.data[i] && !broken(&l->g->n[i]) &&
            l->g->t[l->g->n[i].in[0]].is_initializer)
            emit_identity(&x, &l->g->n[i], NULL);
    match_patterns(&x);
    struct lost lost = lost_new(l);
    for (int i = 0; i < l->g->nn; i++) {
        const struct node *n = &l->g->n[i];
        if (x.data[i])
            make_again(&x, n);
        if (!x.data[i] || x.covered[i] || n->nout < 1 || (n->out[0] < 0 && n->nout < 2))
            continue;
        if (broken(n)) {
            graph_doubt(l->g, n->name, n->op, NULL, "an input that the operator can't do without is missing");
            continue;
        }
        if (is_number(&x, n))
            continue;
        int before = l->p->ncalls;
        emit_node(&x, n);
        share_again(&x);
        if (l->p->ncalls > before)
            lost_after(&lost, n, l->p->ncalls - 1);
    }
    lost_end(&lost);
    find_buffers(&x, lost.modules);
    register_params(l);
    if (l->s->mode == MODE_TRAINING)
        doubt_written(&x);
    if (x.by_torch && l->s->mode == MODE_TRAINING)
        part_losses(l);
    if (x.by_torch && l->s->mode == MODE_TRAINING)
        program_assume(
            l->p, ALTERNATIVE_LOCALS,
            "names of the Python program hold no tensor longer than operators read it: the file has no lines "
            "that tell");
}
