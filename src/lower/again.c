/* SPDX-License-Identifier: Apache-2.0 */
/* again.c - calls that the exporter merged with equal ones: who ran them again, of what, and where. */
#include "lower/dynamo.h"
#include "torch/torch.h"

#include <stdlib.h>
#include <string.h>

int
again_operand(struct dynamo *d, const struct group *g, const char *name)
{
    const struct graph *gr = d->l->g;
    for (int k = 0; k < g->nnodes; k++) {
        const struct node *n = &gr->n[g->nodes[k]];
        for (int i = 0; i < n->nin; i++) {
            int from = left_inside(d, g, n->in[i]);
            for (int e = 0; from >= 0 && e < gr->n[from].nin; e++) {
                int slot = gr->n[from].in[e] < 0 ? -1 : d->l->slot_of[gr->n[from].in[e]];
                const struct call *maker = slot < 0 ? NULL : group_maker(d->l->p, slot);
                if (maker && spelled_after(name, maker->target))
                    return again_duplicate(d, g, name, slot, NULL);
            }
        }
    }
    return -1;
}

static bool
has_gradient(const struct lowering *l, int slot)
{
    struct arena *own = arena_new();
    bool *grows = lower_trained(l->p, own);
    for (int i = 0; i < l->p->ncalls; i++)
        lower_grows(&l->p->calls[i], grows);
    const bool has = grows[slot];
    arena_free(own);
    return has;
}

/* The name of a call like that one that the traced program had behind it and no text of the file has, as the numbers of
 * its root tell: "einsum_1" where the next one is "einsum_2". "" it had none; NULL nobody knows, as with roots that
 * sizes are computed by, too. */
static const char *
left_out_behind(struct dynamo *d, const struct call *c)
{
    int number;
    const size_t root = c && c->name ? fx_number(c->name, &number) : 0;
    if (!root || target_is(c->target, TARGET_VIEWS | TARGET_REORDERS | TARGET_CLONES | TARGET_COPIES) ||
        spelled(c->target, KEEPS_SIZES | SQUARES | CASTS_TO | CASTS | CONVERTS))
        return NULL;
    const int left = left_behind(d, c->name);
    return left < 0 ? NULL : left ? fx_nth(d->l->a, c->name, root, number + 1) : "";
}

/* Between which of the calls made so far one of that name ran, as the numbers of its root tell: the last one before it,
 * and the first one behind it; -1 none. */
static void
ran_between(const struct dynamo *d, const char *name, int *before, int *behind)
{
    const struct program *p = d->l->p;
    int number, other;
    const size_t root = fx_number(name, &number);
    *before = *behind = -1;
    for (int i = 0; i < p->ncalls && number; i++) {
        const char *of = p->calls[i].name;
        if (!of || strncmp(of, name, root) != 0 || fx_number(of, &other) != root || !other)
            continue;
        if (other < number)
            *before = i;
        else if (other > number && *behind < 0)
            *behind = i;
    }
}

/* Whether it ran in a module of another class than the reader's, whose forward is its own. */
static bool
of_another_class(const struct dynamo *d, const struct group *g, const struct call *made)
{
    const int scope = made->scope, reader = lower_module(d->l, g->path ? g->path : "", g->type);
    const char *type = d->l->p->modules[scope].type, *own = d->l->p->modules[reader].type;
    return type && own && strcmp(type, own) != 0;
}

/* The maker of a slot again, called so. */
static int
maker_again(struct dynamo *d, const struct group *g, const char *name, int slot)
{
    d->again++;
    slot = again_duplicate(d, g, name, slot, NULL);
    d->again--;
    return slot;
}

/* Whether a call ran on the line before that one, in one run of a function, so that no loop begins between them. */
static bool
line_before(struct arena *a, const char *stack, const char *line)
{
    while (fx_count_frames(stack) > fx_count_frames(line))
        stack = fx_outer(a, stack);
    return python_earlier(a, stack, line) && strcmp(fx_outer(a, stack), fx_outer(a, line)) == 0 &&
           python_frame_line(python_inner(line)) - python_frame_line(python_inner(stack)) == 1 &&
           !starts_with(fx_line(a, line), "for ") && !starts_with(fx_line(a, line), "while ");
}

/* How often an operator was called on a line, and will be on the group's. */
static int
called_there(const struct dynamo *d, const struct group *g, const char *stack, const char *target)
{
    int n = 0;
    for (const struct call *c = d->l->p->calls; c < d->l->p->calls + d->l->p->ncalls; c++)
        n += c->stack && strcmp(c->target, target) == 0 && strcmp(c->stack, stack) == 0;
    for (int i = d->group_of[g->last]; i < d->ngroups; i++)
        n += !d->groups[i].done && strcmp(d->groups[i].target, target) == 0 &&
             group_same_statement(d, g->last, d->groups[i].last);
    return n;
}

static int before_later(const struct dynamo *d, const struct group *g, int at);

/* Whether a call ran in frames below those of a stack. */
static bool
ran_below(const struct call *c, const char *stack)
{
    return c->stack && starts_with(c->stack, stack) && c->stack[strlen(stack)];
}

/* Of the modules that module `caller` calls, the one that a call ran in; NULL none. */
static const char *
module_called(const struct module *modules, int caller, const struct call *c)
{
    int at = c->scope;
    while (at > 0 && modules[at].parent != caller)
        at = modules[at].parent;
    return at > 0 ? modules[at].path : NULL;
}

/* The same of the group's module. */
static const char *
module_of_reader(struct dynamo *d, const struct group *g, const struct call *c)
{
    const int reader = lower_module(d->l, g->path ? g->path : "", g->type);
    return module_called(d->l->p->modules, reader, c);
}

/* Likewise, or of the innermost one around it that calls such a module. */
static const char *
module_beside(struct dynamo *d, const struct group *g, const struct call *c)
{
    int reader = lower_module(d->l, g->path ? g->path : "", g->type);
    const struct module *modules = d->l->p->modules;
    const char *module = module_called(modules, reader, c);
    while (!module && reader > 0)
        module = module_called(modules, reader = modules[reader].parent, c);
    return module;
}

/* How often a line calls the module of the reader's in which a call ran, "self.b(z)"; 0 no line does. around: how many
 * of these have what the reader computes for an argument, so that they run behind it. */
static int
calls_module(struct dynamo *d, const struct group *g, const struct call *c, const char *line, int *around)
{
    const char *module = module_of_reader(d, g, c);
    int n = 0;
    *around = 0;
    if (!module)
        return 0;
    const char *name = arena_printf(d->l->a, "self.%s(", path_last(module));
    for (const char *p = line; (p = strstr(p, name)); n++) {
        p += strlen(name);
        const char *end = python_brackets_end(p - 1);
        *around += python_times(end ? arena_strn(d->l->a, p, (size_t)(end - p)) : p, g->target) > 0;
    }
    return n;
}

/* A call like that one, with results and arguments of its own; no node is its. */
static struct call
call_again(struct lowering *l, const struct call *m)
{
    struct call c = *m;
    c.name = NULL;
    lower_results(l, &c, c.nouts);
    c.args = arena_dup(l->a, c.args, sizeof(*c.args) * (size_t)(c.nargs ? c.nargs : 1));
    return c;
}

/* Puts it where its line ran for the reader. */
static void
put_again(struct dynamo *d, const struct group *g, const struct call *c)
{
    struct program *p = d->l->p;
    *PUSH(d->l->a, p->calls, p->ncalls, p->cap_calls) = *c;
    group_move(d, p->ncalls - 1, before_later(d, g, p->ncalls - 1));
}

/* What modules made that a statement calls, in another run of the statement: all calls below its frames. */
static int
below_again(struct dynamo *d, const struct group *g, const char *stack, int slot)
{
    const struct call *m = group_maker(d->l->p, slot);
    if (!m || !ran_below(m, stack) || m->nouts > 1 || d->again == MAX_DEPTH)
        return slot;
    struct call c = call_again(d->l, m);
    d->again++;
    for (int k = 0; k < c.nargs; k++)
        if (c.args[k].kind == ARG_SLOT)
            c.args[k].i = below_again(d, g, stack, (int)c.args[k].i);
    d->again--;
    put_again(d, g, &c);
    return c.outs[0];
}

/* Whether what a call reads that was merged is made again, too, where no line shows it. */
static bool
assume_remade(struct lowering *l)
{
    program_assume(l->p, ALTERNATIVE_REMADE,
                   "of equal calls in functions, which the exporter merged, what they read was made once");
    return setup_instead(l->s, ALTERNATIVE_REMADE);
}

/* Two runs of one function: the frames around each, and the modules whose function it is. */
struct runs {
    const char *from, *to, *scopes, *module, *again;
    bool traced;         /* the other one as a graph's code, whose lines are one call each: `to` is the reader's */
    bool called;         /* the frames around end in lines that call the module */
    struct rerun *whole; /* all of a module runs again: its calls until they are put; NULL else */
};

struct rerun {
    int n, cap;
    struct placed {
        int first; /* the call of the first run */
        struct call call;
    } * of;
};

