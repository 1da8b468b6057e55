#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compare with PyTorch the rows that no export of today reaches, call by call.

    calls.py MEMLINT RECORD.PY EXPORT.PY [--only REGEX] [--keep DIR] [--pack FILE] [-v]

Exporters rewrite many operators before they write a file, and which ones changes with each version. So here a file is
the program itself: each case is a module whose calls torch.export keeps as they are written, and each call is one node
with the record of it that PyTorch's exporter leaves (target, arguments, stack). Everything else is as in ops.py: one
operator between two linear layers, in fp32 and under autocast.
"""

import operator, re, sys, os

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import steps

X2, X3 = "x.unflatten(2, (4, 8))", "x.unflatten(2, (2, 4, 4))"
MASK, INTS, COMPLEX = "(x > 0)", "(x > 0).long()", "A.view_as_complex(x.unflatten(-1, (16, 2)))"
REAL = "A.view_as_real({}).flatten(-2)"
FLAT, HALF = "{}.flatten(2)", "{}.repeat(1, 1, 2)"
LOSS = "x * {}"
CASES = {  # name: expression of x, a float tensor [4, 8, 32] that requires a gradient; A is torch.ops.aten
    **{
        f"{n}_{o}": f"x * A.{n}.{o}({MASK}, {'True' if o == 'Scalar' else 'x < 1'})"
        for n in ("__and__", "__or__", "bitwise_and", "bitwise_or", "bitwise_xor")
        for o in ("Scalar", "Tensor")
    },
    **{
        f"{n}_{o}": f"x * A.{n}.{o}(x, {'.5' if o == 'Scalar' else 'x.flip(1)'})"
        for n in ("greater", "greater_equal", "less", "less_equal", "ne", "eq", "not_equal")
        for o in ("Scalar", "Tensor")
    },
    **{
        f"{n}_{o}": f"A.{n}.{o}(x, {'.5' if o == 'Scalar' else 'x.flip(1)'})"
        for n in ("add", "sub", "mul", "div", "divide", "multiply", "subtract", "true_divide", "rsub")
        for o in ("Scalar", "Tensor")
    },
    **{f"{n}": f"x * A.{n}({MASK}, x < 1)" for n in ("logical_or", "logical_xor", "logical_and")},
    **{
        f"{n}": f"x * A.{n}(x)"
        for n in ("isfinite", "isinf", "isnan", "isneginf", "isposinf", "signbit", "rand_like", "randn_like")
    },
    **{
        f"{n}": f"A.{n}(x)"
        for n in "alias clone square rad2deg nan_to_num lift_fresh_copy resolve_conj resolve_neg special_erf "
        "special_erfc special_expm1".split()
    },
    **{f"{n}": f"x * A.{n}(x)" for n in ("all", "any", "argmin", "argmax")},
    **{f"{n}_dim": f"x * A.{n}.dim({MASK}, 1, True)" for n in ("all", "any")},
    **{f"{n}_dims": f"x * A.{n}.dims({MASK}, [0, 1], True)" for n in ("all", "any")},
    **{f"{n}_flat": f"x * A.{n}.dim({MASK}, 2).unsqueeze(-1)" for n in ("all", "any")},
    "bitwise_not": f"x * A.bitwise_not({MASK})",
    "xlog1py": "A.special_xlog1py(x, x.abs())",
    "isclose": "x * A.isclose(x, x.flip(1))",
    "heaviside": "x * A.heaviside(x.detach(), x.detach().flip(1))",
    "hypot": "A.hypot(x, x.flip(1))",
    "argmin_dim": "x * A.argmin(x, 1, True)",
    "argsort": "x * A.argsort(x, 1)",
    "sort": "A.sort(x, 1)[0]",
    "sort_stable": "A.sort.stable(x, stable=True, dim=1)[0]",
    "floor_divide": "x * A.floor_divide(x.detach(), x.detach().flip(1))",
    "floor_divide_Scalar": "x * A.floor_divide.Scalar(x.detach(), 2)",
    "divide_mode": "x * A.divide.Tensor_mode(x, x.flip(1), rounding_mode='floor')",
    "rsub_alpha": "A.rsub.Tensor(x, x.flip(1), alpha=2)",
    "add_alpha": "A.add.Tensor(x, x.flip(1), alpha=2)",
    "sub_alpha": "A.sub.Tensor(x, x.flip(1), alpha=2)",
    "max_other": "A.max.other(x, x.flip(1))",
    "min_other": "A.min.other(x, x.flip(1))",
    "clamp_Tensor": "A.clamp.Tensor(x, x.flip(1), x.flip(2))",
    "clamp_min_Tensor": "A.clamp.Tensor(x, x.flip(1))",
    "clamp_max_Tensor": "A.clamp.Tensor(x, None, x.flip(1))",
    "clamp_max": "A.clamp_max(x, 1)",
    "clamp_min": "A.clamp_min(x, 0)",
    "where_Scalar": f"x * A.where.Scalar({MASK}, 1., 0.)",
    "where_ScalarSelf": f"A.where.ScalarSelf({MASK}, 1., x)",
    "where_ScalarOther": f"A.where.ScalarOther({MASK}, x, 1.)",
    "masked_fill_Tensor": f"A.masked_fill.Tensor(x, {MASK}, x.sum())",
    "fill": "A.fill.Scalar(x, 1.) + x",
    "full_like": "x * A.full_like(x, 2.)",
    # complex
    "complex": f"{REAL.format('A.complex(x[..., :16], x[..., 16:])')}",
    "polar": REAL.format("A.polar(x[..., :16], x[..., 16:])"),
    "_conj": REAL.format(f"A.resolve_conj(A._conj({COMPLEX}))"),
    "conj": REAL.format(f"A.resolve_conj(A.conj({COMPLEX}))"),
    "view_as_complex": REAL.format(f"{COMPLEX} * 2"),
    "mH": "A.mH(A.mH(x) * 2)",
    # made anew
    **{
        n: f"x * A.{n}({a}, device=x.device)"
        for n, a in (
            ("arange", "32"),
            ("arange.start", "0, 32"),
            ("arange.start_step", "0, 64, 2"),
            ("empty.memory_format", "[8, 32]"),
            ("empty_strided", "[8, 32], [32, 1]"),
            ("full", "[8, 32], 1."),
            ("linspace", "0, 1, 32"),
            ("ones", "[8, 32]"),
            ("zeros", "[8, 32]"),
            ("rand", "[8, 32]"),
            ("randn", "[8, 32]"),
            ("randint", "9, [8, 32]"),
            ("scalar_tensor", "1."),
        )
    },
    **{
        n: f"x * A.{n}(x.detach(), {a})"
        for n, a in (
            ("new_full", "[8, 32], 1."),
            ("new_ones", "[8, 32]"),
            ("new_zeros", "[8, 32]"),
            ("new_empty", "[8, 32]"),
            ("randint_like", "9"),
        )
    },
    "randint_like_low": "x * A.randint_like.low_dtype(x.detach(), 0, 9)",
    "eye": "x @ A.eye(32, device=x.device)",
    "bernoulli": "x * A.bernoulli.p(x.detach(), .5)",
    "one_hot": f"A.one_hot({INTS}[..., 0], 32) * x",
    "zeros_like": "x * A.zeros_like(x)",
    "ones_like": "x * A.ones_like(x)",
    "empty_like": "x * A.empty_like(x)",
    # sizes
    "broadcast_to": "A.broadcast_to(x[:, :1], [4, 8, 32]) * x",
    "expand_as": "A.expand_as(x[:, :1], x) * x",
    "view_as": f"A.view_as({X2}, x)",
    "flatten": f"A.flatten.using_ints({X2}, 2)",
    "unflatten": "A.unflatten.int(x, 2, [4, 8]).flatten(2)",
    "narrow": HALF.format("A.narrow(x, 2, 0, 16)"),
    "mT": "A.mT(A.mT(x) * 2)",
    "squeeze_dims": "A.squeeze.dims(x[:, :1, None], [1, 2]).unsqueeze(1) * x",
    "to_other": "A.to.other(x, x.detach().double())",
    "concatenate": "A.concatenate([x[:, :4], x[:, 4:] * 2], 1)",
    "chunk": "A.cat([p.relu() for p in A.chunk(x, 4, 1)], 1)",
    **{
        f"split_{o}": f"A.cat([p.relu() for p in A.{n}.{o}(x, {a}, 1)], 1)"
        for n, o, a in (("split", "Tensor", "4"), ("split", "default", "[2, 6]"), ("split", "sizes", "[2, 6]"))
    },
    "unsafe_split": "A.cat([p.relu() for p in A.unsafe_split.Tensor(x, 4, 1)], 1)",
    "select_scatter": "A.select_scatter(x, x[:, 0] * 2, 1, 3)",
    "slice_scatter": "A.slice_scatter(x, x[:, :4] * 2, 1, 4, 8)",
    "scatter_value": f"A.scatter.value(x, 1, {INTS}, 0.)",
    "scatter_src": f"A.scatter.src(x, 1, {INTS}, x.flip(1))",
    "_unsafe_index": f"A._unsafe_index.Tensor(x, [None, {INTS}[0, :, 0]])",
    "_unsafe_index_put": f"A._unsafe_index_put(x, [{INTS}[0, :4, 0]], x * 2)",
    "index_put": f"A.index_put(x, [{INTS}[0, :4, 0]], x * 2)",
    "index_put_accumulate": f"A.index_put(x, [{INTS}[0, :4, 0]], x * 2, True)",
    "index_fill": f"A.index_fill.int_Scalar(x, 1, {INTS}[0, :, 0], 0.)",
    # reductions
    "cumprod": "A.cumprod(x, 1)",
    "prod": "x * A.prod(x)",
    "prod_dim": "x * A.prod.dim_int(x, 1, True)",
    "prod_flat": "x * A.prod.dim_int(x, 2).unsqueeze(-1)",
    "norm_dim": "x / A.norm.ScalarOpt_dim(x, 2, [1], True)",
    "norm_flat": "x / A.norm.ScalarOpt_dim(x, 2, [1]).unsqueeze(1)",
    "norm_dtype": "x / A.norm.ScalarOpt_dim_dtype(x, 2, [1], True, dtype=torch.float32)",
    "norm_1": "x / A.norm.ScalarOpt_dim(x, 1, [1], True)",
    "var_mean": "A.add(*A.var_mean.correction(x, [1], correction=1, keepdim=True)) * x",
    "special_softmax": "A.special_softmax(x, -1)",
    "special_log_softmax": "A.special_log_softmax(x, -1)",
    # pooling, resizing, padding
    "adaptive_avg_pool1d": HALF.format("A.adaptive_avg_pool1d(x, [16])"),
    "adaptive_avg_pool2d": f"A.adaptive_avg_pool2d({X2}, [2, 4]).flatten(2).repeat(1, 1, 4)",
    "adaptive_avg_pool3d": f"A.adaptive_avg_pool3d({X3}, [2, 2, 2]).flatten(2).repeat(1, 1, 4)",
    "adaptive_max_pool2d": f"A.adaptive_max_pool2d({X2}, [2, 4])[0].flatten(2).repeat(1, 1, 4)",
    "max_unpool2d": f"A.max_unpool2d(*A.max_pool2d_with_indices({X2}, [2, 2]), [4, 8]).flatten(2)",
    "reflection_pad3d": f"A.reflection_pad3d({X3}, [1] * 6).flatten(2)[..., :32]",
    **{
        f"{n}_default": f"A.{n}(x.unflatten(2, {sizes}), {out}, {more}).flatten(2)[..., :32]"
        for n, sizes, out, more in (
            ("_upsample_nearest_exact1d", "(32,)", "[64]", "None"),
            ("_upsample_nearest_exact2d", "(4, 8)", "[8, 16]", "None, None"),
            ("_upsample_nearest_exact3d", "(2, 4, 4)", "[4, 8, 8]", "None, None, None"),
            ("_upsample_bicubic2d_aa", "(4, 8)", "[8, 16]", "False, None, None"),
            ("_upsample_bilinear2d_aa", "(4, 8)", "[8, 16]", "False, None, None"),
            ("upsample_linear1d", "(32,)", "[64]", "False, None"),
        )
    },
    **{
        f"{n}_vec": f"A.{n}.vec(x.unflatten(2, {sizes}), None, {more}[2.] * {k}).flatten(2)[..., :32]"
        for n, sizes, k, more in (
            ("_upsample_nearest_exact1d", "(32,)", 1, ""),
            ("_upsample_nearest_exact2d", "(4, 8)", 2, ""),
            ("_upsample_nearest_exact3d", "(2, 4, 4)", 3, ""),
            ("_upsample_bicubic2d_aa", "(4, 8)", 2, "False, "),
            ("_upsample_bilinear2d_aa", "(4, 8)", 2, "False, "),
            ("upsample_linear1d", "(32,)", 1, "False, "),
        )
    },
    "grid_sampler_3d": f"A.grid_sampler_3d({X3}, {X3}[:, :3].permute(0, 2, 3, 4, 1), 0, 0, False).flatten(2)",
    "grid_sampler_2d": f"A.grid_sampler_2d({X2}, {X2}[:, :2].permute(0, 2, 3, 1), 0, 0, False).flatten(2)",
    # convolutions, recurrent networks, attention
    **{
        f"conv{n}d": (
            f"A.conv{n}d({x}, self.op.weight, self.op.bias, padding=[1] * {n}).flatten(2)",
            f"nn.Conv{n}d(8, 8, 3)",
        )
        for n, x in ((1, "x"), (2, X2), (3, X3))
    },
    **{
        f"conv{n}d_padding": (
            f"A.conv{n}d.padding({x}, self.op.weight, self.op.bias, padding='same').flatten(2)",
            f"nn.Conv{n}d(8, 8, 3)",
        )
        for n, x in ((1, "x"), (2, X2), (3, X3))
    },
    **{
        f"conv_transpose{n}d": (
            f"A.conv_transpose{n}d{o}({x}, self.op.weight, self.op.bias, padding=[1] * {n}).flatten(2)",
            f"nn.ConvTranspose{n}d(8, 8, 3)",
        )
        for n, x, o in ((1, "x", ""), (2, X2, ".input"), (3, X3, ".input"))
    },
    "lstm": ("self.op(x)[0]", "nn.LSTM(32, 32, batch_first=True)"),
    "gru": ("self.op(x)[0]", "nn.GRU(32, 32, batch_first=True)"),
    "rnn_tanh": ("self.op(x)[0]", "nn.RNN(32, 32, batch_first=True)"),
    "rnn_relu": ("self.op(x)[0]", "nn.RNN(32, 32, nonlinearity='relu', batch_first=True)"),
    "lstm_cell": ("self.op(x.flatten(0, 1))[0].unflatten(0, (4, 8))", "nn.LSTMCell(32, 32)"),
    "gru_cell": ("self.op(x.flatten(0, 1)).unflatten(0, (4, 8))", "nn.GRUCell(32, 32)"),
    "rnn_tanh_cell": ("self.op(x.flatten(0, 1)).unflatten(0, (4, 8))", "nn.RNNCell(32, 32)"),
    "rnn_relu_cell": ("self.op(x.flatten(0, 1)).unflatten(0, (4, 8))", "nn.RNNCell(32, 32, nonlinearity='relu')"),
    "sdpa_cudnn": "A._scaled_dot_product_cudnn_attention(*(x.half().view(4, 8, 2, 16).transpose(1, 2),) * 3, None, "
    "True)[0].transpose(1, 2).reshape(4, 8, 32).float()",
    "embedding_bag": (
        f"A.embedding_bag.padding_idx(self.op.weight, {INTS}[..., 0].flatten(), torch.arange(0, 32, 8, "
        f"device=x.device), False, 0, False, None, False, None)[0].unsqueeze(1) * x",
        "nn.EmbeddingBag(9, 32)",
    ),
    "_embedding_bag": (
        f"A._embedding_bag(self.op.weight, {INTS}[..., 0].flatten(), torch.arange(0, 32, 8, "
        f"device=x.device))[0].unsqueeze(1) * x",
        "nn.EmbeddingBag(9, 32)",
    ),
    "_embedding_bag_weights": (
        f"A._embedding_bag(self.op.weight, {INTS}[..., 0].flatten(), torch.arange(0, 32, 8, device=x.device), False, "
        f"0, False, x[..., 0].flatten())[0].unsqueeze(1) * x",
        "nn.EmbeddingBag(9, 32)",
    ),
    "dropout": "A.dropout(x, .1, True)",
    "native_dropout": "A.native_dropout(x, .1, True)[0]",
    "deform_conv2d": (
        "torchvision.ops.deform_conv2d(x.unflatten(2, (4, 8)), x.unflatten(2, (4, 8)).repeat(1, 3, 1, 1)[:, :18], "
        "self.op.weight, padding=1).flatten(2)",
        "nn.Conv2d(8, 8, 3)",
    ),
    "roi_align": f"torchvision.ops.roi_align({X2}, torch.zeros(4, 5, device=x.device), (4, 8)).flatten(2)",
    # tensors that nothing else keeps
    "alpha_dropout": "A.alpha_dropout(x, .5, True)",
    "feature_alpha_dropout": "A.feature_alpha_dropout(x, .5, True)",
    "sgn": "A.sgn(x) + x",
    "grid_sampler_3d_fresh": f"A.grid_sampler_3d({X3} * 2, ({X3} * 3)[:, :3].permute(0, 2, 3, 4, 1), 0, 0, "
    f"False).flatten(2)",
    "sdpa_cudnn_fresh": "A._scaled_dot_product_cudnn_attention(*((x * i).half().view(4, 8, 2, 16).transpose(1, 2) "
    "for i in (2, 3, 4)), None, True)[0].transpose(1, 2).reshape(4, 8, 32).float()",
    "cudnn_batch_norm_fresh": f"A.cudnn_batch_norm({X2} * 2, x[0, :, 0] * 2, x[0, :, 1] * 2, x[0, :, 2].detach() * "
    f"2, x[0, :, 3].detach() * 2, True, .1, 1e-5)[0].flatten(2)",
    "native_group_norm_half": (
        "A.native_group_norm(x.half(), self.op.weight.half(), self.op.bias.half(), 4, 8, 32, 4, 1e-5)[0].float()",
        "nn.GroupNorm(4, 8)",
    ),
    "norm_half": "x / A.norm.ScalarOpt_dim(x.half(), 2, [1], True)",
    "deform_half": (
        "torchvision.ops.deform_conv2d(x.half().unflatten(2, (4, 8)), x.half().unflatten(2, (4, 8)).repeat(1, 3, 1, "
        "1)[:, :18], self.op.weight.half(), self.op.bias.half(), padding=1).flatten(2).float()",
        "nn.Conv2d(8, 8, 3)",
    ),
    # losses
    **{
        f"{n}_{r}": LOSS.format(f"A.{n}({a}, x.flip(1).detach(), {b}{k})")
        for n, a, b in (
            ("huber_loss", "x", ""),
            ("smooth_l1_loss", "x", ""),
            ("soft_margin_loss", "x", ""),
            ("mse_loss", "x", ""),
        )
        for r, k in (("none", 0), ("mean", 1), ("sum", 2))
    },
    **{f"{n}_both": LOSS.format(f"A.{n}(x, x.flip(1))") for n in ("huber_loss", "smooth_l1_loss", "mse_loss")},
    **{
        f"bce_{r}": LOSS.format(f"A.binary_cross_entropy(x.sigmoid(), x.flip(1).sigmoid().detach(), None, {k})")
        for r, k in (("none", 0), ("mean", 1), ("sum", 2))
    },
    **{
        f"bce_logits_{r}": LOSS.format(
            f"A.binary_cross_entropy_with_logits(x, x.flip(1).sigmoid().detach(), None, None, {k})"
        )
        for r, k in (("none", 0), ("mean", 1), ("sum", 2))
    },
    "bce_both": LOSS.format("A.binary_cross_entropy(x.sigmoid(), x.flip(1).sigmoid())"),
    "bce_logits_both": LOSS.format("A.binary_cross_entropy_with_logits(x, x.flip(1).sigmoid())"),
    "bce_weight": LOSS.format("A.binary_cross_entropy(x.sigmoid(), x.flip(1).sigmoid().detach(), x.detach())"),
    "bce_logits_weight": LOSS.format("A.binary_cross_entropy_with_logits(x, x.flip(1).sigmoid().detach(), x.detach())"),
    "bce_logits_positive": LOSS.format(
        "A.binary_cross_entropy_with_logits(x, x.flip(1).sigmoid().detach(), None, torch.ones(32, device=x.device))"
    ),
}
OPTIONS = ["--loss", "cross-entropy", "--dropout", "none"]
HIDDEN = "a dispatch mode hides whether there are zeros, so PyTorch takes another way"
OPEN = {
    "sgn": "its gradient is a tensor of zeros without memory, and what is added to that is copied",
    "cumprod": HIDDEN,
    "lstm": "cuDNN's reserve is not in the record",
    **dict.fromkeys(
        ("lstm_cell", "rnn_tanh", "rnn_relu", "rnn_tanh_cell", "rnn_relu_cell", "deform_conv2d"),
        "zeros of the input's type, which autocast changes: the file says fp32",
    ),
}
ZOO = """
import torch, torch.nn.functional as F, torchvision
from torch import nn
from zoo_base import *
A = torch.ops.aten
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.op, self.b = nn.Linear(32, 32), CONSTRUCTOR, nn.Linear(32, 5)
    def forward(self, x):
        x = self.a(x)
        x = EXPRESSION
        return self.b(x)
