/* SPDX-License-Identifier: Apache-2.0 */
/* infer.h - the vocabulary of the operator table's rules.
 *
 * ops.c holds the table, and these files the rules that its rows name:
 *
 *   infer.c    elementwise, reductions, windows, matrices
 *   move.c     reshape, slice, gather, pad, resize, ...
 *   control.c  sequences, optionals, If, Loop, Scan
 *   fused.c    recurrent, attention, losses, signals, strings, quantized, ai.onnx.ml, training, com.microsoft
 *   fold.c     value rules: constant propagation
 *
 * A rule sets what it can be sure of and leaves the rest open; a malformed node is not an error but an open output. All
 * arithmetic on sizes is 64-bit and checked, or 128-bit over operands that are checked first. A rule never allocates
 * by a size that the model states, except through shapes_constant.
 */
#ifndef INFER_H
#define INFER_H

#include "graph/graph.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- the run that rules are part of (shapes.c, unroll.c, bind.c) ------------------------------------------------- */

struct shapes {
    struct arena *a;
    struct graph *root;
    struct names *bound; /* symbol to index into values */
    int nvalues, cap_values;
    int64_t *values;
    int64_t visits;     /* nodes that may still be visited */
    int64_t folds;      /* elements that may still be folded */
    const char *remedy; /* the option of the limit that kept a constant from being folded */
};

/* Completes a tensor from what value_info says of it. */
void shapes_declared(struct tensor *t);
/* Known in all dimensions, but of a size that 64 bits don't hold. */
bool shapes_overflow(const struct tensor *t);
/* Control flow that is one operator of PyTorch's: what ran is that, whatever the exporter wrote. */
bool shapes_recorded(const struct node *n);
/* The rules over all nodes in order; false when the budget of visits is spent. */
bool shapes_graph(struct shapes *run, struct graph *g);
/* Over one node of the main graph. */
void shapes_node(struct shapes *run, struct graph *g, const struct node *n);
/* For rules of control flow: over a subgraph, whose inputs the caller has filled. As shapes_graph; what the subgraph
 * computes is unknown where that is false. */
bool shapes_subgraph(struct infer *in, struct graph *sub);
/* A constant to fill, every element unknown; NULL when n is over limit(LIMIT_FOLD), the type has no numbers, or the
 * run's budget is spent. */
struct constant *shapes_constant(struct infer *in, enum dtype t, int64_t n);
/* Whether the main graph has control flow or sequences. */
bool unroll_needed(const struct graph *g);
/* Runs shapes_node over g in order and, where a node is control flow, over the nodes that it stands for, which take
 * its place. */
void unroll_run(struct shapes *run, struct graph *g);

/* ---- helpers: inputs and outputs --------------------------------------------------------------------------------- */

static const struct dim OPEN = {-1, NULL};

static inline struct tensor *
in(const struct infer *I, int k)
{
    return k < I->nin ? I->in[k] : NULL;
}

static inline struct tensor *
out(const struct infer *I, int k)
{
    return k < I->nout ? I->out[k] : NULL;
}

static inline int
rank(const struct tensor *t)
{
    return t ? t->rank : -1;
}

static inline struct dim
dim(const struct tensor *t, int axis)
{
    if (!t || t->rank < 0)
        return OPEN;
    if (axis < 0)
        axis += t->rank;
    return axis >= 0 && axis < t->rank ? t->dims[axis] : OPEN;
}

static inline struct dim
num_dim(int64_t n)
{
    return (struct dim){n < 0 ? -1 : n, NULL};
}

static inline struct dim
mul_dim(struct dim a, struct dim b)
{
    int64_t n;
    if (a.n == 1)
        return b;
    if (b.n == 1)
        return a;
    return a.n >= 0 && b.n >= 0 && mul_ok(a.n, b.n, &n) ? num_dim(n) : OPEN;
}

static inline struct dim
add_dim(struct dim a, struct dim b)
{
    int64_t n;
    if (b.n == 0)
        return a;
    if (a.n == 0)
        return b;
    return a.n >= 0 && b.n >= 0 && add_ok(a.n, b.n, &n) ? num_dim(n) : OPEN;
}

