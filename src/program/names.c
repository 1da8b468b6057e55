/* SPDX-License-Identifier: Apache-2.0 */
/* names.c - until when a variable of the traced program holds a tensor, as the lines of its function say. */
#include "program/tracer.h"

#include <ctype.h>
#include <string.h>

/* Whether a line binds names, and is no further line of a call: "x = f(" has blanks where "x=f(y)," has none. */
static bool
begins_statement(const struct source *line)
{
    return line->nbindings && (line->whole || line->binding[0].value[-2] == ' ');
}

int
tracer_line_end(struct tracer *t, int level, int i, int end)
{
    if (t->stacks[i].n <= level || !t->stacks[i].at)
        return i;
    const struct spot *s = &t->stacks[i].at[level];
    int *known = t->stacks[i].end && t->stacks[i].end[level] == end ? &t->stacks[i].line_end[level] : NULL;
    if (known && *known >= 0)
        return *known;
    for (int k = i + 1; k <= end; k++) {
        const struct spot *o = t->stacks[k].n > level ? &t->stacks[k].at[level] : NULL;
        if (!o && t->stacks[k].n && !t->stacks[k].borrowed)
            break;
        if (!o || o->line == s->line)
            i = k;
        else if (!t->stacks[k].borrowed && (s->src->whole || o->line < s->line || begins_statement(o->src)))
            break;
    }
    if (known)
        *known = i;
    return i;
}

int
tracer_statement_last(struct tracer *t, int i, int level)
{
    const struct round *round = tracer_round_at(t, i, level);
    return round ? round->end : tracer_line_end(t, level, i, t->stacks[i].end[level]);
}

/* The last call of the statement that binds the name anew, on the line of call i, which reads it: others may follow. */
static int
binding_last(struct tracer *t, int i, int level, const char *name)
{
    const struct spot *s = &t->stacks[i].at[level];
    const char *read = s->src->several ? tracer_written_at(t, i, level, s->src->text) : NULL, *end = NULL, *at;
    const int last = tracer_statement_last(t, i, level);
    for (int k = 0; k < s->src->nbindings && read && !end; k++)
        if (strcmp(s->src->binding[k].name, name) == 0 && syntax_end(s->src->binding[k].from) > read)
            end = syntax_end(s->src->binding[k].from);
    for (int k = i + 1; end && k <= last; k++)
        if ((at = tracer_written_at(t, k, level, s->src->text)) && at > end)
            return k - 1;
    return last;
}

/* Whether the line makes a list of what it calls, "x = [f(y) for y in z]". */
static bool
is_list(const struct source *line, const char *name)
{
    const struct bound *b = line->binding;
    return line->nbindings == 1 && strcmp(b->name, name) == 0 && b->displayed && *b->displayed == '[' &&
           strstr(b->displayed, " for ");
}

/* Whether the line puts what it calls into that list, "x.append(f(y))". */
static bool
puts_into(const struct tracer *t, const struct spot *s, const char *name)
{
    const char *list = syntax_put_into(t->a, s->src->text);
    return list && strcmp(list, name) == 0;
}

/* Of these names those stay that no call of a line shows to hold what was made since; `end` is where the last one was
 * lost. How many. */
static int
gone(const struct tracer *t, int from, int level, int i, int last, const char **names, int n, int *end)
{
    for (int k = i; k <= last; k++) {
        const struct sights *seen = level < t->stacks[k].n ? &t->sights[k][level] : NULL;
        for (const struct sight *s = seen ? seen->of : NULL; s && s < seen->of + seen->n; s++) {
            int at = syntax_among(names, n, s->name, strlen(s->name)), made = t->maker[t->object[s->slot]];
            if (at < 0 || made >= i || t->object[s->slot] == t->object[t->slot])
                continue;
            names[at] = names[--n];
            *end = made > from ? made : from;
        }
    }
    return n;
}

/* Whether the line binds the name to what a function of PyTorch makes. */
static bool
binds_tensor(const struct source *src, const char *name)
{
    static const char *const modules[] = {"torch.", "F."};
    bool tensor = false;
    for (const struct bound *b = src->binding; b < src->binding + src->nbindings; b++)
        for (int i = 0; i < COUNT(modules) && strcmp(b->name, name) == 0; i++)
            tensor |= strncmp(b->value + strspn(b->value, " "), modules[i], strlen(modules[i])) == 0;
    return tensor;
}

/* Likewise of what the line appends to, "outs.append(self.conv(x))": a list by then, where it was a tensor. */
static int
gone_for_list(const struct tracer *t, int from, int level, int i, const char **names, int n)
{
    static const char append[] = ".append(";
    const char *text = t->stacks[i].n > level ? t->stacks[i].at[level].src->text : "";
    const size_t len = python_name(text);
    const int at = strncmp(text + len, append, sizeof(append) - 1) == 0 ? syntax_among(names, n, text, len) : -1;
    if (at >= 0 && t->stacks[from].n > level && binds_tensor(t->stacks[from].at[level].src, names[at]))
        names[at] = names[--n];
    return n;
}

