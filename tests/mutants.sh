#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Breaking a framework operator's row turns a recorded step red: tests/mutants.c breaks each in every way, over the archives of tests/steps.sh.
# tests/mutants.list names what nobody notices yet; --update writes it. A new row needs a case: tests/oracle/ops.py.
. "$(dirname "$0")/lib.sh"
[ -x "${MUTANTS:-}" ] || skip "no tests/mutants: make check builds it"
[ -z "${SANITIZED:-}" ] || skip "a sanitizer slows what forks"
command -v xz >/dev/null || skip "no xz"
for archive in "$SOURCE"/tests/oracle/*.tar.xz; do
    mkdir -p "$work/$(basename "$archive")"
    tar -xJf "$archive" -C "$work/$(basename "$archive")" || exit 1
done
"$MUTANTS" "$work"/*.tar.xz >"$work/out" || exit 1
list=$SOURCE/tests/mutants.list
[ "${1:-}" = --update ] && cp "$work/out" "$list"
tail -1 "$work/out"
while IFS= read -r mutant; do
    ok "$mutant: no step notices it" false
done < <(sed '$d' "$work/out" | grep -vxFf "$list")
while IFS= read -r mutant; do
    ok "$mutant: a step notices it, so tests/mutants.list is stale: run tests/mutants.sh --update" false
done < <(sed '$d' "$list" | grep -vxFf "$work/out")
passed=$(tail -1 "$work/out" | cut -d' ' -f1)
finish
