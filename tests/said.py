#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What memlint says of recorded cases beside their numbers: said.py MEMLINT FOLDER, of files as tests/steps.sh replays.

A line a step: the doubts, then the assumptions that an option changes with what that is worth in bytes.
"""

import glob, json, os, subprocess, sys

memlint, folder = sys.argv[1:]
for step in sorted(glob.glob(os.path.join(folder, "*.*.[!o]*"))):
    model = step.rsplit(".", 2)[0] + ".onnx"
    options = open(step).readline().split()
    words = [memlint, model, "--format=json", "--assume", "accumulate=never", *options]
    said = json.loads(subprocess.run(words, capture_output=True, text=True).stdout)
    worth = [f"{a['option']} {a['effect_bytes']:+}" for a in said["setup"]["assumed"] if a["option"]]
    print(
        os.path.basename(step), "; ".join(d["why"] for d in said["unexplained"]) or "sure", ", ".join(worth), sep="\t"
    )
