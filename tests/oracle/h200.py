#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""memlint beside what PyTorch took on a physical GPU: tables in Markdown, and bounds.

    h200.py MEMLINT ORACLE [PEOPLE] [--with=OPTION...] [--worst N] [--tables]

h200.tar.xz has what crowd.py, sweeps.py, queries.py and fits.py said on an NVIDIA H200 (PyTorch 2.11.0+cu130, cuDNN
9.19, driver 580.159). Compared are steps of ORACLE's zoo (its models.tar.xz, exports by dynamo), those with expandable
segments, too, steps of real size (large.py; large.tar.xz has memlint's own exports of it, and of its own where the
program makes other calls in a precision; its folder moved is of crowd.py --moved on the stand-in device), recurrent
layers and, where PEOPLE is a folder with people.tar.xz's exports as people.py keeps them (PEOPLE/SET/NAME.onnx), the
models that people wrote by hand; "unseen" are those whose steps on the GPU no rule has been made with. A step counts
where the verdict is not inconclusive. What the driver counts beside PyTorch's segments tells which steps ran cuDNN.
With --tables each step of real size follows, and the largest batches of fits.jsonl: those that memlint names and those
that ran. Exit 1 where a figure of BOUNDS is farther off than it says.
"""

import argparse, collections, json, os, re, subprocess, sys, tarfile, tempfile
from concurrent.futures import ThreadPoolExecutor

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
WITHOUT_CUDNN = range(740, 746)  # MiB of the context and cuBLAS; a convolution without products has 630
BOUNDS = {  # percent: median, 95th percentile
    ("zoo", "without cuDNN", "allocated"): (0.0, 0.3),
    ("zoo", "without cuDNN", "reserved"): (0.2, 4),
    ("zoo", "with cuDNN", "allocated"): (0.1, 2),
    ("zoo", "with cuDNN", "reserved"): (2, 15),
    ("large", "without cuDNN", "allocated"): (0.0, 0.00001),
    ("large", "without cuDNN", "reserved"): (0.5, 3),
    ("large", "with cuDNN", "allocated"): (0.02, 0.25),
    ("large", "with cuDNN", "reserved"): (1, 5),
    ("large", "moved", "allocated"): (0.0, 0.002),
    ("large", "moved", "reserved"): (0.0, 0.1),
    ("layers", "recurrent", "workspace"): (0.05, 5),
    ("layers", "recurrent", "reserve"): (0.0, 0.0),
    ("layers", "attention", "kernel"): (0.0, 0.0),
}
FLAGS = {
    "deterministic": ["--cudnn-flags=deterministic"],
    "no-tf32": ["--cudnn-flags=no-tf32"],
    "benchmark": ["--cudnn-flags=benchmark"],
    "channels_last": ["--assume=inputs=channels-last"],
    "expandable": ["--allocator=expandable"],
}
GATES = {"LSTM": 4, "GRU": 3, "RNN": 1}
LAYER = """<ir_version: 8, opset_import: ["": 17]>
g (float[{steps}, {batch}, {input}] x) => (float[{steps}, {both}, {batch}, {units}] y)
<float[1, 1, {input}] "s" = {{}}, float[{both}, {rows}, {input}] "w" = {{}}, float[{both}, {rows}, {units}] "r" = {{}},
 float[{both}, {biases}] "b" = {{}}>
{{
  z = Add (x, s)
  y = {kind} <hidden_size = {units}{more}> (z, w, r, b)
}}
"""

ATTENTION = """<ir_version: 10, opset_import: ["": 23]>
g ({inputs}) => (y)
<float[1, 1, 1, {head}] s = {{}}>
{{
  q = Add (q0, s)
  k = Add (k0, s)
  v = Add (v0, s)
  y = Attention <is_causal = {causal:d}> (q, k, v{mask})
}}
"""
KERNELS = {"Cudnn": "_cudnn_attention.", "Flash": "_flash_attention.", "Efficient": "_efficient_attention."}


def lines(tar, name):
    return [json.loads(line) for line in tar.extractfile("h200/" + name)]


def ask(a, path, options):
    p = subprocess.run([a.memlint, path, *options, *a.options, "--format=json"], capture_output=True, text=True)
    try:
        return json.loads(p.stdout)
    except ValueError:
        return None


def step(a, path, options, r):
    """(class, what, error in percent, model) of a record's figures; none where memlint is not sure."""
    said = ask(a, path, ["--precision=" + r["precision"], "--device=h200", *options])
    if not said or said["verdict"] == "inconclusive":
        return []
    beside = (r["process_used"] or 0) - r["peak_reserved"]
    kind = "without cuDNN" if beside >> 20 in WITHOUT_CUDNN else "with cuDNN"
    name = " ".join(map(str, (r.get("of", r["model"]), r["batch"], r["precision"])))
    kind = r["flags"][0] if r.get("flags") else kind
    return [
        (kind, k, 100 * (said["peak"][k] - r["peak_" + k]) / r["peak_" + k], name) for k in ("allocated", "reserved")
    ]


