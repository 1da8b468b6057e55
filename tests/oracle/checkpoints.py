#!/usr/bin/env python3
"""Compare memlint's checkpoint plans with PyTorch's own steps.

    checkpoints.py MEMLINT RECORD.PY MODELS.tar.xz > docs/CHECKPOINTS.md

For every model three plans of the front (a third of the way down, two thirds, the lowest peak) are recorded with
`record.py MODEL --checkpoint MODULE...` (fake tensors, AdamW) and set beside memlint's peak. Needs PyTorch.
"""
import json
import subprocess
import sys
import tarfile
import tempfile

MODELS = (("nanogpt", 4), ("gpt2_nodrop", 4), ("resnet50", 16), ("densenet121", 8), ("vit_b_16", 16),
          ("bert_base_nodrop", 4), ("t5_small_nodrop", 4), ("unet", 4))


def main():
    memlint, record, models = sys.argv[1:4]
    with tempfile.TemporaryDirectory() as folder:
        tarfile.open(models).extractall(folder, filter="data")
        found = {p.rsplit("/", 1)[-1]: p for p in subprocess.check_output(["find", folder, "-name", "*.onnx"], text=True).split()}
        rows = []
        for name, batch in MODELS:
            out = subprocess.check_output([memlint, found[name + ".dynamo.onnx"], "--dim", f"batch={batch}", "--dropout", "none",
                                           "--assume", "accumulate=never", "--recompute", "auto", "--format=json"])
            result = json.loads(out)
            front, bound = result["recompute"]["front"], result["recompute"]["lower_bound"]
            last = len(front) - 1
            for at in sorted({max(1, last // 3), max(1, 2 * last // 3), last}):
                plan = front[at]
                rec = subprocess.check_output([sys.executable, record, name, "--batch", str(batch), "--checkpoint",
                                               *plan["modules"]], stderr=subprocess.DEVNULL)
                truth = json.loads(rec)["peak_allocated"]
                rows.append((name, batch, front[0]["peak"], plan, truth, bound))
                print(name, plan["peak"], truth, file=sys.stderr)
    print("# Checkpoint plans against PyTorch\n")
    print("Printed by `tests/oracle/checkpoints.py`: module plans of `--recompute auto`, each recorded with PyTorch 2.11 "
          "(`record.py MODEL --checkpoint MODULE...`, fake tensors, AdamW, fp32).\n")
    print("| model | batch | no checkpoints | modules | extra FLOPs | memlint | PyTorch | error | lower bound |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    for name, batch, base, plan, truth, bound in rows:
        print(f"| {name} | {batch} | {base:,} | {len(plan['modules'])} | {plan['extra_flops_percent']:.1f} % | {plan['peak']:,} | "
              f"{truth:,} | {100 * (plan['peak'] - truth) / truth:+.3f} % | {bound:,} |")
    worst = max(abs(p["peak"] - t) / t for _, _, _, p, t, _ in rows)
    print(f"\n{len(rows)} plans, worst {100 * worst:.3f} %.")
    return worst > .002


if __name__ == "__main__":
    sys.exit(main())
