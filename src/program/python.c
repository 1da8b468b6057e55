/* SPDX-License-Identifier: Apache-2.0 */
/* python.c - how long the names of the traced program hold a tensor.
 *
 * Every call carries the Python frames it ran in, with their source lines and modules. Where the frames of a value's
 * maker and of its reader first differ tells who held the value in between:
 *
 *   - only by the line: it was a local of that frame; its name stands before the "=" of the maker's line. It lives
 *     until another statement has bound the name anew, or until the frame returns. What was appended to a list lives
 *     as long as the list's name, else until the frame returns.
 *     A reader whose line does not mention the name read it under another, which lines without calls gave it (a
 *     tuple that grew, an alias); a maker's line that is part of a statement of several has no name either. Then it is
 *     one of those in the reader's line that no line was seen to bind.
 *     Which variables a line's operands are tells more (sights): a name that holds another tensor holds this no longer.
 *   - otherwise it was passed on without a name: as an argument it lives until the reader's function returns.
 *
 * A frame is told from another one of the same function by its module: each forward() of the stack belongs to one
 * entry of the module path.
 *
 * Files without stacks (TorchScript's) have the names of modules alone: what was made outside of a module and is read
 * in it was its argument. Of locals they say nothing: with `locals` each tensor has a name, until its statement runs
 * again, which is the most that they can hold.
 */
#include "program/tracer.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* ---- files without stacks ---------------------------------------------------------------------------------------- */

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

/* Whether a module calls numbered ones and nothing else, as Sequential does: it binds one name, anew after each.
 * Source: Sequential.forward in torch/nn/modules/container.py. */
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

/* A tensor that call u reads: as an argument of the reader's module it lives until that returns
 * (torch/nn/modules/module.py: _call_impl has it in args). Whether a local of the module around both calls names it,
 * no such file says: with `locals` one does, until the statement runs again, as long as finding that takes no more
 * steps than the limit. */
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
scope_holds(const struct program *p, bool locals, bool weights)
{
    int *until = NEWN(p->arena, int, p->nslots + 1), *maker = NEWN(p->arena, int, p->nslots + 1);
    memset(until, -1, sizeof(int) * (size_t)(p->nslots + 1));
    memset(maker, -1, sizeof(int) * (size_t)(p->nslots + 1));
    int64_t steps = 0;
    bool scopes = false; /* before 1.13 TorchScript's exporter wrote none */
    for (int i = 0; i < p->ncalls; i++)
        scopes |= p->calls[i].scope > 0;
    for (int i = 0, slot; i < p->ncalls; i++) {
        for (struct call_reads r = {&p->calls[i]}; (slot = next_read(&r)) >= 0;) {
            int end = maker[slot] < 0     ? -1
                      : locals && !scopes ? p->ncalls - 1
                                          : held_in_scope(p, maker[slot], i, locals, &steps);
            until[slot] = end > until[slot] ? end : until[slot];
        }
        for (int k = 0; k < p->calls[i].nouts; k++)
            maker[p->calls[i].outs[k]] = i;
    }
    const bool *kept = weights ? tracer_weights_dropped(p, p->arena) : NULL;
    for (int i = 0; i < p->nslots && kept; i++)
        until[i] = kept[i] ? p->ncalls - 1 : until[i];
    return until;
}

/* Whether two lines call modules of one number, each in its list, or the same one. */
static bool
same_number(const struct spot *a, const struct spot *b)
{
    return *a->calls && *b->calls && strcmp(path_last(a->calls), path_last(b->calls)) == 0;
}

/* Whether line numbers leave room for "list = []" right before the loop that call i runs in. */
static bool
room_for_list(const struct tracer *t, int i, int level)
{
    const int first = tracer_loop_begin(t, i, level), begin = first < 0 ? t->stacks[i].at[level].line : first;
    for (int k = i - 1; k >= 0; k--) {
        const struct stack *o = &t->stacks[k];
        if (o->borrowed || o->n <= level)
            continue;
        if (!stack_inside(&t->stacks[i], level, o))
            break;
        if (o->at[level].line < begin)
            return o->at[level].src->whole && begin - o->at[level].line > 2; /* and for the loop's */
    }
    return true; /* nothing shows where the function begins */
}

/* The list that the reader's line takes it out of, which lines without calls made: one that runs over and over appended
 * each time. NULL none. */
