/* SPDX-License-Identifier: Apache-2.0 */
/* linalg.c - factorizations of matrices, solvers, and their gradients.
 *
 * Sizes and strides are those of the meta kernels (torch/_meta_registrations.py): LAPACK's matrices have their columns
 * one after the other. Gradients follow torch/csrc/autograd/FunctionsManual.cpp, of real numbers: a line here is a
 * statement there, whose temporaries die with it, and C++ evaluates operands from the right.
 */
#include "torch/run.h"

/* ---- short names of calls ---------------------------------------------------------------------------------------- */

static struct value *
adjoint(struct machine *m, struct value *v)
{
    return OP(m, "transpose.int", VAL(v), INT(-2), INT(-1));
}

static struct value *
product(struct machine *m, struct value *a, struct value *b)
{
    return OP(m, "matmul.default", VAL(a), VAL(b));
}

static struct value *
sum(struct machine *m, struct value *a, struct value *b)
{
    return OP(m, "add.Tensor", VAL(a), VAL(b));
}

static struct value *
difference(struct machine *m, struct value *a, struct value *b)
{
    return OP(m, "sub.Tensor", VAL(a), VAL(b));
}

static struct value *
times(struct machine *m, struct value *a, struct value *b)
{
    return OP(m, "mul.Tensor", VAL(a), VAL(b));
}

static struct value *
ratio(struct machine *m, struct value *a, struct value *b)
{
    return OP(m, "div.Tensor", VAL(a), VAL(b));
}

static struct value *
minus(struct machine *m, struct value *v)
{
    return OP(m, "neg.default", VAL(v));
}

static struct value *
lower(struct machine *m, struct value *v, int diagonal)
{
    return OP(m, "tril.default", VAL(v), INT(diagonal));
}

static struct value *
upper(struct machine *m, struct value *v, int diagonal)
{
    return OP(m, "triu.default", VAL(v), INT(diagonal));
}

static struct value *
row_of(struct machine *m, struct value *v) /* v.unsqueeze(-2) */
{
    return OP(m, "unsqueeze.default", VAL(v), INT(-2));
}

static struct value *
column_of(struct machine *m, struct value *v) /* v.unsqueeze(-1) */
{
    return OP(m, "unsqueeze.default", VAL(v), INT(-1));
}

static int64_t
rows(const struct value *v)
{
    return v->size[v->rank - 2];
}

static int64_t
columns(const struct value *v)
{
    return v->size[v->rank - 1];
}

static struct value *
joined(struct machine *m, struct value *a, struct value *b, int dim)
{
    struct arg both = {.kind = ARG_LIST, .n = 2, .list = (struct arg[]){VAL(a), VAL(b)}};
    return OP(m, "cat.default", both, INT(dim));
}

enum side { RIGHT, LEFT };
enum triangle { LOWER, UPPER };

/* Solves A X = B, or X A = B, of a triangle. */
static struct value *
solve(struct machine *m, struct value *a, struct value *b, enum triangle t, enum side s, bool unit)
{
    return OP(m, "linalg_solve_triangular.default", VAL(a), VAL(b), BOOL(t == UPPER), BOOL(s == LEFT), BOOL(unit));
}

/* ---- results ----------------------------------------------------------------------------------------------------- */

enum order_of_matrix { BY_ROWS, BY_COLUMNS };

/* A result of v's type with v's batches: matrices. */
static void
add_matrices(struct machine *m, struct frame *f, const struct value *v, int64_t nrows, int64_t ncolumns,
             enum order_of_matrix order)
{
    int64_t size[RANK], stride[RANK];
    uint64_t run = (uint64_t)nrows * (uint64_t)ncolumns; /* of no consequence where it is too large */
    int n = v->rank - 2;
    memcpy(size, v->size, sizeof(*size) * (size_t)n);
    size[n] = nrows;
    size[n + 1] = ncolumns;
    stride[n] = order == BY_COLUMNS || ncolumns < 1 ? 1 : ncolumns;
    stride[n + 1] = order == BY_COLUMNS && nrows > 1 ? nrows : 1;
    for (int i = n; i-- > 0; run *= size[i] > 1 ? (uint64_t)size[i] : 1)
        stride[i] = run > 1 ? (int64_t)run : 1;
    out_add(m, f, value_new(m, v->dtype, v->rank, size, stride));
}

/* The same with the sizes of v's first dimensions, a number or a vector each. */
static void
add_numbers(struct machine *m, struct frame *f, const struct value *v, enum dtype t, int rank)
{
    out_add(m, f, value_new(m, t, rank, v->size, NULL));
}

static void
add_vectors(struct machine *m, struct frame *f, const struct value *v, enum dtype t, int64_t n)
{
    int64_t size[RANK];
    memcpy(size, v->size, sizeof(*size) * (size_t)v->rank);
    size[v->rank - 2] = n;
    out_add(m, f, value_new(m, t, v->rank - 1, size, NULL));
}

static void
add_nothing(struct machine *m, struct frame *f)
{
    out_add(m, f, value_new(m, V(0)->dtype, 1, (int64_t[]){0}, NULL));
}

static int64_t
smaller(const struct value *v)
{
    return rows(v) < columns(v) ? rows(v) : columns(v);
}

/* A matrix like the first argument, in LAPACK's order. */
void
run_factor(struct machine *m, struct frame *f)
{
    add_matrices(m, f, V(0), rows(V(0)), columns(V(0)), BY_COLUMNS);
}

