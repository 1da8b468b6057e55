/* SPDX-License-Identifier: Apache-2.0 */
/* test_scan.c - the wire scanner over hand-made bytes: what it refuses, and what it leaves out. */
#include "../../onnx/scan.h"
#include "suites.h"
#include "tests/all.h"

#include <CUnit/CUnit.h>
#include <stdlib.h>
#include <string.h>

struct bytes {
    uint8_t *p;
    size_t n;
};

static void
put(struct bytes *b, const void *p, size_t n)
{
    b->p = realloc(b->p, b->n + n + 1);
    if (n)
        memcpy(b->p + b->n, p, n);
    b->n += n;
}

static void
varint(struct bytes *b, uint64_t v)
{
    uint8_t c;
    do {
        c = (uint8_t)((v & 0x7f) | (v > 0x7f ? 0x80 : 0));
        put(b, &c, 1);
    } while (v >>= 7);
}

static void
num(struct bytes *b, int field, uint64_t v)
{
    varint(b, (uint64_t)field << 3);
    varint(b, v);
}

static void
sub(struct bytes *b, int field, const void *p, size_t n)
{
    varint(b, (uint64_t)field << 3 | 2);
    varint(b, n);
    put(b, p, n);
}

static void
text(struct bytes *b, int field, const char *s)
{
    sub(b, field, s, strlen(s));
}

/* ir_version, and a graph with one node and what else is given. */
static struct bytes
model(const struct bytes *more)
{
    struct bytes node = {0}, graph = {0}, m = {0};
    text(&node, 1, "x");
    text(&node, 2, "y");
    text(&node, 4, "Relu");
    sub(&graph, 1, node.p, node.n);
    text(&graph, 2, "g");
    if (more)
        put(&graph, more->p, more->n);
    num(&m, 1, 8);
    sub(&m, 7, graph.p, graph.n);
    free(node.p);
    free(graph.p);
    return m;
}

static const char *why;

static bool
scan(struct bytes *b, size_t n, struct skeleton *s)
{
    static struct arena *a;
    static struct err e;
    arena_free(a);
    a = arena_new();
    e = (struct err){0};
    bool ok = scan_bytes(a, b->p, n, false, s, &e);
    why = ok ? "" : e.message;
    return ok;
}

static bool
refused(struct bytes *b, const char *because)
{
    struct skeleton s;
    bool ok = !scan(b, b->n, &s) && strstr(why, because);
    free(b->p);
    *b = (struct bytes){0};
    return ok;
}

static void
test_whole(void)
{
    struct bytes b = model(NULL);
    struct skeleton s;
    CU_ASSERT(scan(&b, b.n, &s));
    CU_ASSERT(s.file_bytes == (int64_t)b.n);
    free(b.p);
}

static void
test_truncated(void)
{
    struct bytes b = model(NULL);
    struct skeleton s;
    for (size_t n = 3; n < b.n; n++) {
        CU_ASSERT_FALSE(scan(&b, n, &s));
        CU_ASSERT(strstr(why, "truncated") != NULL);
    }
    CU_ASSERT_FALSE(scan(&b, 0, &s));
    CU_ASSERT(strstr(why, "empty") != NULL);
    free(b.p);
}

