#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# docs/OPERATORS.md is what the program's tables print. With --update, writes it.
. "$(dirname "$0")/lib.sh"

table() {
    echo "| $1 |"
    echo "|$(printf ' --- |%.0s' $(seq "$2"))"
    sed -e 's/|/\\|/g' -e 's/\t/ | /g' -e 's/^/| /' -e 's/$/ |/'
}

page() {
    cat <<'EOF'
# Operators

Few people need this page: the report of a model says under *not explained* which of its operators memlint does not
know, and a model without such a line has none. Look here before you write a model with unusual operators, or when you
add a row ([HACKING.md](HACKING.md)).

* The first table is about shapes: an operator of the ONNX file that has no row there leaves the sizes after it open,
  unless the file states them.
* The second is about memory: what PyTorch runs, and what its backward pass needs. *saved for the backward pass* can be
  read off it: in
  `self: mul(grad, other)` the tensor `other` is kept until then, and with `#other` only its sizes are.

Printed from the program's tables; `tests/operators.sh --update` writes this page, and a test fails when it is stale.

## ONNX operators

What memlint knows of ONNX: the opsets that a row describes, whether it has a rule for shapes and one for values
(constants that reach shapes), and the framework operator that it is one to one, where there is one. `-` means none;
patterns lower the others.

EOF
    "$MEMLINT" --list=ops | table "domain | operator | opsets | shape | value | framework operator" 6
    cat <<'EOF'

## Framework operators

What memlint knows of PyTorch: arguments in schema order, and per input the formula of its gradient, from which follows
what autograd saves (a name with # needs only sizes; after ~ operands are evaluated from the right), and how autocast
treats it. A composite is the operators that it calls. Sources stand at the rows of `src/torch/aten.c`.

EOF
    "$MEMLINT" --list=aten | table "operator | arguments | derivative | autocast" 4
}

if [ "${1:-}" = --update ]; then
    page >"$SOURCE/docs/OPERATORS.md"
    exit
fi
page >"$work/OPERATORS.md"
ok "docs/OPERATORS.md is stale: run tests/operators.sh --update" diff -q "$SOURCE/docs/OPERATORS.md" \
    "$work/OPERATORS.md"
finish
