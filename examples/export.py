#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Export a PyTorch model so that memlint sees all of it.

    python3 export.py tiny_gpt.py tiny_gpt.onnx
    python3 export.py tiny_gpt.py tiny_gpt.onnx --dim 0=batch --dim tokens.1=length

The first file is Python that defines example(), which returns a model and its inputs: a tuple, a dict of keyword
inputs, or both. Modules beside the file can be imported. --dim says which dimensions stay open and what they are
called: N=NAME of every input, INPUT.N=NAME of one; by default 0=batch, so that memlint --dim batch=32 can bind it.

All of it is memlint.export, whose file holds no weights and can be committed. Needs torch, onnx and memlint's wheel.
"""

import argparse
import importlib.util
import os
import re
import sys

try:
    import memlint
    import onnx  # noqa: F401
    import torch  # noqa: F401
except ImportError as e:
    sys.exit(f"export.py: {e}; python3 -m pip install torch onnx, and memlint's wheel (packaging/python/build)")


def read_dim(text):
    match = re.fullmatch(r"(?:([^=]+)\.)?(\d+)=([A-Za-z_]\w*)", text)
    if not match:
        raise argparse.ArgumentTypeError("wanted N=NAME or INPUT.N=NAME, as in 0=batch or tokens.1=length")
    return match[1], int(match[2]), match[3]


def dynamic(dims):
    """As memlint.export takes them, from rows of input or None, number and name."""
    wanted = {name: number for i, number, name in dims if i is None}
    for i, number, name in dims:
        if i is not None:
            wanted.setdefault(i, {})[number] = name
    return wanted


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
    help = "a dimension that stays open; may repeat; default 0=batch"
    parser.add_argument("--dim", action="append", type=read_dim, default=[], metavar="[INPUT.]N=NAME", help=help)
    o = parser.parse_args()
    model, *inputs = load(o.model).example()
    args = next((i for i in inputs if not isinstance(i, dict)), ())
    kwargs = next((i for i in inputs if isinstance(i, dict)), {})
    try:
        memlint.export(model, *args, path=o.output, dynamic=dynamic(o.dim or [(None, 0, "batch")]), **kwargs)
    except ValueError as e:
        sys.exit(f"export.py: {e}")


if __name__ == "__main__":
    main()
