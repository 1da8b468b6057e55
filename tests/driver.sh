#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The whole program against tests/driver.c, which stands for the CUDA driver, NVML, cuDNN and cuBLASLt: what is opened,
# asked, refused and given back. It shows that memlint calls these libraries as their documentation says, not what real
# ones answer.
. "$(dirname "$0")/lib.sh"
DRIVER=${DRIVER:-$PWD/tests/driver.so}
all="libcuda.so.1 libnvidia-ml.so.1 libcudnn.so.9 libcublasLt.so.13"
MiB=1048576

with() { # with LIBRARY...: these are installed; a file that is no library hides the machine's own
    rm -rf "${work:?}/lib"
    mkdir "$work/lib"
    for name in $all libcudnn.so.8 libcudnn.so libcublasLt.so.12 libcublasLt.so.11 libcublasLt.so; do : \
        >"$work/lib/$name"; done
    for name in "$@"; do ln -sf "$DRIVER" "$work/lib/$name"; done
}
# replay NAME=VALUE... -- ARGUMENT...: a replay on the double that behaves so
replay() {
    local behaviour=(DRIVER_LOG="$work/log" LD_LIBRARY_PATH="$work/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}")
    while [ "$1" != -- ]; do
        behaviour+=("$1")
        shift
    done
    shift
    rm -f "$work/log"
    env "${behaviour[@]}" "$MEMLINT" --replay "$@" >"$work/out" 2>"$work/err" </dev/null
    code=$?
}
says() { grep -q -- "$1" "$work/$2"; }
counted() { grep -qsx "$1" "$work/log"; }
json() { grep -qE "\"$1\": $2([],}]|\$)" "$work/out"; }
# clean: nothing is left of memory, addresses, handles and the context, and nothing was touched that isn't ours
clean() {
    local what
    for what in leaks contexts ranges handles descriptors strangers; do
        counted "$what 0" || return 1
    done
}

[ -e "$DRIVER" ] || skip "$DRIVER was not built"
cat >"$work/images.txt" <<'END'
<ir_version: 10, opset_import: ["": 20]> g (float[2, 4, 16, 20] x) => (y)
<float[8, 4, 3, 3] a.weight = {}, float[8, 4, 3, 3] b.weight = {}, float[8, 5, 2, 2] d.weight = {}> {
  p = Conv <strides = [2, 1], pads = [1, 2, 1, 2], kernel_shape = [3, 3]> (x, a.weight)
  q = Conv <group = 2, dilations = [2, 2], pads = [2, 2, 2, 2], kernel_shape = [3, 3]> (p, b.weight)
  y = ConvTranspose <strides = [2, 2], kernel_shape = [2, 2]> (q, d.weight)
}
END
gpt=("$SOURCE/examples/tiny_gpt.onnx" --dim batch=4 --format=json)
images=("$work/images.txt" --loss=mse --format=json)

# ---- nothing there: says what is missing
with
replay -- "${gpt[@]}"
if says 'without the CUDA toolkit' err; then
    ok "exits with 4" [ $code = 4 ]
    [ $failed = 0 ] || finish
    skip "$(cat "$work/err")"
fi
ok "exits with 4 without a driver" [ $code = 4 ]
ok "names the library" says 'no CUDA driver (libcuda.so.1)' err

# ---- the driver alone: a replay, with what only others know unknown
with libcuda.so.1
replay -- "${gpt[@]}"
ok "replays" [ $code = 0 ]
ok "the driver's name" json device '"Driver of the tests"'
ok "all of it" awk '/"predicted_reserved"/ { p = $2 } /"replayed_reserved"/ { r = $2 } END { exit !(p == r && p) }' \
    "$work/out"
ok "another capability than the step's" json compute_capability 86
ok "no context without NVML" json context_bytes null
ok "gives everything back" clean
ok "no libraries" json convolutions null

# ---- with everything
with $all
replay -- "${gpt[@]}"
ok "the context, by NVML" json context_bytes $((300 * MiB))
ok "the libraries' handles" json library_handle_bytes $((10 * MiB))
ok "this process at the end" awk \
    '/"replayed_reserved"/ { r = $2 } /"process_used_after"/ { p = $2 } END { exit p + 0 != r + 310 * 1048576 }' \
    "$work/out"
ok "cuBLASLt was asked" json products '"cuBLASLt 13.1.0"'
ok "for its products" json bytes 33554432
ok "all of which it takes as they are put" [ "$(grep -o '"bytes": null' "$work/out" | wc -l)" = 0 ]
ok "gives everything back with libraries" clean

replay -- "${images[@]}"
ok "cuDNN was asked" json convolutions '"cuDNN 9.10.2"'
ok "for eight kernels" counted 'convolutions 8'
ok "4 MiB for the first" json bytes $((4 * MiB))
ok "no answer for the one gradient of an input without groups" [ "$(grep -o '"bytes": null' "$work/out" | wc -l)" = 1 ]
ok "announced with the workspaces" awk \
    '/"predicted_reserved"/ { p = $2 } /"announced_reserved"/ { a = $2 }
     /"replayed_reserved"/ { r = $2 } END { exit !(r + 0 == a + 0 && a + 0 > p + 0) }' "$work/out"
ok "gives everything back, convolutions" clean
replay -- "${images[@]}" --cudnn-flags=deterministic,no-tf32
ok "8 MiB for the first where the order of sums is fixed" json bytes $((8 * MiB))
with $all
replay DRIVER_FAIL=cudnnCreate -- "${images[@]}"
ok "without cuDNN's handle" [ $code = 0 ]
ok "there is no answer" json convolutions null
ok "gives everything back without cuDNN" clean

