/* SPDX-License-Identifier: Apache-2.0 */
/* clones.c - names of what left a clone, or nothing: dropout, copies, and layers that took in their batch norm. */
#include "lower/dynamo.h"
#include "torch/torch.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* Counted are the module that reads the result, where it was made, and the model. */
static const struct fact *
dropout_fact(const struct dynamo *d, const struct group *g, int tensor)
{
    int from = d->l->g->t[tensor].producer, at = from < 0 ? -1 : d->group_of[from];
    struct place reader = fact_place(d->l, g->path, NULL);
    reader.type = g->type;
    reader.around[4] = d->l->p->modules[lower_module(d->l, "", NULL)].type;
    reader.line[0] = fx_line_at(d, g->last);
    if (at >= 0) {
        fact_around(d->l, d->groups[at].path, reader.around + 2, 2);
        reader.line[1] = fx_line_at(d, from);
    }
    return fact_next(d->l, NULL, 1u << FACT_UNDROPPED | 1u << FACT_DROPPED, &reader);
}

/* Where the model was exported in training mode, a dropout that is a clone has the probability 0. */
static bool
drops_again(const struct dynamo *d)
{
    return setup_drops(d->l->s) && !d->trained;
}

static void
assume_dropout(struct lowering *l, bool known)
{
    program_assume(l->p, known || l->s->dropout == DROPOUT_AUTO ? ALTERNATIVE_DROPOUT : ALTERNATIVE_DROPS,
                   "dropout is active wherever the evaluation export still shows its place, with a probability above "
                   "0");
}

/* Whether a clone was a dropout in evaluation mode that is one again in training; said then. */
bool
clones_undropped(const struct dynamo *d, const struct group *g, int tensor)
{
    const struct fact *f = dropout_fact(d, g, tensor);
    return f && f->kind == FACT_UNDROPPED;
}

bool
clones_drops(struct dynamo *d, const struct group *g, int tensor)
{
    if (!drops_again(d) || clones_undropped(d, g, tensor))
        return false;
    assume_dropout(d->l, dropout_fact(d, g, tensor));
    return true;
}

static const char DROPOUT[] = "aten.dropout.default";

/* Something is in the module whose path these n letters are, and in those around it. */
static void
tell_left(struct dynamo *d, const char *path, size_t n)
{
    for (int *left; n && *(left = names_id(d->left, arena_strn(d->l->a, path, n))) < 0;) {
        *left = 0;
        while (n && path[--n] != '.')
            ;
    }
}

/* Whether neither a call nor a parameter is of that module. */
static bool
left_nothing(struct dynamo *d, const char *module)
{
    const struct program *p = d->l->p;
    if (!d->left) {
        d->left = names_new(d->l->a);
        const char *before = NULL; /* those of a module follow each other, and have its path in common */
        for (const struct group *g = d->groups; g < d->groups + d->ngroups; before = g++->path)
            if (g->path && g->path != before)
                tell_left(d, g->path, strlen(g->path));
    }
    for (; d->nleft < p->nparams; d->nleft++) {
        const char *name = p->params[d->nleft].name, *leaf = strrchr(name, '.');
        tell_left(d, name, leaf ? (size_t)(leaf - name) : 0);
    }
    return names_find(d->left, module) < 0;
}

/* "classifier.3" without a "classifier.2": a Sequential's module that left no call. */
static bool
after_gap(struct dynamo *d, const char *path)
{
    const char *before = path ? lower_before(d->l, path) : NULL;
    return before && left_nothing(d, before);
}

/* Whether a library drops out in place before that module. */
static bool
drops_in_place(const struct dynamo *d, const struct group *g, const char *op)
{
    struct place at = {.op = op};
    for (int up = 2; (at.around[0] = fx_entry(&fx_record(d->l, g->last)->classes, up)); up++)
        if (fact_next(d->l, NULL, 1u << FACT_IN_PLACE, &at))
            return true;
    return false;
}

static int
drop(struct dynamo *d, const struct group *g, int slot, bool in_place, const char *stack)
{
    struct call *c = group_call(d, g, DROPOUT, 3);
    if (in_place)
        lower_in_place(d->l, c);
    c->args[0] = (struct arg){.kind = ARG_SLOT, .i = slot};
    c->args[1] = FLT(0.1);
    c->args[2] = BOOL(true);
    c->stack = stack;
    return c->outs[0];
}

/* The dropout before a Sequential's module: it runs where the Sequential calls that. */
static int
drop_in_gap(struct dynamo *d, const struct group *g, int slot, bool in_place)
{
    int out = drop(d, g, slot, in_place, fx_outer(d->l->a, d->l->g->n[g->last].stack));
    d->l->p->calls[d->l->p->ncalls - 1].scope =
        lower_module(d->l, lower_before(d->l, g->path), "torch.nn.modules.dropout.Dropout");
    return out;
}

/* Classes of modules that call no others, most of them. */
static const char *const leaves[] = {"torch.nn.modules.*"};

bool
clones_is_leaf(const char *type)
{
    bool leaf = false;
    for (int i = 0; i < COUNT(leaves) && type; i++)
        leaf |= glob_match(leaves[i], type);
    return leaf;
}