static int local_again(struct dynamo *d, const struct group *g, const struct runs *r, int slot);
static void put_whole(struct dynamo *d, const struct runs *r);

struct operand { /* of a call that runs again */
    int slot;
    const struct call *m, *reader; /* what made it; the first run, NULL not known */
    const char *stack, *line;      /* of the other run */
    const char *lost;              /* left_out_behind its maker */
    bool view, within;             /* its maker is; on the first run's line */
    bool elsewhere;                /* the other run is of another line */
    int written;                   /* how often that writes what made it, where it may have made its own */
};

/* Whether the line writes it more often than it was called there, in all rounds of a loop. */
static bool
written_more(const struct dynamo *d, const struct group *g, const struct operand *o)
{
    if (!o->written)
        return false;
    const int reads = python_times(o->line, g->target);
    int calls = o->elsewhere && strcmp(o->reader->target, o->m->target) == 0, /* the reader that is made there */
        read = o->reader && strcmp(o->reader->target, g->target) == 0;
    calls += called_there(d, g, o->stack, o->m->target);
    read += called_there(d, g, o->stack, g->target);
    const bool round = o->reader && reads && calls * reads < o->written * read; /* one of whose calls has it, too */
    return o->written > calls || round;
}

/* Whether a function made it that both lines call, or that the line calls for each of its runs. */
static bool
made_by_function(struct arena *a, const struct operand *o)
{
    const char *maker = fx_line(a, o->m->stack);
    if (!o->within || python_writes(maker, o->m->target))
        return false;
    if (o->elsewhere)
        return python_shares(a, maker, o->line);
    return (o->view || target_is(o->m->target, TARGET_COPIES)) && !python_writes(o->line, o->reader->target) &&
           !(strchr(o->line, '[') && (left_picks(o->m->target) || left_picks(o->reader->target)));
}

/* Whether a line before the first run's made it, in each round of a loop. */
static bool
made_each_round(struct lowering *l, const struct operand *o)
{
    if (o->lost || !o->elsewhere || o->within || o->view || !python_earlier(l->a, o->m->stack, o->reader->stack))
        return false;
    if (line_before(l->a, o->m->stack, o->reader->stack))
        return true;
    program_assume(l->p, ALTERNATIVE_MERGED,
                   "what a loop's rounds read of a line before was made before the loop, unless that is the line right "
                   "before");
    return setup_instead(l->s, ALTERNATIVE_MERGED);
}

/* Whether the module in which that call ran did so again with the line, which calls it. */
static bool
module_ran_again(struct dynamo *d, const struct group *g, const struct operand *o, const struct call *base)
{
    const struct program *p = d->l->p;
    int ran = 0, around;
    const int reads = python_times(o->line, g->target), called = calls_module(d, g, base, o->line, &around);
    for (int i = 0; called && i < p->ncalls; i++)
        ran += p->calls[i].scope == base->scope && p->calls[i].stack && !strcmp(p->calls[i].target, base->target) &&
               !strcmp(p->calls[i].stack, base->stack);
    for (int i = d->group_of[g->last]; called && i < d->ngroups; i++) {
        const struct group *later = &d->groups[i];
        const char *stack = d->l->g->n[later->last].stack;
        ran += !later->done && stack && later->path && !strcmp(later->target, base->target) &&
               !strcmp(stack, base->stack) && !strcmp(later->path, p->modules[base->scope].path);
    }
    return reads && called && (ran + around) * reads < called * called_there(d, g, o->stack, g->target);
}

/* A module that the reader's line calls and of which nothing runs there: its run was merged with that of another line,
 * "D(fake)" with "D(fake.detach())". */
static bool
ran_elsewhere(struct dynamo *d, const struct group *g, const struct operand *o, struct runs *r)
{
    const struct program *p = d->l->p;
    const char *before = o->reader ? o->reader->stack : NULL;
    int around;
    if (!o->elsewhere || o->within || !ran_below(o->m, before) || !calls_module(d, g, o->m, o->line, &around))
        return false;
    const char *module = module_of_reader(d, g, o->m);
    bool ran = false;
    for (int i = 0; i < p->ncalls && !ran; i++)
        ran = ran_below(&p->calls[i], o->stack) && path_within(p->modules[p->calls[i].scope].path, module);
    for (int i = d->group_of[g->last]; i < d->ngroups && !ran; i++) {
        const struct group *later = &d->groups[i];
        const char *stack = d->l->g->n[later->last].stack;
        ran = !later->done && stack && later->path && starts_with(stack, o->stack) && path_within(later->path, module);
    }
    *r = (struct runs){.from = before,
                       .to = o->stack,
                       .scopes = d->l->g->n[g->last].scopes,
                       .module = module,
                       .again = module,
                       .called = true,
                       .whole = NEW(d->l->a, struct rerun)};
    return !ran;
}

/* Whether a function that the line calls may have made both, as it writes neither. */
static bool
made_out_of_sight(struct lowering *l, const struct operand *o)
{
    const struct call *m = o->m;
    return !o->lost && !o->view && !o->written && o->reader && o->reader->stack && m->op && m->op->grad &&
           strcmp(m->stack, o->stack) == 0 && !target_is(m->target, TARGET_COPIES) &&
           strcmp(o->reader->stack, o->stack) == 0 && has_gradient(l, o->slot) && assume_remade(l);
}

/* What is not made again may have run again, where another line could have. */
static void
doubt_merged(struct dynamo *d, const struct group *g, const struct operand *o)
{
    const struct node *n = &d->l->g->n[g->last];
    const struct call *base = d->again && o->elsewhere ? left_viewed(d->l->p, o->m) : NULL;
    if (base && !of_another_class(d, g, o->m) && python_again(d->l->a, base->target, base->stack, o->stack))
        graph_doubt(d->l->g, n->name, n->op, NULL,
                    "the exporter merged what this line reads of %s with an equal call of another line",
                    target_bare(base->target));
}

int
again_read(struct dynamo *d, const struct group *g, const struct call *reader, const char *stack, bool rounds, int slot)
{
    const struct program *p = d->l->p;
    const struct call *m = group_maker(p, slot);
    if (!m || !stack || !m->stack || m->outs[0] != slot || d->again == MAX_DEPTH)
        return slot;
    const char *before = reader ? reader->stack : NULL;
    struct operand o = {.slot = slot, .m = m, .reader = reader, .stack = stack, .line = fx_line(d->l->a, stack)};
    o.view = target_is(m->target, TARGET_VIEWS | TARGET_REORDERS);
    o.within = before && strcmp(m->stack, before) == 0;
    o.elsewhere = before && strcmp(before, stack) != 0;
    /* a copy has equal numbers, so that the two calls were merged */
    if (o.elsewhere && o.within && m->nargs && m->args[0].kind == ARG_SLOT &&
        target_is(m->target, TARGET_CLONES | TARGET_COPIES) && !python_calls(o.line, "clone"))
        return (int)m->args[0].i;
    const bool own = o.elsewhere || !before || o.within,
               part = o.view && !target_is(m->target, TARGET_KEEPS) && o.elsewhere && o.within;
    o.written = o.view || !own ? 0 : python_times(o.line, m->target);
    o.lost = o.view ? NULL : left_out_behind(d, m);
    struct runs runs;
    if (ran_elsewhere(d, g, &o, &runs)) {
        slot = local_again(d, g, &runs, slot);
        put_whole(d, &runs);
        return slot;
    }
    const bool made = (part && strchr(o.line, '[')) || written_more(d, g, &o) || made_by_function(d->l->a, &o) ||
                      (o.lost && *o.lost) || (rounds && made_each_round(d->l, &o));
    const struct call *base =
        before && !o.elsewhere && !target_is(g->target, TARGET_VIEWS | TARGET_REORDERS) ? left_viewed(p, m) : NULL;
    if (!made && base && ran_below(base, stack) && module_ran_again(d, g, &o, base))
        return base == m ? below_again(d, g, stack, slot) : maker_again(d, g, spelled_root(d->l->a, m->target), slot);
    if (!made && !made_out_of_sight(d->l, &o)) {
        doubt_merged(d, g, &o);
        return slot;
    }
    return maker_again(d, g, o.lost && *o.lost ? o.lost : spelled_root(d->l->a, m->target), slot);
}

/* Likewise, as numbers alone tell. */
static int
counted_again(struct dynamo *d, const struct group *g, int slot)
{
    const struct program *p = d->l->p;
    const struct call *m = group_maker(p, slot), *base = left_viewed(p, m);
    const char *lost = base ? left_out_behind(d, base) : NULL;
    if (!lost || !*lost || m->outs[0] != slot || d->again == MAX_DEPTH)
        return slot;
    return maker_again(d, g, m == base ? lost : spelled_root(d->l->a, m->target), slot);
}

/* Two calls of the same numbers, one of which reads a detached tensor: the other one has its other operand detached, as
 * in the two losses of a quantizer. Nobody computes the same gradient twice. */
