#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# docs/TUTORIAL.md: its commands run, in order, and end as it says. The glossary has the words that it is asked for.
. "$(dirname "$0")/lib.sh"
cp -r "$SOURCE/examples" "$work/examples"
cd "$work" || exit 1
PATH=$(dirname "$MEMLINT"):$PATH
while IFS= read -r line; do
    bash -c "$line" >out 2>err </dev/null
    code=$?
    ok "exit $code: $line: $(head -1 err)" [ $code -le 1 ]
    [[ $line != *--device=* || $line == *accumulate* ]] || ok "does not fit yet: $line" [ $code = 1 ]
    [[ $line != *--device=*accumulate* && $line != *accumulate*--device=* ]] || ok "fits: $line" [ $code = 0 ]
    [[ $line != *explain-oom* ]] || ok "the tensor is named" grep -q '^Out of memory' out
done < <(sed -n 's/^ *\$ //p' "$SOURCE/docs/TUTORIAL.md")
ok "there were commands" [ "$passed" -gt 9 ]
for word in Allocated Reserved Device Saved Workspace Inconclusive Assumption; do
    ok "the glossary has $word" grep -q "^\*\*$word" "$SOURCE/docs/GLOSSARY.md"
done
finish
