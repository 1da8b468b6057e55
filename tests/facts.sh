#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# --list=facts: each says of which library, where it holds and where it was read, and none twice. Where MEMLINT_TORCH
# names a Python that has a library, the file and the name of each source are there. Each is shown by a step that
# PyTorch recorded (tests/oracle/facts.py), which tests/steps.sh compares; tests/oracle/facts.tsv says by which.
# tests/oracle/facts.said has what memlint says of them beside the step, by tests/said.py; facts.sh --update writes it.
# Where PyTorch ran a step of what a file leaves open, too (.other), the assumption's effect is that of the two peaks.
. "$(dirname "$0")/lib.sh"
run --list=facts
ok "--list=facts fails" [ "$code" = 0 ]
ok "there are no facts" [ -s "$work/out" ]

# library, version, what, argument, class, class around, path, operator, beside, source
bad=$(awk -F'\t' 'NF != 10 || $1 == "-" || $2 !~ /^[0-9]+\.[0-9]+$/ || $3 == "-"' "$work/out" | head -1)
ok "a fact of no library or version, or that says nothing: $bad" [ -z "$bad" ]
bad=$(awk -F'\t' '$5 == "-" && $6 == "-" && $7 == "-"' "$work/out" | head -1)
ok "a fact that holds nowhere: $bad" [ -z "$bad" ]
bad=$(awk -F'\t' '$10 !~ /^[A-Za-z0-9_\/]+\.(py|cpp): [A-Za-z0-9_]+(; likewise [a-z0-9_.]+(, [a-z0-9_.]+)*)?$/' \
    "$work/out" | head -1)
ok "a fact without a source: $bad" [ -z "$bad" ]
bad=$(cut -f1-9 "$work/out" | LC_ALL=C sort | uniq -d | head -1)
ok "a fact twice: $bad" [ -z "$bad" ]

shown=$SOURCE/tests/oracle/facts.tsv
ok "tests/oracle/facts.tsv has other facts than --list=facts: tests/oracle/facts.py --pack writes it" \
    diff <(grep -v '^#' "$shown" | cut -f1-10) "$work/out"
bad=$(grep -v '^#' "$shown" | awk -F'\t' 'NF != 11 || $11 == "-"' | head -1)
ok "no step shows the fact: $bad" [ -z "$bad" ]
if command -v xz >/dev/null; then
    mkdir "$work/steps"
    tar -xJf "$SOURCE/tests/oracle/facts.tar.xz" -C "$work/steps" || exit 1
    for model in "$work"/steps/*.onnx; do
        "$MEMLINT" "$model" -q --dump=facts | sed "s/$/\t$(basename "$model" .onnx)/"
    done >"$work/used"
    # the bytes at the peak of a step that says what is allocated before
    peak() { awk -F'\t' \
        '$1 == "=" {live = $2} $1 == "+" {live += $2} $1 == "-" {live -= $2}
            live > most {most = live} END {print most}' "$1"; }
    said=$SOURCE/tests/oracle/facts.said
    if command -v python3 >/dev/null; then
        python3 "$SOURCE/tests/said.py" "$MEMLINT" "$work/steps" >"$work/said" || exit 1
        [ "${1:-}" != --update ] || cp "$work/said" "$said"
        ok "doubts and assumptions are others: read the difference, then facts.sh --update" diff "$said" "$work/said"
    fi
    for other in "$work"/steps/*.other; do # what the file leaves open, as PyTorch ran it both ways
        step=${other%.other}.step
        option=$(head -1 "$other")
        option=${option#"$(head -1 "$step") "}
        effect=$(printf '%s %+d' "$option" $(($(peak "$other") - $(peak "$step"))))
        line=$(grep -F "$(basename "$step")"$'\t' "$said")
        case "${line//$'\t'/, }, " in *", $effect, "*) there=true ;; *) there=false ;; esac
        ok "$(basename "$other"): no assumption says $effect: $line" $there
    done
    while IFS= read -r fact; do
        ok "its step does not use the fact: $fact" grep -qxF "$fact" "$work/used"
    done < <(grep -v '^#' "$shown" |
        awk -F'\t' -v OFS='\t' '{n = split($11, s, " "); NF = 10; row = $0; for (i = 1; i <= n; i++) print row, s[i]}')
fi

python=${MEMLINT_TORCH:-python3}
for module in torch torchvision transformers timm diffusers peft; do
    folder=$("$python" -c "import importlib.util as u; print(u.find_spec('$module').submodule_search_locations[0])" \
        2>/dev/null)
    [ -n "$folder" ] || { echo "skipped: the sources of $module, which $python has not" && continue; }
    case $module in
    torch) library=PyTorch folder=${folder%/torch} ;;
    transformers) library=Transformers ;;
    peft) library=PEFT ;;
    *) library=$module ;;
    esac
    while IFS=$'\t' read -r file name; do
        if [ $module = transformers ]; then
            set -- "$folder"/"$file" "$folder"/models/*/"$file"
        else
            set -- "$folder/$file"
        fi
        ok "$library has no $name in $file" grep -qsE "^ *(class|def) $name\b" "$@"
    done < <(awk -F'\t' -v l=$library \
        '$1 == l && $10 !~ /\.cpp:/ {sub(/;.*/, "", $10); sub(/: /, "\t", $10); print $10}' "$work/out" |
        LC_ALL=C sort -u)
done
finish
