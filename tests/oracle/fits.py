#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Which batch is the largest that a GPU holds: training steps are run until one is out of memory.

    fits.py ORACLE OUT --zoo FILE --guess FILE [--jobs N] [--room GIB] [--seconds N]

ORACLE has record.py. A line of --guess is a search: "model" of the zoo, "precision", "limit" (bytes that PyTorch's
allocator may take, `torch.cuda.set_per_process_memory_fraction`) and the "batch" to begin at, as memlint says it. Each
step is a process of its own, of three iterations. OUT has a line for each search: what was asked and "ran", the
largest batch that ran, "failed", the smallest that did not, "retries", how often the allocator gave back what it had
cached for the largest one, and how many steps that took. A search that is cut off or failed for another reason has
"error". Searches run side by side while their limits fit in the room.
"""

import argparse, json, os, signal, sys, tempfile, time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import crowd, steps

GIB = 1 << 30


def runs(recorder, entry, batch, task):
    """The record of a step at a batch under the limit; None where it is out of memory."""
    with tempfile.TemporaryFile("w+") as f:
        process = os.fork()
        if not process:
            os.setsid()
            signal.alarm(120)
            try:
                import torch

                total = torch.cuda.get_device_properties(0).total_memory
                torch.cuda.set_per_process_memory_fraction(task["limit"] / total)
                try:
                    row = recorder.record(task["model"], entry, batch, "adamw", task["precision"])
                except torch.OutOfMemoryError:
                    row = None
                json.dump({"row": row}, f)
            except BaseException as error:
                json.dump({"error": f"{type(error).__name__}: {str(error)[:200]}"}, f)
            f.flush()
            os._exit(0)
        os.waitpid(process, 0)
        f.seek(0)
        said = json.loads(f.read() or '{"error": "it died"}')
    if "error" in said:
        raise RuntimeError(said["error"])
    return said["row"]


def search(recorder, entry, task):
    """The border between what runs and what does not: steps of 1, 2, 4, ... from the guess, then halves."""
    ran, failed, step, row, batch, count = 0, None, 1, None, task["batch"], 0
    while failed is None or failed - ran > 1:
        found, count = runs(recorder, entry, batch, task), count + 1
        if found:
            ran, row = batch, found
        else:
            failed = batch
        if failed is None:
            batch = ran + step
        elif ran == 0:
            batch = max(1, failed - step)
            if failed == 1:
                break
        else:
            batch = (ran + failed) // 2
        step *= 2
    more = {"retries": row["alloc_retries"], "reserved": row["peak_reserved"]} if row else {}
    return {"ran": ran, "failed": failed, "steps": count, **more}


def child(out, recorder, zoo, task):
    """Begins a search in a process of its own, which adds its line to `out`."""
    process = os.fork()
    if process:
        return process
    try:
        said = search(recorder, zoo[task["model"]], task)
    except BaseException as error:
        said = {"error": str(error)}
    with open(out, "a") as f:
        f.write(json.dumps({**task, **said}) + "\n")
    os._exit(0)


def main():
    ap = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ap.add_argument("oracle")
    ap.add_argument("out")
    ap.add_argument("--zoo", required=True)
    ap.add_argument("--guess", required=True)
    ap.add_argument("--jobs", type=int, default=5)
    ap.add_argument("--room", type=float, default=120, help="GiB of the GPU")
    ap.add_argument("--seconds", type=float, default=1e9, help="no search begins later")
    a = ap.parse_args()
    begun = time.monotonic()
    sys.path.insert(0, a.oracle)
    import torch, torchvision, transformers

    recorder = steps.load("record", os.path.join(a.oracle, "record.py"))
    torch.set_num_threads(1)
    zoo = steps.load("zoo", os.path.realpath(a.zoo)).ZOO
    waiting = [json.loads(line) for line in open(a.guess)]
    for _ in crowd.side_by_side(
        waiting, lambda t: t["limit"] / GIB, lambda t: child(a.out, recorder, zoo, t), a, begun
    ):
        pass
    print(f"{time.monotonic() - begun:.0f} s")


if __name__ == "__main__":
    main()
