/* SPDX-License-Identifier: Apache-2.0 */
/* formulas.c - gradients that are more than a formula of calls.
 *
 * What a row of aten.c says in its notation needs no body; what depends on sizes or has variables stands here. Each
 * function reads like the C++ it follows, torch/csrc/autograd/FunctionsManual.cpp: variables live until it returns,
 * what else an expression makes until the expression ends (scopes), and C++ evaluates operands from the right.
 */
#include "torch/run.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* Source: repeat_backward in FunctionsManual.cpp: new dimensions are summed, the others split into copies and size. */
void
expand_repeat_backward(struct machine *m, struct frame *f)
{
    int64_t size[2 * RANK], over[RANK];
    struct value *g = V(0), *like = V(1);
    int n = 0, nover = 0, lead = g->rank - like->rank;
    if (value_elements(g) == 0) {
        out_add(m, f, OP(m, "zeros.default", ints_arg(m, like->rank, like->size), DTYPE(g->dtype)));
        return;
    }
    for (int i = 0, mark = scope_begin(m); i < lead; i++) {
        g = OP(m, "sum.dim_IntList", VAL(g), ints_arg(m, 1, (int64_t[]){0}), BOOL(false));
        scope_end(m, mark, 1, &g);
    }
    for (int i = 0; i < like->rank && g->rank == like->rank; i++) {
        int64_t times = like->size[i] ? g->size[i] / like->size[i] : 1;
        if (times != 1) {
            over[nover++] = n;
            size[n++] = times;
        }
        size[n++] = like->size[i];
    }
    if (n > MAX_RANK || g->rank != like->rank) {
        out_add(m, f, value_new(m, g->dtype, like->rank, like->size, NULL));
        return;
    }
    g = OP(m, "reshape.default", VAL(g), ints_arg(m, n, size));
    out_add(m, f, nover ? OP(m, "sum.dim_IntList", VAL(g), ints_arg(m, nover, over), BOOL(false)) : g);
}

/* Source: cumsum_backward in FunctionsManual.cpp: nothing to do along a dimension of one. */
void
expand_cumsum_backward(struct machine *m, struct frame *f)
{
    struct value *g = V(0);
    int64_t dim = arg_int(f, 1, 0);
    if (g->rank && g->size[layout_dim(dim, g->rank)] != 1) {
        g = OP(m, "flip.default", VAL(g), INT(dim));
        g = OP(m, "cumsum.default", VAL(g), INT(dim));
        g = OP(m, "flip.default", VAL(g), INT(dim));
    }
    out_add(m, f, g);
}

/* Of each element along a dimension the products that it is part of, without it: of n * n elements in all. */
static struct value *
omitted_products(struct machine *m, struct value *g, struct value *x, int dim)
{
    int64_t n = x->size[dim], size[RANK];
    memcpy(size, x->size, sizeof(*size) * (size_t)x->rank);
    size[dim] = 1;
    struct value **held = NEWN(m->a, struct value *, n + 2), *after = NULL, *omitted = NULL;
    struct arg *sums = NEWN(m->a, struct arg, n), pair[2], cat = {.kind = ARG_LIST, .n = 2, .list = pair};
    int begun = scope_begin(m);
    struct value *ones = OP(m, "ones.default", ints_arg(m, 1, (int64_t[]){1}), DTYPE(g->dtype));
    pair[0] = VAL(OP(m, "expand.default", VAL(ones), ints_arg(m, x->rank, size)));
    int mark = scope_begin(m);
    pair[1] = VAL(OP(m, "cumprod.default", VAL(range_of(m, x, dim, 1, n - 1)), INT(dim))); /* moved into the list */
    scope_assign(m, mark, &omitted, OP(m, "cat.default", cat, INT(dim)));
    for (int64_t k = 0; k < n; k++) {
        struct value *before = NULL, *sum = NULL;
        mark = scope_begin(m);
        if (k) {
            LET(before, OP(m, "prod.dim_int", VAL(range_of(m, x, dim, 0, k)), INT(dim), BOOL(true)));
            pair[0] = VAL(before);
        }
        if (k && k + 1 < n) {
            LET(after, OP(m, "cumprod.default", VAL(range_of(m, x, dim, k + 1, n - k - 1)), INT(dim)));
            LET(omitted, OP(m, "mul.Tensor", VAL(before), VAL(after)));
            pair[1] = VAL(omitted);
            LET(omitted, OP(m, "cat.default", cat, INT(dim)));
        } else if (k) {
            LET(omitted, before);
        }
        scope_end(m, mark, k == 1, &after); /* a variable from then on */
        LET(sum, OP(m, "sum.dim_IntList", VAL(OP(m, "mul.Tensor", VAL(range_of(m, g, dim, k, n - k)), VAL(omitted))),
                    INT(dim), BOOL(false)));
        held[k] = sum;
        sums[k] = VAL(sum);
    }
    held[n] = OP(m, "stack.default", ((struct arg){.kind = ARG_LIST, .n = (int)n, .list = sums}), INT(dim));
    held[n + 1] = after;
    scope_end(m, begun, (int)n + 2, held);
    return held[n];
}

/* Source: cumprod_backward in FunctionsManual.cpp, for inputs without zeros, or where a dispatch mode hides whether
 * there are any. */
void
expand_cumprod_backward(struct machine *m, struct frame *f)
{
    struct value *g = V(0), *x = V(1);
    struct arg dim = f->a[2];
    int d = layout_dim(arg_int(f, 2, 0), x->rank);
    if (x->rank && x->size[d] > 1) {
        struct value *w = OP(m, "mul.Tensor", VAL(V(3)), VAL(g));
        OP(m, "eq.Scalar", VAL(x), INT(0));
        g = m->real ? OP(m, "div.Tensor", VAL(OP(m, "cumsum_backward", VAL(w), dim)), VAL(x))
                    : omitted_products(m, g, x, d);
    }
    out_add(m, f, g);
}

/* Source: prod_backward and prod_safe_zeros_backward in FunctionsManual.cpp: a dispatch mode hides whether there are
 * zeros, so it takes the way that works with them; otherwise none are assumed. */
