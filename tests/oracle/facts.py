#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What libraries' sources say (memlint --list=facts) held to PyTorch: for each fact models where it holds, event by
event.

    facts.py MEMLINT RECORD.PY EXPORT.PY [--only REGEX] [--keep DIR] [--pack FILE] [-v]

Models are made from the facts' own columns: of Transformers the model that a source names, made small; of a fact about
a class each class that it matches, between two layers; of other libraries the expressions in MODELS. Which facts a
file uses, memlint says (--dump=facts). Facts with classes are asked of dynamo's exports, facts with paths alone of the
old exporter's.

Printed: a line a step, then a line a fact with how many steps use it, and how many of these are exact, in doubt and
wrong. Exit 1 when a step is wrong that is not in OPEN. --pack leaves steps out that use no fact which the others
don't. Needs timm and diffusers, too. Facts of Transformers 5 are shown in an environment with it: --pack FILE --add
then adds to what the run with Transformers 4 has packed.
"""

import collections, fnmatch, glob, importlib, inspect, os, re, subprocess, sys, tarfile, tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import steps

OPTIONS = ["--loss", "cross-entropy", "--optimizer", "sgd"]
KIND = {
    r"^(gpt_neo_attention|t5_dense|causal_loss|adapters_dora|openai_positions)": "casts",
    r"_(ts-eval|sdpa)$|^(encoder|swin_attention|spectral|five_\w+|eva$|diffusers_flux)": "drops",
}  # which events are compared
# files without buffers; a tensor that is no buffer, which records don't count
UNCOUNTED = r"_(ts-eval|sdpa)$|^encoder|^(gptj|codegen)_attn$"
# What a file leaves open, both ways: the same file, a step of the model with other arguments, and memlint's option for
# it.
OTHER = {
    r"^(relu|leakyrelu|silu|hardtanh|relu6|mish|hardswish|hardsigmoid|elu|celu|selu)$": (
        r"(nn\.\w+)\(\), (nn.Linear)",
        r"\1(inplace=True), \2",
        ["--assume", "inplace=all"],
    ),
    r"^timm_(ghostnet|repghost|rexnet|senet)$": (r"num_classes=5", "num_classes=5, drop_rate=0.", ["--dropout=none"]),
    r"^timm_cpubone$": (r"num_classes=5", "num_classes=5, proj_drop_rate=0.", ["--dropout=none"]),
    r"^torch_encoder$": (r"Layer\(32, 2, 64", "Layer(32, 2, 64, 0.", ["--dropout=none"]),
    r"^bert_embeddings$": (r"BertConfig\(", "BertConfig(hidden_dropout_prob=0., ", ["--dropout=none"]),
    r"^alexnet_dynamo$": (r"AlexNet\(", "AlexNet(dropout=0.", ["--dropout=none"]),
    r"^fcn$": (r"(V\..*64\))", r"without(\1, '3')", ["--dropout=none"]),
}
COLUMNS = ("library", "version", "says", "arg", "type", "around", "path", "op", "beside", "source")

# What configurations call their sizes; the first that matches counts.
SIZES = (
    (r".*vocab_size|num_embeddings", 64),
    (r"\w+_token_id|(bos|eos|pad|sep|cls)_token", 0),
    (
        r"max_position_embeddings|n_positions|n_ctx|max_seq_len|seq_length|"
        r"max_(source|target)_positions|max_\w*coder_position_embeddings",
        "positions",
    ),
    (r"num_hidden_layers|n_layers?|num_layers|(en|de)coder_layers|num_decoder_layers|num_\w*coder_layers", 1),
    (r"num_attention_heads|n_heads?|num_heads|(en|de)coder_attention_heads|num_key_value_heads", 2),
    (r"hidden_size|d_model|n_embd|embed_dim|embedding_size|word_embed_proj_dim|true_hidden_size", 32),
    (r"(qk_)?head_dim|d_kv", 16),
    (r"intermediate_size|d_ff|ffn_dim|(en|de)coder_ffn_dim|ffn_hidden_size|n_inner|hidden_dim", 64),
    (r"image_size", 32),
    (r"patch_size", 16),
    (r"moe_intermediate_size|shared_expert_intermediate_size", 16),
    (r"num_experts|n_routed_experts|num_local_experts", 4),
    (r"num_experts_per_tok", 2),
)
AUDIO = dict(
    conv_dim=[8, 32],
    conv_stride=[5, 2],
    conv_kernel=[10, 3],
    num_conv_pos_embeddings=4,
    num_conv_pos_embedding_groups=2,
    apply_spec_augment=False,
    layerdrop=0.0,
)
WINDOWS = dict(embed_dim=16, depths=[2], num_heads=[2], window_size=4, patch_size=4)
OVER = {  # what a configuration needs besides
    "CodeGenConfig": dict(n_head=4, rotary_dim=8),
    "GPTJConfig": dict(rotary_dim=8),
    "DeepseekV2Config": dict(num_experts_per_tok=2),
    "JambaConfig": dict(use_mamba_kernels=False, attn_layer_period=1, attn_layer_offset=0),
    "SwinConfig": WINDOWS,
    "Swinv2Config": WINDOWS,
    "LEDConfig": dict(attention_window=4),
    "GPTNeoConfig": dict(attention_types=[[["global"], 1]]),
    "Qwen3MoeConfig": dict(mlp_only_layers=[]),
    **dict.fromkeys(("Wav2Vec2Config", "HubertConfig", "WavLMConfig", "UniSpeechConfig", "Data2VecAudioConfig"), AUDIO),
    "DetrConfig": dict(
        use_timm_backbone=False,
        use_pretrained_backbone=False,
        num_queries=4,
        backbone=None,
        backbone_config=dict(
            model_type="resnet",
            embedding_size=8,
            hidden_sizes=[8],
            depths=[1],
            layer_type="basic",
            out_features=["stage1"],
        ),
    ),
    "Speech2TextConfig": dict(conv_channels=16, input_feat_per_channel=16),
    "WhisperConfig": dict(num_mel_bins=16, max_source_positions=8),
    "Phi3Config": dict(partial_rotary_factor=0.5),
    **dict.fromkeys(("AlbertConfig", "DebertaConfig", "BertConfig", "DistilBertConfig"), dict(pad_token_id=None)),
    "FalconConfig": dict(alibi=True),
    "T5Config": dict(num_layers=2),
    "GPT2Config": dict(scale_attn_weights=False),
    "SegformerConfig": dict(
        num_encoder_blocks=1,
        depths=[1],
        sr_ratios=[2],
        hidden_sizes=[16],
        patch_sizes=[7],
        strides=[4],
        num_attention_heads=[2],
        mlp_ratios=[2],
        decoder_hidden_size=16,
    ),
}
INPUTS = {
    "input_ids": "ids(2, 8)",
    "pixel_values": "torch.rand(2, 3, 32, 32)",
    "input_values": "torch.rand(2, 400)",
    "input_features": "torch.rand(2, 16, 16)",
    "decoder_input_ids": "ids(2, 8)",
}
GIVEN = {  # what models take instead
    **dict.fromkeys(
        ("GPT2Model", "GPTNeoModel"),
        dict(
            input_ids="ids(2, 8)",
            position_ids="ids(1, 8)",
            cache_position="torch.zeros(8, dtype=torch.long)",
            attention_mask="torch.rand(2, 1, 8, 8)",
        ),
    ),
    "BertForMaskedLM": dict(
        input_ids="ids(2, 8)",
        attention_mask="torch.zeros(2, 8, 8, dtype=torch.long)",
        token_type_ids="ids(2, 8)",
        position_ids="ids(1, 8)",
    ),
    "Speech2TextModel": dict(input_features="torch.rand(2, 16, 16)", decoder_input_ids="ids(2, 8)"),
}


def rows(memlint, *words):
    """The facts that memlint prints."""
    return subprocess.run([memlint, *words], capture_output=True, text=True).stdout.splitlines()


# ---- Transformers' models


def parts(config):
    """The configurations inside of one."""
    inner = config.sub_configs if isinstance(config.sub_configs, dict) else {}
    return {name: sub for name, sub in inner.items() if isinstance(sub, type) and sub.__name__ != "AutoConfig"}


def small(config, positions=8):
    """Arguments that make a configuration small. A whole table of positions a file folds, so that only then its size
    is known; a whole mask it drops."""
    out = {}
    for name, p in inspect.signature(config.__init__).parameters.items():
        size = next((n for pattern, n in SIZES if re.fullmatch(pattern, name)), None)
        size = positions if size == "positions" else size
        if size is not None and (isinstance(p.default, int) or name in ("head_dim", "num_key_value_heads")):
            out[name] = size
    out.update({name: small(sub) for name, sub in parts(config).items()})
    return {**out, **OVER.get(config.__name__, {})}


WHOLES = {
    "modeling_bert.py": "BertForMaskedLM",
    "modeling_whisper.py": "WhisperEncoder",
    "modeling_pegasus.py": "PegasusEncoder",
}  # without dead ends
MODEL = """
import torch
from torch import nn
from zoo_base import *
from {module} import {model}
from {config_module} import {config}
class M(nn.Module):
    def __init__(self):
        super().__init__()
        config = {config}(**{arguments})
        config._attn_implementation, config.use_cache = "{attention}", False
        self.model = {model}(config)
    def forward(self, {names}):
        y = self.model({passed}).{field}
        return y.flatten(2).transpose(1, 2) if y.dim() == 4 else y
