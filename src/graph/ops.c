/* SPDX-License-Identifier: Apache-2.0 */
/* ops.c - the ONNX operator table: one row an operator, or a range of its versions where the rule differs.
 *
 * A row gives the shape rule, the value rule and, where the operator is one to one, the framework operator. Then what
 * a program wrote that was exported without its calls, which inputs are data and which of them must be there (struct
 * op). Rules are few and shared: most rows differ in the name alone. An operator that came in later versions of the
 * standard with more types or with attributes turned into inputs needs no second row; the rules look for both forms.
 * infer.h says which file holds which rules.
 *
 * To add an operator: a row here, in its place by name. A new rule is written beside its like and named in infer.h.
 */
#include "graph/infer.h"

#include <limits.h>

/* ---- what a program wrote as several calls ----------------------------------------------------------------------- */

/* The notation stands at the head of lower/compose.c. They are what torch.nn.functional or a model's source runs;
 * com.microsoft's are ONNX Runtime's ContribOperators.md read backwards. What has no differentiable form has none. */

static const char attention[] = "4: scaled_dot_product_attention.default(a, b, c, d, 0.0, @is_causal:0, none, 1)"
                                "| 3: r = transpose.int(reshape.default(a, [%a0, %a1, @q_num_heads, -1]), 1, 2);"
                                "s = transpose.int(reshape.default(b, [%b0, %b1, @kv_num_heads, -1]), 1, 2);"
                                "t = transpose.int(reshape.default(c, [%c0, %c1, @kv_num_heads, -1]), 1, 2);"
                                "u = scaled_dot_product_attention.default(r, s, t, d, 0.0, @is_causal:0, none, 1);"
                                "0 = reshape.default(transpose.int(u, 1, 2), %o)";

/* F.lp_pool2d */
static const char global_lp_pool[] =
    "4: r = avg_pool2d.default(pow.Tensor_Scalar(a, @p:2), [%a2, %a3]);"
    "0 = pow.Tensor_Scalar(mul.Scalar(mul.Tensor(sign.default(r), relu.default(abs.default(r))), 1.0), 0.5)";

static const char grid_sample[] = "grid_sampler.default(a, b)";

/* What F.gumbel_softmax with hard=True makes of its largest. */
static const char hardmax[] = "scatter_.value(zeros_like.default(a), @axis:-1, argmax.default(a, @axis:-1, true), 1.0)";

/* F.normalize */
static const char normalize[] = "r = clamp_min.default(linalg_vector_norm.default(a, @p:2, [@axis:-1], true), 0.0);"
                                "0 = div.Tensor(a, expand.default(r, %a))";

/* F.lp_pool2d */
static const char lp_pool[] =
    "4: r = avg_pool2d.default(pow.Tensor_Scalar(a, @p:2), @kernel_shape, @strides:[1, 1]);"
    "0 = pow.Tensor_Scalar(mul.Scalar(mul.Tensor(sign.default(r), relu.default(abs.default(r))), 1.0), 0.5)";

/* F.local_response_norm */
static const char local_response_norm[] =
    "4: r = reshape.default(mul.Tensor(a, a), [%a0, 1, %a1, %a2, -1]);"
    "s = avg_pool3d.default(constant_pad_nd.default(r, [0, 0, 0, 0, @size/2, @size/2]), [@size, 1, 1], [1, 1, 1]);"
    "0 = div.Tensor(a, pow.Tensor_Scalar(add.Scalar(mul.Scalar(reshape.default(s, %a), 1.0), 1.0), 0.75))";

static const char mean_variance[] =
    "r = sub.Tensor(a, mean.dim(a, @axes:[0, 2, 3], true));"
    "0 = div.Tensor(r, add.Scalar(sqrt.default(mean.dim(mul.Tensor(r, r), @axes:[0, 2, 3], true)), 1.0))";

/* three and five dimensions are seen as an image of one row */
static const char nll_loss[] =
    "2: nll_loss_forward.default(a, b)"
    "| 4: nll_loss2d_forward.default(a, b)"
    "| 3: nll_loss2d_forward.default(reshape.default(a, [%a0, %a1, 1, -1]), reshape.default(b, [%b0, 1, -1]))"
    "| 5: nll_loss2d_forward.default(reshape.default(a, [%a0, %a1, 1, -1]), reshape.default(b, [%b0, 1, -1]))";

static const char log_sum[] = "log.default(sum.dim_IntList(a, @axes, @keepdims:1))";

static const char sum_square[] = "sum.dim_IntList(pow.Tensor_Scalar(a, 2), @axes, @keepdims:1)";

static const char rms_norm[] = "rms_norm.default(a, %b, b)";

/* x * cos + rotate_half(x) * sin; the tables need no gradient, so the products keep nothing of x. */
static const char rotary[] =
    "r = cat.default([neg.default(slice.Tensor(a, -1, %a$/2, %a$)), slice.Tensor(a, -1, 0, %a$/2)], -1);"
    "0 = add.Tensor(mul.Scalar(a, 1.0), mul.Scalar(r, 1.0))";

static const char scatter[] = "scatter.src(a, @axis:0, b, c)";

static const char cross_entropy[] = "cross_entropy_loss.default(a, b)";

/* F.softsign */
static const char softsign[] = "div.Tensor(a, add.Scalar(abs.default(a), 1))";

static const char ms_attention[] =
    "r = linear.default(a, t.default(b), c);"
    "s = transpose.int(reshape.default(slice.Tensor(r, 2, 0, %o2), [%a0, %a1, @num_heads, -1]), 1, 2);"
    "t = transpose.int(reshape.default(slice.Tensor(r, 2, %o2, 2*%o2), [%a0, %a1, @num_heads, -1]), 1, 2);"
    "u = transpose.int(reshape.default(slice.Tensor(r, 2, 2*%o2, 3*%o2), [%a0, %a1, @num_heads, -1]), 1, 2);"
    "v = scaled_dot_product_attention.default(s, t, u, none, 0.0, @unidirectional:0);"
    "0 = reshape.default(transpose.int(v, 1, 2), %o)";

static const char ms_bias_dropout[] = "add.Tensor(dropout.default(add.Tensor(a, b), 0.5, true), c)";

static const char ms_bias_softmax[] = "softmax.int(add.Tensor(a, b), @axis:-1)";

static const char ms_bias_split_gelu[] =
    "r = add.Tensor(a, b);"
    "0 = mul.Tensor(slice.Tensor(r, 2, 0, %o2), gelu.default(slice.Tensor(r, 2, %o2, 2*%o2)))";

static const char ms_dropout[] = "dropout.default(a, 0.5, true)";

/* BertEmbeddings */
static const char ms_embed_norm[] = "r = add.Tensor(embedding.default(c, a), embedding.default(e, b));"
                                    "s = add.Tensor(r, embedding.default(d, zeros.default([1, %a1], int64)));"
                                    "0 = layer_norm.default(s, %f, f, g);"
                                    "2 = s";

