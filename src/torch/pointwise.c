/* SPDX-License-Identifier: Apache-2.0 */
/* pointwise.c - elementwise operators, fresh tensors, reductions, losses: what they make. */
#include "torch/run.h"

/* ---- elementwise ------------------------------------------------------------------------------------------------- */

/* What holds a conjugate is copied first. Source: aten/src/ATen/ConjugateFallback.cpp. */
void
pointwise_resolve(struct machine *m, const struct frame *f, int from, int to)
{
    for (int i = from; i < to; i++)
        if (V(i) && V(i)->conj)
            OP(m, "clone.default", VAL(V(i)));
}

void
pointwise_new(struct machine *m, struct frame *f, int from, int to, enum dtype t)
{
    int64_t size[RANK], stride[RANK];
    pointwise_resolve(m, f, from, to);
    int rank = layout_broadcast(f->a + from, to - from, size);
    layout_strides(f->a + from, to - from, rank, size, stride);
    if (f->over) {
        struct value *v = value_view(m, f->over, f->over->rank, f->over->size, f->over->stride);
        v->is_view = f->over->is_view;
        out_add(m, f, v);
        return;
    }
    out_add(m, f, value_new(m, t, rank, size, stride));
}

/* All tensors broadcast; the type by promotion. */
void
run_elementwise(struct machine *m, struct frame *f)
{
    pointwise_new(m, f, 0, f->n, layout_promote(f->a, f->n));
}

/* The first two arguments are operands, the rest numbers that do not count (alpha, rounding). */
void
run_binary(struct machine *m, struct frame *f)
{
    int n = f->n < 2 ? f->n : 2;
    pointwise_new(m, f, 0, n, layout_promote(f->a, n));
}

/* The second operand comes first, and so its layout: threshold_backward in native/Activation.cpp. */
void
run_binary_second(struct machine *m, struct frame *f)
{
    const struct arg *a = f->a, swapped[] = {a[1], a[0]};
    f->a = swapped;
    pointwise_new(m, f, 0, COUNT(swapped), layout_promote(swapped, COUNT(swapped)));
    f->a = a;
}

/* Likewise where a fake tensor decomposes it (torch/_decomp/decompositions.py); not in a kernel. */
void
run_binary_decomposed(struct machine *m, struct frame *f)
{
    (m->real ? run_binary : run_binary_second)(m, f);
}

void
run_divide(struct machine *m, struct frame *f)
{
    int n = f->n < 2 ? f->n : 2;
    enum dtype t = layout_promote(f->a, n);
    pointwise_new(m, f, 0, n, dtypes[t].is_float ? t : DT_FLOAT);
}

/* One tensor in, one like it out; other arguments are settings. */
void
run_unary(struct machine *m, struct frame *f)
{
    pointwise_new(m, f, 0, 1, V(0) ? V(0)->dtype : DT_FLOAT);
}

void
run_unary_float(struct machine *m, struct frame *f)
{
    enum dtype t = V(0) ? V(0)->dtype : DT_FLOAT;
    pointwise_new(m, f, 0, 1, dtypes[t].is_float ? t : DT_FLOAT);
}

/* Of complex numbers a real one: abs, angle. */
void
run_unary_real(struct machine *m, struct frame *f)
{
    pointwise_new(m, f, 0, 1, real_of(V(0)->dtype));
}

void
run_polygamma(struct machine *m, struct frame *f)
{
    pointwise_new(m, f, 1, 2, V(1) && dtypes[V(1)->dtype].is_float ? V(1)->dtype : DT_FLOAT);
}

/* mantissa and exponent */
void
run_frexp(struct machine *m, struct frame *f)
{
    pointwise_new(m, f, 0, 1, V(0) ? V(0)->dtype : DT_FLOAT);
    pointwise_new(m, f, 0, 1, DT_INT32);
}

bool
aten_elementwise(const struct aten *op)
{
    return op->run == run_unary || op->run == run_unary_float || op->run == run_unary_real;
}

void
run_compare(struct machine *m, struct frame *f)
{
    pointwise_new(m, f, 0, f->n, DT_BOOL);
}