/* One in rows. */
void
run_pinv(struct machine *m, struct frame *f)
{
    add_matrices(m, f, V(0), columns(V(0)), rows(V(0)), BY_ROWS);
}

/* (vectors, factors, other): as the last. */
void
run_ormqr(struct machine *m, struct frame *f)
{
    add_matrices(m, f, V(2), rows(V(2)), columns(V(2)), BY_COLUMNS);
}

/* And for each matrix whether it could be done. */
void
run_factor_ex(struct machine *m, struct frame *f)
{
    run_factor(m, f);
    add_numbers(m, f, V(0), DT_INT32, V(0)->rank - 2);
}

/* Numbers of each matrix, its factors, its pivots: _linalg_det has one number, _linalg_slogdet two. */
static void
determinants(struct machine *m, struct frame *f, int n)
{
    for (int i = 0; i < n; i++)
        add_numbers(m, f, V(0), V(0)->dtype, V(0)->rank - 2);
    run_factor(m, f);
    add_numbers(m, f, V(0), DT_INT32, V(0)->rank - 1);
}

void
run_det(struct machine *m, struct frame *f)
{
    determinants(m, f, 1);
}

void
run_slogdet(struct machine *m, struct frame *f)
{
    determinants(m, f, 2);
}

/* (A, UPLO, compute_v) */
void
run_eigh(struct machine *m, struct frame *f)
{
    add_numbers(m, f, V(0), V(0)->dtype, V(0)->rank - 1);
    if (arg_int(f, 2, 1))
        run_factor(m, f);
    else
        add_nothing(m, f);
}

/* (A, full_matrices, compute_uv) */
void
run_svd(struct machine *m, struct frame *f)
{
    struct value *v = V(0);
    bool full = arg_int(f, 1, 0), vectors = arg_int(f, 2, 1);
    int64_t k = smaller(v);
    if (vectors)
        add_matrices(m, f, v, rows(v), full ? rows(v) : k, BY_COLUMNS);
    else
        add_nothing(m, f);
    add_vectors(m, f, v, v->dtype, k);
    if (vectors)
        add_matrices(m, f, v, full ? columns(v) : k, columns(v), BY_ROWS);
    else
        add_nothing(m, f);
}

/* (A, mode): "reduced", "complete" or "r". */
void
run_qr(struct machine *m, struct frame *f)
{
    struct value *v = V(0);
    const char *mode = f->n > 1 && f->a[1].kind == ARG_TEXT ? f->a[1].s : "reduced";
    bool complete = strcmp(mode, "complete") == 0;
    if (strcmp(mode, "r") == 0)
        add_nothing(m, f);
    else
        add_matrices(m, f, v, rows(v), complete ? rows(v) : smaller(v), BY_COLUMNS);
    add_matrices(m, f, v, complete ? rows(v) : smaller(v), columns(v), BY_COLUMNS);
}

/* (A, pivot) */
void
run_lu_factor(struct machine *m, struct frame *f)
{
    run_factor(m, f);
    add_vectors(m, f, V(0), DT_INT32, smaller(V(0)));
    add_numbers(m, f, V(0), DT_INT32, V(0)->rank - 2);
}

/* P, L and U. */
static void
triangles(struct machine *m, struct frame *f, bool pivots, bool data)
{
    struct value *v = V(0);
    int64_t k = smaller(v);
    if (pivots)
        add_matrices(m, f, v, rows(v), rows(v), BY_ROWS);
    else
        add_nothing(m, f);
    if (data) {
        add_matrices(m, f, v, rows(v), k, BY_ROWS);
        add_matrices(m, f, v, k, columns(v), BY_ROWS);
    } else {
        add_nothing(m, f);
        add_nothing(m, f);
    }
}

/* (A, pivot) */
void
run_lu(struct machine *m, struct frame *f)
{
    triangles(m, f, arg_int(f, 1, 1), true);
}

/* (LU, pivots, unpack_data, unpack_pivots) */
void
run_lu_unpack(struct machine *m, struct frame *f)
{
    triangles(m, f, arg_int(f, 3, 1), arg_int(f, 2, 1));
}

/* Like b, with the batches of a and b. */
static void
add_solution(struct machine *m, struct frame *f, struct value *b, const struct value *a, enum order_of_matrix order)
{
    struct value batches[2] = {*a, *b}, like = *b;
    int64_t size[RANK];
    batches[0].rank -= 2;
    batches[1].rank -= 2;
    like.rank = 2 + layout_broadcast((struct arg[]){VAL(&batches[0]), VAL(&batches[1])}, 2, size);
    like.size = size;
    add_matrices(m, f, &like, rows(b), columns(b), order);
}

/* (B, A) */
void
run_solution(struct machine *m, struct frame *f)
{
    add_solution(m, f, V(0), V(1), BY_COLUMNS);
}

/* (A, B) */
void
run_solve_triangular(struct machine *m, struct frame *f)
{
    add_solution(m, f, V(1), V(0), BY_COLUMNS);
}

/* (B, A): and A in LAPACK's order. */
void
run_triangular_solve(struct machine *m, struct frame *f)
{
    add_solution(m, f, V(0), V(1), BY_COLUMNS);
    add_solution(m, f, V(1), V(0), BY_COLUMNS);
}

/* (LU, pivots, B, left) */
void
run_lu_solve(struct machine *m, struct frame *f)
{
    add_solution(m, f, V(2), V(0), arg_int(f, 3, 1) ? BY_COLUMNS : BY_ROWS);
}

