/* SPDX-License-Identifier: Apache-2.0 */
/* compose.c - ONNX operators that a Python program writes as several calls.
 *
 * A row says which, in the notation of PyTorch's own text: statements "r = mul.Tensor(a, a); 0 = ...", where
 *
 *   a b c ...    the node's inputs; NONE where omitted, and a sum with NONE is its other term
 *   r s ... z    what statements before made
 *   0 1 ...      the node's outputs; a row of one expression is output 0
 *   @axis:-1     an attribute, or the value behind the colon; @axes is looked for in the second input too
 *   %b %b0 %o2   the sizes of input b, one of them ($ the last), one of output 0's; %t its type; %n the number of inputs
 *   [1, -1] 2*@size/4    lists, products
 *   chain(add.Tensor)    all inputs, one after the other
 *
 * The rows stand for what torch.nn.functional or the model's source runs before an exporter or an optimizer fused it;
 * com.microsoft's are ONNX Runtime's ContribOperators.md read backwards. What has no differentiable form has no row.
 */
#include "lower/lowering.h"
#include "torch/torch.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* x * cos + rotate_half(x) * sin; the tables need no gradient, so the products keep nothing of x. */
#define ROTARY                                                                                            \
    "r = cat.default([neg.default(slice.Tensor(a, -1, %a$/2, %a$)), slice.Tensor(a, -1, 0, %a$/2)], -1);" \
    "0 = add.Tensor(mul.Scalar(a, 1.0), mul.Scalar(r, 1.0))"