/* The last of these calls that reads the tensor whose names are looked for; else the first. */
static int
last_read(const struct tracer *t, int first, int end)
{
    for (int k = end - 1, slot; k > first; k--)
        for (struct call_reads r = {&t->p->calls[k]}; (slot = next_read(&r)) >= 0;)
            if (slot == t->slot)
                return k;
    return first;
}

/* Whether line numbers leave room before a call, as far as it and the one before it have lines. */
static bool
line_after_gap(const struct tracer *t, int level, int i)
{
    const struct stack *before = &t->stacks[i - 1], *s = &t->stacks[i];
    return before->n > level && s->n > level && s->at[level].line > before->at[level].line + 1;
}

/* The last call before a line that left no call and stands behind call i and before call `until`: line numbers leave it
 * room; else the end of that call's line. */
static int
unseen_line(struct tracer *t, int level, int i, int until)
{
    int first = tracer_line_end(t, level, i, until - 1);
    for (int last = first; last + 1 < until; last = tracer_line_end(t, level, last + 1, until - 1))
        if (line_after_gap(t, level, last + 1))
            return last;
    return line_after_gap(t, level, until) ? until - 1 : first;
}

/* The last call before a loop's next round begins, where lines go back behind call i and before call `until`; else as
 * above. */
static int
round_before(struct tracer *t, int level, int i, int until)
{
    for (int last = tracer_line_end(t, level, i, until - 1); last < until;
         last = tracer_line_end(t, level, last + 1, until)) {
        const struct stack *s = &t->stacks[last], *next = &t->stacks[last + 1];
        if (s->n > level && next->n > level && next->at[level].line < s->at[level].line)
            return last;
    }
    return unseen_line(t, level, i, until);
}

/* What the caller's line names one of these, which call `from` made, where call i is the frame's last: of a line that
 * returns it among others; else, as a line that only returns leaves no call, at the place that a statement of as many
 * names gave it, of which the last line binds the first. NULL nothing. */
static const char *
result_name(const struct tracer *t, int from, int i, int level, const char *const *names, int n)
{
    static const char word[] = "return ";
    const struct stack *s = &t->stacks[i];
    if (level < 1 || s->n <= level || !s->at[level - 1].src->nbindings)
        return NULL;
    const struct spot *caller = &s->at[level - 1], *made = &t->stacks[from].at[level];
    const char *text = s->at[level].src->text, *end = text + strlen(text), *next;
    if (caller->src->binding[0].of != caller->src->nbindings ||
        !syntax_plain_call(caller->src->binding[0].value, caller->src->binding[0].end, caller->calls))
        return NULL;
    if (!s->at[level].src->returns) {
        bool alike = caller->src->nbindings > 1 && made->src->nbindings == caller->src->nbindings &&
                     syntax_binds(s->at[level].src, made->src->binding[0].name);
        for (int k = 1; alike && k < made->src->nbindings && made->src->binding[k].of == made->src->nbindings; k++)
            if (syntax_among(names, n, made->src->binding[k].name, strlen(made->src->binding[k].name)) >= 0)
                return caller->src->binding[k].name;
        return NULL;
    }
    if (!strchr(text, ',') || !s->at[level].src->whole)
        return NULL;
    int nth = 0;
    for (const char *p = text + strlen(word); p; p = next, nth++) {
        next = syntax_part_end(p, end);
        p += strspn(p, " ");
        size_t len = python_name(p);
        int at = caller->src->nbindings == 1 ? 0 : nth;
        if ((nth || next) && len && p + len == (next ? next - 1 : end) && syntax_among(names, n, p, len) >= 0)
            return at < caller->src->nbindings ? caller->src->binding[at].name : NULL;
    }
    return NULL;
}

/* Whether calls i and j are of one line of one function, whatever module runs it. */
static bool
same_line(const struct tracer *t, int i, int j)
{
    const struct stack *a = &t->stacks[i], *b = &t->stacks[j];
    const struct spot *x = a->n && a->n == b->n ? &a->at[a->n - 1] : NULL, *y = x ? &b->at[b->n - 1] : NULL;
    return x && x->function == y->function && x->line == y->line &&
           strcmp(t->p->calls[i].target, t->p->calls[j].target) == 0;
}

/* The end of the round of calls i to last - a loop's line, which reads the name - after which that is another tensor,
 * as "out = layer(x); x = out[0]" leaves no call: what reads the tensor first in one round reads another one of before
 * in the next. -1 none. */
static int
passed_anew(const struct tracer *t, int i, int last, int level)
{
    const struct round *round = tracer_round_at(t, i, level), *next;
    for (int first = -1; round && round->end < last && first < 0; i = round->end + 1, round = next) {
        int slot, arg = -1, element = -1;
        next = tracer_round_at(t, round->end + 1, level);
        for (int k = i; k <= round->end && first < 0; k++)
            for (struct call_reads r = {&t->p->calls[k]}; first < 0 && (slot = next_read(&r)) >= 0;)
                if (slot == t->slot) {
                    first = k;
                    arg = r.arg;
                    element = r.element;
                }
        for (int k = round->end + 1; next && first >= 0 && k <= next->end; k++) {
            if (!same_line(t, first, k))
                continue;
            for (struct call_reads r = {&t->p->calls[k]}; (slot = next_read(&r)) >= 0;)
                if (r.arg == arg && r.element == element && slot != t->slot && t->maker[slot] >= i &&
                    t->maker[slot] <= round->end)
                    return round->end;
            break;
        }
    }
    return -1;
}

