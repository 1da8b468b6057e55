/* SPDX-License-Identifier: Apache-2.0 */
/* unread.c - what a model computes and nobody reads: the exporter leaves it out, and PyTorch runs it.
 *
 * The last of several layers often makes for nobody what the others hand on, "return x + a, e + b". It has the calls of
 * the layer before, but for these, which are put back. So does a loop's last round, "y = read(m); m = write(m, x)".
 *
 * A line that runs in several modules of a class, or several times, makes the same calls each time. Where one time it
 * made some of them and not the others, these were made for nobody: "return a @ w, b @ w" of which one result is read.
 * That is asked of products alone, since what is done element by element may have been merged or left out.
 */
#include "lower/dynamo.h"
#include "torch/torch.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* ---- layers of a list -------------------------------------------------------------------------------------------- */

struct repeat { /* two modules of one class, one behind the other in a list, with what the loop does behind each; or two
                 * rounds of a loop */
    struct dynamo *d;
    const char *module, *again; /* empty: rounds, whose modules and parameters are */
    const char *number, *next;  /* those of these numbers in lists; NULL the same */
    const struct param **param; /* per slot */
    bool *of, *of_again;        /* per call of the program: whether it is one of theirs */
    int *twin;                  /* per call of the first one, that of the second; -1 none */
    int *slot;                  /* per slot of the first one, that of the second; -1 none */
    int first;                  /* slot of what is put back */
    bool sized, weighed;        /* what their calls make, and their parameters, have the same sizes */
    int nlike, cap_like;
    struct like {
        struct param *own;
        const struct param *of;
    } * like; /* parameters that are read by what is put back, and those of the first module */
};

/* "gconv.3.weight" of "gconv.2.weight", and "conv3.weight" of "conv2.weight"; the path itself where no part ends with
 * that number. */
static const char *
path_of_next(const struct repeat *r, const char *path)
{
    const size_t n = strlen(r->number);
    for (const char *p = path, *at; *p; p += *p == '.') {
        p += strcspn(p, ".");
        for (at = p; at > path && isdigit((unsigned char)at[-1]);)
            at--;
        if ((size_t)(p - at) == n && strncmp(at, r->number, n) == 0)
            return arena_printf(r->d->l->a, "%.*s%s%s", (int)(at - path), path, r->next, p);
    }
    return path;
}

/* What is to the second one what that is to the first; the path itself where the loop is. */
static const char *
path_there(const struct repeat *r, const char *path)
{
    const char *moved = *r->module ? path_moved(r->d->l->a, path, r->module, r->again) : NULL;
    return moved ? moved : r->number ? path_of_next(r, path) : path;
}

static void
pair_slots(struct repeat *r, int slot, int twin)
{
    if (r->slot[slot] < 0)
        r->slot[slot] = twin;
}

/* Whether they read the same: the parameters of each, and what is known to be of both. */
static bool
read_twins(const struct repeat *r, const struct call *c, const struct call *other)
{
    struct call_reads reads = {c}, twins = {other};
    int a, b = -1;
    while ((a = next_read(&reads)) >= 0 && (b = next_read(&twins)) >= 0) {
        const struct param *q = r->param[a], *o = r->param[b];
        const int twin = q ? -1 : r->slot[a];
        if (!q != !o || (q && strcmp(path_there(r, q->name), o->name) != 0) || (twin >= 0 && twin != b))
            return false;
    }
    return a < 0 && next_read(&twins) < 0;
}

static bool
are_twins(const struct repeat *r, const struct call *c, const struct call *other)
{
    const struct module *m = r->d->l->p->modules;
    return strcmp(c->target, other->target) == 0 &&
           strcmp(path_there(r, m[c->scope].path), m[other->scope].path) == 0 &&
           (c->stack && other->stack ? strcmp(c->stack, other->stack) == 0 : c->stack == other->stack) &&
           read_twins(r, c, other);
}

static bool
same_sizes(int rank, const int64_t *size, int other_rank, const int64_t *other)
{
    return rank == other_rank && (rank < 1 || memcmp(size, other, sizeof(*size) * (size_t)rank) == 0);
}

