/* SPDX-License-Identifier: Apache-2.0 */
/* aten.c - the framework operator table: everything PyTorch does in an operator, one row each.
 *
 * A row says which arguments an operator takes, what its forward allocates and with which strides (run), what each gradient's
 * formula is (grad; what autograd saves follows from it), and its autocast class. Backward kernels are rows like any other.
 * Composites (grad == COMPOSITE) stand here too; their bodies are in expand.c.
 *
 * Layout rules are PyTorch's: elementwise results take the permutation of their inputs (TensorIterator::reorder_dimensions), a
 * view needs strides that allow it (computeStride), convolutions and pools follow channels_last.
 *
 * Sources: formulas are those of tools/autograd/derivatives.yaml (2.11) unless a row says otherwise; sizes and layouts those of the meta
 * kernels (torch/_meta_registrations.py) and of the CUDA kernels they describe. Births were compared with recorded traces.
 */
#include "torch/expand.h"
#include "torch/torch.h"

#include <stdlib.h>
#include <string.h>

enum { RANK = 2 * MAX_RANK };

#define V(i) arg_value(f, i)

/* ---- layout ---------------------------------------------------------------------------------------------------------- */

/* Numpy broadcasting of all tensors among a[0..n): the rank. */
static int
broadcast(const struct arg *a, int n, int64_t *size)
{
    int rank = 0;
    for (int i = 0; i < n; i++)
        if (a[i].kind == ARG_VALUE && a[i].v->rank > rank)
            rank = a[i].v->rank;
    for (int d = 0; d < rank; d++)
        size[d] = 1;
    for (int i = 0; i < n; i++)
        if (a[i].kind == ARG_VALUE)
            for (int d = 0; d < a[i].v->rank; d++) {
                int64_t *s = &size[rank - a[i].v->rank + d];
                *s = *s == 1 ? a[i].v->size[d] : *s;
            }
    return rank;
}

struct operands { /* of an elementwise operator */
    const struct arg *a;
    int n, rank;
    const int64_t *size;
};

static int
should_swap(const void *of, int d0, int d1)
{
    const struct operands *o = of;
    const struct arg *a = o->a;
    const int64_t *size = o->size;
    int n = o->n, rank = o->rank;
    for (int i = 0; i < n; i++) {
        if (a[i].kind != ARG_VALUE)
            continue;
        const struct value *v = a[i].v;
        int lead = rank - v->rank;
        int64_t s0 = d0 < lead || (v->size[d0 - lead] == 1 && size[d0] != 1) ? 0 : v->stride[d0 - lead];
        int64_t s1 = d1 < lead || (v->size[d1 - lead] == 1 && size[d1] != 1) ? 0 : v->stride[d1 - lead];
        if (s0 == 0 || s1 == 0)
            continue;
        if (s0 != s1)
            return s0 < s1 ? -1 : 1;
        if (size[d0] > size[d1])
            return 1;
    }
    return 0;
}

void
aten_reorder(int rank, int *perm, int (*after)(const void *of, int d0, int d1), const void *of)
{
    for (int i = 0; i < rank; i++)
        perm[i] = rank - 1 - i;
    for (int i = 1; i < rank; i++)
        for (int d0 = i - 1, d1 = i; d0 >= 0; d0--) {
            int c = after(of, perm[d0], perm[d1]);
            if (c < 0)
                break;
            if (c > 0) {
                int t = perm[d0];
                perm[d0] = perm[d1];
                perm[d1] = t;
                d1 = d0;
            }
        }
}

/* Strides of an elementwise result. Source: TensorIteratorBase::reorder_dimensions in aten/src/ATen/TensorIterator.cpp. */
static void
iterator_strides(const struct arg *a, int n, int rank, const int64_t *size, int64_t *stride)
{
    int perm[RANK];
    aten_reorder(rank, perm, should_swap, &(struct operands){a, n, rank, size});
    int64_t run = 1;
    for (int i = 0; i < rank; i++) {
        stride[perm[i]] = run;
        run *= size[perm[i]] > 1 ? size[perm[i]] : 1;
    }
}

/* Strides with which v's elements can be seen as rank sizes without a copy. Source: computeStride in aten/src/ATen/TensorUtils.cpp. */
bool
aten_view_strides(const struct value *v, int rank, const int64_t *size, int64_t *stride)
{
    int at = rank - 1;
    int64_t n = value_elements(v), base = v->rank ? v->stride[v->rank - 1] : 1, numel = 1, view = 1;
    if (n == 0 || v->rank == 0) {
        int64_t run = 1;
        for (int i = rank - 1; i >= 0; i--) {
            stride[i] = run;
            run *= size[i] > 1 ? size[i] : 1;
        }
        return true;
    }
    for (int d = v->rank - 1; d >= 0; d--) {
        numel *= v->size[d];
        if (d == 0 || (v->size[d - 1] != 1 && v->stride[d - 1] != numel * base)) {
            while (at >= 0 && (view < numel || size[at] == 1)) {
                stride[at] = view * base;
                view *= size[at--];
            }
            if (view != numel)
                return false;
            if (d > 0) {
                base = v->stride[d - 1];
                numel = view = 1;
            }
        }
    }
    return at == -1;
}

/* Source: is_channels_last_strides_2d_s4 in c10/core/MemoryFormat.h: ambiguous strides, as those of a 1 x 1 kernel, are not. */
static bool
channels_last(const struct value *v)
{
    if (!v || (v->rank != 4 && v->rank != 5) || v->stride[1] == 0)
        return false;
    int64_t least = 0;
    for (int i = 0; i < v->rank; i++) {
        int d = i == 0 ? 1 : i == v->rank - 1 ? 0 : v->rank - i;
        if (v->size[d] == 0 || v->stride[d] < least || (d == 0 && least == v->stride[1]))
            return false;
        least = v->stride[d] * (v->size[d] > 1 ? v->size[d] : 1);
    }
    return true;
}

/* A fresh tensor, channels last when asked. */
static struct value *
image_new(struct machine *m, enum dtype t, int rank, const int64_t *size, bool last)
{
    int64_t stride[RANK], run = size[1];
    if (!last || rank < 3)
        return value_new(m, t, rank, size, NULL);
    stride[1] = 1;
    for (int d = rank - 1; d >= 2; d--) {
        stride[d] = run;
        run *= size[d];
    }
    stride[0] = run;
    return value_new(m, t, rank, size, stride);
}

/* empty_like: dense, in the order of v's strides. */
static struct value *
new_like(struct machine *m, const struct value *v, enum dtype t)
{
    int64_t stride[RANK];
    struct arg a = {.kind = ARG_VALUE, .v = (struct value *)v};
    iterator_strides(&a, 1, v->rank, v->size, stride);
    return value_new(m, t, v->rank, v->size, stride);
}

static int
wrap_dim(int64_t d, int rank)
{
    if (d < 0)
        d += rank;
    return d < 0 ? 0 : d >= rank ? (rank ? rank - 1 : 0) : (int)d;
}

/* ---- types --------------------------------------------------------------------------------------------------------------- */

static int
category(enum dtype t)
{
    return dtypes[t].is_float ? 3 : t == DT_BOOL ? 1 : 2;
}

static enum dtype
wider(enum dtype a, enum dtype b)
{
    if (a == DT_UNDEFINED || a == b)
        return b;
    if (category(a) != category(b))
        return category(a) > category(b) ? a : b;
    if (category(a) == 3 && dtypes[a].bits == dtypes[b].bits)
        return DT_FLOAT; /* float16 with bfloat16 */
    return dtypes[a].bits >= dtypes[b].bits ? a : b;
}

/* Type promotion: tensors with dimensions, then 0-d tensors, then numbers; a later group only wins by category.
 * Source: c10/core/ScalarType.h, aten/src/ATen/native/TypeProperties.cpp. */
static enum dtype
promote(const struct arg *a, int n)
{
    enum dtype group[3] = {DT_UNDEFINED, DT_UNDEFINED, DT_UNDEFINED};
    for (int i = 0; i < n; i++) {
        switch (a[i].kind) {
        case ARG_VALUE: {
            enum dtype *g = &group[a[i].v->rank == 0];
            *g = wider(*g, a[i].v->dtype);
            break;
        }
        case ARG_INT:
            group[2] = wider(group[2], DT_INT64);
            break;
        case ARG_FLOAT:
            group[2] = wider(group[2], DT_FLOAT);
            break;
        case ARG_BOOL:
            group[2] = wider(group[2], DT_BOOL);
            break;
        default:
            break;
        }
    }
    enum dtype t = group[0];
    for (int g = 1; g < 3; g++)
        if (group[g] != DT_UNDEFINED && (t == DT_UNDEFINED || category(group[g]) > category(t)))
            t = group[g];
    return t == DT_UNDEFINED ? DT_FLOAT : t;
}

/* ---- elementwise ----------------------------------------------------------------------------------------------------------- */

static void
elementwise(struct machine *m, struct frame *f, int from, int to, enum dtype t)
{
    int64_t size[RANK], stride[RANK];
    int rank = broadcast(f->a + from, to - from, size);
    iterator_strides(f->a + from, to - from, rank, size, stride);
    if (f->over) {
        struct value *v = value_view(m, f->over, f->over->rank, f->over->size, f->over->stride);
        v->is_view = f->over->is_view;
        out_add(m, f, v);
        return;
    }
    out_add(m, f, value_new(m, t, rank, size, stride));
}

/* All tensors broadcast; the type by promotion. */
static void
run_elementwise(struct machine *m, struct frame *f)
{
    elementwise(m, f, 0, f->n, promote(f->a, f->n));
}

/* The first two arguments are operands, the rest numbers that do not count (alpha, rounding). */
static void
run_binary(struct machine *m, struct frame *f)
{
    int n = f->n < 2 ? f->n : 2;
    elementwise(m, f, 0, n, promote(f->a, n));
}

static void
run_divide(struct machine *m, struct frame *f)
{
    int n = f->n < 2 ? f->n : 2;
    enum dtype t = promote(f->a, n);
    elementwise(m, f, 0, n, dtypes[t].is_float ? t : DT_FLOAT);
}

/* One tensor in, one like it out; other arguments are settings. */
static void
run_unary(struct machine *m, struct frame *f)
{
    elementwise(m, f, 0, 1, V(0) ? V(0)->dtype : DT_FLOAT);
}

static void
run_unary_float(struct machine *m, struct frame *f)
{
    enum dtype t = V(0) ? V(0)->dtype : DT_FLOAT;
    elementwise(m, f, 0, 1, dtypes[t].is_float ? t : DT_FLOAT);
}

static void
run_compare(struct machine *m, struct frame *f)
{
    elementwise(m, f, 0, f->n, DT_BOOL);
}

static void
run_where(struct machine *m, struct frame *f)
{
    elementwise(m, f, 0, f->n < 3 ? f->n : 3, promote(f->a + 1, f->n > 2 ? 2 : f->n - 1));
}

/* self, mask: the type and layout of self. */
static void
run_masked_fill(struct machine *m, struct frame *f)
{
    elementwise(m, f, 0, f->n < 2 ? f->n : 2, V(0) ? V(0)->dtype : DT_FLOAT);
}

/* clone, contiguous, _to_copy: an argument of dtype or the source's. clone(x, contiguous) says so by a true second argument. */
static void
run_copy(struct machine *m, struct frame *f)
{
    struct value *v = V(0);
    enum dtype t = v->dtype;
    bool contiguous = false;
    for (int i = 1; i < f->n; i++) {
        if (f->a[i].kind == ARG_DTYPE)
            t = (enum dtype)f->a[i].i;
        contiguous |= f->a[i].kind == ARG_BOOL && f->a[i].i;
    }
    out_add(m, f, contiguous ? value_new(m, t, v->rank, v->size, NULL) : new_like(m, v, t));
}

static void
run_new_strided(struct machine *m, struct frame *f)
{
    struct value *like = V(1);
    out_add(m, f, value_new(m, V(0)->dtype, like->rank, like->size, like->stride));
}

/* ---- fresh tensors of stated sizes ---------------------------------------------------------------------------------------------- */

static enum dtype
stated_dtype(const struct frame *f, enum dtype otherwise)
{
    for (int i = 0; i < f->n; i++)
        if (f->a[i].kind == ARG_DTYPE)
            return (enum dtype)f->a[i].i;
    return otherwise;
}

/* zeros, ones, full, arange, rand: the sizes are the file's or the first argument's. */
static void
factory(struct machine *m, struct frame *f, int at, enum dtype t)
{
    int64_t size[RANK];
    if (f->rank >= 0) {
        out_add(m, f, value_new(m, stated_dtype(f, t), f->rank, f->size, NULL));
        return;
    }
    int n = arg_ints(f, at, size, RANK);
    out_add(m, f, value_new(m, stated_dtype(f, t), n, size, NULL));
}

static void
run_factory(struct machine *m, struct frame *f)
{
    factory(m, f, 0, DT_FLOAT);
}

/* A constant that the exporter folded: born as what it was. */
static void
run_folded(struct machine *m, struct frame *f)
{
    m->op = f->a[0].s;
    factory(m, f, 2, DT_FLOAT);
}

static void
run_randint(struct machine *m, struct frame *f)
{
    factory(m, f, 1, DT_INT64);
}

static void
run_full(struct machine *m, struct frame *f)
{
    factory(m, f, 0,
            f->n > 1 && f->a[1].kind == ARG_INT    ? DT_INT64
            : f->n > 1 && f->a[1].kind == ARG_BOOL ? DT_BOOL
                                                   : DT_FLOAT);
}

static void
run_new_factory(struct machine *m, struct frame *f)
{
    factory(m, f, 1, V(0) ? V(0)->dtype : DT_FLOAT);
}

static void
run_arange(struct machine *m, struct frame *f)
{
    bool floating = false;
    for (int i = 0; i < f->n; i++)
        floating |= f->a[i].kind == ARG_FLOAT;
    if (f->rank < 0) {
        int64_t n = f->n > 1 && f->a[1].kind == ARG_INT ? arg_int(f, 1, 0) - arg_int(f, 0, 0) : arg_int(f, 0, 0);
        n = n < 0 ? 0 : n;
        out_add(m, f, value_new(m, stated_dtype(f, floating ? DT_FLOAT : DT_INT64), 1, &n, NULL));
        return;
    }
    factory(m, f, 0, floating ? DT_FLOAT : DT_INT64);
}

static void
run_scalar(struct machine *m, struct frame *f)
{
    out_add(m, f, value_new(m, stated_dtype(f, DT_FLOAT), 0, NULL, NULL));
}

static void
run_zero_of(struct machine *m, struct frame *f)
{
    m->op = f->op->source;
    out_add(m, f, value_new(m, V(0)->dtype, 0, NULL, NULL));
}

static void
run_like(struct machine *m, struct frame *f)
{
    out_add(m, f, new_like(m, V(0), stated_dtype(f, V(0)->dtype)));
}

/* A gradient with the sizes of the second argument: slice_backward and its kin make zeros and copy into them. */
static void
run_zeros_like_second(struct machine *m, struct frame *f)
{
    struct value *like = V(1);
    out_add(m, f, value_new(m, V(0)->dtype, like->rank, like->size, NULL));
}

/* ---- views ---------------------------------------------------------------------------------------------------------------------------- */

static int
stated_sizes(const struct frame *f, int at, int64_t *size)
{
    if (f->rank >= 0) {
        memcpy(size, f->size, sizeof(*size) * (size_t)f->rank);
        return f->rank;
    }
    int n = arg_ints(f, at, size, RANK), hole = -1;
    int64_t known = 1, all = V(0) ? value_elements(V(0)) : 0;
    for (int i = 0; i < n; i++) {
        if (size[i] < 0)
            hole = i;
        else
            known *= size[i];
    }
    if (hole >= 0)
        size[hole] = known ? all / known : 0;
    return n;
}

static void
run_view(struct machine *m, struct frame *f)
{
    int64_t size[RANK], stride[RANK];
    int rank = stated_sizes(f, 1, size);
    if (!aten_view_strides(V(0), rank, size, stride)) /* callers have checked; _unsafe_view is of contiguous tensors */
        for (int i = rank - 1, run = 1; i >= 0; run *= (int)(size[i] > 1 ? size[i] : 1), i--)
            stride[i] = run;
    out_add(m, f, value_view(m, V(0), rank, size, stride));
}

static void
permuted(struct machine *m, struct frame *f, const int *perm)
{
    int64_t size[RANK], stride[RANK];
    struct value *v = V(0);
    for (int i = 0; i < v->rank; i++) {
        size[i] = v->size[perm[i]];
        stride[i] = v->stride[perm[i]];
    }
    out_add(m, f, value_view(m, v, v->rank, size, stride));
}

static void
swapped(struct machine *m, struct frame *f, int64_t a, int64_t b)
{
    int perm[RANK], rank = V(0)->rank;
    for (int i = 0; i < rank; i++)
        perm[i] = i;
    if (rank > 1) {
        int x = wrap_dim(a, rank), y = wrap_dim(b, rank);
        perm[x] = y;
        perm[y] = x;
    }
    permuted(m, f, perm);
}

static void
run_transpose(struct machine *m, struct frame *f)
{
    swapped(m, f, arg_int(f, 1, -1), arg_int(f, 2, -2));
}

static void
run_t(struct machine *m, struct frame *f)
{
    swapped(m, f, -1, -2);
}

static void
run_permute(struct machine *m, struct frame *f)
{
    int64_t dims[RANK];
    int perm[RANK], rank = V(0)->rank, n = arg_ints(f, 1, dims, RANK);
    for (int i = 0; i < rank; i++)
        perm[i] = i < n ? wrap_dim(dims[i], rank) : i;
    permuted(m, f, perm);
}

/* The inverse permutation of a gradient. */
static void
run_permute_backward(struct machine *m, struct frame *f)
{
    int64_t dims[RANK];
    int perm[RANK] = {0}, rank = V(0)->rank, n = arg_ints(f, 1, dims, RANK);
    for (int i = 0; i < rank; i++)
        perm[i] = i;
    for (int i = 0; i < n && i < rank; i++)
        perm[wrap_dim(dims[i], rank)] = i;
    permuted(m, f, perm);
}

static void
run_expand(struct machine *m, struct frame *f)
{
    int64_t size[RANK], stride[RANK];
    struct value *v = V(0);
    int rank = f->rank >= 0 ? f->rank : arg_ints(f, 1, size, RANK);
    if (f->rank >= 0)
        memcpy(size, f->size, sizeof(*size) * (size_t)rank);
    int lead = rank - v->rank;
    for (int i = 0; i < rank; i++) {
        bool own = i >= lead;
        if (size[i] < 0)
            size[i] = own ? v->size[i - lead] : 1;
        stride[i] = own && v->size[i - lead] == size[i] ? v->stride[i - lead] : 0;
    }
    out_add(m, f, value_view(m, v, rank, size, stride));
}

/* expand(grad, like): sum's backward; keepdim was false when ranks differ, reduced dims are then put back. */
static void
run_sum_backward(struct machine *m, struct frame *f)
{
    int64_t dims[RANK], stride[RANK];
    struct value *g = V(0), *like = V(1);
    int n = arg_ints(f, 2, dims, RANK), at = 0;
    bool gone[RANK] = {false};
    if (g->rank < like->rank)
        for (int i = 0; i < like->rank; i++)
            gone[i] = n == 0;
    for (int i = 0; i < n && g->rank < like->rank; i++)
        gone[wrap_dim(dims[i], like->rank)] = true;
    for (int i = 0; i < like->rank; i++) {
        stride[i] = 0;
        if (!gone[i] && at < g->rank) {
            stride[i] = g->size[at] == like->size[i] ? g->stride[at] : 0;
            at++;
        }
    }
    out_add(m, f, value_view(m, g, like->rank, like->size, stride));
}

static void
run_unsqueeze(struct machine *m, struct frame *f)
{
    int64_t size[RANK], stride[RANK];
    struct value *v = V(0);
    int64_t want = arg_int(f, 1, 0);
    int at = (int)(want < 0 ? want + v->rank + 1 : want);
    at = at < 0 ? 0 : at > v->rank ? v->rank : at;
    for (int i = 0, k = 0; i <= v->rank; i++) {
        size[i] = i == at ? 1 : v->size[k];
        stride[i] = i == at ? (k < v->rank ? v->size[k] * v->stride[k] : 1) : v->stride[k];
        k += i != at;
    }
    out_add(m, f, value_view(m, v, v->rank + 1, size, stride));
}

