/* SPDX-License-Identifier: Apache-2.0 */
/* fused.c - shape rules of operators that stand for a whole computation, and of other domains.
 *
 * Recurrent, attention, losses, random, signals, strings, quantized, ai.onnx.ml, training and com.microsoft. Fused
 * operators that ONNX Runtime writes are covered where their shapes follow from attributes and inputs.
 */
#include "graph/infer.h"

/* ---- recurrent, attention ---------------------------------------------------------------------------------------- */

void
fused_rnn(struct infer *I)
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

void
fused_attention(struct infer *I)
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

void
fused_flex_attention(struct infer *I)
{
    const struct tensor *q = in(I, 0);
    SHAPE(I, 0, type(q), dim(q, 0), dim(q, 1), dim(q, 2), dim(in(I, 2), 3));
}

void
fused_linear_attention(struct infer *I)
{
    const struct tensor *q = in(I, 0), *k = in(I, 1), *v = in(I, 2);
    struct dim hk = attr_dim(I, "kv_num_heads"), dk = div_dim(dim(k, 2), hk.n), dv = div_dim(dim(v, 2), hk.n);
    SHAPE(I, 0, type(q), dim(q, 0), dim(q, 1), mul_dim(attr_dim(I, "q_num_heads"), dv));
    SHAPE(I, 1, type(in(I, 3)) ? type(in(I, 3)) : type(q), dim(q, 0), hk, dk, dv);
}

void
fused_causal_conv(struct infer *I)
{
    const struct tensor *x = in(I, 0);
    int64_t k = dim(in(I, 1), -1).n;
    infer_same(I);
    SHAPE(I, 1, type(in(I, 3)) ? type(in(I, 3)) : type(x), dim(x, 0), dim(x, 1), k > 0 ? num_dim(k - 1) : OPEN);
}

/* ---- losses, random, signals, strings ---------------------------------------------------------------------------- */

void
fused_loss(struct infer *I)
{
    if (attr_is(I, "reduction", "none"))
        shape_as(I, 0, in(I, 1));
    else
        scalar(I, 0, DT_UNDEFINED);
    set_type(I, 0, type(in(I, 0)));
    same(I, 1, in(I, 0));
}

void
fused_random(struct infer *I)
{
    struct list l = list_of(I, "shape", -1);
    set_type(I, 0, type_attr(I, "dtype", DT_FLOAT));
    shape_from(I, 0, &l);
}

void
fused_multinomial(struct infer *I)
{
    SHAPE(I, 0, type_attr(I, "dtype", DT_INT32), dim(in(I, 0), 0), num_dim(node_int(I->n, "sample_size", 1)));
}

void
fused_window_function(struct infer *I)
{
    int64_t n;
    SHAPE(I, 0, type_attr(I, "output_datatype", DT_FLOAT), int_of(I, NULL, 0, -1, &n) ? num_dim(n) : OPEN);
}

void
fused_mel(struct infer *I)
{
    int64_t bins, n;
    bool ok = int_of(I, NULL, 0, -1, &bins), ok2 = int_of(I, NULL, 1, -1, &n) && n >= 0;
    SHAPE(I, 0, type_attr(I, "output_datatype", DT_FLOAT), ok2 ? num_dim(n / 2 + 1) : OPEN, ok ? num_dim(bins) : OPEN);
}

void
fused_dft(struct infer *I)
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

void
fused_stft(struct infer *I)
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

void
fused_image(struct infer *I)
{
    SHAPE(I, 0, DT_UINT8, OPEN, OPEN, num_dim(attr_is(I, "pixel_format", "Grayscale") ? 1 : 3));
}

void
fused_string_split(struct infer *I)
{
    const struct tensor *x = in(I, 0);
    set_type(I, 0, DT_STRING);
    set_type(I, 1, DT_INT64);
    shape_as(I, 1, x);
    struct dim *d = rank(x) >= 0 ? shape(I, 0, rank(x) + 1) : NULL;
    for (int i = 0; i < rank(x) && d; i++)
        d[i] = x->dims[i];
}

void
fused_string_normalizer(struct infer *I)
{
    const struct attr *stop = node_attr(I->n, "stopwords");
    infer_same(I);
    if (stop && stop->n && rank(in(I, 0)) > 0 && out(I, 0))
        out(I, 0)->dims[rank(in(I, 0)) - 1] = OPEN;
}

void
fused_tfidf(struct infer *I)
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

/* ---- quantized --------------------------------------------------------------------------------------------------- */

