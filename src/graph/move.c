/* SPDX-License-Identifier: Apache-2.0 */
/* move.c - shape rules of operators that move elements: reshape, slice, gather, concat, pad, resize, ...
 *
 * Shapes that come as an input are lists of integers, each known or not; a rule fills the dims that it can tell. What
 * shape and value rule of one operator both need (slices, pads, parts of a split) is computed here once.
 */
#include "graph/infer.h"

/* ---- movement ---------------------------------------------------------------------------------------------------- */

void
move_reshape(struct infer *I)
{
    const struct tensor *x = in(I, 0);
    struct list l = list_of(I, "shape", 1);
    int64_t rest = tensor_elements(x ? x : &(struct tensor){.rank = -1}), open = -1;
    bool copy_zero = !node_int(I->n, "allowzero", 0), minus = false, divides = rest >= 0;
    set_type(I, 0, type(x));
    struct dim *d = l.given && l.n >= 0 ? shape(I, 0, l.n) : NULL;
    for (int i = 0; d && i < l.n; i++) {
        bool is_known = at_known(&l, i);
        if (is_known && l.v[i] == 0 && copy_zero)
            d[i] = i < rank(x) ? dim(x, i) : OPEN;
        else if (is_known && l.v[i] >= 0)
            d[i] = num_dim(l.v[i]);
        minus |= is_known && l.v[i] == -1;
        if (d[i].n > 0 && divides && rest % d[i].n == 0)
            rest /= d[i].n;
        else if (d[i].n >= 0)
            divides = false;
        else if (open >= 0)
            divides = false;
        else
            open = i;
    }
    if (d && divides && open >= 0)
        d[open] = num_dim(rest);
    if (d && open < 0)
        infer_agree(I, tensor_elements(x ? x : &(struct tensor){.rank = -1}), tensor_elements(out(I, 0)));
    if (!d || open < 0 || divides || !minus || rank(x) < 0)
        return;
    /* -1 where the input is open in as many dims as are copied: the rest must agree */
    struct dim only = OPEN;
    int64_t a = 1, b = 1;
    int nopen = 0;
    for (int i = 0; i < rank(x); i++)
        if (x->dims[i].n < 0) {
            only = x->dims[i];
            nopen++;
        } else if (!mul_ok(a, x->dims[i].n, &a)) {
            return;
        }
    bool copied = false;
    for (int i = 0; i < l.n; i++)
        if (i == open)
            continue;
        else if (d[i].n < 0 && only.sym && d[i].sym && strcmp(only.sym, d[i].sym) == 0 && !copied)
            copied = true;
        else if (d[i].n < 0 || !mul_ok(b, d[i].n, &b))
            return;
    if (nopen == 1 && b > 0 && a % b == 0 && copied)
        d[open] = num_dim(a / b);
    else if (nopen == 1 && a == b && !copied)
        d[open] = only;
}

void
move_flatten(struct infer *I)
{
    const struct tensor *x = in(I, 0);
    int64_t axis = node_int(I->n, "axis", 1);
    int r = rank(x);
    set_type(I, 0, type(x));
    if (r >= 0 && axis >= -r && axis <= r) {
        int at = (int)(axis < 0 ? axis + r : axis);
        SHAPE(I, 0, DT_UNDEFINED, product(x, 0, at), product(x, at, r));
    } else {
        shape(I, 0, 2);
    }
}

void
move_squeeze(struct infer *I)
{
    const struct tensor *x = in(I, 0);
    struct list l = list_of(I, "axes", 1);
    bool named[MAX_RANK];
    int r = rank(x), left = 0, to = 0;
    set_type(I, 0, type(x));
    if (r < 0)
        return;
    bool ok = axes_of(&l, r, named);
    for (int i = 0; i < r && !l.given; i++) {
        ok &= x->dims[i].n >= 0;
        named[i] = x->dims[i].n == 1;
    }
    if (!ok) {
        if (l.given && l.n >= 0 && l.n <= r)
            shape(I, 0, r - l.n);
        return;
    }
    for (int i = 0; i < r; i++) /* PyTorch's exporter writes squeeze(dim) so, which leaves what is not 1 */
        left += !(named[i] &= x->dims[i].n < 0 || x->dims[i].n == 1);
    struct dim *d = shape(I, 0, left);
    for (int i = 0; i < r && d; i++)
        if (!named[i])
            d[to++] = x->dims[i];
}

