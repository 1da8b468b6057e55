/* SPDX-License-Identifier: Apache-2.0 */
/* rnn.c - LSTM, GRU and RNN as PyTorch runs them on a GPU: one cuDNN call for all layers, or a cell for each step.
 *
 * Source: aten/src/ATen/native/cudnn/RNN.cpp, _cudnn_rnn and _cudnn_rnn_backward; aten/src/ATen/native/RNN.cpp for the
 * composites and for which of both it is (use_cudnn). The module keeps its weights side by side
 * (flatten_parameters), so there is no copy of them; their gradients are views of one buffer. A batch_first input is
 * transposed and made contiguous for cuDNN's call, forward and backward.
 *
 * What cuDNN keeps for its backward pass (the reserve) and takes while it runs (the workspace) it tells to a handle
 * alone. The formulas below are those of cuDNN 9.19 on an H200: tests/oracle/queries.py asked it about 2,000 sizes of
 * each kind, and PyTorch took as much (h200.tar.xz there: recurrent.tsv, sweeps.jsonl). Two reserves that were
 * published in 2017 have them, too: 736,000,000 bytes of an LSTM and 864,000,000 of a GRU (pytorch/pytorch 2895).
 */
#include "base/setup.h"
#include "torch/run.h"

#include <string.h>

enum { MODE_RELU, MODE_TANH, MODE_LSTM, MODE_GRU };

/* Of a row, by how its name begins. */
static int
mode_of(const struct aten *op)
{
    static const char *const names[] = {
        [MODE_RELU] = "rnn_relu", [MODE_TANH] = "rnn_tanh", [MODE_LSTM] = "lstm", [MODE_GRU] = "gru"};
    int mode = 0;
    while (strncmp(op->name, names[mode], strlen(names[mode])) != 0)
        mode++;
    return mode;
}

/* What cuDNN keeps and takes, in elements per sample of a layer's hidden state; indices: directions - 1. */
static const struct cell {
    int gates;
    int kept;        /* per time step and layer; of the last layer one less: its output is the call's result */
    int forward[2];  /* taken per layer, beside what is taken per time step, */
    int backward[2]; /* the same of a backward pass; */
    int small_forward[2], small_backward[2]; /* by kernels for small hidden states, */
    int small_steps;                         /* which take so much more per time step in a backward pass, */
    int small_most[2];                       /* and run up to so large a hidden state: forward, backward */
} cells[] = {
    [MODE_RELU] = {1, 2, {3, 10}, {5, 14}, {4, 10}, {6, 14}, 9, {384, 256}},
    [MODE_TANH] = {1, 2, {3, 10}, {5, 14}, {4, 10}, {6, 14}, 9, {384, 256}},
    [MODE_LSTM] = {4, 6, {10, 24}, {11, 26}, {8, 18}, {12, 26}, 12, {192, 128}},
    [MODE_GRU] = {3, 7, {5, 14}, {5, 14}, {4, 10}, {6, 14}, 14, {192, 128}},
};

/* Of a call's layers. Source: RNN.cpp, get_algo. */
struct layers {
    int64_t mode, both;
    int64_t bytes; /* of an element */
    int64_t small; /* kernels for small hidden states, or persistent ones */
    int64_t n[5];
};
enum { INPUT, HIDDEN, LAYERS, BATCH, STEPS };

static bool
is_persistent(struct machine *m, const struct value *x, const struct layers *l)
{
    enum { FROM = 80, NOT_FROM = 86, NOT_BELOW = 87, UNIT = 128, MOST = 1024, LARGE = 896, FEW = 96 };
    const int64_t *n = l->n;
    return x->dtype == DT_FLOAT16 && n[LAYERS] == 1 && !l->both && n[HIDDEN] <= MOST && n[HIDDEN] % UNIT == 0 &&
           n[INPUT] % UNIT == 0 && n[BATCH] % 8 == 0 && n[BATCH] <= UNIT && l->mode != MODE_GRU &&
           (l->mode == MODE_LSTM || n[BATCH] < FEW || n[HIDDEN] < LARGE) && machine_from(m, FROM) &&
           (!machine_from(m, NOT_FROM) || machine_from(m, NOT_BELOW));
}

