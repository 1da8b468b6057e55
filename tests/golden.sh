#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Reports of the examples, byte for byte: tests/golden/. After an intended change: make update-golden, and read the
# diff.
. "$(dirname "$0")/lib.sh"
cd "$SOURCE" || exit 1
golden=tests/golden
[ "${1:-}" != --update ] || mkdir -p $golden
[ -d $golden ] || skip "no golden reports yet: make update-golden"

while read -r name formats arguments; do
    case $name in '' | \#*) continue ;; esac
    read -ra words <<<"$arguments"
    model=${words[0]}
    for format in ${formats//,/ }; do
        COLUMNS=100 LC_ALL=C.UTF-8 "$MEMLINT" "$model" "${words[@]:1}" --format=$format >"$work/$name.$format" \
            2>"$work/err"
        if [ "${1:-}" = --update ]; then
            cp "$work/$name.$format" "$golden/$name.$format"
        else
            ok "$name.$format" diff -u "$golden/$name.$format" "$work/$name.$format"
        fi
    done
done <"$SOURCE/tests/golden.list"
[ "${1:-}" = --update ] || finish
