/* SPDX-License-Identifier: Apache-2.0 */
/* lost.c - what a TorchScript export lost: dropout, which evaluation mode removes without a trace, and writes in
 * place.
 *
 * These files keep neither Python lines nor classes. What is left are the names of modules: those that libraries gave
 * them, and gaps in the numbers of a Sequential. Where nothing is left, that there is no dropout is an assumption.
 */
#include "lower/lowering.h"
#include "torch/torch.h"

#include <stdlib.h>
#include <string.h>

/* ---- in place ---------------------------------------------------------------------------------------------------- */

static void
mark_in_place(struct lost *x, const struct node *n, struct call *c)
{
    const struct lowering *l = x->l;
    const char *path = l->p->modules[c->scope].path;
    int in = -1;
    for (int i = n->nin - 1; i >= 0 && c->nargs; i--)
        if (n->in[i] >= 0 && c->args[0].kind == ARG_SLOT && l->slot_of[n->in[i]] == c->args[0].i)
            in = n->in[i];
    if (l->s->inplace == INPLACE_NONE || !lower_may_overwrite(l->g, in, n->out[0], (int)(n - l->g->n), false))
        return;
    const struct place at = {.path = path, .op = c->op->name, .modules = x->modules};
    const unsigned either = 1u << FACT_IN_PLACE | 1u << FACT_OUT_OF_PLACE;
    const struct fact *f = NULL;
    bool overwrites = spelled(c->op->name, OVERWRITES);
    while (!c->in_place && (f = fact_next(x->l, f, either, &at)) && f->kind == FACT_IN_PLACE)
        c->in_place = f->op || overwrites;
    x->in_place |= c->in_place;
    c->in_place |= !f && overwrites && lower_overwrites(x->l, c->op->name);
    if (c->in_place)
        lower_in_place(x->l, c);
}

/* ---- dropout ----------------------------------------------------------------------------------------------------- */

/* Nobody in the module reads the tensor. */
static bool
leaves(const struct lost *x, int tensor, const char *path)
{
    const struct graph *g = x->l->g;
    size_t n = strlen(path);
    for (int u = 0; u < g->t[tensor].nusers; u++) {
        const char *user = lower_node_module(x->l->a, &g->n[g->t[tensor].users[u]]);
        if (strncmp(user, path, n) == 0 && (!user[n] || user[n] == '.'))
            return false;
    }
    return g->t[tensor].nusers > 0 || g->t[tensor].is_output;
}

/* The dropout after a call's result. */
static const struct fact *
dropped(const struct lost *x, const struct call *c, int out)
{
    const char *path = x->l->p->modules[c->scope].path;
    const struct place at = {.path = path, .op = c->op->name, .modules = x->modules};
    const struct fact *f = fact_next(x->l, NULL, 1u << FACT_DROPS | 1u << FACT_DROPS_RESULT, &at);
    while (f && f->kind == FACT_DROPS_RESULT && !spelled(c->op->name, ATTENDS) && !leaves(x, out, path)) {
        fact_drop(x->l, f);
        f = fact_next(x->l, f, 1u << FACT_DROPS | 1u << FACT_DROPS_RESULT, &at);
    }
    return f;
}

/* A call of `slot` at the place of call `at`. */
static struct call *
call_of(struct lost *x, int at, const char *target, int nargs, int slot)
{
    struct call *c = lower_call(x->l, target, nargs), *from = &x->l->p->calls[at];
    c->node = from->node;
    c->name = from->name;
    c->scope = from->scope;
    c->location = from->location;
    c->args[0] = (struct arg){.kind = ARG_SLOT, .i = slot};
    return c;
}

/* The last call runs before call `at`, which reads its result. */
static void
put_before(struct lost *x, int at)
{
    struct program *p = x->l->p;
    struct call reader = p->calls[at], *last = &p->calls[p->ncalls - 1];
    reader.args[0].i = last->outs[0];
    p->calls[at] = *last;
    *last = reader;
}

static struct call *
dropout_of(struct lost *x, int at, int slot, double p)
{
    struct call *c = call_of(x, at, "aten.dropout.default", 3, slot);
    c->args[1] = FLT(p);
    c->args[2] = BOOL(true);
    x->dropout = true;
    return c;
}

/* "classifier.3" without a "classifier.2": a Sequential's module that left no operator. */
static bool
after_gap(const struct lost *x, const char *path)
{
    const char *before = lower_before(x->l, path);
    return before && names_find(x->modules, before) < 0;
}