static struct layers
layers_of(struct machine *m, const struct value *x, const struct value *hx, int64_t mode, int64_t directions,
          bool backward)
{
    const int64_t hidden = hx->size[2];
    struct layers l = {.mode = mode,
                       .both = directions > 1,
                       .bytes = dtypes[x->dtype].bits / 8,
                       .n = {[INPUT] = x->size[2],
                             [HIDDEN] = hidden,
                             [LAYERS] = hx->size[0] / directions,
                             [BATCH] = x->size[1],
                             [STEPS] = x->size[0]}};
    l.small = x->dtype != DT_BFLOAT16 && x->dtype != DT_DOUBLE && hidden <= cells[mode].small_most[backward];
    l.small = l.small || is_persistent(m, x, &l);
    return l;
}

/* Bytes of the reserve; the bits are those of dropouts between layers. */
static int64_t
reserve_bytes(const struct layers *l, bool drops)
{
    enum { MORE = 256, ALIGNMENT = 32 };
    const int64_t *n = l->n, of = (cells[l->mode].kept * n[LAYERS] - 1) * (1 + l->both);
    int64_t states, bytes;
    if (!mul_ok(n[STEPS] * n[BATCH], n[HIDDEN], &states) || !mul_ok(states, of * l->bytes, &bytes))
        return 0;
    if (drops)
        bytes += (n[LAYERS] - 1) * (1 + l->both) * div_up(states * (1 + l->both), 8);
    return div_up(bytes + MORE, ALIGNMENT) * ALIGNMENT;
}

/* Bytes of the workspace: the weights once more, what a forward or a backward pass takes, whichever is more, and the
 * products' own workspaces. A forward pass in one direction has the gates of so many time steps, and layers on top of
 * each other go back by blocks of steps, a layer one block behind the other. */
static int64_t
workspace_bytes(const struct layers *l)
{
    enum { PRODUCTS = 8 << 20, GATED = 256, BLOCK = 8 };
    const struct cell *c = &cells[l->mode];
    const int both = (int)l->both, small = l->small ? 4 * c->gates : 0;
    const double input = (double)l->n[INPUT], hidden = (double)l->n[HIDDEN], layers = (double)l->n[LAYERS],
                 steps = (double)l->n[STEPS], wider = input > hidden ? input : hidden,
                 gated = steps > GATED && !both && !small ? GATED : steps,
                 behind = BLOCK * (layers + 1) < steps ? BLOCK * (layers + 1) : steps;
    double forward = steps * input +
                     hidden * (both ? steps * (2 * c->gates + 6 + small) : steps + gated * c->gates + steps * small) +
                     hidden * layers * (small ? c->small_forward : c->forward)[both];
    double backward = steps * (2 * input + (both ? 4 : 1) * wider) +
                      hidden * layers * (small ? c->small_backward : c->backward)[both];
    if (both)
        backward += steps * hidden * (layers > 1 ? 8 : 6);
    else if (small)
        backward += steps * hidden * (layers > 1 ? 4 : 3);
    else
        backward += hidden * (layers > 1 ? 2 * steps + behind : 3 * steps);
    backward += small ? steps * hidden * c->small_steps : 0;
    const double matrices = hidden * c->gates * (1 + both) * (input + hidden + (layers - 1) * hidden * (2 + both));
    const double most = (double)l->n[BATCH] * (forward > backward ? forward : backward) + matrices,
                 bytes = most * (double)l->bytes + PRODUCTS * layers * (1 + both);
    return bytes < (double)MAX_STORAGE_BYTES ? (int64_t)bytes : MAX_STORAGE_BYTES;
}

static void
workspace_blocks(struct machine *m, const struct ask *q, struct workspaces *to)
{
    (void)m;
    struct layers l;
    memcpy(&l, q->of, offsetof(struct layers, n));
    memcpy(l.n, q->number, sizeof(l.n));
    workspaces_add(to, workspace_bytes(&l));
    workspaces_add(to, 0);
}

/* Takes and gives back the workspace where it counts, as those of convolutions; notes it where naming a device would
 * make it count. */
static void
take_workspace(struct machine *m, const struct layers *l)
{
    if (cudnn_counted(m)) {
        if (m->real)
            ask_blocks(m, &(struct ask){workspace_blocks, l, offsetof(struct layers, n), COUNT(l->n), l->n});
        return;
    }
    int64_t bytes = m->s->device ? 0 : workspace_bytes(l);
    if (m->cudnn.recurrent < bytes)
        m->cudnn.recurrent = bytes;
}

