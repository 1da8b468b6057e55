/* SPDX-License-Identifier: Apache-2.0 */
/* run.h - the bodies of the rows in aten.c, and what they share. Nobody else includes it. */
#ifndef RUN_H
#define RUN_H

#include "torch/torch.h"

#include <stdlib.h>
#include <string.h>

enum { RANK = 2 * MAX_RANK };

#define V(i) arg_value(f, i) /* argument i of the frame, a tensor */

/* A statement of C++ that assigns to a variable. */
#define LET(variable, ...)                           \
    do {                                             \
        int mark_ = scope_begin(m);                  \
        struct value *bound_ = (__VA_ARGS__);        \
        scope_assign(m, mark_, &(variable), bound_); \
    } while (0)

/* So many of a dimension, which are all of it where it is as long: expand.c. */
struct value *range_of(struct machine *m, struct value *v, int dim, int64_t from, int64_t size);

/* ---- layout.c: sizes, strides and types of results --------------------------------------------------------------- */

/* Numpy broadcasting of all tensors among a[0..n): the rank. */
int layout_broadcast(const struct arg *a, int n, int64_t *size);
/* Strides of an elementwise result. Source: TensorIteratorBase::reorder_dimensions in
 * aten/src/ATen/TensorIterator.cpp. */
void layout_strides(const struct arg *a, int n, int rank, const int64_t *size, int64_t *stride);
/* A fresh tensor, channels last when asked. */
struct value *layout_image(struct machine *m, enum dtype t, int rank, const int64_t *size, bool last);
/* empty_like: dense, in the order of v's strides. */
struct value *layout_like(struct machine *m, const struct value *v, enum dtype t);
/* Strides with which v can be seen as these sizes; false when only a copy can. */
bool layout_view(const struct value *v, int rank, const int64_t *size, int64_t *stride);
int layout_dim(int64_t d, int rank); /* a negative one counts from the end */
/* The sizes that the file states of f's result, else those of argument at, of which one may be -1 and follows from the
 * elements of the first argument: into size[RANK]; how many. */
int layout_stated(const struct frame *f, int at, int64_t *size);
enum dtype layout_wider(enum dtype a, enum dtype b);
/* Type promotion: tensors with dimensions, then 0-d tensors, then numbers; a later group only wins by category.
 * Source: c10/core/ScalarType.h, aten/src/ATen/native/TypeProperties.cpp. */
enum dtype layout_promote(const struct arg *a, int n);
/* In which a norm keeps them. */
enum dtype layout_statistics(const struct value *v);

/* ---- pointwise.c, dense.c: shared -------------------------------------------------------------------------------- */

/* Conjugates are views; few kernels take them as they are: those among arguments from..to are copied. */
void pointwise_resolve(struct machine *m, const struct frame *f, int from, int to);
static inline enum dtype
real_of(enum dtype t) /* what its complex numbers consist of */
{
    return t == DT_COMPLEX128 ? DT_DOUBLE : t == DT_COMPLEX64 ? DT_FLOAT : t;
}
/* The result of the frame's arguments from..to, broadcast, as t. */
void pointwise_new(struct machine *m, struct frame *f, int from, int to, enum dtype t);
/* Sizes after reducing the dims of argument `dims` (all when absent or empty). */
int pointwise_reduced(const struct frame *f, int dims, int keep, int64_t *size);

/* The argument that is a type. */
enum dtype arg_dtype(const struct frame *f, enum dtype otherwise);
/* The argument memory_format: a name, or true for contiguous. Source: c10/core/MemoryFormat.h. */
enum order { ORDER_PRESERVED, ORDER_CONTIGUOUS, ORDER_CHANNELS_LAST };
enum order arg_order(const struct frame *f);

int64_t inner_of_convolution(const struct frame *f);
int64_t inner_of_first(const struct frame *f);
int64_t inner_of_second(const struct frame *f);

/* ---- pointwise.c, views.c, dense.c: what operators make ---------------------------------------------------------- */

