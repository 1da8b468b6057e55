/* ops.c - the ONNX operator table: one row an operator, or a range of its versions where the rule differs.
 *
 * A row gives the shape rule, the value rule and, where the operator is one to one, the framework operator. Rules are
 * few and shared: most rows differ in the name alone. An operator that came in later versions of the standard with
 * more types or with attributes turned into inputs needs no second row; the rules look for both forms.
 *
 *   helpers    inputs, outputs, axes, lists of integers from an attribute or a constant input, arithmetic on dims
 *   shapes     rules by family: elementwise, reductions, windows, matrices, movement, random, quantized, sequences,
 *              control flow, ml, training, fused operators of optimized files
 *   values     elementwise kernels over partly known constants, and movement of elements
 *   table
 *
 * A rule sets what it can be sure of and leaves the rest open; a malformed node is not an error but an open output. All
 * arithmetic on sizes is 64-bit and checked, or 128-bit over operands that are checked first. A rule never allocates
 * by a size that the model states, except through shapes_constant.
 */
#include "memlint.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- helpers: inputs and outputs -------------------------------------------------------------------------------- */

static const struct dim OPEN = {-1, NULL};

static struct tensor *
in(const struct infer *I, int k)
{
    return k < I->nin ? I->in[k] : NULL;
}

static struct tensor *
out(const struct infer *I, int k)
{
    return k < I->nout ? I->out[k] : NULL;
}

static int
rank(const struct tensor *t)
{
    return t ? t->rank : -1;
}

static struct dim
dim(const struct tensor *t, int axis)
{
    if (!t || t->rank < 0)
        return OPEN;
    if (axis < 0)
        axis += t->rank;
    return axis >= 0 && axis < t->rank ? t->dims[axis] : OPEN;
}

static struct dim
num_dim(int64_t n)
{
    return (struct dim){n < 0 ? -1 : n, NULL};
}

static struct dim
mul_dim(struct dim a, struct dim b)
{
    int64_t n;
    if (a.n == 1)
        return b;
    if (b.n == 1)
        return a;
    return a.n >= 0 && b.n >= 0 && mul_ok(a.n, b.n, &n) ? num_dim(n) : OPEN;
}

static struct dim
add_dim(struct dim a, struct dim b)
{
    int64_t n;
    if (b.n == 0)
        return a;
    if (a.n == 0)
        return b;
    return a.n >= 0 && b.n >= 0 && add_ok(a.n, b.n, &n) ? num_dim(n) : OPEN;
}

static struct dim
div_dim(struct dim a, int64_t b)
{
    return b == 1 ? a : a.n >= 0 && b > 0 ? num_dim(a.n / b) : OPEN;
}

static struct dim
merge_dim(struct dim a, struct dim b)
{
    if (a.n == b.n && (a.n >= 0 || (a.sym && b.sym && strcmp(a.sym, b.sym) == 0)))
        return a;
    return OPEN;
}

static struct dim
broadcast_dim(struct dim a, struct dim b)
{
    if (a.n == 1)
        return b;
    if (b.n == 1)
        return a;
    if (a.n >= 0 && b.n >= 0)
        return a.n == b.n ? a : OPEN;
    return a.n >= 0 ? a : b.n >= 0 ? b : merge_dim(a, b);
}

static void
set_type(const struct infer *I, int k, enum dtype t)
{
    struct tensor *o = out(I, k);
    if (o && t) {
        o->dtype = t;
        o->wrap = "";
    }
}

static enum dtype
type(const struct tensor *t)
{
    return t ? t->dtype : DT_UNDEFINED;
}

/* Makes output k's shape: open dims to fill in. A dummy for omitted outputs; NULL for ranks that nobody has. */
static struct dim *
shape(const struct infer *I, int k, int64_t r)
{
    struct tensor *o = out(I, k);
    if (r < 0 || r > LIMIT_RANK)
        return NULL;
    struct dim *d = NEWN(I->g->arena, struct dim, r);
    for (int i = 0; i < r; i++)
        d[i] = OPEN;
    if (o) {
        o->rank = (int)r;
        o->dims = d;
    }
    return d;
}

/* Gives output k the dims of t. */
static void
shape_as(const struct infer *I, int k, const struct tensor *t)
{
    struct dim *d = shape(I, k, rank(t));
    if (d && t->rank)
        memcpy(d, t->dims, sizeof(*d) * (size_t)t->rank);
}

static void
whole_as(const struct infer *I, int k, const struct tensor *t)
{
    struct tensor *o = out(I, k);
    if (!o || !t)
        return;
    if (t->dtype) {
        o->dtype = t->dtype;
        o->wrap = t->wrap;
    }
    shape_as(I, k, t);
    o->seq = t->seq;
}

static void
same(const struct infer *I, int k, const struct tensor *t)
{
    set_type(I, k, type(t));
    shape_as(I, k, t);
}

static void
set_shape(const struct infer *I, int k, enum dtype t, int r, const struct dim *dims)
{
    set_type(I, k, t);
    struct dim *d = shape(I, k, r);
    if (d && r)
        memcpy(d, dims, sizeof(*d) * (size_t)r);
}

#define SHAPE(I, k, t, ...) set_shape(I, k, t, COUNT(((struct dim[]){__VA_ARGS__})), (struct dim[]){__VA_ARGS__})

static void
scalar(const struct infer *I, int k, enum dtype t)
{
    set_shape(I, k, t, 0, NULL);
}

/* ---- helpers: attributes and constant inputs -------------------------------------------------------------------- */

static bool
axis_in(int64_t axis, int r, int *at)
{
    if (r < 0 || axis < -r || axis >= r)
        return false;
    *at = (int)(axis < 0 ? axis + r : axis);
    return true;
}

static bool
known(const struct tensor *t, int k)
{
    return t && t->value && k < t->value->n && (!t->value->known || t->value->known[k]);
}

/* Integers from an attribute or a constant input. */
struct list {
    int n;
    bool given; /* there, if not known */
    const int64_t *v;
    const bool *known; /* NULL: all */
};

static struct list
list_of(const struct infer *I, const char *name, int k)
{
    const struct attr *a = name ? node_attr(I->n, name) : NULL;
    struct list l = {0};
    if (a && a->type == ATTR_INTS) {
        l = (struct list){a->n, true, a->ints, NULL};
        if (!a->ints)
            l.n = a->n ? -1 : 0;
    } else if (a && a->type == ATTR_INT) {
        l = (struct list){1, true, &a->i, NULL};
    } else if (k >= 0 && in(I, k)) {
        const struct tensor *t = in(I, k);
        l.given = true;
        l.n = -1;
        if (t->value && t->value->i)
            l = (struct list){t->value->n, true, t->value->i, t->value->known};
        else if (t->rank == 1 && t->dims[0].n >= 0 && t->dims[0].n <= LIMIT_RANK) {
            bool *none = NEWN(I->g->arena, bool, t->dims[0].n + 1); /* the number of elements is known, no more */
            l = (struct list){(int)t->dims[0].n, true, NEWN(I->g->arena, int64_t, t->dims[0].n + 1), none};
        }
    }
    return l;
}

static bool
list_known(const struct list *l)
{
    for (int i = 0; i < l->n && l->known; i++)
        if (!l->known[i])
            return false;
    return l->given && l->n >= 0;
}

static bool
at_known(const struct list *l, int i)
{
    return i < l->n && (!l->known || l->known[i]);
}

/* One integer from an attribute or a constant input. */
static bool
int_of(const struct infer *I, const char *name, int k, int64_t otherwise, int64_t *v)
{
    struct list l = list_of(I, name, k);
    *v = otherwise;
    if (!l.given)
        return true;
    if (l.n < 1 || !at_known(&l, 0))
        return false;
    *v = l.v[0];
    return true;
}

static bool
attr_is(const struct infer *I, const char *name, const char *value)
{
    return strcmp(node_str(I->n, name, ""), value) == 0;
}

static enum dtype
type_attr(const struct infer *I, const char *name, enum dtype otherwise)
{
    const struct attr *a = node_attr(I->n, name);
    if (a && a->type == ATTR_STRING) { /* Cast-1 writes FLOAT */
        char lower[16] = "";
        for (int i = 0; a->s[i] && i < 15; i++)
            lower[i] = (char)(a->s[i] >= 'A' && a->s[i] <= 'Z' ? a->s[i] + 32 : a->s[i]);
        return dtype_by_onnx(lower);
    }
    int64_t v = a && a->type == ATTR_INT ? a->i : 0;
    return !a ? otherwise : v > 0 && v < DT_COUNT ? (enum dtype)v : DT_UNDEFINED;
}

/* Which axes of rank r a list names; false when it is not known. None given: all. */
static bool
axes_of(const struct list *l, int r, bool *named)
{
    for (int i = 0; i < r; i++)
        named[i] = !l->given;
    if (l->given && !list_known(l))
        return false;
    for (int i = 0; i < l->n; i++) {
        int at;
        if (!axis_in(l->v[i], r, &at))
            return false;
        named[at] = true;
    }
    return true;
}

/* ---- elementwise ------------------------------------------------------------------------------------------------ */

static void
same_rule(struct infer *I)
{
    same(I, 0, in(I, 0));
}

static void
whole_rule(struct infer *I)
{
    whole_as(I, 0, in(I, 0));
}

static void
bool_rule(struct infer *I)
{
    shape_as(I, 0, in(I, 0));
    set_type(I, 0, DT_BOOL);
}

static void
broadcast_shape(struct infer *I, int first, int n)
{
    int r = 0;
    for (int k = first; k < first + n; k++)
        if (in(I, k)) {
            if (rank(in(I, k)) < 0)
                return;
            r = rank(in(I, k)) > r ? rank(in(I, k)) : r;
        }
    struct dim *d = I->nin ? shape(I, 0, r) : NULL;
    for (int i = 0; d && i < r; i++) {
        d[i] = num_dim(1);
        for (int k = first; k < first + n; k++)
            if (in(I, k) && rank(in(I, k)) >= r - i)
                d[i] = broadcast_dim(d[i], dim(in(I, k), i - r));
    }
}

static void
broadcast_rule(struct infer *I)
{
    broadcast_shape(I, 0, I->nin);
    for (int k = I->nin - 1; k >= 0; k--)
        set_type(I, 0, type(in(I, k)));
}

static void
compare_rule(struct infer *I)
{
    broadcast_shape(I, 0, I->nin);
    set_type(I, 0, DT_BOOL);
}

static void
where_rule(struct infer *I)
{
    broadcast_shape(I, 0, 3);
    set_type(I, 0, type(in(I, 2)));
    set_type(I, 0, type(in(I, 1)));
}

static void
cast_rule(struct infer *I)
{
    shape_as(I, 0, in(I, 0));
    set_type(I, 0, type_attr(I, "to", DT_UNDEFINED));
}

static void
cast_like_rule(struct infer *I)
{
    shape_as(I, 0, in(I, 0));
    set_type(I, 0, type(in(I, 1)));
}

static void
typed_like_rule(struct infer *I) /* EyeLike, Bernoulli, Random...Like */
{
    shape_as(I, 0, in(I, 0));
    set_type(I, 0, type_attr(I, "dtype", type(in(I, 0))));
}

static void
dropout_rule(struct infer *I)
{
    same(I, 0, in(I, 0));
    shape_as(I, 1, in(I, 0));
    set_type(I, 1, I->g->opset >= 10 || *I->n->domain ? DT_BOOL : type(in(I, 0)));
}

/* Statistics of one number a channel follow the normalized output. */
static void
batch_norm_rule(struct infer *I)
{
    same(I, 0, in(I, 0));
    for (int k = 1; k < I->nout; k++)
        same(I, k, in(I, 1));
    set_type(I, 1, type(in(I, 3)));
    set_type(I, 2, type(in(I, 3)));
}

/* Outputs from 1 on: one number for what is normalized together, the axes from `axis` on. */
static void
layer_norm_rule(struct infer *I)
{
    const struct tensor *x = in(I, 0);
    int axis;
    same(I, 0, x);
    if (type(in(I, 1)) && type(x) != type(in(I, 1)) && I->n->row && strcmp(I->n->row->name, "RMSNormalization") == 0)
        set_type(I, 0, type(in(I, 1)));
    for (int k = 1; k < I->nout; k++) {
        set_type(I, k, type_attr(I, "stash_type", DT_FLOAT));
        if (!axis_in(node_int(I->n, "axis", -1), rank(x), &axis))
            continue;
        shape_as(I, k, x);
        for (int i = axis; i < rank(x) && out(I, k); i++)
            out(I, k)->dims[i] = num_dim(1);
    }
}

/* ---- reductions and scans --------------------------------------------------------------------------------------- */

static void
reduce_shape(struct infer *I, int k, const struct list *axes, bool keep)
{
    const struct tensor *x = in(I, 0);
    bool named[LIMIT_RANK];
    int r = rank(x), to = 0;
    if (r < 0)
        return;
    if (!axes_of(axes, r, named)) {
        if (keep)
            shape(I, k, r);
        else if (axes->n >= 0 && axes->n <= r)
            shape(I, k, r - axes->n);
        return;
    }
    int left = 0;
    for (int i = 0; i < r; i++)
        left += keep || !named[i];
    struct dim *d = shape(I, k, left);
    for (int i = 0; i < r && d; i++)
        if (keep || !named[i])
            d[to++] = named[i] ? num_dim(1) : x->dims[i];
}

static void
reduce_rule(struct infer *I)
{
    struct list axes = list_of(I, "axes", 1);
    if (axes.given && axes.n == 0)
        axes.given = node_int(I->n, "noop_with_empty_axes", 0) != 0;
    else if (!axes.given && node_int(I->n, "noop_with_empty_axes", 0))
        axes.given = true;
    reduce_shape(I, 0, &axes, node_int(I->n, "keepdims", 1) != 0);
    set_type(I, 0, type(in(I, 0)));
}

static void
arg_rule(struct infer *I)
{
    int64_t axis = node_int(I->n, "axis", 0);
    struct list axes = {1, true, &axis, NULL};
    reduce_shape(I, 0, &axes, node_int(I->n, "keepdims", 1) != 0);
    set_type(I, 0, DT_INT64);
}

static void
top_k_rule(struct infer *I)
{
    const struct tensor *x = in(I, 0);
    int64_t k;
    int axis;
    bool is_known = int_of(I, "k", 1, 0, &k);
    for (int o = 0; o < 2; o++) {
        set_type(I, o, o ? DT_INT64 : type(x));
        if (!axis_in(node_int(I->n, "axis", -1), rank(x), &axis))
            continue;
        shape_as(I, o, x);
        if (out(I, o))
            out(I, o)->dims[axis] = is_known ? num_dim(k) : OPEN;
    }
}

/* ---- windows: convolution and pooling --------------------------------------------------------------------------- */

enum { LIMIT_WINDOW = 1 << 30 };

struct window {
    int n; /* spatial axes */
    int64_t kernel[LIMIT_RANK], stride[LIMIT_RANK], dilation[LIMIT_RANK], before[LIMIT_RANK], after[LIMIT_RANK];
    const char *pad;
    bool ok;
};

static bool
window_list(const struct infer *I, const char *name, int n, int64_t otherwise, int64_t *to)
{
    struct list l = list_of(I, name, -1);
    for (int i = 0; i < n; i++) {
        to[i] = l.given && l.n == n ? l.v[i] : otherwise;
        if (to[i] < -LIMIT_WINDOW || to[i] > LIMIT_WINDOW)
            return false;
    }
    return !l.given || l.n == n || l.n == 0;
}

/* Reads strides, dilations, pads and, from the attribute or the weight w, the kernel of n spatial axes. */
static struct window
window_of(const struct infer *I, int n, const struct tensor *w)
{
    struct window v = {.n = n};
    int64_t pads[2 * LIMIT_RANK];
    if (n < 0 || n > LIMIT_RANK)
        return v;
    v.ok = window_list(I, "strides", n, 1, v.stride) && window_list(I, "dilations", n, 1, v.dilation) &&
           window_list(I, "pads", 2 * n, 0, pads);
    struct list kernel = list_of(I, "kernel_shape", -1);
    for (int i = 0; i < n && v.ok; i++) {
        v.kernel[i] = kernel.given && kernel.n == n ? kernel.v[i] : rank(w) == n + 2 ? w->dims[i + 2].n : -1;
        v.ok = v.kernel[i] > 0 && v.kernel[i] <= LIMIT_WINDOW && v.stride[i] > 0 && v.dilation[i] > 0;
        v.before[i] = pads[i];
        v.after[i] = pads[n + i];
    }
    v.pad = node_str(I->n, "auto_pad", "NOTSET");
    return v;
}

static struct dim
window_dim(const struct window *v, int i, struct dim x, bool ceil_mode)
{
    if (x.n < 0 || x.n > INT64_MAX / 4)
        return OPEN;
    int64_t span = v->dilation[i] * (v->kernel[i] - 1) + 1, s = v->stride[i];
    if (strncmp(v->pad, "SAME", 4) == 0)
        return num_dim(x.n / s + (x.n % s != 0));
    int64_t valid = strcmp(v->pad, "VALID") == 0, before = valid ? 0 : v->before[i], after = valid ? 0 : v->after[i];
    int64_t room = x.n + before + after - span;
    if (room < 0)
        return OPEN;
    int64_t n = room / s + 1;
    if (ceil_mode && room % s && n * s < x.n + before) /* the last window must begin inside */
        n++;
    return num_dim(n);
}

static void
window_shape(struct infer *I, int k, const struct tensor *x, struct dim channels, const struct window *v)
{
    struct dim *d = shape(I, k, rank(x));
    bool ceil_mode = node_int(I->n, "ceil_mode", 0) != 0;
    if (!d || rank(x) < 2)
        return;
    d[0] = x->dims[0];
    d[1] = channels;
    for (int i = 0; i < v->n && v->ok; i++)
        d[i + 2] = window_dim(v, i, x->dims[i + 2], ceil_mode);
}

static void
conv_at(struct infer *I, int xk, int wk, enum dtype t)
{
    const struct tensor *x = in(I, xk), *w = in(I, wk);
    set_type(I, 0, t);
    if (rank(x) < 0 && rank(w) < 3)
        return;
    int r = rank(x) < 0 ? rank(w) : rank(x);
    struct window v = window_of(I, r - 2, w);
    if (rank(x) >= 2)
        window_shape(I, 0, x, dim(w, 0), &v);
    else
        shape(I, 0, r);
}

