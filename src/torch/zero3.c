/* SPDX-License-Identifier: Apache-2.0 */
/* zero3.c - DeepSpeed's ZeRO-3, as the first of several ranks runs it with its default settings.
 *
 * A rank has a part of each parameter. Before a module runs, forward or backward, its own parameters are gathered:
 * those of one call meet in one buffer, from which each is copied when the first of them is waited for; the buffer
 * lives until the last one was. Once an iteration has told in which order modules run, those of the next modules are
 * asked for beforehand. Behind a module its parameters are given back, unless one is used again soon; small ones stay
 * from one update to the next. Gradients are copied into a bucket as they come, which is as large as reduce_bucket_size
 * says whatever the model needs; when it is full, or the backward pass ends, the parts of each rank are put side by
 * side and reduced, and the rank's own ones go to a buffer that stays. The update goes one group of parameters after
 * another.
 *
 * A parameter is given another tensor's memory (param.data), so a view of what it had before holds that.
 *
 * Source: DeepSpeed 0.19.8, deepspeed/runtime/zero/: stage3.py (__init__, _setup_for_real_optimizer,
 * create_reduce_and_remove_grad_hooks, __add_grad_to_ipg_bucket, __avg_scatter_grads, step), parameter_offload.py
 * (setup_zero_stage3_hooks, mark_persistent_parameters), partitioned_param_coordinator.py (fetch_sub_module,
 * release_sub_module, __params_to_release, reset_step), partition_parameters.py (_all_gather_dtype,
 * AllGatherCoalescedHandle, free_param), utils.py (defragment), config.py (the settings); and
 * deepspeed/runtime/comm/coalesced_collectives.py (reduce_scatter_coalesced). Collectives run in place; what NCCL
 * itself allocates is not here.
 */
#include "base/setup.h"
#include "torch/run.h"

#include <limits.h>

enum { /* elements: settings of DeepSpeedZeroConfig */
       BUCKET = 500000000,
       GROUP = 1000000000,
       PREFETCH = 50000000,
       PERSISTENT = 100000,
       REUSE = 1000000000,
       LIVE = 1000000000
};
enum stream { GATHER, REDUCE };
enum tracing { INVALID, RECORD, COMPLETE };

/* Parameters that are gathered together. */
struct fetch {
    int n, left, *part; /* left: not yet waited for by their modules */
    struct value *buffer[DT_COUNT];
    bool one, done;
};

struct part {
    struct value **grad, *v;
    int64_t elements, share; /* share: of a rank, rounded up */
    bool trained, persists;
    enum { AWAY, COMES, THERE } status;
    struct fetch *fetch;       /* NULL none is to be waited for */
    int latest;                /* turn that it was last asked for */
    int nactive, cap, *active; /* modules that run with it */
};

struct module_parts {
    int n, cap, *part;
    int nagain, cap_again, *again; /* frozen ones that ran again for its backward pass */
    int awaited;                   /* inputs whose gradients are to come */
};

struct zero3 {
    struct machine *m;
    int gpus, n, cap;
    struct part *all;
    struct module_parts *module;
    enum tracing mode;
    int nturns, cap_turns, *turns; /* modules, in the order in which they run forward and backward */
    int nuses, cap_uses;
    struct use {
        int part, turn;
    } * uses;       /* parameters of these */
    int turn, next; /* of turns; of uses */
    int64_t available;
    int nback, cap_back, *back;      /* modules whose backward pass has begun */
    int ngroups, cap_groups, *group; /* the first part behind each */
    struct value **master;
    struct value *grads, *norm;
    int nbucket, cap_bucket, *bucket;
    struct value *buffer;
    int64_t filled;
};

static int64_t
padded(const struct zero3 *z, const struct part *k)
{
    return k->share * z->gpus;
}

/* ---- the engine's beginning -------------------------------------------------------------------------------------- */

