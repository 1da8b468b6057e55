# SPDX-License-Identifier: Apache-2.0
"""Models of packages that nobody had run through memlint when they were written down, a row each: for families.py.

Click-through rates, lucidrains' packages, flows, video, self-supervised learning, attention for convolution nets and
what their rows import, beside packages.py's own.
"""

from packages import PICTURE, SEQUENCE, SMALLER, TOKENS

CLICKS = "torch.cat([torch.zeros(b, 12), torch.rand(b, 6)], 1)"
CALLED = """
class One(nn.Module):
    def __init__(self, m, pick=None):
        super().__init__()
        self.m, self.pick = m, pick
    def forward(self, x):
        y = %s
        return y if self.pick is None else self.pick(y)
"""
ONLY = CALLED % "self.m(x)"
CLICK_COLUMNS = """from deepctr_torch.inputs import SparseFeat, DenseFeat, get_feature_names
COLS = [SparseFeat(f"C{i}", 500, embedding_dim=16) for i in range(12)] + [DenseFeat(f"I{i}", 1) for i in range(6)]
"""
RANKED = """from torch_rechub.basic.features import DenseFeature, SparseFeature
D = [DenseFeature(f"d{i}") for i in range(4)]
F_ = [SparseFeature(f"s{i}", 300, embed_dim=16) for i in range(10)]
class Rec(nn.Module):
    def __init__(self, m):
        super().__init__()
        self.m = m
    def forward(self, ids):
        x = {f"s{i}": ids[:, i] for i in range(10)}
        x.update({f"d{i}": ids[:, i].float() for i in range(4)})
        return self.m(x)
"""
ATTENTION = """import fightingcv_attention, importlib
def A(m, c):
    return getattr(importlib.import_module('fightingcv_attention.'+m), c)
"""

