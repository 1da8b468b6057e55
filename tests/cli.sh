#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The command line: exit codes, messages, several models and reports, what is written and what is left alone.
. "$(dirname "$0")/lib.sh"
model=$SOURCE/examples/tiny_gpt.onnx
set -- --dim batch=2

one_line() { [ "$(wc -l <"$work/err")" = 1 ] && grep -q '^memlint: ' "$work/err"; }
usage() { # usage PATTERN ARGUMENT...: exit 2 with one line that matches
    local pattern=$1
    shift
    run "$@"
    ok "exit 2: $*" [ "$code" = 2 ]
    ok "one line: $*" one_line
    ok "message of $*: $(cat "$work/err")" grep -q -e "$pattern" "$work/err"
    ok "no output: $*" [ ! -s "$work/out" ]
}
exits() { # exits CODE ARGUMENT...
    local want=$1
    shift
    run "$@"
    ok "exit $want, not $code: $*" [ "$code" = "$want" ]
}

# ---- usage
usage 'no model given'
usage 'unknown .*option --nonsense' --nonsense "$model"
usage 'unknown option -Z' -Z "$model"
usage 'argument is missing' -o
usage 'takes no argument' --quiet=3 "$model"
usage 'one of training, inference' --mode=eval "$model"
usage 'NAME=N' --dim batch "$model"
usage 'NAME=N' --dim batch=0 "$model"
usage 'NAME=N' --dim batch=2x "$model"
usage 'NAME=N' --dim batch=99999999999999999999 "$model"
usage '2x3x224x224' --input-shape x=2xx3 "$model"
usage 'NAME=FILE' --input-value x "$model"
usage 'list=optimizers' --optimizer=nonsense "$model"
usage "no switch of that name in --list=optimizers" --optimizer=sgd+amsgrad "$model"
usage 'list=precisions' --precision=nonsense "$model"
usage 'list=losses' --loss=nonsense "$model"
usage 'list=losses' --loss=nonsense:y "$model"
usage 'wanted NAME:OUTPUT' --loss=mse:y, "$model"
usage 'has a loss already' --loss=mse:y --loss=l1:y "$model"
usage 'list=loops' --loop=nonsense "$model"
usage 'accumulate-N' --loop=accumulate-0 "$model"
for list in aten optimizers precisions losses loops parallel rules policies formats; do
    run --list=$list
    ok "--list=$list names nothing twice" [ -s "$work/out" -a -z "$(cut -f1 "$work/out" | sort | uniq -d)" ]
done
# keeps GPUS DEVICE TORCH MIB: the most that NCCL is said to keep
keeps() {
    run --parallel=ddp --gpus="$1" --device="$2" --torch="$3" --format=json "$model"
    ok "NCCL on $1 of $2 with PyTorch $3" grep -q "communicator, 192 MiB (computed: [^)]*) to $4 MiB" "$work/out"
}
keeps 2 h100 2.4 1600
keeps 4 h100 2.4 1840
keeps 64 h200 2.4 2992
keeps 8 h100 2.5 1600
keeps 8 a100-80 2.4 1600
usage 'list=parallel' --parallel=zero9 "$model"
usage 'from 2 to 65536' --parallel=ddp --gpus=1 "$model"
usage 'names of modules' --parallel=fsdp --units= "$model"
usage 'only several GPUs share them' --units='h.*' "$model"
usage 'the step of one GPU' --parallel=ddp --replay "$model"
usage 'a version of PyTorch, as in --torch=2.6' --torch=new "$model"
usage 'a version of PyTorch, as in --torch=2.6' --torch=26 "$model"
usage 'attention=flash' --assume attention=slow "$model"
usage 'list=devices' --device nonsense "$model"
usage 'native, expandable' --allocator=other "$model"
usage 'benchmark, deterministic, no-tf32; did you mean no-tf32' --cudnn-flags=deterministic,no-tf33 "$model"
usage 'benchmark, deterministic, no-tf32' --cudnn-flags=benchmark, "$model"
usage 'how often' --replay=0 "$model"
usage 'how often' --replay=2x "$model"
usage 'not a size' --replay-limit=0 "$model"
usage 'every process has a context' --context=0 "$model"
usage 'not a size' --replay-spare=some "$model"
usage 'picks the format' -o report.docx "$model"
usage 'text, full' --format=docx "$model"
usage '24GiB' --max-peak=lots "$model"
usage 'inconclusive, known' --fail-on=all "$model"
usage '5% or a size' --max-increase=lots "$model"
usage '5% or a size' --max-increase=-5% "$model"
usage 'name of model 1 is empty' ''
usage 'name of model 2 is empty' "$model" ''
usage 'wanted the reason' --accept= "$model"
usage 'needs the --baseline' --update-baseline --baseline=old.onnx "$model"
usage 'RULE' --suppress x "$model"
usage 'I/N' --shard=2/1 "$model"
usage 'FILE.jsonl' --resume "$model"
usage 'stand on the command line' --files-from=- "$model"
usage 'missing: can' --flags="$work/missing" "$model"
usage 'graph, shapes' --dump=nothing "$model"
usage 'ops, aten' --list=nothing
usage 'needs a %' -o "$work/r.html" "$model" "$model"