static void
put_back_dropout(struct lost *x, const struct node *n, int at)
{
    struct program *p = x->l->p;
    struct call *c = &p->calls[at];
    int out = n->out[0];
    const struct place here = {.path = p->modules[c->scope].path, .modules = x->modules};
    if (spelled(c->op->name, PROJECTS) && after_gap(x, here.path)) {
        if (fact_next(x->l, NULL, 1u << FACT_UNDROPPED, &here))
            return;
        dropout_of(x, at, (int)c->args[0].i, 0.1);
        put_before(x, at);
        return;
    }
    const struct fact *f = dropped(x, c, out);
    if (f && spelled(c->op->name, ATTENDS)) {
        if (c->nargs > 4)
            c->args[4] = FLT(atof(f->arg));
        x->dropout = true;
    } else if (f) {
        c = dropout_of(x, at, x->l->slot_of[out], atof(f->arg));
        lower_sizes(x->l, &x->l->g->t[out], &c->rank, &c->size);
        x->l->slot_of[out] = c->outs[0];
    }
}

/* The alternative: a dropout of what call `at` reads. */
static void
drop_before(struct lowering *l, int at)
{
    struct call *drop = lower_call_at(l, at, at, "aten.dropout.default", 3), *reader = drop + 1;
    drop->args[0] = reader->args[0];
    drop->args[1] = FLT(0.1);
    drop->args[2] = BOOL(true);
    reader->args[0] = (struct arg){.kind = ARG_SLOT, .i = drop->outs[0]};
}

void
lost_unseen(struct lowering *l)
{
    struct program *p = l->p;
    bool unseen = false;
    for (int i = 0; i < p->ncalls && setup_drops(l->s); i++) {
        const struct call *c = &p->calls[i];
        const struct place here = fact_place(l, p->modules[c->scope].path, NULL);
        if (!c->op || !spelled(c->op->name, PROJECTS) || c->args[0].kind != ARG_SLOT ||
            fact_next(l, NULL, 1u << FACT_UNDROPPED, &here))
            continue;
        unseen = true;
        if (setup_instead(l->s, ALTERNATIVE_UNSEEN))
            drop_before(l, i++);
    }
    if (unseen)
        program_assume(p, ALTERNATIVE_UNSEEN,
                       "there is no dropout, of which an export in evaluation mode leaves nothing (else it is taken to "
                       "be before linear layers)");
}

/* ---- casts ------------------------------------------------------------------------------------------------------- */

static void
put_back_cast(struct lost *x, int at)
{
    const struct call *c = &x->l->p->calls[at];
    const struct place here = {.path = x->l->p->modules[c->scope].path, .op = c->op->name, .modules = x->modules};
    if (!fact_next(x->l, NULL, 1u << FACT_INPUT_TO_WEIGHT, &here))
        return;
    int weight = (int)c->args[1].i;
    struct call *cast = call_of(x, at, "aten.to_like", 2, (int)c->args[0].i);
    cast->args[1] = (struct arg){.kind = ARG_SLOT, .i = weight};
    put_before(x, at);
}

/* ---- gradients --------------------------------------------------------------------------------------------------- */

/* The tensor whose norm that is, as it is or with what keeps it from 0; -1 none. */
static int
norm_of(const struct graph *g, int tensor)
{
    enum { MOST = 4 };
    for (int hops = 0; hops < MOST && tensor >= 0 && g->t[tensor].producer >= 0; hops++) {
        const struct node *n = &g->n[g->t[tensor].producer];
        tensor = n->nin ? n->in[0] : -1;
        if (node_call(n) == CALL_NORM_2)
            return tensor;
    }
    return -1;
}

static bool
any_marked(const int *tensor, int n, const bool *marked)
{
    bool any = false;
    for (int k = 0; k < n; k++)
        any |= tensor[k] >= 0 && marked[tensor[k]];
    return any;
}

static void
mark(const int *tensor, int n, bool *marked)
{
    for (int k = 0; k < n; k++)
        if (tensor[k] >= 0)
            marked[tensor[k]] = true;
}

/* Norms of parameters alone, and what is divided by its norm, that a program may detach, as power iterations and DoRA
 * do: parameters below get a gradient another way. */
