#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Pairs of models of the oracle pack: is the increase that memlint reports the difference of the two recorded peaks?

    zoo.py MEMLINT ORACLE [-v]

Every set-up that both models of a pair were recorded under is compared; fails when one is off by more than 0.2 % of the larger
recorded peak (under autocast 0.4 %, docs/ACCURACY.md), or when the first cause that is named isn't the expected one.
"""
import json, os, re, subprocess, sys, tarfile, tempfile

PAIRS = [  # old, new, pattern of the layer that must come first
    ("char_cnn", "char_cnn_outlier", None),
    ("llama_small", "llama_small_gqa", r"model\.model\.layers\.\d\.self_attn\.[kv]_proj"),
    ("llama_small", "llama_small_sdpa", None),
    ("gpt2_nodrop", "gpt2_sdpa_nodrop", None),
    ("resnet18", "resnet50", r"layer1\.2"),
]
memlint, oracle = sys.argv[1:3]
verbose = "-v" in sys.argv
KEYS = ("batch", "optimizer", "precision", "loop", "loss", "what")
bad = compared = 0
with tempfile.TemporaryDirectory() as root:
    wanted = {f"{m}.dynamo.onnx" for p in PAIRS for m in p[:2]} | {f"tabbert_{n}.dynamo.onnx" for n in (2912, 867813)}
    with tarfile.open(os.path.join(oracle, "models.tar.xz")) as tar:
        for member in tar:
            if member.name in wanted:
                tar.extract(member, root, filter="data")
    records = {}
    for name in "records", "records-cuda":
        for line in open(os.path.join(oracle, name + ".jsonl")):
            r = json.loads(line)
            records[r["model"], tuple(r[k] for k in KEYS)] = r
    for old, new, first in PAIRS:
        for (model, setup), r in sorted(records.items()):
            before = records.get((old, setup))
            if model != new or not before:
                continue
            dropout = {"native_dropout" in x.get("absent_from_eval", ()) for x in (r, before)}
            if len(dropout) > 1:  # no one command line means both
                continue
            words = ["--dropout=" + ("auto" if dropout.pop() else "none")]
            words += [f"--{k}={v}" for k, v in zip(KEYS[1:5], setup[1:5])]
            words += ["--assume=accumulate=never"] if setup[5] == "fake" else []
            p = subprocess.run([memlint, f"{root}/{new}.dynamo.onnx", "--baseline", f"{root}/{old}.dynamo.onnx", "--flags=none",
                                "--dim", f"batch={setup[0]}", "--format=json", *words], capture_output=True, text=True)
            b = json.loads(p.stdout)["baseline"]
            truth = r["peak_allocated"] - before["peak_allocated"]
            off = 100 * abs(b["increase_bytes"] - truth) / max(r["peak_allocated"], before["peak_allocated"])
            named = b["layers_changed"][0]["path"] if b["layers_changed"] else "nothing"
            compared += 1
            wrong = off > (0.4 if "amp" in setup[2] else 0.2) or (first and not re.fullmatch(first, named))
            bad += bool(wrong)
            if wrong or verbose:
                print(f"{old} -> {new} {setup}: reported {b['increase_bytes']}, recorded {truth}: off by {off:.4f} %; first {named}")
    old, new = (f"{root}/tabbert_{n}.dynamo.onnx" for n in (2912, 867813))
    if os.path.exists(old) and os.path.exists(new):  # two tables and a bias explain everything
        p = subprocess.run([memlint, new, "--baseline", old, "--dim", "batch=8", "--flags=none", "--format=json"], capture_output=True, text=True)
        b = json.loads(p.stdout)["baseline"]
        causes = [l for l in b["layers_changed"] if l["cause"]]
        shapes = sorted(t["shape"] for l in causes for t in l["tensors"])
        grown = sum(l["parameters"] - l["old_parameters"] for l in causes)
        if shapes != [[867813], [867813, 64], [867813, 832]] or grown != 775816197 or len(b["layers_changed"]) > 5:
            bad += 1
            print("tabbert:", json.dumps(b))
        compared += 1
print(f"{compared} pairs of records, {bad} wrong")
sys.exit(bad > 0 or compared == 0)
