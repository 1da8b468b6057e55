#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# docs/report.schema.json: every golden JSON report is what it says, and so are reports of what these lack (a model that
# is refused, one that is inconclusive, an out-of-memory message, checkpoints, a replay on tests/driver.c).
# tests/schema.py judges: no key that is not described, no description of nothing, and broken reports are refused.
. "$(dirname "$0")/lib.sh"
command -v python3 >/dev/null || skip "no python3"
python3 -c 'import jsonschema; jsonschema.Draft202012Validator' 2>/dev/null || skip "no jsonschema of 4.0 for python3"
cd "$SOURCE" || exit 1
DRIVER=${DRIVER:-$PWD/tests/driver.so}

written() { # written NAME ARGUMENT...
    "$MEMLINT" "${@:2}" --format=json >"$work/$1.json" 2>"$work/err" </dev/null
    ok "$1: $(head -1 "$work/err")" [ -s "$work/$1.json" ]
}
echo "no model" >"$work/refused.txt"
echo "$work/refused.txt" >"$work/list"
"$MEMLINT" --files-from="$work/list" -q -o "$work/refused.jsonl" 2>"$work/err"
ok "a model that is refused" grep -q '"refused"' "$work/refused.jsonl"
written oom --loss=sum --explain-oom=tests/cases/oom/new.msg tests/cases/oom/messages.txt
written tensors --loss=sum --explain-oom=tests/cases/oom/middle.msg tests/cases/oom/messages.txt
written inconclusive tests/cases/sure/gap.txt
written checkpointed tests/cases/step/checkpoint-every.txt --loss=sum '--recompute=h.*'
for set_up in --allocator=expandable "--parallel=ddp --gpus=4" "--parallel=fsdp --gpus=4" --loop=accumulate-4; do
    read -ra words <<<"$set_up"
    written "set-up-${words[0]#--}" examples/tiny_gpt.onnx --dim batch=4 "${words[@]}"
done
sed -n '/^<ir_version/,/^}/p; /^END/q' tests/driver.sh >"$work/images.txt"
mkdir "$work/lib"
for name in libcuda.so.1 libnvidia-ml.so.1 libcudnn.so.9 libcublasLt.so.13; do ln -s "$DRIVER" "$work/lib/$name"; done
for row in "gpt $SOURCE/examples/tiny_gpt.onnx --dim batch=4" "images $work/images.txt --loss=mse"; do
    read -ra words <<<"$row"
    DRIVER_LOG=$work/log LD_LIBRARY_PATH=$work/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} "$MEMLINT" --replay \
        --format=json "${words[@]:1}" >"$work/replay-${words[0]}.json" 2>"$work/err" </dev/null
done
unseen=
if [ ! -s "$work/replay-gpt.json" ]; then
    rm -f "$work"/replay-*.json
    echo "skipped: the keys of a replay: $(head -1 "$work/err")"
    unseen=--unseen=replay,replayed_step,kernel
fi
python3 tests/schema.py $unseen docs/report.schema.json tests/golden/*.json tests/golden/*.jsonl "$work"/*.json \
    "$work"/*.jsonl >"$work/said" 2>&1
code=$?
while read -r word name; do
    ok "$name" [ "$word" = ok ]
done <"$work/said"
ok "tests/schema.py ends with 0, not $code" [ $code = 0 ]
finish
