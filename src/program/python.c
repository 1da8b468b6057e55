/* SPDX-License-Identifier: Apache-2.0 */
/* python.c - how long the names of the traced program hold a tensor.
 *
 * Every call carries the Python frames it ran in, with their source lines and modules. Where the frames of a value's
 * maker and of its reader first differ tells who held the value in between:
 *
 *   - only by the line: it was a local of that frame; its name stands before the "=" of the maker's line. It lives
 *     until another statement has bound the name anew, or until the frame returns. What was appended to a list lives
 *     until the frame returns.
 *     A reader whose line does not mention the name read it under another, which lines without calls gave it (a
 *     tuple that grew, an alias); a maker's line that is part of a statement of several has no name either. Then it is
 *     one of those in the reader's line that no line was seen to bind.
 *   - otherwise it was passed on without a name: as an argument it lives until the reader's function returns.
 *
 * A frame is told from another one of the same function by its module: each forward() of the stack belongs to one
 * entry of the module path.
 *
 * Files without stacks (TorchScript's) have the names of modules alone: what was made outside of a module and is read in
 * it was its argument. Of locals they say nothing: with `locals` each tensor has a name, until its statement runs again,
 * which is the most that they can hold.
 */
#include "program/program.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

struct spot {  /* a frame of a call */
    int where; /* file, function and module, as a number */
    int line;
    const char *text;
};

struct stack {
    int n;
    struct spot *at;
};

struct tracer {
    const struct program *p;
    struct arena *a;
    struct names *names;
    struct stack *stacks; /* per call */
    int steps;
};

static int
number_of(struct tracer *t, const char *name)
{
    int at = names_find(t->names, name);
    if (at < 0) {
        at = t->steps++;
        names_put(t->names, name, at);
    }
    return at;
}

const char *
python_entry(const char **list, size_t *len)
{
    const char *p = *list ? *list + strcspn(*list, "'\"") : "", *end = *p ? strchr(p + 1, *p) : NULL;
    *list = end ? end + 1 : NULL;
    *len = end ? (size_t)(end - p - 1) : 0;
    return end ? p + 1 : NULL;
}

/* The entries of a Python list of strings. */
static const char **
scope_list(struct arena *a, const char *list, int *n)
{
    const char **out = NULL, *s;
    int cap = 0;
    for (size_t len; (s = python_entry(&list, &len));)
        *PUSH(a, out, *n, cap) = arena_strn(a, s, len);
    return out;
}

static void
read_stack(struct tracer *t, const struct call *c, struct stack *s)
{
    int n = 0, depth = 0, cap = 0;
    const char **scope = scope_list(t->a, c->scopes, &n);
    int nscopes = n - 1; /* the last entry is the call itself */
    for (const char *p = c->stack ? c->stack : ""; (p = strstr(p, "File \""));) {
        const char *end = strchr(p, '\n'), *line = strstr(p, "\", line "), *in = line ? strstr(line, ", in ") : NULL;
        if (!end || !in || in > end)
            break;
        depth += strncmp(in, ", in forward\n", 13) == 0;
        const char *module = nscopes < 1 ? "" : scope[depth < 1 ? 0 : depth <= nscopes ? depth - 1 : nscopes - 1];
        const char *text = end + 1 + strspn(end + 1, " "), *next = text + strcspn(text, "\n");
        struct spot spot = {.line = atoi(line + 8), .text = arena_strn(t->a, text, (size_t)(next - text))};
        spot.where = number_of(t, arena_printf(t->a, "%.*s %.*s %s", (int)(line - p), p, (int)(end - in), in, module));
        *PUSH(t->a, s->at, s->n, cap) = spot;
        p = next;
    }
}

static bool
same_spot(const struct spot *a, const struct spot *b)
{
    return a->where == b->where && a->line == b->line;
}

/* The level at which two stacks first differ. */
static int
parting(const struct stack *a, const struct stack *b)
{
    int j = 0;
    while (j < a->n && j < b->n && same_spot(&a->at[j], &b->at[j]))
        j++;
    return j;
}

