/* SPDX-License-Identifier: Apache-2.0 */
/* infer.c - shape rules: elementwise, reductions, windows and matrices.
 *
 * Binary operators broadcast; before opset 7 the first input decides. Windows read strides, dilations, pads and kernel
 * into one struct, which convolution, pooling and their inverses share.
 */
#include "graph/infer.h"

/* ---- elementwise ------------------------------------------------------------------------------------------------- */

void
infer_agree(struct infer *I, int64_t a, int64_t b)
{
    if (a >= 0 && b >= 0 && a != b)
        I->why = arena_printf(I->g->arena, "%lld and %lld have to be equal: the file has a size of other inputs in it",
                              (long long)a, (long long)b);
}

void
infer_same(struct infer *I)
{
    same(I, 0, in(I, 0));
}

void
infer_whole(struct infer *I)
{
    whole_as(I, 0, in(I, 0));
}

void
infer_bool(struct infer *I)
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

void
infer_broadcast(struct infer *I)
{
    broadcast_shape(I, 0, I->nin);
    for (int k = I->nin - 1; k >= 0; k--)
        set_type(I, 0, type(in(I, k)));
}

void
infer_compare(struct infer *I)
{
    broadcast_shape(I, 0, I->nin);
    set_type(I, 0, DT_BOOL);
}

void
infer_where(struct infer *I)
{
    broadcast_shape(I, 0, 3);
    set_type(I, 0, type(in(I, 2)));
    set_type(I, 0, type(in(I, 1)));
}

void
infer_cast(struct infer *I)
{
    shape_as(I, 0, in(I, 0));
    set_type(I, 0, type_attr(I, "to", DT_UNDEFINED));
}

void
infer_cast_like(struct infer *I)
{
    shape_as(I, 0, in(I, 0));
    set_type(I, 0, type(in(I, 1)));
}

void
infer_typed_like(struct infer *I) /* EyeLike, Bernoulli, Random...Like */
{
    shape_as(I, 0, in(I, 0));
    set_type(I, 0, type_attr(I, "dtype", type(in(I, 0))));
}

void
infer_dropout(struct infer *I)
{
    same(I, 0, in(I, 0));
    shape_as(I, 1, in(I, 0));
    set_type(I, 1, I->g->opset >= 10 || *I->n->domain ? DT_BOOL : type(in(I, 0)));
}

/* Statistics of one number a channel follow the normalized output. */
void
infer_batch_norm(struct infer *I)
{
    same(I, 0, in(I, 0));
    for (int k = 1; k < I->nout; k++)
        same(I, k, in(I, 1));
    set_type(I, 1, type(in(I, 3)));
    set_type(I, 2, type(in(I, 3)));
}

/* Outputs from 1 on: one number for what is normalized together, the axes from `axis` on. */
void
infer_layer_norm(struct infer *I)
{
    const struct tensor *x = in(I, 0);
    int axis;
    same(I, 0, x);
    for (int k = 1; k < I->nout; k++) {
        set_type(I, k, type_attr(I, "stash_type", DT_FLOAT));
        if (!axis_in(node_int(I->n, "axis", -1), rank(x), &axis))
            continue;
        shape_as(I, k, x);
        for (int i = axis; i < rank(x) && out(I, k); i++)
            out(I, k)->dims[i] = num_dim(1);
    }
}

/* Of the scale's type. */
void
infer_rms_norm(struct infer *I)
{
    infer_layer_norm(I);
    if (type(in(I, 1)))
        set_type(I, 0, type(in(I, 1)));
}

/* ---- reductions and scans ---------------------------------------------------------------------------------------- */

