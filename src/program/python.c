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
 * Of the same lines are the calls of torch.utils.checkpoint, and what runs under them.
 *
 * Files without stacks (TorchScript's) have the names of modules alone: what was made outside of a module and is read
 * in it was its argument. Of locals they say nothing: with `locals` each tensor has a name, until its statement runs
 * again, which is the most that they can hold.
 */
#include "program/stack.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

struct round { /* of a loop whose body is one line: the call's, which is the line's frame and where it ends */
    int level, end;
    const struct round *outer; /* of a loop around it */
};

struct tracer {
    const struct program *p;
    struct arena *a;
    struct stack *stacks; /* per call */
    struct round *rounds; /* per call */
    struct sights {       /* of names, by what a call's line writes */
        int n, cap;
        struct sight {
            const char *name;
            int slot;
        } * of;
    } * *sights; /* per call and frame */
    int *object; /* per slot, the one that it was before it was written in place */
    int *maker;  /* per slot, a call or -1 */
    int slot;    /* whose names are looked for */
    int steps;
    int *listed;            /* per slot the last call before its list goes, where it may be in one; -1 it is in none */
    const char **listed_by; /* by which name */
    struct {
        int from, user, level;
    } apart; /* what runs_apart was asked last: it is asked several times for a tensor and its reader */
    struct counted {
        const char *text, *target;
        struct spelling spelling;
        int times;
    } counted[64]; /* how often a line writes an operator, by the line: layers have them in common */
};

static struct tracer
tracer_new(const struct program *p)
{
    return (struct tracer){.p = p, .a = arena_new(), .slot = -1, .apart.from = -1};
}

/* The innermost frame of a call; NULL none. */
static const struct spot *
innermost(struct tracer *t, const struct call *c)
{
    const struct stack s = stack_read(t->p, c);
    return s.n ? &s.at[s.n - 1] : NULL;
}

static void
read_stacks(struct tracer *t)
{
    t->stacks = NEWN(t->a, struct stack, t->p->ncalls + 1);
    for (int i = 0; i < t->p->ncalls; i++)
        t->stacks[i] = stack_read(t->p, &t->p->calls[i]);
}

/* Whether the line returned, and the next one is of another run of its function. */
static bool
returned(const struct spot *s, const struct spot *next)
{
    return s->src->returns && (next->line < s->line || (next->line > s->line && s->src->whole));
}

static bool
same_call(const struct tracer *t, int i, int j)
{
    const struct stack *a = &t->stacks[i], *b = &t->stacks[j];
    return a->n == b->n && (!a->n || a->at[a->n - 1].path == b->at[b->n - 1].path) &&
           strcmp(t->p->calls[i].target, t->p->calls[j].target) == 0;
}

/* Whether one call is all that the line of call i returns, and call next runs that line again: "x[0], x[1]" says that
 * of no view. */
static bool
returned_same(const struct tracer *t, int level, int i, int next)
{
    const struct spot *s = &t->stacks[i].at[level];
    const char *target = t->p->calls[i].target;
    return !t->stacks[i].borrowed && s->src->returns && s->src->whole && !strstr(s->src->text, " for ") &&
           same_call(t, i, next) && t->stacks[i].n == level + 1 && python_times(s->src->text, target) == 1 &&
           !(target_is(target, TARGET_VIEWS) && strchr(s->src->text, '['));
}

/* The last call before the frame of call i at that level returns. */
static int
frame_end(struct tracer *t, int level, int i)
{
    const struct stack *s = &t->stacks[i];
    const struct spot *line = &s->at[level];
    int last = i;
    for (int k = i + 1; k < t->p->ncalls && t->steps++ < limit(LIMIT_FRAMES); k++) {
        const struct stack *next = &t->stacks[k];
        bool here = !next->n || stack_inside(s, level, next);
        if (!next->n || next->borrowed || t->p->calls[k].anew) {
            last = here ? k : last;
            continue;
        }
        if (!here || (level > 0 && (returned(line, &next->at[level]) || returned_same(t, level, i, k))))
            break;
        return next->end[level];
    }
    return last;
}

static void
read_ends(struct tracer *t)
{
    for (int i = t->p->ncalls - 1; i >= 0; i--) {
        struct stack *s = &t->stacks[i];
        s->end = NEWN(t->a, int, 2 * s->n + 1);
        s->line_end = s->end + s->n;
        memset(s->line_end, -1, sizeof(int) * (size_t)s->n);
        for (int level = 0; level < s->n; level++)
            s->end[level] = frame_end(t, level, i);
    }
}

/* How often the line writes such a call: what a file shows by what is missing is a contiguous(). */
static int
times_in_line(const char *line, const char *target)
{
    return python_times(line, target_is(target, TARGET_LOST) ? "aten.contiguous.default" : target);
}

/* Whether calls i to i + size - 1 ran `times` over, and the line did not write them so often. What modules called is
 * behind a bracket of the line; an operator that it writes under another name tells nothing. */
static bool
runs_over(const struct tracer *t, int level, int i, int size, int times)
{
    const char *text = t->stacks[i].at[level].src->text;
    for (int k = i; k < i + size; k++) {
        int count = 0, written = 0;
        for (int l = i; l < i + size; l++)
            count += strcmp(t->p->calls[l].target, t->p->calls[k].target) == 0;
        if (t->stacks[k].n > level + 1)
            for (const char *p = text; *p; p++)
                written += *p == '(';
        else
            written = times_in_line(text, t->p->calls[k].target);
        if (written > 0 && count * times > written)
            return true;
    }
    return false;
}

/* How often a line runs call i, as it and the lines of the frames in it write it. */
static int
times_run(const struct tracer *t, int level, int i)
{
    const struct stack *s = &t->stacks[i];
    const char *text = s->at[s->n - 1].src->text, *p;
    int all = times_in_line(text, t->p->calls[i].target);
    for (int l = level; l < s->n - 1; l++) {
        const char *module = path_last(s->at[l].calls);
        int n = 0;
        for (p = s->at[l].src->text; *module && (p = python_calls(p, module)); n++)
            ;
        all *= n ? n : 1;
    }
    return all;
}

/* Whether the line runs call i more often than these calls are it. */
static bool
part_of_round(const struct tracer *t, int level, int i, int size)
{
    int n = 0;
    for (int k = i; k < i + size; k++)
        n += same_call(t, k, i);
    return times_run(t, level, i) > n;
}

/* The module that the line at that level calls there; "" none, or a call without lines. */
static const char *
called_at(const struct tracer *t, int level, int i)
{
    return t->stacks[i].n > level ? t->stacks[i].at[level].calls : "";
}

static bool
is_last(const char *path, const char *name, size_t n)
{
    const char *last = path_last(path);
    return strlen(last) == n && strncmp(last, name, n) == 0;
}

/* Whether the line calls a function of the module's own class, "x = self.encode(x)": none of the modules that calls i
 * to j - 1 run has that name. */
static bool
calls_method(const struct tracer *t, int level, int i, int j)
{
    size_t n;
    for (const char *p = t->stacks[i].at[level].src->text; (p = syntax_next_own_call(p, &n)); p += n) {
        bool module = false;
        for (int k = i; k < j && !module; k++)
            module = is_last(called_at(t, level, k), p, n);
        if (!module)
            return true;
    }
    return false;
}

/* Lines of outer frames come first. */
static void
set_round(struct tracer *t, int i, int level, int end)
{
    struct round *r = &t->rounds[i];
    const struct round *outer = r->level < 0 ? NULL : r->level == level ? r->outer : arena_dup(t->a, r, sizeof(*r));
    *r = (struct round){level, end, outer};
}

static const struct round *
round_at(const struct tracer *t, int i, int level)
{
    const struct round *r = &t->rounds[i];
    while (r && r->level != level)
        r = r->outer;
    return r;
}

/* Whether calls i to j - 1 are of more modules, one after another, than the line writes calls: "x = layer(x)". Each is
 * a round, with what the line itself does behind it; or those up to the next of the first one's list: "x = conv(x) +
 * skip(x)" of two lists. */
static bool
find_modules(struct tracer *t, int level, int i, int j)
{
    const struct spot *s = &t->stacks[i].at[level];
    int modules = 0, written = 0;
    const char *module = "";
    bool lists = false;
    for (int k = i; k < j; k++) {
        const char *calls = called_at(t, level, k);
        modules += *calls && calls != module && strcmp(calls, module) != 0;
        module = *calls ? calls : module;
    }
    for (const char *p = s->src->text; *p && modules > 1; p++)
        written += p[1] == '(' && (isalnum((unsigned char)*p) || *p == '_' || *p == ')' || *p == ']');
    if ((!s->src->nbindings && !syntax_stores(s->src->text)) || !*s->calls || modules < 2 || modules <= written ||
        strstr(s->src->text, " for ") || calls_method(t, level, i, j))
        return false;
    for (int k = i; k < j && !lists; k++)
        lists = path_number(s->calls, called_at(t, level, k)) != NULL;
    for (int k = i, first = i; k < j; k++) {
        const char *calls = called_at(t, level, k), *next = k + 1 < j ? called_at(t, level, k + 1) : "";
        module = *calls ? calls : module;
        if (k + 1 < j && (!*next || strcmp(next, module) == 0 || (lists && !path_number(s->calls, next))))
            continue;
        for (; first <= k; first++)
            set_round(t, first, level, k);
    }
    return true;
}

/* Whether the call is all that a module of PyTorch's own does, and the line calls that: "x = self.fc(x[:, 1:])". */
static bool
is_layer(const struct tracer *t, int level, int i)
{
    const struct stack *s = &t->stacks[i];
    return s->n == level + 2 && *s->at[level].calls &&
           python_writes(s->at[level + 1].src->text, t->p->calls[i].target) &&
           !strstr(s->at[level].src->text, " for ") && python_in_torch(t->p->calls[i].stack);
}

bool
python_unnamed_layer(const struct program *p, const struct call *c)
{
    const struct stack s = stack_read(p, c);
    const struct source *line = s.n > 1 && python_in_torch(c->stack) ? s.at[s.n - 2].src : NULL;
    return line && line->whole && !line->nbindings && !line->returns &&
           syntax_plain_call(line->text, line->text + strlen(line->text), s.at[s.n - 2].calls);
}

/* Whether the line, of calls i to j - 1, writes this one once and runs it several times. */
static bool
runs_again(const struct tracer *t, int level, int i, int j, int one)
{
    const struct spot *s = &t->stacks[one].at[level];
    const char *target = t->p->calls[one].target;
    int times = 0, calls = 0;
    size_t n;
    for (int k = i; k < j; k++)
        times += same_call(t, k, one);
    if (times < 2)
        return false;
    if (!is_layer(t, level, one))
        return t->stacks[one].n == level + 1 && syntax_times_made(s->src->text, target) == 1 &&
               python_times(s->src->text, target) == 1;
    for (const char *p = s->src->text; (p = syntax_next_own_call(p, &n)); p += n)
        calls += is_last(s->calls, p, n);
    return calls == 1;
}

/* Whether a round, of functions that the line calls, reads what the one before made, and the line reads no name that it
 * binds: the loop is in one of those. */
static bool
flows_unnamed(const struct tracer *t, int level, int i, int j, int size)
{
    const struct spot *s = &t->stacks[i].at[level];
    bool named = !s->src->nbindings || t->stacks[i].n == level + 1, flows = false;
    for (int k = 0; k < s->src->nbindings; k++)
        named |= syntax_mentions(s->src, s->src->binding[k].name) > 0;
    for (int k = i + size, slot; k < j && !named && !flows; k++)
        for (struct call_reads r = {&t->p->calls[k]}; !flows && (slot = next_read(&r)) >= 0;)
            flows = t->maker[slot] >= i && t->maker[slot] < i + (k - i) / size * size;
    return flows;
}

/* Calls i to j - 1 stand on one line, in the frame at that level. Where they are some calls over and over, more often
 * than the line writes them, it is the body of a loop. */
static void
find_rounds(struct tracer *t, int level, int i, int j)
{
    enum { LONGEST = 32 };
    const struct spot *s = &t->stacks[i].at[level];
    for (int size = 1; size <= LONGEST && 2 * size <= j - i; size++) {
        int k = i;
        if ((j - i) % size)
            continue;
        while (k + size < j && same_call(t, k, k + size))
            k++;
        t->steps += k - i;
        if (k + size < j || part_of_round(t, level, i, size))
            continue;
        if ((!s->src->nbindings && !syntax_stores(s->src->text)) || !runs_over(t, level, i, size, (j - i) / size) ||
            flows_unnamed(t, level, i, j, size))
            return;
        for (k = i; k < j; k++)
            set_round(t, k, level, i + (k - i) / size * size + size - 1);
        return;
    }
    if (find_modules(t, level, i, j))
        return;
    const char *last = syntax_first(s->src->text, t->p->calls[j - 1].target);
    if (!s->src->nbindings)
        return;
    const struct bound *b = s->src->binding;
    bool called = is_layer(t, level, j - 1) ? syntax_plain_call(b->value, b->end, t->stacks[j - 1].at[level].calls)
                                            : last && isalpha((unsigned char)*last);
    if (called && runs_again(t, level, i, j, j - 1)) {
        for (int k = i, first = i; k < j; k++) /* rounds that differ, as the first one often does, end alike */
            for (; same_call(t, k, j - 1) && first <= k; first++)
                set_round(t, first, level, k);
    } else if (s->src->whole && !strstr(s->src->text, " for ") && runs_again(t, level, i, j, i) &&
               !target_is(t->p->calls[i].target, TARGET_VIEWS | TARGET_REORDERS)) {
        for (int k = j - 1, end = j - 1; k >= i; k--) /* or begin so: views of what is so already are left out */
            for (int first = end; same_call(t, k, i) && end >= k; end--)
                set_round(t, end, level, first);
    }
}

static void
read_rounds(struct tracer *t)
{
    int deepest = 0;
    t->rounds = NEWN(t->a, struct round, t->p->ncalls + 1);
    for (int i = 0; i < t->p->ncalls; i++) {
        t->rounds[i] = (struct round){-1, i, NULL};
        deepest = t->stacks[i].n > deepest ? t->stacks[i].n : deepest;
    }
    for (int level = 0; level < deepest && t->steps < limit(LIMIT_FRAMES); level++)
        for (int i = 0, j; i < t->p->ncalls; i = j) {
            j = i + 1;
            for (int k = j; k < t->p->ncalls && t->stacks[i].n; k++, t->steps++)
                if (stack_shares(&t->stacks[i], level, &t->stacks[k]))
                    j = k + 1;
                else if (t->stacks[k].n && !t->stacks[k].borrowed) /* what has no lines is of none */
                    break;
            if (j - i > 1)
                find_rounds(t, level, i, j);
        }
}

/* Whether calls i and j are of one line's own, and written alike: mean.dim is mean.default. */
static bool
same_operator(const struct tracer *t, int i, int j)
{
    const struct stack *a = &t->stacks[i], *b = &t->stacks[j];
    if (a->n != b->n || (a->n && a->at[a->n - 1].path != b->at[b->n - 1].path))
        return false;
    const char *x = t->p->calls[i].target, *y = t->p->calls[j].target, *dot = strrchr(x, '.');
    const size_t n = dot ? (size_t)(dot - x) : strlen(x);
    return strncmp(x, y, n) == 0 && (!y[n] || (y[n] == '.' && !strchr(y + n + 1, '.')));
}

/* Whether call k is of the line that runs call i, in the same round of a loop. */
static bool
same_run(const struct tracer *t, int i, int k, int level)
{
    const struct round *round = t->rounds ? round_at(t, i, level) : NULL, *other = round ? round_at(t, k, level) : NULL;
    return (t->stacks[k].borrowed || stack_shares(&t->stacks[k], level, &t->stacks[i])) &&
           (!round || !other || round->end == other->end);
}

/* Where the line, which is that text, writes what runs call i, as far as its other calls tell, and how often it writes
 * such a call; NULL unknown. */
static const char *
written_times(struct tracer *t, int i, int level, const char *text, int *times)
{
    const struct stack *s = &t->stacks[i];
    if (s->n > level + 1) {
        const char *module = path_last(s->at[level].calls), *at = *module ? python_calls(text, module) : NULL;
        *times = 1;
        return at && !python_calls(at, module) ? at - 1 : NULL;
    }
    const char *target = t->p->calls[i].target, *end = text + strlen(text);
    const uintptr_t both = (uintptr_t)text ^ (uintptr_t)t->p->calls[i].op;
    struct counted *c = &t->counted[(both >> 4 ^ both >> 10) % COUNT(t->counted)];
    if (c->text != text || strcmp(c->target, target) != 0) {
        *c = (struct counted){text, target, syntax_spelling(target), 0};
        c->times = syntax_count(&c->spelling, text, end);
    }
    if (!(*times = c->times))
        return python_subscript(t->a, &t->p->calls[i], text);
    int first = i, last = i, before = 0, all = 0;
    while (first > 0 && same_run(t, i, first - 1, level))
        first--;
    while (last + 1 < t->p->ncalls && same_run(t, i, last + 1, level))
        last++;
    for (int k = first; k <= last; k++) {
        const bool same = same_operator(t, k, i);
        before += same && k < i;
        all += same;
    }
    return *times == all ? syntax_nth(&c->spelling, text, end, before) : NULL;
}

static const char *
written_at(struct tracer *t, int i, int level, const char *text)
{
    int times;
    return written_times(t, i, level, text, &times);
}

static void
see(struct tracer *t, struct sights *seen, const char *name, size_t len, const struct arg *a)
{
    if (a->kind == ARG_SLOT && a->i >= 0)
        *PUSH(t->a, seen->of, seen->n, seen->cap) = (struct sight){arena_strn(t->a, name, len), (int)a->i};
}

/* "x * y": the variables are the call's arguments. */
static void
see_operands(struct tracer *t, const struct call *c, const char *text, const char *sign, struct sights *seen)
{
    size_t len = 0;
    char before = 0;
    const char *name = sign[-1] == ' ' ? syntax_variable_before(text, sign - 1, &len, &before) : NULL;
    if (name && strchr("(=,[:", before))
        see(t, seen, name, len, &c->args[0]);
    const char *other = sign + strspn(sign, "*/+-@=");
    other += strspn(other, " ");
    const char *behind = (len = syntax_variable(other)) ? other + len : NULL;
    const bool sum = *sign == '+' || (*sign == '-' && sign[1] != '='), alone = behind && strchr(",);]", *behind);
    if (!behind || c->nargs < 2 ||
        !(alone || (*behind == ' ' && (sum ? strchr("+-", behind[1]) != NULL : behind[1] != '*'))))
        return;
    see(t, seen, other, len, c->args[1].kind == ARG_SLOT ? &c->args[1] : &c->args[0]); /* "1 - x" */
}

/* "cat([x, y])": of a list of variables each is an element. */
static void
see_elements(struct tracer *t, const struct arg *list, const char *bracket, struct sights *seen)
{
    const char *p = bracket + 1 + (strchr("([", bracket[1]) && bracket[1]), *end = p, *next;
    for (int open = 0; *end && (open || !strchr(")]", *end)); end++)
        open += python_opens(*end);
    int n = 0;
    for (const char *q = p; q && p > bracket + 1; q = syntax_part_end(q, end))
        n++;
    for (int i = 0; p && i < n && n == list->n; i++, p = next) {
        next = syntax_part_end(p, end);
        p += strspn(p, " ");
        size_t len = python_name(p);
        if (len && p + len == (next ? next - 1 : end))
            see(t, seen, p, len, &list->list[i]);
    }
}

/* "x.mean()", "torch.exp(x)", "x * y", "torch.cat([x, y])": which variables a call's arguments are. */
static void
see_names(struct tracer *t, int i, struct sights *seen)
{
    const struct call *c = &t->p->calls[i];
    const struct stack *s = &t->stacks[i];
    const char *text = s->at[s->n - 1].src->text, *from, *name;
    size_t len = 0;
    char before;
    int times;
    if (!c->nargs || (c->op && target_is(c->target, TARGET_LOST)) ||
        !(from = written_times(t, i, s->n - 1, text, &times)) || from == text ||
        (times > 1 && syntax_nested(text, c->target)))
        return;
    if (*from == '[') {
        if ((name = syntax_variable_before(text, from, &len, &before)))
            see(t, seen, name, len, &c->args[0]);
    } else if (!isalpha((unsigned char)*from)) {
        see_operands(t, c, text, from, seen);
    } else if (from[-1] == '.' && (name = syntax_variable_before(text, from - 1, &len, &before))) {
        const char *bracket = strchr(from, '('); /* "module.mean(x)" */
        if (!strchr(".)]", before) && !(bracket && syntax_variable(bracket + 1)))
            see(t, seen, name, len, &c->args[0]);
    } else {
        const char *bracket = strchr(from, '(');
        if (bracket && c->args[0].kind == ARG_LIST)
            see_elements(t, &c->args[0], bracket, seen);
        else if (bracket && (len = syntax_variable(bracket + 1)) && strchr(",)", bracket[1 + len]))
            see(t, seen, bracket + 1, len, &c->args[0]);
    }
}

/* "self.layer(x)": the variable is what the first call of the module, call i, reads of what was made before; that of
 * "self.layer(x.float())" too, where the cast left no call, or what that reads. */
static void
see_argument(struct tracer *t, int i, int level, struct sights *seen)
{
    const struct stack *s = &t->stacks[i];
    const char *text = s->at[level].src->text, *module = path_last(s->at[level].calls),
               *arg = *module ? python_calls(text, module) : NULL;
    const struct arg *given = NULL;
    size_t len;
    int slot;
    if (!arg || python_calls(arg, module) || !(len = syntax_variable(arg)) || *syntax_behind_call(arg + len) != ')')
        return;
    for (struct call_reads r = {&t->p->calls[i]}; (slot = next_read(&r)) >= 0;) {
        const struct arg *read = r.at;
        int from = t->maker[slot];
        if (from >= 0 && arg[len] == '.' && target_named(t->p->calls[from].target, "to") &&
            t->stacks[from].n == level + 1 && stack_shares(&t->stacks[from], level, s)) {
            read = &t->p->calls[from].args[0];
            from = t->maker[slot = (int)read->i];
        }
        if (from < 0 || (given && slot == given->i))
            continue;
        if (from > i || given || t->stacks[from].borrowed || target_is(t->p->calls[from].target, TARGET_COPIES) ||
            (arg[len] == '.' && stack_shares(&t->stacks[from], level, s)))
            return;
        given = read;
    }
    if (given)
        see(t, seen, arg, len, given);
}

/* Whether the call is a view whose line ran before what it shows was written: made anew since, where it is read, with
 * names that held others. */
static bool
viewed_before(const struct tracer *t, int i)
{
    const unsigned view = TARGET_VIEWS | TARGET_REORDERS;
    const struct call *c = &t->p->calls[i], *of = c;
    while (of && target_is(of->target, view) && of->nargs && of->args[0].kind == ARG_SLOT && of->args[0].i >= 0) {
        const int maker = t->maker[of->args[0].i];
        of = maker < 0 ? NULL : &t->p->calls[maker];
    }
    return of && of != c && (of->in_place || target_is(of->target, TARGET_WRITES)) && of->stack && c->stack &&
           python_earlier(t->a, c->stack, of->stack);
}

static void
read_sights(struct tracer *t)
{
    t->sights = NEWN(t->a, struct sights *, t->p->ncalls + 1);
    t->object = NEWN(t->a, int, t->p->nslots + 1);
    for (int i = 0; i < t->p->nslots; i++)
        t->object[i] = i;
    for (int i = 0; i < t->p->ncalls; i++) {
        const struct call *c = &t->p->calls[i];
        bool writes = c->in_place || target_is(c->target, TARGET_WRITES);
        if (writes && c->nargs && c->args[0].kind == ARG_SLOT && c->args[0].i >= 0)
            t->object[c->outs[0]] = t->object[c->args[0].i];
        const int n = c->anew || viewed_before(t, i) ? 0 : t->stacks[i].n;
        t->sights[i] = NEWN(t->a, struct sights, t->stacks[i].n + 1);
        const int parting = i ? stack_parting(&t->stacks[i - 1], &t->stacks[i]) : 0;
        const bool given = parting && t->stacks[i - 1].n == parting && target_named(c[-1].target, "to");
        for (int level = parting - given; level < n - 1; level++) /* a cast of what the line gives may be before it */
            see_argument(t, i, level, &t->sights[i][level]);
        if (n)
            see_names(t, i, &t->sights[i][n - 1]);
    }
}

/* What lines run over and over, and name, unless that was read. */
static void
read_lines(struct tracer *t)
{
    if (t->rounds)
        return;
    read_rounds(t);
    read_sights(t);
}

/* The last call of the line that call i is of, and of the lines that its statement goes on in: these are behind it, and
 * the operator that joins them is of the first. */
static int
line_end(struct tracer *t, int level, int i, int end)
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
        else if (!t->stacks[k].borrowed && (s->src->whole || o->line < s->line || (o->src->nbindings && o->src->whole)))
            break;
    }
    if (known)
        *known = i;
    return i;
}

