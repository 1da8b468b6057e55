/* SPDX-License-Identifier: Apache-2.0 */
/* places.c - which call a line means, and where one ran that has no stack. */
#include "program/tracer.h"

#include <ctype.h>
#include <string.h>

int
python_named(const struct program *p, const struct call *c, const char *name)
{
    struct tracer t = tracer_new(p);
    struct stack s = stack_read(p, c);
    int slot = -1;
    for (int i = p->ncalls - 1, level = s.n - 1; i >= 0 && s.n; i--) {
        struct stack o = stack_read(p, &p->calls[i]);
        if (o.n && !stack_inside(&s, level, &o))
            break;
        if (o.n && syntax_binds(o.at[level].src, name)) {
            slot = o.at[level].src->nbindings == 1 ? p->calls[i].outs[0] : -1;
            break;
        }
    }
    arena_free(t.a);
    return slot;
}

/* Whether the call is "x.div(y)" in that line, of a variable x that is a tensor. */
static bool
is_method_of(struct tracer *t, const char *text, const char *name, const struct call *c)
{
    const char *at, *target = c->target + (strncmp(c->target, "aten.", 5) == 0 ? 5 : 0);
    char *method = arena_printf(t->a, "%s.%.*s", name, (int)strcspn(target, "."), target);
    size_t n = strlen(method);
    while ((at = strstr(text, method)) && at > text && (isalnum((unsigned char)at[-1]) || strchr("_.", at[-1])))
        text = at + 1;
    return at && at[n + (at[n] == '_')] == '(';
}

/* What a name is in the function that call i runs in: what a line bound it to before; else, of an argument, what
 * another line's call has in its place. "": what the function is given that the line calls, as its first operator that
 * is given something reads it. */
static int
meant(struct tracer *t, int i, const char *name)
{
    const struct stack *s = &t->stacks[i];
    const int level = s->n - 1;
    for (int k = i - 1; k >= 0 && level >= 0; k--) {
        const struct stack *o = &t->stacks[k];
        if (o->n && !stack_inside(s, level, o))
            break;
        if (o->n && syntax_binds(o->at[level].src, name))
            return o->at[level].src->nbindings == 1 ? t->p->calls[k].outs[0] : -1;
    }
    for (int step = 1; step >= -1 && level >= 0; step -= 2)
        for (int k = i + step; k >= 0 && k < t->p->ncalls; k += step) {
            const struct stack *o = &t->stacks[k];
            const struct call *c = &t->p->calls[k];
            if (o->n && !stack_inside(s, level, o))
                break;
            bool reads = o->n == level + 1 && c->nargs && c->args[0].kind == ARG_SLOT && c->args[0].i >= 0 &&
                         t->maker[c->args[0].i] < i;
            bool given = !*name && reads && stack_same_spot(&o->at[level], &s->at[level]);
            const struct sights *seen = &t->sights[k][level];
            if (given || (reads && seen->n && strcmp(seen->of->name, name) == 0 && seen->of->slot == c->args[0].i) ||
                (reads && *name && is_method_of(t, o->at[level].src->text, name, c)))
                return (int)c->args[0].i;
        }
    return -1;
}

int *
python_meant(const struct program *p, struct arena *a, const char *const *names)
{
    struct tracer t = tracer_new(p);
    int *slots = NEWN(a, int, p->ncalls + 1);
    tracer_read_stacks(&t);
    t.maker = program_makers(p, t.a);
    tracer_read_sights(&t);
    for (int i = 0; i < p->ncalls; i++)
        slots[i] = names[i] ? meant(&t, i, names[i]) : -1;
    arena_free(t.a);
    return slots;
}

static bool
makes_one_of(const struct call *c, const struct call *from, const struct call *end)
{
    for (; from < end; from++)
        for (int k = 0; k < from->nargs; k++)
            if (from->args[k].kind == ARG_SLOT && from->args[k].i == c->outs[0])
                return true;
    return false;
}

