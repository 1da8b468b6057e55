#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Training steps of convolution nets that hold cuDNN's workspaces, and memlint beside them.

    cudnn.py record ORACLE OUT.jsonl      steps of convolution nets, with the real allocator and the real cuDNN
    cudnn.py score MEMLINT ORACLE RECORDS.jsonl.xz [-v] [--smallest] [--flags] [--gpus=GPU,...] [--with=OPTION]
                   [--bounds=A,B,C]

--smallest leaves the larger batches out; with --flags the rows count that set something of torch.backends.cudnn; with
--gpus those of these GPUs.
--bounds: exit 1 where the median of the allocated peaks' errors is above A %, their 95th percentile above B % or the
median of the reserved peaks' above C %.

ORACLE is the folder with record.py, zoo.py and cudnn/: a stand-in for the CUDA driver that does nothing, so that
PyTorch's CUDA build runs its step, its allocator and its choice of kernels without a GPU, and that asks the real cuDNN
for its plans on a device it is only told about. So record measures nothing on a GPU, and these are plans as they are
named without a driver; an H200 named others for products of matrices and, without TF32, for filters' gradients. Records
of real steps on an H200 (h200.tar.xz) are scored alike.
"""
import argparse, json, lzma, os, shutil, statistics, subprocess, sys, tarfile, tempfile
from concurrent.futures import ThreadPoolExecutor

# The stand-in's name, memlint's, and the half precision that people use there: before 8.0 cuDNN runs no bfloat16.
GPUS = {"a100": ("a100-40", "amp-bf16"), "rtx4090": ("rtx-4090", "amp-bf16"), "h100": ("h100", "amp-bf16"),
        "t4": ("t4", "amp-fp16")}
REAL = "h200"   # what records name no GPU for
NETS = {"resnet18": (16, 64), "resnet50": (16, 64), "vgg16": (16, 64), "mobilenet_v2": (16, 64), "densenet121": (8, 32),
        "convnext_tiny": (16, 64), "vit_b_16": (16,), "unet": (4, 16), "vae": (64, 512), "char_cnn": (16,)}
# What is set of torch.backends.cudnn, in fp32 and at the smaller batch, on which of the GPUs; memlint's word for it.
FLAGS = {"deterministic": "deterministic = True", "no-tf32": "allow_tf32 = False"}
FLAGGED = ("a100", "rtx4090", "h100")
FLAVOURS = ("dynamo", "ts-train")


def record(a):
    """Appends what is missing; a step that PyTorch refuses is a row with its error."""
    done = set()
    if os.path.exists(a.out):
        done = {(r["model"], r["batch"], r["precision"], r["gpu"], r["flags"]) for r in map(json.loads, open(a.out))}
    with tempfile.TemporaryDirectory() as tmp:
        so = os.path.join(tmp, "nullgpu2.so")
        subprocess.check_call(["g++", "-O1", "-shared", "-fPIC", "-I/usr/local/cuda/include",
                               "-Wl,-soname,libcuda.so.1", "-o", so, os.path.join(a.oracle, "cudnn/nullgpu2.cpp"),
                               "-ldl"])
        for name in ("zoo.py", "zoo_base.py"):
            shutil.copy(os.path.join(a.oracle, name), tmp)
        text = open(os.path.join(a.oracle, "record.py")).read()
        texts = {"amp-fp16": text.replace('set_autocast_dtype("cuda", torch.bfloat16)',     # the one that it knows
                                          'set_autocast_dtype("cuda", torch.float16)')}
        texts |= {k: text.replace("\nimport torch\n", f"\nimport torch\ntorch.backends.cudnn.{v}\n") for k, v in
                  FLAGS.items()}
        for name, text in texts.items():
            with open(os.path.join(tmp, name + ".py"), "w") as f:
                f.write(text)
        scripts = {name: os.path.join(tmp, name + ".py") for name in texts}
        for net, batches in NETS.items():
            for gpu in GPUS:
                wanted = [(b, p, "") for b in batches for p in ("fp32", GPUS[gpu][1])]
                wanted += [(batches[0], "fp32", f) for f in FLAGS if gpu in FLAGGED]
                for batch, precision, flags in wanted:
                    if (net, batch, precision, gpu, flags) in done:
                        continue
                    env = dict(os.environ, NULLGPU_DEVICE=gpu, LD_PRELOAD=so,
                               NULLGPU_DNN=os.path.join(a.oracle, f"cudnn/devices/{gpu}.json"))
                    script = scripts.get(flags or precision, os.path.join(a.oracle, "record.py"))
                    p = subprocess.run([sys.executable, script, net, "--batch", str(batch), "--precision",
                                        precision.replace("fp16", "bf16")], env=env, capture_output=True, text=True)
                    r = json.loads(p.stdout) if p.returncode == 0 else {
                        "model": net, "batch": batch, "error": (p.stderr.strip().splitlines() or ["?"])[-1][:200]}
                    r["precision"] = precision
                    keep = ("model", "batch", "optimizer", "precision", "loop", "loss", "torch", "device", "capability",
                            "peak_allocated", "peak_reserved", "allocated_after", "error")
                    with open(a.out, "a") as f:
                        f.write(json.dumps({"gpu": gpu, "flags": flags} | {k: r[k] for k in keep if k in r}) + "\n")
                    print(net, batch, precision, gpu, flags, r.get("peak_allocated"), r.get("error", ""), flush=True)


def percentile(values, p):
    values = sorted(values)
    return values[min(len(values) - 1, int(round(p / 100 * (len(values) - 1))))]


def score(a):
    """Errors in percent of allocated and reserved peaks, by GPU and precision; each row with -v."""
    def one(r):
        path = next((p for p in (f"{tmp}/{r['model']}.{f}.onnx" for f in FLAVOURS) if os.path.exists(p)), None)
        larger = a.smallest and r["batch"] != NETS.get(r["model"], [0])[0]
        known = r["model"] in NETS and (not a.gpus or r["gpu"] in a.gpus) and r["flags"] in ("", *FLAGS)
        if "error" in r or not path or not known or bool(r["flags"]) != a.flags or larger:
            return None
        p = subprocess.run([a.memlint, path, "--dim", f"batch={r['batch']}", "--precision", r["precision"], "--loss",
                            r["loss"], "--optimizer", r["optimizer"], "--loop", r["loop"], "--dropout",
                            "none" if path.endswith("train.onnx") else "auto", "--device",
                            GPUS.get(r["gpu"], [REAL])[0], "--format=json", *a.options,
                            *(["--cudnn-flags=" + r["flags"]] if r["flags"] else [])], capture_output=True, text=True)
        peak = json.loads(p.stdout)["peak"]
        return r, [100 * (peak[k] - r["peak_" + k]) / r["peak_" + k] for k in ("allocated", "reserved")]

    rows = []
    with tempfile.TemporaryDirectory() as tmp:
        with tarfile.open(os.path.join(a.oracle, "models.tar.xz")) as t:
            t.extractall(tmp, filter="data")
        records = list(map(json.loads, lzma.open(a.records, "rt") if a.records.endswith(".xz") else open(a.records)))
        for r in records:
            r["gpu"], r["flags"] = r.get("gpu", REAL), "".join(r.get("flags") or "")
        with ThreadPoolExecutor(2) as pool:
            for r, error in filter(None, pool.map(one, records)):
                rows.append((r["gpu"], r["flags"] or r["precision"], error))
                if a.v:
                    print(f"{r['gpu']:8} {r['model']:14} {r['batch']:4} {r['flags'] or r['precision']:13} allocated "
                          f"{error[0]:+7.2f} % reserved {error[1]:+7.2f} %")
    groups = [("all", "", rows)] + [(g, p, [x for x in rows if x[:2] == (g, p)])
                                    for g, p in sorted({x[:2] for x in rows})]
    for gpu, precision, of in groups:
        for i, name in enumerate(("allocated", "reserved")):
            e = [abs(x[2][i]) for x in of]
            print(f"{gpu} {precision} {name}: {len(e)} rows, median {statistics.median(e):.3f} %, 95th percentile "
                  f"{percentile(e, 95):.2f} %, largest {max(e):.2f} %")
    e = [[abs(x[2][i]) for x in rows] for i in (0, 1)]
    is_ = (statistics.median(e[0]), percentile(e[0], 95), statistics.median(e[1]))
    return a.bounds is not None and any(v > float(b) for v, b in zip(is_, a.bounds.split(",")))


def main():
    ap = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    sub = ap.add_subparsers(required=True)
    p = sub.add_parser("record")
    p.add_argument("oracle")
    p.add_argument("out")
    p.set_defaults(run=record)
    p = sub.add_parser("score")
    p.add_argument("memlint")
    p.add_argument("oracle")
    p.add_argument("records")
    p.add_argument("-v", action="store_true")
    p.add_argument("--smallest", action="store_true")
    p.add_argument("--flags", action="store_true")
    p.add_argument("--gpus", type=lambda s: s.split(","))
    p.add_argument("--bounds")
    p.add_argument("--with", dest="options", action="append", default=[], metavar="OPTION", help="of memlint")
    p.set_defaults(run=score)
    a = ap.parse_args()
    sys.exit(a.run(a))


if __name__ == "__main__":
    main()