const char *
clones_own_stack(struct arena *a, const char *type, const char *stack)
{
    return clones_is_leaf(type) ? fx_outer(a, stack) : stack;
}

/* A dropout in the function that calls the reader, where that is a module that calls nothing: not a part of it. */
static int
drop_around(struct dynamo *d, const struct group *g, int slot, const char *stack)
{
    int out = drop(d, g, slot, false, stack);
    struct call *c = &d->l->p->calls[d->l->p->ncalls - 1];
    if (clones_is_leaf(g->type) && c->scope > 0)
        c->scope = d->l->p->modules[c->scope].parent;
    return out;
}

/* Whether a fact says that of the group's class. */
static bool
drops_in_line(const struct dynamo *d, const struct group *g)
{
    return g->type && fact_holds(d->l, 1u << FACT_DROPS_APART, &(struct place){.type = g->type});
}

/* "x = dropout(x)" in a line between that which makes x and that which reads it, in one frame: a fact says so, or the
 * maker is a module that calls nothing. Or the reader's line has it. -1 where the maker's may. */
static int
drop_apart(struct dynamo *d, const struct group *g, int tensor)
{
    struct arena *a = d->l->a;
    int from = d->l->g->t[tensor].producer, at = from < 0 ? -1 : d->group_of[from];
    const char *made = from < 0 ? NULL : d->l->g->n[from].stack;
    const char *read = clones_own_stack(a, g->type, d->l->g->n[g->last].stack);
    if (!made || !read || at < 0)
        return -1;
    const char *maker = fx_line_in_frame(a, made, read), *reader = fx_line(a, read), *outer = fx_outer(a, made);
    bool leaf = clones_is_leaf(d->groups[at].type) && fx_count_frames(outer) == fx_count_frames(read);
    if (strstr(maker, "drop") || (!leaf && !strstr(reader, "drop") && !drops_in_line(d, g)))
        return -1;
    const char *name = python_passed(a, maker, reader);
    if (!name)
        return -1;
    if (strstr(reader, "drop")) /* "x + self.dropout(y)" */
        return drop_around(d, g, d->l->slot_of[tensor], read);
    if (!leaf && !fact_of(d->l, g->type, FACT_DROPS_APART))
        return -1;
    return drop_around(d, g, d->l->slot_of[tensor], fx_before(a, read, name));
}

/* Of whole channels, before a convolution: in evaluation mode it leaves as little as Identity does. */
static int
drop_channels(struct dynamo *d, const struct group *g, int slot)
{
    static const char target[] = "aten.feature_dropout.default";
    program_assume(d->l->p, ALTERNATIVE_UNSEEN,
                   "a Sequential's module before a convolution that left nothing was no Dropout2d, which would leave "
                   "nothing either");
    if (!setup_instead(d->l->s, ALTERNATIVE_UNSEEN))
        return slot;
    int out = drop_in_gap(d, g, slot, false);
    d->l->p->calls[d->l->p->ncalls - 1].target = target;
    d->l->p->calls[d->l->p->ncalls - 1].op = aten_find(target);
    return out;
}

/* In place, in evaluation mode, it leaves no name either. */
int
clones_dropped(struct dynamo *d, const struct group *g, int slot)
{
    if (slot < 0 || !drops_again(d) || !after_gap(d, g->path))
        return slot;
    if (spelled(g->target, CONVOLVES))
        return drop_channels(d, g, slot);
    if (!drops_in_place(d, g, target_bare(DROPOUT)))
        return slot;
    assume_dropout(d->l, true);
    return drop_in_gap(d, g, slot, true);
}

/* Whether what left nothing but a name is taken for a copy. */
static bool
takes_copy(const struct dynamo *d, const char *what)
{
    program_assume(d->l->p, ALTERNATIVE_CLONED, "a statement that left nothing but a name was %s, and no copy", what);
    return setup_instead(d->l->s, ALTERNATIVE_CLONED);
}

/* A statement of its own, whose result has a name of its own: x = dropout(x) is written so seldom where nothing else
 * tells of dropout that it may be a copy as well. What reorders is made contiguous. */
static bool
may_copy(const struct dynamo *d, const struct group *g, int tensor, bool views)
{
    const struct lowering *l = d->l;
    const struct node *n = &l->g->n[g->last];
    int from = l->g->t[tensor].producer, at = from < 0 ? -1 : d->group_of[from], later = from;
    for (int i = 0; i < n->nin; i++)
        if (n->in[i] >= 0 && n->in[i] != tensor && l->g->t[n->in[i]].producer > later)
            later = l->g->t[n->in[i]].producer;
    const unsigned exempt = views ? TARGET_VIEWS | TARGET_REORDERS : TARGET_KEEPS | TARGET_REORDERS;
    return !d->drops && from >= 0 &&
           (at < 0 ||
            (!target_is(d->groups[at].target, exempt) &&
             python_renames(l->a, l->g->n[from].stack, n->stack, later > from ? l->g->n[later].stack : NULL)));
}

/* Whether a line writes more clones than it has made, in the round of a loop that it is in: as often as it made what
 * reads them, an operator that it writes, too. */