void
expand_prod_backward(struct machine *m, struct frame *f)
{
    struct value *g = V(0), *x = V(1), *r = V(2);
    int64_t dim = arg_int(f, 3, 0), size[RANK];
    int d = layout_dim(dim, x->rank);
    memcpy(size, x->size, sizeof(*size) * (size_t)x->rank);
    if (f->n > 3 && g->rank < x->rank) {
        g = OP(m, "unsqueeze.default", VAL(g), INT(d));
        r = OP(m, "unsqueeze.default", VAL(r), INT(d));
    }
    if (f->n <= 3) { /* of everything: of the flat tensor along its dimension */
        size[0] = value_elements(x);
        x = OP(m, "reshape.default", VAL(x), ints_arg(m, 1, size));
        d = 0;
    }
    if (m->real) {
        struct value *zero = OP(m, "eq.Scalar", VAL(x), INT(0));
        OP(m, "sum.dim_IntList", VAL(zero), INT(d), BOOL(true));
        g = OP(m, "mul.Tensor", VAL(g), VAL(OP(m, "div.Tensor", VAL(r), VAL(x))));
    } else if (x->rank && x->size[d] != 1) {
        int64_t last = size[d];
        size[d] = 1;
        int mark = scope_begin(m);
        struct value *ones = OP(m, "ones.default", ints_arg(m, x->rank, size), DTYPE(g->dtype));
        struct value *rest = range_of(m, x, d, 0, last - 1);
        struct arg both = {.kind = ARG_LIST, .n = 2, .list = (struct arg[]){VAL(ones), VAL(rest)}};
        struct value *held[3] = {OP(m, "cat.default", both, INT(d))};
        held[1] = OP(m, "cumprod.default", VAL(held[0]), INT(d));
        rest = range_of(m, x, d, 1, last - 1);
        both.list[1] = VAL(OP(m, "flip.default", VAL(rest), INT(d)));
        held[2] = OP(m, "cat.default", both, INT(d));
        scope_end(m, mark, COUNT(held), held); /* cat's operands are moved into it */
        mark = scope_begin(m);
        struct value *after = OP(m, "cumprod.default", VAL(held[2]), INT(d));
        after = OP(m, "flip.default", VAL(after), INT(d));
        scope_end(m, mark, 1, &after);
        g = OP(m, "mul.Tensor", VAL(g), VAL(OP(m, "mul.Tensor", VAL(held[1]), VAL(after))));
    }
    out_add(m, f, f->n <= 3 ? OP(m, "reshape.default", VAL(g), ints_arg(m, V(1)->rank, V(1)->size)) : g);
}

/* Source: fft_r2c_backward in FunctionsManual.cpp: a half spectrum is written into a whole one of zeros; then the real
 * part. */
void
expand_fft_r2c_backward(struct machine *m, struct frame *f)
{
    struct value *g = V(0), *like = V(1);
    if (arg_int(f, 3, 0))
        g = OP(m, "new_zeros.default", VAL(g), ints_arg(m, like->rank, like->size));
    g = OP(m, "_fft_c2c.default", VAL(g), f->a[2]);
    out_add(m, f, OP(m, "real.default", VAL(g)));
}

/* grad.index_put(indices, zeros_like(values), false), unless the write accumulated. */
void
expand_index_put_backward(struct machine *m, struct frame *f)
{
    struct value *g = V(0), *values = V(2);
    if (!arg_int(f, 3, 0)) { /* zeros like the values, which may be a number on the host */
        struct arg zeros = FLT(0);
        if (values)
            zeros = VAL(OP(m, "zeros.default", ints_arg(m, values->rank, values->size), DTYPE(values->dtype)));
        g = OP(m, f->op->source, VAL(g), f->a[1], zeros);
    }
    out_add(m, f, g);
}

/* evenly_distribute_backward in FunctionsManual.cpp, of max() and min(): the gradient is shared among equal maxima. */
void
expand_evenly_distribute(struct machine *m, struct frame *f)
{
    struct value *g = V(0), *x = V(1), *r = V(2);
    struct value *nan = OP(m, "isnan.default", VAL(x)), *none = OP(m, "isnan.default", VAL(r));
    if (!m->real) /* logical_and_ */
        OP(m, "logical_and.default", VAL(nan), VAL(none));
    struct value *mask = OP(m, "eq.Tensor", VAL(x), VAL(r));
    struct value *count = OP(m, "sum.default", VAL(mask), DTYPE(DT_INT64));
    out_add(m, f, OP(m, "mul.Tensor", VAL(mask), VAL(OP(m, "div.Tensor", VAL(g), VAL(count)))));
}

/* scaled: of exp(-|x|) times it. */
static void
bessel_backward(struct machine *m, struct frame *f, bool scaled)
{
    struct value *x = V(1), *large, *safe, *g;
    int mark = scope_begin(m);
    large = OP(m, "gt.Scalar", VAL(OP(m, "abs.default", VAL(x))), FLT(0));
    scope_end(m, mark, 1, &large);
    mark = scope_begin(m);
    safe = OP(m, "where.self", VAL(large), VAL(x), VAL(OP(m, "scalar_tensor.default", FLT(0), DTYPE(x->dtype))));
    scope_end(m, mark, 1, &safe);
    mark = scope_begin(m);
    g = OP(m, "reciprocal.default", VAL(safe));
    if (scaled)
        g = OP(m, "add.Tensor", VAL(OP(m, "sgn.default", VAL(safe))), VAL(g));
    g = OP(m, "mul.Tensor", VAL(V(2)), VAL(g));
    struct value *zeroth = scaled ? OP(m, "special_i0e.default", VAL(safe)) : OP(m, "i0.default", VAL(safe));
    g = OP(m, "sub.Tensor", VAL(zeroth), VAL(g));
    scope_end(m, mark, 1, &g);
    struct value *half = OP(m, "scalar_tensor.default", FLT(0.5), DTYPE(x->dtype));
    out_add(m, f, OP(m, "mul.Tensor", VAL(V(0)), VAL(OP(m, "where.self", VAL(large), VAL(g), VAL(half)))));
}

/* Source: i1_backward and i1e_backward in FunctionsManual.cpp. */
void
expand_i1_backward(struct machine *m, struct frame *f)
{
    bessel_backward(m, f, false);
}

void
expand_i1e_backward(struct machine *m, struct frame *f)
{
    bessel_backward(m, f, true);
}

/* The sum over p numbers with each element. */
static struct value *
sum_of_steps(struct machine *m, struct value *v, int64_t p)
{
    struct value *args = NULL;
    LET(args, OP(m, "arange.start_step", INT(0), INT(p), INT(1), DTYPE(v->dtype)));
    LET(args, OP(m, "add.Tensor", VAL(args), VAL(OP(m, "unsqueeze.default", VAL(v), INT(-1)))));
    return OP(m, "sum.dim_IntList", VAL(args), INT(-1), BOOL(false));
}