static const struct composition {
    const char *domain, *op;
    int rank; /* of the first input; 0 any */
    const char *text;
} compositions[] = {
    {"", "Attention", 4, "scaled_dot_product_attention.default(a, b, c, d, 0.0, @is_causal:0)"},
    {"", "Attention", 3,
     "r = transpose.int(reshape.default(a, [%a0, %a1, @q_num_heads, -1]), 1, 2);"
     "s = transpose.int(reshape.default(b, [%b0, %b1, @kv_num_heads, -1]), 1, 2);"
     "t = transpose.int(reshape.default(c, [%c0, %c1, @kv_num_heads, -1]), 1, 2);"
     "0 = reshape.default(transpose.int(scaled_dot_product_attention.default(r, s, t, d, 0.0, @is_causal:0), 1, 2), "
     "%o)"},
    {"", "Bernoulli", 0, "bernoulli.p(a)"},
    {"", "CastLike", 0, "to.dtype(a, %t)"},
    {"", "Col2Im", 0, "col2im.default(a, [-1], [-1])"},
    {"", "DeformConv", 4, "deform_conv2d.default(a, b, c, e, d)"},
    {"", "GlobalLpPool", 4, /* F.lp_pool2d */
     "r = avg_pool2d.default(pow.Tensor_Scalar(a, @p:2), [%a2, %a3]);"
     "0 = pow.Tensor_Scalar(mul.Scalar(mul.Tensor(sign.default(r), relu.default(abs.default(r))), 1.0), 0.5)"},
    {"", "GridSample", 4, "grid_sampler_2d.default(a, b)"},
    {"", "GridSample", 5, "grid_sampler_3d.default(a, b)"},
    {"", "LpNormalization", 0, /* F.normalize */
     "r = clamp_min.default(linalg_vector_norm.default(a, @p:2, [@axis:-1], true), 0.0);"
     "0 = div.Tensor(a, expand.default(r, %a))"},
    {"", "LpPool", 4, /* F.lp_pool2d */
     "r = avg_pool2d.default(pow.Tensor_Scalar(a, @p:2), @kernel_shape, @strides:[1, 1]);"
     "0 = pow.Tensor_Scalar(mul.Scalar(mul.Tensor(sign.default(r), relu.default(abs.default(r))), 1.0), 0.5)"},
    {"", "LRN", 4, /* F.local_response_norm */
     "r = reshape.default(mul.Tensor(a, a), [%a0, 1, %a1, %a2, -1]);"
     "s = avg_pool3d.default(constant_pad_nd.default(r, [0, 0, 0, 0, @size/2, @size/2]), [@size, 1, 1], [1, 1, 1]);"
     "0 = div.Tensor(a, pow.Tensor_Scalar(add.Scalar(mul.Scalar(reshape.default(s, %a), 1.0), 1.0), 0.75))"},
    {"", "Max", 0, "chain(maximum.default)"},
    {"", "MaxUnpool", 4, "max_unpool2d.default(a, b)"},
    {"", "Mean", 0, "div.Scalar(chain(add.Tensor), %n)"},
    {"", "MeanVarianceNormalization", 0,
     "r = sub.Tensor(a, mean.dim(a, @axes:[0, 2, 3], true));"
     "0 = div.Tensor(r, add.Scalar(sqrt.default(mean.dim(mul.Tensor(r, r), @axes:[0, 2, 3], true)), 1.0))"},
    {"", "Min", 0, "chain(minimum.default)"},
    {"", "NegativeLogLikelihoodLoss", 2, "nll_loss_forward.default(a, b)"},
    {"", "NegativeLogLikelihoodLoss", 4, "nll_loss2d_forward.default(a, b)"},
    {"", "NegativeLogLikelihoodLoss", 3, /* seen as an image of one row */
     "nll_loss2d_forward.default(reshape.default(a, [%a0, %a1, 1, -1]), reshape.default(b, [%b0, 1, -1]))"},
    {"", "NegativeLogLikelihoodLoss", 5,
     "nll_loss2d_forward.default(reshape.default(a, [%a0, %a1, 1, -1]), reshape.default(b, [%b0, 1, -1]))"},
    {"", "ReduceLogSum", 0, "log.default(sum.dim_IntList(a, @axes, @keepdims:1))"},
    {"", "ReduceSumSquare", 0, "sum.dim_IntList(pow.Tensor_Scalar(a, 2), @axes, @keepdims:1)"},
    {"", "ReverseSequence", 0, "flip.default(a, [@time_axis:0])"},
    {"", "RoiAlign", 4, "roi_align.default(a, b)"},
    {"", "RMSNormalization", 0, "rms_norm.default(a, %b, b)"},
    {"", "RotaryEmbedding", 0, ROTARY},
    {"", "Scatter", 0, "scatter.src(a, @axis:0, b, c)"},
    {"", "ScatterElements", 0, "scatter.src(a, @axis:0, b, c)"},
    {"", "Shrink", 0, "hardshrink.default(a, @lambd:0)"},
    {"", "SimplifiedLayerNormalization", 0, "rms_norm.default(a, %b, b)"},
    {"", "SoftmaxCrossEntropyLoss", 0, "cross_entropy_loss.default(a, b)"},
    {"", "Softsign", 0, "div.Tensor(a, add.Scalar(abs.default(a), 1))"}, /* F.softsign */
    {"", "Sum", 0, "chain(add.Tensor)"},
    {"com.microsoft", "Attention", 0,
     "r = linear.default(a, t.default(b), c);"
     "s = transpose.int(reshape.default(slice.Tensor(r, 2, 0, %o2), [%a0, %a1, @num_heads, -1]), 1, 2);"
     "t = transpose.int(reshape.default(slice.Tensor(r, 2, %o2, 2*%o2), [%a0, %a1, @num_heads, -1]), 1, 2);"
     "u = transpose.int(reshape.default(slice.Tensor(r, 2, 2*%o2, 3*%o2), [%a0, %a1, @num_heads, -1]), 1, 2);"
     "0 = reshape.default(transpose.int(scaled_dot_product_attention.default(s, t, u, none, 0.0, @unidirectional:0), "
     "1, "
     "2), %o)"},
    {"com.microsoft", "BiasAdd", 0, "add.Tensor(add.Tensor(a, b), c)"},
    {"com.microsoft", "BiasDropout", 0, "add.Tensor(dropout.default(add.Tensor(a, b), 0.5, true), c)"},
    {"com.microsoft", "BiasGelu", 0, "gelu.default(add.Tensor(a, b))"},
    {"com.microsoft", "BiasSoftmax", 0, "softmax.int(add.Tensor(a, b), @axis:-1)"},
    {"com.microsoft", "BiasSplitGelu", 0,
     "r = add.Tensor(a, b); 0 = mul.Tensor(slice.Tensor(r, 2, 0, %o2), gelu.default(slice.Tensor(r, 2, %o2, 2*%o2)))"},
    {"com.microsoft", "BitmaskBiasDropout", 0, "add.Tensor(dropout.default(add.Tensor(a, b), 0.5, true), c)"},
    {"com.microsoft", "BitmaskDropout", 0, "dropout.default(a, 0.5, true)"},
    {"com.microsoft", "EmbedLayerNormalization", 0, /* BertEmbeddings */
     "r = add.Tensor(embedding.default(c, a), embedding.default(e, b));"
     "s = add.Tensor(r, embedding.default(d, zeros.default([1, %a1], int64)));"
     "0 = layer_norm.default(s, %f, f, g); 2 = s"},
    {"com.microsoft", "FastGelu", 0, "gelu.default(add.Tensor(a, b))"},
    {"com.microsoft", "FusedMatMul", 0, "matmul.default(turned(a, @transA:0), turned(b, @transB:0))"},
    {"com.microsoft", "GatedAdd", 0, "add.Tensor(a, mul.Tensor(b, c))"},
    {"com.microsoft", "Gelu", 0, "gelu.default(a)"},
    {"com.microsoft", "GemmFastGelu", 0, "gelu.default(add.Tensor(matmul.default(a, b), c))"},
    {"com.microsoft", "GridSample", 4, "grid_sampler_2d.default(a, b)"},
    {"com.microsoft", "GroupNorm", 4, /* channels last */
     "r = group_norm.default(permute.default(a, [0, 3, 1, 2]), @groups, b, c);"
     "0 = permute.default(silu.default(r), [0, 2, 3, 1])"},
    {"com.microsoft", "GroupQueryAttention", 3, /* repeat_kv */
     "r = transpose.int(reshape.default(a, [%a0, %a1, @num_heads, -1]), 1, 2);"
     "s = transpose.int(reshape.default(b, [%b0, %b1, @kv_num_heads, -1]), 1, 2);"
     "t = transpose.int(reshape.default(c, [%c0, %c1, @kv_num_heads, -1]), 1, 2);"
     "u = scaled_dot_product_attention.default(r, repeat_interleave.self_int(s, @num_heads/@kv_num_heads, 1), "
     "repeat_interleave.self_int(t, @num_heads/@kv_num_heads, 1), none, 0.0, true);"
     "0 = reshape.default(transpose.int(u, 1, 2), %o)"},
    {"com.microsoft", "MultiHeadAttention", 3,
     "r = transpose.int(reshape.default(a, [%a0, %a1, @num_heads, -1]), 1, 2);"
     "s = transpose.int(reshape.default(b, [%b0, %b1, @num_heads, -1]), 1, 2);"
     "t = transpose.int(reshape.default(c, [%c0, %c1, @num_heads, -1]), 1, 2);"
     "0 = reshape.default(transpose.int(scaled_dot_product_attention.default(r, s, t, none, 0.0, @unidirectional:0), "
     "1, "
     "2), %o)"},
    {"com.microsoft", "NhwcConv", 4,
     "permute.default(convolution.default(permute.default(a, [0, 3, 1, 2]), "
     "permute.default(b, [0, 3, 1, 2]), c, @strides:[1, 1], @pads:[0, 0], "
     "@dilations:[1, 1], false, [0, 0], @group:1), [0, 2, 3, 1])"},
    {"com.microsoft", "NhwcMaxPool", 4,
     "permute.default(max_pool2d.default(permute.default(a, [0, 3, 1, 2]), @kernel_shape, @strides:[1, 1]), [0, 2, 3, "
     "1])"},
    {"com.microsoft", "QuickGelu", 0, "mul.Tensor(a, sigmoid.default(mul.Scalar(a, 1.702)))"},
    {"com.microsoft", "RotaryEmbedding", 0, ROTARY},
    {"com.microsoft", "SimplifiedLayerNormalization", 0, "rms_norm.default(a, %b, b)"},
    {"com.microsoft", "SkipGroupNorm", 4,
     "s = add.Tensor(add.Tensor(a, d), e);"
     "r = group_norm.default(permute.default(s, [0, 3, 1, 2]), @groups, b, c);"
     "0 = permute.default(silu.default(r), [0, 2, 3, 1]); 1 = s"},
    {"com.microsoft", "SkipLayerNormalization", 0,
     "r = add.Tensor(add.Tensor(a, b), e); 0 = layer_norm.default(r, %c, c, d); 3 = r"},
    {"com.microsoft", "SkipSimplifiedLayerNormalization", 0,
     "r = add.Tensor(add.Tensor(a, b), d); 0 = rms_norm.default(r, %c, c); 3 = r"},
    {"com.microsoft", "TorchEmbedding", 0, "embedding.default(a, b)"},
    {"com.microsoft", "TransposeMatMul", 0, "matmul.default(turned(a, @transA:0), turned(b, @transB:0))"},
    {"com.microsoft", "Trilu", 0, "tril.default(a)"},
};