static bool
clones_left(const struct dynamo *d, const char *stack, const char *line, const char *reader)
{
    const struct program *p = d->l->p;
    const int times = python_times(line, reader);
    int written = 0, made = 0, read = 0;
    for (const char *at = line; (at = strstr(at, ".clone(")); at++)
        written++;
    for (int i = p->ncalls - 1; i >= 0 && written; i--) {
        bool here = p->calls[i].stack && strcmp(p->calls[i].stack, stack) == 0;
        made += here && target_is(p->calls[i].target, TARGET_CLONES);
        read += here && strcmp(p->calls[i].target, reader) == 0;
    }
    return made < written * (1 + (times ? read / times : 0));
}

/* Whether the line makes contiguous what a module returns: "self.attn(x, mask).contiguous()". */
static bool
makes_result_contiguous(const char *line)
{
    static const char self[] = "self.", makes[] = ".contiguous(";
    bool found = false;
    for (const char *at = strstr(line, makes) ? line : ""; !found && (at = strstr(at, self));) {
        at += strlen(self);
        const size_t name = python_name(at);
        const char *end = name && at[name] == '(' ? python_brackets_end(at + name) : NULL;
        found = end && strncmp(end, makes, strlen(makes)) == 0;
    }
    return found;
}

/* Whether the line makes a local contiguous: "x.contiguous()", not "x.view(...).contiguous()"; or an element of one,
 * "x[-1].contiguous()", where elements says so. */
static bool
makes_contiguous(const char *line, bool elements)
{
    if (makes_result_contiguous(line))
        return true;
    for (const char *at = line, *from; (at = strstr(at, ".contiguous(")); at++) {
        from = at;
        if (elements && from > line && from[-1] == ']')
            for (from--; from > line && (isdigit((unsigned char)from[-1]) || strchr("-[", from[-1]));)
                from--;
        while (from > line && (isalnum((unsigned char)from[-1]) || from[-1] == '_'))
            from--;
        if (from < at && (from == line || from[-1] != '.'))
            return true;
    }
    return false;
}

/* Whether a statement binds what a function of that file makes: "x = join(x, size)". */
static bool
binds_function(const char *line)
{
    const char *value = strstr(line, " = ");
    value += value ? strlen(" = ") : 0;
    return value && python_name(value) && value[python_name(value)] == '(';
}

/* Whether a function that is not a module's forward, whose lines no file has, turned it or took a part of it: that is
 * made contiguous there, so seldom is it dropped out. */
static bool
turned_inside(const struct dynamo *d, int from, const char *line)
{
    int at = from < 0 ? -1 : d->group_of[from];
    const char *target = at >= 0 ? d->groups[at].target : "";
    const bool part = target_is(target, TARGET_VIEWS) && !target_is(target, TARGET_KEEPS) && binds_function(line);
    return (target_is(target, TARGET_REORDERS) || part) && strchr(line, '(') && !python_writes(line, target) &&
           !python_calls(line, "rearrange") && !strstr(line, ".T") && !strstr(line, ".mT");
}

/* Whether it was turned, and no library's source says that its dropout is 0. */
bool
clones_turned(const struct dynamo *d, const struct group *g, int from)
{
    const struct group *h = from < 0 || d->group_of[from] < 0 ? NULL : &d->groups[d->group_of[from]];
    return h && target_is(h->target, TARGET_REORDERS) && h->path && g->path &&
           !dropout_fact(d, g, d->l->g->n[from].out[0]);
}

/* Whether another call read it as it was: a copy behind that is its reader's, not its maker's. */
static bool
read_before(const struct program *p, int slot)
{
    bool read = false;
    for (int i = p->ncalls - 1, r; i >= 0 && !read && p->calls[i].outs[0] != slot; i--)
        for (struct call_reads reads = {&p->calls[i]}; !read && (r = next_read(&reads)) >= 0;)
            read = r == slot;
    return read;
}

/* Whether it is a view, and a call that is still to come reads it as it was. */
static bool
read_behind(const struct dynamo *d, const struct group *g, int tensor)
{
    const int from = d->l->g->t[tensor].producer, at = from < 0 ? -1 : d->group_of[from];
    const bool view = at >= 0 && target_is(d->groups[at].target, TARGET_VIEWS);
    bool read = false;
    for (const struct group *h = d->groups + d->group_of[g->last] + 1; h < d->groups + d->ngroups && view && !read; h++)
        read = fx_names(h->args, d->groups[at].fx_name);
    return read;
}

/* What is cloned in a line, where "x.detach().clone()" left neither, in brackets or not. */
static int
cut_off(struct dynamo *d, const struct group *g, int slot, const char *line)
{
    static const char cut[] = ".detach()", cloned[] = ".clone(";
    const char *at = strstr(line, cut);
    while (at && !starts_with(at + strlen(cut) + strspn(at + strlen(cut), ")"), cloned))
        at = strstr(at + strlen(cut), cut);
    if (!at)
        return slot;
    struct call *c = group_call(d, g, traceless[TRACELESS_DETACH].target, 1);
    c->args[0] = (struct arg){.kind = ARG_SLOT, .i = slot};
    return c->outs[0];
}

