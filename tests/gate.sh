#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Gates over pairs of exports: exit code, increase, and the culprit that is named. tests/gate/ has a small residual
# network and what a pull request might make of it; with the oracle pack, zoo.py does the same with recorded steps.
. "$(dirname "$0")/lib.sh"
models=$SOURCE/tests/gate
cd "$work" || exit 1
set -- --dim batch=16 --flags=none

peak() { grep -o '"allocated": [0-9]*' "$1" | head -1 | grep -o '[0-9]*'; }
first() { sed -n 's/^memlint: .*; first in //p' err; }

compared() { # compared REPORT: what it says of the comparison, without the line with both names, however long they are
    sed -n '/^Against/,/^At/p' "$1" | awk 'NR == 2 { left = 1; next } left && /^  \|/ { next } { left = 0; print }'
}
# ---- pairs: NEW, exit status with --max-increase 1KiB, what the first line of causes says
while IFS='|' read -r new want culprit; do
    "$MEMLINT" "$models/$new.txt" "$@" --baseline="$models/base.txt" --max-increase=1KiB --format=json >r.json 2>err
    ok "$new: exit $want" [ $? = "$want" ]
    "$MEMLINT" "$models/base.txt" "$@" --format=json >old.json
    "$MEMLINT" "$models/$new.txt" "$@" --format=json >new.json
    increase=$(($(peak new.json) - $(peak old.json)))
    ok "$new: increase $increase" grep -q "\"increase_bytes\": $increase," r.json
    "$MEMLINT" "$models/$new.txt" "$@" --baseline="$models/base.txt" >r.txt
    [ "$want" = 0 ] || ok "$new: names $culprit, not $(first)" [ "$(first)" = "$culprit" ]
    "$MEMLINT" "$models/$new.txt" "$@" --baseline=old.json >s.txt
    ok "$new: a stored result says the same" diff <(compared r.txt) <(compared s.txt)
done <<'EOF'
base|0|
wider|1|blocks.0.up at net.py:7: weight [256, 64] -> [384, 64], bias [256] -> [384]
longer|1|(outside of the model): targets [16, 64] -> [16, 96], tokens [16, 64] -> [16, 96]
silu|1|blocks.0.act at net.py:7: ReLU -> SiLU
untied|1|head at net.py:18: weight [500, 64] added
deeper|1|blocks.2 at net.py:7: added, 33,216 parameters
renamed|0|
EOF
"$MEMLINT" "$models/base.txt" "$@" --baseline="$models/base.txt" >r.txt
ok "nothing changed" grep -q ' nothing changed' r.txt
"$MEMLINT" "$models/renamed.txt" "$@" --baseline="$models/base.txt" --format=json >r.json
ok "a rename is one change" [ "$(grep -o '"change": "[a-z]*"' r.json)" = '"change": "renamed"' ]
"$MEMLINT" "$models/base.txt" "$@" --baseline="$models/deeper.txt" --max-increase=0 --format=json >r.json
ok "less is no increase" [ $? = 0 ]
ok "what went is named" grep -q '"old_path": "blocks.2", "change": "removed"' r.json

"$MEMLINT" "$models/seq-silu.txt" "$@" --baseline="$models/seq-relu.txt" --max-increase=0 --format=json >r.json 2>err
ok "another operator in a forward method is a cause, with its line: $(first)" [ "$(first)" = \
    "seq.0 at net.py:7: relu -> silu" ]
"$MEMLINT" "$models/seq-relu.txt" "$@" --format=json >old.json
"$MEMLINT" "$models/seq-silu.txt" "$@" --baseline=old.json --max-increase=0 --format=json >r.json 2>err
ok "also against a stored result: $(first)" [ "$(first)" = "seq.0 at net.py:7: relu -> silu" ]
"$MEMLINT" "$models/seq-norm.txt" "$@" --baseline="$models/seq-relu.txt" --max-increase=0 --format=json >r.json 2>err
ok "a layer put first moves the others, no more: $(first)" [ "$(first)" = "seq.0 at net.py:13: added, 128 parameters" ]
ok "none of which is a cause" [ "$(grep -o '"cause": true' r.json | wc -l)" = 1 ]

