#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The Python package: sizes, results of files, errors; with PyTorch (MEMLINT_TORCH names a Python that has it) models of
# its own, captured, and the file against the one that is in the repository.
# MEMLINT_PACKAGE empty: the package that python3 and that Python have installed, instead of the one beside this file.
. "$(dirname "$0")/lib.sh"
command -v python3 >/dev/null || skip "no python3"
export PYTHONPATH=${MEMLINT_PACKAGE-$SOURCE/packaging/python} PYTHONDONTWRITEBYTECODE=1 MEMLINT
cd "$work" || exit 1

says() { # says WHAT EXPRESSION: Python that must be true, of memlint and r, the result of an example
    ok "$1" python3 -c "import memlint
from memlint.result import size, Size
r = memlint.check('$SOURCE/tests/gate/base.txt', batch=8, optimizer='sgd')
assert $2, ($2)"
}
says "a size with a unit" "size('8GiB') == 8 << 30 and size('1.5 kB') == 1500 and size(7) == 7"
says "sizes compare" "Size(1 << 20) < '2MiB' and Size(1 << 20) >= '1MiB' and str(Size(1536)) == '1.50 KiB'"
says "a result of a file" "r.verdict == 'ok' and r.sure and r.peak == r.raw['peak']['allocated']"
says "the screen" "'Peak' in str(r) and 'base.txt' in str(r)"
says "findings" "r.findings and r.findings[0].rule and all(f.peak_after <= r.peak for f in r.findings)"
says "a device" "r.fits('h100') and not r.fits('1KiB')"
says "a page in a notebook" "r._repr_html_().startswith('<iframe srcdoc=')"
says "a report" "__import__('os').path.getsize(r.save('r.html')) > 1000"
python3 -c 'from memlint.result import size; size("8")' 2>err
ok "a size without a unit" grep -q "ValueError: a size is a number and a unit, as in 8GiB" err
python3 -c 'import memlint; memlint.check("absent.onnx")' 2>err
ok "a file that is not there" grep -q 'RuntimeError: memlint: absent.onnx: cannot be opened' err
python3 -c 'from memlint.checking import optimizer_name as n
class Odd: pass
class SGD:
    def __init__(self): self.param_groups = [{"momentum": 0.9}]
assert n(SGD()) == "momentum" and n(SGD) == "sgd" and n("lion") == "lion"
n(Odd)' 2>err
ok "optimizers by their class" grep -q "ValueError: memlint does not know the optimizer Odd" err
ok "the command is the program" [ "$(python3 -m memlint --version)" = "$("$MEMLINT" --version)" ]

without='import sys; sys.modules.update(torch=None, onnx=None); import memlint, memlint.__main__'
python3 -c "$without; memlint.export(lambda: 0, path='m.onnx')" 2>err
ok "what is not installed" grep -q '^memlint.needs.Missing: to look at a model memlint needs torch and onnx: pip' err
echo 'def example(): return None, ()' >none.py
python3 -c "$without; memlint.__main__.main(['export', 'none', '-o', 'm.onnx'])" 2>err
ok "likewise as a command" grep -q '^memlint: to look at a model memlint needs torch and onnx: pip' err

python=${MEMLINT_TORCH:-python3}
if ! "$python" -c 'import torch, onnx' 2>/dev/null; then
    echo "skipped: the capture itself: $python has no torch and onnx"
    finish
fi
cat >net.py <<'END'
import torch, torch.nn.functional as F
from torch import nn
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(32, 32)
        self.head = nn.Linear(32, 5)
        self.teacher = nn.Linear(32, 32).requires_grad_(False)
    def mix(self, x):
        gate = x.sigmoid()
        return (x * gate).exp()
    def forward(self, x, scale=None):
        with torch.no_grad():
            t = self.teacher(x)
        x = torch.utils.checkpoint.checkpoint(self.mix, self.fc(x), use_reentrant=False) + t
        x[:, 0] *= 2
        return self.head(x * scale["a"])