/* Whether call i runs in a region that has no lines, only a frame of its function. */
static bool
lineless(const struct tracer *t, int i, int level)
{
    const struct stack *s = &t->stacks[i];
    return s->n > level && !*s->at[level].src->text && !s->borrowed;
}

/* Where a region without lines, from call i on, gives the name to another tensor: it is the last to read this one, and
 * a line behind it, which it may have run too, binds the name. -1 it does not. */
static int
rebound_unseen(const struct tracer *t, int i, int level, const char *name)
{
    const int end = t->stacks[i].end[level];
    const struct stack *before = i ? &t->stacks[i - 1] : NULL;
    const int line = before && before->n > level ? before->at[level].line : 0;
    int last = -1, slot;
    bool within = true, bound = false;
    for (int k = i; k <= end; k++) {
        within &= lineless(t, k, level);
        for (struct call_reads r = {&t->p->calls[k]}; (slot = next_read(&r)) >= 0;)
            if (slot == t->slot && !within)
                return -1;
            else
                last = slot == t->slot ? k : last;
        bound |= !within && t->stacks[k].n > level && t->stacks[k].at[level].line > line &&
                 syntax_binds(t->stacks[k].at[level].src, name);
    }
    return bound ? last : -1;
}

/* Whether the name was None before the line of call i binds it: "xs = f(x)" of an `if` whose other line is "xs += g(x)"
 * in a loop before whose head the line numbers leave room for "xs = None". */
static bool
was_none(struct tracer *t, int i, int level, const char *name)
{
    enum { OTHER = 2, ROOM = 4 }; /* lines behind it, across "else:"; before it, across None, the loop's and the if's */
    static const char adds[] = " += ";
    const struct spot *s = &t->stacks[i].at[level];
    const int end = t->stacks[i].end[level];
    int next = tracer_line_end(t, level, i, end) + 1;
    while (next <= end && t->stacks[next].n > level && t->stacks[next].at[level].line == s->line)
        next = tracer_line_end(t, level, next, end) + 1;
    if (i == 0 || next > end || t->stacks[i - 1].n <= level || t->stacks[next].n <= level ||
        !stack_inside(&t->stacks[i], level, &t->stacks[i - 1]))
        return false;
    const struct spot *other = &t->stacks[next].at[level];
    const size_t n = strlen(name);
    return other->line == s->line + OTHER && t->stacks[i - 1].at[level].line == s->line - ROOM &&
           strncmp(other->src->text, name, n) == 0 && strncmp(other->src->text + n, adds, sizeof(adds) - 1) == 0;
}

int
tracer_local_end(struct tracer *t, int from, int level, const char *name)
{
    const char *names[MAX_NAMES] = {name}, *bound = NULL, *at;
    int end = t->stacks[from].end[level], n = 1;
    const bool list = t->stacks[from].n > level &&
                      (is_list(t->stacks[from].at[level].src, name) || puts_into(t, &t->stacks[from].at[level], name));
    for (int i = tracer_line_end(t, level, from, end) + 1; i <= end; i++) {
        int last = tracer_line_end(t, level, i, end), made = i;
        n = list ? n : gone(t, from, level, i, last, names, n, &made);
        if (!n)
            return unseen_line(t, level, last_read(t, made, i), i);
        n = gone_for_list(t, from, level, i, names, n);
        if (!n)
            return round_before(t, level, last_read(t, from, i), i);
        int own = i; /* of the line's calls the first that has it for itself */
        while (own < last && t->stacks[own].borrowed)
            own++;
        const struct spot *s = t->stacks[own].n > level ? &t->stacks[own].at[level] : NULL;
        const int unseen = lineless(t, i, level) ? rebound_unseen(t, i, level, names[0]) : -1;
        if (unseen >= 0)
            return unseen;
        if (s && (!t->stacks[own].borrowed || s->line > t->stacks[from].at[level].line)) /* else it ran before */
            n = syntax_rebind(s->src, names, n, &bound);
        if (s && !n && was_none(t, own, level, names[0]))
            return i - 1;
        const struct round *round = n < 2 ? tracer_round_at(t, i, level) : NULL;
        if (round && !n)
            return round->end;
        int anew =
            round && round->end < last && s && syntax_mentions(s->src, names[0]) ? passed_anew(t, i, last, level) : -1;
        if (anew >= 0)
            return anew;
        for (int k = i; !n && *bound && k <= last; k++) /* statements follow on the line */
            if (t->stacks[k].n && (at = tracer_written_at(t, k, level, t->stacks[i].at[level].src->text)) && at > bound)
                return k - 1;
        if (!n)
            return last;
        i = last;
    }
    const char *result = result_name(t, from, end, level, names, n);
    return result ? tracer_local_end(t, end, level - 1, result) : end;
}

