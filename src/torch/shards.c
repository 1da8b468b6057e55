/* SPDX-License-Identifier: Apache-2.0 */
/* shards.c - PyTorch's fully_shard (FSDP2), as the first of several ranks runs it.
 *
 * A rank has a share of each parameter: its first dimension, divided by the ranks and rounded up. A unit's parameters
 * are made whole when its forward pass begins, and again before its backward pass: the shares of all ranks meet in one
 * buffer, from which each parameter is copied. In a forward pass the buffer lives until the next unit has its own, in
 * a backward pass the next unit's is asked for beforehand. When a unit's gradients are there, they are copied into a
 * buffer, of which the rank gets back its share; the buffer lives until the next unit needs one. With an integer for
 * reshard_after_forward a node's share of each parameter lives from its forward to its backward pass. Buffers of
 * gathered and of reduced shares come from streams of their own, whose cached blocks nobody else takes.
 *
 * Source: torch/distributed/fsdp/_fully_shard/: _fsdp_param.py (_init_sharded_param, init_all_gather_outputs),
 * _fsdp_param_group.py (unshard, wait_for_unshard, post_backward, _backward_prefetch), _fsdp_collectives.py
 * (foreach_all_gather, foreach_reduce), _fsdp_state.py (_post_forward, _root_post_backward_final_callback). Collectives
 * run in place; what NCCL itself allocates is not here.
 */
#include "base/setup.h"
#include "torch/run.h"

#include <string.h>

enum stream { GATHER, REDUCE, ALL_REDUCE };

struct shard {
    struct value *v, **local, **whole_grad, **local_grad;
    struct value *waiting; /* the gradient of earlier micro-batches, in the type that it is reduced in; NULL none */
    enum dtype dtype;      /* of the share, and of reduced gradients */
    struct value *between; /* a node's share, from the forward pass to the backward pass; NULL none */
    int64_t padded;        /* elements of a rank's share */
    bool whole;
};

struct unit {
    int n, cap;
    struct shard *all;
    struct value *gathered; /* asked for, not yet copied from */
    struct value *low;      /* what nodes reduce among each other, until the backward pass has ended */
    bool back, behind;      /* its backward pass has begun; is over */
};

struct shards {
    struct machine *m;
    const struct parallel *how;
    int gpus, nodes, nunits; /* gpus: among which shares lie; as many again on each of the nodes */
    struct unit *unit;
    int *order, norder;          /* units whose forward pass has ended */
    struct value *last_gathered; /* of the unit that runs forward */
    struct value *reduced;       /* what the last reduction reads */
};

void
shards_add(struct shards *x, int unit, struct value *v, struct value **local, struct value **whole_grad,
           struct value **local_grad)
{
    struct unit *u = &x->unit[unit];
    int64_t rows = v->rank ? v->size[0] : 1, inner = rows ? value_elements(v) / rows : 0;
    *PUSH(x->m->keep, u->all, u->n, u->cap) =
        (struct shard){v, local, whole_grad, local_grad, NULL, v->dtype, NULL, div_up(rows, x->gpus) * inner, true};
}

static enum dtype
lower(const struct shards *x, enum dtype t)
{
    return x->how->low != DT_UNDEFINED && dtypes[t].is_float ? x->how->low : t;
}

struct value *
shards_born(const struct shards *x, const struct value *v)
{
    int64_t size[RANK];
    memcpy(size, v->size, sizeof(*size) * (size_t)v->rank);
    if (v->rank)
        size[0] = div_up(size[0], x->gpus);
    return value_born(x->m, "empty.memory_format", CLASS_PARAMETERS, v->st->name, v->dtype, v->rank, size);
}

void
shards_build(struct shards *x)
{
    for (int i = 1; i <= x->nunits; i++) {
        struct unit *u = &x->unit[i % x->nunits]; /* the model last */
        for (int k = 0; k < u->n; k++)
            if (!x->how->offloads && !*u->all[k].local)
                *u->all[k].local = shards_born(x, u->all[k].v);
        for (int k = 0; k < u->n; k++) {
            value_empty(x->m, u->all[k].v);
            u->all[k].whole = false;
            u->all[k].v->dtype = lower(x, u->all[k].dtype);
        }
    }
}

struct value *
shards_cast(const struct shards *x, struct value *v)
{
    enum dtype t = lower(x, v->dtype);
    return t == v->dtype ? v : OP(x->m, "_to_copy.default", VAL(v), DTYPE(t));
}

static bool
is_whole(const struct unit *u)
{
    return !u->n || u->all[0].whole;
}

static int64_t
share_of(const struct unit *u)
{
    int64_t sum = 0;
    for (int i = 0; i < u->n; i++)
        sum = bytes_add(sum, u->all[i].padded);
    return sum;
}