/* Whether b is a vector for each of A's matrices. Source: linalg_solve_is_vector_rhs in LinearAlgebraUtils.h. */
static bool
is_vector(const struct value *a, const struct value *b)
{
    if (b->rank == 1)
        return true;
    if (a->rank - 1 != b->rank)
        return false;
    return memcmp(a->size, b->size, sizeof(*a->size) * (size_t)b->rank) == 0;
}

/* (A, B, left): the solution, A's factors, its pivots, whether it could be done. */
void
run_solve_ex(struct machine *m, struct frame *f)
{
    struct value *a = V(0), *b = V(1);
    enum order_of_matrix order = arg_int(f, 2, 1) ? BY_COLUMNS : BY_ROWS;
    if (!is_vector(a, b))
        add_solution(m, f, b, a, order);
    else if (a->rank == 2)
        out_add(m, f, value_new(m, b->dtype, 1, a->size, NULL));
    else /* the vectors of a batch lie as a matrix */
        add_matrices(m, f, &(struct value){.dtype = b->dtype, .rank = a->rank - 1, .size = a->size},
                     a->size[a->rank - 3], a->size[a->rank - 2], order);
    run_factor(m, f);
    add_numbers(m, f, a, DT_INT32, a->rank - 1);
    add_numbers(m, f, a, DT_INT32, a->rank - 2);
}

/* ---- gradients --------------------------------------------------------------------------------------------------- */

/* Of each vector the matrix with that diagonal; one number stands for all of a vector's. */
static struct value *
diagonal_matrix(struct machine *m, struct value *v, int rank, const int64_t *sizes)
{
    const struct arg a = VAL(OP(m, "expand.default", VAL(v), ints_arg(m, rank, sizes)));
    int64_t size[RANK];
    memcpy(size, sizes, sizeof(*size) * (size_t)rank);
    size[rank] = sizes[rank - 1];
    return dispatch(m, aten_find("diag_embed.default"), 1, &a, &(struct frame){.rank = rank + 1, .size = size})->out[0];
}

/* (grad, LU, pivots). Source: slogdet_backward. */
void
expand_slogdet_backward(struct machine *m, struct frame *f)
{
    struct value *d = diagonal_matrix(m, column_of(m, V(0)), V(2)->rank, V(2)->size);
    out_add(m, f, OP(m, "linalg_lu_solve.default", VAL(V(1)), VAL(V(2)), VAL(adjoint(m, d))));
}

/* (grad, det, LU, pivots): of a matrix that a singular one is close to. Source: linalg_det_backward. */
void
expand_det_backward(struct machine *m, struct frame *f)
{
    struct value *lu = V(2), *pivots = V(3), *g = times(m, V(0), V(1)), *moved = NULL;
    struct value *d = adjoint(m, diagonal_matrix(m, column_of(m, g), pivots->rank, pivots->size));
    int mark = scope_begin(m);
    struct value *diagonal = OP(m, "diagonal.default", VAL(lu), INT(0), INT(-2), INT(-1));
    struct value *zero = OP(m, "eq.Scalar", VAL(diagonal), INT(0));
    zero = OP(m, "where.Scalar", VAL(zero), FLT(1), FLT(0));
    scope_assign(m, mark, &moved, sum(m, lu, diagonal_matrix(m, zero, pivots->rank, pivots->size)));
    out_add(m, f, OP(m, "linalg_lu_solve.default", VAL(moved), VAL(pivots), VAL(d)));
}

/* (x, y, dim). Source: linalg_vecdot in aten/src/ATen/native/LinearAlgebra.cpp. */
void
expand_vecdot(struct machine *m, struct frame *f)
{
    if (V(0)->rank == 1 && V(1)->rank == 1)
        out_add(m, f, OP(m, "vdot.default", VAL(V(0)), VAL(V(1))));
    else
        out_add(
            m, f,
            OP(m, "sum.dim_IntList", VAL(times(m, OP(m, "conj.default", VAL(V(0))), V(1))), INT(arg_int(f, 2, -1))));
}

/* Source: linalg_det and logdet in aten/src/ATen/native/LinearAlgebra.cpp. */
void
expand_det(struct machine *m, struct frame *f)
{
    out_add(m, f, OP(m, "_linalg_det.default", VAL(V(0))));
}

void
expand_logdet(struct machine *m, struct frame *f)
{
    struct arg a = VAL(V(0));
    struct frame *s = dispatch(m, aten_find("_linalg_slogdet.default"), 1, &a, NULL);
    struct value *negative = OP(m, "eq.Scalar", VAL(s->out[0]), INT(-1));
    out_add(m, f, OP(m, "where.ScalarSelf", VAL(negative), FLT(0), VAL(s->out[1])));
}

/* (grad, upper, L). Source: cholesky_backward. */
void
expand_cholesky_backward(struct machine *m, struct frame *f)
{
    bool turned = arg_int(f, 1, 0);
    struct value *l = turned ? adjoint(m, V(2)) : V(2), *gl = turned ? adjoint(m, V(0)) : V(0), *g = NULL;
    LET(g, lower(m, product(m, adjoint(m, l), gl), 0));
    LET(g, OP(m, "mul.Scalar", VAL(sum(m, g, adjoint(m, lower(m, g, -1)))), FLT(0.5)));
    LET(g, solve(m, adjoint(m, l), g, UPPER, LEFT, false));
    LET(g, solve(m, l, g, LOWER, RIGHT, false));
    out_add(m, f, g);
}

/* -L x, or -x L */
static struct value *
minus_product(struct machine *m, struct value *l, struct value *x, enum triangle t)
{
    return minus(m, t == UPPER ? product(m, l, x) : product(m, x, l));
}

