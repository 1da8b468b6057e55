#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Plans for the operator traces of DTR (uwsampl/dtr-prototype) beside what DTR makes of them.

    tests/oracle/traces.py PLANNER REPOSITORY [NAME...]

PLANNER is tests/traces (make tests/traces), REPOSITORY a checkout: simrd/logs.zip has the traces,
data_files/data-full.json what DTR took on a Titan V, simrd/simrd the simulator in which its authors compared
heuristics (it needs the package attrs). Prints a section of docs/CHECKPOINTS.md, of the traces whose names begin so or
of all.
"""

import json
import math
import os
import subprocess
import sys
import threading
import zipfile

# A trace; what it is; the model that was measured, itself or a larger one of its kind.
TRACES = (
    ("tv_densenet121-84", "DenseNet-121, batch 84", "tv_densenet121", True),
    ("inceptionv4-64", "Inception v4, batch 64", "inceptionv4", True),
    ("transformer-10", "Transformer, batch 10", "transformer", True),
    ("unet-6", "U-Net, batch 6", "unet", True),
    ("resnet32-56", "ResNet-32, batch 56", "resnet1202", False),
    ("lstm-128", "LSTM, length 128", "lstm", False),
    ("treelstm-6", "TreeLSTM, depth 6", "treelstm", False),
    ("unroll_gan-512", "unrolled GAN, batch 512", "unroll_gan", False),
)


class Trace:
    """A log in numbers, as traces.c reads it: tensors are counted from 0 as they appear."""

    def __init__(self, lines):
        self.out, self.tensor = [], {}  # lines; name to tensor
        self.storage, self.bytes, self.names = (
            [],
            [],
            [],
        )  # per tensor its storage; per storage its size and how many names it has
        self.alive = self.peak = 0
        self.turn = self.peak_at = (
            None  # lines of self.out before which the backward pass begins, before which the peak was
        )
        log = iter(json.loads(line) for line in lines)
        for entry in log:
            getattr(self, entry["INSTRUCTION"].lower())(entry, log)
        self.out.insert(self.peak_at if self.turn is None else self.turn, "turn")

    def new(self, size):
        self.bytes.append(size)
        self.names.append(0)
        self.alive += size
        if self.alive > self.peak:
            self.peak, self.peak_at = self.alive, len(self.out)
        return self.view(len(self.bytes) - 1)

    def view(self, storage):
        self.storage.append(storage)
        self.names[storage] += 1
        return len(self.storage) - 1

    def drop(self, tensor):
        storage = self.storage[tensor]
        self.names[storage] -= 1
        if self.names[storage] == 0:
            self.alive -= self.bytes[storage]
            self.out.append(f"free {tensor}")

    def annotate(self, entry, log):
        if entry["ANNOTATION"] == "BACKWARD":
            self.turn = len(self.out)

    def constant(self, entry, log):
        size = int(next(log)["MEMORY"])
        self.tensor[entry["NAME"]] = self.new(size)
        self.out.append(f"constant {size}")

    def copy(self, entry, log):
        self.tensor[entry["DST"]] = self.tensor[entry["SRC"]]
        self.names[self.storage[self.tensor[entry["SRC"]]]] += 1

    def copy_from(self, entry, log):
        old = self.tensor[entry["DST"]]
        self.copy(entry, log)
        self.drop(old)

    def release(self, entry, log):
        if entry["NAME"] in self.tensor:
            self.drop(self.tensor[entry["NAME"]])

    def call(self, entry, log):
        reads, makes = [self.tensor[n] for n in entry["ARGS"]], []
        for name in entry["RESULT"]:
            size, alias = int(next(log)["MEMORY"]), int(next(log)["ALIAS"])
            makes.append(f"@{alias}" if alias >= 0 else str(size))
            self.tensor[name] = self.view(self.storage[reads[alias]]) if alias >= 0 else self.new(size)
        self.out.append(" ".join(["call", entry["TIME"], *map(str, reads), ">", *makes]))

    def mutate(self, entry, log):
        """What is written over is made anew, as in DTR."""
        reads = [self.tensor[n] for n in entry["ARGS"]]
        sizes = [self.bytes[self.storage[reads[i]]] for i in entry["MUTATE"]]
        for i, size in zip(entry["MUTATE"], sizes):
            self.tensor[entry["ARGS"][i]] = self.new(size)
        self.out.append(" ".join(["call", entry["TIME"], *map(str, reads), ">", *map(str, sizes)]))
        for i in entry["MUTATE"]:
            self.drop(reads[i])


def simulated(repository, lines, shares):
    """Extra time of DTR in its authors' simulator, per share of the peak; None where it gives up."""
    sys.path.insert(0, os.path.join(repository, "simrd"))
    from simrd.heuristic import DTREqClass, Heuristic
    from simrd.parse import parse_file
    from simrd.runtime import RuntimeV1, RuntimeV2EagerOptimized

    run = parse_file(lines).get_closure()
    base = RuntimeV1(math.inf, Heuristic(), stats=False, trace=False)
    run(base)
    time, peak = base.telemetry.summary["model_compute"], base.telemetry.summary["max_memory"]
    for share in shares:
        runtime = RuntimeV2EagerOptimized(
            int(share * peak), DTREqClass(), remat_limit=4 * time, trace=False, stats=False
        )
        try:
            run(runtime)
            yield 100 * (runtime.clock / time - 1)
        except Exception as e:  # its own: out of memory, too much work
            print(f"{share:.2f}: {type(e).__name__}", file=sys.stderr)
            yield None


