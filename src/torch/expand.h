/* SPDX-License-Identifier: Apache-2.0 */
/* expand.h - the composites of expand.c, for the table in aten.c. */
#ifndef EXPAND_H
#define EXPAND_H

#include "torch/torch.h"

/* Strides with which v can be seen as these sizes; false when only a copy can. */
bool aten_view_strides(const struct value *v, int rank, const int64_t *size, int64_t *stride);

void expand_adaptive_avg_pool(struct machine *m, struct frame *f);
void expand_alias(struct machine *m, struct frame *f);
void expand_amax_backward(struct machine *m, struct frame *f);
void expand_argsort(struct machine *m, struct frame *f);
void expand_atan2_backward(struct machine *m, struct frame *f);
void expand_attention(struct machine *m, struct frame *f);
void expand_batch_norm(struct machine *m, struct frame *f);
void expand_bce_backward(struct machine *m, struct frame *f);
void expand_bce_target_backward(struct machine *m, struct frame *f);
void expand_bilinear(struct machine *m, struct frame *f);
void expand_bloom_gelu(struct machine *m, struct frame *f);
void expand_bloom_gelu_backward(struct machine *m, struct frame *f);
void expand_broadcast_in_dim(struct machine *m, struct frame *f);
void expand_chunk(struct machine *m, struct frame *f);
void expand_clamp_backward(struct machine *m, struct frame *f);
void expand_clamp_bounds_backward(struct machine *m, struct frame *f);
void expand_contiguous(struct machine *m, struct frame *f);
void expand_conv(struct machine *m, struct frame *f);
void expand_conv_transpose(struct machine *m, struct frame *f);
void expand_copy_slices(struct machine *m, struct frame *f);
void expand_cross_entropy(struct machine *m, struct frame *f);
void expand_cumprod_backward(struct machine *m, struct frame *f);
void expand_cumsum(struct machine *m, struct frame *f);
void expand_cumsum_backward(struct machine *m, struct frame *f);
void expand_detach(struct machine *m, struct frame *f);
void expand_dropout(struct machine *m, struct frame *f);
void expand_dropout_in_place(struct machine *m, struct frame *f);
void expand_einsum(struct machine *m, struct frame *f);
void expand_evenly_distribute(struct machine *m, struct frame *f);
void expand_expand_as(struct machine *m, struct frame *f);
void expand_fft_r2c_backward(struct machine *m, struct frame *f);
void expand_group_norm(struct machine *m, struct frame *f);
void expand_index_put_backward(struct machine *m, struct frame *f);
void expand_indexed(struct machine *m, struct frame *f);
void expand_instance_norm(struct machine *m, struct frame *f);
void expand_layer_norm(struct machine *m, struct frame *f);
void expand_linear(struct machine *m, struct frame *f);
void expand_log_sigmoid(struct machine *m, struct frame *f);
void expand_lost_clone(struct machine *m, struct frame *f);
void expand_masked_fill_value(struct machine *m, struct frame *f);
void expand_matmul(struct machine *m, struct frame *f);
void expand_max_pool(struct machine *m, struct frame *f);
void expand_maybe_multiply(struct machine *m, struct frame *f);
void expand_narrow(struct machine *m, struct frame *f);
void expand_norm_backward(struct machine *m, struct frame *f);
void expand_pad(struct machine *m, struct frame *f);
void expand_polar_backward(struct machine *m, struct frame *f);
void expand_pow_backward_exponent(struct machine *m, struct frame *f);
void expand_prelu(struct machine *m, struct frame *f);
void expand_prod_backward(struct machine *m, struct frame *f);
void expand_reduce_all(struct machine *m, struct frame *f);
void expand_repeat_backward(struct machine *m, struct frame *f);
void expand_repeat_interleave(struct machine *m, struct frame *f);
void expand_reshape(struct machine *m, struct frame *f);
void expand_reshape_as(struct machine *m, struct frame *f);
void expand_rms_norm(struct machine *m, struct frame *f);
void expand_same(struct machine *m, struct frame *f);
void expand_softmax(struct machine *m, struct frame *f);
void expand_std_backward(struct machine *m, struct frame *f);
void expand_stated(struct machine *m, struct frame *f);
void expand_sum_to_like(struct machine *m, struct frame *f);
void expand_to(struct machine *m, struct frame *f);
void expand_to_like(struct machine *m, struct frame *f);
void expand_unpad(struct machine *m, struct frame *f);
void expand_var(struct machine *m, struct frame *f);
void expand_var_backward(struct machine *m, struct frame *f);
void expand_where(struct machine *m, struct frame *f);
void expand_where_backward(struct machine *m, struct frame *f);

/* rnn.c */
void rnn_backward_input(struct machine *m, struct frame *f);
void rnn_backward_weight(struct machine *m, struct frame *f);
void rnn_forward(struct machine *m, struct frame *f);
void rnn_gru(struct machine *m, struct frame *f);
void rnn_gru_cell(struct machine *m, struct frame *f);
void rnn_gru_cell_backward(struct machine *m, struct frame *f);
void rnn_gru_step(struct machine *m, struct frame *f);
void rnn_lstm(struct machine *m, struct frame *f);
void rnn_lstm_cell(struct machine *m, struct frame *f);
void rnn_lstm_cell_backward(struct machine *m, struct frame *f);
void rnn_lstm_step(struct machine *m, struct frame *f);
void rnn_relu_step(struct machine *m, struct frame *f);
void rnn_tanh(struct machine *m, struct frame *f);
void rnn_tanh_step(struct machine *m, struct frame *f);

#endif