void
move_unsqueeze(struct infer *I)
{
    const struct tensor *x = in(I, 0);
    struct list l = list_of(I, "axes", 1);
    bool named[MAX_RANK];
    int r = rank(x), from = 0;
    set_type(I, 0, type(x));
    if (r < 0 || l.n < 0 || !l.given || r + l.n > MAX_RANK)
        return;
    struct dim *d = shape(I, 0, r + l.n);
    if (!d || !axes_of(&l, r + l.n, named))
        return;
    int count = 0;
    for (int i = 0; i < r + l.n; i++)
        count += named[i];
    for (int i = 0; i < r + l.n && count == l.n; i++)
        d[i] = named[i] ? num_dim(1) : x->dims[from++];
}

bool
move_permutation(const struct infer *I, int r, int *perm)
{
    struct list l = list_of(I, "perm", -1);
    bool seen[MAX_RANK] = {false};
    for (int i = 0; i < r; i++) {
        int64_t p = l.given && l.n == r ? l.v[i] : r - 1 - i;
        if (p < 0 || p >= r || seen[p])
            return false;
        seen[p] = true;
        perm[i] = (int)p;
    }
    return !l.given || l.n == r;
}

void
move_transpose(struct infer *I)
{
    const struct tensor *x = in(I, 0);
    int perm[MAX_RANK];
    set_type(I, 0, type(x));
    struct dim *d = shape(I, 0, rank(x));
    if (d && move_permutation(I, rank(x), perm))
        for (int i = 0; i < rank(x); i++)
            d[i] = x->dims[perm[i]];
}

int64_t
move_concat_axis(const struct infer *I)
{
    return node_int(I->n, "axis", 1);
}

static void
concat_dims(struct infer *I, int first, int step)
{
    int axis, r = -1;
    for (int k = first; k < I->nin; k += step)
        if (rank(in(I, k)) >= 0)
            r = rank(in(I, k));
    if (!axis_in(move_concat_axis(I), r, &axis))
        return;
    struct dim *d = shape(I, 0, r);
    for (int i = 0; i < r && d; i++) {
        struct dim sum = num_dim(0), agreed = OPEN;
        for (int k = first; k < I->nin; k += step) {
            struct dim x = rank(in(I, k)) == r ? dim(in(I, k), i) : OPEN;
            sum = k == first ? x : add_dim(sum, x);
            if (i != axis)
                infer_agree(I, x.n, agreed.n);
            if (x.n >= 0 || (agreed.n < 0 && !agreed.sym))
                agreed = x;
        }
        d[i] = i == axis ? sum : agreed;
    }
}

void
move_concat(struct infer *I)
{
    for (int k = I->nin - 1; k >= 0; k--)
        set_type(I, 0, type(in(I, k)));
    concat_dims(I, 0, 1);
}

void
move_qlinear_concat(struct infer *I)
{
    set_type(I, 0, type(in(I, 1)));
    concat_dims(I, 2, 3);
}

/* The extent of part k of a split; the whole extent is x. */
struct dim
move_split_part(const struct infer *I, struct dim x, int k)
{
    struct list l = list_of(I, "split", 1);
    if (l.given)
        return at_known(&l, k) ? num_dim(l.v[k]) : OPEN;
    int64_t n = node_int(I->n, "num_outputs", I->nout);
    if (n < 1 || x.n < 0 || k >= n)
        return OPEN;
    int64_t part = x.n / n + (x.n % n != 0);
    int64_t start = part * k;
    return num_dim(start >= x.n ? 0 : part < x.n - start ? part : x.n - start);
}

