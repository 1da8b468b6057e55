#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Modules under torch.utils.checkpoint, some with a selective policy, some inside of others, against steps that PyTorch
# ran (fake tensors, AdamW, fp32; record.py MODEL --checkpoint and tests/oracle/selective.py): the peak agrees to the
# byte, or within 0.2 % where it says near.
. "$(dirname "$0")/lib.sh"
models=${MEMLINT_SHARED:-$SOURCE/../shared}/oracle/models.tar.xz
[ -e "$models" ] || skip "no models at $models"
[ -z "${SANITIZED:-}" ] || skip "the cases run under sanitizers"
tar -xJf "$models" -C "$work" --wildcards '*.dynamo.onnx' || exit 1
while read -r model batch plan peak near; do
    file=$(find "$work" -name "$model.dynamo.onnx")
    got=$("$MEMLINT" "$file" --dim "batch=$batch" --dropout none --assume accumulate=never --recompute "$plan" -q \
        --format=json |
        awk -F'[:,]' '/"allocated"/ && !n++ {printf "%.0f", $2}')
    ok "$model, $plan: PyTorch $peak, here $got" awk -v a="$peak" -v b="${got:-0}" -v near="$near" \
        'BEGIN {d = a > b ? a - b : b - a; exit !(near ? d < a / 500 : d == 0)}'
done <<'END'
nanogpt 4 blocks.? 2037871616
nanogpt 4 blocks.?+attention 2057047040
nanogpt 4 blocks.?+linear 2207740928
nanogpt 4 blocks.?+heavy 2226916352
gpt2_nodrop 4 *.h.? 2707254784
gpt2_nodrop 4 *.h.?+linear 2852578304
gpt2_nodrop 4 *.h.?+products 3009864704
resnet50 16 layer?.? 918927872
resnet50 16 layer?.?+heavy 1516173824
vit_b_16 16 encoder.layers.encoder_layer_?+linear 2407411712
unet 4 *down.? 663660544
unet 4 *down.?+heavy 789489664
llama_small 4 *.layers.? 1800818176 near
llama_small 4 *.layers.?+linear 2153139712 near
llama_small 4 *.layers.?+products 2455129600 near
resnet50 16 layer1.0+products:256,layer1.1+products:512,layer1.2+products:64,layer2.0+products:1152 1348174336
gpt2_nodrop 4 *.h.0+products:1000,*.h.1+products:768,*.h.2+products:3072 3286807040
resnet50 16 layer1,layer1.? 1251846656
resnet50 16 layer1,layer1.?+heavy 1534437888
resnet50 16 layer1+heavy,layer1.0,layer1.1 1534437888
densenet121 8 features.denseblock3+heavy 1110500864
densenet121 8 features,features.denseblock? 574961152
densenet121 8 features,features.denseblock1+heavy,features.denseblock2+heavy 856114688
resnet50 16 layer1,layer1.?,layer2.?+products:256,layer3.0+heavy,layer3.1+products:576,layer4+products:256 1043053056
t5_small_nodrop 4 model.encoder.block.0,model.encoder.block.1,model.encoder.block.2 1309309952 near
END
run "$(find "$work" -name vgg16.dynamo.onnx)" --recompute features+heavy --format=json
ok "a policy that PyTorch refuses (RuntimeError: mutated) is not doubted: cache in eager.c" grep -q \
    'refuses to run this step' "$work/out"
# A smaller budget never has a plan with more memory or less work, and no plan is over its budget.
for budget in 1600 1400 1200 1000 940; do
    "$MEMLINT" "$(find "$work" -name resnet50.dynamo.onnx)" --dim batch=16 --recompute "${budget}MB" -q --format=json |
        python3 -c 'import json, sys
r = json.load(sys.stdin)["recompute"]
fit = [p for kind in ("front", "selective", "operators") for p in r[kind] if p["peak"] <= int(sys.argv[1]) * 10**6]
least = min(q["extra_flops_percent"] for q in fit)
print(sys.argv[1], max(p["peak"] for p in fit if p["extra_flops_percent"] == least) / 1e6,
      min(p["extra_flops_percent"] for p in fit))' "$budget"
done >"$work/front"
ok "a plan over its budget, or cheaper with less memory: $(tr '\n' ';' <"$work/front")" awk '
    $2 > $1 || (NR > 1 && ($2 > peak || $3 < cost)) { bad = 1 } { peak = $2; cost = $3 } END { exit bad || NR != 5 }' \
        "$work/front"
run --list=policies
ok "no policies" grep -q '^heavy' "$work/out"
finish
