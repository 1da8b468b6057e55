# SPDX-License-Identifier: Apache-2.0
"""python -m memlint: the program; and, of a model that a function returns,

    python -m memlint export MODULE:FUNCTION -o FILE     its file
    python -m memlint verify MODULE:FUNCTION             its step by memlint and by PyTorch; exit 1 where they differ

The function returns the model and, in any order, its inputs: a tuple, a dict of keyword inputs, or both; and a function
of the output, the loss, where the model returns none."""

from __future__ import annotations

import argparse
import importlib
import os
import sys

from . import export, program, verify


def read_dim(text):
    name, _, dim = text.partition("=")
    if not name or not dim.isdigit():
        raise argparse.ArgumentTypeError("wanted NAME=N, as in batch=0")
    return name, int(dim)


def example(text):
    """The model, its inputs and its loss, or None, of MODULE:FUNCTION."""
    module, _, function = text.partition(":")
    sys.path.insert(0, os.getcwd())
    model, *rest = getattr(importlib.import_module(module), function or "example")()
    loss = next((r for r in rest if callable(r)), None)
    kwargs = next((r for r in rest if isinstance(r, dict)), {})
    args = next((r for r in rest if not isinstance(r, dict) and not callable(r)), ())
    return model, args, kwargs, loss


def run_export(o):
    model, args, kwargs, loss = example(o.function)
    export(model, *args, path=o.output, dynamic=dict(o.dim) if o.dim else None, loss=loss, **kwargs)


def run_verify(o):
    model, args, kwargs, loss = example(o.function)
    verified = verify(model, *args, optimizer=o.optimizer, loss=loss, precision=o.precision, **kwargs)
    print(verified)
    if o.output:
        verified.save(o.output, names=not o.no_names)
    return 0 if verified.exact else 1


def main(argv=None):
    argv = sys.argv[1:] if argv is None else argv
    commands = {"export": run_export, "verify": run_verify}
    if not argv or argv[0] not in commands:
        os.execv(program.path(), [program.path(), *argv])
    how = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(prog=f"memlint {argv[0]}", description=__doc__, formatter_class=how)
    parser.add_argument("function", metavar="MODULE:FUNCTION")
    if argv[0] == "export":
        parser.add_argument("-o", "--output", required=True, metavar="FILE")
        parser.add_argument("--dim", action="append", type=read_dim, metavar="NAME=N", help="open; default batch=0")
    else:
        parser.add_argument("-o", "--output", metavar="FILE.zip", help="what to send with a bug report")
        parser.add_argument("--no-names", action="store_true", help="without names of modules, files and lines in it")
        parser.add_argument("--optimizer", default="adamw", help="as the program calls it; default adamw")
        parser.add_argument("--precision", default="fp32", help="likewise; default fp32")
    options = parser.parse_args(argv[1:])
    try:
        return commands[argv[0]](options)
    except ImportError as error:
        if type(error).__name__ != "Missing":
            raise
        sys.exit(f"memlint: {error}")


if __name__ == "__main__":
    sys.exit(main())
