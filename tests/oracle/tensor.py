#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Steps under tensor parallelism: rank 0 of a fake process group, PyTorch's own CUDA allocator, no GPU.

    tensor.py MEMLINT RECORD.PY --keep DIR [--only REGEX] [--gpus N,N] [--pack FILE]

Every case is a model, captured whole, and its step with parallelize_module over the layers that memlint says it cuts;
peaks and phases are compared to the byte. RECORD.PY is the oracle's, with nullgpu.cpp beside it. The optimizer steps
under implicit_replication, as parameters that no rank shares are plain tensors. Exit 1 where a case is not exact. An
archive that --pack writes has the models, and in cases of each case the model, memlint's options and what PyTorch
said.
"""

import fnmatch, functools, itertools, json, os, re, subprocess, sys, tarfile, tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "..", "packaging", "python")]
import real, steps

import torch, torch.nn.functional as F
from torch import nn


class Attention(nn.Module):
    def __init__(self, width, heads, bias=True):
        super().__init__()
        self.head = width // heads
        self.q, self.k, self.v, self.out = (nn.Linear(width, width, bias=bias) for _ in range(4))

    def forward(self, x):
        q, k, v = (f(x).view(*x.shape[:2], -1, self.head).transpose(1, 2) for f in (self.q, self.k, self.v))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.out(y.transpose(1, 2).reshape(*x.shape[:2], -1))


class Block(nn.Module):
    def __init__(self, width, heads, bias=True, dropout=0.0):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention = Attention(width, heads, bias)
        self.up, self.down = nn.Linear(width, 4 * width, bias=bias), nn.Linear(4 * width, width, bias=bias)
        self.drop = nn.Dropout(dropout)

    def forward(self, x):
        x = x + self.drop(self.attention(self.norm1(x)))
        return x + self.drop(self.down(F.gelu(self.up(self.norm2(x)))))


class GPT(nn.Module):
    def __init__(self, vocabulary=8000, width=256, heads=8, layers=2, context=128, **more):
        super().__init__()
        self.token, self.position = nn.Embedding(vocabulary, width), nn.Embedding(context, width)
        self.blocks = nn.Sequential(*(Block(width, heads, **more) for _ in range(layers)))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, vocabulary, bias=False)

    def forward(self, tokens):
        x = self.token(tokens) + self.position(torch.arange(tokens.shape[1], device=tokens.device))
        return self.head(self.norm(self.blocks(x)))


class Last(nn.Module):
    """A model of Transformers that returns one tensor."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, x):
        return self.model(x).logits


def llama(**more):
    import transformers

    sizes = dict(hidden_size=256, intermediate_size=688, num_attention_heads=8, num_hidden_layers=2, vocab_size=8000)
    config = transformers.LlamaConfig(**{**sizes, "use_cache": False, **more})
    return Last(transformers.LlamaForCausalLM(config))


def vit():
    import transformers

    config = transformers.ViTConfig(
        hidden_size=192,
        intermediate_size=768,
        num_attention_heads=4,
        num_hidden_layers=3,
        image_size=96,
        num_labels=100,
        hidden_dropout_prob=0.1,
    )
    return Last(transformers.ViTForImageClassification(config))


def text(batch):
    return (torch.zeros(batch, 128, dtype=torch.long),), torch.zeros(batch, 128, dtype=torch.long)


def images(batch):
    return (torch.rand(batch, 3, 96, 96),), torch.zeros(batch, dtype=torch.long)


def cross_entropy(out, targets):
    return F.cross_entropy(out.reshape(-1, out.shape[-1]), targets.reshape(-1))


CASES = {
    "gpt": (GPT, text, "blocks.?", 4),
    "gpt-large": (functools.partial(GPT, width=1024, heads=16, layers=4), text, "blocks.?", 8),
    "gpt-bare": (functools.partial(GPT, bias=False, layers=3), text, "blocks.?", 4),
    "gpt-dropout": (functools.partial(GPT, dropout=0.1, width=512), text, "blocks.?", 4),
    "llama": (llama, text, "model.model.layers.?", 4),
    "llama-grouped": (functools.partial(llama, num_key_value_heads=4), text, "model.model.layers.?", 4),
    "llama-eager": (functools.partial(llama, attn_implementation="eager"), text, "model.model.layers.?", 4),
    "vit": (vit, images, "model.vit.encoder.layer.?", 16),
}
WAYS = ("tensor", "tensor:sequence")
UNEVEN = [("vit", "tensor:sequence")]  # 37 patches, which memlint refuses
HEADS = ("num_heads", "num_attention_heads", "num_key_value_heads", "all_head_size")