static inline struct dim
div_dim(struct dim a, int64_t b)
{
    return b == 1 ? a : a.n >= 0 && b > 0 ? num_dim(a.n / b) : OPEN;
}

static inline struct dim
merge_dim(struct dim a, struct dim b)
{
    if (a.n == b.n && (a.n >= 0 || (a.sym && b.sym && strcmp(a.sym, b.sym) == 0)))
        return a;
    return OPEN;
}

/* Says that sizes contradict each other, where both are known. */
void infer_agree(struct infer *I, int64_t a, int64_t b);

static inline struct dim
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

static inline void
set_type(const struct infer *I, int k, enum dtype t)
{
    struct tensor *o = out(I, k);
    if (o && t) {
        o->dtype = t;
        o->wrap = "";
    }
}

static inline enum dtype
type(const struct tensor *t)
{
    return t ? t->dtype : DT_UNDEFINED;
}

/* Makes output k's shape: open dims to fill in. A dummy for omitted outputs; NULL for ranks that nobody has. */
static inline struct dim *
shape(const struct infer *I, int k, int64_t r)
{
    struct tensor *o = out(I, k);
    if (r < 0 || r > MAX_RANK)
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
static inline void
shape_as(const struct infer *I, int k, const struct tensor *t)
{
    struct dim *d = shape(I, k, rank(t));
    if (d && t->rank)
        memcpy(d, t->dims, sizeof(*d) * (size_t)t->rank);
}

static inline void
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

static inline void
same(const struct infer *I, int k, const struct tensor *t)
{
    set_type(I, k, type(t));
    shape_as(I, k, t);
}

static inline void
set_shape(const struct infer *I, int k, enum dtype t, int r, const struct dim *dims)
{
    set_type(I, k, t);
    struct dim *d = shape(I, k, r);
    if (d && r)
        memcpy(d, dims, sizeof(*d) * (size_t)r);
}

#define SHAPE(I, k, t, ...) set_shape(I, k, t, COUNT(((struct dim[]){__VA_ARGS__})), (struct dim[]){__VA_ARGS__})

static inline void
scalar(const struct infer *I, int k, enum dtype t)
{
    set_shape(I, k, t, 0, NULL);
}

/* ---- helpers: attributes and constant inputs --------------------------------------------------------------------- */

static inline bool
axis_in(int64_t axis, int r, int *at)
{
    if (r < 0 || axis < -r || axis >= r)
        return false;
    *at = (int)(axis < 0 ? axis + r : axis);
    return true;
}

static inline bool
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

static inline struct list
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
        else if (t->rank == 1 && t->dims[0].n >= 0 && t->dims[0].n <= MAX_RANK) {
            bool *none = NEWN(I->g->arena, bool, t->dims[0].n + 1); /* the number of elements is known, no more */
            l = (struct list){(int)t->dims[0].n, true, NEWN(I->g->arena, int64_t, t->dims[0].n + 1), none};
        }
    }
    return l;
}

static inline bool
list_known(const struct list *l)
{
    for (int i = 0; i < l->n && l->known; i++)
        if (!l->known[i])
            return false;
    return l->given && l->n >= 0;
}

static inline bool
at_known(const struct list *l, int i)
{
    return i < l->n && (!l->known || l->known[i]);
}

/* One integer from an attribute or a constant input. */
static inline bool
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

static inline bool
attr_is(const struct infer *I, const char *name, const char *value)
{
    return strcmp(node_str(I->n, name, ""), value) == 0;
}

static inline enum dtype
type_attr(const struct infer *I, const char *name, enum dtype otherwise)
{
    const struct attr *a = node_attr(I->n, name);
    if (a && a->type == ATTR_STRING) { /* Cast-1 writes FLOAT */
        char lower[16] = "";
        for (int i = 0; i < 15 && a->s[i]; i++)
            lower[i] = (char)(a->s[i] >= 'A' && a->s[i] <= 'Z' ? a->s[i] + 32 : a->s[i]);
        return dtype_by_onnx(lower);
    }
    int64_t v = a && a->type == ATTR_INT ? a->i : 0;
    return !a ? otherwise : v > 0 && v < DT_COUNT ? (enum dtype)v : DT_UNDEFINED;
}

