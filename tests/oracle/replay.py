#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Print the table of docs/REPLAY.md: what memlint predicts, what its replay holds on this GPU, and what PyTorch
reserves on it.

    replay.py MEMLINT RECORD.PY MODELS.tar.xz --device NAME [--only REGEX] [--records FILE] [--null-gpu]

RECORD.PY is the oracle pack's, which runs the training step of its zoo under PyTorch; the archive has the same models
as ONNX. Both need the GPU to themselves, one after the other. NAME is its row in memlint --list=devices, or one of its
generation. With --records PyTorch's steps are those that crowd.py wrote. cuDNN and cuBLASLt are those that PyTorch
brings, so that memlint asks the same libraries. A line that could not be filled says why and is part of the table. With
--null-gpu PyTorch runs on the pack's device without memory: a test of this script.
"""

import argparse, json, os, re, subprocess, sys, sysconfig, tarfile, tempfile

MODELS = [  # model, batch, precision, memlint's further options: ten of the zoo, of which seven have convolutions
    ("mlp", 256, "fp32", ""),
    ("resnet18", 16, "fp32", ""),
    ("resnet50", 16, "amp-bf16", ""),
    ("mobilenet_v2", 16, "fp32", ""),
    ("densenet121", 8, "fp32", ""),
    ("unet", 4, "fp32", "--assume inplace=relu"),
    ("vgg16", 16, "fp32", ""),
    ("vit_b_16", 16, "fp32", "--dropout none"),
    ("bert_base", 4, "fp32", ""),
    ("gpt2_nodrop", 4, "amp-bf16", "--dropout none"),
]
MIB = 1 << 20


def libraries():
    """The folders of the CUDA libraries that this Python's PyTorch brings."""
    root = os.path.join(sysconfig.get_paths()["purelib"], "nvidia")
    return [
        path for path, _, files in os.walk(root) if any(f.startswith(("libcudnn.so", "libcublasLt.so")) for f in files)
    ]


def run(command, **environment):
    """The JSON that a command prints, and why there is none."""
    try:
        r = subprocess.run(command, capture_output=True, text=True, timeout=900, env=dict(os.environ, **environment))
        return json.loads(r.stdout[r.stdout.index("{") :]), None
    except (ValueError, subprocess.TimeoutExpired):
        lines = r.stderr.strip().splitlines() if "r" in locals() else []
        return None, (lines or ["no answer in time"])[-1].replace("|", "/")


def known(path, *setup):
    """The record of a set-up in a file of them."""
    keys = ("model", "batch", "precision", "optimizer", "loop")
    with open(path) as f:
        rows = [r for r in map(json.loads, f) if all(r[k] == v for k, v in zip(keys, setup)) and not r.get("flags")]
    return (rows[0], None) if rows else (None, "not among the records")


def mib(n):
    return "unknown" if n is None else f"{n / MIB:,.0f}"


def percent(n, of):
    return "" if n is None or not of else f"{100 * (n - of) / of:+.2f} %"


def row(a, root, model, batch, precision, options):
    path = os.path.join(root, f"{model}.dynamo.onnx")
    found = os.pathsep.join(libraries() + [p for p in [os.environ.get("LD_LIBRARY_PATH")] if p])
    result, why = run(
        [
            a.memlint,
            path,
            "--dim",
            f"batch={batch}",
            "--precision",
            precision,
            "--device",
            a.device,
            "--replay=2",
            "--format=json",
            *options.split(),
        ],
        LD_LIBRARY_PATH=found,
    )
    replay = result["replay"] if result else {}
    record, refused = (
        known(a.records, model, batch, precision, "adamw", "plain")
        if a.records
        else run(
            [
                sys.executable,
                a.record,
                model,
                "--batch",
                str(batch),
                "--precision",
                precision,
                *(["--null-gpu"] if a.null_gpu else []),
            ]
        )
    )
    if record and record["what"] != "cuda":
        record, refused = None, "PyTorch found no GPU"
    real = record["peak_reserved"] if record else None
    predicted, held = replay.get("predicted_reserved"), replay.get("replayed_reserved")
    notes = [f"replay: {why}"] if why else []
    notes += [f"PyTorch: {refused}"] if refused else []
    notes += [f"refused by {replay['refused_operator']}"] if replay.get("refused_operator") else []
    steps = replay.get("steps", [])
    notes += ["not steady"] if steps and steps[-1]["taken"] else []
    cells = [
        model,
        batch,
        precision,
        mib(predicted),
        mib(held),
        mib(real),
        percent(predicted, real),
        percent(held, real),
        mib(replay.get("context_bytes")),
        mib(replay.get("nvml_used_after")),
        mib(record.get("process_used", record["driver_used"]) if record else None),
        "; ".join(notes),
    ]
    return "| " + " | ".join(map(str, cells)) + " |", replay, record


def main():
    ap = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ap.add_argument("memlint")
    ap.add_argument("record")
    ap.add_argument("models")
    ap.add_argument("--device", required=True)
    ap.add_argument("--only", default="")
    ap.add_argument("--records", help="JSON lines")
    ap.add_argument("--null-gpu", action="store_true")
    a = ap.parse_args()
    lines, about = [], {}
    with tempfile.TemporaryDirectory() as root:
        tarfile.open(a.models).extractall(root)
        for m in MODELS:
            if not re.search(a.only, m[0]):
                continue
            line, replay, record = row(a, root, *m)
            lines.append(line)
            about.update(
                {
                    "GPU": replay["device"],
                    "cuDNN": replay["libraries"]["convolutions"] or "not asked",
                    "cuBLASLt": replay["libraries"]["products"] or "not asked",
                }
                if replay
                else {}
            )
            about.update({"PyTorch": f"{record['torch']} on {record['device']}"} if record else {})
            print(line, file=sys.stderr, flush=True)
    print("; ".join(f"{k}: {v}" for k, v in about.items()) + ". MiB.\n")
    print(
        "| model | batch | precision | predicted, reserved | replayed | PyTorch reserved | predicted - PyTorch | "
        "replayed - PyTorch | context | device, replayed "
        "| device, PyTorch | |"
    )
    print("|" + " --- |" * 12)
    print("\n".join(lines))


if __name__ == "__main__":
    main()