def zoo(a, tar, tmp):
    with tarfile.open(os.path.join(a.oracle, "models.tar.xz")) as models:
        models.extractall(tmp)
    with open(os.path.join(a.oracle, "records.jsonl")) as f:
        drops = {r["model"] for r in map(json.loads, f) if "native_dropout" in r.get("absent_from_eval", ())}
    expandable = [{**r, "flags": ["expandable"]} for r in lines(tar, "expandable.jsonl") if not r.get("flags")]
    for r in lines(tar, "records.jsonl") + expandable:
        path = os.path.join(tmp, r["model"] + ".dynamo.onnx")
        if r["zoo"] != "zoo.py" or not os.path.exists(path):
            continue
        options = [
            "--dim",
            f"batch={r['batch']}",
            "--optimizer",
            r["optimizer"],
            "--loop",
            r["loop"],
            "--loss",
            r["loss"],
            "--dropout",
            "auto" if r["model"] in drops else "none",
        ]
        yield path, options + FLAGS[r["flags"][0]] if r.get("flags") else options, r


def export_of(tmp, name, precision):
    own = os.path.join(tmp, f"{name}.{precision}.onnx")
    return own if os.path.exists(own) else os.path.join(tmp, name + ".onnx")


def large(a, tar, tmp):
    for r in lines(tar, "large.jsonl"):
        yield export_of(tmp, r["model"], r["precision"]), [f"--dim=batch={r['batch']}", "--loss=" + r["loss"]], r


def moved(a, tmp):
    """The same of steps whose model was built on the CPU and moved, on the device without memory, an H100's double."""
    with open(os.path.join(tmp, "moved", "steps.jsonl")) as f:
        for r in map(json.loads, f):
            path = export_of(tmp, r["model"], r["precision"])
            options = [f"--dim=batch={r['batch']}", "--loss=" + r["loss"], "--device=h100", "--cudnn=none"]
            yield path, options, {**r, "flags": ["moved"]}


def people(a, tar, which):
    import people as sets

    with tarfile.open(os.path.join(HERE, "people.tar.xz")) as sources:
        for r in lines(tar, which):
            path = os.path.join(a.people, r["zoo"], r["of"] + ".onnx")
            if os.path.exists(path):
                yield path, sets.options(sources.extractfile(f"{r['zoo']}/{r['of']}.py").read().decode()), r


def layer(a, tmp, number, r):
    """The same of a recurrent layer: its reserve and its workspace, which may be a block that was not split."""
    both, rows = 1 + r["both"], GATES[r["kind"]] * r["units"]
    more = ', direction = "bidirectional"' * r["both"] + ", linear_before_reset = 1" * (r["kind"] == "GRU")
    more += ", activations = [" + ", ".join(['"Relu"'] * both) + "]" if r["relu"] else ""
    path = os.path.join(tmp, f"{number}.txt")
    with open(path, "w") as f:
        f.write(LAYER.format(**{**r, "both": both, "rows": rows, "biases": 2 * rows, "more": more}))
    words = [a.memlint, path, "--loss=sum", "--device=h200", "--precision=" + r["type"], "--dump=step"]
    said = subprocess.run(words, capture_output=True, text=True).stdout.splitlines()
    found = [
        int(line.split("\t")[5].strip("[]")) for line in said if re.match(r"\+.*_cudnn_rnn\.default.*uint8$", line)
    ]
    if len(found) != 2:
        return [("recurrent", "reserve", 100.0, str(r))]
    real, slack = r["forward"][1] - r["forward"][0], 1 << 20
    off = max(0, found[1] - real, real - found[1] - slack)
    return [
        ("recurrent", "reserve", 100 * (found[0] - r["reserve"]) / r["reserve"], str(r)),
        ("recurrent", "workspace", 100 * off / real, str(r)),
    ]


def attention(a, tmp, number, r):
    """The same of a call of attention: whether its kernel is the one that ran; what is none of KERNELS is unfused."""
    batch, heads, queries, keys = (r[k] for k in ("batch", "heads", "queries", "keys"))
    few = 1 if r["grouped"] else heads
    masks = {
        "bool": (batch, 1, queries),
        "float": (batch, heads, queries),
        "expanded": (1, 1, queries),
        "row": (batch, 1, 1),
    }
    sizes = {"q0": (batch, heads, queries, r["head"])}
    sizes.update({name: (batch, few, keys, r["head"]) for name in ("k0", "v0")})
    inputs = [f"float[{', '.join(map(str, of))}] {name}" for name, of in sizes.items()]
    if r["mask"]:
        kind = "bool" if r["mask"] in ("bool", "row") else "float"
        inputs.append(f"{kind}[{', '.join(map(str, (*masks[r['mask']], keys)))}] mask")
    path = os.path.join(tmp, f"attention{number}.txt")
    with open(path, "w") as f:
        f.write(ATTENTION.format(**{**r, "inputs": ", ".join(inputs), "mask": ", mask" if r["mask"] else ""}))
    words = [a.memlint, path, "--loss=sum", "--device=h200", "--precision=" + r["type"], "--dump=step"]
    said = subprocess.run(words, capture_output=True, text=True).stdout
    is_ = {name for name, part in KERNELS.items() if part in said}
    ran = {name for name in KERNELS if name in r["node"]}
    return [("attention", "kernel", 0.0 if said and is_ == ran else 100.0, str(r))]