static void
pair_calls(struct repeat *r, const struct call *c, const struct call *other)
{
    struct call_reads reads = {c}, twins = {other};
    for (int a, b; (a = next_read(&reads)) >= 0 && (b = next_read(&twins)) >= 0;) {
        const struct param *q = r->param[a], *o = r->param[b];
        r->weighed &= !q || !o || same_sizes(q->rank, q->size, o->rank, o->size);
        pair_slots(r, a, b);
    }
    for (int k = 0; k < c->nouts && k < other->nouts; k++)
        pair_slots(r, c->outs[k], other->outs[k]);
    r->sized &= same_sizes(c->rank, c->size, other->rank, other->size);
}

static int
next_of(const struct program *p, const bool *of, int i)
{
    while (i < p->ncalls && !of[i])
        i++;
    return i;
}

/* Whether the second one has the calls of the first, in order, and fewer. */
static bool
find_twins(struct repeat *r)
{
    const struct program *p = r->d->l->p;
    int next = next_of(p, r->of_again, 0), missing = 0;
    for (int i = next_of(p, r->of, 0); i < p->ncalls; i = next_of(p, r->of, i + 1)) {
        const struct call *c = &p->calls[i], *other = &p->calls[next];
        if (next == p->ncalls || !are_twins(r, c, other)) {
            missing++;
            continue;
        }
        pair_calls(r, c, other);
        r->twin[i] = next;
        next = next_of(p, r->of_again, next + 1);
    }
    return missing && next == p->ncalls;
}

/* Whether a call of the module that has a twin reads what this one makes; outside: one that is none of the module's. */
static bool
is_read(const struct repeat *r, const struct call *made, const bool *of, bool outside)
{
    const struct program *p = r->d->l->p;
    int slot;
    for (int i = (int)(made - p->calls) + 1; i < p->ncalls; i++)
        for (struct call_reads reads = {&p->calls[i]}; (slot = next_read(&reads)) >= 0;)
            for (int k = 0; k < made->nouts; k++)
                if (slot == made->outs[k] && (outside ? !of[i] : of[i] && r->twin[i] >= 0))
                    return true;
    return false;
}

/* Whether what the second one has not was made for nobody: none of its calls would read it, and, unless it surely ran,
 * what is read of it outside is read of the first one, too, which else hands on what it makes of that. */
static bool
is_unread(const struct repeat *r, bool ran)
{
    const struct program *p = r->d->l->p;
    bool takes = false;
    for (int i = next_of(p, r->of, 0); i < p->ncalls; i = next_of(p, r->of, i + 1)) {
        const struct call *c = &p->calls[i];
        if (r->twin[i] < 0
                ? is_read(r, c, r->of, false)
                : !ran && is_read(r, &p->calls[r->twin[i]], r->of_again, true) && !is_read(r, c, r->of, true))
            return false;
        takes |= r->twin[i] < 0 && !target_is(c->target, TARGET_VIEWS | TARGET_KEEPS | TARGET_REORDERS);
    }
    return takes;
}

/* What the second one reads in its place; -1 not known. */
static int
twin_operand(struct repeat *r, int slot)
{
    const struct param *q = slot < r->first ? r->param[slot] : NULL;
    const char *path = q ? path_there(r, q->name) : NULL;
    struct param *own = path ? params_called(r->d, path) : NULL;
    if (!path || strcmp(path, q->name) == 0)
        return q ? slot : r->slot[slot];
    if (!own || (own->rank < 0 && !r->weighed))
        return -1;
    *PUSH(r->d->l->a, r->like, r->nlike, r->cap_like) = (struct like){own, q};
    return own->slot;
}

static bool
twin_args(struct repeat *r, struct arg *args, int n)
{
    bool known = true;
    for (int i = 0; i < n && known; i++) {
        if (args[i].kind == ARG_LIST && args[i].n) {
            args[i].list = arena_dup(r->d->l->a, args[i].list, sizeof(*args[i].list) * (size_t)args[i].n);
            known = twin_args(r, args[i].list, args[i].n);
        } else if (args[i].kind == ARG_SLOT && args[i].i >= 0) {
            known = (args[i].i = twin_operand(r, (int)args[i].i)) >= 0;
        }
    }
    return known;
}