static const char *
list_of(struct tracer *t, int from, int user, const char *name, int *level)
{
    const struct stack *s = &t->stacks[from], *u = &t->stacks[user];
    *level = name ? tracer_runs_apart(t, from, user) : s->n;
    if (*level >= s->n || *level >= u->n || !s->at || !u->at || s->at[*level].where != u->at[*level].where)
        return NULL;
    const struct spot *made = &s->at[*level], *read = &u->at[*level];
    const bool same =
        stack_same_spot(made, read) && tracer_line_end(t, *level, from, user) >= user; /* which makes it */
    const int first = tracer_nth_read(&t->p->calls[user], 0);
    const char *own = first >= 0 && t->maker[first] == from ? tracer_element_read(t, user, *level) : NULL;
    if (same || !strchr(read->src->text, '[') ||
        (!own && syntax_binds(made->src, name) && syntax_mentions(read->src, name) &&
         tracer_local_end(t, from, *level, name) >= user))
        return NULL;
    size_t len;
    for (const char *p = read->src->text; (p = syntax_next_read(read->src, p, &len)); p += len) {
        const char *list = arena_strn(t->a, p, len);
        if (p[len] == '[' && !syntax_binds(made->src, list) && (!own || strcmp(own, list) == 0) &&
            ((syntax_is_element(p, len) && same_number(made, read)) ||
             !tracer_bound_before(t, user, *level, list, NULL)))
            return list;
    }
    return NULL;
}

/* Whether calls i and j are one of a line that ran for each of them: as many like it follow in both. */
static bool
same_element(struct tracer *t, int i, int j, int level)
{
    int behind = 0;
    if (!tracer_same_call(t, i, j))
        return false;
    for (int k = tracer_statement_last(t, i, level); k > i; k--)
        behind += tracer_same_call(t, k, j);
    for (int k = tracer_statement_last(t, j, level); k > j; k--)
        behind -= tracer_same_call(t, k, j);
    return !behind;
}

/* Whether the list that the line of call `user` takes an element of, which call `from` made, may have one for each time
 * that this ran: "list[0]" of the third has not. */
static bool
grown(struct tracer *t, const char *list, int from, int user, int level)
{
    const struct spot *made = &t->stacks[from].at[level], *read = &t->stacks[user].at[level];
    const char *text = read->src->text, *at = strstr(text, arena_printf(t->a, "%s[", list));
    char *end = NULL;
    if (made->src->nbindings &&
        syntax_mentions(read->src, made->src->binding[0].name) && /* it may have been put there behind the loop */
        !(tracer_element_read(t, user, level) && room_for_list(t, from, level)))
        return false;
    const long n = at ? strtol(at + strlen(list) + 1, &end, 10) : 0;
    int nth = 0, all = 0;
    for (int k = 0; k < user; k++) {
        const bool same = same_element(t, k, from, level);
        nth += same && k < from;
        all += same;
    }
    return !at || *end != ']' || (n < 0 ? all - nth <= -n : nth <= n);
}

/* Whether a line that two calls ran, "x[i] = layer(y, x[i])", did so for other numbers. */
static bool
other_number(const struct tracer *t, int i, int j, int level)
{
    const struct stack *a = &t->stacks[i], *b = &t->stacks[j];
    return a->n > level && b->n > level && stack_same_spot(&a->at[level], &b->at[level]) && *a->at[level].calls &&
           !same_number(&a->at[level], &b->at[level]);
}

/* Whether the line of call i stores what it makes of the tensor in the list where that was: "x[i] = f(x[i])", and
 * "x[i] = x[i] + f(x[i + 1])", whose last call has it for its first argument. *last is the last call of the line. */
static bool
stored_again(struct tracer *t, int i, int level, const char *list, int slot, int *last)
{
    const struct spot *line = t->stacks[i].n > level ? t->stacks[i].at : NULL;
    size_t target = 0, n = strlen(list), len;
    const char *text = line ? line[level].src->text : "", *part = syntax_stored(text, list, &target);
    if (!part)
        return false;
    const char *end = syntax_end(text), *value = syntax_stores(text) + strlen("] = ");
    *last = tracer_statement_last(t, i, level);
    if (*last == i && next_read(&(struct call_reads){&t->p->calls[i]}) == slot && !strncmp(value, part, target))
        return true;
    bool same = false;
    for (const char *p = value; (p = syntax_next_variable(p, &len)) && p < end; p += len)
        if (len == n && strncmp(p, list, n) == 0 && !(same = strncmp(p, part, target) == 0))
            return false;
    return same;
}