void
move_split(struct infer *I)
{
    const struct tensor *x = in(I, 0);
    int axis;
    for (int k = 0; k < I->nout; k++) {
        set_type(I, k, type(x));
        if (!axis_in(node_int(I->n, "axis", 0), rank(x), &axis))
            continue;
        shape_as(I, k, x);
        if (out(I, k))
            out(I, k)->dims[axis] = move_split_part(I, x->dims[axis], k);
    }
}

/* Start, step and count for each axis of x; false when not even the axes are known. */
bool
move_slices_of(const struct infer *I, const struct tensor *x, struct slice *s)
{
    struct list starts = list_of(I, "starts", 1), ends = list_of(I, "ends", 2), axes = list_of(I, "axes", 3),
                steps = list_of(I, NULL, 4);
    for (int i = 0; i < rank(x); i++)
        s[i] = (struct slice){false, x->dims[i].n >= 0, 0, 1, x->dims[i].n};
    int n = starts.n >= 0 ? starts.n : ends.n;
    if (!starts.given || !ends.given || n < 0 || (axes.given && (!list_known(&axes) || axes.n != n)))
        return false;
    for (int i = 0; i < n; i++) {
        int at;
        if (!axis_in(axes.given ? axes.v[i] : i, rank(x), &at))
            return false;
        int64_t size = x->dims[at].n, step = steps.given && at_known(&steps, i) ? steps.v[i] : 1;
        bool steps_known = !steps.given || at_known(&steps, i);
        s[at] = (struct slice){.sliced = true, .step = step};
        if (!at_known(&starts, i) || !at_known(&ends, i) || !steps_known || step == 0)
            continue;
        int64_t start = starts.v[i], end = ends.v[i];
        if (size < 0) { /* known all the same: everything, or so many from one end when there is enough */
            if (start == 0 && end >= INT32_MAX && step == 1)
                s[at].count = -2;
            continue;
        }
        if (start < 0)
            start = start < -size ? -1 : start + size;
        if (end < 0)
            end = end < -size ? -1 : end + size;
        start = step > 0 ? clamp(start, 0, size) : clamp(start, size ? 0 : -1, size - 1);
        end = step > 0 ? clamp(end, 0, size) : clamp(end, -1, size - 1);
        uint64_t far = step > 0 ? (uint64_t)(end > start ? end - start : 0) : (uint64_t)(start > end ? start - end : 0);
        uint64_t stride = step > 0 ? (uint64_t)step : -(uint64_t)step;
        s[at].count = (int64_t)(far / stride + (far % stride != 0));
        s[at].start = start;
        s[at].known = true;
    }
    return true;
}

void
move_slice(struct infer *I)
{
    const struct tensor *x = in(I, 0);
    struct slice s[MAX_RANK];
    set_type(I, 0, type(x));
    struct dim *d = shape(I, 0, rank(x));
    if (!d || !move_slices_of(I, x, s))
        return;
    for (int i = 0; i < rank(x); i++)
        d[i] = !s[i].sliced || s[i].count == -2 ? x->dims[i] : s[i].known ? num_dim(s[i].count) : OPEN;
}

void
move_gather(struct infer *I)
{
    const struct tensor *x = in(I, 0), *idx = in(I, 1);
    int axis, to = 0;
    set_type(I, 0, type(x));
    if (rank(idx) < 0 || !axis_in(node_int(I->n, "axis", 0), rank(x), &axis))
        return;
    struct dim *d = shape(I, 0, rank(x) + rank(idx) - 1);
    for (int i = 0; i < rank(x) && d; i++)
        if (i != axis)
            d[to++] = x->dims[i];
        else
            for (int k = 0; k < rank(idx); k++)
                d[to++] = idx->dims[k];
}

void
move_gather_elements(struct infer *I)
{
    set_type(I, 0, type(in(I, 0)));
    shape_as(I, 0, in(I, 1));
}