def example():
    return Net(), (torch.rand(4, 32),), {"scale": {"a": torch.ones(4, 1)}}
END
"$python" -m memlint export net:example -o net.onnx >out 2>&1
ok "a file from the command line: $(tail -1 out)" [ -s net.onnx ]
run net.onnx --dim batch=8 --loss=sum --format=json --fail-on=inconclusive
ok "it is certain: $(cat err)" [ "$code" = 0 ]
"$MEMLINT" net.onnx --dump=graph >graph
for sign in 'region = 1' 'grad = 0' 'names = ..gate' 'frozen teacher.weight' 'aten.mul_:Tensor' '_0:\|written'; do
    ok "the file has $sign" grep -q "$sign" graph
done
"$python" - >out 2>&1 <<'END'
import memlint, net, torch, torch.nn.functional as F
model, (x,), kwargs = net.example()
y = torch.randint(0, 5, (4,))
adam = torch.optim.Adam(model.parameters())
r = memlint.check(model, x, loss=F.cross_entropy, targets=(y,), optimizer=adam, **kwargs)
assert r.sure and model.training and next(model.parameters()).device.type == "cpu", r.unexplained
large = memlint.check(model, x, loss=F.cross_entropy, targets=(y,), batch=4096, **kwargs)
assert large.peak > r.peak and "Net.onnx" in str(large)
with torch.device("meta"):
    big = torch.nn.Sequential(*[torch.nn.Linear(16384, 16384) for _ in range(8)])
huge = memlint.check(big, torch.empty(2, 16384, device="meta"), loss="sum", optimizer="sgd")
assert huge.peak > "16GiB", huge
try:
    memlint.check(model, x, dynamic={"z": {0: "batch"}}, **kwargs)
except ValueError as e:
    assert "no input z; the model has scale.a, x" in str(e), e
END
ok "memlint.check: $(tail -1 out)" [ ! -s out ]

# ---- against PyTorch's own step
cat >models.py <<'END'
import torch, torch.nn.functional as F
from torch import nn
class Vae(nn.Module):
    def __init__(self):
        super().__init__()
        self.code, self.back = nn.Linear(784, 40), nn.Linear(20, 784)
    def forward(self, x):
        mean, log = F.relu(self.code(x)).chunk(2, 1)
        return self.back(mean + torch.randn_like(mean) * torch.exp(log / 2)), mean, log
def vae():
    x = torch.rand(16, 784)
    def loss(out):
        return F.mse_loss(out[0], x.to(out[0].device)) - 0.5 * torch.sum(1 + out[2] - out[1] ** 2 - out[2].exp())
    return Vae(), (x,), loss