static bool
detach_other(struct dynamo *d, const struct group *g, struct call *again)
{
    enum { OPERANDS = 2 };
    const char *detach = traceless[TRACELESS_DETACH].target;
    const struct call *m[OPERANDS] = {NULL};
    for (int k = 0; k < OPERANDS && k < again->nargs; k++)
        m[k] = again->args[k].kind == ARG_SLOT ? group_maker(d->l->p, again->args[k].i) : NULL;
    for (int k = 0; k < OPERANDS; k++) {
        if (!m[k] || !m[1 - k] || strcmp(m[k]->target, detach) != 0 || strcmp(m[1 - k]->target, detach) == 0)
            continue;
        int base = (int)m[k]->args[0].i;
        struct call *c = group_call(d, g, detach, 1);
        c->stack = again->stack;
        c->frames = again->frames;
        c->location = again->location;
        c->args[0] = again->args[1 - k];
        again->args[1 - k].i = c->outs[0];
        again->args[k].i = base;
        program_assume(d->l->p, ALTERNATIVE_NONE,
                       "of two %s of equal numbers the exporter left one: the other one has "
                       "its other operand detached",
                       target_bare(again->target));
        return true;
    }
    return false;
}

/* Whether the statement that begins on the reader's line goes on in the call's. */
static bool
in_statement(struct arena *a, const char *reader, const struct call *c)
{
    return reader && python_goes_on(a, fx_line(a, reader), fx_line_in_frame(a, c->stack, reader));
}

/* Where the last call belongs among those of the reader's module: before all of later lines up to the reader's own,
 * those of its statement among them, behind a round of a loop that has ended. */
static int
before_later(const struct dynamo *d, const struct group *g, int at)
{
    const struct program *p = d->l->p;
    const char *path = g->path ? g->path : "", *stack = p->calls[at].stack, *reader = d->l->g->n[g->last].stack,
               *behind = reader;
    for (int left = reader ? python_times(fx_line(d->l->a, reader), g->target) : 0, reads = left; at > 0; at--) {
        const struct call *c = &p->calls[at - 1];
        if (!path_within(p->modules[c->scope].path, path) || !c->stack || !python_earlier(d->l->a, stack, c->stack) ||
            (behind && python_earlier(d->l->a, behind, c->stack) && !in_statement(d->l->a, reader, c)))
            break;
        left -= reads && strcmp(c->stack, reader) == 0 && strcmp(c->target, g->target) == 0;
        if (reads && !left) /* all of a round is the reader's line */
            break;
        behind = c->stack;
    }
    return at;
}

/* Where the last call belongs as an argument of the module that its line calls and that reads it: before that runs.
 * caller: the module whose line it is. -1 it is none. */
static int
before_called(struct dynamo *d, const struct group *g, int at, int caller)
{
    const struct program *p = d->l->p;
    const char *stack = p->calls[at].stack, *reader = d->l->g->n[g->last].stack;
    if (!reader || !starts_with(reader, stack) || strlen(reader) == strlen(stack))
        return -1;
    int called = lower_module(d->l, g->path ? g->path : "", g->type);
    for (int up = p->modules[called].parent; up > 0 && up != caller && p->modules[up].type; up = p->modules[up].parent)
        called = up; /* to a list's */
    const int last = at;
    while (at > 0 && p->calls[at - 1].stack && starts_with(p->calls[at - 1].stack, stack) &&
           path_within(p->modules[p->calls[at - 1].scope].path, p->modules[called].path))
        at--;
    return at < last ? at : -1;
}

/* The first place from `at` on that is behind what the calls from `first` on read of those before them. */
static int
behind_operands(const struct program *p, int first, int at)
{
    int slot;
    for (const struct call *c = p->calls + first; c < p->calls + p->ncalls; c++)
        for (struct call_reads r = {c}; (slot = next_read(&r)) >= 0;) {
            const struct call *m = group_maker(p, slot);
            const int behind = m ? (int)(m - p->calls) + 1 : 0;
            at = behind > at && behind <= first ? behind : at;
        }
    return at;
}

/* A cast, of which the traced program had more than the file has, as their numbers tell. */
static bool
is_cast_of_more(const struct dynamo *d, const struct call *c)
{
    while (c && spelled(spelled_root(d->l->a, c->target), CASTS)) /* to_like, of its type already */
        c = c->args[0].kind == ARG_SLOT ? group_maker(d->l->p, (int)c->args[0].i) : NULL;
    if (!c || !c->name || !spelled(spelled_root(d->l->a, c->target), CASTS_TO))
        return false;
    int most = 0, count = 0, number;
    for (int i = 0; i < d->ngroups; i++)
        if (fx_same_root(d->groups[i].fx_name, c->name)) {
            fx_number(d->groups[i].fx_name, &number);
            most = number > most ? number : most;
            count++;
        }
    return count <= most;
}

/* The frames where both stacks part on the way out, and the modules that run there: those of one class. A loop's rounds
 * have the same frames, and modules alone tell them. False: it is one run, or no two of a function. */
static bool
find_runs(struct dynamo *d, const struct group *g, const struct call *made, const char *stack, struct runs *r)
{
    struct arena *a = d->l->a;
    const struct module *modules = d->l->p->modules;
    const char *from = made->stack, *to = stack, *line, *there;
    while ((line = python_inner(from)) && (there = python_inner(to)) && strcmp(line, there) == 0) {
        from = fx_outer(a, from);
        to = fx_outer(a, to);
    }
    const bool rounds = strcmp(made->stack, stack) == 0;
    if (!rounds && (from == made->stack || !*from || strcmp(from, to) == 0))
        return false;
    *r = (struct runs){.from = rounds ? "" : from, .to = rounds ? "" : to, .scopes = d->l->g->n[g->last].scopes};
    const int reader = lower_module(d->l, g->path ? g->path : "", g->type);
    for (int at = made->scope; at > 0 && !r->module; at = modules[at].parent)
        for (int beside = reader; beside > 0 && !r->module && modules[at].type; beside = modules[beside].parent)
            if (modules[beside].type && strcmp(modules[at].type, modules[beside].type) == 0) {
                r->module = modules[at].path;
                r->again = modules[beside].path;
            }
    return r->module && (!rounds || strcmp(r->module, r->again) != 0);
}

/* Where the frames of two stacks part, from the outermost on; in both the frames up to that one. */
static void
frames_part(struct arena *a, const char *one, const char *other, const char **from, const char **to)
{
    const char *p = one, *q = other;
    for (const char *next = python_frame(p); next; next = python_frame(next + 1)) {
        const size_t n = (size_t)(python_frame_end(next) - p);
        if (strncmp(p, q, n) != 0)
            break;
        p += n;
        q += n;
    }
    const char *ends[] = {python_frame(p), python_frame(q)};
    for (int i = 0; i < 2; i++)
        ends[i] = ends[i] ? python_frame(ends[i] + 1) : NULL;
    *from = ends[0] ? arena_strn(a, one, (size_t)(ends[0] - one)) : one;
    *to = ends[1] ? arena_strn(a, other, (size_t)(ends[1] - other)) : other;
}

/* Whether it is the outermost frames of both that part. */
static bool
parts_outermost(struct arena *a, const char *one, const char *other)
{
    const char *from, *to;
    if (!one || !other)
        return false;
    frames_part(a, one, other, &from, &to);
    return strcmp(from, to) != 0 && fx_count_frames(from) == 1;
}

/* The module whose function a call is in: that which calls the layer, where one ran it. */
static const struct module *
calls_layer(const struct program *p, const struct call *c)
{
    const struct module *m = &p->modules[c->scope];
    return clones_is_leaf(m->type) && m->parent >= 0 ? &p->modules[m->parent] : m;
}

/* Whether the function that calls what ran a call, in another run by the frames of that stack, is of the class that the
 * group has there: by that alone files tell its forward() from another one's. */
static bool
runs_class(struct dynamo *d, const struct group *g, const struct call *made, const char *stack)
{
    const struct entries *classes = &fx_record(d->l, g->last)->classes;
    const struct module *m = calls_layer(d->l->p, made);
    const char *type = m->type;
    const int depth = fx_count_frames(stack) - 1 - (m != &d->l->p->modules[made->scope]);
    return !type || depth < 0 || depth >= classes->n - 1 || strcmp(classes->entry[depth].name, type) == 0;
}

/* Whether one of the modules in which the group runs, from that depth on, is of the class of that which ran a call, or
 * of that which calls such a layer. */
static bool
runs_class_of(struct dynamo *d, const struct group *g, int depth, const struct call *made)
{
    const struct entries *classes = &fx_record(d->l, g->last)->classes;
    const char *own = d->l->p->modules[made->scope].type, *around = calls_layer(d->l->p, made)->type;
    bool any = !own || !around;
    for (int i = depth; i < classes->n - 1 && !any; i++)
        any = strcmp(classes->entry[i].name, own) == 0 || strcmp(classes->entry[i].name, around) == 0;
    return any;
}

