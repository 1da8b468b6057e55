#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Whole training steps, event by event: the births and deaths of --dump=step against those that PyTorch had, phase by
# phase, as multisets of operator and bytes. tests/oracle/events/ holds PyTorch's (made by tests/oracle/events.py); the
# models are the oracle pack's beside the repository.
. "$(dirname "$0")/lib.sh"
models=${MEMLINT_SHARED:-$SOURCE/../shared}/oracle/models.tar.xz
[ -f "$models" ] || skip "no models at $models"
command -v xz >/dev/null || skip "no xz"
# agrees NAME OPTION...: at least $least (99) % of the events are on both sides; what is not is named by its operator.
agrees() {
    local name=$1 dump=$work/$1.step
    shift
    "$MEMLINT" "$work/${name%%.*}.dynamo.onnx" --assume accumulate=never --dump=step "$@" >"$dump" || return 1
    awk -F '\t' -v name="$name" -v least="${least:-99}" '
        FNR == NR { if (FNR > 1) { truth[$2 "\t" $3 "\t" $4 "\t" $5] = $1; all += $1 }; next }
        $1 == "+" || $1 == "-" { got[$4 "\t" $1 "\t" $5 "\t" $2]++; mine++ }
        END {
            for (k in truth) {
                d = truth[k] - got[k]
                if (d > 0) { missing += d; row(k, "only PyTorch", d) }
            }
            for (k in got) {
                d = got[k] - truth[k]
                if (d > 0) { extra += d; row(k, "only memlint", d) }
            }
            both = all - missing
            share = 100 * both / (all > mine ? all : mine)
            printf "%s: %.2f %% of %d events agree\n", name, share, all
            for (r in rows)
                printf "  %s: %d\n", r, rows[r]
            exit !(share >= least)
        }
        function row(key, side, n, f) { split(key, f, "\t"); rows[side " in " f[1] " " f[2] " " f[3]] += n }
    ' "$SOURCE/tests/oracle/events/$name.tsv" "$dump"
}

for file in "$SOURCE"/tests/oracle/events/*.tsv; do
    name=$(basename "$file" .tsv)
    echo "${name%%.*}.dynamo.onnx"
done | sort -u >"$work/members"
tar -xJf "$models" -C "$work" -T "$work/members" || exit 1
for file in "$SOURCE"/tests/oracle/events/*.tsv; do
    IFS=# read -r words least <"$file"
    read -r -a options <<<"$words"
    ok "$(basename "$file" .tsv)" agrees "$(basename "$file" .tsv)" "${options[@]}"
done
finish
