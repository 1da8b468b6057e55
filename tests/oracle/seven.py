#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A Llama of seven billion parameters, on the meta device and under checkpoint, exported and checked.

    PYTHONPATH=packaging/python MEMLINT=./memlint /usr/bin/time -v python tests/oracle/seven.py
"""

import memlint, torch
from transformers import LlamaConfig, LlamaForCausalLM

config = LlamaConfig(use_cache=False)  # whose defaults are those of LLaMA-7B
with torch.device("meta"):
    model = LlamaForCausalLM(config)
model.gradient_checkpointing_enable()
ids = torch.empty(1, 2048, dtype=torch.long, device="meta")
result = memlint.check(model, input_ids=ids, labels=ids, precision="bf16", device="h100")
print(f"{sum(p.numel() for p in model.parameters()):,d} parameters")
print(result)
