/* SPDX-License-Identifier: Apache-2.0 */
/* hidden.c - what functions hold that no line shows: those that are not forward(), regions that were traced without
 * their lines, and tuples of results.
 */
#include "program/tracer.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

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

/* Whether such a line may call functions whose frames the file does not have. Libraries' lines are known better. */
static bool
may_hide(const struct source *src, bool library)
{
    return !library && src->whole && !strstr(src->text, " for ");
}

/* Whether the bracket that a line leaves open is a call's: "y, w = self._attend(q, k,". */
static bool
opens_call(const char *line)
{
    const char *open = NULL;
    int depth = 0;
    for (const char *p = line + strlen(line); p > line && !open; p--) {
        depth -= python_opens(p[-1]);
        open = depth < 0 ? p - 1 : NULL;
    }
    return open && *open == '(' && open > line && (isalnum((unsigned char)open[-1]) || open[-1] == '_');
}

bool
python_may_hide(struct arena *a, const char *stack)
{
    const char *inner = stack ? python_inner(stack) : NULL, *text = inner ? strchr(inner, '\n') : NULL;
    return text && may_hide(syntax_keep(a, text + 1 + strspn(text + 1, " ")), strstr(inner, "site-packages/"));
}

/* Behind the calls of one statement from call i on, if its line writes fewer than those: functions ran them whose names
 * the file does not have, as it has frames of forward() alone. -1 it shows all. What further lines add to a call that
 * begins there are a few signs. */
static int
hidden_end(struct tracer *t, int i)
{
    enum { SIGNS = 3 };
    const struct program *p = t->p;
    const struct spot *s = tracer_innermost(t, &p->calls[i]);
    const char *stack = p->calls[i].stack;
    int end = i;
    const bool opens = s && !s->library && !s->src->whole && opens_call(s->src->text);
    if (!s || !(opens || may_hide(s->src, s->library)))
        return -1;
    for (size_t len = strlen(stack); end < p->ncalls && p->calls[end].stack; end++)
        if (strncmp(p->calls[end].stack, stack, len) != 0)
            break;
    const int most = python_most(s->src->text) + (opens ? SIGNS : 0);
    return period(t->a, p, i, end) > most || (!opens && writes_none(p, i, end, s->src->text)) ? end : -1;
}

/* The first call of the statement that call i's line begins: modules that it called before, and arguments on further
 * lines. */
static int
statement_begin(struct tracer *t, int i)
{
    const struct program *p = t->p;
    const char *stack = p->calls[i].stack, *line = tracer_innermost(t, &p->calls[i])->src->text, *text;
    const size_t len = strlen(stack), around = (size_t)(python_inner(stack) - stack);
    while (i > 0 && p->calls[i - 1].stack && strncmp(p->calls[i - 1].stack, stack, around) == 0) {
        const char *before = p->calls[i - 1].stack, *below = before + around;
        const char *frame = strncmp(before, stack, len) == 0 ? stack : stack_next_frame(t->a, &below, &text);
        if (frame != stack &&
            (!frame || !python_same_function(frame, stack + around) || !python_goes_on(t->a, line, text)))
            break;
        i--;
    }
    return i;
}

