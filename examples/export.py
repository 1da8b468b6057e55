#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Export a PyTorch model so that memlint sees all of it.

    python3 export.py tiny_gpt.py tiny_gpt.onnx
    python3 export.py tiny_gpt.py tiny_gpt.onnx --dim 0=batch --dim tokens.1=length

The first file is Python that defines example(), which returns a model and its inputs: a tuple, a dict of keyword
inputs, or both. Modules beside the file can be imported. What matters for memlint:

  dynamo=True        the file then records which PyTorch operator every node came from, its module and its Python line,
                     and the names of all parameters and buffers
  dynamic shapes     --dim says which dimensions stay open and what they are called: N=NAME of every input, INPUT.N=NAME
                     of one; by default 0=batch, so that memlint --dim batch=32 can bind it. In the example no open
                     dimension may be of size 1, which PyTorch takes for fixed
  model.train()      dropout and batch normalisation stay what they are in training
  weights            only their sizes matter: they become references to a file that is not written, so the result
                     is small enough to commit and to attach to an issue

Paths in the recorded Python lines lose the folders of this machine. Needs torch, onnx and onnxscript:

    python3 -m pip install torch onnx onnxscript
"""

import argparse
import importlib.util
import inspect
import os
import re
import sys
import tempfile

try:
    import onnx
    import onnxscript  # torch.onnx.export(dynamo=True) needs it
    import torch
except ImportError as e:
    sys.exit(f"export.py: {e}; python3 -m pip install torch onnx onnxscript")


def export(model, args, kwargs, dims, path):
    model.train()
    with tempfile.TemporaryDirectory() as folder:
        whole = os.path.join(folder, "whole.onnx")
        torch.onnx.export(
            model,
            args,
            whole,
            kwargs=kwargs,
            dynamo=True,
            external_data=False,
            verbose=False,
            dynamic_shapes=open_shapes(model, args, kwargs, dims),
        )
        proto = onnx.load(whole)
    shorten_paths(proto)
    drop_weights(proto)
    onnx.save(proto, path)


def open_shapes(model, args, kwargs, dims):
    """Per input, as nested as it is, the open dimensions of its tensors. dims: rows of input or None, number, name."""
    symbols = {name: torch.export.Dim(name) for _, _, name in dims}
    names = inspect.signature(model.forward).bind(*args, **kwargs).arguments
    known = set(names) | set(kwargs)
    for wanted, _, _ in dims:
        if wanted is not None and wanted not in known:
            sys.exit(f"export.py: --dim {wanted}: no input of that name; the model has {', '.join(sorted(known))}")

    def of(name, value):
        if isinstance(value, torch.Tensor):
            return {n: symbols[s] for wanted, n, s in dims if wanted in (None, name) and n < value.dim()}
        if isinstance(value, (list, tuple)):
            return type(value)(of(name, v) for v in value)
        if isinstance(value, dict):
            return {k: of(k, v) for k, v in value.items()}
        return None

    return {name: of(name, value) for name, value in names.items()}


def read_dim(text):
    match = re.fullmatch(r"(?:([^=]+)\.)?(\d+)=([A-Za-z_]\w*)", text)
    if not match:
        raise argparse.ArgumentTypeError("wanted N=NAME or INPUT.N=NAME, as in 0=batch or tokens.1=length")
    return match[1], int(match[2]), match[3]


def drop_weights(proto, keep=1024):
    """Keeps small initializers, whose values may decide shapes."""
    offset = 0
    for tensor in proto.graph.initializer:
        length = len(tensor.raw_data)
        if length <= keep:
            continue
        tensor.ClearField("raw_data")
        tensor.data_location = onnx.TensorProto.EXTERNAL
        for key, value in (("location", "weights.bin"), ("offset", offset), ("length", length)):
            tensor.external_data.add(key=key, value=str(value))
        offset += length


def shorten_paths(proto):
    for node in proto.graph.node:
        for entry in node.metadata_props:
            entry.value = re.sub(r'"/[^"]*?/(?=site-packages/|[^/"]*")', '"', entry.value)


def load(path):
    """The module in a file, which may import its neighbours."""
    sys.path.insert(0, os.path.dirname(os.path.abspath(path)))
    name = os.path.splitext(os.path.basename(path))[0]
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", metavar="MODEL.py")
    parser.add_argument("output", metavar="OUTPUT.onnx")
    parser.add_argument(
        "--dim",
        action="append",
        type=read_dim,
        default=[],
        metavar="[INPUT.]N=NAME",
        help="a dimension that stays open; may repeat; default 0=batch",
    )
    o = parser.parse_args()
    model, *inputs = load(o.model).example()
    args = next((i for i in inputs if not isinstance(i, dict)), ())
    kwargs = next((i for i in inputs if isinstance(i, dict)), {})
    export(model, tuple(args), kwargs, o.dim or [(None, 0, "batch")], o.output)


if __name__ == "__main__":
    main()