# ---- the larger of both limits counts
gate() { # gate EXIT ARGUMENT...: of wider against base, +1.78 % or 1.38 MiB
    local want=$1
    shift
    run "$models/wider.txt" --dim batch=16 --flags=none --baseline="$models/base.txt" -q "$@"
    ok "exit $want, not $code: $*" [ "$code" = "$want" ]
}
gate 0 --max-increase=2%
gate 1 --max-increase=1.7%
gate 0 --max-increase=2MiB
gate 1 --max-increase=1MiB
gate 0 --max-increase=1MiB --max-increase=2%
gate 0 --max-increase=2MiB --max-increase=1%
gate 1 --max-increase=1MiB --max-increase=1%
gate 1 --max-increase=2% --max-peak=1MiB
ok "one line, both reasons" [ "$(wc -l <err)" = 1 ]
gate 1 --device=1MiB
gate 0 --expect-fail --max-increase=1%
ok "the canary says so" grep -q 'as --expect-fail expects' err
gate 1 --expect-fail --max-increase=2%
ok "and when it passed" grep -q 'the gate passed, and --expect-fail' err
run "$models/none.txt" "$@" --expect-fail
ok "what can't be analysed is no failed gate" [ "$code" = 3 ]

# ---- what can't be judged is red, with a sentence of its own
sentence() { # sentence EXIT TEXT ARGUMENT...: of wider
    local want=$1 text=$2
    shift 2
    run "$models/wider.txt" --flags=none -q "$@"
    ok "exit $want, not $code: $*" [ "$code" = "$want" ]
    ok "$*: $(cat err)" grep -q -e "$text" err
}
base=--baseline=$models/base.txt
unknown='is unjudged: the result is inconclusive, 1 value is not explained; --dim batch=8 may settle it'
sentence 1 "max-peak 1TiB $unknown" --max-peak=1TiB
sentence 1 "device h200 $unknown" --device=h200
sentence 1 "max-increase 5% $unknown" --max-increase=5% "$base"
sentence 1 'max-increase 5% is unjudged: there is no baseline' --dim batch=16 --max-increase=5%
"$MEMLINT" "$models/base.txt" "$@" -o small.json -q
"$MEMLINT" "$models/base.txt" --flags=none -o open.json -q
sed 's/"allocated": [0-9]*,$/"allocated": 1000,/; /"unexplained"/,/^  \]/{/node/d}' open.json >tiny.json
sentence 1 'is unjudged: the baseline has another set-up (batch 16, now 32), with which the peak was 77.* MiB, now' \
    --dim batch=32 --max-increase=5% --baseline=small.json
sentence 1 'is unjudged: the baseline is inconclusive, 1 value is not explained' --dim batch=1 --max-increase=5% \
    --baseline=open.json
sentence 0 'inconclusive.*; --fail-on=known lets it pass' --max-peak=1TiB --fail-on=known
sentence 0 'no baseline.*; --fail-on=known lets it pass' --dim batch=16 --max-increase=1% --fail-on=known
sentence 1 'more than --max-increase 1%' --dim batch=16 --max-increase=1% --fail-on=known "$base"
sentence 1 'is inconclusive, 1 value' --fail-on=inconclusive --fail-on=known
sentence 0 '--baseline=none says that the model is new' --dim batch=16 --max-increase=1% --baseline=none
sentence 1 'of the peak are certain, which is above --max-peak 512KiB' --max-peak=512KiB
sentence 1 'of the peak are certain, which is above --device 64MiB' --device=64MiB --fail-on=known
sentence 1 'of the peak are certain, which is above --max-increase 0' --max-increase=0 --baseline=tiny.json

