#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The replay on a real device; skipped where there is none.
. "$(dirname "$0")/lib.sh"
model=$SOURCE/examples/tiny_gpt.onnx
run --replay --format=json "$model"
if [ $code = 4 ] && grep -q 'no CUDA driver\|without the CUDA\|says CUDA_ERROR_NO_DEVICE' "$work/err"; then
    ok "says what is missing" [ -s "$work/err" ]
    [ "$failed" = 0 ] || finish
    skip "$(head -1 "$work/err")"
fi
ok "replays" [ "$code" = 0 ]
ok "what was reserved is what was predicted" awk \
    '/"predicted_reserved"/ { p = $2 } /"replayed_reserved"/ { r = $2 } END { exit !(p == r && p) }' "$work/out"
for allocator in native expandable; do
    run --replay=2 --allocator=$allocator --format=json "$model"
    ok "replays, $allocator" [ "$code" = 0 ]
    ok "two warm-up steps and two" [ "$(grep -o '"reserved_peak"' "$work/out" | wc -l)" = 4 ]
    ok "is steady, $allocator" [ "$(grep -o '"taken": [0-9]*' "$work/out" | tail -1)" = '"taken": 0' ]
    run --replay --allocator=$allocator --replay-limit=40MiB --format=json "$model"
    ok "a smaller card refuses, $allocator" grep -q '"refused_phase": "' "$work/out"
done
finish
