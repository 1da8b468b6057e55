/* SPDX-License-Identifier: Apache-2.0 */
/* main.c - runs the CUnit suites: all of them, or those whose name is given. Exit 1 when an assertion failed. */
#include "suites.h"

#include <CUnit/Basic.h>
#include <string.h>

static const struct {
    const char *name;
    void (*add)(void);
} suites[] = {
    {"util", suite_util},       {"scan", suite_scan},     {"graph", suite_graph},         {"shapes", suite_shapes},
    {"aten", suite_aten},       {"step", suite_step},     {"live", suite_live},           {"heap", suite_heap},
    {"reports", suite_reports}, {"replay", suite_replay}, {"recompute", suite_recompute}, {"modules", suite_modules},
};

int
main(int argc, char **argv)
{
    if (CU_initialize_registry() != CUE_SUCCESS)
        return CU_get_error();
    for (size_t i = 0; i < sizeof(suites) / sizeof(suites[0]); i++)
        if (suites[i].add && (argc < 2 || strcmp(argv[1], suites[i].name) == 0))
            suites[i].add();
    CU_basic_set_mode(CU_BRM_NORMAL);
    CU_basic_run_tests();
    unsigned failed = CU_get_number_of_failures() + CU_get_number_of_suites_failed();
    CU_cleanup_registry();
    return failed != 0;
}
