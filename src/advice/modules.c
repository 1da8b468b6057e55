/* SPDX-License-Identifier: Apache-2.0 */
/* modules.c - modules by name, and the patterns that people paste.
 *
 * A plan of sixty module names is right and of no use: nobody pastes it, and the next model has other names. So plans
 * are also tried as patterns: all blocks of a list, every second one, all modules of one name wherever they lie, two or
 * three of these together. A name's numbers become `*`; what such a name means to --recompute and to a regular
 * expression in Python has to be the same modules, or it is no pattern. Which are worth a run is judged roughly, from
 * what modules save and what they cost; the run alone decides.
 */
#include "advice/modules.h"

#include <stdlib.h>
#include <string.h>

bool
modules_numbered(const char *path)
{
    const char *last = path_last(path), *digit = strpbrk(path, "0123456789");
    return (digit && digit < last) || strspn(last, "0123456789") == strlen(last);
}

struct region *
modules_regions(struct arena *a, const struct program *p)
{
    struct region *r = NEWN(a, struct region, p->nmodules + 1);
    int *count = NEWN(a, int, p->nmodules + 1);
    for (int i = 0; i < p->ncalls; i++)
        for (int at = p->calls[i].scope; at >= 0; at = p->modules[at].parent) {
            r[at].first = count[at]++ ? r[at].first : i;
            r[at].end = i + 1;
        }
    for (int i = 0; i < p->nmodules; i++) {
        r[i].module = p->modules[i].path;
        if (!count[i] || r[i].end - r[i].first != count[i])
            r[i].first = -1;
    }
    return r;
}

/* ---- globs ------------------------------------------------------------------------------------------------------- */

/* Sorts modules by their first calls; insertion keeps those in order where they are, which nearly all are. */
static void
sort_by_call(const struct region *all, int n, int *module)
{
    for (int i = 1; i < n; i++) {
        int m = module[i], k = i;
        for (; k > 0 && all[module[k - 1]].first > all[m].first; k--)
            module[k] = module[k - 1];
        module[k] = m;
    }
}

int
modules_named(const struct program *p, const struct region *all, const char *glob, int every, int *to)
{
    int n = 0, kept = 0;
    for (int i = 1; i < p->nmodules; i++) {
        if (all[i].first < 0 || !glob_match(glob, p->modules[i].path))
            continue;
        int up = p->modules[i].parent;
        while (up > 0 && (all[up].first < 0 || !glob_match(glob, p->modules[up].path)))
            up = p->modules[up].parent;
        if (up <= 0)
            to[n++] = i;
    }
    sort_by_call(all, n, to);
    for (int i = 0; i < n; i += every)
        to[kept++] = to[i];
    return kept;
}

/* ---- patterns ---------------------------------------------------------------------------------------------------- */

enum { MOST_NAMES = 16, LONGEST_STRIDE = 4 };

/* A * that is a component of its own and not the last stands for any path, another one for digits. */
static bool
is_path(const char *name, const char *star)
{
    return star[1] == '.' && (star == name || star[-1] == '.');
}

/* What the regular expression of a name matches; at: where the name goes on. */
static bool
matches(const char *name, const char *at, const char *path)
{
    for (; *at; at++) {
        if (*at == '*' && is_path(name, at)) {
            for (const char *dot = path; (dot = strchr(dot, '.')); dot++)
                if (dot > path && matches(name, at + 1, dot))
                    return true;
            return false;
        }
        size_t n = *at == '*' ? strspn(path, "0123456789") : *at == *path;
        if (!n)
            return false;
        path += n;
    }
    return !*path;
}

static const char *
regex_of(struct arena *a, const char *name)
{
    const char *s = "";
    for (const char *at = name; *at; at++)
        s = *at == '*' && is_path(name, at) ? arena_printf(a, "%s.+", s)
            : *at == '*'                    ? arena_printf(a, "%s\\d+", s)
            : *at == '.'                    ? arena_printf(a, "%s\\.", s)
                                            : arena_printf(a, "%s%c", s, *at);
    return s;
}

struct finder {
    struct arena *a;
    const struct program *p;
    const struct region *all;
    const bool *can;
    const int64_t *kept, *inside;
    const double *flops;
    int n, cap;
    struct pattern *found;
    struct names *sets; /* of modules: one name for each */
};