# ---- repeated: steady
replay -- "${gpt[@]}" --replay=3
ok "two steps and three" [ "$(grep -o '"reserved_peak"' "$work/out" | wc -l)" = 5 ]
ok "the last takes nothing" [ "$(grep -o '"taken": [0-9]*' "$work/out" | tail -1)" = '"taken": 0' ]
replay -- "${gpt[@]}" --replay=2 --format=text
ok "says so" says 'Steady: step 4 took nothing more' out

ok "and that the step is another device's" says "compute capability is 8.6, the step is that of 9.0" out
replay -- "${gpt[@]}" --device=rtx-3090 --format=text
ok "unless it is told" bash -c "! grep -q 'compute capability' '$work/out'"

# ---- expandable segments: mapped pages
replay -- "${gpt[@]}" --allocator=expandable
ok "expandable" [ $code = 0 ]
ok "maps, and takes the handles' memory for it" grep -qx 'mapped [1-9][0-9]*' "$work/log"
ok "all of it is backed" awk \
    '/"predicted_reserved"/ { p = $2 } /"replayed_reserved"/ { r = $2 } END { exit !(p == r && p) }' "$work/out"
ok "gives everything back, mapped" clean

# ---- too small, in three ways
for allocator in native expandable; do
    replay -- "${gpt[@]}" --allocator=$allocator --replay-limit=60MiB
    ok "a smaller card" [ $code = 0 ]
    ok "refuses, $allocator" says '"refused_phase": "' out
    ok "takes no more, $allocator" awk '$1 == "most" && $2 <= 60 * 1048576 { ok = 1 } END { exit !ok }' "$work/log"
    ok "gives everything back after a refusal, $allocator" clean
    replay DRIVER_GROW=$((1700 * MiB)) -- "${gpt[@]}" --allocator=$allocator
    ok "the card itself is full, $allocator" [ $code = 0 ]
    ok "and who asked is told, $allocator" json refused_step 1
    ok "by name, $allocator" says '"refused_tensor": "[a-z]' out
    ok "gives everything back to a full card, $allocator" clean
done
replay DRIVER_FOREIGN=$((1600 * MiB)) -- "${gpt[@]}"
ok "others would be pushed out: not begun" [ $code = 4 ]
ok "says how much is missing" says 'more would have to be free; --replay-limit' err
ok "nothing was taken" counted 'most 0'
ok "gives the context back" clean
replay DRIVER_FOREIGN=$((1500 * MiB)) -- "${gpt[@]}" --replay-spare=64MiB
ok "leaves less to others" [ $code = 0 ]
ok "gives everything back to others" clean

# ---- each call that can fail: the replay ends with a line that says so, and everything goes back
for call in cuInit cuDeviceGet cuDeviceGetName cuDeviceGetAttribute cuDeviceGetPCIBusId \
    cuDevicePrimaryCtxRetain cuCtxSetCurrent cuMemGetInfo_v2 cuMemAlloc_v2 \
    cuMemsetD8Async; do
    replay DRIVER_FAIL=$call -- "${gpt[@]}" -o "$work/none.json"
    ok "$call fails: exit 4, not $code" [ $code = 4 ]
    ok "$call fails: says so" says 'the CUDA driver says CUDA_ERROR_UNKNOWN' err
    ok "$call fails: no report" [ ! -e "$work/none.json" ]
    [ $call = cuDevicePrimaryCtxRetain ] || ok "$call fails: everything is given back" clean
done
for call in cuMemAddressReserve cuMemCreate cuMemRelease cuMemMap cuMemSetAccess cuMemUnmap; do
    replay DRIVER_FAIL=$call -- "${gpt[@]}" --allocator=expandable
    ok "$call fails: exit 4, not $code" [ $code = 4 ]
    ok "$call fails: says so" says 'the CUDA driver says CUDA_ERROR_UNKNOWN' err
    ok "$call fails: everything is given back" clean
done
for call in cuMemFree_v2 cuMemAddressFree cuCtxSynchronize; do # what can't be given back alone goes with the context
    replay DRIVER_FAIL=$call -- "${gpt[@]}" --allocator=expandable
    [ $call = cuMemFree_v2 ] && replay DRIVER_FAIL=$call -- "${gpt[@]}"
    ok "$call fails: exit 4, not $code" [ $code = 4 ]
    ok "$call fails: the context goes" counted 'contexts 0'
done
for call in nvmlInit_v2 nvmlDeviceGetHandleByPciBusId_v2 nvmlDeviceGetMemoryInfo \
    nvmlDeviceGetComputeRunningProcesses_v3 cublasLtCreate; do
    replay DRIVER_FAIL=$call -- "${gpt[@]}"
    ok "$call fails: a replay all the same" [ $code = 0 ]
    ok "$call fails: everything is given back" clean
done

# ---- signals: everything goes back, no report is left, the exit status is the environment's
for signal in 1 2 15; do
    { sh -c "kill -$signal \$\$"; } 2>/dev/null && continue # ignored, as under nohup: memlint leaves it so
    for allocator in native expandable; do
        replay DRIVER_RAISE=40:$signal -- "${gpt[@]}" --allocator=$allocator -o "$work/none.json"
        ok "signal $signal: exit 4, not $code" [ $code = 4 ]
        ok "signal $signal: says so" says 'interrupted; everything was given back' err
        ok "signal $signal: everything is given back" clean
        ok "signal $signal: not another block" counted 'sets 40'
        ok "signal $signal: no report" [ ! -e "$work/none.json" ]
    done
done
replay DRIVER_RAISE=40:15 -- "${gpt[@]}" "$work/images.txt"
ok "of many models the others are not begun" [ "$(grep -c 'was given back' "$work/err")" = 1 ]
finish
