#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Breaking a framework operator's row turns a recorded step red, or a comparison with PyTorch's tables
# (tests/tables.sh): tests/mutants.c breaks each in every way, over the archives of tests/steps.sh. tests/mutants.list
# names what nobody notices yet; --update writes it. A new row needs a case: tests/oracle/ops.py.
. "$(dirname "$0")/lib.sh"
[ -x "${MUTANTS:-}" ] || skip "no tests/mutants: make check builds it"
[ -z "${SANITIZED:-}" ] || skip "a sanitizer slows what forks"
command -v xz >/dev/null || skip "no xz"
for archive in "$SOURCE"/tests/oracle/*.tar.xz; do
    mkdir -p "$work/$(basename "$archive")"
    tar -xJf "$archive" -C "$work/$(basename "$archive")" || exit 1
done
cp "$SOURCE/tests/oracle/facts.said" "$work/facts.tar.xz/said" # tests/facts.sh compares it
mkdir -p "$work/unrecorded.tar.xz"
for step in "$SOURCE"/tests/unrecorded/*.step; do # tests/steps.sh says what these are
    name=$(basename "$step")
    cp "$step" "$work/unrecorded.tar.xz"
    cp "$(case_of "$name")" "$work/unrecorded.tar.xz/${name%.*.step}.txt"
done
command -v python3 >/dev/null || skip "no python3"
"$MUTANTS" "$work"/*.tar.xz >"$work/mutants" || exit 1
sed '$d' "$work/mutants" | python3 "$SOURCE/tests/oracle/tables.py" --unnoticed >"$work/out" || exit 1
list=$SOURCE/tests/mutants.list
[ "${1:-}" = --update ] && cp "$work/out" "$list"
all=$(tail -1 "$work/mutants" | cut -d' ' -f1)
passed=$((all - $(wc -l <"$work/out")))
echo "$passed of $all mutants noticed ($((passed * 1000 / all)) of 1000)"
while IFS= read -r mutant; do
    ok "$mutant: nobody notices it" false
done < <(grep -vxFf "$list" "$work/out")
while IFS= read -r mutant; do
    ok "$mutant: it is noticed, so tests/mutants.list is stale: run tests/mutants.sh --update" false
done < <(grep -vxFf "$work/out" "$list")
finish
