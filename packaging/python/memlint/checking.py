# SPDX-License-Identifier: Apache-2.0
"""memlint.check: from a module, its loss and its optimizer to the program's options."""

from __future__ import annotations

import functools
import os
import tempfile

from .result import Result

# Classes of torch.optim and of libraries, as the program calls them.
OPTIMIZERS = {
    "SGD": "sgd",
    "Adam": "adam",
    "AdamW": "adamw",
    "RMSprop": "rmsprop",
    "Adagrad": "adagrad",
    "Adafactor": "adafactor",
    "Adam8bit": "adam8bit",
    "AdamW8bit": "adam8bit",
    "Lion": "lion",
}


def optimizer_name(optimizer) -> str:
    if isinstance(optimizer, str):
        return optimizer
    name = optimizer.__name__ if isinstance(optimizer, type) else type(optimizer).__name__
    if name not in OPTIMIZERS:
        raise ValueError(f"memlint does not know the optimizer {name}: it knows {', '.join(sorted(OPTIMIZERS))}")
    momentum = any(g.get("momentum") for g in getattr(optimizer, "param_groups", []))
    return "momentum" if name == "SGD" and momentum else OPTIMIZERS[name]


def optimizer_of(optimizer, model, own):
    """One of torch.optim as check() takes it, over the tensors that stand for the model's now: own, by id of the
    optimizer's. On a GPU foreach is what PyTorch takes by default; for tensors that it does not know it is not."""
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
    for g in twin.param_groups:
        if g.get("foreach", True) is None and not g.get("fused") and not g.get("differentiable"):
            g["foreach"] = True
    return twin


def check(
    model, inputs, kwargs, optimizer, loss, targets, batch, device, precision, dynamic, options, folder=None
) -> Result:
    said = [f"--optimizer={optimizer_name(optimizer)}", f"--precision={precision}", *options]
    if device:
        said.append(f"--device={device}")
    if isinstance(loss, str):
        said.append(f"--loss={loss}")
        loss = None
    if isinstance(model, (str, os.PathLike)):
        return Result(str(model), said + ([f"--dim=batch={batch}"] if batch else []))
    from . import exporting

    folder = folder or tempfile.TemporaryDirectory(prefix="memlint-")
    path = os.path.join(folder.name, f"{type(model).__name__}.onnx")
    bound = exporting.write(path, model, inputs, kwargs, dynamic, loss, targets, (), precision)
    if batch:
        if "batch" not in bound:
            raise ValueError("no dimension called batch is open: the program fixes it, or dynamic= names others")
        bound["batch"] = batch
    return Result(path, said + [f"--dim={k}={v}" for k, v in bound.items()], folder)