ZOO = {{"case": Entry(M, lambda b: ({inputs}, TARGETS), cross_entropy, real_build=True)}}
"""


def folder_of(file):
    """Transformers' files by their names alone."""
    import transformers

    found = glob.glob(os.path.join(os.path.dirname(transformers.__file__), "models", "*", file))
    return os.path.basename(os.path.dirname(found[0])) if found else None


def transformer(file, config=None, whole=r"\w*Model|\w*Transformer", attention="eager", **over):
    """The source of the first model of a modeling file, of that configuration, whose name is like that."""
    from transformers import PreTrainedModel

    module = importlib.import_module(f"transformers.models.{folder_of(file)}.{file[:-3]}")
    whole = WHOLES.get(file, whole)
    own = [
        c
        for n, c in vars(module).items()
        if isinstance(c, type)
        and issubclass(c, PreTrainedModel)
        and c.__module__ == module.__name__
        and re.fullmatch(whole, n)
        and not n.endswith("PreTrainedModel")
        and n != "PretrainedBartModel"
        and n != "BartPretrainedModel"
    ]
    named = [c for c in own if c.config_class and c.config_class.__name__ == config]
    model = (named or own)[0]
    config = model.config_class
    field = "last_hidden_state" if re.fullmatch(r"\w*(Model|Encoder|Decoder|Transformer)", model.__name__) else "logits"
    given = GIVEN.get(f"{model.__name__}_{attention}") or GIVEN.get(model.__name__)
    if not given:
        given = {model.main_input_name: INPUTS[model.main_input_name]}
        if config().is_encoder_decoder and model.__name__.endswith("Model"):
            given["decoder_input_ids"] = INPUTS["decoder_input_ids"]
    attention = "sdpa" if attention != "eager" and model._supports_sdpa else "eager"
    return MODEL.format(
        module=module.__name__,
        model=model.__name__,
        config_module=config.__module__,
        config=config.__name__,
        arguments={**small(config, 16 if model.__name__ in GIVEN else 8), **over},
        attention=attention,
        names=", ".join(given),
        passed=", ".join(f"{k}={k}" for k in given),
        field=field,
        inputs="{" + ", ".join(f'"{k}": {v}' for k, v in given.items()) + "}",
    )


# ---- a layer of a Transformers model

LAYER = """
import torch
from torch import nn
from zoo_base import *
from {module} import {name}
from {config_module} import {config}
def first(results):
    return results[0] if isinstance(results, tuple) else results
class M(nn.Module):
    def __init__(self):
        super().__init__()
        config = {config}(**{arguments})
        config._attn_implementation, config.use_cache = "eager", False
        self.a, self.op, self.b = nn.Linear({width}, {width}), {name}(config{index}), nn.Linear({width}, 5)
    def forward(self, x{names}):
        return self.b(first(self.op(self.a(x){passed})))
ZOO = {{"case": Entry(M, lambda b: ({inputs}, TARGETS), cross_entropy, real_build=True)}}
"""
EXPERTS = ("modeling_deepseek_v3.py", "modeling_nemotron.py")  # whose layers can't be exported
TAKES = {  # what models make for their layers, and layers need
    "BloomBlock": dict(alibi="torch.rand(4, 1, 8)", attention_mask="torch.zeros(2, 1, 8, 8, dtype=torch.bool)"),
    **dict.fromkeys(("CodeGenBlock", "GPTJBlock"), dict(position_ids="ids(2, 8)")),
    "FalconDecoderLayer": dict(alibi="torch.rand(4, 1, 8)", attention_mask="torch.rand(2, 1, 8, 8)"),
    "LEDEncoderLayer": dict(attention_mask="torch.zeros(2, 8)"),
    "DebertaLayer": dict(attention_mask="torch.zeros(2, 1, 8, 8, dtype=torch.bool)"),
    **dict.fromkeys(("DetrEncoderLayer", "DetrDecoderLayer"), dict(object_queries="torch.rand(2, 8, 32)")),
    **dict.fromkeys(
        (
            m + "DecoderLayer"
            for m in ("Bart", "MBart", "Marian", "Pegasus", "Blenderbot", "BigBirdPegasus", "Speech2Text")
        ),
        dict(encoder_hidden_states="torch.rand(2, 8, 32)"),
    ),
    "T5Block": dict(cache_position="torch.zeros(8, dtype=torch.long)"),
}


def layers(file, config=None):
    """(name, source) of the layers in a modeling file: what takes hidden states and makes as many."""
    import torch
    from transformers import PreTrainedModel

    module = importlib.import_module(f"transformers.models.{folder_of(file)}.{file[:-3]}")
    own = {
        n: c
        for n, c in vars(module).items()
        if isinstance(c, type) and issubclass(c, torch.nn.Module) and c.__module__ == module.__name__
    }
    if not hasattr(module, "PreTrainedModel"):
        return
    configs = [c.config_class for c in own.values() if issubclass(c, PreTrainedModel) and c.config_class]
    configs.sort(key=lambda c: c.__name__ != config)
    configs += [sub for c in configs for sub in parts(c).values()]
    for config in configs:
        c = config(**small(config, 16))
        width = getattr(c, "hidden_size", None) or getattr(c, "d_model", None) or getattr(c, "n_embd", None)
        if isinstance(width, int):
            break
    else:
        return
    kinds = (
        r"Attention$" if file in EXPERTS or any("Moe" in n for n in own) else r"(Layer|Block|FeatureProjection)$"
    )  # which expert runs, an exporter can't say
    for name, cls in own.items():
        made, takes = list(inspect.signature(cls.__init__).parameters)[1:], inspect.signature(cls.forward).parameters
        if not re.search(kinds, name) or made[:1] != ["config"] or "hidden_states" not in takes:
            continue
        inputs, passed = {"x": f"torch.rand(2, 8, {width})"}, []
        rotary = next((own[n] for n in own if re.search(r"Rotary\w*Embedding$", n)), None)
        need = TAKES.get(name, {})
        inputs.update(need)
        for k, p in takes.items():
            if k in need:
                passed.append(f"{k}={k}")
            elif k.startswith("position_embeddings") and rotary:
                tables = rotary(c)(torch.rand(2, 8, width), torch.arange(8)[None])
                inputs.update({t: f"torch.rand({tuple(v.shape)})" for t, v in zip(("cos", "sin"), tables)})
                passed.append(f"{k}=(cos, sin)")
            elif (
                p.default is inspect.Parameter.empty
                and k not in ("self", "hidden_states")
                and p.kind is p.POSITIONAL_OR_KEYWORD
            ):
                passed.append(f"{k}=None")
        yield (
            name,
            LAYER.format(
                module=module.__name__,
                name=name,
                config_module=config.__module__,
                config=config.__name__,
                arguments=small(config, 16),
                width=width,
                index=", 0" if len(made) > 1 and re.search("idx|index|layer", made[1]) else "",
                names="".join(f", {k}" for k in inputs if k != "x"),
                passed="".join(f", {p}" for p in passed),
                inputs="{" + ", ".join(f'"{k}": {v}' for k, v in inputs.items()) + "}",
            ),
        )


