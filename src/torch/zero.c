/* SPDX-License-Identifier: Apache-2.0 */
/* zero.c - DeepSpeed's ZeRO-2, as the first of several ranks runs it with its default settings.
 *
 * Parameters are views of one flat tensor. A rank updates its part of it, of which it has a copy in fp32 with the
 * optimizer's states. Gradients are copied into a bucket as they come, which is as large as reduce_bucket_size says
 * whatever the model needs; when it is full, or the backward pass ends, what the bucket has is copied once more,
 * reduced by all ranks, and what is the rank's own moves to a buffer of its own. The update flattens that, norms being
 * taken of copies in float64.
 *
 * Source: DeepSpeed 0.19.8, deepspeed/runtime/zero/stage_1_and_2.py (__init__, setup_buckets,
 * reduce_independent_p_g_buckets_and_remove_grads, average_tensor, allreduce_bucket, copy_grads_in_partition,
 * get_grad_norm_direct, step), config.py (the settings). Collectives run in place; what NCCL itself allocates is not
 * here.
 */
#include "torch/run.h"

enum { BUCKET = 500000000 /* elements: reduce_bucket_size */, ALIGNED = 2 /* nccl_start_alignment_factor */ };

struct piece {
    struct value **grad, *v;
    int64_t first, elements; /* in the flat tensor */
};

struct zero {
    struct machine *m;
    int gpus;
    int n, cap;
    struct piece *all;
    int64_t elements, part;            /* of the flat tensor; of a rank's part */
    struct value *bucket, *own, *norm; /* norm: of the last update */
    struct value *averaged; /* the gradients of the rank's parameters, from the first backward pass to the update */
    int64_t filled;
    int ncollected, *collected; /* pieces, in the order of their gradients */
};

void
zero_add(struct zero *z, struct value *v, struct value **grad)
{
    int64_t n = value_elements(v);
    *PUSH(z->m->keep, z->all, z->n, z->cap) = (struct piece){grad, v, z->elements, n};
    z->elements = bytes_add(z->elements, n);
}

struct value *
zero_build(struct zero *z)
{
    struct machine *m = z->m;
    int64_t unit = (int64_t)ALIGNED * z->gpus;
    enum dtype t = z->n ? z->all[0].v->dtype : DT_FLOAT;
    z->elements = div_up(z->elements, unit) * unit;
    z->part = z->elements / z->gpus;
    z->collected = NEWN(m->keep, int, z->n + 1);
    trace_release(m);
    ranks_flat(m, CLASS_PARAMETERS, "flat parameters", t, z->elements);
    for (int i = 0; i < z->n; i++)
        value_empty(m, z->all[i].v);
    struct value *low = t != DT_FLOAT ? ranks_flat(m, CLASS_TEMPORARIES, NULL, t, z->part) : NULL; /* clone().float() */
    struct value *part = ranks_flat(m, CLASS_OPTIMIZER, "parameters in fp32", DT_FLOAT, z->part);
    value_drop(m, low);
    value_drop(m, ranks_flat(m, CLASS_TEMPORARIES, NULL, DT_FLOAT, z->part)); /* initialize_optimizer_states */
    return part;
}

static bool
is_own(const struct zero *z, const struct piece *k)
{
    return k->first < z->part;
}

/* How many runs of one rank's elements the bucket has: of one no copy is made. */
static int
runs_of(const struct zero *z)
{
    int64_t last = -1;
    int runs = 0;
    for (int i = 0; i < z->ncollected; i++) {
        const struct piece *k = &z->all[z->collected[i]];
        int64_t from = k->first / z->part, to = (k->first + (k->elements ? k->elements - 1 : 0)) / z->part;
        runs += (int)(to - from) + (from != last);
        last = to;
    }
    return runs;
}

