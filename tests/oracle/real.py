#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Random programs on PyTorch's own CUDA allocator, where no GPU is: peaks, phases and births against memlint's.

    real.py MEMLINT RECORD.PY --keep DIR [--only REGEX] [--precision P...] [--count N] [--pack FILE]

DIR has what programs.py --captured or opdb.py --exporter capture left there: NAME.py, NAME.onnx and, where a case has
options of its own, NAME.options. RECORD.PY is the oracle's, with nullgpu.cpp beside it; tensors are CUDA's there and
their host code runs, kernels don't. What fake tensors do otherwise is seen here: views made anew by strides,
workspaces, copies for cuBLAS, blocks that are not split. What the last step asks for is compared in order, too, since
blocks are found by it. Verdicts as in programs.py. Exit 1 when one is wrong.
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


def births(torch):
    """Bytes of the blocks that were asked for since the history began, in order."""
    events = torch.cuda.memory._snapshot()["device_traces"][0]
    return [max(512, -(-e["size"] // 512) * 512) for e in events if e["action"] == "alloc"]


def measure(record, folder, name, precision):
    torch, entry = record.torch, steps.load("zoo", os.path.join(folder, name + ".py")).ZOO["case"]
    reset = torch.cuda.reset_peak_memory_stats

    def last_step():
        reset()
        torch.cuda.memory._record_memory_history(context=None, max_entries=1 << 20)

    torch.cuda.reset_peak_memory_stats = last_step
    truth = record.record("case", entry, entry.batches[0], "sgd", precision, "plain")
    truth["births"] = births(torch)
    with open(os.path.join(folder, f"{name}.{precision}.real"), "w") as f:
        json.dump(truth, f)


def compare(memlint, folder, name, precision):
    """(verdict, what differs)"""
    said = steps.options(folder, name)
    command = [memlint, os.path.join(folder, name + ".onnx"), *said, "--precision", precision, "--format=json"]
    answer = json.loads(subprocess.run(command, capture_output=True, text=True).stdout)
    truth = json.loads(steps.read(folder, f"{name}.{precision}.real"))
    want = {"peak": truth["peak_allocated"], "reserved": truth["peak_reserved"], **truth["allocated_after"]}
    got = {"peak": answer["peak"]["allocated"], "reserved": answer["peak"]["reserved"], **answer["allocated_after"]}
    apart = [f"{k} {got[k] - want[k]:+d} of {want[k]}" for k in want if got.get(k) != want[k]]
    events = subprocess.run([*command[:-1], "--dump=step"], capture_output=True, text=True).stdout.splitlines()[1:]
    asked = [int(e.split("\t")[1]) for e in events if e.startswith("+")]
    if asked != truth["births"]:
        at = next((i for i, (a, b) in enumerate(zip(asked, truth["births"])) if a != b), -1)
        apart.append(f"birth {at}: {asked[at]} for {truth['births'][at]}")
    return "exact" if not apart else "doubt" if answer["verdict"] == "inconclusive" else "wrong", apart


def real_text(folder, name, precision):
    """memlint's options, allocated and reserved bytes at the peak, and the births, a line each."""
    said = steps.options(folder, name)
    truth = json.loads(steps.read(folder, f"{name}.{precision}.real"))
    lines = [" ".join(["--precision", precision, *said]), truth["peak_allocated"], truth["peak_reserved"]]
    return "".join(f"{line}\n" for line in [*lines, *truth["births"]]).encode()


def check(a, record, count, name, precision):
    """Whether the program is exact."""
    log = os.path.join(a.keep, f"{name}.{precision}.real.log")
    if not os.path.exists(os.path.join(a.keep, f"{name}.{precision}.real")) and not steps.apart(
        log, lambda: measure(record, a.keep, name, precision)
    ):
        count["skipped"] += 1
        print("skipped", name, precision, steps.reason(log), flush=True)
        return False
    verdict, apart = compare(a.memlint, a.keep, name, precision)
    count[verdict] += 1
    if verdict != "exact":
        print(verdict, name, precision, *apart, sep="  ", flush=True)
    return verdict == "exact"


def main():
    ap = arguments(__doc__)
    ap.add_argument("--precision", default=["fp32"], nargs="+", choices=("fp32", "amp-bf16", "bf16"))
    ap.add_argument("--count", type=int, default=1 << 30, help="most programs")
    ap.add_argument("--pack", metavar="FILE", help="an archive for tests/steps.sh of those that are exact")
    a = ap.parse_args()
    record, count, left, files = begin(a), collections.Counter(), a.count, []
    for file in sorted(os.listdir(a.keep)):
        name, end = os.path.splitext(file)
        if end != ".onnx" or not os.path.exists(os.path.join(a.keep, name + ".py")) or not re.search(a.only, name):
            continue
        if not left:
            break
        left -= 1
        steps_of = [
            (f"{name}.{p}.real", real_text(a.keep, name, p)) for p in a.precision if check(a, record, count, name, p)
        ]
        files += [(name + ".onnx", steps.read(a.keep, name + ".onnx")), *steps_of] if steps_of else []
    if a.pack:
        steps.archive(a.pack, files)
    print(", ".join(f"{count[v]} {v}" for v in ("exact", "doubt", "wrong", "skipped")))
    return count["wrong"] != 0


if __name__ == "__main__":
    sys.exit(main())
