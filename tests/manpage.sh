#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The manual page: its option list is the program's own, and its examples (lines .Dl $ memlint ...) run.
. "$(dirname "$0")/lib.sh"
page=$SOURCE/docs/memlint.1
list() { sed -n '/^\.\\" options:/,/^\.\\" end of options/p' "$page" | sed '1d;$d'; }

if [ "${1:-}" = --update ]; then
    "$MEMLINT" --list=mdoc >"$work/list"
    sed -e "/^\.\\\\\" options:/r $work/list" -e '/^\.\\" options:/,/^\.\\" end of options/{/^\.\\"/!d}' "$page" \
        >"$work/page"
    cp "$work/page" "$page"
    exit
fi
ok "the option list (make update-golden rewrites it)" diff -u <(list) <("$MEMLINT" --list=mdoc)
if command -v mandoc >/dev/null; then
    ok "mandoc finds nothing" mandoc -T lint -W warning "$page"
fi
cp "$SOURCE/examples/tiny_gpt.onnx" "$work/model.onnx"
cd "$work" || exit 1
PATH=$(dirname "$MEMLINT"):$PATH
while IFS= read -r line; do
    bash -c "$line" >out 2>err </dev/null
    code=$?
    ok "exit $code: $line: $(head -1 err)" [ $code -le 1 ]
done < <(sed -n 's/^\.Dl \$ //p' "$page")
finish