def measured(repository, name):
    """Shares of the memory and extra time, as its authors measured DTR."""
    with open(os.path.join(repository, "data_files", "data-full.json")) as f:
        runs = [r["summary"][0] for r in json.load(f)[name] if isinstance(r.get("summary"), list)]
    base = runs[0]
    return [
        (r["total_mem"]["mean"] / base["total_mem"]["mean"], 100 * (r["time"]["mean"] / base["time"]["mean"] - 1))
        for r in runs[1:]
    ]


def planned(planner, trace, shares):
    done = subprocess.run(
        [planner, *(f"{s:.6f}" for s in shares)], input="\n".join(trace.out) + "\n", capture_output=True, text=True
    )
    if done.returncode:
        sys.exit(f"{planner}: {done.stderr}")
    return [line.split() for line in done.stdout.splitlines()]


def rows(planner, repository, archive, only):
    """Prints them; for each the three costs, None where there is none."""
    for begin, title, name, same in TRACES:
        if only and not any(begin.startswith(o) for o in only):
            continue
        member = next(m for m in archive.namelist() if os.path.basename(m).startswith(begin))
        lines = archive.read(member).decode().splitlines()
        points = measured(repository, name)
        shares = [share for share, _ in points]
        trace = Trace(lines)
        for (share, cost), simulation, (_, extra, least) in zip(
            points, simulated(repository, lines, shares), planned(planner, trace, shares)
        ):
            print(
                f"| {title} | {100 * share:.0f} % | {cost:.1f} %{'' if same else ' (larger)'} | "
                f"{'gave up' if simulation is None else f'{simulation:.1f} %'} | "
                f"{'not reached' if extra == '-' else extra + ' %'} | {100 * float(least):.0f} % |",
                flush=True,
            )
            yield cost, simulation, None if extra == "-" else float(extra)


def main():
    planner, repository, *only = sys.argv[1:]
    sys.setrecursionlimit(10**6)
    print("""
## Operator traces

DTR's repository has traces of eight training steps: every call with its time, every tensor with its bytes, every \
release. Here the planner of
operator plans works on a trace's own bytes and times, and what it chooses is judged call by call, with no model of \
PyTorch between
(`tests/traces.c`; printed by `tests/oracle/traces.py`). "Measured" is the extra time that DTR took on a Titan V \
within that share of the memory,
search included, for some traces on a larger model of the kind; "simulated" what its heuristic recomputes on the same \
trace in its authors'
simulator, within the same share of the trace's peak. Plans count what they recompute, as the simulator does, in \
percent of the time of all calls.
""")
    print(
        "| trace | share | DTR, measured | DTR, simulated | operator plan | least share |\n| --- | ---: | ---: | "
        "---: | ---: | ---: |"
    )
    with zipfile.ZipFile(os.path.join(repository, "simrd", "logs.zip")) as archive:
        found = list(rows(planner, repository, archive, only))
    below = [
        sum(plan is not None and (cost is None or plan < round(cost, 1)) for cost, plan in which)
        for which in ([(m, p) for m, _, p in found], [(s, p) for _, s, p in found])
    ]
    print(
        f"\nOf {len(found)} plans {below[0]} cost less than was measured, and {below[1]} less than was simulated: "
        f"DTR drops single tensors, the planner what a "
        "run of calls\nsaves but for the results that cost most for their bytes."
    )


if __name__ == "__main__":
    threading.stack_size(1 << 29)  # the simulator recurses
    thread = threading.Thread(target=main)
    thread.start()
    thread.join()
