/* SPDX-License-Identifier: Apache-2.0 */
/* result.c - what the passes made, gathered for the reports.
 *
 * Nothing is computed twice: bytes come from live.c, names from the program. Two rules of thumb that people use are
 * worked out beside memlint's number, so that a reader sees what they leave out.
 */
#include "base/setup.h"
#include "config.h"
#include "result/passes.h"

#include <stdlib.h>
#include <string.h>

const char *const verdict_names[] = {"ok", "gate-failed", "does-not-fit", "inconclusive"};

struct gather {
    struct arena *a;
    const struct graph *g;
    const struct program *p;
    struct step *st;
    const struct setup *s;
    struct live *l;
    struct owner *owner;
    struct names *params;
    struct result *r;
    int *moment;       /* per instant the event that it shows */
    struct names *ops; /* whose text was made: */
    int nops, cap_ops;
    const char **op;
    int64_t least_reserved; /* with the least that cuDNN may keep and take */
};

void
result_choose(struct result *r, int n, const struct choice *c)
{
    const struct {
        const char *name, **field;
    } fields[] = {{"mode", &r->setup.mode},           {"optimizer", &r->setup.optimizer},
                  {"precision", &r->setup.precision}, {"loss", &r->setup.loss},
                  {"loop", &r->setup.loop},           {"device", &r->setup.device},
                  {"allocator", &r->setup.allocator}};
    r->setup.nchoices = n;
    r->setup.choices = c;
    for (int i = 0; i < n; i++)
        for (int k = 0; k < COUNT(fields); k++)
            if (strcmp(c[i].name, fields[k].name) == 0)
                *fields[k].field = c[i].value;
}

static void
gather_model(struct gather *x)
{
    struct result *r = x->r;
    int64_t by_type[DT_COUNT] = {0};
    r->model.file = x->g->file;
    const char *version = x->g->producer_version ? x->g->producer_version : "";
    r->model.producer = x->g->producer && *x->g->producer
                            ? arena_printf(x->a, "%s%s%s", x->g->producer, *version ? " " : "", version)
                            : NULL;
    r->model.opset = x->g->opset;
    r->model.nodes = x->g->nn - x->g->unrolled;
    for (int i = 0; i < x->p->nparams; i++) {
        const struct param *q = &x->p->params[i];
        if (q->rank < 0 || q->tied_to >= 0)
            continue;
        int64_t n = sizes_product(q->rank, q->size), bytes = dtype_bytes(q->dtype, n);
        if (param_is_state(q)) {
            r->model.buffer_bytes = bytes_add(r->model.buffer_bytes, bytes);
            continue;
        }
        r->model.parameters = bytes_add(r->model.parameters, n);
        r->model.parameter_bytes = bytes_add(r->model.parameter_bytes, bytes);
        r->model.trainable_parameters += q->kind == PARAM_TRAINED && !r->provenance.none ? n : 0;
        by_type[q->dtype] = bytes_add(by_type[q->dtype], bytes);
    }
    int most = DT_UNDEFINED;
    for (int t = 0; t < DT_COUNT; t++)
        most = by_type[t] > by_type[most] ? t : most;
    r->model.dtype = by_type[most] > 0 ? dtypes[most].torch : NULL;
}

static void
gather_setup(struct gather *x)
{
    struct result *r = x->r;
    const struct setup *s = x->s;
    struct choice *c = choices_of(x->a, s, &r->setup.nchoices);
    result_choose(r, r->setup.nchoices, c);
    r->setup.ndims = s->ndims;
    r->setup.dims = s->dims;
    const struct binding *batch = setup_batch(s);
    r->setup.batch = batch ? batch->n : -1;
    if (r->setup.batch < 0 && x->p->ninputs && x->p->inputs[0].rank > 0)
        r->setup.batch = x->p->inputs[0].size[0];
    r->setup.nassumptions = x->p->nassumptions;
    r->setup.assumptions = x->p->assumptions;
}