/* "['', 'layers', 'layers.3', 'layers.3.fc']" of the second one. */
static const char *
scopes_there(const struct repeat *r, const char *scopes)
{
    struct arena *a = r->d->l->a;
    const char *moved = "", *end;
    for (const char *p; (p = strchr(scopes, '\'')) && (end = strchr(p + 1, '\'')); scopes = end + 1)
        moved = arena_printf(a, "%s%.*s%s'", moved, (int)(p + 1 - scopes), scopes,
                             path_there(r, arena_strn(a, p + 1, (size_t)(end - p - 1))));
    return arena_printf(a, "%s%s", moved, scopes);
}

/* The call as the second one makes it. False: what it reads there is not known. */
static bool
make_twin(struct repeat *r, struct call *c)
{
    struct lowering *l = r->d->l;
    if (c->attribute || c->anew || (!r->sized && (!c->op || c->op->shaped)))
        return false;
    c->rank = r->sized ? c->rank : -1;
    c->args = arena_dup(l->a, c->args, sizeof(*c->args) * (size_t)(c->nargs ? c->nargs : 1));
    if (!twin_args(r, c->args, c->nargs) || (c->in_place && c->args[0].i < r->first)) /* no other's tensor */
        return false;
    const int *outs = c->outs;
    lower_results(l, c, c->nouts);
    for (int k = 0; k < c->nouts; k++)
        pair_slots(r, outs[k], c->outs[k]);
    const struct module *m = &l->p->modules[c->scope];
    c->scope = lower_module(l, path_there(r, m->path), m->type);
    c->scopes = c->scopes ? scopes_there(r, c->scopes) : NULL;
    c->name = NULL;
    c->unread = r->again;
    return true;
}

/* certain: nothing else can have left it out. */
static void
put_back(struct repeat *r, bool certain)
{
    struct program *p = r->d->l->p;
    const int ncalls = p->ncalls;
    struct call *made = NEWN(r->d->l->a, struct call, ncalls + 1);
    int *behind = NEWN(r->d->l->a, int, ncalls + 1), n = 0, last = next_of(p, r->of_again, 0) - 1;
    for (int i = next_of(p, r->of, 0); i < ncalls; i = next_of(p, r->of, i + 1)) {
        last = r->twin[i] >= 0 ? r->twin[i] : last;
        if (r->twin[i] >= 0)
            continue;
        made[n] = p->calls[i];
        if (!make_twin(r, &made[n]))
            return;
        behind[n++] = last;
    }
    for (const struct like *k = r->like; k < r->like + r->nlike; k++) {
        params_sized(r->d->l, k->own, k->of->rank, k->of->size);
        k->own->dtype = k->of->dtype;
        r->d->referenced[k->own - p->params] = true;
    }
    if (!certain)
        program_assume(p, ALTERNATIVE_UNREAD,
                       "the last of several layers makes what the others hand on, though nobody reads it");
    for (int i = 0; i < n && (certain || !setup_instead(r->d->l->s, ALTERNATIVE_UNREAD)); i++) {
        const int at = behind[i] + 1 + i;
        lower_call_at(r->d->l, at, at - 1, made[i].target, 0);
        p->calls[at] = made[i];
    }
}

/* Whether a line of the loop made it, which stands behind the one that calls the module. */
static bool
is_behind(const struct repeat *r, const struct call *c, const struct call *module)
{
    return c->stack && module->stack && path_within(r->module, r->d->l->p->modules[c->scope].path) &&
           python_earlier(r->d->l->a, module->stack, c->stack);
}

/* loop: with its lines, behind the first module up to the second, and again behind that. */
static void
find_calls(struct repeat *r, bool loop)
{
    const struct program *p = r->d->l->p;
    int first = -1, last = -1;
    for (int c = 0; c < p->ncalls; c++) {
        const bool same = c > 0 && p->calls[c].scope == p->calls[c - 1].scope;
        r->of[c] = same ? r->of[c - 1] : path_within(p->modules[p->calls[c].scope].path, r->module);
        r->of_again[c] = same ? r->of_again[c - 1] : path_within(p->modules[p->calls[c].scope].path, r->again);
        first = first < 0 && r->of_again[c] ? c : first;
        last = r->of[c] ? c : last;
    }
    for (int c = last + 1; c < first && loop; c++) {
        r->of[c] |= is_behind(r, &p->calls[c], &p->calls[last]);
        for (int k = first + 1; k < p->ncalls && r->of[c]; k++)
            r->of_again[k] |= p->calls[k].stack && strcmp(p->calls[k].stack, p->calls[c].stack) == 0;
    }
}

