#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Which arguments a GPU's kernels copy when their elements are not in order: measured, beside src/torch/aten.c.

    contiguous.py RECORD.PY

RECORD.PY is the oracle's, with nullgpu.cpp beside it: PyTorch's host code and allocator run, kernels don't. An operator
runs once with an argument in order and once with its last dimensions turned; what that takes more is the copy, made before
the result where what is born first dies with the call. Prints a line an argument, and exits 1 where a row of the table
says otherwise.
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
    return {
        (row, name): "first" if c.isupper() else "later"
        for row, args, order in found
        for name, c in zip(args.split(), order)
        if c != "."
    }


def copied(torch, op, call):
    """When a call makes a copy of a turned argument that it doesn't make of one in order: first, later or never."""
    name, overload = op.rsplit(".", 1)
    f, taken, dies = getattr(getattr(torch.ops.aten, name), overload), [], []
    space = {
        "x": torch.rand(16, 32, 64, device="cuda"),
        "w": torch.rand(64, device="cuda"),
        "m": torch.rand(16, 32, 1, device="cuda"),
        "i": torch.zeros(1, 32, 1, dtype=torch.int64, device="cuda"),
        "y": lambda *s: torch.rand(*s, device="cuda"),
        "j": lambda t: torch.empty_like(t, dtype=torch.int64),
        "f32": torch.float32,
    }
    for v in (torch.rand(16, 64, 32, device="cuda").transpose(1, 2), torch.rand(16, 32, 64, device="cuda")):
        args = eval(call, {**space, "v": v})
        f(*args)  # what is made for good
        torch.cuda.reset_peak_memory_stats()
        torch.cuda.memory._record_memory_history(context=None)
        out = f(*args)
        events = [(e["action"], e["addr"]) for e in torch.cuda.memory._snapshot()["device_traces"][0]]
        torch.cuda.memory._record_memory_history(enabled=None)
        taken.append(torch.cuda.max_memory_allocated() - torch.cuda.memory_allocated())
        born = next(addr for action, addr in events if action == "alloc")
        dies.append(("free_completed", born) in events)
        del out
    return "never" if taken[0] <= taken[1] else "first" if dies[0] else "later"


def main():
    record = steps.load("record", os.path.realpath(sys.argv[1]))
    real.start(record)
    said, wrong = rows(), 0
    for (op, argument), call in CALLS.items():
        when = copied(record.torch, op, call)
        right = when == said.get((op, argument), "never")
        wrong += not right
        print(f"{op:44} {argument:8} {when:8}{'' if right else ' the table says otherwise'}")
    for op, argument in sorted(set(said) - set(CALLS)):
        wrong += 1
        print(f"{op:44} {argument:8} not measured")
    return wrong != 0


if __name__ == "__main__":
    sys.exit(main())