void
run_where(struct machine *m, struct frame *f)
{
    enum dtype t = layout_promote(f->a + 1, f->n > 2 ? 2 : f->n - 1);
    int mark = scope_begin(m);
    for (int i = 1; i < 3 && m->real; i++) /* cast first: where_self_out in TensorCompare.cpp */
        if (V(i) && V(i)->dtype != t)
            layout_like(m, V(i), t);
    pointwise_new(m, f, 0, f->n < 3 ? f->n : 3, t);
    scope_end(m, mark, f->nout, f->out);
}

/* As run_unary, but contiguous where it is not written. */
void
run_contiguous(struct machine *m, struct frame *f)
{
    pointwise_resolve(m, f, 0, f->over ? 0 : 1);
    if (f->over)
        run_unary(m, f);
    else
        out_add(m, f, value_new(m, V(0)->dtype, V(0)->rank, V(0)->size, NULL));
}

/* Of two operands, the type of the first; likewise. */
void
run_binary_contiguous(struct machine *m, struct frame *f)
{
    int64_t size[RANK];
    int n = f->n < 2 ? f->n : 2, rank = layout_broadcast(f->a, n, size);
    if (f->over)
        pointwise_new(m, f, 0, n, DT_FLOAT);
    else
        out_add(m, f, value_new(m, V(0) ? V(0)->dtype : DT_FLOAT, rank, size, NULL));
}

enum dtype
arg_dtype(const struct frame *f, enum dtype otherwise)
{
    for (int i = 1; i < f->n; i++)
        if (f->a[i].kind == ARG_VALUE && f->a[i].v && i == aten_arg(f->op, "dtype"))
            return f->a[i].v->dtype;
    for (int i = 0; i < f->n; i++)
        if (f->a[i].kind == ARG_DTYPE)
            return (enum dtype)f->a[i].i;
    return otherwise;
}

enum order
arg_order(const struct frame *f)
{
    static const char *const last[] = {"torch.channels_last", "torch.channels_last_3d"};
    bool said = false;
    for (int i = 0; i < f->n; i++)
        said |= f->a[i].kind == ARG_TEXT || f->a[i].kind == ARG_BOOL;
    int at = said ? aten_arg(f->op, "memory_format") : -1;
    if (at < 0 || at >= f->n)
        return ORDER_PRESERVED;
    const struct arg *a = &f->a[at];
    for (int i = 0; a->kind == ARG_TEXT && i < (int)COUNT(last); i++)
        if (strcmp(a->s, last[i]) == 0)
            return ORDER_CHANNELS_LAST;
    bool contiguous = a->kind == ARG_TEXT ? strcmp(a->s, "torch.contiguous_format") == 0 : a->kind == ARG_BOOL && a->i;
    return contiguous ? ORDER_CONTIGUOUS : ORDER_PRESERVED;
}

void
run_copy(struct machine *m, struct frame *f)
{
    struct value *v = V(0);
    enum order order = arg_order(f);
    enum dtype t = arg_dtype(f, v->dtype);
    out_add(m, f,
            order == ORDER_PRESERVED ? layout_like(m, v, t)
                                     : layout_image(m, t, v->rank, v->size, order == ORDER_CHANNELS_LAST));
}

void
run_new_strided(struct machine *m, struct frame *f)
{
    struct value *like = V(1);
    out_add(m, f, value_new(m, V(0)->dtype, like->rank, like->size, like->stride));
}

/* ---- fresh tensors of stated sizes ------------------------------------------------------------------------------- */

/* zeros, ones, full, arange, rand: the sizes are the file's or the first argument's. */
static void
factory(struct machine *m, struct frame *f, int at, enum dtype t)
{
    int64_t size[RANK];
    if (f->rank >= 0) {
        out_add(m, f, value_new(m, arg_dtype(f, t), f->rank, f->size, NULL));
        return;
    }
    int n = arg_ints(f, at, size, RANK);
    out_add(m, f, value_new(m, arg_dtype(f, t), n, size, NULL));
}

void
run_factory(struct machine *m, struct frame *f)
{
    factory(m, f, 0, DT_FLOAT);
}

void
run_factory_steps(struct machine *m, struct frame *f)
{
    factory(m, f, aten_arg(f->op, "steps"), DT_FLOAT);
}