bool
tracer_bound_before(struct tracer *t, int user, int level, const char *name, const char *given)
{
    const struct source *line = NULL;
    for (int i = user - 1; i >= 0 && t->steps++ < limit(LIMIT_FRAMES); i--) {
        if (!t->stacks[i].n)
            continue;
        if (!stack_inside(&t->stacks[user], level, &t->stacks[i]))
            return false;
        const struct spot *s = &t->stacks[i].at[level];
        if (s->src != line && syntax_binds(line = s->src, name))
            return !(given && *s->calls && syntax_mentions(line, given));
    }
    return false;
}

/* A list that the reader takes whole, "stack(list)", until call `until`: where the same line takes it again without the
 * tensor, a line that left no call has bound it anew when the loop went back. */
static int
emptied(struct tracer *t, int user, int level, const char *name, int until)
{
    const struct call *c = &t->p->calls[user];
    const struct spot *s = &t->stacks[user].at[level];
    const char *at = strstr(s->src->text, name);
    bool whole = at && at > s->src->text && !isalnum((unsigned char)at[-1]) && strchr(",)", at[strlen(name)]);
    if (!whole || t->stacks[user].n != level + 1 || c->nargs < 1 || c->args[0].kind != ARG_LIST)
        return until;
    int back = -1;
    for (int k = tracer_line_end(t, level, user, until) + 1, slot; k <= until; k++) {
        back = back < 0 && t->stacks[k].n > level && t->stacks[k].at[level].line < s->line ? k : back;
        if (!tracer_same_call(t, k, user))
            continue;
        for (struct call_reads r = {&t->p->calls[k]}; (slot = next_read(&r)) >= 0;)
            if (slot == t->slot)
                return until;
        return back < 0 ? until : back - 1;
    }
    return until;
}

int
tracer_nth_read(const struct call *c, int n)
{
    struct call_reads r = {c};
    int slot = next_read(&r);
    while (slot >= 0 && n--)
        slot = next_read(&r);
    return slot;
}

/* The last call before the reader's line runs again and reads another tensor in that place: a line without calls has
 * given the name that. Lists over which a loop goes hold theirs. */
static int
given_another(struct tracer *t, int user, int level, int until)
{
    const struct call *c = &t->p->calls[user];
    const struct stack *made = &t->stacks[t->maker[t->slot]];
    int place = 0;
    if (made->n > level && strncmp(made->at[level].src->text, "for ", 4) == 0)
        return until;
    while (tracer_nth_read(c, place) >= 0 && tracer_nth_read(c, place) != t->slot)
        place++;
    for (int k = tracer_statement_last(t, user, level) + 1; k <= until; k++) {
        t->steps++;
        if (tracer_same_call(t, k, user) && stack_inside(&t->stacks[user], level, &t->stacks[k]) &&
            tracer_nth_read(&t->p->calls[k], place) != t->slot)
            return k - 1;
    }
    return until;
}

/* What the reader's line calls it, which no line was seen to bind: the last call before a line binds that anew. */
static int
alias_end(struct tracer *t, int user, int level, const char **by)
{
    const struct spot *s = &t->stacks[user].at[level];
    const char *given = *by;
    size_t len;
    int end = -1;
    if (!s->src->whole)
        return -1;
    for (const char *p = s->src->text; (p = syntax_next_read(s->src, p, &len)); p += len) {
        const bool number =
            p > s->src->text + 1 && p[-1] == '[' && p[len] == ']' && (isalnum((unsigned char)p[-2]) || p[-2] == '_');
        if (number || (p == s->src->text && syntax_collects(p))) /* of an element, or the list that gets another */
            continue;
        const char *name = arena_strn(t->p->arena, p, len);
        int until = !syntax_is_element(p, len) && tracer_bound_before(t, user, level, name, given) ? -1
                    : syntax_binds(s->src, name) ? binding_last(t, user, level, name)
                                                 : tracer_local_end(t, user, level, name);
        until = emptied(t, user, level, name, until);
        until = p[len] == '[' ? until : given_another(t, user, level, until);
        if (until > end) {
            end = until;
            *by = name;
        }
    }
    return end;
}

int
tracer_loop_begin(const struct tracer *t, int i, int level)
{
    const struct stack *s = &t->stacks[i];
    for (int step = -1; step <= 1; step += 2)
        for (int k = i, line = s->at[level].line; k >= 0 && k < t->p->ncalls; k += step) {
            const struct stack *o = &t->stacks[k];
            if (o->borrowed || o->n <= level)
                continue;
            if (!stack_inside(s, level, o))
                break;
            const int now = o->at[level].line, first = step < 0 ? line : now, last = step < 0 ? now : line;
            if (first < last && first <= s->at[level].line && s->at[level].line <= last && o->at[level].src->whole)
                return first;
            line = now;
        }
    return -1;
}

/* Whether nothing but the loop's own line stands before its first one, and none that left no call up to the line of
 * call i: its variables are bound there. */
static bool
binds_in_head(const struct tracer *t, int i, int level)
{
    enum { MOST_LINES = 64 };
    const struct stack *s = &t->stacks[i];
    const int first = tracer_loop_begin(t, i, level), lines = s->at[level].line - first;
    uint64_t seen = 0;
    bool before = false, room = false;
    if (first < 0 || lines >= MOST_LINES)
        return false;
    for (int k = t->stacks[i].end[level]; k >= 0; k--) {
        const struct stack *o = &t->stacks[k];
        if (o->borrowed || o->n <= level)
            continue;
        if (!stack_inside(s, level, o))
            break;
        const int line = o->at[level].line - first;
        seen |= line >= 0 && line <= lines ? UINT64_C(1) << line : 0;
        before |= line == -2;
        room |= line == -1;
    }
    return before && !room && seen + 1 == UINT64_C(2) << lines;
}