/* Call i runs in the frame that is at `level` of s. */
static bool
inside(const struct tracer *t, const struct stack *s, int level, int i)
{
    const struct stack *o = &t->stacks[i];
    if (o->n <= level || o->at[level].where != s->at[level].where)
        return false;
    for (int k = level - 1; k >= 0; k--)
        if (!same_spot(&o->at[k], &s->at[k]))
            return false;
    return true;
}

/* The last call before that frame returns, from call i on. */
static int
frame_end(struct tracer *t, const struct stack *s, int level, int i)
{
    while (i + 1 < t->p->ncalls && t->steps++ < limit(LIMIT_FRAMES) &&
           (!t->stacks[i + 1].n || inside(t, s, level, i + 1)))
        i++;
    return i;
}

/* "x, y = f(z)": the n-th name, or the last; NULL when the line binds no name. */
static const char *
bound_name(const char *text, int n, size_t *len)
{
    const char *eq = strchr(text, '=');
    if (!eq || eq == text || eq[1] == '=' || strchr("!<>", eq[-1]))
        return NULL;
    for (const char *p = text; p < eq; p++)
        if (!isalnum((unsigned char)*p) && !strchr("_, +-*/@", *p))
            return NULL;
    const char *p = text;
    for (int i = 0; i < n; i++) {
        const char *comma = strchr(p, ',');
        if (!comma || comma > eq)
            break;
        p = comma + 1;
    }
    p += strspn(p, " ");
    *len = 0;
    while (isalnum((unsigned char)p[*len]) || p[*len] == '_')
        ++*len;
    return *len ? p : NULL;
}

static bool
binds(const char *text, const char *name)
{
    size_t len;
    const char *other, *before = NULL;
    for (int i = 0; (other = bound_name(text, i, &len)) && other != before; i++) {
        if (strncmp(other, name, len) == 0 && !name[len])
            return true;
        before = other;
    }
    return false;
}

static bool
collects(const char *text)
{
    return strstr(text, ".append(") || strstr(text, ".extend(") || strstr(text, "] = ");
}

/* A local of the frame at that level, made by call `from`: the last call before its name is bound anew. */
static int
local_end(struct tracer *t, int from, int level, const char *name)
{
    const struct stack *s = &t->stacks[from];
    int end = frame_end(t, s, level, from), line = s->at[level].line;
    bool left = false;
    for (int i = from + 1; i <= end; i++) {
        const struct stack *o = &t->stacks[i];
        if (!o->n)
            continue;
        left |= o->at[level].line != line;
        if (!left || !binds(o->at[level].text, name))
            continue;
        int bound = o->at[level].line;
        while (i + 1 <= end && (!t->stacks[i + 1].n || t->stacks[i + 1].at[level].line == bound))
            i++;
        return i;
    }
    return end;
}

/* All of a statement, as far as brackets tell. */
static bool
is_complete(const char *text)
{
    int open = 0;
    for (const char *p = text; *p; p++)
        open += strchr("([{", *p) ? 1 : strchr(")]}", *p) ? -1 : 0;
    return !open && *text && text[strlen(text) - 1] != '\\';
}

/* The next name of a variable in an expression, from p on: no attribute, no function, no keyword of a call. */
static const char *
next_variable(const char *p, size_t *len)
{
    static const char *const others[] = {"self", "torch", "F",  "nn",  "math", "np",    "return", "if",
                                         "else", "not",   "in", "for", "and",  "or",    "is",     "None",
                                         "True", "False", "s",  "ctx", "cls",  "lambda"};
    for (; *p; p += *len) {
        *len = 1;
        if (*p == '"' || *p == '\'') {
            const char *end = strchr(p + 1, *p);
            *len = end ? (size_t)(end - p) + 1 : strlen(p);
            continue;
        }
        if (!isalpha((unsigned char)*p) && *p != '_') {
            *len = isdigit((unsigned char)*p)
                       ? strspn(p, "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_.")
                       : 1;
            if (*p == '.')
                while (isalnum((unsigned char)p[*len]) || p[*len] == '_')
                    ++*len;
            continue;
        }
        while (isalnum((unsigned char)p[*len]) || p[*len] == '_')
            ++*len;
        bool other = p[*len] == '(' || (p[*len] == '=' && p[*len + 1] != '=');
        for (int i = 0; i < COUNT(others) && !other; i++)
            other = strlen(others[i]) == *len && strncmp(others[i], p, *len) == 0;
        if (!other)
            return p;
    }
    return NULL;
}

