#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# gpu.sh ORACLE OUT [--null-gpu]: everything that only a machine with a GPU can tell, in 15 minutes and unattended.
#
# ORACLE is the folder of record.py, its zoo and models.tar.xz. What comes first is worth most: each step has its share
# of the time, leaves what it has in OUT and is no reason to stop for the next. PYTHON names a Python with PyTorch,
# DEVICE the row of `memlint --list=devices` (asked of the GPU by default), ONLY a part of models' names, PART a part of
# each sweep (0/1), JOBS how many processes share the GPU, ROOM the GiB of it that they may take, MINUTES the time. Ends
# with a table of the steps; exit 1 where one failed. --null-gpu runs it on the pack's device without memory and is a
# test of this script: no figure of it is one of a GPU. h200.tar.xz has what an H200 said.
set -u
oracle=$(realpath "$1") out=$(mkdir -p "$2" && realpath "$2")
null=("${@:3}")
here=$(cd "$(dirname "$0")" && pwd)
memlint=${MEMLINT:-$here/../../memlint} python=${PYTHON:-python3} only=${ONLY:-} part=${PART:-0/1}
minutes=${MINUTES:-15} jobs=${JOBS:-$(nproc)} room=${ROOM:-60}
export MEMLINT="$memlint" PYTHONWARNINGS=ignore OMP_NUM_THREADS=1
failed=0
run=("$python")
if [ ${#null[@]} -gt 0 ]; then # record.py builds it
    "$python" "$oracle/record.py" mlp --null-gpu >/dev/null
    run=(env "LD_PRELOAD=$HOME/.cache/memlint-oracle/nullgpu.so" "$python")
fi
: >"$out/steps.txt"

step() { # step PERCENT NAME COMMAND...: its output is OUT/NAME.txt
    local seconds=$((minutes * 60 * $1 / 100)) name=$2 begun=$SECONDS status=0
    shift 2
    timeout "$seconds" "$@" >"$out/$name.txt" 2>"$out/$name.log" || status=$?
    case $status in
    0) said="done" ;;
    124) said="cut off, the rest is missing" ;;
    *) said="failed: $(tail -1 "$out/$name.log")" failed=1 ;;
    esac
    printf '%-10s %4d s  %s\n' "$name" $((SECONDS - begun)) "$said" | tee -a "$out/steps.txt"
}

crowd() { # crowd NAME PERCENT OPTIONS...
    step "$2" "$1" "${run[@]}" "$here/crowd.py" "$oracle" "$out/$1.jsonl" --jobs "$jobs" --room "$room" \
        --seconds $((minutes * 60 * $2 / 100 - 15)) "${@:3}"
}

step 3 context "${run[@]}" "$here/gpu.py"
device=${DEVICE:-$(sed -n 's/.*"row": "\([^"]*\)".*/\1/p' "$out/context.txt")}
device=${device:-h100}
crowd records 22 --only "$only" --flags
step 20 sweeps "${run[@]}" "$here/sweeps.py" "$out" --part "$part"
step 12 replay "$python" "$here/replay.py" "$memlint" "$oracle/record.py" "$oracle/models.tar.xz" --device "$device" \
    --only "$only" --records "$out/records.jsonl" "${null[@]}"
step 2 page "$memlint" "$here/../../examples/tiny_gpt.onnx" --dim batch=32 --device "$device" --replay=2 -q \
    -o "$out/replay.html"
[ ${#null[@]} -gt 0 ] || step 6 queries "${run[@]}" "$here/queries.py" "$out"
crowd people 30 --zoo --only "${only:-/}" --people
step 4 score "$oracle/check" "$memlint" --records "$out/records.jsonl"
exit $failed