struct reader {
    const char *p;
    struct lowering *l;
    struct matcher *x;
    const struct node *n;
    struct arg made[26];
};

static struct arg expression(struct reader *r);

static void
skip(struct reader *r)
{
    while (*r->p == ' ')
        r->p++;
}

static bool
eat(struct reader *r, char c)
{
    skip(r);
    if (*r->p != c)
        return false;
    r->p++;
    return true;
}

static struct arg
slot_arg(int slot)
{
    return (struct arg){.kind = ARG_SLOT, .i = slot};
}

static const struct tensor *
input_of(const struct reader *r, int k)
{
    return k < r->n->nin && r->n->in[k] >= 0 ? &r->l->g->t[r->n->in[k]] : NULL;
}

static struct arg
list(struct reader *r)
{
    struct arg a = {.kind = ARG_LIST, .list = NEWN(r->l->a, struct arg, MAX_ARGS)};
    while (!eat(r, ']')) {
        struct arg e = expression(r);
        if (a.n < MAX_ARGS)
            a.list[a.n++] = e;
        eat(r, ',');
    }
    return a;
}

/* %b, %b0, %o2, %n */
static struct arg
sizes(struct reader *r)
{
    char which = *r->p++;
    if (which == 'n')
        return INT(r->n->nin);
    if (which == 't')
        return DTYPE(r->l->g->t[r->n->out[0]].dtype);
    const struct tensor *t = which == 'o' ? &r->l->g->t[r->n->out[0]] : input_of(r, which - 'a');
    if (isdigit((unsigned char)*r->p) || *r->p == '$') {
        int d = *r->p == '$' ? (t ? t->rank : 0) - 1 : *r->p - '0';
        r->p++;
        return INT(t && d >= 0 && d < t->rank ? t->dims[d].n : -1);
    }
    struct arg a = {.kind = ARG_LIST};
    a.n = t && t->rank > 0 ? t->rank : 0;
    a.list = NEWN(r->l->a, struct arg, a.n + 1);
    for (int i = 0; i < a.n; i++)
        a.list[i] = INT(t->dims[i].n);
    return a;
}