static const char ms_fast_gelu[] = "gelu.default(add.Tensor(a, b))";

static const char ms_matmul[] = "matmul.default(turned(a, @transA:0), turned(b, @transB:0))";

static const char ms_gemm_fast_gelu[] = "gelu.default(add.Tensor(matmul.default(a, b), c))";

/* channels last */
static const char ms_group_norm[] = "4: r = group_norm.default(permute.default(a, [0, 3, 1, 2]), @groups, b, c);"
                                    "0 = permute.default(silu.default(r), [0, 2, 3, 1])";

/* repeat_kv */
static const char ms_query_groups[] =
    "3: r = transpose.int(reshape.default(a, [%a0, %a1, @num_heads, -1]), 1, 2);"
    "s = transpose.int(reshape.default(b, [%b0, %b1, @kv_num_heads, -1]), 1, 2);"
    "t = transpose.int(reshape.default(c, [%c0, %c1, @kv_num_heads, -1]), 1, 2);"
    "u = scaled_dot_product_attention.default(r, repeat_interleave.self_int(s, @num_heads/@kv_num_heads, 1), "
    "repeat_interleave.self_int(t, @num_heads/@kv_num_heads, 1), none, 0.0, true);"
    "0 = reshape.default(transpose.int(u, 1, 2), %o)";

static const char ms_multi_head[] = "3: r = transpose.int(reshape.default(a, [%a0, %a1, @num_heads, -1]), 1, 2);"
                                    "s = transpose.int(reshape.default(b, [%b0, %b1, @num_heads, -1]), 1, 2);"
                                    "t = transpose.int(reshape.default(c, [%c0, %c1, @num_heads, -1]), 1, 2);"
                                    "u = scaled_dot_product_attention.default(r, s, t, none, 0.0, @unidirectional:0);"
                                    "0 = reshape.default(transpose.int(u, 1, 2), %o)";

static const char ms_nhwc_conv[] =
    "4: r = convolution.default(permute.default(a, [0, 3, 1, 2]), permute.default(b, [0, 3, 1, 2]), c, "
    "@strides:[1, 1], @pads:[0, 0], @dilations:[1, 1], false, [0, 0], @group:1);"
    "0 = permute.default(r, [0, 2, 3, 1])";

static const char ms_nhwc_max_pool[] =
    "4: r = max_pool2d.default(permute.default(a, [0, 3, 1, 2]), @kernel_shape, @strides:[1, 1]);"
    "0 = permute.default(r, [0, 2, 3, 1])";

static const char ms_quick_gelu[] = "mul.Tensor(a, sigmoid.default(mul.Scalar(a, 1.702)))";

static const char ms_skip_group_norm[] = "4: s = add.Tensor(add.Tensor(a, d), e);"
                                         "r = group_norm.default(permute.default(s, [0, 3, 1, 2]), @groups, b, c);"
                                         "0 = permute.default(silu.default(r), [0, 2, 3, 1]);"
                                         "1 = s";

static const char ms_skip_norm[] = "r = add.Tensor(add.Tensor(a, b), e);"
                                   "0 = layer_norm.default(r, %c, c, d);"
                                   "3 = r";

static const char ms_skip_rms_norm[] = "r = add.Tensor(add.Tensor(a, b), d);"
                                       "0 = rms_norm.default(r, %c, c);"
                                       "3 = r";

/* ---- the table --------------------------------------------------------------------------------------------------- */

