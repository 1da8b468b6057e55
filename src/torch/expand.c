/* SPDX-License-Identifier: Apache-2.0 */
/* expand.c - composites: what one framework call runs when it runs other operators.
 *
 * Each function reads like the C++ it follows (aten/src/ATen/native, named at each). Which copies are made is decided
 * here, by strides: reshape views or copies, matmul folds or batches, attention picks a kernel. Autograd is not seen
 * here: the operators called record themselves.
 *
 * In eager PyTorch several of these run in place what fake tensors and dispatch modes run out of place;
 * setup.accumulate_eager tells the two apart (--assume accumulate): machine.real.
 */
#include "base/setup.h"
#include "torch/run.h"

#include <assert.h>
#include <ctype.h>
#include <math.h>
#include <string.h>

/* ---- the tensor itself, copies and casts ------------------------------------------------------------------------- */

void
expand_same(struct machine *m, struct frame *f)
{
    out_add(m, f, V(0));
}

void
expand_detach(struct machine *m, struct frame *f)
{
    out_add(m, f, value_view(m, V(0), V(0)->rank, V(0)->size, V(0)->stride));
}

static bool
is_in_order(const struct value *v, enum order order)
{
    return order == ORDER_PRESERVED || (order == ORDER_CONTIGUOUS ? value_contiguous(v) : value_channels_last(v));
}

void
expand_contiguous(struct machine *m, struct frame *f)
{
    enum order order = arg_order(f) == ORDER_CHANNELS_LAST ? ORDER_CHANNELS_LAST : ORDER_CONTIGUOUS;
    struct arg copy[] = {f->a[0], order == ORDER_CONTIGUOUS ? BOOL(true) : f->a[1]};
    struct value *v = V(0);
    out_add(m, f, is_in_order(v, order) ? v : dispatch(m, aten_find("clone.default"), COUNT(copy), copy, f)->out[0]);
}

static struct value *
to(struct machine *m, struct value *v, enum dtype t)
{
    return v->dtype == t || t == DT_UNDEFINED ? v : OP(m, "_to_copy.default", VAL(v), DTYPE(t));
}

/* Source: to_will_alias in aten/src/ATen/native/TensorConversions.cpp. */
void
expand_to(struct machine *m, struct frame *f)
{
    struct value *v = V(0);
    enum dtype t = arg_dtype(f, v->dtype);
    if (t == v->dtype && !arg_int(f, aten_arg(f->op, "copy"), 0) && is_in_order(v, arg_order(f))) {
        out_add(m, f, v);
        return;
    }
    int format = aten_arg(f->op, "memory_format");
    out_add(m, f, OP(m, "_to_copy.default", VAL(v), DTYPE(t), format < f->n ? f->a[format] : NONE));
}

void
expand_to_like(struct machine *m, struct frame *f)
{
    struct value *v = V(0);
    if (dtype_is_complex(v->dtype) && !dtype_is_complex(V(1)->dtype))
        v = OP(m, "real.default", VAL(v));
    out_add(m, f, to(m, v, V(1)->dtype));
}

/* ---- views that may have to copy --------------------------------------------------------------------------------- */

/* Source: reshape_symint in TensorShape.cpp: a view, or clone and _unsafe_view. */
static struct value *
reshape(struct machine *m, struct value *v, int rank, const int64_t *size)
{
    int64_t stride[RANK];
    const struct arg self = VAL(v);
    bool views = layout_view(v, rank, size, stride), open = false;
    for (int i = 0; i < rank; i++)
        open |= size[i] < 0;
    if (views && !open)
        return op_like(m, "view.default", 1, &self,
                       &(struct frame){.rank = rank, .size = size, .stride = stride, .want = ~0u});
    if (views)
        return OP(m, "view.default", self, ints_arg(m, rank, size));
    return OP(m, "_unsafe_view.default", VAL(OP(m, "clone.default", VAL(v), BOOL(true))), ints_arg(m, rank, size));
}

void
expand_reshape(struct machine *m, struct frame *f)
{
    int64_t size[RANK];
    struct value *v = V(0);
    int rank = layout_stated(f, 1, size);
    bool same = rank == v->rank && strncmp(f->op->name, "flatten", 7) == 0;
    out_add(m, f, same ? v : reshape(m, v, rank, size)); /* flatten of what is flat returns its input */
}

void
expand_reshape_as(struct machine *m, struct frame *f)
{
    out_add(m, f, reshape(m, V(0), V(1)->rank, V(1)->size)); /* of the same sizes it is a view, too */
}

/* Of a scalar it is a sum even where nothing is summed: sum_to in ExpandUtils.h. */
void
expand_sum_to_like(struct machine *m, struct frame *f)
{
    out_add(m, f,
            V(1)->rank ? OP(m, "sum_to_size", VAL(V(0)), ints_arg(m, V(1)->rank, V(1)->size))
                       : OP(m, "sum.default", VAL(V(0))));
}

void
expand_narrow(struct machine *m, struct frame *f)
{
    int64_t start = arg_int(f, 2, 0);
    start += start < 0 ? V(0)->size[layout_dim(arg_int(f, 1, 0), V(0)->rank)] : 0;
    out_add(m, f, OP(m, "slice.Tensor", VAL(V(0)), f->a[1], INT(start), INT(start + arg_int(f, 3, 0)), INT(1)));
}

void
expand_chunk(struct machine *m, struct frame *f)
{
    int64_t d = arg_int(f, 2, 0), n = arg_int(f, 1, 1);
    int64_t len = V(0)->rank ? V(0)->size[layout_dim(d, V(0)->rank)] : 1;
    struct arg a[] = {VAL(V(0)), INT(n > 0 ? (len + n - 1) / n : len), INT(d)};
    struct frame *s = dispatch(m, aten_find("split.Tensor"), COUNT(a), a, NULL);
    for (int i = 0; i < s->nout; i++)
        out_add(m, f, s->out[i]);
}

/* Each of a list with as many dimensions as the name says at least. Source: atleast_1d and the next two in
 * TensorTransformations.cpp. */
void
expand_atleast(struct machine *m, struct frame *f)
{
    int least = f->op->name[strlen("atleast_")] - '0';
    for (int i = 0; i < f->a[0].n; i++) {
        struct value *v = f->a[0].list[i].v;
        if (!v->rank && least > 0)
            v = OP(m, "unsqueeze.default", VAL(v), INT(0));
        if (v->rank == 1 && least > 1)
            v = OP(m, "unsqueeze.default", VAL(v), INT(0));
        if (v->rank == 2 && least > 2)
            v = OP(m, "unsqueeze.default", VAL(v), INT(2));
        out_add(m, f, v);
    }
}

/* Of what it is called with as the file has it: its result has its sizes. */
void
expand_channel_shuffle(struct machine *m, struct frame *f)
{
    struct value *x = f->rank < 0 ? V(0) : reshape(m, V(0), f->rank, f->size);
    out_add(m, f, OP(m, "channel_shuffle_of", VAL(x), VAL(x)));
}

/* unfold and other views whose sizes only the file states. */
void
expand_stated(struct machine *m, struct frame *f)
{
    out_add(m, f, f->rank >= 0 ? value_view(m, V(0), f->rank, f->size, NULL) : V(0));
}

/* Source: repeat_interleave in Repeat.cpp; without a dimension of the flat tensor. */
static struct value *
repeat_interleave(struct machine *m, struct value *v, int64_t times, int dim)
{
    int64_t size[RANK];
    struct value *w = OP(m, "unsqueeze.default", VAL(v), INT(dim + 1));
    memcpy(size, w->size, sizeof(*size) * (size_t)w->rank);
    size[dim + 1] = times;
    w = OP(m, "expand.default", VAL(w), ints_arg(m, w->rank, size));
    w = OP(m, "clone.default", VAL(w), BOOL(true));
    memcpy(size, v->size, sizeof(*size) * (size_t)v->rank);
    size[dim] *= times;
    return OP(m, "view.default", VAL(w), ints_arg(m, v->rank, size));
}

void
expand_repeat_interleave(struct machine *m, struct frame *f)
{
    bool flat = f->n < 3 || f->a[2].kind == ARG_NONE;
    struct value *v = flat ? reshape(m, V(0), 1, (int64_t[]){value_elements(V(0))}) : V(0);
    out_add(m, f, repeat_interleave(m, v, arg_int(f, 1, 1), layout_dim(arg_int(f, 2, 0), v->rank)));
}

/* The exporter's keepdim: the named dimensions keep their place among ones, then the ones grow. */
void
expand_broadcast_in_dim(struct machine *m, struct frame *f)
{
    int64_t size[RANK], dims[RANK];
    struct value *v = V(0);
    int n = arg_ints(f, 2, dims, RANK);
    for (int i = 0; i < f->rank; i++)
        size[i] = 1;
    for (int i = 0; i < n && i < v->rank; i++)
        if (dims[i] >= 0 && dims[i] < f->rank)
            size[dims[i]] = v->size[i];
    if (f->rank < 0)
        return;
    v = OP(m, "reshape.default", VAL(v), ints_arg(m, f->rank, size));
    out_add(m, f, OP(m, "expand.default", VAL(v), ints_arg(m, f->rank, f->size)));
}

/* Another name of the row that the source names. */
void
expand_alias(struct machine *m, struct frame *f)
{
    struct frame *s = dispatch(m, aten_find(f->op->source), f->n, f->a, f);
    for (int i = 0; i < s->nout; i++)
        out_add(m, f, s->out[i]);
}

/* Source: diagflat in aten/src/ATen/native/TensorShape.cpp. */
void
expand_diagflat(struct machine *m, struct frame *f)
{
    struct value *v = OP(m, "contiguous.default", VAL(V(0)));
    int64_t n = value_elements(v);
    const struct arg a = VAL(OP(m, "view.default", VAL(v), ints_arg(m, 1, &n)));
    out_add(m, f, dispatch(m, aten_find("diag_embed.default"), 1, &a, f)->out[0]);
}

/* The one index of a list is that of dimension n, after n that are left out. Source: index_add and index_copy in
 * torch/_decomp. */
void
expand_indexed(struct machine *m, struct frame *f)
{
    const struct arg *l = &f->a[1];
    int dim = 0;
    while (l->kind == ARG_LIST && dim < l->n - 1 && l->list[dim].kind != ARG_VALUE)
        dim++;
    struct arg a[] = {f->a[0], INT(dim), l->kind == ARG_LIST && l->n ? l->list[dim] : NONE, f->a[2],
                      f->n > 4 ? f->a[4] : NONE};
    struct frame *s = dispatch(m, aten_find(f->op->source), f->n > 4 ? COUNT(a) : COUNT(a) - 1, a, f);
    out_add(m, f, s->nout ? s->out[0] : NULL);
}

/* ---- choice, padding, reductions --------------------------------------------------------------------------------- */

static struct value *
scalar_as_tensor(struct machine *m, const struct arg *a, enum dtype t)
{
    return a->kind == ARG_VALUE ? a->v : OP(m, "scalar_tensor.default", *a, DTYPE(t));
}

void
expand_where(struct machine *m, struct frame *f)
{
    enum dtype t = V(1) ? V(1)->dtype : V(2) ? V(2)->dtype : DT_FLOAT;
    struct value *a = scalar_as_tensor(m, &f->a[1], t), *b = scalar_as_tensor(m, &f->a[2], t);
    out_add(m, f, OP(m, "where.self", VAL(V(0)), VAL(a), VAL(b)));
}

void
expand_where_backward(struct machine *m, struct frame *f)
{
    struct value *zero = OP(m, "scalar_tensor.default", FLT(0), DTYPE(V(1)->dtype));
    out_add(m, f, OP(m, "where.self", VAL(V(0)), VAL(V(1)), VAL(zero)));
}

void
expand_unpad(struct machine *m, struct frame *f)
{
    struct value *like = V(1);
    struct arg a[] = {VAL(V(0)), NONE};
    out_add(
        m, f,
        dispatch(m, aten_find("constant_pad_nd.default"), 2, a, &(struct frame){.rank = like->rank, .size = like->size})
            ->out[0]);
}

struct value *
range_of(struct machine *m, struct value *v, int dim, int64_t from, int64_t size)
{
    return OP(m, "slice.Tensor", VAL(v), INT(dim), INT(from), INT(from + size), INT(1));
}

/* The tensor behind a copy into a part of it. */
static struct value *
overwrite(struct machine *m, struct value *base, const int64_t *size, struct value *src)
{
    struct value *view = value_view(m, base, base->rank, size, NULL);
    view->requires_grad |= base->requires_grad;
    return value_rebase(m, base, OP(m, "copy_", VAL(view), VAL(src)));
}