void run_adaptive_max_pool(struct machine *m, struct frame *f);
void run_addbmm(struct machine *m, struct frame *f);
void run_addbmm_grad(struct machine *m, struct frame *f);
void run_addmm(struct machine *m, struct frame *f);
void run_addmv(struct machine *m, struct frame *f);
void run_addr(struct machine *m, struct frame *f);
void run_frames(struct machine *m, struct frame *f);
void run_pdist(struct machine *m, struct frame *f);
void run_polygamma(struct machine *m, struct frame *f);
void run_rot90(struct machine *m, struct frame *f);
void run_rot90_times(struct machine *m, struct frame *f);
void run_running(struct machine *m, struct frame *f);
void run_running_norm(struct machine *m, struct frame *f);
void run_strided_pixel(struct machine *m, struct frame *f);
void run_as_strided(struct machine *m, struct frame *f);
void run_arange(struct machine *m, struct frame *f);
void run_avg_pool(struct machine *m, struct frame *f);
void run_baddbmm(struct machine *m, struct frame *f);
void run_batch_norm(struct machine *m, struct frame *f);
void run_batch_norm_backward(struct machine *m, struct frame *f);
void run_cudnn_batch_norm(struct machine *m, struct frame *f);
void run_cudnn_batch_norm_backward(struct machine *m, struct frame *f);
void run_bce(struct machine *m, struct frame *f);
void run_binary(struct machine *m, struct frame *f);
void run_binary_second(struct machine *m, struct frame *f);
void run_binary_decomposed(struct machine *m, struct frame *f);
void run_bmm(struct machine *m, struct frame *f);
void run_block_diag(struct machine *m, struct frame *f);
void run_block_diag_backward(struct machine *m, struct frame *f);
void run_cat(struct machine *m, struct frame *f);
void run_cat_backward(struct machine *m, struct frame *f);
void run_cdist(struct machine *m, struct frame *f);
void run_compare(struct machine *m, struct frame *f);
void run_complex(struct machine *m, struct frame *f);
void run_conj(struct machine *m, struct frame *f);
void run_convolution(struct machine *m, struct frame *f);
void run_convolution_backward(struct machine *m, struct frame *f);
void run_copy_to_device(struct machine *m, struct frame *f);
void run_copy(struct machine *m, struct frame *f);
void run_cudnn_attention(struct machine *m, struct frame *f);
void run_cudnn_attention_backward(struct machine *m, struct frame *f);
void run_deform_backward(struct machine *m, struct frame *f);
void run_diagonal(struct machine *m, struct frame *f);
void run_divide(struct machine *m, struct frame *f);
void run_dot(struct machine *m, struct frame *f);
void run_dropout(struct machine *m, struct frame *f);
void run_efficient_attention(struct machine *m, struct frame *f);
void run_efficient_attention_backward(struct machine *m, struct frame *f);
void run_elementwise(struct machine *m, struct frame *f);
void run_embedding(struct machine *m, struct frame *f);
void run_embedding_backward(struct machine *m, struct frame *f);
void run_embedding_bag(struct machine *m, struct frame *f);
void run_expand(struct machine *m, struct frame *f);
void run_factory_index(struct machine *m, struct frame *f);
void run_factory(struct machine *m, struct frame *f);
void run_fft_c2c(struct machine *m, struct frame *f);
void run_fft_real(struct machine *m, struct frame *f);
void run_flash_attention(struct machine *m, struct frame *f);
void run_flash_attention_backward(struct machine *m, struct frame *f);
void run_folded(struct machine *m, struct frame *f);
void run_folded_of(struct machine *m, struct frame *f);
void run_fractional_max_pool(struct machine *m, struct frame *f);
void run_frexp(struct machine *m, struct frame *f);
void run_full(struct machine *m, struct frame *f);
void run_gather(struct machine *m, struct frame *f);
void run_glu(struct machine *m, struct frame *f);
void run_roll(struct machine *m, struct frame *f);
void run_glu_backward(struct machine *m, struct frame *f);
void run_grad_of(struct machine *m, struct frame *f);
void run_grid_sampler(struct machine *m, struct frame *f);
void run_grid_sampler_backward(struct machine *m, struct frame *f);
void run_group_norm(struct machine *m, struct frame *f);
void run_group_norm_backward(struct machine *m, struct frame *f);
void run_index(struct machine *m, struct frame *f);
void run_index_backward(struct machine *m, struct frame *f);
void run_index_select(struct machine *m, struct frame *f);
void run_kernel(struct machine *m, struct frame *f);
void run_layer_norm(struct machine *m, struct frame *f);
void run_layer_norm_backward(struct machine *m, struct frame *f);
void run_like(struct machine *m, struct frame *f);
void run_logsumexp(struct machine *m, struct frame *f);
void run_loss(struct machine *m, struct frame *f);
void run_binary_contiguous(struct machine *m, struct frame *f);
void run_contiguous(struct machine *m, struct frame *f);
void run_max_pool(struct machine *m, struct frame *f);
void run_mm(struct machine *m, struct frame *f);
void run_mm_mat1_backward(struct machine *m, struct frame *f);
void run_mm_mat2_backward(struct machine *m, struct frame *f);
void run_mv(struct machine *m, struct frame *f);
void run_named(struct machine *m, struct frame *f);
void run_new_factory(struct machine *m, struct frame *f);
void run_new_strided(struct machine *m, struct frame *f);
void run_nll_loss(struct machine *m, struct frame *f);
void run_nonzero(struct machine *m, struct frame *f);
void run_norm(struct machine *m, struct frame *f);
void run_outer(struct machine *m, struct frame *f);
void run_over(struct machine *m, struct frame *f);
void run_pad(struct machine *m, struct frame *f);
void run_pad_edges(struct machine *m, struct frame *f);
void run_bilinear(struct machine *m, struct frame *f);
void run_permute(struct machine *m, struct frame *f);
void run_permute_backward(struct machine *m, struct frame *f);
void run_pixel_shuffle(struct machine *m, struct frame *f);
void run_dropout_backward(struct machine *m, struct frame *f);
void run_pixel_unshuffle(struct machine *m, struct frame *f);
void run_pixel_unshuffle_of(struct machine *m, struct frame *f);
void run_prelu_backward(struct machine *m, struct frame *f);
void run_randint(struct machine *m, struct frame *f);
void run_real(struct machine *m, struct frame *f);
void run_reduce(struct machine *m, struct frame *f);
void run_reduce_all(struct machine *m, struct frame *f);
void run_reduce_bool(struct machine *m, struct frame *f);
void run_reduce_index(struct machine *m, struct frame *f);
void run_reduce_with_indices(struct machine *m, struct frame *f);
void run_repeat(struct machine *m, struct frame *f);
void run_resized(struct machine *m, struct frame *f);
void run_resized_back(struct machine *m, struct frame *f);
void run_rms_norm(struct machine *m, struct frame *f);
void run_scalar(struct machine *m, struct frame *f);
void run_scalar_loss(struct machine *m, struct frame *f);
void run_scatter_backward(struct machine *m, struct frame *f);
void run_scalar_of(struct machine *m, struct frame *f);
void run_safe_softmax(struct machine *m, struct frame *f);
void run_second_like(struct machine *m, struct frame *f);
void run_select(struct machine *m, struct frame *f);
void run_slice(struct machine *m, struct frame *f);
void run_softmax(struct machine *m, struct frame *f);
void run_softmax_backward(struct machine *m, struct frame *f);
void run_softmax_backward_data(struct machine *m, struct frame *f);
void run_sort(struct machine *m, struct frame *f);
void run_spatial(struct machine *m, struct frame *f);
void run_split(struct machine *m, struct frame *f);
void run_split_backward(struct machine *m, struct frame *f);
void run_squeeze(struct machine *m, struct frame *f);
void run_stack(struct machine *m, struct frame *f);
void run_stack_backward(struct machine *m, struct frame *f);
void run_stand_in(struct machine *m, struct frame *f);
void run_stand_in_backward(struct machine *m, struct frame *f);
void run_stated_bool(struct machine *m, struct frame *f);
void run_stated_index(struct machine *m, struct frame *f);
void run_stated(struct machine *m, struct frame *f);
void run_sum(struct machine *m, struct frame *f);
void run_sum_all(struct machine *m, struct frame *f);
void run_sum_backward(struct machine *m, struct frame *f);
void run_sum_to(struct machine *m, struct frame *f);
void run_t(struct machine *m, struct frame *f);
void run_selection(struct machine *m, struct frame *f);
void run_topk(struct machine *m, struct frame *f);
void run_transpose(struct machine *m, struct frame *f);
void run_trilinear(struct machine *m, struct frame *f);
void run_trilinear_of(struct machine *m, struct frame *f);
void run_unary(struct machine *m, struct frame *f);
void run_unary_float(struct machine *m, struct frame *f);
void run_unary_real(struct machine *m, struct frame *f);
void run_unbind(struct machine *m, struct frame *f);
void run_unbind_backward(struct machine *m, struct frame *f);
void run_unfold(struct machine *m, struct frame *f);
void run_unsqueeze(struct machine *m, struct frame *f);
void run_var_mean(struct machine *m, struct frame *f);
void run_view(struct machine *m, struct frame *f);
void run_view_as_complex(struct machine *m, struct frame *f);
void run_view_copy(struct machine *m, struct frame *f);
void run_view_as_real(struct machine *m, struct frame *f);
void run_weight_norm(struct machine *m, struct frame *f);
void run_weight_norm_backward(struct machine *m, struct frame *f);
void run_where(struct machine *m, struct frame *f);
void run_linear_of_zero3(struct machine *m, struct frame *f);
void run_linear_of_zero3_backward(struct machine *m, struct frame *f);
void run_zero_of(struct machine *m, struct frame *f);
void run_zeros_like_second(struct machine *m, struct frame *f);

