/* SPDX-License-Identifier: Apache-2.0 */
/* dense.c - matrix products, convolutions, pools, normalization, attention: what they make. */
#include "torch/run.h"

/* ---- matrix products --------------------------------------------------------------------------------------------- */

/* Elements between rows, or between columns where the matrix is transposed. */
static int64_t
leading(const struct value *v, int *transposed)
{
    int64_t row = v->stride[v->rank - 2], column = v->stride[v->rank - 1], rows = v->size[v->rank - 2],
            columns = v->size[v->rank - 1];
    *transposed = column != 1 && row == 1 && column >= rows;
    return *transposed ? column : column == 1 && row >= columns ? row : columns;
}

/* a * b of rank 2 or 3, by l. */
static void
product_kernel(struct machine *m, enum library l, const struct value *a, const struct value *b)
{
    struct kernel_shape s;
    if (!notes_kernels(m))
        return;
    memset(&s, 0, sizeof(s));
    s.kind = KERNEL_PRODUCT;
    s.dtype = a->dtype;
    s.batch = a->rank == 3 ? a->size[0] : 1;
    s.m = a->size[a->rank - 2];
    s.k = a->size[a->rank - 1];
    s.n = b->size[b->rank - 1];
    s.lda = leading(a, &s.ta);
    s.ldb = leading(b, &s.tb);
    s.most = library_workspace(m, l);
    use_kernel(m, &s);
}

/* cuBLAS wants rows or columns one after the other, and gets a copy of others, which dies with the call. Source:
 * prepare_matrix_for_cublas and prepare_batch_matrix_for_cublas in aten/src/ATen/native/cuda/Blas.cpp. */
static void
copy_for_cublas(struct machine *m, struct value *v)
{
    int64_t row = v->stride[v->rank - 2], column = v->stride[v->rank - 1], rows = v->size[v->rank - 2],
            columns = v->size[v->rank - 1];
    bool by_rows = column == 1 && row >= columns && row > 0, by_columns = row == 1 && column >= rows && column > 0;
    bool dense = v->rank == 3 ? value_contiguous(v) && row && column
                              : ((columns == 1 || column == 1) && (rows == 1 || row == columns)) ||
                                    ((rows == 1 || row == 1) && (columns == 1 || column == rows));
    if (!m->real || by_rows || by_columns || dense)
        return;
    struct storage *copy = OP(m, "clone.default", VAL(v), BOOL(true))->st;
    copy->class = CLASS_WORKSPACE;
    copy->name = "copy for cuBLAS";
}

/* What a product of a and b, which is NULL for a vector, takes beside its result, which is there: a handle's workspace
 * comes with the first call. */
static void
call_cublas(struct machine *m, struct value *a, struct value *b)
{
    copy_for_cublas(m, a);
    if (b)
        copy_for_cublas(m, b);
    use_library(m, LIBRARY_CUBLAS);
}

static void
product(struct machine *m, struct frame *f, enum library l, struct value *a, struct value *b)
{
    int64_t n = a->size[0], k = a->size[1], c = b->size[1];
    m->flops += 2.0 * (double)n * (double)k * (double)c;
    product_kernel(m, l, a, b);
    out_add(m, f, value_new(m, a->dtype, 2, (int64_t[]){n, c}, NULL));
    call_cublas(m, a, b);
}

int64_t
inner_of_first(const struct frame *f)
{
    return V(0)->size[V(0)->rank - 1];
}

int64_t
inner_of_second(const struct frame *f)
{
    return V(1)->size[V(1)->rank - 1];
}

void
run_mm(struct machine *m, struct frame *f)
{
    product(m, f, LIBRARY_CUBLAS, V(0), V(1));
}

/* cuBLASLt adds a bias; a matrix of one row or column it refuses. Source: isInputCompliesAddmmCudaLt in
 * cuda/Blas.cpp. */
void
run_addmm(struct machine *m, struct frame *f)
{
    bool epilogue = V(0)->rank == 1 && V(2)->size[0] > 1 && V(2)->size[1] > 1;
    product(m, f, epilogue ? LIBRARY_CUBLASLT : LIBRARY_CUBLAS, V(1), V(2));
    if (epilogue)
        use_library(m, LIBRARY_CUBLASLT);
}

static void
batched(struct machine *m, struct frame *f, struct value *a, struct value *b)
{
    int64_t size[] = {a->size[0], a->size[1], b->size[2]};
    m->flops += 2.0 * (double)size[0] * (double)size[1] * (double)a->size[2] * (double)size[2];
    product_kernel(m, LIBRARY_CUBLAS, a, b);
    out_add(m, f, value_new(m, a->dtype, 3, size, NULL));
    call_cublas(m, a, b);
}

void
run_bmm(struct machine *m, struct frame *f)
{
    batched(m, f, V(0), V(1));
}

void
run_baddbmm(struct machine *m, struct frame *f)
{
    batched(m, f, V(1), V(2));
}

static bool
column_major(const struct value *v)
{
    return v->stride[0] == 1 && v->stride[1] == v->size[0];
}

static struct value *
t(struct machine *m, struct value *v)
{
    return OP(m, "t.default", VAL(v));
}

/* Source: mm_mat1_backward, mm_mat2_backward in FunctionsManual.cpp: the gradient takes its operand's layout. */
void
run_mm_mat1_backward(struct machine *m, struct frame *f)
{
    struct value *g = V(0), *mat2 = V(1);
    out_add(m, f,
            column_major(V(2)) ? t(m, OP(m, "mm.default", VAL(mat2), VAL(t(m, g))))
                               : OP(m, "mm.default", VAL(g), VAL(t(m, mat2))));
}

void
run_mm_mat2_backward(struct machine *m, struct frame *f)
{
    struct value *g = V(0), *mat1 = V(1);
    out_add(m, f,
            column_major(V(2)) ? t(m, OP(m, "mm.default", VAL(t(m, g)), VAL(mat1)))
                               : OP(m, "mm.default", VAL(t(m, mat1)), VAL(g)));
}

void
run_mv(struct machine *m, struct frame *f)
{
    m->flops += 2.0 * (double)value_elements(V(0));
    out_add(m, f, value_new(m, V(0)->dtype, 1, V(0)->size, NULL));
    call_cublas(m, V(0), NULL);
}

void
run_addmv(struct machine *m, struct frame *f)
{
    m->flops += 2.0 * (double)value_elements(V(1));
    out_add(m, f, value_new(m, V(1)->dtype, 1, V(1)->size, NULL));
    call_cublas(m, V(1), NULL);
}