/* Source: _pad_circular_symint in PadNd.cpp: the middle is copied, then the sides, of the last dimension first. */
static struct value *
pad_circular(struct machine *m, struct value *x, const int64_t *pads, int n)
{
    int64_t all[RANK], size[RANK], left[RANK] = {0}, right[RANK] = {0};
    struct value *from = x;
    memcpy(all, x->size, sizeof(*all) * (size_t)x->rank);
    memcpy(size, x->size, sizeof(*size) * (size_t)x->rank);
    int last = x->rank - 1, first = x->rank - (n / 2 < x->rank ? n / 2 : x->rank);
    for (int dim = last; dim >= first; dim--) { /* once around at most */
        int64_t most = x->size[dim], l = pads[2 * (last - dim)], r = pads[2 * (last - dim) + 1];
        left[dim] = l > most || l < -most ? 0 : l;
        right[dim] = r > most || r < -most - (left[dim] < 0 ? left[dim] : 0) ? 0 : r;
        all[dim] += left[dim] + right[dim];
    }
    struct value *out = OP(m, "new_empty.default", VAL(x), ints_arg(m, x->rank, all));
    for (int dim = last; dim >= first; dim--) {
        int64_t cut = left[dim] < 0 ? -left[dim] : 0, more = right[dim] < 0 ? -right[dim] : 0;
        size[dim] = x->size[dim] - cut - more;
        from = range_of(m, from, dim, cut, size[dim]);
    }
    out = overwrite(m, out, size, from);
    for (int dim = last; dim >= first; dim--) {
        int64_t l = left[dim] > 0 ? left[dim] : 0, r = right[dim] > 0 ? right[dim] : 0;
        memcpy(size, all, sizeof(*size) * (size_t)x->rank);
        if ((size[dim] = l))
            out = overwrite(m, out, size, range_of(m, out, dim, all[dim] - l - r, l));
        if ((size[dim] = r))
            out = overwrite(m, out, size, range_of(m, out, dim, l, r));
    }
    return out;
}

void
expand_pad(struct machine *m, struct frame *f)
{
    static const char *const rows[][3] = {
        {"reflection_pad1d.default", "reflection_pad2d.default", "reflection_pad3d.default"},
        {"replication_pad1d.default", "replication_pad2d.default", "replication_pad3d.default"}};
    const char *mode = f->n > 2 && f->a[2].kind == ARG_TEXT ? f->a[2].s : "constant", *row = "constant_pad_nd.default";
    int64_t pads[RANK];
    int n = arg_ints(f, 1, pads, RANK);
    if (strcmp(mode, "circular") == 0) {
        out_add(m, f, pad_circular(m, V(0), pads, n));
        return;
    }
    if (strcmp(mode, "constant") != 0)
        row = rows[strcmp(mode, "replicate") == 0][n > 4 ? 2 : n > 2];
    struct arg a[] = {VAL(V(0)), f->a[1]};
    out_add(m, f, dispatch(m, aten_find(row), 2, a, f)->out[0]);
}

void
expand_reduce_all(struct machine *m, struct frame *f)
{
    out_add(m, f, value_new(m, arg_dtype(f, V(0)->dtype), 0, NULL, NULL));
}

/* var and std: (self, dim, correction, keepdim) */
void
expand_var(struct machine *m, struct frame *f)
{
    struct value *v = V(0);
    int64_t dims[RANK], size[RANK];
    int n = arg_ints(f, 1, dims, RANK), rank = 0;
    for (int i = 0; i < v->rank; i++) {
        bool gone = n == 0;
        for (int k = 0; k < n; k++)
            gone |= layout_dim(dims[k], v->rank) == i;
        if (!gone || arg_int(f, 3, 0))
            size[rank++] = gone ? 1 : v->size[i];
    }
    out_add(m, f, value_new(m, v->dtype, rank, size, NULL));
}

/* The operand is cast, then made contiguous. Source: impl_func_cum_ops in ReduceOps.cpp, cumsum_cuda_kernel and its kin
 * in cuda/ScanKernels.cpp. */
void
expand_cumsum(struct machine *m, struct frame *f)
{
    struct value *v = V(0), *out;
    enum dtype t = arg_dtype(f, dtypes[v->dtype].is_float ? v->dtype : DT_INT64);
    out_add(m, f, out = value_new(m, t, v->rank, v->size, NULL));
    int mark = scope_begin(m);
    if (m->real && v->dtype != t)
        v = layout_like(m, v, t);
    if (m->real && !value_contiguous(v))
        value_new(m, t, v->rank, v->size, NULL);
    if (v->rank)
        scan_workspace(m, out, layout_dim(arg_int(f, 1, 0), v->rank));
    scope_end(m, mark, 0, NULL);
}

/* x[a:b] = number: sizes are the part's. */
void
expand_fill_part(struct machine *m, struct frame *f)
{
    struct value *base = V(0), *view = f->rank < 0 ? base : value_view(m, base, f->rank, f->size, NULL);
    struct arg a[] = {VAL(view), FLT(0)};
    view->requires_grad |= base->requires_grad;
    out_add(m, f, op_over(m, "fill.Scalar", COUNT(a), a, true));
}

/* x[a:b] = y as the exporter writes it, without side effects: eager writes into x. What was detached before it was
 * written is no part of x's history. */
void
expand_write(struct machine *m, struct frame *f)
{
    struct value *base = V(0), *part = V(1);
    if (!m->grad_mode || (part->st == base->st && base->requires_grad && !part->requires_grad)) {
        out_add(m, f, base);
        return;
    }
    if (!value_written(base, part)) {
        struct value *view = value_elements(part) == value_elements(base) /* x[:] is x */
                                 ? base
                                 : value_view(m, base, part->rank, part->size, NULL);
        view->requires_grad |= base->requires_grad;
        part = OP(m, "copy_", VAL(view), VAL(part));
    }
    out_add(m, f, value_rebase(m, base, part));
}

void
expand_view_as(struct machine *m, struct frame *f)
{
    out_add(m, f, OP(m, "view.default", VAL(V(0)), ints_arg(m, V(1)->rank, V(1)->size)));
}

void
expand_expand_as(struct machine *m, struct frame *f)
{
    out_add(m, f, OP(m, "expand.default", VAL(V(0)), ints_arg(m, V(1)->rank, V(1)->size)));
}

/* Source: bilinear in Linear.cpp: of flattened inputs. */
void
expand_bilinear(struct machine *m, struct frame *f)
{
    struct value *in[2] = {V(0), V(1)}, *w = V(2);
    int64_t size[RANK], rows = 1;
    assert(in[0] && in[1] && w); /* aten_takes */
    for (int i = 0; i < V(0)->rank - 1; i++)
        rows *= size[i] = V(0)->size[i];
    for (int i = 0; i < 2; i++)
        in[i] = reshape(m, in[i], 2, (int64_t[]){rows, in[i]->size[in[i]->rank - 1]});
    struct value *y = OP(m, "_trilinear.default", VAL(in[0]), VAL(w), VAL(in[1]));
    size[V(0)->rank - 1] = w->size[0];
    y = reshape(m, y, V(0)->rank, size);
    out_add(m, f, V(3) ? OP(m, "add.Tensor", VAL(y), VAL(V(3))) : y);
}

void
expand_argsort(struct machine *m, struct frame *f)
{
    struct arg a[] = {VAL(V(0)), f->n > 1 ? f->a[1] : INT(-1)};
    out_add(m, f, dispatch(m, aten_find("sort.default"), 2, a, NULL)->out[1]);
}

/* cdist(x1, x2, p, compute_mode): products tell distances of more than 25 rows. Source: cdist_impl in
 * aten/src/ATen/native/Distance.cpp. */
void
expand_cdist(struct machine *m, struct frame *f)
{
    enum { ROWS = 25 };
    const struct value *a = V(0), *b = V(1);
    if (arg_float(f, 2, 2) == 2 && (a->size[a->rank - 2] > ROWS || b->size[b->rank - 2] > ROWS))
        out_add(m, f, OP(m, "_euclidean_dist.default", VAL(V(0)), VAL(V(1))));
    else
        out_add(m, f, OP(m, "_cdist_forward.default", VAL(V(0)), VAL(V(1)), f->n > 2 ? f->a[2] : FLT(2)));
}

/* Source: cosine_similarity in Distance.cpp: norms are cloned, and clamped without a gradient. */
void
expand_cosine_similarity(struct machine *m, struct frame *f)
{
    struct arg dim = f->n > 2 && f->a[2].kind != ARG_NONE ? f->a[2] : INT(1), in[] = {VAL(V(0)), VAL(V(1))};
    int64_t size[MAX_RANK];
    int rank = layout_broadcast(in, COUNT(in), size);
    struct value *v[COUNT(in)], *norm[COUNT(in)];
    for (int i = COUNT(in) - 1; i >= 0; i--) { /* C++ evaluates operands from the right */
        bool whole = V(i)->rank == rank && memcmp(V(i)->size, size, sizeof(*size) * (size_t)rank) == 0;
        v[i] = whole ? V(i) : OP(m, "expand.default", in[i], ints_arg(m, rank, size));
    }
    for (int i = 0; i < COUNT(in); i++) {
        int mark = scope_begin(m);
        norm[i] = OP(m, "linalg_vector_norm.default", VAL(v[i]), INT(2), dim, BOOL(true));
        norm[i] = OP(m, "clone.default", VAL(norm[i]));
        scope_end(m, mark, 1, &norm[i]);
    }
    OP(m, "scalar_tensor.default", FLT(0), DTYPE(layout_statistics(norm[0]))); /* eps, in what halves compute in */
    struct value *right = OP(m, "div.Tensor", VAL(v[1]), VAL(norm[1]));
    struct value *left = OP(m, "div.Tensor", VAL(v[0]), VAL(norm[0]));
    out_add(m, f, OP(m, "sum.dim_IntList", VAL(OP(m, "mul.Tensor", VAL(left), VAL(right))), dim, BOOL(false)));
}

/* ---- products ---------------------------------------------------------------------------------------------------- */

/* Source: linear and _flatten_nd_linear in Linear.cpp. */
void
expand_linear(struct machine *m, struct frame *f)
{
    struct value *x = V(0), *w = V(1), *b = V(2), *y;
    struct value *wt = NULL;
    if (m->zero3) {
        out_add(m, f, OP(m, "deepspeed.linear", VAL(x), VAL(w), VAL(b)));
        return;
    }
    if (b && (x->rank == 2 || value_contiguous(x)) && x->rank && w->rank == 2) {
        int64_t size[RANK], rows = 1;
        for (int i = 0; i < x->rank - 1; i++)
            rows *= x->size[i];
        memcpy(size, x->size, sizeof(*size) * (size_t)x->rank);
        size[x->rank - 1] = w->size[0];
        if (x->rank != 2)
            x = reshape(m, x, 2, (int64_t[]){rows, x->size[x->rank - 1]});
        wt = OP(m, "t.default", VAL(w));
        y = OP(m, "addmm.default", VAL(b), VAL(x), VAL(wt));
        if (V(0)->rank != 2)
            y = OP(m, "view.default", VAL(y), ints_arg(m, V(0)->rank, size));
        out_add(m, f, y);
        return;
    }
    wt = OP(m, "t.default", VAL(w));
    y = OP(m, "matmul.default", VAL(x), VAL(wt));
    if (b) {
        struct arg a[] = {VAL(y), VAL(b)};
        y = op_over(m, "add.Tensor", COUNT(a), a, m->real && !under_mode(m)); /* isTensorSubclassLike */
    }
    out_add(m, f, y);
}

/* What DeepSpeed's ZeRO-3 puts into the place of linear: it saves the parameter itself and no view of it, which would
 * hold what the parameter gives back. Source: LinearFunctionForZeroStage3 in deepspeed/runtime/zero/linear.py. */
void
run_linear_of_zero3(struct machine *m, struct frame *f)
{
    struct value *x = V(0), *b = V(2), *wt = OP(m, "t.default", VAL(V(1))), *y;
    if (b && x->rank == 2) {
        out_add(m, f, OP(m, "addmm.default", VAL(b), VAL(x), VAL(wt)));
        return;
    }
    y = OP(m, "matmul.default", VAL(x), VAL(wt));
    if (b) {
        struct arg a[] = {VAL(y), VAL(b)};
        y = op_over(m, "add.Tensor", COUNT(a), a, true);
    }
    out_add(m, f, y);
}

