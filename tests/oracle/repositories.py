# SPDX-License-Identifier: Apache-2.0
"""Models of repositories that people clone and train, a row each: for families.py.

REPOSITORIES names the folder that has a checkout of each of these of GitHub's, under its own name:

4uiiurz1/pytorch-nested-unet alxndrTL/mamba.py AntixK/PyTorch-VAE bearpaw/pytorch-classification
black-forest-labs/flux Blealtan/efficient-kan BlinkDL/RWKV-LM Cadene/pretrained-models.pytorch
codertimo/BERT-pytorch cure-lab/LTSF-Linear d-li14/mobilenetv3.pytorch facebookresearch/ConvNeXt
facebookresearch/deit facebookresearch/demucs facebookresearch/dino facebookresearch/dinov2 facebookresearch/DiT
facebookresearch/mae facebookresearch/segment-anything facebookresearch/TimeSformer fatchord/WaveRNN
fxia22/pointnet.pytorch guoyang9/NCF huggingface/nanoVLM hyunwoongko/transformer
jadore801120/attention-is-all-you-need-pytorch jaxony/unet-pytorch jaywonchung/BERT4Rec-VAE-Pytorch
jeonsworld/ViT-pytorch jfzhang95/pytorch-deeplab-xception jfzhang95/pytorch-video-recognition jik876/hifi-gan
JingyunLiang/SwinIR johnma2006/mamba-minimal Jongchan/attention-module kaituoxu/Conv-TasNet karpathy/llama2.c
karpathy/minGPT karpathy/nanoGPT kenshohara/3D-ResNets-PyTorch kuangliu/pytorch-cifar laiguokun/LSTNet
LeeJunHyun/Image_Segmentation locuslab/TCN lucidrains/denoising-diffusion-pytorch lucidrains/perceiver-pytorch
lucidrains/x-transformers lukemelas/EfficientNet-PyTorch mattmacy/vnet.pytorch megvii-research/NAFNet
meijieru/crnn.pytorch microsoft/Swin-Transformer milesial/Pytorch-UNet moskomule/senet.pytorch
ndrplz/ConvLSTM_pytorch NVIDIA/tacotron2 NVlabs/SegFormer openai/CLIP openai/guided-diffusion openai/whisper
piergiaj/pytorch-i3d pmixer/SASRec.pytorch pytorch/examples r9y9/wavenet_vocoder rasbt/LLMs-from-scratch
rixwew/pytorch-fm rosinality/glow-pytorch rosinality/vq-vae-2-pytorch Shawn1993/cnn-text-classification-pytorch
sooftware/conformer swz30/Restormer thstkdgus35/EDSR-PyTorch thuml/Time-Series-Library
Tramac/awesome-semantic-segmentation-pytorch twtygqyy/pytorch-SRResNet weiaicunzai/pytorch-cifar100 whai362/PVT
wolny/pytorch-3dunet xinntao/Real-ESRGAN xternalz/WideResNet-pytorch yanx27/Pointnet_Pointnet2_pytorch
yunjey/stargan yuqinie98/PatchTST zhanghang1989/ResNeSt zhouhaoyi/Informer2020
"""

from packages import LARGER, PICTURE, SMALLER

SOURCE = """import inspect, os, sys, torch, warnings
from types import SimpleNamespace
from torch import nn
import torch.nn.functional as F
from zoo_base import *
warnings.simplefilter("ignore")
HERE = os.path.join("{folder}", "{repository}")
for name in os.listdir(HERE):  # another repository's modules of the same name
    for loaded in [m for m in sys.modules if m.split(".")[0] == name.removesuffix(".py")]:
        if not hasattr(sys.modules[loaded], "__file__") or HERE not in str(sys.modules[loaded].__file__):
            del sys.modules[loaded]
sys.path.insert(0, HERE)
{imports}
def build():
    return {made}
def given(b):
    made = {given}
    return made if isinstance(made, tuple) else (made,)
def first(out):
    return out if isinstance(out, torch.Tensor) else first(out[0])
with torch.no_grad():
    SIZE = first(build().train()(*given(2))).shape
NAMES = list(inspect.signature(build().forward).parameters)
def target(b):
    return torch.zeros(b * SIZE[0] // 2, *SIZE[1:])
ZOO = {{"case": Entry(build, lambda b: (dict(zip(NAMES, given(b))), target(b)),
    lambda out, y: F.mse_loss(first(out), y), (4,), real_build=True)}}
"""

FIELDS = "torch.zeros(b, 5, dtype=torch.long)"
NUMBERS = "[100, 50, 20, 10, 30]"
TOKENS = "torch.ones(b, 32, dtype=torch.long)"
POINTS = "torch.rand(b, 3, 256)"
SERIES = (
    "SimpleNamespace(task_name='long_term_forecast', seq_len=96, label_len=48, pred_len=96, enc_in=7, dec_in=7,"
    " c_out=7, d_model=64, n_heads=4, e_layers=2, d_layers=1, d_ff=128, moving_avg=25, factor=1, distil=True,"
    " dropout=0.1, embed='timeF', activation='gelu', channel_independence=1, decomp_method='moving_avg', use_norm=1,"
    " down_sampling_layers=0, down_sampling_window=1, down_sampling_method=None, seg_len=48, patch_len=16, top_k=5,"
    " num_kernels=6, expand=2, d_conv=4, freq='h', p_hidden_dims=[32, 32], p_hidden_layers=2, data='ETTh1',"
    " output_attention=False, num_class=10, individual=False, alpha=0.1, top_p=0.5, pos=1, node_dim=10, gcn_depth=2,"
    " gcn_dropout=0.3, propalpha=0.3, conv_channel=8, skip_channel=8, features='M', use_gpu=False, tv_dt=0, tv_B=0,"
    " tv_C=0, use_D=0)"
)
MARKED = "torch.rand(b, 96, 7), torch.rand(b, 96, 4), torch.rand(b, 144, 7), torch.rand(b, 144, 4)"


def of(repository, imports, given, *models):
    return [(repository, name, imports, made, given) for name, made in models]


