#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Programs for programs.py: what the exporter's optimizer merges or leaves out, in the ways that people write it.

    rewrites.py DIR

Each row is two expressions, the second of which reads the first: pairs that a rule of onnxscript's optimizer rewrites
(onnxscript/rewriter/rules/common and constant folding) and copies and casts that its files lose. Each is written on one
line, on two lines to one name and to two, with what it came from read later, and across two modules.
"""

import os, sys

import programs

PAIRS = {
    # _fuse_relus_clips, _min_max_to_clip
    "relu_relu": ("{}.relu()", "{}.relu()"),
    "relu_function": ("F.relu({})", "F.relu({})"),
    "relu_clamp": ("F.relu({})", "{}.clamp(0, 1)"),
    "relu_most": ("{}.relu()", "{}.clamp(max=6.)"),
    "relu_relu6": ("{}.relu()", "F.relu6({})"),
    "clamp_clamp": ("{}.clamp(-1, 1)", "{}.clamp(-.5, 2)"),
    "least_most": ("{}.clamp(min=-1)", "{}.clamp(max=1)"),
    "most_least": ("{}.clamp(max=1)", "{}.clamp(min=-1)"),
    "clamp_relu": ("{}.clamp(-1, 1)", "{}.relu()"),
    "least_relu": ("{}.clamp(min=-1)", "{}.relu()"),
    "hardtanh_relu": ("F.hardtanh({})", "{}.relu()"),
    "max_min": ("torch.maximum({}, torch.tensor(0.))", "torch.minimum({}, torch.tensor(1.))"),
    # _collapse_slices, SlicesSplit
    "slice_slice": ("{}[:, 2:]", "{}[:, :8]"),
    "slice_other": ("{}[:, 1:]", "{}[..., 2:]"),
    "chunk_sin": ("{}.chunk(2, -1)[0]", "{}.sin()"),
    # _basic_rules: transposes, reshapes, casts
    "transpose_back": ("{}.transpose(1, 2)", "{}.transpose(1, 2)"),
    "permute_permute": ("{}.permute(2, 0, 1)", "{}.permute(1, 0, 2)"),
    "permute_back": ("{}.permute(2, 0, 1)", "{}.permute(1, 2, 0)"),
    "reshape_reshape": ("{}.reshape(2, -1)", "{}.reshape(2, 32, 16)"),
    "view_view": ("{}.view(-1, 32)", "{}.view(2, 4, 4, 32)"),
    "flatten_unflatten": ("{}.flatten(1)", "{}.unflatten(1, (16, 32))"),
    "unsqueeze_twice": ("{}.unsqueeze(1)", "{}.unsqueeze(1)"),
    "unsqueeze_back": ("{}.unsqueeze(1)", "{}.squeeze(1)"),
    "mean_squeeze": ("{}.mean(1, keepdim=True)", "{}.squeeze(1)"),
    "double_float": ("{}.double()", "{}.float()"),
    "half_float": ("{}.half()", "{}.float()"),
    "bfloat16_half": ("{}.bfloat16()", "{}.half()"),
    "expand_same": ("{}.unsqueeze(1)", "{}.expand(4, 3, 8, 32)"),
    # _no_op and constant folding
    "add_0": ("({} + 0)", "{}.sin()"),
    "sub_0": ("({} - 0)", "{}.sin()"),
    "mul_1": ("({} * 1)", "{}.sin()"),
    "mul_1f": ("({} * 1.0)", "{}.sin()"),
    "div_1": ("({} / 1)", "{}.sin()"),
    "pow_1": ("{}.pow(1)", "{}.sin()"),
    "cat_one": ("torch.cat([{}])", "{}.sin()"),
    "drop_0": ("F.dropout({}, 0.)", "{}.sin()"),
    "pad_0": ("F.pad({}, (0, 0))", "{}.sin()"),
    "pad_pad": ("F.pad({}, (1, 1))", "F.pad({}, (1, 1))"),
    "float_sin": ("{}.float()", "{}.sin()"),
    "type_as": ("{0}.type_as({0})", "{}.sin()"),
    # what no operator of ONNX is
    "contiguous": ("{}.transpose(1, 2)", "{}.contiguous()"),
    "clone_sin": ("{}.clone()", "{}.sin()"),
    "where_relu": ("torch.where({0} > 0, {0}, 0.)", "{}.relu()"),
    # the same twice
    "neg_neg": ("(-{})", "(-{})"),
    "abs_abs": ("{}.abs()", "{}.abs()"),
    "softmax_log": ("{}.softmax(-1)", "{}.log()"),
}
WAYS = {  # {0} the first of v, {1} the second of a, {2} of v, {3} both at once
    "line": "b = {3}",
    "bound": "v = {0}\n        b = {2}",
    "named": "a = {0}\n        b = {1}",
    "again": "v = {0}\n        v = {2}\n        b = v.exp()",
    "kept": "a = {0}\n        b = {1}\n        b = b.sum() + v.sum() + b.cos()",
}
MODEL = """class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.l = nn.Linear(32, 32)
    def forward(self, x):
        v = self.l(x)
        {}
        return b.tanh()
"""
APART = """class Inside(nn.Module):
    def __init__(self):
        super().__init__()
        self.l = nn.Linear(32, 32)
    def forward(self, x):
        v = self.l(x)
        return {}
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.inside = Inside()
    def forward(self, x):
        x = self.inside(x)
        b = {}
        return b.tanh()
"""


def main():
    folder = sys.argv[1]
    os.makedirs(folder, exist_ok=True)
    for name, (first, second) in PAIRS.items():
        one = first.format("v")
        texts = {
            way: MODEL.format(text.format(one, second.format("a"), second.format("v"), second.format(one)))
            for way, text in WAYS.items()
        }
        texts["apart"] = APART.format(one, second.format("x"))
        for way, text in texts.items():
            with open(os.path.join(folder, f"w_{name}_{way}.py"), "w") as f:
                f.write(programs.HEAD + text + programs.FIRST)


if __name__ == "__main__":
    main()