static void
begin(struct repeat *r, struct arena *a)
{
    const size_t n = (size_t)r->d->l->p->ncalls;
    r->of = NEWN(a, bool, n);
    r->of_again = NEWN(a, bool, n);
    r->twin = NEWN(a, int, n);
    memset(r->twin, -1, sizeof(int) * n);
    r->first = r->d->l->p->nslots;
    r->slot = NEWN(a, int, r->first);
    memset(r->slot, -1, sizeof(int) * (size_t)r->first);
    r->sized = r->weighed = true;
}

/* Whether they differ by what nobody reads. */
static bool
is_repeat(struct repeat *r, struct arena *a, bool loop)
{
    begin(r, a);
    find_calls(r, loop);
    return find_twins(r) && is_unread(r, false);
}

static void
unread_layers(struct dynamo *d)
{
    struct program *p = d->l->p;
    struct arena *a = arena_new();
    const int nmodules = p->nmodules;
    int *calls = NEWN(a, int, nmodules + 1);
    struct last { /* two modules inside of one, in the order in which they run; 0 none */
        int before, own;
    } *last = NEWN(a, struct last, nmodules + 1);
    for (int i = 0; i < p->ncalls; i++)
        for (int at = p->calls[i].scope; at >= 0; at = p->modules[at].parent)
            calls[at]++;
    for (int i = 1; i < nmodules; i++)
        if (calls[i] && p->modules[i].parent >= 0)
            last[p->modules[i].parent] = (struct last){last[p->modules[i].parent].own, i};
    for (int i = 0; i < nmodules; i++) {
        const struct module *m = &p->modules[last[i].before], *again = &p->modules[last[i].own];
        if (!last[i].before || !m->type || !again->type || strcmp(m->type, again->type) != 0 ||
            starts_with(m->type, "torch.") || calls[last[i].own] > calls[last[i].before])
            continue;
        struct repeat r = {.d = d, .module = m->path, .again = again->path, .param = program_params(p, a)};
        if (is_repeat(&r, a, true) || (calls[last[i].own] < calls[last[i].before] && is_repeat(&r, a, false)))
            put_back(&r, false);
    }
    arena_free(a);
}

/* ---- rounds of a loop -------------------------------------------------------------------------------------------- */

/* A loop in the run of a function, where a line runs again behind a later one. */
struct loop {
    int level, line;           /* the frame that has it, and the line of a round's first call */
    int earlier, before, last; /* the first calls of its last three rounds; of two, the first one's twice */
};

/* The first level at which their frames differ; ends at the shorter one's. */
static int
part_at(const char **frames, const char **other)
{
    int k = 0;
    while (frames[k] && other[k] && (frames[k] == other[k] || strcmp(frames[k], other[k]) == 0))
        k++;
    return k;
}

/* The line of the loop in which the call runs; 0 it doesn't, or not in its run of the function. */
static int
line_in(const struct program *p, const struct loop *o, const struct call *c)
{
    const char **own = p->calls[o->last].frames, **there = c->frames;
    if (!there)
        return 0;
    const int k = part_at(own, there);
    if (k < o->level || !there[o->level] || !python_same_function(own[o->level], there[o->level]))
        return 0;
    const int line = python_frame_line(there[o->level]);
    return line >= o->line ? line : 0;
}

/* Whether its last round has fewer calls than the one before; marks both, NULL none. */
static bool
mark_rounds(const struct program *p, const struct loop *o, bool *of, bool *of_again)
{
    int most = 0, fewer = 0, line;
    for (int i = o->before; i < o->last; i++)
        if ((line = line_in(p, o, &p->calls[i]))) {
            most = line > most ? line : most;
            fewer++;
            if (of)
                of[i] = true;
        }
    for (int i = o->last; i < p->ncalls && (line = line_in(p, o, &p->calls[i])) && line <= most; i++) {
        fewer--;
        if (of)
            of_again[i] = true;
    }
    return fewer > 0;
}

