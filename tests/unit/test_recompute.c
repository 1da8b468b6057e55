/* SPDX-License-Identifier: Apache-2.0 */
/* test_recompute.c - the planner of nested regions on uniform chains, whose optima are known. */
#include "suites.h"
#include "tests/all.h"

#include <CUnit/CUnit.h>

/* Checkmate's linear graphs: n forward and n + 1 backward steps, all of size and cost 1, B values alive at most. The
 * optima were proved by a MILP solver where it ended within two minutes; elsewhere they lie within its bounds. Source
 * of the graphs: gen_linear_graph in Checkmate. */
static const struct {
    int n, budget, optimum;
} chains[] = {
    {8, 10, 17}, {8, 7, 20},   {8, 6, 21},   {8, 5, 22},   {8, 4, 26},   {12, 10, 29}, {12, 7, 32},
    {12, 5, 37}, {16, 14, 37}, {16, 12, 39}, {16, 10, 41}, {16, 8, 43},  {16, 7, 44},  {16, 6, 47},
    {16, 5, 53}, {24, 12, 63}, {24, 8, 67},  {32, 16, 83}, {32, 10, 89},
};

static void
test_chains(void)
{
    for (int i = 0; i < COUNT(chains); i++) {
        int n = chains[i].n, m = chains[i].budget;
        struct arena *a = arena_new();
        struct chain t = recompute_chain(a, n, m);
        CU_ASSERT_EQUAL(t.cost[m * (n + 1) + n] + n + 1, chains[i].optimum);
        CU_ASSERT(t.cost[2 * (n + 1) + n] >= NO_CHAIN);
        arena_free(a);
    }
}

void
suite_recompute(void)
{
    CU_pSuite s = CU_add_suite("recompute", NULL, NULL);
    CU_add_test(s, "uniform chains to their optima", test_chains);
}
