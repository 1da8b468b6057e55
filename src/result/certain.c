/* SPDX-License-Identifier: Apache-2.0 */
/* certain.c - what is certain of an inconclusive result: a number that the step's peak can't be below.
 *
 * A call is in doubt when a doubt names its node or a tensor that it reads comes from such a call. What the others make
 * and what the file states is certain:
 *
 *   - parameters and buffers that the file has, and inputs of known shape;
 *   - gradients and optimizer states of parameters from which operators that are known lead to the loss: a step ends
 *   with
 *     all of them alive, whatever the sizes between;
 *   - what forward calls before any doubt hold while they run, as in inference, where autograd keeps nothing.
 *
 * Of several GPUs that is what the first rank has: its shares, the states that the optimizer surely gives it, of a
 * pipeline's stage nothing.
 *
 * Gradients are not alive during the forward pass, so the larger of these two counts. Bytes that autograd would save
 * are not counted: an unknown operator may end the gradient's way.
 */
#include "base/setup.h"
#include "result/passes.h"

#include <string.h>

struct certain {
    const struct program *p;
    const struct setup *s;
    struct arena *a;
    enum sure sure;
    struct names *doubted;
    bool *unsure;  /* per slot */
    bool *reaches; /* per slot: the loss, by operators that are known */
};

/* The doubts' nodes; what no call and no input is called leaves only the model. */
static void
find_doubted(struct certain *x)
{
    const struct graph *g = x->p->graph;
    struct names *known = names_new(x->a);
    x->doubted = names_new(x->a);
    for (int i = 0; i < x->p->ncalls; i++)
        if (x->p->calls[i].node)
            names_put(known, x->p->calls[i].node, 1);
    for (int i = 0; i < x->p->ninputs; i++)
        names_put(known, x->p->inputs[i].name, 1);
    for (int i = 0; i < g->ndoubts; i++) {
        const struct doubt *d = &g->doubts[i];
        enum sure sure = d->node && names_find(known, d->node) >= 0 ? d->sure : SURE_MODEL;
        sure = d->sure > SURE_CALLS ? d->sure : sure;
        x->sure = sure > x->sure ? sure : x->sure;
        if (d->node)
            names_put(x->doubted, d->node, 1);
    }
}

static bool
is_doubted(const struct certain *x, const char *name)
{
    return name && names_find(x->doubted, name) >= 0;
}

static bool
is_known(const struct certain *x, const struct call *c)
{
    return c->op && !is_doubted(x, c->node);
}

static void
find_unsure(struct certain *x)
{
    const struct program *p = x->p;
    memset(x->unsure, true, sizeof(*x->unsure) * (size_t)p->nslots); /* what nobody makes */
    for (int i = 0; i < p->ninputs; i++)
        x->unsure[p->inputs[i].slot] = is_doubted(x, p->inputs[i].name) || p->inputs[i].rank < 0;
    for (int i = 0; i < p->nparams; i++)
        x->unsure[p->params[i].slot] = p->params[i].rank < 0 || is_doubted(x, p->params[i].name);
    for (int i = 0, slot; i < p->ncalls; i++) {
        bool unsure = !is_known(x, &p->calls[i]);
        for (struct call_reads r = {&p->calls[i]}; (slot = next_read(&r)) >= 0;)
            unsure |= x->unsure[slot];
        for (int k = 0; k < p->calls[i].nouts; k++)
            x->unsure[p->calls[i].outs[k]] = unsure;
    }
}

/* Whether the operator gives its at-th argument a gradient: a formula is "NAME, NAME: ..." after the start or "; ". */
static bool
differentiates(const struct aten *op, int at)
{
    const char *name = op->args;
    if (!op->grad || op->grad == COMPOSITE)
        return op->grad != NULL;
    for (; at > 0 && name; at--)
        name = strchr(name, ' ') ? strchr(name, ' ') + 1 : NULL;
    size_t n = name ? strcspn(name, " ") : 0;
    for (const char *f = n ? op->grad : NULL; f; f = strchr(f, ';') ? strchr(f, ';') + 2 : NULL)
        for (const char *p = f; p[strcspn(p, ",:")]; p += strcspn(p, ",:") + strlen(", ")) {
            if (strcspn(p, ",:") == n && strncmp(p, name, n) == 0)
                return true;
            if (p[strcspn(p, ",:")] == ':')
                break;
        }
    return false;
}

/* The loss is computed from floats: where the first output is something else (a label), from those that it is made
 * of. */
static void
find_reaching(struct certain *x)
{
    const struct program *p = x->p;
    const struct graph *g = p->graph;
    bool *label = NEWN(x->a, bool, p->nslots + 1);
    const struct tensor *out = g->nout ? &g->t[g->out[0]] : NULL;
    bool is_float = out && !*out->wrap && (!out->dtype || dtypes[out->dtype].is_float);
    for (int i = 0; i < p->noutputs && (i == 0 || !is_float); i++)
        *(is_float ? &x->reaches[p->outputs[i].slot] : &label[p->outputs[i].slot]) = true;
    for (int i = p->ncalls - 1, slot; i >= 0; i--) {
        const struct call *c = &p->calls[i];
        bool known = is_known(x, c), trained = false, post = false;
        for (int k = 0; k < c->nouts; k++) {
            post |= label[c->outs[k]];
            trained |= x->reaches[c->outs[k]] || (label[c->outs[k]] && known && c->op->grad);
        }
        for (struct call_reads r = {c}; (slot = next_read(&r)) >= 0;) {
            x->reaches[slot] |= trained && known && differentiates(c->op, r.arg);
            label[slot] |= post && !trained;
        }
    }
}