# ---- recomputation
exits 0 --recompute=none "$model"
exits 0 --quiet --recompute='blocks.0,blocks.1' --dim=batch=2 "$model"
exits 3 --recompute=nothing.here "$model"
ok "names the modules" grep -q 'nothing.here: no module called nothing.here runs as one piece' "$work/err"
exits 0 --recompute='blocks.0,blocks.0.mlp' "$model"

# ---- help and lists
exits 0 --help
ok "no heading without options" bash -c "! grep -q 'Not in this version' '$work/out'"
ok "help names every option" [ "$(grep -c -e '--' "$work/out")" -gt 20 ]
ok "help fits 100 columns" [ "$(awk 'length > m {m = length} END {print m}' "$work/out")" -le 120 ]
exits 0 --version
ok "version" grep -q '^memlint [0-9]' "$work/out"
ok "its libraries" grep -q '^Libraries: libxml2 [0-9.]*, protobuf-c [0-9.]*$' "$work/out"
if [ -e "$SOURCE/.git" ] && commit=$(git -C "$SOURCE" describe --always 2>/dev/null); then
    ok "and the commit" grep -q "(commit $commit\(-dirty\)\?)" "$work/out"
fi
ok "and whether it can replay" grep -q 'CUDA' "$work/out"
for table in ops aten optimizers precisions losses loops devices formats options mdoc completions zsh fish; do
    exits 0 --list=$table
    ok "--list=$table prints" [ -s "$work/out" ]
done
"$MEMLINT" --list=completions >"$work/completions"
complete_with() { # complete_with WORD...: what bash offers for the last one
    bash -c '. "$0"; COMP_WORDS=(memlint "$@"); COMP_CWORD=$#; compopt() { :; }; _memlint; echo "${COMPREPLY[*]}"' \
        "$work/completions" "$@"
}
ok "completes options" grep -qw -e '--optimizer=' <<<"$(complete_with --opt)"
ok "and values after =" [ "$(complete_with --device = rtx-40)" = \
    "$("$MEMLINT" --list=devices | cut -f1 | grep ^rtx-40 | paste -sd " ")" ]
ok "before a letter of them" [ "$(complete_with --mode =)" = "training inference" ]
ok "and after a blank" [ "$(complete_with --loss m)" = mse ]
for shell in zsh fish; do
    exits 0 --list=$shell
    ok "$shell has every option" [ "$(grep -c -e '--[a-z-]*[=[]' -e ' -l [a-z]' "$work/out")" -ge \
        "$(($("$MEMLINT" --list=options | wc -l)))" ]
    ok "$shell has the values" grep -q 'sgd momentum' "$work/out"
    ok "$shell parses it" bash -c "! command -v $shell >/dev/null || $shell -n '$work/out'"
done

# ---- names and sizes: found without regard to case, hyphens and blanks; a near miss is named
while IFS='|' read -r option says; do
    usage "$says" "$option" "$model"