ZOO = {"case": Entry(M, lambda b: ({"x": torch.rand(b, 8, 32)}, ids(b, 8)), cross_entropy, (4,))}
"""
SPEC = "pkg.torch.export.graph_signature.InputSpec."


def as_called(model, inputs):
    """The file of a program whose calls are left as they are."""
    import onnx, torch

    program = torch.export.export(model, (), inputs)
    types = {
        v: onnx.helper.np_dtype_to_tensor_dtype(torch.empty(0, dtype=v).numpy().dtype)
        for v in (
            torch.float32,
            torch.float64,
            torch.float16,
            torch.int64,
            torch.int32,
            torch.uint8,
            torch.bool,
            torch.complex64,
        )
    }
    types[torch.bfloat16] = onnx.TensorProto.BFLOAT16
    signature = program.graph_signature
    own = {
        **signature.inputs_to_parameters,
        **signature.inputs_to_buffers,
        **signature.inputs_to_lifted_tensor_constants,
    }
    graph = onnx.GraphProto(name="main_graph")

    def says(to, **properties):
        for key, value in properties.items():
            to.metadata_props.add(key=key.replace("__", "."), value=value)
        return to

    def tell(name, v):
        return onnx.helper.make_tensor_value_info(name, types[v.dtype], list(v.shape))

    for n in program.graph.nodes:
        v = n.meta.get("val")
        kind = {
            "pkg__torch__export__graph_signature__InputSpec__kind": "PARAMETER"
            if n.name in signature.inputs_to_parameters
            else "BUFFER"
            if n.name in own
            else "USER_INPUT",
            "pkg__torch__onnx__original_node_name": n.name,
        }
        if n.op == "placeholder" and n.name in own:
            data = bytes(v.numel() * v.element_size())
            graph.initializer.append(
                says(
                    onnx.TensorProto(name=own[n.name], data_type=types[v.dtype], dims=list(v.shape), raw_data=data),
                    **kind,
                )
            )
        elif n.op == "placeholder":
            graph.input.append(says(tell(n.name, v), **kind))
        elif n.op == "call_function" and n.target is not operator.getitem:
            items = {u.args[1]: u.name for u in n.users if u.target is operator.getitem}
            made = (
                {items.get(i, f"{n.name}.{i}"): w for i, w in enumerate(v)}
                if isinstance(v, (list, tuple))
                else {n.name: v}
            )
            graph.value_info.extend(tell(name, w) for name, w in made.items() if isinstance(w, torch.Tensor))
            graph.node.append(
                says(
                    onnx.helper.make_node(
                        "Call",
                        [own.get(i.name, i.name) for i in n.all_input_nodes],
                        list(made),
                        name="node_" + n.name,
                        domain="pkg.torch",
                    ),
                    pkg__torch__onnx__class_hierarchy=repr([str(n.target)]),
                    pkg__torch__onnx__name_scopes=repr(["", n.name]),
                    pkg__torch__onnx__fx_node=n.format_node(),
                    pkg__torch__onnx__stack_trace=n.meta.get("stack_trace") or "",
                )
            )
        elif n.op == "output":
            graph.output.extend(tell(o.name, o.meta["val"]) for o in n.args[0])
    says(graph, pkg__torch__export__ExportedProgram__graph_signature=str(signature))
    return onnx.helper.make_model(
        graph,
        producer_name="pytorch",
        producer_version=torch.__version__,
        opset_imports=[onnx.helper.make_opsetid("", 20), onnx.helper.make_opsetid("pkg.torch", 1)],
    )


def run(a, bench):
    return steps.table(a, bench, steps.between(CASES, ZOO, OPTIONS), OPEN, export=as_called)


if __name__ == "__main__":
    sys.exit(steps.on_bench(run, steps.arguments(__doc__).parse_args()))