static void
reduce_shape(struct infer *I, int k, const struct list *axes, bool keep)
{
    const struct tensor *x = in(I, 0);
    bool named[MAX_RANK];
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

void
infer_reduce(struct infer *I)
{
    struct list axes = list_of(I, "axes", 1);
    if (axes.given && axes.n == 0)
        axes.given = node_int(I->n, "noop_with_empty_axes", 0) != 0;
    else if (!axes.given && node_int(I->n, "noop_with_empty_axes", 0))
        axes.given = true;
    reduce_shape(I, 0, &axes, node_int(I->n, "keepdims", 1) != 0);
    set_type(I, 0, type(in(I, 0)));
}

void
infer_arg(struct infer *I)
{
    int64_t axis = node_int(I->n, "axis", 0);
    struct list axes = {1, true, &axis, NULL};
    reduce_shape(I, 0, &axes, node_int(I->n, "keepdims", 1) != 0);
    set_type(I, 0, DT_INT64);
}

void
infer_top_k(struct infer *I)
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

/* ---- windows: convolution and pooling ---------------------------------------------------------------------------- */

struct window {
    int n; /* spatial axes */
    int64_t kernel[MAX_RANK], stride[MAX_RANK], dilation[MAX_RANK], before[MAX_RANK], after[MAX_RANK];
    const char *pad;
    bool ok;
};

static bool
window_list(const struct infer *I, const char *name, int n, int64_t otherwise, int64_t *to)
{
    struct list l = list_of(I, name, -1);
    for (int i = 0; i < n; i++) {
        to[i] = l.given && l.n == n ? l.v[i] : otherwise;
        if (to[i] < -MAX_WINDOW || to[i] > MAX_WINDOW)
            return false;
    }
    return !l.given || l.n == n || l.n == 0;
}

/* Reads strides, dilations, pads and, from the attribute or the weight w, the kernel of n spatial axes. */
static struct window
window_of(const struct infer *I, int n, const struct tensor *w)
{
    struct window v = {.n = n};
    int64_t pads[2 * MAX_RANK];
    if (n < 0 || n > MAX_RANK)
        return v;
    v.ok = window_list(I, "strides", n, 1, v.stride) && window_list(I, "dilations", n, 1, v.dilation) &&
           window_list(I, "pads", 2 * n, 0, pads);
    struct list kernel = list_of(I, "kernel_shape", -1);
    for (int i = 0; i < n && v.ok; i++) {
        v.kernel[i] = kernel.given && kernel.n == n ? kernel.v[i] : rank(w) == n + 2 ? w->dims[i + 2].n : -1;
        v.ok = v.kernel[i] > 0 && v.kernel[i] <= MAX_WINDOW && v.stride[i] > 0 && v.dilation[i] > 0;
        v.before[i] = pads[i];
        v.after[i] = pads[n + i];
    }
    v.pad = node_str(I->n, "auto_pad", "NOTSET");
    return v;
}

static struct dim
window_dim(struct infer *I, const struct window *v, int i, struct dim x, bool ceil_mode)
{
    if (x.n < 0 || x.n > INT64_MAX / 4)
        return OPEN;
    int64_t span = v->dilation[i] * (v->kernel[i] - 1) + 1, s = v->stride[i];
    if (strncmp(v->pad, "SAME", 4) == 0)
        return num_dim(x.n / s + (x.n % s != 0));
    int64_t valid = strcmp(v->pad, "VALID") == 0, before = valid ? 0 : v->before[i], after = valid ? 0 : v->after[i];
    int64_t padded = x.n + before + after, room = padded - span;
    if (room < 0) {
        I->why = arena_printf(I->g->arena, "an input of %lld is shorter than the window of %lld", (long long)padded,
                              (long long)span);
        return OPEN;
    }
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
        d[i + 2] = window_dim(I, v, i, x->dims[i + 2], ceil_mode);
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

void
infer_conv(struct infer *I)
{
    conv_at(I, 0, 1, type(in(I, 0)));
}

void
infer_conv_integer(struct infer *I)
{
    conv_at(I, 0, 1, DT_INT32);
}

void
infer_qlinear_conv(struct infer *I)
{
    conv_at(I, 0, 3, type(in(I, 7)) ? type(in(I, 7)) : type(in(I, 0)));
}

void
infer_conv_transpose(struct infer *I)
{
    const struct tensor *x = in(I, 0), *w = in(I, 1);
    int n = rank(x) - 2;
    int64_t extra[MAX_RANK];
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
        else if (v.ok && xi.n > 0 && xi.n <= MAX_WINDOW) {
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

void
infer_pool(struct infer *I)
{
    const struct tensor *x = in(I, 0);
    struct window v = window_of(I, rank(x) - 2, NULL);
    set_type(I, 0, type(x));
    set_type(I, 1, DT_INT64);
    for (int k = 0; k < 2 && rank(x) >= 2; k++)
        window_shape(I, k, x, x->dims[1], &v);
}

void
infer_global_pool(struct infer *I)
{
    infer_same(I);
    for (int i = 2; i < rank(in(I, 0)) && out(I, 0); i++)
        out(I, 0)->dims[i] = num_dim(1);
}

void
infer_max_unpool(struct infer *I)
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
        else if (v.ok && x->dims[i].n > 0 && x->dims[i].n <= MAX_WINDOW)
            d[i] = num_dim((x->dims[i].n - 1) * v.stride[i - 2] + v.kernel[i - 2] - v.before[i - 2] - v.after[i - 2]);
}

void
infer_max_roi_pool(struct infer *I)
{
    struct list s = list_of(I, "pooled_shape", -1);
    if (s.n == 2)
        SHAPE(I, 0, type(in(I, 0)), dim(in(I, 1), 0), dim(in(I, 0), 1), num_dim(s.v[0]), num_dim(s.v[1]));
}

void
infer_roi_align(struct infer *I)
{
    SHAPE(I, 0, type(in(I, 0)), dim(in(I, 1), 0), dim(in(I, 0), 1), num_dim(node_int(I->n, "output_height", 1)),
          num_dim(node_int(I->n, "output_width", 1)));
}

void
infer_col2im(struct infer *I)
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

/* ---- matrices ---------------------------------------------------------------------------------------------------- */

static void
matmul_dims(struct infer *I, const struct tensor *a, const struct tensor *b, bool ta, bool tb)
{
    int ra = rank(a), rb = rank(b);
    if (ra < 1 || rb < 1)
        return;
    infer_agree(I, dim(a, ta && ra > 1 ? -2 : -1).n, dim(b, rb == 1 || tb ? -1 : -2).n);
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

void
infer_matmul(struct infer *I)
{
    set_type(I, 0, type(in(I, 0)));
    matmul_dims(I, in(I, 0), in(I, 1), node_int(I->n, "transA", 0), node_int(I->n, "transB", 0));
}

void
infer_matmul_integer(struct infer *I)
{
    set_type(I, 0, DT_INT32);
    matmul_dims(I, in(I, 0), in(I, 1), false, false);
}

void
infer_matmul_to_float(struct infer *I)
{
    set_type(I, 0, type(in(I, 2)) ? type(in(I, 2)) : DT_FLOAT);
    matmul_dims(I, in(I, 0), in(I, 1), false, false);
}

void
infer_qlinear_matmul(struct infer *I)
{
    set_type(I, 0, type(in(I, 7)));
    matmul_dims(I, in(I, 0), in(I, 3), false, false);
}

static void
gemm_dims(struct infer *I, const struct tensor *a, const struct tensor *b)
{
    SHAPE(I, 0, DT_UNDEFINED, dim(a, node_int(I->n, "transA", 0) ? 1 : 0), dim(b, node_int(I->n, "transB", 0) ? 0 : 1));
}

void
infer_gemm(struct infer *I)
{
    set_type(I, 0, type(in(I, 0)));
    gemm_dims(I, in(I, 0), in(I, 1));
}

void
infer_qgemm(struct infer *I)
{
    set_type(I, 0, type(in(I, 8)) ? type(in(I, 8)) : DT_FLOAT);
    gemm_dims(I, in(I, 0), in(I, 3));
}

void
infer_matmul_nbits(struct infer *I)
{
    struct list stated = list_of(I, NULL, 2); /* MatMulFpQ4: the shape of B, which is packed */
    bool is_stated = stated.n == 2 && at_known(&stated, 1) && !node_attr(I->n, "N");
    same(I, 0, in(I, 0));
    if (rank(in(I, 0)) > 0 && out(I, 0))
        out(I, 0)->dims[rank(in(I, 0)) - 1] = num_dim(is_stated ? stated.v[1] : node_int(I->n, "N", -1));
}

/* Letters of the equation, with the axes that an ellipsis stands for numbered from the right. */
void
infer_einsum(struct infer *I)
{
    enum { LETTERS = 128 };
    struct dim of[LETTERS], dots[MAX_RANK];
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
    for (int i = 0; i < MAX_RANK; i++)
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
                dots[MAX_RANK - span + i] = broadcast_dim(dots[MAX_RANK - span + i], dim(in(I, k), at + i));
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
    struct dim d[MAX_RANK];
    int r = 0;
    for (char *c = result; *c; c++) {
        int span = *c == '.' ? ndots : 1;
        if (r + span > MAX_RANK || (unsigned char)*c >= LETTERS || (*c == '.' && strncmp(c, "...", 3) != 0))
            return;
        for (int i = 0; i < span; i++)
            d[r++] = *c == '.' ? dots[MAX_RANK - ndots + i] : of[(unsigned char)*c];
        c += *c == '.' ? 2 : 0;
    }
    set_shape(I, 0, DT_UNDEFINED, r, d);
}

void
infer_det(struct infer *I)
{
    int r = rank(in(I, 0));
    if (r >= 2)
        set_shape(I, 0, type(in(I, 0)), r - 2, in(I, 0)->dims);
}
