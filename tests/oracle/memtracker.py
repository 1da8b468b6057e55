# SPDX-License-Identifier: Apache-2.0
"""memtracker.py MODEL...: what PyTorch's MemTracker takes for two steps of a model on fake tensors at batch 8, in
process: the model is built, tracked and trained; imports are not counted. For make bench."""
import sys
import time

import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.distributed._tools.mem_tracker import MemTracker
from torchvision.models import resnet50
from transformers import GPT2Config, GPT2LMHeadModel

BATCH, LENGTH = 8, 512


def image_model():
    model, images = resnet50(), torch.rand(BATCH, 3, 224, 224)
    return model, lambda: model(images).sum()


def language_model():
    config = GPT2Config(resid_pdrop=0, embd_pdrop=0, attn_pdrop=0, attn_implementation="eager")
    model, tokens = GPT2LMHeadModel(config), torch.zeros(BATCH, LENGTH, dtype=torch.long)
    return model, lambda: model(tokens, labels=tokens).loss


MODELS = {"resnet50": image_model, "gpt2_nodrop": language_model}

for name in sys.argv[1:]:
    start = time.perf_counter()
    with FakeTensorMode():
        model, loss = MODELS[name]()
        optimizer = torch.optim.AdamW(model.parameters(), foreach=True)
        tracker = MemTracker()
        tracker.track_external(model, optimizer)
        with tracker:
            for _ in range(2):
                optimizer.zero_grad()
                loss().backward()
                optimizer.step()
                tracker.reset_mod_stats()
    print(f"MemTracker, {name}: {1000 * (time.perf_counter() - start):.0f} ms")
