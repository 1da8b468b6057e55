#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compare every optimizer, loss and training loop with PyTorch, event by event.

    loops.py MEMLINT RECORD.PY EXPORT.PY [--only REGEX] [--keep DIR] [--pack FILE] [-v]

Each case is the step of one small network with parameters of several ranks and sizes, in each precision. bitsandbytes
and lion_pytorch run no step without a GPU: their rows follow their sources alone.
"""

import os, re, sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import steps


def adafactor(params):
    import torch

    torch.Tensor.item = lambda t: 1.0  # a fake tensor has no value
    return torch.optim.Adafactor(params)


class Never:
    """No update."""

    def __init__(self, params):
        self.params = list(params)

    def step(self):
        pass

    def zero_grad(self, set_to_none):
        for p in self.params:
            p.grad = None


def sgd_with_decay(params):
    import torch

    return torch.optim.SGD(params, momentum=0.9, weight_decay=1e-4, foreach=True)


def of_torch(name, **how):
    def make(params):
        import torch

        if not how.get("foreach", True):
            torch.Tensor.item = lambda t: 0.5
        return getattr(torch.optim, name)(params, **{"foreach": True, **how})

    return make


LOOPED = {  # one parameter after another: name in memlint, class and arguments
    "sgd": ("SGD", {}),
    "sgd+decay": ("SGD", dict(weight_decay=1e-4)),
    "momentum": ("SGD", dict(momentum=0.9)),
    "momentum-decay": ("SGD", dict(momentum=0.9, weight_decay=1e-4)),
    "momentum+maximize": ("SGD", dict(momentum=0.9, maximize=True)),
    **{n.lower(): (n, {}) for n in ("Adam", "AdamW", "RMSprop", "NAdam", "Adadelta", "Adagrad")},
    "adam+decay": ("Adam", dict(weight_decay=1e-4)),
    "adam+maximize+decay": ("Adam", dict(weight_decay=1e-4, maximize=True)),
    "adamw+amsgrad+maximize": ("AdamW", dict(amsgrad=True, maximize=True)),
    "adadelta+maximize": ("Adadelta", dict(maximize=True)),
    "adagrad+decay": ("Adagrad", dict(weight_decay=1e-4)),
    "rmsprop+decay+maximize": ("RMSprop", dict(weight_decay=1e-4, maximize=True)),
}
OLD = "--torch=1.13"  # where that loop is the default, and zero_grad() keeps the gradients


OPTIMIZERS = {
    "adafactor": adafactor,
    "none": Never,
    "momentum-decay": sgd_with_decay,
    **{n.lower(): of_torch(n) for n in ("Adamax", "NAdam", "RAdam", "Adadelta")},
    **{f"{name}+loop": of_torch(n, foreach=False, **how) for name, (n, how) in LOOPED.items()},
}  # those that record.py does not know
LOSSES = {
    "cross-entropy": "cross_entropy",
    "mse": "F.mse_loss",
    "l1": "F.l1_loss",
    "smooth-l1": "F.smooth_l1_loss",
    "huber": "F.huber_loss",
    "bce": "F.binary_cross_entropy_with_logits",
    "kl-div": "F.kl_div",
    "sum": "lambda out, targets: out.sum()",
}
CASES = {  # name: optimizer, loop, loss
    **{
        o: (o, "plain", "cross-entropy")
        for o in "sgd momentum momentum-decay adam adamw rmsprop adagrad adafactor adamax nadam radam adadelta".split()
    },
    **{
        f"loop_{o}_{i}": (o, i, "cross-entropy")
        for i in ("late-zero", "zero-in-place", "del", "accumulate-4")
        for o in ("adamw", "momentum")
    },
    **{f"loss_{i}": ("adamw", "plain", i) for i in LOSSES},
    "none": ("none", "plain", "cross-entropy"),
    **{f"{o}+loop": (f"{o}+loop", "plain", "cross-entropy") for o in LOOPED},
    **{f"old_{o}": (f"{o}+loop", "zero-in-place", "cross-entropy") for o in ("adamw", "momentum-decay", "adagrad")},
    "old_set-to-none": ("adam+loop", "plain", "cross-entropy"),
}
AS_OLD = {"set-to-none": ["--optimizer", "adam", "--loop", "set-to-none"]}
PRECISIONS = (*steps.PRECISIONS, "bf16")
TARGETS = {"cross-entropy": "ids(b, 8)", "sum": "None"}
ZOO = """
import torch, torch.nn.functional as F, torch.utils._device
from torch import nn
from zoo_base import *
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.norm, self.conv, self.b = nn.Linear(32, 48), nn.LayerNorm(48), nn.Conv1d(8, 8, 3, padding=1), \
nn.Linear(48, 5)
    def forward(self, x):
        return self.b(self.conv(self.norm(self.a(x)).relu()))
ZOO = {"case": Entry(M, lambda b: ({"x": torch.rand(b, 8, 32)}, TARGETS), LOSS, (4,))}
"""


def rows():
    for name, (optimizer, loop, loss) in CASES.items():
        source = ZOO.replace("LOSS", LOSSES[loss]).replace("TARGETS", TARGETS.get(loss, "torch.rand(b, 8, 5)"))
        said = ["--optimizer", optimizer, "--loop", loop]
        if name.startswith("old_"):
            said = [OLD, *AS_OLD.get(name[len("old_") :], ["--optimizer", optimizer.replace("+loop", "")])]
        options = ["--dim", "batch=4", *said, "--loss", loss]
        for precision in PRECISIONS:
            if precision != "bf16" or loss in TARGETS:  # record.py's target is fp32, memlint's is of the output's type
                yield name, source, precision, options, dict(batch=4, optimizer=optimizer, loop=loop), name


def run(a, bench):
    bench.record.OPTIMIZERS.update(OPTIMIZERS)
    return steps.table(a, bench, rows())


if __name__ == "__main__":
    sys.exit(steps.on_bench(run, steps.arguments(__doc__).parse_args()))