/* A module that runs twice: where the frames part both call it, and one function runs below. */
static bool
find_rerun(struct dynamo *d, const struct group *g, const struct call *made, struct runs *r)
{
    struct arena *a = d->l->a;
    const struct module *modules = d->l->p->modules;
    const char *stack = d->l->g->n[g->last].stack, *path = g->path ? g->path : "";
    int at = made->scope;
    while (at > 0 && !path_within(path, modules[at].path))
        at = modules[at].parent;
    if (at <= 0 || !made->stack || !stack || python_is_traced(stack))
        return false;
    *r = (struct runs){.scopes = d->l->g->n[g->last].scopes, .module = modules[at].path, .again = modules[at].path};
    frames_part(a, made->stack, stack, &r->from, &r->to);
    const char *one = python_frame(made->stack + strlen(r->from)), *other = python_frame(stack + strlen(r->to));
    const size_t file = one ? strcspn(one, ",") : 0;
    return strcmp(r->from, r->to) != 0 && one && other && strncmp(one, other, file + 1) == 0 &&
           runs_class_of(d, g, fx_count_frames(r->to), made);
}

/* How many calls of that name's root a module has. */
static int
calls_of_root(const struct program *p, const char *module, const char *name)
{
    int n = 0;
    for (const struct call *c = p->calls; c < p->calls + p->ncalls; c++)
        n += c->name && fx_same_root(c->name, name) && path_within(p->modules[c->scope].path, module);
    return n;
}

/* Whether as many names went as the module has calls: of the root of that one, which went last; or behind its last call
 * of a layer, as sizes may have names of other roots. */
static bool
went_whole(struct dynamo *d, const char *module, const char *name)
{
    enum { FEWEST = 4 }; /* a few may have gone one by one */
    const struct program *p = d->l->p;
    const int lost = left_before(d, name) + 1;
    if (lost >= FEWEST && lost == calls_of_root(p, module, name))
        return true;
    const struct call *last = NULL;
    for (const struct call *c = p->calls; c < p->calls + p->ncalls; c++)
        if (c->name && c->nargs > 1 && c->args[1].kind == ARG_SLOT && c->args[1].i < p->ngiven &&
            path_within(p->modules[c->scope].path, module))
            last = c;
    const int behind = last ? left_behind(d, last->name) : 0;
    return behind >= FEWEST && behind == calls_of_root(p, module, last->name);
}

/* Whether a module's last call reads what the module made and nothing outside reads: only the module can have run that
 * again, and all of it, where nothing of it comes behind. */
static bool
ends_module(const struct dynamo *d, const struct group *g, const char *module, const struct call *made)
{
    const struct program *p = d->l->p;
    const struct call *m = made->nargs && made->args[0].kind == ARG_SLOT ? group_maker(p, made->args[0].i) : NULL;
    bool ends = m && path_within(p->modules[m->scope].path, module) && !python_is_traced(made->stack) &&
                !python_is_traced(d->l->g->n[g->last].stack);
    for (const struct call *c = p->calls; c < p->calls + p->ncalls && ends; c++)
        ends = path_within(p->modules[c->scope].path, module) ? c <= made : !lower_reads(c, (int)made->args[0].i);
    for (const struct group *h = g; h < d->groups + d->ngroups && ends; h++)
        ends = !h->path || !path_within(h->path, module);
    return ends;
}

/* A module that the reader's function called again on a line that left nothing: "logits2 = self.model(x)". */
static bool
find_whole(struct dynamo *d, const struct group *g, const struct call *made, const char *name, struct runs *r)
{
    const char *stack = d->l->g->n[g->last].stack, *module = module_of_reader(d, g, made);
    if (!made->stack || !stack)
        return false;
    if (!module || !went_whole(d, module, name)) {
        module = module_beside(d, g, made);
        if (!module || !ends_module(d, g, module, made))
            return false;
    }
    *r = (struct runs){
        .scopes = d->l->g->n[g->last].scopes, .module = module, .again = module, .whole = NEW(d->l->a, struct rerun)};
    frames_part(d->l->a, made->stack, stack, &r->from, &r->to);
    return strcmp(r->from, r->to) != 0 && ran_below(made, r->from);
}

/* A module that its reader's function calls again, on a line that is not the first one's: where the frames part, below
 * which that stack has the call again. */
static bool
find_call_again(struct dynamo *d, const struct group *g, const struct call *made, const char *stack, struct runs *r)
{
    const char *module = module_beside(d, g, made);
    if (!module)
        return false;
    *r = (struct runs){.scopes = d->l->g->n[g->last].scopes, .module = module, .again = module, .called = true};
    frames_part(d->l->a, made->stack, stack, &r->from, &r->to);
    const char *below = made->stack + strlen(r->from);
    return strcmp(r->from, r->to) != 0 && *below && strcmp(below, stack + strlen(r->to)) == 0;
}

/* Whether the reader's line has run behind that call already, in as many calls as it writes: "a, b = f(x), f(y)". */
static bool
ran_behind(const struct dynamo *d, const struct group *g, const struct call *made)
{
    const struct program *p = d->l->p;
    const char *stack = d->l->g->n[g->last].stack, *path = g->path ? g->path : "";
    const int written = stack ? python_times(fx_line(d->l->a, stack), g->target) : 0;
    int calls = 0;
    for (const struct call *c = made + 1; written && made->stack && c < p->calls + p->ncalls; c++)
        calls += c->stack && strcmp(c->stack, stack) == 0 && strcmp(c->target, g->target) == 0 &&
                 strcmp(p->modules[c->scope].path, path) == 0;
    return calls && calls >= written && strcmp(made->stack, stack) != 0;
}

/* Whether the reader's line has made all that it writes of such calls in each of its rounds, or its module's, in the
 * frames of that stack: what was merged ran on a line before it. */
static bool
ran_all(struct dynamo *d, const struct group *g, const struct call *made, const char *stack)
{
    const char *reader = d->l->g->n[g->last].stack, *line = reader ? fx_line(d->l->a, reader) : NULL;
    int around;
    if (!reader)
        return false;
    const int reads = python_times(line, g->target), called = strcmp(stack, reader) == 0
                                                                  ? python_times(line, made->target)
                                                                  : calls_module(d, g, made, line, &around);
    return called && reads &&
           called_there(d, g, stack, made->target) * reads >= called * called_there(d, g, reader, g->target);
}

/* Where the reader's round of a function begins, of which call m ran in an earlier one; 0 it is of the same. */
static int
round_begins(struct dynamo *d, const struct group *g, const struct call *m)
{
    struct arena *a = d->l->a;
    const struct program *p = d->l->p;
    const int first = (int)(m - p->calls) + 1;
    const char *from, *to, *own;
    frames_part(a, m->stack, d->l->g->n[g->last].stack, &from, &to);
    const char *outer = fx_outer(a, to);
    int i = p->ncalls;
    while (i > first && !((own = p->calls[i - 1].stack) && starts_with(own, outer) && python_earlier(a, to, own)))
        i--;
    return i > first ? i : 0;
}

static int round_twin(const struct program *p, int from, int slot, int deep);

/* Whether a call of the round that begins with call `from` has equal operands, or those of that round; deep: as far
 * back as that. */
static bool
reads_in_round(const struct program *p, int from, int n, const struct arg *own, const struct arg *other, int deep)
{
    bool same = same_args(n, own, other);
    for (int k = 0; same && k < n; k++) {
        if (own[k].kind == ARG_SLOT)
            same = own[k].i == other[k].i || round_twin(p, from, (int)other[k].i, deep) == own[k].i;
        if (own[k].kind == ARG_LIST)
            same = reads_in_round(p, from, own[k].n, own[k].list, other[k].list, deep);
    }
    return same;
}

/* What the same call made in the round that begins with call `from`; -1 none did. */
static int
round_twin(const struct program *p, int from, int slot, int deep)
{
    const struct call *m = group_maker(p, slot), *c = &p->calls[from];
    if (!deep || !m || !m->stack || m >= c)
        return -1;
    for (; c < p->calls + p->ncalls; c++)
        if (c->stack && c->nargs == m->nargs && strcmp(c->target, m->target) == 0 && strcmp(c->stack, m->stack) == 0 &&
            reads_in_round(p, from, m->nargs, c->args, m->args, deep - 1))
            return c->outs[slot - m->outs[0]];
    return -1;
}

/* The name of a call that ran again in the round that begins with call `from`, where no text has it: the number behind
 * the last one of its root of a line that is not behind its own. NULL none was left out there. */
static const char *
left_out_in_round(struct dynamo *d, const struct call *m, int from)
{
    const struct program *p = d->l->p;
    const struct call *last = NULL;
    int number;
    const size_t root = m->name ? fx_number(m->name, &number) : 0;
    for (const struct call *c = &p->calls[from]; root && c < p->calls + p->ncalls; c++)
        if (c->name && fx_same_root(c->name, m->name) && c->stack && !python_earlier(d->l->a, m->stack, c->stack))
            last = c;
    if (!last || left_behind(d, last->name) <= 0)
        return NULL;
    fx_number(last->name, &number);
    return fx_nth(d->l->a, last->name, root, number + 1);
}

