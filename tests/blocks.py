# SPDX-License-Identifier: Apache-2.0
"""blocks.py - runs the Python that findings print, on the models that they were printed for.

Each model below is captured and analysed; every finding's code is run with the names that docs/RULES.md promises
(model, batch, target, loss_fn, optimizer, lr, behind a forward pass out and loss; in forward() its own names).
Then the change must be there (EFFECTS has a row for every rule that prints code), a whole training step must run, and
where the model itself was changed it is captured anew: its peak is the one that the finding promised. Likewise the
blocks of checkpoint plans.

Prints "ok NAME", "no NAME: why" or "skipped: NAME: why" for each block; exits 1 where one failed. Needs PyTorch and the
memlint package.
"""
import gc
import re
import sys
import traceback
import warnings

import memlint
import torch
import torch.nn.functional as F
from torch import nn

LR = 1e-3
NEAR = 0.005  # of the promised peak: what a rewritten program may have of other temporaries


class Attention(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.qkv = nn.Linear(width, 3 * width)

    def forward(self, x):
        q, k, v = (t.unflatten(-1, (4, -1)).transpose(1, 2) for t in self.qkv(x).chunk(3, -1))
        scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
        return (scores.softmax(-1) @ v).transpose(1, 2).flatten(-2)


class RMSNorm(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * self.weight


class LayerNorm(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight, self.bias = nn.Parameter(torch.ones(width)), nn.Parameter(torch.zeros(width))

    def forward(self, x):
        mean = x.mean(-1, keepdim=True)
        variance = (x - mean).pow(2).mean(-1, keepdim=True)
        return (x - mean) / torch.sqrt(variance + 1e-5) * self.weight + self.bias


class GELU(nn.Module):
    def forward(self, x):
        return 0.5 * x * (1 + torch.tanh(0.7978845608 * (x + 0.044715 * x**3)))


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm1, self.attention = LayerNorm(width), Attention(width)
        self.norm2, self.mlp = RMSNorm(width), nn.Sequential(
            nn.Linear(width, 4 * width), GELU(), nn.Linear(4 * width, width)
        )

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        return x + self.mlp(self.norm2(x))


class LanguageModel(nn.Module):
    """Written by hand where PyTorch has an operator, with a table for each side and a pooler that nothing reads."""

    def __init__(self, entries=2000, width=256, blocks=4, head=True):
        super().__init__()
        self.embed = nn.Embedding(entries, width)
        self.other = nn.Embedding(entries, width)
        self.blocks = nn.ModuleList(Block(width) for _ in range(blocks))
        self.pooler = nn.Linear(width, 8 * width)
        self.head = nn.Linear(width, entries, bias=False)

    def forward(self, ids):
        x = self.embed(ids) + self.other(ids)
        for block in self.blocks:
            x = block(x)
        return self.head(x)


class Wrapped(nn.Module):
    """A head with a table of its own beside a narrower one of the same entries."""

    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(20000, 64)
        self.up = nn.Linear(64, 512)
        self.head = nn.Linear(512, 20000, bias=False)

    def forward(self, ids):
        return self.head(self.up(self.embed(ids)))


class Images(nn.Module):
    """Biases before batch norms, and activations of modules that are not in place."""

    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential()
        for i in range(3):
            self.layers.append(nn.Conv2d(3 if i == 0 else 256, 256, 3, padding=1))
            self.layers.append(nn.BatchNorm2d(256))
            self.layers.append(nn.LeakyReLU())
        self.head = nn.Linear(256, 10)

    def forward(self, x):
        return self.head(self.layers(x).mean((-2, -1)))


class Names(nn.Module):
    """A local name that holds a tensor to the end of forward()."""

    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(65536, 16)

    def forward(self, x):
        wide = torch.sin(x)
        other = torch.cos(wide)
        other = -other
        return self.fc(other)


class Wide(nn.Module):
    """Its forward pass is the peak, and its output is large."""

    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(64, 16384)

    def forward(self, x):
        x = torch.sin(x)
        x = torch.cos(x)
        return self.fc(x[:, :64])


class Stack(nn.Module):
    """More parameters than anything else."""

    def __init__(self, width=1024):
        super().__init__()
        self.layers = nn.Sequential(*(nn.Linear(width, width) for _ in range(4)))

    def forward(self, x):
        return self.layers(x)


def ids_of(entries, *shape):
    torch.manual_seed(0)
    return torch.randint(entries, shape), torch.randint(entries, shape)


def classes(out, target):
    return F.cross_entropy(out.flatten(0, -2), target.flatten())


def images(out, target):
    return F.cross_entropy(out, target)


def like(out, target):
    return F.mse_loss(out, target)


def in_forward():
    """What an author has in forward(), where a block stands there."""
    q, k, v = torch.randn(3, 2, 4, 8, 16)
    width = 16
    return {
        "q": q,
        "k": k,
        "v": v,
        "mask": None,
        "p": 0.0,
        "x": torch.randn(2, 8, width),
        "weight": torch.ones(width),
        "bias": torch.zeros(width),
        "eps": 1e-5,
        "hidden": torch.randn(4, 512),
        "wide": torch.ones(1),
    }


# Name: model, batch and target, loss and as memlint calls it, optimizer and as memlint calls it, further options.
MODELS = {
    "language": (LanguageModel, lambda: ids_of(2000, 8, 128), classes, "cross-entropy", torch.optim.AdamW, "adamw", []),
    "sgd": (LanguageModel, lambda: ids_of(2000, 4, 128), classes, "cross-entropy", torch.optim.SGD, "sgd", []),
    "wrapped": (Wrapped, lambda: ids_of(20000, 16), images, "cross-entropy", torch.optim.AdamW, "adamw", []),
    "images": (
        Images,
        lambda: (torch.randn(8, 3, 32, 32), torch.arange(8)),
        images,
        "cross-entropy",
        torch.optim.SGD,
        "sgd",
        [],
    ),
    "names": (
        Names,
        lambda: (torch.randn(64, 65536), torch.randn(64, 16)),
        like,
        "mse",
        torch.optim.SGD,
        "sgd",
        [],
    ),
    "stack": (
        Stack,
        lambda: (torch.randn(4, 1024), torch.randn(4, 1024)),
        like,
        "mse",
        torch.optim.Adam,
        "adam",
        [],
    ),
    "wide": (
        Wide,
        lambda: (torch.randn(64, 65536), torch.randn(64, 16384)),
        like,
        "mse",
        torch.optim.SGD,
        "sgd",
        [],
    ),
    "late": (
        Wide,
        lambda: (torch.randn(64, 65536), torch.randn(64, 16384)),
        like,
        "mse",
        torch.optim.SGD,
        "sgd",
        ["--loop=late-zero"],
    ),
}


def wrapped_modules(scope):
    return [name for name, m in scope["model"].named_modules() if "forward" in vars(m)]


# Blocks that stand in forward(), where several take the same names.
IN_FORWARD = {"fused-attention", "fused-gelu", "fused-layer-norm", "fused-norm"}


def members_hold(scope):
    members = set(re.findall(r"^# ([a-z0-9-]+)$", scope["code"], re.M))
    lost = sorted(rule for rule in members - IN_FORWARD if not EFFECTS[rule](scope))
    assert len(members) > 1 and not lost, f"of {sorted(members)} these were lost: {lost}"
    return True


# What must be so behind a block, by rule.
EFFECTS = {
    "logits-chunks": lambda s: torch.allclose(s["loss_fn"](s["model"](s["batch"]), s["target"]), s["loss_before"]),
    "shared-table": lambda s: s["logits"].shape[-1] == 20000,
    "narrow-table": lambda s: s["model"].embed(s["batch"]).shape[-1] == 256
    and s["model"].embed[0].embedding_dim == 128,
    "table-on-cpu": lambda s: "forward" in vars(s["model"].embed) and s["model"].embed.weight.device.type == "cpu",
    "sparse-gradients": lambda s: s["model"].embed.sparse and len(s["optimizer"].param_groups[0]["params"]) > 1,
    "untied-head": lambda s: s["model"].head.weight is s["model"].embed.weight,
    "equal-tables": lambda s: s["model"].other.weight is s["model"].embed.weight,
    "fused-attention": lambda s: s["out"].shape == s["q"].shape,
    "fused-gelu": lambda s: torch.equal(s["x"], F.gelu(s["own"]["x"], approximate="tanh")),
    "fused-layer-norm": lambda s: torch.allclose(s["x"], LayerNorm(16)(s["own"]["x"]), atol=1e-5),
    "fused-norm": lambda s: torch.allclose(s["x"], RMSNorm(16)(s["own"]["x"]), atol=1e-4),
    "half-precision": lambda s: torch.isfinite(s["loss"]),
    "optimizer-8bit": lambda s: type(s["optimizer"]).__name__ == type(s["optimizer_before"]).__name__ + "8bit",
    "optimizer-offload": lambda s: type(s["optimizer"]).__name__ == "CPUOffloadOptimizer",
    "fused-update": lambda s: s["optimizer"].defaults["fused"]
    and type(s["optimizer"]) is type(s["optimizer_before"]),
    "del-outputs": lambda s: "out" not in s and "loss" not in s,
    "del-locals": lambda s: "wide" not in s,
    "zero-grad": lambda s: all(p.grad is None for p in s["model"].parameters()),
    "accumulate": lambda s: all(p.grad is None for p in s["model"].parameters()),
    "checkpoint": wrapped_modules,
    "in-place": lambda s: all(m.inplace for m in s["model"].modules() if isinstance(m, nn.LeakyReLU)),
    "conv-bias": lambda s: all(m.bias is None for m in s["model"].modules() if isinstance(m, nn.Conv2d)),
    "unused-parameters": lambda s: not list(s["model"].pooler.parameters()),
    "fragmentation": lambda s: s["os"].environ.pop("PYTORCH_CUDA_ALLOC_CONF") == "expandable_segments:True",
    "evaluation": lambda s: not s["out"].requires_grad,
    "loss-item": lambda s: isinstance(s["total_loss"], float),
    "together": members_hold,
}

# Blocks that change the model and nothing else: captured anew, it has the peak that was promised.
CHANGES_MODEL = {
    "logits-chunks",
    "narrow-table",
    "untied-head",
    "equal-tables",
    "checkpoint",
    "in-place",
    "conv-bias",
    "unused-parameters",
}
NEEDS = {"bitsandbytes": "optimizer-8bit", "torchao": "optimizer-offload"}  # libraries of blocks


def missing(code):
    """Why a block can't run here; None: it can."""
    for library in NEEDS:
        if library in code:
            try:
                __import__(library)
            except ImportError as e:
                return str(e)
    if "CPUOffloadOptimizer" in code and not torch.cuda.is_available():
        return "torchao's CPUOffloadOptimizer takes CUDA devices alone"
    return None


def scope_of(row):
    make, data, loss_fn, _, optimizer, _, _ = row
    torch.manual_seed(0)
    model = make()
    batch, target = data()
    own = in_forward()
    out = model(batch)
    loss = loss_fn(out, target)
    scope = dict(own, own=dict(own), model=model, batch=batch, target=target, loss_fn=loss_fn, lr=LR, out=out)
    scope.update(loss=loss, loss_before=loss.detach().clone())
    scope["optimizer"] = scope["optimizer_before"] = optimizer(model.parameters(), lr=LR)
    return scope


def step(scope):
    """A training step with what the block left; which parameters it moved is not asked, only that it runs."""
    scope["optimizer"].zero_grad()
    loss = scope["loss_fn"](scope["model"](scope["batch"]), scope["target"])
    loss.backward()
    scope["optimizer"].step()
    assert torch.isfinite(loss), "the loss is not finite"


def again(row, scope, rule):
    """The peak of the changed model."""
    loss = scope["loss_fn"] if rule == "logits-chunks" else row[3]
    more = {"targets": (scope["target"],)} if rule == "logits-chunks" else {}
    return memlint.check(scope["model"], scope["batch"], loss=loss, optimizer=row[5], options=row[6], **more).peak


def run(name, row, finding):
    """Why a block is wrong; None: it is right."""
    scope = scope_of(row)
    scope["code"] = code = finding["how"]
    rule = finding["rule"]
    exec(compile(code, f"{name}/{rule}", "exec"), scope)
    if not EFFECTS[rule](scope):
        return "it did not do what it says"
    if rule in CHANGES_MODEL:
        scope["model"].zero_grad()
        peak = again(row, scope, rule)
        said = finding["peak_after"]
        print(f"{name}/{rule}: {said} was promised, {int(peak)} came ({100 * (peak / said - 1):+.3f} %)")
        if abs(peak - said) > NEAR * said:
            return f"its peak is {int(peak)}, not {said}"
    optimizer = scope["optimizer"]
    if optimizer is scope["optimizer_before"]:
        scope["optimizer"] = row[4](scope["model"].parameters(), lr=LR)
    step(scope)
    return None


def plans():
    """Blocks of checkpoint plans: (name, row, code, peak that was promised; None: of no row)."""
    row = MODELS["language"]
    model, data = row[0](), row[1]()
    found = memlint.check(model, data[0], loss=row[3], optimizer=row[5], options=["--recompute=auto"]).raw["recompute"]
    for plan in found["patterns"]:
        if plan.get("python"):
            yield f"plan {plan['pattern']}", row, plan["python"], plan["peak"]
    if found["selective_python"]:
        yield "selective plan", row, found["selective_python"], None


def run_plan(row, code, promised):
    """Why a plan's block is wrong; None: it is right."""
    scope = scope_of(row)
    exec(compile(code, "plan", "exec"), scope)
    if not wrapped_modules(scope):
        return "no module is under checkpoint"
    peak = again(row, scope, "checkpoint")
    if promised is not None and peak != promised:
        return f"its peak is {int(peak)}, not {promised}"
    step(scope)
    return None


def main():
    failed, ran, left = False, set(), set()
    warnings.simplefilter("ignore")
    for name, row in MODELS.items():
        model, data = row[0](), row[1]()
        result = memlint.check(model, data[0], loss=row[3], optimizer=row[5], options=row[6])
        for finding in result.raw["findings"]:
            rule, code = finding["rule"], finding["how"]
            if not code:
                continue
            why = missing(code)
            if why:
                left.add(rule)
                print(f"skipped: {name}/{rule}: {why}")
                continue
            try:
                why = run(name, row, finding)
            except Exception:
                why = traceback.format_exc().strip().splitlines()[-1]
            ran.add(rule)
            failed |= bool(why)
            print(f"no {name}/{rule}: {why}" if why else f"ok {name}/{rule}")
            gc.collect()
    for name, row, code, promised in plans():
        try:
            why = run_plan(row, code, promised)
        except Exception:
            why = traceback.format_exc().strip().splitlines()[-1]
        failed |= bool(why)
        print(f"no {name}: {why}" if why else f"ok {name}")
    never = set(EFFECTS) - ran - left
    failed |= bool(never)
    print(f"no block of {', '.join(sorted(never))} was run" if never else "ok every rule's block was run")
    return failed


if __name__ == "__main__":
    sys.exit(main())