static const char *
after_binding(const char *text)
{
    size_t len;
    return bound_name(text, 0, &len) ? strchr(text, '=') + 1 : text;
}

static bool
mentions(const char *text, const char *name)
{
    size_t len;
    for (const char *p = after_binding(text); (p = next_variable(p, &len)); p += len)
        if (strncmp(p, name, len) == 0 && !name[len])
            return true;
    return false;
}

/* Whether a line that ran before in the reader's frame was seen to bind the name. */
static bool
bound_before(struct tracer *t, int user, int level, const char *name)
{
    for (int i = user - 1; i >= 0 && t->steps++ < limit(LIMIT_FRAMES); i--) {
        if (!t->stacks[i].n)
            continue;
        if (!inside(t, &t->stacks[user], level, i))
            return false;
        if (binds(t->stacks[i].at[level].text, name))
            return true;
    }
    return false;
}

/* What the reader's line calls it, which no line was seen to bind: the last call before a line binds that anew. */
static int
alias_end(struct tracer *t, int user, int level, const char **by)
{
    const char *text = t->stacks[user].at[level].text;
    size_t len;
    int end = -1;
    if (!is_complete(text))
        return -1;
    for (const char *p = after_binding(text); (p = next_variable(p, &len)); p += len) {
        const char *name = arena_strn(t->p->arena, p, len);
        int until = bound_before(t, user, level, name) ? -1 : local_end(t, user, level, name);
        if (until > end) {
            end = until;
            *by = name;
        }
    }
    return end;
}

/* Part of a statement of several lines that a later one reads: what it made has a name, but not on this line. */
static bool
is_part(const struct spot *maker, const struct spot *reader)
{
    size_t len;
    return strncmp(maker->text, "return", 6) != 0 && reader->line > maker->line && is_complete(reader->text) &&
           (strncmp(reader->text, "return ", 7) == 0 || bound_name(reader->text, 0, &len));
}

static int
held_until(struct tracer *t, int from, int out, int user, const char **by)
{
    const struct stack *s = &t->stacks[from], *u = &t->stacks[user];
    int level = parting(s, u);
    size_t len;
    *by = NULL;
    if (!s->n || !u->n)
        return -1;
    if (level < s->n && level < u->n && s->at[level].where == u->at[level].where) {
        const char *name = bound_name(s->at[level].text, t->p->calls[from].nouts > 1 ? out : 0, &len);
        if (name) {
            *by = arena_strn(t->p->arena, name, len);
            int end = local_end(t, from, level, *by);
            int other = user > end && !mentions(u->at[level].text, *by) ? alias_end(t, user, level, by) : -1;
            return other > end ? other : end;
        }
        if (collects(s->at[level].text))
            return frame_end(t, s, level, from);
        int other = is_part(&s->at[level], &u->at[level]) ? alias_end(t, user, level, by) : -1;
        if (other >= 0)
            return other;
        level++;
    }
    return level && level < u->n ? frame_end(t, u, level, user) : -1;
}

/* A call that the exporter lost has the frames that its input's maker and its reader share; the statement is taken for
 * the maker's. */
static void
borrow_stack(struct tracer *t, int from, int reader, struct stack *s)
{
    const struct stack *m = &t->stacks[from], *r = &t->stacks[reader];
    int n = parting(m, r);
    s->n = n + (n < m->n && n < r->n && m->at[n].where == r->at[n].where);
    s->at = m->at;
}