ROWS = (
    (
        "deepctr_deepfm",
        "import deepctr_torch.models as dm\n" + CLICK_COLUMNS,
        "dm.DeepFM(COLS, COLS, task='regression')",
        CLICKS,
    ),
    (
        "deepctr_xdeepfm",
        "import deepctr_torch.models as dm\n" + CLICK_COLUMNS,
        "dm.xDeepFM(COLS, COLS, task='regression')",
        CLICKS,
    ),
    (
        "deepctr_fibinet",
        "import deepctr_torch.models as dm\n" + CLICK_COLUMNS,
        "dm.FiBiNET(COLS, COLS, task='regression')",
        CLICKS,
    ),
    (
        "deepctr_afn",
        "import deepctr_torch.models as dm\n" + CLICK_COLUMNS,
        "dm.AFN(COLS, COLS, task='regression')",
        CLICKS,
    ),
    (
        "deepctr_autoint",
        "import deepctr_torch.models as dm\n" + CLICK_COLUMNS,
        "dm.AutoInt(COLS, COLS, task='regression')",
        CLICKS,
    ),
    (
        "deepctr_dcn",
        "import deepctr_torch.models as dm\n" + CLICK_COLUMNS,
        "dm.DCN(COLS, COLS, task='regression')",
        CLICKS,
    ),
    (
        "deepctr_dcnmix",
        "import deepctr_torch.models as dm\n" + CLICK_COLUMNS,
        "dm.DCNMix(COLS, COLS, task='regression')",
        CLICKS,
    ),
    (
        "deepctr_nfm",
        "import deepctr_torch.models as dm\n" + CLICK_COLUMNS,
        "dm.NFM(COLS, COLS, task='regression')",
        CLICKS,
    ),
    (
        "deepctr_ifm",
        "import deepctr_torch.models as dm\n" + CLICK_COLUMNS,
        "dm.IFM(COLS, COLS, task='regression')",
        CLICKS,
    ),
    (
        "deepctr_difm",
        "import deepctr_torch.models as dm\n" + CLICK_COLUMNS,
        "dm.DIFM(COLS, COLS, task='regression')",
        CLICKS,
    ),
    (
        "deepctr_pnn",
        "import deepctr_torch.models as dm\n" + CLICK_COLUMNS,
        "dm.PNN(COLS, use_outter=True, task='regression')",
        CLICKS,
    ),
    (
        "rechub_dcnv2",
        "from torch_rechub.models.ranking import DCNv2\n" + RANKED,
        "Rec(DCNv2(F_, 3, {'dims': [128, 64]}))",
        "torch.zeros(b, 10, dtype=torch.long)",
    ),
    (
        "rechub_fibinet",
        "from torch_rechub.models.ranking import FiBiNet\n" + RANKED,
        "Rec(FiBiNet(F_, {'dims': [128, 64]}))",
        "torch.zeros(b, 10, dtype=torch.long)",
    ),
    (
        "rechub_edcn",
        "from torch_rechub.models.ranking import EDCN\n" + RANKED,
        "Rec(EDCN(F_, 3, {'dims': [128], 'dropout': .1, 'activation': 'relu'}))",
        "torch.zeros(b, 10, dtype=torch.long)",
    ),
    (
        "egnn_network",
        "import egnn_pytorch" + CALLED % "self.m(x, x[..., :3])",
        "One(egnn_pytorch.EGNN_Network(dim=32, depth=2), lambda y: y[0])",
        "torch.rand(b, 24, 32)",
    ),
    (
        "timesformer",
        "from timesformer_pytorch import TimeSformer",
        "TimeSformer(dim=64, image_size=32, patch_size=8, num_frames=4, num_classes=10, depth=2, heads=4, "
        "dim_head=16, attn_dropout=.1, ff_dropout=.1)",
        "torch.rand(b, 4, 3, 32, 32)",
    ),
    (
        "ddpm_unet",
        (
            "from denoising_diffusion_pytorch "
            "import Unet\n"
        ) + CALLED % "self.m(x, torch.zeros(x.shape[0], device=x.device).long())",
        "One(Unet(dim=16, dim_mults=(1, 2, 4), flash_attn=False))",
        SMALLER,
    ),
    (
        "ddpm_unet1d",
        (
            "from denoising_diffusion_pytorch "
            "import Unet1D\n"
        ) + CALLED % "self.m(x, torch.zeros(x.shape[0], device=x.device).long())",
        "One(Unet1D(dim=16, dim_mults=(1, 2, 4), channels=8))",
        "torch.rand(b, 8, 64)",
    ),
    (
        "x_unet",
        "from x_unet import XUnet",
        "XUnet(dim=16, channels=3, dim_mults=(1, 2, 4), num_blocks_per_stage=(1, 1, 1), "
        "num_self_attn_per_stage=(0, 0, 1), nested_unet_depths=(2, 1, 0), nested_unet_dim=8, "
        "consolidate_upsample_fmaps=True)",
        PICTURE,
    ),
    (
        "megabyte",
        "from MEGABYTE_pytorch import MEGABYTE",
        "MEGABYTE(num_tokens=256, dim=(128, 64), depth=(2, 2), max_seq_len=(16, 4), dim_head=32, heads=4, "
        "flash_attn=False)",
        TOKENS,
    ),
    (
        "minlstm",
        "from minGRU_pytorch.minLSTM import minLSTM",
        "minLSTM(dim=64, expansion_factor=1.5)",
        SEQUENCE,
    ),
    (
        "htransformer1d",
        "from h_transformer_1d import HTransformer1D",
        "HTransformer1D(num_tokens=256, dim=64, depth=2, max_seq_len=64, heads=4, dim_head=16, block_size=16)",
        TOKENS,
    ),
    (
        "glom",
        "from glom_pytorch import Glom",
        "Glom(dim=64, levels=3, image_size=32, patch_size=8)",
        SMALLER,
    ),
    (
        "gau_block",
        "from flash_pytorch import GAU",
        "GAU(dim=64, query_key_dim=32, causal=True, expansion_factor=2, laplace_attn_fn=True, dropout=.1)",
        SEQUENCE,
    ),
    (
        "facenet",
        "from facenet_pytorch import InceptionResnetV1",
        "InceptionResnetV1(classify=True, num_classes=20)",
        "torch.rand(b, 3, 160, 160)",
    ),
    (
        "pytorch_tcn",
        "from pytorch_tcn import TCN",
        "TCN(16, [32, 32, 32], kernel_size=3, dropout=.1, causal=True, use_norm='weight_norm', activation='relu', "
        "use_skip_connections=True)",
        "torch.rand(b, 16, 64)",
    ),
    (
        "pytorch_tcn_gate",
        "from pytorch_tcn import TCN",
        "TCN(16, [32, 32], kernel_size=3, dropout=.1, causal=False, use_norm='layer_norm', use_gate=True)",
        "torch.rand(b, 16, 64)",
    ),
    (
        "palm",
        "from palm_pytorch import PaLM",
        "PaLM(num_tokens=256, dim=64, depth=2, heads=4, dim_head=16)",
        TOKENS,
    ),
    (
        "hierarchical",
        "from simple_hierarchical_transformer import HierarchicalTransformer",
        "HierarchicalTransformer(num_tokens=256, dim=64, depth=2, dim_head=16, heads=4, seq_len=64, "
        "hierarchies=(1, 2), window_sizes=(16, None))",
        TOKENS,
    ),
    (
        "infini",
        "from infini_transformer_pytorch import InfiniTransformer\n" + ONLY,
        "One(InfiniTransformer(num_tokens=256, dim=64, depth=2, dim_head=16, heads=4), lambda y: y[0])",
        TOKENS,
    ),
    (
        "colt5_ff",
        "from colt5_attention import ConditionalRoutedFeedForward",
        "ConditionalRoutedFeedForward(64, num_heavy_tokens=16)",
        SEQUENCE,
    ),
    (
        "taylor_attn",
        "from taylor_series_linear_attention import TaylorSeriesLinearAttn",
        "TaylorSeriesLinearAttn(dim=64, dim_head=8, heads=4)",
        SEQUENCE,
    ),
    (
        "simclr_lightly",
        "import torchvision\nfrom lightly.models.modules import SimCLRProjectionHead\nfrom lightly.loss import "
        "NTXentLoss\nclass SimCLR(nn.Module):\n    def __init__(self):\n        super().__init__()\n        r = "
        "torchvision.models.resnet18()\n        self.backbone = nn.Sequential(*list(r.children())[:-1])\n        "
        "self.head = SimCLRProjectionHead(512, 512, 128)\n        self.c = NTXentLoss(temperature=.1)\n    def "
        "forward(self, x):\n        a, b = x[:, 0], x[:, 1]\n        za, zb = "
        "[self.head(self.backbone(v).flatten(start_dim=1)) for v in (a, b)]\n        return za * zb\n",
        "SimCLR()",
        "torch.rand(b, 2, 3, 64, 64)",
    ),
    (
        "byol_lightly",
        "import copy, torchvision\nfrom lightly.models.modules import BYOLProjectionHead, "
        "BYOLPredictionHead\nfrom lightly.models.utils import deactivate_requires_grad\nfrom lightly.loss import "
        "NegativeCosineSimilarity\nclass B(nn.Module):\n    def __init__(self):\n        super().__init__()\n     "
        "   r = torchvision.models.resnet18()\n        self.backbone = nn.Sequential(*list(r.children())[:-1])\n  "
        "      self.projection_head = BYOLProjectionHead(512, 512, 128)\n        self.prediction_head = "
        "BYOLPredictionHead(128, 512, 128)\n        self.backbone_momentum = copy.deepcopy(self.backbone)\n       "
        " self.projection_head_momentum = copy.deepcopy(self.projection_head)\n        "
        "deactivate_requires_grad(self.backbone_momentum)\n        "
        "deactivate_requires_grad(self.projection_head_momentum)\n        self.c = NegativeCosineSimilarity()\n   "
        " def online(self, x):\n        y = self.backbone(x).flatten(start_dim=1)\n        z = "
        "self.projection_head(y)\n        return self.prediction_head(z)\n    def forward_momentum(self, x):\n    "
        "    y = self.backbone_momentum(x).flatten(start_dim=1)\n        z = self.projection_head_momentum(y)\n   "
        "     return z.detach()\n    def forward(self, x):\n        a, b = x[:, 0], x[:, 1]\n        p0, p1 = "
        "self.online(a), self.online(b)\n        z0, z1 = self.forward_momentum(a), self.forward_momentum(b)\n    "
        "    return 0.5 * (self.c(p0, z1) + self.c(p1, z0))[None]\n",
        "B()",
        "torch.rand(b, 2, 3, 64, 64)",
    ),
    (
        "pretrained_xception",
        "import pretrainedmodels",
        "pretrainedmodels.xception(num_classes=1000, pretrained=None)",
        "torch.rand(b, 3, 128, 128)",
    ),
    (
        "pretrained_bninception",
        "import pretrainedmodels",
        "pretrainedmodels.bninception(num_classes=1000, pretrained=None)",
        "torch.rand(b, 3, 224, 224)",
    ),
    (
        "pretrained_dpn68",
        "import pretrainedmodels",
        "pretrainedmodels.dpn68(num_classes=1000, pretrained=None)",
        "torch.rand(b, 3, 128, 128)",
    ),
    (
        "pretrained_nasnetamobile",
        "import pretrainedmodels",
        "pretrainedmodels.nasnetamobile(num_classes=1000, pretrained=None)",
        "torch.rand(b, 3, 224, 224)",
    ),
    (
        "pretrained_seresnet50",
        "import pretrainedmodels",
        "pretrainedmodels.se_resnet50(num_classes=1000, pretrained=None)",
        "torch.rand(b, 3, 224, 224)",
    ),
    (
        "pretrained_inceptionv4",
        "import pretrainedmodels",
        "pretrainedmodels.inceptionv4(num_classes=1000, pretrained=None)",
        "torch.rand(b, 3, 299, 299)",
    ),
    (
        "pv_slow",
        "from pytorchvideo.models.resnet import create_resnet",
        "create_resnet(model_depth=18 if False else 50, model_num_class=20, head_pool_kernel_size=(4, 2, 2))",
        "torch.rand(b, 3, 4, 64, 64)",
    ),
    (
        "pv_x3d",
        "from pytorchvideo.models.x3d import create_x3d",
        "create_x3d(input_clip_length=4, input_crop_size=64, model_num_class=20)",
        "torch.rand(b, 3, 4, 64, 64)",
    ),
    (
        "pv_csn",
        "from pytorchvideo.models.csn import create_csn",
        "create_csn(model_depth=50, model_num_class=20, head_pool_kernel_size=(1, 2, 2))",
        "torch.rand(b, 3, 8, 64, 64)",
    ),
    (
        "pv_mvit",
        "from pytorchvideo.models.vision_transformers import create_multiscale_vision_transformers",
        "create_multiscale_vision_transformers(spatial_size=64, temporal_size=4, depth=4, patch_embed_dim=48, "
        "head_num_classes=10, embed_dim_mul=[[1, 2.0]], atten_head_mul=[[1, 2.0]], pool_q_stride_size=[[1, 1, 2, "
        "2]], pool_kv_stride_adaptive=[1, 4, 4], pool_kvq_kernel=[3, 3, 3], dropout_rate_block=.1, "
        "droppath_rate_block=.1)",
        "torch.rand(b, 3, 4, 64, 64)",
    ),
    (
        "mambapy",
        "from mambapy.mamba import Mamba, MambaConfig",
        "Mamba(MambaConfig(d_model=64, n_layers=2, pscan=False))",
        SEQUENCE,
    ),
    (
        "ncps_cfc",
        "from ncps.torch import CfC\n" + ONLY,
        "One(CfC(16, 64), lambda y: y[0])",
        "torch.rand(b, 24, 16)",
    ),
    (
        "whisper_openai",
        "import whisper.model as wm\nwm.MultiHeadAttention.use_sdpa = False\nclass Wh(nn.Module):\n    def "
        "__init__(self):\n        super().__init__()\n        self.m = wm.Whisper(wm.ModelDimensions(80, 100, 64, "
        "4, 2, 512, 32, 64, 4, 2))\n    def forward(self, x):\n        return self.m(x, torch.zeros(x.shape[0], "
        "24, dtype=torch.long, device=x.device))\n",
        "Wh()",
        "torch.rand(b, 80, 200)",
    ),
    (
        "whisper_openai_sdpa",
        "import whisper.model as wm\nclass Wh(nn.Module):\n    def __init__(self):\n        super().__init__()\n  "
        "      self.m = wm.Whisper(wm.ModelDimensions(80, 100, 64, 4, 2, 512, 32, 64, 4, 2))\n    def "
        "forward(self, x):\n        return self.m(x, torch.zeros(x.shape[0], 24, dtype=torch.long, "
        "device=x.device))\n",
        "Wh()",
        "torch.rand(b, 80, 200)",
    ),
    (
        "vq_fsq",
        "from vector_quantize_pytorch import FSQ\n" + ONLY,
        "nn.Sequential(nn.Linear(64, 3), One(FSQ([8, 5, 5]), lambda y: y[0]), nn.Linear(3, 64))",
        SEQUENCE,
    ),
    (
        "vq_lfq",
        "from vector_quantize_pytorch import LFQ\n" + ONLY,
        "nn.Sequential(nn.Linear(64, 8), One(LFQ(codebook_size=256, dim=8), lambda y: y[0]), nn.Linear(8, 64))",
        SEQUENCE,
    ),
    (
        "reformer_lm",
        "from reformer_pytorch import ReformerLM",
        "ReformerLM(num_tokens=256, dim=64, depth=1, max_seq_len=64, heads=4, dim_head=16, bucket_size=8, "
        "n_hashes=2, causal=True, use_full_attn=True)",
        TOKENS,
    ),
    (
        "routing_lm",
        "from routing_transformer import RoutingTransformerLM\n" + ONLY,
        "One(RoutingTransformerLM(num_tokens=256, dim=64, depth=1, max_seq_len=64, heads=4, dim_head=16, "
        "window_size=16, n_local_attn_heads=4), lambda y: y[0])",
        TOKENS,
    ),
    (
        "geffnet_lite",
        "import geffnet",
        "geffnet.create_model('efficientnet_lite0', pretrained=False)",
        "torch.rand(b, 3, 128, 128)",
    ),
    (
        "geffnet_mixnet",
        "import geffnet",
        "geffnet.create_model('mixnet_s', pretrained=False)",
        "torch.rand(b, 3, 128, 128)",
    ),
    (
        "geffnet_mnasnet",
        "import geffnet",
        "geffnet.create_model('mnasnet_a1', pretrained=False)",
        "torch.rand(b, 3, 128, 128)",
    ),
    (
        "fcv_cot",
        ATTENTION,
        "nn.Sequential(nn.Conv2d(3, 64, 3, 2), A('attention.CoTAttention', 'CoTAttention')(64), nn.Conv2d(64, 8, 3))",
        PICTURE,
    ),
    (
        "fcv_sge",
        ATTENTION,
        "nn.Sequential(nn.Conv2d(3, 64, 3), A('attention.SGE', 'SpatialGroupEnhance')(8), nn.Conv2d(64, 8, 3))",
        PICTURE,
    ),
    (
        "fcv_shuffle",
        ATTENTION,
        "nn.Sequential(nn.Conv2d(3, 64, 3), A('attention.ShuffleAttention', 'ShuffleAttention')(64, G=8), "
        "nn.Conv2d(64, 8, 3))",
        PICTURE,
    ),
    (
        "fcv_sk",
        ATTENTION,
        "nn.Sequential(nn.Conv2d(3, 64, 3), A('attention.SKAttention', 'SKAttention')(64, reduction=8), "
        "nn.Conv2d(64, 8, 3))",
        PICTURE,
    ),
    (
        "fcv_triplet",
        ATTENTION,
        "nn.Sequential(nn.Conv2d(3, 64, 3), A('attention.TripletAttention', 'TripletAttention')(), nn.Conv2d(64, "
        "8, 3))",
        PICTURE,
    ),
    (
        "fcv_coord",
        ATTENTION,
        "nn.Sequential(nn.Conv2d(3, 64, 3), A('attention.CoordAttention', 'CoordAtt')(64, 64), nn.Conv2d(64, 8, 3))",
        PICTURE,
    ),
    (
        "fcv_outlookattention",
        ATTENTION,
        "nn.Sequential(nn.Linear(3, 64), A('attention.OutlookAttention', 'OutlookAttention')(dim=64, num_heads=4))",
        "torch.rand(b, 28, 28, 3)",
    ),
    (
        "fcv_halo",
        ATTENTION,
        "nn.Sequential(nn.Conv2d(3, 64, 1), A('attention.HaloAttention', 'HaloAttention')(dim=64, block_size=2, "
        "halo_size=1, dim_head=16, heads=4))",
        SMALLER,
    ),
    (
        "fcv_polarized",
        ATTENTION,
        "nn.Sequential(nn.Conv2d(3, 64, 3), A('attention.PolarizedSelfAttention', "
        "'SequentialPolarizedSelfAttention')(64), nn.Conv2d(64, 8, 3))",
        PICTURE,
    ),
    (
        "fcv_parnet",
        ATTENTION,
        "nn.Sequential(nn.Conv2d(3, 64, 3), A('attention.ParNetAttention', 'ParNetAttention')(64), nn.Conv2d(64, "
        "8, 3))",
        PICTURE,
    ),
    (
        "fcv_mobilevitv2",
        ATTENTION,
        "nn.Sequential(nn.Linear(16, 64), A('attention.MobileViTv2Attention', 'MobileViTv2Attention')(64))",
        "torch.rand(b, 49, 16)",
    ),
    (
        "vit_simple_flash",
        "import vit_pytorch.simple_vit_with_register_tokens",
        "vit_pytorch.simple_vit_with_register_tokens.SimpleViT(image_size=64, patch_size=8, num_classes=10, "
        "dim=64, depth=2, heads=4, mlp_dim=128)",
        PICTURE,
    ),
    (
        "vit_simple_qknorm",
        "import vit_pytorch.simple_vit_with_qk_norm",
        "vit_pytorch.simple_vit_with_qk_norm.SimpleViT(image_size=64, patch_size=8, num_classes=10, dim=64, "
        "depth=2, heads=4, mlp_dim=128)",
        PICTURE,
    ),
    (
        "vit_patch_dropout",
        "import vit_pytorch.vit_with_patch_dropout",
        "vit_pytorch.vit_with_patch_dropout.ViT(image_size=64, patch_size=8, num_classes=10, dim=64, depth=2, "
        "heads=4, mlp_dim=128, dropout=.1, emb_dropout=.1, patch_dropout=.25)",
        PICTURE,
    ),
    (
        "vit_patch_merger",
        "import vit_pytorch.vit_with_patch_merger",
        "vit_pytorch.vit_with_patch_merger.ViT(image_size=64, patch_size=8, num_classes=10, dim=64, depth=4, "
        "heads=4, mlp_dim=128, patch_merge_layer=2, patch_merge_num_tokens=8)",
        PICTURE,
    ),
    (
        "vit_hyperconn",
        "import vit_pytorch.simple_vit_with_hyper_connections",
        "vit_pytorch.simple_vit_with_hyper_connections.SimpleViT(image_size=64, patch_size=8, num_classes=10, "
        "dim=64, depth=2, heads=4, mlp_dim=128, num_residual_streams=2)",
        PICTURE,
    ),
    (
        "vit_value_residual",
        "import vit_pytorch.simple_vit_with_value_residual",
        "vit_pytorch.simple_vit_with_value_residual.SimpleViT(image_size=64, patch_size=8, num_classes=10, "
        "dim=64, depth=2, heads=4, mlp_dim=128)",
        PICTURE,
    ),
    (
        "vit_fft",
        "import vit_pytorch.simple_vit_with_fft",
        "vit_pytorch.simple_vit_with_fft.SimpleViT(num_classes=10, image_size=64, patch_size=8, "
        "freq_patch_size=8, dim=64, depth=2, heads=4, mlp_dim=128)",
        PICTURE,
    ),
    (
        "vit_learnable_memory",
        "import vit_pytorch.learnable_memory_vit",
        "vit_pytorch.learnable_memory_vit.ViT(image_size=64, patch_size=8, num_classes=10, dim=64, depth=2, "
        "heads=4, mlp_dim=128, dropout=.1)",
        PICTURE,
    ),
    (
        "vit_jumbo",
        "import vit_pytorch.jumbo_vit",
        "vit_pytorch.jumbo_vit.JumboViT(num_classes=10, image_size=64, patch_size=8, dim=64, depth=2, heads=4, "
        "mlp_dim=128, jumbo_cls_k=2, jumbo_ff_mult=2)",
        PICTURE,
    ),
    (
        "xt_alibi",
        "import x_transformers as xt",
        "xt.TransformerWrapper(num_tokens=256, max_seq_len=64, attn_layers=xt.Decoder(dim=64, depth=2, heads=4, "
        "attn_dim_head=16, alibi_pos_bias=True, alibi_num_heads=2))",
        TOKENS,
    ),
    (
        "xt_t5bias",
        "import x_transformers as xt",
        "xt.TransformerWrapper(num_tokens=256, max_seq_len=64, attn_layers=xt.Decoder(dim=64, depth=2, heads=4, "
        "attn_dim_head=16, rel_pos_bias=True, ff_glu=True, ff_swish=True, use_rmsnorm=True))",
        TOKENS,
    ),
    (
        "xt_talking",
        "import x_transformers as xt",
        "xt.TransformerWrapper(num_tokens=256, max_seq_len=64, attn_layers=xt.Encoder(dim=64, depth=2, heads=4, "
        "attn_dim_head=16, attn_pre_talking_heads=True, attn_dropout=.1, ff_dropout=.1))",
        TOKENS,
    ),
    (
        "xt_sandwich",
        "import x_transformers as xt",
        "xt.TransformerWrapper(num_tokens=256, max_seq_len=64, attn_layers=xt.Decoder(dim=64, depth=2, heads=4, "
        "attn_dim_head=16, sandwich_norm=True, dynamic_pos_bias=True, dynamic_pos_bias_log_distance=False, "
        "attn_kv_heads=2))",
        TOKENS,
    ),
    (
        "xt_memkv",
        "import x_transformers as xt",
        "xt.TransformerWrapper(num_tokens=256, max_seq_len=64, num_memory_tokens=4, "
        "attn_layers=xt.Encoder(dim=64, depth=2, heads=4, attn_dim_head=16, attn_num_mem_kv=4, "
        "ff_relu_squared=True, macaron=True))",
        TOKENS,
    ),
)
