#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# make bench: for four models, memlint's wall time and largest resident memory for the whole analysis with an HTML
# report, beside onnx.load + onnx.shape_inference in Python (PYTHON=..., skipped without the onnx package). Then how
# time grows with nodes.
. "$(dirname "$0")/lib.sh"
python=${PYTHON:-python3}
runs=${RUNS:-10}
models=("$@")
if [ ${#models[@]} = 0 ]; then
    models=("$SOURCE/examples/tiny_gpt.onnx")
    pack=${MEMLINT_SHARED:-$SOURCE/../shared}/oracle/models.tar.xz
    if [ -e "$pack" ]; then
        tar -xJf "$pack" -C "$work"
        for name in resnet50 gpt2_nodrop gpt2; do
            found=$(find "$work" -name "$name.dynamo.onnx")
            [ -z "$found" ] || models+=("$found")
        done
    fi
fi

# measure COMMAND...: the least wall time and the largest resident memory of all runs. The clock is bash's; memory is
# GNU time's where it is installed, because a child of Python counts what Python held when it forked.
measure() {
    local best=999999999 peak=0 start took i
    for ((i = 0; i < runs; i++)); do
        start=${EPOCHREALTIME/[.,]/}
        "$@" >"$work/out" 2>&1 </dev/null || {
            echo "failed: $(head -c 200 "$work/out")"
            return
        }
        took=$((${EPOCHREALTIME/[.,]/} - start))
        [ $took -ge $best ] || best=$took
    done
    if [ -x /usr/bin/time ]; then
        peak=$(/usr/bin/time -f %M "$@" 2>&1 >/dev/null </dev/null | tail -1)
        peak="$((peak / 1024)).$((peak % 1024 * 10 / 1024)) MiB"
    else
        peak="memory not measured: no /usr/bin/time"
    fi
    echo "$((best / 1000)).$((best / 100 % 10)) ms, $peak"
}
for model in "${models[@]}"; do
    echo "$(basename "$model")"
    echo "    memlint                                $(measure "$MEMLINT" "$model" --dim batch=8 -q -o "$work/r.html")"
    if env -C "$work" "$python" -c 'import onnx' 2>/dev/null; then
        infer='import onnx, onnx.shape_inference, sys
onnx.shape_inference.infer_shapes(onnx.load(sys.argv[1], load_external_data=False))'
        echo "    onnx.load and onnx.shape_inference     $(measure env -C "$work" "$python" -c "$infer" \
            "$(realpath "$model")")"
    else
        echo "    onnx.load and onnx.shape_inference     skipped: $python has no onnx"
    fi
done

# chain NODES: a model of that many elementwise nodes, in ONNX text.
chain() {
    awk -v n="$1" 'BEGIN {
        print "<ir_version: 10, opset_import: [\"\" : 18]>\nchain (float[batch,64] v0) => (float[batch,64] v" n ") {"
        for (i = 0; i < n; i++)
            printf "  v%d = %s(v%d)\n", i + 1, i % 2 ? "Relu" : "Sigmoid", i
        print "}"
    }'
}
for nodes in 25000 50000 100000; do
    chain $nodes >"$work/chain.onnxtxt"
    printf '%6d nodes                               %s\n' $nodes \
        "$(measure "$MEMLINT" "$work/chain.onnxtxt" --dim batch=8 -q -o "$work/r.html")"
done

# blocks N: N residual blocks of ten operators, named as an exporter names modules.
blocks() {
    awk -v n="$1" 'BEGIN {
        print "<ir_version: 10, opset_import: [\"\" : 20]>\nblocks (float[64,32] v0) => (float[64,32] v" n ")\n" \
            "<float[32,32] w = {}> {"
        for (i = 0; i < n; i++) {
            m = "/blocks." i "/"
            printf "  [\"%sa/MatMul\"] a%d = MatMul(v%d, w)\n  [\"%sr/Relu\"] r0_%d = Relu(a%d)\n", m, i, i, m, i, i
            for (k = 0; k < 6; k++)
                printf "  [\"%ss%d/Sigmoid\"] r%d_%d = Sigmoid(r%d_%d)\n", m, k, k + 1, i, k, i
            printf "  [\"%sb/MatMul\"] b%d = MatMul(r6_%d, w)\n" \
                "  [\"%sAdd\"] v%d = Add(v%d, b%d)\n", m, i, i, m, i + 1, i, i
        }
        print "}"
    }'
}
for n in 100 1000 5000; do
    blocks $n >"$work/blocks.onnxtxt"
    printf '%6d operators, --recompute auto         %s\n' $((n * 10)) \
        "$(measure "$MEMLINT" "$work/blocks.onnxtxt" --recompute auto -q)"
done
