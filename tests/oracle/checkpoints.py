#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compare memlint's checkpoint plans with PyTorch's own steps, and with what planners published.

    checkpoints.py MEMLINT RECORD.PY MODELS.tar.xz > docs/CHECKPOINTS.md
    traces.py tests/traces DTR >> docs/CHECKPOINTS.md

For every model three module plans of the front (a third of the way down, two thirds, the lowest peak) are recorded with
`record.py MODEL --checkpoint MODULE...` and three selective plans with selective.py (fake tensors, AdamW) and set
beside memlint's peak. Needs PyTorch.
"""

import json
import os
import subprocess
import sys
import tarfile
import tempfile

MODELS = (
    ("nanogpt", 4),
    ("gpt2_nodrop", 4),
    ("resnet50", 16),
    ("densenet121", 8),
    ("vit_b_16", 16),
    ("bert_base_nodrop", 4),
    ("t5_small_nodrop", 4),
    ("unet", 4),
    ("llama_small", 4),
)

# model, batch, who published it, and for a share of the memory without checkpoints the extra time in percent of a step.
# OGC counts activations alone, the others all of the memory.
PUBLISHED = (
    ("resnet50", 64, "OGC", (1973 / 5323, 31)),
    ("resnet101", 32, "OGC", (1024 / 3934, 35)),
    ("resnet152", 16, "OGC", (526 / 2767, 37)),
    ("densenet121", 32, "OGC", (898 / 4027, 34)),
    ("densenet201", 16, "OGC", (474 / 3146, 53)),
    ("inception_v3", 32, "OGC", (881 / 3074, 29)),
    ("vgg16", 64, "OGC", (3565 / 5136, 32)),
    ("resnet50", 184, "MONeT", (8.01 / 15.06, 5.56), (6.00 / 15.06, 9.31), (4.99 / 15.06, 11.95)),
    ("googlenet", 320, "MONeT", (8.01 / 14.93, 8.44), (4.99 / 14.93, 15.77)),
    ("unet", 11, "MONeT", (7.00 / 14.32, 1.39), (5.01 / 14.32, 11.51)),
    ("vgg16", 176, "MONeT", (7.88 / 14.12, -2.18), (5.51 / 14.12, 9.11)),
    ("mobilenet_v2", 272, "MONeT", (7.01 / 14.46, 5.53), (5.01 / 14.46, 8.72)),
    ("densenet121", 84, "DTR", (6.10 / 11.03, 29.3), (4.27 / 11.03, 51.4)),
    ("unet", 6, "DTR", (6.35 / 8.42, 14.1)),
    ("vit_b_16", 64, "HiRemate, transformers", (0.5, 15), (0.4, 15)),
    ("gpt2_nodrop", 16, "HiRemate, transformers", (0.5, 15), (0.4, 15)),
)


def analyse(memlint, path, batch, *more, budget="auto"):
    return json.loads(
        subprocess.check_output(
            [
                memlint,
                path,
                "--dim",
                f"batch={batch}",
                "--dropout",
                "none",
                "--assume",
                "accumulate=never",
                "--recompute",
                str(budget),
                "--format=json",
                *more,
            ]
        )
    )


def plans(*args, **more):
    return analyse(*args, **more)["recompute"]


def published(memlint, path, name, batch, who, targets):
    """For each target the row of the table: the cheapest plans of each kind within its share."""
    whole = analyse(memlint, path, batch, "--optimizer", "sgd")
    peak = whole["peak"]["allocated"]
    weights = 2 * whole["classes"]["parameters"] if who == "OGC" else 0  # and their gradients
    for share, cost in targets:
        budget = int(weights + share * (peak - weights))
        r = plans(memlint, path, batch, "--optimizer", "sgd", budget=budget)
        yield (
            name,
            batch,
            who,
            share,
            cost,
            *(cheapest(r[k], budget) for k in ("front", "selective", "operators")),
            100 * (min(p["peak"] for p in r["operators"]) - weights) / (peak - weights),
        )


def export(name, folder):
    """A classifier of torchvision that the archive lacks."""
    import torch
    import torchvision

    more = {"aux_logits": False, "init_weights": False} if name in ("googlenet", "inception_v3") else {}
    size = 299 if name == "inception_v3" else 224
    path = os.path.join(folder, name + ".dynamo.onnx")
    torch.onnx.export(
        getattr(torchvision.models, name)(**more).train(),
        (torch.randn(2, 3, size, size),),
        path,
        dynamo=True,
        training=torch.onnx.TrainingMode.TRAINING,
        dynamic_shapes=({0: torch.export.Dim("batch")},),
        external_data=True,
        verbose=False,
    )
    return path


def three(front):
    last = len(front) - 1
    return [front[i] for i in sorted({max(1, last // 3), max(1, 2 * last // 3), last})] if last > 0 else front


def cheapest(front, peak):
    costs = [p["extra_flops_percent"] for p in front if p["peak"] <= peak]
    return f"{min(costs):.1f} %" if costs else "not reached"


def main():
    memlint, record, models = sys.argv[1:4]
    selective = os.path.join(os.path.dirname(os.path.abspath(__file__)), "selective.py")
    env = dict(os.environ, MEMLINT=os.path.abspath(memlint))
    rows, others = [], []
    with tempfile.TemporaryDirectory() as folder:
        tarfile.open(models).extractall(folder, filter="data")
        found = {
            p.rsplit("/", 1)[-1]: p
            for p in subprocess.check_output(["find", folder, "-name", "*.onnx"], text=True).split()
        }
        for name, batch in MODELS:
            r = plans(memlint, found[name + ".dynamo.onnx"], batch)
            for kind, front in (
                ("modules", r["front"]),
                ("selective", [p for p in r["selective"] if any("+" in m for m in p["modules"])]),
            ):
                for plan in three(front):
                    if kind == "modules":
                        out = subprocess.run(
                            [sys.executable, record, name, "--batch", str(batch), "--checkpoint", *plan["modules"]],
                            stdout=subprocess.PIPE,
                            stderr=subprocess.DEVNULL,
                        )
                        truth = None if out.returncode else json.loads(out.stdout)["peak_allocated"]
                    else:
                        out = subprocess.run(
                            [sys.executable, selective, record, name, str(batch), *plan["modules"]],
                            stdout=subprocess.PIPE,
                            stderr=subprocess.DEVNULL,
                            env=env,
                        )
                        truth = None if out.returncode else int(out.stdout.split()[-1])
                    rows.append((name, batch, kind, r["front"][0]["peak"], plan, truth))
                    print(name, kind, plan["peak"], truth, file=sys.stderr)
        for name, batch, who, *targets in PUBLISHED:
            path = found.get(name + ".dynamo.onnx") or export(name, folder)
            others += published(memlint, path, name, batch, who, targets)
    print("# Checkpoint plans against PyTorch\n")
    print(
        "Printed by `tests/oracle/checkpoints.py`: plans of `--recompute auto`, each recorded with PyTorch 2.11 "
        "(fake tensors, AdamW, fp32). Module\n"
        "plans put modules under `torch.utils.checkpoint`; selective ones also keep the results of some operators "
        "(`create_selective_checkpoint_contexts`).\nExtra FLOPs are of a step's products, convolutions and "
        "attention; others count nothing.\n"
    )
    print("| model | batch | plan | no checkpoints | modules | extra FLOPs | memlint | PyTorch | error |")
    print("| --- | ---: | --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    for name, batch, kind, base, plan, truth in rows:
        compared = f"{truth:,} | {100 * (plan['peak'] - truth) / truth:+.3f} %" if truth else "failed |"
        print(
            f"| {name} | {batch} | {kind} | {base:,} | {len(plan['modules'])} | {plan['extra_flops_percent']:.1f} % | "
            f"{plan['peak']:,} | {compared} |"
        )
    errors = [abs(p["peak"] - t) / t for _, _, _, _, p, t in rows if t]
    print(
        f"\n{len(errors)} plans compared, {sum(e == 0 for e in errors)} exact, worst {100 * max(errors):.3f} %. "
        f"Where it says failed, the recorder did: a second\n"
        "forward runs outside of its fake tensors, and a region that makes tensors on the device finds none."
    )
    print("""
## What planners published

The cheapest plan found within the same share of the memory without checkpoints (SGD, fp32), as extra FLOPs in percent \
of a step, beside the extra
time that was published for that share: OGC and MONeT in their repositories' readme files, HiRemate in its abstract, \
DTR in its file of results.
OGC's shares are of the activations: of the peak without parameters and gradients; the others are of the whole peak. \
Memory is
as each measured it, on other hardware and with other kernels, so that rows compare planners only roughly. Operator \
plans recompute runs of
calls, also those inside of others; they don't change kernels, so that their least peak is held by the largest \
operators' own tensors: when the
gradient of VGG-16's second ReLU is computed, both convolutions' outputs and two gradients of that size are alive, of \
which MONeT's own kernels
keep smaller forms.

| model | batch | who | share | published | module plan | selective | operators | least share of any plan |
| --- | ---: | --- | ---: | ---: | ---: | ---: | ---: | ---: |""")
    for name, batch, who, share, cost, *costs, least in others:
        print(
            f"| {name} | {batch} | {who} | {100 * share:.0f} % | {cost:.1f} % | "
            + " | ".join(costs)
            + f" | {least:.0f} % |"
        )
    return max(errors) > 0.002


if __name__ == "__main__":
    sys.exit(main())