/* The numbers are no tensor of a dispatch mode. Source: mvlgamma in aten/src/ATen/native/UnaryOps.cpp. */
void
expand_mvlgamma(struct machine *m, struct frame *f)
{
    struct value *v = V(0);
    out_add(m, f, m->real ? sum_of_steps(m, v, arg_int(f, 1, 1)) : value_new(m, v->dtype, v->rank, v->size, NULL));
}

/* (grad, self, p). Source: mvlgamma_backward in FunctionsManual.cpp. */
void
expand_mvlgamma_backward(struct machine *m, struct frame *f)
{
    out_add(m, f, OP(m, "mul.Tensor", VAL(V(0)), VAL(sum_of_steps(m, V(1), arg_int(f, 2, 1)))));
}

/* (grad, index, source, accumulate): zeros where the source was put, unless it was added. */
void
expand_put_backward(struct machine *m, struct frame *f)
{
    struct value *g = V(0);
    if (!arg_int(f, 3, 0))
        g = OP(m, "put.default", VAL(g), VAL(V(1)), VAL(OP(m, "zeros_as", VAL(V(2)))), BOOL(false));
    out_add(m, f, g);
}

/* Source: cummaxmin_backward in FunctionsManual.cpp. */
void
expand_cummaxmin_backward(struct machine *m, struct frame *f)
{
    struct arg a[] = {VAL(OP(m, "zeros_as", VAL(V(1)))), f->a[2], f->a[3], f->a[0]};
    out_add(m, f, op_over(m, "scatter_add.default", COUNT(a), a, m->real));
}

/* a / b, and 0 where b is */
static struct value *
ratio_of(struct machine *m, struct value *a, struct value *b)
{
    struct value *ratio = OP(m, "div.Tensor", VAL(a), VAL(b));
    int mark = scope_begin(m);
    OP(m, "eq.Scalar", VAL(b), INT(0)); /* masked_fill_'s */
    scope_end(m, mark, 0, NULL);
    return ratio;
}

/* Source: copysign_tensor_self_backward in FunctionsManual.cpp. */
void
expand_copysign_backward(struct machine *m, struct frame *f)
{
    out_add(m, f, OP(m, "mul.Tensor", VAL(V(0)), VAL(ratio_of(m, V(2), V(1)))));
}

/* Source: _euclidean_dist_backward in FunctionsManual.cpp. */
void
expand_euclidean_dist_backward(struct machine *m, struct frame *f)
{
    struct value *x[] = {V(1), V(2)}, *ratio = ratio_of(m, V(0), V(3));
    for (int i = 0; i < 2; i++) {
        struct value *of = i ? OP(m, "transpose.int", VAL(ratio), INT(-2), INT(-1)) : ratio;
        struct value *product = OP(m, "matmul.default", VAL(of), VAL(x[1 - i]));
        struct value *sum = OP(m, "sum.dim_IntList", VAL(ratio), ints_arg(m, 1, (int64_t[]){-1 - i}), BOOL(i == 0));
        if (i)
            sum = OP(m, "unsqueeze.default", VAL(sum), INT(-1));
        out_add(m, f, OP(m, "sub.Tensor", VAL(OP(m, "mul.Tensor", VAL(x[i]), VAL(sum))), VAL(product)));
    }
}

void
expand_zeros_as(struct machine *m, struct frame *f)
{
    struct value *like = V(0);
    out_add(m, f, OP(m, "zeros.default", ints_arg(m, like->rank, like->size), DTYPE(like->dtype)));
}

/* A tensor of zeros without memory, but for fake tensors. Source: sgn_backward in FunctionsManual.cpp, ZeroTensor. */
void
expand_no_gradient(struct machine *m, struct frame *f)
{
    struct value *like = V(0);
    if (m->real)
        out_add(m, f, like);
    else
        out_add(m, f, OP(m, "_efficientzerotensor.default", ints_arg(m, like->rank, like->size), DTYPE(like->dtype)));
}

/* Source: atan2_backward in FunctionsManual.cpp. */
void
expand_atan2_backward(struct machine *m, struct frame *f)
{
    struct value *g = V(0), *y = V(1), *x = V(2), *out[2] = {NULL, NULL};
    int mark = scope_begin(m);
    struct value *xx = OP(m, "mul.Tensor", VAL(x), VAL(x)); /* C++ evaluates operands from the right */
    struct value *sum = OP(m, "add.Tensor", VAL(OP(m, "mul.Tensor", VAL(y), VAL(y))), VAL(xx));
    scope_end(m, mark, 1, &sum);
    mark = scope_begin(m);
    struct value *inverse = OP(m, "reciprocal.default", VAL(sum));
    inverse = OP(m, "masked_fill.Scalar", VAL(inverse), VAL(OP(m, "eq.Scalar", VAL(sum), INT(0))), INT(0));
    scope_end(m, mark, 1, &inverse);
    for (int i = 0; i < 2; i++)
        if (f->want >> i & 1) {
            struct value *other = i ? OP(m, "neg.default", VAL(y)) : x;
            out[i] = OP(m, "mul.Tensor", VAL(OP(m, "mul.Tensor", VAL(g), VAL(other))), VAL(inverse));
        }
    out_add(m, f, out[0]);
    out_add(m, f, out[1]);
}

/* Source: maybe_multiply in FunctionsManual.cpp: by a number that isn't 1. */
void
expand_maybe_multiply(struct machine *m, struct frame *f)
{
    out_add(m, f, arg_float(f, 1, 1) != 1 ? OP(m, "mul.Scalar", VAL(V(0)), f->a[1]) : V(0));
}

/* Source: clamp_backward in FunctionsManual.cpp: where(self >= min and self <= max, grad, 0). */
void
expand_clamp_backward(struct machine *m, struct frame *f)
{
    static const char *const rows[][2] = {{"ge.Scalar", "ge.Tensor"}, {"le.Scalar", "le.Tensor"}};
    struct value *mask = NULL, *zero = OP(m, "scalar_tensor.default", FLT(0), DTYPE(V(0)->dtype));
    int first = strcmp(f->op->name, "clamp_max_backward") == 0;
    for (int i = 2; i < f->n && first + i - 2 < COUNT(rows); i++)
        if (f->a[i].kind != ARG_NONE) {
            struct value *side = OP(m, rows[first + i - 2][V(i) != NULL], VAL(V(1)), f->a[i]);
            mask = mask ? op_over(m, "logical_and.default", 2, (struct arg[]){VAL(mask), VAL(side)}, m->real || !V(i))
                        : side;
        }
    out_add(m, f, mask ? OP(m, "where.self", VAL(mask), VAL(V(0)), VAL(zero)) : V(0));
}