# ---- a class between two layers

BETWEEN = """
import torch
from torch import nn
from zoo_base import *
from {module} import {name}
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.op, self.b = nn.Linear(32, 32), {name}({arguments}), nn.Linear(32, 5)
    def forward(self, x):
        return self.b(self.op(self.a(x)))
ZOO = {{"case": Entry(M, lambda b: ({{"x": torch.rand(2, 8, 32)}}, TARGETS), cross_entropy, real_build=True)}}
"""


def classes_like(pattern):
    """(module, class) of Transformers' modules whose whole name is like that; of those whose forward is written alike
    the first."""
    import torch, transformers

    seen = set()
    for path in sorted(glob.glob(os.path.join(os.path.dirname(transformers.__file__), "models", "*", "modeling_*.py"))):
        file = os.path.basename(path)[:-3]
        if file.startswith(("modeling_tf_", "modeling_flax_")):
            continue
        name = f"transformers.models.{os.path.basename(os.path.dirname(path))}.{file}"
        for cls in re.findall(r"^class (\w+)\((?:nn\.Module|torch\.nn\.Module)\)", open(path).read(), re.M):
            if fnmatch.fnmatchcase(f"{name}.{cls}", pattern):
                c = getattr(importlib.import_module(name), cls)
                text = inspect.getsource(c.forward)
                if text not in seen:
                    seen.add(text)
                    yield name, cls


def written(source, log):
    """The source with its targets' shape, for which it runs once: in a child, since a process whose threads have run
    can't be forked any more."""

    def shape():
        import torch

        ns = {"TARGETS": None}
        exec(source, ns)
        entry = ns["ZOO"]["case"]
        with torch.no_grad():
            print("shape", tuple(entry.build().train()(**entry.inputs(1)[0]).shape[:-1]))

    done = steps.apart(log, shape)
    text = open(log).read()
    if not done:
        raise RuntimeError(steps.reason(log))
    return source.replace("TARGETS", f"torch.zeros({re.search('^shape (.*)$', text, re.M)[1]}, dtype=torch.long)")


# ---- other libraries: expressions