void
move_gather_nd(struct infer *I)
{
    const struct tensor *x = in(I, 0), *idx = in(I, 1);
    int64_t batch = node_int(I->n, "batch_dims", 0), depth = dim(idx, -1).n;
    set_type(I, 0, type(x));
    if (rank(x) < 0 || rank(idx) < 1 || depth < 0 || batch < 0 || batch > MAX_RANK || depth + batch > rank(x))
        return;
    int tail = rank(x) - (int)(batch + depth);
    struct dim *d = shape(I, 0, rank(idx) - 1 + tail);
    for (int i = 0; i < rank(idx) - 1 && d; i++)
        d[i] = idx->dims[i];
    for (int i = 0; i < tail && d; i++)
        d[rank(idx) - 1 + i] = x->dims[rank(x) - tail + i];
}

void
move_expand(struct infer *I)
{
    const struct tensor *x = in(I, 0);
    struct list l = list_of(I, NULL, 1);
    set_type(I, 0, type(x));
    if (l.n < 0 || !l.given || rank(x) < 0)
        return;
    int r = rank(x) > l.n ? rank(x) : l.n;
    struct dim *d = shape(I, 0, r);
    for (int i = 0; i < r && d; i++) {
        int a = i - (r - rank(x)), b = i - (r - l.n);
        struct dim to = b < 0 ? num_dim(1) : at_known(&l, b) ? num_dim(l.v[b]) : OPEN;
        d[i] = broadcast_dim(a < 0 ? num_dim(1) : x->dims[a], to);
    }
}

void
move_tile(struct infer *I)
{
    const struct tensor *x = in(I, 0);
    struct list l = list_of(I, NULL, 1);
    set_type(I, 0, type(x));
    struct dim *d = shape(I, 0, rank(x));
    if (I->nin == 3) { /* Tile-1: tiles, axis */
        int64_t tiles, axis;
        int at;
        if (d && int_of(I, NULL, 1, 1, &tiles) && int_of(I, NULL, 2, 0, &axis) && axis_in(axis, rank(x), &at)) {
            shape_as(I, 0, x);
            if (out(I, 0))
                out(I, 0)->dims[at] = mul_dim(x->dims[at], num_dim(tiles));
        }
        return;
    }
    for (int i = 0; i < rank(x) && d; i++)
        d[i] = l.n == rank(x) && at_known(&l, i) ? mul_dim(x->dims[i], num_dim(l.v[i])) : OPEN;
}

/* Elements before and after each axis. */
bool
move_pads_of(const struct infer *I, int r, int64_t *before, int64_t *after, bool *is_known)
{
    struct list pads = list_of(I, node_attr(I->n, "paddings") ? "paddings" : "pads", 1), axes = list_of(I, NULL, 3);
    for (int i = 0; i < r; i++) {
        before[i] = after[i] = 0;
        is_known[i] = true;
    }
    int n = axes.given ? axes.n : r;
    if (!pads.given || pads.n < 0 || pads.n != 2 * n || (axes.given && !list_known(&axes)))
        return false;
    for (int i = 0; i < n; i++) {
        int at;
        if (!axis_in(axes.given ? axes.v[i] : i, r, &at))
            return false;
        is_known[at] = at_known(&pads, i) && at_known(&pads, n + i);
        before[at] = pads.v[i];
        after[at] = pads.v[n + i];
    }
    return true;
}

void
move_pad(struct infer *I)
{
    const struct tensor *x = in(I, 0);
    int64_t before[MAX_RANK], after[MAX_RANK], n;
    bool is_known[MAX_RANK];
    set_type(I, 0, type(x));
    struct dim *d = shape(I, 0, rank(x));
    if (!d || !move_pads_of(I, rank(x), before, after, is_known))
        return;
    for (int i = 0; i < rank(x); i++)
        if (is_known[i] && before[i] == 0 && after[i] == 0)
            d[i] = x->dims[i];
        else if (is_known[i] && x->dims[i].n >= 0 && !__builtin_add_overflow(x->dims[i].n, before[i], &n) &&
                 !__builtin_add_overflow(n, after[i], &n))
            d[i] = num_dim(n);
}