# repository, name, what is imported, the model, its inputs for a batch of b
ROWS = (
    of(
        "pytorch-cifar",
        "from models import *",
        SMALLER,
        ("vgg", "VGG('VGG11')"),
        ("dpn", "DPN26()"),
        ("lenet", "LeNet()"),
        ("senet", "SENet18()"),
        ("pnasnet_a", "PNASNetA()"),
        ("pnasnet_b", "PNASNetB()"),
        ("densenet", "densenet_cifar()"),
        ("googlenet", "GoogLeNet()"),
        ("shufflenet", "ShuffleNetG2()"),
        ("shufflenetv2", "ShuffleNetV2(1)"),
        ("resnet", "ResNet18()"),
        ("resnext", "ResNeXt29_2x64d()"),
        ("preact", "PreActResNet18()"),
        ("mobilenet", "MobileNet()"),
        ("mobilenetv2", "MobileNetV2()"),
        ("efficientnet", "EfficientNetB0()"),
        ("regnet_x", "RegNetX_200MF()"),
        ("regnet_y", "RegNetY_400MF()"),
        ("simple_dla", "SimpleDLA()"),
        ("dla", "DLA()"),
    )
    + [
        ("pytorch-cifar100", module, f"from models import {module} as of", f"of.{made}", SMALLER)
        for module, made in (
            ("attention", "attention56()"),
            ("densenet", "densenet121()"),
            ("googlenet", "googlenet()"),
            ("inceptionv3", "inceptionv3()"),
            ("inceptionv4", "inceptionv4()"),
            ("mobilenet", "mobilenet()"),
            ("mobilenetv2", "mobilenetv2()"),
            ("nasnet", "nasnet()"),
            ("preactresnet", "preactresnet18()"),
            ("resnet", "resnet18()"),
            ("resnext", "resnext50()"),
            ("rir", "resnet_in_resnet()"),
            ("senet", "seresnet18()"),
            ("shufflenet", "shufflenet()"),
            ("shufflenetv2", "shufflenetv2()"),
            ("squeezenet", "squeezenet()"),
            ("stochasticdepth", "stochastic_depth_resnet18()"),
            ("vgg", "vgg11_bn()"),
            ("wideresidual", "wideresnet(16, 4)"),
            ("xception", "xception()"),
        )
    ]
    + [
        ("Time-Series-Library", name, f"from models import {name} as of", f"of.Model({SERIES})", MARKED)
        for name in (
            "Autoformer Crossformer DLinear ETSformer FEDformer FiLM FreTS Informer KANAD Koopa LightTS MICN MSGNet "
            "MambaSimple MultiPatchFormer Nonstationary_Transformer PAttn PatchTST Pyraformer Reformer SCINet SegRNN "
            "TSMixer TemporalFusionTransformer TiDE TimeFilter TimeMixer TimeXer TimesNet Transformer WPMixer "
            "iTransformer"
        ).split()
    ]
    + [
        ("pytorch-fm", name, f"from torchfm.model.{name.removesuffix('_outer')} import *", made, FIELDS)
        for name, made in (
            ("afi", f"AutomaticFeatureInteractionModel({NUMBERS}, 16, 64, 2, 3, (400, 400), (0., 0., 0.))"),
            ("afm", f"AttentionalFactorizationMachineModel({NUMBERS}, 16, 16, (0.2, 0.2))"),
            ("afn", f"AdaptiveFactorizationNetwork({NUMBERS}, 16, 150, (400, 400, 400), (0., 0., 0.))"),
            ("dcn", f"DeepCrossNetworkModel({NUMBERS}, 16, 3, (16, 16), 0.2)"),
            ("dfm", f"DeepFactorizationMachineModel({NUMBERS}, 16, (16, 16), 0.2)"),
            ("ffm", f"FieldAwareFactorizationMachineModel({NUMBERS}, 4)"),
            ("fm", f"FactorizationMachineModel({NUMBERS}, 16)"),
            ("fnfm", f"FieldAwareNeuralFactorizationMachineModel({NUMBERS}, 4, (64,), (0.2, 0.2))"),
            ("fnn", f"FactorizationSupportedNeuralNetworkModel({NUMBERS}, 16, (16, 16), 0.2)"),
            ("hofm", f"HighOrderFactorizationMachineModel({NUMBERS}, 3, 16)"),
            ("lr", f"LogisticRegressionModel({NUMBERS})"),
            ("nfm", f"NeuralFactorizationMachineModel({NUMBERS}, 64, (64,), (0.2, 0.2))"),
            ("pnn", f"ProductNeuralNetworkModel({NUMBERS}, 16, (16,), 0.2)"),
            ("pnn_outer", f"ProductNeuralNetworkModel({NUMBERS}, 16, (16,), 0.2, method='outer')"),
            ("wd", f"WideAndDeepModel({NUMBERS}, 16, (16, 16), 0.2)"),
            ("xdfm", f"ExtremeDeepFactorizationMachineModel({NUMBERS}, 16, (16, 16), 0.2, (16, 16))"),
        )
    ]
    + of(
        "Image_Segmentation",
        "from network import *",
        PICTURE,
        ("unet", "U_Net()"),
        ("r2unet", "R2U_Net()"),
        ("attunet", "AttU_Net()"),
        ("r2attunet", "R2AttU_Net()"),
    )
    + of("Pytorch-UNet", "from unet import *", PICTURE, ("unet", "UNet(3, 2)"), ("bilinear", "UNet(3, 2, True)"))
    + of(
        "pytorch-nested-unet",
        "from archs import *",
        PICTURE,
        ("unet", "UNet(1)"),
        ("nested", "NestedUNet(1)"),
        ("deep", "NestedUNet(1, 3, True)"),
    )
    + of(
        "unet-pytorch",
        "from model import *",
        PICTURE,
        ("transpose", "UNet(3, depth=4)"),
        ("add", "UNet(3, depth=4, merge_mode='add')"),
        ("upsample", "UNet(3, depth=4, up_mode='upsample')"),
    )
    + of(
        "pointnet.pytorch",
        "from pointnet.model import *",
        POINTS,
        ("cls", "PointNetCls(k=5)"),
        ("cls_feature", "PointNetCls(k=5, feature_transform=True)"),
        ("dense", "PointNetDenseCls(k=3)"),
    )
    + of(
        "Pointnet_Pointnet2_pytorch/models",
        "from pointnet_cls import get_model",
        POINTS,
        ("cls", "get_model(40, normal_channel=False)"),
    )
    + of(
        "Pointnet_Pointnet2_pytorch/models",
        "from pointnet2_cls_ssg import get_model",
        "torch.rand(b, 3, 600)",
        ("ssg", "get_model(40, normal_channel=False)"),
    )
    + of(
        "Pointnet_Pointnet2_pytorch/models",
        "from pointnet2_cls_msg import get_model",
        "torch.rand(b, 3, 600)",
        ("msg", "get_model(40, normal_channel=False)"),
    )
    + of(
        "Pointnet_Pointnet2_pytorch/models",
        "from pointnet2_sem_seg import get_model",
        "torch.rand(b, 9, 1100)",
        ("semseg", "get_model(13)"),
    )
    + of(
        "Pointnet_Pointnet2_pytorch/models",
        "from pointnet_sem_seg import get_model",
        "torch.rand(b, 9, 256)",
        ("sem_seg_1", "get_model(13)"),
    )
    + of(
        "Informer2020",
        "from models.model import *",
        MARKED,
        ("informer", "Informer(7, 7, 7, 96, 48, 96, d_model=64, n_heads=4, d_ff=128, device='cpu')"),
        ("full", "Informer(7, 7, 7, 96, 48, 96, d_model=64, n_heads=4, d_ff=128, attn='full', device='cpu')"),
        ("stack", "InformerStack(7, 7, 7, 96, 48, 96, d_model=64, n_heads=4, d_ff=128, e_layers=[2, 1], device='cpu')"),
    )
    + of(
        "minGPT",
        "from mingpt.model import *\nfrom mingpt.utils import CfgNode",
        TOKENS,
        (
            "gpt",
            (
                "GPT(CfgNode(model_type=None, n_layer=2, n_head=4, n_embd=64, vocab_size=512, block_size=64,"
                " embd_pdrop=0.1, resid_pdrop=0.1, attn_pdrop=0.1))"
            ),
        ),
    )
    + of(
        "nanoGPT",
        "from model import *",
        TOKENS + ", " + TOKENS,
        ("gpt", "GPT(GPTConfig(block_size=64, vocab_size=512, n_layer=2, n_head=4, n_embd=64, dropout=0.0))"),
        (
            "dropout",
            "GPT(GPTConfig(block_size=64, vocab_size=512, n_layer=2, n_head=4, n_embd=64, dropout=0.1, bias=False))",
        ),
    )
    + of(
        "DiT",
        "from models import DiT",
        "torch.rand(b, 4, 16, 16), torch.rand(b), torch.zeros(b, dtype=torch.long)",
        ("dit", "DiT(input_size=16, patch_size=2, hidden_size=64, depth=2, num_heads=4, num_classes=10)"),
        ("no_drop", "DiT(input_size=16, hidden_size=64, depth=2, num_heads=4, num_classes=10, class_dropout_prob=0.)"),
    )
    + of(
        "ConvNeXt",
        "from models.convnext import ConvNeXt",
        PICTURE,
        ("convnext", "ConvNeXt(num_classes=10, depths=[1, 1, 2, 1], dims=[16, 32, 64, 128])"),
        ("drop_path", "ConvNeXt(num_classes=10, depths=[1, 1, 2, 1], dims=[16, 32, 64, 128], drop_path_rate=0.1)"),
    )
    + of(
        "ConvNeXt",
        "from models.convnext_isotropic import ConvNeXtIsotropic",
        PICTURE,
        ("isotropic", "ConvNeXtIsotropic(num_classes=10, depth=3, dim=64)"),
    )
    + of(
        "Restormer",
        "from basicsr.models.archs.restormer_arch import *",
        PICTURE,
        ("restormer", "Restormer(dim=16, num_blocks=[1, 1, 1, 1], num_refinement_blocks=1, heads=[1, 2, 2, 4])"),
        (
            "bias_free",
            (
                "Restormer(dim=16, num_blocks=[1, 1, 1, 1], num_refinement_blocks=1, heads=[1, 2, 2, 4], "
                "LayerNorm_type='BiasFree')"
            ),
        ),
    )
    + of(
        "transformer",
        "from models.model.transformer import *",
        TOKENS + ", " + TOKENS,
        ("transformer", "Transformer(0, 0, 2, 512, 512, 64, 4, 64, 128, 2, 0.1, 'cpu')"),
    )
    + of(
        "attention-is-all-you-need-pytorch",
        "from transformer.Models import *",
        TOKENS + ", " + TOKENS,
        ("transformer", "Transformer(512, 512, 0, 0, 64, 64, 128, 2, 4, 16, 16)"),
        (
            "untied",
            (
                "Transformer(512, 512, 0, 0, 64, 64, 128, 2, 4, 16, 16, trg_emb_prj_weight_sharing=False, "
                "emb_src_trg_weight_sharing=False)"
            ),
        ),
    )
    + of(
        "TCN",
        "from TCN.tcn import *",
        "torch.rand(b, 8, 128)",
        ("tcn", "TemporalConvNet(8, [25] * 4, kernel_size=7, dropout=0.05)"),
    )
    + of(
        "TCN",
        "from TCN.mnist_pixel.model import *",
        "torch.rand(b, 1, 784)",
        ("pixel", "TCN(1, 10, [25] * 6, 7, 0.05)"),
    )
    + of(
        "TCN",
        "from TCN.word_cnn.model import *",
        TOKENS,
        ("word", "TCN(64, 512, [64] * 3, tied_weights=True)"),
        ("word_free", "TCN(64, 512, [64] * 3)"),
    )
    + of(
        "3D-ResNets-PyTorch/models",
        "import resnet",
        "torch.rand(b, 3, 8, 32, 32)",
        ("resnet", "resnet.generate_model(18, n_classes=10)"),
        ("shortcut_a", "resnet.generate_model(18, n_classes=10, shortcut_type='A')"),
    )
    + of(
        "3D-ResNets-PyTorch",
        "from models import resnet2p1d, pre_act_resnet, densenet",
        "torch.rand(b, 3, 16, 64, 64)",
        ("r2p1d", "resnet2p1d.generate_model(18, n_classes=10)"),
        ("preact", "pre_act_resnet.generate_model(18, n_classes=10)"),
        ("densenet", "densenet.generate_model(121, num_classes=10)"),
    )
    + of(
        "tacotron2",
        "from model import Postnet, Prenet\nfrom types import SimpleNamespace",
        "torch.rand(b, 80, 64)",
        (
            "postnet",
            (
                "Postnet(SimpleNamespace(n_mel_channels=80, postnet_embedding_dim=64, postnet_kernel_size=5, "
                "postnet_n_convolutions=5))"
            ),
        ),
    )
    + [
        ("PyTorch-VAE", name, f"from models.{module} import {name}", f"{name}(3, 32{more})", PICTURE)
        for module, name, more in (
            ("vanilla_vae", "VanillaVAE", ""),
            ("beta_vae", "BetaVAE", ""),
            ("vq_vae", "VQVAE", ", 64"),
            ("info_vae", "InfoVAE", ""),
            ("swae", "SWAE", ""),
            ("betatc_vae", "BetaTCVAE", ""),
            ("cat_vae", "CategoricalVAE", ""),
            ("wae_mmd", "WAE_MMD", ""),
            ("twostage_vae", "TwoStageVAE", ""),
            ("iwae", "IWAE", ""),
            ("miwae", "MIWAE", ""),
            ("joint_vae", "JointVAE", ", 10"),
            ("logcosh_vae", "LogCoshVAE", ""),
        )
    ]
    + of(
        "SwinIR",
        "from models.network_swinir import SwinIR",
        SMALLER,
        (
            "classical",
            (
                "SwinIR(img_size=32, embed_dim=32, depths=[2, 2], num_heads=[2, 2], window_size=8,"
                " upsampler='pixelshuffle')"
            ),
        ),
        (
            "light",
            (
                "SwinIR(img_size=32, embed_dim=32, depths=[2, 2], num_heads=[2, 2], window_size=8,"
                " upsampler='pixelshuffledirect')"
            ),
        ),
        (
            "denoise",
            (
                "SwinIR(img_size=32, embed_dim=32, depths=[2, 2], num_heads=[2, 2], window_size=8, upscale=1,"
                " resi_connection='3conv')"
            ),
        ),
        (
            "real",
            (
                "SwinIR(img_size=32, embed_dim=32, depths=[2], num_heads=[2], window_size=8, upscale=4,"
                " upsampler='nearest+conv')"
            ),
        ),
    )
    + of(
        "hifi-gan",
        "from models import *",
        "torch.rand(b, 80, 16)",
        (
            "generator",
            (
                "Generator(SimpleNamespace(resblock_kernel_sizes=[3, 7], upsample_rates=[8, 4],"
                " upsample_initial_channel=64, resblock='1', upsample_kernel_sizes=[16, 8],"
                " resblock_dilation_sizes=[[1, 3, 5], [1, 3, 5]]))"
            ),
        ),
        (
            "generator2",
            (
                "Generator(SimpleNamespace(resblock_kernel_sizes=[3, 5], upsample_rates=[8, 4],"
                " upsample_initial_channel=64, resblock='2', upsample_kernel_sizes=[16, 8],"
                " resblock_dilation_sizes=[[1, 2], [2, 6]]))"
            ),
        ),
    )
    + of(
        "hifi-gan",
        "from models import *",
        "torch.rand(b, 1, 2048)",
        ("period", "DiscriminatorP(3)"),
        ("scale", "DiscriminatorS()"),
    )
    + of(
        "hifi-gan",
        "from models import *",
        "torch.rand(b, 1, 2048), torch.rand(b, 1, 2048)",
        ("mpd", "MultiPeriodDiscriminator()"),
        ("msd", "MultiScaleDiscriminator()"),
    )
    + of(
        "Conv-TasNet/src",
        "from conv_tasnet import *",
        "torch.rand(b, 2000)",
        ("gln", "ConvTasNet(64, 20, 32, 64, 3, 3, 2, 2)"),
        ("cln", "ConvTasNet(64, 20, 32, 64, 3, 3, 2, 2, norm_type='cLN', causal=True, mask_nonlinear='softmax')"),
    )
    + of(
        "dino",
        "from vision_transformer import *",
        PICTURE,
        ("vit", "VisionTransformer([64], 8, embed_dim=64, depth=2, num_heads=4, num_classes=10, drop_path_rate=0.1)"),
        ("vit_plain", "VisionTransformer([64], 8, embed_dim=64, depth=2, num_heads=4, qkv_bias=True)"),
    )
    + of(
        "dino",
        "from vision_transformer import *",
        "torch.rand(b, 64)",
        ("head", "DINOHead(64, 512, hidden_dim=128, bottleneck_dim=32)"),
        ("head_bn", "DINOHead(64, 512, use_bn=True, norm_last_layer=False, hidden_dim=128, bottleneck_dim=32)"),
    )
    + of(
        "mae",
        "from models_mae import *",
        PICTURE,
        (
            "mae",
            (
                "MaskedAutoencoderViT(64, 8, embed_dim=64, depth=2, num_heads=4, decoder_embed_dim=32, decoder_depth=1,"
                " decoder_num_heads=4)"
            ),
        ),
    )
    + of(
        "guided-diffusion",
        "from guided_diffusion.unet import *",
        "torch.rand(b, 3, 32, 32), torch.rand(b)",
        ("unet", "UNetModel(32, 3, 32, 6, 1, (2, 4), channel_mult=(1, 2, 2), num_heads=2)"),
        (
            "shift",
            (
                "UNetModel(32, 3, 32, 6, 1, (2, 4), dropout=0.1, channel_mult=(1, 2, 2), num_head_channels=16,"
                " use_scale_shift_norm=True, resblock_updown=True)"
            ),
        ),
        (
            "encoder",
            (
                "EncoderUNetModel(32, 3, 32, 10, 1, (2, 4), channel_mult=(1, 2, 2), num_head_channels=16,"
                " use_scale_shift_norm=True, resblock_updown=True, pool='attention')"
            ),
        ),
        ("encoder_spatial", "EncoderUNetModel(32, 3, 32, 10, 1, (2, 4), channel_mult=(1, 2, 2), pool='adaptive')"),
    )
    + of(
        "CLIP",
        "from clip.model import *",
        "torch.rand(b, 3, 64, 64), torch.ones(b, 16, dtype=torch.long)",
        ("vit", "CLIP(64, 64, 2, 64, 16, 16, 512, 64, 4, 2).float()"),
        ("resnet", "CLIP(64, 64, (1, 1, 1, 1), 16, None, 16, 512, 64, 4, 2).float()"),
    )
    + of("CLIP", "from clip.model import *", PICTURE, ("visual", "VisionTransformer(64, 16, 64, 2, 4, 32)"))
    + of(
        "whisper",
        "from whisper.model import *",
        "torch.rand(b, 20, 64), torch.ones(b, 16, dtype=torch.long)",
        ("whisper", "Whisper(ModelDimensions(20, 32, 64, 4, 2, 512, 32, 64, 4, 2))"),
    )
    + of(
        "whisper", "from whisper.model import *", "torch.rand(b, 20, 64)", ("encoder", "AudioEncoder(20, 32, 64, 4, 2)")
    )
    + of(
        "llama2.c",
        "from model import *",
        TOKENS + ", " + TOKENS,
        (
            "llama",
            "Transformer(ModelArgs(dim=64, n_layers=2, n_heads=4, vocab_size=512, multiple_of=32, max_seq_len=64))",
        ),
        (
            "gqa",
            (
                "Transformer(ModelArgs(dim=64, n_layers=2, n_heads=4, n_kv_heads=2, vocab_size=512, multiple_of=32,"
                " max_seq_len=64, dropout=0.1))"
            ),
        ),
    )
    + of(
        "EfficientNet-PyTorch",
        "from efficientnet_pytorch import EfficientNet",
        PICTURE,
        ("b0", "EfficientNet.from_name('efficientnet-b0', num_classes=10)"),
        ("b1", "EfficientNet.from_name('efficientnet-b1', num_classes=10)"),
    )
    + of(
        "ViT-pytorch",
        "from models.modeling import *",
        PICTURE,
        ("testing", "VisionTransformer(CONFIGS['testing'], 64, num_classes=10)"),
        ("r50", "VisionTransformer(CONFIGS['R50-ViT-B_16'], 64, num_classes=10)"),
    )
    + of(
        "attention-module/MODELS",
        "from model_resnet import ResidualNet",
        SMALLER,
        ("cbam", "ResidualNet('CIFAR10', 18, 10, 'CBAM')"),
        ("bam", "ResidualNet('CIFAR10', 18, 10, 'BAM')"),
        ("none", "ResidualNet('CIFAR10', 18, 10, None)"),
    )
    + of(
        "pytorch-3dunet",
        "from pytorch3dunet.unet3d.model import *",
        "torch.rand(b, 1, 16, 16, 16)",
        ("unet3d", "UNet3D(1, 2, f_maps=16, num_levels=3)"),
        ("residual", "ResidualUNet3D(1, 2, f_maps=16, num_levels=3)"),
        ("se", "ResidualUNetSE3D(1, 2, f_maps=16, num_levels=3)"),
        ("bcr", "UNet3D(1, 2, f_maps=16, num_levels=3, layer_order='bcr')"),
    )
    + of(
        "pytorch-3dunet",
        "from pytorch3dunet.unet3d.model import *",
        "torch.rand(b, 1, 64, 64)",
        ("unet2d", "UNet2D(1, 2, f_maps=16, num_levels=3, layer_order='crgd')"),
        ("residual2d", "ResidualUNet2D(1, 2, f_maps=16, num_levels=3)"),
    )
    + of(
        "vnet.pytorch",
        "from vnet import *",
        "torch.rand(b, 1, 32, 32, 32)",
        ("elu", "VNet()"),
        ("relu", "VNet(elu=False, nll=True)"),
    )
    + of(
        "pytorch-deeplab-xception",
        "from modeling.deeplab import *",
        PICTURE,
        ("mobilenet", "DeepLab('mobilenet', num_classes=5, sync_bn=False)"),
        ("drn", "DeepLab('drn', output_stride=8, num_classes=5, sync_bn=False)"),
    )
    + of(
        "SASRec.pytorch/python",
        "from model import PointWiseFeedForward",
        "torch.rand(b, 32, 50)",
        ("ffn", "PointWiseFeedForward(50, 0.2)"),
    )
    + of(
        "BERT-pytorch",
        "from bert_pytorch.model import *",
        TOKENS + ", " + TOKENS,
        ("bert", "BERT(512, 64, 2, 4)"),
        ("lm", "BERTLM(BERT(512, 64, 2, 4), 512)"),
    )
    + [
        (
            "LTSF-Linear",
            name + more,
            f"from models import {name} as of",
            f"of.Model(SimpleNamespace(seq_len=96, pred_len=48, enc_in=7, individual={own}))",
            "torch.rand(b, 96, 7)",
        )
        for name in ("DLinear", "NLinear", "Linear")
        for more, own in (("", False), ("_individual", True))
    ]
    + of(
        "PatchTST/PatchTST_supervised",
        "from models import PatchTST as of",
        "torch.rand(b, 96, 7)",
        *(
            (
                n,
                (
                    "of.Model(SimpleNamespace(enc_in=7, seq_len=96, pred_len=48, e_layers=2, n_heads=4, d_model=64,"
                    f" d_ff=128, dropout=0.2, fc_dropout=0.2, head_dropout=0.0, individual={i}, patch_len=16, stride=8,"
                    f" padding_patch='end', revin=1, affine=0, subtract_last=0, decomposition={d}, kernel_size=25))"
                ),
            )
            for n, i, d in (("patchtst", 0, 0), ("decomposed", 0, 1), ("individual", 1, 0))
        ),
    )
    + of(
        "PatchTST/PatchTST_self_supervised",
        "from src.models.patchTST import PatchTST",
        "torch.rand(b, 12, 7, 16)",
        (
            "pretrain",
            (
                "PatchTST(7, 96, 16, 8, 12, n_layers=2, d_model=64, n_heads=4, d_ff=128, dropout=0.2,"
                " head_type='pretrain')"
            ),
        ),
        (
            "predict",
            (
                "PatchTST(7, 48, 16, 8, 12, n_layers=2, d_model=64, n_heads=4, d_ff=128, dropout=0.2,"
                " head_type='prediction')"
            ),
        ),
        (
            "classify",
            (
                "PatchTST(7, 10, 16, 8, 12, n_layers=2, d_model=64, n_heads=4, d_ff=128, dropout=0.2,"
                " head_type='classification')"
            ),
        ),
    )
    + of(
        "RWKV-LM/RWKV-v1",
        "from src.model import *",
        TOKENS,
        *(
            (
                t.lower().replace("-", ""),
                (
                    f"GPT(GPTConfig(512, 32, model_type='{t}', n_layer=2, n_head=4, n_embd=64, n_attn=64, n_ffn=128,"
                    " rwkv_emb_scale=0.4, rwkv_tiny_attn=0, rwkv_tiny_head=4))"
                ),
            )
            for t in ("RWKV", "MHA_rotary", "MHA_shift", "MHA_pro")
        ),
    )
    + of("vq-vae-2-pytorch", "from vqvae import *", PICTURE, ("vqvae", "VQVAE(channel=32, embed_dim=16, n_embed=64)"))
    + of(
        "vq-vae-2-pytorch",
        "from pixelsnail import *",
        "torch.zeros(b, 8, 8, dtype=torch.long)",
        ("pixelsnail", "PixelSNAIL([8, 8], 64, 32, 5, 1, 2, 16, dropout=0.1)"),
    )
    + of(
        "glow-pytorch",
        "from model import *",
        "torch.rand(b, 3, 16, 16)",
        ("glow", "Glow(3, 2, 2)"),
        ("plain", "Glow(3, 2, 2, affine=False, conv_lu=False)"),
    )
    + of(
        "NAFNet",
        "from basicsr.models.archs.NAFNet_arch import *\nfrom basicsr.models.archs.Baseline_arch import *",
        PICTURE,
        ("nafnet", "NAFNet(width=16, middle_blk_num=1, enc_blk_nums=[1, 1], dec_blk_nums=[1, 1])"),
        ("baseline", "Baseline(width=16, middle_blk_num=1, enc_blk_nums=[1, 1], dec_blk_nums=[1, 1])"),
    )
    + [
        (
            "EDSR-PyTorch/src",
            name.lower(),
            f"from model.{name.lower()} import {name}",
            (
                f"{name}(SimpleNamespace(n_resblocks=3, n_feats=16, scale=[{s}], rgb_range=255, n_colors=3,"
                " res_scale=0.1, n_resgroups=2, reduction=4, G0=16, RDNkSize=3, RDNconfig='A'))"
            ),
            "torch.rand(b, 3, 24, 24)",
        )
        for name, s in (("EDSR", 2), ("RCAN", 4), ("RDN", 2), ("VDSR", 2), ("DDBPN", 2), ("MDSR", 2))
    ]
    + of(
        "denoising-diffusion-pytorch",
        "from denoising_diffusion_pytorch.denoising_diffusion_pytorch import *",
        "torch.rand(b, 3, 32, 32), torch.zeros(b, dtype=torch.long)",
        ("unet", "Unet(16, dim_mults=(1, 2, 4))"),
        ("flash", "Unet(16, dim_mults=(1, 2), dropout=0.1, learned_sinusoidal_cond=True)"),
    )
    + of(
        "denoising-diffusion-pytorch",
        "from denoising_diffusion_pytorch.denoising_diffusion_pytorch_1d import *",
        "torch.rand(b, 3, 64), torch.zeros(b, dtype=torch.long)",
        ("unet1d", "Unet1D(16, dim_mults=(1, 2, 4), channels=3)"),
    )
    + of(
        "denoising-diffusion-pytorch",
        "from denoising_diffusion_pytorch.karras_unet import *",
        "torch.rand(b, 4, 32, 32), torch.rand(b)",
        ("karras", "KarrasUnet(image_size=32, dim=32, num_downsamples=2, num_blocks_per_stage=1, attn_res=(8,))"),
    )
    + of(
        "perceiver-pytorch",
        "from perceiver_pytorch import Perceiver",
        "torch.rand(b, 16, 16, 3)",
        (
            "perceiver",
            (
                "Perceiver(num_freq_bands=4, depth=2, max_freq=10., num_latents=16, latent_dim=32, num_classes=10,"
                " latent_heads=4, latent_dim_head=8, cross_dim_head=8)"
            ),
        ),
        (
            "tied",
            (
                "Perceiver(num_freq_bands=4, depth=3, max_freq=10., num_latents=16, latent_dim=32, num_classes=10,"
                " latent_heads=4, latent_dim_head=8, cross_dim_head=8, weight_tie_layers=True, attn_dropout=0.1)"
            ),
        ),
    )
    + of(
        "perceiver-pytorch",
        "from perceiver_pytorch import PerceiverLM",
        TOKENS,
        (
            "lm",
            (
                "PerceiverLM(num_tokens=512, dim=32, max_seq_len=64, depth=2, num_latents=16, latent_dim=32,"
                " cross_heads=1, latent_heads=4, cross_dim_head=8, latent_dim_head=8)"
            ),
        ),
    )
    + of(
        "LSTNet",
        "from models.LSTNet import *",
        "torch.rand(b, 48, 8)",
        *(
            (
                n,
                (
                    f"Model(SimpleNamespace(cuda=False, window=48, hidRNN=32, hidCNN=32, hidSkip={h}, CNN_kernel=6,"
                    f" skip={s}, highway_window={w}, dropout=0.2, output_fun='sigmoid'), SimpleNamespace(m=8))"
                ),
            )
            for n, h, s, w in (("lstnet", 5, 8, 24), ("no_skip", 5, 0, 0))
        ),
    )
    + of(
        "pytorch-SRResNet",
        "from srresnet import *",
        "torch.rand(b, 3, 16, 16)",
        ("generator", "NetG() if 'NetG' in globals() else __import__('srresnet')._NetG()"),
    )
    + of("ResNeSt", "from resnest.torch.models.resnest import *", PICTURE, ("resnest50", "resnest50(num_classes=10)"))
    + of(
        "WideResNet-pytorch",
        "from wideresnet import *",
        SMALLER,
        ("wrn", "WideResNet(16, 10, 2, 0.3)"),
        ("no_drop", "WideResNet(16, 10, 2)"),
    )
    + of(
        "pytorch-classification",
        "import models.cifar as of",
        SMALLER,
        ("alexnet", "of.alexnet()"),
        ("densenet", "of.densenet(depth=22, growthRate=12, compressionRate=2, dropRate=0.1)"),
        ("preresnet", "of.preresnet(depth=20, num_classes=10)"),
        ("resnet", "of.resnet(depth=20, num_classes=10)"),
        ("resnext", "of.resnext(cardinality=4, depth=11, num_classes=10)"),
        ("vgg", "of.vgg16_bn(num_classes=10)"),
        ("wrn", "of.wrn(depth=16, num_classes=10, widen_factor=2, dropRate=0.1)"),
    )
    + of(
        "demucs",
        "from demucs.demucs import Demucs",
        "torch.rand(b, 2, 4096)",
        ("demucs", "Demucs(['a', 'b'], channels=8, depth=3, resample=False, dconv_attn=2, dconv_lstm=2, segment=1.0)"),
        ("lstm", "Demucs(['a', 'b'], channels=8, depth=3, lstm_layers=2, dconv_mode=0)"),
    )
    + of("examples/mnist", "from main import Net", "torch.rand(b, 1, 28, 28)", ("net", "Net()"))
    + of("examples/mnist_rnn", "from main import Net", "torch.rand(b, 28, 28)", ("rnn", "Net()"))
    + of("examples/vae", "from main import VAE", "torch.rand(b, 1, 28, 28)", ("vae", "VAE()"))
    + of(
        "examples/siamese_network",
        "from main import SiameseNetwork",
        "torch.rand(b, 1, 28, 28), torch.rand(b, 1, 28, 28)",
        ("siamese", "SiameseNetwork()"),
    )
    + of("examples/gat", "from main import GAT", "torch.rand(64, 32), torch.ones(64, 64)", ("gat", "GAT(32, 8, 4, 7)"))
    + of("examples/super_resolution", "from model import Net", "torch.rand(b, 1, 32, 32)", ("net", "Net(3)"))
    + of(
        "examples/word_language_model",
        "from model import *",
        "torch.zeros(32, b, dtype=torch.long)",
        ("transformer", "TransformerModel(512, 64, 4, 128, 2, 0.2)"),
    )
    + of(
        "examples/word_language_model",
        "from model import *",
        "torch.zeros(32, b, dtype=torch.long), torch.zeros(2, b, 64)",
        ("gru", "RNNModel('GRU', 512, 64, 64, 2, 0.2, tie_weights=True)"),
        ("rnn", "RNNModel('RNN_TANH', 512, 64, 64, 2)"),
    )
    + of(
        "examples/fast_neural_style/neural_style",
        "from transformer_net import *",
        PICTURE,
        ("transformer", "TransformerNet()"),
    )
    + of(
        "segment-anything",
        "from segment_anything.modeling.image_encoder import *",
        PICTURE,
        (
            "encoder",
            (
                "ImageEncoderViT(64, 8, embed_dim=64, depth=2, num_heads=4, out_chans=32, use_abs_pos=True,"
                " use_rel_pos=True, window_size=4, global_attn_indexes=(1,))"
            ),
        ),
    )
    + of(
        "segment-anything",
        "from segment_anything.modeling.transformer import *",
        "torch.rand(b, 64, 8, 8), torch.rand(b, 64, 8, 8), torch.rand(b, 5, 64)",
        ("twoway", "TwoWayTransformer(2, 64, 4, 128)"),
    )
    + of(
        "flux/src",
        "from flux.model import *",
        "torch.rand(b, 64, 16), torch.zeros(b, 64, 3), torch.rand(b, 16, 32), torch.zeros(b, 16, 3), torch.rand(b),"
        " torch.rand(b, 24), torch.rand(b)",
        (
            "flux",
            (
                "Flux(FluxParams(in_channels=16, out_channels=16, vec_in_dim=24, context_in_dim=32, hidden_size=64,"
                " mlp_ratio=4.0, num_heads=4, depth=1, depth_single_blocks=2, axes_dim=[4, 6, 6], theta=10000,"
                " qkv_bias=True, guidance_embed=True))"
            ),
        ),
    )
    + of(
        "dinov2",
        "from dinov2.models.vision_transformer import *",
        PICTURE,
        ("vit", "DinoVisionTransformer(64, 8, embed_dim=64, depth=2, num_heads=4, init_values=1e-5, block_chunks=0)"),
        (
            "registers",
            (
                "DinoVisionTransformer(64, 8, embed_dim=64, depth=2, num_heads=4, ffn_layer='swiglu',"
                " num_register_tokens=4, block_chunks=2)"
            ),
        ),
    )
    + of(
        "SegFormer/mmseg/models/backbones",
        "from mix_transformer import *",
        PICTURE,
        (
            "mit",
            (
                "MixVisionTransformer(64, embed_dims=[16, 32, 48, 64], num_heads=[1, 2, 2, 4], depths=[1, 1, 1, 1],"
                " sr_ratios=[8, 4, 2, 1], qkv_bias=True)"
            ),
        ),
    )
    + of(
        "Swin-Transformer/models",
        "from swin_transformer import *",
        PICTURE,
        (
            "swin",
            "SwinTransformer(64, 2, num_classes=10, embed_dim=32, depths=[2, 2], num_heads=[2, 4], window_size=4)",
        ),
        (
            "ape",
            (
                "SwinTransformer(64, 2, num_classes=10, embed_dim=32, depths=[2, 2], num_heads=[2, 4], window_size=4,"
                " ape=True, drop_path_rate=0., use_checkpoint=True)"
            ),
        ),
    )
    + of(
        "Swin-Transformer/models",
        "from swin_transformer_v2 import *",
        PICTURE,
        (
            "v2",
            "SwinTransformerV2(64, 2, num_classes=10, embed_dim=32, depths=[2, 2], num_heads=[2, 4], window_size=4)",
        ),
    )
    + of(
        "Swin-Transformer/models",
        "from swin_mlp import *",
        PICTURE,
        ("mlp", "SwinMLP(64, 2, num_classes=10, embed_dim=32, depths=[2, 2], num_heads=[2, 4], window_size=4)"),
    )
    + of(
        "deit",
        "from models_v2 import *",
        PICTURE,
        (
            "v2",
            (
                "vit_models(64, 8, embed_dim=64, depth=2, num_heads=4, num_classes=10, drop_path_rate=0.1,"
                " block_layers=Layer_scale_init_Block)"
            ),
        ),
        (
            "parallel",
            (
                "vit_models(64, 8, embed_dim=64, depth=2, num_heads=4, num_classes=10,"
                " block_layers=Layer_scale_init_Block_paralx2)"
            ),
        ),
    )
    + of(
        "deit",
        "from cait_models import *",
        PICTURE,
        ("cait", "cait_models(64, 8, embed_dim=64, depth=2, num_heads=4, num_classes=10, drop_path_rate=0.1)"),
    )
    + of(
        "deit",
        "from resmlp_models import *",
        PICTURE,
        ("resmlp", "resmlp_models(64, 8, embed_dim=64, depth=2, num_classes=10)"),
    )
    + of(
        "deit",
        "from patchconvnet_models import *",
        PICTURE,
        ("patchconvnet", "PatchConvnet(64, embed_dim=64, depth=2, num_classes=10, patch_size=16)"),
    )
    + of(
        "PVT/classification",
        "from pvt import *",
        PICTURE,
        (
            "pvt",
            (
                "PyramidVisionTransformer(64, 4, num_classes=10, embed_dims=[16, 32, 48, 64], num_heads=[1, 2, 2, 4],"
                " depths=[1, 1, 1, 1], num_stages=4)"
            ),
        ),
    )
    + of(
        "PVT/classification",
        "from pvt_v2 import *",
        PICTURE,
        (
            "pvt2",
            (
                "PyramidVisionTransformerV2(64, 4, num_classes=10, embed_dims=[16, 32, 48, 64], num_heads=[1, 2, 2, 4],"
                " depths=[1, 1, 1, 1])"
            ),
        ),
        (
            "linear",
            (
                "PyramidVisionTransformerV2(64, 4, num_classes=10, embed_dims=[16, 32, 48, 64], num_heads=[1, 2, 2, 4],"
                " depths=[1, 1, 1, 1], linear=True)"
            ),
        ),
    )
    + of(
        "cnn-text-classification-pytorch",
        "from model import *",
        TOKENS,
        (
            "text",
            (
                "CNN_Text(SimpleNamespace(embed_num=512, embed_dim=64, class_num=5, kernel_num=32, kernel_sizes=[3, 4,"
                " 5], dropout=0.5, static=False))"
            ),
        ),
    )
    + of(
        "crnn.pytorch",
        "from models.crnn import *",
        "torch.rand(b, 1, 32, 100)",
        ("crnn", "CRNN(32, 1, 37, 64)"),
        ("leaky", "CRNN(32, 1, 37, 64, leakyRelu=True)"),
    )
    + of(
        "mobilenetv3.pytorch",
        "from mobilenetv3 import *",
        PICTURE,
        ("small", "mobilenetv3_small(num_classes=10)"),
        ("large", "mobilenetv3_large(num_classes=10)"),
    )
    + of(
        "NCF",
        "from model import *",
        "torch.zeros(b, dtype=torch.long), torch.zeros(b, dtype=torch.long)",
        ("neumf", "NCF(200, 300, 16, 3, 0.1, 'NeuMF-end')"),
        ("gmf", "NCF(200, 300, 16, 3, 0., 'GMF')"),
        ("mlp", "NCF(200, 300, 16, 3, 0., 'MLP')"),
    )
    + of(
        "conformer",
        "from conformer.model import *",
        "torch.rand(b, 64, 80), torch.full((b,), 64)",
        ("conformer", "Conformer(30, 80, 64, 2, 4)"),
    )
    + of("pytorch-i3d", "from pytorch_i3d import *", "torch.rand(b, 3, 16, 224, 224)", ("i3d", "InceptionI3d(10)"))
    + of(
        "ConvLSTM_pytorch",
        "from convlstm import *",
        "torch.rand(b, 5, 3, 32, 32)",
        ("two", "ConvLSTM(3, [8, 16], (3, 3), 2, batch_first=True, return_all_layers=True)"),
        ("one", "ConvLSTM(3, 16, (3, 3), 1, batch_first=True, bias=False)"),
    )
    + of("efficient-kan/src", "from efficient_kan import *", "torch.rand(b, 28)", ("kan", "KAN([28, 32, 10])"))
    + of(
        "stargan",
        "from model import *",
        "torch.rand(b, 3, 64, 64), torch.rand(b, 5)",
        ("generator", "Generator(16, 5, 2)"),
    )
    + of("stargan", "from model import *", PICTURE, ("discriminator", "Discriminator(64, 16, 5, 4)"))
    + of(
        "mamba-minimal",
        "from model import *",
        "torch.zeros(b, 16, dtype=torch.long)",
        ("mamba", "Mamba(ModelArgs(d_model=32, n_layer=2, vocab_size=256))"),
    )
    + of(
        "mamba.py",
        "from mambapy.mamba import *",
        "torch.rand(b, 16, 32)",
        ("sequential", "Mamba(MambaConfig(d_model=32, n_layers=2, pscan=False))"),
        ("pscan", "Mamba(MambaConfig(d_model=32, n_layers=2))"),
    )
    + of(
        "Real-ESRGAN/realesrgan/archs",
        "from torch.nn.utils import spectral_norm\nimport types\nsys.modules['basicsr'] ="
        " types.ModuleType('basicsr')\nsys.modules['basicsr.utils'] = types.ModuleType('basicsr.utils')\nregistry ="
        " sys.modules['basicsr.utils.registry'] = types.ModuleType('registry')\nregistry.ARCH_REGISTRY ="
        " SimpleNamespace(register=lambda: lambda c: c)\nfrom srvgg_arch import *\nfrom discriminator_arch import *",
        PICTURE,
        ("srvgg", "SRVGGNetCompact(num_feat=16, num_conv=4)"),
        ("relu", "SRVGGNetCompact(num_feat=16, num_conv=4, act_type='relu', upscale=2)"),
        ("unet", "UNetDiscriminatorSN(3, 16)"),
    )
    + of(
        "pytorch-video-recognition/network",
        "import types\nfor name in ('mypath',):\n    sys.modules[name] = types.ModuleType(name)\n   "
        " sys.modules[name].Path = None\nfrom C3D_model import *",
        "torch.rand(b, 3, 16, 112, 112)",
        ("c3d", "C3D(10)"),
    )
    + of(
        "pytorch-video-recognition/network",
        "from R2Plus1D_model import *",
        "torch.rand(b, 3, 8, 32, 32)",
        ("r2plus1d", "R2Plus1DClassifier(10, (1, 1, 1, 1))"),
    )
    + of(
        "pytorch-video-recognition/network",
        "from R3D_model import *",
        "torch.rand(b, 3, 8, 32, 32)",
        ("r3d", "R3DClassifier(10, (1, 1, 1, 1))"),
    )
    + of(
        "senet.pytorch",
        "from senet.se_resnet import *",
        SMALLER,
        ("cifar", "CifarSEResNet(CifarSEBasicBlock, 2)"),
        ("preact", "CifarSEPreActResNet(CifarSEBasicBlock, 2)"),
    )
    + of(
        "WaveRNN",
        "from models.fatchord_version import *",
        "torch.rand(b, 320), torch.rand(b, 20, 9)",
        ("wavernn", "WaveRNN(64, 64, 9, 2, (4, 4, 4), 20, 32, 32, 2, 64, 16000)"),
    )
    + of("WaveRNN", "from models.tacotron import *", "torch.rand(b, 20, 32)", ("cbhg", "CBHG(4, 20, 32, [32, 20], 2)"))
    + of(
        "wavenet_vocoder",
        "from wavenet_vocoder.wavenet import WaveNet",
        "torch.rand(b, 256, 256)",
        ("wavenet", "WaveNet(256, 4, 2, 32, 32, 32)"),
    )
    + of(
        "TimeSformer",
        "from timesformer.models.vit import *",
        "torch.rand(b, 3, 4, 64, 64)",
        ("divided", "VisionTransformer(64, 16, num_classes=10, embed_dim=64, depth=2, num_heads=4, num_frames=4)"),
        (
            "joint",
            (
                "VisionTransformer(64, 16, num_classes=10, embed_dim=64, depth=2, num_heads=4, num_frames=4,"
                " attention_type='joint_space_time')"
            ),
        ),
    )
    + of(
        "BERT4Rec-VAE-Pytorch",
        "from models.bert_modules.bert import BERT",
        TOKENS,
        (
            "bert",
            (
                "BERT(SimpleNamespace(model_init_seed=0, bert_max_len=32, num_items=200, bert_num_blocks=2,"
                " bert_num_heads=4, bert_hidden_units=64, bert_dropout=0.1))"
            ),
        ),
    )
    + of(
        "LLMs-from-scratch/pkg",
        "from llms_from_scratch.ch04 import *",
        TOKENS,
        (
            "gpt",
            (
                "GPTModel(dict(vocab_size=512, context_length=64, emb_dim=64, n_heads=4, n_layers=2, drop_rate=0.1,"
                " qkv_bias=False))"
            ),
        ),
        (
            "fast",
            (
                "GPTModelFast(dict(vocab_size=512, context_length=64, emb_dim=64, n_heads=4, n_layers=2, drop_rate=0.1,"
                " qkv_bias=False))"
            ),
        ),
    )
    + of(
        "LLMs-from-scratch/pkg",
        "from llms_from_scratch.llama3 import *",
        TOKENS,
        (
            "llama3",
            (
                "Llama3Model(dict(vocab_size=512, context_length=64, emb_dim=64, n_heads=4, n_layers=2, hidden_dim=128,"
                " n_kv_groups=2, rope_base=500000., dtype=torch.float32, rope_freq=None))"
            ),
        ),
    )
    + of(
        "LLMs-from-scratch/pkg",
        "from llms_from_scratch.qwen3 import *",
        TOKENS,
        (
            "qwen3",
            (
                "Qwen3Model(dict(vocab_size=512, context_length=64, emb_dim=64, n_heads=4, n_layers=2, hidden_dim=128,"
                " head_dim=16, qk_norm=True, n_kv_groups=2, rope_base=1e6, dtype=torch.float32, num_experts=0))"
            ),
        ),
        (
            "moe",
            (
                "Qwen3Model(dict(vocab_size=512, context_length=64, emb_dim=64, n_heads=4, n_layers=2, hidden_dim=128,"
                " head_dim=16, qk_norm=True, n_kv_groups=2, rope_base=1e6, dtype=torch.float32, num_experts=4,"
                " num_experts_per_tok=2, moe_intermediate_size=64))"
            ),
        ),
    )
    + of(
        "nanoVLM",
        "from models.vision_transformer import *",
        PICTURE,
        (
            "vit",
            (
                "ViT(SimpleNamespace(vit_hidden_dim=64, vit_patch_size=8, vit_img_size=64, vit_n_heads=4,"
                " vit_n_blocks=2, vit_dropout=0., vit_inter_dim=128, vit_ln_eps=1e-6, vit_cls_flag=False))"
            ),
        ),
    )
    + of("awesome-semantic-segmentation-pytorch", "from core.models.enet import *", PICTURE, ("enet", "ENet(5)"))
    + of("awesome-semantic-segmentation-pytorch", "from core.models.cgnet import *", PICTURE, ("cgnet", "CGNet(5)"))
    + of("awesome-semantic-segmentation-pytorch", "from core.models.lednet import *", PICTURE, ("lednet", "LEDNet(5)"))
    + of(
        "x-transformers",
        "from x_transformers import *",
        TOKENS,
        (
            "decoder",
            "TransformerWrapper(num_tokens=512, max_seq_len=64, attn_layers=Decoder(dim=64, depth=2, heads=4))",
        ),
        (
            "rotary",
            (
                "TransformerWrapper(num_tokens=512, max_seq_len=64, attn_layers=Decoder(dim=64, depth=2, heads=4,"
                " attn_dim_head=16, rotary_pos_emb=True, ff_glu=True, use_rmsnorm=True))"
            ),
        ),
        (
            "alibi",
            (
                "TransformerWrapper(num_tokens=512, max_seq_len=64, tie_embedding=True, attn_layers=Encoder(dim=64,"
                " depth=2, heads=4, alibi_pos_bias=True, attn_flash=True))"
            ),
        ),
    )
    + of(
        "pretrained-models.pytorch",
        "from pretrainedmodels.models import *",
        LARGER,
        ("bninception", "bninception(10, None)"),
        ("xception", "xception(10, None)"),
        ("se_resnet", "se_resnet50(10, None)"),
        ("vggm", "vggm(10, None)"),
    )
)
