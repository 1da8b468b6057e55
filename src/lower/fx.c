/* SPDX-License-Identifier: Apache-2.0 */
/* fx.c - the exporter's text: a call as torch.fx prints it, its module scopes, its Python frames.
 *
 * Reading alone: names stay text. Texts are a file's, and may be anything; what doesn't read as expected ends the
 * reading.
 */
#include "lower/dynamo.h"
#include "torch/torch.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* "%NAME : [num_users=1] = call_function[target=torch.ops.aten.add.Tensor](args = (...), kwargs = {...})" */
bool
fx_split(struct arena *a, const char *fx, struct group *g)
{
    const char *colon = strchr(fx, ' '), *target = strstr(fx, "[target="), *end;
    if (*fx != '%' || !colon || !target)
        return false;
    target += strlen("[target=");
    if (strncmp(target, "torch.ops.", 10) == 0)
        target += 10;
    end = strchr(target, ']');
    const char *args = end ? strstr(end, "(args = (") : NULL;
    if (!args)
        return false;
    g->fx_name = arena_strn(a, fx + 1, (size_t)(colon - fx - 1));
    g->target = arena_strn(a, target, (size_t)(end - target));
    g->args = args + strlen("(args = (");
    return true;
}

/* Arguments are "%list, 2". */
const char *
fx_list(struct arena *a, const struct group *g, int *item)
{
    if (strcmp(g->target, "operator.getitem") != 0 || *g->args != '%')
        return "";
    const char *list = g->args + 1, *end = list + python_name(list);
    *item = atoi(end + strspn(end, ", "));
    return arena_strn(a, list, (size_t)(end - list));
}

/* The n-th entry from the end of a Python list of strings. */
const char *
fx_entry(struct arena *a, const char *list, int from_end)
{
    struct entry {
        const char *s;
        size_t len;
    } *found = NULL, e;
    int n = 0, cap = 0;
    while ((e.s = python_entry(&list, &e.len)))
        *PUSH(a, found, n, cap) = e;
    return found && from_end <= n ? arena_strn(a, found[n - from_end].s, found[n - from_end].len) : NULL;
}

/* ---- Python frames ----------------------------------------------------------------------------------------------- */

/* The last frame outside site-packages as "file.py:123". */
const char *
fx_location(struct arena *a, const char *stack)
{
    static const char packages[] = "site-packages/";
    const char *best = NULL, *number = NULL, *library = stack ? strstr(stack, packages) : NULL;
    int length = 0;
    for (const char *p = stack; p && (p = python_frame(p)); p++) {
        const char *file = p + 6, *end = strchr(file, '"'), *line = end ? strstr(end, "line ") : NULL;
        if (!line || line - end > 4)
            continue;
        while (library && library < file)
            library = strstr(library + 1, packages);
        if (best && library && library < end)
            continue;
        best = file;
        length = (int)(end - file);
        number = line + 5;
    }
    return best ? arena_printf(a, "%.*s:%d", length, best, atoi(number)) : NULL;
}

/* The source line of the innermost frame. */
const char *
fx_line(struct arena *a, const char *stack)
{
    const size_t all = stack ? strlen(stack) : 0;
    size_t n = all;
    while (n && (stack[n - 1] == '\n' || stack[n - 1] == ' '))
        n--;
    const char *text = !n ? "" : n < all ? arena_strn(a, stack, n) : stack, *last = strrchr(text, '\n');
    return last ? last + 1 : text;
}

const char *
fx_line_at(const struct dynamo *d, int node)
{
    if (!d->line[node])
        d->line[node] = fx_line(d->l->a, d->l->g->n[node].stack);
    return d->line[node];
}

bool
fx_widens(const char *line)
{
    static const char *const widened[] = {"weight.float()", "weight.to(torch.float32)"};
    bool wide = false;
    for (int i = 0; i < COUNT(widened); i++)
        wide |= strstr(line, widened[i]) != NULL;
    return wide;
}

const char *
fx_outer(struct arena *a, const char *stack)
{
    const char *last = python_inner(stack);
    return last ? arena_strn(a, stack, (size_t)(last - stack)) : stack;
}

const char *
fx_before(struct arena *a, const char *stack, const char *name)
{
    static const char mark[] = "\", line ";
    const char *line = stack ? strstr(stack, mark) : NULL;
    for (const char *p = line; p && (p = strstr(p + 1, mark));)
        line = p;
    const char *number = line ? line + strlen(mark) : NULL, *text = number ? strchr(number, '\n') : NULL;
    if (!text || !name)
        return stack;
    return arena_printf(a, "%.*s-%.*s\n    %s = ", (int)(number - stack), stack, (int)(text - number), number, name);
}

