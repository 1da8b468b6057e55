#!/bin/bash
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
ok "what was reserved is what was predicted" awk '/"predicted_reserved"/ { p = $2 } /"replayed_reserved"/ { r = $2 } END { exit !(p == r && p) }' "$work/out"
run --replay --replay-limit=40MiB --format=json "$model"
ok "a smaller card refuses" grep -q '"refused_phase": "' "$work/out"
finish
