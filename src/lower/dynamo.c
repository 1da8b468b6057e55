/* SPDX-License-Identifier: Apache-2.0 */
/* dynamo.c - files in which PyTorch's default exporter recorded its calls.
 *
 * The graph signature names the parameters, and every node carries the text of the call it came from, its module and
 * its Python frames. One call may stand as many nodes; nodes with the same text are one group (group.c), and a group
 * is one call, made where its last node stands.
 */
#include "lower/dynamo.h"
#include "torch/torch.h"

#include <string.h>

/* ---- splits ------------------------------------------------------------------------------------------------------ */

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
    lower_results(l, c, n->nout);
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
        struct group here = {.last = at, .path = "", .call = -1, .drawn = -1};
        l->slot_of[n->in[0]] = computed_constant(d, &here, from->name, n->in[0]);
    }
    if (l->slot_of[n->in[0]] < 0)
        return;
    int64_t axis = node_int(n, "axis", 0);
    const int made = from->producer < 0 ? -1 : d->group_of[from->producer];
    int slot = l->slot_of[n->in[0]];
    if (made >= 0)
        slot = resolve_last(d, &d->groups[made], clones_copied(d, &d->groups[made], slot), true);
    struct call *c = split_call(l, n, slot, axis);
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

/* A call whose text the exporter's optimizer lost: it computes from data what other calls read. Casts without a text
 * are the exporter's own, of types that PyTorch's kernels mix. */
static bool
lost_text(const struct dynamo *d, int at)
{
    const struct graph *g = d->l->g;
    const struct node *n = &g->n[at];
    bool data = false;
    for (int k = 0; k < n->nin; k++)
        data |= n->in[k] >= 0 && d->l->slot_of[n->in[k]] >= 0;
    return data && n->nout && n->out[0] >= 0 && dtypes[g->t[n->out[0]].dtype].is_float;
}

/* The exporter's own cast, to the type that it was. */
static void
pass_cast(const struct dynamo *d, const struct node *n)
{
    struct lowering *l = d->l;
    int in = n->nin ? n->in[0] : -1, out = n->nout ? n->out[0] : -1;
    if (in < 0 || out < 0 || l->slot_of[in] < 0 || l->slot_of[out] >= 0 || l->g->t[in].dtype != l->g->t[out].dtype)
        return;
    l->slot_of[out] = l->slot_of[in];
    names_put(l->slots, l->g->t[out].name, l->slot_of[in]);
}

/* Whether a slot has the numbers from 0 on, perhaps as a column. */
static bool
is_numbers(const struct program *p, const struct arg *arg)
{
    static const char numbers[] = "arange";
    const struct call *c = arg->kind == ARG_SLOT ? left_viewed(p, group_maker(p, arg->i)) : NULL;
    const bool folded = c && target_is(c->target, TARGET_FOLDED);
    return c && target_named(folded ? arena_printf(p->arena, "aten.%s", c->args[0].s) : c->target, numbers);
}

/* The comparison of the numbers of rows and columns that a call casts, by which the exporter writes an identity matrix;
 * NULL it is none. Source: eye in torch/_refs/__init__.py. */
static const struct call *
compared(const struct program *p, const struct call *c)
{
    static const char cast[] = "to", equal[] = "eq";
    if (!target_named(c->target, cast) || !c->nargs || c->args[0].kind != ARG_SLOT)
        return NULL;
    const struct call *eq = group_maker(p, c->args[0].i);
    const bool square =
        eq && target_named(eq->target, equal) && eq->nargs == 2 && eq->rank == 2 && eq->size[0] == eq->size[1];
    return square && is_numbers(p, &eq->args[0]) && is_numbers(p, &eq->args[1]) ? eq : NULL;
}

static void
find_eyes(struct dynamo *d)
{
    struct lowering *l = d->l;
    for (struct call *c = l->p->calls; c < l->p->calls + l->p->ncalls; c++) {
        const struct call *eq = compared(l->p, c);
        if (!eq)
            continue;
        *PUSH(l->a, d->traced, d->ntraced, d->cap_traced) = eq->outs[0];
        c->target = "aten.eye.default";
        c->op = aten_find(c->target);
        c->args[0] = INT(eq->size[0]);
    }
}

/* ---- the pass ---------------------------------------------------------------------------------------------------- */

