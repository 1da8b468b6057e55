/* SPDX-License-Identifier: Apache-2.0 */
/* layout.c - sizes, strides and types of results.
 *
 * The rules are PyTorch's: elementwise results take the permutation of their inputs
 * (TensorIterator::reorder_dimensions), a view needs strides that allow it (computeStride), convolutions and pools
 * follow channels_last, types are promoted by category (c10/core/ScalarType.cpp).
 */
#include "torch/run.h"

/* ---- layout ------------------------------------------------------------------------------------------------------ */

int
layout_broadcast(const struct arg *a, int n, int64_t *size)
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
layout_reorder(int rank, int *perm, int (*after)(const void *of, int d0, int d1), const void *of)
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

/* Whether no dimensions swap, as the first operand tells alone: its strides get smaller from one to the next. */
static bool
keeps_order(const struct arg *a, int n, int rank, const int64_t *size)
{
    int first = 0;
    while (first < n && a[first].kind != ARG_VALUE)
        first++;
    const struct value *v = first < n ? a[first].v : NULL;
    bool keeps = v && v->rank == rank;
    for (int i = rank - 1, inner = 0; i >= 0 && keeps; inner = i--)
        keeps = v->size[i] == size[i] && v->stride[i] > (inner ? v->stride[inner] : 0);
    return keeps;
}

void
layout_strides(const struct arg *a, int n, int rank, const int64_t *size, int64_t *stride)
{
    int perm[RANK];
    const bool keeps = keeps_order(a, n, rank, size); /* most do */
    if (!keeps)
        layout_reorder(rank, perm, should_swap, &(struct operands){a, n, rank, size});
    int64_t run = 1;
    for (int i = 0; i < rank; i++) {
        const int at = keeps ? rank - 1 - i : perm[i];
        stride[at] = run;
        run *= size[at] > 1 ? size[at] : 1;
    }
}

/* Strides with which v's elements can be seen as rank sizes without a copy. Source: computeStride in
 * aten/src/ATen/TensorUtils.cpp. */
bool
layout_view(const struct value *v, int rank, const int64_t *size, int64_t *stride)
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

struct value *
layout_image(struct machine *m, enum dtype t, int rank, const int64_t *size, bool last)
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

struct value *
layout_like(struct machine *m, const struct value *v, enum dtype t)
{
    int64_t stride[RANK];
    struct arg a = {.kind = ARG_VALUE, .v = (struct value *)v};
    layout_strides(&a, 1, v->rank, v->size, stride);
    return value_new(m, t, v->rank, v->size, stride);
}

int
layout_dim(int64_t d, int rank)
{
    if (d < 0)
        d += rank;
    return d < 0 ? 0 : d >= rank ? (rank ? rank - 1 : 0) : (int)d;
}

int
layout_stated(const struct frame *f, int at, int64_t *size)
{
    if (f->rank >= 0) {
        const bool pairs = f->rank && V(0) && dtype_is_complex(V(0)->dtype) && /* as files have complex numbers */
                           sizes_product(f->rank, f->size) == 2 * value_elements(V(0)) && f->size[f->rank - 1] == 2;
        memcpy(size, f->size, sizeof(*size) * (size_t)f->rank);
        return f->rank - pairs;
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

/* ---- types ------------------------------------------------------------------------------------------------------- */

static int
category(enum dtype t)
{
    return dtype_is_complex(t) ? 4 : dtypes[t].is_float ? 3 : t == DT_BOOL ? 1 : 2;
}

enum dtype
layout_wider(enum dtype a, enum dtype b)
{
    if (a == DT_UNDEFINED || a == b)
        return b;
    if (category(a) != category(b))
        return category(a) > category(b) ? a : b;
    if (category(a) == 3 && dtypes[a].bits == dtypes[b].bits)
        return DT_FLOAT; /* float16 with bfloat16 */
    return dtypes[a].bits >= dtypes[b].bits ? a : b;
}

enum dtype
layout_promote(const struct arg *a, int n)
{
    enum dtype group[3] = {DT_UNDEFINED, DT_UNDEFINED, DT_UNDEFINED};
    for (int i = 0; i < n; i++) {
        switch (a[i].kind) {
        case ARG_VALUE: {
            enum dtype *g = &group[a[i].v->rank == 0];
            *g = layout_wider(*g, a[i].v->dtype);
            break;
        }
        case ARG_INT:
            group[2] = layout_wider(group[2], DT_INT64);
            break;
        case ARG_FLOAT:
            group[2] = layout_wider(group[2], DT_FLOAT);
            break;
        case ARG_COMPLEX:
            group[2] = layout_wider(group[2], DT_COMPLEX64);
            break;
        case ARG_BOOL:
            group[2] = layout_wider(group[2], DT_BOOL);
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

enum dtype
layout_statistics(const struct value *v)
{
    return v->dtype == DT_DOUBLE ? DT_DOUBLE : DT_FLOAT; /* accumulated in fp32 for half types */
}
