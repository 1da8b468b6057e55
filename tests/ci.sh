#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The pieces of examples/ci/, run against a throw-away repository with a base and a branch.
. "$(dirname "$0")/lib.sh"
command -v git >/dev/null || skip "no git"
ci=$SOURCE/examples/ci models=$SOURCE/tests/gate
export MEMLINT HOME=$work GIT_CONFIG_NOSYSTEM=1 GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a \
    GIT_COMMITTER_EMAIL=a@b
unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE
for script in "$ci"/*.sh; do
    ok "$script is shell" bash -n "$script"
    ok "$script can be run" [ -x "$script" ]
done
if python3 -c 'import yaml' 2>/dev/null; then
    for file in "$ci"/*.y*ml; do
        ok "$file is YAML" python3 -c 'import sys, yaml; yaml.safe_load(open(sys.argv[1]))' "$file"
    done
fi

# A repository: main, a branch that is wider, main that moved on since.
git init -q -b main "$work/repository" && cd "$work/repository" || exit 1
commit() { git add -A && git commit -q -m "$1"; }
mkdir src && echo '# the network' >src/net.py
cp "$models/base.txt" source.txt && commit base
git checkout -q -b wider && cp "$models/wider.txt" source.txt && commit wider
git checkout -q main && cp "$models/deeper.txt" source.txt && commit "main moved on"
git checkout -q wider

gate() { # gate EXIT [VARIABLE=VALUE...]
    local want=$1
    shift
    rm -rf memlint-out model.txt
    env MEMLINT_MODEL=model.txt MEMLINT_EXPORT='cp source.txt model.txt' \
        MEMLINT_BASE=main MEMLINT_OPTIONS='--dim batch=16 --max-increase=1%' \
        "$@" bash "$ci/memlint-gate.sh" >"$work/out" 2>"$work/err"
    code=$?
    ok "exit $want, not $code: $*: $(tail -1 "$work/err")" [ $code = "$want" ]
}
gate 1
ok "against where the branch left, not where main is" grep -q 'grew by 1.38 MiB' "$work/err"
ok "annotates the line: $(head -1 "$work/out")" grep -q '^::error file=src/net.py,line=7,' "$work/out"
for report in md html sarif json xml codequality.json metrics; do
    ok "memlint.$report" [ -s memlint-out/memlint.$report ]
done
ok "no worktree is left" [ "$(git worktree list | wc -l)" = 1 ]
gate 0 MEMLINT_OPTIONS='--dim batch=16 --max-increase=2%'
gate 0 MEMLINT_BASE=wider
gate 2 MEMLINT_BASE=nowhere
gate 3 MEMLINT_EXPORT='echo nothing >model.txt'
git checkout -q --orphan alone && commit alone
gate 2 MEMLINT_BASE=main
ok "says what to do" grep -q 'fetch-depth' "$work/err"
git checkout -q wider
# ---- pull requests: what each one's job says, and its exit status
export_all='for f in src/*.txt; do cp "$f" "$(basename "$f")"; done'
pull() { # pull NAME EXIT SENTENCE: of the branch that is checked out, against main
    rm -rf memlint-out ./*.txt
    env MEMLINT_MODEL="${list:-model.txt}" MEMLINT_EXPORT="${export-$export_all}" \
        MEMLINT_BASE=main MEMLINT_FORMAT=github \
        MEMLINT_OPTIONS="${options-}" MEMLINT_LABELS="${labels-}" bash "$ci/memlint-gate.sh" >"$work/out" 2>"$work/err"
    code=$?
    ok "$1: exit $2, not $code" [ $code = "$2" ]
    ok "$1: says '$3': $(tail -3 "$work/err")" grep -q -e "$3" "$work/err"
    [ -z "${MEMLINT_TELL:-}" ] ||
        printf '%s|%s|%s\n' "$1" "$code" "$(grep -v ' under .*:$' "$work/err" | sed 's/^memlint[^ ]* //' | tr '\n' ';')"
    list='' labels='' export=$export_all options=''
}
to() { git checkout -q -f "$1" && git clean -qfdx; }
branch() { to main && git checkout -q -b "$1"; } # branch NAME: a new one, off main
said() { ok "the comment says: $1" grep -q -e "$1" memlint-out/memlint.md; }
options='' labels='' list='' export=$export_all
git checkout -q main && git rm -q source.txt && cp "$models/base.txt" src/model.txt
printf -- '--dim batch=16\n--max-increase=1%%\n--max-peak=79MiB\n--baseline=stored.json\n' >.memlint &&
    commit "one model, and budgets"

branch grows && cp "$models/wider.txt" src/model.txt && commit grows
most='the largest part in blocks (+1.38 MiB); first in blocks.0.up at net.py:7'
pull "grows" 1 "grew by 1.38 MiB (+1.78 %), more than --max-increase 1% (.*); $most"
said 'Gate failed.*first in blocks.0.up at net.py:7: weight \[256, 64\] -> \[384, 64\]'
branch shrinks && cp "$models/wider.txt" src/model.txt && commit wider && git checkout -q -B main &&
    cp "$models/base.txt" src/model.txt
git checkout -q -b shrinks-2 && commit shrinks
pull "shrinks" 0 "model.txt under the base's flags"
said '77.23 MiB | \*\*-1.38 MiB'
git checkout -q -f -B main 'HEAD~2'
branch unchanged && echo '# more' >>src/net.py && commit unchanged
pull "unchanged" 0 "model.txt under the base's flags"
said '+0 B (+0 %)'
ok "and annotates nothing: $(grep -v title=memlint:: "$work/out" | head -1)" [ "$(grep -c ^:: "$work/out")" = 1 ]
branch refactoring && cp "$models/renamed.txt" src/model.txt && commit refactoring
pull "a refactoring" 0 "model.txt under the base's flags"
ok "and annotates nothing: $(grep -v title=memlint:: "$work/out" | head -1)" [ "$(grep -c ^:: "$work/out")" = 1 ]

branch batch && sed -i 's/batch=16/batch=32/' .memlint && commit batch
pull "batch changed in .memlint" 1 \
    'unjudged: the baseline has another set-up (batch 16, now 32), with which the peak was 77.23 MiB, now'
ok "under its own flags alone" grep -q 'above --max-peak 79MiB' "$work/err"
said "| the base's flags | peak 77.23 MiB, ok |"
said "| the branch's own flags | .*above --max-peak 79MiB.*another set-up"
ok "a job's tests show both" [ -s memlint-out/memlint.xml -a "$(grep -c '<failure' memlint-out/memlint.own.xml)" = 1 ]
branch batch-and-budget && printf -- '--dim batch=32\n' >.memlint && commit "batch, and no budget"
pull "batch and budget changed in .memlint" 1 'above --max-peak 79MiB'
said "| the branch's own flags | .*, ok |"
said "| the branch's set-up with the base's budgets | .*above --max-peak 79MiB"
branch comment && echo '# why' >>.memlint && commit "a comment"
pull "a comment in .memlint" 0 "model.txt under the base's flags"
ok "is no other set-up" [ "$(grep -c ' under ' "$work/err")" = 1 ]

cp .memlint "$work/strict"
branch raised && cp "$models/deeper.txt" src/model.txt &&
    sed -i 's/max-peak=.*/max-peak=1GiB/; s/=1%/=90%/' .memlint && commit raised
