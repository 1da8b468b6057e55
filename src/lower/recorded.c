/* SPDX-License-Identifier: Apache-2.0 */
/* recorded.c - a recorded call as eager makes it.
 *
 * The text is the authority on operator and arguments; the nodes give order and sizes. What eager does and the text
 * hides is put back: casts, writes in place, results of several.
 */
#include "lower/dynamo.h"
#include "torch/torch.h"

#include <ctype.h>
#include <string.h>

/* ---- casts that only autocast sees ------------------------------------------------------------------------------- */

static bool
same_module(const struct group *a, const struct group *b)
{
    return a->path && b->path && strcmp(a->path, b->path) == 0;
}

static const struct fact *
norm_of(const struct dynamo *d, const struct group *g)
{
    struct lowering *l = d->l;
    enum { NORMS = 1u << FACT_NORM_BACK | 1u << FACT_NORM_BACK_AT_END | 1u << FACT_NORM_TO_WEIGHT };
    struct place at = {.type = g->type};
    int n = 0, first = d->group_of[g->last];
    if (!g->type || !fact_holds(l, NORMS, &at)) /* whatever its lines say */
        return NULL;
    while (first > 0 && same_module(&d->groups[first - 1], g))
        first--;
    for (int i = first; i < d->ngroups && n < COUNT(at.line) && same_module(&d->groups[i], g); i++) {
        const char *line = fx_line_at(d, d->groups[i].last);
        if (!n || strcmp(line, at.line[n - 1]) != 0)
            at.line[n++] = line;
    }
    return fact_next(l, NULL, NORMS, &at);
}

static bool
casts_itself(const char *line)
{
    return strstr(line, ".float(") || strstr(line, ".to(") || strstr(line, ".type_as(");
}

/* "x = x.to(torch.float32)" before the line that reads x. Where that line has the cast itself, it is no name's. */
static void
bind_before(struct dynamo *d, const struct group *g, struct call *cast)
{
    const char *stack = d->l->g->n[g->last].stack, *line = fx_line_at(d, g->last);
    if (!casts_itself(line))
        cast->stack = fx_before(d->l->a, stack, python_variable(d->l->a, line));
}

/* The module's input is read in fp32, what the weight scales in the weight's type. */
static void
norm_input(struct dynamo *d, const struct group *g, bool to_weight, struct arg *args, int n)
{
    struct lowering *l = d->l;
    const char *stack = l->g->n[g->last].stack, *line = fx_line_at(d, g->last);
    bool wide = fx_widens(line);
    for (int i = 0; i < n && n == 2; i++) {
        if (args[i].kind != ARG_SLOT || group_maker(l->p, args[i].i))
            continue;
        if (wide)
            args[i].i = group_to_float(d, g, (int)args[i].i);
        if (!to_weight || args[1 - i].kind != ARG_SLOT || !group_maker(l->p, args[1 - i].i))
            continue;
        args[1 - i].i = group_cast_like(d, g, (int)args[1 - i].i, (int)args[i].i);
        l->p->calls[l->p->ncalls - 1].stack = fx_before(l->a, stack, python_variable(l->a, line));
    }
    int scope = lower_module(l, g->path ? g->path : "", g->type);
    bool square = spelled(g->target, SQUARES);
    bool reads_float = !spelled(g->target, CASTS) && (!to_weight || square);
    for (int i = 0; i < n; i++) {
        const struct call *c = args[i].kind == ARG_SLOT && args[i].i >= 0 ? group_maker(l->p, args[i].i) : NULL;
        if (to_weight && !square && c && c->scope == scope && spelled(c->target, CASTS_TO) &&
            c->args[1].kind == ARG_DTYPE && c->args[1].i == DT_FLOAT)
            args[i].i = c->args[0].i; /* where the file has the copy, it was merged with the kernel's own */
        if (!reads_float)
            continue;
        const struct call *from = c && c->nargs && c->args[0].kind == ARG_SLOT ? group_maker(l->p, c->args[0].i) : NULL;
        bool lost = c && (spelled(c->target, IS_LOST) || /* found where it is read */
                          (strcmp(c->name, g->fx_name) == 0 && from && from->scope != scope));
        bool input = d->norm.scope == scope && d->norm.input == (int)args[i].i;
        if (!c || (c->scope == scope && !lost && !input))
            continue;
        if (!input) {
            d->norm = (struct norm){scope, (int)args[i].i, -1};
            d->norm.wide = group_to_float(d, g, (int)args[i].i);
            bind_before(d, g, &l->p->calls[l->p->ncalls - 1]);
        }
        args[i].i = d->norm.wide;
    }
}

static int
norm_output(struct dynamo *d, const struct group *g, enum fact_kind back, const struct call *c)
{
    struct lowering *l = d->l;
    bool weighted = false, normal = false;
    int slot = c->outs[0];
    for (int i = 0; i < c->nargs; i++) {
        const struct call *m = c->args[i].kind == ARG_SLOT ? group_maker(l->p, c->args[i].i) : NULL;
        weighted |= c->args[i].kind == ARG_SLOT && !m;
        while (m && m->scope == c->scope && m->nargs && m->args[0].kind == ARG_SLOT && !weighted) { /* 1 + weight */
            weighted = !group_maker(l->p, m->args[0].i);
            m = spelled(m->target, KEEPS_SIZES) ? group_maker(l->p, m->args[0].i) : NULL;
            m = m && spelled(m->target, CASTS_TO) ? m : NULL;
        }
        m = c->args[i].kind == ARG_SLOT ? group_maker(l->p, c->args[i].i) : NULL;
        normal |= m && spelled(m->target, INVERTS_ROOT);
    }
    bool goes = spelled(g->target, MULTIPLIES) &&
                ((back == FACT_NORM_BACK_AT_END && weighted) || (back == FACT_NORM_BACK && normal));
    if (!goes || d->norm.input < 0)
        return slot;
    slot = group_cast_like(d, g, slot, d->norm.input);
    struct call *cast = &l->p->calls[l->p->ncalls - 1];
    int out = group_output(d, g), user = out >= 0 && l->g->t[out].nusers ? l->g->t[out].users[0] : -1;
    const char *own = fx_line_at(d, g->last), *read = user >= 0 ? l->g->n[user].stack : NULL;
    if (back == FACT_NORM_BACK && read && !casts_itself(own)) /* "return self.weight * x.to(dtype)": x is a name */
        cast->stack = read;
    return slot;
}

/* What the probabilities are multiplied with: the next product in the module. */
static int
value_after(struct dynamo *d, const struct group *g)
{
    for (const struct group *h = g + 1; h < d->groups + d->ngroups; h++) {
        struct arg args[MAX_ARGS];
        int missing = 0, made;
        if (!h->path || strcmp(h->path, g->path) != 0 || !spelled(h->target, CONTRACTS))
            continue;
        const int n = fx_args(d->l, NULL, h->args, args);
        if (n < 2 || args[1].kind != ARG_SLOT)
            return -1;
        resolve_known(d, &args[1], &missing);
        if (args[1].i < 0 && group_inputs(d, h, args, n, &made, 1)) /* whose call left no node: what that was made of */
            return d->l->slot_of[made];
        return (int)args[1].i;
    }
    return -1;
}

/* The query of the product that these scores come from. */
static int
query_before(const struct dynamo *d, int slot)
{
    const struct program *p = d->l->p;
    for (int i = p->ncalls - 1; i >= 0; i--) {
        const struct call *c = &p->calls[i];
        int first = c->nargs && c->args[0].kind == ARG_LIST ? -1 : 0;
        if (c->outs[0] != slot)
            continue;
        first = first == 0 && spelled(c->target, CHOOSES) ? 1 : first;
        if (first < 0 || first >= c->nargs || c->args[first].kind != ARG_SLOT)
            return -1;
        slot = (int)c->args[first].i;
        if (spelled(c->target, CONTRACTS))
            return slot;
    }
    return -1;
}

/* Whether a module of PyTorch's own runs it, one that the module of its path made for itself. */
static bool
in_torch(const struct dynamo *d, const struct group *g)
{
    return g->type && !starts_with(g->type, "torch.") && python_in_torch(d->l->g->n[g->last].stack);
}

/* The name that the innermost call of a line takes: "x" of "y + b(a(x)) * 2"; else the line's first. */
static const char *
innermost(struct arena *a, const char *line)
{
    const char *open = strchr(line, ')');
    while (open > line && open[-1] != '(')
        open--;
    size_t n = open && open > line ? strcspn(open, "(),. ") : 0;
    return n && open[n] == ')' ? arena_strn(a, open, n) : python_variable(a, line);
}

/* The first call of a statement on the way to a slot, each made of the one before: its index; -1 none. */
static int
first_of_statement(const struct dynamo *d, const char *outer, int64_t slot)
{
    const struct program *p = d->l->p;
    int first = -1;
    for (const struct call *c; (c = group_maker(p, slot)) && c->stack; slot = c->args[0].i) {
        if (strcmp(fx_outer(d->l->a, c->stack), outer) != 0 || !c->nargs || c->args[0].kind != ARG_SLOT)
            break;
        first = (int)(c - p->calls);
    }
    return first;
}

