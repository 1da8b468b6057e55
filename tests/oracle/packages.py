#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Models of packages that people install beside PyTorch, a row each: for families.py.

Packages: vit-pytorch, segmentation-models-pytorch, monai, torchaudio, pytorchcv, einops, braindecode, diffusers,
asteroid, speechbrain, ultralytics, neuraloperator and what the rows import.
"""

SOURCE = """import inspect, torch
from torch import nn
import torch.nn.functional as F
from zoo_base import *
{imports}
def build():
    return {made}
def given(b):
    return {given}
def size(model):
    with torch.no_grad():
        return model.train()(given(2)).shape[1:]
NAME = next(iter(inspect.signature(build().forward).parameters))
SIZE = size(build())
ZOO = {{"case": Entry(build, lambda b: ({{NAME: given(b)}}, torch.zeros(b, *SIZE)), F.mse_loss, (4,), real_build=True)}}
"""

SMALLER = "torch.rand(b, 3, 32, 32)"
PICTURE = "torch.rand(b, 3, 64, 64)"
LARGER = "torch.rand(b, 3, 224, 224)"
VOLUME = "torch.rand(b, 1, 32, 32, 32)"
SEQUENCE = "torch.rand(b, 64, 64)"
TOKENS = "torch.zeros(b, 64, dtype=torch.long)"

SPECTRA = """import torchaudio, torchaudio.transforms as T
class Fourier(nn.Module):
    "mixes tokens by the real part of a transform in two dimensions, as FNet does"
    def __init__(self):
        super().__init__()
        self.up, self.down, self.norm = nn.Linear(64, 128), nn.Linear(128, 64), nn.LayerNorm(64)
    def forward(self, x):
        x = self.norm(x + torch.fft.fft2(x).real)
        return x + self.down(F.gelu(self.up(x)))
class Filter(nn.Module):
    "a learned filter in the frequencies of a picture, as GFNet has it"
    def __init__(self, h=16, w=9, c=32):
        super().__init__()
        self.weight, self.fc = nn.Parameter(torch.randn(h, w, c, 2) * 0.02), nn.Linear(c, c)
    def forward(self, x):
        x = torch.fft.rfft2(x, dim=(1, 2), norm="ortho") * torch.view_as_complex(self.weight)
        return self.fc(torch.fft.irfft2(x, s=(16, 16), dim=(1, 2), norm="ortho"))
class Spectral(nn.Module):
    "weights of the first modes of a sequence, as FNO has them"
    def __init__(self, c=16, modes=12):
        super().__init__()
        self.w = nn.Parameter(torch.rand(c, c, modes, dtype=torch.cfloat) / c)
        self.skip, self.modes = nn.Conv1d(c, c, 1), modes
    def forward(self, x):
        f = torch.fft.rfft(x)
        out = torch.zeros_like(f)
        out[:, :, :self.modes] = torch.einsum("bix,iox->box", f[:, :, :self.modes], self.w)
        return F.gelu(torch.fft.irfft(out, n=x.shape[-1]) + self.skip(x))
class Front(nn.Module):
    "a spectrogram before convolutions"
    def __init__(self, front, features):
        super().__init__()
        self.front = front
        self.net = nn.Sequential(nn.Conv1d(features, 32, 3), nn.BatchNorm1d(32), nn.ReLU(), nn.Conv1d(32, 8, 3))
    def forward(self, x):
        return self.net(self.front(x))