/* Whether no condition can have kept the last round from what it has not: that would be a line that left no call. A
 * view alone is no round, but made again of what was written since. */
static bool
is_unconditional(const struct repeat *r, const struct loop *o)
{
    const struct program *p = r->d->l->p;
    bool whole = true, round = false;
    for (int i = o->before; i < o->last && whole; i++) {
        round |= r->of[i] && r->twin[i] >= 0 && !target_is(p->calls[i].target, TARGET_VIEWS | TARGET_REORDERS);
        const int line = r->of[i] && r->twin[i] < 0 ? line_in(p, o, &p->calls[i]) : o->line;
        whole = line == o->line;
        for (int k = o->before; k < o->last && !whole; k++)
            whole = r->of[k] && line_in(p, o, &p->calls[k]) == line - 1;
        whole &= r->twin[i] >= 0 || !r->of[i] || !p->calls[i].stack || !strstr(p->calls[i].stack, " if ");
    }
    return whole && round;
}

/* What was made outside of the loop, or in its first rounds for all, is read by each round. */
static void
keep_slots(struct repeat *r, const struct loop *o)
{
    const struct program *p = r->d->l->p;
    for (int i = 0; i < o->before; i++) {
        const struct call *c = &p->calls[i];
        const bool outside = i < o->earlier || !line_in(p, o, c);
        for (int k = 0; k < c->nouts && outside; k++)
            pair_slots(r, c->outs[k], c->outs[k]);
    }
}

/* Whose number in lists each round's modules have: "convs.2", "convs.3". */
static void
find_number(struct repeat *r)
{
    const struct program *p = r->d->l->p;
    int i = next_of(p, r->of, 0), k = next_of(p, r->of_again, 0);
    while (i < p->ncalls && k < p->ncalls) {
        const char *one = p->modules[p->calls[i].scope].path, *other = p->modules[p->calls[k].scope].path;
        const char *end = path_number(one, other);
        if (end) {
            while (end > one && isdigit((unsigned char)end[-1]))
                end--;
            const size_t at = (size_t)(end - one);
            r->number = arena_strn(r->d->l->a, end, strspn(end, "0123456789"));
            r->next = arena_strn(r->d->l->a, other + at, strspn(other + at, "0123456789"));
            return;
        }
        i = next_of(p, r->of, i + 1);
        k = next_of(p, r->of_again, k + 1);
    }
}

/* The module whose function the loop is in, by the first of these calls that its lines make; -1 none. */
static int
runs_loop(const struct program *p, const struct loop *o, const bool *of)
{
    for (int i = next_of(p, of, 0); i < p->ncalls; i = next_of(p, of, i + 1))
        if (!p->calls[i].frames[o->level + 1])
            return p->calls[i].scope;
    return -1;
}

/* Whether these calls are of that module's run of the loop: by those that its lines make, or else by their modules. */
static bool
runs_it(const struct program *p, const struct loop *o, const bool *of, int module)
{
    const int own = runs_loop(p, o, of);
    return module >= 0 &&
           (own < 0 ? path_within(p->modules[p->calls[next_of(p, of, 0)].scope].path, p->modules[module].path)
                    : own == module);
}

static int
by_last(const void *a, const void *b)
{
    return ((const struct loop *)b)->last - ((const struct loop *)a)->last;
}