/* Casts that copy under autocast: of the input before the call, or of its result. */
static int
cast_by_fact(struct dynamo *d, const struct group *g, const struct arg *args, int n, bool before, int slot,
             struct place *at)
{
    unsigned inputs = 1u << FACT_INPUT_TO_WEIGHT | 1u << FACT_INPUT_TO_FLOAT;
    unsigned results = 1u << FACT_RESULT_TO_VALUE | 1u << FACT_RESULT_TO_QUERY | 1u << FACT_RESULT_TO_INPUT |
                       1u << FACT_RESULT_TO_WEIGHT;
    if (!g->path || slot < 0 || n < 2)
        return slot;
    if (!at->path) {
        *at = fact_place(d->l, g->path, target_bare(g->target));
        at->line[0] = fx_line_at(d, g->last);
    }
    const struct fact *k = fact_next(d->l, NULL, before ? inputs : results, at);
    while (k && k->kind == FACT_RESULT_TO_QUERY && (n < 3 || args[2].kind != ARG_DTYPE || args[2].i != DT_FLOAT)) {
        fact_drop(d->l, k);
        k = fact_next(d->l, k, results, at);
    }
    if (k && k->kind == FACT_INPUT_TO_FLOAT && !python_calls(at->line[0], k->arg)) {
        fact_drop(d->l, k);
        k = NULL;
    }
    if (!k || k->kind == FACT_INPUT_TO_FLOAT)
        return k ? group_to_float(d, g, slot) : slot;
    const bool weighed = k->kind == FACT_RESULT_TO_WEIGHT;
    const struct call *wide = weighed || k->kind == FACT_RESULT_TO_INPUT ? group_maker(d->l->p, args[0].i) : NULL;
    const struct arg *same = k->kind == FACT_INPUT_TO_WEIGHT ? &args[1]
                             : wide && wide->nargs > weighed ? &wide->args[weighed]
                                                             : &NONE;
    int like = k->kind == FACT_RESULT_TO_VALUE   ? value_after(d, g)
               : k->kind == FACT_RESULT_TO_QUERY ? query_before(d, (int)args[0].i)
               : same->kind == ARG_SLOT          ? (int)same->i
                                                 : -1;
    if (like < 0)
        return slot;
    const char *outer = fx_outer(d->l->a, d->l->g->n[g->last].stack);
    struct program *p = d->l->p;
    int first = k->kind == FACT_INPUT_TO_WEIGHT ? first_of_statement(d, outer, slot) : -1;
    int made = group_cast_like(d, g, first < 0 ? slot : (int)p->calls[first].args[0].i, like);
    if (k->kind == FACT_INPUT_TO_WEIGHT) /* "x = x.to(self.wo.weight.dtype)" before "self.wo(x)" */
        p->calls[p->ncalls - 1].stack = fx_before(d->l->a, outer, innermost(d->l->a, fx_line(d->l->a, outer)));
    if (first >= 0) {
        p->calls[first].args[0].i = made;
        group_move(d, p->ncalls - 1, first);
        return slot;
    }
    if (k->kind == FACT_RESULT_TO_VALUE && in_torch(d, g)) /* "nn.Softmax(dim=-1)(x)", then "x.to(value.dtype)" */
        d->l->p->calls[d->l->p->ncalls - 1].stack = outer;
    if (k->kind == FACT_RESULT_TO_QUERY) { /* "x = softmax(x).to(query.dtype)": x is bound anew only then */
        struct call *cast = &d->l->p->calls[d->l->p->ncalls - 1];
        struct arg *with = NEWN(d->l->a, struct arg, 3);
        memcpy(with, cast->args, sizeof(*with) * (size_t)cast->nargs);
        with[cast->nargs++] = args[0];
        cast->args = with;
    }
    return made;
}

/* T5 adds its padding mask to the position bias that all layers share; of a mask of ones the exporter leaves nothing,
 * but the sum has the batch's size and lives as long as the layers. */
static void
add_lost_mask(struct dynamo *d, const struct group *g, struct arg *args, int n, int rank, const int64_t *size)
{
    const struct call *bias = n == 2 && args[1].kind == ARG_SLOT ? group_maker(d->l->p, args[1].i) : NULL;
    if (bias && bias->nargs == 1 && target_is(bias->target, TARGET_VIEWS) &&
        bias->args[0].kind == ARG_SLOT) /* of all */
        bias = group_maker(d->l->p, bias->args[0].i);
    if (!g->path || rank != 4 || !bias || bias->rank != 4 || bias->size[0] != 1 || size[0] == 1)
        return;
    const struct place at = fact_place(d->l, g->path, target_bare(g->target));
    const struct fact *f = fact_next(d->l, NULL, 1u << FACT_ADDS_MASK, &at);
    if (!f || strcmp(target_bare(bias->target), f->arg) != 0)
        return;
    if (d->masked.bias != (int)args[1].i) {
        d->masked.bias = (int)args[1].i;
        struct call *mask = group_call(d, g, "aten.zeros.default", 2);
        int64_t shape[] = {size[0], 1, 1, size[3]};
        mask->args[0] = (struct arg){.kind = ARG_LIST, .n = 4, .list = NEWN(d->l->a, struct arg, 4)};
        for (int i = 0; i < 4; i++)
            mask->args[0].list[i] = INT(shape[i]);
        mask->args[1] = DTYPE(DT_FLOAT);
        mask->rank = 4;
        mask->size = arena_dup(d->l->a, shape, sizeof(shape));
        const char *sums = fx_before(d->l->a, d->l->g->n[g->last].stack, "position_bias = position_bias + causal_mask");
        mask->stack = fx_before(d->l->a, sums, "causal_mask");
        int made = mask->outs[0];
        struct call *sum = group_call(d, g, "aten.add.Tensor", 2);
        sum->args[0] = args[1];
        sum->args[1] = (struct arg){.kind = ARG_SLOT, .i = made};
        sum->stack = sums;
        d->masked.slot = sum->outs[0];
    }
    args[1].i = d->masked.slot;
}

/* ---- in place ---------------------------------------------------------------------------------------------------- */

/* Exports show every operator out of place. What tells the rest: the Python line, or a library's source. */
static bool
class_in_place(const struct dynamo *d, const struct group *g)
{
    struct lowering *l = d->l;
    struct place at = {.type = g->type, .path = g->path, .line = {fx_line_at(d, g->last)}};
    for (int up = 3; (at.around[0] = fx_entry(&fx_record(l, g->last)->classes, up)); up++) { /* 1 operator, 2 module */
        const struct fact *f = fact_next(l, NULL, 1u << FACT_IN_PLACE | 1u << FACT_OUT_OF_PLACE, &at);
        if (f)
            return f->kind == FACT_IN_PLACE;
    }
    return lower_overwrites(l, g->target);
}

/* "F.relu(x, True)": what functions of torch.nn.functional take beyond their operator's arguments is `inplace`. */
static bool
true_beyond(const char *call, const struct aten *op)
{
    int depth = 0, commas = 0;
    const char *last = call;
    for (const char *c = call; *c && (*c != ')' || depth > 1); c++) {
        depth += (*c == '(' || *c == '[') - (*c == ')' || *c == ']');
        if (*c == ',' && depth == 1) {
            commas++;
            last = c + 1;
        }
    }
    return op && commas == aten_nargs(op) && starts_with(last, " True)");
}

/* How many calls of that operator its line has made, beside those of modules that it calls. */
static int
times_before(const struct dynamo *d, const struct group *g)
{
    const struct program *p = d->l->p;
    const char *stack = d->l->g->n[g->last].stack;
    int n = 0;
    for (int i = p->ncalls - 2; i >= 0 && p->calls[i].stack && starts_with(p->calls[i].stack, stack); i--)
        n += strcmp(p->calls[i].target, g->target) == 0 && strcmp(p->calls[i].stack, stack) == 0;
    return n;
}

/* Whether the operator reads first what a statement like "x[:, :4] += y" has made in place: it puts that back, or is of
 * a loop's next round. */
static bool
goes_on(const struct dynamo *d, const struct group *g, const struct node *user, int out)
{
    const int by = user->nin && user->in[0] == out ? d->group_of[user - d->l->g->n] : -1;
    const char *target = by >= 0 ? d->groups[by].target : NULL;
    const struct aten *op = target ? aten_find(target) : NULL;
    return target && (strcmp(target, g->target) == 0 || target_is(target, TARGET_VIEWS | TARGET_REORDERS) ||
                      (op && op->writes == WRITES_PART));
}

/* Whether the call adds a total to a variable, "x += sum(ys)", and no term to it: it reads another sum of the line. */
static bool
adds_total(const struct dynamo *d, const struct group *g)
{
    const struct node *n = &d->l->g->n[g->last];
    const int from = n->nin > 1 && n->in[1] >= 0 ? d->l->g->t[n->in[1]].producer : -1,
              of = from < 0 ? -1 : d->group_of[from];
    return of >= 0 && strcmp(d->groups[of].target, g->target) == 0 && group_same_statement(d, g->last, from);
}

