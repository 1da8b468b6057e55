/* SPDX-License-Identifier: Apache-2.0 */
/* given.c - what a line gives a function or a module in another type, "self._norm(x.float())", and what it makes.
 *
 * In fp32 such a cast leaves no node, and no line of the module says that what it reads is a copy. The line that calls
 * it does; of a function that is no module's forward, whose calls stand on that line, too. Which tensor the argument
 * is, these calls tell by what they read that none of them made: it is that, where the line casts one and there is one;
 * each is, where it casts all; else the name tells. A statement whose value ends in such a cast, as in
 * "y = self.net(x).float()", makes of its calls' results the one that is read behind them in fp32.
 */
#include "program/program.h"
#include "program/stack.h"
#include "program/syntax.h"

#include <ctype.h>
#include <string.h>

enum { MOST = 4 }; /* tensors that a line gives */

struct giver {
    const struct program *p;
    struct arena *a;
    const struct stack *stacks; /* per call */
    const int *maker;           /* per slot, as program_makers */
    const struct param **param; /* per slot */
    cast_length *cast;
};

/* The arguments of a call that may be tensors, as far as their text tells. */
struct handed {
    int n, ncast;
    struct handed_one {
        const char *of; /* without the cast */
        size_t len;     /* of that; 0 it is not cast */
    } one[MOST];
};

/* The arguments that stand behind a bracket; false where that is more than their text tells. */
static bool
read_handed(const struct giver *x, const char *p, struct handed *to)
{
    const char *end = python_brackets_end(p - 1), *next;
    *to = (struct handed){0};
    for (end = end ? end - 1 : p; p < end; p = next) {
        const char *behind = syntax_part_end(p, end), *stop = behind ? behind - 1 : end, *is = p + strspn(p, " ");
        next = behind ? behind : end;
        const size_t name = python_name(is);
        is += name && is[name] == '=' ? name + 1 : 0;
        const size_t cast = is < stop ? x->cast(is, stop) : 0;
        const bool number = !cast && (!islower((unsigned char)*is) || strncmp(is, "self.", 5) == 0);
        if (*is == '*' || (!number && to->n == MOST))
            return false;
        if (!number)
            to->one[to->n++] = (struct handed_one){is, cast ? (size_t)(stop - is) - cast : 0};
        to->ncast += cast > 0;
    }
    return to->ncast > 0;
}

/* Whether the next call runs in the same frame at that level, which did not return before; on the same line, where call
 * i has no such frame. */
static bool
goes_on(const struct giver *x, int i, int level)
{
    const struct stack *s = &x->stacks[i], *next = &x->stacks[i + 1];
    if (i + 1 == x->p->ncalls || s->n < level || !stack_shares(s, level - 1, next))
        return false;
    return s->n == level ? next->n == level
                         : stack_inside(s, level, next) &&
                               !(s->at[level].src->returns && next->at[level].line < s->at[level].line);
}

/* What the calls read that none of them made, no parameter: up to so many slots. */
static int
read_outside(const struct giver *x, int first, int last, int *slots, int most)
{
    int n = 0, slot;
    for (int i = first; i <= last; i++)
        for (struct call_reads r = {.call = &x->p->calls[i]}; (slot = next_read(&r)) >= 0;) {
            bool known = x->param[slot] || x->maker[slot] >= first;
            for (int k = 0; k < n && !known; k++)
                known = slots[k] == slot;
            if (known)
                continue;
            if (n == most)
                return most + 1;
            slots[n++] = slot;
        }
    return n;
}

/* The module in whose function the line at that level of the call's stack stands. */
static int
module_of_line(const struct program *p, const struct stack *s, int level, int scope)
{
    const char *path = "";
    for (int k = level - 1; k >= 0 && !*path; k--)
        path = s->at[k].calls;
    while (scope > 0 && strcmp(p->modules[scope].path, path) != 0)
        scope = p->modules[scope].parent;
    return scope > 0 ? scope : 0;
}

/* Whether the variable is read there, from p on. */
static bool
mentions(const char *p, const char *name, size_t n)
{
    for (size_t len; (p = syntax_next_variable(p, &len)); p += len)
        if (len == n && strncmp(p, name, n) == 0)
            return true;
    return false;
}

static bool
is_module(const struct program *p, int in, const char *name)
{
    bool is = false;
    for (int i = 1; i < p->nmodules && !is; i++)
        is = p->modules[i].parent == in && strcmp(path_last(p->modules[i].path), name) == 0;
    return is;
}

/* Whether these calls, which stand on the line, are of a function that it gives plain names alone: it is none of
 * PyTorch's and no module, begins the statement, and what else stands there reads what is cast for its type alone. */