void
move_shape(struct infer *I)
{
    int r = rank(in(I, 0));
    int64_t start = node_int(I->n, "start", 0), end = node_int(I->n, "end", r);
    start = clamp(start < 0 ? start + r : start, 0, r);
    end = clamp(end < 0 ? end + r : end, 0, r);
    SHAPE(I, 0, DT_INT64, r < 0 ? OPEN : num_dim(end > start ? end - start : 0));
}

void
move_size(struct infer *I)
{
    scalar(I, 0, DT_INT64);
}

void
move_constant(struct infer *I)
{
    const struct attr *a = I->n->nattr ? &I->n->attr[0] : NULL;
    for (int i = 0; i < I->n->nattr; i++)
        if (strncmp(I->n->attr[i].name, "value", 5) == 0 || strcmp(I->n->attr[i].name, "sparse_value") == 0)
            a = &I->n->attr[i];
    if (!a)
        return;
    enum dtype numbers = a->type == ATTR_FLOAT || a->type == ATTR_FLOATS ? DT_FLOAT
                         : a->type == ATTR_INT || a->type == ATTR_INTS   ? DT_INT64
                                                                         : DT_STRING;
    if (a->type == ATTR_TENSOR)
        same(I, 0, a->t);
    else if (a->type == ATTR_FLOAT || a->type == ATTR_INT || a->type == ATTR_STRING)
        scalar(I, 0, numbers);
    else if (a->type == ATTR_FLOATS || a->type == ATTR_INTS || a->type == ATTR_STRINGS)
        SHAPE(I, 0, numbers, num_dim(a->n));
}

void
move_constant_of_shape(struct infer *I)
{
    const struct attr *a = node_attr(I->n, "value");
    struct list l = list_of(I, NULL, 0);
    set_type(I, 0, a && a->t ? a->t->dtype : DT_FLOAT);
    shape_from(I, 0, &l);
}

/* How many numbers a range has, or -1. */
int64_t
move_range_count(const struct infer *I)
{
    for (int k = 0; k < 3; k++)
        if (!known(in(I, k), 0))
            return -1;
    if (in(I, 0)->value->i && in(I, 1)->value->i && in(I, 2)->value->i) {
        __int128 start = in(I, 0)->value->i[0], limit = in(I, 1)->value->i[0], delta = in(I, 2)->value->i[0];
        if (!delta)
            return -1;
        __int128 n = (limit - start) / delta + ((limit - start) % delta != 0 && (limit > start) == (delta > 0));
        n = (limit > start) == (delta > 0) ? n : 0;
        return n > INT64_MAX ? -1 : n < 0 ? 0 : (int64_t)n;
    }
    double n = ceil((number(in(I, 1), 0) - number(in(I, 0), 0)) / number(in(I, 2), 0));
    return !(n < 9e18) ? -1 : n > 0 ? (int64_t)n : 0; /* NaN, too, is -1 */
}

void
move_range(struct infer *I)
{
    SHAPE(I, 0, type(in(I, 0)), num_dim(move_range_count(I)));
}

void
move_one_hot(struct infer *I)
{
    const struct tensor *idx = in(I, 0);
    int64_t depth = -1;
    int axis, from = 0;
    if (known(in(I, 1), 0)) {
        double v = number(in(I, 1), 0);
        depth = v >= 0 && v < 9e18 ? (int64_t)v : -1;
    }
    set_type(I, 0, type(in(I, 2)));
    if (rank(idx) < 0 || !axis_in(node_int(I->n, "axis", -1), rank(idx) + 1, &axis))
        return;
    struct dim *d = shape(I, 0, rank(idx) + 1);
    for (int i = 0; i <= rank(idx) && d; i++)
        d[i] = i == axis ? num_dim(depth) : idx->dims[from++];
}

/* Elements that are not zero, or -1. */
static int64_t
count_nonzero(const struct tensor *t, int64_t limit)
{
    int64_t n = 0;
    if (!t || !t->value)
        return -1;
    for (int k = 0; k < t->value->n && k < limit; k++) {
        if (!known(t, k))
            return -1;
        n += number(t, k) != 0;
    }
    return n;
}

