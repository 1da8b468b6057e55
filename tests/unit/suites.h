/* SPDX-License-Identifier: Apache-2.0 */
/* suites.h - the CUnit suites that main.c runs, one function each: it adds a suite and its tests. Weak, so that a suite
 * whose file is not in the build is left out. */
#ifndef SUITES_H
#define SUITES_H

#define SUITE(name) void suite_##name(void) __attribute__((weak))

SUITE(util);
SUITE(scan);
SUITE(graph);
SUITE(shapes);
SUITE(aten);
SUITE(step);
SUITE(live);
SUITE(heap);
SUITE(reports);
SUITE(replay);
SUITE(recompute);
SUITE(modules);

#endif