/* Whether the line of call i is all of a loop's body, and has in each round another tensor by that name, each of which
 * was made before the loop: "for y in list: x = x + y". */
static bool
goes_through(const struct tracer *t, int i, int level, const char *name)
{
    int first = i, n = 0, before = -1;
    while (first > 0 && stack_shares(&t->stacks[first - 1], level, &t->stacks[i]))
        first--;
    for (int k = first;
         k < t->p->ncalls && tracer_round_at(t, k, level) && stack_shares(&t->stacks[k], level, &t->stacks[i]); k++) {
        const struct sights *seen = &t->sights[k][level];
        for (const struct sight *s = seen->of; s && s < seen->of + seen->n; s++) {
            if (strcmp(s->name, name) != 0 || s->slot == before)
                continue;
            if (t->maker[s->slot] >= first)
                return false;
            before = s->slot;
            n++;
        }
    }
    return n > 1;
}

/* Whether a line of a loop calls other tensors that were made before it by that name, each in another round. */
static bool
in_rounds(const struct tracer *t, int user, int level, const char *name)
{
    enum { MOST_CALLS = 4096 };
    const struct stack *u = &t->stacks[user];
    for (int step = -1; step <= 1; step += 2)
        for (int k = user + step, n = 0; k >= 0 && k < t->p->ncalls && n < MOST_CALLS; k += step, n++) {
            if (!stack_inside(u, level, &t->stacks[k]))
                break;
            if (t->stacks[k].at[level].line != u->at[level].line)
                continue;
            const struct sights *seen = &t->sights[k][level];
            for (const struct sight *s = seen->of; s && s < seen->of + seen->n; s++)
                if (s->slot != t->slot && strcmp(s->name, name) == 0)
                    return t->maker[s->slot] < (k < user ? k : user) && t->maker[t->slot] < (k < user ? k : user);
        }
    return false;
}

/* What the reader's line calls a tensor whose own name is another tensor's by then: where that is a loop's variable, it
 * is in a list, which the loop goes through, and which its function has until it returns. Else `end`; where each round
 * may take it out of the list, too, `listed` has how long that is. */
static int
looped_end(struct tracer *t, int user, int level, int end, const char **by)
{
    const struct spot *s = &t->stacks[user].at[level];
    const struct sights *seen = &t->sights[user][level];
    for (const struct sight *at = seen->of; at && at < seen->of + seen->n; at++) {
        if (at->slot != t->slot || t->stacks[user].borrowed || !s->src->whole || syntax_binds(s->src, at->name) ||
            tracer_bound_before(t, user, level, at->name, NULL))
            continue;
        const char *name = arena_str(t->p->arena, at->name);
        if (goes_through(t, user, level, at->name) || binds_in_head(t, user, level)) {
            *by = name;
            return t->stacks[user].end[level];
        }
        if (in_rounds(t, user, level, at->name)) {
            t->listed[t->slot] = t->stacks[user].end[level];
            t->listed_by[t->slot] = name;
        }
    }
    return end;
}

/* Part of a statement of several lines that a later one reads: what it made has a name, but not on this line. */
static bool
is_part(const struct spot *maker, const struct spot *reader)
{
    return !maker->src->returns && reader->line > maker->line && reader->src->whole &&
           (reader->src->returns || reader->src->nbindings);
}

/* The name that the line binds to what call `from` makes, its result number `out`, and which the reader's line mentions
 * while it is this one; else its first. NULL: none. */
static const char *
name_of(struct tracer *t, int from, int out, int user, int level)
{
    const struct spot *s = &t->stacks[from].at[level], *u = &t->stacks[user].at[level];
    const char *at = s->src->nbindings > 1 ? tracer_written_at(t, from, level, s->src->text) : NULL, *name = NULL;
    for (int i = 0, nth = 0; i < s->src->nbindings; i++) {
        const struct bound *b = &s->src->binding[i];
        bool here = at ? at >= (b->of == 1 && syntax_augments(b) ? b->from : b->value) && at < b->end : !b->renamed;
        if (!here)
            continue;
        if (!name || (t->p->calls[from].nouts > 1 && nth <= out))
            name = b->name;
        nth++;
        if (t->p->calls[from].nouts == 1 && syntax_mentions(u->src, b->name) &&
            tracer_local_end(t, from, level, b->name) >= user)
            return b->name;
    }
    return name;
}

/* Functions whose own frames a file does not have: what one of their calls makes, or what they are called with, they
 * hold until another has run. */