ROWS, IMAGE, MAP = '"x": torch.rand(2, 8, 32)', '"x": torch.rand(2, 3, 32, 32)', '"x": torch.rand(2, 32, 4, 4)'
ENCODER = (
    "nn.TransformerEncoder(nn.TransformerEncoderLayer(32, 2, 64, batch_first=True{more}), 1, "
    "enable_nested_tensor=False)"
)
VISION = {  # torchvision's architectures, as few blocks of each as show what is in it
    "resnet_basic": "V.ResNet(V.resnet.BasicBlock, [1, 1, 1, 1])",
    "resnet_bottleneck": "V.ResNet(V.resnet.Bottleneck, [1, 1, 1, 1])",
    "vgg": "V.VGG(V.vgg.make_layers([8, 'M', 512]))",
    "alexnet": "V.AlexNet()",
    "squeezenet": "V.SqueezeNet('1_1')",
    "mobilenet_v2": "V.MobileNetV2(inverted_residual_setting=[[1, 16, 1, 1], [6, 24, 2, 2]])",
    "mobilenet_v3": "V.MobileNetV3([C(16, 3, 16, 16, True, 'RE', 2, 1, 1), C(16, 5, 32, 24, True, 'HS', 1, 1, 1), "
    "C(24, 3, 32, 24, False, 'HS', 1, 1, 1)], 64)",
    "efficientnet": "V.EfficientNet([V.efficientnet.MBConvConfig(1, 3, 1, 32, 16, 1), V.efficientnet.MBConvConfig(6, "
    "3, 2, 16, 24, 2)], .2, 0.)",
    "densenet": "V.DenseNet(8, (2, 2), 16)",
    "shufflenet": "V.ShuffleNetV2([1, 1, 1], [24, 48, 96, 192, 64])",
    "mnasnet": "V.MNASNet(.35)",
    "regnet": "V.RegNet(V.regnet.BlockParams([1, 1], [16, 32], [8, 8], [1, 1], [2, 2], .25))",
    "convnext": "Net(OrderedDict(features=nn.Sequential(nn.Conv2d(3, 32, 4, 4), V.convnext.CNBlock(32, 1., 0.)), "
    "flat=nn.Flatten(2)))",
}
SD3 = (
    "diffusers.SD3Transformer2DModel(sample_size=4, patch_size=2, in_channels=4, num_layers=1, "
    "attention_head_dim=16, num_attention_heads=2, "
    "joint_attention_dim=32, caption_projection_dim=32, pooled_projection_dim=32, out_channels=4, pos_embed_max_size=4)"
)
SD3_TAKES = (
    '"hidden_states": torch.rand(2, 4, 4, 4), "encoder_hidden_states": torch.rand(2, 8, 32), "pooled_projections": '
    "torch.rand(2, 32), "
    '"timestep": torch.zeros(2, dtype=torch.long)'
)
SIDES = {"alexnet": "64", "vgg": "14"}
IDS, WINDOW = '"x": ids(2, 8)', '"x": torch.rand(2, 16, 32)'
TEXT = (
    "vocab_size=64, hidden_size=32, " "max_position_embeddings=300"
)  # the exporter folds a table of 8,192 numbers with what reads it
MODELS = {  # name: exporter, expression of self.op, inputs, result
    **{
        f"{n}_{e}": (e, x, IMAGE.replace("32", SIDES.get(n, "32")), None)
        for n, x in VISION.items()
        for e in ("dynamo", "ts-train")
        if n + e != "alexnetts-train"
    },
    "deeplab": ("dynamo", "V.segmentation.deeplabv3.ASPPConv(32, 32, 2)", MAP, "y.flatten(1)"),
    "fcn": (
        "dynamo",
        "V.segmentation.fcn.FCNHead(32, 64)",
        '"x": torch.rand(2, 32, 16, 16)',
        "y.flatten(2).transpose(1, 2)",
    ),
    "fcos": ("dynamo", "V.detection.fcos.FCOSClassificationHead(32, 1, 5, 1)", MAP, "y", "[x, x * 2]"),
    **{
        f"{of.lower()}_features": (
            "dynamo",
            f"{of.lower()}.{of}FeatureEncoder(transformers.Wav2Vec2Config(conv_dim=[8, 32], conv_stride=[5, 2], "
            "conv_kernel=[10, 3], num_feat_extract_layers=2))",
            '"x": torch.rand(2, 400)',
            "self.b(y.transpose(1, 2))",
        )
        for of in ("Wav2Vec2", "Hubert", "WavLM", "UniSpeech", "Data2VecAudio", "SEW", "SpeechT5")
    },
    "upernet_conv": ("dynamo", "upernet.UperNetConvModule(32, 32, 1)", MAP, "y.flatten(2).transpose(1, 2)"),
    "adapters": (
        "dynamo",
        'peft.get_peft_model(Pair(), peft.LoraConfig(target_modules=["first"]), "tuned")',
        ROWS,
        "y",
    ),
    "adapters_saved": (
        "dynamo",
        'peft.get_peft_model(Pair(), peft.LoraConfig(target_modules=["first"], modules_to_save=["second"]))',
        ROWS,
        "y",
    ),
    **{
        f"adapters_{name}": ("dynamo", f"peft.get_peft_model({net}, peft.{config})", ROWS, "y")
        for name, net, config in (
            ("saved_named", "Pair()", 'LoraConfig(target_modules=["first"], modules_to_save=["second"]), "tuned"'),
            ("dora", "Wide()", 'LoraConfig(r=64, target_modules=["second"], use_dora=True)'),
            ("miss", "Pair()", 'MissConfig(r=8, target_modules=["first"])'),
        )
    },
    "bert_weights": ("dynamo", "Eager(bert.BertLayer, transformers.BertConfig)", ROWS, "y"),
    "openai_positions": (
        "dynamo",
        "without(without(without(without(transformers.OpenAIGPTModel(transformers.OpenAIGPTConfig(vocab_size=64, "
        "n_positions=16, n_embd=1040, n_layer=1, n_head=2)), 'drop'), 'h.0.attn.attn_dropout'), "
        "'h.0.attn.resid_dropout'), 'h.0.mlp.dropout')",
        IDS,
        "y[0]",
    ),
    "visual_bert_weights": ("dynamo", "Eager(visual_bert.VisualBertLayer, transformers.VisualBertConfig)", ROWS, "y"),
    "wav2vec2_weights": ("dynamo", "Eager(wav2vec2.Wav2Vec2EncoderLayer, transformers.Wav2Vec2Config)", ROWS, "y"),
    "adapters_norm": (
        "dynamo",
        "peft.get_peft_model(nn.Sequential(nn.Linear(32, 32), nn.LayerNorm(32)), "
        'peft.LNTuningConfig(target_modules=["1"]))',
        ROWS,
        "y",
    ),
    "eva": (
        "dynamo",
        "timm.models.eva.Eva(img_size=32, patch_size=8, num_classes=0, global_pool='', class_token=False, "
        "embed_dim=32, depth=1, num_heads=2, use_abs_pos_emb=False, use_rot_pos_emb=True, dynamic_img_size=True)",
        IMAGE,
        "y",
    ),
    **{
        f"spectral_{n}": (
            "dynamo-train",
            f"torch.nn.utils.parametrizations.spectral_norm(nn.Linear(32, {n}))",
            ROWS,
            "y",
        )
        for n in (32, 300)  # folded, and not
    },
    "causal_loss": (
        "dynamo",
        "transformers.GPT2LMHeadModel(transformers.GPT2Config(vocab_size=64, n_embd=32, n_layer=1, n_head=2, "
        "n_positions=300, attn_implementation='eager'))",
        IDS,
        "y.logits * y.loss",
        "x, labels=x",
    ),
    "squeeze_relu": ("dynamo", "torchvision.ops.SqueezeExcitation(32, 8)", MAP, "y.flatten(2).transpose(1, 2)"),
    "detr_attention": (
        "dynamo",
        "detr.DetrAttention(32, 2, transformers.DetrConfig().attention_dropout)",
        ROWS,
        "y[0]",
        "x, object_queries=x",
    ),  # its layers look at values
    "clip_embeddings": ("dynamo", f"clip.CLIPTextEmbeddings(transformers.CLIPTextConfig({TEXT}))", IDS, "y"),
    "bert_embeddings": (
        "dynamo",
        f"bert.BertEmbeddings(transformers.BertConfig({TEXT}, type_vocab_size=300))",
        IDS,
        "y",
        "x, x",
    ),
    "deberta_pooler": (
        "dynamo",
        "deberta.ContextPooler(transformers.DebertaConfig(hidden_size=32, pooler_hidden_size=32))",
        ROWS,
        "y",
    ),
    "segformer_layer": (
        "dynamo",
        "segformer.SegformerLayer(transformers.SegformerConfig(), 32, 2, 0., 1, 2)",
        ROWS,
        "y[0]",
        "x, 2, 4",
    ),
    "gpt2_attention": (
        "dynamo",
        "without(without(keep(gpt2.GPT2Attention(transformers.GPT2Config(n_embd=32, n_head=2, "
        "scale_attn_weights=False, attn_implementation='eager'), True), 'q_attn', 'c_attn', 'attn_dropout', "
        "'c_proj', 'resid_dropout'), 'c_proj'), 'resid_dropout')",
        ROWS,
        "y[0]",
        "x, encoder_hidden_states=x",
    ),
    "imagegpt_attention": (
        "dynamo",
        "without(without(keep(imagegpt.ImageGPTAttention(transformers.ImageGPTConfig(n_embd=32, n_head=2, "
        "scale_attn_weights=False), True), 'q_attn', 'c_attn', 'attn_dropout', 'c_proj', 'resid_dropout'), "
        "'c_proj'), 'resid_dropout')",
        ROWS,
        "y[0]",
        "x, encoder_hidden_states=x",
    ),
    "maskformer_conv": ("dynamo", "maskformer.MaskFormerFPNConvLayer(32, 32)", MAP, "y.flatten(2).transpose(1, 2)"),
    "fp32_norm": ("dynamo", "diffusers.models.normalization.FP32LayerNorm(32)", ROWS, "y"),
    "bloom_mlp": ("dynamo", "bloom.BloomMLP(transformers.BloomConfig(hidden_size=32))", ROWS, "y", "x, x"),
    "codegen_mlp": ("dynamo", "codegen.CodeGenMLP(64, transformers.CodeGenConfig(n_embd=32))", ROWS, "y"),
    "gptj_mlp": ("dynamo", "gptj.GPTJMLP(64, transformers.GPTJConfig(n_embd=32))", ROWS, "y"),
    "gpt_neo_mlp": ("dynamo", "gpt_neo.GPTNeoMLP(64, transformers.GPTNeoConfig(hidden_size=32))", ROWS, "y"),
    "t5_ff": ("dynamo", "t5.T5LayerFF(transformers.T5Config(d_model=32, d_ff=64))", ROWS, "y"),
    "t5_attention": (
        "dynamo",
        "t5.T5Attention(transformers.T5Config(d_model=32, d_kv=16, num_heads=2), False)",
        ROWS + ', "bias": torch.rand(1, 2, 8, 8)',
        "y[0]",
        "x, position_bias=bias",
    ),
    "pegasus_positions": (
        "dynamo",
        "pegasus.PegasusSinusoidalPositionalEmbedding(8, 32)",
        IDS,
        "self.b(y)",
        "x.shape, position_ids=x",
    ),
    **{
        n.lower(): ("dynamo", f"nn.Sequential(nn.Linear(32, 32), nn.{n}(), nn.Linear(32, 32))", ROWS, "y")
        for n in "ReLU LeakyReLU SiLU Hardtanh ReLU6 Mish Hardswish Hardsigmoid ELU CELU SELU".split()
    },
    "vit_block": ("dynamo", "V.vision_transformer.EncoderBlock(2, 32, 64, 0., 0.)", ROWS, "y"),
    "swin_attention": (
        "dynamo",
        "biased(V.swin_transformer.ShiftedWindowAttention(32, [4, 4], [0, 0], 2))",
        '"x": torch.rand(2, 4, 4, 32)',
        "y.flatten(1, 2)",
    ),
    "swin_attention_v2": (
        "dynamo",
        "V.swin_transformer.ShiftedWindowAttentionV2(32, [4, 4], [0, 0], 2)",
        '"x": torch.rand(2, 4, 4, 32)',
        "y.flatten(1, 2)",
    ),
    "bert_attention": (
        "ts-eval",
        "Apart('attention.self', bert.BertSdpaSelfAttention(transformers.BertConfig(hidden_size=32, "
        "num_attention_heads=2)))",
        ROWS,
        "y[0]",
    ),
    "t5_dense": (
        "ts-train",
        "Apart('DenseReluDense', t5.T5DenseActDense(transformers.T5Config(d_model=32, d_ff=64)))",
        ROWS,
        "y",
    ),
    "swin_block": (
        "dynamo",
        "without(V.swin_transformer.SwinTransformerBlock(32, 2, [4, 4], [0, 0]), 'attn')",
        '"x": torch.rand(2, 4, 4, 32)',
        "y.flatten(1, 2)",
    ),
    "maxvit_block": (
        "dynamo",
        "without(V.maxvit.PartitionAttentionLayer(32, 16, 4, 'window', (4, 4), 4, nn.GELU, nn.LayerNorm, 0., 0., "
        "0.), 'attn_layer')",
        MAP,
        "y.flatten(2).transpose(1, 2)",
    ),
    "led_attention": ("dynamo", "without(led.LEDDecoderAttention(32, 2), 'out_proj')", ROWS, "y[0]"),
    "detr_cross_attention": (
        "dynamo",
        "without(detr.DetrAttention(32, 2), 'out_proj')",
        ROWS,
        "y[0]",
        "x, key_value_states=x, spatial_position_embeddings=x",
    ),
    "falcon_layer": (
        "dynamo",
        "without(falcon.FalconDecoderLayer(transformers.FalconConfig(hidden_size=32, num_attention_heads=2, "
        "attn_implementation='eager')), 'self_attention', Passes(32))",
        ROWS,
        "y[0]",
        "x, None, None",
    ),
    "falcon_apart": (
        "dynamo",
        "without(falcon.FalconDecoderLayer(transformers.FalconConfig(hidden_size=32, num_attention_heads=2, "
        "attn_implementation='eager', parallel_attn=False)), 'self_attention', Passes(32))",
        ROWS,
        "y[0]",
        "x, None, None",
    ),
    "nemotron_attention": (
        "dynamo",
        "(setattr(nemotron, 'apply_rotary_pos_emb', lambda q, k, *_: (q, k)), "
        "nemotron.NemotronAttention(transformers.NemotronConfig(hidden_size=32, num_attention_heads=2, "
        "num_key_value_heads=2), 0))[1]",
        ROWS,
        "y[0]",
        "x, (x, x)",
    ),
    "deepseek_v3_attention": (
        "dynamo",
        "deepseek_v3.DeepseekV3Attention(transformers.DeepseekV3Config(hidden_size=32, num_attention_heads=2, "
        "num_key_value_heads=2, q_lora_rank=None, kv_lora_rank=16, qk_rope_head_dim=16, qk_nope_head_dim=16, "
        "v_head_dim=32, rope_interleave=False, attn_implementation='eager'), 0)",
        ROWS + ', "cos": torch.rand(1, 8, 16), "sin": torch.rand(1, 8, 16)',
        "y[0]",
        "x, (cos, sin), None",
    ),
    "timm_window": (
        "dynamo",
        "direct(timm.models.swin_transformer.WindowAttention(32, 2, window_size=(2, 4)))",
        ROWS,
        "y",
    ),
    "distilbert_attention": (
        "ts-eval",
        "Apart('transformer.layer.0.attention', "
        "distilbert.DistilBertSdpaAttention(transformers.DistilBertConfig(dim=32, n_heads=2)))",
        ROWS,
        "y[0]",
        "x, x, x, None",
    ),
    "whisper_encoder": (
        "dynamo",
        "keep(WhisperEncoder(transformers.WhisperConfig(d_model=32, encoder_layers=0, encoder_attention_heads=2, "
        "max_source_positions=300)), 'embed_positions')",
        IDS,
        "self.b(y)",
    ),
    "qwen2_audio_encoder": (
        "dynamo",
        "Positions.named('Qwen2AudioEncoder', 'embed_positions', nn.Embedding(300, 32).requires_grad_(False))",
        IDS,
        "self.b(y)",
    ),
    "voxtral_encoder": (
        "dynamo",
        "Positions.named('VoxtralEncoder', 'embed_positions', nn.Embedding(300, 32).requires_grad_(False))",
        IDS,
        "self.b(y)",
    ),
    "vit_mae_positions": (
        "dynamo",
        "Positions.named('ViTMAEEmbeddings', 'position_embeddings', vit_mae.ViTMAEEmbeddings(transformers.ViTMAEConfig("
        "hidden_size=32, image_size=(8, 56), patch_size=8)).position_embeddings)",
        ROWS,
        "self.b(y)",
    ),
    "vit_mae_decoder": (
        "dynamo",
        "Positions.named('ViTMAEDecoder', 'decoder_pos_embed', nn.Parameter(torch.zeros(1, 8, 32), False))",
        ROWS,
        "self.b(y)",
    ),
    "patchtst_positions": (
        "dynamo",
        "patchtst.PatchTSTPositionalEncoding(transformers.PatchTSTConfig(d_model=32), 8)",
        ROWS,
        "self.b(y)",
    ),
    "gpt_neo_attention": (
        "dynamo",
        "Masks(without(without(gpt_neo.GPTNeoSelfAttention(transformers.GPTNeoConfig(hidden_size=32, num_heads=2, "
        "max_position_embeddings=16), 'global'), 'q_proj'), 'k_proj'))",
        IDS,
        "y[0]",
    ),
    **{
        f"{m}_attn": (
            "dynamo",
            f"only({m}.{c}, '_attn', 'attn_dropout')",
            ROWS + ', "q": torch.rand(2, 2, 8, 16)',
            "y[0].flatten(1, 2)",
            "q, q, x.view(2, 8, 2, 16).transpose(1, 2)",
        )
        for m, c in (
            ("gptj", "GPTJAttention(transformers.GPTJConfig(n_embd=32, n_head=2, rotary_dim=8, n_positions=16))"),
            (
                "codegen",
                "CodeGenAttention(transformers.CodeGenConfig(n_embd=32, n_head=4, rotary_dim=8, n_positions=16))",
            ),
        )
    },
    "t5_masked": (
        "dynamo",
        "masked(t5.T5Attention(transformers.T5Config(d_model=32, d_kv=16, num_heads=2), False))",
        ROWS + ', "bias": torch.rand(2, 8, 8)',
        "y[0]",
        "x, mask=None if transformers.utils.is_torchdynamo_compiling() else Zeros(x), query_length=8, "
        "cache_position=bias",
    ),
    "bert_pooler": (
        "dynamo",
        "Beside(LayerNorm=nn.LayerNorm(32), pooler=bert.BertPooler(transformers.BertConfig(hidden_size=32)))",
        ROWS,
        "y",
    ),
    "dinov2_mask": (
        "dynamo",
        "Beside(layernorm=nn.LayerNorm(32), embeddings=nn.ParameterDict({'mask_token': torch.zeros(1, 32)}))",
        ROWS,
        "y",
    ),
    "wav2vec2_mask": (
        "dynamo",
        "spec_masked(feature_projection=nn.Sequential(OrderedDict(projection=nn.Linear(32, 32))))",
        ROWS,
        "y",
    ),
    "sew_mask": (
        "dynamo",
        "spec_masked(encoder=Net(OrderedDict(pos_conv_embed=Net(OrderedDict(conv=nn.Linear(32, 32))))))",
        ROWS,
        "y",
    ),
    "swin_output": ("dynamo", "swin.SwinOutput(transformers.SwinConfig(), 8)", ROWS, "y"),
    "swinv2_output": ("dynamo", "swinv2.Swinv2Output(transformers.Swinv2Config(), 8)", ROWS, "y"),
    "whisper_layer": (
        "dynamo",
        "without(whisper.WhisperEncoderLayer(transformers.WhisperConfig(d_model=32, encoder_ffn_dim=64, "
        "encoder_attention_heads=2)), 'self_attn', Passes(32))",
        ROWS,
        "y[0]",
        "x, None, None",
    ),
    "torch_encoder": ("dynamo", "nn.TransformerEncoderLayer(32, 2, 64, batch_first=True)", ROWS, "y"),
    **{
        "timm_" + name: ("dynamo", block, MAP, "y.flatten(2).transpose(1, 2)")
        for name, block in {
            "norm_act": "timm.layers.norm_act.BatchNormAct2d(32)",
            "se": "timm.layers.SEModule(32)",
            "split_attn": "timm.layers.SplitAttn(32)",
            "selective_kernel": "timm.layers.SelectiveKernel(32)",
            "squeeze_excite": "timm.models._efficientnet_blocks.SqueezeExcite(32, gate_layer=nn.Hardsigmoid)",
            "byobnet": "timm.models.byobnet.BottleneckBlock(32, 32)",
            "dla": "timm.models.dla.DlaBasic(32, 32)",
            "efficientvit": "timm.models.efficientvit_mit.ConvNormAct(32, 32, act_layer=nn.Hardswish)",
            "ghost_module": "timm.models.ghostnet.GhostModule(32, 32)",
            "nfnet": (
                "timm.models.nfnet.NormFreeBlock(32, 32, alpha=.5, beta=.5, act_layer=nn.SiLU, "
                "conv_layer=lambda i, o, k, gain_init=1, **w: nn.Conv2d(i, o, k, padding=k // 2, **w))"
            ),
            "repghost_module": "timm.models.repghost.RepGhostModule(32, 32)",
            "res2net": (
                "timm.models.res2net.Bottle2neck(32, 8, base_width=32, act_layer=nn.ReLU, " "norm_layer=nn.BatchNorm2d)"
            ),
            "resnest": "timm.models.resnest.ResNestBottleneck(32, 8)",
            "resnet": "timm.models.resnet.BasicBlock(32, 32)",
            "resnetv2": "timm.models.resnetv2.Bottleneck(32, 32, bottle_ratio=9.)",
            "sknet": "timm.models.sknet.SelectiveKernelBasic(32, 32)",
            "tresnet": "timm.models.tresnet.BasicBlock(32, 32)",
            "regnet": "timm.models.regnet.Bottleneck(32, 32)",
        }.items()
    },
    **{
        "timm_" + name: ("dynamo", block, ROWS, "y")
        for name, block in {
            "mlp_relu": "timm.layers.Mlp(32, 64, act_layer=nn.ReLU)",
            "glu_mlp": "timm.layers.GluMlp(32, 64, act_layer=nn.SiLU)",
            "swiglu": "timm.layers.SwiGLU(32, 64)",
            "levit": "timm.models.levit.LevitMlp(32, 64, act_layer=nn.Hardswish)",
            "metaformer": "timm.models.metaformer.StarReLU()",
        }.items()
    },
    "timm_selecsls": (
        "dynamo",
        "timm.models.selecsls.SelecSlsBlock(32, 0, 32, 32, True, 1)",
        MAP,
        "y[0].flatten(2).transpose(1, 2)",
    ),
    "timm_convmixer": (
        "dynamo",
        "timm.models.convmixer.ConvMixer(16, 1, patch_size=4, num_classes=5, act_layer=nn.ReLU)",
        IMAGE,
        None,
    ),
    "timm_cpubone": (
        "dynamo",
        "timm.models.cpubone.CPUBone([8, 8, 16, 16, 16], [1, 1, 1, 1, 1], num_classes=5, head_widths=(16, 16))",
        IMAGE.replace("32", "64"),
        None,
    ),
    "timm_ghostnet": (
        "dynamo",
        "without(timm.models.ghostnet.GhostNet([[[3, 16, 16, 0, 1]]], num_classes=5), 'blocks.0')",
        IMAGE,
        None,
    ),
    "timm_repghost": (
        "dynamo",
        "without(timm.models.repghost.RepGhostNet([[[3, 16, 16, 0, 1]]], num_classes=5), 'blocks.0')",
        IMAGE,
        None,
    ),
    "timm_rexnet": (
        "dynamo",
        "timm.models.rexnet.RexNet(num_classes=5, initial_chs=8, final_chs=16, depth_mult=.3, se_ratio=0.)",
        IMAGE,
        None,
    ),
    "timm_senet": (
        "dynamo",
        "timm.models.senet.SENet(timm.models.senet.SEResNetBlock, (1, 1, 1, 1), 1, 16, num_classes=5)",
        IMAGE,
        None,
    ),
    "timm_vit": (
        "dynamo",
        "timm.models.vision_transformer.VisionTransformer(32, 16, embed_dim=32, depth=1, num_heads=2, num_classes=5, "
        "class_token=False, global_pool='avg')",
        IMAGE,
        None,
    ),
    "timm_cait": ("dynamo", "timm.models.cait.TalkingHeadAttn(32, 2)", ROWS, "y"),
    "timm_vgg": ("dynamo", "timm.models.vgg.VGG([8, 'M'], num_classes=5)", '"x": torch.rand(2, 3, 14, 14)', None),
    **{
        "encoder" + n: ("ts-eval", ENCODER.format(more=m), ROWS, "y")
        for n, m in {"": "", "_gelu": ", activation='gelu'", "_first": ", norm_first=True"}.items()
    },
    "timm_attention": ("dynamo", "timm.layers.attention.Attention(32, 2)", ROWS, "y"),
    "timm_mlp": ("dynamo", "timm.layers.mlp.Mlp(32, 64)", ROWS, "y"),
    "timm_classifier": ("dynamo", "timm.layers.classifier.ClassifierHead(32, 5)", MAP, "y"),
    "diffusers_feedforward": ("dynamo", "diffusers.models.attention.FeedForward(32)", ROWS, "y"),
    "diffusers_attention": (
        "dynamo",
        "attention_processor.Attention(32, heads=2, dim_head=16, rescale_output_factor=2.)",
        ROWS,
        "y",
    ),
    "diffusers_flux": (
        "dynamo",
        "transformer_flux.FluxTransformerBlock(32, num_attention_heads=2, attention_head_dim=16)",
        ROWS,
        "y[0] + y[1]",
        "x, x, x[:, 0]",
    ),
    "diffusers_resnet": (
        "dynamo",
        "resnet.ResnetBlock2D(in_channels=32, temb_channels=None, groups=4, output_scale_factor=2.)",
        MAP,
        "y.flatten(2).transpose(1, 2)",
        "x, None",
    ),
    **{
        "diffusers_sd3_"
        + e: (
            e,
            SD3,
            SD3_TAKES,
            "y.sample.flatten(2)",
            ", ".join(f"{k}={k}" for k in re.findall(r'"(\w+)"', SD3_TAKES)),
        )
        for e in ("dynamo", "ts-eval")
    },
}
EXPRESSION = """
import torch, torchvision, timm, transformers, diffusers, diffusers.models.attention, peft
from collections import OrderedDict
from transformers.models.bert import modeling_bert as bert
from transformers.models.data2vec import modeling_data2vec_audio as data2vecaudio
from transformers.models.hubert import modeling_hubert as hubert
from transformers.models.sew import modeling_sew as sew
from transformers.models.speecht5 import modeling_speecht5 as speecht5
from transformers.models.unispeech import modeling_unispeech as unispeech
from transformers.models.maskformer import modeling_maskformer as maskformer
from transformers.models.upernet import modeling_upernet as upernet
from transformers.models.visual_bert import modeling_visual_bert as visual_bert
from transformers.models.wav2vec2 import modeling_wav2vec2 as wav2vec2
from transformers.models.wavlm import modeling_wavlm as wavlm
from transformers.models.bloom import modeling_bloom as bloom
from transformers.models.clip import modeling_clip as clip
from transformers.models.codegen import modeling_codegen as codegen
from transformers.models.deberta import modeling_deberta as deberta
from transformers.models.detr import modeling_detr as detr
from transformers.models.gpt2 import modeling_gpt2 as gpt2
from transformers.models.gpt_neo import modeling_gpt_neo as gpt_neo
from transformers.models.gptj import modeling_gptj as gptj
from transformers.models.imagegpt import modeling_imagegpt as imagegpt
from transformers.models.llama import modeling_llama as llama
from transformers.models.pegasus import modeling_pegasus as pegasus
from transformers.models.segformer import modeling_segformer as segformer
from transformers.models.swin import modeling_swin as swin
from transformers.models.swinv2 import modeling_swinv2 as swinv2
from transformers.models.distilbert import modeling_distilbert as distilbert
from transformers.models.led import modeling_led as led
from transformers.models.patchtst import modeling_patchtst as patchtst
from transformers.models.vit_mae import modeling_vit_mae as vit_mae
from transformers.models.whisper import modeling_whisper as whisper
from transformers.models.falcon import modeling_falcon as falcon
from transformers.models.nemotron import modeling_nemotron as nemotron
from transformers.models.deepseek_v2 import modeling_deepseek_v2 as deepseek_v2
from transformers.models.deepseek_v3 import modeling_deepseek_v3 as deepseek_v3
from transformers.models.t5 import modeling_t5 as t5
from torch import nn
from diffusers.models import attention_processor, resnet, embeddings
from diffusers.models.transformers import transformer_flux
from zoo_base import *
V, C = torchvision.models, torchvision.models.mobilenetv3.InvertedResidualConfig
def without(module, path, instead=None):
    module.set_submodule(path, instead or nn.Identity())
    return module
def keep(module, *names):
    for name in [n for n, _ in (*module.named_children(), *module.named_buffers(recurse=False)) if n not in names]:
        delattr(module, name)
    return module
def only(module, method, *names):
    module.forward = getattr(module, method)
    return keep(module, *names)
class Pair(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(32, 32), nn.Linear(32, 32)
    def forward(self, x):
        return torch.sigmoid(self.first(x)) * self.second(x)
class Wide(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(32, 896), nn.Linear(896, 32)
    def forward(self, x):
        return self.second(self.first(x))
class Eager(nn.Module):
    def __init__(self, kind, config):
        super().__init__()
        sizes = dict(hidden_size=32, num_attention_heads=2, intermediate_size=64, attn_implementation="eager")
        self.layer = nn.ModuleList([kind(config(**sizes)) for _ in range(3)])
    def forward(self, x):
        for layer in self.layer:
            outputs = layer(x)
            x = outputs[0]
        return x
class Passes(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.a = nn.Linear(width, width)
    def forward(self, hidden_states, **_):
        return self.a(hidden_states), None
class Apart(nn.Module):
    def __init__(self, path, module):
        super().__init__()
        self.name, _, rest = path.partition(".")
        self.add_module(self.name, Apart(rest, module) if rest else module)
    def forward(self, *a, **k):
        return self.get_submodule(self.name)(*a, **k)
class WhisperEncoder(whisper.WhisperEncoder):
    def forward(self, x):
        return self.embed_positions(x)
class Positions(nn.Module):
    def __init__(self, key, table):
        super().__init__()
        self.key = key
        setattr(self, key, table)
    def forward(self, x):
        table = getattr(self, self.key)
        return table(x) if isinstance(table, nn.Module) else x + table
    @classmethod
    def named(cls, name, key, table):
        return type(name, (cls,), {{}})(key, table)
class Masks(nn.Module):
    def __init__(self, attention):
        super().__init__()
        self.wpe, self.attention = nn.Embedding(16, 32), attention
    def forward(self, x):
        return self.attention(self.wpe(x))
class Beside(nn.ModuleDict):
    def __init__(self, **modules):
        super().__init__(modules)
    def forward(self, x):
        return next(iter(self.values()))(x)
def spec_masked(**layers):
    module = Beside(**layers)
    module.masked_spec_embed = nn.Parameter(torch.rand(32))
    return module
def direct(module):
    module.relative_position_bias_table = nn.Parameter(torch.rand(1, 2, 8, 8))
    module._get_rel_pos_bias = lambda: module.relative_position_bias_table
    del module.relative_position_index
    return module
def biased(module):
    module.relative_position_bias_table = nn.Parameter(torch.rand(1, 2, 16, 16))
    module.get_relative_position_bias = lambda: module.relative_position_bias_table
    del module.relative_position_index
    return module
class Zeros:
    def __init__(self, x):
        self.x = x
    def __getitem__(self, at):
        return torch.zeros(self.x.shape[0], 1, 1, 8, device=self.x.device)
def masked(module):
    module.has_relative_attention_bias, module.compute_bias = True, lambda *_, cache_position, **__: \
cache_position.unsqueeze(0)
    return module
class Net(nn.Sequential):
    def forward(self, x):
        return super().forward(x)
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.op, self.b = {first}, {model}, {last}
    def forward(self, {names}):
        {line}
        y = self.op({passed})
        return {result}
ZOO = {{"case": Entry({build}, lambda b: ({{{inputs}}}, TARGETS), cross_entropy, real_build=True)}}
"""