static struct value *
time_first(struct machine *m, struct value *v, bool batch_first)
{
    return OP(m, "contiguous.default", VAL(batch_first ? OP(m, "transpose.int", VAL(v), INT(0), INT(1)) : v));
}

static struct value *
as_given(struct machine *m, struct value *v, bool batch_first)
{
    return batch_first ? OP(m, "transpose.int", VAL(v), INT(0), INT(1)) : v;
}

/* _cudnn_rnn(input, weight, hx, cx, mode, batch_first, directions, drops): output, hy, cy, reserve */
void
rnn_forward(struct machine *m, struct frame *f)
{
    struct value *hx = V(2), *cx = V(3), *x;
    bool batch_first = arg_int(f, 5, 0), training = m->s->mode == MODE_TRAINING;
    int64_t mode = arg_int(f, 4, 0), directions = arg_int(f, 6, 1), none = 0;
    x = time_first(m, V(0), batch_first);
    int64_t size[] = {x->size[0], x->size[1], directions * hx->size[2]};
    struct value *y = value_new(m, x->dtype, 3, size, NULL), *hy = value_new(m, hx->dtype, 3, hx->size, NULL);
    struct value *cy = cx ? value_new(m, cx->dtype, 3, cx->size, NULL) : value_new(m, hx->dtype, 1, &none, NULL);
    const struct layers l = layers_of(m, x, hx, mode, directions, false);
    int64_t bytes = reserve_bytes(&l, arg_int(f, 7, 0));
    struct value *reserve = training ? value_new(m, DT_UINT8, 1, &bytes, NULL) : NULL;
    take_workspace(m, &l);
    out_add(m, f, as_given(m, y, batch_first));
    out_add(m, f, hy);
    out_add(m, f, cy);
    out_add(m, f, reserve);
}

/* _cudnn_rnn_backward_input(input, hx, cx, output, grad, grad_hy, grad_cy, batch_first, mode, directions) */
void
rnn_backward_input(struct machine *m, struct frame *f)
{
    struct value *x = V(0), *hx = V(1), *cx = V(2), *y = V(3);
    bool batch_first = arg_int(f, 7, 0);
    struct value *t = batch_first ? OP(m, "transpose.int", VAL(x), INT(0), INT(1)) : x;
    struct value *dy = V(4) ? V(4) : OP(m, "zeros_like.default", VAL(y));
    time_first(m, x, batch_first);
    time_first(m, dy, batch_first);
    struct value *dx = value_new(m, x->dtype, 3, t->size, NULL);
    if (!V(5))
        OP(m, "zeros_like.default", VAL(hx));
    if (!V(6) && cx)
        OP(m, "zeros_like.default", VAL(cx));
    struct value *dhx = value_new(m, hx->dtype, hx->rank, hx->size, NULL);
    struct value *dcx = cx ? value_new(m, cx->dtype, cx->rank, cx->size, NULL) : NULL;
    const struct layers l = layers_of(m, t, hx, arg_int(f, 8, 0), arg_int(f, 9, 1), true);
    take_workspace(m, &l);
    out_add(m, f, as_given(m, dx, batch_first));
    out_add(m, f, dhx);
    if (cx)
        out_add(m, f, dcx);
}

/* _cudnn_rnn_backward_weight(input, weight, batch_first, reserve, hx, mode, directions): views of one buffer */
void
rnn_backward_weight(struct machine *m, struct frame *f)
{
    int64_t all = 0;
    struct arg *w = f->a[1].list;
    const struct value *x = time_first(m, V(0), arg_int(f, 2, 0));
    for (int i = 0; i < f->a[1].n; i++)
        all += value_elements(w[i].v);
    struct value *flat = value_new(m, w[0].v->dtype, 1, &all, NULL);
    const struct layers l = layers_of(m, x, V(4), arg_int(f, 5, 0), arg_int(f, 6, 1), true);
    take_workspace(m, &l);
    for (int i = 0; i < f->a[1].n; i++)
        out_add(m, f, value_view(m, flat, w[i].v->rank, w[i].v->size, w[i].v->stride));
}

/* ---- cells ------------------------------------------------------------------------------------------------------- */

enum { CELL_WEIGHTS = 4 }; /* w_ih, w_hh, b_ih, b_hh */

