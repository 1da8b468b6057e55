# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# lib.sh - what the shell tests share: a folder of their own, counting, and a closing line "N passed, N failed".
# MEMLINT is the program and SOURCE the top of the source tree; make check sets both.
set -u
MEMLINT=${MEMLINT:-$PWD/memlint}
SOURCE=$(cd "${SOURCE:-$(dirname "${BASH_SOURCE[0]}")/..}" && pwd)
work=$(mktemp -d "${TMPDIR:-/tmp}/memlint-test-XXXXXX")
trap 'rm -rf "$work"' EXIT
passed=0 failed=0

# ok NAME COMMAND...: the command must succeed.
ok() {
    local name=$1
    shift
    if "$@"; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAILED: $name"
    fi
}

# shellcheck disable=SC2034 # code is for the caller
# run ARGUMENT...: runs memlint; leaves its exit status in $code and its output in $work/out and $work/err.
run() {
    "$MEMLINT" "$@" >"$work/out" 2>"$work/err" </dev/null
    code=$?
}

# case_of FOLDER.NAME.NUMBER.step: the model of a file of tests/unrecorded.
case_of() {
    local name=${1%.*.step}
    echo "$SOURCE/tests/cases/${name%%.*}/${name#*.}.txt"
}

finish() {
    echo "$passed passed, $failed failed"
    [ "$failed" = 0 ]
    exit
}

# skip REASON: 77 is what make check counts as skipped.
skip() {
    echo "skipped: $*"
    exit 77
}

# The models whose instructions are recorded: tests/speed.tsv.
# shellcheck disable=SC2034 # for bench.sh and speed.sh
MEASURED="gpt2_nodrop t5_small_nodrop resnet50 bert_base llama_small densenet121"

can_count() {
    command -v valgrind >/dev/null && command -v callgrind_annotate >/dev/null
}

# instructions PROFILE ARGUMENT...: millions that memlint takes. A string instruction is counted for each byte, so libc
# is told to clear and copy with vectors, as a machine's time has it.
instructions() {
    local profile=$1
    shift
    GLIBC_TUNABLES=glibc.cpu.x86_rep_stosb_threshold=1000000000:glibc.cpu.x86_rep_movsb_threshold=1000000000 \
        valgrind --tool=callgrind --callgrind-out-file="$profile" "$MEMLINT" "$@" 2>&1 >/dev/null </dev/null |
        awk '/Collected/ { printf "%.1f", $NF / 1e6 }'
}