/* clamp_backward_min_max(grad, self, min, max) in FunctionsManual.cpp: where min < max, each bound has the gradient of
 * what it cut. */
void
expand_clamp_bounds_backward(struct machine *m, struct frame *f)
{
    struct value *zero = OP(m, "scalar_tensor.default", FLT(0), DTYPE(V(0)->dtype));
    for (int k = 0; k < 2; k++) {
        struct value *bound = V(2 + k), *other = V(3 - k), *mask = NULL;
        if (bound && f->want >> k & 1) {
            const char *cut = k ? "gt.Tensor" : "lt.Tensor";
            int begun = scope_begin(m);
            mask = OP(m, cut, VAL(V(1)), VAL(bound));
            struct value *apart = other ? OP(m, "lt.Tensor", VAL(V(2)), VAL(V(3))) : NULL;
            if (other && !m->real) /* logical_or_, logical_and_ */
                mask = OP(m, k ? "logical_or.default" : "logical_and.default", VAL(mask), VAL(apart));
            mask = OP(m, "where.self", VAL(mask), VAL(V(0)), VAL(zero));
            scope_end(m, begun, 1, &mask);
        }
        out_add(m, f, mask);
    }
}

/* Source: pow_backward_exponent in FunctionsManual.cpp. */
void
expand_pow_backward_exponent(struct machine *m, struct frame *f)
{
    int mark = scope_begin(m);
    struct value *at_most = OP(m, "ge.Scalar", VAL(V(2)), INT(0));
    struct value *zero_base = OP(m, "eq.Scalar", VAL(V(1)), INT(0));
    struct value *cond = OP(m, "logical_and.default", VAL(zero_base), VAL(at_most));
    scope_end(m, mark, 1, &cond);
    struct value *rest = OP(m, "mul.Tensor", VAL(V(3)), VAL(OP(m, "log.default", VAL(V(1)))));
    struct value *zero = OP(m, "scalar_tensor.default", FLT(0), DTYPE(V(0)->dtype));
    struct value *factor = OP(m, "where.self", VAL(cond), VAL(zero), VAL(rest));
    out_add(m, f, OP(m, "mul.Tensor", VAL(V(0)), VAL(factor)));
}

/* Source: polar_backward in FunctionsManual.cpp. */
void
expand_polar_backward(struct machine *m, struct frame *f)
{
    struct value *g = OP(m, "conj.default", VAL(V(0)));
    int mark = scope_begin(m);
    struct value *abs = OP(m, "mul.Tensor", VAL(g), VAL(OP(m, "sgn.default", VAL(V(1)))));
    scope_end(m, mark, 1, &abs);
    struct value *angle = OP(m, "mul.Tensor", VAL(g), VAL(OP(m, "mul.Scalar", VAL(V(1)), INT(1))));
    out_add(m, f, OP(m, "real.default", VAL(abs)));
    out_add(m, f, OP(m, "real.default", VAL(angle)));
}

void
expand_masked_fill_value(struct machine *m, struct frame *f)
{
    int mark = scope_begin(m);
    struct value *zero = OP(m, "scalar_tensor.default", FLT(0), DTYPE(V(0)->dtype));
    struct value *cut = OP(m, "where.self", VAL(V(1)), VAL(V(0)), VAL(zero));
    scope_end(m, mark, 1, &cut);
    out_add(m, f, OP(m, "sum.default", VAL(cut)));
}

/* A reduced tensor with the reduced dimensions put back. */
static struct value *
unreduced(struct machine *m, struct value *r, const struct value *like, const struct frame *f, int at)
{
    int64_t dims[RANK], size[RANK];
    int n = arg_ints(f, at, dims, RANK);
    if (r->rank == like->rank || !n)
        return r;
    for (int i = 0; i < like->rank; i++)
        size[i] = like->size[i];
    for (int i = 0; i < n; i++)
        size[layout_dim(dims[i], like->rank)] = 1;
    return OP(m, "reshape.default", VAL(r), ints_arg(m, like->rank, size));
}

/* Source: var_backward and std_backward in FunctionsManual.cpp. */
void
expand_var_backward(struct machine *m, struct frame *f)
{
    struct value *g = V(0), *x = V(1);
    int64_t dims[RANK];
    int n = arg_ints(f, 2, dims, RANK);
    bool some = n > 0 && !(n == x->rank && !g->rank); /* of everything a file names all dimensions */
    struct value *mean = some ? OP(m, "mean.dim", VAL(x), f->a[2], BOOL(true)) : OP(m, "mean.default", VAL(x));
    struct value *centred = OP(m, "sub.Tensor", VAL(x), VAL(mean));
    g = OP(m, "mul.Scalar", VAL(some ? unreduced(m, g, x, f, 2) : g), INT(2));
    out_add(m, f, OP(m, "mul.Tensor", VAL(g), VAL(centred)));
}

/* Source: max_pool_double_backward in FunctionsManual.cpp. */
void
expand_gather_flat(struct machine *m, struct frame *f)
{
    struct value *g = OP(m, "contiguous.default", VAL(V(0))), *indices = V(1);
    int64_t flat[] = {1, value_elements(g)}, count[] = {1, value_elements(indices)};
    g = OP(m, "view.default", VAL(g), ints_arg(m, 2, flat));
    struct value *at = OP(m, "reshape.default", VAL(indices), ints_arg(m, 2, count));
    g = OP(m, "gather.default", VAL(g), INT(1), VAL(at));
    out_add(m, f, OP(m, "view.default", VAL(g), ints_arg(m, indices->rank, indices->size)));
}

/* Source: var_mean_backward in FunctionsManual.cpp. */
void
expand_var_mean_backward(struct machine *m, struct frame *f)
{
    struct value *g = V(0) ? OP(m, "var_backward", VAL(V(0)), VAL(V(2)), f->a[3]) : NULL;
    struct value *mean = V(1) ? OP(m, "sum_backward", VAL(V(1)), VAL(V(2)), f->a[3]) : NULL;
    mean = mean ? OP(m, "div.Scalar", VAL(mean), INT(1)) : NULL;
    out_add(m, f, g && mean ? OP(m, "add.Tensor", VAL(g), VAL(mean)) : g ? g : mean);
}

