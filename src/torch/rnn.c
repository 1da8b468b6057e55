/* SPDX-License-Identifier: Apache-2.0 */
/* rnn.c - LSTM, GRU and RNN as PyTorch runs them on a GPU: one cuDNN call for all layers, or a cell for each step.
 *
 * Source: aten/src/ATen/native/cudnn/RNN.cpp, _cudnn_rnn and _cudnn_rnn_backward; aten/src/ATen/native/RNN.cpp for the
 * composites and for which of both it is (use_cudnn). The module keeps its weights side by side
 * (flatten_parameters), so there is no copy of them; their gradients are views of one buffer. A batch_first input is
 * transposed and made contiguous for cuDNN's call, forward and backward.
 *
 * What cuDNN keeps for its backward pass (the reserve) is the library's secret, which it tells to a handle alone. Two
 * sizes were published: 736,000,000 bytes of an LSTM and 864,000,000 of a GRU, of 4 layers of 320 units in fp32 on a
 * P100 in 2017 (pytorch/pytorch 2895). They are 23 and 27 times 320 units of 25,000 samples and steps: 6 and 7 for each
 * layer, but that the last one's output, the call's result, is not kept again. The gradients of an LSTM need as many:
 * four gates, the cell, the output; those of a GRU five: three gates, what the reset gate scales, the output; an RNN's
 * its output alone, and 2 are assumed. In 16 bits some may be kept in 32. Workspaces are not counted: they were 17.7
 * and 13.2 MB, half as much again as the weights, and 2.4 times an RNN's (tensorflow/tensorflow 30889), and cuDNN asks
 * for more or less by what is free (FluxML/Flux.jl 923). So the size lies in a range, which the report says.
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

/* Elements kept per time step, sample, layer and direction, by hidden unit; of these, what gradients need. */
static const struct {
    int kept, needed;
} per_state[] = {[MODE_RELU] = {2, 1}, [MODE_TANH] = {2, 1}, [MODE_LSTM] = {6, 6}, [MODE_GRU] = {7, 5}};
static const double most_workspace = 2.4; /* times the weights */

/* of: elements per time step and sample, by hidden unit. */
static int64_t
reserve_bytes(const struct value *x, int64_t hidden, int64_t of)
{
    int64_t n;
    return mul_ok(x->size[0] * x->size[1], hidden, &n) && mul_ok(n, of, &n) ? dtype_bytes(x->dtype, n) : 0;
}

/* Counts by how much a reserve of so many bytes, of which gradients need some, may be off, with the workspace. */
static void
note_reserve(struct machine *m, const struct arg *weights, int64_t kept, int64_t needed)
{
    struct cudnn_reserves *r = &m->cudnn.reserves;
    enum dtype t = DT_FLOAT;
    int64_t elements = 0;
    for (int i = 0; i < weights->n; i++) {
        t = weights->list[i].v->dtype;
        elements += value_elements(weights->list[i].v);
    }
    r->more += (int64_t)(most_workspace * (double)dtype_bytes(t, elements)) + (dtype_is_half(t) ? kept : 0);
    r->less += kept - needed;
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

/* _cudnn_rnn(input, weight, hx, cx, mode, batch_first, directions): output, hy, cy, reserve */
void
rnn_forward(struct machine *m, struct frame *f)
{
    struct value *hx = V(2), *cx = V(3), *x;
    bool batch_first = arg_int(f, 5, 0), training = m->s->mode == MODE_TRAINING;
    int64_t mode = arg_int(f, 4, 0), directions = arg_int(f, 6, 1), hidden = hx->size[2], none = 0;
    x = time_first(m, V(0), batch_first);
    int64_t size[] = {x->size[0], x->size[1], directions * hidden};
    struct value *y = value_new(m, x->dtype, 3, size, NULL), *hy = value_new(m, hx->dtype, 3, hx->size, NULL);
    struct value *cy = cx ? value_new(m, cx->dtype, 3, cx->size, NULL) : value_new(m, hx->dtype, 1, &none, NULL);
    int64_t bytes = reserve_bytes(x, hidden, per_state[mode].kept * hx->size[0] - directions);
    if (training && m->phase == PHASE_FORWARD)
        note_reserve(m, &f->a[1], bytes, reserve_bytes(x, hidden, per_state[mode].needed * hx->size[0] - directions));
    out_add(m, f, as_given(m, y, batch_first));
    out_add(m, f, hy);
    out_add(m, f, cy);
    out_add(m, f, training ? value_new(m, DT_UINT8, 1, &bytes, NULL) : NULL);
}

/* _cudnn_rnn_backward_input(input, hx, cx, output, grad, grad_hy, grad_cy, batch_first) */
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
    out_add(m, f, as_given(m, dx, batch_first));
    out_add(m, f, value_new(m, hx->dtype, hx->rank, hx->size, NULL));
    if (cx)
        out_add(m, f, value_new(m, cx->dtype, cx->rank, cx->size, NULL));
}

/* _cudnn_rnn_backward_weight(input, weight, batch_first): views of one buffer */
void
rnn_backward_weight(struct machine *m, struct frame *f)
{
    int64_t all = 0;
    struct arg *w = f->a[1].list;
    time_first(m, V(0), arg_int(f, 2, 0));
    for (int i = 0; i < f->a[1].n; i++)
        all += value_elements(w[i].v);
    struct value *flat = value_new(m, w[0].v->dtype, 1, &all, NULL);
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
    struct arg a[] = {f->a[0], f->a[2], h, c, INT(mode), BOOL(arg_int(f, 8, 0)), INT(directions)};
    const struct frame *r = dispatch(m, aten_find("_cudnn_rnn.default"), 7, a, NULL);
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