int
zero3_add(struct zero3 *z, struct value *v, struct value **grad, bool trained)
{
    int64_t n = value_elements(v);
    *PUSH(z->m->keep, z->all, z->n, z->cap) = (struct part){.v = v,
                                                            .grad = grad,
                                                            .elements = n,
                                                            .share = div_up(n, z->gpus),
                                                            .trained = trained,
                                                            .persists = n <= PERSISTENT,
                                                            .latest = -1};
    return z->n - 1;
}

void
zero3_own(struct zero3 *z, int module, int part)
{
    struct module_parts *x = &z->module[module];
    int at = x->n;
    for (int i = 0; i < x->n; i++)
        if (x->part[i] == part)
            return;
    (void)PUSH(z->m->keep, x->part, x->n, x->cap);
    for (; at && x->part[at - 1] > part; at--)
        x->part[at] = x->part[at - 1];
    x->part[at] = part;
}

/* The parameter gets memory for so many elements, 0: none. */
static void
refill(struct zero3 *z, struct part *k, bool aside, int64_t elements)
{
    struct machine *m = z->m;
    enum class class = m->fresh;
    const char *op = m->op;
    m->stream = aside ? 1 + GATHER : 0;
    m->op = "empty.memory_format";
    value_refill(m, k->v, CLASS_PARAMETERS, elements);
    m->stream = 0;
    m->op = op;
    m->fresh = class;
}

/* Groups of parameters that are updated together: each is full when it has a number of elements. */
static void
make_groups(struct zero3 *z)
{
    int64_t filled = 0;
    int last = -1;
    for (int i = 0; i < z->n; i++) {
        if (!z->all[i].trained)
            continue;
        filled = bytes_add(filled, z->all[i].share);
        last = i;
        if (filled >= GROUP) {
            *PUSH(z->m->keep, z->group, z->ngroups, z->cap_groups) = i + 1;
            filled = 0;
        }
    }
    if (filled)
        *PUSH(z->m->keep, z->group, z->ngroups, z->cap_groups) = last + 1;
}

static int64_t
group_elements(const struct zero3 *z, int g)
{
    int64_t sum = 0;
    for (int i = g ? z->group[g - 1] : 0; i < z->group[g]; i++)
        sum = bytes_add(sum, z->all[i].trained ? z->all[i].share : 0);
    return sum;
}

static enum dtype
type_of(const struct zero3 *z)
{
    for (int i = 0; i < z->n; i++)
        if (z->all[i].trained)
            return z->all[i].v->dtype;
    return DT_FLOAT;
}

int
zero3_build(struct zero3 *z)
{
    struct machine *m = z->m;
    enum dtype t = type_of(z);
    int64_t all = 0, largest = 0;
    make_groups(z);
    struct value **share = NEWN(m->keep, struct value *, z->n + 1);
    for (int i = 0; i < z->n; i++) {
        share[i] = ranks_flat(m, CLASS_PARAMETERS, z->all[i].v->st->name, z->all[i].v->dtype, z->all[i].share);
        refill(z, &z->all[i], false, 0);
    }
    for (int g = 0; g < z->ngroups; g++) {
        int64_t n = group_elements(z, g);
        all = bytes_add(all, n);
        largest = n > largest ? n : largest;
    }
    ranks_flat(m, CLASS_WORKSPACE, "inf_or_nan_tracker", DT_BOOL, 1);
    for (int i = 0; i < z->n; i++) /* defragment: by way of the host */
        if (z->all[i].trained)
            value_drop(m, share[i]);
    trace_release(m);
    ranks_flat(m, CLASS_PARAMETERS, "the rank's parameters", t, all);
    z->master = NEWN(m->keep, struct value *, z->ngroups + 1);
    for (int g = 0; g < z->ngroups; g++) {
        int64_t n = group_elements(z, g);
        struct value *converted = t != DT_FLOAT ? ranks_flat(m, CLASS_TEMPORARIES, NULL, DT_FLOAT, n) : NULL;
        z->master[g] = ranks_flat(m, CLASS_OPTIMIZER, "parameters in fp32", DT_FLOAT, n);
        value_drop(m, converted);
    }
    value_drop(m, ranks_flat(m, CLASS_TEMPORARIES, NULL, DT_FLOAT, largest)); /* initialize_optimizer_states */
    z->buffer = ranks_flat(m, CLASS_GRADIENTS, "the bucket", t, BUCKET);
    z->grads = ranks_flat(m, CLASS_GRADIENTS, "the rank's gradients", t, all);
    for (int i = 0; i < z->n; i++) /* whole while they get their hooks */
        if (z->all[i].trained)
            value_drop(m, ranks_flat(m, CLASS_TEMPORARIES, NULL, z->all[i].v->dtype, padded(z, &z->all[i])));
    return z->ngroups;
}

