#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The corpora of the fuzz targets, replayed: whatever a fuzzer found once stays found.
. "$(dirname "$0")/lib.sh"
FUZZ=${FUZZ:-$PWD/tests/fuzz}
cd "$work" || exit 1 # external data of a model would lie here
for target in bytes text pipeline stored; do
    "$FUZZ/$target" "$SOURCE/tests/fuzz/corpus/$target" >out 2>err
    code=$?
    read -r p f < <(awk '/ passed, [0-9]+ failed/ {print $1, $3}' out)
    passed=$((passed + ${p:-0})) failed=$((failed + ${f:-0}))
    ok "$target: $(tail -3 err)" [ "$code" = 0 ]
done
finish
