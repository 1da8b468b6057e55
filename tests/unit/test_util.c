/* SPDX-License-Identifier: Apache-2.0 */
/* test_util.c - memory, text, sizes, globs and element types. */
#include "suites.h"
#include "tests/all.h"

#include <CUnit/CUnit.h>
#include <stdint.h>
#include <string.h>

static void
test_arena(void)
{
    struct arena *a = arena_new();
    for (int i = 0; i < 2000; i++) {
        char *p = arena_alloc(a, (size_t)i);
        CU_ASSERT_EQUAL((uintptr_t)p % 16, 0);
        for (int k = 0; k < i; k++)
            if (p[k])
                CU_FAIL("not zeroed");
        memset(p, 0xff, (size_t)i);
    }
    int n = 0, cap = 0, *v = NULL;
    for (int i = 0; i < 1000; i++)
        *PUSH(a, v, n, cap) = i;
    CU_ASSERT_EQUAL(n, 1000);
    CU_ASSERT_EQUAL(v[999], 999);
    CU_ASSERT_STRING_EQUAL(arena_printf(a, "%s-%d", "x", 7), "x-7");
    arena_free(a);
}

static void
test_names(void)
{
    struct arena *a = arena_new();
    struct names *m = names_new(a);
    for (int i = 0; i < 3000; i++)
        names_put(m, arena_printf(a, "n%d", i), i);
    names_put(m, "n7", 70);
    CU_ASSERT_EQUAL(names_find(m, "n7"), 70);
    CU_ASSERT_EQUAL(names_find(m, "n2999"), 2999);
    CU_ASSERT_EQUAL(names_find(m, "n3000"), -1);
    arena_free(a);
}

static void
test_sizes(void)
{
    static const struct {
        const char *text;
        int64_t bytes;
    } rows[] = {
        {"24GiB", INT64_C(24) << 30},
        {"1.5 MiB", 3 << 19},
        {"512MB", 512000000},
        {"512 mb", 512000000},
        {"24g", INT64_C(24) << 30},
        {".5kib", 512},
        {"0x10", -1},
        {"inf", -1},
        {"1e9", 1000000000},
        {"1073741824", 1 << 30},
        {"0", 0},
        {"", -1},
        {"-1", -1},
        {"GiB", -1},
        {"3 apples", -1},
        {"1e30", -1},
        {"nan", -1},
    };
    for (int i = 0; i < COUNT(rows); i++)
        CU_ASSERT_EQUAL(bytes_parse(rows[i].text), rows[i].bytes);
    struct arena *a = arena_new();
    CU_ASSERT_STRING_EQUAL(bytes_text(a, 5476083302), "5.10 GiB");
    CU_ASSERT_STRING_EQUAL(bytes_text(a, 512), "512 B");
    CU_ASSERT_STRING_EQUAL(bytes_text(a, 0), "0 B");
    arena_free(a);
}

static void
test_words(void)
{
    static const char *const names[] = {"adam", "adamw", "rtx-4090", "rtx-4060", "cross-entropy", "a100-40", "a100-80"};
    static const struct {
        const char *word, *near;
    } rows[] = {{"adamx", "adam or adamw"},
                {"RTX 409", "rtx-4090"},
                {"4060", "rtx-4060"},
                {"corss_entropy", "cross-entropy"},
                {"A100", "a100-40 or a100-80"},
                {"nonsense", NULL},
                {"", NULL}};
    struct arena *a = arena_new();
    for (int i = 0; i < COUNT(rows); i++) {
        const char *near = words_near(a, rows[i].word, COUNT(names), names);
        CU_ASSERT_TRUE(rows[i].near ? near && strcmp(near, rows[i].near) == 0 : !near);
    }
    CU_ASSERT_TRUE(word_same("RTX 40_90", "rtx-4090"));
    CU_ASSERT_FALSE(word_same("", "-"));
    CU_ASSERT_FALSE(word_same("rtx-409", "rtx-4090"));
    arena_free(a);
}

static void
test_products(void)
{
    int64_t n;
    CU_ASSERT_TRUE(mul_ok(1 << 20, 1 << 20, &n));
    CU_ASSERT_EQUAL(n, INT64_C(1) << 40);
    CU_ASSERT_FALSE(mul_ok(INT64_MAX, 2, &n));
    CU_ASSERT_FALSE(mul_ok(-1, 2, &n));
    CU_ASSERT_FALSE(add_ok(INT64_MAX, 1, &n));
    CU_ASSERT_EQUAL(dtype_bytes(DT_INT4, 3), 2);
    CU_ASSERT_EQUAL(dtype_bytes(DT_FLOAT, 3), 12);
    CU_ASSERT_EQUAL(dtype_bytes(DT_FLOAT, INT64_MAX), -1);
    CU_ASSERT_EQUAL(dtype_by_onnx("float16"), DT_FLOAT16);
    CU_ASSERT_EQUAL(dtype_by_torch("float32"), DT_FLOAT);
    CU_ASSERT_EQUAL(dtype_by_onnx("nothing"), DT_UNDEFINED);
}

static void
test_globs(void)
{
    static const struct {
        const char *glob, *text;
        bool match;
    } rows[] = {
        {"*", "", true},
        {"*", "blocks.0.weight", true},
        {"blocks.*.bias", "blocks.11.attn.bias", true},
        {"blocks.?.bias", "blocks.11.bias", false},
        {"blocks.[0-3].bias", "blocks.2.bias", true},
        {"blocks.[!0-3].bias", "blocks.2.bias", false},
        {"a*b*c", "aXbYbZc", true},
        {"a*b*c", "aXbYbZ", false},
        {"", "x", false},
        {"[", "[", true},
    };
    for (int i = 0; i < COUNT(rows); i++)
        CU_ASSERT_EQUAL(glob_match(rows[i].glob, rows[i].text), rows[i].match);
}

void
suite_util(void)
{
    CU_pSuite s = CU_add_suite("util", NULL, NULL);
    CU_add_test(s, "arena: zeroed, aligned, growing", test_arena);
    CU_add_test(s, "names: found, replaced, absent", test_names);
    CU_add_test(s, "sizes: read and printed", test_sizes);
    CU_add_test(s, "words: the same, near", test_words);
    CU_add_test(s, "products: checked; element types", test_products);
    CU_add_test(s, "globs", test_globs);
}