class Magnitude(nn.Module):
    def __init__(self, n=256, learned=False):
        super().__init__()
        self.n, self.window = n, nn.Parameter(torch.hann_window(n)) if learned else None
        if not learned:
            self.register_buffer("hann", torch.hann_window(n))
    def forward(self, x):
        w = self.hann if self.window is None else self.window
        return torch.stft(x, self.n, self.n // 4, window=w, return_complex=True).abs()
class Mask(nn.Module):
    "a mask over a spectrogram, and back to the waveform"
    def __init__(self, n=256):
        super().__init__()
        self.n = n
        self.register_buffer("hann", torch.hann_window(n))
        self.net = nn.Sequential(nn.Conv1d(n // 2 + 1, 64, 3, padding=1), nn.ReLU(), nn.Conv1d(64, n // 2 + 1, 1))
    def forward(self, x):
        s = torch.stft(x, self.n, self.n // 4, window=self.hann, return_complex=True)
        return torch.istft(s * self.net(s.abs()).sigmoid(), self.n, self.n // 4, window=self.hann, length=x.shape[-1])
"""
ONE = """
class One(nn.Module):
    "without the other argument"
    def __init__(self, model):
        super().__init__()
        self.model = model
    def forward(self, x):
        return self.model(x, None)
class First(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model
    def forward(self, x):
        return self.model(x)[0]
"""
WAVE = "torch.rand(b, 8000)"

BRAINDECODE = """ATCNet AttentionBaseNet AttnSleep BDTCN BENDR BIOT BrainModule CBraMod CTNet CodeBrain ContraWR DANCE
    DGCNN Deep4Net DeepSleepNet EEGConformer EEGDINO EEGITNet EEGInceptionERP EEGInceptionMI EEGMiner EEGNeX EEGNet
    EEGPT EEGSimpleConv EEGSym EEGTCNet FBCNet FBLightConvNet FBMSNet HybridNet IFNet LUNA Labram MEDFormer MSVTNet
    MVPFormer
    PBT REVE SCCNet SPARCNet SSTDPN STEEGFormer ShallowFBCSPNet SignalJEPA SincShallowNet SleepStagerBlanco2020
    SleepStagerChambon2018 SyncNet TCFormer TCN TIDNet TSception USleep"""
PYTORCHCV = """resnet10 preresnet10 seresnet10 sepreresnet10 ibnb_resnet50 resnext14_16x4d cbam_resnet18 bam_resnet18
    igcv3_wd4 shufflenet_g1_wd4 shufflenetv2_wd2 squeezenet_v1_1 squeezeresnet_v1_1 darknet53 diracnet18v2
    xdensenet121_2 mnasnet_b1 menet108_8x1_g3 peleenet hardnet39ds dla34 mobilenet_wd4 mobilenetv2_wd4
    mobilenetv3_small_wd2 fdmobilenet_wd4 ghostnet proxylessnas_cpu fbnet_cb efficientnet_b0 spnasnet wrn20_10_svhn
    regnetx002 resnesta18 selecsls42 vovnet27s dpn68 sknet50 airnext50_32x4d_r2 bninception sinet_cityscapes
    condensenet74_c4_g4 channelnet nin_cifar10 rir_cifar10 shakeshakeresnet20_2x16d_cifar10 xception inceptionv3 polynet
    resattnet56 zfnet resnetd50b repvgg_a0"""
PYTORCHCV_TAKES = {
    **dict.fromkeys("wrn20_10_svhn nin_cifar10 rir_cifar10 shakeshakeresnet20_2x16d_cifar10".split(), SMALLER),
    **dict.fromkeys("xception inceptionv3 polynet".split(), "torch.rand(b, 3, 299, 299)"),
}
DIFFUSERS = """import diffusers
class M(nn.Module):
    def __init__(self, model, **given):
        super().__init__()
        self.model = model
    def forward(self, sample):
        b = sample.shape[0]
        more = {}
        names = inspect.signature(self.model.forward).parameters
        if "timestep" in names:
            more["timestep"] = torch.full((b,), 10, device=sample.device)
        if "encoder_hidden_states" in names:
            more["encoder_hidden_states"] = torch.ones(b, 8, 32, device=sample.device)
        if "class_labels" in names and "DiT" in type(self.model).__name__:
            more["class_labels"] = torch.zeros(b, dtype=torch.long, device=sample.device)
        if "pooled_projections" in names:
            more["pooled_projections"] = torch.ones(b, 32, device=sample.device)
        return self.model(sample, **more, return_dict=False)[0]
"""
LATENT = "torch.rand(b, 4, 16, 16)"
DIFFUSION = (
    (
        "unet2d",
        "UNet2DModel(32, block_out_channels=(32, 64), down_block_types=('DownBlock2D', 'AttnDownBlock2D'), "
        "up_block_types=('AttnUpBlock2D', 'UpBlock2D'), norm_num_groups=8, layers_per_block=1)",
        SMALLER,
    ),
    ("unet1d", "UNet1DModel(sample_size=256, in_channels=2, out_channels=2)", "torch.rand(b, 2, 1024)"),
    (
        "unet_condition",
        "UNet2DConditionModel(16, block_out_channels=(32, 64), layers_per_block=1, norm_num_groups=8, "
        "down_block_types=('CrossAttnDownBlock2D', 'DownBlock2D'), up_block_types=('UpBlock2D', 'CrossAttnUpBlock2D'), "
        "cross_attention_dim=32, attention_head_dim=8)",
        LATENT,
    ),
    (
        "unet_simple_cross",
        "UNet2DConditionModel(16, block_out_channels=(32, 64), layers_per_block=1, norm_num_groups=8, "
        "down_block_types=('SimpleCrossAttnDownBlock2D', 'ResnetDownsampleBlock2D'), mid_block_type="
        "'UNetMidBlock2DSimpleCrossAttn', up_block_types=('ResnetUpsampleBlock2D', 'SimpleCrossAttnUpBlock2D'), "
        "cross_attention_dim=32, attention_head_dim=8)",
        LATENT,
    ),
    (
        "dit",
        "DiTTransformer2DModel(num_attention_heads=4, attention_head_dim=16, num_layers=2, sample_size=16, "
        "in_channels=4, num_embeds_ada_norm=10)",
        LATENT,
    ),
    (
        "pixart",
        "PixArtTransformer2DModel(num_attention_heads=4, attention_head_dim=16, num_layers=2, sample_size=16, "
        "cross_attention_dim=64, caption_channels=32)",
        LATENT,
    ),
    (
        "sd3",
        "SD3Transformer2DModel(sample_size=16, num_layers=2, attention_head_dim=16, num_attention_heads=4, "
        "joint_attention_dim=32, caption_projection_dim=64, pooled_projection_dim=32, in_channels=4, out_channels=4)",
        LATENT,
    ),
    (
        "sana",
        "SanaTransformer2DModel(in_channels=4, out_channels=4, num_attention_heads=4, attention_head_dim=16, "
        "num_layers=2, num_cross_attention_heads=4, cross_attention_head_dim=16, cross_attention_dim=64, "
        "caption_channels=32, sample_size=16)",
        LATENT,
    ),
    (
        "auraflow",
        "AuraFlowTransformer2DModel(sample_size=16, num_mmdit_layers=1, num_single_dit_layers=1, "
        "attention_head_dim=16, num_attention_heads=4, joint_attention_dim=32, caption_projection_dim=64, "
        "pos_embed_max_size=256)",
        LATENT,
    ),
    (
        "cogview3",
        "Transformer2DModel(num_attention_heads=4, attention_head_dim=16, in_channels=4, num_layers=2, "
        "norm_num_groups=4, cross_attention_dim=32)",
        LATENT,
    ),
    (
        "vae",
        "AutoencoderKL(block_out_channels=(32, 64), down_block_types=('DownEncoderBlock2D',) * 2, "
        "up_block_types=('UpDecoderBlock2D',) * 2, norm_num_groups=8)",
        SMALLER,
    ),
    ("vae_tiny", "AutoencoderTiny()", PICTURE),
    (
        "vae_asymmetric",
        "AsymmetricAutoencoderKL(down_block_out_channels=(32,), up_block_out_channels=(32,), " "norm_num_groups=8)",
        SMALLER,
    ),
    (
        "vq",
        "VQModel(block_out_channels=(32, 64), down_block_types=('DownEncoderBlock2D',) * 2, "
        "up_block_types=('UpDecoderBlock2D',) * 2, norm_num_groups=8)",
        SMALLER,
    ),
    (
        "dc_ae",
        "AutoencoderDC(in_channels=3, latent_channels=4, encoder_block_out_channels=(32, 64), "
        "decoder_block_out_channels=(32, 64), encoder_layers_per_block=(1, 1), decoder_layers_per_block=(1, 1), "
        "encoder_block_types='ResBlock', decoder_block_types='ResBlock', encoder_qkv_multiscales=((), ()), "
        "decoder_qkv_multiscales=((), ()))",
        SMALLER,
    ),
)

# package, name, what is imported, the model, its input for a batch of b
ROWS = (
    (
        "vit_pytorch",
        "vit",
        "import vit_pytorch",
        "vit_pytorch.ViT(image_size=64, patch_size=8, num_classes=10, dim=64, depth=2, heads=4, mlp_dim=128, "
        "dropout=0.1, emb_dropout=0.1)",
        PICTURE,
    ),
    (
        "vit_pytorch",
        "simple_vit",
        "import vit_pytorch",
        "vit_pytorch.SimpleViT(image_size=64, patch_size=8, num_classes=10, dim=64, depth=2, heads=4, mlp_dim=128)",
        PICTURE,
    ),
    (
        "vit_pytorch",
        "cait",
        "import vit_pytorch.cait",
        "vit_pytorch.cait.CaiT(image_size=64, patch_size=8, num_classes=10, dim=64, depth=2, cls_depth=2, "
        "heads=4, mlp_dim=128, dropout=0.1)",
        PICTURE,
    ),
    (
        "vit_pytorch",
        "deepvit",
        "import vit_pytorch.deepvit",
        "vit_pytorch.deepvit.DeepViT(image_size=64, patch_size=8, num_classes=10, dim=64, depth=2, heads=4, "
        "mlp_dim=128)",
        PICTURE,
    ),
    (
        "vit_pytorch",
        "t2t",
        "import vit_pytorch.t2t",
        "vit_pytorch.t2t.T2TViT(image_size=64, num_classes=10, dim=64, depth=2, heads=4, mlp_dim=128)",
        PICTURE,
    ),
    (
        "vit_pytorch",
        "cct",
        "import vit_pytorch.cct",
        "vit_pytorch.cct.CCT(img_size=64, embedding_dim=64, n_conv_layers=2, num_layers=2, num_heads=4, "
        "mlp_ratio=2., num_classes=10, positional_embedding='learnable')",
        PICTURE,
    ),
    (
        "vit_pytorch",
        "pit",
        "import vit_pytorch.pit",
        "vit_pytorch.pit.PiT(image_size=64, patch_size=8, dim=64, num_classes=10, depth=(2,2), heads=4, "
        "mlp_dim=128, dropout=0.1, emb_dropout=0.1)",
        PICTURE,
    ),
    (
        "vit_pytorch",
        "levit",
        "import vit_pytorch.levit",
        "vit_pytorch.levit.LeViT(image_size=128, num_classes=10, stages=2, dim=(64,96), depth=2, heads=(2,4),"
        " mlp_mult=2)",
        "torch.rand(b, 3, 128, 128)",
    ),
    (
        "vit_pytorch",
        "cvt",
        "import vit_pytorch.cvt",
        "vit_pytorch.cvt.CvT(num_classes=10, s1_emb_dim=32, s2_emb_dim=48, s3_emb_dim=64, s3_depth=2)",
        PICTURE,
    ),
    (
        "vit_pytorch",
        "twins",
        "import vit_pytorch.twins_svt",
        "vit_pytorch.twins_svt.TwinsSVT(num_classes=10, s1_emb_dim=32, s2_emb_dim=48, s3_emb_dim=64, "
        "s3_depth=1, s4_emb_dim=96, s4_depth=1)",
        LARGER,
    ),
    (
        "vit_pytorch",
        "crossformer",
        "import vit_pytorch.crossformer",
        "vit_pytorch.crossformer.CrossFormer(num_classes=10, dim=(32,48,64,96), depth=(1,1,1,1))",
        LARGER,
    ),
    (
        "vit_pytorch",
        "regionvit",
        "import vit_pytorch.regionvit",
        "vit_pytorch.regionvit.RegionViT(dim=(32,48,64,96), depth=(1,1,1,1), num_classes=10)",
        LARGER,
    ),
    (
        "vit_pytorch",
        "scalable",
        "import vit_pytorch.scalable_vit",
        "vit_pytorch.scalable_vit.ScalableViT(num_classes=10, dim=32, heads=(2,2,2,2), depth=(1,1,1,1), "
        "ssa_dim_key=(8,8,8,8), reduction_factor=(8,4,2,1), window_size=(8,8,None,None))",
        "torch.rand(b, 3, 256, 256)",
    ),
    (
        "vit_pytorch",
        "sepvit",
        "import vit_pytorch.sep_vit",
        "vit_pytorch.sep_vit.SepViT(num_classes=10, dim=32, dim_head=16, heads=(1,2,2,2), depth=(1,1,1,1), "
        "window_size=7)",
        LARGER,
    ),
    (
        "vit_pytorch",
        "maxvit",
        "import vit_pytorch.max_vit",
        "vit_pytorch.max_vit.MaxViT(num_classes=10, dim_conv_stem=16, dim=32, dim_head=16, depth=(1,1), "
        "window_size=7)",
        LARGER,
    ),
    (
        "vit_pytorch",
        "nest",
        "import vit_pytorch.nest",
        "vit_pytorch.nest.NesT(image_size=64, patch_size=4, dim=32, heads=2, num_hierarchies=2, "
        "block_repeats=(1,1), num_classes=10)",
        PICTURE,
    ),
    (
        "vit_pytorch",
        "mobilevit",
        "import vit_pytorch.mobile_vit",
        "vit_pytorch.mobile_vit.MobileViT(image_size=(64,64), dims=[32,48,64], "
        "channels=[16,16,24,24,32,32,48,48,64,64,128], num_classes=10)",
        PICTURE,
    ),
    (
        "vit_pytorch",
        "xcit",
        "import vit_pytorch.xcit",
        "vit_pytorch.xcit.XCiT(image_size=64, patch_size=8, num_classes=10, dim=64, depth=2, cls_depth=1, "
        "heads=4, mlp_dim=128)",
        PICTURE,
    ),
    (
        "vit_pytorch",
        "parallel",
        "import vit_pytorch.parallel_vit",
        "vit_pytorch.parallel_vit.ViT(image_size=64, patch_size=8, num_classes=10, dim=64, depth=2, heads=4, "
        "mlp_dim=128, num_parallel_branches=2)",
        PICTURE,
    ),
    (
        "vit_pytorch",
        "vivit",
        "import vit_pytorch.vivit",
        "vit_pytorch.vivit.ViT(image_size=32, image_patch_size=8, frames=4, frame_patch_size=2, "
        "num_classes=10, dim=64, spatial_depth=2, temporal_depth=2, heads=4, mlp_dim=128)",
        "torch.rand(b, 3, 4, 32, 32)",
    ),
    (
        "vit_pytorch",
        "rvt",
        "import vit_pytorch.rvt",
        "vit_pytorch.rvt.RvT(image_size=64, patch_size=8, num_classes=10, dim=64, depth=2, heads=4, mlp_dim=128)",
        PICTURE,
    ),
    (
        "vit_pytorch",
        "small_data",
        "import vit_pytorch.vit_for_small_dataset",
        "vit_pytorch.vit_for_small_dataset.ViT(image_size=64, patch_size=8, num_classes=10, dim=64, depth=2, "
        "heads=4, mlp_dim=128, dropout=0.1)",
        PICTURE,
    ),
    (
        "vit_pytorch",
        "vit_1d",
        "import vit_pytorch.vit_1d",
        "vit_pytorch.vit_1d.ViT(seq_len=64, patch_size=8, num_classes=10, dim=64, depth=2, heads=4, mlp_dim=128)",
        "torch.rand(b, 3, 64)",
    ),
    (
        "vit_pytorch",
        "cross_vit",
        "import vit_pytorch.cross_vit",
        "vit_pytorch.cross_vit.CrossViT(image_size=64, num_classes=10, depth=2, sm_dim=32, sm_patch_size=8, "
        "sm_enc_depth=1, sm_enc_heads=2, sm_enc_mlp_dim=64, lg_dim=48, lg_patch_size=16, lg_enc_depth=1, "
        "lg_enc_heads=2, lg_enc_mlp_dim=64, cross_attn_depth=1, cross_attn_heads=2)",
        PICTURE,
    ),
    (
        "smp",
        "unet",
        "import segmentation_models_pytorch as smp",
        "smp.Unet('resnet18', encoder_weights=None, classes=3)",
        PICTURE,
    ),
    (
        "smp",
        "unetplusplus",
        "import segmentation_models_pytorch as smp",
        "smp.UnetPlusPlus('resnet18', encoder_weights=None, classes=3)",
        PICTURE,
    ),
    (
        "smp",
        "manet",
        "import segmentation_models_pytorch as smp",
        "smp.MAnet('resnet18', encoder_weights=None, classes=3)",
        PICTURE,
    ),
    (
        "smp",
        "linknet",
        "import segmentation_models_pytorch as smp",
        "smp.Linknet('mobilenet_v2', encoder_weights=None, classes=3)",
        PICTURE,
    ),
    (
        "smp",
        "fpn",
        "import segmentation_models_pytorch as smp",
        "smp.FPN('resnet18', encoder_weights=None, classes=3)",
        PICTURE,
    ),
    (
        "smp",
        "pspnet",
        "import segmentation_models_pytorch as smp",
        "smp.PSPNet('resnet18', encoder_weights=None, classes=3)",
        PICTURE,
    ),
    (
        "smp",
        "pan",
        "import segmentation_models_pytorch as smp",
        "smp.PAN('resnet18', encoder_weights=None, classes=3)",
        PICTURE,
    ),
    (
        "smp",
        "deeplabv3",
        "import segmentation_models_pytorch as smp",
        "smp.DeepLabV3('resnet18', encoder_weights=None, classes=3)",
        PICTURE,
    ),
    (
        "smp",
        "deeplabv3plus",
        "import segmentation_models_pytorch as smp",
        "smp.DeepLabV3Plus('mobilenet_v2', encoder_weights=None, classes=3)",
        PICTURE,
    ),
    (
        "smp",
        "upernet",
        "import segmentation_models_pytorch as smp",
        "smp.UPerNet('resnet18', encoder_weights=None, classes=3)",
        PICTURE,
    ),
    (
        "smp",
        "segformer",
        "import segmentation_models_pytorch as smp",
        "smp.Segformer('mit_b0', encoder_weights=None, classes=3)",
        PICTURE,
    ),
    (
        "smp",
        "unet_eff",
        "import segmentation_models_pytorch as smp",
        "smp.Unet('efficientnet-b0', encoder_weights=None, classes=3, decoder_attention_type='scse')",
        PICTURE,
    ),
    (
        "smp",
        "unet_vgg",
        "import segmentation_models_pytorch as smp",
        "smp.Unet('vgg11', encoder_weights=None)",
        PICTURE,
    ),
    (
        "smp",
        "unet_dense",
        "import segmentation_models_pytorch as smp",
        "smp.Unet('densenet121', encoder_weights=None)",
        PICTURE,
    ),
    (
        "smp",
        "fpn_seresnext",
        "import segmentation_models_pytorch as smp",
        "smp.FPN('se_resnext50_32x4d', encoder_weights=None)",
        PICTURE,
    ),
    (
        "monai",
        "unet",
        "import monai.networks.nets as nets",
        "nets.UNet(spatial_dims=2, in_channels=3, out_channels=2, channels=(16,32,64), strides=(2,2), "
        "num_res_units=2)",
        PICTURE,
    ),
    (
        "monai",
        "unet3",
        "import monai.networks.nets as nets",
        "nets.UNet(spatial_dims=3, in_channels=1, out_channels=2, channels=(8,16,32), strides=(2,2), "
        "num_res_units=1)",
        VOLUME,
    ),
    (
        "monai",
        "basicunet",
        "import monai.networks.nets as nets",
        "nets.BasicUNet(spatial_dims=2, in_channels=3, out_channels=2, features=(16,16,32,32,64,16))",
        PICTURE,
    ),
    (
        "monai",
        "dynunet",
        "import monai.networks.nets as nets",
        "nets.DynUNet(2, 3, 2, kernel_size=[3,3,3], strides=[1,2,2], upsample_kernel_size=[2,2], "
        "filters=[16,32,64])",
        PICTURE,
    ),
    (
        "monai",
        "segresnet",
        "import monai.networks.nets as nets",
        "nets.SegResNet(spatial_dims=3, init_filters=8, in_channels=1, out_channels=2, dropout_prob=0.2)",
        VOLUME,
    ),
    (
        "monai",
        "vnet",
        "import monai.networks.nets as nets",
        "nets.VNet(spatial_dims=3, in_channels=1, out_channels=2)",
        VOLUME,
    ),
    (
        "monai",
        "unetr",
        "import monai.networks.nets as nets",
        "nets.UNETR(in_channels=1, out_channels=2, img_size=32, feature_size=8, hidden_size=64, mlp_dim=128, "
        "num_heads=4)",
        VOLUME,
    ),
    (
        "monai",
        "swinunetr",
        "import monai.networks.nets as nets",
        "nets.SwinUNETR(in_channels=1, out_channels=2, feature_size=12)",
        VOLUME,
    ),
    (
        "monai",
        "highres",
        "import monai.networks.nets as nets",
        "nets.HighResNet(spatial_dims=3, in_channels=1, out_channels=2)",
        VOLUME,
    ),
    (
        "monai",
        "attunet",
        "import monai.networks.nets as nets",
        "nets.AttentionUnet(spatial_dims=2, in_channels=3, out_channels=2, channels=(16,32,64), strides=(2,2))",
        PICTURE,
    ),
    (
        "monai",
        "ae",
        "import monai.networks.nets as nets",
        "nets.AutoEncoder(spatial_dims=2, in_channels=3, out_channels=3, channels=(16,32), strides=(2,2))",
        PICTURE,
    ),
    (
        "monai",
        "flexunet",
        "import monai.networks.nets as nets",
        "nets.FlexibleUNet(in_channels=3, out_channels=2, backbone='efficientnet-b0', pretrained=False)",
        PICTURE,
    ),
    (
        "monai",
        "senet",
        "import monai.networks.nets as nets",
        "nets.SEResNet50(spatial_dims=2, in_channels=3, num_classes=10)",
        PICTURE,
    ),
    (
        "monai",
        "densenet",
        "import monai.networks.nets as nets",
        "nets.DenseNet121(spatial_dims=2, in_channels=3, out_channels=10)",
        PICTURE,
    ),
    (
        "monai",
        "vit",
        "import monai.networks.nets as nets",
        "nets.ViT(in_channels=3, img_size=(64,64), patch_size=(8,8), hidden_size=64, mlp_dim=128, "
        "num_layers=2, num_heads=4, spatial_dims=2, classification=True)",
        PICTURE,
    ),
    (
        "torchaudio",
        "convtasnet",
        "import torchaudio",
        "torchaudio.models.ConvTasNet(num_sources=2, enc_num_feats=64, msk_num_feats=32, "
        "msk_num_hidden_feats=64, msk_num_layers=3, msk_num_stacks=2)",
        "torch.rand(b, 1, 8000)",
    ),
    (
        "torchaudio",
        "deepspeech",
        "import torchaudio",
        "torchaudio.models.DeepSpeech(n_feature=40, n_hidden=128, n_class=30)",
        "torch.rand(b, 1, 50, 40)",
    ),
    (
        "torchaudio",
        "wav2letter",
        "import torchaudio",
        "torchaudio.models.Wav2Letter(num_classes=30, input_type='mfcc', num_features=40)",
        "torch.rand(b, 40, 100)",
    ),
    (
        "torchaudio",
        "hdemucs",
        "import torchaudio",
        "torchaudio.models.HDemucs(sources=['a','b'], channels=16, depth=4)",
        "torch.rand(b, 2, 16384)",
    ),
    *(
        (
            "pytorchcv",
            name,
            "from pytorchcv.model_provider import get_model",
            f"get_model('{name}')",
            PYTORCHCV_TAKES.get(name, LARGER),
        )
        for name in PYTORCHCV.split()
    ),
    (
        "attention",
        "linformer",
        "import linformer",
        "linformer.Linformer(dim=64, seq_len=64, depth=2, heads=4, k=16)",
        SEQUENCE,
    ),
    (
        "attention",
        "linformer_lm",
        "import linformer",
        "linformer.LinformerLM(num_tokens=200, dim=64, seq_len=64, depth=2, heads=4, k=16)",
        TOKENS,
    ),
    (
        "attention",
        "perceiver",
        "import perceiver_pytorch",
        "perceiver_pytorch.Perceiver(input_channels=3, input_axis=2, num_freq_bands=6, max_freq=10., depth=2,"
        " num_latents=16, latent_dim=64, latent_dim_head=16, cross_dim_head=16, num_classes=10)",
        "torch.rand(b, 32, 32, 3)",
    ),
    (
        "attention",
        "conformer",
        "import conformer",
        "conformer.Conformer(dim=64, depth=2, dim_head=16, heads=4, ff_dropout=0.1, conv_dropout=0.1)",
        SEQUENCE,
    ),
    (
        "attention",
        "axial",
        "import axial_attention",
        "axial_attention.AxialAttention(dim=64, dim_index=1, heads=4, num_dimensions=2)",
        "torch.rand(b, 64, 16, 16)",
    ),
    (
        "attention",
        "axial_tr",
        "import axial_attention",
        "axial_attention.AxialImageTransformer(dim=64, depth=2, reversible=False)",
        "torch.rand(b, 64, 16, 16)",
    ),
    (
        "attention",
        "nystrom",
        "import nystrom_attention",
        "nystrom_attention.Nystromformer(dim=64, depth=2, heads=4, dim_head=16, num_landmarks=16)",
        SEQUENCE,
    ),
    (
        "attention",
        "local",
        "import local_attention",
        "local_attention.LocalTransformer(num_tokens=200, dim=64, depth=2, max_seq_len=64, heads=4, "
        "dim_head=16, causal=True, local_attn_window_size=16)",
        TOKENS,
    ),
    (
        "attention",
        "linear_attn",
        "import linear_attention_transformer",
        "linear_attention_transformer.LinearAttentionTransformerLM(num_tokens=200, dim=64, heads=4, depth=2, "
        "max_seq_len=64)",
        TOKENS,
    ),
    (
        "attention",
        "mixer",
        "import mlp_mixer_pytorch",
        "mlp_mixer_pytorch.MLPMixer(image_size=64, channels=3, patch_size=8, dim=64, depth=2, num_classes=10)",
        PICTURE,
    ),
    (
        "attention",
        "gmlp",
        "import g_mlp_pytorch",
        "g_mlp_pytorch.gMLP(num_tokens=200, dim=64, depth=2, seq_len=64)",
        TOKENS,
    ),
    (
        "attention",
        "gmlp_vision",
        "import g_mlp_pytorch",
        "g_mlp_pytorch.gMLPVision(image_size=64, patch_size=8, num_classes=10, dim=64, depth=2)",
        PICTURE,
    ),
    (
        "attention",
        "halo",
        "import halonet_pytorch",
        "halonet_pytorch.HaloAttention(dim=32, block_size=8, halo_size=4, dim_head=16, heads=4)",
        "torch.rand(b, 32, 32, 32)",
    ),
    (
        "attention",
        "efficientnet",
        "import efficientnet_pytorch",
        "efficientnet_pytorch.EfficientNet.from_name('efficientnet-b0')",
        PICTURE,
    ),
    (
        "attention",
        "x_decoder",
        "import x_transformers",
        "x_transformers.TransformerWrapper(num_tokens=200, max_seq_len=64, "
        "attn_layers=x_transformers.Decoder(dim=64, depth=2, heads=4))",
        TOKENS,
    ),
    (
        "attention",
        "x_llama",
        "import x_transformers",
        "x_transformers.TransformerWrapper(num_tokens=200, max_seq_len=64, "
        "attn_layers=x_transformers.Decoder(dim=64, depth=2, heads=4, rotary_pos_emb=True, use_rmsnorm=True, "
        "ff_swish=True, ff_glu=True, attn_kv_heads=2))",
        TOKENS,
    ),
    (
        "attention",
        "x_alibi",
        "import x_transformers",
        "x_transformers.TransformerWrapper(num_tokens=200, max_seq_len=64, "
        "attn_layers=x_transformers.Decoder(dim=64, depth=2, heads=4, alibi_pos_bias=True))",
        TOKENS,
    ),
    (
        "attention",
        "x_t5",
        "import x_transformers",
        "x_transformers.TransformerWrapper(num_tokens=200, max_seq_len=64, "
        "attn_layers=x_transformers.Encoder(dim=64, depth=2, heads=4, rel_pos_bias=True, attn_dropout=0.1, "
        "ff_dropout=0.1))",
        TOKENS,
    ),
    (
        "attention",
        "x_vit",
        "import x_transformers",
        "x_transformers.ViTransformerWrapper(image_size=64, patch_size=8, num_classes=10, "
        "attn_layers=x_transformers.Encoder(dim=64, depth=2, heads=4))",
        PICTURE,
    ),
    ("attention", "loftr_hardnet", "import kornia.feature", "kornia.feature.HardNet()", "torch.rand(b, 1, 32, 32)"),
    (
        "attention",
        "mobilevit_kornia",
        "import kornia.models",
        "kornia.models.MobileViT(mode='xxs')",
        "torch.rand(b, 3, 256, 256)",
    ),
    ("attention", "resnest", "import resnest.torch", "resnest.torch.resnest50()", PICTURE),
    *(
        (
            "braindecode",
            name.lower(),
            "import braindecode.models",
            f"braindecode.models.{name}(n_chans=22, n_outputs=4, n_times=1000, sfreq=250)",
            "torch.rand(b, 22, 1000)",
        )
        for name in BRAINDECODE.split()
    ),
    *(("diffusers", name, DIFFUSERS, f"M(diffusers.{made})", given) for name, made, given in DIFFUSION),
    *(
        ("ultralytics", name, "import ultralytics.nn.tasks", f"ultralytics.nn.tasks.{made}", LARGER)
        for name, made in (
            ("cls_v8", "ClassificationModel('yolov8n-cls.yaml', nc=10, verbose=False)"),
            ("cls_v11", "ClassificationModel('yolo11n-cls.yaml', nc=10, verbose=False)"),
            (
                "backbone_v8",
                "BaseModel() if 0 else nn.Sequential(*DetectionModel('yolov8n.yaml', verbose=False).model[:10])",
            ),
        )
    ),
    *(
        ("speech", name, imports, made, given)
        for name, imports, made, given in (
            (
                "ecapa",
                "import speechbrain.lobes.models.ECAPA_TDNN as e",
                "e.ECAPA_TDNN(40, channels=[64, 64, 64, 64, 192], lin_neurons=32)",
                "torch.rand(b, 100, 40)",
            ),
            (
                "xvector",
                "import speechbrain.lobes.models.Xvector as x",
                "x.Xvector(in_channels=40)",
                "torch.rand(b, 100, 40)",
            ),
            (
                "crdnn",
                "import speechbrain.lobes.models.CRDNN as c",
                "c.CRDNN(input_shape=(4, 64, 40))",
                "torch.rand(b, 64, 40)",
            ),
            (
                "convtasnet",
                "import asteroid.models",
                "asteroid.models.ConvTasNet(2, n_blocks=3, n_repeats=2)",
                "torch.rand(b, 8000)",
            ),
            ("dprnn", "import asteroid.models", "asteroid.models.DPRNNTasNet(2, n_repeats=2)", "torch.rand(b, 8000)"),
            ("dptnet", "import asteroid.models", "asteroid.models.DPTNet(2, n_repeats=2)", "torch.rand(b, 8000)"),
            (
                "sudormrf",
                "import asteroid.models",
                "asteroid.models.SuDORMRFNet(2, num_blocks=2)",
                "torch.rand(b, 8000)",
            ),
            ("demask", "import asteroid.models", "asteroid.models.DeMask()", "torch.rand(b, 8000)"),
        )
    ),
    *(
        ("spectral", name, SPECTRA, made, given)
        for name, made, given in (
            ("fourier", "nn.Sequential(Fourier(), Fourier())", SEQUENCE),
            ("filter", "nn.Sequential(Filter(), nn.GELU(), Filter())", "torch.rand(b, 16, 16, 32)"),
            (
                "modes",
                "nn.Sequential(nn.Conv1d(2, 16, 1), Spectral(), Spectral(), nn.Conv1d(16, 1, 1))",
                "torch.rand(b, 2, 64)",
            ),
            ("stft", "Front(Magnitude(), 129)", WAVE),
            ("stft_learned", "Front(Magnitude(learned=True), 129)", WAVE),
            ("mel", "Front(T.MelSpectrogram(16000, 256, n_mels=32), 32)", WAVE),
            ("mel_db", "Front(nn.Sequential(T.MelSpectrogram(16000, 256, n_mels=32), T.AmplitudeToDB()), 32)", WAVE),
            ("mfcc", "Front(T.MFCC(16000, 20, melkwargs={'n_fft': 256, 'n_mels': 32}), 20)", WAVE),
            ("mask", "Mask()", WAVE),
        )
    ),
    *(
        ("neuralop", name, "import neuralop.models as op", f"op.{made}", given)
        for name, made, given in (
            ("fno1d", "FNO((8,), 2, 1, 16, n_layers=2)", "torch.rand(b, 2, 64)"),
            ("fno2d", "FNO((8, 8), 3, 1, 16, n_layers=2)", SMALLER),
            ("tfno", "TFNO((8, 8), 3, 1, 16, n_layers=2, rank=0.1)", SMALLER),
            ("fno3d", "FNO((4, 4, 4), 1, 1, 8, n_layers=2)", "torch.rand(b, 1, 16, 16, 16)"),
            (
                "uno",
                "UNO(3, 1, 16, uno_out_channels=[16, 16, 16], uno_n_modes=[[8, 8]] * 3, "
                "uno_scalings=[[1, 1], [0.5, 0.5], [2, 2]], n_layers=3)",
                SMALLER,
            ),
        )
    ),
    *(
        ("more", name, imports + ONE, made, given)
        for name, imports, made, given in (
            (
                "ft_transformer",
                "import rtdl_revisiting_models as r",
                "One(r.FTTransformer(n_cont_features=16, cat_cardinalities=[], d_out=4, n_blocks=2, d_block=32, "
                "attention_n_heads=4, attention_dropout=0.2, ffn_d_hidden=None, ffn_d_hidden_multiplier=2, "
                "ffn_dropout=0.1, residual_dropout=0.0))",
                "torch.rand(b, 16)",
            ),
            (
                "rtdl_mlp",
                "import rtdl_revisiting_models as r",
                "r.MLP(d_in=16, d_out=4, n_blocks=3, d_block=64, dropout=0.1)",
                "torch.rand(b, 16)",
            ),
            (
                "rtdl_resnet",
                "import rtdl_revisiting_models as r",
                "r.ResNet(d_in=16, d_out=4, n_blocks=2, d_block=32, d_hidden=None, d_hidden_multiplier=2.0, "
                "dropout1=0.1, dropout2=0.0)",
                "torch.rand(b, 16)",
            ),
            (
                "performer",
                "from performer_pytorch import Performer",
                "Performer(dim=64, depth=2, heads=4, dim_head=16, causal=False)",
                SEQUENCE,
            ),
            (
                "linformer",
                "from linformer import Linformer",
                "Linformer(dim=64, seq_len=64, depth=2, heads=4, k=16, dropout=0.1)",
                SEQUENCE,
            ),
            (
                "perceiver",
                "from perceiver_pytorch import Perceiver",
                "Perceiver(input_channels=3, input_axis=2, num_freq_bands=4, max_freq=10.0, depth=2, num_latents=16, "
                "latent_dim=64, num_classes=10)",
                "torch.rand(b, 32, 32, 3)",
            ),
            (
                "conformer",
                "from conformer import Conformer",
                "Conformer(dim=64, depth=2, dim_head=16, heads=4)",
                SEQUENCE,
            ),
            (
                "open_clip_visual",
                "import open_clip",
                "open_clip.model.VisionTransformer(64, 16, 64, 2, 4, 4.0, output_dim=32)",
                PICTURE,
            ),
            (
                "open_clip_text",
                "import open_clip",
                "open_clip.transformer.TextTransformer(context_length=32, vocab_size=500, width=64, heads=4, layers=2)",
                "torch.zeros(b, 32, dtype=torch.long)",
            ),
            (
                "open_clip_resnet",
                "import open_clip.modified_resnet as m",
                "m.ModifiedResNet([1, 1, 1, 1], 32, 4, image_size=64, width=16)",
                PICTURE,
            ),
            ("kornia_hardnet", "import kornia.feature as k", "k.HardNet(False)", "torch.rand(b, 1, 32, 32)"),
            ("kornia_sosnet", "import kornia.feature as k", "k.SOSNet(False)", "torch.rand(b, 1, 32, 32)"),
            (
                "kornia_vit",
                "from kornia.models import vit",
                "vit.VisionTransformer(image_size=64, patch_size=16, embed_dim=64, depth=2, num_heads=4)",
                PICTURE,
            ),
            (
                "quantizer",
                "from vector_quantize_pytorch import FSQ",
                "First(nn.Sequential(nn.Linear(64, 4), FSQ([8, 5, 5, 5])))",
                SEQUENCE,
            ),
            (
                "nystrom",
                "from nystrom_attention import Nystromformer",
                "Nystromformer(dim=64, depth=2, heads=4, dim_head=16, num_landmarks=16)",
                SEQUENCE,
            ),
            (
                "axial",
                "from axial_attention import AxialImageTransformer",
                "AxialImageTransformer(dim=16, depth=2, heads=2, reversible=False)",
                "torch.rand(b, 16, 16, 16)",
            ),
            ("gmlp", "from g_mlp_pytorch import gMLP", "gMLP(dim=64, depth=2, seq_len=64)", SEQUENCE),
            (
                "gmlp_vision",
                "from g_mlp_pytorch import gMLPVision",
                "gMLPVision(image_size=64, patch_size=16, num_classes=10, dim=64, depth=2)",
                PICTURE,
            ),
            (
                "mlp_mixer",
                "from mlp_mixer_pytorch import MLPMixer",
                "MLPMixer(image_size=64, channels=3, patch_size=16, dim=64, depth=2, num_classes=10, dropout=0.1)",
                PICTURE,
            ),
            (
                "lambda",
                "from lambda_networks import LambdaLayer",
                "nn.Sequential(nn.Conv2d(3, 32, 3, padding=1), LambdaLayer(dim=32, dim_out=32, r=7, dim_k=16, heads=4, "
                "dim_u=1), nn.Conv2d(32, 4, 1))",
                "torch.rand(b, 3, 16, 16)",
            ),
        )
    ),
)
