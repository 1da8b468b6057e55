/* SPDX-License-Identifier: Apache-2.0 */
/* packing.c - a frozen base in four bits, as QLoRA trains adapters on: the program with bitsandbytes' layers.
 *
 * A linear layer whose weight is frozen becomes Linear4bit, but for the last one, which Transformers leaves as it is:
 * its weight two elements a byte, with the largest of each block of them, and a table of what four bits stand for. Each
 * pass makes the weight anew in the type that it had. Under PEFT's adapters the layer's result is cloned.
 *
 * Source: bitsandbytes 0.50.2, nn/modules.py (Linear4bit, Params4bit), functional.py (quantize_4bit, dequantize_4bit),
 * autograd/_functions.py (MatMul4Bit) and backends/cuda/ops.py (gemm_4bit); peft/tuners/lora/bnb.py (Linear4bit) of
 * 0.21; transformers/integrations/bitsandbytes.py (get_keys_to_not_convert) of 4.57.
 */
#include "base/setup.h"
#include "torch/run.h"

#include <string.h>

enum { BLOCK = 64, BLOCK_OF_BLOCKS = 256, CODES = 16, CODES_OF_BLOCKS = 256 };
enum { OWN_KERNEL = 1536 /* rows, up to which gemm_4bit may multiply without the weight in full */ };

struct packing {
    const char *name, *help;
    bool nested; /* the largest elements are in 8 bits */
};

static const struct packing bases[] = {
    {"nf4", "load_in_4bit of bitsandbytes: half a byte an element, a float for 64 of them", false},
    {"nf4-double", "the same with bnb_4bit_use_double_quant: a byte for 64, a float for 16,384 of them", true},
};

const struct packing *
packing_find(const char *name)
{
    for (int i = 0; i < COUNT(bases); i++)
        if (strcmp(bases[i].name, name) == 0)
            return &bases[i];
    return NULL;
}

const char *
packing_name(int i)
{
    return i < COUNT(bases) ? bases[i].name : NULL;
}

const char *
packing_text(const struct packing *b)
{
    return b->name;
}

void
packing_list(FILE *out)
{
    for (int i = 0; i < COUNT(bases); i++)
        fprintf(out, "%s\t%s\n", bases[i].name, bases[i].help);
}

/* ---- the program ------------------------------------------------------------------------------------------------- */

enum { WEIGHT = 1 /* argument of a linear layer */ };

/* A tensor beside the weight, which no precision changes. */
static struct arg
beside(struct program *p, const struct param *of, const char *name, enum dtype t, int rank, int64_t n)
{
    *PUSH(p->arena, p->params, p->nparams, p->cap_params) =
        (struct param){.name = arena_printf(p->arena, "%s.%s", of->name, name),
                       .kind = PARAM_CONSTANT,
                       .slot = p->nslots,
                       .module = of->module,
                       .tied_to = -1,
                       .dtype = t,
                       .is_exact = true,
                       .rank = rank,
                       .size = arena_dup(p->arena, &n, sizeof(n))};
    return (struct arg){.kind = ARG_SLOT, .i = p->nslots++};
}

/* What the layer's call gets for its weight: the tensors of Params4bit and its quant_state. */
struct packed {
    bool is;
    struct arg arg[6];
    int64_t rows, columns;
    enum dtype dtype;
};

static struct packed
pack(struct program *p, const struct setup *s, int i)
{
    const struct param q = p->params[i];
    const int64_t n = q.size[0] * q.size[1], blocks = div_up(n, BLOCK), size[] = {div_up(n, 2), 1};
    struct packed x = {.is = true,
                       .arg = {{.kind = ARG_SLOT, .i = q.slot}},
                       .rows = q.size[0],
                       .columns = q.size[1],
                       .dtype = precision_type(s->precision, q.dtype)};
    p->params[i].dtype = DT_UINT8;
    p->params[i].size = arena_dup(p->arena, size, sizeof(size));
    x.arg[1] = beside(p, &q, "absmax", s->base->nested ? DT_UINT8 : DT_FLOAT, 1, blocks);
    x.arg[2] = beside(p, &q, "quant_map", DT_FLOAT, 1, CODES);
    if (s->base->nested) {
        x.arg[3] = beside(p, &q, "nested_absmax", DT_FLOAT, 1, div_up(blocks, BLOCK_OF_BLOCKS));
        x.arg[4] = beside(p, &q, "nested_quant_map", DT_FLOAT, 1, CODES_OF_BLOCKS);
        x.arg[5] = beside(p, &q, "nested_offset", DT_FLOAT, 0, 1);
    }
    return x;
}

static bool
is_layer(const struct call *c)
{
    return target_is(c->target, TARGET_PROJECTS) && c->nargs > WEIGHT && c->args[WEIGHT].kind == ARG_SLOT;
}

/* Per parameter, whether calls of linear layers alone read it, the last one not among them. *other: one that a product
 * reads which is no linear layer, as Transformers' Conv1D has it; NULL none. */
