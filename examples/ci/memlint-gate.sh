#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Compares the models of a branch with those of the revision it left from: checks out the base, exports both with the
# same command, runs memlint. The reports lie in $MEMLINT_OUT, memlint.md is the comment.
#
#   MEMLINT_MODEL    the model's file, as the export writes it, from the top of the repository; several: one a line
#   MEMLINT_EXPORT   shell command that writes them, run at the top of each checkout; empty: they are committed
#   MEMLINT_BASE     what the branch is compared with, a branch or commit (default origin/main)
#   MEMLINT_OPTIONS  words for memlint, quoted as in a shell, on one line or more
#   MEMLINT_OUT      folder for the reports (default memlint-out)
#   MEMLINT_LABELS   labels of the pull request, with commas between
#   MEMLINT          the program (default memlint)
#
# The flag file of the base counts, so that a branch can't relax its own gate. Where the branch's differs, the models
# are judged under its own as well, and under its set-up with the base's budgets: what comes after the merge is seen
# before it. An increase that is meant passes where the base's flag file has a line like
#
#   # memlint-gate: accept=trailer:Memlint-Accept,label:memory-accepted
#
# and a commit of the branch that trailer, with the reason, or the pull request that label; the reports say so.
#
# Exit status: memlint's, the gravest of all; 1 also when the base can't be exported, 3 when the branch can't.
set -eu
: "${MEMLINT_MODEL:?names no model}"
memlint=${MEMLINT:-memlint} out=${MEMLINT_OUT:-memlint-out} base=${MEMLINT_BASE:-origin/main}
cd "$(git rev-parse --show-toplevel)"
mapfile -t models < <(sed 's/^[[:blank:]]*//; s/[[:blank:]\r]*$//; /^$/d' <<<"$MEMLINT_MODEL")
[ "${#models[@]}" -gt 0 ] || { echo "memlint-gate: MEMLINT_MODEL names no model" >&2 && exit 2; }
if ! words=$(xargs -r printf '%s\n' <<<"${MEMLINT_OPTIONS:-}"); then
    echo "memlint-gate: MEMLINT_OPTIONS: a quote has no end" >&2
    exit 2
fi
options=()
[ -z "$words" ] || mapfile -t options <<<"$words"
if ! fork=$(git merge-base "$base" HEAD); then
    echo "memlint-gate: $base and HEAD have no common revision here; fetch the whole history (fetch-depth: 0)" >&2
    exit 2
fi
work=$(mktemp -d "${TMPDIR:-/tmp}/memlint-XXXXXX")
trap 'git worktree remove --force "$work/base" 2>/dev/null || true; rm -rf "$work"' EXIT
git worktree add --quiet --detach "$work/base" "$fork"
mkdir -p "$out" "$work/md"
notes=$work/notes worst=0 reports=0
: >"$notes"
note() {
    echo "memlint-gate: $*" >&2
    echo "$*" >>"$notes"
}

export_in() { # export_in FOLDER
    [ -z "${MEMLINT_EXPORT:-}" ] || (cd "$1" && bash -eu -c "$MEMLINT_EXPORT") >&2
}
if ! export_in .; then
    echo "memlint-gate: the export of the branch failed: there is no model to judge" >&2
    exit 3
fi
base_failed=
export_in "$work/base" || base_failed="the export of the base ($fork) failed"

# The reason for which an increase is accepted, where the base's flag file lets it be.
accepted() { # accepted FLAGS
    local way name
    while IFS= read -r way; do
        name=${way#*:}
        case $way in
        trailer:*) git log --format="%(trailers:key=$name,valueonly,unfold,separator=%x3B) ($name in %h)" \
            "$fork..HEAD" | sed '/^ (/d' ;;
        label:*) tr ',' '\n' <<<"${MEMLINT_LABELS:-}" | sed 's/^ *//; s/ *$//' | grep -Fx -e "$name" |
            sed 's/^/label /' ;;
        *) note "the base's flag file accepts by trailer:NAME or label:NAME, not by $way" ;;
        esac
    done < <(sed -n 's/^[[:blank:]]*#[[:blank:]]*memlint-gate:[[:blank:]]*accept=//p' "$1" | tr ',' '\n' | tr -d '\r ')
}

# The flag file that counts for a model: beside it, or at the top. Its baseline is the base.
flags_of() { # flags_of FOLDER MODEL
    local beside
    beside=$1/$(dirname "$2")/.memlint
    [ -e "$beside" ] || beside=$1/.memlint
    sed 's/^[[:blank:]]*--baseline.*//' "$beside" 2>/dev/null || true
}
plain() { grep -Ev '^[[:blank:]]*(#|$)' "$1" | tr -d '\r' || true; }
budgets='^[[:blank:]]*--(max-peak|max-increase|fail-on|device|suppress)([=[:blank:]]|$)'

