#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Files that several versions of PyTorch exported, against the step that each of them runs, and files that went through
# tools: the archives that tests/oracle/versions.py and tools.py write. The table beside each has of each file memlint's
# options, the recorded peak, and whether memlint had it ("exact") or a doubt ("doubt"). An exact row stays so; no other
# is wrong and sure.
. "$(dirname "$0")/lib.sh"
command -v xz >/dev/null || skip "no xz"

right() { # right FILE OPTIONS PEAK STATE
    local words peak sure=yes
    read -ra words <<<"$2"
    run "$work/files/$1" "${words[@]}" --assume accumulate=never --format=json
    [ "$code" -lt 2 ] || { head -1 "$work/err"; return 1; }
    grep -q '^  "verdict": "inconclusive"' "$work/out" && sure=no
    peak=$(sed -n '/^  "peak": {/,/}/s/^ *"allocated": \([0-9]*\).*/\1/p' "$work/out")
    [ "$sure" = no ] && [ "$4" = doubt ] && return
    [ "$sure" = yes ] && [ "$peak" = "$3" ] && return
    echo "    PyTorch $3, memlint $peak, sure: $sure"
    return 1
}

for what in versions tools; do
    mkdir "$work/files"
    tar -xJf "$SOURCE/tests/oracle/$what.tar.xz" -C "$work/files" || exit 1
    while IFS=$'\t' read -r file options peak state; do
        ok "$file" right "$file" "$options" "$peak" "$state"
    done <"$SOURCE/tests/oracle/$what.tsv"
    rm -r "$work/files"
done
# What optimizers make in their update, by version, as tests/oracle/updates.py recorded it.
ok "updates" python3 "$SOURCE/tests/oracle/updates.py" "$MEMLINT" --table "$SOURCE/tests/oracle/updates.tsv"
finish
