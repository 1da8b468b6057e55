/* SPDX-License-Identifier: Apache-2.0 */
/* frames.c - which frames a call runs in, until when they last, and in which round of a loop; which variables the
 * operands of a line are.
 */
#include "program/tracer.h"

#include <ctype.h>
#include <string.h>

struct tracer
tracer_new(const struct program *p)
{
    return (struct tracer){.p = p, .a = arena_new(), .slot = -1, .apart.from = -1};
}

const struct spot *
tracer_innermost(struct tracer *t, const struct call *c)
{
    const struct stack s = stack_read(t->p, c);
    return s.n ? &s.at[s.n - 1] : NULL;
}

void
tracer_read_stacks(struct tracer *t)
{
    t->stacks = NEWN(t->a, struct stack, t->p->ncalls + 1);
    for (int i = 0; i < t->p->ncalls; i++)
        t->stacks[i] = stack_read(t->p, &t->p->calls[i]);
}

bool
tracer_returned(const struct spot *s, const struct spot *next)
{
    return s->src->returns && (next->line < s->line || (next->line > s->line && s->src->whole));
}

bool
tracer_same_call(const struct tracer *t, int i, int j)
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
           tracer_same_call(t, i, next) && t->stacks[i].n == level + 1 && python_times(s->src->text, target) == 1 &&
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
        if (!here || (level > 0 && (tracer_returned(line, &next->at[level]) || returned_same(t, level, i, k))))
            break;
        return next->end[level];
    }
    return last;
}

void
tracer_read_ends(struct tracer *t)
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

/* How often a line calls the module of that path by its name. */
static int
times_named(const char *line, const char *module)
{
    int n = 0;
    for (const char *p = line, *name = path_last(module); *name && (p = python_calls(p, name)); n++)
        ;
    return n;
}

/* How often a line may run the module that a call is in: as it names that, or else as often as it calls anything. */
static int
times_called(const char *line, const char *module)
{
    const int named = times_named(line, module);
    int calls = 0;
    for (const char *p = line; *p; p++)
        calls += *p == '(';
    return named ? named : calls;
}

/* Whether calls i to i + size - 1 ran `times` over, and the line did not write them so often. What modules called is
 * behind a bracket of the line; an operator that it writes under another name tells nothing. */
static bool
runs_over(const struct tracer *t, int level, int i, int size, int times)
{
    const char *text = t->stacks[i].at[level].src->text;
    for (int k = i; k < i + size; k++) {
        int count = 0, written;
        for (int l = i; l < i + size; l++)
            count += strcmp(t->p->calls[l].target, t->p->calls[k].target) == 0;
        if (t->stacks[k].n > level + 1)
            written = times_called(text, t->stacks[k].at[level].calls);
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
    int all = times_in_line(s->at[s->n - 1].src->text, t->p->calls[i].target);
    for (int l = level; l < s->n - 1; l++) {
        const int n = times_named(s->at[l].src->text, s->at[l].calls);
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
        n += tracer_same_call(t, k, i);
    return times_run(t, level, i) > n;
}

const char *
tracer_called_at(const struct tracer *t, int level, int i)
{
    return t->stacks[i].n > level ? t->stacks[i].at[level].calls : "";
}

bool
tracer_is_last(const char *path, const char *name, size_t n)
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
            module = tracer_is_last(tracer_called_at(t, level, k), p, n);
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

const struct round *
tracer_round_at(const struct tracer *t, int i, int level)
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
    int modules = 0, written = 0, called = i;
    const char *module = "";
    bool lists = false;
    for (int k = j - 1; k >= i; k--) /* behind an argument that is the same in each round */
        called = *tracer_called_at(t, level, k) ? k : called;
    const struct spot *s = &t->stacks[called].at[level];
    for (int k = i; k < j; k++) {
        const char *calls = tracer_called_at(t, level, k);
        modules += *calls && calls != module && strcmp(calls, module) != 0;
        module = *calls ? calls : module;
    }
    for (const char *p = s->src->text; *p && modules > 1; p++)
        written += p[1] == '(' && (isalnum((unsigned char)*p) || *p == '_' || *p == ')' || *p == ']');
    if ((!s->src->nbindings && !syntax_stores(s->src->text)) || !*s->calls || modules < 2 || modules <= written ||
        strstr(s->src->text, " for ") || calls_method(t, level, i, j))
        return false;
    for (int k = i; k < j && !lists; k++)
        lists = path_number(s->calls, tracer_called_at(t, level, k)) != NULL;
    for (int k = i, first = i; k < j; k++) {
        const char *calls = tracer_called_at(t, level, k), *next = k + 1 < j ? tracer_called_at(t, level, k + 1) : "";
        module = *calls ? calls : module;
        if (k + 1 < j && (!*next || strcmp(next, module) == 0 || (lists && !path_number(s->calls, next))))
            continue;
        for (; first <= k; first++)
            set_round(t, first, level, k);
    }
    return true;
}

bool
tracer_is_layer(const struct tracer *t, int level, int i)
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
        times += tracer_same_call(t, k, one);
    if (times < 2)
        return false;
    if (!tracer_is_layer(t, level, one))
        return t->stacks[one].n == level + 1 && syntax_times_made(s->src->text, target) == 1 &&
               python_times(s->src->text, target) == 1;
    for (const char *p = s->src->text; (p = syntax_next_own_call(p, &n)); p += n)
        calls += tracer_is_last(s->calls, p, n);
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
        while (k + size < j && tracer_same_call(t, k, k + size))
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
    bool called = tracer_is_layer(t, level, j - 1)
                      ? syntax_plain_call(b->value, b->end, t->stacks[j - 1].at[level].calls)
                      : last && isalpha((unsigned char)*last);
    if (called && runs_again(t, level, i, j, j - 1)) {
        for (int k = i, first = i; k < j; k++) /* rounds that differ, as the first one often does, end alike */
            for (; tracer_same_call(t, k, j - 1) && first <= k; first++)
                set_round(t, first, level, k);
    } else if (s->src->whole && !strstr(s->src->text, " for ") && runs_again(t, level, i, j, i) &&
               !target_is(t->p->calls[i].target, TARGET_VIEWS | TARGET_REORDERS)) {
        for (int k = j - 1, end = j - 1; k >= i; k--) /* or begin so: views of what is so already are left out */
            for (int first = end; tracer_same_call(t, k, i) && end >= k; end--)
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
    const struct round *round = t->rounds ? tracer_round_at(t, i, level) : NULL,
                       *other = round ? tracer_round_at(t, k, level) : NULL;
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

const char *
tracer_written_at(struct tracer *t, int i, int level, const char *text)
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

bool
tracer_viewed_before(const struct tracer *t, int i)
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

void
tracer_read_sights(struct tracer *t)
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
        const int n = c->anew || tracer_viewed_before(t, i) ? 0 : t->stacks[i].n;
        t->sights[i] = NEWN(t->a, struct sights, t->stacks[i].n + 1);
        const int parting = i ? stack_parting(&t->stacks[i - 1], &t->stacks[i]) : 0;
        const bool given = parting && t->stacks[i - 1].n == parting && target_named(c[-1].target, "to");
        for (int level = parting - given; level < n - 1; level++) /* a cast of what the line gives may be before it */
            see_argument(t, i, level, &t->sights[i][level]);
        if (n)
            see_names(t, i, &t->sights[i][n - 1]);
    }
}

void
tracer_read_lines(struct tracer *t)
{
    if (t->rounds)
        return;
    read_rounds(t);
    tracer_read_sights(t);
}
