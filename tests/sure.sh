#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What sounds sure is right: the largest batch passes and the next one fails whatever one began with, an inconclusive
# result promises nothing in any format, no plan lies below the bound, and an assumption's effect is that of the option
# it names.
. "$(dirname "$0")/lib.sh"
cd "$SOURCE" || exit 1
exits() { # exits CODE ARGUMENT...
    local want=$1
    shift
    run "$@"
    ok "exit $want, not $code: $*" [ "$code" = "$want" ]
}
model=examples/tiny_gpt.onnx

# ---- the largest batch
batches() { # batches BATCH ARGUMENT...: "DEVICE N" a line
    "$MEMLINT" "$model" --dim "batch=$1" "${@:2}" --format=json |
        grep -o '"device": "[^"]*", "capacity": [0-9]*, "verdict": "[^"]*", "largest_batch": [0-9]*' |
        sed 's/"device": "\([^"]*\)".*: /\1 /'
}
batches 4 >"$work/4"
batches 9 >"$work/9"
ok "largest batches that hang on the batch one began with" cmp -s "$work/4" "$work/9"
ok "devices without a largest batch" [ "$(wc -l <"$work/4")" = "$("$MEMLINT" --list=devices | wc -l)" ]
for how in --precision=fp32 --precision=amp-bf16; do # whose attention asks the device for more
    batches 4 "$how" >"$work/of"
    while read -r device n; do
        case $device in rtx-2060 | t4 | a100-40 | h100 | rtx-5090) ;; *) continue ;; esac
        exits 0 "$model" -q "$how" --device="$device" --dim "batch=$n"
        exits 1 "$model" -q "$how" --device="$device" --dim "batch=$((n + 1))"
    done <"$work/of"
done

# ---- an inconclusive result, in every format
says='at least (<em>)?[0-9]|nothing is certain|peak (<em>)?[0-9.]+ [KMG]iB to [0-9]|"certain": [0-9]|peak_certain_bytes'
for file in tests/cases/sure/*.txt; do
    case $file in *torchscript*) continue ;; esac
    grep -q '^# has: "verdict": "ok"' "$file" && continue
    for format in $("$MEMLINT" --list=formats | cut -f 1); do
        run "$file" --format="$format"
        tr '\n' ' ' <"$work/out" | sed 's/ *| / /g; s/<style.*<\/style>//; s/"fits": \[//' >"$work/said"
        ok "$file: $format does not say what is certain" grep -qiE "$says" "$work/said"
        ok "$file: $format promises" bash -c \
            '! grep -qE "[^ a-z]fits|; fits|[Ll]argest batch|lower bound|\"largest_batch\": [0-9]" "$1"' - "$work/said"
    done
    run "$file" --format=json
    ok "$file: a device has a verdict" bash -c '! grep -qE "\"verdict\": \"(fits|tight|does not fit)\"" "$1"' - \
        "$work/out"
    most=$(sed -n 's/^ *"most": \([0-9]*\),$/\1/p' "$work/out")
    exits $((most == 0)) "$file" -q --max-peak=1TiB
    [ -z "$most" ] || exits 0 "$file" -q --max-peak="${most}B"
    [ -z "$most" ] || exits 1 "$file" -q --max-peak=$((most - 1))B
done

# ---- no plan below the bound
run "$model" --dim batch=8 --recompute=auto --format=json
bound=$(grep -o '"lower_bound": [0-9]*' "$work/out" | tr -dc 0-9)
lowest=$(grep -o '"peak": [0-9]*, "extra_flops' "$work/out" | tr -dc '0-9\n' | sort -n | head -1)
ok "a plan of $lowest bytes is below the bound of $bound" [ "$bound" -le "$lowest" ]

# ---- what an assumption is worth
peak() { "$MEMLINT" "$model" --dim batch=8 --format=json "$@" | grep -o '"allocated": [0-9]*' | head -1 | tr -dc 0-9; }
own=$(peak)
while IFS=$'\t' read -r option effect; do
    read -ra words <<<"$option"
    ok "$option changes the peak by $effect" [ "$(peak "${words[@]}")" = $((own + effect)) ]
done < <("$MEMLINT" "$model" --dim batch=8 --format=json |
    grep -o '"option": "--[^"]*", "effect_bytes": -\?[0-9]*' | sed 's/"option": "\([^"]*\)", "effect_bytes": /\1\t/')

# ---- everything that was chosen is in the set-up, and two results that differ in it are not equals
"$MEMLINT" "$model" --dim batch=8 -q -o "$work/base.json"
for option in --freeze=blocks.* --dropout=none '--assume attention=math' '--assume inplace=none' \
    '--assume accumulate=never' --recompute=blocks.0 --device=t4; do
    read -ra words <<<"$option"
    run "$model" --dim batch=8 "${words[@]}" --baseline="$work/base.json" --max-increase=50% --format=json
    ok "$option is no other set-up" [ "$code" = 1 ]
    ok "$option is not in the set-up" grep -q '"setup_differs": \["' "$work/out"
done

# ---- what a report says to try can be pasted, whatever the file is called
while IFS= read -r name; do
    mkdir -p "$work/$(dirname "./$name")" && cp "$SOURCE/examples/tiny_gpt.onnx" "$work/$name"
    "$MEMLINT" "$work/$name" | awk '/^  try: / { on = sub(/^  try: memlint/, "\"$MEMLINT\" -q") } on { print }
        !/\\$/ { on = 0 }' >"$work/try.sh"
    ok "$name: what it says to try runs" env MEMLINT="$MEMLINT" bash -e "$work/try.sh"
done <<'END'
two words.onnx
it's $HOME "é" (1) & more.onnx
a folder whose name has many words in it/and another one that has as many of them/so that it is wrapped.onnx
END
finish