/* (grad, L, upper, inverse). Source: cholesky_inverse_backward. */
void
expand_cholesky_inverse_backward(struct machine *m, struct frame *f)
{
    struct value *common = NULL;
    LET(common, sum(m, V(0), adjoint(m, V(0))));
    LET(common, product(m, V(3), product(m, common, V(3))));
    out_add(m, f, minus_product(m, V(1), common, arg_int(f, 2, 0) ? UPPER : LOWER));
}

/* (grad, self, input2, result, upper): of both. Source: cholesky_solve_backward. */
void
expand_cholesky_solve_backward(struct machine *m, struct frame *f)
{
    struct value *g = OP(m, "cholesky_solve.default", VAL(V(0)), VAL(V(2)), f->a[4]), *common = NULL, *gl = NULL;
    if (f->want & 2) {
        LET(common, product(m, g, adjoint(m, V(3))));
        LET(common, sum(m, common, adjoint(m, common)));
        LET(gl, minus_product(m, V(2), common, arg_int(f, 4, 0) ? UPPER : LOWER));
    }
    out_add(m, f, g);
    out_add(m, f, gl);
}

/* (grad, A, X, upper, left, unitriangular): of A and of B. Source: linalg_solve_triangular_backward. */
void
expand_solve_triangular_backward(struct machine *m, struct frame *f)
{
    struct value *a = adjoint(m, V(1)), *ga = NULL, *x = NULL;
    bool is_upper = arg_int(f, 3, 0), left = arg_int(f, 4, 1), unit = arg_int(f, 5, 0);
    struct value *gb = solve(m, a, V(0), is_upper ? LOWER : UPPER, left ? LEFT : RIGHT, unit);
    if (f->want & 1) {
        x = adjoint(m, V(2));
        LET(ga, minus(m, left ? product(m, gb, x) : product(m, x, gb)));
        LET(ga, is_upper ? upper(m, ga, unit) : lower(m, ga, -(int)unit));
    }
    out_add(m, f, ga);
    out_add(m, f, gb);
}

/* One zero, seen in v's sizes: at::zeros({1}).expand(v.sizes()). */
static struct value *
zero_like(struct machine *m, const struct value *v)
{
    struct value *zero = OP(m, "zeros.default", ints_arg(m, 1, (int64_t[]){1}), DTYPE(v->dtype));
    return OP(m, "expand.default", VAL(zero), ints_arg(m, v->rank, v->size));
}

/* (grad, cloned's, b, A, x, upper, transpose, unitriangular): of b and of A. Source: triangular_solve_backward. */
void
expand_triangular_solve_backward(struct machine *m, struct frame *f)
{
    struct value *gb = NULL, *ga = NULL, *a = V(3);
    bool is_upper = arg_int(f, 5, 1), transpose = arg_int(f, 6, 0), unit = arg_int(f, 7, 0);
    if (V(0)) {
        LET(gb, OP(m, "triangular_solve.default", VAL(V(0)), VAL(a), BOOL(is_upper), BOOL(!transpose), BOOL(unit)));
        if (f->want & 2) {
            LET(ga, minus(m, transpose ? product(m, V(4), adjoint(m, gb)) : product(m, gb, adjoint(m, V(4)))));
            LET(ga, is_upper ? upper(m, ga, unit) : lower(m, ga, -(int)unit));
        }
    }
    if (!ga)
        LET(ga, zero_like(m, a));
    if (!gb)
        LET(gb, zero_like(m, V(2)));
    if (f->want & 2 && V(1))
        LET(ga, sum(m, ga, V(1)));
    out_add(m, f, gb);
    out_add(m, f, ga);
}

/* (grad, X, A, LU, pivots, left): of A and of B; rows or columns decide alone whether A's transpose is solved for.
 * Source: linalg_solve_backward. */
void
expand_solve_backward(struct machine *m, struct frame *f)
{
    struct value *x = V(1), *g = V(0), *ga = NULL, *gb = NULL;
    bool vector = is_vector(V(3), x), left = arg_int(f, 5, 1);
    LET(gb, OP(m, "linalg_lu_solve.default", VAL(V(3)), VAL(V(4)), VAL(vector ? column_of(m, g) : g), BOOL(left)));
    if (f->want & 1) {
        x = adjoint(m, vector ? column_of(m, x) : x);
        LET(ga, minus(m, left ? product(m, gb, x) : product(m, x, gb)));
    }
    out_add(m, f, ga);
    out_add(m, f, f->want & 2 ? vector ? OP(m, "squeeze.dim", VAL(gb), INT(-1)) : gb : NULL);
}

/* (grad, A's inverse), -inverse^T (grad inverse^T). Source: derivatives.yaml, linalg_inv_ex. */
void
expand_inverse_backward(struct machine *m, struct frame *f)
{
    struct value *turned = adjoint(m, V(1));
    out_add(m, f, minus(m, product(m, turned, product(m, V(0), turned))));
}