static bool
is_function(const struct giver *x, const char *text, const char *call, const struct handed *handed, int first, int last)
{
    const struct stack *s = &x->stacks[first];
    const char *name = call - 1, *dot = call - 1, *rest = python_brackets_end(call - 1);
    for (; name > text && (isalnum((unsigned char)name[-1]) || strchr("_.", name[-1])); name--)
        dot = name[-1] == '.' && dot == call - 1 ? name : dot;
    const bool own = dot == call - 1, method = strncmp(name, "self.", 5) == 0 && dot == name + 5,
               begins = name == text || (name > text + 1 && name[-1] == ' ' && strchr("=n", name[-2]));
    const char *function = own ? name : dot;
    if (!rest || !begins || !(own || method) || strstr(text, " for "))
        return false;
    const char *stem = arena_strn(x->a, function, (size_t)(call - 1 - function));
    if (is_module(x->p, module_of_line(x->p, s, s->n - 1, x->p->calls[first].scope), stem))
        return false;
    for (int i = first; i <= last; i++)
        if (target_named(x->p->calls[i].target, stem))
            return false;
    if (*rest == '.') /* ".type_as(x)", ".to(x.dtype)" */
        rest = python_brackets_end(rest);
    for (int k = 0; rest && k < handed->n; k++) {
        const struct handed_one *one = &handed->one[k];
        if (one->len && (python_name(one->of) != one->len || mentions(rest, one->of, one->len)))
            return false;
    }
    return rest != NULL;
}

/* Where the arguments stand that the line at `level` - 1 gives these calls, which are of a frame inside of its own, or
 * stand on it; NULL nowhere, or in several places. */
static const char *
find_call(const struct giver *x, int first, int last, int level, struct handed *handed)
{
    const struct stack *s = &x->stacks[first];
    const struct spot *line = &s->at[level - 1];
    const char *text = line->src->text, *found = NULL;
    if (s->n > level) {
        const char *module = path_last(line->calls);
        found = *module ? python_calls(text, module) : NULL;
        return found && !python_calls(found, module) && read_handed(x, found, handed) ? found : NULL;
    }
    for (const char *p = text; (p = strchr(p, '(')); p++) {
        struct handed here;
        if (p == text || !(isalnum((unsigned char)p[-1]) || p[-1] == '_') || !read_handed(x, p + 1, &here))
            continue;
        if (found || !is_function(x, text, p + 1, &here, first, last))
            return NULL;
        *handed = here;
        found = p + 1;
    }
    return found;
}

/* What the line at `level` - 1 gives the calls, up to the last one, that call i is the first of. */
static int
find_given(const struct giver *x, int i, int last, int level, struct given_cast *to)
{
    const struct program *p = x->p;
    struct handed handed;
    int slots[MOST], found = 0;
    const char *call = find_call(x, i, last, level, &handed);
    const int n = call ? read_outside(x, i, last, slots, MOST) : 0;
    if (n < 1 || n > MOST)
        return 0;
    const bool each = n == handed.ncast && (n == 1 || n == handed.n);
    const struct call caller = {.stack = stack_down_to(p->arena, p->calls[i].stack, level - 1),
                                .scopes = p->calls[i].scopes};
    for (int k = 0; k < handed.n; k++) {
        const struct handed_one *one = &handed.one[k];
        bool reads = false;
        int slot = -1;
        if (one->len && each)
            slot = slots[found];
        else if (one->len && python_name(one->of) == one->len)
            slot = python_named(p, &caller, arena_strn(x->a, one->of, one->len));
        for (int j = 0; j < n && !reads; j++)
            reads = slots[j] == slot;
        if (reads)
            to[found++] = (struct given_cast){.first = i,
                                              .last = last,
                                              .slot = slot,
                                              .scope = module_of_line(p, &x->stacks[i], level - 1, p->calls[i].scope),
                                              .stack = caller.stack,
                                              .of = one->of,
                                              .len = one->len,
                                              .behind = python_brackets_end(call - 1),
                                              .on_line = x->stacks[i].n == level};
    }
    return found;
}

/* What python_given and python_made ask, until the arena is freed: a call without a stack runs where the one before it
 * does, as a tensor is split. */
static struct giver
read_stacks(const struct program *p, struct arena *own, cast_length *cast)
{
    struct stack *stacks = NEWN(own, struct stack, p->ncalls + 1);
    for (int i = 0; i < p->ncalls; i++) {
        stacks[i] = stack_read(p, &p->calls[i]);
        if (!stacks[i].n && i)
            stacks[i] = stacks[i - 1];
    }
    return (struct giver){.p = p, .a = own, .stacks = stacks, .cast = cast};
}