/* "x += y": the last operator of the statement, the one whose result no other operand of the statement is. */
static bool
line_in_place(const struct dynamo *d, const struct group *g, const struct aten *op, const char *stem, int out)
{
    static const struct {
        const char *stem, *sign;
    } augmented[] = {{"add", " += "}, {"sub", " -= "}, {"mul", " *= "}, {"div", " /= "}};
    const struct graph *gr = d->l->g;
    const char *line = fx_line_at(d, g->last);
    struct arena *a = d->l->a;
    const char *named = strstr(line, stem), *call = named ? strstr(named, arena_printf(a, "%s(", stem)) : NULL;
    if (named && strstr(named, arena_printf(a, "%s_(", stem)))
        return python_overwrites(line, arena_printf(a, "aten.%s", stem), times_before(d, g));
    if (call && (strstr(line, "inplace=True") || true_beyond(call + strlen(stem), op)))
        return true;
    for (int i = 0; i < COUNT(augmented); i++) {
        if (strcmp(augmented[i].stem, stem) != 0 ||
            (!strstr(line, augmented[i].sign) && !strstr(line, arena_printf(a, "%.2s", augmented[i].sign + 1))))
            continue;
        if (strchr(line, ';'))
            return python_overwrites(line, arena_printf(a, "aten.%s", stem), times_before(d, g));
        if (i == 0 && python_sums(line))
            return adds_total(d, g);
        for (int u = 0; u < gr->t[out].nusers; u++) {
            const struct node *user = &gr->n[gr->t[out].users[u]];
            if (group_same_statement(d, g->last, gr->t[out].users[u]) && !goes_on(d, g, user, out))
                return false;
        }
        return true;
    }
    return false;
}

/* The tensor that the call's first argument is, among what its nodes read. */
static int
overwritten(const struct dynamo *d, const struct group *g, const struct call *c)
{
    const struct graph *gr = d->l->g;
    for (int i = 0; i < g->nnodes && c->nargs && c->args[0].kind == ARG_SLOT; i++) {
        const struct node *n = &gr->n[g->nodes[i]];
        for (int k = 0; k < n->nin; k++)
            if (n->in[k] >= 0 && d->l->slot_of[n->in[k]] == c->args[0].i)
                return n->in[k];
    }
    const struct node *first = &gr->n[g->nodes[0]];
    return first->nin ? first->in[0] : -1;
}

/* What the line assigns to a part of a tensor; NULL it does no such thing. */
static const char *
assigned(const struct dynamo *d, const struct group *g)
{
    const char *line = fx_line_at(d, g->last), *value = strstr(line, "] = ");
    return value && !strstr(line, "_put(") ? value + strlen("] = ") : NULL;
}

/* Whether the call's first argument is zeros or the like: of several the file has one, but each call has its own. */
static bool
made_of_nothing(const struct dynamo *d, const struct call *c)
{
    const struct call *m = c->nargs && c->args[0].kind == ARG_SLOT ? group_maker(d->l->p, c->args[0].i) : NULL;
    return m && next_read(&(struct call_reads){.call = m}) < 0;
}

/* Whether the call could write over that tensor but for calls behind it that read it under another name: of an equal
 * call, which the exporter merged with its maker, so that each has its own. */
static bool
read_by_twins(const struct dynamo *d, const struct group *g, int tensor, int out)
{
    const struct graph *gr = d->l->g;
    const int from = tensor < 0 ? -1 : gr->t[tensor].producer, at = from < 0 ? -1 : d->group_of[from];
    bool twins = at >= 0 && lower_may_overwrite(gr, tensor, out, gr->nn, true);
    for (int u = 0; twins && u < gr->t[tensor].nusers; u++) {
        const int user = gr->t[tensor].users[u], by = d->group_of[user];
        twins = user <= g->last || (by >= 0 && !fx_names(d->groups[by].args, d->groups[at].fx_name));
    }
    return twins;
}

/* Functions whose own lines a file does not have, and what they call in place. */
static const struct {
    const char *function, *target, *source;
} overwriting[] = {
    {"_canonical_mask", "masked_fill", "torch/nn/functional.py"},
};

/* What adds to a tensor of zeros: functions whose lines a file does not have make these for that alone. */
static const char *const accumulating[] = {"scatter_add", "index_add", "scatter_reduce", "index_put"};

static bool
accumulates_out_of_sight(const struct dynamo *d, const struct group *g, const struct call *c, const char *line)
{
    bool adds = false, seen = false;
    for (int i = 0; i < COUNT(accumulating) && !adds; i++)
        adds = target_named(g->target, accumulating[i]);
    if (!adds || !*line || !python_complete(line) || !made_of_nothing(d, c))
        return false;
    for (int i = 0; i < COUNT(accumulating) && !seen; i++)
        seen = python_writes(line, accumulating[i]);
    return !seen;
}

/* Whether a function that the line calls runs F.relu, and may say "inplace=True" in a line that the file has not. */
static bool
rectifies_out_of_sight(const struct group *g, const char *line)
{
    return spelled(g->target, RECTIFIES) && *line && python_complete(line) && !python_writes(line, g->target) &&
           !(g->type && starts_with(g->type, "torch."));
}

static bool
in_place(const struct dynamo *d, const struct group *g, const struct call *c, int out)
{
    if (out < 0 || !starts_with(g->target, "aten.") || d->l->s->inplace == INPLACE_NONE)
        return false;
    const int over = overwritten(d, g, c);
    const bool may = made_of_nothing(d, c) || lower_may_overwrite(d->l->g, over, out, g->last, true);
    if (!may && !read_by_twins(d, g, over, out))
        return false;
    if (c->op && c->op->writes == WRITES_VALUES && assigned(d, g))
        return true;
    const char *names[] = {g->target, c->target}; /* as recorded, as it runs */
    const int nnames = strcmp(names[0], names[1]) == 0 ? 1 : 2;
    const char *line = fx_line_at(d, g->last);
    if (strstr(line, " = torch.ops.")) { /* a line of what was traced: the operator as it was called */
        bool overwrites = false;
        for (int i = 0; i < nnames; i++)
            overwrites |= strstr(line, arena_printf(d->l->a, ".%s_.", spelled_root(d->l->a, names[i]))) != NULL;
        return overwrites;
    }
    bool written = false;
    for (int i = 0; i < nnames; i++)
        written |= line_in_place(d, g, c->op, spelled_root(d->l->a, names[i]), out);
    for (int i = 0; i < COUNT(overwriting); i++)
        written |= target_named(g->target, overwriting[i].target) && python_calls(line, overwriting[i].function);
    if (written && !(strstr(line, " if ") && strstr(line, " else "))) /* x.sigmoid_() if inplace else ... */
        return true;
    if (accumulates_out_of_sight(d, g, c, line)) {
        program_assume(d->l->p, ALTERNATIVE_INPLACE, "functions add to the zeros that they make in place");
        return true;
    }
    const bool often = fact_of(d->l, g->type, FACT_OFTEN_IN_PLACE);
    if (may && often && python_unnamed_layer(d->l->p, c))
        return true;
    return may && (written || often || rectifies_out_of_sight(g, line)) && class_in_place(d, g);
}

/* ---- calls ------------------------------------------------------------------------------------------------------- */

/* What a function other than forward turned and then saw under other sizes, as it returned it, it copied: the exporter
 * merges that view with the next line's. */
static bool
hides_copy(const struct dynamo *d, const struct group *g, int tensor)
{
    struct arena *a = d->l->a;
    int from = d->l->g->t[tensor].producer, at = from < 0 ? -1 : d->group_of[from];
    const char *made = from < 0 ? NULL : d->l->g->n[from].stack, *read = d->l->g->n[g->last].stack;
    return at >= 0 && made && read && target_is(d->groups[at].target, TARGET_REORDERS) && strcmp(made, read) != 0 &&
           strcmp(fx_outer(a, made), fx_outer(a, read)) == 0 &&
           !python_writes(fx_line_at(d, from), d->groups[at].target);
}

/* What a line of its own made contiguous: "y = x[:, 1:].contiguous()", which a function saw under other sizes twice. */
static bool
made_contiguous(const struct dynamo *d, const struct group *g, int tensor)
{
    const int from = d->l->g->t[tensor].producer, at = from < 0 ? -1 : d->group_of[from];
    const char *made = from < 0 ? NULL : d->l->g->n[from].stack, *read = d->l->g->n[g->last].stack;
    return at >= 0 && made && read && target_is(d->groups[at].target, TARGET_VIEWS | TARGET_REORDERS) &&
           strcmp(made, read) != 0 && strstr(fx_line_at(d, from), ".contiguous(");
}

/* Puts dimension d of so many at a place of an order; false for what is none. */
static bool
put_dim(int64_t d, int rank, int *at)
{
    d += d < 0 ? rank : 0;
    *at = d >= 0 && d < rank ? (int)d : 0;
    return d >= 0 && d < rank;
}

/* How a call that transposes orders its operand's dimensions, of rank many; false where that isn't known. */
static bool
own_order(const struct dynamo *d, const struct group *g, int rank, int *order)
{
    struct arg args[MAX_ARGS];
    int n = fx_args(d->l, spelled_row(g->target), g->args, args), swap[2] = {0, rank - 1};
    bool known = rank > 0;
    for (int i = 0; i < rank; i++)
        order[i] = i;
    if (n == 2 && args[1].kind == ARG_LIST && args[1].n == rank) {
        for (int i = 0; i < rank; i++)
            known &= args[1].list[i].kind == ARG_INT && put_dim(args[1].list[i].i, rank, &order[i]);
        return known;
    }
    for (int i = 0; i < 2 && n == 3; i++)
        known &= args[1 + i].kind == ARG_INT && put_dim(args[1 + i].i, rank, &swap[i]);
    if (!known || (n != 3 && (n != 1 || rank != 2)))
        return false;
    order[swap[0]] = swap[1];
    order[swap[1]] = swap[0];
    return true;
}