/* v.reshape(-1, v.shape[-1]) */
static struct value *
as_rows(struct machine *m, struct value *v)
{
    int64_t size[] = {1, v->rank ? v->size[v->rank - 1] : 1};
    for (int i = 0; i + 1 < v->rank; i++)
        size[0] *= v->size[i];
    return v->rank > 2 ? reshape(m, v, 2, size) : v;
}

/* Its gradients, all at once: arguments as of the layer, the gradient before them. */
void
run_linear_of_zero3_backward(struct machine *m, struct frame *f)
{
    enum { GRAD, INPUT, WEIGHT, BIAS };
    struct value *g = V(GRAD), *x = V(INPUT), *made[3] = {NULL};
    int64_t dims[RANK];
    if (f->want & 1)
        made[0] = OP(m, "matmul.default", VAL(g), VAL(V(WEIGHT)));
    if (f->want & 2) {
        int mark = scope_begin(m);
        struct value *rows = OP(m, "t.default", VAL(as_rows(m, g)));
        made[1] = OP(m, "matmul.default", VAL(rows), VAL(as_rows(m, x)));
        scope_end(m, mark, 1, &made[1]);
    }
    for (int i = 0; i + 1 < g->rank; i++)
        dims[i] = i;
    if (V(BIAS) && f->want & 4)
        made[2] = OP(m, "sum.dim_IntList", VAL(g), ints_arg(m, g->rank - 1, dims), BOOL(false));
    for (int i = 0; i < COUNT(made); i++)
        out_add(m, f, made[i]);
}

/* ---- tensor parallelism ------------------------------------------------------------------------------------------ */

/* A linear layer cut by columns. Its input becomes a DTensor, whose gradient the ranks add. Source: ColwiseParallel in
 * torch/distributed/tensor/parallel/style.py. */
void
expand_columns(struct machine *m, struct frame *f)
{
    struct value *x = OP(m, "memlint.replicated", VAL(V(0)));
    out_add(m, f, OP(m, "linear.default", VAL(x), VAL(V(1)), VAL(V(2))));
}

/* A rank's result of a linear layer cut by rows, which is to be added to the others'. Every rank adds its part of the
 * bias. Source: RowwiseParallel, likewise; Partial._partition_value in torch/distributed/tensor/placement_types.py. */
static struct value *
part_of_sum(struct machine *m, struct frame *f)
{
    int mark = scope_begin(m);
    struct value *b = V(2), *y;
    m->op = "div.Tensor";
    if (b)
        layout_like(m, b, m->autocast ? m->low : b->dtype);
    y = OP(m, "linear.default", VAL(V(0)), VAL(V(1)), VAL(b));
    scope_end(m, mark, 1, &y);
    return y;
}

void
expand_rows(struct machine *m, struct frame *f)
{
    out_add(m, f, OP(m, "memlint.all_reduce", VAL(part_of_sum(m, f))));
}

/* Source: all_reduce in torch/csrc/distributed/c10d/Functional.cpp: a clone, in place. */
void
run_all_reduce(struct machine *m, struct frame *f)
{
    out_add(m, f, value_new(m, V(0)->dtype, V(0)->rank, V(0)->size, NULL));
    ranks_exchange(m, f->out[0]->st->requested, 2);
}

/* The parts of all ranks along the sequence: gathered one behind another, then put together, unless they lie so.
 * Source: all_gather_tensor in torch/distributed/_functional_collectives.py, _maybe_view_chunk_cat in
 * torch/_utils.py. */
void
run_sequence_gather(struct machine *m, struct frame *f)
{
    const struct value *v = V(0);
    int64_t size[RANK];
    memcpy(size, v->size, sizeof(*size) * (size_t)v->rank);
    size[1] *= m->s->gpus;
    int mark = scope_begin(m);
    struct value *all = value_new(m, v->dtype, v->rank, size, NULL);
    ranks_exchange(m, all->st->requested, 1);
    if (size[0] != 1)
        all = value_new(m, v->dtype, v->rank, size, NULL);
    scope_end(m, mark, 1, &all);
    out_add(m, f, all);
}

static struct value *
part_new(struct machine *m, const struct value *v)
{
    int64_t size[RANK];
    memcpy(size, v->size, sizeof(*size) * (size_t)v->rank);
    size[1] /= m->s->gpus;
    return value_new(m, v->dtype, v->rank, size, NULL);
}

/* Source: Shard._select_split_tensor in torch/distributed/tensor/placement_types.py. */
void
run_sequence_split(struct machine *m, struct frame *f)
{
    out_add(m, f, part_new(m, V(0)));
}

/* The rank's part of the sum. Source: reduce_scatter_tensor in torch/distributed/_functional_collectives.py, which puts
 * the parts one behind another first. */
void
run_reduce_scatter(struct machine *m, struct frame *f)
{
    int mark = scope_begin(m);
    struct value *in_order = value_new(m, V(0)->dtype, V(0)->rank, V(0)->size, NULL), *part = part_new(m, V(0));
    ranks_exchange(m, in_order->st->requested, 1);
    scope_end(m, mark, 1, &part);
    out_add(m, f, part);
}

void
forget_gathered(struct machine *m)
{
    value_drop(m, m->gathered);
    m->gathers = m->gathered = NULL;
}

/* The module's input is gathered once, for all of its layers. Source: PrepareModuleInput in
 * torch/distributed/tensor/parallel/style.py. */
void
expand_columns_of_parts(struct machine *m, struct frame *f)
{
    if (m->gathers != V(0)) {
        forget_gathered(m);
        m->gathers = V(0);
        m->gathered = value_keep(OP(m, "memlint.gather", VAL(V(0))));
    }
    out_add(m, f, OP(m, "linear.default", VAL(m->gathered), VAL(V(1)), VAL(V(2))));
}

void
expand_rows_to_parts(struct machine *m, struct frame *f)
{
    forget_gathered(m);
    out_add(m, f, OP(m, "memlint.reduce_scatter", VAL(part_of_sum(m, f))));
}

/* Source: should_fold in LinearAlgebra.cpp. */
static bool
should_fold(const struct value *a, const struct value *b)
{
    bool first = a->rank >= b->rank;
    const struct value *large = first ? a : b, *small = first ? b : a;
    if (large->rank < 3 || small->rank > 2)
        return false;
    if (small->requires_grad)
        return true;
    if (a->rank == 2)
        return false;
    for (int i = 0; i < large->rank - 2; i++) /* foldable without a copy */
        if (large->stride[i] != large->stride[i + 1] * large->size[i + 1])
            return false;
    return true;
}

static struct value *
batch_of(struct machine *m, struct value *v, int nbatch, const int64_t *batch, int64_t count)
{
    int64_t size[RANK];
    memcpy(size, batch, sizeof(*size) * (size_t)nbatch);
    size[nbatch] = v->size[v->rank - 2];
    size[nbatch + 1] = v->size[v->rank - 1];
    struct value *w = OP(m, "expand.default", VAL(v), ints_arg(m, nbatch + 2, size));
    return reshape(m, w, 3, (int64_t[]){count, size[nbatch], size[nbatch + 1]});
}

/* Source: _matmul_impl in LinearAlgebra.cpp. */
static struct value *
matmul(struct machine *m, struct value *a, struct value *b)
{
    int64_t size[RANK], batch[RANK], count = 1;
    if (a->rank == 1 && b->rank == 1)
        return OP(m, "dot.default", VAL(a), VAL(b));
    if (a->rank == 2 && b->rank == 1)
        return OP(m, "mv.default", VAL(a), VAL(b));
    if (a->rank == 1 && b->rank == 2) {
        struct value *y = OP(m, "mm.default", VAL(OP(m, "unsqueeze.default", VAL(a), INT(0))), VAL(b));
        return OP(m, "squeeze.dim", VAL(y), INT(0));
    }
    if (a->rank == 2 && b->rank == 2)
        return OP(m, "mm.default", VAL(a), VAL(b));
    if (a->rank == 3 && b->rank == 3 && a->size[0] != b->size[0]) { /* folds, too */
        if (a->size[0] == 1 && a->requires_grad)
            return matmul(m, OP(m, "squeeze.dim", VAL(a), INT(0)), b);
        if (b->size[0] == 1 && b->requires_grad)
            return matmul(m, a, OP(m, "squeeze.dim", VAL(b), INT(0)));
    }
    if (should_fold(a, b)) {
        bool flip = b->rank > a->rank;
        struct value *large = flip ? OP(m, "transpose.int", VAL(b), INT(-1), INT(-2)) : a;
        struct value *small = !flip ? b : a->rank == 2 ? OP(m, "t.default", VAL(a)) : a;
        int64_t rows = 1, last = large->size[large->rank - 1];
        int n = large->rank - 1;
        for (int i = 0; i < n; i++)
            rows *= size[i] = large->size[i];
        struct value *folded = reshape(m, large, 2, (int64_t[]){rows, last});
        if (small->rank == 1)
            return OP(m, "_unsafe_view.default", VAL(OP(m, "mv.default", VAL(folded), VAL(small))),
                      ints_arg(m, n, size));
        size[n] = small->size[1];
        struct value *y = OP(m, "mm.default", VAL(folded), VAL(small));
        y = OP(m, "_unsafe_view.default", VAL(y), ints_arg(m, n + 1, size));
        return flip ? OP(m, "contiguous.default", VAL(OP(m, "transpose.int", VAL(y), INT(-1), INT(-2)))) : y;
    }
    bool vec_a = a->rank == 1, vec_b = b->rank == 1;
    struct value *x = vec_a ? OP(m, "unsqueeze.default", VAL(a), INT(0)) : a;
    struct value *y = vec_b ? OP(m, "unsqueeze.default", VAL(b), INT(1)) : b;
    int na = x->rank - 2, nb = y->rank - 2, n = na > nb ? na : nb;
    for (int i = 0; i < n; i++) {
        int64_t p = i - (n - na) >= 0 ? x->size[i - (n - na)] : 1, q = i - (n - nb) >= 0 ? y->size[i - (n - nb)] : 1;
        count *= batch[i] = p == 1 ? q : p;
    }
    struct value *u = batch_of(m, x, n, batch, count), *w = batch_of(m, y, n, batch, count);
    struct value *out = OP(m, "bmm.default", VAL(u), VAL(w));
    int rank = n;
    memcpy(size, batch, sizeof(*size) * (size_t)n);
    if (!vec_a)
        size[rank++] = u->size[1];
    if (!vec_b)
        size[rank++] = w->size[2];
    return OP(m, "_unsafe_view.default", VAL(out), ints_arg(m, rank, size));
}

void
expand_matmul(struct machine *m, struct frame *f)
{
    out_add(m, f, matmul(m, V(0), V(1)));
}

enum { LETTERS = 'z' + 1 };

struct equation {
    int place[LETTERS]; /* of each letter among all dimensions, those of the result first; -1 none */
    int first, dots;    /* place and number of the dimensions that "..." stands for */
    int nout, n;        /* dimensions of the result, all */
};

static bool
operand_ends(char c)
{
    return !c || c == ',' || c == '-';
}

static int
operand_letters(const char *p)
{
    int n = 0;
    for (; !operand_ends(*p); p++)
        n += isalpha((unsigned char)*p) != 0;
    return n;
}

static bool
read_equation(const char *p, const struct arg *operands, int n, struct equation *e)
{
    int count[LETTERS] = {0};
    *e = (struct equation){.first = -1};
    memset(e->place, -1, sizeof(e->place));
    for (int i = 0; i < n; i++) {
        int more = operands[i].kind == ARG_VALUE ? operands[i].v->rank - operand_letters(p) : -1;
        bool open = false;
        for (; !operand_ends(*p); p++) {
            open |= *p == '.';
            if (isalpha((unsigned char)*p))
                count[(unsigned char)*p]++;
        }
        if (more < 0 || (more && !open) || (*p == ',') != (i < n - 1))
            return false;
        e->dots = more > e->dots ? more : e->dots;
        p += *p == ',';
    }
    e->first = *p ? -1 : 0;
    e->nout = *p ? 0 : e->dots;
    for (int c = 'A'; c < LETTERS && !*p; c++)
        if (count[c] == 1)
            e->place[c] = e->nout++;
    for (p += *p ? strlen("->") : 0; *p; p++)
        if (isalpha((unsigned char)*p)) {
            e->place[(unsigned char)*p] = e->nout++;
        } else if (*p == '.' && e->first < 0) {
            e->first = e->nout;
            e->nout += e->dots;
        }
    e->n = e->nout;
    if (e->first < 0) {
        e->first = e->n;
        e->n += e->dots;
    }
    for (int c = 'A'; c < LETTERS; c++)
        if (count[c] && e->place[c] < 0)
            e->place[c] = e->n++;
    return e->n <= MAX_RANK;
}

