#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Steps of small programs, as PyTorch runs them and as memlint says: what ops.py, opdb.py and programs.py share.

A case is the source of a zoo (a module, its inputs, its loss). `Bench.take` has PyTorch export it (torch.onnx.export,
dynamo) and run its training step on fake CUDA tensors, each in a child of this process; `Bench.compare` runs memlint
on the file. Both sides are lists of events, compared exactly and in order: sign, bytes, phase, operator, elements and
type. A run of deaths between two births is a set, since no allocation sees its order.

`pack` writes cases into one archive, which tests/steps.sh replays without PyTorch: NAME.onnx and
NAME.OPTIONS-NUMBER.step, whose first line holds memlint's options.

Needs torch 2.11 and the oracle pack's record.py and export.py.
"""

import argparse, functools, importlib.util, io, json, lzma, math, os, re, signal, subprocess, sys, tarfile, tempfile
import traceback

PRECISIONS = ("fp32", "amp-bf16")
# Births that are compared alone, of a file that can't show more: of dropouts; of copies that are more than a number.
KINDS = {"drops": r"^\+.*native_dropout", "casts": r"^\+.*_to_copy\.default\t(?!1\t)"}
SECONDS = 120  # for one export or record
WRONG = 0.5  # percent of a peak
HEAD = """import torch, torch.nn.functional as F
from torch import nn
from zoo_base import *
"""


def load(name, path):
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, os.path.dirname(path))
    spec.loader.exec_module(module)
    return module


def apart(log, work, seconds=SECONDS):
    """Runs work in a child that inherits the imports: a case leaves nothing behind, and a crash stops one case only."""
    child = os.fork()
    if child == 0:
        status = 1
        signal.alarm(seconds)
        with open(log, "w") as out:
            os.dup2(out.fileno(), 1)
            os.dup2(out.fileno(), 2)
            try:
                if "torch" in sys.modules:  # whoever asks first makes its pool anew: no two threads at once
                    sys.modules["torch"].set_num_threads(1)
                work()
                status = 0
            except BaseException:
                traceback.print_exc(file=out)
            out.flush()
        os._exit(status)
    return os.waitpid(child, 0)[1] == 0


def within(log, work):
    """Runs work in this process, for cases that leave nothing behind."""

    def late(*_):
        raise TimeoutError("it takes too long")

    signal.signal(signal.SIGALRM, late)
    signal.alarm(SECONDS)
    try:
        work()
        return True
    except Exception:
        with open(log, "w") as out:
            traceback.print_exc(file=out)
        return False
    finally:
        signal.alarm(0)


def reason(log):
    lines = [line for line in open(log, errors="replace") if re.match(r"[\w.]*(Error|Exception)\b", line)]
    return lines[-1].strip()[:160] if lines else "it died"


def canonical(lines):
    """The events of a trace or a dump as comparable lines."""
    out, deaths = [], []
    for line in lines:
        f = line.rstrip("\n").split("\t")
        if f[0] not in ("+", "-"):
            continue
        elements = math.prod(int(d) for d in f[5].strip("[]").split(",") if d.strip())
        row = "\t".join([f[0], f[1], f[3], f[4], str(elements), f[6]])
        if f[0] == "-":
            deaths.append(row)
            continue
        out += sorted(deaths) + [row]
        deaths = []
    return out + sorted(deaths)


def before(lines):
    """What is allocated before the first event of a trace or a dump, as a comparable line."""
    first = next(line.split("\t") for line in lines if line.startswith(("+", "-")))
    return f"=\t{int(first[2]) - int(first[0] + first[1])}"


def of_kind(events, kind):
    """Those that are compared: all, but of some kinds of steps."""
    return [e for e in events if kind not in KINDS or re.search(KINDS[kind], e)]


def capture(model, inputs, dims=lambda path, t: {}):
    """The file of memlint's own export, in memory."""
    from memlint import exporting

    return exporting.build(model, (), inputs, (), dims, None)


def scripted(model, inputs):
    """TorchScript's file of a model in training, in memory."""
    import onnx, torch

    f = io.BytesIO()
    torch.onnx.export(
        model,
        tuple(inputs.values()),
        f,
        dynamo=False,
        opset_version=17,
        input_names=list(inputs),
        output_names=["output"],
        training=torch.onnx.TrainingMode.TRAINING,
        do_constant_folding=False,
    )
    return onnx.load_from_string(f.getvalue())


