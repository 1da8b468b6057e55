/* SPDX-License-Identifier: Apache-2.0 */
/* resolve.c - the names in a recorded call's arguments to slots.
 *
 * Names that no node defines were optimized away. Each has a reason that the name and its neighbours show: a dropout
 * in evaluation mode, a convolution that took in its batch norm, a merged transpose, a folded constant, a shared
 * duplicate. Each reason is a function whose name begins with lost_, or is resolve_clone or resolve_host, or is in
 * computed.c. The file's own tensors fill the gap: the group's inputs that no other argument accounts for.
 */
#include "lower/dynamo.h"
#include "torch/torch.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* Calls that leave nothing in a file: complex numbers are pairs there, gradients do not exist, and what is joined
 * alone is itself. */
enum { PAIRS, DETACHES = 2 };
static const struct {
    const char *stem, *target;
    bool list;     /* takes a list of tensors */
    unsigned last; /* its name, which is this word, may be lost with what read it */
} traceless[] = {[PAIRS] = {"view_as_real", "aten.view_as_real.default", false, 0},
                 {"view_as_complex", "aten.view_as_complex.default", false, 0},
                 [DETACHES] = {"detach", "aten.detach.default", false, SAYS_DETACH},
                 {"cat", "aten.cat.default", true, 0}};