/* Whether the line of call i, "h = cell(y, x[i])", is followed by one without calls that stores in the list what it
 * makes: the same line and module read that there when they run again. */
static bool
stored_behind(struct tracer *t, int i, int level, const char *list, int slot, int *last)
{
    const struct stack *s = &t->stacks[i], *m = &t->stacks[t->maker[slot]];
    if (level + 1 >= s->n || !s->at[level].src->nbindings || !*s->at[level].calls ||
        syntax_binds(s->at[level].src, list) || !syntax_reads_element(s->at[level].src, list))
        return false;
    *last = tracer_statement_last(t, i, level);
    if (m->n > level && stack_same_spot(&m->at[level], &s->at[level]))
        return true;
    int next = *last + 1, read;
    while (next <= s->end[level] && !tracer_same_call(t, next, i))
        next++;
    for (struct call_reads r = {&t->p->calls[next]}; next <= s->end[level] && (read = next_read(&r)) >= 0;)
        if (t->maker[read] >= i && t->maker[read] <= *last)
            return true;
    return false;
}

/* How long names hold a result of call i that nothing reads: "x, (h, c) = self.lstm(x)". -1 none does. */
static int
unread_until(struct tracer *t, int i, int out, const char **by)
{
    const struct stack *s = &t->stacks[i];
    const int level = s->n - 1 - (s->n > 1 && python_in_torch(t->p->calls[i].stack));
    const struct spot *line = level >= 0 && s->at ? &s->at[level] : NULL;
    const struct bound *b = line && line->src->nbindings ? line->src->binding : NULL;
    if (!b || b->of != line->src->nbindings ||
        !(syntax_plain_call(b->value, b->end, line->calls) || (b->of > 1 && syntax_one_call(b->value, b->end))))
        return -1;
    *by = arena_str(t->p->arena, b[out < b->of ? out : b->of - 1].name);
    return tracer_local_end(t, i, level, *by);
}

/* How long names hold what a module made for nobody: those of the line that calls it, or of the loop's line. */
static int
handed_until(struct tracer *t, int i, const char **by)
{
    const struct stack *s = &t->stacks[i];
    int end = -1, level = s->n - 1;
    for (int k = 0; k < s->n; k++)
        level = strcmp(s->at[k].calls, t->p->calls[i].unread) == 0 ? k : level;
    while (level > 0 && !s->at[level].src->nbindings)
        level--;
    for (int k = 0; level >= 0 && k < s->at[level].src->nbindings; k++) {
        const char *name = arena_str(t->p->arena, s->at[level].src->binding[k].name);
        const int until = tracer_local_end(t, i, level, name);
        *by = until > end ? name : *by;
        end = until > end ? until : end;
    }
    return end;
}

/* ---- functions that are no forward ------------------------------------------------------------------------------- */

/* The slot of calls first to end - 1 that an attribute keeps; -1 not known. */
static int
kept_of(const struct program *p, int first, int end, bool several)
{
    const struct call *c = &p->calls[end - 1];
    if (!several)
        return c->nouts == 1 ? c->outs[0] : -1;
    while (c > &p->calls[first] && target_is(c->target, TARGET_VIEWS | TARGET_REORDERS))
        c--;
    if (!target_is(c->target, TARGET_MULTIPLIES) || c->args[0].kind != ARG_SLOT)
        return -1;
    for (int i = first; i < end; i++)
        if (p->calls[i].outs[0] == c->args[0].i && !target_is(p->calls[i].target, TARGET_VIEWS | TARGET_REORDERS))
            return (int)c->args[0].i;
    return -1;
}

/* Behind the calls from i on that the statement of these n characters of its stack runs. */
static int
behind_statement(const struct program *p, int i, size_t n)
{
    const char *stack = p->calls[i].stack;
    int end = i;
    while (end < p->ncalls && p->calls[end].stack && strncmp(p->calls[end].stack, stack, n) == 0 &&
           (!p->calls[end].stack[n] || p->calls[end].stack[n] == '\n'))
        end++;
    return end;
}