static struct call *
permute(struct dynamo *d, const struct group *g, int slot, int rank, const int *order)
{
    struct call *c = group_call(d, g, "aten.permute.default", 2);
    c->args[0] = (struct arg){.kind = ARG_SLOT, .i = slot};
    c->args[1] = (struct arg){.kind = ARG_LIST, .n = rank, .list = NEWN(d->l->a, struct arg, rank ? rank : 1)};
    for (int i = 0; i < rank; i++)
        c->args[1].list[i] = INT(order[i]);
    return c;
}

/* What two transposes had between them: a copy reads what the first made. Source:
 * onnxscript/rewriter/rules/common/_basic_rules.py. */
static int
copy_between(struct dynamo *d, const struct group *g, int rank, int *order)
{
    struct lowering *l = d->l;
    int in = l->g->n[g->last].in[0], slot = l->slot_of[in], *own = NEWN(l->a, int, rank + 1),
        *first = NEWN(l->a, int, rank + 1);
    if (!own_order(d, g, rank, own))
        return slot;
    for (int i = 0; i < rank; i++)
        first[own[i]] = order[i];
    memcpy(order, own, sizeof(*own) * (size_t)rank);
    l->slot_of[in] = permute(d, g, slot, rank, first)->outs[0];
    const struct node *n = &l->g->n[g->last];
    const char *line = fx_line_at(d, g->last);
    bool contiguous = strstr(line, ".contiguous(") != NULL;
    int copy = clones_resolve(d, g, in, contiguous);
    if (!contiguous && !strstr(line, ".clone(") && !strstr(line, "drop") && !clones_undropped(d, g, in))
        graph_doubt(
            l->g, n->name, n->op, NULL,
            "a statement between two transposes left nothing but a name: dropout in evaluation mode, or a copy");
    l->slot_of[in] = slot;
    return copy;
}

/* A call whose nodes turn what it writes into, whose turn back was merged with its reader's: that has an order of what
 * the call made. Of slice_scatter, in torchlib of onnxscript. */
static void
turn_back(struct dynamo *d, int tensor, int rank, int *order)
{
    const struct graph *gr = d->l->g;
    const struct tensor *t = &gr->t[tensor];
    const struct node *last = t->producer < 0 ? NULL : &gr->n[t->producer];
    const int into = last && last->nin ? last->in[0] : -1, before = into < 0 ? -1 : gr->t[into].producer;
    const struct call *m = group_maker(d->l->p, d->l->slot_of[tensor]);
    if (before < 0 || !m || d->group_of[before] < 0 || d->group_of[before] != d->group_of[t->producer] ||
        node_call(last) == CALL_PERMUTE || node_call(&gr->n[before]) != CALL_PERMUTE)
        return;
    const struct attr *turned = node_attr(&gr->n[before], "perm");
    int64_t *own = NEWN(d->l->a, int64_t, rank);
    if (!turned || turned->n != rank || !turned->ints || t->rank != rank)
        return;
    for (int k = 0; k < rank; k++) {
        if (turned->ints[k] < 0 || turned->ints[k] >= rank)
            return;
        own[turned->ints[k]] = t->dims[k].n;
    }
    for (int i = 0; i < rank; i++)
        order[i] = (int)turned->ints[order[i]];
    struct call *maker = &d->l->p->calls[m - d->l->p->calls];
    maker->rank = rank;
    maker->size = own;
}

/* Transposes and unsqueezes that were merged: the node's own attributes apply to its own input. Transposes that undo
 * each other left a node without. */
static bool
merged(struct dynamo *d, const struct group *g, int out)
{
    struct lowering *l = d->l;
    const struct node *n = &l->g->n[g->last];
    const struct attr *perm = node_attr(n, "perm");
    int rank = l->g->t[out].rank, *order = NEWN(l->a, int, rank + 2);
    perm = perm && perm->type == ATTR_INTS && perm->ints ? perm : NULL;
    if (!n->rules || n->nin < 1 || n->in[0] < 0 || l->slot_of[n->in[0]] < 0)
        return false;
    bool permutes = strstr(n->rules, "TransposeTranspose") && rank >= 0 && (!perm || perm->n == rank);
    if (!permutes && !strstr(n->rules, "ReshapeReshape") && !strstr(n->rules, "UnsqueezeUnsqueeze"))
        return false;
    const char *name = g->args + strspn(g->args, "%");
    name = arena_strn(l->a, name, python_name(name));
    if (ends_with(spelled_stem(l->a, name), "_copy"))
        left_out(d, g, name);
    for (int i = 0; permutes && i < rank; i++)
        put_dim(perm ? perm->ints[i] : i, rank, &order[i]);
    if (permutes)
        turn_back(d, n->in[0], rank, order);
    bool copied = !permutes && strstr(n->rules, "ReshapeReshape") &&
                  (spelled(name, IS_COPY) || hides_copy(d, g, n->in[0]) || made_contiguous(d, g, n->in[0]));
    int read = copied                              ? clones_resolve(d, g, n->in[0], true)
               : permutes && spelled(name, COPIES) ? copy_between(d, g, rank, order)
                                                   : again_resolve(d, g, name, n->in[0]);
    struct call *c;
    if (permutes) {
        c = permute(d, g, read, rank, order);
    } else {
        c = group_call(d, g, "aten.reshape.default", 2);
        c->args[0] = (struct arg){.kind = ARG_SLOT, .i = read};
    }
    lower_sizes(l, &l->g->t[out], &c->rank, &c->size);
    group_define(d, g, out, c->outs[0]);
    return true;
}

/* Which of the results of the operator's own node a value comes from; -1 where the file has no such node. */
static int
result_index(const struct dynamo *d, const struct group *g, const struct call *c, int tensor)
{
    const struct graph *gr = d->l->g;
    for (int hops = 0; hops < 8 && tensor >= 0 && group_makes(d, g, tensor); hops++) {
        const struct node *n = &gr->n[gr->t[tensor].producer];
        const struct record *r = fx_record(d->l, gr->t[tensor].producer);
        int item;
        if (r->name && *fx_list(d->l->a, r, &item))
            return item;
        bool own = (n->row && n->row->aten && strcmp(n->row->aten, c->target) == 0) ||
                   (target_is(c->target, TARGET_SORTS) && n->nout == 2) || (params_gates(c->op) && n->nout > 1);
        for (int o = 0; own && o < n->nout; o++)
            if (n->out[o] == tensor)
                return o;
        tensor = n->nin ? n->in[0] : -1;
    }
    return -1;
}

/* Several results: the file's names for the entries of the tuple, in order; an index follows its value. */
static void
define_items(struct dynamo *d, const struct group *g, struct call *c)
{
    struct lowering *l = d->l;
    int n = 0, cap = 0, *item = NULL;
    for (int k = 0; k < g->nnodes; k++) {
        const struct node *node = &l->g->n[g->nodes[k]];
        for (int o = 0; o < node->nout; o++)
            if (node->out[o] >= 0 && spelled_as(l->g->t[node->out[o]].name, "getitem"))
                *PUSH(l->a, item, n, cap) = node->out[o];
    }
    const int states = params_states(c->op), first = c->outs[0];
    if (!n && states) { /* which nothing reads */
        lower_results(l, c, 1 + states);
        c->outs[0] = first;
    }
    if (!n)
        return;
    if (l->g->t[item[0]].rank == 0 && c->op && aten_arg(c->op, "dim") < 0 && spelled(c->target, HAS_IDENTITY))
        graph_doubt(
            l->g, l->g->n[g->last].name, l->g->n[g->last].op, NULL,
            "a call with several results was left out behind this, because it changes no number: the tensors that "
            "PyTorch makes there are not counted");
    bool index = n == 1 && l->g->t[item[0]].dtype == DT_INT64 && ends_with(c->target, ".dim");
    int *place = NEWN(l->a, int, n);
    c->nouts = n + index > 1 + states ? n + index : 1 + states;
    for (int i = 0; i < n; i++) {
        int at = result_index(d, g, c, item[i]);
        place[i] = at >= 0 ? at : i + index;
        if (i == 0 && place[i] && params_gates(c->op)) /* the sizes are of a state */
            c->rank = -1;
        c->nouts = place[i] >= c->nouts ? place[i] + 1 : c->nouts;
    }
    lower_results(l, c, c->nouts);
    for (int i = 0; i < n; i++) {
        names_put(l->slots, l->g->t[item[i]].name, c->outs[place[i]]);
        l->slot_of[item[i]] = c->outs[place[i]];
    }
}

/* ---- assignments: x[a:b] = y ------------------------------------------------------------------------------------- */

/* "x[mask] = 0.5": eager's number stays on the host, where the exporter has a tensor. */
static void
keep_number(const struct dynamo *d, const struct group *g, const struct aten *op, struct arg *args, int n)
{
    bool one = op && op->writes == WRITES_NUMBER, several = op && op->writes == WRITES_VALUES;
    int at = one ? aten_arg(op, "value") : several ? aten_arg(op, "values") : -1;
    const char *value = several ? assigned(d, g) : "0";
    if (at >= 0 && at < n && args[at].kind == ARG_SLOT && args[at].i < 0 && value &&
        (isdigit((unsigned char)*value) || *value == '-' || starts_with(value, "float(")))
        args[at] = FLT(0);
}

static struct call *
maker_of(const struct dynamo *d, const struct arg *a)
{
    return a->kind == ARG_SLOT && a->i >= 0 ? (struct call *)group_maker(d->l->p, a->i) : NULL;
}