void
fused_quantize(struct infer *I)
{
    shape_as(I, 0, in(I, 0));
    enum dtype t = type_attr(I, "output_dtype", DT_UNDEFINED);
    set_type(I, 0, type(in(I, 2)) ? type(in(I, 2)) : t ? t : DT_UINT8);
}

void
fused_dequantize(struct infer *I)
{
    shape_as(I, 0, in(I, 0));
    enum dtype t = type_attr(I, "output_dtype", DT_UNDEFINED);
    set_type(I, 0, t ? t : type(in(I, 1)));
}

void
fused_dynamic_quantize(struct infer *I)
{
    shape_as(I, 0, in(I, 0));
    set_type(I, 0, DT_UINT8);
    scalar(I, 1, DT_FLOAT);
    scalar(I, 2, DT_UINT8);
}

void
fused_qlinear_binary(struct infer *I)
{
    struct infer two = *I;
    struct tensor *x[2] = {in(I, 0), in(I, 3)};
    two.in = x;
    two.nin = 2;
    infer_broadcast(&two);
}

/* ---- ai.onnx.ml, training ---------------------------------------------------------------------------------------- */

void
fused_float_like(struct infer *I)
{
    shape_as(I, 0, in(I, 0));
    set_type(I, 0, DT_FLOAT);
}

void
fused_array_feature(struct infer *I)
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

void
fused_label_encoder(struct infer *I)
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

void
fused_category(struct infer *I)
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
regression(struct infer *I, enum dtype t)
{
    int64_t n = node_int(I->n, "targets", node_int(I->n, "n_targets", 1));
    SHAPE(I, 0, t, rows_of(in(I, 0)), num_dim(n));
}

void
fused_regressor(struct infer *I) /* LinearRegressor, SVMRegressor, TreeEnsembleRegressor */
{
    regression(I, DT_FLOAT);
}

void
fused_ensemble(struct infer *I) /* TreeEnsemble */
{
    regression(I, type(in(I, 0)));
}

void
fused_classifier(struct infer *I)
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

void
fused_one_hot_encoder(struct infer *I)
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

void
fused_feature_vectorizer(struct infer *I)
{
    struct list l = list_of(I, "inputdimensions", -1);
    struct dim n = l.given ? num_dim(0) : OPEN;
    for (int i = 0; i < l.n; i++)
        n = add_dim(n, num_dim(l.v[i]));
    SHAPE(I, 0, DT_FLOAT, rows_of(in(I, 0)), n);
}

void
fused_zip_map(struct infer *I)
{
    struct tensor element = {.dtype = DT_FLOAT, .wrap = "m"};
    set_wrap(I, 0, "s", &element);
}

/* R, T, then groups of tensors: values, gradients, states. The outputs are the groups without the gradients. */
/* Groups of outputs: the parameters, and each of their states. */
static void
updated(struct infer *I, int groups)
{
    int n = I->nout;
    if (n % groups)
        return;
    int each = n / groups;
    for (int k = 0; k < n; k++)
        same(I, k, in(I, 2 + k + (k >= each ? each : 0)));
}

void
fused_optimizer(struct infer *I)
{
    updated(I, 2);
}

void
fused_adam(struct infer *I)
{
    updated(I, 3);
}

void
fused_gradient(struct infer *I)
{
    for (int k = 0; k < I->nout; k++)
        same(I, k, in(I, k));
}

/* ---- fused operators of optimized files (com.microsoft) ---------------------------------------------------------- */

void
fused_skip_norm(struct infer *I)
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

void
fused_embed_norm(struct infer *I)
{
    struct dim b = dim(in(I, 0), 0), s = dim(in(I, 0), 1), h = dim(in(I, 2), 1);
    SHAPE(I, 0, type(in(I, 2)), b, s, h);
    SHAPE(I, 1, DT_INT32, b);
    SHAPE(I, 2, type(in(I, 2)), b, s, h);
}

void
fused_ms_attention(struct infer *I)
{
    const struct tensor *x = in(I, 0), *w = in(I, 1), *past = in(I, 4);
    struct list sizes = list_of(I, "qkv_hidden_sizes", -1);
    struct dim h = sizes.n == 3 ? num_dim(sizes.v[2]) : div_dim(dim(w, 1), 3), heads = attr_dim(I, "num_heads");
    struct dim total = past ? add_dim(dim(past, 3), dim(x, 1)) : dim(x, 1);
    SHAPE(I, 0, type(x), dim(x, 0), dim(x, 1), h);
    SHAPE(I, 1, type(x), num_dim(2), dim(x, 0), heads, total, div_dim(h, heads.n));
}

