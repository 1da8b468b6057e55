# SPDX-License-Identifier: Apache-2.0
"""What torch.nn.utils and options of modules make of a model, a row each: for families.py.

Nobody's models: hooks that make weights (spectral_norm, weight_norm, prune), parametrizations, options of attention,
recurrent layers, norms and embeddings, and idioms of training (straight-through estimates, codebooks, averages).
"""

SOURCE = """# loss: sum
import torch, torch.nn.functional as F
from torch import nn
from torch.nn.utils import parametrizations, parametrize, prune, spectral_norm, weight_norm
from zoo_base import *
class Symmetric(nn.Module):
    def forward(self, w):
        return w.triu() + w.triu(1).transpose(-1, -2)
class M(nn.Module):
    def __init__(self):
        super().__init__()
        {made}
    def forward(self, x):
        {forward}
ZOO = {{"case": Entry(M, lambda b: ({{"x": {given}}}, None), lambda out, targets: out.sum(), (4,), real_build=True)}}
"""
ROWS, IMAGES, TOKENS = "torch.rand(b, 64, 128)", "torch.rand(b, 16, 32, 32)", "torch.ones(b, 64, dtype=torch.long)"
MODELS = (  # name, what makes it, its forward, its input
    (
        "orthogonal",
        "self.a=parametrizations.orthogonal(nn.Linear(128,128)); self.b=nn.Linear(128,128)",
        "return self.b(self.a(x).relu())",
        ROWS,
    ),
    (
        "orthogonal_exp",
        'self.a=parametrizations.orthogonal(nn.Linear(128,128), orthogonal_map="matrix_exp"); '
        "self.b=nn.Linear(128,128)",
        "return self.b(self.a(x).relu())",
        ROWS,
    ),
    (
        "weight_norm_new",
        "self.a=parametrizations.weight_norm(nn.Linear(128,256)); "
        "self.b=parametrizations.weight_norm(nn.Linear(256,128))",
        "return self.b(F.gelu(self.a(x)))",
        ROWS,
    ),
    (
        "weight_norm_old",
        "self.a=weight_norm(nn.Linear(128,256)); self.b=weight_norm(nn.Linear(256,128),dim=None)",
        "return self.b(F.gelu(self.a(x)))",
        ROWS,
    ),
    (
        "weight_norm_conv",
        "self.a=weight_norm(nn.Conv2d(16,64,3,padding=1)); self.b=weight_norm(nn.Conv2d(64,16,3,padding=1))",
        "return self.b(F.elu(self.a(x)))",
        IMAGES,
    ),
    (
        "weight_norm_convt",
        "self.a=weight_norm(nn.ConvTranspose2d(16,32,4,2,1)); self.b=nn.Conv2d(32,16,3,padding=1)",
        "return self.b(F.elu(self.a(x)))",
        IMAGES,
    ),
    (
        "spectral_convt",
        "self.a=spectral_norm(nn.ConvTranspose2d(16,64,4,2,1)); self.b=spectral_norm(nn.Conv2d(64,16,3,padding=1))",
        "return self.b(F.elu(self.a(x)))",
        IMAGES,
    ),
    (
        "spectral_linear",
        "self.a=spectral_norm(nn.Linear(128,256)); self.b=spectral_norm(nn.Linear(256,128))",
        "return self.b(F.leaky_relu(self.a(x),.2))",
        ROWS,
    ),
    ("spectral_twice", "self.a=spectral_norm(nn.Linear(128,128))", "return self.a(F.leaky_relu(self.a(x),.2))", ROWS),
    (
        "prune_l1",
        "self.a=nn.Linear(128,256); self.b=nn.Linear(256,128)\n        "
        'prune.l1_unstructured(self.a,"weight",0.2); prune.ln_structured(self.b,"weight",0.2,n=2,dim=0); '
        'prune.l1_unstructured(self.b,"bias",0.1)',
        "return self.b(F.gelu(self.a(x)))",
        ROWS,
    ),
    (
        "prune_removed",
        "self.a=nn.Linear(128,256); self.b=nn.Linear(256,128)\n        "
        'prune.l1_unstructured(self.a,"weight",0.2); prune.remove(self.a,"weight")',
        "return self.b(F.gelu(self.a(x)))",
        ROWS,
    ),
    (
        "prune_twice",
        "self.a=nn.Linear(128,256); self.b=nn.Linear(256,128)\n        "
        'prune.l1_unstructured(self.a,"weight",0.2); prune.random_unstructured(self.a,"weight",0.2)',
        "return self.b(F.gelu(self.a(x)))",
        ROWS,
    ),
    (
        "symmetric",
        "self.a=nn.Linear(128,128); self.b=nn.Linear(128,128)\n        "
        'parametrize.register_parametrization(self.a,"weight",Symmetric())',
        "return self.b(F.gelu(self.a(x)))",
        ROWS,
    ),
    (
        "emb_maxnorm",
        "self.e=nn.Embedding(5000,128,max_norm=1.0); self.b=nn.Linear(128,128)",
        "return self.b(self.e(x))",
        TOKENS,
    ),
    (
        "emb_pad",
        "self.e=nn.Embedding(5000,128,padding_idx=0); self.b=nn.Linear(128,128)",
        "return self.b(self.e(x))",
        TOKENS,
    ),
    (
        "emb_freq",
        "self.e=nn.Embedding(5000,128,scale_grad_by_freq=True); self.b=nn.Linear(128,128)",
        "return self.b(self.e(x))",
        TOKENS,
    ),
    (
        "mha_bias_kv",
        "self.a=nn.MultiheadAttention(128,4,add_bias_kv=True,batch_first=True); self.b=nn.Linear(128,128)",
        "return self.b(self.a(x,x,x,need_weights=False)[0])",
        ROWS,
    ),
    (
        "mha_zero",
        "self.a=nn.MultiheadAttention(128,4,add_zero_attn=True,batch_first=True); self.b=nn.Linear(128,128)",
        "return self.b(self.a(x,x,x)[0])",
        ROWS,
    ),
    (
        "mha_kdim",
        "self.a=nn.MultiheadAttention(128,4,kdim=64,vdim=32,batch_first=True); self.b=nn.Linear(128,128); "
        "self.k=nn.Linear(128,64); self.v=nn.Linear(128,32)",
        "return self.b(self.a(x,self.k(x),self.v(x),need_weights=False)[0])",
        ROWS,
    ),
    (
        "mha_seqfirst",
        "self.a=nn.MultiheadAttention(128,4); self.b=nn.Linear(128,128)",
        "y = x.transpose(0,1)\n        y, w = self.a(y,y,y)\n        return self.b(y.transpose(0,1))",
        ROWS,
    ),
    (
        "mha_mask",
        "self.a=nn.MultiheadAttention(128,4,batch_first=True); self.b=nn.Linear(128,128); "
        'self.register_buffer("mask", torch.triu(torch.ones(64,64,dtype=torch.bool),1))',
        "return self.b(self.a(x,x,x,attn_mask=self.mask,need_weights=False)[0])",
        ROWS,
    ),
    (
        "enc_layer",
        'self.a=nn.TransformerEncoderLayer(128,4,256,batch_first=True,norm_first=True,activation="gelu"); '
        "self.b=nn.Linear(128,128)",
        "return self.b(self.a(x))",
        ROWS,
    ),
    (
        "encoder",
        "self.a=nn.TransformerEncoder(nn.TransformerEncoderLayer(128,4,256,batch_first=True),2); "
        "self.b=nn.Linear(128,128)",
        "return self.b(self.a(x))",
        ROWS,
    ),
    (
        "decoder",
        "self.a=nn.TransformerDecoder(nn.TransformerDecoderLayer(128,4,256,batch_first=True),2); "
        "self.b=nn.Linear(128,128)",
        "return self.b(self.a(x, x.flip(1)))",
        ROWS,
    ),
    (
        "lstm_proj",
        "self.a=nn.LSTM(128,256,2,proj_size=64,batch_first=True,bidirectional=True); self.b=nn.Linear(128,128)",
        "return self.b(self.a(x)[0])",
        ROWS,
    ),
    (
        "lstm_drop",
        "self.a=nn.LSTM(128,128,3,batch_first=True,dropout=0.2); self.b=nn.Linear(128,128)",
        "y, (h, c) = self.a(x)\n        return self.b(y) + h[-1].unsqueeze(1)",
        ROWS,
    ),
    (
        "gru_bi",
        "self.a=nn.GRU(128,64,2,batch_first=True,bidirectional=True); self.b=nn.Linear(128,128)",
        "return self.b(self.a(x)[0])",
        ROWS,
    ),
    (
        "rnn_cell",
        "self.a=nn.GRUCell(128,128); self.b=nn.Linear(128,128)",
        "h = x[:,0]\n        ys = []\n        for t in range(8):\n            h = self.a(x[:,t], h)\n        "
        "    ys.append(h)\n        return self.b(torch.stack(ys,1))",
        ROWS,
    ),
    (
        "bn_nostats",
        "self.a=nn.Conv2d(16,64,3,padding=1); self.n=nn.BatchNorm2d(64,track_running_stats=False); "
        "self.b=nn.Conv2d(64,16,1)",
        "return self.b(F.relu(self.n(self.a(x))))",
        IMAGES,
    ),
    (
        "bn_noaffine",
        "self.a=nn.Conv2d(16,64,3,padding=1,bias=False); "
        "self.n=nn.BatchNorm2d(64,affine=False,momentum=None); self.b=nn.Conv2d(64,16,1)",
        "return self.b(F.relu(self.n(self.a(x))))",
        IMAGES,
    ),
    (
        "inst_norm",
        "self.a=nn.Conv2d(16,64,3,padding=1); "
        "self.n=nn.InstanceNorm2d(64,affine=True,track_running_stats=True); self.b=nn.Conv2d(64,16,1)",
        "return self.b(F.relu(self.n(self.a(x))))",
        IMAGES,
    ),
    (
        "pad_reflect",
        'self.a=nn.Conv2d(16,64,3,padding=1,padding_mode="reflect"); '
        'self.b=nn.Conv2d(64,16,3,padding=1,padding_mode="circular")',
        "return self.b(F.relu(self.a(x)))",
        IMAGES,
    ),
    (
        "dropout2d",
        "self.a=nn.Conv2d(16,64,3,padding=1); self.d=nn.Dropout2d(0.2); self.b=nn.Conv2d(64,16,3,padding=1)",
        "return self.b(self.d(F.relu(self.a(x))))",
        IMAGES,
    ),
    (
        "alpha_drop",
        "self.a=nn.Linear(128,256); self.d=nn.AlphaDropout(0.1); self.b=nn.Linear(256,128)",
        "return self.b(self.d(F.selu(self.a(x))))",
        ROWS,
    ),
    (
        "rrelu",
        "self.a=nn.Linear(128,256); self.d=nn.RReLU(); self.b=nn.Linear(256,128)",
        "return self.b(self.d(self.a(x)))",
        ROWS,
    ),
    (
        "sdpa_causal",
        "self.q=nn.Linear(128,384); self.b=nn.Linear(128,128)",
        "q,k,v = self.q(x).view(x.shape[0],64,3,4,32).permute(2,0,3,1,4)\n        y = "
        "F.scaled_dot_product_attention(q,k,v,is_causal=True,dropout_p=0.1 if self.training else 0.)\n       "
        " return self.b(y.transpose(1,2).reshape(x.shape[0],64,128))",
        ROWS,
    ),
    (
        "param_list",
        "self.w=nn.ParameterList([nn.Parameter(torch.randn(128,128)*.02) for _ in range(3)]); "
        "self.b=nn.Linear(128,128)",
        "for w in self.w:\n            x = torch.tanh(x @ w)\n        return self.b(x)",
        ROWS,
    ),
    (
        "module_dict",
        'self.m=nn.ModuleDict({"a":nn.Linear(128,256),"b":nn.Linear(256,128)})',
        'return self.m["b"](F.silu(self.m["a"](x)))',
        ROWS,
    ),
    (
        "lazy",
        "self.a=nn.LazyLinear(256); self.b=nn.LazyLinear(128); self.a(torch.rand(1,128)); self.b(torch.rand(1,256))",
        "return self.b(F.silu(self.a(x)))",
        ROWS,
    ),
    (
        "hook_fwd",
        "self.a=nn.Linear(128,256); self.b=nn.Linear(256,128); self.seen=[]\n        "
        "self.a.register_forward_hook(lambda m,i,o: o*2)",
        "return self.b(F.silu(self.a(x)))",
        ROWS,
    ),
    (
        "ema_buffer",
        'self.a=nn.Linear(128,256); self.b=nn.Linear(256,128); self.register_buffer("mean",torch.zeros(256))',
        "y = self.a(x)\n        self.mean = 0.9*self.mean + 0.1*y.detach().mean((0,1))\n        return "
        "self.b(F.silu(y - self.mean))",
        ROWS,
    ),
    (
        "straight",
        "self.a=nn.Linear(128,256); self.b=nn.Linear(256,128)",
        "y = self.a(x).sigmoid()\n        y = y + (y.round() - y).detach()\n        return self.b(y)",
        ROWS,
    ),
    (
        "gumbel",
        "self.a=nn.Linear(128,256); self.b=nn.Linear(256,128)",
        "return self.b(F.gumbel_softmax(self.a(x), tau=1., hard=True))",
        ROWS,
    ),
    (
        "vq",
        "self.a=nn.Linear(128,64); self.e=nn.Embedding(512,64); self.b=nn.Linear(64,128)",
        "z = self.a(x)\n        d = torch.cdist(z, self.e.weight.unsqueeze(0))\n        i = d.argmin(-1)\n   "
        "     q = self.e(i)\n        q = z + (q - z).detach()\n        return self.b(q)",
        ROWS,
    ),
)


def models():
    for name, made, forward, given in MODELS:
        yield f"pu_{name}", SOURCE.format(made=made, forward=forward, given=given)
