# SPDX-License-Identifier: Apache-2.0
"""A zoo of record.py: steps of the sizes that people train, which take up to 100 GiB of a GPU.

Architectures are torchvision's, Transformers', diffusers' and PEFT's own, with random weights.
"""

import torch, torchvision
from zoo_base import *

V = torchvision.models
AMP, FP32 = ("adamw", "amp-bf16"), ("adamw", "fp32")


def tf(model, config, attention="sdpa", checkpoint=False, **kw):
    """A Transformers model of its configuration, dropout as it is there; with checkpoint as its users switch it on."""

    def build():
        import transformers

        c = getattr(transformers, config)(use_cache=False, **kw)
        c._attn_implementation = attention
        m = getattr(transformers, model)(c)
        if checkpoint:
            m.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})
        return Head(m)

    return build


def lora(build, rank=16):
    def wrapped():
        import peft

        head = build()
        head.model.enable_input_require_grads()
        where = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]
        head.model = peft.get_peft_model(
            head.model, peft.LoraConfig(r=rank, lora_alpha=2 * rank, lora_dropout=0.05, target_modules=where)
        )
        return head

    return wrapped


class Denoiser(torch.nn.Module):
    """Stable Diffusion 1.5's U-Net: diffusers' configuration of it."""

    def __init__(self, checkpoint=False):
        super().__init__()
        from diffusers import UNet2DConditionModel

        self.net = UNet2DConditionModel(sample_size=64, cross_attention_dim=768)
        if checkpoint:
            self.net.enable_gradient_checkpointing()

    def forward(self, sample, timestep, context):
        return self.net(sample, timestep, context, return_dict=False)[0]


def denoise(batch):
    noise = torch.zeros(batch, 4, 64, 64)
    return {"sample": noise, "timestep": torch.zeros(batch), "context": torch.zeros(batch, 77, 768)}, noise


class Dense(torch.nn.Module):
    def __init__(self, build):
        super().__init__()
        self.net = build(weights=None, weights_backbone=None, num_classes=21)

    def forward(self, x):
        return self.net(x)["out"]


def dense(build, batches):
    return Entry(
        lambda: Dense(build),
        lambda b: ({"x": torch.rand(b, 3, 512, 512)}, torch.zeros(b, 512, 512, dtype=torch.long)),
        lambda out, t: F.cross_entropy(out, t),
        batches,
        (FP32, AMP),
    )


class Listener(torch.nn.Module):
    """Whisper's medium size."""

    def __init__(self):
        super().__init__()
        import transformers

        c = transformers.WhisperConfig(use_cache=False, **WHISPER)
        c._attn_implementation = "sdpa"
        self.net = transformers.WhisperForConditionalGeneration(c)

    def forward(self, input_features, decoder_input_ids):
        return self.net(input_features=input_features, decoder_input_ids=decoder_input_ids).logits


def heard(batch):
    return {"input_features": torch.zeros(batch, 80, 3000), "decoder_input_ids": ids(batch, 128)}, ids(batch, 128)


class Pair(torch.nn.Module):
    """CLIP's two towers and its loss."""

    def __init__(self):
        super().__init__()
        import transformers

        c = transformers.CLIPConfig()
        c._attn_implementation = "sdpa"
        self.net = transformers.CLIPModel(c)

    def forward(self, input_ids, pixel_values):
        return self.net(input_ids=input_ids, pixel_values=pixel_values, return_dict=False)[0]


def pairs(batch):
    text, image = ids(batch, 77), torch.zeros(batch, 3, 224, 224)
    return {"input_ids": text, "pixel_values": image}, torch.arange(batch)


