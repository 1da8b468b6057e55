#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The rule of cuDNN's workspaces beside training steps that hold the library's own (tests/oracle/cudnn.py), on four
# GPUs: tests/oracle/cudnn.jsonl.xz. The nets lie in the packs beside the repository. With MEMLINT_CUDNN=1 the library
# is asked, too, where it is installed.
. "$(dirname "$0")/lib.sh"
shared=${MEMLINT_SHARED:-$SOURCE/../shared}
[ -e "$shared/oracle/models.tar.xz" ] || skip "no nets at $shared/oracle"
command -v python3 >/dev/null || skip "no python3"

score() { # score BOUNDS OPTION...
    local bounds=$1
    shift
    python3 "$SOURCE/tests/oracle/cudnn.py" score "$MEMLINT" "$shared/oracle" "$SOURCE/tests/oracle/cudnn.jsonl.xz" \
        --smallest --bounds="$bounds" "$@" >"$work/log" 2>&1
    local status=$?
    cat "$work/log"
    return $status
}
ok "the rule: allocated in the median, at the 95th percentile, and reserved" score 0.15,2.5,4
ok "the rule under --cudnn-flags" score 0.15,2.5,2 --flags
if [ -n "${MEMLINT_CUDNN:-}" ]; then
    ok "the library under --cudnn-flags" score 0.05,1,0.5 --flags --with=--cudnn=ask
    ok "the library" score 0.05,1,0.5 --with=--cudnn=ask
    ok "none counted is worse than the rule" eval '! score 0.15,2.5,4 --with=--cudnn=none'
fi
finish