def as_kernels(torch):
    """Fake tensors run the backward of norms as a decomposition, whose results have the strides of its arithmetic, and
    are made whether they are wanted or not; the kernels make contiguous ones, those that are wanted. Source:
    layer_norm_backward_cuda in aten/src/ATen/native/cuda/layer_norm_kernel.cu, batch_norm_backward_cuda in
    Normalization.cu."""
    from torch._decomp import decomposition_table

    def as_kernel(arithmetic):
        @functools.wraps(arithmetic)
        def kernel(*args):
            return tuple(t.contiguous() if wanted else None for t, wanted in zip(arithmetic(*args), args[-1]))

        return kernel

    for op in (torch.ops.aten.native_layer_norm_backward.default, torch.ops.aten.native_batch_norm_backward.default):
        decomposition_table[op] = as_kernel(decomposition_table[op])


class Bench:
    def __init__(self, memlint, record, export, folder):
        self.memlint, self.folder = os.path.realpath(memlint), folder
        os.environ.setdefault("MEMLINT", self.memlint)  # for a capture
        self.record = load("record", os.path.realpath(record))
        if "MEMLINT_SHIM" not in os.environ:  # as record.py starts itself
            shim = self.record.build_shim()
            os.execve(
                sys.executable,
                [sys.executable] + sys.argv,
                dict(
                    os.environ,
                    MEMLINT_SHIM=shim,
                    LD_PRELOAD=shim,
                    LD_LIBRARY_PATH=self.record.CACHE + ":" + os.environ.get("LD_LIBRARY_PATH", ""),
                ),
            )
        import onnx, onnxscript, torch.onnx._internal.exporter._core, torch.utils._device  # once, not once a case

        self.onnx, self.torch = onnx, self.record.torch
        cuda = self.torch._C
        if not apart(os.devnull, lambda: 1 // cuda._cuda_getDeviceCount()):
            cuda._cuda_getDeviceCount = lambda: 0  # which marks who asks: no child of it may run what is CUDA's
        kept = dict(
            vars(self.torch.nn.init)
        )  # which the exporter's module quickens for models that are larger than these
        self.tools = load("export", os.path.realpath(export))
        vars(self.torch.nn.init).update(kept)
        self.torch.set_num_threads(1)
        as_kernels(self.torch)

    def file(self, name, suffix):
        return os.path.join(self.folder, name + suffix)

    def drop(self, name):
        for stale in os.listdir(self.folder):
            if stale.startswith(name + "."):
                os.remove(os.path.join(self.folder, stale))

    def put(self, name, source):
        """Writes the case's source; what was made of another one goes."""
        path = self.file(name, ".py")
        if not os.path.exists(path) or open(path).read() != source:
            self.drop(name)
            with open(path, "w") as f:
                f.write(source)

    def dynamo(self, module, inputs, file, batch=True):
        """What PyTorch's exporter writes, through a file; batch: of any batch."""
        shapes = {"dynamic_shapes": {k: {0: self.torch.export.Dim("batch")} for k in inputs}} if batch else {}
        self.torch.onnx.export(
            module,
            (),
            file,
            kwargs=inputs,
            dynamo=True,
            input_names=list(inputs),
            output_names=["output"],
            external_data=False,
            verbose=False,
            **shapes,
        )
        return self.onnx.load(file)

    def take(
        self,
        name,
        source,
        precision="fp32",
        batch=None,
        optimizer="sgd",
        export=None,
        loop="plain",
        how=apart,
        what=("file", "step"),
    ):
        """Has PyTorch write and run a case, unless that was done before; None, or why it can't. export: (model,
        inputs) -> file, instead of dynamo's. how: apart or within; a record changes functions that an export calls, so
        `what` asks for one of them where one process does many."""
        path, model, truth, log = (self.file(name, s) for s in (".py", ".onnx", f".{precision}.trace", ".log"))
        self.put(name, source)

        def write():
            entry = load("zoo", path).ZOO["case"]
            inputs, _ = entry.inputs(batch or 1)
            if export:
                m = export(entry.build().train(), inputs)
            else:
                m = self.dynamo(entry.build().train(), inputs, model + ".tmp", bool(batch))
            m = self.tools.strip(m)
            self.tools.tidy_paths(m)
            self.tidy(m)
            self.onnx.save(m, model + ".tmp")
            os.rename(model + ".tmp", model)

        def trace():
            zoo = load("zoo", path).ZOO  # "step": what runs, where the file says less
            entry = zoo.get("step", zoo["case"])
            self.record.record("case", entry, batch or 1, optimizer, precision, loop, trace=truth + ".tmp")
            os.rename(truth + ".tmp", truth)

        if "file" in what and not os.path.exists(model) and not how(log, write):
            return "not exported: " + reason(log)
        if "step" in what and not os.path.exists(truth) and not how(log, trace):
            return "not recorded: " + reason(log)
        return None

    def error(self, name, options, precision, truth, optimizer="adamw"):
        """(error of the peak in percent, whether memlint is sure, why not)"""
        fixed = ["--precision", precision, "--optimizer", optimizer, "--assume", "accumulate=never", "--format=json"]
        command = [self.memlint, self.file(name, ".onnx"), *options, *fixed]
        said = subprocess.run(command, capture_output=True, text=True)
        try:
            answer = json.loads(said.stdout)
        except ValueError:
            return -100.0, said.returncode < 0, [said.stderr.strip()[:160]]
        return (
            100.0 * (answer["peak"]["allocated"] / truth["peak_allocated"] - 1),
            answer["verdict"] != "inconclusive",
            [f"{d['node']}: {d['why']}"[:160] for d in answer["unexplained"]],
        )

    def tidy(self, m):
        """Stack traces name the case's file by its place here: only its name is kept."""
        for node in list(m.graph.node) + [n for f in m.functions for n in f.node]:
            for p in node.metadata_props:
                p.value = p.value.replace(os.path.realpath(self.folder) + "/", "").replace(self.folder + "/", "")

    def compare(self, name, options, precision="fp32", kind="step", model=None, whole=False):
        """(verdict, PyTorch's events, memlint's); verdict: exact, doubt or wrong. model: whose file it is, if not its
        own; whole: with what is allocated before."""
        words = [
            self.memlint,
            self.file(model or name, ".onnx"),
            "-q",
            "--assume",
            "accumulate=never",
            "--precision",
            precision,
            *options,
        ]
        got = subprocess.run(words + ["--dump=step"], capture_output=True, text=True)
        sides = list(open(self.file(name, f".{precision}.trace"))), got.stdout.splitlines()
        truth, got = (
            ([before(side)] if whole and len(side) > 1 else []) + of_kind(canonical(side), kind) for side in sides
        )
        if truth == got:
            return "exact", truth, got
        said = subprocess.run(words + ["--format=json"], capture_output=True, text=True)
        try:
            sure = json.loads(said.stdout)["verdict"] != "inconclusive"
        except (ValueError, KeyError):
            sure = said.returncode >= 0  # an error says that it does not know, a crash says nothing
            return ("doubt" if sure else "wrong"), truth, got
        return ("wrong" if sure else "doubt"), truth, got


def score(a, count, case, error, sure, why):
    """Counts what Bench.error says of a case, and prints it where it is wrong or in doubt."""
    verdict = ("sure" if sure else "doubt") + (" wrong" if abs(error) > WRONG else " right")
    count[verdict] += 1
    if a.v or verdict != "sure right":
        print(f"{error:+8.2f} %  {verdict:11}  {case}  {'; '.join(why[:2])}", flush=True)


def scores(counts, head, first=(), last=()):
    """Prints a row of such counts for each key; True when one is wrong and sure. first, last: more of its columns."""
    columns = (*first, "sure right", "sure wrong", "doubt right", "doubt wrong", *last)
    print(f"| {head} |", " | ".join(columns), "|\n|" + " --- |" * (len(columns) + 1))
    for key, count in counts.items():
        print(f"| {key} |", " | ".join(str(count[c]) for c in columns), "|")
    return any(c["sure wrong"] for c in counts.values())


def peak(trace, events):
    """Bytes at the peak of canonical events, from what is alive before the first row of the trace that PyTorch's are
    of."""
    first = open(trace).read().split("\n")[1].split("\t")
    live = most = int(first[2]) - int(first[0] + first[1])
    for e in events:
        sign, size = e.split("\t")[:2]
        live += int(sign + size)
        most = max(most, live)
    return most


def first_difference(truth, got, context=1):
    """Where two lists of events part, as lines to print."""
    at = next((i for i, (a, b) in enumerate(zip(truth, got)) if a != b), min(len(truth), len(got)))
    return (
        [f"    event {at}:"]
        + ["      PyTorch " + e for e in truth[at : at + context]]
        + ["      memlint " + e for e in got[at : at + context]]
    )


def arguments(doc):
    """What the recorders' command lines share."""
    ap = argparse.ArgumentParser(description=doc.splitlines()[0])
    ap.add_argument("memlint")
    ap.add_argument("record")
    ap.add_argument("export")
    ap.add_argument("--only", default="", metavar="REGEX")
    ap.add_argument("--keep", metavar="DIR", help="leave each case and its events here, and use those that are here")
    ap.add_argument("--pack", metavar="FILE", help="write the exact cases into an archive for tests/steps.sh")
    ap.add_argument("-v", action="store_true")
    return ap


def between(cases, zoo, options):
    """Rows for table of cases, name: expression or (expression, constructor of self.op), in fp32 and under autocast."""
    for name, case in cases.items():
        expression, constructor = case if isinstance(case, tuple) else (case, "nn.Identity()")
        source = zoo.replace("EXPRESSION", expression).replace("CONSTRUCTOR", constructor)
        for precision in PRECISIONS:
            yield name, source, precision, options, dict(batch=4, optimizer="adamw"), expression


def table(a, bench, rows, known=(), **how):
    """Runs rows of (name, source, precision, memlint's options, what take is told, what to print); known: why a case
    differs. True when one differs that is not known to."""
    passed = failed = opened = skipped = 0
    exact = []
    for name, source, precision, options, told, text in rows:
        if not re.search(a.only, name):
            continue
        cannot = bench.take(name, source, precision, **told, **how)
        if cannot:
            skipped += 1
            print(f"skipped  {name} {precision}: {cannot}", flush=True)
            continue
        verdict, truth, got = bench.compare(name, options, precision)
        if verdict == "exact":
            passed += 1
            exact.append((name, options, precision))
            if a.v:
                print(f"agrees   {name} {precision}", flush=True)
            continue
        opened += name in known
        failed += name not in known
        state, why = ("open    ", known[name]) if name in known else ("differs ", text)
        print(f"{state} {name} {precision}: {why}", flush=True)
        if a.v or name not in known:
            print(*first_difference(truth, got), sep="\n", flush=True)
    if a.pack:
        pack(bench.folder, a.pack, exact)
    print(f"{passed} passed, {failed} failed, {opened} open, {skipped} skipped")
    return failed != 0


def on_bench(run, a):
    """run(a, bench) in the folder to keep, or in one that goes."""
    with tempfile.TemporaryDirectory() as tmp:
        folder = a.keep or tmp
        os.makedirs(folder, exist_ok=True)
        return run(a, Bench(a.memlint, a.record, a.export, folder))


def archive(path, files):
    """files: (name, bytes)"""
    blob = io.BytesIO()
    with tarfile.open(fileobj=blob, mode="w") as tar:
        for name, data in files:
            info = tarfile.TarInfo(name)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    with open(path, "wb") as f:
        f.write(lzma.compress(blob.getvalue(), preset=9 | lzma.PRESET_EXTREME))


def read(folder, name):
    with open(os.path.join(folder, name), "rb") as f:
        return f.read()


def options(folder, name):
    """memlint's, of a captured program: its own where it has some."""
    path = os.path.join(folder, name + ".options")
    return json.load(open(path)) if os.path.exists(path) else ["--loss", "sum", "--optimizer", "sgd"]


def pack(folder, path, cases, also=None, whole=None, model=""):
    """cases: (name, options, precision) of those that are exact; a fourth: the kind of the step; a fifth: the case
    whose trace it is, where that is another one of the same file. also: a folder of an archive's files to take as they
    are; whole(name): its steps say what is allocated before; model: what the names of model files end with."""
    files = [(name, read(also, name)) for name in sorted(os.listdir(also))] if also else []
    done = set()
    for name, options, precision, *more in sorted(cases):
        kind, of = (*more, *("step", name)[len(more) :])
        if name not in done:
            files.append((name + ".onnx", read(folder, f"{name}{model}.onnx")))
            done.add(name)
        trace = list(open(os.path.join(folder, f"{of}.{precision}.trace")))
        words = " ".join(["--precision", precision, *options])
        events = [before(trace)] * bool(whole and whole(name)) + of_kind(canonical(trace), kind)
        files.append((f"{name}.{precision}.{kind}", "\n".join([words, *events]).encode() + b"\n"))
    archive(path, files)