pull "a budget raised in the same pull request" 1 'more than --max-increase 1% ('
said "| the base's flags | .*more than --max-increase 1%"
said "| the branch's own flags | .*, ok |"
git commit -q --allow-empty -m "deeper" -m "Memlint-Accept: four blocks train better"
labels=memory-accepted pull "a trailer that the base does not allow" 1 "a trailer Memlint-Accept doesn't count"

to main && echo '# memlint-gate: accept=trailer:Memlint-Accept,label:memory-accepted' >>.memlint && commit "accept"
branch accepted && cp "$models/deeper.txt" src/model.txt && commit deeper
pull "not accepted" 1 'more than --max-increase 1% ('
labels='other, memory-accepted' pull "accepted by a label" 0 'accepted: label memory-accepted'
git commit -q --allow-empty -m "deeper" -m "It trains better." -m "Memlint-Accept: four blocks | train *better*"
pull "accepted by a trailer" 0 \
    'more than --max-increase 1% (.*accepted: four blocks | train .better. (Memlint-Accept in [0-9a-f]*)'
said 'Gate accepted.*: `.*; accepted: four blocks \\| train \*better\* (Memlint-Accept in [0-9a-f]*)`'
branch base-broken && git mv src source && sed -i 's/^/# /' source/net.py && commit "moved"
export='for f in source/*.txt; do cp "$f" "$(basename "$f")"; done' pull "the base's export fails" 1 \
    'the export of the base (.*) failed: nothing was compared'
said 'the export of the base (.*) failed: nothing was compared'
ok "is unjudged" grep -q '"outcome": "unjudged", "message": "--max-increase 1% is unjudged: there is no baseline' \
    memlint-out/memlint.json
export='cp source/model.txt . || true; exit 0' pull "the base's export makes nothing" 1 \
    'makes no model.txt: nothing was compared'
to main && printf -- '--dim batch=16\n--max-peak=1GiB\n' >.memlint && commit "no gate on the increase"
to base-broken && git rebase -q main
export='for f in source/*.txt; do cp "$f" "$(basename "$f")"; done' pull "also where nobody asked for an increase" 1 \
    'is unjudged: there is no baseline'
to main && cp "$work/strict" .memlint && echo '# memlint-gate: accept=trailer:Memlint-Accept' >>.memlint &&
    commit "budgets again"
branch head-broken && git rm -q src/model.txt && commit gone
pull "the branch's export fails" 3 'the export of the branch failed'
branch blind && sed 's/aten.relu.default/aten.mystery.default/' "$models/base.txt" >src/model.txt && commit blind
pull "an inconclusive head" 1 'max-increase 1% is unjudged: the result is inconclusive'
said 'Gate unjudged'