const char **
fx_frames(struct arena *a, const char *stack)
{
    const char **list = NULL;
    int n = 0, cap = 0;
    for (const char *p = stack; p && (p = python_frame(p)); p++) {
        const char *end = strchr(p, '\n');
        *PUSH(a, list, n, cap) = end ? arena_strn(a, p, (size_t)(end - p)) : arena_str(a, p);
    }
    if (list)
        *PUSH(a, list, n, cap) = NULL;
    return list;
}

/* ---- arguments --------------------------------------------------------------------------------------------------- */

/* While arguments are read, names stay text; resolve() turns them into slots. */
static const char *
parse_arg(struct lowering *l, const char *p, struct arg *out, int depth)
{
    while (*p == ' ')
        p++;
    if ((*p == '[' || *p == '(') && depth == MAX_DEPTH) {
        graph_doubt(l->g, "model", "fx_node", limit_remedy(l->a, LIMIT_DEPTH),
                    "a recorded argument has more than %d lists in lists", MAX_DEPTH)
            ->sure = SURE_MODEL;
        *out = NONE;
        return p + strlen(p);
    }
    if (*p == '[' || *p == '(') {
        char close = *p == '[' ? ']' : ')';
        int cap = 0;
        *out = (struct arg){.kind = ARG_LIST};
        p++;
        while (*p && *p != close) {
            struct arg e;
            const char *next = parse_arg(l, p, &e, depth + 1);
            if (next == p)
                break;
            *PUSH(l->a, out->list, out->n, cap) = e;
            p = next;
            while (*p == ',' || *p == ' ')
                p++;
        }
        return *p ? p + 1 : p;
    }
    const char *end = p;
    while (*end && *end != ')' && *end != ']' && *end != '}' && !(*end == ',' && (end[1] == ' ' || end[1] == ')')))
        end++;
    const char *arrow = strstr(p, "->"), *list = strstr(p, ", [");
    bool equation = isalpha((unsigned char)*p) || *p == '.'; /* "... i, ... j -> ... i j" */
    if (equation && arrow && list && end < arrow && arrow < list)
        end = list;
    char *word = arena_strn(l->a, p, (size_t)(end - p)), *rest;
    double f = strtod(word, &rest);
    if (*word == '%')
        *out = (struct arg){.kind = ARG_SLOT, .i = -1, .s = word + 1};
    else if (*word && !*rest)
        *out = strpbrk(word, ".einf") ? (struct arg){.kind = ARG_FLOAT, .f = f}
                                      : (struct arg){.kind = ARG_INT, .i = strtoll(word, NULL, 10)};
    else if (*word && strcmp(rest, "j") == 0) /* "2j", of which the type alone counts */
        *out = (struct arg){.kind = ARG_COMPLEX, .s = word};
    else if (strcmp(word, "True") == 0 || strcmp(word, "False") == 0)
        *out = (struct arg){.kind = ARG_BOOL, .i = *word == 'T'};
    else if (strcmp(word, "None") == 0 || !*word)
        *out = (struct arg){.kind = ARG_NONE};
    else if (strncmp(word, "torch.", 6) == 0 && dtype_by_torch(word + 6))
        *out = (struct arg){.kind = ARG_DTYPE, .i = dtype_by_torch(word + 6)};
    else
        *out = (struct arg){.kind = ARG_TEXT, .s = word};
    return end;
}

/* Positional arguments, then keyword ones at their place in the row; the rest of out[MAX_ARGS] is NONE. */
int
fx_args(struct lowering *l, const struct aten *op, const char *p, struct arg *out)
{
    int n = 0;
    for (int i = 0; i < MAX_ARGS; i++)
        out[i] = NONE;
    while (*p && *p != ')' && n < MAX_ARGS) {
        p = parse_arg(l, p, &out[n++], 0);
        while (*p == ',' || *p == ' ')
            p++;
    }
    const char *named = strstr(p, "kwargs = {");
    for (p = named ? named + strlen("kwargs = {") : ""; *p && *p != '}';) {
        const char *colon = strchr(p, ':');
        if (!colon)
            break;
        char key[64];
        snprintf(key, sizeof(key), "%.*s", (int)(colon - p), p);
        struct arg v;
        p = parse_arg(l, colon + 1, &v, 0);
        int at = op ? aten_arg(op, key) : -1;
        if (at >= 0 && at < MAX_ARGS) {
            out[at] = v;
            n = at < n ? n : at + 1;
        }
        while (*p == ',' || *p == ' ')
            p++;
    }
    return n;
}