done <<'END'
--device=24|24 has no unit; 24GiB?
--device=16384|16384MiB?
--max-peak=24|24GiB?
--max-peak=0.5|0.5GiB?
--replay-limit=16|16GiB?
--replay-spare=1|1GiB?
--max-increase=5|5% or 5MiB?
--recompute=8|8GiB? Modules of that name are .8.
--device=0x10|not a size
--device=-1GiB|24GiB
--device=A100|a100-40 or a100-80
--device=rtx-409|rtx-4090
--device=NVIDIA GeForce RTX 3090|did you mean rtx-3090?
--optimizer=adamx|adam, adamw or adamax? (--list=optimizers)
--precision=pf16|bf16 or fp16
--loss=crossentropi|cross-entropy?
--loop=acumulate-4|accumulate-N?
--loop=accumulate-|accumulate-N with N
--assume=attention=flsh|attention=flash?
--format=htm|html?
--color=allways|always?
--fail-on=warn|warning?
--list=device|devices?
--limit=node=9|did you mean nodes?
--batch-size=8|--dim batch=32?
--batch_size|--dim batch=32?
--gpu=4090|--device=NAME
--seq-len=512|--dim NAME=N
--optimiser=adam|--optimizer?
--re|ambiguous option --re: --recompute, --replay
END
for option in --device=4090 --device=A100_80 '--device=RTX 3090' --device=rtx3090 --device=2.5e9 --optimizer=AdamW \
    --precision='AMP BF16' \
    --loss=CrossEntropy --loop=Accumulate_4 --mode=Training; do
    exits 0 --dim=batch=2 -q "$option" "$model"
done
for size in 24G 24gb 24GiB '24 GB' 24g 1.5e9 1073741824 0.5TiB; do
    exits 0 --dim=batch=2 -q --max-peak="$size" "$model"
done
exits 1 --dim=batch=2 -q --max-peak=0 "$model"

# ---- a clean run, and where things go
exits 0 "$model" "$@"
ok "text by default" grep -q 'Peak .* allocated' "$work/out"
ok "nothing on standard error" [ ! -s "$work/err" ]
ok "no escape without a terminal" bash -c "! grep -q \$'\\033' '$work/out'"
exits 0 "$model" "$@" --color=always
ok "colour when asked" grep -q $'\033' "$work/out"
exits 0 "$model" "$@" -q
ok "quiet" [ ! -s "$work/out" ]
exits 0 "$model" "$@" -o "$work/r.html" -o "$work/r.json" -o "$work/r.md" -o "$work/r.txt" -o "$work/r.jsonl"
for e in html json md txt jsonl; do
    ok "r.$e is written" [ -s "$work/r.$e" ]
done
ok "text beside -o" grep -q 'Peak' "$work/out"
ok "no litter" [ -z "$(find "$work" -name '.memlint-*')" ]
exits 0 "$model" "$@" --format=json -o "$work/s.html" -q
ok "--format beside -o and -q" grep -q '"schema": 1' "$work/out"
ok "the same JSON" cmp -s "$work/out" "$work/r.json"
exits 0 --dim batch=2 -- "$model"
exits 0 "$model" --dim batch=1048577 --format=jsonl
ok "the table of sizes has a size above its doubles" grep -q '"sizes": .*"batch": 1048577}, "reserved"' "$work/out"