/* Whether both are the same tensor, or the same views of one: each write has its views made anew. */
static bool
same_view(const struct dynamo *d, const struct arg *a, const struct arg *b)
{
    const struct call *c = maker_of(d, a), *e = maker_of(d, b);
    if (a->i == b->i)
        return true;
    return c && e && target_is(c->target, TARGET_VIEWS | TARGET_REORDERS) && strcmp(c->target, e->target) == 0 &&
           c->nargs == e->nargs && same_args(c->nargs, c->args, e->args) && c->args[0].kind == ARG_SLOT &&
           same_view(d, &c->args[0], &e->args[0]);
}

/* What a is a view of, or a view of a view, that is the same as base; NULL it is none. */
static const struct arg *
shown_of(const struct dynamo *d, const struct arg *a, const struct arg *base)
{
    const struct call *c = maker_of(d, a);
    if (!c || !target_is(c->target, TARGET_VIEWS | TARGET_REORDERS) || !c->nargs || c->args[0].kind != ARG_SLOT)
        return NULL;
    return same_view(d, &c->args[0], base) ? &c->args[0] : shown_of(d, &c->args[0], base);
}

/* x[1, a:b] = y puts y into a part of a part, and each of them back: eager writes once, into x. What fills a view, then
 * put back, was written there. True when the call that made the part stands for this one, too. */
static bool
put_back(struct dynamo *d, const struct group *g, struct arg *args, int out)
{
    struct call *c = out >= 0 ? maker_of(d, &args[1]) : NULL;
    if (!c || !c->op || !c->nargs || args[0].kind != ARG_SLOT)
        return false;
    const struct aten *folded = c->args[0].kind == ARG_TEXT ? aten_find(c->args[0].s) : NULL;
    bool zeros = strstr(fx_line_at(d, g->last), "zero_(");
    if (folded && (folded->writes == WRITES_NUMBER || (folded->writes == WRITES_ZERO && zeros))) { /* x[0] = 2 */
        c->op = aten_find(c->target = "aten.fill_part");
        c->args[0] = args[0];
        c->args[1] = FLT(0);
    }
    if (c->args[0].kind != ARG_SLOT)
        return false;
    const struct arg *whole = c->args[0].i == args[0].i ? &args[0] : shown_of(d, &c->args[0], &args[0]);
    if (c->op->writes == WRITES_PART && whole) {
        c->args[0] = *whole;
        lower_sizes(d->l, &d->l->g->t[out], &c->rank, &c->size);
        group_define(d, g, out, (int)args[1].i);
        return true;
    }
    if (c->op->writes == WRITES_ZERO && zeros)
        c->op = aten_find(c->target = "aten.fill.Scalar");
    if (c->op->writes == WRITES_NUMBER && whole)
        c->in_place = true;
    return false;
}

/* An attention takes its key apart by the same views that split heads, or join repeated ones, and the optimizer merges
 * the two: the key that is left has batch and heads in one dimension, or in three. */
static void
split_key(struct dynamo *d, const struct group *g, struct arg *args, int n)
{
    const struct call *q = n > 1 ? maker_of(d, &args[0]) : NULL, *k = n > 1 ? maker_of(d, &args[1]) : NULL;
    if (!spelled(g->target, ATTENDS) || !q || !k || q->rank != 4 || (k->rank != 3 && k->rank != 5))
        return;
    if (sizes_product(2, q->size) != sizes_product(k->rank - 2, k->size))
        return;
    int64_t *size = arena_dup(d->l->a, q->size, sizeof(*size) * 4);
    memcpy(size + 2, k->size + k->rank - 2, sizeof(*size) * 2);
    const int at = (int)(k - d->l->p->calls);
    const bool joined = k->rank == 5; /* right behind, before values are */
    struct call *c = group_call(d, g, "aten.reshape.default", 2);
    c->args[0] = args[1];
    c->rank = 4;
    c->size = size;
    args[1].i = c->outs[0];
    if (joined)
        left_after_maker(d, &d->l->p->calls[at], d->l->p->calls[at].stack);
}

/* Along a dimension of a scalar PyTorch goes ways of its own, which no model takes on purpose; but a view is one. */
static void
doubt_scalar(struct dynamo *d, const struct group *g, const struct aten *op, const struct arg *args, int n)
{
    const struct graph *gr = d->l->g;
    int dim = op ? aten_arg(op, "dim") : -1;
    if (dim < 1 || dim >= n || args[0].kind != ARG_SLOT || args[0].i < 0 || target_is(g->target, TARGET_VIEWS) ||
        !(args[dim].kind == ARG_INT || (args[dim].kind == ARG_LIST && args[dim].n)))
        return;
    for (int k = 0; k < g->nnodes; k++)
        for (int i = 0; i < gr->n[g->nodes[k]].nin; i++) {
            int t = gr->n[g->nodes[k]].in[i];
            if (t < 0 || gr->t[t].rank || d->l->slot_of[t] != args[0].i)
                continue;
            graph_doubt(d->l->g, gr->n[g->last].name, gr->n[g->last].op, NULL,
                        "along a dimension of a scalar: what PyTorch makes there is not counted");
            return;
        }
}

/* ---- one call ---------------------------------------------------------------------------------------------------- */

/* Operators with a gradient of their own that the exporter writes as their arithmetic, and no table here puts together
 * again: eager keeps and makes other tensors than the pieces do. They are those of derivatives.yaml that
 * torch/_decomp/decompositions.py or torch/_refs decompose and onnxscript's torchlib has no function for. */
static const char *const decomposed[] = {
    "_safe_softmax.default",
    "as_strided_scatter",
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
    "block_diag",
    "copysign",
    "diag_embed",
    "diagonal_scatter",
    "digamma",
    "dist",
    "erfinv",
    "fmax",
    "fmin",
    "frexp",
    "huber_loss",
    "igamma",
    "igammac",
    "ldexp",
    "lgamma",
    "max_unpool1d",
    "max_unpool2d",
    "max_unpool3d",
    "multi_margin_loss",
    "multilabel_margin_loss",
    "multilabel_soft_margin_loss",
    "mvlgamma",
    "nan_to_num",
    "nansum",
    "native_batch_norm",
    "renorm",
    "rot90",
    "smooth_l1_loss",
    "soft_margin_loss",
    "sgn",
    "std_mean",
    "take",
    "trace",
    "var_mean",
};

/* Layers that are one kernel of cuDNN, called as _VF.NAME in torch/nn/modules/rnn.py; older exporters
 * took them apart: lstm_impl and others in torch/_decomp/decompositions.py. */
static const char *const recurrent[] = {"_VF.lstm", "_VF.gru", "_VF.rnn_tanh", "_VF.rnn_relu"};

/* Functions of several calls that are rows, where no drawing fits (arithmetic.c), and a call that tells. Sources:
 * Distance.cpp, Loss.cpp and LinearAlgebra.cpp in aten/src/ATen/native; torch/nn/functional.py. */
static const struct {
    const char *name, *target; /* with such a call, NULL any */
} composed[] = {
    {"cosine_embedding_loss", NULL},
    {"cosine_similarity", NULL},
    {"hinge_embedding_loss", NULL},
    {"margin_ranking_loss", NULL},
    {"multi_dot", NULL},
    {"triplet_margin_loss", NULL},
    {"vecdot", NULL},
    {"multi_head_attention_forward", "aten.pad."}, /* bias_k, add_zero_attn */
};

/* Functions of several calls, no rows, that hold what they make no longer than their last reader does, or as
 * python_holds says (inners). Others may have variables, which the file doesn't show. */
static const struct {
    const char *name, *source;
} plain[] = {
    {"_canonical_mask", "torch/nn/functional.py"},
    {"_weight_norm", "WeightNorm.cpp"},
    {"alpha_dropout", "Dropout.cpp"},
    {"broadcast_tensors", "TensorShape.cpp"},
    {"cartesian_prod", "Itertools.cpp"},
    {"cdist", "Distance.cpp"},
    {"column_stack", "TensorShape.cpp"},
    {"cross_entropy", "torch/nn/functional.py: one operator, which is drawn or decomposed"},
    {"cumulative_trapezoid", "Integration.cpp"},
    {"diff", "ReduceOps.cpp"},
    {"dropout1d", "Dropout.cpp"},
    {"dropout2d", "Dropout.cpp"},
    {"dropout3d", "Dropout.cpp"},
    {"dsplit", "TensorShape.cpp"},
    {"dstack", "TensorShape.cpp"},
    {"fft_fft", "SpectralOps.cpp"},
    {"fft_fft2", "SpectralOps.cpp"},
    {"fft_fftn", "SpectralOps.cpp"},
    {"fft_hfft", "SpectralOps.cpp"},
    {"fft_hfft2", "SpectralOps.cpp"},
    {"fft_hfftn", "SpectralOps.cpp"},
    {"fft_ifft", "SpectralOps.cpp"},
    {"fft_ifft2", "SpectralOps.cpp"},
    {"fft_ifftn", "SpectralOps.cpp"},
    {"fft_irfft", "SpectralOps.cpp"},
    {"fft_irfft2", "SpectralOps.cpp"},
    {"fft_rfft", "SpectralOps.cpp"},
    {"float_power", "Pow.cpp"},
    {"hsplit", "TensorShape.cpp"},
    {"hstack", "TensorShape.cpp"},
    {"interpolate", "torch/nn/functional.py: one operator"},
    {"kl_div", "Loss.cpp"},
    {"kron", "LinearAlgebra.cpp"},
    {"l1_loss", "Loss.cpp"},
    {"linalg_matrix_power", "LinearAlgebra.cpp"},
    {"local_response_norm", "torch/nn/functional.py"},
    {"lp_pool1d", "torch/nn/functional.py"},
    {"lp_pool2d", "torch/nn/functional.py"},
    {"lp_pool3d", "torch/nn/functional.py"},
    {"multi_head_attention_forward", "torch/nn/functional.py"},
    {"normalize", "torch/nn/functional.py"},
    {"pairwise_distance", "Distance.cpp"},
    {"softmin", "torch/nn/functional.py"},
    {"softsign", "torch/nn/functional.py"},
    {"take_along_dim", "TensorAdvancedIndexing.cpp"},
    {"stft", "torch/functional.py"},
    {"tanhshrink", "torch/nn/functional.py"},
    {"tensor_split", "TensorShape.cpp"},
    {"trapezoid", "Integration.cpp"},
    {"trapz", "Integration.cpp"},
    {"vsplit", "TensorShape.cpp"},
    {"vstack", "TensorShape.cpp"},
};