/* ---- files without stacks --------------------------------------------------------------------------------------- */

/* "/layer1/layer1.0/" of the node "/layer1/layer1.0/Conv": its length. */
static size_t
scope_length(const struct call *c)
{
    const char *end = c->node && *c->node == '/' ? strrchr(c->node, '/') : NULL;
    return end ? (size_t)(end - c->node) + 1 : 0;
}

/* How much of their scopes two calls share: whole names. */
static size_t
shared_scope(const struct call *a, const struct call *b)
{
    size_t n = 0, whole = 0, na = scope_length(a), nb = scope_length(b);
    for (; n < na && n < nb && a->node[n] == b->node[n]; n++)
        if (a->node[n] == '/')
            whole = n + 1;
    return whole;
}

/* The last call of the module that call i is in, as far as the first n characters of its scope name it. */
static int
scope_end(const struct program *p, int i, size_t n)
{
    const char *scope = p->calls[i].node;
    while (i + 1 < p->ncalls && (!p->calls[i + 1].node ||
                                 (scope_length(&p->calls[i + 1]) >= n && strncmp(p->calls[i + 1].node, scope, n) == 0)))
        i++;
    return i;
}

/* Whether two calls could be of one statement, run again: the same operator and sizes, in modules whose names differ in
 * numbers only. */
static bool
same_statement(const struct call *a, const struct call *b)
{
    if (strcmp(a->target, b->target) != 0 || a->rank != b->rank ||
        (a->rank > 0 && memcmp(a->size, b->size, sizeof(*a->size) * (size_t)a->rank) != 0))
        return false;
    const char *x = a->node, *y = b->node, *ex = x + scope_length(a), *ey = y + scope_length(b);
    for (; x < ex && y < ey; x++, y++) {
        x += strspn(x, "0123456789");
        y += strspn(y, "0123456789");
        if (*x != *y)
            return false;
    }
    return x == ex && y == ey;
}

/* Whether a module calls numbered ones and nothing else, as Sequential does: it binds one name, anew after each. Source:
 * Sequential.forward in torch/nn/modules/container.py. */
static bool
sequential(const struct program *p, int from, int last, size_t n)
{
    int first = from;
    const char *scope = p->calls[from].node;
    while (first > 0 && p->calls[first - 1].node && strncmp(p->calls[first - 1].node, scope, n) == 0)
        first--;
    for (int i = first; i <= last; i++) {
        const char *child = p->calls[i].node ? p->calls[i].node + n : NULL, *end = child ? strchr(child, '/') : NULL;
        const char *number = end;
        while (number && number > child && isdigit((unsigned char)number[-1]))
            number--;
        if (child && (!end || number == end || (number > child && number[-1] != '.')))
            return false;
    }
    return true;
}

/* A tensor that call u reads: as an argument of the reader's module it lives until that returns (torch/nn/modules/module.py:
 * _call_impl has it in args). Whether a local of the module around both calls names it, no such file says: with `locals` one
 * does, until the statement runs again, as long as finding that takes no more steps than the limit. */
static int
held_in_scope(const struct program *p, int from, int u, bool locals, int64_t *steps)
{
    const struct call *m = &p->calls[from], *c = &p->calls[u];
    size_t n = shared_scope(m, c);
    if (!n)
        return -1;
    const char *child = scope_length(c) > n ? strchr(c->node + n, '/') : NULL;
    int end = child ? scope_end(p, u, (size_t)(child - c->node) + 1) : u;
    if (!locals || *steps > limit(LIMIT_FRAMES))
        return child ? end : -1;
    int last = scope_end(p, from, n), i = end + 1;
    *steps += last - from;
    if (sequential(p, from, last, n))
        return end;
    while (i <= last && !(p->calls[i].node && same_statement(m, &p->calls[i])))
        i++;
    return i < last ? i : last;
}

