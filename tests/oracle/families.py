#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""One model of each family that timm, Transformers and torchvision have, as its library makes it: is the peak right,
or said to be unsure?

    families.py MEMLINT RECORD.PY EXPORT.PY [--only REGEX] [--seed N] [--count N] [--keep DIR] [--kept] [--captured]
                [--torchscript] [--evaluated] [-v]

Nobody chose these models: of timm the smallest of every module by its name, of Transformers every causal or masked
language model and image classifier, its configuration's sizes made small, of torchvision one name of every module, of
other packages the rows of packages.py, unseen.py and installed.py, of PyTorch's own utilities those of utilities.py.
They are tried in an order that the seed shuffles, fp32 and autocast, AdamW, exported by dynamo in training mode, or
captured by memlint's own export, or by TorchScript's exporter, in training mode too, or by dynamo in evaluation mode,
as most people export, or by TorchScript's in evaluation mode with constants folded, the default before PyTorch 2.9
(--torchscript --evaluated).
--kept scores again what DIR has. Printed: a line for each row that is wrong by more than 0.5 % or in doubt, then a
table. Exit 1 when one is wrong and sure. Needs timm, too.
"""

import collections, json, os, random, re, sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import captured, installed, packages, repositories, steps, unseen, utilities

BATCH = 4
SMALL = (
    "test_ nano atto femto pico micro xxs xxt xs xt tiny _t_ _t mini small _s 18 26 m0 b0 _0 a0 lite base _b".split()
)
SIZES = {
    64: "hidden_size d_model n_embd embedding_size dim",
    2: "num_hidden_layers n_layer n_layers num_layers encoder_layers decoder_layers num_key_value_heads",
    4: "num_attention_heads n_head n_heads num_heads encoder_attention_heads decoder_attention_heads num_experts "
    "num_local_experts",
    128: "intermediate_size ffn_dim d_ff encoder_ffn_dim decoder_ffn_dim hidden_dim",
    16: "head_dim d_kv",
    512: "vocab_size",
    256: "max_position_embeddings n_positions",
    0: "pad_token_id",
    1: "bos_token_id eos_token_id",
}
HEAD = "import torch\nfrom torch import nn\nfrom zoo_base import *\n"
TIMM = HEAD + """import timm
ZOO = {{"case": image(lambda: timm.create_model("{name}", pretrained=False), {size}, (4,), real_build=True)}}
"""
VISION = HEAD + """import torchvision
ZOO = {{"case": image(lambda: torchvision.models.get_model("{name}", weights=None, **{more}), {size}, (4,), \
real_build=True)}}
"""
LANGUAGE = HEAD + """import transformers
class M(nn.Module):
    def __init__(self):
        super().__init__()
        sizes = {sizes}
        plain = transformers.{config}()
        own = {{k: v for k, v in sizes.items() if type(getattr(plain, k, "")) in (int, type(None))}}
        config = transformers.{config}(**own)
        config.use_cache = False
        self.model = transformers.{name}(config)
    def forward(self, {given}):
        return self.model({given}={given}).logits