void
run_addr(struct machine *m, struct frame *f)
{
    int64_t size[] = {V(1)->size[0], V(2)->size[0]};
    m->flops += (double)size[0] * (double)size[1];
    bool whole = V(0)->rank == 2 && V(0)->size[0] == size[0] && V(0)->size[1] == size[1];
    out_add(m, f, whole ? layout_like(m, V(0), V(1)->dtype) : value_new(m, V(1)->dtype, 2, size, NULL));
}

void
run_trilinear(struct machine *m, struct frame *f)
{
    m->flops += 2.0 * (double)V(0)->size[0] * (double)value_elements(V(1));
    out_add(m, f, value_new(m, V(0)->dtype, 2, (int64_t[]){V(0)->size[0], V(1)->size[0]}, NULL));
}

void
run_trilinear_of(struct machine *m, struct frame *f)
{
    m->op = "_trilinear.default";
    out_add(m, f, value_new(m, V(3)->dtype, V(3)->rank, V(3)->size, NULL));
}

void
run_dot(struct machine *m, struct frame *f)
{
    m->flops += 2.0 * (double)value_elements(V(0));
    out_add(m, f, value_new(m, V(0)->dtype, 0, NULL, NULL));
    use_library(m, LIBRARY_CUBLAS);
}

void
run_outer(struct machine *m, struct frame *f)
{
    struct value *column = OP(m, "view.default", VAL(V(0)), ints_arg(m, 2, (int64_t[]){V(0)->size[0], 1}));
    out_add(m, f, OP(m, "mul.Tensor", VAL(column), VAL(V(1)))); /* outer in LinearAlgebra.cpp */
}

void
run_addbmm(struct machine *m, struct frame *f)
{
    struct value *a = V(1), *b = V(2);
    m->flops += 2.0 * (double)value_elements(a) * (double)b->size[2];
    product_kernel(m, LIBRARY_CUBLAS, a, b);
    out_add(m, f, value_new(m, a->dtype, 2, (int64_t[]){a->size[1], b->size[2]}, NULL));
    use_library(m, LIBRARY_CUBLAS);
}

void
run_addbmm_grad(struct machine *m, struct frame *f)
{
    struct value *g = V(0);
    out_add(m, f,
            value_view(m, g, 3, (int64_t[]){V(1)->size[0], g->size[0], g->size[1]},
                       (int64_t[]){0, g->stride[0], g->stride[1]}));
}

/* ---- convolutions, pools, resampling ----------------------------------------------------------------------------- */

static int64_t
at_or(const int64_t *v, int n, int i, int64_t otherwise)
{
    return n == 0 ? otherwise : v[i < n ? i : n - 1];
}

/* cuDNN's operands must be contiguous, channels last or not: those that aren't are copied. Source:
 * cudnn_convolution_forward, cudnn_convolution_backward_input and _weight in native/cudnn/ConvShared.cpp; 1d in
 * native/Convolution.cpp. */
static void
convolution_operand(struct machine *m, const struct value *v, bool last)
{
    int64_t run = 1;
    bool dense = true;
    for (int i = 0; i < v->rank; i++) {
        int d = image_dim(v->rank, last, i);
        dense &= v->size[d] == 1 || v->stride[d] == run;
        run *= v->size[d];
    }
    if (m->real && !dense)
        layout_image(m, v->dtype, v->rank, v->size, last);
}

int64_t
inner_of_convolution(const struct frame *f)
{
    return value_elements(V(1)) / (V(1)->size[0] ? V(1)->size[0] : 1);
}

/* Sizes or strides as cuDNN takes them: those of 1d get a height, which `fill` says. */
static void
with_height(int64_t *to, const int64_t *from, int rank, int at, int64_t fill)
{
    for (int i = 0, k = 0; i < rank + (rank == at + 1); i++)
        to[i] = rank == at + 1 && i == at ? fill : from[k++];
}

/* Each channel by itself; stride is the argument `at`. Source: is_depthwise in Convolution.cpp. */
static bool
runs_by_depth(const struct frame *f, int at, const struct value *x)
{
    int64_t groups = arg_int(f, at + 5, 1);
    return !arg_int(f, at + 3, 0) && groups > 1 && x->size[1] == groups;
}

/* A kernel of the convolution x * w = y, whose stride is argument `at`; kind is of a convolution that is not
 * transposed. A transposed one is the gradient of another. Depthwise ones have kernels of PyTorch's own, but for
 * channels last and float16: use_cudnn_depthwise in native/Convolution.cpp. So has bfloat16 before 8.0: use_cudnn there
 * and supportsBFloat16ConvolutionWithCuDNNv8 in cuda/detail/CUDAHooks.cpp. */
static void
convolution_kernel(struct machine *m, const struct frame *f, int at, enum kernel_kind kind, const struct value *x,
                   const struct value *w, const struct value *y, bool last)
{
    struct kernel_shape s;
    int64_t v[RANK], space[RANK] = {0};
    bool transposed = arg_int(f, at + 3, 0);
    if (!m->real || !m->s)
        return;
    memset(&s, 0, sizeof(s));
    s.groups = arg_int(f, at + 5, 1);
    if (s.groups < 1 || x->rank < 3 || x->rank > KERNEL_RANK || y->rank != x->rank || w->rank != x->rank ||
        (runs_by_depth(f, at, x) && !last && x->dtype != DT_FLOAT16) ||
        (x->dtype == DT_BFLOAT16 && !machine_from(m, 80)))
        return;
    s.kind = !transposed || kind == KERNEL_GRAD_WEIGHT ? kind
             : kind == KERNEL_FORWARD                  ? KERNEL_GRAD_INPUT
                                                       : KERNEL_FORWARD;
    s.dtype = x->dtype;
    s.rank = x->rank + (x->rank == 3);
    s.last = last;
    with_height(s.in, transposed ? y->size : x->size, x->rank, 2, 1);
    with_height(s.out, transposed ? x->size : y->size, x->rank, 2, 1);
    with_height(s.weight, w->size, x->rank, 2, 1);
    int64_t *to[] = {s.stride, s.pad, s.dilation};
    for (int i = 0; i < COUNT(to); i++) {
        int n = arg_ints(f, at + i, v, RANK);
        for (int d = 0; d < x->rank - 2; d++)
            space[d] = at_or(v, n, d, i == 1 ? 0 : 1);
        with_height(to[i], space, x->rank - 2, 0, i == 1 ? 0 : 1);
    }
    use_kernel(m, &s);
}