static void
test_wire(void)
{
    static const struct {
        const char *bytes;
        size_t n;
        const char *because;
    } tails[] = {
        {"\x00\x01", 2, "field number"},
        {"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11, "ten bytes"},
        {"\x2e\x01", 2, "wire type"},
        {"\x2f\x01", 2, "wire type"},
        {"\xc4\x3e", 2, "wire type"},                   /* the end of a group that nobody opened */
        {"\xc3\x3e\x08\x01", 4, "group"},               /* one that is not closed */
        {"\xc3\x3e\xcc\x3e", 4, "closed by another's"}, /* one that another's end closes */
        {"\x3a\x00", 2, "given twice"},
        {"\x0a\x00", 2, "wrong wire type"},
    };
    for (int i = 0; i < COUNT(tails); i++) {
        struct bytes b = model(NULL);
        put(&b, tails[i].bytes, tails[i].n);
        CU_ASSERT(refused(&b, tails[i].because));
    }
}

static void
test_unknown(void)
{
    struct bytes b = model(NULL);
    struct skeleton with, without;
    CU_ASSERT(scan(&b, b.n, &without));
    size_t size = without.size;
    text(&b, 999, "something new");
    num(&b, 1000, 5);
    put(&b, "\xc3\x3e\x08\x01\xc4\x3e", 6); /* a group */
    num(&b, 100001, 7);                     /* a number that memlint uses itself */
    CU_ASSERT(scan(&b, b.n, &with));
    CU_ASSERT(with.size == size);
    free(b.p);
}

static void
test_depth(void)
{
    struct bytes in = {0};
    for (int i = 0; i < 200; i++) { /* graph in attribute in node */
        struct bytes attr = {0}, node = {0}, graph = {0};
        sub(&attr, 6, in.p, in.n);
        sub(&node, 5, attr.p, attr.n);
        sub(&graph, 1, node.p, node.n);
        free(in.p);
        free(attr.p);
        free(node.p);
        in = graph;
    }
    struct bytes b = {0};
    sub(&b, 7, in.p, in.n);
    free(in.p);
    CU_ASSERT(refused(&b, "nested too deeply"));
}

static void
test_weights(void)
{
    enum { LARGE = 1 << 20, SMALL = 16 };
    char *zeros = calloc(LARGE, 1);
    for (int large = 0; large < 2; large++) {
        struct bytes tensor = {0}, more = {0};
        num(&tensor, 2, 1);
        text(&tensor, 8, "w");
        sub(&tensor, 9, zeros, large ? LARGE : SMALL);
        sub(&more, 5, tensor.p, tensor.n);
        struct bytes b = model(&more);
        struct skeleton s;
        CU_ASSERT(scan(&b, b.n, &s));
        CU_ASSERT(large ? s.size < 200 : s.size > SMALL);
        free(tensor.p);
        free(more.p);
        free(b.p);
    }
    free(zeros);
}

static void
test_names(void)
{
    struct bytes more = {0};
    sub(&more, 2, "a\0b", 3);
    struct bytes b = model(&more);
    CU_ASSERT(refused(&b, "NUL"));
    free(more.p);
}

static void
test_other_formats(void)
{
    static const struct {
        const char *text, *because;
    } files[] = {
        {"PK\x03\x04rest of it", "zip"},
        {"\x1f\x8b\x08", "gzip"},
        {"version https://git-lfs.github.com/spec/v1\n", "LFS"},
        {"<!DOCTYPE html>\n<html><body>404</body></html>", "HTML"},
        {"Dear reader,\nthis is no model.\n", "text"},
    };
    for (int i = 0; i < COUNT(files); i++) {
        struct bytes b = {0};
        put(&b, files[i].text, strlen(files[i].text));
        CU_ASSERT(refused(&b, files[i].because));
    }
}

/* Any bytes at all end in an answer; the seed makes a failure repeatable. */
static void
test_noise(void)
{
    uint64_t r = 88172645463325252;
    for (int round = 0; round < 20000; round++) {
        struct bytes b = model(NULL);
        struct skeleton s;
        for (int k = 0; k < 3; k++) {
            r ^= r << 13;
            r ^= r >> 7;
            r ^= r << 17;
            b.p[r % b.n] = (uint8_t)(r >> 32);
        }
        scan(&b, b.n, &s);
        free(b.p);
    }
}

void
suite_scan(void)
{
    CU_pSuite s = CU_add_suite("scan", NULL, NULL);
    CU_add_test(s, "a whole model", test_whole);
    CU_add_test(s, "cut off at any byte", test_truncated);
    CU_add_test(s, "bad wire format", test_wire);
    CU_add_test(s, "unknown fields are dropped", test_unknown);
    CU_add_test(s, "depth", test_depth);
    CU_add_test(s, "large payloads are dropped", test_weights);
    CU_add_test(s, "NUL in a name", test_names);
    CU_add_test(s, "other formats are named", test_other_formats);
    CU_add_test(s, "noise", test_noise);
}
