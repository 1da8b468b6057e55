#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Steps under DeepSpeed's ZeRO: rank 0 of a fake process group, PyTorch's own CUDA allocator, no GPU.

    zero.py MEMLINT RECORD.PY --keep DIR [--only REGEX] [--pack FILE]

Every case is a model of shards.py, and its step by the Python that memlint prints; peaks and phases are compared to the
byte. Needs DeepSpeed 0.19.8 with nothing built: its source on PYTHONPATH will do. --pack writes an archive for
tests/ranks.sh. Exit 1 where a case is not exact.
"""

import functools, gc, json, os, sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import shards, tensor

import torch

# model, way, ranks, optimizer, precision, more of memlint's options
PLAN = [
    ("gpt", "deepspeed:zero2", 2, "adamw", "fp32"),
    ("gpt", "deepspeed:zero2", 48, "adamw", "fp32"),
    ("gpt-large", "deepspeed:zero2", 8, "adamw", "fp32"),
    ("gpt-large", "deepspeed:zero2", 3, "sgd", "fp32"),
    ("tied", "deepspeed:zero2", 6, "adamw", "fp32"),
    ("scaled", "deepspeed:zero2", 3, "adamw", "fp32"),
    ("scaled", "deepspeed:zero2", 12, "momentum", "fp32"),
    ("vit", "deepspeed:zero2", 12, "adamw", "fp32"),
    ("lora", "deepspeed:zero2", 6, "adamw", "fp32"),
    ("convnext", "deepspeed:zero2", 6, "adamw", "fp32"),
    ("llama", "deepspeed:zero2", 4, "adamw", "bf16"),
    ("gpt-large", "deepspeed:zero2", 8, "adamw", "bf16"),
    ("gpt", "deepspeed:zero2", 48, "adamw", "bf16"),
    ("gpt", "deepspeed:zero3", 2, "adamw", "fp32"),
    ("gpt", "deepspeed:zero3", 48, "adamw", "fp32"),
    ("gpt-large", "deepspeed:zero3", 8, "adamw", "fp32"),
    ("gpt-large", "deepspeed:zero3", 3, "sgd", "fp32"),
    ("tied", "deepspeed:zero3", 6, "adamw", "fp32"),
    ("scaled", "deepspeed:zero3", 3, "adamw", "fp32"),
    ("scaled", "deepspeed:zero3", 12, "momentum", "fp32"),
    ("vit", "deepspeed:zero3", 12, "adamw", "fp32"),
    ("lora", "deepspeed:zero3", 6, "adamw", "fp32"),
    ("convnext", "deepspeed:zero3", 6, "adamw", "fp32"),
    ("again", "deepspeed:zero3", 4, "adamw", "fp32"),
    ("t5", "deepspeed:zero3", 8, "adamw", "fp32"),
    ("gpt", "deepspeed:zero2", 6, "adamw", "fp32", "--loop=accumulate-4"),
    ("gpt", "deepspeed:zero3", 6, "adamw", "fp32", "--loop=accumulate-4"),
    ("gpt-large", "deepspeed:zero2", 12, "adamw", "bf16", "--recompute=blocks.?"),
    ("gpt-large", "deepspeed:zero3", 12, "adamw", "bf16", "--recompute=blocks.?"),
    ("again", "deepspeed:zero3", 4, "adamw", "fp32", "--recompute=blocks.?"),
    ("vit", "deepspeed:zero3", 3, "adamw", "fp32", "--recompute=model.vit.encoder.layer.?"),
    ("convnext", "deepspeed:zero3", 64, "momentum", "fp32", "--recompute=features.?.?"),
    ("llama", "deepspeed:zero3", 4, "adamw", "bf16"),
    ("gpt-large", "deepspeed:zero3", 8, "adamw", "bf16"),
    ("gpt", "deepspeed:zero3", 48, "adamw", "bf16"),
]


def measure(record, case, python, path):
    import torch.distributed as dist
    from torch.testing._internal.distributed.fake_pg import FakeStore

    name, _, world, _, _, *more = case
    build, inputs, _, batch = shards.CASES[name]
    said = dict(option.lstrip("-").split("=") for option in more)
    micro = int(said.get("loop", "accumulate-1").split("-")[1])
    os.environ.update(RANK="0", LOCAL_RANK="0", WORLD_SIZE=str(world), MASTER_ADDR="localhost", MASTER_PORT="29511")
    dist.init_process_group("fake", rank=0, world_size=world, store=FakeStore())
    model = shards.on_host(build)
    record.checkpoint_modules(model, said["recompute"].split(",") if "recompute" in said else ())
    scope = {"model": model, "torch": torch, "lr": 1e-3, "batch": batch}
    exec(python, scope)
    import deepspeed.runtime.zero.stage_1_and_2 as stage_2, deepspeed.runtime.zero.stage3 as stage_3

    for runtime in stage_2, stage_3:
        runtime.is_invalid_grad_norm = lambda _: False  # no kernel wrote a norm: what is read back may be anything
    model = scope["model"]
    gc.collect()
    now = lambda: gc.collect(0) and 0 or torch.cuda.memory_allocated()
    marks = {"model": now()}
    for step in range(3 * micro):
        if step == 2 * micro:
            torch.cuda.reset_peak_memory_stats()
        with torch.device("cuda"):
            given, targets = inputs(batch)
        marks["inputs"] = now()
        out = model(*given)
        out = getattr(out, "logits", out)
        loss = tensor.cross_entropy(out, targets)
        marks["forward"] = now()
        model.backward(loss)
        marks["backward"] = now()
        model.step()  # which does nothing but behind the last micro-batch
        marks["step"] = now()
        del given, targets
    truth = {"peak": torch.cuda.max_memory_allocated(), "reserved": torch.cuda.max_memory_reserved(), **marks}
    with open(path, "w") as f:
        json.dump(truth, f)


def compare(a, record, *case_and_rows):
    *case, rows = case_and_rows
    name, how, world, optimizer, precision, *more = case
    model = tensor.made(a, f"{name}.onnx", "captured", functools.partial(shards.capture, name))
    more = f"--parallel={how}", f"--gpus={world}", *more
    command, answer = tensor.ask(a, model, shards.CASES[name][3], optimizer, precision, *more)
    measured = functools.partial(measure, record, case, answer["parallel"]["python"])
    truth = json.load(open(tensor.made(a, shards.file_of(case), "recorded", measured)))
    return "  ".join(tensor.differences(command, answer, truth, rows)) or "exact"


def main():
    return tensor.run(tensor.arguments(__doc__).parse_args(), PLAN, compare)


if __name__ == "__main__":
    sys.exit(main())