/* (grad, A's pseudoinverse, A). Source: pinv_backward. */
void
expand_pinv_backward(struct machine *m, struct frame *f)
{
    struct value *p = V(1), *a = V(2), *ph = adjoint(m, p), *gh = adjoint(m, V(0)), *k = NULL, *kp = NULL;
    bool wide = rows(a) <= columns(a);
    LET(k, wide ? product(m, gh, p) : product(m, p, gh));
    LET(kp, wide ? product(m, k, ph) : product(m, ph, k));
    if (wide) {
        struct value *pp = product(m, ph, p), *rest = difference(m, gh, product(m, k, a));
        struct value *last = product(m, pp, rest);
        struct value *third = product(m, product(m, a, p), kp);
        struct value *first = adjoint(m, product(m, p, k));
        struct value *g = sum(m, minus(m, first), kp);
        out_add(m, f, sum(m, difference(m, g, third), last));
    } else {
        struct value *last = product(m, product(m, kp, p), a);
        struct value *rest = difference(m, gh, product(m, a, k));
        struct value *second = product(m, product(m, rest, p), ph);
        struct value *first = minus(m, adjoint(m, product(m, k, p)));
        struct value *g = sum(m, first, second);
        out_add(m, f, difference(m, sum(m, g, kp), last));
    }
}

/* The diagonal of ones is written in place. */
static struct value *
gaps(struct machine *m, struct value *v)
{
    struct value *across = column_of(m, v);
    return difference(m, row_of(m, v), across);
}

/* (grad of the values, of the vectors, values, vectors). Source: linalg_eig_backward, of what is symmetric. */
void
expand_eigh_backward(struct machine *m, struct frame *f)
{
    struct value *v = V(3), *g = NULL, *e = NULL;
    if (!V(1)) {
        out_add(m, f, product(m, times(m, v, row_of(m, V(0))), adjoint(m, v)));
        return;
    }
    struct value *diagonal = product(m, adjoint(m, v), V(1)); /* a view of it lives to the end */
    int mark = scope_begin(m);
    LET(g, OP(m, "mul.Scalar", VAL(difference(m, diagonal, adjoint(m, diagonal))), FLT(0.5)));
    LET(e, gaps(m, V(2)));
    struct value *whole = g; /* divided in place */
    if (V(0) && !m->real)
        whole = OP(m, "diagonal_scatter.default", VAL(g), VAL(V(0)), INT(0), INT(-2), INT(-1));
    scope_end(m, mark, 1, &whole);
    out_add(m, f, product(m, v, product(m, whole, adjoint(m, v))));
}

/* (grad of U, of S, of Vh, U, S, Vh, full_matrices). Source: svd_backward. */
void
expand_svd_backward(struct machine *m, struct frame *f)
{
    struct value *gu = V(0), *gs = V(1), *gv = V(2), *u = V(3), *s = V(4), *vh = V(5), *g = NULL;
    struct value *of_u = NULL, *of_v = NULL, *e = NULL;
    if (arg_int(f, 6, 0)) {
        int64_t k = s->size[s->rank - 1];
        gu = gu ? range_of(m, gu, -1, 0, k) : NULL;
        gv = gv ? range_of(m, gv, -2, 0, k) : NULL;
        u = range_of(m, u, -1, 0, k);
        vh = range_of(m, vh, -2, 0, k);
    }
    int64_t nrows = rows(u), ncolumns = columns(vh);
    if (!gu && !gv) {
        out_add(m, f,
                nrows >= ncolumns ? product(m, u, times(m, column_of(m, gs), vh))
                                  : product(m, times(m, u, row_of(m, gs)), vh));
        return;
    }
    if (gu) {
        int mark = scope_begin(m);
        struct value *x = product(m, adjoint(m, u), gu);
        scope_assign(m, mark, &of_u, difference(m, x, adjoint(m, x)));
    }
    if (gv) {
        int mark = scope_begin(m);
        struct value *x = product(m, vh, adjoint(m, gv));
        scope_assign(m, mark, &of_v, difference(m, x, adjoint(m, x)));
    }
    int mark = scope_begin(m);
    LET(e, gaps(m, times(m, s, s)));
    if (gu && gv) {
        int statement = scope_begin(m);
        struct value *right = times(m, column_of(m, s), of_v);
        scope_assign(m, statement, &g, ratio(m, sum(m, times(m, of_u, row_of(m, s)), right), e));
    } else {
        LET(g, gu ? times(m, ratio(m, of_u, e), row_of(m, s)) : times(m, column_of(m, s), ratio(m, of_v, e)));
    }
    scope_end(m, mark, 1, &g);
    if (gs)
        LET(g, sum(m, g, diagonal_matrix(m, gs, gs->rank, gs->size)));
    if (nrows > ncolumns && gu) {
        struct value *inverse = NULL;
        LET(g, product(m, u, g));
        LET(inverse, ratio(m, gu, row_of(m, s)));
        mark = scope_begin(m);
        struct value *right = product(m, u, product(m, adjoint(m, u), inverse));
        scope_assign(m, mark, &g, difference(m, sum(m, g, inverse), right));
        LET(g, product(m, g, vh));
    } else if (nrows < ncolumns && gv) {
        struct value *inverse = NULL;
        LET(g, product(m, g, vh));
        LET(inverse, ratio(m, gv, column_of(m, s)));
        mark = scope_begin(m);
        struct value *right = product(m, product(m, inverse, adjoint(m, vh)), vh);
        scope_assign(m, mark, &g, difference(m, sum(m, g, inverse), right));
        LET(g, product(m, u, g));
    } else {
        LET(g, nrows >= ncolumns ? product(m, u, product(m, g, vh)) : product(m, product(m, u, g), vh));
    }
    out_add(m, f, g);
}

