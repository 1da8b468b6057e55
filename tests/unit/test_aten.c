/* SPDX-License-Identifier: Apache-2.0 */
/* test_aten.c - the framework operator table as a table: names found, formulas that parse, layouts by PyTorch's
 * rules. */
#include "suites.h"
#include "tests/all.h"

#include <CUnit/CUnit.h>
#include <string.h>

static struct arena *a;
static struct machine m;
static struct setup s;

static void
begin(void)
{
    a = arena_new();
    s = (struct setup){.micro_batches = 1};
    m = (struct machine){.a = a, .keep = a, .s = &s, .grad_mode = true, .fresh = CLASS_TEMPORARIES, .sm = 90};
    m.heap = heap_new(a, false);
    m.trace.a = a;
    m.derivatives = derivatives_new(a);
}

static struct value *
fresh(int rank, const int64_t *size)
{
    return value_new(&m, DT_FLOAT, rank, size, NULL);
}

static void
test_names(void)
{
    for (int i = 0; i < aten_count; i++) {
        if (aten_find(aten_table[i].name) != &aten_table[i])
            CU_FAIL(aten_table[i].name);
        for (int k = i + 1; k < aten_count; k++)
            if (strcmp(aten_table[i].name, aten_table[k].name) == 0)
                CU_FAIL(aten_table[i].name);
    }
    CU_ASSERT_STRING_EQUAL(aten_find("aten.mul")->name, "mul.Tensor");
    CU_ASSERT_PTR_NULL(aten_find("aten.no_such_operator.default"));
}

/* Every formula names rows and arguments that exist: running any differentiable row parses it, or asserts. */
static void
test_formulas(void)
{
    begin();
    for (int i = 0; i < aten_count; i++)
        if (aten_table[i].grad && *aten_table[i].grad)
            eager_check_formula(&m, &aten_table[i]);
    arena_free(a);
    CU_PASS("all formulas parse");
}

/* Every composition names rows that exist. */
static void
test_compositions(void)
{
    begin();
    CU_ASSERT(compose_check(a));
    arena_free(a);
}

static void
test_view_or_copy(void)
{
    int64_t stride[4];
    begin();
    struct value *v = fresh(4, (int64_t[]){2, 3, 4, 5});
    CU_ASSERT_TRUE(layout_view(v, 2, (int64_t[]){6, 20}, stride));
    CU_ASSERT_EQUAL(stride[0], 20);
    struct value *t = OP(&m, "transpose.int", VAL(v), INT(1), INT(2)); /* heads: [2, 4, 3, 5] */
    CU_ASSERT_FALSE(layout_view(t, 3, (int64_t[]){2, 4, 15}, stride) && stride[2] == 1 && stride[1] == 15);
    CU_ASSERT_FALSE(layout_view(t, 2, (int64_t[]){8, 15}, stride));
    struct value *r = OP(&m, "reshape.default", VAL(t), ints_arg(&m, 2, (int64_t[]){8, 15}));
    CU_ASSERT_PTR_NOT_EQUAL(r->st, v->st);
    r = OP(&m, "reshape.default", VAL(v), ints_arg(&m, 2, (int64_t[]){-1, 15}));
    CU_ASSERT_PTR_EQUAL(r->st, v->st);
    arena_free(a);
}

/* An elementwise result takes the order of its inputs' strides. */
static void
test_layout(void)
{
    begin();
    struct value *v = fresh(3, (int64_t[]){16, 197, 8});
    struct value *t = OP(&m, "transpose.int", VAL(v), INT(0), INT(1));
    struct value *y = OP(&m, "relu.default", VAL(t));
    CU_ASSERT_EQUAL(y->stride[0], 8);
    CU_ASSERT_EQUAL(y->stride[1], 197 * 8);
    struct value *z = OP(&m, "native_layer_norm.default", VAL(t), ints_arg(&m, 1, (int64_t[]){8}));
    CU_ASSERT_TRUE(value_contiguous(z));
    arena_free(a);
}

static void
test_broadcast_and_types(void)
{
    begin();
    struct value *x = fresh(3, (int64_t[]){4, 1, 5}), *y = value_new(&m, DT_INT64, 2, (int64_t[]){3, 1}, NULL);
    struct value *z = OP(&m, "add.Tensor", VAL(x), VAL(y));
    CU_ASSERT_EQUAL(z->rank, 3);
    CU_ASSERT_EQUAL(z->size[1], 3);
    CU_ASSERT_EQUAL(z->dtype, DT_FLOAT);
    CU_ASSERT_EQUAL(OP(&m, "div.Tensor", VAL(y), INT(2))->dtype, DT_FLOAT);
    CU_ASSERT_EQUAL(OP(&m, "mul.Tensor", VAL(y), INT(2))->dtype, DT_INT64);
    CU_ASSERT_EQUAL(OP(&m, "eq.Tensor", VAL(x), VAL(x))->dtype, DT_BOOL);
    arena_free(a);
}

/* Arguments that a row can't take are refused before its rule runs. */
static void
test_refusal(void)
{
    begin();
    struct value *v = fresh(1, (int64_t[]){4});
    struct arg bad[] = {VAL(v), VAL(v)};
    CU_ASSERT_EQUAL(dispatch(&m, aten_find("mm"), 2, bad, NULL)->nout, 0);
    CU_ASSERT_STRING_EQUAL(m.missing, "mm.default");
    for (int i = 0; i < aten_count; i++) /* no tensors at all, for every row: nothing may crash */
        if (!aten_takes(&aten_table[i], NULL, 0))
            CU_ASSERT_EQUAL(dispatch(&m, &aten_table[i], 0, NULL, NULL)->nout, 0);
    arena_free(a);
}

void
suite_aten(void)
{
    CU_pSuite suite = CU_add_suite("aten", NULL, NULL);
    CU_add_test(suite, "names", test_names);
    CU_add_test(suite, "formulas", test_formulas);
    CU_add_test(suite, "compositions", test_compositions);
    CU_add_test(suite, "view or copy", test_view_or_copy);
    CU_add_test(suite, "layout", test_layout);
    CU_add_test(suite, "broadcast and types", test_broadcast_and_types);
    CU_add_test(suite, "refusal", test_refusal);
}