static void
run_squeeze(struct machine *m, struct frame *f)
{
    int64_t size[RANK], stride[RANK], dims[RANK];
    struct value *v = V(0);
    int n = arg_ints(f, 1, dims, RANK), rank = 0;
    for (int i = 0; i < v->rank; i++) {
        bool drop = v->size[i] == 1 && f->n < 2;
        for (int k = 0; k < n; k++)
            drop |= v->size[i] == 1 && wrap_dim(dims[k], v->rank) == i;
        if (!drop) {
            size[rank] = v->size[i];
            stride[rank++] = v->stride[i];
        }
    }
    out_add(m, f, value_view(m, v, rank, size, stride));
}

static void
run_slice(struct machine *m, struct frame *f)
{
    int64_t size[RANK], stride[RANK];
    struct value *v = V(0);
    int d = wrap_dim(arg_int(f, 1, 0), v->rank);
    int64_t step = arg_int(f, 4, 1), n = v->rank ? v->size[d] : 0;
    int64_t from = arg_int(f, 2, 0), to = arg_int(f, 3, INT64_MAX);
    from = from < 0 ? from + n : from;
    to = to < 0 ? to + n : to;
    from = from < 0 ? 0 : from > n ? n : from;
    to = to < from ? from : to > n ? n : to;
    step = step < 1 ? 1 : step;
    memcpy(size, v->size, sizeof(*size) * (size_t)v->rank);
    memcpy(stride, v->stride, sizeof(*stride) * (size_t)v->rank);
    if (v->rank) {
        size[d] = f->rank == v->rank ? f->size[d] : (to - from + step - 1) / step;
        stride[d] *= step;
    }
    out_add(m, f, value_view(m, v, v->rank, size, stride));
}

static void
run_select(struct machine *m, struct frame *f)
{
    int64_t size[RANK], stride[RANK];
    struct value *v = V(0);
    int d = wrap_dim(arg_int(f, 1, 0), v->rank), rank = 0;
    for (int i = 0; i < v->rank; i++)
        if (i != d) {
            size[rank] = v->size[i];
            stride[rank++] = v->stride[i];
        }
    out_add(m, f, value_view(m, v, rank, size, stride));
}

/* Windows of one dimension, which may overlap, as a new last one. */
static void
run_unfold(struct machine *m, struct frame *f)
{
    int64_t size[RANK], stride[RANK];
    struct value *v = V(0);
    int d = wrap_dim(arg_int(f, 1, 0), v->rank);
    int64_t window = arg_int(f, 2, 1), step = arg_int(f, 3, 1), room = v->size[d] - window;
    step = step < 1 ? 1 : step;
    memcpy(size, v->size, sizeof(*size) * (size_t)v->rank);
    memcpy(stride, v->stride, sizeof(*stride) * (size_t)v->rank);
    size[d] = room < 0 ? 0 : room / step + 1;
    stride[d] *= step;
    size[v->rank] = window < 0 ? 0 : window;
    stride[v->rank] = v->stride[d];
    out_add(m, f, value_view(m, v, v->rank + 1, size, stride));
}

static void
run_diagonal(struct machine *m, struct frame *f)
{
    int64_t size[RANK], stride[RANK], offset = arg_int(f, 1, 0);
    struct value *v = V(0);
    int a = wrap_dim(arg_int(f, 2, 0), v->rank), b = wrap_dim(arg_int(f, 3, 1), v->rank), rank = 0;
    int64_t rows = v->size[a] + (offset < 0 ? offset : 0), cols = v->size[b] - (offset > 0 ? offset : 0);
    for (int i = 0; i < v->rank; i++)
        if (i != a && i != b) {
            size[rank] = v->size[i];
            stride[rank++] = v->stride[i];
        }
    size[rank] = rows < cols ? rows : cols;
    size[rank] = size[rank] < 0 ? 0 : size[rank];
    stride[rank] = v->stride[a] + v->stride[b];
    out_add(m, f, value_view(m, v, rank + 1, size, stride));
}

/* How many parts of that many are made; with fewer the step is in doubt. */
static int64_t
parts_of(struct machine *m, int64_t parts)
{
    m->many_parts |= parts > limit(LIMIT_PARTS);
    return parts < limit(LIMIT_PARTS) ? parts : limit(LIMIT_PARTS);
}

static void
run_split(struct machine *m, struct frame *f)
{
    int64_t size[RANK];
    struct value *v = V(0);
    const struct arg *sizes = f->a[1].kind == ARG_LIST ? f->a[1].list : NULL;
    int d = wrap_dim(arg_int(f, 2, 0), v->rank);
    memcpy(size, v->size, sizeof(*size) * (size_t)v->rank);
    int64_t step = sizes || arg_int(f, 1, 1) < 1 ? 1 : arg_int(f, 1, 1);
    int64_t count = parts_of(m, sizes ? f->a[1].n : div_up(v->size[d], step));
    for (int64_t i = 0; i < count; i++) {
        int64_t rest = v->size[d] - step * i;
        size[d] = sizes ? (sizes[i].kind == ARG_INT ? sizes[i].i : -1) : rest < step ? rest : step;
        out_add(m, f, value_view(m, v, v->rank, size, v->stride));
    }
}

static void
run_unbind(struct machine *m, struct frame *f)
{
    int64_t size[RANK], stride[RANK];
    struct value *v = V(0);
    int d = wrap_dim(arg_int(f, 1, 0), v->rank), rank = 0;
    for (int i = 0; i < v->rank; i++)
        if (i != d) {
            size[rank] = v->size[i];
            stride[rank++] = v->stride[i];
        }
    int64_t count = parts_of(m, v->size[d]);
    for (int64_t i = 0; i < count; i++)
        out_add(m, f, value_view(m, v, rank, size, stride));
}

/* Narrow views of the gradient of cat, one for each tensor. */
static void
run_cat_backward(struct machine *m, struct frame *f)
{
    struct value *g = V(0);
    int d = wrap_dim(arg_int(f, 2, 0), g->rank);
    int64_t size[RANK];
    memcpy(size, g->size, sizeof(*size) * (size_t)g->rank);
    for (int i = 0; i < f->a[1].n; i++) {
        struct value *t = f->a[1].list[i].v;
        if (t->rank == g->rank)
            size[d] = t->size[d];
        out_add(m, f, value_view(m, g, g->rank, size, g->stride));
    }
}

static void
run_stack_backward(struct machine *m, struct frame *f)
{
    run_unbind(m, &(struct frame){.op = f->op, .n = 2, .a = (struct arg[]){f->a[0], f->a[2]}, .rank = -1});
    struct value *g = V(0);
    int64_t size[RANK], stride[RANK];
    int d = wrap_dim(arg_int(f, 2, 0), g->rank), rank = 0;
    for (int i = 0; i < g->rank; i++)
        if (i != d) {
            size[rank] = g->size[i];
            stride[rank++] = g->stride[i];
        }
    for (int i = 0; i < f->a[1].n; i++)
        out_add(m, f, value_view(m, g, rank, size, stride));
}

/* ---- joining, padding, indexing --------------------------------------------------------------------------------------------------------- */

/* Gradients that nobody sent are zeros. */
static struct value **
list_filled(struct machine *m, struct frame *f, int list, const struct value *like, int64_t dim)
{
    int n = f->a[list].n;
    struct value **out = NEWN(m->a, struct value *, n + 1);
    for (int i = 0; i < n; i++) {
        out[i] = f->a[list].list[i].kind == ARG_VALUE ? f->a[list].list[i].v : NULL;
        if (!out[i] && like) {
            int64_t size[RANK];
            memcpy(size, like->size, sizeof(*size) * (size_t)like->rank);
            if (dim >= 0)
                size[dim] = like->size[dim] / n;
            out[i] = OP(m, "zeros.default", ints_arg(m, like->rank, size), DTYPE(like->dtype));
        }
    }
    return out;
}

static void
run_cat(struct machine *m, struct frame *f)
{
    int64_t size[RANK];
    if (f->a[0].kind != ARG_LIST || !f->a[0].n || f->a[0].list[0].kind != ARG_VALUE)
        return;
    enum dtype t = DT_UNDEFINED;
    struct value *v = f->a[0].list[0].v;
    for (int i = 1; i < f->a[0].n && v->rank == 1 && v->size[0] == 0; i++)
        v = f->a[0].list[i].v; /* empty 1-d tensors are skipped */
    int d = wrap_dim(arg_int(f, 1, 0), v->rank);
    bool last = true;
    memcpy(size, v->size, sizeof(*size) * (size_t)v->rank);
    size[d] = 0;
    for (int i = 0; i < f->a[0].n; i++) {
        struct value *w = f->a[0].list[i].v;
        t = wider(t, w->dtype);
        last &= channels_last(w);
        if (w->rank == v->rank)
            size[d] += w->size[d];
    }
    out_add(m, f, image_new(m, t, v->rank, size, last));
}

static void
run_stack(struct machine *m, struct frame *f)
{
    int64_t size[RANK];
    if (f->a[0].kind != ARG_LIST || !f->a[0].n || f->a[0].list[0].kind != ARG_VALUE)
        return;
    struct value *v = f->a[0].list[0].v;
    int d = wrap_dim(arg_int(f, 1, 0), v->rank + 1);
    for (int i = 0, k = 0; i <= v->rank; i++)
        size[i] = i == d ? f->a[0].n : v->size[k++];
    out_add(m, f, value_new(m, v->dtype, v->rank + 1, size, NULL));
}

/* split's backward: the gradients joined, missing ones as zeros. */
static void
run_split_backward(struct machine *m, struct frame *f)
{
    struct value *like = V(1);
    int d = wrap_dim(arg_int(f, 2, 0), like->rank), n = f->a[0].n;
    struct value **part = list_filled(m, f, 0, like, d);
    struct arg l = {.kind = ARG_LIST, .n = n, .list = NEWN(m->a, struct arg, n)};
    for (int i = 0; i < n; i++)
        l.list[i] = VAL(part[i]);
    out_add(m, f, OP(m, "cat.default", l, INT(d)));
}

static void
run_unbind_backward(struct machine *m, struct frame *f)
{
    struct value **part = list_filled(m, f, 0, NULL, -1), *like = V(1), *any = NULL;
    int n = f->a[0].n;
    for (int i = 0; i < n; i++)
        any = any ? any : part[i];
    struct arg l = {.kind = ARG_LIST, .n = n, .list = NEWN(m->a, struct arg, n)};
    for (int i = 0; i < n; i++)
        l.list[i] = VAL(part[i] ? part[i] : OP(m, "zeros_like.default", VAL(any)));
    out_add(m, f, OP(m, "stack.default", l, INT(wrap_dim(arg_int(f, 2, 0), like->rank))));
}

/* constant_pad_nd: pads come from the last dimension inwards. */
static void
run_pad(struct machine *m, struct frame *f)
{
    int64_t pad[2 * RANK], size[RANK];
    struct value *v = V(0);
    int n = arg_ints(f, 1, pad, 2 * RANK);
    memcpy(size, v->size, sizeof(*size) * (size_t)v->rank);
    for (int i = 0; i < n / 2 && i < v->rank; i++)
        size[v->rank - 1 - i] += pad[2 * i] + pad[2 * i + 1];
    if (f->rank == v->rank)
        memcpy(size, f->size, sizeof(*size) * (size_t)v->rank);
    out_add(m, f, image_new(m, v->dtype, v->rank, size, channels_last(v)));
}

/* Result has the sizes of the second argument and the layout of a fresh tensor. */
static void
run_grad_of(struct machine *m, struct frame *f)
{
    struct value *like = V(1);
    out_add(m, f, image_new(m, V(0)->dtype, like->rank, like->size, channels_last(like)));
}

static void
run_repeat(struct machine *m, struct frame *f)
{
    int64_t times[RANK], size[RANK];
    struct value *v = V(0);
    int n = arg_ints(f, 1, times, RANK), lead = n - v->rank;
    for (int i = 0; i < n; i++)
        size[i] = times[i] * (i < lead ? 1 : v->size[i - lead]);
    if (f->rank >= 0)
        out_add(m, f, value_new(m, v->dtype, f->rank, f->size, NULL));
    else
        out_add(m, f, value_new(m, v->dtype, n, size, NULL));
}

static void
run_embedding(struct machine *m, struct frame *f)
{
    int64_t size[RANK];
    struct value *w = V(0), *i = V(1);
    memcpy(size, i->size, sizeof(*size) * (size_t)i->rank);
    size[i->rank] = w->size[w->rank - 1];
    out_add(m, f, value_new(m, w->dtype, i->rank + 1, size, NULL));
}

/* Sizes of x[i, :, j]: what the indices broadcast to stands where the first of adjacent indices stood, else in front. */
static int
index_sizes(const struct frame *f, int64_t *size)
{
    const struct value *v = V(0);
    const struct arg *ix = &f->a[1];
    int64_t shape[RANK];
    int n = ix->kind == ARG_LIST ? ix->n : 0, rank = broadcast(ix->list, n, shape), first = -1, last = -1, count = 0,
        at = 0;
    for (int i = 0; i < n; i++)
        if (ix->list[i].kind == ARG_VALUE) {
            first = first < 0 ? i : first;
            last = i;
            count++;
        }
    bool adjacent = count && last - first + 1 == count;
    for (int i = 0; i < v->rank; i++) {
        if (count && i == (adjacent ? first : 0))
            for (int k = 0; k < rank; k++)
                size[at++] = shape[k];
        if (i >= n || ix->list[i].kind != ARG_VALUE)
            size[at++] = v->size[i];
    }
    return at;
}

static void
run_index(struct machine *m, struct frame *f)
{
    int64_t size[RANK];
    int rank = index_sizes(f, size);
    bool mask = false; /* only the file knows how many it picks */
    for (int i = 0; f->a[1].kind == ARG_LIST && i < f->a[1].n; i++)
        mask |= f->a[1].list[i].kind == ARG_VALUE && f->a[1].list[i].v->dtype == DT_BOOL;
    int64_t all = 1, mine = 1, at = -1;
    for (int i = 0; i < f->rank; i++)
        all *= f->size[i];
    for (int i = 0; i < rank; i++)
        mine *= size[i];
    for (int i = 0; f->a[1].kind == ARG_LIST && i < f->a[1].n && i < V(0)->rank; i++)
        at = f->a[1].list[i].kind == ARG_VALUE ? (at < 0 ? i : V(0)->rank) : at;
    if (!mask && f->rank >= 0 && all != mine && at >= 0 && at < V(0)->rank && value_elements(V(0)) > 0) {
        rank = V(0)->rank; /* a folded list: it picks as many as the file's result has */
        memcpy(size, V(0)->size, sizeof(*size) * (size_t)rank);
        size[at] = all / (value_elements(V(0)) / size[at]);
    }
    if (mask && f->rank >= 0)
        out_add(m, f, value_new(m, V(0)->dtype, f->rank, f->size, NULL));
    else
        out_add(m, f, value_new(m, V(0)->dtype, rank, size, NULL));
}

static void
run_index_select(struct machine *m, struct frame *f)
{
    int64_t size[RANK];
    struct value *v = V(0);
    memcpy(size, v->size, sizeof(*size) * (size_t)v->rank);
    if (v->rank && V(2))
        size[wrap_dim(arg_int(f, 1, 0), v->rank)] = value_elements(V(2));
    out_add(m, f, value_new(m, v->dtype, v->rank, size, NULL));
}

/* zeros, then an accumulating write; under a dispatch mode the write makes a second tensor (reference: areAnyTensorSubclassLike in
 * torch/csrc/autograd/FunctionsManual.cpp). */
static void
run_scatter_backward(struct machine *m, struct frame *f)
{
    struct value *like = V(1);
    bool scatters = strcmp(f->op->source, "scatter.src") == 0;
    struct arg size = ints_arg(m, like->rank, like->size);
    struct value *zeros =
        scatters ? OP(m, "zeros.default", size, DTYPE(V(0)->dtype)) : OP(m, "new_zeros.default", VAL(V(0)), size);
    if (m->real) {
        out_add(m, f, zeros);
        return;
    }
    m->op = f->op->source;
    out_add(m, f, value_new(m, V(0)->dtype, like->rank, like->size, NULL));
}

static void
run_gather(struct machine *m, struct frame *f)
{
    out_add(m, f, value_new(m, V(0)->dtype, V(2)->rank, V(2)->size, NULL));
}

/* ---- reductions ------------------------------------------------------------------------------------------------------------------------------ */

/* Sizes after reducing the dims of argument `dims` (all when absent or empty). */
static int
reduced(const struct frame *f, int dims, int keep, int64_t *size)
{
    int64_t d[RANK];
    const struct value *v = V(0);
    int n = dims >= 0 ? arg_ints(f, dims, d, RANK) : 0, rank = 0;
    bool keepdim = keep >= 0 && arg_int(f, keep, 0);
    bool gone[RANK] = {false};
    for (int i = 0; i < v->rank; i++)
        gone[i] = n == 0;
    for (int i = 0; i < n; i++)
        gone[wrap_dim(d[i], v->rank)] = true;
    for (int i = 0; i < v->rank; i++)
        if (!gone[i] || keepdim)
            size[rank++] = gone[i] ? 1 : v->size[i];
    return rank;
}

/* The kernel's buffers; accumulator: bytes it keeps per partial result. */
static void
reduce_scratch(struct machine *m, const struct frame *f, int dims, int accumulator)
{
    int64_t d[RANK];
    const struct value *v = V(0);
    bool gone[RANK];
    int n = arg_ints(f, dims, d, RANK);
    for (int i = 0; i < v->rank; i++)
        gone[i] = n == 0;
    for (int i = 0; i < n; i++)
        gone[wrap_dim(d[i], v->rank)] = true;
    reduce_workspace(m, v, gone, accumulator);
}

static void
run_sum(struct machine *m, struct frame *f)
{
    int64_t size[RANK];
    int rank = reduced(f, 1, 2, size);
    out_add(m, f,
            value_new(m, stated_dtype(f, dtypes[V(0)->dtype].is_float ? V(0)->dtype : DT_INT64), rank, size, NULL));
    if (V(0)->dtype == DT_BOOL) /* cast first: sum_kernel_cuda in ReduceSumProdKernel.cu */
        scratch(m, 8 * value_elements(V(0)));
    reduce_scratch(m, f, 1, 4);
}

static void
run_reduce(struct machine *m, struct frame *f)
{
    int64_t size[RANK];
    int rank = reduced(f, 1, 2, size);
    out_add(m, f, value_new(m, stated_dtype(f, V(0)->dtype), rank, size, NULL));
    reduce_scratch(m, f, 1, 4);
}

static void
run_reduce_bool(struct machine *m, struct frame *f)
{
    int64_t size[RANK];
    int rank = reduced(f, 1, 2, size);
    out_add(m, f, value_new(m, DT_BOOL, rank, size, NULL));
}

static void
run_reduce_index(struct machine *m, struct frame *f)
{
    int64_t size[RANK];
    int rank = reduced(f, 1, 2, size);
    out_add(m, f, value_new(m, DT_INT64, rank, size, NULL));
}

/* max.dim and its kin: values and int64 indices. */
static void
run_reduce_with_indices(struct machine *m, struct frame *f)
{
    int64_t size[RANK];
    int rank = reduced(f, 1, 2, size);
    out_add(m, f, value_new(m, V(0)->dtype, rank, size, NULL));
    out_add(m, f, value_new(m, DT_INT64, rank, size, NULL));
}

static void
run_topk(struct machine *m, struct frame *f)
{
    int64_t size[RANK];
    struct value *v = V(0);
    memcpy(size, v->size, sizeof(*size) * (size_t)v->rank);
    if (v->rank)
        size[wrap_dim(arg_int(f, 2, -1), v->rank)] = arg_int(f, 1, 1);
    out_add(m, f, value_new(m, v->dtype, v->rank, size, NULL));
    out_add(m, f, value_new(m, DT_INT64, v->rank, size, NULL));
}

static void
run_sort(struct machine *m, struct frame *f)
{
    out_add(m, f, new_like(m, V(0), V(0)->dtype));
    out_add(m, f, new_like(m, V(0), DT_INT64));
}

/* var_mean(self, dim, *, correction, keepdim) */
static void
run_var_mean(struct machine *m, struct frame *f)
{
    int64_t size[RANK];
    int rank = reduced(f, 1, 3, size);
    out_add(m, f, value_new(m, V(0)->dtype, rank, size, NULL));
    out_add(m, f, value_new(m, V(0)->dtype, rank, size, NULL));
    reduce_scratch(m, f, 1, 16); /* WelfordData: mean, M2, two counts */
}

/* norm(self, p, dim, keepdim) */
static void
run_norm(struct machine *m, struct frame *f)
{
    int64_t size[RANK];
    int rank = reduced(f, 2, 3, size);
    out_add(m, f, value_new(m, stated_dtype(f, V(0)->dtype), rank, size, NULL));
    reduce_scratch(m, f, 2, 4);
}

/* sum_to_size: what sum_to in aten/src/ATen/ExpandUtils.h does: reduce with keepdim, then drop leading dimensions by a view. */
static void
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