/* Where lines go back from one call to the next. */
static int
find_loops(const struct program *p, struct arena *a, struct loop **loops)
{
    int n = 0, cap = 0, nopen = 0, cap_open = 0, *open = NULL;
    struct loop *o = NULL;
    int was = -1;
    for (int i = 0; i < p->ncalls; i++) {
        const int from = was;
        const char **now = p->calls[i].frames, **before = from < 0 ? NULL : p->calls[from].frames;
        was = now ? i : was;
        if (!now || !before || now == before)
            continue;
        const int k = part_at(before, now);
        const bool same = now[k] && before[k] && python_same_function(now[k], before[k]);
        const int line = same ? python_frame_line(now[k]) : 0;
        for (const struct loop *last; nopen; nopen--)
            if ((last = &o[open[nopen - 1]])->level < k || (last->level == k && line >= last->line))
                break;
        if (!same || line >= python_frame_line(before[k]) ||
            python_goes_on(a, python_text(a, p->calls[i].stack, k), python_text(a, p->calls[from].stack, k)))
            continue;
        int at = nopen;
        while (at && (o[open[at - 1]].level != k || o[open[at - 1]].line != line))
            at--;
        if (!at) {
            *PUSH(a, open, nopen, cap_open) = n;
            *PUSH(a, o, n, cap) = (struct loop){k, line, -1, -1, i};
        } else {
            struct loop *again = &o[open[at - 1]];
            *again = (struct loop){k, line, again->before, again->last, i};
        }
    }
    for (int i = 0; i < n; i++)
        if (o[i].earlier < 0) { /* its first round went back nowhere */
            struct loop *x = &o[i];
            int first = x->before < 0 ? x->last : x->before;
            while (first && (!p->calls[first - 1].frames || line_in(p, x, &p->calls[first - 1])))
                first--;
            x->before = x->before < 0 ? first : x->before;
            x->earlier = first;
        }
    *loops = o;
    return n;
}

static void
unread_rounds(struct dynamo *d)
{
    const struct program *p = d->l->p;
    struct arena *a = arena_new();
    struct loop *loops;
    const int n = find_loops(p, a, &loops);
    if (n)
        qsort(loops, (size_t)n, sizeof(*loops), by_last); /* what is put back moves what stands behind it */
    for (int i = 0; i < n; i++) {
        const struct loop *o = &loops[i];
        if (!mark_rounds(p, o, NULL, NULL))
            continue;
        struct arena *own = arena_new();
        struct repeat r = {.d = d, .module = "", .again = "", .param = program_params(p, own)};
        begin(&r, own);
        mark_rounds(p, o, r.of, r.of_again);
        if (runs_it(p, o, r.of_again, runs_loop(p, o, r.of))) /* of several of a class, each runs the function once */
            find_number(&r);
        const bool twins = find_twins(&r), ran = twins && is_unconditional(&r, o), unread = twins && is_unread(&r, ran),
                   certain = ran && unread;
        keep_slots(&r, o);
        if (certain || (unread && r.number))
            put_back(&r, certain);
        arena_free(own);
    }
    arena_free(a);
}

/* ---- numbers ----------------------------------------------------------------------------------------------------- */

struct counted { /* an operator */
    const char *target;
    int left, again; /* calls of which the names' numbers alone tell; those made again without a name, or known */
};

/* Roots by which sizes are computed, too. Source: magic_methods in torch/fx/experimental/sym_node.py. */
static const char *const of_sizes[] = {"abs", "ceil", "floor", "neg", "round", "trunc"};

static bool
is_counted(const struct call *c)
{
    bool of_size = !c->op || !aten_elementwise(c->op) || target_is(c->target, TARGET_LOST | TARGET_CLONES);
    for (int i = 0; i < COUNT(of_sizes) && !of_size; i++)
        of_size = target_named(c->target, of_sizes[i]);
    return !of_size;
}

/* What a layer of a library made for nobody, where it is of the first token of each sample alone, and the parameter
 * that is left of it unread. Source: BertPooler in transformers/models/bert/modeling_bert.py. */
static const struct {
    const char *target, *param;
} pooled[] = {{"tanh", "*pooler.dense.weight"}};

/* How many such calls the file's unread parameters account for. */
static int
count_pooled(const struct dynamo *d, const char *target)
{
    const struct program *p = d->l->p;
    int n = 0;
    for (int k = 0; k < COUNT(pooled); k++)
        for (int i = 0; i < p->nparams && target_named(target, pooled[k].target); i++)
            n += !d->referenced[i] && glob_match(pooled[k].param, p->params[i].name);
    return n;
}