/* How many calls before that one are the line's, of its operator. */
static int
made_in_line(const struct program *p, int i)
{
    int n = 0;
    for (const struct call *c = p->calls; c < p->calls + i; c++)
        n += c->stack && strcmp(c->stack, p->calls[i].stack) == 0 && strcmp(c->target, p->calls[i].target) == 0;
    return n;
}

/* Where the line at that level of its stack writes call i, or the only module of that name in which it ran; NULL
 * unknown. */
static const char *
place_of_call(struct tracer *t, int i, const struct stack *s, int level)
{
    const char *text = s->at[level].src->text, *module = path_last(s->at[level].calls);
    if (s->n == level + 1)
        return syntax_place(t->a, text, &t->p->calls[i], made_in_line(t->p, i));
    const char *at = *module ? python_calls(text, module) : NULL;
    if (at || !*module)
        return at && !python_calls(at, module) ? at : NULL;
    const char *given = arena_printf(t->a, "(self.%s,", module); /* "checkpoint(self.layer, x)" */
    at = strstr(text, given);
    return at && !strstr(at + 1, given) ? at : NULL;
}

/* Where a line has call i, before the last one's view (-1) or behind it (1), "x[:, :4], x[:, 4:]" and "x[:, 1:] +
 * y.mean()"; 0 unknown. */
static int
order_in_line(struct tracer *t, const struct spot *s, const struct stack *other, int level, int i)
{
    const struct program *p = t->p;
    const char *view = syntax_place(t->a, s->src->text, &p->calls[p->ncalls - 1], made_in_line(p, p->ncalls - 1));
    if (!view || strstr(s->src->text, " for ") || strstr(s->src->text, " if "))
        return 0;
    const char *at = place_of_call(t, i, other, level), *end = python_brackets_end(view);
    return !at || at == view ? 0 : at < view ? -1 : end && at >= end;
}

int
python_place(const struct program *p, int from)
{
    struct tracer t = tracer_new(p);
    int place = from, last = p->ncalls - 1;
    struct stack s = stack_read(p, &p->calls[last]);
    const char *view = s.n ? syntax_place(t.a, s.at[s.n - 1].src->text, &p->calls[last], made_in_line(p, last)) : NULL;
    const bool whole = view && python_brackets_end(view); /* a later line of its statement runs behind it */
    bool late = true;
    t.maker = program_makers(p, t.a);
    for (int i = last - 1; i >= 0 && s.n; i--) {
        struct stack o = stack_read(p, &p->calls[i]);
        if (!o.n)
            continue;
        int level = s.n - 1; /* of the innermost frame that both run in */
        while (level >= 0 && !stack_shares_frame(&s, level, &o))
            level--;
        if (level < 0 || (level < s.n - 1 && o.at[level].line == s.at[level].line)) /* before the function began */
            break;
        int line = o.at[level].line;
        const bool made = makes_one_of(&p->calls[i], &p->calls[from], &p->calls[last + 1]);
        const int order = line == s.at[level].line && i < from && level == s.n - 1
                              ? order_in_line(&t, &s.at[level], &o, level, i)
                              : 0;
        if (order < 0 || (made && (order > 0 || p->calls[i].anew)))
            break;
        if (order > 0) {
            place = i;
            continue;
        }
        if (late && i < from && !made && p->calls[i].anew != ANEW_FIRST && tracer_viewed_before(&t, i)) {
            place = i; /* right before its reader */
            continue;
        }
        late &= line > s.at[level].line || i >= from;
        if (!late && place == from)
            break;
        place = late && i < from ? i : place;
        if (line == s.at[level].line || (line > s.at[level].line && !o.at[level].src->whole && !whole) ||
            (line > s.at[level].line && made)) {
            place = from;
            break;
        }
    }
    arena_free(t.a);
    return place;
}