/* The diagonal where it was put; below the main one its length is the same. */
void
expand_diag_embed_backward(struct machine *m, struct frame *f)
{
    int64_t off = V(0)->size[V(0)->rank - 1] - V(1)->size[V(1)->rank - 1];
    off = arg_int(f, 2, off);
    out_add(m, f, OP(m, "diagonal.default", VAL(V(0)), INT(off), INT(arg_int(f, 3, -2)), INT(arg_int(f, 4, -1))));
}

/* Source: trace_backward_symint in FunctionsManual.cpp; in place, but for what a dispatch mode sees. */
void
expand_trace_backward(struct machine *m, struct frame *f)
{
    int64_t all = value_elements(V(1)), rows = V(1)->size[0], columns = V(1)->size[1];
    struct value *g = OP(m, "zeros.default", ints_arg(m, 1, &all), DTYPE(V(0)->dtype));
    struct value *at = OP(m, "arange.start_step", INT(0), INT(rows < columns ? rows : columns), INT(1));
    g = op_over(m, "index_fill.int_Tensor", 4, (struct arg[]){VAL(g), INT(0), VAL(at), VAL(V(0))}, m->real);
    out_add(m, f, OP(m, "view.default", VAL(g), ints_arg(m, 2, V(1)->size)));
}

/* Source: std_mean_backward in FunctionsManual.cpp. */
void
expand_std_mean_backward(struct machine *m, struct frame *f)
{
    struct value *g = NULL, *mean = NULL;
    if (V(0)) {
        int mark = scope_begin(m);
        g = OP(m, "var_backward", VAL(OP(m, "std_backward", VAL(V(0)), VAL(V(3)))), VAL(V(2)), f->a[4]);
        scope_end(m, mark, 1, &g);
    }
    if (V(1))
        mean = OP(m, "div.Scalar", VAL(OP(m, "sum_backward", VAL(V(1)), VAL(V(2)), f->a[4])), INT(1));
    out_add(m, f, g && mean ? OP(m, "add.Tensor", VAL(g), VAL(mean)) : g ? g : mean);
}

/* The first half of std_backward in FunctionsManual.cpp; the second is var_backward. */
void
expand_std_backward(struct machine *m, struct frame *f)
{
    out_add(m, f, OP(m, "div.Tensor", VAL(V(0)), VAL(OP(m, "mul.Scalar", VAL(V(1)), INT(2)))));
    OP(m, "eq.Scalar", VAL(V(1)), INT(0)); /* for masked_fill_ */
}

/* self.sgn() * self.abs().pow_(p - 1), for p < 1 with masked_fill_, or self * self.abs().pow_(p - 2). */
static struct value *
norm_scaled(struct machine *m, struct value *x, double p)
{
    int mark = scope_begin(m);
    struct value *power = OP(m, "abs.default", VAL(x));
    if (p < 1)
        OP(m, "eq.Scalar", VAL(x), INT(0));
    struct value *scaled = OP(m, "mul.Tensor", VAL(p < 2 ? OP(m, "sgn.default", VAL(x)) : x), VAL(power));
    scope_end(m, mark, 1, &scaled);
    return scaled;
}

/* Source: norm_backward in FunctionsManual.cpp. */
void
expand_norm_backward(struct machine *m, struct frame *f)
{
    struct value *g = unreduced(m, V(0), V(1), f, 4), *norm = unreduced(m, V(3), V(1), f, 4), *x = V(1);
    double p = arg_float(f, 2, 2);
    if (p == 0)
        return;
    if (p == 1) {
        out_add(m, f, OP(m, "mul.Tensor", VAL(OP(m, "sgn.default", VAL(x))), VAL(g)));
        return;
    }
    if (isinf(p)) {
        int mark = scope_begin(m);
        struct value *size = OP(m, "abs.default", VAL(x)), *equal = OP(m, "eq.Tensor", VAL(size), VAL(norm));
        struct value *mask = OP(m, "logical_or.default", VAL(equal), VAL(OP(m, "isnan.default", VAL(size))));
        struct value *held[] = {size, mask};
        scope_end(m, mark, COUNT(held), held);
        struct value *count = OP(m, "sum.dim_IntList", VAL(mask), f->a[4], BOOL(true));
        struct value *share = OP(m, "mul.Tensor", VAL(OP(m, "div.Tensor", VAL(g), VAL(count))), VAL(mask));
        out_add(m, f, OP(m, "mul.Tensor", VAL(OP(m, "sgn.default", VAL(x))), VAL(share)));
        return;
    }
    if (p < 1) {
        struct value *scaled = norm_scaled(m, x, p), *power = OP(m, "pow.Tensor_Scalar", VAL(norm), FLT(1 - p));
        out_add(m, f, OP(m, "mul.Tensor", VAL(OP(m, "mul.Tensor", VAL(scaled), VAL(g))), VAL(power)));
        return;
    }
    if (p != 2) {
        struct value *scaled = norm_scaled(m, x, p);
        int mark = scope_begin(m);
        struct value *scale = OP(m, "div.Tensor", VAL(g), VAL(OP(m, "pow.Tensor_Scalar", VAL(norm), FLT(p - 1))));
        scope_end(m, mark, 1, &scale);
        mark = scope_begin(m);
        OP(m, "eq.Scalar", VAL(norm), INT(0));
        scope_end(m, mark, 0, NULL);
        out_add(m, f, OP(m, "mul.Tensor", VAL(scaled), VAL(scale)));
        return;
    }
    struct value *unit = OP(m, "div.Tensor", VAL(x), VAL(norm));
    OP(m, "eq.Scalar", VAL(norm), INT(0)); /* for masked_fill_ */
    out_add(m, f, OP(m, "mul.Tensor", VAL(unit), VAL(g)));
}

/* (grad, self, p, dim, maxnorm), where dim may be the list of those that the norms reduce. Source: renorm_backward in
 * FunctionsManual.cpp. */
