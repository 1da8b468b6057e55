#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The whole analysis with a page takes as many instructions as tests/speed.tsv records, within 5 %; --update writes it.
# Instructions, not seconds; what they are depends on the compiler, which the file names.
. "$(dirname "$0")/lib.sh"
recorded=$SOURCE/tests/speed.tsv
pack=${MEMLINT_SHARED:-$SOURCE/../shared}/oracle/models.tar.xz
[ -z "${SANITIZED:-}" ] || skip "sanitizers multiply instructions"
can_count || skip "no valgrind"
[ -e "$pack" ] || skip "no pack at $pack"
compiler=$(readelf -p .comment "$MEMLINT" | sed -n 's/^ *\[ *[0-9a-f]*\] *//p' | sort -u | paste -sd' ')
! nm "$MEMLINT" | grep -q __gcov || skip "coverage counts instructions of its own"
tar -xJf "$pack" -C "$work"

whole() { # whole NAME: millions of instructions
    instructions "$work/profile" "$(find "$work" -name "$1.dynamo.onnx")" --dim batch=8 -q -o "$work/r.html"
}

if [ "${1:-}" = --update ]; then
    {
        echo "# $compiler"
        for name in $MEASURED; do
            printf '%s\t%s\n' "$name" "$(whole "$name")"
        done
    } >"$work/new" && cp "$work/new" "$recorded"
    exit
fi
[ "$(head -1 "$recorded")" = "# $compiler" ] || skip "built by $compiler, recorded with $(head -1 "$recorded")"
for name in $MEASURED; do
    was=$(awk -v name="$name" '$1 == name { print $2 }' "$recorded")
    now=$(whole "$name")
    ok "$name: $now M instructions, recorded ${was:-none}; bash tests/speed.sh --update where that is meant" \
        awk -v now="$now" -v was="${was:-0}" 'BEGIN { exit !(now > 0 && now <= was * 1.05 && now >= was * 0.95) }'
done
finish