static const char *
set_key(struct arena *a, int n, const int *module)
{
    char *s = arena_alloc(a, (size_t)n * 12 + 1), *o = s;
    *o = '\0';
    for (int i = 0; i < n; i++)
        o += sprintf(o, "%d,", module[i]);
    return s;
}

static void
add(struct finder *f, struct pattern q)
{
    int64_t again = 0;
    const char *key = q.terms == 1 ? set_key(f->a, q.n, q.module) : NULL;
    if (!q.n || (key && names_find(f->sets, key) >= 0))
        return;
    if (key)
        names_put(f->sets, key, f->n);
    for (int i = 0; i < q.n; i++) {
        q.most = bytes_add(q.most, f->kept[q.module[i]]);
        again = f->inside[q.module[i]] > again ? f->inside[q.module[i]] : again;
        q.flops += f->flops[q.module[i]];
    }
    q.saves = q.most - again / 2;
    if (q.saves > 0)
        *PUSH(f->a, f->found, f->n, f->cap) = q;
}

/* Whether they are numbered as they run: every n-th of them is every n-th of a Python list. */
static bool
in_order(const struct program *p, int n, const int *module)
{
    for (int i = 1; i < n; i++)
        if (p->modules[module[i]].parent != p->modules[module[0]].parent || module[i] < module[i - 1])
            return false;
    return true;
}

/* The pattern of a name, where --recompute and Python agree on its modules and all of them can be wrapped. */
static void
add_name(struct finder *f, const char *name)
{
    const struct program *p = f->p;
    int *by_glob = NEWN(f->a, int, p->nmodules + 1), *by_regex = NEWN(f->a, int, p->nmodules + 1), m = 0;
    int n = modules_named(p, f->all, name, 1, by_glob);
    for (int i = 1; i < p->nmodules; i++)
        if (matches(name, name, p->modules[i].path)) {
            if (!f->can[i])
                return;
            by_regex[m++] = i;
        }
    sort_by_call(f->all, m, by_regex);
    if (n != m || memcmp(by_glob, by_regex, sizeof(int) * (size_t)n) != 0)
        return;
    struct pattern q = {.name = name, .regex = regex_of(f->a, name), .every = 1, .terms = 1, .n = n, .module = by_glob};
    add(f, q);
    for (int every = 2; every <= LONGEST_STRIDE && in_order(p, n, by_glob); every++) {
        int *module = NEWN(f->a, int, n + 1), k = 0;
        for (int i = 0; i < n; i += every)
            module[k++] = by_glob[i];
        if (k < 2)
            break;
        struct pattern r = {.name = arena_printf(f->a, "%s/%d", name, every),
                            .regex = q.regex,
                            .every = every,
                            .terms = 2, /* as hard to read as two names */
                            .n = k,
                            .module = module};
        add(f, r);
    }
}

/* The names by which a module may be one of many, the shortest first: "*.mlp", of a list's element "*.h.*"; the same
 * below what has the outermost list; the whole path; that of a module that no list
 * numbers, alone. */
static void
add_names_of(struct finder *f, struct names *tried, const char *path)
{
    const char *whole = string_module_pattern(f->a, path), *star = strchr(whole, '*'), *list = star,
               *end = path + strlen(path);
    do /* a number says nothing without its list */
        while (end > path && *--end != '.')
            ;
    while (end > path && strspn(end + 1, "0123456789.") == strlen(end + 1));
    const char *last = end > path ? string_module_pattern(f->a, end) : NULL;
    for (int dots = 0; list && list > whole && dots < 2;) /* behind whose owner the list's name stands */
        dots += *--list == '.';
    const char *names[] = {
        last ? arena_printf(f->a, "*%s", last) : NULL,
        last && list && list > whole ? arena_printf(f->a, "%.*s.*%s", (int)(list - whole), whole, last) : NULL, whole};
    for (int i = 0; i < COUNT(names); i++)
        if (names[i] && names_find(tried, names[i]) < 0) {
            names_put(tried, names[i], 1);
            add_name(f, names[i]);
        }
}