/* In one dimension as an image of one row. */
static bool
row_channels_last(const struct value *v)
{
    int64_t size[] = {v->size[0], v->size[1], 1, v->size[2]};
    int64_t stride[] = {v->stride[0], v->stride[1], v->size[2] * v->stride[2], v->stride[2]};
    return value_channels_last(&(struct value){.rank = 4, .size = size, .stride = stride});
}

/* Whether cuDNN runs with the channels last; stride is the argument `at`. In one dimension the input is contiguous by
 * then. Of fake tensors without a driver it takes bfloat16 by depth alone, and what runs instead knows one order.
 * Source: cudnn_conv_suggest_memory_format in native/ConvUtils.h; use_cudnn, is_depthwise, _convolution in
 * Convolution.cpp; conv in torch/_subclasses/fake_impls.py. */
static bool
convolution_last(const struct machine *m, const struct frame *f, int at, const struct value *x, const struct value *w)
{
    if (!m->real && !runs_by_depth(f, at, x) && x->dtype == DT_BFLOAT16)
        return false;
    if (x->rank == 3 && w->rank == 3)
        return (value_contiguous(x) && row_channels_last(x)) || row_channels_last(w);
    return value_channels_last(x) || value_channels_last(w);
}

/* convolution(input, weight, bias, stride, padding, dilation, transposed, output_padding, groups). */
void
run_convolution(struct machine *m, struct frame *f)
{
    int64_t stride[RANK], pad[RANK], dil[RANK], opad[RANK], size[RANK];
    struct value *x = V(0), *w = V(1);
    int ns = arg_ints(f, 3, stride, RANK), np = arg_ints(f, 4, pad, RANK), nd = arg_ints(f, 5, dil, RANK),
        no = arg_ints(f, 7, opad, RANK);
    bool transposed = arg_int(f, 6, 0);
    int64_t groups = arg_int(f, 8, 1);
    size[0] = x->size[0];
    size[1] = transposed ? w->size[1] * groups : w->size[0];
    double macs = (double)(transposed ? x->size[1] : size[1]) * (double)w->size[1];
    for (int i = 0; i < x->rank - 2; i++) {
        int64_t k = at_or(dil, nd, i, 1) * (w->size[i + 2] - 1), s = at_or(stride, ns, i, 1), p = at_or(pad, np, i, 0);
        size[i + 2] = transposed ? (x->size[i + 2] - 1) * s - 2 * p + k + at_or(opad, no, i, 0) + 1
                                 : (x->size[i + 2] + 2 * p - k - 1) / (s ? s : 1) + 1;
        macs *= (double)w->size[i + 2] * (double)(transposed ? x->size[i + 2] : size[i + 2]);
    }
    m->flops += 2.0 * macs * (double)x->size[0];
    if (f->rank == x->rank)
        memcpy(size, f->size, sizeof(*size) * (size_t)x->rank);
    bool last = convolution_last(m, f, 3, x, w);
    if (x->rank == 3)
        convolution_operand(m, x, false);
    out_add(m, f, layout_image(m, x->dtype, x->rank, size, last));
    if (x->rank > 3) {
        convolution_operand(m, w, last);
        convolution_operand(m, x, last);
    }
    convolution_kernel(m, f, 3, KERNEL_FORWARD, x, w, f->out[0], last);
}

/* (grad, input, weight, bias sizes, ...): the gradient is made contiguous for each result. Source: convolution_backward
 * in Convolution.cpp, cudnn_convolution_backward and cudnn_convolution_transpose_backward in cudnn/ConvShared.cpp. */
void
run_convolution_backward(struct machine *m, struct frame *f)
{
    struct value *g = V(0), *x = V(1), *w = V(2), *bias = V(3), *made[2] = {NULL, NULL};
    bool last = convolution_last(m, f, 4, x, w), gone[RANK], row = x->rank == 3, transposed = arg_int(f, 7, 0);
    bool x_last = row ? value_contiguous(x) && row_channels_last(x) : value_channels_last(x);
    bool g_last = row ? row_channels_last(g) : value_channels_last(g);
    if (row)
        convolution_operand(m, x, false);
    int both = scope_begin(m);
    if (!row && f->want & 2)
        convolution_operand(m, x, last);
    if (transposed)
        convolution_operand(m, g, x_last);
    else if (m->real && g_last != x_last)
        g = layout_image(m, g->dtype, g->rank, g->size, x_last);
    int mark = scope_begin(m);
    if (f->want & 1) {
        made[0] = layout_image(m, x->dtype, x->rank, x->size, last);
        convolution_operand(m, w, last);
        if (!transposed)
            convolution_operand(m, g, last);
        convolution_kernel(m, f, 4, KERNEL_GRAD_INPUT, x, w, g, last);
    }
    scope_end(m, mark, 1, made);
    mark = scope_begin(m);
    if (f->want & 2) {
        if (!transposed)
            convolution_operand(m, g, last);
        made[1] = layout_image(m, w->dtype, w->rank, w->size, last);
        convolution_kernel(m, f, 4, KERNEL_GRAD_WEIGHT, x, w, g, last);
    }
    scope_end(m, mark, 1, made + 1);
    scope_end(m, both, COUNT(made), made);
    out_add(m, f, made[0]);
    out_add(m, f, made[1]);
    out_add(m, f, f->want & 4 && bias ? value_new(m, w->dtype, 1, bias->size, NULL) : NULL);
    for (int i = 0; i < x->rank; i++)
        gone[i] = i != 1;
    if (f->want & 4 && bias)
        reduce_workspace(m, V(0), gone, 4);
}