/* Of a line of that module what it gives to one that left nothing, behind the bracket: "self.drop(x)"; NULL none. */
static const char *
given(struct dynamo *d, const char *module, const char *line)
{
    static const char self[] = "self.";
    for (const char *at = line, *name; (at = strstr(at, self)); at = name + python_name(name)) {
        name = at + strlen(self);
        const int n = (int)python_name(name);
        if (name[n] == '(' && (at == line || !(python_name(at - 1) || at[-1] == '.')) &&
            left_nothing(d, arena_printf(d->l->a, "%s%s%.*s", module, *module ? "." : "", n, name)))
            return name + n + 1;
    }
    return NULL;
}

/* The call that made what others wrote over since; NULL an input is that. */
static const struct call *
unwritten(const struct program *p, int slot)
{
    const struct call *m = group_maker(p, slot);
    while (m && (m->in_place || target_is(m->target, TARGET_WRITES)) && m->args[0].kind == ARG_SLOT)
        m = group_maker(p, (int)m->args[0].i);
    return m;
}

/* Whether the reader's line gives the tensor to a module that left nothing else: a dropout, which copies nothing. The
 * reader is the line's own call, not that of a module of PyTorch's, which may have functions of its own; an output has
 * its maker's line. What a method made on the line may be the method's. */
static bool
given_to_dropout(struct dynamo *d, const struct group *g, int tensor)
{
    struct arena *a = d->l->a;
    const int from = d->l->g->t[tensor].producer, at = from < 0 ? -1 : d->group_of[from];
    const struct group *maker = at < 0 ? NULL : &d->groups[at];
    const char *read = d->l->g->n[g->last].stack, *line = fx_line(a, read);
    const char *module = !*g->target && maker ? maker->path : g->path, *in = module ? module : "";
    const char *arg = clones_is_leaf(g->type) ? NULL : given(d, in, line),
               *stack = from < 0 ? NULL : d->l->g->n[from].stack;
    const char *made = stack && read ? fx_line_in_frame(a, stack, read) : NULL;
    if (!arg)
        return false;
    const char end = python_name(arg) ? arg[python_name(arg)] : 0;
    if (end == ',' || end == ')') { /* of no other function's tensor a line here binds the name */
        const struct call *m = unwritten(d->l->p, d->l->slot_of[tensor]);
        const char *bound = m && m->stack && read ? fx_line_in_frame(a, m->stack, read) : "";
        return !*bound || python_binds(a, bound, arena_strn(a, arg, python_name(arg)));
    }
    return made && maker && strcmp(made, line + strspn(line, " ")) == 0 &&
           (strcmp(maker->path ? maker->path : "", in) != 0 ||
            fx_count_frames(clones_own_stack(a, maker->type, stack)) == fx_count_frames(read));
}

/* The node on whose line a tensor was made: what takes one apart has no line, and is taken for its operand's. */
static int
lined(const struct graph *g, int tensor)
{
    int from = g->t[tensor].producer;
    while (from >= 0 && !g->n[from].stack && g->n[from].nin > 0 && g->n[from].in[0] >= 0 &&
           g->t[g->n[from].in[0]].producer >= 0)
        from = g->t[g->n[from].in[0]].producer;
    return from;
}

/* Whether the call takes something apart: functions make such parts contiguous. */
static bool
takes_apart(const struct call *c)
{
    return c && c->nouts > 1 && target_is(c->target, TARGET_VIEWS);
}

/* A clone that vanished: dropout in evaluation mode, or the copy of contiguous() and reshape. Layout tells, when it
 * runs. */
