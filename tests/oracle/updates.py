#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What optimizers make in their update, by version of PyTorch, against memlint's rows.

    updates.py MEMLINT PYTHON... [--write FILE]       record with each PYTHON's PyTorch and compare
    updates.py MEMLINT --table FILE                   compare with what was recorded

Each optimizer of memlint, with its switches, updates three parameters on the CPU, with foreach=True as it is the
default on CUDA (the lists are made in Python, so the device changes nothing); a dispatch mode notes what is born and
what dies in the eighth update, when every branch is taken. memlint's own is the update phase of --dump=step with the
same --torch. Births and deaths in a row that are of one operator stand as one, with their bytes. A version that has no
such optimizer or argument has no row. Exit 1 where memlint is sure and another.
"""

import argparse, itertools, json, os, re, subprocess, sys, tempfile

SIZES = (256, 512, 1024)  # elements of the parameters of MODEL, so that no block is rounded
SMALL = 512  # bytes: numbers
# memlint's row: the class, its arguments; switches: the arguments that are added.
ROWS = {
    "sgd": ("SGD", {"lr": 0.1}),
    "momentum": ("SGD", {"lr": 0.1, "momentum": 0.9}),
    "momentum-decay": ("SGD", {"lr": 0.1, "momentum": 0.9, "weight_decay": 1e-4}),
    "adam": ("Adam", {}),
    "adamw": ("AdamW", {}),
    "rmsprop": ("RMSprop", {}),
    "adamax": ("Adamax", {}),
    "nadam": ("NAdam", {}),
    "radam": ("RAdam", {}),
    "adadelta": ("Adadelta", {}),
    "adagrad": ("Adagrad", {}),
}
SWITCHES = {
    "loop": {"foreach": False},
    "amsgrad": {"amsgrad": True},
    "decay": {"weight_decay": 0.1},
    "maximize": {"maximize": True},
}
MODEL = """<ir_version: 10, opset_import: ["": 20]>
g (float[4, 16] x) => (y)
<float[16, 16] a.weight = {}, float[32, 16] b.weight = {}, float[32, 32] c.weight = {}>
{
    a = Gemm <transB = 1> (x, a.weight)
    b = Gemm <transB = 1> (a, b.weight)
    y = Gemm <transB = 1> (b, c.weight)
}
"""


def grouped(events):
    """[("+", what, bytes)], those in a row that are alike as one"""
    out = []
    for sign, what, n in events:
        if out and out[-1][:2] == [sign, what]:
            out[-1][2] += n
        else:
            out.append([sign, what, n])
    return " ".join(f"{s}{w}:{n}" for s, w, n in out)


def inside():
    """In the Python of a version: what each row makes, as JSON lines."""
    import torch, weakref
    from torch.utils._python_dispatch import TorchDispatchMode
    from torch.utils._pytree import tree_flatten

    class Notes(TorchDispatchMode):
        def __init__(self, known):
            super().__init__()
            self.known, self.events = known, []

        def __torch_dispatch__(self, op, types, args=(), kwargs=None):
            result = op(*args, **(kwargs or {}))
            for t in tree_flatten(result)[0]:
                if not isinstance(t, torch.Tensor) or t.numel() * t.element_size() <= SMALL:
                    continue
                at, n = t.data_ptr(), t.numel() * t.element_size()
                if at not in self.known:
                    self.known.add(at)
                    self.events.append(("+", re.sub(r"^aten\.", "", str(op)), n))
                    weakref.finalize(t, self.died, at, n)
            return result

        def died(self, at, n):
            self.known.discard(at)
            self.events.append(("-", "", n))

    version = ".".join(torch.__version__.split(".")[:2])
    chosen = [c for n in range(len(SWITCHES) + 1) for c in itertools.combinations(SWITCHES, n)]
    for (row, (cls, given)), switches in itertools.product(ROWS.items(), chosen):
        words = {"foreach": True, **given}
        for s in switches:
            words.update(SWITCHES[s])
        params = [torch.nn.Parameter(torch.ones(n)) for n in SIZES]
        try:
            optimizer = getattr(torch.optim, cls)(params, **words)
        except (TypeError, AttributeError):
            continue
        for turn in range(8):
            for p in params:
                p.grad = torch.ones_like(p)
            known = {t.data_ptr() for p in params for t in (p, p.grad)}
            known |= {t.data_ptr() for s in optimizer.state.values() for t in s.values() if torch.is_tensor(t)}
            notes = Notes(known)
            with notes:
                optimizer.step()
        print(json.dumps([version, "+".join((row, *switches)), grouped(notes.events)]))


def ask(memlint, model, version, optimizer):
    """memlint's update; None where it has no such row or is in doubt"""
    words = [model, "--loss=sum", f"--torch={version}", f"--optimizer={optimizer}", "--assume=accumulate=never"]
    said = subprocess.run([memlint, *words, "--format=json"], capture_output=True, text=True)
    if said.returncode or json.loads(said.stdout)["verdict"] == "inconclusive":
        return None
    events, lines = [], subprocess.run([memlint, *words, "--dump=step"], capture_output=True, text=True).stdout
    for line in lines.splitlines()[1:]:
        sign, n, _, phase, what, *_ = line.split("\t")
        if phase == "update" and int(n) > SMALL:
            events.append((sign, re.sub(r"^aten\.", "", what) if sign == "+" else "", int(n)))
    return grouped(events)


def main():
    ap = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ap.add_argument("memlint", nargs="?")
    ap.add_argument("pythons", nargs="*")
    ap.add_argument("--write", metavar="FILE")
    ap.add_argument("--table", metavar="FILE")
    ap.add_argument("--inside", action="store_true", help="record with the Python that runs this")
    a = ap.parse_args()
    if a.inside:
        return inside()
    rows = [line.rstrip("\n").split("\t") for line in open(a.table)] if a.table else []
    for python in a.pythons:
        said = subprocess.run(
            [python, os.path.abspath(__file__), "--inside"], capture_output=True, text=True, check=True
        )
        rows += [json.loads(line) for line in said.stdout.splitlines()]
    if a.write:
        with open(a.write, "w") as f:
            f.writelines("\t".join(r) + "\n" for r in rows)
    right = doubts = wrong = 0
    with tempfile.TemporaryDirectory() as tmp:
        model = os.path.join(tmp, "update.txt")
        with open(model, "w") as f:
            f.write(MODEL)
        for version, optimizer, made in rows:
            got = ask(a.memlint, model, version, optimizer)
            right, doubts = right + (got == made), doubts + (got is None)
            if got not in (made, None):
                wrong += 1
                print(f"{version} {optimizer}\n    PyTorch {made}\n    memlint {got}")
    print(f"right: {right}  in doubt or no row: {doubts}  wrong: {wrong}")
    return wrong != 0


if __name__ == "__main__":
    sys.exit(main())