/* Both products without their biases, then the kernel. */
static void
gated(struct machine *m, const char *kernel, struct arg x, struct arg h, struct arg c, const struct arg *w,
      struct value **made, int nmade)
{
    struct value *gates[] = {OP(m, "matmul.default", x, VAL(OP(m, "t.default", w[0]))),
                             OP(m, "matmul.default", h, VAL(OP(m, "t.default", w[1])))};
    const struct arg a[] = {VAL(gates[0]), VAL(gates[1]), c, w[2], w[3]};
    const struct frame *r = dispatch(m, aten_find(kernel), COUNT(a), a, NULL);
    for (int i = 0; i < nmade; i++)
        made[i] = i < r->nout ? r->out[i] : NULL;
}

/* The hidden state's product takes the input's in place, even under a dispatch mode. */
static struct value *
simple(struct machine *m, const char *activation, struct arg x, struct arg h, const struct arg *w)
{
    struct value *hidden = OP(m, "linear.default", h, w[1], w[3]);
    struct value *input = OP(m, "linear.default", x, w[0], w[2]);
    struct arg a[] = {VAL(hidden), VAL(input)};
    return OP(m, activation, VAL(op_over(m, "add.Tensor", COUNT(a), a, true)));
}

/* One step: the next hidden state, and of an LSTM the next cell's; NULL where m->missing names what is not possible. */
static void
cell(struct machine *m, int mode, struct arg x, struct arg h, struct arg c, const struct arg *w, struct value *made[2])
{
    if (mode == MODE_LSTM)
        gated(m, "_thnn_fused_lstm_cell.default", x, h, c, w, made, 2);
    else if (mode == MODE_GRU)
        gated(m, "_thnn_fused_gru_cell.default", x, h, h, w, made, 1);
    else
        made[0] = simple(m, mode == MODE_TANH ? "tanh.default" : "relu.default", x, h, w);
}

/* lstm_cell, whose hx is (hx, cx), gru_cell, rnn_tanh_cell, rnn_relu_cell (input, hx, w_ih, w_hh, b_ih, b_hh). */
void
rnn_step(struct machine *m, struct frame *f)
{
    const int mode = mode_of(f->op);
    struct arg h = f->a[1], c = h, w[CELL_WEIGHTS] = {f->a[2], f->a[3], VAL(V(4)), VAL(V(5))};
    struct value *made[2];
    if (h.kind == ARG_LIST) {
        c = h.n > 1 ? h.list[1] : NONE;
        h = h.n > 1 ? h.list[0] : NONE;
    }
    if (h.kind != ARG_VALUE || c.kind != ARG_VALUE || c.v->rank != 2) {
        m->missing = f->op->name;
        return;
    }
    cell(m, mode, f->a[0], h, c, w, made);
    for (int i = 0; i < 1 + (mode == MODE_LSTM); i++)
        out_add(m, f, made[i]);
}

/* ---- layers ------------------------------------------------------------------------------------------------------ */

/* A state that the file folded into other constants is the zeros that the module makes. */
static struct arg
state(struct machine *m, struct frame *f, struct arg given, int64_t directions)
{
    struct value *x = V(0), *hh = f->a[2].n > 1 ? f->a[2].list[1].v : NULL;
    if (given.kind == ARG_VALUE && given.v->rank == 3)
        return given;
    if (!hh || hh->rank < 1)
        return NONE;
    int64_t size[] = {arg_int(f, 4, 1) * directions, x->size[arg_int(f, 8, 0) ? 0 : 1], hh->size[hh->rank - 1]};
    return VAL(size[0] < 1 ? NULL : OP(m, "zeros.default", ints_arg(m, 3, size), DTYPE(x->dtype)));
}

/* Whether PyTorch asks cuDNN for layers of that type. Source: use_cudnn in native/RNN.cpp and
 * supportsBFloat16RNNWithCuDNN in cuda/detail/CUDAHooks.cpp (since 2.10, where the build's cuDNN is 9.13 or later). */
static bool
has_cudnn(struct machine *m, enum dtype t)
{
    enum { BFLOAT16_SINCE = 210, BFLOAT16_FROM = 80 };
    if (t != DT_BFLOAT16 || m->s->recurrent != RECURRENT_AUTO)
        return t != DT_BFLOAT16 || m->s->recurrent == RECURRENT_CUDNN;
    return m->torch >= BFLOAT16_SINCE && machine_from(m, BFLOAT16_FROM);
}

static struct arg
list_arg(int n, struct arg *of)
{
    return (struct arg){.kind = ARG_LIST, .n = n, .list = of};
}