int
python_line(const struct program *p, int slot, const char *stack, const char *scopes, const char *name,
            const char **line)
{
    struct tracer t = tracer_new(p);
    struct stack s = stack_read(p, &(struct call){.stack = stack, .scopes = scopes}), made = {0};
    int first = p->ncalls, from = -1;
    for (int i = p->ncalls - 1; i >= 0 && from < 0; i--)
        for (int k = 0; k < p->calls[i].nouts; k++)
            from = p->calls[i].outs[k] == slot ? i : from;
    if (from >= 0)
        made = stack_read(p, &p->calls[from]);
    const int level = from < 0 ? s.n - 1 : stack_parting(&s, &made); /* the model's input is its function's own */
    const bool beside = level >= 0 && level < s.n && (from < 0 || level < made.n);
    while (first > 0 && beside) {
        struct stack o = stack_read(p, &p->calls[first - 1]);
        if (!stack_shares(&s, level, &o))
            break;
        first--;
    }
    *line = NULL;
    bool room = false;
    int behind = beside ? s.at[level].line : 0;
    for (int i = first - 1; i >= 0 && beside && !*line; i--) {
        struct stack o = stack_read(p, &p->calls[i]);
        room |= o.n <= level || behind > o.at[level].line + 1;
        behind = o.n > level ? o.at[level].line : behind;
        if (made.n > level + 1 && stack_shares(&made, level, &o) && !room && !python_in_torch(p->calls[from].stack))
            first = i + 1;
        if (o.n && (!stack_inside(&s, level, &o) || stack_shares(&made, level, &o)))
            break;
        if (!o.n || !python_calls(o.at[level].src->text, name))
            continue;
        *line = stack_down_to(p->arena, p->calls[i].stack, level);
        first = i + 1;
    }
    arena_free(t.a);
    return first;
}

/* Before which of the calls from its maker on call i ran, where it is a statement of a line and others, which left
 * calls, stand behind it there; -1 it is none. */
static int
among_statements(struct tracer *t, int i, const struct stack *u, int level, int in)
{
    const struct call *calls = t->p->calls;
    int first = -1;
    for (int k = i - 1; k >= 0; k--) {
        const struct stack s = stack_read(t->p, &calls[k]);
        const char *text = s.n > level && stack_inside(u, level, &s) ? s.at[level].src->text : "",
                   *parts = s.n > level && s.at[level].src->several ? syntax_parting(t->a, text) : NULL,
                   *found = parts ? strstr(text, parts) : NULL, *end = found ? found + strlen(parts) : NULL;
        if (!parts && first >= 0)
            break;
        if (!parts && s.n > level && stack_inside(u, level, &s) && syntax_writes_parts(text))
            break; /* another line's */
        for (int m = 0; m < calls[k].nouts; m++)
            if (calls[k].outs[m] == in)
                return first;
        const char *at = parts ? place_of_call(t, k, &s, level) : NULL;
        first = at && at > end ? k : first;
    }
    return first;
}

/* Behind which of the calls from its maker on call i ran, which takes a tensor apart, as line numbers leave its
 * statement room at one place alone before call `user`; -1 at none or several, and where a line does so itself, but for
 * those of equal calls, which ran before. */
static int
room_for_parts(struct tracer *t, int i, int user, int level, int in)
{
    const struct call *calls = t->p->calls;
    const struct stack u = stack_read(t->p, &calls[user]);
    int room = -1, behind = -1, line = u.at[level].line, unknown = 0;
    for (int k = i - 1; k >= 0; k--) {
        const struct stack s = stack_read(t->p, &calls[k]);
        if (!s.n && calls[k].nouts > 1 && next_read(&(struct call_reads){&calls[k]}) == in) {
            behind = behind < 0 ? k : behind;
            unknown--;
            continue;
        }
        if (!stack_inside(&u, level, &s) || s.at[level].line > line)
            return -1;
        const bool gap = line > s.at[level].line + 1 && s.at[level].src->whole;
        if (gap && room >= 0)
            return -1;
        room = gap ? k : room;
        unknown += line != s.at[level].line && syntax_writes_parts(s.at[level].src->text);
        line = s.at[level].line;
        for (int m = 0; m < calls[k].nouts; m++)
            if (calls[k].outs[m] == in)
                return unknown > 0 ? -1 : room < 0 || behind < room ? room : behind;
    }
    return -1;
}