void
fused_multi_head(struct infer *I)
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

void
fused_grouped_query(struct infer *I)
{
    const struct tensor *q = in(I, 0);
    int64_t hq = node_int(I->n, "num_heads", 0), hk = node_int(I->n, "kv_num_heads", 0);
    struct dim h = dim(q, 2);
    if (!in(I, 1)) /* packed: query, key and value side by side */
        h = hq > 0 && hk > 0 && hq < MAX_WINDOW && hk < MAX_WINDOW && h.n < MAX_WINDOW && h.n >= 0
                ? num_dim(h.n / (hq + 2 * hk) * hq)
                : OPEN;
    SHAPE(I, 0, type(q), dim(q, 0), dim(q, 1), h);
    for (int o = 1; o < 3; o++)
        same(I, o, in(I, o + 2));
}

void
fused_half_width(struct infer *I)
{
    infer_same(I);
    int r = rank(in(I, 0));
    if (r > 0 && out(I, 0))
        out(I, 0)->dims[r - 1] = div_dim(out(I, 0)->dims[r - 1], 2);
}

void
fused_position_bias(struct infer *I)
{
    int64_t q, k;
    bool a = int_of(I, NULL, 1, -1, &q), b = int_of(I, NULL, 2, -1, &k);
    SHAPE(I, 0, type(in(I, 0)), num_dim(1), dim(in(I, 0), 1), a ? num_dim(q) : OPEN, b ? num_dim(k) : OPEN);
}

void
fused_gather_blocks(struct infer *I)
{
    move_gather(I);
    set_type(I, 0, type(in(I, 2)));
}

void
fused_all_finite(struct infer *I)
{
    SHAPE(I, 0, DT_BOOL, num_dim(1));
}

void
fused_cdist(struct infer *I)
{
    SHAPE(I, 0, type(in(I, 0)), dim(in(I, 0), 0), dim(in(I, 1), 0));
}

void
fused_dynamic_lstm(struct infer *I)
{
    fused_rnn(I);
}

void
fused_qglobal_pool(struct infer *I)
{
    bool last = node_int(I->n, "channels_last", 0) != 0;
    int r = rank(in(I, 0));
    infer_same(I);
    for (int i = last ? 1 : 2; i < (last ? r - 1 : r) && out(I, 0); i++)
        out(I, 0)->dims[i] = num_dim(1);
}

/* x with its last axis second. */
static struct tensor
channels_second(const struct infer *I, const struct tensor *x)
{
    struct tensor t = *x;
    if (rank(x) < 3)
        return t;
    t.dims = NEWN(I->g->arena, struct dim, x->rank);
    t.dims[0] = x->dims[0];
    t.dims[1] = x->dims[x->rank - 1];
    for (int i = 2; i < x->rank; i++)
        t.dims[i] = x->dims[i - 1];
    return t;
}

/* Runs a rule of images over tensors whose channels come last; weights whose channels do, too. */
static void
channels_last(struct infer *I, void (*rule)(struct infer *), bool weights)
{
    struct tensor x, w, *in_[2] = {NULL, NULL};
    if (!in(I, 0) || rank(in(I, 0)) < 3)
        return;
    struct infer own = *I;
    own.in = in_;
    own.nin = 2;
    x = channels_second(I, in(I, 0));
    in_[0] = &x;
    if (in(I, 1)) {
        w = weights ? channels_second(I, in(I, 1)) : *in(I, 1);
        in_[1] = &w;
    }
    rule(&own);
    struct tensor *y = out(I, 0);
    if (!y || y->rank < 3)
        return;
    struct dim channels = y->dims[1];
    memmove(&y->dims[1], &y->dims[2], sizeof(*y->dims) * (size_t)(y->rank - 2));
    y->dims[y->rank - 1] = channels;
}

void
fused_nhwc_conv(struct infer *I)
{
    channels_last(I, infer_conv, true);
}

void
fused_nhwc_fused_conv(struct infer *I)
{
    channels_last(I, infer_conv, false);
}

void
fused_nhwc_pool(struct infer *I)
{
    channels_last(I, infer_pool, false);
}

void
fused_crop_and_resize(struct infer *I)
{
    struct list size = list_of(I, NULL, 3);
    const struct tensor *x = in(I, 0);
    SHAPE(I, 0, type(x), dim(in(I, 1), 0), dim(x, 1), at_known(&size, 0) ? num_dim(size.v[0]) : OPEN,
          at_known(&size, 1) ? num_dim(size.v[1]) : OPEN);
}

