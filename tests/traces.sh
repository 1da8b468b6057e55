#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The planner on operator traces: uniform chains, whose least work for a budget is proven. Rows of tests/traces.c and
# recompute.c: no plan may be cheaper than the optimum (the judge would be wrong), none much dearer (the planner).
. "$(dirname "$0")/lib.sh"
planner=${PLANNER:-$PWD/tests/traces}

# chain N: calls 0 to N make a value each from the one before; the backward pass reads them from the last to the first.
chain() {
    awk -v n="$1" 'BEGIN {
        for (i = 0; i <= n; i++)
            printf "call 1000 %s> 1000000\n", i ? i - 1 " " : ""
        print "turn"
        for (i = n - 1; i >= 0; i--)
            printf "call 1000 %d %d > 1000000\nfree %d\nfree %d\n", 2 * n - i - 1, i, 2 * n - i - 1, i
    }'
}

# steps, values alive at once, and the calls of the best plan. Source: the recursion of Griewank and Walther, as in
# recompute_chain.
while read -r n values best; do
    chain "$n" >"$work/chain"
    found=$("$planner" "$(awk "BEGIN {print ($values + 0.01) / ($n + 2)}")" <"$work/chain" |
        awk -v n="$n" '{print $2 == "-" ? "none" : (2 * n + 1) * (1 + $2 / 100)}')
    ok "$n steps in $values values: $found calls, the best plan makes $best" \
        awk -v found="$found" -v best="$best" \
        'BEGIN {exit !(found != "none" && found > best - 0.1 && found < 1.1 * best)}'
done <<'END'
8 10 17
12 10 29
16 14 37
16 12 39
16 10 41
24 12 63
32 16 83
64 20 175
128 40 347
END
ok "a trace without a turn is refused" bash -c "! echo 'call 1 > 5' | '$planner' 0.5 2>/dev/null"
finish