void
expand_renorm_backward(struct machine *m, struct frame *f)
{
    struct value *g = V(0), *x = V(1);
    int64_t dims[RANK];
    int n = 0, kept = layout_dim(arg_int(f, 3, 0), x->rank);
    for (int i = 0; i < x->rank; i++)
        if (i != kept)
            dims[n++] = i;
    const struct arg over = f->a[3].kind == ARG_LIST ? f->a[3] : ints_arg(m, n, dims);
    const struct arg wide = DTYPE(layout_statistics(x));
    struct value *norm = OP(m, "linalg_vector_norm.default", VAL(x), f->a[2], over, BOOL(true), wide);
    int outer = scope_begin(m), mark = scope_begin(m);
    struct value *sum = OP(m, "sum.dim_IntList", VAL(OP(m, "mul.Tensor", VAL(x), VAL(g))), over, BOOL(true), wide);
    scope_end(m, mark, 1, &sum);
    struct value *back = OP(m, "norm_backward", VAL(sum), VAL(x), f->a[2], VAL(norm), over);
    scope_end(m, outer, 1, &back);
    mark = scope_begin(m);
    struct value *inverse = OP(m, "reciprocal.default", VAL(OP(m, "add.Scalar", VAL(norm), FLT(1))));
    scope_end(m, mark, 1, &inverse);
    mark = scope_begin(m);
    struct value *rest = OP(m, "sub.Tensor", VAL(g), VAL(OP(m, "mul.Tensor", VAL(inverse), VAL(back))));
    struct value *scaled = OP(m, "mul.Tensor", VAL(OP(m, "mul.Scalar", VAL(inverse), FLT(1))), VAL(rest));
    scope_end(m, mark, 1, &scaled);
    mark = scope_begin(m);
    scaled = OP(m, "to.dtype", VAL(scaled), DTYPE(g->dtype));
    struct value *out = OP(m, "where.self", VAL(OP(m, "gt.Scalar", VAL(norm), FLT(1))), VAL(scaled), VAL(g));
    scope_end(m, mark, 1, &out);
    out_add(m, f, out);
}

/* scale_grad_by_count in FunctionsManual.cpp: the gradient is shared among equal maxima. */
void
expand_amax_backward(struct machine *m, struct frame *f)
{
    struct value *g = V(0), *v = V(1), *r = V(2);
    int64_t dims[RANK], size[RANK], all[RANK];
    int n = arg_ints(f, 3, dims, RANK);
    for (int i = 0; i < v->rank; i++) {
        size[i] = n ? v->size[i] : 1;
        all[i] = i;
    }
    for (int i = 0; i < n; i++)
        size[layout_dim(dims[i], v->rank)] = 1;
    int rank = v->rank || !n || arg_int(f, 4, 0) ? v->rank : 1; /* restore_reduced_dims gives a scalar a dimension */
    struct arg keep = ints_arg(m, rank, size);
    struct arg over = n ? f->a[3] : ints_arg(m, v->rank, all);
    struct value *mask = OP(m, "eq.Tensor", VAL(v), VAL(OP(m, "view.default", VAL(r), keep)));
    struct value *count = OP(m, "sum.dim_IntList", VAL(mask), over, BOOL(true));
    struct value *share = OP(m, "div.Tensor", VAL(OP(m, "reshape.default", VAL(g), keep)), VAL(count));
    out_add(m, f, OP(m, "mul.Tensor", VAL(share), VAL(mask)));
}

/* Source: binary_cross_entropy_target_backward in FunctionsManual.cpp. */
void
expand_bce_target_backward(struct machine *m, struct frame *f)
{
    struct value *v = OP(m, "logit.default", VAL(V(1))); /* neg_ */
    v = op_over(m, "mul.Tensor", 2, (struct arg[]){VAL(v), VAL(V(0))}, m->real);
    out_add(m, f, V(3) ? op_over(m, "mul.Tensor", 2, (struct arg[]){VAL(v), VAL(V(3))}, m->real) : v);
}

/* In place, but for what a dispatch mode sees. Source: binary_cross_entropy_with_logits_backward in
 * FunctionsManual.cpp. */
void
expand_bce_backward(struct machine *m, struct frame *f)
{
    bool in_place = m->real;
    int mark = scope_begin(m);
    struct value *v = NULL, *t = V(4) ? OP(m, "mul.Tensor", VAL(V(4)), VAL(V(2))) : NULL;
    if (t) { /* ((t + 1 - target) * sigmoid(self)) - t */
        struct value *s;
        v = OP(m, "add.Scalar", VAL(t), INT(1));
        v = op_over(m, "sub.Tensor", 2, (struct arg[]){VAL(v), VAL(V(2))}, in_place);
        s = OP(m, "sigmoid.default", VAL(V(1)));
        v = op_over(m, "mul.Tensor", 2, (struct arg[]){VAL(v), VAL(s)}, in_place);
        v = op_over(m, "sub.Tensor", 2, (struct arg[]){VAL(v), VAL(t)}, in_place);
    } else {
        v = OP(m, "sigmoid.default", VAL(V(1)));
        v = op_over(m, "sub.Tensor", 2, (struct arg[]){VAL(v), VAL(V(2))}, in_place);
    }
    scope_end(m, mark, 1, &v);
    for (int i = 0; i <= 3; i += 3)
        if (V(i)) {
            v = op_over(m, "mul.Tensor", 2, (struct arg[]){VAL(v), VAL(V(i))}, in_place);
            scope_end(m, mark, 1, &v);
        }
    out_add(m, f, v);
}

/* (grad, self). Source: sinc_backward. */
void
expand_sinc_backward(struct machine *m, struct frame *f)
{
    struct value *g = V(0), *x = V(1), *pi = OP(m, "mul.Scalar", VAL(x), FLT(1));
    int mark = scope_begin(m);
    struct value *squared = OP(m, "mul.Scalar", VAL(OP(m, "mul.Tensor", VAL(x), VAL(x))), FLT(1));
    scope_end(m, mark, 1, &squared);
    mark = scope_begin(m);
    struct value *sine = OP(m, "sin.default", VAL(pi));
    struct value *rest = OP(m, "mul.Tensor", VAL(pi), VAL(OP(m, "cos.default", VAL(pi))));
    rest = OP(m, "div.Tensor", VAL(OP(m, "sub.Tensor", VAL(rest), VAL(sine))), VAL(squared));
    struct value *out = OP(m, "mul.Tensor", VAL(g), VAL(rest));
    scope_end(m, mark, 1, &out);
    mark = scope_begin(m);
    struct value *zero = OP(m, "scalar_tensor.default", FLT(0), DTYPE(g->dtype));
    struct value *chosen = OP(m, "where.self", VAL(OP(m, "eq.Scalar", VAL(squared), INT(0))), VAL(zero), VAL(out));
    scope_end(m, mark, 1, &chosen);
    out_add(m, f, chosen);
}