void
move_nonzero(struct infer *I)
{
    const struct tensor *x = in(I, 0);
    struct dim r = rank(x) < 0 ? OPEN : num_dim(rank(x) ? rank(x) : 1);
    SHAPE(I, 0, DT_INT64, r, num_dim(count_nonzero(x, INT64_MAX)));
}

void
move_compress(struct infer *I)
{
    const struct tensor *x = in(I, 0);
    const struct attr *a = node_attr(I->n, "axis");
    int axis;
    set_type(I, 0, type(x));
    if (!a) {
        int64_t n = rank(x) < 0 ? -1 : tensor_elements(x);
        SHAPE(I, 0, DT_UNDEFINED, n < 0 ? OPEN : num_dim(count_nonzero(in(I, 1), n)));
    } else if (axis_in(a->i, rank(x), &axis)) {
        shape_as(I, 0, x);
        if (out(I, 0))
            out(I, 0)->dims[axis] = x->dims[axis].n < 0 ? OPEN : num_dim(count_nonzero(in(I, 1), x->dims[axis].n));
    }
}

void
move_unique(struct infer *I)
{
    const struct tensor *x = in(I, 0);
    const struct attr *a = node_attr(I->n, "axis");
    int axis;
    set_type(I, 0, type(x));
    struct dim all = OPEN;
    if (!a) {
        SHAPE(I, 0, DT_UNDEFINED, OPEN);
        all = rank(x) < 0 ? OPEN : product(x, 0, rank(x));
    } else if (axis_in(a->i, rank(x), &axis)) {
        shape_as(I, 0, x);
        if (out(I, 0))
            out(I, 0)->dims[axis] = OPEN;
        all = x->dims[axis];
    }
    for (int k = 1; k < 4; k++)
        SHAPE(I, k, DT_INT64, k == 2 ? all : OPEN);
}

void
move_nms(struct infer *I)
{
    SHAPE(I, 0, DT_INT64, OPEN, num_dim(3));
}

void
move_depth_to_space(struct infer *I)
{
    const struct tensor *x = in(I, 0);
    int64_t b = node_int(I->n, "blocksize", 0), bb;
    struct dim by = num_dim(b > 0 ? b : -1);
    SHAPE(I, 0, type(x), dim(x, 0), mul_ok(b, b, &bb) && b > 0 ? div_dim(dim(x, 1), bb) : OPEN, mul_dim(dim(x, 2), by),
          mul_dim(dim(x, 3), by));
}

void
move_space_to_depth(struct infer *I)
{
    const struct tensor *x = in(I, 0);
    int64_t b = node_int(I->n, "blocksize", 0), bb = 0;
    bool ok = mul_ok(b, b, &bb) && b > 0;
    SHAPE(I, 0, type(x), dim(x, 0), ok ? mul_dim(dim(x, 1), num_dim(bb)) : OPEN, ok ? div_dim(dim(x, 2), b) : OPEN,
          ok ? div_dim(dim(x, 3), b) : OPEN);
}

static struct dim
scaled(struct dim d, double scale)
{
    double n = floorf((float)d.n * (float)scale);
    if (scale == 1)
        return d;
    return d.n >= 0 && n >= 0 && n < 9e18 ? num_dim((int64_t)n) : OPEN;
}

static double
scale_at(const struct infer *I, const char *name, int k, int i)
{
    const struct attr *a = name ? node_attr(I->n, name) : NULL;
    if (a && a->type == ATTR_FLOATS)
        return a->floats && i < a->n ? a->floats[i] : NAN;
    return known(in(I, k), i) ? number(in(I, k), i) : NAN;
}

void
move_upsample(struct infer *I)
{
    const struct tensor *x = in(I, 0);
    set_type(I, 0, type(x));
    struct dim *d = shape(I, 0, rank(x));
    for (int i = 0; i < rank(x) && d; i++)
        if (node_attr(I->n, "height_scale") || node_attr(I->n, "width_scale"))
            d[i] =
                i < 2 ? x->dims[i] : scaled(x->dims[i], node_float(I->n, i == 2 ? "height_scale" : "width_scale", 1));
        else
            d[i] = scaled(x->dims[i], scale_at(I, "scales", 1, i));
}

