#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A pre-commit hook: every staged model against the same file of the last commit. Options stand in .memlint, of which
# the staged one counts. Git LFS's pointers are no models and are skipped with a word.
set -u
memlint=${MEMLINT:-memlint} worst=0
work=$(mktemp -d "${TMPDIR:-/tmp}/memlint-XXXXXX")
trap 'rm -rf "$work"' EXIT
is_pointer() { head -c 40 "$1" | grep -q '^version https://git-lfs'; }
for model in "$@"; do
    old=$work/old.${model##*.} status=0 flags=$work/flags baseline=()
    if is_pointer "$model"; then
        echo "memlint: $model: a Git LFS pointer, skipped; git lfs pull fetches the model"
        continue
    fi
    git show ":./$(dirname "$model")/.memlint" >"$flags" 2>/dev/null || git show :.memlint >"$flags" 2>/dev/null ||
        flags=none
    if ! git cat-file -e "HEAD:./$model" 2>/dev/null; then
        baseline=(--baseline=none)
    elif git cat-file --filters "HEAD:./$model" >"$old" 2>/dev/null && ! is_pointer "$old"; then
        baseline=(--baseline "$old")
    fi
    "$memlint" "$model" --flags="$flags" ${baseline[@]+"${baseline[@]}"} -q || status=$?
    [ $status -le $worst ] || worst=$status
done
exit $worst
