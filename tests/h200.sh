#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What PyTorch took on an H200, beside what memlint says: steps of the oracle's zoo, recurrent layers.
. "$(dirname "$0")/lib.sh"
oracle=${MEMLINT_SHARED:-$SOURCE/../shared}/oracle
[ -e "$oracle/models.tar.xz" ] || skip "no models at $oracle"
python3 "$SOURCE/tests/oracle/h200.py" "$MEMLINT" "$oracle" >"$work/out"
code=$?
cat "$work/out"
ok "within its bounds" [ "$code" = 0 ]
ok "rows of every class" [ "$(grep -c '^| zoo' "$work/out")" = 14 ]
ok "steps of real size, and moved ones" [ "$(grep -c "^| large" "$work/out")" = 6 ]
finish