struct value *
zero3_master(const struct zero3 *z, int group)
{
    return z->master[group];
}

/* ---- parameters come and go -------------------------------------------------------------------------------------- */

/* Asks for those of n parameters that the rank has not, in their order. */
static void
gather(struct zero3 *z, int n, const int *part)
{
    struct machine *m = z->m;
    struct fetch *f = NEW(m->keep, struct fetch);
    int64_t size[DT_COUNT] = {0};
    f->part = NEWN(m->keep, int, n + 1);
    for (int i = 0; i < n; i++)
        if (z->all[part[i]].status == AWAY)
            f->part[f->n++] = part[i];
    f->left = f->n;
    f->one = f->n == 1;
    for (int i = 0; i < f->n; i++) {
        struct part *k = &z->all[f->part[i]];
        k->status = COMES;
        k->fetch = f;
        z->available = bytes_add(z->available, k->elements);
        ranks_exchange(m, dtype_bytes(k->v->dtype, padded(z, k)), 1);
        size[k->v->dtype] = bytes_add(size[k->v->dtype], padded(z, k));
        if (f->one)
            refill(z, k, true, padded(z, k));
    }
    for (int t = 0; t < DT_COUNT && !f->one; t++)
        if (size[t])
            f->buffer[t] = ranks_buffer(m, GATHER, CLASS_TEMPORARIES, "all-gather buffer", (enum dtype)t, size[t]);
}

/* A module waits for a parameter, and with it come those that were asked for together. */
static void
await(struct zero3 *z, struct part *k)
{
    struct fetch *f = k->fetch;
    if (!f)
        return;
    for (int i = 0; i < f->n && !f->done; i++) {
        struct part *o = &z->all[f->part[i]];
        if (!f->one)
            refill(z, o, true, o->elements);
        o->status = THERE;
    }
    f->done = true;
    k->fetch = NULL;
    if (--f->left)
        return;
    for (int t = 0; t < DT_COUNT; t++)
        if (f->buffer[t])
            value_drop(z->m, f->buffer[t]);
}

static void
give_back(struct zero3 *z, struct part *k)
{
    if (k->status != THERE || k->nactive)
        return;
    refill(z, k, false, 0);
    k->status = AWAY;
    z->available -= k->elements;
}

static void
put(struct machine *m, int **list, int *n, int *cap, int x)
{
    for (int i = 0; i < *n; i++)
        if ((*list)[i] == x)
            return;
    *PUSH(m->keep, *list, *n, *cap) = x;
}

static void
take_out(int *list, int *n, int x)
{
    for (int i = 0; i < *n; i++)
        if (list[i] == x) {
            list[i--] = list[--*n];
        }
}

/* Whether a parameter is used again before so many elements are. */
static bool
is_near(const struct zero3 *z, int part)
{
    int64_t passed = 0;
    for (int t = z->turn; t < z->nturns && passed < REUSE; t++) {
        const struct module_parts *x = &z->module[z->turns[t]];
        for (int i = 0; i < x->n; i++) {
            if (x->part[i] == part)
                return true;
            passed = bytes_add(passed, z->all[x->part[i]].elements);
        }
    }
    return false;
}