def expression(exporter, model, inputs, result, passed="x"):
    """The source of an expression: alone, so that paths begin with its own names, or behind a layer."""
    first = (
        "nn.Conv2d(32, 32, 1)" if inputs == MAP else "nn.Linear(32, 32)" if inputs.startswith((ROWS, WINDOW)) else None
    )
    last = "nn.Linear(32, 5)" if "self.b" in (result or "") else None
    return EXPRESSION.format(
        first=first,
        last=last,
        model=model,
        names=", ".join(re.findall(r'"(\w+)"', inputs)),
        line="x = self.a(x)" if first else "",
        passed=passed,
        result=result,
        build="M" if result else "lambda: " + model,
        inputs=inputs,
    )


CASTS = r"Norm$|^t5_(ff|attention)$|^(Olmo|Mpt)"  # what autocast would cast anyway shows where parameters are bfloat16
FUNCTION = (
    "the frames of functions that are not called forward are not in the file: how long their names hold a "
    "tensor is lost"
)
# What is known to differ, by the names of cases, and why.
OPEN = {
    r"^timm_(selective_kernel|sknet) amp": "of a convolution that was merged with its norm the line is lost",
    r"^(Cohere2?DecoderLayer|Olmo2?DecoderLayer) amp": "apply_rotary_pos_emb casts, and " + FUNCTION,
    r"^(Bart|Marian)(En|De)coderLayer amp": "residual = hidden_states is a line without a call: a second name",
    r"^(Deepseek|Falcon|FalconMamba|Wav2Vec2|Hubert|UniSpeech|Data2VecAudio|GPTNeoX|Nemotron|MobileBert|LED)": FUNCTION,
    r"^(CodeGen|GPTJ)": "calls that are the same twice, and tables that were folded: when they ran is lost; and "
    + FUNCTION,
    r"^(GPT2|ImageGPT|GPTNeo)Block|^gpt_neox?_(classifier|dynamo)|^gpt2_(ts-eval|dynamo) amp": "a number that was "
    "folded has autocast's type in eager; _attn of GPT-Neo casts, and " + FUNCTION,
    r"^Whisper": "of two transposes that the exporter merged, the copy between them is lost",
    r"^swin(v2)?_dynamo": "a bias from a table that was folded",
    r"_classifier|_dynamo|_embeddings|T5Block": "masks and positions are folded with all that computes them",
    r"^(t5\w*|gpt2)_ts-eval amp": "that attention casts, no name of a module says",
    r"^CpmAntFFNBlock amp": "its norm casts in a function that is not called forward",
    r"^BertLayer amp": "what a function returns beside the rest lives with the tuple, and the file shows only "
    "what is read",
    r"^vgg_ts": "an adaptive pool of what has its size already is an average pool in that file",
}
WHOLE = ("type and size", "frozen", "one operator")  # what a layer alone can't show