static const struct inner {
    const char *function, *maker; /* NULL: any */
    const char *last[2];          /* whichever comes first; NULL: the last of the function's */
    const char *source;
} inners[] = {
    {"trapezoid", NULL, {NULL}, "do_trapezoid in Integration.cpp: one expression of C++, which keeps all to its end"},
    {"trapz", NULL, {NULL}, "likewise"},
    {"cumulative_trapezoid", NULL, {NULL}, "do_cumulative_trapezoid in Integration.cpp"},
    {"pairwise_distance", "sub", {"norm"}, "pairwise_distance in Distance.cpp: the argument of norm is one expression"},
    {"float_power", NULL, {"pow"}, "float_power in Pow.cpp: the argument of pow, and its caller's"},
    {"softmin", NULL, {"softmax"}, "softmin in torch/nn/functional.py: likewise"},
    {"take_along_dim", NULL, {"gather"}, "take_along_dim in TensorAdvancedIndexing.cpp: likewise"},
    {"hfft", NULL, {"_fft_c2r"}, "fft_c2r in SpectralOps.cpp: its conjugate is made by the kernel"},
    {"hfft2", NULL, {"_fft_c2r"}, "fft_hfftn_impl in SpectralOps.cpp"},
    {"hfftn", NULL, {"_fft_c2r"}, "likewise"},
    {"local_response_norm", "avg_pool2d", {"pow"}, "local_response_norm in torch/nn/functional.py: div"},
    {"local_response_norm", "avg_pool3d", {"pow"}, "likewise"},
};

/* Between two calls of one statement, the first of which made a tensor that the second reads: the last call that holds
 * it; -1 the second. */
static int
inner_end(struct tracer *t, int from, int user)
{
    static uint64_t ending[COUNT(inners)];
    const struct stack *s = &t->stacks[from];
    const struct source *line = s->n ? s->at[s->n - 1].src : NULL;
    const struct inner *in = NULL;
    for (int i = 0; i < COUNT(inners) && line && !in; i++)
        if (python_may_call_row(line->endings, inners[i].function, &ending[i]) &&
            python_calls(line->text, inners[i].function) &&
            (!inners[i].maker || target_named(t->p->calls[from].target, inners[i].maker)))
            in = &inners[i];
    if (!in)
        return -1;
    int end = user;
    for (int i = user; i < t->p->ncalls && t->stacks[i].n == s->n && stack_shares(s, s->n - 1, &t->stacks[i]); i++) {
        end = i;
        bool last = false;
        for (int k = 0; k < COUNT(in->last) && in->last[k]; k++)
            last |= target_named(t->p->calls[i].target, in->last[k]);
        if (last)
            break;
    }
    return end;
}

/* Of PyTorch's own modules, methods other than forward: they hold what they are called with until the last call of that
 * operator. */
static const struct method {
    const char *name, *last, *source;
} methods[] = {
    {"_ff_block", "linear", "TransformerEncoderLayer in torch/nn/modules/transformer.py: x = self.linear2(...)"},
};

/* Between two calls of a line, the first of which made an argument of such a method that the second reads inside it:
 * the last call that holds it; -1 none. */
static int
method_end(const struct tracer *t, int from, int user, int level)
{
    const struct spot *s = &t->stacks[from].at[level];
    const struct method *in = NULL;
    int end = -1;
    for (int i = 0; i < COUNT(methods) && *s->calls && python_calls(s->src->text, path_last(s->calls)) && !in; i++)
        in = python_calls(s->src->text, methods[i].name) ? &methods[i] : NULL;
    for (int i = user; in && i < t->p->ncalls && stack_shares(&t->stacks[from], level, &t->stacks[i]); i++)
        end = target_named(t->p->calls[i].target, in->last) ? i : end;
    return end;
}

/* The name that a statement gives to what call `from` makes and another one of its line reads; NULL none. */
static const struct bound *
next_statement(struct tracer *t, int from, int user, int level)
{
    const struct spot *s = &t->stacks[from].at[level];
    const char *at = s->src->several ? tracer_written_at(t, from, level, s->src->text) : NULL,
               *read = at ? tracer_written_at(t, user, level, s->src->text) : NULL;
    for (int i = 0; i < s->src->nbindings && read; i++)
        if (at >= s->src->binding[i].value && at < s->src->binding[i].end && read >= s->src->binding[i].end)
            return strcspn(s->src->binding[i].end, ";") < (size_t)(read - s->src->binding[i].end) ? &s->src->binding[i]
                                                                                                  : NULL;
    return NULL;
}

int
tracer_carried(const struct tracer *t, int from, int user, const char **by)
{
    if (t->rounds[from].level < 0)
        return -1;
    int level = stack_parting(&t->stacks[from], &t->stacks[user]);
    for (const struct round *round = &t->rounds[from]; round && round->level >= 0; round = round->outer) {
        const struct spot *s = &t->stacks[from].at[round->level];
        if (level <= round->level || round->end >= user || round->end == from ||
            !tracer_round_at(t, user, round->level))
            continue;
        for (int k = s->src->nbindings - 1; k >= 0; k--)
            if (s->src->nbindings > 1 && s->src->binding[k].of == s->src->nbindings &&
                syntax_mentions(s->src, s->src->binding[k].name)) {
                *by = arena_str(t->p->arena, s->src->binding[k].name);
                return round->level;
            }
    }
    return -1;
}

/* Whether all calls from one to another share the line at that level, and those around it. */
static bool
one_line(const struct tracer *t, int level, int from, int to)
{
    int k = to;
    while (level >= 0 && k > from && stack_shares(&t->stacks[from], level, &t->stacks[k]))
        k--;
    return k == from;
}

