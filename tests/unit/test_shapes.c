/* SPDX-License-Identifier: Apache-2.0 */
/* test_shapes.c - binding, need_bound, values, doubts: what the dumps of tests/cases do not show. */
#include "suites.h"
#include "tests/all.h"

#include <CUnit/CUnit.h>
#include <string.h>

static struct arena *a;
static struct err e;

static struct graph *
run(const char *text, struct setup s, bool need_bound)
{
    arena_free(a);
    a = arena_new();
    struct graph *g = onnx_parse_text(a, "test.onnxtxt", text, &e);
    CU_ASSERT_PTR_NOT_NULL_FATAL(g);
    return shapes_run(g, &s, need_bound, &e) ? g : NULL;
}

static const struct tensor *
value(const struct graph *g, const char *name)
{
    int id = graph_find(g, name);
    CU_ASSERT_FATAL(id >= 0);
    return &g->t[id];
}

static void
test_need_bound(void)
{
    const char *text = "g (float[batch, seq] x, float[?, 4] y) => (z) { z = Exp (x) }";
    CU_ASSERT_PTR_NULL(run(text, (struct setup){0}, true));
    CU_ASSERT(strstr(e.message, "batch, seq, y[0]") != NULL);
    CU_ASSERT(strstr(e.remedy, "--dim batch=8 --dim seq=8 --input-shape y=8x4") != NULL);
    struct graph *g = run(text, (struct setup){0}, false);
    CU_ASSERT_PTR_NOT_NULL_FATAL(g);
    CU_ASSERT(g->ndoubts == 3);
    struct binding dims[] = {{"batch", 2}, {"seq", 3}};
    int64_t shape[] = {5, 4};
    struct input_shape y = {"y", 2, shape};
    g = run(text, (struct setup){.ndims = 2, .dims = dims, .nshapes = 1, .shapes = &y}, true);
    CU_ASSERT_PTR_NOT_NULL_FATAL(g);
    CU_ASSERT(g->ndoubts == 0);
    CU_ASSERT(tensor_elements(value(g, "z")) == 6);
}

static void
test_values(void)
{
    struct graph *g = run("g (float[n, 3] x) => (s, t) {"
                          "  s = Shape (x)"
                          "  two = Constant <value_int = 2> ()"
                          "  t = Mul (s, two)"
                          "  f = Cast <to = 1> (t)"
                          "  q = ReduceProd <keepdims = 0> (t)"
                          "}",
                          (struct setup){0}, false);
    CU_ASSERT_PTR_NOT_NULL_FATAL(g);
    const struct constant *t = value(g, "t")->value, *f = value(g, "f")->value;
    CU_ASSERT_PTR_NOT_NULL_FATAL(t);
    CU_ASSERT(t->n == 2 && t->known && !t->known[0] && t->known[1] && t->i[1] == 6);
    CU_ASSERT_PTR_NOT_NULL_FATAL(f);
    CU_ASSERT(f->f && f->known && f->f[1] == 6.0);
    CU_ASSERT_PTR_NULL(value(g, "q")->value);
}

static void
test_integers(void)
{
    struct graph *g = run("g () => (d, m, w, s)"
                          "<int64[3] p = {7, -7, -9223372036854775808}, int64[3] q = {2, 2, -1}, int32[1] big = "
                          "{2147483647}, int32[1] one = {1}>{"
                          "  d = Div (p, q)"
                          "  m = Mod (p, q)"
                          "  w = Add (big, one)"
                          "  s = CumSum (p, zero)"
                          "  zero = Constant <value_int = 0> ()"
                          "}",
                          (struct setup){0}, false);
    CU_ASSERT_PTR_NOT_NULL_FATAL(g);
    const struct constant *d = value(g, "d")->value, *m = value(g, "m")->value, *w = value(g, "w")->value;
    CU_ASSERT_FATAL(d && m && w);
    CU_ASSERT(d->i[0] == 3 && d->i[1] == -3 && !d->known[2]); /* towards zero; no quotient of the smallest by -1 */
    CU_ASSERT(m->i[0] == 1 && m->i[1] == 1 && m->i[2] == 0);  /* the divisor's sign */
    CU_ASSERT(w->i[0] == INT32_MIN);                          /* wraps in its own type */
}