def wrong():
    class Odd(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc = nn.Linear(1000, 1000)
        def forward(self, x):
            self.kept = getattr(self, "kept", []) + [self.fc.weight.detach().clone()]  # more with every step
            return self.fc(x).sum()
    return Odd(), (torch.rand(4, 1000),)
END
can_verify=$("$python" -c 'from memlint import capture; print(capture.DEVICE == "cuda")')
if [ "$can_verify" = True ]; then
    "$python" -m memlint verify models:vae >out 2>&1
    ok "verify from the command line: $(tail -1 out)" grep -q '^PyTorch .*exact$' out
    "$python" -m memlint verify models:wrong -o case.zip --no-names >out 2>&1
    ok "a step that differs: exit 1" [ $? = 1 ]
    ok "it says where, and what to send" grep -q 'they part at .*models.py:[0-9]* in' out
    ok "what to send" grep -q 'save("case.zip")' out
    "$python" -m zipfile -e case.zip case >/dev/null
    ok "both sides' events and versions" grep -q '^memlint .*' case/report.txt
    ! grep -aq 'models.py\|fc.weight\|Odd' case/model.onnx case/report.txt case/torch.txt
    ok "no names" [ $? = 0 ]
    run case/model.onnx --format=json --dump=step
    ok "the file can still be read" grep -q addmm out
else # fake CUDA tensors of older versions need a driver
    "$python" -m memlint verify models:vae >out 2>&1
    ok "one sentence where verify can't be" grep -q '^RuntimeError: without a GPU memlint.verify needs PyTorch' out
    echo "skipped: what verify says: this PyTorch is older than it needs"
fi
verified() { # verified WHAT LIBRARIES PYTHON: v, a Verified, is exact
    [ "$can_verify" = True ] || return
    "$python" -c "import ${2:-torch}" 2>/dev/null || { echo "skipped: $1: no ${2:-torch}" && return; }
    "$python" - >out 2>&1 <<END
import memlint, torch, torch.nn.functional as F
$3
assert v.exact, v
assert v.peak == v.measured and v.difference == 0 and str(v).count("+0\n") == len(v.phases)
END
    ok "exact against PyTorch: $1: $(tail -5 out)" [ $? = 0 ]
}
for model in resnet18 mobilenet_v2 vit_b_16; do
    verified "$model" torchvision "import torchvision
v = memlint.verify(torchvision.models.$model(), torch.rand(2, 3, 224, 224), loss=F.cross_entropy,
                   targets=(torch.tensor([1, 2]),))"
done
llama='from transformers import LlamaConfig, LlamaForCausalLM
model = LlamaForCausalLM(LlamaConfig(hidden_size=256, intermediate_size=512, num_hidden_layers=3, vocab_size=1000,
                                     num_attention_heads=4, num_key_value_heads=2, use_cache=False))
ids = torch.randint(0, 1000, (2, 64))'
verified "gradient_checkpointing_enable()" transformers "$llama
model.gradient_checkpointing_enable()
v = memlint.verify(model, input_ids=ids, labels=ids)"
verified "the same under autocast" transformers "$llama
model.gradient_checkpointing_enable()
v = memlint.verify(model, input_ids=ids, labels=ids, precision='amp-bf16')"
verified "the same, not reentrant" transformers "$llama
model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={'use_reentrant': False})
v = memlint.verify(model, input_ids=ids, labels=ids, precision='amp-bf16')"
verified "LoRA" transformers,peft "$llama
from peft import LoraConfig, get_peft_model
model = get_peft_model(model, LoraConfig(r=8, target_modules=['q_proj', 'v_proj'], lora_dropout=0.1))
v = memlint.verify(model, input_ids=ids, labels=ids)"
for how in True False; do
    verified "LoRA under checkpoints, use_reentrant=$how" transformers,peft "$llama
from peft import LoraConfig, get_peft_model
model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={'use_reentrant': $how})
model.enable_input_require_grads()
model = get_peft_model(model, LoraConfig(r=8, target_modules=['q_proj', 'v_proj'], lora_dropout=0.1))
v = memlint.verify(model, input_ids=ids, labels=ids, precision='bf16')
assert v.result.sure, v"
done
verified "autocast in autocast" torch "class Inner(torch.nn.Sequential):
    def forward(self, x):
        for layer in self:
            with torch.autocast('cuda', enabled=False):
                x = x.float().exp()
            x = layer(x)
        return x.sum()
v = memlint.verify(Inner(*(torch.nn.Linear(100, 100) for _ in range(4))), torch.rand(20, 100), precision='amp-bf16')
assert not v.parts_at, v"
bert='from transformers import BertConfig, BertForSequenceClassification
model = BertForSequenceClassification(BertConfig(hidden_size=64, intermediate_size=128, num_hidden_layers=2,
                                                 num_attention_heads=4, vocab_size=1000))
