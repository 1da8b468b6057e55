#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The rule of cuDNN's workspaces beside the library, on convolutions that it was not made from.

    convolutions.py MEMLINT         needs torch and torchvision, and cuDNN where --cudnn=ask finds it

In three dimensions and in one, transposed, dilated and in a size that was not asked: the sum of the workspaces of a
step at batch 4, by rule and by library, and the error, as a table in Markdown.
"""
import argparse, os, subprocess, tempfile

import torch
import torchvision
from torch import nn

GPUS = {"t4": ("fp32", "amp-fp16"), "a100-40": ("fp32", "amp-bf16"), "rtx-3090": ("fp32", "amp-bf16"),
        "rtx-4090": ("fp32", "amp-bf16"), "h100": ("fp32", "amp-bf16")}


def unet3d():
    """Half of one: what goes down in three dimensions, and up by transposed ones."""
    layers, last = [], 1
    for k in (32, 64, 128, 256):
        layers += [nn.Conv3d(last, k, 3, padding=1), nn.ReLU(), nn.Conv3d(k, k, 3, padding=1), nn.ReLU(),
                   nn.MaxPool3d(2)]
        last = k
    for k in (128, 64, 32, 16):
        layers += [nn.ConvTranspose3d(last, k, 2, 2), nn.Conv3d(k, k, 3, padding=1), nn.ReLU()]
        last = k
    return nn.Sequential(*layers)


def generator():
    """DCGAN's, in two dimensions, all transposed."""
    layers, last = [], 100
    for k, stride, pad in ((512, 1, 0), (256, 2, 1), (128, 2, 1), (64, 2, 1), (3, 2, 1)):
        layers += [nn.ConvTranspose2d(last, k, 4, stride, pad, bias=False), nn.BatchNorm2d(k), nn.ReLU()]
        last = k
    return nn.Sequential(*layers)


def wave():
    """wav2vec 2.0's encoder, and a vocoder's decoder: in one dimension, transposed and dilated."""
    layers, last = [], 1
    for size, stride in ((10, 5), (3, 2), (3, 2), (3, 2), (3, 2), (2, 2), (2, 2)):
        layers += [nn.Conv1d(last, 512, size, stride, bias=False), nn.GELU()]
        last = 512
    for stride in (8, 8, 5):
        layers += [nn.ConvTranspose1d(last, last // 2, 2 * stride, stride, stride // 2), nn.GELU()]
        last //= 2
        layers += [nn.Conv1d(last, last, 3, padding=d, dilation=d) for d in (1, 3, 5)]
    return nn.Sequential(*layers)


class Segmentation(nn.Module):
    """DeepLab's atrous pyramid."""

    def __init__(self):
        super().__init__()
        self.net = torchvision.models.segmentation.deeplabv3_resnet50(weights=None, weights_backbone=None)

    def forward(self, x):
        return self.net(x)["out"]


NETS = {"r3d_18": (torchvision.models.video.r3d_18, (3, 16, 112, 112)),
        "r2plus1d_18": (torchvision.models.video.r2plus1d_18, (3, 16, 112, 112)),
        "3-D autoencoder": (unet3d, (1, 64, 64, 64)), "DCGAN": (generator, (100, 1, 1)), "wave": (wave, (1, 16000)),
        "DeepLab": (Segmentation, (3, 256, 256))}


def taken(a, path, gpu, precision, how):
    """Bytes of the blocks that convolutions take and give back."""
    out = subprocess.check_output([a.memlint, path, "--device", gpu, "--precision", precision, "--loss=mse",
                                   "--cudnn=" + how, "--dump=step"], text=True)
    rows = (line.split("\t") for line in out.splitlines())
    return sum(int(r[1]) for r in rows if r[0] == "+" and "convolution" in r[4] and r[-1] == "uint8")


def main():
    ap = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ap.add_argument("memlint")
    a = ap.parse_args()
    print("| GPU | precision | " + " | ".join(NETS) + " |")
    print("| --- | --- |" + " --- |" * len(NETS))
    with tempfile.TemporaryDirectory() as tmp:
        paths = {}
        for i, (net, (make, size)) in enumerate(NETS.items()):
            paths[net] = os.path.join(tmp, f"{i}.onnx")
            torch.onnx.export(make().eval(), (torch.zeros(4, *size),), paths[net], dynamo=True, verbose=False)
        for gpu, precision in ((g, p) for g in GPUS for p in GPUS[g]):
            cells = []
            for path in paths.values():
                rule, said = (taken(a, path, gpu, precision, how) for how in ("rule", "ask"))
                cells.append(f"{said >> 20:,} MiB, {100 * (rule - said) / max(said, 1):+.0f} %")
            print(f"| {gpu} | {precision} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