/* One direction of a layer: its results side by side; *state is its states, before and behind. NULL as cell says. */
static struct value *
run_direction(struct machine *m, int mode, const struct frame *x, bool back, const struct arg *w,
              struct value *state[2])
{
    struct arg *y = NEWN(m->a, struct arg, x->nout);
    const int nstates = 1 + (mode == MODE_LSTM);
    for (int i = 0; i < x->nout; i++) {
        const int at = back ? x->nout - 1 - i : i, mark = scope_begin(m);
        cell(m, mode, VAL(x->out[at]), VAL(state[0]), VAL(state[1]), w, state);
        if (!state[0])
            return NULL;
        scope_end(m, mark, nstates, state);
        y[at] = VAL(state[0]);
    }
    return OP(m, "stack.default", list_arg(x->nout, y), INT(0));
}

/* The layers of "lstm" and so on without cuDNN. Source: apply_layer_stack, FullLayer and FullBidirectionalLayer in
 * native/RNN.cpp. */
static void
by_cells(struct machine *m, struct frame *f, int mode, const struct arg *given, int directions)
{
    const int nstates = 1 + (mode == MODE_LSTM), each = arg_int(f, 3, 1) ? CELL_WEIGHTS : CELL_WEIGHTS / 2,
              runs = f->a[2].n / each;
    const double drop = arg_int(f, 6, 1) ? arg_float(f, 5, 0) : 0;
    const struct frame *before[2] = {NULL, NULL};
    struct arg *last[2];
    struct value *x = as_given(m, V(0), arg_int(f, 8, 0)), **held = NEWN(m->a, struct value *, nstates * runs + 1);
    int nheld = 1;
    for (int k = 0; k < nstates; k++) {
        before[k] = dispatch(m, aten_find("unbind.int"), 1, &given[k], NULL);
        last[k] = NEWN(m->a, struct arg, runs);
    }
    if (runs < 1 || before[0]->nout < runs || before[nstates - 1]->nout < runs) {
        m->missing = f->op->name;
        return;
    }
    const int mark = scope_begin(m);
    for (int run = 0; run < runs; run += directions) {
        struct arg in = VAL(x), y[2] = {NONE, NONE};
        const struct frame *steps = dispatch(m, aten_find("unbind.int"), 1, &in, NULL);
        for (int d = 0; d < directions; d++) {
            const struct arg *own = &f->a[2].list[(run + d) * each], none = NONE;
            const struct arg w[] = {own[0], own[1], each > 2 ? own[2] : none, each > 2 ? own[3] : none};
            struct value *state[2] = {NULL, NULL};
            for (int k = 0; k < nstates; k++)
                state[k] = before[k]->out[run + d];
            y[d] = VAL(run_direction(m, mode, steps, d, w, state));
            if (y[d].kind != ARG_VALUE)
                return;
            for (int k = 0; k < nstates; k++)
                last[k][run + d] = VAL(held[nheld++] = state[k]);
        }
        held[0] = directions > 1 ? OP(m, "cat.default", list_arg(directions, y), INT(-1)) : y[0].v;
        scope_end(m, mark, nheld, held);
        if (drop > 0 && run + directions < runs) {
            held[0] = OP(m, "dropout.default", VAL(held[0]), FLT(drop), BOOL(true));
            scope_end(m, mark, nheld, held);
        }
        x = held[0];
    }
    out_add(m, f, as_given(m, x, arg_int(f, 8, 0)));
    for (int k = 0; k < nstates; k++)
        out_add(m, f, OP(m, "stack.default", list_arg(runs, last[k]), INT(0)));
}

/* lstm, gru, rnn_tanh, rnn_relu (input, hx, params, has_biases, num_layers, dropout, train, bidirectional,
 * batch_first) */
