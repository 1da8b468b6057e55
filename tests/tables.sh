#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Every framework operator's row against PyTorch's own tables (tests/oracle/aten.tsv): arguments, autocast, what each
# gradient keeps.
. "$(dirname "$0")/lib.sh"
command -v python3 >/dev/null || skip "no python3"
python3 "$SOURCE/tests/oracle/tables.py" "$MEMLINT"
