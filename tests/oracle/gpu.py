#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the driver counts for a process before and after the context and each library, as JSON, for gpu.sh.

MEMLINT=./memlint gpu.py
"""

import json, os, re, subprocess


def smi():
    """Bytes in use as nvidia-smi counts them; None without it."""
    try:
        said = subprocess.run(
            ["nvidia-smi", "--query-gpu=memory.used", "--format=csv,noheader,nounits"], capture_output=True, text=True
        )
        return int(said.stdout.split()[0]) << 20
    except (OSError, IndexError, ValueError):
        return None


def row_of(name):
    """memlint's row for a GPU by the name that the driver gives; None where none is alike."""
    words = re.sub(r"[^a-z0-9]+", " ", name.lower()).split()
    sized = any(re.fullmatch(r"\d+gb", w) for w in words)

    def found(part):  # "a100-40" is an A100 with 40 GB
        return part in words or (re.fullmatch(r"\d\d", part) and (f"{part}gb" in words or not sized))

    listed = subprocess.run([os.environ["MEMLINT"], "--list=devices"], capture_output=True, text=True).stdout
    rows = [line.split("\t")[0] for line in listed.splitlines()]
    alike = [r for r in rows if all(map(found, r.split("-")))]
    return max(alike, key=len, default=None)


def loads():
    """What makes the driver load a library or kernels, in the order in which a program meets them."""
    import torch
    import torch.nn.functional as F

    half = dict(device="cuda", dtype=torch.bfloat16)

    def attention():
        heads = torch.rand(2, 4, 128, 64, requires_grad=True, **half)
        F.scaled_dot_product_attention(heads, heads, heads).sum().backward()

    yield "tensor", lambda: torch.rand(1024, device="cuda") + 1
    yield "cublas", lambda: torch.rand(64, 64, device="cuda") @ torch.rand(64, 64, device="cuda")
    yield "cublaslt", lambda: F.linear(torch.rand(64, 64, **half), torch.rand(64, 64, **half), torch.rand(64, **half))
    yield "convolution", lambda: F.conv2d(
        torch.rand(4, 64, 32, 32, device="cuda"), torch.rand(64, 64, 3, 3, device="cuda")
    )
    yield "convolution bf16", lambda: F.conv2d(torch.rand(4, 64, 32, 32, **half), torch.rand(64, 64, 3, 3, **half))
    yield "attention", attention
    yield "recurrent", lambda: torch.nn.LSTM(64, 64).cuda()(torch.rand(8, 4, 64, device="cuda"))[0].sum().backward()
    yield "fft", lambda: torch.fft.rfft(torch.rand(64, 1024, device="cuda"))
    yield "solver", lambda: torch.linalg.eigh(torch.rand(64, 64, device="cuda"))


def context():
    import crowd

    before = smi()
    import torch

    torch.cuda.init()
    free, total = torch.cuda.mem_get_info()
    said = {
        "gpu": torch.cuda.get_device_name(),
        "row": row_of(torch.cuda.get_device_name()),
        "capability": "%d.%d" % torch.cuda.get_device_capability(),
        "torch": torch.__version__,
        "cuda": torch.version.cuda,
        "cudnn": torch.backends.cudnn.version(),
        "driver": (
            subprocess.run(
                ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"], capture_output=True, text=True
            ).stdout.strip()
            if before is not None
            else None
        ),
        "total": total,
        "before": before,
        "steps": [],
    }

    def step(name):
        torch.cuda.synchronize()
        reserved = torch.cuda.memory_reserved()
        used = {"nvidia_smi": smi(), "process": crowd.process_used(), "used": total - torch.cuda.mem_get_info()[0]}
        said["steps"].append({"after": name, **used, "reserved": reserved})

    step("context")
    for name, call in loads():
        try:
            call()
        except RuntimeError as error:
            name += ": " + str(error).splitlines()[0]
        step(name)
    print(json.dumps(said))


if __name__ == "__main__":
    context()