/* (grad of Q, of R, Q, R). Source: linalg_qr_backward. */
void
expand_qr_backward(struct machine *m, struct frame *f)
{
    struct value *gq = V(0), *gr = V(1), *q = V(2), *r = V(3), *g = NULL, *inner = NULL;
    int64_t nrows = rows(q), ncolumns = columns(r);
    int mark = scope_begin(m);
    if (gq && gr) {
        struct value *right = product(m, adjoint(m, q), gq);
        g = difference(m, product(m, gr, adjoint(m, r)), right);
    } else {
        g = gq ? minus(m, product(m, adjoint(m, q), gq)) : product(m, gr, adjoint(m, r));
    }
    scope_end(m, mark, 1, &g);
    mark = scope_begin(m);
    if (nrows >= ncolumns) {
        struct value *x = upper(m, g, 0);
        inner = sum(m, x, adjoint(m, x));
        scope_assign(m, mark, &g, product(m, q, inner));
        if (gq)
            LET(g, sum(m, g, gq));
        LET(g, solve(m, adjoint(m, r), g, LOWER, RIGHT, false));
    } else {
        struct value *x = minus(m, g);
        int lambda = scope_begin(m);
        inner = lower(m, difference(m, x, adjoint(m, x)), 0);
        scope_end(m, lambda, 1, &inner);
        scope_assign(m, mark, &g, product(m, q, inner));
        LET(g, solve(m, adjoint(m, range_of(m, r, -1, 0, nrows)), g, LOWER, RIGHT, false));
        int64_t size[RANK];
        memcpy(size, r->size, sizeof(*size) * (size_t)r->rank);
        size[r->rank - 1] = ncolumns - nrows;
        LET(g, joined(m, g, OP(m, "new_zeros.default", VAL(g), ints_arg(m, r->rank, size)), -1));
        if (gr)
            LET(g, sum(m, g, product(m, q, gr)));
    }
    out_add(m, f, g);
}

/* The gradient of the matrix whose factors are P, L and U; P NULL: there were no pivots. Source: linalg_lu_backward. */
static struct value *
lu_backward(struct machine *m, struct value *gl, struct value *gu, struct value *p, struct value *l, struct value *u)
{
    int64_t nrows = rows(l), ncolumns = columns(u), k = nrows < ncolumns ? nrows : ncolumns;
    struct value *g = NULL;
    if (nrows == ncolumns) {
        if (gl)
            LET(g, lower(m, product(m, adjoint(m, l), gl), -1));
        if (gu && g)
            LET(g, sum(m, g, upper(m, product(m, gu, adjoint(m, u)), 0)));
        else if (gu)
            LET(g, upper(m, product(m, gu, adjoint(m, u)), 0));
        LET(g, solve(m, adjoint(m, u), g, LOWER, RIGHT, false));
        LET(g, solve(m, adjoint(m, l), g, UPPER, LEFT, true));
    } else if (nrows < ncolumns) {
        if (gl)
            LET(g, product(m, adjoint(m, l), gl));
        if (gu && g)
            LET(g, difference(m, g, product(m, upper(m, gu, 0), adjoint(m, u))));
        else if (gu)
            LET(g, minus(m, product(m, upper(m, gu, 0), adjoint(m, u))));
        LET(g, solve(m, adjoint(m, range_of(m, u, -1, 0, k)), lower(m, g, -1), LOWER, RIGHT, false));
        if (gu)
            LET(g,
                joined(m, sum(m, g, upper(m, range_of(m, gu, -1, 0, k), 0)), range_of(m, gu, -1, k, ncolumns - k), -1));
        LET(g, solve(m, adjoint(m, l), g, UPPER, LEFT, true));
        if (!gu)
            LET(g, joined(m, g, OP(m, "zeros_like.default", VAL(range_of(m, u, -1, k, ncolumns - k))), -1));
    } else {
        if (gu)
            LET(g, product(m, gu, adjoint(m, u)));
        if (gl && g)
            LET(g, difference(m, g, product(m, adjoint(m, l), lower(m, gl, -1))));
        else if (gl)
            LET(g, minus(m, product(m, adjoint(m, l), lower(m, gl, -1))));
        LET(g, solve(m, adjoint(m, range_of(m, l, -2, 0, k)), upper(m, g, 0), UPPER, LEFT, true));
        if (gl)
            LET(g,
                joined(m, sum(m, g, lower(m, range_of(m, gl, -2, 0, k), -1)), range_of(m, gl, -2, k, nrows - k), -2));
        LET(g, solve(m, adjoint(m, u), g, LOWER, RIGHT, false));
        if (!gl)
            LET(g, joined(m, g, OP(m, "zeros_like.default", VAL(range_of(m, l, -2, k, nrows - k))), -2));
    }
    return p ? product(m, p, g) : g;
}

/* (grad of L, of U, P, L, U, pivot) */
void
expand_lu_backward(struct machine *m, struct frame *f)
{
    out_add(m, f, lu_backward(m, V(0), V(1), arg_int(f, 5, 1) ? V(2) : NULL, V(3), V(4)));
}

/* (grad, LU, pivots, pivot). Source: lu_factor_ex_backward. */
void
expand_lu_factor_backward(struct machine *m, struct frame *f)
{
    bool pivot = arg_int(f, 3, 1);
    const struct arg a[] = {VAL(V(1)), VAL(V(2)), BOOL(true), BOOL(pivot)};
    struct frame *s = dispatch(m, aten_find("lu_unpack.default"), COUNT(a), a, NULL);
    int64_t k = smaller(V(1));
    struct value *gl = range_of(m, V(0), -1, 0, k), *gu = range_of(m, V(0), -2, 0, k);
    out_add(m, f, lu_backward(m, gl, gu, pivot ? s->out[0] : NULL, s->out[1], s->out[2]));
}

