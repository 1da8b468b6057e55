#!/bin/bash
# A pre-commit hook: every staged model against the same file of the last commit. Options stand in .memlint.
# Git LFS's pointers are no models and are skipped with a word.
set -u
memlint=${MEMLINT:-memlint} worst=0
work=$(mktemp -d "${TMPDIR:-/tmp}/memlint-XXXXXX")
trap 'rm -rf "$work"' EXIT
for model in "$@"; do
    old=$work/old.${model##*.} status=0 baseline=()
    if head -c 40 "$model" | grep -q '^version https://git-lfs'; then
        echo "memlint: $model: a Git LFS pointer, skipped; git lfs pull fetches the model"
        continue
    fi
    if git show "HEAD:./$model" >"$old" 2>/dev/null && ! head -c 40 "$old" | grep -q '^version https://git-lfs'; then
        baseline=(--baseline "$old")
    fi
    "$memlint" "$model" ${baseline[@]+"${baseline[@]}"} -q || status=$?
    [ $status -le $worst ] || worst=$status
done
exit $worst
