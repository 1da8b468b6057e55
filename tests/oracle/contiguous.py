#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Which arguments a GPU's kernels copy when their elements are not in order: measured, beside src/torch/aten.c.

    contiguous.py RECORD.PY

RECORD.PY is the oracle's, with nullgpu.cpp beside it: PyTorch's host code and allocator run, kernels don't. An operator
runs once with an argument in order and once with its last dimensions turned; what that takes more is the copy, made
before the result where what is asked for first dies with the call. With images it runs once more with the channels
last. Prints a line an argument with the letter of the column, and exits 1 where a row of the table says otherwise.
"""

import os, re, sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import real, steps

# Per argument a call of it, v; x is another tensor of its sizes, w a vector, m a number a row, i indices, j(t) indices
# that lie as t does, y(...) more.
CALLS = {
    ("_softmax.default", "self"): "(v, -1, False)",
    ("_log_softmax.default", "self"): "(v, -1, False)",
    ("_softmax_backward_data.default", "output"): "(x, v, -1, f32)",
    ("_log_softmax_backward_data.default", "grad"): "(v, x, -1, f32)",
    ("_log_softmax_backward_data.default", "output"): "(x, v, -1, f32)",
    ("native_layer_norm.default", "input"): "(v, [64], w, w, 1e-5)",
    ("native_layer_norm_backward.default", "grad"): "(v, x, [64], m, m, w, w, [True] * 3)",
    ("native_layer_norm_backward.default", "input"): "(x, v, [64], m, m, w, w, [True] * 3)",
    ("_fused_rms_norm.default", "input"): "(v, [64], w, 1e-5)",
    ("_fused_rms_norm_backward.default", "grad"): "(v, x, [64], m, w, [True] * 2)",
    ("_fused_rms_norm_backward.default", "input"): "(x, v, [64], m, w, [True] * 2)",
    ("roll.default", "self"): "(v, [1], [1])",
    ("flip.default", "self"): "(v, [1])",
    ("topk.default", "self"): "(v, 5, -1)",
    ("sort.default", "self"): "(v, -1)",
    ("gelu.default", "self"): "(v,)",
    ("gelu_backward.default", "grad"): "(v, x)",
    ("sum.dim_IntList", "self"): "(v, [2])",
    ("tril.default", "self"): "(v,)",
    ("repeat.default", "self"): "(v, [1, 1, 2])",
    ("constant_pad_nd.default", "self"): "(v, [1, 1])",
    ("replication_pad1d.default", "self"): "(v, [1, 1])",
    ("reflection_pad1d.default", "self"): "(v, [1, 1])",
    ("reflection_pad1d_backward.default", "grad"): "(v, y(16, 32, 62), [1, 1])",
    ("reflection_pad2d.default", "self"): "(v, [1, 1, 1, 1])",
    ("reflection_pad2d_backward.default", "grad"): "(v, y(16, 30, 62), [1, 1, 1, 1])",
    ("upsample_nearest1d.default", "self"): "(v, [128])",
    ("upsample_nearest1d_backward.default", "grad"): "(v, [64], [16, 32, 32])",
    ("upsample_linear1d.default", "self"): "(v, [128], False)",
    ("upsample_linear1d_backward.default", "grad"): "(v, [64], [16, 32, 32], False)",
    ("upsample_nearest2d.default", "self"): "(v[None], [64, 128])",
    ("upsample_nearest2d_backward.default", "grad"): "(v[None], [32, 64], [1, 16, 16, 32])",
    ("upsample_nearest3d.default", "self"): "(v[None, :, None], [1, 64, 128])",
    ("upsample_bilinear2d.default", "self"): "(v[None], [64, 128], False)",
    ("upsample_bilinear2d_backward.default", "grad"): "(v[None], [32, 64], [1, 16, 16, 32], False)",
    ("max_pool2d_with_indices.default", "self"): "(v[None], [2, 2])",
    ("max_pool2d_with_indices_backward.default", "grad"): "(v[None], y(1, 16, 64, 128), [2, 2], [2, 2], "
    "[0, 0], [1, 1], False, i.expand(1, 16, 32, 64).contiguous())",
    ("max_pool3d_with_indices.default", "self"): "(v[None, :, None], [1, 2, 2])",
    ("avg_pool2d.default", "self"): "(v[None], [2, 2])",
    ("avg_pool2d_backward.default", "grad"): "(v[None], y(1, 16, 64, 128), [2, 2], [2, 2], [0, 0], False, True, None)",
    ("avg_pool3d.default", "self"): "(v[None, :, None], [1, 2, 2])",
    ("_adaptive_avg_pool2d.default", "self"): "(v[None], [7, 7])",
    ("_adaptive_avg_pool2d_backward.default", "grad"): "(v[None], y(1, 16, 64, 128))",
    ("_adaptive_avg_pool3d.default", "self"): "(v[None, :, None], [1, 7, 7])",
    ("adaptive_max_pool2d.default", "self"): "(v[None], [7, 7])",
    ("im2col.default", "self"): "(v[None], [3, 3], [1, 1], [1, 1], [2, 2])",
    ("adaptive_max_pool2d_backward.default", "grad"): "(v[None], y(1, 16, 64, 128), j(x[None]))",
    ("adaptive_max_pool3d.default", "self"): "(v[None, :, None], [1, 7, 7])",
    ("adaptive_max_pool3d_backward.default", "grad"): "(v[None, :, None], y(1, 16, 1, 64, 128), j(x[None, :, None]))",
    ("_adaptive_avg_pool3d_backward.default", "grad"): "(v[None, :, None], y(1, 16, 1, 64, 128))",
    ("avg_pool3d_backward.default", "grad"): "(v[None, :, None], y(1, 16, 1, 64, 128), [1, 2, 2], [1, 2, 2], "
    "[0, 0, 0], False, True, None)",
    ("max_pool3d_with_indices_backward.default", "grad"): "(v[None, :, None], y(1, 16, 1, 64, 128), [1, 2, 2], "
    "[1, 2, 2], [0, 0, 0], [1, 1, 1], False, j(x[None, :, None]))",
    ("fractional_max_pool2d.default", "self"): "(v[None], [2, 2], [7, 7], y(1, 16, 2))",
    ("fractional_max_pool2d_backward.default", "grad"): "(v[None], y(1, 16, 64, 128), [2, 2], [32, 64], j(x[None]))",
    ("upsample_bicubic2d.default", "self"): "(v[None], [64, 128], False)",
    ("upsample_bicubic2d_backward.default", "grad"): "(v[None], [32, 64], [1, 16, 16, 32], False)",
    ("upsample_nearest3d_backward.default", "grad"): "(v[None, :, None], [1, 32, 64], [1, 16, 1, 16, 32])",
    ("upsample_trilinear3d.default", "self"): "(v[None, :, None], [1, 64, 128], False)",
    ("upsample_trilinear3d_backward.default", "grad"): "(v[None, :, None], [1, 32, 64], [1, 16, 1, 16, 32], False)",
    ("_upsample_nearest_exact1d.default", "self"): "(v, [128])",
    ("_upsample_nearest_exact1d_backward.default", "grad"): "(v, [64], [16, 32, 32])",
    ("_upsample_nearest_exact2d.default", "self"): "(v[None], [64, 128])",
    ("_upsample_nearest_exact2d_backward.default", "grad"): "(v[None], [32, 64], [1, 16, 16, 32])",
    ("_upsample_nearest_exact3d.default", "self"): "(v[None, :, None], [1, 64, 128])",
    ("_upsample_nearest_exact3d_backward.default", "grad"): "(v[None, :, None], [1, 32, 64], [1, 16, 1, 16, 32])",
    ("_upsample_bilinear2d_aa.default", "self"): "(v[None], [64, 128], False)",
    ("_upsample_bilinear2d_aa_backward.default", "grad"): "(v[None], [32, 64], [1, 16, 16, 32], False)",
    ("_upsample_bicubic2d_aa.default", "self"): "(v[None], [64, 128], False)",
    ("_upsample_bicubic2d_aa_backward.default", "grad"): "(v[None], [32, 64], [1, 16, 16, 32], False)",
    ("nll_loss_backward.default", "grad"): "(v[0, 0], y(64, 9), y(64).long(), None, 0, -100, w[0])",
    ("nll_loss2d_backward.default", "grad"): "(v, y(16, 9, 32, 64), j(x), None, 0, -100, w[0])",
    ("col2im.default", "self"): "(v, [9, 9], [2, 2], [1, 1], [0, 0], [1, 1])",
    ("grid_sampler_2d.default", "input"): "(v[None], y(1, 8, 8, 2), 0, 0, False)",
    ("grid_sampler_2d_backward.default", "grad"): "(v[None], y(1, 16, 64, 64), y(1, 32, 64, 2), 0, 0, False, "
    "[True, True])",
    ("index_select.default", "self"): "(v, 1, i[0, :, 0])",
    ("gather.default", "self"): "(v, 1, j(x))",
    ("scatter_add.default", "src"): "(x, 1, j(x), v)",
    ("index_add.default", "source"): "(x, 1, i[0, :, 0], v)",
    ("masked_fill.Scalar", "self"): "(v, x > 0, 0)",
    ("max.dim", "self"): "(v, 1)",
    ("argmax.default", "self"): "(v, 1)",
    ("kthvalue.default", "self"): "(v, 3, 1)",
    ("median.dim", "self"): "(v, 1)",
    ("mode.default", "self"): "(v, 1)",
    ("triu.default", "self"): "(v,)",
    ("pixel_shuffle.default", "self"): "(v.reshape(1, 4, 32, 256), 2)",
    ("_cdist_forward.default", "x1"): "(v, x, 2.0, 0)",
    ("glu.default", "self"): "(v, 1)",
    ("replication_pad1d_backward.default", "grad"): "(v, y(16, 32, 62), [1, 1])",
    ("replication_pad2d.default", "self"): "(v, [1, 1, 1, 1])",
    ("replication_pad2d_backward.default", "grad"): "(v, y(16, 30, 62), [1, 1, 1, 1])",
    ("bernoulli.default", "self"): "(v,)",
    ("cummax.default", "self"): "(v, 1)",
    ("cummin.default", "self"): "(v, 1)",
    ("renorm.default", "self"): "(v, 2, 0, 1.0)",
    ("nll_loss_forward.default", "self"): "(v[0], i[0, :, 0], None, 1, -100)",
    ("nll_loss2d_forward.default", "self"): "(v[None], i.expand(1, 32, 64), None, 1, -100)",
    ("embedding.default", "indices"): "(x[0], j(v))",
    ("embedding_dense_backward.default", "indices"): "(y(16, 32, 64, 8), j(v), 100, -1, False)",
    ("embedding_dense_backward.default", "grad"): "(v, i.expand(16, 32, 1)[:, :, 0], 100, -1, False)",
}


def rows():
    """(row, argument) of what the table says."""
    table = open(os.path.join(HERE, "..", "..", "src", "torch", "aten.c")).read()
    found = re.findall(r'\{\s*\.name = "([^"]+)"[^{}]*?\.args = "([^"]+)",\s*\.order = "([^"]+)"', table)
    return {(row, name): c for row, args, order in found for name, c in zip(args.split(), order) if c != "."}


def taken(torch, f, args):
    """Bytes that a call takes beside its result, and whether what it asks for first is among them."""
    f(*args)  # what is made for good
    torch.cuda.reset_peak_memory_stats()
    torch.cuda.memory._record_memory_history(context=None)
    out = f(*args)
    events = [(e["action"], e["addr"]) for e in torch.cuda.memory._snapshot()["device_traces"][0]]
    torch.cuda.memory._record_memory_history(enabled=None)
    more = torch.cuda.max_memory_allocated() - torch.cuda.memory_allocated()
    del out
    return more, ("free_completed", next(addr for action, addr in events if action == "alloc")) in events


def letter(torch, op, call):
    """That of the column: whether a call copies a turned argument, and one with channels last, and when."""
    name, overload = op.rsplit(".", 1)
    f = getattr(getattr(torch.ops.aten, name), overload)
    space = {
        "x": torch.rand(16, 32, 64, device="cuda"),
        "w": torch.rand(64, device="cuda"),
        "m": torch.rand(16, 32, 1, device="cuda"),
        "i": torch.zeros(1, 32, 1, dtype=torch.int64, device="cuda"),
        "y": lambda *s: torch.rand(*s, device="cuda"),
        "j": lambda t: torch.empty_like(t, dtype=torch.int64),
        "f32": torch.float32,
    }
    turned = eval(call, {**space, "v": torch.rand(16, 64, 32, device="cuda").transpose(1, 2)})
    plain = eval(call, {**space, "v": torch.rand(16, 32, 64, device="cuda")})
    more, first = taken(torch, f, turned)
    least, _ = taken(torch, f, plain)
    if more <= least:
        return "."
    at = next(i for i, (a, b) in enumerate(zip(turned, plain)) if torch.is_tensor(a) and a.stride() != b.stride())
    rank = plain[at].dim()
    last = {4: torch.channels_last, 5: torch.channels_last_3d}.get(rank)
    image = [a.contiguous(memory_format=last) if last and torch.is_tensor(a) and a.dim() == rank else a for a in plain]
    c = "d" if last and taken(torch, f, image)[0] <= least else "c"
    return c.upper() if first else c


def main():
    record = steps.load("record", os.path.realpath(sys.argv[1]))
    real.start(record)
    said, wrong = rows(), 0
    for (op, argument), call in CALLS.items():
        c, here = letter(record.torch, op, call), said.get((op, argument), ".")
        wrong += c != here
        print(f"{op:44} {argument:8} {c}{'' if c == here else ', and the table says ' + here}")
    for op, argument in sorted(k for k in set(said) - set(CALLS) if "." in k[0]):
        wrong += 1
        print(f"{op:44} {argument:8} not measured")
    return wrong != 0


if __name__ == "__main__":
    sys.exit(main())
