/* SPDX-License-Identifier: Apache-2.0 */
/* views.c - views, and what joins, pads and indexes: what they make. */
#include "torch/run.h"

/* ---- views ------------------------------------------------------------------------------------------------------- */

void
run_view(struct machine *m, struct frame *f)
{
    int64_t size[RANK], stride[RANK];
    if (f->stride) {
        out_add(m, f, value_view(m, V(0), f->rank, f->size, f->stride));
        f->out[0]->is_view = !f->op->unseen;
        return;
    }
    int rank = layout_stated(f, 1, size);
    if (!layout_view(V(0), rank, size, stride)) /* callers have checked; _unsafe_view is of contiguous tensors */
        for (int i = rank - 1, run = 1; i >= 0; run *= (int)(size[i] > 1 ? size[i] : 1), i--)
            stride[i] = run;
    out_add(m, f, value_view(m, V(0), rank, size, stride));
    f->out[0]->is_view = !f->op->unseen;
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
        int x = layout_dim(a, rank), y = layout_dim(b, rank);
        perm[x] = y;
        perm[y] = x;
    }
    permuted(m, f, perm);
}

void
run_transpose(struct machine *m, struct frame *f)
{
    swapped(m, f, arg_int(f, 1, -1), arg_int(f, 2, -2));
}

void
run_t(struct machine *m, struct frame *f)
{
    swapped(m, f, -1, -2);
}

void
run_permute(struct machine *m, struct frame *f)
{
    int64_t dims[RANK];
    int perm[RANK], rank = V(0)->rank, n = arg_ints(f, 1, dims, RANK);
    for (int i = 0; i < rank; i++)
        perm[i] = i < n ? layout_dim(dims[i], rank) : i;
    permuted(m, f, perm);
}

/* The inverse permutation of a gradient. */
void
run_permute_backward(struct machine *m, struct frame *f)
{
    int64_t dims[RANK];
    int perm[RANK] = {0}, rank = V(0)->rank, n = arg_ints(f, 1, dims, RANK);
    for (int i = 0; i < rank; i++)
        perm[i] = i;
    for (int i = 0; i < n && i < rank; i++)
        perm[layout_dim(dims[i], rank)] = i;
    permuted(m, f, perm);
}

void
run_expand(struct machine *m, struct frame *f)
{
    int64_t size[RANK], stride[RANK];
    struct value *v = V(0);
    int rank = f->rank >= 0 ? f->rank : arg_ints(f, 1, size, RANK);
    if (f->rank > 0)
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
void
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
        gone[layout_dim(dims[i], like->rank)] = true;
    for (int i = 0; i < like->rank; i++) {
        stride[i] = 0;
        if (!gone[i] && at < g->rank) {
            stride[i] = g->size[at] == like->size[i] ? g->stride[at] : 0;
            at++;
        }
    }
    out_add(m, f, value_view(m, g, like->rank, like->size, stride));
}

/* [N, C, 1, 1] with the strides of channels last. */
void
run_strided_pixel(struct machine *m, struct frame *f)
{
    const int64_t c = V(0)->size[1], stride[] = {c, 1, c, c};
    out_add(m, f, value_view(m, V(0), V(0)->rank, V(0)->size, stride));
}

/* (self, size, stride, storage_offset): of a tensor that is itself a view, where that begins is not known. */
void
run_as_strided(struct machine *m, struct frame *f)
{
    int64_t size[RANK], stride[RANK];
    int rank = layout_stated(f, 1, size), n = arg_ints(f, 2, stride, RANK);
    bool known = n == rank && !(V(0)->is_view && f->n > 3 && f->a[3].kind != ARG_NONE);
    for (int i = 0; i < rank; i++)
        known &= i < n && size[i] > 0 && stride[i] >= 0;
    if (!known || (f->n > 3 && f->a[3].kind != ARG_NONE && arg_int(f, 3, -1) < 0))
        m->missing = f->op->name;
    out_add(m, f, known ? value_view(m, V(0), rank, size, stride) : value_new(m, V(0)->dtype, rank, size, NULL));
}

void
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