/* The last call of the line, in its round of a loop. */
static int
statement_last(struct tracer *t, int i, int level)
{
    const struct round *round = round_at(t, i, level);
    return round ? round->end : line_end(t, level, i, t->stacks[i].end[level]);
}

/* The last call of the statement that binds the name anew, on the line of call i, which reads it: others may follow. */
static int
binding_last(struct tracer *t, int i, int level, const char *name)
{
    const struct spot *s = &t->stacks[i].at[level];
    const char *read = s->src->several ? written_at(t, i, level, s->src->text) : NULL, *end = NULL, *at;
    const int last = statement_last(t, i, level);
    for (int k = 0; k < s->src->nbindings && read && !end; k++)
        if (strcmp(s->src->binding[k].name, name) == 0 && syntax_end(s->src->binding[k].from) > read)
            end = syntax_end(s->src->binding[k].from);
    for (int k = i + 1; end && k <= last; k++)
        if ((at = written_at(t, k, level, s->src->text)) && at > end)
            return k - 1;
    return last;
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
    int first = line_end(t, level, i, until - 1);
    for (int last = first; last + 1 < until; last = line_end(t, level, last + 1, until - 1))
        if (line_after_gap(t, level, last + 1))
            return last;
    return line_after_gap(t, level, until) ? until - 1 : first;
}

