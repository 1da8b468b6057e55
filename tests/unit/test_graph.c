/* SPDX-License-Identifier: Apache-2.0 */
/* test_graph.c - text syntax, order, users, inlining, captures. */
#include "suites.h"
#include "tests/all.h"

#include <CUnit/CUnit.h>
#include <stdlib.h>
#include <string.h>

static struct arena *a;
static struct err e;

static struct graph *
parse(const char *text)
{
    arena_free(a);
    a = arena_new();
    return onnx_parse_text(a, "test.onnxtxt", text, &e);
}

static int
producer(const struct graph *g, const char *name)
{
    int id = graph_find(g, name);
    return id < 0 ? -2 : g->t[id].producer;
}

static void
test_order(void)
{
    struct graph *g = parse("g (float[2] x) => (d) { d = Add (b, c) c = Relu (b) b = Add (x, x) }");
    CU_ASSERT_PTR_NOT_NULL_FATAL(g);
    CU_ASSERT(producer(g, "b") < producer(g, "c"));
    CU_ASSERT(producer(g, "c") < producer(g, "d"));
    const struct tensor *b = &g->t[graph_find(g, "b")], *x = &g->t[graph_find(g, "x")];
    CU_ASSERT(b->nusers == 2 && b->users[0] < b->users[1]);
    CU_ASSERT(x->nusers == 1); /* read twice by one node */
}

static void
test_kept_order(void)
{
    struct graph *g = parse("g (float[2] x) => (c) { a = Exp (x) b = Relu (x) c = Add (b, a) }");
    CU_ASSERT_PTR_NOT_NULL_FATAL(g);
    CU_ASSERT(producer(g, "a") == 0 && producer(g, "b") == 1 && producer(g, "c") == 2);
}

static void
test_refused(void)
{
    CU_ASSERT_PTR_NULL(parse("g (float[2] x) => (a) { a = Add (x, b) b = Relu (a) }"));
    CU_ASSERT(strstr(e.message, "cycle") != NULL);
    CU_ASSERT_PTR_NULL(parse("g (float[2] x) => (a) { a = Relu (x) a = Exp (x) }"));
    CU_ASSERT(strstr(e.message, "twice") != NULL);
    CU_ASSERT_PTR_NULL(parse("g (float[2] x) => (a) { x = Relu (a) }"));
    CU_ASSERT_PTR_NULL(parse("g (float[2] x) => (a) { a = Relu (x "));
    CU_ASSERT_PTR_NULL(parse(""));
    CU_ASSERT_PTR_NULL(parse("g (float[2] x) => (a) { a = Constant <value = float[2] {1, 2, 3}> () }"));
}

static void
test_undefined(void)
{
    struct graph *g = parse("g (float[2] x) => (a) { a = Add (x, nobody) }");
    CU_ASSERT_PTR_NOT_NULL_FATAL(g);
    CU_ASSERT(g->ndoubts == 1);
}

static void
test_capture(void)
{
    struct graph *g = parse("g (float[2] x, bool c) => (y) {"
                            "  y = If (c) <then_branch = t () => (p) { p = Relu (h) },"
                            "              else_branch = u () => (q) { h = Exp (x) q = Neg (h) }>"
                            "  h = Exp (x)"
                            "}");
    CU_ASSERT_PTR_NOT_NULL_FATAL(g);
    CU_ASSERT(producer(g, "h") < producer(g, "y")); /* the branch reads it */
    const struct node *n = &g->n[producer(g, "y")];
    const struct graph *t = node_attr(n, "then_branch")->g, *u = node_attr(n, "else_branch")->g;
    CU_ASSERT(t->t[graph_find(t, "h")].outer == &g->t[graph_find(g, "h")]);
    CU_ASSERT_PTR_NULL(u->t[graph_find(u, "h")].outer); /* its own, of the same name */
    CU_ASSERT(u->t[graph_find(u, "x")].outer == &g->t[graph_find(g, "x")]);
}

static const char *const calls = "<opset_import: [\"\": 20, \"f\": 1]>"
                                 "g (float[2, 3] x, bool c) => (a, b) {"
                                 "  [first] a = f.outer (x, c)"
                                 "  b = f.inner <way = [1, 0]> (x)"
                                 "}"
                                 "<domain: \"f\", opset_import: [\"\": 20, \"f\": 1]>"
                                 "outer (v, k) => (w) {"
                                 "  h = f.inner (v)"
                                 "  w = If (k) <then_branch = t () => (p) { p = Relu (h) },"
                                 "              else_branch = u () => (q) { q = f.inner (h) }>"
                                 "}"
                                 "<domain: \"f\", opset_import: [\"\": 20]>"
                                 "inner <way: ints = [0, 1]> (v) => (w) { w = Transpose <perm: ints = @way> (v) }";