judge() { # judge MODEL NAME UNDER FLAGS ARGUMENT...: one run of memlint
    local model=$1 name=$2 under=$3 flags=$4 status=0 kind files=() kinds=(json xml)
    shift 4
    reports=$((reports + 1))
    [ "$under" != "the base's flags" ] ||
        kinds+=(html sarif codequality.json metrics) # of one run only: servers want each once
    for kind in "${kinds[@]}"; do
        files+=(-o "$out/$name.$kind")
    done
    echo "memlint-gate: $model under $under:" >&2
    "$memlint" "$model" --flags="$flags" "$@" --sources=. ${options[@]+"${options[@]}"} \
        --format="${MEMLINT_FORMAT:-github}" \
        "${files[@]}" -o "$work/md/$reports.md" || status=$?
    echo "$under" >"$work/md/$reports.under"
    [ -e "$work/md/$reports.md" ] || note "$model could not be analysed under $under: exit status $status"
    [ $status -le $worst ] || worst=$status
}

for model in "${models[@]}"; do
    name=memlint flags=$work/flags
    [ "${#models[@]}" = 1 ] || name=${model//\//-}
    flags_of "$work/base" "$model" >"$flags.base"
    flags_of . "$model" >"$flags.own"
    plain "$flags.base" >"$work/plain.base"
    plain "$flags.own" >"$work/plain.own"
    { grep -Ev "$budgets" "$work/plain.own"; grep -E "$budgets" "$work/plain.base"; } >"$flags.mixed" || true
    common=()
    reason=$(accepted "$flags.base" | head -1)
    [ -z "$reason" ] || common+=("--accept=$reason")
    [ -n "$reason" ] ||
        [ -z "$(git log --format='%(trailers:key=Memlint-Accept,valueonly)' "$fork..HEAD" | tr -d '\n')" ] ||
        note "a trailer Memlint-Accept doesn't count: the base's flag file has no line" \
            "# memlint-gate: accept=trailer:Memlint-Accept"
    if [ ! -e "$model" ]; then
        echo "memlint-gate: the branch has no $model" >&2
        worst=3
        continue
    fi
    old=$work/base/$model why=$base_failed
    [ -n "$why" ] || [ -z "${MEMLINT_EXPORT:-}" ] || [ -e "$old" ] ||
        why="the export of the base ($fork) makes no $model"
    if [ -n "$why" ]; then # an increase over nothing can't be judged: red, whatever the budgets say
        note "$why: nothing was compared"
        printf '%s\n' ${options[@]+"${options[@]}"} | cat - "$flags.base" | grep -q -e --max-increase ||
            common+=(--max-increase=0)
        before=() under=()
    elif [ -e "$old" ]; then
        "$memlint" "$old" --flags="$flags.base" ${options[@]+"${options[@]}"} -q -o "$work/old.json" 2>"$work/log" ||
            true
        before=(--baseline="$old") under=(--baseline="$work/old.json")
    else
        note "$model is new: only its budgets are judged"
        before=(--baseline=none) under=(--baseline=none)
    fi
    judge "$model" "$name" "the base's flags" "$flags.base" ${before[@]+"${before[@]}"} ${common[@]+"${common[@]}"}
    cmp -s "$work/plain.base" "$work/plain.own" && continue
    note "the flags of $model differ from the base's, which count; it is judged under its own, too"
    judge "$model" "$name.own" "the branch's own flags" "$flags.own" ${under[@]+"${under[@]}"} \
        ${common[@]+"${common[@]}"}
    cmp -s <(sort "$flags.mixed") <(sort "$work/plain.base") ||
        cmp -s <(sort "$flags.mixed") <(sort "$work/plain.own") ||
        judge "$model" "$name.mixed" "the branch's set-up with the base's budgets" "$flags.mixed" \
            ${under[@]+"${under[@]}"} ${common[@]+"${common[@]}"}
done

# The comment: a line for each run, then the reports, as many as a comment takes.
md=$work/md
{
    if [ $reports -gt 1 ]; then
        printf '### memlint: %s models, exit status %s\n\n| model | under | result |\n| --- | --- | --- |\n' \
            "${#models[@]}" $worst
    fi
    for i in $(seq $reports); do
        if [ $reports = 1 ] || [ ! -e "$md/$i.md" ]; then continue; fi
        printf '| %s | %s | %s |\n' "$(sed -n 's/ (`.*): allocated .*//p' "$md/$i.md" | head -1)" \
            "$(cat "$md/$i.under")" \
            "$(sed -n 's/^### memlint: //p; s/^\*\*Gate /; **Gate /p' "$md/$i.md" | tr -d '\n')"
    done
    sed 's/^/\n/' "$notes"
    size=$(cat "$md"/*.md 2>/dev/null | wc -c)
    for i in $(seq $reports); do
        if [ -e "$md/$i.md" ] && { [ "$i" = 1 ] || [ "$size" -lt 60000 ]; }; then
            echo
            cat "$md/$i.md"
        fi
    done
} >"$out/memlint.md"
exit $worst