int
tracer_runs_apart(struct tracer *t, int from, int user)
{
    const struct stack *s = &t->stacks[from], *u = &t->stacks[user];
    if (t->apart.from == from && t->apart.user == user)
        return t->apart.level;
    int level = stack_parting(s, u);
    for (const struct round *r = &t->rounds[from]; r && r->level >= 0; r = r->outer)
        level = level > r->level && r->end < user && tracer_round_at(t, user, r->level) ? r->level : level;
    for (int i = 1; i <= level && i < s->n; i++) { /* that frame has returned */
        bool again = i < level || (i < u->n && s->at[i].where == u->at[i].where);
        level = again && s->end[i] < user ? i - 1 : level;
    }
    for (int i = one_line(t, level - 1, from, user) ? level : 0; i < level; i++)
        level = tracer_line_end(t, i, from, user) < user ? i : level;
    t->apart.from = from;
    t->apart.user = user;
    return t->apart.level = level;
}

bool
tracer_same_variable(const struct tracer *t, int i, int j)
{
    const struct stack *a = &t->stacks[i], *b = &t->stacks[j];
    const struct spot *s = a->n == b->n && a->n ? &a->at[a->n - 1] : NULL, *o = s ? &b->at[b->n - 1] : NULL;
    return s && s->function == o->function && s->src->nbindings && o->src->nbindings &&
           strcmp(s->src->binding[0].name, o->src->binding[0].name) == 0;
}

const char *
tracer_element_read(struct tracer *t, int i, int level)
{
    const struct stack *s = &t->stacks[i];
    const char *text = s->n == level + 1 ? s->at[level].src->text : "",
               *at = strchr(text, '[') ? tracer_written_at(t, i, level, text) : NULL;
    if (!at || at == text)
        return NULL;
    const bool word = isalpha((unsigned char)*at);
    const char *list = at > text + 1 && at[-1] == (word ? '.' : ' ') ? syntax_list_before(t->a, text, at - 1) : NULL,
               *arg = word && !list && at[-1] != ']' && at[-1] != ')' ? strchr(at, '(') : NULL;
    const size_t len = arg ? strcspn(arg + 1, ",)") : 0;
    return len ? syntax_list_before(t->a, arg + 1, arg + 1 + len) : list;
}

/* The variable that a statement writes in place, "x.tanh_()" and "self.act(x)", whose result has no other name; NULL
 * none. */
static const char *
written_in_place(const struct tracer *t, int i, int level)
{
    const struct call *c = &t->p->calls[i];
    const struct source *line = t->stacks[i].at[level].src;
    const struct sights *seen = &t->sights[i][level];
    if (!(c->in_place || target_is(c->target, TARGET_WRITES)) || !c->nargs || c->args[0].kind != ARG_SLOT ||
        line->returns || !line->whole)
        return NULL;
    for (int k = 0; k < seen->n; k++)
        if (seen->of[k].slot == c->args[0].i)
            return seen->of[k].name;
    return NULL;
}

/* Whether functions that a line calls, which is no loop's, make the one tensor and read it: the line binds none yet. */
static bool
within_line(struct tracer *t, int from, int user, int level)
{
    const struct stack *s = &t->stacks[from], *u = &t->stacks[user];
    return s->n > level + 1 && u->n > level + 1 && stack_same_spot(&s->at[level], &u->at[level]) &&
           s->at[level].src->nbindings == 1 && !syntax_mentions(s->at[level].src, s->at[level].src->binding[0].name) &&
           tracer_line_end(t, level, from, t->p->ncalls - 1) >= user;
}