/* domain, name, since, until, shape, value, framework operator, call, what is called; by domain, name, version. */
static const struct op ops[] = {
    {"", "Abs", 1, 0, infer_same, fold_abs, "aten.abs.default", CALL_FIRST},
    {"", "Acos", 1, 0, infer_same, NULL, "aten.acos.default"},
    {"", "Acosh", 1, 0, infer_same, NULL, "aten.acosh.default"},
    {"", "Add", 1, 6, infer_same, NULL, "aten.add.Tensor", CALL_ALL, .least = 2},
    {"", "Add", 7, 0, infer_broadcast, fold_add, "aten.add.Tensor", CALL_ALL, .least = 2},
    {"", "AffineGrid", 1, 0, move_affine_grid, NULL, "aten.affine_grid_generator.default"},
    {"", "And", 1, 6, infer_bool, NULL, "aten.logical_and.default", CALL_ALL},
    {"", "And", 7, 0, infer_compare, fold_and, "aten.logical_and.default", CALL_ALL},
    {"", "ArgMax", 1, 0, infer_arg, NULL, "aten.argmax.default", CALL_ARG_REDUCE},
    {"", "ArgMin", 1, 0, infer_arg, NULL, "aten.argmin.default", CALL_ARG_REDUCE},
    {"", "Asin", 1, 0, infer_same, NULL, "aten.asin.default"},
    {"", "Asinh", 1, 0, infer_same, NULL, "aten.asinh.default"},
    {"", "Atan", 1, 0, infer_same, NULL, "aten.atan.default"},
    {"", "Atanh", 1, 0, infer_same, NULL, "aten.atanh.default"},
    {"", "Attention", 1, 0, fused_attention, NULL, "aten.scaled_dot_product_attention.default", CALL_TEXT, attention},
    {"", "AveragePool", 1, 0, infer_pool, NULL, "aten.avg_pool2d.default", CALL_AVG_POOL},
    {"", "BatchNormalization", 1, 0, infer_batch_norm, NULL, "aten.batch_norm.default", CALL_BATCH_NORM, .least = 5},
    {"", "Bernoulli", 1, 0, infer_typed_like, NULL, "aten.bernoulli.default", CALL_TEXT, "bernoulli.p(a)",
     .is = OP_DRAWS},
    {"", "BitCast", 1, 0, infer_cast, NULL, NULL},
    {"", "BitShift", 1, 0, infer_broadcast, fold_shift, NULL},
    {"", "BitwiseAnd", 1, 0, infer_broadcast, fold_bit_and, "aten.bitwise_and.Tensor"},
    {"", "BitwiseNot", 1, 0, infer_same, fold_bit_not, "aten.bitwise_not.default"},
    {"", "BitwiseOr", 1, 0, infer_broadcast, fold_bit_or, "aten.bitwise_or.Tensor"},
    {"", "BitwiseXor", 1, 0, infer_broadcast, fold_bit_xor, "aten.bitwise_xor.Tensor"},
    {"", "BlackmanWindow", 1, 0, fused_window_function, NULL, NULL, CALL_FACTORY, "aten.full.default"},
    {"", "Cast", 1, 0, infer_cast, fold_cast, "aten._to_copy.default", CALL_CAST, "aten.to.dtype"},
    {"", "CastLike", 1, 0, infer_cast_like, fold_cast_like, "aten._to_copy.default", CALL_TEXT, "to.dtype(a, %t)"},
    {"", "CausalConvWithState", 1, 0, fused_causal_conv, NULL, NULL},
    {"", "Ceil", 1, 0, infer_same, fold_ceil, "aten.ceil.default", CALL_FIRST},
    {"", "Celu", 1, 0, infer_same, NULL, "aten.celu.default", CALL_FIRST},
    {"", "CenterCropPad", 1, 0, move_center_crop, NULL, NULL},
    {"", "Clip", 1, 0, infer_same, fold_clip, "aten.clamp.default", CALL_CLAMP, .data = "0"},
    {"", "Col2Im", 1, 0, infer_col2im, NULL, "aten.col2im.default", CALL_TEXT, "col2im.default(a, [-1], [-1])"},
    {"", "Compress", 1, 0, move_compress, fold_compress, NULL},
    {"", "Concat", 1, 0, move_concat, fold_concat, "aten.cat.default", CALL_CONCAT},
    {"", "ConcatFromSequence", 1, 0, control_concat_from_sequence, NULL, NULL, .flow = unroll_join},
    {"", "Constant", 1, 0, move_constant, fold_constant, NULL, .least = NO_INPUT, .is = OP_CONSTANT},
    {"", "ConstantOfShape", 1, 0, move_constant_of_shape, fold_constant_of_shape, "aten.full.default", CALL_FACTORY,
     .data = "", .least = NO_INPUT, .is = OP_MAKES},
    {"", "Conv", 1, 0, infer_conv, NULL, "aten.convolution.default", CALL_CONV, .least = 2},
    {"", "ConvInteger", 1, 0, infer_conv_integer, NULL, NULL},
    {"", "ConvTranspose", 1, 0, infer_conv_transpose, NULL, "aten.convolution.default", CALL_CONV_TRANSPOSE,
     .least = 2},
    {"", "Cos", 1, 0, infer_same, NULL, "aten.cos.default", CALL_FIRST},
    {"", "Cosh", 1, 0, infer_same, NULL, "aten.cosh.default"},
    {"", "CumProd", 1, 0, infer_same, fold_cum_prod, "aten.cumprod.default"},
    {"", "CumSum", 1, 0, infer_same, fold_cum_sum, "aten.cumsum.default", CALL_FIRST, .data = "0"},
    {"", "DeformConv", 1, 0, infer_conv, NULL, NULL, CALL_TEXT, "4: torchvision.deform_conv2d.default(a, b, c, e, d)"},
    {"", "DepthToSpace", 1, 0, move_depth_to_space, NULL, "aten.pixel_shuffle.default", CALL_FIRST},
    {"", "DequantizeLinear", 1, 0, fused_dequantize, NULL, NULL},
    {"", "Det", 1, 0, infer_det, NULL, "aten.linalg_det.default"},
    {"", "DFT", 1, 0, fused_dft, NULL, "aten._fft_c2c.default", CALL_DFT, .data = "0"},
    {"", "Div", 1, 6, infer_same, NULL, "aten.div.Tensor", CALL_ALL, .least = 2},
    {"", "Div", 7, 0, infer_broadcast, fold_div, "aten.div.Tensor", CALL_ALL, .least = 2},
    {"", "Dropout", 1, 0, infer_dropout, NULL, "aten.native_dropout.default", CALL_DROPOUT, "aten.dropout.default",
     .data = "0"},
    {"", "DynamicQuantizeLinear", 1, 0, fused_dynamic_quantize, NULL, NULL},
    {"", "Einsum", 1, 0, infer_einsum, NULL, "aten.einsum.default", CALL_EINSUM},
    {"", "Elu", 1, 0, infer_same, NULL, "aten.elu.default", CALL_FIRST},
    {"", "Equal", 1, 6, infer_bool, NULL, "aten.eq.Tensor", CALL_ALL, .least = 2},
    {"", "Equal", 7, 0, infer_compare, fold_equal, "aten.eq.Tensor", CALL_ALL, .least = 2},
    {"", "Erf", 1, 0, infer_same, NULL, "aten.erf.default", CALL_FIRST},
    {"", "Erfc", 1, 0, infer_same, NULL, "aten.erfc.default", CALL_FIRST}, /* tf2onnx leaves TensorFlow's */
    {"", "Exp", 1, 0, infer_same, fold_exp, "aten.exp.default", CALL_FIRST},
    {"", "Expand", 1, 0, move_expand, fold_expand, "aten.expand.default", CALL_EXPAND, .data = "0", .is = OP_MAKES},
    {"", "EyeLike", 1, 0, infer_typed_like, NULL, NULL, CALL_FACTORY, "aten.eye.default", .data = ""},
    {"", "Flatten", 1, 0, move_flatten, fold_copy, "aten.flatten.using_ints", CALL_FIRST, "aten.reshape.default"},
    {"", "Floor", 1, 0, infer_same, fold_floor, "aten.floor.default", CALL_FIRST},
    {"", "Gather", 1, 0, move_gather, fold_gather, "aten.index_select.default", CALL_GATHER, .least = 2},
    {"", "GatherElements", 1, 0, move_gather_elements, fold_gather_elements, "aten.gather.default", CALL_PICK,
     .least = 2},
    {"", "GatherND", 1, 0, move_gather_nd, fold_gather_nd, "aten.index.Tensor", CALL_GATHER_ND, .least = 2,
     .is = OP_COORDINATES},
    {"", "Gelu", 1, 0, infer_same, NULL, "aten.gelu.default", CALL_FIRST},
    {"", "Gemm", 1, 0, infer_gemm, NULL, NULL, CALL_GEMM, "aten.linear.default", .least = 2},
    {"", "GlobalAveragePool", 1, 0, infer_global_pool, NULL, "aten.adaptive_avg_pool2d.default", CALL_GLOBAL_POOL},
    {"", "GlobalLpPool", 1, 0, infer_global_pool, NULL, NULL, CALL_TEXT, global_lp_pool},
    {"", "GlobalMaxPool", 1, 0, infer_global_pool, NULL, "aten.adaptive_max_pool2d.default"},
    {"", "Greater", 1, 6, infer_bool, NULL, "aten.gt.Tensor", CALL_ALL},
    {"", "Greater", 7, 0, infer_compare, fold_greater, "aten.gt.Tensor", CALL_ALL},
    {"", "GreaterOrEqual", 1, 0, infer_compare, fold_greater_equal, "aten.ge.Tensor", CALL_ALL},
    {"", "GridSample", 1, 0, move_grid_sample, NULL, "aten.grid_sampler.default", CALL_TEXT, grid_sample},
    {"", "GroupNormalization", 1, 0, infer_same, NULL, "aten.group_norm.default", CALL_GROUP_NORM, .least = 3},
    {"", "GRU", 1, 0, fused_rnn, NULL, "aten.gru.input", CALL_RNN, .data = "05"},
    {"", "HammingWindow", 1, 0, fused_window_function, NULL, NULL, CALL_FACTORY, "aten.full.default"},
    {"", "HannWindow", 1, 0, fused_window_function, NULL, NULL, CALL_FACTORY, "aten.full.default"},
    {"", "Hardmax", 1, 0, infer_same, NULL, NULL, CALL_TEXT, hardmax},
    {"", "HardSigmoid", 1, 0, infer_same, NULL, "aten.hardsigmoid.default", CALL_FIRST},
    {"", "HardSwish", 1, 0, infer_same, NULL, "aten.hardswish.default", CALL_FIRST},
    {"", "Identity", 1, 0, infer_whole, fold_copy, NULL, CALL_IDENTITY},
    {"", "If", 1, 0, control_if, NULL, NULL, .flow = unroll_if},
    {"", "ImageDecoder", 1, 0, fused_image, NULL, NULL},
    {"", "InstanceNormalization", 1, 0, infer_same, NULL, "aten.instance_norm.default", CALL_INSTANCE_NORM},
    {"", "IsInf", 1, 0, infer_bool, NULL, "aten.isinf.default"},
    {"", "IsNaN", 1, 0, infer_bool, fold_is_nan, "aten.isnan.default", CALL_ALL},
    {"", "LayerNormalization", 1, 0, infer_layer_norm, NULL, "aten.layer_norm.default", CALL_LAYER_NORM, .least = 2},
    {"", "LeakyRelu", 1, 0, infer_same, NULL, "aten.leaky_relu.default", CALL_FIRST},
    {"", "Less", 1, 6, infer_bool, NULL, "aten.lt.Tensor", CALL_ALL},
    {"", "Less", 7, 0, infer_compare, fold_less, "aten.lt.Tensor", CALL_ALL},
    {"", "LessOrEqual", 1, 0, infer_compare, fold_less_equal, "aten.le.Tensor", CALL_ALL},
    {"", "LinearAttention", 1, 0, fused_linear_attention, NULL, NULL},
    {"", "Log", 1, 0, infer_same, fold_log, "aten.log.default", CALL_FIRST},
    {"", "LogSoftmax", 1, 0, infer_same, NULL, "aten.log_softmax.int", CALL_AXIS},
    {"", "Loop", 1, 0, control_loop, NULL, NULL, .flow = unroll_loop},
    {"", "LpNormalization", 1, 0, infer_same, NULL, NULL, CALL_TEXT, normalize},
    {"", "LpPool", 1, 0, infer_pool, NULL, NULL, CALL_TEXT, lp_pool},
    {"", "LRN", 1, 0, infer_same, NULL, NULL, CALL_TEXT, local_response_norm},
    {"", "LSTM", 1, 0, fused_rnn, NULL, "aten.lstm.input", CALL_LSTM, .data = "056"},
    {"", "MatMul", 1, 0, infer_matmul, NULL, "aten.matmul.default", CALL_ALL, .least = 2},
    {"", "MatMulInteger", 1, 0, infer_matmul_integer, NULL, NULL},
    {"", "Max", 1, 0, infer_broadcast, fold_max, "aten.maximum.default", CALL_TEXT, "chain(maximum.default)"},
    {"", "MaxPool", 1, 0, infer_pool, NULL, "aten.max_pool2d_with_indices.default", CALL_MAX_POOL,
     "aten.max_pool2d.default"},
    {"", "MaxRoiPool", 1, 0, infer_max_roi_pool, NULL, NULL},
    {"", "MaxUnpool", 1, 0, infer_max_unpool, NULL, NULL, CALL_TEXT, "4: max_unpool2d.default(a, b)"},
    {"", "Mean", 1, 0, infer_broadcast, NULL, NULL, CALL_TEXT, "div.Scalar(chain(add.Tensor), %n)"},
    {"", "MeanVarianceNormalization", 1, 0, infer_same, NULL, NULL, CALL_TEXT, mean_variance},
    {"", "MelWeightMatrix", 1, 0, fused_mel, NULL, NULL, CALL_FACTORY, "aten.full.default"},
    {"", "Min", 1, 0, infer_broadcast, fold_min, "aten.minimum.default", CALL_TEXT, "chain(minimum.default)"},
    {"", "Mish", 1, 0, infer_same, NULL, "aten.mish.default", CALL_FIRST},
    {"", "Mod", 1, 0, infer_broadcast, fold_mod, "aten.remainder.Tensor", CALL_ALL},
    {"", "Mul", 1, 6, infer_same, NULL, "aten.mul.Tensor", CALL_ALL, .least = 2},
    {"", "Mul", 7, 0, infer_broadcast, fold_mul, "aten.mul.Tensor", CALL_ALL, .least = 2},
    {"", "Multinomial", 1, 0, fused_multinomial, NULL, "aten.multinomial.default"},
    {"", "Neg", 1, 0, infer_same, fold_neg, "aten.neg.default", CALL_FIRST},
    {"", "NegativeLogLikelihoodLoss", 1, 0, fused_loss, NULL, "aten.nll_loss.default", CALL_TEXT, nll_loss},
    {"", "NonMaxSuppression", 1, 0, move_nms, NULL, NULL},
    {"", "NonZero", 1, 0, move_nonzero, fold_nonzero, "aten.nonzero.default"},
    {"", "Not", 1, 0, infer_same, fold_not, "aten.logical_not.default", CALL_ALL},
    {"", "OneHot", 1, 0, move_one_hot, NULL, "aten.one_hot.default", .data = "0"},
    {"", "Optional", 1, 0, control_optional, NULL, NULL, CALL_ALIAS},
    {"", "OptionalGetElement", 1, 0, control_optional_get, fold_copy, NULL, CALL_ALIAS},
    {"", "OptionalHasElement", 1, 0, control_optional_has, fold_optional_has, NULL},
    {"", "Or", 1, 6, infer_bool, NULL, "aten.logical_or.default", CALL_ALL},
    {"", "Or", 7, 0, infer_compare, fold_or, "aten.logical_or.default", CALL_ALL},
    {"", "Pad", 1, 0, move_pad, fold_pad, "aten.constant_pad_nd.default", CALL_PAD, "aten.pad.default", .data = "0"},
    {"", "Pow", 1, 6, infer_same, NULL, "aten.pow.Tensor_Tensor", CALL_POW, "aten.pow.Tensor_Scalar", .least = 2},
    {"", "Pow", 7, 0, infer_broadcast, fold_pow, "aten.pow.Tensor_Tensor", CALL_POW, "aten.pow.Tensor_Scalar",
     .least = 2},
    {"", "PRelu", 1, 0, infer_same, NULL, "aten.prelu.default", CALL_ALL},
    {"", "QLinearConv", 1, 0, infer_qlinear_conv, NULL, NULL},
    {"", "QLinearMatMul", 1, 0, infer_qlinear_matmul, NULL, NULL},
    {"", "QuantizeLinear", 1, 0, fused_quantize, NULL, NULL},
    {"", "RandomNormal", 1, 0, fused_random, NULL, "aten.randn.default", CALL_FACTORY, .data = "", .least = NO_INPUT,
     .is = OP_MAKES},
    {"", "RandomNormalLike", 1, 0, infer_typed_like, NULL, "aten.randn_like.default", CALL_FIRST},
    {"", "RandomUniform", 1, 0, fused_random, NULL, "aten.rand.default", CALL_FACTORY, .least = NO_INPUT,
     .is = OP_DRAWS},
    {"", "RandomUniformLike", 1, 0, infer_typed_like, NULL, "aten.rand_like.default", CALL_FIRST, .is = OP_DRAWS},
    {"", "Range", 1, 0, move_range, fold_range, "aten.arange.start_step", CALL_FACTORY, "aten.arange.default",
     .data = "", .least = NO_INPUT, .is = OP_MAKES},
    {"", "Reciprocal", 1, 0, infer_same, fold_reciprocal, "aten.reciprocal.default", CALL_FIRST},
    {"", "ReduceL1", 1, 0, infer_reduce, NULL, NULL, CALL_NORM_1, "aten.linalg_vector_norm.default", .data = "0"},
    {"", "ReduceL2", 1, 0, infer_reduce, NULL, NULL, CALL_NORM_2, "aten.linalg_vector_norm.default", .data = "0"},
    {"", "ReduceLogSum", 1, 0, infer_reduce, NULL, NULL, CALL_TEXT, log_sum},
    {"", "ReduceLogSumExp", 1, 0, infer_reduce, NULL, "aten.logsumexp.default", CALL_REDUCE, .data = "0"},
    {"", "ReduceMax", 1, 0, infer_reduce, fold_reduce_max, "aten.amax.default", CALL_REDUCE, .data = "0"},
    {"", "ReduceMean", 1, 0, infer_reduce, fold_reduce_mean, "aten.mean.dim", CALL_REDUCE, .data = "0"},
    {"", "ReduceMin", 1, 0, infer_reduce, fold_reduce_min, "aten.amin.default", CALL_REDUCE, .data = "0"},
    {"", "ReduceProd", 1, 0, infer_reduce, fold_reduce_prod, "aten.prod.dim_int", CALL_REDUCE, .data = "0"},
    {"", "ReduceSum", 1, 0, infer_reduce, fold_reduce_sum, "aten.sum.dim_IntList", CALL_REDUCE, .data = "0"},
    {"", "ReduceSumSquare", 1, 0, infer_reduce, NULL, NULL, CALL_TEXT, sum_square, .data = "0"},
    {"", "RegexFullMatch", 1, 0, infer_bool, NULL, NULL},
    {"", "Relu", 1, 0, infer_same, fold_relu, "aten.relu.default", CALL_FIRST},
    {"", "Reshape", 1, 0, move_reshape, fold_copy, "aten.reshape.default", CALL_FIRST, .data = "0"},
    {"", "Resize", 1, 0, move_resize, NULL, NULL, CALL_RESIZE, "aten.upsample_nearest2d.vec", .data = "0"},
    {"", "ReverseSequence", 1, 0, infer_same, NULL, NULL, CALL_TEXT, "flip.default(a, [@time_axis:0])"},
    {"", "RMSNormalization", 1, 0, infer_rms_norm, NULL, "aten.rms_norm.default", CALL_TEXT, rms_norm},
    {"", "RNN", 1, 0, fused_rnn, NULL, "aten.rnn_tanh.input", CALL_RNN, .data = "05"},
    {"", "RoiAlign", 1, 0, infer_roi_align, NULL, NULL, CALL_TEXT, "4: torchvision.roi_align.default(a, b)"},
    {"", "RotaryEmbedding", 1, 0, infer_same, NULL, NULL, CALL_TEXT, rotary},
    {"", "Round", 1, 0, infer_same, fold_round, "aten.round.default", CALL_FIRST},
    {"", "Scan", 1, 0, control_scan, NULL, NULL, .flow = unroll_scan},
    {"", "Scatter", 1, 0, infer_same, fold_scatter_elements, "aten.scatter.src", CALL_TEXT, scatter},
    {"", "ScatterElements", 1, 0, infer_same, fold_scatter_elements, "aten.scatter.src", CALL_TEXT, scatter},
    {"", "ScatterND", 1, 0, infer_same, fold_scatter_nd, "aten.index_put.default", CALL_SCATTER_ND, .data = "02",
     .least = 3, .is = OP_COORDINATES},
    {"", "Selu", 1, 0, infer_same, NULL, "aten.selu.default", CALL_FIRST},
    {"", "SequenceAt", 1, 0, control_sequence_at, fold_sequence_at, NULL, .flow = unroll_at},
    {"", "SequenceConstruct", 1, 0, control_sequence_construct, NULL, NULL},
    {"", "SequenceEmpty", 1, 0, control_sequence_empty, NULL, NULL, .least = NO_INPUT},
    {"", "SequenceErase", 1, 0, control_sequence_erase, NULL, NULL},
    {"", "SequenceInsert", 1, 0, control_sequence_insert, NULL, NULL},
    {"", "SequenceLength", 1, 0, control_sequence_length, fold_sequence_length, NULL},
    {"", "SequenceMap", 1, 0, control_sequence_map, NULL, NULL},
    {"", "Shape", 1, 0, move_shape, fold_shape, NULL, .data = "", .is = OP_SIZES},
    {"", "Shrink", 1, 0, infer_same, NULL, "aten.hardshrink.default", CALL_TEXT, "hardshrink.default(a, @lambd:0)"},
    {"", "Sigmoid", 1, 0, infer_same, NULL, "aten.sigmoid.default", CALL_FIRST},
    {"", "Sign", 1, 0, infer_same, fold_sign, "aten.sign.default", CALL_FIRST},
    {"", "SimplifiedLayerNormalization", 1, 0, infer_layer_norm, NULL, NULL, CALL_TEXT, "rms_norm.default(a, %b, b)"},
    {"", "Sin", 1, 0, infer_same, NULL, "aten.sin.default", CALL_FIRST},
    {"", "Sinh", 1, 0, infer_same, NULL, "aten.sinh.default"},
    {"", "Size", 1, 0, move_size, fold_size, NULL, .data = "", .is = OP_SIZES},
    {"", "Slice", 1, 0, move_slice, fold_slice, "aten.slice.Tensor", CALL_SLICE, .data = "0"},
    {"", "Softmax", 1, 0, infer_same, NULL, "aten.softmax.int", CALL_AXIS},
    {"", "SoftmaxCrossEntropyLoss", 1, 0, fused_loss, NULL, "aten.cross_entropy_loss.default", CALL_TEXT,
     cross_entropy},
    {"", "Softplus", 1, 0, infer_same, NULL, "aten.softplus.default", CALL_FIRST},
    {"", "Softsign", 1, 0, infer_same, NULL, NULL, CALL_TEXT, softsign},
    {"", "SpaceToDepth", 1, 0, move_space_to_depth, NULL, "aten.pixel_unshuffle.default"},
    {"", "Split", 1, 0, move_split, fold_split, "aten.split_with_sizes.default", CALL_SPLIT, .data = "0"},
    {"", "SplitToSequence", 1, 0, control_split_to_sequence, NULL, NULL, .flow = unroll_split},
    {"", "Sqrt", 1, 0, infer_same, fold_sqrt, "aten.sqrt.default", CALL_FIRST},
    {"", "Squeeze", 1, 0, move_squeeze, fold_copy, "aten.squeeze.dims", CALL_FIRST, "aten.reshape.default",
     .data = "0"},
    {"", "STFT", 1, 0, fused_stft, NULL, "aten.stft.default", CALL_STFT, .data = "02", .least = 2},
    {"", "StringConcat", 1, 0, infer_broadcast, NULL, NULL},
    {"", "StringNormalizer", 1, 0, fused_string_normalizer, NULL, NULL},
    {"", "StringSplit", 1, 0, fused_string_split, NULL, NULL},
    {"", "Sub", 1, 6, infer_same, NULL, "aten.sub.Tensor", CALL_ALL, .least = 2},
    {"", "Sub", 7, 0, infer_broadcast, fold_sub, "aten.sub.Tensor", CALL_ALL, .least = 2},
    {"", "Sum", 1, 0, infer_broadcast, fold_add, NULL, CALL_TEXT, "chain(add.Tensor)"},
    {"", "SwiGLU", 1, 0, infer_same, NULL, NULL},
    {"", "Swish", 1, 0, infer_same, NULL, "aten.silu.default", CALL_FIRST},
    {"", "Tan", 1, 0, infer_same, NULL, "aten.tan.default"},
    {"", "Tanh", 1, 0, infer_same, NULL, "aten.tanh.default", CALL_FIRST},
    {"", "TensorScatter", 1, 0, infer_same, NULL, NULL},
    {"", "TfIdfVectorizer", 1, 0, fused_tfidf, NULL, NULL},
    {"", "ThresholdedRelu", 1, 0, infer_same, NULL, "aten.threshold.default"},
    {"", "Tile", 1, 0, move_tile, fold_tile, "aten.repeat.default", CALL_FIRST, .data = "0"},
    {"", "TopK", 1, 0, infer_top_k, NULL, "aten.topk.default", CALL_TOPK, .data = "0"},
    {"", "Transpose", 1, 0, move_transpose, fold_transpose, "aten.permute.default", CALL_PERMUTE},
    {"", "Trilu", 1, 0, infer_same, NULL, NULL, CALL_FIRST, "aten.tril.default", .data = "0", .is = OP_MAKES},
    {"", "Unique", 1, 0, move_unique, NULL, "aten._unique2.default"},
    {"", "Unsqueeze", 1, 0, move_unsqueeze, fold_copy, "aten.unsqueeze.default", CALL_FIRST, "aten.reshape.default",
     .data = "0"},
    {"", "Upsample", 1, 0, move_upsample, NULL, NULL, CALL_RESIZE, "aten.upsample_nearest2d.vec", .data = "0"},
    {"", "Where", 1, 0, infer_where, fold_where, "aten.where.self", CALL_WHERE, .least = 3},
    {"", "Xor", 1, 6, infer_bool, NULL, "aten.logical_xor.default"},
    {"", "Xor", 7, 0, infer_compare, fold_xor, "aten.logical_xor.default"},
    {"ai.onnx.ml", "ArrayFeatureExtractor", 1, 0, fused_array_feature, NULL, NULL},
    {"ai.onnx.ml", "Binarizer", 1, 0, infer_same, NULL, NULL},
    {"ai.onnx.ml", "CastMap", 1, 0, fused_cast_map, NULL, NULL},
    {"ai.onnx.ml", "CategoryMapper", 1, 0, fused_category, NULL, NULL},
    {"ai.onnx.ml", "DictVectorizer", 1, 0, fused_dict_vectorizer, NULL, NULL},
    {"ai.onnx.ml", "FeatureVectorizer", 1, 0, fused_feature_vectorizer, NULL, NULL},
    {"ai.onnx.ml", "Imputer", 1, 0, infer_same, NULL, NULL},
    {"ai.onnx.ml", "LabelEncoder", 1, 0, fused_label_encoder, NULL, NULL},
    {"ai.onnx.ml", "LinearClassifier", 1, 0, fused_classifier, NULL, NULL},
    {"ai.onnx.ml", "LinearRegressor", 1, 0, fused_regressor, NULL, NULL},
    {"ai.onnx.ml", "Normalizer", 1, 0, fused_float_like, NULL, NULL},
    {"ai.onnx.ml", "OneHotEncoder", 1, 0, fused_one_hot_encoder, NULL, NULL},
    {"ai.onnx.ml", "Scaler", 1, 0, fused_float_like, NULL, NULL},
    {"ai.onnx.ml", "SVMClassifier", 1, 0, fused_classifier, NULL, NULL},
    {"ai.onnx.ml", "SVMRegressor", 1, 0, fused_regressor, NULL, NULL},
    {"ai.onnx.ml", "TreeEnsemble", 1, 0, fused_ensemble, NULL, NULL},
    {"ai.onnx.ml", "TreeEnsembleClassifier", 1, 0, fused_classifier, NULL, NULL},
    {"ai.onnx.ml", "TreeEnsembleRegressor", 1, 0, fused_regressor, NULL, NULL},
    {"ai.onnx.ml", "ZipMap", 1, 0, fused_zip_map, NULL, NULL},
    {"ai.onnx.preview", "FlexAttention", 1, 0, fused_flex_attention, NULL, NULL},
    {"ai.onnx.preview.training", "Adagrad", 1, 0, fused_optimizer, NULL, NULL},
    {"ai.onnx.preview.training", "Adam", 1, 0, fused_adam, NULL, NULL},
    {"ai.onnx.preview.training", "Gradient", 1, 0, fused_gradient, NULL, NULL},
    {"ai.onnx.preview.training", "Momentum", 1, 0, fused_optimizer, NULL, NULL},
    {"com.microsoft", "Attention", 1, 0, fused_ms_attention, NULL, NULL, CALL_TEXT, ms_attention},
    {"com.microsoft", "AttnLSTM", 1, 0, fused_rnn, NULL, NULL},
    {"com.microsoft", "BeamSearch", 1, 0, fused_beams, NULL, NULL},
    {"com.microsoft", "BiasAdd", 1, 0, infer_same, NULL, NULL, CALL_TEXT, "add.Tensor(add.Tensor(a, b), c)"},
    {"com.microsoft", "BiasDropout", 1, 0, infer_dropout, NULL, NULL, CALL_TEXT, ms_bias_dropout},
    {"com.microsoft", "BiasGelu", 1, 0, infer_same, NULL, NULL, CALL_TEXT, "gelu.default(add.Tensor(a, b))"},
    {"com.microsoft", "BiasSoftmax", 1, 0, infer_same, NULL, NULL, CALL_TEXT, ms_bias_softmax},
    {"com.microsoft", "BiasSplitGelu", 1, 0, fused_half_width, NULL, NULL, CALL_TEXT, ms_bias_split_gelu},
    {"com.microsoft", "BitmaskBiasDropout", 1, 0, fused_bitmask_dropout, NULL, NULL, CALL_TEXT, ms_bias_dropout},
    {"com.microsoft", "BitmaskDropout", 1, 0, fused_bitmask_dropout, NULL, NULL, CALL_TEXT, ms_dropout},
    {"com.microsoft", "CausalConvWithState", 1, 0, fused_causal_conv, NULL, NULL},
    {"com.microsoft", "CDist", 1, 0, fused_cdist, NULL, NULL},
    {"com.microsoft", "ComplexMul", 1, 0, infer_same, NULL, NULL},
    {"com.microsoft", "ComplexMulConj", 1, 0, infer_same, NULL, NULL},
    {"com.microsoft", "CropAndResize", 1, 0, fused_crop_and_resize, NULL, NULL},
    {"com.microsoft", "DecoderMaskedMultiHeadAttention", 1, 0, fused_multi_head, NULL, NULL},
    {"com.microsoft", "DecoderMaskedSelfAttention", 1, 0, fused_ms_attention, NULL, NULL},
    {"com.microsoft", "DequantizeLinear", 1, 0, fused_dequantize, NULL, NULL},
    {"com.microsoft", "DynamicQuantizeLSTM", 1, 0, fused_dynamic_lstm, NULL, NULL},
    {"com.microsoft", "DynamicQuantizeMatMul", 1, 0, infer_matmul_to_float, NULL, NULL},
    {"com.microsoft", "EmbedLayerNormalization", 1, 0, fused_embed_norm, NULL, NULL, CALL_TEXT, ms_embed_norm},
    {"com.microsoft", "EPContext", 1, 0, fused_declared, NULL, NULL},
    {"com.microsoft", "FastGelu", 1, 0, infer_same, NULL, "aten.gelu.default", CALL_TEXT, ms_fast_gelu},
    {"com.microsoft", "FusedConv", 1, 0, infer_conv, NULL, NULL, CALL_LIKE, "Conv"},
    {"com.microsoft", "FusedGemm", 1, 0, infer_gemm, NULL, NULL, CALL_LIKE, "Gemm"},
    {"com.microsoft", "FusedMatMul", 1, 0, infer_matmul, NULL, NULL, CALL_TEXT, ms_matmul},
    {"com.microsoft", "FusedMatMulActivation", 1, 0, infer_matmul, NULL, NULL},
    {"com.microsoft", "GatedAdd", 1, 0, infer_broadcast, NULL, NULL, CALL_TEXT, "add.Tensor(a, mul.Tensor(b, c))"},
    {"com.microsoft", "GatedRelativePositionBias", 1, 0, fused_gated_bias, NULL, NULL},
    {"com.microsoft", "GatedRMSNorm", 1, 0, infer_same, NULL, NULL},
    {"com.microsoft", "GatherBlockQuantized", 1, 0, fused_gather_blocks, NULL, NULL},
    {"com.microsoft", "GatherND", 1, 0, move_gather_nd, NULL, "aten.index.Tensor", CALL_GATHER_ND, .least = 2,
     .is = OP_COORDINATES},
    {"com.microsoft", "Gelu", 1, 0, infer_same, NULL, "aten.gelu.default", CALL_TEXT, "gelu.default(a)"},
    {"com.microsoft", "GemmaRotaryEmbedding", 1, 0, fused_two_rotations, NULL, NULL},
    {"com.microsoft", "GemmFastGelu", 1, 0, infer_matmul, NULL, NULL, CALL_TEXT, ms_gemm_fast_gelu},
    {"com.microsoft", "GreedySearch", 1, 0, fused_generate, NULL, NULL},
    {"com.microsoft", "GridSample", 1, 0, move_grid_sample, NULL, NULL, CALL_TEXT, "4: grid_sampler.default(a, b)"},
    {"com.microsoft", "GroupNorm", 1, 0, infer_same, NULL, NULL, CALL_TEXT, ms_group_norm},
    {"com.microsoft", "GroupQueryAttention", 1, 0, fused_grouped_query, NULL, NULL, CALL_TEXT, ms_query_groups},
    {"com.microsoft", "Inverse", 1, 0, infer_same, NULL, NULL},
    {"com.microsoft", "Irfft", 1, 0, fused_irfft, NULL, NULL},
    {"com.microsoft", "IsAllFinite", 1, 0, fused_all_finite, NULL, NULL},
    {"com.microsoft", "LinearAttention", 1, 0, fused_linear_attention, NULL, NULL},
    {"com.microsoft", "LinearAttentionGate", 1, 0, infer_same, NULL, NULL},
    {"com.microsoft", "LongformerAttention", 1, 0, infer_same, NULL, NULL},
    {"com.microsoft", "MatMulBnb4", 1, 0, infer_matmul_nbits, NULL, NULL},
    {"com.microsoft", "MatMulFpQ4", 1, 0, infer_matmul_nbits, NULL, NULL},
    {"com.microsoft", "MatMulInteger16", 1, 0, infer_matmul_integer, NULL, NULL},
    {"com.microsoft", "MatMulIntegerToFloat", 1, 0, infer_matmul_to_float, NULL, NULL},
    {"com.microsoft", "MatMulNBits", 1, 0, infer_matmul_nbits, NULL, NULL},
    {"com.microsoft", "MoE", 1, 0, infer_same, NULL, NULL},
    {"com.microsoft", "MRotaryEmbedding", 1, 0, infer_same, NULL, NULL},
    {"com.microsoft", "MultiHeadAttention", 1, 0, fused_multi_head, NULL, NULL, CALL_TEXT, ms_multi_head},
    {"com.microsoft", "MurmurHash3", 1, 0, fused_hash, NULL, NULL},
    {"com.microsoft", "NGramRepeatBlock", 1, 0, fused_second, NULL, NULL},
    {"com.microsoft", "NhwcConv", 1, 0, fused_nhwc_conv, NULL, NULL, CALL_TEXT, ms_nhwc_conv},
    {"com.microsoft", "NhwcFusedConv", 1, 0, fused_nhwc_fused_conv, NULL, NULL},
    {"com.microsoft", "NhwcMaxPool", 1, 0, fused_nhwc_pool, NULL, NULL, CALL_TEXT, ms_nhwc_max_pool},
    {"com.microsoft", "PackedAttention", 1, 0, fused_packed_attention, NULL, NULL},
    {"com.microsoft", "PackedMultiHeadAttention", 1, 0, fused_packed_multi_head, NULL, NULL},
    {"com.microsoft", "Pad", 1, 0, move_pad, NULL, NULL, .data = "0"},
    {"com.microsoft", "PagedAttention", 1, 0, infer_same, NULL, NULL},
    {"com.microsoft", "QAttention", 1, 0, fused_qattention, NULL, NULL},
    {"com.microsoft", "QEmbedLayerNormalization", 1, 0, fused_qembed_norm, NULL, NULL},
    {"com.microsoft", "QGemm", 1, 0, infer_qgemm, NULL, NULL},
    {"com.microsoft", "QLinearAdd", 1, 0, fused_qlinear_binary, NULL, NULL},
    {"com.microsoft", "QLinearAveragePool", 1, 0, infer_pool, NULL, NULL},
    {"com.microsoft", "QLinearConcat", 1, 0, move_qlinear_concat, NULL, NULL},
    {"com.microsoft", "QLinearConv", 1, 0, infer_qlinear_conv, NULL, NULL},
    {"com.microsoft", "QLinearGlobalAveragePool", 1, 0, fused_qglobal_pool, NULL, NULL},
    {"com.microsoft", "QLinearLeakyRelu", 1, 0, infer_same, NULL, NULL},
    {"com.microsoft", "QLinearMul", 1, 0, fused_qlinear_binary, NULL, NULL},
    {"com.microsoft", "QLinearSigmoid", 1, 0, infer_same, NULL, NULL},
    {"com.microsoft", "QLinearSoftmax", 1, 0, infer_same, NULL, NULL},
    {"com.microsoft", "QLinearWhere", 1, 0, fused_qlinear_where, NULL, NULL},
    {"com.microsoft", "QMoE", 1, 0, infer_same, NULL, NULL},
    {"com.microsoft", "QOrderedGelu", 1, 0, infer_same, NULL, NULL},
    {"com.microsoft", "QOrderedLayerNormalization", 1, 0, infer_same, NULL, NULL},
    {"com.microsoft", "QuantizeLinear", 1, 0, fused_quantize, NULL, NULL},
    {"com.microsoft", "QuickGelu", 1, 0, infer_same, NULL, NULL, CALL_TEXT, ms_quick_gelu},
    {"com.microsoft", "Range", 1, 0, move_range, fold_range, NULL, .data = "", .least = NO_INPUT, .is = OP_MAKES},
    {"com.microsoft", "RelativePositionBias", 1, 0, fused_position_bias, NULL, NULL},
    {"com.microsoft", "RemovePadding", 1, 0, fused_remove_padding, NULL, NULL},
    {"com.microsoft", "RestorePadding", 1, 0, fused_restore_padding, NULL, NULL},
    {"com.microsoft", "Rfft", 1, 0, fused_rfft, NULL, NULL},
    {"com.microsoft", "RotaryEmbedding", 1, 0, infer_same, NULL, NULL, CALL_TEXT, rotary},
    {"com.microsoft", "Sampling", 1, 0, fused_generate, NULL, NULL},
    {"com.microsoft", "SkipGroupNorm", 1, 0, infer_same, NULL, NULL, CALL_TEXT, ms_skip_group_norm},
    {"com.microsoft", "SkipLayerNormalization", 1, 0, fused_skip_norm, NULL, NULL, CALL_TEXT, ms_skip_norm},
    {"com.microsoft", "SkipSimplifiedLayerNormalization", 1, 0, fused_skip_norm, NULL, NULL, CALL_TEXT,
     ms_skip_rms_norm},
    {"com.microsoft", "Snpe", 1, 0, fused_declared, NULL, NULL},
    {"com.microsoft", "SparseAttention", 1, 0, fused_grouped_query, NULL, NULL},
    {"com.microsoft", "SparseToDenseMatMul", 1, 0, infer_matmul, NULL, NULL},
    {"com.microsoft", "Tokenizer", 1, 0, fused_tokenizer, NULL, NULL},
    {"com.microsoft", "TorchEmbedding", 1, 0, fused_embedding, NULL, NULL, CALL_TEXT, "embedding.default(a, b)"},
    {"com.microsoft", "TransposeMatMul", 1, 0, infer_matmul, NULL, NULL, CALL_TEXT, ms_matmul},
    {"com.microsoft", "Trilu", 1, 0, infer_same, NULL, NULL, CALL_TEXT, "tril.default(a)", .data = "0", .is = OP_MAKES},
    {"com.microsoft", "Unique", 1, 0, move_unique, NULL, NULL},
    {"com.microsoft", "WhisperBeamSearch", 1, 0, fused_beams, NULL, NULL},
    {"com.microsoft.nchwc", "AveragePool", 1, 0, infer_pool, NULL, NULL, CALL_LIKE, "AveragePool"},
    {"com.microsoft.nchwc", "Conv", 1, 0, infer_conv, NULL, NULL, CALL_LIKE, "Conv", .least = 2},
    {"com.microsoft.nchwc", "GlobalAveragePool", 1, 0, infer_global_pool, NULL, NULL, CALL_LIKE, "GlobalAveragePool"},
    {"com.microsoft.nchwc", "GlobalMaxPool", 1, 0, infer_global_pool, NULL, NULL},
    {"com.microsoft.nchwc", "MaxPool", 1, 0, infer_pool, NULL, NULL, CALL_LIKE, "MaxPool"},
    {"com.microsoft.nchwc", "ReorderInput", 1, 0, fused_reorder_input, NULL, NULL, CALL_LIKE, "Identity"},
    {"com.microsoft.nchwc", "ReorderOutput", 1, 0, fused_reorder_output, NULL, NULL, CALL_LIKE, "Identity"},
    {"com.microsoft.nchwc", "Upsample", 1, 0, fused_nchwc_upsample, NULL, NULL, CALL_LIKE, "Upsample"},
};