void
run_factory_index(struct machine *m, struct frame *f)
{
    factory(m, f, 0, DT_INT64);
}

void
run_copy_to_device(struct machine *m, struct frame *f)
{
    m->op = f->op->source;
    factory(m, f, 0, DT_FLOAT);
}

/* A constant that the exporter folded: born as what it was. */
void
run_folded(struct machine *m, struct frame *f)
{
    m->op = f->a[0].s;
    factory(m, f, 2, DT_FLOAT);
}

void
run_folded_of(struct machine *m, struct frame *f)
{
    m->op = f->a[2].s;
    factory(m, f, 4, DT_FLOAT);
}

void
run_randint(struct machine *m, struct frame *f)
{
    factory(m, f, aten_arg(f->op, "size"), DT_INT64);
}

void
run_full(struct machine *m, struct frame *f)
{
    factory(m, f, 0,
            f->n > 1 && f->a[1].kind == ARG_INT    ? DT_INT64
            : f->n > 1 && f->a[1].kind == ARG_BOOL ? DT_BOOL
                                                   : DT_FLOAT);
}

void
run_new_factory(struct machine *m, struct frame *f)
{
    factory(m, f, 1, V(0) ? V(0)->dtype : DT_FLOAT);
}

void
run_arange(struct machine *m, struct frame *f)
{
    bool floating = false;
    for (int i = 0; i < f->n; i++)
        floating |= f->a[i].kind == ARG_FLOAT;
    if (f->rank < 0) {
        int64_t n = f->n > 1 && f->a[1].kind == ARG_INT ? arg_int(f, 1, 0) - arg_int(f, 0, 0) : arg_int(f, 0, 0);
        n = n < 0 ? 0 : n;
        out_add(m, f, value_new(m, arg_dtype(f, floating ? DT_FLOAT : DT_INT64), 1, &n, NULL));
        return;
    }
    factory(m, f, 0, floating ? DT_FLOAT : DT_INT64);
}

void
run_scalar(struct machine *m, struct frame *f)
{
    out_add(m, f, value_new(m, arg_dtype(f, DT_FLOAT), 0, NULL, NULL));
}

void
run_zero_of(struct machine *m, struct frame *f)
{
    m->op = f->op->source;
    out_add(m, f, value_new(m, V(0)->dtype, 0, NULL, NULL));
}

void
run_like(struct machine *m, struct frame *f)
{
    out_add(m, f, layout_like(m, V(0), arg_dtype(f, V(0)->dtype)));
}

/* A gradient with the sizes of the second argument: slice_backward and its kin make zeros and copy into them. */
void
run_zeros_like_second(struct machine *m, struct frame *f)
{
    struct value *like = V(1);
    pointwise_resolve(m, f, 0, 1);
    out_add(m, f, value_new(m, V(0)->dtype, like->rank, like->size, NULL));
}

/* ---- reductions -------------------------------------------------------------------------------------------------- */

int
pointwise_reduced(const struct frame *f, int dims, int keep, int64_t *size)
{
    int64_t d[RANK];
    const struct value *v = V(0);
    int n = dims >= 0 ? arg_ints(f, dims, d, RANK) : 0, rank = 0;
    bool keepdim = keep >= 0 && arg_int(f, keep, 0);
    bool gone[RANK] = {false};
    for (int i = 0; i < v->rank; i++)
        gone[i] = n == 0;
    for (int i = 0; i < n; i++)
        gone[layout_dim(d[i], v->rank)] = true;
    for (int i = 0; i < v->rank; i++)
        if (!gone[i] || keepdim)
            size[rank++] = gone[i] ? 1 : v->size[i];
    return rank;
}

/* The kernel's buffers where v is reduced along the dimensions of that argument, -1 or without any all of them;
 * accumulator: bytes it keeps per partial result. */
static void
reduce_scratch(struct machine *m, const struct frame *f, int dims, const struct value *v, int accumulator)
{
    int64_t d[RANK];
    bool gone[RANK];
    int n = arg_ints(f, dims, d, RANK);
    for (int i = 0; i < v->rank; i++)
        gone[i] = n == 0;
    for (int i = 0; i < n; i++)
        gone[layout_dim(d[i], v->rank)] = true;
    reduce_workspace(m, v, gone, accumulator);
}