/* An all-gather or a reduce-scatter among so many GPUs. */
static void
exchange(struct shards *x, int64_t bytes, int among)
{
    if (x->nodes == 1 && among == x->gpus)
        ranks_exchange(x->m, bytes, 1);
    else /* within a node */
        x->m->passed = bytes_add(x->m->passed, bytes - bytes / among);
}

/* Between passes shares lie among less GPUs. */
static bool
reshards(const struct shards *x)
{
    return x->how->reshards && x->how->reshards < x->gpus;
}

/* foreach_all_gather. Shares of another type are cast into one buffer; those that are the host's come to the device
 * first, and are cast there one by one. */
static void
gather(struct shards *x, struct unit *u)
{
    if (u->gathered || is_whole(u))
        return;
    struct value **brought = NEWN(x->m->a, struct value *, u->n), *cast = NULL;
    bool between = u->all[0].between;
    if (x->how->low != DT_UNDEFINED && !x->how->offloads && !between)
        cast = ranks_buffer(x->m, GATHER, CLASS_TEMPORARIES, "cast shares", x->how->low, share_of(u));
    for (int i = 0; i < u->n && x->how->offloads && !between; i++) {
        const struct shard *k = &u->all[i];
        brought[i] = ranks_buffer(x->m, GATHER, CLASS_TEMPORARIES, "share on its way", k->dtype, k->padded);
        if (k->v->dtype == k->dtype)
            continue;
        struct value *whole = brought[i];
        brought[i] = ranks_buffer(x->m, GATHER, CLASS_TEMPORARIES, "cast share", k->v->dtype, k->padded);
        value_drop(x->m, whole);
    }
    u->gathered =
        ranks_buffer(x->m, GATHER, CLASS_TEMPORARIES, "all-gather buffer", u->all[0].v->dtype, share_of(u) * x->gpus);
    exchange(x, u->gathered->st->requested, between ? x->how->reshards : x->gpus);
    value_drop(x->m, cast);
    for (int i = 0; i < u->n; i++)
        value_drop(x->m, brought[i]);
}

/* wait_for_unshard: a parameter's memory, which it has until it is given back. */
static void
copy_out(struct shards *x, struct unit *u)
{
    struct machine *m = x->m;
    for (int i = 0; i < u->n; i++) {
        struct shard *k = &u->all[i];
        m->op = "empty.memory_format";
        value_refill(m, k->v, CLASS_PARAMETERS, k->padded * x->gpus);
        k->whole = true;
    }
    for (int i = 0; i < u->n; i++)
        value_let_go(m, &u->all[i].between);
}

static void
give_back(struct shards *x, struct unit *u)
{
    for (int i = 0; i < u->n; i++)
        if (u->all[i].whole) {
            value_empty(x->m, u->all[i].v);
            u->all[i].whole = false;
        }
}

void
shards_enter(struct shards *x, int unit)
{
    struct unit *u = &x->unit[unit];
    u->back = u->behind = false;
    if (!unit)
        x->norder = 0;
    gather(x, u);
    if (!u->gathered)
        return;
    copy_out(x, u);
    value_let_go(x->m, &x->last_gathered); /* a local of wait_for_unshard has it until that returns */
    x->last_gathered = u->gathered;
    u->gathered = NULL;
}

/* to_sharded_post_forward: of each parameter the share is copied before the whole of it goes. */
static void
keep_between(struct shards *x, struct unit *u)
{
    for (int i = 0; i < u->n; i++) {
        struct shard *k = &u->all[i];
        int64_t elements = k->padded * x->gpus / x->how->reshards;
        if (!k->whole)
            continue;
        k->between = value_born(x->m, "clone.default", CLASS_PARAMETERS, k->v->st->name, k->v->dtype, 1, &elements);
        value_empty(x->m, k->v);
        k->whole = false;
    }
}

void
shards_leave(struct shards *x, int unit)
{
    if (reshards(x))
        keep_between(x, &x->unit[unit]);
    else if ((unit || x->how->reshards) && !x->how->keeps)
        give_back(x, &x->unit[unit]);
    if (x->unit[unit].n)
        x->order[x->norder++] = unit;
    if (!unit)
        value_let_go(x->m, &x->last_gathered);
}

static void
before(struct machine *m, int unit)
{
    struct shards *x = m->shards;
    struct unit *u = &x->unit[unit];
    enum class class = m->fresh;
    if (u->back || !u->n)
        return;
    u->back = true;
    gather(x, u);
    if (u->gathered) {
        copy_out(x, u);
        value_let_go(m, &u->gathered);
    }
    int at = x->norder - 1;
    while (at >= 0 && x->order[at] != unit)
        at--;
    if (at > 0)
        gather(x, &x->unit[x->order[at - 1]]);
    m->fresh = class;
}

