/* SPDX-License-Identifier: Apache-2.0 */
/* parallel.c - what one rank of several GPUs holds beside the step of one: DistributedDataParallel's buckets, and the
 * part of the optimizer's states that is its own.
 *
 * A bucket is a flat copy of gradients, which the ranks reduce. The first ones are made with the model, one for each
 * type; before the second forward pass they are made anew, in the order in which gradients came, the first of 1 MiB and
 * the others of 25. With gradient_as_bucket_view a gradient moves into its bucket as soon as it is there. Buffers are
 * sent through a flat copy before each forward pass, but under no_sync for the step's first one alone. Collectives run
 * in place; what NCCL itself allocates is not here.
 *
 * Source: torch/csrc/distributed/c10d/reducer.cpp (compute_bucket_assignment_by_size, initialize_buckets,
 * mark_variable_ready_dense, rebuild_buckets), torch/csrc/distributed/c10d/comm.cpp (broadcast_coalesced),
 * torch/nn/parallel/distributed.py (_ddp_init_helper, _pre_forward),
 * torch/distributed/optim/zero_redundancy_optimizer.py (_partition_parameters).
 */
#include "torch/run.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define DDP "from torch.nn.parallel import DistributedDataParallel\n"
static const struct parallel strategies[] = {
    {.name = "ddp", .help = "DistributedDataParallel: a flat copy of the gradients beside them", .import = DDP},
    {.name = "ddp:bucket-view",
     .help = "the same with gradient_as_bucket_view=True: gradients are views of the copy",
     .arguments = ", gradient_as_bucket_view=True",
     .bucket_view = true},
    {.name = "ddp:static-graph",
     .help = "the same with static_graph=True",
     .arguments = ", static_graph=True",
     .maps = true},
    {.name = "ddp:find-unused",
     .help = "the same with find_unused_parameters=True: outputs are cloned, buckets keep the model's order",
     .arguments = ", find_unused_parameters=True",
     .maps = true,
     .finds_unused = true},
    {.name = "ddp:no-sync",
     .help = "the same under no_sync() but for a step's last micro-batch: gradients are reduced once",
     .loop = "\n# in the loop: all micro-batches but the last run, forward and backward, under model.no_sync()",
     .waits = true},
    {.name = "zero1",
     .help = "DistributedDataParallel and ZeroRedundancyOptimizer: a rank has states of its own parameters alone",
     .import = "from torch.distributed.optim import ZeroRedundancyOptimizer\n" DDP,
     .partitions = true},
    {.name = "fsdp", .help = "fully_shard of every unit of --units and of the model", .shards = true},
    {.name = "fsdp:meta",
     .help = "the same for a model on the meta device: no rank ever has the whole of it, to_empty() makes the shares",
     .on_meta = true},
    {.name = "fsdp:no-reshard",
     .help = "the same with reshard_after_forward=False: parameters stay whole until their backward pass",
     .arguments = ", reshard_after_forward=False",
     .keeps = true},
    {.name = "fsdp:reshard-8",
     .help = "the same with reshard_after_forward=8: until its backward pass a parameter lies within a node",
     .arguments = ", reshard_after_forward=8",
     .reshards = 8},
    {.name = "fsdp:hybrid",
     .help = "the same over nodes of 8 GPUs: shares within a node, the same ones on each node",
     .import = "from torch.distributed.device_mesh import init_device_mesh\n",
     .before = "mesh = init_device_mesh(\"cuda\", (torch.distributed.get_world_size() // 8, 8), "
               "mesh_dim_names=(\"node\", \"gpu\"))\n",
     .arguments = ", mesh=mesh",
     .within = 8},
    {.name = "fsdp:bf16",
     .help = "the same with MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.float32)",
     .policy = "MixedPrecisionPolicy, ",
     .arguments = ", mp_policy=MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.float32)",
     .low = DT_BFLOAT16},
    {.name = "fsdp:bf16-reduce",
     .help = "the same with MixedPrecisionPolicy(param_dtype=torch.bfloat16): gradients are reduced in it, too",
     .policy = "MixedPrecisionPolicy, ",
     .arguments = ", mp_policy=MixedPrecisionPolicy(param_dtype=torch.bfloat16)",
     .low = DT_BFLOAT16,
     .reduces_low = true},
    {.name = "fsdp:no-sync",
     .help = "the same with set_requires_gradient_sync(False) but for a step's last micro-batch: whole gradients wait",
     .loop = "\n# in the loop: model.set_requires_gradient_sync(is_last) before each micro-batch",
     .waits = true},
    {.name = "fsdp:cpu-offload",
     .help = "the same with CPUOffloadPolicy(): shares of parameters, gradients and states are the host's",
     .policy = "CPUOffloadPolicy, ",
     .arguments = ", offload_policy=CPUOffloadPolicy()",
     .offloads = true},
    {.name = "deepspeed:zero2",
     .help = "deepspeed.initialize with \"stage\": 2: flat parameters, gradients in buckets, states of a part",
     .import = "import deepspeed\n",
     .zero = 2},
    {.name = "deepspeed:zero3",
     .help = "deepspeed.initialize with \"stage\": 3: parameters are gathered for the module that runs",
     .import = "import deepspeed\n",
     .zero = 3},
    {.name = "tensor",
     .help = "parallelize_module: linear layers of every unit by columns (ColwiseParallel) and rows (RowwiseParallel)",
     .tensor = true},
    {.name = "tensor:sequence",
     .help = "the same with SequenceParallel: between linear layers a rank has its part of the sequence",
     .sequence = true},
    {.name = "pipeline",
     .help = "Schedule1F1B: a stage of the units on each GPU; a batch is one micro-batch of --loop=accumulate-N",
     .pipeline = true},
};

