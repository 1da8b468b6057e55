#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""PyTorch's own operator tests, each sample a training step: op_db's operators with op_db's arguments.

    opdb.py MEMLINT RECORD.PY EXPORT.PY [--only REGEX] [--keep DIR] [--samples N] [--modules] [--layout L] [--exporter
    E] [--precisions P,P] [-v] opdb.py MEMLINT --kept --keep DIR [--table FILE [--mark NAME]] [--pack FILE]

Samples of one operator are statements of one module; each floating tensor that requires a gradient is an input times a
trainable scalar. A module that is not exact is taken apart, sample by sample. Printed: a line an operator with its
samples, exact, doubt, wrong and skipped (PyTorch can't export or record them, with its reason under -v), what was
wrong, and the sums. Exit 1 when a sample is wrong. Where several tensors require a gradient, each alone is a sample
too. --modules takes module_db's modules as well. --layout channels-last has inputs of four dimensions so, transposed
swaps the last two dimensions before an operator sees them, sliced gives it every second element of the last one;
--exporter ts takes the old exporter's files, capture those of memlint's own export.

--kept compares what an earlier run left in DIR once more, without PyTorch; --table writes the figures into FILE,
between its marks, and --pack adds to the archive the smallest exact sample of each operator that it does not have.
"""

import collections, concurrent.futures, math, os, re, sys, tarfile, tempfile, warnings

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "..", "packaging", "python")]
import steps

GROUP = 6  # samples in a module
OPTIONS = ["--loss", "sum", "--optimizer", "sgd", "--dropout=none"]  # exports in training mode have lost none
LAYOUTS = {
    "contiguous": [],
    "channels-last": ["--assume", "inputs=channels-last"],
    "transposed": [],
    "sliced": [],
}  # what memlint is told of the inputs
CAUSES = {  # why operators are wrong that are: which ones
    "another name for a mean over all dimensions, which PyTorch's exporter names as well": "(std|var)(_mean)?",
    "fake tensors keep the strides of an expanded gradient, a kernel copies it whole": "slice_scatter",
    "a gradient of zeros without memory, which fake tensors can't be multiplied with": "sgn",
        "the exporter merges a view that is a copy with the next view": r"view_copy",
    "the recorder sees parameters that a module copied when they are first read, not when "
    "they are made": r"nn\.Transformer",
    "what leaves nothing in a file of floats copies in a model of halves": r"float",
    "a file of the old exporter names no devices, and what goes to the CPU is no memory of the GPU's": r"to",
}
# How a program writes operators whose entry is no function of that name.
METHODS = (
    "contiguous",
    "sum_to_size",
    "expand",
    "expand_as",
    "to",
    "reshape_as",
    "view",
    "view_as",
    "bfloat16",
    "bool",
    "byte",
    "char",
    "double",
    "float",
    "half",
    "int",
    "long",
    "short",
    "new_zeros",
    "new_ones",
    "new_empty",
    "new_full",
    "unfold",
    "repeat",
    "zero_",
)
WRITTEN = {
    "einsum": "torch.einsum({1}, *{0})",
    "where": "torch.where({1}, {0}, {2})",
    "T": "{0}.T",
    "mT": "{0}.mT",
    "H": "{0}.H",
    "mH": "{0}.mH",
    "__getitem__": "{0}[{1}]",
    "__radd__": "{1} + {0}",
    "__rsub__": "{1} - {0}",
    "__rmul__": "{1} * {0}",
    "__rdiv__": "{1} / {0}",
    "__rpow__": "{1} ** {0}",
    "__rmod__": "{1} % {0}",
    "__rmatmul__": "{1} @ {0}",
    "nn.functional.embedding": "F.embedding({1}, {0}{rest})",
    "nn.functional.embedding_bag": "F.embedding_bag({1}, {0}{rest})",
    "nn.functional.scaled_dot_product_attention": "F.scaled_dot_product_attention({0}{rest})",
}
FUNCTIONS = (
    "dropout",
    "dropout2d",
    "dropout3d",
    "alpha_dropout",
    "feature_alpha_dropout",
    "rrelu",
    "fractional_max_pool2d",
    "fractional_max_pool3d",
    "multi_head_attention_forward",
)


class Untold(Exception):
    pass


def written(op, torch):
    """The program's text for an operator, with places for its arguments."""
    name = op.name
    if name in WRITTEN:
        return WRITTEN[name]
    if name in METHODS:
        return "{0}." + name + "({rest})"
    if name.startswith("nn.functional.") and (
        name[14:] in FUNCTIONS or getattr(torch.nn.functional, name[14:], None) is op.op
    ):
        return "F." + name[14:] + "({rest})"
    at = torch
    for part in name.split("."):
        at = getattr(at, part, None)
    if at is not None and at is op.op and not name.startswith("_"):
        return "torch." + name + "({rest})"
    raise Untold("no program calls it by name")


class Writer:
    """One module's text."""

    layout = "contiguous"  # of the inputs

    def __init__(self, torch):
        self.torch, self.inputs, self.scales, self.lines, self.results, self.made = torch, [], 0, [], [], []

    def tensor(self, t, trained):
        dtype = str(t.dtype)
        if t.is_complex() or t.is_sparse or t.layout != self.torch.strided:
            raise Untold("complex or sparse")
        k = len(self.inputs)
        make = (
            f"torch.rand({tuple(t.shape)})"
            if dtype == "torch.float32"
            else f"torch.zeros({tuple(t.shape)}, dtype={dtype})"
        )
        if Writer.layout == "channels-last" and t.dim() == 4 and dtype == "torch.float32":
            n, c, h, w = t.shape
            make = f"torch.rand({(n, h, w, c)}).permute(0, 3, 1, 2)"
        name, parted = f"x{k}", Writer.layout == "sliced" and t.dim() > 0 and dtype == "torch.float32"
        if parted:
            make = f"torch.rand({(*t.shape[:-1], 2 * t.shape[-1])})"
        if Writer.layout == "transposed" and t.dim() > 1 and dtype == "torch.float32":
            make = f"torch.rand({(*t.shape[:-2], t.shape[-1], t.shape[-2])})"
            self.lines.append(f"t{k} = x{k}.transpose(-2, -1)")
            name = f"t{k}"
        self.inputs.append(make)
        if trained:
            self.lines.append(f"a{k} = {name} * self.s{self.scales}")
            self.scales += 1
            name = f"a{k}"
        if parted:
            self.lines.append(f"b{k} = {name}[..., ::2]")
            name = f"b{k}"
        return name

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
        rest = args[used + 1 :] + named
        if text.endswith("{rest})") and used >= 0 and not text.endswith("({rest})"):
            rest = [""] + rest
        return text.format(*args, rest=", ".join(rest))

    def add(self, text, sample, trains, outputs):
        k = len(self.results)
        if getattr(sample, "made", None):
            self.made.append(f"self.m{k} = {sample.made}")
            text = text.replace("self.m(", f"self.m{k}(")
        self.lines.append(f"y{k} = " + self.call(text, sample, iter(trains)))
        self.results.append([f"y{k}{at}" for at in outputs])

    def source(self):
        n = len(self.inputs)
        taken = [f"{r}.reshape(-1)" for rs in self.results for r in rs]
        result = (
            f"torch.cat([{', '.join(taken)}])" if len(taken) > 1 else taken[0]
        )  # an exporter leaves a cat of one out
        scales = (
            "\n        ".join(self.made + [f"self.s{i} = nn.Parameter(torch.full((), .5))" for i in range(self.scales)])
            or "pass"
        )
        return (
            steps.HEAD
            + f"""
class M(nn.Module):
    def __init__(self):
        super().__init__()
        {scales}
    def forward(self, {", ".join(f"x{i}" for i in range(n))}):
        {chr(10).join("        " + line for line in self.lines).lstrip()}
        return {result}
ZOO = {{"case": Entry(M, lambda b: ({{{", ".join(f'"x{i}": {make}' for i, make in enumerate(self.inputs))}}}, None), \
lambda out, targets: out.sum())}}
"""
        )


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

    found = [
        (v, at)
        for v, at in places(result, "")
        if v.dtype in (torch.float32, torch.float64, torch.float16, torch.bfloat16)
    ]
    return [at for v, at in found if v.requires_grad]


def samples_of(op, torch, most):
    """(text, sample, which of its floating tensors are trained, outputs), no two alike."""
    text, seen = written(op, torch), set()
    for sample in op.sample_inputs("cpu", torch.float32, requires_grad=True):
        floats = [
            t
            for t in tensors_of([sample.input, sample.args, list(sample.kwargs.values())], torch)
            if t.is_floating_point()
        ]
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


class Module:
    """A module of module_db as a sample: how it is made, and what it is called with."""

    def __init__(self, made, module, args, kwargs):
        self.made, self.module, self.input, self.args, self.kwargs = made, module, args[0], tuple(args[1:]), kwargs


def modules_of(info, torch, most):
    """As samples_of, of a module."""
    name, seen = info.module_cls.__name__, set()
    if getattr(torch.nn, name, None) is not info.module_cls:
        raise Untold("no module of torch.nn")
    for given in info.module_inputs_func(info, "cpu", torch.float32, True, training=True):
        if given.forward_input is None or not given.forward_input.args:
            continue
        made, how, forward, w = None, given.constructor_input, given.forward_input, Writer(torch)
        try:
            taken = [w.value(v, iter(())) for v in how.args] + [
                f"{k}={w.value(v, iter(()))}" for k, v in how.kwargs.items()
            ]
            if w.inputs:
                continue
            made = f"nn.{name}({', '.join(taken)})"
            module = info.module_cls(*how.args, **how.kwargs).train()
            sample = Module(made, module, forward.args, forward.kwargs)
            floats = [
                t
                for t in tensors_of([sample.input, sample.args, list(sample.kwargs.values())], torch)
                if t.is_floating_point()
            ]
            outputs = outputs_of(module(*forward.args, **forward.kwargs), torch)
            choice = [t.requires_grad for t in floats]
            w = Writer(torch)
            w.add("self.m({rest})", sample, choice, outputs)
        except Exception:
            continue
        if outputs and all(t.numel() for t in floats) and w.source() not in seen:
            seen.add(w.source())
            yield "self.m({rest})", sample, choice, outputs
        if len(seen) == most:
            return


def again(a):
    """The cases that an earlier run left, compared once more: figures by operator and by cause."""
    bench = object.__new__(steps.Bench)
    bench.memlint, bench.folder = os.path.realpath(a.memlint), a.keep
    cases, options = {}, OPTIONS + LAYOUTS[a.layout]
    for f in sorted(os.listdir(a.keep)):
        m = re.fullmatch(r"((.+?)-(\d+)(-\d+)?)\.([\w-]+)\.trace", f)
        if m and re.search(a.only, m[2]) and os.path.exists(bench.file(m[1], ".onnx")):
            cases.setdefault(m[1], (m[2], m[2] + "-" + m[3], []))[2].append(m[5])
    apart = {whole for name, (_, whole, _) in cases.items() if name != whole}
    cases = {name: case for name, case in cases.items() if name not in apart}
    jobs = [(name, p) for name, case in cases.items() for p in case[2]]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        verdicts = dict(zip(jobs, pool.map(lambda j: bench.compare(j[0], options, j[1]), jobs)))
    rows, exact = {}, []
    for name, (label, _, precisions) in cases.items():
        worst = max((verdicts[name, p][0] for p in precisions), key=("exact", "doubt", "wrong").index)
        samples = len(re.findall(r"^ +y\d+ = ", open(bench.file(name, ".py")).read(), re.M))
        rows.setdefault(label, collections.Counter())[worst] += samples
        exact += [(name, options, p) for p in precisions if worst == "exact"]
        for p in precisions:
            if verdicts[name, p][0] == "wrong" or (a.v and verdicts[name, p][0] == "doubt"):
                print(f"{verdicts[name, p][0]} {name} {p}", *steps.first_difference(*verdicts[name, p][1:]), sep="\n")
    text = figures(rows)
    print(text)
    if a.table:
        begin, end = f"<!-- {a.mark}: written by tests/oracle/opdb.py --table -->\n", f"<!-- /{a.mark} -->"
        page = open(a.table).read()
        with open(a.table, "w") as f:
            f.write(page.split(begin)[0] + begin + "\n" + text + "\n" + end + page.split(end)[1])
    if a.pack:
        add(a.pack, a.keep, smallest(bench, exact))
    return any(r["wrong"] for r in rows.values())


def add(path, folder, exact):
    """Adds to the archive the operators that it does not have."""
    with tempfile.TemporaryDirectory() as tmp:
        if os.path.exists(path):
            with tarfile.open(path) as tar:
                tar.extractall(tmp, filter="data")
        there = {re.sub(r"-\d+(-\d+)?\.onnx$", "", f) for f in os.listdir(tmp)}
        steps.pack(folder, path, [case for case in exact if re.sub(r"-\d+(-\d+)?$", "", case[0]) not in there], tmp)


def smallest(bench, exact):
    """Of each operator's exact cases the smallest, in every precision."""
    best = {}
    for name, _, _ in exact:
        label = re.sub(r"-\d+(-\d+)?$", "", name)
        size = os.path.getsize(bench.file(name, ".onnx"))
        best[label] = min(best.get(label, (size, name)), (size, name))
    keep = {name for _, name in best.values()}
    return [case for case in exact if case[0] in keep]


def figures(rows):
    """A Markdown table: a line for what is exact, one for what is a doubt, and one a cause of what is wrong."""
    groups = {}
    for label, counts in rows.items():
        cause = next((c for c, pattern in CAUSES.items() if re.fullmatch(pattern, label)), "not yet looked into")
        group = cause if counts["wrong"] else "a doubt" if counts["doubt"] else "exact"
        groups.setdefault(group, []).append(label)
    lines = ["| operators | samples | exact | doubt | wrong | |", "| --- | --- | --- | --- | --- | --- |"]
    order = [
        "exact",
        "a doubt",
        *sorted((g for g in groups if g not in ("exact", "a doubt")), key=lambda g: -len(groups[g])),
    ]
    for group in [g for g in order if g in groups]:
        labels = sorted(groups[group])
        total = sum((rows[x] for x in labels), collections.Counter())
        said = group if group in ("exact", "a doubt") else f"{group}: {', '.join(labels)}"
        lines.append(
            f"| {len(labels)} | {sum(total.values())} | {total['exact']} | {total['doubt']} | "
            f"{total['wrong']} | {said} |"
        )
    total = sum(rows.values(), collections.Counter())
    lines.append(
        f"| {len(rows)} | {sum(total.values())} | {total['exact']} | {total['doubt']} | {total['wrong']} | all that "
        f"export and run |"
    )
    return "\n".join(lines) + "\n"


def main():
    ap = steps.arguments(__doc__)
    for at in ap._actions:
        if at.dest in ("record", "export"):
            at.nargs = "?"
    ap.add_argument("--samples", type=int, default=12, help="most samples an operator")
    ap.add_argument("--whole", action="store_true", help="take no module apart: faster, while a cause is looked for")
    ap.add_argument("--part", default="0/1", help="K/N: every N-th operator, from the K-th on")
    ap.add_argument("--modules", action="store_true", help="module_db's modules instead of op_db's operators")
    ap.add_argument("--layout", choices=tuple(LAYOUTS), default="contiguous")
    ap.add_argument("--exporter", choices=("dynamo", *EXPORTERS), default="dynamo")
    ap.add_argument("--precisions", default=",".join(steps.PRECISIONS))
    ap.add_argument("--kept", action="store_true", help="compare what is in --keep, without PyTorch")
    ap.add_argument("--table", metavar="FILE", help="with --kept: write the figures into this file")
    ap.add_argument("--mark", default="opdb", help="between which of its marks")
    warnings.filterwarnings("ignore")
    a = ap.parse_args()
    return again(a) if a.kept else steps.on_bench(run, a)


EXPORTERS = {"ts": steps.scripted, "capture": steps.capture}  # beside the bench's own


def run(a, bench):
    torch, options = bench.torch, OPTIONS + LAYOUTS[a.layout]
    if a.modules:
        from torch.testing._internal.common_modules import module_db as infos
    else:
        from torch.testing._internal.common_methods_invocations import op_db as infos
    Writer.layout, export, precisions = a.layout, EXPORTERS.get(a.exporter), a.precisions.split(",")
    sums, exact, why = collections.Counter(), [], collections.Counter()
    part, parts = map(int, a.part.split("/"))
    for op in infos[part::parts]:
        label = op.name + ("." + op.variant_test_name if getattr(op, "variant_test_name", "") else "")
        if not re.search(a.only, label):
            continue
        counts, bad = collections.Counter(), []
        try:
            torch.manual_seed(0)
            if a.modules:
                samples = list(modules_of(op, torch, a.samples))
            else:
                samples = (
                    list(samples_of(op, torch, a.samples))
                    if torch.float32 in op.dtypes and op.supports_autograd
                    else []
                )
        except Untold as e:
            samples, counts["untold"] = [], 1
        except Exception as e:
            samples, counts["untold"] = [], 1

        def take(name, group):
            w = Writer(torch)
            for s in group:
                w.add(*s)
            verdicts = {}
            for precision in precisions:
                cannot = bench.take(name, w.source(), precision, export=export)
                if cannot:
                    verdicts[precision] = ("skipped", cannot, w)
                    if cannot.startswith("not exported"):
                        break
                    continue
                verdict, truth, got = bench.compare(name, options, precision)
                verdicts[precision] = (verdict, steps.first_difference(truth, got), w)
            return verdicts

        for g in range(0, len(samples), GROUP):
            group = samples[g : g + GROUP]
            name = f"{label}-{g // GROUP}"
            verdicts = take(name, group)
            if all(v[0] == "exact" for v in verdicts.values()):
                counts["exact"] += len(group)
                exact += [(name, options, p) for p in verdicts]
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
                    exact += [(f"{name}-{i}" if len(group) > 1 else name, options, p) for p in one]
                counts[worst] += 1
                if worst in ("wrong", "doubt"):
                    bad += [(worst, p, v, f"{name}-{i}") for p, v in one.items() if v[0] == worst][:1]
        sums.update(counts)
        print(
            label,
            *(f"{counts[k]} {k}" for k in ("exact", "doubt", "wrong", "skipped", "untold") if counts[k]),
            sep="\t",
            flush=True,
        )
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
    os.environ.setdefault("MEMLINT", os.path.realpath(sys.argv[1]) if len(sys.argv) > 1 else "")
    sys.exit(main())
