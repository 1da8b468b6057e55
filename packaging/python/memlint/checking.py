# SPDX-License-Identifier: Apache-2.0
"""memlint.check: from a module, its loss and its optimizer to the program's options."""

from __future__ import annotations

import functools
import os
import sys
import tempfile

from .result import Result

# Classes of torch.optim and of libraries, as the program calls them.
OPTIMIZERS = {
    "SGD": "sgd",
    "Adam": "adam",
    "AdamW": "adamw",
    "RMSprop": "rmsprop",
    "Adagrad": "adagrad",
    "Adadelta": "adadelta",
    "Adamax": "adamax",
    "NAdam": "nadam",
    "RAdam": "radam",
    "Adafactor": "adafactor",
    "Adam8bit": "adam8bit",
    "AdamW8bit": "adam8bit",
    "Lion": "lion",
}


# Arguments of a group that change nothing, or that optimizer_text turns into switches.
PLAIN = set(
    "params lr momentum dampening nesterov betas eps alpha rho lr_decay weight_decay initial_lr momentum_decay "
    "decoupled_weight_decay initial_accumulator_value foreach amsgrad maximize fused beta2_decay d clip_threshold "
    "decay_rate relative_step scale_parameter warmup_init beta1 t0 lambd name centered".split()
)


# Those whose loop with foreach=False is known, as "+loop".
LOOPED = set("sgd adam adamw rmsprop nadam adadelta adagrad".split())


def optimizer_name(optimizer) -> str:
    """As the program calls it: "adamw", "adam+amsgrad+fused". ValueError for a class that it does not know."""
    return described(optimizer)[0]


def described(optimizer):
    """Its name and switches, and what memlint does not know of it."""
    if isinstance(optimizer, str):
        return optimizer, []
    name = optimizer.__name__ if isinstance(optimizer, type) else type(optimizer).__name__
    if name not in OPTIMIZERS:
        raise ValueError(f"memlint does not know the optimizer {name}: it knows {', '.join(sorted(OPTIMIZERS))}")
    groups = [group_text(OPTIMIZERS[name], g) for g in getattr(optimizer, "param_groups", [])]
    unsure = sorted({f"the optimizer's {word}" for _, words in groups for word in words})
    if len({text for text, _ in groups}) > 1:
        unsure.append("groups of the optimizer that have other switches")
    return groups[0][0] if groups else OPTIMIZERS[name], unsure


def group_text(name, g):
    momentum = g.get("momentum", 0) != 0
    coupled = g.get("weight_decay", 0) != 0 and name not in ("adamw", "adafactor", "lion", "adam8bit")
    unknown = [f"{k}={g[k]}" for k in sorted(g.keys() - PLAIN) if g[k]]
    loops = g.get("foreach") is False and not g.get("fused")
    unknown += ["foreach=False"] * (loops and name not in LOOPED)
    unknown += ["centered=True"] * bool(g.get("centered"))
    unknown += ["momentum"] * (momentum and name != "sgd")
    text = "momentum" if momentum and name == "sgd" else name
    text += "+amsgrad" * bool(g.get("amsgrad")) + "+decay" * (coupled and not g.get("decoupled_weight_decay"))
    text += "+maximize" * bool(g.get("maximize")) + "+fused" * bool(g.get("fused"))
    return text + "+loop" * (loops and name in LOOPED), unknown


def groups_of(optimizer, model):
    """Names of the parameters of the groups behind the first, a line each; what memlint does not know of them."""
    names = {id(p): name for name, p in model.named_parameters()}
    groups = [[names[id(p)] for p in g["params"] if id(p) in names] for g in getattr(optimizer, "param_groups", [])]
    missing = {n for n, p in model.named_parameters() if p.requires_grad} - {n for g in groups for n in g}
    unsure = [f"{len(missing)} parameters that are trained and that the optimizer does not have"] if missing else []
    return "\n".join(" ".join(g) for g in groups[1:]), unsure if groups else []


def optimizer_of(optimizer, model, own):
    """One of torch.optim as check() takes it, over the tensors that stand for the model's now: own, by id of the
    optimizer's. On a GPU foreach is what PyTorch takes by default, where a class has a default; for tensors that it
    does not know it is not."""
    import torch

    if isinstance(optimizer, str):
        rows = {"momentum": ("SGD", {"lr": 0.1, "momentum": 0.9}), "sgd": ("SGD", {"lr": 0.1})}
        name, how = rows.get(optimizer, (next((k for k, v in OPTIMIZERS.items() if v == optimizer), ""), {}))
        if not hasattr(torch.optim, name):
            raise ValueError(f"torch.optim has no {optimizer}: give an optimizer")
        optimizer = functools.partial(getattr(torch.optim, name), **how)
    if isinstance(optimizer, torch.optim.Optimizer):
        groups = [{**g, "params": [own[id(p)] for p in g["params"]]} for g in optimizer.param_groups]
        twin = type(optimizer)(groups)
    else:
        twin = optimizer([p for p in model.parameters() if p.requires_grad])
    mro = [c for c in type(twin).__mro__ if c is not torch.optim.Optimizer]
    default = any(hasattr(sys.modules[c.__module__], "_default_to_fused_or_foreach") for c in mro)
    for g in twin.param_groups if default else ():
        if g.get("foreach", True) is None and not g.get("fused") and not g.get("differentiable"):
            g["foreach"] = True
    return twin


def check(
    model, inputs, kwargs, optimizer, loss, targets, batch, device, precision, dynamic, options, folder=None
) -> Result:
    said = [f"--precision={precision}", *options]
    if device:
        said.append(f"--device={device}")
    if isinstance(loss, str):
        said.append(f"--loss={loss}")
        loss = None
    if isinstance(model, (str, os.PathLike)):
        said.insert(0, f"--optimizer={optimizer_name(optimizer)}")
        return Result(str(model), said + ([f"--dim=batch={batch}"] if batch else []))
    from . import exporting

    folder = folder or tempfile.TemporaryDirectory(prefix="memlint-")
    path = os.path.join(folder.name, f"{type(model).__name__}.onnx")
    bound = exporting.write(path, model, inputs, kwargs, dynamic, loss, targets, (), precision, optimizer)
    if batch:
        if "batch" not in bound:
            raise ValueError("no dimension called batch is open: the program fixes it, or dynamic= names others")
        bound["batch"] = batch
    return Result(path, said + [f"--dim={k}={v}" for k, v in bound.items()], folder)