static void
conv_rule(struct infer *I)
{
    conv_at(I, 0, 1, type(in(I, 0)));
}

static void
conv_integer_rule(struct infer *I)
{
    conv_at(I, 0, 1, DT_INT32);
}

static void
qlinear_conv_rule(struct infer *I)
{
    conv_at(I, 0, 3, type(in(I, 7)) ? type(in(I, 7)) : type(in(I, 0)));
}

static void
conv_transpose_rule(struct infer *I)
{
    const struct tensor *x = in(I, 0), *w = in(I, 1);
    int n = rank(x) - 2;
    int64_t extra[LIMIT_RANK];
    struct window v = window_of(I, n, w);
    struct list fixed = list_of(I, "output_shape", -1);
    set_type(I, 0, type(x));
    struct dim *d = n >= 0 ? shape(I, 0, n + 2) : NULL;
    if (!d)
        return;
    d[0] = x->dims[0];
    int64_t group = node_int(I->n, "group", 1);
    d[1] = mul_dim(dim(w, 1), num_dim(group > 0 ? group : -1));
    if (!window_list(I, "output_padding", n, 0, extra))
        return;
    for (int i = 0; i < n; i++) {
        struct dim xi = x->dims[i + 2];
        if (fixed.given && fixed.n >= n)
            d[i + 2] = num_dim(fixed.v[fixed.n - n + i]);
        else if (v.ok && xi.n > 0 && xi.n <= LIMIT_WINDOW) {
            int64_t full = v.stride[i] * (xi.n - 1) + extra[i], span = v.dilation[i] * (v.kernel[i] - 1) + 1;
            if (strncmp(v.pad, "SAME", 4) == 0)
                d[i + 2] = num_dim(xi.n * v.stride[i]);
            else if (strcmp(v.pad, "VALID") == 0)
                d[i + 2] = num_dim(full + span);
            else
                d[i + 2] = num_dim(full + span - v.before[i] - v.after[i]);
        }
    }
}

static void
pool_rule(struct infer *I)
{
    const struct tensor *x = in(I, 0);
    struct window v = window_of(I, rank(x) - 2, NULL);
    set_type(I, 0, type(x));
    set_type(I, 1, DT_INT64);
    for (int k = 0; k < 2 && rank(x) >= 2; k++)
        window_shape(I, k, x, x->dims[1], &v);
}

static void
global_pool_rule(struct infer *I)
{
    same_rule(I);
    for (int i = 2; i < rank(in(I, 0)) && out(I, 0); i++)
        out(I, 0)->dims[i] = num_dim(1);
}

static void
max_unpool_rule(struct infer *I)
{
    const struct tensor *x = in(I, 0);
    struct list fixed = list_of(I, NULL, 2);
    struct window v = window_of(I, rank(x) - 2, NULL);
    set_type(I, 0, type(x));
    struct dim *d = rank(x) >= 2 ? shape(I, 0, rank(x)) : NULL;
    for (int i = 0; i < rank(x) && d; i++)
        if (fixed.given)
            d[i] = at_known(&fixed, i) ? num_dim(fixed.v[i]) : OPEN;
        else if (i < 2)
            d[i] = x->dims[i];
        else if (v.ok && x->dims[i].n > 0 && x->dims[i].n <= LIMIT_WINDOW)
            d[i] = num_dim((x->dims[i].n - 1) * v.stride[i - 2] + v.kernel[i - 2] - v.before[i - 2] - v.after[i - 2]);
}

static void
max_roi_pool_rule(struct infer *I)
{
    struct list s = list_of(I, "pooled_shape", -1);
    if (s.n == 2)
        SHAPE(I, 0, type(in(I, 0)), dim(in(I, 1), 0), dim(in(I, 0), 1), num_dim(s.v[0]), num_dim(s.v[1]));
}

static void
roi_align_rule(struct infer *I)
{
    SHAPE(I, 0, type(in(I, 0)), dim(in(I, 1), 0), dim(in(I, 0), 1), num_dim(node_int(I->n, "output_height", 1)),
          num_dim(node_int(I->n, "output_width", 1)));
}

static void
col2im_rule(struct infer *I)
{
    struct list image = list_of(I, NULL, 1), block = list_of(I, NULL, 2);
    int64_t product = 1;
    bool ok = list_known(&block);
    for (int i = 0; i < block.n && ok; i++)
        ok = mul_ok(product, block.v[i], &product) && product > 0;
    set_type(I, 0, type(in(I, 0)));
    struct dim *d = image.n >= 0 ? shape(I, 0, image.n + 2) : NULL;
    if (!d)
        return;
    d[0] = dim(in(I, 0), 0);
    d[1] = ok ? div_dim(dim(in(I, 0), 1), product) : OPEN;
    for (int i = 0; i < image.n; i++)
        d[i + 2] = at_known(&image, i) ? num_dim(image.v[i]) : OPEN;
}

/* ---- matrices --------------------------------------------------------------------------------------------------- */

static void
matmul_dims(struct infer *I, const struct tensor *a, const struct tensor *b, bool ta, bool tb)
{
    int ra = rank(a), rb = rank(b);
    if (ra < 1 || rb < 1)
        return;
    int batch = (ra > rb ? ra : rb) - 2, r = 0;
    batch = batch < 0 ? 0 : batch;
    struct dim *d = shape(I, 0, batch + (ra > 1) + (rb > 1));
    if (!d)
        return;
    for (int i = 0; i < batch; i++) {
        int back = i - batch - 2;
        struct dim one = num_dim(1);
        d[r++] = broadcast_dim(ra >= -back ? dim(a, back) : one, rb >= -back ? dim(b, back) : one);
    }
    if (ra > 1)
        d[r++] = dim(a, ta ? -1 : -2);
    if (rb > 1)
        d[r++] = dim(b, tb ? -2 : -1);
}

static void
matmul_rule(struct infer *I)
{
    set_type(I, 0, type(in(I, 0)));
    matmul_dims(I, in(I, 0), in(I, 1), node_int(I->n, "transA", 0), node_int(I->n, "transB", 0));
}

static void
matmul_integer_rule(struct infer *I)
{
    set_type(I, 0, DT_INT32);
    matmul_dims(I, in(I, 0), in(I, 1), false, false);
}

static void
matmul_to_float_rule(struct infer *I)
{
    set_type(I, 0, type(in(I, 2)) ? type(in(I, 2)) : DT_FLOAT);
    matmul_dims(I, in(I, 0), in(I, 1), false, false);
}

static void
qlinear_matmul_rule(struct infer *I)
{
    set_type(I, 0, type(in(I, 7)));
    matmul_dims(I, in(I, 0), in(I, 3), false, false);
}

static void
gemm_dims(struct infer *I, const struct tensor *a, const struct tensor *b)
{
    SHAPE(I, 0, DT_UNDEFINED, dim(a, node_int(I->n, "transA", 0) ? 1 : 0), dim(b, node_int(I->n, "transB", 0) ? 0 : 1));
}

static void
gemm_rule(struct infer *I)
{
    set_type(I, 0, type(in(I, 0)));
    gemm_dims(I, in(I, 0), in(I, 1));
}

static void
qgemm_rule(struct infer *I)
{
    set_type(I, 0, type(in(I, 8)) ? type(in(I, 8)) : DT_FLOAT);
    gemm_dims(I, in(I, 0), in(I, 3));
}

static void
matmul_nbits_rule(struct infer *I)
{
    same(I, 0, in(I, 0));
    if (rank(in(I, 0)) > 0 && out(I, 0))
        out(I, 0)->dims[rank(in(I, 0)) - 1] = num_dim(node_int(I->n, "N", -1));
}

/* Letters of the equation, with the axes that an ellipsis stands for numbered from the right. */
static void
einsum_rule(struct infer *I)
{
    enum { LETTERS = 128 };
    struct dim of[LETTERS], dots[LIMIT_RANK];
    int uses[LETTERS] = {0}, ndots = 0, k = 0, at = 0;
    char terms[1024], result[512];
    const char *p = node_str(I->n, "equation", "");
    size_t n = 0;
    set_type(I, 0, type(in(I, 0)));
    for (; *p && n < sizeof(terms) - 1; p++)
        if (*p != ' ')
            terms[n++] = *p;
    terms[n] = '\0';
    if (*p || !n)
        return;
    for (int i = 0; i < LETTERS; i++)
        of[i] = num_dim(1);
    for (int i = 0; i < LIMIT_RANK; i++)
        dots[i] = num_dim(1);
    char *arrow = strstr(terms, "->");
    if (arrow)
        *arrow = '\0';
    bool has_dots = false;
    for (char *c = terms;; c++) {
        if (k >= I->nin || rank(in(I, k)) < 0)
            return;
        if (*c == '.') {
            size_t rest = strcspn(c + 3, ",");
            int span = rank(in(I, k)) - at - (int)rest;
            if (strncmp(c, "...", 3) != 0 || span < 0 || has_dots)
                return;
            has_dots = true;
            for (int i = 0; i < span; i++)
                dots[LIMIT_RANK - span + i] = broadcast_dim(dots[LIMIT_RANK - span + i], dim(in(I, k), at + i));
            ndots = span > ndots ? span : ndots;
            at += span;
            c += 2;
        } else if (*c == ',' || !*c) {
            if (at != rank(in(I, k)))
                return;
            has_dots = false;
            at = 0;
            k++;
            if (!*c)
                break;
        } else {
            unsigned char l = (unsigned char)*c;
            if (l >= LETTERS || at >= rank(in(I, k)))
                return;
            uses[l]++;
            of[l] = broadcast_dim(of[l], dim(in(I, k), at++));
        }
    }
    if (arrow) {
        snprintf(result, sizeof(result), "%s", arrow + 2);
    } else {
        n = (size_t)snprintf(result, sizeof(result), "%s", ndots ? "..." : "");
        for (int l = 0; l < LETTERS; l++)
            if (uses[l] == 1)
                result[n++] = (char)l;
        result[n] = '\0';
    }
    struct dim d[LIMIT_RANK];
    int r = 0;
    for (char *c = result; *c; c++) {
        int span = *c == '.' ? ndots : 1;
        if (r + span > LIMIT_RANK || (unsigned char)*c >= LETTERS || (*c == '.' && strncmp(c, "...", 3) != 0))
            return;
        for (int i = 0; i < span; i++)
            d[r++] = *c == '.' ? dots[LIMIT_RANK - ndots + i] : of[(unsigned char)*c];
        c += *c == '.' ? 2 : 0;
    }
    set_shape(I, 0, DT_UNDEFINED, r, d);
}

static void
det_rule(struct infer *I)
{
    int r = rank(in(I, 0));
    if (r >= 2)
        set_shape(I, 0, type(in(I, 0)), r - 2, in(I, 0)->dims);
}

/* ---- movement --------------------------------------------------------------------------------------------------- */

/* The dims that a list of integers asks for, negative ones open. */
static void
shape_from(struct infer *I, int k, const struct list *l)
{
    struct dim *d = l->given && l->n >= 0 ? shape(I, k, l->n) : NULL;
    for (int i = 0; d && i < l->n; i++)
        d[i] = at_known(l, i) ? num_dim(l->v[i]) : OPEN;
}

static void
reshape_rule(struct infer *I)
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

static struct dim
product(const struct tensor *t, int from, int to)
{
    struct dim d = num_dim(1);
    for (int i = from; i < to; i++)
        d = mul_dim(d, t->dims[i]);
    return d;
}

static void
flatten_rule(struct infer *I)
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

static void
squeeze_rule(struct infer *I)
{
    const struct tensor *x = in(I, 0);
    struct list l = list_of(I, "axes", 1);
    bool named[LIMIT_RANK];
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
    for (int i = 0; i < r; i++)
        left += !named[i];
    struct dim *d = shape(I, 0, left);
    for (int i = 0; i < r && d; i++)
        if (!named[i])
            d[to++] = x->dims[i];
}

static void
unsqueeze_rule(struct infer *I)
{
    const struct tensor *x = in(I, 0);
    struct list l = list_of(I, "axes", 1);
    bool named[LIMIT_RANK];
    int r = rank(x), from = 0;
    set_type(I, 0, type(x));
    if (r < 0 || l.n < 0 || !l.given || r + l.n > LIMIT_RANK)
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

static bool
permutation(const struct infer *I, int r, int *perm)
{
    struct list l = list_of(I, "perm", -1);
    bool seen[LIMIT_RANK] = {false};
    for (int i = 0; i < r; i++) {
        int64_t p = l.given && l.n == r ? l.v[i] : r - 1 - i;
        if (p < 0 || p >= r || seen[p])
            return false;
        seen[p] = true;
        perm[i] = (int)p;
    }
    return !l.given || l.n == r;
}

static void
transpose_rule(struct infer *I)
{
    const struct tensor *x = in(I, 0);
    int perm[LIMIT_RANK];
    set_type(I, 0, type(x));
    struct dim *d = shape(I, 0, rank(x));
    if (d && permutation(I, rank(x), perm))
        for (int i = 0; i < rank(x); i++)
            d[i] = x->dims[perm[i]];
}

static int64_t
concat_axis(const struct infer *I)
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
    if (!axis_in(concat_axis(I), r, &axis))
        return;
    struct dim *d = shape(I, 0, r);
    for (int i = 0; i < r && d; i++) {
        struct dim sum = num_dim(0), agreed = OPEN;
        for (int k = first; k < I->nin; k += step) {
            struct dim x = rank(in(I, k)) == r ? dim(in(I, k), i) : OPEN;
            sum = k == first ? x : add_dim(sum, x);
            if (x.n >= 0 || (agreed.n < 0 && !agreed.sym))
                agreed = x;
        }
        d[i] = i == axis ? sum : agreed;
    }
}

static void
concat_rule(struct infer *I)
{
    for (int k = I->nin - 1; k >= 0; k--)
        set_type(I, 0, type(in(I, k)));
    concat_dims(I, 0, 1);
}

static void
qlinear_concat_rule(struct infer *I)
{
    set_type(I, 0, type(in(I, 1)));
    concat_dims(I, 2, 3);
}

/* The extent of part k of a split; the whole extent is x. */
static struct dim
split_part(const struct infer *I, struct dim x, int k)
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

static void
split_rule(struct infer *I)
{
    const struct tensor *x = in(I, 0);
    int axis;
    for (int k = 0; k < I->nout; k++) {
        set_type(I, k, type(x));
        if (!axis_in(node_int(I->n, "axis", 0), rank(x), &axis))
            continue;
        shape_as(I, k, x);
        if (out(I, k))
            out(I, k)->dims[axis] = split_part(I, x->dims[axis], k);
    }
}

struct slice {
    bool sliced, known;
    int64_t start, step, count;
};

static int64_t
clamp(int64_t v, int64_t low, int64_t high)
{
    return v < low ? low : v > high ? high : v;
}

/* Start, step and count for each axis of x; false when not even the axes are known. */
static bool
slices_of(const struct infer *I, const struct tensor *x, struct slice *s)
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

static void
slice_rule(struct infer *I)
{
    const struct tensor *x = in(I, 0);
    struct slice s[LIMIT_RANK];
    set_type(I, 0, type(x));
    struct dim *d = shape(I, 0, rank(x));
    if (!d || !slices_of(I, x, s))
        return;
    for (int i = 0; i < rank(x); i++)
        d[i] = !s[i].sliced || s[i].count == -2 ? x->dims[i] : s[i].known ? num_dim(s[i].count) : OPEN;
}

static void
gather_rule(struct infer *I)
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

static void
gather_elements_rule(struct infer *I)
{
    set_type(I, 0, type(in(I, 0)));
    shape_as(I, 0, in(I, 1));
}

static void
gather_nd_rule(struct infer *I)
{
    const struct tensor *x = in(I, 0), *idx = in(I, 1);
    int64_t batch = node_int(I->n, "batch_dims", 0), depth = dim(idx, -1).n;
    set_type(I, 0, type(x));
    if (rank(x) < 0 || rank(idx) < 1 || depth < 0 || batch < 0 || batch > LIMIT_RANK || depth + batch > rank(x))
        return;
    int tail = rank(x) - (int)(batch + depth);
    struct dim *d = shape(I, 0, rank(idx) - 1 + tail);
    for (int i = 0; i < rank(idx) - 1 && d; i++)
        d[i] = idx->dims[i];
    for (int i = 0; i < tail && d; i++)
        d[rank(idx) - 1 + i] = x->dims[rank(x) - tail + i];
}

static void
expand_rule(struct infer *I)
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

static void
tile_rule(struct infer *I)
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
static bool
pads_of(const struct infer *I, int r, int64_t *before, int64_t *after, bool *is_known)
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

static void
pad_rule(struct infer *I)
{
    const struct tensor *x = in(I, 0);
    int64_t before[LIMIT_RANK], after[LIMIT_RANK], n;
    bool is_known[LIMIT_RANK];
    set_type(I, 0, type(x));
    struct dim *d = shape(I, 0, rank(x));
    if (!d || !pads_of(I, rank(x), before, after, is_known))
        return;
    for (int i = 0; i < rank(x); i++)
        if (is_known[i] && before[i] == 0 && after[i] == 0)
            d[i] = x->dims[i];
        else if (is_known[i] && x->dims[i].n >= 0 && !__builtin_add_overflow(x->dims[i].n, before[i], &n) &&
                 !__builtin_add_overflow(n, after[i], &n))
            d[i] = num_dim(n);
}

static void
shape_rule(struct infer *I)
{
    int r = rank(in(I, 0));
    int64_t start = node_int(I->n, "start", 0), end = node_int(I->n, "end", r);
    start = clamp(start < 0 ? start + r : start, 0, r);
    end = clamp(end < 0 ? end + r : end, 0, r);
    SHAPE(I, 0, DT_INT64, r < 0 ? OPEN : num_dim(end > start ? end - start : 0));
}

static void
size_rule(struct infer *I)
{
    scalar(I, 0, DT_INT64);
}

static void
constant_rule(struct infer *I)
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

static void
constant_of_shape_rule(struct infer *I)
{
    const struct attr *a = node_attr(I->n, "value");
    struct list l = list_of(I, NULL, 0);
    set_type(I, 0, a && a->t ? a->t->dtype : DT_FLOAT);
    shape_from(I, 0, &l);
}

static double
number(const struct tensor *t, int k)
{
    return t->value->f ? t->value->f[k] : (double)t->value->i[k];
}