# Transformers 5, in a run of its own. A fake tensor it takes for a trace's, and can't ask whether sequences are packed:
# they are not. When a table of positions is made, which a file folds, no line says: so dropouts are compared, and
# what is allocated before.
FIVE = """
import torch, transformers, transformers.masking_utils as masking, transformers.utils.import_utils as asked
from torch import nn
from zoo_base import *
asked.is_fake_tensor, packed = lambda t: False, masking.find_packed_sequence_indices
class M(nn.Module):
    def __init__(self):
        super().__init__()
        config = transformers.{name}Config(vocab_size=64, {sizes})
        config._attn_implementation, config.use_cache = "sdpa", False
        self.model = transformers.{name}For{head}(config)
    def forward(self, input_ids):
        masking.find_packed_sequence_indices = packed if torch.compiler.is_exporting() else lambda positions: None
        return self.model(input_ids=input_ids).logits
ZOO = {{"case": Entry(M, lambda b: ({{"input_ids": ids(2, {length})}}, TARGETS), cross_entropy, real_build=True)}}
"""
LLAMA = "hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=64, num_key_value_heads=2"
FIVES = (  # name, class, head, tokens, sizes
    ("five_llama", "Llama", "CausalLM", 8, LLAMA),
    ("five_mistral", "Mistral", "CausalLM", 64, LLAMA + ", sliding_window=None"),
    ("five_falcon", "Falcon", "CausalLM", 64, "hidden_size=32, num_hidden_layers=2, num_attention_heads=4"),
    ("five_bigcode", "GPTBigCode", "CausalLM", 64, "n_embd=32, n_layer=2, n_head=4, n_positions=512"),
    (
        "five_distilbert",
        "DistilBert",
        "MaskedLM",
        8,
        "dim=32, n_layers=2, n_heads=2, hidden_dim=64, max_position_embeddings=300",
    ),
)