/* Kernel, stride, padding, dilation from position 1; ceil_mode last. */
static void
pool_sizes(const struct frame *f, bool dilated, int64_t *size)
{
    int64_t kernel[RANK], stride[RANK], pad[RANK], dil[RANK];
    const struct value *x = V(0);
    int nk = arg_ints(f, 1, kernel, RANK), ns = arg_ints(f, 2, stride, RANK), np = arg_ints(f, 3, pad, RANK);
    int nd = dilated ? arg_ints(f, 4, dil, RANK) : 0, spatial = nk > 1 ? nk : x->rank - 2;
    bool ceil_mode = arg_int(f, dilated ? 5 : 4, 0);
    spatial = spatial < x->rank ? spatial : x->rank;
    memcpy(size, x->size, sizeof(*size) * (size_t)x->rank);
    for (int i = 0; i < spatial; i++) {
        int d = x->rank - spatial + i;
        int64_t k = at_or(kernel, nk, i, 1), s = at_or(stride, ns, i, k), p = at_or(pad, np, i, 0), room;
        s = s > 0 ? s : 1;
        room = x->size[d] + 2 * p - at_or(dil, nd, i, 1) * (k - 1) - 1;
        size[d] = (ceil_mode ? room + s - 1 : room) / s + 1;
        if (ceil_mode && (size[d] - 1) * s >= x->size[d] + p)
            size[d]--;
    }
    if (f->rank == x->rank)
        memcpy(size, f->size, sizeof(*size) * (size_t)x->rank);
}

void
run_max_pool(struct machine *m, struct frame *f)
{
    int64_t size[RANK];
    pool_sizes(f, true, size);
    out_add(m, f, layout_image(m, V(0)->dtype, V(0)->rank, size, value_channels_last(V(0))));
    out_add(m, f, layout_image(m, DT_INT64, V(0)->rank, size, value_channels_last(V(0))));
}

void
run_avg_pool(struct machine *m, struct frame *f)
{
    int64_t size[RANK];
    pool_sizes(f, false, size);
    out_add(m, f, layout_image(m, V(0)->dtype, V(0)->rank, size, value_channels_last(V(0))));
}

/* Distances between the rows of two batches. */
void
run_cdist(struct machine *m, struct frame *f)
{
    int64_t size[RANK];
    const struct value *a = V(0), *b = V(1);
    int rank = layout_broadcast((struct arg[]){VAL(V(0)), VAL(V(1))}, 2, size);
    size[rank - 2] = a->size[a->rank - 2];
    size[rank - 1] = b->size[b->rank - 2];
    out_add(m, f, value_new(m, a->dtype, rank, size, NULL));
}

/* Distances between all rows of one. */
void
run_pdist(struct machine *m, struct frame *f)
{
    int64_t rows = V(0)->size[0], pairs = rows / 2 * (rows - 1) + rows % 2 * ((rows - 1) / 2);
    out_add(m, f, value_new(m, V(0)->dtype, 1, &pairs, NULL));
}

/* A gradient with the sizes of the second argument, made by the operator that the row's source names. */
void
run_named(struct machine *m, struct frame *f)
{
    m->op = f->op->source;
    out_add(m, f, value_new(m, V(0)->dtype, V(1)->rank, V(1)->size, NULL));
}

/* adaptive pools and resampling: the spatial sizes are an argument or the file's. */
static void
spatial_sizes(const struct frame *f, int at, int64_t *size)
{
    int64_t want[RANK];
    const struct value *x = V(0);
    int n = arg_ints(f, at, want, RANK);
    memcpy(size, x->size, sizeof(*size) * (size_t)x->rank);
    for (int i = 0; i < n && n < x->rank; i++)
        if (want[i] > 0)
            size[x->rank - n + i] = want[i];
    if (f->rank == x->rank)
        memcpy(size, f->size, sizeof(*size) * (size_t)x->rank);
}

void
run_spatial(struct machine *m, struct frame *f)
{
    int64_t size[RANK];
    spatial_sizes(f, 1, size);
    out_add(m, f, layout_image(m, V(0)->dtype, V(0)->rank, size, value_channels_last(V(0))));
}

/* Fake tensors take few channels as contiguous, which CUDA does not: _upsample_linear in
 * torch/_decomp/decompositions.py, upsample_bilinear2d in UpSample.h. */
void
run_bilinear(struct machine *m, struct frame *f)
{
    enum { FEW = 16 };
    int64_t size[RANK];
    bool last = value_channels_last(V(0)) && (m->real || V(0)->size[1] >= FEW);
    spatial_sizes(f, 1, size);
    out_add(m, f, layout_image(m, V(0)->dtype, V(0)->rank, size, last));
}

void
run_adaptive_max_pool(struct machine *m, struct frame *f)
{
    int64_t size[RANK];
    spatial_sizes(f, 1, size);
    out_add(m, f, layout_image(m, V(0)->dtype, V(0)->rank, size, value_channels_last(V(0))));
    out_add(m, f, layout_image(m, DT_INT64, V(0)->rank, size, value_channels_last(V(0))));
}

void
run_fractional_max_pool(struct machine *m, struct frame *f)
{
    int64_t size[RANK];
    spatial_sizes(f, 2, size);
    out_add(m, f, value_new(m, V(0)->dtype, V(0)->rank, size, NULL));
    out_add(m, f, value_new(m, DT_INT64, V(0)->rank, size, NULL));
}

void
run_pixel_shuffle(struct machine *m, struct frame *f)
{
    int64_t size[RANK], r = arg_int(f, 1, 1);
    struct value *v = V(0);
    memcpy(size, v->size, sizeof(*size) * (size_t)v->rank);
    if (v->rank >= 3 && r > 0) {
        size[v->rank - 3] /= r * r;
        size[v->rank - 2] *= r;
        size[v->rank - 1] *= r;
    }
    if (f->rank == v->rank)
        memcpy(size, f->size, sizeof(*size) * (size_t)v->rank);
    out_add(m, f, value_new(m, v->dtype, v->rank, size, NULL));
}

/* Of fake tensors in their operand's order. Source: pixel_unshuffle in torch/_refs/nn/functional; math_pixel_unshuffle
 * in aten/src/ATen/native/PixelShuffle.cpp. */
static void
unshuffled(struct machine *m, struct frame *f, const int64_t *size)
{
    struct value *v = V(0);
    out_add(m, f, layout_image(m, v->dtype, v->rank, size, !m->real && value_channels_last(v)));
}

void
run_pixel_unshuffle(struct machine *m, struct frame *f)
{
    int64_t size[RANK], r = arg_int(f, 1, 1);
    struct value *v = V(0);
    memcpy(size, v->size, sizeof(*size) * (size_t)v->rank);
    if (v->rank >= 3 && r > 0) {
        size[v->rank - 3] *= r * r;
        size[v->rank - 2] /= r;
        size[v->rank - 1] /= r;
    }
    unshuffled(m, f, size);
}

void
run_pixel_unshuffle_of(struct machine *m, struct frame *f)
{
    m->op = f->op->source;
    unshuffled(m, f, V(1)->size);
}