/* A view without the dimensions that are dropped. */
static void
without(struct machine *m, struct frame *f, const bool *dropped)
{
    int64_t size[RANK], stride[RANK];
    struct value *v = V(0);
    int rank = 0;
    for (int i = 0; i < v->rank; i++)
        if (!dropped[i]) {
            size[rank] = v->size[i];
            stride[rank++] = v->stride[i];
        }
    out_add(m, f, value_view(m, v, rank, size, stride));
}

void
run_squeeze(struct machine *m, struct frame *f)
{
    int64_t dims[RANK];
    struct value *v = V(0);
    int n = arg_ints(f, 1, dims, RANK);
    bool dropped[RANK];
    for (int i = 0; i < v->rank; i++) {
        dropped[i] = f->n < 2;
        for (int k = 0; k < n; k++)
            dropped[i] |= layout_dim(dims[k], v->rank) == i;
        dropped[i] &= v->size[i] == 1;
    }
    without(m, f, dropped);
}

void
run_slice(struct machine *m, struct frame *f)
{
    int64_t size[RANK], stride[RANK];
    struct value *v = V(0);
    int d = layout_dim(arg_int(f, 1, 0), v->rank);
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

void
run_select(struct machine *m, struct frame *f)
{
    bool dropped[RANK] = {false};
    dropped[layout_dim(arg_int(f, 1, 0), V(0)->rank)] = true;
    without(m, f, dropped);
}

/* Windows of one dimension, which may overlap, as a new last one. */
void
run_unfold(struct machine *m, struct frame *f)
{
    int64_t size[RANK], stride[RANK];
    struct value *v = V(0);
    int d = layout_dim(arg_int(f, 1, 0), v->rank);
    int64_t window = arg_int(f, 2, 1), step = arg_int(f, 3, 1), room = (v->rank ? v->size[d] : 1) - window;
    step = step < 1 ? 1 : step;
    memcpy(size, v->size, sizeof(*size) * (size_t)v->rank);
    memcpy(stride, v->stride, sizeof(*stride) * (size_t)v->rank);
    size[v->rank] = window < 0 ? 0 : window;
    stride[v->rank] = v->rank ? v->stride[d] : 1;
    if (v->rank) {
        size[d] = room < 0 ? 0 : room / step + 1;
        stride[d] *= step;
    }
    out_add(m, f, value_view(m, v, v->rank + 1, size, stride));
}

void
run_diagonal(struct machine *m, struct frame *f)
{
    int64_t size[RANK], stride[RANK], offset = arg_int(f, 1, 0);
    struct value *v = V(0);
    int a = layout_dim(arg_int(f, 2, 0), v->rank), b = layout_dim(arg_int(f, 3, 1), v->rank), rank = 0;
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

/* What the view that the row's source names would show, contiguous. */
void
run_view_copy(struct machine *m, struct frame *f)
{
    struct frame view = *f;
    view.op = aten_find(f->op->source);
    view.nout = view.cap_out = 0;
    view.op->run(m, &view);
    for (int i = 0; i < view.nout; i++)
        out_add(m, f, value_new(m, view.out[i]->dtype, view.out[i]->rank, view.out[i]->size, NULL));
}

/* How many parts of that many are made; with fewer the step is in doubt. */
static int64_t
parts_of(struct machine *m, int64_t parts)
{
    m->many_parts |= parts > limit(LIMIT_PARTS);
    return parts < limit(LIMIT_PARTS) ? parts : limit(LIMIT_PARTS);
}

void
run_split(struct machine *m, struct frame *f)
{
    int64_t size[RANK];
    struct value *v = V(0);
    const struct arg *sizes = f->a[1].kind == ARG_LIST ? f->a[1].list : NULL;
    int d = layout_dim(arg_int(f, 2, 0), v->rank);
    memcpy(size, v->size, sizeof(*size) * (size_t)v->rank);
    int64_t step = sizes || arg_int(f, 1, 1) < 1 ? 1 : arg_int(f, 1, 1);
    int64_t count = parts_of(m, sizes ? f->a[1].n : div_up(v->size[d], step));
    for (int64_t i = 0; i < count; i++) {
        int64_t rest = v->size[d] - step * i;
        size[d] = sizes ? (sizes[i].kind == ARG_INT ? sizes[i].i : -1) : rest < step ? rest : step;
        out_add(m, f, value_view(m, v, v->rank, size, v->stride));
    }
}

void
run_unbind(struct machine *m, struct frame *f)
{
    int64_t size[RANK], stride[RANK];
    struct value *v = V(0);
    int d = layout_dim(arg_int(f, 1, 0), v->rank), rank = 0;
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
void
run_cat_backward(struct machine *m, struct frame *f)
{
    struct value *g = V(0);
    int d = layout_dim(arg_int(f, 2, 0), g->rank);
    int64_t size[RANK];
    memcpy(size, g->size, sizeof(*size) * (size_t)g->rank);
    for (int i = 0; i < f->a[1].n; i++) {
        struct value *t = f->a[1].list[i].v;
        if (t->rank == g->rank)
            size[d] = t->size[d];
        out_add(m, f, value_view(m, g, g->rank, size, g->stride));
    }
}

/* Rows and columns of one of block_diag's tensors: a number and a vector are one row. */
static const int64_t *
block_of(const struct value *t, int64_t *size)
{
    size[0] = t->rank > 1 ? t->size[0] : 1;
    size[1] = t->rank ? t->size[t->rank - 1] : 1;
    return size;
}

void
run_block_diag(struct machine *m, struct frame *f)
{
    int64_t size[2] = {0, 0}, block[2];
    for (int i = 0; i < f->a[0].n; i++) {
        block_of(f->a[0].list[i].v, block);
        size[0] += block[0];
        size[1] += block[1];
    }
    out_add(m, f, value_new(m, layout_promote(f->a[0].list, f->a[0].n), COUNT(size), size, NULL));
}

void
run_block_diag_backward(struct machine *m, struct frame *f)
{
    struct value *g = V(0);
    int64_t block[2];
    for (int i = 0; i < f->a[1].n; i++) {
        const struct value *t = f->a[1].list[i].v;
        int from = t->rank == 0 ? 2 : t->rank == 1 && t->size[0] == 1; /* a longer vector's keeps its row */
        out_add(m, f, value_view(m, g, 2 - from, block_of(t, block) + from, g->stride + from));
    }
}

void
run_stack_backward(struct machine *m, struct frame *f)
{
    run_unbind(m, &(struct frame){.op = f->op, .n = 2, .a = (struct arg[]){f->a[0], f->a[2]}, .rank = -1});
    struct value *g = V(0);
    int64_t size[RANK], stride[RANK];
    int d = layout_dim(arg_int(f, 2, 0), g->rank), rank = 0;
    for (int i = 0; i < g->rank; i++)
        if (i != d) {
            size[rank] = g->size[i];
            stride[rank++] = g->stride[i];
        }
    for (int i = 0; i < f->a[1].n; i++)
        out_add(m, f, value_view(m, g, rank, size, stride));
}

/* ---- joining, padding, indexing ---------------------------------------------------------------------------------- */

/* The size of part i of n, for which there is no gradient: parts are equal but for the last, or it is what is left. */
static int64_t
missing_size(const struct arg *part, int n, int i, int64_t total, int dim)
{
    int64_t known = 0, step = -1, last = -1;
    int missing = 0;
    for (int k = 0; k < n; k++) {
        if (part[k].kind != ARG_VALUE || !part[k].v) {
            missing++;
            continue;
        }
        known += part[k].v->size[dim];
        step = k < n - 1 && step < 0 ? part[k].v->size[dim] : step;
        last = k == n - 1 ? part[k].v->size[dim] : last;
    }
    if (missing == 1 || n < 2)
        return total - known;
    if (step < 0)
        step = last < 0 ? (total + n - 1) / n : (total - last) / (n - 1);
    return i < n - 1 ? step : total - step * (n - 1);
}

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
                size[dim] = missing_size(f->a[list].list, n, i, like->size[dim], (int)dim);
            out[i] = OP(m, "zeros.default", ints_arg(m, like->rank, size), DTYPE(like->dtype));
        }
    }
    return out;
}