bool
python_keeps(const char *stack)
{
    struct arena *a = arena_new();
    const char *text;
    bool keeps = false, several, last;
    while (!keeps && stack_next_frame(a, &stack, &text))
        keeps = syntax_attribute(a, text, &several, &last);
    arena_free(a);
    return keeps;
}

void
python_attributes(struct program *p)
{
    struct arena *a = arena_new();
    struct names *numbers = names_new(a);
    for (int i = 0; i < p->ncalls; i++) {
        const char *own = p->calls[i].stack, *before = i > 0 ? p->calls[i - 1].stack : NULL, *at = own, *text, *frame;
        if (!own || (before && strcmp(before, own) == 0))
            continue; /* of a line that was read */
        while ((frame = stack_next_frame(a, &at, &text))) {
            bool several, last;
            const char *name = syntax_attribute(a, text, &several, &last), *value = name ? strchr(text, '=') + 1 : NULL;
            size_t n = (size_t)(at - own);
            if (!name || (before && strncmp(before, own, n) == 0))
                continue;
            int end = behind_statement(p, i, n);
            bool display = strchr("[{(", value[strspn(value, " ")]) != NULL;
            int slot = display || !last || !python_complete(text) ? -1 : kept_of(p, i, end, several);
            struct call *c = &p->calls[end - 1];
            if (slot < 0) {
                graph_doubt(p->graph, c->node, c->target, NULL,
                            "the program keeps a tensor of this line as an attribute until the next step, and the file "
                            "does not say which");
                continue;
            }
            const char *key = arena_printf(a, "%s %s %s", frame, p->modules[c->scope].path, name);
            int number = names_find(numbers, key);
            if (number < 0)
                names_put(numbers, key, number = ++p->nattributes);
            c->kept = slot;
            c->attribute = number;
        }
    }
    arena_free(a);
}

static bool
same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

static bool
same_slots(int n, const struct arg *p, const struct arg *q)
{
    bool same = true;
    for (int i = 0; i < n && same; i++) {
        same = p[i].kind == q[i].kind;
        if (same && p[i].kind == ARG_SLOT)
            same = p[i].i == q[i].i && same_text(p[i].s, q[i].s);
        else if (same && p[i].kind == ARG_LIST)
            same = p[i].n == q[i].n && same_slots(p[i].n, p[i].list, q[i].list);
    }
    return same;
}

bool
python_holds_alike(const struct program *p, const struct program *q)
{
    bool same =
             p->ncalls == q->ncalls && p->nslots == q->nslots && p->nparams == q->nparams && p->nmodules == q->nmodules,
         stacks = false;
    for (int i = 0; i < p->nmodules && same; i++)
        same = p->modules[i].parent == q->modules[i].parent && same_text(p->modules[i].path, q->modules[i].path) &&
               same_text(p->modules[i].type, q->modules[i].type);
    for (int i = 0; i < p->nparams && same; i++)
        same = p->params[i].slot == q->params[i].slot && p->params[i].rank == q->params[i].rank;
    for (int i = 0; i < p->ncalls && same; i++) {
        const struct call *c = &p->calls[i], *d = &q->calls[i];
        same = c->op == d->op && c->scope == d->scope && c->in_place == d->in_place && c->nouts == d->nouts &&
               c->nargs == d->nargs && c->kept == d->kept && c->attribute == d->attribute &&
               same_text(c->target, d->target) && same_text(c->node, d->node) && same_text(c->stack, d->stack) &&
               same_text(c->scopes, d->scopes) && memcmp(c->outs, d->outs, sizeof(*c->outs) * (size_t)c->nouts) == 0 &&
               same_slots(c->nargs, c->args, d->args);
        stacks |= c->stack != NULL;
    }
    return same && stacks; /* without stacks sizes tell */
}

struct held_before { /* by names, whatever the most is that others hold */
    int *until, *listed;
    const char **by, **listed_by;
    int steps;
};

/* In lists that a loop may go through. */
static void
hold_listed(const struct program *p, int *until, const char **by)
{
    const struct held_before *b = p->held_before;
    for (int slot = 0; slot < p->nslots; slot++)
        if (b->listed[slot] > until[slot]) {
            until[slot] = b->listed[slot];
            by[slot] = b->listed_by[slot];
        }
}

