#!/bin/bash
# The pieces of examples/ci/, run against a throw-away repository with a base and a branch.
. "$(dirname "$0")/lib.sh"
command -v git >/dev/null || skip "no git"
ci=$SOURCE/examples/ci models=$SOURCE/tests/gate
export MEMLINT HOME=$work GIT_CONFIG_NOSYSTEM=1 GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b
unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE
for script in "$ci"/*.sh; do
    ok "$script is shell" bash -n "$script"
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
    env MEMLINT_MODEL=model.txt MEMLINT_EXPORT='cp source.txt model.txt' MEMLINT_BASE=main MEMLINT_OPTIONS='--dim batch=16 --max-increase=1%' \
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
gate 0 MEMLINT_EXPORT='grep -qF "float[384" source.txt && cp source.txt model.txt'
ok "a new model has budgets only" grep -q 'only budgets' "$work/err"

# The base's flag file counts.
git checkout -q main && printf -- '--max-peak=1MiB\n' >.memlint && commit budget
git checkout -q -b relaxed && printf -- '--max-peak=1TiB\n' >.memlint && commit relaxed
gate 1 MEMLINT_OPTIONS='--dim batch=16'
ok "a branch can't relax its gate" grep -q 'above --max-peak 1.00 MiB' "$work/err"
ok "and is told" grep -q 'differs from the base' "$work/err"

# The comment: written once, then updated.
cat >"$work/gh" <<'EOF'
#!/bin/bash
# As much of gh api as the script uses; comments lie in $HOME/comments.
[ "$1" = api ] && [ ! -e "$HOME/forbidden" ] || exit 1
case " $* " in
*" POST "*) n=$(ls "$HOME/comments" | wc -l); cp "${7#body=@}" "$HOME/comments/$n" 2>/dev/null || cp "${6#body=@}" "$HOME/comments/$n" ;;
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
git checkout -q main && printf -- '--dim batch=16\n--max-increase=1%%\n' >.memlint
cp "$models/base.txt" net.onnxtxt && commit models
hook() { bash "$ci/memlint-hook.sh" "$@" >"$work/out" 2>"$work/err"; }
ok "hook: nothing changed" hook net.onnxtxt
cp "$models/wider.txt" net.onnxtxt
hook net.onnxtxt
ok "hook: exit 1" [ $? = 1 ]
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
