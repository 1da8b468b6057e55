/* SPDX-License-Identifier: Apache-2.0 */
/* resolve.c - the names in a recorded call's arguments to slots.
 *
 * Names that no node defines were optimized away. Each has a reason that the name and its neighbours show: a dropout
 * in evaluation mode, a convolution that took in its batch norm, a merged transpose, a folded constant, a shared
 * duplicate. Each reason is a function whose name begins with lost_, or is in left.c, clones.c, again.c or computed.c.
 * The file's own tensors fill the gap: the group's inputs that no other argument accounts for.
 */
#include "lower/dynamo.h"
#include "torch/torch.h"

#include <ctype.h>
#include <string.h>

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

/* The buffer whose data the group reads, or the parameter that no call names: all of it, under other sizes or as
 * complex numbers. */
static const struct param *
sliced_input(struct dynamo *d, const struct group *g, const char *name)
{
    const struct graph *gr = d->l->g;
    const bool left_nothing = spelled_traceless(name);
    for (int k = 0; k < g->nnodes; k++) {
        const struct node *n = &gr->n[g->nodes[k]];
        for (int i = 0; i < n->nin; i++) {
            const struct param *q = n->in[i] < 0 ? NULL : params_called(d, gr->t[n->in[i]].name);
            bool *named = q ? &d->referenced[q - d->l->p->params] : NULL;
            if (q && (q->kind == PARAM_BUFFER || (!spelled_as(name, "slice") && (left_nothing || !*named)))) {
                *named = true;
                return q;
            }
        }
    }
    return NULL;
}

/* Which element of a list the group's text has by that name: 1 in "[%a, %b]"; 0 too, where it is none's. */
static int
element_of(struct arena *a, const struct group *g, const char *name)
{
    const char *word = arena_printf(a, "%%%s", name), *at = g->args ? g->args : "";
    const size_t n = strlen(word);
    while ((at = strstr(at, word)) && python_name(at + 1) != n - 1)
        at += n;
    int element = 0;
    for (; at && at > g->args && at[-1] != '['; at--)
        element += *at == ',';
    return at && at > g->args ? element : 0;
}

/* Duplicates merged inside a decomposition: the group reads an interior value of an earlier group of the same
 * operator, which stands for the argument in the same position there. */
