/* SPDX-License-Identifier: Apache-2.0 */
/* fold.c - value rules: constants followed through the operators that exporters compute shapes with.
 *
 * A constant has up to limit(LIMIT_FOLD) elements, each known or not. Elementwise operators are kernels over one
 * struct num an input, which fold() applies to the broadcast elements; operators that move elements give, for each
 * element of the output, its place in the input. Integers wrap in their own type, as the operators do.
 */
#include "graph/infer.h"

/* ---- values: elementwise kernels --------------------------------------------------------------------------------- */

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
    struct constant *c = any && I->nin <= limit(LIMIT_FOLD) ? constant_for(I, 0) : NULL;
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

/* Likewise a kernel that knows nothing where it doesn't know all of them; of no elements all are known. */
static void
fold_known(struct infer *I, kernel f)
{
    bool known = true;
    for (int k = 0; k < I->nin; k++)
        known &= in(I, k) && in(I, k)->value;
    if (known || (out(I, 0) && tensor_elements(out(I, 0)) == 0))
        fold(I, f);
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
    void fold_##name(struct infer *I)                                                 \
    {                                                                                 \
        fold_known(I, name##_kernel);                                                 \
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

void
fold_cast_like(struct infer *I)
{
    struct infer one = *I;
    one.nin = one.nin > 0;
    fold_cast(&one);
}

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

void
fold_add(struct infer *I)
{
    fold_known(I, add_kernel);
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

void
fold_mul(struct infer *I)
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

void
fold_max(struct infer *I)
{
    fold(I, max_kernel);
}

static struct num
min_kernel(const struct fold *F, const struct num *x, int n)
{
    return extreme(F, x, n, false);
}

void
fold_min(struct infer *I)
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

void
fold_clip(struct infer *I)
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

void
fold_and(struct infer *I)
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

void
fold_or(struct infer *I)
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

void
fold_where(struct infer *I)
{
    fold(I, where_kernel);
}

/* ---- values: movement -------------------------------------------------------------------------------------------- */

/* The same elements in the same order, under other dims. */
void
fold_copy(struct infer *I)
{
    struct tensor *o = out(I, 0);
    if (o && in(I, 0) && in(I, 0)->value && in(I, 0)->dtype == o->dtype && tensor_elements(o) == in(I, 0)->value->n)
        o->value = in(I, 0)->value;
}

void
fold_shape(struct infer *I)
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

void
fold_size(struct infer *I)
{
    int64_t n = in(I, 0) ? tensor_elements(in(I, 0)) : -1;
    struct constant *c = n < 0 ? NULL : constant_for(I, 0);
    if (!c)
        return;
    set(c, DT_INT64, 0, from_int(n));
    keep(I, 0, c);
}

void
fold_constant(struct infer *I)
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

void
fold_constant_of_shape(struct infer *I)
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

void
fold_range(struct infer *I)
{
    struct constant *c = move_range_count(I) < 0 ? NULL : constant_for(I, 0);
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
    int64_t pos[MAX_RANK] = {0}, at = base;
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
    if (rank(t) < 0 || tensor_elements(t) < 0 || tensor_elements(t) > limit(LIMIT_FOLD))
        return false;
    for (int i = t->rank - 1; i >= 0; i--) {
        step[i] = n;
        n *= t->dims[i].n;
    }
    return true;
}

void
fold_transpose(struct infer *I)
{
    int64_t from[MAX_RANK], step[MAX_RANK];
    int perm[MAX_RANK];
    if (!strides(in(I, 0), from) || !move_permutation(I, in(I, 0)->rank, perm))
        return;
    for (int i = 0; i < in(I, 0)->rank; i++)
        step[i] = from[perm[i]];
    move(I, 0, in(I, 0), 0, step);
}

void
fold_slice(struct infer *I)
{
    struct slice s[MAX_RANK];
    int64_t step[MAX_RANK], base = 0;
    const struct tensor *x = in(I, 0);
    if (!x || !x->value || !strides(x, step) || !move_slices_of(I, x, s))
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

void
fold_split(struct infer *I)
{
    int64_t step[MAX_RANK], base = 0;
    int axis;
    const struct tensor *x = in(I, 0);
    if (!x || !x->value || !strides(x, step) || !axis_in(node_int(I->n, "axis", 0), x->rank, &axis))
        return;
    for (int k = 0; k < I->nout; k++) {
        struct dim part = move_split_part(I, x->dims[axis], k);
        if (part.n < 0 || part.n > limit(LIMIT_FOLD))
            return;
        move(I, k, x, base, step);
        base += part.n * step[axis];
    }
}

void
fold_expand(struct infer *I)
{
    int64_t from[MAX_RANK], step[MAX_RANK] = {0};
    const struct tensor *x = in(I, 0);
    struct tensor *o = out(I, 0);
    if (!o || !x || !x->value || !strides(x, from) || o->rank < x->rank)
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
    int64_t from[MAX_RANK], pos[MAX_RANK] = {0};
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

void
fold_gather(struct infer *I)
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

void
fold_gather_elements(struct infer *I)
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

void
fold_gather_nd(struct infer *I)
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

void
fold_tile(struct infer *I)
{
    if (in(I, 0) && tensor_elements(in(I, 0)) > 0)
        pick(I, in(I, 0), tile_place);
}

void
fold_concat(struct infer *I)
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
    if (!c || !axis_in(move_concat_axis(I), o->rank, &axis))
        return;
    int64_t outer = 1, inner = 1, to = 0;
    for (int i = 0; i < o->rank; i++)
        *(i < axis ? &outer : &inner) *= i == axis ? 1 : o->dims[i].n;
    for (int k = 0; k < I->nin && outer; k++)
        if (in(I, k)->dims[axis].n * inner * outer != tensor_elements(in(I, k)))
            return;
    for (int64_t a = 0; a < outer; a++)
        for (int k = 0; k < I->nin; k++) {
            int64_t n = in(I, k)->dims[axis].n * inner;
            for (int64_t b = 0; b < n && to < c->n; b++)
                set(c, o->dtype, (int)to++, get(in(I, k), (int)(a * n + b)));
        }
    keep(I, 0, c);
}

void
fold_pad(struct infer *I)
{
    const struct tensor *x = in(I, 0);
    struct tensor *o = out(I, 0);
    int64_t before[MAX_RANK], after[MAX_RANK], from[MAX_RANK], pos[MAX_RANK] = {0};
    bool is_known[MAX_RANK];
    const char *mode = node_str(I->n, "mode", "constant");
    if (!x || !x->value || strcmp(mode, "constant") != 0 || !strides(x, from) ||
        !move_pads_of(I, x->rank, before, after, is_known))
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

void
fold_scatter_nd(struct infer *I)
{
    const struct tensor *x = in(I, 0), *idx = in(I, 1), *u = in(I, 2);
    int64_t from[MAX_RANK];
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

void
fold_scatter_elements(struct infer *I)
{
    const struct tensor *x = in(I, 0), *idx = in(I, 1), *u = in(I, 2);
    int64_t from[MAX_RANK], pos[MAX_RANK] = {0};
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

/* ---- values: reductions ------------------------------------------------------------------------------------------ */

/* Folds a step over the named axes; the mean is the sum divided by the count at the end. */
static void
reduce(struct infer *I, struct num (*step)(bool, struct num, struct num), struct num start, bool mean)
{
    const struct tensor *x = in(I, 0);
    struct tensor *o = out(I, 0);
    struct list axes = list_of(I, "axes", 1);
    bool named[MAX_RANK];
    int64_t from[MAX_RANK], pos[MAX_RANK] = {0};
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

void
fold_reduce_sum(struct infer *I)
{
    reduce(I, add_step, from_int(0), false);
}

void
fold_reduce_mean(struct infer *I)
{
    reduce(I, add_step, from_int(0), true);
}

void
fold_reduce_prod(struct infer *I)
{
    reduce(I, mul_step, from_int(1), false);
}

void
fold_reduce_max(struct infer *I)
{
    reduce(I, max_step, UNKNOWN, false);
}

void
fold_reduce_min(struct infer *I)
{
    reduce(I, min_step, UNKNOWN, false);
}

static void
running(struct infer *I, struct num (*step)(bool, struct num, struct num), struct num start)
{
    const struct tensor *x = in(I, 0);
    int64_t axis, from[MAX_RANK] = {0};
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

void
fold_cum_sum(struct infer *I)
{
    running(I, add_step, from_int(0));
}

void
fold_cum_prod(struct infer *I)
{
    running(I, mul_step, from_int(1));
}

void
fold_nonzero(struct infer *I)
{
    const struct tensor *x = in(I, 0);
    int64_t pos[MAX_RANK] = {0};
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

void
fold_compress(struct infer *I)
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

void
fold_sequence_length(struct infer *I)
{
    const struct tensor *s = in(I, 0);
    struct constant *c = s && s->seq ? constant_for(I, 0) : NULL;
    if (!c)
        return;
    set(c, DT_INT64, 0, from_int(s->seq->n));
    keep(I, 0, c);
}

void
fold_sequence_at(struct infer *I)
{
    const struct tensor *s = in(I, 0);
    int at = s && s->seq ? control_position(I, 1, s->seq->n, 0) : -1;
    if (at >= 0 && at < s->seq->n && out(I, 0))
        out(I, 0)->value = s->seq->elem[at]->value;
}

void
fold_optional_has(struct infer *I)
{
    const struct tensor *x = in(I, 0);
    struct constant *c = !x || *x->wrap != 'o' ? constant_for(I, 0) : NULL;
    if (!c)
        return;
    set(c, DT_BOOL, 0, from_int(x != NULL));
    keep(I, 0, c);
}