/* (grad, self, result, dim): the positive and the negative part, each in logarithms. Source: logcumsumexp_backward. */
void
expand_logcumsumexp_backward(struct machine *m, struct frame *f)
{
    static const char *const signs[] = {"gt.Scalar", "lt.Scalar"};
    struct value *g = V(0), *log[2], *part[2];
    if (!g->rank) {
        out_add(m, f, g);
        return;
    }
    struct value *least = OP(m, "scalar_tensor.default", FLT(0), DTYPE(g->dtype));
    int mark = scope_begin(m);
    struct value *size = OP(m, "log.default", VAL(OP(m, "abs.default", VAL(g))));
    scope_end(m, mark, 1, &size);
    for (int i = 0; i < 2; i++) {
        mark = scope_begin(m);
        log[i] = OP(m, "where.self", VAL(OP(m, signs[i], VAL(g), INT(0))), VAL(size), VAL(least));
        scope_end(m, mark, 1, &log[i]);
    }
    for (int i = 0; i < 2; i++) {
        mark = scope_begin(m);
        struct value *less = OP(m, "sub.Tensor", VAL(log[i]), VAL(V(2)));
        int inner = scope_begin(m);
        struct value *turned = OP(m, "flip.default", VAL(less), f->a[3]);
        turned = OP(m, "flip.default", VAL(OP(m, "logcumsumexp.default", VAL(turned), f->a[3])), f->a[3]);
        scope_end(m, inner, 1, &turned);
        part[i] = OP(m, "exp.default", VAL(OP(m, "add.Tensor", VAL(turned), VAL(V(1)))));
        scope_end(m, mark, 1, &part[i]);
    }
    out_add(m, f, OP(m, "sub.Tensor", VAL(part[0]), VAL(part[1])));
}

/* (grad, self, index): zeros, written at once. Source: take_backward. */
void
expand_take_backward(struct machine *m, struct frame *f)
{
    out_add(m, f, OP(m, "put_of", VAL(OP(m, "zeros_like.default", VAL(V(1)))), VAL(V(1))));
}

/* Sizes and strides of what has more than one element in each dimension. */
struct geometry {
    int rank;
    int64_t size[RANK], stride[RANK];
};

static struct geometry
geometry_of(int rank, const int64_t *size, const int64_t *stride)
{
    struct geometry k = {0};
    for (int i = 0; i < rank; i++) {
        int at = k.rank;
        if (size[i] == 1)
            continue;
        for (; at > 0 && k.stride[at - 1] > stride[i]; at--) { /* by strides */
            k.size[at] = k.size[at - 1];
            k.stride[at] = k.stride[at - 1];
        }
        k.size[at] = size[i];
        k.stride[at] = stride[i];
        k.rank++;
    }
    return k;
}

/* Source: _maybe_overlapping_memory in FunctionsManual.cpp. */
static bool
overlaps(const struct geometry *k)
{
    int64_t last = 0;
    for (int i = 0; i < k->rank; i++) {
        if (k->stride[i] <= last)
            return true;
        last += k->stride[i] * (k->size[i] - 1);
    }
    return false;
}

/* Source: _min_storage_size in FunctionsManual.cpp. */
static int64_t
extent(const struct geometry *k, int64_t offset)
{
    int64_t n = offset + 1;
    for (int i = 0; i < k->rank; i++)
        n += k->stride[i] * (k->size[i] - 1);
    return n;
}

/* The gradient of x, of which g's tensor showed elements of these strides: where these overlap, each is added at its
 * index. Source: as_strided_backward in FunctionsManual.cpp. */
static struct value *
strided_gradient(struct machine *m, struct value *g, struct value *x, int n, const int64_t *strides, int64_t offset)
{
    int64_t left[RANK]; /* from first on: they are found from the last on */
    int first = RANK;
    for (int i = n - 1; i >= 0; i--)
        if (strides[i] == 0 && g->size[i] != 1)
            g = OP(m, "sum.dim_IntList", VAL(g), INT(i));
        else
            left[--first] = strides[i];
    const int64_t *stride = left + first;
    int rank = RANK - first;
    struct geometry in = geometry_of(x->rank, x->size, x->stride), out = geometry_of(rank, g->size, stride);
    if (overlaps(&in)) /* what is read twice is divided by that */
        m->missing = "as_strided.default";
    int64_t base = extent(&in, 0), shown = extent(&out, offset), most = base > shown ? base : shown;
    struct value *all = OP(m, "new_zeros.default", VAL(g), ints_arg(m, 1, &most));
    if (overlaps(&out)) {
        struct value *index = OP(m, "arange.start", INT(0), INT(most));
        int mark = scope_begin(m);
        OP(m, "reshape.default", VAL(g), INT(-1));
        OP(m, "clone.default", VAL(value_view(m, index, rank, g->size, stride)), BOOL(true));
        scope_end(m, mark, 0, NULL);
    }
    return value_view(m, all, x->rank, x->size, x->stride);
}

/* (grad, self, stride, offset): without strides, of all elements in their order. */
void
expand_strided_backward(struct machine *m, struct frame *f)
{
    int64_t stride[RANK];
    int n = arg_ints(f, 2, stride, RANK);
    out_add(m, f, strided_gradient(m, V(0), V(1), n, stride, arg_int(f, 3, 0)));
}

/* (grad, self): a copy of what was not written over. Source: as_strided_scatter_backward in FunctionsManual.cpp. */
void
expand_strided_scatter_backward(struct machine *m, struct frame *f)
{
    struct value *g = OP(m, "contiguous.default", VAL(V(0)));
    out_add(m, f, OP(m, "new_zeros.default", VAL(g), ints_arg(m, V(1)->rank, V(1)->size)));
}

/* (grad, self, hop) */
void
expand_frames_backward(struct machine *m, struct frame *f)
{
    const int64_t stride[] = {V(1)->size[1], arg_int(f, 2, 1), 1};
    out_add(m, f, strided_gradient(m, V(0), V(1), COUNT(stride), stride, 0));
}

/* ---- scatter_reduce ---------------------------------------------------------------------------------------------- */

/* How an index is read: of elements, or of a dimension's slices. */
struct indexed {
    const char *pick, *add, *reduce, *fill;
};

static const struct indexed elements = {"gather.default", "scatter_add.default", "scatter_reduce.two", "scatter.value"};
static const struct indexed slices = {"index_select.default", "index_add.default", "index_reduce.default",
                                      "index_fill.int_Scalar"};

/* What is written and what was there, and their gradients: both are made, whichever is wanted. Source:
 * scatter_reduce_backward and index_reduce_backward. */
struct scattered {
    const struct indexed *by;
    struct value *grad, *self, *src, *index, *result;
    struct arg dim;
    struct value *to_self, *to_src;
};

static struct value *
picked(struct machine *m, const struct scattered *s, struct value *from)
{
    return OP(m, s->by->pick, VAL(from), s->dim, VAL(s->index));
}

