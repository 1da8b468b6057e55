#!/bin/bash
# The packs of models and recorded steps that live beside the repository, when they are there: MEMLINT_SHARED or
# ../shared. Each has a judge of its own.
. "$(dirname "$0")/lib.sh"
shared=${MEMLINT_SHARED:-$SOURCE/../shared}
[ -d "$shared" ] || skip "no packs at $shared"
command -v python3 >/dev/null || skip "no python3"
slow=1
[ -z "${SANITIZED:-}" ] || slow=8

judge() { # judge NAME COMMAND...
    local name=$1
    shift
    "$@" >"$work/log" 2>&1
    local status=$?
    tail -n "${LINES_SHOWN:-12}" "$work/log"
    ok "$name" [ $status = 0 ]
}
[ -x "$shared/hostile/check" ] && judge hostile "$shared/hostile/check" "$MEMLINT" --slack $slow
if [ -z "${SANITIZED:-}" ]; then
    [ -x "$shared/conformance/check" ] && judge conformance "$shared/conformance/check" -j 2 "$MEMLINT"
    [ -x "$shared/oracle/check" ] && judge oracle "$shared/oracle/check" "$MEMLINT" \
        --only '^(resnet18|resnet50|gpt2_nodrop|bert_base_nodrop|nanogpt|unet|vit_b_16|t5_small_nodrop)$' --median 0.5 --p95 5
fi
finish
