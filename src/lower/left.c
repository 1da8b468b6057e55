/* SPDX-License-Identifier: Apache-2.0 */
/* left.c - what the exporter's optimizer left out, and where that ran: identities, duplicates of parameters. */
#include "lower/dynamo.h"
#include "torch/torch.h"

#include <string.h>

int
left_inside(const struct dynamo *d, const struct group *g, int t)
{
    int from = t < 0 || d->l->slot_of[t] >= 0 ? -1 : d->l->g->t[t].producer, at = from < 0 ? -1 : d->group_of[from];
    if (at < 0 || at == d->group_of[g->last])
        return -1;
    if (strcmp(d->groups[at].target, g->target) == 0)
        return from;
    const bool sizes = !dtypes[d->l->g->t[t].dtype].is_float;
    const struct aten *op = sizes ? aten_find(g->target) : NULL, *other = op ? aten_find(d->groups[at].target) : NULL;
    return other && op->run == other->run ? from : -1;
}

void
left_assume_merged(struct program *p)
{
    program_assume(p, ALTERNATIVE_MERGED,
                   "calls that the exporter merged with equal ones run where they are read, unless a line that is left "
                   "shows it");
}

/* Whether no other parameter of its module is left that nothing reads. */
static bool
left_alone(const struct dynamo *d, const struct param *q)
{
    const struct program *p = d->l->p;
    bool alone = true;
    for (int i = 0; i < p->nparams && alone; i++)
        alone = p->params[i].module != q->module || p->params[i].rank >= 0 || d->referenced[i] ||
                p->params[i].kind > PARAM_FROZEN || &p->params[i] == q;
    return alone;
}

struct param *
left_merged_param(struct dynamo *d, const struct group *g, int slot, bool spread)
{
    struct program *p = d->l->p;
    const struct param *q = program_param(p, slot);
    if (!q || q->kind > PARAM_FROZEN)
        return NULL;
    struct param *found = NULL;
    const char *leaf = strrchr(q->name, '.');
    int own = lower_module(d->l, g->path ? g->path : "", g->type), nearest = 0;
    for (int i = 0; i < p->nparams; i++) {
        struct param *other = &p->params[i];
        const char *end = strrchr(other->name, '.');
        bool named = leaf && end && strcmp(leaf, end) == 0 && other->module != q->module,
             beside = named && q->rank < 2 && p->modules[other->module].parent == p->modules[q->module].parent;
        bool alike = other->module == q->module && other->rank < 0 &&
                     (q->rank < 2 || computed_read_here(d, g, other, "", "") ||
                      (spread && !constant_into(d, other) && left_alone(d, other)));
        const struct module *m = &p->modules[other->module];
        bool around = named && m->parent >= 0 &&
                      strcmp(path_last(m->path), path_last(p->modules[q->module].path)) == 0 &&
                      path_within(p->modules[own].path, p->modules[m->parent].path);
        int near = named && other->module == own ? 3 : around ? 2 : beside || alike ? 1 : 0;
        if (d->referenced[i] || other->kind > PARAM_FROZEN || near <= nearest)
            continue;
        found = other;
        nearest = near;
    }
    if (found) {
        d->referenced[found - p->params] = true;
        params_sized(d->l, found, q->rank, q->size);
    }
    return found;
}

void
left_out(struct dynamo *d, const struct group *g, const char *name)
{
    const char *stem = spelled_stem(d->l->a, name);
    const struct aten *op = aten_find(stem);
    const struct node *n = &d->l->g->n[g->last];
    const struct aten *reader = aten_find(g->target);
    bool into_view = spelled(name, OVERWRITES) && reader && reader->writes == WRITES_PART; /* x[a:b] = y */
    if (!op && !into_view && (spelled(name, OVERWRITES) || ends_with(stem, "_copy"))) /* into what is made for it */
        graph_doubt(d->l->g, n->name, n->op, NULL, "the exporter left a copy out before this, which is not counted");
    if (!op || target_is(stem, TARGET_VIEWS | TARGET_REORDERS) ||
        spelled(name, IS_SAME | CASTS | CASTS_TO | CONVERTS | PROMOTES) || !op->grad)
        return;
    graph_doubt(d->l->g, n->name, n->op, NULL,
                "the exporter left %s out before this, because it changes no number: the tensor that PyTorch makes "
                "there is not counted",
                target_bare(stem));
}