int
python_given(const struct program *p, struct arena *a, cast_length *cast, struct given_cast **found)
{
    struct arena *own = arena_new();
    struct giver x = read_stacks(p, own, cast);
    const struct stack *stacks = x.stacks;
    int n = 0, cap = 0;
    for (int i = 0; i < p->ncalls; i++)
        for (int level = 1; level <= stacks[i].n; level++) {
            if (!stacks[i].at[level - 1].widens || (i && goes_on(&x, i - 1, level)) ||
                (level == stacks[i].n - 1 && python_in_torch(p->calls[i].stack))) /* casts.c reads these */
                continue;
            if (!x.maker) {
                x.maker = program_makers(p, own);
                x.param = program_params(p, own);
            }
            struct given_cast to[MOST];
            int last = i;
            while (goes_on(&x, last, level))
                last++;
            for (int k = 0, all = find_given(&x, i, last, level, to); k < all; k++)
                *PUSH(a, *found, n, cap) = to[k];
        }
    arena_free(own);
    return n;
}

/* Whether the line is one statement, whose value, bound to a name or returned, ends in a cast. */
static bool
makes_cast(const struct giver *x, const struct source *src)
{
    static const char returns[] = "return ";
    const struct bound *b = src->binding;
    const bool binds = src->nbindings == 1 && b->of == 1 && !syntax_augments(b),
               gives = strncmp(src->text, returns, sizeof(returns) - 1) == 0;
    if (!src->whole || src->several || !(binds || gives))
        return false;
    const char *value = binds ? b->value : src->text + sizeof(returns) - 1,
               *end = binds ? b->end : src->text + strlen(src->text);
    value += strspn(value, " ");
    while (end > value && end[-1] == ' ')
        end--;
    return end > value && x->cast(value, end) > 0;
}

/* How many calls a line writes. */
static int
count_calls(const char *text)
{
    int n = 0;
    for (const char *p = text; (p = strchr(p, '(')); p++)
        n += p > text && (isalnum((unsigned char)p[-1]) || strchr("_)]", p[-1]));
    return n;
}

/* The last of the calls, from i on, that run on the line at that level: of a line that calls one module, before it runs
 * again; -1 where one runs twice otherwise. */
static int
line_once(const struct giver *x, int i, int level)
{
    enum { CALL_AND_CAST = 2 };
    const char *text = x->stacks[i].at[level - 1].src->text;
    int last = i;
    for (; last + 1 < x->p->ncalls && stack_shares(&x->stacks[i], level - 1, &x->stacks[last + 1]); last++) {
        const struct stack *s = &x->stacks[last], *next = &x->stacks[last + 1];
        if (s->n > level && next->n > level && s->at[level].where == next->at[level].where && !goes_on(x, last, level))
            return count_calls(text) <= CALL_AND_CAST ? last : -1;
    }
    return last;
}

/* The slot that these calls make and others read, or the program returns: of several that of the last call; -1 none, or
 * none of these. */
static int
made_for_others(const struct giver *x, const int *reader, int first, int last)
{
    const struct call *final = &x->p->calls[last];
    int slot = -1, n = 0;
    for (int i = first; i <= last; i++)
        for (int k = 0; k < x->p->calls[i].nouts; k++)
            if (reader[x->p->calls[i].outs[k]] > last) {
                slot = x->p->calls[i].outs[k];
                n++;
            }
    return n == 1 || (n > 1 && final->nouts == 1 && final->outs[0] == slot) ? slot : -1;
}

int
python_made(const struct program *p, struct arena *a, cast_length *cast, struct given_cast **found)
{
    struct arena *own = arena_new();
    const struct giver x = read_stacks(p, own, cast);
    int n = 0, cap = 0, slot, deepest = 0, *reader = NEWN(own, int, p->nslots + 1);
    for (int i = 0; i < p->ncalls; i++) {
        deepest = x.stacks[i].n > deepest ? x.stacks[i].n : deepest;
        for (struct call_reads r = {.call = &p->calls[i]}; (slot = next_read(&r)) >= 0;)
            reader[slot] = i;
    }
    for (int i = 0; i < p->noutputs; i++)
        if (p->outputs[i].slot >= 0)
            reader[p->outputs[i].slot] = p->ncalls;
    int *until = NEWN(own, int, deepest + 1); /* per level the last call of the line that runs there */
    for (int i = 0; i < p->ncalls; i++)
        for (int level = x.stacks[i].n; level > 0; level--) {
            const struct spot *line = &x.stacks[i].at[level - 1];
            const bool runs = i && i <= until[level] && stack_shares(&x.stacks[i], level - 1, &x.stacks[i - 1]);
            if (!line->widens || runs || !makes_cast(&x, line->src))
                continue;
            const int last = line_once(&x, i, level);
            until[level] = last < 0 ? p->ncalls : last;
            slot = last < 0 ? -1 : made_for_others(&x, reader, i, last);
            if (slot >= 0)
                *PUSH(a, *found, n, cap) =
                    (struct given_cast){.first = i,
                                        .last = last,
                                        .slot = slot,
                                        .scope = module_of_line(p, &x.stacks[i], level - 1, p->calls[i].scope),
                                        .stack = stack_down_to(p->arena, p->calls[i].stack, level - 1)};
        }
    arena_free(own);
    return n;
}