/* The last call before a loop's next round begins, where lines go back behind call i and before call `until`; else as
 * above. */
static int
round_before(struct tracer *t, int level, int i, int until)
{
    for (int last = line_end(t, level, i, until - 1); last < until; last = line_end(t, level, last + 1, until)) {
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
    const struct round *round = round_at(t, i, level), *next;
    for (int first = -1; round && round->end < last && first < 0; i = round->end + 1, round = next) {
        int slot, arg = -1, element = -1;
        next = round_at(t, round->end + 1, level);
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
    int last = -1, slot;
    bool within = true, bound = false;
    for (int k = i; k <= end; k++) {
        within &= lineless(t, k, level);
        for (struct call_reads r = {&t->p->calls[k]}; (slot = next_read(&r)) >= 0;)
            if (slot == t->slot && !within)
                return -1;
            else
                last = slot == t->slot ? k : last;
        bound |= !within && t->stacks[k].n > level && syntax_binds(t->stacks[k].at[level].src, name);
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
    int next = line_end(t, level, i, end) + 1;
    while (next <= end && t->stacks[next].n > level && t->stacks[next].at[level].line == s->line)
        next = line_end(t, level, next, end) + 1;
    if (i == 0 || next > end || t->stacks[i - 1].n <= level || t->stacks[next].n <= level ||
        !stack_inside(&t->stacks[i], level, &t->stacks[i - 1]))
        return false;
    const struct spot *other = &t->stacks[next].at[level];
    const size_t n = strlen(name);
    return other->line == s->line + OTHER && t->stacks[i - 1].at[level].line == s->line - ROOM &&
           strncmp(other->src->text, name, n) == 0 && strncmp(other->src->text + n, adds, sizeof(adds) - 1) == 0;
}

/* A local of the frame at that level, made by call `from`: the last call before it has no name any more. */
static int
local_end(struct tracer *t, int from, int level, const char *name)
{
    const char *names[MAX_NAMES] = {name}, *bound = NULL, *at;
    int end = t->stacks[from].end[level], n = 1;
    for (int i = line_end(t, level, from, end) + 1; i <= end; i++) {
        int last = line_end(t, level, i, end), made = i;
        n = gone(t, from, level, i, last, names, n, &made);
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
        const struct round *round = n < 2 ? round_at(t, i, level) : NULL;
        if (round && !n)
            return round->end;
        int anew =
            round && round->end < last && s && syntax_mentions(s->src, names[0]) ? passed_anew(t, i, last, level) : -1;
        if (anew >= 0)
            return anew;
        for (int k = i; !n && *bound && k <= last; k++) /* statements follow on the line */
            if (t->stacks[k].n && (at = written_at(t, k, level, t->stacks[i].at[level].src->text)) && at > bound)
                return k - 1;
        if (!n)
            return last;
        i = last;
    }
    const char *result = result_name(t, from, end, level, names, n);
    return result ? local_end(t, end, level - 1, result) : end;
}

/* Whether a line that ran before in the reader's frame was seen to bind the name; to no result of what it gives a
 * tensor of the other name, NULL none, which may be that tensor. */
static bool
bound_before(struct tracer *t, int user, int level, const char *name, const char *given)
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
    read_stacks(&t);
    t.maker = program_makers(p, t.a);
    read_sights(&t);
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
        if (late && i < from && !made && p->calls[i].anew != ANEW_FIRST && viewed_before(&t, i)) {
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
    for (int k = line_end(t, level, user, until) + 1, slot; k <= until; k++) {
        back = back < 0 && t->stacks[k].n > level && t->stacks[k].at[level].line < s->line ? k : back;
        if (!same_call(t, k, user))
            continue;
        for (struct call_reads r = {&t->p->calls[k]}; (slot = next_read(&r)) >= 0;)
            if (slot == t->slot)
                return until;
        return back < 0 ? until : back - 1;
    }
    return until;
}

/* The slot that a call reads in the n-th place; -1 none. */
static int
nth_read(const struct call *c, int n)
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
    while (nth_read(c, place) >= 0 && nth_read(c, place) != t->slot)
        place++;
    for (int k = statement_last(t, user, level) + 1; k <= until; k++) {
        t->steps++;
        if (same_call(t, k, user) && stack_inside(&t->stacks[user], level, &t->stacks[k]) &&
            nth_read(&t->p->calls[k], place) != t->slot)
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
        int until = !syntax_is_element(p, len) && bound_before(t, user, level, name, given) ? -1
                    : syntax_binds(s->src, name) ? binding_last(t, user, level, name)
                                                 : local_end(t, user, level, name);
        until = emptied(t, user, level, name, until);
        until = p[len] == '[' ? until : given_another(t, user, level, until);
        if (until > end) {
            end = until;
            *by = name;
        }
    }
    return end;
}

/* The first line of the loop that call i runs in, as the calls around it tell: where lines go back; -1 none. */
static int
loop_begin(const struct tracer *t, int i, int level)
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
    const int first = loop_begin(t, i, level), lines = s->at[level].line - first;
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
    for (int k = first; k < t->p->ncalls && round_at(t, k, level) && stack_shares(&t->stacks[k], level, &t->stacks[i]);
         k++) {
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
            bound_before(t, user, level, at->name, NULL))
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
    const char *at = s->src->nbindings > 1 ? written_at(t, from, level, s->src->text) : NULL, *name = NULL;
    for (int i = 0, nth = 0; i < s->src->nbindings; i++) {
        const struct bound *b = &s->src->binding[i];
        bool here = at ? at >= (b->of == 1 && syntax_augments(b) ? b->from : b->value) && at < b->end : !b->renamed;
        if (!here)
            continue;
        if (!name || (t->p->calls[from].nouts > 1 && nth <= out))
            name = b->name;
        nth++;
        if (t->p->calls[from].nouts == 1 && syntax_mentions(u->src, b->name) &&
            local_end(t, from, level, b->name) >= user)
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
    const char *at = s->src->several ? written_at(t, from, level, s->src->text) : NULL,
               *read = at ? written_at(t, user, level, s->src->text) : NULL;
    for (int i = 0; i < s->src->nbindings && read; i++)
        if (at >= s->src->binding[i].value && at < s->src->binding[i].end && read >= s->src->binding[i].end)
            return strcspn(s->src->binding[i].end, ";") < (size_t)(read - s->src->binding[i].end) ? &s->src->binding[i]
                                                                                                  : NULL;
    return NULL;
}

/* What "y, z = layer(y, z=z)" makes in one round and reads in the next, other than its last result, is the value of the
 * last name that it both binds and reads. The level of its frame; -1 none. */
static int
carried(const struct tracer *t, int from, int user, const char **by)
{
    if (t->rounds[from].level < 0)
        return -1;
    int level = stack_parting(&t->stacks[from], &t->stacks[user]);
    for (const struct round *round = &t->rounds[from]; round && round->level >= 0; round = round->outer) {
        const struct spot *s = &t->stacks[from].at[round->level];
        if (level <= round->level || round->end >= user || round->end == from || !round_at(t, user, round->level))
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

/* The level at which the frames of two calls part: they differ there, or the function or the line runs again. */
static int
runs_apart(struct tracer *t, int from, int user)
{
    const struct stack *s = &t->stacks[from], *u = &t->stacks[user];
    if (t->apart.from == from && t->apart.user == user)
        return t->apart.level;
    int level = stack_parting(s, u);
    for (const struct round *r = &t->rounds[from]; r && r->level >= 0; r = r->outer)
        level = level > r->level && r->end < user && round_at(t, user, r->level) ? r->level : level;
    for (int i = 1; i <= level && i < s->n; i++) { /* that frame has returned */
        bool again = i < level || (i < u->n && s->at[i].where == u->at[i].where);
        level = again && s->end[i] < user ? i - 1 : level;
    }
    for (int i = one_line(t, level - 1, from, user) ? level : 0; i < level; i++)
        level = line_end(t, i, from, user) < user ? i : level;
    t->apart.from = from;
    t->apart.user = user;
    return t->apart.level = level;
}

/* Whether calls i and j give the same variable of one function its value. */
static bool
same_variable(const struct tracer *t, int i, int j)
{
    const struct stack *a = &t->stacks[i], *b = &t->stacks[j];
    const struct spot *s = a->n == b->n && a->n ? &a->at[a->n - 1] : NULL, *o = s ? &b->at[b->n - 1] : NULL;
    return s && s->function == o->function && s->src->nbindings && o->src->nbindings &&
           strcmp(s->src->binding[0].name, o->src->binding[0].name) == 0;
}

/* The list whose element its line writes for the first operand of call i, "x[2] - y", "x[-1].mean()" and "exp(x[0])";
 * NULL none. */
static const char *
element_read(struct tracer *t, int i, int level)
{
    const struct stack *s = &t->stacks[i];
    const char *text = s->n == level + 1 ? s->at[level].src->text : "",
               *at = strchr(text, '[') ? written_at(t, i, level, text) : NULL;
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
           line_end(t, level, from, t->p->ncalls - 1) >= user;
}

static int
held_until(struct tracer *t, int from, int out, int user, const char **by)
{
    const struct stack *s = &t->stacks[from], *u = &t->stacks[user];
    int level = stack_parting(s, u);
    *by = NULL;
    if (!s->n || !u->n)
        return -1;
    for (const struct round *round = &t->rounds[from], *other; round && round->level >= 0; round = round->outer) {
        other = level > round->level && round->end < user ? round_at(t, user, round->level) : NULL;
        if (other && s->at[round->level].src->nbindings) {
            *by = arena_str(t->p->arena, s->at[round->level].src->binding[0].name);
            return round->end == from || carried(t, from, user, by) >= 0 ? other->end : -1;
        }
    }
    level = runs_apart(t, from, user);
    for (int i = 0; i < level; i++) {
        const struct bound *b = next_statement(t, from, user, i);
        if (b) {
            *by = arena_str(t->p->arena, b->name);
            return syntax_bound_last(s->at[i].src, b) ? line_end(t, i, from, t->p->ncalls - 1)
                                                      : local_end(t, from, i, b->name);
        }
    }
    if (level < s->n && level < u->n && s->at[level].where == u->at[level].where) {
        const char *name = within_line(t, from, user, level) ? NULL : name_of(t, from, out, user, level);
        if (name) {
            *by = arena_str(t->p->arena, name);
            int end = local_end(t, from, level, *by);
            const char *alias = *by, *loop = *by;
            const bool another =
                !syntax_mentions(u->at[level].src, *by) || (end < user && element_read(t, user, level));
            const int other = another && !u->borrowed ? alias_end(t, user, level, &alias) : -1,
                      looped = end < user ? looped_end(t, user, level, end, &loop) : end;
            if (other > end || looped > end)
                *by = other > looped ? alias : loop;
            return other > looped ? other : looped;
        }
        const char *list = syntax_put_into(t->a, s->at[level].src->text);
        if (list)
            return local_end(t, from, level, list);
        if (syntax_collects(s->at[level].src->text))
            return s->end[level];
        const char *written = written_in_place(t, from, level);
        if (written) {
            *by = arena_str(t->p->arena, written);
            return local_end(t, from, level, *by);
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

/* What the reader's line shows to hold the tensor there, the name that does so longest: the last call before that is
 * bound anew. */
static int
seen_until(struct tracer *t, int user, const char **by)
{
    const int level = stack_parting(&t->stacks[t->maker[t->slot]], &t->stacks[user]);
    const struct sights *seen = level < t->stacks[user].n ? &t->sights[user][level] : NULL;
    int end = -1;
    if (!seen || !seen->n || !stack_inside(&t->stacks[user], level, &t->stacks[t->maker[t->slot]]))
        return -1;
    for (const struct sight *s = seen->of; s < seen->of + seen->n; s++) {
        if (s->slot != t->slot)
            continue;
        const int until = syntax_binds(t->stacks[user].at[level].src, s->name) ? binding_last(t, user, level, s->name)
                                                                               : local_end(t, user, level, s->name);
        if (until > end) {
            end = until;
            *by = arena_str(t->p->arena, s->name);
        }
    }
    return end;
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
        if (!bound_before(t, reader, level, name, NULL))
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
            seen = o && stack_same_spot(o, s) && (!*path_last(o->calls) || is_last(o->calls, p, n));
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
    const char *at = s->src->nbindings > 1 ? written_at(t, i, level, s->src->text) : NULL;
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

/* A call that the exporter lost has the frames that its input's maker and its reader share. Its statement is taken for
 * the maker's, unless it parts a tensor and that line does not (then it is the reader's, where this takes something
 * apart or calls a function that reads it, or a line that nothing is known of), the reader's line calls a module that
 * nothing else shows, it calls the result by a name of its own, or neither writes the operator. */
static void
borrow_stack(struct tracer *t, int from, int reader, bool parts, struct stack *s)
{
    const struct stack *m = &t->stacks[from], *r = &t->stacks[reader];
    int n = stack_parting(m, r);
    for (int i = 0; i < n; i++) /* that line runs again */
        n = line_end(t, i, from, reader) < reader ? i : n;
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

/* Per slot whether it is attention's weights behind their dropout, which forward() may return for a list. */
static bool *
weights_dropped(const struct program *p, struct arena *a)
{
    bool *weighs = NEWN(a, bool, p->nslots + 1), *dropped = NEWN(a, bool, p->nslots + 1);
    for (int i = 0; i < p->ncalls; i++) {
        const struct call *c = &p->calls[i];
        weighs[c->outs[0]] |= target_is(c->target, TARGET_WEIGHS);
        dropped[c->outs[0]] |=
            target_is(c->target, TARGET_DROPS) && c->args[0].kind == ARG_SLOT && weighs[c->args[0].i];
    }
    return dropped;
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
    const bool *kept = weights ? weights_dropped(p, p->arena) : NULL;
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
    const int first = loop_begin(t, i, level), begin = first < 0 ? t->stacks[i].at[level].line : first;
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
    *level = name ? runs_apart(t, from, user) : s->n;
    if (*level >= s->n || *level >= u->n || !s->at || !u->at || s->at[*level].where != u->at[*level].where)
        return NULL;
    const struct spot *made = &s->at[*level], *read = &u->at[*level];
    const bool same = stack_same_spot(made, read) && line_end(t, *level, from, user) >= user; /* which makes it */
    const int first = nth_read(&t->p->calls[user], 0);
    const char *own = first >= 0 && t->maker[first] == from ? element_read(t, user, *level) : NULL;
    if (same || !strchr(read->src->text, '[') ||
        (!own && syntax_binds(made->src, name) && syntax_mentions(read->src, name) &&
         local_end(t, from, *level, name) >= user))
        return NULL;
    size_t len;
    for (const char *p = read->src->text; (p = syntax_next_read(read->src, p, &len)); p += len) {
        const char *list = arena_strn(t->a, p, len);
        if (p[len] == '[' && !syntax_binds(made->src, list) && (!own || strcmp(own, list) == 0) &&
            ((syntax_is_element(p, len) && same_number(made, read)) || !bound_before(t, user, *level, list, NULL)))
            return list;
    }
    return NULL;
}

/* Whether calls i and j are one of a line that ran for each of them: as many like it follow in both. */
static bool
same_element(struct tracer *t, int i, int j, int level)
{
    int behind = 0;
    if (!same_call(t, i, j))
        return false;
    for (int k = statement_last(t, i, level); k > i; k--)
        behind += same_call(t, k, j);
    for (int k = statement_last(t, j, level); k > j; k--)
        behind -= same_call(t, k, j);
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
        !(element_read(t, user, level) && room_for_list(t, from, level)))
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
    *last = statement_last(t, i, level);
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
    *last = statement_last(t, i, level);
    if (m->n > level && stack_same_spot(&m->at[level], &s->at[level]))
        return true;
    int next = *last + 1, read;
    while (next <= s->end[level] && !same_call(t, next, i))
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
    return local_end(t, i, level, *by);
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
        const int until = local_end(t, i, level, name);
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

/* Every how many of the calls from call i to end - 1 that are of its own line the same operators come again, as they do
 * in a loop, whose first round may have begun before; how many they are where they don't. */
static int
period(struct arena *a, const struct program *p, int i, int end)
{
    const char **target = NEWN(a, const char *, end - i + 1), *stack = p->calls[i].stack;
    int n = 0, every = 1;
    for (int k = i; k < end; k++)
        if (strcmp(p->calls[k].stack, stack) == 0)
            target[n++] = p->calls[k].target;
    for (int k = every; k < n; k++)
        if (strcmp(target[k], target[k - every]) != 0)
            k = every++;
    return 2 * n < 3 * every ? n : every;
}

/* Whether calls i to end - 1 that are of its own line are several, none of which this writes; views apart. */
static bool
writes_none(const struct program *p, int i, int end, const char *line)
{
    int n = 0;
    bool any = false;
    for (int k = i; k < end && !any; k++) {
        const char *target = p->calls[k].target;
        const bool own = strcmp(p->calls[k].stack, p->calls[i].stack) == 0 &&
                         !target_is(target, TARGET_VIEWS | TARGET_REORDERS | TARGET_KEEPS | TARGET_COPIES);
        n += own;
        any |= own && python_writes(line, target);
    }
    return !any && n > 1;
}

/* Behind the calls of one statement from call i on, if its line writes fewer than those: functions ran them whose names
 * the file does not have, as it has frames of forward() alone. Libraries' lines are known better, and are no such. -1
 * it shows all. */
static int
hidden_end(struct tracer *t, int i)
{
    const struct program *p = t->p;
    const struct spot *s = innermost(t, &p->calls[i]);
    const char *stack = p->calls[i].stack;
    int end = i;
    if (!s || s->library)
        return -1;
    for (size_t len = strlen(stack); end < p->ncalls && p->calls[end].stack; end++)
        if (strncmp(p->calls[end].stack, stack, len) != 0)
            break;
    if (!s->src->whole || strstr(s->src->text, " for "))
        return -1;
    return period(t->a, p, i, end) > python_most(s->src->text) || writes_none(p, i, end, s->src->text) ? end : -1;
}

/* The most that functions can hold which the file does not show: what their calls make and read, until they return;
 * maker: per slot its call. Where `until` is NULL only whether there are any. */
static bool
hold_hidden(struct tracer *t, const int *maker, int *until)
{
    const struct program *p = t->p;
    bool any = false;
    for (int i = 0; i < p->ncalls; i++) {
        int end = hidden_end(t, i), slot;
        any |= end > i;
        for (int k = i; k < end && until; k++) {
            const struct call *c = &p->calls[k];
            if (strcmp(c->stack, p->calls[i].stack) != 0)
                continue;
            for (int o = 0; o < c->nouts; o++)
                until[c->outs[o]] = until[c->outs[o]] < end - 1 ? end - 1 : until[c->outs[o]];
            for (struct call_reads r = {c}; (slot = next_read(&r)) >= 0;)
                if (maker[slot] >= i && until[slot] < end - 1)
                    until[slot] = end - 1;
        }
        i = end > i ? end - 1 : i;
    }
    return any;
}

bool
python_hides(const struct program *p)
{
    struct tracer t = tracer_new(p);
    bool any = hold_hidden(&t, NULL, NULL);
    arena_free(t.a);
    return any;
}

bool *
python_hidden(const struct program *p, struct arena *a)
{
    struct tracer t = tracer_new(p);
    bool *hidden = NEWN(a, bool, p->ncalls + 1);
    for (int i = 0; i < p->ncalls; i++) {
        const int end = hidden_end(&t, i);
        for (int k = i; k < end; k++)
            hidden[k] = strcmp(p->calls[k].stack, p->calls[i].stack) == 0;
        i = end > i ? end - 1 : i;
    }
    arena_free(t.a);
    return hidden;
}

bool
python_traced(const struct program *p)
{
    struct tracer t = tracer_new(p);
    const struct spot *s = NULL;
    for (int i = 0; i < p->ncalls && !(s && s->traced); i++)
        s = innermost(&t, &p->calls[i]);
    arena_free(t.a);
    return s && s->traced;
}

/* Whether the call multiplies with a parameter, of a module that has no number for a name, as those of a Sequential;
 * of: the parameter of each slot. */
static bool
multiplies_named(const struct program *p, const struct param *const *of, const struct call *c)
{
    int slot;
    for (struct call_reads r = {c}; (slot = next_read(&r)) >= 0;)
        if (of[slot] && of[slot]->rank > 1)
            return !isdigit((unsigned char)path_last(p->modules[of[slot]->module].path)[0]);
    return false;
}

/* The end of the traced calls of one region that follow each other from the first, and how much of the first one's path
 * their modules have in common: that of the module whose forward the region is in. */
static int
region_ends(const struct program *p, int first, size_t *common)
{
    size_t len, n;
    const char *code = python_region(p->calls[first].stack, &len), *path = p->modules[p->calls[first].scope].path, *own;
    int end = first;
    *common = strlen(path);
    for (; end < p->ncalls && (own = python_region(p->calls[end].stack, &n)); end++) {
        const char *other = p->modules[p->calls[end].scope].path;
        if (n != len || strncmp(own, code, n) != 0)
            break;
        while (*common && (strncmp(path, other, *common) != 0 || (other[*common] && other[*common] != '.')))
            while (*common && path[--*common] != '.')
                ;
    }
    return end;
}

/* "with torch.no_grad(): y = teacher(x)": names hold what a region hands on until the module that it is in returns. */
static void
hold_handed(const struct program *p, const int *read, int *until)
{
    struct arena *a = arena_new();
    size_t common;
    for (int i = 0, end; i < p->ncalls; i = end) {
        end = i + 1;
        if (!python_is_traced(p->calls[i].stack))
            continue;
        end = region_ends(p, i, &common);
        const char *path = arena_strn(a, p->modules[p->calls[i].scope].path, common);
        int last = end - 1;
        while (last + 1 < p->ncalls && !p->calls[last + 1].in_loss &&
               path_within(p->modules[p->calls[last + 1].scope].path, path))
            last++;
        for (int k = i; k < end; k++)
            for (int o = 0; o < p->calls[k].nouts; o++) {
                const int slot = p->calls[k].outs[o];
                if (read[slot] >= end && !p->calls[read[slot]].no_grad && until[slot] < last)
                    until[slot] = last;
            }
    }
    arena_free(a);
}

/* "x = bn(conv(x))": what a product reads is held until what it makes was read, too, but in a Sequential. */
static void
hold_traced(const struct program *p, int *until)
{
    struct arena *a = arena_new();
    int *read = NEWN(a, int, p->nslots + 1), slot;
    const struct param **of = program_params(p, a);
    for (int i = 0; i < p->ncalls; i++)
        for (struct call_reads r = {&p->calls[i]}; (slot = next_read(&r)) >= 0;)
            read[slot] = i;
    hold_handed(p, read, until);
    for (int i = 0; i < p->ncalls; i++) {
        const struct call *c = &p->calls[i];
        bool holds = multiplies_named(p, of, c) && python_is_traced(c->stack);
        for (struct call_reads r = {c}; holds && (slot = next_read(&r)) >= 0;)
            for (int o = 0; o < c->nouts; o++)
                until[slot] = until[slot] < read[c->outs[o]] ? read[c->outs[o]] : until[slot];
    }
    arena_free(a);
}

/* Whether the first line behind call i that reads that name in the function around its innermost one takes a tensor. */
static bool
read_as_tensor(struct arena *a, const struct program *p, int i, const char *name)
{
    const char *own = p->calls[i].stack, *inner = python_inner(own), *around = NULL, *text, *at;
    for (const char *q = own; (q = python_frame(q)) && q < inner; q++)
        around = q;
    const size_t n = around ? (size_t)(around - own) : 0;
    const char *from = (at = around) ? stack_next_frame(a, &at, &text) : NULL, *to;
    for (int k = i + 1; from && k < p->ncalls; k++) {
        const char *other = p->calls[k].stack;
        if (!other || strncmp(other, own, n) != 0)
            break;
        at = other + n;
        if (!(to = stack_next_frame(a, &at, &text)) || !python_same_function(from, to))
            break;
        const struct source s = syntax_read(a, text);
        if (strcmp(from, to) != 0 && syntax_mentions(&s, name))
            return s.whole && syntax_takes_tensor(&s, name);
    }
    return false;
}

/* How many names the line binds that calls the innermost function of call i, and to what that returns, as far as it
 * shows: 0 where it makes more of it, or another line does, as of a tensor. */
static int
names_given(struct arena *a, const struct program *p, int i)
{
    const char *line = "", *caller = "", *text = "", *stack = p->calls[i].stack;
    while (stack_next_frame(a, &stack, &text)) {
        caller = line;
        line = text;
    }
    const struct source s = syntax_read(a, caller);
    const bool tensor =
        s.nbindings == 1 && s.whole && (syntax_goes_on(&s.binding[0]) || read_as_tensor(a, p, i, s.binding[0].name));
    return tensor ? 0 : s.nbindings;
}

/* The first of two tensors that the call multiplies and that are no parameters; -1 none. */
static int
multiplied(const struct param *const *of, const struct call *c)
{
    const bool sums = target_named(c->target, "einsum") && c->nargs > 1 && c->args[1].kind == ARG_LIST;
    const struct arg *x = sums ? c->args[1].list : c->args;
    if (!sums && !target_is(c->target, TARGET_MULTIPLIES))
        return -1;
    if ((sums ? c->args[1].n : c->nargs) < 2 || x[0].kind != ARG_SLOT || x[1].kind != ARG_SLOT || of[x[0].i] ||
        of[x[1].i])
        return -1;
    return (int)x[0].i;
}

/* Whether a softmax made it, with a dropout, a mask or a cast behind that. */
static bool
softmaxed(const struct program *p, const int *maker, int slot)
{
    enum { BEHIND = 3 };
    for (int i = 0; i <= BEHIND && slot >= 0 && maker[slot] >= 0; i++) {
        const struct call *c = &p->calls[maker[slot]];
        if (target_named(c->target, "softmax"))
            return true;
        slot = next_read(&(struct call_reads){c});
    }
    return false;
}

/* The weights that attention multiplies there with its values, in a function that may return them: one of a library, to
 * a line that does not show it, or another to a line of several names. -1 none. */
static int
attends(struct arena *a, const struct program *p, const struct param *const *of, const int *maker, int i)
{
    const struct call *c = &p->calls[i];
    const int weights = c->stack ? multiplied(of, c) : -1;
    const char *frame = weights >= 0 ? python_inner(c->stack) : NULL;
    if (!frame || python_in_torch(c->stack))
        return -1;
    const int names = names_given(a, p, i);
    const bool may = strstr(frame, "site-packages/") ? names == 1 : names > 1 && softmaxed(p, maker, weights);
    return may ? weights : -1;
}

bool
python_attends(const struct program *p)
{
    struct arena *a = arena_new();
    const struct param **of = program_params(p, a);
    const int *maker = program_makers(p, a);
    bool any = false, stacks = false;
    for (int i = 0; i < p->ncalls; i++) {
        any |= !p->modules[p->calls[i].scope].returns_weights && attends(a, p, of, maker, i) >= 0;
        stacks |= p->calls[i].stack != NULL;
    }
    const bool *dropped = stacks ? NULL : weights_dropped(p, a);
    for (int i = 0; i < p->nslots && dropped; i++)
        any |= dropped[i];
    arena_free(a);
    return any;
}

/* The last call that may hold what call i's function returns beside its result: the functions around bind it to a name
 * that no line reads, and return it or put it in a list. */
static int
passed_on(const struct tracer *t, int i)
{
    const struct stack *s = &t->stacks[i];
    int end = -1;
    for (int level = s->n - 2; level >= 0 && s->at[level].src->nbindings > 1; level--) {
        const struct spot *line = &s->at[level];
        const char *name = line->src->binding[line->src->nbindings - 1].name;
        if (line->src->binding[0].of != line->src->nbindings)
            break;
        for (int k = s->end[level + 1] + 1; k <= s->end[level]; k++)
            if (t->stacks[k].n > level && syntax_mentions(t->stacks[k].at[level].src, name))
                return end;
        end = s->end[level];
    }
    return end;
}

/* The last call from call i on that runs below the module which the line at that level calls there. */
static int
called_until(const struct tracer *t, int i, int level)
{
    const char *module = t->stacks[i].at[level].calls;
    const int end = t->stacks[i].end[level];
    while (i < end && t->stacks[i + 1].n > level && strcmp(t->stacks[i + 1].at[level].calls, module) == 0)
        i++;
    return i;
}

/* The last call that has what call i's function returns beside its result, where callers pass it on up to the loop over
 * a list of layers, which has it until its next layer has returned. */
static int
returned_until(struct tracer *t, int i)
{
    const struct stack *s = &t->stacks[i];
    int until = -1;
    bool whole = true;
    for (int level = s->n - 2; level >= 0; level--) {
        const struct source *line = s->at[level].src;
        const bool listed = isdigit((unsigned char)*path_last(s->at[level].calls));
        if (!line->nbindings)
            continue;
        if (listed && !whole)
            return until;
        const int next = listed ? called_until(t, i, level) + 1 : i;
        const bool again = listed && next <= s->end[level] && t->stacks[next].n > level &&
                           t->stacks[next].at[level].line == s->at[level].line;
        const int end =
            again ? called_until(t, next, level) : local_end(t, i, level, line->binding[line->nbindings - 1].name);
        until = until < end ? end : until;
        if (listed)
            return until;
        whole &= line->nbindings < 2; /* else the line takes the tuple apart */
    }
    return until;
}

/* Weights of attention that a module returns, as its library's source says. */
static void
hold_returned(struct tracer *t, int *until)
{
    const struct param **of = program_params(t->p, t->a);
    for (int i = 0; i < t->p->ncalls; i++) {
        const struct call *c = &t->p->calls[i];
        const int weights = c->stack && t->p->modules[c->scope].returns_weights ? multiplied(of, c) : -1,
                  end = weights >= 0 && softmaxed(t->p, t->maker, weights) ? returned_until(t, i) : -1;
        if (end >= 0 && until[weights] < end)
            until[weights] = end;
    }
}

/* The same where nothing is known, in a tuple that its callers pass on: the layer around that has them until it
 * returns. */
static void
hold_weights(struct tracer *t, int *until)
{
    const struct param **of = program_params(t->p, t->a);
    for (int i = 0; i < t->p->ncalls; i++) {
        const struct stack *s = &t->stacks[i];
        const int weights =
            t->p->modules[t->p->calls[i].scope].returns_weights ? -1 : attends(t->a, t->p, of, t->maker, i);
        if (weights < 0)
            continue;
        const bool library = strstr(python_inner(t->p->calls[i].stack), "site-packages/");
        const int end = !library ? passed_on(t, i) : s->n > 2 ? s->end[s->n - 3] : -1;
        until[weights] = until[weights] < end ? end : until[weights];
    }
}

/* The number of a module in a list below that one, "3/output" of "encoder.layer.3.output"; NULL it is in none. */
static const char *
listed_below(const char *path, const char *module)
{
    for (const char *p = path_within(path, module) ? path + strlen(module) : ""; *p; p += strcspn(p, ".")) {
        p += *p == '.';
        if (*p && strspn(p, "0123456789") == strcspn(p, "."))
            return p;
    }
    return NULL;
}

/* The layers of a list that run last in these calls, one after another: *from is the first of their calls. False: none
 * does, or other modules run in between. */
static bool
last_layers(const struct program *p, const char *module, int first, int end, int *from)
{
    const char *list = NULL;
    size_t n = 0;
    for (int k = end; k >= first; k--) {
        const char *path = p->modules[p->calls[k].scope].path, *number = listed_below(path, module);
        const bool in = number && (!list || ((size_t)(number - path) == n && strncmp(path, list, n) == 0));
        if (in && list && *from != k + 1)
            return false;
        if (!in)
            continue;
        list = path;
        n = (size_t)(number - path);
        *from = k;
    }
    return list;
}

/* Whether the call is the last one of a layer of the module's. */
static bool
ends_layer(const struct program *p, const char *module, int k, int end)
{
    const char *number = listed_below(p->modules[p->calls[k].scope].path, module),
               *next = k < end ? listed_below(p->modules[p->calls[k + 1].scope].path, module) : NULL;
    return number && !(next && atoi(next) == atoi(number));
}

/* Whether the function that called a module of Transformers, which ran from `first` to `end`, reads what two of its
 * layers made: it returned what each did, as its configuration says. reader: per slot the last call that reads it. */
static bool
returns_states(const struct tracer *t, const int *reader, const char *module, int first, int end, int level)
{
    static const char library[] = "transformers.";
    const struct program *p = t->p;
    const char *type = NULL;
    int n = 0;
    for (int m = p->calls[first].scope; m > 0 && !type; m = p->modules[m].parent)
        type = strcmp(p->modules[m].path, module) == 0 ? p->modules[m].type : NULL;
    if (!type || strncmp(type, library, sizeof(library) - 1) != 0)
        return false;
    for (int k = first; k <= end && n < 2; k++) {
        const int last = reader[p->calls[k].outs[0]];
        n += last > end && last <= t->stacks[first].end[level] && ends_layer(p, module, k, end);
    }
    return n > 1;
}

/* "states = self.encoder(x, output_hidden_states=True).hidden_states": what goes into each layer of the module, and
 * what leaves the last, as long as the name has them. Source: ModelOutput in transformers/modeling_outputs.py. */
static void
hold_states(struct tracer *t, int *until, const char **by)
{
    const struct program *p = t->p;
    int *reader = NEWN(t->a, int, p->nslots + 1), slot;
    for (int i = 0; i < p->ncalls; i++)
        for (struct call_reads r = {&p->calls[i]}; (slot = next_read(&r)) >= 0;)
            reader[slot] = i;
    for (int i = 0; i < p->ncalls; i++)
        for (int level = 0, from; level < t->stacks[i].n - 1; level++) {
            const struct spot *s = &t->stacks[i].at[level];
            const int end = t->stacks[i].end[level + 1];
            if (!*s->calls || (i && stack_shares(&t->stacks[i - 1], level, &t->stacks[i])) ||
                !(s->states || returns_states(t, reader, s->calls, i, end, level)) ||
                !last_layers(p, s->calls, i, end, &from))
                continue;
            read_lines(t);
            const char *name = s->src->nbindings ? arena_str(p->arena, s->src->binding[0].name) : NULL;
            const int last = name ? local_end(t, end, level, name) : line_end(t, level, end, t->stacks[i].end[level]);
            const int input = next_read(&(struct call_reads){&p->calls[from]}),
                      before = input < 0 ? -1 : t->maker[input];
            if (before >= i && before < from && until[input] < last) {
                until[input] = last;
                by[input] = name;
            }
            for (int k = from; k <= end; k++) {
                slot = p->calls[k].outs[0];
                if (!ends_layer(p, s->calls, k, end) || until[slot] >= last)
                    continue;
                until[slot] = last;
                by[slot] = name;
            }
        }
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
    read_lines(t);
    int *out_at = NEWN(t->a, int, p->nslots + 1);
    const char **out_of = NEWN(t->a, const char *, p->nslots + 1); /* the list that a slot left, after that call */
    for (int i = 0, slot; i < p->ncalls; i++)
        for (struct call_reads r = {&p->calls[i]}; (slot = next_read(&r)) >= 0;) {
            if (t->maker[slot] < 0 || t->maker[slot] >= i)
                continue;
            const char *name;
            t->slot = slot;
            int end = held_until(t, t->maker[slot], place[slot], i, &name);
            int loop = carried(t, t->maker[slot], i, &name), last = -1;
            for (int k = i; loop >= 0 && k <= t->stacks[i].end[loop]; k++)
                last = same_variable(t, k, t->maker[slot]) ? k : last;
            if (last >= 0) { /* the last round's, which nobody reads */
                int other = p->calls[last].outs[0], end = local_end(t, last, loop, name);
                by[other] = end > until[other] ? name : by[other];
                until[other] = end > until[other] ? end : until[other];
            }
            const char *seen = NULL;
            int other = seen_until(t, i, &seen);
            if (other > end && (end < i || !name || strcmp(seen, name) != 0)) {
                name = seen;
                end = other;
            }
            const int root = t->maker[t->object[slot]];
            int level;
            const char *list = root < 0 ? NULL : list_of(t, root, i, name, &level), *own = name;
            if (list && strcmp(list, name) != 0 && (last = local_end(t, i, level, list)) > end) {
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
            int common = runs_apart(t, t->maker[slot], i);
            const char *left = list              ? list
                               : own             ? own
                               : common < put->n ? syntax_put_into(t->a, put->at[common].src->text)
                                                 : NULL;
            if (left && !other_number(t, t->maker[slot], i, common) &&
                (stored_again(t, i, common, left, slot, &last) || stored_behind(t, i, common, left, slot, &last))) {
                out_of[slot] = left;
                out_at[slot] = last;
                int next = i; /* what takes its place, which nobody may read */
                while (next <= last && !same_call(t, next, t->maker[slot]))
                    next++;
                int into = next <= last ? p->calls[next].outs[place[slot]] : -1, held = local_end(t, i, common, left);
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
    read_stacks(&t);
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
            borrow_stack(&t, maker[in], next, c->nouts > 1, &t.stacks[i]);
    }
    read_ends(&t);
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
        hold_returned(&t, until);
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
        hold_hidden(&t, maker, until);
    if (most & HOLD_TRACED && python_traced(p))
        hold_traced(p, until);
    if (most & HOLD_WEIGHTS)
        hold_weights(&t, until);
    hold_states(&t, until, *by);
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

/* ---- checkpoints in the program ---------------------------------------------------------------------------------- */

/* What a line calls that puts the calls of its first argument under checkpoint: torch/utils/checkpoint.py. */
/* What puts calls under checkpoint: those of one function or module, of a list's segments but the last, or of each
 * function or module of a list, if the line does not ask for more. */
static const struct wrapper {
    const char *name;
    enum { WRAPS_ONE, WRAPS_SEGMENTS, WRAPS_EACH } how;
    bool method; /* of the module */
    const char *source;
} wrappers[] = {
    {"checkpoint", WRAPS_ONE, false, "torch/utils/checkpoint.py"},
    {"checkpoint_sequential", WRAPS_SEGMENTS, false, "torch/utils/checkpoint.py"},
    {"checkpoint_seq", WRAPS_EACH, false, "timm/models/_manipulate.py"},
    {"_gradient_checkpointing_func", WRAPS_ONE, true,
     "enable_gradient_checkpointing in diffusers/models/modeling_utils.py; transformers/modeling_utils.py"},
};

/* The wrapper that a line calls, by its own name or a module's; *arg is behind the bracket. NULL none. */
static const struct wrapper *
wrapper_of(const char *text, const char **arg)
{
    static const char self[] = "self.";
    for (int i = 0; i < COUNT(wrappers); i++)
        for (*arg = text; (*arg = python_calls(*arg, wrappers[i].name));) {
            const char *name = *arg - strlen(wrappers[i].name) - 1;
            size_t before = strlen(self);
            const bool method = (size_t)(name - text) >= before && strncmp(name - before, self, before) == 0;
            if (method == wrappers[i].method)
                return &wrappers[i];
        }
    return NULL;
}

static const char *
class_of(const struct program *p, const char *path)
{
    for (int i = 0; i < p->nmodules; i++)
        if (strcmp(p->modules[i].path, path) == 0)
            return p->modules[i].type ? p->modules[i].type : "";
    return "";
}

/* How a run of calls under one line's checkpoint falls apart. */
enum { ONE, EACH /* module alone */, SEGMENTS, OPEN };

static int
parts_under(const struct tracer *t, const char *arg, int first, int end, int level)
{
    size_t name = strspn(arg, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.");
    const char *module = t->stacks[first].at[level].calls, *type = class_of(t->p, module);
    bool alike = *module, several = false;
    for (int i = first; i < end; i++) {
        const char *other = t->stacks[i].n ? t->stacks[i].at[level].calls : module;
        if (strcmp(other, module) == 0)
            continue;
        alike &= *other && strcmp(class_of(t->p, other), type) == 0;
        several = true;
    }
    if (!several || strncmp(arg, "lambda", 6) == 0)
        return ONE;
    if (arg[name] == '[' || (*arg == '\0' && alike))
        return EACH;
    if (memchr(arg, '.', name)) /* a method */
        return arg[name] == ',' ? ONE : OPEN;
    return arg[name] != ',' ? OPEN : alike ? EACH : ONE; /* a loop's module, or a function */
}

/* How many modules of a list make a segment, and which one is the last, that runs as it is. */
struct segments {
    int size, last;
};

enum { DIGITS = 8 /* of such a number, at most */ };

/* Which module of a list call k runs in; -1 unknown. */
static int
number_in_list(const struct tracer *t, int level, int k)
{
    const char *name = t->stacks[k].n > level ? path_last(t->stacks[k].at[level].calls) : "";
    const size_t n = strspn(name, "0123456789");
    return n && n <= DIGITS && !name[n] ? atoi(name) : -1;
}

/* Of "checkpoint_sequential(self.blocks, 4, x)"; size 0: the line doesn't say. */
static struct segments
segments_in(const struct tracer *t, const char *arg, int first, int end, int level)
{
    static const char keyword[] = "segments=";
    const char *second = syntax_part_end(arg, arg + strlen(arg));
    second = second ? second + strspn(second, " ") : "";
    second += strncmp(second, keyword, strlen(keyword)) == 0 ? strlen(keyword) : 0;
    const int n = strspn(second, "0123456789") <= DIGITS ? atoi(second) : 0;
    int most = -1;
    for (int i = first; i < end; i++) {
        const int number = number_in_list(t, level, i);
        if (t->stacks[i].n && number < 0)
            return (struct segments){0};
        most = number > most ? number : most;
    }
    return (struct segments){.size = n > 0 ? (most + 1) / n : 0, .last = n - 1};
}

static int
parts_listed(const struct wrapper *w, const char *arg, const struct segments *of)
{
    if (w->how == WRAPS_SEGMENTS)
        return of->size ? SEGMENTS : OPEN;
    return strstr(arg, "every=") || strstr(arg, "skip_last=") ? OPEN : EACH;
}

/* Which segment call k is of; 0 where the line doesn't say. */
static int
segment_of(const struct tracer *t, const struct segments *of, int level, int k)
{
    const int at = of->size ? number_in_list(t, level, k) / of->size : 0;
    return at < of->last ? at : of->last;
}

/* Whether "self.step, x" is a method of the module in whose function the line at that level stands, which has no module
 * of that name. */
static bool
is_method(const struct tracer *t, const struct stack *s, int level, const char *arg)
{
    static const char self[] = "self.";
    const char *around = level ? s->at[level - 1].calls : "", *name = arg + strlen(self);
    const size_t len = strlen(around), dot = len > 0, n = strncmp(arg, self, strlen(self)) == 0 ? python_name(name) : 0;
    bool has = !n || name[n] != ',';
    for (int i = 0; i < t->p->nmodules && !has; i++) {
        const char *path = t->p->modules[i].path;
        has = strncmp(path, around, len) == 0 && (!dot || path[len] == '.') && strlen(path) == len + dot + n &&
              strncmp(path + len + dot, name, n) == 0;
    }
    return !has;
}

/* Whether call i, of a line that calls a wrapper, runs under it: where that wraps a module, no call of the line's own
 * or of another module. */
static bool
under(const struct tracer *t, const struct wrapper *w, int i, int level, const char *arg)
{
    static const char self[] = "self.";
    const struct stack *s = &t->stacks[i];
    size_t n = w->how == WRAPS_ONE && strncmp(arg, self, strlen(self)) == 0 ? python_name(arg + strlen(self)) : 0;
    const char *module = path_last(s->at[level].calls);
    if (!n || arg[strlen(self) + n] != ',')
        return true;
    if (s->n > level + 1 && strncmp(module, arg + strlen(self), n) == 0 && !module[n])
        return true;
    const char *text = s->at[level].src->text;
    const bool written =
        s->n == level + 1 ? python_writes(text, t->p->calls[i].target) : python_calls(text, module) != NULL;
    return !written && is_method(t, s, level, arg);
}

/* Whether call k is of a traced graph, which has no frames, and of the module that call i's line calls there. */
static bool
traced_under(const struct tracer *t, int i, int level, int k)
{
    const struct program *p = t->p;
    const char *module = called_at(t, level, i);
    return *module && python_is_traced(p->calls[k].stack) && path_within(p->modules[p->calls[k].scope].path, module);
}

/* Whether call k runs under the wrapper that call i's line calls, or may. */
static bool
is_under(const struct tracer *t, const struct wrapper *w, int i, int level, const char *arg, int k)
{
    if (python_is_traced(t->p->calls[k].stack))
        return traced_under(t, i, level, k);
    return !t->stacks[k].n || (stack_shares(&t->stacks[i], level, &t->stacks[k]) && under(t, w, k, level, arg));
}

/* Whether call k is of another region than one that began with call `from`: of a loop's next round, or module. */
static bool
begins_region(const struct tracer *t, int level, int parts, const struct segments *of, const char *arg, int from, int k)
{
    const struct spot *one = t->stacks[from].at, *other = t->stacks[k].at;
    if (!one || !other || python_is_traced(t->p->calls[k].stack))
        return false;
    if (parts == SEGMENTS)
        return segment_of(t, of, level, from) != segment_of(t, of, level, k);
    return ((is_layer(t, level, from) || is_method(t, &t->stacks[from], level, arg)) && same_call(t, from, k)) ||
           (parts != ONE && strcmp(other[level].calls, one[level].calls) != 0);
}

void
python_checkpoints(struct program *p, bool conditional)
{
    struct tracer t = tracer_new(p);
    read_stacks(&t);
    struct region *regions = NULL;
    int nregions = 0, cap = 0;
    for (int i = 0, end; i < p->ncalls; i = end) {
        const struct stack *s = &t.stacks[i];
        const struct wrapper *w = NULL;
        const char *arg = "";
        int level = 0;
        for (level = 0; level < s->n && !w; level += !w)
            for (w = wrapper_of(s->at[level].src->text, &arg); w && !under(&t, w, i, level, arg);)
                w = wrapper_of(arg, &arg);
        end = i + 1;
        if (!w)
            continue;
        for (int k = end; k < p->ncalls && is_under(&t, w, i, level, arg, k); k++)
            end = t.stacks[k].n ? k + 1 : end;
        const char *file = p->calls[i].frames[level] + strlen("File \""),
                   *at = arena_printf(p->arena, "%.*s:%d", (int)strcspn(file, "\""), file, s->at[level].line);
        bool choice = strstr(s->at[level].src->text, " if ") && strstr(s->at[level].src->text, " else ");
        const struct segments of =
            w->how == WRAPS_SEGMENTS ? segments_in(&t, arg, i, end, level) : (struct segments){0};
        int parts = w->how == WRAPS_ONE ? parts_under(&t, arg, i, end, level) : parts_listed(w, arg, &of);
        if (choice)
            program_assume(p, ALTERNATIVE_CHECKPOINTS,
                           "%s has torch.utils.checkpoint on one side of a condition: taken not to be called", at);
        if (choice && !conditional)
            continue;
        if (parts == OPEN)
            graph_doubt(p->graph, p->calls[i].node, "torch.utils.checkpoint", NULL,
                        "%s puts several modules under checkpoint, and the file does not say which together: "
                        "--recompute=NAMES says so",
                        at);
        else if (!choice)
            program_assume(p, ALTERNATIVE_NONE, "%s puts what it calls under torch.utils.checkpoint", at);
        int first = i;
        while (first > 0 && traced_under(&t, i, level, first - 1))
            first--;
        for (int k = i + 1, from = i; k <= end; k++)
            if (k == end || begins_region(&t, level, parts, &of, arg, from, k)) {
                if (parts != SEGMENTS || segment_of(&t, &of, level, from) < of.last)
                    *PUSH(p->arena, regions, nregions, cap) = (struct region){.first = first, .end = k};
                first = from = k;
            }
    }
    p->regions = regions;
    p->nregions = nregions;
    arena_free(t.a);
}