bool
python_lists(const struct program *p)
{
    bool any = false;
    for (int slot = 0; p->held_before && slot < p->nslots && !any; slot++)
        any = p->held_before->listed[slot] >= 0;
    return any;
}

/* What its readers' lines hold of each slot; place: which of its call's results it is, reader: whose stack reads it. */
static void
hold_read(struct tracer *t, const int *place, const int *reader, int *until, const char **by)
{
    const struct program *p = t->p;
    tracer_read_lines(t);
    int *out_at = NEWN(t->a, int, p->nslots + 1);
    const char **out_of = NEWN(t->a, const char *, p->nslots + 1); /* the list that a slot left, after that call */
    for (int i = 0, slot; i < p->ncalls; i++)
        for (struct call_reads r = {&p->calls[i]}; (slot = next_read(&r)) >= 0;) {
            if (t->maker[slot] < 0 || t->maker[slot] >= i)
                continue;
            const char *name;
            t->slot = slot;
            int end = tracer_held_until(t, t->maker[slot], place[slot], i, &name);
            int loop = tracer_carried(t, t->maker[slot], i, &name), last = -1;
            for (int k = i; loop >= 0 && k <= t->stacks[i].end[loop]; k++)
                last = tracer_same_variable(t, k, t->maker[slot]) ? k : last;
            if (last >= 0) { /* the last round's, which nobody reads */
                int other = p->calls[last].outs[0], end = tracer_local_end(t, last, loop, name);
                by[other] = end > until[other] ? name : by[other];
                until[other] = end > until[other] ? end : until[other];
            }
            const char *seen = NULL;
            int other = tracer_seen_until(t, i, &seen);
            if (other > end && (end < i || !name || strcmp(seen, name) != 0)) {
                name = seen;
                end = other;
            }
            const int root = t->maker[t->object[slot]];
            int level;
            const char *list = root < 0 ? NULL : list_of(t, root, i, name, &level), *own = name;
            if (list && strcmp(list, name) != 0 && (last = tracer_local_end(t, i, level, list)) > end) {
                name = arena_str(p->arena, list);
                end = last;
            }
            for (int k = list && grown(t, list, root, i, level) ? i - 1 : -1; k >= 0; k--) {
                bool same = k != root && same_element(t, k, root, level) && p->calls[k].nouts > place[slot];
                int other = same ? p->calls[k].outs[place[slot]] : -1;
                if (other >= 0 && end > until[other]) {
                    until[other] = end;
                    by[other] = name;
                }
            }
            const struct stack *put = &t->stacks[t->maker[slot]];
            int common = tracer_runs_apart(t, t->maker[slot], i);
            const char *left = list              ? list
                               : own             ? own
                               : common < put->n ? syntax_put_into(t->a, put->at[common].src->text)
                                                 : NULL;
            if (left && !other_number(t, t->maker[slot], i, common) &&
                (stored_again(t, i, common, left, slot, &last) || stored_behind(t, i, common, left, slot, &last))) {
                out_of[slot] = left;
                out_at[slot] = last;
                int next = i; /* what takes its place, which nobody may read */
                while (next <= last && !tracer_same_call(t, next, t->maker[slot]))
                    next++;
                int into = next <= last ? p->calls[next].outs[place[slot]] : -1,
                    held = tracer_local_end(t, i, common, left);
                if (into >= 0 && held > until[into]) {
                    until[into] = held;
                    by[into] = arena_str(p->arena, left);
                }
            }
            if (end > until[slot]) {
                until[slot] = end;
                by[slot] = name;
            }
        }
    for (int i = 0; i < p->ncalls; i++)
        for (int k = 0; k < p->calls[i].nouts && (p->calls[i].nouts > 1 || p->calls[i].unread); k++)
            if (reader[t->slot = p->calls[i].outs[k]] < 0)
                until[t->slot] =
                    p->calls[i].unread ? handed_until(t, i, &by[t->slot]) : unread_until(t, i, k, &by[t->slot]);
    for (int slot = 0; slot < p->nslots; slot++)
        if (out_of[slot] && (!by[slot] || strcmp(by[slot], out_of[slot]) == 0) && until[slot] > out_at[slot])
            until[slot] = out_at[slot];
}