static bool *
packable(struct program *p, int last, const char **other)
{
    bool *can = NEWN(p->arena, bool, p->nparams + 1);
    for (int i = 0; i < p->nparams; i++) {
        const struct param *q = &p->params[i];
        can[i] = q->kind == PARAM_FROZEN && q->rank == 2 && dtypes[q->dtype].is_float;
    }
    for (int i = 0; i < p->nparams; i++)
        if (p->params[i].tied_to >= 0)
            can[i] = can[p->params[i].tied_to] = false;
    *other = NULL;
    for (int k = 0, slot; k < p->ncalls; k++) {
        const struct call *c = &p->calls[k];
        const bool multiplies = target_is(c->target, TARGET_MULTIPLIES) || (c->op && c->op->inner);
        for (struct call_reads r = {c}; (slot = next_read(&r)) >= 0;)
            for (int i = 0; i < p->nparams; i++)
                if (p->params[i].slot == slot && can[i] && (k == last || !is_layer(c) || r.arg != WEIGHT)) {
                    can[i] = false;
                    *other = multiplies ? p->params[i].name : *other;
                }
    }
    return can;
}

/* Rows that a call multiplies; 0 unknown. */
static int64_t
rows_of(const struct call *c)
{
    int64_t n = c->rank > 0;
    for (int d = 0; d + 1 < c->rank; d++)
        n = c->size[d] > 0 && mul_ok(n, c->size[d], &n) ? n : 0;
    return n;
}

static bool
under_adapters(const struct program *p, const struct call *c)
{
    return string_ends(p->modules[c->scope].path, "base_layer");
}

static bool
is_spread(const struct setup *s)
{
    const struct parallel *how = s->mode == MODE_TRAINING ? s->parallel : NULL;
    return how && (how->shards || how->tensor || how->pipeline);
}

/* Where adapters are of another type, PEFT casts what they make before it is added, and not the sum as for layers that
 * are not packed. Whether it was so. */
static bool
move_cast(struct program *p, int layer)
{
    int at = layer + 1;
    while (at < p->ncalls &&
           !(target_named(p->calls[at].target, "add") && p->calls[at].nargs > 1 &&
             p->calls[at].args[0].kind == ARG_SLOT && p->calls[at].args[0].i == p->calls[layer].outs[0]))
        at++;
    if (at + 1 >= p->ncalls)
        return false;
    struct call sum = p->calls[at], cast = p->calls[at + 1];
    if (!target_named(cast.target, "to") || cast.args[0].kind != ARG_SLOT || cast.args[0].i != sum.outs[0])
        return false;
    const int slot = p->nslots++;
    int *outs = cast.outs;
    sum.args = arena_dup(p->arena, sum.args, sizeof(*sum.args) * (size_t)sum.nargs);
    cast.args = arena_dup(p->arena, cast.args, sizeof(*cast.args) * (size_t)cast.nargs);
    cast.args[0] = sum.args[1];
    cast.outs = arena_dup(p->arena, &slot, sizeof(slot));
    sum.args[1].i = slot;
    sum.outs = outs;
    p->calls[at] = cast;
    p->calls[at + 1] = sum;
    return true;
}

/* What stands in the way of a number. */
static void
doubt(struct program *p, const struct setup *s, int layers, const char *adapter, const char *other)
{
    bool autocast, half = precision_half(s->precision, &autocast) != DT_UNDEFINED;
    struct graph *g = p->graph;
    if (!layers)
        graph_doubt(g, "model", "--base", "--train='*lora_*'",
                    "no linear layer has a frozen weight, which --base would keep in 4 bits");
    if (autocast && half)
        graph_doubt(
            g, "model", "--base", "--precision=bf16",
            "under autocast bnb_4bit_compute_dtype and the first batch say in which type layers in 4 bits compute");
    if (other)
        graph_doubt(g, other, "--base", NULL,
                    "a product reads it that is no linear layer, and how bitsandbytes keeps it is not known");
    if (adapter)
        graph_doubt(g, adapter, "--base", "--precision=bf16",
                    "adapters are of another type than the base, and where their results are cast is not seen");
    if (is_spread(s))
        graph_doubt(g, "model", "--base", "--parallel=ddp", "how several GPUs share weights in 4 bits is not known");
}