/* A call like that one behind it, of which an attribute keeps the result. */
static void
keep_another(struct lowering *l, int at)
{
    struct program *p = l->p;
    struct call *c = lower_call_at(l, at + 1, at, p->calls[at].target, 0);
    *c = p->calls[at];
    lower_results(l, c, c->nouts);
    c->name = NULL;
    c->kept = c->outs[0];
    c->attribute = ++p->nattributes;
}

/* Of what is done element by element and nobody reads, or was merged where no reader shows it, a gap in the numbers of
 * names is left: "exp_2" behind "exp". */
static void
unread_numbers(struct dynamo *d)
{
    struct program *p = d->l->p;
    struct arena *a = arena_new();
    struct names *targets = names_new(a), *named = names_new(a);
    struct counted *counted = NEWN(a, struct counted, p->ncalls + 1);
    int n = 0, *left = NEWN(a, int, p->ncalls + 1);
    bool any = false;
    for (int i = 0; i < p->ncalls; i++) {
        const struct call *c = &p->calls[i];
        if (!is_counted(c))
            continue;
        const bool own = c->name && spelled_after(c->name, c->target);
        int *at = names_id(targets, c->target), *seen = own ? names_id(named, c->name) : NULL;
        if (*at < 0) {
            counted[n].target = c->target;
            counted[n].again = count_pooled(d, c->target);
            *at = n++;
        }
        const int behind = seen && *seen < 0 ? left_behind(d, c->name) : 0;
        left[i] = behind > 0 ? behind : 0;
        counted[*at].left += left[i];
        counted[*at].again += !seen || *seen >= 0;
        if (seen)
            *seen = 0;
    }
    for (int i = 0; i < n; i++)
        if (counted[i].left > counted[i].again) {
            program_assume(p, ALTERNATIVE_UNREAD,
                           "calls of %s of which the numbers of names alone tell (%d) keep nothing",
                           target_bare(counted[i].target), counted[i].left - counted[i].again);
            any = true;
        }
    any = any && setup_instead(d->l->s, ALTERNATIVE_UNREAD);
    for (int i = p->ncalls - 1; i >= 0 && any; i--) {
        struct counted *of = left[i] ? &counted[names_find(targets, p->calls[i].target)] : NULL;
        for (; of && left[i] && of->left > of->again; left[i]--, of->left--)
            keep_another(d->l, i);
    }
    arena_free(a);
}

/* What the signature says was written over, and nothing of the file reads: a batch norm's running statistics, which
 * ran then for nobody, or what a module updates for its next call, as the sums behind a codebook. Source:
 * BUFFER_MUTATION in torch/export/graph_signature.py. */
static void
doubt_updated(struct dynamo *d)
{
    static const char *const beside[] = {"running_var", "num_batches_tracked", "_u", "_v"}; /* told by others */
    const struct program *p = d->l->p;
    const char *updated = strstr(d->l->g->signature, "BUFFER_MUTATION"); /* of training exports alone */
    for (int i = 0; i < p->nparams && updated; i++) {
        const char *name = p->params[i].name;
        const bool norm = ends_with(name, "running_mean");
        bool told = d->referenced[i] || p->params[i].kind != PARAM_BUFFER;
        for (int k = 0; k < COUNT(beside) && !told; k++)
            told = ends_with(name, beside[k]);
        if (told || !strstr(updated, arena_printf(d->l->a, "BUFFER_MUTATION target='%s'", name)))
            continue;
        graph_doubt(
            d->l->g, name, norm ? "batch_norm" : "buffer", "memlint.export", "%s",
            norm ? "it was updated, and no call that is left reads it, so that its layer ran for nobody: what it "
                   "made is not counted"
                 : "it was updated, and no call that is left reads it: what was computed for it is not counted");
        break;
    }
}

void
unread_put_back(struct dynamo *d)
{
    doubt_updated(d);
    unread_layers(d);
    unread_rounds(d);
    unread_numbers(d);
}

/* ---- lines ------------------------------------------------------------------------------------------------------- */

enum { MOST = 8 }; /* operators that a line writes */

/* A line of a class; whole: the fullest of its runs that made each operator as often as the line writes it, or a
 * multiple of that. */
struct written {
    const char *text;
    const struct run *whole;
};

