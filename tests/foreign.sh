#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Files of other frameworks, as their converters wrote them: the archive and the table of tests/oracle/foreign.py. What
# the table has of a file is the first that every format for people says; no device fits, no gate passes, and where
# nothing is trained by gradients there is no number.
. "$(dirname "$0")/lib.sh"
command -v xz >/dev/null || skip "no xz"
tar -xJf "$SOURCE/tests/oracle/foreign.tar.xz" -C "$work" || exit 1

said() { # said TEXT FORMAT: the text is in the output, however lines and marks break it, backquotes apart
    tr '\n' ' ' <"$work/out" | sed 's/ *| / /g; s/<[^>]*>//g; s/`//g' | grep -qiF -- "$1"
}
verdict() { # verdict: the sentence under which all of a page stands
    sed -n '/^$/,/^  [^|]/p' "$work/out" | sed -n '2p'
}

while IFS=$'\t' read -r file kind most text; do
    run "$work/$file" --format=json
    ok "$file: exit $code" [ "$code" = 0 ]
    ok "$file: not $kind" grep -q "\"kind\": \"$kind\"" "$work/out"
    ok "$file is sure" grep -q '"verdict": "inconclusive"' "$work/out"
    counted=$(sed -n 's/^ *"trainable_parameters": \([0-9]*\).*/\1/p' "$work/out")
    ok "$file: trains $counted of $most" [ "$counted" -le "$most" ]
    for format in $("$MEMLINT" --list=formats | cut -f 1 | grep -v metrics); do
        run "$work/$file" --format="$format"
        ok "$file: $format does not say: $text" said "$text"
    done
    run "$work/$file" --format=text
    head=$(verdict)
    ok "$file begins with: $head" [ "${head:1:20}" = "${text:1:20}" ]
    ok "$file: a number" [ "$kind" != not-a-network -o -z "$(grep -E 'allocated:|[0-9] [KMG]iB' "$work/out")" ]
    run "$work/$file" -q --max-peak=1TiB
    ok "$file passes a gate" [ "$code" = 1 ]
done <"$SOURCE/tests/oracle/foreign.tsv"
finish