/* (grad of L, of U, LU). Source: lu_unpack_backward. */
void
expand_lu_unpack_backward(struct machine *m, struct frame *f)
{
    struct value *gl = V(0), *gu = V(1), *g = NULL;
    int64_t nrows = rows(V(2)), ncolumns = columns(V(2)), k = smaller(V(2)), size[RANK];
    bool tall = nrows > ncolumns;
    memcpy(size, V(2)->size, sizeof(*size) * (size_t)V(2)->rank);
    if (gl && gu) {
        int mark = scope_begin(m);
        struct value *right = upper(m, ncolumns == k ? gu : range_of(m, gu, -1, 0, k), 0);
        struct value *left = lower(m, nrows == k ? gl : range_of(m, gl, -2, 0, k), -1);
        scope_assign(m, mark, &g, sum(m, left, right));
        if (nrows != ncolumns)
            g = tall ? joined(m, g, range_of(m, gl, -2, k, nrows - k), -2)
                     : joined(m, g, range_of(m, gu, -1, k, ncolumns - k), -1);
    } else {
        int dim = gl ? -1 : -2;
        g = gl ? lower(m, gl, -1) : upper(m, gu, 0);
        size[V(2)->rank + dim] = gl ? ncolumns - nrows : nrows - ncolumns;
        if (size[V(2)->rank + dim] > 0)
            g = joined(m, g, OP(m, "zeros.default", ints_arg(m, V(2)->rank, size), DTYPE(g->dtype)), dim);
    }
    out_add(m, f, g);
}

/* (grad, LU, pivots, X, left, adjoint). Source: linalg_lu_solve_LU. */
void
expand_lu_solve_backward(struct machine *m, struct frame *f)
{
    struct value *gx = V(0), *x = V(3), *r = NULL, *other = NULL;
    bool left = arg_int(f, 4, 1), same = left == (bool)arg_int(f, 5, 0);
    const struct arg a[] = {VAL(V(1)), VAL(V(2)), BOOL(true), BOOL(same)};
    struct frame *s = dispatch(m, aten_find("lu_unpack.default"), COUNT(a), a, NULL);
    struct value *p = s->out[0], *l = s->out[1], *u = s->out[2];
    if (!same) {
        LET(r, solve(m, adjoint(m, u), minus(m, product(m, left ? gx : adjoint(m, gx), left ? adjoint(m, x) : x)),
                     LOWER, LEFT, false));
        LET(other, lower(m, solve(m, adjoint(m, l), product(m, r, adjoint(m, u)), UPPER, LEFT, true), -1));
        out_add(m, f, sum(m, other, upper(m, r, 0)));
    } else {
        int mark = scope_begin(m);
        struct value *moved = product(m, adjoint(m, p), left ? x : adjoint(m, x));
        moved = product(m, moved, left ? adjoint(m, gx) : gx);
        scope_assign(m, mark, &r, minus(m, product(m, moved, p)));
        LET(r, solve(m, adjoint(m, l), r, UPPER, RIGHT, true));
        LET(other, upper(m, solve(m, adjoint(m, u), product(m, adjoint(m, l), r), LOWER, RIGHT, false), 0));
        out_add(m, f, sum(m, lower(m, r, -1), other));
    }
}

/* (self, grad). Source: differential_analytic_matrix_function: of a matrix of twice the size. */
void
expand_matrix_exp_backward(struct machine *m, struct frame *f)
{
    struct value *a = adjoint(m, V(0)), *g = V(1), *whole = NULL;
    int64_t n = columns(a), size[RANK];
    if (m->real) {
        memcpy(size, a->size, sizeof(*size) * (size_t)a->rank);
        size[a->rank - 2] *= 2;
        size[a->rank - 1] *= 2;
        LET(whole, OP(m, "zeros.default", ints_arg(m, a->rank, size), DTYPE(g->dtype)));
    } else {
        int mark = scope_begin(m);
        struct value *above = joined(m, a, g, -1);
        struct value *below = joined(m, OP(m, "zeros_like.default", VAL(a)), a, -1);
        scope_assign(m, mark, &whole, joined(m, above, below, -2));
    }
    struct value *both = OP(m, "linalg_matrix_exp.default", VAL(whole));
    out_add(m, f, range_of(m, range_of(m, both, -2, 0, n), -1, n, n));
}

/* ---- Householder's reflectors ------------------------------------------------------------------------------------ */

struct reflector {
    int64_t at;          /* its vector begins there */
    struct value *v, *t; /* a column, a number */
};

static struct reflector
reflector_of(struct machine *m, struct value *vectors, struct value *factors, int64_t i)
{
    return (struct reflector){i, range_of(m, vectors, -1, i, 1), range_of(m, factors, -1, i, 1)};
}

/* K is written in place. Source: apply_simple_transformation. */
static void
reflect(struct machine *m, const struct reflector *r, struct value *k, enum side s)
{
    int64_t n = rows(r->v) - r->at;
    int mark = scope_begin(m);
    struct value *v = range_of(m, r->v, -2, r->at, n);
    if (s == LEFT) {
        struct value *u = product(m, adjoint(m, v), range_of(m, k, -2, r->at, n));
        times(m, times(m, column_of(m, r->t), v), u);
    } else {
        struct value *u = NULL;
        LET(u, product(m, range_of(m, k, -1, r->at, n), times(m, column_of(m, r->t), v)));
        times(m, u, adjoint(m, v));
    }
    scope_end(m, mark, 0, NULL);
}