# ---- the text report keeps within the terminal, and cuts off nothing that matters
deep=$work/$(printf 'folder%02d/' {1..15})
mkdir -p "$deep"
cp "$model" "$deep/mine.onnx"
widest() { grep -v '^  |   ' "$work/out" | LC_ALL=C.UTF-8 wc -L; } # but for Python, which is not parted anywhere
for width in 60 80 100 120; do
    for options in --device=1GiB --recompute=auto '--explain-oom=CUDA out of memory. Tried to allocate 500.00 MiB.' \
        --parallel=auto --mode=inference --max-peak=1MiB --baseline="$SOURCE/tests/gate/base.txt"; do
        COLUMNS=$width LC_ALL=C.UTF-8 "$MEMLINT" "$deep/mine.onnx" --dim batch=256 "$options" >"$work/out" 2>/dev/null
        ok "$width columns, not $(widest): $options" [ "$(widest)" -le $width ]
    done
    (cd "$SOURCE" && COLUMNS=$width LC_ALL=C.UTF-8 "$MEMLINT" examples/tiny_gpt.onnx) >"$work/out" 2>/dev/null
    ok "$width columns, not $(widest), where a size is open" [ "$(widest)" -le $width ]
    [ $width -gt 60 ] || continue
    COLUMNS=$width LC_ALL=C.UTF-8 "$MEMLINT" "$deep/mine.onnx" --dim batch=256 >"$work/out" 2>/dev/null
    ok "$width: a path keeps its end" grep -q '^memlint  \.\.\..*/mine.onnx:' "$work/out"
    ok "$width: what half precision gives is there" grep -q 'bfloat16 the peak is [0-9.]* GiB' "$work/out"
    ok "$width: no program is cut" bash -c "! grep -q '^  |   \.\.\.\$' '$work/out'"
    ok "$width: no number is parted from its unit" bash -c "! grep -qE '^ *\| ([KMGT]?i?B|%)[ ,;.)]' '$work/out'"
    ok "$width: nothing ends at a preposition" bash -c "! grep -qE ' (at|is|of|in|the|to) \.\.\.\$' '$work/out'"
done
at() { # at BATCH: the bytes reserved
    "$MEMLINT" "$SOURCE"/examples/tiny_gpt.onnx --dim batch="$1" --format=json |
        sed -n 's/^ *"reserved": \([0-9]*\),$/\1/p'
}
message="CUDA out of memory. Tried to allocate 128.00 MiB. GPU 0 has a total capacity of 1.00 GiB of which 100.00 MiB \
is free. Of the allocated memory 300.00 MiB is allocated by PyTorch, and 20.00 MiB is reserved by PyTorch but \
unallocated."
n=$("$MEMLINT" "$SOURCE"/examples/tiny_gpt.onnx --dim batch=64 --explain-oom="$message" | tr -d '\n|' | tr -s ' ' |
    sed -n 's/.*message left room for; the largest batch that fits is \([0-9]*\).*/\1/p')
room=$((420 << 20))
ok "batch ${n:-?} fits what the message left" [ "$(at "${n:-999}")" -le $room ]
ok "and no larger one" [ "$(at $((${n:-0} + 1)))" -gt $room ]
ok "tensors have types" grep -q '\[16384, 8000\] float32' "$work/out"
"$MEMLINT" "$SOURCE"/examples/tiny_gpt.onnx --dim batch=8 --format=full >"$work/out"
ok "rules of thumb have names" grep -q 'rules of thumb: parameters and twice the activations: ' "$work/out"

# ---- several models
cp "$model" "$work/a.onnx"
cp "$model" "$work/b.onnx"
exits 0 "$work/a.onnx" "$work/b.onnx" "$@" -q -o "$work/%.json" -o "$work/%.html"
ok "a report each" [ -s "$work/a.json" -a -s "$work/b.json" -a -s "$work/a.html" -a -s "$work/b.html" ]
exits 0 "$work/a.onnx" "$work/b.onnx" "$@" --format=jsonl
ok "a line each" [ "$(wc -l <"$work/out")" = 2 ]
mkdir "$work/other" && cp "$model" "$work/other/a.onnx"
usage 'stands for a in both' "$work/a.onnx" "$work/other/a.onnx" "$@" -q -o "$work/%.json"
exits 3 "$work/a.onnx" "$work/missing.onnx" "$work/b.onnx" "$@" --format=jsonl
ok "the others are analysed" [ "$(wc -l <"$work/out")" = 2 ]

# ---- gates
exits 1 "$model" "$@" --max-peak=1KiB -o "$work/gate.json"
ok "the gate says why" grep -q 'above --max-peak' "$work/err"
ok "and the report too" grep -q '"verdict": "gate-failed"' "$work/gate.json"
exits 0 "$model" "$@" --max-peak=1TiB
exits 1 "$model" "$@" --device 1MiB --format=json
ok "does not fit" grep -q '"verdict": "does-not-fit"' "$work/out"
exits 0 "$model" "$@" --device 1TiB