/* accumulate_unsharded_grad_if_needed: a gradient is added to the one that waits. */
static void
join_waiting(struct shards *x, struct unit *u)
{
    for (int i = 0; i < u->n; i++)
        if (u->all[i].waiting && *u->all[i].whole_grad)
            value_let_go(x->m, u->all[i].whole_grad);
}

/* to_accumulated_grad_if_needed: gradients of another type than they are reduced in wait as copies. */
static void
keep_waiting(struct shards *x, struct unit *u)
{
    for (int i = 0; i < u->n; i++) {
        struct shard *k = &u->all[i];
        if (!k->whole_grad || !*k->whole_grad || k->v->dtype == k->dtype || x->how->reduces_low)
            continue;
        k->waiting =
            value_born(x->m, "_to_copy.default", CLASS_GRADIENTS, k->v->st->name, k->dtype, k->v->rank, k->v->size);
        value_let_go(x->m, k->whole_grad);
    }
}

static void
behind(struct machine *m, int unit)
{
    struct shards *x = m->shards;
    struct unit *u = &x->unit[unit];
    enum class class = m->fresh;
    int64_t elements = 0;
    enum dtype own = DT_UNDEFINED;
    if (u->behind)
        return;
    u->behind = true;
    join_waiting(x, u);
    if (x->how->waits && m->more_micro_batches) {
        give_back(x, u);
        keep_waiting(x, u);
        m->fresh = class;
        return;
    }
    for (int i = 0; i < u->n; i++)
        if (u->all[i].waiting || (u->all[i].whole_grad && *u->all[i].whole_grad)) {
            elements = bytes_add(elements, u->all[i].padded);
            own = u->all[i].dtype;
        }
    give_back(x, u);
    if (!elements)
        return;
    value_let_go(m, &x->reduced);
    value_let_go(m, &u->low);
    enum dtype t = x->how->reduces_low ? lower(x, own) : own;
    x->reduced = ranks_flat(m, CLASS_TEMPORARIES, "reduce-scatter buffer", t, elements * x->gpus);
    exchange(x, x->reduced->st->requested, x->gpus);
    int64_t part = x->reduced->st->requested / x->gpus; /* which nodes reduce among each other: an all-reduce */
    m->passed = bytes_add(m->passed, 2 * (part - part / x->nodes));
    for (int i = 0; i < u->n; i++) {
        value_let_go(m, &u->all[i].waiting);
        if (u->all[i].whole_grad)
            value_let_go(m, u->all[i].whole_grad);
    }
    struct value *share = ranks_buffer(m, REDUCE, CLASS_GRADIENTS, "reduced gradients", t, elements);
    if (t != own) {
        struct value *low = share;
        share =
            ranks_buffer(m, x->how->within ? ALL_REDUCE : REDUCE, CLASS_GRADIENTS, "reduced gradients", own, elements);
        if (x->how->within)
            u->low = low;
        else
            value_drop(m, low);
    }
    for (int i = 0; i < u->n && !x->how->offloads; i++) {
        struct shard *k = &u->all[i];
        if (!k->whole_grad || *k->local_grad) /* added in place */
            continue;
        int mark = scope_begin(m);
        *k->local_grad = value_adopt(m, value_keep(value_view(m, share, (*k->local)->rank, (*k->local)->size, NULL)));
        scope_end(m, mark, 0, NULL);
    }
    value_drop(m, share);
    m->fresh = class;
}

static void
finish(struct machine *m)
{
    struct shards *x = m->shards;
    for (int i = x->nunits; i >= 1; i--)
        behind(m, i % x->nunits);
    for (int i = 0; i < x->nunits; i++)
        value_let_go(x->m, &x->unit[i].low);
    value_let_go(x->m, &x->reduced);
}

static const struct collectives of_shards = {.before = before, .behind = behind, .finish = finish};

struct shards *
shards_new(struct machine *m, const struct parallel *how, int gpus, int nunits)
{
    struct shards *x = NEW(m->keep, struct shards);
    x->m = m;
    x->how = how;
    x->gpus = parallel_within(how, gpus);
    x->nodes = gpus / x->gpus;
    x->nunits = nunits;
    x->unit = NEWN(m->keep, struct unit, nunits + 1);
    x->order = NEWN(m->keep, int, nunits + 1);
    for (int i = 0; i < COUNT(m->side); i++)
        m->side[i] = heap_new(m->keep, m->s->expandable);
    m->collectives = &of_shards;
    return x;
}