bool
tracer_hold_hidden(struct tracer *t, const int *maker, int *until)
{
    const struct program *p = t->p;
    bool any = false;
    for (int i = 0; i < p->ncalls; i++) {
        const int end = hidden_end(t, i), begin = end > i && until ? statement_begin(t, i) : i;
        int slot;
        any |= end > i;
        for (int k = i; k < end && until; k++) {
            const struct call *c = &p->calls[k];
            if (strcmp(c->stack, p->calls[i].stack) != 0)
                continue;
            for (int o = 0; o < c->nouts; o++)
                until[c->outs[o]] = until[c->outs[o]] < end - 1 ? end - 1 : until[c->outs[o]];
            for (struct call_reads r = {c}; (slot = next_read(&r)) >= 0;)
                if (maker[slot] >= begin && until[slot] < end - 1)
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
    bool any = tracer_hold_hidden(&t, NULL, NULL);
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
        s = tracer_innermost(&t, &p->calls[i]);
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

/* The end of the traced calls of one region that follow each other from the first, those without a stack between them
 * included, and how much of the first one's path their modules have in common: that of the module whose forward the
 * region is in. */
static int
region_ends(const struct program *p, int first, size_t *common)
{
    size_t len, n;
    const char *code = python_region_around(p->calls[first].stack, &len),
               *path = p->modules[p->calls[first].scope].path, *own;
    int end = first;
    *common = strlen(path);
    for (int i = first; i < p->ncalls; i++) {
        const char *other = p->modules[p->calls[i].scope].path;
        if (!p->calls[i].stack)
            continue;
        if (!(own = python_region_around(p->calls[i].stack, &n)) || n != len || strncmp(own, code, n) != 0)
            break;
        end = i + 1;
        while (*common && (strncmp(path, other, *common) != 0 || (other[*common] && other[*common] != '.')))
            while (*common && path[--*common] != '.')
                ;
    }
    return end;
}

/* The last call of the function around a region, whose calls end before `end`: of the module that has that path. */
static int
function_end(const struct program *p, const char *path, int end)
{
    int last = end - 1;
    while (last + 1 < p->ncalls && !p->calls[last + 1].in_loss &&
           path_within(p->modules[p->calls[last + 1].scope].path, path))
        last++;
    return last;
}

/* Per slot the last call that reads it. */
static int *
last_readers(const struct program *p, struct arena *a)
{
    int *reader = NEWN(a, int, p->nslots + 1), slot;
    for (int i = 0; i < p->ncalls; i++)
        for (struct call_reads r = {&p->calls[i]}; (slot = next_read(&r)) >= 0;)
            reader[slot] = i;
    return reader;
}

/* Whether the call, with which its line ends, may bind a name anew that it reads: "y = x + y". */
static bool
binds_anew(struct arena *a, const struct program *p, int call)
{
    const char *stack = p->calls[call].stack, *next = call + 1 < p->ncalls ? p->calls[call + 1].stack : NULL;
    const char *at = stack ? python_inner(stack) : NULL, *text = "";
    if (!at || (next && strcmp(stack, next) == 0) || !stack_next_frame(a, &at, &text))
        return false;
    const struct source s = syntax_read(a, text);
    bool anew = false;
    for (int i = 0; i < s.nbindings; i++)
        anew |= syntax_mentions(&s, s.binding[i].name) > 0;
    return anew;
}

/* A region whose lines no file has: its calls, and the path of the module whose forward it is in. */
struct traced_region {
    int first, end;
    const char *path;
};

/* The next region behind that one. False: there is no more. */
static bool
next_region(const struct program *p, struct arena *a, struct traced_region *r)
{
    size_t common, len;
    for (r->first = r->end; r->first < p->ncalls; r->first++)
        if (python_region_around(p->calls[r->first].stack, &len)) {
            r->end = region_ends(p, r->first, &common);
            r->path = arena_strn(a, p->modules[p->calls[r->first].scope].path, common);
            return true;
        }
    return false;
}

/* Whether it is a reentrant checkpoint's, or what is behind one, which bind their results anew. */
static bool
goes_on(const struct program *p, const struct traced_region *r)
{
    return p->nregions && p->regions[0].reentrant && !p->calls[r->first].no_grad;
}

/* A line and the module that it runs in, as a name. */
static const char *
reader_line(struct arena *a, const struct call *c)
{
    return arena_printf(a, "%d %s", c->scope, c->stack);
}

/* The lines behind the region that read its results: a call of each, or behind the last one where several do. */
static struct names *
reading_lines(const struct program *p, struct arena *a, const struct traced_region *r, const int *read)
{
    struct names *lines = names_new(a);
    for (int k = r->first; k < r->end; k++)
        for (int o = 0; o < p->calls[k].nouts; o++) {
            const int by = read[p->calls[k].outs[o]];
            if (by <= r->end || !p->calls[by].stack)
                continue;
            int *of = names_id(lines, reader_line(a, &p->calls[by]));
            *of = *of < 0 || *of == by ? by : p->ncalls;
        }
    return lines;
}

/* Whether the line of call `by`, which reads one result of the region, reads another one in another of its rounds: they
 * are in a list, which a loop goes through. */
static bool
reads_another(const struct program *p, struct arena *a, const struct names *lines, int by)
{
    const int of = p->calls[by].stack ? names_find(lines, reader_line(a, &p->calls[by])) : -1;
    return of >= 0 && of != by;
}

void
tracer_hold_handed(const struct program *p, int *until)
{
    struct arena *a = arena_new();
    const int *read = last_readers(p, a);
    for (struct traced_region r = {0}; next_region(p, a, &r);) {
        const struct names *lines = NULL; /* until one binds anew */
        for (int k = goes_on(p, &r) ? r.end : r.first; k < r.end; k++)
            for (int o = 0; o < p->calls[k].nouts; o++) {
                const int slot = p->calls[k].outs[o], by = read[slot];
                if (by < r.end || p->calls[by].no_grad)
                    continue;
                if (binds_anew(a, p, by)) {
                    lines = lines ? lines : reading_lines(p, a, &r, read);
                    if (!reads_another(p, a, lines, by))
                        continue;
                }
                const char *path = r.path;
                while (*path && !path_within(p->modules[p->calls[by].scope].path, path)) /* it is handed on further */
                    path = path_last(path) > path ? arena_strn(a, path, (size_t)(path_last(path) - 1 - path)) : "";
                const int last = function_end(p, path, r.end);
                until[slot] = until[slot] < last ? last : until[slot];
            }
    }
    arena_free(a);
}

/* Whether a region is behind reentrant checkpoints, and in none. */
static bool
is_behind(const struct program *p, const struct traced_region *r)
{
    bool behind = goes_on(p, r);
    for (int i = 0; i < p->nregions; i++)
        behind &= r->first < p->regions[i].first || r->first >= p->regions[i].end;
    return behind;
}

bool
python_behind(const struct program *p)
{
    struct arena *a = arena_new();
    bool behind = false;
    for (struct traced_region r = {0}; p->nregions && !behind && next_region(p, a, &r);)
        behind = is_behind(p, &r);
    arena_free(a);
    return behind;
}

void
tracer_hold_behind(const struct program *p, int *until)
{
    struct arena *a = arena_new();
    for (struct traced_region r = {0}; p->nregions && next_region(p, a, &r);) {
        const int last = is_behind(p, &r) ? function_end(p, r.path, r.end) : -1;
        for (int k = r.first; k < r.end; k++)
            for (int o = 0; o < p->calls[k].nouts; o++) {
                const int slot = p->calls[k].outs[o];
                until[slot] = until[slot] < last ? last : until[slot];
            }
    }
    arena_free(a);
}

/* What a module draws in a region of its own: people give random numbers a name, of their function. */
static void
hold_drawn(const struct program *p, struct arena *a, int *until)
{
    for (struct traced_region r = {0}; next_region(p, a, &r);) {
        const int last = function_end(p, r.path, r.end);
        for (int k = r.first; k < r.end; k++) {
            const struct call *c = &p->calls[k];
            if (target_is(c->target, TARGET_DRAWS) && strcmp(p->modules[c->scope].path, r.path) == 0 &&
                until[c->outs[0]] < last)
                until[c->outs[0]] = last;
        }
    }
}

void
tracer_hold_traced(const struct program *p, int *until)
{
    struct arena *a = arena_new();
    const int *read = last_readers(p, a);
    const struct param **of = program_params(p, a);
    int slot, checkpoint = 0;
    for (int i = 0; i < p->ncalls; i++) {
        const struct call *c = &p->calls[i];
        while (checkpoint < p->nregions && p->regions[checkpoint].end <= i)
            checkpoint++;
        const bool holds = multiplies_named(p, of, c) && python_is_traced(c->stack),
                   within = checkpoint < p->nregions && p->regions[checkpoint].first <= i;
        const int returns = within ? p->regions[checkpoint].end - 1 : p->ncalls; /* its function */
        for (struct call_reads r = {c}; holds && (slot = next_read(&r)) >= 0;)
            for (int o = 0; o < c->nouts; o++) {
                const int last = read[c->outs[o]], to = last < returns ? last : returns;
                until[slot] = until[slot] < to ? to : until[slot];
            }
    }
    hold_drawn(p, a, until);
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
        any |= p->modules[p->calls[i].scope].weights == WEIGHTS_UNKNOWN && attends(a, p, of, maker, i) >= 0;
        stacks |= p->calls[i].stack != NULL;
    }
    const bool *dropped = stacks ? NULL : tracer_weights_dropped(p, a);
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
        const int end = again ? called_until(t, next, level)
                              : tracer_local_end(t, i, level, line->binding[line->nbindings - 1].name);
        until = until < end ? end : until;
        if (listed)
            return until;
        whole &= line->nbindings < 2; /* else the line takes the tuple apart */
    }
    return until;
}

bool *
tracer_weights_dropped(const struct program *p, struct arena *a)
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

void
tracer_hold_returned(struct tracer *t, int *until)
{
    const struct param **of = program_params(t->p, t->a);
    for (int i = 0; i < t->p->ncalls; i++) {
        const struct call *c = &t->p->calls[i];
        const int weights = c->stack && t->p->modules[c->scope].weights == WEIGHTS_RETURNED ? multiplied(of, c) : -1,
                  end = weights >= 0 && softmaxed(t->p, t->maker, weights) ? returned_until(t, i) : -1;
        if (end >= 0 && until[weights] < end)
            until[weights] = end;
    }
}

void
tracer_hold_weights(struct tracer *t, int *until)
{
    const struct param **of = program_params(t->p, t->a);
    for (int i = 0; i < t->p->ncalls; i++) {
        const struct stack *s = &t->stacks[i];
        const int weights = t->p->modules[t->p->calls[i].scope].weights ? -1 : attends(t->a, t->p, of, t->maker, i);
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

/* The layers of a list that run last in these calls, one after another, or with calls of no module that a region lost:
 * *from is the first of their calls. False: none does, or other modules run in between. */
static bool
last_layers(const struct program *p, const char *module, int first, int end, int *from)
{
    const char *list = NULL;
    size_t n = 0;
    int next = end + 1;
    for (int k = end; k >= first; k--) {
        const char *path = p->modules[p->calls[k].scope].path, *number = listed_below(path, module);
        const bool in = number && (!list || ((size_t)(number - path) == n && strncmp(path, list, n) == 0));
        if (in && list && next != k + 1)
            return false;
        if (in || (list && next == k + 1 && !*path))
            next = k;
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
    const char *number = listed_below(p->modules[p->calls[k].scope].path, module);
    do
        k++;
    while (k <= end && !*p->modules[p->calls[k].scope].path);
    const char *next = k <= end ? listed_below(p->modules[p->calls[k].scope].path, module) : NULL;
    return number && !(next && atoi(next) == atoi(number));
}

/* Whether that is a module of Transformers, which may return what each of its layers made; or none that is known. */
static bool
may_be_transformers(const struct program *p, int module)
{
    static const char library[] = "transformers.";
    const char *type = p->modules[module].type;
    return !type || strncmp(type, library, sizeof(library) - 1) == 0;
}

static bool
is_transformers(const struct program *p, int call, const char *module)
{
    bool is = false;
    for (int m = p->calls[call].scope; m > 0 && !is; m = p->modules[m].parent)
        is = strcmp(p->modules[m].path, module) == 0 && p->modules[m].type && may_be_transformers(p, m);
    return is;
}

/* Modules of Transformers that return what each of their last list's layers made, and not what the first one reads. */
static const struct returner {
    const char *type, *source;
} returners[] = {
    {"transformers.models.dpt.*.DPTNeck", "DPTFeatureFusionStage.forward in models/dpt/modeling_dpt.py"},
    {"transformers.models.*.*DepthAnythingNeck", "likewise, copied in depth_anything and prompt_depth_anything"},
};

static bool
returns_layers(const struct program *p, int call, const char *module)
{
    bool returns = false;
    for (int m = p->calls[call].scope; m > 0 && !returns; m = p->modules[m].parent)
        for (int i = 0; i < COUNT(returners) && strcmp(p->modules[m].path, module) == 0 && p->modules[m].type; i++)
            returns |= glob_match(returners[i].type, p->modules[m].type);
    return returns;
}

/* The length of the name of the list that a call's layer is in, below the module; *name where it begins. */
static size_t
list_name(const struct program *p, const char *module, int call, const char **name)
{
    const char *path = p->modules[p->calls[call].scope].path, *number = listed_below(path, module);
    const bool named = number && number != path;
    for (*name = path; named && strchr(*name, '.') < number - 1;)
        *name = strchr(*name, '.') + 1;
    return named ? (size_t)(number - 1 - *name) : 0;
}

/* Whether two layers of one of a module's lists, which ran from `first` to `end`, made what is read behind that, up to
 * call `last`: it returned what each did, as its configuration says. weights: per slot whether it is attention's, of
 * which that is asked; NULL of what layers hand on. reader: per slot the last call that reads it. */
static bool
several_read(const struct program *p, const int *reader, const char *module, int first, int end, int last,
             const bool *weights)
{
    const char *list = "", *other;
    size_t len = 0;
    bool several = false;
    for (int k = first; k <= end && !several; k++) {
        const int slot = p->calls[k].outs[0];
        if (reader[slot] <= end || reader[slot] > last || !(weights ? weights[slot] : ends_layer(p, module, k, end)))
            continue;
        const size_t n = list_name(p, module, k, &other);
        several = n && n == len && strncmp(list, other, n) == 0;
        list = other;
        len = n;
    }
    return several;
}

static void
hold(int *until, const char **by, int slot, int last, const char *name)
{
    if (until[slot] >= last)
        return;
    until[slot] = last;
    by[slot] = name;
}

/* Holds what a module returned of each of its layers, which ran from `from` to `end`, and what the module around them
 * makes of the last one's, until call `last`. */
static void
hold_layers(struct tracer *t, const char *module, int first, int from, int end, int last, const char *name, int *until,
            const char **by)
{
    const struct program *p = t->p;
    const int input = next_read(&(struct call_reads){&p->calls[from]}), before = input < 0 ? -1 : t->maker[input];
    if (before >= first && before < from)
        hold(until, by, input, last, name);
    int final = from;
    for (int k = from; k <= end; k++)
        if (ends_layer(p, module, k, end)) {
            hold(until, by, p->calls[k].outs[0], last, name);
            final = k;
        }
    const char *list, *path = p->modules[p->calls[final].scope].path;
    list_name(p, module, final, &list);
    if (list > path)
        final = function_end(p, arena_strn(t->a, path, (size_t)(list - 1 - path)), final + 1);
    hold(until, by, p->calls[final < end ? final : end].outs[0], last, name);
}

/* Of all its lists of layers whose names are the last one's, an encoder's and a decoder's, which began there. */
static void
hold_lists(struct tracer *t, const char *module, int first, int from, int end, int last, const char *name, int *until,
           const char **by)
{
    const char *list, *other;
    const size_t n = list_name(t->p, module, from, &list);
    do {
        hold_layers(t, module, first, from, end, last, name, until, by);
        end = from - 1;
    } while (last_layers(t->p, module, first, end, &from) && list_name(t->p, module, from, &other) == n &&
             strncmp(list, other, n) == 0);
}

/* The first of the calls of no module that a region has before that one: they are of what it calls, too. */
static int
lost_before(const struct tracer *t, int call)
{
    const struct program *p = t->p;
    while (call > 0 && !*p->modules[p->calls[call - 1].scope].path && python_is_traced(p->calls[call - 1].stack))
        call--;
    return call;
}

/* The last of those calls that ran in the module. */
static int
last_below(const struct program *p, int first, int end, const char *module)
{
    int last = first;
    for (int k = first + 1; k <= end; k++)
        last = path_within(p->modules[p->calls[k].scope].path, module) ? k : last;
    return last;
}

/* The same of a module that ran in a region without lines, whose name for what it returned no line shows: until the
 * function around returns. */
static void
hold_region_layers(struct tracer *t, const int *reader, int *until, const char **by)
{
    const struct program *p = t->p;
    bool *softmaxed = NEWN(t->a, bool, p->nslots + 1);
    const bool *const weights[] = {tracer_weights_dropped(p, t->a), softmaxed};
    for (int i = 0; i < p->ncalls; i++)
        softmaxed[p->calls[i].outs[0]] = target_is(p->calls[i].target, TARGET_WEIGHS);
    for (int i = 0, end; i < p->ncalls; i = end) {
        end = i + 1;
        if (!t->stacks[i].n || !t->stacks[i].at[0].traced)
            continue;
        for (int k = end; k < p->ncalls && (!t->stacks[k].n || t->stacks[k].at[0].traced); k++)
            end = t->stacks[k].n ? k + 1 : end;
        for (int first = i, stop, from; first < end; first = stop + 1) {
            int top = 0;
            for (int m = p->calls[first].scope; m > 0 && may_be_transformers(p, m); m = p->modules[m].parent)
                top = m;
            const char *module = p->modules[top].path;
            stop = top ? last_below(p, first, end - 1, module) : first;
            if (!top)
                continue;
            const int last = function_end(p, p->modules[p->modules[top].parent].path, end);
            if (several_read(p, reader, module, first, stop, last, NULL) && last_layers(p, module, first, stop, &from))
                hold_lists(t, module, first, from, stop, last, NULL, until, by);
            for (int w = 0; w < COUNT(weights); w++)
                if (several_read(p, reader, module, first, stop, last, weights[w]))
                    for (int k = first; k <= stop; k++) {
                        const int slot = p->calls[k].outs[0];
                        until[slot] = weights[w][slot] && until[slot] < last ? last : until[slot];
                    }
        }
    }
}

void
tracer_hold_states(struct tracer *t, int *until, const char **by)
{
    const struct program *p = t->p;
    const int *reader = last_readers(p, t->a);
    int done = -1;
    for (int i = 0; i < p->ncalls; i++)
        for (int level = 0, from; level < t->stacks[i].n - 1; level++) {
            const struct spot *s = &t->stacks[i].at[level];
            const bool region = s->traced && level; /* whose function is the one around */
            const int end = region ? last_below(p, i, t->stacks[i].end[level], s->calls) : t->stacks[i].end[level + 1],
                      returns = t->stacks[i].end[level - region];
            const bool goes_on = i && stack_shares(&t->stacks[i - 1], level, &t->stacks[i]) &&
                                 strcmp(t->stacks[i - 1].at[level].calls, s->calls) == 0;
            if (!*s->calls || goes_on || (region && i < done))
                continue;
            const bool handed = !s->states && returns_layers(p, i, s->calls);
            if (!(s->states || handed ||
                  (is_transformers(p, i, s->calls) && several_read(p, reader, s->calls, i, end, returns, NULL))) ||
                !last_layers(p, s->calls, i, end, &from))
                continue;
            tracer_read_lines(t);
            const char *name = s->src->nbindings ? arena_str(p->arena, s->src->binding[0].name) : NULL;
            t->slot = p->calls[end].outs[0];
            const int last = name     ? tracer_local_end(t, end, level, name)
                             : region ? returns
                                      : tracer_line_end(t, level, end, returns);
            const int first = handed ? from : region ? lost_before(t, i) : i;
            hold_lists(t, s->calls, first, from, end, last, name, until, by);
            done = region ? end : done;
        }
    if (python_traced(p))
        hold_region_layers(t, reader, until, by);
}
