#include "memlint.h"
#include "suites.h"
void
suite_reports(void)
{
}