/* Into t; integers are cast first: sum_kernel_cuda in ReduceSumProdKernel.cu. */
static void
sum_scratch(struct machine *m, const struct frame *f, int dims, enum dtype t)
{
    const struct value *v = V(0);
    int mark = scope_begin(m);
    if (m->real && !dtypes[v->dtype].is_float && v->dtype != t)
        v = layout_like(m, v, t);
    reduce_scratch(m, f, dims, v, dtypes[v->dtype].bits == 64 ? 8 : 4);
    scope_end(m, mark, 0, NULL);
}

static enum dtype
sum_type(const struct frame *f)
{
    return arg_dtype(f, dtypes[V(0)->dtype].is_float ? V(0)->dtype : DT_INT64);
}

void
run_sum(struct machine *m, struct frame *f)
{
    int64_t size[RANK];
    int rank = pointwise_reduced(f, 1, 2, size);
    pointwise_resolve(m, f, 0, 1);
    out_add(m, f, value_new(m, sum_type(f), rank, size, NULL));
    sum_scratch(m, f, 1, sum_type(f));
}

/* Of all dimensions. */
void
run_sum_all(struct machine *m, struct frame *f)
{
    out_add(m, f, value_new(m, sum_type(f), 0, NULL, NULL));
    sum_scratch(m, f, -1, sum_type(f));
}

void
run_reduce_all(struct machine *m, struct frame *f)
{
    out_add(m, f, value_new(m, arg_dtype(f, V(0)->dtype), 0, NULL, NULL));
    reduce_scratch(m, f, -1, V(0), 4);
}

/* A result of that type, with the dimensions left that the arguments `dims` and `keep` say. */
static void
reduced(struct machine *m, struct frame *f, int dims, int keep, enum dtype t)
{
    int64_t size[RANK];
    int rank = pointwise_reduced(f, dims, keep, size);
    out_add(m, f, value_new(m, t, rank, size, NULL));
}

void
run_reduce(struct machine *m, struct frame *f)
{
    reduced(m, f, 1, 2, arg_dtype(f, V(0)->dtype));
    reduce_scratch(m, f, 1, V(0), 4);
}

/* The largest of each row, where that is infinite zero, and what it leaves of the whole before the exponential.
 * Source: logsumexp_out_impl in aten/src/ATen/native/ReduceOps.cpp. */
void
run_logsumexp(struct machine *m, struct frame *f)
{
    int64_t size[RANK];
    int rank = pointwise_reduced(f, 1, 2, size), mark = scope_begin(m);
    enum dtype t = V(0)->dtype;
    if (m->real && value_elements(V(0))) {
        value_new(m, t, rank, size, NULL);
        reduce_scratch(m, f, 1, V(0), 4);
        int infinite = scope_begin(m);
        value_new(m, t, rank, size, NULL);
        value_new(m, DT_BOOL, rank, size, NULL);
        scope_end(m, infinite, 0, NULL);
        layout_like(m, V(0), t);
    }
    run_reduce(m, f);
    scope_end(m, mark, f->nout, f->out);
}

void
run_reduce_bool(struct machine *m, struct frame *f)
{
    reduced(m, f, 1, 2, DT_BOOL);
}

void
run_reduce_index(struct machine *m, struct frame *f)
{
    reduced(m, f, 1, 2, DT_INT64);
}

/* max.dim and its kin: values and int64 indices. */
void
run_reduce_with_indices(struct machine *m, struct frame *f)
{
    reduced(m, f, 1, 2, V(0)->dtype);
    reduced(m, f, 1, 2, DT_INT64);
}

void
run_topk(struct machine *m, struct frame *f)
{
    int64_t size[RANK];
    struct value *v = V(0);
    memcpy(size, v->size, sizeof(*size) * (size_t)v->rank);
    if (v->rank)
        size[layout_dim(arg_int(f, 2, -1), v->rank)] = arg_int(f, 1, 1);
    out_add(m, f, value_new(m, v->dtype, v->rank, size, NULL));
    out_add(m, f, value_new(m, DT_INT64, v->rank, size, NULL));
}

