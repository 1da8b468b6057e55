#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What NVIDIA's libraries answer about sizes when they have a GPU: lines of tab-separated numbers.

    queries.py OUT [WHAT...]     WHAT: recurrent, norms, fft, addresses

Into OUT/WHAT.tsv:

recurrent   cudnnGetRNNTempSpaceSizes, as aten/src/ATen/native/cudnn/RNN.cpp sets its descriptors: cell (0 ReLU, 1 tanh,
            2 LSTM, 3 GRU), algorithm (0 standard, 1 persistent, 3 of small hidden states), type (0 fp32, 2 fp16,
            9 bf16), math, input, hidden, layers, directions, batch, steps; workspace and reserve of training,
            workspace of inference
norms       cudnnGetBatchNormalization{ForwardTraining,Backward}ExWorkspaceSize and the reserve's, spatial persistent
            with channels last: type, batch, channels, height, width; forward, backward, reserve
fft         cufftXtMakePlanMany's workspace, as aten/src/ATen/native/cuda/CuFFTPlanCache.h asks: kind (0 r2c, 1 c2r,
            2 c2c), batch, sizes...; bytes
addresses   where cudaMalloc puts blocks: step, size (negative: freed), address

No kernel runs. The libraries are those that this Python's PyTorch has loaded.
"""

import argparse, ctypes, itertools, os, random

import torch

C = ctypes
FLOAT, HALF, BF16 = 0, 2, 9
DOUBLE_BIAS = 2


def call(lib, name, *args):
    status = getattr(lib, name)(*args)
    if status:
        raise RuntimeError(f"{name}: {status}")


# ---- recurrent layers ------------------------------------------------------------------------------------------------


def temp_space(dnn, handle, dropout, cell, algo, dtype, math, of, hidden, layers, directions, batch, steps):
    rnn, data = C.c_void_p(), C.c_void_p()
    call(dnn, "cudnnCreateRNNDescriptor", C.byref(rnn))
    call(dnn, "cudnnCreateRNNDataDescriptor", C.byref(data))
    try:
        call(
            dnn,
            "cudnnSetRNNDescriptor_v8",
            rnn,
            algo,
            cell,
            DOUBLE_BIAS,
            directions - 1,
            0,
            dtype,
            FLOAT,
            math,
            of,
            hidden,
            hidden,
            layers,
            dropout,
            1,
        )
        lengths = (C.c_int * batch)(*[steps] * batch)
        call(dnn, "cudnnSetRNNDataDescriptor", data, dtype, 0, steps, batch, of, lengths, None)
        said = []
        for mode in (1, 0):
            work, reserve = C.c_size_t(), C.c_size_t()
            call(dnn, "cudnnGetRNNTempSpaceSizes", handle, rnn, mode, data, C.byref(work), C.byref(reserve))
            said += [work.value, reserve.value]
        return said[:3]
    finally:
        dnn.cudnnDestroyRNNDescriptor(rnn)
        dnn.cudnnDestroyRNNDataDescriptor(data)


def recurrent():
    dnn = C.CDLL("libcudnn.so.9")
    handle, dropout = C.c_void_p(), C.c_void_p()
    call(dnn, "cudnnCreate", C.byref(handle))
    call(dnn, "cudnnCreateDropoutDescriptor", C.byref(dropout))
    call(dnn, "cudnnSetDropoutDescriptor", dropout, handle, C.c_float(0), None, C.c_size_t(0), C.c_ulonglong(0))
    base = {"of": 64, "hidden": 64, "layers": 1, "directions": 1, "batch": 16, "steps": 32}
    scan = {
        "of": [
            1,
            2,
            3,
            4,
            7,
            8,
            9,
            16,
            17,
            31,
            32,
            40,
            63,
            65,
            80,
            100,
            127,
            128,
            129,
            192,
            256,
            300,
            512,
            1000,
            1024,
            2048,
        ],
        "hidden": [
            *range(1, 41),
            48,
            63,
            64,
            65,
            80,
            96,
            100,
            127,
            128,
            129,
            160,
            192,
            193,
            200,
            255,
            256,
            257,
            320,
            384,
            385,
            400,
            512,
            513,
            640,
            650,
            768,
            1000,
            1024,
            1025,
            1500,
            2048,
        ],
        "layers": [1, 2, 3, 4, 5, 6, 8],
        "directions": [1, 2],
        "batch": [*range(1, 34), 40, 48, 63, 64, 65, 96, 100, 127, 128, 129, 200, 256, 257, 512, 1000, 1024],
        "steps": [*range(1, 34), 35, 40, 48, 50, 63, 64, 65, 100, 127, 128, 129, 200, 256, 300, 500, 512, 1000],
    }
    draw = random.Random(7)
    sizes = [dict(base, **{k: v}) for k in scan for v in scan[k]]
    sizes += [dict(base, directions=2, **{k: v}) for k in ("of", "hidden", "batch", "steps", "layers") for v in scan[k]]
    sizes += [dict(base, layers=3, hidden=256, **{k: v}) for k in ("of", "batch", "steps") for v in scan[k]]
    for _ in range(1500):
        sizes.append({k: draw.choice(v) for k, v in scan.items()})
        if draw.random() < 0.6:
            sizes[-1].update(
                of=draw.randint(1, 1100),
                hidden=draw.randint(1, 1100),
                batch=draw.randint(1, 300),
                steps=draw.randint(1, 400),
            )
    kinds = [(FLOAT, 0), (FLOAT, 3), (HALF, 1), (BF16, 0)]
    for cell, algo, (dtype, math) in itertools.product((2, 3, 1, 0), (3, 1, 0), kinds):
        for s in sizes:
            try:
                said = temp_space(dnn, handle, dropout, cell, algo, dtype, math, **s)
            except RuntimeError:
                said = ["-"]
            yield cell, algo, dtype, math, *s.values(), *said


# ---- batch norm ------------------------------------------------------------------------------------------------------


def norms():
    dnn = C.CDLL("libcudnn.so.9")
    handle = C.c_void_p()
    call(dnn, "cudnnCreate", C.byref(handle))
    x, params = C.c_void_p(), C.c_void_p()
    for d in (x, params):
        call(dnn, "cudnnCreateTensorDescriptor", C.byref(d))
    draw = random.Random(11)
    sizes = [(n, c, 1, 1) for n in (1, 2, 95, 96, 97, 192, 193, 1000, 12288, 12289) for c in (1, 8, 32, 64, 65)]
    sizes += [(1, c, s, s) for c in [*range(1, 140), 192, 256, 257, 320, 512, 1000, 1024, 2048] for s in (7, 56)]
    sizes += [(1, 64, 1, w) for w in [*range(1, 400), *range(400, 20000, 97), *range(20000, 800000, 7919)]]
    sizes += [
        (draw.randint(1, 64), draw.randint(1, 1024), draw.randint(1, 64), draw.randint(1, 64)) for _ in range(1500)
    ]
    for dtype, (n, c, h, w) in itertools.product((FLOAT, HALF), sizes):
        call(dnn, "cudnnSetTensor4dDescriptor", x, 1, dtype, n, c, h, w)
        call(dnn, "cudnnSetTensor4dDescriptor", params, 0, FLOAT, 1, c, 1, 1)
        size = [C.c_size_t() for _ in range(3)]
        call(
            dnn,
            "cudnnGetBatchNormalizationForwardTrainingExWorkspaceSize",
            handle,
            2,
            0,
            x,
            None,
            x,
            params,
            None,
            C.byref(size[0]),
        )
        call(
            dnn,
            "cudnnGetBatchNormalizationBackwardExWorkspaceSize",
            handle,
            2,
            0,
            x,
            None,
            x,
            None,
            x,
            params,
            None,
            C.byref(size[1]),
        )
        call(dnn, "cudnnGetBatchNormalizationTrainingExReserveSpaceSize", handle, 2, 0, None, x, C.byref(size[2]))
        yield dtype, n, c, h, w, *[s.value for s in size]


# ---- Fourier transforms ----------------------------------------------------------------------------------------------

CUDA_R_32F, CUDA_C_32F = 0, 4


def fft():
    lib = C.CDLL("libcufft.so.12")
    sizes = [(64, (n,)) for n in range(1, 2101)] + [
        (64, (n,)) for n in (*range(2101, 9000, 53), 4096, 8192, 16384, 32768, 65536)
    ]
    sizes += [(b, (n,)) for b in (1, 7, 4096) for n in (100, 196, 250, 1000, 1021, 2048, 2310, 6000, 16000)]
    sizes += [
        (b, (n, n)) for b in (1, 64) for n in (*range(2, 130), 160, 196, 200, 224, 240, 250, 256, 300, 512, 1000, 1024)
    ]
    sizes += [(8, (n, n, n)) for n in (4, 8, 16, 20, 30, 32, 48, 61, 64, 100, 128)]
    sizes += [(8, (64, n)) for n in (7, 14, 33, 85, 97, 100, 128, 1000)] + [
        (8, (n, 64)) for n in (7, 14, 33, 85, 97, 100, 1000)
    ]
    for batch, size in sizes:
        for kind, (a, b) in enumerate(((CUDA_R_32F, CUDA_C_32F), (CUDA_C_32F, CUDA_R_32F), (CUDA_C_32F, CUDA_C_32F))):
            plan, work = C.c_int(), C.c_size_t()
            try:
                call(lib, "cufftCreate", C.byref(plan))
                call(lib, "cufftSetAutoAllocation", plan, 0)
                n = (C.c_longlong * len(size))(*size)
                call(
                    lib,
                    "cufftXtMakePlanMany",
                    plan,
                    len(size),
                    n,
                    None,
                    C.c_longlong(1),
                    C.c_longlong(1),
                    a,
                    None,
                    C.c_longlong(1),
                    C.c_longlong(1),
                    b,
                    C.c_longlong(batch),
                    C.byref(work),
                    CUDA_C_32F,
                )
                said = work.value
            except RuntimeError:
                said = "-"
            lib.cufftDestroy(plan)
            yield kind, batch, "x".join(map(str, size)), said


# ---- addresses -------------------------------------------------------------------------------------------------------


def addresses():
    cuda = C.CDLL("libcudart.so.13")
    torch.rand(64, 64, device="cuda") @ torch.rand(64, 64, device="cuda")
    MIB = 1 << 20
    held = []

    def take(size):
        at = C.c_void_p()
        call(cuda, "cudaMalloc", C.byref(at), C.c_size_t(size))
        held.append((size, at.value))
        return size, at.value

    def free(i):
        size, at = held.pop(i)
        call(cuda, "cudaFree", C.c_void_p(at))
        return -size, at

    plain = [2, 2, 2, 20, 20, 2, 40, 2, 100, 20, 2, 512, 2, 6, 24, 1, 1, 64, 32, 34, 1000, 2, 20, 20, 2]
    for size in plain:
        yield "plain", *take(size * MIB)
    for i in (3, 3, 5, 8):
        yield "free", *free(i)
    for size in (2, 20, 2, 16, 20, 100, 40, 2, 2, 2, 20):
        yield "again", *take(size * MIB)
    while held:
        free(0)
    draw = random.Random(5)
    for _ in range(400):
        if held and draw.random() < 0.35:
            yield "mixed", *free(draw.randrange(len(held)))
        else:
            yield "mixed", *take(
                draw.choice((2, 2, 2, 20, 20, 20, draw.randint(5, 60) * 2, draw.randint(60, 600) * 2)) * MIB
            )
    while held:
        free(0)
    for _ in range(300):
        yield "taken", *take(draw.choice((2, 2, 20, 20, draw.randint(5, 60) * 2, draw.randint(60, 400) * 2)) * MIB)


WHAT = {"recurrent": recurrent, "norms": norms, "fft": fft, "addresses": addresses}


def main():
    ap = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ap.add_argument("out")
    ap.add_argument("what", nargs="*", choices=[[], *WHAT])
    a = ap.parse_args()
    os.makedirs(a.out, exist_ok=True)
    torch.nn.functional.conv2d(torch.rand(1, 8, 8, 8, device="cuda"), torch.rand(8, 8, 3, 3, device="cuda"))
    for what in a.what or WHAT:
        with open(os.path.join(a.out, what + ".tsv"), "w") as f:
            for row in WHAT[what]():
                print(*row, sep="\t", file=f, flush=True)


if __name__ == "__main__":
    main()
