# SPDX-License-Identifier: Apache-2.0
"""python -m memlint: the program; with `export MODULE:FUNCTION -o FILE` the export of what the function returns.

That is a model and its inputs: a tuple, a dict of keyword inputs, or both."""

from __future__ import annotations

import argparse
import importlib
import os
import sys

from . import export, program


def read_dim(text):
    name, _, dim = text.partition("=")
    if not name or not dim.isdigit():
        raise argparse.ArgumentTypeError("wanted NAME=N, as in batch=0")
    return name, int(dim)


def main(argv=None):
    argv = sys.argv[1:] if argv is None else argv
    if argv[:1] != ["export"]:
        os.execv(program.path(), [program.path(), *argv])
    parser = argparse.ArgumentParser(prog="memlint export", description=__doc__)
    parser.add_argument("function", metavar="MODULE:FUNCTION")
    parser.add_argument("-o", "--output", required=True, metavar="FILE")
    parser.add_argument("--dim", action="append", type=read_dim, metavar="NAME=N", help="open; default batch=0")
    o = parser.parse_args(argv[1:])
    module, _, function = o.function.partition(":")
    sys.path.insert(0, os.getcwd())
    model, *inputs = getattr(importlib.import_module(module), function or "example")()
    args = next((i for i in inputs if not isinstance(i, dict)), ())
    kwargs = next((i for i in inputs if isinstance(i, dict)), {})
    export(model, *args, path=o.output, dynamic=dict(o.dim) if o.dim else None, **kwargs)


if __name__ == "__main__":
    main()
