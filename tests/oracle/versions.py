#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Exports of eleven small models by several versions of PyTorch: does memlint read each as that version runs it?

    versions.py MEMLINT RECORD.PY EXPORT.PY [--environments DIR] [--versions LIST] [--only REGEX] [--keep DIR]
                [--pack FILE] [--table] [-v]

For each version an environment is built in DIR (venv and pip; the CUDA build, since a record needs its operators). Its
own Python exports the models by both exporters, in training and in evaluation mode, without their weights, and records
the training step with that version's own engine. Then memlint reads each file: its peak is the recorded one, or there
is a doubt, or it is wrong. Two models are also exported in every way that VARIANTS has. Exit 1 when one is wrong and
sure. --pack writes what tests/versions.sh replays, --table the tables of docs/FILES.md.

The records are taken by record.py of the oracle pack, made for torch 2.11. What other versions need: the shim of the
device is compiled with the headers of CUDA that came with that version, since a structure in them changed with CUDA 13,
and SHIM answers what older engines ask the driver for: devices, the current stream, events, a context. Models are built
on the CPU. Files of versions before 2.4 (where record.py sees no tensor die) are compared with its record, those of
before 2.0 with that of their loop (foreach=False and zero_grad(set_to_none=False), which were the defaults then), and
those of LSTM, whose kernel is cuDNN's and has no record, with memlint's answer for the file of torch 2.11 in training
mode.
"""

import argparse, collections, glob, io, itertools, json, lzma, os, re, subprocess, sys, tarfile, tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import steps

BATCH, LARGE = 32, 40000  # bytes of a packed file
# Version: what else pip gets beside it, of its time.
VERSIONS = {
    "1.8.1": ("numpy<1.24", "protobuf<4", "onnx==1.9.0"),
    "1.13.1": ("numpy<2", "protobuf<4", "onnx==1.13.1"),
    "2.0.1": ("numpy<2", "protobuf<4", "onnx==1.14.1"),
    "2.1.2": ("numpy<2", "packaging", "protobuf<5", "onnx==1.15.0", "onnxscript==0.1.0.dev20231109"),
    "2.4.1": ("numpy<2", "packaging", "protobuf<5", "onnx==1.16.2", "onnxscript==0.1.0.dev20240831"),
    "2.6.0": ("numpy", "protobuf<6", "onnx==1.17.0", "onnxscript==0.2.0"),
    "2.8.0": ("numpy", "protobuf<7", "onnx==1.18.0", "onnx-ir==0.1.7", "onnxscript==0.4.0"),
    "2.11.0": ("numpy", "onnx", "onnxscript"),
    "2.15.0": ("numpy", "onnx", "onnxscript"),
}
PYTHONS = {"1.8.1": "python3.8", "1.13.1": "python3.10", "2.0.1": "python3.10"}  # others: the one that runs this
RECORDS = (2, 4)  # the first that record.py runs with
REFERENCE = "2.11.0"  # whose exporter and engine the rest of the tests are about
HALF = "bf16"  # models in half precision
OLD, OLDER = (2, 0), "older"  # before it, optimizers went one parameter after another, and zero_grad() kept gradients
STATES = ("exact", "near", "doubt", "WRONG")
FLAVOURS = ("dynamo-train", "dynamo-eval", "script-train", "script-eval")
# What else an export may be asked for, of some models by the reference alone.
VARIED = ("conv", "gpt")
VARIANTS = {
    "external": {"external_data": True},
    "unfilled": {"export_params": False},
    "report": {"report": True},
    "optimized": {"optimize": True},
    "plain": {"optimize": False},
    HALF: {},
    **{f"opset{n}": {"opset_version": n} for n in (11, 13, 16, 18, 20, 21, 23, 24)},
}
VARIED_FLAVOURS = tuple(
    f"{exporter}-{mode}-{variant}"
    for exporter, mode, variant in itertools.product(("dynamo", "script"), ("train", "eval"), VARIANTS)
    if exporter == "dynamo" or variant.startswith("opset") or variant in ("unfilled", HALF)
)

# ---- the models ------------------------------------------------------------------------------------------------------

ZOO = """
import math, torch, torch.nn.functional as F
from torch import nn