/* Where call i, which has no stack, ran if the line of the call that reads it takes nothing apart: before the calls of
 * that line, or right behind what made its tensor, where *either says that both may be: `early` asks for the latter.
 * Where a function out of sight reads it, that takes it apart, too. */
static int
place_of_parts(struct tracer *t, int i, int user, bool early, bool *either)
{
    const struct call *calls = t->p->calls;
    bool between = false;
    const struct stack u = stack_read(t->p, &calls[user]);
    int level = u.n - 1, to = i, in = next_read(&(struct call_reads){&calls[i]});
    level -= level > 0 && python_in_torch(calls[user].stack);
    if (level < 0 || syntax_writes_parts(u.at[level].src->text))
        return i;
    const int statement = among_statements(t, i, &u, level, in), room = room_for_parts(t, i, user, level, in);
    if (statement >= 0 || room >= 0)
        return statement >= 0 ? statement : room + 1;
    for (int k = i - 1; k >= 0; k--) {
        const struct stack s = stack_read(t->p, &calls[k]);
        for (int m = 0; m < calls[k].nouts; m++)
            if (calls[k].outs[m] == in)
                return *either && early ? k + 1 : to;
        if (*either)
            continue;
        bool beside = !s.n || stack_shares(&s, level, &u),
             view = target_is(calls[k].target, TARGET_VIEWS | TARGET_REORDERS);
        *either = !beside && !view && python_writes(u.at[level].src->text, calls[user].target);
        if (*either)
            continue;
        if (!beside && !view)
            break;
        between |= !beside;
        to = s.n && !between ? k : to;
    }
    return to;
}

bool
python_parts(struct program *p, bool early)
{
    struct tracer t = tracer_new(p);
    bool any = false;
    int *reader = NEWN(t.a, int, p->nslots), slot; /* per slot the first; moves leave those behind where they are */
    bool *made = NEWN(t.a, bool, p->nslots);
    for (int i = p->ncalls - 1; i >= 0; i--)
        for (struct call_reads r = {&p->calls[i]}; (slot = next_read(&r)) >= 0;)
            reader[slot] = i;
    for (int i = 0; i < p->ncalls; i++) {
        struct call call = p->calls[i];
        int user = p->ncalls, in = next_read(&(struct call_reads){&call});
        for (int k = 0; k < call.nouts; k++) {
            made[call.outs[k]] = true;
            user = reader[call.outs[k]] && reader[call.outs[k]] < user ? reader[call.outs[k]] : user;
        }
        if (call.stack || call.nouts < 2 || in < 0 || !made[in] || user == p->ncalls)
            continue;
        bool either = false;
        int to = place_of_parts(&t, i, user, early, &either);
        any |= either;
        memmove(&p->calls[to + 1], &p->calls[to], sizeof(call) * (size_t)(i - to));
        p->calls[to] = call;
    }
    arena_free(t.a);
    return any;
}

/* The variable that the reader's line names and no line was seen to bind: the statement of a lost call did. NULL
 * none. */
static const char *
lost_name(struct tracer *t, int reader, int level)
{
    const struct spot *s = &t->stacks[reader].at[level];
    size_t len;
    for (const char *p = s->src->text; s->src->whole && (p = syntax_next_read(s->src, p, &len)); p += len) {
        const char *name = arena_strn(t->a, p, len);
        if (!tracer_bound_before(t, reader, level, name, NULL))
            return name;
    }
    return NULL;
}