static int
named_until(struct tracer *t, int from, int out, int user, const char **by)
{
    const struct stack *s = &t->stacks[from], *u = &t->stacks[user];
    int level = stack_parting(s, u);
    *by = NULL;
    if (!s->n || !u->n)
        return -1;
    for (const struct round *round = &t->rounds[from], *other; round && round->level >= 0; round = round->outer) {
        other = level > round->level && round->end < user ? tracer_round_at(t, user, round->level) : NULL;
        if (other && s->at[round->level].src->nbindings) {
            *by = arena_str(t->p->arena, s->at[round->level].src->binding[0].name);
            return other->end;
        }
    }
    level = tracer_runs_apart(t, from, user);
    for (int i = 0; i < level; i++) {
        const struct bound *b = next_statement(t, from, user, i);
        if (b) {
            *by = arena_str(t->p->arena, b->name);
            return syntax_bound_last(s->at[i].src, b) ? tracer_line_end(t, i, from, t->p->ncalls - 1)
                                                      : tracer_local_end(t, from, i, b->name);
        }
    }
    if (level < s->n && level < u->n && s->at[level].where == u->at[level].where) {
        const char *name = within_line(t, from, user, level) ? NULL : name_of(t, from, out, user, level);
        if (name) {
            *by = arena_str(t->p->arena, name);
            int end = tracer_local_end(t, from, level, *by);
            const char *alias = *by, *loop = *by;
            const bool another =
                !syntax_mentions(u->at[level].src, *by) || (end < user && tracer_element_read(t, user, level));
            const int other = another && !u->borrowed ? alias_end(t, user, level, &alias) : -1,
                      looped = end < user ? looped_end(t, user, level, end, &loop) : end;
            if (another && other >= 0 && other < end && is_list(s->at[level].src, *by) &&
                looped_end(t, user, level, -1, &loop) < 0) { /* "skip = feats.pop()" */
                t->listed[t->slot] = end;
                t->listed_by[t->slot] = *by;
                *by = alias;
                return other;
            }
            const int last = other > looped ? other : looped;
            if (last < user && !u->at[level].src->whole && u->n > level + 1 && !u->borrowed)
                t->listed[t->slot] = u->end[level]; /* among arguments on further lines */
            if (other > end || looped > end)
                *by = other > looped ? alias : loop;
            return other > looped ? other : looped;
        }
        const char *list = syntax_put_into(t->a, s->at[level].src->text);
        if (list)
            return tracer_local_end(t, from, level, list);
        if (syntax_collects(s->at[level].src->text))
            return s->end[level];
        const char *written = written_in_place(t, from, level);
        if (written) {
            *by = arena_str(t->p->arena, written);
            return tracer_local_end(t, from, level, *by);
        }
        int other = is_part(&s->at[level], &u->at[level]) ? alias_end(t, user, level, by) : -1;
        if (other >= 0)
            return other;
        level++;
    } else if (level == s->n && level == u->n) {
        return inner_end(t, from, user);
    }
    int method = level ? method_end(t, from, user, level - 1) : -1;
    return method >= 0 ? method : level && level < u->n ? u->end[level] : -1;
}

/* The last line of the body of a loop whose head has call `from`, as far as its rounds show; the head's where it has no
 * second one. */
static int
body_end(struct tracer *t, int from, int level)
{
    const struct stack *s = &t->stacks[from];
    const int head = s->at[level].line;
    int line = head, first = -1, end = head;
    if (t->body.level == level && t->body.head == head && t->body.returns == s->end[level])
        return t->body.end;
    for (int k = from + 1; k <= s->end[level] && t->steps++ < limit(LIMIT_FRAMES); k++) {
        const struct stack *o = &t->stacks[k];
        if (o->borrowed || o->n <= level)
            continue;
        if (!stack_inside(s, level, o) || o->at[level].line < head || (o->at[level].line == head && line > head))
            break;
        if (end < line && (o->at[level].line < line || (first >= 0 && tracer_same_call(t, k, first))))
            end = line;
        line = o->at[level].line;
        first = first < 0 && line > head ? k : first;
    }
    t->body.level = level;
    t->body.head = head;
    t->body.returns = s->end[level];
    return t->body.end = end;
}

/* What a loop goes through, "for x in self.f(y):", until its last round has ended, of which the loop's variables hold
 * theirs until the function returns; -1 where the reader is in none of several rounds of such a loop. */
static int
iterated_until(struct tracer *t, int from, int user)
{
    const struct stack *s = &t->stacks[from], *u = &t->stacks[user];
    const int level = stack_parting(s, u);
    if (level >= s->n || level >= u->n || s->at[level].where != u->at[level].where ||
        strncmp(s->at[level].src->text, "for ", 4) != 0)
        return -1;
    const struct source *head = s->at[level].src;
    const int end = head->text[strlen(head->text) - 1] == ':' ? body_end(t, from, level) : s->at[level].line;
    int last = -1;
    bool again = false;
    for (int k = user; k <= s->end[level] && end > s->at[level].line && t->steps++ < limit(LIMIT_FRAMES); k++) {
        const struct stack *o = &t->stacks[k];
        if (!o->borrowed && o->n > level && (o->at[level].line > end || o->at[level].line <= s->at[level].line))
            break;
        again |= k > user && tracer_same_call(t, k, user);
        last = k;
    }
    for (int i = 0; i < head->nbindings && !again; i++) /* bound anew */
        again = syntax_binds(u->at[level].src, head->binding[i].name);
    return again || last < 0 ? last : s->end[level];
}

int
tracer_held_until(struct tracer *t, int from, int out, int user, const char **by)
{
    const int end = named_until(t, from, out, user, by), rounds = iterated_until(t, from, user);
    if (rounds > end)
        *by = NULL;
    return rounds > end ? rounds : end;
}

int
tracer_seen_until(struct tracer *t, int user, const char **by)
{
    const int level = stack_parting(&t->stacks[t->maker[t->slot]], &t->stacks[user]);
    const struct sights *seen = level < t->stacks[user].n ? &t->sights[user][level] : NULL;
    int end = -1;
    if (!seen || !seen->n || !stack_inside(&t->stacks[user], level, &t->stacks[t->maker[t->slot]]))
        return -1;
    for (const struct sight *s = seen->of; s < seen->of + seen->n; s++) {
        if (s->slot != t->slot)
            continue;
        const int until = syntax_binds(t->stacks[user].at[level].src, s->name)
                              ? binding_last(t, user, level, s->name)
                              : tracer_local_end(t, user, level, s->name);
        if (until > end) {
            end = until;
            *by = arena_str(t->p->arena, s->name);
        }
    }
    return end;
}
