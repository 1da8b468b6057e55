#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compare every operator's row with PyTorch, operator by operator.

    ops.py MEMLINT RECORD.PY EXPORT.PY [--only REGEX] [--keep DIR] [--pack FILE] [-v]

Each case is a module of one operator between two linear layers, in fp32 and under autocast; steps.py says how it is
run and compared. Printed: a line for each case that differs or is open, with the first event of each side. Exit 1 when
one differs that is not open. --pack writes those that agree into an archive for tests/steps.sh.
"""

import os, re, sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import steps

IMAGE = {1: "x", 2: "x.unflatten(2, (4, 8))", 3: "x.unflatten(2, (2, 4, 4))"}
CASES = {  # name: expression of x, a float tensor [batch, 8, 32] that requires a gradient
    **{
        n: f"torch.{n}(x)"
        for n in "exp log sqrt rsqrt sin cos tan asin acos atan sinh cosh asinh acosh atanh tanh sigmoid relu abs "
        "neg reciprocal erf expm1 log1p log2 log10 square floor round".split()
    },
    **{
        n: f"F.{n}(x)"
        for n in "gelu silu elu selu celu leaky_relu hardswish hardsigmoid hardtanh softplus mish relu6 logsigmoid "
        "softsign tanhshrink".split()
    },
    "gelu_tanh": "F.gelu(x, approximate='tanh')",
    "glu": "F.glu(x, -1).repeat(1, 1, 2)",
    "softmax": "F.softmax(x, -1)",
    "log_softmax": "F.log_softmax(x, -1)",
    "pow2": "x ** 2",
    "pow3": "x ** 3",
    "mul_self": "x * x",
    "add_self": "x + x",
    "sub": "x - x.mean()",
    "div": "x / (x.abs() + 1)",
    "rsub": "1 - x",
    "rdiv": "1 / x",
    "maximum": "torch.maximum(x, x.flip(1))",
    "minimum": "torch.minimum(x, x.flip(1))",
    "clamp": "x.clamp(-1, 1)",
    "clamp_min": "x.clamp(min=0)",
    "clamp_max": "x.clamp(max=1)",
    "where": "torch.where(x > 0, x, x * 2)",
    "where_scalar": "torch.where(x > 0, x, 0.)",
    "masked_fill": "x.masked_fill(x > 0, 0.)",
    "lerp": "torch.lerp(x, x.flip(1), .3)",
    "sum": "x.sum(1, keepdim=True) + x",
    "mean": "x.mean(-1, keepdim=True) * x",
    "amax": "x.amax(1, keepdim=True) * x",
    "amin": "x.amin(1, keepdim=True) * x",
    "max_dim": "x.max(1, keepdim=True)[0] + x",
    "var": "x / (x.var(-1, keepdim=True) + 1)",
    "std": "x / (x.std(-1, keepdim=True) + 1)",
    "var_mean": "x - torch.var_mean(x, -1, keepdim=True)[1]",
    "norm": "x / x.norm(dim=-1, keepdim=True)",
    "normalize": "F.normalize(x, dim=-1)",
    "logsumexp": "x - x.logsumexp(-1, keepdim=True)",
    "cumsum": "x.cumsum(1)",
    "prod": "x.prod(1, keepdim=True) + x",
    "transpose": "(x.transpose(1, 2) * 2).transpose(1, 2)",
    "permute": "x.permute(2, 0, 1).reshape(32, -1).relu().view(32, -1, 8).permute(1, 2, 0)",
    "flip": "x.flip(1)",
    "roll": "x.roll(2, 1)",
    "cat": "torch.cat([x, x], 1)[:, 2:10]",
    "stack": "torch.stack([x, x * 2], 1).sum(1)",
    "chunk": "sum(x.chunk(4, 1)).repeat(1, 4, 1)",
    "split": "torch.cat([p.relu() for p in x.split([2, 6], 1)], 1)",
    "unbind": "torch.stack([p.relu() for p in x.unbind(1)], 1)",
    "slice": "x[:, 1:5].repeat(1, 2, 1)",
    "select": "x[:, 3].unsqueeze(1) + x",
    "gather": "x.gather(1, (x > 0).long())",
    "index": "x[:, torch.tensor([1, 3, 5, 7, 0, 2, 4, 6], device=x.device)]",
    "pad": "F.pad(x, (1, 1))[..., 1:-1]",
    "expand": "x[:, :1].expand(-1, 8, -1) * x",
    "repeat": "x[:, :1].repeat(1, 8, 1)",
    "tril": "x.tril()",
    "triu": "x.triu()",
    "topk": "x.topk(4, 1)[0].repeat(1, 2, 1)",
    "sort": "x.sort(1)[0]",
    "bmm": "torch.bmm(x, x.transpose(1, 2)) @ x",
    "einsum": "torch.einsum('bij,bkj->bik', x, x) @ x",
    "layer_norm": "F.layer_norm(x, (32,))",
    "rms_norm": "F.rms_norm(x, (32,))",
    "group_norm": "F.group_norm(x, 4)",
    "sdpa": "F.scaled_dot_product_attention(*(x.view(-1, 8, 2, 16).transpose(1, 2),) * 3).transpose(1, "
    "2).reshape(-1, 8, 32)",
    "conv1d": "F.conv1d(x, x.new_ones(8, 8, 3), padding=1)",
    "avg_pool": "F.avg_pool1d(x, 2).repeat(1, 1, 2)",
    "max_pool": "F.max_pool2d(x.unsqueeze(1), 2).repeat(1, 1, 2, 2).squeeze(1)",
    "interpolate": "F.interpolate(x, scale_factor=2)[..., ::2]",
    "bilinear": "F.interpolate(x.unsqueeze(1), scale_factor=2, mode='bilinear')[:, 0, ::2, ::2]",
    "pixel_shuffle": "F.pixel_shuffle(x.unsqueeze(2), 2).reshape(-1, 8, 32)",
    # with weights: the constructor of self.op
    **{f"conv{n}d": (f"self.op({IMAGE[n]}).flatten(2)", f"nn.Conv{n}d(8, 8, 3, padding=1)") for n in (1, 2, 3)},
    **{
        f"conv_transpose{n}d": (f"self.op({IMAGE[n]}).flatten(2)", f"nn.ConvTranspose{n}d(8, 8, 3, padding=1)")
        for n in (1, 2, 3)
    },
    **{f"batch_norm{n}d": (f"self.op({IMAGE[n]}).flatten(2)", f"nn.BatchNorm{n}d(8)") for n in (1, 2, 3)},
    **{
        f"instance_norm{n}d": (f"self.op({IMAGE[n]}).flatten(2)", f"nn.InstanceNorm{n}d(8, affine=True)")
        for n in (1, 2, 3)
    },
    "instance_norm": "F.instance_norm(x)",
    "conv_grouped": ("self.op(IMAGE2).flatten(2)", "nn.Conv2d(8, 8, 3, padding=1, groups=2)"),
    "conv_depthwise": ("self.op(IMAGE2).flatten(2)", "nn.Conv2d(8, 8, 3, padding=1, groups=8, bias=False)"),
    "conv_same": ("self.op(IMAGE2).flatten(2)", "nn.Conv2d(8, 8, 3, padding='same', dilation=2)"),
    "conv_behind_pad": ("self.op(F.pad(IMAGE2, (0, 1, 0, 1))).flatten(2).repeat(1, 1, 4)", "nn.Conv2d(8, 8, 3, 2)"),
    "conv_behind_zeros": (
        "self.op(IMAGE2).flatten(2)",
        "nn.Sequential(nn.ZeroPad2d((1, 1, 0, 2)), nn.Conv2d(8, 8, 3, bias=False), nn.BatchNorm2d(8), "
        "nn.ReLU(inplace=False))",
    ),
    "conv_padded": ("self.op(IMAGE2).flatten(2)", "nn.Conv2d(8, 8, 3, padding=1, padding_mode='circular')"),
    "conv_stride": ("self.op(IMAGE2).flatten(2).repeat(1, 1, 4)", "nn.Conv2d(8, 8, 3, 2, 1)"),
    "prelu": ("self.op(x)", "nn.PReLU(8)"),
    "group_norm_affine": ("self.op(x)", "nn.GroupNorm(4, 8)"),
    "layer_norm_affine": ("self.op(x)", "nn.LayerNorm(32)"),
    "rms_norm_affine": ("self.op(x)", "nn.RMSNorm(32)"),
    "embedding_padding": ("self.op((x > 0).long().sum(-1)) * x", "nn.Embedding(40, 32, padding_idx=0)"),
    "embedding_bag": ("self.op((x > 0).long().sum(-1)).unsqueeze(1) + x", "nn.EmbeddingBag(40, 32)"),
    "weight_norm": ("self.op(x)", "torch.nn.utils.parametrizations.weight_norm(nn.Linear(32, 32))"),
    "local_response_norm": "F.local_response_norm(IMAGE2, 3).flatten(2)",
    "multihead": (
        "(lambda y, w: y * w.sum(-1, keepdim=True))(*self.op(x, x, x))",
        "nn.MultiheadAttention(32, 4, batch_first=True)",
    ),
    "multihead_fast": ("self.op(x, x, x, need_weights=False)[0]", "nn.MultiheadAttention(32, 4, batch_first=True)"),
    "encoder_layer": ("self.op(x)", "nn.TransformerEncoderLayer(32, 4, 64, dropout=0., batch_first=True)"),
    "lstm": ("self.op(x)[0]", "nn.LSTM(32, 32, batch_first=True)"),
    # pools and resampling
    **{f"max_pool{n}d": f"F.max_pool{n}d({IMAGE[n]}, 3, 1, 1).flatten(2)" for n in (1, 2, 3)},
    **{f"avg_pool{n}d": f"F.avg_pool{n}d({IMAGE[n]}, 3, 1, 1).flatten(2)" for n in (1, 2, 3)},
    **{
        f"adaptive_avg_pool{n}d": f"F.adaptive_avg_pool{n}d({IMAGE[n]}, {s}).mean((2, "
        f"{', '.join(map(str, range(3, n + 2)))})).unsqueeze(2) * x"
        for n, s in ((1, 4), (2, 2), (3, 2))
    },
    **{
        f"adaptive_avg_uneven{n}d": f"F.adaptive_avg_pool{n}d({IMAGE[n]}, {s}).flatten(2).sum(2, keepdim=True) * x"
        for n, s in ((1, 5), (2, 3))
    },
    **{f"adaptive_avg_one{n}d": f"F.adaptive_avg_pool{n}d({IMAGE[n]}, 1).flatten(2) * x" for n in (1, 2, 3)},
    **{
        f"adaptive_max_pool{n}d": f"F.adaptive_max_pool{n}d({IMAGE[n]}, {s}).flatten(2).sum(2, keepdim=True) * x"
        for n, s in ((1, 4), (2, 2), (3, 2))
    },
    "lp_pool": "F.lp_pool2d(IMAGE2, 2, 2).flatten(2).repeat(1, 1, 4)",
    "fractional_max_pool": "F.fractional_max_pool2d(IMAGE2, 2, output_size=2).flatten(2).repeat(1, 1, 8)",
    **{
        f"resize_{m}": f"F.interpolate(IMAGE2, scale_factor=2, mode='{m}').flatten(2)[..., :32]"
        for m in ("nearest", "nearest-exact", "bilinear", "bicubic")
    },
    "resize_corners": "F.interpolate(IMAGE2, size=(8, 8), mode='bilinear', align_corners=True).flatten(2)[..., :32]",
    "resize_area": "F.interpolate(IMAGE2, size=(2, 4), mode='area').flatten(2).repeat(1, 1, 4)",
    "resize_antialias": "F.interpolate(IMAGE2, size=(2, 4), mode='bilinear', "
    "antialias=True).flatten(2).repeat(1, 1, 4)",
    "resize_linear": "F.interpolate(x, scale_factor=2, mode='linear')[..., ::2]",
    "resize_trilinear": "F.interpolate(IMAGE3, scale_factor=2, mode='trilinear').flatten(2)[..., :32]",
    "resize_nearest3d": "F.interpolate(IMAGE3, scale_factor=2).flatten(2)[..., :32]",
    "grid_sample": "F.grid_sample(IMAGE2, IMAGE2[:, :2].permute(0, 2, 3, 1), align_corners=False).flatten(2)",
    "grid_sample_last": "F.grid_sample(x.unflatten(1, (4, 2)).permute(0, 3, 1, 2), IMAGE2[:, :2].permute(0, 2, 3, 1), "
    "align_corners=False).flatten(1)[:, :32].unsqueeze(1) * x",
    "unshuffle_last": "F.pixel_unshuffle(x.unflatten(1, (4, 2)).permute(0, 3, 1, 2), 2).flatten(2).flatten(1)[:, :32]"
    ".unsqueeze(1) * x",
    "affine_grid": "F.affine_grid(x[:, :2, :3], (4, 8, 4, 4), align_corners=False).flatten(1)[:, :32].unsqueeze(1) * x",
    "pixel_unshuffle": "F.pixel_unshuffle(IMAGE2, 2).reshape(-1, 8, 32)",
    "channel_shuffle": "F.channel_shuffle(IMAGE2, 2).flatten(2)",
    "unfold": "F.unfold(IMAGE2, 3, padding=1).sum(1, keepdim=True) * x",
    "fold": "F.fold(x, (4, 8), 1)[:, :8].flatten(2) * x",
    "tensor_unfold": "x.unfold(2, 4, 4).sum(-1).repeat(1, 1, 4)",
    **{
        f"pad_{m}": f"F.pad(IMAGE2, (1, 1, 1, 1), mode='{m}')[..., 1:-1, 1:-1].flatten(2)"
        for m in ("constant", "reflect", "replicate", "circular")
    },
    **{f"pad1d_{m}": f"F.pad(x, (1, 1), mode='{m}')[..., 1:-1]" for m in ("reflect", "replicate", "circular")},
    "pad3d_replicate": "F.pad(IMAGE3, (1,) * 6, mode='replicate').flatten(2)[..., :32]",
    # products
    "matmul": "x @ x.transpose(1, 2) @ x",
    "matmul_4d": "(x.view(-1, 8, 2, 16).transpose(1, 2) @ x.view(-1, 8, 2, 16).permute(0, 2, 3, 1)).sum(1) @ x",
    "mv": "(x @ x[0, 0]).unsqueeze(-1) * x",
    "baddbmm": "torch.baddbmm(x, x[:, :, :8], x)",
    "baddbmm_scaled": "torch.baddbmm(x, x[:, :, :8], x, beta=2, alpha=.5)",
    "addmm": "torch.addmm(x[:, 0], x[:, 1], x[0, 0].outer(x[0, 1])).unsqueeze(1) * x",
    "addbmm": "torch.addbmm(x[0], x[:, :, :8], x) * x",
    # where the package opt_einsum is installed, along a path
    "einsum_path": "x * torch.einsum('bij,bik,bij->bjk', x, x[..., :4], x.tanh()).mean(-1).unsqueeze(1)",
    "einsum_outer": "torch.einsum('bi,bj->bij', x[:, 0], x[:, 1]).sum(1, keepdim=True) * x",
    "einsum_heads": "torch.einsum('bqhd,bkhd->bhqk', x.view(-1, 8, 2, 16), x.view(-1, 8, 2, 16)).sum(1) @ x",
    "einsum_sum": "torch.einsum('bij->bi', x).unsqueeze(-1) * x",
    "cdist": "torch.cdist(x, x) @ x",
    "cosine_similarity": "F.cosine_similarity(x, x.flip(1), dim=-1).unsqueeze(-1) * x",
    "pairwise_distance": "F.pairwise_distance(x, x.flip(1)).unsqueeze(-1) * x",
    "fft": "torch.fft.fft(torch.fft.fft(x, dim=-1), dim=-2).real",
    "fftn": "torch.fft.fftn(x, dim=(-2, -1)).real",
    "hfft": "torch.fft.hfft(x, n=32)",
    "hfftn": "torch.fft.hfftn(x, s=(8, 32), dim=(1, 2))",
    "irfft2": "torch.fft.irfft2(x, s=(8, 32))",
    "rfft": "torch.fft.irfft(torch.fft.rfft(x))",
    # choice, indexing, scatter
    "where_tensor": "torch.where(x > 0, x, x.flip(1))",
    "masked_fill_inf": "x.masked_fill(x < 0, float('-inf')).softmax(-1)",
    "masked_fill_grown": "x.masked_fill((x > 0)[:, :1], 1.)",
    "scatter": "torch.zeros_like(x).scatter(1, (x > 0).long(), x)",
    "scatter_add": "torch.zeros_like(x).scatter_add(1, (x > 0).long(), x)",
    "index_add": "x.index_add(1, (x[0, :, 0] > 0).long(), x.flip(1))",
    "index_add_alpha": "x.index_add(1, (x[0, :, 0] > 0).long(), x.flip(1), alpha=2)",
    "index_add_scaled": "x.index_add(1, (x[0, :, 0] > 0).long(), x.flip(1) * 2)",
    "index_add_alpha_": "(x * 2).index_add_(1, (x[0, :, 0] > 0).long(), x.flip(1), alpha=.5)",
    "index_add_first": "torch.zeros_like(x).index_add(0, (x[:, 0, 0] > 0).long(), x.flip(1))",
    "index_add_": "(x * 2).index_add_(1, (x[0, :, 0] > 0).long(), x.flip(1))",
    "index_copy": "x.index_copy(1, (x[0, :, 0] > 0).long(), x.flip(1))",
    "scatter_add_": "(x * 2).scatter_add_(1, (x > 0).long(), x.flip(1))",
    "masked_fill_": "(x * 2).masked_fill_(x > 0, 0.)",
    "index_put_": "(x * 2).index_put_(((x[:, 0, 0] > 0).long(),), x.flip(1))",
    "index_fill": "x.index_fill(1, (x[0, :, 0] > 0).long(), 0.)",
    "add_": "(x * 2).add_(x)",
    "mul_": "(x * 2).mul_(x.sigmoid())",
    "relu_": "(x * 2).relu_()",
    "clamp_": "(x * 2).clamp_(-1, 1)",
    "zero_": "(x * 2).zero_() + x",
    "copy_": "torch.empty_like(x).copy_(x) * x",
    "sigmoid_": "(x * 2).sigmoid_()",
    "exp_": "(x * 2).exp_()",
    "div_": "(x * 2).div_(x.exp())",
    "sub_": "(x * 2).sub_(x)",
    "dropout_": "F.dropout(x * 2, .1, True, True)",
    "dropout_module": ("self.op(x * 2)", "nn.Dropout(.1, inplace=True)"),
    "index_select": "x.index_select(1, torch.arange(8, device=x.device))",
    "index_put": "x.index_put((torch.arange(4, device=x.device),), x[:4] * 2)",
    "slice_assign": "assign(x)",
    "select_assign": "assign_one(x)",
    "fill_assign": "assign_number(x)",
    "diagonal": "x.diagonal(dim1=1, dim2=2).unsqueeze(-1) * x",
    **{
        f"write_{n}": f"x\n        y = x * 2\n        {line}\n        x = y * 2"
        for n, line in (
            ("slice", "y[:, :4] = x[:, 4:]"),
            ("fill", "y[:, :4] = 1."),
            ("nested", "y[:, 2, :4] = x[:, 0, :4]"),
            ("select", "y[:, 3] = x[:, 0]"),
            ("copy", "y[:, :4] = y[:, 4:] * 2"),
            ("read", "y[:, 0] = y[:, 1]"),
            ("add", "y[:, :4] += x[:, 4:]"),
            ("mul", "y[:, 1:3] *= 2"),
            ("method", "y[:, :4].mul_(x[:, :4])"),
            ("zero", "y[:, 0].zero_()"),
            ("mask", "y[x > 0] = 0."),
            ("masked_fill", "y[:, :4].masked_fill_(x[:, :4] > 0, 0.)"),
        )
    },
    "bloom_gelu": ("self.op(x)", "__import__('transformers').models.bloom.modeling_bloom.BloomGelu()"),
    "checkpoint": (
        "checkpoint(self.op, x, use_reentrant=False, preserve_rng_state=False)",
        "nn.Sequential(nn.Linear(32, 64), nn.GELU(), nn.Linear(64, 32))",
    ),
    "checkpoint_each": (
        "x\n        for op in self.op:\n            x = checkpoint(op, x, use_reentrant=False, "
        "preserve_rng_state=False)",
        "nn.ModuleList(nn.Sequential(nn.Linear(32, 32), nn.Tanh()) for _ in range(3))",
    ),
    "checkpoint_function": (
        "torch.utils.checkpoint.checkpoint(twice, x, use_reentrant=False, preserve_rng_state=False)",
        "nn.Linear(32, 32)",
    ),
    "checkpoint_method": (
        "checkpoint(self.inner, x, use_reentrant=False, preserve_rng_state=False)",
        "nn.Sequential(nn.Linear(32, 32), nn.Tanh())",
    ),
    "meshgrid": "x * torch.meshgrid(x[0, :, 0], x[0, 0], indexing='ij')[0]",
    "repeat_interleave": "x[:, :4].repeat_interleave(2, 1)",
    "expand_as": "x[:, :1].expand_as(x) * x",
    "broadcast": "x * x[:1, :1]",
    "movedim": "(x.movedim(1, 2).contiguous() + 1).movedim(2, 1)",
    "unflatten": "(x.unflatten(2, (4, 8)).transpose(1, 2) + 1).transpose(1, 2).flatten(2)",
    "hstack": "torch.hstack([x[:, :4], x[:, 4:] * 2])",
    "tile": "x[:, :4].tile(1, 2, 1)",
    "narrow": "x.narrow(1, 0, 4).repeat(1, 2, 1)",
    "swapaxes": "(x.swapaxes(1, 2) * 2).swapaxes(1, 2)",
    # arithmetic
    "cumprod": "x.cumprod(1)",
    "cumsum_last": "x.cumsum(-1)",
    "prod_all": "x * x.prod()",
    "softmin": "F.softmin(x, -1)",
    "norm_all": "x / x.norm()",
    "norm1": "x / x.norm(p=1, dim=-1, keepdim=True)",
    "sum_all": "x * x.sum()",
    "mean_all": "x * x.mean()",
    "max_all": "x * x.max()",
    "var_all": "x / x.var()",
    "std_all": "x / x.std()",
    "var_flat": "x / (x.var(-1) + 1).unsqueeze(-1)",
    "std_unbiased": "x / (x.std(1, unbiased=False, keepdim=True) + 1)",
    "addcmul": "torch.addcmul(x, x, x.flip(1))",
    "addcdiv": "torch.addcdiv(x, x, x.abs() + 1)",
    "pow_tensor": "x.abs() ** x",
    "pow_half": "x.abs() ** .5",
    "pow_scalar": "2 ** x",
    "remainder": "x % 2",
    "fmod": "x.fmod(2)",
    "sign": "x * x.sign()",
    "logical": "x * ((x > 0) & (x < 1))",
    "nan_to_num": "x.nan_to_num()",
    "softplus_beta": "F.softplus(x, beta=2)",
    "hardshrink": "F.hardshrink(x)",
    "softshrink": "F.softshrink(x)",
    "threshold": "F.threshold(x, .1, 0.)",
    "rrelu": "F.rrelu(x)",
    "xlogy": "torch.xlogy(x, x.abs())",
    "hypot": "torch.hypot(x, x.flip(1))",
    "erfc": "x.erfc()",
    "logaddexp": "torch.logaddexp(x, x.flip(1))",
    "exp2": "x.exp2()",
    "trunc": "x.trunc() + x",
    "frac": "x.frac()",
    "lerp_tensor": "torch.lerp(x, x.flip(1), x.sigmoid())",
    "iadd": "inplace_add(x * 2)",
    "to_half": "x.half().float()",
    "double": "x.double().float()",
    "detach": "x * x.detach()",
    "dropout": "F.dropout(x, .1, True)",
    "dropout_between": "F.dropout(x.transpose(1, 2), .1, self.training).transpose(1, 2).sigmoid()",
    "transposes_between": "x.transpose(1, 2).contiguous().transpose(1, 2).sigmoid()",
    "permutes_between": "IMAGE2.permute(0, 2, 3, 1).contiguous().permute(0, 2, 3, 1).sigmoid().flatten(1)[:, :32]"
    ".unsqueeze(1) * x",
    "min_dim": "x.min(1, keepdim=True)[0] + x",
    "argmax": "x * x.argmax(1, keepdim=True)",
    "median": "x * x.median(1, keepdim=True)[0]",
    "aminmax": "x / (x.aminmax(dim=1, keepdim=True)[1] + 1)",
    "one_hot": "F.one_hot((x[..., 0] > 0).long(), 32) * x",
    "gumbel": "F.gumbel_softmax(x)",
    "alpha_dropout": "F.alpha_dropout(x, .1, True)",
    "feature_dropout": "F.dropout2d(IMAGE2, .1, True).flatten(2)",
    "atan2": "torch.atan2(x, x.flip(1))",
    "logit": "x.sigmoid().logit(1e-6)",
    "deg2rad": "x.deg2rad()",
    "cross": "torch.linalg.cross(x[..., :3], x[..., 3:6]).sum(-1, keepdim=True) * x",
    "bilinear_layer": ("self.op(x, x.flip(1))", "nn.Bilinear(32, 32, 32)"),
    "logaddexp2": "torch.logaddexp2(x, x.flip(1))",
    "addmv": "torch.addmv(x[0, :, 0], x[1], x[2, 0]).unsqueeze(-1) * x",
    "concat": "torch.concat([x, x], 1)[:, 2:10]",
    "multiply": "torch.multiply(x, x.flip(1))",
    "true_divide": "torch.true_divide(x, x.abs() + 1)",
    "mT": "(x.mT * 2).mT",
    "masked_scatter": "x.masked_scatter(x > 0, x.flip(1))",
    "broadcast_to": "x[:, :1].broadcast_to(x.shape) * x",
    "polar": "torch.view_as_real(torch.polar(x.detach().abs(), x.detach()))[..., 0] * x",
    "rotary_complex": "rotate(x)",
    # complex numbers: z is made of x
    **{
        f"complex_{n}": f"(lambda z: {e})(torch.complex(x, x.cos()))"
        for n, e in {
            "mul": "(z * z.roll(1, 1)).real",
            "mul_real": "(x * z).imag + (z * x).real",
            "scale": "(z * 2j).real",
            "mask": "(z * torch.sigmoid(z.abs())).real",
            "div": "(z / (z + 2)).real",
            "div_real": "(z / (x.abs() + 1)).real + (x / (z + 2)).real",
            "sum": "(z + x).real + (x - z).imag",
            "mean": "(z - z.mean(1, keepdim=True) + z.sum(-1, keepdim=True)).real",
            "matmul": "(z @ z.transpose(-1, -2) @ z).real",
            "einsum": "torch.einsum('btx,bsx->bts', z, z).abs() @ x",
            "conj": "(z * z.roll(1, 1).conj()).real",
            "exp": "(torch.exp(z) * z.log()).real",
            "phase": "(torch.exp(1j * x) * z).real",
            "pow": "(z**2 + z**3 + z.sqrt()).real",
            "sin": "(z.sin() + z.cos()).real",
            "inverse": "(1 / (z + 2) + (z + 2).rsqrt()).real",
            "gates": "(z.tanh() * z.sigmoid()).real",
            "pick": "torch.cat((z[:, [0, 1]], z.roll(1, 1)[:, :6]), 1).abs()",
            "where": "torch.where(x > 0, z, -z).masked_fill(x > 1, 0).real",
            "scan": "(z.cumsum(1) + z.flip(1) + z.repeat(1, 2, 1)[:, ::2]).real",
            "write": "written(z)",
            "angle": "z.angle()",
            "sgn": "torch.sgn(z).real",
        }.items()
    },
    "logical_not": "x * (x > 0).logical_not()",
    "cummax": "x.cummax(1)[0]",
    # signals, graphs, densities: as their programs write them
    "stft": "torch.stft(x.flatten(1), 16, 8, return_complex=True).abs().mean() * x",
    "stft_window": "torch.stft(x.flatten(1), 16, 8, window=torch.hann_window(16, device=x.device), "
    "return_complex=True).abs().mean() * x",
    "stft_real": "torch.view_as_real(torch.stft(x.flatten(1), 16, center=False, return_complex=True)).mean() * x",
    "irfft": "torch.fft.irfft(torch.fft.rfft(x, dim=1), n=8, dim=1)",
    "rfft2": "torch.fft.irfft2(torch.fft.rfft2(x, norm='ortho'), s=(8, 32), norm='ortho')",
    "fft_shift": "torch.fft.fftshift(torch.fft.fft(x), dim=-1).real",
    "ifft": "torch.fft.ifft(torch.fft.fft(x, dim=-1), dim=-1).real",
    "fft_abs": "torch.fft.fft2(x).abs()",
    "masked_fill_transposed": "x.transpose(1, 2).masked_fill(x.transpose(1, 2) > 0, 0.).view(-1, 8, 32) + x",
    "roll_transposed": "x.transpose(1, 2).roll(1, 1).view(-1, 8, 32) + x",
    "scatter_transposed": "x.transpose(1, 2).scatter_add(1, (x > 9).long().mT, x.mT).view(-1, 8, 32) + x",
    "cross_transposed": "torch.cross(x[..., :3].mT, x[..., 3:6].mT, dim=1).reshape(-1, 8, 3).sum(-1, keepdim=True) + x",
    "index_transposed": "x.transpose(1, 2)[:, [1, 0]].reshape(-1, 8, 2).sum(-1, keepdim=True) + x",
    "rms_norm_transposed": "F.rms_norm(x.transpose(1, 2) * 2, (8,)).view(-1, 8, 32) + x",
    "avg_pool1d_transposed": "F.avg_pool1d(x.transpose(1, 2) * 2, 2).reshape(-1, 4, 32).repeat(1, 2, 1)",
    "max_pool1d_transposed": "F.max_pool1d(x.transpose(1, 2) * 2, 2).reshape(-1, 4, 32).repeat(1, 2, 1)",
    "irfft2_transposed": "torch.fft.irfft2(torch.fft.rfft2(x.view(-1, 8, 4, 8), dim=(1, 2)), s=(8, 4), dim=(1, 2))"
    ".reshape(-1, 8, 32)",
    "roll_two": "torch.roll(x, shifts=(1, 2), dims=(1, 2))",
    "scatter_mean": "torch.zeros_like(x).scatter_reduce(1, (x > 0).long(), x, 'mean', include_self=False) + x",
    "scatter_amax": "torch.zeros_like(x).scatter_reduce(1, (x > 0).long(), x, reduce='amax') + x",
    "scatter_sum_": "torch.zeros_like(x).scatter_reduce_(1, (x > 0).long(), x, 'sum') + x",
    "index_add_nodes": "torch.zeros(8, 32, device=x.device).index_add(0, (x[..., 0] > 0).long().flatten(), "
    "x.flatten(0, 1)) + x",
    "scatter_nodes": "x.new_zeros(8, 32).scatter_add(0, (x.flatten(0, 1) > 0).long(), x.flatten(0, 1)) + x",
    "take_along": "torch.take_along_dim(x, x.argsort(1), 1)",
    "take": "torch.take(x, (x > 0).long())",
    "gather_last": "x.gather(-1, x.argmax(-1, keepdim=True)) * x",
    "index_rows": "x[:, [0, 2, 4]].mean(1, keepdim=True) + x",
    "index_pairs": "x[torch.arange(4, device=x.device), (x[:, :, 0] > 0).sum(1) % 8].unsqueeze(1) + x",
    "index_mask": "x * x[:, torch.tensor([True, False] * 4)].mean(1, keepdim=True)",
    "cdist_two": "torch.cdist(x, x, p=1).mean(-1, keepdim=True) * x",
    "pairwise": "(x.unsqueeze(2) - x.unsqueeze(1)).pow(2).sum(-1).sqrt().mean(-1, keepdim=True) * x",
    "logcumsumexp": "x.logcumsumexp(1)",
    "cummin": "x.cummin(1).values",
    "cumsum_first": "torch.cumsum(x, dim=0)",
    "kthvalue": "x.kthvalue(3, dim=1, keepdim=True)[0] * x",
    "mode": "x * x.mode(1, keepdim=True)[0]",
    "quantile": "x - x.quantile(.5, dim=1, keepdim=True)",
    "bucketize": "x * torch.bucketize(x, torch.linspace(0, 1, 8, device=x.device))",
    "searchsorted": "x * torch.searchsorted(torch.linspace(0, 1, 8, device=x.device), x.detach())",
    "erfinv": "x.sigmoid().erfinv()",
    "lgamma": "(x.abs() + 1).lgamma()",
    "digamma": "(x.abs() + 1).digamma()",
    "ndtr": "torch.special.ndtr(x)",
    "log_ndtr": "torch.special.log_ndtr(x)",
    "expit": "torch.special.expit(x)",
    "xlog1py": "torch.special.xlog1py(x, x.abs())",
    "entr": "torch.special.entr(x.softmax(-1))",
    "sinc": "torch.sinc(x)",
    "angle": "torch.angle(x) + x",
    "sgn": "torch.sgn(x) + x",
    "copysign": "torch.copysign(x, x.flip(1))",
    "heaviside": "x * torch.heaviside(x.detach(), torch.ones((), device=x.device))",
    "signbit": "x * torch.signbit(x)",
    "round_decimals": "torch.round(x, decimals=2) + x",
    "float_power": "x.abs().float_power(1.5).float()",
    "outer": "torch.outer(x[0, :, 0], x[0, 0]) + x",
    "kron": "torch.kron(x[0, :2, :4], x[0, :4, :8])[None] + x",
    "block_diag": "torch.block_diag(x[0, :4, :16], x[1, :4, :16]) + x",
    "tensordot": "torch.tensordot(x, x, dims=([2], [2])).mean() * x",
    "chain_matmul": "torch.linalg.multi_dot([x[0], x[1].T, x[2]]) + x",
    "det": "torch.linalg.det(x[..., :8]).view(-1, 1, 1) * x",
    "slogdet": "torch.linalg.slogdet(x[..., :8])[1].view(-1, 1, 1) * x",
    "logdet_of": "torch.logdet(x[..., :8] @ x[..., :8].mT).view(-1, 1, 1) * x",
    "det_tensor": "x[..., :8].det().view(-1, 1, 1) * x",
    "renorm": "torch.renorm(x, 2, 1, .5)",
    "renorm_first": "x.renorm(1, 0, 1.)",
    "logdet": "torch.logdet(x[..., :8] @ x[..., :8].mT + torch.eye(8, device=x.device)).view(-1, 1, 1) * x",
    "matrix_norm": "x / torch.linalg.matrix_norm(x, keepdim=True)",
    "vector_norm": "x / torch.linalg.vector_norm(x, ord=2, dim=-1, keepdim=True)",
    "linalg_norm": "x / torch.linalg.norm(x, dim=-1, keepdim=True)",
    "norm_inf": "x / x.norm(float('inf'), dim=-1, keepdim=True)",
    "trace": "torch.einsum('bii->b', x[..., :8]).view(-1, 1, 1) * x",
    "diag_embed": "torch.diag_embed(x[..., :8]).sum(1) @ x",
    "diagflat": "x @ torch.diagflat(x[0, 0])",
    "diagflat_matrix": "x[..., :1] * torch.diagflat(x[0, :4, :8].T).sum(0)",
    "diagonal": "x[..., :8].diagonal(dim1=1, dim2=2).unsqueeze(-1) * x",
    # views that copy
    "expand_copy": "torch.expand_copy(x[:, :1], x.shape) * x",
    "expand_copy_grown": "torch.expand_copy(x[0], (2, 8, 32)).sum(0) * x",
    "permute_copy": "torch.permute_copy(x, (1, 2, 0)).relu().permute(2, 0, 1)",
    "transpose_copy": "torch.transpose_copy(x, 1, 2).relu().transpose(1, 2)",
    "t_copy": "(x @ torch.t_copy(x[0])).sum(-1, keepdim=True) * x",
    "squeeze_copy": "torch.squeeze_copy(x[:, :1], 1).unsqueeze(1) * x",
    "unsqueeze_copy": "torch.unsqueeze_copy(x, 1).relu().sum(1)",
    "unfold_copy": "torch.unfold_copy(x, 2, 4, 2).sum(-1).repeat(1, 1, 3)[..., :32]",
    "view_copy": "torch.view_copy(x, (-1, 32)).relu().view(-1, 8, 32)",
    "copy_and_clone": "torch.permute_copy(x, (0, 2, 1)).clone().relu().mT",
    "rot90": "torch.rot90(x, 2, (1, 2))",
    "rot90_turned": "torch.rot90(IMAGE2, 1, (2, 3)).flatten(2).mean(-1, keepdim=True) * x",
    "fliplr": "torch.fliplr(x)",
    "vstack": "torch.vstack([x, x])[:4]",
    "dstack": "torch.dstack([x, x])[..., 16:48]",
    "column_stack": "torch.column_stack([x[..., :16], x[..., :16]])[:, :8].repeat(1, 1, 2)",
    "repeat_flat": "x.mean(-1).repeat_interleave(2).view(-1, 8, 2).mean(-1, keepdim=True) * x",
    "repeat_tensor": "x[:, :2].repeat_interleave(torch.tensor([3, 5], device=x.device), dim=1, output_size=8)",
    "tensor_split": "torch.cat(torch.tensor_split(x, 3, dim=1), 1)",
    "hsplit": "torch.hsplit(x, 2)[0].repeat(1, 2, 1)",
    "unfold_last": "x.unfold(-1, 4, 2).mean(-1).repeat(1, 1, 3)[..., :32]",
    "as_strided": "x.contiguous().as_strided((4, 8, 16), (256, 32, 2)).repeat(1, 1, 2)",
    "as_strided_windows": "x.as_strided((4, 8, 15, 4), (256, 32, 2, 1)).sum(-1, keepdim=True).mean(2) * x",
    "as_strided_rows": "torch.as_strided(x, (4, 8, 8, 32), (256, 32, 0, 1)).mean(2)",
    "as_strided_diagonal": "x.as_strided((4, 8), (256, 33)).unsqueeze(-1) * x",
    "as_strided_copy": "torch.as_strided_copy(x, (4, 8, 16), (256, 32, 2)).repeat(1, 1, 2)",
    "nansum": "x.nansum(1, keepdim=True) * x",
    "nanmean": "x.nanmean(1, keepdim=True) * x",
    "std_mean": "(x - torch.std_mean(x, 1, keepdim=True)[1]) / torch.std_mean(x, 1, keepdim=True)[0]",
    "var_mean_both": "torch.addcdiv(x, *torch.var_mean(x, 1, keepdim=True)[::-1])",
    "logsumexp_two": "x - x.logsumexp((1, 2), keepdim=True)",
    "amax_two": "x.amax((1, 2), keepdim=True) * x",
    "any_all": "x * (x > 0).any(1, keepdim=True) * (x > 0).all(2, keepdim=True)",
    "count_nonzero": "x * (x > 0).count_nonzero(1).unsqueeze(1)",
    "rms_by_hand": ("x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * self.op.weight", "nn.RMSNorm(32)"),
    "rms_tensor": "F.rms_norm(x, (32,), x.mean((0, 1)))",
    "rms_scaled": ("F.rms_norm(x, (32,)) * self.op.weight", "nn.RMSNorm(32)"),
    "layer_norm_tensor": "F.layer_norm(x, (32,), x.mean((0, 1)), x.mean((0, 1)))",
    "group_norm_1d": ("self.op(x.transpose(1, 2)).transpose(1, 2)", "nn.GroupNorm(4, 32)"),
    "norm_running": (
        "F.batch_norm(F.batch_norm(IMAGE2, self.op.running_mean, self.op.running_var, self.op.weight, self.op.bias, "
        "True), self.op.running_mean, self.op.running_var, self.op.weight, self.op.bias, False).flatten(2)",
        "nn.BatchNorm2d(8)",
    ),
    "norm_running_plain": (
        "F.batch_norm(F.batch_norm(IMAGE2, self.op.running_mean, self.op.running_var, training=True), "
        "self.op.running_mean, self.op.running_var).flatten(2)",
        "nn.BatchNorm2d(8, affine=False)",
    ),
    "softmax_first": "x.softmax(1)",
    "softmax2d": ("self.op(IMAGE2).flatten(2)", "nn.Softmax2d()"),
    "channel_shuffle_module": ("(self.op(IMAGE2) * 2).flatten(2)", "nn.ChannelShuffle(2)"),
    "max_unpool": (
        "self.op(*F.max_pool2d(IMAGE2, 2, return_indices=True)).flatten(2)",
        "nn.MaxUnpool2d(2)",
    ),
    "max_unpool1d": ("self.op(*F.max_pool1d(x, 2, return_indices=True))", "nn.MaxUnpool1d(2)"),
    "max_pool1d_indices": "F.max_pool1d(x, 2, return_indices=True)[0].repeat(1, 1, 2)",
    "adaptive_max_indices": "F.adaptive_max_pool2d(IMAGE2, 1, return_indices=True)[0].flatten(2) * x",
    "lp_pool2d": "F.lp_pool2d(IMAGE2, 2, 2).flatten(2).repeat(1, 1, 4)",
    "fold_patches": "F.fold(F.unfold(IMAGE2, 2, stride=2), (4, 8), 2, stride=2).flatten(2)",
    "grid_nearest": "F.grid_sample(IMAGE2, IMAGE2[:, :2].permute(0, 2, 3, 1), mode='nearest', "
    "align_corners=False).flatten(2)",
    "grid_border": "F.grid_sample(IMAGE2, IMAGE2[:, :2].permute(0, 2, 3, 1), padding_mode='border', "
    "align_corners=True).flatten(2)",
    "resize_size": "F.interpolate(IMAGE2, size=(4, 8), mode='bilinear').flatten(2)",
    "upsample_module": (
        "self.op(IMAGE2)[..., :4, :8].flatten(2)",
        "nn.Upsample(scale_factor=2, mode='bilinear', align_corners=True)",
    ),
    "embedding_bag_mean": ("self.op((x > 0).long().sum(-1)).unsqueeze(1) + x", "nn.EmbeddingBag(40, 32, mode='mean')"),
    "embedding_bag_max": ("self.op((x > 0).long().sum(-1)).unsqueeze(1) + x", "nn.EmbeddingBag(40, 32, mode='max')"),
    "embedding_bag_weights": (
        "self.op((x > 0).long().sum(-1), None, x[..., 0].sigmoid()).unsqueeze(1) + x",
        "nn.EmbeddingBag(40, 32, mode='sum')",
    ),
    "embedding_bag_offsets": (
        "self.op((x > 0).long().sum(-1).flatten(), torch.arange(0, 32, 8, device=x.device)).unsqueeze(1) + x",
        "nn.EmbeddingBag(40, 32, mode='sum')",
    ),
    "embedding_renorm": ("self.op((x > 0).long().sum(-1)) + x", "nn.Embedding(40, 32, max_norm=1.)"),
    "gru": ("self.op(x)[0]", "nn.GRU(32, 32, batch_first=True)"),
    "lstm_bidirectional": ("self.op(x)[0]", "nn.LSTM(32, 16, bidirectional=True, batch_first=True)"),
    "lstm_cell": ("self.op(x[:, 0], (x[:, 1], x[:, 2]))[0].unsqueeze(1) * x", "nn.LSTMCell(32, 32)"),
    "decoder_layer": ("self.op(x, x)", "nn.TransformerDecoderLayer(32, 2, 64, dropout=0., batch_first=True)"),
    "encoder_norm_first": (
        "self.op(x)",
        "nn.TransformerEncoderLayer(32, 2, 64, dropout=0., batch_first=True, norm_first=True)",
    ),
    "multihead_weights": (
        "self.op(x, x, x)[1].mean(-1, keepdim=True) * x",
        "nn.MultiheadAttention(32, 2, batch_first=True)",
    ),
    "multihead_mask": (
        "self.op(x, x, x, attn_mask=torch.ones(8, 8, device=x.device).triu(1).bool(), need_weights=False)[0]",
        "nn.MultiheadAttention(32, 2, batch_first=True)",
    ),
    "multihead_padding": (
        "self.op(x, x, x, key_padding_mask=x[..., 0] > 9, need_weights=False)[0]",
        "nn.MultiheadAttention(32, 2, batch_first=True)",
    ),
    "spectral_norm": ("self.op(x)", "nn.utils.parametrizations.spectral_norm(nn.Linear(32, 32))"),
    "weight_norm_new": ("self.op(x)", "nn.utils.parametrizations.weight_norm(nn.Linear(32, 32))"),
    "orthogonal": ("self.op(x)", "nn.utils.parametrizations.orthogonal(nn.Linear(32, 32))"),
    "cosine_module": ("self.op(x, x.flip(1)).unsqueeze(-1) * x", "nn.CosineSimilarity(-1)"),
    "pairwise_module": ("self.op(x, x.flip(1)).unsqueeze(-1) * x", "nn.PairwiseDistance()"),
    "gumbel_hard": "F.gumbel_softmax(x, tau=.5, hard=True)",
    "straight_through": "x + (x.round() - x).detach()",
    "dropout1d": "F.dropout1d(x, .1, True)",
    "dropout3d": "F.dropout3d(IMAGE3, .1, True).flatten(2)",
    "layer_scale": ("x * self.op.weight", "nn.LayerNorm(32)"),
    "squeeze_excite": "IMAGE2.mean((2, 3), keepdim=True).sigmoid().mul(IMAGE2).flatten(2)",
    "soft_threshold": "torch.sign(x) * torch.relu(x.abs() - .1)",
    "mixture": "torch.stack([x, x.flip(1), x * 2], -1).mul(x[..., :3].softmax(-1).unsqueeze(2)).sum(-1)",
    "attention_by_hand": "torch.softmax(x @ x.transpose(-2, -1) / 32 ** .5, dim=-1) @ x",
    "attention_bias": "(x @ x.mT + torch.zeros(8, 8, device=x.device).masked_fill(torch.ones(8, 8, "
    "device=x.device).triu(1).bool(), float('-inf'))).softmax(-1) @ x",
    "attention_einsum": "torch.einsum('bqk,bkd->bqd', torch.einsum('bqd,bkd->bqk', x, x).softmax(-1), x)",
    "rope": "x * x.cos() + torch.cat([-x[..., 16:], x[..., :16]], -1) * x.sin()",
    "window_partition": "x.view(-1, 2, 4, 2, 16).permute(0, 1, 3, 2, 4).contiguous().view(-1, 4, 16).tanh()"
    ".view(-1, 2, 2, 4, 16).permute(0, 1, 3, 2, 4).reshape(-1, 8, 32)",
    "patchify": "x.reshape(-1, 4, 2, 32).permute(0, 2, 1, 3).reshape(-1, 8, 32)",
    "checkerboard": "x[:, ::2].repeat_interleave(2, 1) * x[:, 1::2].repeat_interleave(2, dim=1)",
    "negative_slice": "torch.cat([x[:, -4:], x[:, :-4]], 1)",
    "ellipsis": "x[..., None, :16].expand(-1, -1, 2, -1).flatten(2)",
    "inplace_index": "assign_rows(x)",
    "norm_clamp": "x / x.norm(dim=-1, keepdim=True).clamp(min=1e-6)",
    "mul_add_chain": "x.mul(2).add(1).div(3).sub(1)",
    "inplace_chain": "x.mul(2).add_(1).div_(3).clamp_(0, 1)",
    "sigmoid_gate": "x * torch.sigmoid(1.702 * x)",
    "gelu_by_hand": "0.5 * x * (1 + torch.tanh(0.79788 * (x + 0.044715 * x ** 3)))",
    "mish_by_hand": "x * torch.tanh(F.softplus(x))",
    "log_softmax_nll": "x * -x.log_softmax(-1)[..., 0].mean()",
    "focal": "x * ((1 - torch.exp(-F.binary_cross_entropy_with_logits(x, x.detach().sigmoid(), reduction='none'))) ** "
    "2).mean()",
    "dice": "x * (1 - 2 * (x.sigmoid() * x.detach()).sum() / (x.sigmoid().sum() + x.detach().sum() + 1))",
    "kl_by_hand": "x * (-0.5 * (1 + x - x.flip(1) ** 2 - x.exp()).sum())",
    "reparametrize": "x + torch.randn_like(x) * torch.exp(0.5 * x.flip(1))",
    "charbonnier": "x * torch.sqrt((x - x.flip(1)) ** 2 + 1e-6).mean()",
    "info_nce": "x * F.cross_entropy(F.normalize(x[:, 0], dim=-1) @ F.normalize(x[:, 1], dim=-1).T / .07, "
    "torch.arange(4, device=x.device))",
    "loss_poisson_full": "x * F.poisson_nll_loss(x, x.detach().abs(), full=True, log_input=False)",
    "loss_multilabel": "x * F.multilabel_soft_margin_loss(x.flatten(0, 1), (x.flatten(0, 1) > 0).float())",
    "loss_multilabel_whole": "x * F.multilabel_soft_margin_loss(x.flatten(0, 1), (x.flatten(0, 1) > 0).long())",
    "loss_multi_margin": "x * F.multi_margin_loss(x.flatten(0, 1), (x > 0).long().sum(-1).flatten() % 32)",
    "loss_kl_log": "x * F.kl_div(x.log_softmax(-1), x.detach().log_softmax(-1), log_target=True, "
    "reduction='batchmean')",
    "loss_triplet_distance": "x * F.triplet_margin_with_distance_loss(x, x.flip(1), x.flip(2))",
    "loss_huber_sum": "x * F.huber_loss(x, x.detach(), reduction='sum', delta=.5)",
    "loss_smooth_none": "x * F.smooth_l1_loss(x, x.detach(), reduction='none', beta=.1)",
    "loss_ignore": "x * F.cross_entropy(x.flatten(0, 1), (x > 0).long().sum(-1).flatten() % 32, ignore_index=3)",
    "loss_soft_target": "x * F.cross_entropy(x.flatten(0, 1), x.detach().softmax(-1).flatten(0, 1))",
    # attention
    "sdpa_causal": "F.scaled_dot_product_attention(*(x.view(-1, 8, 2, 16).transpose(1, 2),) * 3, "
    "is_causal=True).transpose(1, 2).reshape(-1, 8, 32)",
    "sdpa_mask": "F.scaled_dot_product_attention(*(x.view(-1, 8, 2, 16).transpose(1, 2),) * 3, attn_mask=(x[:1, :8, "
    ":8] > 0)).transpose(1, 2).reshape(-1, 8, 32)",
    "sdpa_bias": "F.scaled_dot_product_attention(*(x.view(-1, 8, 2, 16).transpose(1, 2),) * 3, attn_mask=x[:, None, "
    ":, :8]).transpose(1, 2).reshape(-1, 8, 32)",
    "sdpa_gqa": "F.scaled_dot_product_attention(x.view(-1, 8, 4, 8).transpose(1, 2), *(x[..., :16].view(-1, 8, 2, "
    "8).transpose(1, 2),) * 2, enable_gqa=True).transpose(1, 2).reshape(-1, 8, 32)",
    # losses, as a factor
    **{
        f"loss_{n}": f"x * F.{n}(x, x.flip(1){a})"
        for n, a in (
            ("mse_loss", ""),
            ("l1_loss", ""),
            ("smooth_l1_loss", ""),
            ("huber_loss", ""),
            ("kl_div", ""),
            ("soft_margin_loss", ""),
            ("poisson_nll_loss", ""),
        )
    },
    "loss_mse_none": "x * F.mse_loss(x, x.detach(), reduction='none')",
    "loss_mse_sum": "x * F.mse_loss(x, x.detach(), reduction='sum')",
    "loss_l1_none": "x * F.l1_loss(x, x.detach(), reduction='none')",
    "loss_bce": "x * F.binary_cross_entropy(x.sigmoid(), x.detach().sigmoid())",
    "loss_bce_logits": "x * F.binary_cross_entropy_with_logits(x, x.detach().sigmoid())",
    "loss_bce_weight": "x * F.binary_cross_entropy_with_logits(x, x.detach().sigmoid(), pos_weight=torch.ones(32, "
    "device=x.device))",
    "loss_cross_entropy": "x * F.cross_entropy(x.flatten(0, 1), (x > 0).long().sum(-1).flatten() % 32)",
    "loss_smoothing": "x * F.cross_entropy(x.flatten(0, 1), (x > 0).long().sum(-1).flatten() % 32, label_smoothing=.1)",
    "loss_weight": "x * F.cross_entropy(x.flatten(0, 1), (x > 0).long().sum(-1).flatten() % 32, "
    "weight=torch.ones(32, device=x.device))",
    "loss_nll": "x * F.nll_loss(x.log_softmax(-1).flatten(0, 1), (x > 0).long().sum(-1).flatten() % 32)",
    "loss_image": "x * F.cross_entropy(IMAGE2, (IMAGE2[:, 0] > 0).long())",
    "loss_none": "x * F.cross_entropy(x.transpose(1, 2), (x[..., 0] > 0).long(), reduction='none').unsqueeze(-1)",
    "loss_cosine": "x * F.cosine_embedding_loss(x.flatten(0, 1), x.flip(1).flatten(0, 1), torch.ones(x.shape[0] * 8, "
    "device=x.device))",
    "loss_margin": "x * F.margin_ranking_loss(x, x.flip(1), x.sign())",
    "loss_margin_whole": "x * F.margin_ranking_loss(x, x.flip(1), x.sign().long(), margin=0.5)",
    "loss_triplet": "x * F.triplet_margin_loss(x, x.flip(1), x.flip(2))",
    "loss_gaussian": "x * F.gaussian_nll_loss(x, x.flip(1), x.abs() + 1)",
    "loss_hinge": "x * F.hinge_embedding_loss(x, x.sign())",
    "loss_ctc": "x * F.ctc_loss(x.log_softmax(-1).transpose(0, 1), torch.ones(4, 3, dtype=torch.long, "
    "device=x.device), (8,) * 4, (3,) * 4)",
}
for name, case in CASES.items():
    for n in IMAGE:
        case = (
            tuple(c.replace(f"IMAGE{n}", IMAGE[n]) for c in case)
            if isinstance(case, tuple)
            else case.replace(f"IMAGE{n}", IMAGE[n])
        )
    CASES[name] = case
OPTIONS = ["--dim", "batch=4", "--loss", "cross-entropy", "--dropout", "none"]
# What is known to differ, and why.
FUNCTION = "the frames of torch.nn.functional are not in the file: which of its names hold a tensor is lost"
OPEN = {
    **dict.fromkeys(
        ("pad_circular", "pad1d_circular", "conv_padded"),
        "_pad_circular writes slices of one tensor, each a node of CopySlices",
    ),
    **dict.fromkeys(
        (
            "loss_smooth_l1_loss",
            "loss_huber_loss",
            "loss_bce",
            "loss_bce_logits",
            "loss_bce_weight",
            "loss_margin",
            "loss_hinge",
            "loss_cosine",
        ),
        "a loss inside the model is exported as its arithmetic",
    ),
    **dict.fromkeys(
        ("loss_kl_div", "loss_l1_loss", "loss_l1_none", "loss_poisson_nll_loss", "loss_smoothing", "loss_triplet"),
        "a loss inside the model is exported as its arithmetic: autocast's one cast around all of it and its "
        "statements are lost",
    ),
    **dict.fromkeys(
        ("sdpa_mask",),
        "record.py stands in for the dispatcher with Python of its own, which drops the mask's parts in another order",
    ),
    "affine_grid": "a view behind it, which the exporter merged with its own, hides how its points lie",
    "one_hot": "exported as its arithmetic",
    "lstm": "cuDNN's reserve is not in the record, and the file has neither weights nor calls",
    **dict.fromkeys(
        ("gumbel", "alpha_dropout", "nan_to_num"), "exported as its arithmetic, where eager writes in place"
    ),
    **dict.fromkeys(("local_response_norm", "pairwise_distance", "cosine_similarity", "multihead"), FUNCTION),
    **dict.fromkeys(
        ("prod", "prod_all"),
        "where there may be zeros, which only fake tensors don't say, the exclusive product dies at once",
    ),
    **dict.fromkeys(("var_all", "std_all"), "the file names every dimension, and mean.dim stands for mean"),
    "channel_shuffle": "exported as view, transpose, contiguous: the same bytes, another name",
    "rdiv": "the exporter drops the multiplication by one, and with it the statement that binds x",
    "index_fill": "its value is a tensor in the file",
    "zero_": "exported as zeros of the same shape",
    "copy_": "exported as its source",
    "index_put": "the file orders constants before what uses them",
    "var_mean": "exported as its arithmetic, unread results left out",
    "rotary_complex": "a conjugate is copied before it is multiplied",
    "checkpoint_method": "the frames of functions that are not called forward are not in the file, nor their locals",
    **dict.fromkeys(
        ("attention_bias", "multihead_mask"), "one folded constant stands for all calls that made it, each of which ran"
    ),
    "multihead_padding": "the type of a mask is the query's, which the file has as it was when it was exported",
    "loss_kl_log": "the exporter merged the same function of a tensor and of the same tensor detached",
    "inplace_index": "of a function without a module the file names its caller's line",
    "embedding_bag_offsets": "the constant of its offsets says arange, not which",
    "embedding_renorm": "written as unique indices, whose sizes no file has",
    "sgn": "no row: a doubt",
    "logdet": "an identity is folded into a constant that is called clone",
    **dict.fromkeys(
        ("bucketize", "stft_window", "block_diag"), "constants that are arguments are folded, and their calls with them"
    ),
    **dict.fromkeys(("gumbel_hard", "std_mean", "loss_triplet_distance"), "exported as its arithmetic: a doubt"),
    "any_all": "a mask that two calls read is inside the first one",
    "multihead_weights": "the layer that nobody reads is lost with its weights' sizes",
    "spectral_norm": "its buffers are updated by calls that nobody reads",
    "lstm_bidirectional": "its weights are folded into others of another layout",
    **dict.fromkeys(
        ("iadd", "complex_sum", "complex_mean"), "of a function without a module the file names its caller's line"
    ),
    "complex_mul_real": "of two promotions of one operand the exporter keeps one",
    "complex_angle": "its gradient of complex numbers is not known: a doubt",
}

ZOO = """
import torch, torch.nn.functional as F, torch.utils._device, torch.utils.checkpoint
from torch import nn
from torch.utils.checkpoint import checkpoint
torch.cuda.is_bf16_supported = lambda *a, **k: True # which a checkpoint under autocast asks the driver
torch.cuda.amp.common.amp_definitely_not_available = lambda: False
from zoo_base import *
def assign(x):
    y = torch.zeros_like(x)
    y[:, :4] = x[:, 4:]
    return y * 2