/* The operator as PyTorch prints it; NULL for none. */
static const char *
op_text(struct gather *x, const char *op)
{
    const int at = op ? names_find(x->ops, op) : -1;
    if (!op || at >= 0)
        return op ? x->op[at] : NULL;
    names_put(x->ops, op, x->nops);
    return *PUSH(x->a, x->op, x->nops, x->cap_ops) = arena_printf(x->a, "%s%s", aten_space(op), op);
}

/* The events of one operator are one instant: its highest. */
static bool
same_operator(const struct event *a, const struct event *b)
{
    return a->phase == b->phase && a->call == b->call &&
           (a->op == b->op || (a->op && b->op && strcmp(a->op, b->op) == 0));
}

static void
gather_instants(struct gather *x)
{
    const struct machine *m = x->st->m;
    struct result *r = x->r;
    int64_t now[CLASS_COUNT], total = x->st->before_bytes, high = 0;
    int n = 0;
    for (int i = 0; i < m->nev; i++)
        n += i == 0 || !same_operator(&m->ev[i - 1], &m->ev[i]);
    r->instants = NEWN(x->a, struct instant, n + 1);
    x->moment = NEWN(x->a, int, n + 1);
    memcpy(now, x->l->start, sizeof(now));
    for (int i = 0; i < m->nev; i++) {
        const struct event *e = &m->ev[i];
        const struct storage *s = m->st[e->storage];
        now[s->class] += e->birth ? s->bytes : -s->bytes;
        total += e->birth ? s->bytes : -s->bytes;
        bool fresh = i == 0 || !same_operator(e - 1, e);
        if (fresh) {
            struct instant *at = &r->instants[r->ninstants++];
            at->phase = e->phase;
            at->op = i && e[-1].op == e->op ? at[-1].op : op_text(x, e->op);
            at->location = e->call ? e->call->location : NULL;
        }
        if (fresh || total > high) {
            memcpy(r->instants[r->ninstants - 1].class_bytes, now, sizeof(now));
            x->moment[r->ninstants - 1] = i;
            high = total;
        }
        if (i == x->l->peak)
            r->peak.instant = r->ninstants - 1;
    }
}

static void
gather_peak(struct gather *x)
{
    struct result *r = x->r;
    const struct event *e = x->l->peak >= 0 ? &x->st->m->ev[x->l->peak] : NULL;
    r->peak.allocated = x->l->peak_bytes;
    r->peak.reserved = x->st->m->reserved_bytes;
    struct context c = device_context(x->s, x->s->device);
    r->peak.device = bytes_add(r->peak.reserved, c.most);
    r->peak.device_least = bytes_add(x->least_reserved, c.least);
    r->peak.phase = e ? e->phase : PHASE_INPUT;
    r->peak.op = e ? op_text(x, e->op) : NULL;
    r->peak.node = e && e->call ? e->call->node : NULL;
    r->peak.location = e && e->call ? e->call->location : NULL;
    r->peak.layer = e && e->call && e->call->scope > 0 ? x->p->modules[e->call->scope].path : NULL;
    r->peak.in_loss = e && owner_in_loss(x->owner, e->phase, e->call);
    memcpy(r->class_bytes, x->l->at_peak, sizeof(r->class_bytes));
    r->after.model = x->st->after.model;
    r->after.inputs = x->st->after.inputs;
    r->after.forward = x->st->after.forward;
    r->after.backward = x->st->after.backward;
    r->after.step = x->st->after.step;
    r->peak_until.forward = x->l->forward_bytes;
    r->peak_until.backward = x->s->mode == MODE_TRAINING ? x->l->backward_bytes : -1;
    r->peak_until.step = x->s->mode == MODE_TRAINING ? x->l->peak_bytes : -1;
}

/* ---- what is alive at the peak ----------------------------------------------------------------------------------- */

static int
larger(const void *a, const void *b)
{
    const struct live_tensor *x = a, *y = b;
    return x->bytes != y->bytes ? (x->bytes < y->bytes ? 1 : -1) : strcmp(x->name, y->name);
}

