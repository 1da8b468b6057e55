#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Exports that went through tools: does memlint still know the step, or say that it doesn't?

    tools.py MEMLINT RECORD.PY EXPORT.PY --keep DIR [--environments DIR] [--only REGEX] [--pack FILE] [--table] [-v]

DIR is that of versions.py, which has the records. The models of versions.py are exported by torch 2.11 with their
weights, by both exporters in both modes; an environment with the tools (venv and pip) runs each tool on each file; then
the weights go, and memlint's peak is compared with the record: of a file in half precision, with that of the model in
half precision. Exit 1 when one is wrong and sure.
"""

import argparse, collections, os, re, subprocess, sys, tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import steps, versions

PACKAGES = (
    "onnx<1.20",
    "onnxsim",
    "onnxslim",
    "onnxruntime",
    "onnxconverter-common",
    "onnxoptimizer",
    "sympy",
    "onnxscript",
    "onnx-graphsurgeon",
)


# ---- the tools -------------------------------------------------------------------------------------------------------


def simplified(path, to):
    import onnx, onnxsim

    onnx.save(onnxsim.simplify(onnx.load(path))[0], to)


def slimmed(path, to):
    import onnxslim

    onnxslim.slim(path, to)


def optimized(path, to):
    import onnx, onnxoptimizer

    onnx.save(onnxoptimizer.optimize(onnx.load(path)), to)


def converted(path, to):
    import onnx, onnx.version_converter

    m = onnx.load(path)
    onnx.save(onnx.version_converter.convert_version(m, 21 if m.opset_import[0].version != 21 else 20), to)


def inferred(path, to):
    import onnx, onnx.shape_inference

    onnx.save(onnx.shape_inference.infer_shapes(onnx.load(path)), to)


def runtime(level):
    def run(path, to):
        import onnxruntime

        o = onnxruntime.SessionOptions()
        o.graph_optimization_level = getattr(onnxruntime.GraphOptimizationLevel, "ORT_" + level)
        o.optimized_model_filepath = to
        onnxruntime.InferenceSession(path, o, providers=["CPUExecutionProvider"])

    return run


def transformer(path, to):
    from onnxruntime.transformers import optimizer

    optimizer.optimize_model(path, model_type="bert", num_heads=4, hidden_size=64, opt_level=0).save_model_to_file(to)


def halved(keep):
    def run(path, to):
        import onnx
        from onnxconverter_common import float16

        onnx.save(float16.convert_float_to_float16(onnx.load(path), keep_io_types=keep), to)

    return run


def extracted(path, to):
    import onnx

    m = onnx.load(path)
    onnx.utils.extract_model(path, to, [i.name for i in m.graph.input], [o.name for o in m.graph.output])


def cleaned(path, to):
    import onnx, onnx_graphsurgeon

    graph = onnx_graphsurgeon.import_onnx(onnx.load(path))
    onnx.save(onnx_graphsurgeon.export_onnx(graph.cleanup().toposort()), to)


def rewritten(path, to):
    import onnx, onnxscript.optimizer

    onnx.save(onnxscript.optimizer.optimize(onnx.load(path)), to)


def prepared(path, to):
    from onnxruntime.quantization.shape_inference import quant_pre_process

    quant_pre_process(path, to)


def quantized(path, to):
    from onnxruntime.quantization import quantize_dynamic

    quantize_dynamic(path, to)


TOOLS = {
    "onnxsim": simplified,
    "onnxslim": slimmed,
    "onnxoptimizer": optimized,
    "version-converter": converted,
    "shape-inference": inferred,
    "extract-model": extracted,
    "graphsurgeon": cleaned,
    "onnxscript": rewritten,
    "ort-disabled": runtime("DISABLE_ALL"),
    "ort-basic": runtime("ENABLE_BASIC"),
    "ort-extended": runtime("ENABLE_EXTENDED"),
    "ort-all": runtime("ENABLE_ALL"),
    "ort-transformers": transformer,
    "fp16": halved(False),
    "fp16-keep-io": halved(True),
    "ort-prepare": prepared,
    "ort-quantize": quantized,
}


HALVED = "fp16"  # a file of a model in half precision, whatever made it so


def export(folder):
    """In torch's environment: the models, with their weights."""
    import torch

    with open(os.path.join(folder, "zoo.py"), "w") as f:
        f.write(versions.ZOO)
    for name, of in steps.load("zoo", os.path.join(folder, "zoo.py")).MODELS.items():
        for flavour in versions.FLAVOURS:
            path = os.path.join(folder, f"{name}.{flavour}.onnx")
            write = lambda: versions.write(torch, versions.Case(torch, *of), flavour, path)
            if not os.path.exists(path) and not steps.apart(path + ".log", write):
                print(name, flavour, "not exported:", steps.reason(path + ".log"), flush=True)