void
zero3_begin(struct zero3 *z)
{
    for (int i = 0; i < z->n; i++)
        if (z->all[i].fetch) {
            await(z, &z->all[i]);
            give_back(z, &z->all[i]);
        }
    if (z->mode == RECORD) {
        for (int t = 0; t < z->nturns; t++)
            for (int i = 0; i < z->module[z->turns[t]].n; i++)
                *PUSH(z->m->keep, z->uses, z->nuses, z->cap_uses) = (struct use){z->module[z->turns[t]].part[i], t};
        z->mode = COMPLETE;
    } else if (z->mode == INVALID) {
        z->mode = RECORD;
    }
    for (int i = 0; i < z->n; i++)
        z->all[i].latest = -1;
    z->turn = z->next = 0;
    z->available = 0;
}

/* trace_prologue: another module than last time. */
static void
expect(struct zero3 *z, int module)
{
    if (z->mode == COMPLETE && (z->turn >= z->nturns || z->turns[z->turn] != module)) {
        z->mode = INVALID;
        z->nturns = z->nuses = 0;
    }
    if (z->mode == RECORD)
        *PUSH(z->m->keep, z->turns, z->nturns, z->cap_turns) = module;
}

/* What the module itself asked for leaves the list; then follow the next ones, up to a number of elements. */
static void
prefetch(struct zero3 *z, const struct module_parts *x)
{
    int new = 0, n = 0;
    int64_t room = LIVE - z->available, elements = 0;
    room = room < PREFETCH ? room : PREFETCH;
    for (int i = 0; i < x->n; i++)
        new += z->all[x->part[i]].latest < z->turn;
    for (; new && z->next < z->nuses; new --, z->next++)
        z->all[z->uses[z->next].part].latest = z->uses[z->next].turn;
    int *part = NEWN(z->m->keep, int, z->nuses - z->next + 1);
    for (; z->next < z->nuses && elements < room; z->next++) {
        const struct use *u = &z->uses[z->next];
        struct part *k = &z->all[u->part];
        bool asked = k->status != AWAY;
        for (int i = 0; i < n; i++)
            asked |= part[i] == u->part;
        k->latest = u->turn > k->latest ? u->turn : k->latest;
        if (asked)
            continue;
        part[n++] = u->part;
        elements += k->elements;
    }
    for (int i = 1; i < n; i++) /* in the order of the model */
        for (int at = i; at && part[at - 1] > part[at]; at--) {
            int other = part[at];
            part[at] = part[at - 1];
            part[at - 1] = other;
        }
    if (n)
        gather(z, n, part);
}

static void
fetch(struct zero3 *z, int module, bool forward)
{
    struct module_parts *x = &z->module[module];
    expect(z, module);
    if (!forward)
        put(z->m, &z->back, &z->nback, &z->cap_back, module);
    gather(z, x->n, x->part);
    bool again = forward && z->m->phase == PHASE_BACKWARD && z->nback;
    for (int i = 0; i < x->n; i++) {
        struct part *k = &z->all[x->part[i]];
        put(z->m, &k->active, &k->nactive, &k->cap, module);
        if (again && !k->trained) {
            struct module_parts *of = &z->module[z->back[z->nback - 1]];
            put(z->m, &of->again, &of->nagain, &of->cap_again, x->part[i]);
            put(z->m, &k->active, &k->nactive, &k->cap, z->back[z->nback - 1]);
        }
        await(z, k);
    }
    if (z->mode == COMPLETE)
        prefetch(z, x);
    z->turn++;
}

static void
release(struct zero3 *z, int module, bool forward)
{
    struct module_parts *x = &z->module[module];
    for (int i = 0; i < x->n; i++) {
        struct part *k = &z->all[x->part[i]];
        bool goes = z->mode != COMPLETE || (!k->persists && k->latest <= z->turn && !is_near(z, x->part[i]));
        take_out(k->active, &k->nactive, module);
        if (goes)
            give_back(z, k);
    }
    for (int i = 0; i < x->nagain && !forward; i++) {
        struct part *k = &z->all[x->again[i]];
        take_out(k->active, &k->nactive, module);
        if (!k->persists)
            give_back(z, k);
    }
    if (forward)
        return;
    x->nagain = 0;
    for (int i = 0; i < z->nback; i++)
        if (z->back[i] == module) {
            for (z->nback--; i < z->nback; i++)
                z->back[i] = z->back[i + 1];
        }
}

