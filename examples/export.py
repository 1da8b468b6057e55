#!/usr/bin/env python3
"""Export a PyTorch model so that memlint sees all of it:  python3 export.py tiny_gpt.py tiny_gpt.onnx

The first file is Python that defines example(), which returns a model and a tuple of inputs. What matters for memlint:

  dynamo=True        the file then records which PyTorch operator every node came from, its module and its Python line,
                     and the names of all parameters and buffers
  dynamic_shapes     the first dimension of every input is called "batch", so that memlint --dim batch=32 can bind it
  model.train()      dropout and batch normalisation stay what they are in training
  weights            only their sizes matter: they become references to a file that is not written, so the result
                     is small enough to commit and to attach to an issue

Paths in the recorded Python lines lose the folders of this machine. Needs torch and onnx.
"""
import importlib.util
import os
import re
import sys
import tempfile

import onnx
import torch


def export(model, inputs, path):
    model.train()
    batch = torch.export.Dim("batch")
    shapes = tuple({0: batch} for _ in inputs)
    with tempfile.TemporaryDirectory() as folder:
        whole = os.path.join(folder, "whole.onnx")
        torch.onnx.export(model, inputs, whole, dynamo=True, dynamic_shapes=shapes, external_data=False, verbose=False)
        proto = onnx.load(whole)
    shorten_paths(proto)
    drop_weights(proto)
    onnx.save(proto, path)


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


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    spec = importlib.util.spec_from_file_location("model", sys.argv[1])
    module = importlib.util.module_from_spec(spec)
    sys.modules["model"] = module
    spec.loader.exec_module(module)
    export(*module.example(), sys.argv[2])


if __name__ == "__main__":
    main()
