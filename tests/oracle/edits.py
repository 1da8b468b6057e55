# SPDX-License-Identifier: Apache-2.0
"""The recorded models as somebody would write them who followed memlint's advice: record.py --zoo edits.py records
them as it does the others. EDITS names for each the model that it was, and the rule that proposes the change. The zoo
of the records has to be importable."""

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint
from zoo import *
from zoo import ZOO as RECORDED

CHUNKS = 8  # as memlint's logits-chunks


class GptTrunk(NanoGpt):
    """NanoGpt up to its head: the loss applies it chunk by chunk."""

    def forward(self, input_ids):
        pos = torch.arange(input_ids.shape[1], device=input_ids.device)
        return self.ln(self.blocks(self.wte(input_ids) + self.wpe(pos))), self.head.weight


def chunked_loss(out, targets):
    hidden, weight = out

    def part(h, t):
        return cross_entropy(nn.functional.linear(h, weight), t)

    return sum(
        checkpoint(part, h, t, use_reentrant=False) / CHUNKS
        for h, t in zip(hidden.chunk(CHUNKS, 1), targets.chunk(CHUNKS, 1))
    )


class SharedTable(TabBert):
    """The head projects to the width of the field table and reads that, so that BERT's own table goes."""

    def __init__(self, vocab, **kw):
        super().__init__(vocab, **kw)
        wide = self.fields * self.dim
        self.project, self.bias = nn.Linear(wide, self.dim, bias=False), nn.Parameter(torch.zeros(vocab))
        self.bert.bert.embeddings.word_embeddings = None
        self.bert.cls.predictions.decoder, self.bert.cls.predictions.bias = nn.Identity(), None

    def forward(self, input_ids):
        return nn.functional.linear(self.project(super().forward(input_ids)), self.embed.weight, self.bias)


def fused_norms(build):
    def swapped():
        model = build()
        for parent in list(model.modules()):
            for name, m in list(parent.named_children()):
                if type(m).__name__ == "LlamaRMSNorm":
                    setattr(parent, name, nn.RMSNorm(m.weight.shape[0], eps=m.variance_epsilon, device=m.weight.device))
        return model

    return swapped


llama = lambda **kw: hf("LlamaForCausalLM", "LlamaConfig", **{**LLAMA, **kw})
tabbert = lambda model, batches, **kw: Entry(
    model, lambda b: ({"input_ids": torch.zeros(b, 10, 13, dtype=torch.long)}, ids(b, 10)), cross_entropy, batches, **kw
)
EDITS = {
    "llama_small_tied": ("llama_small", "untied-head", text(llama(tie_word_embeddings=True), 512)),
    "llama_small_rms": ("llama_small", "fused-norm", text(fused_norms(llama()), 512)),
    "gpt2_nodrop_gelu": (
        "gpt2_nodrop",
        "fused-gelu",
        text(hf("GPT2LMHeadModel", "GPT2Config", activation_function="gelu_pytorch_tanh", **NODROP_GPT2)),
    ),
    "gpt2_nodrop_sdpa": (
        "gpt2_nodrop",
        "fused-attention",
        text(hf("GPT2LMHeadModel", "GPT2Config", attention="sdpa", **NODROP_GPT2)),
    ),
    "nanogpt_chunks": (
        "nanogpt",
        "logits-chunks",
        Entry(GptTrunk, lambda b: ({"input_ids": ids(b, 512)}, ids(b, 512)), chunked_loss, (4, 16)),
    ),
    "tabbert_1456": ("tabbert_2912", "vocabulary", tabbert(lambda: TabBert(1456), (8, 32))),
    "tabbert_433906": (
        "tabbert_867813",
        "vocabulary",
        tabbert(lambda: TabBert(433906), (8,), recipes=(("adam", "fp32"),)),
    ),
    "tabbert_shared": (
        "tabbert_867813",
        "shared-table",
        tabbert(lambda: SharedTable(867813), (8,), recipes=(("adam", "fp32"),)),
    ),
    "char_cnn_77": (
        "char_cnn_outlier",
        "length",
        Entry(
            CharCnnTagger,
            lambda b: ({"input_ids": torch.zeros(b, 100, 77, dtype=torch.long)}, ids(b, 100)),
            cross_entropy,
            (16, 64),
        ),
    ),
}
ZOO = {name: entry for name, (_, _, entry) in EDITS.items()}