static int64_t
bytes_of(enum dtype t, int rank, const int64_t *size)
{
    int64_t n = 1;
    for (int i = 0; i < rank; i++)
        n = mul_ok(n, size[i], &n) ? n : 0;
    int64_t bytes = rank < 0 ? 0 : dtype_bytes(t, n);
    return bytes < 0 ? 0 : bytes;
}

static int64_t
input_bytes(const struct certain *x, const struct input *in)
{
    return x->unsure[in->slot] ? 0 : bytes_of(precision_type(x->s->precision, in->dtype), in->rank, in->size);
}

static void
look(const struct step *st, void *to)
{
    *(int64_t *)to = live_run(st)->peak_bytes - st->after.model;
}

/* Of the forward pass, over what the model and its inputs take: run without autograd over the calls that are sure. */
static int64_t
forward_bytes(const struct certain *x)
{
    const struct program *p = x->p;
    struct program sure = *p;
    struct setup s = *x->s;
    int64_t bytes = 0;
    s.mode = MODE_INFERENCE;
    s.player = NULL;
    s.kernels = NULL;
    s.cudnn = CUDNN_NONE;
    sure.calls = NEWN(x->a, struct call, p->ncalls + 1);
    sure.ncalls = sure.nregions = 0;
    sure.inputs = arena_dup(x->a, p->inputs, sizeof(*p->inputs) * (size_t)p->ninputs);
    int64_t inputs = 0;
    for (int i = 0; i < p->ninputs; i++) {
        sure.inputs[i].rank = x->unsure[p->inputs[i].slot] ? -1 : p->inputs[i].rank;
        inputs = bytes_add(inputs, input_bytes(x, &p->inputs[i]));
    }
    for (int i = 0; i < p->ncalls; i++)
        if (p->calls[i].nouts && !x->unsure[p->calls[i].outs[0]])
            sure.calls[sure.ncalls++] = p->calls[i];
    sure.release = true; /* names that hold tensors belong to positions among all calls */
    measure_step(&sure, &s, look, &bytes);
    return bytes > inputs ? bytes - inputs : 0;
}

/* What a rank has of a parameter, as sizes; false: nothing for certain. */
static bool
own_sizes(const struct certain *x, const struct param *q, int64_t *size)
{
    const struct parallel *how = x->s->mode == MODE_TRAINING ? x->s->parallel : NULL;
    if (q->rank > 0)
        memcpy(size, q->size, sizeof(*size) * (size_t)q->rank);
    if (!how || param_is_state(q))
        return true;
    for (int i = 0; i < q->rank && how->zero > 2; i++) /* a share of the elements, on one dimension at least */
        size[i] = i ? 1 : div_up(bytes_of(DT_UINT8, q->rank, q->size), x->s->gpus);
    if (how->shards && q->rank > 0)
        size[0] = div_up(size[0], parallel_within(how, x->s->gpus));
    return !how->offloads;
}

int64_t
certain_bytes(const struct step *st)
{
    const struct program *p = st->program;
    struct certain x = {.p = p, .s = st->setup, .a = arena_new()};
    int64_t model = 0, states = 0, grads = 0, forward = 0, size[MAX_RANK];
    bool training = x.s->mode == MODE_TRAINING;
    const struct parallel *how = training ? x.s->parallel : NULL;
    if (how && how->pipeline) {
        arena_free(x.a);
        return 0;
    }
    find_doubted(&x);
    x.unsure = NEWN(x.a, bool, p->nslots + 1);
    x.reaches = NEWN(x.a, bool, p->nslots + 1);
    find_unsure(&x);
    find_reaching(&x);
    for (int i = 0; i < p->nparams; i++) {
        const struct param *q = &p->params[i];
        if (x.unsure[q->slot] || q->tied_to >= 0 || q->kind == PARAM_CONSTANT || !own_sizes(&x, q, size))
            continue;
        enum dtype t = precision_type(x.s->precision, q->dtype);
        int64_t bytes = bytes_of(t, q->rank, size);
        if (x.sure == SURE_UPDATE && bytes == bytes_of(t, 0, NULL)) /* other exporters have constants so */
            continue;
        model = bytes_add(model, bytes);
        if (!training || q->kind != PARAM_TRAINED || !x.reaches[q->slot] || !dtypes[q->dtype].is_float)
            continue;
        if (!how || !how->zero)
            grads = bytes_add(grads, bytes);
        if (!how || !(how->partitions || how->zero))
            states = bytes_add(states, optimizer_state_bytes(x.s->optimizer, t, q->rank, size));
    }
    for (int i = 0; i < p->ninputs; i++)
        model = bytes_add(model, input_bytes(&x, &p->inputs[i]));
    if (x.sure == SURE_CALLS)
        forward = forward_bytes(&x);
    arena_free(x.a);
    int64_t more = bytes_add(states, grads > forward ? grads : forward);
    return x.sure == SURE_NOTHING ? 0 : x.sure == SURE_MODEL ? model : bytes_add(model, more);
}
