#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Records of training steps on a GPU, many at once: PyTorch's allocator counts for each process alone.

    crowd.py ORACLE OUT [--zoo FILE...] [--flags] [--people] [--history] [--moved] [--only REGEX] [--jobs N]
             [--room GIB] [--seconds N]

ORACLE has record.py and zoo.py. Each set-up is a child of this process, which has imported everything and has not
touched the GPU, so that a record takes seconds; children are begun while their peaks, as known from elsewhere, are
expected to fit in the room. Written: a line of JSON for each record. Beside record.py's own fields stand

    process_used   bytes of the GPU that the driver counts for this process after the step (NVML); None where unknown
    zoo            the file that the model is from, or the set of people.tar.xz
    flags          what was set of torch.backends.cudnn, or channels_last
    known          the peak that people.tar.xz has
    history        with --history, what the allocator did: its action, address and bytes

Models are built on the GPU, as record.py does, or with --moved on the CPU and moved there, as most people do and
memlint counts.

Models of people.tar.xz are recorded in both precisions by one child, and in an order that depends on nothing but their
names, so that a run that is cut off has a sample. What OUT has already is not taken again.
"""

import argparse, gc, hashlib, json, os, re, signal, sys, tarfile, tempfile, time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import steps

GIB = 1 << 30
FLAGS = ("deterministic", "benchmark", "no-tf32", "channels_last")
NETS = ("resnet18", "resnet50", "vgg16", "mobilenet_v2", "densenet121", "convnext_tiny", "unet")  # for FLAGS
EXPECTED = 2  # GiB of a record whose peak nobody knows
CONTEXT = 1  # GiB beside each


def process_used():
    try:
        import pynvml

        pynvml.nvmlInit()
        handle = pynvml.nvmlDeviceGetHandleByIndex(0)
        mine = [p for p in pynvml.nvmlDeviceGetComputeRunningProcesses(handle) if p.pid == os.getpid()]
        return mine[0].usedGpuMemory
    except Exception:
        return None


def set_flags(flags, entry):
    import torch

    for flag in flags:
        if flag == "no-tf32":
            torch.backends.cudnn.allow_tf32 = False
        elif flag != "channels_last":
            setattr(torch.backends.cudnn, flag, True)
    if "channels_last" in flags:
        build, inputs = entry.build, entry.inputs
        to = lambda t: t.to(memory_format=torch.channels_last) if t.dim() == 4 else t
        entry.build = lambda: build().to(memory_format=torch.channels_last)

        def given(batch):
            x, targets = inputs(batch)
            return {k: to(v) for k, v in x.items()}, targets

        entry.inputs = given


def move(entry):
    import torch

    build = entry.build

    def moved():
        with torch.device("cpu"):
            return build().to("cuda")

    entry.build = moved


ACTIONS = {"segment_alloc": "S", "segment_free": "F", "alloc": "+", "free_completed": "-"}


def history():
    import torch

    trace = torch.cuda.memory._snapshot()["device_traces"][0]
    return [[ACTIONS[t["action"]], t["addr"], t["size"]] for t in trace if t["action"] in ACTIONS]


def take(a, recorder, out, zoo, name, rows, more):
    """Records rows of a model one after another, each from an allocator that has nothing: its lines to out."""
    import torch

    entry = steps.load("zoo", zoo).ZOO[name]
    set_flags(more.get("flags", ()), entry)
    if a.moved:
        move(entry)
    for batch, optimizer, precision, loop in rows:
        if a.history:
            torch.cuda.memory._record_memory_history("all", context=None, max_entries=1 << 20)
        row = recorder.record(name, entry, batch, optimizer, precision, loop)
        if a.history:
            row["history"] = history()
        row.update(more, process_used=process_used(), known=more.get("known", {}).get(precision))
        with open(out, "a") as f:
            f.write(json.dumps(row) + "\n")
        torch._C._cuda_clearCublasWorkspaces()
        gc.collect()
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()


def expected(oracle):
    """Reserved GiB by set-up, of the records of a stand-in device where they lie in ORACLE."""
    path = os.path.join(oracle, "records-cuda.jsonl")
    rows = map(json.loads, open(path)) if os.path.exists(path) else ()
    return {(r["model"], r["batch"], r["precision"]): r["peak_reserved"] / GIB for r in rows}


def tasks(a, tmp):
    """(expected GiB, zoo, name, rows, more) of all that is to be recorded, in order."""
    known = expected(a.oracle)
    for zoo in [os.path.join(a.oracle, "zoo.py")] if a.zoo is None else a.zoo:
        of = os.path.basename(zoo)
        for name, entry in steps.load("zoo", zoo).ZOO.items():
            if not re.search(a.only, name):
                continue
            for row in entry.setups():
                yield known.get((name, row[0], row[2]), EXPECTED), zoo, name, [row], {"zoo": of}
            for flag in FLAGS if a.flags and name in NETS else ():
                for precision in ("fp32", "amp-bf16"):
                    room = 2 * known.get((name, entry.batches[0], precision), EXPECTED)
                    row = entry.batches[0], "adamw", precision, "plain"
                    yield room, zoo, name, [row], {"zoo": of, "flags": [flag]}
    if a.people:
        with tarfile.open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "people.tar.xz")) as tar:
            texts = {m.name: tar.extractfile(m).read() for m in tar.getmembers() if m.isfile()}
        files = [f for f in texts if f.endswith(".py") and re.search(a.only, f)]
        for file in sorted(files, key=lambda f: hashlib.sha256(f.encode()).digest()):
            path = os.path.join(tmp, file.replace("/", "_"))
            with open(path, "wb") as f:
                f.write(texts[file])
            which, name = file[: -len(".py")].split("/")
            peaks = json.loads(texts[f"{which}/{name}.json"])
            rows = [(4, "adamw", precision, "plain") for precision in peaks]
            yield EXPECTED, path, "case", rows, {"zoo": which, "of": name, "known": peaks}


def key(row):
    """What tells a task by its first record."""
    setup = [row[k] for k in ("batch", "optimizer", "precision", "loop")]
    return json.dumps([row["zoo"], row.get("of", row["model"]), row.get("flags"), *setup])


def key_of(task):
    _, _, name, rows, more = task
    return key({"model": name, **more, **dict(zip(("batch", "optimizer", "precision", "loop"), rows[0]))})


def child(a, recorder, task, number, tmp):
    """Begins a record; its process."""
    process = os.fork()
    if process:
        return process
    status = 1
    signal.alarm(a.longest)
    log = open(os.path.join(tmp, f"{number}.log"), "w")
    os.dup2(log.fileno(), 1)
    os.dup2(log.fileno(), 2)
    try:
        take(a, recorder, os.path.join(tmp, f"{number}.jsonl"), *task[1:])
        status = 0
    except BaseException as error:
        print(f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}", flush=True)
    os._exit(status)


def gather(a, number, task, tmp, status):
    """What a child left: its records to the output, why it failed to standard error."""
    path, log = (os.path.join(tmp, f"{number}.{end}") for end in ("jsonl", "log"))
    if os.path.exists(path):
        with open(path) as said, open(a.out, "a") as out:
            out.write(said.read())
    if status:
        lines = open(log, errors="replace").read().strip().splitlines()
        rows = " ".join(map(str, task[3][0]))
        print("FAILED", task[4].get("of", task[2]), rows, (lines or ["it died"])[-1][:200], file=sys.stderr, flush=True)


def side_by_side(waiting, needs, begin, a, begun):
    """Begins a child for each task while what they need, in GiB, fits in the room; yields each with its exit status."""
    running = {}
    while waiting or running:
        if time.monotonic() - begun > a.seconds and waiting:
            print(f"{len(waiting)} not begun", file=sys.stderr)
            waiting = []
        taken = sum(needs(task) + CONTEXT for task in running.values())
        fits = next((t for t in waiting if not running or taken + needs(t) + CONTEXT <= a.room), None)
        if fits and len(running) < a.jobs:
            waiting.remove(fits)
            running[begin(fits)] = fits
        elif running:
            process, status = os.wait()
            yield running.pop(process), status


def main():
    ap = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ap.add_argument("oracle")
    ap.add_argument("out")
    ap.add_argument("--zoo", nargs="*", help="instead of ORACLE's zoo.py; none where it is empty")
    ap.add_argument("--only", default="")
    ap.add_argument("--flags", action="store_true", help="convolution nets under flags of torch.backends.cudnn, too")
    ap.add_argument("--people", action="store_true", help="the models of people.tar.xz, too")
    ap.add_argument("--history", action="store_true")
    ap.add_argument("--moved", action="store_true")
    ap.add_argument("--jobs", type=int, default=os.cpu_count())
    ap.add_argument("--room", type=float, default=60, help="GiB of the GPU")
    ap.add_argument("--seconds", type=float, default=1e9, help="none is begun later")
    ap.add_argument("--longest", type=int, default=90, help="seconds of one record")
    a = ap.parse_args()
    begun = time.monotonic()
    sys.path.insert(0, a.oracle)
    import torch, torchvision, transformers

    recorder = steps.load("record", os.path.join(a.oracle, "record.py"))
    torch.set_num_threads(1)
    failed, done = 0, 0
    with tempfile.TemporaryDirectory() as tmp:
        known = {key(json.loads(line)) for line in open(a.out)} if os.path.exists(a.out) else set()
        waiting = [w for w in enumerate(tasks(a, tmp)) if key_of(w[1]) not in known]
        ended = side_by_side(waiting, lambda w: w[1][0], lambda w: child(a, recorder, w[1], w[0], tmp), a, begun)
        for (number, task), status in ended:
            gather(a, number, task, tmp, status)
            failed += status != 0
            done += 1
    print(f"{done} children, {failed} failed, {time.monotonic() - begun:.0f} s")


if __name__ == "__main__":
    main()
