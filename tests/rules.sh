#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Every rule of --list=rules has its section in docs/RULES.md, a case in tests/cases/rules/ (or a golden report) where
# it fires and a case where it must not, and there is no other section.
. "$(dirname "$0")/lib.sh"
cd "$SOURCE" || exit 1
"$MEMLINT" --list=rules | cut -f1 | sort >"$work/rules"
sed -n 's/^## //p' docs/RULES.md | sort >"$work/sections"
ok "sections of docs/RULES.md: $(comm -3 "$work/rules" "$work/sections" | tr '\n' ' ')" cmp -s "$work/rules" \
    "$work/sections"
# When not to, as a report says it, stands in the rule's section.
tr '\n' ' ' <docs/RULES.md | tr -s ' ' >"$work/rules.line"
for report in tests/golden/*.json; do
    grep -o '"when_not": "[^"]*"' "$report" | cut -d'"' -f4
done | sort -u >"$work/unless"
ok "reports say when not to" [ "$(wc -l <"$work/unless")" -gt 5 ]
while IFS= read -r unless; do
    ok "docs/RULES.md does not say: $unless" grep -qF -e "*When not to:* $unless" "$work/rules.line"
done <"$work/unless"
while read -r rule; do
    ok "no case where $rule fires" grep -qrE "^(# has: (.* )?|  (note|warning) )$rule\b" tests/cases/rules tests/golden
    ok "no case where $rule must not" grep -qrE "^# hasnt: (.* )?$rule\b" tests/cases/rules
done <"$work/rules"
finish