/* The gradients of a reflector's vector and of its number. Source: update_grad in householder_product_backward. */
static void
reflector_gradient(struct machine *m, const struct reflector *r, struct value *k, struct value *out[2])
{
    int64_t n = rows(r->v) - r->at;
    int mark = scope_begin(m);
    struct value *v = range_of(m, r->v, -2, r->at, n), *t = column_of(m, r->t), *to_v = NULL, *to_t = NULL;
    struct value *vk = product(m, adjoint(m, v), range_of(m, k, -2, r->at, n));
    struct value *kv = product(m, range_of(m, k, -1, r->at, n), v);
    int statement = scope_begin(m);
    struct value *right = times(m, t, kv), *left = times(m, minus(m, t), vk);
    left = OP(m, "squeeze.dim", VAL(left), INT(-2));
    scope_assign(m, statement, &to_v, difference(m, left, OP(m, "squeeze.dim", VAL(right), INT(-1))));
    LET(to_t, minus(m, product(m, range_of(m, vk, -1, r->at, n), v)));
    out[0] = column_of(m, to_v);
    out[1] = OP(m, "squeeze.dim", VAL(to_t), INT(-1));
    scope_end(m, mark, 2, out);
}

/* Of the vectors and their numbers; flipped: from the last one on. Source: householder_product_backward. */
static void
householder(struct machine *m, struct value *grad, struct value *result, struct value *input, struct value *tau,
            bool flipped, struct value *out[2])
{
    int64_t n = tau->size[tau->rank - 1], ncolumns = columns(input);
    enum side first = flipped ? RIGHT : LEFT, second = flipped ? LEFT : RIGHT;
    struct value *v = lower(m, input, -1), *norm = NULL, *sigma = NULL, *k = NULL; /* its diagonal is filled with 1 */
    struct value *used = range_of(m, v, -1, 0, n);
    LET(norm, OP(m, "sum.dim_IntList", VAL(times(m, used, used)), ints_arg(m, 1, (int64_t[]){-2}), BOOL(false)));
    LET(sigma, ratio(m, tau, OP(m, "sub.Scalar", VAL(times(m, tau, norm)), FLT(1))));
    LET(k, product(m, result, adjoint(m, grad)));
    struct reflector next = reflector_of(m, v, sigma, flipped ? n - 1 : 0);
    reflect(m, &next, k, first);
    struct arg *vectors = NEWN(m->a, struct arg, n + 1), *factors = NEWN(m->a, struct arg, n + 1);
    struct value *whole[2] = {NULL, NULL};
    if (m->real) {
        whole[0] = OP(m, "zeros_like.default", VAL(input));
        whole[1] = OP(m, "zeros_like.default", VAL(tau));
    }
    for (int64_t step = 0; step < n; step++) {
        int64_t i = flipped ? n - 1 - step : step;
        struct reflector r = reflector_of(m, v, tau, i);
        struct value *both[2];
        int mark = scope_begin(m);
        reflector_gradient(m, &r, k, both);
        vectors[i] = VAL(both[0]);
        factors[i] = VAL(both[1]);
        if (m->real) /* copied into the whole gradients */
            scope_end(m, mark, 0, NULL);
        if (step == n - 1)
            break;
        next = reflector_of(m, v, sigma, flipped ? i - 1 : i + 1);
        reflect(m, &next, k, first);
        reflect(m, &r, k, second);
    }
    if (m->real) {
        out[0] = whole[0];
        out[1] = whole[1];
        return;
    }
    int64_t nvectors = n;
    if (n < ncolumns) {
        int64_t size[RANK];
        memcpy(size, input->size, sizeof(*size) * (size_t)input->rank);
        size[input->rank - 1] = ncolumns - n;
        vectors[nvectors++] = VAL(OP(m, "zeros.default", ints_arg(m, input->rank, size), DTYPE(input->dtype)));
    }
    out[0] = OP(m, "cat.default", ((struct arg){.kind = ARG_LIST, .n = (int)nvectors, .list = vectors}), INT(-1));
    out[1] = OP(m, "cat.default", ((struct arg){.kind = ARG_LIST, .n = (int)n, .list = factors}), INT(-1));
}

/* (grad, result, input, tau) */
void
expand_householder_backward(struct machine *m, struct frame *f)
{
    struct value *out[2];
    householder(m, V(0), V(1), V(2), V(3), false, out);
    out_add(m, f, out[0]);
    out_add(m, f, out[1]);
}

/* (grad, result, self, tau, other, left, transpose). Source: ormqr_backward. */
void
expand_ormqr_backward(struct machine *m, struct frame *f)
{
    bool left = arg_int(f, 5, 1), transpose = arg_int(f, 6, 0);
    struct value *out[2] = {NULL, NULL}, *other = NULL;
    if (f->want & 4)
        other = OP(m, "ormqr.default", VAL(V(2)), VAL(V(3)), VAL(V(0)), BOOL(left), BOOL(!transpose));
    if (f->want & 3) {
        struct value *grad = transpose ? adjoint(m, V(0)) : V(0), *result = transpose ? adjoint(m, V(1)) : V(1);
        if (left != transpose)
            householder(m, grad, result, V(2), V(3), false, out);
        else
            householder(m, transpose ? V(1) : adjoint(m, V(1)), transpose ? V(0) : adjoint(m, V(0)), V(2), V(3), true,
                        out);
    }
    out_add(m, f, out[0]);
    out_add(m, f, out[1]);
    out_add(m, f, other);
}