LLAMA = dict(vocab_size=128256, hidden_size=2048, intermediate_size=8192, num_hidden_layers=16, num_attention_heads=32)
LLAMA.update(num_key_value_heads=8, head_dim=64, max_position_embeddings=131072, tie_word_embeddings=True)
QWEN = dict(vocab_size=151936, hidden_size=1536, intermediate_size=8960, num_hidden_layers=28, num_attention_heads=12)
QWEN.update(num_key_value_heads=2, max_position_embeddings=32768, tie_word_embeddings=True)
GPT2M = dict(n_embd=1024, n_layer=24, n_head=16)
GPT2XL = dict(n_embd=1600, n_layer=48, n_head=25)
BERTL = dict(hidden_size=1024, num_hidden_layers=24, num_attention_heads=16, intermediate_size=4096, pad_token_id=None)
T5L = dict(d_model=1024, d_kv=64, d_ff=4096, num_layers=24, num_heads=16)
WHISPER = dict(d_model=1024, encoder_layers=24, decoder_layers=24, encoder_attention_heads=16)
WHISPER.update(decoder_attention_heads=16, encoder_ffn_dim=4096, decoder_ffn_dim=4096, vocab_size=51865)
LLAMA1B, QWEN1B = tf("LlamaForCausalLM", "LlamaConfig", **LLAMA), dict(checkpoint=True, **QWEN)

ZOO = {
    "resnet152": image(lambda: V.resnet152(), batches=(128,), recipes=(FP32, AMP)),
    "convnext_large": image(lambda: V.convnext_large(), batches=(64,), recipes=(FP32, AMP)),
    "efficientnet_b4": image(lambda: V.efficientnet_b4(), 380, batches=(32,), recipes=(FP32, AMP)),
    "vit_l_16": image(lambda: V.vit_l_16(), batches=(64,), recipes=(FP32, AMP)),
    "swin_b": image(lambda: V.swin_b(), batches=(64,), recipes=(FP32, AMP)),
    "deeplabv3_resnet101": dense(V.segmentation.deeplabv3_resnet101, (16,)),
    "fcn_resnet50": dense(V.segmentation.fcn_resnet50, (16,)),
    "gpt2_medium": text(tf("GPT2LMHeadModel", "GPT2Config", **GPT2M), 1024, (8,), recipes=(FP32, AMP)),
    "gpt2_medium_eager": text(tf("GPT2LMHeadModel", "GPT2Config", "eager", **GPT2M), 1024, (4,), recipes=(AMP,)),
    "gpt2_xl_checkpoint": text(
        tf("GPT2LMHeadModel", "GPT2Config", checkpoint=True, **GPT2XL), 1024, (8,), recipes=(AMP,)
    ),
    "llama_1b": text(LLAMA1B, 2048, (2, 4), recipes=(AMP, FP32)),
    "llama_1b_checkpoint": text(
        tf("LlamaForCausalLM", "LlamaConfig", checkpoint=True, **LLAMA), 2048, (8,), recipes=(AMP,)
    ),
    "qwen2_1b_lora": text(lora(tf("Qwen2ForCausalLM", "Qwen2Config", **QWEN1B)), 2048, (4,), recipes=(AMP, FP32)),
    "bert_large": text(tf("BertForMaskedLM", "BertConfig", **BERTL), 512, (16, 64), recipes=(AMP, FP32)),
    "t5_large": seq2seq(
        tf("T5ForConditionalGeneration", "T5Config", "eager", **T5L), 512, 128, (8,), recipes=(FP32, AMP)
    ),
    "clip_vit_b_32": Entry(Pair, pairs, cross_entropy, (256,), (FP32, AMP)),
    "whisper_medium": Entry(Listener, heard, cross_entropy, (16,), (FP32, AMP)),
    "sd15_unet": Entry(Denoiser, denoise, lambda out, t: F.mse_loss(out, t), (8,), (FP32, AMP), loss_name="mse"),
    "sd15_unet_checkpoint": Entry(
        lambda: Denoiser(True), denoise, lambda out, t: F.mse_loss(out, t), (16,), (AMP,), loss_name="mse"
    ),
}
