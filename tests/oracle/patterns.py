#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checkpoint plans that one line tells, beside plans of any modules: the table of docs/CHECKPOINTS.md.

    python3 tests/oracle/patterns.py MEMLINT FOLDER

FOLDER holds the unpacked models of the oracle's pack. Of each model the plan that memlint marks, and the pattern with
the lowest peak; the last column is what a plan of scattered modules with as much work saves more, percent of the peak.
"""

import json
import os
import subprocess
import sys

MODELS = {
    "gpt2_nodrop": 8,
    "t5_small_nodrop": 4,
    "bert_base_nodrop": 8,
    "resnet50": 32,
    "vit_b_16": 16,
    "llama_small_sdpa": 4,
    "densenet121": 16,
    "nanogpt": 4,
    "convnext_tiny": 16,
    "mobilenet_v2": 32,
}
HEAD = "| model | batch | no checkpoints | plan | pattern | modules | peak | extra FLOPs | above the front |"


def rows(memlint, folder, model, batch):
    path = os.path.join(folder, model + ".dynamo.onnx")
    words = [memlint, path, "--dim", f"batch={batch}", "--dropout=none", "--recompute=auto", "--format=json"]
    plans = json.loads(subprocess.run(words, capture_output=True, text=True, check=True).stdout)["recompute"]
    patterns, chosen = plans["patterns"], plans["chosen_pattern"]
    lowest = min(range(len(patterns)), key=lambda i: patterns[i]["peak"])
    for what, i in {"to take": chosen, "lowest": lowest}.items() if lowest != chosen else [("to take", chosen)]:
        p = patterns[i]
        yield (
            f"| {model} | {batch} | {plans['front'][0]['peak']:,} | {what} | `{p['pattern']}` | {len(p['modules'])} "
            f"| {p['peak']:,} | {p['extra_flops_percent']:.1f} % | {p['above_front_percent']:.1f} % |"
        )


if __name__ == "__main__":
    print(HEAD, "| --- | ---: | ---: | --- | --- | ---: | ---: | ---: | ---: |", sep="\n")
    for model, batch in MODELS.items():
        print(*rows(*sys.argv[1:3], model, batch), sep="\n")