/* Both of two texts, of which either may be NULL. */
static const char *
joined(struct arena *a, const char *s, const char *t)
{
    return s && t ? arena_printf(a, "%s%s", s, t) : s ? s : t;
}

const char *
parallel_with(struct arena *a, const char *way, const char *option)
{
    return arena_printf(a, "%s%c%s", way, strchr(way, ':') ? ',' : ':', option);
}

/* A way with one more of its options. */
static void
add_option(struct arena *a, struct parallel *to, const struct parallel *o)
{
    to->name = parallel_with(a, to->name, strchr(o->name, ':') + 1);
    to->arguments = joined(a, to->arguments, o->arguments);
    to->import = joined(a, to->import, o->import);
    to->policy = joined(a, o->policy, to->policy);
    to->before = o->before ? o->before : to->before;
    to->loop = o->loop ? o->loop : to->loop;
    to->bucket_view |= o->bucket_view;
    to->finds_unused |= o->finds_unused;
    to->maps |= o->maps;
    to->on_meta |= o->on_meta;
    to->keeps |= o->keeps;
    to->offloads |= o->offloads;
    to->reduces_low |= o->reduces_low;
    to->waits |= o->waits;
    to->sequence |= o->sequence;
    to->within = o->within ? o->within : to->within;
    to->reshards = o->reshards ? o->reshards : to->reshards;
    to->low = o->low != DT_UNDEFINED ? o->low : to->low;
}

static bool
names_option(const char *options, const char *name)
{
    size_t n = strlen(name);
    for (const char *at = options; at; at = strchr(at, ','), at += at != NULL)
        if (strncmp(at, name, n) == 0 && (!at[n] || at[n] == ','))
            return true;
    return false;
}

const struct parallel *
parallel_find(struct arena *a, const char *text)
{
    size_t n = strcspn(text, ":");
    const char *options = text[n] ? text + n + 1 : NULL;
    struct parallel *found = NULL;
    int left = options ? 1 : 0;
    for (const char *at = options; at && (at = strchr(at, ',')); at++)
        left++;
    for (int i = 0; i < COUNT(strategies); i++) {
        const struct parallel *row = &strategies[i];
        if (strncmp(row->name, text, n) != 0 || (row->name[n] && row->name[n] != ':'))
            continue;
        if (!found && strcmp(row->name, text) == 0)
            return row;
        if (!row->name[n]) {
            found = arena_dup(a, row, sizeof(*row));
        } else if (found && names_option(options, row->name + n + 1)) {
            if ((row->low != DT_UNDEFINED && found->low != DT_UNDEFINED) || (row->reshards && found->keeps))
                return NULL; /* one policy or the other */
            add_option(a, found, row);
            left--;
        }
    }
    return left ? NULL : found;
}

const char *
parallel_name(int i)
{
    return i < COUNT(strategies) ? strategies[i].name : NULL;
}

void
parallel_list(FILE *out)
{
    for (int i = 0; i < COUNT(strategies); i++)
        fprintf(out, "%s\t%s\n", strategies[i].name, strategies[i].help);
}

