# SPDX-License-Identifier: Apache-2.0
"""How much GPU memory a training step of a PyTorch model takes, before anyone trains it.

    import memlint
    print(memlint.check(model, images, loss=lambda out: F.cross_entropy(out, labels), optimizer="adamw"))

`check` answers at once, `export` writes the file that the memlint program reads. Both run the model's forward pass on
fake tensors: no memory, no GPU and no weights are needed. See docs/CAPTURE.md.
"""

from __future__ import annotations

from .result import Finding, Result, Size

__all__ = ["Finding", "Result", "Size", "callbacks", "check", "export", "verify"]


def export(
    model,
    *inputs,
    path,
    dynamic=None,
    loss=None,
    targets=(),
    outputs=(),
    precision="fp32",
    optimizer=None,
    **kwargs,
):
    """Writes model(*inputs, **kwargs) and its loss as an ONNX file whose nodes are PyTorch's calls; returns the path.

    inputs, kwargs   examples; tensors may lie in tuples, lists and dicts, and on any device
    dynamic          dimensions that stay open, by name: {"batch": 0} (the default) is dimension 0 of each input,
                     {"tokens": {0: "batch", 1: "length"}} those of one input; {} none
    loss             a function of the output and of *targets that returns the loss; None: the file has the output alone
    outputs          names for the outputs, in the order in which they are returned
    precision        as in check: whose calls count, where the program makes other ones in others

    A model in evaluation mode is captured in training mode; of one in training mode, modules in eval() stay so.
    ValueError where an input or a dimension is not there, whatever the model raises otherwise.
    """
    from . import exporting

    exporting.write(path, model, inputs, kwargs, dynamic, loss, targets, outputs, precision, optimizer)
    return path


def check(
    model,
    *inputs,
    optimizer="adamw",
    loss=None,
    targets=(),
    batch=None,
    device=None,
    precision="fp32",
    dynamic=None,
    options=(),
    **kwargs,
) -> Result:
    """The training step of a model, analysed.

    model       a module, or the path of a file that memlint reads
    optimizer   one of torch.optim (an instance or a class), or a name of `memlint --list=optimizers`
    loss        a function as in export, or one of `memlint --list=losses`
    batch       the batch size; None: that of the example
    device      "rtx-4090", "24GiB": adds whether it fits
    precision   "fp32", "amp-bf16", "amp-fp16", "bf16", "fp16"
    options     further options of the program
    """
    from . import checking

    return checking.check(
        model, inputs, kwargs, optimizer, loss, targets, batch, device, precision, dynamic, tuple(options)
    )


def verify(model, *inputs, optimizer="adamw", loss=None, targets=(), precision="fp32", options=(), **kwargs):
    """The same step run by PyTorch itself, and both numbers side by side, phase by phase: a verifying.Verified.

    On a GPU PyTorch's allocator is asked, on a copy of the model; without one the step runs on fake CUDA tensors, whose
    storages are counted. Arguments are check's; loss is a function here, or None where the model returns its loss.
    RuntimeError where this PyTorch can't do that.
    """
    from . import verifying

    return verifying.verify(model, inputs, kwargs, optimizer, loss, targets, precision, tuple(options))


from . import callbacks  # noqa: E402, which reads check