/* With all dimensions of the equation in their order, 1 where it has none; of a letter that it has twice the
 * diagonal. */
static struct value *
einsum_operand(struct machine *m, const struct equation *e, const char *p, struct value *v)
{
    int64_t from[RANK];
    int at = 0, missing = e->dots - (v->rank - operand_letters(p));
    memset(from, -1, sizeof(from));
    for (; !operand_ends(*p); p++) {
        int64_t *to = isalpha((unsigned char)*p) ? &from[e->place[(unsigned char)*p]] : NULL;
        for (int i = missing; !to && *p == '.' && i < e->dots; i++)
            from[e->first + i] = at++;
        if (!to) {
            p += *p == '.' ? strlen("..") : 0;
        } else if (*to < 0) {
            *to = at++;
        } else {
            v = OP(m, "diagonal.default", VAL(v), INT(0), INT(*to), INT(at));
            int64_t back[RANK];
            for (int i = 0; i < v->rank; i++)
                back[i] = i < *to ? i : i == *to ? v->rank - 1 : i - 1;
            v = OP(m, "permute.default", VAL(v), ints_arg(m, v->rank, back));
        }
    }
    for (int i = 0; i < e->n; i++)
        if (from[i] < 0) {
            v = OP(m, "unsqueeze.default", VAL(v), INT(v->rank));
            from[i] = at++;
        }
    return OP(m, "permute.default", VAL(v), ints_arg(m, e->n, from));
}

/* Source: sumproduct_pair in Linear.cpp, which keeps summed dimensions. Since PyTorch 2.9 the operand whose dimensions
 * come first in the result is the left one: pull request 161755. */
static struct value *
einsum_pair(struct machine *m, struct value *a, struct value *b, const bool *sums)
{
    enum { BOTH, LEFT, SUM, RIGHT, KINDS };
    int64_t dims[KINDS][RANK], of[KINDS] = {1, 1, 1, 1}, size[RANK], left[RANK], right[RANK], back[RANK];
    int count[KINDS] = {0}, rank = a->rank, n = 0, nl = 0, nr = 0, first = rank, last = -1;
    for (int i = 0; i < rank; i++) {
        bool l = a->size[i] != 1, r = b->size[i] != 1;
        first = !sums[i] && l && !r && first == rank ? i : first;
        last = !sums[i] && !l ? i : last;
    }
    if (last >= 0 && first < rank && last < first)
        return einsum_pair(m, b, a, sums);
    for (int i = 0; i < rank; i++) {
        bool l = a->size[i] != 1, r = b->size[i] != 1;
        struct arg one = ints_arg(m, 1, (int64_t[]){i});
        if (sums[i] && l && !r)
            a = OP(m, "sum.dim_IntList", VAL(a), one, BOOL(true));
        if (sums[i] && r && !l)
            b = OP(m, "sum.dim_IntList", VAL(b), one, BOOL(true));
        int kind = sums[i] ? SUM : l && r ? BOTH : l ? LEFT : RIGHT;
        dims[kind][count[kind]++] = i;
        of[kind] *= kind == RIGHT ? b->size[i] : a->size[i];
    }
    static const int in_left[] = {BOTH, LEFT, SUM, RIGHT}, in_right[] = {BOTH, SUM, RIGHT, LEFT};
    for (int k = 0; k < KINDS; k++) {
        for (int i = 0; i < count[in_left[k]]; i++) {
            int64_t d = left[nl++] = dims[in_left[k]][i];
            back[d] = n;
            size[n++] = in_left[k] == SUM ? 1 : in_left[k] == RIGHT ? b->size[d] : a->size[d];
        }
        for (int i = 0; i < count[in_right[k]]; i++)
            right[nr++] = dims[in_right[k]][i];
    }
    a = OP(m, "permute.default", VAL(a), ints_arg(m, rank, left));
    b = OP(m, "permute.default", VAL(b), ints_arg(m, rank, right));
    a = reshape(m, a, 3, (int64_t[]){of[BOTH], of[LEFT], of[SUM]});
    b = reshape(m, b, 3, (int64_t[]){of[BOTH], of[SUM], of[RIGHT]});
    struct value *z = OP(m, "view.default", VAL(OP(m, "bmm.default", VAL(a), VAL(b))), ints_arg(m, rank, size));
    return OP(m, "permute.default", VAL(z), ints_arg(m, rank, back));
}

/* Which two of n operands are next, the first one in front; false: not these. */
static bool
einsum_next(const struct arg *path, int n, int *first, int *second)
{
    *first = (int)(path[0].i < path[1].i ? path[0].i : path[1].i);
    *second = (int)(path[0].i < path[1].i ? path[1].i : path[0].i);
    return *first >= 0 && *first < *second && *second < n;
}

/* Source: einsum in Linear.cpp. Operands from the left, or along a path, which torch/functional.py asks the package
 * opt_einsum for where it is installed: pairs, whose product is the last operand then. */
void
expand_einsum(struct machine *m, struct frame *f)
{
    const char *p = f->a[0].kind == ARG_TEXT ? f->a[0].s : "";
    const struct arg *l = f->n > 1 && f->a[1].kind == ARG_LIST ? &f->a[1] : NULL;
    const struct arg *path =
        l && f->n > 2 && f->a[2].kind == ARG_LIST && f->a[2].n == 2 * l->n - 2 ? f->a[2].list : NULL;
    struct equation e;
    if (!l || !l->n || !read_equation(p, l->list, l->n, &e))
        return;
    struct value **v = arena_alloc(m->a, sizeof(*v) * (size_t)l->n), *z;
    int left[RANK] = {0};
    for (int i = 0; i < l->n; i++) {
        v[i] = einsum_operand(m, &e, p, l->list[i].v);
        p = strchr(p, ',') ? strchr(p, ',') + 1 : p;
        for (int d = 0; d < e.n; d++)
            left[d] += v[i]->size[d] != 1;
    }
    for (int n = l->n, i = 0, k = 1; n > 1; n--) {
        if (path && !einsum_next(path + 2 * (l->n - n), n, &i, &k))
            return;
        struct value *pair[] = {v[i], v[k]};
        bool sums[RANK] = {false}, any = false;
        int64_t alone[2][RANK];
        int nalone[2] = {0};
        for (int d = e.nout; d < e.n; d++) {
            bool a = pair[0]->size[d] != 1, b = pair[1]->size[d] != 1;
            if (a && b)
                any |= sums[d] = --left[d] == 1;
            else if ((a || b) && left[d] == 1)
                alone[b][nalone[b]++] = d;
        }
        for (int b = 0; b < 2; b++)
            if (nalone[b])
                pair[b] = OP(m, "sum.dim_IntList", VAL(pair[b]), ints_arg(m, nalone[b], alone[b]), BOOL(true));
        z = any ? einsum_pair(m, pair[0], pair[1], sums) : OP(m, "mul.Tensor", VAL(pair[0]), VAL(pair[1]));
        memmove(&v[k], &v[k + 1], sizeof(*v) * (size_t)(n - 1 - k));
        memmove(&v[i], &v[i + 1], sizeof(*v) * (size_t)(n - 2 - i));
        if (!path)
            memmove(&v[1], &v[0], sizeof(*v) * (size_t)(n - 2));
        v[path ? n - 2 : 0] = z;
    }
    z = v[0];
    int64_t rest[RANK];
    for (int d = e.nout; d < e.n; d++)
        rest[d - e.nout] = d;
    if (e.n > e.nout && l->n > 1)
        z = OP(m, "view.default", VAL(z), ints_arg(m, e.nout, z->size));
    else if (e.n > e.nout)
        z = OP(m, "sum.dim_IntList", VAL(z), ints_arg(m, e.n - e.nout, rest));
    out_add(m, f, z);
}

/* ---- convolutions, pools ----------------------------------------------------------------------------------------- */

static struct arg
arg_at(const struct frame *f, int i, struct arg otherwise)
{
    return i < f->n && f->a[i].kind != ARG_NONE && f->a[i].kind != ARG_TEXT ? f->a[i] : otherwise;
}

/* Of an input without a batch as of a batch of one. Source: convolution in Convolution.cpp, batchify. */
static void
convolve(struct machine *m, struct frame *f, int n, struct arg *a)
{
    const struct aten *row = aten_find("convolution.default");
    struct frame like = *f;
    int64_t size[RANK] = {1};
    if (V(0)->rank + 1 != V(1)->rank || f->rank >= RANK) {
        out_add(m, f, dispatch(m, row, n, a, f)->out[0]);
        return;
    }
    like.rank = f->rank < 0 ? -1 : f->rank + 1;
    for (int i = 0; i < f->rank; i++)
        size[i + 1] = f->size[i];
    like.size = size;
    a[0] = VAL(OP(m, "unsqueeze.default", a[0], INT(0)));
    out_add(m, f, OP(m, "squeeze.dim", VAL(dispatch(m, row, n, a, &like)->out[0]), INT(0)));
}

/* Of padding="same" the input, padded by what one side has more, and what the convolution pads at both. Source:
 * _convolution_same in Convolution.cpp. */
static struct value *
pad_same(struct machine *m, struct frame *f, int64_t *both)
{
    int n = V(1)->rank - 2;
    bool more = false;
    int64_t dilation[RANK], sides[2 * RANK] = {0};
    int given = arg_ints(f, 5, dilation, RANK);
    for (int k = 0; k < n; k++) {
        int64_t all;
        if (!mul_ok(given > 0 ? dilation[given > k ? k : 0] : 1, V(1)->size[2 + k] - 1, &all) || all > MAX_WINDOW)
            all = 0;
        both[k] = all / 2;
        sides[2 * (n - 1 - k) + 1] = all % 2;
        more |= all % 2;
    }
    return more ? OP(m, "constant_pad_nd.default", VAL(V(0)), ints_arg(m, 2 * n, sides), FLT(0)) : V(0);
}

void
expand_conv(struct machine *m, struct frame *f)
{
    int64_t both[RANK];
    bool same = f->n > 4 && f->a[4].kind == ARG_TEXT && strcmp(f->a[4].s, "same") == 0 && V(1) && V(1)->rank > 2;
    struct value *x = same ? pad_same(m, f, both) : V(0);
    struct arg padding = same ? ints_arg(m, V(1)->rank - 2, both) : arg_at(f, 4, INT(0));
    struct arg a[] = {VAL(x),      VAL(V(1)), VAL(V(2)),           arg_at(f, 3, INT(1)), padding, arg_at(f, 5, INT(1)),
                      BOOL(false), INT(0),    arg_at(f, 6, INT(1))};
    convolve(m, f, COUNT(a), a);
}

void
expand_conv_transpose(struct machine *m, struct frame *f)
{
    struct arg a[] = {VAL(V(0)),
                      VAL(V(1)),
                      VAL(V(2)),
                      arg_at(f, 3, INT(1)),
                      arg_at(f, 4, INT(0)),
                      arg_at(f, 7, INT(1)),
                      BOOL(true),
                      arg_at(f, 5, INT(0)),
                      arg_at(f, 6, INT(1))};
    convolve(m, f, COUNT(a), a);
}

/* As of an image of one row, by the operator that the row's source names. Source: avg_pool1d and max_pool1d in
 * Pooling.cpp. */
void
expand_pool1d(struct machine *m, struct frame *f)
{
    enum { PADDING = 3 };
    struct arg a[MAX_ARGS] = {VAL(OP(m, "unsqueeze.default", VAL(V(0)), INT(-2)))};
    for (int i = 1; i < f->n; i++) {
        int64_t of[RANK];
        bool numbers = f->a[i].kind != ARG_BOOL && arg_ints(f, i, of, RANK) > 0;
        a[i] = numbers ? ints_arg(m, 2, (int64_t[]){i != PADDING, of[0]}) : f->a[i];
    }
    struct value *image = dispatch(m, aten_find(f->op->source), f->n, a, NULL)->out[0];
    out_add(m, f, OP(m, "squeeze.dim", VAL(image), INT(-2)));
}

/* Indices are made whether anybody asked for them or not. */
void
expand_max_pool(struct machine *m, struct frame *f)
{
    bool volume = strncmp(f->op->name, "max_pool3d", 10) == 0;
    const struct aten *row = aten_find(volume ? "max_pool3d_with_indices.default" : "max_pool2d_with_indices.default");
    out_add(m, f, dispatch(m, row, f->n, f->a, f)->out[0]);
}

/* A mean on a line that pools: over the last dimensions in this order, kept, it is the mean of an image's pixels, of
 * channels last again where the image is. Source: adaptive_avg_pool2d_symint in AdaptiveAveragePooling.cpp. */
