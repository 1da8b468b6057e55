#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Models in ONNX text syntax with what is expected of them in their comments:
#   # run: ARGUMENTS   how memlint is run (default --dump=shapes); may repeat: each begins a new run; a report is the
#                      full text
#   # out: LINE        this line must appear in the output; \t stands for a tab
#   # not: LINE        this one must not
#   # has: TEXT        the output contains this
#   # hasnt: TEXT      it does not
#   # err: TEXT        standard error contains this
#   # exit: N          exit status (default 0)
# A file may name a folder's or a pattern's cases: cases.sh [GLOB], below tests/cases.
. "$(dirname "$0")/lib.sh"
cd "$SOURCE/tests/cases" 2>/dev/null || skip "no cases"

begin() { # runs memlint with the arguments of a "# run:" line
    read -ra words <<<"$1"
    [[ " $1 " =~ \ (--dump|--format|--list)|\ -[qo]\  ]] || words+=(--format=full)
    want=0
    run "${words[@]}" "$file"
}
end() {
    [ -n "${words+set}" ] || return
    [ "$want" = any ] || ok "$file: exit $want, not $code ($(head -c 300 "$work/err"))" [ "$code" = "$want" ]
    unset words
}

while IFS= read -r file; do
    grep -q '^# *run:' "$file" || begin --dump=shapes
    number=0
    while IFS= read -r line; do
        number=$((number + 1))
        [[ $line =~ ^#\ *(run|out|not|has|hasnt|err|exit):\ ?(.*)$ ]] || continue
        text=${BASH_REMATCH[2]//\\t/$'\t'}
        case ${BASH_REMATCH[1]} in
        run) end; begin "$text" ;;
        out) ok "$file:$number: no line: $text" grep -qxF -e "$text" "$work/out" ;;
        not) ok "$file:$number: unwanted line: $text" bash -c '! grep -qxF -e "$1" "$2"' - "$text" "$work/out" ;;
        has) ok "$file:$number: output lacks: $text" grep -qF -e "$text" "$work/out" ;;
        hasnt) ok "$file:$number: output has: $text" bash -c '! grep -qF -e "$1" "$2"' - "$text" "$work/out" ;;
        err) ok "$file:$number: standard error lacks: $text" grep -qF -e "$text" "$work/err" ;;
        exit) want=$text ;;
        esac
    done <"$file"
    end
done < <(find . -path "./${1:-*}" -name '*.txt' | LC_ALL=C sort)
[ $((passed + failed)) -gt 0 ] || skip "no cases"
finish