/* One value along one dimension, the last unless told, and where it is. */
void
run_selection(struct machine *m, struct frame *f)
{
    const struct value *v = V(0);
    int64_t size[RANK];
    int at = aten_arg(f->op, "dim"), dim = v->rank ? layout_dim(arg_int(f, at, -1), v->rank) : 0, rank = 0;
    bool keeps = arg_int(f, aten_arg(f->op, "keepdim"), 0);
    for (int i = 0; i < v->rank; i++)
        if (i != dim || keeps)
            size[rank++] = i == dim ? 1 : v->size[i];
    out_add(m, f, value_new(m, v->dtype, rank, size, NULL));
    out_add(m, f, value_new(m, DT_INT64, rank, size, NULL));
}

void
run_running(struct machine *m, struct frame *f)
{
    out_add(m, f, value_new(m, V(0)->dtype, V(0)->rank, V(0)->size, NULL));
    out_add(m, f, value_new(m, DT_INT64, V(0)->rank, V(0)->size, NULL));
}

void
run_sort(struct machine *m, struct frame *f)
{
    out_add(m, f, layout_like(m, V(0), V(0)->dtype));
    out_add(m, f, layout_like(m, V(0), DT_INT64));
}

/* var_mean(self, dim, *, correction, keepdim) */
void
run_var_mean(struct machine *m, struct frame *f)
{
    reduced(m, f, 1, 3, V(0)->dtype);
    reduced(m, f, 1, 3, V(0)->dtype);
    reduce_scratch(m, f, 1, V(0), 16); /* WelfordData: mean, M2, two counts */
}

/* norm(self, p, dim, keepdim) */
void
run_norm(struct machine *m, struct frame *f)
{
    reduced(m, f, 2, 3, arg_dtype(f, V(0)->dtype));
    reduce_scratch(m, f, 2, V(0), 4);
}

/* sum_to_size: what sum_to in aten/src/ATen/ExpandUtils.h does: reduce with keepdim, then drop leading dimensions by a
 * view. */
void
run_sum_to(struct machine *m, struct frame *f)
{
    int64_t size[RANK], dims[RANK];
    struct value *v = V(0);
    int rank = arg_ints(f, 1, size, RANK), lead = v->rank - rank, n = 0;
    for (int i = 0; i < v->rank; i++)
        if (i < lead || (size[i - lead] == 1 && v->size[i] != 1))
            dims[n++] = i;
    if (!rank && lead) {
        out_add(m, f, OP(m, "sum.default", VAL(v)));
        return;
    }
    struct value *s = n ? OP(m, "sum.dim_IntList", VAL(v), ints_arg(m, n, dims), BOOL(true)) : v;
    out_add(m, f, lead ? OP(m, "view.default", VAL(s), ints_arg(m, rank, size)) : s);
}

/* ---- losses ------------------------------------------------------------------------------------------------------ */

/* The structured kernel sizes its result like the input and resizes it to a scalar at the end, so the storage stays as
 * large; the differences go to a second tensor of that size. Source: mse_loss in native/BinaryOps.cpp and
 * native/Loss.cpp; seen in what PyTorch's allocator holds after the step. */
void
run_scalar_loss(struct machine *m, struct frame *f)
{
    struct value *v = V(0);
    struct value *full = m->real ? value_new(m, v->dtype, v->rank, v->size, NULL) : NULL;
    out_add(m, f, full ? value_view(m, full, 0, NULL, NULL) : value_new(m, v->dtype, 0, NULL, NULL));
    if (full) {
        bool all[RANK];
        struct value *differences = layout_like(m, full, v->dtype);
        memset(all, true, sizeof(all));
        reduce_workspace(m, differences, all, 4);
    }
}

/* Reduced to a number unless the reduction is 0. */
void
run_loss(struct machine *m, struct frame *f)
{
    if (arg_int(f, aten_arg(f->op, "reduction"), 1) == 0)
        pointwise_new(m, f, 0, 2, layout_promote(f->a, 2));
    else
        run_scalar_loss(m, f);
}