struct param *
left_learned(struct dynamo *d, const struct group *g, const char *name)
{
    int unread;
    const char *stem = spelled_stem(d->l->a, name);
    struct param *q = spelled(name, HAS_IDENTITY) ? computed_unread_weight(d, g, stem, &unread) : NULL;
    return q && computed_read_here(d, g, q, "", "") ? q : NULL;
}

bool
left_writes_more(const struct dynamo *d, const struct call *maker, const char *stack, const char *line,
                 const char *target)
{
    const struct program *p = d->l->p;
    int calls = 0, i = (int)(maker - p->calls);
    while (i > 0 && (!p->calls[i - 1].stack || starts_with(p->calls[i - 1].stack, stack)))
        i--;
    for (; i < p->ncalls; i++)
        calls += p->calls[i].stack && strcmp(p->calls[i].stack, stack) == 0 && strcmp(p->calls[i].target, target) == 0;
    return python_times(line, target) > calls;
}

/* Whether the group's line reads a variable, "y.mean()", that neither it nor the maker's line binds: a line that left
 * nothing has made it. */
static bool
reads_unbound(const struct dynamo *d, const struct group *g, const char *made, const char *read)
{
    struct arena *a = d->l->a;
    const char *name = python_operand(a, read, g->target);
    return name && !python_binds(a, read, name) && !python_binds(a, made, name);
}

/* Whether the group's line calls a loss function of a library that begins with a cast. */
static bool
begins_with_cast(const struct dynamo *d, const struct group *g, const char *line)
{
    const struct place at = fact_place(d->l, g->path ? g->path : "", "cross_entropy_loss.default");
    const struct fact *f = fact_next(d->l, NULL, 1u << FACT_INPUT_TO_FLOAT, &at);
    return f && python_calls(line, f->arg);
}

/* The stack of the line that makes a call's operand, where the call ran on it: "1 / x" is x.reciprocal() * 1,
 * __rtruediv__ in torch/_tensor.py; that line writes it, "y = (x + h) / 1.0"; or neither does, "x = x / 1.0" in
 * between, which binds as that line does. NULL: on its reader's. */
static const char *
makers_line(const struct dynamo *d, const struct group *g, const struct call *maker, const struct call *lost)
{
    struct arena *a = d->l->a;
    const char *type = d->l->p->modules[maker->scope].type, *made = clones_own_stack(a, type, maker->stack),
               *reader = clones_own_stack(a, g->type, lost->stack), *read = fx_line(a, reader);
    const bool one = strcmp(made, reader) == 0;
    if (target_named(maker->target, "reciprocal"))
        return made;
    const char *sum = target_named(lost->target, "add") ? python_sums(read) : NULL, *line = fx_line(a, made);
    if (sum && *sum != '[' && strstr(sum, " for ") && one)
        return made; /* before the second is made */
    if (!sum && strcmp(g->target, lost->target) == 0 &&
        (one ? python_times(read, lost->target) == 1
             : python_writes(line, lost->target) && left_writes_more(d, maker, made, line, lost->target)))
        return made; /* "y += f(x)" of 0: the reader is the next one, in a loop's next round or on such a line */
    if (strcmp(maker->target, lost->target) == 0 && python_adds_on(line) &&
        left_writes_more(d, maker, made, line, lost->target))
        return made; /* "x + y + 0" */
    if (sum || python_writes(read, lost->target) || strcmp(maker->target, lost->target) == 0)
        return NULL;
    bool hides = !clones_is_leaf(g->type) &&
                 !python_writes(read, g->target) && /* a function, which may begin with it */
                 !begins_with_cast(d, g, read);
    if (hides && one)
        return NULL;
    bool shows = clones_is_leaf(type) || python_writes(line, maker->target);
    return hides && shows && !left_writes_more(d, maker, maker->stack, line, lost->target) ? NULL : made;
}