# ---- where each doubt was run both ways, the result is a range, and a gate is judged where both ends are on one side
both() { # both EXIT TEXT ARGUMENT...: of a model whose filter's size is a doubt
    local want=$1 text=$2
    shift 2
    run "$SOURCE/tests/cases/sure/filter.txt" --flags=none -q --format=json "$@"
    ok "exit $want, not $code: $*" [ "$code" = "$want" ]
    ok "$*: $text" grep -q -e "$text" "$work/out"
}
both 0 '"most": [0-9]'
cp "$work/out" filter.json
both 0 'the peak is unchanged, within --max-increase 0' --max-increase=0 --baseline=filter.json
both 0 'of the device at most, whichever way what is unknown goes, fit in --device h200' --device=h200
sed -E 's/"allocated": [0-9]+,$/"allocated": 1,/; s/"(certain|most)": [0-9]+/"\1": 1/' filter.json >less.json
both 1 'the peak changes by +[0-9.]* [KM]iB to +[0-9.]* [KM]iB, more than --max-increase 1KiB' --max-increase=1KiB \
    --baseline=less.json
both 1 'is unjudged: the result is inconclusive' --max-peak="$(sed -n 's/^ *"certain": \([0-9]*\),$/\1/p' filter.json)B"
printf -- '--dim batch=16\n--max-increase=1%%\n' >flags
run "$models/wider.txt" --flags=flags -q
ok "a flag file's gate without a baseline is red, too" [ "$code" = 1 ]
printf -- '--fail-on=known\n--fail-on=error\n' >>flags
run "$models/wider.txt" --flags=flags -q
ok "and may relax it" [ "$code" = 0 ]
while read -r format pattern; do
    run "$models/wider.txt" --flags=none --max-peak=1TiB --format="$format"
    ok "$format: exit $code" [ "$code" = 1 ]
    ok "$format says it" grep -q -- "$pattern.*1TiB is unjudged: the result is inconclusive" <(tr -d '\n' <out)
