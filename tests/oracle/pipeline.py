#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Stages of a pipeline: each rank of a fake process group, PyTorch's own CUDA allocator, no GPU.

    pipeline.py MEMLINT RECORD.PY --keep DIR [--only REGEX] [--pack FILE]

Every case is a model of tensor.py, captured whole, and Schedule1F1B over its stages, built with a part of its layers.
Of the stage that memlint tells, and of the others' peaks, what is allocated is compared to the byte. RECORD.PY is the
oracle's, with nullgpu.cpp beside it. Exit 1 where a case is not exact. --pack as in tensor.py.
"""

import contextlib, functools, gc, json, os, re, sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import tensor

import torch
from torch import nn


class Stage(nn.Module):
    """A part of tensor.GPT, made as torch.distributed.pipelining's manual front end wants it."""

    def __init__(self, model, stage, stages):
        super().__init__()
        first, last = stage == 0, stage == stages - 1
        each, more = divmod(len(model.blocks), stages)
        begin = stage * each + min(stage, more)
        self.token, self.position = (model.token, model.position) if first else (None, None)
        self.blocks = model.blocks[begin : begin + each + (stage < more)]
        self.norm, self.head = (model.norm, model.head) if last else (None, None)

    def forward(self, x):
        if self.token:
            x = self.token(x) + self.position(torch.arange(x.shape[1], device=x.device))
        x = self.blocks(x)
        return self.head(self.norm(x)) if self.head else x


# Model, its arguments, micro-batch, stages, micro-batches
CASES = {
    "gpt-2": (dict(), 4, 2, 2),
    "gpt-2-many": (dict(), 4, 2, 6),
    "gpt-4": (dict(layers=6, width=512), 4, 4, 8),
    "gpt-4-few": (dict(layers=4, width=512, vocabulary=1000), 8, 4, 4),
    "gpt-3-dropout": (dict(layers=3, width=384, heads=6, dropout=0.1), 2, 3, 9),
}
OPTIMIZERS = {"adamw": torch.optim.AdamW, "sgd": functools.partial(torch.optim.SGD, lr=0.1)}


def capture(case, path):
    import memlint

    example, targets = tensor.text(2)
    model = tensor.GPT(**CASES[case][0])
    memlint.export(model, *example, path=path, loss=tensor.cross_entropy, targets=(targets,))


def measure(record, case, stage, optimizer, precision, path):
    import torch.distributed as dist
    from torch.distributed.pipelining import PipelineStage, Schedule1F1B
    from torch.testing._internal.distributed.fake_pg import FakeStore

    more, batch, stages, n = CASES[case]
    dist.init_process_group("fake", rank=stage, world_size=stages, store=FakeStore())
    with torch.device("meta"):
        whole = tensor.GPT(**more)
    module = Stage(whole, stage, stages).to_empty(device="cuda")
    width, length, vocabulary = whole.head.in_features, 128, whole.head.out_features
    first, last = stage == 0, stage == stages - 1

    def shape(end, edge, dtype=torch.float32):
        return (
            torch.empty(batch, length, *edge, device="meta", dtype=dtype)
            if end
            else torch.empty(batch, length, width, device="meta")
        )

    taken = shape(first, (), torch.long)
    made = shape(last, (vocabulary,), torch.bfloat16 if precision == "amp-bf16" else torch.float32)
    part = PipelineStage(module, stage, stages, torch.device("cuda"), input_args=taken, output_args=made)
    schedule = Schedule1F1B(part, n, loss_fn=tensor.cross_entropy)
    optim = OPTIMIZERS[optimizer](module.parameters())
    gc.collect()
    now = lambda: gc.collect(0) and 0 or torch.cuda.memory_allocated()
    marks = {"model": now()}
    for step in range(3):
        if step == 2:
            torch.cuda.reset_peak_memory_stats()
        x = torch.zeros(batch * n, length, dtype=torch.long, device="cuda") if first else None
        y = torch.zeros(batch * n, length, dtype=torch.long, device="cuda") if last else None
        optim.zero_grad()
        marks["inputs"] = now()
        with record.Autocast() if precision == "amp-bf16" else contextlib.nullcontext():
            schedule.step(*([x] if first else []), target=y, return_outputs=False)
        marks["backward"] = now()
        optim.step()
        marks["step"] = now()
        del x, y
    truth = {"peak": torch.cuda.max_memory_allocated(), "reserved": torch.cuda.max_memory_reserved(), **marks}
    with open(path, "w") as f:
        json.dump(truth, f)


def compare(a, record, case, optimizer, precision, rows):
    _, batch, stages, n = CASES[case]
    model = tensor.made(a, f"{case}.onnx", "captured", functools.partial(capture, case))
    more = "--parallel=pipeline", f"--gpus={stages}", f"--loop=accumulate-{n}", "--units=blocks.?"
    command, answer = tensor.ask(a, model, batch, optimizer, precision, *more)
    truths = []
    for stage in range(stages):
        measured = functools.partial(measure, record, case, stage, optimizer, precision)
        path = tensor.made(a, f"{case}.{stage}.{optimizer}.{precision}", "recorded", measured)
        truths.append(json.load(open(path)))
    said = " ".join(answer["setup"]["assumptions"])
    told = int(re.search(r"stage (\d+) of", said)[1])
    apart = [f"stage {told}: {d}" for d in tensor.differences(command, answer, truths[told], rows)]
    peaks = [f"{t['peak'] / 2**20:.2f} MiB" for t in truths]
    listed = re.search(r"\(stages 0 on: (.*?)\)", said)[1].split(", ")
    apart += [f"peaks {' '.join(listed)} of {' '.join(peaks)}"] if listed != peaks else []
    return "  ".join(apart) or "exact"


def main():
    a = tensor.arguments(__doc__).parse_args()
    return tensor.run(a, [(case, *recipe) for case in CASES for recipe in tensor.RECIPES], compare)


if __name__ == "__main__":
    sys.exit(main())
