#!/bin/bash
# Compares the model of a branch with that of the revision it left from: checks out the base, exports both with the same
# command, runs memlint. The reports lie in $MEMLINT_OUT; the exit status is memlint's.
#
#   MEMLINT_MODEL    the model's file, as the export writes it, from the top of the repository
#   MEMLINT_EXPORT   shell command that writes it, run at the top of each checkout; empty: the file is committed
#   MEMLINT_BASE     what the branch is compared with, a branch or commit (default origin/main)
#   MEMLINT_OPTIONS  words for memlint, as in "--dim batch=32 --max-increase=5%"
#   MEMLINT_OUT      folder for the reports (default memlint-out)
#   MEMLINT          the program (default memlint)
#
# The flag file is the base's: a branch can't relax its own gate.
set -eu
: "${MEMLINT_MODEL:?names no model}"
memlint=${MEMLINT:-memlint} out=${MEMLINT_OUT:-memlint-out} base=${MEMLINT_BASE:-origin/main}
cd "$(git rev-parse --show-toplevel)"
if ! fork=$(git merge-base "$base" HEAD); then
    echo "memlint-gate: $base and HEAD have no common revision here; fetch the whole history (fetch-depth: 0)" >&2
    exit 2
fi
work=$(mktemp -d "${TMPDIR:-/tmp}/memlint-XXXXXX")
trap 'git worktree remove --force "$work/base" 2>/dev/null || true; rm -rf "$work"' EXIT
git worktree add --quiet --detach "$work/base" "$fork"

export_in() { # export_in FOLDER
    [ -z "${MEMLINT_EXPORT:-}" ] || (cd "$1" && bash -eu -c "$MEMLINT_EXPORT") >&2
}
export_in .
baseline=()
if export_in "$work/base" && [ -e "$work/base/$MEMLINT_MODEL" ]; then
    baseline=(--baseline "$work/base/$MEMLINT_MODEL")
else
    echo "memlint-gate: $fork makes no $MEMLINT_MODEL: nothing to compare with, only budgets are judged" >&2
fi
flags=none
if git cat-file -e "$fork:.memlint" 2>/dev/null; then
    flags=$work/flags
    git show "$fork:.memlint" >"$flags"
    cmp -s "$flags" .memlint || echo "memlint-gate: .memlint differs from the base's, which counts" >&2
fi
mkdir -p "$out"
read -ra options <<<"${MEMLINT_OPTIONS:-}"
if [ ${#baseline[@]} = 0 ]; then # an increase over nothing can't be judged
    kept=()
    for word in ${options[@]+"${options[@]}"}; do
        [[ $word == --max-increase=* ]] || kept+=("$word")
    done
    options=(${kept[@]+"${kept[@]}"})
fi
status=0
"$memlint" "$MEMLINT_MODEL" --flags="$flags" ${baseline[@]+"${baseline[@]}"} --sources=. \
    ${options[@]+"${options[@]}"} --format="${MEMLINT_FORMAT:-github}" -o "$out/memlint.md" -o "$out/memlint.html" -o "$out/memlint.sarif" \
    -o "$out/memlint.json" -o "$out/memlint.xml" -o "$out/memlint.codequality.json" -o "$out/memlint.metrics" || status=$?
exit $status