int
clones_resolve(struct dynamo *d, const struct group *g, int tensor, bool copied)
{
    struct lowering *l = d->l;
    const int from = lined(l->g, tensor);
    const char *read = fx_line_at(d, g->last), *made = from < 0 ? "" : fx_line_at(d, from);
    const struct call *maker = group_maker(l->p, l->slot_of[tensor]);
    const bool there = from >= 0 && clones_left(d, l->g->n[from].stack, made, g->target),
               cloned = there || clones_left(d, l->g->n[g->last].stack, read, g->target),
               written = cloned || target_is(g->target, TARGET_COPIES_INPUT);
    if (from >= 0 && strstr(made, ", out = ")) /* a region's: regions.c */
        return l->slot_of[tensor];
    if (!written && target_is(g->target, TARGET_VIEWS_COPY)) /* reshape's own, which copies again where it must */
        return l->slot_of[tensor];
    if (!written && maker && copies_is(maker->target)) { /* its own */
        if (d->drops && drops_again(d))
            graph_doubt(l->g, l->g->n[g->last].name, l->g->n[g->last].op, NULL,
                        "a statement before this left nothing but a name: dropout in evaluation mode, or none");
        return l->slot_of[tensor];
    }
    if (!written && !strstr(made, ".contiguous(") && after_gap(d, g->path) && clones_drops(d, g, tensor))
        return drop_in_gap(d, g, l->slot_of[tensor], drops_in_place(d, g, target_bare(DROPOUT)));
    const char *stack = clones_own_stack(l->a, g->type, l->g->n[g->last].stack);
    const bool takes = !target_views(g->target); /* a view of an element would read what was cloned before */
    bool here =
        !strstr(read, "drop") && (makes_contiguous(read, takes) || makes_contiguous(fx_line(l->a, stack), takes));
    const char *frames = from < 0 || !l->g->n[from].stack ? "" : l->g->n[from].stack;
    bool copy = copied || strstr(frames, ".contiguous(") || turned_inside(d, from, made),
         views = copy || here || target_views(g->target) || takes_apart(maker);
    bool drops = !written && !copy && !here && clones_drops(d, g, tensor);
    if (!written && !copy && !here && given_to_dropout(d, g, tensor))
        return drops ? drop_around(d, g, l->slot_of[tensor], stack) : l->slot_of[tensor];
    if (!written && !views && !drops && !strstr(read, "drop") && (!*g->target || clones_turned(d, g, from))) {
        const char *path = d->groups[d->group_of[from]].path;
        bool own = strcmp(path ? path : "", g->path ? g->path : "") == 0;
        program_assume(
            l->p, ALTERNATIVE_LEFT,
            own ? "a statement that left nothing but a name made contiguous what was turned"
                : "a statement that left nothing but a name was dropout of 0, of what another module turned");
        views = own != setup_instead(l->s, ALTERNATIVE_LEFT);
    }
    const bool inside = !written && !views && !drops && /* a dropout is its maker's */
                        (read_before(l->p, l->slot_of[tensor]) || read_behind(d, g, tensor));
    const bool named = inside && maker && !target_is(maker->target, TARGET_VIEWS | TARGET_REORDERS) &&
                       !spelled(maker->target, ATTENDS), /* contiguous() of that leaves no name */
        whole = (named && (d->trained || takes_copy(d, "contiguous()"))) ||
                (!written && !inside && !copy && may_copy(d, g, tensor, views) && takes_copy(d, "dropout"));
    int slot = drops && !views && !whole ? drop_apart(d, g, tensor) : -1;
    if (slot >= 0)
        return slot;
    const int made_at = maker ? (int)(maker - l->p->calls) : -1;
    const int of = cloned ? cut_off(d, g, l->slot_of[tensor], there ? made : read) : l->slot_of[tensor];
    struct call *c = group_call(d, g,
                                written || whole ? "aten.clone.default"
                                : inside         ? "aten.contiguous.default"
                                                 : "aten.lost_clone.default",
                                written || inside || whole ? 1 : 3);
    c->args[0] = (struct arg){.kind = ARG_SLOT, .i = of};
    if (inside) /* a line of the function that calls the reader */
        c->stack = stack;
    else if (whole && !written) /* a line of its own, which may bind a name of its own */
        c->stack = NULL;
    slot = c->outs[0];
    const char *from_line = made_at < 0 ? NULL : l->p->calls[made_at].location, *by = c->location;
    if (whole && inside && from_line && by && strcmp(from_line, by) != 0) /* with what a function begins */
        group_move(d, l->p->ncalls - 1, made_at + 1);
    if (written || inside || whole)
        return slot;
    c->args[1] = BOOL(views);
    c->args[2] = BOOL(drops);
    slot = c->outs[0];
    /* view() copies nothing: what was made contiguous before is a line of its own, or a function's */
    bool before = copy || (views && !drops && !strstr(read, ".contiguous("));
    for (int i = l->p->ncalls - 2; before && i >= 0; i--)
        if (l->p->calls[i].outs[0] == l->slot_of[tensor]) { /* the line that makes it copies it */
            group_move(d, l->p->ncalls - 1, i + 1);
            if (copy) {
                l->p->calls[i + 1].stack = l->p->calls[i].stack;
                l->p->calls[i + 1].frames = l->p->calls[i].frames;
                l->p->calls[i + 1].location = l->p->calls[i].location;
            }
            break;
        }
    return slot;
}

/* Of the convolution that the group ran; NULL none. */
static const struct arg *
padding_of(struct dynamo *d, const struct group *g)
{
    const struct aten *op = aten_find(g->target);
    struct arg *args = NEWN(d->l->a, struct arg, MAX_ARGS);
    int n = op ? fx_args(d->l, op, g->args, args) : 0, at = op ? aten_arg(op, "padding") : -1;
    return at >= 0 && at < n ? &args[at] : NULL;
}

/* What another call padded alike, in the function of this one, which others read, too; -1 none did. */
static int
padded_before(const struct program *p, const struct call *pad)
{
    for (const struct call *c = p->calls; c < pad; c++)
        if (target_is(c->target, TARGET_PADS) && c->args[0].kind == ARG_SLOT && c->args[0].i == pad->args[0].i &&
            c->scope == pad->scope && c->rank == pad->rank && c->size &&
            memcmp(c->size, pad->size, sizeof(*c->size) * (size_t)c->rank) == 0)
            return c->outs[0];
    return -1;
}

/* The variable that a line's only call of one gets, "x" of "getattr(self, name)(x)"; NULL none. */
static const char *
only_given(struct arena *a, const char *line)
{
    const char *variable = NULL;
    int calls = 0;
    for (const char *at = line; (at = strchr(at, '('));) {
        const bool called = at > line && (isalnum((unsigned char)at[-1]) || strchr("_])", at[-1]));
        const size_t name = python_name(++at);
        if (called && name && at[name] == ')') {
            variable = arena_strn(a, at, name);
            calls++;
        }
    }
    return calls == 1 ? variable : NULL;
}

/* The line of what padded the group's input: that which calls its layer, or, where that gives it a variable, a lost one
 * before. Whether the line itself pads. */