/* Whether a line at that level calls a module, "self.drop(x) / 3", that none of the calls from `first` to end - 1 shows
 * to run. */
static bool
calls_unseen(const struct tracer *t, int first, int end, int level, const struct spot *s)
{
    size_t n;
    for (const char *p = s->src->text; (p = syntax_next_own_call(p, &n)); p += n) {
        bool seen = false;
        for (int k = end - 1; k >= first && !seen; k--) {
            const struct spot *o = t->stacks[k].n > level + 1 ? &t->stacks[k].at[level] : NULL;
            seen = o && stack_same_spot(o, s) && (!*path_last(o->calls) || tracer_is_last(o->calls, p, n));
        }
        if (!seen)
            return true;
    }
    return false;
}

/* Whether nothing follows in the frames above the level but their return. */
static bool
returns_above(const struct stack *s, int level)
{
    for (int i = level + 1; i < s->n; i++)
        if (strncmp(s->at[i].src->text, "return ", strlen("return ")) != 0 || strstr(s->at[i].src->text, "drop"))
            return false;
    return true;
}

/* Whether a copy that the reader's line does not write has no other room than a line behind the maker's, in a function
 * that the line before the reader's calls: "return y.contiguous(), weights". */
static bool
copied_inside(const struct tracer *t, int from, int copy, int reader, int n)
{
    const struct stack *m = &t->stacks[from], *r = &t->stacks[reader];
    const struct spot *called = &m->at[n], *reads = &r->at[n];
    return target_is(t->p->calls[copy].target, TARGET_COPIES) && m->n > n + 1 && called->src->whole &&
           reads->line == called->line + 1 && !python_calls(reads->src->text, "contiguous") &&
           !python_calls(reads->src->text, "clone") && !m->at[m->n - 1].src->returns &&
           !python_in_torch(t->p->calls[from].stack);
}

/* The first name that a line may give to what the call makes; NULL none. */
static const char *
given_name(struct tracer *t, int i, int level)
{
    const struct spot *s = &t->stacks[i].at[level];
    const char *at = s->src->nbindings > 1 ? tracer_written_at(t, i, level, s->src->text) : NULL;
    for (const struct bound *b = s->src->binding; b < s->src->binding + s->src->nbindings; b++)
        if (!at || (at >= b->from && at < b->end))
            return b->name;
    return NULL;
}

/* Whether neither line writes that operator, which no copy or view is: it is a statement between them. */
static bool
written_apart(const char *target, const struct spot *maker, const struct spot *reader)
{
    return !target_is(target, TARGET_COPIES | TARGET_VIEWS | TARGET_REORDERS | TARGET_KEEPS) &&
           !python_writes(maker->src->text, target) && !python_writes(reader->src->text, target);
}

/* The stack of such a line, of that statement alone, which ran between two calls in the frame at that level and reads
 * what the first one's line binds; n of 0: none did. */
static struct stack
parted_beside(struct tracer *t, int from, int reader, int level)
{
    const struct stack *m = &t->stacks[from];
    const char *name = given_name(t, from, level);
    for (int k = reader - 1; k > from; k--) {
        const struct stack *o = &t->stacks[k];
        const char *text = o->n > level && !o->borrowed && o->at[level].src->several && stack_inside(m, level, o)
                               ? syntax_parting(t->a, o->at[level].src->text)
                               : NULL;
        const struct source line = text ? syntax_read(t->a, text) : (struct source){0};
        if (!text || (name && !syntax_mentions(&line, name)))
            continue;
        struct stack s = {.n = level + 1, .borrowed = true};
        s.at = arena_dup(t->a, o->at, sizeof(*o->at) * (size_t)s.n);
        s.at[level] = (struct spot){.where = o->at[level].where,
                                    .line = o->at[level].line,
                                    .path = o->at[level].path,
                                    .src = arena_dup(t->a, &line, sizeof(line)),
                                    .calls = o->at[level].calls};
        return s;
    }
    return (struct stack){0};
}