/* ---- matrix products ------------------------------------------------------------------------------------------------------------------------- */

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

static void
product(struct machine *m, struct frame *f, enum library l, struct value *a, struct value *b)
{
    int64_t n = a->size[0], k = a->size[1], c = b->size[1];
    m->flops += 2.0 * (double)n * (double)k * (double)c;
    use_library(m, LIBRARY_CUBLAS);
    product_kernel(m, l, a, b);
    out_add(m, f, value_new(m, a->dtype, 2, (int64_t[]){n, c}, NULL));
}

static int64_t
inner_of_first(const struct frame *f)
{
    return V(0)->size[V(0)->rank - 1];
}

static int64_t
inner_of_second(const struct frame *f)
{
    return V(1)->size[V(1)->rank - 1];
}

static void
run_mm(struct machine *m, struct frame *f)
{
    product(m, f, LIBRARY_CUBLAS, V(0), V(1));
}

static void
run_addmm(struct machine *m, struct frame *f)
{
    bool epilogue = V(0)->rank == 1; /* the bias: cuda/Blas.cpp */
    if (epilogue)
        use_library(m, LIBRARY_CUBLASLT);
    product(m, f, epilogue ? LIBRARY_CUBLASLT : LIBRARY_CUBLAS, V(1), V(2));
}

static void
batched(struct machine *m, struct frame *f, struct value *a, struct value *b)
{
    int64_t size[] = {a->size[0], a->size[1], b->size[2]};
    m->flops += 2.0 * (double)size[0] * (double)size[1] * (double)a->size[2] * (double)size[2];
    use_library(m, LIBRARY_CUBLAS);
    product_kernel(m, LIBRARY_CUBLAS, a, b);
    out_add(m, f, value_new(m, a->dtype, 3, size, NULL));
}

static void
run_bmm(struct machine *m, struct frame *f)
{
    batched(m, f, V(0), V(1));
}

static void
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
static void
run_mm_mat1_backward(struct machine *m, struct frame *f)
{
    struct value *g = V(0), *mat2 = V(1);
    out_add(m, f,
            column_major(V(2)) ? t(m, OP(m, "mm.default", VAL(mat2), VAL(t(m, g))))
                               : OP(m, "mm.default", VAL(g), VAL(t(m, mat2))));
}

static void
run_mm_mat2_backward(struct machine *m, struct frame *f)
{
    struct value *g = V(0), *mat1 = V(1);
    out_add(m, f,
            column_major(V(2)) ? t(m, OP(m, "mm.default", VAL(t(m, g)), VAL(mat1)))
                               : OP(m, "mm.default", VAL(t(m, mat1)), VAL(g)));
}

static void
run_mv(struct machine *m, struct frame *f)
{
    m->flops += 2.0 * (double)value_elements(V(0));
    out_add(m, f, value_new(m, V(0)->dtype, 1, V(0)->size, NULL));
}

static void
run_addmv(struct machine *m, struct frame *f)
{
    m->flops += 2.0 * (double)value_elements(V(1));
    out_add(m, f, value_new(m, V(1)->dtype, 1, V(1)->size, NULL));
}

static void
run_trilinear(struct machine *m, struct frame *f)
{
    m->flops += 2.0 * (double)V(0)->size[0] * (double)value_elements(V(1));
    out_add(m, f, value_new(m, V(0)->dtype, 2, (int64_t[]){V(0)->size[0], V(1)->size[0]}, NULL));
}

static void
run_trilinear_of(struct machine *m, struct frame *f)
{
    m->op = "_trilinear.default";
    out_add(m, f, value_new(m, V(3)->dtype, V(3)->rank, V(3)->size, NULL));
}

static void
run_dot(struct machine *m, struct frame *f)
{
    m->flops += 2.0 * (double)value_elements(V(0));
    out_add(m, f, value_new(m, V(0)->dtype, 0, NULL, NULL));
}

static void
run_outer(struct machine *m, struct frame *f)
{
    struct value *column = OP(m, "view.default", VAL(V(0)), ints_arg(m, 2, (int64_t[]){V(0)->size[0], 1}));
    out_add(m, f, OP(m, "mul.Tensor", VAL(column), VAL(V(1)))); /* outer in LinearAlgebra.cpp */
}

static void
run_addbmm(struct machine *m, struct frame *f)
{
    struct value *a = V(1), *b = V(2);
    m->flops += 2.0 * (double)value_elements(a) * (double)b->size[2];
    use_library(m, LIBRARY_CUBLAS);
    product_kernel(m, LIBRARY_CUBLAS, a, b);
    out_add(m, f, value_new(m, a->dtype, 2, (int64_t[]){a->size[1], b->size[2]}, NULL));
}

static void
run_addbmm_grad(struct machine *m, struct frame *f)
{
    struct value *g = V(0);
    out_add(m, f,
            value_view(m, g, 3, (int64_t[]){V(1)->size[0], g->size[0], g->size[1]},
                       (int64_t[]){0, g->stride[0], g->stride[1]}));
}

/* ---- convolutions, pools, resampling ------------------------------------------------------------------------------------------------------------- */

static int64_t
at_or(const int64_t *v, int n, int i, int64_t otherwise)
{
    return n == 0 ? otherwise : v[i < n ? i : n - 1];
}

/* cuDNN's operands must be contiguous, channels last or not: those that aren't are copied. Source: cudnn_convolution_forward,
 * cudnn_convolution_backward_input and _weight in native/cudnn/ConvShared.cpp; 1d in native/Convolution.cpp. */
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
        image_new(m, v->dtype, v->rank, v->size, last);
}

static int64_t
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

/* A kernel of the convolution x * w = y, whose stride is argument `at`; kind is of a convolution that is not transposed. A transposed one is
 * the gradient of another. Depthwise ones have kernels of PyTorch's own, but for channels last and float16: use_cudnn_depthwise in
 * native/Convolution.cpp. */
static void
convolution_kernel(struct machine *m, const struct frame *f, int at, enum kernel_kind kind, const struct value *x,
                   const struct value *w, const struct value *y, bool last)
{
    struct kernel_shape s;
    int64_t v[RANK], space[RANK] = {0};
    bool transposed = arg_int(f, at + 3, 0);
    if (!notes_kernels(m))
        return;
    memset(&s, 0, sizeof(s));
    s.groups = arg_int(f, at + 5, 1);
    if (x->rank < 3 || x->rank > KERNEL_RANK || y->rank != x->rank || w->rank != x->rank ||
        (!transposed && s.groups > 1 && x->size[1] == s.groups && !last && x->dtype != DT_FLOAT16))
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

/* convolution(input, weight, bias, stride, padding, dilation, transposed, output_padding, groups). Layout: cudnn_conv_suggest_memory_format
 * in aten/src/ATen/native/ConvUtils.h. */
static void
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
    bool last = channels_last(x) || channels_last(w);
    if (x->rank == 3)
        convolution_operand(m, x, false);
    out_add(m, f, image_new(m, x->dtype, x->rank, size, last));
    if (x->rank > 3) {
        convolution_operand(m, w, last);
        convolution_operand(m, x, last);
    }
    convolution_kernel(m, f, 3, KERNEL_FORWARD, x, w, f->out[0], last);
}

static void
run_convolution_backward(struct machine *m, struct frame *f)
{
    struct value *g = V(0), *x = V(1), *w = V(2), *bias = V(3);
    bool last = channels_last(x) || channels_last(w), gone[RANK];
    if (x->rank == 3)
        convolution_operand(m, x, false);
    convolution_operand(m, g, last);
    int mark = scope_begin(m);
    struct value *dx = f->want & 1 ? image_new(m, x->dtype, x->rank, x->size, last) : NULL;
    if (dx) {
        convolution_operand(m, w, last);
        convolution_kernel(m, f, 4, KERNEL_GRAD_INPUT, x, w, g, last);
    }
    scope_end(m, mark, dx != NULL, &dx);
    out_add(m, f, dx);
    mark = scope_begin(m);
    struct value *dw = f->want & 2 ? image_new(m, w->dtype, w->rank, w->size, last) : NULL;
    if (dw && x->rank > 3)
        convolution_operand(m, x, last);
    if (dw)
        convolution_kernel(m, f, 4, KERNEL_GRAD_WEIGHT, x, w, g, last);
    scope_end(m, mark, dw != NULL, &dw);
    out_add(m, f, dw);
    out_add(m, f, f->want & 4 && bias ? value_new(m, w->dtype, 1, bias->size, NULL) : NULL);
    for (int i = 0; i < g->rank; i++)
        gone[i] = i != 1;
    if (f->want & 4 && bias)
        reduce_workspace(m, g, gone, 4);
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

static void
run_max_pool(struct machine *m, struct frame *f)
{
    int64_t size[RANK];
    pool_sizes(f, true, size);
    out_add(m, f, image_new(m, V(0)->dtype, V(0)->rank, size, channels_last(V(0))));
    out_add(m, f, image_new(m, DT_INT64, V(0)->rank, size, channels_last(V(0))));
}

static void
run_avg_pool(struct machine *m, struct frame *f)
{
    int64_t size[RANK];
    pool_sizes(f, false, size);
    out_add(m, f, image_new(m, V(0)->dtype, V(0)->rank, size, channels_last(V(0))));
}

/* A gradient with the sizes of the second argument, made by the operator that the row's source names. */
static void
run_named(struct machine *m, struct frame *f)
{
    m->op = f->op->source;
    out_add(m, f, value_new(m, V(0)->dtype, V(1)->rank, V(1)->size, NULL));
}

/* adaptive pools and resampling: the spatial sizes are an argument or the file's. */
static void
spatial_sizes(const struct frame *f, int64_t *size)
{
    int64_t want[RANK];
    const struct value *x = V(0);
    int n = arg_ints(f, 1, want, RANK);
    memcpy(size, x->size, sizeof(*size) * (size_t)x->rank);
    for (int i = 0; i < n && n < x->rank; i++)
        if (want[i] > 0)
            size[x->rank - n + i] = want[i];
    if (f->rank == x->rank)
        memcpy(size, f->size, sizeof(*size) * (size_t)x->rank);
}

static void
run_spatial(struct machine *m, struct frame *f)
{
    int64_t size[RANK];
    spatial_sizes(f, size);
    out_add(m, f, image_new(m, V(0)->dtype, V(0)->rank, size, channels_last(V(0))));
}

static void
run_adaptive_max_pool(struct machine *m, struct frame *f)
{
    int64_t size[RANK];
    spatial_sizes(f, size);
    out_add(m, f, image_new(m, V(0)->dtype, V(0)->rank, size, channels_last(V(0))));
    out_add(m, f, image_new(m, DT_INT64, V(0)->rank, size, channels_last(V(0))));
}

static void
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

/* The other way round, and the gradients of both. */
static void
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
    out_add(m, f, value_new(m, v->dtype, v->rank, size, NULL));
}

/* The sizes that the file states: operators that only exporters of torch.export see, where sizes follow from many settings. */
static void
run_stated(struct machine *m, struct frame *f)
{
    struct value *v = V(0);
    out_add(m, f, f->rank >= 0 ? value_new(m, v->dtype, f->rank, f->size, NULL) : new_like(m, v, v->dtype));
}

/* A Fourier transform writes its batch dimensions outside, its own inside, each in the order of the input's strides. Source: _exec_fft and _sort_dims
 * in torch/_meta_registrations.py, of native/cuda/SpectralOps.cpp. */
