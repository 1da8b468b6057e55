#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Figures that others measured on real GPUs and published: those that memlint comes near to stay near
# (tests/oracle/published.py, docs/GPUS.md). The models lie in the packs beside the repository.
. "$(dirname "$0")/lib.sh"
shared=${MEMLINT_SHARED:-$SOURCE/../shared}
[ -e "$shared/outside/published.jsonl" ] || skip "no figures at $shared/outside"
command -v python3 >/dev/null || skip "no python3"
python3 "$SOURCE/tests/oracle/published.py" "$MEMLINT" "$shared/outside" "$shared/oracle" >"$work/table"
ok "a published figure is farther off than its bound" [ $? = 0 ]
ok "the table has its rows" [ "$(grep -c '^| ' "$work/table")" -ge 30 ]
tail -3 "$work/table"
finish
