#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Record a training step with modules under selective activation checkpointing.

    selective.py RECORD.PY MODEL BATCH MODULE[+POLICY[:N]]...

record.py does the recording; what differs is that a module whose name ends in +POLICY, as memlint --recompute writes
it, keeps the results of that policy's operators, of products only those with an inner dimension of at least N. Prints
the peak of allocated bytes. Needs PyTorch.
"""

import functools, importlib.util, os, subprocess, sys


def policies(memlint_list):
    """The rows of memlint --list=policies as operators of torch.ops.aten."""
    import torch

    return {
        name: [getattr(getattr(torch.ops.aten, op.split(".")[0]), op.split(".")[1]) for op in ops.split()]
        for name, _, ops in (line.split("\t") for line in memlint_list.splitlines())
    }


def main():
    path, model, batch, *plan = sys.argv[1:]
    sys.path.insert(0, os.path.dirname(os.path.abspath(path)))
    spec = importlib.util.spec_from_file_location("record", path)
    record = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(record)
    if "MEMLINT_SHIM" not in os.environ and not record.have_driver():
        shim = record.build_shim()
        env = dict(
            os.environ,
            MEMLINT_SHIM=shim,
            LD_PRELOAD=shim,
            LD_LIBRARY_PATH=record.CACHE + ":" + os.environ.get("LD_LIBRARY_PATH", ""),
        )
        os.execve(sys.executable, [sys.executable] + sys.argv, env)
    from torch.utils.checkpoint import CheckpointPolicy, checkpoint, create_selective_checkpoint_contexts
    import torch
    import zoo

    aten = torch.ops.aten
    inner = {
        aten.mm.default: lambda a, b: a.shape[1],
        aten.addmm.default: lambda c, a, b: a.shape[1],
        aten.convolution.default: lambda x, w, *_: w.numel() // w.shape[0],
        aten.bmm.default: lambda a, b: a.shape[2],
        aten.baddbmm.default: lambda c, a, b: a.shape[2],
    }
    rows = policies(subprocess.check_output([os.environ["MEMLINT"], "--list=policies"], text=True))

    def choose(ops, least, ctx, op, *args, **kwargs):
        kept = op in ops and (op not in inner or inner[op](*args) >= least)
        return CheckpointPolicy.MUST_SAVE if kept else CheckpointPolicy.PREFER_RECOMPUTE

    def checkpoint_modules(m, entries):
        for entry in entries:
            name, _, policy = entry.partition("+")
            module = m.get_submodule(name)
            policy, _, least = policy.partition(":")
            chosen = functools.partial(choose, rows[policy], int(least or 0)) if policy else None
            kw = dict(context_fn=functools.partial(create_selective_checkpoint_contexts, chosen)) if policy else {}

            def run(*a, _f=module.forward, _kw=kw, **k):
                return checkpoint(_f, *a, use_reentrant=False, preserve_rng_state=False, **_kw, **k)

            module.forward = run
        return list(entries)

    record.checkpoint_modules = checkpoint_modules
    print(record.record(model, zoo.ZOO[model], int(batch), "adamw", "fp32", checkpoint=plan)["peak_allocated"])


if __name__ == "__main__":
    main()