void
expand_pixel_mean(struct machine *m, struct frame *f)
{
    int64_t dims[RANK];
    bool pixels = arg_ints(f, 1, dims, RANK) == 2 && dims[0] == -1 && dims[1] == -2 && arg_int(f, 2, 0);
    struct value *mean = dispatch(m, aten_find("mean.dim"), f->n, f->a, f)->out[0];
    bool last = pixels && V(0)->rank == 4 && value_channels_last(V(0));
    out_add(m, f, last ? OP(m, "as_strided_.pixel", VAL(mean)) : mean);
}

static struct value *
pixel_mean(struct machine *m, struct value *image)
{
    return OP(m, "mean.pixel", VAL(image), ints_arg(m, 2, (int64_t[]){-1, -2}), BOOL(true));
}

/* To one pixel it is a mean; in one dimension as in two. An image may have no batch. Source: the same, and
 * adaptive_avg_pool1d in Pooling.cpp. */
static void
adaptive_avg_pool(struct machine *m, struct frame *f, int spatial, const char *row)
{
    int64_t want[RANK] = {1};
    int n = arg_ints(f, 1, want, RANK), lead = V(0)->rank - spatial;
    bool one = n > 0 || f->rank == V(0)->rank;
    for (int i = 0; one && i < spatial; i++)
        one = f->rank == V(0)->rank && lead >= 0 ? f->size[i + lead] == 1 : want[i < n ? i : n - 1] == 1;
    if (spatial == 1) {
        const int64_t size[] = {1, f->rank == V(0)->rank ? f->size[lead] : want[0]};
        struct value *image = OP(m, "unsqueeze.default", VAL(V(0)), INT(-2));
        image = one ? pixel_mean(m, image) : OP(m, row, VAL(image), ints_arg(m, COUNT(size), size));
        out_add(m, f, OP(m, "squeeze.dim", VAL(image), INT(-2)));
    } else if (!one) {
        out_add(m, f, dispatch(m, aten_find(row), f->n, f->a, f)->out[0]);
    } else if (spatial == 3) {
        out_add(m, f, OP(m, "mean.dim", VAL(V(0)), ints_arg(m, spatial, (int64_t[]){-1, -2, -3}), BOOL(true)));
    } else {
        out_add(m, f, pixel_mean(m, V(0)));
    }
}

void
expand_adaptive_avg_pool1d(struct machine *m, struct frame *f)
{
    adaptive_avg_pool(m, f, 1, "_adaptive_avg_pool2d.default");
}

void
expand_adaptive_avg_pool2d(struct machine *m, struct frame *f)
{
    adaptive_avg_pool(m, f, 2, "_adaptive_avg_pool2d.default");
}

void
expand_adaptive_avg_pool3d(struct machine *m, struct frame *f)
{
    adaptive_avg_pool(m, f, 3, "_adaptive_avg_pool3d.default");
}

/* Of more dimensions than an image, or of fewer, an image of one row. Source: nll_loss_nd_symint in LossNLL.cpp. */
void
expand_nll_loss(struct machine *m, struct frame *f)
{
    enum { MEAN = 1 };
    struct value *x = V(0), *target = V(1);
    if (x->rank < 3 || x->rank == 4 || !target) {
        const char *row = x->rank == 4 ? "nll_loss2d_forward.default" : "nll_loss_forward.default";
        out_add(m, f, dispatch(m, aten_find(row), f->n, f->a, f)->out[0]);
        return;
    }
    int64_t n = x->size[0], c = x->size[1], each = target->size[0] ? value_elements(target) / target->size[0] : 0;
    struct arg a[MAX_ARGS];
    memcpy(a, f->a, sizeof(*a) * (size_t)f->n);
    x = OP(m, "contiguous.default", VAL(x));
    target = OP(m, "contiguous.default", VAL(target));
    a[0] = VAL(OP(m, "view.default", VAL(x), ints_arg(m, 4, (int64_t[]){n, c, 1, each})));
    a[1] = VAL(OP(m, "view.default", VAL(target), ints_arg(m, 3, (int64_t[]){n, 1, each})));
    struct value *loss = dispatch(m, aten_find("nll_loss2d_forward.default"), f->n, a, f)->out[0];
    bool all = arg_int(f, aten_arg(f->op, "reduction"), MEAN) == 0;
    out_add(m, f, all ? OP(m, "view.default", VAL(loss), ints_arg(m, V(1)->rank, V(1)->size)) : loss);
}

/* The second result, a buffer for the CPU, is empty on a GPU. */
void
expand_log_sigmoid(struct machine *m, struct frame *f)
{
    out_add(m, f, OP(m, "log_sigmoid_forward.default", VAL(V(0))));
}

void
expand_prelu(struct machine *m, struct frame *f)
{
    int64_t size[RANK];
    struct value *x = V(0), *w = V(1);
    for (int i = 0; i < x->rank; i++)
        size[i] = i == 1 ? value_elements(w) : 1;
    struct value *shaped = x->rank != w->rank ? reshape(m, w, x->rank, size) : w;
    out_add(m, f, OP(m, "_prelu_kernel.default", VAL(x), VAL(shaped)));
}

/* Of what is not complex, itself. Source: conj in aten/src/ATen/native/UnaryOps.cpp. */
void
expand_conj(struct machine *m, struct frame *f)
{
    bool complex = V(0) && dtype_is_complex(V(0)->dtype);
    out_add(m, f, complex ? OP(m, "_conj.default", VAL(V(0))) : V(0));
}

void
expand_resolve_conj(struct machine *m, struct frame *f)
{
    out_add(m, f, V(0)->conj ? OP(m, "clone.default", VAL(V(0))) : V(0));
}

/* Source: embedding_bag in aten/src/ATen/native/EmbeddingBag.cpp. */
void
expand_embedding_bag(struct machine *m, struct frame *f)
{
    struct arg *a = args_copy(m->a, f->n, f->a);
    for (int i = 1; i < 3; i++)
        a[i] = VAL(OP(m, "contiguous.default", f->a[i]));
    struct frame *s = dispatch(m, aten_find("_embedding_bag.default"), f->n, a, f);
    for (int i = 0; i < s->nout; i++)
        out_add(m, f, s->out[i]);
}

/* Source: square in aten/src/ATen/native/UnaryOps.cpp. */
void
expand_square(struct machine *m, struct frame *f)
{
    out_add(m, f, OP(m, "pow.Tensor_Scalar", VAL(V(0)), INT(2)));
}

/* (self == self) * (abs(self) != infinity), the right side first. Source: isfinite in
 * aten/src/ATen/native/TensorCompare.cpp. */
void
expand_isfinite(struct machine *m, struct frame *f)
{
    struct value *bounded = OP(m, "ne.Scalar", VAL(OP(m, "abs.default", VAL(V(0)))), INT(0));
    out_add(m, f, OP(m, "mul.Tensor", VAL(OP(m, "eq.Tensor", VAL(V(0)), VAL(V(0)))), VAL(bounded)));
}

/* Source: calc_ndtr in aten/src/ATen/native/UnaryOps.cpp. */
void
expand_ndtr(struct machine *m, struct frame *f)
{
    struct value *e = OP(m, "erf.default", VAL(OP(m, "mul.Scalar", VAL(V(0)), FLT(1))));
    out_add(m, f, OP(m, "mul.Scalar", VAL(OP(m, "add.Scalar", VAL(e), INT(1))), FLT(1)));
}

/* Source: grid_sampler in aten/src/ATen/native/GridSampler.cpp. */
void
expand_grid_sampler(struct machine *m, struct frame *f)
{
    const char *op = V(0)->rank > 4 ? "grid_sampler_3d.default" : "grid_sampler_2d.default";
    out_add(m, f, OP(m, op, VAL(V(0)), VAL(V(1))));
}

/* The points of a grid of that size, with a 1 behind them: make_base_grid_4D and _5D in
 * aten/src/ATen/native/AffineGridGenerator.cpp. A view behind the result may have hidden how the points lie. */
static struct value *
base_grid(struct machine *m, const struct value *theta, int rank, const int64_t *size, bool corners)
{
    const enum dtype t = theta->dtype;
    const bool known = theta->rank == 3 && rank == theta->size[1] + 2;
    int64_t whole[RANK];
    memcpy(whole, size, sizeof(*size) * (size_t)rank);
    whole[rank - 1] = known ? rank - 1 : whole[rank - 1] / 2 * 3;
    struct value *grid = OP(m, "empty.memory_format", ints_arg(m, rank, whole), DTYPE(t));
    for (int i = rank - 2; known && i > 0; i--) {
        int mark = scope_begin(m);
        struct value *at = OP(m, "linspace.default", INT(-1), INT(1), INT(size[i]), DTYPE(t));
        if (!corners)
            OP(m, "div.Scalar", VAL(OP(m, "mul.Scalar", VAL(at), INT(size[i] - 1))), INT(size[i]));
        scope_end(m, mark, 0, NULL);
    }
    return grid;
}

/* Fake tensors make the result alone. Source: affine_grid_generator_4D, as above. */
void
run_affine_grid(struct machine *m, struct frame *f)
{
    struct value *theta = V(0);
    int64_t size[RANK];
    int rank = f->rank > 0 ? f->rank : arg_ints(f, 1, size, RANK);
    if (f->rank > 0)
        memcpy(size, f->size, sizeof(*size) * (size_t)rank);
    else /* N C H W: (N, H, W, 2) */
        for (int i = 1; i < rank; i++)
            size[i] = i + 1 < rank ? size[i + 1] : rank - 2;
    int mark = scope_begin(m);
    if (m->real && rank > 0) {
        base_grid(m, theta, rank, size, arg_int(f, 2, 0) != 0);
        m->op = f->op->name;
    }
    struct value *out = value_new(m, theta->dtype, rank, size, NULL);
    scope_end(m, mark, 1, &out);
    out_add(m, f, out);
}

/* Source: affine_grid_generator_4D_backward, as above. */
void
expand_affine_grid_backward(struct machine *m, struct frame *f)
{
    struct value *g = V(0), *theta = V(1), *grid = base_grid(m, theta, g->rank, g->size, arg_int(f, 2, 0) != 0);
    const int64_t n = theta->size[0], dims = theta->size[1], each = n > 0 && dims > 0 ? n * dims : 1;
    const int64_t flat[] = {n, value_elements(g) / each, dims + 1}, of[] = {n, value_elements(g) / each, dims};
    grid = OP(m, "transpose.int", VAL(OP(m, "view.default", VAL(grid), ints_arg(m, 3, flat))), INT(1), INT(2));
    grid = OP(m, "bmm.default", VAL(grid), VAL(OP(m, "reshape.default", VAL(g), ints_arg(m, 3, of))));
    out_add(m, f, OP(m, "transpose.int", VAL(grid), INT(1), INT(2)));
}

/* Source: isclose in aten/src/ATen/native/TensorCompare.cpp. */
void
expand_isclose(struct machine *m, struct frame *f)
{
    struct value *close = OP(m, "eq.Tensor", VAL(V(0)), VAL(V(1)));
    int mark = scope_begin(m);
    struct value *allowed = OP(m, "abs.default", VAL(OP(m, "mul.Scalar", VAL(V(1)), FLT(1))));
    allowed = OP(m, "add.Scalar", VAL(allowed), FLT(1));
    scope_end(m, mark, 1, &allowed);
    mark = scope_begin(m);
    struct value *actual = OP(m, "abs.default", VAL(OP(m, "sub.Tensor", VAL(V(0)), VAL(V(1)))));
    scope_end(m, mark, 1, &actual);
    mark = scope_begin(m);
    OP(m, "isfinite.default", VAL(actual));
    int inner = scope_begin(m);
    OP(m, "le.Tensor", VAL(actual), VAL(allowed)); /* for __iand__, and the result for __ior__ */
    scope_end(m, inner, 0, NULL);
    scope_end(m, mark, 0, NULL);
    out_add(m, f, close);
}

/* Source: one_hot in aten/src/ATen/native/Onehot.cpp, which avoids scatter_ under a dispatch mode. */
void
expand_one_hot(struct machine *m, struct frame *f)
{
    int64_t size[RANK];
    int rank = V(0)->rank < RANK ? V(0)->rank : RANK - 1;
    memcpy(size, V(0)->size, sizeof(*size) * (size_t)rank);
    size[rank] = arg_int(f, 1, -1);
    if (size[rank] < 0) /* as many as the largest index says */
        size[rank] = f->rank > 0 ? f->size[f->rank - 1] : 1;
    if (m->real) {
        out_add(m, f, value_new(m, DT_INT64, rank + 1, size, NULL));
        return;
    }
    struct value *all = OP(m, "arange.default", INT(size[rank]));
    struct value *is = OP(m, "eq.Tensor", VAL(OP(m, "unsqueeze.default", VAL(V(0)), INT(rank))), VAL(all));
    out_add(m, f, OP(m, "_to_copy.default", VAL(is), DTYPE(DT_INT64)));
}

