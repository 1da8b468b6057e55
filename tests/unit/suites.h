/* suites.h - the CUnit suites that main.c runs, one function each; a suite adds itself and its tests. */
#ifndef SUITES_H
#define SUITES_H

void suite_util(void);
void suite_reports(void);

#endif
