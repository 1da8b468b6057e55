#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What of GPUMemNet's figures of convolution nets no step explains: its scripts on the stand-in GPU, beside them.

    gpumemnet.py ORACLE [libcudnn.so.9]     needs PyTorch's CUDA build, torchvision and timm

The scripts of itu-rad/GPUMemNet (Test_Pipeline/cnn_models/*.py) run a forward pass of two images before training
(torchsummary), an epoch of ImageNet whose last batch has 15 images, and a validation: so the cache is another one than
a plain loop's. Each is run so and plainly, with PyTorch's own allocator and the plans that cuDNN names for an A100
(cudnn/ in ORACLE): the version that PyTorch brings, or another one, whose folder and cuBLASLt's LD_LIBRARY_PATH names.
Prints reserved bytes of both, in MiB, and what nvidia-smi counted beyond.
"""
import argparse, os, subprocess, sys, tempfile

# nvidia-smi, MiB, on an A100-SXM4-40GB in fp32 with Adam: Results_plotter_for_paper/data.csv
COUNTED = {"vgg16": {32: 8222, 128: 24408}, "resnet50": {32: 5262, 128: 15120}, "inception_v3": {32: 6346, 128: 19018},
           "mobilenet_v2": {32: 4544, 128: 12578}, "efficientnet_b0": {32: 4958, 128: 13832},
           "xception": {32: 7202, 128: 22978}}


def run(net, batch, as_they_did):
    """Their program; what it does beside its steps where as_they_did."""
    import torch, torchvision.models
    side = 299 if net == "inception_v3" else 224
    if net == "xception":
        import timm
        model = timm.create_model("legacy_xception")
    else:
        plain = {"aux_logits": False, "init_weights": False} if net == "inception_v3" else {}
        model = getattr(torchvision.models, net)(weights=None, **plain)
    model = model.cuda()
    if as_they_did:
        x = torch.rand(2, 3, side, side).cuda()
        model(x)
        del x
    criterion, optimizer = torch.nn.CrossEntropyLoss(), torch.optim.Adam(model.parameters())
    model.train()
    for n in [batch] * 4 + [1281167 % batch] * as_they_did:
        x, y = torch.empty(n, 3, side, side), torch.zeros(n, dtype=torch.long)
        inputs, labels = x.cuda(), y.cuda()
        optimizer.zero_grad()
        outputs = model(inputs)
        loss = criterion(outputs, labels)
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        for n in [batch, batch, 50000 % batch] * as_they_did:
            x, y = torch.empty(n, 3, side, side), torch.zeros(n, dtype=torch.long)
            inputs, labels = x.cuda(), y.cuda()
            outputs = model(inputs)
            loss = criterion(outputs, labels)
    print(torch.cuda.max_memory_reserved() >> 20)


def main():
    ap = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ap.add_argument("oracle")
    ap.add_argument("library", nargs="?", default="")
    ap.add_argument("--run", nargs=3, help=argparse.SUPPRESS)
    a = ap.parse_args()
    if a.run:
        return run(a.run[0], int(a.run[1]), int(a.run[2]))
    print("| net, batch | nvidia-smi | plain loop, reserved | beyond | as their script runs | beyond |")
    print("| --- | --- | --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as tmp:
        so = os.path.join(tmp, "nullgpu2.so")
        subprocess.check_call(["g++", "-O1", "-shared", "-fPIC", "-I/usr/local/cuda/include",
                               "-Wl,-soname,libcuda.so.1", "-o", so, os.path.join(a.oracle, "cudnn/nullgpu2.cpp"),
                               "-ldl"])
        env = dict(os.environ, NULLGPU_DEVICE="a100", LD_PRELOAD=f"{so} {a.library}",
                   NULLGPU_DNN=os.path.join(os.path.abspath(a.oracle), "cudnn/devices/a100.json"))
        for net, batch in ((n, b) for n in COUNTED for b in COUNTED[n]):
            took = [int(subprocess.check_output([sys.executable, __file__, a.oracle, "--run", net, str(batch), how],
                                                env=env, text=True).split()[-1]) for how in ("0", "1")]
            n = COUNTED[net][batch]
            figures = (n, took[0], n - took[0], took[1], n - took[1])
            print(f"| {net} {batch} | " + " | ".join(f"{f:,}" for f in figures) + " |", flush=True)


if __name__ == "__main__":
    main()