ZOO = {{"case": {entry}}}
"""
TEXT = "text(M, 32, (4,), real_build=True)"
PICTURE = (
    'Entry(M, lambda b: ({"pixel_values": torch.rand(b, 3, 64, 64)}, torch.zeros(b, dtype=torch.long)), '
    "cross_entropy, (4,), real_build=True)"
)


def timm_models():
    import timm

    modules = collections.defaultdict(list)
    for name in timm.list_models():
        modules[timm.models._registry._model_to_module[name]].append(name)

    def order(name):
        return next((i for i, part in enumerate(SMALL) if part in name), len(SMALL)), len(name)

    for names in modules.values():
        name = min(names, key=order)
        made = timm.models.get_pretrained_cfg(name)
        yield (
            "tm_" + name.replace(".", "_"),
            TIMM.format(name=name, size=made.input_size[1] if made and made.fixed_input_size else 96),
        )


def transformers_models():
    from transformers.models.auto import configuration_auto, modeling_auto

    sizes = {name: n for n, names in SIZES.items() for name in names.split()}
    for mapping, given, entry in (
        (modeling_auto.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES, "input_ids", TEXT),
        (modeling_auto.MODEL_FOR_MASKED_LM_MAPPING_NAMES, "input_ids", TEXT),
        (modeling_auto.MODEL_FOR_IMAGE_CLASSIFICATION_MAPPING_NAMES, "pixel_values", PICTURE),
    ):
        for kind, name in mapping.items():
            name = name if isinstance(name, str) else name[0]
            config = configuration_auto.CONFIG_MAPPING_NAMES.get(kind)
            if config:
                yield "hf_" + name, LANGUAGE.format(sizes=sizes, config=config, name=name, given=given, entry=entry)


def torchvision_models():
    import torchvision

    modules = {}
    for name in torchvision.models.list_models(module=torchvision.models):
        modules.setdefault(torchvision.models.get_model_builder(name).__module__, name)
    for name in modules.values():
        yield (
            "tv_" + name,
            VISION.format(
                name=name,
                size=224 if name in ("maxvit_t", "vit_b_16") else 96,
                more={"aux_logits": False, "init_weights": False} if name == "googlenet" else {},
            ),
        )


def packages_models():
    for package, name, imports, made, given in packages.ROWS:
        yield f"pk_{package}_{name}", packages.SOURCE.format(imports=imports, made=made, given=given)
    for package, name, imports, made, given, loss in unseen.ROWS:
        source = packages.SOURCE.format(imports=imports, made=made, given=given)
        yield f"pk_{package}_{name}", unseen.INSIDE_LOSS + source.replace(*unseen.OUT) if loss else source
    for name, imports, made, given in installed.ROWS:
        yield f"pk_installed_{name}", packages.SOURCE.format(imports=imports, made=made, given=given)


def repositories_models():
    folder = os.environ.get("REPOSITORIES")
    for repository, name, imports, made, given in repositories.ROWS if folder else ():
        yield (
            f"rp_{re.sub('[^a-z0-9]', '', repository.lower())}_{name.lower()}",
            repositories.SOURCE.format(
                folder=os.path.realpath(folder), repository=repository, imports=imports, made=made, given=given
            ),
        )


LIBRARIES = {  # the loss is what their sources call
    "tm_": ("timm", timm_models, "cross-entropy"),
    "hf_": ("Transformers", transformers_models, "cross-entropy"),
    "tv_": ("torchvision", torchvision_models, "cross-entropy"),
    "pk_": ("packages", packages_models, "mse"),
    "rp_": ("repositories", repositories_models, "mse:{}"),
    "pu_": ("torch.nn.utils and options", utilities.models, "sum"),
}


def recorded(bench, name, source, precision):
    """What record.py says of the step; None where PyTorch refuses."""
    path, log = bench.file(name, f".{precision}.json"), bench.file(name, ".log")

    def record():
        entry = steps.load("zoo", bench.file(name, ".py")).ZOO["case"]
        answer = bench.record.record(name, entry, BATCH, "adamw", precision, "plain")
        answer["frozen"] = [p for p, of in entry.build().named_parameters() if not of.requires_grad]
        with open(path, "w") as f:
            json.dump(answer, f)

    if not os.path.exists(path):
        bench.put(name, source)
        steps.apart(log, record)
    return json.load(open(path)) if os.path.exists(path) else None


def by_torchscript(bench, file, evaluated):
    mode = bench.torch.onnx.TrainingMode

    def export(model, inputs):
        bench.torch.onnx.export(
            model.train(not evaluated),
            (inputs,),
            file,
            dynamo=False,
            opset_version=17,
            training=mode.EVAL if evaluated else mode.TRAINING,
            do_constant_folding=evaluated,
            input_names=list(inputs),
            output_names=["output"],
            dynamic_axes={k: {0: "batch"} for k in inputs},
        )
        return bench.onnx.load(file)

    return export


def suffix(a):
    """What the names of files end with that are exported so."""
    return ".captured" if a.captured else ".ts" * a.torchscript + ".evaluated" * a.evaluated


def exported(a, bench, name, source, file):
    if a.torchscript or a.evaluated:
        made = file + ".tmp"

        def evaluated(model, inputs):
            return bench.dynamo(model.eval(), inputs, made)

        export = by_torchscript(bench, made, a.evaluated) if a.torchscript else evaluated
        return not bench.take(name + suffix(a), source, batch=BATCH // 2, export=export, what=("file",))
    if not a.captured:
        return not bench.take(name, source, batch=BATCH // 2, what=("file",))
    log = bench.file(name, ".captured.log")
    return os.path.exists(file) or steps.apart(log, lambda: captured.capture_case(bench, name))


def row(bench, name, precision, truth, how):
    of = name + how
    outputs = bench.onnx.load(bench.file(of, ".onnx"), load_external_data=False).graph.output
    inside = re.match(r"# loss: (\S+)", open(bench.file(name, ".py")).read())
    options = ["--loss", inside.group(1) if inside else LIBRARIES[name[:3]][2].format(outputs[0].name)]
    if how != ".captured":
        options += ["--dim", f"batch={BATCH}", *(f"--freeze={p}" for p in truth.get("frozen", ()))]
    return bench.error(of, options, precision, truth)


def run(a, bench):
    counts = collections.defaultdict(collections.Counter)
    models = dict(m for _, make, _ in LIBRARIES.values() for m in make())
    names = [n for n in models if re.search(a.only, n)]
    random.Random(a.seed).shuffle(names)
    how = suffix(a)
    for name in names[: a.count or len(names)]:
        count = counts[LIBRARIES[name[:3]][0]]
        file = bench.file(name, how + ".onnx")
        if a.kept and not os.path.exists(file):
            continue
        truths = {
            p: recorded(bench, name, models[name], p)
            for p in steps.PRECISIONS
            if not a.kept or os.path.exists(bench.file(name, f".{p}.json"))
        }
        if not any(truths.values()) or not a.kept and not exported(a, bench, name, models[name], file):
            count["left out"] += 1
            continue
        count["models"] += 1
        for precision, truth in ((p, t) for p, t in truths.items() if t):
            steps.score(a, count, f"{name} {precision}", *row(bench, name, precision, truth, how))
    return steps.scores(counts, "library", ("models",), ("left out",))


def main():
    ap = steps.arguments(__doc__)
    ap.add_argument("--seed", type=int, default=1)
    ap.add_argument("--count", type=int, default=0, help="so many models; all without it")
    ap.add_argument("--kept", action="store_true", help="only what --keep's folder has: needs no recorder's time")
    ap.add_argument("--captured", action="store_true", help="files by memlint's own export instead of PyTorch's")
    ap.add_argument("--torchscript", action="store_true", help="files by TorchScript's exporter")
    ap.add_argument("--evaluated", action="store_true", help="files exported in evaluation mode")
    return steps.on_bench(run, ap.parse_args())


if __name__ == "__main__":
    sys.exit(main())