static bool
pad_line(struct dynamo *d, const struct group *g, struct call *c)
{
    struct arena *a = d->l->a;
    const bool leaf = clones_is_leaf(g->type);
    const char *outer = c->stack ? clones_own_stack(a, g->type, c->stack) : NULL,
               *line = outer ? fx_line(a, outer) : "",
               *args = leaf ? NULL : python_calls(line, spelled_root(a, g->target));
    const size_t name = args ? python_name(args) : 0;
    if (!outer || python_in_torch(outer) || !(leaf || name))
        return false;
    const char *given = leaf ? only_given(a, line) : args[name] == ',' ? arena_strn(a, args, name) : NULL;
    const char *lost = given ? fx_lost_line(a, outer, given, "F.pad") : NULL;
    c->stack = lost ? lost : outer;
    c->scope = leaf ? d->l->p->modules[c->scope].parent : c->scope;
    c->frames = fx_frames(a, c->stack);
    c->location = fx_location(a, c->stack);
    return !given;
}

int
clones_pad(struct dynamo *d, const struct group *g, int input)
{
    struct lowering *l = d->l;
    const struct node *n = &l->g->n[g->last];
    const struct tensor *x = &l->g->t[input];
    const struct attr *a = n->rules && strstr(n->rules, "FuseConvPad") ? node_attr(n, "pads") : NULL;
    int spatial = a && a->type == ATTR_INTS && a->ints ? a->n / 2 : 0, rank;
    const int64_t *size;
    if (!spatial || x->rank != spatial + 2 || !lower_sizes(l, x, &rank, &size))
        return l->slot_of[input];
    const struct arg *own = padding_of(d, g);
    struct arg *amounts = NEWN(l->a, struct arg, 2 * spatial);
    int64_t *wide = arena_dup(l->a, size, sizeof(*size) * (size_t)rank);
    for (int k = 0; k < spatial; k++) {
        const struct arg *mine = own && own->kind == ARG_LIST && own->n ? &own->list[k < own->n ? k : 0] : own;
        int64_t inside = mine && mine->kind == ARG_INT ? mine->i : 0;
        for (int side = 0; side < 2; side++) {
            int64_t pad = a->ints[k + side * spatial] - inside;
            amounts[2 * (spatial - 1 - k) + side] = INT(pad);
            wide[2 + k] += pad;
        }
    }
    struct call *c = group_call(d, g, "aten.constant_pad_nd.default", 3);
    c->args[0] = (struct arg){.kind = ARG_SLOT, .i = l->slot_of[input]};
    c->args[1] = (struct arg){.kind = ARG_LIST, .n = 2 * spatial, .list = amounts};
    c->args[2] = FLT(0);
    c->rank = rank;
    c->size = wide;
    const int before = pad_line(d, g, c) ? -1 : padded_before(l->p, c);
    l->p->ncalls -= before >= 0;
    return before >= 0 ? before : c->outs[0];
}

/* The convolution or linear layer that took in its batch norm: attributes, input and weight sizes stand in the Conv
 * node, the parameter is the one of the node's name, or else the one that nothing refers to before the batch norm's in
 * the signature. */
/* A host beside its norm was a module that the same frame called, before the norm: not the norm. */
static void
host_scopes(const struct dynamo *d, const struct group *g, struct call *c)
{
    struct arena *a = d->l->a;
    const char *host = d->l->p->modules[c->scope].path, *own = g->path ? arena_printf(a, "'%s'", g->path) : NULL,
               *at = own && c->scopes ? strstr(c->scopes, own) : NULL;
    size_t n = at ? (size_t)(path_last(g->path) - g->path) : 0;
    if (at && (size_t)(path_last(host) - host) == n && strncmp(host, g->path, n) == 0)
        c->scopes = arena_printf(a, "%.*s'%s'%s", (int)(at - c->scopes), c->scopes, host, at + strlen(own));
}

/* A host that ran right behind another layer of its list, in which the norm is not: its frames are that layer's. */
static void
host_behind(struct dynamo *d, struct call *c)
{
    struct arena *a = d->l->a;
    const struct program *p = d->l->p;
    const struct call *m = c->args[0].kind == ARG_SLOT ? group_maker(p, c->args[0].i) : NULL;
    const char *path = m ? p->modules[m->scope].path : "", *own = arena_printf(a, "'%s'", path),
               *inner = m && m->stack && c->stack && python_in_torch(m->stack) ? python_inner(m->stack) : NULL,
               *at = inner && m->scopes ? strstr(m->scopes, own) : NULL;
    const size_t parent = (size_t)(path_last(c->name) - c->name);
    if (!at || m == c || (size_t)(path_last(path) - path) != parent || strncmp(path, c->name, parent) != 0)
        return;
    c->stack = arena_printf(a, "%.*s%s", (int)(inner - m->stack), m->stack, python_inner(c->stack));
    c->scopes = arena_printf(a, "%.*s'%s'%s", (int)(at - m->scopes), m->scopes, c->name, at + strlen(own));
    c->frames = fx_frames(a, c->stack);
    c->location = fx_location(a, c->stack);
}

/* A norm in a graph of its own (src/lower/regions.c), which reads "getitem" there, has that from another graph: its
 * host was in the one before, or in none where that was another's. */