# ---- a card holds what its driver gives to programs, not its nominal size
exits 0 --list=devices
ok "each device's memory is below the nominal, with its source" awk -F'\t' '
    !match($2, /[0-9]+ GB$/) || $3 !~ /^[0-9.]+ GiB$/ || $3 + 0 >= substr($2, RSTART) + 0 ||
        NF != 4 || $4 == "" {print; bad = 1}
    END {exit bad || NR == 0}' "$work/out"
exits 0 "$model" "$@" --format=json
ok "a T4's memory to the byte" grep -q '"device": "t4", "capacity": 15828320256,' "$work/out"
exits 1 "$model" --dim batch=1270 -q --device=t4
ok "14.9 GiB don't fit in a T4" grep -q '14\.8. GiB of the device .*(14\.74 GiB)' "$work/err"
exits 0 "$model" --dim batch=1270 -q --device=15GiB

# ---- a dimension nobody bound is no error: the result is inconclusive, which is a gate of its own
exits 0 "$model" --format=json
ok "inconclusive" grep -q '"verdict": "inconclusive"' "$work/out"
ok "and says which option settles it" grep -q -e '--dim batch' "$work/out"
exits 1 "$model" --fail-on=inconclusive -q
exits 0 "$model" "$@" --fail-on=inconclusive -q

# ---- options that name nothing of the model
sed 's/batch,/4,/g' "$SOURCE/tests/gate/base.txt" >"$work/fixed.txt"
while IFS='|' read -r file option says; do
    file=${file/fixed/$work/fixed.txt}
    exits 3 "${file/base/$SOURCE/tests/gate/base.txt}" -q "$option" --flags=none
    ok "$option is named, and what there is: $(cat "$work/err")" grep -qF -e "$says" "$work/err"
    ok "$option: one line" one_line
done <<'END'
base|--dim=sequence=512|--dim sequence=512: the model has no dimension of that name; it has batch
base|--dim=bathc=8|did you mean batch?
fixed|--dim=batch=64|the model's dimensions are fixed; export it with dynamic shapes
fixed|--dim=sequence=64|the model's dimensions are fixed
base|--freeze=nosuch*|--freeze=nosuch*: no parameter matches; the first is embed.weight
base|--freeze=blocks.0.weight|did you mean blocks.0.up.weight?
base|--train=lora*|--train=lora*: no parameter matches; the first is embed.weight
base|--loss=mse:boxes|--loss=mse:boxes: the model has no output boxes; it has logits
base|--input-shape=token=4x64|did you mean tokens?
base|--recompute=blocks.0,nothing|no module called nothing runs as one piece
END
exits 0 "$work/fixed.txt" --dim batch=4 -q
exits 3 "$SOURCE/tests/gate/base.txt" --dim batch=8 --input-shape tokens=4x64 -q
ok "two options that differ" grep -q -e '--input-shape makes it 4' "$work/err"
sed 's/batch,/s7,/g' "$SOURCE/tests/gate/base.txt" >"$work/other.txt"
for name in batch batch_size; do
    exits 0 "$work/other.txt" --dim $name=8 --format=json
    ok "$name binds the only open leading dimension, and says so" grep -q 'the batch is s7, the only leading' \
        "$work/out"
    ok "$name is the batch" grep -q '"batch": 8' "$work/out"
done
exits 3 "$work/other.txt" --dim sequence=8
printf -- '--dim sequence=5\n--freeze=nosuch*\n--input-shape=z=1\n--dim batch=4\n' >"$work/flags"
exits 0 "$SOURCE/tests/gate/base.txt" --flags="$work/flags" --format=json
ok "a flag file may be for other models, too: a note each" [ "$(wc -l <"$work/err")" = 3 ]
ok "which names its line" grep -q "flags:1: --dim sequence=5: the model has no dimension" "$work/err"
ok "and the set-up lacks it" grep -q '"dims": {"batch": 4}' "$work/out"
exits 0 "$work/other.txt" --dim=s7=4 --baseline="$SOURCE/tests/gate/base.txt" --flags=none
ok "an older model may lack a dimension: a note" grep -q 'base.txt: --baseline: --dim s7=4' "$work/err"