/* What was the model's last call and left no node: the signature still names it. */
static void
lower_lost_outputs(struct dynamo *d)
{
    struct lowering *l = d->l;
    static const char kind[] = ": USER_OUTPUT";
    const char *outputs = strstr(l->g->signature, "# outputs"), *p = outputs ? outputs : "";
    for (int i = 0; i < l->g->nout && (p = strchr(p, '\n')); p++) {
        const char *name = arena_strn(l->a, p + 1, strcspn(p + 1, ":\n"));
        if (strncmp(p + 1 + strlen(name), kind, strlen(kind)) != 0)
            continue;
        int out = l->g->out[i++], from = l->g->t[out].producer, at = from < 0 ? -1 : d->group_of[from];
        int slot = names_find(l->slots, name);
        if (at < 0 && spelled(name, COPIES))
            graph_doubt(l->g, l->g->t[out].name, "output", NULL, "the copy that the model returns is not counted");
        const struct node *same = at < 0 && from >= 0 ? &l->g->n[from] : NULL; /* another output's tensor */
        const int other = same && same->nin == 1 && same->in[0] >= 0 ? l->slot_of[same->in[0]] : -1;
        const struct call *twin = slot < 0 && other >= 0 ? group_maker(l->p, other) : NULL;
        if (twin && twin->op && twin->op->grad && spelled_after(name, twin->target))
            graph_doubt(l->g, l->g->t[out].name, "output", "memlint.export",
                        "the exporter merged it with another output, which an equal call made: its own is not counted");
        if (at >= 0 && l->slot_of[out] < 0) {
            l->slot_of[out] = resolve_output(d, &d->groups[at], out);
            continue;
        }
        if (at < 0)
            continue;
        if (slot >= 0) { /* another output is the same tensor, or its own name says which it is */
            l->slot_of[out] = slot;
            continue;
        }
        if (!spelled(name, COPIES)) {
            l->slot_of[out] = resolve_returned(d, &d->groups[at], name, out);
            continue;
        }
        int before = l->p->ncalls;
        struct group reader = d->groups[at]; /* the model returns it */
        reader.target = reader.path = "";
        reader.aim = NULL;
        slot = clones_resolve(d, &reader, out, false);
        struct call *c = &l->p->calls[l->p->ncalls - 1];
        if (l->p->ncalls > before)
            lower_sizes(l, &l->g->t[out], &c->rank, &c->size);
        l->slot_of[out] = slot;
    }
}

/* From PyTorch 2.14 on a dropout in evaluation mode is its input, not a clone of it: dropout in
 * torch/_decomp/decompositions.py. */
enum { CLONES_NO_MORE = 214 };

void
lower_dynamo(struct lowering *l)
{
    struct dynamo d = {.l = l, .params = names_new(l->a), .norm = {-1, -1, -1}};
    params_read(&d);
    l->p->ngiven = l->p->nslots;
    group_make(&d);
    params_freeze(&d);
    for (int i = 0; i < l->g->nn; i++) {
        int at = d.group_of[i];
        if (at < 0) {
            if (l->g->n[i].made)
                lower_made(l, i);
            else if (node_call(&l->g->n[i]) == CALL_SPLIT)
                lower_split(&d, i);
            else if (node_call(&l->g->n[i]) == CALL_CAST)
                pass_cast(&d, &l->g->n[i]);
            else if (lost_text(&d, i))
                lower_made(l, i);
            continue;
        }
        struct group *g = &d.groups[at];
        if (g->last != i || g->done)
            continue;
        pieces_lower(&d, at);
        g->done = true;
    }
    find_eyes(&d);
    masks_sweep(&d);
    again_noise(l->p);
    lower_lost_outputs(&d);
    unread_put_back(&d);
    if (fx_says(l, SAYS_FLOAT)) {
        casts_given(l);
        casts_of_lines(l);
    }
    adapters_cast(l);
    params_tie(&d);
    if (fx_says(l, SAYS_EVAL))
        traced_lines(l);
    if (graph_torch(l->g) >= CLONES_NO_MORE && !d.trained)
        lost_unseen(l);
    if (python_parts(l->p, setup_instead(l->s, ALTERNATIVE_PARTS)))
        program_assume(
            l->p, ALTERNATIVE_PARTS,
            "tensors are taken apart before the line that reads their parts, where the file has lost the one "
            "that does it");
    if (fx_says(l, SAYS_KEEPS))
        python_attributes(d.l->p);
    casts_made(l);
    casts_hidden(l);
    params_ask(l);
    const unsigned weights = 1u << FACT_WEIGHTS | 1u << FACT_WEIGHTS_WITHHELD;
    for (struct module *m = l->p->modules; m < l->p->modules + l->p->nmodules; m++) {
        const struct fact *f = m->type ? fact_next(l, NULL, weights, &(struct place){.around = {m->type}}) : NULL;
        m->weights = !f ? WEIGHTS_UNKNOWN : f->kind == FACT_WEIGHTS ? WEIGHTS_RETURNED : WEIGHTS_WITHHELD;
    }
}
