#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compare modules as people write them with PyTorch, event by event.

    written.py MEMLINT RECORD.PY EXPORT.PY [--only REGEX] [--keep DIR] [--pack FILE] [-v]

Casts in the line, losses inside, several outputs, norms by hand, tables of positions, adapters (which need peft). Each
is exported by dynamo in training mode; fp32, autocast, and a model of halves where the table says so.
"""

import os, re, sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import steps

HEAD = """
import torch, torch.nn.functional as F, torch.utils._device
from torch import nn
from zoo_base import *
class B(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(64, 256), nn.Linear(256, 64)
"""
FORWARD = """
class M(B):
    def forward(self, x):
        h = self.a(x)
        %s
"""
# sums that begin with 0, which the exporter leaves out
SUMMED = """
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.o = nn.Linear(64, 64), nn.Linear(256, 64)
        self.layers = nn.ModuleList([nn.Linear(64, 256) for _ in range(3)])
    def forward(self, x):
        h, out = self.a(x), 0
        %s
        return self.o(out)
"""
# casts in which a statement's value ends
ENDS_CAST = """
class P(nn.Module):
    def __init__(self):
        super().__init__()
        self.p = nn.Linear(64, 64)
    def forward(self, x):
        h = self.p(x)
        return h * 2
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(64, 64), P()
        self.c = nn.Sequential(nn.Linear(64, 64), nn.Tanh())
        self.o = nn.Linear(64, 64)
    def scaled(self, x):
        return self.c(x) * 3
    def forward(self, x):
        h = self.a(x)
        %s
        return (self.o(h) * h).logsumexp(-1)
"""
ENDS = {
    "module": "h = self.b(h).float()",
    "method": "h = self.scaled(h).float()",
    "layers": "h = self.c(h).float()",
    "sum": "h = (h * 2 + self.c(h)).float()",
    "slice": "h = h[..., :-1, :].float()",
    "contiguous": "h = h[:, 1:].contiguous().to(torch.float32)",
    "split": "q, k = h.chunk(2, -1)\n        h = self.b(torch.cat([k, q], -1)).float()",
}
# rounds that add to a number and bind lists of lists anew, before which a sum is None
VOCODER = """
class D(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Conv1d(4, 16, 3, padding=1), nn.Conv1d(16, 16, 3)])
        self.post = nn.Conv1d(16, 1, 3)
    def forward(self, x):
        seen = []
        for l in self.layers:
            x = F.leaky_relu(l(x), 0.1)
            seen.append(x)
        x = self.post(x)
        seen.append(x)
        return torch.flatten(x, 1, -1), seen
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.ups = nn.ModuleList([nn.Conv1d(4, 4, 3, padding=1) for _ in range(2)])
        self.blocks = nn.ModuleList([nn.Conv1d(4, 4, k, padding=k // 2) for k in (3, 5, 3, 5)])
        self.first, self.second = nn.ModuleList([D() for _ in range(3)]), nn.ModuleList([D() for _ in range(2)])
    def forward(self, x, real):
        for i in range(2):
            x = F.leaky_relu(x, 0.1)
            x = self.ups[i](x)
            xs = None
            for j in range(2):
                if xs is None:
                    xs = self.blocks[i * 2 + j](x)
                else:
                    xs += self.blocks[i * 2 + j](x)
            x = xs / 2
        matching, score = 0, 0
        for d in self.first:
            (_, fr), (out, fg) = d(real), d(x)
            matching += sum(torch.mean(torch.abs(r - q)) for r, q in zip(fr, fg))
            score += torch.mean((1 - out) ** 2)
        for d in self.second:
            (_, fr), (out, fg) = d(real), d(x)
            matching += sum(torch.mean(torch.abs(r - q)) for r, q in zip(fr, fg))
            score += torch.mean((1 - out) ** 2)
        return matching + score
"""
# a name that is a tensor and then a list again
RELISTED = """
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.low = nn.ModuleList([nn.Linear(64, 64) for _ in range(3)])
        self.gates = nn.ModuleList([nn.Linear(64, 1) for _ in range(3)])
    def forward(self, x):
        first = x
        for _ in range(3):
            outs, gates = [], []
            for low, gate in zip(self.low, self.gates):
                gates.append(gate(x))
                h = torch.tanh(low(x))
                outs.append(first * h)
            outs = torch.stack(outs, 3)
            gates = torch.stack(gates, 2)
            more = torch.matmul(outs, gates.softmax(2)).squeeze(-1)
            x = more + x
        return x
"""
# rounds of a method that each are made again
METHOD_RECOMPUTED = """
from torch.utils.checkpoint import checkpoint
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b, self.o = nn.Linear(64, 64), nn.Linear(64, 64), nn.Linear(64, 8)
    def step(self, x, h):
        z = torch.tanh(self.a(x) + self.b(h))
        return z * torch.sigmoid(x)
    def forward(self, x):
        h = x[:, 0]
        for t in range(1, 4):
            h = checkpoint(self.step, x[:, t], h, use_reentrant=False)
        return self.o(h)
"""
# states of zeros, which are one in the file, and whose line says how many there are
BEGUN = """
class C(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(64, 64), nn.Linear(64, 64)
    def forward(self, x, state):
        h, c = state
        z = torch.sigmoid(self.a(x) + self.b(h))
        c_next = z * c + x
        h_next = torch.tanh(c_next) * z
        return h_next, c_next
    def begin(self, x):
        return x.new_zeros(x.shape[0], 64), x.new_zeros(x.shape[0], 64)
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = C(), C()
    def forward(self, x):
        state = (*self.first.begin(x), *self.second.begin(x))
        h1, c1 = self.first(x[:, 0], state[:2])
        h2, c2 = self.second(h1, state[2:])
        return h2 + c2 + c1
"""
# skips that a loop takes from a list, which a line before its head leaves open how
ZIPPED = """
class H(nn.Module):
    def forward(self, x):
        return x * 0.5
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoders = nn.ModuleList([nn.Sequential(nn.Linear(64, 64), H()) for _ in range(3)])
        self.downs = nn.ModuleList([H() for _ in range(3)])
        self.middle = nn.Linear(64, 64)
        self.decoders = nn.ModuleList([nn.Linear(64, 64) for _ in range(3)])
        self.ups = nn.ModuleList([nn.Linear(64, 64) for _ in range(3)])
    def forward(self, x):
        skips = []
        for encoder, down in zip(self.encoders, self.downs):
            x = encoder(x)
            skips.append(x)
            x = down(x)

        x = self.middle(x)

        for decoder, up, skip in zip(self.decoders, self.ups, skips[::-1]):
            x = up(x)
            x = x + skip
            x = decoder(x)
        return x
"""
# norms that are frozen read what lines before bound: convolutions that the exporter merges with them
BOUND_BEFORE = """
class R(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv0, self.bn0 = nn.Conv2d(8, 8, 3, padding=1, bias=False), nn.BatchNorm2d(8)
        self.conv1, self.bn1 = nn.Conv2d(8, 8, 3, padding=1, bias=False), nn.BatchNorm2d(8)
    def forward(self, x):
        y = self.conv0(x)
        h = F.relu(self.bn0(y), inplace=True)
        z = self.conv1(h)
        o = self.bn1(z)
        return torch.tanh(o) + x
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk, self.norm, self.fc = nn.ModuleList([R(), R()]), nn.BatchNorm2d(8), nn.Linear(8, 10)
        for p in self.trunk.parameters():
            p.requires_grad = False
    def train(self, mode=True):
        super().train(mode)
        self.trunk.eval()
        return self
    def forward(self, x):
        x = self.trunk[0](x)
        x = self.trunk[1](x)
        x = self.norm(x)
        return self.fc(x.mean((2, 3)))
"""
# a norm outside of the list whose last layer the exporter merges with it
NORMED_OUTSIDE = """
class G(nn.Module):
    def __init__(self):
        super().__init__()
        self.mlp = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 64))
    def forward(self, x):
        agg = torch.cos(x)
        return self.mlp(x + agg)
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.conv, self.norm = nn.Linear(64, 64), G(), nn.BatchNorm1d(64)
    def forward(self, x):
        h = self.conv(self.a(x[:, 0]))
        h = self.norm(h)
        return F.relu(h)
"""
# an expert's second bias, of zeros that the exporter merged with another layer's
EXPERTS = """
class E(nn.Module):
    def __init__(self):
        super().__init__()
        self.w1, self.b1 = nn.Parameter(torch.randn(8, 64, 128)), nn.Parameter(torch.randn(8, 1, 128))
        self.w2, self.b2 = nn.Parameter(torch.randn(8, 128, 64)), nn.Parameter(torch.zeros(8, 1, 64))
    def forward(self, x):
        h = torch.baddbmm(self.b1, x, self.w1)
        h = F.relu(h)
        return torch.baddbmm(self.b2, h, self.w2)
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = E(), E()
    def forward(self, x):
        x = x.transpose(0, 1).contiguous()
        x = x + self.first(x)
        x = x + self.second(x)
        return x.sum(0)
"""
# a margin for each class, and the class of the same indices
MARGINS = """
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.weight = nn.Linear(64, 64), nn.Parameter(torch.randn(100, 64))
        self.register_buffer("margins", torch.linspace(0.1, 0.5, 100))
    def forward(self, x, y):
        h = self.a(x)
        cosine = F.linear(F.normalize(h), self.weight)
        ms = self.margins[y].unsqueeze(1)
        sine = torch.sqrt((1.0 - cosine * cosine).clamp(0, 1))
        phi = cosine * torch.cos(ms) - sine * torch.sin(ms)
        hot = (y.unsqueeze(-1) == torch.arange(100, device=y.device)).float()
        out = hot * phi + (1.0 - hot) * cosine
        return F.cross_entropy(out * 30, y)
"""
# rounds in a method, each of which hands a state to the next
UNROLLED = """
class C(nn.Module):
    def __init__(self):
        super().__init__()
        self.x2h, self.h2h = nn.Linear(64, 64), nn.Linear(64, 64)
    def forward(self, x, h):
        z = torch.sigmoid(self.x2h(x) + self.h2h(h))
        return x + z * (h - x)
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = C()
    def unroll(self, cell, x):
        h = torch.zeros_like(x[:, 0])
        for t in range(4):
            h = cell(x[:, t], h)
        return h
    def forward(self, x):
        out = self.unroll(self.cell, x)
        return out * 2
"""
# every layer's state, which a configuration asks for
STATES_ASKED = """
import transformers
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.bert = transformers.RobertaModel(transformers.RobertaConfig(
            vocab_size=200, hidden_size=64, num_hidden_layers=4, num_attention_heads=4, intermediate_size=128,
            max_position_embeddings=64, type_vocab_size=1, pad_token_id=None, attn_implementation="eager",
            output_hidden_states=True), add_pooling_layer=False)
        self.o = nn.Linear(128, 2)
    def forward(self, ids):
        out = self.bert(ids, position_ids=ids)
        hs = out.hidden_states
        h = torch.cat((hs[-1], hs[-3]), dim=-1)
        return self.o(h)
"""
CASTS = {  # what forward does with h
    "cast_method": "return self.b(torch.relu(h.float().exp()))",
    "cast_softmax": "p = F.softmax(h.float(), dim=-1).to(h.dtype)\n        return self.b(p)",
    "cast_softmax_as": "return self.b(torch.softmax(h.to(torch.float32), -1).type_as(h))",
    "cast_softmax_dtype": "p = torch.softmax(h, dim=-1, dtype=torch.float32)\n        return self.b(p)",
    "cast_operand": "p = torch.tanh(h.float()) * h\n        return self.b(p)",
    "cast_operands": "p = h * torch.sigmoid(h)\n        q = p + h.float()\n        return self.b(q)",
    "cast_left": "return self.b(h.float() * h)",
    "cast_divisor": "p = torch.tanh(h / h.sum().float())\n        return self.b(p)",
    "minus_mask": "m = (x.mean(-1, keepdim=True) > 0).float()\n        h -= 2.0 * (1.0 - m)\n        "
    "return self.b(h.relu())",
    "cast_mean": "p = (h * 2).float().mean(-1, keepdim=True)\n        return self.b(h * p).float()",
    "cast_result": "return self.b(h).to(torch.float32)",
    "cast_module": "g = self.b(h).float()\n        return torch.relu(g)",
}
FURTHER = {  # casts of other arguments than the first
    "cast_second": "p = torch.matmul(h, self.a(x).float().transpose(1, 2)) @ h\n        return self.b(p)",
    "cast_element": "return self.b(torch.cat([h, self.a(x).float()], 1))[:, :8]",
    "cast_like": "i = x[0, :, 0].long()\n        "
    "p = torch.zeros_like(x).index_add(1, i, self.b(h).to(x.dtype))\n        return self.b(h) + p",
    # halves that lie as what they are of, which a convolution copies
    "glu_turned": "y = F.glu(h.transpose(1, 2), dim=1)\n        "
    "return F.conv1d(y, self.b.weight[:, :128, None]).transpose(1, 2)",
    "pooled_lying": "y = F.adaptive_avg_pool1d(h.transpose(1, 2), 4)\n        "
    "return self.b(h) + F.conv1d(y, self.b.weight[:, :, None]).mean(2)[:, None]",
    # cosines of what differs in shape, which is cast before it is expanded
    **{
        name: f"q, k = {q} * 2, {k} * 3\n        "
        f"p = F.cosine_similarity({args}, dim=-1)\n        return self.b(h) * p.sum(-1, keepdim=True)"
        for name, q, k, args in (
            ("cosine_left", "h[:, :, None, :64]", "h.unflatten(-1, (4, 64))", "q, k"),
            ("cosine_right", "h[:, :, None, :64]", "h.unflatten(-1, (4, 64))", "k, q"),
            ("cosine_both", "h[:, :, None, :64]", "h[:, None, :, 64:128]", "q, k"),
            ("cosine_expanded", "h[:, :, None, :64]", "h.unflatten(-1, (4, 64))", "q.expand_as(k), k"),
        )
    },
}
# a norm of what lies otherwise, which has no kernel of its own under autocast, nor where that is channels last
LYING = """q = h.unflatten(-1, (%s))
        q = nn.RMSNorm(q.shape[-1], elementwise_affine=False)(q.%s) * 2
        return self.b(q.%s.flatten(2))"""
MADE = {  # what is made in the type of another tensor
    "made_zeros": "z = torch.zeros(h.shape[0], 8, 32, dtype=h.dtype, device=h.device)\n        "
    "return self.b(torch.cat([h[..., 32:], z], dim=-1))",
    "made_rand": "keep = torch.rand(h.shape[0], 1, 1, dtype=h.dtype, device=h.device) + 0.5\n        "
    "return self.b(h * keep)",
    "made_like": "z = torch.zeros_like(x, dtype=h.dtype)\n        "
    "return self.b(torch.cat([h[..., 64:], z], dim=-1))",
    "made_new": "return self.b(h * h.new_ones(h.shape[0], 8, 1))",
    "made_path": "return self.b(drop_path(h, .1, self.training))",
}
MADE_BY = """
def drop_path(x, p, training):
    if p == 0.0 or not training:
        return x
    keep = 1 - p
    mask = torch.rand((x.shape[0],) + (1,) * (x.ndim - 1), dtype=x.dtype, device=x.device)
    return x.div(keep) * mask
class Pad(nn.Module):
    def forward(self, hidden):
        zeros = torch.zeros(hidden.shape[0], 1, hidden.shape[2], dtype=hidden.dtype, device=hidden.device)
        hidden = hidden.tanh() * 2
        return torch.cat([hidden[:, 1:], zeros], dim=1)
"""
JOINED = """
class Attention(nn.Module):
    def __init__(self, n, h):
        super().__init__()
        self.qkv, self.proj, self.h = nn.Linear(n, 3 * n, bias=False), nn.Linear(n, n), h
        self.q_bias, self.v_bias = nn.Parameter(torch.rand(n)), nn.Parameter(torch.rand(n))
        %s
    def forward(self, x):
        b, n, c = x.shape
        qkv = F.linear(x, self.qkv.weight, torch.cat((self.q_bias, %s, self.v_bias)))
        qkv = qkv.reshape(b, n, 3, self.h, -1).permute(2, 0, 3, 1, 4)
        q, k, v = qkv.unbind(0)
        x = F.scaled_dot_product_attention(q, k, v)
        x = x.transpose(1, 2).reshape(b, n, c)
        return self.proj(x)
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.one, self.two, self.last = Attention(64, 4), Attention(64, 4), nn.Linear(64, 10)
    def forward(self, x):
        x = x + self.one(x)
        x = x + self.two(x)
        return self.last(x)
"""
PICKED = """
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b, self.n = nn.Linear(64, 32), nn.Linear(32, 10), 3
        self.w, self.v = nn.Parameter(torch.rand(3, 32)), nn.Parameter(torch.rand(3, 16, 32))
        self.u = nn.Parameter(torch.rand(3, 32, 16))
    def forward(self, x):
        h = self.a(x)
        for i in range(self.n):
            low = h @ self.v[i].t()
            low = torch.tanh(low)
            low = low @ self.u[i].t()
            h = h * self.w[i] + low
        return self.b(h)
"""
NORM = """
class Norm(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.g, self.b, self.s = nn.Parameter(torch.ones(n)), nn.Parameter(torch.zeros(n)), nn.Parameter(torch.ones(()))
    def forward(self, x):
        %s
class M(B):
    def __init__(self):
        super().__init__()
        self.n, self.m = Norm(256), Norm(64)
    def forward(self, x):
        return self.m(self.b(self.n(self.a(x))) + x)
"""
NORMS = {  # what forward does with x; g, b: a vector each, s: a number
    "norm_var_first": "v = torch.var(x, dim=-1, unbiased=False, keepdim=True)\n        "
    "m = torch.mean(x, dim=-1, keepdim=True)\n        return (x - m) / (v + 1e-5).sqrt() * self.g + self.b",
    "norm_mean_first": "m = x.mean(-1, keepdim=True)\n        v = x.var(-1, keepdim=True, unbiased=False)\n        "
    "x = (x - m) / torch.sqrt(v + 1e-5)\n        return x * self.g + self.b",
    "norm_std": "mean = x.mean(-1, keepdim=True)\n        std = x.std(-1, keepdim=True)\n        "
    "return self.g * (x - mean) / (std + 1e-6) + self.b",
    "norm_in_line": "return (x - x.mean(-1, keepdim=True)) / (x.var(-1, keepdim=True) + 1e-5).sqrt() * self.g + self.b",
    "norm_square": "u = x.mean(-1, keepdim=True)\n        s = (x - u).pow(2).mean(-1, keepdim=True)\n        "
    "x = (x - u) / torch.sqrt(s + 1e-6)\n        return self.g * x + self.b",
    "norm_unit": "n = F.layer_norm(x, x.shape[-1:])\n        g = self.g + 0.\n        return n * g",
    "learned_exp": "return x * self.s.exp() * self.g + self.b",
    "learned_sigmoid": "return self.g * (x * torch.sigmoid(self.s)) + self.b",
    "learned_sqrt": "return self.s * (x * self.g.sqrt()) + self.b",
    "learned_gate": "return x + self.s * F.gelu(x) * self.g + self.b",
    "learned_scale": "return x * self.g * self.s + self.b",
    "learned_tanh": "return self.s.tanh() * x * self.b + self.g[:]",
}
FOCAL = {  # what forward does with scores h of classes y: the exporter merges 1 - y
    "focal": "p = torch.sigmoid(h)\n        e = F.binary_cross_entropy_with_logits(h, y, reduction='none')\n        "
    "t = p * y + (1 - p) * (1 - y)\n        w = .25 * y + .75 * (1 - y)\n        return (w * e * (1 - t) ** 2).mean()",
    "focal_behind": "p = torch.sigmoid(h)\n        w = .25 * y + .75 * (1 - y)\n        "
    "t = p * y + (1 - p) * (1 - y)\n        e = F.binary_cross_entropy_with_logits(h, y, reduction='none')\n        "
    "return (w * e * (1 - t) ** 2).mean()",
    "focal_inside": "p = torch.sigmoid(h)\n        w = .25 * y + .75 * (1 - y)\n        "
    "t = p * y + (1 - p) * (1 - y)\n        "
    "e = w * (1 - t) ** 2 * F.binary_cross_entropy_with_logits(h, y, reduction='none')\n        return e.mean()",
}
SCORES = """
class M(B):
    def forward(self, x, y):
        h = self.b(torch.relu(self.a(x)))
        %s
"""
CLONES = """
class Gate(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Conv2d(8, 8, 3, padding=1, groups=8)
    def forward(self, x):
        u = x.clone()
        return u * self.a(x)
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.c, self.n = nn.Conv2d(3, 8, 1), nn.BatchNorm2d(8)
        self.g, self.d = Gate(), nn.Conv2d(8, 8, 1)
    def forward(self, x):
        y = F.gelu(self.n(self.c(x)))
        shortcut = y.clone()
        y = self.d(y)
        y = self.g(y)
        y = self.d(y)
        return y + shortcut
"""
SUPER = """
class Norm(nn.%s):
    def forward(self, x):
        return super().forward(x.float()).type(x.dtype)
class Turned(nn.Module):
    def __init__(self):
        super().__init__()
        self.n = nn.BatchNorm1d(256, eps=1e-8)
    def forward(self, x):
        return self.n(x.transpose(1, 2)).transpose(1, 2)
class M(B):
    def __init__(self):
        super().__init__()
        self.n = %s
    def forward(self, x):
        return self.b(F.silu(self.n(self.a(x))))
"""
STATES = """
class Cell(nn.Module):
    def __init__(self):
        super().__init__()
        self.g = nn.Linear(128, 256)
    def forward(self, x, state):
        h, c = state
        i, f, o, g = torch.split(self.g(torch.cat([x, h], dim=1)), 64, dim=1)
        c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
        return torch.sigmoid(o) * torch.tanh(c), c
    def start(self, n):
        return (torch.zeros(n, 64, device=self.g.weight.device), torch.zeros(n, 64, device=self.g.weight.device))
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.c = Cell()
    def forward(self, x):
        state = self.c.start(x.shape[0])
        for t in range(8):
            state = self.c(x[:, t], state)
        return state[0]
"""
FIELDS = """
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.one = nn.ModuleList([nn.Embedding(50, 1) for _ in range(4)])
        self.e = nn.ModuleList([nn.Embedding(50, 32) for _ in range(4)])
        self.o = nn.Linear(128, 1)
    def forward(self, idx):
        first = torch.cat([e(idx[:, i]) for i, e in enumerate(self.one)], dim=1).sum(1, keepdim=True)
        x = torch.stack([e(idx[:, i]) for i, e in enumerate(self.e)], dim=1)
        both = torch.sum(x, dim=1) ** 2 - torch.sum(x ** 2, dim=1)
        return first + 0.5 * both.sum(1, keepdim=True) + self.o(x.view(x.size(0), -1))
"""
CODES = """
class M(B):
    def __init__(self):
        super().__init__()
        self.codes = nn.Embedding(512, 256)
    def forward(self, x):
        z = self.a(x)
        flat = z.view(-1, 256)
        d = (flat ** 2).sum(1, keepdim=True) + (self.codes.weight ** 2).sum(1) - 2 * flat @ self.codes.weight.t()
        q = self.codes(d.argmin(1)).view(z.shape)
        %s
        q = z + (q - z).detach()
        return loss + self.b(q).mean()
"""
QUANTIZERS = {  # the losses of codes q for z
    "codes_square": "loss = torch.mean((q.detach() - z) ** 2) + 0.25 * torch.mean((q - z.detach()) ** 2)",
}
SUMS = {  # what forward does with h
    "einsum_dots": "p = torch.einsum('...id,...jd->...ij', h, h)\n        "
    "return self.b(torch.einsum('...ij,...jd->...id', p, h))",
    "einsum_three": "k = torch.exp(h)\n        s = torch.einsum('bnd,bd->bn', h, k.sum(1))\n        "
    "z = 1. / s\n        "
    "return self.b(torch.einsum('bnd,bmd,bn->bmd', h, k, z))",
    "einsum_turned": "return self.b(torch.einsum('bnd,bmn->bmd', h, torch.einsum('bmd,bnd->bmn', h, h.sin())))",
    "einsum_diagonal": "p = torch.einsum('bnd,bmd->bnm', h, h)\n        "
    "return self.b(h) * torch.einsum('bnn->bn', p).unsqueeze(-1)",
    "chained": "y = x = torch.tanh(x)\n        y = F.gelu(y)\n        y = F.dropout(y, 0.1)\n        "
    "return self.b(h) + x + y",
    "sorted": "i = torch.argsort(torch.argsort(h.sum(-1), dim=1), dim=1)\n        "
    "g = torch.gather(h, 1, i.unsqueeze(-1).repeat(1, 1, 256))\n        return self.b(g)",
    "two_subscripts": "u = h[:, :, 0].unsqueeze(-1) * h\n        v = h[:, :, 0].unsqueeze(-1) + u\n        "
    "return self.b(v)",
}
KEPT = {  # what forward does with h
    "kept_softmax": "self.p = F.softmax(h, dim=-1)\n        return self.b(torch.tanh(self.p))",
    "pooled_turned": "p = F.adaptive_avg_pool1d(h.transpose(1, 2), 1)\n        "
    "return self.b(h + p.flatten(1).unsqueeze(1))",
    "clamped_relu": "r = F.relu(h)\n        return self.b(r.clamp(min=1e-6).sqrt())",
}
TENSORDOT = """
class M(B):
    def __init__(self):
        super().__init__()
        self.u, self.v = nn.Parameter(torch.randn(64, 64)), nn.Parameter(torch.randn(64, 64))
    def forward(self, x):
        q = torch.tensordot(x, self.u, dims=([-1], [0]))
        k = torch.tensordot(x, self.v, dims=([-1], [0]))
        q = torch.tanh(q)
        return q * k + self.b(self.a(x))
"""
ATTENTION = """
def attention(q, k, v):
    p = F.softmax(torch.matmul(q, k.transpose(-2, -1)), dim=-1)
    return torch.matmul(p, v), p
class M(B):
    def forward(self, x):
        h = self.a(x)
        y, self.p = attention(h, h, h)
        return self.b(y)
"""
TEACHER = """
class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.c, self.n = nn.Conv2d(16, 16, 3, padding=1, bias=False), nn.BatchNorm2d(16)
    def forward(self, x):
        h = x
        x = self.n(self.c(x)).relu_()
        x += h
        return x
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.t = nn.Sequential(nn.Conv2d(3, 16, 3, padding=1), nn.ReLU(inplace=True), Block(), Block())
        self.t.requires_grad_(False)
        self.s = nn.Conv2d(3, 4, 5)
    def forward(self, x):
        with torch.no_grad():
            t = self.t(x).mean((2, 3))
        return self.s(x).mean((2, 3)).repeat(1, 4) + t
"""
PIXELS = """
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.c, self.p = nn.Conv2d(3, 8, 3, padding=1), nn.Parameter(torch.ones(1) * 3)
    def forward(self, x, y):
        h = self.c(x)
        g = h.clamp(min=1e-6).pow(self.p).mean((2, 3)).pow(1. / self.p)
        s = F.log_softmax(h, dim=1)
        loss = F.nll_loss(s, y, reduction='sum')
        return loss + g.sum()
"""
NANO = """
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.e, self.a, self.h = nn.Embedding(500, 64), nn.Linear(64, 64), nn.Linear(64, 500, bias=False)
    def forward(self, idx, targets):
        x = self.e(idx)
        x = x + F.gelu(self.a(x))
        logits = self.h(x)
        loss = F.cross_entropy(logits.view(-1, logits.size(-1)), targets.view(-1), ignore_index=-1)
        return logits, loss
"""
INSIDE = """
class M(B):
    def forward(self, x, y):
        return F.mse_loss(self.b(torch.tanh(self.a(x))), y)
"""
TWO = """
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.c, self.k, self.box = nn.Conv2d(3, 16, 3, padding=1), nn.Linear(16, 10), nn.Linear(16, 4)
    def forward(self, x):
        h = F.relu(self.c(x)).mean((2, 3))
        return self.k(h), self.box(h)
"""
VAE = """
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.mu, self.v, self.d = nn.Linear(96, 64), nn.Linear(64, 8), nn.Linear(64, 8), nn.Linear(8, 96)
    def forward(self, x):
        h = F.relu(self.a(x))
        mu, v = self.mu(h), self.v(h)
        z = mu + v.mul(0.5).exp()
        y = torch.sigmoid(self.d(z))
        return y, mu, v
"""
STEP = """
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.model = B()
    def forward(self, x, y=None):
        out = self.model.b(self.model.a(x))
        return out if y is None else F.cross_entropy(out.reshape(-1, 64), y.reshape(-1))
"""
POSITIONS = """
class M(nn.Module):
    def __init__(self):
        super().__init__()
        n = %d
        self.a, self.b = nn.Linear(64, 192), nn.Linear(64, 8)
        self.attention_biases, self.bias = nn.Parameter(torch.zeros(4, n)), nn.Parameter(torch.zeros(1, 4, n, n))
        at = torch.arange(n)
        self.register_buffer("attention_bias_idxs", (at[None] - at[:, None]).abs(), persistent=False)
    def forward(self, x):
        q, k, v = self.a(x).reshape(x.shape[0], x.shape[1], 3, 4, 16).permute(2, 0, 3, 1, 4).unbind(0)
        attn = q @ k.transpose(-2, -1) + self.attention_biases[:, self.attention_bias_idxs]
        x = attn.softmax(dim=-1) @ v
        x = F.scaled_dot_product_attention(x, k, v, attn_mask=self.bias)
        return self.b(x.transpose(1, 2).reshape(x.shape[0], -1, 64))
"""
ADAPTERS = """
class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.q_proj, self.v_proj, self.out = nn.Linear(64, 64), nn.Linear(64, 64), nn.Linear(64, 64)
    def forward(self, x):
        return x + self.out(torch.sigmoid(self.q_proj(x)) * self.v_proj(x))
def M():
    import peft
    net = peft.get_peft_model(Block()%s, peft.LoraConfig(target_modules=["q_proj", "v_proj"]%s))
    return net.base_model.model
"""
ADAPTED_TABLE = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.table, self.out = nn.Embedding(2048, 64), nn.Linear(64, 8)
    def forward(self, x):
        return self.out(self.table(x))
def M():
    import peft
    return peft.get_peft_model(Net(), peft.LoraConfig(target_modules=["table"])).base_model.model
"""
SLICED = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Sequential(nn.Linear(64, 64), nn.GELU()) for _ in range(3)])
    def forward(self, x):
        for layer in self.layers[:2]:
            x = x + layer(x)
        return x
def M():
    import peft
    adapted = peft.MissConfig(r=16, target_modules=["layers.0.0", "layers.1.0"])
    return peft.get_peft_model(Net(), adapted).base_model.model
"""
DIRECT = """
class Variant:
    @staticmethod
    def forward(module, x):
        return x + module.inner(x)
class Inner(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(64, 256)
    def forward(self, x):
        wide = x.repeat(1, 1, 4) * 2
        y = torch.exp(wide)
        y = torch.sigmoid(y + self.a(x))
        return y[..., :64]
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = Inner()
    def forward(self, x):
        return Variant.forward(self, x)
"""
PACKED = """
def block(half):
    torch.set_default_dtype(torch.bfloat16 if half else torch.get_default_dtype())
    net = Block()
    torch.set_default_dtype(torch.float32 if half else torch.get_default_dtype())
    return net
class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.q_proj, self.v_proj = nn.Linear(64, 256), nn.Linear(64, 256, bias=False)
        self.mid, self.out = nn.Linear(256, 192), nn.Linear(192, 64)
    def forward(self, x):
        return x + self.out(torch.relu(self.mid(torch.sigmoid(self.q_proj(x)) * self.v_proj(x))))
def adapted(net):
    import peft
    net = peft.get_peft_model(net, peft.LoraConfig(target_modules=["q_proj", "v_proj"], lora_dropout=0 if HALF else .1),
                              autocast_adapter_dtype=HALF)
    return net.base_model.model
def M():
    return adapted(block(HALF))
def packed(nested):
    # what load_in_4bit leaves of the layers but the last; the weights of a fake tensor can't be packed by the library
    import bitsandbytes as bnb, bitsandbytes.functional as F4
    bnb.nn.modules.Params4bit = lambda data, **how: nn.Parameter(data, requires_grad=False)
    net = block(HALF)
    for name in ("q_proj", "v_proj", "mid"):
        old = getattr(net, name)
        new = bnb.nn.Linear4bit(old.in_features, old.out_features, old.bias is not None, quant_type="nf4",
                                compress_statistics=nested)
        n, dtype = old.weight.numel(), old.weight.dtype
        small = lambda n, dtype=torch.float32: torch.empty(n, dtype=dtype)
        how = dict(shape=old.weight.shape, code=small(16), blocksize=64, quant_type="nf4", dtype=dtype)
        if nested:
            more = F4.QuantState(absmax=small(-(-n // 64 // 256)), code=small(256), blocksize=256, dtype=torch.float32)
            state = F4.QuantState(absmax=small(n // 64, torch.uint8), offset=small(()), state2=more, **how)
        else:
            state = F4.QuantState(absmax=small(n // 64), **how)
        new.weight = nn.Parameter(torch.empty(n // 2, 1, dtype=torch.uint8), requires_grad=False)
        new.weight.quant_state, new.bias = state, old.bias
        new.weight.compress_statistics, new.weight.quant_type = nested, "nf4"
        setattr(net, name, new)
    net.is_loaded_in_4bit = True

    def unfused(A, B, shapeB, absmax, blocksize, quant_type, bias=None, absmax_8bit=None, absmax_code=None,
                absmax_offset=None):  # _dequant_linear_fallback of bitsandbytes/backends/cuda/ops.py, but for kernels
        if absmax_8bit is not None:
            absmax_dq = torch.empty_like(absmax_8bit, dtype=torch.float32)
            absmax = absmax_dq + absmax_offset
        B_dq = torch.empty(shapeB, dtype=A.dtype, device=A.device)
        return torch.nn.functional.linear(A, B_dq, bias)

    import types
    nn.Module.to = lambda self, *args, **how: self  # all is on the device
    torch.ops.bitsandbytes.gemm_4bit = types.SimpleNamespace(default=unfused)
    return adapted(net)
"""
CIRCULAR = """
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(64, 64)
        self.c = nn.Conv1d(8, 16, 3, padding=1, padding_mode="circular", bias=False)
        self.d = nn.Conv2d(1, 8, 3, padding=1, padding_mode="circular", bias=False)
    def forward(self, x):
        y = F.gelu(self.c(self.a(x)))
        y = F.pad(y[:, None], (2, 0, 1, 3), mode="circular")
        return self.d(y).mean(1)
"""
MODULATED = """
class Modulated(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm2d(16, affine=False)
        self.shared, self.gamma, self.beta = nn.Conv2d(3, 8, 3, padding=1), nn.Conv2d(8, 16, 1), nn.Conv2d(8, 16, 1)
    def forward(self, x, map):
        normalized = self.norm(x)
        map = F.interpolate(map, size=x.shape[2:], mode="nearest")
        shared = F.relu(self.shared(map))
        gamma = self.gamma(shared)
        beta = self.beta(shared)
        return normalized * (1 + gamma) + beta
class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = Modulated(), Modulated()
        self.c, self.d = nn.Conv2d(16, 16, 1), nn.Conv2d(16, 16, 3, padding=1)
    def around(self, x, map):
        return self.c(self.a(x, map))
    def forward(self, x, map):
        short = self.around(x, map)
        x = self.d(F.leaky_relu(self.b(x, map), .2))
        return short + x
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem, self.block, self.last = nn.Conv2d(3, 16, 3, 2, 1), Block(), nn.Linear(16, 10)
    def forward(self, x):
        y = self.block(self.stem(x), x)
        return self.last(y.mean((2, 3)))
"""
PARTS = """
class Pool(nn.Module):
    def forward(self, x):
        x = F.adaptive_avg_pool2d(x, 1)
        x = x.flatten(1)
        return x
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem, self.pool, self.last = nn.Conv2d(3, 16, 3, 2, 1), Pool(), nn.Linear(16, 10)
        self.blocks = nn.Sequential(nn.Conv2d(16, 16, 3, padding=1), nn.BatchNorm2d(16))
    def features(self, x):
        x = self.stem(x)
        x = self.blocks(x)
        return x
    def classify(self, x):
        x = self.pool(x)
        return self.last(x)
    def forward(self, x):
        x = self.features(x)
        x = self.classify(x)
        return x
"""
PATHS = """
class DropPath(nn.Module):
    def forward(self, x):
        if not self.training:
            return x
        kept = torch.rand((x.shape[0], 1, 1), device=x.device) < .9
        return x * kept / .9
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b, self.c = nn.Linear(64, 256), nn.Linear(256, 64), nn.Linear(64, 64)
        self.drop, self.path, self.steps = nn.Dropout(0.), DropPath(), nn.Embedding(10, 64)
    def forward(self, x):
        t = torch.randint(0, 10, (x.shape[0],), device=x.device).long()
        x = x + self.steps(t)[:, None]
        y = self.drop(self.b(self.drop(F.gelu(self.a(x)))))
        x = x + self.path(y)
        return self.c(x)
"""

RUNS = """
class Hop(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(64, 64)
    def forward(self, x, links):
        links = links.exp()
        degree = links.sum(dim=-1).clamp(min=1).pow(-0.5)
        links = degree.unsqueeze(-1) * links * degree.unsqueeze(-2)
        out = torch.matmul(links, self.lin(x))
        return out
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.links, self.one, self.two = nn.Linear(64, 8), Hop(), Hop()
    def forward(self, x):
        links = self.links(x)
        x = F.relu(self.one(x, links))
        x = self.two(x, links)
        return x
"""
EMBEDDED = """
class Steps(nn.Module):
    def __init__(self):
        super().__init__()
        self.up, self.act, self.down, self.kind = nn.Linear(64, 256), nn.SiLU(), nn.Linear(256, 64), nn.Linear(64, 64)
    def forward(self, t, k):
        steps = self.down(self.act(self.up(t)))
        kind = self.kind(k)
        return steps + kind
class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.steps, self.lin = Steps(), nn.Linear(64, 64)
    def forward(self, x, t):
        shift = self.steps(t, x)
        return x + self.lin(F.silu(x + shift))
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.block, self.last = nn.Linear(64, 64), Block(), nn.Linear(64, 64)
    def forward(self, x):
        t = torch.tanh(self.first(x))
        y = self.block(x, t)
        shift = self.block.steps(t, y)
        y = self.last(F.silu(y + shift))
        return y
"""
BRACKETS = """
class M(B):
    def __init__(self):
        super().__init__()
        self.table, self.c = nn.Parameter(torch.randn(1, 8, 64)), nn.Linear(64, 64)
    def forward(self, x):
        h = self.b(F.gelu(self.a(x)))
        h = (h + self.table).to(h.dtype)
        y = self.c(h)
        return (y * self.table).type_as(y)
"""
KEYWORDS = """
class Inner(nn.Module):
    def __init__(self):
        super().__init__()
        self.up, self.down = nn.Linear(64, 256), nn.Linear(256, 64)
    def forward(self, hidden, scale):
        hidden = torch.sigmoid(self.up(hidden * scale))
        return self.down(hidden), scale
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.inner, self.second = nn.Linear(64, 64), Inner(), Inner()
    def forward(self, x):
        x = self.first(x)
        y, _ = self.inner(
            hidden=torch.exp(x), scale=2.0
        )
        x = x + y
        y, _ = self.second(
            hidden=torch.exp(x), scale=3.0
        )
        x = x + y
        return x
"""
TUPLES = """
class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.up, self.down, self.norm = nn.Linear(64, 256), nn.Linear(256, 64), nn.BatchNorm1d(8)
    def forward(self, hidden, scale=1.0):
        hidden = hidden.view(-1, 8, 64)
        hidden = hidden + self.down(F.gelu(self.up(self.norm(hidden * scale).exp())))
        outputs = (hidden,)
        return outputs
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.table = nn.Linear(64, 64), nn.Parameter(torch.randn(8, 64))
        self.layers = nn.ModuleList(Layer() for _ in range(3))
    def forward(self, x):
        x = self.first(x)
        hidden = x + self.table
        for layer in self.layers:
            outputs = layer(hidden, scale=2.0)
            hidden = outputs[0]
        return hidden
"""
WARPED = """
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.look, self.turn = nn.Conv2d(3, 4, 5, stride=4), nn.Linear(196, 6)
        self.after, self.last = nn.Conv2d(3, 8, 3, padding=1), nn.Linear(8, 10)
    def forward(self, x):
        theta = self.turn(self.look(x).flatten(1))
        grid = F.affine_grid(theta.view(-1, 2, 3), x.size(), align_corners=False)
        x = F.grid_sample(x, grid, align_corners=False)
        return self.last(self.after(x).mean((2, 3)))
"""

BYTES = """
class M(B):
    def forward(self, x):
        h = torch.tanh(self.b(F.gelu(self.a(x))))
        codes = h.mul(127).add(128).round().byte()
        return self.b(F.gelu(self.a(codes / 127.0 - 1)))
"""
SCALED = """
class Part(nn.Module):
    def __init__(self, n, m):
        super().__init__()
        self.norm, self.conv, self.short = nn.GroupNorm(4, n), nn.Conv2d(n, m, 3, padding=1), nn.Conv2d(n, m, 1)
        self.time, self.act, self.scale = nn.Linear(32, m), nn.SiLU(), 1.0
    def forward(self, x, t):
        h = self.conv(self.act(self.norm(x)))
        t = self.act(t)
        t = self.time(t)[:, :, None, None]
        h = h + t
        x = x.contiguous()
        x = self.short(x)
        out = (x + h) / self.scale
        return out
class Turn(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.inside, self.out = nn.Linear(n, n), nn.Conv2d(n, n, 1)
    def back(self, h, height):
        h = h.reshape(h.shape[0], height, height, -1).permute(0, 3, 1, 2).contiguous()
        return self.out(h)
    def forward(self, x):
        h = self.inside(x.flatten(2).transpose(1, 2))
        h = self.back(h, x.shape[2])
        return x + h
class Down(nn.Module):
    def __init__(self, n, m):
        super().__init__()
        self.part, self.turn = Part(n, m), Turn(m)
    def forward(self, x, t):
        x = self.part(x, t)
        x = self.turn(x)
        return x
class Up(nn.Module):
    def __init__(self, n, m):
        super().__init__()
        self.parts = nn.ModuleList([Part(n, m), Part(m, m)])
    def forward(self, x, t):
        for part in self.parts:
            x = part(x, t)
        return x
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.time, self.stem, self.down, self.up = nn.Linear(1, 32), nn.Conv2d(3, 16, 3, 2, 1), Down(16, 32), Up(32, 16)
        self.last = nn.Linear(16, 10)
    def forward(self, x):
        t = self.time(x[:, 0, 0, :1])
        x = self.stem(x)
        x = self.down(x, t)
        x = self.up(x, t)
        return self.last(x.mean((2, 3)))
"""
RECURRENT = """
class M(B):
    def __init__(self):
        super().__init__()
        self.rnn, self.c = nn.LSTM(64, 16, %s), nn.Linear(%d, 10)
    def forward(self, x):
        x, _ = self.rnn(self.b(F.gelu(self.a(x))))
        return self.c(x)
"""
VOLUME = """
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.look, self.deep = nn.Conv2d(3, 4, 3, padding=1), nn.Conv3d(8, 8, 3, padding=1)
        self.last = nn.Conv3d(8, 1, 1)
    def forward(self, x):
        a = self.look(x)
        b = self.look(x.flip(3))
        cost = torch.zeros(a.size()[0], a.size()[1] * 2, 4, a.size()[2], a.size()[3], device=x.device)
        for i in range(4):
            if i > 0:
                cost[:, :a.size()[1], i, :, i:] = a[:, :, :, i:]
                cost[:, a.size()[1]:, i, :, i:] = b[:, :, :, :-i]
            else:
                cost[:, :a.size()[1], i, :, :] = a
                cost[:, a.size()[1]:, i, :, :] = b
        deep = self.deep(cost)
        cost = self.last(deep)
        cost = torch.squeeze(cost, 1)
        return F.softmax(cost, dim=1).mean((2, 3))
"""
ROUNDS = """
class Both(nn.Module):
    def __init__(self):
        super().__init__()
        self.up, self.w = nn.Linear(64, 2 * 2 * 2 * 16), nn.Parameter(torch.randn(2, 16, 16))
    def forward(self, x):
        b, t, _ = x.shape
        g = self.up(x).view(b, t, 2, 2, 2, 16).permute(1, 2, 3, 4, 0, 5).flatten(2, 3)
        h = x.new_zeros(2, b, 16)
        outs = []
        for i in range(t):
            now = torch.stack([g[i, 0], g[t - 1 - i, 1]])
            f = torch.sigmoid(now[:, 0] + torch.bmm(h, self.w))
            h = f * now[:, 1]
            outs.append(h)
        o = torch.stack(outs, dim=2)
        return torch.cat([o[0], o[1].flip(1)], dim=-1)
class M(B):
    def __init__(self):
        super().__init__()
        self.both, self.c = Both(), nn.Linear(32, 10)
    def forward(self, x):
        return self.c(self.both(x))
"""
BUCKETS = """
class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.q, self.k, self.v = nn.Linear(64, 64), nn.Linear(64, 64), nn.Linear(64, 64)
    def bias(self, q, places):
        at = torch.clamp(places + 8, 0, 15)
        return torch.gather(q, -1, at.expand(q.size(0), -1, -1))
    def forward(self, x, places):
        q, k = self.q(x), self.k(x)
        scores = q @ k.transpose(1, 2) + self.bias(q, places)
        return torch.softmax(scores, -1) @ self.v(x)
class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention, self.lin = Attention(), nn.Linear(64, 64)
    def forward(self, x, places):
        return x + self.lin(self.attention(x, places))
class M(B):
    def __init__(self):
        super().__init__()
        self.layers, self.last = nn.ModuleList([Layer() for _ in range(3)]), nn.Linear(64, 10)
    def forward(self, x):
        places = (x[:1, :, :8] * 9).long()
        for layer in self.layers:
            x = layer(x, places)
        return self.last(x)
"""
SPECTRAL = {
    "spectral": """
class M(B):
    def forward(self, x):
        f = torch.fft.rfft(self.b(self.a(x)).float(), dim=1).reshape(x.shape[0], 5, 8, 8)
        re, im = f.real, f.imag
        y = torch.complex(re.tanh() * 2, im.tanh() * 3).reshape(x.shape[0], 5, 64)
        return torch.fft.irfft(y, n=8, dim=1)
""",
    "spectral_pairs": """
class M(B):
    def forward(self, x):
        p = torch.view_as_real(torch.fft.rfft2(self.a(x).float()))
        return self.b(torch.cat([p[:, :8, :128, 0].exp(), p[:, :8, :128, 1].exp()], -1))
""",
}
UNTURNED = """
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight, self.last = nn.Parameter(torch.rand(256, 3, 5, 5) - .5), nn.Conv2d(1024, 8, 1)
    def forward(self, x):
        w = torch.cat([torch.roll(torch.rot90(self.weight, k, (2, 3)), k + 1, 0) for k in range(4)])
        return self.last(F.conv2d(x, w).tanh())
"""
BELOW = """
class Mixer(nn.Module):
    def __init__(self):
        super().__init__()
        self.q, self.b = nn.Linear(64, 64), nn.Linear(8, 8)
    def forward(self, x, z):
        h = self.q(x).view(-1, 8, 8, 8).exp()
        h = h + 0.5 * self.b(z).permute(0, 3, 1, 2)
        return h.tanh().flatten(2)
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.put, self.mixer = nn.Linear(64, 64), Mixer()
    def forward(self, x):
        z = self.put(x).view(-1, 8, 8, 8)
        for k in range(3):
            x = self.mixer(x, z)
        return x
"""
HANDED = """
class Step(nn.Module):
    def __init__(self):
        super().__init__()
        self.one, self.two = nn.Linear(64, 256), nn.Linear(256, 64)
    def forward(self, x, c):
        return x + self.two(torch.tanh(self.one(x))) + c.sum(-1, keepdim=True)
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.put = nn.Linear(64, 64)
        self.steps = nn.ModuleList([Step(), Step()])
    def forward(self, x):
        h = self.put(x).tanh()
        with torch.no_grad():
            c = torch.cat([h.exp(), h.cos()], -1) * 2
        for step in self.steps:
            h = step(h, c)
        return h.exp()
"""
ITERATED = """
import torch.nn.utils as U
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.one, self.two = %s
    def forward(self, x):
        return self.two(torch.tanh(self.one(x)))
"""
COPIED = """
import copy
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.one, self.two = nn.Linear(64, 12), nn.Linear(12, 256)
        self.norm = nn.LayerNorm(12)
    def forward(self, x):
        h = torch.tanh(self.norm(self.one(x)))
        return self.two(h)
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.online = Net()
        self.target = copy.deepcopy(self.online)
    def forward(self, x):
        y = self.online(x)
        %s
        return y + z
"""
LISTS = """
class Mix(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("c", torch.linspace(0, 1, 64 * 64).reshape(64, 64))
        self.register_buffer("s", torch.linspace(1, 2, 64 * 64).reshape(64, 64))
    def turn(self, x):
        return torch.einsum("btd,ed->bte", x, self.c).exp(), torch.einsum("btd,ed->bte", x, self.s)
    def back(self, x, y):
        return torch.einsum("btd,de->bte", x, self.c) + torch.einsum("btd,de->bte", y, self.s)
    def forward(self, x):
        a, b = self.turn(x)
        return self.back(a, b)
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.mix = nn.ModuleList(Mix() for _ in range(3))
        self.skip = nn.ModuleList(nn.Linear(64, 64) for _ in range(3))
        self.heads = nn.ParameterList([nn.Parameter(torch.randn(100, 64)) for _ in range(2)])
    def forward(self, x):
        for m, s in zip(self.mix, self.skip):
            x = F.gelu(m(x) + s(x))
        return sum((x @ w.t()).mean() for w in self.heads)
"""
AGAIN_FREE = """
class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm, self.one, self.two = nn.LayerNorm(64), nn.Linear(64, 256), nn.Linear(256, 64)
    def forward(self, x):
        return x + self.two(torch.tanh(self.one(self.norm(x))))
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.put = nn.Linear(64, 64)
        self.blocks = nn.ModuleList([Block(), Block()])
    def forward(self, x):
        base = self.put(x) * 2
        y = base.cos()
        for k in range(2):
            with torch.set_grad_enabled(k == 1):
                y = base + y
                for b in self.blocks:
                    y = b(y)
        return y.exp()
"""
SKIPS = """
class Norm(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.weight, self.bias = nn.Parameter(torch.ones(n)), nn.Parameter(torch.zeros(n))
    def forward(self, x):
        y = (x - x.mean(1, keepdim=True)) / (x.var(1, keepdim=True) + 1e-6).sqrt()
        return self.weight.view(1, -1, 1, 1) * y + self.bias.view(1, -1, 1, 1)
class Block(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.norm, self.conv, self.back = Norm(n), nn.Conv2d(n, 2 * n, 3, padding=1), nn.Conv2d(2 * n, n, 1)
        self.beta = nn.Parameter(torch.zeros(1, n, 1, 1))
    def forward(self, x):
        return x + self.back(F.gelu(self.conv(self.norm(x)))) * self.beta
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.put, self.out = nn.Conv2d(3, 12, 3, padding=1), nn.Conv2d(12, 3, 3, padding=1)
        self.down = nn.ModuleList([nn.Conv2d(n, 2 * n, 2, 2) for n in (12, 24)])
        self.up = nn.ModuleList([nn.ConvTranspose2d(2 * n, n, 2, 2) for n in (24, 12)])
        self.enc, self.dec = (nn.ModuleList([Block(n) for n in k]) for k in ((12, 24), (24, 12)))
    def forward(self, x):
        x = self.put(x)
        kept = []
        for enc, down in zip(self.enc, self.down):
            x = enc(x)
            kept.append(x)
            x = down(x)
        for dec, up, skip in zip(self.dec, self.up, kept[::-1]):
            x = up(x)
            x = x + skip
            x = dec(x)
        return self.out(x)
"""
QUERIES = """
class M(B):
    def __init__(self):
        super().__init__()
        self.queries, self.cls = nn.Embedding(8, 64), nn.Parameter(torch.zeros(1, 1, 64))
    def forward(self, x):
        q = self.queries.weight.unsqueeze(0).repeat(x.shape[0], 1, 1)
        cls = self.a(x).mean(1, keepdim=True).relu()
        s = x.cos()
        for k in range(3):
            x = torch.tanh(q + x)
            w = F.softmax(q @ x.transpose(1, 2), -1)
            w = F.dropout(w.type_as(x), 0.25, self.training)
            s = w.exp() @ s
            ctx = (w.cos() + w) @ x
            x = ctx.exp() * s + self.b(cls)
        return x * self.cls
"""
CRITERION = """
class M(B):
    def dice(self, x, y):
        p = torch.sigmoid(x).flatten(1)
        y = y.flatten(1)
        return (1 - 2 * (p * y).sum(1) / (p.sum(1) + y.sum(1) + 1)).mean()
    def forward(self, x, y):
        h = self.b(torch.tanh(self.a(x)))
        noise = h.new_empty(h.shape[0], 8, 1).normal_()
        h = h * noise
        loss = self.dice(h, y)
        h = h.exp()
        loss = loss + self.dice(h, y)
        return loss
"""
SAMPLED = """
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.move = nn.Conv2d(3, 8, 3, padding=1), nn.Linear(32, 2)
    def forward(self, x):
        v = self.conv(x)
        g = torch.tanh(self.move(x.mean(1)).unsqueeze(1).repeat(1, 32, 1, 1).cumsum(2)[:, :, :32].contiguous())
        y = F.grid_sample(v, g.to(v.dtype), align_corners=False)
        return F.interpolate(y.float(), scale_factor=2.0, mode="bilinear").exp()
"""
LAST_STATES = """
from types import SimpleNamespace
class Layer(B):
    def forward(self, x):
        return x + self.b(torch.tanh(self.a(x)))
class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.put, self.layers = nn.Linear(64, 64), nn.ModuleList([Layer() for _ in range(4)])
        self.requires_grad_(False)
    def forward(self, x, output_hidden_states=False):
        x = self.put(x)
        states = (x,)
        for layer in self.layers:
            x = layer(x)
            if output_hidden_states:
                states = states + (x,)
        return SimpleNamespace(last_hidden_state=x, hidden_states=states)
class M(B):
    def __init__(self):
        super().__init__()
        self.enc = Encoder()
    def forward(self, x):
        states = self.enc(x, output_hidden_states=True).hidden_states
        return self.b(torch.tanh(self.a(states[-1] + states[2])))
"""
ZEROS = "torch.zeros(x.size(0), 48, device=x.device)"
PAIRS_OF = f"states = [({ZEROS}, {ZEROS}) for _ in self.enc]"
LISTS_OF = f"h, c = [{ZEROS} for _ in self.enc], [{ZEROS} for _ in self.enc]"
CELLS = """
class Cell(nn.Module):
    def __init__(self, put):
        super().__init__()
        self.gates = nn.Linear(put + 48, 4 * 48)
    def forward(self, x, state):
        h, c = state
        i, f, o, g = self.gates(torch.cat([x, h], dim=1)).chunk(4, dim=1)
        c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
        return torch.sigmoid(o) * torch.tanh(c), c
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc = nn.ModuleList([Cell(64), Cell(48)])
        self.dec = nn.ModuleList([Cell(48), Cell(48)])
        self.out = nn.Linear(48, 8)
    def forward(self, x):
        BEGIN
        for t in range(3):
            y = x[:, t]
            for i, cell in enumerate(self.enc):
                ROUND
        out = []
        y = torch.zeros_like(y)
        for t in range(3):
            for i, cell in enumerate(self.dec):
                ROUND
            out.append(self.out(y))
        return torch.stack(out, dim=1)
"""
CARRIED = {  # states of cells in lists: how they begin, and what a round does
    name: CELLS.replace("BEGIN", begin).replace("ROUND", "\n                ".join(does))
    for name, (begin, *does) in {
        "state_cells": (PAIRS_OF, "states[i] = cell(y, states[i])", "y = states[i][0]"),
        "state_lists": (LISTS_OF, "h[i], c[i] = cell(y, (h[i], c[i]))", "y = h[i]"),
        "state_named": (PAIRS_OF, "y, c = cell(y, states[i])", "states[i] = (y, c)"),
        "state_new": (PAIRS_OF, "new = cell(y, states[i])", "states[i] = new", "y = new[0]"),
    }.items()
}
UNBOUND = """
class M(B):
    def __init__(self):
        super().__init__()
        self.there, self.back = nn.RNNCell(64, 32), nn.RNNCell(64, 32)
    def run(self, cell, x, reverse):
        h = torch.zeros(x.size(0), 32, device=x.device)
        steps = x.unbind(1)
        for step in reversed(steps) if reverse else steps:
            h = cell(step, h)
        return h
    def forward(self, x):
        x = torch.tanh(self.b(self.a(x)))
        return torch.cat([self.run(self.there, x, False), self.run(self.back, x, True)], -1)
"""
EDGES = """
class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.edges, self.nodes = nn.Linear(192, 64), nn.Linear(128, 64)
    def forward(self, x, e, there):
        e_new = torch.relu(self.edges(torch.cat([x.index_select(1, there), x, e], dim=-1)))
        sums = torch.zeros(x.shape[0], x.shape[1], 64, dtype=e_new.dtype, device=x.device)
        sums = sums.index_add(1, there, e_new)
        x_new = self.nodes(torch.cat([x, sums], dim=-1))
        return x + x_new, e + e_new
class M(B):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList([Block() for _ in range(3)])
        self.register_buffer("there", torch.tensor([0, 2, 2, 5, 1, 7, 3, 3]))
    def forward(self, x):
        x = self.b(torch.tanh(self.a(x)))
        e = torch.sigmoid(x)
        for block in self.blocks:
            x, e = block(x, e, self.there)
        return x
"""
SKIPPED = """
class Block(nn.Module):
    def __init__(self, dilation):
        super().__init__()
        self.gate = nn.Conv1d(8, 16, 3, padding=dilation, dilation=dilation)
        self.res, self.skip = nn.Conv1d(8, 8, 1), nn.Conv1d(8, 24, 1)
    def forward(self, x):
        a, b = self.gate(x).chunk(2, dim=1)
        gated = torch.tanh(a) * torch.sigmoid(b)
        output = self.res(gated)
        output += x
        return output, self.skip(gated)
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList([Block(2**i) for i in range(3)])
    def forward(self, x):
        output = x
        skips = []
        for block in self.blocks:
            output, skip = block(output)
            skips.append(skip)
        return torch.stack(skips).sum(0)
"""
BACKCAST = """
class Block(B):
    def __init__(self):
        super().__init__()
        self.back, self.fore = nn.Linear(64, 64), nn.Linear(64, 16)
    def forward(self, x):
        h = torch.relu(self.b(torch.relu(self.a(x))))
        return self.back(h), self.fore(h)
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList([Block() for _ in range(3)])
    def forward(self, x):
        residual = x * 2
        forecast = x.new_zeros(x.shape[:-1] + (16,))
        for block in self.blocks:
            back, fore = block(residual)
            residual = residual - back
            forecast += fore
        return forecast
"""
HALVES = """
def join(inputs, dim):
    one, other = [], []
    for x in inputs:
        a, b = torch.chunk(x, 2, dim)
        one.append(a)
        other.append(b)
    return torch.cat([torch.cat(one, dim), torch.cat(other, dim)], dim)
class M(nn.Module):
    def __init__(self):
        super().__init__()
        conv = lambda i, o: nn.Sequential(nn.Conv2d(i, o, 3, padding=1), nn.PReLU())
        self.enc = nn.ModuleList([conv(3, 8), conv(8, 16)])
        self.dec = nn.ModuleList([conv(32, 8), conv(16, 4)])
    def forward(self, x):
        kept = []
        for layer in self.enc:
            x = layer(x)
            kept.append(x)
        x = x.tanh()
        for k in range(len(self.dec)):
            x = join([x, kept[-1 - k]], 1)
            x = self.dec[k](x)
            x = x[..., 1:].cumsum(-1).repeat(1, 1, 1, 2)[..., :32]
        return x.exp()
"""
STRUCTURE = """
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem, self.a, self.b = nn.Conv2d(3, 8, 3, padding=1), nn.Conv2d(8, 3, 1), nn.Conv2d(8, 3, 1)
    def structure(self, logits, mask):
        return F.binary_cross_entropy_with_logits(logits, mask)
    def forward(self, x):
        h = torch.tanh(self.stem(x))
        return self.structure(self.a(h), x) + self.structure(self.b(h), x)
"""
# cdist() of many rows, in functions whose lines no file has, and one row of it that two of them share
FAR_APART = """
def chamfer(p, q):
    d = torch.cdist(p, q)
    return d.min(dim=2)[0].mean() + d.min(dim=1)[0].mean()
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.codes = nn.Linear(16, 16), nn.Parameter(torch.rand(640, 16))
    def forward(self, x):
        h = torch.tanh(self.a(x))
        g = h.sin()
        k = (-torch.cdist(h.reshape(-1, 16), self.codes)).softmax(-1)
        return k.sum() + %s
"""
# rotated halves that are written into every second element, with a turn behind that
WRITES_EVERY_SECOND = """
class Turn(nn.Module):
    def forward(self, h, cos, sin):
        a, b = h.unflatten(-1, (-1, 2)).unbind(-1)
        out = torch.empty_like(h)
        out[..., 0::2] = a * cos - b * sin
        out[..., 1::2] = a * sin + b * cos
        return out.type_as(h)
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.q, self.k, self.turn = nn.Linear(64, 64), nn.Linear(64, 64), Turn()
    def forward(self, x):
        t = x[:, :, :8].unsqueeze(2)
        cos, sin = t.cos(), t.sin()
        q = self.turn(self.q(x).unflatten(2, (4, 16)), cos, sin)
        k = self.turn(self.k(x).unflatten(2, (4, 16)), cos, sin)
        return torch.tanh(q.%s @ k.permute(0, 2, 3, 1))
"""
# sums and norms in fp32 whose lines go back to a variable's type
TYPED_BACK = """
class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(64, elementwise_affine=False), nn.LayerNorm(64)
        self.up, self.down, self.mix = nn.Linear(64, 128), nn.Linear(128, 64), nn.Linear(64, 64)
        self.table = nn.Parameter(torch.rand(2, 64))
    def forward(self, x, e):
        scale, shift = (self.table + e).chunk(2, dim=1)
        y = (self.norm1(x.float()) * (1 + scale) + shift).type_as(x)
        h = self.mix(y)
        x = (x.float() + h * scale).type_as(x)
        y = self.norm2(x.float()).type_as(x)
        f = self.down(torch.tanh(self.up(y)))
        x = (x.float() + f.float() * shift).type_as(x)
        return x
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.blocks = nn.Linear(64, 64), nn.ModuleList(Block() for _ in range(3))
    def forward(self, x):
        h, e = self.a(x), x[:, :1]
        for block in self.blocks:
            h = block(h, e)
        return h
"""
# what a loop goes through, a module's list, which it has until its last round
GOES_THROUGH = """
class Mix(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(64, 64) for _ in range(3)])
    def forward(self, parts):
        high, low = parts[0], parts[1]
        outs = [high.permute(0, 2, 1)]
        for i in range(3):
            low = low + self.layers[i](high).sin()
            high = low
            if i < 2:
                low = parts[i + 2]
            outs.append(high.permute(0, 2, 1))
        return outs
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.seasons, self.trends, self.out = nn.Linear(64, 64), Mix(), Mix(), nn.Linear(8, 16)
    def forward(self, x):
        h = self.a(x)
        first, second = [], []
        for k in range(4):
            m = (h * (k + 1)).cumsum(1)
            first.append((h - m).exp())
            second.append(m.permute(0, 2, 1).flip(1).permute(0, 2, 1))
        outs = []
        for s, t in zip(self.seasons(first), self.trends(second)):
            outs.append(self.out(s + t).sum(0))
        return torch.cat(outs)
"""
# of a teacher the maps that a loop goes through, each under a name that it binds anew
TEACHES_MAPS = """
class Net(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.layer1 = nn.Sequential(nn.Conv2d(8, n, 3, 2, 1), nn.BatchNorm2d(n), nn.Tanh())
        self.layer2 = nn.Sequential(nn.Conv2d(n, n, 3, 1, 1), nn.BatchNorm2d(n), nn.Tanh(), nn.Conv2d(n, n, 3, 1, 1))
        self.layer3 = nn.Sequential(nn.Conv2d(n, n, 3, 1, 1), nn.BatchNorm2d(n), nn.Tanh(), nn.Conv2d(n, n, 3, 1, 1))
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.teacher, self.student = Net(16), Net(8)
        self.proj = nn.ModuleList([nn.Conv2d(8, 16, 1) for _ in range(3)])
        for p in self.teacher.parameters():
            p.requires_grad = False
    def maps(self, net, x):
        f1 = net.layer1(x)
        f2 = net.layer2(f1)
        f3 = net.layer3(f2)
        return f1, f2, f3
    def forward(self, x):
        with torch.no_grad():
            taught = self.maps(self.teacher, x)
        own = self.maps(self.student, x)
        loss = 0
        for proj, t, s in zip(self.proj, taught, own):
            t = torch.tanh(t)
            p = F.normalize(proj(s), dim=1)
            loss += (t - p).pow(2).sum(1).mean() * 0.5
        return loss
"""
DISTANCES = """
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(8, 64), nn.Linear(32, 64)
    def near(self, X):
        return torch.sqrt((X.unsqueeze(1) - X.unsqueeze(2)).pow(2).sum(3) + 1e-6)
    def far(self, A, B):
        return torch.exp(-((A[:, :, None, :] - B[:, None, :, :]) ** 2).sum(-1))
    def forward(self, x):
        p = x.view(-1, 8, 4, 16)
        h = torch.tanh(self.a(self.near(p[:, :, 1])))
        e = torch.cat([self.far(p[:, :, i], p[:, :, j]) for i in range(2) for j in range(2)], -1)
        return h + torch.sigmoid(self.b(e))
"""
PICKED_ROWS = """
def pick(nodes, idx):
    rows = idx.flatten(1).unsqueeze(-1).expand(-1, -1, nodes.size(2))
    return torch.gather(nodes, 1, rows).view(list(idx.shape) + [-1])
class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin, self.norm = nn.Linear(64, 64), nn.LayerNorm(64)
    def forward(self, v, e, idx):
        v = torch.tanh(self.lin(v))
        e = self.norm(e + pick(v, idx))
        return v, e
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.w, self.o = nn.Linear(64, 64), nn.Linear(64, 64), nn.Linear(128, 64)
        self.layers = nn.ModuleList([Layer(), Layer()])
    def forward(self, x):
        v, e = self.a(x), self.w(torch.stack([x, x * 2], 2))
        idx = (x[..., :2] > 0).long()
        for layer in self.layers: v, e = layer(v, e, idx)
        y = torch.cat([pick(v, idx), e], -1)
        z = torch.tanh(self.o(y))
        return z * torch.sigmoid(self.o(y * 2))
"""
TABLED = """
class Part(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("table", torch.rand(1, 15, 15, 2))
        self.mlp = nn.Sequential(nn.Linear(2, 512), nn.ReLU(), nn.Linear(512, 64, bias=False))
        self.gate, self.lin = nn.Parameter(torch.zeros(64)), nn.Linear(64, 64)
    def forward(self, x):
        x = self.lin(x) * torch.exp(torch.sigmoid(self.gate))
        return torch.tanh(x + self.mlp(self.table).mean((0, 1, 2)))
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = Part(), Part()
    def forward(self, x):
        return self.b(self.a(x))
"""
APART = """
class M(B):
    def forward(self, x):
        h = torch.tanh(self.a(x))
        low, high = self.b(h).detach().chunk(2, -1)
        y = self.b(h) * 2
        scale, shift = ((y + y.exp()).detach()).chunk(2, -1)
        return (torch.sigmoid(self.b(h.exp())) * torch.cat([low * scale, high * shift], -1)).sum(-1)
"""
# in a function, and what is made of ones, which are ones, too: the file has them once
SNAKES_OF_ONES = """
def snake(x, alpha):
    return x + torch.sin(x * alpha) ** 2 / (alpha + 1e-9)
class Snake(nn.Module):
    def __init__(self):
        super().__init__()
        self.alpha = nn.Parameter(torch.ones(1, 8, 1))
    def forward(self, x):
        return snake(x, self.alpha)
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.first, self.b, self.then = nn.Linear(64, 64), Snake(), nn.Linear(64, 64), Snake()
    def forward(self, x):
        return self.then(self.b(self.first(self.a(x))))
"""
SNAKES = """
class Snake(nn.Module):
    def __init__(self):
        super().__init__()
        self.alpha = nn.Parameter(torch.ones(1, 8, 1))
    def forward(self, x):
        return x + (self.alpha + 1e-9).reciprocal() * torch.sin(self.alpha * x).pow(2)
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.first, self.b, self.then = nn.Linear(64, 64), Snake(), nn.Linear(64, 64), Snake()
    def forward(self, x):
        return self.then(self.b(self.first(self.a(x))))
"""
COUNTS = """
class M(B):
    def forward(self, x):
        n = torch.ones((x.shape[0],), device=x.device) * 3 + 1
        drop = torch.randint(1, 4, (x.shape[0],), device=x.device)
        n[1:] = drop[1:]
        h = torch.tanh(self.a(x))
        h = h * (n > 2)[:, None, None]
        return self.b(h)
"""
PADDED = """
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem, self.conv, self.norm = nn.Conv2d(3, 8, 3), nn.Conv2d(8, 8, 2, bias=False), nn.BatchNorm2d(8)
        self.pool, self.head = nn.MaxPool2d(2, 1), nn.Linear(16, 10)
    def forward(self, x):
        x = torch.sigmoid(self.stem(x))
        x = F.pad(x, (0, 1, 0, 1))
        y = torch.tanh(self.norm(self.conv(x)))
        z = self.pool(x)
        return self.head(torch.cat([y, z], 1).mean((2, 3)))
"""
SHORTENED = """
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b, self.c = (nn.Linear(64, 64) for _ in range(3))
        self.rows = nn.Parameter(torch.randn(8, 4))
    def forward(self, x):
        shorten = lambda t: torch.einsum('bnd,nk->bkd', t, self.rows)
        halves = lambda t: t.unflatten(2, (2, 32)).transpose(1, 2)
        %s
        a = torch.einsum('bhnd,bhkd->bhnk', halves(q), %s).softmax(-1)
        y = torch.einsum('bhnk,bhkd->bhnd', a, %s)
        return self.c(y.transpose(1, 2).flatten(2))
"""
NUMBERED = {
    "numbered": SHORTENED % ("q, k = self.a(x), self.b(x)\n        k, v = map(halves, map(shorten, (k, k)))", "k", "v"),
    "numbered_once": SHORTENED % ("q, k = self.a(x), shorten(self.b(x))", "halves(k)", "halves(k)"),
}
PLACED = """
class M(B):
    def __init__(self):
        super().__init__()
        self.register_buffer("pe", torch.rand(1, 200, 64))
        self.pos = nn.Linear(64, 64, bias=False)
        self.u, self.v = nn.Parameter(torch.zeros(64)), nn.Parameter(torch.zeros(64))
    def forward(self, x):
        p = self.pos(self.pe)
        h = self.b(self.a(x))
        y = torch.relu(h + self.u).sum()
        z = torch.sigmoid(h + self.v).sum()
        return (p.exp()).sum() + y + z
"""
WINDOWS = """
class M(B):
    def forward(self, x):
        h = self.a(x)
        w = F.pad(h, (0, 0, 0, 2)).unfold(1, 3, 1).transpose(2, 3)
        return self.b(torch.cat((w.exp(), h.unsqueeze(2).expand_as(w)), 2))
"""
PLAIN_NORM = """
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.norm = nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8, affine=False)
    def forward(self, x):
        return F.relu(self.norm(self.conv(x)))
"""
MESSAGES = """
class M(B):
    def send(self, x, edges, how):
        sent = x.index_select(how, edges[0]) * 2
        return torch.zeros_like(x).index_add(how, edges[1], sent)
    def forward(self, x, edges):
        edges = edges[0]
        with torch.no_grad():
            w = x.mean((0, 2))[edges[0]] * edges[1]
        h = self.a(x) * w.mean()
        h = self.send(h, edges, 1)
        h = h.exp()
        h = self.send(h, edges, 0)
        return self.b(h)
"""
PAIRS = """
class M(B):
    def __init__(self):
        super().__init__()
        i, j = torch.tril_indices(8, 8, offset=-1)
        self.register_buffer("rows", i)
        self.register_buffer("columns", j)
    def forward(self, x):
        h = self.a(x)
        return (h @ h.mT)[:, self.rows, self.columns]
"""
SCALED_LINEAR = """
class Scaled(nn.Module):
    def __init__(self, n, m):
        super().__init__()
        self.weight, self.bias = nn.Parameter(torch.randn(m, n)), nn.Parameter(torch.zeros(m))
    def forward(self, x):
        return F.linear(x, self.weight * 0.5, self.bias * 0.01)
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.one, self.two = Scaled(64, 32), Scaled(32, 48)
    def forward(self, x):
        x = F.relu(self.one(x))
        return self.two(x)
"""
SEEDS = """
class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.q, self.k = nn.Linear(96, 96), nn.Linear(64, 96)
    def forward(self, q, x):
        q = self.q(q)
        return q @ self.k(x).mT
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.seeds, self.block = nn.Parameter(torch.randn(1, 4, 96)), Block()
    def forward(self, x):
        return self.block(self.seeds.repeat(4, 1, 1), x)
"""
KINDS = """
class Kind(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(16, 4)
    def forward(self, h):
        kinds = torch.zeros(2 * h.shape[-3], dtype=torch.long, device=h.device)
        picked = self.table(kinds)
        return h + picked.view(-1, 2, 4)
class M(B):
    def __init__(self):
        super().__init__()
        self.one, self.two = Kind(), Kind()
    def forward(self, x):
        h = self.a(x)
        k = self.one(h.mean().expand(4500, 2, 4))
        q = self.two(h.unflatten(-1, (32, 2, 4)))
        return self.b(q.flatten(2)) + k.mean()
"""
SKIPPING = """
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(64, 32)
        self.filters, self.gates = [nn.ModuleList(nn.Linear(64, 64) for _ in range(3)) for _ in range(2)]
        self.skips, self.mixes = [nn.ModuleList(nn.Linear(64, n) for _ in range(3)) for n in (32, 64)]

    def forward(self, x):
        skip = self.first(x)
        for i in range(3):
            r = x
            x = torch.tanh(self.filters[i](x)) * torch.sigmoid(self.gates[i](x))
            skip = skip + self.skips[i](x)
            x = self.mixes[i](x) + r
        return torch.relu(skip)
"""
TOKENS = """
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.kind, self.place = nn.Parameter(torch.zeros(1, 1, 64)), nn.Parameter(torch.zeros(1, 1, 64))
        self.a = nn.Linear(64, 64)

    def forward(self, x):
        first = self.kind.expand(x.shape[0], -1, -1)
        second = self.place.expand(x.shape[0], -1, -1)
        return torch.relu(self.a(torch.cat([first, second, x], 1)))
"""
INTERVALS = """
class Bias(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Parameter(torch.rand(9))

    def forward(self, x):
        d = (x[:, :, 0].unsqueeze(2) - x[:, :, 0].unsqueeze(1)).abs()
        bucket = (d * 8).long().clamp(0, 8)
        return torch.index_select(self.table, 0, bucket.view(-1)).view(x.shape[0], 8, 8)


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.bias, self.q, self.o = Bias(), nn.Linear(64, 64), nn.Linear(64, 64)

    def forward(self, y, x):
        q = self.q(y)
        a = torch.softmax(q @ q.transpose(1, 2) + self.bias(x), -1)
        return y + self.o(a @ q)


class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(Layer() for _ in range(3))

    def forward(self, x):
        y = x
        for layer in self.layers:
            y = layer(y, x)
        return y
"""
# what a line computes of a parameter alone, which the exporter folds
OF_PARAMETER = """
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b, self.g = nn.Linear(64, 64), nn.Linear(64, 64), nn.Parameter(torch.rand(64))

    def forward(self, x):
        a, b = self.a(x), self.b(x)
        %s
        return torch.relu(y)
"""
MIXED = """
class Shift(nn.Module):
    def __init__(self):
        super().__init__()
        self.mix, self.rate = nn.Parameter(torch.rand(1, 1, 64)), nn.Parameter(torch.rand(64))
        self.key, self.out = nn.Linear(64, 128, bias=False), nn.Linear(128, 64)

    def forward(self, x):
        last = torch.cat([x[:, :1], x[:, :-1]], 1)
        y = self.key(x * self.mix + last * (1 - self.mix))
        y = self.out(torch.relu(y))
        return x * (self.rate * 0.5) + torch.tanh(y) * self.rate


class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(Shift() for _ in range(3))

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x
"""
MEMORY = """
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.key, self.value, self.decay = nn.Linear(64, 64), nn.Linear(64, 64), nn.Parameter(torch.rand(64))

    def forward(self, x):
        keys, values = self.key(x), self.value(x)
        state = torch.zeros(x.shape[0], 64, 64, device=x.device)
        out = []
        for t in range(8):
            k, v = keys[:, t], values[:, t]
            out.append(torch.tanh((state @ k.unsqueeze(2)).squeeze(2)))
            write = v.unsqueeze(2) * k.unsqueeze(1)
            state = torch.sigmoid(state + write)
        return torch.stack(out, 1) * self.decay
"""
FREQUENCIES = """
class M(B):
    def __init__(self):
        super().__init__()
        self.fns = [lambda x, f=f, k=k: f(x * k) for k in (1., 2., 4.) for f in (torch.sin, torch.cos)]
    def embed(self, x):
        return torch.cat([f(x) for f in self.fns], -1)
    def forward(self, x):
        p = self.a(x) + torch.ones_like(x[..., :1]) * 2
        e = self.embed(p[..., :32])
        return self.b(e[..., :256 - 64].repeat(1, 1, 2)[..., :256])
"""
AGAIN = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.places = nn.Embedding(300, 64), nn.Embedding(200, 64)
        self.out = nn.Linear(64, 64)
        self.register_buffer("at", torch.arange(160)[None])
    def forward(self, ids):
        x = self.words(ids)
        p = self.places(self.at)
        x = x + p
        return self.out(x.exp())
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = Net()
    def forward(self, ids):
        a, b = self.net(ids), self.net(ids + 1)
        return a - b
"""

GATED = """class M(nn.Module):
    "a loop's lines that read nothing of its rounds"
    def __init__(self):
        super().__init__()
        self.a, self.g, self.o = nn.Linear(64, 256), nn.Linear(64, 256), nn.Linear(256, 256)
    def forward(self, x):
        h, e = torch.tanh(self.a(x)), self.g(x)
        outs = []
        for i in range(4):
            gate = torch.sigmoid(e)
            cand = gate * e
            h = torch.tanh(self.o(h)) + cand
            outs.append(h)
        return torch.stack(outs, 1)
"""

RESHAPED = """class M(nn.Module):
    "what a reshape copied is scaled in place"
    def __init__(self):
        super().__init__()
        self.q, self.k, self.o = nn.Linear(64, 128, bias=False), nn.Linear(64, 128, bias=False), nn.Linear(8, 8)
    def forward(self, x):
        q, k = self.q(x), self.k(x)
        q = q.reshape(-1, 8, 4, 32).permute(0, 2, 1, 3).reshape(-1, 8, 32)
        k = k.reshape(-1, 8, 4, 32).permute(0, 2, 1, 3).reshape(-1, 8, 32)
        q *= 0.25
        sim = torch.einsum("b i d, b j d -> b i j", q, k)
        return self.o(sim.softmax(-1))
"""

GATHERED = """class M(nn.Module):
    "a loss of one number with a dimension, as data parallel wants it, and neighbours that are searched for alone"
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(64, 256), nn.Linear(256, 64)
    def forward(self, x):
        h = self.a(x)
        with torch.no_grad():
            near = (h.unsqueeze(2) - h.unsqueeze(1)).square().sum(-1).topk(3, -1, largest=False)[1]
        h = torch.stack([torch.gather(h, 1, near[..., i:i + 1].expand(-1, -1, 256)) for i in range(3)], 2)
        loss = F.mse_loss(self.b(h.mean(2)), x)
        return loss.unsqueeze(0)
"""


def entry(inputs, targets, loss, name="M"):
    return f"Entry({name}, lambda b: ({inputs}, {targets}), lambda out, targets: {loss}, (4,), real_build=True)"


X, TEXT = '{"x": torch.rand(b, 8, 64)}', '{"x": ids(b, 16)}'
CLASSES = "cross_entropy(out, targets)"
ROWS = entry(X, "ids(b, 8)", CLASSES)
HALF = entry(X.replace("64)", "64, dtype=torch.bfloat16)"), "ids(b, 8)", CLASSES)
SERIES = '{"x": torch.rand(b, 16, 64), "y": torch.rand(b, 16, 64)}'
IDS = '{"idx": ids(b, 16), "targets": ids(b, 16)}'
FIELD = '{"idx": torch.zeros(b, 4, dtype=torch.long)}'
SMALL_IMAGE = '{"x": torch.rand(b, 8, 16, 16)}'
POINTS = '{"x": torch.rand(b, 32, 16)}'
RATED = '{"x": torch.rand(b, 8, 64), "y": torch.rand(b, 8, 64)}'
PAIR = '{"x": torch.rand(b, 64), "y": torch.rand(b, 64)}'
IMAGE, FLAT = '{"x": torch.rand(b, 3, 32, 32)}', '{"x": torch.rand(b, 96)}'
PLACES = '{"x": torch.rand(b, 3, 32, 32), "y": torch.zeros(b, 32, 32, dtype=torch.long)}'
BOXES = "F.cross_entropy(out[0], targets[0]) + F.smooth_l1_loss(out[1], targets[1])"
# two losses of a line, of which one begins as the other does
TWO_LOSSES = """
class M(B):
    def forward(self, x, y):
        h = self.b(self.a(x))
        return %s
"""
# sizes that are added: of pairs that a model takes as one batch
PAIRED = """
class Last(nn.Module):
    def forward(self, h, at):
        rows = torch.arange(h.shape[0], device=h.device)
        return h[rows, at]
class M(B):
    def __init__(self):
        super().__init__()
        self.last = Last()
    def forward(self, chosen, rejected, at):
        h = self.b(torch.relu(self.a(torch.cat((chosen, rejected), 0))))
        h = self.last(h, torch.cat((at, at), 0)).mean(-1)
        n = chosen.shape[0]
        return -F.logsigmoid(h[:n] - h[n:])
"""
# a dictionary that blocks hand on, and sums that a function of no module makes
HANDED_ON = """
def take(h, at):
    return torch.gather(h, 1, at.unsqueeze(-1).expand(-1, -1, h.shape[-1]))
def total(e, at, n):
    out = torch.zeros(e.shape[0], n, e.shape[-1], dtype=e.dtype, device=e.device)
    return out.scatter_add_(1, at.unsqueeze(-1).expand_as(e), e)
class Edges(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(192, 64), nn.ReLU(), nn.Linear(64, 64))
    def forward(self, graph):
        there, back = graph['there'], graph['back']
        both = torch.cat([take(graph['x'], there), take(graph['x'], back), graph['e']], dim=-1)
        return {**graph, 'e': self.net(both)}
class Nodes(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(128, 64), nn.ReLU(), nn.Linear(64, 64))
    def forward(self, graph):
        sums = total(graph['e'], graph['back'], graph['x'].shape[1])
        return {**graph, 'x': self.net(torch.cat([graph['x'], sums], dim=-1))}
class Both(nn.Module):
    def __init__(self):
        super().__init__()
        self.edges, self.nodes = Edges(), Nodes()
    def forward(self, graph):
        last = graph
        graph = self.nodes(self.edges(graph))
        return {**graph, 'x': last['x'] + graph['x'], 'e': last['e'] + graph['e']}
class M(B):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList([Both() for _ in range(3)])
    def forward(self, x, there, back):
        graph = dict(x=self.b(torch.tanh(self.a(x))), e=take(x, there) - take(x, back), there=there, back=back)
        for block in self.blocks:
            graph = block(graph)
        return graph['x'] + graph['e'].mean()
"""
# what a line gives functions and modules of its own in fp32
GIVEN = """
def rms(x, eps):
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps)
class Norm(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(256))
    def forward(self, x):
        m = x.mean(-1, keepdim=True)
        v = (x - m).pow(2).mean(-1, keepdim=True)
        return (x - m) / torch.sqrt(v + 1e-5) * self.weight
class M(B):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(256))
        self.norm = Norm()
    def _norm(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-5)
    def forward(self, x):
        h = self.a(x)
        %s
        return self.b(p)
"""
GIVES = {
    "method": "h = self._norm(h.float()).type_as(h)\n        p = h * self.weight",
    "function": "p = rms(h.float(), 1e-5).to(h.dtype)",
    "module": "p = self.norm(h.float()).type_as(h)",
    "module_back": "p = self.norm(h.float()).to(h.dtype) * h",
    "keyword": "q = self.norm(x=h.to(torch.float32)) + 1\n        p = q.relu()",
}
# a loop whose body is one line that copies, and a name bound anew after a statement wrote to it
TURNED = """
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.m = nn.Linear(64, 64)
    def forward(self, x):
        x = self.m(x)
        for i in range(2):
            x = x.transpose(1, 2).contiguous()
        return x
"""
WRITTEN_TO = """
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.frozen, self.m = nn.Linear(64, 64), nn.Linear(64, 64)
        self.act = nn.ReLU(inplace=True)
        self.frozen.requires_grad_(False)
    def forward(self, x):
        h = self.frozen(x)
        h.tanh_()
        h = torch.add(x, h)
        y = self.frozen(h)
        y.add_(1)
        y = y + h
        z = self.frozen(y)
        self.act(z)
        z = self.frozen(x + z)
        return self.m(z)
"""
# blocks under checkpoint that begin with a norm outside autocast, of which a file has the code of a graph
RECOMPUTED = """
from torch.utils.checkpoint import checkpoint
class Norm(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.ones(64))
    def forward(self, x):
        with torch.autocast(x.device.type, enabled=False):
            x = x.float()
            h = x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)
        return h * self.w
class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm, self.up, self.down = Norm(), nn.Linear(64, 256), nn.Linear(256, 64)
    def forward(self, x, shift=0.5):
        return x + self.down(F.silu(self.up(self.norm(x))) * shift)
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.blocks = nn.Linear(64, 64), nn.ModuleList(Block() for _ in range(3))
    def _gradient_checkpointing_func(self, module, *args):
        return checkpoint(module.__call__, *args, use_reentrant=False)
    def forward(self, x):
        x = self.first(x)
        %s
        return x
"""
ROUNDS = """for b in self.blocks:
            x = """
# of another function than forward, whose lines files don't have
WITHIN = """x = self.each(x)
        return x
    def each(self, x):
        x = %s"""
IN_TRAINING = "checkpoint(b, x, use_reentrant=False) if self.training else b(x)"
NOT_IN_TRAINING = "checkpoint(b, x, use_reentrant=False) if not self.training else b(x)"
LISTED = "from timm.models import checkpoint_seq"  # each module of a list by itself
# a segment of one, and the last one of two, which runs as it is
SEQUENCE = "from torch.utils.checkpoint import checkpoint_sequential"
SEGMENTED = "x = checkpoint_sequential(self.blocks, 2, x, use_reentrant=False)"
# a mask of real numbers, beside operands whose copies leave nothing
REAL_MASK = """
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv, self.table = nn.Linear(64, 192), nn.Parameter(torch.rand(4096, 4))
        self.register_buffer("at", torch.arange(64), persistent=False)
    def bias(self):
        return self.table[self.at].view(8, 8, 4).permute(2, 0, 1).unsqueeze(0).contiguous()
    def forward(self, x):
        q, k, v = self.qkv(x).transpose(1, 2).reshape(-1, 4, 48, 8).chunk(3, 2)
        x = F.scaled_dot_product_attention(
            q.transpose(-1, -2).contiguous(),
            k.transpose(-1, -2).contiguous(),
            v.transpose(-1, -2).contiguous(),
            attn_mask=self.bias(),
        )
        return x
"""
# checkpoints that are functions, of which the exporter leaves graphs, and no lines: of layers that run something under
# torch.no_grad, of parts of a layer, before a network without gradients
REENTRANT = """
import random
from torch.utils.checkpoint import checkpoint
class Turns(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = random.random()
    @torch.no_grad()
    def forward(self, x):
        return torch.cos(x * self.scale)
class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.turns, self.up, self.down = Turns(), nn.Linear(64, 256), nn.Linear(256, 64)
    def feed(self, x):
        h = F.gelu(self.up(x))
        return x + self.down(h)
    def forward(self, x, at):
        h = F.gelu(self.up(x))
        t = self.turns(at)
        return x + t + self.down(h)
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.last, self.teacher = nn.Linear(64, 64), nn.Linear(64, 64), nn.Linear(64, 64)
        self.layers = nn.ModuleList(Layer() for _ in range(3))
    def forward(self, x):
        y = self.first(x)
        for layer in self.layers:
            %s
        %s
        return self.last(y) * t
"""
REENTERS = {
    "layers": ("y = checkpoint(layer, y, x, use_reentrant=True)", "t = self.teacher(y)"),
    "apart": (
        "y = checkpoint(layer.up, y, use_reentrant=True).tanh()\n"
        "            y = checkpoint(layer.down, y, use_reentrant=True)",
        "t = self.teacher(y)",
    ),
    "beside": (
        "y = checkpoint(layer, y, x, use_reentrant=True)",
        "with torch.no_grad():\n            t = self.teacher(x).tanh()",
    ),
    "last": ("y = layer.feed(y)", "t = y.tanh()\n        y = checkpoint(self.teacher, y, use_reentrant=True)"),
}
# with a graph of its own in each, for torch.autocast, and one in that
REENTERS_WIDENS = REENTRANT.replace(
    "return torch.cos(x * self.scale)",
    "with torch.autocast(x.device.type, enabled=False):\n            t = (x.float() * self.scale).cos()\n"
    "        return t.to(x.dtype)",
).replace("t = self.turns(at)\n        return x + t", "return x + self.turns(at)")
# of a frozen table, whose hook makes what it reads require a gradient
REENTERS_HOOKED = """
from torch.utils.checkpoint import checkpoint
class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.up, self.down = nn.Linear(64, 256), nn.Linear(256, 64)
    def forward(self, x):
        h = F.gelu(self.up(x))
        return x + self.down(h)
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.table, self.last = nn.Embedding(100, 64).requires_grad_(False), nn.Linear(64, 64)
        self.table.register_forward_hook(lambda module, args, out: out.requires_grad_(True))
        self.layers = nn.ModuleList(Layer() for _ in range(3))
    def forward(self, x):
        y = self.table(x)
        for layer in self.layers:
            y = checkpoint(layer, y, use_reentrant=True)
        return self.last(y)
"""
# of which the convolution goes into the norm behind it, and the concatenation of one tensor is lost
REENTERS_DENSE = """
from torch.utils.checkpoint import checkpoint
class Layer(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm1, self.conv1 = nn.BatchNorm2d(width), nn.Conv2d(width, 32, 1, bias=False)
        self.norm2, self.conv2 = nn.BatchNorm2d(32), nn.Conv2d(32, 8, 3, padding=1, bias=False)
    def squeeze(self, *before):
        return self.conv1(F.relu(self.norm1(torch.cat(before, 1))))
    def forward(self, *before):
        y = checkpoint(self.squeeze, *before, use_reentrant=True)
        return self.conv2(F.relu(self.norm2(y)))
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.last = nn.Conv2d(3, 16, 3, padding=1), nn.Linear(8, 8)
        self.layer1, self.layer2 = Layer(16), Layer(24)
    def forward(self, x):
        y = self.first(x)
        z = self.layer1(y)
        return self.last(self.layer2(y, z).mean((2, 3)))
"""
# beside what has its own lines, right before a torch.no_grad
REENTERS_DISTILLED = """
from torch.utils.checkpoint import checkpoint
class Stage(nn.Module):
    def __init__(self):
        super().__init__()
        self.up, self.down = nn.Linear(64, 256), nn.Linear(256, 64)
    def forward(self, x):
        h = F.gelu(self.up(x))
        return x + self.down(h)
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.teacher = nn.Linear(64, 64), nn.Linear(64, 64).requires_grad_(False)
        self.stage1, self.stage2, self.stage3 = Stage(), Stage(), Stage()
    def forward(self, x):
        y = self.first(x)
        y = checkpoint(self.stage1, y, use_reentrant=True)
        y = checkpoint(self.stage2, y, use_reentrant=True)
        with torch.no_grad():
            hint = self.teacher(x)
        z = checkpoint(self.stage3, y, use_reentrant=False)
        return z * hint
"""
# windows of what was padded, cut off and made contiguous in a function
CUT_WINDOWS = """
def split(x, size):
    x = F.pad(x, (0, 0, 0, 4, 0, 4))
    b, h, w, c = x.shape
    return x.view(b, h // size, size, w // size, size, c).permute(0, 1, 3, 2, 4, 5).contiguous().view(-1, size, size, c)
def join(x, size, h, w):
    b = x.shape[0] // (36 // size) ** 2
    x = x.view(b, 36 // size, 36 // size, size, size, -1).permute(0, 1, 3, 2, 4, 5).contiguous().view(b, 36, 36, -1)
    return x[:, :h, :w, :].contiguous()
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.mix = nn.Conv2d(3, 64, 3, padding=1), nn.Linear(64, 64)
    def forward(self, x):
        x = self.first(x).permute(0, 2, 3, 1)
        shortcut = x
        x = split(x, 6)
        x = self.mix(x)
        x = join(x, 6, 32, 32)
        x = shortcut + x
        return x.square()
"""
# a discriminator of what was made, with and without its gradient, which the exporter merges
DISCRIMINATED = """
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.maker = nn.Sequential(nn.Conv2d(3, 16, 3, padding=1), nn.Tanh(), nn.Conv2d(16, 3, 3, padding=1))
        self.judge = Judge()
        self.criterion = nn.BCEWithLogitsLoss()
    def forward(self, x):
        made = self.maker(x)
        out = self.judge(x)
        real = self.criterion(out, torch.full_like(out, 0.9))
        %s
        return real + fooled + fools
class Judge(nn.Module):
    def __init__(self):
        super().__init__()
        self.main = nn.Sequential(nn.Conv2d(3, 16, 3, 2, 1), nn.LeakyReLU(0.2), nn.Conv2d(16, 8, 3, 2, 1, bias=False),
                                  nn.BatchNorm2d(8), nn.LeakyReLU(0.2), nn.Conv2d(8, 1, 8))
    def forward(self, x):
        return self.main(x).view(-1)
"""
DISCRIMINATES = {
    "detached": """out_made = self.judge(made.detach())
        fooled = self.criterion(out_made, torch.zeros_like(out_made))
        out_again = self.judge(made)
        fools = self.criterion(out_again, torch.ones_like(out_again))""",
    "inline": """fooled = F.softplus(self.judge(made.detach())).mean()
        fools = F.softplus(-self.judge(made)).mean()""",
}
# a network that runs twice beside its copy, whose convolutions go into norms and whose noise has the same sizes
TWINS = """
def block(i, o):
    return nn.Sequential(nn.Conv2d(i, o, 3, padding=1, bias=False), nn.BatchNorm2d(o), nn.ReLU(inplace=True))
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.mix = nn.Sequential(block(3, 16), block(16, 16)), block(16, 32)
        self.last = nn.Sequential(nn.Dropout2d(0.1), nn.Conv2d(32, 4, 1))
    def forward(self, x):
        a = self.first(x)
        b = self.mix(F.max_pool2d(a, 2))
        return self.last(F.interpolate(b, size=a.shape[2:], mode="bilinear", align_corners=True))
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.net, self.teacher = Net(), Net()
        self.teacher.requires_grad_(False)
    def forward(self, x):
        with torch.no_grad():
            t = self.teacher(x)
        return (self.net(x) - t).square() + (self.net(x.flip(3)) - t).square()
"""
# what a loop's line computes twice, for the module that it calls around that
WRAPPED = """
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.mix = nn.Linear(64, 64), nn.Sequential(nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 64))
    def forward(self, x):
        x = self.first(x)
        for _ in range(3):
            x = self.mix(torch.where(x > x.tanh(), x, x.tanh()))
        return x
"""
# a module that runs for each of a list, and computes of what they share each time anew
SIMILAR = """
class Similar(nn.Module):
    def __init__(self):
        super().__init__()
        self.pool, self.pad = nn.AvgPool2d(3, 1), nn.ReflectionPad2d(1)
    def forward(self, x, y):
        x, y = self.pad(x), self.pad(y)
        mx, my = self.pool(x), self.pool(y)
        sx = self.pool(x ** 2) - mx ** 2
        sy = self.pool(y ** 2) - my ** 2
        sxy = self.pool(x * y) - mx * my
        n = (2 * mx * my + 1e-4) * (2 * sxy + 9e-4)
        d = (mx ** 2 + my ** 2 + 1e-4) * (sx + sy + 9e-4)
        return torch.clamp((1 - n / d) / 2, 0, 1)
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b, self.c, self.similar = *(nn.Conv2d(3, 8, 3, padding=1) for _ in range(3)), Similar()
    def compare(self, x, y):
        return self.similar(x, y).mean(1, True) + (x - y).abs().mean(1, True)
    def forward(self, x):
        y, others = self.a(x), (self.b(x), self.c(x))
        return torch.cat([self.compare(o, y) for o in others], 1)
"""
STANDARDIZED = """
class Standardized(nn.Conv2d):
    def forward(self, x):
        w = self.weight
        mean = w.mean(dim=(1, 2, 3), keepdim=True)
        var = w.var(dim=(1, 2, 3), keepdim=True, unbiased=False)
        return F.conv2d(x, (w - mean) * (var + 1e-5).rsqrt(), self.bias, self.stride, self.padding)
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Conv2d(3, 64, 3, padding=1), Standardized(64, 128, 3, padding=1)
    def forward(self, x):
        return self.b(torch.tanh(self.a(x)))
"""
# the codes of a copy, whose losses are each other's but for what they detach
COPIED_CODES = """
class Codes(nn.Module):
    def __init__(self):
        super().__init__()
        self.codes = nn.Embedding(512, 256)
    def forward(self, z):
        flat = z.reshape(-1, 256)
        d = (flat ** 2).sum(1, keepdim=True) + (self.codes.weight ** 2).sum(1) - 2 * flat @ self.codes.weight.t()
        q = self.codes(d.argmin(1)).view(z.shape)
        commits = F.mse_loss(q.detach(), z)
        follows = F.mse_loss(q, z.detach())
        return follows + 0.25 * commits, z + (q - z).detach()
class M(B):
    def __init__(self):
        super().__init__()
        self.quantizer, self.c = Codes(), nn.Linear(8, 8)
    def forward(self, x):
        z = self.c(self.a(x).transpose(1, 2)).transpose(1, 2).contiguous()
        loss, q = self.quantizer(z)
        return loss + self.b(q).mean()
"""
# a loss that is divided by the batch, which is a tensor in a file
SCORED = """
class M(B):
    def forward(self, x, y):
        h = self.b(torch.tanh(self.a(x)))
        return -F.logsigmoid(y * h).sum() / x.size(0)
"""
# modules that two others have, whose parameters go by the second name
REGISTERED = """
class Gate(nn.Module):
    def __init__(self, net):
        super().__init__()
        self.net, self.out = net, nn.Linear(64, 64)
    def forward(self, x, e):
        return self.out(x * self.net(e))
class Interaction(nn.Module):
    def __init__(self):
        super().__init__()
        self.mlp = nn.Sequential(nn.Linear(64, 32), nn.Tanh(), nn.Linear(32, 64))
        self.gate = Gate(self.mlp)
    def forward(self, x, e):
        return x + torch.relu(self.gate(x, e))
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.interactions = nn.Linear(64, 64), nn.ModuleList(Interaction() for _ in range(3))
    def forward(self, x):
        h = self.first(x)
        for i in self.interactions:
            h = i(h, x)
        return h
"""
BROADCAST = """
class M(B):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.rand(1, 256, 64))
    def forward(self, x):
        return torch.relu(self.a(x)) @ self.w
"""
# keys and values that groups of heads share, repeated
JOINED_KEYS = """
def repeat_kv(x, n):
    b, h, t, d = x.shape
    return x[:, :, None, :, :].expand(b, h, n, t, d).reshape(b, h * n, t, d)
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.q, self.k, self.v, self.o = nn.Linear(64, 64), nn.Linear(64, 32), nn.Linear(64, 32), nn.Linear(64, 64)
    def forward(self, x):
        b, t, c = x.shape
        q = self.q(x).view(b, t, 4, 16).transpose(1, 2)
        k = self.k(x).view(b, t, 2, 16).transpose(1, 2)
        v = self.v(x).view(b, t, 2, 16).transpose(1, 2)
        k, v = repeat_kv(k, 2), repeat_kv(v, 2)
        y = F.scaled_dot_product_attention(q, k, v)
        return self.o(y.transpose(1, 2).reshape(b, t, c))
"""
# a teacher, with the code of a graph for its lines
TEACHER = """
import copy
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.student = nn.Sequential(%s)
        self.teacher = copy.deepcopy(self.student).requires_grad_(False)
    def forward(self, x):
        y = self.student(x)
        with torch.no_grad():
            z = self.teacher(x)
        return y - z
"""  # a teacher that reads what it makes of its own input, splits it and takes means of all places
MOMENTUM = """
import copy
class Part(nn.Module):
    def __init__(self):
        super().__init__()
        self.enter, self.norm = nn.Conv1d(64, 64, 1), nn.BatchNorm1d(64)
        self.convs = nn.ModuleList(nn.Conv1d(16, 16, 3, padding=1) for _ in range(3))
        self.gate = nn.Sequential(nn.AdaptiveAvgPool1d(1), nn.Conv1d(64, 64, 1), nn.Sigmoid())
    def forward(self, x):
        parts = torch.split(self.norm(F.relu(self.enter(x))), 16, 1)
        for i in range(3):
            p = parts[i] if i == 0 else p + parts[i]
            p = self.convs[i](p)
            out = p if i == 0 else torch.cat((out, p), 1)
        out = torch.cat((out, parts[3]), 1)
        return out * self.gate(out) + x
class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.one, self.two = nn.Conv1d(16, 64, 3, padding=1), Part(), Part()
    def forward(self, x):
        x = x - x.mean(-1, keepdim=True)
        x = F.relu(self.first(x))
        y = self.one(x)
        return self.two(x + y).mean(2)
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.student = Encoder()
        self.teacher = copy.deepcopy(self.student).requires_grad_(False)
    def forward(self, x, y):
        q = F.normalize(self.student(x), dim=1)
        with torch.no_grad():
            k = F.normalize(self.teacher(y), dim=1)
        return q - k
"""
# a queue of keys, copied since the next batch is written over a part of it
QUEUED = """
class M(B):
    def __init__(self):
        super().__init__()
        self.register_buffer("queue", F.normalize(torch.randn(64, 512), dim=0))
    def forward(self, x):
        q = F.normalize(self.b(self.a(x)), dim=-1)
        return torch.einsum("bnc,ck->bnk", [q, self.queue.clone().detach()]) / 0.07
"""
# a loss in a line that computes before it, and calls a module for it
WEIGHED = """
class M(B):
    def forward(self, x, y):
        h = self.a(x)
        return 2 * h.mean() + 10 * F.smooth_l1_loss(self.b(h), y)
"""
# of a library whose dropouts are 0
UNDROPPED = "*(__import__('timm').layers.Mlp(64, 128) for _ in range(3))"
# small ones are constants in the file
NORMED = "nn.Linear(64, 128), nn.GELU(), nn.utils.parametrizations.weight_norm(nn.Linear(128, %d, bias=False))"
# a layer runs twice on equal numbers, of which the exporter leaves one run
BOTH_LOSSES = """
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.g = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 64), nn.Tanh())
        self.d = nn.Sequential(nn.Linear(64, 256), nn.LeakyReLU(0.2), nn.Linear(256, 1))
    def forward(self, x, z):
        fake = self.g(z)
        real = self.d(x).flatten()
        %s
        return loss_d + loss_g
"""
# of a parameter's function, and of a folded difference beside it
SLOPES = """
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.q, self.k, self.o = nn.Linear(64, 64), nn.Linear(64, 64), nn.Linear(128, 1)
        self.slopes = nn.Parameter(torch.zeros(4, 1, 1))
        self.register_buffer("places", torch.arange(128.0))
    def forward(self, x):
        q, k = self.q(x).unflatten(-1, (4, 16)).transpose(1, 2), self.k(x).unflatten(-1, (4, 16)).transpose(1, 2)
        scores = q @ k.transpose(-2, -1)
        scores = scores - F.softplus(self.slopes) * (self.places[:, None] - self.places[None]).abs().log1p()
        return self.o(scores.softmax(-1)).squeeze(-1)
"""
WINDOWED = """
class W(nn.Module):
    def __init__(self, n=7, heads=2):
        super().__init__()
        self.qkv, self.heads = nn.Linear(64, 192), heads
        self.table = nn.Parameter(torch.zeros((2 * n - 1) ** 2, heads))
        c = torch.stack(torch.meshgrid(torch.arange(n), torch.arange(n), indexing="ij")).flatten(1)
        c = (c[:, :, None] - c[:, None, :]).permute(1, 2, 0) + n - 1
        self.register_buffer("index", c[..., 0] * (2 * n - 1) + c[..., 1])
    def forward(self, x):
        n = x.shape[1]
        q, k, v = self.qkv(x).unflatten(-1, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
        s = q @ k.transpose(-2, -1)
        s = s + self.table[self.index.view(-1)].view(n, n, -1).permute(2, 0, 1)
        return (s.softmax(-1) @ v).transpose(1, 2).flatten(2)
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = W(), W()
    def forward(self, x):
        return self.b(x + self.a(x))
"""
PADDED_KEYS = """
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(200, 64)
        self.encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(64, 4, 128, batch_first=True), 3,
                                             enable_nested_tensor=False)
    def forward(self, ids):
        return self.encoder(self.embed(ids), src_key_padding_mask=ids == 0)
"""
# a list that a call has on a further line
FURTHER_LINES = """
class Up(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(16, 8, 3, padding=1)
    def forward(self, x, skips):
        skip = skips[-1]
        skips = skips[:-1]
        x = torch.cat([x, skip], 1)
        return self.conv(x)
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.ModuleList([nn.Conv2d(8, 8, 3, padding=1) for _ in range(2)])
        self.up, self.out = Up(), nn.Conv2d(8, 8, 3, padding=1)
        self.trunk.requires_grad_(False)
    def forward(self, x):
        x = self.trunk[0](x)
        skips = [x]
        x = self.trunk[1](x)
        x = self.up(
            x,
            skips,
        )
        x = self.out(x)
        return F.gelu(x)
"""
# all of a network runs twice on one input, and the second line leaves nothing
RUNS_TWICE = """
class N(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(64, 64) for _ in range(5)])
        self.drop = nn.Dropout(0.1)
    def forward(self, x):
        for layer in self.layers:
            x = x + self.drop(layer(x).tanh())
        return x
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.n, self.o = N(), nn.Linear(64, 64)
    def forward(self, x):
        p = self.n(x)
        q = self.n(x)
        loss = F.mse_loss(self.o(p), q)
        return loss
"""
LOG_ROWS = """
class M(B):
    def forward(self, x):
        return self.b(self.a(x).relu()).log_softmax(-1)
"""

# a second activation of the first one's numbers, which the exporter leaves out, in each round of a loop
RECTIFIED = """
class Block(nn.Module):
    def forward(self, x):
        y = (x - F.silu(x)).relu()
        z = F.relu(y) ** 2
        return x + z.mean()
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.block, self.fc = Block(), nn.Linear(32, 64)
    def forward(self, x):
        for _ in range(2):
            x = self.block(x)[..., 16:]
        return self.fc(x)
"""
# losses of several outputs of which the exporter merges what they make of one target, and of labels that it folds
DEEP = """
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.heads = nn.ModuleList(nn.Linear(64, 64) for _ in range(3))
    def forward(self, x, y):
        outs = [torch.sigmoid(h(x)) for h in self.heads]
        loss = 0.0
        for out in outs:
            loss = loss + F.binary_cross_entropy(out, y)
        return loss
"""
JUDGED = """
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc, self.bce = nn.Linear(64, 64), nn.BCELoss()
    def forward(self, x, y):
        real = torch.sigmoid(self.fc(x))
        fake = torch.sigmoid(self.fc(y))
        a = self.bce(real, torch.ones_like(real))
        b = self.bce(fake, torch.zeros_like(fake))
        return (a + b) / 2
"""
# parts that a function without lines makes contiguous
PARTED = """
def process(m, x):
    a, b = m.fc(x).exp().split([3, 5], 1)
    return torch.cat([m.one(a.contiguous()), m.two(b.contiguous())], 1)
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc, self.one, self.two = nn.Linear(64, 64), nn.Linear(64, 64), nn.Linear(64, 64)
    def forward(self, x):
        return process(self, x)
"""
# a module of Transformers that hands on all that its last layers made, of which its reader takes the last
NECK = """
class Fuse(nn.Module):
    def __init__(self):
        super().__init__()
        self.projection = nn.Conv2d(8, 8, 1)
    def forward(self, hidden_state, residual=None):
        if residual is not None:
            hidden_state = hidden_state + residual
        hidden_state = F.interpolate(hidden_state, scale_factor=2.0)
        hidden_state = self.projection(hidden_state)
        return hidden_state
class Stage(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(Fuse() for _ in range(3))
    def forward(self, hidden_states):
        fused_hidden_states = []
        fused_hidden_state = None
        for hidden_state, layer in zip(hidden_states, self.layers):
            if fused_hidden_state is None:
                fused_hidden_state = layer(hidden_state)
            else:
                fused_hidden_state = layer(fused_hidden_state, hidden_state)
            fused_hidden_states.append(fused_hidden_state)
        return fused_hidden_states
class DPTNeck(nn.Module):
    __module__ = "transformers.models.dpt.modeling_dpt"
    def __init__(self):
        super().__init__()
        self.convs = nn.ModuleList(nn.Conv2d(3, 8, 3, padding=1, stride=s) for s in (4, 2, 1))
        self.fusion_stage = Stage()
    def forward(self, x):
        features = [conv(x) for conv in self.convs]
        output = self.fusion_stage(features)
        return output
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.neck, self.head = DPTNeck(), nn.Conv2d(8, 32, 3, padding=1)
    def forward(self, x):
        hidden_states = self.neck(x)
        hidden_state = hidden_states[-1]
        return (self.head(hidden_state) > 0).float().mean() * hidden_state
"""
# what a line made contiguous, seen twice: by the next line and by the function that this calls
SHIFTED = """
def token_loss(logits, labels, n):
    logits = logits.view(-1, n)
    return F.cross_entropy(logits, labels.view(-1))
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.table, self.fc = nn.Embedding(64, 64), nn.Linear(64, 64)
    def forward(self, ids):
        logits = self.fc(torch.tanh(self.table(ids)))
        shifted = logits[:, 3:-1, :].contiguous()
        labels = ids[:, 4:].contiguous()
        return token_loss(shifted.view(-1, 64), labels, 64)
"""
# cross attention without a scale: the first node reads the keys
CROSSED = """
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.q, self.k, self.v = nn.Linear(64, 64), nn.Linear(64, 64), nn.Linear(64, 64)
    def forward(self, x, y):
        q = (self.q(x) * 0.25).view(-1, 8, 4, 16).transpose(1, 2).contiguous()
        k = self.k(y).view(-1, 20, 4, 16).transpose(1, 2).contiguous()
        v = self.v(y).view(-1, 20, 4, 16).transpose(1, 2).contiguous()
        z = F.scaled_dot_product_attention(q, k, v, scale=1.0)
        return z.transpose(1, 2).reshape(-1, 8, 64)
"""
# heads of one class, whose first lines compute the same of what they are given
HEADED = """
class Head(nn.Module):
    def __init__(self):
        super().__init__()
        self.one, self.two = nn.Conv2d(8, 8, 3, padding=1), nn.Conv2d(8, 2, 1)
    def forward(self, feats):
        y = F.interpolate(feats[-1], scale_factor=2.0) + feats[-2]
        y = self.one(y).tanh()
        return self.two(y)
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem, self.down = nn.Conv2d(3, 8, 3, padding=1), nn.Conv2d(8, 8, 3, stride=2, padding=1)
        self.heads = nn.ModuleDict({"mask": Head(), "edge": Head(), "kind": Head()})
    def forward(self, x):
        a = torch.sigmoid(self.stem(x))
        b = torch.sigmoid(self.down(a))
        outs = {k: head([a, b]) for k, head in self.heads.items()}
        return sum(o.mean() for o in outs.values())
"""
# an argument that is the same in each round stands before the first one's module
SAME_MASK = """
class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.one, self.two = nn.Linear(64, 64), nn.Linear(64, 64)
    def forward(self, h, e, mask):
        new = torch.sigmoid(self.one(h)) + self.two(e).sin() * mask
        return h + new, e + new * 2
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.into, self.layers = nn.Linear(64, 64), nn.ModuleList([Layer(), Layer(), Layer()])
    def forward(self, x, m):
        e = self.into(x).exp()
        h = x.cos()
        for layer in self.layers:
            h, e = layer(h, e, m.unsqueeze(-1))
        return h * e
"""
# what the first layer makes is handed through all others by their caller
BIASED = """
class Layer(nn.Module):
    def __init__(self, first):
        super().__init__()
        self.fc = nn.Linear(64, 64)
        self.bias = nn.Linear(64, 64) if first else None
    def forward(self, x, bias=None):
        if bias is None:
            bias = self.bias(x.mean(1, keepdim=True)).tanh() + x
        scores = self.fc(x)
        scores += bias
        return torch.sigmoid(scores), bias
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([Layer(i == 0) for i in range(4)])
    def forward(self, x):
        bias = None
        for layer in self.layers:
            outs = layer(x, bias)
            x = outs[0]
            bias = outs[1]
        return x
"""
DENSE_FUNCTION = """fn = bottleneck(self.norm1, self.relu, self.conv1)
        y = checkpoint(fn, *feats, use_reentrant=False)"""
# a layer that puts a function of its own under checkpoint, as torchvision's DenseNet does with memory_efficient
DENSE = """
from torch.utils.checkpoint import checkpoint
def bottleneck(norm, relu, conv):
    def run(*feats):
        return conv(relu(norm(torch.cat(feats, 1))))
    return run
class Layer(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.norm1, self.conv1 = nn.BatchNorm2d(n), nn.Conv2d(n, 16, 1, bias=False)
        self.norm2, self.conv2 = nn.BatchNorm2d(16), nn.Conv2d(16, 8, 3, padding=1, bias=False)
        self.relu = nn.ReLU()
    def call_checkpoint_bottleneck(self, feats):
        def closure(*feats):
            return self.conv1(self.relu(self.norm1(torch.cat(feats, 1))))
        return checkpoint(closure, *feats, use_reentrant=False)
    def forward(self, feats):
        %s
        z = self.conv2(self.norm2(y).tanh())
        return z
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([Layer(8), Layer(16), Layer(24)])
    def forward(self, x):
        feats = [x]
        for layer in self.layers:
            z = layer(feats)
            feats.append(z)
        return torch.cat(feats, 1)
"""
ONE_OF_A_LIST = """
class Joined(nn.Module):
    def forward(self, x):
        maps = [x]
        return torch.cat(maps, 1)


class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.join, self.b = nn.Linear(64, 32), Joined(), nn.Linear(8, 48)

    def forward(self, x):
        y = self.a(x).transpose(-1, -2)
        z = torch.lerp(self.join(y), y, 0.5)
        return self.b(y) + z.mean()
"""

RESULT_CONTIGUOUS = """
class First(nn.Module):
    def forward(self, x):
        y, *rest = x.chunk(3, 1)
        return y


class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.first = nn.Linear(64, 32), First()

    def forward(self, x):
        y = self.a(x)
        return self.first(y).contiguous().relu()
"""

PADS_APART = """
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.conv, self.pad = nn.Linear(64, 32), nn.Conv1d(8, 8, 3), nn.ConstantPad1d((2, 0), 0.0)

    def forward(self, x):
        x = self.a(x)
        %s
        return x.tanh()
"""

PADS = {  # a convolution takes in the padding before it, and the file has no line of that
    "rebinds": "x = x + 1\n        x = F.pad(x, (1, 1))\n        x = self.conv(x)",
    "module": "x = self.pad(x + 1)\n        x = self.conv(x)",
    "inside": "x = self.conv(self.pad(x + 1)).exp()",
    "named": "y = x + 1\n        x = self.pad(y)\n        x = self.conv(x)",
    "function": "x = F.pad(x + 1, (1, 1))\n        x = F.conv1d(x, self.conv.weight)",
}

GROWS_FOR_NOBODY = """
class Dense(nn.Module):
    def __init__(self, depth=4, width=8):
        super().__init__()
        self.depth = depth
        for i in range(depth):
            setattr(self, f"pad{i + 1}", nn.ConstantPad1d((1, 1), value=0.0))
            setattr(self, f"conv{i + 1}", nn.Conv1d(width * (i + 1), width, 3))
            setattr(self, f"act{i + 1}", nn.PReLU(width))

    def forward(self, x):
        skip = x
        for i in range(1, self.depth + 1):
            out = getattr(self, f"pad{i}")(skip)
            out = getattr(self, f"act{i}")(getattr(self, f"conv{i}")(out))
            skip = torch.cat([out, skip], dim=1)
        return out


class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.one, self.two = nn.Linear(64, 32), Dense(), Dense()

    def forward(self, x):
        x = self.a(x)
        return self.one(x).tanh() * self.two(x).sigmoid()
"""

TWO_ROUNDS = """
class Again(nn.Module):
    def __init__(self):
        super().__init__()
        self.act, self.fc = nn.GELU(), nn.Linear(32, 32)

    def forward(self, x):
        y = x.abs()
        for _ in range(2):
            y = self.fc(self.act(y))
        return y


class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.again = nn.Linear(64, 32), Again()
        self.a.requires_grad_(False)

    def forward(self, x):
        return self.again(self.a(x))
"""

ONE_HEAD = """
class Attend(nn.Module):
    def __init__(self):
        super().__init__()
        self.size, self.q = 64, nn.Linear(64, 64)

    def forward(self, x, y):
        q = self.q(x)
        y_ = torch.cat(torch.split(y, self.size, dim=2), dim=0)
        q_ = torch.cat(torch.split(q, self.size, dim=2), dim=0)
        w = torch.transpose(y_, 1, 2)
        w = q_.matmul(w)
        w = w.softmax(-1)
        w = w.tanh()
        return w.matmul(x) + q


class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.attend = nn.Linear(64, 64), Attend()

    def forward(self, x):
        x = self.a(x)
        return self.attend(x, x.exp() + 1)
"""

TIED_FROZEN = """
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.table, self.head = nn.Embedding(100, 64), nn.Linear(64, 100, bias=False)
        self.fc = nn.Linear(64, 64)
        self.head.weight = self.table.weight
        self.table.weight.requires_grad_(False)
        self.table.register_forward_hook(lambda module, args, out: out.requires_grad_(True))

    def forward(self, x):
        x = torch.utils.checkpoint.checkpoint(self.fc, self.table(x), use_reentrant=True)
        return self.head(x)
"""

SUM_AGAIN = """
class Project(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(64, 64)

    def forward(self, x):
        return self.fc(x)


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.attend, self.norm, self.up = Project(), nn.LayerNorm(64), nn.Linear(64, 64)

    def forward(self, q, place):
        x = q + place
        q = self.norm(q + self.attend(x))
        x = q + place
        k = self.up(x)
        return q, k


class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.block, self.last = nn.Linear(64, 64), Block(), Project()

    def forward(self, x):
        place = self.a(x)
        q, k = self.block(x, place)
        x = q + place
        return self.last(x) * k
"""

CASES = {  # name: (classes, entry, entry of the step where it is another, options, precisions)
    **{n: (FORWARD % text, ROWS, None, [], (*steps.PRECISIONS, "bf16")) for n, text in CASTS.items()},
    **{n: (FORWARD % text, ROWS, None, [], steps.PRECISIONS) for n, text in FURTHER.items()},
    "rms_of_heads": (  # fake tensors differ in fp32: their gradient lies as the input does
        FORWARD % (LYING % ("4, 64", "transpose(1, 2)", "transpose(1, 2)")),
        ROWS,
        None,
        [],
        ("amp-bf16",),
    ),
    "rms_of_channels": (
        FORWARD % (LYING % ("16, 16", "permute(0, 3, 1, 2)", "permute(0, 2, 3, 1)")),
        ROWS,
        None,
        [],
        steps.PRECISIONS,
    ),
    **{n: (MADE_BY + FORWARD % text, ROWS, None, [], steps.PRECISIONS) for n, text in MADE.items()},
    "made_argument": (MADE_BY + FORWARD % "return self.b(Pad()(h))", ROWS, None, [], steps.PRECISIONS),
    **{n: (NORM % text, ROWS, None, [], steps.PRECISIONS) for n, text in NORMS.items()},
    **{n: (FORWARD % text, ROWS, None, [], steps.PRECISIONS) for n, text in SUMS.items()},
    **{n: (CODES % text, entry(X, "None", "out"), None, [], steps.PRECISIONS) for n, text in QUANTIZERS.items()},
    "norm_super": (SUPER % ("LayerNorm", "Norm(256)"), ROWS, None, [], steps.PRECISIONS),
    "norm_groups": (SUPER % ("GroupNorm", "nn.Sequential(Norm(4, 8))"), ROWS, None, [], steps.PRECISIONS),
    "norm_turned": (SUPER % ("LayerNorm", "Turned()"), ROWS, None, [], steps.PRECISIONS),
    "states_of_a_cell": (STATES, entry(X, "torch.zeros(b, dtype=torch.long)", CLASSES), None, [], steps.PRECISIONS),
    "fields": (
        FIELDS,
        entry(FIELD, "torch.rand(b, 1)", "F.mse_loss(out, targets)"),
        None,
        ["--loss=mse"],
        steps.PRECISIONS,
    ),
    **{name: (FORWARD % text, ROWS, None, [], steps.PRECISIONS) for name, text in KEPT.items()},
    "tensordot_twice": (TENSORDOT, ROWS, None, [], steps.PRECISIONS),
    "kept_weights": (ATTENTION, ROWS, None, [], steps.PRECISIONS),
    "teacher": (
        TEACHER,
        entry(IMAGE, "torch.zeros(b, dtype=torch.long)", CLASSES),
        None,
        ["--freeze=t.*"],
        steps.PRECISIONS,
    ),
    "pixels_loss": (PIXELS, entry(PLACES, "None", "out"), None, ["--loss=output"], steps.PRECISIONS),
    "own_loss": (NANO, entry(IDS, "None", "out[1]"), None, [], steps.PRECISIONS),
    "only_loss": (INSIDE, entry(PAIR, "None", "out"), None, [], steps.PRECISIONS),
    "two_losses": (
        TWO,
        entry(IMAGE, "(torch.zeros(b, dtype=torch.long), torch.rand(b, 4))", BOXES),
        None,
        ["--loss=cross-entropy:output", "--loss=smooth-l1:linear_1"],
        steps.PRECISIONS,
    ),
    "l1": (
        TWO,
        entry(IMAGE, "torch.rand(b, 10)", "F.l1_loss(out[0], targets)"),
        None,
        ["--loss=l1:output"],
        steps.PRECISIONS,
    ),
    "one_of_three": (VAE, entry(FLAT, "None", "out[0].sum()"), None, ["--loss=sum:output"], steps.PRECISIONS),
    **{
        n: (SCORES % text, entry(RATED, "None", "out"), None, ["--loss=output"], steps.PRECISIONS)
        for n, text in FOCAL.items()
    },
    "clones": (CLONES, entry(IMAGE, "None", "out.sum()"), None, ["--loss=sum"], steps.PRECISIONS),
    "circular": (CIRCULAR, entry(X, "None", "out.sum()"), None, ["--loss=sum"], steps.PRECISIONS),
    "modulated": (MODULATED, entry(IMAGE, "None", "out.sum()"), None, ["--loss=sum"], steps.PRECISIONS),
    "parts": (PARTS, entry(IMAGE, "None", "out.sum()"), None, ["--loss=sum"], steps.PRECISIONS),
    "paths": (PATHS, ROWS, None, [], steps.PRECISIONS),
    "training_step": (
        STEP,
        ROWS,
        entry('{"x": torch.rand(b, 8, 64), "y": ids(b, 8)}', "None", "out"),
        ["--loop=training-step"],
        steps.PRECISIONS,
    ),
    **{
        f"positions_{n}": (POSITIONS % n, entry(X.replace("8", str(n)), f"ids(b, {n})", CLASSES), None, [], ("fp32",))
        for n in (9, 21, 196)  # record.py stands in for attention, and casts a mask otherwise
    },
    "lora": (ADAPTERS % ("", ", lora_dropout=.1"), ROWS, None, ["--train=*lora_*"], steps.PRECISIONS),
    **{
        f"packed_{base}{'_half' * (case is HALF)}": (
            PACKED.replace("HALF", str(case is HALF)),
            case,
            case.replace("(M,", f"(lambda: packed({base == 'nf4-double'}),").replace(", real_build=True", ""),
            ["--train=*lora_*", f"--base={base}"],
            precisions,
        )
        for base in ("nf4", "nf4-double")
        for case, precisions in ((ROWS, ("fp32", "bf16")), (HALF, ("fp32",)))
    },
    "joined": (
        JOINED % ('self.register_buffer("k_bias", torch.zeros(n), persistent=False)', "self.k_bias"),
        ROWS,
        None,
        [],
        steps.PRECISIONS,
    ),
    "joined_zeros": (JOINED % ("pass", "torch.zeros_like(self.v_bias)"), ROWS, None, [], steps.PRECISIONS),
    "picked": (PICKED, ROWS, None, [], steps.PRECISIONS),
    "bytes": (BYTES, ROWS, None, [], steps.PRECISIONS),
    "runs": (RUNS, ROWS, None, [], steps.PRECISIONS),
    "embedded": (EMBEDDED, ROWS, None, [], steps.PRECISIONS),
    "brackets": (BRACKETS, ROWS, None, [], steps.PRECISIONS),
    "keywords": (KEYWORDS, ROWS, None, [], steps.PRECISIONS),
    "tuples": (TUPLES, ROWS, None, [], steps.PRECISIONS),
    "warped": (WARPED, entry(IMAGE, "None", "out.sum()"), None, ["--loss=sum"], steps.PRECISIONS),
    "scaled": (SCALED, entry(IMAGE, "torch.zeros(b, dtype=torch.long)", CLASSES), None, [], steps.PRECISIONS),
    "structure": (STRUCTURE, entry(IMAGE, "None", "out"), None, ["--loss=output"], steps.PRECISIONS),
    "padded": (PADDED, entry(IMAGE, "torch.zeros(b, dtype=torch.long)", CLASSES), None, [], steps.PRECISIONS),
    "volume": (VOLUME, entry(IMAGE, "torch.zeros(b, dtype=torch.long)", CLASSES), None, [], steps.PRECISIONS),
    "rounds": (ROUNDS, ROWS, None, [], steps.PRECISIONS),
    "buckets": (BUCKETS, ROWS, None, [], steps.PRECISIONS),
    **{
        n: (text, entry(X, "None", "out.sum()"), None, ["--loss=sum"], steps.PRECISIONS)
        for n, text in (
            *SPECTRAL.items(),
            ("copied", COPIED % "z = self.target(x)"),
            ("again_free", AGAIN_FREE),
            ("handed", HANDED),
            ("below", BELOW),
            ("lists", LISTS),
            *CARRIED.items(),
            ("unbound", UNBOUND),
            ("edges", EDGES),
            ("skipped", SKIPPED),
            ("backcast", BACKCAST),
            ("placed", PLACED),
            ("distances", DISTANCES),
            ("picked_rows", PICKED_ROWS),
            ("tabled", TABLED),
            ("apart", APART),
            ("snakes", SNAKES),
            ("counts", COUNTS),
            *NUMBERED.items(),
            ("queries", QUERIES),
            ("windows", WINDOWS),
            ("pairs", PAIRS),
            ("scaled_linear", SCALED_LINEAR),
            ("seeds", SEEDS),
            ("kinds", KINDS),
            ("frequencies", FREQUENCIES),
            ("mixed", MIXED),
            ("tokens", TOKENS),
            ("intervals", INTERVALS),
            *(
                (name, OF_PARAMETER % line)
                for name, line in {
                    "gate_named": "g = torch.sigmoid(self.g)\n        y = g * a + (1 - g) * b",
                    "gate_twice": "y = torch.sigmoid(self.g) * a + (1 - torch.sigmoid(self.g)) * b",
                    "power": "y = a * (1 - self.g ** 2) + b * self.g",
                    "negative": "y = torch.exp(-self.g) * a + b",
                    "absolute": "y = a / (self.g.abs() + 1e-6) + b",
                    "softened": "y = a * F.softplus(self.g) + b / (F.softplus(self.g) + 1e-3)",
                }.items()
            ),
            ("memory", MEMORY),
        )
    },
    **{
        n: (text, entry(IMAGE, "None", "out.sum()"), None, ["--loss=sum"], steps.PRECISIONS)
        for n, text in (
            ("skips", SKIPS),
            ("sampled", SAMPLED),
            ("unturned", UNTURNED),
            ("halves", HALVES),
            ("plain_norm", PLAIN_NORM),
            ("neck", NECK),
        )
    },
    "gated": (GATED, entry(X, "None", "out.sum()"), None, ["--loss=sum"], steps.PRECISIONS),
    "reshaped": (RESHAPED, entry(X, "None", "out.sum()"), None, ["--loss=sum"], steps.PRECISIONS),
    **{
        n: (SUMMED % how, entry(X, "None", "out.sum()"), None, ["--loss=sum"], steps.PRECISIONS)
        for n, how in (
            ("from_nought", "for l in self.layers:\n            out = out + l(h).relu()"),
            (
                "from_nought_lines",
                "out += self.layers[0](h) / 2\n        out += self.layers[1](h)\n        "
                "out = out + self.layers[2](h)",
            ),
            (
                "of_nought_too",
                "u = self.layers[0](h) + self.layers[1](h) + 0\n        out = self.layers[2](h) * u.sin()",
            ),
            (
                "of_nought_first",
                "u = 0 + self.layers[0](h) + self.layers[1](h)\n        out = u.sin() + u.cos() + h.sum()",
            ),
            ("of_equals", "u, v = self.layers[0](h), self.layers[1](h)\n        out = (u + v).sin() * (u + v).cos()"),
        )
    },
    "gathered": (GATHERED, entry(X, "None", "out.sum()"), None, ["--loss=sum"], ("fp32",)),
    "skipping": (SKIPPING, entry(X, "None", "out.sum()"), None, ["--loss=sum"], ("fp32",)),
    "states": (LAST_STATES, entry(X, "None", "out.sum()"), None, ["--loss=sum", "--freeze=enc.*"], steps.PRECISIONS),
    "messages": (
        MESSAGES,
        entry('{"x": torch.rand(b, 8, 64), "edges": torch.zeros(b, 2, 20, dtype=torch.long)}', "None", "out.sum()"),
        None,
        ["--loss=sum"],
        steps.PRECISIONS,
    ),
    "criterion": (CRITERION, entry(RATED, "None", "out"), None, ["--loss=output"], steps.PRECISIONS),
    "copied_frozen": (
        COPIED % "with torch.no_grad():\n            z = self.target(x)",
        entry(X, "None", "out.sum()"),
        None,
        ["--loss=sum", "--freeze=target.*"],
        ("fp32",),
    ),
    "again": (AGAIN, entry('{"ids": ids(b, 160)}', "None", "out.sum()"), None, ["--loss=sum"], steps.PRECISIONS),
    **{
        n: (ITERATED % how, entry(made, "None", "out.sum()"), None, ["--loss=sum"], ("fp32",))
        for n, how, made in (
            ("iterated", "U.parametrizations.spectral_norm(nn.Linear(64, 256)), nn.Linear(256, 64)", X),
            ("iterated_hook", "U.spectral_norm(nn.Linear(64, 256)), nn.Linear(256, 64)", X),
            ("iterated_conv", "nn.Conv2d(3, 64, 3), U.spectral_norm(nn.Conv2d(64, 64, 3))", IMAGE),
        )
    },
    **{
        n: (RECURRENT % how, ROWS, None, ["--assume", "recurrent=cells"], ("amp-bf16",))
        for n, how in {"cells": ("1, batch_first=True", 16), "cells_both": ("2, bidirectional=True", 32)}.items()
    },
    "lora_embedding": (ADAPTED_TABLE, entry(TEXT, "ids(b, 16)", CLASSES), None, [], steps.PRECISIONS),
    "lora_sliced": (SLICED, ROWS, None, [], ("fp32",)),
    **{
        f"two_losses_{n}": (
            TWO_LOSSES % f"F.{n}(h, y, {rest}) + 0.1 * F.l1_loss(h.sin(), y)",
            entry('{"x": torch.rand(b, 8, 64), "y": torch.rand(b, 8, 64)}', "None", "out"),
            None,
            ["--loss=output"],
            steps.PRECISIONS,
        )
        for n, rest in (("huber_loss", "delta=0.5"), ("smooth_l1_loss", "beta=0.5"))
    },
    "paired": (
        PAIRED,
        entry(
            '{"chosen": torch.rand(b, 8, 64), "rejected": torch.rand(b, 8, 64), "at": ids(b, 1)[:, 0]}',
            "None",
            "out.sum()",
        ),
        None,
        ["--loss=sum"],
        steps.PRECISIONS,
    ),
    "handed_on": (
        HANDED_ON,
        entry('{"x": torch.rand(b, 8, 64), "there": ids(b, 20), "back": ids(b, 20)}', "None", "out.sum()"),
        None,
        ["--loss=sum"],
        ("fp32",),
    ),
    **{
        f"given_{n}": (GIVEN % how, entry(X, "None", "out.sum()"), None, ["--loss=sum"], steps.PRECISIONS)
        for n, how in GIVES.items()
    },
    "turned_over": (TURNED, entry(X, "None", "out.sum()"), None, ["--loss=sum"], ("fp32",)),
    "written_to": (WRITTEN_TO, ROWS, None, ["--freeze=frozen.*"], ("fp32",)),
    **{
        f"discriminates_{n}": (DISCRIMINATED % how, entry(IMAGE, "None", "out"), None, ["--loss=output"], ("fp32",))
        for n, how in DISCRIMINATES.items()
    },
    "twins": (
        TWINS,
        entry(IMAGE, "None", "out.sum()"),
        None,
        ["--loss=sum", "--freeze=teacher.*"],
        steps.PRECISIONS,
    ),
    "reenters_hooked": (
        REENTERS_HOOKED,
        entry('{"x": ids(b, 20)}', "None", "out.sum()"),
        None,
        ["--loss=sum", "--freeze=table.*"],
        ("fp32",),
    ),
    **{
        n: (text, entry(made, "None", "out.sum()"), None, ["--loss=sum"], precisions)
        for n, text, made, precisions in (
            # PyTorch without a GPU records no autocast in what is computed again
            ("recomputed", RECOMPUTED % (ROUNDS + "checkpoint(b, x, 0.5, use_reentrant=False)"), X, ("fp32",)),
            ("recomputed_training", RECOMPUTED % (ROUNDS + IN_TRAINING), X, ("fp32",)),
            ("recomputed_not", RECOMPUTED % (ROUNDS + NOT_IN_TRAINING), X, ("fp32",)),
            ("switched", RECOMPUTED % (ROUNDS + "self._gradient_checkpointing_func(b, x, 0.5)"), X, ("fp32",)),
            ("recomputed_each", LISTED + RECOMPUTED % "x = checkpoint_seq(self.blocks, x)", X, ("fp32",)),
            ("recomputed_within", LISTED + RECOMPUTED % (WITHIN % "checkpoint_seq(self.blocks, x)"), X, ("fp32",)),
            ("recomputed_segments", SEQUENCE + RECOMPUTED % SEGMENTED, X, ("fp32",)),
            ("kept_apart", RECOMPUTED % (ROUNDS + "b(x, 0.5)"), X, steps.PRECISIONS),
            ("wrapped", WRAPPED, X, steps.PRECISIONS),
            ("real_mask", REAL_MASK, X, ("fp32",)),
            ("similar", SIMILAR, IMAGE, steps.PRECISIONS),
            ("cut_windows", CUT_WINDOWS, IMAGE, steps.PRECISIONS),
            ("standardized", STANDARDIZED, IMAGE, steps.PRECISIONS),
            ("copied_codes", COPIED_CODES, X, steps.PRECISIONS),
            ("queued", QUEUED, X, steps.PRECISIONS),
            ("broadcast", BROADCAST, X, steps.PRECISIONS),
            ("registered", REGISTERED, X, steps.PRECISIONS),
            ("undropped_teacher", TEACHER % UNDROPPED, X, ("fp32",)),
            ("normed_teacher", TEACHER % (NORMED % 8192), X, ("fp32",)),
            ("normed_constant", TEACHER % (NORMED % 64), X, ("fp32",)),
            ("recomputed_method", METHOD_RECOMPUTED, X, ("fp32",)),
            *((f"reenters_{n}", REENTRANT % how, X, ("fp32",)) for n, how in REENTERS.items()),
            ("reenters_widens", REENTERS_WIDENS % REENTERS["layers"], X, ("fp32",)),
            ("reenters_dense", REENTERS_DENSE, IMAGE, ("fp32",)),
            ("reenters_distilled", REENTERS_DISTILLED, X, ("fp32",)),
            ("normed_outside", NORMED_OUTSIDE, X, steps.PRECISIONS),
            ("begun", BEGUN, X, steps.PRECISIONS),
            ("relisted", RELISTED, X, steps.PRECISIONS),
            ("zipped", ZIPPED, X, steps.PRECISIONS),
            ("experts", EXPERTS, X, steps.PRECISIONS),
            ("unrolled", UNROLLED, X, steps.PRECISIONS),
            *((f"ends_cast_{n}", ENDS_CAST % how, X, steps.PRECISIONS) for n, how in ENDS.items()),
            ("joined_keys", JOINED_KEYS, '{"x": torch.rand(4, 8, 64)}', steps.PRECISIONS),
        )
    },
    "momentum": (
        MOMENTUM,
        entry(SERIES, "None", "out.sum()"),
        None,
        ["--loss=sum", "--freeze=teacher.*"],
        steps.PRECISIONS,
    ),
    "vocoder": (
        VOCODER,
        entry('{"x": torch.rand(b, 4, 256), "real": torch.rand(b, 4, 256)}', "None", "out"),
        None,
        ["--loss=output"],
        ("fp32",),
    ),
    "bound_before": (
        BOUND_BEFORE,
        entry(SMALL_IMAGE, "None", "out.sum()"),
        None,
        ["--loss=sum", "--freeze=trunk.*"],
        ("fp32",),
    ),
    "margins": (
        MARGINS,
        entry('{"x": torch.rand(b, 64), "y": ids(b, 1)[:, 0]}', "None", "out"),
        None,
        ["--loss=output"],
        steps.PRECISIONS,
    ),
    "states_asked": (
        STATES_ASKED,
        entry('{"ids": ids(b, 32)}', "None", "out.sum()"),
        None,
        ["--loss=sum"],
        ("amp-bf16",),
    ),
    **{  # both losses of a GAN in one step
        n: (
            BOTH_LOSSES % step,
            entry('{"x": torch.rand(b, 64), "z": torch.rand(b, 64)}', "None", "out"),
            None,
            ["--loss=output"],
            steps.PRECISIONS,
        )
        for n, step in (
            (
                "critic_first",
                """fake_d = self.d(fake.detach()).flatten()
        loss_d = ((real - 1) ** 2).mean() + (fake_d**2).mean()
        loss_g = ((self.d(fake).flatten() - 1) ** 2).mean()""",
            ),
            (
                "generator_first",
                """fake_g = self.d(fake).flatten()
        loss_g = ((fake_g - 1) ** 2).mean()
        loss_d = ((real - 1) ** 2).mean() + (self.d(fake.detach()).flatten() ** 2).mean()""",
            ),
        )
    },
    **{
        n: (classes, entry(inputs, "None", "out.sum()"), None, ["--loss=sum"], precisions)
        for n, classes, inputs, precisions in (
            ("slopes", SLOPES, '{"x": torch.rand(b, 128, 64)}', steps.PRECISIONS),
            ("windowed", WINDOWED, '{"x": torch.rand(b, 49, 64)}', steps.PRECISIONS),
            ("padded_keys", PADDED_KEYS, '{"ids": ids(b, 32)}', ("fp32",)),
        )
    },
    "further_lines": (
        FURTHER_LINES,
        entry(SMALL_IMAGE, "None", "out.sum()"),
        None,
        ["--loss=sum", "--freeze=trunk.*"],
        ("fp32",),
    ),
    "runs_twice": (
        RUNS_TWICE,
        entry('{"x": torch.rand(b, 64)}', "None", "out"),
        None,
        ["--loss=output"],
        steps.PRECISIONS,
    ),
    "log_rows": (
        LOG_ROWS,
        entry(X, "ids(b, 8)", "F.nll_loss(out.reshape(-1, 64), targets.reshape(-1))"),
        None,
        ["--loss=nll"],
        steps.PRECISIONS,
    ),
    **{
        n: (classes, entry(inputs, "None", "out"), None, ["--loss=output", *more], precisions)
        for n, classes, inputs, more, precisions in (
            ("shifted", SHIFTED, '{"ids": ids(b, 32)}', (), steps.PRECISIONS),
            ("headed", HEADED, IMAGE, (), steps.PRECISIONS),
        )
    },
    **{
        n: (classes, entry(inputs, "None", "out.sum()"), None, ["--loss=sum"], precisions)
        for n, classes, inputs, precisions in (
            ("rectified", RECTIFIED, X, steps.PRECISIONS),
            ("crossed", CROSSED, '{"x": torch.rand(b, 8, 64), "y": torch.rand(b, 20, 64)}', steps.PRECISIONS),
            ("same_mask", SAME_MASK, '{"x": torch.rand(b, 8, 64), "m": torch.rand(b, 8)}', steps.PRECISIONS),
            ("biased", BIASED, X, steps.PRECISIONS),
            ("parted", PARTED, X, steps.PRECISIONS),
            ("dense", DENSE % "y = self.call_checkpoint_bottleneck(feats)", SMALL_IMAGE, ("fp32",)),
            ("dense_function", DENSE % DENSE_FUNCTION, SMALL_IMAGE, ("fp32",)),
        )
    },
    "deep": (DEEP, entry(RATED, "None", "out"), None, ["--loss=output"], ("fp32",)),
    "judged": (JUDGED, entry(RATED, "None", "out"), None, ["--loss=output"], ("fp32",)),
    "weighed": (WEIGHED, entry(RATED, "None", "out"), None, ["--loss=output"], steps.PRECISIONS),
    "scored": (SCORED, entry(RATED, "None", "out"), None, ["--loss=output"], steps.PRECISIONS),
    "forward_direct": (DIRECT, ROWS, None, [], steps.PRECISIONS),
    **{
        f"far_apart_{n}": (
            FAR_APART % text,
            entry(POINTS, "None", "out"),
            None,
            ["--loss=output"],
            steps.PRECISIONS,
        )
        for n, text in (
            ("once", "chamfer(g, x)"),
            ("shares", "chamfer(h, x) + chamfer(g, x)"),
        )
    },
    **{
        f"writes_every_second_{n}": (
            WRITES_EVERY_SECOND % text,
            entry(X, "None", "out.sum()"),
            None,
            ["--loss=sum"],
            ("fp32",),
        )
        for n, text in (("permute", "permute(0, 2, 1, 3)"), ("transpose", "transpose(1, 2)"))
    },
    "snakes_of_ones": (SNAKES_OF_ONES, entry(X, "None", "out.sum()"), None, ["--loss=sum"], steps.PRECISIONS),
    "typed_back": (TYPED_BACK, entry(X, "None", "out.sum()"), None, ["--loss=sum"], steps.PRECISIONS),
    **{
        f"pads_{n}": (PADS_APART % text, entry(X, "None", "out.sum()"), None, ["--loss=sum"], ("fp32",))
        for n, text in PADS.items()
    },
    "grows_for_nobody": (GROWS_FOR_NOBODY, entry(X, "None", "out.sum()"), None, ["--loss=sum"], steps.PRECISIONS),
    "two_rounds": (TWO_ROUNDS, entry(X, "None", "out.sum()"), None, ["--loss=sum", "--freeze=a.*"], ("fp32",)),
    "one_head": (ONE_HEAD, entry(X, "None", "out.sum()"), None, ["--loss=sum"], steps.PRECISIONS),
    "tied_frozen": (TIED_FROZEN, entry(TEXT, "None", "out.sum()"), None, ["--loss=sum", "--freeze=table.*"], ("fp32",)),
    "sum_again": (SUM_AGAIN, entry(X, "None", "out.sum()"), None, ["--loss=sum"], steps.PRECISIONS),
    "one_of_a_list": (ONE_OF_A_LIST, entry(X, "None", "out.sum()"), None, ["--loss=sum"], steps.PRECISIONS),
    "result_contiguous": (RESULT_CONTIGUOUS, entry(X, "None", "out.sum()"), None, ["--loss=sum"], steps.PRECISIONS),
    "goes_through": (GOES_THROUGH, entry(X, "None", "out.sum()"), None, ["--loss=sum"], steps.PRECISIONS),
    "teaches_maps": (TEACHES_MAPS, entry(SMALL_IMAGE, "None", "out"), None, ["--loss=output"], ("fp32",)),
    **{  # dropout: casts of one input for two adapters, which the exporter merges with the dropouts
        n: (ADAPTERS % (".to(torch.bfloat16)", drops), HALF, None, ["--train=*lora_*"], ("fp32",))
        for n, drops in (("lora_half", ""), ("lora_half_dropout", ", lora_dropout=0.1"))
    },
}

FIXED = ("joined_keys",)  # what the exporter makes of fixed sizes


def run(a, bench):
    passed = failed = 0
    exact = []
    for name, (classes, case, step, options, precisions) in CASES.items():
        if not re.search(a.only, name):
            continue
        source = HEAD + classes + f'ZOO = {{"case": {case}}}\n' + (f'ZOO["step"] = {step}\n' if step else "")
        batch = None if name in FIXED else 4
        options = ["--dim", "batch=4"] * bool(batch) + ["--optimizer", "adamw", *options]
        for precision in precisions:
            cannot = bench.take(name, source, precision, batch=batch, optimizer="adamw")
            verdict, truth, got = ("skipped", [], []) if cannot else bench.compare(name, options, precision)
            if verdict == "exact":
                passed += 1
                exact.append((name, options, precision))
                continue
            failed += 1
            print(f"{verdict}  {name} {precision}", cannot or "\n".join(steps.first_difference(truth, got)), flush=True)
    if a.pack:
        steps.pack(bench.folder, a.pack, exact)
    print(f"{passed} passed, {failed} failed")
    return failed != 0


if __name__ == "__main__":
    sys.exit(steps.on_bench(run, steps.arguments(__doc__).parse_args()))