/* How many numbers a range has, or -1. */
static int64_t
range_count(const struct infer *I)
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

static void
range_rule(struct infer *I)
{
    SHAPE(I, 0, type(in(I, 0)), num_dim(range_count(I)));
}

static void
one_hot_rule(struct infer *I)
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

static void
nonzero_rule(struct infer *I)
{
    const struct tensor *x = in(I, 0);
    struct dim r = rank(x) < 0 ? OPEN : num_dim(rank(x) ? rank(x) : 1);
    SHAPE(I, 0, DT_INT64, r, num_dim(count_nonzero(x, INT64_MAX)));
}

static void
compress_rule(struct infer *I)
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

static void
unique_rule(struct infer *I)
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

static void
nms_rule(struct infer *I)
{
    SHAPE(I, 0, DT_INT64, OPEN, num_dim(3));
}

static void
depth_to_space_rule(struct infer *I)
{
    const struct tensor *x = in(I, 0);
    int64_t b = node_int(I->n, "blocksize", 0), bb;
    struct dim by = num_dim(b > 0 ? b : -1);
    SHAPE(I, 0, type(x), dim(x, 0), mul_ok(b, b, &bb) && b > 0 ? div_dim(dim(x, 1), bb) : OPEN, mul_dim(dim(x, 2), by),
          mul_dim(dim(x, 3), by));
}