static void
transform_new(struct machine *m, struct frame *f, enum dtype t, const int64_t *size)
{
    int64_t dims[RANK], stride[RANK], run = 1;
    struct value *v = V(0);
    int order[RANK] = {0}, n = arg_ints(f, 1, dims, RANK), at = 0;
    for (int own = 0; own < 2; own++)
        for (int i = 0; i < v->rank; i++) {
            bool mine = false;
            for (int k = 0; k < n; k++)
                mine |= wrap_dim(dims[k], v->rank) == i;
            if (mine != own)
                continue;
            int k = at++;
            for (; k > 0 && v->stride[order[k - 1]] < v->stride[i]; k--) {
                bool other = false;
                for (int j = 0; j < n; j++)
                    other |= wrap_dim(dims[j], v->rank) == order[k - 1];
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

static enum dtype
real_of(enum dtype t)
{
    return t == DT_COMPLEX128 ? DT_DOUBLE : t == DT_COMPLEX64 ? DT_FLOAT : t;
}

static void
run_fft_c2c(struct machine *m, struct frame *f)
{
    transform_new(m, f, V(0)->dtype, V(0)->size);
}

/* The last named dimension is halved, or grows back. */
static void
run_fft_real(struct machine *m, struct frame *f)
{
    int64_t dims[RANK], size[RANK] = {0};
    struct value *v = V(0);
    int n = arg_ints(f, 1, dims, RANK), last = n ? wrap_dim(dims[n - 1], v->rank) : 0;
    bool inverse = real_of(v->dtype) != v->dtype;
    memcpy(size, v->size, sizeof(*size) * (size_t)v->rank);
    if (v->rank && inverse)
        size[last] = arg_int(f, 3, size[last]);
    else if (v->rank && arg_int(f, 3, 0))
        size[last] = size[last] / 2 + 1;
    transform_new(m, f, inverse ? real_of(v->dtype) : complex_of(v->dtype), size);
}

/* A complex tensor seen as pairs of reals, and the first of each pair. */
static void
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

static void
run_real(struct machine *m, struct frame *f)
{
    int64_t stride[RANK];
    struct value *v = V(0);
    for (int i = 0; i < v->rank; i++)
        stride[i] = 2 * v->stride[i];
    struct value *w = value_view(m, v, v->rank, v->size, stride);
    w->dtype = real_of(v->dtype);
    out_add(m, f, w);
}

static void
run_complex(struct machine *m, struct frame *f)
{
    elementwise(m, f, 0, 2, complex_of(V(0)->dtype));
}

static void
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

/* grid_sampler(input, grid): the input's channels at the grid's points. */
static void
run_grid_sampler(struct machine *m, struct frame *f)
{
    struct value *x = V(0), *grid = V(1);
    int64_t size[RANK] = {x->size[0], x->size[1]};
    for (int i = 2; i < x->rank; i++)
        size[i] = grid->size[i - 1];
    out_add(m, f, image_new(m, x->dtype, x->rank, size, channels_last(x)));
}

static void
run_grid_sampler_backward(struct machine *m, struct frame *f)
{
    for (int i = 0; i < 2; i++)
        out_add(m, f, f->want >> i & 1 ? value_new(m, V(1 + i)->dtype, V(1 + i)->rank, V(1 + i)->size, NULL) : NULL);
}

/* A kernel's result of the size that the file states; without it, as large as its input. */
static void
run_kernel(struct machine *m, struct frame *f)
{
    struct value *x = V(0);
    out_add(m, f, value_new(m, x->dtype, f->rank >= 0 ? f->rank : x->rank, f->rank >= 0 ? f->size : x->size, NULL));
}

/* (grad, input, weight, offset, mask, bias): what is wanted of the last five */
static void
run_deform_backward(struct machine *m, struct frame *f)
{
    for (int i = 0; i < 5; i++) {
        struct value *v = V(1 + i);
        out_add(m, f, v && f->want >> i & 1 ? value_new(m, v->dtype, v->rank, v->size, NULL) : NULL);
    }
}

/* ---- normalization ---------------------------------------------------------------------------------------------------------------------------------- */

static enum dtype
statistics_type(const struct value *v)
{
    return v->dtype == DT_DOUBLE ? DT_DOUBLE : DT_FLOAT; /* accumulated in fp32 for half types */
}

static void
run_batch_norm(struct machine *m, struct frame *f)
{
    struct value *x = V(0);
    out_add(m, f, new_like(m, x, x->dtype));
    for (int i = 0; i < 2; i++)
        out_add(m, f, value_new(m, statistics_type(x), 1, &x->size[1], NULL));
}

/* (input, grad, weight, ...) or native's (grad, input, weight, ...): both are tensors of the input's sizes. */
static void
run_batch_norm_backward(struct machine *m, struct frame *f)
{
    struct value *x = V(0), *w = V(2);
    out_add(m, f, f->want & 1 ? new_like(m, x, x->dtype) : NULL);
    enum dtype t = w ? w->dtype : statistics_type(x);
    for (int i = 1; i < 3; i++)
        out_add(m, f, f->want >> i & 1 ? value_new(m, t, 1, &x->size[1], NULL) : NULL);
}

/* native_layer_norm(input, normalized_shape, weight, bias, eps) */
static void
run_layer_norm(struct machine *m, struct frame *f)
{
    int64_t shape[RANK], size[RANK];
    struct value *x = V(0);
    int n = arg_ints(f, 1, shape, RANK);
    for (int i = 0; i < x->rank; i++)
        size[i] = i < x->rank - n ? x->size[i] : 1;
    out_add(m, f, value_new(m, x->dtype, x->rank, x->size, NULL)); /* contiguous, whatever the input is */
    for (int i = 0; i < 2; i++)
        out_add(m, f, value_new(m, statistics_type(x), x->rank, size, NULL));
}

/* native_layer_norm_backward(grad, input, mean, rstd, weight, bias) */
static void
run_layer_norm_backward(struct machine *m, struct frame *f)
{
    struct value *x = V(1);
    out_add(m, f, f->want & 1 ? value_new(m, x->dtype, x->rank, x->size, NULL) : NULL);
    for (int i = 1; i < 3; i++) {
        struct value *w = V(3 + i);
        out_add(m, f, f->want >> i & 1 && w ? value_new(m, w->dtype, w->rank, w->size, NULL) : NULL);
    }
}

/* native_group_norm(input, weight, bias, N, C, HxW, group, eps) */
static void
run_group_norm(struct machine *m, struct frame *f)
{
    struct value *x = V(0);
    int64_t stat[] = {arg_int(f, 3, x->size[0]), arg_int(f, 6, 1)};
    out_add(m, f, new_like(m, x, x->dtype));
    for (int i = 0; i < 2; i++)
        out_add(m, f, value_new(m, x->dtype, 2, stat, NULL));
}

/* _fused_rms_norm(input, normalized_shape, weight, eps) */
static void
run_rms_norm(struct machine *m, struct frame *f)
{
    int64_t shape[RANK], size[RANK];
    struct value *x = V(0);
    int n = arg_ints(f, 1, shape, RANK);
    for (int i = 0; i < x->rank; i++)
        size[i] = i < x->rank - n ? x->size[i] : 1;
    out_add(m, f, new_like(m, x, x->dtype));
    out_add(m, f, value_new(m, statistics_type(x), x->rank, size, NULL));
}

/* ---- attention ------------------------------------------------------------------------------------------------------------------------------------------ */

static void
attention_flops(struct machine *m, const struct value *q, const struct value *k, const struct value *v)
{
    m->flops += 2.0 * (double)q->size[0] * (double)q->size[1] * (double)q->size[2] * (double)k->size[2] *
                (double)(q->size[3] + v->size[3]);
}

/* The output lies as [B, S, H, D]; log-sum-exp rows are padded to 32. Source: mem_eff attention in
 * aten/src/ATen/native/transformers/cuda/attention.cu; meta__scaled_dot_product_efficient_attention. */
static void
run_efficient_attention(struct machine *m, struct frame *f)
{
    struct value *q = V(0), *k = V(1), *v = V(2);
    int64_t size[] = {q->size[0], q->size[1], q->size[2], v->size[3]};
    int64_t stride[] = {size[2] * size[1] * size[3], size[3], size[1] * size[3], 1};
    int64_t lse[] = {size[0], size[1], arg_int(f, 4, 0) ? (size[2] + 31) / 32 * 32 : 0};
    out_add(m, f, value_new(m, q->dtype, 4, size, stride));
    out_add(m, f, value_new(m, DT_FLOAT, 3, lse, NULL));
    for (int i = 0; i < 2; i++) /* philox seed and offset: on the CPU when nothing is dropped */
        out_add(m, f, !m->real || arg_float(f, 5, 0) > 0 ? value_new(m, DT_INT64, 0, NULL, NULL) : NULL);
    attention_flops(m, q, k, v);
}

/* The output takes the query's order of strides ([B, S, H, D] views transposed). Source: meta__scaled_dot_product_flash_attention. */
static void
run_flash_attention(struct machine *m, struct frame *f)
{
    struct value *q = V(0), *k = V(1), *v = V(2);
    int64_t lse[] = {q->size[0], q->size[1], q->size[2]}, two = 2;
    out_add(m, f, new_like(m, q, q->dtype));
    out_add(m, f, value_new(m, DT_FLOAT, 3, lse, NULL));
    out_add(m, f, value_new(m, DT_UINT64, 1, &two, NULL)); /* rng state and an unused tensor */
    out_add(m, f, value_new(m, DT_UINT64, 0, NULL, NULL));
    attention_flops(m, q, k, v);
}

/* What the backward kernel takes: the products for delta, delta, and a dQ accumulator of 64 x 64 tiles. Source: kernel_backward.h in
 * transformers/cuda/mem_eff_attention, workspace_elements_gq. */
static void
efficient_backward_scratch(struct machine *m, const struct value *q, const struct value *v)
{
    int64_t heads = q->size[0] * q->size[1], s = q->size[2], d = q->size[3] > v->size[3] ? q->size[3] : v->size[3];
    bool half = q->dtype != DT_FLOAT;
    int64_t rows = half && d > 64 ? 128 : d > 64 ? 128 : 64, cols = half && d > 64 && d <= 128 ? 128 : 64;
    if (!m->real)
        return;
    int mark = scope_begin(m);
    int64_t delta[] = {heads, s};
    m->fresh = CLASS_WORKSPACE;
    if (!half)
        scratch(m, 4 * heads * s * v->size[3]);
    value_new(m, DT_FLOAT, 2, delta, NULL);
    scratch(m, heads * 4 * ((div_up(s, rows) * div_up(d, cols) * (4 + rows * cols) + 3) / 4 * 4));
    m->fresh = CLASS_TEMPORARIES;
    scope_end(m, mark, 0, NULL);
}

/* dQ, dK, dV lie as [B, S, H, D]; dBias when it needs one. Source: meta__scaled_dot_product_efficient_attention_backward. */
static void
run_efficient_attention_backward(struct machine *m, struct frame *f)
{
    for (int i = 0; i < 3; i++) {
        struct value *v = V(1 + i);
        int64_t stride[] = {v->size[1] * v->size[2] * v->size[3], v->size[3], v->size[1] * v->size[3], 1};
        out_add(m, f, value_new(m, v->dtype, 4, v->size, stride));
    }
    out_add(m, f, V(4) && f->want >> 3 & 1 ? value_new(m, V(4)->dtype, 4, V(4)->size, NULL) : NULL);
    efficient_backward_scratch(m, V(1), V(3));
}

/* Layouts follow the operands; seed and offset are on the device. Source: cudnn/MHA.cpp. */
static void
run_cudnn_attention(struct machine *m, struct frame *f)
{
    struct value *q = V(0), *k = V(1), *v = V(2);
    int64_t lse[] = {q->size[0], q->size[1], q->size[2], 1};
    struct value *seed = value_new(m, DT_INT64, 0, NULL, NULL), *offset = value_new(m, DT_INT64, 0, NULL, NULL);
    out_add(m, f, new_like(m, q, q->dtype));
    out_add(m, f, value_new(m, DT_FLOAT, 4, lse, NULL));
    out_add(m, f, seed);
    out_add(m, f, offset);
    attention_flops(m, q, k, v);
}

/* At least the fp32 dQ accumulator and the row sums of the open front end; what the engine adds only the library knows. */
static void
run_cudnn_attention_backward(struct machine *m, struct frame *f)
{
    struct value *q = V(1);
    for (int i = 1; i < 4; i++)
        out_add(m, f, new_like(m, V(i), V(i)->dtype));
    scratch(m, q->size[0] * q->size[1] * q->size[2] * (4 * q->size[3] + 4));
}

/* dQ, dK, dV in their operands' layout. */
static void
run_flash_attention_backward(struct machine *m, struct frame *f)
{
    for (int i = 1; i < 4; i++)
        out_add(m, f, new_like(m, V(i), V(i)->dtype));
}

/* ---- losses ------------------------------------------------------------------------------------------------------------------------------------------------ */

/* The structured kernel sizes its result like the input and resizes it to a scalar at the end, so the storage stays as large; the
 * differences go to a second tensor of that size. Source: mse_loss in native/BinaryOps.cpp and native/Loss.cpp; seen in what PyTorch's
 * allocator holds after the step. */
static void
run_scalar_loss(struct machine *m, struct frame *f)
{
    struct value *v = V(0);
    struct value *full = m->real ? value_new(m, v->dtype, v->rank, v->size, NULL) : NULL;
    out_add(m, f, full ? value_view(m, full, 0, NULL, NULL) : value_new(m, v->dtype, 0, NULL, NULL));
    if (full) {
        bool all[RANK];
        struct value *differences = new_like(m, full, v->dtype);
        memset(all, true, sizeof(all));
        reduce_workspace(m, differences, all, 4);
    }
}

/* (self, target, reduction): reduced to a number unless the reduction is 0. */
static void
run_loss(struct machine *m, struct frame *f)
{
    if (arg_int(f, 2, 1) == 0)
        elementwise(m, f, 0, 2, promote(f->a, 2));
    else
        run_scalar_loss(m, f);
}

/* Source: binary_cross_entropy_with_logits in Loss.cpp: (1 - target).mul_(input).sub_(log_sigmoid(input)), then the mean. A dispatch
 * mode sees only the result. */
static void
run_bce(struct machine *m, struct frame *f)
{
    if (m->real) {
        OP(m, "log_sigmoid_forward.default", VAL(V(0)));
        OP(m, "rsub.Scalar", VAL(V(1)), INT(1));
    }
    out_add(m, f, value_new(m, V(0)->dtype, 0, NULL, NULL));
}

static void
run_nll_loss(struct machine *m, struct frame *f)
{
    bool each = arg_int(f, 3, 1) == 0; /* reduction: a loss for every target */
    for (int i = 0; i < 2; i++)        /* loss, total_weight */
        out_add(m, f, value_new(m, V(0)->dtype, each && !i && V(1) ? V(1)->rank : 0, V(1)->size, NULL));
}

/* ---- several outputs that are all like the input ------------------------------------------------------------------------------------------------------------- */

static void
run_dropout(struct machine *m, struct frame *f)
{
    struct value *mask =
        m->real ? new_like(m, V(0), DT_BOOL) : NULL; /* first, in dropout_cuda in native/cuda/Dropout.cu */
    out_add(m, f, new_like(m, V(0), V(0)->dtype));
    out_add(m, f, mask ? mask : new_like(m, V(0), DT_BOOL));
}

static void
run_second_like(struct machine *m, struct frame *f)
{
    out_add(m, f, new_like(m, V(1), V(0)->dtype));
}

static void
run_glu(struct machine *m, struct frame *f)
{
    int64_t size[RANK];
    struct value *v = V(0);
    memcpy(size, v->size, sizeof(*size) * (size_t)v->rank);
    size[wrap_dim(arg_int(f, 1, -1), v->rank)] /= 2;
    out_add(m, f, value_new(m, v->dtype, v->rank, size, NULL));
}

static void
run_softmax(struct machine *m, struct frame *f)
{
    struct value *v = V(0);
    enum dtype t = f->n > 2 && f->a[2].kind == ARG_DTYPE ? (enum dtype)f->a[2].i : v->dtype;
    out_add(m, f, new_like(m, v, t));
}

static void
run_softmax_backward(struct machine *m, struct frame *f)
{
    out_add(m, f, new_like(m, V(0), f->n > 2 && V(2) ? V(2)->dtype : V(0)->dtype));
}

/* grad * output comes first. Source: softmax_backward_cuda_out in native/cuda/SoftMax.cu. */
static void
run_softmax_backward_data(struct machine *m, struct frame *f)
{
    run_softmax_backward(m, f);
    if (m->real)
        new_like(m, V(0), V(0)->dtype);
}

static void
run_prelu_backward(struct machine *m, struct frame *f)
{
    out_add(m, f, new_like(m, V(1), V(1)->dtype));
    out_add(m, f, new_like(m, V(1), V(1)->dtype));
}

static void
run_embedding_backward(struct machine *m, struct frame *f)
{
    out_add(m, f, embedding_backward(m, V(0), V(1), V(2)));
}

/* Result, offset2bag, bag_size and, unless it is of the maximum, as many unused indices. Source: meta_embedding_bag in torch/_meta_registrations.py. */
static void
run_embedding_bag(struct machine *m, struct frame *f)
{
    struct value *w = V(0), *offsets = V(2);
    int64_t picks = value_elements(V(1)), bags = value_elements(offsets), size[] = {bags, w->size[w->rank - 1]};
    out_add(m, f, value_new(m, w->dtype, 2, f->rank == 2 ? f->size : size, NULL));
    out_add(m, f, value_new(m, DT_INT64, 1, &picks, NULL));
    out_add(m, f, value_new(m, DT_INT64, 1, &bags, NULL));
    out_add(m, f, value_new(m, DT_INT64, arg_int(f, 4, 0) == 2 ? 2 : 1, size, NULL));
}

static void
run_nonzero(struct machine *m, struct frame *f)
{
    if (f->rank >= 0)
        out_add(m, f, value_new(m, DT_INT64, f->rank, f->size, NULL));
}

/* What stands in for an operator without a rule: the sizes that the file states, the type of its first tensor. */
static void
run_stand_in(struct machine *m, struct frame *f)
{
    if (f->rank >= 0 && f->a[0].n)
        out_add(m, f, value_new(m, f->a[0].list[0].v->dtype, f->rank, f->size, NULL));
}

static void
run_stand_in_backward(struct machine *m, struct frame *f)
{
    for (int i = 0; i < f->a[1].n; i++)
        out_add(m, f, new_like(m, f->a[1].list[i].v, V(0)->dtype));
}

/* w and the norms of v, along one dimension. Source: weight_norm_cuda in aten/src/ATen/native/cuda/WeightNorm.cu. */
static void
run_weight_norm(struct machine *m, struct frame *f)
{
    out_add(m, f, new_like(m, V(0), V(0)->dtype));
    out_add(m, f, new_like(m, V(1), statistics_type(V(1))));
}

static void
run_weight_norm_backward(struct machine *m, struct frame *f)
{
    for (int i = 0; i < 2; i++)
        out_add(m, f, f->want >> i & 1 ? new_like(m, V(1 + i), V(1 + i)->dtype) : NULL);
}

/* x[a:b] = y as the exporter writes it, without side effects: eager writes into x. */
static void
run_over(struct machine *m, struct frame *f)
{
    out_add(m, f, value_view(m, V(0), V(0)->rank, V(0)->size, V(0)->stride));
}

/* ---- the table ------------------------------------------------------------------------------------------------------------------------------------------------- */

static const char rnn_assumes[] = "cuDNN does not say what it keeps of a recurrent layer for the backward pass: taken "
                                  "as its gates, cells and outputs, "
                                  "without workspaces";

/* Another name or overload of a row that takes the same arguments. */
#define ALIAS(alias, row, tensors, arguments)                                                                     \
    {                                                                                                             \
        .name = alias, .takes = tensors, .args = arguments, .run = expand_alias, .grad = COMPOSITE, .source = row \
    }

const struct aten aten_table[] = {
    /* arithmetic */
    {.name = "add.Tensor",
     .takes = "?",
     .args = "self other alpha",
     .run = run_binary,
     .grad = "other: grad; self: grad"},
    {.name = "add.Scalar", .args = "self other alpha", .run = run_binary, .grad = "self: grad"},
    {.name = "sub.Tensor",
     .takes = "?",
     .args = "self other alpha",
     .run = run_binary,
     .grad = "other: neg(grad); self: grad"},
    {.name = "sub.Scalar", .args = "self other alpha", .run = run_binary, .grad = "self: grad"},
    {.name = "rsub.Scalar", .args = "self other alpha", .run = run_binary, .grad = "self: neg(grad)"},
    {.name = "rsub.Tensor",
     .takes = "?",
     .args = "self other alpha",
     .run = run_binary,
     .grad = "other: grad; self: neg(grad)"},
    {.name = "mul.Tensor",
     .takes = "?",
     .args = "self other",
     .run = run_binary,
     .grad = "other: mul.Tensor(grad, self); self: mul.Tensor(grad, other)"},
    {.name = "mul.Scalar", .args = "self other", .run = run_binary, .grad = "self: mul.Scalar(grad, other)"},
    {.name = "div.Tensor",
     .takes = "?",
     .args = "self other",
     .run = run_divide,
     .grad = "other: mul.Tensor(div.Tensor(div.Tensor(self, other), other), neg(grad)); self: div.Tensor(grad, other)"},
    {.name = "div.Scalar", .args = "self other", .run = run_divide, .grad = "self: div.Scalar(grad, other)"},
    {.name = "div.Tensor_mode",
     .takes = "?",
     .args = "self other rounding_mode",
     .run = run_binary,
     .grad = "other: kept(zeros_like(grad), self, other); self: kept(zeros_like(grad), other)"},
    {.name = "floor_divide.default", .takes = "?", .args = "self other", .run = run_binary},
    {.name = "remainder.Scalar", .args = "self other", .run = run_binary, .grad = "self: grad"},
    {.name = "remainder.Tensor",
     .takes = "?",
     .args = "self other",
     .run = run_binary,
     .grad = "other: mul.Tensor~(neg(grad), div.Tensor_mode(self, other)); self: grad"},
    {.name = "fmod.Scalar", .args = "self other", .run = run_binary, .grad = "self: grad"},
    {.name = "fmod.Tensor",
     .takes = "..",
     .args = "self other",
     .run = run_binary,
     .grad = "other: mul.Tensor~(neg(grad), div.Tensor_mode(self, other)); self: grad"},
    {.name = "neg.default", .args = "self", .run = run_unary, .grad = "self: neg(grad)"},
    {.name = "pow.Tensor_Scalar",
     .args = "self exponent",
     .run = run_binary,
     .cast = CAST_FP32,
     .grad = "self: mul.Tensor(grad, mul.Scalar(pow.Tensor_Scalar(self, exponent), 2))"},
    {.name = "pow.Tensor_Tensor",
     .takes = "..",
     .args = "self exponent",
     .run = run_binary,
     .cast = CAST_FP32,
     .grad =
         "exponent: pow_backward_exponent(grad, self, exponent, result); self: where.self~(eq.Scalar(exponent, 0), "
         "zero_of(grad), mul.Tensor(grad, mul.Tensor(exponent, pow.Tensor_Tensor(self, sub.Scalar(exponent, 1)))))"},
    {.name = "pow_backward_exponent",
     .takes = "....",
     .args = "grad self exponent result",
     .run = expand_pow_backward_exponent,
     .grad = COMPOSITE},
    {.name = "zero_of", .args = "grad", .run = run_zero_of, .source = "scalar_tensor.default"},
    /* its first argument; the formula keeps the others, which the kernel reads or not */
    {.name = "kept", .args = "grad a b c", .run = expand_same, .grad = COMPOSITE},
    {.name = "pow.Scalar",
     .takes = "-.",
     .args = "self exponent",
     .run = run_binary,
     .cast = CAST_FP32,
     .grad = "exponent: mul.Tensor(grad, mul.Scalar(result, exponent))"}, /* the base's logarithm, but saves exponent */
    {.name = "square.default", .args = "self", .run = run_unary, .grad = "self: mul.Tensor(grad, mul.Scalar(self, 2))"},
    {.name = "sqrt.default",
     .args = "self",
     .run = run_unary_float,
     .grad = "self: div.Tensor(grad, mul.Scalar(result, 2))"},
    {.name = "rsqrt.default",
     .args = "self",
     .run = run_unary_float,
     .cast = CAST_FP32,
     .grad = "self: mul.Tensor~(mul.Scalar(grad, 2), pow.Tensor_Scalar(result, 3))"},
    {.name = "reciprocal.default",
     .args = "self",
     .run = run_unary_float,
     .cast = CAST_FP32,
     .grad = "self: mul.Tensor~(neg(grad), mul.Tensor(result, result))"},
    {.name = "abs.default", .args = "self", .run = run_unary, .grad = "self: mul.Tensor(grad, sgn(self))"},
    {.name = "sgn.default", .args = "self", .run = run_unary, .grad = "self: zeros_like(grad)"},
    {.name = "sign.default", .args = "self", .run = run_unary, .grad = "self: zeros_like(grad)"},
    {.name = "exp.default",
     .args = "self",
     .run = run_unary_float,
     .cast = CAST_FP32,
     .grad = "self: mul.Tensor(grad, result)"},
    {.name = "expm1.default",
     .args = "self",
     .run = run_unary_float,
     .cast = CAST_FP32,
     .grad = "self: mul.Tensor(grad, add.Scalar(result, 1))"},
    {.name = "log.default",
     .args = "self",
     .run = run_unary_float,
     .cast = CAST_FP32,
     .grad = "self: div.Tensor(grad, self)"},
    {.name = "log2.default",
     .args = "self",
     .run = run_unary_float,
     .cast = CAST_FP32,
     .grad = "self: div.Tensor(grad, mul.Scalar(self, 2))"},
    {.name = "log1p.default",
     .args = "self",
     .run = run_unary_float,
     .cast = CAST_FP32,
     .grad = "self: div.Tensor(grad, add.Scalar(self, 1))"},
    {.name = "sin.default", .args = "self", .run = run_unary_float, .grad = "self: mul.Tensor(grad, cos(self))"},
    {.name = "cos.default", .args = "self", .run = run_unary_float, .grad = "self: mul.Tensor(grad, neg(sin(self)))"},
    {.name = "tan.default",
     .args = "self",
     .run = run_unary_float,
     .cast = CAST_FP32,
     .grad = "self: mul.Tensor(grad, add.Scalar(pow.Tensor_Scalar(result, 2), 1))"},
    {.name = "atan.default",
     .args = "self",
     .run = run_unary_float,
     .grad = "self: div.Tensor(grad, add.Scalar(mul.Tensor(self, self), 1))"},
    {.name = "asin.default",
     .args = "self",
     .run = run_unary_float,
     .cast = CAST_FP32,
     .grad = "self: mul.Tensor(grad, rsqrt(add.Scalar(mul.Tensor(neg(self), self), 1)))"},
    {.name = "acos.default",
     .args = "self",
     .run = run_unary_float,
     .cast = CAST_FP32,
     .grad = "self: mul.Tensor(grad, neg(rsqrt(add.Scalar(mul.Tensor(neg(self), self), 1))))"},
    {.name = "asinh.default",
     .args = "self",
     .run = run_unary_float,
     .grad = "self: mul.Tensor(grad, rsqrt(add.Scalar(pow.Tensor_Scalar(self, 2), 1)))"},
    {.name = "acosh.default",
     .args = "self",
     .run = run_unary_float,
     .grad = "self: mul.Tensor(grad, rsqrt(sub.Scalar(mul.Tensor(self, self), 1)))"},
    {.name = "atanh.default",
     .args = "self",
     .run = run_unary_float,
     .grad = "self: div.Tensor~(mul.Scalar(grad, 1), empty_like(pow.Tensor_Scalar(self, 2)))"},
    {.name = "sinh.default",
     .args = "self",
     .run = run_unary_float,
     .cast = CAST_FP32,
     .grad = "self: mul.Tensor(grad, cosh(self))"},
    {.name = "cosh.default",
     .args = "self",
     .run = run_unary_float,
     .cast = CAST_FP32,
     .grad = "self: mul.Tensor(grad, sinh(self))"},
    {.name = "log10.default",
     .args = "self",
     .run = run_unary_float,
     .cast = CAST_FP32,
     .grad = "self: div.Tensor(grad, mul.Scalar(self, 2))"},
    {.name = "erfc.default",
     .args = "self",
     .run = run_unary_float,
     .grad = "self: mul.Tensor(mul.Scalar(exp(neg(pow.Tensor_Scalar(self, 2))), 1), grad)"},
    {.name = "exp2.default",
     .args = "self",
     .run = run_unary_float,
     .grad = "self: mul.Scalar(mul.Tensor(grad, result), 1)"},
    {.name = "hypot.default",
     .takes = "..",
     .args = "self other",
     .run = run_binary,
     .grad = "other: mul.Tensor~(grad, div.Tensor(other, result)); self: mul.Tensor~(grad, div.Tensor(self, result))"},
    {.name = "logaddexp.default",
     .takes = "..",
     .args = "self other",
     .run = run_binary,
     .grad = "other: div.Tensor(grad, add.Scalar(exp(sub.Tensor(self, other)), 1)); self: div.Tensor(grad, "
             "add.Scalar(exp(sub.Tensor(other, self)), 1))"},
    {.name = "xlogy.Tensor",
     .takes = "..",
     .args = "self other",
     .run = run_binary,
     .grad = "other: div.Tensor(mul.Tensor(grad, self), other); self: masked_fill.Scalar(xlogy(grad, other), "
             "bitwise_and.Tensor~(eq.Scalar(self, 0), le.Scalar(other, 0)), 0)"},
    {.name = "atan2.default",
     .takes = "..",
     .args = "self other",
     .run = run_divide,
     .cast = CAST_PROMOTE,
     .grad = "self, other: atan2_backward(grad, self, other)"},
    {.name = "atan2_backward", .args = "grad self other", .run = expand_atan2_backward, .grad = COMPOSITE},
    {.name = "logaddexp2.default",
     .takes = "..",
     .args = "self other",
     .run = run_binary,
     .grad = "other: div.Tensor(grad, add.Scalar(pow.Scalar(2, sub.Tensor(self, other)), 1)); self: div.Tensor(grad, "
             "add.Scalar(pow.Scalar(2, sub.Tensor(other, self)), 1))"},
    {.name = "logit.default", .args = "self eps", .run = run_unary_float, .grad = "self: logit_backward(grad, self)"},
    {.name = "logit_backward.default", .args = "grad self", .run = run_binary},
    {.name = "deg2rad.default", .args = "self", .run = run_unary_float, .grad = "self: mul.Scalar(grad, 1)"},
    {.name = "rad2deg.default", .args = "self", .run = run_unary_float, .grad = "self: mul.Scalar(grad, 1)"},
    {.name = "linalg_cross.default",
     .takes = "..",
     .args = "self other dim",
     .run = run_binary,
     .grad = "other: linalg_cross(grad, self); self: linalg_cross(other, grad)"},
    {.name = "isneginf.default", .args = "self", .run = run_compare},
    {.name = "isposinf.default", .args = "self", .run = run_compare},
    {.name = "isclose.default", .takes = "..", .args = "self other", .run = run_compare},
    {.name = "signbit.default", .args = "self", .run = run_compare},
    {.name = "heaviside.default", .takes = "..", .args = "self values", .run = run_binary},
    {.name = "complex.default",
     .takes = "..",
     .args = "real imag",
     .run = run_complex,
     .grad = "imag: kept(real(grad), imag); real: kept(real(grad), real)"},
    {.name = "polar.default",
     .takes = "..",
     .args = "abs angle",
     .run = run_complex,
     .grad = "abs, angle: polar_backward(grad, result)"},
    {.name = "polar_backward", .takes = "..", .args = "grad result", .run = expand_polar_backward, .grad = COMPOSITE},
    {.name = "frac.default", .args = "self", .run = run_unary, .grad = "self: grad"},
    {.name = "nan_to_num.default",
     .args = "self nan posinf neginf",
     .run = run_unary,
     .grad = "self: mul.Tensor(grad, isfinite(self))"},
    {.name = "isfinite.default", .args = "self", .run = run_compare},
    {.name = "erf.default",
     .args = "self",
     .run = run_unary_float,
     .grad = "self: mul.Tensor(mul.Scalar(exp(neg(pow.Tensor_Scalar(self, 2))), 1), grad)"},
    {.name = "floor.default", .args = "self", .run = run_unary, .grad = "self: zeros_like(grad)"},
    {.name = "ceil.default", .args = "self", .run = run_unary, .grad = "self: zeros_like(grad)"},
    {.name = "round.default", .args = "self", .run = run_unary, .grad = "self: zeros_like(grad)"},
    {.name = "trunc.default", .args = "self", .run = run_unary, .grad = "self: zeros_like(grad)"},
    {.name = "lerp.Scalar",
     .args = "self end weight",
     .run = run_binary,
     .grad = "end: mul.Scalar(grad, 1); self: mul.Scalar(grad, 1)"},
    {.name = "lerp.Tensor",
     .takes = "...",
     .args = "self end weight",
     .run = run_elementwise,
     .grad = "end: mul.Tensor(grad, weight); self: mul.Tensor(grad, empty_like(weight)); weight: mul.Tensor(grad, "
             "sub.Tensor(end, self))"},
    {.name = "addcmul.default",
     .takes = "...",
     .args = "self tensor1 tensor2 value",
     .run = run_elementwise,
     .cast = CAST_PROMOTE,
     .grad = "self: grad; tensor1: mul.Tensor(grad, mul.Scalar(tensor2, 1)); "
             "tensor2: mul.Tensor(grad, mul.Scalar(tensor1, 1))"},
    {.name = "addcdiv.default",
     .takes = "...",
     .args = "self tensor1 tensor2 value",
     .run = run_elementwise,
     .cast = CAST_PROMOTE,
     .grad = "self: grad; tensor1: mul.Tensor(grad, empty_like(tensor2)); tensor2: mul.Tensor~(neg(grad), "
             "div.Tensor~(mul.Scalar(tensor1, 1), mul.Tensor(tensor2, tensor2)))"},

    /* activations */
    {.name = "relu.default", .args = "self", .run = run_unary, .grad = "self: threshold_backward(grad, result)"},
    {.name = "threshold_backward.default", .args = "grad self", .run = run_binary},
    {.name = "leaky_relu.default",
     .args = "self negative_slope",
     .run = run_unary,
     .keeps_result = true,
     .grad = "self: leaky_relu_backward(grad, self)"},
    {.name = "leaky_relu_backward.default", .args = "grad self", .run = run_binary},
    {.name = "elu.default",
     .args = "self alpha scale input_scale",
     .run = run_unary,
     .keeps_result = true,
     .grad = "self: elu_backward(grad, self)"},
    {.name = "elu_backward.default", .args = "grad self", .run = run_binary},
    {.name = "celu.default",
     .args = "self alpha",
     .run = run_unary,
     .keeps_result = true,
     .grad = "self: elu_backward(grad, self)"},
    ALIAS("selu.default", "elu.default", NULL, "self"),
    {.name = "gelu.default", .args = "self approximate", .run = run_unary, .grad = "self: gelu_backward(grad, self)"},
    {.name = "gelu_backward.default", .args = "grad self", .run = run_binary},
    {.name = "silu.default", .args = "self", .run = run_unary, .grad = "self: silu_backward(grad, self)"},
    {.name = "silu_backward.default", .args = "grad self", .run = run_binary},
    {.name = "mish.default", .args = "self", .run = run_unary, .grad = "self: mish_backward(grad, self)"},
    {.name = "mish_backward.default", .args = "grad self", .run = run_binary},
    {.name = "hardtanh.default",
     .args = "self min_val max_val",
     .run = run_unary,
     .grad = "self: hardtanh_backward(grad, self)"},
    {.name = "hardtanh_backward.default", .args = "grad self", .run = run_binary},
    ALIAS("relu6.default", "hardtanh.default", NULL, "self"),
    {.name = "hardswish.default", .args = "self", .run = run_unary, .grad = "self: hardswish_backward(grad, self)"},
    {.name = "hardswish_backward.default", .args = "grad self", .run = run_binary},
    {.name = "hardsigmoid.default", .args = "self", .run = run_unary, .grad = "self: hardsigmoid_backward(grad, self)"},
    {.name = "hardsigmoid_backward.default", .args = "grad self", .run = run_binary},
    {.name = "softplus.default",
     .args = "self beta threshold",
     .run = run_unary,
     .cast = CAST_FP32,
     .grad = "self: softplus_backward(grad, self)"},
    {.name = "softplus_backward.default", .args = "grad self", .run = run_binary},
    {.name = "hardshrink.default",
     .args = "self lambd",
     .run = run_unary,
     .grad = "self: hardshrink_backward(grad, self)"},
    {.name = "hardshrink_backward.default", .args = "grad self", .run = run_binary},
    {.name = "softshrink.default",
     .args = "self lambd",
     .run = run_unary,
     .grad = "self: softshrink_backward(grad, self)"},
    {.name = "softshrink_backward.default", .args = "grad self", .run = run_binary},
    {.name = "threshold.default",
     .args = "self threshold value",
     .run = run_unary,
     .grad = "self: threshold_backward(grad, self)"},
    {.name = "sigmoid.default", .args = "self", .run = run_unary_float, .grad = "self: sigmoid_backward(grad, result)"},
    {.name = "sigmoid_backward.default", .args = "grad output", .run = run_binary},
    {.name = "tanh.default", .args = "self", .run = run_unary_float, .grad = "self: tanh_backward(grad, result)"},
    {.name = "tanh_backward.default", .args = "grad output", .run = run_binary},
    {.name = "log_sigmoid_forward.default",
     .args = "self",
     .run = run_unary,
     .grad = "self: log_sigmoid_backward(grad, self)"},
    {.name = "log_sigmoid_backward.default", .args = "grad self", .run = run_binary},
    {.name = "log_sigmoid.default", .args = "self", .run = expand_log_sigmoid, .grad = COMPOSITE},
    {.name = "glu.default", .takes = "+", .args = "self dim", .run = run_glu, .grad = "self: glu_backward(grad, self)"},
    {.name = "glu_backward.default", .args = "grad self", .run = run_second_like},
    {.name = "bloom_gelu.default",
     .args = "self",
     .run = expand_bloom_gelu,
     .grad = "self: bloom_gelu_backward(grad, self)",
     .source = "GeLUFunction in modeling_bloom.py"},
    {.name = "bloom_gelu_backward", .args = "grad self", .run = expand_bloom_gelu_backward, .grad = COMPOSITE},
    {.name = "prelu.default",
     .takes = "..",
     .args = "self weight",
     .run = expand_prelu,
     .grad = COMPOSITE,
     .cast = CAST_LOWER},
    {.name = "_prelu_kernel.default",
     .args = "self weight",
     .run = run_unary,
     .grad = "self, weight: _prelu_kernel_backward(grad, self, weight)"},
    {.name = "_prelu_kernel_backward.default", .args = "grad self weight", .run = run_prelu_backward},
    {.name = "clamp.default",
     .args = "self min max",
     .run = run_unary,
     .grad = "self: clamp_backward(grad, self, min, max)"},
    {.name = "clamp.Tensor",
     .args = "self min max",
     .run = run_elementwise,
     .grad = "min, max: clamp_bounds_backward(grad, self, min, max); self: clamp_backward(grad, self, min, max)"},
    {.name = "clamp_backward", .args = "grad self min max", .run = expand_clamp_backward, .grad = COMPOSITE},
    {.name = "clamp_bounds_backward",
     .takes = "..",
     .args = "grad self min max",
     .run = expand_clamp_bounds_backward,
     .grad = COMPOSITE},
    {.name = "clamp_max_backward", .args = "grad self max", .run = expand_clamp_backward, .grad = COMPOSITE},
    {.name = "clamp_min.default",
     .args = "self min",
     .run = run_unary,
     .grad = "self: clamp_backward(grad, self, min)"},
    {.name = "clamp_max.default",
     .args = "self max",
     .run = run_unary,
     .grad = "self: clamp_max_backward(grad, self, max)"},
    {.name = "clamp_min.Tensor",
     .args = "self min",
     .run = run_elementwise,
     .grad = "min: where.self~(lt.Tensor(self, min), grad, zero_of(grad)); self: clamp_backward(grad, self, min)"},
    {.name = "clamp_max.Tensor",
     .args = "self max",
     .run = run_elementwise,
     .grad = "max: where.self~(gt.Tensor(self, max), grad, zero_of(grad)); self: clamp_max_backward(grad, self, max)"},

    /* choice and comparison */
    {.name = "where.self",
     .takes = "...",
     .args = "condition self other",
     .run = run_where,
     .grad = "other: where_backward(condition, grad); self: where_backward(condition, grad)"},
    {.name = "where.ScalarOther",
     .takes = ".--",
     .args = "condition self other",
     .run = expand_where,
     .grad = COMPOSITE},
    {.name = "where.ScalarSelf",
     .takes = ".--",
     .args = "condition self other",
     .run = expand_where,
     .grad = COMPOSITE},
    {.name = "where.Scalar", .takes = ".--", .args = "condition self other", .run = expand_where, .grad = COMPOSITE},
    {.name = "where_backward", .args = "condition grad", .run = expand_where_backward, .grad = COMPOSITE},
    {.name = "masked_fill.Scalar",
     .takes = "..",
     .args = "self mask value",
     .run = run_masked_fill,
     .grad = "self: masked_fill.Scalar(grad, mask, 0)"},
    {.name = "masked_fill.Tensor",
     .takes = "..",
     .args = "self mask value",
     .run = run_masked_fill,
     .grad = "self: masked_fill.Scalar(grad, mask, 0); value: masked_fill_value(grad, mask)"},
    {.name = "masked_fill_value",
     .takes = "..",
     .args = "grad mask",
     .run = expand_masked_fill_value,
     .grad = COMPOSITE,
     .source = "masked_fill_backward in FunctionsManual.cpp"},
    {.name = "masked_fill_.Scalar", .args = "self mask value", .run = expand_same},
    {.name = "maximum.default",
     .takes = "..",
     .args = "self other",
     .run = run_binary,
     .grad = "other: masked_fill_.Scalar(where.self~(eq.Tensor(self, other), div.Scalar(grad, 2), grad), "
             "gt.Tensor(self, other), 0); self: masked_fill_.Scalar(where.self~(eq.Tensor(self, other), "
             "div.Scalar(grad, 2), grad), lt.Tensor(self, other), 0)"},
    {.name = "minimum.default",
     .takes = "..",
     .args = "self other",
     .run = run_binary,
     .grad = "other: masked_fill_.Scalar(where.self~(eq.Tensor(self, other), div.Scalar(grad, 2), grad), "
             "lt.Tensor(self, other), 0); self: masked_fill_.Scalar(where.self~(eq.Tensor(self, other), "
             "div.Scalar(grad, 2), grad), gt.Tensor(self, other), 0)"},
    {.name = "eq.Scalar", .args = "self other", .run = run_compare},
    {.name = "eq.Tensor", .takes = "?", .args = "self other", .run = run_compare},
    {.name = "ne.Scalar", .args = "self other", .run = run_compare},
    {.name = "ne.Tensor", .takes = "?", .args = "self other", .run = run_compare},
    {.name = "lt.Scalar", .args = "self other", .run = run_compare},
    {.name = "lt.Tensor", .takes = "?", .args = "self other", .run = run_compare},
    {.name = "le.Scalar", .args = "self other", .run = run_compare},
    {.name = "le.Tensor", .takes = "?", .args = "self other", .run = run_compare},
    {.name = "gt.Scalar", .args = "self other", .run = run_compare},
    {.name = "gt.Tensor", .takes = "?", .args = "self other", .run = run_compare},
    {.name = "ge.Scalar", .args = "self other", .run = run_compare},
    {.name = "ge.Tensor", .takes = "?", .args = "self other", .run = run_compare},
    {.name = "isnan.default", .args = "self", .run = run_compare},
    {.name = "isinf.default", .args = "self", .run = run_compare},
    {.name = "logical_not.default", .args = "self", .run = run_compare},
    {.name = "logical_and.default", .takes = "?", .args = "self other", .run = run_compare},
    {.name = "logical_or.default", .takes = "?", .args = "self other", .run = run_compare},
    {.name = "logical_xor.default", .takes = "?", .args = "self other", .run = run_compare},
    {.name = "bitwise_and.Tensor", .takes = "?", .args = "self other", .run = run_binary},
    {.name = "bitwise_or.Tensor", .takes = "?", .args = "self other", .run = run_binary},
    {.name = "bitwise_xor.Tensor", .takes = "?", .args = "self other", .run = run_binary},
    {.name = "bitwise_not.default", .args = "self", .run = run_unary},
    {.name = "__and__.Tensor", .args = "self other", .run = run_binary},
    {.name = "__or__.Tensor", .args = "self other", .run = run_binary},

    /* copies and fresh tensors */
    {.name = "clone.default", .args = "self memory_format", .run = run_copy, .grad = "self: grad"},
    {.name = "contiguous.default", .args = "self memory_format", .run = expand_contiguous, .grad = COMPOSITE},
    {.name = "_to_copy.default", .args = "self dtype", .run = run_copy, .grad = "self: to_like(grad, #self)"},
    {.name = "to_like", .args = "self other", .run = expand_to_like, .grad = COMPOSITE},
    {.name = "type_as.default", .takes = "..", .args = "self other", .run = expand_to_like, .grad = COMPOSITE},
    {.name = "to.dtype", .args = "self dtype", .run = expand_to, .grad = COMPOSITE},
    {.name = "alias.default", .args = "self", .run = expand_same, .grad = COMPOSITE},
    {.name = "detach.default", .args = "self", .run = expand_detach, .grad = COMPOSITE},
    {.name = "lift_fresh_copy.default", .args = "self", .run = run_copy, .grad = "self: grad"},
    {.name = "new_empty_strided.default",
     .takes = "..",
     .args = "self like",
     .run = run_new_strided,
     .source = "clone_obey_contract in accumulate_grad.h"},
    {.name = "ones_like.default", .args = "self dtype", .run = run_like},
    {.name = "zeros_like.default", .args = "self dtype", .run = run_like},
    {.name = "full_like.default", .args = "self fill_value dtype", .run = run_like},
    {.name = "empty_like.default", .args = "self dtype", .run = run_like},
    {.name = "rand_like.default", .args = "self dtype", .run = run_like},
    {.name = "randn_like.default", .args = "self dtype", .run = run_like},
    {.name = "bernoulli.p", .args = "self p", .run = run_unary},
    {.name = "zeros.default", .takes = "", .args = "size dtype", .run = run_factory, .shaped = true},
    {.name = "ones.default", .takes = "", .args = "size dtype", .run = run_factory, .shaped = true},
    {.name = "empty.memory_format", .takes = "", .args = "size dtype", .run = run_factory, .shaped = true},
    {.name = "rand.default", .takes = "", .args = "size dtype", .run = run_factory, .shaped = true},
    {.name = "randn.default", .takes = "", .args = "size dtype", .run = run_factory, .shaped = true},
    {.name = "randint.default", .takes = "", .args = "high size dtype", .run = run_randint, .shaped = true},
    {.name = "empty_strided.default", .takes = "", .args = "size stride dtype", .run = run_factory, .shaped = true},
    {.name = "randint_like.default", .args = "self high dtype", .run = run_like},
    {.name = "fill.Scalar",
     .args = "self value",
     .run = run_over,
     .grad = "self: zeros_like(grad)"}, /* x[a:b] = number */
    {.name = "full.default", .takes = "", .args = "size fill_value dtype", .run = run_full, .shaped = true},
    {.name = "scalar_tensor.default", .takes = "", .args = "s dtype", .run = run_scalar},
    {.name = "arange.default", .takes = "", .args = "end dtype", .run = run_arange, .shaped = true},
    {.name = "arange.start", .takes = "", .args = "start end dtype", .run = run_arange, .shaped = true},
    {.name = "arange.start_step", .takes = "", .args = "start end step dtype", .run = run_arange, .shaped = true},
    {.name = "linspace.default", .takes = "", .args = "start end steps dtype", .run = run_factory, .shaped = true},
    {.name = "eye.default", .takes = "", .args = "n dtype", .run = run_factory, .shaped = true},
    {.name = "new_zeros.default", .args = "self size dtype", .run = run_new_factory, .shaped = true},
    {.name = "new_ones.default", .args = "self size dtype", .run = run_new_factory, .shaped = true},
    {.name = "new_full.default", .args = "self size fill_value dtype", .run = run_new_factory, .shaped = true},
    {.name = "new_empty.default", .args = "self size dtype", .run = run_new_factory, .shaped = true},
    {.name = "tril.default", .args = "self diagonal", .run = run_unary, .grad = "self: tril(grad)"},
    {.name = "triu.default", .args = "self diagonal", .run = run_unary, .grad = "self: triu(grad)"},
    {.name = "one_hot.default", .takes = "", .args = "self num_classes", .run = run_factory, .shaped = true},

    /* views */
    {.name = "view.default", .args = "self size", .run = run_view, .grad = "self: reshape_as(grad, #self)"},
    {.name = "_unsafe_view.default",
     .args = "self size",
     .unseen = true,
     .run = run_view,
     .grad = "self: reshape_as(grad, #self)"},
    {.name = "reshape.default", .args = "self shape", .run = expand_reshape, .grad = COMPOSITE, .shaped = true},
    {.name = "reshape_as", .args = "self other", .run = expand_reshape_as, .grad = COMPOSITE},
    {.name = "flatten.using_ints",
     .args = "self start_dim end_dim",
     .run = expand_reshape,
     .grad = COMPOSITE,
     .shaped = true},
    {.name = "unflatten.int", .args = "self dim sizes", .run = expand_reshape, .grad = COMPOSITE, .shaped = true},
    {.name = "transpose.int",
     .args = "self dim0 dim1",
     .run = run_transpose,
     .grad = "self: transpose(grad, dim0, dim1)"},
    {.name = "t.default", .args = "self", .run = run_t, .grad = "self: t(grad)"},
    {.name = "permute.default", .args = "self dims", .run = run_permute, .grad = "self: permute_backward(grad, dims)"},
    {.name = "permute_backward", .args = "grad dims", .run = run_permute_backward},
    {.name = "expand.default",
     .args = "self size implicit",
     .run = run_expand,
     .grad = "self: sum_to_like(grad, #self)",
     .shaped = true},
    {.name = "sum_to_like", .args = "grad self", .run = expand_sum_to_like, .grad = COMPOSITE},
    {.name = "unsqueeze.default", .args = "self dim", .run = run_unsqueeze, .grad = "self: reshape_as(grad, #self)"},
    {.name = "squeeze.dim", .args = "self dim", .run = run_squeeze, .grad = "self: reshape_as(grad, #self)"},
    {.name = "squeeze.dims", .args = "self dim", .run = run_squeeze, .grad = "self: reshape_as(grad, #self)"},
    {.name = "squeeze.default", .args = "self", .run = run_squeeze, .grad = "self: reshape_as(grad, #self)"},
    {.name = "slice.Tensor",
     .takes = "+",
     .args = "self dim start end step",
     .run = run_slice,
     .grad = "self: slice_backward(grad, #self)"},
    {.name = "slice_backward.default", .args = "grad self", .run = run_zeros_like_second},
    {.name = "narrow.default", .takes = "+", .args = "self dim start length", .run = expand_narrow, .grad = COMPOSITE},
    {.name = "select.int",
     .takes = "+",
     .args = "self dim index",
     .run = run_select,
     .grad = "self: select_backward(grad, #self)"},
    {.name = "select_backward.default", .args = "grad self", .run = run_zeros_like_second},
    {.name = "diagonal.default",
     .takes = "b",
     .args = "self offset dim1 dim2",
     .run = run_diagonal,
     .grad = "self: diagonal_backward(grad, #self)"},
    {.name = "diagonal_backward.default", .args = "grad self", .run = run_zeros_like_second},
    {.name = "split.Tensor",
     .takes = "+",
     .args = "self split_size dim",
     .run = run_split,
     .grad = "self: split_backward(grads, #self, dim)"},
    {.name = "split_with_sizes.default",
     .takes = "+",
     .args = "self split_sizes dim",
     .run = run_split,
     .grad = "self: split_backward(grads, #self, dim)"},
    {.name = "split_backward", .takes = "-.", .args = "grads self dim", .run = run_split_backward, .grad = COMPOSITE},
    {.name = "chunk.default", .takes = "+", .args = "self chunks dim", .run = expand_chunk, .grad = COMPOSITE},
    {.name = "unbind.int",
     .takes = "+",
     .args = "self dim",
     .run = run_unbind,
     .grad = "self: unbind_backward(grads, #self, dim)"},
    {.name = "unbind_backward", .takes = "-.", .args = "grads self dim", .run = run_unbind_backward, .grad = COMPOSITE},
    {.name = "unfold.default",
     .takes = "+",
     .args = "self dimension size step",
     .run = run_unfold,
     .grad = "self: unfold_backward(grad, #self)"},
    {.name = "unfold_backward.default", .args = "grad self", .run = run_zeros_like_second},

    /* other names of rows above */
    ALIAS("subtract.Tensor", "sub.Tensor", "?", "self other alpha"),
    ALIAS("upsample_nearest1d.vec", "upsample_nearest1d.default", "b", "input output_size scale_factors"),
    ALIAS("upsample_nearest2d.vec", "upsample_nearest2d.default", "b", "input output_size scale_factors"),
    ALIAS("upsample_nearest3d.vec", "upsample_nearest3d.default", "b", "input output_size scale_factors"),
    ALIAS("_upsample_nearest_exact1d.vec", "_upsample_nearest_exact1d.default", "b", "input output_size scale_factors"),
    ALIAS("_upsample_nearest_exact3d.vec", "_upsample_nearest_exact3d.default", "b", "input output_size scale_factors"),
    ALIAS("_upsample_nearest_exact2d.vec", "_upsample_nearest_exact2d.default", "b", "input output_size scale_factors"),
    ALIAS("upsample_linear1d.vec", "upsample_linear1d.default", "b", "input output_size align_corners scale_factors"),
    ALIAS("upsample_bilinear2d.vec", "upsample_bilinear2d.default", "b",
          "input output_size align_corners scale_factors"),
    ALIAS("upsample_trilinear3d.vec", "upsample_trilinear3d.default", "b",
          "input output_size align_corners scale_factors"),
    ALIAS("upsample_bicubic2d.vec", "upsample_bicubic2d.default", "b", "input output_size align_corners scale_factors"),
    ALIAS("_upsample_bilinear2d_aa.vec", "_upsample_bilinear2d_aa.default", "b",
          "input output_size align_corners scale_factors"),
    ALIAS("_upsample_bicubic2d_aa.vec", "_upsample_bicubic2d_aa.default", "b",
          "input output_size align_corners scale_factors"),
    ALIAS("conv1d.padding", "conv1d.default", "ii", "input weight bias stride padding dilation groups"),
    ALIAS("conv2d.padding", "conv2d.default", "ii", "input weight bias stride padding dilation groups"),
    ALIAS("conv3d.padding", "conv3d.default", "ii", "input weight bias stride padding dilation groups"),
    ALIAS("multiply.Scalar", "mul.Scalar", NULL, "self other"),
    ALIAS("divide.Scalar", "div.Scalar", NULL, "self other"),
    ALIAS("true_divide.Scalar", "div.Scalar", NULL, "self other"),
    ALIAS("subtract.Scalar", "sub.Scalar", NULL, "self other alpha"),
    ALIAS("greater.Scalar", "gt.Scalar", NULL, "self other"),
    ALIAS("greater_equal.Scalar", "ge.Scalar", NULL, "self other"),
    ALIAS("less.Scalar", "lt.Scalar", NULL, "self other"),
    ALIAS("less_equal.Scalar", "le.Scalar", NULL, "self other"),
    ALIAS("bitwise_and.Scalar", "bitwise_and.Tensor", NULL, "self other"),
    ALIAS("bitwise_or.Scalar", "bitwise_or.Tensor", NULL, "self other"),
    ALIAS("bitwise_xor.Scalar", "bitwise_xor.Tensor", NULL, "self other"),
    ALIAS("__and__.Scalar", "bitwise_and.Tensor", NULL, "self other"),
    ALIAS("__or__.Scalar", "bitwise_or.Tensor", NULL, "self other"),
    ALIAS("max.other", "maximum.default", "..", "self other"),
    ALIAS("min.other", "minimum.default", "..", "self other"),
    ALIAS("split.sizes", "split_with_sizes.default", "+", "self split_size dim"),
    ALIAS("split.default", "split_with_sizes.default", "+", "self split_sizes dim"),
    ALIAS("divide.Tensor_mode", "div.Tensor_mode", "?", "self other rounding_mode"),
    ALIAS("any.dims", "any.dim", NULL, "self dim keepdim"),
    ALIAS("all.dims", "all.dim", NULL, "self dim keepdim"),
    ALIAS("floor_divide.Scalar", "floor_divide.default", "?", "self other"),
    ALIAS("norm.ScalarOpt_dim_dtype", "norm.ScalarOpt_dim", NULL, "self p dim keepdim dtype"),
    ALIAS("to.other", "type_as.default", "..", "self other"),
    ALIAS("multiply.Tensor", "mul.Tensor", "?", "self other"),
    ALIAS("divide.Tensor", "div.Tensor", "?", "self other"),
    ALIAS("true_divide.Tensor", "div.Tensor", "?", "self other"),
    ALIAS("greater.Tensor", "gt.Tensor", "?", "self other"),
    ALIAS("greater_equal.Tensor", "ge.Tensor", "?", "self other"),
    ALIAS("less.Tensor", "lt.Tensor", "?", "self other"),
    ALIAS("less_equal.Tensor", "le.Tensor", "?", "self other"),
    ALIAS("special_erf.default", "erf.default", NULL, "self"),
    ALIAS("special_erfc.default", "erfc.default", NULL, "self"),
    ALIAS("special_expm1.default", "expm1.default", NULL, "self"),
    ALIAS("special_softmax.default", "softmax.int", NULL, "self dim dtype"),
    ALIAS("special_log_softmax.default", "log_softmax.int", NULL, "self dim dtype"),
    ALIAS("mT.default", "t.default", NULL, "self"),
    ALIAS("mH.default", "t.default", NULL, "self"),
    ALIAS("unsafe_split.Tensor", "split.Tensor", NULL, "self split_size dim"),
    ALIAS("_unsafe_index.Tensor", "index.Tensor", NULL, "self indices"),
    ALIAS("_unsafe_index_put.default", "index_put.default", NULL, "self indices values accumulate"),
    ALIAS("resolve_conj.default", "alias.default", NULL, "self"),
    ALIAS("resolve_neg.default", "alias.default", NULL, "self"),
    ALIAS("conj.default", "alias.default", NULL, "self"),
    ALIAS("_conj.default", "alias.default", NULL, "self"),
    ALIAS("concat.default", "cat.default", "*", "tensors dim"),
    ALIAS("concatenate.default", "cat.default", "*", "tensors dim"),
    {.name = "broadcast_to.default",
     .args = "self size",
     .run = expand_alias,
     .grad = COMPOSITE,
     .source = "expand.default",
     .shaped = true},
    {.name = "expand_as.default", .takes = "..", .args = "self other", .run = expand_expand_as, .grad = COMPOSITE},
    {.name = "view_as.default", .takes = "..", .args = "self other", .run = expand_reshape_as, .grad = COMPOSITE},

    /* joining, padding, indexing */
    {.name = "cat.default",
     .takes = "*",
     .args = "tensors dim",
     .run = run_cat,
     .grad = "tensors: cat_backward(grad, #tensors, dim)"},
    {.name = "cat_backward", .args = "grad tensors dim", .run = run_cat_backward},
    {.name = "stack.default",
     .takes = "*",
     .args = "tensors dim",
     .run = run_stack,
     .grad = "tensors: stack_backward(grad, #tensors, dim)"},
    {.name = "stack_backward", .args = "grad tensors dim", .run = run_stack_backward},
    {.name = "constant_pad_nd.default",
     .args = "self pad value",
     .run = run_pad,
     .grad = "self: constant_pad_nd_backward(grad, #self)"},
    {.name = "constant_pad_nd_backward", .args = "grad self", .run = expand_unpad, .grad = COMPOSITE},
    {.name = "pad.default", .args = "self pad mode value", .run = expand_pad, .grad = COMPOSITE},
    {.name = "reflection_pad1d.default",
     .args = "self padding",
     .run = run_pad,
     .grad = "self: reflection_pad1d_backward(grad, self)"},
    {.name = "reflection_pad1d_backward.default", .args = "grad self", .run = run_grad_of},
    {.name = "reflection_pad2d.default",
     .args = "self padding",
     .run = run_pad,
     .grad = "self: reflection_pad2d_backward(grad, self)"},
    {.name = "reflection_pad2d_backward.default", .args = "grad self", .run = run_grad_of},
    {.name = "replication_pad1d.default",
     .args = "self padding",
     .run = run_pad,
     .grad = "self: replication_pad1d_backward(grad, self)"},
    {.name = "replication_pad1d_backward.default", .args = "grad self", .run = run_grad_of},
    {.name = "replication_pad2d.default",
     .args = "self padding",
     .run = run_pad,
     .grad = "self: replication_pad2d_backward(grad, self)"},
    {.name = "replication_pad2d_backward.default", .args = "grad self", .run = run_grad_of},
    ALIAS("tile.default", "repeat.default", NULL, "self dims"),
    {.name = "replication_pad3d.default",
     .args = "self padding",
     .run = run_pad,
     .grad = "self: replication_pad3d_backward(grad, self)"},
    {.name = "replication_pad3d_backward.default", .args = "grad self", .run = run_grad_of},
    {.name = "reflection_pad3d.default",
     .args = "self padding",
     .run = run_pad,
     .grad = "self: reflection_pad3d_backward(grad, self)"},
    {.name = "reflection_pad3d_backward.default", .args = "grad self", .run = run_grad_of},
    {.name = "repeat.default",
     .args = "self repeats",
     .run = run_repeat,
     .grad = "self: repeat_backward(grad, #self)",
     .shaped = true},
    {.name = "repeat_backward", .args = "grad self", .run = expand_repeat_backward, .grad = COMPOSITE},
    {.name = "broadcast_in_dim.default",
     .args = "self shape dims",
     .run = expand_broadcast_in_dim,
     .grad = COMPOSITE,
     .shaped = true},
    {.name = "repeat_interleave.self_int",
     .takes = "+",
     .args = "self repeats dim",
     .run = expand_repeat_interleave,
     .grad = COMPOSITE},
    {.name = "roll.default", .args = "self shifts dims", .run = run_unary, .grad = "self: roll(grad)"},
    {.name = "flip.default", .args = "self dims", .run = run_unary, .grad = "self: flip(grad)"},
    {.name = "embedding.default",
     .takes = "+.",
     .args = "weight indices padding_idx scale_grad_by_freq sparse",
     .run = run_embedding,
     .grad = "weight: embedding_dense_backward(grad, indices, #weight)"},
    {.name = "embedding_dense_backward.default", .args = "grad indices weight", .run = run_embedding_backward},
    {.name = "index.Tensor",
     .takes = ".",
     .args = "self indices",
     .run = run_index,
     .grad = "self: index_backward(grad, #self, indices)"},
    {.name = "index_backward",
     .args = "grad self indices",
     .run = run_scatter_backward,
     .source = "index_put.default"}, /* the write */
    {.name = "index_select_backward",
     .args = "grad self index",
     .run = run_scatter_backward,
     .source = "index_add.default"},
    {.name = "gather_backward",
     .args = "grad self index",
     .run = run_scatter_backward,
     .source = "scatter_add.default"},
    {.name = "index_put.default",
     .takes = ".",
     .args = "self indices values accumulate",
     .run = run_unary,
     .cast = CAST_PROMOTE,
     .grad = "self: index_put_backward(grad, indices, #values, accumulate); values: index(grad, indices)"},
    {.name = "index_put_backward",
     .takes = ".",
     .args = "grad indices values accumulate",
     .run = expand_index_put_backward,
     .grad = COMPOSITE},
    {.name = "index_add.default",
     .takes = ".-..",
     .args = "self dim index source alpha",
     .run = run_unary,
     .grad = "self: grad; source: kept(index_select(grad, dim, index), source)"},
    {.name = "index_copy.default",
     .takes = ".-..",
     .args = "self dim index source",
     .run = run_unary,
     .grad = "self: index_fill(grad, dim, index, 0); source: kept(index_select(grad, dim, index), source)"},
    /* as the exporter writes them, in index_put's arguments */
    {.name = "index_add.decomposed",
     .takes = ".-.",
     .args = "self indices values accumulate",
     .run = expand_indexed,
     .grad = COMPOSITE,
     .source = "index_add.default"},
    {.name = "index_copy.decomposed",
     .takes = ".-.",
     .args = "self indices values accumulate",
     .run = expand_indexed,
     .grad = COMPOSITE,
     .source = "index_copy.default"},
    {.name = "index_fill.int_Scalar",
     .takes = ".-.",
     .args = "self dim index value",
     .run = run_unary,
     .grad = "self: index_fill(grad, dim, index, 0)"},
    {.name = "index_fill.decomposed",
     .takes = ".-",
     .args = "self indices values accumulate",
     .run = expand_indexed,
     .grad = COMPOSITE,
     .source = "index_fill.int_Scalar"},
    {.name = "index_select.default",
     .takes = ".-.",
     .args = "self dim index",
     .run = run_index_select,
     .grad = "self: index_select_backward(grad, #self, index)"},
    {.name = "gather.default",
     .takes = ".-.",
     .args = "self dim index sparse_grad",
     .run = run_gather,
     .grad = "self: gather_backward(grad, self, index)"},
    {.name = "masked_scatter.default",
     .takes = "...",
     .args = "self mask source",
     .run = run_masked_fill,
     .grad = "self: masked_fill.Scalar(grad, mask, 0); source: masked_scatter_backward(grad, #source, mask)"},
    {.name = "masked_scatter_backward.default", /* the mask is taken to pick as many as there are */
     .args = "grad source mask",
     .run = run_named,
     .source = "masked_scatter_backward.default"},
    {.name = "nonzero.default", .args = "self", .run = run_nonzero},
    ALIAS("embedding_bag.default", "_embedding_bag.default", "+..",
          "weight indices offsets scale_grad_by_freq mode sparse per_sample_weights include_last_offset padding_idx"),
    {.name = "_embedding_bag.default",
     .takes = "+..",
     .args = "weight indices offsets scale_grad_by_freq mode sparse per_sample_weights include_last_offset padding_idx",
     .run = run_embedding_bag,
     .grad = "per_sample_weights: _embedding_bag_per_sample_weights_backward(grad, #per_sample_weights, weight, "
             "indices, offsets, result1); weight: _embedding_bag_backward(grad, indices, #weight, offsets, result1, "
             "result2, "
             "result3, per_sample_weights)"},
    {.name = "_embedding_bag_backward.default",
     .args = "grad indices weight offsets offset2bag bag_size maximum_indices per_sample_weights",
     .run = run_embedding_backward},
    {.name = "_embedding_bag_per_sample_weights_backward.default",
     .args = "grad self weight indices offsets offset2bag",
     .run = run_second_like},
    {.name = "scatter.src",
     .takes = ".-..",
     .args = "self dim index src",
     .run = run_unary,
     .grad = "self: scatter.value(grad, dim, index, 0); src: gather(grad, dim, index)"},
    {.name = "scatter.value",
     .takes = ".-.",
     .args = "self dim index value",
     .run = run_unary,
     .grad = "self: scatter.value(grad, dim, index, 0)"},
    {.name = "scatter_add.default",
     .takes = ".-..",
     .args = "self dim index src",
     .run = run_unary,
     .cast = CAST_PROMOTE,
     .grad = "self: grad; src: gather(grad, dim, index)"},
    {.name = "stand_in",
     .takes = "*",
     .args = "tensors",
     .run = run_stand_in,
     .grad = "tensors: stand_in_backward(grad, #tensors)"},
    {.name = "stand_in_backward", .args = "grad tensors", .run = run_stand_in_backward},
    {.name = "_weight_norm_interface.default",
     .takes = "++",
     .args = "v g dim",
     .run = run_weight_norm,
     .grad = "v, g: _weight_norm_interface_backward(grad, v, g, result1)"},
    {.name = "_weight_norm_interface_backward.default", .args = "grad v g norms", .run = run_weight_norm_backward},
    {.name = "slice_scatter.default",
     .args = "self src dim start end step",
     .run = run_over,
     .grad = "self: zeros_like(grad); src: slice_of(grad, #src)"},
    {.name = "select_scatter.default",
     .args = "self src dim index",
     .run = run_over,
     .grad = "self: zeros_like(grad); src: slice_of(grad, #src)"},
    {.name = "slice_of", .args = "grad src", .run = expand_copy_slices, .grad = COMPOSITE},

    /* reductions */
    {.name = "sum.dim_IntList",
     .args = "self dim keepdim dtype",
     .run = run_sum,
     .cast = CAST_DTYPE,
     .grad = "self: sum_backward(grad, #self, dim)"},
    {.name = "sum.default",
     .args = "self dtype",
     .run = expand_reduce_all,
     .cast = CAST_DTYPE,
     .grad = "self: sum_backward(grad, #self)"},
    {.name = "sum_backward", .args = "grad self dim", .run = run_sum_backward},
    {.name = "sum_to_size", .args = "self size", .run = run_sum_to, .grad = COMPOSITE},
    {.name = "mean.dim",
     .args = "self dim keepdim dtype",
     .run = run_reduce,
     .grad = "self: div.Scalar(sum_backward(grad, #self, dim), 1)"},
    {.name = "mean.default",
     .args = "self dtype",
     .run = expand_reduce_all,
     .grad = "self: div.Scalar(sum_backward(grad, #self), 1)"},
    {.name = "amax.default",
     .args = "self dim keepdim",
     .run = run_reduce,
     .grad = "self: amax_backward(grad, self, result, dim, keepdim)"},
    {.name = "amin.default",
     .args = "self dim keepdim",
     .run = run_reduce,
     .grad = "self: amax_backward(grad, self, result, dim, keepdim)"},
    {.name = "amax_backward", .args = "grad self result dim keepdim", .run = expand_amax_backward, .grad = COMPOSITE},
    {.name = "max.default",
     .args = "self",
     .run = expand_reduce_all,
     .grad = "self: evenly_distribute_backward(grad, self, result)"},
    {.name = "min.default",
     .args = "self",
     .run = expand_reduce_all,
     .grad = "self: evenly_distribute_backward(grad, self, result)"},
    {.name = "evenly_distribute_backward",
     .takes = "...",
     .args = "grad self result",
     .run = expand_evenly_distribute,
     .grad = COMPOSITE},
    {.name = "max.dim",
     .args = "self dim keepdim",
     .run = run_reduce_with_indices,
     .grad = "self: value_selecting_reduction_backward(grad, #self, result1)"},
    {.name = "min.dim",
     .args = "self dim keepdim",
     .run = run_reduce_with_indices,
     .grad = "self: value_selecting_reduction_backward(grad, #self, result1)"},
    {.name = "value_selecting_reduction_backward.default",
     .args = "grad self indices",
     .run = run_scatter_backward,
     .source = "scatter.src"},
    {.name = "topk.default",
     .takes = ".",
     .args = "self k dim",
     .run = run_topk,
     .grad = "self: value_selecting_reduction_backward(grad, #self, result1)"},
    {.name = "sort.default",
     .args = "self dim descending",
     .run = run_sort,
     .grad = "self: value_selecting_reduction_backward(grad, #self, result1)"},
    {.name = "sort.stable",
     .args = "self stable dim descending",
     .run = run_sort,
     .grad = "self: value_selecting_reduction_backward(grad, #self, result1)"},
    {.name = "argmax.default", .args = "self dim keepdim", .run = run_reduce_index},
    {.name = "argmin.default", .args = "self dim keepdim", .run = run_reduce_index},
    {.name = "argsort.default", .args = "self dim", .run = expand_argsort, .grad = COMPOSITE},
    {.name = "any.dim", .args = "self dim keepdim", .run = run_reduce_bool},
    {.name = "any.default", .args = "self", .run = run_reduce_bool},
    {.name = "all.dim", .args = "self dim keepdim", .run = run_reduce_bool},
    {.name = "all.default", .args = "self", .run = run_reduce_bool},
    {.name = "var.correction",
     .args = "self dim correction keepdim",
     .run = expand_var,
     .grad = "self: var_backward(grad, self, dim)"},
    {.name = "var_mean.correction",
     .args = "self dim correction keepdim",
     .run = run_var_mean,
     .grad = "self: var_backward(grad, self, dim)"},
    {.name = "std.correction",
     .args = "self dim correction keepdim",
     .run = expand_var,
     .grad = "self: var_backward(std_backward(grad, result), self, dim)"},
    {.name = "var_backward", .args = "grad self dim", .run = expand_var_backward, .grad = COMPOSITE},
    {.name = "std_backward", .args = "grad result", .run = expand_std_backward, .grad = COMPOSITE},
    {.name = "linalg_vector_norm.default",
     .args = "self ord dim keepdim dtype",
     .run = run_norm,
     .cast = CAST_DTYPE,
     .grad = "self: norm_backward(grad, self, ord, result, dim)"},
    {.name = "norm.ScalarOpt_dim",
     .args = "self p dim keepdim dtype",
     .run = run_norm,
     .cast = CAST_DTYPE,
     .grad = "self: norm_backward(grad, self, p, result, dim)"},
    {.name = "norm_backward", .args = "grad self p result dim", .run = expand_norm_backward, .grad = COMPOSITE},
    /* without keepdim both get the dimension back: logsumexp_backward in torch/csrc/autograd/FunctionsManual.cpp */
    {.name = "logsumexp.default",
     .args = "self dim keepdim",
     .run = run_reduce,
     .cast = CAST_FP32,
     .grad =
         "self: mul.Tensor(sum_backward(grad, #self, dim), exp(sub.Tensor(self, sum_backward(result, #self, dim))))"},
    {.name = "prod.dim_int",
     .args = "self dim keepdim dtype",
     .run = run_reduce,
     .cast = CAST_DTYPE,
     .grad = "self: prod_backward(grad, type_as(self, grad), result, dim)"},
    {.name = "prod.default",
     .args = "self dtype",
     .run = expand_reduce_all,
     .cast = CAST_DTYPE,
     .grad = "self: prod_backward(grad, type_as(self, grad), result)"},
    {.name = "prod_backward",
     .takes = "...",
     .args = "grad self result dim",
     .run = expand_prod_backward,
     .grad = COMPOSITE},
    {.name = "cumsum.default",
     .args = "self dim dtype",
     .run = expand_cumsum,
     .cast = CAST_DTYPE,
     .grad = "self: cumsum_backward(type_as(grad, #self), dim)"},
    {.name = "cumsum_backward", .args = "grad dim", .run = expand_cumsum_backward, .grad = COMPOSITE},
    {.name = "cumprod.default",
     .args = "self dim dtype",
     .run = expand_cumsum,
     .cast = CAST_DTYPE,
     .grad = "self: cumprod_backward(type_as(grad, #self), self, dim, result)"},
    {.name = "cumprod_backward",
     .takes = "..",
     .args = "grad self dim result",
     .run = expand_cumprod_backward,
     .grad = COMPOSITE},

    /* products */
    {.name = "mm.default",
     .takes = "22",
     .args = "self mat2",
     .run = run_mm,
     .inner = inner_of_first,
     .cast = CAST_LOWER,
     .grad = "mat2: mm_mat2_backward(grad, self, #mat2); self: mm_mat1_backward(grad, mat2, #self)"},
    {.name = "addmm.default",
     .takes = ".22",
     .args = "self mat1 mat2 beta alpha",
     .run = run_addmm,
     .inner = inner_of_second,
     .cast = CAST_LOWER,
     .grad = "mat1: maybe_multiply(mm_mat1_backward(grad, mat2, #mat1), alpha); "
             "mat2: maybe_multiply(mm_mat2_backward(grad, mat1, #mat2), alpha); self: maybe_multiply(grad, beta)"},
    {.name = "maybe_multiply", .args = "grad factor", .run = expand_maybe_multiply, .grad = COMPOSITE},
    {.name = "mm_mat1_backward", .args = "grad mat2 mat1", .run = run_mm_mat1_backward, .grad = COMPOSITE},
    {.name = "mm_mat2_backward", .args = "grad mat1 mat2", .run = run_mm_mat2_backward, .grad = COMPOSITE},
    {.name = "bmm.default",
     .takes = "33",
     .args = "self mat2",
     .run = run_bmm,
     .inner = inner_of_first,
     .cast = CAST_LOWER,
     .grad = "mat2: bmm(transpose(self), grad); self: bmm(grad, transpose(mat2))"},
    {.name = "baddbmm.default",
     .takes = ".33",
     .args = "self batch1 batch2 beta alpha",
     .run = run_baddbmm,
     .inner = inner_of_second,
     .cast = CAST_LOWER,
     .grad = "batch1: maybe_multiply(bmm(grad, transpose(batch2)), alpha); "
             "batch2: maybe_multiply(bmm(transpose(batch1), grad), alpha); self: maybe_multiply(grad, beta)"},
    {.name = "mv.default",
     .takes = "21",
     .args = "self vec",
     .run = run_mv,
     .cast = CAST_LOWER,
     .grad = "self: outer(grad, vec); vec: mv(t(self), grad)"},
    {.name = "dot.default",
     .takes = "11",
     .args = "self tensor",
     .run = run_dot,
     .cast = CAST_PROMOTE,
     .grad = "self: mul.Tensor(grad, tensor); tensor: mul.Tensor(grad, self)"},
    {.name = "outer.default", .takes = "11", .args = "self vec2", .run = run_outer, .grad = COMPOSITE},
    {.name = "addbmm.default",
     .takes = ".33",
     .args = "self batch1 batch2 beta alpha",
     .run = run_addbmm,
     .cast = CAST_LOWER,
     .grad = "batch1: maybe_multiply(bmm(addbmm_grad(grad, #batch1), transpose(batch2)), alpha); "
             "batch2: maybe_multiply(bmm(transpose(batch1), addbmm_grad(grad, #batch1)), alpha); "
             "self: maybe_multiply(grad, beta)"},
    {.name = "addbmm_grad", .args = "grad batch1", .run = run_addbmm_grad},
    {.name = "addmv.default",
     .takes = ".21",
     .args = "self mat vec beta alpha",
     .run = run_addmv,
     .cast = CAST_LOWER,
     .grad = "mat: maybe_multiply(outer(grad, vec), alpha); self: maybe_multiply(grad, beta); vec: "
             "maybe_multiply(mv(t(mat), grad), alpha)"},
    {.name = "bilinear.default",
     .takes = "++3",
     .args = "input1 input2 weight bias",
     .run = expand_bilinear,
     .grad = COMPOSITE,
     .cast = CAST_PROMOTE},
    {.name = "_trilinear.default",
     .takes = "232",
     .args = "i1 i2 i3",
     .run = run_trilinear,
     .grad =
         "i1: trilinear_of(grad, i2, i3, i1); i2: trilinear_of(grad, i1, i3, i2); i3: trilinear_of(grad, i1, i2, i3)"},
    {.name = "trilinear_of", .args = "grad a b like", .run = run_trilinear_of},
    {.name = "linear.default",
     .takes = "+2",
     .args = "input weight bias",
     .run = expand_linear,
     .grad = COMPOSITE,
     .cast = CAST_LOWER},
    {.name = "matmul.default",
     .takes = "++",
     .args = "self other",
     .run = expand_matmul,
     .grad = COMPOSITE,
     .cast = CAST_LOWER},
    {.name = "lstm.input",
     .takes = "3-*",
     .args = "input hx params has_biases num_layers dropout train bidirectional batch_first",
     .run = rnn_lstm,
     .grad = COMPOSITE,
     .cast = CAST_LOWER,
     .assumes = rnn_assumes},
    {.name = "gru.input",
     .takes = "3-*",
     .args = "input hx params has_biases num_layers dropout train bidirectional batch_first",
     .run = rnn_gru,
     .grad = COMPOSITE,
     .cast = CAST_LOWER,
     .assumes = rnn_assumes},
    {.name = "rnn_tanh.input",
     .takes = "3-*",
     .args = "input hx params has_biases num_layers dropout train bidirectional batch_first",
     .run = rnn_tanh,
     .grad = COMPOSITE,
     .cast = CAST_LOWER,
     .assumes = rnn_assumes},
    {.name = "rnn_relu.input",
     .takes = "3-*",
     .args = "input hx params has_biases num_layers dropout train bidirectional batch_first",
     .run = rnn_tanh,
     .grad = COMPOSITE,
     .cast = CAST_LOWER,
     .assumes = rnn_assumes},
    {.name = "lstm_cell.default",
     .takes = "2*22",
     .args = "input hx w_ih w_hh b_ih b_hh",
     .run = rnn_lstm_step,
     .grad = COMPOSITE,
     .cast = CAST_LOWER},
    {.name = "gru_cell.default",
     .takes = "2222",
     .args = "input hx w_ih w_hh b_ih b_hh",
     .run = rnn_gru_step,
     .grad = COMPOSITE,
     .cast = CAST_LOWER},
    {.name = "rnn_tanh_cell.default",
     .takes = "2222",
     .args = "input hx w_ih w_hh b_ih b_hh",
     .run = rnn_tanh_step,
     .grad = COMPOSITE,
     .cast = CAST_LOWER},
    {.name = "rnn_relu_cell.default",
     .takes = "2222",
     .args = "input hx w_ih w_hh b_ih b_hh",
     .run = rnn_relu_step,
     .grad = COMPOSITE,
     .cast = CAST_LOWER},
    {.name = "_thnn_fused_gru_cell.default",
     .takes = "222",
     .args = "input_gates hidden_gates hx input_bias hidden_bias",
     .run = rnn_gru_cell,
     .grad = "input_gates, hidden_gates, hx, input_bias, hidden_bias: _thnn_fused_gru_cell_backward(hx, result1, "
             "input_bias, grad, input_gates, hidden_gates, hidden_bias)",
     .source = "derivatives.yaml: _thnn_fused_gru_cell; the gates are saved for a second derivative"},
    {.name = "_thnn_fused_gru_cell_backward",
     .args = "hx workspace input_bias grad input_gates hidden_gates hidden_bias",
     .run = rnn_gru_cell_backward},
    {.name = "_thnn_fused_lstm_cell.default",
     .takes = "222",
     .args = "input_gates hidden_gates cx input_bias hidden_bias",
     .run = rnn_lstm_cell,
     .grad = "input_gates, hidden_gates, cx, input_bias, hidden_bias: _thnn_fused_lstm_cell_backward(cx, result1, "
             "result2, input_bias, grad0, grad1, input_gates, hidden_gates, hidden_bias)",
     .source = "derivatives.yaml: _thnn_fused_lstm_cell; the gates are saved for a second derivative"},
    {.name = "_thnn_fused_lstm_cell_backward",
     .args = "cx cy workspace input_bias grad grad_cy input_gates hidden_gates hidden_bias",
     .run = rnn_lstm_cell_backward},
    {.name = "_cudnn_rnn.default",
     .takes = "3*3",
     .args = "input weight hx cx mode batch_first directions",
     .run = rnn_forward,
     .grad = "input, hx, cx: _cudnn_rnn_backward_input(input, hx, cx, result0, grad0, grad1, grad2, batch_first); "
             "weight: _cudnn_rnn_backward_weight(input, weight, batch_first, result3)",
     .source = "derivatives.yaml: _cudnn_rnn; its one call in two, as aten/src/ATen/native/cudnn/RNN.cpp runs it"},
    {.name = "_cudnn_rnn_backward_input",
     .takes = "33-3",
     .args = "input hx cx output grad grad_hy grad_cy batch_first",
     .run = rnn_backward_input},
    {.name = "_cudnn_rnn_backward_weight",
     .takes = "3*",
     .args = "input weight batch_first reserve",
     .run = rnn_backward_weight},
    {.name = "einsum.default",
     .takes = "-*",
     .args = "equation tensors",
     .run = expand_einsum,
     .grad = COMPOSITE,
     .cast = CAST_LOWER},

    /* convolutions, pools, resampling */
    {.name = "convolution.default",
     .takes = "ii",
     .args = "input weight bias stride padding dilation transposed output_padding groups",
     .run = run_convolution,
     .inner = inner_of_convolution,
     .cast = CAST_LOWER,
     .grad =
         "input, weight, bias: convolution_backward(grad, input, weight, #bias, stride, padding, dilation, transposed, "
         "output_padding, groups)"},
    {.name = "convolution_backward.default",
     .args = "grad input weight bias stride padding dilation transposed output_padding groups",
     .run = run_convolution_backward},
    {.name = "conv1d.default",
     .takes = "ii",
     .args = "input weight bias stride padding dilation groups",
     .run = expand_conv,
     .grad = COMPOSITE,
     .cast = CAST_LOWER},
    {.name = "conv2d.default",
     .takes = "ii",
     .args = "input weight bias stride padding dilation groups",
     .run = expand_conv,
     .grad = COMPOSITE,
     .cast = CAST_LOWER},
    {.name = "conv3d.default",
     .takes = "ii",
     .args = "input weight bias stride padding dilation groups",
     .run = expand_conv,
     .grad = COMPOSITE,
     .cast = CAST_LOWER},
    {.name = "conv_transpose1d.default",
     .takes = "ii",
     .args = "input weight bias stride padding output_padding groups dilation",
     .run = expand_conv_transpose,
     .grad = COMPOSITE,
     .cast = CAST_LOWER},
    {.name = "conv_transpose2d.input",
     .takes = "ii",
     .args = "input weight bias stride padding output_padding groups dilation",
     .run = expand_conv_transpose,
     .grad = COMPOSITE,
     .cast = CAST_LOWER},
    {.name = "conv_transpose3d.input",
     .takes = "ii",
     .args = "input weight bias stride padding output_padding groups dilation",
     .run = expand_conv_transpose,
     .grad = COMPOSITE,
     .cast = CAST_LOWER},
    {.name = "max_pool2d.default",
     .takes = "b",
     .args = "self kernel_size stride padding dilation ceil_mode",
     .run = expand_max_pool,
     .grad = COMPOSITE},
    {.name = "max_pool1d.default",
     .takes = "b",
     .args = "self kernel_size stride padding dilation ceil_mode",
     .run = expand_max_pool,
     .grad = COMPOSITE},
    {.name = "max_pool2d_with_indices.default",
     .args = "self kernel_size stride padding dilation ceil_mode",
     .run = run_max_pool,
     .grad = "self: max_pool2d_with_indices_backward(grad, self, result1)"},
    {.name = "max_pool2d_with_indices_backward.default", .args = "grad self indices", .run = run_grad_of},
    {.name = "max_pool3d.default",
     .takes = "b",
     .args = "self kernel_size stride padding dilation ceil_mode",
     .run = expand_max_pool,
     .grad = COMPOSITE},
    {.name = "max_pool3d_with_indices.default",
     .takes = "b",
     .args = "self kernel_size stride padding dilation ceil_mode",
     .run = run_max_pool,
     .grad = "self: max_pool3d_with_indices_backward(grad, self, result1)"},
    {.name = "max_pool3d_with_indices_backward.default", .args = "grad self indices", .run = run_grad_of},
    {.name = "avg_pool1d.default",
     .takes = "b",
     .args = "self kernel_size stride padding ceil_mode",
     .run = expand_alias, /* unsqueezed: avg_pool1d in Pooling.cpp */
     .grad = COMPOSITE,
     .source = "avg_pool2d.default"},
    {.name = "avg_pool2d.default",
     .takes = "b",
     .args = "self kernel_size stride padding ceil_mode",
     .run = run_avg_pool,
     .grad = "self: avg_pool2d_backward(grad, self)"},
    {.name = "avg_pool3d.default",
     .takes = "b",
     .args = "self kernel_size stride padding ceil_mode",
     .run = run_avg_pool,
     .grad = "self: avg_pool3d_backward(grad, self)"},
    {.name = "avg_pool3d_backward.default", .args = "grad self", .run = run_grad_of},
    {.name = "avg_pool2d_backward.default", .args = "grad self", .run = run_grad_of},
    {.name = "adaptive_avg_pool1d.default",
     .takes = "b",
     .args = "self output_size",
     .run = expand_adaptive_avg_pool,
     .grad = COMPOSITE},
    {.name = "adaptive_avg_pool2d.default",
     .takes = "b",
     .args = "self output_size",
     .run = expand_adaptive_avg_pool,
     .grad = COMPOSITE},
    {.name = "adaptive_avg_pool3d.default",
     .takes = "b",
     .args = "self output_size",
     .run = expand_adaptive_avg_pool,
     .grad = COMPOSITE},
    {.name = "_adaptive_avg_pool2d.default",
     .takes = "b",
     .args = "self output_size",
     .run = run_spatial,
     .grad = "self: _adaptive_avg_pool2d_backward(grad, self)"},
    {.name = "_adaptive_avg_pool2d_backward.default", .args = "grad self", .run = run_grad_of},
    {.name = "adaptive_max_pool2d.default",
     .takes = "b",
     .args = "self output_size",
     .run = run_adaptive_max_pool,
     .grad = "self: adaptive_max_pool2d_backward(grad, self, result1)"},
    {.name = "adaptive_max_pool2d_backward.default", .args = "grad self indices", .run = run_grad_of},
    {.name = "upsample_nearest1d.default",
     .takes = "b",
     .args = "self output_size scale_factors",
     .run = run_spatial,
     .cast = CAST_FP32,
     .grad = "self: upsample_nearest1d_backward(grad, #self)"},
    {.name = "upsample_nearest1d_backward.default", .args = "grad self", .run = run_grad_of},
    {.name = "upsample_nearest2d.default",
     .takes = "b",
     .args = "self output_size scale_factors",
     .run = run_spatial,
     .cast = CAST_FP32,
     .grad = "self: upsample_nearest2d_backward(grad, #self)"},
    {.name = "upsample_nearest2d_backward.default", .args = "grad self", .run = run_grad_of},
    {.name = "upsample_nearest3d.default",
     .takes = "b",
     .args = "self output_size scale_factors",
     .run = run_spatial,
     .cast = CAST_FP32,
     .grad = "self: upsample_nearest3d_backward(grad, #self)"},
    {.name = "upsample_nearest3d_backward.default", .args = "grad self", .run = run_grad_of},
    {.name = "upsample_linear1d.default",
     .takes = "b",
     .args = "self output_size align_corners scale_factors",
     .run = run_spatial,
     .cast = CAST_FP32,
     .grad = "self: upsample_linear1d_backward(grad, #self)"},
    {.name = "upsample_linear1d_backward.default", .args = "grad self", .run = run_grad_of},
    {.name = "upsample_trilinear3d.default",
     .takes = "b",
     .args = "self output_size align_corners scale_factors",
     .run = run_spatial,
     .cast = CAST_FP32,
     .grad = "self: upsample_trilinear3d_backward(grad, #self)"},
    {.name = "upsample_trilinear3d_backward.default", .args = "grad self", .run = run_grad_of},
    {.name = "upsample_bilinear2d.default",
     .takes = "b",
     .args = "self output_size align_corners scale_factors",
     .run = run_spatial,
     .cast = CAST_FP32,
     .grad = "self: upsample_bilinear2d_backward(grad, #self)"},
    {.name = "upsample_bilinear2d_backward.default", .args = "grad self", .run = run_grad_of},
    {.name = "_upsample_nearest_exact2d.default",
     .takes = "b",
     .args = "self output_size scale_factors",
     .run = run_spatial,
     .cast = CAST_FP32,
     .grad = "self: _upsample_nearest_exact2d_backward(grad, #self)"},
    {.name = "_upsample_nearest_exact2d_backward.default", .args = "grad self", .run = run_grad_of},
    {.name = "_upsample_nearest_exact3d.default",
     .takes = "b",
     .args = "self output_size scale_factors",
     .run = run_spatial,
     .cast = CAST_FP32,
     .grad = "self: _upsample_nearest_exact3d_backward(grad, #self)"},
    {.name = "_upsample_nearest_exact3d_backward.default", .args = "grad self", .run = run_grad_of},
    {.name = "_upsample_nearest_exact1d.default",
     .takes = "b",
     .args = "self output_size scale_factors",
     .run = run_spatial,
     .cast = CAST_FP32,
     .grad = "self: _upsample_nearest_exact1d_backward(grad, #self)"},
    {.name = "_upsample_nearest_exact1d_backward.default", .args = "grad self", .run = run_grad_of},
    {.name = "_upsample_bilinear2d_aa.default",
     .takes = "b",
     .args = "self output_size align_corners scale_factors",
     .run = run_spatial,
     .cast = CAST_FP32,
     .grad = "self: _upsample_bilinear2d_aa_backward(grad, #self)"},
    {.name = "_upsample_bilinear2d_aa_backward.default", .args = "grad self", .run = run_grad_of},
    {.name = "_upsample_bicubic2d_aa.default",
     .takes = "b",
     .args = "self output_size align_corners scale_factors",
     .run = run_spatial,
     .cast = CAST_FP32,
     .grad = "self: _upsample_bicubic2d_aa_backward(grad, #self)"},
    {.name = "_upsample_bicubic2d_aa_backward.default", .args = "grad self", .run = run_grad_of},
    {.name = "im2col.default",
     .args = "self kernel_size dilation padding stride",
     .run = run_stated,
     .grad = "self: col2im_of(grad, #self)"},
    {.name = "col2im.default",
     .args = "self output_size kernel_size dilation padding stride",
     .run = run_stated,
     .grad = "self: im2col_of(grad, #self)"},
    {.name = "im2col_of", .args = "grad self", .run = run_named, .source = "im2col.default"},
    {.name = "col2im_of", .args = "grad self", .run = run_named, .source = "col2im.default"},
    {.name = "_fft_c2c.default",
     .args = "self dim normalization forward",
     .run = run_fft_c2c,
     .grad = "self: _fft_c2c(grad, dim)"},
    {.name = "_fft_r2c.default",
     .args = "self dim normalization onesided",
     .run = run_fft_real,
     .grad = "self: fft_r2c_backward(grad, self, dim, onesided)"}, /* sym_size(dim.back()): the generator saves self */
    {.name = "_fft_c2r.default",
     .args = "self dim normalization last_dim_size",
     .run = run_fft_real,
     .grad = "self: _fft_r2c(grad, dim, 0, 1)"},
    {.name = "fft_r2c_backward", .args = "grad self dim onesided", .run = expand_fft_r2c_backward, .grad = COMPOSITE},
    {.name = "view_as_real.default",
     .args = "self",
     .run = run_view_as_real,
     .grad = "self: view_as_complex(contiguous(grad))"},
    {.name = "view_as_complex.default",
     .takes = "+",
     .args = "self",
     .run = run_view_as_complex,
     .grad = "self: view_as_real(contiguous(grad))"},
    {.name = "real.default", .args = "self", .run = run_real},
    {.name = "upsample_bicubic2d.default",
     .takes = "b",
     .args = "self output_size align_corners scale_factors",
     .run = run_spatial,
     .cast = CAST_FP32,
     .grad = "self: upsample_bicubic2d_backward(grad, #self)"},
    {.name = "upsample_bicubic2d_backward.default", .args = "grad self", .run = run_grad_of},
    {.name = "grid_sampler_2d.default",
     .takes = "ii",
     .args = "input grid interpolation_mode padding_mode align_corners",
     .run = run_grid_sampler,
     .grad = "input, grid: grid_sampler_2d_backward(grad, input, grid)"},
    {.name = "grid_sampler_2d_backward.default", .args = "grad input grid", .run = run_grid_sampler_backward},
    {.name = "grid_sampler_3d.default",
     .takes = "ii",
     .args = "input grid interpolation_mode padding_mode align_corners",
     .run = run_grid_sampler,
     .grad = "input, grid: grid_sampler_3d_backward(grad, input, grid)"},
    {.name = "grid_sampler_3d_backward.default", .args = "grad input grid", .run = run_grid_sampler_backward},
    {.name = "max_unpool2d.default",
     .takes = "..",
     .args = "self indices output_size",
     .run = run_kernel,
     .grad = "self: max_pool_double_backward(grad, #self, indices)"},
    {.name = "max_pool_double_backward", .args = "grad self indices", .run = run_grad_of},
    {.name = "roi_align.default",
     .takes = "..",
     .args = "input rois",
     .run = run_kernel,
     .cast = CAST_FP32,
     .grad = "input: _roi_align_backward(grad, #input, rois)",
     .source = "torchvision/csrc/ops/autograd/roi_align_kernel.cpp"},
    {.name = "_roi_align_backward.default", .args = "grad input rois", .run = run_grad_of},
    {.name = "deform_conv2d.default",
     .takes = "4..",
     .args = "input weight offset mask bias",
     .run = run_kernel,
     .cast = CAST_FP32,
     .grad = "input, weight, offset, mask, bias: _deform_conv2d_backward(grad, input, weight, offset, mask, bias)",
     .source = "torchvision/csrc/ops/autograd/deform_conv2d_kernel.cpp"},
    {.name = "_deform_conv2d_backward.default",
     .args = "grad input weight offset mask bias",
     .run = run_deform_backward},
    {.name = "pixel_shuffle.default",
     .takes = "+",
     .args = "self upscale_factor",
     .run = run_pixel_shuffle,
     .grad = "self: pixel_unshuffle_of(grad, #self)"},
    {.name = "pixel_unshuffle.default",
     .takes = "+",
     .args = "self downscale_factor",
     .run = run_pixel_unshuffle,
     .grad = "self: pixel_shuffle_of(grad, #self)"},
    {.name = "pixel_shuffle_of", .args = "grad self", .run = run_named, .source = "pixel_shuffle.default"},
    {.name = "pixel_unshuffle_of", .args = "grad self", .run = run_named, .source = "pixel_unshuffle.default"},

    /* normalization */
    {.name = "batch_norm.default",
     .whole_batch = true,
     .takes = "b",
     .args = "input weight bias running_mean running_var training momentum eps",
     .run = expand_batch_norm,
     .grad = COMPOSITE},
    {.name = "cudnn_batch_norm.default",
     .takes = "b",
     .args = "input weight bias running_mean running_var training momentum eps",
     .run = run_batch_norm,
     .grad = "input, weight, bias: cudnn_batch_norm_backward(input, grad, weight, running_mean, running_var, result1, "
             "result2)"},
    {.name = "cudnn_batch_norm_backward.default",
     .args = "input grad weight running_mean running_var save_mean save_var",
     .run = run_batch_norm_backward},
    {.name = "native_batch_norm.default",
     .whole_batch = true,
     .takes = "b",
     .args = "input weight bias running_mean running_var training momentum eps",
     .run = run_batch_norm,
     .grad = "input, weight, bias: native_batch_norm_backward(input, grad, weight, running_mean, running_var, result1, "
             "result2)"},
    {.name = "native_batch_norm_backward.default",
     .args = "input grad weight running_mean running_var save_mean save_invstd",
     .run = run_batch_norm_backward},
    {.name = "instance_norm.default",
     .takes = "b",
     .args = "input weight bias running_mean running_var use_input_stats momentum eps",
     .run = expand_instance_norm,
     .grad = COMPOSITE},
    {.name = "layer_norm.default",
     .args = "input normalized_shape weight bias eps",
     .run = expand_layer_norm,
     .grad = COMPOSITE,
     .cast = CAST_FP32},
    {.name = "native_layer_norm.default",
     .args = "input normalized_shape weight bias eps",
     .run = run_layer_norm,
     .cast = CAST_FP32,
     .grad = "input, weight, bias: native_layer_norm_backward(grad, input, result1, result2, weight, bias)"},
    {.name = "native_layer_norm_backward.default",
     .args = "grad input mean rstd weight bias",
     .run = run_layer_norm_backward},
    {.name = "group_norm.default",
     .takes = "b",
     .args = "input num_groups weight bias eps",
     .run = expand_group_norm,
     .grad = COMPOSITE,
     .cast = CAST_FP32},
    {.name = "native_group_norm.default",
     .takes = "b",
     .args = "input weight bias N C HxW group eps",
     .run = run_group_norm,
     .cast = CAST_FP32,
     .grad =
         "input, weight, bias: native_group_norm_backward(contiguous(grad), input, result1, result2, weight, #bias)"},
    {.name = "native_group_norm_backward.default",
     .args = "grad input mean rstd weight bias",
     .run = run_layer_norm_backward},
    {.name = "rms_norm.default",
     .args = "input normalized_shape weight eps",
     .run = expand_rms_norm,
     .grad = COMPOSITE},
    {.name = "_fused_rms_norm.default",
     .args = "input normalized_shape weight eps",
     .run = run_rms_norm,
     .grad = "input, weight: _fused_rms_norm_backward(grad, input, result1, #input, weight)"},
    {.name = "_fused_rms_norm_backward.default", .args = "grad input rstd like weight", .run = run_layer_norm_backward},

    /* softmax, dropout, attention */
    {.name = "softmax.int", .args = "self dim dtype", .run = expand_softmax, .grad = COMPOSITE, .cast = CAST_DTYPE},
    {.name = "_softmax.default",
     .args = "self dim dtype",
     .run = run_softmax,
     .grad = "self: _softmax_backward_data(grad, result, #self)"},
    {.name = "_softmax_backward_data.default", .args = "grad output self", .run = run_softmax_backward_data},
    {.name = "log_softmax.int", .args = "self dim dtype", .run = expand_softmax, .grad = COMPOSITE, .cast = CAST_DTYPE},
    {.name = "_log_softmax.default",
     .args = "self dim dtype",
     .run = run_softmax,
     .grad = "self: _log_softmax_backward_data(grad, result, #self)"},
    {.name = "_log_softmax_backward_data.default", .args = "grad output self", .run = run_softmax_backward},
    {.name = "folded.default", .takes = "", .args = "op dtype", .run = run_folded, .shaped = true, .source = "lower.c"},
    {.name = "lost_view.default", .args = "self", .run = expand_stated, .grad = COMPOSITE, .source = "lower.c"},
    {.name = "lost_clone.default",
     .args = "self view_like dropout",
     .run = expand_lost_clone,
     .grad = COMPOSITE,
     .source = "lower.c"},
    {.name = "dropout.default", .args = "input p train", .run = expand_dropout, .grad = COMPOSITE},
    {.name = "dropout_.default", .args = "input p train", .run = expand_dropout_in_place, .grad = COMPOSITE},
    {.name = "native_dropout.default",
     .args = "input p train",
     .run = run_dropout,
     .grad = "input: native_dropout_backward(grad, result1)"},
    {.name = "native_dropout_backward.default", .args = "grad mask", .run = run_masked_fill},
    {.name = "scaled_dot_product_attention.default",
     .takes = "iii",
     .args = "query key value attn_mask dropout_p is_causal scale enable_gqa",
     .run = expand_attention,
     .grad = COMPOSITE,
     .cast = CAST_LOWER,
     .assumes = "scaled_dot_product_attention runs the kernel that PyTorch prefers there",
     .alternative = ALTERNATIVE_ATTENTION},
    {.name = "_scaled_dot_product_efficient_attention.default",
     .takes = "444",
     .args = "query key value attn_bias compute_log_sumexp dropout_p is_causal",
     .run = run_efficient_attention,
     .grad = "query, key, value, attn_bias: _scaled_dot_product_efficient_attention_backward(grad, query, key, value, "
             "attn_bias, result1, result, result2, result3)"},
    {.name = "_scaled_dot_product_efficient_attention_backward.default",
     .args = "grad query key value attn_bias",
     .run = run_efficient_attention_backward},
    {.name = "_scaled_dot_product_flash_attention.default",
     .takes = "444",
     .args = "query key value dropout_p is_causal",
     .run = run_flash_attention,
     .grad = "query, key, value: _scaled_dot_product_flash_attention_backward(grad, query, key, value, result1, "
             "result, result2, result3)"},
    {.name = "_scaled_dot_product_flash_attention_backward.default",
     .args = "grad query key value",
     .run = run_flash_attention_backward},

    {.name = "_scaled_dot_product_cudnn_attention.default",
     .args = "query key value attn_bias dropout_p",
     .takes = "444",
     .run = run_cudnn_attention,
     .grad = "query, key, value: _scaled_dot_product_cudnn_attention_backward(grad, query, key, value, result1, "
             "result, result2, result3, attn_bias)"},
    {.name = "_scaled_dot_product_cudnn_attention_backward.default",
     .args = "grad query key value",
     .run = run_cudnn_attention_backward},

    /* losses */
    {.name = "cross_entropy_loss.default",
     .takes = "+.",
     .args = "self target weight reduction ignore_index label_smoothing",
     .run = expand_cross_entropy,
     .grad = COMPOSITE},
    ALIAS("nll_loss.default", "nll_loss_forward.default", "..", "self target weight reduction ignore_index"),
    {.name = "nll_loss_forward.default",
     .takes = "..",
     .args = "self target weight reduction ignore_index",
     .run = run_nll_loss,
     .cast = CAST_FP32,
     .grad = "self: nll_loss_backward(grad, self, target, result1, weight)"},
    {.name = "nll_loss_backward.default", .args = "grad self target total_weight weight", .run = run_second_like},
    {.name = "nll_loss2d_forward.default",
     .takes = "..",
     .args = "self target weight reduction ignore_index",
     .run = run_nll_loss,
     .cast = CAST_FP32,
     .grad = "self: nll_loss2d_backward(grad, self, target, result1, weight)"},
    {.name = "nll_loss2d_backward.default", .args = "grad self target total_weight weight", .run = run_second_like},
    {.name = "mse_loss.default",
     .takes = "..",
     .args = "self target reduction",
     .run = run_loss,
     .cast = CAST_FP32,
     .grad = "self: mse_loss_backward(grad, self, target); target: mse_loss_backward(grad, target, self)"},
    {.name = "smooth_l1_loss.default",
     .takes = "..",
     .args = "self target reduction beta",
     .run = run_loss,
     .cast = CAST_FP32,
     .grad = "self: smooth_l1_loss_backward(grad, self, target); target: smooth_l1_loss_backward(grad, target, self)"},
    {.name = "smooth_l1_loss_backward.default", .args = "grad self target", .run = run_second_like},
    {.name = "huber_loss.default",
     .takes = "..",
     .args = "self target reduction delta",
     .run = run_loss,
     .cast = CAST_FP32,
     .grad = "self: huber_loss_backward(grad, self, target); target: huber_loss_backward(grad, target, self)"},
    {.name = "huber_loss_backward.default", .args = "grad self target", .run = run_second_like},
    {.name = "soft_margin_loss.default",
     .takes = "..",
     .args = "self target reduction",
     .run = run_loss,
     .cast = CAST_FP32,
     .grad = "self: soft_margin_loss_backward(grad, self, target)"},
    {.name = "soft_margin_loss_backward.default", .args = "grad self target", .run = run_second_like},
    {.name = "binary_cross_entropy.default",
     .takes = "..",
     .args = "self target weight reduction",
     .run = run_scalar_loss,
     .grad = "self: binary_cross_entropy_backward(grad, self, target, weight); target: bce_target_backward(grad, self, "
             "target, weight)"},
    {.name = "binary_cross_entropy_backward.default", .args = "grad self target weight", .run = run_second_like},
    {.name = "bce_target_backward",
     .takes = "..",
     .args = "grad self target weight",
     .run = expand_bce_target_backward,
     .grad = COMPOSITE},
    {.name = "mse_loss_backward.default", .args = "grad self target", .run = run_second_like},
    {.name = "binary_cross_entropy_with_logits.default",
     .takes = "..",
     .args = "self target weight pos_weight",
     .run = run_bce,
     .grad = "self: bce_backward(grad, self, target, weight, pos_weight); target: kept(mul.Tensor(grad, neg(self)), "
             "target, weight, pos_weight)",
     .cast = CAST_FP32},
    {.name = "bce_backward",
     .takes = "...",
     .args = "grad self target weight pos_weight",
     .run = expand_bce_backward,
     .grad = COMPOSITE},
};
const int aten_count = COUNT(aten_table);

/* Whether the tensors that an operator can't do without are there, with ranks that its rule may rely on: a letter an argument.
 * . a tensor, + of rank 1 or more, b of 2 or more, i of 3 or more and all i alike, a digit exactly so many, * a list of tensors,
 * - anything, ? a tensor here or next. NULL is ".". */
bool
aten_takes(const struct aten *op, const struct arg *a, int n)
{
    const char *takes = op->takes ? op->takes : ".";
    int image = -1;
    for (int i = 0; takes[i]; i++) {
        if (takes[i] == '-')
            continue;
        if (i >= n)
            return false;
        const struct value *v = a[i].kind == ARG_VALUE ? a[i].v : NULL;
        if (takes[i] == '*') {
            for (int k = 0; k < a[i].n; k++)
                if (a[i].kind != ARG_LIST || a[i].list[k].kind != ARG_VALUE)
                    return false;
            if (a[i].kind != ARG_LIST || !a[i].n)
                return false;
            continue;
        }
        if (takes[i] == '?' && !v && i + 1 < n && a[i + 1].kind == ARG_VALUE)
            continue;
        if (!v || (takes[i] == '+' && v->rank < 1) || (takes[i] == 'b' && v->rank < 2) ||
            (takes[i] == 'i' && (v->rank < 3 || (image >= 0 && v->rank != image))) ||
            (takes[i] >= '0' && takes[i] <= '9' && v->rank != takes[i] - '0'))
            return false;
        image = takes[i] == 'i' ? v->rank : image;
    }
    return true;
}

/* ---- look-up -------------------------------------------------------------------------------------------------------------------------------------------------------- */

static int
by_name(const void *a, const void *b)
{
    return strcmp((*(const struct aten *const *)a)->name, (*(const struct aten *const *)b)->name);
}

/* Compares a wanted name with a row's up to the row's dot: "add" stands for its first overload. */
const struct aten *
aten_find(const char *target)
{
    static const struct aten *sorted[COUNT(aten_table)];
    if (!sorted[0]) {
        for (int i = 0; i < aten_count; i++)
            sorted[i] = &aten_table[i];
        qsort(sorted, COUNT(sorted), sizeof(*sorted), by_name);
    }
    if (strncmp(target, "aten.", 5) == 0)
        target += 5;
    int lo = 0, hi = aten_count;
    while (lo < hi) {
        int mid = (lo + hi) / 2;
        if (strcmp(sorted[mid]->name, target) < 0)
            lo = mid + 1;
        else
            hi = mid;
    }
    if (lo < aten_count && strcmp(sorted[lo]->name, target) == 0)
        return sorted[lo];
    size_t stem = strlen(target);
    const struct aten *best = NULL; /* the stem's first row in the table's order */
    for (int i = lo; i < aten_count && strncmp(sorted[i]->name, target, stem) == 0; i++)
        if (sorted[i]->name[stem] == '.' && (!best || sorted[i] < best))
            best = sorted[i];
    for (int i = lo - 1; i >= 0 && strncmp(sorted[i]->name, target, stem) == 0; i--)
        if (sorted[i]->name[stem] == '.' && (!best || sorted[i] < best))
            best = sorted[i];
    return best;
}

int
aten_arg(const struct aten *op, const char *name)
{
    size_t len = strlen(name);
    int at = 0;
    for (const char *p = op->args; *p; at++) {
        size_t n = strcspn(p, " ");
        if (n == len && strncmp(p, name, n) == 0)
            return at;
        p += n + (p[n] == ' ');
    }
    return -1;
}

void
aten_print(const struct aten *op, FILE *out)
{
    static const char *const casts[] = {"-", "lower", "fp32", "dtype", "promote"};
    fprintf(out, "%s\t%s\t%s\t%s\n", op->name, op->args,
            !op->grad   ? "no derivative"
            : *op->grad ? op->grad
                        : "composite",
            casts[op->cast]);
}

void
aten_list(FILE *out)
{
    for (int i = 0; i < aten_count; i++)
        aten_print(&aten_table[i], out);
}