void
run_cat(struct machine *m, struct frame *f)
{
    int64_t size[RANK];
    if (f->a[0].kind != ARG_LIST || !f->a[0].n || f->a[0].list[0].kind != ARG_VALUE)
        return;
    enum dtype t = DT_UNDEFINED;
    struct value *v = f->a[0].list[0].v;
    for (int i = 1; i < f->a[0].n && v->rank == 1 && v->size[0] == 0; i++)
        v = f->a[0].list[i].v; /* empty 1-d tensors are skipped */
    int d = layout_dim(arg_int(f, 1, 0), v->rank);
    bool last = true;
    memcpy(size, v->size, sizeof(*size) * (size_t)v->rank);
    size[d] = 0;
    for (int i = 0; i < f->a[0].n; i++) {
        struct value *w = f->a[0].list[i].v;
        t = layout_wider(t, w->dtype);
        last &= value_channels_last(w);
        if (w->rank == v->rank)
            size[d] += w->size[d];
    }
    out_add(m, f, layout_image(m, t, v->rank, size, last));
}

void
run_stack(struct machine *m, struct frame *f)
{
    int64_t size[RANK];
    if (f->a[0].kind != ARG_LIST || !f->a[0].n || f->a[0].list[0].kind != ARG_VALUE)
        return;
    struct value *v = f->a[0].list[0].v;
    enum dtype t = DT_UNDEFINED;
    int d = layout_dim(arg_int(f, 1, 0), v->rank + 1);
    for (int i = 0, k = 0; i <= v->rank; i++)
        size[i] = i == d ? f->a[0].n : v->size[k++];
    for (int i = 0; i < f->a[0].n; i++)
        t = layout_wider(t, f->a[0].list[i].v->dtype);
    out_add(m, f, value_new(m, t, v->rank + 1, size, NULL));
}

