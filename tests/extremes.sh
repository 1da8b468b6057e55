#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Models of unusual size and shape: what is long is counted to its end, or said to be cut; what is deep or missing
# crashes nothing.
. "$(dirname "$0")/lib.sh"
cd "$work" || exit 1

header() { # header NAMES-OF-OUTPUT
    printf '<ir_version: 10, opset_import: ["": 20], producer_name: "pytorch", '
    printf 'producer_version: "2.11.0", metadata_props: ['
    printf '"pkg.torch.export.ExportedProgram.graph_signature": "\\n# inputs\\np_w: PARAMETER target='"'w'"
    printf '\\nx: USER_INPUT\\n\\n# outputs\\n%s: USER_OUTPUT\\n"]>\n' "$1"
}
fx() { # fx NAME TARGET ARGUMENTS: what the exporter notes on a node
    printf '    ["", "pkg.torch.onnx.fx_node": "%%%s : [num_users=1] = ' "$1"
    printf 'call_function[target=torch.ops.aten.%s](args = (%s), kwargs = {})"] ' "${@:2}"
}
repeat() { # repeat N TEXT SEPARATOR
    local i
    for ((i = 1; i < $1; i++)); do printf '%s%s' "$2" "$3"; done
    printf '%s' "$2"
}
json() { # json KEY VALUE: a top-level word of the result
    grep -q "\"$1\": \"$2\"" out
}

# ---- a product with a parameter, in N parts of which the first and the last are added
parts() { # parts TARGET N ARGUMENT
    header add
    echo "g (float[4, $2, 8] x) => (float[4, 1, 8] add)"
    echo "<float[$2, 8] w = {}>"
    echo "{"
    echo "$(fx mul mul.Tensor '%x, %p_w') mul = Mul (x, w)"
    echo "$(fx parts "$1" "%mul, $3") $(seq -f getitem_%g -s ', ' 0 \
        $(($2 - 1))) = Split <axis = 1, num_outputs = $2> (mul)"
    echo "$(fx add add.Tensor "%getitem_0, %getitem_$(($2 - 1))") add = Add (getitem_0, getitem_$(($2 - 1)))"
    echo "}"
}
while read -r target n joined argument; do
    [ "$argument" = ones ] && argument="[$(repeat "$n" 1 ', ')], 1"
    parts "$target" "$n" "$argument" >parts.txt
    run parts.txt --loss=sum --dump=step
    ok "$target into $n: the gradient is joined to all of it" grep -q "backward.aten.$joined.default.\[4, $n, 8\]" out
    run parts.txt --loss=sum --format=json
    ok "$target into $n: nothing is in doubt" json verdict ok
    run parts.txt --loss=sum --format=json --limit parts=9
    ok "$target into $n: a cut is said" json verdict inconclusive
done <<'END'
unbind.int 512 stack 1
split.Tensor 512 cat 1, 1
split_with_sizes.default 512 cat ones
unbind.int 5000 stack 1
END

# ---- split() into N sizes that the trace computed, each piece from where the one before ends
{
    echo '<ir_version: 8, opset_import: ["": 17], producer_name: "pytorch", producer_version: "2.11.0">'
    echo "g (float[4, 5000] x) => (float[4, 1] y)"
    echo '{ axis = Constant <value_ints = [1]> ()'
    echo '    e0 = Constant <value_ints = [0]> ()'
    echo '    one = Constant <value_int = 1> ()'
    echo '    zero = Constant <value_ints = [0]> ()'
    awk 'BEGIN {for (i = 1; i <= 5000; i++) printf "    s%d = Unsqueeze (one, zero)\n    e%d = Add (e%d, s%d)\n" \
        "    p%d = Slice (x, e%d, e%d, axis)\n", i, i, i - 1, i, i, i - 1, i}'
    echo "    y = Sum ($(seq -f p%g -s ', ' 5000))"
    echo '}'
} >pieces.txt
timeout 20 "$MEMLINT" pieces.txt -q --dump=calls >out 2>err; code=$?
ok "a split into 5,000 is one call: $code, $(cat err)" [ "$(grep -c 'aten.split_with_sizes' out)" = 1 ]

# ---- lists in lists without an end
brackets() { # brackets N
    header mul
    echo "g (float[4, 8] x) => (float[4, 8] mul)"
    echo "<float[4, 8] w = {}>"
    echo "{"
    echo "$(fx mul mul.Tensor "$(repeat "$1" '[' '')") mul = Mul (x, w)"
    echo "}"
}
brackets 100000 >deep.txt
run deep.txt --format=json
ok "100,000 brackets: exit 0, not $code" [ "$code" = 0 ]
ok "are in doubt" grep -q 'lists in lists' out