/* The next function of torch that a line calls, from *at on, as its operator would be called: "linalg_norm" of
 * "torch.linalg.norm(", "var" of "torch.ops.aten.var.dim(". NULL no more. */
static const char *
next_function(struct arena *a, const char *line, const char **at)
{
    static const char *const rooms[] = {"torch.ops.aten.", "torch.nn.functional.", "nn.functional.", "torch.", "F."};
    for (const char *open; (open = strchr(*at, '(')); *at = open + 1) {
        const char *from = open;
        while (from > line && (isalnum((unsigned char)from[-1]) || from[-1] == '_' || from[-1] == '.'))
            from--;
        for (int i = 0; i < COUNT(rooms); i++)
            if (starts_with(from, rooms[i])) {
                char *name = arena_strn(a, from + strlen(rooms[i]), (size_t)(open - from) - strlen(rooms[i]));
                if (i == 0) /* its overload */
                    name[strcspn(name, ".")] = '\0';
                for (char *p = name; *p; p++)
                    *p = *p == '.' ? '_' : *p;
                *at = open + 1;
                return name;
            }
    }
    return NULL;
}

/* Which functions of these tables a line calls, and what else is asked of it at each of its calls. */
static void
read_functions(struct traced *t)
{
    static uint64_t ending[COUNT(decomposed)];
    _Static_assert(COUNT(decomposed) <= 64 && COUNT(composed) <= 32 && COUNT(recurrent) <= 32, "a bit each");
    for (int i = 0; i < COUNT(decomposed); i++)
        t->decomposed |= (uint64_t)(python_may_call_row(t->endings, decomposed[i], &ending[i]) &&
                                    python_calls(t->line, decomposed[i]))
                         << i;
    for (int i = 0; i < COUNT(composed); i++)
        t->composed |=
            (unsigned)(python_may_call(t->endings, composed[i].name) && python_calls(t->line, composed[i].name)) << i;
    for (int i = 0; i < COUNT(recurrent); i++)
        t->recurrent |=
            (unsigned)(python_may_call(t->endings, path_last(recurrent[i])) && python_calls(t->line, recurrent[i]))
            << i;
    t->masks = strstr(t->line, "torch.masked.");
    t->leaves = strstr(t->line, "cpu") && !strstr(t->line, "torch.ops.") &&
                (python_calls(t->line, "cpu") || strstr(t->line, "'cpu'") || strstr(t->line, "\"cpu\""));
    t->most = python_most(t->line);
    t->functions = true;
}

/* A function that is no row, and more calls than the line writes, which are `most`. */
static const char *
composed_here(const struct dynamo *d, int at, int most)
{
    struct arena *a = d->l->a;
    const char *line = fx_line_at(d, d->groups[at].last), *next = line, *name;
    int n = 0;
    for (int i = at; i < d->ngroups && group_same_statement(d, d->groups[at].last, d->groups[i].last); i++)
        n += !spelled(d->groups[i].fx_name, IS_NUMBER); /* of a size */
    while (n > most && (name = next_function(a, line, &next))) {
        bool known = aten_find(arena_printf(a, "aten.%s", name));
        for (int i = 0; i < COUNT(plain) && !known; i++)
            known = strcmp(plain[i].name, name) == 0;
        for (int i = 0; i < COUNT(decomposed) && !known; i++)
            known = strcmp(decomposed[i], name) == 0;
        if (!known && !arithmetic_draws(d, at, name))
            return name;
    }
    return NULL;
}

static void
doubt_decomposed(struct dynamo *d, const struct group *g)
{
    int at = d->group_of[g->last];
    bool said = at > 0 && group_same_statement(d, d->groups[at - 1].last, g->last);
    const struct node *n = &d->l->g->n[g->last];
    const char *target = target_bare(g->target);
    struct traced *t = fx_record(d->l, g->last)->traced;
    if (!t->functions)
        read_functions(t);
    for (unsigned left = t->composed; left; left &= left - 1) {
        const int i = __builtin_ctz(left);
        if ((composed[i].target ? starts_with(g->target, composed[i].target) : !said) &&
            !arithmetic_draws(d, at, composed[i].name))
            graph_doubt(d->l->g, n->name, n->op, NULL,
                        "%s calls several operators, and the file does not show how long it holds what they make",
                        composed[i].name);
    }
    if (said)
        return;
    if (t->masks) /* torch/masked/_ops.py: mask_input; dtype=input.dtype */
        graph_doubt(
            d->l->g, n->name, n->op, NULL,
            "functions of torch.masked hold what they mask, and say the type that their input had at the export");
    const char *several = at >= 0 ? composed_here(d, at, t->most) : NULL;
    if (several && !python_may_hide(d->l->a, t->stack)) /* else both are measured */
        graph_doubt(d->l->g, n->name, n->op, NULL,
                    "%s calls several operators, and the file does not show how long it holds what they make", several);
    for (uint64_t left = t->decomposed; left; left &= left - 1) {
        const char *name = decomposed[__builtin_ctzll(left)];
        if (!arithmetic_draws(d, at, name))
            graph_doubt(d->l->g, n->name, n->op, NULL,
                        "the exporter wrote %s as its arithmetic: what PyTorch's own operator keeps is not counted",
                        name);
    }
    for (unsigned left = t->recurrent; left; left &= left - 1) {
        const char *name = path_last(recurrent[__builtin_ctz(left)]);
        if (!starts_with(target, name))
            graph_doubt(d->l->g, n->name, n->op, "export with PyTorch 2.11 or later",
                        "the exporter wrote %s as its arithmetic: what PyTorch's own operator keeps is not counted",
                        name);
    }
    if (t->leaves)
        graph_doubt(d->l->g, n->name, n->op, NULL,
                    "the program moves a tensor off the device here, but the file has none");
    const char *copied = at >= 0 ? copies_missed(d, at) : NULL;
    if (copied)
        graph_doubt(d->l->g, n->name, n->op, NULL, "the exporter wrote %s as a view: its copies are not counted",
                    copied);
}

static bool
reads(const struct arg *args, int n, int slot)
{
    for (int i = 0; i < n; i++)
        if ((args[i].kind == ARG_SLOT && args[i].i == slot) ||
            (args[i].kind == ARG_LIST && reads(args[i].list, args[i].n, slot)))
            return true;
    return false;
}

/* Of the calls of this statement before call `last` the first that makes arguments behind `at`, and nothing that the
 * calls from `last` on read. */
static int
first_behind(const struct dynamo *d, const struct group *g, const struct arg *args, int n, int at, int last)
{
    const struct program *p = d->l->p;
    const char *stack = d->l->g->n[g->last].stack;
    int first = last;
    for (bool feeds = stack != NULL; feeds && first > 0; first -= feeds) {
        const struct call *c = &p->calls[first - 1];
        feeds = c->stack && strcmp(c->stack, stack) == 0 && reads(args + at + 1, n - at - 1, c->outs[0]);
        for (int k = first; k < last && !feeds && c->stack && strcmp(c->stack, stack) == 0; k++)
            feeds = reads(p->calls[k].args, p->calls[k].nargs, c->outs[0]);
        for (int k = last; k < p->ncalls && feeds; k++)
            feeds = !reads(p->calls[k].args, p->calls[k].nargs, c->outs[0]);
    }
    return first;
}

/* Python evaluates arguments from the left: the last calls, which were lost and make argument `at`, ran before those of
 * this statement that make later arguments. */
static void
put_in_order(struct dynamo *d, const struct group *g, const struct arg *args, int n, int at, int lost)
{
    struct program *p = d->l->p;
    const char *stack = d->l->g->n[g->last].stack;
    const struct call *made = &p->calls[p->ncalls - 1];
    bool constant = made->nargs > 0 && made->args[0].kind == ARG_TEXT;
    const char *written = constant                               ? arena_printf(d->l->a, "aten.%s", made->args[0].s)
                          : target_is(made->target, TARGET_LOST) ? "aten.contiguous"
                                                                 : made->target;
    if (!stack || args[at].kind != ARG_SLOT || args[at].i != made->outs[0] ||
        !(python_writes(fx_line_at(d, g->last), written) ||
          (made->stack && made->stack != stack && starts_with(made->stack, stack))))
        return;
    group_move(d, lost, first_behind(d, g, args, n, at, lost));
}

/* What is written in place, where that is a slice of all that this group made: the file has no other name for what is
 * sliced. */