void
ranks_exchange(struct machine *m, int64_t bytes, int times)
{
    for (int i = 0; i < times; i++)
        m->exchanged = bytes_add(m->exchanged, bytes);
}

struct value *
ranks_flat(struct machine *m, enum class class, const char *name, enum dtype t, int64_t elements)
{
    return value_born(m, "empty.memory_format", class, name, t, 1, &elements);
}

struct value *
ranks_buffer(struct machine *m, int stream, enum class class, const char *name, enum dtype t, int64_t elements)
{
    m->stream = (uint8_t)(1 + stream);
    struct value *v = ranks_flat(m, class, name, t, elements);
    m->stream = 0;
    return v;
}

static int
by_address(const void *key, const void *record)
{
    uintptr_t a = (uintptr_t)key, b = (uintptr_t) * (struct value * *const *)record;
    return (a > b) - (a < b);
}

void *
ranks_find(struct value **grad, void *records, int n, size_t size)
{
    return n ? bsearch(grad, records, (size_t)n, size, by_address) : NULL;
}

void
ranks_move(struct machine *m, struct value **grad, const struct value *v, struct value *to)
{
    int mark = scope_begin(m);
    struct value *view = value_adopt(m, value_keep(value_view(m, to, v->rank, v->size, v->stride)));
    scope_end(m, mark, 0, NULL);
    value_drop(m, *grad);
    *grad = view;
}

/* ---- buckets ----------------------------------------------------------------------------------------------------- */

enum { FIRST = 1 << 20, LATER = 25 << 20, BROADCAST = 250 << 20 }; /* bytes: _DEFAULT_FIRST_BUCKET_BYTES and on */
enum { IN_FLIGHT = 2 };                                            /* max_in_flight of broadcast_coalesced */

struct member {
    struct value **grad; /* NULL: a buffer */
    const struct value *v;
    int bucket;
    bool ready; /* its gradient has come */
};

struct members {
    struct member *all;
    int n, cap;
};

struct reducer {
    struct machine *m;
    const struct parallel *how;
    struct members params, buffers;
    int *order, nready; /* parameters in the order in which their gradients came */
    struct value **bucket;
    int nbuckets;
    bool rebuilt, waited; /* waited: the last micro-batch's gradients were not reduced */
};

void
reducer_add(struct reducer *r, const struct value *v, struct value **grad)
{
    struct members *to = grad ? &r->params : &r->buffers;
    *PUSH(r->m->keep, to->all, to->n, to->cap) = (struct member){grad, v, -1, false};
}

/* A bucket of a type is full at its limit: the first one at first, the others at later. Returns how many there are;
 * size: the elements of each, type: its type. */
static int
assign(struct members *of, const int *order, int64_t first, int64_t later, int64_t *size, enum dtype *type)
{
    struct {
        int bucket;
        int64_t limit;
    } open[DT_COUNT];
    int count = 0;
    for (int t = 0; t < DT_COUNT; t++) {
        open[t].bucket = -1;
        open[t].limit = first;
    }
    for (int i = 0; i < of->n; i++) {
        struct member *k = &of->all[order ? order[i] : i];
        enum dtype t = k->v->dtype;
        if (open[t].bucket < 0) {
            type[count] = t;
            size[count] = 0;
            open[t].bucket = count++;
        }
        k->bucket = open[t].bucket;
        size[k->bucket] += value_elements(k->v);
        if (dtype_bytes(t, size[k->bucket]) >= open[t].limit) {
            open[t].bucket = -1;
            open[t].limit = later;
        }
    }
    return count;
}

static void
make_buckets(struct reducer *r, const int *order, int64_t first)
{
    struct machine *m = r->m;
    int64_t *size = NEWN(m->keep, int64_t, r->params.n + 1);
    enum dtype *type = NEWN(m->keep, enum dtype, r->params.n + 1);
    for (int i = 0; i < r->nbuckets; i++)
        value_drop(m, r->bucket[i]);
    r->nbuckets = assign(&r->params, order, first, LATER, size, type);
    r->bucket = NEWN(m->keep, struct value *, r->nbuckets + 1);
    for (int i = 0; i < r->nbuckets; i++) { /* in the model's order the last one is made first */
        int at = order ? i : r->nbuckets - 1 - i;
        r->bucket[at] = ranks_flat(m, CLASS_GRADIENTS, "DDP bucket", type[at], size[at]);
    }
}

