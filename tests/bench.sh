#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# make bench: rows for docs/PERFORMANCE.md. For six models of the pack and three synthetic ones: instructions of the
# number alone and of the whole analysis with a page, as valgrind counts them, the least wall time and the largest
# resident memory, and what share of the whole each pass has. Beside them protobuf-c's unpacking in the same run, and
# in process onnx.load + infer_shapes (PYTHON, with onnx) and MemTracker on the same model (MEMLINT_TORCH, a Python
# with torch, torchvision and transformers). What is not there is a dash.
. "$(dirname "$0")/lib.sh"
python=${PYTHON:-python3}
can_count || echo "no instructions: valgrind is not installed"

# measure ARGUMENT...: the least wall time of five runs in ms, and MiB.
measure() {
    local best=999999999 start took peak i
    for ((i = 0; i < 5; i++)); do
        start=${EPOCHREALTIME/[.,]/}
        "$MEMLINT" "$@" >"$work/out" 2>&1 </dev/null || return
        took=$((${EPOCHREALTIME/[.,]/} - start))
        [ $took -ge $best ] || best=$took
    done
    peak=$(/usr/bin/time -f %M "$MEMLINT" "$@" 2>&1 >/dev/null </dev/null | tail -1)
    echo "$((best / 1000)) ms, $((${peak:-0} / 1024)) MiB"
}

# passes PROFILE SCRIPT: an awk script at whose end all and most[FUNCTION] are instructions, of the program and of a
# function with what it calls.
passes() {
    callgrind_annotate --inclusive=yes --threshold=100 "$1" | awk '
        { count = $1; gsub(/,/, "", count) }
        !/'"'"'/ && match($0, /:[a-z_]+/) && /\(/ { # recursion has a quote
            name = substr($0, RSTART + 1, RLENGTH - 1)
            if (count + 0 > most[name]) most[name] = count + 0
        }
        /PROGRAM TOTALS/ { all = count }
        END {'"$2 }"
}

# shellcheck disable=SC2016 # awk's
shares='most["reading"] = most["onnx_read"] + most["onnx_graph"]
    most["engine"] = most["step_run"] - most["step_holds"] - most["trace_play"]
    most["allocator"] = most["trace_play"] + most["tape_play"]
    n = split("reading shapes_run lower_run step_holds engine allocator report_write", pass, " ")
    for (i = 1; i <= n; i++) printf "%.0f | ", 100 * most[pass[i]] / all'

# row NAME FILE ARGUMENT...
row() {
    local name=$1 file=$2 number=- whole=- parts="- | - | - | - | - | - | - | -"
    shift 2
    if can_count; then
        number=$(instructions "$work/number" "$file" "$@" -q)
        whole=$(instructions "$work/whole" "$file" "$@" -q -o "$work/r.html")
        parts=$(passes "$work/whole" "$shares"; passes "$work/number" \
            'printf "%.1f", most["protobuf_c_message_unpack"] / 1e6')
    fi
    echo "| $name | $number | $whole | $(measure "$file" "$@" -q -o "$work/r.html") | $parts |"
}

printf '| %s ' model 'number, M' 'whole, M' whole reading shapes lowering names engine allocator page 'unpack, M'
echo '|'
echo "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |"
pack=${MEMLINT_SHARED:-$SOURCE/../shared}/oracle/models.tar.xz
[ ! -e "$pack" ] || tar -xJf "$pack" -C "$work"
for name in $MEASURED; do
    file=$(find "$work" -name "$name.dynamo.onnx")
    [ -z "$file" ] || row "$name" "$file" --dim batch=8
done

awk -v n=50000 'BEGIN { # elementwise operators, one behind the other
    print "<ir_version: 10, opset_import: [\"\" : 18]>\nchain (float[batch,64] v0) => (float[batch,64] v" n ") {"
    for (i = 0; i < n; i++)
        printf "  v%d = %s(v%d)\n", i + 1, i % 2 ? "Relu" : "Sigmoid", i
    print "}"
}' >"$work/chain.onnxtxt"
row "50,000 nodes" "$work/chain.onnxtxt" --dim batch=8

awk -v n=600 'BEGIN { # each node reads all before it
    print "<ir_version: 10, opset_import: [\"\" : 18]>\ndense (float[batch,64] v0) => (float[batch,64] v" n ") {"
    for (i = 1; i <= n; i++) {
        printf "  v%d = Sum(v0", i
        for (k = 1; k < i; k++) printf ", v%d", k
        print ")"
    }
    print "}"
}' >"$work/dense.onnxtxt"
row "600 nodes, 180,000 edges" "$work/dense.onnxtxt" --dim batch=8

awk -v n=5000 'BEGIN { # residual blocks of ten operators, named as an exporter names modules
    print "<ir_version: 10, opset_import: [\"\" : 20]>\nblocks (float[64,32] v0) => (float[64,32] v" n ")\n" \
        "<float[32,32] w = {}> {"
    for (i = 0; i < n; i++) {
        m = "/blocks." i "/"
        printf "  [\"%sa/MatMul\"] a%d = MatMul(v%d, w)\n  [\"%sr/Relu\"] r0_%d = Relu(a%d)\n", m, i, i, m, i, i
        for (k = 0; k < 6; k++)
            printf "  [\"%ss%d/Sigmoid\"] r%d_%d = Sigmoid(r%d_%d)\n", m, k, k + 1, i, k, i
        printf "  [\"%sb/MatMul\"] b%d = MatMul(r6_%d, w)\n  [\"%sAdd\"] v%d = Add(v%d, b%d)\n", m, i, i, m, i + 1, i, i
    }
    print "}"
}' >"$work/blocks.onnxtxt"
echo
echo "50,000 operators, --recompute auto: $(measure "$work/blocks.onnxtxt" --recompute auto -q)"

infer='import onnx, sys, time
from onnx.shape_inference import infer_shapes
best = 1e9
for _ in range(5):
    start = time.perf_counter()
    infer_shapes(onnx.load(sys.argv[1], load_external_data=False))
    best = min(best, time.perf_counter() - start)
print("%.0f ms" % (1000 * best))'
for name in $MEASURED; do
    file=$(find "$work" -name "$name.dynamo.onnx")
    [ -z "$file" ] || ! env -C "$work" "$python" -c 'import onnx' 2>/dev/null ||
        echo "onnx.load and infer_shapes, $name: $(env -C "$work" "$python" -c "$infer" "$file")"
done
[ -z "${MEMLINT_TORCH:-}" ] || "$MEMLINT_TORCH" "$SOURCE/tests/oracle/memtracker.py" resnet50 gpt2_nodrop 2>/dev/null
