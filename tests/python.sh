#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The Python package: sizes, results of files, errors; with PyTorch (MEMLINT_TORCH names a Python that has it) models of
# its own, captured, and the file against the one that is in the repository.
. "$(dirname "$0")/lib.sh"
command -v python3 >/dev/null || skip "no python3"
export PYTHONPATH=$SOURCE/packaging/python PYTHONDONTWRITEBYTECODE=1 MEMLINT
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
finish
