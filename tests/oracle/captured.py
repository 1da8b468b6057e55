#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Steps of programs that memlint's own export captured, against PyTorch's, event by event.

    captured.py MEMLINT RECORD.PY EXPORT.PY --keep DIR [--only REGEX] [--pack FILE] [-v]
    captured.py MEMLINT RECORD.PY EXPORT.PY --zoo ZOO.PY --records RECORDS.JSONL [--only REGEX] [--keep DIR]

DIR has what the other recorders left there: NAME.py, a zoo, and PyTorch's events in NAME.PRECISION.trace, with
memlint's options in NAME.options where the case has some. What is not captured yet is captured. Verdicts as in
programs.py. Exit 1 when one is wrong and sure.

Of a zoo the models are captured, and the peaks of recorded steps compared; what is off by less than 0.5 % is right.
"""

import collections, json, os, re, sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "..", "packaging", "python")]
import steps


def capture(bench, entry, batch, dims, path, device="cpu"):
    inputs, _ = entry.inputs(batch)
    with bench.torch.device(device):
        model = entry.build()
    model = steps.capture(model.train(), inputs, dims)
    bench.tidy(model)
    bench.onnx.save(model, path)


def capture_case(bench, name):
    entry = steps.load("zoo", bench.file(name, ".py")).ZOO["case"]
    capture(bench, entry, 4, lambda path, t: {}, bench.file(name, ".captured.onnx"))


def run(a, bench):
    import memlint.exporting  # once, not once a case

    count, exact = collections.Counter(), []
    for trace in sorted(os.listdir(a.keep)):
        name, precision = re.fullmatch(r"(.*?)(?:\.([\w-]+)\.trace)?", trace).groups()
        if not precision or not re.search(a.only, name):
            continue
        log = bench.file(name, ".captured.log")
        if not os.path.exists(bench.file(name, ".captured.onnx")) and not steps.apart(
            log, lambda: capture_case(bench, name)
        ):
            count["skipped"] += 1
            print("skipped", name, steps.reason(log), flush=True)
            continue
        said = steps.options(bench.folder, name)
        verdict, truth, got = bench.compare(name, said, precision, model=name + ".captured")
        count[verdict] += 1
        if verdict == "exact":
            exact.append((name, said, precision))
        else:
            at = steps.peak(bench.file(name, f".{precision}.trace"), truth), steps.peak(
                bench.file(name, f".{precision}.trace"), got
            )
            print(f"{verdict} {name} {precision}: peak {100 * (at[1] / at[0] - 1):+.2f} %", flush=True)
            print(*steps.first_difference(truth, got, 3), sep="\n", flush=True)
    print(", ".join(f"{n} {word}" for word, n in count.items()))
    if a.pack:
        steps.pack(bench.folder, a.pack, exact, model=".captured")
    return count["wrong"] > 0


def capture_model(bench, entry, path):
    device = "cpu" if entry.real_build else "meta"
    capture(bench, entry, 2, lambda path, t: {0: "batch"} if t.dim() else {}, path, device)


def run_zoo(a, bench):
    import memlint.exporting, torchvision, transformers  # once, not once a model

    zoo, count = steps.load("zoo", os.path.realpath(a.zoo)).ZOO, collections.Counter()
    for r in map(json.loads, open(a.records)):
        name = r["model"]
        path, log = bench.file(name, ".onnx"), bench.file(name, ".log")
        if r["what"] != "fake" or name not in zoo or not re.search(a.only, name):
            continue
        if not os.path.exists(path) and not steps.apart(log, lambda: capture_model(bench, zoo[name], path)):
            count["not captured"] += 1
            print("not captured", name, steps.reason(log), flush=True)
            continue
        said = [f"--{k}={r[k]}" for k in ("loop", "loss")] + ["--dim", f"batch={r['batch']}"]
        error, sure, why = bench.error(name, said, r["precision"], r, r["optimizer"])
        verdict = "exact" if error == 0 else "right" if abs(error) <= 0.5 else "wrong"
        verdict = f"{'sure' if sure else 'doubt'} {verdict}"
        count[verdict] += 1
        if verdict != "sure exact" or a.v:
            print(f"{error:+8.3f} %  {verdict}  {name} {r['batch']} {r['optimizer']} {r['precision']} {why[:1]}")
    print(", ".join(f"{n} {word}" for word, n in count.items()))
    return count["sure wrong"] > 0


def main():
    parser = steps.arguments(__doc__)
    parser.add_argument("--zoo", metavar="ZOO.PY")
    parser.add_argument("--records", metavar="FILE")
    a = parser.parse_args()
    return steps.on_bench(run_zoo if a.zoo else run, a)


if __name__ == "__main__":
    os.environ.setdefault("MEMLINT", os.path.realpath(sys.argv[1]) if len(sys.argv) > 1 else "")
    sys.exit(main())