int *
python_holds(struct program *p, unsigned most, const char ***by)
{
    bool stacks = false;
    for (int i = 0; i < p->ncalls; i++)
        stacks |= p->calls[i].stack != NULL;
    *by = NEWN(p->arena, const char *, p->nslots + 1);
    if (!stacks)
        return scope_holds(p, most & HOLD_LOCALS, most & HOLD_WEIGHTS);
    struct tracer t = tracer_new(p);
    int *until = NEWN(p->arena, int, p->nslots + 1), *maker = NEWN(t.a, int, p->nslots + 1),
        *place = NEWN(t.a, int, p->nslots + 1), *reader = NEWN(t.a, int, p->nslots + 1);
    memset(until, -1, sizeof(int) * (size_t)(p->nslots + 1));
    memset(maker, -1, sizeof(int) * (size_t)(p->nslots + 1));
    memset(reader, -1, sizeof(int) * (size_t)(p->nslots + 1));
    tracer_read_stacks(&t);
    for (int i = 0; i < p->ncalls; i++)
        for (int k = 0; k < p->calls[i].nouts; k++) {
            maker[p->calls[i].outs[k]] = i;
            place[p->calls[i].outs[k]] = k;
        }
    for (int i = p->ncalls - 1, slot; i >= 0; i--) { /* with a stack, as far as there is one */
        int by = t.stacks[i].n ? i : -1;
        for (int k = 0; k < p->calls[i].nouts && by < 0; k++)
            by = reader[p->calls[i].outs[k]];
        for (struct call_reads r = {&p->calls[i]}; by >= 0 && (slot = next_read(&r)) >= 0;)
            reader[slot] = by;
    }
    for (int i = 0; i < p->ncalls; i++) {
        const struct call *c = &p->calls[i];
        bool lost = !t.stacks[i].n || (c->op && target_is(c->target, TARGET_COPIES));
        int in = lost ? next_read(&(struct call_reads){c}) : -1, next = -1;
        for (int k = 0; k < c->nouts && next < 0; k++)
            next = reader[c->outs[k]];
        if (in >= 0 && maker[in] >= 0 && maker[in] < i && next > i)
            tracer_borrow_stack(&t, maker[in], next, c->nouts > 1, &t.stacks[i]);
    }
    tracer_read_ends(&t);
    t.maker = maker;
    const struct held_before *before = p->held_before;
    if (before) {
        memcpy(until, before->until, sizeof(*until) * (size_t)(p->nslots + 1));
        memcpy(*by, before->by, sizeof(**by) * (size_t)(p->nslots + 1));
        t.steps = before->steps;
    } else {
        t.listed = NEWN(p->arena, int, p->nslots + 1);
        t.listed_by = NEWN(p->arena, const char *, p->nslots + 1);
        memset(t.listed, -1, sizeof(*t.listed) * (size_t)(p->nslots + 1));
        hold_read(&t, place, reader, until, *by);
        tracer_hold_returned(&t, until);
        tracer_hold_handed(p, until);
        p->held_before = NEW(p->arena, struct held_before);
        *p->held_before = (struct held_before){
            .until = arena_dup(p->arena, until, sizeof(*until) * (size_t)(p->nslots + 1)),
            .by = arena_dup(p->arena, *by, sizeof(**by) * (size_t)(p->nslots + 1)),
            .listed = t.listed,
            .listed_by = t.listed_by,
            .steps = t.steps,
        };
    }
    if (most & HOLD_LISTS)
        hold_listed(p, until, *by);
    if (most & HOLD_FUNCTIONS)
        tracer_hold_hidden(&t, maker, until);
    if (most & HOLD_TRACED && python_traced(p))
        tracer_hold_traced(p, until);
    if (most & HOLD_BEHIND)
        tracer_hold_behind(p, until);
    if (most & HOLD_WEIGHTS)
        tracer_hold_weights(&t, until);
    tracer_hold_states(&t, until, *by);
    for (int i = 0; i < p->ncalls; i++)
        if (p->calls[i].attribute && until[p->calls[i].kept] < i)
            until[p->calls[i].kept] = i;
    if (t.steps > limit(LIMIT_FRAMES))
        graph_doubt(p->graph, "model", "python", limit_remedy(p->arena, LIMIT_FRAMES),
                    "how long names of the Python program hold tensors takes too many steps to tell")
            ->sure = SURE_MODEL;
    arena_free(t.a);
    return until;
}
