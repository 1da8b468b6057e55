#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Many models: the first recipe of docs/FLEET.md over 500 files, killed half-way and resumed with nothing lost or done
# twice.
. "$(dirname "$0")/lib.sh"
cd "$work" || exit 1
many=500
[ -z "${SANITIZED:-}" ] || many=100
mkdir models
for i in $(seq $many); do
    case $((i % 50)) in
    7) echo 'not a model' >"models/$i.txt" ;;
    *) cp "$SOURCE/tests/cases/runner/relu.txt" "models/$i.txt" ;;
    esac
done
ls models/*.txt | LC_ALL=C sort >list

# The recipe's command, from the page itself.
recipe=$(sed -n '/^## GNU parallel/,/^## /s/^    //p' "$SOURCE/docs/FLEET.md" | grep -m1 'xargs')
ok "the page has the recipe" [ -n "$recipe" ]
mkdir bin && ln -s "$MEMLINT" bin/memlint
PATH=$work/bin:$PATH
names() { cat results.*.jsonl | python3 -c 'import json, sys
for line in sys.stdin: print(json.loads(line)["model"]["file"])' | LC_ALL=C sort; }
if command -v python3 >/dev/null && command -v setsid >/dev/null; then
    # Killed: after a while, with everything it started; on a machine that was done by then, again.
    for _ in 1 2 3 4 5; do
        rm -f results.*.jsonl
        setsid bash -c "$recipe" >log 2>&1 &
        pid=$!
        for _ in $(seq 1000); do
            [ "$(cat results.*.jsonl 2>/dev/null | wc -l)" -ge $((many / 10)) ] && break
        done
        kill -KILL -- -$pid 2>/dev/null
        wait $pid 2>/dev/null
        done_before=$(cat results.*.jsonl 2>/dev/null | wc -l)
        [ "$done_before" = $many ] || break
    done
    ok "killed half-way, at $done_before of $many" [ "$done_before" -gt 0 -a "$done_before" -lt $many ]
    # A write that the kill tore in two.
    torn=$(ls results.*.jsonl | head -1)
    printf '{"schema": 1, "model": {"fi' >>"$torn"
    mkdir earlier && cp results.*.jsonl earlier
    bash -c "$recipe" >log 2>&1
    status=$?
    ok "the run says that models were refused: $(tail -2 log)" [ $status != 0 ]
    ok "nothing lost, nothing done twice" diff list <(names)
    for f in earlier/*; do
        f=${f#earlier/}
        n=$(grep -c '}$' "earlier/$f")
        ok "$f goes on where it was" cmp -s <(head -n "$n" "earlier/$f") <(head -n "$n" "$f")
    done
    before=$(cat results.*.jsonl | cksum)
    bash -c "$recipe" >log 2>&1
    ok "a run when all is done" [ "$(cat results.*.jsonl | cksum)" = "$before" ]
    ok "counts what was done: $(grep -c 'were done before' log)" [ "$(grep -c 'were done before' log)" -ge 2 ]
fi

# ---- one process: lists, shards, summary
exits() {
    local want=$1
    shift
    run "$@"
    ok "exit $want, not $code: $*: $(tail -1 "$work/err")" [ "$code" = "$want" ]
}
{ head -19 list; echo models/7.txt; } >few
exits 3 --files-from=few -o r.jsonl -q
ok "a line a model, also for one that was refused" [ "$(wc -l <r.jsonl)" = 20 ]
ok "which says why" grep -q '"verdict": "refused", "error": "' r.jsonl
grep -v 'models/7.txt\|models/107.txt' few | head -5 >good
exits 0 --files-from=good -o r.jsonl --format=jsonl
ok "the lines on standard output are the file's" cmp -s out r.jsonl
ok "a summary: $(cat err)" grep -q '^memlint: 5 models, .*highest peak' err
"$MEMLINT" --files-from=- -o s.jsonl -q <good 2>/dev/null
ok "names on standard input" cmp -s r.jsonl s.jsonl
mapfile -t five <good
exits 0 "${five[@]}" -o s.jsonl -q
ok "or on the command line" cmp -s r.jsonl s.jsonl
exits 1 --files-from=good -o r.jsonl -q --max-peak=1KiB
exits 1 --files-from=good -o r.jsonl -q --resume
ok "a resumed run is no greener" [ "$(wc -l <r.jsonl)" = 5 ]
exits 3 --files-from=good -o r.jsonl -q --resume --optimizer=sgd
ok "nor of another set-up: $(cat err)" grep -q 'r.jsonl: line 1: .*optimizer adamw, now sgd' err
echo '{"schema": 1}' >r.jsonl
exits 3 --files-from=good -o r.jsonl -q --resume
ok "nor of anything else" grep -q 'line 1' err
for n in 1 3 7; do
    for i in $(seq $n); do
        "$MEMLINT" --files-from=few --shard=$i/$n --format=jsonl 2>/dev/null
    done | grep -c . >count
    ok "$n shards are the whole: $(cat count)" [ "$(cat count)" = \
        "$("$MEMLINT" --files-from=few --format=jsonl 2>/dev/null | wc -l)" ]
done
# ---- a list is text, has an end, and names something
printf '\n  \nmodels/1.txt\r\n\n' >blank
exits 0 --files-from=blank --format=jsonl
ok "blank lines are skipped" [ "$(wc -l <out)" = 1 ]
printf '\n \n\t\r\n' >blank
exits 2 --files-from=blank -q
ok "a list of none is an error: $(cat err)" grep -q 'blank: it names no model' err
exits 2 --files-from=/dev/null -q
exits 2 --files-from=/dev/zero -q
ok "a list is text: $(cat err)" grep -q '/dev/zero: no text' err
exits 2 --files-from="$SOURCE/tests/gate/../../examples/tiny_gpt.onnx" -q
printf 'models/1.txt\nmodels\033/2.txt\n' >strange
exits 2 --files-from=strange -q
ok "names its line: $(cat err)" grep -q 'strange: line 2 is no name' err
yes models/1.txt | "$MEMLINT" --files-from=- -q 2>err
ok "without an end it is refused: $(cat err)" grep -q 'the file is too long.*limit "list".*--limit list=' err
exits 0 --files-from=few --shard=1000000/1000000 -q
ok "a shard may be empty" grep -q '^memlint: 0 models' err

# ---- a resumed run is judged by the gates that it is given
exits 0 --files-from=good -o g.jsonl -q --dim N=4
exits 1 --files-from=good -o g.jsonl -q --dim N=4 --resume --max-peak=1KiB
ok "each line that it stops is told" [ "$(grep -c 'above --max-peak 1KiB' err)" = 5 ]
ok "and none is written again" [ "$(wc -l <g.jsonl)" = 5 ]
exits 0 --files-from=good -o g.jsonl -q --dim N=4 --resume --max-peak=1GiB
exits 3 --files-from=good -o g.jsonl -q --dim N=4 --resume --device=t4
ok "another device is another step: $(cat err)" grep -q 'device none, now t4' err
exits 1 --files-from=good -o g.jsonl -q --dim N=4 --resume --fail-on=note
printf -- '--max-peak=1KiB\n' >models/.memlint
exits 1 --files-from=good -o g.jsonl -q --dim N=4 --resume
rm models/.memlint
exits 2 --files-from=missing
exits 2 --files-from=few "$SOURCE/examples/tiny_gpt.onnx"
exits 2 --resume --files-from=few
exits 2 --resume --files-from=few -o r.html
exits 2 --shard=0/2 --files-from=few
exits 2 --shard=3/2 --files-from=few
exits 2 --shard=1 --files-from=few
exits 2 --baseline=x.json --files-from=few
exits 4 --files-from=good -q -o "$work/none/r.jsonl"
finish