def spread(plan, model, how, world, units):
    """What record.py calls for a model of several GPUs."""
    import torch.distributed as dist
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module
    from torch.testing._internal.distributed.fake_pg import FakeStore

    dist.init_process_group("fake", rank=0, world_size=world, store=FakeStore())
    mesh = init_device_mesh("cuda", (world,))
    units = [n for n, _ in model.named_modules() if fnmatch.fnmatchcase(n, units[0])]
    styles = along_sequence if how == "tensor:sequence" else lambda *_: (ColwiseParallel(), RowwiseParallel())
    for name, module in list(model.named_modules()):
        if isinstance(module, nn.Linear):
            for style, globs in zip(styles(model, mesh, units, name), plan):
                if any(re.fullmatch(g.replace(".", r"\.").replace("*", r"\d+"), name) for g in globs):
                    parallelize_module(module, mesh, style)
        if "attention" in type(module).__name__.lower():
            for heads in HEADS:
                if hasattr(module, heads):
                    setattr(module, heads, getattr(module, heads) // world)
    return model.to_empty(device="cuda"), []


def along_sequence(model, mesh, units, name):
    """The styles of a linear layer; with the first one norms, and modules that gather for their layers, get theirs."""
    from torch.distributed.tensor import Replicate, Shard
    from torch.distributed.tensor.parallel import ColwiseParallel, PrepareModuleInput, PrepareModuleOutput
    from torch.distributed.tensor.parallel import RowwiseParallel, SequenceParallel, parallelize_module

    whole, part = Replicate(), Shard(1)
    modules = dict(model.named_modules())
    gathers = {n for n in modules if any(n.startswith(u + ".") for u in units)}
    gathers = {n for n in gathers if any(isinstance(m, nn.Linear) for m in modules[n].children())}
    if not hasattr(model, "prepared"):
        model.prepared = True
        for n in gathers:
            given = {"hidden_states": part}, {"hidden_states": whole}
            by_name = "self_attn" in n
            style = PrepareModuleInput(
                input_layouts=None if by_name else part,
                desired_input_layouts=None if by_name else whole,
                input_kwarg_layouts=given[0] if by_name else None,
                desired_input_kwarg_layouts=given[1] if by_name else None,
            )
            parallelize_module(modules[n], mesh, style)
        for u in units:
            for n, m in modules[u].named_children():
                if "norm" in n:
                    parallelize_module(m, mesh, SequenceParallel(use_local_output=True))
        style = PrepareModuleInput(input_layouts=whole, desired_input_layouts=part, use_local_output=True)
        parallelize_module(modules[units[0]], mesh, style)
        parallelize_module(
            modules[units[-1]], mesh, PrepareModuleOutput(output_layouts=part, desired_output_layouts=whole)
        )
    columns = ColwiseParallel() if name.rpartition(".")[0] in gathers else ColwiseParallel(input_layouts=part)
    return columns, RowwiseParallel(output_layouts=part)


def replicated(make, params):
    from torch.distributed.tensor.experimental import implicit_replication

    optimizer = make(params)
    step = optimizer.step

    def within():
        with implicit_replication():
            return step()

    optimizer.step = within
    return optimizer


def on_meta(build):
    """No rank ever has the whole model."""
    with torch.device("meta"):
        return build()


def capture(name, path):
    import memlint

    build, inputs, *_ = CASES[name]
    example, targets = inputs(2)
    memlint.export(build(), *example, path=path, loss=cross_entropy, targets=(targets,))


def measure(record, name, how, plan, world, optimizer, precision, path):
    import torch.utils._device, types

    build, inputs, units, batch = CASES[name]
    entry = types.SimpleNamespace(inputs=inputs, loss=cross_entropy, loss_name="cross-entropy", real_build=False)
    entry.build = lambda: on_meta(build)
    record.spread = functools.partial(spread, plan)
    record.OPTIMIZERS = {k: functools.partial(replicated, make) for k, make in record.OPTIMIZERS.items()}
    truth = record.record(name, entry, batch, optimizer, precision, parallel=how, world=world, units=[units])
    with open(path, "w") as f:
        json.dump(truth, f)


class Failed(Exception):
    """Why a case can't be compared."""


def made(a, file, what, make):
    """The path of a file in the folder that is kept; make(path) writes what is not there, in a child."""
    path = os.path.join(a.keep, file)
    if not os.path.exists(path) and not steps.apart(path + ".log", lambda: make(path)):
        raise Failed(f"not {what}: " + steps.reason(path + ".log"))
    return path


def ask(a, model, batch, optimizer, precision, *more):
    """(memlint's command, its answer)"""
    command = [a.memlint, model, f"--dim=batch={batch}", f"--precision={precision}", f"--optimizer={optimizer}", *more]
    p = subprocess.run([*command, "--format=json"], capture_output=True, text=True)
    if p.returncode:
        raise Failed(p.stderr.strip())
    return command, json.loads(p.stdout)


def recorded(path):
    """What record.py wrote there, as differences takes it."""
    truth = json.load(open(path))
    return {"peak": truth["peak_allocated"], "reserved": truth["peak_reserved"], **truth["allocated_after"]}


def differences(command, answer, truth, rows):
    """What memlint says otherwise than PyTorch; the case is added to rows."""
    got = {"peak": answer["peak"]["allocated"], "reserved": answer["peak"]["reserved"], **answer["allocated_after"]}
    rows.append([os.path.basename(command[1]), " ".join(command[2:]), *map(str, truth.values())])
    return [f"{k} {got.get(k, 0) - truth[k]:+d} of {truth[k]}" for k in truth if got.get(k, 0) != truth[k]]


def pack(path, folder, rows):
    with tempfile.TemporaryDirectory() as work, tarfile.open(path, "w:xz") as archive:
        with open(os.path.join(work, "cases"), "w") as f:
            f.writelines("\t".join(row) + "\n" for row in rows)
        archive.add(os.path.join(work, "cases"), "cases")
        for model in sorted({row[0] for row in rows}):
            archive.add(os.path.join(folder, model), model)


def compare(a, record, name, how, world, optimizer, precision, rows):
    units, batch = CASES[name][2:]
    model = made(a, f"{name}.onnx", "captured", functools.partial(capture, name))
    more = f"--parallel={how}", f"--gpus={world}", f"--units={units}"
    command, answer = ask(a, model, batch, optimizer, precision, *more)
    said = " ".join(answer["setup"]["assumptions"])
    plan = [re.search(rf"by {kind} \((.*?)\)", said)[1].split(", ") for kind in ("columns", "rows")]
    measured = functools.partial(measure, record, name, how, plan, world, optimizer, precision)
    case = made(a, f"{name}.{how}.{world}.{optimizer}.{precision}", "recorded", measured)
    return "  ".join(differences(command, answer, recorded(case), rows)) or "exact"


RECIPES = ("adamw", "fp32"), ("sgd", "fp32"), ("adamw", "amp-bf16")


def arguments(doc):
    ap = real.arguments(doc)
    ap.add_argument("--pack", metavar="FILE", help="write an archive for tests/ranks.sh")
    return ap


def run(a, cases, compare):
    """Compares each case, printed by its words; True when one is not exact."""
    os.makedirs(a.keep, exist_ok=True)
    record, wrong, rows = real.begin(a), 0, []
    os.environ["MEMLINT"] = a.memlint
    for case in cases:
        words = " ".join(map(str, case))
        if re.search(a.only, words):
            try:
                verdict = compare(a, record, *case, rows)
            except Failed as e:
                verdict = str(e)
            wrong += verdict != "exact"
            print(words, verdict, sep="  ", flush=True)
    if a.pack:
        pack(a.pack, a.keep, rows)
    return wrong != 0


def main():
    ap = arguments(__doc__)
    ap.add_argument("--gpus", default="2,4", help="ranks, with commas between")
    a = ap.parse_args()
    cases = itertools.product(CASES, WAYS, map(int, a.gpus.split(",")), RECIPES)
    return run(a, [(name, how, n, *recipe) for name, how, n, recipe in cases if (name, how) not in UNEVEN], compare)


if __name__ == "__main__":
    sys.exit(main())
