#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Models as people write them by hand, each from another paper or course: is the peak right, or said to be unsure?

    people.py MEMLINT RECORD.PY EXPORT.PY [--only REGEX] [--set N] [--torchscript | --captured] [--keep DIR] [-v]
    people.py MEMLINT RECORD.PY EXPORT.PY --add FOLDER --set N [--only REGEX] [--keep DIR]

people.tar.xz has their sources and, for each, the peaks that PyTorch has; those who wrote them had not read memlint.
Comments of a source say what a user knows: "# loss:", "# freeze:", "# outputs:", "# static:" (inputs without a batch),
"# fixed:" (the batch is 4 in the file), "# more:" (options). Dynamo's export in training mode, TorchScript's, or
memlint's own of a batch of 4, is made where DIR has none. Printed: a line for each row that is wrong by more than 0.5 %
or in doubt, then a table. Exit 1 when one is wrong and sure.

--add: the sources of FOLDER become set N: those that dynamo exports, with the peaks of their recorded steps.
"""

import collections, dataclasses, json, os, re, sys, tarfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "..", "packaging", "python")]
import captured, steps

BATCH = 4
PACK = os.path.join(HERE, "people.tar.xz")


def words(source, key):
    return " ".join(re.findall(rf"(?m)^# {key}: (.*)$", source)).split()


def export(bench, name, source, kind):
    torch = bench.torch
    entry = steps.load("zoo", bench.file(name, ".py")).ZOO["case"]
    if kind == ".captured":
        return captured.capture_case(bench, name)
    fixed, static = words(source, "fixed"), words(source, "static")
    inputs, _ = entry.inputs(BATCH if fixed else 2)
    path = bench.file(name, ".onnx.new")
    outputs = words(source, "outputs") or ["output"]
    common = {"input_names": list(inputs), "output_names": outputs, "verbose": False}
    if kind == ".ts":
        torch.onnx.export(
            entry.build().train(),
            (inputs,),
            path,
            dynamo=False,
            opset_version=17,
            training=torch.onnx.TrainingMode.TRAINING,
            do_constant_folding=False,
            dynamic_axes={} if fixed else {k: {0: "batch"} for k in inputs if k not in static},
            **common,
        )
    else:
        dims = {k: {} if k in static else {0: torch.export.Dim("batch")} for k in inputs}
        torch.onnx.export(
            entry.build().train(),
            (),
            path,
            kwargs=inputs,
            dynamo=True,
            external_data=False,
            dynamic_shapes=None if fixed else dims,
            **common,
        )
    model = bench.tools.strip(bench.onnx.load(path))
    bench.tools.tidy_paths(model)
    bench.tidy(model)
    bench.onnx.save(model, path)
    os.rename(path, bench.file(name, kind + ".onnx"))


def options(source, fixed=False):
    said = [] if fixed or words(source, "fixed") else ["--dim", f"batch={BATCH}"]
    said += [f"--loss={loss}" for loss in words(source, "loss") or ["cross-entropy"]]
    return said + [f"--freeze={p}" for p in words(source, "freeze")] + words(source, "more")


def peaks(bench, name, source):
    """Of each precision, as PyTorch's step on fake tensors has it. Layers are made without them where that goes, since
    they count a deep copy's transposed storage twice. A fake tensor that is asked whether it is true, as masks are
    whether they are all ones, says yes, or where the inputs have a mask no: a batch is padded."""
    found = {}
    for precision in steps.PRECISIONS:
        trace, log = bench.file(name, f".{precision}.trace"), bench.file(name, ".log")

        def record(real):
            from torch._subclasses.fake_tensor import FakeTensor

            FakeTensor.__bool__ = lambda _: "attention_mask" not in source
            entry = dataclasses.replace(steps.load("zoo", bench.file(name, ".py")).ZOO["case"], real_build=real)
            bench.record.record("case", entry, BATCH, "adamw", precision, trace=trace + ".tmp")
            os.rename(trace + ".tmp", trace)

        if os.path.exists(trace) or any(steps.apart(log, lambda: record(real)) for real in (True, False)):
            found[precision] = steps.peak(trace, steps.canonical(open(trace)))
        else:
            print("not recorded ", name, precision, steps.reason(log), flush=True)
    return found


def packed():
    with tarfile.open(PACK) as tar:
        return {m.name: tar.extractfile(m).read() for m in tar.getmembers() if m.isfile()}


def add(a, bench):
    files = packed()
    for file in sorted(f for f in os.listdir(a.add) if f.endswith(".py") and re.search(a.only, f[: -len(".py")])):
        name, log = file[: -len(".py")], bench.file(file[: -len(".py")], ".log")
        source = steps.read(a.add, file)
        bench.put(name, source.decode())
        if not os.path.exists(bench.file(name, ".onnx")):
            if not steps.apart(log, lambda: export(bench, name, source.decode(), "")):
                print("not exported ", name, steps.reason(log), flush=True)
                continue
        found = peaks(bench, name, source.decode())
        if found:
            files[f"{a.set}/{file}"], files[f"{a.set}/{name}.json"] = source, json.dumps(found).encode()
            print(f"{a.set}/{name}", found, flush=True)
    steps.archive(PACK, sorted(files.items()))


def run(a, bench):
    if a.add:
        return add(a, bench)
    counts = collections.defaultdict(collections.Counter)
    texts = {name: data.decode() for name, data in packed().items()}
    for file in sorted(n for n in texts if n.endswith(".py")):
        which, name = file[: -len(".py")].split("/")
        if not re.search(a.only, name) or a.set not in ("", which):
            continue
        bench.put(name, texts[file])
        log = bench.file(name, ".log")
        kind = ".captured" if a.captured else ".ts" if a.torchscript else ""
        of = name + kind
        if not os.path.exists(bench.file(of, ".onnx")):
            if not steps.apart(log, lambda: export(bench, name, texts[file], kind)):
                print("not exported ", name, steps.reason(log))
                continue
        for precision, peak in json.loads(texts[f"{which}/{name}.json"]).items():
            said = bench.error(of, options(texts[file], a.captured), precision, {"peak_allocated": peak})
            steps.score(a, counts[which], f"{name} {precision}", *said)
    return steps.scores(counts, "set")


def main():
    ap = steps.arguments(__doc__)
    ap.add_argument("--set", default="", help="of one set alone")
    ap.add_argument("--add", metavar="FOLDER", help="make a set of the sources in this folder")
    how = ap.add_mutually_exclusive_group()
    how.add_argument("--torchscript", action="store_true", help="files by TorchScript's exporter")
    how.add_argument("--captured", action="store_true", help="memlint's own")
    a = ap.parse_args()
    if a.add and not a.set:
        ap.error("--add needs the number of a set: --set N")
    return steps.on_bench(run, a)


if __name__ == "__main__":
    sys.exit(main())