static int *
scope_holds(const struct program *p, bool locals)
{
    int *until = NEWN(p->arena, int, p->nslots + 1), *maker = NEWN(p->arena, int, p->nslots + 1);
    memset(until, -1, sizeof(int) * (size_t)(p->nslots + 1));
    memset(maker, -1, sizeof(int) * (size_t)(p->nslots + 1));
    int64_t steps = 0;
    for (int i = 0, slot; i < p->ncalls; i++) {
        for (struct call_reads r = {&p->calls[i]}; (slot = next_read(&r)) >= 0;) {
            int end = maker[slot] >= 0 ? held_in_scope(p, maker[slot], i, locals, &steps) : -1;
            until[slot] = end > until[slot] ? end : until[slot];
        }
        for (int k = 0; k < p->calls[i].nouts; k++)
            maker[p->calls[i].outs[k]] = i;
    }
    return until;
}

int *
python_holds(const struct program *p, bool locals, const char ***by)
{
    bool stacks = false;
    for (int i = 0; i < p->ncalls; i++)
        stacks |= p->calls[i].stack != NULL;
    *by = NEWN(p->arena, const char *, p->nslots + 1);
    if (!stacks)
        return scope_holds(p, locals);
    struct arena *own = arena_new();
    struct tracer t = {.p = p, .a = own, .names = names_new(own)};
    int *until = NEWN(p->arena, int, p->nslots + 1), *maker = NEWN(own, int, p->nslots + 1),
        *place = NEWN(own, int, p->nslots + 1), *reader = NEWN(own, int, p->nslots + 1);
    memset(until, -1, sizeof(int) * (size_t)(p->nslots + 1));
    memset(maker, -1, sizeof(int) * (size_t)(p->nslots + 1));
    memset(reader, -1, sizeof(int) * (size_t)(p->nslots + 1));
    t.stacks = NEWN(own, struct stack, p->ncalls + 1);
    for (int i = 0; i < p->ncalls; i++) {
        const struct call *c = &p->calls[i];
        read_stack(&t, c, &t.stacks[i]);
        for (int k = 0; k < c->nouts; k++) {
            maker[c->outs[k]] = i;
            place[c->outs[k]] = k;
        }
    }
    t.steps = 0;
    for (int i = p->ncalls - 1; i >= 0; i--)
        for (int k = 0; k < p->calls[i].nargs; k++)
            if (p->calls[i].args[k].kind == ARG_SLOT && p->calls[i].args[k].i >= 0)
                reader[p->calls[i].args[k].i] = i;
    for (int i = 0; i < p->ncalls; i++) {
        const struct call *c = &p->calls[i];
        bool lost = !t.stacks[i].n || (c->op && target_is(c->target, TARGET_COPIES));
        int in = lost && c->nargs && c->args[0].kind == ARG_SLOT ? (int)c->args[0].i : -1, next = -1;
        for (int k = 0; k < c->nouts && next < 0; k++)
            next = reader[c->outs[k]];
        if (in >= 0 && maker[in] >= 0 && maker[in] < i && next > i)
            borrow_stack(&t, maker[in], next, &t.stacks[i]);
    }
    for (int i = 0, slot; i < p->ncalls; i++)
        for (struct call_reads r = {&p->calls[i]}; (slot = next_read(&r)) >= 0;) {
            if (maker[slot] < 0 || maker[slot] >= i)
                continue;
            const char *name;
            int end = held_until(&t, maker[slot], place[slot], i, &name);
            if (end <= until[slot])
                continue;
            until[slot] = end;
            (*by)[slot] = name;
        }
    if (t.steps > limit(LIMIT_FRAMES))
        graph_doubt(p->graph, "model", "python", limit_remedy(p->arena, LIMIT_FRAMES),
                    "how long names of the Python program hold tensors takes too many steps to tell")
            ->sure = SURE_MODEL;
    arena_free(own);
    return until;
}