/* One operator of a Python expression: its operands die when it is done, unless somebody else holds them. */
static struct value *
then(struct machine *m, int mark, const char *op, struct value *v, struct arg other, struct value *keep)
{
    struct value *held[] = {OP(m, op, VAL(v), other), keep};
    scope_end(m, mark, 2, held);
    return held[0];
}

/* tanh(0.79788456 * x * (1 + 0.044715 * x * x)), with one value kept. */
static struct value *
bloom_tanh(struct machine *m, struct value *x, struct value *kept, int mark)
{
    struct value *a = OP(m, "mul.Tensor", VAL(x), FLT(1));
    int inner = scope_begin(m);
    struct value *b = then(m, inner, "mul.Tensor", x, FLT(1), NULL);
    b = then(m, inner, "mul.Tensor", b, VAL(x), NULL);
    b = then(m, inner, "add.Tensor", b, INT(1), NULL);
    a = then(m, mark, "mul.Tensor", a, VAL(b), kept);
    return then(m, mark, "tanh.default", a, NONE, kept);
}

/* Source: bloom_gelu_forward, bloom_gelu_back in modeling_bloom.py: x * 0.5 * (1 + tanh(...)). */
void
expand_bloom_gelu(struct machine *m, struct frame *f)
{
    int mark = scope_begin(m);
    struct value *half = OP(m, "mul.Tensor", VAL(V(0)), FLT(1));
    struct value *t = bloom_tanh(m, V(0), half, mark);
    t = then(m, mark, "add.Tensor", t, INT(1), half);
    out_add(m, f, OP(m, "mul.Tensor", VAL(half), VAL(t)));
}

void
expand_bloom_gelu_backward(struct machine *m, struct frame *f)
{
    struct value *g = V(0), *x = V(1);
    int mark = scope_begin(m);
    struct value *t = bloom_tanh(m, x, NULL, mark);
    mark = scope_begin(m);
    struct value *half = OP(m, "mul.Tensor", VAL(x), FLT(1));
    int inner = scope_begin(m);
    struct value *a = then(m, inner, "mul.Tensor", t, VAL(t), NULL);
    a = then(m, inner, "rsub.Scalar", a, INT(1), NULL);
    int third = scope_begin(m);
    struct value *b = then(m, third, "mul.Tensor", x, FLT(1), NULL);
    b = then(m, third, "mul.Tensor", b, VAL(x), NULL);
    b = then(m, third, "add.Tensor", b, FLT(1), NULL);
    a = then(m, inner, "mul.Tensor", a, VAL(b), NULL);
    a = then(m, mark, "mul.Tensor", half, VAL(a), NULL);
    inner = scope_begin(m);
    b = then(m, inner, "add.Tensor", t, INT(1), NULL);
    b = then(m, inner, "mul.Tensor", b, FLT(1), NULL);
    a = then(m, mark, "add.Tensor", a, VAL(b), NULL);
    out_add(m, f, OP(m, "mul.Tensor", VAL(a), VAL(g)));
}

/* ---- normalization ----------------------------------------------------------------------------------------------- */

/* Source: _select_batch_norm_backend in Normalization.cpp; CUDNN_BN_MIN_EPSILON is 0 in cuDNN's headers since 8. */
void
expand_batch_norm(struct machine *m, struct frame *f)
{
    struct value *x = V(0), *w = V(1);
    bool cudnn = x->dtype != DT_BFLOAT16 && w && w->dtype == DT_FLOAT && x->rank >= 3 && x->size[0] <= 880801 &&
                 value_elements(x) < INT32_MAX;
    const char *row = !cudnn             ? "native_batch_norm.default"
                      : arg_int(f, 5, 1) ? "cudnn_batch_norm.default"
                                         : "cudnn_batch_norm.running";
    struct arg *a = args_copy(m->a, f->n, f->a);
    if (cudnn && !value_channels_last(x)) /* input.contiguous(input.suggest_memory_format()) */
        a[0] = VAL(OP(m, "contiguous.default", VAL(x)));
    out_add(m, f, dispatch(m, aten_find(row), f->n, a, NULL)->out[0]);
}

/* Source: instance_norm in Normalization.cpp: batch norm of [1, B*C, ...] with repeated weights. */
void
expand_instance_norm(struct machine *m, struct frame *f)
{
    struct value *x = V(0), *p[4] = {V(1), V(2), V(3), V(4)};
    int64_t size[RANK], times = x->size[0];
    for (int i = 0; i < COUNT(p); i++)
        if (p[i])
            p[i] = OP(m, "repeat.default", VAL(p[i]), ints_arg(m, 1, &times));
    x = OP(m, "contiguous.default", VAL(x));
    memcpy(size, x->size, sizeof(*size) * (size_t)x->rank);
    size[1] *= size[0];
    size[0] = 1;
    struct value *v = reshape(m, x, x->rank, size);
    v = OP(m, "batch_norm.default", VAL(v), VAL(p[0]), VAL(p[1]), VAL(p[2]), VAL(p[3]), BOOL(true));
    for (int i = 2; i < COUNT(p); i++)
        if (p[i]) { /* for copy_ into the running statistics */
            int mark = scope_begin(m);
            struct value *each = reshape(m, p[i], 2, (int64_t[]){times, x->size[1]});
            OP(m, "mean.dim", VAL(each), INT(0), BOOL(false));
            scope_end(m, mark, 0, NULL);
        }
    out_add(m, f, reshape(m, v, x->rank, x->size));
}

void
expand_layer_norm(struct machine *m, struct frame *f)
{
    out_add(m, f, dispatch(m, aten_find("native_layer_norm.default"), f->n < 5 ? f->n : 5, f->a, NULL)->out[0]);
}

void
expand_group_norm(struct machine *m, struct frame *f)
{
    struct value *x = OP(m, "contiguous.default", VAL(V(0)));
    struct value *weight = V(2) ? OP(m, "contiguous.default", VAL(V(2))) : NULL;
    struct value *bias = V(3) ? OP(m, "contiguous.default", VAL(V(3))) : NULL;
    int64_t n = x->size[0], c = x->size[1];
    out_add(m, f,
            OP(m, "native_group_norm.default", VAL(x), VAL(weight), VAL(bias), INT(n), INT(c),
               INT(n && c ? value_elements(x) / (n * c) : 0), INT(arg_int(f, 1, 1))));
}

/* Where weight and input differ in type or the input is channels last there is no fused kernel, nor in older versions.
 * Source: rms_norm and rms_norm_composite in aten/src/ATen/native/layer_norm.cpp. */
void
expand_rms_norm(struct machine *m, struct frame *f)
{
    const struct aten *fused = aten_find("_fused_rms_norm.default");
    struct value *x = V(0), *weight = V(2);
    bool last = value_channels_last(x);
    if ((weight && weight->dtype != x->dtype) || last || m->torch < fused->since) {
        int64_t size[RANK], dims[RANK];
        int n = arg_ints(f, 1, size, RANK);
        for (int i = 0; i < n; i++)
            dims[i] = x->rank - n + i;
        struct value *wide = OP(m, "to.dtype", VAL(x), DTYPE(DT_FLOAT));
        int mark = scope_begin(m);
        struct value *mean =
            OP(m, "mean.dim", VAL(OP(m, "pow.Tensor_Scalar", VAL(wide), INT(2))), ints_arg(m, n, dims), BOOL(true));
        struct value *scale = OP(m, "rsqrt.default", VAL(mean));
        scope_end(m, mark, 1, &scale);
        enum { WEIGHT_INSIDE = 207 }; /* earlier versions cast first */
        mark = scope_begin(m);
        struct value *y = OP(m, "mul.Tensor", VAL(wide), VAL(scale));
        if (weight && m->torch >= WEIGHT_INSIDE)
            y = OP(m, "mul.Tensor", VAL(y), VAL(weight));
        if (m->torch >= fused->since) {
            y = last ? y : OP(m, "contiguous.default", VAL(y));
            scope_end(m, mark, 1, &y);
            mark = scope_begin(m);
        }
        y = OP(m, "type_as.default", VAL(y), VAL(x));
        scope_end(m, mark, 1, &y);
        if (weight && m->torch < WEIGHT_INSIDE)
            y = OP(m, "mul.Tensor", VAL(y), VAL(weight));
        out_add(m, f, y);
        return;
    }
    out_add(m, f, dispatch(m, fused, f->n, f->a, NULL)->out[0]);
}

/* ---- softmax, dropout, attention --------------------------------------------------------------------------------- */

/* The kernel itself widens float16 alone. Source: softmax in native/SoftMax.cpp. */
void
expand_softmax(struct machine *m, struct frame *f)
{
    const char *row = f->op->name[0] == 'l' ? "_log_softmax.default" : "_softmax.default";
    struct arg t = f->n > 2 && f->a[2].kind == ARG_DTYPE ? f->a[2] : NONE;
    struct value *x = V(0);
    if (t.kind == ARG_DTYPE && !(x->dtype == DT_FLOAT16 && t.i == DT_FLOAT)) {
        x = OP(m, "to.dtype", VAL(x), t);
        t = NONE;
    }
    out_add(m, f, OP(m, row, VAL(x), f->n > 1 ? f->a[1] : INT(-1), t));
}

/* With a probability of 1: times zero. Source: _dropout_impl in aten/src/ATen/native/Dropout.cpp. */
static bool
drops_all(struct machine *m, struct frame *f)
{
    if (arg_float(f, 1, 0.5) < 1 || !arg_int(f, 2, 1))
        return false;
    struct value *zero = OP(m, "zeros.default", ints_arg(m, 0, NULL), DTYPE(V(0)->dtype));
    out_add(m, f, OP(m, "mul.Tensor", VAL(V(0)), VAL(zero)));
    return true;
}

void
expand_dropout(struct machine *m, struct frame *f)
{
    double p = arg_float(f, 1, 0.5);
    bool runs = arg_int(f, 2, 1) && p > 0;
    if (!drops_all(m, f))
        out_add(m, f, runs ? OP(m, "native_dropout.default", VAL(V(0)), FLT(p), BOOL(true)) : V(0));
}

/* noise.bernoulli_().div_(), then multiplied. Source: the same. */
void
expand_dropout_in_place(struct machine *m, struct frame *f)
{
    struct arg a[] = {f->a[0], VAL(OP(m, "empty_like.default", VAL(V(0))))};
    out_add(m, f, op_over(m, "mul.Tensor", COUNT(a), a, f->in_place));
}

static void
alpha_dropout(struct machine *m, struct frame *f, struct value *noise)
{
    struct value *shift = OP(m, "add.Scalar", VAL(noise), FLT(-1));
    struct arg a[] = {VAL(OP(m, "mul.Tensor", VAL(V(0)), VAL(noise))), VAL(shift)};
    out_add(m, f, op_over(m, "add.Tensor", COUNT(a), a, true));
}

/* What is added stands beside the noise. Source: likewise. */
void
expand_alpha_dropout(struct machine *m, struct frame *f)
{
    if (!drops_all(m, f))
        alpha_dropout(m, f, OP(m, "empty_like.default", VAL(V(0))));
}

/* One number a channel. Source: make_feature_noise in Dropout.cpp. */
static struct value *
feature_noise(struct machine *m, const struct frame *f)
{
    int64_t size[MAX_RANK];
    for (int i = 0; i < V(0)->rank; i++)
        size[i] = i < 2 ? V(0)->size[i] : 1;
    return OP(m, "new_empty.default", VAL(V(0)), ints_arg(m, V(0)->rank, size));
}

void
expand_feature_dropout(struct machine *m, struct frame *f)
{
    if (!drops_all(m, f))
        out_add(m, f, OP(m, "mul.Tensor", VAL(V(0)), VAL(feature_noise(m, f))));
}

void
expand_feature_alpha_dropout(struct machine *m, struct frame *f)
{
    if (!drops_all(m, f))
        alpha_dropout(m, f, feature_noise(m, f));
}

static bool
is_expanded(const struct value *v)
{
    for (int i = 0; i < v->rank; i++)
        if (v->size[i] > 1 && v->stride[i] == 0)
            return true;
    return false;
}

/* What an evaluation export left of contiguous() or of dropout: a copy when a view follows or an expand came before,
 * and the layout asks for one. */