void
reducer_build(struct reducer *r)
{
    r->order = NEWN(r->m->keep, int, r->params.n + 1);
    make_buckets(r, NULL, r->how->finds_unused ? FIRST : INT64_MAX);
    if (r->how->maps)
        ranks_flat(r->m, CLASS_WORKSPACE, "DDP's used parameters", DT_INT32, r->params.n);
}

struct value *
reducer_output(struct machine *m, struct value *out)
{
    return m->reducer->how->finds_unused ? value_keep(OP(m, "clone.default", VAL(out))) : out;
}

/* Flat copies of a type's buffers, of which two are on their way at once. One tensor is its own flat copy. */
static void
broadcast_buffers(struct reducer *r)
{
    struct machine *m = r->m;
    int64_t *size = NEWN(m->a, int64_t, r->buffers.n + 1);
    enum dtype *type = NEWN(m->a, enum dtype, r->buffers.n + 1);
    int *members = NEWN(m->a, int, r->buffers.n + 1), n = assign(&r->buffers, NULL, BROADCAST, BROADCAST, size, type);
    struct value **copy = NEWN(m->a, struct value *, n + 1);
    for (int i = 0; i < r->buffers.n; i++)
        members[r->buffers.all[i].bucket]++;
    for (int i = 0; i < n + IN_FLIGHT; i++) {
        if (i >= IN_FLIGHT)
            value_drop(m, copy[i - IN_FLIGHT]);
        if (i < n && members[i] > 1)
            copy[i] = ranks_flat(m, CLASS_GRADIENTS, "DDP bucket", type[i], size[i]);
        if (i < n)
            ranks_exchange(m, dtype_bytes(type[i], size[i]), 1);
    }
}

const char *
reducer_forward(struct reducer *r)
{
    const char *missing = NULL;
    if (!r->rebuilt && r->nready && !r->how->finds_unused) {
        for (int i = 0; i < r->params.n; i++)
            if (!r->params.all[i].ready) {
                missing = missing ? missing : r->params.all[i].v->st->name;
                r->order[r->nready++] = i;
            }
        make_buckets(r, r->order, FIRST);
        r->rebuilt = true;
    }
    if (!r->waited)
        broadcast_buffers(r);
    r->waited = r->how->waits && r->m->more_micro_batches;
    return missing;
}

static void
ready(struct machine *m, struct value **grad)
{
    struct reducer *r = m->reducer;
    struct member *k = ranks_find(grad, r->params.all, r->params.n, sizeof(*k));
    if (!k || r->waited)
        return;
    if (!k->ready && !r->rebuilt)
        r->order[r->nready++] = (int)(k - r->params.all);
    k->ready = true;
    struct value *to = r->bucket[k->bucket];
    if (r->how->bucket_view && (*grad)->st != to->st)
        ranks_move(m, grad, k->v, to);
}

static void
reduced(struct machine *m)
{
    for (int i = 0; i < m->reducer->nbuckets && !m->reducer->waited; i++)
        ranks_exchange(m, m->reducer->bucket[i]->st->requested, 2);
}

static const struct collectives of_buckets = {.ready = ready, .finish = reduced};

struct reducer *
reducer_new(struct machine *m, const struct parallel *how)
{
    struct reducer *r = NEW(m->keep, struct reducer);
    r->m = m;
    r->how = how;
    m->collectives = &of_buckets;
    return r;
}

/* ---- ZeroRedundancyOptimizer ------------------------------------------------------------------------------------- */

struct share {
    int at;
    int64_t elements;
};

static int
larger_first(const void *a, const void *b)
{
    const struct share *x = a, *y = b;
    return x->elements != y->elements ? (x->elements < y->elements ? 1 : -1) : x->at - y->at;
}

int
parallel_share(struct arena *a, int gpus, int n, const int64_t *elements, int *mine)
{
    struct share *all = NEWN(a, struct share, n + 1);
    int64_t *load = NEWN(a, int64_t, gpus);
    int count = 0;
    for (int i = 0; i < n; i++)
        all[i] = (struct share){i, elements[i]};
    if (n)
        qsort(all, (size_t)n, sizeof(*all), larger_first);
    for (int i = 0; i < n; i++) {
        int least = 0;
        for (int k = 1; k < gpus; k++)
            least = load[k] < load[least] ? k : least;
        load[least] += all[i].elements;
        if (least == 0)
            mine[count++] = all[i].at;
    }
    return count;
}
