#!/usr/bin/env python3
"""Compare every operator's row with PyTorch, operator by operator.

    ops.py MEMLINT RECORD.PY EXPORT.PY [--only REGEX] [-v]

Each case is a module of one operator between two linear layers. RECORD.PY traces its training step (births and deaths of tensors,
fake CUDA), EXPORT.PY writes it with torch.onnx.export, MEMLINT --dump=step predicts the events. Printed: one line a case, with the first
events that only one side has. Exit 1 when a case disagrees. Needs torch 2.11 and the two scripts of the oracle pack.
"""
import argparse, collections, json, os, re, subprocess, sys, tempfile

CASES = {  # name: expression of x, a float tensor [batch, 8, 32] that requires a gradient
    **{n: f"torch.{n}(x)" for n in ("exp", "log", "sqrt", "rsqrt", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "asinh", "acosh", "atanh",
                                    "tanh", "sigmoid", "relu", "abs", "neg", "reciprocal", "erf", "expm1", "log1p", "log2", "log10", "square", "floor", "round")},
    **{n: f"F.{n}(x)" for n in ("gelu", "silu", "elu", "selu", "celu", "leaky_relu", "hardswish", "hardsigmoid", "hardtanh", "softplus", "mish", "relu6",
                                "logsigmoid", "softsign", "tanhshrink")},
    "gelu_tanh": "F.gelu(x, approximate='tanh')", "glu": "F.glu(x, -1).repeat(1, 1, 2)", "softmax": "F.softmax(x, -1)", "log_softmax": "F.log_softmax(x, -1)",
    "pow2": "x ** 2", "pow3": "x ** 3", "mul_self": "x * x", "add_self": "x + x", "sub": "x - x.mean()", "div": "x / (x.abs() + 1)", "rsub": "1 - x", "rdiv": "1 / x",
    "maximum": "torch.maximum(x, x.flip(1))", "minimum": "torch.minimum(x, x.flip(1))", "clamp": "x.clamp(-1, 1)", "clamp_min": "x.clamp(min=0)", "clamp_max": "x.clamp(max=1)",
    "where": "torch.where(x > 0, x, x * 2)", "where_scalar": "torch.where(x > 0, x, 0.)", "masked_fill": "x.masked_fill(x > 0, 0.)", "lerp": "torch.lerp(x, x.flip(1), .3)",
    "sum": "x.sum(1, keepdim=True) + x", "mean": "x.mean(-1, keepdim=True) * x", "amax": "x.amax(1, keepdim=True) * x", "amin": "x.amin(1, keepdim=True) * x",
    "max_dim": "x.max(1, keepdim=True)[0] + x", "var": "x / (x.var(-1, keepdim=True) + 1)", "std": "x / (x.std(-1, keepdim=True) + 1)", "var_mean": "x - torch.var_mean(x, -1, keepdim=True)[1]",
    "norm": "x / x.norm(dim=-1, keepdim=True)", "normalize": "F.normalize(x, dim=-1)", "logsumexp": "x - x.logsumexp(-1, keepdim=True)", "cumsum": "x.cumsum(1)", "prod": "x.prod(1, keepdim=True) + x",
    "transpose": "(x.transpose(1, 2) * 2).transpose(1, 2)", "permute": "x.permute(2, 0, 1).reshape(32, -1).relu().view(32, -1, 8).permute(1, 2, 0)", "flip": "x.flip(1)", "roll": "x.roll(2, 1)",
    "cat": "torch.cat([x, x], 1)[:, 2:10]", "stack": "torch.stack([x, x * 2], 1).sum(1)", "chunk": "sum(x.chunk(4, 1)).repeat(1, 4, 1)", "split": "torch.cat([p.relu() for p in x.split([2, 6], 1)], 1)",
    "unbind": "torch.stack([p.relu() for p in x.unbind(1)], 1)", "slice": "x[:, 1:5].repeat(1, 2, 1)", "select": "x[:, 3].unsqueeze(1) + x", "gather": "x.gather(1, (x > 0).long())",
    "index": "x[:, torch.tensor([1, 3, 5, 7, 0, 2, 4, 6], device=x.device)]", "pad": "F.pad(x, (1, 1))[..., 1:-1]", "expand": "x[:, :1].expand(-1, 8, -1) * x", "repeat": "x[:, :1].repeat(1, 8, 1)",
    "tril": "x.tril()", "triu": "x.triu()", "topk": "x.topk(4, 1)[0].repeat(1, 2, 1)", "sort": "x.sort(1)[0]", "bmm": "torch.bmm(x, x.transpose(1, 2)) @ x", "einsum": "torch.einsum('bij,bkj->bik', x, x) @ x",
    "layer_norm": "F.layer_norm(x, (32,))", "rms_norm": "F.rms_norm(x, (32,))", "group_norm": "F.group_norm(x, 4)", "sdpa": "F.scaled_dot_product_attention(*(x.view(-1, 8, 2, 16).transpose(1, 2),) * 3).transpose(1, 2).reshape(-1, 8, 32)",
    "conv1d": "F.conv1d(x, x.new_ones(8, 8, 3), padding=1)", "avg_pool": "F.avg_pool1d(x, 2).repeat(1, 1, 2)", "max_pool": "F.max_pool2d(x.unsqueeze(1), 2).repeat(1, 1, 2, 2).squeeze(1)",
    "interpolate": "F.interpolate(x, scale_factor=2)[..., ::2]", "bilinear": "F.interpolate(x.unsqueeze(1), scale_factor=2, mode='bilinear')[:, 0, ::2, ::2]", "pixel_shuffle": "F.pixel_shuffle(x.unsqueeze(2), 2).reshape(-1, 8, 32)",
}

