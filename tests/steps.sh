#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Training steps of small programs, event by event and in order, against PyTorch's: the archives that
# tests/oracle/ops.py, opdb.py and programs.py write. NAME.onnx is the exported program, NAME.PRECISION.step memlint's
# options and then PyTorch's events in the canonical form of tests/oracle/steps.py. A case that differs prints where the
# two part. NAME.PRECISION.drops has the births of dropouts alone, of a file that can't show more: without lines nobody
# knows how long names hold a tensor. NAME.PRECISION.real, which tests/oracle/real.py writes, has what PyTorch's own
# allocator said: memlint's options, the peaks of allocated and reserved bytes, what the step asked for in order.
#
# tests/unrecorded/FOLDER.NAME.NUMBER.step are of tests/cases/FOLDER/NAME.txt, whose operators no machine without a GPU
# records: memlint's own events, read once beside the source that their rows name, so that a change is seen. steps.sh
# --update writes them anew.
. "$(dirname "$0")/lib.sh"
command -v xz >/dev/null || skip "no xz"

# The canonical form: sign, bytes, phase, operator, elements, type; deaths between two births in the order of sort.
canonical() {
    LC_ALL=C awk -F '\t' -v OFS='\t' '
        function row(    n, i, d, of) {
            n = split(substr($6, 2, length($6) - 2), d, ",")
            of = 1
            for (i = 1; i <= n; i++)
                of *= d[i]
            return $1 OFS $2 OFS $4 OFS $5 OFS of OFS $7
        }
        function flush(    i, j, r) {
            for (i = 2; i <= deaths; i++) {
                r = dead[i]
                for (j = i - 1; j > 0 && dead[j] > r; j--)
                    dead[j + 1] = dead[j]
                dead[j + 1] = r
            }
            for (i = 1; i <= deaths; i++)
                print dead[i]
            deaths = 0
        }
        !seen && ($1 == "+" || $1 == "-") { seen = 1; print "=", $3 - ($1 $2) }
        $1 == "+" { flush(); print row() }
        $1 == "-" { dead[++deaths] = row() }
        END { flush() }'
}

agrees() { # agrees FILE.step MODEL
    local options
    read -ra options < <(head -1 "$1")
    "$MEMLINT" "$2" -q --assume accumulate=never "${options[@]}" --dump=step 2>/dev/null | canonical >"$work/got"
    case $1 in
    *.drops) sed -i -n '/^=/p; /^+.*native_dropout/p' "$work/got" ;;
    *.casts) sed -i -n '/^=/p; /^+.*_to_copy/{/\t1\t[a-z0-9]*$/!p}' "$work/got" ;;
    esac
    [ "$(sed -n '2s/\t.*//p' "$1")" = "=" ] || sed -i /^=/d "$work/got"
    sed 1d "$1" | cmp -s - "$work/got" && return
    diff <(sed 1d "$1") "$work/got" | sed -n 's/^</    PyTorch/p; s/^>/    memlint/p' | head -6
    return 1
}

asks() { # asks FILE.real MODEL
    local options
    read -ra options < <(head -1 "$1")
    "$MEMLINT" "$2" -q "${options[@]}" --format=json 2>/dev/null |
        sed -n 's/^    "\(allocated\|reserved\)": \([0-9]*\),*$/\2/p' | head -2 >"$work/got"
    "$MEMLINT" "$2" -q "${options[@]}" --dump=step 2>/dev/null | sed -n 's/^+\t\([0-9]*\)\t.*/\1/p' >>"$work/got"
    sed 1d "$1" | cmp -s - "$work/got" && return
    diff <(sed 1d "$1") "$work/got" | sed -n 's/^</    PyTorch/p; s/^>/    memlint/p' | head -6
    return 1
}

for step in "$SOURCE"/tests/unrecorded/*.step; do
    model=$(case_of "$(basename "$step")")
    if [ "${1:-}" = --update ]; then
        head -1 "$step" >"$work/options"
        read -ra options <"$work/options"
        "$MEMLINT" "$model" -q --assume accumulate=never "${options[@]}" --dump=step | canonical | sed /^=/d |
            cat "$work/options" - >"$work/step"
        cp "$work/step" "$step"
    fi
    ok "unrecorded $(basename "$step" .step)" agrees "$step" "$model"
done
for archive in "$SOURCE"/tests/oracle/*.tar.xz; do
    mkdir -p "$work/cases"
    tar -xJf "$archive" -C "$work/cases" || exit 1
    for step in "$work"/cases/*.step "$work"/cases/*.{drops,casts,other}; do
        [ -f "$step" ] || continue
        name=$(basename "${step%.*}")
        ok "$(basename "$archive" .tar.xz) $(basename "$step")" agrees "$step" "$work/cases/${name%.*}.onnx"
    done
    for real in "$work"/cases/*.real; do
        [ -f "$real" ] || continue
        name=$(basename "${real%.*}")
        ok "$(basename "$archive" .tar.xz) $(basename "$real")" asks "$real" "$work/cases/${name%.*}.onnx"
    done
    rm -r "$work/cases"
done
finish