done <<'EOF'
text inconclusive: --max-peak
full inconclusive: --max-peak
json "verdict": "inconclusive",.*"outcome": "unjudged", "message": "--max-peak
jsonl "verdict": "inconclusive",.*"outcome": "unjudged", "message": "--max-peak
markdown [*][*]Gate unjudged[*][*]: `--max-peak
html Inconclusive: .*--max-peak
sarif "level": "error",.*"message": {.*"text": "--max-peak
junit errors="1".*<error message="--max-peak
gitlab "description": "--max-peak
gitlab-metrics HELP memlint_gate_max_peak unjudged: --max-peak
github ::error file=.*gate-max-peak::--max-peak
csv ,"'--max-peak
EOF
gate 0 --accept='bigger batches, issue 12' --max-increase=1%
ok "an accepted increase passes and is told: $(cat err)" grep -q \
    'more than --max-increase 1%.*; accepted: bigger batches, issue 12' err
for format in text json jsonl markdown html junit gitlab-metrics github; do
    run "$models/wider.txt" "$@" "$base" --max-increase=1% --accept='bigger batches' --format=$format
    ok "$format: accepted" grep -q 'accepted: bigger batches' out
    ok "$format: nothing is wrong" [ "$code" = 0 ]
done
sentence 0 'accepted: new loss' --accept='new loss' --max-peak=1TiB
gate 1 --accept='why not' --fail-on=note
ok "a finding is suppressed, not accepted" grep -q 'and --fail-on note$' err

# ---- the sentence: whose sign the change has, and the budget as it was typed
gate 1 --max-increase=1.0%
ok "as typed: $(cat err)" grep -q \
    'more than --max-increase 1.0% (790.79 KiB); the largest part in blocks (+1.38 MiB); first in blocks.0.up at' err
gate 1 --max-increase=1e6 --max-peak=70000KiB
ok "both as typed: $(cat err)" grep -q 'above --max-peak 70000KiB; .* more than --max-increase 1e6; ' err
run "$models/wider.txt" "$@" "$base" --max-increase=1e6 --format=markdown
shapes='weight \[256, 64\] -> \[384, 64\], bias \[256\] -> \[384\]'
ok "Markdown has the cause" grep -q \
    'Gate failed.*: `the peak grew by .*first in blocks.0.up at net.py:7: '"$shapes"'`$' out
# The head, which comes first, went back to a tied one and shrank.
run "$models/silu.txt" "$@" --baseline="$models/untied.txt" --max-increase=0 -q
ok "not a layer that shrank: $(cat err)" grep -q \
    '; the largest part in blocks (+2.00 MiB); first in blocks.0.act at net.py:7: ReLU -> SiLU$' err

# ---- findings that the baseline has, too
for old in "$models/base.txt" small.json; do
    run "$models/renamed.txt" "$@" --baseline="$old" --format=github
    ok "a refactoring annotates nothing: $(head -1 out)" [ "$(wc -l <out)" = 1 ]
    ok "but says so" grep -q '[0-9]* findings that the baseline has, too, are left out' out
done
rules=$SOURCE/tests/cases/rules
run "$rules/gelu.txt" --loss=sum --flags=none --baseline="$rules/leaky.txt" --format=github
ok "a new finding is annotated" grep -q \
    '^::notice.*title=memlint fused-gelu::\|^::warning.*title=memlint fused-gelu::' out
ok "an old one is not" [ "$(grep -c 'title=memlint optimizer-8bit::' out)" = 0 ]

# ---- stored baselines
"$MEMLINT" "$models/base.txt" "$@" -q --baseline=stored.json --update-baseline
ok "it is made" [ $? = 0 -a -s stored.json ]
cp stored.json before.json
"$MEMLINT" "$models/base.txt" "$@" -q --baseline=stored.json --update-baseline --max-increase=0
ok "the same bytes" cmp -s stored.json before.json
gate 1 --baseline=stored.json --max-increase=0
gate 0 --baseline=stored.json --max-increase=0 --update-baseline
ok "and accepts an increase" [ "$(peak stored.json)" -gt "$(peak before.json)" ]
gate 0 --baseline=stored.json --max-increase=0
cp before.json stored.json
gate 1 --baseline=stored.json --max-increase=9% --optimizer=sgd
ok "another set-up is not comparable" grep -q 'another set-up (optimizer adamw, now sgd)' err
gate 0 --baseline=stored.json --optimizer=sgd
ok "which is told" grep -q 'another set-up: optimizer adamw, now sgd' err
sed 's/"version": "[^"]*"/"version": "0.0.1"/' before.json >stored.json
gate 0 --baseline=stored.json --max-increase=9%
ok "another version is told" grep -q 'made by memlint 0.0.1' err
while IFS='|' read -r edit message; do
    sed "$edit" before.json >stored.json
    gate 3 --baseline=stored.json
    ok "$edit: $(cat err)" grep -q "stored.json: .*$message" err
done <<'EOF'
20q|line 21: .*key is missing
s/"schema": 1/"schema": 9/|"schema" is not 1
s/"live_at_peak"/"dead_at_peak"/|no list "live_at_peak"
s/"opset": 20,/"opset": 20/|line 7: .*comma
$a more|something follows
s/"allocated": /"allocated": 0x/|a comma is missing
EOF
sed "s/\"shape\": \[\([0-9]\)/\"shape\": [$(printf '1,%.0s' {1..66})\1/" before.json >stored.json
gate 3 --baseline=stored.json
ok "too many dimensions: $(cat err)" grep -q 'stored.json: .*too many dimensions' err
gate 3 --baseline=none.json
ok "no baseline is an error" grep -q 'none.json: can.t be read' err

# ---- the flag file
mkdir -p repository/.git repository/models
cp "$models/wider.txt" repository/models
cp "$models/base.txt" repository/base.txt
printf '# the budget of this model\n\n--dim batch=16\n  --max-increase=1%%  \n--baseline base.txt\n' \
    >repository/.memlint
run repository/models/wider.txt -q
ok "found at the root of the repository" [ "$code" = 1 ]
run repository/models/wider.txt -q -v
ok "printed with -v" grep -q '\.memlint:4: --max-increase=1%' err
run repository/models/wider.txt -q --max-increase=2%
ok "the command line wins" [ "$code" = 0 ]
run repository/models/wider.txt -q --max-increase=1MiB
ok "over both limits of the file" [ "$code" = 1 ]
run repository/models/wider.txt --dim batch=2 --format=json
ok "also for a dimension" grep -q '"dims": {"batch": 2}' out
run repository/models/wider.txt -q --flags=none
ok "or leaves it out" [ "$code" = 0 ]
printf -- '--dim batch=16\n--max-peak=1MiB\n' >repository/models/.memlint
run repository/models/wider.txt -q
ok "the one beside the model is nearer" grep -q 'above --max-peak' err
rm repository/models/.memlint
for line in '--max-peak=lots' '--output=x.json' '--nonsense' 'max-peak=1GiB' '--dim' '--suppress x'; do
    printf '# one\n%s\n' "$line" >flags
    run "$models/base.txt" --flags=flags -q
    ok "exit 2: $line: $(cat err)" [ "$code" = 2 ]
    ok "place of $line" grep -q '^memlint: flags:2: ' err
done
run "$models/base.txt" --flags=missing
ok "no such flag file" [ "$code" = 2 ]

# ---- suppressions
rule=$("$MEMLINT" "$models/base.txt" "$@" --format=json | grep -o '{"rule": "[a-z0-9-]*"' | head -1 |
    grep -o '[a-z0-9-]*"$' | tr -d '"')
run "$models/base.txt" "$@" -q --fail-on=note
ok "a finding fails" [ "$code" = 1 ]
printf -- '--dim batch=16\n--fail-on note\n--suppress * until=2999-01-31 reason="known, issue 12"\n' >flags
run "$models/base.txt" --flags=flags --format=json
ok "suppressed: $(cat err)" [ "$code" = 0 -a ! -s err ]
ok "and the report says why" grep -q '"suppressed": "until 2999-01-31: known, issue 12"' out
printf -- '--suppress %s@nowhere* until=2999-01-31 reason=none\n' "$rule" >flags
run "$models/base.txt" --flags=flags --dim batch=16 -q
ok "unused ones are told: $(cat err)" grep -q 'flags:1: the suppression of .*covers no finding' err
printf -- '--suppress %s until=2020-01-31 reason=none\n' "$rule" >flags
run "$models/base.txt" --flags=flags --dim batch=16 -q --fail-on=note
ok "expired ones are told: $(cat err)" grep -q 'ended on 2020-01-31' err
ok "and don't count" [ "$code" = 1 ]
for bad in 'x' 'x until=2027-13-01 reason=y' 'x until=2027-01-01' 'x reason=y until=2027-01-01' \
    'x until=2027-01-01 reason=""'; do
    run "$models/base.txt" "$@" --suppress "$bad"
    ok "exit 2: --suppress $bad" [ "$code" = 2 ]
done

# ---- recorded steps
oracle=${MEMLINT_SHARED:-$SOURCE/../shared}/oracle
if [ -z "${SANITIZED:-}" ] && [ -e "$oracle/models.tar.xz" ] && command -v python3 >/dev/null; then
    python3 "$models/zoo.py" "$MEMLINT" "$oracle" >zoo.log 2>&1
    status=$?
    ok "zoo: $(tail -5 zoo.log)" [ $status = 0 ]
    tail -1 zoo.log
fi
finish