static const struct call *
shows_all(const struct dynamo *d, int from)
{
    const struct program *p = d->l->p;
    const struct call *c = &p->calls[p->ncalls - 1];
    for (int i = from; i < p->ncalls - 1; i++)
        if (p->calls[i].outs[0] == c->args[0].i && target_is(p->calls[i].target, TARGET_VIEWS))
            return &p->calls[i];
    return NULL;
}

/* Whether all that reads it writes it over parts of another tensor: "x[:n] = y" copies y to its place. */
static bool
writes_parts(const struct dynamo *d, const struct group *g)
{
    bool any = false;
    for (const struct group *h = d->groups; h < d->groups + d->ngroups; h++)
        if (fx_names(h->args, g->fx_name)) {
            const struct aten *op = spelled_row(h->target);
            if (!op || op->writes != WRITES_PART)
                return false;
            any = true;
        }
    return any;
}

/* The view that call w wrote on a call's line, where that call turns it back: as large as what it is a view of. */
static const struct call *
turned_back(const struct dynamo *d, const struct call *c, const struct call *w)
{
    if (!w->stack || !c->stack || strcmp(w->stack, c->stack) != 0)
        return NULL;
    const struct call *part = maker_of(d, &w->args[0]),
                      *base = part && target_is(part->target, TARGET_VIEWS | TARGET_REORDERS)
                                  ? maker_of(d, &part->args[0])
                                  : NULL;
    const bool all = base && base->rank == c->rank && c->rank >= 0 &&
                     memcmp(base->size, c->size, sizeof(*c->size) * (size_t)c->rank) == 0;
    return all ? part : NULL;
}

/* What was written through a view of all is turned back on the line of the write: that is the view's base. A reshape
 * that copied is none. */
static void
write_base(const struct dynamo *d, struct call *c)
{
    const struct call *w = target_is(c->target, TARGET_VIEWS | TARGET_REORDERS) ? maker_of(d, &c->args[0]) : NULL,
                      *part = w && w->in_place ? turned_back(d, c, w) : NULL;
    if (!part || (part->name && spelled(part->name, IS_COPY)) || c->nargs < 2)
        return;
    c->op = aten_find(c->target = "aten.copy_slices");
    c->args[0] = part->args[0];
    c->args[1] = (struct arg){.kind = ARG_SLOT, .i = w->outs[0]};
    c->nargs = 2;
}

/* "x.mT[:, 0] = y" is written into x: what was turned for that, the last call turns back on its line. */
static bool
written_through(struct dynamo *d, struct group *g)
{
    struct program *p = d->l->p;
    const struct call *c = &p->calls[p->ncalls - 1];
    struct call *w = target_is(c->target, TARGET_REORDERS) ? maker_of(d, &c->args[0]) : NULL;
    const struct call *part = w && target_is(w->target, TARGET_WRITES) ? turned_back(d, c, w) : NULL;
    if (!part || strcmp(part->target, c->target) != 0)
        return false;
    w->args[0] = part->args[0];
    w->rank = c->rank;
    w->size = c->size;
    p->ncalls--;
    g->call = (int)(w - p->calls);
    group_define(d, g, group_output(d, g), w->outs[0]);
    return true;
}

/* Such a view that a line reads which takes nothing apart was made by a line that is lost: of a gradient's order the
 * file says nothing then. */
static void
doubt_made_anew(const struct dynamo *d, const struct group *g, const struct call *c)
{
    static const struct {
        enum target_trait trait;
        const char *written;
    } parts[] = {{TARGET_VIEWS, "["},           {TARGET_VIEWS, "narrow("},      {TARGET_VIEWS, "select("},
                 {TARGET_VIEWS, "chunk("},      {TARGET_VIEWS, "split("},       {TARGET_VIEWS, "unbind("},
                 {TARGET_VIEWS, "scatter"},     {TARGET_VIEWS, "expand"},       {TARGET_KEEPS, "view"},
                 {TARGET_KEEPS, "reshape("},    {TARGET_KEEPS, "flatten("},     {TARGET_KEEPS, "squeeze("},
                 {TARGET_REORDERS, "T"},        {TARGET_REORDERS, "permute("},  {TARGET_REORDERS, "transpose("},
                 {TARGET_REORDERS, "movedim("}, {TARGET_REORDERS, "diagonal("}, {TARGET_REORDERS, "detach("},
                 {TARGET_REORDERS, "flatten("}, {TARGET_REORDERS, "swapaxes("}, {TARGET_REORDERS, "narrow("}};
    const struct node *n = &d->l->g->n[g->last];
    const char *line = fx_line_at(d, g->last);
    const struct call *base = c->args[0].kind == ARG_SLOT ? group_maker(d->l->p, c->args[0].i) : NULL;
    bool apart = !base || !n->stack || !base->stack || strcmp(base->stack, n->stack) == 0 ||
                 !target_is(base->target, TARGET_WRITES);
    for (int i = 0; i < COUNT(parts) && !apart; i++)
        apart = target_is(c->target, parts[i].trait) && strstr(line, parts[i].written);
    if (!apart)
        graph_doubt(d->l->g, n->name, n->op, NULL,
                    "a view of what was written in place was made on a line that left nothing: when is not known");
}

/* Whether both are the same view, of whatever. */
static bool
alike(const struct call *a, const struct call *b)
{
    return strcmp(a->target, b->target) == 0 && a->nargs == b->nargs && same_args(a->nargs, a->args, b->args);
}

/* Whether that is the view into which its base was written: it was made anew at once, others when they are read.
 * Source: rebase_history in torch/csrc/autograd/variable.cpp. */
static bool
written_by(const struct dynamo *d, const struct call *w, const struct call *c)
{
    const struct call *write = target_is(w->target, TARGET_WRITES) ? maker_of(d, &w->args[1]) : NULL,
                      *part = write && write->in_place ? maker_of(d, &write->args[0]) : NULL;
    return part && alike(part, c);
}

/* Whether a view of that line shows the group's result: both are made anew for its reader. */
static bool
viewed_there(const struct dynamo *d, const struct group *g)
{
    const int out = group_output(d, g);
    bool viewed = false;
    for (int u = 0; out >= 0 && u < d->l->g->t[out].nusers; u++) {
        const int user = d->l->g->t[out].users[u], by = d->group_of[user];
        viewed |= by >= 0 && target_is(d->groups[by].target, TARGET_VIEWS | TARGET_REORDERS) &&
                  group_same_statement(d, g->last, user);
    }
    return viewed;
}

/* Whether a view was made before what it shows was written, so that autograd makes it anew: by a line before that; or
 * on none that is left, where it was seen before. */
static bool
made_before(const struct dynamo *d, const struct group *g, const struct call *c)
{
    struct arena *a = d->l->a;
    const struct program *p = d->l->p;
    const struct call *w = maker_of(d, &c->args[0]);
    const char *line = fx_line_at(d, g->last);
    if (!w || !w->stack || !c->stack || !(w->in_place || target_is(w->target, TARGET_WRITES)))
        return false;
    if (strcmp(c->stack, w->stack) == 0)
        return written_by(d, w, c) && !viewed_there(d, g);
    bool before = python_earlier(a, c->stack, w->stack),
         own = python_writes(line, c->target) || python_subscript(a, c, line);
    for (const struct call *o = p->calls; o < c && !before && !own; o++)
        before = (o < w || o->anew) && alike(o, c);
    return before;
}

/* The same view, which autograd made anew for another reader: -1 none did. */
static int
anew_already(const struct program *p, const struct call *c)
{
    for (const struct call *o = p->calls; o < c; o++)
        if (o->anew && alike(o, c) && o->args[0].i == c->args[0].i)
            return o->outs[0];
    return -1;
}

/* After a write in place the exporter makes views anew where they are read: lines behind the write ran before that. */
static void
put_where_written(struct dynamo *d, const struct group *g, int from)
{
    struct program *p = d->l->p;
    struct call *c = &p->calls[p->ncalls - 1];
    bool view = target_is(c->target, TARGET_VIEWS | TARGET_REORDERS) && group_of_written(p, c);
    if (view && made_before(d, g, c)) {
        const struct call *w = maker_of(d, &c->args[0]);
        const int same = anew_already(p, c);
        c->anew = written_by(d, w, c) ? ANEW_FIRST : ANEW_READ;
        if (same >= 0) {
            p->ncalls--;
            group_define(d, g, group_output(d, g), same);
        } else if (c->anew == ANEW_FIRST) {
            group_move(d, from, (int)(w - p->calls) + 1);
        }
        return;
    }
    int at = view ? python_place(p, from) : from;
    if (view && at == from)
        doubt_made_anew(d, g, c);
    if (at < from)
        group_move(d, from, at);
}

/* The arguments of what makes a tensor in the type of another one, without that: of the type that the file has. */
static int
make_alone(const struct dynamo *d, const struct group *g, const struct aten *op, struct arg *args, int n)
{
    const int out = group_output(d, g), at = aten_arg(op, "dtype");
    memmove(args, args + 1, sizeof(*args) * (size_t)--n);
    for (; n <= at; n++)
        args[n] = NONE;
    if (args[at].kind != ARG_DTYPE && out >= 0)
        args[at] = (struct arg){.kind = ARG_DTYPE, .i = d->l->g->t[out].dtype};
    return n;
}

/* A mask or integers that became numbers: by the line another tensor's type, where it reads "mask.to(x.dtype)", whose
 * slot is returned; else -1, and *either where a function runs it that the file does not show. */
