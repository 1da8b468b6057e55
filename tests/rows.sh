#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Every row of the operator table has a case: a model below tests/cases, or one of the conformance pack. tests/rows.tsv
# says which; --update writes it. Where the pack is not there, what the list says of it is taken as it stands.
. "$(dirname "$0")/lib.sh"
shared=${MEMLINT_SHARED:-$SOURCE/../shared}
pack=$shared/conformance/expected.tsv list=$SOURCE/tests/rows.tsv

# domain, operator, opset, case: what the models use
used() {
    (cd "$SOURCE/tests/cases" 2>/dev/null && find . -name '*.txt' | LC_ALL=C sort | while IFS= read -r file; do
        awk -v file="cases${file#.}" '
            /opset_import/ { opset = 1; if (match($0, /"": *[0-9]+/)) {
                opset = substr($0, RSTART + 3, RLENGTH - 3) + 0 } }
            !/^#/ {
                line = $0
                while (match(line, /= *[A-Za-z][A-Za-z0-9_.]* *[<(]/)) {
                    name = substr(line, RSTART + 1, RLENGTH - 2)
                    line = substr(line, RSTART + RLENGTH)
                    gsub(/[ <(]/, "", name)
                    domain = "ai.onnx"
                    if (match(name, /.*\./)) { domain = substr(name, 1, RLENGTH - 1); name = substr(name, RLENGTH + 1) }
                    print domain "\t" name "\t" opset "\t" file
                }
            }' "$file"
    done)
    [ -f "$pack" ] && awk -F'\t' 'NR > 1 && $7 != "skip" {
        n = split($4, ops, /[, ]+/)
        for (i = 1; i <= n; i++) {
            domain = "ai.onnx"; name = ops[i]
            if (match(name, /.*\./)) { domain = substr(name, 1, RLENGTH - 1); name = substr(name, RLENGTH + 1) }
            print domain "\t" name "\t" $3 "\tpack:" $1
        } }' "$pack"
}

# Each row with the first case that uses it; cases of our own before the pack.
rows() {
    "$MEMLINT" --list=ops | awk -F'\t' -v uses="$1" '
        BEGIN { while ((getline line < uses) > 0) {
            split(line, u, "\t"); k = u[1] "\t" u[2]; n[k]++; opset[k, n[k]] = u[3]; name[k, n[k]] = u[4] } }
        { k = $1 "\t" $2; split($3, span, "-"); found = "-"
          for (i = 1; i <= n[k] && found == "-"; i++)
              if ($1 != "ai.onnx" || (opset[k, i] + 0 >= span[1] + 0 &&
                  (span[2] == "" || opset[k, i] + 0 <= span[2] + 0)))
                  found = name[k, i]
          print $1 "\t" $2 "\t" $3 "\t" found }'
}

used >"$work/uses"
[ -f "$pack" ] ||
    awk -F'\t' '$4 ~ /^pack:/ { split($3, span, "-"); print $1 "\t" $2 "\t" span[1] "\t" $4 }' "$list" >>"$work/uses"
rows "$work/uses" >"$work/rows.tsv"
if [ "${1:-}" = --update ]; then
    cp "$work/rows.tsv" "$list"
fi
[ -d "$SOURCE/tests/cases" ] || skip "no cases"
while IFS=$'\t' read -r domain name opsets _; do
    ok "$domain $name $opsets: no case uses this row" false
done < <(awk -F'\t' '$4 == "-"' "$work/rows.tsv")
ok "tests/rows.tsv is stale: run tests/rows.sh --update" diff -q "$list" "$work/rows.tsv"
finish