/* Source: binary_cross_entropy_with_logits in Loss.cpp: (1 - target).mul_(input).sub_(log_sigmoid(input)), then the
 * mean. A dispatch mode sees only the result. */
void
run_bce(struct machine *m, struct frame *f)
{
    if (m->real) {
        OP(m, "log_sigmoid_forward.default", VAL(V(0)));
        OP(m, "rsub.Scalar", VAL(V(1)), INT(1));
    }
    if (arg_int(f, aten_arg(f->op, "reduction"), 1) == 0)
        pointwise_new(m, f, 0, 2, layout_promote(f->a, 2));
    else
        out_add(m, f, value_new(m, V(0)->dtype, 0, NULL, NULL));
}

void
run_nll_loss(struct machine *m, struct frame *f)
{
    bool each = arg_int(f, 3, 1) == 0; /* reduction: a loss for every target */
    for (int i = 0; i < 2; i++)        /* loss, total_weight */
        out_add(m, f, value_new(m, V(0)->dtype, each && !i && V(1) ? V(1)->rank : 0, V(1)->size, NULL));
}

/* ---- several outputs that are all like the input ----------------------------------------------------------------- */

void
run_dropout(struct machine *m, struct frame *f)
{
    struct value *mask =
        m->real ? layout_like(m, V(0), DT_BOOL) : NULL; /* first, in dropout_cuda in native/cuda/Dropout.cu */
    out_add(m, f, layout_like(m, V(0), V(0)->dtype));
    out_add(m, f, mask ? mask : layout_like(m, V(0), DT_BOOL));
}

void
run_second_like(struct machine *m, struct frame *f)
{
    out_add(m, f, layout_like(m, V(1), V(0)->dtype));
}

/* Contiguous. On a GPU each dimension is rolled by itself, and what the others read lives until the last one is done.
 * Source: roll_common in native/TensorTransformations.h. */
void
run_roll(struct machine *m, struct frame *f)
{
    int64_t dims[RANK];
    const int n = m->real ? arg_ints(f, 2, dims, RANK) : 1, mark = scope_begin(m);
    pointwise_resolve(m, f, 0, 1);
    struct value *v = V(0), *out = NULL;
    for (int i = 0; i < n || !out; i++)
        out = value_new(m, v->dtype, v->rank, v->size, NULL);
    scope_end(m, mark, 1, &out);
    out_add(m, f, out);
}

/* Lies as its halves do. Source: the meta function in native/GatedLinearUnit.cpp. */
void
run_glu(struct machine *m, struct frame *f)
{
    int64_t size[RANK];
    struct value half = *V(0);
    memcpy(size, half.size, sizeof(*size) * (size_t)half.rank);
    size[layout_dim(arg_int(f, 1, -1), half.rank)] /= 2;
    half.size = size;
    out_add(m, f, layout_like(m, &half, half.dtype));
}

/* (grad, self): contiguous, but of fake tensors channels last where self is. Source: glu_backward_cuda in
 * native/GatedLinearUnit.cpp; glu_backward in torch/_decomp/decompositions.py. */
void
run_glu_backward(struct machine *m, struct frame *f)
{
    struct value *v = V(1);
    out_add(m, f, layout_image(m, V(0)->dtype, v->rank, v->size, !m->real && value_channels_last(v)));
}

/* Contiguous, whatever its input is: LEGACY_CONTIGUOUS_MEMORY_FORMAT in the meta functions of native/SoftMax.cpp. */
void
run_softmax(struct machine *m, struct frame *f)
{
    struct value *v = V(0);
    enum dtype t = f->n > 2 && f->a[2].kind == ARG_DTYPE ? (enum dtype)f->a[2].i : v->dtype;
    out_add(m, f, value_new(m, t, v->rank, v->size, NULL));
}

/* One number of all. */
void
run_scalar_of(struct machine *m, struct frame *f)
{
    out_add(m, f, value_new(m, V(0)->dtype, 0, NULL, NULL));
}