static void
scattered_sum(struct machine *m, struct scattered *s)
{
    s->to_self = s->grad;
    s->to_src = picked(m, s, s->grad);
}

static void
scattered_mean(struct machine *m, struct scattered *s, bool include_self)
{
    int mark = scope_begin(m);
    struct value *count = OP(m, include_self ? "ones_like.default" : "zeros_like.default", VAL(s->grad));
    struct value *ones = OP(m, "ones_like.default", VAL(s->src));
    count = OP(m, s->by->add, VAL(count), s->dim, VAL(s->index), VAL(ones));
    scope_end(m, mark, 2, (struct value *[]){ones, count}); /* what it was dies at the assignment */
    scope_end(m, mark, 1, &count);
    mark = scope_begin(m);
    OP(m, "eq.Scalar", VAL(count), INT(0)); /* for masked_fill_ */
    scope_end(m, mark, 0, NULL);
    s->to_self = OP(m, "div.Tensor", VAL(s->grad), VAL(count));
    struct value *of_src = picked(m, s, count);
    s->to_src = OP(m, "div.Tensor", VAL(picked(m, s, s->grad)), VAL(of_src));
}

/* 1 where two are equal, as the type of the first */
static struct value *
equal(struct machine *m, struct value *a, struct value *b)
{
    int mark = scope_begin(m);
    struct value *is = OP(m, "_to_copy.default", VAL(OP(m, "eq.Tensor", VAL(a), VAL(b))), DTYPE(a->dtype));
    scope_end(m, mark, 1, &is);
    return is;
}

static void
scattered_most(struct machine *m, struct scattered *s)
{
    struct value *value = picked(m, s, s->result), *of_self = equal(m, s->self, s->result);
    struct value *of_src = equal(m, s->src, value);
    struct value *n = OP(m, s->by->add, VAL(of_self), s->dim, VAL(s->index), VAL(of_src));
    struct value *share = OP(m, "div.Tensor", VAL(s->grad), VAL(n));
    bool again = s->by == &elements; /* compared, once more */
    int mark = scope_begin(m);
    of_self = again ? OP(m, "eq.Tensor", VAL(s->self), VAL(s->result)) : of_self;
    s->to_self = OP(m, "mul.Tensor", VAL(of_self), VAL(share));
    scope_end(m, mark, 1, &s->to_self);
    mark = scope_begin(m);
    share = picked(m, s, share);
    of_src = again ? OP(m, "eq.Tensor", VAL(s->src), VAL(value)) : of_src;
    s->to_src = OP(m, "mul.Tensor", VAL(of_src), VAL(share));
    scope_end(m, mark, 1, &s->to_src);
}

/* Of zeros the product of the others: a dispatch mode hides whether there are any. */
static void
scattered_product(struct machine *m, struct scattered *s, struct arg reduce, struct arg include_self)
{
    int mark = scope_begin(m);
    struct value *mine =
        OP(m, "masked_fill.Scalar", VAL(s->self), VAL(OP(m, "eq.Scalar", VAL(s->self), INT(0))), INT(1));
    scope_end(m, mark, 1, &mine);
    struct value *product = OP(m, s->by->reduce, VAL(mine), s->dim, VAL(s->index), VAL(s->src), reduce, include_self);
    mark = scope_begin(m);
    s->to_self = OP(m, "div.Tensor", VAL(OP(m, "mul.Tensor", VAL(s->grad), VAL(product))), VAL(mine));
    scope_end(m, mark, 1, &s->to_self);
    struct value *zero = OP(m, "eq.Scalar", VAL(s->src), INT(0));
    mark = scope_begin(m);
    struct value *none = OP(m, "zeros_like.default", VAL(s->self));
    struct value *ones = OP(m, "_to_copy.default", VAL(zero), DTYPE(s->self->dtype));
    struct value *zeros = picked(m, s, OP(m, s->by->add, VAL(none), s->dim, VAL(s->index), VAL(ones)));
    scope_end(m, mark, 1, &zeros);
    mark = scope_begin(m);
    struct value *single = OP(m, "bitwise_and.Tensor", VAL(zero), VAL(OP(m, "eq.Scalar", VAL(zeros), INT(1))));
    scope_end(m, mark, 1, &single);
    struct value *others = OP(m, "masked_fill.Scalar", VAL(s->src), VAL(single), INT(1));
    struct value *rest = OP(m, s->by->reduce, VAL(s->self), s->dim, VAL(s->index), VAL(others), reduce, include_self);
    mark = scope_begin(m);
    struct value *divisor = OP(m, "masked_fill.Scalar", VAL(s->src), VAL(zero), INT(1));
    struct value *plain = picked(m, s, OP(m, "mul.Tensor", VAL(s->grad), VAL(s->result)));
    plain = OP(m, "div.Tensor", VAL(plain), VAL(divisor));
    struct value *at_zero = picked(m, s, OP(m, "mul.Tensor", VAL(s->grad), VAL(rest)));
    s->to_src = OP(m, "where.self", VAL(single), VAL(at_zero), VAL(plain));
    scope_end(m, mark, 1, &s->to_src);
}

/* (grad, self, dim, index, src, reduce, include_self, result) */
static void
reduce_backward(struct machine *m, struct frame *f, const struct indexed *by)
{
    struct scattered s = {by, V(0), V(1), V(4), V(3), V(7), f->a[2], NULL, NULL};
    assert(s.self && s.src && s.result); /* aten_takes */
    const char *reduce = f->a[5].kind == ARG_TEXT ? f->a[5].s : "";
    bool include_self = arg_int(f, 6, 1);
    int mark = scope_begin(m);
    if (strcmp(reduce, "sum") == 0)
        scattered_sum(m, &s);
    else if (strcmp(reduce, "mean") == 0)
        scattered_mean(m, &s, include_self);
    else if (strcmp(reduce, "prod") == 0)
        scattered_product(m, &s, f->a[5], f->a[6]);
    else
        scattered_most(m, &s);
    scope_end(m, mark, 2, (struct value *[]){s.to_self, s.to_src});
    if (!include_self) {
        s.to_self = OP(m, by->fill, VAL(s.to_self), s.dim, VAL(s.index), INT(0));
        scope_end(m, mark, 2, (struct value *[]){s.to_self, s.to_src});
    }
    out_add(m, f, s.to_self);
    out_add(m, f, s.to_src);
}

void
expand_scatter_reduce_backward(struct machine *m, struct frame *f)
{
    reduce_backward(m, f, &elements);
}

void
expand_index_reduce_backward(struct machine *m, struct frame *f)
{
    reduce_backward(m, f, &slices);
}