/* split's backward: the gradients joined, missing ones as zeros. */
void
run_split_backward(struct machine *m, struct frame *f)
{
    struct value *like = V(1);
    int d = layout_dim(arg_int(f, 2, 0), like->rank), n = f->a[0].n;
    struct value **part = list_filled(m, f, 0, like, d);
    struct arg l = {.kind = ARG_LIST, .n = n, .list = NEWN(m->a, struct arg, n)};
    for (int i = 0; i < n; i++)
        l.list[i] = VAL(part[i]);
    out_add(m, f, OP(m, "cat.default", l, INT(d)));
}

/* Source: unbind_backward in torch/csrc/autograd/FunctionsManual.cpp. */
static struct value *
zeros_as(struct machine *m, const struct value *like)
{
    struct value *zero = OP(m, "zeros.default", ints_arg(m, 0, NULL), DTYPE(like->dtype));
    return OP(m, "expand.default", VAL(zero), ints_arg(m, like->rank, like->size));
}

void
run_unbind_backward(struct machine *m, struct frame *f)
{
    struct value **part = list_filled(m, f, 0, NULL, -1), *like = V(1), *any = NULL;
    int n = f->a[0].n;
    for (int i = 0; i < n; i++)
        any = any ? any : part[i];
    if (!any)
        return;
    struct arg l = {.kind = ARG_LIST, .n = n, .list = NEWN(m->a, struct arg, n)};
    for (int i = 0; i < n; i++)
        l.list[i] = VAL(part[i] ? part[i] : zeros_as(m, any));
    out_add(m, f, OP(m, "stack.default", l, INT(layout_dim(arg_int(f, 2, 0), like->rank))));
}

/* constant_pad_nd: pads come from the last dimension inwards. */
static void
padded_sizes(const struct frame *f, int64_t *size)
{
    int64_t pad[2 * RANK];
    const struct value *v = V(0);
    int n = arg_ints(f, 1, pad, 2 * RANK);
    memcpy(size, f->rank == v->rank ? f->size : v->size, sizeof(*size) * (size_t)v->rank);
    for (int i = 0; f->rank != v->rank && i < n / 2 && i < v->rank; i++)
        size[v->rank - 1 - i] += pad[2 * i] + pad[2 * i + 1];
}

