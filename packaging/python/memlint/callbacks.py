# SPDX-License-Identifier: Apache-2.0
"""Callbacks that check a training step before the first one runs: of Lightning, and of Transformers' Trainer.

    Trainer(..., callbacks=[memlint.callbacks.transformers(budget="20GiB")])
    lightning.Trainer(..., callbacks=[memlint.callbacks.lightning(device="rtx-4090")])

Both look at the first batch, the optimizer and the precision of the trainer. budget is bytes, or a size; device a row
of `memlint --list=devices`; without either the result is printed. What does not fit raises OverBudget before anything
is trained, or warns where warn=True; what memlint is not sure of warns.
"""

from __future__ import annotations

import importlib
import inspect
import warnings

from . import check
from .result import Result, size


class OverBudget(MemoryError):
    """The step takes more than the budget, or does not fit the device. result: the memlint.Result."""

    def __init__(self, text: str, result: Result):
        super().__init__(text)
        self.result = result


def imported(name, *packages):
    for package in packages:
        try:
            return importlib.import_module(package)
        except ImportError:
            pass
    raise ImportError(f"memlint.callbacks.{name} needs {packages[0]}: pip install {packages[0]}")


def loop_of(steps):
    """The trainers' loop: the output dies with the function that returns the loss."""
    return f"--loop=accumulate-{steps}" if steps > 1 else "--loop=training-step"


def judge(result, budget, device, warn):
    """Raises OverBudget, warns, or prints."""
    fault = None
    if budget is not None and result.peak > size(budget):
        fault = f"the step takes {result.peak}, and the budget is {budget}"
    elif device is not None and result.sure and not result.fits(device):
        fault = f"the step takes {result.device} of the device, and does not fit {device}"
    if not result.sure:
        warnings.warn(f"memlint is not sure: {'; '.join(result.unexplained)}", stacklevel=3)
    if fault and not warn:
        raise OverBudget(f"memlint: {fault}", result)
    if fault:
        warnings.warn(f"memlint: {fault}", stacklevel=3)
    elif budget is None and device is None:
        print(result)


def lightning(budget=None, device=None, warn=False):
    """A callback of Lightning, for modules whose training_step returns the loss, with automatic optimization."""
    base = imported("lightning", "lightning.pytorch", "pytorch_lightning")
    from torch import nn

    precisions = {"bf16-mixed": "amp-bf16", "16-mixed": "amp-fp16", "bf16-true": "bf16", "16-true": "fp16"}

    class Step(nn.Module):
        """training_step in the place of forward: its tables are the module's own, so that names stay as they are."""

        def __init__(self, module, index):
            super().__init__()
            for table in ("_modules", "_parameters", "_buffers"):
                self.__dict__[table] = getattr(module, table)
            known = len(inspect.signature(module.training_step).parameters)
            self.run = lambda batch: module.training_step(*(batch, index)[:known])

        def forward(self, batch):
            out = self.run(batch)
            return out["loss"] if isinstance(out, dict) else out

    class MemlintCallback(base.Callback):
        result = None

        def on_train_batch_start(self, trainer, module, batch, batch_idx):
            if self.result is not None:
                return
            if not module.automatic_optimization:
                warnings.warn("memlint: the module optimizes by itself: its step was not checked", stacklevel=2)
                return
            from . import capture

            with capture.unchanged(module):
                module.log = module.log_dict = lambda *args, **kwargs: None
                self.result = check(
                    Step(module, batch_idx),
                    batch,
                    loss="output",
                    optimizer=getattr(trainer.optimizers[0], "optimizer", trainer.optimizers[0]),
                    precision=precisions.get(trainer.precision, "fp32"),
                    dynamic={},
                    options=[loop_of(trainer.accumulate_grad_batches)],
                )
            judge(self.result, budget, device, warn)

    return MemlintCallback()


def transformers(budget=None, device=None, warn=False):
    """A TrainerCallback of Transformers, for a model that returns its loss. The batch is made of the first examples, so
    that the order of the training's own batches does not change."""
    base = imported("transformers", "transformers")

    class MemlintCallback(base.TrainerCallback):
        result = None

        def on_step_begin(self, args, state, control, model=None, optimizer=None, train_dataloader=None, **kwargs):
            if self.result is not None:
                return
            data = train_dataloader.dataset
            batch = train_dataloader.collate_fn([data[i] for i in range(min(args.train_batch_size, len(data)))])
            self.result = check(
                getattr(model, "module", model),
                **batch,
                optimizer=getattr(optimizer, "optimizer", optimizer),
                precision="amp-bf16" if args.bf16 else "amp-fp16" if args.fp16 else "fp32",
                dynamic={},
                options=[loop_of(args.gradient_accumulation_steps)],
            )
            judge(self.result, budget, device, warn)

    return MemlintCallback()