/* The sizes that the file states: operators that only exporters of torch.export see, where sizes follow from many
 * settings. */
static void
stated(struct machine *m, struct frame *f, enum dtype t)
{
    struct value *v = V(0);
    out_add(m, f, f->rank >= 0 ? value_new(m, t, f->rank, f->size, NULL) : layout_like(m, v, t));
}

void
run_stated(struct machine *m, struct frame *f)
{
    stated(m, f, V(0)->dtype);
}

/* im2col and col2im: the result begins as a tensor like the input, and is resized, for which storage that is large
 * enough stays. Source: im2col_out_cuda_template in cuda/Im2Col.cu, col2im_out_cuda_template in cuda/Col2Im.cu. */
static void
resized(struct machine *m, struct frame *f, int rank, const int64_t *size)
{
    struct value *x = V(0);
    int mark = scope_begin(m);
    if (m->real)
        x = value_new(m, x->dtype, x->rank, x->size, NULL);
    if (m->real && sizes_product(rank, size) <= value_elements(x)) {
        out_add(m, f, value_view(m, x, rank, size, NULL));
        f->out[0]->is_view = false;
    } else {
        out_add(m, f, value_new(m, x->dtype, rank, size, NULL));
    }
    scope_end(m, mark, f->nout, f->out);
}

void
run_resized(struct machine *m, struct frame *f)
{
    if (f->rank >= 0)
        resized(m, f, f->rank, f->size);
    else
        run_stated(m, f);
}

/* (grad, self): of self's sizes. */
void
run_resized_back(struct machine *m, struct frame *f)
{
    m->op = f->op->source;
    resized(m, f, V(1)->rank, V(1)->size);
}

void
run_stated_bool(struct machine *m, struct frame *f)
{
    stated(m, f, DT_BOOL);
}

void
run_stated_index(struct machine *m, struct frame *f)
{
    stated(m, f, DT_INT64);
}

/* A Fourier transform writes its batch dimensions outside, its own inside, each in the order of the input's strides,
 * which is clean where the input was made contiguous before.
 * Source: _exec_fft and _sort_dims in torch/_meta_registrations.py, of native/cuda/SpectralOps.cpp. */
static void
transform_new(struct machine *m, struct frame *f, enum dtype t, const int64_t *size, bool clean)
{
    int64_t dims[RANK], stride[RANK], run = 1;
    struct value *v = V(0);
    int order[RANK] = {0}, n = arg_ints(f, 1, dims, RANK), at = 0;
    for (int own = 0; own < 2; own++)
        for (int i = 0; i < v->rank; i++) {
            bool mine = false;
            for (int k = 0; k < n; k++)
                mine |= layout_dim(dims[k], v->rank) == i;
            if (mine != own)
                continue;
            int k = at++;
            for (; k > 0 && !clean && v->stride[order[k - 1]] < v->stride[i]; k--) {
                bool other = false;
                for (int j = 0; j < n; j++)
                    other |= layout_dim(dims[j], v->rank) == order[k - 1];
                if (other != own)
                    break;
                order[k] = order[k - 1];
            }
            order[k] = i;
        }
    for (int i = v->rank - 1; i >= 0; i--) {
        stride[order[i]] = run;
        run *= size[order[i]] > 1 ? size[order[i]] : 1;
    }
    out_add(m, f, value_new(m, t, v->rank, size, stride));
}

static enum dtype
complex_of(enum dtype t)
{
    return t == DT_DOUBLE || t == DT_COMPLEX128 ? DT_COMPLEX128 : DT_COMPLEX64;
}

void
run_fft_c2c(struct machine *m, struct frame *f)
{
    int64_t dims[RANK];
    int n = arg_ints(f, 1, dims, RANK);
    pointwise_resolve(m, f, 0, 1);
    const struct value *v = V(0);
    transform_new(m, f, v->dtype, v->size, false);
    if (v->rank && n)
        transform_workspace(m, v, layout_dim(dims[n - 1], v->rank), false);
}

/* The last named dimension is halved, or grows back. */
void
run_fft_real(struct machine *m, struct frame *f)
{
    int64_t dims[RANK], size[RANK] = {0};
    struct value *v = V(0);
    int n = arg_ints(f, 1, dims, RANK), last = n ? layout_dim(dims[n - 1], v->rank) : 0;
    bool inverse = real_of(v->dtype) != v->dtype;
    pointwise_resolve(m, f, 0, 1);
    memcpy(size, v->size, sizeof(*size) * (size_t)v->rank);
    if (v->rank && inverse)
        size[last] = arg_int(f, 3, size[last]);
    else if (v->rank && arg_int(f, 3, 0))
        size[last] = size[last] / 2 + 1;
    transform_new(m, f, inverse ? real_of(v->dtype) : complex_of(v->dtype), size, inverse);
    if (v->rank && n)
        transform_workspace(m, inverse ? f->out[0] : v, last, true);
}

/* A complex tensor seen as pairs of reals, and the first of each pair. */
void
run_view_as_real(struct machine *m, struct frame *f)
{
    int64_t size[RANK], stride[RANK];
    struct value *v = V(0);
    for (int i = 0; i < v->rank; i++) {
        size[i] = v->size[i];
        stride[i] = 2 * v->stride[i];
    }
    size[v->rank] = 2;
    stride[v->rank] = 1;
    struct value *w = value_view(m, v, v->rank + 1, size, stride);
    w->dtype = real_of(v->dtype);
    out_add(m, f, w);
}

void
run_real(struct machine *m, struct frame *f)
{
    int64_t stride[RANK];
    struct value *v = V(0);
    for (int i = 0; i < v->rank; i++)
        stride[i] = 2 * v->stride[i];
    struct value *w = value_view(m, v, v->rank, v->size, stride);
    w->dtype = real_of(v->dtype);
    w->conj = false;
    out_add(m, f, w);
}

void
run_conj(struct machine *m, struct frame *f)
{
    struct value *w = value_view(m, V(0), V(0)->rank, V(0)->size, V(0)->stride);
    w->conj = !V(0)->conj;
    out_add(m, f, w);
}

void
run_complex(struct machine *m, struct frame *f)
{
    pointwise_new(m, f, 0, 2, complex_of(V(0)->dtype));
}

void
run_view_as_complex(struct machine *m, struct frame *f)
{
    int64_t stride[RANK];
    struct value *v = V(0);
    for (int i = 0; i < v->rank - 1; i++)
        stride[i] = v->stride[i] / 2;
    struct value *w = value_view(m, v, v->rank - 1, v->size, stride);
    w->dtype = complex_of(v->dtype);
    out_add(m, f, w);
}