/* Whether its line made the call again behind it, in whichever round. */
static bool
ran_later(const struct program *p, const struct call *m)
{
    for (const struct call *c = m + 1; c < p->calls + p->ncalls; c++)
        if (strcmp(c->target, m->target) == 0 && c->stack && strcmp(c->stack, m->stack) == 0)
            return true;
    return false;
}

/* What a call that runs again in another round of a function reads: what that round made of it, or is made so, as
 * numbers tell. */
static int
operand_in_round(struct dynamo *d, const struct group *g, int slot, bool again)
{
    const struct program *p = d->l->p;
    const struct call *m = group_maker(p, slot);
    if (!m || !m->stack || !d->l->g->n[g->last].stack || m->outs[0] != slot || d->again == MAX_DEPTH ||
        !(again || ran_later(p, m)))
        return slot;
    const int from = round_begins(d, g, m);
    if (!from)
        return slot;
    enum { DEEP = 4 }; /* each step back may double the way */
    const int twin = round_twin(p, from, slot, DEEP);
    const char *name = twin < 0 && again ? left_out_in_round(d, m, from) : NULL;
    return twin >= 0 ? twin : name ? maker_again(d, g, name, slot) : slot;
}

static const char *
stack_again(struct arena *a, const struct runs *r, const char *stack)
{
    return r->traced ? r->to : arena_printf(a, "%s%s", r->to, stack + strlen(r->from));
}

/* The module that runs in a group, which a graph's code shows by its parameters alone. */
static const char *
running_module(struct dynamo *d, const struct group *g)
{
    const char *text = g->args && python_is_traced(d->l->g->n[g->last].stack) ? g->args : "", *name;
    const struct param *q = NULL;
    while (!q && (name = fx_named(d->l->a, &text)))
        q = params_of(d, name);
    return q ? d->l->p->modules[q->module].path : g->path ? g->path : "";
}

/* What the network made on the way to a call that was merged. */
struct way {
    int slot[256], n; /* of no more */
    int met;          /* parameters */
};

/* Whether all of it was made with parameters that are the copy's, too, under names that nothing has read yet. */
static bool
made_of_equals(struct dynamo *d, const struct runs *r, int slot, struct way *w)
{
    struct program *p = d->l->p;
    for (int i = 0; i < w->n; i++)
        if (w->slot[i] == slot)
            return true;
    if (w->n == COUNT(w->slot))
        return false;
    w->slot[w->n++] = slot;
    const struct param *q = program_param(p, slot);
    const char *path = q ? path_moved(d->l->a, q->name, r->module, r->again) : NULL;
    const struct param *twin = path ? params_called(d, path) : NULL;
    if (q) {
        w->met += twin != NULL;
        return !path || (twin && (d->copied[twin - p->params] || !d->referenced[twin - p->params]));
    }
    const struct call *m = group_maker(p, slot);
    bool equals = true;
    int of;
    if (m && path_within(p->modules[m->scope].path, r->module))
        for (struct call_reads reads = {m}; equals && (of = next_read(&reads)) >= 0;)
            equals = made_of_equals(d, r, of, w);
    return equals;
}

/* A copy of a network that begins as the network does, its numbers and its input being equal: of the reader's module
 * the merged calls are those of the other, whose path is the same but for one name. False: it is none. */
static bool
find_copy(struct dynamo *d, const struct group *g, const struct call *made, struct runs *r)
{
    struct arena *a = d->l->a;
    const struct program *p = d->l->p;
    const char *stack = d->l->g->n[g->last].stack, *module, *again;
    if (!made->stack || !stack || !path_parts(a, p->modules[made->scope].path, running_module(d, g), &module, &again))
        return false;
    const struct module *was = &p->modules[lower_module(d->l, module, NULL)],
                        *is = &p->modules[lower_module(d->l, again, NULL)];
    if (was->type && is->type && strcmp(was->type, is->type) != 0) /* a traced one has none */
        return false;
    *r = (struct runs){.scopes = d->l->g->n[g->last].scopes,
                       .to = stack,
                       .from = "",
                       .module = module,
                       .again = again,
                       .traced = python_is_traced(stack)};
    if (!r->traced)
        frames_part(a, made->stack, stack, &r->from, &r->to);
    struct way w = {.n = 0};
    return made_of_equals(d, r, made->outs[0], &w) && w.met;
}

/* Whether both results have one size, where both are known: what was merged was equal. */
static bool
same_result(const struct call *c, const struct call *m)
{
    return c->rank < 0 || m->rank < 0 ||
           (c->rank == m->rank && memcmp(c->size, m->size, sizeof(*c->size) * (size_t)c->rank) == 0);
}

/* The n-th call like that one in a line of a module, from 0; -1 there are fewer. */
static int
nth_of_line(const struct program *p, const char *path, const char *stack, const struct call *m, int n)
{
    for (int i = 0; i < p->ncalls; i++) {
        const struct call *c = &p->calls[i];
        if (c->stack && strcmp(c->target, m->target) == 0 && strcmp(p->modules[c->scope].path, path) == 0 &&
            strcmp(c->stack, stack) == 0 && same_result(c, m) && !n--)
            return i;
    }
    return -1;
}

/* What that line of the other run has made already, of a call of the first one; -1 nothing. */
static int
made_there(const struct program *p, const struct call *m, const char *path, const char *stack)
{
    int n = 0;
    while (nth_of_line(p, p->modules[m->scope].path, m->stack, m, n) != m - p->calls)
        n++;
    const int there = nth_of_line(p, path, stack, m, n);
    return there >= 0 ? p->calls[there].outs[0] : -1;
}

static void
locals_again(struct dynamo *d, const struct group *g, const struct runs *r, struct arg *a)
{
    if (a->kind == ARG_LIST && a->n)
        a->list = arena_dup(d->l->a, a->list, sizeof(*a->list) * (size_t)a->n);
    for (int i = 0; a->kind == ARG_LIST && i < a->n; i++)
        locals_again(d, g, r, &a->list[i]);
    if (a->kind == ARG_SLOT)
        a->i = local_again(d, g, r, (int)a->i);
}

static int
by_first(const void *a, const void *b)
{
    const struct placed *x = a, *y = b;
    return (x->first > y->first) - (x->first < y->first);
}

/* Puts what runs again as a whole in the order of the first run: before what else its line runs, or where that calls
 * the module. */
static void
put_whole(struct dynamo *d, const struct runs *r)
{
    struct program *p = d->l->p;
    struct rerun *b = r->whole;
    const int first = p->ncalls;
    int at = r->called ? first : 0;
    while (at < first && !(p->calls[at].stack && starts_with(p->calls[at].stack, r->to)))
        at++;
    if (b->n)
        qsort(b->of, (size_t)b->n, sizeof(*b->of), by_first);
    for (int i = 0; i < b->n; i++)
        *PUSH(d->l->a, p->calls, p->ncalls, p->cap_calls) = b->of[i].call;
    if (b->n)
        group_move(d, first, at);
    b->n = 0;
}

/* What both lines give the module, as one of them may detach it. */
static int
argument_again(struct dynamo *d, const struct group *g, const struct runs *r, int slot)
{
    const struct traceless *detach = &traceless[TRACELESS_DETACH];
    const struct call *m = group_maker(d->l->p, slot);
    const bool was = m && strcmp(m->target, detach->target) == 0,
               is = python_calls(fx_line(d->l->a, r->to), detach->stem) != NULL;
    if (was && !is)
        return (int)m->args[0].i;
    if (was || !is || program_param(d->l->p, slot))
        return slot;
    struct call *c = group_call(d, g, detach->target, 1);
    c->args[0] = (struct arg){.kind = ARG_SLOT, .i = slot};
    c->stack = r->to;
    c->frames = fx_frames(d->l->a, c->stack);
    c->location = fx_location(d->l->a, c->stack);
    return c->outs[0];
}

/* What the function made in the first run, in the other: one of these calls was merged with that of the first run, so
 * that what it reads was merged, too. What neither run made is an argument of both. */