void
fused_gated_bias(struct infer *I)
{
    const struct tensor *q = in(I, 0);
    SHAPE(I, 0, type(q), dim(q, 0), attr_dim(I, "num_heads"), dim(q, 1), dim(q, 1));
}

/* Real to complex, two numbers each, and back. */
void
fused_rfft(struct infer *I)
{
    const struct tensor *x = in(I, 0);
    bool half = node_int(I->n, "onesided", 1) != 0;
    set_type(I, 0, type(x));
    struct dim *d = rank(x) > 0 ? shape(I, 0, rank(x) + 1) : NULL;
    for (int i = 0; d && i < rank(x); i++)
        d[i] = x->dims[i];
    if (!d)
        return;
    if (half)
        d[rank(x) - 1] = add_dim(div_dim(x->dims[rank(x) - 1], 2), num_dim(1));
    d[rank(x)] = num_dim(2);
}

void
fused_irfft(struct infer *I)
{
    const struct tensor *x = in(I, 0);
    bool half = node_int(I->n, "onesided", 1) != 0;
    set_type(I, 0, type(x));
    struct dim *d = rank(x) > 1 ? shape(I, 0, rank(x) - 1) : NULL;
    for (int i = 0; d && i < rank(x) - 1; i++)
        d[i] = x->dims[i];
    if (d && half) {
        struct dim *last = &d[rank(x) - 2];
        *last = last->n > 0 ? mul_dim(num_dim(last->n - 1), num_dim(2)) : OPEN;
    }
}

/* Tokens without padding, one row each. */
void
fused_packed_attention(struct infer *I)
{
    struct list sizes = list_of(I, "qkv_hidden_sizes", -1);
    const struct tensor *x = in(I, 0);
    SHAPE(I, 0, type(x), dim(x, 0), sizes.n == 3 ? num_dim(sizes.v[2]) : div_dim(dim(in(I, 1), 1), 3));
}

void
fused_packed_multi_head(struct infer *I)
{
    const struct tensor *q = in(I, 0), *v = in(I, 2);
    SHAPE(I, 0, type(q), dim(q, 0), rank(q) == 4 ? mul_dim(dim(q, 1), dim(q, 3)) : v ? dim(v, 1) : dim(q, 1));
}

void
fused_qattention(struct infer *I)
{
    const struct tensor *x = in(I, 0), *past = in(I, 8);
    struct dim h = div_dim(dim(in(I, 1), 1), 3), heads = attr_dim(I, "num_heads");
    struct dim total = past ? add_dim(dim(past, 3), dim(x, 1)) : dim(x, 1);
    SHAPE(I, 0, type(in(I, 3)), dim(x, 0), dim(x, 1), h);
    SHAPE(I, 1, type(in(I, 3)), num_dim(2), dim(x, 0), heads, total, div_dim(h, heads.n));
}

void
fused_qembed_norm(struct infer *I)
{
    fused_embed_norm(I);
    set_type(I, 0, DT_FLOAT);
}

void
fused_qlinear_where(struct infer *I)
{
    struct infer three = *I;
    struct tensor *x[3] = {in(I, 0), in(I, 1), in(I, 4)};
    three.in = x;
    three.nin = 3;
    infer_where(&three);
}

void
fused_remove_padding(struct infer *I)
{
    const struct tensor *x = in(I, 0);
    SHAPE(I, 0, type(x), OPEN, dim(x, 2));
    SHAPE(I, 1, DT_INT32, dim(x, 0), dim(x, 1));
    SHAPE(I, 2, DT_INT32, add_dim(dim(x, 0), num_dim(1)));
    SHAPE(I, 3, DT_INT32, num_dim(1));
}

void
fused_restore_padding(struct infer *I)
{
    const struct tensor *at = in(I, 1);
    SHAPE(I, 0, type(in(I, 0)), dim(at, 0), dim(at, 1), dim(in(I, 0), 1));
}

void
fused_embedding(struct infer *I)
{
    const struct tensor *table = in(I, 0), *index = in(I, 1);
    set_type(I, 0, type(table));
    struct dim *d = rank(index) >= 0 ? shape(I, 0, rank(index) + 1) : NULL;
    for (int i = 0; d && i < rank(index); i++)
        d[i] = index->dims[i];
    if (d)
        d[rank(index)] = dim(table, 1);
}