class Mlp(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(64, 512), nn.ReLU(), nn.Dropout(0.1), nn.Linear(512, 256), nn.GELU(),
                                 nn.Dropout(0.1), nn.Linear(256, 100))

    def forward(self, x):
        return self.net(x)


class Conv(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.na = nn.Conv2d(3, 16, 3, padding=1, bias=False), nn.BatchNorm2d(16)
        self.b, self.nb = nn.Conv2d(16, 32, 3, stride=2, padding=1), nn.BatchNorm2d(32)
        self.fc = nn.Linear(32, 100)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.na(self.a(x))), 2)
        x = F.relu(self.nb(self.b(x)))
        return self.fc(torch.flatten(F.adaptive_avg_pool2d(x, 1), 1))


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(500, 64)
        self.layer = nn.TransformerEncoderLayer(64, 4, 256, batch_first=True)
        self.head = nn.Linear(64, 100)

    def forward(self, x):
        return self.head(self.layer(self.embed(x)))


class Block(nn.Module):
    def __init__(self, dim=64, heads=4):
        super().__init__()
        self.heads = heads
        self.ln1, self.ln2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.qkv, self.proj = nn.Linear(dim, 3 * dim), nn.Linear(dim, dim)
        self.fc, self.out, self.drop = nn.Linear(dim, 4 * dim), nn.Linear(4 * dim, dim), nn.Dropout(0.1)

    def forward(self, x):
        b, s, d = x.shape
        q, k, v = self.qkv(self.ln1(x)).split(d, dim=2)
        q, k, v = (t.view(b, s, self.heads, d // self.heads).transpose(1, 2) for t in (q, k, v))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.drop(self.proj(y.transpose(1, 2).contiguous().view(b, s, d)))
        return x + self.drop(self.out(F.gelu(self.fc(self.ln2(x)))))


class Gpt(nn.Module):
    def __init__(self):
        super().__init__()
        self.wte, self.wpe = nn.Embedding(500, 64), nn.Embedding(32, 64)
        self.drop, self.blocks, self.norm = nn.Dropout(0.1), nn.ModuleList(Block() for _ in range(2)), nn.LayerNorm(64)
        self.head = nn.Linear(64, 500, bias=False)
        self.head.weight = self.wte.weight

    def forward(self, x):
        h = self.drop(self.wte(x) + self.wpe(torch.arange(x.shape[1], device=x.device)))
        for block in self.blocks:
            h = block(h)
        return self.head(self.norm(h))


class Lstm(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.lstm = nn.Embedding(500, 64), nn.LSTM(64, 96, 2, batch_first=True)
        self.head = nn.Linear(96, 100)

    def forward(self, x):
        return self.head(self.lstm(self.embed(x))[0])


class Embed(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.norm = nn.Embedding(500, 96, padding_idx=0), nn.LayerNorm(96)
        self.a, self.head = nn.Linear(96, 192), nn.Linear(192, 100)

    def forward(self, x):
        return self.head(torch.tanh(self.a(self.norm(self.embed(x)).mean(dim=1))))


class Residual(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 32, 3, padding=1)
        self.a, self.b = nn.Conv2d(32, 32, 3, padding=1), nn.Conv2d(32, 32, 3, padding=1)
        self.relu, self.pool, self.fc = nn.ReLU(inplace=True), nn.AdaptiveAvgPool2d((1, 1)), nn.Linear(32, 100)

    def forward(self, x):
        x = self.relu(self.stem(x))
        y = self.b(self.relu(self.a(x)))
        y += x
        return self.fc(self.pool(self.relu(y)).flatten(1))


class Unet(nn.Module):
    def __init__(self):
        super().__init__()
        self.down, self.mid = nn.Conv2d(3, 16, 3, padding=1), nn.Conv2d(16, 32, 3, padding=1)
        self.n1, self.n2, self.n3 = nn.GroupNorm(4, 16), nn.GroupNorm(4, 32), nn.GroupNorm(4, 16)
        self.up, self.join = nn.ConvTranspose2d(32, 16, 2, 2), nn.Conv2d(32, 16, 3, padding=1)
        self.skip, self.fc = nn.Conv2d(16, 16, 1), nn.Linear(16, 100)

    def forward(self, x):
        a = F.silu(self.n1(self.down(x)))
        b = F.silu(self.n2(self.mid(F.avg_pool2d(a, 2))))
        c = F.silu(self.n3(self.join(torch.cat([a, self.up(b)], dim=1))))
        c = c + F.interpolate(self.skip(F.max_pool2d(c, 2)), scale_factor=2, mode="nearest")
        return self.fc(c.mean(dim=(2, 3)))


class Buffers(nn.Module):
    def __init__(self, dim=64, length=32):
        super().__init__()
        self.embed, self.head = nn.Embedding(500, dim), nn.Linear(dim, 100)
        self.q, self.k, self.v = nn.Linear(dim, dim), nn.Linear(dim, dim), nn.Linear(dim, dim)
        at, rate = torch.arange(length).unsqueeze(1), torch.exp(torch.arange(0, dim, 2) * (-math.log(1e4) / dim))
        table = torch.zeros(1, length, dim)
        table[0, :, 0::2], table[0, :, 1::2] = torch.sin(at * rate), torch.cos(at * rate)
        self.register_buffer("table", table)
        self.register_buffer("mask", torch.tril(torch.ones(length, length)).view(1, length, length), persistent=False)
        self.scale = math.sqrt(dim)

    def forward(self, x):
        h = self.embed(x) + self.table[:, : x.size(1)]
        scores = self.q(h) @ self.k(h).transpose(-2, -1) / self.scale
        scores = scores.masked_fill(self.mask == 0, float("-inf"))
        return self.head(torch.softmax(scores, dim=-1) @ self.v(h) + h)


class Views(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Conv2d(3, 16, 3, padding=1), nn.Conv2d(16, 16, 1)
        self.mix, self.fc = nn.Linear(256, 256), nn.Linear(32, 100)

    def forward(self, x):
        b = x.shape[0]
        x = self.a(x)
        x = x.view(b, 2, 8, 16, 16).transpose(1, 2).reshape(b, 16, 16, 16)
        u, v = self.b(x).chunk(2, dim=1)
        x = torch.cat([u * torch.sigmoid(v), v.permute(0, 1, 3, 2)], dim=1)
        y = self.mix(x.flatten(2)).permute(0, 2, 1).contiguous()
        return self.fc(torch.cat([y.amax(dim=1), y.mean(dim=1)], dim=-1))


class Rms(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.norm, self.b = nn.Linear(64, 256), nn.RMSNorm(256), nn.Linear(256, 256)
        self.last, self.head = nn.RMSNorm(256), nn.Linear(256, 100)

    def forward(self, x):
        y = self.norm(self.a(x))
        return self.head(self.last(y + F.silu(self.b(y))))


def image(b):
    return torch.rand(b, 3, 16, 16), torch.zeros(b, dtype=torch.long)


def words(b):
    return torch.zeros(b, 32, dtype=torch.long), torch.zeros(b, 32, dtype=torch.long)


def one(b):
    return torch.zeros(b, 32, dtype=torch.long), torch.zeros(b, dtype=torch.long)


def row(b):  # many rows, so that the peak is not the optimizer's
    return torch.rand(b, 32, 64), torch.zeros(b, 32, dtype=torch.long)


MODELS = {
    "mlp": (Mlp, row, "x"), "conv": (Conv, image, "x"), "encoder": (Encoder, words, "x"), "gpt": (Gpt, words, "x"),
    "lstm": (Lstm, words, "x"), "embed": (Embed, one, "x"), "residual": (Residual, image, "x"),
    "unet": (Unet, image, "x"), "buffers": (Buffers, words, "x"), "views": (Views, image, "x"),
    "rms": (Rms, row, "x"),
}
"""
MODELS = re.findall(r'"(\w+)": \(\w+, \w+, "\w+"\)', ZOO)
UNRECORDED = ("lstm",)

# ---- inside of an environment: files and records ---------------------------------------------------------------------

SHIM = """
#include <cuda_runtime_api.h>
extern "C" cudaError_t cudaGetDeviceCount(int *n) { *n = 0; return cudaSuccess; }
extern "C" cudaError_t cudaGetDevice(int *device) { *device = 0; return cudaSuccess; }
extern "C" cudaError_t cudaSetDevice(int) { return cudaSuccess; }
extern "C" cudaError_t cudaEventCreateWithFlags(cudaEvent_t *e, unsigned) { *e = nullptr; return cudaSuccess; }
extern "C" cudaError_t cudaEventRecord(cudaEvent_t, cudaStream_t) { return cudaSuccess; }
extern "C" cudaError_t cudaEventDestroy(cudaEvent_t) { return cudaSuccess; }
extern "C" cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned) { return cudaSuccess; }
namespace c10 { namespace cuda {
struct CUDAStream { signed char type, device; long id; };
CUDAStream getCurrentCUDAStream(signed char) { return {1, 0, 0}; }
void setCurrentCUDAStream(CUDAStream) {}
} }
"""


def shim(record, folder):
    """record.py's shim for this version, compiled with the headers of its CUDA."""
    source = os.path.join(os.path.dirname(os.path.realpath(record)), "shim.cpp")
    headers = glob.glob(os.path.join(sys.prefix, "lib/python*/site-packages/nvidia/*/include/cuda_runtime_api.h"))
    with open(os.path.join(folder, "older.cpp"), "w") as f:
        f.write(SHIM)
    with open(os.path.join(folder, "driver.cpp"), "w") as f:  # before 2.6 autograd asks it whether a context is there
        f.write(open(source).read().replace("*active = 0", "*active = 1"))
    for name, words in (("shim.so", [source, "older.cpp"]), ("libcuda.so.1", ["-DDRIVER", "driver.cpp"])):
        flags = ["g++", "-shared", "-fPIC", *("-I" + os.path.dirname(h) for h in headers), "-o", name]
        subprocess.check_call([*flags, *words], cwd=folder)
    return os.path.join(folder, "shim.so")


class Case:
    """A model as record.py wants it."""

    def __init__(self, torch, build, inputs, name):
        self.build, self.inputs_of, self.name, self.real_build, self.loss_name = build, inputs, name, True, ""
        self.cross_entropy = torch.nn.functional.cross_entropy

    def inputs(self, batch):
        x, targets = self.inputs_of(batch)
        return {self.name: x}, targets

    def loss(self, out, targets):
        return self.cross_entropy(out.reshape(-1, out.shape[-1]), targets.reshape(-1))


def number(version):
    return tuple(int(n) for n in version.split(".")[:2])


def write(torch, case, flavour, path):
    exporter, mode, *variant = flavour.split("-")
    inputs, _ = case.inputs(BATCH if exporter == "dynamo" and number(torch.__version__) < (2, 5) else 2)
    model = case.build().train(mode == "train")
    version = number(torch.__version__)
    shared = dict(input_names=list(inputs), output_names=["output"], **(VARIANTS[variant[0]] if variant else {}))
    if HALF in variant:
        model = model.bfloat16()
        inputs = {k: x.bfloat16() if x.is_floating_point() else x for k, x in inputs.items()}
    if exporter == "dynamo" and version < (2, 5):
        torch.onnx.dynamo_export(model, *inputs.values()).save(path)
    elif exporter == "dynamo":
        shapes = {k: {0: torch.export.Dim("batch")} for k in inputs}
        torch.onnx.export(
            model, (), path, kwargs=inputs, dynamo=True, dynamic_shapes=shapes, **{"external_data": False, **shared}
        )
    else:
        modes = torch.onnx.TrainingMode
        torch.onnx.export(
            model,
            tuple(inputs.values()),
            path,
            training=modes.TRAINING if mode == "train" else modes.EVAL,
            do_constant_folding=mode != "train",
            dynamic_axes={k: {0: "batch"} for k in [*inputs, "output"]},
            **({"dynamo": False} if version >= (2, 5) else {}),
            **{"opset_version": 17 if version >= (1, 13) else 12, **shared},
        )


def inside(record, export, folder, only):
    if "MEMLINT_SHIM" not in os.environ and number(os.path.basename(folder)) >= RECORDS:
        so = shim(record, folder)
        path = folder + ":" + os.environ.get("LD_LIBRARY_PATH", "")
        env = dict(os.environ, MEMLINT_SHIM=so, LD_PRELOAD=so, LD_LIBRARY_PATH=path)
        os.execve(sys.executable, [sys.executable] + sys.argv, env)
    import torch

    zoo = os.path.join(folder, "zoo.py")
    with open(zoo, "w") as f:
        f.write(ZOO)
    if number(torch.__version__) >= RECORDS:
        import torch.utils._device  # which later versions import themselves

        record = steps.load("record", os.path.realpath(record))
        record.OPTIMIZERS[OLDER] = lambda p: torch.optim.AdamW(p, foreach=False)
    import onnx

    kept = dict(vars(torch.nn.init))  # which export.py quickens for models that are larger than these
    tools = steps.load("export", os.path.realpath(export))
    vars(torch.nn.init).update(kept)
    models = steps.load("zoo", zoo).MODELS
    for name, of in models.items():
        if name == "rms" and not hasattr(torch.nn, "RMSNorm"):  # before 2.4
            continue
        case = Case(torch, *of)
        log = os.path.join(folder, name + ".log")

        def trace(precision):
            to = os.path.join(folder, f"{name}.{precision}.")
            how = (OLDER, "fp32", "zero-in-place") if precision == OLDER else ("adamw", precision)
            said = record.record(name, case, BATCH, *how, trace=to + "trace")
            with open(to + "json", "w") as f:
                json.dump(said, f)

        if not re.search(only, name):
            continue
        half = (HALF,) if torch.__version__.startswith(REFERENCE) else ()
        older = (OLDER,) if number(torch.__version__) == RECORDS else ()
        for precision in steps.PRECISIONS + half + older:
            done = os.path.exists(os.path.join(folder, f"{name}.{precision}.json"))
            if done or name in UNRECORDED or number(torch.__version__) < RECORDS:
                continue
            if not steps.apart(log, lambda: trace(precision)):
                print(torch.__version__, name, precision, "not recorded:", steps.reason(log), flush=True)
        reference = torch.__version__.startswith(REFERENCE)
        for flavour in FLAVOURS + (VARIED_FLAVOURS if reference and name in VARIED else ()):
            if flavour.startswith("dynamo") and number(torch.__version__) < (2, 1):
                continue
            path, log = (os.path.join(folder, f"{name}.{flavour}.{s}") for s in ("onnx", "log"))

            def make():
                write(torch, case, flavour, path + ".tmp")
                m = tools.strip(onnx.load(path + ".tmp"))
                tools.tidy_paths(m)
                for node in list(m.graph.node) + [n for f in getattr(m, "functions", ()) for n in f.node]:
                    for p in getattr(node, "metadata_props", ()):
                        p.value = p.value.replace(folder + "/", "")
                    node.doc_string = node.doc_string.replace(folder + "/", "")
                with open(path, "wb") as f:  # onnx.save of older versions writes the data that is left out
                    f.write(m.SerializeToString())
                os.remove(path + ".tmp")

            if not os.path.exists(path) and not steps.apart(log, make):
                print(torch.__version__, name, flavour, "not exported:", steps.reason(log), flush=True)


# ---- outside: environments, memlint ----------------------------------------------------------------------------------


def environment(folder, version):
    python = os.path.join(folder, version, "bin", "python")
    if not os.path.exists(python):
        subprocess.check_call([PYTHONS.get(version, sys.executable), "-m", "venv", os.path.join(folder, version)])
    done = os.path.join(folder, version, "done")
    if not os.path.exists(done):
        pip = [python, "-m", "pip", "install", "-q", "torch==" + version, "setuptools", *VERSIONS[version]]
        subprocess.check_call(pip)
        open(done, "w").close()
    return python


def options(version, flavour, precision):
    fixed = flavour.startswith("dynamo") and number(version) < (2, 5)  # dynamo_export, whose sizes are numbers
    dims = [] if fixed else ["--dim", f"batch={BATCH}"]
    return [*dims, "--optimizer", "adamw", "--loss", "cross-entropy", "--precision", precision]


def ask(memlint, path, words):
    """(peak, whether it is sure, why not)"""
    command = [memlint, path, *words, "--assume", "accumulate=never", "--format=json"]
    said = subprocess.run(command, capture_output=True, text=True)
    try:
        answer = json.loads(said.stdout)
    except ValueError:
        return None, said.returncode < 0, [said.stderr.strip()[:200]]
    why = [f"{d['node']}: {d['why']}" for d in answer["unexplained"]]
    return answer["peak"]["allocated"], answer["verdict"] != "inconclusive", why


def main():
    ap = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ap.add_argument("memlint")
    ap.add_argument("record")
    ap.add_argument("export")
    ap.add_argument("--environments", default=os.path.join(tempfile.gettempdir(), "envs"), metavar="DIR")
    ap.add_argument("--versions", default=",".join(VERSIONS))
    ap.add_argument("--only", default="", metavar="REGEX")
    ap.add_argument("--keep", metavar="DIR", help="leave the files and records here, and use those that are here")
    ap.add_argument("--pack", metavar="FILE")
    ap.add_argument("--table", action="store_true")
    ap.add_argument("--inside", action="store_true", help="make the files and records by the Python that runs this")
    ap.add_argument("-v", action="store_true")
    a = ap.parse_args()
    if a.inside:
        return inside(a.record, a.export, a.keep, a.only)
    with tempfile.TemporaryDirectory() as tmp:
        return compare(a, os.path.abspath(a.keep or tmp))


def make(a, root):
    for version in a.versions.split(","):
        folder = os.path.join(root, version)
        os.makedirs(folder, exist_ok=True)
        python = environment(a.environments, version)
        given = [os.path.abspath(p) for p in (a.memlint, a.record, a.export)]
        command = [python, os.path.abspath(__file__), *given, "--inside", "--keep", folder]
        subprocess.run([*command, "--only", a.only], check=True, cwd=folder)  # where exporters leave reports


def recorded(a, root, version, model, precision):
    """The peak of PyTorch's own step; of what can't be recorded, memlint's answer for the reference."""
    truth = os.path.join(root, version, f"{model}.{precision}.json")
    if os.path.exists(truth):
        return json.load(open(truth))["peak_allocated"]
    of = os.path.join(root, REFERENCE, f"{model}.{FLAVOURS[0]}.onnx")
    how = (steps.PRECISIONS[0], [f"--torch={version}"]) if precision == OLDER else (precision, [])
    return ask(a.memlint, of, options(REFERENCE, FLAVOURS[0], how[0]) + how[1])[0]


def rows(a, root):
    """(version, model, flavour, precision, memlint's options, recorded peak, file); autocast for FLAVOURS[0] alone"""
    oldest = next(v for v in VERSIONS if number(v) >= RECORDS)
    for version in a.versions.split(","):
        for model, flavour in itertools.product(MODELS, FLAVOURS + VARIED_FLAVOURS):
            path = os.path.join(root, version, f"{model}.{flavour}.onnx")
            for precision in steps.PRECISIONS if flavour == FLAVOURS[0] else steps.PRECISIONS[:1]:
                by = version if number(version) >= RECORDS else oldest
                if re.search(a.only, model) and os.path.exists(path):
                    of = HALF if flavour.endswith(HALF) else OLDER if number(version) < OLD else precision
                    peak = recorded(a, root, version if of == OLDER and model in UNRECORDED else by, model, of)
                    yield version, model, flavour, precision, options(version, flavour, precision), peak, path


def judge(got, peak, sure):
    """(error in percent, state)"""
    error = 100.0 * ((got or 0) / peak - 1)
    near = "near" if abs(error) < steps.WRONG else "WRONG"
    return error, "doubt" if not sure else "exact" if got == peak else near


def compare(a, root):
    make(a, root)
    cells, packed, counts = {}, [], collections.Counter()
    for version, model, flavour, precision, words, peak, path in rows(a, root):
        got, sure, why = ask(a.memlint, path, words)
        error, state = judge(got, peak, sure)
        counts[state] += 1
        cell = version, model, flavour
        cells[cell] = max(cells.get(cell, state), state, key=STATES.index)
        trace = path.replace(f".{FLAVOURS[0]}.onnx", f".{precision}.trace")
        seen = events(a.memlint, path, words, state, trace)
        packed.append((model, flavour, version, precision, words, peak, path, state, seen))
        if a.v or state in ("WRONG", "near"):
            row = f"{version:7} {model:9} {flavour} {precision}"
            print(f"{state:6} {error:+8.2f} %  {row}  {'; '.join(why[:2])[:230]}", flush=True)
    if a.table:
        table(a, cells)
    print("  ".join(f"{state}: {counts[state]}" for state in STATES))
    if a.pack:
        pack(a.pack, packed)
    return counts["WRONG"] != 0


def events(memlint, path, words, state, trace):
    """The recorded events of a file that has the lines of the program, where memlint's are the same, even if it has
    doubts; else None."""
    if state == "WRONG" or not trace.endswith(".trace") or not os.path.exists(trace):
        return None
    command = [memlint, path, "-q", *words, "--assume", "accumulate=never", "--dump=step"]
    got = subprocess.run(command, capture_output=True, text=True).stdout.splitlines()
    sides = [[steps.before(side)] + steps.canonical(side) for side in (list(open(trace)), got)]
    return sides[0] if sides[0] == sides[1] else None


def table(a, cells):
    marks = {"exact": "=", "near": "≈", "doubt": "?", "WRONG": "WRONG", None: "–"}
    print("| version | exporter |", " | ".join(MODELS), "|")
    print("| --- " * (len(MODELS) + 2) + "|")
    for version in a.versions.split(","):
        for flavour in FLAVOURS:
            row = [marks[cells.get((version, m, flavour))] for m in MODELS]
            if row.count(marks[None]) < len(row):
                print(f"| {version} | {flavour.replace('-', ', ')} |", " | ".join(row), "|")
    columns = list(itertools.product(("dynamo", "script"), VARIED))
    print("\n| asked for |", " | ".join(f"{model}: {exporter}" for exporter, model in columns), "|")
    print("| --- " * (len(columns) + 1) + "|")
    for variant in VARIANTS:
        row = [
            " ".join(marks[cells.get((REFERENCE, m, f"{e}-{mode}-{variant}"))] for mode in ("train", "eval"))
            for e, m in columns
        ]
        print(f"| {variant} |", " | ".join(row), "|")


def pack(path, packed):
    """Files, but those whose weights stand in constants, as dynamo_export folds them, and events for tests/steps.sh;
    beside the archive a table: what each is read with, the recorded peak, and whether memlint had it or a doubt."""
    lines, done = [], {}
    with tarfile.open(path, mode="w:xz", preset=9) as tar:

        def add(name, data):
            info = tarfile.TarInfo(name)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))

        for model, flavour, version, precision, words, peak, file, state, seen in sorted(packed, key=lambda p: p[:4]):
            name = f"{model}.{flavour}.{version}"
            if name not in done:
                data = open(file, "rb").read()
                done[name] = len(lzma.compress(data)) <= LARGE
                if done[name]:
                    add(name + ".onnx", data)
            if not done[name]:
                continue
            if seen:
                add(f"{name}.{precision}.step", "\n".join([" ".join(words), *seen, ""]).encode())
            lines.append(f"{name}.onnx\t{' '.join(words)}\t{peak}\t{state}\n")
    with open(path.replace(".tar.xz", ".tsv"), "w") as f:
        f.writelines(sorted(lines))


if __name__ == "__main__":
    sys.exit(main())