def cases(facts, a, log):
    """{name: (source, exporter)} of the facts."""
    out, tried = {}, {}

    def put(name, make, exporter="dynamo"):
        """Whether there is such a model."""
        if name not in tried and re.search(a.only, name):
            try:
                out[name] = (written(make(), log), exporter)
            except Exception as e:
                if a.v:
                    print(
                        f"skipped  {name}: not made: {type(e).__name__}: {str(e)[:150]}".replace("\n", " "), flush=True
                    )
            tried[name] = name in out
        return tried.get(name, False)

    import transformers

    if int(transformers.__version__.split(".")[0]) >= 5:
        for name, of, head, length, sizes in FIVES:
            put(name, lambda: FIVE.format(name=of, head=head, length=length, sizes=sizes))
        return out
    for f in facts:
        f = dict(zip(COLUMNS, f.split("\t")))
        file, name = re.match(r"(\S+): (\w+)", f["source"]).groups()
        stem = re.sub(r"^(configuration|modeling)_|\.py$", "", file)
        classes = f["type"] != "-" or f["around"] != "-"
        if f["library"] != "Transformers" or f["version"] >= "5":
            continue
        if f["type"].endswith("Norm"):
            for module, cls in classes_like(f["type"]):
                put(cls, lambda: BETWEEN.format(module=module, name=cls, arguments="32"))
        elif folder_of(f"modeling_{stem}.py"):
            exporter, layered = "dynamo" if classes else "ts-eval", False
            if classes and f["says"] not in WHOLE and "ContextPooler" not in f["around"]:
                for n, source in layers(f"modeling_{stem}.py", name):
                    layered |= put(n, lambda: source)
            if not layered and "Pooler" not in f["around"] and "classifier" not in f["path"]:
                put(
                    f"{stem}_{exporter}",
                    lambda: transformer(
                        f"modeling_{stem}.py", name, attention="sdpa" if f["says"] in WHOLE else "eager"
                    ),
                    exporter,
                )
            if not classes and f["op"].startswith("scaled"):
                put(f"{stem}_sdpa", lambda: transformer(f"modeling_{stem}.py", name, attention="sdpa"), exporter)
            if "classifier" in f["path"]:
                put(
                    f"{stem}_classifier",
                    lambda: transformer(f"modeling_{stem}.py", None, r"\w*For(Token|Image)Classification"),
                )
            if "ContextPooler" in f["around"]:
                put(
                    f"{stem}_classifier",
                    lambda: transformer(f"modeling_{stem}.py", None, r"\w*ForSequenceClassification"),
                )
        else:
            print("nothing for", f["source"])
    put("t5_gated_ts-eval", lambda: transformer("modeling_t5.py", feed_forward_proj="gated-gelu"), "ts-eval")
    for name, m in MODELS.items():
        put(name, lambda: expression(*m), m[0])
    return out


