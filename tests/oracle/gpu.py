#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What PyTorch takes on a GPU beside tensors, for gpu.sh; memlint is MEMLINT.

gpu.py context                what the driver counts before and after the context and the libraries
gpu.py convs --device NAME    workspaces of convolutions, measured, and memlint's rule beside them
gpu.py reserves               what cuDNN keeps and takes of recurrent layers and of batch norm
"""

import argparse, json, os, re, subprocess, sys, tempfile

CONVS = [  # N C H W, K R S, stride, padding, groups: of ResNet, VGG, MobileNet, U-Net, ConvNeXt, Inception
    (32, 3, 224, 224, 64, 7, 7, 2, 3, 1),
    (32, 64, 56, 56, 64, 3, 3, 1, 1, 1),
    (32, 64, 56, 56, 256, 1, 1, 1, 0, 1),
    (32, 128, 28, 28, 128, 3, 3, 1, 1, 1),
    (32, 256, 28, 28, 512, 1, 1, 2, 0, 1),
    (32, 512, 7, 7, 512, 3, 3, 1, 1, 1),
    (16, 3, 224, 224, 64, 3, 3, 1, 1, 1),
    (16, 64, 224, 224, 64, 3, 3, 1, 1, 1),
    (16, 256, 56, 56, 256, 3, 3, 1, 1, 1),
    (32, 96, 112, 112, 96, 3, 3, 2, 1, 96),
    (32, 384, 14, 14, 384, 3, 3, 1, 1, 384),
    (32, 96, 56, 56, 96, 7, 7, 1, 3, 96),
    (4, 64, 256, 256, 64, 3, 3, 1, 1, 1),
    (4, 1024, 16, 16, 512, 3, 3, 1, 1, 1),
    (32, 192, 17, 17, 192, 1, 7, 1, 0, 1),
    (32, 2048, 7, 7, 512, 1, 1, 1, 0, 1),
]
RECURRENT = [  # layer, units, layers, directions, batch, steps; the first two were published: src/torch/rnn.c
    ("LSTM", 320, 4, 1, 100, 250),
    ("GRU", 320, 4, 1, 100, 250),
    ("RNN", 320, 4, 1, 100, 250),
    ("LSTM", 512, 1, 1, 64, 35),
    ("LSTM", 512, 2, 2, 64, 35),
    ("GRU", 256, 2, 2, 32, 100),
]
KEPT = {"LSTM": 6, "GRU": 7, "RNN": 2}  # kept_per_state in src/torch/rnn.c
NORMS = [(32, 64, 112, 112), (32, 256, 56, 56), (128, 2048, 7, 7)]
MODEL = """<ir_version: 8, opset_import: ["": 17]>
main_graph (float[{n}, {c}, {h}, {w}] x) => (float[{n}, {k}, {p}, {q}] y)
<float[1, {c}, 1, 1] "shift" = {{}}, float[{k}, {cg}, {r}, {s}] "weight" = {{}}>
{{
  [a] z = Add (x, shift)
  [c] y = Conv <kernel_shape = [{r}, {s}], pads = [{pad}, {pad}, {pad}, {pad}], strides = [{stride}, {stride}],
    group = {groups}> (z, weight)
}}
"""


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


def context(a):
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
        "total": total,
        "nvidia_smi": {"before": before, "context": smi()},
        "driver": {"context": total - free},
    }
    x = torch.rand(64, 64, device="cuda")
    x @ x
    torch.cuda.synchronize()
    said["nvidia_smi"]["cublas"], said["driver"]["cublas"] = smi(), total - torch.cuda.mem_get_info()[0]
    torch.nn.functional.conv2d(torch.rand(4, 64, 32, 32, device="cuda"), torch.rand(64, 64, 3, 3, device="cuda"))
    torch.cuda.synchronize()
    said["nvidia_smi"]["cudnn"], said["driver"]["cudnn"] = smi(), total - torch.cuda.mem_get_info()[0]
    said["reserved"] = torch.cuda.memory_reserved()
    print(json.dumps(said))


def most(call):
    """Bytes that a call takes and gives back: the allocator's peak less what it leaves."""
    import torch

    torch.cuda.reset_peak_memory_stats()
    out = call()
    torch.cuda.synchronize()
    held = torch.cuda.memory_allocated()
    del out
    return torch.cuda.max_memory_allocated() - held


