#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# examples/export.py: what it says without PyTorch; with PyTorch (MEMLINT_TORCH names a Python that has it) that a model
# may import its neighbours, take keyword inputs and name its dimensions.
. "$(dirname "$0")/lib.sh"
script=$SOURCE/examples/export.py
command -v python3 >/dev/null || skip "no python3"
cd "$work" || exit 1
mkdir -p bare project
export PYTHONPATH=$SOURCE/packaging/python PYTHONDONTWRITEBYTECODE=1 MEMLINT
echo 'raise ImportError("No module named onnx")' >bare/onnx.py
PYTHONPATH=bare:$PYTHONPATH python3 "$script" a.py a.onnx >out 2>err
ok "without onnx it says what to install" grep -q "named onnx; python3 -m pip install torch onnx, and memlint's" err

python=${MEMLINT_TORCH:-python3}
if ! "$python" -c 'import torch, onnx' 2>/dev/null; then
    echo "skipped: the export itself: $python has no torch and onnx"
    finish
fi
cat >project/layers.py <<'END'
from torch import nn
class Head(nn.Linear):
    pass
END
cat >project/net.py <<'END'
import torch
from torch import nn
from layers import Head
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(50, 8)
        self.head = Head(8, 50)
    def forward(self, tokens, scale=None, mask=None):
        h = self.embed(tokens) * scale[0].unsqueeze(-1)
        return self.head(h + mask.unsqueeze(-1))
def example():
    tokens = torch.randint(0, 50, (2, 6))
    return Net(), (tokens,), {"scale": [torch.ones(2, 6)], "mask": torch.zeros(2, 6)}
END
"$python" "$script" project/net.py net.onnx --dim 0=batch --dim 1=length >out 2>&1
ok "neighbours, keyword inputs and names: $(tail -1 out)" [ -s net.onnx ]
run net.onnx --dim batch=4 --dim length=16 --format=json --fail-on=inconclusive
ok "both dimensions can be bound: $(cat err)" [ "$code" = 0 ]
"$python" "$script" project/net.py fixed.onnx --dim tokens.1=length >out 2>&1
run fixed.onnx --dim batch=4
ok "nothing is open but what was asked for" grep -q 'dimensions are fixed' err
"$python" "$script" project/net.py no.onnx --dim token.1=length >out 2>&1
ok "an input that is not there" grep -q 'no input token; the model has mask, scale.0, tokens' out
"$python" "$script" project/net.py no.onnx --dim tokens.7=length >out 2>&1
ok "a dimension that is not there" grep -q 'tokens has no dimension 7' out
"$python" "$script" "$SOURCE/examples/tiny_gpt.py" gpt.onnx >out 2>&1
run gpt.onnx --dim batch=2 --format=json
ok "the example's peak" grep -q \
    "\"allocated\": $("$MEMLINT" "$SOURCE/examples/tiny_gpt.onnx" --dim batch=2 --format=json |
    grep -o '"allocated": [0-9]*' | head -1 | grep -o '[0-9]*')," out
finish