ids, labels = torch.randint(1, 1000, (2, 32)), torch.tensor([0, 1])
mask = torch.ones(2, 32, dtype=torch.long)'
verified "a mask of ones, which the program leaves out" transformers "$bert
v = memlint.verify(model, input_ids=ids, attention_mask=mask, labels=labels)
assert v.result.sure, v"
verified "a mask with padding" transformers "$bert
mask[0, 20:] = 0
v = memlint.verify(model, input_ids=ids, attention_mask=mask, labels=labels, precision='amp-bf16')
assert v.result.sure, v"
verified "an output that keeps a cache" transformers "$llama
model.config.use_cache = True
v = memlint.verify(model, input_ids=ids, labels=ids)"
"$python" - >out 2>&1 <<'END'
import memlint, torch
class Branch(torch.nn.Linear):
    def forward(self, x):
        y = super().forward(x)
        return y * 2 if y.sum() > 0 else y
class Drop(torch.nn.Linear):
    def forward(self, x, p=0.0):
        return x if torch.rand([]) < p else super().forward(x)
assert memlint.check(Drop(8, 8), torch.rand(2, 8), loss="sum").sure
for model, how in (Branch(8, 8), {}), (Drop(8, 8), {"p": 0.5}):
    try:
        memlint.check(model, torch.rand(2, 8), loss="sum", **how)
        raise AssertionError("captured")
    except ValueError as e:
        assert "the program goes on by the values of a tensor" in str(e), e
END
ok "values that are not known: $(tail -1 out)" [ $? = 0 ]
"$python" - >out 2>&1 <<'END'
import contextlib, memlint, torch
class Write(torch.nn.Linear):
    def forward(self, x, quiet):
        x = super().forward(x)
        half = x[:, :4]
        with torch.no_grad() if quiet else contextlib.nullcontext():
            half.mul_(2)
        other = x.exp()
        return (half + 1).sum() + other.sum()
for quiet in (False, True):
    r = memlint.check(Write(8, 8), torch.rand(4, 8), quiet)
    assert r.sure, r.unexplained
END
ok "a view that is written, with gradients and without: $(tail -1 out)" [ ! -s out ]
verified "a shortcut without layers, and lists that the program fills" torch "
class Short(torch.nn.Linear):
    def __init__(self):
        super().__init__(8, 8)
        self.shortcut, self.kept, self.rows = torch.nn.Sequential(), {}, [[]]
    def forward(self, x):
        y = super().forward(x)
        y += self.shortcut(x)
        if 'one' not in self.kept:
            self.kept['one'] = torch.ones(8, device=x.device)
            self.rows[0].append(self.kept['one'])
        return (y * self.kept['one']).sum()
model = Short()
v = memlint.verify(model, torch.rand(4, 8))
assert v.result.sure and model.kept == {} and model.rows == [[]], v"
verified "a configuration that is frozen, as those of diffusers are" torch "
class Frozen(dict):
    def update(self, *args):
        raise RuntimeError('frozen')
class Set(torch.nn.Linear):
    def __init__(self):
        super().__init__(8, 8)
        self.config = Frozen(sizes=[8, 8])
    def forward(self, x):
        return super().forward(x).sum() * self.config['sizes'][0]
model = Set()
v = memlint.verify(model, torch.rand(4, 8))
assert v.result.sure and model.config == {'sizes': [8, 8]}, v"
"$python" - >out 2>&1 <<'END'
import memlint, torch
class Double(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2
    @staticmethod
    def backward(ctx, g):
        return g * 2
double = Double.apply
class Named(torch.nn.Linear):
    def forward(self, x):
        return double(super().forward(x)).sum()
r = memlint.check(Named(8, 8), torch.rand(4, 8))
assert any("the autograd.Function Double keeps" in why for why in r.unexplained), r.unexplained
END
ok "a function of autograd under a name: $(tail -1 out)" [ ! -s out ]
"$python" - >out 2>&1 <<'END'
import memlint, torch
class Ctc(torch.nn.Linear):
    def forward(self, x):
        logs, long = super().forward(x).log_softmax(-1), torch.tensor([2, 2])
        return torch.nn.functional.ctc_loss(logs, torch.ones(2, 2, dtype=torch.long), long * 2, long)
try:
    memlint.check(Ctc(8, 8), torch.rand(4, 2, 8))
    raise AssertionError("captured")
except ValueError as e:
    assert "can't run aten._use_cudnn_ctc_loss" in str(e), e
END
ok "an operator that fake tensors can't run: $(tail -1 out)" [ $? = 0 ]
cat >units.py <<'END'
import memlint, onnx, torch, torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import FullyShardedDataParallel, fully_shard
from torch.testing._internal.distributed.fake_pg import FakeStore
dist.init_process_group("fake", store=FakeStore(), rank=0, world_size=4)
def said(model):
    memlint.export(model, torch.rand(4, 64), path="units.onnx")
    found = onnx.load("units.onnx", load_external_data=False).metadata_props
    return next(p.value for p in found if p.key == "memlint.units")
def net():
    return torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.Linear(64, 64))