/* Which axes of rank r a list names; false when it is not known. None given: all. */
static inline bool
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

static inline double
number(const struct tensor *t, int k)
{
    const struct constant *c = t->value;
    return c->f ? c->f[k] : c->i ? (double)c->i[k] : 0;
}

static inline int64_t
clamp(int64_t v, int64_t low, int64_t high)
{
    return v < low ? low : v > high ? high : v;
}

static inline struct dim
product(const struct tensor *t, int from, int to)
{
    struct dim d = num_dim(1);
    for (int i = from; i < to; i++)
        d = mul_dim(d, t->dims[i]);
    return d;
}

/* The dims that a list of integers asks for, negative ones open. */
static inline void
shape_from(struct infer *I, int k, const struct list *l)
{
    struct dim *d = l->given && l->n >= 0 ? shape(I, k, l->n) : NULL;
    for (int i = 0; d && i < l->n; i++)
        d[i] = at_known(l, i) ? num_dim(l->v[i]) : OPEN;
}

static inline void
set_wrap(const struct infer *I, int k, const char *letters, const struct tensor *element)
{
    struct tensor *o = out(I, k);
    if (!o || !element || !element->dtype)
        return;
    o->dtype = element->dtype;
    o->wrap = arena_printf(I->g->arena, "%s%s", letters, element->wrap);
}

/* ---- shared by shape and value rules ----------------------------------------------------------------------------- */

struct slice {
    bool sliced, known;
    int64_t start, step, count;
};

/* The axes of x in the order that Transpose asks for. */
bool move_permutation(const struct infer *I, int r, int *perm);
/* Start, step and count for each axis of x; false when not even the axes are known. */
bool move_slices_of(const struct infer *I, const struct tensor *x, struct slice *s);
/* Elements before and after each axis. */
bool move_pads_of(const struct infer *I, int r, int64_t *before, int64_t *after, bool *is_known);
/* The extent of part k of a split; the whole extent is x. */
struct dim move_split_part(const struct infer *I, struct dim x, int k);
int64_t move_concat_axis(const struct infer *I);
/* How many numbers a range has, or -1. */
int64_t move_range_count(const struct infer *I);
/* The place that input k names in a sequence of n, or -1. */
int control_position(const struct infer *I, int k, int n, int otherwise);

/* ---- rules ------------------------------------------------------------------------------------------------------- */

/* clang-format off */
#define RULE(name) void infer_##name(struct infer *);
    RULE(arg) RULE(batch_norm) RULE(bool) RULE(broadcast) RULE(cast) RULE(cast_like) RULE(col2im) RULE(compare)
    RULE(conv) RULE(conv_integer) RULE(conv_transpose) RULE(det) RULE(dropout) RULE(einsum) RULE(gemm)
    RULE(global_pool) RULE(layer_norm) RULE(matmul) RULE(matmul_integer) RULE(matmul_nbits)
    RULE(matmul_to_float) RULE(max_roi_pool) RULE(max_unpool) RULE(pool) RULE(qgemm) RULE(qlinear_conv)
    RULE(qlinear_matmul) RULE(reduce) RULE(rms_norm) RULE(roi_align) RULE(same) RULE(top_k) RULE(typed_like)
    RULE(where) RULE(whole)
#undef RULE

#define RULE(name) void move_##name(struct infer *);
    RULE(affine_grid) RULE(center_crop) RULE(compress) RULE(concat) RULE(constant) RULE(constant_of_shape)
    RULE(depth_to_space) RULE(expand) RULE(flatten) RULE(gather) RULE(gather_elements) RULE(gather_nd)
    RULE(grid_sample) RULE(nms) RULE(nonzero) RULE(one_hot) RULE(pad) RULE(qlinear_concat) RULE(range)
    RULE(reshape) RULE(resize) RULE(shape) RULE(size) RULE(slice) RULE(space_to_depth) RULE(split)
    RULE(squeeze) RULE(tile) RULE(transpose) RULE(unique) RULE(unsqueeze) RULE(upsample)