void
expand_lost_clone(struct machine *m, struct frame *f)
{
    struct value *v = V(0);
    if ((arg_int(f, 1, 0) && !value_contiguous(v)) || is_expanded(v))
        out_add(m, f, OP(m, "clone.default", VAL(v), BOOL(true)));
    else if (arg_int(f, 2, 0))
        out_add(m, f, OP(m, "native_dropout.default", VAL(v), FLT(0.1), BOOL(true)));
    else
        out_add(m, f, v);
}

/* A mask of truths as one that is added. Source: convert_boolean_attn_mask in transformers/attention.cpp; fake tensors
 * have the recorder's, which inverts it. */
static struct value *
added_mask(struct machine *m, struct value *mask, enum dtype t)
{
    if (!mask || mask->dtype != DT_BOOL)
        return mask;
    int mark = scope_begin(m);
    if (m->real) {
        struct value *low = OP(m, "scalar_tensor.default", FLT(-1e300), DTYPE(t));
        mask = OP(m, "where.ScalarSelf", VAL(mask), FLT(0), VAL(low));
    } else {
        struct value *off = OP(m, "logical_not.default", VAL(mask));
        struct value *zero = OP(m, "zeros.default", ints_arg(m, 0, NULL), DTYPE(t));
        mask = OP(m, "where.ScalarSelf", VAL(off), FLT(-1e300), VAL(zero));
    }
    scope_end(m, mark, 1, &mask);
    return mask;
}

/* The mask as efficient attention takes it: floating, in the query's type, its last dimension padded to eight. Source:
 * preprocess_mask in transformers/attention.cpp. */
static struct value *
attention_mask(struct machine *m, struct value *mask, const struct value *q, const struct value *k)
{
    if (!mask)
        return NULL;
    mask = to(m, added_mask(m, mask, q->dtype), q->dtype);
    int64_t last = mask->rank ? mask->size[mask->rank - 1] : 1;
    if (!is_aligned(m, last, 8)) {
        int64_t pads[] = {0, 8 - last % 8};
        mask = OP(m, "constant_pad_nd.default", VAL(mask), ints_arg(m, 2, pads));
        mask = OP(m, "slice.Tensor", VAL(mask), INT(-1), INT(0), INT(last), INT(1));
    }
    int64_t size[] = {q->size[0], q->size[1], q->size[2], k->size[2]};
    return OP(m, "expand.default", VAL(mask), ints_arg(m, 4, size));
}

/* cuDNN's mask is not padded. Source: convert_boolean_attn_mask_cudnn in transformers/attention.cpp; seen in PyTorch's
 * allocator. */
static struct value *
cudnn_mask(struct machine *m, struct value *mask, const struct value *q)
{
    if (!mask || mask->dtype != DT_BOOL)
        return mask ? to(m, mask, q->dtype) : NULL;
    struct value *zero = OP(m, "scalar_tensor.default", FLT(0), DTYPE(q->dtype));
    struct value *low = OP(m, "scalar_tensor.default", FLT(-1e300), DTYPE(q->dtype));
    return OP(m, "where.self", VAL(mask), VAL(zero), VAL(low));
}

static struct value *
causal_mask(struct machine *m, const struct value *q, const struct value *k)
{
    int64_t size[] = {q->size[q->rank - 2], k->size[k->rank - 2]};
    int mark = scope_begin(m);
    struct value *mask = OP(m, "ones.default", ints_arg(m, 2, size), DTYPE(DT_BOOL));
    mask = OP(m, "tril.default", VAL(mask));
    scope_end(m, mark, 1, &mask);
    mask = added_mask(m, mask, q->dtype);
    scope_end(m, mark, 1, &mask);
    return mask;
}

enum { WIDE_MATH = 205 }; /* the version from which halves are computed in fp32: allowFP16BF16ReductionMathSDP */

/* Source: _scaled_dot_product_attention_math in transformers/attention.cpp. The mask is added in place, but not to a
 * fake tensor. */
static struct value *
attention_math(struct machine *m, const struct frame *f, struct value *q, struct value *k, struct value *v)
{
    struct value *mask = added_mask(m, V(3), q->dtype);
    enum dtype t = q->dtype, wide = m->real && m->torch >= WIDE_MATH && dtype_is_half(t) ? DT_FLOAT : t;
    double p = arg_float(f, 4, 0);
    struct value **cast[] = {&q, &k, &v};
    for (int i = 0; i < COUNT(cast); i++)
        *cast[i] = to(m, *cast[i], wide);
    q = OP(m, "mul.Tensor", VAL(q), FLT(1));
    if (m->real && arg_int(f, 5, 0))
        mask = causal_mask(m, q, k);
    int mark = scope_begin(m);
    k = OP(m, "mul.Tensor", VAL(OP(m, "transpose.int", VAL(k), INT(-2), INT(-1))), FLT(1));
    struct value *score = matmul(m, q, k);
    scope_end(m, mark, 1, &score);
    if (mask)
        score = op_over(m, "add.Tensor", 2, (struct arg[]){VAL(score), VAL(mask)}, m->real);
    score = OP(m, m->real ? "_safe_softmax.default" : "_softmax.default", VAL(score), INT(-1));
    scope_end(m, mark, 1, &score);
    if (p > 0)
        score = OP(m, "native_dropout.default", VAL(score), FLT(p), BOOL(true));
    scope_end(m, mark, 1, &score);
    (void)to(m, score, t); /* it returns the weights, too */
    return to(m, matmul(m, score, v), t);
}

/* Rows of whole units of eight, copied where they aren't. Source: pad_last_dim in transformers/attention.cpp. */
static struct value *
padded(struct machine *m, struct value *v)
{
    int64_t pads[] = {0, 8 - v->size[3] % 8};
    return is_aligned(m, v->size[3], 8) ? v : OP(m, "constant_pad_nd.default", VAL(v), ints_arg(m, 2, pads));
}

/* Whether the efficient kernel takes rows of these sizes: whole units of its products' operands, in fp32 any before
 * 8.0. */
static bool
takes_heads(struct machine *m, bool half, int64_t head, int64_t value)
{
    const int64_t unit = half ? 8 : 4;
    return (is_aligned(m, head, unit) && is_aligned(m, value, unit)) || (!half && !machine_from(m, 80));
}

/* Keys or values that heads share, for each of them. */
static struct value *
shared_heads(struct machine *m, struct value *v, const struct value *q)
{
    return repeat_interleave(m, v, q->size[1] / v->size[1], 1);
}

/* Whether cuDNN takes halves of these sizes, first on Hopper since 2.11's. Source: check_cudnn_tensor_shapes and
 * priority_order in transformers/cuda/sdp_utils.cpp; rows of up to 256 an H200 took (sweeps.jsonl of
 * tests/oracle/h200.tar.xz). */
static bool
takes_cudnn(struct machine *m, const struct value *q, const struct value *k, const struct value *v)
{
    const int64_t head = q->size[3];
    return machine_from(m, 90) && head <= (machine_from(m, 100) ? 128 : 256) && head == v->size[3] &&
           is_aligned(m, head, 8) && (q->size[2] > 1 || k->size[2] > 1);
}

/* Which kernel: flash takes half types without a mask, efficient the rest whose rows are whole units of its products'
 * operands; see sdp_utils.cpp, check_head_dim_size_mem_efficient and minimum_gemm_alignment. */
void
expand_attention(struct machine *m, struct frame *f)
{
    struct value *q = V(0), *k = V(1), *v = V(2), *mask = V(3);
    double p = arg_float(f, 4, 0);
    bool half = dtype_is_half(q->dtype);
    enum attention kernel = m->s->attention;
    if (!m->real && (q->rank < 4 || k->rank < 4)) { /* three dimensions: the recorder's puts a head in */
        q = q->rank == 3 ? OP(m, "unsqueeze.default", VAL(q), INT(0)) : q;
        k = k->rank == 3 ? OP(m, "unsqueeze.default", VAL(k), INT(0)) : k;
        v = v->rank == 3 ? OP(m, "unsqueeze.default", VAL(v), INT(0)) : v;
    }
    bool fewer = q->rank == 4 && k->size[1] != q->size[1], gqa = fewer && arg_int(f, 7, 0) && k->size[1] > 0;
    if (q->rank != 4 || (fewer && !gqa && m->real)) { /* or heads that broadcast: no fused kernel takes them */
        out_add(m, f, attention_math(m, f, q, k, v));
        return;
    }
    if (gqa && !m->real) {
        k = shared_heads(m, k, q);
        v = shared_heads(m, v, q);
        gqa = false;
    }
    int64_t head = q->size[3];
    if (m->real && kernel == ATTENTION_AUTO && half && takes_cudnn(m, q, k, v)) {
        mask = cudnn_mask(m, mask, q);
        struct value *out =
            OP(m, "_scaled_dot_product_cudnn_attention.default", VAL(q), VAL(k), VAL(v), VAL(mask), FLT(p));
        out_add(m, f, V(0)->rank == 3 ? OP(m, "squeeze.dim", VAL(out), INT(0)) : out);
        return;
    }
    if (kernel == ATTENTION_AUTO)
        kernel = half && !mask && head == v->size[3] && head <= 256 && (!m->real || machine_from(m, 80))
                     ? ATTENTION_FLASH
                 : !m->real || (!gqa && takes_heads(m, half, head, v->size[3])) ? ATTENTION_EFFICIENT
                                                                                : ATTENTION_MATH;
    struct value *out;
    if (kernel == ATTENTION_MATH) {
        out = attention_math(m, f, q, gqa ? shared_heads(m, k, q) : k, gqa ? shared_heads(m, v, q) : v);
    } else if (kernel == ATTENTION_FLASH) {
        if (m->real) {
            q = padded(m, q);
            k = padded(m, k);
            v = padded(m, v);
        }
        out = OP(m, "_scaled_dot_product_flash_attention.default", VAL(q), VAL(k), VAL(v), FLT(p),
                 f->n > 5 ? f->a[5] : NONE);
        if (out->size[3] != head)
            out = OP(m, "slice.Tensor", VAL(out), INT(-1), INT(0), INT(head), INT(1));
    } else {
        bool grad = m->grad_mode && (q->requires_grad || k->requires_grad || v->requires_grad);
        mask = attention_mask(m, mask, q, k);
        out = OP(m, "_scaled_dot_product_efficient_attention.default", VAL(q), VAL(k), VAL(v), VAL(mask), BOOL(grad),
                 FLT(p));
    }
    out_add(m, f, V(0)->rank == 3 ? OP(m, "squeeze.dim", VAL(out), INT(0)) : out);
}

/* ---- losses ------------------------------------------------------------------------------------------------------ */

/* The part of label smoothing: the negative mean of the log-probabilities. Source: cross_entropy_loss_label_smoothing
 * in LossNLL.cpp, without weights. */
static struct value *
smoothed(struct machine *m, struct value *nll, struct value *lp, struct value *target)
{
    struct value *v = OP(m, "neg.default", VAL(OP(m, "sum.dim_IntList", VAL(lp), INT(lp->rank == 1 ? 0 : 1))));
    struct value *ignored = OP(m, "eq.Scalar", VAL(target), INT(0));
    struct arg a[] = {VAL(v), VAL(ignored), FLT(0)};
    v = op_over(m, "masked_fill.Scalar", COUNT(a), a, true);
    struct value *counted = OP(m, "sum.default", VAL(OP(m, "bitwise_not.default", VAL(ignored))), DTYPE(DT_INT64));
    v = OP(m, "div.Tensor", VAL(OP(m, "sum.default", VAL(v))), VAL(counted));
    nll = OP(m, "mul.Scalar", VAL(nll), FLT(1));
    return OP(m, "add.Tensor", VAL(nll), VAL(OP(m, "mul.Scalar", VAL(v), FLT(1))));
}

/* Source: cross_entropy_loss_symint in LossNLL.cpp: log_softmax in its own type, so that autocast leaves it alone.
 * Targets of the input's sizes are probabilities: cross_entropy_loss_prob_target. */
void
expand_cross_entropy(struct machine *m, struct frame *f)
{
    struct value *x = V(0), *target = V(1);
    struct arg reduction = f->n > 3 ? f->a[3] : NONE;
    struct value *lp = OP(m, "_log_softmax.default", VAL(x), INT(x->rank == 1 ? 0 : 1), DTYPE(x->dtype));
    if (target->rank == x->rank && dtypes[target->dtype].is_float) {
        struct value *v = OP(m, "sum.default", VAL(OP(m, "mul.Tensor", VAL(lp), VAL(target))));
        out_add(m, f, OP(m, "div.Scalar", VAL(OP(m, "neg.default", VAL(v))), FLT(1)));
        return;
    }
    const char *row = x->rank > 2 ? "nll_loss2d_forward.default" : "nll_loss_forward.default";
    struct value *nll = OP(m, row, VAL(lp), VAL(target), VAL(V(2)), reduction);
    bool smooths = arg_float(f, 5, 0) > 0 && arg_int(f, 3, 1) == 1;
    out_add(m, f, smooths ? smoothed(m, nll, lp, target) : nll);
}