def measured(conv, dtype):
    """Bytes of the workspaces of the forward pass, the input's and the weight's gradient."""
    import torch

    n, c, h, w, k, r, s, stride, pad, groups = conv
    x = torch.rand(n, c, h, w, device="cuda", dtype=dtype)
    weight = torch.rand(k, c // groups, r, s, device="cuda", dtype=dtype)
    rest = ([stride] * 2, [pad] * 2, [1, 1], False, [0, 0], groups)

    y = torch.ops.aten.convolution(x, weight, None, *rest)
    back = lambda *mask: torch.ops.aten.convolution_backward(y, x, weight, [0], *rest, [*mask, False])
    return [
        most(lambda: torch.ops.aten.convolution(x, weight, None, *rest)),
        most(lambda: back(True, False)),
        most(lambda: back(False, True)),
    ]


def predicted(conv, precision, device):
    """The forward pass's workspace and the larger one of the gradients', by memlint's rule."""
    n, c, h, w, k, r, s, stride, pad, groups = conv
    p, q = ((side + 2 * pad - of) // stride + 1 for side, of in ((h, r), (w, s)))
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as f:
        f.write(
            MODEL.format(
                n=n, c=c, h=h, w=w, k=k, r=r, s=s, p=p, q=q, pad=pad, stride=stride, groups=groups, cg=c // groups
            )
        )
        f.flush()
        words = [os.environ["MEMLINT"], f.name, "--loss=sum", "--device", device, "--precision", precision]
        said = subprocess.run([*words, "--dump=step"], capture_output=True, text=True)
    rows = [line.split("\t") for line in said.stdout.splitlines() if line.startswith("+")]
    found = {"forward": 0, "backward": 0}
    for row in rows:
        if row[4].startswith("aten.convolution") and row[6] == "uint8":
            found[row[3]] = max(found[row[3]], int(row[1]))
    return found


def convs(a):
    import torch

    mib = lambda b: f"{b / 2**20:,.1f}"
    print(
        "| convolution | type | forward, MiB | memlint | input's gradient | weight's gradient | memlint, the larger |"
    )
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for dtype, precision in ((torch.float32, "fp32"), (torch.bfloat16, "bf16")):
        for conv in CONVS:
            try:
                forward, data, weight = measured(conv, dtype)
            except RuntimeError as error:
                print(f"| {conv} | {precision} | {str(error).splitlines()[0]} | | | | |", flush=True)
                continue
            rule = predicted(conv, precision, a.device)
            cells = (forward, rule["forward"], data, weight, rule["backward"])
            print(f"| {conv} | {precision} | {' | '.join(map(mib, cells))} |", flush=True)


def recurrent(row, dtype):
    """What cuDNN keeps, what memlint counts, what the call takes and gives back."""
    import torch

    name, units, layers, directions, batch, steps = row
    net = getattr(torch.nn, name)(units, units, layers, bidirectional=directions == 2).to("cuda", dtype)
    x = torch.rand(steps, batch, units, device="cuda", dtype=dtype)
    kept = net(x)[0].grad_fn._saved_result3.numel()
    counted = steps * batch * units * (KEPT[name] * layers * directions - directions) * x.element_size()
    return kept, counted, most(lambda: net(x))


def norm(size, dtype):
    import torch

    net = torch.nn.BatchNorm2d(size[1]).cuda()
    x = torch.rand(size, device="cuda", dtype=dtype).to(memory_format=torch.channels_last)
    return torch._C._get_cudnn_batch_norm_reserve_space_size(x, True), 0, most(lambda: net(x))


def reserves(a):
    import torch

    print("| layer | type | kept, bytes | memlint | taken and given back |")
    print("| --- | --- | --- | --- | --- |")
    rows = [(recurrent, row) for row in RECURRENT] + [(norm, size) for size in NORMS]
    for dtype in (torch.float32, torch.float16):
        for measure, row in rows:
            try:
                cells = " | ".join(f"{n:,}" for n in measure(row, dtype))
            except RuntimeError as error:
                cells = f"{str(error).splitlines()[0]} | | "
            print(f"| {row} | {dtype} | {cells} |", flush=True)


def main():
    ap = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ap.add_argument("what", choices=("context", "convs", "reserves"))
    ap.add_argument("--device")
    {"context": context, "convs": convs, "reserves": reserves}[ap.parse_args().what](ap.parse_args())


if __name__ == "__main__":
    main()
