/* SPDX-License-Identifier: Apache-2.0 */
/* copies.c - copies of views that only the line of Python says.
 *
 * torch.expand_copy(x, size) is an operator, of which a file has the view; the clone behind that is left out, and with
 * it a view that changes nothing. Where the line calls the copy as often as there are such views, these are it.
 * Sources: tag view_copy in native_functions.yaml; _make_copy_from_view in torch/_refs.
 */
#include "lower/dynamo.h"
#include "torch/torch.h"

#include <ctype.h>
#include <string.h>

static const struct {
    const char *name;
    bool list; /* of results, which Python holds as long as what has the list */
} copies[] = {
    {"alias_copy", false},  {"as_strided_copy", false}, {"detach_copy", false},    {"expand_copy", false},
    {"narrow_copy", false}, {"permute_copy", false},    {"select_copy", false},    {"slice_copy", false},
    {"split_copy", true},   {"squeeze_copy", false},    {"transpose_copy", false}, {"split_with_sizes_copy", true},
    {"t_copy", false},      {"unbind_copy", true},      {"unfold_copy", false},    {"unsqueeze_copy", false},
    {"view_copy", false},
};

bool
copies_is(const char *target)
{
    for (int i = 0; i < COUNT(copies); i++)
        if (target_named(target, copies[i].name))
            return true;
    return false;
}

/* Whether a call reads what the group makes by its own name, not its clone. */
static bool
read_itself(const struct dynamo *d, const struct group *g)
{
    const char *name = arena_printf(d->l->a, "%%%s", g->fx_name);
    bool read = false;
    for (const struct group *h = g + 1; h < d->groups + d->ngroups && !read; h++)
        for (const char *p = h->args; (p = strstr(p, name)) && !read; p++)
            read = python_name(p + 1) == strlen(g->fx_name);
    return read;
}

/* "x = torch.unbind_copy(y)": to a name, or several. */
static bool
binds_call(const char *line, const char *name)
{
    const char *value = strstr(line, " = "), *inside = python_calls(line, name);
    value += value ? strlen(" = ") : 0;
    while (value && (isalnum((unsigned char)*value) || strchr("_.", *value)) && *value)
        value++;
    return value && value + 1 == inside;
}

const char *
copies_anew(const struct dynamo *d, const struct group *g)
{
    struct arena *a = d->l->a;
    const char *line = fx_line_at(d, g->last);
    const uint64_t endings = fx_record(d->l, g->last)->traced->endings;
    if (!python_may_call(endings, "_copy") || !strstr(line, "_copy("))
        return NULL;
    const char *root = spelled_root(a, g->target), *copy = arena_printf(a, "%s_copy", root);
    for (int i = 0; i < COUNT(copies); i++) {
        if (!python_may_call(endings, copies[i].name) || !python_calls(line, copies[i].name))
            continue;
        if (target_named(g->target, copies[i].name))
            return g->target;
        if (spelled(g->target, COPIES) && !python_calls(line, root))
            return "aten.alias.default";
        const char *target = arena_printf(a, "aten.%s%s", copy, target_bare(g->target) + strlen(root));
        if (strcmp(copies[i].name, copy) == 0 && spelled_row(target) &&
            !(python_calls(line, root) && read_itself(d, g)))
            return target;
    }
    return NULL;
}

const char *
copies_missed(const struct dynamo *d, int at)
{
    struct arena *a = d->l->a;
    const char *line = fx_line_at(d, d->groups[at].last);
    const uint64_t endings = fx_record(d->l, d->groups[at].last)->traced->endings;
    if (!python_may_call(endings, "_copy") || !strstr(line, "_copy("))
        return NULL;
    for (int i = 0; i < COUNT(copies); i++) {
        const char *name = copies[i].name;
        if (!python_may_call(endings, name) || !python_calls(line, name))
            continue;
        int written = python_times(line, name), made = 0;
        for (int k = at; k < d->ngroups && group_same_statement(d, d->groups[at].last, d->groups[k].last); k++) {
            const char *copy = copies_anew(d, &d->groups[k]);
            made += copy && target_named(copy, name);
        }
        bool view = python_calls(line, arena_strn(a, name, strlen(name) - strlen("_copy"))),
             each = made && written && made % written == 0 && !(view && made > written);
        if (!each || (copies[i].list && !binds_call(line, name)))
            return name;
    }
    return NULL;
}