static bool
overlap(const struct region *all, const struct pattern *a, const struct pattern *b)
{
    for (int i = 0, k = 0; i < a->n && k < b->n;) {
        const struct region *r = &all[a->module[i]], *q = &all[b->module[k]];
        if (r->first < q->end && q->first < r->end)
            return true;
        if (r->end <= q->first)
            i++;
        else
            k++;
    }
    return false;
}

static struct pattern
joined(struct finder *f, const struct pattern *a, const struct pattern *b)
{
    int *module = NEWN(f->a, int, a->n + b->n + 1);
    memcpy(module, a->module, sizeof(int) * (size_t)a->n);
    memcpy(module + a->n, b->module, sizeof(int) * (size_t)b->n);
    sort_by_call(f->all, a->n + b->n, module);
    return (struct pattern){.name = arena_printf(f->a, "%s,%s", a->name, b->name),
                            .regex = arena_printf(f->a, "%s|%s", a->regex, b->regex),
                            .every = 1,
                            .terms = a->terms + b->terms,
                            .n = a->n + b->n,
                            .module = module};
}

static int
by_saving(const void *a, const void *b)
{
    const struct pattern *p = a, *q = b;
    return p->saves != q->saves   ? (p->saves < q->saves ? 1 : -1)
           : p->flops != q->flops ? (p->flops > q->flops ? 1 : -1)
                                  : strcmp(p->name, q->name);
}

/* Each with those that follow and don't lie in it, to MOST_TERMS. */
static void
add_unions(struct finder *f)
{
    int n = f->n;
    struct pattern *one = NEWN(f->a, struct pattern, n + 1);
    int ones = 0;
    qsort(f->found, (size_t)n, sizeof(*f->found), by_saving);
    for (int i = 0; i < n && ones < MOST_NAMES; i++)
        if (f->found[i].terms == 1)
            one[ones++] = f->found[i];
    for (int i = 0; i < ones; i++)
        for (int k = i + 1; k < ones; k++) {
            if (overlap(f->all, &one[i], &one[k]))
                continue;
            struct pattern two = joined(f, &one[i], &one[k]);
            add(f, two);
            for (int l = k + 1; l < ones; l++)
                if (!overlap(f->all, &two, &one[l]))
                    add(f, joined(f, &two, &one[l]));
        }
}

/* Another, no longer to read, saves about as much for about the same work. */
static bool
beaten(const struct finder *f, int i)
{
    const struct pattern *q = &f->found[i];
    for (int k = 0; k < f->n; k++) {
        const struct pattern *o = &f->found[k];
        if (k == i || o->terms > q->terms || o->flops > q->flops * 1.02 || o->saves < q->saves / 100 * 98 ||
            o->most < q->most / 100 * 98)
            continue;
        if (o->terms < q->terms || o->flops < q->flops || (o->flops == q->flops && o->saves > q->saves) ||
            (o->flops == q->flops && o->saves == q->saves && k < i))
            return true;
    }
    return false;
}

struct pattern *
modules_patterns(struct arena *a, const struct program *p, const struct region *all, const bool *can, const bool *worth,
                 const int64_t *kept, const int64_t *inside, const double *flops, int most, int *n)
{
    struct finder f = {.a = a, .p = p, .all = all, .can = can, .kept = kept, .inside = inside, .flops = flops};
    struct names *tried = names_new(a);
    f.sets = names_new(a);
    for (int i = 1; i < p->nmodules; i++)
        if (worth[i] && is_pasteable(p->modules[i].path))
            add_names_of(&f, tried, p->modules[i].path);
    *n = 0;
    if (!f.n)
        return NULL;
    add_unions(&f);
    struct pattern *best = NEWN(a, struct pattern, f.n), *chosen = NEWN(a, struct pattern, most);
    int left = 0, others = 0;
    qsort(f.found, (size_t)f.n, sizeof(*f.found), by_saving);
    for (int i = 0; i < f.n; i++)
        if (!beaten(&f, i))
            best[left++] = f.found[i];
    for (int i = 0; i < left && *n < most; i++) /* what one name tells, then the others, evenly */
        if (best[i].terms == 1)
            chosen[(*n)++] = best[i];
        else
            best[others++] = best[i];
    for (int i = 0, room = most - *n; i < others && i < room; i++)
        chosen[(*n)++] = best[others <= room || room < 2 ? i : (int64_t)i * (others - 1) / (room - 1)];
    return chosen;
}