static struct arg
integers(struct reader *r, int n, const int64_t *v)
{
    struct arg a = {.kind = ARG_LIST, .n = n, .list = NEWN(r->l->a, struct arg, n + 1)};
    for (int i = 0; i < n; i++)
        a.list[i] = INT(v[i]);
    return a;
}

/* @name:otherwise */
static struct arg
attribute(struct reader *r)
{
    const char *start = r->p;
    while (isalnum((unsigned char)*r->p) || *r->p == '_')
        r->p++;
    const char *name = arena_strn(r->l->a, start, (size_t)(r->p - start));
    struct arg otherwise = eat(r, ':') ? expression(r) : NONE;
    const struct attr *a = node_attr(r->n, name);
    const struct tensor *second = strcmp(name, "axes") == 0 ? input_of(r, 1) : NULL;
    if (a && a->type == ATTR_INT)
        return INT(a->i);
    if (a && a->type == ATTR_FLOAT)
        return FLT(a->f);
    if (a && a->type == ATTR_INTS && a->ints)
        return integers(r, a->n, a->ints);
    if (second && second->value && second->value->i)
        return integers(r, second->value->n, second->value->i);
    return otherwise;
}

static struct arg
call(struct reader *r, const char *name, int n, const struct arg *args)
{
    bool sum = strncmp(name, "add.", 4) == 0 || strncmp(name, "mul.", 4) == 0;
    if (sum && n == 2 && (args[0].kind == ARG_NONE || args[1].kind == ARG_NONE))
        return args[args[0].kind == ARG_NONE];
    if (!n || (args[0].kind == ARG_NONE && strncmp(name, "full.", 5) != 0))
        return NONE;
    if (strcmp(name, "turned") == 0) {
        if (!args[1].i)
            return args[0];
        struct arg turn[] = {args[0], INT(-2), INT(-1)};
        return call(r, "transpose.int", 3, turn);
    }
    bool number = n == 2 && (args[1].kind == ARG_INT || args[1].kind == ARG_FLOAT);
    if (number && strcmp(name, "maximum.default") == 0)
        name = "clamp_min.default";
    else if (number && strcmp(name, "minimum.default") == 0)
        name = "clamp_max.default";
    struct call *c = matcher_call(r->x, r->n, arena_printf(r->l->a, "aten.%s", name), n);
    memcpy(c->args, args, sizeof(*args) * (size_t)n);
    return slot_arg(c->outs[0]);
}