# ---- nodes that lack outputs or inputs, in every room that looks at them
for node in Conv ConvTranspose Gemm Split Mul BatchNormalization Identity Transpose; do
    for form in " = $node (x, w)" "\"\", a = $node (x, w)" "y = $node ()" "y = $node (\"\", x)"; do
        for note in "$(fx norm _native_batch_norm_legit_no_training.default \
            '%convolution, %p_w, %p_w, %p_w, %p_w, 0.1, 1e-05')" ''; do
            {
                header y
                echo "g (float[4, 8] x) => (y)"
                echo "<float[4, 8] w = {}>"
                echo "{"
                echo "$note $form"
                echo "}"
            } >node.txt
            run node.txt -q
            ok "$note $form: exit 0 or 3, not $code" [ "$code" = 0 -o "$code" = 3 ]
            sed 1d node.txt | sed '1i <ir_version: 10, opset_import: ["": 20]>' >node.txt.2 && mv node.txt.2 node.txt
            run node.txt -q
            ok "without a signature, $form: exit 0 or 3, not $code" [ "$code" = 0 -o "$code" = 3 ]
        done
    done
done

# ---- einsum of many operands, a slice of many axes, an operator of many inputs
{
    header einsum
    echo "g (float[8, 8] x) => (float[8, 8] einsum)"
    echo "<float[8, 8] w = {}>"
    echo "{"
    echo "$(fx einsum einsum.default \
        "ab,$(repeat 9 bb ,)->ab, [%x, $(repeat 9 %p_w ', ')]") einsum = Einsum <equation = \"ab,$(repeat 9 bb \
        ,)->ab\"> (x, $(repeat 9 w ', '))"
    echo "}"
} >einsum.txt
run einsum.txt --loss=sum --dump=step
ok "einsum of ten operands is nine products" [ "$(grep -c '^+.*forward' out)" -ge 9 ]

{
    echo '<ir_version: 10, opset_import: ["": 20]>'
    echo "g (float[$(repeat 9 2 ', ')] x) => (y)"
    echo "<int64[9] from = {$(repeat 9 0 ', ')}, int64[9] to = {$(repeat 9 1 ', ')}>"
    echo "{ y = Slice (x, from, to) }"
} >slice.txt
run slice.txt --dump=calls
ok "a slice of nine axes is nine calls" [ "$(grep -c aten.slice out)" = 9 ]

{
    echo '<ir_version: 10, opset_import: ["": 20, "own": 1]>'
    echo "g (float[8] x) => (float[8] y)"
    echo "{"
    for i in {1..20}; do echo "    a$i = Exp (x)"; done
    echo "    y = own.Odd ($(seq -f a%g -s ', ' 20))"
    echo "}"
} >many.txt
run many.txt --dump=calls
ok "an unknown operator reads all of twenty inputs" grep -q 'own.Odd.*%20' out


# ---- dense and wide: no row of the table of limits is met
{
    echo '<ir_version: 10, opset_import: ["": 20]>'
    echo 'g (float[4, 8] x) => (float[4, 8] y299)'
    echo '<float[4, 8] w = {}>'
    echo '{ y0 = Mul (x, w)'
    names=y0
    for i in {1..299}; do
        echo "    y$i = Sum ($names)"
        names+=", y$i"
    done
    echo '}'
} >dense.txt
run dense.txt --format=json
ok "300 nodes with 45,000 edges: exit 0, not $code: $(cat err)" [ "$code" = 0 ]
{
    echo '<ir_version: 10, opset_import: ["": 20]>'
    echo 'g (int64[4, 8] x) => (float[4, 8, 16] s9999)'
    seq -f ' float[100, 16] "e.%g.weight" = {},' 0 9999 | sed -e '1s/^/</' -e '$s/,$/>/'
    echo '{ s0 = Gather ("e.0.weight", x)'
    awk 'BEGIN {for (i = 1; i < 10000; i++) printf "    a%d = Gather (\"e.%d.weight\", x)\n" \
        "    s%d = Add (s%d, a%d)\n", i, i, i, i - 1, i}'
    echo '}'
} >embeddings.txt
run embeddings.txt --format=json
ok "10,000 embeddings: exit 0, not $code: $(cat err)" [ "$code" = 0 ]
ok "and all are counted" grep -q '"parameters": 16000000' out
finish