/* A run of it, or several with the same frames: how often each operator ran that the line writes. */
struct run {
    struct written *of;
    const struct call *first;
    int n, calls[MOST];
    const char *target[MOST];
};

/* Whether each part of it runs when it runs, once. */
static bool
is_plain(const char *text)
{
    static const char *const others[] = {" if ", " for ", " and ", " or ", "lambda"};
    bool plain = true;
    for (int i = 0; i < COUNT(others); i++)
        plain &= !strstr(text, others[i]);
    return plain;
}

static void
note(struct run *run, const char *target)
{
    int k = 0;
    while (k < run->n && strcmp(run->target[k], target) != 0)
        k++;
    if (k == MOST)
        return;
    run->target[k] = target;
    run->calls[k]++;
    run->n += k == run->n;
}

static bool
is_whole(const struct run *run)
{
    bool whole = true;
    for (int k = 0; k < run->n && whole; k++)
        whole = run->calls[k] % python_times(run->of->text, run->target[k]) == 0;
    return whole;
}

/* An operator of which this run has not as many as the line writes, or none beside others, and a whole one has; NULL
 * none. */
static const char *
missing(const struct run *run)
{
    const struct run *whole = run->of->whole;
    for (int k = 0; k < whole->n; k++) {
        int ran = 0;
        for (int i = 0; i < run->n; i++)
            ran += strcmp(run->target[i], whole->target[k]) == 0 ? run->calls[i] : 0;
        if (!ran || ran % python_times(run->of->text, whole->target[k]) != 0)
            return whole->target[k];
    }
    return NULL;
}

static const char *
without_end(struct arena *a, const char *text)
{
    size_t n = strlen(text);
    while (n && isspace((unsigned char)text[n - 1]))
        n--;
    return arena_strn(a, text, n);
}

void
unread_doubt(struct lowering *l)
{
    const struct program *p = l->p;
    if (l->g->first && !l->g->first->graph->unread) /* lines say the same of each program */
        return;
    struct arena *a = arena_new();
    struct names *lines = names_new(a), *runs = names_new(a);
    struct written *line = NEWN(a, struct written, p->ncalls + 1);
    struct run *run = NEWN(a, struct run, p->ncalls + 1);
    int nlines = 0, nruns = 0;
    for (int i = 0; i < p->ncalls; i++) {
        const struct call *c = &p->calls[i];
        if (!c->stack || !c->op || c->op->cast != CAST_LOWER || python_is_traced(c->stack))
            continue;
        const bool layer = python_in_torch(c->stack); /* its line is its caller's */
        const char *stack = layer ? without_end(a, fx_outer(a, c->stack)) : c->stack, *inner = python_inner(stack),
                   *text = fx_line(a, stack);
        const struct module *m = &p->modules[c->scope];
        while (layer && m->parent >= 0 && (!m->type || starts_with(m->type, "torch.")))
            m = &p->modules[m->parent];
        if (!inner || !m->type || !is_plain(text) || !python_complete(text) ||
            !(layer || python_writes(text, c->target)))
            continue;
        const char *key = arena_printf(a, "%s %s", m->type, inner);
        int at = names_find(lines, key), in;
        if (at < 0) {
            names_put(lines, key, at = nlines++);
            line[at].text = text;
        }
        key = arena_printf(a, "%d %s", (int)(m - p->modules), stack);
        if ((in = names_find(runs, key)) < 0) {
            names_put(runs, key, in = nruns++);
            run[in] = (struct run){.of = &line[at], .first = c};
        }
        if (!layer)
            note(&run[in], c->target);
    }
    for (int i = 0; i < nruns; i++)
        if (is_whole(&run[i]) && (!run[i].of->whole || run[i].n > run[i].of->whole->n))
            run[i].of->whole = &run[i];
    for (int i = 0; i < nruns; i++) {
        const char *target = run[i].of->whole ? missing(&run[i]) : NULL;
        l->g->unread |= target != NULL;
        if (target)
            graph_doubt(l->g, run[i].first->node, target_bare(target), "memlint.export",
                        "its line makes %s elsewhere: what nobody reads is not in the file, and not counted",
                        target_bare(target));
    }
    arena_free(a);
}