def each(a, tar, tmp):
    """Prints what the GPU's allocator had at the peak of each step of real size, GiB, and how far off memlint is."""
    print("| model | batch | precision | allocated | off by | reserved | off by |\n" + "| --- " * 7 + "|")
    rows = sorted(large(a, tar, tmp), key=lambda t: (t[2]["model"], t[2]["precision"], t[2]["batch"]))
    for path, options, r in rows:
        figures = " | ".join(
            f"{r['peak_' + what] / 2**30:.2f} | {error:+.3f} %" for _, what, error, _ in step(a, path, options, r)
        )
        print(f"| {r['model']} | {r['batch']} | {r['precision']} | {figures} |")


def batches(a, tar, tmp):
    """Prints, and gives, the largest batch that memlint names for each search of fits.py beside the one that ran."""
    losses = {r["model"]: r["loss"] for r in lines(tar, "large.jsonl")}
    print("| model | precision | GiB | memlint | ran | cache given back |\n" + "| --- " * 6 + "|")
    for r in sorted(lines(tar, "fits.jsonl"), key=lambda r: (r["model"], r["precision"])):
        path = export_of(tmp, r["model"], r["precision"])
        room = [f"--device={r['limit'] + (1 << 20)}", "--context=1MiB"]  # the allocator's limit is all that there is
        options = ["--dim=batch=2", "--precision=" + r["precision"], "--loss=" + losses[r["model"]], *room]
        said = ask(a, path, options)["fits"][0]["largest_batch"]
        print(f"| {r['model']} | {r['precision']} | {r['limit'] / 2**30:.0f} | {said} | {r['ran']} | {r['retries']} |")
        yield "largest batch", "batch", 100 * (said - r["ran"]) / r["ran"], f"{r['model']} {r['precision']}"


def quantile(values, p):
    return sorted(values)[min(len(values) - 1, int(p * len(values)))]


def table(a, name, rows):
    """Prints a table; whether all bounds hold."""
    good = True
    classes = collections.defaultdict(list)
    for kind, what, error, of in rows:
        classes[kind, what].append((error, of))
    for (kind, what), errors in sorted(classes.items()):
        sizes = [abs(e) for e, _ in errors]
        found = quantile(sizes, 0.5), quantile(sizes, 0.95)
        most = BOUNDS.get((name, kind, what), (100, 100))
        broken = any(f > m + 1e-9 for f, m in zip(found, most))
        good &= not broken
        print(
            f"| {name} | {kind} | {what} | {len(errors)} | {sum(s == 0 for s in sizes)} "
            f"| {found[0]:.3f} % | {found[1]:.2f} % "
            f"| {max(sizes):.2f} % |{' more than ' + str(most) if broken else ''}"
        )
        for error, of in sorted(errors, key=lambda e: -abs(e[0]))[: a.worst]:
            print(f"    {error:+8.2f} %  {of[:140]}")
    return good


def main():
    ap = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ap.add_argument("memlint")
    ap.add_argument("oracle")
    ap.add_argument("people", nargs="?")
    ap.add_argument("--with", dest="options", action="append", default=[])
    ap.add_argument("--worst", type=int, default=0)
    ap.add_argument("--tables", action="store_true")
    a = ap.parse_args()
    print("| what | class | figure | rows | exact | median | 19 in 20 | largest |\n" + "| --- " * 8 + "|")
    with tarfile.open(os.path.join(HERE, "h200.tar.xz")) as tar, tempfile.TemporaryDirectory() as tmp:
        with ThreadPoolExecutor(2) as pool:
            run = lambda tasks: [e for said in pool.map(lambda t: step(a, *t), tasks) for e in said]
            good = table(a, "zoo", run(list(zoo(a, tar, tmp))))
            rows = [
                r
                for r in lines(tar, "sweeps.jsonl")
                if r["what"] == "recurrent"
                and r["layers"] == 1
                and r["train"]
                and r["bias"]
                and not r["packed"]
                and not r["proj"]
            ]
            layers = pool.map(lambda n: layer(a, tmp, n, rows[n]), range(len(rows)))
            calls = [r for r in lines(tar, "sweeps.jsonl") if r["what"] == "attention"]
            attends = pool.map(lambda n: attention(a, tmp, n, calls[n]), range(len(calls)))
            good &= table(a, "layers", [e for said in [*layers, *attends] for e in said])
            with tarfile.open(os.path.join(HERE, "large.tar.xz")) as models:
                models.extractall(tmp)
            good &= table(a, "large", run([*large(a, tar, tmp), *moved(a, tmp)]))
            if a.people:
                good &= table(a, "people", run(list(people(a, tar, "people.jsonl"))))
                good &= table(a, "unseen", run(list(people(a, tar, "unseen.jsonl"))))
            if a.tables:
                each(a, tar, tmp)
                good &= table(a, "large", list(batches(a, tar, tmp)))
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