model, mesh = net(), init_device_mesh("cpu", (4,))
fully_shard(model[0], mesh=mesh)
fully_shard(model, mesh=mesh, reshard_after_forward=False)
assert said(model) == "fully_shard . world=4 reshard=0\nfully_shard 0 world=4 reshard=1", said(model)
assert said(torch.nn.parallel.DistributedDataParallel(net())).startswith("ddp . world=4 bucket="), "ddp"
unused = torch.nn.parallel.DistributedDataParallel(net(), find_unused_parameters=True)
assert said(unused).endswith(" view=0 static=0 unused=1"), said(unused)
r = memlint.check(model, torch.rand(4, 64), loss="sum")
assert r.sure and r.raw["setup"]["parallel"] == "fsdp, 4 GPUs", (r.unexplained, r.raw["setup"])
from torch.distributed.fsdp import CPUOffloadPolicy, MixedPrecisionPolicy
with torch.device("meta"):
    model = net()
policy = MixedPrecisionPolicy(param_dtype=torch.bfloat16)
how = {"mesh": mesh, "mp_policy": policy, "offload_policy": CPUOffloadPolicy()}
fully_shard(model[0], **how)
fully_shard(model, **how)
assert said(model).endswith("reshard=1 param=bfloat16 reduce=bfloat16 offload=1 meta=1"), said(model)
r = memlint.check(model, torch.rand(4, 64, device="meta"), loss="sum")
assert r.raw["setup"]["parallel"] == "fsdp:meta,bf16-reduce,cpu-offload, 4 GPUs", r.raw["setup"]
try:
    said(FullyShardedDataParallel(net(), device_id=torch.device("cpu")))
    raise AssertionError("captured")
except ValueError as e:
    assert "wrap it by torch.distributed.fsdp.fully_shard" in str(e), e
END
if "$python" -c 'from torch.distributed.fsdp import fully_shard' 2>/dev/null; then
    "$python" units.py >out 2>&1
    ok "modules that are wrapped for several processes: $(tail -1 out)" [ $? = 0 ]
else
    echo "skipped: wrapped modules: no fully_shard"
