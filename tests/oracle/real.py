#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Random programs on PyTorch's own CUDA allocator, where no GPU is: peaks and phases against memlint's, to the byte.

    real.py MEMLINT RECORD.PY --keep DIR [--only REGEX] [--precision P] [--count N]

DIR has what programs.py --captured left there: NAME.py, NAME.onnx, NAME.options. RECORD.PY is the oracle's, with
nullgpu.cpp beside it; tensors are CUDA's there and their host code runs, kernels don't. What fake tensors do otherwise
is seen here: views made anew by strides, workspaces, copies for cuBLAS, blocks that are not split. Verdicts as in
programs.py. Exit 1 when one is wrong.
"""
import argparse, collections, json, os, re, subprocess, sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import steps


def start(record):
    """This program again, with the null GPU for a driver, as record.py starts itself."""
    null = os.path.join(record.CACHE, "nullgpu.so")
    if os.environ.get("LD_PRELOAD") != null:
        example = [sys.executable, record.__file__, "--null-gpu", "--help"]  # which builds it
        subprocess.run(example, stdout=subprocess.DEVNULL, check=True)
        os.execve(sys.executable, [sys.executable] + sys.argv, dict(os.environ, LD_PRELOAD=null))


def arguments(doc):
    """What the recorders on PyTorch's own allocator share."""
    ap = argparse.ArgumentParser(description=doc.splitlines()[0])
    ap.add_argument("memlint")
    ap.add_argument("record")
    ap.add_argument("--keep", required=True, metavar="DIR")
    ap.add_argument("--only", default="", metavar="REGEX")
    return ap


def begin(a):
    """The oracle's record.py, on the null GPU."""
    a.memlint = os.path.realpath(a.memlint)
    record = steps.load("record", os.path.realpath(a.record))
    start(record)
    return record


def measure(record, folder, name, precision):
    entry = steps.load("zoo", os.path.join(folder, name + ".py")).ZOO["case"]
    truth = record.record("case", entry, entry.batches[0], "sgd", precision, "plain")
    with open(os.path.join(folder, f"{name}.{precision}.real"), "w") as f:
        json.dump(truth, f)


def compare(memlint, folder, name, precision):
    """(verdict, what differs)"""
    said = json.load(open(os.path.join(folder, name + ".options")))
    command = [memlint, os.path.join(folder, name + ".onnx"), *said, "--precision", precision, "--format=json"]
    answer = json.loads(subprocess.run(command, capture_output=True, text=True).stdout)
    truth = json.load(open(os.path.join(folder, f"{name}.{precision}.real")))
    want = {"peak": truth["peak_allocated"], **truth["allocated_after"]}
    got = {"peak": answer["peak"]["allocated"], **answer["allocated_after"]}
    apart = [f"{k} {got[k] - want[k]:+d} of {want[k]}" for k in want if got.get(k) != want[k]]
    return "exact" if not apart else "doubt" if answer["verdict"] == "inconclusive" else "wrong", apart


def main():
    ap = arguments(__doc__)
    ap.add_argument("--precision", default="fp32", choices=("fp32", "amp-bf16", "bf16"))
    ap.add_argument("--count", type=int, default=1 << 30, help="most programs")
    a = ap.parse_args()
    record, count, left = begin(a), collections.Counter(), a.count
    for file in sorted(os.listdir(a.keep)):
        name, end = os.path.splitext(file)
        if end != ".onnx" or not os.path.exists(os.path.join(a.keep, name + ".options")) or not re.search(a.only, name):
            continue
        if not left:
            break
        left -= 1
        log = os.path.join(a.keep, name + ".real.log")
        if not os.path.exists(os.path.join(a.keep, f"{name}.{a.precision}.real")) and not steps.apart(
            log, lambda: measure(record, a.keep, name, a.precision)
        ):
            count["skipped"] += 1
            print("skipped", name, steps.reason(log), flush=True)
            continue
        verdict, apart = compare(a.memlint, a.keep, name, a.precision)
        count[verdict] += 1
        if verdict != "exact":
            print(verdict, name, *apart, sep="  ", flush=True)
    print(", ".join(f"{count[v]} {v}" for v in ("exact", "doubt", "wrong", "skipped")))
    return count["wrong"] != 0


if __name__ == "__main__":
    sys.exit(main())