struct call *
left_after_maker(struct dynamo *d, const struct call *maker, const char *stack)
{
    const struct program *p = d->l->p;
    const int at = (int)(maker - p->calls), scope = maker->scope;
    struct call *c = &p->calls[p->ncalls - 1];
    c->stack = stack;
    c->scopes = maker->scopes;
    c->frames = fx_frames(d->l->a, stack);
    c->location = fx_location(d->l->a, stack);
    c->scope = clones_is_leaf(p->modules[scope].type) ? p->modules[scope].parent : scope;
    group_move(d, p->ncalls - 1, at + 1);
    return &p->calls[at + 1];
}

void
left_put_on_line(struct dynamo *d, const struct group *g, int slot, const char *stem, bool seen, const char *lost)
{
    struct program *p = d->l->p;
    const struct node *reader = &d->l->g->n[g->last];
    const char *line;
    p->ncalls--;
    int at = python_line(p, slot, reader->stack, reader->scopes, stem, &line);
    struct call *c = &p->calls[p->ncalls++];
    if (!line && seen)
        return;
    c->stack = line ? line : lost;
    group_move(d, p->ncalls - 1, at);
}

/* Of a name in the file's texts: that it is there, and the greatest number of its root. */
static void
tell_name(struct dynamo *d, struct arena *a, const char *name)
{
    int number, *told = names_id(d->told, name);
    if (*told >= 0)
        return;
    *told = 0;
    int *most = names_id(d->most, arena_strn(a, name, fx_number(name, &number)));
    *most = number > *most ? number : *most;
}

/* Whether all texts are those of the file's first program. */
static bool
same_texts(const struct dynamo *d, const struct graph *first)
{
    bool same = true;
    for (int i = 0; i < d->ngroups && same; i++) {
        const int node = d->groups[i].nodes[0];
        same = node < first->nn && first->n[node].record == fx_record(d->l, node);
    }
    return same;
}

static void
tell_names(struct dynamo *d)
{
    struct graph *file = d->l->g->first ? d->l->g->first->graph : d->l->g;
    const bool same = same_texts(d, file), told = same && file->told && file->ntold == d->ngroups;
    struct arena *a = same ? file->arena : d->l->a;
    d->told = told ? file->told : names_new(a);
    d->most = told ? file->most : names_new(a);
    for (const struct group *g = d->groups; g < d->groups + d->ngroups && !told; g++) {
        const struct record *r = fx_record(d->l, g->nodes[0]);
        tell_name(d, a, g->fx_name);
        for (int i = 0; i < r->nreads; i++)
            tell_name(d, a, r->reads[i]);
    }
    if (same) {
        file->told = d->told;
        file->most = d->most;
        file->ntold = d->ngroups;
    }
}

int
left_before(struct dynamo *d, const char *name)
{
    int number, n = 0;
    const size_t root = fx_number(name, &number);
    if (!d->told)
        tell_names(d);
    while (n < number && names_find(d->told, fx_nth(d->l->a, name, root, number - n - 1)) < 0)
        n++;
    return n;
}

int
left_behind(struct dynamo *d, const char *name)
{
    int number, n = 0;
    const size_t root = fx_number(name, &number);
    if (!d->told)
        tell_names(d);
    const int most = names_find(d->most, arena_strn(d->l->a, name, root));
    while (number + n + 1 < most && names_find(d->told, fx_nth(d->l->a, name, root, number + n + 1)) < 0)
        n++;
    return number < most ? n : -1;
}