to main && cp "$models/seq-relu.txt" src/other.txt && commit "two models"
branch several && cp "$models/wider.txt" src/model.txt && cp "$models/base.txt" src/third.txt && commit "one of three"
list=$'model.txt\n\n  other.txt\r\n' pull "several models, one is red" 1 'memlint: model.txt: the peak grew'
said '| `model.txt` | .*gate failed; \*\*Gate failed\*\*: `the peak grew by'
said '| `other.txt` | .*, ok |'
ok "reports of each" [ -s memlint-out/model.txt.json -a -s memlint-out/other.txt.xml -a -s memlint-out/other.txt.sarif ]
list=third.txt pull "the base's export makes no such model" 1 'makes no third.txt: nothing was compared'
cp src/third.txt third.onnxtxt && git add third.onnxtxt && git commit -q -m "one that is committed"
list=third.onnxtxt export='' pull "a new model that is committed" 0 'third.onnxtxt is new: only its budgets are judged'

# Options on several lines, and quoted.
branch quoted && echo >>src/net.py && commit quoted
options=$'--dim batch=16\n--fail-on=note\n--suppress \'* until=2999-01-31 reason="known, issue 12"\'' pull \
    "options of several lines, quoted" 0 \
    "model.txt under the base's flags"
ok "the last of them counts" grep -q 'until 2999-01-31: known, issue 12' memlint-out/memlint.json
options="--dim 'batch=16" pull "a quote without an end" 2 'a quote has no end'
list=' ' pull "no model" 2 'names no model'

# The comment: written once, then updated.
cat >"$work/gh" <<'EOF'
#!/bin/bash
# As much of gh api as the script uses; comments lie in $HOME/comments.
[ "$1" = api ] && [ ! -e "$HOME/forbidden" ] || exit 1
case " $* " in
*" POST "*) n=$(ls "$HOME/comments" | wc -l); cp "${7#body=@}" "$HOME/comments/$n" 2>/dev/null ||
    cp "${6#body=@}" "$HOME/comments/$n" ;;
*" PATCH "*) cp "${6#body=@}" "$HOME/comments/${2##*/}" ;;
*) cd "$HOME/comments" && for c in *; do [ ! -e "$c" ] || printf '%s\t%s\n' "$c" "$(head -1 "$c")"; done ;;
esac
EOF
chmod +x "$work/gh" && mkdir "$work/comments"
comment() { GH=$work/gh GITHUB_REPOSITORY=o/r MEMLINT_PULL=7 bash "$ci/memlint-comment.sh" "$@" >"$work/out" 2>&1; }
echo 'somebody else' >"$work/comments/0"
echo 'one' >"$work/report" && comment "$work/report" model.onnx
echo 'two' >"$work/report" && comment "$work/report" model.onnx
ok "one comment, updated" [ "$(ls "$work/comments" | wc -l)" = 2 -a "$(tail -1 "$work/comments/1")" = two ]
comment "$work/report" other.onnx
ok "another model has its own" [ "$(ls "$work/comments" | wc -l)" = 3 ]
ok "nobody else's is touched" [ "$(cat "$work/comments/0")" = 'somebody else' ]
touch "$work/forbidden"
ok "a token that may not comment fails nothing" comment "$work/report" model.onnx
ok "but is told" grep -q '^::notice::' "$work/out"

# The hook and the rules for make.
git checkout -q -f main && git clean -qfdx && printf -- '--dim batch=16\n--max-increase=1%%\n' >.memlint
cp "$models/base.txt" net.onnxtxt && commit models
hook() { bash "$ci/memlint-hook.sh" "$@" >"$work/out" 2>"$work/err"; }
ok "hook: nothing changed" hook net.onnxtxt
cp "$models/wider.txt" net.onnxtxt
hook net.onnxtxt
ok "hook: exit 1" [ $? = 1 ]
printf -- '--dim batch=16\n--max-increase=90%%\n' >.memlint
hook net.onnxtxt
ok "hook: the staged .memlint counts" [ $? = 1 ]
git add .memlint
ok "hook: once it is staged" hook net.onnxtxt
git checkout -q HEAD .memlint
mkdir sub && cp net.onnxtxt sub && echo '--max-peak=1KiB' >sub/.memlint && git add sub/.memlint
hook sub/net.onnxtxt
ok "hook: the one beside the model is nearer" grep -q 'max-peak 1KiB' "$work/err"
cp "$models/wider.txt" fresh.onnxtxt
ok "hook: a new model" hook fresh.onnxtxt
printf 'version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n' >pointer.onnx
ok "hook: an LFS pointer" hook pointer.onnx
ok "is told" grep -q 'LFS pointer' "$work/out"
if command -v make >/dev/null; then
    git checkout -q net.onnxtxt
    rules() { env -u MAKEFLAGS -u MAKELEVEL make -s -f "$ci/memlint.mk" MODELS=net.onnxtxt "$@" >"$work/out" 2>&1; }
    ok "make memory-accept" rules memory-accept
    ok "make memory" rules memory
    cp "$models/wider.txt" net.onnxtxt
    rules memory MEMLINT_OPTIONS=--max-increase=1%
    ok "make memory stops" [ $? = 2 ]
    ok "make memory-accept takes the increase" rules memory-accept
    ok "make memory passes again" rules memory
fi
finish