#undef RULE

#define RULE(name) void fused_##name(struct infer *);
    RULE(adam) RULE(all_finite) RULE(array_feature) RULE(attention) RULE(beams) RULE(bitmask_dropout)
    RULE(cast_map) RULE(category) RULE(causal_conv) RULE(cdist) RULE(classifier) RULE(crop_and_resize)
    RULE(declared) RULE(dequantize) RULE(dft) RULE(dict_vectorizer) RULE(dynamic_lstm) RULE(dynamic_quantize)
    RULE(embed_norm) RULE(embedding) RULE(ensemble) RULE(feature_vectorizer) RULE(flex_attention)
    RULE(float_like) RULE(gated_bias) RULE(gather_blocks) RULE(generate) RULE(gradient) RULE(grouped_query)
    RULE(half_width) RULE(hash) RULE(image) RULE(irfft) RULE(label_encoder) RULE(linear_attention) RULE(loss)
    RULE(mel) RULE(ms_attention) RULE(multi_head) RULE(multinomial) RULE(nchwc_upsample) RULE(nhwc_conv)
    RULE(nhwc_fused_conv) RULE(nhwc_pool) RULE(one_hot_encoder) RULE(optimizer) RULE(packed_attention)
    RULE(packed_multi_head) RULE(position_bias) RULE(qattention) RULE(qembed_norm) RULE(qglobal_pool)
    RULE(qlinear_binary) RULE(qlinear_where) RULE(quantize) RULE(random) RULE(regressor) RULE(remove_padding)
    RULE(reorder_input) RULE(reorder_output) RULE(restore_padding) RULE(rfft) RULE(rnn) RULE(second)
    RULE(skip_norm) RULE(stft) RULE(string_normalizer) RULE(string_split) RULE(tfidf) RULE(tokenizer)
    RULE(two_rotations) RULE(window_function) RULE(zip_map)
#undef RULE

#define RULE(name) void control_##name(struct infer *);
    RULE(concat_from_sequence) RULE(if) RULE(loop) RULE(optional) RULE(optional_get) RULE(optional_has)
    RULE(scan) RULE(sequence_at) RULE(sequence_construct) RULE(sequence_empty) RULE(sequence_erase)
    RULE(sequence_insert) RULE(sequence_length) RULE(sequence_map) RULE(split_to_sequence)
#undef RULE

#define RULE(name) void fold_##name(struct infer *);
    RULE(abs) RULE(add) RULE(and) RULE(bit_and) RULE(bit_not) RULE(bit_or) RULE(bit_xor) RULE(cast)
    RULE(cast_like) RULE(ceil) RULE(clip) RULE(compress) RULE(concat) RULE(constant) RULE(constant_of_shape)
    RULE(copy) RULE(cum_prod) RULE(cum_sum) RULE(div) RULE(equal) RULE(exp) RULE(expand) RULE(floor)
    RULE(gather) RULE(gather_elements) RULE(gather_nd) RULE(greater) RULE(greater_equal) RULE(is_nan)
    RULE(less) RULE(less_equal) RULE(log) RULE(max) RULE(min) RULE(mod) RULE(mul) RULE(neg) RULE(nonzero)
    RULE(not) RULE(optional_has) RULE(or) RULE(pad) RULE(pow) RULE(range) RULE(reciprocal) RULE(reduce_max)
    RULE(reduce_mean) RULE(reduce_min) RULE(reduce_prod) RULE(reduce_sum) RULE(relu) RULE(round)
    RULE(scatter_elements) RULE(scatter_nd) RULE(sequence_at) RULE(sequence_length) RULE(shape) RULE(shift)
    RULE(sign) RULE(size) RULE(slice) RULE(split) RULE(sqrt) RULE(sub) RULE(tile) RULE(transpose) RULE(where)
    RULE(xor)
#undef RULE

#define RULE(name) bool unroll_##name(struct unroll *, const struct node *);
    RULE(at) RULE(if) RULE(join) RULE(loop) RULE(scan) RULE(split)
#undef RULE

/* clang-format on */

#endif