static bool
only_loses(const struct frame *f, const int64_t *size)
{
    int64_t pad[2 * RANK];
    bool loses = true;
    for (int i = 0; i < V(0)->rank; i++)
        loses &= size[i] <= V(0)->size[i];
    for (int i = arg_ints(f, 1, pad, 2 * RANK); i-- > 0;)
        loses &= pad[i] <= 0;
    return loses;
}

/* What only loses elements is a clone of what is left, as it lies. Source: constant_pad_nd in PadNd.cpp. */
void
run_pad(struct machine *m, struct frame *f)
{
    int64_t size[RANK];
    struct value *v = V(0);
    padded_sizes(f, size);
    if (only_loses(f, size))
        out_add(m, f, layout_like(m, &(struct value){.rank = v->rank, .size = size, .stride = v->stride}, v->dtype));
    else
        out_add(m, f, layout_image(m, v->dtype, v->rank, size, value_channels_last(v)));
}

/* Contiguous whatever its input is. Source: ReflectionPad.cu, ReplicationPadding.cu; _pad2d_common in
 * torch/_meta_registrations.py. */
void
run_pad_edges(struct machine *m, struct frame *f)
{
    int64_t size[RANK];
    padded_sizes(f, size);
    out_add(m, f, value_new(m, V(0)->dtype, V(0)->rank, size, NULL));
}

/* Result has the sizes of the second argument and the layout of a fresh tensor. */
void
run_grad_of(struct machine *m, struct frame *f)
{
    struct value *like = V(1);
    out_add(m, f, layout_image(m, V(0)->dtype, like->rank, like->size, value_channels_last(like)));
}

void
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

void
run_embedding(struct machine *m, struct frame *f)
{
    int64_t size[RANK];
    struct value *w = V(0), *i = V(1);
    memcpy(size, i->size, sizeof(*size) * (size_t)i->rank);
    size[i->rank] = w->size[w->rank - 1];
    out_add(m, f, value_new(m, w->dtype, i->rank + 1, size, NULL));
}

/* Sizes of x[i, :, j]: what the indices broadcast to stands where the first of adjacent indices stood, else in
 * front. */
static int
index_sizes(const struct frame *f, int64_t *size, int64_t *stride)
{
    const struct value *v = V(0);
    const struct arg *ix = &f->a[1];
    int64_t shape[RANK];
    int n = ix->kind == ARG_LIST ? ix->n : 0, rank = layout_broadcast(ix->list, n, shape), first = -1, last = -1,
        count = 0, at = 0;
    for (int i = 0; i < n; i++)
        if (ix->list[i].kind == ARG_VALUE) {
            first = first < 0 ? i : first;
            last = i;
            count++;
        }
    bool adjacent = count && last - first + 1 == count;
    for (int i = 0; i < v->rank; i++) {
        if (count && i == (adjacent ? first : 0))
            for (int k = 0; k < rank; k++, at++) {
                size[at] = shape[k];
                stride[at] = 0;
            }
        if (i >= n || ix->list[i].kind != ARG_VALUE) {
            size[at] = v->size[i];
            stride[at++] = v->stride[i];
        }
    }
    return at;
}