static void
space_to_depth_rule(struct infer *I)
{
    const struct tensor *x = in(I, 0);
    int64_t b = node_int(I->n, "blocksize", 0), bb;
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

static void
upsample_rule(struct infer *I)
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

static void
resize_rule(struct infer *I)
{
    const struct tensor *x = in(I, 0);
    int r = rank(x);
    bool named[LIMIT_RANK], crop = attr_is(I, "coordinate_transformation_mode", "tf_crop_and_resize");
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

static void
grid_sample_rule(struct infer *I)
{
    const struct tensor *x = in(I, 0), *grid = in(I, 1);
    int r = rank(x) < 0 ? rank(grid) : rank(x);
    set_type(I, 0, type(x));
    struct dim *d = shape(I, 0, r);
    for (int i = 0; i < r && d; i++)
        d[i] = i < 2 ? dim(x, i) : i - 1 < rank(grid) ? dim(grid, i - 1) : OPEN;
}

static void
affine_grid_rule(struct infer *I)
{
    struct list l = list_of(I, NULL, 1);
    set_type(I, 0, type(in(I, 0)));
    struct dim *d = l.n == 4 || l.n == 5 ? shape(I, 0, l.n) : NULL;
    for (int i = 0; i < l.n && d; i++)
        d[i] = i == l.n - 1 ? num_dim(l.n - 2) : at_known(&l, i ? i + 1 : 0) ? num_dim(l.v[i ? i + 1 : 0]) : OPEN;
}

static void
center_crop_rule(struct infer *I)
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

/* ---- recurrent, attention --------------------------------------------------------------------------------------- */

static void
rnn_rule(struct infer *I)
{
    const struct tensor *x = in(I, 0), *r = in(I, 2);
    bool batch_first = node_int(I->n, "layout", 0) != 0;
    int64_t hidden = node_int(I->n, "hidden_size", -1);
    struct dim seq = dim(x, batch_first), batch = dim(x, !batch_first), h = hidden > 0 ? num_dim(hidden) : dim(r, 2);
    struct dim dirs = num_dim(attr_is(I, "direction", "bidirectional") ? 2 : 1);
    if (batch_first)
        SHAPE(I, 0, type(x), batch, seq, dirs, h);
    else
        SHAPE(I, 0, type(x), seq, dirs, batch, h);
    for (int k = 1; k < 3; k++)
        SHAPE(I, k, type(x), batch_first ? batch : dirs, batch_first ? dirs : batch, h);
}

static struct dim
attr_dim(const struct infer *I, const char *name)
{
    int64_t n = node_int(I->n, name, -1);
    return num_dim(n > 0 ? n : -1);
}

static void
attention_rule(struct infer *I)
{
    const struct tensor *q = in(I, 0), *k = in(I, 1), *v = in(I, 2), *past = in(I, 4);
    bool packed = rank(q) == 3;
    struct dim hq = packed ? attr_dim(I, "q_num_heads") : dim(q, 1),
               hk = packed ? attr_dim(I, "kv_num_heads") : dim(k, 1);
    struct dim dk = packed ? div_dim(dim(k, 2), hk.n) : dim(k, 3), dv = packed ? div_dim(dim(v, 2), hk.n) : dim(v, 3);
    struct dim total = dim(k, packed ? 1 : 2);
    if (past)
        total = add_dim(total, dim(past, 2));
    struct dim batch = dim(q, 0), length = dim(q, packed ? 1 : 2);
    for (int o = 0; o < 4; o++)
        set_type(I, o, type(q));
    if (rank(q) < 3)
        return;
    if (packed)
        SHAPE(I, 0, DT_UNDEFINED, batch, length, mul_dim(hq, dv));
    else
        SHAPE(I, 0, DT_UNDEFINED, batch, hq, length, dv);
    SHAPE(I, 1, type(k), batch, hk, total, dk);
    SHAPE(I, 2, type(v), batch, hk, total, dv);
    SHAPE(I, 3, DT_UNDEFINED, batch, hq, length, total);
}

static void
flex_attention_rule(struct infer *I)
{
    const struct tensor *q = in(I, 0);
    SHAPE(I, 0, type(q), dim(q, 0), dim(q, 1), dim(q, 2), dim(in(I, 2), 3));
}

static void
linear_attention_rule(struct infer *I)
{
    const struct tensor *q = in(I, 0), *k = in(I, 1), *v = in(I, 2);
    struct dim hk = attr_dim(I, "kv_num_heads"), dk = div_dim(dim(k, 2), hk.n), dv = div_dim(dim(v, 2), hk.n);
    SHAPE(I, 0, type(q), dim(q, 0), dim(q, 1), mul_dim(attr_dim(I, "q_num_heads"), dv));
    SHAPE(I, 1, type(in(I, 3)) ? type(in(I, 3)) : type(q), dim(q, 0), hk, dk, dv);
}

static void
causal_conv_rule(struct infer *I)
{
    const struct tensor *x = in(I, 0);
    int64_t k = dim(in(I, 1), -1).n;
    same_rule(I);
    SHAPE(I, 1, type(in(I, 3)) ? type(in(I, 3)) : type(x), dim(x, 0), dim(x, 1), k > 0 ? num_dim(k - 1) : OPEN);
}

/* ---- losses, random, signals, strings --------------------------------------------------------------------------- */

static void
loss_rule(struct infer *I)
{
    if (attr_is(I, "reduction", "none"))
        shape_as(I, 0, in(I, 1));
    else
        scalar(I, 0, DT_UNDEFINED);
    set_type(I, 0, type(in(I, 0)));
    same(I, 1, in(I, 0));
}

static void
random_rule(struct infer *I)
{
    struct list l = list_of(I, "shape", -1);
    set_type(I, 0, type_attr(I, "dtype", DT_FLOAT));
    shape_from(I, 0, &l);
}

static void
multinomial_rule(struct infer *I)
{
    SHAPE(I, 0, type_attr(I, "dtype", DT_INT32), dim(in(I, 0), 0), num_dim(node_int(I->n, "sample_size", 1)));
}

static void
window_function_rule(struct infer *I)
{
    int64_t n;
    SHAPE(I, 0, type_attr(I, "output_datatype", DT_FLOAT), int_of(I, NULL, 0, -1, &n) ? num_dim(n) : OPEN);
}

static void
mel_rule(struct infer *I)
{
    int64_t bins, n;
    bool ok = int_of(I, NULL, 0, -1, &bins), ok2 = int_of(I, NULL, 1, -1, &n) && n >= 0;
    SHAPE(I, 0, type_attr(I, "output_datatype", DT_FLOAT), ok2 ? num_dim(n / 2 + 1) : OPEN, ok ? num_dim(bins) : OPEN);
}

static void
dft_rule(struct infer *I)
{
    const struct tensor *x = in(I, 0);
    int64_t axis, length;
    int at;
    bool axis_known = int_of(I, "axis", I->g->opset >= 20 ? 2 : -1, I->g->opset >= 20 ? -2 : 1, &axis);
    bool half = node_int(I->n, "onesided", 0) != 0, inverse = node_int(I->n, "inverse", 0) != 0;
    set_type(I, 0, type(x));
    struct dim *d = shape(I, 0, rank(x));
    if (!d || rank(x) < 2)
        return;
    bool resized = in(I, 1) || half;
    for (int i = 0; i < rank(x); i++)
        d[i] = !resized || axis_known ? x->dims[i] : OPEN;
    d[rank(x) - 1] = num_dim(half && inverse ? 1 : 2);
    if (!axis_known || !axis_in(axis, rank(x), &at))
        return;
    if (in(I, 1))
        d[at] = int_of(I, NULL, 1, -1, &length) ? num_dim(length) : OPEN;
    else if (half && inverse)
        d[at] = d[at].n > 0 && d[at].n < INT64_MAX / 2 ? num_dim(2 * (d[at].n - 1)) : OPEN;
    if (half && !inverse)
        d[at] = d[at].n >= 0 ? num_dim(d[at].n / 2 + 1) : OPEN;
}

static void
stft_rule(struct infer *I)
{
    const struct tensor *x = in(I, 0);
    int64_t step, length = -1, size = dim(x, 1).n;
    bool ok = int_of(I, NULL, 1, -1, &step) && step > 0;
    if (in(I, 3))
        ok &= int_of(I, NULL, 3, -1, &length);
    else
        length = dim(in(I, 2), 0).n;
    ok &= length > 0 && size >= length;
    bool half = node_int(I->n, "onesided", 1) != 0;
    SHAPE(I, 0, type(x), dim(x, 0), ok ? num_dim((size - length) / step + 1) : OPEN,
          length > 0 ? num_dim(half ? length / 2 + 1 : length) : OPEN, num_dim(2));
}

static void
image_rule(struct infer *I)
{
    SHAPE(I, 0, DT_UINT8, OPEN, OPEN, num_dim(attr_is(I, "pixel_format", "Grayscale") ? 1 : 3));
}

static void
string_split_rule(struct infer *I)
{
    const struct tensor *x = in(I, 0);
    set_type(I, 0, DT_STRING);
    set_type(I, 1, DT_INT64);
    shape_as(I, 1, x);
    struct dim *d = rank(x) >= 0 ? shape(I, 0, rank(x) + 1) : NULL;
    for (int i = 0; i < rank(x) && d; i++)
        d[i] = x->dims[i];
}

static void
string_normalizer_rule(struct infer *I)
{
    const struct attr *stop = node_attr(I->n, "stopwords");
    same_rule(I);
    if (stop && stop->n && rank(in(I, 0)) > 0 && out(I, 0))
        out(I, 0)->dims[rank(in(I, 0)) - 1] = OPEN;
}

static void
tfidf_rule(struct infer *I)
{
    struct list l = list_of(I, "ngram_indexes", -1);
    int64_t n = -1;
    for (int i = 0; i < l.n; i++)
        n = l.v[i] >= n && l.v[i] < INT64_MAX ? l.v[i] + 1 : n;
    shape_as(I, 0, in(I, 0));
    set_type(I, 0, DT_FLOAT);
    if (rank(in(I, 0)) > 0 && out(I, 0))
        out(I, 0)->dims[rank(in(I, 0)) - 1] = num_dim(n);
    else if (rank(in(I, 0)) == 0)
        SHAPE(I, 0, DT_FLOAT, num_dim(n));
}

/* ---- quantized -------------------------------------------------------------------------------------------------- */

static void
quantize_rule(struct infer *I)
{
    shape_as(I, 0, in(I, 0));
    enum dtype t = type_attr(I, "output_dtype", DT_UNDEFINED);
    set_type(I, 0, type(in(I, 2)) ? type(in(I, 2)) : t ? t : DT_UINT8);
}

static void
dequantize_rule(struct infer *I)
{
    shape_as(I, 0, in(I, 0));
    enum dtype t = type_attr(I, "output_dtype", DT_UNDEFINED);
    set_type(I, 0, t ? t : type(in(I, 1)));
}

static void
dynamic_quantize_rule(struct infer *I)
{
    shape_as(I, 0, in(I, 0));
    set_type(I, 0, DT_UINT8);
    scalar(I, 1, DT_FLOAT);
    scalar(I, 2, DT_UINT8);
}

static void
qlinear_binary_rule(struct infer *I)
{
    struct infer two = *I;
    struct tensor *x[2] = {in(I, 0), in(I, 3)};
    two.in = x;
    two.nin = 2;
    broadcast_rule(&two);
}

/* ---- sequences and optionals ------------------------------------------------------------------------------------ */

enum { LIMIT_SEQUENCE = 64 };

static const char *
unwrapped(const char *wrap, char letter)
{
    return *wrap == letter ? wrap + 1 : wrap;
}

static void
set_wrap(const struct infer *I, int k, const char *letters, const struct tensor *element)
{
    struct tensor *o = out(I, k);
    if (!o || !element || !element->dtype)
        return;
    o->dtype = element->dtype;
    o->wrap = arena_printf(I->g->arena, "%s%s", letters, element->wrap);
}

/* Gives output k, a sequence, its elements; its shape is what they share. */
static void
set_sequence(const struct infer *I, int k, int n, const struct tensor **elem)
{
    struct tensor *o = out(I, k);
    if (!o || n > LIMIT_SEQUENCE)
        return;
    struct sequence *s = NEW(I->g->arena, struct sequence);
    s->n = n;
    s->elem = NEWN(I->g->arena, const struct tensor *, n + 1);
    for (int i = 0; i < n; i++)
        s->elem[i] = arena_dup(I->g->arena, elem[i], sizeof(*elem[i]));
    o->seq = s;
    for (int i = 0; i < n; i++)
        if (elem[i]->rank < 0 || elem[i]->rank != elem[0]->rank)
            return;
    struct dim *d = n ? shape(I, k, elem[0]->rank) : NULL;
    for (int i = 0; d && i < elem[0]->rank; i++) {
        d[i] = elem[0]->dims[i];
        for (int e = 1; e < n; e++)
            d[i] = merge_dim(d[i], elem[e]->dims[i]);
    }
}

static void
sequence_construct_rule(struct infer *I)
{
    const struct tensor **elem = NEWN(I->g->arena, const struct tensor *, I->nin + 1);
    int n = 0;
    for (int k = 0; k < I->nin; k++)
        if (in(I, k))
            elem[n++] = in(I, k);
    if (n)
        set_wrap(I, 0, "s", elem[0]);
    set_sequence(I, 0, n, elem);
}

static void
sequence_empty_rule(struct infer *I)
{
    struct tensor element = {.dtype = type_attr(I, "dtype", DT_FLOAT), .wrap = ""};
    set_wrap(I, 0, "s", &element);
    set_sequence(I, 0, 0, NULL);
}

/* The place that input k names in a sequence of n, or -1. */
static int
position(const struct infer *I, int k, int n, int otherwise)
{
    int64_t v;
    int at;
    if (!int_of(I, NULL, k, otherwise, &v))
        return -1;
    if (v == n)
        return n;
    return axis_in(v, n, &at) ? at : -1;
}

/* What the elements of two sequences, or of a sequence and one more, share. */
static void
merge_shape(const struct infer *I, int k, const struct tensor *a, const struct tensor *b)
{
    if (rank(a) < 0 || rank(a) != rank(b))
        return;
    struct dim *d = shape(I, k, rank(a));
    for (int i = 0; d && i < rank(a); i++)
        d[i] = merge_dim(a->dims[i], b->dims[i]);
}

static void
sequence_insert_rule(struct infer *I)
{
    const struct tensor *s = in(I, 0), *x = in(I, 1);
    if (!s || !x)
        return;
    set_wrap(I, 0, "", s->dtype ? s : NULL);
    if (!s->dtype)
        set_wrap(I, 0, "s", x);
    int n = s->seq ? s->seq->n : 0, at = s->seq ? position(I, 2, n, n) : -1, to = 0;
    if (at < 0) {
        merge_shape(I, 0, s, x);
        return;
    }
    const struct tensor *elem[LIMIT_SEQUENCE + 1];
    for (int i = 0; i <= n; i++)
        elem[i] = i == at ? x : s->seq->elem[to++];
    set_sequence(I, 0, n + 1, elem);
    if (n + 1 > LIMIT_SEQUENCE)
        merge_shape(I, 0, s, x);
}

static void
sequence_erase_rule(struct infer *I)
{
    const struct tensor *s = in(I, 0), *elem[LIMIT_SEQUENCE];
    if (!s)
        return;
    whole_as(I, 0, s);
    int n = s->seq ? s->seq->n : 0, at = n ? position(I, 1, n, n - 1) : -1, to = 0;
    if (out(I, 0))
        out(I, 0)->seq = NULL;
    for (int i = 0; i < n; i++)
        if (i != at)
            elem[to++] = s->seq->elem[i];
    if (at >= 0 && at < n)
        set_sequence(I, 0, to, elem);
}

static void
sequence_at_rule(struct infer *I)
{
    const struct tensor *s = in(I, 0);
    struct tensor *o = out(I, 0);
    if (!s || !o)
        return;
    int at = s->seq ? position(I, 1, s->seq->n, 0) : -1;
    if (at >= 0 && at < s->seq->n) {
        whole_as(I, 0, s->seq->elem[at]);
        return;
    }
    whole_as(I, 0, s);
    o->seq = NULL;
    o->wrap = unwrapped(o->wrap, 's');
}

static void
sequence_length_rule(struct infer *I)
{
    scalar(I, 0, DT_INT64);
}

static void
split_to_sequence_rule(struct infer *I)
{
    const struct tensor *x = in(I, 0);
    struct list l = list_of(I, NULL, 1);
    int axis, to = 0;
    bool keep = node_int(I->n, "keepdims", 1) != 0 || in(I, 1);
    if (!x || !axis_in(node_int(I->n, "axis", 0), rank(x), &axis)) {
        set_wrap(I, 0, "s", x);
        return;
    }
    set_wrap(I, 0, "s", x);
    struct dim d[LIMIT_RANK], whole = x->dims[axis];
    for (int i = 0; i < rank(x); i++)
        if (i != axis || keep)
            d[to++] = x->dims[i];
    bool one_size = l.given && rank(in(I, 1)) == 0;
    int64_t each = !l.given ? 1 : one_size && at_known(&l, 0) ? l.v[0] : -1, n = -1;
    if (!l.given)
        n = whole.n;
    else if (one_size && each > 0 && whole.n >= 0)
        n = whole.n / each + (whole.n % each != 0);
    else if (!one_size && list_known(&l))
        n = l.n;
    if (keep)
        d[axis] = n > 0 && !one_size && l.given                     ? OPEN
                  : each > 0 && whole.n >= 0 && whole.n % each == 0 ? num_dim(each)
                                                                    : OPEN;
    if (n < 0 || n > LIMIT_SEQUENCE) {
        struct dim *od = shape(I, 0, to);
        for (int i = 0; od && i < to; i++)
            od[i] = d[i];
        return;
    }
    const struct tensor *elem[LIMIT_SEQUENCE];
    for (int e = 0; e < n; e++) {
        struct tensor *t = arena_dup(I->g->arena, x, sizeof(*x));
        t->rank = to;
        t->dims = arena_dup(I->g->arena, d, sizeof(*d) * (size_t)to);
        t->value = NULL;
        if (keep)
            t->dims[axis] = !l.given     ? num_dim(1)
                            : one_size   ? num_dim(e < n - 1 || whole.n % each == 0 ? each : whole.n % each)
                            : l.v[e] < 0 ? OPEN
                                         : num_dim(l.v[e]);
        elem[e] = t;
    }
    set_sequence(I, 0, (int)n, elem);
}

static void
concat_from_sequence_rule(struct infer *I)
{
    const struct tensor *s = in(I, 0);
    bool fresh = node_int(I->n, "new_axis", 0) != 0;
    int axis, from = 0;
    if (!s)
        return;
    set_type(I, 0, s->dtype);
    const struct tensor *e = s->rank < 0 && s->seq && s->seq->n ? s->seq->elem[0] : s;
    int r = rank(e);
    if (r < 0 || !axis_in(node_int(I->n, "axis", 0), r + fresh, &axis))
        return;
    struct dim *d = shape(I, 0, r + fresh);
    for (int i = 0; d && i < r + fresh; i++) {
        if (i == axis && fresh) {
            d[i] = s->seq ? num_dim(s->seq->n) : OPEN;
            continue;
        }
        d[i] = e->dims[from++];
        if (i != axis)
            continue;
        d[i] = s->seq ? num_dim(0) : OPEN;
        for (int k = 0; s->seq && k < s->seq->n; k++)
            d[i] = add_dim(d[i], dim(s->seq->elem[k], i));
    }
}

static void
optional_rule(struct infer *I)
{
    const struct attr *a = node_attr(I->n, "type");
    const struct tensor *x = in(I, 0) ? in(I, 0) : a ? a->t : NULL;
    whole_as(I, 0, x);
    set_wrap(I, 0, "o", x);
}

static void
optional_get_rule(struct infer *I)
{
    whole_rule(I);
    if (out(I, 0))
        out(I, 0)->wrap = unwrapped(out(I, 0)->wrap, 'o');
}

static void
optional_has_rule(struct infer *I)
{
    scalar(I, 0, DT_BOOL);
}

/* ---- control flow ----------------------------------------------------------------------------------------------- */

static struct graph *
body_of(const struct infer *I, const char *name)
{
    const struct attr *a = node_attr(I->n, name);
    return a ? a->g : NULL;
}

static const struct tensor *
result_of(const struct graph *g, int k)
{
    return g && k < g->nout ? &g->t[g->out[k]] : NULL;
}

static void
if_rule(struct infer *I)
{
    struct graph *yes = body_of(I, "then_branch"), *no = body_of(I, "else_branch");
    const struct tensor *c = in(I, 0);
    bool decided = known(c, 0) && c->value->i;
    struct graph *taken = decided ? (c->value->i[0] ? yes : no) : NULL;
    bool ok = (!yes || shapes_subgraph(I, yes)) && (!no || shapes_subgraph(I, no));
    for (int k = 0; k < I->nout && ok; k++) {
        const struct tensor *a = result_of(taken ? taken : yes, k), *b = result_of(taken ? taken : no, k);
        struct tensor *o = out(I, k);
        if (!o || !a || !b)
            continue;
        whole_as(I, k, a->dtype ? a : b);
        if (*b->wrap == 'o' && *o->wrap != 'o')
            set_wrap(I, k, "", b);
        o->rank = -1;
        o->seq = taken ? a->seq : NULL;
        merge_shape(I, k, a, b);
        if (taken)
            shape_as(I, k, a);
        o->value = taken ? a->value : NULL;
    }
}

/* Gives a body's input what is known of the value that enters. */
static void
enter(struct graph *body, int k, const struct tensor *x, bool with_value)
{
    if (k >= body->nin)
        return;
    struct tensor *t = &body->t[body->in[k]];
    if (x && x->dtype) {
        t->dtype = x->dtype;
        t->wrap = x->wrap;
    }
    t->rank = rank(x);
    t->dims = x ? x->dims : NULL;
    t->value = x && with_value ? x->value : NULL;
    t->seq = NULL;
}

/* Dims of a carried value that the body changes become open. Whether any did. */
static bool
widen(const struct infer *I, struct graph *body, int k, const struct tensor *after)
{
    if (k >= body->nin)
        return false;
    struct tensor *t = &body->t[body->in[k]];
    if (!after || t->rank < 0)
        return false;
    if (after->rank != t->rank) {
        t->rank = -1;
        return true;
    }
    bool changed = false;
    struct dim *d = NEWN(I->g->arena, struct dim, t->rank);
    for (int i = 0; i < t->rank; i++) {
        d[i] = merge_dim(t->dims[i], after->dims[i]);
        changed |= d[i].n != t->dims[i].n || d[i].sym != t->dims[i].sym;
    }
    t->dims = d;
    return changed;
}

/* Runs a body until the shapes of what it carries, inputs from `in0` to outputs from `out0`, are stable. */
static bool
run_body(struct infer *I, struct graph *body, int in0, int out0, int n)
{
    struct graph *root = I->g;
    while (root->parent)
        root = root->parent;
    int doubts = root->ndoubts;
    for (int tries = 0; tries < 4; tries++) {
        bool changed = false;
        root->ndoubts = doubts; /* those of the last try count */
        if (!shapes_subgraph(I, body))
            return false;
        for (int k = 0; k < n; k++)
            changed |= widen(I, body, in0 + k, result_of(body, out0 + k));
        if (!changed)
            return true;
    }
    return false;
}

/* A scan output: the body's result with an axis of the number of rounds. */
static void
stack_results(const struct infer *I, int k, const struct tensor *each, struct dim rounds, int64_t axis)
{
    int at, from = 0;
    if (!each)
        return;
    set_type(I, k, each->dtype);
    if (each->rank < 0 || !axis_in(axis, each->rank + 1, &at))
        return;
    struct dim *d = shape(I, k, each->rank + 1);
    for (int i = 0; d && i <= each->rank; i++)
        d[i] = i == at ? rounds : each->dims[from++];
}

static void
loop_rule(struct infer *I)
{
    struct graph *body = body_of(I, "body");
    const struct tensor *trips = in(I, 0), *cond = in(I, 1);
    int carried = I->nin > 2 ? I->nin - 2 : 0;
    if (!body || body->nin < 2)
        return;
    bool starts = !cond || (known(cond, 0) && cond->value->i && cond->value->i[0]);
    static const int64_t one = 1;
    static const struct constant truth = {.n = 1, .i = (int64_t *)&one};
    struct tensor go = {.dtype = DT_BOOL, .wrap = "", .value = starts ? &truth : NULL};
    struct tensor round = {.dtype = DT_INT64, .wrap = ""};
    if (I->g->opset >= 1) {
        enter(body, 0, &round, false);
        enter(body, 1, &go, true);
    }
    for (int k = 0; k < carried; k++)
        enter(body, k + 2, in(I, k + 2), false);
    if (!run_body(I, body, 2, 1, carried))
        return;
    const struct tensor *again = result_of(body, 0);
    struct dim rounds = OPEN;
    if (known(trips, 0) && trips->value->i && starts && known(again, 0) && again->value->i && again->value->i[0])
        rounds = num_dim(trips->value->i[0] > 0 ? trips->value->i[0] : 0);
    else if (cond && known(cond, 0) && cond->value->i && !cond->value->i[0])
        rounds = num_dim(0);
    for (int k = 0; k < carried; k++) {
        const struct tensor *t = k + 2 < body->nin ? &body->t[body->in[k + 2]] : NULL, *after = result_of(body, k + 1);
        whole_as(I, k, t);
        set_wrap(I, k, "", after);
        if (out(I, k) && after && rounds.n > 0)
            shape_as(I, k, after);
        if (out(I, k))
            out(I, k)->seq = NULL;
    }
    for (int k = carried; k < I->nout; k++)
        stack_results(I, k, result_of(body, k + 1), rounds, 0);
}

static int64_t
axis_at(const struct infer *I, const char *name, int k)
{
    struct list l = list_of(I, name, -1);
    return k < l.n ? l.v[k] : 0;
}

static void
scan_rule(struct infer *I)
{
    struct graph *body = body_of(I, "body");
    int64_t nscan = node_int(I->n, "num_scan_inputs", -1);
    int first = I->g->opset < 9, lead = first; /* Scan-8: sequence_lens before, and a batch axis in front */
    int n = I->nin - first;
    if (!body || nscan < 0 || nscan > n)
        return;
    int states = n - (int)nscan;
    struct dim rounds = OPEN, batch = OPEN;
    for (int k = 0; k < n; k++) {
        const struct tensor *x = in(I, first + k);
        struct tensor slice = {.dtype = type(x), .wrap = "", .rank = -1};
        int at, to = 0;
        int64_t axis = k < states ? 0 : axis_at(I, first ? "axes" : "scan_input_axes", k - states);
        if (lead && k >= states && axis == 0)
            axis = 1;
        if (k < states && !lead) {
            enter(body, k, x, false);
            continue;
        }
        if (rank(x) >= 0 && (k < states || axis_in(axis, rank(x), &at))) {
            at = k < states ? -1 : at;
            slice.dims = NEWN(I->g->arena, struct dim, rank(x) + 1);
            for (int i = 0; i < rank(x); i++)
                if (i != at && !(lead && i == 0))
                    slice.dims[to++] = x->dims[i];
            slice.rank = to;
            if (k >= states && x->dims[at].n >= 0)
                rounds = x->dims[at];
            if (lead && rank(x) > 0)
                batch = x->dims[0];
        }
        enter(body, k, &slice, false);
    }
    if (!run_body(I, body, 0, 0, states))
        return;
    for (int k = 0; k < I->nout; k++) {
        const struct tensor *r = result_of(body, k);
        if (!r)
            continue;
        if (k < states && !lead) {
            whole_as(I, k, k < body->nin ? &body->t[body->in[k]] : r);
        } else if (k < states) {
            stack_results(I, k, r, batch, 0);
        } else {
            stack_results(I, k, r, rounds, lead ? 0 : axis_at(I, "scan_output_axes", k - states));
            struct tensor *o = out(I, k);
            if (lead && o && o->rank >= 0) {
                struct tensor inner = *o;
                stack_results(I, k, &inner, batch, 0);
            }
        }
    }
}

static void
sequence_map_rule(struct infer *I)
{
    struct graph *body = body_of(I, "body");
    if (!body)
        return;
    const struct tensor *s = in(I, 0);
    for (int k = 0; k < I->nin; k++) {
        struct tensor x = in(I, k) ? *in(I, k) : (struct tensor){.wrap = "", .rank = -1};
        x.wrap = unwrapped(x.wrap, 's');
        enter(body, k, &x, false);
    }
    if (!shapes_subgraph(I, body))
        return;
    (void)s;
    for (int k = 0; k < I->nout; k++) {
        const struct tensor *r = result_of(body, k);
        if (!r)
            continue;
        set_wrap(I, k, "s", r);
        shape_as(I, k, r);
    }
}

/* ---- ai.onnx.ml, training --------------------------------------------------------------------------------------- */

static void
float_like_rule(struct infer *I)
{
    shape_as(I, 0, in(I, 0));
    set_type(I, 0, DT_FLOAT);
}

static void
array_feature_rule(struct infer *I)
{
    const struct tensor *x = in(I, 0), *y = in(I, 1);
    struct dim n = rank(y) < 0 ? OPEN : product(y, 0, rank(y));
    set_type(I, 0, type(x));
    if (rank(x) == 1) {
        SHAPE(I, 0, DT_UNDEFINED, num_dim(1), n);
    } else if (rank(x) > 1) {
        shape_as(I, 0, x);
        if (out(I, 0))
            out(I, 0)->dims[rank(x) - 1] = n;
    }
}

static void
label_encoder_rule(struct infer *I)
{
    static const struct {
        const char *name;
        enum dtype t;
    } values[] = {{"values_strings", DT_STRING}, {"values_int64s", DT_INT64}, {"values_floats", DT_FLOAT}};
    const struct attr *t = node_attr(I->n, "values_tensor");
    shape_as(I, 0, in(I, 0));
    set_type(I, 0, t && t->t ? t->t->dtype : type(in(I, 0)) == DT_STRING ? DT_INT64 : DT_STRING);
    for (int i = 0; i < COUNT(values); i++)
        if (node_attr(I->n, values[i].name))
            set_type(I, 0, values[i].t);
}

static void
category_rule(struct infer *I)
{
    shape_as(I, 0, in(I, 0));
    set_type(I, 0, type(in(I, 0)) == DT_STRING ? DT_INT64 : DT_STRING);
}

static struct dim
rows_of(const struct tensor *x)
{
    return rank(x) == 1 ? num_dim(1) : dim(x, 0);
}

static void
regressor_rule(struct infer *I) /* LinearRegressor, SVMRegressor, TreeEnsemble... */
{
    int64_t n = node_int(I->n, "targets", node_int(I->n, "n_targets", 1));
    bool own = strcmp(I->n->op, "TreeEnsemble") == 0;
    SHAPE(I, 0, own ? type(in(I, 0)) : DT_FLOAT, rows_of(in(I, 0)), num_dim(n));
}

static void
classifier_rule(struct infer *I)
{
    static const char *const names[] = {"classlabels_strings", "classlabels_ints", "classlabels_int64s"};
    int64_t n = -1;
    enum dtype t = DT_INT64;
    for (int i = 0; i < COUNT(names); i++) {
        const struct attr *a = node_attr(I->n, names[i]);
        if (a && a->n) {
            n = a->n;
            t = i ? DT_INT64 : DT_STRING;
        }
    }
    SHAPE(I, 0, t, rows_of(in(I, 0)));
    SHAPE(I, 1, DT_FLOAT, rows_of(in(I, 0)), num_dim(n));
}

static void
one_hot_encoder_rule(struct infer *I)
{
    const struct tensor *x = in(I, 0);
    const struct attr *a = node_attr(I->n, "cats_int64s"), *b = node_attr(I->n, "cats_strings");
    set_type(I, 0, DT_FLOAT);
    struct dim *d = rank(x) >= 0 ? shape(I, 0, rank(x) + 1) : NULL;
    for (int i = 0; i < rank(x) && d; i++)
        d[i] = x->dims[i];
    if (d && (a || b))
        d[rank(x)] = num_dim(a && a->n ? a->n : b ? b->n : -1);
}

static void
feature_vectorizer_rule(struct infer *I)
{
    struct list l = list_of(I, "inputdimensions", -1);
    struct dim n = l.given ? num_dim(0) : OPEN;
    for (int i = 0; i < l.n; i++)
        n = add_dim(n, num_dim(l.v[i]));
    SHAPE(I, 0, DT_FLOAT, rows_of(in(I, 0)), n);
}

static void
zip_map_rule(struct infer *I)
{
    struct tensor element = {.dtype = DT_FLOAT, .wrap = "m"};
    set_wrap(I, 0, "s", &element);
}

/* R, T, then groups of tensors: values, gradients, states. The outputs are the groups without the gradients. */
static void
optimizer_rule(struct infer *I)
{
    int n = I->nout, groups = strcmp(I->n->op, "Adam") == 0 ? 3 : 2;
    if (n % groups)
        return;
    int each = n / groups;
    for (int k = 0; k < n; k++)
        same(I, k, in(I, 2 + k + (k >= each ? each : 0)));
}

static void
gradient_rule(struct infer *I)
{
    for (int k = 0; k < I->nout; k++)
        same(I, k, in(I, k));
}

/* ---- fused operators of optimized files (com.microsoft) --------------------------------------------------------- */

static void
skip_norm_rule(struct infer *I)
{
    const struct tensor *x = in(I, 0);
    same(I, 0, x);
    same(I, 3, x);
    for (int k = 1; k < 3; k++) {
        set_type(I, k, DT_FLOAT);
        shape_as(I, k, x);
        if (rank(x) > 0 && out(I, k))
            out(I, k)->dims[rank(x) - 1] = num_dim(1);
    }
}

static void
embed_norm_rule(struct infer *I)
{
    struct dim b = dim(in(I, 0), 0), s = dim(in(I, 0), 1), h = dim(in(I, 2), 1);
    SHAPE(I, 0, type(in(I, 2)), b, s, h);
    SHAPE(I, 1, DT_INT32, b);
    SHAPE(I, 2, type(in(I, 2)), b, s, h);
}

static void
ms_attention_rule(struct infer *I)
{
    const struct tensor *x = in(I, 0), *w = in(I, 1), *past = in(I, 4);
    struct list sizes = list_of(I, "qkv_hidden_sizes", -1);
    struct dim h = sizes.n == 3 ? num_dim(sizes.v[2]) : div_dim(dim(w, 1), 3), heads = attr_dim(I, "num_heads");
    struct dim total = past ? add_dim(dim(past, 3), dim(x, 1)) : dim(x, 1);
    SHAPE(I, 0, type(x), dim(x, 0), dim(x, 1), h);
    SHAPE(I, 1, type(x), num_dim(2), dim(x, 0), heads, total, div_dim(h, heads.n));
}

static void
multi_head_rule(struct infer *I)
{
    const struct tensor *q = in(I, 0), *k = in(I, 1), *v = in(I, 2), *past = in(I, 6);
    struct dim heads = attr_dim(I, "num_heads");
    struct dim h = rank(q) == 5   ? mul_dim(dim(q, 2), dim(q, 4))
                   : rank(v) == 4 ? mul_dim(dim(v, 1), dim(v, 3))
                   : v            ? dim(v, 2)
                                  : dim(q, 2);
    struct dim length = rank(k) == 4 ? dim(k, 2) : k ? dim(k, 1) : dim(q, 1);
    if (past)
        length = add_dim(length, dim(past, 2));
    SHAPE(I, 0, type(q), dim(q, 0), dim(q, 1), h);
    for (int o = 1; o < 3; o++)
        SHAPE(I, o, type(q), dim(q, 0), heads, length, div_dim(o == 1 ? dim(q, 2) : h, heads.n));
}

static void
grouped_query_rule(struct infer *I)
{
    const struct tensor *q = in(I, 0);
    int64_t hq = node_int(I->n, "num_heads", 0), hk = node_int(I->n, "kv_num_heads", 0);
    struct dim h = dim(q, 2);
    if (!in(I, 1)) /* packed: query, key and value side by side */
        h = hq > 0 && hk > 0 && hq < LIMIT_WINDOW && hk < LIMIT_WINDOW && h.n < LIMIT_WINDOW && h.n >= 0
                ? num_dim(h.n / (hq + 2 * hk) * hq)
                : OPEN;
    SHAPE(I, 0, type(q), dim(q, 0), dim(q, 1), h);
    for (int o = 1; o < 3; o++)
        same(I, o, in(I, o + 2));
}

static void
half_width_rule(struct infer *I)
{
    same_rule(I);
    int r = rank(in(I, 0));
    if (r > 0 && out(I, 0))
        out(I, 0)->dims[r - 1] = div_dim(out(I, 0)->dims[r - 1], 2);
}

static void
position_bias_rule(struct infer *I)
{
    int64_t q, k;
    bool a = int_of(I, NULL, 1, -1, &q), b = int_of(I, NULL, 2, -1, &k);
    SHAPE(I, 0, type(in(I, 0)), num_dim(1), dim(in(I, 0), 1), a ? num_dim(q) : OPEN, b ? num_dim(k) : OPEN);
}

static void
gather_blocks_rule(struct infer *I)
{
    gather_rule(I);
    set_type(I, 0, type(in(I, 2)));
}

static void
all_finite_rule(struct infer *I)
{
    SHAPE(I, 0, DT_BOOL, num_dim(1));
}

static void
cdist_rule(struct infer *I)
{
    SHAPE(I, 0, type(in(I, 0)), dim(in(I, 0), 0), dim(in(I, 1), 0));
}

static void
dynamic_lstm_rule(struct infer *I)
{
    rnn_rule(I);
}

static void
qglobal_pool_rule(struct infer *I)
{
    bool last = node_int(I->n, "channels_last", 0) != 0;
    int r = rank(in(I, 0));
    same_rule(I);
    for (int i = last ? 1 : 2; i < (last ? r - 1 : r) && out(I, 0); i++)
        out(I, 0)->dims[i] = num_dim(1);
}

/* ---- values: elementwise kernels -------------------------------------------------------------------------------- */

/* One element: both forms are filled, for whichever a kernel wants. */
struct num {
    bool known;
    int64_t i;
    double f;
};

struct fold {
    const struct infer *I;
    bool is_float; /* the first input's type */
    enum dtype t;  /* the output's */
};

static const struct num UNKNOWN = {false, 0, 0};

static struct num
from_int(int64_t v)
{
    return (struct num){true, v, (double)v};
}

static struct num
from_float(double v)
{
    return (struct num){true, v > -9.2e18 && v < 9.2e18 ? (int64_t)v : 0, v};
}

static struct num
get(const struct tensor *t, int k)
{
    if (!known(t, k))
        return UNKNOWN;
    return t->value->f ? from_float(t->value->f[k]) : from_int(t->value->i[k]);
}

static int64_t
narrow(enum dtype t, int64_t v)
{
    switch (t) {
    case DT_BOOL:
        return v != 0;
    case DT_INT8:
        return (int8_t)v;
    case DT_UINT8:
        return (uint8_t)v;
    case DT_INT16:
        return (int16_t)v;
    case DT_UINT16:
        return (uint16_t)v;
    case DT_INT32:
        return (int32_t)v;
    case DT_UINT32:
        return (uint32_t)v;
    default:
        return v;
    }
}

static void
set(struct constant *c, enum dtype t, int k, struct num x)
{
    c->known[k] = x.known;
    if (c->f)
        c->f[k] = t == DT_FLOAT ? (double)(float)x.f : x.f;
    else
        c->i[k] = narrow(t, x.i);
}

static struct constant *
constant_for(struct infer *I, int k)
{
    struct tensor *o = out(I, k);
    return o && !*o->wrap ? shapes_constant(I, o->dtype, tensor_elements(o)) : NULL;
}

static void
keep(struct infer *I, int k, struct constant *c)
{
    int n = 0;
    for (int i = 0; i < c->n; i++)
        n += c->known[i];
    if (n == c->n)
        c->known = NULL;
    if (n || !c->n)
        out(I, k)->value = c;
}

typedef struct num (*kernel)(const struct fold *F, const struct num *x, int n);

/* Applies a kernel to each element of the broadcast inputs. */
static void
fold(struct infer *I, kernel f)
{
    struct tensor *o = out(I, 0);
    bool any = false;
    for (int k = 0; k < I->nin; k++)
        any |= in(I, k) && in(I, k)->value;
    struct constant *c = any && I->nin <= LIMIT_FOLD ? constant_for(I, 0) : NULL;
    if (!c)
        return;
    int r = o->rank;
    struct arena *a = I->g->arena;
    int64_t *step = NEWN(a, int64_t, I->nin * (r + 1)), *at = NEWN(a, int64_t, I->nin + 1),
            *pos = NEWN(a, int64_t, r + 1);
    struct num *x = NEWN(a, struct num, I->nin + 1);
    for (int k = 0; k < I->nin; k++) {
        const struct tensor *t = in(I, k);
        int64_t stride = 1;
        for (int i = r - 1, d = rank(t) - 1; i >= 0 && d >= 0; i--, d--) {
            if (t->dims[d].n != 1 && t->dims[d].n != o->dims[i].n)
                return;
            step[k * r + i] = t->dims[d].n == 1 ? 0 : stride;
            stride *= t->dims[d].n;
        }
    }
    struct fold F = {I, in(I, 0) && dtypes[in(I, 0)->dtype].is_float, o->dtype};
    for (int e = 0; e < c->n; e++) {
        for (int k = 0; k < I->nin; k++)
            x[k] = in(I, k) ? get(in(I, k), (int)at[k]) : UNKNOWN;
        set(c, o->dtype, e, f(&F, x, I->nin));
        for (int i = r - 1; i >= 0; i--) {
            pos[i]++;
            for (int k = 0; k < I->nin; k++)
                at[k] += step[k * r + i];
            if (pos[i] < o->dims[i].n)
                break;
            for (int k = 0; k < I->nin; k++)
                at[k] -= step[k * r + i] * pos[i];
            pos[i] = 0;
        }
    }
    keep(I, 0, c);
}

static int64_t
wrap_add(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a + (uint64_t)b);
}

static int64_t
wrap_sub(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a - (uint64_t)b);
}