/* (grad, mask). Source: dropout_backward_cuda in aten/src/ATen/native/cuda/Dropout.cu: as the gradient suggests. */
void
run_dropout_backward(struct machine *m, struct frame *f)
{
    struct value *g = V(0);
    out_add(m, f, layout_image(m, g->dtype, g->rank, g->size, value_channels_last(g)));
}

/* grid_sampler(input, grid): the input's channels at the grid's points, in one order. Source: grid_sampler_2d_cuda in
 * aten/src/ATen/native/cuda/GridSampler.cpp. */
void
run_grid_sampler(struct machine *m, struct frame *f)
{
    struct value *x = V(0), *grid = V(1);
    int64_t size[RANK] = {x->size[0], x->size[1]};
    for (int i = 2; i < x->rank; i++)
        size[i] = grid->size[i - 1];
    out_add(m, f, value_new(m, x->dtype, x->rank, size, NULL));
}

void
run_grid_sampler_backward(struct machine *m, struct frame *f)
{
    for (int i = 0; i < 2; i++) /* the grid's is always made: grid_sampler_2d_backward_cuda in GridSampler.cpp */
        out_add(m, f, i || f->want & 1 ? value_new(m, V(1 + i)->dtype, V(1 + i)->rank, V(1 + i)->size, NULL) : NULL);
}

/* A kernel's result of the size that the file states; without it, as large as its input. */
void
run_kernel(struct machine *m, struct frame *f)
{
    struct value *x = V(0);
    out_add(m, f, value_new(m, x->dtype, f->rank >= 0 ? f->rank : x->rank, f->rank >= 0 ? f->size : x->size, NULL));
}

/* (grad, input, weight, offset, mask, bias): what is wanted of the last five */
void
run_deform_backward(struct machine *m, struct frame *f)
{
    for (int i = 0; i < 5; i++) {
        struct value *v = V(1 + i);
        out_add(m, f, v ? value_new(m, v->dtype, v->rank, v->size, NULL) : NULL);
    }
}

/* ---- normalization ----------------------------------------------------------------------------------------------- */

void
run_batch_norm(struct machine *m, struct frame *f)
{
    struct value *x = V(0);
    out_add(m, f, layout_like(m, x, x->dtype));
    for (int i = 0; i < 2; i++)
        out_add(m, f, value_new(m, layout_statistics(x), 1, &x->size[1], NULL));
}

void
run_cudnn_batch_norm(struct machine *m, struct frame *f)
{
    run_batch_norm(m, f);
    batch_norm_workspace(m, V(0), false);
}

void
run_running_norm(struct machine *m, struct frame *f)
{
    m->op = f->op->source;
    out_add(m, f, layout_like(m, V(0), V(0)->dtype));
}

/* (input, grad, weight, ...) or native's (grad, input, weight, ...): both are tensors of the input's sizes. */
void
run_batch_norm_backward(struct machine *m, struct frame *f)
{
    struct value *x = V(0), *w = V(2);
    out_add(m, f, f->want & 1 ? layout_like(m, x, x->dtype) : NULL);
    enum dtype t = w ? w->dtype : layout_statistics(x);
    for (int i = 1; i < 3; i++)
        out_add(m, f, f->want >> i & 1 ? value_new(m, t, 1, &x->size[1], NULL) : NULL);
}

/* All three, whatever is wanted, from a gradient in the input's format: cudnn_batch_norm_backward in
 * aten/src/ATen/native/cudnn/BatchNorm.cpp. */
void
run_cudnn_batch_norm_backward(struct machine *m, struct frame *f)
{
    f->want = 7;
    if (!value_contiguous(V(1)) && !(value_channels_last(V(0)) && value_channels_last(V(1))))
        OP(m, "clone.default", VAL(V(1)));
    run_batch_norm_backward(m, f);
    batch_norm_workspace(m, V(0), true);
}

/* (input, normalized_shape, ...): the result, and so many statistics of each row. */
static void
norm_rows(struct machine *m, struct frame *f, int statistics)
{
    int64_t shape[RANK], size[RANK];
    struct value *x = V(0);
    int n = arg_ints(f, 1, shape, RANK);
    for (int i = 0; i < x->rank; i++)
        size[i] = i < x->rank - n ? x->size[i] : 1;
    out_add(m, f, value_new(m, x->dtype, x->rank, x->size, NULL)); /* contiguous, whatever the input is */
    for (int i = 0; i < statistics; i++)
        out_add(m, f, value_new(m, layout_statistics(x), x->rank, size, NULL));
}

/* native_layer_norm(input, normalized_shape, weight, bias, eps) */
void
run_layer_norm(struct machine *m, struct frame *f)
{
    norm_rows(m, f, 2);
}

/* Of a norm's input, weight and bias, those that are asked for. */
static void
norm_gradients(struct machine *m, struct frame *f)
{
    struct value *x = V(1);
    out_add(m, f, f->want & 1 ? value_new(m, x->dtype, x->rank, x->size, NULL) : NULL);
    for (int i = 1; i < 3; i++) {
        struct value *w = V(3 + i);
        out_add(m, f, f->want >> i & 1 && w ? value_new(m, w->dtype, w->rank, w->size, NULL) : NULL);
    }
}

/* native_layer_norm_backward(grad, input, mean, rstd, weight, bias) */
void
run_layer_norm_backward(struct machine *m, struct frame *f)
{
    norm_gradients(m, f);
    const struct value *w = f->out[1] ? f->out[1] : f->out[2];
    const int64_t columns = w ? value_elements(w) : 0;
    if (columns)
        norm_workspace(m, value_elements(V(1)) / columns, columns, !!f->out[1] + !!f->out[2],
                       dtypes[w->dtype].bits / 8);
}

/* Pixels of a channel. */
static int64_t
pixels(const struct value *x)
{
    return sizes_product(x->rank - 2, x->size + 2);
}

/* A number in fp32 for each channel of each sample. */
static struct value *
channels(struct machine *m, const struct value *x)
{
    return value_new(m, DT_FLOAT, 2, (int64_t[]){x->size[0], x->size[1]}, NULL);
}

/* native_group_norm(input, weight, bias, N, C, HxW, group, eps); then what each channel is multiplied with, and what is
 * added. Source: GroupNormKernelImplInternal in cuda/group_norm_kernel.cu. */
