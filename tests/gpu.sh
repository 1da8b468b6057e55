#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# tests/oracle/gpu.sh on doubles: the oracle's device without memory for PyTorch (MEMLINT_TORCH names a Python with a
# build for CUDA), tests/driver.c for the replay. That its steps run and leave what they should; no figure is a GPU's.
. "$(dirname "$0")/lib.sh"
oracle=${MEMLINT_SHARED:-$SOURCE/../shared}/oracle
python=${MEMLINT_TORCH:-python3}
[ -e "$oracle/record.py" ] || skip "no recorder at $oracle"
"$python" -c 'import torch; assert torch.version.cuda' 2>/dev/null || skip "$python has no PyTorch for CUDA"
mkdir "$work/lib"
for name in libcuda.so.1 libnvidia-ml.so.1; do ln -s "${DRIVER:-$PWD/tests/driver.so}" "$work/lib/$name"; done
LD_LIBRARY_PATH=$work/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} PYTHON=$python ONLY=mlp PART=0/60 JOBS=2 \
    DEVICE=h100 \
    "$SOURCE/tests/oracle/gpu.sh" "$oracle" "$work/gpu" --null-gpu >"$work/out" 2>&1
code=$?
cat "$work/out"
ok "every step is done" [ "$code" = 0 ]
ok "seven of them" [ "$(grep -c ' s  done$' "$work/gpu/steps.txt")" = 7 ]
ok "contexts" grep -q '"gpu": "Null H100", "row": "h100"' "$work/gpu/context.txt"
ok "records of the device" grep -q '"model": "mlp".*"what": "cuda"' "$work/gpu/records.jsonl"
ok "of models by hand" grep -q '"zoo": "2".*"of": "gmlp"' "$work/gpu/people.jsonl"
ok "a replay beside PyTorch" grep -qE '^\| mlp \| 256 \| fp32 \| [0-9]+ \| [0-9]+ \| [0-9]+ \|' "$work/gpu/replay.txt"
for what in recurrent norms calls attention convs; do ok "a sweep: $what" [ -s "$work/gpu/$what.jsonl" ]; done
ok "a page with its replay" grep -q 'id="replay"' "$work/gpu/replay.html"
finish