/* The reason a storage lives: by class, or the operator at which it dies. */
static const char *
storage_reason(struct gather *x, const struct storage *s, const struct event *death)
{
    static const char *const kept[CLASS_COUNT] = {[CLASS_PARAMETERS] = "part of the model",
                                                  [CLASS_BUFFERS] = "part of the model",
                                                  [CLASS_OPTIMIZER] = "the optimizer keeps it from step to step",
                                                  [CLASS_GRADIENTS] = "for optimizer.step(), until zero_grad()",
                                                  [CLASS_INPUTS] = "the batch, which the training loop holds"};
    if (kept[s->class])
        return kept[s->class];
    if (s->class == CLASS_WORKSPACE && s->name)
        return arena_printf(x->a, "the library keeps it for the %s thread and never frees it",
                            s->phase == PHASE_BACKWARD ? "autograd" : "main");
    if (s->class == CLASS_OUTPUTS)
        return arena_printf(x->a, "your variable `%s` keeps it until the next iteration",
                            s->phase == PHASE_LOSS ? "loss" : "out");
    if (!death)
        return "nothing in this step frees it";
    const char *op = op_text(x, death->op);
    if (death->phase == PHASE_BACKWARD && op)
        return arena_printf(
            x->a, s->phase == PHASE_BACKWARD ? "the backward pass needs it until %s" : "saved for the backward of %s",
            op);
    return op ? arena_printf(x->a, "%s, %s", phase_names[death->phase], op) : phase_names[death->phase];
}

/* The module that registered the parameter of that name, or made the call; -1 none. */
static int
storage_module(const struct gather *x, const struct storage *s)
{
    int i = s->name ? names_find(x->params, s->name) : -1;
    return s->class == CLASS_WORKSPACE ? -1 : i >= 0 ? x->p->params[i].module : s->call ? s->call->scope : -1;
}

