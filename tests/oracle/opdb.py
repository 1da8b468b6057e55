#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""PyTorch's own operator tests, each sample a training step: op_db's operators with op_db's arguments.

    opdb.py MEMLINT RECORD.PY EXPORT.PY [--only REGEX] [--keep DIR] [--samples N] [-v]

Samples of one operator are statements of one module; each floating tensor that requires a gradient is an input times a trainable scalar.
A module that is not exact is taken apart, sample by sample. Printed: a line an operator with its samples, exact, doubt, wrong and
skipped (PyTorch can't export or record them, with its reason under -v), what was wrong, and the sums. Exit 1 when a sample is wrong.
Where several tensors require a gradient, each alone is a sample too.
"""
import collections, math, os, re, sys, warnings
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import steps

GROUP = 6  # samples in a module
OPTIONS = ["--loss", "sum", "--optimizer", "sgd"]
# How a program writes operators whose entry is no function of that name.
METHODS = ("contiguous", "sum_to_size", "expand", "expand_as", "to", "reshape_as", "view", "view_as", "bfloat16", "bool", "byte", "char", "double", "float", "half", "int",
           "long", "short", "new_zeros", "new_ones", "new_empty", "new_full", "unfold", "repeat", "zero_")
WRITTEN = {"einsum": "torch.einsum({1}, *{0})", "where": "torch.where({1}, {0}, {2})", "T": "{0}.T", "mT": "{0}.mT", "H": "{0}.H", "mH": "{0}.mH", "__getitem__": "{0}[{1}]",
           "__radd__": "{1} + {0}", "__rsub__": "{1} - {0}", "__rmul__": "{1} * {0}", "__rdiv__": "{1} / {0}", "__rpow__": "{1} ** {0}", "__rmod__": "{1} % {0}",
           "__rmatmul__": "{1} @ {0}", "nn.functional.embedding": "F.embedding({1}, {0}{rest})", "nn.functional.embedding_bag": "F.embedding_bag({1}, {0}{rest})",
           "nn.functional.scaled_dot_product_attention": "F.scaled_dot_product_attention({0}{rest})"}
FUNCTIONS = ("dropout", "dropout2d", "dropout3d", "alpha_dropout", "rrelu", "fractional_max_pool2d", "fractional_max_pool3d", "multi_head_attention_forward")


class Untold(Exception):
    pass


def written(op, torch):
    """The program's text for an operator, with places for its arguments."""
    name = op.name
    if name in WRITTEN:
        return WRITTEN[name]
    if name in METHODS:
        return "{0}." + name + "({rest})"
    if name.startswith("nn.functional.") and (name[14:] in FUNCTIONS or getattr(torch.nn.functional, name[14:], None) is op.op):
        return "F." + name[14:] + "({rest})"
    at = torch
    for part in name.split("."):
        at = getattr(at, part, None)
    if at is not None and at is op.op and not name.startswith("_"):
        return "torch." + name + "({rest})"
    raise Untold("no program calls it by name")


class Writer:
    """One module's text."""

    def __init__(self, torch):
        self.torch, self.inputs, self.scales, self.lines, self.results = torch, [], 0, [], []

    def tensor(self, t, trained):
        dtype = str(t.dtype)
        if t.is_complex() or t.is_sparse or t.layout != self.torch.strided:
            raise Untold("complex or sparse")
        k = len(self.inputs)
        make = f"torch.rand({tuple(t.shape)})" if dtype == "torch.float32" else f"torch.zeros({tuple(t.shape)}, dtype={dtype})"
        self.inputs.append(make)
        if not trained:
            return f"x{k}"
        self.lines.append(f"a{k} = x{k} * self.s{self.scales}")
        self.scales += 1
        return f"a{k}"

    def value(self, v, trains):
        torch = self.torch
        if isinstance(v, torch.Tensor):
            return self.tensor(v, v.is_floating_point() and next(trains))
        if isinstance(v, (list, tuple, torch.Size)):
            inner = ", ".join(self.value(e, trains) for e in v)
            return f"[{inner}]" if isinstance(v, list) else f"({inner}{',' if len(v) == 1 else ''})"
        if isinstance(v, float) and not math.isfinite(v):
            return f"float('{v}')"
        if isinstance(v, slice):
            return "slice(" + ", ".join(self.value(e, trains) for e in (v.start, v.stop, v.step)) + ")"
        if v is Ellipsis:
            return "..."
        if v is None or isinstance(v, (bool, int, float, str)):
            return repr(v)
        if isinstance(v, (torch.dtype, torch.memory_format)):
            return repr(v)
        raise Untold(f"an argument of type {type(v).__name__}")

    def call(self, text, sample, trains):
        args = [self.value(v, trains) for v in (sample.input, *sample.args)]
        named = [f"{k}={self.value(v, trains)}" for k, v in sample.kwargs.items() if k != "device"]
        used = max((int(n) for n in re.findall(r"\{(\d)\}", text)), default=-1)
        if used >= len(args):
            raise Untold("an argument is missing")
        rest = args[used + 1:] + named
        if text.endswith("{rest})") and used >= 0 and not text.endswith("({rest})"):
            rest = [""] + rest
        return text.format(*args, rest=", ".join(rest))

    def add(self, text, sample, trains, outputs):
        k = len(self.results)
        self.lines.append(f"y{k} = " + self.call(text, sample, iter(trains)))
        self.results.append([f"y{k}{at}" for at in outputs])

    def source(self):
        n = len(self.inputs)
        taken = [f"{r}.reshape(-1)" for rs in self.results for r in rs]
        result = f"torch.cat([{', '.join(taken)}])" if len(taken) > 1 else taken[0]  # an exporter leaves a cat of one out
        scales = "\n        ".join(f"self.s{i} = nn.Parameter(torch.full((), .5))" for i in range(self.scales)) or "pass"
        return steps.HEAD + f"""
class M(nn.Module):
    def __init__(self):
        super().__init__()
        {scales}
    def forward(self, {", ".join(f"x{i}" for i in range(n))}):
        {chr(10).join("        " + line for line in self.lines).lstrip()}
        return {result}
ZOO = {{"case": Entry(M, lambda b: ({{{", ".join(f'"x{i}": {make}' for i, make in enumerate(self.inputs))}}}, None), lambda out, targets: out.sum())}}
"""


def tensors_of(v, torch):
    if isinstance(v, torch.Tensor):
        yield v
    elif isinstance(v, (list, tuple)):
        for e in v:
            yield from tensors_of(e, torch)


def outputs_of(result, torch):
    """Where the differentiable results are; all floating ones when there is none."""
    def places(v, at):
        if isinstance(v, torch.Tensor):
            yield v, at
        elif isinstance(v, (list, tuple)):
            for i, e in enumerate(v):
                yield from places(e, f"{at}[{i}]")
    found = [(v, at) for v, at in places(result, "") if v.dtype in (torch.float32, torch.float64, torch.float16, torch.bfloat16)]
    return [at for v, at in found if v.requires_grad]


def samples_of(op, torch, most):
    """(text, sample, which of its floating tensors are trained, outputs), no two alike."""
    text, seen = written(op, torch), set()
    for sample in op.sample_inputs("cpu", torch.float32, requires_grad=True):
        floats = [t for t in tensors_of([sample.input, sample.args, list(sample.kwargs.values())], torch) if t.is_floating_point()]
        if any(t.numel() == 0 for t in tensors_of([sample.input, sample.args, list(sample.kwargs.values())], torch)):
            continue
        trains = [t.requires_grad for t in floats]
        choices = [trains]
        if sum(trains) > 1 and sum(trains) <= 4:
            choices += [[i == j for j in range(len(trains))] for i in range(len(trains)) if trains[i]]
        try:
            outputs = outputs_of(op.op(sample.input, *sample.args, **sample.kwargs), torch)
        except Exception:
            continue
        if not outputs:
            continue
        for choice in choices:
            w = Writer(torch)
            try:
                w.add(text, sample, choice, outputs)
            except Untold:
                continue
            key = w.source()
            if key not in seen:
                seen.add(key)
                yield text, sample, choice, outputs
            if len(seen) == most:
                return


def main():
    ap = steps.arguments(__doc__)
    ap.add_argument("--samples", type=int, default=12, help="most samples an operator")
    ap.add_argument("--whole", action="store_true", help="take no module apart: faster, while a cause is looked for")
    ap.add_argument("--part", default="0/1", help="K/N: every N-th operator, from the K-th on")
    warnings.filterwarnings("ignore")
    return steps.on_bench(run, ap.parse_args())


def run(a, bench):
    torch = bench.torch
    from torch.testing._internal.common_methods_invocations import op_db
    sums, exact, why = collections.Counter(), [], collections.Counter()
    part, parts = map(int, a.part.split("/"))
    for op in op_db[part::parts]:
        label = op.name + ("." + op.variant_test_name if op.variant_test_name else "")
        if not re.search(a.only, label):
            continue
        counts, bad = collections.Counter(), []
        try:
            torch.manual_seed(0)
            samples = list(samples_of(op, torch, a.samples)) if torch.float32 in op.dtypes and op.supports_autograd else []
        except Untold as e:
            samples, counts["untold"] = [], 1
        except Exception as e:
            samples, counts["untold"] = [], 1

        def take(name, group):
            w = Writer(torch)
            for s in group:
                w.add(*s)
            verdicts = {}
            for precision in steps.PRECISIONS:
                cannot = bench.take(name, w.source(), precision)
                if cannot:
                    verdicts[precision] = ("skipped", cannot, w)
                    if cannot.startswith("not exported"):
                        break
                    continue
                verdict, truth, got = bench.compare(name, OPTIONS, precision)
                verdicts[precision] = (verdict, steps.first_difference(truth, got), w)
            return verdicts

        for g in range(0, len(samples), GROUP):
            group = samples[g:g + GROUP]
            name = f"{label}-{g // GROUP}"
            verdicts = take(name, group)
            if all(v[0] == "exact" for v in verdicts.values()):
                counts["exact"] += len(group)
                exact += [(name, OPTIONS, p) for p in verdicts]
                continue
            if a.whole and all(v[0] != "skipped" for v in verdicts.values()):
                worst = max((v[0] for v in verdicts.values()), key=("exact", "doubt", "wrong").index)
                counts[worst] += len(group)
                bad += [(worst, p, v, name) for p, v in verdicts.items() if v[0] == worst]
                continue
            for i, sample in enumerate(group):
                one = take(f"{name}-{i}", [sample]) if len(group) > 1 else verdicts
                worst = max((v[0] for v in one.values()), key=("exact", "skipped", "doubt", "wrong").index)
                if worst == "skipped":
                    why[next(v[1] for v in one.values() if v[0] == "skipped")] += 1
                if worst == "exact":
                    exact += [(f"{name}-{i}" if len(group) > 1 else name, OPTIONS, p) for p in one]
                counts[worst] += 1
                if worst in ("wrong", "doubt"):
                    bad += [(worst, p, v, f"{name}-{i}") for p, v in one.items() if v[0] == worst][:1]
        sums.update(counts)
        print(label, *(f"{counts[k]} {k}" for k in ("exact", "doubt", "wrong", "skipped", "untold") if counts[k]), sep="\t", flush=True)
        for worst, precision, (_, lines, w), name in bad:
            if worst == "wrong" or a.v:
                print(f"    {worst} in {precision} ({name}): " + "; ".join(w.lines), *lines, sep="\n", flush=True)
    if a.v:
        for reason, n in why.most_common(40):
            print(f"    skipped {n}: {reason}")
    if a.pack:
        steps.pack(bench.folder, a.pack, exact)
    print(*(f"{sums[k]} {k}" for k in ("exact", "doubt", "wrong", "skipped", "untold")), sep=", ")
    return sums["wrong"] != 0


if __name__ == "__main__":
    sys.exit(main())