static void
reduce(struct zero *z)
{
    struct machine *m = z->m;
    int64_t own = 0, elements = 0;
    enum dtype t = DT_FLOAT;
    for (int i = 0; i < z->ncollected; i++) {
        elements += z->all[z->collected[i]].elements;
        t = z->all[z->collected[i]].v->dtype;
    }
    if (runs_of(z) > 1)
        value_drop(m, ranks_flat(m, CLASS_GRADIENTS, "the reduced bucket", t, elements));
    ranks_exchange(m, dtype_bytes(t, elements), 2);
    for (int i = 0; i < z->n; i++)
        own += is_own(z, &z->all[i]) ? z->all[i].elements : 0;
    for (int i = 0; i < z->ncollected; i++) {
        const struct piece *k = &z->all[z->collected[i]];
        if (is_own(z, k) && !z->own)
            z->own = ranks_flat(m, CLASS_GRADIENTS, "the rank's parameters", t, own);
        if (is_own(z, k))
            ranks_move(m, k->grad, k->v, z->own);
        else
            value_let_go(m, k->grad);
    }
    z->ncollected = 0;
    z->filled = 0;
}

static void
ready(struct machine *m, struct value **grad)
{
    struct zero *z = m->zero;
    struct piece *k = ranks_find(grad, z->all, z->n, sizeof(*k));
    if (!k)
        return;
    if (!z->bucket)
        z->bucket = ranks_flat(m, CLASS_GRADIENTS, "the bucket", k->v->dtype, BUCKET);
    if (z->filled + k->elements > BUCKET)
        reduce(z);
    if (k->elements <= BUCKET)
        ranks_move(m, grad, k->v, z->bucket);
    z->filled += k->elements;
    z->collected[z->ncollected++] = (int)(k - z->all);
}

void
zero_finish(struct zero *z)
{
    struct machine *m = z->m;
    reduce(z);
    for (int i = 0; i < z->n; i++)
        value_let_go(m, z->all[i].grad);
    value_drop(m, z->bucket);
    if (z->averaged)
        value_drop(m, z->own);
    else
        z->averaged = z->own;
    z->bucket = z->own = NULL;
}

/* get_grad_norm_direct: each gradient's in float64. */
static void
norms(struct zero *z)
{
    struct machine *m = z->m;
    struct value **norm = NEWN(m->a, struct value *, z->n + 1);
    int n = 0;
    for (int i = 0; i < z->n && is_own(z, &z->all[i]); i++) {
        int64_t left = z->part - z->all[i].first, elements = z->all[i].elements;
        struct value *copy = ranks_flat(m, CLASS_TEMPORARIES, NULL, DT_DOUBLE, elements < left ? elements : left);
        norm[n++] = ranks_flat(m, CLASS_TEMPORARIES, NULL, DT_DOUBLE, 1);
        value_drop(m, copy);
    }
    for (int i = 0; i < n; i++)
        value_drop(m, norm[i]);
    value_drop(m, z->norm);
    z->norm = ranks_flat(m, CLASS_OPTIMIZER, "norm of gradients", DT_FLOAT, 1);
}

struct value *
zero_flatten(struct zero *z)
{
    struct machine *m = z->m;
    struct value *grad = z->averaged;
    if (!grad)
        return NULL;
    norms(z);
    ranks_exchange(m, dtype_bytes(z->all[0].v->dtype, z->elements), 1);
    z->averaged = NULL;
    struct value *one = grad;
    if (z->all[0].elements < z->part) /* one parameter's is flat as it is */
        one = ranks_flat(m, CLASS_GRADIENTS, "the rank's part", grad->dtype, z->part);
    if (one->dtype != DT_FLOAT) {
        struct value *low = one;
        one = ranks_flat(m, CLASS_GRADIENTS, "the rank's part", DT_FLOAT, z->part);
        if (low != grad)
            value_drop(m, low);
    }
    if (one != grad)
        value_drop(m, grad);
    return one;
}

static const struct collectives of_zero = {.ready = ready};

struct zero *
zero_new(struct machine *m, int gpus)
{
    struct zero *z = NEW(m->keep, struct zero);
    z->m = m;
    z->gpus = gpus;
    m->collectives = &of_zero;
    return z;
}