static int64_t
wrap_mul(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a * (uint64_t)b);
}

static struct num
divide(int64_t a, int64_t b)
{
    return b == 0 || (a == INT64_MIN && b == -1) ? UNKNOWN : from_int(a / b);
}

static struct num
modulo(const struct fold *F, struct num a, struct num b)
{
    bool c = node_int(F->I->n, "fmod", 0) != 0;
    if (F->is_float)
        return b.f == 0 ? UNKNOWN : from_float(fmod(a.f, b.f));
    if (b.i == 0 || b.i == -1)
        return b.i ? from_int(0) : UNKNOWN;
    int64_t m = a.i % b.i;
    return from_int(!c && m != 0 && (m < 0) != (b.i < 0) ? m + b.i : m);
}

static struct num
power(const struct fold *F, struct num a, struct num b)
{
    if (F->is_float)
        return from_float(pow(a.f, b.f));
    if (b.i < 0 || b.f != (double)b.i)
        return from_float(pow(a.f, b.f));
    int64_t r = 1, base = a.i;
    for (uint64_t n = (uint64_t)b.i; n; n >>= 1) {
        if (n & 1)
            r = wrap_mul(r, base);
        base = wrap_mul(base, base);
    }
    return from_int(r);
}

static struct num
shift(const struct fold *F, struct num a, struct num b)
{
    if (b.i < 0 || b.i > 63)
        return from_int(0);
    bool left = attr_is(F->I, "direction", "LEFT");
    return from_int(left ? (int64_t)((uint64_t)a.i << b.i) : (int64_t)((uint64_t)a.i >> b.i));
}

static struct num
cast(const struct fold *F, struct num a)
{
    if (F->is_float && !dtypes[F->t].is_float) {
        if (F->t == DT_BOOL)
            return from_int(a.f != 0);
        return a.f > -9.2e18 && a.f < 9.2e18 ? from_int((int64_t)a.f) : UNKNOWN;
    }
    return a;
}

#define ALL_KNOWN                  \
    for (int k_ = 0; k_ < n; k_++) \
        if (!x[k_].known)          \
            return UNKNOWN;

