#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The Python that findings and checkpoint plans print, run on the models that it was printed for: tests/blocks.py, with
# PyTorch (MEMLINT_TORCH names a Python that has it). Blocks of libraries that are not there are named as skipped.
. "$(dirname "$0")/lib.sh"
python=${MEMLINT_TORCH:-python3}
"$python" -c 'import torch, onnx' 2>/dev/null || skip "$python has no torch and onnx"
export PYTHONPATH=${MEMLINT_PACKAGE-$SOURCE/packaging/python} PYTHONDONTWRITEBYTECODE=1 MEMLINT
"$python" "$SOURCE/tests/blocks.py" >"$work/said" 2>"$work/err"
code=$?
while read -r word name; do
    case $word in
    ok | no) ok "$name" [ "$word" = ok ] ;;
    *) echo "$word $name" ;;
    esac
done <"$work/said"
ok "tests/blocks.py ends with 0, not $code: $(tail -1 "$work/err")" [ $code = 0 ]
finish