ZOO = '''
import torch, torch.nn.functional as F, torch.utils._device
from torch import nn
from zoo_base import *
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(32, 32), nn.Linear(32, 5)
    def forward(self, x):
        x = self.a(x)
        x = EXPRESSION
        return self.b(x)
ZOO = {"case": Entry(M, lambda b: ({"x": torch.rand(b, 8, 32)}, ids(b, 8)), cross_entropy, (4,))}
'''


def events(path):
    count = collections.Counter()
    for line in open(path):
        f = line.rstrip("\n").split("\t")
        if f[0] in ("+", "-"):
            count[(f[0], f[3], f[4], int(f[1]))] += 1
    return count


def main():
    ap = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ap.add_argument("memlint")
    ap.add_argument("record")
    ap.add_argument("export")
    ap.add_argument("--only", default="")
    ap.add_argument("-v", action="store_true")
    a = ap.parse_args()
    memlint, record, export = (os.path.realpath(p) for p in (a.memlint, a.record, a.export))
    bad = done = 0
    for name, expression in CASES.items():
        if not re.search(a.only, name):
            continue
        with tempfile.TemporaryDirectory() as d:
            zoo = os.path.join(d, "zoo.py")
            open(zoo, "w").write(ZOO.replace("EXPRESSION", expression))
            env = dict(os.environ, PYTHONPATH=os.path.dirname(record))
            r = subprocess.run([sys.executable, record, "case", "--zoo", zoo, "--trace", d + "/truth"], capture_output=True, text=True, env=env)
            x = subprocess.run([sys.executable, export, d, "--zoo", zoo, "--flavours", "dynamo"], capture_output=True, text=True, env=env)
            model = d + "/case.dynamo.onnx"
            if r.returncode or not os.path.exists(model):
                print(f"skipped  {name}: PyTorch can't {'record' if r.returncode else 'export'} it")
                continue
            m = subprocess.run([memlint, model, "--dim", "batch=4", "--loss", "cross-entropy", "--assume", "accumulate=never", "--dropout", "none", "--dump=step"],
                               capture_output=True, text=True)
            open(d + "/got", "w").write(m.stdout)
            truth, got = events(d + "/truth"), events(d + "/got")
            done += 1
            if truth == got:
                if a.v:
                    print("agrees   " + name)
                continue
            bad += 1
            print(f"differs  {name}: {expression}")
            for what, c in (("only PyTorch", truth - got), ("only memlint", got - truth)):
                for k, n in sorted(c.items(), key=lambda e: -e[0][3])[:4]:
                    print(f"    {what}: {n} x {' '.join(map(str, k))}")
    print(f"{done - bad} passed, {bad} failed")
    return bad != 0


if __name__ == "__main__":
    sys.exit(main())
