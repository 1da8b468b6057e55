/* SPDX-License-Identifier: Apache-2.0 */
/* dynamo.c - files in which PyTorch's default exporter recorded its calls.
 *
 * The graph signature names the parameters, and every node carries the text of the call it came from, its module and
 * its Python frames. One call may stand as many nodes; nodes with the same text are one group (group.c), and a group
 * is one call, made where its last node stands. The text is the authority on operator and arguments; the nodes give
 * order and sizes. What eager does and the text hides is put back: casts, writes in place, results of several.
 */
#include "lower/dynamo.h"
#include "torch/torch.h"

#include <string.h>

/* ---- casts that only autocast sees ------------------------------------------------------------------------------ */

static const struct fact *
norm_of(struct lowering *l, const struct group *g)
{
    enum { NORMS = 1u << FACT_NORM_BACK | 1u << FACT_NORM_BACK_AT_END | 1u << FACT_NORM_TO_WEIGHT };
    return g->type ? fact_next(l, NULL, NORMS, &(struct place){.type = g->type}) : NULL;
}

/* The module's input is read in fp32, what the weight scales in the weight's type. */
static void
norm_input(struct dynamo *d, const struct group *g, bool to_weight, struct arg *args, int n)
{
    struct lowering *l = d->l;
    for (int i = 0; i < 2 && n == 2 && to_weight; i++)
        if (args[i].kind == ARG_SLOT && args[1 - i].kind == ARG_SLOT && !group_maker(l->p, args[i].i) &&
            group_maker(l->p, args[1 - i].i))
            args[1 - i].i = group_cast_like(d, g, (int)args[1 - i].i, (int)args[i].i);
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
        weighted |= m && m->scope == c->scope && m->nargs && m->args[0].kind == ARG_SLOT &&
                    !group_maker(l->p, m->args[0].i); /* 1 + weight */
        normal |= m && spelled(m->target, INVERTS_ROOT);
    }
    bool goes = spelled(g->target, MULTIPLIES) &&
                ((back == FACT_NORM_BACK_AT_END && weighted) || (back == FACT_NORM_BACK && normal));
    return goes && d->norm.input >= 0 ? group_cast_like(d, g, slot, d->norm.input) : slot;
}

