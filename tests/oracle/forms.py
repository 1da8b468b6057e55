#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Operators that PyTorch's old exporter writes as several nodes (src/lower/forms.c), and what modules compute that it
writes once, by TorchScript's exporter in training mode: steps that PyTorch ran, event by event.

    forms.py MEMLINT RECORD.PY EXPORT.PY [--only REGEX] [--keep DIR] [--pack FILE] [-v]

OPEN names what no rule follows: exit 1 when one differs that is not open.
"""

import os, sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import families, steps

OPTIONS = ["--dim", "batch=4", "--loss=cross-entropy", "--assume", "accumulate=never", "--dropout=none"]
CASES = {  # of x, which is 4 x 8 x 32; with a module, that is self.op
    "gelu": "F.gelu(x)",
    "gelu_tanh": "F.gelu(x, approximate='tanh')",
    "silu": "F.silu(x)",
    "sigmoid_module": ("x * self.op(x)", "nn.Sigmoid()"),
    "mish": "F.mish(x)",
    "log_sigmoid": "F.logsigmoid(x)",
    "log1p": "torch.log1p(x.abs())",
    "log_added": "torch.log(x.abs() + 1)",
    "rsqrt": "torch.rsqrt(x * x + 1)",
    "root_reciprocal": "1 / torch.sqrt(x * x + 1)",
    "cosine": "F.cosine_similarity(x, x.flip(1), -1).unsqueeze(-1) * x",
    "cosine_wider": "F.cosine_similarity(x, x[:, :1], -1).unsqueeze(-1) * x",
    "std": "x / x.std(1, keepdim=True)",
    "std_all": "x / x.std()",
    "var": "x * x.var(-1, keepdim=True)",
    "var_biased": "x * x.var(-1, unbiased=False, keepdim=True)",
    "std_biased": "x * x.std(-1, unbiased=False, keepdim=True)",
    "var_mean_all": "torch.cat([t.view(1) for t in torch.var_mean(x)]).sum() * x",
    "std_mean_all": "torch.cat([t.view(1) for t in torch.std_mean(x)]).sum() * x",
    "mse": "x * F.mse_loss(x, x.flip(1))",
    "mse_sum": "x * F.mse_loss(x, x.flip(1), reduction='sum')",
    "bce": "x * F.binary_cross_entropy_with_logits(x, x.detach().sigmoid())",
    "kl_div": "x * F.kl_div(x.log_softmax(-1), x.softmax(-1), reduction='batchmean')",
    "kl_div_mean": "x * F.kl_div(x.log_softmax(-1), x.softmax(-1), reduction='mean')",
    "kl_div_none": "x * F.kl_div(x.log_softmax(-1), x.softmax(-1), reduction='none')",
    "lerp": "torch.lerp(x, x.flip(1), .3)",
    "lerp_tensor": "torch.lerp(x, x.flip(1), x.sigmoid())",
    "hardshrink": "F.hardshrink(x)",
    "softshrink": "F.softshrink(x)",
    "roll": "torch.roll(x, 1, 1)",
    "roll_two": "torch.roll(x, (1, 2), (1, 2))",
    "flip": "x.flip(1)",
    "cdist": "torch.cdist(x, x.flip(1)) @ x",
    "linear_computed": ("F.linear(x, self.op.weight * 2, self.op.bias)", "nn.Linear(32, 32)"),
    "addmm": ("torch.addmm(self.op.bias, x.flatten(0, 1), self.op.weight * 2).view(x.shape)", "nn.Linear(32, 32)"),
    "added_outside": ("(x @ self.op.weight.t()) + self.op.bias", "nn.Linear(32, 32)"),
    "attended": ("self.op(x, x.flip(1))", "nn.TransformerDecoderLayer(32, 4, 64, 0., batch_first=True)"),
    "split_sizes": (
        "(lambda a: a[0].tanh().sum(-1, keepdim=True) + a[1].sum(-1, keepdim=True))"
        "((lambda n: x.split([n, 32 - n], -1))(x.size(1))) * x"
    ),
    "split_first": "(lambda n: x.split([n, n, 32 - 2 * n], -1)[1].sum(-1, keepdim=True) * x)(x.size(1))",
    "mm": ("torch.mm(x.flatten(0, 1), self.op.weight.t()).view(x.shape)", "nn.Linear(32, 32)"),
    "mm_added": ("(torch.mm(x.flatten(0, 1), self.op.weight.t()) + self.op.bias).view(x.shape)", "nn.Linear(32, 32)"),
    "mm_added_twice": (
        "(lambda y: torch.mm(y, self.op.weight.t()) + self.op.bias + torch.mm(y, self.op.weight))(x.flatten(0, 1))"
        ".view(x.shape)",
        "nn.Linear(32, 32)",
    ),
    "mean_beside_var": "(x.mean(1, keepdim=True) + x.var(1, keepdim=True)) * x",
    "masked_fill": "x.masked_fill(x > .5, -1e9)",
    "where": "torch.where(x > .5, -1., x)",
    "addcmul": "torch.addcmul(x, x.flip(1), x)",
    "baddbmm": "(lambda y: torch.baddbmm(x @ y, x, y))(x.transpose(1, 2)) @ x",
    "nan_to_num": "torch.nan_to_num(x)",
    "atan2": "torch.atan2(x, x.flip(1) + 1)",
    "remainder": "(x.flip(1) % .3) + x",
    "remainder_tensor": "torch.remainder(x.flip(1), x + 1)",
    "softplus_beta": "F.softplus(x, beta=2)",
    "cross": "torch.linalg.cross(x[..., :3], x[..., 3:6]).sum(-1, keepdim=True) * x",
    "pairwise_distance": "F.pairwise_distance(x, x.flip(1)).unsqueeze(-1) * x",
    "pairwise_distance_kept": "F.pairwise_distance(x, x.flip(1), keepdim=True) * x",
    "vector_norm": "torch.linalg.vector_norm(x, 3, -1, keepdim=True) * x",
    "circular": "F.pad(x, (1, 1), mode='circular')[..., 1:-1]",
    "circular_two": "F.pad(x.unsqueeze(1), (1, 2, 3, 1), mode='circular').flatten(1, 2)[:, 3:-1, 1:-2]",
    "around_by_hand": "torch.cat([x[..., -1:], x, x[..., :1]], -1)[..., 1:-1]",
    "unfold": "F.unfold(x.unsqueeze(1), 3, padding=1).transpose(1, 2).mean(-1).view(x.shape)",
    "scatter_add": "x.scatter_add(1, (x > .5).long(), x)",
    "new_zeros": "torch.cat([x, x.new_zeros(x.shape[0], 8, 32)], 1)[:, :8]",
    "hardtanh": ("self.op(x)", "nn.Hardtanh(-1, 1)"),
    "clamp": "x.clamp(-1, 1)",
    "maximum": "x * x.amax(-1, keepdim=True)",
    "prod": "x * x.prod(-1, keepdim=True)",
    "prod_all": "x * x.prod()",
    "pooled_line": "x * F.adaptive_avg_pool1d(x, 1)",
    "pooled_volume": "x * F.adaptive_avg_pool3d(x.view(-1, 1, 2, 4, 32), 1).view(-1, 1, 1)",
    "padded_twice": (
        "torch.tanh(self.op[0](x)) * torch.sigmoid(self.op[1](x))",
        "nn.ModuleList([nn.Sequential(nn.ConstantPad1d(1, 0.), nn.Conv1d(8, 8, 3)) for _ in range(2)])",
    ),
    "relu_pad_twice": (
        "self.op[0](x) + self.op[1](x)",
        "nn.ModuleList([nn.Sequential(nn.ReLU(), nn.ConstantPad1d(1, 0.), nn.Conv1d(8, 8, 3)) for _ in range(2)])",
    ),
    "relu_twice": (
        "self.op[0](x) + self.op[1](x)",
        "nn.ModuleList([nn.Sequential(nn.ReLU(), nn.Linear(32, 32)) for _ in range(2)])",
    ),
}
OPEN = {
    "root_reciprocal": "the exporter leaves the product with 1 out, as it is in the file of torch.reciprocal()",
    "cosine_wider": "autograd adds the two gradients of what is expanded in another order",
    "attended": "names in nn.TransformerDecoderLayer hold what no node reads",
    "new_zeros": "in the type of x or in fp32, by the name of full: measured both ways",
    "bce": "names in torch.nn.functional hold what no node reads",
}
ZOO = """
import torch, torch.nn.functional as F
from torch import nn
from zoo_base import *
class Op(nn.Module):
    def __init__(self):
        super().__init__()
        self.op = CONSTRUCTOR
    def forward(self, x):
        return EXPRESSION
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(32, 32), Op(), nn.Linear(32, 5))
    def forward(self, x):
        return self.net(x)
ZOO = {"case": Entry(M, lambda b: ({"x": torch.rand(b, 8, 32)}, ids(b, 8)), cross_entropy, (4,))}
"""


def run(a, bench):
    export = families.by_torchscript(bench, os.path.join(bench.folder, "exported"), False)
    return steps.table(a, bench, steps.between(CASES, ZOO, OPTIONS), OPEN, export=export)


if __name__ == "__main__":
    sys.exit(steps.on_bench(run, steps.arguments(__doc__).parse_args()))