static int
type_of(const struct dynamo *d, const struct group *g, const char *target, const struct arg *args, int n, bool *either)
{
    static const char of[] = ".dtype";
    const struct node *made = &d->l->g->n[g->last];
    const char *line = fx_line_at(d, g->last), *end = strstr(line, of), *from = end;
    if (n < 2 || !spelled(target, CONVERTS | CASTS_TO) || args[1].kind != ARG_DTYPE || args[1].i != DT_FLOAT ||
        made->nin < 1 || made->in[0] < 0 || dtypes[d->l->g->t[made->in[0]].dtype].is_float || strstr(line, "float"))
        return -1;
    while (from > line && (isalnum((unsigned char)from[-1]) || from[-1] == '_'))
        from--;
    if (from && from < end && (from == line || from[-1] != '.') && !strstr(end + 1, of))
        return python_named(d->l->p, &(struct call){.stack = made->stack, .scopes = made->scopes},
                            arena_strn(d->l->a, from, (size_t)(end - from)));
    *either = !end && *line && !strstr(line, ".to(") && !strstr(line, ".type(") && !strstr(line, "type_as(");
    return -1;
}

/* What a recorded call runs as is mostly its own target. */
static inline bool
is(const struct group *g, const char *target, enum trait t)
{
    return g->aim && target == g->target ? g->aim->traits & t : spelled(target, t);
}

int
recorded_call(struct dynamo *d, struct group *g)
{
    struct lowering *l = d->l;
    const int first = l->p->ncalls;
    struct arg args[MAX_ARGS];
    const char *copy = copies_anew(d, g), *target = copy ? copy : spelled_anew(d, g);
    const struct aten *op = g->aim && target == g->target ? g->aim->row : spelled_row(target);
    int out = group_output(d, g), rank = -1, missing = 0, spare[MAX_ARGS], used = 0;
    const int64_t *size = NULL;
    const bool size_read = spelled(g->fx_name, IS_NUMBER) && !python_calls(fx_line_at(d, g->last), "scalar_tensor");
    if (size_read || group_of_sizes(g))
        return 0;
    int n = fx_group_args(l, op, g, args);
    if (out >= 0)
        lower_sizes(l, &l->g->t[out], &rank, &size);
    for (int i = 0; i < n; i++)
        resolve_known(d, &args[i], &missing);
    masks_lost(d, g, args, n);
    keep_number(d, g, op, args, n);
    if (missing && out >= 0 && merged(d, g, out))
        return 0;
    doubt_decomposed(d, g);
    params_size(d, g, op, args, n, rank, size);
    if (is(g, target, TRAINS)) {
        enum { STATISTICS = 3, TRAINING = 5, ALL = 8 };
        bool tracked = n > ALL - 2;
        if (n == ALL - 1) /* (input, weight, bias, mean, var, momentum, eps) */
            memmove(&args[TRAINING + 1], &args[TRAINING], sizeof(*args) * 2);
        if (n == ALL - 2) { /* (input, weight, bias, training, momentum, eps) */
            memmove(&args[TRAINING], &args[STATISTICS], sizeof(*args) * 3);
            args[STATISTICS] = args[STATISTICS + 1] = NONE;
        }
        /* beside others that are not in evaluation mode, as one that a model froze */
        bool frozen = d->takes_batch && spelled_statistics(g->target) == STATISTICS_RUNNING;
        args[TRAINING] = BOOL(!frozen && (!tracked || setup_trains(l->s)));
        n = ALL;
        for (int i = STATISTICS; i < TRAINING; i++) /* what another run of the module wrote */
            if (args[i].kind == ARG_SLOT && args[i].i < 0 && args[i].s && !params_of(d, args[i].s))
                args[i] = NONE;
        bool folded = node_call(&l->g->n[g->last]) != CALL_BATCH_NORM;
        const char *norm = args[1].s ? args[1].s : args[STATISTICS].s; /* affine=False */
        if (folded && args[0].kind == ARG_SLOT && args[0].i < 0 && norm) {
            int conv = clones_host(d, g, norm);
            if (conv >= 0) {
                names_put(l->slots, args[0].s, conv);
                args[0].i = conv;
            }
        }
    }
    if (n == 1 && is(g, target, IS_COPY)) {
        const struct node *made = &l->g->n[g->last];
        args[n++] = BOOL(false);
        args[n++] = BOOL(made->nin > 0 && made->in[0] >= 0 && clones_drops(d, g, made->in[0]));
    }
    int nspare = group_inputs(d, g, args, n, spare, MAX_ARGS);
    d->body_params = 0;
    for (int i = 0; i < n; i++) {
        bool list = args[i].kind == ARG_LIST;
        struct arg *all = list ? args[i].list : args;
        int end = list ? args[i].n : n;
        for (int k = list ? 0 : i; k < (list ? end : i + 1); k++) {
            int before = l->p->ncalls;
            resolve_arg(d, g, &all[k], i, spare, nspare, &used);
            if (l->p->ncalls > before)
                put_in_order(d, g, all, end, k, before);
        }
    }
    params_size_folded(d, op, args, n, rank, size);
    const char *alone = n > 1 && args[0].kind == ARG_INT ? spelled_alone(target) : NULL;
    if (alone) { /* what its type is of is lost */
        target = alone;
        op = aten_find(target);
        n = make_alone(d, g, op, args, n);
    }
    if (group_reflects(target, args, n)) {
        target = REFLECTED;
        op = aten_find(target);
    }
    if (is(g, target, IS_SAME) && args[0].kind == ARG_SLOT) {
        group_define(d, g, out, (int)args[0].i);
        return missing;
    }
    if (op && op->writes == WRITES_PART && n > 1 && !strstr(fx_line_at(d, g->last), "_scatter(")) {
        if (put_back(d, g, args, out))
            return missing;
        target = "aten.copy_slices";
        op = aten_find(target);
        n = 2;
    }
    if (!op && n > 1 && args[1].kind == ARG_SLOT && spelled(target, OVERWRITES) && writes_parts(d, g)) {
        group_define(d, g, out, (int)args[1].i);
        return missing;
    }
    if (!op)
        graph_doubt(l->g, l->g->n[g->last].name, g->target, NULL,
                    "no rule for this operator: only its result is counted");
    for (int i = 0; i < d->npacked && n > 2; i++)
        if (args[1].kind == ARG_SLOT && args[1].i == d->packed[i].weight && args[2].kind == ARG_SLOT)
            args[2].i = d->packed[i].bias;
    if (n > 0 && args[0].kind == ARG_SLOT && is(g, target, PROJECTS | CONVOLVES))
        args[0].i = clones_dropped(d, g, (int)args[0].i);
    int operand = n > 0 && args[0].kind == ARG_SLOT ? (int)args[0].i : -1;
    struct place here = {.path = NULL}; /* where the call stands, when facts are asked for */
    if (operand >= 0) {
        const int before = l->p->ncalls;
        args[0].i = cast_by_fact(d, g, args, n, true, operand, &here);
        if (args[0].i == operand)
            args[0].i = casts_operand(d, g, 0, operand);
        if (l->p->ncalls == before + 1 && n > 1)
            group_move(d, before, first_behind(d, g, args, n, 0, before));
    }
    if (n > 1 && args[1].kind == ARG_SLOT && args[1].i >= 0)
        args[1].i = casts_operand(d, g, 1, (int)args[1].i);
    casts_further(d, g, target, args, n);
    doubt_scalar(d, g, op, args, n);
    split_key(d, g, args, n);
    const struct fact *norm = norm_of(d, g);
    if (norm)
        norm_input(d, g, norm->kind == FACT_NORM_TO_WEIGHT, args, n);
    add_lost_mask(d, g, args, n, rank, size);
    n = masks_leave(d, g, args, n);
    bool either = false;
    int like = type_of(d, g, target, args, n, &either);
    if (like >= 0) {
        target = "aten.to_like";
        op = aten_find(target);
        args[1] = (struct arg){.kind = ARG_SLOT, .i = like};
        n = 2;
    }
    struct call *c = group_call(d, g, target, n);
    c->op = op;
    memcpy(c->args, args, sizeof(*args) * (size_t)n);
    c->rank = rank;
    c->size = size;
    c->either_type = either && op && aten_arg(op, "dtype") >= 0;
    c->in_place = in_place(d, g, c, out);
    g->call = l->p->ncalls - 1;
    int slot = norm ? norm_output(d, g, norm->kind, c) : c->outs[0];
    int made = cast_by_fact(d, g, args, n, false, slot, &here);
    slot = made == slot && !norm ? casts_result(d, g, operand, slot) : made;
    bool last = g->call == l->p->ncalls - 1;
    const struct call *shown = last && l->p->calls[g->call].in_place ? shows_all(d, first) : NULL;
    if (shown) {
        struct arg base = shown->args[0];
        c = group_call(d, g, "aten.copy_slices", 2);
        c->args[0] = base;
        c->args[1] = (struct arg){.kind = ARG_SLOT, .i = slot};
        c->rank = rank;
        c->size = size;
        slot = c->outs[0];
    }
    write_base(d, &l->p->calls[l->p->ncalls - 1]);
    group_define(d, g, out, resolve_last(d, g, slot, false));
    const int cut = resolve_written(d, slot);
    if (cut != slot)
        names_put(l->slots, g->fx_name, cut);
    define_items(d, g, &l->p->calls[g->call]);
    if (!written_through(d, g))
        put_where_written(d, g, first);
    return missing;
}
