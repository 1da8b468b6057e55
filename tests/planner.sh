#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# cuDNN asked for its workspaces (--cudnn=ask), against tests/driver.c in its place: what is asked, what is kept, and
# what happens where it is missing, too old, or ends.
. "$(dirname "$0")/lib.sh"
DRIVER=${DRIVER:-$PWD/tests/driver.so}
[ -e "$DRIVER" ] || skip "$DRIVER was not built"
[ -z "${SANITIZED:-}" ] || skip "a sanitizer maps more than the child may"
mkdir "$work/lib" "$work/none" "$work/cache"
ln -s "$DRIVER" "$work/lib/libcudnn.so.9"
: >"$work/none/libcudnn.so.9" # no library: hides the machine's own
kept=$work/cache/memlint/cudnn-91002
cat >"$work/images.txt" <<'END'
<ir_version: 10, opset_import: ["": 20]> g (float[2, 4, 16, 20] x) => (y)
<float[8, 4, 3, 3] a.weight = {}, float[8, 8, 3, 3] b.weight = {}> {
  p = Conv <pads = [1, 1, 1, 1], kernel_shape = [3, 3]> (x, a.weight)
  y = Conv <pads = [1, 1, 1, 1], kernel_shape = [3, 3]> (p, b.weight)
}
END
# ask NAME=VALUE... -- ARGUMENT...: cuDNN, behaving so, is asked
ask() {
    local behaviour=(XDG_CACHE_HOME="$work/cache" LD_LIBRARY_PATH="$work/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}")
    while [ "$1" != -- ]; do
        behaviour+=("$1")
        shift
    done
    shift
    env "${behaviour[@]}" "$MEMLINT" --cudnn=ask "$work/images.txt" --loss=mse "$@" \
        >"$work/out" 2>"$work/err" </dev/null
    code=$?
}
says() { grep -q -- "$1" "$work/$2"; }
# takes N MIB PHASE: N kernels take so much in that phase
takes() { [ "$(grep -c "^+	$(($2 << 20))	[0-9]*	$3	aten.convolution" "$work/out")" = "$1" ]; }

ask -- --device=a100-40 --dump=step
ok "is asked: exit 0, not $code" [ $code = 0 ]
ok "the plan that works, forward" takes 2 3 forward
ok "the gradients of both weights" takes 2 5 backward
ok "the gradient of the input that needs one" takes 1 7 backward
ok "what was said is kept" [ "$(wc -l <"$kept")" = 7 ]
ok "and whole" grep -qx 'end 5' "$kept"
ok "for the user alone" [ "$(stat -c %a "$work/cache/memlint")" = 700 ]

cp "$kept" "$work/good"
sed -i 's/3145728/2097152/' "$kept"
ask -- --device=a100-40 --dump=step
ok "what is kept is not asked again" takes 2 2 forward
for spoilt in "$(head -3 "$work/good")" "" "$(sed 's/	/ /' "$work/good")" "$(sed 's/end 5/end 4/' "$work/good")" \
    "$(sed 's/3145728/-7/' "$work/good")" "$(sed '1d' "$work/good")" "$(sed 's/3145728$/3145728x/' "$work/good")"; do
    printf '%s\n' "$spoilt" >"$kept"
    ask -- --device=a100-40 --dump=step
    ok "a file that is not whole is ignored" takes 2 3 forward
    ok "and written anew" cmp -s "$work/good" "$kept"
done
ok "nothing else is left in its folder" [ "$(ls "$work/cache/memlint")" = cudnn-91002 ]

ask -- --device=a100-40 --format=full
ok "the report names the library" says 'what cuDNN 9.10.2 takes' out
ask -- --dump=step
ok "without a device none is asked: exit 0" [ $code = 0 ]
ok "and nothing taken" takes 0 3 forward
ask -- --format=full
ok "the report says so" says 'in none of the figures' out

# flagged LIST: the library is asked under these flags
flagged() { ask -- --device=a100-40 --cudnn-flags="$1" --dump=step; }
flagged deterministic
ok "deterministic: another plan" takes 2 4 forward
flagged no-tf32
ok "no-tf32: another plan" takes 2 5 forward
ask -- --device=a100-40 --cudnn-flags=no-tf32 --precision=fp16 --dump=step
ok "no-tf32: of 16 bits the same plan" takes 2 3 forward
flagged no-tf32,deterministic
ok "both: another plan" takes 2 6 forward
flagged benchmark
ok "benchmark: the largest workspace of the plans" takes 2 6 forward
ask -- --device=a100-40 --cudnn-flags=benchmark --format=json
ok "benchmark: says between what" says 'keeps the fastest of ten plans' out
ok "what each says is kept apart" [ "$(cut -d' ' -f1 "$kept" | sort -u | tr '\n' ' ')" = \
    "80 deterministic end least memlint: most no-tf32 " ]
ask -- --device=a100-40 --dump=step
ok "without flags the first plan" takes 2 3 forward

# What the library leaves out without a driver the rule says: the first convolution here is a product of matrices.
cp "$work/images.txt" "$work/kept.txt"
sed -i -e 's/8, 4, 3, 3/8, 4, 1, 1/' -e '/a.weight)/s/pads = .*, k.*3]/kernel_shape = [1, 1]/' "$work/images.txt"
ask -- --device=a100-40 --dump=step
ok "without a driver: a product is not asked for" takes 1 3 forward
ask -- --device=a100-40 --format=full
ok "without a driver: says so" says 'of 2 convolutions of the step follow what cuDNN 9.19' out
mkdir "$work/driver"
ln -s "$DRIVER" "$work/driver/libcudnn.so.9"
ln -s "$DRIVER" "$work/driver/libcuda.so.1"
ask LD_LIBRARY_PATH="$work/driver" -- --device=a100-40 --dump=step
ok "with one: it is" takes 2 3 forward
ok "with one: is kept apart" [ -e "$kept-driver" ]
ask LD_LIBRARY_PATH="$work/driver" DRIVER_FAIL=cuDeviceGet -- --device=a100-40 --dump=step
ok "with one that has no device: it is not" takes 1 3 forward
mv "$work/kept.txt" "$work/images.txt"

rm -r "$work/cache/memlint"
ask DRIVER_PLANS=2 -- --device=a100-40 --dump=step
ok "it aborts: exit 0, not $code" [ $code = 0 ]
ok "it aborts: what it had said counts" takes 2 3 forward
ok "it aborts: the rule says the rest" takes 0 7 backward
ok "it aborts: says so" says 'cuDNN was not asked to the end, the rest follows the rule: it ended by itself' err
ask DRIVER_CUDNN=90701 -- --device=a100-40
ok "too old: exit 4, not $code" [ $code = 4 ]
ok "too old: says so" says 'it is cuDNN 9.7.1, and only 9.8 and later plan without a GPU' err
ask DRIVER_FAIL=cudnnBackendFinalize -- --device=a100-40
ok "refuses the device: exit 4, not $code" [ $code = 4 ]
ok "refuses the device: says so" says 'it does not plan for compute capability 8.0: CUDNN_STATUS_REFUSED;' err
ask -- --device=p100
ok "a device without a row: exit 4, not $code" [ $code = 4 ]
ask LD_LIBRARY_PATH="$work/none" -- --device=a100-40
ok "no library: exit 4, not $code" [ $code = 4 ]
ok "no library: says so, and what helps" says 'there is no libcudnn.so.9; LD_LIBRARY_PATH names its folder' err
ask XDG_CACHE_HOME=/dev/null -- --device=a100-40 --dump=step
ok "nowhere to keep it: asked all the same" takes 2 3 forward
finish