void run_all_reduce(struct machine *m, struct frame *f); /* expand.c, and these */
void run_reduce_scatter(struct machine *m, struct frame *f);
void run_sequence_gather(struct machine *m, struct frame *f);
void run_sequence_split(struct machine *m, struct frame *f);

/* ---- expand.c, formulas.c, rnn.c: composites --------------------------------------------------------------------- */

void expand_channel_shuffle(struct machine *m, struct frame *f);
void expand_frames_backward(struct machine *m, struct frame *f);
void expand_logcumsumexp_backward(struct machine *m, struct frame *f);
void expand_multilabel_soft_margin_loss(struct machine *m, struct frame *f);
void expand_nanmean(struct machine *m, struct frame *f);
void expand_ndtr(struct machine *m, struct frame *f);
void expand_pixel_mean(struct machine *m, struct frame *f);
void expand_nll_loss(struct machine *m, struct frame *f);
void expand_adaptive_avg_pool1d(struct machine *m, struct frame *f);
void expand_adaptive_avg_pool2d(struct machine *m, struct frame *f);
void expand_adaptive_avg_pool3d(struct machine *m, struct frame *f);
void expand_alias(struct machine *m, struct frame *f);
void expand_alpha_dropout(struct machine *m, struct frame *f);
void expand_amax_backward(struct machine *m, struct frame *f);
void expand_argsort(struct machine *m, struct frame *f);
void expand_atan2_backward(struct machine *m, struct frame *f);
void expand_atleast(struct machine *m, struct frame *f);
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
void expand_conj(struct machine *m, struct frame *f);
void expand_columns(struct machine *m, struct frame *f);
void expand_columns_of_parts(struct machine *m, struct frame *f);
void expand_contiguous(struct machine *m, struct frame *f);
void expand_conv(struct machine *m, struct frame *f);
void expand_conv_transpose(struct machine *m, struct frame *f);
void expand_cross_entropy(struct machine *m, struct frame *f);
void expand_cumprod_backward(struct machine *m, struct frame *f);
void expand_cumsum(struct machine *m, struct frame *f);
void expand_cumsum_backward(struct machine *m, struct frame *f);
void run_requires_grad(struct machine *m, struct frame *f); /* eager.c */
void expand_detach(struct machine *m, struct frame *f);
void expand_diagflat(struct machine *m, struct frame *f);
void expand_dropout(struct machine *m, struct frame *f);
void expand_dropout_in_place(struct machine *m, struct frame *f);
void expand_einsum(struct machine *m, struct frame *f);
void expand_embedding_bag(struct machine *m, struct frame *f);
void expand_euclidean_dist_backward(struct machine *m, struct frame *f);
void expand_evenly_distribute(struct machine *m, struct frame *f);
void expand_view_as(struct machine *m, struct frame *f);
void expand_expand_as(struct machine *m, struct frame *f);
void expand_feature_dropout(struct machine *m, struct frame *f);
void expand_feature_alpha_dropout(struct machine *m, struct frame *f);
void expand_fft_r2c_backward(struct machine *m, struct frame *f);
void expand_fill_part(struct machine *m, struct frame *f);
void expand_gather_flat(struct machine *m, struct frame *f);
void expand_group_norm(struct machine *m, struct frame *f);
void expand_index_put_backward(struct machine *m, struct frame *f);
void expand_indexed(struct machine *m, struct frame *f);
void expand_instance_norm(struct machine *m, struct frame *f);
void expand_cummaxmin_backward(struct machine *m, struct frame *f);
void expand_i1_backward(struct machine *m, struct frame *f);
void expand_i1e_backward(struct machine *m, struct frame *f);
void expand_index_reduce_backward(struct machine *m, struct frame *f);
void expand_mvlgamma(struct machine *m, struct frame *f);
void expand_mvlgamma_backward(struct machine *m, struct frame *f);
void expand_put_backward(struct machine *m, struct frame *f);
void expand_copysign_backward(struct machine *m, struct frame *f);
void expand_cdist(struct machine *m, struct frame *f);
void expand_cosine_similarity(struct machine *m, struct frame *f);
void expand_cosine_embedding_loss(struct machine *m, struct frame *f);
void expand_diag_embed_backward(struct machine *m, struct frame *f);
void expand_poisson_nll_loss(struct machine *m, struct frame *f);
void expand_scatter_reduce_backward(struct machine *m, struct frame *f);
void expand_sinc_backward(struct machine *m, struct frame *f);
void expand_stft(struct machine *m, struct frame *f);
void expand_take_backward(struct machine *m, struct frame *f);
void expand_trace_backward(struct machine *m, struct frame *f);
void expand_hinge_embedding_loss(struct machine *m, struct frame *f);
void expand_margin_ranking_loss(struct machine *m, struct frame *f);
void expand_std_mean_backward(struct machine *m, struct frame *f);
void expand_kl_div(struct machine *m, struct frame *f);
void expand_pairwise_distance(struct machine *m, struct frame *f);
void expand_triplet_margin_loss(struct machine *m, struct frame *f);
void run_factory_steps(struct machine *m, struct frame *f);
void expand_grid_sampler(struct machine *m, struct frame *f);
void run_affine_grid(struct machine *m, struct frame *f);
void expand_affine_grid_backward(struct machine *m, struct frame *f);
void expand_isclose(struct machine *m, struct frame *f);
void expand_isfinite(struct machine *m, struct frame *f);
void expand_l1_loss(struct machine *m, struct frame *f);
void expand_layer_norm(struct machine *m, struct frame *f);
void expand_linear(struct machine *m, struct frame *f);
void expand_log_sigmoid(struct machine *m, struct frame *f);
void expand_lost_clone(struct machine *m, struct frame *f);
void expand_masked_fill_value(struct machine *m, struct frame *f);
void expand_matmul(struct machine *m, struct frame *f);
void expand_pool1d(struct machine *m, struct frame *f);
void expand_max_pool(struct machine *m, struct frame *f);
void expand_maybe_multiply(struct machine *m, struct frame *f);
void expand_narrow(struct machine *m, struct frame *f);
void expand_no_gradient(struct machine *m, struct frame *f);
void expand_norm_backward(struct machine *m, struct frame *f);
void expand_one_hot(struct machine *m, struct frame *f);
void expand_pad(struct machine *m, struct frame *f);
void expand_polar_backward(struct machine *m, struct frame *f);
void expand_pow_backward_exponent(struct machine *m, struct frame *f);
void expand_prelu(struct machine *m, struct frame *f);
void expand_prod_backward(struct machine *m, struct frame *f);
void expand_reduce_all(struct machine *m, struct frame *f);
void expand_renorm_backward(struct machine *m, struct frame *f);
void expand_repeat_backward(struct machine *m, struct frame *f);
void expand_repeat_interleave(struct machine *m, struct frame *f);
void expand_reshape(struct machine *m, struct frame *f);
void expand_reshape_as(struct machine *m, struct frame *f);
void expand_resolve_conj(struct machine *m, struct frame *f);
void expand_rms_norm(struct machine *m, struct frame *f);
void expand_rows(struct machine *m, struct frame *f);
void run_dequantize_blocks(struct machine *m, struct frame *f);
void run_dequantize_4bit(struct machine *m, struct frame *f);
void run_matmul_4bit(struct machine *m, struct frame *f);
void expand_matmul_4bit_backward(struct machine *m, struct frame *f);
void expand_cloned_4bit(struct machine *m, struct frame *f);
void expand_rows_to_parts(struct machine *m, struct frame *f);
void expand_same(struct machine *m, struct frame *f);
void expand_softmax(struct machine *m, struct frame *f);
void expand_square(struct machine *m, struct frame *f);
void expand_stated(struct machine *m, struct frame *f);
void expand_std_backward(struct machine *m, struct frame *f);
void expand_strided_scatter_backward(struct machine *m, struct frame *f);
void expand_strided_backward(struct machine *m, struct frame *f);
void expand_sum_to_like(struct machine *m, struct frame *f);
void expand_to(struct machine *m, struct frame *f);
void expand_to_like(struct machine *m, struct frame *f);
void expand_unpad(struct machine *m, struct frame *f);
void expand_var(struct machine *m, struct frame *f);
void expand_var_backward(struct machine *m, struct frame *f);
void expand_var_mean_backward(struct machine *m, struct frame *f);
void expand_where(struct machine *m, struct frame *f);
void expand_where_backward(struct machine *m, struct frame *f);
void expand_write(struct machine *m, struct frame *f);
void expand_zeros_as(struct machine *m, struct frame *f);
void rnn_backward_input(struct machine *m, struct frame *f);
void rnn_backward_weight(struct machine *m, struct frame *f);
void rnn_forward(struct machine *m, struct frame *f);
void rnn_gru_cell(struct machine *m, struct frame *f);
void rnn_gru_cell_backward(struct machine *m, struct frame *f);
void rnn_lstm_cell(struct machine *m, struct frame *f);
void rnn_lstm_cell_backward(struct machine *m, struct frame *f);
void rnn_layers(struct machine *m, struct frame *f);
void rnn_step(struct machine *m, struct frame *f);

