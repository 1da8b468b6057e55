#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# --parallel=auto: every cell of the table is the run of that way alone; the cheapest way is the first that fits; what
# the Python says is run where there is PyTorch (MEMLINT_TORCH names a Python that has it), in a fake process group.
. "$(dirname "$0")/lib.sh"
command -v python3 >/dev/null || skip "no python3"
export PYTHONDONTWRITEBYTECODE=1
model=$SOURCE/examples/tiny_gpt.onnx

run "$model" --dim batch=8 --parallel=auto --gpus=12 --device=rtx-2060 --format=json
ok "--parallel=auto runs" [ "$code" = 0 ]
cp "$work/out" "$work/auto.json"
cat >"$work/cells.py" <<'END'
import json, sys
scale = json.load(open(sys.argv[1]))["scale"]
for way in scale["ways"]:
    for i, n in enumerate(scale["gpus"]):
        if way["parallel"] and n in (2, 12, 64):
            print(way["parallel"], n, "yes" if "checkpoints" in way["name"] else "no",
                  way["allocated"][i], way["reserved"][i])
END
peak='import json, sys; p = json.load(sys.stdin)["peak"]; print(p["allocated"], p["reserved"])'
while read -r how gpus checkpoints allocated reserved; do
    more=()
    [ "$checkpoints" = yes ] && more=(--recompute='blocks.?')
    run "$model" --dim batch=8 --parallel="$how" --gpus="$gpus" "${more[@]}" --device=rtx-2060 --format=json
    got=$(python3 -c "$peak" <"$work/out")
    ok "$how on $gpus GPUs, checkpoints $checkpoints: $got alone, $allocated $reserved in the table" \
        [ "$got" = "$allocated $reserved" ]
done < <(python3 "$work/cells.py" "$work/auto.json")
ok "the table has cells to compare" [ "$passed" -gt 15 ]

cat >"$work/first.py" <<'END'
import json, sys
r = json.load(open(sys.argv[1]))
scale, ways = r["scale"], r["scale"]["ways"]
assert 12 in scale["gpus"] and scale["gpus"] == sorted(scale["gpus"])
assert [d["name"] for d in scale["devices"]] == [f["device"] for f in r["fits"]]
for device, fit in zip(scale["devices"], r["fits"]):
    for i, n in enumerate(scale["gpus"]):
        here = [k for k, w in enumerate(ways) if w["reserved"][i] is not None]
        first = device["cheapest"][i]
        assert first is None or first in here
        for k in here: # a dearer way that needs more never comes first
            assert first is None or k >= first or ways[k]["reserved"][i] > ways[first]["reserved"][i], (device, n, k)
assert scale["chosen"] == scale["devices"][[d["name"] for d in scale["devices"]].index("rtx-2060")]["cheapest"][
    scale["gpus"].index(12)]
END
ok "the cheapest way" python3 "$work/first.py" "$work/auto.json"
run "$model" --dim batch=8 --parallel=auto --units=absent
ok "units that are not there: $(cat "$work/err")" grep -q "no module called absent" "$work/err"
run "$model" --dim batch=8 --parallel=auto --units='blocks.?,absent' --format=full
ok "some units that are not there are a doubt" grep -q "absent (fully_shard): no module of that name" "$work/out"
run "$model" --dim batch=8 --parallel=auto --device=1MiB
ok "nothing fits, and it is said" grep -q "none fits on any number" "$work/out"

python=${MEMLINT_TORCH:-python3}
if ! "$python" -c 'import torch' 2>/dev/null; then
    echo "skipped: the printed Python: $python has no torch"
    finish
fi
cat >"$work/code.py" <<'END'
import json, sys
import torch
import torch.distributed as dist
from torch.testing._internal.distributed.fake_pg import FakeStore
sys.path.insert(0, sys.argv[2])
from tiny_gpt import example
dist.init_process_group("fake", store=FakeStore(), rank=0, world_size=2)
way = json.load(open(sys.argv[1]))["scale"]["ways"][int(sys.argv[3])]
made, *inputs = example()
model, lr = made, 1e-3
scope = {"model": model, "torch": torch, "lr": lr}
exec(way["python"], scope)
model = scope["model"]
optimizer = scope.get("optimizer") or torch.optim.AdamW(model.parameters(), lr=lr)
flat = [x for i in inputs for x in (i if isinstance(i, (tuple, list)) else [i])]
for _ in range(2):
    model(*flat).float().mean().backward()
    optimizer.step()
    optimizer.zero_grad()
sharded = sum(type(m).__name__.startswith("FSDP") for m in made.modules())
blocks = len(made.blocks)
assert sharded == (blocks + 1 if "fsdp" in way["name"] else 0), sharded
assert ("checkpoint" in way["name"]) == all("forward" in vars(b) for b in made.blocks)
END
ways=$(python3 -c 'import json, sys; print(len(json.load(open(sys.argv[1]))["scale"]["ways"]))' "$work/auto.json")
for ((i = 1; i < ways; i++)); do
    "$python" "$work/code.py" "$work/auto.json" "$SOURCE/examples" "$i" >"$work/log" 2>&1
    ok "the Python of way $i: $(tail -3 "$work/log")" [ $? = 0 ]
done
finish
