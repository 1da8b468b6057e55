#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The packs of models and recorded steps that live beside the repository, when they are there: MEMLINT_SHARED or
# ../shared. Each has a judge of its own.
. "$(dirname "$0")/lib.sh"
shared=${MEMLINT_SHARED:-$SOURCE/../shared}
[ -d "$shared" ] || skip "no packs at $shared"
command -v python3 >/dev/null || skip "no python3"
slow=3 # other suites run beside this one
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
    for records in records records-cuda records-parallel; do
        [ -x "$shared/oracle/check" ] && judge "oracle $records" "$shared/oracle/check" "$MEMLINT" -j 2 --worst 3 \
            --records "$shared/oracle/$records.jsonl"
        # Class, highest median and 95th percentile in percent.
        while read -r class median p95; do
            line=$(grep "^$class: " "$work/log")
            [ -z "$line" ] || ok "$class in $records" awk -v m="$median" -v p="$p95" \
                '{ gsub(",", ""); exit !($5 + 0 <= m && $8 + 0 <= p) }' <<<"$line"
        done <<'END'
exact    0.01 0.5
eval     0.01 0.5
cuda     0.001 0.5
reserved 0.15 5
parallel 0.005 1.5
END
    done
fi
finish