/* What the probabilities are multiplied with: the next product in the module. */
static int
value_after(struct dynamo *d, const struct group *g)
{
    for (const struct group *h = g + 1; h < d->groups + d->ngroups; h++) {
        struct arg args[MAX_ARGS];
        int missing = 0;
        if (!h->path || strcmp(h->path, g->path) != 0 || !spelled(h->target, CONTRACTS))
            continue;
        if (fx_args(d->l, NULL, h->args, args) < 2 || args[1].kind != ARG_SLOT)
            return -1;
        resolve_known(d, &args[1], &missing);
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

/* Casts that copy under autocast: of the input before the call, or of its result. */
static int
cast_by_fact(struct dynamo *d, const struct group *g, const struct arg *args, int n, bool before, int slot)
{
    unsigned inputs = 1u << FACT_INPUT_TO_WEIGHT | 1u << FACT_INPUT_TO_FLOAT;
    unsigned results = 1u << FACT_RESULT_TO_VALUE | 1u << FACT_RESULT_TO_QUERY | 1u << FACT_RESULT_TO_INPUT;
    if (!g->path || slot < 0 || n < 2)
        return slot;
    const struct place at = fact_place(d->l, g->path, spelled_bare(g->target));
    const struct fact *k = fact_next(d->l, NULL, before ? inputs : results, &at);
    while (k && k->kind == FACT_RESULT_TO_QUERY && (n < 3 || args[2].kind != ARG_DTYPE || args[2].i != DT_FLOAT)) {
        fact_drop(d->l, k);
        k = fact_next(d->l, k, results, &at);
    }
    if (!k)
        return slot;
    if (k->kind == FACT_INPUT_TO_FLOAT)
        return group_to_float(d, g, slot);
    const struct call *wide = k->kind == FACT_RESULT_TO_INPUT ? group_maker(d->l->p, args[0].i) : NULL;
    const struct arg *same = k->kind == FACT_INPUT_TO_WEIGHT ? &args[1] : wide && wide->nargs ? &wide->args[0] : &NONE;
    int like = k->kind == FACT_RESULT_TO_VALUE   ? value_after(d, g)
               : k->kind == FACT_RESULT_TO_QUERY ? query_before(d, (int)args[0].i)
               : same->kind == ARG_SLOT          ? (int)same->i
                                                 : -1;
    return like < 0 ? slot : group_cast_like(d, g, slot, like);
}

/* T5 adds its padding mask to the position bias that all layers share; of a mask of ones the exporter leaves nothing,
 * but the sum has the batch's size and lives as long as the layers. */
static void
add_lost_mask(struct dynamo *d, const struct group *g, struct arg *args, int n, int rank, const int64_t *size)
{
    const struct call *bias = n == 2 && args[1].kind == ARG_SLOT ? group_maker(d->l->p, args[1].i) : NULL;
    if (!g->path || rank != 4 || !bias || bias->rank != 4 || bias->size[0] != 1 || size[0] == 1)
        return;
    const struct place at = fact_place(d->l, g->path, spelled_bare(g->target));
    const struct fact *f = fact_next(d->l, NULL, 1u << FACT_ADDS_MASK, &at);
    if (!f || strcmp(spelled_bare(bias->target), f->arg) != 0)
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
        int made = mask->outs[0];
        struct call *sum = group_call(d, g, "aten.add.Tensor", 2);
        sum->args[0] = args[1];
        sum->args[1] = (struct arg){.kind = ARG_SLOT, .i = made};
        d->masked.slot = sum->outs[0];
    }
    args[1].i = d->masked.slot;
}

/* ---- in place --------------------------------------------------------------------------------------------------- */

/* Exports show every operator out of place. What tells the rest: the Python line, or a library's source. */
static bool
class_in_place(const struct dynamo *d, const struct group *g)
{
    struct lowering *l = d->l;
    struct place at = {.type = g->type};
    for (int up = 3; (at.around[0] = fx_entry(l->a, l->g->n[g->last].classes, up)); up++) { /* 1 operator, 2 module */
        const struct fact *f = fact_next(l, NULL, 1u << FACT_IN_PLACE | 1u << FACT_OUT_OF_PLACE, &at);
        if (f)
            return f->kind == FACT_IN_PLACE;
    }
    if (fact_of(l, g->type, FACT_OFTEN_IN_PLACE) && l->s->inplace == INPLACE_AUTO)
        program_assume(l->p, ALTERNATIVE_OVERWRITES,
                       "activations that are written in place as often as not (LeakyReLU) are not");
    return l->s->inplace == INPLACE_ALL || (l->s->inplace == INPLACE_RELU && spelled(g->target, RECTIFIES));
}

/* "x += y": the last operator of the statement, the one whose result no other operand of the statement is. */
static bool
line_in_place(const struct dynamo *d, const struct group *g, const char *stem, int out)
{
    static const struct {
        const char *stem, *sign;
    } augmented[] = {{"add", " += "}, {"sub", " -= "}, {"mul", " *= "}, {"div", " /= "}};
    const struct graph *gr = d->l->g;
    const char *line = fx_line(d->l->a, gr->n[g->last].stack);
    struct arena *a = d->l->a;
    if (strstr(line, arena_printf(a, "%s_(", stem)) ||
        (strstr(line, arena_printf(a, "%s(", stem)) && (strstr(line, "inplace=True") || strstr(line, ", True)"))))
        return true;
    for (int i = 0; i < COUNT(augmented); i++) {
        if (strcmp(augmented[i].stem, stem) != 0 ||
            (!strstr(line, augmented[i].sign) && !strstr(line, arena_printf(a, "%.2s", augmented[i].sign + 1))))
            continue;
        for (int u = 0; u < gr->t[out].nusers; u++) {
            const struct node *user = &gr->n[gr->t[out].users[u]];
            if (group_same_statement(d, g->last, gr->t[out].users[u]) && user->nin && user->in[0] != out)
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

static bool
in_place(const struct dynamo *d, const struct group *g, const struct call *c, int out)
{
    if (out < 0 || !starts_with(g->target, "aten.") || d->l->s->inplace == INPLACE_NONE ||
        !lower_may_overwrite(d->l->g, overwritten(d, g, c), out, g->last))
        return false;
    if (fact_of(d->l, g->type, FACT_MAY_OVERWRITE) && class_in_place(d, g))
        return true;
    const char *names[] = {spelled_bare(g->target), spelled_bare(c->target)}; /* as recorded, as it runs */
    for (int i = 0; i < COUNT(names); i++)
        if (line_in_place(d, g, arena_strn(d->l->a, names[i], strcspn(names[i], ".")), out))
            return true;
    return false;
}

/* ---- calls ------------------------------------------------------------------------------------------------------ */

/* Transposes and unsqueezes that were merged: the node's own attributes apply to its own input. */
static bool
merged(struct dynamo *d, const struct group *g, int out)
{
    struct lowering *l = d->l;
    const struct node *n = &l->g->n[g->last];
    const struct attr *perm = node_attr(n, "perm");
    perm = perm && perm->type == ATTR_INTS && perm->ints ? perm : NULL;
    if (!n->rules || n->nin < 1 || n->in[0] < 0 || l->slot_of[n->in[0]] < 0)
        return false;
    struct call *c = NULL;
    if (strstr(n->rules, "TransposeTranspose") && perm) {
        c = group_call(d, g, "aten.permute.default", 2);
        c->args[1] =
            (struct arg){.kind = ARG_LIST, .n = perm->n, .list = NEWN(l->a, struct arg, perm->n ? perm->n : 1)};
        for (int i = 0; i < perm->n; i++)
            c->args[1].list[i] = INT(perm->ints[i]);
    } else if (strstr(n->rules, "ReshapeReshape") || strstr(n->rules, "UnsqueezeUnsqueeze")) {
        c = group_call(d, g, "aten.reshape.default", 2);
    } else {
        return false;
    }
    c->args[0] = (struct arg){.kind = ARG_SLOT, .i = l->slot_of[n->in[0]]};
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
        for (int o = 0; n->row && n->row->aten && strcmp(n->row->aten, c->target) == 0 && o < n->nout; o++)
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
    if (!n)
        return;
    bool index = n == 1 && l->g->t[item[0]].dtype == DT_INT64 && ends_with(c->target, ".dim");
    int *place = NEWN(l->a, int, n);
    c->nouts = n + index;
    for (int i = 0; i < n; i++) {
        int at = result_index(d, g, c, item[i]);
        place[i] = at >= 0 ? at : i + index;
        c->nouts = place[i] >= c->nouts ? place[i] + 1 : c->nouts;
    }
    c->outs = NEWN(l->a, int, c->nouts);
    for (int i = 0; i < c->nouts; i++)
        c->outs[i] = lower_slot(l);
    for (int i = 0; i < n; i++) {
        names_put(l->slots, l->g->t[item[i]].name, c->outs[place[i]]);
        l->slot_of[item[i]] = c->outs[place[i]];
    }
}

void
dynamo_group(struct dynamo *d, struct group *g)
{
    struct lowering *l = d->l;
    struct arg args[MAX_ARGS];
    const char *target = spelled_anew(d, g);
    const struct aten *op = spelled_row(target);
    int out = group_output(d, g), rank = -1, missing = 0, spare[MAX_ARGS], used = 0;
    const int64_t *size = NULL;
    if (spelled_number(g->target))
        return; /* sizes */
    d->fed = pieces_unfuse(d, g);
    int n = fx_args(l, op, g->args, args);
    if (out >= 0)
        lower_sizes(l, &l->g->t[out], &rank, &size);
    for (int i = 0; i < n; i++)
        resolve_known(d, &args[i], &missing);
    if (missing && out >= 0 && merged(d, g, out))
        return;
    if (missing && d->fed < 0)
        pieces_doubt(d, g);
    pieces_decomposed(d, g);
    params_size(d, g, op, args, n, rank, size);
    if (spelled(target, TRAINS)) {
        enum { STATISTICS = 3, TRAINING = 5, ALL = 8 };
        bool tracked = n > ALL - 2;
        if (n == ALL - 1) /* (input, weight, bias, mean, var, momentum, eps) */
            memmove(&args[TRAINING + 1], &args[TRAINING], sizeof(*args) * 2);
        if (n == ALL - 2) { /* (input, weight, bias, training, momentum, eps) */
            memmove(&args[TRAINING], &args[STATISTICS], sizeof(*args) * 3);
            args[STATISTICS] = args[STATISTICS + 1] = NONE;
        }
        args[TRAINING] = BOOL(!tracked || l->s->mode != MODE_INFERENCE);
        n = ALL;
        bool folded = node_call(&l->g->n[g->last]) != CALL_BATCH_NORM;
        if (folded && args[0].kind == ARG_SLOT && args[0].i < 0 && args[1].s) {
            int conv = resolve_host(d, g, args[1].s);
            if (conv >= 0) {
                names_put(l->slots, args[0].s, conv);
                args[0].i = conv;
            }
        }
    }
    if (n == 1 && spelled(target, IS_COPY)) {
        const struct node *made = &l->g->n[g->last];
        args[n++] = BOOL(false);
        args[n++] = BOOL(made->nin > 0 && made->in[0] >= 0 && resolve_drops(d, g, made->in[0]));
    }
    int nspare = group_inputs(d, g, args, n, spare, MAX_ARGS);
    d->body_params = 0;
    for (int i = 0; i < n; i++)
        resolve_arg(d, g, &args[i], i, spare, nspare, &used);
    if (spelled(target, SUBTRACTS) && args[0].kind != ARG_SLOT && n > 1) { /* number - tensor: __rsub__ */
        struct arg number = args[0];
        args[0] = args[1];
        args[1] = number;
        target = "aten.rsub.Scalar";
        op = aten_find(target);
    }
    if (spelled(target, IS_SAME) && args[0].kind == ARG_SLOT) {
        group_define(d, g, out, (int)args[0].i);
        return;
    }
    if (!op)
        graph_doubt(l->g, l->g->n[g->last].name, g->target, NULL,
                    "no rule for this operator: only its result is counted");
    for (int i = 0; i < d->npacked && n > 2; i++)
        if (args[1].kind == ARG_SLOT && args[1].i == d->packed[i].weight && args[2].kind == ARG_SLOT)
            args[2].i = d->packed[i].bias;
    if (n > 0 && args[0].kind == ARG_SLOT)
        args[0].i = cast_by_fact(d, g, args, n, true, (int)args[0].i);
    const struct fact *norm = norm_of(l, g);
    if (norm)
        norm_input(d, g, norm->kind == FACT_NORM_TO_WEIGHT, args, n);
    add_lost_mask(d, g, args, n, rank, size);
    struct call *c = group_call(d, g, target, n);
    c->op = op;
    memcpy(c->args, args, sizeof(*args) * (size_t)n);
    c->rank = rank;
    c->size = size;
    c->in_place = in_place(d, g, c, out);
    g->call = l->p->ncalls - 1;
    int slot = norm ? norm_output(d, g, norm->kind, c) : c->outs[0];
    slot = cast_by_fact(d, g, args, n, false, slot);
    group_define(d, g, out, slot);
    define_items(d, g, &l->p->calls[g->call]);
}

/* ---- splits ----------------------------------------------------------------------------------------------------- */

/* split and chunk lose their text. */
static struct call *
split_call(struct lowering *l, const struct node *n, int slot, int64_t axis)
{
    struct call *c = lower_call(l, "aten.split_with_sizes.default", 3);
    c->target = "aten.split.Tensor";
    c->name = n->name;
    c->node = n->name;
    c->scope = lower_module(l, "", NULL);
    c->args[0] = (struct arg){.kind = ARG_SLOT, .i = slot};
    c->args[1] = (struct arg){.kind = ARG_LIST, .n = n->nout, .list = NEWN(l->a, struct arg, n->nout)};
    c->args[2] = INT(axis);
    c->nouts = n->nout;
    c->outs = NEWN(l->a, int, n->nout);
    for (int i = 0; i < n->nout; i++)
        c->outs[i] = lower_slot(l);
    return c;
}

/* Attention on two tensors splits its packed projection, weight and bias. The biases' split may be another module's,
 * merged: each weight remembers its own. */
static void
split_projection(struct dynamo *d, const struct node *n, const struct param *weight, const struct call *split)
{
    struct lowering *l = d->l;
    size_t stem = strlen(weight->name) - strlen("weight");
    struct param *bias = params_called(d, arena_printf(l->a, "%.*sbias", (int)stem, weight->name));
    struct arg sizes = split->args[1];
    const int *outs = split->outs;
    if (!bias || weight->rank != 2)
        return;
    params_sized(l, bias, 1, weight->size);
    d->referenced[bias - l->p->params] = true;
    struct call *c = split_call(l, n, bias->slot, 0);
    c->args[1] = sizes;
    for (int i = 0; i < n->nout; i++)
        *PUSH(l->a, d->packed, d->npacked, d->cap_packed) = (struct packed){outs[i], c->outs[i]};
}

static void
lower_split(struct dynamo *d, int at)
{
    struct lowering *l = d->l;
    const struct node *n = &l->g->n[at];
    if (n->nin < 1 || n->nout < 1 || n->in[0] < 0)
        return;
    const struct tensor *from = &l->g->t[n->in[0]];
    struct param *q = from->is_initializer ? params_called(d, from->name) : NULL;
    if (q && ends_with(q->name, "in_proj_bias")) {
        for (int i = 0; i < n->nout && n->nout <= d->npacked; i++)
            if (n->out[i] >= 0)
                l->slot_of[n->out[i]] = d->packed[d->npacked - n->nout + i].bias;
        return;
    }
    if (q && q->rank > 0) {
        l->slot_of[n->in[0]] = q->slot;
        d->referenced[q - l->p->params] = true;
    }
    if (l->slot_of[n->in[0]] < 0 && from->is_initializer && strncmp(from->name, "val_", 4) != 0) {
        struct group here = {.last = at, .path = "", .call = -1};
        l->slot_of[n->in[0]] = resolve_constant(d, &here, from->name, n->in[0]);
    }
    if (l->slot_of[n->in[0]] < 0)
        return;
    int64_t axis = node_int(n, "axis", 0);
    struct call *c = split_call(l, n, l->slot_of[n->in[0]], axis);
    for (int i = 0; i < n->nout; i++) {
        if (n->out[i] < 0)
            continue;
        const struct tensor *t = &l->g->t[n->out[i]];
        int dim = (int)(axis < 0 ? axis + t->rank : axis);
        c->args[1].list[i] = INT(dim >= 0 && dim < t->rank ? t->dims[dim].n : 0);
        l->slot_of[n->out[i]] = c->outs[i];
        names_put(l->slots, t->name, c->outs[i]);
    }
    if (q && ends_with(q->name, "in_proj_weight")) {
        split_projection(d, n, q, c);
        return;
    }
    for (int i = l->p->ncalls - 2; i >= 0; i--) /* it ran where its input was made */
        for (int k = 0; k < l->p->calls[i].nouts; k++)
            if (l->p->calls[i].outs[k] == c->args[0].i) {
                c->scope =
                    l->p->modules[l->p->calls[i].scope].parent >= 0 ? l->p->modules[l->p->calls[i].scope].parent : 0;
                c->location = l->p->calls[i].location;
                return;
            }
}

/* ---- the pass --------------------------------------------------------------------------------------------------- */

/* A clone that was the model's last call: the signature still names it. */
static void
lower_lost_outputs(struct dynamo *d)
{
    struct lowering *l = d->l;
    const char *outputs = strstr(l->g->signature, "# outputs"), *p = outputs ? outputs : "";
    for (int i = 0; i < l->g->nout && (p = strchr(p, '\n')); i++) {
        const char *name = arena_strn(l->a, p + 1, strcspn(p + 1, ":\n"));
        int out = l->g->out[i], from = l->g->t[out].producer, at = from < 0 ? -1 : d->group_of[from];
        p++;
        if (!spelled(name, COPIES) || at < 0 || l->slot_of[out] < 0 || strcmp(d->groups[at].fx_name, name) == 0)
            continue;
        int slot = resolve_clone(d, &d->groups[at], out);
        struct call *c = &l->p->calls[l->p->ncalls - 1];
        lower_sizes(l, &l->g->t[out], &c->rank, &c->size);
        l->slot_of[out] = slot;
    }
}

void
lower_dynamo(struct lowering *l)
{
    struct dynamo d = {.l = l, .params = names_new(l->a), .norm = {-1, -1, -1}};
    params_read(&d);
    group_make(&d);
    params_freeze(&d);
    for (int i = 0; i < l->g->nn; i++) {
        int at = d.group_of[i];
        if (at < 0) {
            if (l->g->n[i].made)
                lower_made(l, i);
            else if (node_call(&l->g->n[i]) == CALL_SPLIT)
                lower_split(&d, i);
            continue;
        }
        struct group *g = &d.groups[at];
        if (g->last != i || g->done)
            continue;
        d.fed = -1;
        if (!pieces_lower(&d, at))
            dynamo_group(&d, g);
        g->done = true;
    }
    lower_lost_outputs(&d);
    params_tie(&d);
}