/* ---- linalg.c: factorizations and solvers, and their gradients -------------------------------------------------- */

void expand_cholesky_backward(struct machine *m, struct frame *f);
void expand_cholesky_inverse_backward(struct machine *m, struct frame *f);
void expand_cholesky_solve_backward(struct machine *m, struct frame *f);
void expand_det(struct machine *m, struct frame *f);
void expand_det_backward(struct machine *m, struct frame *f);
void expand_eigh_backward(struct machine *m, struct frame *f);
void expand_householder_backward(struct machine *m, struct frame *f);
void expand_inverse_backward(struct machine *m, struct frame *f);
void expand_logdet(struct machine *m, struct frame *f);
void expand_lu_backward(struct machine *m, struct frame *f);
void expand_lu_factor_backward(struct machine *m, struct frame *f);
void expand_lu_solve_backward(struct machine *m, struct frame *f);
void expand_lu_unpack_backward(struct machine *m, struct frame *f);
void expand_matrix_exp_backward(struct machine *m, struct frame *f);
void expand_ormqr_backward(struct machine *m, struct frame *f);
void expand_pinv_backward(struct machine *m, struct frame *f);
void expand_qr_backward(struct machine *m, struct frame *f);
void expand_slogdet_backward(struct machine *m, struct frame *f);
void expand_solve_backward(struct machine *m, struct frame *f);
void expand_solve_triangular_backward(struct machine *m, struct frame *f);
void expand_svd_backward(struct machine *m, struct frame *f);
void expand_triangular_solve_backward(struct machine *m, struct frame *f);
void expand_vecdot(struct machine *m, struct frame *f);
void run_det(struct machine *m, struct frame *f);
void run_eigh(struct machine *m, struct frame *f);
void run_factor(struct machine *m, struct frame *f);
void run_factor_ex(struct machine *m, struct frame *f);
void run_lu(struct machine *m, struct frame *f);
void run_lu_factor(struct machine *m, struct frame *f);
void run_lu_solve(struct machine *m, struct frame *f);
void run_lu_unpack(struct machine *m, struct frame *f);
void run_ormqr(struct machine *m, struct frame *f);
void run_pinv(struct machine *m, struct frame *f);
void run_qr(struct machine *m, struct frame *f);
void run_slogdet(struct machine *m, struct frame *f);
void run_solution(struct machine *m, struct frame *f);
void run_solve_ex(struct machine *m, struct frame *f);
void run_solve_triangular(struct machine *m, struct frame *f);
void run_svd(struct machine *m, struct frame *f);
void run_triangular_solve(struct machine *m, struct frame *f);

#endif
