#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The rule of cuDNN's workspaces beside training steps that hold the library's own (tests/oracle/cudnn.py), as it names
# them for four GPUs without a driver: tests/oracle/cudnn.jsonl.xz; and beside steps on an H200, in h200.tar.xz. The
# nets lie in the packs beside the repository. With MEMLINT_CUDNN=1 the library is asked, too, where it is installed,
# for the GPUs of which a driver tells it nothing that memlint knows.
. "$(dirname "$0")/lib.sh"
shared=${MEMLINT_SHARED:-$SOURCE/../shared}
[ -e "$shared/oracle/models.tar.xz" ] || skip "no nets at $shared/oracle"
command -v python3 >/dev/null || skip "no python3"

score() { # score BOUNDS OPTION...
    local bounds=$1
    shift
    python3 "$SOURCE/tests/oracle/cudnn.py" score "$MEMLINT" "$shared/oracle" "$records" --smallest \
        --bounds="$bounds" "$@" >"$work/log" 2>&1
    local status=$?
    cat "$work/log"
    return $status
}
records=$SOURCE/tests/oracle/cudnn.jsonl.xz
ok "the rule: allocated in the median, at the 95th percentile, and reserved" score 0.12,2,1.5
ok "the rule under --cudnn-flags" score 0.15,2.5,2 --flags --gpus=a100,rtx4090,t4
if [ -n "${MEMLINT_CUDNN:-}" ]; then
    told=--gpus=rtx4090,t4
    ok "the library under --cudnn-flags" score 0.05,1,0.5 --flags $told --with=--cudnn=ask
    ok "the library" score 0.05,1,0.5 $told --with=--cudnn=ask
    ok "none counted is worse than the rule" eval '! score 0.12,2,1.5 --with=--cudnn=none'
fi
real=${MEMLINT_H200:-$SOURCE/tests/oracle/h200.tar.xz}
if [ -e "$real" ]; then
    records=$work/h200.jsonl
    tar -xOf "$real" --wildcards '*records.jsonl' >"$records"
    ok "steps on an H200" score 0.3,5,5
    ok "steps on an H200 under --cudnn-flags" score 0.5,20,5 --flags
fi
finish