def file_of(exporter):
    """The file of a model in evaluation mode, as people export it."""

    def export(model, inputs):
        import io, onnx, torch

        names, model = dict(input_names=list(inputs), output_names=["output"]), model.train(exporter == "dynamo-train")
        if exporter.startswith("dynamo"):
            return torch.onnx.export(model, (), kwargs=inputs, dynamo=True, verbose=False, **names).model_proto
        blob, train = io.BytesIO(), exporter == "ts-train"
        torch.onnx.export(
            model.train(train),
            (inputs,),
            blob,
            dynamo=False,
            opset_version=17,
            do_constant_folding=False,
            training=torch.onnx.TrainingMode.TRAINING if train else torch.onnx.TrainingMode.EVAL,
            **names,
        )
        return onnx.load_from_string(blob.getvalue())

    return export


def known(table, text):
    """The reason that a table has for it, by patterns; None it has none."""
    return next((reason for pattern, reason in table.items() if re.search(pattern, text)), None)


def counted(name):
    """Whether a file shows what is allocated before the step."""
    return not re.search(UNCOUNTED, name.removesuffix("_other"))


def run(a, bench):
    import transformers

    transformers.logging.set_verbosity_error()
    facts = rows(bench.memlint, "--list=facts")
    shown = {f: collections.defaultdict(list) for f in facts}  # by verdict: steps
    sums, exact = collections.Counter(), []
    for name, (source, exporter) in cases(facts, a, bench.file("shape", ".log")).items():
        for precision in (*steps.PRECISIONS, *(("bf16",) if re.search(CASTS, name) else ())):
            cannot = bench.take(name, source, precision, export=file_of(exporter))
            if cannot:
                print(f"skipped  {name} {precision}: {cannot}", flush=True)
                break
            used = rows(bench.memlint, bench.file(name, ".onnx"), "-q", "--dump=facts")
            if not used:
                break
            kind = known(KIND, name) or "step"
            verdict, truth, got = bench.compare(name, OPTIONS, precision, kind, whole=counted(name))
            other = known(OTHER, name)
            if other and verdict == "exact":
                twin = name + "_other"
                cannot = bench.take(twin, re.sub(other[0], other[1], source), precision, what=("step",))
                if cannot:
                    print(f"skipped  {twin} {precision}: {cannot}", flush=True)
                    continue
                verdict, truth, got = bench.compare(
                    twin, OPTIONS + other[2], precision, model=name, whole=counted(name)
                )
                if verdict == "exact":
                    exact.append((name, OPTIONS + other[2], precision, "other", twin))
            for f in used:
                shown[f][verdict].append(name)
            why = known(OPEN, f"{name} {precision}")
            sums["open" if verdict == "wrong" and why else verdict] += 1
            if verdict == "exact":
                exact.append((name, OPTIONS, precision, kind))
            if verdict != "exact" or a.v:
                print(
                    f"{verdict:8} {name} {precision}" + (f": {why}" if why and verdict != "exact" else ""), flush=True
                )
            if verdict != "exact" and (a.v or (verdict == "wrong" and not why)):
                print(*steps.first_difference(truth, got), sep="\n", flush=True)
    packed = a.pack and a.pack.replace(".tar.xz", ".tsv")
    old = [line.rstrip("\n").rpartition("\t") for line in open(packed)][1:] if a.add else []
    for f, _, names in old:
        shown.get(f, {"exact": []})["exact"] += names.split()
    lacking = [f for f in facts if not shown[f]["exact"]] if not a.only else []
    for f in facts:
        if any(shown[f].values()):
            print(*(len(shown[f][k]) for k in ("exact", "doubt", "wrong")), f, sep="\t")
    print(*(f"no exact step shows: {f}" for f in lacking), sep="\n")
    if a.pack:
        with tempfile.TemporaryDirectory() as there:
            if a.add:
                with tarfile.open(a.pack) as t:
                    taken = {name for name, *_ in exact}
                    t.extractall(there, [m for m in t if m.name.split(".")[0] not in taken], filter="data")
            steps.pack(bench.folder, a.pack, exact, also=there, whole=counted)
        with open(packed, "w") as out:
            print(
                "# facts of --list=facts, then the steps of facts.tar.xz that show them (written by facts.py --pack)",
                file=out,
            )
            for f in facts:
                print(f, " ".join(sorted(set(shown[f]["exact"]))) or "-", sep="\t", file=out)
    print(*(f"{sums[k]} {k}" for k in ("exact", "doubt", "wrong", "open")), sep=", ")
    return sums["wrong"] != 0 or bool(lacking)


if __name__ == "__main__":
    ap = steps.arguments(__doc__)
    ap.add_argument("--add", action="store_true", help="to what is packed already: the steps of Transformers 5")
    sys.exit(steps.on_bench(run, ap.parse_args()))