def strip(path):
    """External data of the right length for what is large, wherever numbers stand; no folders in stack traces."""
    import onnx

    m, offset = onnx.load(path), 0
    tensors = list(m.graph.initializer) + [a.t for n in m.graph.node for a in n.attribute if a.HasField("t")]
    for t in tensors:
        if t.data_location == onnx.TensorProto.EXTERNAL:
            continue
        size = onnx.numpy_helper.to_array(t).nbytes
        if size <= 1024:
            continue
        for field in ("raw_data", "float_data", "int32_data", "int64_data", "double_data"):
            t.ClearField(field)
        t.data_location = onnx.TensorProto.EXTERNAL
        for k, v in (("location", "weights.bin"), ("offset", offset), ("length", size)):
            e = t.external_data.add()
            e.key, e.value = k, str(v)
        offset += size
    for node in list(m.graph.node) + [n for f in m.functions for n in f.node]:
        for p in node.metadata_props:
            p.value = re.sub(r"/[^\s\"'()]*?/(site-packages/|zoo)", r"\1", p.value)
    onnx.save(m, path)


def work(folder):
    """In the environment of the tools."""
    folder = os.path.abspath(folder)
    for file in sorted(os.listdir(folder)):
        name = file[: -len(".onnx")]
        if not file.endswith(".onnx") or name.count(".") != 1:
            continue
        for tool, run in TOOLS.items():
            path = os.path.join(folder, f"{name}.{tool}.onnx")

            def one():
                os.chdir(folder)  # some leave files where they run
                run(os.path.join(folder, file), path + ".tmp")
                strip(path + ".tmp")
                os.rename(path + ".tmp", path)

            if not os.path.exists(path) and not os.path.exists(path + ".log") and not steps.apart(path + ".log", one):
                print(name, tool, "failed:", steps.reason(path + ".log"), flush=True)


# ---- outside ---------------------------------------------------------------------------------------------------------


def compare(a, root):
    files = os.path.join(root, "tools")
    os.makedirs(files, exist_ok=True)
    torch = versions.environment(a.environments, versions.REFERENCE)
    tools = os.path.join(a.environments, "tools", "bin", "python")
    if not os.path.exists(tools):
        subprocess.check_call([sys.executable, "-m", "venv", os.path.join(a.environments, "tools")])
        subprocess.check_call([tools, "-m", "pip", "install", "-q", *PACKAGES])
    for python, step in ((torch, "--export"), (tools, "--work")):
        subprocess.run([python, os.path.abspath(__file__), *sys.argv[1:4], step, "--keep", files], check=True)
    cells, packed, counts = {}, [], collections.Counter()
    records = argparse.Namespace(**{**vars(a), "versions": versions.REFERENCE})
    for version, model, flavour, precision, words, peak, _ in versions.rows(records, root):
        for tool in TOOLS:
            path = os.path.join(files, f"{model}.{flavour}.{tool}.onnx")
            unknown = tool == HALVED and model in versions.UNRECORDED
            if precision != steps.PRECISIONS[0] or not os.path.exists(path) or unknown:
                continue
            of = peak if tool != HALVED else versions.recorded(a, root, version, model, versions.HALF)
            got, sure, why = versions.ask(a.memlint, path, words)
            error, state = versions.judge(got, of, sure)
            counts[state] += 1
            cells.setdefault((tool, flavour), collections.Counter())[state] += 1
            packed.append((model, flavour, tool, precision, words, of, path, state, None))
            if a.v or state in ("WRONG", "near"):
                print(
                    f"{state:6} {error:+8.2f} %  {tool:17} {model:9} {flavour:12}  {'; '.join(why[:2])[:200]}",
                    flush=True,
                )
    if a.table:
        print("| tool |", " | ".join(f.replace("-", ", ") for f in versions.FLAVOURS), "|")
        print("| --- " * (len(versions.FLAVOURS) + 1) + "|")
        for tool in TOOLS:
            row = [cells.get((tool, f), {}) for f in versions.FLAVOURS]
            print(
                f"| {tool} |",
                " | ".join(", ".join(f"{c[s]} {s}" for s in versions.STATES if c.get(s)) for c in row),
                "|",
            )
    print("  ".join(f"{state}: {counts[state]}" for state in versions.STATES))
    if a.pack:
        versions.pack(a.pack, packed)
    return counts["WRONG"] != 0


def main():
    ap = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in ("memlint", "record", "export"):
        ap.add_argument(name)
    ap.add_argument("--keep", required=True, metavar="DIR")
    ap.add_argument("--environments", default=os.path.join(tempfile.gettempdir(), "envs"), metavar="DIR")
    ap.add_argument("--only", default="", metavar="REGEX")
    ap.add_argument("--pack", metavar="FILE")
    ap.add_argument("--table", action="store_true")
    ap.add_argument("-v", action="store_true")
    ap.add_argument("--export", dest="exporting", action="store_true", help="export the models, by torch's Python")
    ap.add_argument("--work", action="store_true", help="run the tools, by their Python")
    a = ap.parse_args()
    if a.exporting or a.work:
        return (export if a.exporting else work)(a.keep)
    return compare(a, os.path.abspath(a.keep))


if __name__ == "__main__":
    sys.exit(main())
