#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Steps on many GPUs of models that nobody recorded: rank 0 of a fake process group, PyTorch's own allocator, no GPU.

    shards.py MEMLINT RECORD.PY --keep DIR [--only REGEX] [--pack FILE]

Every case is a model, captured whole, and its step under DistributedDataParallel, ZeroRedundancyOptimizer or what
memlint's Python makes of it with fully_shard; peaks and phases are compared to the byte. RECORD.PY is the oracle's,
with nullgpu.cpp beside it. --pack writes an archive for tests/ranks.sh. Exit 1 where a case is not exact.
"""

import functools, itertools, json, os, sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import tensor

import torch
from torch import nn


class Tied(tensor.GPT):
    def __init__(self, **more):
        super().__init__(**more)
        self.head.weight = self.token.weight


class Scaled(nn.Module):
    """Units with buffers, parameters of few rows and of none that ranks could share evenly."""

    def __init__(self, width=100, layers=4):
        super().__init__()
        layer = lambda: nn.Sequential(
            nn.Linear(width, 3 * width), nn.BatchNorm1d(3 * width), nn.Linear(3 * width, width)
        )
        self.layers = nn.ModuleList(layer() for _ in range(layers))
        self.scale, self.head = nn.Parameter(torch.ones(1)), nn.Linear(width, 10)

    def forward(self, x):
        for layer in self.layers:
            x = x + torch.tanh(layer(x)) * self.scale
        return self.head(x)


class Again(nn.Module):
    """One block that runs several times."""

    def __init__(self, width=256, times=4):
        super().__init__()
        self.blocks = nn.ModuleList([tensor.Block(width, 8)])
        self.token, self.head, self.times = nn.Embedding(1000, width), nn.Linear(width, 1000), times

    def forward(self, tokens):
        x = self.token(tokens)
        for _ in range(self.times):
            x = self.blocks[0](x)
        return self.head(x)


def t5():
    import transformers

    sizes = dict(d_model=256, d_kv=32, d_ff=512, num_layers=3, num_heads=8, vocab_size=2000, use_cache=False)
    return Both(transformers.T5ForConditionalGeneration(transformers.T5Config(**sizes)))


class Both(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, x):
        return self.model(input_ids=x, decoder_input_ids=x).logits


def lora():
    import peft

    config = peft.LoraConfig(r=8, target_modules=["q_proj", "v_proj"], lora_dropout=0.0)
    return peft.get_peft_model(tensor.llama(), config)


def convnext():
    import torchvision

    return torchvision.models.convnext_tiny()


def rows(batch):
    return (torch.rand(batch, 100),), torch.zeros(batch, dtype=torch.long)


def on_host(build):
    """Built there, then moved."""
    with torch.device("cpu"):
        model = build()
    return model.to("cuda")


CASES = {
    "gpt": (tensor.GPT, tensor.text, "blocks.?", 4),
    "gpt-large": (functools.partial(tensor.GPT, width=1024, heads=16, layers=6), tensor.text, "blocks.?", 2),
    "tied": (functools.partial(Tied, layers=3), tensor.text, "blocks.?", 4),
    "scaled": (Scaled, rows, "layers.?", 64),
    "llama": (tensor.llama, tensor.text, "model.model.layers.?", 4),
    "vit": (tensor.vit, tensor.images, "model.vit.encoder.layer.?", 16),
    "lora": (lora, tensor.text, "base_model.model.model.model.layers.?", 4),
    "convnext": (convnext, tensor.images, "features.?.?", 8),
    "again": (Again, tensor.text, "blocks.?", 4),
    "t5": (t5, tensor.text, "model.encoder.block.?,model.decoder.block.?", 4),
}
MICRO = 4  # batches of a step under --loop=accumulate-4
# model, way, ranks, optimizer, precision, more of memlint's options
PLAN = [
    ("gpt", "fsdp", 8, "adamw", "fp32"),
    ("gpt", "fsdp:meta", 8, "adamw", "fp32"),
    ("gpt-large", "fsdp:meta", 8, "adamw", "fp32"),
    ("gpt-large", "fsdp", 8, "adamw", "fp32"),
    ("gpt-large", "fsdp:meta", 48, "adamw", "amp-bf16"),
    ("gpt-large", "fsdp:meta,bf16", 8, "adamw", "fp32"),
    ("gpt-large", "fsdp:meta,cpu-offload", 8, "adamw", "fp32"),
    ("gpt-large", "fsdp:meta,bf16,cpu-offload", 8, "adamw", "fp32"),
    ("gpt-large", "fsdp:meta,no-reshard,bf16", 6, "adamw", "fp32"),
    ("gpt-large", "fsdp:meta,reshard-8", 16, "adamw", "fp32"),
    ("gpt-large", "fsdp:reshard-8,bf16", 32, "adamw", "fp32"),
    ("gpt-large", "fsdp:meta,reshard-8,bf16-reduce", 64, "sgd", "fp32"),
    ("vit", "fsdp:reshard-8", 40, "momentum", "amp-bf16"),
    ("scaled", "fsdp:reshard-8", 8, "adamw", "fp32"),
    ("llama", "fsdp:meta,reshard-8,cpu-offload", 16, "adamw", "fp32"),
    ("gpt-large", "fsdp:meta,reshard-8", 16, "adamw", "fp32", "--recompute=blocks.?"),
    ("llama", "fsdp:meta,reshard-8", 16, "adamw", "fp32"),
    ("gpt-large", "fsdp:meta,hybrid", 16, "adamw", "fp32"),
    ("gpt-large", "fsdp:hybrid,bf16", 16, "adamw", "fp32"),
    ("gpt-large", "fsdp:bf16,cpu-offload", 12, "sgd", "fp32"),
    ("gpt-large", "fsdp:meta,bf16-reduce", 8, "adamw", "fp32"),
    ("llama", "fsdp:bf16-reduce,cpu-offload", 6, "adamw", "fp32"),
    ("gpt-large", "fsdp:hybrid,bf16-reduce", 16, "adamw", "fp32"),
    ("gpt", "fsdp:hybrid,cpu-offload,meta", 48, "adamw", "amp-bf16"),
    ("vit", "fsdp:no-reshard,bf16-reduce", 3, "momentum", "fp32"),
    ("tied", "fsdp:meta", 8, "adamw", "fp32"),
    ("tied", "fsdp", 3, "adamw", "fp32"),
    ("tied", "ddp", 3, "adamw", "fp32"),
    ("tied", "zero1", 6, "adamw", "fp32"),
    ("scaled", "ddp", 3, "adamw", "fp32"),
    ("scaled", "zero1", 12, "adamw", "fp32"),
    ("scaled", "fsdp", 3, "adamw", "fp32"),
    ("scaled", "fsdp", 48, "adamw", "fp32"),
    ("scaled", "fsdp:meta", 48, "adamw", "fp32"),
    ("scaled", "fsdp:meta,cpu-offload", 6, "adamw", "fp32"),
    ("llama", "fsdp:meta", 6, "adamw", "fp32"),
    ("llama", "fsdp:meta,bf16", 12, "adamw", "fp32"),
    ("llama", "fsdp", 48, "adamw", "amp-bf16"),
    ("vit", "fsdp:meta", 3, "adamw", "fp32"),
    ("vit", "fsdp:bf16", 12, "sgd", "fp32"),
    ("vit", "ddp", 12, "adamw", "amp-bf16"),
    ("lora", "ddp", 6, "adamw", "fp32"),
    ("lora", "zero1", 6, "adamw", "fp32"),
    ("lora", "fsdp", 6, "adamw", "fp32"),
    ("lora", "fsdp:bf16", 6, "adamw", "fp32"),
    ("lora", "fsdp:meta,bf16", 12, "adamw", "fp32"),
    ("convnext", "ddp", 3, "adamw", "fp32"),
    ("convnext", "fsdp", 12, "adamw", "fp32"),
    ("convnext", "fsdp:meta,bf16", 48, "sgd", "fp32"),
    ("again", "fsdp", 6, "adamw", "fp32"),
    ("again", "fsdp:no-reshard", 6, "sgd", "fp32"),
    ("again", "ddp", 6, "adamw", "fp32"),
    ("t5", "fsdp", 6, "adamw", "fp32"),
    ("t5", "fsdp:meta", 12, "adamw", "fp32"),
    ("t5", "zero1", 12, "adamw", "fp32"),
    ("gpt-large", "fsdp", 8, "adamw", "fp32", "--recompute=blocks.?"),
    ("gpt-large", "fsdp:meta,bf16", 12, "adamw", "fp32", "--recompute=blocks.?"),
    ("gpt-large", "fsdp:meta,cpu-offload", 6, "adamw", "fp32", "--recompute=blocks.?"),
    ("vit", "fsdp", 6, "adamw", "fp32", "--recompute=model.vit.encoder.layer.?"),
    ("vit", "ddp", 6, "adamw", "fp32", "--recompute=model.vit.encoder.layer.?"),
    ("llama", "fsdp:bf16", 3, "adamw", "fp32", "--recompute=model.model.layers.?"),
    ("again", "ddp", 2, "adamw", "fp32", "--recompute=blocks.?"),
    ("again", "fsdp", 4, "adamw", "fp32", "--recompute=blocks.?"),
    ("gpt-large", "fsdp:no-sync", 6, "adamw", "fp32", "--loop=accumulate-4"),
    ("gpt-large", "fsdp:meta,bf16,no-sync", 6, "adamw", "fp32", "--loop=accumulate-4"),
    ("llama", "fsdp:bf16-reduce,no-sync", 6, "adamw", "fp32", "--loop=accumulate-4"),
    ("scaled", "fsdp:no-reshard,no-sync", 12, "sgd", "fp32", "--loop=accumulate-4"),
    ("gpt", "fsdp", 6, "adamw", "fp32", "--loop=accumulate-4"),
    ("gpt", "ddp", 6, "adamw", "fp32", "--loop=accumulate-4"),
    ("gpt", "ddp:no-sync", 6, "adamw", "fp32", "--loop=accumulate-4"),
    ("gpt-large", "ddp:bucket-view,no-sync", 2, "adamw", "amp-bf16", "--loop=accumulate-4"),
    ("scaled", "ddp:no-sync", 64, "momentum", "fp32", "--loop=accumulate-4"),
    ("convnext", "ddp:bucket-view,no-sync", 4, "sgd", "fp32", "--loop=accumulate-4"),
    ("gpt", "fsdp:meta", 6, "sgd", "fp32", "--loop=late-zero"),
    ("gpt", "fsdp:bf16", 6, "momentum", "fp32", "--loop=zero-in-place"),
]


def spread(how, python, model, _how, world, units):
    """What record.py calls for a model of several GPUs."""
    import torch.distributed as dist
    from torch.testing._internal.distributed.fake_pg import FakeStore

    dist.init_process_group("fake", rank=0, world_size=world, store=FakeStore())
    if how.startswith("fsdp"):
        scope = {"model": model, "torch": torch}
        exec(python, scope)
        if "no-sync" in how:
            calls = itertools.count()
            sync = lambda m, _: m.set_requires_gradient_sync(next(calls) % MICRO == MICRO - 1)
            scope["model"].register_forward_pre_hook(sync)
        return scope["model"], units
    keywords = {"bucket-view": "gradient_as_bucket_view", "static-graph": "static_graph"}
    keywords["find-unused"] = "find_unused_parameters"
    more = {keywords[o]: True for o in how.partition(":")[2].split(",") if o in keywords}
    model = nn.parallel.DistributedDataParallel(model, device_ids=[0], init_sync=False, **more)

    def reduced(_, bucket):  # the fake group's all-reduce has no result to hand back; in place, as NCCL's
        done = torch.futures.Future()
        done.set_result(bucket.buffer())
        return done

    model.register_comm_hook(None, reduced)
    if "no-sync" in how:  # all that no_sync() does
        calls = itertools.count()
        sync = lambda m, _: setattr(m, "require_backward_grad_sync", next(calls) % MICRO == MICRO - 1)
        model.register_forward_pre_hook(sync)
    return model, []


def measure(record, case, python, path):
    import types

    name, how, world, optimizer, precision, *more = case
    build, inputs, units, batch = CASES[name]
    entry = types.SimpleNamespace(inputs=inputs, loss=tensor.cross_entropy, loss_name="cross-entropy", real_build=False)
    entry.build = functools.partial(tensor.on_meta, build) if "meta" in how else functools.partial(on_host, build)
    record.spread = functools.partial(spread, how, python)
    said = dict(option.lstrip("-").split("=") for option in more)
    truth = record.record(
        name,
        entry,
        batch,
        optimizer,
        precision,
        said.get("loop", "plain"),
        checkpoint=said["recompute"].split(",") if "recompute" in said else (),
        parallel=how,
        world=world,
        units=units.split(","),
    )
    with open(path, "w") as f:
        json.dump(truth, f)


def file_of(case):
    return ".".join(map(str, case)).replace(":", "-")


def capture(name, path):
    import memlint

    build, inputs, *_ = CASES[name]
    example, targets = inputs(2)
    memlint.export(build(), *example, path=path, loss=tensor.cross_entropy, targets=(targets,))


def compare(a, record, *case_and_rows):
    *case, rows = case_and_rows
    name, how, world, optimizer, precision, *more = case
    units, batch = CASES[name][2:]
    model = tensor.made(a, f"{name}.onnx", "captured", functools.partial(capture, name))
    more = f"--parallel={how}", f"--gpus={world}", f"--units={units}", *more
    command, answer = tensor.ask(a, model, batch, optimizer, precision, *more)
    measured = functools.partial(measure, record, case, answer["parallel"]["python"])
    truth = tensor.recorded(tensor.made(a, file_of(case), "recorded", measured))
    doubts = [f"doubt: {d['why']}" for d in answer["unexplained"]]
    return "  ".join(tensor.differences(command, answer, truth, rows) + doubts) or "exact"


def main():
    return tensor.run(tensor.arguments(__doc__).parse_args(), PLAN, compare)


if __name__ == "__main__":
    sys.exit(main())