void
move_resize(struct infer *I)
{
    const struct tensor *x = in(I, 0);
    int r = rank(x);
    bool named[MAX_RANK], crop = attr_is(I, "coordinate_transformation_mode", "tf_crop_and_resize");
    struct list axes = list_of(I, "axes", -1), sizes = list_of(I, NULL, 3);
    bool legacy = I->g->opset < 11;
    int scales = legacy ? 1 : 2;
    bool by_size = in(I, 3) && !legacy;
    set_type(I, 0, type(x));
    struct dim *d = shape(I, 0, r);
    if (!d || !axes_of(&axes, r, named))
        return;
    bool larger = attr_is(I, "keep_aspect_ratio_policy", "not_smaller"),
         smaller = attr_is(I, "keep_aspect_ratio_policy", "not_larger");
    int n = axes.given ? axes.n : r;
    double ratio = NAN;
    for (int i = 0; i < n && by_size; i++) {
        int at = axes.given ? (int)(axes.v[i] < 0 ? axes.v[i] + r : axes.v[i]) : i;
        double q = at_known(&sizes, i) && x->dims[at].n > 0 ? (double)sizes.v[i] / (double)x->dims[at].n : NAN;
        ratio = i == 0 || (larger && q > ratio) || (smaller && q < ratio) || isnan(q) ? q : ratio;
    }
    for (int i = 0; i < r; i++)
        d[i] = x->dims[i];
    for (int i = 0; i < n; i++) {
        int at = axes.given ? (int)(axes.v[i] < 0 ? axes.v[i] + r : axes.v[i]) : i;
        if (by_size && (larger || smaller)) {
            double v = round((double)x->dims[at].n * ratio);
            d[at] = x->dims[at].n >= 0 && v >= 0 && v < 9e18 ? num_dim((int64_t)v) : OPEN;
        } else if (by_size) {
            d[at] = at_known(&sizes, i) ? num_dim(sizes.v[i]) : OPEN;
        } else {
            double s = scale_at(I, NULL, scales, i);
            if (crop && known(in(I, 1), n + i) && known(in(I, 1), i))
                s *= number(in(I, 1), n + i) - number(in(I, 1), i);
            else if (crop)
                s = NAN;
            d[at] = isnan(s) ? OPEN : scaled(x->dims[at], s);
        }
    }
}

void
move_grid_sample(struct infer *I)
{
    const struct tensor *x = in(I, 0), *grid = in(I, 1);
    int r = rank(x) < 0 ? rank(grid) : rank(x);
    set_type(I, 0, type(x));
    struct dim *d = shape(I, 0, r);
    for (int i = 0; i < r && d; i++)
        d[i] = i < 2 ? dim(x, i) : i - 1 < rank(grid) ? dim(grid, i - 1) : OPEN;
}

void
move_affine_grid(struct infer *I)
{
    struct list l = list_of(I, NULL, 1);
    set_type(I, 0, type(in(I, 0)));
    struct dim *d = l.n == 4 || l.n == 5 ? shape(I, 0, l.n) : NULL;
    for (int i = 0; i < l.n && d; i++)
        d[i] = i == l.n - 1 ? num_dim(l.n - 2) : at_known(&l, i ? i + 1 : 0) ? num_dim(l.v[i ? i + 1 : 0]) : OPEN;
}

void
move_center_crop(struct infer *I)
{
    const struct tensor *x = in(I, 0);
    struct list l = list_of(I, NULL, 1), axes = list_of(I, "axes", -1);
    set_type(I, 0, type(x));
    struct dim *d = shape(I, 0, rank(x));
    for (int i = 0; i < rank(x) && d; i++)
        d[i] = axes.given ? x->dims[i] : l.n == rank(x) && at_known(&l, i) ? num_dim(l.v[i]) : OPEN;
    for (int i = 0; i < axes.n && d; i++) {
        int at;
        if (axis_in(axes.v[i], rank(x), &at))
            d[at] = at_known(&l, i) ? num_dim(l.v[i]) : OPEN;
    }
}