static void
test_inline(void)
{
    struct graph *g = parse(calls);
    CU_ASSERT_PTR_NOT_NULL_FATAL(g);
    CU_ASSERT(g->nn == 3);
    const struct node *h = &g->n[0], *branch = &g->n[1], *b = &g->n[2];
    CU_ASSERT_STRING_EQUAL(h->op, "Transpose");
    CU_ASSERT_STRING_EQUAL(g->t[h->out[0]].name, "first/h");
    CU_ASSERT(node_attr(h, "perm")->ints[0] == 0);
    CU_ASSERT(node_attr(b, "perm")->ints[0] == 1);
    const struct graph *t = node_attr(branch, "then_branch")->g, *u = node_attr(branch, "else_branch")->g;
    CU_ASSERT(t->nn == 1 && t->t[t->n[0].in[0]].outer == &g->t[h->out[0]]);
    CU_ASSERT(u->nn == 1);
    CU_ASSERT_STRING_EQUAL(u->n[0].op, "Transpose");
}

static void
test_inline_limits(void)
{
    CU_ASSERT_PTR_NULL(parse("<opset_import: [\"\": 20, \"f\": 1]> g (float[2] x) => (a) { a = f.r (x) }"
                             "<domain: \"f\", opset_import: [\"f\": 1]> r (v) => (w) { w = f.s (v) }"
                             "<domain: \"f\", opset_import: [\"f\": 1]> s (v) => (w) { w = f.r (v) }"));
    CU_ASSERT(strstr(e.message, "recursion") != NULL);
    char text[16384];
    size_t n = (size_t)snprintf(text, sizeof(text), "g (float[2] x) => (a) { a = f.f0 (x) }");
    for (int i = 0; i < 40; i++) /* each calls the next twice */
        n += (size_t)snprintf(text + n, sizeof(text) - n,
                              "<domain: \"f\"> f%d (v) => (w) { u = f.f%d (v) w = f.f%d (u) }\n", i, i + 1, i + 1);
    snprintf(text + n, sizeof(text) - n, "<domain: \"f\"> f40 (v) => (w) { w = Relu (v) }");
    CU_ASSERT_PTR_NULL(parse(text));
    CU_ASSERT(strstr(e.message, "limit") != NULL);
}

static char *
printed(const struct graph *g)
{
    char *s = NULL;
    size_t n = 0;
    FILE *f = open_memstream(&s, &n);
    onnx_print_text(g, f);
    fclose(f);
    return s;
}

static void
test_print(void)
{
    struct graph *g = parse("<ir_version: 10, opset_import: [\"\": 20, \"com.microsoft\": 1]>"
                            "g (float[\"2*n\", 3] x, seq(float[?]) s) => (float y)"
                            "<float[2] w = {0.1, -inf}, int64[0] none = {}>{"
                            "  [\"a \\\"label\\\"\", \"pkg.torch.onnx.fx_node\": \"%x\\n\"] y, \"odd name\" ="
                            "  com.microsoft.Thing <i = 1, f = 2.0, s = \"x\", l = [1, 2], t = float[1] {3},"
                            "  g = h () => (q) { q = Constant <value_int = 7> () }> (x, \"\", w)"
                            "}");
    CU_ASSERT_PTR_NOT_NULL_FATAL(g);
    CU_ASSERT_STRING_EQUAL(g->n[0].fx, "%x\n");
    char *once = printed(g);
    g = parse(once);
    CU_ASSERT_PTR_NOT_NULL_FATAL(g);
    char *twice = printed(g);
    CU_ASSERT_STRING_EQUAL(once, twice);
    free(once);
    free(twice);
}

static void
test_table(void)
{
    CU_ASSERT_PTR_NOT_NULL(op_find("", "Conv", 22));
    CU_ASSERT_PTR_NULL(op_find("", "NoSuchOp", 22));
    CU_ASSERT_PTR_NULL(op_find("com.example", "Conv", 22));
    CU_ASSERT(op_find("", "Add", 6)->until == 6);
    CU_ASSERT(op_find("", "Add", 7)->since == 7);
    CU_ASSERT(op_find("", "Add", 10000)->since == 7);
    CU_ASSERT_PTR_NOT_NULL(op_find("com.microsoft", "MatMulNBits", 1));
}

void
suite_graph(void)
{
    CU_pSuite s = CU_add_suite("graph", NULL, NULL);
    CU_add_test(s, "topological order, users", test_order);
    CU_add_test(s, "file order is kept", test_kept_order);
    CU_add_test(s, "what is refused", test_refused);
    CU_add_test(s, "undefined inputs are doubts", test_undefined);
    CU_add_test(s, "captured values", test_capture);
    CU_add_test(s, "functions are inlined", test_inline);
    CU_add_test(s, "limits of inlining", test_inline_limits);
    CU_add_test(s, "print and parse again", test_print);
    CU_add_test(s, "rows of the operator table", test_table);
}