static void
test_large_constants(void)
{
    struct graph *g = run("g (float[4] x) => (y) {"
                          "  n = Constant <value_ints = [1152921504606846976]> ()"
                          "  t = ConstantOfShape (n)"
                          "  y = Expand (x, t)"
                          "}",
                          (struct setup){0}, false);
    CU_ASSERT_PTR_NOT_NULL_FATAL(g);
    CU_ASSERT(value(g, "t")->dims[0].n == INT64_C(1152921504606846976));
    CU_ASSERT_PTR_NULL(value(g, "t")->value);
    CU_ASSERT(arena_bytes(a) < 1 << 20);
}

static void
test_contradiction(void)
{
    struct graph *g =
        run("g (float[2] x) => (float[3] y) <float[2] h> { h = Exp (x) y = Relu (h) }", (struct setup){0}, false);
    CU_ASSERT_PTR_NOT_NULL_FATAL(g);
    CU_ASSERT(value(g, "y")->contradicted && !value(g, "h")->contradicted);
    CU_ASSERT(value(g, "y")->dims[0].n == 2);
    CU_ASSERT(g->ndoubts == 0);
}

static void
test_doubts(void)
{
    struct graph *g = run("g (float[2] x) => (a, b, c) {"
                          "  a = NonZero (x)"
                          "  b = Transpose (a)" /* follows from a: no doubt of its own */
                          "  c = strange.Thing (x)"
                          "}",
                          (struct setup){0}, false);
    CU_ASSERT_PTR_NOT_NULL_FATAL(g);
    CU_ASSERT_FATAL(g->ndoubts == 2);
    CU_ASSERT_STRING_EQUAL(g->doubts[0].op, "NonZero");
    CU_ASSERT_STRING_EQUAL(g->doubts[1].op, "strange.Thing");
}

static void
test_input_value(void)
{
    int64_t two[] = {3, 5};
    struct constant c = {.n = 2, .i = two};
    struct dim d = {2, NULL};
    struct tensor t = {.name = "s", .dtype = DT_INT64, .wrap = "", .rank = 1, .dims = &d, .value = &c};
    struct input_value v = {"s", &t};
    struct graph *g = run("g (float[15] x, int64[2] s) => (y) { y = Reshape (x, s) }",
                          (struct setup){.nvalues = 1, .values = &v}, true);
    CU_ASSERT_PTR_NOT_NULL_FATAL(g);
    CU_ASSERT(value(g, "y")->dims[0].n == 3 && value(g, "y")->dims[1].n == 5);
    v.name = "nobody";
    CU_ASSERT_PTR_NULL(
        run("g (float[15] x) => (y) { y = Relu (x) }", (struct setup){.nvalues = 1, .values = &v}, true));
}

/* Inputs of nested branches are visited once each, not twice a level. */
static void
test_nested(void)
{
    char text[8192] = "", *p = text;
    p += sprintf(p, "g (float[4] x, bool c) => (y) { y = ");
    for (int i = 0; i < 24; i++)
        p += sprintf(
            p, "If (c) <else_branch = e%d () => (n%d) { n%d = Neg (x) }, then_branch = t%d () => (r%d) { r%d = ", i, i,
            i, i, i, i);
    p += sprintf(p, "Relu (x) ");
    for (int i = 0; i < 24; i++)
        p += sprintf(p, "}> ");
    sprintf(p, "}");
    struct graph *g = run(text, (struct setup){0}, true);
    CU_ASSERT_PTR_NOT_NULL_FATAL(g);
    CU_ASSERT(tensor_elements(value(g, "y")) == 4);
}

void
suite_shapes(void)
{
    CU_pSuite s = CU_add_suite("shapes", NULL, NULL);
    CU_add_test(s, "open dimensions are listed", test_need_bound);
    CU_add_test(s, "partly known values", test_values);
    CU_add_test(s, "integer arithmetic", test_integers);
    CU_add_test(s, "large constants are not made", test_large_constants);
    CU_add_test(s, "contradicted value_info", test_contradiction);
    CU_add_test(s, "one doubt a cause", test_doubts);
    CU_add_test(s, "values of inputs", test_input_value);
    CU_add_test(s, "nested branches", test_nested);
}