/* ---- clones: dropout, copies ------------------------------------------------------------------------------------- */

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
resolve_drops(struct dynamo *d, const struct group *g, int tensor)
{
    const struct fact *f = dropout_fact(d, g, tensor);
    if (!drops_again(d) || (f && f->kind == FACT_UNDROPPED))
        return false;
    assume_dropout(d->l, f);
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

static int
count_frames(const char *stack)
{
    int n = 0;
    for (const char *p = stack; p && (p = python_frame(p)); p++)
        n++;
    return n;
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

/* The line of the maker's stack in the reader's innermost frame. */
static const char *
line_in_frame(struct arena *a, const char *maker, const char *reader)
{
    const char *p = maker;
    int frames = count_frames(reader);
    for (int i = 0; p && i < frames; i++)
        p = python_frame(p + (i > 0));
    const char *text = p ? strchr(p, '\n') : NULL;
    return text ? arena_strn(a, text + 1 + strspn(text + 1, " "), strcspn(text + 1 + strspn(text + 1, " "), "\n")) : "";
}

/* Classes of modules that call no others, most of them. */
static const char *const leaves[] = {"torch.nn.modules.*"};

static bool
is_leaf(const char *type)
{
    bool leaf = false;
    for (int i = 0; i < COUNT(leaves) && type; i++)
        leaf |= glob_match(leaves[i], type);
    return leaf;
}

/* Of a call in a module of that class the stack that ends with the line of the model: a module that calls no others has
 * one more frame. */
static const char *
own_stack(struct arena *a, const char *type, const char *stack)
{
    return is_leaf(type) ? fx_outer(a, stack) : stack;
}

/* A dropout in the function that calls the reader, where that is a module that calls nothing: not a part of it. */
static int
drop_around(struct dynamo *d, const struct group *g, int slot, const char *stack)
{
    int out = drop(d, g, slot, false, stack);
    struct call *c = &d->l->p->calls[d->l->p->ncalls - 1];
    if (is_leaf(g->type) && c->scope > 0)
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
    const char *read = own_stack(a, g->type, d->l->g->n[g->last].stack);
    if (!made || !read || at < 0)
        return -1;
    const char *maker = line_in_frame(a, made, read), *reader = fx_line(a, read), *outer = fx_outer(a, made);
    bool leaf = is_leaf(d->groups[at].type) && count_frames(outer) == count_frames(read);
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
resolve_dropped(struct dynamo *d, const struct group *g, int slot)
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

/* Whether the line makes a local contiguous: "x.contiguous()", not "x.view(...).contiguous()"; or an element of one,
 * "x[-1].contiguous()", where elements says so. */
static bool
makes_contiguous(const char *line, bool elements)
{
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

/* Whether a function that is not a module's forward, whose lines no file has, turned it: what is turned is made
 * contiguous there, so seldom is it dropped out. */
static bool
turned_inside(const struct dynamo *d, int from, const char *line)
{
    int at = from < 0 ? -1 : d->group_of[from];
    return at >= 0 && target_is(d->groups[at].target, TARGET_REORDERS) && strchr(line, '(') &&
           !python_writes(line, d->groups[at].target) && !python_calls(line, "rearrange") && !strstr(line, ".T") &&
           !strstr(line, ".mT");
}

/* Whether it was turned, and no library's source says that its dropout is 0. */
bool
resolve_turned(const struct dynamo *d, const struct group *g, int from)
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
    struct call *c = group_call(d, g, traceless[DETACHES].target, 1);
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
    const char *arg = is_leaf(g->type) ? NULL : given(d, in, line), *stack = from < 0 ? NULL : d->l->g->n[from].stack;
    const char *made = stack && read ? line_in_frame(a, stack, read) : NULL;
    if (!arg)
        return false;
    const char end = python_name(arg) ? arg[python_name(arg)] : 0;
    if (end == ',' || end == ')') { /* of no other function's tensor a line here binds the name */
        const struct call *m = unwritten(d->l->p, d->l->slot_of[tensor]);
        const char *bound = m && m->stack && read ? line_in_frame(a, m->stack, read) : "";
        return !*bound || python_binds(a, bound, arena_strn(a, arg, python_name(arg)));
    }
    return made && maker && strcmp(made, line + strspn(line, " ")) == 0 &&
           (strcmp(maker->path ? maker->path : "", in) != 0 ||
            count_frames(own_stack(a, maker->type, stack)) == count_frames(read));
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

/* A clone that vanished: dropout in evaluation mode, or the copy of contiguous() and reshape. Layout tells, when it
 * runs. */
int
resolve_clone(struct dynamo *d, const struct group *g, int tensor, bool copied)
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
    if (!written && !strstr(made, ".contiguous(") && after_gap(d, g->path) && resolve_drops(d, g, tensor))
        return drop_in_gap(d, g, l->slot_of[tensor], drops_in_place(d, g, target_bare(DROPOUT)));
    const char *stack = own_stack(l->a, g->type, l->g->n[g->last].stack);
    const bool takes = !target_views(g->target); /* a view of an element would read what was cloned before */
    bool here =
        !strstr(read, "drop") && (makes_contiguous(read, takes) || makes_contiguous(fx_line(l->a, stack), takes));
    const char *frames = from < 0 || !l->g->n[from].stack ? "" : l->g->n[from].stack;
    bool copy = copied || strstr(frames, ".contiguous(") || turned_inside(d, from, made),
         views = copy || here || target_views(g->target);
    bool drops = !written && !copy && !here && resolve_drops(d, g, tensor);
    if (!written && !copy && !here && given_to_dropout(d, g, tensor))
        return drops ? drop_around(d, g, l->slot_of[tensor], stack) : l->slot_of[tensor];
    if (!written && !views && !drops && !strstr(read, "drop") && (!*g->target || resolve_turned(d, g, from))) {
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

/* ---- layers that took in their batch norm ------------------------------------------------------------------------ */

/* Of the convolution that the group ran; NULL none. */
static const struct arg *
padding_of(struct dynamo *d, const struct group *g)
{
    const struct aten *op = aten_find(g->target);
    struct arg *args = NEWN(d->l->a, struct arg, MAX_ARGS);
    int n = op ? fx_args(d->l, op, g->args, args) : 0, at = op ? aten_arg(op, "padding") : -1;
    return at >= 0 && at < n ? &args[at] : NULL;
}

/* What a call padded the slot to those sizes, which others read, too; -1 none did. */
static int
padded_before(const struct program *p, int slot, int rank, const int64_t *wide)
{
    for (const struct call *c = p->calls; c < p->calls + p->ncalls; c++)
        if ((target_named(c->target, "pad") || target_named(c->target, "constant_pad_nd")) &&
            c->args[0].kind == ARG_SLOT && c->args[0].i == slot && c->rank == rank && c->size &&
            memcmp(c->size, wide, sizeof(*wide) * (size_t)rank) == 0)
            return c->outs[0];
    return -1;
}

/* F.pad, which the exporter's optimizer moved into the convolution behind it: what the node pads beyond the padding of
 * the call itself, if that is known. Source: onnxscript/rewriter/rules/common/_fuse_pad_into_conv.py. The slot of the
 * padded input, or of the input where nothing was moved. */
static int
lost_pad(struct dynamo *d, const struct group *g, int input)
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
    const int before = padded_before(l->p, l->slot_of[input], rank, wide);
    if (before >= 0)
        return before;
    struct call *c = group_call(d, g, "aten.constant_pad_nd.default", 3);
    c->args[0] = (struct arg){.kind = ARG_SLOT, .i = l->slot_of[input]};
    c->args[1] = (struct arg){.kind = ARG_LIST, .n = 2 * spatial, .list = amounts};
    c->args[2] = FLT(0);
    c->rank = rank;
    c->size = wide;
    return c->outs[0];
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
    const char *line = fx_line(a, outer), *read = python_calls(line, path_last(g->path)),
               *in = read ? strstr(frame, ", in ") : NULL;
    const size_t name = read ? python_name(read) : 0;
    const char *variable = name && read[name] == ')' ? arena_strn(a, read, name) : NULL;
    if (!in || !variable || python_binds(a, line, variable))
        return;
    static const char begin[] = "File \"";
    const size_t file = strlen(begin) + strcspn(frame + strlen(begin), "\"");
    c->stack = arena_printf(a, "%.*s%.*s\", line %d%.*s\n    %s = self.%s(\n  %s", (int)(frame - outer), outer,
                            (int)file, frame, python_frame_line(frame) - 1, (int)strcspn(in, "\n"), in, variable,
                            path_last(c->name), python_inner(c->stack));
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
    const char *stack = own_stack(l->a, d->groups[at].type, l->g->n[from].stack);
    if (!stack || !drops_inside(fx_line(l->a, stack), spelled_root(l->a, d->groups[at].target)))
        return slot;
    assume_dropout(l, dropout_fact(d, g, tensor));
    return drop(d, &d->groups[at], slot, false, stack);
}

/* The length of a traced name without its number, and that: "_to_copy_2"; 0 it has none. */
static size_t
numbered(const char *name, int *number)
{
    size_t n = strlen(name), root = n;
    uint64_t digits = 0, tens = 1;
    for (; root && name[root - 1] >= '0' && name[root - 1] <= '9'; tens *= 10)
        digits += tens * (uint64_t)(name[--root] - '0');
    const bool has = root && root < n && name[root - 1] == '_';
    *number = has ? (int)digits : 0;
    return has ? root - 1 : n;
}

/* The traced name of that root and number: "add" of 0. */
static const char *
name_of(struct arena *a, const char *name, size_t root, int number)
{
    return number ? arena_printf(a, "%.*s_%d", (int)root, name, number) : arena_strn(a, name, root);
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
resolve_copied(struct dynamo *d, const struct group *g, int slot)
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

bool
resolve_modules_part(struct arena *a, const char *one, const char *other, const char **module, const char **again)
{
    size_t same = 0;
    for (size_t i = 0; one[i] && one[i] == other[i]; i++)
        same = one[i] == '.' ? i + 1 : same;
    *module = arena_strn(a, one, same + strcspn(one + same, "."));
    *again = arena_strn(a, other, same + strcspn(other + same, "."));
    return (*module)[same] && (*again)[same];
}

/* The parameter of that copy of a network, which ran a norm's, that the file merged with this one; NULL none. */
static struct param *
param_of_copy(const struct dynamo *d, const struct param *named, const struct param *norm)
{
    struct arena *a = d->l->a;
    const char *module, *again;
    if (!named || !resolve_modules_part(a, named->name, norm->name, &module, &again))
        return NULL;
    struct param *q = params_called(d, path_moved(a, named->name, module, again));
    return q && q != norm && q->rank < 0 && !d->referenced[q - d->l->p->params] ? q : NULL;
}

int
resolve_host(struct dynamo *d, const struct group *g, const char *norm)
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
    int input = lost_pad(d, g, n->in[0]);
    bool padded = input != l->slot_of[n->in[0]];
    input = padded ? input : resolve_copied(d, g, drop_before_host(d, g, n->in[0]));
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
    host_line(d, g, c);
    return c->outs[0];
}

/* ---- duplicates, identities, casts ------------------------------------------------------------------------------- */

static bool
names_param(struct dynamo *d, const struct group *g, const struct param *q)
{
    const char *args = g->args, *name;
    bool named = false;
    while (args && !named && (name = fx_named(d->l->a, &args)))
        named = params_of(d, name) == q;
    return named;
}

/* The constant among the group's inputs that could be what a lost call made; strict: no number, and no parameter's data
 * but those that another one has, too, whose equal numbers the file has once, or that an operand has which is computed
 * of it: "(self.a + 1e-9).reciprocal() * x". */
static int
constant_input(struct dynamo *d, const struct group *g, const char *name, bool strict)
{
    const struct graph *gr = d->l->g;
    for (int k = g->nnodes - 1; k >= 0; k--) {
        const struct node *n = &gr->n[g->nodes[k]];
        for (int i = n->nin - 1; i >= 0; i--) {
            const struct tensor *t = n->in[i] < 0 ? NULL : &gr->t[n->in[i]];
            const struct param *q = t && strict ? params_called(d, t->name) : NULL;
            bool alone = q && n->nin == 2 && g->nnodes == 1 && !spelled(name, CONVERTS | CASTS | COPIES) &&
                         !names_param(d, g, q),
                 vector = t && t->rank == 1 && dtypes[t->dtype].is_float && t->dims[0].n > 1,
                 number = t && t->rank < 2 && !vector && strncmp(t->name, "val_", 4) == 0;
            if (t && t->is_initializer && !(strict && number) && !(q && computed_named_here(d, g, q) && !alone))
                return n->in[i];
        }
    }
    return -1;
}

/* The constant among the group's inputs that can be an index, for an argument that is one; -1 none. */
static int
constant_index(const struct dynamo *d, const struct group *g, int position)
{
    const struct graph *gr = d->l->g;
    const struct aten *op = aten_find(g->target);
    if (!op || (aten_arg(op, "indices") != position && aten_arg(op, "index") != position))
        return -1;
    for (int k = g->nnodes - 1; k >= 0; k--)
        for (int i = 0; i < gr->n[g->nodes[k]].nin; i++) {
            int t = gr->n[g->nodes[k]].in[i];
            if (t >= 0 && gr->t[t].is_initializer && gr->t[t].rank > 0 && !dtypes[gr->t[t].dtype].is_float &&
                tensor_elements(&gr->t[t]) > 1)
                return t;
        }
    return -1;
}

static bool
is_traceless(const char *name)
{
    bool is = false;
    for (int i = 0; i < COUNT(traceless); i++)
        is |= spelled_as(name, traceless[i].stem);
    return is;
}

/* The buffer whose data the group reads, or the parameter that no call names: all of it, under other sizes or as
 * complex numbers. */
static const struct param *
sliced_input(struct dynamo *d, const struct group *g, const char *name)
{
    const struct graph *gr = d->l->g;
    const bool traceless = is_traceless(name);
    for (int k = 0; k < g->nnodes; k++) {
        const struct node *n = &gr->n[g->nodes[k]];
        for (int i = 0; i < n->nin; i++) {
            const struct param *q = n->in[i] < 0 ? NULL : params_called(d, gr->t[n->in[i]].name);
            bool *named = q ? &d->referenced[q - d->l->p->params] : NULL;
            if (q && (q->kind == PARAM_BUFFER || (!spelled_as(name, "slice") && (traceless || !*named)))) {
                *named = true;
                return q;
            }
        }
    }
    return NULL;
}

/* The node that makes tensor t, an interior value of another group of the same operator; -1. */
static int
made_inside(const struct dynamo *d, const struct group *g, int t)
{
    int from = t < 0 || d->l->slot_of[t] >= 0 ? -1 : d->l->g->t[t].producer, at = from < 0 ? -1 : d->group_of[from];
    return at >= 0 && at != d->group_of[g->last] && strcmp(d->groups[at].target, g->target) == 0 ? from : -1;
}

/* Duplicates merged inside a decomposition: the group reads an interior value of an earlier group of the same
 * operator, which stands for the argument in the same position there. */
static int
lost_interior(const struct dynamo *d, const struct group *g, int position)
{
    const struct graph *gr = d->l->g;
    const struct program *p = d->l->p;
    for (int k = 0; k < g->nnodes; k++) {
        const struct node *n = &gr->n[g->nodes[k]];
        for (int i = 0; i < n->nin; i++) {
            int from = made_inside(d, g, n->in[i]), call = from < 0 ? -1 : d->groups[d->group_of[from]].call;
            if (call < 0)
                continue;
            const struct call *c = &p->calls[call];
            const struct arg *a = position < c->nargs ? &c->args[position] : &NONE;
            for (int e = 0; e < (a->kind == ARG_LIST ? a->n : 1); e++) {
                const struct arg *of = a->kind == ARG_LIST ? &a->list[e] : a;
                if (of->kind == ARG_SLOT && of->i >= 0)
                    return (int)of->i;
            }
        }
    }
    return -1;
}

/* Numbers that a node has as an attribute or, later, as its second input. */
static struct arg
dims_of(const struct dynamo *d, const struct node *n, const char *name)
{
    struct lowering *l = d->l;
    const struct attr *a = node_attr(n, name);
    const struct tensor *t = n->nin > 1 && n->in[1] >= 0 ? &l->g->t[n->in[1]] : NULL;
    bool ints = a && a->type == ATTR_INTS && a->ints;
    const int64_t *from = ints ? a->ints : t && t->value ? t->value->i : NULL;
    int count = ints ? a->n : from ? (int)t->value->n : 0;
    struct arg list = {.kind = ARG_LIST, .n = count, .list = NEWN(l->a, struct arg, count + 1)};
    for (int i = 0; i < count; i++)
        list.list[i] = INT(from[i]);
    return count ? list : NONE;
}

static int made_here_too(struct dynamo *d, const struct group *g, int slot);

/* Of a tensor that a node reads what its call read, where that is a copy of it which the file does not have. */
static int
copy_read(const struct dynamo *d, int node, int slot)
{
    const struct program *p = d->l->p;
    const int at = d->group_of[node], call = at < 0 ? -1 : d->groups[at].call;
    int read;
    if (slot < 0 || call < 0)
        return slot;
    for (struct call_reads r = {&p->calls[call]}; (read = next_read(&r)) >= 0;) {
        const struct call *m = group_maker(p, read);
        if (m && target_is(m->target, TARGET_CLONES | TARGET_COPIES) && m->args[0].kind == ARG_SLOT &&
            m->args[0].i == slot)
            return read;
    }
    return slot;
}

/* What another call made on its way, which is a call of its own here: "x - x.mean()" beside "x.var()". By its node; -1
 * where a node of another kind made it. Of its own operands the lines are not known. */
static int
call_inside(struct dynamo *d, const struct group *g, int tensor, int depth)
{
    struct lowering *l = d->l;
    const struct node *n = l->g->t[tensor].producer < 0 ? NULL : &l->g->n[l->g->t[tensor].producer];
    enum op_call kind = n && n->row && n->row->aten ? node_call(n) : CALL_NONE;
    enum { INSIDE = 4 }; /* calls that one expression nests */
    struct arg operands[2];
    const struct param *q = l->g->t[tensor].is_initializer ? params_called(d, l->g->t[tensor].name) : NULL;
    if (q)
        return q->slot;
    if (l->slot_of[tensor] >= 0 || l->g->t[tensor].is_initializer)
        return made_here_too(d, g, l->slot_of[tensor]);
    if ((kind != CALL_ALL && kind != CALL_FIRST && kind != CALL_REDUCE) || depth == INSIDE ||
        (kind == CALL_ALL && n->nin != COUNT(operands)))
        return -1;
    const char *target = n->row->aten;
    bool tensor_read = false;
    for (int i = 0; i < (kind == CALL_ALL ? n->nin : 1); i++) {
        struct arg number = n->in[i] < 0 ? NONE : lower_number(&l->g->t[n->in[i]]);
        const bool same = i > 0 && n->in[i] == n->in[0] && operands[0].kind == ARG_SLOT;
        const int made = same || n->in[i] < 0 ? -1 : call_inside(d, g, n->in[i], depth + 1),
                  slot = same ? (int)operands[0].i : copy_read(d, l->g->t[tensor].producer, made);
        if (slot < 0 && number.kind == ARG_NONE)
            return -1;
        operands[i] = slot < 0 ? number : (struct arg){.kind = ARG_SLOT, .i = slot};
        tensor_read |= slot >= 0;
    }
    if (!tensor_read)
        return -1;
    target = kind == CALL_ALL && group_reflects(target, operands, n->nin) ? REFLECTED : target;
    struct call *c = group_call(d, g, target, kind == CALL_REDUCE ? 3 : kind == CALL_ALL ? n->nin : 1);
    memcpy(c->args, operands, sizeof(*operands) * (size_t)(kind == CALL_ALL ? n->nin : 1));
    if (kind == CALL_REDUCE) {
        c->args[1] = dims_of(d, n, "axes");
        c->args[2] = BOOL(node_int(n, "keepdims", 1) != 0);
    }
    const struct arg dims = kind == CALL_FIRST && aten_arg(c->op, "dim") == 1 ? dims_of(d, n, "axes") : NONE;
    if (dims.n == 1) {
        c->args = NEWN(l->a, struct arg, 2);
        c->args[0] = operands[0];
        c->args[1] = dims.list[0];
        c->nargs = 2;
    }
    lower_sizes(l, &l->g->t[tensor], &c->rank, &c->size);
    c->stack = depth ? NULL : c->stack;
    c->frames = depth ? NULL : c->frames;
    return c->outs[0];
}

static int
lost_inside(struct dynamo *d, const struct group *g, const char *name)
{
    const struct graph *gr = d->l->g;
    for (int k = 0; k < g->nnodes; k++)
        for (int i = 0; i < gr->n[g->nodes[k]].nin; i++) {
            int t = gr->n[g->nodes[k]].in[i];
            const struct node *n = t < 0 || gr->t[t].producer < 0 ? NULL : &gr->n[gr->t[t].producer];
            if (n && n->row && n->row->aten && d->l->slot_of[t] < 0 && !group_makes(d, g, t) &&
                (!name || spelled_after(name, n->row->aten))) {
                int before = d->l->p->ncalls, slot = call_inside(d, g, t, 0);
                d->l->p->ncalls = slot < 0 ? before : d->l->p->ncalls;
                return slot;
            }
        }
    return -1;
}

static void
assume_merged(struct program *p)
{
    program_assume(p, ALTERNATIVE_MERGED,
                   "calls that the exporter merged with equal ones run where they are read, unless a line that is left "
                   "shows it");
}

int
resolve_output(struct dynamo *d, const struct group *g, int tensor)
{
    struct program *p = d->l->p;
    const struct call *around = group_maker(p, names_find(d->l->slots, g->fx_name));
    const int before = p->ncalls, behind = around ? (int)(around - p->calls) + 1 : before,
              slot = call_inside(d, g, tensor, 0);
    if (slot < 0) {
        p->ncalls = before;
        return -1;
    }
    p->calls[p->ncalls - 1].stack = NULL;
    assume_merged(p);
    if (setup_instead(d->l->s, ALTERNATIVE_MERGED))
        group_move(d, before, behind);
    return slot;
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

/* The parameter that the file merged with this one: unread, of the same name in the group's module, in one of the same
 * name beside a module around that, of a vector in one beside this one's, or another of the same module; spread: what
 * was merged repeats it for the batch, as tokens of classes are. */
static struct param *
merged_param(struct dynamo *d, const struct group *g, int slot, bool spread)
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
resolve_left_out(struct dynamo *d, const struct group *g, const char *name)
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

/* A learned number of the group's line that was 1 or 0 when the file was written: what is multiplied with it, or added
 * to it, was left alone. NULL none. */
static struct param *
learned_number(struct dynamo *d, const struct group *g, const char *name)
{
    int unread;
    const char *stem = spelled_stem(d->l->a, name);
    struct param *q = spelled(name, HAS_IDENTITY) ? computed_unread_weight(d, g, stem, &unread) : NULL;
    return q && computed_read_here(d, g, q, "", "") ? q : NULL;
}

/* Whether the line of those frames writes the operator more often than the file has it there. */
static bool
writes_more(const struct dynamo *d, const char *stack, const char *line, const char *target)
{
    const struct program *p = d->l->p;
    int calls = 0;
    for (int i = 0; i < p->ncalls; i++)
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

/* The stack of the line that makes a call's operand, where the call ran on it: "1 / x" is x.reciprocal() * 1,
 * __rtruediv__ in torch/_tensor.py; that line writes it, "y = (x + h) / 1.0"; or neither does, "x = x / 1.0" in
 * between, which binds as that line does. NULL: on its reader's. */
static const char *
makers_line(const struct dynamo *d, const struct group *g, const struct call *maker, const struct call *lost)
{
    struct arena *a = d->l->a;
    const char *type = d->l->p->modules[maker->scope].type, *made = own_stack(a, type, maker->stack),
               *reader = own_stack(a, g->type, lost->stack), *read = fx_line(a, reader);
    const bool one = strcmp(made, reader) == 0;
    if (target_named(maker->target, "reciprocal"))
        return made;
    const char *sum = target_named(lost->target, "add") ? python_sums(read) : NULL, *line = fx_line(a, made);
    if (sum && *sum != '[' && strstr(sum, " for ") && one)
        return made; /* before the second is made */
    if (!sum && strcmp(g->target, lost->target) == 0 &&
        (one ? python_times(read, lost->target) == 1
             : python_writes(line, lost->target) && writes_more(d, made, line, lost->target)))
        return made; /* "y += f(x)" of 0: the reader is the next one, in a loop's next round or on such a line */
    if (sum || python_writes(read, lost->target) || strcmp(maker->target, lost->target) == 0)
        return NULL;
    bool hides = !is_leaf(g->type) && !python_writes(read, g->target); /* a function, which may begin with it */
    if (hides && one)
        return NULL;
    bool shows = is_leaf(type) || python_writes(line, maker->target);
    return hides && shows && !writes_more(d, maker->stack, line, lost->target) ? NULL : made;
}

struct call *
resolve_behind(struct dynamo *d, const struct call *maker, const char *stack)
{
    const struct program *p = d->l->p;
    const int at = (int)(maker - p->calls), scope = maker->scope;
    struct call *c = &p->calls[p->ncalls - 1];
    c->stack = stack;
    c->scopes = maker->scopes;
    c->frames = fx_frames(d->l->a, stack);
    c->location = fx_location(d->l->a, stack);
    c->scope = is_leaf(p->modules[scope].type) ? p->modules[scope].parent : scope;
    group_move(d, p->ncalls - 1, at + 1);
    return &p->calls[at + 1];
}

/* The last call, which reads that slot, is of a line of its own, which calls it by that name; seen: or stays where it
 * is, where no line does. */
static void
put_on_line(struct dynamo *d, const struct group *g, int slot, const char *stem, bool seen)
{
    struct program *p = d->l->p;
    const struct node *reader = &d->l->g->n[g->last];
    const char *line;
    p->ncalls--;
    int at = python_line(p, slot, reader->stack, reader->scopes, stem, &line);
    struct call *c = &p->calls[p->ncalls++];
    if (!line && seen)
        return;
    c->stack = line;
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
    int *most = names_id(d->most, arena_strn(a, name, numbered(name, &number)));
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

/* How many calls of a name's root right before that one no text of the file has: "x.relu().relu().relu()" is one. */
static int
left_out_before(struct dynamo *d, const char *name)
{
    int number, n = 0;
    const size_t root = numbered(name, &number);
    if (!d->told)
        tell_names(d);
    while (n < number && names_find(d->told, name_of(d->l->a, name, root, number - n - 1)) < 0)
        n++;
    return n;
}

int
resolve_left_behind(struct dynamo *d, const char *name)
{
    int number, n = 0;
    const size_t root = numbered(name, &number);
    if (!d->told)
        tell_names(d);
    const int most = names_find(d->most, arena_strn(d->l->a, name, root));
    while (number + n + 1 < most && names_find(d->told, name_of(d->l->a, name, root, number + n + 1)) < 0)
        n++;
    return number < most ? n : -1;
}

int
resolve_identity(struct dynamo *d, const struct group *g, const char *name, int slot)
{
    if (!spelled(name, HAS_IDENTITY)) {
        const struct aten *op = aten_find(spelled_stem(d->l->a, name));
        if (!op || !aten_elementwise(op) || strcmp(op->args, "self") != 0) {
            resolve_left_out(d, g, name);
            return slot;
        }
        const int more = left_out_before(d, name);
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
        if (!more && strcmp(again->target, g->target) == 0 && python_times(fx_line_at(d, g->last), g->target) == 1)
            put_on_line(d, g, slot, spelled_root(d->l->a, g->target), true); /* the line writes its own */
        return made;
    }
    struct call *c = group_call(d, g, arena_printf(d->l->a, "%s.Tensor", spelled_stem(d->l->a, name)), 2);
    const struct call *m = group_maker(d->l->p, slot);
    const char *made = m && m->stack && c->stack ? makers_line(d, g, m, c) : NULL;
    if (made)
        c = resolve_behind(d, m, made);
    else if (m && m->stack && c->stack && reads_unbound(d, g, fx_line(d->l->a, m->stack), fx_line_at(d, g->last)))
        c->stack = NULL;
    struct param *q = learned_number(d, g, name);
    bool left = q && !computed_read_here(d, g, q, "* ", "") && !computed_read_here(d, g, q, "+ ", "");
    c->args[left] = (struct arg){.kind = ARG_SLOT, .i = slot};
    c->args[!left] = q ? (struct arg){.kind = ARG_SLOT, .i = q->slot} : INT(1);
    if (q) {
        params_sized(d->l, q, 0, (int64_t[]){0});
        d->referenced[q - d->l->p->params] = true;
    }
    return c->outs[0];
}

static bool
ends_statement(const char *target)
{
    bool ends = false;
    for (int i = 0; i < COUNT(traceless); i++)
        ends |= traceless[i].last && strcmp(traceless[i].target, target) == 0;
    return ends;
}

/* The call that made what that one, a view, shows; NULL none. */
const struct call *
resolve_viewed(const struct program *p, const struct call *c)
{
    while (c && target_is(c->target, TARGET_VIEWS | TARGET_REORDERS) && c->args[0].kind == ARG_SLOT)
        c = group_maker(p, (int)c->args[0].i);
    return c;
}

/* A view that was written in place is made anew for each of its readers, with the line of the write: it is one
 * tensor. */
static bool
made_for_reader(const struct program *p, const struct call *c)
{
    const struct call *base = resolve_viewed(p, c);
    return base && base != c && base->stack && c->stack && target_is(base->target, TARGET_WRITES) &&
           strcmp(base->stack, c->stack) == 0;
}

/* Whether the reader's line is of the function that called the maker, and is another line. */
static bool
read_beside(struct arena *a, const char *maker, const char *reader)
{
    const char *outer = maker && reader ? fx_outer(a, reader) : NULL;
    size_t n = outer ? strlen(outer) : 0, function = n ? strcspn(reader + n, ",") : 0;
    return outer && strncmp(maker, outer, n) == 0 && strncmp(maker + n, reader + n, function) == 0 &&
           !starts_with(maker, reader);
}

static int lost_duplicate(struct dynamo *d, const struct group *g, const char *name, int slot, const char *was);

/* What an equal call was given through a node of its own, where each has another: "zeros_like(x).index_add(y)". */
static int
lost_operand(struct dynamo *d, const struct group *g, const char *name)
{
    const struct graph *gr = d->l->g;
    for (int k = 0; k < g->nnodes; k++) {
        const struct node *n = &gr->n[g->nodes[k]];
        for (int i = 0; i < n->nin; i++) {
            int from = made_inside(d, g, n->in[i]);
            for (int e = 0; from >= 0 && e < gr->n[from].nin; e++) {
                int slot = gr->n[from].in[e] < 0 ? -1 : d->l->slot_of[gr->n[from].in[e]];
                const struct call *maker = slot < 0 ? NULL : group_maker(d->l->p, slot);
                if (maker && spelled_after(name, maker->target))
                    return lost_duplicate(d, g, name, slot, NULL);
            }
        }
    }
    return -1;
}

/* Whether lines write it as a subscript. */
bool
resolve_picks(const char *target)
{
    return target_is(target, TARGET_VIEWS) && !target_is(target, TARGET_KEEPS);
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
    const size_t root = c && c->name ? numbered(c->name, &number) : 0;
    if (!root || target_is(c->target, TARGET_VIEWS | TARGET_REORDERS | TARGET_CLONES | TARGET_COPIES) ||
        spelled(c->target, KEEPS_SIZES | SQUARES | CASTS_TO | CASTS | CONVERTS))
        return NULL;
    const int left = resolve_left_behind(d, c->name);
    return left < 0 ? NULL : left ? name_of(d->l->a, c->name, root, number + 1) : "";
}

/* Between which of the calls made so far one of that name ran, as the numbers of its root tell: the last one before it,
 * and the first one behind it; -1 none. */
static void
ran_between(const struct dynamo *d, const char *name, int *before, int *behind)
{
    const struct program *p = d->l->p;
    int number, other;
    const size_t root = numbered(name, &number);
    *before = *behind = -1;
    for (int i = 0; i < p->ncalls && number; i++) {
        const char *of = p->calls[i].name;
        if (!of || strncmp(of, name, root) != 0 || numbered(of, &other) != root || !other)
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
    slot = lost_duplicate(d, g, name, slot, NULL);
    d->again--;
    return slot;
}

/* Whether a call ran on the line before that one, in one run of a function, so that no loop begins between them. */
static bool
line_before(struct arena *a, const char *stack, const char *line)
{
    while (count_frames(stack) > count_frames(line))
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

/* How often a line calls the module of the reader's in which a call ran, "self.b(z)"; 0 no line does. around: how many
 * of these have what the reader computes for an argument, so that they run behind it. */
static int
calls_module(struct dynamo *d, const struct group *g, const struct call *c, const char *line, int *around)
{
    const struct module *modules = d->l->p->modules;
    const int reader = lower_module(d->l, g->path ? g->path : "", g->type);
    int at = c->scope, n = 0;
    *around = 0;
    while (at > 0 && modules[at].parent != reader)
        at = modules[at].parent;
    if (at <= 0)
        return 0;
    const char *name = arena_printf(d->l->a, "self.%s(", path_last(modules[at].path));
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
           !(strchr(o->line, '[') && (resolve_picks(o->m->target) || resolve_picks(o->reader->target)));
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
    const struct call *base = d->again && o->elsewhere ? resolve_viewed(d->l->p, o->m) : NULL;
    if (base && !of_another_class(d, g, o->m) && python_again(d->l->a, base->target, base->stack, o->stack))
        graph_doubt(d->l->g, n->name, n->op, NULL,
                    "the exporter merged what this line reads of %s with an equal call of another line",
                    target_bare(base->target));
}

/* What a call that runs again on a line reads: made again, too, where that writes it more often than it was called,
 * in all rounds of a loop; where it is a subscript of what was one expression; where a function that both lines call
 * made it; or where a round of a loop runs its line before the call's. */
static int
operand_again(struct dynamo *d, const struct group *g, const struct call *reader, const char *stack, bool rounds,
              int slot)
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
    const bool made = (part && strchr(o.line, '[')) || written_more(d, g, &o) || made_by_function(d->l->a, &o) ||
                      (o.lost && *o.lost) || (rounds && made_each_round(d->l, &o));
    const struct call *base =
        before && !o.elsewhere && !target_is(g->target, TARGET_VIEWS | TARGET_REORDERS) ? resolve_viewed(p, m) : NULL;
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
    const struct call *m = group_maker(p, slot), *base = resolve_viewed(p, m);
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
    const char *detach = traceless[DETACHES].target;
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
    return reader && python_goes_on(a, fx_line(a, reader), line_in_frame(a, c->stack, reader));
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
    const size_t root = numbered(c->name, &number);
    for (int i = 0; i < d->ngroups; i++)
        if (numbered(d->groups[i].fx_name, &number) == root && strncmp(d->groups[i].fx_name, c->name, root) == 0) {
            most = number > most ? number : most;
            count++;
        }
    return count <= most;
}

/* Two runs of one function: the frames around each, and the modules whose function it is. */
struct runs {
    const char *from, *to, *scopes, *module, *again;
    bool traced; /* the other one as a graph's code, whose lines are one call each: `to` is the reader's */
};

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
    return strcmp(r->from, r->to) != 0 && one && other && strncmp(one, other, file + 1) == 0;
}

/* A module that its reader's function calls again, on a line that is not the first one's: where the frames part, below
 * which that stack has the call again. */
static bool
find_call_again(struct dynamo *d, const struct group *g, const struct call *made, const char *stack, struct runs *r)
{
    const int reader = lower_module(d->l, g->path ? g->path : "", g->type);
    const struct module *modules = d->l->p->modules;
    int at = made->scope;
    while (at > 0 && modules[at].parent != reader)
        at = modules[at].parent;
    if (at <= 0)
        return false;
    *r = (struct runs){.scopes = d->l->g->n[g->last].scopes, .module = modules[at].path, .again = modules[at].path};
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
    const size_t root = m->name ? numbered(m->name, &number) : 0;
    for (const struct call *c = &p->calls[from]; root && c < p->calls + p->ncalls; c++)
        if (c->name && numbered(c->name, &number) == root && strncmp(c->name, m->name, root) == 0 && c->stack &&
            !python_earlier(d->l->a, m->stack, c->stack))
            last = c;
    if (!last || resolve_left_behind(d, last->name) <= 0)
        return NULL;
    numbered(last->name, &number);
    return name_of(d->l->a, last->name, root, number + 1);
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
    if (!made->stack || !stack ||
        !resolve_modules_part(a, p->modules[made->scope].path, running_module(d, g), &module, &again))
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

static int local_again(struct dynamo *d, const struct group *g, const struct runs *r, int slot);

/* The n-th call of an operator in a line of a module, from 0; -1 there are fewer. */
static int
nth_of_line(const struct program *p, const char *path, const char *stack, const char *target, int n)
{
    for (int i = 0; i < p->ncalls; i++) {
        const struct call *c = &p->calls[i];
        if (c->stack && strcmp(c->target, target) == 0 && strcmp(p->modules[c->scope].path, path) == 0 &&
            strcmp(c->stack, stack) == 0 && !n--)
            return i;
    }
    return -1;
}

/* What that line of the other run has made already, of a call of the first one; -1 nothing. */
static int
made_there(const struct program *p, const struct call *m, const char *path, const char *stack)
{
    int n = 0;
    while (nth_of_line(p, p->modules[m->scope].path, m->stack, m->target, n) != m - p->calls)
        n++;
    const int there = nth_of_line(p, path, stack, m->target, n);
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

/* What the function made in the first run, in the other: one of these calls was merged with that of the first run, so
 * that what it reads was merged, too. What neither run made is an argument of both. */
static int
local_again(struct dynamo *d, const struct group *g, const struct runs *r, int slot)
{
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
    if (!path || m->nouts > 1 || !starts_with(m->stack, r->from) || d->again == MAX_DEPTH)
        return slot;
    const char *stack = stack_again(a, r, m->stack);
    const int there = r->traced ? -1 : made_there(p, m, path, stack);
    if (there >= 0)
        return there;
    struct call c = call_again(d->l, m);
    c.scope = lower_module(d->l, path, p->modules[m->scope].type);
    c.scopes = r->scopes;
    c.stack = stack;
    c.frames = fx_frames(a, c.stack);
    c.location = fx_location(a, c.stack);
    d->again++;
    for (int k = 0; k < c.nargs; k++)
        locals_again(d, g, r, &c.args[k]);
    d->again--;
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

/* Whether a line made it, for itself or a later one, in another module of that class, and the reader is that line. */
static bool
in_another(const struct dynamo *d, const struct group *g, const struct call *made)
{
    const struct module *m = &d->l->p->modules[made->scope];
    const char *stack = d->l->g->n[g->last].stack;
    return made->stack && stack && m->type && g->type && strcmp(m->type, g->type) == 0 &&
           strcmp(m->path, g->path ? g->path : "") != 0 &&
           (strcmp(made->stack, stack) == 0 ||
            (python_earlier(d->l->a, made->stack, stack) &&
             strcmp(fx_outer(d->l->a, made->stack), fx_outer(d->l->a, stack)) == 0 &&
             python_passed(d->l->a, fx_line(d->l->a, made->stack), fx_line(d->l->a, stack))));
}

/* What a line made in another module of the reader's class, in the reader's own, which ran it, too. */
static int
made_here_too(struct dynamo *d, const struct group *g, int slot)
{
    const struct call *m = slot < 0 ? NULL : group_maker(d->l->p, slot);
    struct runs r;
    return m && in_another(d, g, m) && find_runs(d, g, m, m->stack, &r) ? local_again(d, g, &r, slot) : slot;
}

/* "getitem_4" of the call whose result of that number is "getitem_6". */
static const char *
first_item(struct arena *a, const char *name, int nth)
{
    int number;
    const size_t root = numbered(name, &number);
    return number < nth ? name : name_of(a, name, root, number - nth);
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
        numbered(name, &other);
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
    numbered(name, &number);
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
    const struct param *number = learned_number(d, g, name);
    if (number)
        return !reads_twin(d, g, name, number, maker);
    const char *terms = spelled_as(name, "add") ? python_sums(fx_line_at(d, g->last)) : NULL;
    const bool own = terms && terms[strcspn(terms, "()")] == '(' && maker && target_named(maker->target, "add") &&
                     !spelled_as(target_bare(g->target), "add");
    return terms && !own;
}

/* "total += f(x)" of a number: in what that made, "add_1" of "add", which the line of the next round reads first. */
static bool
adds_to_number(struct dynamo *d, const struct group *g, const char *name, const char *was)
{
    const char *line = fx_line_at(d, g->last);
    int number, before;
    line += strspn(line, " ");
    return was && spelled_as(name, "add") && spelled_as(was, "add") && starts_with(line + python_name(line), " += ") &&
           numbered(name, &number) == numbered(was, &before) && number == before + 1;
}

/* The frames in which that call ran again for the group; counted: numbers show when. NULL no line shows them. */
static const char *
stack_of_duplicate(struct dynamo *d, const struct group *g, const struct call *m, bool counted)
{
    struct arena *a = d->l->a;
    const char *reader = d->l->g->n[g->last].stack,
               *stack = reader ? python_again(a, m->target, m->stack, reader) : NULL;
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
    return in_another(d, g, m) ? m->stack : NULL; /* of its class: the line ran there, too */
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

/* What the call reads that runs again is made again, too, as its stack (NULL not known) or numbers tell. Whether any is
 * as numbers alone do, on its own line. */
static bool
operands_again(struct dynamo *d, const struct group *g, const struct call *made, struct call *again, const char *stack,
               bool rounds)
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
        const struct param *q = merged_param(d, g, (int)arg->i, spread);
        if (q)
            arg->i = q->slot;
        if (arg->i == was && (rounds || (stack && reader->stack && strcmp(stack, reader->stack) == 0)))
            arg->i = operand_in_round(d, g, (int)was, rounds);
        if (arg->i == was && known && !q)
            arg->i = operand_again(d, g, made, line, rounds, (int)was);
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
        !read_beside(d->l->a, again->stack, reader->stack))
        return false;
    assume_merged(d->l->p);
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

/* The same call again: duplicates were merged in the file, but both ran. Results of calls that return several are
 * getitem, whatever was called; was: what the file calls the one that is read, NULL unknown. */
static int
lost_duplicate(struct dynamo *d, const struct group *g, const char *name, int slot, const char *was)
{
    struct program *p = d->l->p;
    bool item = was && spelled_as(name, "getitem") && spelled_as(was, "getitem");
    const struct call *maker = group_maker(p, slot);
    if (changes_nothing(d, g, name, maker) || adds_to_number(d, g, name, was))
        return resolve_identity(d, g, name, slot);
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
        return norm >= 0 ? norm : resolve_identity(d, g, name, slot);
    }
    const struct aten *writes = aten_find(g->target); /* what is written was there before: a reshape's copy, too */
    const bool view = target_is(maker->target, TARGET_VIEWS | TARGET_REORDERS);
    if ((spelled(name, IS_COPY) && writes && writes->writes == WRITES_PART) || maker->anew ||
        made_for_reader(p, maker) || ends_statement(maker->target))
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
    if (stack && ran_all(d, g, maker, stack) && ran_behind(d, g, maker))
        stack = NULL;
    struct runs runs;
    const bool copied = !stack && (find_copy(d, g, maker, &runs) || find_rerun(d, g, maker, &runs));
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
    if (stack || count_frames(again.stack) <= count_frames(reader->stack)) /* the reader's module ran it */
        again.scopes = reader->scopes;
    if (copied || (stack && (find_runs(d, g, maker, stack, &runs) || find_call_again(d, g, maker, stack, &runs))))
        for (int k = 0; k < again.nargs; k++)
            locals_again(d, g, &runs, &again.args[k]);
    const bool follows = operands_again(d, g, &made, &again, stack, rounds);
    ran_between(d, name, &before, &later);
    const bool other = detach_other(d, g, &again), early = !stack && !other && !counted && ran_early(d, g, &again);
    const bool behind = early || other || (!stack && ran_on_line(d, g, &made, &again)) ||
                        next_read(&(struct call_reads){.call = &again}) < 0; /* the line behind */
    const int first = p->ncalls, i = (int)(group_maker(p, slot) - p->calls);
    *PUSH(d->l->a, p->calls, p->ncalls, p->cap_calls) = again;
    if (stack)
        group_move(d, first, behind_operands(p, first, before_later(d, g, first)));
    else if (other)
        group_move(d, first - 1, i + 1); /* with what is detached for it */
    else if (behind || follows || counted)
        group_move(d, first, behind_operands(p, first, (!behind && counted && before > i ? before : i) + 1));
    else if (view && reader->stack)
        p->calls[first].stack = NULL; /* of a line that is not known */
    return again.outs[nth];
}

static int lost_traceless(struct dynamo *d, const struct group *g, const char *name, int slot);

int
resolve_again(struct dynamo *d, const struct group *g, const char *name, int tensor)
{
    struct lowering *l = d->l;
    const struct node *reader = &l->g->n[g->last];
    int slot = lost_traceless(d, g, name, l->slot_of[tensor]);
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
    return lost_duplicate(d, g, c->name, slot, NULL);
}

/* The next free input. Of an attention's, masks are boolean and nothing else is; of a linear's, the input has the
 * result's rank, the weight 2 and the bias 1. */
static int
take_spare(const struct dynamo *d, const struct group *g, int position, int *spare, int nspare, int *used)
{
    bool attention = spelled(g->target, ATTENDS);
    bool linear = spelled(g->target, PROJECTS);
    int out = group_output(d, g), rank = position || out < 0 ? 3 - position : d->l->g->t[out].rank;
    for (int i = *used; i < nspare && (attention || linear); i++) {
        int t = spare[i];
        const struct tensor *x = &d->l->g->t[t];
        if (attention ? (x->dtype == DT_BOOL) != (position == 3) : x->rank != rank)
            continue;
        memmove(&spare[*used + 1], &spare[*used], sizeof(int) * (size_t)(i - *used));
        spare[*used] = t;
        break;
    }
    return spare[(*used)++];
}

static bool
is_input(const struct program *p, int slot)
{
    for (int i = 0; i < p->ninputs; i++)
        if (p->inputs[i].slot == slot)
            return true;
    return false;
}

/* x.type_as(y) where the types were equal: a softmax goes back to the type of its input, others to that of what entered
 * their module, no parameter of it. */
static int
lost_type_as(struct dynamo *d, const struct group *g, int slot)
{
    const struct program *p = d->l->p;
    int from = p->ncalls - 1, like = -1;
    while (from >= 0 && p->calls[from].outs[0] != slot)
        from--;
    if (from < 0 || spelled(p->calls[from].target, CASTS)) /* a fact has put it back */
        return slot;
    for (int i = from; i >= 0 && p->calls[i].scope == p->calls[from].scope; i--)
        for (int k = p->calls[i].nargs - 1; k >= 0; k--) {
            const struct arg *a = &p->calls[i].args[k];
            bool enters = a->kind == ARG_SLOT && (i == from || group_maker(p, a->i) || is_input(p, (int)a->i));
            like = enters ? (int)a->i : like;
        }
    if (spelled(p->calls[from].target, NORMALIZES))
        like = (int)p->calls[from].args[0].i;
    if (like < 0)
        return slot;
    const char *read = fx_line_at(d, g->last), *stack = p->calls[from].stack;
    int cast = group_cast_like(d, g, slot, like);
    if (stack && !strstr(read, "type_as(") && !strstr(read, ".to(")) { /* where its input was made, then */
        p->calls[p->ncalls - 1].stack = stack;
        group_move(d, p->ncalls - 1, from + 1);
    }
    return cast;
}

/* The constant among the group's inputs that the lost call's twin became: the file has their numbers once. */
static int
twin_constant(struct dynamo *d, const struct group *g, const char *name)
{
    const struct graph *gr = d->l->g;
    for (int k = 0; k < g->nnodes; k++)
        for (int i = 0; i < gr->n[g->nodes[k]].nin; i++) {
            int t = gr->n[g->nodes[k]].in[i];
            if (t >= 0 && gr->t[t].is_initializer && d->l->slot_of[t] < 0 &&
                strcmp(spelled_stem(d->l->a, gr->t[t].name), spelled_stem(d->l->a, name)) == 0)
                return t;
        }
    return -1;
}

/* An input of the group that the same operator made: merged with the lost one, it is read twice. */
static int
twin_input(const struct dynamo *d, const struct group *g, const char *name)
{
    const struct lowering *l = d->l;
    for (int k = 0; k < g->nnodes; k++) {
        const struct node *n = &l->g->n[g->nodes[k]];
        for (int i = 0; i < n->nin; i++) {
            int slot = n->in[i] < 0 || n->in[i] == d->fed ? -1 : l->slot_of[n->in[i]];
            for (int c = l->p->ncalls - 1; c >= 0 && slot >= 0; c--)
                if (l->p->calls[c].outs[0] == slot && spelled_after(name, l->p->calls[c].target))
                    return slot;
        }
    }
    return -1;
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

/* "f(y).detach().chunk(2)": what takes it apart left no text. */
static bool
takes_apart(const char *line, const char *stem)
{
    static const char *const parts[] = {".chunk(", ".split(", ".unbind(", ".tensor_split("};
    for (const char *p = line; (p = python_calls(p, stem)); p++) {
        const char *behind = *p == ')' ? p + strspn(p, ") ") : "";
        for (int i = 0; i < COUNT(parts); i++)
            if (starts_with(behind, parts[i]))
                return true;
    }
    return false;
}

/* "x = f(y).detach()" after the last call of f. */
int
resolve_last(struct dynamo *d, const struct group *g, int slot, bool parted)
{
    struct lowering *l = d->l;
    int at = d->group_of[g->last];
    const char *stack = g->nnodes ? l->g->n[g->last].stack : NULL,
               *next = at + 1 < d->ngroups ? l->g->n[d->groups[at + 1].nodes[0]].stack : NULL;
    for (int i = 0; i < COUNT(traceless) && stack; i++)
        for (const char *s = traceless[i].last & fx_record(l, g->last)->traced->says ? stack : "";
             python_frame(s) && !(next && starts_with(next, s)); s = fx_outer(l->a, s))
            if (parted ? takes_apart(fx_line(l->a, s), traceless[i].stem)
                       : python_closes(l->a, fx_line(l->a, s), traceless[i].stem)) {
                struct call *c = group_call(d, g, traceless[i].target, 1);
                c->args[0] = (struct arg){.kind = ARG_SLOT, .i = slot};
                c->stack = s;
                return c->outs[0];
            }
    return slot;
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

static int
lost_traceless(struct dynamo *d, const struct group *g, const char *name, int slot)
{
    const char *line = fx_line_at(d, g->last);
    for (int i = 0; i < COUNT(traceless); i++)
        if (spelled_as(name, traceless[i].stem)) {
            const struct call *before = group_maker(d->l->p, slot);
            if (before && spelled_after(name, before->target)) /* merged with it, or resolve_last's */
                return slot;
            slot = operand_again(d, g, NULL, d->l->g->n[g->last].stack, false, slot);
            if (clones_before(line, traceless[i].stem)) {
                struct call *clone = group_call(d, g, "aten.clone.default", 1);
                clone->args[0] = (struct arg){.kind = ARG_SLOT, .i = slot};
                slot = clone->outs[0];
            }
            struct call *c = group_call(d, g, traceless[i].target, 1);
            c->args[0] = (struct arg){.kind = ARG_SLOT, .i = slot};
            if (traceless[i].list)
                c->args[0] =
                    (struct arg){.kind = ARG_LIST, .n = 1, .list = arena_dup(d->l->a, c->args, sizeof(*c->args))};
            const struct node *reader = &d->l->g->n[g->last];
            const char *stem = traceless[i].stem, *outer = argument_frame(d->l->a, reader->stack, stem);
            int made = c->outs[0];
            if (outer) {
                c->stack = outer;
            } else if (!python_calls(line, stem)) {
                put_on_line(d, g, slot, stem, false);
            }
            return made;
        }
    return slot;
}

int
resolve_written(const struct dynamo *d, int slot)
{
    const char *detach = traceless[DETACHES].target;
    const unsigned shows = TARGET_WRITES | TARGET_VIEWS | TARGET_REORDERS;
    const struct program *p = d->l->p;
    const struct call *c = group_maker(p, slot), *of = c;
    bool written = false;
    while (of && (of->in_place || target_is(of->target, shows)) && strcmp(of->target, detach) != 0) {
        written |= of->in_place || target_is(of->target, TARGET_WRITES);
        of = of->args[0].kind == ARG_SLOT ? group_maker(p, of->args[0].i) : NULL;
    }
    const bool cut = written && of && strcmp(of->target, detach) == 0;
    const struct call *base = cut ? group_maker(p, of->args[0].i) : NULL;
    const bool all = base && !target_is(base->target, TARGET_VIEWS | TARGET_REORDERS) && base->rank == c->rank &&
                     c->rank >= 0 && base->size && c->size &&
                     memcmp(base->size, c->size, sizeof(*c->size) * (size_t)c->rank) == 0;
    return all ? resolve_written(d, (int)of->args[0].i) : slot;
}

/* Complex numbers that their own line sees as pairs, "view_as_real(fft(x))": what was sliced of them, all of one
 * dimension, may have been all that named the pairs. Each reader of the file's tensor reads these. */
static void
seen_as_pairs(struct dynamo *d, const struct group *g, const char *name, int tensor)
{
    struct lowering *l = d->l;
    const struct call *m = group_maker(l->p, l->slot_of[tensor]);
    if (!m || !m->stack || !target_is(m->target, TARGET_COMPLEX) || is_traceless(name) || !spelled(name, MAY_SLICE) ||
        !python_calls(fx_line(l->a, m->stack), traceless[PAIRS].stem))
        return;
    struct call *c = group_call(d, g, traceless[PAIRS].target, 1);
    m = group_maker(l->p, l->slot_of[tensor]);
    c->args[0] = (struct arg){.kind = ARG_SLOT, .i = l->slot_of[tensor]};
    l->slot_of[tensor] = resolve_behind(d, m, m->stack)->outs[0];
}

/* "x.unfold(1, 8, 1).transpose(2, 3)": the operator's own nodes end by turning their result, the next call turns it
 * back, and the file has neither. Of unfold, whose windows are last, and of what turned its operand at first. -1 it is
 * none. */
static int
lost_turn(struct dynamo *d, const struct group *g, const char *name, int tensor)
{
    static const char unfold[] = "unfold";
    struct lowering *l = d->l;
    const struct graph *gr = l->g;
    const struct tensor *t = &gr->t[tensor];
    const struct call *m = group_maker(l->p, l->slot_of[tensor]);
    const int from = t->producer < 0 ? -1 : d->group_of[t->producer];
    const struct group *made = from < 0 ? NULL : &d->groups[from];
    const int rank = t->rank;
    if (!m || !made || !spelled(name, TRANSPOSES) || target_is(m->target, TARGET_REORDERS) ||
        target_is(made->target, TARGET_REORDERS) || rank < 2 || rank > MAX_RANK)
        return -1;
    const struct attr *turned = NULL;
    for (int k = 0; k < made->nnodes && !turned; k++)
        turned = node_call(&gr->n[made->nodes[k]]) == CALL_PERMUTE ? node_attr(&gr->n[made->nodes[k]], "perm") : NULL;
    const bool windows = target_named(m->target, unfold) && m->nargs > 1 && m->args[1].kind == ARG_INT;
    if (!windows && (!turned || turned->n != rank || !turned->ints))
        return -1;
    const int at = windows ? (int)(m->args[1].i < 0 ? m->args[1].i + rank - 1 : m->args[1].i) + 1 : 0;
    struct arg *order = NEWN(l->a, struct arg, rank);
    int64_t *size = NEWN(l->a, int64_t, rank), *own = NEWN(l->a, int64_t, rank);
    if (at < 0 || at >= rank)
        return -1;
    for (int k = 0; k < rank; k++) {
        int64_t of = !windows ? turned->ints[k] : k < at ? k : k == at ? rank - 1 : k - 1;
        if (of < 0 || of >= rank)
            return -1;
        order[k] = INT(of);
        size[k] = own[of] = t->dims[k].n;
    }
    struct call *maker = &l->p->calls[m - l->p->calls];
    maker->rank = rank;
    maker->size = own;
    struct call *c = group_call(d, g, "aten.permute.default", 2);
    c->args[0] = (struct arg){.kind = ARG_SLOT, .i = l->slot_of[tensor]};
    c->args[1] = (struct arg){.kind = ARG_LIST, .n = rank, .list = order};
    c->rank = rank;
    c->size = size;
    return c->outs[0];
}

/* A scalar that is seen as a list of one: reductions make such lists in a file, so that the view is left out; and x[:n]
 * of what has n rows, which is an alias: applySlicing in torch/csrc/autograd/python_variable_indexing.h. */
static bool
views_same(const struct dynamo *d, const char *name, int tensor)
{
    const struct tensor *t = &d->l->g->t[tensor];
    return spelled_as(name, "alias") ||
           (target_views(spelled_stem(d->l->a, name)) && t->rank == 1 && t->dims[0].n == 1);
}

int
resolve_view(struct dynamo *d, const struct group *g, const char *target, int nargs, int tensor)
{
    struct call *c = group_call(d, g, target, nargs);
    c->args[0] = (struct arg){.kind = ARG_SLOT, .i = d->l->slot_of[tensor]};
    lower_sizes(d->l, &d->l->g->t[tensor], &c->rank, &c->size);
    return c->outs[0];
}

/* A slice of all that was not left out when it was traced, where sizes are numbers: narrow(), split(), not x[:n], which
 * is an alias. */
static bool
slices_all(const struct dynamo *d, const char *name, int slot)
{
    const struct call *c = group_maker(d->l->p, slot);
    return !d->l->s->ndims && spelled(name, MAY_SLICE) && !spelled(name, IS_SAME) && c &&
           !spelled_after(name, c->target);
}

int
resolve_returned(struct dynamo *d, const struct group *g, const char *name, int tensor)
{
    const struct lowering *l = d->l;
    const int slot = l->slot_of[tensor];
    const struct call *m = group_maker(l->p, slot);
    if (slices_all(d, name, slot))
        return resolve_view(d, g, "aten.slice.Tensor", 1, tensor);
    if (m && m->nouts == 1 && l->g->t[tensor].rank == 0 && spelled_as(name, "getitem")) /* "x.max(0)[0]" of a scalar */
        graph_doubt(l->g, l->g->t[tensor].name, "output", NULL,
                    "a call with several results, of which the model returns one, was left out, because it changes no "
                    "number: the tensors that PyTorch makes there are not counted");
    return resolve_identity(d, g, name, slot);
}

/* The gradient of expand is a sum, even of a scalar that stays one: sum_to in ExpandUtils.h. */
static bool
stays_scalar(const struct dynamo *d, const char *name, int tensor)
{
    const char *stem = spelled_stem(d->l->a, name);
    const struct aten *op = aten_find(stem);
    return op && op->shaped && target_views(stem) && d->l->g->t[tensor].rank == 0;
}

/* ---- arguments --------------------------------------------------------------------------------------------------- */

/* Whether a node of the group reads numbers that another call made on its way, and no argument can be. */
static bool
reads_interior(const struct dynamo *d, const struct group *g)
{
    const struct graph *gr = d->l->g;
    for (int k = 0; k < g->nnodes; k++)
        for (int i = 0; i < gr->n[g->nodes[k]].nin; i++) {
            int t = gr->n[g->nodes[k]].in[i];
            if (t >= 0 && !gr->t[t].is_initializer && gr->t[t].producer >= 0 && d->l->slot_of[t] < 0 &&
                dtypes[gr->t[t].dtype].is_float && !group_makes(d, g, t))
                return true;
        }
    return false;
}

/* A copy to the type that the tensor has. */
static int
lost_conversion(struct dynamo *d, const struct group *g, int tensor)
{
    const struct node *n = &d->l->g->n[g->last];
    graph_doubt(d->l->g, n->name, n->op, "memlint.export",
                "%s was copied before this, to another memory format or device, which the file does not show",
                d->l->g->t[tensor].name);
    return d->l->slot_of[tensor];
}

/* Indices that the file has in the nodes of another call alone, which sees equal ones under other sizes. -1 none. */
static int
lost_indices(struct dynamo *d, const struct group *g, const char *name)
{
    const struct graph *gr = d->l->g;
    for (int k = 0; k < g->nnodes; k++)
        for (int i = 0; i < gr->n[g->nodes[k]].nin; i++) {
            int t = gr->n[g->nodes[k]].in[i];
            if (t < 0 || dtypes[gr->t[t].dtype].is_float || group_makes(d, g, t))
                continue;
            const struct node *n;
            while (t >= 0 && d->l->slot_of[t] < 0 && gr->t[t].producer >= 0 && (n = &gr->n[gr->t[t].producer])->row &&
                   n->row->aten && target_views(n->row->aten))
                t = n->in[0];
            const int slot = t < 0 ? -1 : d->l->slot_of[t];
            const struct call *m = slot < 0 ? NULL : group_maker(d->l->p, slot);
            if (m && t != gr->n[g->nodes[k]].in[i] && spelled_after(name, m->target))
                return lost_duplicate(d, g, name, slot, NULL);
        }
    return -1;
}

/* Whether the group's nodes read a float tensor of that rank that is no constant. */
static bool
reads_computed(const struct dynamo *d, const struct group *g, int rank)
{
    const struct graph *gr = d->l->g;
    bool reads = false;
    for (int k = 0; k < g->nnodes; k++)
        for (int i = 0; i < gr->n[g->nodes[k]].nin; i++) {
            const int t = gr->n[g->nodes[k]].in[i];
            reads |= t >= 0 && gr->t[t].rank == rank && dtypes[gr->t[t].dtype].is_float && !gr->t[t].is_initializer &&
                     !group_makes(d, g, t);
        }
    return reads;
}

/* "F.linear(x, self.weight * self.scale, self.bias * self.scale)", of which the file has the numbers, the weight's
 * turned, the bias's under another's name, or none where they are 0. -1 it is none. */
static int
lost_scaled(struct dynamo *d, const struct group *g, const char *name, int position)
{
    enum { WEIGHT = 1, BIAS };
    struct lowering *l = d->l;
    const bool linear = spelled(g->target, PROJECTS);
    const int out = group_output(d, g), rank = out < 0 ? -1 : l->g->t[out].rank, at = linear ? rank - 1 : 1;
    const char *stem = spelled_stem(l->a, name);
    int unread;
    if (!(position == BIAS || (position == WEIGHT && linear && rank > 2)) || at < 0 || at >= rank ||
        !(linear || spelled(g->target, CONVOLVES)) || !spelled(stem, KEEPS_SIZES) ||
        reads_computed(d, g, position == BIAS ? 1 : 2))
        return -1;
    struct param *q = computed_unread_weight(d, g, stem, &unread);
    const int64_t size[] = {l->g->t[out].dims[at].n, params_width(d, g)};
    if (!q || !computed_read_here(d, g, q, "", "") || (position == WEIGHT && size[1] < 1))
        return -1;
    params_sized(l, q, position == WEIGHT ? 2 : 1, size);
    struct call *c = computed_call(d, g, arena_printf(l->a, "%s.Tensor", stem), 2, q, q->rank, q->size);
    c->args[1] = INT(1);
    return c->outs[0];
}

/* Whether a node of the group has the tensor for two operands. */
static bool
reads_twice(const struct dynamo *d, const struct group *g, int tensor)
{
    bool twice = false;
    for (int k = 0; k < g->nnodes && !twice; k++) {
        const struct node *n = &d->l->g->n[g->nodes[k]];
        twice = n->nin > 1 && n->in[0] == tensor && n->in[1] == tensor;
    }
    return twice;
}

/* A copy of the parameter that the group's nodes read and its text does not name: torch.rot90 of no turn copies. -1 no
 * such one. */
static int
lost_copy(struct dynamo *d, const struct group *g)
{
    const struct graph *gr = d->l->g;
    const bool turns = python_calls(fx_line_at(d, g->last), "rot90");
    for (int k = 0; k < g->nnodes; k++)
        for (int i = 0; i < gr->n[g->nodes[k]].nin; i++) {
            const int t = gr->n[g->nodes[k]].in[i];
            const struct param *q = t < 0 ? NULL : params_called(d, gr->t[t].name);
            if (!q || q->rank < 1 || names_param(d, g, q))
                continue;
            struct call *c = group_call(d, g, turns ? "aten.rot90.turned" : "aten.clone.default", 1);
            c->args[0] = (struct arg){.kind = ARG_SLOT, .i = q->slot};
            return c->outs[0];
        }
    return -1;
}

/* The slot for a name that no call defined; -1 when it is no tensor of the step (a symbolic size). */
static int
resolve_lost(struct dynamo *d, const struct group *g, const char *name, int position, int *spare, int nspare, int *used)
{
    struct lowering *l = d->l;
    int t = graph_find(l->g, name);
    if (spelled(name, IS_SIZE) || spelled(name, IS_NUMBER))
        return -1;
    if (t >= 0 && l->slot_of[t] >= 0) { /* the name survived as a value's */
        if (is_traceless(name))
            return lost_traceless(d, g, name, l->slot_of[t]);
        if (!spelled(name, COPIES))
            resolve_left_out(d, g, name);
        return spelled(name, CASTS) ? lost_type_as(d, g, l->slot_of[t]) : l->slot_of[t];
    }
    if (t >= 0 && l->g->t[t].is_initializer)
        return computed_constant(d, g, name, t);
    int inner = lost_scaled(d, g, name, position);
    inner = inner < 0 ? lost_inside(d, g, name) : inner;
    if (inner >= 0)
        return inner;
    inner = spelled_as(name, traceless[DETACHES].stem) ? lost_inside(d, g, NULL) : -1;
    if (inner >= 0)
        return lost_traceless(d, g, name, inner);
    bool traceless = is_traceless(name);
    if (*used >= nspare &&
        (traceless || spelled(name, MAY_SLICE) || target_is(spelled_stem(l->a, name), TARGET_KEEPS))) {
        const struct param *q = sliced_input(d, g, name);
        if (q)
            return traceless ? lost_traceless(d, g, name, q->slot) : q->slot;
    }
    if (nspare == 1 && *used && spelled_as(name, "getitem") && reads_twice(d, g, spare[0])) {
        t = spare[0];
    } else if (*used >= nspare) {
        const struct aten *was = aten_find(spelled_stem(l->a, name));
        int inside = computed_made_here(d, g, was) ? -1 : lost_interior(d, g, position);
        t = inside < 0 ? twin_constant(d, g, name) : -1;
        t = inside < 0 && t < 0 ? constant_index(d, g, position) : t;
        if (t >= 0)
            return computed_constant(d, g, name, t);
        int index = inside < 0 ? lost_indices(d, g, name) : -1;
        if (index >= 0)
            return index;
        int twin = inside < 0 ? twin_input(d, g, name) : -1;
        if (twin >= 0)
            return lost_duplicate(d, g, name, twin, NULL);
        int operand = inside < 0 ? lost_operand(d, g, name) : -1;
        if (operand >= 0)
            return operand;
        t = inside < 0 ? constant_input(d, g, name, !was || !was->shaped) : -1;
        const struct call *maker = inside < 0 ? NULL : group_maker(l->p, inside);
        if (maker && spelled_after(name, maker->target) && next_read(&(struct call_reads){maker}) < 0)
            return lost_duplicate(d, g, name, inside, NULL);
        if (t >= 0 || inside >= 0)
            return t >= 0 ? computed_constant(d, g, name, t) : inside;
        int copy = spelled(name, COPIES) ? lost_copy(d, g) : -1;
        if (copy >= 0)
            return copy;
        bool tensor =
            !position || spelled(name, COPIES) || traceless || reads_interior(d, g); /* "mul" may be of sizes */
        if (!tensor || constant_input(d, g, name, false) >= 0 || (!position && spelled_alone(g->target)))
            return -1;
        if (reads_interior(d, g) ||
            !group_inputs(d, g, NULL, 0, &t, 1)) { /* what it read stands in another place too */
            graph_doubt(l->g, l->g->n[g->last].name, l->g->n[g->last].op, NULL,
                        "nothing in the file shows what %s was, which this reads", name);
            return -1;
        }
    } else {
        t = take_spare(d, g, position, spare, nspare, used);
    }
    int turned = lost_turn(d, g, name, t);
    if (turned >= 0)
        return turned;
    seen_as_pairs(d, g, name, t);
    int slot = lost_traceless(d, g, name, l->slot_of[t]);
    if (slot == l->slot_of[t] && position == 0)
        slot = lost_pad(d, g, t);
    if (slot == l->slot_of[t])
        slot = spelled(name, COPIES)       ? resolve_clone(d, g, t, false)
               : views_same(d, name, t)    ? resolve_view(d, g, "aten.reshape.default", 2, t)
               : stays_scalar(d, name, t)  ? resolve_view(d, g, spelled_stem(l->a, name), 1, t)
               : slices_all(d, name, slot) ? resolve_view(d, g, "aten.slice.Tensor", 1, t)
               : spelled(name, CONVERTS) && !spelled(l->g->t[t].name, CONVERTS)
                   ? lost_conversion(d, g, t)
                   : lost_duplicate(d, g, name, slot, l->g->t[t].name);
    if (slot != l->slot_of[t])
        *PUSH(l->a, d->origins, d->norigins, d->cap_origins) = (struct origin){slot, t};
    return slot;
}

/* An argument that is a number or a list of them. */
static bool
takes_sizes(const struct group *g, int position)
{
    static const char *const names[] = {"size", "sizes", "shape", "output_size", "split_sizes", "repeats", "s"};
    const struct aten *op = aten_find(g->target);
    const char *arg = op ? op->args : "";
    for (; position > 0 && *arg; position--) {
        arg += strcspn(arg, " ");
        arg += *arg == ' ';
    }
    const size_t len = strcspn(arg, " ");
    bool sizes = false;
    for (int i = 0; i < COUNT(names); i++)
        sizes |= len == strlen(names[i]) && memcmp(arg, names[i], len) == 0;
    return sizes;
}

/* A body's call names its parameters as the body's arguments: what the node reads at that position, or the next that
 * the nodes read. */
static int
param_in_body(struct dynamo *d, const struct group *g, int position)
{
    const struct lowering *l = d->l;
    int skip = d->body_params;
    bool one = g->nnodes == 1;
    for (int k = 0; k < g->nnodes && l->g->unrolled; k++) {
        const struct node *n = &l->g->n[g->nodes[k]];
        for (int i = one ? position : 0; i < (one ? position + 1 : n->nin) && i < n->nin; i++)
            for (int j = 0; n->in[i] >= 0 && l->g->t[n->in[i]].is_initializer && j < l->p->nparams; j++)
                if (strcmp(l->p->params[j].name, l->g->t[n->in[i]].name) == 0 && (one || skip-- == 0)) {
                    d->body_params++;
                    return l->p->params[j].slot;
                }
    }
    return -1;
}

void
resolve_arg(struct dynamo *d, const struct group *g, struct arg *a, int position, int *spare, int nspare, int *used)
{
    struct lowering *l = d->l;
    if (a->kind == ARG_LIST)
        for (int i = 0; i < a->n; i++)
            resolve_arg(d, g, &a->list[i], position, spare, nspare, used);
    if (a->kind != ARG_SLOT || a->i >= 0)
        return;
    a->i = names_find(l->slots, a->s); /* "x * x": the first one found it */
    if (a->i >= 0)
        return;
    if (takes_sizes(g, position)) {
        *a = INT(-1);
        return;
    }
    int slot = l->g->unrolled && *used >= nspare && !spelled(a->s, IS_NUMBER) ? param_in_body(d, g, position) : -1;
    slot = slot >= 0 ? slot : resolve_lost(d, g, a->s, position, spare, nspare, used);
    if (slot < 0) {
        *a = spelled(a->s, IS_NUMBER) ? FLT(0) : INT(-1); /* a number, a symbolic size */
        return;
    }
    a->i = slot;
    if (!computed_made_here(d, g, aten_find(spelled_stem(l->a, a->s)))) /* else each run of the line makes its own */
        names_put(l->slots, a->s, slot);
}

void
resolve_known(struct dynamo *d, struct arg *a, int *missing)
{
    if (a->kind == ARG_LIST)
        for (int i = 0; i < a->n; i++)
            resolve_known(d, &a->list[i], missing);
    if (a->kind == ARG_SLOT) {
        a->i = names_find(d->l->slots, a->s);
        *missing += a->i < 0;
    }
}