/* A value rule from an expression over x[0], x[1]; F says of which type. */
#define VALUE(name, inputs, expression)                                               \
    static struct num name##_kernel(const struct fold *F, const struct num *x, int n) \
    {                                                                                 \
        (void)F;                                                                      \
        ALL_KNOWN                                                                     \
        return n < (inputs) ? UNKNOWN : (expression);                                 \
    }                                                                                 \
    static void name##_value(struct infer *I)                                         \
    {                                                                                 \
        fold(I, name##_kernel);                                                       \
    }

#define EITHER(ints, floats) (F->is_float ? from_float(floats) : from_int(ints))

VALUE(sub, 2, EITHER(wrap_sub(x[0].i, x[1].i), x[0].f - x[1].f))
VALUE(div, 2, F->is_float ? from_float(x[0].f / x[1].f) : divide(x[0].i, x[1].i))
VALUE(mod, 2, modulo(F, x[0], x[1]))
VALUE(pow, 2, power(F, x[0], x[1]))
VALUE(shift, 2, shift(F, x[0], x[1]))
VALUE(neg, 1, EITHER(wrap_sub(0, x[0].i), -x[0].f))
VALUE(abs, 1, EITHER(x[0].i < 0 ? wrap_sub(0, x[0].i) : x[0].i, fabs(x[0].f)))
VALUE(sign, 1, EITHER((x[0].i > 0) - (x[0].i < 0), (double)((x[0].f > 0) - (x[0].f < 0))))
VALUE(floor, 1, from_float(floor(x[0].f)))
VALUE(ceil, 1, from_float(ceil(x[0].f)))
VALUE(round, 1, from_float(nearbyint(x[0].f)))
VALUE(relu, 1, EITHER(x[0].i > 0 ? x[0].i : 0, x[0].f > 0 ? x[0].f : 0))
VALUE(sqrt, 1, from_float(sqrt(x[0].f)))
VALUE(exp, 1, from_float(exp(x[0].f)))
VALUE(log, 1, from_float(log(x[0].f)))
VALUE(reciprocal, 1, from_float(1 / x[0].f))
VALUE(cast, 1, cast(F, x[0]))
VALUE(not, 1, from_int(!x[0].i))
VALUE(xor, 2, from_int(x[0].i != x[1].i))
VALUE(bit_and, 2, from_int(x[0].i &x[1].i))
VALUE(bit_or, 2, from_int(x[0].i | x[1].i))
VALUE(bit_xor, 2, from_int(x[0].i ^ x[1].i))
VALUE(bit_not, 1, from_int(~x[0].i))
VALUE(equal, 2, from_int(F->is_float ? x[0].f == x[1].f : x[0].i == x[1].i))
VALUE(less, 2, from_int(F->is_float ? x[0].f < x[1].f : x[0].i < x[1].i))
VALUE(greater, 2, from_int(F->is_float ? x[0].f > x[1].f : x[0].i > x[1].i))
VALUE(less_equal, 2, from_int(F->is_float ? x[0].f <= x[1].f : x[0].i <= x[1].i))
VALUE(greater_equal, 2, from_int(F->is_float ? x[0].f >= x[1].f : x[0].i >= x[1].i))
VALUE(is_nan, 1, from_int(isnan(x[0].f)))

static struct num
add_kernel(const struct fold *F, const struct num *x, int n)
{
    struct num s = from_int(0);
    ALL_KNOWN
    for (int k = 0; k < n; k++)
        s = F->is_float ? from_float(k ? s.f + x[k].f : x[k].f) : from_int(wrap_add(s.i, x[k].i));
    return s;
}

static void
add_value(struct infer *I)
{
    fold(I, add_kernel);
}

static struct num
mul_kernel(const struct fold *F, const struct num *x, int n)
{
    for (int k = 0; k < n && !F->is_float; k++)
        if (x[k].known && x[k].i == 0)
            return from_int(0);
    ALL_KNOWN
    return n < 2 ? UNKNOWN : EITHER(wrap_mul(x[0].i, x[1].i), x[0].f * x[1].f);
}

static void
mul_value(struct infer *I)
{
    fold(I, mul_kernel);
}

static struct num
extreme(const struct fold *F, const struct num *x, int n, bool max)
{
    ALL_KNOWN
    struct num best = n ? x[0] : UNKNOWN;
    for (int k = 1; k < n; k++)
        if (F->is_float ? (max ? x[k].f > best.f : x[k].f < best.f) : (max ? x[k].i > best.i : x[k].i < best.i))
            best = x[k];
    return best;
}

static struct num
max_kernel(const struct fold *F, const struct num *x, int n)
{
    return extreme(F, x, n, true);
}

static void
max_value(struct infer *I)
{
    fold(I, max_kernel);
}

static struct num
min_kernel(const struct fold *F, const struct num *x, int n)
{
    return extreme(F, x, n, false);
}

static void
min_value(struct infer *I)
{
    fold(I, min_kernel);
}

static struct num
clip_kernel(const struct fold *F, const struct num *x, int n)
{
    struct num v = x[0];
    if (!v.known)
        return UNKNOWN;
    for (int k = 1; k < 3; k++) {
        double bound = node_float(F->I->n, k == 1 ? "min" : "max", k == 1 ? -INFINITY : INFINITY);
        if (in(F->I, k) && (k >= n || !x[k].known))
            return UNKNOWN;
        if (in(F->I, k) && !F->is_float)
            v = (k == 1 ? v.i < x[k].i : v.i > x[k].i) ? x[k] : v;
        else if (in(F->I, k) || F->is_float)
            v = from_float(k == 1 ? fmax(v.f, in(F->I, k) ? x[k].f : bound) : fmin(v.f, in(F->I, k) ? x[k].f : bound));
    }
    return v;
}

static void
clip_value(struct infer *I)
{
    fold(I, clip_kernel);
}

static struct num
and_kernel(const struct fold *F, const struct num *x, int n)
{
    (void)F;
    for (int k = 0; k < n; k++)
        if (x[k].known && !x[k].i)
            return from_int(0);
    ALL_KNOWN
    return from_int(1);
}

static void
and_value(struct infer *I)
{
    fold(I, and_kernel);
}

static struct num
or_kernel(const struct fold *F, const struct num *x, int n)
{
    (void)F;
    for (int k = 0; k < n; k++)
        if (x[k].known && x[k].i)
            return from_int(1);
    ALL_KNOWN
    return from_int(0);
}

static void
or_value(struct infer *I)
{
    fold(I, or_kernel);
}

static struct num
where_kernel(const struct fold *F, const struct num *x, int n)
{
    (void)F;
    if (n < 3 || !x[0].known)
        return UNKNOWN;
    return x[0].i ? x[1] : x[2];
}

static void
where_value(struct infer *I)
{
    fold(I, where_kernel);
}

/* ---- values: movement ------------------------------------------------------------------------------------------- */

/* The same elements in the same order, under other dims. */
static void
copy_value(struct infer *I)
{
    struct tensor *o = out(I, 0);
    if (o && in(I, 0) && in(I, 0)->value && in(I, 0)->dtype == o->dtype && tensor_elements(o) == in(I, 0)->value->n)
        o->value = in(I, 0)->value;
}

static void
shape_value(struct infer *I)
{
    const struct tensor *x = in(I, 0);
    int64_t start = node_int(I->n, "start", 0);
    struct constant *c = rank(x) < 0 ? NULL : constant_for(I, 0);
    if (!c)
        return;
    start = clamp(start < 0 ? start + x->rank : start, 0, x->rank);
    for (int i = 0; i < c->n; i++) {
        struct dim d = dim(x, (int)start + i);
        set(c, DT_INT64, i, d.n < 0 ? UNKNOWN : from_int(d.n));
    }
    keep(I, 0, c);
}

static void
size_value(struct infer *I)
{
    int64_t n = in(I, 0) ? tensor_elements(in(I, 0)) : -1;
    struct constant *c = n < 0 ? NULL : constant_for(I, 0);
    if (!c)
        return;
    set(c, DT_INT64, 0, from_int(n));
    keep(I, 0, c);
}

static void
constant_value(struct infer *I)
{
    struct tensor *o = out(I, 0);
    for (int i = 0; i < I->n->nattr && o; i++) {
        const struct attr *a = &I->n->attr[i];
        struct constant *c = NULL;
        if (a->type == ATTR_TENSOR) {
            o->value = a->t->value;
        } else if ((a->type == ATTR_INT || a->type == ATTR_FLOAT) && (c = constant_for(I, 0))) {
            set(c, o->dtype, 0, a->type == ATTR_INT ? from_int(a->i) : from_float(a->f));
            keep(I, 0, c);
        } else if ((a->ints || a->floats) && (c = constant_for(I, 0)) && c->n == a->n) {
            for (int k = 0; k < c->n; k++)
                set(c, o->dtype, k, a->ints ? from_int(a->ints[k]) : from_float(a->floats[k]));
            keep(I, 0, c);
        }
    }
}

static void
constant_of_shape_value(struct infer *I)
{
    const struct attr *a = node_attr(I->n, "value");
    struct num v = a && a->t ? get(a->t, 0) : from_int(0);
    struct constant *c = v.known ? constant_for(I, 0) : NULL;
    if (!c)
        return;
    for (int k = 0; k < c->n; k++)
        set(c, out(I, 0)->dtype, k, v);
    keep(I, 0, c);
}

static void
range_value(struct infer *I)
{
    struct constant *c = range_count(I) < 0 ? NULL : constant_for(I, 0);
    if (!c)
        return;
    struct num start = get(in(I, 0), 0), delta = get(in(I, 2), 0);
    for (int k = 0; k < c->n; k++)
        set(c, out(I, 0)->dtype, k,
            c->f ? from_float(start.f + delta.f * k) : from_int(wrap_add(start.i, wrap_mul(delta.i, k))));
    keep(I, 0, c);
}

/* Fills output k from input x: element e of the output, at coordinates pos, is element base + sum(pos[i] * step[i]). */
static void
move(struct infer *I, int k, const struct tensor *x, int64_t base, const int64_t *step)
{
    struct tensor *o = out(I, k);
    struct constant *c = x && x->value ? constant_for(I, k) : NULL;
    int64_t pos[LIMIT_RANK] = {0}, at = base;
    if (!c)
        return;
    for (int e = 0; e < c->n; e++) {
        set(c, o->dtype, e, at >= 0 && at < x->value->n ? get(x, (int)at) : UNKNOWN);
        for (int i = o->rank - 1; i >= 0; i--) {
            at += step[i];
            if (++pos[i] < o->dims[i].n)
                break;
            at -= step[i] * pos[i];
            pos[i] = 0;
        }
    }
    keep(I, k, c);
}

/* Distance between neighbours on each axis; false when a dim is open. */
static bool
strides(const struct tensor *t, int64_t *step)
{
    int64_t n = 1;
    if (rank(t) < 0 || tensor_elements(t) < 0 || tensor_elements(t) > LIMIT_FOLD)
        return false;
    for (int i = t->rank - 1; i >= 0; i--) {
        step[i] = n;
        n *= t->dims[i].n;
    }
    return true;
}

static void
transpose_value(struct infer *I)
{
    int64_t from[LIMIT_RANK], step[LIMIT_RANK];
    int perm[LIMIT_RANK];
    if (!strides(in(I, 0), from) || !permutation(I, in(I, 0)->rank, perm))
        return;
    for (int i = 0; i < in(I, 0)->rank; i++)
        step[i] = from[perm[i]];
    move(I, 0, in(I, 0), 0, step);
}

static void
slice_value(struct infer *I)
{
    struct slice s[LIMIT_RANK];
    int64_t step[LIMIT_RANK], base = 0;
    const struct tensor *x = in(I, 0);
    if (!x || !x->value || !strides(x, step) || !slices_of(I, x, s))
        return;
    for (int i = 0; i < x->rank; i++) {
        if (!s[i].known)
            return;
        base += s[i].start * step[i];
        if (s[i].count > 1)
            step[i] *= s[i].step; /* steps beyond the axis make one element at most */
    }
    move(I, 0, x, base, step);
}

static void
split_value(struct infer *I)
{
    int64_t step[LIMIT_RANK], base = 0;
    int axis;
    const struct tensor *x = in(I, 0);
    if (!x || !x->value || !strides(x, step) || !axis_in(node_int(I->n, "axis", 0), x->rank, &axis))
        return;
    for (int k = 0; k < I->nout; k++) {
        struct dim part = split_part(I, x->dims[axis], k);
        if (part.n < 0 || part.n > LIMIT_FOLD)
            return;
        move(I, k, x, base, step);
        base += part.n * step[axis];
    }
}

static void
expand_value(struct infer *I)
{
    int64_t from[LIMIT_RANK], step[LIMIT_RANK] = {0};
    const struct tensor *x = in(I, 0);
    struct tensor *o = out(I, 0);
    if (!o || !x || !x->value || !strides(x, from))
        return;
    for (int i = 0; i < x->rank; i++)
        step[o->rank - x->rank + i] = x->dims[i].n == 1 ? 0 : from[i];
    move(I, 0, x, 0, step);
}

/* For operators whose elements come from places that are not evenly spaced: place gives the source of an element. */
static void
pick(struct infer *I, const struct tensor *x, int64_t (*place)(struct infer *, const int64_t *pos, const int64_t *from))
{
    struct tensor *o = out(I, 0);
    int64_t from[LIMIT_RANK], pos[LIMIT_RANK] = {0};
    struct constant *c = x && x->value && strides(x, from) ? constant_for(I, 0) : NULL;
    for (int e = 0; c && e < c->n; e++) {
        int64_t at = place(I, pos, from);
        set(c, o->dtype, e, at >= 0 && at < x->value->n ? get(x, (int)at) : UNKNOWN);
        for (int i = o->rank - 1; i >= 0 && ++pos[i] == o->dims[i].n; i--)
            pos[i] = 0;
    }
    if (c)
        keep(I, 0, c);
}

/* The element of a small tensor at coordinates pos. */
static int64_t
offset(const struct tensor *t, const int64_t *pos)
{
    int64_t at = 0;
    for (int i = 0; i < t->rank; i++)
        at = at * t->dims[i].n + pos[i];
    return at;
}

/* An index as the axis counts it, or -1. */
static int64_t
index_of(const struct tensor *idx, int64_t k, int64_t size)
{
    struct num v = get(idx, (int)k);
    if (!v.known || v.i < -size || v.i >= size)
        return -1;
    return v.i < 0 ? v.i + size : v.i;
}

static int64_t
gather_place(struct infer *I, const int64_t *pos, const int64_t *from)
{
    const struct tensor *x = in(I, 0), *idx = in(I, 1);
    int axis, r = rank(idx);
    int64_t at = 0;
    if (!axis_in(node_int(I->n, "axis", 0), x->rank, &axis))
        return -1;
    int64_t j = index_of(idx, offset(idx, pos + axis), x->dims[axis].n);
    for (int i = 0; i < x->rank; i++)
        at += from[i] * (i == axis ? j : pos[i < axis ? i : i + r - 1]);
    return j < 0 ? -1 : at;
}

static void
gather_value(struct infer *I)
{
    if (in(I, 1) && in(I, 1)->value && in(I, 1)->value->i && rank(in(I, 1)) >= 0)
        pick(I, in(I, 0), gather_place);
}

static int64_t
gather_elements_place(struct infer *I, const int64_t *pos, const int64_t *from)
{
    const struct tensor *x = in(I, 0), *idx = in(I, 1);
    int axis;
    int64_t at = 0;
    if (!axis_in(node_int(I->n, "axis", 0), x->rank, &axis))
        return -1;
    int64_t j = index_of(idx, offset(idx, pos), x->dims[axis].n);
    for (int i = 0; i < x->rank; i++)
        at += from[i] * (i == axis ? j : pos[i]);
    return j < 0 ? -1 : at;
}

static void
gather_elements_value(struct infer *I)
{
    if (in(I, 1) && in(I, 1)->value && in(I, 1)->value->i && rank(in(I, 1)) == rank(in(I, 0)))
        pick(I, in(I, 0), gather_elements_place);
}

static int64_t
gather_nd_place(struct infer *I, const int64_t *pos, const int64_t *from)
{
    const struct tensor *x = in(I, 0), *idx = in(I, 1);
    int batch = (int)node_int(I->n, "batch_dims", 0), depth = (int)idx->dims[idx->rank - 1].n,
        tail = x->rank - batch - depth;
    int64_t row = 0, at = 0;
    for (int i = 0; i < idx->rank - 1; i++)
        row = row * idx->dims[i].n + pos[i];
    for (int i = 0; i < batch; i++)
        at += from[i] * pos[i];
    for (int i = 0; i < depth; i++) {
        int64_t j = index_of(idx, row * depth + i, x->dims[batch + i].n);
        if (j < 0)
            return -1;
        at += from[batch + i] * j;
    }
    for (int i = 0; i < tail; i++)
        at += from[batch + depth + i] * pos[idx->rank - 1 + i];
    return at;
}

static void
gather_nd_value(struct infer *I)
{
    if (in(I, 1) && in(I, 1)->value && in(I, 1)->value->i && out(I, 0) && out(I, 0)->rank >= 0 && rank(in(I, 1)) >= 1)
        pick(I, in(I, 0), gather_nd_place);
}

static int64_t
tile_place(struct infer *I, const int64_t *pos, const int64_t *from)
{
    const struct tensor *x = in(I, 0);
    int64_t at = 0;
    for (int i = 0; i < x->rank; i++)
        at += from[i] * (pos[i] % x->dims[i].n);
    return at;
}

static void
tile_value(struct infer *I)
{
    if (in(I, 0) && tensor_elements(in(I, 0)) > 0)
        pick(I, in(I, 0), tile_place);
}

static void
concat_value(struct infer *I)
{
    struct tensor *o = out(I, 0);
    int axis;
    bool any = false;
    for (int k = 0; k < I->nin; k++) {
        if (!in(I, k) || rank(in(I, k)) != rank(o) || tensor_elements(in(I, k)) < 0)
            return;
        any |= in(I, k)->value != NULL;
    }
    struct constant *c = any ? constant_for(I, 0) : NULL;
    if (!c || !axis_in(concat_axis(I), o->rank, &axis))
        return;
    int64_t outer = 1, inner = 1, to = 0;
    for (int i = 0; i < o->rank; i++)
        *(i < axis ? &outer : &inner) *= i == axis ? 1 : o->dims[i].n;
    for (int64_t a = 0; a < outer; a++)
        for (int k = 0; k < I->nin; k++) {
            int64_t n = in(I, k)->dims[axis].n * inner;
            if (n * outer != tensor_elements(in(I, k)))
                return;
            for (int64_t b = 0; b < n && to < c->n; b++)
                set(c, o->dtype, (int)to++, get(in(I, k), (int)(a * n + b)));
        }
    keep(I, 0, c);
}

static void
pad_value(struct infer *I)
{
    const struct tensor *x = in(I, 0);
    struct tensor *o = out(I, 0);
    int64_t before[LIMIT_RANK], after[LIMIT_RANK], from[LIMIT_RANK], pos[LIMIT_RANK] = {0};
    bool is_known[LIMIT_RANK];
    const char *mode = node_str(I->n, "mode", "constant");
    if (!x || !x->value || strcmp(mode, "constant") != 0 || !strides(x, from) ||
        !pads_of(I, x->rank, before, after, is_known))
        return;
    struct num fill = in(I, 2) ? get(in(I, 2), 0) : from_float(node_float(I->n, "value", 0));
    struct constant *c = constant_for(I, 0);
    for (int e = 0; c && e < c->n; e++) {
        int64_t at = 0;
        bool inside = true;
        for (int i = 0; i < o->rank; i++) {
            int64_t p = wrap_sub(pos[i], before[i]);
            inside &= p >= 0 && p < x->dims[i].n;
            at += inside ? from[i] * p : 0;
        }
        set(c, o->dtype, e, inside ? get(x, (int)at) : fill);
        for (int i = o->rank - 1; i >= 0 && ++pos[i] == o->dims[i].n; i--)
            pos[i] = 0;
    }
    if (c)
        keep(I, 0, c);
}

static void
scatter_nd_value(struct infer *I)
{
    const struct tensor *x = in(I, 0), *idx = in(I, 1), *u = in(I, 2);
    int64_t from[LIMIT_RANK];
    if (!x || !x->value || !idx || !idx->value || !idx->value->i || rank(idx) < 1 || !u || !strides(x, from) ||
        strcmp(node_str(I->n, "reduction", "none"), "none") != 0)
        return;
    int64_t depth = idx->dims[idx->rank - 1].n, rows = depth > 0 ? idx->value->n / depth : 0, tail = 1;
    if (depth < 1 || depth > x->rank)
        return;
    for (int i = (int)depth; i < x->rank; i++)
        tail *= x->dims[i].n;
    struct constant *c = constant_for(I, 0);
    if (!c || c->n != x->value->n || tensor_elements(u) != rows * tail)
        return;
    for (int e = 0; e < c->n; e++)
        set(c, out(I, 0)->dtype, e, get(x, e));
    for (int64_t r = 0; r < rows; r++) {
        int64_t at = 0;
        for (int i = 0; i < depth; i++) {
            int64_t j = index_of(idx, r * depth + i, x->dims[i].n);
            if (j < 0)
                return;
            at += from[i] * j;
        }
        for (int64_t t = 0; t < tail; t++)
            set(c, out(I, 0)->dtype, (int)(at + t), get(u, (int)(r * tail + t)));
    }
    keep(I, 0, c);
}

static void
scatter_elements_value(struct infer *I)
{
    const struct tensor *x = in(I, 0), *idx = in(I, 1), *u = in(I, 2);
    int64_t from[LIMIT_RANK], pos[LIMIT_RANK] = {0};
    int axis;
    if (!x || !x->value || !idx || !idx->value || !idx->value->i || !u || rank(idx) != rank(x) || !strides(x, from) ||
        !axis_in(node_int(I->n, "axis", 0), x->rank, &axis) || strcmp(node_str(I->n, "reduction", "none"), "none") != 0)
        return;
    struct constant *c = constant_for(I, 0);
    if (!c || c->n != x->value->n)
        return;
    for (int e = 0; e < c->n; e++)
        set(c, out(I, 0)->dtype, e, get(x, e));
    for (int e = 0; e < idx->value->n; e++) {
        int64_t j = index_of(idx, e, x->dims[axis].n), at = 0;
        if (j < 0)
            return;
        for (int i = 0; i < x->rank; i++)
            at += from[i] * (i == axis ? j : pos[i]);
        if (at >= c->n)
            return;
        set(c, out(I, 0)->dtype, (int)at, get(u, e));
        for (int i = x->rank - 1; i >= 0 && ++pos[i] == idx->dims[i].n; i--)
            pos[i] = 0;
    }
    keep(I, 0, c);
}

/* ---- values: reductions ----------------------------------------------------------------------------------------- */

/* Folds a step over the named axes; the mean is the sum divided by the count at the end. */
static void
reduce(struct infer *I, struct num (*step)(bool, struct num, struct num), struct num start, bool mean)
{
    const struct tensor *x = in(I, 0);
    struct tensor *o = out(I, 0);
    struct list axes = list_of(I, "axes", 1);
    bool named[LIMIT_RANK];
    int64_t from[LIMIT_RANK], pos[LIMIT_RANK] = {0};
    if (axes.given && axes.n == 0)
        axes.given = node_int(I->n, "noop_with_empty_axes", 0) != 0;
    if (!x || !x->value || !strides(x, from) || !axes_of(&axes, x->rank, named))
        return;
    struct constant *c = constant_for(I, 0);
    if (!c)
        return;
    int64_t each = c->n ? x->value->n / c->n : 0;
    struct num *acc = NEWN(I->g->arena, struct num, c->n + 1);
    bool *any = NEWN(I->g->arena, bool, c->n + 1);
    for (int e = 0; e < c->n; e++)
        acc[e] = start;
    for (int e = 0; e < x->value->n; e++) {
        int64_t at = 0;
        for (int i = 0; i < x->rank; i++)
            if (!named[i])
                at = at * x->dims[i].n + pos[i];
        if (at >= c->n)
            return;
        struct num v = get(x, e);
        acc[at] = !acc[at].known && any[at] ? UNKNOWN
                  : !v.known                ? UNKNOWN
                  : any[at] || start.known  ? step(c->f, acc[at], v)
                                            : v;
        any[at] = true;
        for (int i = x->rank - 1; i >= 0 && ++pos[i] == x->dims[i].n; i--)
            pos[i] = 0;
    }
    for (int e = 0; e < c->n; e++) {
        if (mean && acc[e].known && each)
            acc[e] = c->f ? from_float(acc[e].f / (double)each) : divide(acc[e].i, each);
        set(c, o->dtype, e, acc[e]);
    }
    keep(I, 0, c);
}

static struct num
add_step(bool is_float, struct num a, struct num b)
{
    return is_float ? from_float(a.f + b.f) : from_int(wrap_add(a.i, b.i));
}

static struct num
mul_step(bool is_float, struct num a, struct num b)
{
    return is_float ? from_float(a.f * b.f) : from_int(wrap_mul(a.i, b.i));
}

static struct num
max_step(bool is_float, struct num a, struct num b)
{
    return (is_float ? a.f > b.f : a.i > b.i) ? a : b;
}

static struct num
min_step(bool is_float, struct num a, struct num b)
{
    return (is_float ? a.f < b.f : a.i < b.i) ? a : b;
}

static void
reduce_sum_value(struct infer *I)
{
    reduce(I, add_step, from_int(0), false);
}

static void
reduce_mean_value(struct infer *I)
{
    reduce(I, add_step, from_int(0), true);
}

static void
reduce_prod_value(struct infer *I)
{
    reduce(I, mul_step, from_int(1), false);
}

static void
reduce_max_value(struct infer *I)
{
    reduce(I, max_step, UNKNOWN, false);
}

static void
reduce_min_value(struct infer *I)
{
    reduce(I, min_step, UNKNOWN, false);
}

static void
running(struct infer *I, struct num (*step)(bool, struct num, struct num), struct num start)
{
    const struct tensor *x = in(I, 0);
    int64_t axis, from[LIMIT_RANK];
    int at;
    if (!x || !x->value || !strides(x, from) || !int_of(I, NULL, 1, 0, &axis) || !axis_in(axis, x->rank, &at))
        return;
    struct constant *c = constant_for(I, 0);
    bool reverse = node_int(I->n, "reverse", 0) != 0, exclusive = node_int(I->n, "exclusive", 0) != 0;
    int64_t n = x->dims[at].n;
    if (!c || c->n != x->value->n)
        return;
    for (int e = 0; e < c->n; e++) {
        if (e / from[at] % n) /* each line is done from its first element */
            continue;
        struct num acc = start;
        for (int64_t k = 0; k < n; k++) {
            int64_t p = e + from[at] * (reverse ? n - 1 - k : k);
            struct num v = get(x, (int)p), next = acc.known && v.known ? step(c->f, acc, v) : UNKNOWN;
            set(c, out(I, 0)->dtype, (int)p, exclusive ? acc : next);
            acc = next;
        }
    }
    keep(I, 0, c);
}

static void
cum_sum_value(struct infer *I)
{
    running(I, add_step, from_int(0));
}

static void
cum_prod_value(struct infer *I)
{
    running(I, mul_step, from_int(1));
}

static void
nonzero_value(struct infer *I)
{
    const struct tensor *x = in(I, 0);
    int64_t pos[LIMIT_RANK] = {0};
    int to = 0;
    struct constant *c = x && x->value && rank(x) >= 1 ? constant_for(I, 0) : NULL;
    if (!c)
        return;
    int n = c->n / x->rank;
    for (int e = 0; e < x->value->n; e++) {
        if (number(x, e) != 0 && to < n) {
            for (int i = 0; i < x->rank; i++)
                set(c, DT_INT64, i * n + to, from_int(pos[i]));
            to++;
        }
        for (int i = x->rank - 1; i >= 0 && ++pos[i] == x->dims[i].n; i--)
            pos[i] = 0;
    }
    keep(I, 0, c);
}

static void
compress_value(struct infer *I)
{
    const struct tensor *x = in(I, 0), *mask = in(I, 1);
    struct constant *c = x && x->value && mask && mask->value && rank(x) == 1 ? constant_for(I, 0) : NULL;
    int to = 0;
    for (int e = 0; c && e < x->value->n && e < mask->value->n; e++)
        if (number(mask, e) != 0 && to < c->n)
            set(c, out(I, 0)->dtype, to++, get(x, e));
    if (c)
        keep(I, 0, c);
}

static void
sequence_length_value(struct infer *I)
{
    const struct tensor *s = in(I, 0);
    struct constant *c = s && s->seq ? constant_for(I, 0) : NULL;
    if (!c)
        return;
    set(c, DT_INT64, 0, from_int(s->seq->n));
    keep(I, 0, c);
}

static void
sequence_at_value(struct infer *I)
{
    const struct tensor *s = in(I, 0);
    int at = s && s->seq ? position(I, 1, s->seq->n, 0) : -1;
    if (at >= 0 && at < s->seq->n && out(I, 0))
        out(I, 0)->value = s->seq->elem[at]->value;
}

static void
optional_has_value(struct infer *I)
{
    const struct tensor *x = in(I, 0);
    struct constant *c = !x || *x->wrap != 'o' ? constant_for(I, 0) : NULL;
    if (!c)
        return;
    set(c, DT_BOOL, 0, from_int(x != NULL));
    keep(I, 0, c);
}

/* ---- the table -------------------------------------------------------------------------------------------------- */

/* domain, name, since, until, shape, value, framework operator; sorted by domain, name, version. */
static const struct op ops[] = {
    {"", "Abs", 1, 0, same_rule, abs_value, "aten.abs.default"},
    {"", "Acos", 1, 0, same_rule, NULL, "aten.acos.default"},
    {"", "Acosh", 1, 0, same_rule, NULL, "aten.acosh.default"},
    {"", "Add", 1, 6, same_rule, NULL, "aten.add.Tensor"},
    {"", "Add", 7, 0, broadcast_rule, add_value, "aten.add.Tensor"},
    {"", "AffineGrid", 1, 0, affine_grid_rule, NULL, "aten.affine_grid_generator.default"},
    {"", "And", 1, 6, bool_rule, NULL, "aten.logical_and.default"},
    {"", "And", 7, 0, compare_rule, and_value, "aten.logical_and.default"},
    {"", "ArgMax", 1, 0, arg_rule, NULL, "aten.argmax.default"},
    {"", "ArgMin", 1, 0, arg_rule, NULL, "aten.argmin.default"},
    {"", "Asin", 1, 0, same_rule, NULL, "aten.asin.default"},
    {"", "Asinh", 1, 0, same_rule, NULL, "aten.asinh.default"},
    {"", "Atan", 1, 0, same_rule, NULL, "aten.atan.default"},
    {"", "Atanh", 1, 0, same_rule, NULL, "aten.atanh.default"},
    {"", "Attention", 1, 0, attention_rule, NULL, "aten.scaled_dot_product_attention.default"},
    {"", "AveragePool", 1, 0, pool_rule, NULL, "aten.avg_pool2d.default"},
    {"", "BatchNormalization", 1, 0, batch_norm_rule, NULL, "aten.batch_norm.default"},
    {"", "Bernoulli", 1, 0, typed_like_rule, NULL, "aten.bernoulli.default"},
    {"", "BitCast", 1, 0, cast_rule, NULL, NULL},
    {"", "BitShift", 1, 0, broadcast_rule, shift_value, NULL},
    {"", "BitwiseAnd", 1, 0, broadcast_rule, bit_and_value, "aten.bitwise_and.Tensor"},
    {"", "BitwiseNot", 1, 0, same_rule, bit_not_value, "aten.bitwise_not.default"},
    {"", "BitwiseOr", 1, 0, broadcast_rule, bit_or_value, "aten.bitwise_or.Tensor"},
    {"", "BitwiseXor", 1, 0, broadcast_rule, bit_xor_value, "aten.bitwise_xor.Tensor"},
    {"", "BlackmanWindow", 1, 0, window_function_rule, NULL, NULL},
    {"", "Cast", 1, 0, cast_rule, cast_value, "aten._to_copy.default"},
    {"", "CastLike", 1, 0, cast_like_rule, cast_value, "aten._to_copy.default"},
    {"", "CausalConvWithState", 1, 0, causal_conv_rule, NULL, NULL},
    {"", "Ceil", 1, 0, same_rule, ceil_value, "aten.ceil.default"},
    {"", "Celu", 1, 0, same_rule, NULL, "aten.celu.default"},
    {"", "CenterCropPad", 1, 0, center_crop_rule, NULL, NULL},
    {"", "Clip", 1, 0, same_rule, clip_value, "aten.clamp.default"},
    {"", "Col2Im", 1, 0, col2im_rule, NULL, "aten.col2im.default"},
    {"", "Compress", 1, 0, compress_rule, compress_value, NULL},
    {"", "Concat", 1, 0, concat_rule, concat_value, "aten.cat.default"},
    {"", "ConcatFromSequence", 1, 0, concat_from_sequence_rule, NULL, NULL},
    {"", "Constant", 1, 0, constant_rule, constant_value, NULL},
    {"", "ConstantOfShape", 1, 0, constant_of_shape_rule, constant_of_shape_value, "aten.full.default"},
    {"", "Conv", 1, 0, conv_rule, NULL, "aten.convolution.default"},
    {"", "ConvInteger", 1, 0, conv_integer_rule, NULL, NULL},
    {"", "ConvTranspose", 1, 0, conv_transpose_rule, NULL, "aten.convolution.default"},
    {"", "Cos", 1, 0, same_rule, NULL, "aten.cos.default"},
    {"", "Cosh", 1, 0, same_rule, NULL, "aten.cosh.default"},
    {"", "CumProd", 1, 0, same_rule, cum_prod_value, "aten.cumprod.default"},
    {"", "CumSum", 1, 0, same_rule, cum_sum_value, "aten.cumsum.default"},
    {"", "DeformConv", 1, 0, conv_rule, NULL, NULL},
    {"", "DepthToSpace", 1, 0, depth_to_space_rule, NULL, "aten.pixel_shuffle.default"},
    {"", "DequantizeLinear", 1, 0, dequantize_rule, NULL, NULL},
    {"", "Det", 1, 0, det_rule, NULL, "aten.linalg_det.default"},
    {"", "DFT", 1, 0, dft_rule, NULL, NULL},
    {"", "Div", 1, 6, same_rule, NULL, "aten.div.Tensor"},
    {"", "Div", 7, 0, broadcast_rule, div_value, "aten.div.Tensor"},
    {"", "Dropout", 1, 0, dropout_rule, NULL, "aten.native_dropout.default"},
    {"", "DynamicQuantizeLinear", 1, 0, dynamic_quantize_rule, NULL, NULL},
    {"", "Einsum", 1, 0, einsum_rule, NULL, "aten.einsum.default"},
    {"", "Elu", 1, 0, same_rule, NULL, "aten.elu.default"},
    {"", "Equal", 1, 6, bool_rule, NULL, "aten.eq.Tensor"},
    {"", "Equal", 7, 0, compare_rule, equal_value, "aten.eq.Tensor"},
    {"", "Erf", 1, 0, same_rule, NULL, "aten.erf.default"},
    {"", "Exp", 1, 0, same_rule, exp_value, "aten.exp.default"},
    {"", "Expand", 1, 0, expand_rule, expand_value, "aten.expand.default"},
    {"", "EyeLike", 1, 0, typed_like_rule, NULL, NULL},
    {"", "Flatten", 1, 0, flatten_rule, copy_value, "aten.flatten.using_ints"},
    {"", "Floor", 1, 0, same_rule, floor_value, "aten.floor.default"},
    {"", "Gather", 1, 0, gather_rule, gather_value, "aten.index_select.default"},
    {"", "GatherElements", 1, 0, gather_elements_rule, gather_elements_value, "aten.gather.default"},
    {"", "GatherND", 1, 0, gather_nd_rule, gather_nd_value, NULL},
    {"", "Gelu", 1, 0, same_rule, NULL, "aten.gelu.default"},
    {"", "Gemm", 1, 0, gemm_rule, NULL, NULL},
    {"", "GlobalAveragePool", 1, 0, global_pool_rule, NULL, "aten.adaptive_avg_pool2d.default"},
    {"", "GlobalLpPool", 1, 0, global_pool_rule, NULL, NULL},
    {"", "GlobalMaxPool", 1, 0, global_pool_rule, NULL, "aten.adaptive_max_pool2d.default"},
    {"", "Greater", 1, 6, bool_rule, NULL, "aten.gt.Tensor"},
    {"", "Greater", 7, 0, compare_rule, greater_value, "aten.gt.Tensor"},
    {"", "GreaterOrEqual", 1, 0, compare_rule, greater_equal_value, "aten.ge.Tensor"},
    {"", "GridSample", 1, 0, grid_sample_rule, NULL, "aten.grid_sampler.default"},
    {"", "GroupNormalization", 1, 0, same_rule, NULL, "aten.group_norm.default"},
    {"", "GRU", 1, 0, rnn_rule, NULL, "aten.gru.input"},
    {"", "HammingWindow", 1, 0, window_function_rule, NULL, NULL},
    {"", "HannWindow", 1, 0, window_function_rule, NULL, NULL},
    {"", "Hardmax", 1, 0, same_rule, NULL, NULL},
    {"", "HardSigmoid", 1, 0, same_rule, NULL, "aten.hardsigmoid.default"},
    {"", "HardSwish", 1, 0, same_rule, NULL, "aten.hardswish.default"},
    {"", "Identity", 1, 0, whole_rule, copy_value, NULL},
    {"", "If", 1, 0, if_rule, NULL, NULL},
    {"", "ImageDecoder", 1, 0, image_rule, NULL, NULL},
    {"", "InstanceNormalization", 1, 0, same_rule, NULL, "aten.instance_norm.default"},
    {"", "IsInf", 1, 0, bool_rule, NULL, "aten.isinf.default"},
    {"", "IsNaN", 1, 0, bool_rule, is_nan_value, "aten.isnan.default"},
    {"", "LayerNormalization", 1, 0, layer_norm_rule, NULL, "aten.layer_norm.default"},
    {"", "LeakyRelu", 1, 0, same_rule, NULL, "aten.leaky_relu.default"},
    {"", "Less", 1, 6, bool_rule, NULL, "aten.lt.Tensor"},
    {"", "Less", 7, 0, compare_rule, less_value, "aten.lt.Tensor"},
    {"", "LessOrEqual", 1, 0, compare_rule, less_equal_value, "aten.le.Tensor"},
    {"", "LinearAttention", 1, 0, linear_attention_rule, NULL, NULL},
    {"", "Log", 1, 0, same_rule, log_value, "aten.log.default"},
    {"", "LogSoftmax", 1, 0, same_rule, NULL, "aten.log_softmax.int"},
    {"", "Loop", 1, 0, loop_rule, NULL, NULL},
    {"", "LpNormalization", 1, 0, same_rule, NULL, NULL},
    {"", "LpPool", 1, 0, pool_rule, NULL, NULL},
    {"", "LRN", 1, 0, same_rule, NULL, NULL},
    {"", "LSTM", 1, 0, rnn_rule, NULL, "aten.lstm.input"},
    {"", "MatMul", 1, 0, matmul_rule, NULL, "aten.matmul.default"},
    {"", "MatMulInteger", 1, 0, matmul_integer_rule, NULL, NULL},
    {"", "Max", 1, 0, broadcast_rule, max_value, "aten.maximum.default"},
    {"", "MaxPool", 1, 0, pool_rule, NULL, "aten.max_pool2d_with_indices.default"},
    {"", "MaxRoiPool", 1, 0, max_roi_pool_rule, NULL, NULL},
    {"", "MaxUnpool", 1, 0, max_unpool_rule, NULL, NULL},
    {"", "Mean", 1, 0, broadcast_rule, NULL, NULL},
    {"", "MeanVarianceNormalization", 1, 0, same_rule, NULL, NULL},
    {"", "MelWeightMatrix", 1, 0, mel_rule, NULL, NULL},
    {"", "Min", 1, 0, broadcast_rule, min_value, "aten.minimum.default"},
    {"", "Mish", 1, 0, same_rule, NULL, "aten.mish.default"},
    {"", "Mod", 1, 0, broadcast_rule, mod_value, "aten.remainder.Tensor"},
    {"", "Mul", 1, 6, same_rule, NULL, "aten.mul.Tensor"},
    {"", "Mul", 7, 0, broadcast_rule, mul_value, "aten.mul.Tensor"},
    {"", "Multinomial", 1, 0, multinomial_rule, NULL, "aten.multinomial.default"},
    {"", "Neg", 1, 0, same_rule, neg_value, "aten.neg.default"},
    {"", "NegativeLogLikelihoodLoss", 1, 0, loss_rule, NULL, "aten.nll_loss.default"},
    {"", "NonMaxSuppression", 1, 0, nms_rule, NULL, NULL},
    {"", "NonZero", 1, 0, nonzero_rule, nonzero_value, "aten.nonzero.default"},
    {"", "Not", 1, 0, same_rule, not_value, "aten.logical_not.default"},
    {"", "OneHot", 1, 0, one_hot_rule, NULL, "aten.one_hot.default"},
    {"", "Optional", 1, 0, optional_rule, NULL, NULL},
    {"", "OptionalGetElement", 1, 0, optional_get_rule, copy_value, NULL},
    {"", "OptionalHasElement", 1, 0, optional_has_rule, optional_has_value, NULL},
    {"", "Or", 1, 6, bool_rule, NULL, "aten.logical_or.default"},
    {"", "Or", 7, 0, compare_rule, or_value, "aten.logical_or.default"},
    {"", "Pad", 1, 0, pad_rule, pad_value, "aten.constant_pad_nd.default"},
    {"", "Pow", 1, 6, same_rule, NULL, "aten.pow.Tensor_Tensor"},
    {"", "Pow", 7, 0, broadcast_rule, pow_value, "aten.pow.Tensor_Tensor"},
    {"", "PRelu", 1, 0, same_rule, NULL, "aten.prelu.default"},
    {"", "QLinearConv", 1, 0, qlinear_conv_rule, NULL, NULL},
    {"", "QLinearMatMul", 1, 0, qlinear_matmul_rule, NULL, NULL},
    {"", "QuantizeLinear", 1, 0, quantize_rule, NULL, NULL},
    {"", "RandomNormal", 1, 0, random_rule, NULL, "aten.randn.default"},
    {"", "RandomNormalLike", 1, 0, typed_like_rule, NULL, "aten.randn_like.default"},
    {"", "RandomUniform", 1, 0, random_rule, NULL, "aten.rand.default"},
    {"", "RandomUniformLike", 1, 0, typed_like_rule, NULL, "aten.rand_like.default"},
    {"", "Range", 1, 0, range_rule, range_value, "aten.arange.start_step"},
    {"", "Reciprocal", 1, 0, same_rule, reciprocal_value, "aten.reciprocal.default"},
    {"", "ReduceL1", 1, 0, reduce_rule, NULL, NULL},
    {"", "ReduceL2", 1, 0, reduce_rule, NULL, NULL},
    {"", "ReduceLogSum", 1, 0, reduce_rule, NULL, NULL},
    {"", "ReduceLogSumExp", 1, 0, reduce_rule, NULL, "aten.logsumexp.default"},
    {"", "ReduceMax", 1, 0, reduce_rule, reduce_max_value, "aten.amax.default"},
    {"", "ReduceMean", 1, 0, reduce_rule, reduce_mean_value, "aten.mean.dim"},
    {"", "ReduceMin", 1, 0, reduce_rule, reduce_min_value, "aten.amin.default"},
    {"", "ReduceProd", 1, 0, reduce_rule, reduce_prod_value, "aten.prod.dim_int"},
    {"", "ReduceSum", 1, 0, reduce_rule, reduce_sum_value, "aten.sum.dim_IntList"},
    {"", "ReduceSumSquare", 1, 0, reduce_rule, NULL, NULL},
    {"", "RegexFullMatch", 1, 0, bool_rule, NULL, NULL},
    {"", "Relu", 1, 0, same_rule, relu_value, "aten.relu.default"},
    {"", "Reshape", 1, 0, reshape_rule, copy_value, "aten.reshape.default"},
    {"", "Resize", 1, 0, resize_rule, NULL, NULL},
    {"", "ReverseSequence", 1, 0, same_rule, NULL, NULL},
    {"", "RMSNormalization", 1, 0, layer_norm_rule, NULL, "aten.rms_norm.default"},
    {"", "RNN", 1, 0, rnn_rule, NULL, "aten.rnn_tanh.input"},
    {"", "RoiAlign", 1, 0, roi_align_rule, NULL, NULL},
    {"", "RotaryEmbedding", 1, 0, same_rule, NULL, NULL},
    {"", "Round", 1, 0, same_rule, round_value, "aten.round.default"},
    {"", "Scan", 1, 0, scan_rule, NULL, NULL},
    {"", "Scatter", 1, 0, same_rule, scatter_elements_value, "aten.scatter.src"},
    {"", "ScatterElements", 1, 0, same_rule, scatter_elements_value, "aten.scatter.src"},
    {"", "ScatterND", 1, 0, same_rule, scatter_nd_value, NULL},
    {"", "Selu", 1, 0, same_rule, NULL, "aten.selu.default"},
    {"", "SequenceAt", 1, 0, sequence_at_rule, sequence_at_value, NULL},
    {"", "SequenceConstruct", 1, 0, sequence_construct_rule, NULL, NULL},
    {"", "SequenceEmpty", 1, 0, sequence_empty_rule, NULL, NULL},
    {"", "SequenceErase", 1, 0, sequence_erase_rule, NULL, NULL},
    {"", "SequenceInsert", 1, 0, sequence_insert_rule, NULL, NULL},
    {"", "SequenceLength", 1, 0, sequence_length_rule, sequence_length_value, NULL},
    {"", "SequenceMap", 1, 0, sequence_map_rule, NULL, NULL},
    {"", "Shape", 1, 0, shape_rule, shape_value, NULL},
    {"", "Shrink", 1, 0, same_rule, NULL, "aten.hardshrink.default"},
    {"", "Sigmoid", 1, 0, same_rule, NULL, "aten.sigmoid.default"},
    {"", "Sign", 1, 0, same_rule, sign_value, "aten.sign.default"},
    {"", "SimplifiedLayerNormalization", 1, 0, layer_norm_rule, NULL, NULL},
    {"", "Sin", 1, 0, same_rule, NULL, "aten.sin.default"},
    {"", "Sinh", 1, 0, same_rule, NULL, "aten.sinh.default"},
    {"", "Size", 1, 0, size_rule, size_value, NULL},
    {"", "Slice", 1, 0, slice_rule, slice_value, "aten.slice.Tensor"},
    {"", "Softmax", 1, 0, same_rule, NULL, "aten.softmax.int"},
    {"", "SoftmaxCrossEntropyLoss", 1, 0, loss_rule, NULL, "aten.cross_entropy_loss.default"},
    {"", "Softplus", 1, 0, same_rule, NULL, "aten.softplus.default"},
    {"", "Softsign", 1, 0, same_rule, NULL, NULL},
    {"", "SpaceToDepth", 1, 0, space_to_depth_rule, NULL, "aten.pixel_unshuffle.default"},
    {"", "Split", 1, 0, split_rule, split_value, "aten.split_with_sizes.default"},
    {"", "SplitToSequence", 1, 0, split_to_sequence_rule, NULL, NULL},
    {"", "Sqrt", 1, 0, same_rule, sqrt_value, "aten.sqrt.default"},
    {"", "Squeeze", 1, 0, squeeze_rule, copy_value, "aten.squeeze.dims"},
    {"", "STFT", 1, 0, stft_rule, NULL, NULL},
    {"", "StringConcat", 1, 0, broadcast_rule, NULL, NULL},
    {"", "StringNormalizer", 1, 0, string_normalizer_rule, NULL, NULL},
    {"", "StringSplit", 1, 0, string_split_rule, NULL, NULL},
    {"", "Sub", 1, 6, same_rule, NULL, "aten.sub.Tensor"},
    {"", "Sub", 7, 0, broadcast_rule, sub_value, "aten.sub.Tensor"},
    {"", "Sum", 1, 0, broadcast_rule, add_value, NULL},
    {"", "SwiGLU", 1, 0, same_rule, NULL, NULL},
    {"", "Swish", 1, 0, same_rule, NULL, "aten.silu.default"},
    {"", "Tan", 1, 0, same_rule, NULL, "aten.tan.default"},
    {"", "Tanh", 1, 0, same_rule, NULL, "aten.tanh.default"},
    {"", "TensorScatter", 1, 0, same_rule, NULL, NULL},
    {"", "TfIdfVectorizer", 1, 0, tfidf_rule, NULL, NULL},
    {"", "ThresholdedRelu", 1, 0, same_rule, NULL, "aten.threshold.default"},
    {"", "Tile", 1, 0, tile_rule, tile_value, "aten.repeat.default"},
    {"", "TopK", 1, 0, top_k_rule, NULL, "aten.topk.default"},
    {"", "Transpose", 1, 0, transpose_rule, transpose_value, "aten.permute.default"},
    {"", "Trilu", 1, 0, same_rule, NULL, NULL},
    {"", "Unique", 1, 0, unique_rule, NULL, "aten._unique2.default"},
    {"", "Unsqueeze", 1, 0, unsqueeze_rule, copy_value, "aten.unsqueeze.default"},
    {"", "Upsample", 1, 0, upsample_rule, NULL, NULL},
    {"", "Where", 1, 0, where_rule, where_value, "aten.where.self"},
    {"", "Xor", 1, 6, bool_rule, NULL, "aten.logical_xor.default"},
    {"", "Xor", 7, 0, compare_rule, xor_value, "aten.logical_xor.default"},
    {"ai.onnx.ml", "ArrayFeatureExtractor", 1, 0, array_feature_rule, NULL, NULL},
    {"ai.onnx.ml", "Binarizer", 1, 0, same_rule, NULL, NULL},
    {"ai.onnx.ml", "CastMap", 1, 0, NULL, NULL, NULL},
    {"ai.onnx.ml", "CategoryMapper", 1, 0, category_rule, NULL, NULL},
    {"ai.onnx.ml", "DictVectorizer", 1, 0, NULL, NULL, NULL},
    {"ai.onnx.ml", "FeatureVectorizer", 1, 0, feature_vectorizer_rule, NULL, NULL},
    {"ai.onnx.ml", "Imputer", 1, 0, same_rule, NULL, NULL},
    {"ai.onnx.ml", "LabelEncoder", 1, 0, label_encoder_rule, NULL, NULL},
    {"ai.onnx.ml", "LinearClassifier", 1, 0, classifier_rule, NULL, NULL},
    {"ai.onnx.ml", "LinearRegressor", 1, 0, regressor_rule, NULL, NULL},
    {"ai.onnx.ml", "Normalizer", 1, 0, float_like_rule, NULL, NULL},
    {"ai.onnx.ml", "OneHotEncoder", 1, 0, one_hot_encoder_rule, NULL, NULL},
    {"ai.onnx.ml", "Scaler", 1, 0, float_like_rule, NULL, NULL},
    {"ai.onnx.ml", "SVMClassifier", 1, 0, classifier_rule, NULL, NULL},
    {"ai.onnx.ml", "SVMRegressor", 1, 0, regressor_rule, NULL, NULL},
    {"ai.onnx.ml", "TreeEnsemble", 1, 0, regressor_rule, NULL, NULL},
    {"ai.onnx.ml", "TreeEnsembleClassifier", 1, 0, classifier_rule, NULL, NULL},
    {"ai.onnx.ml", "TreeEnsembleRegressor", 1, 0, regressor_rule, NULL, NULL},
    {"ai.onnx.ml", "ZipMap", 1, 0, zip_map_rule, NULL, NULL},
    {"ai.onnx.preview", "FlexAttention", 1, 0, flex_attention_rule, NULL, NULL},
    {"ai.onnx.preview.training", "Adagrad", 1, 0, optimizer_rule, NULL, NULL},
    {"ai.onnx.preview.training", "Adam", 1, 0, optimizer_rule, NULL, NULL},
    {"ai.onnx.preview.training", "Gradient", 1, 0, gradient_rule, NULL, NULL},
    {"ai.onnx.preview.training", "Momentum", 1, 0, optimizer_rule, NULL, NULL},
    {"com.microsoft", "Attention", 1, 0, ms_attention_rule, NULL, NULL},
    {"com.microsoft", "AttnLSTM", 1, 0, NULL, NULL, NULL},
    {"com.microsoft", "BeamSearch", 1, 0, NULL, NULL, NULL},
    {"com.microsoft", "BiasAdd", 1, 0, same_rule, NULL, NULL},
    {"com.microsoft", "BiasDropout", 1, 0, dropout_rule, NULL, NULL},
    {"com.microsoft", "BiasGelu", 1, 0, same_rule, NULL, NULL},
    {"com.microsoft", "BiasSoftmax", 1, 0, same_rule, NULL, NULL},
    {"com.microsoft", "BiasSplitGelu", 1, 0, half_width_rule, NULL, NULL},
    {"com.microsoft", "BitmaskBiasDropout", 1, 0, dropout_rule, NULL, NULL},
    {"com.microsoft", "BitmaskDropout", 1, 0, dropout_rule, NULL, NULL},
    {"com.microsoft", "CausalConvWithState", 1, 0, causal_conv_rule, NULL, NULL},
    {"com.microsoft", "CDist", 1, 0, cdist_rule, NULL, NULL},
    {"com.microsoft", "ComplexMul", 1, 0, same_rule, NULL, NULL},
    {"com.microsoft", "ComplexMulConj", 1, 0, same_rule, NULL, NULL},
    {"com.microsoft", "CropAndResize", 1, 0, NULL, NULL, NULL},
    {"com.microsoft", "DecoderMaskedMultiHeadAttention", 1, 0, multi_head_rule, NULL, NULL},
    {"com.microsoft", "DecoderMaskedSelfAttention", 1, 0, NULL, NULL, NULL},
    {"com.microsoft", "DequantizeLinear", 1, 0, dequantize_rule, NULL, NULL},
    {"com.microsoft", "DynamicQuantizeLSTM", 1, 0, dynamic_lstm_rule, NULL, NULL},
    {"com.microsoft", "DynamicQuantizeMatMul", 1, 0, matmul_to_float_rule, NULL, NULL},
    {"com.microsoft", "EmbedLayerNormalization", 1, 0, embed_norm_rule, NULL, NULL},
    {"com.microsoft", "EPContext", 1, 0, NULL, NULL, NULL},
    {"com.microsoft", "FastGelu", 1, 0, same_rule, NULL, "aten.gelu.default"},
    {"com.microsoft", "FusedConv", 1, 0, conv_rule, NULL, NULL},
    {"com.microsoft", "FusedGemm", 1, 0, gemm_rule, NULL, NULL},
    {"com.microsoft", "FusedMatMul", 1, 0, matmul_rule, NULL, NULL},
    {"com.microsoft", "FusedMatMulActivation", 1, 0, matmul_rule, NULL, NULL},
    {"com.microsoft", "GatedAdd", 1, 0, broadcast_rule, NULL, NULL},
    {"com.microsoft", "GatedRelativePositionBias", 1, 0, NULL, NULL, NULL},
    {"com.microsoft", "GatedRMSNorm", 1, 0, same_rule, NULL, NULL},
    {"com.microsoft", "GatherBlockQuantized", 1, 0, gather_blocks_rule, NULL, NULL},
    {"com.microsoft", "GatherND", 1, 0, gather_nd_rule, NULL, NULL},
    {"com.microsoft", "Gelu", 1, 0, same_rule, NULL, "aten.gelu.default"},
    {"com.microsoft", "GemmaRotaryEmbedding", 1, 0, same_rule, NULL, NULL},
    {"com.microsoft", "GemmFastGelu", 1, 0, matmul_rule, NULL, NULL},
    {"com.microsoft", "GreedySearch", 1, 0, NULL, NULL, NULL},
    {"com.microsoft", "GridSample", 1, 0, grid_sample_rule, NULL, NULL},
    {"com.microsoft", "GroupNorm", 1, 0, same_rule, NULL, NULL},
    {"com.microsoft", "GroupQueryAttention", 1, 0, grouped_query_rule, NULL, NULL},
    {"com.microsoft", "Inverse", 1, 0, same_rule, NULL, NULL},
    {"com.microsoft", "Irfft", 1, 0, NULL, NULL, NULL},
    {"com.microsoft", "IsAllFinite", 1, 0, all_finite_rule, NULL, NULL},
    {"com.microsoft", "LinearAttention", 1, 0, linear_attention_rule, NULL, NULL},
    {"com.microsoft", "LinearAttentionGate", 1, 0, same_rule, NULL, NULL},
    {"com.microsoft", "LongformerAttention", 1, 0, same_rule, NULL, NULL},
    {"com.microsoft", "MatMulBnb4", 1, 0, matmul_nbits_rule, NULL, NULL},
    {"com.microsoft", "MatMulFpQ4", 1, 0, matmul_nbits_rule, NULL, NULL},
    {"com.microsoft", "MatMulInteger16", 1, 0, matmul_integer_rule, NULL, NULL},
    {"com.microsoft", "MatMulIntegerToFloat", 1, 0, matmul_to_float_rule, NULL, NULL},
    {"com.microsoft", "MatMulNBits", 1, 0, matmul_nbits_rule, NULL, NULL},
    {"com.microsoft", "MoE", 1, 0, same_rule, NULL, NULL},
    {"com.microsoft", "MRotaryEmbedding", 1, 0, same_rule, NULL, NULL},
    {"com.microsoft", "MultiHeadAttention", 1, 0, multi_head_rule, NULL, NULL},
    {"com.microsoft", "MurmurHash3", 1, 0, same_rule, NULL, NULL},
    {"com.microsoft", "NGramRepeatBlock", 1, 0, same_rule, NULL, NULL},
    {"com.microsoft", "NhwcConv", 1, 0, NULL, NULL, NULL},
    {"com.microsoft", "NhwcFusedConv", 1, 0, NULL, NULL, NULL},
    {"com.microsoft", "NhwcMaxPool", 1, 0, NULL, NULL, NULL},
    {"com.microsoft", "PackedAttention", 1, 0, NULL, NULL, NULL},
    {"com.microsoft", "PackedMultiHeadAttention", 1, 0, NULL, NULL, NULL},
    {"com.microsoft", "Pad", 1, 0, pad_rule, NULL, NULL},
    {"com.microsoft", "PagedAttention", 1, 0, same_rule, NULL, NULL},
    {"com.microsoft", "QAttention", 1, 0, NULL, NULL, NULL},
    {"com.microsoft", "QEmbedLayerNormalization", 1, 0, NULL, NULL, NULL},
    {"com.microsoft", "QGemm", 1, 0, qgemm_rule, NULL, NULL},
    {"com.microsoft", "QLinearAdd", 1, 0, qlinear_binary_rule, NULL, NULL},
    {"com.microsoft", "QLinearAveragePool", 1, 0, pool_rule, NULL, NULL},
    {"com.microsoft", "QLinearConcat", 1, 0, qlinear_concat_rule, NULL, NULL},
    {"com.microsoft", "QLinearConv", 1, 0, qlinear_conv_rule, NULL, NULL},
    {"com.microsoft", "QLinearGlobalAveragePool", 1, 0, qglobal_pool_rule, NULL, NULL},
    {"com.microsoft", "QLinearLeakyRelu", 1, 0, same_rule, NULL, NULL},
    {"com.microsoft", "QLinearMul", 1, 0, qlinear_binary_rule, NULL, NULL},
    {"com.microsoft", "QLinearSigmoid", 1, 0, same_rule, NULL, NULL},
    {"com.microsoft", "QLinearSoftmax", 1, 0, same_rule, NULL, NULL},
    {"com.microsoft", "QLinearWhere", 1, 0, NULL, NULL, NULL},
    {"com.microsoft", "QMoE", 1, 0, same_rule, NULL, NULL},
    {"com.microsoft", "QOrderedGelu", 1, 0, same_rule, NULL, NULL},
    {"com.microsoft", "QOrderedLayerNormalization", 1, 0, same_rule, NULL, NULL},
    {"com.microsoft", "QuantizeLinear", 1, 0, quantize_rule, NULL, NULL},
    {"com.microsoft", "QuickGelu", 1, 0, same_rule, NULL, NULL},
    {"com.microsoft", "Range", 1, 0, range_rule, range_value, NULL},
    {"com.microsoft", "RelativePositionBias", 1, 0, position_bias_rule, NULL, NULL},
    {"com.microsoft", "RemovePadding", 1, 0, NULL, NULL, NULL},
    {"com.microsoft", "RestorePadding", 1, 0, NULL, NULL, NULL},
    {"com.microsoft", "Rfft", 1, 0, NULL, NULL, NULL},
    {"com.microsoft", "RotaryEmbedding", 1, 0, same_rule, NULL, NULL},
    {"com.microsoft", "Sampling", 1, 0, NULL, NULL, NULL},
    {"com.microsoft", "SkipGroupNorm", 1, 0, same_rule, NULL, NULL},
    {"com.microsoft", "SkipLayerNormalization", 1, 0, skip_norm_rule, NULL, NULL},
    {"com.microsoft", "SkipSimplifiedLayerNormalization", 1, 0, skip_norm_rule, NULL, NULL},
    {"com.microsoft", "Snpe", 1, 0, NULL, NULL, NULL},
    {"com.microsoft", "SparseAttention", 1, 0, grouped_query_rule, NULL, NULL},
    {"com.microsoft", "SparseToDenseMatMul", 1, 0, matmul_rule, NULL, NULL},
    {"com.microsoft", "Tokenizer", 1, 0, NULL, NULL, NULL},
    {"com.microsoft", "TorchEmbedding", 1, 0, NULL, NULL, NULL},
    {"com.microsoft", "TransposeMatMul", 1, 0, matmul_rule, NULL, NULL},
    {"com.microsoft", "Trilu", 1, 0, same_rule, NULL, NULL},
    {"com.microsoft", "Unique", 1, 0, unique_rule, NULL, NULL},
    {"com.microsoft", "WhisperBeamSearch", 1, 0, NULL, NULL, NULL},
};

static int
by_name(const void *a, const void *b)
{
    const struct op *x = *(const struct op *const *)a, *y = *(const struct op *const *)b;
    int c = strcmp(x->name, y->name);
    c = c ? c : strcmp(x->domain, y->domain);
    return c ? c : (x->since > y->since) - (x->since < y->since);
}

/* The last row that began by that opset, else the first one: a wrong opset number loses little. */
const struct op *
op_find(const char *domain, const char *name, int opset)
{
    static const struct op *sorted[COUNT(ops)];
    if (!sorted[0]) {
        for (int i = 0; i < COUNT(ops); i++)
            sorted[i] = &ops[i];
        qsort(sorted, COUNT(ops), sizeof(sorted[0]), by_name);
    }
    const struct op wanted = {.domain = domain, .name = name, .since = 0}, *key = &wanted, *row = NULL;
    int low = 0, high = COUNT(ops);
    while (low < high) {
        int mid = (low + high) / 2;
        if (by_name(&sorted[mid], &key) < 0)
            low = mid + 1;
        else
            high = mid;
    }
    for (; low < COUNT(ops) && !strcmp(sorted[low]->name, name) && !strcmp(sorted[low]->domain, domain); low++)
        if (!row || sorted[low]->since <= opset)
            row = sorted[low];
    return row;
}

void
op_list(FILE *out)
{
    for (int i = 0; i < COUNT(ops); i++) {
        const struct op *o = &ops[i];
        fprintf(out, "%s\t%s\t%d-", *o->domain ? o->domain : "ai.onnx", o->name, o->since);
        if (o->until)
            fprintf(out, "%d", o->until);
        fprintf(out, "\t%s\t%s\t%s\n", o->shape ? "shape" : "-", o->value ? "value" : "-", o->aten ? o->aten : "-");
    }
}