static int
local_again(struct dynamo *d, const struct group *g, const struct runs *r, int slot)
{
    enum { DEEPEST = 2000 }; /* calls, one of the other: a network's */
    struct program *p = d->l->p;
    struct arena *a = d->l->a;
    const char *in = r->traced ? "" : r->to;
    for (int i = 0; i < d->nremade; i++)
        if (d->remade[i].slot == slot && strcmp(d->remade[i].in, in) == 0 && strcmp(d->remade[i].module, r->again) == 0)
            return d->remade[i].again;
    const struct param *q = program_param(p, slot);
    const char *path = q ? path_moved(a, q->name, r->module, r->again) : NULL;
    struct param *other = path ? params_called(d, path) : NULL;
    if (other && other != q) { /* of equal numbers, which the file has once */
        params_sized(d->l, other, q->rank, q->size);
        d->copied[other - p->params] |= !d->referenced[other - p->params];
        d->referenced[other - p->params] = true;
    }
    if (q)
        return other ? other->slot : slot;
    const struct call *m = group_maker(p, slot);
    path = m && m->stack ? path_moved(a, p->modules[m->scope].path, r->module, r->again) : NULL;
    const bool local = path && m->nouts == 1 && starts_with(m->stack, r->from) && d->rerun < DEEPEST;
    const bool detached =
        local && fx_count_frames(m->stack) == fx_count_frames(r->from) && spelled_ends_statement(m->target);
    if ((r->called && !local) || ((r->called || r->whole) && detached))
        return argument_again(d, g, r, slot);
    if (!local)
        return slot;
    const char *stack = stack_again(a, r, m->stack);
    const int there = r->traced || r->whole ? -1 : made_there(p, m, path, stack), first = (int)(m - p->calls);
    if (there >= 0)
        return there;
    struct call c = call_again(d->l, m);
    c.scope = lower_module(d->l, path, p->modules[m->scope].type);
    c.scopes = r->scopes;
    c.stack = stack;
    c.frames = fx_frames(a, c.stack);
    c.location = fx_location(a, c.stack);
    d->rerun++;
    for (int k = 0; k < c.nargs; k++)
        locals_again(d, g, r, &c.args[k]);
    d->rerun--;
    if (r->whole)
        *PUSH(a, r->whole->of, r->whole->n, r->whole->cap) = (struct placed){first, c};
    else
        put_again(d, g, &c);
    *PUSH(a, d->remade, d->nremade, d->cap_remade) = (struct remade){in, r->again, slot, c.outs[0]};
    return c.outs[0];
}

/* Whether a number that the line reads, "h + self.v", is of the sizes of one that an equal call reads, "h + self.u":
 * both are 0 or 1, and the file has one sum. */
static bool
reads_twin(struct dynamo *d, const struct group *g, const char *name, const struct param *number,
           const struct call *maker)
{
    const struct program *p = d->l->p;
    const char *reader = d->l->g->n[g->last].stack;
    bool twin = false;
    int slot;
    if (!maker || !maker->stack || !reader || !spelled_after(name, maker->target) ||
        strcmp(maker->stack, reader) == 0 || /* "x * self.g * self.s" */
        python_passed(d->l->a, fx_line(d->l->a, maker->stack), fx_line(d->l->a, reader)))
        return false;
    for (struct call_reads r = {maker}; !twin && (slot = next_read(&r)) >= 0;) {
        const struct param *q = program_param(p, slot);
        twin = q && q != number && q->kind == number->kind && q->module == number->module && q->rank > 0;
    }
    return twin;
}

/* Whether the function that made a call began again behind it, in frames that are the same: "[f(x, c) for c in cs]". */
static bool
began_again(const struct dynamo *d, const struct call *made)
{
    const struct program *p = d->l->p;
    const char *first = made->stack;
    for (const struct call *c = p->calls; first && c < made; c++)
        if (c->stack && c->scope == made->scope && python_earlier(d->l->a, c->stack, first))
            first = c->stack;
    bool again = false;
    for (const struct call *c = made + 1; first != made->stack && c < p->calls + p->ncalls && !again; c++)
        again = c->stack && c->scope == made->scope && strcmp(c->stack, first) == 0;
    return again;
}

/* The module of that class, another than the one it was made in, whose line made it for the reader: which is that line,
 * or a later one to which it passes. -1 none. */
static int
in_another(const struct dynamo *d, const struct group *g, const struct call *made)
{
    struct arena *a = d->l->a;
    const int own = lower_module(d->l, g->path ? g->path : "", g->type);
    const struct module *modules = d->l->p->modules, *m = &modules[made->scope];
    const int reads = clones_is_leaf(g->type) ? modules[own].parent : own; /* whose function gives it to the layer */
    const struct module *other = &modules[reads];
    const char *stack = clones_own_stack(a, g->type, d->l->g->n[g->last].stack);
    const bool another =
        made->stack && stack && m->type && other->type && strcmp(m->type, other->type) == 0 &&
        strcmp(m->path, other->path) != 0 &&
        (strcmp(made->stack, stack) == 0 ||
         (python_earlier(a, made->stack, stack) && strcmp(fx_outer(a, made->stack), fx_outer(a, stack)) == 0 &&
          python_passed(a, fx_line(a, made->stack), fx_line(a, stack))));
    return another ? reads : -1;
}

int
again_made_here(struct dynamo *d, const struct group *g, int slot)
{
    const struct call *m = slot < 0 ? NULL : group_maker(d->l->p, slot);
    struct runs r;
    return m && in_another(d, g, m) >= 0 && find_runs(d, g, m, m->stack, &r) ? local_again(d, g, &r, slot) : slot;
}

/* "getitem_4" of the call whose result of that number is "getitem_6". */
static const char *
first_item(struct arena *a, const char *name, int nth)
{
    int number;
    const size_t root = fx_number(name, &number);
    return number < nth ? name : fx_nth(a, name, root, number - nth);
}

/* The same call, made again under that name; NULL none was. */
static const struct call *
called_again(const struct program *p, const struct call *made, const char *name)
{
    for (const struct call *c = p->calls; c < p->calls + p->ncalls; c++)
        if (c != made && c->name && c->nouts == made->nouts && strcmp(c->target, made->target) == 0 &&
            strcmp(c->name, name) == 0)
            return c;
    return NULL;
}

/* How many parts of that call the group reads. */
static int
parts_read(const struct dynamo *d, const struct group *g, const struct call *c)
{
    int n = 0;
    for (int k = 0; k < c->nouts; k++) {
        bool read = false;
        for (int i = 0; i < g->nnodes && !read; i++) {
            const struct node *node = &d->l->g->n[g->nodes[i]];
            for (int e = 0; e < node->nin && !read; e++)
                read = node->in[e] >= 0 && d->l->slot_of[node->in[e]] == c->outs[k];
        }
        n += read;
    }
    return n;
}

/* The number of the part that the group reads, by its name in the arguments; -1 none or several. */
static int
part_named(const struct dynamo *d, const struct group *g)
{
    const char *args = g->args, *name;
    int number = -1, other;
    while (args && (name = fx_named(d->l->a, &args))) {
        if (!spelled_as(name, "getitem"))
            continue;
        fx_number(name, &other);
        if (number >= 0 && other != number)
            return -1;
        number = other;
    }
    return number;
}

/* Whether two names stand for one part of the split that made what the group reads there, so far apart that they are of
 * two. */
static bool
is_split_twice(const struct dynamo *d, const struct group *g, const struct call *c, int slot)
{
    const struct graph *gr = d->l->g;
    const struct node *split = NULL;
    for (int k = 0; k < g->nnodes && !split; k++)
        for (int i = 0; i < gr->n[g->nodes[k]].nin && !split; i++) {
            const int t = gr->n[g->nodes[k]].in[i];
            split = t >= 0 && d->l->slot_of[t] == slot && gr->t[t].producer >= 0 ? &gr->n[gr->t[t].producer] : NULL;
        }
    for (int o = 0; split && o < split->nout; o++) {
        const struct tensor *t = split->out[o] < 0 ? NULL : &gr->t[split->out[o]];
        for (int u = 0, first = -1; t && u < t->nusers; u++) {
            const int at = d->group_of[t->users[u]];
            const int number = at < 0 || parts_read(d, &d->groups[at], c) != 1 ? -1 : part_named(d, &d->groups[at]);
            if (first >= 0 && number >= 0 && abs(number - first) >= c->nouts)
                return true;
            first = first < 0 ? number : first;
        }
    }
    return false;
}

/* Of equal splits the file has one, without a text. Their parts are numbered as the program was traced, "getitem_2" and
 * "getitem_3" behind "getitem" and "getitem_1", and anew where what they show was written: that of the split of that
 * name. -1: it is no such part. */
static int
lost_split(struct dynamo *d, const struct group *g, const char *name, int slot)
{
    struct program *p = d->l->p;
    const struct call *c = group_maker(p, slot);
    int number, nth = 0;
    if (!c || c->stack || c->nouts < 2 || !target_named(c->target, "split") || !spelled_as(name, "getitem") ||
        group_of_written(p, c) || parts_read(d, g, c) != 1 || !is_split_twice(d, g, c, slot))
        return -1;
    while (nth < c->nouts && c->outs[nth] != slot)
        nth++;
    fx_number(name, &number);
    if ((number -= nth) < 0)
        return -1;
    const int first = c->outs[0];
    int at = p->ncalls;
    bool any = false;
    for (const struct split *s = d->splits; s < d->splits + d->nsplits; s++) {
        if (s->first != first)
            continue;
        if (abs(s->number - number) < c->nouts) /* parts that nobody reads may have no number */
            return s->outs[nth];
        const int other = (int)(group_maker(p, s->outs[0]) - p->calls);
        at = s->number > number && other < at ? other : at;
        any = true;
    }
    struct call again = *c;
    if (any) {
        lower_results(d->l, &again, again.nouts);
        *PUSH(d->l->a, p->calls, p->ncalls, p->cap_calls) = again;
        group_move(d, p->ncalls - 1, at);
    }
    *PUSH(d->l->a, d->splits, d->nsplits, d->cap_splits) = (struct split){first, number, again.outs};
    return again.outs[nth];
}