/* The first instant whose moment is that event or a later one. */
static int
instant_of(const struct gather *x, int event)
{
    int lo = 0, hi = x->r->ninstants;
    while (lo < hi) {
        int mid = (lo + hi) / 2;
        if (x->moment[mid] < event)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

static void
gather_live(struct gather *x)
{
    const struct machine *m = x->st->m;
    struct result *r = x->r;
    struct arena *own = arena_new();
    int *birth = NEWN(own, int, m->nst + 1), *death = NEWN(own, int, m->nst + 1); /* events, from 1 on; 0 none */
    for (int i = 0; i < m->nev; i++)
        if (i <= x->l->peak && m->ev[i].birth)
            birth[m->ev[i].storage] = i + 1;
        else if (!m->ev[i].birth && i > x->l->peak)
            death[m->ev[i].storage] = i + 1;
    const char **line = NEWN(own, const char *, x->p->nmodules + 1);
    for (int i = x->p->ncalls - 1; i >= 0; i--)
        line[x->p->calls[i].scope] = x->p->calls[i].location;
    for (int i = 0; i < m->nst; i++)
        r->nlive += x->l->alive[i];
    r->live = NEWN(x->a, struct live_tensor, r->nlive + 1);
    segments_gather(x->a, m, r);
    for (int i = 0, n = 0; i < m->nst; i++) {
        const struct storage *s = m->st[i];
        if (!x->l->alive[i])
            continue;
        struct live_tensor *t = &r->live[n++];
        t->name = owner_name(x->owner, s);
        t->bytes = s->bytes;
        t->rank = s->rank;
        t->shape = s->size;
        t->dtype = dtypes[s->dtype].torch;
        t->class = s->class;
        t->born = arena_printf(x->a, "%s, %s%s", phase_names[s->phase], aten_space(s->op), s->op);
        t->needed_by = storage_reason(x, s, death[i] ? &m->ev[death[i] - 1] : NULL);
        t->node = s->call ? s->call->node : NULL;
        int module = storage_module(x, s);
        t->location = s->call ? s->call->location : module >= 0 ? line[module] : NULL;
        t->layer = module >= 0 ? x->p->modules[module].path : NULL;
        t->born_at = birth[i] ? instant_of(x, birth[i] - 1) : 0;
        t->dies_at = death[i] ? instant_of(x, death[i] - 1) : r->ninstants;
        t->segment = segments_find(r, s);
        t->offset = t->segment < 0 ? 0 : s->address - r->segments[t->segment].address;
    }
    arena_free(own);
    qsort(r->live, (size_t)r->nlive, sizeof(*r->live), larger);
    segments_fill(r);
}

/* ---- the largest storages of the step ---------------------------------------------------------------------------- */

struct life {
    int storage, born, died; /* instants */
};

/* The largest, of equal ones the first. */
static int
keep_largest(const struct machine *m, struct life *largest, int n, int room, struct life l)
{
    int at = 0;
    for (int end = n; at < end;) {
        int middle = (at + end) / 2;
        if (m->st[largest[middle].storage]->bytes < m->st[l.storage]->bytes)
            end = middle;
        else
            at = middle + 1;
    }
    n += n < room;
    if (at < n) {
        memmove(&largest[at + 1], &largest[at], sizeof(l) * (size_t)(n - 1 - at));
        largest[at] = l;
    }
    return n;
}

static void
gather_spans(struct gather *x)
{
    enum { MOST = 500 };
    const struct machine *m = x->st->m;
    struct result *r = x->r;
    struct arena *own = arena_new(); /* a large step has many */
    struct life largest[MOST];
    int *born = NEWN(own, int, m->nst + 1), *died = NEWN(own, int, m->nst + 1), n = 0;
    for (int i = 0; i < m->nst; i++)
        died[i] = r->ninstants;
    for (int i = 0, at = 0; i < m->nev; i++) {
        while (at < r->ninstants && x->moment[at] < i)
            at++;
        (m->ev[i].birth ? born : died)[m->ev[i].storage] = at;
    }
    for (int i = 0; i < m->nst; i++)
        if (born[i] < died[i]) {
            r->nstorages++;
            n = keep_largest(m, largest, n, MOST, (struct life){i, born[i], died[i]});
        }
    r->nspans = n;
    r->spans = NEWN(x->a, struct span, n + 1);
    for (int i = 0; i < n; i++) {
        const struct life *l = &largest[i];
        const struct storage *s = m->st[l->storage];
        const int module = storage_module(x, s);
        r->spans[i] = (struct span){.name = owner_name(x->owner, s),
                                    .layer = module >= 0 ? x->p->modules[module].path : NULL,
                                    .class = s->class,
                                    .bytes = s->bytes,
                                    .born = l->born,
                                    .died = l->died};
    }
    arena_free(own);
}

/* ---- layers ------------------------------------------------------------------------------------------------------ */

/* Modules in depth-first order, children in order of creation. */
static void
walk(struct gather *x, const struct layer *sums, const int *child, const int *sibling)
{
    int *stack = NEWN(x->a, int, x->p->nmodules + 1), *depth = NEWN(x->a, int, x->p->nmodules + 1), n = 0;
    stack[n++] = 0;
    while (n) {
        int at = stack[--n];
        struct layer *l = &x->r->layers[x->r->nlayers++];
        *l = sums[at];
        l->path = x->p->modules[at].path;
        l->type = x->p->modules[at].type;
        l->depth = depth[at];
        int first = n;
        for (int c = child[at]; c >= 0; c = sibling[c]) {
            depth[c] = depth[at] + 1;
            stack[n++] = c;
        }
        for (int i = first, j = n - 1; i < j; i++, j--) { /* the last pushed runs first */
            int t = stack[i];
            stack[i] = stack[j];
            stack[j] = t;
        }
    }
}

static void
count_op(struct arena *a, struct layer *l, const struct call *c)
{
    const char *name = c->op ? c->op->name : c->target;
    for (int i = 0; i < l->nops; i++)
        if (name && strcmp(l->ops[i].name, name) == 0) {
            l->ops[i].count++;
            return;
        }
    if (name)
        *PUSH(a, l->ops, l->nops, l->cap_ops) = (struct layer_op){name, c->location, 1};
}

static void
gather_layers(struct gather *x)
{
    const struct program *p = x->p;
    const struct machine *m = x->st->m;
    struct layer *sums = NEWN(x->a, struct layer, p->nmodules + 1);
    int *child = NEWN(x->a, int, p->nmodules + 1), *last = NEWN(x->a, int, p->nmodules + 1),
        *sibling = NEWN(x->a, int, p->nmodules + 1);
    memset(child, -1, sizeof(int) * (size_t)(p->nmodules + 1));
    memset(last, -1, sizeof(int) * (size_t)(p->nmodules + 1));
    memset(sibling, -1, sizeof(int) * (size_t)(p->nmodules + 1));
    for (int i = 0; i < p->nparams; i++) {
        const struct param *q = &p->params[i];
        if (q->rank < 0 || q->tied_to >= 0 || param_is_state(q))
            continue;
        int64_t n = sizes_product(q->rank, q->size);
        sums[q->module].parameters = bytes_add(sums[q->module].parameters, n);
        sums[q->module].parameter_bytes = bytes_add(sums[q->module].parameter_bytes, dtype_bytes(q->dtype, n));
    }
    for (int i = 0; i < m->nev; i++) {
        const struct event *e = &m->ev[i];
        const struct storage *s = m->st[e->storage];
        if (!e->birth || !s->call || (e->phase != PHASE_FORWARD && e->phase != PHASE_LOSS))
            continue;
        struct layer *l = &sums[s->call->scope];
        l->output_bytes = bytes_add(l->output_bytes, s->bytes);
        l->saved_bytes = bytes_add(l->saved_bytes, s->saved ? s->bytes : 0);
    }
    for (int i = 0; i < p->ncalls; i++) {
        struct layer *l = &sums[p->calls[i].scope];
        l->flops = bytes_add(l->flops, to_int(x->st->call_flops[i]));
        l->location = l->location ? l->location : p->calls[i].location;
        count_op(x->a, l, &p->calls[i]);
    }
    int *order = NEWN(x->a, int, p->nmodules + 1), n = 0;
    for (int i = 0; i < p->nmodules;
         i++) { /* parents were made before their children? a parent may come later: link by index */
        int up = p->modules[i].parent;
        if (up >= 0) {
            if (last[up] >= 0)
                sibling[last[up]] = i;
            else
                child[up] = i;
            last[up] = i;
        }
    }
    order[n++] = 0; /* breadth first, then add up from the leaves */
    for (int i = 0; i < n; i++)
        for (int c = child[order[i]]; c >= 0; c = sibling[c])
            order[n++] = c;
    for (int i = n - 1; i > 0; i--) {
        struct layer *up = &sums[p->modules[order[i]].parent], *l = &sums[order[i]];
        up->parameters = bytes_add(up->parameters, l->parameters);
        up->parameter_bytes = bytes_add(up->parameter_bytes, l->parameter_bytes);
        up->saved_bytes = bytes_add(up->saved_bytes, l->saved_bytes);
        up->output_bytes = bytes_add(up->output_bytes, l->output_bytes);
        up->flops = bytes_add(up->flops, l->flops);
    }
    x->r->layers = NEWN(x->a, struct layer, p->nmodules + 1);
    walk(x, sums, child, sibling);
}

/* ---- rules of thumb ---------------------------------------------------------------------------------------------- */

static void
gather_thumbs(struct gather *x)
{
    struct result *r = x->r;
    const struct machine *m = x->st->m;
    int64_t outputs = 0, params = r->model.parameters;
    for (int i = 0; i < m->nev; i++) {
        const struct storage *s = m->st[m->ev[i].storage];
        if (m->ev[i].birth && m->ev[i].phase == PHASE_FORWARD && s->call && dtypes[s->dtype].is_float)
            outputs = bytes_add(outputs, sizes_product(s->rank, s->size));
    }
    int n = strcmp(r->setup.optimizer, "sgd") == 0 || strcmp(r->setup.optimizer, "none") == 0 ? 2
            : strncmp(r->setup.optimizer, "adam", 4) == 0                                     ? 4
                                                                                              : 3;
    r->rule_of_thumb.parameters = 4 * params;
    r->rule_of_thumb.gradients = 4 * params;
    r->rule_of_thumb.optimizer = 4 * params * (n - 2);
    r->rule_of_thumb.activations = 2 * 4 * outputs;
    r->rule_of_thumb.total = 4 * params * n + 2 * 4 * outputs;
    r->thumbs = NEWN(x->a, struct thumb, 2);
    r->nthumbs = 2;
    r->thumbs[0] = (struct thumb){
        .name = "parameters and twice the activations",
        .formula = arena_printf(x->a, "4 bytes x %s parameters x %d + 2 x 4 bytes x %s output values at this batch",
                                count_text(x->a, params), n, count_text(x->a, outputs)),
        .leaves_out = "that most outputs are dropped or saved once, temporaries of the backward pass, the optimizer's "
                      "own lists, buffers, rounding",
        .bytes = r->rule_of_thumb.total};
    r->thumbs[1] = (struct thumb){
        .name = "sixteen bytes a parameter",
        .formula = arena_printf(x->a, "16 bytes x %s parameters + 4 bytes x %s forward values at this batch + 2 GB",
                                count_text(x->a, params), count_text(x->a, outputs)),
        .leaves_out = "the optimizer chosen, which outputs are kept, temporaries; its 2 GB stand for the CUDA context, "
                      "which is not allocated bytes",
        .bytes = 16 * params + 4 * outputs + INT64_C(2000000000)};
}

/* The peak's range, where each doubt is about an assumption that was measured both ways: all that lower it together,
 * and all that raise it. */
static void
gather_range(struct result *r, const struct program *p)
{
    int64_t least = r->peak.allocated, most = least, device = r->peak.device;
    uint64_t counted = 0;
    for (int i = 0; i < r->ndoubts; i++) {
        const struct assumption *q = NULL;
        for (int k = 0; k < p->nassumptions && !q; k++)
            if (p->assumptions[k].measured && p->assumptions[k].text == r->doubts[i].assumed)
                q = &p->assumptions[k];
        if (!q)
            return;
        const bool twice = counted >> q->alternative & 1;
        if (!twice && q->effect_bytes < 0 && least > 0)
            least += q->effect_bytes;
        if (!twice && q->effect_bytes > 0)
            most = bytes_add(most, q->effect_bytes);
        if (!q->reserved)
            device = 0;
        else if (!twice && device && q->reserved > r->peak.reserved)
            device = bytes_add(device, q->reserved - r->peak.reserved);
        counted |= UINT64_C(1) << q->alternative;
    }
    r->peak.certain = least > r->peak.certain ? least : r->peak.certain;
    r->peak.most = most;
    r->peak.device_most = device;
}

static void
gather_fits(struct gather *x)
{
    struct result *r = x->r;
    int n = 0;
    while (device_row(n))
        n++;
    r->fits = NEWN(x->a, struct fit, n + 1);
    bool convolves = step_convolves(x->st);
    r->own_kind = device_kind(x->s->device, convolves);
    bool size = x->s->capacity > 0 && !x->s->device; /* --device SIZE: a device that no row has */
    for (int i = size ? -1 : 0; i < n; i++) {
        const struct device *d = i < 0 ? NULL : device_row(i);
        struct fit *f = &r->fits[r->nfits++];
        *f = (struct fit){.device = d ? device_name(d) : r->setup.device,
                          .capacity = d ? device_capacity(d) : x->s->capacity,
                          .context = device_context(x->s, d).most,
                          .need = -1,
                          .kind = device_kind(d, convolves),
                          .verdict = "unknown",
                          .largest_batch = -1};
        if (!r->ndoubts && f->kind == r->own_kind) {
            f->need = bytes_add(r->peak.reserved, f->context);
            f->verdict = fits_verdict(f->need, f->capacity);
        }
    }
}

static void
assume_context(struct program *p, const struct setup *s)
{
    struct context c = device_context(s, s->device);
    program_assume(p, ALTERNATIVE_NONE, "the device figure adds a CUDA context to what is reserved: %s",
                   device_context_text(p->arena, &c));
}

enum { MEASURED = 90 /* compute capability x 10 of the GPU that the driver's rows come from */ };

/* Where the workspaces of a step's convolutions come from. */
static void
assume_cudnn(struct program *p, const struct step *st, const struct setup *s)
{
    struct cudnn_use u = st->m->cudnn;
    const char *of =
        arena_printf(p->arena, "compute capability %d.%d", device_sm(s->device) / 10, device_sm(s->device) % 10);
    if (u.kernels && !s->device)
        program_assume(
            p, ALTERNATIVE_NONE,
            "cuDNN's workspaces are in none of the figures but those of the table of devices: they depend on "
            "the GPU, which --device says by name");
    if (u.asked)
        program_assume(p, ALTERNATIVE_NONE, "the workspaces of %d convolutions of the step are what %s takes for %s",
                       u.asked, s->library->name, of);
    if (u.driven)
        program_assume(
            p, ALTERNATIVE_NONE,
            "the workspaces of %d convolutions of the step follow what cuDNN 9.19 took on an H200: without a CUDA "
            "driver it does not name the engines that run them%s",
            u.driven, device_sm(s->device) == MEASURED ? "" : "; no other GPU was asked");
    if (u.ruled)
        program_assume(
            p, ALTERNATIVE_NONE,
            "the workspaces of %d convolutions of the step follow a rule for cuDNN 9.19 and %s: of nets that "
            "it was not made from half were within %d %% of what the library says, 19 in 20 within %d %%%s",
            u.ruled, of, u.rule->median, u.rule->most, s->cudnn == CUDNN_RULE ? "; --cudnn=ask asks the library" : "");
    if (u.doubtful)
        program_assume(p, ALTERNATIVE_NONE,
                       "the workspaces of %d of the filters' gradients may be those of Fourier's algorithm instead, up "
                       "to %s at a time: on an H200 some like them were and some were not",
                       u.doubtful, bytes_text(p->arena, u.doubt));
    if (u.unknown)
        program_assume(p, ALTERNATIVE_NONE,
                       "the workspaces of %d convolutions of the step are counted as 0: no rule is known for %s",
                       u.unknown, of);
}

static void
assume_recurrent(struct program *p, const struct step *st)
{
    if (st->m->cudnn.recurrent)
        program_assume(p, ALTERNATIVE_NONE,
                       "what cuDNN takes while recurrent layers run is not counted, up to %s at a time; --device=NAME "
                       "counts it",
                       bytes_text(p->arena, st->m->cudnn.recurrent));
}

/* What is reserved with the least workspaces that benchmark may keep, as far as that is known. */
static int64_t
assume_benchmark(struct program *p, const struct step *st, const struct setup *s)
{
    struct setup least = *s;
    struct cudnn_use u = st->m->cudnn;
    if (s->flags.benchmark && u.asked) {
        least.least = true;
        least.player = NULL;
        least.kernels = NULL;
        least.tape = NULL;
        struct measured m = measure_step(p, &least, NULL, NULL);
        program_assume(p, ALTERNATIVE_NONE,
                       "torch.backends.cudnn.benchmark keeps the fastest of ten plans, which only the GPU tells: the "
                       "figures are with the largest of their workspaces, and with the smallest %s allocated and %s "
                       "reserved; for its search the first iteration takes the largest of all plans', where there is "
                       "room",
                       bytes_text(p->arena, m.allocated), bytes_text(p->arena, m.reserved));
        return m.reserved;
    }
    if (s->flags.benchmark && u.ruled + u.driven)
        program_assume(p, ALTERNATIVE_NONE,
                       "torch.backends.cudnn.benchmark keeps the fastest plan, which only the GPU tells, and whose "
                       "workspace is larger or smaller than that of the one that the rule knows; --cudnn=ask says "
                       "between what");
    return st->m->reserved_bytes;
}

static void
gather_step(struct gather *x, bool peak_alone)
{
    x->owner = owner_new(x->a, x->p, x->s);
    gather_peak(x);
    if (peak_alone)
        return;
    x->params = names_new(x->a);
    for (int i = x->p->nparams - 1; i >= 0; i--)
        names_put(x->params, x->p->params[i].name, i);
    gather_instants(x);
    gather_live(x);
    owner_held(x->owner, x->st, x->l, x->r);
    gather_spans(x);
    gather_layers(x);
    x->r->recompute.nregions = x->p->nregions;
    if (x->st->forward_flops > 0) /* backward is twice the forward */
        x->r->recompute.extra_flops_percent = 100 * x->st->recomputed_flops / (3 * x->st->forward_flops);
    if (x->s->mode == MODE_TRAINING)
        gather_thumbs(x);
}

struct result *
result_build(const struct graph *g, struct program *p, struct step *st, const struct setup *s, bool peak_alone)
{
    struct gather x = {.a = st->arena, .g = g, .p = p, .st = st, .s = s, .r = NEW(st->arena, struct result)};
    struct result *r = x.r;
    x.ops = names_new(x.a);
    r->version = PACKAGE_VERSION;
    assume_context(p, s);
    assume_cudnn(p, st, s);
    assume_recurrent(p, st);
    x.least_reserved = assume_benchmark(p, st, s);
    x.l = live_run(st);
    r->provenance = provenance_find(p, s);
    gather_model(&x);
    gather_setup(&x);
    if (r->provenance.none)
        r->setup.nassumptions = 0;
    else
        gather_step(&x, peak_alone);
    r->ndoubts = g->ndoubts;
    r->doubts = g->doubts;
    r->peak.certain = r->ndoubts ? certain_bytes(st) : r->peak.allocated;
    gather_range(r, p);
    gather_fits(&x);
    int64_t least = r->ndoubts ? bytes_add(r->peak.certain, device_context(s, s->device).least) : r->peak.device;
    r->verdict = s->capacity > 0 && least > s->capacity ? VERDICT_DOES_NOT_FIT
                 : r->ndoubts                           ? VERDICT_INCONCLUSIVE
                                                        : VERDICT_OK;
    return r;
}

/* ---- words ------------------------------------------------------------------------------------------------------- */

const char *const cost_names[COST_COUNT] = {"free", "changes numerics", "costs time", "changes the model",
                                            "takes more GPUs"};
const char *const outcome_names[CHECK_COUNT] = {"passed", "failed", "skipped", "unjudged", "accepted"};

int
severity_rank(const char *name)
{
    static const char *const severities[] = {"note", "warning", "error"};
    for (int i = 0; i < COUNT(severities); i++)
        if (name && strcmp(name, severities[i]) == 0)
            return i;
    return -1;
}

const struct fit *
fits_own(const struct result *r)
{
    for (int i = 0; i < r->nfits && r->setup.device; i++)
        if (r->fits[i].device && strcmp(r->fits[i].device, r->setup.device) == 0)
            return &r->fits[i];
    return NULL;
}

const char *
fits_verdict(int64_t need, int64_t capacity)
{
    return need > capacity ? "does not fit" : need > capacity / 100 * 90 ? "tight" : "fits";
}

int64_t
tensor_slack(const struct live_tensor *t)
{
    enum { ROUND = 512, UNSPLIT = 1 << 20 };
    int64_t n = 1, bytes = dtype_bytes(dtype_by_torch(t->dtype ? t->dtype : ""), 1);
    for (int i = 0; i < t->rank; i++)
        if (!mul_ok(n, t->shape[i], &n))
            return 0;
    if (bytes <= 0 || !mul_ok(n, bytes, &n) || n < 0)
        return 0;
    int64_t slack = t->bytes - (n + ROUND - 1) / ROUND * ROUND;
    return slack > 0 && slack <= UNSPLIT ? slack : 0;
}

int64_t
instant_bytes(const struct instant *at)
{
    int64_t total = 0;
    for (int c = 0; c < CLASS_COUNT; c++)
        total = bytes_add(total, at->class_bytes[c]);
    return total;
}