void
run_group_norm(struct machine *m, struct frame *f)
{
    struct value *x = V(0);
    int64_t stat[] = {arg_int(f, 3, x->size[0]), arg_int(f, 6, 1)};
    out_add(m, f, layout_like(m, x, x->dtype));
    for (int i = 0; i < 2; i++)
        out_add(m, f, value_new(m, x->dtype, 2, stat, NULL));
    int mark = scope_begin(m);
    for (int i = 0; i < 2 && m->real && (V(1) || V(2)) && pixels(x) > 1; i++)
        channels(m, x);
    scope_end(m, mark, 0, NULL);
}

/* native_group_norm_backward(grad, input, mean, rstd, weight, bias); sums over channels, then coefficients of the
 * input's gradient. Source: GroupNormBackwardKernelImplInternal in cuda/group_norm_kernel.cu. */
void
run_group_norm_backward(struct machine *m, struct frame *f)
{
    const struct value *x = V(1), *mean = V(2);
    norm_gradients(m, f);
    if (!m->real)
        return;
    int mark = scope_begin(m);
    for (int i = 0; i < 2; i++)
        channels(m, x);
    for (int i = 0; i < 2 && f->want & 1; i++)
        value_new(m, DT_FLOAT, mean->rank, mean->size, NULL);
    if (f->want & 1 && V(4) && pixels(x) > 1)
        channels(m, x);
    scope_end(m, mark, 0, NULL);
}

/* _fused_rms_norm(input, normalized_shape, weight, eps) */
void
run_rms_norm(struct machine *m, struct frame *f)
{
    norm_rows(m, f, 1);
}

/* ---- attention --------------------------------------------------------------------------------------------------- */

static void
attention_flops(struct machine *m, const struct value *q, const struct value *k, const struct value *v)
{
    m->flops += 2.0 * (double)q->size[0] * (double)q->size[1] * (double)q->size[2] * (double)k->size[2] *
                (double)(q->size[3] + v->size[3]);
}

/* The output lies as [B, S, H, D]; log-sum-exp rows are padded to 32. Source: mem_eff attention in
 * aten/src/ATen/native/transformers/cuda/attention.cu; meta__scaled_dot_product_efficient_attention. */
void
run_efficient_attention(struct machine *m, struct frame *f)
{
    struct value *q = V(0), *k = V(1), *v = V(2);
    int64_t size[] = {q->size[0], q->size[1], q->size[2], v->size[3]};
    int64_t stride[] = {size[2] * size[1] * size[3], size[3], size[1] * size[3], 1};
    int64_t lse[] = {size[0], size[1], arg_int(f, 4, 0) ? (size[2] + 31) / 32 * 32 : 0};
    out_add(m, f, value_new(m, q->dtype, 4, size, stride));
    out_add(m, f, value_new(m, DT_FLOAT, 3, lse, NULL));
    for (int i = 0; i < 2; i++) /* philox seed and offset: on the CPU, but of fake tensors */
        out_add(m, f, m->real ? NULL : value_new(m, DT_INT64, 0, NULL, NULL));
    attention_flops(m, q, k, v);
}

enum {
    FLASH_2 = 202,   /* the version from which FlashAttention 2 runs, which keeps the order of strides */
    RNG_PACKED = 207 /* and that from which flash attention keeps seed and offset in one tensor */
};

/* As a tensor, which before FlashAttention 2 lies as [B, S, H, D] whatever its strides. */
static struct value *
flash_like(struct machine *m, const struct value *v)
{
    const int64_t stride[] = {v->size[1] * v->size[2] * v->size[3], v->size[3], v->size[1] * v->size[3], 1};
    return m->torch < FLASH_2 ? value_new(m, v->dtype, 4, v->size, stride) : layout_like(m, v, v->dtype);
}

/* Operands of the first FlashAttention are rows of all sequences, copied where these lie apart. */
static void
flash_rows(struct machine *m, const struct value *v)
{
    if (v->stride[0] != v->stride[2] * v->size[2])
        value_new(m, v->dtype, 4, v->size, NULL);
}

/* It goes over keys in blocks, and then adds up in fp32. Source: mha_fwd and mha_bwd in transformers/cuda/flash_attn/
 * fmha_api.cpp of 2.1. */
static void
flash_sums(struct machine *m, const struct value *q, const struct value *k)
{
    const int64_t block = q->size[3] > 64 ? 128 : 256;
    if (k->size[2] > block)
        value_new(m, DT_FLOAT, 4, q->size, NULL);
}

/* The output takes the query's order of strides ([B, S, H, D] views transposed); before FlashAttention 2 rows of
 * log-sum-exp are padded to 16. Source: meta__scaled_dot_product_flash_attention, in 2.1 meta__scaled_dot_product_flash
 * of torch/_meta_registrations.py. */
void
run_flash_attention(struct machine *m, struct frame *f)
{
    struct value *q = V(0), *k = V(1), *v = V(2);
    int64_t rows = m->torch < FLASH_2 ? div_up(q->size[2], 16) * 16 : q->size[2];
    int64_t lse[] = {q->size[0], q->size[1], rows}, two = 2;
    int mark = scope_begin(m);
    for (int i = 0; i < 3 && m->torch < FLASH_2; i++)
        flash_rows(m, V(i));
    out_add(m, f, flash_like(m, q));
    if (m->torch < FLASH_2)
        flash_sums(m, q, k);
    scope_end(m, mark, 1, f->out);
    out_add(m, f, value_new(m, DT_FLOAT, 3, lse, NULL));
    bool packed = m->torch >= RNG_PACKED;
    out_add(m, f, packed ? value_new(m, DT_UINT64, 1, &two, NULL) : value_new(m, DT_INT64, 0, NULL, NULL));
    out_add(m, f, value_new(m, packed ? DT_UINT64 : DT_INT64, 0, NULL, NULL)); /* offset; now unused */
    attention_flops(m, q, k, v);
}

/* A copy of what does not lie as [B, S, H, D]. */
static void
copy_heads(struct machine *m, const struct value *v)
{
    int64_t size[] = {v->size[0], v->size[2], v->size[1], v->size[3]};
    int64_t stride[] = {v->stride[0], v->stride[2], v->stride[1], v->stride[3]};
    if (!value_contiguous(&(struct value){.rank = 4, .size = size, .stride = stride}))
        value_new(m, v->dtype, v->rank, v->size, NULL);
}