def assign_one(x):
    y = torch.zeros_like(x)
    y[:, 3] = x[:, 0] * 2
    return y * 2
def assign_number(x):
    y = x * 2
    y[:, :4] = 1.
    return y * 2
def assign_rows(x):
    y = x * 2
    y[:, [0, 2]] = x[:, [1, 3]]
    return y * 2
def twice(x):
    return (x.exp() * x).tanh() * 2
def written(z):
    out = torch.zeros_like(z)
    out[:, :4] = z[:, :4] * z[:, 4:]
    return out.real
def rotate(x):
    c = torch.view_as_complex(x.reshape(*x.shape[:-1], 16, 2))
    a = x.detach()[..., :16] * 2
    return torch.view_as_real(c * torch.polar(a, a)).flatten(-2)
def inplace_add(x):
    x += 1
    return x
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.op, self.b = nn.Linear(32, 32), CONSTRUCTOR, nn.Linear(32, 5)
    def inner(self, x):
        y = self.op(x)
        return (y * x).sigmoid() * 2
    def forward(self, x):
        x = self.a(x)
        x = EXPRESSION
        return self.b(x)
ZOO = {"case": Entry(M, lambda b: ({"x": torch.rand(b, 8, 32)}, ids(b, 8)), cross_entropy, (4,))}
"""


def run(a, bench):
    return steps.table(a, bench, steps.between(CASES, ZOO, OPTIONS), OPEN)


if __name__ == "__main__":
    sys.exit(steps.on_bench(run, steps.arguments(__doc__).parse_args()))
