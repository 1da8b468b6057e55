/* SPDX-License-Identifier: Apache-2.0 */
/* test_modules.c - what a name stands for: the modules that a glob tells, and the patterns that are tried as plans. */
#include "advice/modules.h"
#include "suites.h"
#include "tests/all.h"

#include <CUnit/CUnit.h>
#include <string.h>

enum { BLOCKS = 4, MODULES = 2 + 3 * BLOCKS, CALLS = 2 * BLOCKS, MOST = 64 };

/* A list h of blocks, each of them attn and mlp, with a call in each. */
struct blocks {
    struct arena *a;
    struct program p;
    struct region *all;
    bool can[MODULES], worth[MODULES];
    int64_t kept[MODULES], inside[MODULES];
    double flops[MODULES];
    int n;
    struct pattern *found;
};

static struct blocks
blocks_new(void)
{
    struct blocks b = {.a = arena_new()};
    b.p.modules = NEWN(b.a, struct module, MODULES);
    b.p.calls = NEWN(b.a, struct call, CALLS);
    b.p.nmodules = MODULES;
    b.p.ncalls = CALLS;
    b.p.modules[0] = (struct module){"", NULL, -1};
    b.p.modules[1] = (struct module){"h", NULL, 0};
    for (int i = 0; i < BLOCKS; i++) {
        int at = 2 + 3 * i;
        b.p.modules[at] = (struct module){arena_printf(b.a, "h.%d", i), NULL, 1};
        b.p.modules[at + 1] = (struct module){arena_printf(b.a, "h.%d.attn", i), NULL, at};
        b.p.modules[at + 2] = (struct module){arena_printf(b.a, "h.%d.mlp", i), NULL, at};
        b.p.calls[2 * i].scope = at + 1;
        b.p.calls[2 * i + 1].scope = at + 2;
        b.kept[at] = b.inside[at] = 6000;
        b.kept[at + 1] = b.inside[at + 1] = 2000;
        b.kept[at + 2] = b.inside[at + 2] = 4000;
        b.flops[at] = 30;
        b.flops[at + 1] = 20;
        b.flops[at + 2] = 10;
    }
    for (int i = 1; i < MODULES; i++)
        b.can[i] = b.worth[i] = i > 1;
    return b;
}

static void
find(struct blocks *b)
{
    b->all = modules_regions(b->a, &b->p);
    b->found = modules_patterns(b->a, &b->p, b->all, b->can, b->worth, b->kept, b->inside, b->flops, MOST, &b->n);
}

static const struct pattern *
named(const struct blocks *b, const char *name)
{
    for (int i = 0; i < b->n; i++)
        if (strcmp(b->found[i].name, name) == 0)
            return &b->found[i];
    return NULL;
}

static void
test_globs(void)
{
    struct blocks b = blocks_new();
    int to[MODULES];
    b.all = modules_regions(b.a, &b.p);
    CU_ASSERT_EQUAL(modules_named(&b.p, b.all, "*.mlp", 1, to), BLOCKS);
    CU_ASSERT_EQUAL(to[0], 4);
    CU_ASSERT_EQUAL(modules_named(&b.p, b.all, "h.*", 1, to), BLOCKS); /* not what lies in them */
    CU_ASSERT_EQUAL(modules_named(&b.p, b.all, "h.*", 2, to), BLOCKS / 2);
    CU_ASSERT_EQUAL(to[1], 8);
    CU_ASSERT_EQUAL(modules_named(&b.p, b.all, "*", 1, to), 1);
    CU_ASSERT_EQUAL(modules_named(&b.p, b.all, "absent", 1, to), 0);
    CU_ASSERT(modules_numbered("h.0.mlp") && modules_numbered("h.0") && !modules_numbered("h"));
    b.p.calls[3].scope = 4; /* behind a call of the second block: no longer one piece */
    b.all = modules_regions(b.a, &b.p);
    CU_ASSERT_EQUAL(b.all[4].first, -1);
    arena_free(b.a);
}

static void
test_patterns(void)
{
    struct blocks b = blocks_new();
    find(&b);
    const struct pattern *mlp = named(&b, "*.mlp"), *all = named(&b, "h.*");
    CU_ASSERT_PTR_NOT_NULL_FATAL(mlp);
    CU_ASSERT_PTR_NOT_NULL_FATAL(all);
    CU_ASSERT(mlp->n == BLOCKS && mlp->terms == 1 && mlp->every == 1);
    CU_ASSERT_STRING_EQUAL(mlp->regex, ".+\\.mlp");
    CU_ASSERT_STRING_EQUAL(all->regex, "h\\.\\d+");
    CU_ASSERT_EQUAL(mlp->most, 4000 * BLOCKS);
    CU_ASSERT_EQUAL(mlp->saves, 4000 * BLOCKS - 2000);
    CU_ASSERT_EQUAL(mlp->flops, 10.0 * BLOCKS);
    CU_ASSERT_PTR_NULL(named(&b, "h.*/2")); /* *.mlp saves more for less work */
    arena_free(b.a);
}

static void
test_strides(void)
{
    struct blocks b = blocks_new();
    for (int i = 2; i < MODULES; i++)
        b.worth[i] = (i - 2) % 3 == 0;
    find(&b);
    const struct pattern *half = named(&b, "h.*/2");
    CU_ASSERT_PTR_NOT_NULL_FATAL(half);
    CU_ASSERT(half->n == BLOCKS / 2 && half->every == 2 && half->module[1] == 8);
    CU_ASSERT_EQUAL(half->flops, 30.0 * BLOCKS / 2);
    b.p.modules[5].parent = 0; /* no longer in one list */
    find(&b);
    CU_ASSERT_PTR_NULL(named(&b, "h.*/2"));
    arena_free(b.a);
}

/* A name one of whose modules can't be wrapped is no pattern. */
static void
test_all_or_none(void)
{
    struct blocks b = blocks_new();
    b.can[4] = false;
    find(&b);
    CU_ASSERT_PTR_NULL(named(&b, "*.mlp"));
    CU_ASSERT_PTR_NOT_NULL(named(&b, "h.*"));
    arena_free(b.a);
}

/* Two names together, where neither alone does it; one that another beats is left out. */
static void
test_unions(void)
{
    struct blocks b = blocks_new();
    for (int i = 0; i < BLOCKS; i++)
        b.can[2 + 3 * i] = false;
    find(&b);
    const struct pattern *two = named(&b, "*.mlp,*.attn");
    CU_ASSERT_PTR_NULL(named(&b, "h.*"));
    CU_ASSERT_PTR_NOT_NULL_FATAL(two);
    CU_ASSERT(two->n == 2 * BLOCKS && two->terms == 2 && two->module[0] == 3 && two->module[1] == 4);
    CU_ASSERT_STRING_EQUAL(two->regex, ".+\\.mlp|.+\\.attn");
    for (int i = 0; i < b.n; i++)
        CU_ASSERT(i == 0 || b.found[i].terms > 1 || b.found[i - 1].saves >= b.found[i].saves);
    arena_free(b.a);
}

void
suite_modules(void)
{
    CU_pSuite s = CU_add_suite("modules", NULL, NULL);
    CU_add_test(s, "what a glob tells", test_globs);
    CU_add_test(s, "patterns of a list of blocks", test_patterns);
    CU_add_test(s, "every second of them", test_strides);
    CU_add_test(s, "all modules of a name or none", test_all_or_none);
    CU_add_test(s, "two names together", test_unions);
}