static bool
host_region(struct dynamo *d, struct call *c)
{
    const struct program *p = d->l->p;
    size_t len;
    const char *code = python_region(c->stack, &len);
    if (!code || !spelled_as(regions_argument(d->l->a, c, 0), "getitem"))
        return false;
    for (const struct call *m = c - 1; m >= p->calls; m--) {
        const char *before = python_region(m->stack, &len);
        if (!before)
            continue;
        if (python_region_number(before) == python_region_number(code) - 1) {
            c->stack = m->stack;
            c->frames = m->frames;
            c->location = m->location;
        }
        break;
    }
    return true;
}

/* A norm that reads a variable, "z = self.bn(y)", leaves of its host beside it the line that binds it, which stood
 * before. */
static void
host_line(struct dynamo *d, const struct group *g, struct call *c)
{
    struct arena *a = d->l->a;
    const size_t parent = (size_t)(path_last(c->name) - c->name);
    if (!g->path || (size_t)(path_last(g->path) - g->path) != parent || strncmp(g->path, c->name, parent) != 0) {
        host_behind(d, c);
        return;
    }
    const char *outer = c->stack ? fx_outer(a, c->stack) : NULL, *frame = outer ? python_inner(outer) : NULL;
    if (!frame || python_in_torch(outer))
        return;
    const char *line = fx_line(a, outer), *read = python_calls(line, path_last(g->path));
    const size_t name = read ? python_name(read) : 0;
    const char *variable = name && read[name] == ')' ? arena_strn(a, read, name) : NULL;
    const char *own = arena_printf(a, "self.%s", path_last(c->name)),
               *lost = variable ? fx_lost_line(a, outer, variable, own) : NULL;
    if (!lost || python_binds(a, line, variable))
        return;
    const struct call *m = c->args[0].kind == ARG_SLOT ? group_maker(d->l->p, c->args[0].i) : NULL;
    const char *made = m && m->stack ? clones_own_stack(a, d->l->p->modules[m->scope].type, m->stack) : "";
    if (strcmp(fx_outer(a, made), fx_outer(a, outer)) == 0 && python_binds(a, fx_line(a, made), variable))
        c->stack = arena_printf(a, "%s\n  %s", made, python_inner(c->stack)); /* of what it read, too */
    else
        c->stack = arena_printf(a, "%s\n  %s", lost, python_inner(c->stack));
    c->frames = fx_frames(a, c->stack);
    c->location = fx_location(a, c->stack);
}

/* Whether the line drops out what it calls by that name: "F.dropout(torch.tanh(x))", "self.drop(relu(x))". */
static bool
drops_inside(const char *line, const char *name)
{
    for (const char *p = line; (p = strstr(p, "drop")); p++) {
        const char *inside = p + python_name(p), *called = *inside == '(' ? python_calls(inside, name) : NULL;
        int depth = 0;
        for (const char *q = inside; called && q < called; q++)
            depth += *q == '(' ? 1 : *q == ')' ? -1 : 0;
        if (called && depth > 1)
            return true;
    }
    return false;
}

/* What the layer read: its own name for that went with it, and dropout leaves no other. The maker's line may say so. */
static int
drop_before_host(struct dynamo *d, const struct group *g, int tensor)
{
    struct lowering *l = d->l;
    int from = l->g->t[tensor].producer, at = from < 0 ? -1 : d->group_of[from], slot = l->slot_of[tensor];
    if (at < 0 || !drops_again(d))
        return slot;
    const char *stack = clones_own_stack(l->a, d->groups[at].type, l->g->n[from].stack);
    if (!stack || !drops_inside(fx_line(l->a, stack), spelled_root(l->a, d->groups[at].target)))
        return slot;
    assume_dropout(l, dropout_fact(d, g, tensor));
    return drop(d, &d->groups[at], slot, false, stack);
}

/* The numbers of traced clones that a group's text names, or is: the least and the greatest; false none. */
static bool
clones_named(const struct group *g, int *least, int *most)
{
    static const char clone[] = "clone";
    const char *texts[] = {g->fx_name, g->args};
    bool any = false;
    for (int i = 0; i < COUNT(texts); i++)
        for (const char *p = texts[i]; p && (p = strstr(p, clone)); p += strlen(clone)) {
            const char *end = p + strlen(clone);
            int number = *end == '_' ? atoi(end + 1) : 0;
            if ((p > texts[i] && p[-1] != '%') || (*end == '_' ? !number : strchr("),] ", *end) == NULL))
                continue;
            *least = !any || number < *least ? number : *least;
            *most = !any || number > *most ? number : *most;
            any = true;
        }
    return any;
}

/* Whether the traced program had a clone there that the file has not, as the numbers of those before and behind tell;
 * behind the last as where one was left out before. */
static bool
clone_left_out(struct dynamo *d, const struct group *g)
{
    int before = -1, behind = -1, least, most;
    for (const struct group *h = d->groups; h < d->groups + d->ngroups; h++)
        if (clones_named(h, &least, &most)) {
            if (h <= g)
                before = most > before ? most : before;
            else if (most > before)
                behind = behind < 0 || least < behind ? least : behind;
        }
    d->clones_left_out = behind < 0 ? d->clones_left_out : behind > before + 1;
    return d->clones_left_out;
}

