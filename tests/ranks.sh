#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Steps of one rank under DDP, FSDP, DeepSpeed's ZeRO and tensor parallelism, and of a pipeline's stages, against what
# PyTorch's own allocator said: the archives that tests/oracle/shards.py, zero.py, tensor.py and pipeline.py write.
# cases has of each the model, memlint's options, the peak of allocated and of reserved bytes, and what was allocated
# after phases.
. "$(dirname "$0")/lib.sh"
command -v xz >/dev/null || skip "no xz"
command -v python3 >/dev/null || skip "no python3"

cat >"$work/errors.py" <<'END'
import json, sys
peak = json.load(sys.stdin)["peak"]
truth = [int(n) for n in sys.argv[1:3]]
print(*(100 * abs(peak[k] - t) / t for k, t in zip(("allocated", "reserved"), truth)))
END
for archive in shards zero tensor pipeline; do
    mkdir "$work/$archive"
    tar xJf "$SOURCE/tests/oracle/$archive.tar.xz" -C "$work/$archive"
    exact=0 cases=0
    while IFS=$'\t' read -r model options peak reserved _; do
        read -ra words <<<"$options"
        run "$work/$archive/$model" "${words[@]}" --format=json
        read -r off more < <(python3 "$work/errors.py" "$peak" "$reserved" <"$work/out")
        ok "$model $options: peak off by $off %, reserved by $more %" awk -v off="$off" -v more="$more" \
            'BEGIN { exit !(off != "" && off + 0 <= 0.01 && more + 0 <= 1) }'
        cases=$((cases + 1))
        [ "$off" != 0.0 ] || exact=$((exact + 1))
    done <"$work/$archive/cases"
    ok "$archive has cases" [ "$cases" -gt 8 ]
    ok "$archive: $exact peaks of $cases are exact" [ "$exact" -ge $((cases - 2)) ]
done

refused() { # MODEL TEXT OPTIONS...
    local model=$1 text=$2
    shift 2
    run "$work/$model.onnx" --dim batch=4 "$@"
    ok "$*: exit $code, $(cat "$work/err")" grep -qF "$text" "$work/err"
    ok "$* ends with 3" [ "$code" = 3 ]
}
refused tensor/gpt "16 GPUs can't share the heads of [4, 128, 8, 32]" --parallel=tensor --gpus=16
refused tensor/gpt "3 GPUs can't share the columns of blocks.*.attention.q" --parallel=tensor --gpus=3
refused tensor/gpt "no linear layers of its units follow" --parallel=tensor --gpus=2 --units=token
refused tensor/vit "2 GPUs can't share [4, 37, 192] along dimension 1" --parallel=tensor:sequence --gpus=2
refused pipeline/gpt-4 "8 GPUs can't share 6 units" --parallel=pipeline --gpus=8
refused pipeline/gpt-4 "a micro-batch for each stage" --parallel=pipeline --gpus=4 --loop=accumulate-2
refused pipeline/gpt-4 "accumulate-N alone" --parallel=pipeline --gpus=4 --loop=late-zero
finish