static int
lost_interior(const struct dynamo *d, const struct group *g, const char *name, int position)
{
    const struct graph *gr = d->l->g;
    const struct program *p = d->l->p;
    for (int k = 0; k < g->nnodes; k++) {
        const struct node *n = &gr->n[g->nodes[k]];
        for (int i = 0; i < n->nin; i++) {
            int from = left_inside(d, g, n->in[i]), call = from < 0 ? -1 : d->groups[d->group_of[from]].call;
            if (call < 0)
                continue;
            const struct call *c = &p->calls[call];
            const struct arg *a = position < c->nargs ? &c->args[position] : &NONE;
            const int own = a->kind == ARG_LIST ? element_of(d->l->a, g, name) : 0;
            for (int e = own; e < (a->kind == ARG_LIST ? a->n : 1); e++) {
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
        return again_made_here(d, g, l->slot_of[tensor]);
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
    left_assume_merged(p);
    if (setup_instead(d->l->s, ALTERNATIVE_MERGED))
        group_move(d, before, behind);
    return slot;
}

/* The argument of an attention that the tensor is: 0 the query, 1 the key, 2 the value, as the products of its nodes
 * read them; -1 they don't. */
static int
attends_as(const struct dynamo *d, const struct group *g, int tensor)
{
    const struct graph *gr = d->l->g;
    const struct node *scores = NULL, *last = NULL;
    for (int k = 0; k < g->nnodes; k++) {
        const struct node *n = &gr->n[g->nodes[k]];
        if (!n->row || !n->row->aten || !target_is(n->row->aten, TARGET_MULTIPLIES) || n->nin != 2)
            continue;
        scores = scores ? scores : n;
        last = n;
    }
    const int from[] = {scores ? scores->in[0] : -1, scores ? scores->in[1] : -1, last ? last->in[1] : -1};
    for (int k = 0; k < COUNT(from); k++) {
        int t = from[k];
        while (t >= 0 && group_makes(d, g, t) && gr->n[gr->t[t].producer].nin)
            t = gr->n[gr->t[t].producer].in[0];
        if (t == tensor)
            return k;
    }
    return -1;
}

/* How well a tensor does for an argument, 0 not: of an attention its products tell queries, keys and values, and what
 * they don't read is a mask, as what is boolean must be; of a linear, the input has the result's rank, the weight 2 and
 * the bias 1. */
static int
suits(const struct dynamo *d, const struct group *g, int position, int tensor)
{
    const struct tensor *x = &d->l->g->t[tensor];
    const int out = group_output(d, g), rank = position || out < 0 ? 3 - position : d->l->g->t[out].rank;
    if (!spelled(g->target, ATTENDS))
        return x->rank == rank;
    const int role = attends_as(d, g, tensor);
    const bool mask = position == 3;
    return role == position ? 3 : role >= 0 ? 0 : (x->dtype == DT_BOOL) == mask ? 2 : mask;
}

/* Whether an attention reads it as its mask, which nobody drops out. */
static bool
is_mask(const struct dynamo *d, const struct group *g, int tensor)
{
    return spelled(g->target, ATTENDS) && attends_as(d, g, tensor) < 0;
}

/* The next free input, of an attention's and of a linear's the first of those that suit best. */
static int
take_spare(const struct dynamo *d, const struct group *g, int position, int *spare, int nspare, int *used)
{
    int best = *used, most = 0;
    for (int i = *used; i < nspare && spelled(g->target, ATTENDS | PROJECTS); i++) {
        const int how = suits(d, g, position, spare[i]);
        best = how > most ? i : best;
        most = how > most ? how : most;
    }
    const int t = spare[best];
    memmove(&spare[*used + 1], &spare[*used], sizeof(int) * (size_t)(best - *used));
    spare[*used] = t;
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

/* The first tensor that a module reads which the line of those frames calls, up to that call; -1 none. */
static int
given_to(const struct dynamo *d, const char *stack, const char *module, size_t n, int last)
{
    const struct program *p = d->l->p;
    int slot = -1, read;
    for (int i = last; i >= 0 && p->calls[i].stack && starts_with(p->calls[i].stack, stack); i--) {
        const char *own = path_last(p->modules[p->calls[i].scope].path);
        if (strlen(own) == n && strncmp(own, module, n) == 0 &&
            (read = next_read(&(struct call_reads){&p->calls[i]})) >= 0)
            slot = read;
    }
    return slot;
}

static bool
is_name(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* The bracket that the one there closes; the line's begin where none does. */
static const char *
opening(const char *line, const char *close)
{
    for (int depth = 1; close > line && depth > 0;)
        depth -= python_opens(*--close);
    return close;
}

/* What "(x.float() + y).type_as(x)", "(self.norm(x.float()) * y).type_as(x)" or "self.norm(x.float()).type_as(x)" goes
 * back to, on the line where that call made it, and the frames down to that line; -1 another line. */
static int
gone_back_to(const struct dynamo *d, int made, const char **frames)
{
    static const char as[] = ").type_as(", self[] = "self.", widened[] = ".float()";
    const struct call *c = &d->l->p->calls[made];
    *frames = c->stack;
    const char *line = c->stack ? fx_line(d->l->a, c->stack) : "", *end = strstr(line, as);
    if (!end && c->stack) {
        *frames = fx_outer(d->l->a, c->stack);
        end = strstr(line = fx_line(d->l->a, *frames), as);
    }
    const char *from = end ? opening(line, end) : line;
    if (!end || *from != '(')
        return -1;
    const bool called = from > line && is_name(from[-1]);
    if (called != (*frames != c->stack) || (!called && spelled(c->target, CASTS))) /* an operand's; cast already */
        return -1;
    while (called && from > line && (is_name(from[-1]) || from[-1] == '.'))
        from--;
    from += !called;
    const char *module = starts_with(from, self) ? from + strlen(self) : "";
    const size_t len = python_name(module);
    const bool given = len && module[len] == '(';
    const char *x = given ? module + len + 1 : from, *like = end + strlen(as);
    const size_t n = python_name(x);
    const bool same = n && strncmp(x, like, n) == 0 && like[n] == ')', widens = starts_with(x + n, widened);
    if (!n || !(same || (!*like && widens)) || (called && !given)) /* or it stands on the next line */
        return -1;
    if (given)
        return given_to(d, *frames, module, len, made);
    const struct call *cast =
        widens && c->nargs && c->args[0].kind == ARG_SLOT ? group_maker(d->l->p, c->args[0].i) : NULL;
    const struct arg *operand = cast && spelled(cast->target, CASTS_TO) ? cast->args : c->args;
    return c->nargs && operand->kind == ARG_SLOT ? (int)operand->i : -1;
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
    if (from < 0 || spelled(p->calls[from].target, CASTS)) /* a fact has put it back, or its line */
        return slot;
    const char *line;
    const int back = gone_back_to(d, from, &line);
    for (int i = from; i >= 0 && p->calls[i].scope == p->calls[from].scope; i--)
        for (int k = p->calls[i].nargs - 1; k >= 0; k--) {
            const struct arg *a = &p->calls[i].args[k];
            bool enters = a->kind == ARG_SLOT && (i == from || group_maker(p, a->i) || is_input(p, (int)a->i));
            like = enters ? (int)a->i : like;
        }
    if (spelled(p->calls[from].target, NORMALIZES))
        like = (int)p->calls[from].args[0].i;
    like = back < 0 ? like : back;
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

/* "x = f(y).detach()" after the last call of f; "x = f(x.float()).type_as(x)". */
int
resolve_last(struct dynamo *d, const struct group *g, int slot, bool parted)
{
    struct lowering *l = d->l;
    int at = d->group_of[g->last];
    const char *stack = g->nnodes ? l->g->n[g->last].stack : NULL,
               *next = at + 1 < d->ngroups ? l->g->n[d->groups[at + 1].nodes[0]].stack : NULL;
    for (int i = 0; i < NTRACELESS && stack; i++)
        for (const char *s = traceless[i].last & fx_record(l, g->last)->traced->says ? stack : "";
             python_frame(s) && !(next && starts_with(next, s)); s = fx_outer(l->a, s))
            if (parted ? takes_apart(fx_line(l->a, s), traceless[i].stem)
                       : python_closes(l->a, fx_line(l->a, s), traceless[i].stem)) {
                struct call *c = group_call(d, g, traceless[i].target, 1);
                c->args[0] = (struct arg){.kind = ARG_SLOT, .i = slot};
                c->stack = s;
                return c->outs[0];
            }
    const struct call *m =
        stack && !parted && fx_record(l, g->last)->says & SAYS_TYPE_AS ? group_maker(l->p, slot) : NULL;
    const char *line;
    const int like = m ? gone_back_to(d, (int)(m - l->p->calls), &line) : -1;
    while (like >= 0 && !next && ++at + 1 < d->ngroups)
        next = l->g->n[d->groups[at + 1].nodes[0]].stack;
    if (like < 0 || (next && starts_with(next, line)))
        return slot;
    const int cast = group_cast_like(d, g, slot, like);
    l->p->calls[l->p->ncalls - 1].stack = line;
    return cast;
}

int
resolve_written(const struct dynamo *d, int slot)
{
    const char *detach = traceless[TRACELESS_DETACH].target;
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
    if (!m || !m->stack || !target_is(m->target, TARGET_COMPLEX) || spelled_traceless(name) ||
        !spelled(name, MAY_SLICE) || !python_calls(fx_line(l->a, m->stack), traceless[TRACELESS_PAIRS].stem))
        return;
    struct call *c = group_call(d, g, traceless[TRACELESS_PAIRS].target, 1);
    m = group_maker(l->p, l->slot_of[tensor]);
    c->args[0] = (struct arg){.kind = ARG_SLOT, .i = l->slot_of[tensor]};
    l->slot_of[tensor] = left_after_maker(d, m, m->stack)->outs[0];
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
    return left_identity(d, g, name, slot);
}

/* The gradient of expand is a sum, even of a scalar that stays one: sum_to in ExpandUtils.h. */
static bool
stays_scalar(const struct dynamo *d, const char *name, int tensor)
{
    const char *stem = spelled_stem(d->l->a, name);
    const struct aten *op = aten_find(stem);
    return op && op->shaped && target_views(stem) && d->l->g->t[tensor].rank == 0;
}

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
                return again_duplicate(d, g, name, slot, NULL);
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

/* Whether the group fills a tensor of the sizes that another has, and reads another result of such a call for that. */
static bool
fills_like_another(const struct group *g, const char *name, const struct call *maker)
{
    const struct aten *op = aten_find(g->target);
    return op && !op->grad && maker->name && strcmp(maker->name, name) != 0;
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
        if (spelled_traceless(name))
            return again_traceless(d, g, name, l->slot_of[t]);
        if (!spelled(name, COPIES))
            left_out(d, g, name);
        return spelled(name, CASTS) ? lost_type_as(d, g, l->slot_of[t]) : l->slot_of[t];
    }
    if (t >= 0 && l->g->t[t].is_initializer)
        return computed_constant(d, g, name, t);
    int inner = lost_scaled(d, g, name, position);
    inner = inner < 0 ? lost_inside(d, g, name) : inner;
    if (inner >= 0)
        return inner;
    inner = spelled_as(name, traceless[TRACELESS_DETACH].stem) ? lost_inside(d, g, NULL) : -1;
    if (inner >= 0)
        return again_traceless(d, g, name, inner);
    const bool left_nothing = spelled_traceless(name);
    if (*used >= nspare &&
        (left_nothing || spelled(name, MAY_SLICE) || target_is(spelled_stem(l->a, name), TARGET_KEEPS))) {
        const struct param *q = sliced_input(d, g, name);
        if (q)
            return left_nothing ? again_traceless(d, g, name, q->slot) : q->slot;
    }
    int only[2];
    if (*used >= nspare && left_nothing &&
        group_inputs(d, g, NULL, 0, only, 2) == 1) /* lerp(cat([x]), x) reads x alone */
        return again_traceless(d, g, name, l->slot_of[*only]);
    if (nspare == 1 && *used && spelled_as(name, "getitem") && reads_twice(d, g, spare[0])) {
        t = spare[0];
    } else if (*used >= nspare) {
        const struct aten *was = aten_find(spelled_stem(l->a, name));
        int inside = computed_made_here(d, g, was) ? -1 : lost_interior(d, g, name, position);
        t = inside < 0 ? constant_index(d, g, position) : -1;
        t = inside < 0 && t < 0 ? twin_constant(d, g, name) : t;
        if (t >= 0)
            return computed_constant(d, g, name, t);
        int index = inside < 0 ? lost_indices(d, g, name) : -1;
        if (index >= 0)
            return index;
        int twin = inside < 0 ? twin_input(d, g, name) : -1;
        if (twin >= 0)
            return again_duplicate(d, g, name, twin, NULL);
        int operand = inside < 0 ? again_operand(d, g, name) : -1;
        if (operand >= 0)
            return operand;
        t = inside < 0 ? constant_input(d, g, name, !was || !was->shaped) : -1;
        const struct call *maker = inside < 0 ? NULL : group_maker(l->p, inside);
        if (maker && spelled_after(name, maker->target) &&
            (next_read(&(struct call_reads){maker}) < 0 || fills_like_another(g, name, maker)))
            return again_duplicate(d, g, name, inside, NULL);
        if (t >= 0 || inside >= 0)
            return t >= 0 ? computed_constant(d, g, name, t) : inside;
        int copy = spelled(name, COPIES) ? lost_copy(d, g) : -1;
        if (copy >= 0)
            return copy;
        bool tensor =
            !position || spelled(name, COPIES) || left_nothing || reads_interior(d, g); /* "mul" may be of sizes */
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
    int slot = again_traceless(d, g, name, l->slot_of[t]);
    if (slot == l->slot_of[t] && position == 0)
        slot = clones_pad(d, g, t);
    if (slot == l->slot_of[t])
        slot = spelled(name, COPIES)       ? clones_resolve(d, g, t, is_mask(d, g, t))
               : views_same(d, name, t)    ? resolve_view(d, g, "aten.reshape.default", 2, t)
               : stays_scalar(d, name, t)  ? resolve_view(d, g, spelled_stem(l->a, name), 1, t)
               : slices_all(d, name, slot) ? resolve_view(d, g, "aten.slice.Tensor", 1, t)
               : spelled(name, CONVERTS) && !spelled(l->g->t[t].name, CONVERTS)
                   ? lost_conversion(d, g, t)
                   : again_duplicate(d, g, name, slot, l->g->t[t].name);
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