/* ---- losses that are composites: Loss.cpp ------------------------------------------------------------------------ */

/* apply_loss_reduction; at: the argument that says which. */
static struct value *
reduced_loss(struct machine *m, const struct frame *f, int at, struct value *v)
{
    int64_t reduction = arg_int(f, at, 1);
    return reduction == 0 ? v : OP(m, reduction == 1 ? "mean.default" : "sum.default", VAL(v));
}

void
expand_margin_ranking_loss(struct machine *m, struct frame *f)
{
    int mark = scope_begin(m);
    struct value *apart = OP(m, "sub.Tensor", VAL(V(0)), VAL(V(1)));
    struct value *v = OP(m, "mul.Tensor", VAL(OP(m, "neg.default", VAL(V(2)))), VAL(apart));
    v = OP(m, "add.Scalar", VAL(v), FLT(0));
    scope_end(m, mark, 1, &v);
    v = op_over(m, "clamp_min.default", 2, (struct arg[]){VAL(v), FLT(0)}, true);
    out_add(m, f, reduced_loss(m, f, 4, v));
}

/* Source: l1_loss in aten/src/ATen/native/Loss.cpp. */
void
expand_l1_loss(struct machine *m, struct frame *f)
{
    struct value *apart = OP(m, "abs.default", VAL(OP(m, "sub.Tensor", VAL(V(0)), VAL(V(1)))));
    out_add(m, f, reduced_loss(m, f, 2, apart));
}

/* Two parts of a loss, chosen by the target and added, all of them variables until it is reduced. */
static struct value *
chosen_loss(struct machine *m, const struct frame *f, int at, struct value *target, struct value **part,
            struct value *zeros, const char *compare)
{
    for (int i = 0; i < 2; i++) {
        int mark = scope_begin(m);
        part[i] = OP(m, "where.self", VAL(OP(m, compare, VAL(target), INT(1))), VAL(part[i]), VAL(zeros));
        scope_end(m, mark, 1, &part[i]);
    }
    return reduced_loss(m, f, at, OP(m, "add.Tensor", VAL(part[0]), VAL(part[1])));
}

/* number - v: a tensor is filled, and written over. */
static struct value *
number_less(struct machine *m, struct value *v)
{
    struct value *number = OP(m, "empty_like.default", VAL(v));
    return op_over(m, "sub.Tensor", 2, (struct arg[]){VAL(number), VAL(v)}, true);
}

/* (a * b).sum(dim), and a little more where it is a norm */
static struct value *
dot_over(struct machine *m, struct value *a, struct value *b, int64_t dim, bool more)
{
    int mark = scope_begin(m);
    struct value *v =
        OP(m, "sum.dim_IntList", VAL(OP(m, "mul.Tensor", VAL(a), VAL(b))), ints_arg(m, 1, &dim), BOOL(false));
    v = more ? OP(m, "add.Scalar", VAL(v), FLT(0)) : v;
    scope_end(m, mark, 1, &v);
    return v;
}

void
expand_cosine_embedding_loss(struct machine *m, struct frame *f)
{
    int64_t dim = V(2)->rank;
    struct value *product = dot_over(m, V(0), V(1), dim, false), *first = dot_over(m, V(0), V(0), dim, true),
                 *second = dot_over(m, V(1), V(1), dim, true);
    struct value *norms = OP(m, "mul.Tensor", VAL(first), VAL(second));
    norms = op_over(m, "sqrt.default", 1, (struct arg[]){VAL(norms)}, true);
    struct value *cosine = OP(m, "div.Tensor", VAL(product), VAL(norms)),
                 *zeros = OP(m, "zeros_like.default", VAL(cosine));
    struct value *part[2] = {number_less(m, cosine), OP(m, "sub.Scalar", VAL(cosine), FLT(0))};
    part[1] = op_over(m, "clamp_min.default", 2, (struct arg[]){VAL(part[1]), FLT(0)}, true);
    out_add(m, f, chosen_loss(m, f, 4, V(2), part, zeros, "eq.Scalar"));
}

void
expand_hinge_embedding_loss(struct machine *m, struct frame *f)
{
    struct value *zeros = OP(m, "zeros_like.default", VAL(V(0))), *part[2];
    part[0] = op_over(m, "clamp_min.default", 2, (struct arg[]){VAL(number_less(m, V(0))), FLT(0)}, true);
    part[1] = V(0);
    out_add(m, f, chosen_loss(m, f, 3, V(1), part, zeros, "ne.Scalar"));
}

/* (self, target, reduction, log_target); what stands second in a line runs first. Source: kl_div in Loss.cpp. */
void
expand_kl_div(struct machine *m, struct frame *f)
{
    struct arg x = VAL(V(0)), t = VAL(V(1));
    bool logs = arg_int(f, 3, 0);
    int mark = scope_begin(m);
    struct value *second = logs ? OP(m, "sub.Tensor", t, x) : OP(m, "mul.Tensor", t, x),
                 *first = logs ? OP(m, "exp.default", t) : OP(m, "xlogy.Tensor", t, t),
                 *v = OP(m, logs ? "mul.Tensor" : "sub.Tensor", VAL(first), VAL(second));
    scope_end(m, mark, 1, &v);
    out_add(m, f, reduced_loss(m, f, 2, v));
}

/* Source: pairwise_distance in Distance.cpp. */
static struct value *
distance(struct machine *m, struct value *a, struct value *b, double p, bool keeps)
{
    int mark = scope_begin(m);
    struct value *apart = OP(m, "add.Scalar", VAL(OP(m, "sub.Tensor", VAL(a), VAL(b))), FLT(0));
    struct value *norm =
        OP(m, "norm.ScalarOpt_dim", VAL(apart), FLT(p), ints_arg(m, 1, (int64_t[]){apart->rank - 1}), BOOL(keeps));
    scope_end(m, mark, 1, &norm);
    return norm;
}

void
expand_pairwise_distance(struct machine *m, struct frame *f)
{
    out_add(m, f, distance(m, V(0), V(1), arg_float(f, 2, 2), arg_int(f, 4, 0)));
}

void
expand_triplet_margin_loss(struct machine *m, struct frame *f)
{
    double p = arg_float(f, 4, 2);
    struct value *near = distance(m, V(0), V(1), p, false), *far = distance(m, V(0), V(2), p, false);
    if (arg_int(f, 6, 0))
        far = OP(m, "minimum.default", VAL(far), VAL(distance(m, V(1), V(2), p, false)));
    int mark = scope_begin(m);
    struct value *v = OP(m, "sub.Tensor", VAL(OP(m, "add.Scalar", VAL(near), FLT(0))), VAL(far));
    v = OP(m, "clamp_min.default", VAL(v), FLT(0));
    scope_end(m, mark, 1, &v);
    out_add(m, f, reduced_loss(m, f, 7, v));
}

/* (self, target, weight, reduction). Source: multilabel_soft_margin_loss in torch/nn/functional.py. */
void
expand_multilabel_soft_margin_loss(struct machine *m, struct frame *f)
{
    struct value *x = V(0), *target = V(1);
    int mark = scope_begin(m);
    struct value *yes = OP(m, "mul.Tensor", VAL(target), VAL(OP(m, "log_sigmoid.default", VAL(x))));
    scope_end(m, mark, 1, &yes);
    int inner = scope_begin(m);
    struct value *rest = OP(m, "rsub.Scalar", VAL(target), INT(1)), *turned = OP(m, "neg.default", VAL(x));
    struct value *no = OP(m, "mul.Tensor", VAL(rest), VAL(OP(m, "log_sigmoid.default", VAL(turned))));
    scope_end(m, inner, 1, &no);
    struct value *loss = OP(m, "add.Tensor", VAL(yes), VAL(no));
    scope_end(m, mark, 1, &loss);
    loss = OP(m, "neg.default", VAL(loss));
    scope_end(m, mark, 1, &loss);
    if (V(2)) {
        loss = OP(m, "mul.Tensor", VAL(loss), VAL(V(2)));
        scope_end(m, mark, 1, &loss);
    }
    loss = OP(m, "sum.dim_IntList", VAL(loss), ints_arg(m, 1, (int64_t[]){-1}), BOOL(false));
    loss = OP(m, "div.Tensor", VAL(loss), INT(1));
    scope_end(m, mark, 1, &loss);
    out_add(m, f, reduced_loss(m, f, 3, loss));
}

/* (input, target, log_input, full, eps, reduction). Source: poisson_nll_loss in Loss.cpp. */
void
expand_poisson_nll_loss(struct machine *m, struct frame *f)
{
    struct value *x = V(0), *target = V(1), *expected, *seen, *loss;
    int mark = scope_begin(m);
    if (arg_int(f, 2, 1)) {
        seen = OP(m, "mul.Tensor", VAL(target), VAL(x));
        expected = OP(m, "exp.default", VAL(x));
    } else {
        expected = x;
        seen = OP(m, "log.default", VAL(OP(m, "add.Scalar", VAL(x), INT(1))));
        seen = OP(m, "mul.Tensor", VAL(target), VAL(seen));
    }
    loss = OP(m, "sub.Tensor", VAL(expected), VAL(seen));
    scope_end(m, mark, 1, &loss);
    if (arg_int(f, 3, 0)) { /* Stirling's approximation of the logarithm of target! */
        mark = scope_begin(m);
        struct value *half = OP(m, "log.default", VAL(OP(m, "mul.Scalar", VAL(target), FLT(1))));
        half = OP(m, "mul.Scalar", VAL(half), FLT(1));
        struct value *term = OP(m, "mul.Tensor", VAL(target), VAL(OP(m, "log.default", VAL(target))));
        term = OP(m, "add.Tensor", VAL(OP(m, "sub.Tensor", VAL(term), VAL(target))), VAL(half));
        scope_end(m, mark, 1, &term);
        term = OP(m, "masked_fill.Scalar", VAL(term), VAL(OP(m, "le.Scalar", VAL(target), INT(1))), INT(0));
        loss = op_over(m, "add.Tensor", 2, (struct arg[]){VAL(loss), VAL(term)}, true);
        scope_end(m, mark, 1, &loss);
    }
    out_add(m, f, reduced_loss(m, f, 5, loss));
}

/* Source: nanmean in ReduceOps.cpp; logical_not_ is in place. */
void
expand_nanmean(struct machine *m, struct frame *f)
{
    int mark = scope_begin(m);
    struct arg dim = arg_at(f, 1, NONE), keep = arg_at(f, 2, NONE);
    struct value *x = OP(m, "detach.default", VAL(V(0)));
    struct value *n = OP(m, "sum.dim_IntList", VAL(OP(m, "ne.Tensor", VAL(x), VAL(x))), dim, keep);
    scope_end(m, mark, 1, &n);
    out_add(m, f, OP(m, "div.Tensor", VAL(OP(m, "nansum.default", VAL(V(0)), dim, keep)), VAL(n)));
}

/* Source: stft in SpectralOps.cpp; its caller has padded. */
void
expand_stft(struct machine *m, struct frame *f)
{
    int64_t n = arg_int(f, 1, 1), hop = arg_int(f, 2, n / 4), win = arg_int(f, 3, n), last = 2;
    bool batch = V(0)->rank > 1;
    struct value *x = batch ? V(0) : OP(m, "unsqueeze.default", VAL(V(0)), INT(0)), *window = V(4);
    if (win < n)
        window = OP(m, "zeros.default", ints_arg(m, 1, &n), DTYPE(window ? window->dtype : x->dtype));
    x = OP(m, "frames", VAL(x), INT(n), INT(hop));
    if (window)
        x = OP(m, "mul.Tensor", VAL(x), VAL(window));
    x = OP(m, "_fft_r2c.default", VAL(x), ints_arg(m, 1, &last), INT(0), BOOL(arg_int(f, 6, 1)));
    x = OP(m, "transpose.int", VAL(x), INT(1), INT(2));
    x = batch ? x : OP(m, "squeeze.dim", VAL(x), INT(0));
    out_add(m, f, arg_int(f, 7, 0) ? x : OP(m, "view_as_real.default", VAL(x)));
}