void
fused_tokenizer(struct infer *I)
{
    const struct tensor *x = in(I, 0);
    set_type(I, 0, DT_STRING);
    struct dim *d = rank(x) >= 0 ? shape(I, 0, rank(x) + 1) : NULL;
    for (int i = 0; d && i < rank(x); i++)
        d[i] = x->dims[i];
}

/* BeamSearch, WhisperBeamSearch; GreedySearch and Sampling return one sequence each. */
static void
generated(struct infer *I, bool beams)
{
    int64_t longest, each;
    bool ok = int_of(I, NULL, 1, -1, &longest), ok2 = int_of(I, NULL, 4, 1, &each);
    struct dim batch = dim(in(I, 0), 0), length = ok ? num_dim(longest) : OPEN, n = ok2 ? num_dim(each) : OPEN;
    if (beams)
        SHAPE(I, 0, DT_INT32, batch, n, length);
    else
        SHAPE(I, 0, DT_INT32, batch, length);
    if (beams)
        SHAPE(I, 1, DT_FLOAT, batch, n);
}

void
fused_generate(struct infer *I)
{
    generated(I, false);
}

void
fused_beams(struct infer *I)
{
    generated(I, true);
}

/* A foreign engine's part: the file alone says what it makes. */
void
fused_declared(struct infer *I)
{
    (void)I;
}

void
fused_cast_map(struct infer *I)
{
    const char *to = node_str(I->n, "cast_to", "TO_FLOAT");
    int64_t n = strcmp(node_str(I->n, "map_form", "DENSE"), "SPARSE") == 0 ? node_int(I->n, "max_map", -1) : -1;
    SHAPE(I, 0,
          strcmp(to, "TO_INT64") == 0    ? DT_INT64
          : strcmp(to, "TO_STRING") == 0 ? DT_STRING
                                         : DT_FLOAT,
          num_dim(1), num_dim(n));
}

void
fused_dict_vectorizer(struct infer *I)
{
    const struct attr *a = node_attr(I->n, "string_vocabulary"), *b = node_attr(I->n, "int64_vocabulary");
    SHAPE(I, 0, type(in(I, 0)), num_dim(1), num_dim(a && a->n ? a->n : b ? b->n : -1));
}

void
fused_second(struct infer *I)
{
    same(I, 0, in(I, 1));
}

void
fused_two_rotations(struct infer *I)
{
    same(I, 0, in(I, 1));
    same(I, 1, in(I, 3));
}

void
fused_hash(struct infer *I)
{
    shape_as(I, 0, in(I, 0));
    set_type(I, 0, node_int(I->n, "positive", 1) ? DT_UINT32 : DT_INT32);
}

/* 32 elements of the mask in one number. */
void
fused_bitmask_dropout(struct infer *I)
{
    const struct tensor *x = in(I, 0);
    infer_same(I);
    struct dim n = rank(x) < 0 ? OPEN : product(x, 0, rank(x));
    SHAPE(I, 1, DT_UINT32, n.n >= 0 && n.n < INT64_MAX - 31 ? num_dim((n.n + 31) / 32) : OPEN);
}

/* Blocks of channels side by side: sizes as in plain images. Source:
 * onnxruntime/core/graph/contrib_ops/nchwc_schema_defs.cc. */
void
fused_reorder_input(struct infer *I)
{
    infer_same(I);
    if (node_int(I->n, "channels_last", 0) && in(I, 0) && out(I, 0) && rank(in(I, 0)) > 2) {
        struct tensor t = channels_second(I, in(I, 0));
        shape_as(I, 0, &t);
    }
}

void
fused_reorder_output(struct infer *I)
{
    struct dim channels = attr_dim(I, "channels");
    struct tensor *y = out(I, 0);
    infer_same(I);
    if (!y || y->rank < 3)
        return;
    y->dims[1] = channels;
    if (node_int(I->n, "channels_last", 0)) {
        memmove(&y->dims[1], &y->dims[2], sizeof(*y->dims) * (size_t)(y->rank - 2));
        y->dims[y->rank - 1] = channels;
    }
}

void
fused_nchwc_upsample(struct infer *I)
{
    struct list scales = list_of(I, "scales", -1);
    infer_same(I);
    for (int i = 0; i < rank(in(I, 0)) && out(I, 0); i++)
        out(I, 0)->dims[i] = i < scales.n ? mul_dim(out(I, 0)->dims[i], num_dim(scales.v[i])) : OPEN;
}