int
clones_copied(struct dynamo *d, const struct group *g, int slot)
{
    const struct program *p = d->l->p;
    const struct call *m = group_maker(p, slot);
    if (!m || !target_is(m->target, TARGET_REORDERS) || !clone_left_out(d, g))
        return slot;
    const int at = (int)(m - p->calls);
    struct call *c = group_call(d, g, "aten.contiguous.default", 1);
    c->args[0] = (struct arg){.kind = ARG_SLOT, .i = slot};
    c->scope = p->calls[at].scope;
    c->scopes = p->calls[at].scopes;
    c->stack = p->calls[at].stack;
    c->frames = p->calls[at].frames;
    c->location = p->calls[at].location;
    slot = c->outs[0];
    group_move(d, p->ncalls - 1, at + 1);
    return slot;
}

/* The parameter of that copy of a network, which ran a norm's, that the file merged with this one; NULL none. */
static struct param *
param_of_copy(const struct dynamo *d, const struct param *named, const struct param *norm)
{
    struct arena *a = d->l->a;
    const char *module, *again;
    if (!named || !path_parts(a, named->name, norm->name, &module, &again))
        return NULL;
    struct param *q = params_called(d, path_moved(a, named->name, module, again));
    return q && q != norm && q->rank < 0 && !d->referenced[q - d->l->p->params] ? q : NULL;
}

int
clones_host(struct dynamo *d, const struct group *g, const char *norm)
{
    static const struct {
        const char *onnx, *arg;
    } attributes[] = {
        {"strides", "stride"}, {"pads", "padding"}, {"dilations", "dilation"}, {"output_padding", "output_padding"}};
    struct lowering *l = d->l;
    const struct node *n = &l->g->n[g->last];
    int at = names_find(d->params, norm), first, count = 0;
    if (n->nin < 2 || n->nout < 1 || at < 0 || n->in[0] < 0 || n->in[1] < 0 || n->out[0] < 0 ||
        l->slot_of[n->in[0]] < 0)
        return -1;
    const struct tensor *w = &l->g->t[n->in[1]];
    struct param *named = params_called(d, w->name), *copy = param_of_copy(d, named, &l->p->params[at]),
                 *bias_named = NULL;
    named = copy ? copy : named;
    if (named && ends_with(named->name, "weight"))
        bias_named = params_called(
            d, arena_printf(l->a, "%.*sbias", (int)(strlen(named->name) - strlen("weight")), named->name));
    for (first = at; first > 0 && count < 2; first--) {
        struct param *q = &l->p->params[first - 1];
        if (d->referenced[first - 1] || q->kind == PARAM_BUFFER)
            break;
        count++;
    }
    if (!count && !named)
        return -1;
    struct param *weight = named ? named : &l->p->params[first], *bias = named       ? bias_named
                                                                         : count > 1 ? weight + 1
                                                                                     : NULL;
    d->referenced[weight - l->p->params] = true;
    lower_param_shape(l, weight, w);
    bool transposed = node_call(n) == CALL_CONV_TRANSPOSE, gemm = node_call(n) == CALL_GEMM;
    int input = clones_pad(d, g, n->in[0]);
    bool padded = input != l->slot_of[n->in[0]];
    input = padded ? input : clones_copied(d, g, drop_before_host(d, g, n->in[0]));
    struct call *c = group_call(d, g, gemm ? "aten.linear.default" : "aten.convolution.default", gemm ? 3 : 9);
    c->scope = weight->module;
    c->name = l->p->modules[weight->module].path;
    c->args[0] = (struct arg){.kind = ARG_SLOT, .i = input};
    c->args[1] = (struct arg){.kind = ARG_SLOT, .i = weight->slot};
    if (bias) {
        int64_t *size = NEWN(l->a, int64_t, 1);
        d->referenced[bias - l->p->params] = true;
        *size = weight->rank > 0 ? weight->size[transposed] : 0;
        bias->rank = 1;
        bias->size = size;
        c->args[2] = (struct arg){.kind = ARG_SLOT, .i = bias->slot};
    }
    lower_sizes(l, &l->g->t[n->out[0]], &c->rank, &c->size);
    for (int i = 0; i < COUNT(attributes) && !gemm; i++) {
        const struct attr *a = node_attr(n, attributes[i].onnx);
        int pos = aten_arg(c->op, attributes[i].arg), len = a ? a->n : 0;
        if (!a || a->type != ATTR_INTS || !a->ints || pos < 0)
            continue;
        bool pads = strcmp(attributes[i].onnx, "pads") == 0;
        len = pads ? len / 2 : len; /* the same on both sides */
        c->args[pos] = (struct arg){.kind = ARG_LIST, .n = len, .list = NEWN(l->a, struct arg, len ? len : 1)};
        for (int k = 0; k < len; k++)
            c->args[pos].list[k] = INT(pads && padded ? 0 : a->ints[k]);
    }
    if (!gemm) {
        c->args[6] = BOOL(transposed);
        c->args[8] = INT(node_int(n, "group", 1));
    }
    host_scopes(d, g, c);
    if (!host_region(d, c))
        host_line(d, g, c);
    return c->outs[0];
}