static bool *
find_detached(const struct lowering *l)
{
    const struct graph *g = l->g;
    bool *detached = NEWN(l->a, bool, g->nn + 1), *data = NEWN(l->a, bool, g->nt + 1),
         *reached = NEWN(l->a, bool, g->nt + 1);
    for (int i = 0; i < g->nin; i++)
        data[g->in[i]] = true;
    for (int i = 0; i < g->nout; i++)
        reached[g->out[i]] = true;
    for (int i = 0; i < g->nn; i++) {
        const struct node *n = &g->n[i];
        bool reads = any_marked(n->in, n->nin, data);
        if (reads)
            mark(n->out, n->nout, data);
        detached[i] = !reads && n->nin > 0 && n->in[0] >= 0 &&
                      (node_call(n) == CALL_NORM_2 || (n->nin == 2 && norm_of(g, n->in[1]) == n->in[0]));
    }
    for (int i = g->nn - 1; i >= 0; i--) {
        const struct node *n = &g->n[i];
        if (!detached[i] && any_marked(n->out, n->nout, reached))
            mark(n->in, n->nin, reached);
    }
    for (int i = 0; i < g->nt; i++)
        reached[i] &= g->t[i].is_initializer && dtypes[g->t[i].dtype].is_float;
    for (int i = 0; i < g->nn; i++) {
        const struct node *n = &g->n[i];
        bool reads = any_marked(n->in, n->nin, reached);
        if (reads)
            mark(n->out, n->nout, reached);
        detached[i] &= reads;
    }
    return detached;
}

static void
detach(struct lost *x, const struct node *n)
{
    int out = n->out[0];
    program_assume(x->l->p, ALTERNATIVE_DETACHED,
                   "norms of parameters have no gradient, as in power iterations: detach() and torch.no_grad() leave "
                   "nothing in the file");
    if (setup_instead(x->l->s, ALTERNATIVE_DETACHED))
        return;
    struct call *c = call_of(x, x->l->p->ncalls - 1, "aten.detach.default", 1, x->l->slot_of[out]);
    lower_sizes(x->l, &x->l->g->t[out], &c->rank, &c->size);
    x->l->slot_of[out] = c->outs[0];
}

/* ---- the pass ---------------------------------------------------------------------------------------------------- */

/* A module and those around it. */
static void
note_module(struct lost *x, const char *path)
{
    char *p = arena_str(x->l->a, path), *dot;
    while (*p && names_find(x->modules, p) < 0) {
        names_put(x->modules, arena_str(x->l->a, p), 0);
        if (!(dot = strrchr(p, '.')))
            break;
        *dot = 0;
    }
}

struct lost
lost_new(struct lowering *l)
{
    struct lost x = {.l = l, .modules = names_new(l->a)};
    const struct graph *g = l->g;
    x.evaluation = setup_drops(l->s);
    for (int i = 0; i < g->nn; i++) {
        note_module(&x, lower_node_module(l->a, &g->n[i]));
        x.evaluation &= node_call(&g->n[i]) != CALL_DROPOUT;
        x.trained |= node_is(&g->n[i], OP_DRAWS) || node_int(&g->n[i], "training_mode", 0);
    }
    for (int i = 0; i < g->nn && !x.unfolded; i++) {
        int in = node_call(&g->n[i]) == CALL_PERMUTE && g->n[i].nin ? g->n[i].in[0] : -1;
        x.unfolded = in >= 0 && g->t[in].is_initializer;
    }
    if (l->s->mode == MODE_TRAINING && g->producer && strcmp(g->producer, "pytorch") == 0)
        x.detached = find_detached(l);
    for (int i = 0; i < g->nt; i++) {
        const char *dot = g->t[i].is_initializer ? strrchr(g->t[i].name, '.') : NULL;
        if (dot)
            note_module(&x, arena_strn(l->a, g->t[i].name, (size_t)(dot - g->t[i].name)));
    }
    return x;
}

void
lost_after(struct lost *x, const struct node *n, int at)
{
    struct call *c = &x->l->p->calls[at];
    if (!c->op || !n->nout)
        return;
    mark_in_place(x, n, c);
    if (n->nout != 1)
        return;
    bool whole = c->outs[0] == x->l->slot_of[n->out[0]];
    put_back_cast(x, at);
    if (x->evaluation && whole)
        put_back_dropout(x, n, x->l->p->ncalls - 1);
    if (x->detached && x->detached[n - x->l->g->n])
        detach(x, n);
}

void
lost_end(const struct lost *x)
{
    if (x->in_place && x->l->s->inplace == INPLACE_AUTO)
        program_assume(x->l->p, ALTERNATIVE_INPLACE,
                       "operators write in place, as in the libraries whose names the modules have");
    if (x->evaluation && !x->trained && !x->dropout && x->l->g->producer && strcmp(x->l->g->producer, "pytorch") == 0)
        lost_unseen(x->l);
    if (x->dropout)
        program_assume(x->l->p, x->unfolded ? ALTERNATIVE_DROPS : ALTERNATIVE_DROPOUT,
                       "dropout that an evaluation export removed is put back where the names of modules show its "
                       "place, with a probability above 0");
}