void
tracer_borrow_stack(struct tracer *t, int from, int reader, bool parts, struct stack *s)
{
    const struct stack *m = &t->stacks[from], *r = &t->stacks[reader];
    int n = stack_parting(m, r);
    for (int i = 0; i < n; i++) /* that line runs again */
        n = tracer_line_end(t, i, from, reader) < reader ? i : n;
    for (int i = n; parts && i < r->n && !(i < m->n && syntax_writes_parts(m->at[i].src->text)); i++)
        if (syntax_writes_parts(r->at[i].src->text)) {
            *s = (struct stack){.n = i + 1, .at = r->at, .borrowed = true};
            return;
        }
    const char *reads = parts && r->n > n ? r->at[r->n - 1].src->text : "";
    if (*reads && !syntax_writes_parts(reads) && !python_writes(reads, t->p->calls[reader].target) &&
        !syntax_adds_variable(reads)) {
        *s = (struct stack){.n = r->n, .at = r->at, .borrowed = true}; /* a function out of sight makes and reads it */
        return;
    }
    if (n > 0 && n == m->n && n == r->n && python_in_torch(t->p->calls[from].stack))
        n--; /* a layer that a loop runs again: what is behind it is its caller's */
    bool beside = n < m->n && n < r->n && m->at[n].where == r->at[n].where, elsewhere;
    if (beside && !parts && r->n == n + 1 && returns_above(m, n) && calls_unseen(t, from + 1, reader, n, &r->at[n])) {
        *s = (struct stack){.n = n + 1, .at = r->at, .borrowed = true};
        return;
    }
    if (beside && target_is(t->p->calls[s - t->stacks].target, TARGET_COPIES) &&
        python_calls(r->at[n].src->text, "contiguous") && !python_calls(m->at[n].src->text, "contiguous")) {
        *s = (struct stack){.n = n + 1, .at = r->at, .borrowed = true}; /* "self.norm(x.contiguous())" */
        return;
    }
    bool inside_it = beside && copied_inside(t, from, (int)(s - t->stacks), reader, n);
    s->n = inside_it ? m->n : n + beside;
    s->at = m->at;
    s->borrowed = true;
    if (inside_it)
        return;
    elsewhere = beside && parts && !syntax_writes_parts(m->at[n].src->text);
    const struct stack several = elsewhere ? parted_beside(t, from, reader, n) : (struct stack){0};
    if (several.n) {
        *s = several;
        return;
    }
    int around = elsewhere && s > t->stacks && s[1].n ? stack_parting(&s[-1], &s[1]) : 0;
    if (around > n && around < s[-1].n && around < s[1].n && s[-1].at[around].where == s[1].at[around].where) {
        m = &s[-1]; /* between two calls of a frame that frame runs */
        n = around;
        s->n = n + 1;
        s->at = m->at;
    }
    const char *name = NULL, *own = !elsewhere && beside ? given_name(t, from, n) : NULL;
    if (own && !calls_unseen(t, 0, reader, n, &m->at[n]) &&
        (!syntax_mentions(r->at[n].src, own) || written_apart(t->p->calls[s - t->stacks].target, &m->at[n], &r->at[n])))
        name = lost_name(t, reader, n);
    if (!elsewhere && !name)
        return;
    s->at = arena_dup(t->a, m->at, sizeof(*m->at) * (size_t)s->n);
    struct spot *at = &s->at[n];
    const struct source line = syntax_read(t->a, name ? arena_printf(t->a, "%s = ", name) : "");
    *at = (struct spot){.where = at->where,
                        .line = name ? -at->line : 0,
                        .src = arena_dup(t->a, &line, sizeof(line)),
                        .calls = at->calls};
    at->path = stack_path(t->p->frames, n ? s->at[n - 1].path : NULL, at);
}