/* What the backward kernel takes: delta, in fp32 summed from products and turned, and a dQ accumulator of 64 x 64
 * tiles. Source: kernel_backward.h in transformers/cuda/mem_eff_attention, workspace_elements_gq. */
static void
efficient_backward_scratch(struct machine *m, const struct value *q, const struct value *v)
{
    int64_t heads = q->size[0] * q->size[1], s = q->size[2], d = q->size[3] > v->size[3] ? q->size[3] : v->size[3];
    bool half = q->dtype != DT_FLOAT;
    int64_t rows = half && d > 64 ? 128 : d > 64 ? 128 : 64, cols = half && d > 64 && d <= 128 ? 128 : 64;
    if (!m->real)
        return;
    int mark = scope_begin(m);
    int64_t delta[] = {heads, s}, products[] = {heads, s, v->size[3]};
    bool turned = !half && q->size[1] > 1 && s > 1;
    m->fresh = CLASS_WORKSPACE;
    int summed = scope_begin(m);
    if (!half)
        value_new(m, DT_FLOAT, 3, products, NULL);
    if (turned)
        value_new(m, DT_FLOAT, 2, delta, NULL);
    struct value *sums = value_new(m, DT_FLOAT, 2, delta, NULL);
    scope_end(m, summed, 1, &sums);
    scratch(m, heads * 4 * ((div_up(s, rows) * div_up(d, cols) * (4 + rows * cols) + 3) / 4 * 4));
    m->fresh = CLASS_TEMPORARIES;
    scope_end(m, mark, 0, NULL);
}

/* Rows of a multiple of 16, of which the gradient is a part. */
static struct value *
bias_gradient(struct machine *m, const struct value *bias)
{
    int64_t size[] = {bias->size[0], bias->size[1], bias->size[2], div_up(bias->size[3], 16) * 16};
    struct value *all = value_new(m, bias->dtype, 4, size, NULL);
    if (all->st->rank > 3)
        all->st->size[3] = bias->size[3];
    return value_view(m, all, 4, bias->size, all->stride);
}

/* dQ, dK, dV lie as [B, S, H, D]; dBias when it needs one. Source:
 * meta__scaled_dot_product_efficient_attention_backward. */
void
run_efficient_attention_backward(struct machine *m, struct frame *f)
{
    int mark = scope_begin(m);
    if (m->real)
        copy_heads(m, V(0));
    for (int i = 0; i < 3; i++) {
        struct value *v = V(1 + i);
        int64_t stride[] = {v->size[1] * v->size[2] * v->size[3], v->size[3], v->size[1] * v->size[3], 1};
        out_add(m, f, value_new(m, v->dtype, 4, v->size, stride));
    }
    out_add(m, f, V(4) && f->want >> 3 & 1 ? bias_gradient(m, V(4)) : NULL);
    efficient_backward_scratch(m, V(1), V(3));
    scope_end(m, mark, f->nout, f->out);
}

/* Layouts follow the operands; seed and offset are on the device. Source: cudnn/MHA.cpp. */
void
run_cudnn_attention(struct machine *m, struct frame *f)
{
    struct value *q = V(0), *k = V(1), *v = V(2);
    int64_t lse[] = {q->size[0], q->size[1], q->size[2], 1};
    out_add(m, f, layout_like(m, q, q->dtype));
    out_add(m, f, value_new(m, DT_FLOAT, 4, lse, NULL));
    out_add(m, f, value_new(m, DT_INT64, 0, NULL, NULL));
    out_add(m, f, value_new(m, DT_INT64, 0, NULL, NULL));
    attention_flops(m, q, k, v);
}

/* The fp32 dQ accumulator and the row sums of the open front end; where heads share keys and values, the gradients of
 * these for each head. An H200 took so much, and up to 512 bytes more (sweeps.jsonl of tests/oracle/h200.tar.xz). */
void
run_cudnn_attention_backward(struct machine *m, struct frame *f)
{
    struct value *q = V(1), *k = V(2), *v = V(3);
    for (int i = 1; i < 4; i++)
        out_add(m, f, layout_like(m, V(i), V(i)->dtype));
    int64_t bytes = q->size[0] * q->size[1] * q->size[2] * (4 * q->size[3] + 4);
    if (k->size[1] < q->size[1])
        bytes += q->size[0] * q->size[1] * k->size[2] * (k->size[3] + v->size[3]) * (dtypes[k->dtype].bits / 8);
    scratch(m, bytes);
}

/* dQ, dK, dV in their operands' layout; besides the sums of dO * O and a dQ in fp32, in whole blocks. Source:
 * _flash_attention_backward in transformers/cuda/attention_backward.cu, mha_bwd in flash_attn/flash_api.cpp. */
void
run_flash_attention_backward(struct machine *m, struct frame *f)
{
    struct value *q = V(1);
    const bool first = m->torch < FLASH_2;
    int mark = scope_begin(m);
    for (int i = 0; i < 4 && first; i++)
        flash_rows(m, V(i));
    if (m->real && !first) {
        copy_heads(m, V(0));
        copy_heads(m, V(5));
    }
    for (int i = 1; i < 4; i++)
        out_add(m, f, flash_like(m, V(i)));
    for (int i = 2; i < 4 && m->real && V(i)->size[1] < q->size[1]; i++) { /* gradients for each head that shares it */
        int64_t each[] = {q->size[0], V(i)->size[2], q->size[1], V(i)->size[3]};
        value_new(m, V(i)->dtype, 4, each, NULL);
    }
    if (m->real && first) {
        int64_t sums[] = {q->size[0], q->size[1], div_up(q->size[2], 16) * 16};
        m->fresh = CLASS_WORKSPACE;
        value_new(m, DT_FLOAT, 3, sums, NULL);
        flash_sums(m, q, V(2));
        m->fresh = CLASS_TEMPORARIES;
    } else if (m->real) {
        int64_t rows = div_up(q->size[2], 128) * 128, head = q->size[3] <= 192 ? div_up(q->size[3], 32) * 32 : 256;
        int64_t sums[] = {q->size[0], q->size[1], rows}, wide[] = {q->size[0], rows, q->size[1], head};
        m->fresh = CLASS_WORKSPACE;
        value_new(m, DT_FLOAT, 3, sums, NULL);
        value_new(m, DT_FLOAT, 4, wide, NULL);
        m->fresh = CLASS_TEMPORARIES;
    }
    scope_end(m, mark, f->nout, f->out);
}
