#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compare the framework operators' rows with PyTorch's own tables.

    tables.py MEMLINT      exit 1 when a row of --list=aten says something else than tests/oracle/aten.tsv
    tables.py --unnoticed  reads lines of a name, a tab and such a row; prints the names of those that say nothing else
    tables.py --write      reads the torch that is installed and writes that file

The file has a line for each operator that autograd or autocast knows: name, arguments (@ before tensors), how autocast
treats it, and which tensors each gradient keeps, in the order in which autograd evaluates them. They come from
torchgen's reading of derivatives.yaml and from ATen/autocast_mode.h.
"""

import collections, os, re, subprocess, sys

FILE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "aten.tsv")
CLASSES = {
    "LOWER_PRECISION_FP": "lower",
    "FP32": "fp32",
    "FP32_SET_OPT_DTYPE": "dtype",
    "DIFFERENT_REDISPATCH_SIGNATURE": "dtype",
    "PROMOTE": "promote",
}
# Where a row is meant to say something else, and why.
NESTED = "a file can name the kernel below the function that autocast has treated"
RESERVE = "what cuDNN keeps is counted with what its forward allocates"
UNUSED = "on CUDA a tensor without elements"
OTHERWISE = {
    "lstm.input": "_cudnn_rnn_cast_reflatten casts its operands: aten/src/ATen/cudnn/AutocastRNN.cpp",
    **dict.fromkeys(("gru.input", "rnn_tanh.input", "rnn_relu.input"), "as lstm.input"),
    "tensordot.decomposed": "promotes as tensordot, whose product it is: aten/src/ATen/autocast_mode.h",
    "torchvision.roi_align.default": "torchvision/csrc/ops/autocast/roi_align_kernel.cpp",
    "torchvision.deform_conv2d.default": "torchvision/csrc/ops/autocast/deform_conv2d_kernel.cpp",
    **dict.fromkeys(
        (
            "grid_sampler_2d.default",
            "grid_sampler_3d.default",
            "native_group_norm.default",
            "nll_loss.default",
            "nll_loss_forward.default",
            "nll_loss2d_forward.default",
            "_thnn_fused_lstm_cell.default",
            "_thnn_fused_gru_cell.default",
            "_scaled_dot_product_flash_attention.default",
        ),
        NESTED,
    ),
    "_scaled_dot_product_cudnn_attention.default": UNUSED,
    "log_sigmoid_forward.default": UNUSED,
    "cudnn_batch_norm.default": RESERVE,
    "_cudnn_rnn.default": RESERVE,
    "_trilinear.default": "wrap_opt_if: what the gradients that are wanted need",
    "sgn.default": "for complex numbers alone",
    "norm.ScalarOpt_dim": "autocast appends dtype",
    "embedding_bag.default": "the overload with padding_idx too",
    **{
        f"upsample_{n}.default": "its overload .vec"
        for n in ("nearest1d", "nearest2d", "nearest3d", "linear1d", "trilinear3d", "bilinear2d", "bicubic2d")
    },
}


def write():
    import torch, torchgen
    from torchgen.packaged.autograd.load_derivatives import load_derivatives

    packaged = os.path.join(os.path.dirname(torchgen.__file__), "packaged")
    infos, _ = load_derivatives(
        packaged + "/autograd/derivatives.yaml",
        packaged + "/ATen/native/native_functions.yaml",
        packaged + "/ATen/native/tags.yaml",
    )
    keeps, casts = {}, {}
    for by in infos.values():
        info = by.get("Default") or next(iter(by.values()))
        f = info.func.func
        if f.is_out_fn() or str(f.name.name).endswith("_") or "foreach" in str(f.name):
            continue
        clauses = []
        for d in info.derivatives:
            kept = [s.nctype.name for s in (*d.saved_inputs, *d.saved_outputs) if "name='Tensor'" in str(s.nctype.type)]
            places = {
                r.name: f"result{i}" if len(f.returns) > 1 else "result" for i, r in enumerate(f.returns) if r.name
            }
            clauses.append(",".join(d.var_names) + ":" + ",".join(sorted({places.get(k, k) for k in kept})))
        keeps[str(f.name)] = ";".join(clauses)
    now = None
    for line in open(os.path.join(os.path.dirname(torch.__file__), "include", "ATen", "autocast_mode.h")):
        m = re.match(r"#define AT_FORALL_(\w+)\(_\)", line)
        now = CLASSES.get(m.group(1)) if m else now
        m = re.search(r'\b_\((\w+)(?:, (\w+))?\)|"(norm\.\w+)"', line)
        if now and m and m.group(1) != "ADD_NS":
            casts[m.group(3) or m.group(1) + ("." + m.group(2) if m.group(2) else "")] = now
    with open(FILE, "w") as out:
        print(
            f"# torch {torch.__version__.split('+')[0]}: operator, arguments, autocast, what each gradient keeps "
            f"(written by tables.py --write)",
            file=out,
        )
        for name in sorted({*keeps, *casts}):
            base, overload = (name.split(".") + ["default"])[:2]
            op = getattr(getattr(torch.ops.aten, base, None), overload, None)
            if op:
                print(
                    base + "." + overload,
                    " ".join(("@" if "Tensor" in str(a.type) else "") + a.name for a in op._schema.arguments),
                    casts.get(name, "-"),
                    keeps.get(name, "-"),
                    sep="\t",
                    file=out,
                )


def judge(line, truth):
    """(how many comparisons, what differs) of a row of --list=aten."""
    done, wrong = 0, []

    def check(what, mine, theirs):
        nonlocal done
        done += 1
        if mine != theirs and name not in OTHERWISE:
            wrong.append(f"{name}: {what} {mine or 'nothing'}, PyTorch's {theirs or 'nothing'}")

    name, args, grad, cast = line.split("\t")
    if name not in truth:
        check("autocast", cast, "-")
        return done, wrong
    schema, theirs, keeps = truth[name]
    args, tensors, schema = (
        args.split(),
        {a[1:] for a in schema.split() if a[0] == "@"},
        schema.replace("@", "").split(),
    )
    check("autocast", cast, theirs)
    if grad == "composite" or re.search(r"_backward|_grad$", name) or keeps == "-":
        return done, wrong
    check(
        "arguments",
        args,
        [a if a in args else s for a, s in zip(args, schema)] if "_" == name[0] else schema[: len(args)],
    )
    known = {*tensors, "result", *(f"result{i}" for i in range(8))}
    grad = re.sub(r"\bresult\b", "result0" if "result1" in grad + keeps else "result", grad)
    mine = collections.defaultdict(set)
    for clause in grad.split(";") if grad != "no derivative" else []:
        inputs, formula = clause.split(":", 1)
        for i in inputs.split(","):
            mine[i.strip()] |= {v for v in re.findall(r"(?<![#\w.])[A-Za-z_]\w*\b(?!\s*[(.])", formula) if v in known}
    order = [c.split(":")[0] for c in keeps.split(";")]
    at = [next((k for k, o in enumerate(order) if i in o.split(",")), -1) for i in mine]
    check("gradients in the order", list(mine) if at != sorted(at) else order, order)
    for clause in filter(None, keeps.split(";")):
        inputs, kept = clause.split(":")
        for i in inputs.split(","):
            check(
                f"the gradient of {i} keeps",
                sorted(mine[i]) if i in mine else "no derivative",
                sorted(k for k in kept.split(",") if k),
            )
    return done, wrong


def main():
    truth = {line.split("\t")[0]: line.rstrip("\n").split("\t")[1:] for line in open(FILE) if not line.startswith("#")}
    if sys.argv[1] == "--unnoticed":
        for line in sys.stdin:
            name, row = line.rstrip("\n").split("\t", 1)
            if not judge(row, truth)[1]:
                print(name)
        return False
    text = subprocess.run([sys.argv[1], "--list=aten"], capture_output=True, text=True, check=True).stdout
    done, wrong = zip(*(judge(line, truth) for line in text.splitlines()))
    wrong = sum(wrong, [])
    for w in wrong:
        print("FAILED:", w)
    print(f"{sum(done) - len(wrong)} passed, {len(wrong)} failed")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(write() if sys.argv[1:] == ["--write"] else main())