/* Whether the reader's line writes an operator more often than it was called there, and will be; where it is part of a
 * statement, which goes on in lines that have left no call, once at least. */
static bool
writes_unmade(const struct dynamo *d, const struct group *g, const char *target)
{
    const char *stack = d->l->g->n[g->last].stack;
    if (!stack || python_in_torch(stack))
        return false;
    const char *line = fx_line(d->l->a, stack);
    int written = python_times(line, target);
    written += !written && !python_complete(line) && !target_is(target, TARGET_VIEWS | TARGET_REORDERS);
    return written && written > called_there(d, g, stack, target);
}

/* Whether what a line adds or multiplies leaves no call: a number of 1 or 0, or the first term of Python's sum, but for
 * one of the function that makes each term. */
static bool
changes_nothing(struct dynamo *d, const struct group *g, const char *name, const struct call *maker)
{
    const struct param *number = left_learned(d, g, name);
    if (number)
        return !reads_twin(d, g, name, number, maker);
    const char *terms = spelled_as(name, "add") ? python_sums(fx_line_at(d, g->last)) : NULL;
    const bool own = terms && terms[strcspn(terms, "()")] == '(' && maker && target_named(maker->target, "add") &&
                     !spelled_as(target_bare(g->target), "add");
    return terms && !own;
}

/* "total += f(x)" of a number: in what that made, "add_1" of "add", which the line of the next round reads first; and
 * "x + y + z", of which the last is one. */
static bool
adds_to_number(struct dynamo *d, const struct group *g, const char *name, const char *was, const struct call *maker)
{
    const char *line = fx_line_at(d, g->last);
    int number, before;
    line += strspn(line, " ");
    const char *made = maker && maker->stack ? fx_line(d->l->a, maker->stack) : NULL;
    if (!was || !spelled_as(name, "add") || !spelled_as(was, "add") ||
        fx_number(name, &number) != fx_number(was, &before))
        return false;
    return (starts_with(line + python_name(line), " += ") && number == before + 1) ||
           (made && number > before && python_adds_on(made) &&
            left_writes_more(d, maker, maker->stack, made, maker->target));
}

/* The frames in which that call ran again for the group; counted: numbers show when. NULL no line shows them. */
static const char *
stack_of_duplicate(struct dynamo *d, const struct group *g, const struct call *m, bool counted)
{
    struct arena *a = d->l->a;
    const char *reader = d->l->g->n[g->last].stack,
               *stack = reader ? python_again(a, m->target, m->stack, reader) : NULL;
    if (stack && !starts_with(reader, stack) && !runs_class(d, g, m, stack))
        stack = NULL;
    if (stack && starts_with(reader, stack) && writes_unmade(d, g, m->target))
        stack = reader; /* of the frames around it, too, which are further from where it is read */
    if (stack && !(counted && strcmp(stack, reader) == 0))
        return stack;
    const bool inside = m->stack && reader && python_shares(a, fx_line(a, m->stack), fx_line(a, reader)) &&
                        !python_writes(fx_line(a, m->stack), m->target);
    if (!counted &&
        (inside || writes_unmade(d, g, m->target))) /* a function of both lines makes its own in each call */
        return reader;
    if (python_is_traced(m->stack) && !python_is_traced(reader)) /* and again outside the region */
        return reader;
    return in_another(d, g, m) >= 0 ? m->stack : NULL; /* of its class: the line ran there, too */
}

/* Whether a cast that a merged call reads ran again with it, as numbers say that one did, and not once for both, as the
 * alternative has it. */
static bool
cast_again(struct lowering *l)
{
    program_assume(l->p, ALTERNATIVE_REMADE,
                   "casts that calls read which the exporter merged with equal ones ran again with them, where numbers "
                   "of names say that there were more");
    return !setup_instead(l->s, ALTERNATIVE_REMADE);
}

/* What the statement of a call made that ran in another module, too, as it made it there. */
static int
statement_again(struct dynamo *d, const struct group *g, const struct call *made, int another, int slot)
{
    const struct program *p = d->l->p;
    const struct call *m = group_maker(p, slot);
    if (!m || m->outs[0] != slot || m->scope != made->scope || !m->stack || strcmp(m->stack, made->stack) != 0 ||
        d->again == MAX_DEPTH)
        return slot;
    const int there = made_there(p, m, p->modules[another].path, m->stack);
    return there >= 0 ? there : maker_again(d, g, spelled_root(d->l->a, m->target), slot);
}

/* What the call reads that runs again is made again, too, as its stack (NULL not known), the module in_another or
 * numbers tell. Whether any is as numbers alone do, on its own line. */
static bool
operands_again(struct dynamo *d, const struct group *g, const struct call *made, struct call *again, const char *stack,
               int another, bool rounds)
{
    const struct node *reader = &d->l->g->n[g->last];
    const char *line = stack && !rounds && !python_in_torch(stack) ? stack : reader->stack;
    const bool known = made->stack && reader->stack && (stack || strcmp(made->stack, reader->stack) == 0),
               spread = target_is(again->target, TARGET_VIEWS) && !target_is(again->target, TARGET_KEEPS);
    bool follows = false;
    for (int k = 0; k < again->nargs; k++) {
        struct arg *arg = &again->args[k];
        const int64_t was = made->args[k].i;
        if (arg->kind != ARG_SLOT)
            continue;
        const struct param *q = left_merged_param(d, g, (int)arg->i, spread);
        if (q)
            arg->i = q->slot;
        if (arg->i == was && (rounds || (stack && reader->stack && strcmp(stack, reader->stack) == 0)))
            arg->i = operand_in_round(d, g, (int)was, rounds);
        if (arg->i == was && another >= 0)
            arg->i = statement_again(d, g, made, another, (int)was);
        if (arg->i == was && known && !q)
            arg->i = again_read(d, g, made, line, rounds, (int)was);
        if (arg->i != was)
            continue;
        arg->i = counted_again(d, g, (int)was);
        follows |= arg->i != was;
        const struct call *cast = group_maker(d->l->p, (int)was);
        if (arg->i == was && is_cast_of_more(d, cast) && d->again < MAX_DEPTH && cast_again(d->l))
            arg->i = maker_again(d, g, spelled_root(d->l->a, cast->target), (int)was);
    }
    const struct call *operand =
        again->nargs && again->args[0].kind == ARG_SLOT ? group_maker(d->l->p, (int)again->args[0].i) : NULL;
    if (operand && operand->scope == made->scope && again->args[0].i == made->args[0].i &&
        !left_out_behind(d, operand) && began_again(d, operand) && has_gradient(d->l, operand->outs[0]) &&
        assume_remade(d->l))
        again->args[0].i = maker_again(d, g, spelled_root(d->l->a, operand->target), (int)again->args[0].i);
    return follows;
}

/* Whether a call that no line shows is taken to have run right behind the one that it was merged with, as the
 * alternative has it, and not where it is read: it ran at one of these, or between. */
static bool
ran_early(struct dynamo *d, const struct group *g, const struct call *again)
{
    const struct node *reader = &d->l->g->n[g->last];
    if (!again->op || !again->op->grad || target_is(again->target, TARGET_VIEWS | TARGET_REORDERS) ||
        !left_read_beside(d->l->a, again->stack, reader->stack))
        return false;
    left_assume_merged(d->l->p);
    return setup_instead(d->l->s, ALTERNATIVE_MERGED);
}

/* Whether what is made of sizes alone ran on its maker's line, again: the reader's is behind it in its function, and no
 * loop goes back there. */
static bool
ran_on_line(struct dynamo *d, const struct group *g, const struct call *made, const struct call *again)
{
    const struct program *p = d->l->p;
    const struct node *reader = &d->l->g->n[g->last];
    if (!again->op || !again->op->shaped || again->op->grad || !again->stack || !reader->stack ||
        strcmp(again->stack, made->stack) != 0 || !python_earlier(d->l->a, made->stack, reader->stack))
        return false;
    bool back = false;
    for (const struct call *c = group_maker(p, made->outs[0]) + 1; c < p->calls + p->ncalls && !back; c++)
        back = c->stack && strcmp(c->stack, made->stack) != 0 && python_earlier(d->l->a, c->stack, made->stack);
    return !back;
}