fi
cat >deep.py <<'END'
import memlint, torch
from torch import nn
class Deep(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.head = nn.Linear(64, 64), nn.Sequential(nn.Dropout(inplace=True), nn.Linear(64, 5))
    def forward(self, x):
        x = self.body(x)
        for _ in range(40):
            x = x.exp() + x
        return self.head(x.mean(1, keepdim=True).flatten(1)).sum()
assert memlint.check(Deep(), torch.rand(8, 3, 64), options=["--parallel=fsdp", "--gpus=2"]).sure
END
# the graph is let go once, not once for each of the 2^40 paths through it
timeout 120 "$python" deep.py >out 2>&1
ok "a sharded unit whose input is written in place, behind many sums: $(tail -1 out)" [ $? = 0 ]
cat >>models.py <<'END'
class Block(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.a, self.b, self.norm, self.drop = nn.Linear(d, 2 * d), nn.Linear(2 * d, d), nn.LayerNorm(d), nn.Dropout()
    def forward(self, x):
        h = torch.relu(self.a(self.norm(x)))
        return (x + self.drop(self.b(h))) * 2, h.exp()
class Again(nn.Module):
    def __init__(self, blocks, skip):
        super().__init__()
        self.first, self.last = nn.Linear(128, 128), nn.Linear(128, 128)
        self.blocks, self.skip = nn.ModuleList(blocks), skip
    def forward(self, x):
        x = kept = self.first(x)
        more = 0
        for block in self.blocks:
            x, h = torch.utils.checkpoint.checkpoint(block, x, use_reentrant=True)
            x, more = x + kept if self.skip else x, more + h.mean()
        return self.last(x).float().sum() + more
END
for precision in fp32 amp-bf16 bf16; do
    for blocks in '[models.Block(128) for _ in range(3)], True' '[models.Block(128)] * 3, False'; do
        verified "reentrant checkpoints, $blocks, $precision" torch "import models
v = memlint.verify(models.Again($blocks), torch.rand(64, 128), precision='$precision', optimizer='sgd')
assert not v.parts_at, v"
    done
done
verified "sizes that follow from an input's numbers, and an input that is a slice" torch "class Rows(torch.nn.Linear):
    def forward(self, x, labels):
        rows = (labels >= 0).nonzero()
        if rows.size(0) > 0:
            x = x.gather(0, rows.expand(rows.size(0), x.size(1)))
        return super().forward(x).exp().sum()
v = memlint.verify(Rows(64, 64), torch.rand(32, 64), torch.zeros(32, 300, dtype=torch.long)[:, 0])
assert v.exact and v.result.sure and memlint.check(Rows(64, 64), torch.rand(32, 64), torch.zeros(32), batch=64).sure, v"
verified "a row by a mask, half of it, at another batch too" torch "class Rows(torch.nn.Linear):
    def forward(self, x, mask):
        return super().forward(x[mask]).exp().sum()
mask = torch.arange(32) % 2 == 0
v = memlint.verify(Rows(64, 64), torch.rand(32, 64), mask)
half, double = (memlint.check(Rows(64, 64), torch.rand(n, 64), torch.arange(n) % 2 == 0, batch=64) for n in (32, 64))
assert v.exact and half.sure and half.peak == double.peak, (half, double)"
verified "experts that topk chooses: exact, and said to be unsure" torch "class Experts(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.gate, self.experts = torch.nn.Linear(64, 4), torch.nn.ModuleList(torch.nn.Linear(64, 64) for _ in range(4))
    def forward(self, x):
        self.gate.to(torch.float32)
        weight, chosen = self.gate(x).softmax(-1).topk(2)
        out = torch.zeros_like(x)
        mask = F.one_hot(chosen, 4).permute(2, 1, 0)
        for expert in (mask.sum((-1, -2)) > 0).nonzero():
            which, rows = torch.where(mask[expert].squeeze(0))
            out.index_add_(0, rows, self.experts[expert](x[rows]) * weight[rows, which, None])
        return out.sum()
v = memlint.verify(Experts(), torch.rand(32, 64))
assert v.exact and not v.result.sure and 'spread evenly' in str(v.result.raw['unexplained']), v"
verified "a view of what a checkpoint's function writes" torch "class Mask(torch.nn.Linear):
    def mix(self, x):
        x = super().forward(x.exp()).exp()
        mask = torch.zeros(8, 8, device=x.device)
        view = mask.t()
        mask[:, 0] = 1
        return super().forward((x * view).exp()).exp()
    def forward(self, x):
        for _ in range(3):
            x = torch.utils.checkpoint.checkpoint(self.mix, x, use_reentrant=False)
        return x.sum()
v = memlint.verify(Mask(8, 8), torch.rand(8, 8))
assert not v.parts_at, v"
"$python" - >out 2>&1 <<'END'
import memlint, torch
class Twice(torch.nn.Linear):
    returned = {"twice": lambda x, y: (y, y), "argument": lambda x, y: (y, x), "once": lambda x, y: (y, y + 1),
                "leaf": lambda x, y: (y, torch.ones(8, device=x.device).requires_grad_() + 1)}
    def forward(self, x, how):
        x = super().forward(x)
        a, b = torch.utils.checkpoint.checkpoint(lambda x: self.returned[how](x, x.exp()), x, use_reentrant=True)
        return (a * b).sum()
sure = {how: memlint.check(Twice(8, 8), torch.rand(4, 8), how).sure for how in Twice.returned}
assert sure == {"twice": False, "argument": False, "once": True, "leaf": False}, sure
END
ok "what a reentrant checkpoint returns, with zeros for gradients: $(tail -1 out)" [ ! -s out ]
cat >>models.py <<'END'
def net():
    return nn.Sequential(nn.Linear(300, 500), nn.LayerNorm(500), nn.Linear(500, 300)), torch.rand(4, 300)
def groups(model, cls, **how):
    matrices, vectors = ([p for p in model.parameters() if (p.dim() > 1) == is_matrix] for is_matrix in (True, False))
    return cls([{"params": matrices}, {"params": vectors, "weight_decay": 0.0}], weight_decay=0.1, **how)
END
while read -r class how; do
    verified "$class($how)" torch "import models
model, x = models.net()
optimizer = torch.optim.$class(model.parameters(), $how)
v = memlint.verify(model, x, loss=lambda out: out.sum(), optimizer=optimizer)
assert v.result.sure, v"
done <<'END'
SGD momentum=0.9, nesterov=True, weight_decay=0.1, maximize=True
SGD weight_decay=0.1
Adam weight_decay=0.1, maximize=True
Adam amsgrad=True, weight_decay=0.1
AdamW amsgrad=True, maximize=True
AdamW fused=True
Adam fused=True, amsgrad=True
RMSprop weight_decay=0.1
Adagrad weight_decay=0.1
Adamax weight_decay=0.1
Adadelta maximize=True
Adafactor weight_decay=0.1
END
verified "groups of parameters" torch "import models
model, x = models.net()
optimizer = models.groups(model, torch.optim.AdamW, amsgrad=True)
v = memlint.verify(model, x, loss=lambda out: out.sum(), optimizer=optimizer)"
"$python" -c "import memlint, models, torch
model, x = models.net()
optimizer = models.groups(model, torch.optim.AdamW, amsgrad=True)
memlint.export(model, x, path='groups.onnx', optimizer=optimizer)"
verified "one parameter after another" torch "import models
model, x = models.net()
optimizer = models.groups(model, torch.optim.AdamW, foreach=False)
v = memlint.verify(model, x, loss=lambda out: out.sum(), optimizer=optimizer)
assert not v.parts_at, v"
run groups.onnx --dim batch=4 --loss=sum --format=json
ok "the file says its optimizer" grep -q '"optimizer": "adamw+amsgrad"' out
run groups.onnx --dim batch=4 --loss=sum --optimizer=sgd --format=json
ok "an option wins, and that is said" grep -q "the optimizer is the option's, not the file's adamw+amsgrad" out
"$python" - >out 2>&1 <<'END'
import memlint, models, torch
model, x = models.net()
half = memlint.check(model, x, loss="sum", optimizer=torch.optim.Adamax(model[2].parameters(), foreach=False))
assert not half.sure and any("foreach=False, 4 parameters that are trained" in why for why in half.unexplained), half
END
ok "what memlint does not know of an optimizer is a doubt: $(tail -1 out)" [ ! -s out ]
verified "a parameter that is repeated" torch "class Token(torch.nn.Linear):
    def __init__(self):
        super().__init__(64, 64)
        self.token = torch.nn.Parameter(torch.zeros(1, 1, 64))
    def forward(self, x):
        return super().forward(torch.cat([x, self.token.repeat(8, 3, 1)], 1)).sum()
v = memlint.verify(Token(), torch.rand(8, 5, 64))
assert not v.parts_at, v"
verified "a loss of its own" torch "import models
model, args, loss = models.vae()
v = memlint.verify(model, *args, loss=loss, optimizer='sgd')"

# ---- where people train and test
cat >test_fit.py <<'END'
import models, pytest, torch
def test_fits(memlint):
    model, x = models.net()
    assert memlint(model, x, loss="sum").peak < "1GiB"
@pytest.mark.xfail(raises=AssertionError, strict=True)
def test_does_not_fit(memlint):
    model, x = models.net()
    assert memlint(model, x, loss="sum").peak < "1KiB"
@pytest.mark.xfail(raises=AssertionError, strict=True)
def test_is_not_sure(memlint):
    model, x = models.net()
    memlint(model, x, loss="sum", optimizer=torch.optim.Adamax(model.parameters(), foreach=False))
END
if "$python" -c 'import pytest' 2>/dev/null; then
    # what is installed is a plugin by itself
    "$python" -m pytest -q ${PYTHONPATH:+-p memlint.testing} test_fit.py >out 2>&1
    ok "the fixture: $(tail -1 out)" grep -q '1 passed, 2 xfailed' out
else
    echo "skipped: the fixture: no pytest"
fi
callback() { # callback LIBRARY PYTHON: defines fit(**arguments of the callback), which returns its result
    "$python" -c "import $1" 2>/dev/null || { echo "skipped: the callback of $1: not there" && return; }
    cat >callback.py <<END
import memlint, torch, warnings
$2
r = fit(budget="10GiB")
assert r.sure and r.raw["setup"]["loop"] == "training-step" and r.raw["setup"]["optimizer"].startswith("adamw"), r
try:
    fit(budget="1MiB")
    raise AssertionError("it trained")
except memlint.callbacks.OverBudget as e:
    assert "and the budget is 1MiB" in str(e) and e.result.peak > "1MiB"
with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always")
    fit(device="1MiB", warn=True)
assert any("does not fit 1MiB" in str(w.message) for w in said), said
END
    "$python" callback.py >out 2>&1
    ok "the callback of $1: $(tail -1 out)" [ $? = 0 ]
}
callback lightning 'import lightning
class Net(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.fc, self.scale = torch.nn.Linear(1000, 1000), torch.nn.Parameter(torch.ones(1000))
    def training_step(self, batch, batch_idx):
        loss = torch.nn.functional.cross_entropy(self.fc(batch[0]) * self.scale, batch[1])
        self.log("loss", loss)
        return loss
    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), amsgrad=True)
data = torch.utils.data.TensorDataset(torch.rand(64, 1000), torch.randint(0, 1000, (64,)))
def fit(**how):
    check = memlint.callbacks.lightning(**how)
    trainer = lightning.Trainer(max_steps=2, accelerator="cpu", logger=False, enable_checkpointing=False,
                                enable_progress_bar=False, callbacks=[check])
    trainer.fit(Net(), torch.utils.data.DataLoader(data, batch_size=16))
    return check.result'
callback transformers 'from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments
data = [{"input_ids": torch.arange(32), "labels": torch.arange(32)} for _ in range(16)]
def fit(**how):
    check = memlint.callbacks.transformers(**how)
    args = TrainingArguments("trained", max_steps=2, per_device_train_batch_size=4, report_to=[], save_strategy="no",
                             use_cpu=True, disable_tqdm=True)
    model = GPT2LMHeadModel(GPT2Config(n_embd=64, n_layer=2, n_head=2, vocab_size=500))
    Trainer(model=model, args=args, train_dataset=data, callbacks=[check]).train()
    return check.result'
python3 -c "import sys; sys.modules.update({'lightning.pytorch': None, 'pytorch_lightning': None}); import memlint
memlint.callbacks.lightning()" 2>err
ok "a library that is missing" grep -q 'ImportError: memlint.callbacks.lightning needs lightning.pytorch' err
finish