void
run_index(struct machine *m, struct frame *f)
{
    int64_t size[RANK], stride[RANK], out[RANK];
    int rank = index_sizes(f, size, stride);
    bool mask = false; /* only the file knows how many it picks */
    for (int i = 0; f->a[1].kind == ARG_LIST && i < f->a[1].n; i++)
        mask |= f->a[1].list[i].kind == ARG_VALUE && f->a[1].list[i].v->dtype == DT_BOOL;
    int64_t all = sizes_product(f->rank, f->size), mine = sizes_product(rank, size), at = -1;
    for (int i = 0; f->a[1].kind == ARG_LIST && i < f->a[1].n && i < V(0)->rank; i++)
        at = f->a[1].list[i].kind == ARG_VALUE ? (at < 0 ? i : V(0)->rank) : at;
    if (!mask && f->rank >= 0 && all != mine && at >= 0 && at < V(0)->rank && value_elements(V(0)) > 0) {
        rank = V(0)->rank; /* a folded list: it picks as many as the file's result has */
        memcpy(size, V(0)->size, sizeof(*size) * (size_t)rank);
        memcpy(stride, V(0)->stride, sizeof(*stride) * (size_t)rank);
        stride[at] = 0;
        size[at] = all / (value_elements(V(0)) / size[at]);
    }
    if (mask && f->rank >= 0) {
        out_add(m, f, value_new(m, V(0)->dtype, f->rank, f->size, NULL));
        return;
    }
    struct arg shown = VAL((&(struct value){.rank = rank, .size = size, .stride = stride}));
    layout_strides(&shown, 1, rank, size, out);
    out_add(m, f, value_new(m, V(0)->dtype, rank, size, out));
}

void
run_index_select(struct machine *m, struct frame *f)
{
    int64_t size[RANK];
    struct value *v = V(0);
    memcpy(size, v->size, sizeof(*size) * (size_t)v->rank);
    if (v->rank && V(2))
        size[layout_dim(arg_int(f, 1, 0), v->rank)] = value_elements(V(2));
    out_add(m, f, value_new(m, v->dtype, v->rank, size, NULL));
}

/* zeros, then an accumulating write; under a dispatch mode the write makes a second tensor (reference:
 * areAnyTensorSubclassLike in torch/csrc/autograd/FunctionsManual.cpp). */
void
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

/* (grad, self, indices) */
void
run_index_backward(struct machine *m, struct frame *f)
{
    run_scatter_backward(m, f);
    index_put_workspace(m, V(1), &f->a[2], V(0));
}

void
run_gather(struct machine *m, struct frame *f)
{
    const struct value *index = V(aten_arg(f->op, "index"));
    out_add(m, f, value_new(m, V(0)->dtype, index->rank, index->size, NULL));
}

/* Flipped, then with these two dimensions turned. Source: rot90 in TensorTransformations.cpp. */
static struct value *
turned(struct machine *m, const struct value *from, int64_t dim0, int64_t dim1)
{
    struct value *v = layout_like(m, from, from->dtype);
    int a = layout_dim(dim0, v->rank), b = layout_dim(dim1, v->rank);
    int64_t size = v->size[a], stride = v->stride[a];
    v->size[a] = v->size[b];
    v->stride[a] = v->stride[b];
    v->size[b] = size;
    v->stride[b] = stride;
    return v;
}

/* (self, dim0, dim1); of half a turn flipped alone */
void
run_rot90(struct machine *m, struct frame *f)
{
    m->op = f->op->source;
    out_add(m, f, turned(m, V(0), arg_int(f, 1, 0), arg_int(f, 2, 0)));
}

/* (self, k, dims): quarter turns, of which none copies */
void
run_rot90_times(struct machine *m, struct frame *f)
{
    struct value *v = V(0);
    int64_t dims[RANK] = {0, 1}, turns = arg_int(f, 1, 1) % 4;
    arg_ints(f, 2, dims, RANK);
    out_add(m, f,
            turns % 2 ? turned(m, v, dims[0], dims[1])
            : turns   ? layout_like(m, v, v->dtype)
                      : value_new(m, v->dtype, v->rank, v->size, NULL));
}

/* (self, size, hop): windows along the last of two dimensions. */
void
run_frames(struct machine *m, struct frame *f)
{
    struct value *v = V(0);
    int64_t most = v->size[1] + 1, window = arg_int(f, 1, 1), hop = arg_int(f, 2, 1);
    window = window < 0 ? 0 : window;
    hop = hop < 1 ? 1 : hop > most ? most : hop; /* so far there is one window */
    int64_t room = v->size[1] - window, size[] = {v->size[0], room < 0 ? 0 : room / hop + 1, window};
    out_add(m, f, value_view(m, v, COUNT(size), size, (int64_t[]){v->stride[0], hop * v->stride[1], v->stride[1]}));
}