int
again_duplicate(struct dynamo *d, const struct group *g, const char *name, int slot, const char *was)
{
    struct program *p = d->l->p;
    bool item = was && spelled_as(name, "getitem") && spelled_as(was, "getitem");
    const struct call *maker = group_maker(p, slot);
    if (changes_nothing(d, g, name, maker) || adds_to_number(d, g, name, was, maker))
        return left_identity(d, g, name, slot);
    int nth = 0;
    if (item && maker) {
        while (nth < maker->nouts - 1 && maker->outs[nth] != slot)
            nth++;
        name = first_item(d->l->a, name, nth);
        const struct call *twin = called_again(p, maker, name);
        if (twin)
            return twin->outs[nth];
    }
    const int part = lost_split(d, g, name, slot);
    if (part >= 0)
        return part;
    if (!maker || maker->outs[nth] != slot || (!item && !spelled_after(name, maker->target))) {
        int norm =
            maker && target_named(maker->target, "_weight_norm_interface") ? computed_norm_again(d, g, name) : -1;
        return norm >= 0 ? norm : left_identity(d, g, name, slot);
    }
    const struct aten *writes = aten_find(g->target); /* what is written was there before: a reshape's copy, too */
    const bool view = target_is(maker->target, TARGET_VIEWS | TARGET_REORDERS);
    if ((spelled(name, IS_COPY) && writes && writes->writes == WRITES_PART) || maker->anew ||
        left_for_reader(p, maker) || spelled_ends_statement(maker->target))
        return slot;
    const struct call made = *maker; /* what it reads is made again before it, and moves it */
    struct call again = call_again(d->l, maker);
    again.name = name;
    again.scope = lower_module(d->l, g->path ? g->path : "", g->type); /* where it is read */
    const struct node *reader = &d->l->g->n[g->last];
    int before, later;
    ran_between(d, name, &before, &later);
    const bool counted = later >= 0 && !view &&
                         !(p->calls[later].stack && reader->stack && !strcmp(p->calls[later].stack, reader->stack));
    const char *stack = stack_of_duplicate(d, g, maker, counted);
    const int another = in_another(d, g, maker);
    if (stack && another >= 0)
        again.scope = another;
    if (stack && ran_all(d, g, maker, stack) && ran_behind(d, g, maker))
        stack = NULL;
    struct runs runs;
    const bool copied = !stack && (find_copy(d, g, maker, &runs) || find_rerun(d, g, maker, &runs) ||
                                   find_whole(d, g, maker, name, &runs));
    if (copied) {
        const char *path = path_moved(d->l->a, p->modules[made.scope].path, runs.module, runs.again);
        again.scope = lower_module(d->l, path, p->modules[made.scope].type);
        stack = stack_again(d->l->a, &runs, made.stack);
    }
    const bool rounds = !stack && ran_behind(d, g, maker);
    if (rounds)
        stack = made.stack;
    if (!stack && view && group_of_written(p, maker))
        return slot; /* made anew for each reader, as made_for_reader says */
    if (stack) {
        again.stack = stack;
        again.frames = fx_frames(d->l->a, stack);
        again.location = fx_location(d->l->a, stack);
    }
    if (stack || fx_count_frames(again.stack) <= fx_count_frames(reader->stack)) /* the reader's module ran it */
        again.scopes = reader->scopes;
    if (copied || (stack && (find_runs(d, g, maker, stack, &runs) || find_call_again(d, g, maker, stack, &runs))))
        for (int k = 0; k < again.nargs; k++)
            locals_again(d, g, &runs, &again.args[k]);
    const bool whole = copied && runs.whole;
    if (whole)
        put_whole(d, &runs);
    const bool follows = operands_again(d, g, &made, &again, stack, another, rounds);
    ran_between(d, name, &before, &later);
    const bool other = detach_other(d, g, &again), early = !stack && !other && !counted && ran_early(d, g, &again);
    const bool behind = early || other || (!stack && ran_on_line(d, g, &made, &again)) ||
                        next_read(&(struct call_reads){.call = &again}) < 0; /* the line behind */
    const int first = p->ncalls, i = (int)(group_maker(p, slot) - p->calls);
    const bool elsewhere = !stack && parts_outermost(d->l->a, made.stack, reader->stack);
    *PUSH(d->l->a, p->calls, p->ncalls, p->cap_calls) = again;
    const int before_module = stack ? before_called(d, g, first, made.scope) : -1;
    if (before_module >= 0)
        group_move(d, first, behind_operands(p, first, before_module));
    else if (stack)
        group_move(d, first, behind_operands(p, first, whole ? 0 : before_later(d, g, first)));
    else if (other)
        group_move(d, first - 1, i + 1); /* with what is detached for it */
    else if (behind || follows || counted)
        group_move(d, first, behind_operands(p, first, (!behind && counted && before > i ? before : i) + 1));
    else if ((view && reader->stack) || elsewhere)
        p->calls[first].stack = python_is_traced(reader->stack) ? reader->stack : NULL; /* of a line not known */
    return again.outs[nth];
}

/* The stack down to the innermost of the outer frames whose line calls it among the arguments of what runs; NULL
 * none. */
static const char *
argument_frame(struct arena *a, const char *stack, const char *stem)
{
    for (const char *s = stack; s && python_frame(s);) {
        s = fx_outer(a, s);
        const char *line = fx_line(a, s), *behind = python_calls(line, stem);
        int open = 0;
        for (const char *p = line; behind && p < behind; p++)
            open += (*p == '(') - (*p == ')');
        if (open > 1)
            return s;
    }
    return NULL;
}

/* "x.clone().detach()": two calls that left nothing, and one name. */
static bool
clones_before(const char *line, const char *stem)
{
    static const char clone[] = ".clone().";
    const size_t before = strlen(stem) + 1 + strlen(clone);
    bool all = python_calls(line, stem) != NULL;
    for (const char *p = line; all && (p = python_calls(p, stem));)
        all = (size_t)(p - line) > before && strncmp(p - before, clone, strlen(clone)) == 0;
    return all;
}

int
again_traceless(struct dynamo *d, const struct group *g, const char *name, int slot)
{
    const struct traceless *row = spelled_traceless(name);
    const struct call *before = row ? group_maker(d->l->p, slot) : NULL;
    if (!row || (before && spelled_after(name, before->target))) /* merged with it, or resolve_last's */
        return slot;
    const char *stack = d->l->g->n[g->last].stack, *line = fx_line_at(d, g->last);
    slot = again_read(d, g, NULL, stack, false, slot);
    if (clones_before(line, row->stem)) {
        struct call *clone = group_call(d, g, "aten.clone.default", 1);
        clone->args[0] = (struct arg){.kind = ARG_SLOT, .i = slot};
        slot = clone->outs[0];
    }
    struct call *c = group_call(d, g, row->target, 1);
    c->args[0] = (struct arg){.kind = ARG_SLOT, .i = slot};
    if (row->list)
        c->args[0] = (struct arg){.kind = ARG_LIST, .n = 1, .list = arena_dup(d->l->a, c->args, sizeof(*c->args))};
    const char *outer = argument_frame(d->l->a, stack, row->stem);
    const int made = c->outs[0];
    if (outer) {
        c->stack = outer;
    } else if (!python_calls(line, row->stem)) {
        const char *name = row->list ? python_operand(d->l->a, line, g->target) : NULL;
        const char *called = arena_printf(d->l->a, "torch.%s", row->stem);
        left_put_on_line(d, g, slot, row->stem, false, name ? fx_lost_line(d->l->a, stack, name, called) : NULL);
    }
    return made;
}

int
again_resolve(struct dynamo *d, const struct group *g, const char *name, int tensor)
{
    struct lowering *l = d->l;
    const struct node *reader = &l->g->n[g->last];
    int slot = again_traceless(d, g, name, l->slot_of[tensor]);
    if (slot != l->slot_of[tensor])
        return slot;
    const struct call *c = group_maker(l->p, slot);
    const char *stem = c ? spelled_root(l->a, c->target) : "";
    if (!c || c->outs[0] != slot || !c->stack || !reader->stack || strcmp(c->stack, reader->stack) == 0 ||
        !python_calls(fx_line(l->a, reader->stack), stem))
        return slot;
    for (int i = 0; i < d->ngroups; i++)
        if (strcmp(d->groups[i].target, c->target) == 0 && group_same_statement(d, g->last, d->groups[i].last))
            return slot;
    return again_duplicate(d, g, c->name, slot, NULL);
}

/* What the noise of a dropout of whole channels takes its sizes and type from; NULL: it is no such noise. Source:
 * make_feature_noise in aten/src/ATen/native/Dropout.cpp. */
static struct arg *
noise_like(const struct program *p, int64_t slot)
{
    const struct call *c = group_maker(p, slot);
    for (int n = 0; n < MAX_DEPTH && c && c->nargs && c->args[0].kind == ARG_SLOT; n++) {
        if (spelled_alone(c->target))
            return &c->args[0];
        c = group_maker(p, c->args[0].i);
    }
    return NULL;
}

void
again_noise(const struct program *p)
{
    for (const struct call *c = p->calls; c < p->calls + p->ncalls; c++) {
        if (c->nargs < 2 || c->args[0].kind != ARG_SLOT || c->args[1].kind != ARG_SLOT ||
            !spelled(target_bare(c->target), MULTIPLIES))
            continue;
        const int64_t other = c->args[0].i;
        struct arg *like = noise_like(p, c->args[1].i);
        const struct call *had = like ? group_maker(p, like->i) : NULL, *has = had ? group_maker(p, other) : NULL;
        if (has && has->rank == had->rank && has->rank >= 0 &&
            memcmp(has->size, had->size, sizeof(*has->size) * (size_t)has->rank) == 0)
            like->i = other;
    }
}