void
zero3_enter(struct zero3 *z, int module)
{
    fetch(z, module, true);
    if (z->m->phase != PHASE_BACKWARD)
        z->module[module].awaited = 0;
}

void
zero3_leave(struct zero3 *z, int module)
{
    release(z, module, true);
}

void
zero3_await(struct zero3 *z, int module, int ninputs)
{
    z->module[module].awaited += ninputs;
}

void
zero3_read(struct zero3 *z, int module, int part)
{
    struct part *k = &z->all[part];
    if (k->status != AWAY)
        return;
    zero3_own(z, module, part);
    refill(z, k, false, padded(z, k));
    k->status = THERE;
    ranks_exchange(z->m, dtype_bytes(k->v->dtype, padded(z, k)), 1);
}

/* Gates: of a module's result, and of one of its inputs. */
static void
behind(struct machine *m, int gate)
{
    struct zero3 *z = m->zero3;
    enum class class = m->fresh;
    int module = gate / 2;
    if (gate % 2 == 0)
        fetch(z, module, false);
    else if (--z->module[module].awaited == 0)
        release(z, module, false);
    m->fresh = class;
}

/* ---- gradients --------------------------------------------------------------------------------------------------- */

/* What ranks lack of a parameter's elements has memory of its own, for each of them. */
static int
make_padding(struct zero3 *z, const struct part *k, int rank, struct value **to)
{
    int64_t left = k->elements - rank * k->share, lacks = k->share - (left < 0 ? 0 : left);
    if (lacks > 0)
        *to = ranks_buffer(z->m, REDUCE, CLASS_TEMPORARIES, "padding", k->v->dtype, lacks);
    return lacks > 0;
}

static void
reduce(struct zero3 *z)
{
    struct machine *m = z->m;
    const struct part *first = z->nbucket ? &z->all[z->bucket[0]] : NULL;
    int64_t size = 0;
    int n = 0;
    for (int i = 0; i < z->nbucket; i++)
        size = bytes_add(size, padded(z, &z->all[z->bucket[i]]));
    if (z->nbucket > 1 || (first && first->elements % z->gpus)) {
        struct value **padding = NEWN(m->a, struct value *, (int64_t)z->nbucket * z->gpus + 1);
        for (int rank = 0; rank < z->gpus; rank++)
            for (int i = 0; i < z->nbucket; i++)
                n += make_padding(z, &z->all[z->bucket[i]], rank, &padding[n]);
        struct value *all = ranks_buffer(m, REDUCE, CLASS_GRADIENTS, "reduce-scatter buffer", first->v->dtype, size);
        for (int i = 0; i < n; i++)
            value_drop(m, padding[i]);
        value_drop(m, all);
    }
    if (first)
        ranks_exchange(m, dtype_bytes(first->v->dtype, size), 1);
    for (int i = 0; i < z->nbucket; i++)
        value_let_go(m, z->all[z->bucket[i]].grad);
    z->nbucket = 0;
    z->filled = 0;
}

static void
ready(struct machine *m, struct value **grad)
{
    struct zero3 *z = m->zero3;
    struct part *k = ranks_find(grad, z->all, z->n, sizeof(*k));
    if (!k)
        return;
    if (z->filled + k->elements > BUCKET && z->filled)
        reduce(z);
    if (z->filled + k->elements <= BUCKET)
        ranks_move(m, grad, k->v, z->buffer);
    z->filled += k->elements;
    *PUSH(m->keep, z->bucket, z->nbucket, z->cap_bucket) = (int)(k - z->all);
}

