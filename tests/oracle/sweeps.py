#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What single calls take of a GPU's memory beside their results, over many sizes: a line of JSON for each call.

    sweeps.py OUT [WHAT...] [--part I/N] [--spare GIB]     WHAT: convs, recurrent, norms, attention, calls

Each in a process of its own and all at once, into OUT/WHAT.jsonl. Every line has the call and, of its forward and its
backward pass, bytes of PyTorch's allocator: `kept` when the pass is over less what was there before, `most` while it
ran less what was there before. Differences of both are workspaces and temporary tensors. A call that fails has
`error`. Sizes are drawn from a seed, so that another GPU or the stand-in device of record.py runs the same. --part runs
each N-th, from the I-th on.
"""

import argparse, gc, json, os, random, subprocess, sys

import torch, torch.nn.functional as F

TYPES = {"fp32": torch.float32, "fp16": torch.float16, "bf16": torch.bfloat16}


class Pass:
    """Bytes that a pass keeps and takes at its most."""

    def __enter__(self):
        gc.collect()
        torch.cuda.synchronize()
        torch.cuda.reset_peak_memory_stats()
        self.before = torch.cuda.memory_allocated()
        return self

    def __exit__(self, *_):
        torch.cuda.synchronize()
        self.kept = torch.cuda.memory_allocated() - self.before
        self.most = torch.cuda.max_memory_allocated() - self.before


def passes(call, inputs, row):
    """Runs a call of inputs and its backward pass, the second time as measured: what the first made to last stays."""
    for _ in range(2):
        for t in inputs:
            t.grad = None
        with Pass() as forward:
            out = call(*inputs)
        outs = [t for t in (out if isinstance(out, (tuple, list)) else [out]) if isinstance(t, torch.Tensor)]
        row["out"] = [t.untyped_storage().nbytes() for t in outs]
        row["forward"] = [forward.kept, forward.most]
        first = next((t for t in outs if t.requires_grad), None)
        if first is None:
            continue
        row["node"] = first.grad_fn.name()
        grad = torch.ones_like(first)
        if first.grad_fn.name().startswith("CudnnRnn"):
            row["reserve"] = first.grad_fn._saved_result3.numel() * first.grad_fn._saved_result3.element_size()
        del outs, out
        with Pass() as backward:
            torch.autograd.backward([first], [grad])
        row["backward"] = [backward.kept, backward.most]
        del first, grad


# ---- convolutions ----------------------------------------------------------------------------------------------------

CONVS = [  # N C spatial, K, filter, stride, padding, dilation, groups, transposed
    (32, 3, (224, 224), 64, (7, 7), 2, (3, 3), 1, 1, False),
    (32, 64, (56, 56), 64, (3, 3), 1, (1, 1), 1, 1, False),
    (32, 64, (56, 56), 256, (1, 1), 1, (0, 0), 1, 1, False),
    (32, 128, (28, 28), 128, (3, 3), 1, (1, 1), 1, 1, False),
    (32, 256, (28, 28), 512, (1, 1), 2, (0, 0), 1, 1, False),
    (32, 512, (7, 7), 512, (3, 3), 1, (1, 1), 1, 1, False),
    (16, 3, (224, 224), 64, (3, 3), 1, (1, 1), 1, 1, False),
    (16, 64, (224, 224), 64, (3, 3), 1, (1, 1), 1, 1, False),
    (16, 256, (56, 56), 256, (3, 3), 1, (1, 1), 1, 1, False),
    (32, 96, (112, 112), 96, (3, 3), 2, (1, 1), 1, 96, False),
    (32, 384, (14, 14), 384, (3, 3), 1, (1, 1), 1, 384, False),
    (32, 96, (56, 56), 96, (7, 7), 1, (3, 3), 1, 96, False),
    (32, 256, (14, 14), 256, (3, 3), 1, (1, 1), 1, 32, False),
    (4, 64, (256, 256), 64, (3, 3), 1, (1, 1), 1, 1, False),
    (4, 1024, (16, 16), 512, (3, 3), 1, (1, 1), 1, 1, False),
    (32, 192, (17, 17), 192, (1, 7), 1, (0, 3), 1, 1, False),
    (32, 2048, (7, 7), 512, (1, 1), 1, (0, 0), 1, 1, False),
    (8, 512, (64, 64), 512, (3, 3), 1, (2, 2), 2, 1, False),
    (8, 256, (32, 32), 128, (4, 4), 2, (1, 1), 1, 1, True),
    (8, 512, (16, 16), 256, (2, 2), 2, (0, 0), 1, 1, True),
    (16, 256, (2048,), 256, (3,), 1, (1,), 1, 1, False),
    (16, 64, (16000,), 128, (16,), 8, (4,), 1, 1, False),
    (8, 512, (256,), 256, (16,), 8, (4,), 1, 1, True),
    (16, 64, (8192,), 64, (3,), 1, (16,), 16, 1, False),
    (2, 64, (16, 56, 56), 64, (3, 3, 3), 1, (1, 1, 1), 1, 1, False),
    (2, 32, (48, 48, 48), 32, (3, 3, 3), 1, (1, 1, 1), 1, 1, False),
    (2, 64, (24, 24, 24), 32, (2, 2, 2), 2, (0, 0, 0), 1, 1, True),
    (64, 1, (28, 28), 32, (3, 3), 1, (0, 0), 1, 1, False),
    (64, 32, (26, 26), 64, (3, 3), 1, (0, 0), 1, 1, False),
    (4, 320, (64, 64), 320, (3, 3), 1, (1, 1), 1, 1, False),
    (4, 640, (32, 32), 1280, (3, 3), 1, (1, 1), 1, 1, False),
    (8, 3, (224, 224), 768, (16, 16), 16, (0, 0), 1, 1, False),
]
LAYOUTS = {4: torch.channels_last, 5: torch.channels_last_3d}


def convolution(size, dtype, last, row):
    n, c, space, k, window, stride, pad, dilation, groups, transposed = size
    to = lambda t: t.to(memory_format=LAYOUTS[t.dim()]) if last else t
    x = to(torch.rand(n, c, *space, device="cuda", dtype=dtype))
    of = (c, k // groups) if transposed else (k, c // groups)
    weight = to(torch.rand(*of, *window, device="cuda", dtype=dtype))
    many = len(space)
    rest = ([stride] * many, list(pad), [dilation] * many, transposed, [0] * many, groups)
    y = torch.ops.aten.convolution(x, weight, None, *rest)
    back = lambda *mask: torch.ops.aten.convolution_backward(y, x, weight, [0], *rest, [*mask, False])
    calls = (
        lambda: torch.ops.aten.convolution(x, weight, None, *rest),
        lambda: back(True, False),
        lambda: back(False, True),
    )
    for name, call in zip(("forward", "input", "weight"), calls):
        call()
        with Pass() as p:
            out = call()
        row[name] = p.most - p.kept
        del out


def convs():
    flags = torch.backends.cudnn
    for size in CONVS:
        for name, dtype in TYPES.items():
            for last in (False, True) if len(size[2]) > 1 else (False,):
                for flag in ("", "deterministic", "no-tf32", "benchmark"):
                    if flag == "no-tf32" and name != "fp32":
                        continue
                    flags.deterministic, flags.benchmark = flag == "deterministic", flag == "benchmark"
                    flags.allow_tf32 = flag != "no-tf32"
                    row = {"size": size, "type": name, "channels_last": last, "flag": flag}
                    yield row, lambda: convolution(size, dtype, last, row)


# ---- recurrent layers ------------------------------------------------------------------------------------------------


def recurrent():
    draw = random.Random(23)
    fixed = [
        ("LSTM", 320, 320, 4, False, 100, 250),
        ("GRU", 320, 320, 4, False, 100, 250),
        ("RNN", 320, 320, 4, False, 100, 250),
    ]
    fixed += [
        ("LSTM", 512, 512, 1, False, 64, 35),
        ("LSTM", 512, 512, 2, True, 64, 35),
        ("GRU", 256, 256, 2, True, 32, 100),
    ]
    for number in range(420):
        row = {
            "number": number,
            "type": draw.choice(list(TYPES)),
            "dropout": draw.choice((0, 0, 0.3)),
            "relu": False,
            "proj": 0,
            "packed": draw.random() < 0.1,
            "bias": draw.random() < 0.9,
            "train": draw.random() < 0.9,
        }
        kind, units, of, layers, both, batch, steps = (
            draw.choice(("LSTM", "LSTM", "GRU", "GRU", "RNN")),
            draw.choice((8, 20, 32, 64, 100, 128, 200, 256, 320, 384, 512, 650, 768, 1024)),
            draw.choice((1, 8, 40, 64, 80, 128, 256, 300, 512, 1000)),
            draw.choice((1, 1, 2, 2, 3, 4)),
            draw.random() < 0.4,
            draw.choice((1, 2, 4, 7, 8, 16, 20, 32, 64, 100, 128, 256)),
            draw.choice((1, 5, 10, 28, 35, 50, 64, 100, 128, 200, 300)),
        )
        relu, proj = draw.random() < 0.5, draw.random() < 0.15
        if number < len(fixed):
            kind, units, of, layers, both, batch, steps = fixed[number]
            row.update(type="fp32", dropout=0, packed=False, bias=True, train=True)
            relu = proj = False
        row.update(kind=kind, units=units, input=of, layers=layers, both=both, batch=batch, steps=steps)
        if kind == "RNN":
            row["relu"] = relu
        if kind == "LSTM" and proj:
            row["proj"] = max(4, units // 2)
        if units * batch * steps * layers * (1 + both) > 1 << 27:
            continue
        yield row, lambda: layer(row)


def layer(r):
    more = {"nonlinearity": "relu"} if r["relu"] else {"proj_size": r["proj"]} if r["proj"] else {}
    net = getattr(torch.nn, r["kind"])(
        r["input"],
        r["units"],
        r["layers"],
        bidirectional=r["both"],
        dropout=r["dropout"] if r["layers"] > 1 else 0,
        bias=r["bias"],
        **more,
    )
    net = net.to("cuda", TYPES[r["type"]])
    net.train(r["train"])
    r["weights"] = sum(p.numel() * p.element_size() for p in net.parameters())
    x = torch.rand(r["steps"], r["batch"], r["input"], device="cuda", dtype=TYPES[r["type"]], requires_grad=True)
    lengths = [max(1, r["steps"] * (r["batch"] - i) // r["batch"]) for i in range(r["batch"])]
    r["rows"] = sum(lengths) if r["packed"] else r["steps"] * r["batch"]

    def call(x):
        if r["packed"]:
            x = torch.nn.utils.rnn.pack_padded_sequence(x, lengths)
        y = net(x)[0]
        return y.data if r["packed"] else y

    passes(
        call,
        (
            [
                x,
            ]
            if r["train"]
            else [x]
        ),
        r,
    )
    with torch.no_grad(), Pass() as p:
        out = call(x)
    r["no_grad"] = [p.kept, p.most]
    del out


# ---- batch norm ------------------------------------------------------------------------------------------------------


def norms():
    sizes = [
        (32, 64, 112, 112),
        (32, 256, 56, 56),
        (128, 2048, 7, 7),
        (8, 32, 64, 64),
        (16, 100, 33, 33),
        (4, 8, 5, 5),
        (64, 16, 128),
        (2, 32, 16, 32, 32),
        (256, 512),
        (16, 24, 14, 14),
        (1, 64, 256, 256),
        (64, 960, 7, 7),
    ]
    for size in sizes:
        for name, dtype in TYPES.items():
            for last in (False, True) if len(size) in LAYOUTS else (False,):
                for mixed in (False, True) if dtype != torch.float32 else (False,):
                    row = {"size": size, "type": name, "channels_last": last, "mixed": mixed}
                    yield row, lambda: norm(size, dtype, last, mixed, row)


def norm(size, dtype, last, mixed, row):
    """mixed: parameters in fp32, as under autocast."""
    net = {2: torch.nn.BatchNorm1d, 3: torch.nn.BatchNorm1d, 4: torch.nn.BatchNorm2d, 5: torch.nn.BatchNorm3d}[
        len(size)
    ](size[1])
    net = net.to("cuda", torch.float32 if mixed else dtype)
    x = torch.rand(size, device="cuda", dtype=dtype)
    x = x.to(memory_format=LAYOUTS[len(size)]) if last else x
    row["asked"] = torch._C._get_cudnn_batch_norm_reserve_space_size(x, True)
    passes(net, [x.detach().requires_grad_()], row)


# ---- attention -------------------------------------------------------------------------------------------------------


def attention():
    draw = random.Random(9)
    for number in range(260):
        row = {
            "type": draw.choice(list(TYPES)),
            "batch": draw.choice((1, 2, 4, 8)),
            "heads": draw.choice((1, 3, 4, 8, 12)),
            "queries": draw.choice((1, 16, 64, 100, 128, 197, 256, 512, 1000, 1024)),
            "head": draw.choice((8, 16, 32, 40, 64, 64, 80, 96, 128, 160, 256)),
            "mask": draw.choice((None, None, None, "bool", "float", "expanded", "row")),
            "causal": draw.random() < 0.4,
            "dropout": draw.choice((0, 0, 0.1)),
            "grouped": draw.random() < 0.15,
            "transposed": draw.random() < 0.7,
        }
        keys = draw.choice((16, 77, 128, 200, 256, 512, 1024))
        row["keys"] = row["queries"] if draw.random() < 0.7 else keys
        if row["mask"]:
            row["causal"] = False
        yield row, lambda: attend(row)


def attend(r):
    dtype, b, h, q, k, d = TYPES[r["type"]], r["batch"], r["heads"], r["queries"], r["keys"], r["head"]
    few = h if not r["grouped"] else 1

    def tensor(heads, n):  # as projections leave it, or contiguous
        if r["transposed"]:
            return torch.rand(b, n, heads, d, device="cuda", dtype=dtype).transpose(1, 2).detach().requires_grad_()
        return torch.rand(b, heads, n, d, device="cuda", dtype=dtype, requires_grad=True)

    mask = {None: None, "bool": (b, 1, q, k), "float": (b, h, q, k), "expanded": (1, 1, q, k), "row": (b, 1, 1, k)}[
        r["mask"]
    ]
    if mask:
        mask = torch.ones(mask, device="cuda", dtype=torch.bool if r["mask"] in ("bool", "row") else dtype)
    call = lambda *t: F.scaled_dot_product_attention(
        *t, attn_mask=mask, dropout_p=r["dropout"], is_causal=r["causal"], enable_gqa=r["grouped"]
    )
    passes(call, [tensor(h, q), tensor(few, k), tensor(few, k)], r)


# ---- other calls -----------------------------------------------------------------------------------------------------


def real(*size):
    return torch.rand(*size, device="cuda", requires_grad=True)


def whole(high, *size):
    return torch.randint(high, size, device="cuda")


def calls():
    """Calls of libraries and of kernels that take memory of their own, as far as anyone knows."""
    fft = torch.fft
    table = {
        **{
            f"rfft {n}": (lambda x: fft.rfft(x), lambda n=n: [real(4096, n)])
            for n in (256, 1000, 1024, 2039, 4096, 6000)
        },
        **{f"fft {n}": (lambda x: fft.fft(x), lambda n=n: [real(2048, n)]) for n in (256, 1000, 2039, 2048)},
        **{
            f"rfft2 {n}": (lambda x: fft.rfft2(x), lambda n=n: [real(64, n, n)])
            for n in (32, 61, 64, 100, 128, 256, 1024)
        },
        **{f"rfftn {n}": (lambda x: fft.rfftn(x, dim=(1, 2, 3)), lambda n=n: [real(8, n, n, n)]) for n in (16, 30, 64)},
        **{
            f"irfft2 {n}": (lambda x: fft.irfft2(fft.rfft2(x), s=(n, n)), lambda n=n: [real(64, n, n)])
            for n in (64, 100, 256)
        },
        **{f"fft dim 1 {n}": (lambda x: fft.rfft(x, dim=1), lambda n=n: [real(64, n, 256)]) for n in (128, 196, 1024)},
        **{
            f"rfft2 dims 1 2 {n}": (lambda x: fft.rfft2(x, dim=(1, 2)), lambda n=n: [real(16, n, n, 64)])
            for n in (14, 64)
        },
        "stft": (
            lambda x: torch.stft(x, 512, 128, window=torch.hann_window(512, device="cuda"), return_complex=True).abs(),
            lambda: [real(16, 64000)],
        ),
        "istft": (
            lambda x: torch.istft(
                torch.stft(x, 512, 128, window=torch.ones(512, device="cuda"), return_complex=True),
                512,
                128,
                window=torch.ones(512, device="cuda"),
            ),
            lambda: [real(16, 64000)],
        ),
        "cholesky": (
            lambda x: torch.linalg.cholesky(x @ x.mT + 300 * torch.eye(256, device="cuda")),
            lambda: [real(16, 256, 256)],
        ),
        "cholesky one": (
            lambda x: torch.linalg.cholesky(x @ x.mT + 2000 * torch.eye(1024, device="cuda")),
            lambda: [real(1024, 1024)],
        ),
        "solve": (lambda a, b: torch.linalg.solve(a, b), lambda: [real(16, 256, 256), real(16, 256, 64)]),
        "solve one": (lambda a, b: torch.linalg.solve(a, b), lambda: [real(1024, 1024), real(1024, 64)]),
        "inv": (torch.linalg.inv, lambda: [real(16, 256, 256)]),
        "inv one": (torch.linalg.inv, lambda: [real(1024, 1024)]),
        "det": (torch.linalg.det, lambda: [real(64, 64, 64)]),
        "slogdet": (lambda x: torch.linalg.slogdet(x)[1], lambda: [real(512, 512)]),
        "qr": (lambda x: torch.linalg.qr(x)[0], lambda: [real(512, 512)]),
        "qr batch": (lambda x: torch.linalg.qr(x)[0], lambda: [real(32, 64, 64)]),
        "svd": (torch.linalg.svdvals, lambda: [real(8, 128, 128)]),
        "svd one": (torch.linalg.svdvals, lambda: [real(512, 512)]),
        "eigh": (lambda x: torch.linalg.eigh(x + x.mT)[0], lambda: [real(16, 128, 128)]),
        "eigh one": (lambda x: torch.linalg.eigh(x + x.mT)[0], lambda: [real(512, 512)]),
        "matrix_exp": (torch.linalg.matrix_exp, lambda: [real(16, 64, 64)]),
        "pinv": (torch.linalg.pinv, lambda: [real(4, 64, 32)]),
        "triangular": (
            lambda a, b: torch.linalg.solve_triangular(a, b, upper=True),
            lambda: [real(16, 256, 256), real(16, 256, 64)],
        ),
        "ctc": (
            lambda x: F.ctc_loss(
                x.log_softmax(2), whole(30, 16, 40) + 1, torch.full((16,), 200), torch.full((16,), 40)
            ),
            lambda: [real(200, 16, 32)],
        ),
        "ctc cuda": (
            lambda x: F.ctc_loss(
                x.log_softmax(2),
                whole(30, 16, 40) + 1,
                torch.full((16,), 200, device="cuda"),
                torch.full((16,), 40, device="cuda"),
            ),
            lambda: [real(200, 16, 32)],
        ),
        "ctc cudnn": (
            lambda x: F.ctc_loss(
                x.log_softmax(2),
                whole(30, 640).int().cpu() + 1,
                torch.full((16,), 200, dtype=torch.int32),
                torch.full((16,), 40, dtype=torch.int32),
            ),
            lambda: [real(200, 16, 32)],
        ),
        "grid_sample": (
            lambda x, g: F.grid_sample(x, g, align_corners=False),
            lambda: [real(8, 64, 64, 64), real(8, 64, 64, 2)],
        ),
        "grid_sample small": (
            lambda x, g: F.grid_sample(x, g, align_corners=True),
            lambda: [real(8, 64, 64, 64), real(8, 64, 64, 2)],
        ),
        "grid_sample 3d": (
            lambda x, g: F.grid_sample(x, g, align_corners=True),
            lambda: [real(2, 8, 32, 32, 32), real(2, 32, 32, 32, 3)],
        ),
        "affine_grid": (lambda t: F.affine_grid(t, (8, 3, 224, 224), align_corners=False), lambda: [real(8, 2, 3)]),
        "affine_grid corners": (
            lambda t: F.affine_grid(t, (8, 3, 224, 224), align_corners=True),
            lambda: [real(8, 2, 3)],
        ),
        "sort": (lambda x: x.sort(-1)[0], lambda: [real(64, 65536)]),
        "sort small": (lambda x: x.sort(-1)[0], lambda: [real(4096, 512)]),
        "sort one": (lambda x: x.sort(-1)[0], lambda: [real(4000000)]),
        "argsort dim 0": (lambda x: x.sort(0)[0], lambda: [real(4096, 512)]),
        "topk": (lambda x: x.topk(16, -1)[0], lambda: [real(64, 65536)]),
        "topk small": (lambda x: x.topk(2, -1)[0], lambda: [real(8192, 64)]),
        "topk large": (lambda x: x.topk(5000, -1)[0], lambda: [real(8, 1000000)]),
        "median": (lambda x: x.median(-1)[0], lambda: [real(64, 65536)]),
        "quantile": (lambda x: torch.quantile(x, 0.9, -1), lambda: [real(64, 4096)]),
        "kthvalue": (lambda x: x.kthvalue(7, -1)[0], lambda: [real(64, 65536)]),
        "cumsum": (lambda x: x.cumsum(-1), lambda: [real(64, 65536)]),
        "cumsum dim 0": (lambda x: x.cumsum(0), lambda: [real(4096, 512)]),
        "cumsum one": (lambda x: x.cumsum(0), lambda: [real(4000000)]),
        "cumprod": (lambda x: x.cumprod(-1), lambda: [real(64, 1024)]),
        "cummax": (lambda x: x.cummax(-1)[0], lambda: [real(64, 65536)]),
        "logcumsumexp": (lambda x: x.logcumsumexp(-1), lambda: [real(64, 65536)]),
        "sum all": (lambda x: x.sum(), lambda: [real(64, 1 << 20)]),
        "sum rows": (lambda x: x.sum(-1), lambda: [real(64, 1 << 20)]),
        "sum columns": (lambda x: x.sum(0), lambda: [real(1 << 16, 256)]),
        "mean most": (lambda x: x.mean((0, 2, 3)), lambda: [real(32, 64, 112, 112)]),
        "var": (lambda x: x.var(), lambda: [real(64, 1 << 20)]),
        "std rows": (lambda x: x.std(-1), lambda: [real(16, 1 << 20)]),
        "norm": (lambda x: x.norm(), lambda: [real(64, 1 << 20)]),
        "max all": (lambda x: x.max(), lambda: [real(64, 1 << 20)]),
        "max rows": (lambda x: x.max(-1)[0], lambda: [real(16, 1 << 20)]),
        "logsumexp": (lambda x: x.logsumexp(-1), lambda: [real(64, 65536)]),
        "embedding": (lambda w: F.embedding(whole(50000, 64, 512), w), lambda: [real(50000, 256)]),
        "embedding few": (lambda w: F.embedding(whole(50000, 2, 100), w), lambda: [real(50000, 256)]),
        "embedding padding": (
            lambda w: F.embedding(whole(50000, 64, 512), w, padding_idx=0),
            lambda: [real(50000, 256)],
        ),
        "embedding scaled": (
            lambda w: F.embedding(whole(50000, 64, 512), w, scale_grad_by_freq=True),
            lambda: [real(50000, 256)],
        ),
        "embedding_bag": (lambda w: F.embedding_bag(whole(50000, 64, 512), w, mode="sum"), lambda: [real(50000, 256)]),
        "embedding_bag mean": (
            lambda w: F.embedding_bag(whole(50000, 64, 512), w, mode="mean"),
            lambda: [real(50000, 256)],
        ),
        "embedding_bag max": (
            lambda w: F.embedding_bag(whole(50000, 64, 512), w, mode="max"),
            lambda: [real(50000, 256)],
        ),
        "index": (lambda x: x[whole(50000, 32768)], lambda: [real(50000, 256)]),
        "index two": (lambda x: x[whole(64, 8192), whole(512, 8192)], lambda: [real(64, 512, 64)]),
        "index_select": (lambda x: x.index_select(0, whole(50000, 32768)), lambda: [real(50000, 256)]),
        "gather": (lambda x: x.gather(1, whole(4096, 256, 1024)), lambda: [real(256, 4096)]),
        "scatter_add": (
            lambda x: torch.zeros(256, 512, device="cuda").scatter_add(1, whole(512, 256, 4096), x),
            lambda: [real(256, 4096)],
        ),
        "scatter_reduce": (
            lambda x: torch.zeros(256, 512, device="cuda").scatter_reduce(1, whole(512, 256, 4096), x, "amax"),
            lambda: [real(256, 4096)],
        ),
        "index_add": (
            lambda x: torch.zeros(1000, 256, device="cuda").index_add(0, whole(1000, 32768), x),
            lambda: [real(32768, 256)],
        ),
        "index_put": (
            lambda x: torch.zeros(1000, 256, device="cuda").index_put((whole(1000, 32768),), x, accumulate=True),
            lambda: [real(32768, 256)],
        ),
        "masked_select": (
            lambda x: x.masked_select(torch.ones(1024, 4096, dtype=torch.bool, device="cuda")),
            lambda: [real(1024, 4096)],
        ),
        "mask index": (lambda x: x[torch.ones(1024, dtype=torch.bool, device="cuda")], lambda: [real(1024, 4096)]),
        "nonzero": (lambda x: (x >= 0).nonzero(), lambda: [real(1024, 4096)]),
        "unique": (lambda x: torch.unique(whole(1000, 1000000)), lambda: [real(1)]),
        "unique inverse": (
            lambda x: torch.unique(whole(1000, 1000000), return_inverse=True, return_counts=True),
            lambda: [real(1)],
        ),
        "bincount": (lambda x: torch.bincount(whole(1000, 1000000)), lambda: [real(1)]),
        "histc": (lambda x: torch.histc(x.detach(), 100), lambda: [real(1000000)]),
        "searchsorted": (
            lambda x: torch.searchsorted(x.detach().sort(-1)[0], torch.rand(64, 1000, device="cuda")),
            lambda: [real(64, 1000)],
        ),
        "bucketize": (
            lambda x: torch.bucketize(x.detach(), torch.linspace(0, 1, 100, device="cuda")),
            lambda: [real(1000000)],
        ),
        "multinomial": (lambda x: torch.multinomial(x.detach(), 1), lambda: [real(1024, 4096)]),
        "multinomial many": (lambda x: torch.multinomial(x.detach(), 64, True), lambda: [real(1024, 4096)]),
        "multinomial none": (lambda x: torch.multinomial(x.detach(), 64), lambda: [real(1024, 4096)]),
        "randperm": (lambda x: torch.randperm(1000000, device="cuda"), lambda: [real(1)]),
        "randperm small": (lambda x: torch.randperm(1000, device="cuda"), lambda: [real(1)]),
        "normal": (lambda x: torch.normal(x, 1), lambda: [real(1024, 1024)]),
        "bernoulli": (lambda x: torch.bernoulli(x), lambda: [real(1024, 1024)]),
        "poisson": (lambda x: torch.poisson(x), lambda: [real(1024, 1024)]),
        "gumbel": (lambda x: F.gumbel_softmax(x, hard=True), lambda: [real(1024, 1024)]),
        "cdist": (lambda x, y: torch.cdist(x, y), lambda: [real(8, 512, 64), real(8, 512, 64)]),
        "cdist small": (lambda x, y: torch.cdist(x, y), lambda: [real(8, 20, 64), real(8, 20, 64)]),
        "pdist": (lambda x: F.pdist(x), lambda: [real(512, 64)]),
        "cosine": (lambda x, y: F.cosine_similarity(x, y), lambda: [real(4096, 512), real(4096, 512)]),
        "cross_entropy": (lambda x: F.cross_entropy(x, whole(1000, 4096)), lambda: [real(4096, 1000)]),
        "cross_entropy weights": (
            lambda x: F.cross_entropy(x, whole(1000, 4096), torch.ones(1000, device="cuda")),
            lambda: [real(4096, 1000)],
        ),
        "cross_entropy smooth": (
            lambda x: F.cross_entropy(x, whole(1000, 4096), label_smoothing=0.1),
            lambda: [real(4096, 1000)],
        ),
        "cross_entropy 2d": (lambda x: F.cross_entropy(x, whole(21, 8, 256, 256)), lambda: [real(8, 21, 256, 256)]),
        "cross_entropy soft": (
            lambda x: F.cross_entropy(x, torch.rand(4096, 1000, device="cuda")),
            lambda: [real(4096, 1000)],
        ),
        "bce": (
            lambda x: F.binary_cross_entropy_with_logits(x, torch.rand(1024, 1024, device="cuda")),
            lambda: [real(1024, 1024)],
        ),
        "mse": (lambda x: F.mse_loss(x, torch.rand(4096, 4096, device="cuda")), lambda: [real(4096, 4096)]),
        "kl": (
            lambda x: F.kl_div(x.log_softmax(-1), torch.rand(4096, 1000, device="cuda"), reduction="batchmean"),
            lambda: [real(4096, 1000)],
        ),
        "multi_margin": (lambda x: F.multi_margin_loss(x, whole(100, 4096)), lambda: [real(4096, 100)]),
        "multilabel_margin": (lambda x: F.multilabel_margin_loss(x, whole(100, 4096, 100)), lambda: [real(4096, 100)]),
        "softmax": (lambda x: x.softmax(-1), lambda: [real(4096, 1000)]),
        "softmax dim 1": (lambda x: x.softmax(1), lambda: [real(64, 64, 1000)]),
        "layer_norm": (lambda x, w, b: F.layer_norm(x, (768,), w, b), lambda: [real(8192, 768), real(768), real(768)]),
        "layer_norm wide": (
            lambda x, w, b: F.layer_norm(x, (8192,), w, b),
            lambda: [real(2048, 8192), real(8192), real(8192)],
        ),
        "layer_norm tall": (
            lambda x, w, b: F.layer_norm(x, (64,), w, b),
            lambda: [real(1 << 18, 64), real(64), real(64)],
        ),
        "rms_norm": (lambda x, w: F.rms_norm(x, (768,), w), lambda: [real(8192, 768), real(768)]),
        "group_norm": (
            lambda x, w, b: F.group_norm(x, 32, w, b),
            lambda: [real(16, 256, 64, 64), real(256), real(256)],
        ),
        "instance_norm": (lambda x: F.instance_norm(x), lambda: [real(16, 64, 128, 128)]),
        "weight_norm": (lambda v, g: torch._weight_norm(v, g, 0), lambda: [real(512, 2048), real(512, 1)]),
        "weight_norm conv": (
            lambda v, g: torch._weight_norm(v, g, 0),
            lambda: [real(512, 256, 3, 3), real(512, 1, 1, 1)],
        ),
        "prelu": (lambda x, w: F.prelu(x, w), lambda: [real(32, 64, 112, 112), real(64)]),
        "prelu one": (lambda x, w: F.prelu(x, w), lambda: [real(32, 64, 112, 112), real(1)]),
        "glu": (lambda x: F.glu(x), lambda: [real(4096, 2048)]),
        "dropout": (lambda x: F.dropout(x), lambda: [real(4096, 2048)]),
        "dropout2d": (lambda x: F.dropout2d(x), lambda: [real(32, 64, 56, 56)]),
        "alpha_dropout": (lambda x: F.alpha_dropout(x, 0.5, True), lambda: [real(4096, 2048)]),
        "max_pool2d": (lambda x: F.max_pool2d(x, 3, 2, 1), lambda: [real(32, 64, 112, 112)]),
        "max_pool3d": (lambda x: F.max_pool3d(x, 2), lambda: [real(4, 32, 32, 64, 64)]),
        "avg_pool2d": (lambda x: F.avg_pool2d(x, 2), lambda: [real(32, 64, 112, 112)]),
        "adaptive_avg": (lambda x: F.adaptive_avg_pool2d(x, 7), lambda: [real(32, 64, 100, 100)]),
        "adaptive_max": (lambda x: F.adaptive_max_pool2d(x, 7), lambda: [real(32, 64, 100, 100)]),
        "fractional": (lambda x: F.fractional_max_pool2d(x, 2, 30), lambda: [real(16, 64, 64, 64)]),
        "lp_pool": (lambda x: F.lp_pool2d(x, 2, 2), lambda: [real(16, 64, 64, 64)]),
        "max_unpool": (
            lambda x: F.max_unpool2d(*F.max_pool2d(x, 2, return_indices=True), 2),
            lambda: [real(16, 64, 64, 64)],
        ),
        **{
            f"interpolate {m}": (
                lambda x, m=m: F.interpolate(x, scale_factor=2, mode=m),
                lambda: [real(16, 64, 64, 64)],
            )
            for m in ("nearest", "bilinear", "bicubic", "area", "nearest-exact")
        },
        "interpolate antialias": (
            lambda x: F.interpolate(x, (100, 100), mode="bilinear", antialias=True),
            lambda: [real(16, 64, 64, 64)],
        ),
        "interpolate linear": (lambda x: F.interpolate(x, scale_factor=2, mode="linear"), lambda: [real(16, 64, 4096)]),
        "interpolate trilinear": (
            lambda x: F.interpolate(x, scale_factor=2, mode="trilinear"),
            lambda: [real(2, 32, 16, 64, 64)],
        ),
        "reflect": (lambda x: F.pad(x, (3, 3, 3, 3), mode="reflect"), lambda: [real(16, 64, 64, 64)]),
        "replicate": (lambda x: F.pad(x, (3, 3, 3, 3), mode="replicate"), lambda: [real(16, 64, 64, 64)]),
        "unfold": (lambda x: F.unfold(x, 3, padding=1), lambda: [real(8, 32, 64, 64)]),
        "fold": (lambda x: F.fold(x, (64, 64), 3, padding=1), lambda: [real(8, 288, 4096)]),
        "bmm": (torch.bmm, lambda: [real(64, 256, 256), real(64, 256, 256)]),
        "matmul broadcast": (torch.matmul, lambda: [real(16, 8, 128, 64), real(64, 128)]),
        "matmul vector": (torch.matmul, lambda: [real(4096, 1024), real(1024)]),
        "addmm": (lambda x, w, b: F.linear(x, w, b), lambda: [real(8192, 768), real(3072, 768), real(3072)]),
        "linear 3d": (lambda x, w, b: F.linear(x, w, b), lambda: [real(16, 512, 768), real(3072, 768), real(3072)]),
        "linear odd": (lambda x, w, b: F.linear(x, w, b), lambda: [real(8191, 769), real(3071, 769), real(3071)]),
        "linear tall": (lambda x, w, b: F.linear(x, w, b), lambda: [real(1 << 20, 16), real(16, 16), real(16)]),
        "linear gelu": (
            lambda x, w, b: F.gelu(F.linear(x, w, b)),
            lambda: [real(8192, 768), real(3072, 768), real(3072)],
        ),
        "bilinear": (lambda x, y, w: F.bilinear(x, y, w), lambda: [real(512, 64), real(512, 64), real(64, 64, 64)]),
        "einsum": (
            lambda x, y: torch.einsum("bhid,bhjd->bhij", x, y),
            lambda: [real(8, 8, 256, 64), real(8, 8, 256, 64)],
        ),
        "einsum sum": (lambda x, y: torch.einsum("bid,bjd->ij", x, y), lambda: [real(8, 256, 64), real(8, 256, 64)]),
        "baddbmm": (
            lambda c, x, y: torch.baddbmm(c, x, y),
            lambda: [real(64, 256, 256), real(64, 256, 64), real(64, 64, 256)],
        ),
        "conv depthwise": (
            lambda x, w: F.conv2d(x, w, padding=1, groups=64),
            lambda: [real(8, 64, 64, 64), real(64, 1, 3, 3)],
        ),
        "conv1d depthwise": (
            lambda x, w: F.conv1d(x, w, padding=3, groups=256),
            lambda: [real(8, 256, 1024), real(256, 1, 4)],
        ),
        "conv tbc": (
            lambda x, w, b: torch.conv_tbc(x, w, b, 1),
            lambda: [real(256, 16, 64), real(3, 64, 64), real(64)],
        ),
        "lerp": (lambda x, y: torch.lerp(x, y, 0.5), lambda: [real(1024, 1024), real(1024, 1024)]),
        "renorm": (lambda x: x.renorm(2, 0, 1.0), lambda: [real(1024, 1024)]),
        "trace": (lambda x: x.trace(), lambda: [real(1024, 1024)]),
        "diag": (lambda x: torch.diag_embed(x), lambda: [real(64, 256)]),
        "tril": (lambda x: x.tril(), lambda: [real(64, 256, 256)]),
        "roll": (lambda x: x.roll((3, 3), (1, 2)), lambda: [real(16, 56, 56, 96)]),
        "flip": (lambda x: x.flip(1), lambda: [real(16, 1024, 96)]),
        "repeat_interleave": (lambda x: x.repeat_interleave(2, 1), lambda: [real(16, 256, 96)]),
        "cat": (lambda x, y: torch.cat([x, y], 1), lambda: [real(16, 256, 96), real(16, 256, 96)]),
        "stack": (lambda x, y: torch.stack([x, y]), lambda: [real(16, 256, 96), real(16, 256, 96)]),
        "nansum": (lambda x: x.nansum(), lambda: [real(1024, 1024)]),
        "prod": (lambda x: x.prod(-1), lambda: [real(1024, 1024)]),
        "amax": (lambda x: x.amax(-1), lambda: [real(1024, 1024)]),
        "argmax": (lambda x: x.argmax(-1), lambda: [real(1024, 1024)]),
        "aminmax": (lambda x: torch.aminmax(x.detach())[0], lambda: [real(1024, 1024)]),
        "count_nonzero": (lambda x: torch.count_nonzero(x), lambda: [real(1024, 1024)]),
        "any": (lambda x: (x > 0).any(), lambda: [real(1024, 1024)]),
        "equal": (lambda x: torch.allclose(x, x) or x, lambda: [real(1024, 1024)]),
        "dist": (lambda x, y: torch.dist(x, y), lambda: [real(1024, 1024), real(1024, 1024)]),
        "cov": (lambda x: torch.cov(x), lambda: [real(256, 1024)]),
        "kron": (lambda x, y: torch.kron(x, y), lambda: [real(32, 32), real(32, 32)]),
        "tensordot": (lambda x, y: torch.tensordot(x, y, 2), lambda: [real(64, 32, 32), real(32, 32, 64)]),
        "vander": (lambda x: torch.vander(x, 5), lambda: [real(4096)]),
        "trapz": (lambda x: torch.trapezoid(x), lambda: [real(1024, 1024)]),
        "rot90": (lambda x: torch.rot90(x, 1, (1, 2)), lambda: [real(16, 256, 256)]),
        "pixel_shuffle": (lambda x: F.pixel_shuffle(x, 2), lambda: [real(16, 64, 64, 64)]),
        "channel_shuffle": (lambda x: F.channel_shuffle(x, 4), lambda: [real(16, 64, 64, 64)]),
        "complex": (lambda x, y: torch.complex(x, y).abs(), lambda: [real(1024, 1024), real(1024, 1024)]),
        "polar": (lambda x, y: torch.polar(x, y).real, lambda: [real(1024, 1024), real(1024, 1024)]),
        "sparse": (lambda a, x: torch.sparse.mm(a.detach().to_sparse(), x), lambda: [real(512, 512), real(512, 64)]),
        "sparse csr": (lambda a, x: a.detach().to_sparse_csr() @ x, lambda: [real(512, 512), real(512, 64)]),
    }
    for name, (call, inputs) in table.items():
        row = {"call": name}
        yield row, lambda: passes(call, inputs(), row)


WHAT = {"convs": convs, "recurrent": recurrent, "norms": norms, "attention": attention, "calls": calls}


def sweep(a):
    part, of = map(int, a.part.split("/"))
    if a.spare is not None:
        free = torch.cuda.mem_get_info()[0] - int(a.spare * (1 << 30))
        ballast = torch.empty(max(0, free), dtype=torch.uint8, device="cuda")
    gc.freeze()
    with open(os.path.join(a.out, a.one + ".jsonl"), "w") as f:
        for number, (row, run) in enumerate(WHAT[a.one]()):
            if number % of != part:
                continue
            try:
                run()
            except Exception as error:
                row["error"] = f"{type(error).__name__}: {(str(error).splitlines() or [''])[0]}"
            torch._C._cuda_clearCublasWorkspaces()
            print(json.dumps(row), file=f, flush=True)
            gc.collect()
            torch.cuda.empty_cache()


def main():
    ap = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ap.add_argument("out")
    ap.add_argument("what", nargs="*", choices=[[], *WHAT])
    ap.add_argument("--one", help=argparse.SUPPRESS)
    ap.add_argument("--part", default="0/1")
    ap.add_argument("--spare", type=float, help="GiB of the GPU that are left free before the first call")
    a = ap.parse_args()
    if a.one:
        return sweep(a)
    os.makedirs(a.out, exist_ok=True)
    again = [sys.executable, *sys.argv]
    children = [subprocess.Popen([*again, "--one", what]) for what in a.what or WHAT]
    return max(child.wait() for child in children)


if __name__ == "__main__":
    sys.exit(main())
