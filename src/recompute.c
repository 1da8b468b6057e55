/* recompute.c - which modules to put under torch.utils.checkpoint so that the step fits, at the least extra work.
 *
 * A candidate is a module whose calls stand together. A plan is a set of candidates apart from each other; every plan that is reported was
 * run as a step of its own.
 */
#include "memlint.h"

#include <stdlib.h>
#include <string.h>

static bool
is_below(const struct program *p, int module, int above)
{
    for (; module >= 0; module = p->modules[module].parent)
        if (module == above)
            return true;
    return false;
}

/* The calls of a module and those below it; false when others stand between. */
static bool
region_of(const struct program *p, int module, struct region *r)
{
    int count = 0;
    *r = (struct region){-1, -1};
    for (int i = 0; i < p->ncalls; i++)
        if (is_below(p, p->calls[i].scope, module)) {
            r->first = r->first < 0 ? i : r->first;
            r->end = i + 1;
            count++;
        }
    return count > 0 && r->end - r->first == count;
}

static int
by_place(const void *a, const void *b)
{
    const struct region *r = a, *q = b;
    return r->first - q->first;
}

bool
recompute_modules(struct arena *a, struct program *p, const char *globs, const char **why)
{
    struct region *r = NEWN(a, struct region, p->nmodules + 1);
    int n = 0;
    for (int i = 1; i < p->nmodules; i++)
        for (const char *g = globs; *g; g += strcspn(g, ",") + (g[strcspn(g, ",")] == ',')) {
            if (!glob_match(arena_strn(a, g, strcspn(g, ",")), p->modules[i].path))
                continue;
            if (region_of(p, i, &r[n]))
                n++;
            break;
        }
    qsort(r, (size_t)n, sizeof(*r), by_place);
    for (int i = 1; i < n; i++)
        if (r[i].first < r[i - 1].end) {
            *why = "one of these modules is inside of another";
            return false;
        }
    p->nregions = n;
    p->regions = r;
    *why = "no module of that name runs as one piece";
    return n > 0;
}