void
packing_run(struct program *p, const struct setup *s)
{
    int last = p->ncalls - 1, layers = 0;
    bool small = false, mixed = false;
    while (last >= 0 && !is_layer(&p->calls[last]))
        last--;
    const char *adapter = NULL, *other;
    const bool *can = packable(p, last, &other);
    const int n = is_spread(s) ? 0 : p->nparams;
    enum dtype type = DT_UNDEFINED;
    struct packed *packed = NEWN(p->arena, struct packed, n + 1);
    for (int i = 0; i < n; i++)
        if (can[i]) {
            packed[i] = pack(p, s, i);
            type = packed[i].dtype;
        }
    for (int i = 0; i < n && type; i++)
        if (p->params[i].kind == PARAM_TRAINED && precision_type(s->precision, p->params[i].dtype) != type)
            adapter = adapter ? adapter : p->params[i].name;
    for (int k = 0; k < p->ncalls; k++) {
        struct call *c = &p->calls[k];
        const struct packed *x = NULL;
        for (int i = 0; i < n && is_layer(c); i++)
            x = packed[i].is && p->params[i].slot == c->args[WEIGHT].i ? &packed[i] : x;
        if (!x)
            continue;
        const struct arg bias = c->nargs > WEIGHT + 1 ? c->args[WEIGHT + 1] : NONE;
        const struct arg args[] = {c->args[0], x->arg[0], bias,         x->arg[1],       x->arg[2],      x->arg[3],
                                   x->arg[4],  x->arg[5], INT(x->rows), INT(x->columns), DTYPE(x->dtype)};
        c->op = aten_find(under_adapters(p, c) ? "peft.Linear4bit" : "bitsandbytes.matmul_4bit");
        c->nargs = COUNT(args);
        c->args = arena_dup(p->arena, args, sizeof(args));
        mixed |= under_adapters(p, c) && adapter && !move_cast(p, k);
        small |= rows_of(c) <= OWN_KERNEL;
        layers++;
    }
    doubt(p, s, layers, mixed ? adapter : NULL, other);
    if (layers)
        program_assume(
            p, ALTERNATIVE_NONE,
            "%d linear layers with frozen weights are bitsandbytes' Linear4bit (0.50), which computes in the "
            "model's type; the last linear layer is as it is, which Transformers does not convert",
            layers);
    if (small)
        program_assume(p, ALTERNATIVE_KERNEL,
                       "layers in 4 bits make their weight in full also for up to %d rows of input, where bitsandbytes "
                       "has kernels of its own for some GPUs",
                       OWN_KERNEL);
}

/* ---- the step ---------------------------------------------------------------------------------------------------- */

enum { INPUT, PACKED, BIAS, ABSMAX, CODE, NESTED, NESTED_CODE, OFFSET, ROWS, COLUMNS, TYPE };

void
run_dequantize_blocks(struct machine *m, struct frame *f)
{
    out_add(m, f, value_new(m, DT_FLOAT, V(0)->rank, V(0)->size, NULL));
}

void
run_dequantize_4bit(struct machine *m, struct frame *f)
{
    out_add(m, f, value_new(m, (enum dtype)f->a[4].i, 2, (int64_t[]){f->a[2].i, f->a[3].i}, NULL));
}

/* gemm_4bit, where it takes the weight apart (_dequant_linear_fallback). */
void
run_matmul_4bit(struct machine *m, struct frame *f)
{
    struct value *x = V(INPUT);
    const int64_t size[] = {f->a[ROWS].i, f->a[COLUMNS].i};
    int64_t rows = 1, out[RANK];
    for (int d = 0; d + 1 < x->rank; d++)
        rows *= x->size[d];
    if (setup_instead(m->s, ALTERNATIVE_KERNEL) && rows <= OWN_KERNEL && size[1] % BLOCK == 0) {
        memcpy(out, x->size, sizeof(*out) * (size_t)x->rank);
        out[x->rank - 1] = size[0];
        out_add(m, f, value_new(m, x->dtype, x->rank, out, NULL));
        return;
    }
    int mark = scope_begin(m);
    if (V(NESTED)) {
        m->op = "empty_like.default";
        struct value *absmax = value_new(m, DT_FLOAT, V(ABSMAX)->rank, V(ABSMAX)->size, NULL);
        OP(m, "add.Tensor", VAL(absmax), VAL(V(OFFSET))); /* alive until the product is made */
    }
    m->op = "empty.memory_format";
    struct value *w = value_new(m, x->dtype, 2, size, NULL), *y = OP(m, "linear.default", VAL(x), VAL(w), VAL(V(BIAS)));
    scope_end(m, mark, 1, &y);
    out_add(m, f, y);
}

/* The gradient of the input: arguments as of the layer, the gradient for the input. */
void
expand_matmul_4bit_backward(struct machine *m, struct frame *f)
{
    struct value *absmax = V(ABSMAX);
    int mark = scope_begin(m);
    if (V(NESTED))
        absmax = OP(m, "bitsandbytes.dequantize_blockwise.default", VAL(absmax), VAL(V(NESTED)), VAL(V(NESTED_CODE)));
    struct value *w = OP(m, "bitsandbytes.dequantize_4bit.default", VAL(V(PACKED)), VAL(absmax), f->a[ROWS],
                         f->a[COLUMNS], f->a[TYPE]);
    scope_end(m, mark, 1, &w);
    w = OP(m, "to.dtype", VAL(w), DTYPE(V(INPUT)->dtype));
    out_add(m, f, OP(m, "matmul.default", VAL(V(INPUT)), VAL(w)));
}

/* The clone "defensively" made of what a layer under adapters returns. */
void
expand_cloned_4bit(struct machine *m, struct frame *f)
{
    struct value *y = op_call(m, "bitsandbytes.matmul_4bit", f->n, f->a);
    out_add(m, f, OP(m, "clone.default", VAL(y)));
}