static struct arg
chain(struct reader *r)
{
    const char *start = r->p;
    r->p += strcspn(r->p, ")");
    const char *name = arena_strn(r->l->a, start, (size_t)(r->p - start));
    struct arg all = r->n->nin ? matcher_input(r->x, r->n, 0) : NONE;
    for (int k = 1; k < r->n->nin; k++) {
        struct arg two[] = {all, matcher_input(r->x, r->n, k)};
        all = call(r, name, 2, two);
    }
    eat(r, ')');
    return all;
}

static struct arg
term(struct reader *r)
{
    skip(r);
    if (eat(r, '['))
        return list(r);
    if (eat(r, '@'))
        return attribute(r);
    if (eat(r, '%'))
        return sizes(r);
    if (isdigit((unsigned char)*r->p) || *r->p == '-') {
        char *end;
        double f = strtod(r->p, &end);
        bool whole = !memchr(r->p, '.', (size_t)(end - r->p));
        r->p = end;
        return whole ? INT((int64_t)f) : FLT(f);
    }
    const char *start = r->p;
    while (isalnum((unsigned char)*r->p) || *r->p == '_' || *r->p == '.')
        r->p++;
    size_t len = (size_t)(r->p - start);
    const char *name = arena_strn(r->l->a, start, len);
    if (len == 1)
        return *name >= 'r' ? r->made[*name - 'a'] : matcher_input(r->x, r->n, *name - 'a');
    if (!eat(r, '('))
        return strcmp(name, "true") == 0 || strcmp(name, "false") == 0 ? BOOL(*name == 't')
               : strcmp(name, "none") == 0                             ? NONE
                                                                       : DTYPE(dtype_by_onnx(name));
    if (strcmp(name, "chain") == 0)
        return chain(r);
    struct arg args[MAX_ARGS];
    int n = 0;
    while (!eat(r, ')')) {
        struct arg a = expression(r);
        if (n < MAX_ARGS)
            args[n++] = a;
        eat(r, ',');
    }
    return call(r, name, n, args);
}

static struct arg
expression(struct reader *r)
{
    struct arg a = term(r);
    for (;;) {
        bool times = eat(r, '*');
        if (!times && !eat(r, '/'))
            return a;
        struct arg b = term(r);
        int64_t v = 0;
        if (a.kind == ARG_INT && b.kind == ARG_INT && times && !__builtin_mul_overflow(a.i, b.i, &v))
            a.i = v;
        else if (a.kind == ARG_INT && b.kind == ARG_INT && !times && b.i > 0)
            a.i /= b.i;
    }
}

static const struct composition *
composition_of(const struct lowering *l, const struct node *n)
{
    int rank = n->nin && n->in[0] >= 0 ? l->g->t[n->in[0]].rank : -1;
    for (int i = 0; i < COUNT(compositions); i++) {
        const struct composition *c = &compositions[i];
        if (strcmp(c->op, n->op) == 0 && strcmp(c->domain, n->domain) == 0 && (!c->rank || c->rank == rank))
            return c;
    }
    return NULL;
}

bool
lower_composed(struct lowering *l, struct matcher *x, const struct node *n)
{
    const struct composition *c = composition_of(l, n);
    struct reader r = {.l = l, .x = x, .n = n};
    if (!c || n->nout < 1 || n->out[0] < 0)
        return false;
    bool done = false;
    for (r.p = c->text; *r.p; eat(&r, ';')) {
        char to = '0';
        skip(&r);
        if (r.p[1] == ' ' && r.p[2] == '=') {
            to = *r.p;
            r.p += 3;
        }
        struct arg a = expression(&r);
        int k = isdigit((unsigned char)to) ? to - '0' : -1;
        if (k < 0)
            r.made[to - 'a'] = a;
        else if (k < n->nout && n->out[k] >= 0 && a.kind == ARG_SLOT)
            matcher_define(x, n->out[k], (int)a.i);
        done |= k == 0 && a.kind == ARG_SLOT;
        skip(&r);
    }
    return done;
}

bool
compose_check(struct arena *a)
{
    bool ok = true;
    for (int i = 0; i < COUNT(compositions); i++)
        for (const char *p = compositions[i].text, *dot; (dot = strpbrk(p, "(")); p = dot + 1) {
            const char *start = dot;
            while (start > p && (isalnum((unsigned char)start[-1]) || strchr("_.", start[-1])))
                start--;
            const char *name = arena_strn(a, start, (size_t)(dot - start));
            bool own = strcmp(name, "turned") == 0 || strcmp(name, "chain") == 0;
            ok &= own || aten_find(name) != NULL;
        }
    return ok;
}