# ---- models that can't be analysed
echo older >"$work/kept.html"
printf '\0not a model' >"$work/bad.onnx"
exits 3 "$work/bad.onnx" -o "$work/kept.html"
ok "one line, which names the file" one_line
ok "names the file" grep -q 'bad.onnx' "$work/err"
ok "an older report is left" grep -qx older "$work/kept.html"
exits 3 "$work/missing.onnx" -o "$work/none.html"
ok "no report" [ ! -e "$work/none.html" ]
exits 3 "$work"
exits 3 "$model" "$@" --input-value tokens="$work/missing.pb"

cp "$SOURCE/tests/golden.list" "$work/older.json"
# ---- limits: each that can be moved is met below, says which it is and how to raise it
while read -r name n code file options; do
    # shellcheck disable=SC2086 # a list of options
    exits $code "$SOURCE/$file" --flags=none --limit "$name=$n" $options
    ok "$name: its name and the option" grep -q -e "--limit $name=$((n * 4))" "$work/out" "$work/err"
done <<END
memory 1048576 3 examples/tiny_gpt.onnx
messages 10 3 examples/tiny_gpt.onnx
skeleton 100 3 examples/tiny_gpt.onnx
nodes 3 3 examples/tiny_gpt.onnx
tensors 2 3 examples/tiny_gpt.onnx
repeated 1 3 examples/tiny_gpt.onnx
properties 1 3 examples/tiny_gpt.onnx
name 3 3 examples/tiny_gpt.onnx
metadata 5 3 examples/tiny_gpt.onnx
attribute 1 3 examples/tiny_gpt.onnx
text 100 3 tests/gate/base.txt
inlined 1 3 tests/cases/shapes/function.txt
unrolled 20 0 tests/cases/calls/loop.txt
parts 1 0 tests/cases/calls/sequence.txt
frames 3 0 examples/tiny_gpt.onnx --dim batch=2
fold 1 0 tests/cases/shapes/range.txt
folded 1 0 tests/cases/shapes/range.txt
baseline 9 3 tests/gate/base.txt --baseline=$work/older.json
list 9 2 tests/gate/base.txt --flags=$work/older.json
END
"$MEMLINT" --list=limits | grep -v fixed | cut -f1 | sort >"$work/limits"
ok "no limit that nothing meets" diff "$work/limits" \
    <(sed -n '/^done <<END/,/^END/s/^\([a-z]*\) [0-9]* [023] .*/\1/p' "$SOURCE/tests/cli.sh" | sort)
exits 2 "$model" --limit rank=70
ok "a fixed limit says so" grep -q 'fixed at 64' "$work/err"
exits 2 "$model" --limit nodes=0
exits 2 "$model" --limit node=9
exits 2 "$model" --limit nodes
printf -- '--limit=nodes=9\n' >"$work/flags"
exits 2 "$model" --flags="$work/flags"

# ---- the environment
if [ -w /dev/full ]; then
    "$MEMLINT" "$model" "$@" >/dev/full 2>"$work/err"
    ok "full standard output" [ $? = 4 ]
    exits 4 "$model" "$@" -q -o "$work/nofolder/r.html"
    ok "names the report" grep -q 'nofolder/r.html' "$work/err"
fi
ok "a closed pipe" bash -c \
    "('$MEMLINT' '$model' $* --format=json; echo \$? >'$work/status') 2>/dev/null | exec true
    [ \$(cat '$work/status') != 141 ]"

# ---- the same input gives the same bytes
"$MEMLINT" "$model" "$@" --format=html >"$work/1" && "$MEMLINT" "$model" "$@" --format=html >"$work/2"
ok "the same bytes" cmp -s "$work/1" "$work/2"
ok "nothing from outside in the page" bash -c "! grep -E -q '(src|href)=\"?(https?:)?//|url\\(|@import' '$work/1'"
finish
