# SPDX-License-Identifier: Apache-2.0
"""memlint.check: from a module, its loss and its optimizer to the program's options."""

from __future__ import annotations

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


def check(model, inputs, kwargs, optimizer, loss, targets, batch, device, precision, dynamic, options) -> Result:
    said = [f"--optimizer={optimizer_name(optimizer)}", f"--precision={precision}", *options]
    if device:
        said.append(f"--device={device}")
    if isinstance(loss, str):
        said.append(f"--loss={loss}")
        loss = None
    if isinstance(model, (str, os.PathLike)):
        return Result(str(model), said + ([f"--dim=batch={batch}"] if batch else []))
    from . import exporting

    folder = tempfile.TemporaryDirectory(prefix="memlint-")
    path = os.path.join(folder.name, f"{type(model).__name__}.onnx")
    bound = exporting.write(path, model, inputs, kwargs, dynamic, loss, targets, (), precision)
    if batch:
        if "batch" not in bound:
            raise ValueError("no dimension called batch is open: the program fixes it, or dynamic= names others")
        bound["batch"] = batch
    return Result(path, said + [f"--dim={k}={v}" for k, v in bound.items()], folder)