const struct op *
op_next(const struct op *o)
{
    o = o ? o + 1 : ops;
    return o < ops + COUNT(ops) ? o : NULL;
}

bool
node_is(const struct node *n, enum op_trait t)
{
    return n->row && n->row->is & t;
}

enum op_call
node_call(const struct node *n)
{
    return n->row ? n->row->call : CALL_NONE;
}

/* The rows whose name has that letter first and that length stand together. */
static unsigned char
shelf_of(const char *name)
{
    return (unsigned char)((unsigned char)*name + 8 * strlen(name));
}

/* The last row that began by that opset, else the first one: a wrong opset number loses little. */
const struct op *
op_find(const char *domain, const char *name, int opset)
{
    static short first[UCHAR_MAX + 1], next[COUNT(ops) + 1]; /* 1 and up, in order */
    static bool filled;
    const struct op *row = NULL;
    for (int i = COUNT(ops); i > 0 && !filled; i--) {
        short *to = &first[shelf_of(ops[i - 1].name)];
        next[i] = *to;
        *to = (short)i;
    }
    filled = true;
    for (int i = first[shelf_of(name)]; i; i = next[i]) {
        const struct op *o = &ops[i - 1];
        if (strcmp(o->name, name) == 0 && strcmp(o->domain, domain) == 0 && (!row || o->since <= opset))
            row = o;
    }
    return row;
}

void
op_list(FILE *out)
{
    for (int i = 0; i < COUNT(ops); i++) {
        const struct op *o = &ops[i];
        fprintf(out, "%s\t%s\t%d-", *o->domain ? o->domain : "ai.onnx", o->name, o->since);
        if (o->until)
            fprintf(out, "%d", o->until);
        fprintf(out, "\t%s\t%s\t%s\n", o->shape ? "shape" : "-", o->value ? "value" : "-", o->aten ? o->aten : "-");
    }
}