/* What no module's end gave back goes. */
void
zero3_finish(struct zero3 *z)
{
    reduce(z);
    while (z->nback) {
        int module = z->back[--z->nback];
        struct module_parts *x = &z->module[module];
        for (int i = 0; i < x->n + x->nagain; i++) {
            struct part *k = &z->all[i < x->n ? x->part[i] : x->again[i - x->n]];
            take_out(k->active, &k->nactive, module);
            if (!k->persists)
                give_back(z, k);
        }
        x->nagain = 0;
    }
}

/* ---- the update -------------------------------------------------------------------------------------------------- */

/* get_grad_norm_direct: each gradient's in float64, then of all. */
static struct value *
norm_of(struct zero3 *z, int g)
{
    struct machine *m = z->m;
    int from = g ? z->group[g - 1] : 0, n = 0, mark = scope_begin(m);
    struct value **norm = NEWN(m->a, struct value *, z->group[g] - from + 1);
    for (int i = from; i < z->group[g]; i++) {
        if (!z->all[i].trained)
            continue;
        int inner = scope_begin(m);
        struct value *view = value_view(m, z->grads, 1, &z->all[i].share, NULL);
        struct value *copy = OP(m, "_to_copy.default", VAL(view), DTYPE(DT_DOUBLE));
        norm[n++] = OP(m, "linalg_vector_norm.default", VAL(copy), INT(2));
        scope_end(m, inner, 1, &norm[n - 1]);
    }
    scope_end(m, mark, 0, NULL);
    return ranks_flat(m, CLASS_TEMPORARIES, NULL, DT_DOUBLE, 1);
}

void
zero3_step(struct zero3 *z)
{
    struct machine *m = z->m;
    for (int i = 0; i < z->n; i++) {
        z->all[i].nactive = 0;
        await(z, &z->all[i]);
        give_back(z, &z->all[i]);
    }
    z->nback = 0;
    for (int g = 0; g < z->ngroups; g++)
        value_drop(m, norm_of(z, g));
    if (z->norm)
        value_drop(m, z->norm);
    z->norm = ranks_flat(m, CLASS_OPTIMIZER, "norm of gradients", DT_DOUBLE, 1);
}

struct value *
zero3_flatten(struct zero3 *z, int group)
{
    struct machine *m = z->m;
    int64_t n = group_elements(z, group);
    int parts = 0;
    for (int i = group ? z->group[group - 1] : 0; i < z->group[group]; i++)
        parts += z->all[i].trained;
    struct value *one = NULL;
    if (parts > 1) {
        one = ranks_flat(m, CLASS_GRADIENTS, "the rank's part", z->grads->dtype, n);
    } else {
        int mark = scope_begin(m);
        one = value_adopt(m, value_keep(value_view(m, z->grads, 1, &n, NULL)));
        scope_end(m, mark, 0, NULL);
    }
    if (one->dtype == DT_FLOAT)
        return one;
    struct value *high = ranks_flat(m, CLASS_GRADIENTS, "the rank's part", DT_FLOAT, n);
    value_drop(m, one);
    return high;
}

void
zero3_end(struct zero3 *z)
{
    for (int i = 0; i < z->n; i++)
        if (z->all[i].persists) {
            refill(z, &z->all[i], false, padded(z, &z->all[i]));
            z->all[i].status = THERE;
            ranks_exchange(z->m, dtype_bytes(z->all[i].v->dtype, padded(z, &z->all[i])), 1);
        }
}

static const struct collectives of_zero3 = {.ready = ready, .behind = behind};

struct zero3 *
zero3_new(struct machine *m, int gpus, int nmodules)
{
    struct zero3 *z = NEW(m->keep, struct zero3);
    z->m = m;
    z->gpus = gpus;
    z->module = NEWN(m->keep, struct module_parts, nmodules + 1);
    for (int i = 0; i <= REDUCE; i++)
        m->side[i] = heap_new(m->keep, m->s->expandable);
    m->collectives = &of_zero3;
    return z;
}