/* Source: _safe_softmax in transformers/attention.cpp, of which a dispatch mode sees the result alone. */
void
run_safe_softmax(struct machine *m, struct frame *f)
{
    run_softmax(m, f);
    if (m->real) {
        OP(m, "all.dim", VAL(OP(m, "eq.Scalar", VAL(V(0)), FLT(0))), f->a[1], BOOL(true));
        OP(m, "scalar_tensor.default", FLT(0), DTYPE(V(0)->dtype));
    }
}

/* Of log_softmax a fake tensor takes the gradient's layout: _log_softmax_backward_data in torch/_decomp. */
void
run_softmax_backward(struct machine *m, struct frame *f)
{
    enum dtype t = f->n > 2 && V(2) ? V(2)->dtype : V(0)->dtype;
    out_add(m, f, m->real ? value_new(m, t, V(0)->rank, V(0)->size, NULL) : layout_like(m, V(0), t));
}

/* grad * output comes first. Source: softmax_backward_cuda_out in native/cuda/SoftMax.cu. */
void
run_softmax_backward_data(struct machine *m, struct frame *f)
{
    out_add(m, f, value_new(m, f->n > 2 && V(2) ? V(2)->dtype : V(0)->dtype, V(0)->rank, V(0)->size, NULL));
    struct value *product = m->real ? layout_like(m, V(0), V(0)->dtype) : NULL;
    if (product && !value_contiguous(product))
        OP(m, "clone.default", VAL(product), BOOL(true));
}

void
run_prelu_backward(struct machine *m, struct frame *f)
{
    out_add(m, f, layout_like(m, V(1), V(1)->dtype));
    out_add(m, f, layout_like(m, V(1), V(1)->dtype));
}

void
run_embedding_backward(struct machine *m, struct frame *f)
{
    out_add(m, f, embedding_backward(m, V(0), V(1), V(2)));
}

/* Result, offset2bag, bag_size and, of the maximum, its indices. Source: meta_embedding_bag in
 * torch/_meta_registrations.py. */
void
run_embedding_bag(struct machine *m, struct frame *f)
{
    struct value *w = V(0), *offsets = V(2);
    int64_t picks = value_elements(V(1)), bags = value_elements(offsets), size[] = {bags, w->size[w->rank - 1]};
    out_add(m, f, value_new(m, w->dtype, 2, f->rank == 2 ? f->size : size, NULL));
    out_add(m, f, value_new(m, DT_INT64, 1, &picks, NULL));
    out_add(m, f, value_new(m, DT_INT64, 1, &bags, NULL));
    out_add(m, f, arg_int(f, 4, 0) == 2 ? value_new(m, DT_INT64, 2, size, NULL) : NULL);
}

void
run_nonzero(struct machine *m, struct frame *f)
{
    if (f->rank >= 0)
        out_add(m, f, value_new(m, DT_INT64, f->rank, f->size, NULL));
}

/* What stands in for an operator without a rule: the sizes that the file states, the type of its first tensor. */
void
run_stand_in(struct machine *m, struct frame *f)
{
    if (f->rank >= 0 && f->a[0].n)
        out_add(m, f, value_new(m, f->a[0].list[0].v->dtype, f->rank, f->size, NULL));
}

void
run_stand_in_backward(struct machine *m, struct frame *f)
{
    for (int i = 0; i < f->a[1].n; i++)
        out_add(m, f, layout_like(m, f->a[1].list[i].v, V(0)->dtype));
}

/* w and the norms of v, along one dimension. Source: weight_norm_cuda in aten/src/ATen/native/cuda/WeightNorm.cu. */
void
run_weight_norm(struct machine *m, struct frame *f)
{
    out_add(m, f, layout_like(m, V(0), V(0)->dtype));
    out_add(m, f, layout_like(m, V(1), layout_statistics(V(1))));
}

void
run_weight_norm_backward(struct machine *m, struct frame *f)
{
    for (int i = 0; i < 2; i++)
        out_add(m, f, f->want >> i & 1 ? layout_like(m, V(1 + i), V(1 + i)->dtype) : NULL);
}

/* x[a:b] = y as the exporter writes it, without side effects: eager writes into x. */
void
run_over(struct machine *m, struct frame *f)
{
    out_add(m, f, value_view(m, V(0), V(0)->rank, V(0)->size, V(0)->stride));
}
