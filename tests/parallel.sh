#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# --parallel=auto: every cell of the table is the run of that way alone; the cheapest way is the first that fits. The
# Python of all ways is run where there is PyTorch (MEMLINT_TORCH names a Python that has it), in a fake process group.
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
        if way["allocated"][i] is not None and way["parallel"] and n in (2, 12, 64):
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
# The Python of every way, on the model of tests/oracle/tensor.py, whose file is in its archive.
mkdir "$work/gpt"
tar xJf "$SOURCE/tests/oracle/tensor.tar.xz" -C "$work/gpt" gpt.onnx
cat >"$work/code.py" <<'END'
import json, sys
import torch
import torch.distributed as dist
from torch.testing._internal.distributed.fake_pg import FakeStore
sys.path.insert(0, sys.argv[2])
from tensor import GPT
kind, gpus, python, checkpoints = json.load(open(sys.argv[1]))[int(sys.argv[3])]
dist.init_process_group("fake", store=FakeStore(), rank=0, world_size=gpus)
with torch.device("meta" if "meta" in kind else "cpu"):
    made = GPT()
tokens = torch.zeros(2, 128, dtype=torch.long)
loss = lambda out, targets: torch.nn.functional.cross_entropy(out.flatten(0, 1), targets.flatten())
scope = {"model": made, "torch": torch, "lr": 1e-3, "inputs": (tokens,), "loss": loss, "device": torch.device("cpu")}
exec(python.replace('"cuda"', '"cpu"'), scope)
model = scope["model"]
layers = {n: m for n, m in made.named_modules() if isinstance(m, torch.nn.Linear)}
placed = {n: m.weight.placements[0].dim for n, m in layers.items() if hasattr(m.weight, "placements")}
if kind.startswith("tensor"): # by columns is along dimension 0 of a weight
    assert placed == {n: int(n.endswith((".out", ".down"))) for n in layers if "blocks" in n}, placed
    from torch.distributed.tensor.experimental import implicit_replication
if kind == "pipeline":
    schedule, optimizer = scope["schedule"], torch.optim.AdamW(scope["stage"].submod.parameters(), lr=1e-3)
    schedule.step(tokens.repeat(gpus, 1), return_outputs=False)
    optimizer.step()
    sys.exit(0)
optimizer = scope.get("optimizer") or torch.optim.AdamW(model.parameters(), lr=1e-3)
for _ in range(2):
    loss(model(tokens).float(), tokens).backward()
    if kind.startswith("tensor"):
        with implicit_replication():
            optimizer.step()
    else:
        optimizer.step()
    optimizer.zero_grad()
sharded = sum(type(m).__name__.startswith("FSDP") for m in made.modules())
assert sharded == (len(made.blocks) + 1 if "fsdp" in kind else 0), sharded
assert checkpoints == all("forward" in vars(b) for b in made.blocks)
END
cat >"$work/programs.py" <<'END'
import json, subprocess, sys
memlint, model, out = sys.argv[1:]
def run(how, gpus):
    command = [memlint, model, "--dim=batch=2", f"--parallel={how}", f"--gpus={gpus}", "--units=blocks.?"]
    return json.loads(subprocess.run([*command, "--format=json"], capture_output=True, text=True).stdout)
rows = subprocess.run([memlint, "--list=parallel"], capture_output=True, text=True).stdout.splitlines()
kinds = [row.split("\t")[0] for row in rows]
units = lambda kind: [] if kind.startswith(("ddp", "zero", "deep")) else ["blocks.0", "blocks.1"]
programs = []
for kind in [*kinds, "fsdp:meta,bf16", "fsdp:meta,bf16,cpu-offload", "ddp:bucket-view,find-unused"]:
    gpus = 8 if "hybrid" in kind or "reshard" in kind else 2
    said = run(kind, gpus)["parallel"]
    assert said["kind"] == kind and said["gpus"] == gpus and said["units"] == units(kind), said
    assert said["bytes_sent"] > 0, said
    if "deepspeed" not in kind:
        programs.append([kind, gpus, said["python"], False])
for way in run("auto", 2)["scale"]["ways"]:
    if way["parallel"]:
        programs.append([way["parallel"], 2, way["python"], "checkpoints" in way["name"]])
json.dump(programs, open(out, "w"))
print(len(programs))
END
programs=$(python3 "$work/programs.py" "$MEMLINT" "$work/gpt/gpt.onnx" "$work/programs.json")
ok "every way has its Python" [ "${programs:-0}" -gt 20 ]
for ((i = 0; i < ${programs:-0}; i++)); do
    "$python" "$work/code.py" "$work/programs.json" "$SOURCE/tests/oracle" "$i" >"$work/log" 2>&1
    ok "the Python of program $i: $(tail -3 "$work/log")" [ $? = 0 ]
done
finish