int
left_identity(struct dynamo *d, const struct group *g, const char *name, int slot)
{
    if (!spelled(name, HAS_IDENTITY)) {
        const struct aten *op = aten_find(spelled_stem(d->l->a, name));
        if (!op || !aten_elementwise(op) || strcmp(op->args, "self") != 0) {
            left_out(d, g, name);
            return slot;
        }
        const int more = left_before(d, name);
        struct call *again;
        int in = slot, left = more;
        do {
            again = group_call(d, g, arena_printf(d->l->a, "aten.%s", op->name), 1);
            again->args[0] = (struct arg){.kind = ARG_SLOT, .i = in};
            in = again->outs[0];
        } while (left-- > 0);
        if (spelled(name, OVERWRITES) && lower_overwrites(d->l, again->target))
            lower_in_place(d->l, again);
        int made = again->outs[0];
        if (more || strcmp(again->target, g->target) != 0 || python_times(fx_line_at(d, g->last), g->target) != 1)
            return made;
        const struct call *m = group_maker(d->l->p, slot); /* the line writes its own, and the maker's may another */
        const char *line = m && m->stack ? clones_own_stack(d->l->a, d->l->p->modules[m->scope].type, m->stack) : NULL;
        if (line && again->stack && strcmp(line, again->stack) != 0 &&
            left_writes_more(d, m, line, fx_line(d->l->a, line), g->target))
            left_after_maker(d, m, line);
        else
            left_put_on_line(d, g, slot, spelled_root(d->l->a, g->target), true, NULL);
        return made;
    }
    struct call *c = group_call(d, g, arena_printf(d->l->a, "%s.Tensor", spelled_stem(d->l->a, name)), 2);
    const struct call *m = group_maker(d->l->p, slot);
    const bool lines = m && m->stack && c->stack && !python_is_traced(c->stack);
    const char *made = lines ? makers_line(d, g, m, c) : NULL;
    if (made)
        c = left_after_maker(d, m, made);
    else if (m && m->stack && c->stack && reads_unbound(d, g, fx_line(d->l->a, m->stack), fx_line_at(d, g->last)))
        c->stack = NULL;
    struct param *q = left_learned(d, g, name);
    bool left = q && !computed_read_here(d, g, q, "* ", "") && !computed_read_here(d, g, q, "+ ", "");
    c->args[left] = (struct arg){.kind = ARG_SLOT, .i = slot};
    c->args[!left] = q ? (struct arg){.kind = ARG_SLOT, .i = q->slot} : INT(1);
    if (q) {
        params_sized(d->l, q, 0, (int64_t[]){0});
        d->referenced[q - d->l->p->params] = true;
    }
    return c->outs[0];
}

/* The call that made what that one, a view, shows; NULL none. */
const struct call *
left_viewed(const struct program *p, const struct call *c)
{
    while (c && target_is(c->target, TARGET_VIEWS | TARGET_REORDERS) && c->args[0].kind == ARG_SLOT)
        c = group_maker(p, (int)c->args[0].i);
    return c;
}

bool
left_for_reader(const struct program *p, const struct call *c)
{
    const struct call *base = left_viewed(p, c);
    return base && base != c && base->stack && c->stack && target_is(base->target, TARGET_WRITES) &&
           strcmp(base->stack, c->stack) == 0;
}

bool
left_read_beside(struct arena *a, const char *maker, const char *reader)
{
    const char *outer = maker && reader ? fx_outer(a, reader) : NULL;
    size_t n = outer ? strlen(outer) : 0, function = n ? strcspn(reader + n, ",") : 0;
    return outer && strncmp(maker, outer, n) == 0 && strncmp(maker + n, reader + n, function) == 0 &&
           !starts_with(maker, reader);
}

/* Whether lines write it as a subscript. */
bool
left_picks(const char *target)
{
    return target_is(target, TARGET_VIEWS) && !target_is(target, TARGET_KEEPS);
}