void
rnn_layers(struct machine *m, struct frame *f)
{
    const int mode = mode_of(f->op);
    struct arg h = f->a[1], c = NONE;
    if (h.kind == ARG_LIST) {
        c = h.n > 1 ? h.list[1] : NONE;
        h = h.n > 0 ? h.list[0] : NONE;
    }
    int64_t directions = arg_int(f, 7, 0) ? 2 : 1;
    h = state(m, f, h, directions);
    c = mode == MODE_LSTM ? state(m, f, c, directions) : NONE;
    if (h.kind != ARG_VALUE || (mode == MODE_LSTM && c.kind != ARG_VALUE)) {
        m->missing = f->op->name;
        return;
    }
    const int64_t each = arg_int(f, 3, 1) ? CELL_WEIGHTS : CELL_WEIGHTS / 2;
    const bool apart = f->a[2].n == arg_int(f, 4, 1) * directions * each; /* what is in one is no module's */
    if (apart && !has_cudnn(m, V(0)->dtype)) {
        by_cells(m, f, mode, (struct arg[]){h, c}, (int)directions);
        return;
    }
    struct arg a[] = {f->a[0],
                      f->a[2],
                      h,
                      c,
                      INT(mode),
                      BOOL(arg_int(f, 8, 0)),
                      INT(directions),
                      BOOL(arg_int(f, 6, 1) && arg_float(f, 5, 0) > 0)};
    const struct frame *r = dispatch(m, aten_find("_cudnn_rnn.default"), COUNT(a), a, NULL);
    for (int i = 0; i < r->nout && i < (mode == MODE_LSTM ? 3 : 2); i++)
        out_add(m, f, r->out[i]);
}

/* ---- kernels of cells -------------------------------------------------------------------------------------------- */

/* _thnn_fused_gru_cell(input_gates, hidden_gates, hx, input_bias, hidden_bias): hy, workspace of both gates' parts and
 * the hidden state. Source: aten/src/ATen/native/cuda/RNN.cu, GRU_WORKSPACE_MULTIPLIER. */
void
rnn_gru_cell(struct machine *m, struct frame *f)
{
    struct value *hx = V(2);
    int64_t size[] = {hx->size[0], 5 * hx->size[1]};
    out_add(m, f, value_new(m, hx->dtype, hx->rank, hx->size, NULL));
    out_add(m, f, value_new(m, hx->dtype, 2, size, NULL));
}

/* Of a kernel that a dispatch mode sees as one. */
static struct value *
bias_sum(struct machine *m, struct value *gates)
{
    return m->real ? OP(m, "sum.dim_IntList", VAL(gates), ints_arg(m, 1, (int64_t[]){0}), BOOL(false))
                   : value_new(m, gates->dtype, 1, &gates->size[1], NULL);
}

/* (hx, workspace, input_bias, grad, input_gates, hidden_gates, hidden_bias) */
void
rnn_gru_cell_backward(struct machine *m, struct frame *f)
{
    struct value *hx = V(0), *bias = V(2), *gates[2], *sum[2] = {NULL, NULL};
    int64_t size[] = {hx->size[0], 3 * hx->size[1]};
    for (int i = 0; i < 2; i++)
        gates[i] = value_new(m, hx->dtype, 2, size, NULL);
    struct value *dhx = value_new(m, hx->dtype, hx->rank, hx->size, NULL);
    for (int i = 0; i < 2 && bias; i++)
        sum[i] = bias_sum(m, gates[i]);
    out_add(m, f, gates[0]);
    out_add(m, f, gates[1]);
    out_add(m, f, dhx);
    out_add(m, f, sum[0]);
    out_add(m, f, sum[1]);
}

/* _thnn_fused_lstm_cell(input_gates, hidden_gates, cx, input_bias, hidden_bias): hy, cy, workspace. Source:
 * aten/src/ATen/native/cuda/RNN.cu. */
void
rnn_lstm_cell(struct machine *m, struct frame *f)
{
    struct value *gates = V(0), *cx = V(2);
    for (int i = 0; i < 2; i++)
        out_add(m, f, value_new(m, cx->dtype, cx->rank, cx->size, NULL));
    out_add(m, f, value_new(m, gates->dtype, gates->rank, gates->size, NULL));
}

/* (cx, cy, workspace, input_bias, grad, grad_cy): the gates' gradient is one tensor for both products, so is the
 * biases'. */
void
rnn_lstm_cell_backward(struct machine *m, struct frame *f)
{
    struct value *cx = V(0), *work = V(2), *bias = V(3);
    struct value *gates = value_new(m, work->dtype, work->rank, work->size, NULL);
    struct value *dcx = value_new(m, cx->dtype, cx->rank, cx->size, NULL), *sum = NULL;
    if (bias)
        sum = bias_sum(m, gates);
    out_add(m, f, gates);
    out_add(m, f, gates);
    out_add(m, f, dcx);
    out_add(m, f, sum);
    out_add(m, f, sum);
}
