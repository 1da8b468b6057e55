#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Models that nobody had run through memlint when they were written down, a row each: for families.py.

Transformers' models of other tasks than those of families.py, torch_geometric's dense layers, and nets as tutorials
have them, some with the loss inside ("# loss:" says so) or several outputs.
"""

from packages import LARGER, PICTURE, SMALLER

TASKS = """import transformers
SIZES = dict(hidden_size=64, d_model=64, n_embd=64, embedding_size=64, dim=64, num_hidden_layers=2, n_layer=2,
    n_layers=2, num_layers=2, encoder_layers=2, decoder_layers=2, num_attention_heads=4, n_head=4, num_heads=4,
    encoder_attention_heads=4, decoder_attention_heads=4, intermediate_size=128, encoder_ffn_dim=128,
    decoder_ffn_dim=128, ffn_dim=128, d_ff=128, d_kv=16, vocab_size=500, max_position_embeddings=256, pad_token_id=0)
class M(nn.Module):
    def __init__(self, name, config, given="input_ids", also=None, **more):
        super().__init__()
        plain = getattr(transformers, config)()
        own = {k: v for k, v in SIZES.items() if type(getattr(plain, k, "")) in (int, type(None))}
        made = getattr(transformers, config)(**{**own, **more})
        made.use_cache = False
        self.model, self.given, self.also = getattr(transformers, name)(made), given, also
    def forward(self, x):
        more = self.also(x) if self.also else {}
        return self.model(**{self.given: x}, **more, return_dict=False)[0]
class Inside(nn.Module):
    "the model computes its loss"
    def __init__(self, name, config, classes=0, **more):
        super().__init__()
        self.m, self.classes = M(name, config, **more).model, classes
    def forward(self, x):
        labels = x if not self.classes else x[:, 0] % self.classes
        return self.m(input_ids=x, labels=labels).loss
"""
LONG = "torch.ones(b, 128, dtype=torch.long)"
SHORT = "torch.ones(b, 32, dtype=torch.long)"
AUDIO = "torch.rand(b, 4000)"
FRAMES = "torch.rand(b, 100, 80)"
CONV = "conv_dim=(32, 32, 32), conv_stride=(5, 4, 4), conv_kernel=(10, 4, 4), num_conv_pos_embeddings=16, "
SERIES = "torch.rand(b, 24)"

HUGGING = (
    ("longformer", "'LongformerForSequenceClassification', 'LongformerConfig', attention_window=32", LONG),
    ("bigbird", "'BigBirdForSequenceClassification', 'BigBirdConfig', block_size=8, num_random_blocks=2", LONG),
    (
        "perceiver_text",
        "'PerceiverForMaskedLM', 'PerceiverConfig', num_latents=16, d_latents=64, num_blocks=1, "
        "num_self_attends_per_block=2, num_self_attention_heads=4, num_cross_attention_heads=4, qk_channels=32, "
        "v_channels=64",
        SHORT,
    ),
    (
        "wav2vec2",
        f"'Wav2Vec2ForCTC', 'Wav2Vec2Config', 'input_values', {CONV} num_feat_extract_layers=3, "
        "apply_spec_augment=False, num_conv_pos_embedding_groups=4",
        AUDIO,
    ),
    (
        "hubert",
        f"'HubertForSequenceClassification', 'HubertConfig', 'input_values', {CONV} "
        "num_feat_extract_layers=3, apply_spec_augment=False, num_conv_pos_embedding_groups=4",
        AUDIO,
    ),
    (
        "wavlm",
        f"'WavLMModel', 'WavLMConfig', 'input_values', {CONV} num_feat_extract_layers=3, "
        "apply_spec_augment=False, num_conv_pos_embedding_groups=4",
        AUDIO,
    ),
    (
        "sew",
        f"'SEWForCTC', 'SEWConfig', 'input_values', {CONV} num_feat_extract_layers=3, apply_spec_augment=False, "
        "num_conv_pos_embedding_groups=4",
        AUDIO,
    ),
    (
        "data2vec_audio",
        f"'Data2VecAudioForCTC', 'Data2VecAudioConfig', 'input_values', {CONV} "
        "num_feat_extract_layers=3, apply_spec_augment=False, num_conv_pos_embedding_groups=4",
        AUDIO,
    ),
    (
        "speech_to_text",
        "'Speech2TextForConditionalGeneration', 'Speech2TextConfig', 'input_features', lambda x: dict("
        "decoder_input_ids=torch.ones(x.shape[0], 16, dtype=torch.long, device=x.device)), conv_channels=64, "
        "max_source_positions=100, max_target_positions=64",
        FRAMES,
    ),
    ("ast", "'ASTForAudioClassification', 'ASTConfig', 'input_values', max_length=100, num_mel_bins=80", FRAMES),
    (
        "yolos",
        "'YolosForObjectDetection', 'YolosConfig', 'pixel_values', image_size=[64, 64], " "num_detection_tokens=10",
        PICTURE,
    ),
    ("detr", "'DetrModel', 'DetrConfig', 'pixel_values', use_pretrained_backbone=False, num_queries=10", PICTURE),
    (
        "segformer_seg",
        "'SegformerForSemanticSegmentation', 'SegformerConfig', 'pixel_values', "
        "hidden_sizes=[16, 32, 48, 64], depths=[1, 1, 1, 1], num_attention_heads=[1, 2, 3, 4], decoder_hidden_size=32",
        PICTURE,
    ),
    (
        "dpt",
        "'DPTForDepthEstimation', 'DPTConfig', 'pixel_values', image_size=64, backbone_out_indices=[0, 1, 2, 3], "
        "num_hidden_layers=4, "
        "neck_hidden_sizes=[16, 24, 32, 48], fusion_hidden_size=32, is_hybrid=False",
        PICTURE,
    ),
    (
        "beit_seg",
        "'BeitForSemanticSegmentation', 'BeitConfig', 'pixel_values', image_size=64, num_hidden_layers=4, "
        "out_indices=[1, 2, 3, 4]",
        PICTURE,
    ),
    (
        "upernet",
        "'UperNetForSemanticSegmentation', 'UperNetConfig', 'pixel_values', hidden_size=32, "
        "auxiliary_channels=48, backbone_config=transformers.ConvNextConfig(hidden_sizes=[16, 24, 32, 48], "
        "depths=[1, 1, 1, 1], out_features=['stage1', 'stage2', 'stage3', 'stage4']), auxiliary_in_channels=32",
        PICTURE,
    ),
    (
        "glpn",
        "'GLPNForDepthEstimation', 'GLPNConfig', 'pixel_values', hidden_sizes=[16, 32, 48, 64], "
        "depths=[1, 1, 1, 1], num_attention_heads=[1, 2, 3, 4], decoder_hidden_size=32",
        PICTURE,
    ),
    (
        "vitdet",
        "'VitDetModel', 'VitDetConfig', 'pixel_values', image_size=64, pretrain_image_size=64, "
        "window_block_indices=[0], window_size=2, use_relative_position_embeddings=True",
        PICTURE,
    ),
    (
        "swin2sr",
        "'Swin2SRForImageSuperResolution', 'Swin2SRConfig', 'pixel_values', image_size=32, embed_dim=32, "
        "depths=[2], num_heads=[2], window_size=8",
        SMALLER,
    ),
    (
        "sam_vision",
        "'SamVisionModel', 'SamVisionConfig', 'pixel_values', image_size=64, window_size=2, "
        "global_attn_indexes=[1], output_channels=32, mlp_dim=128",
        PICTURE,
    ),
    ("blip_vision", "'BlipVisionModel', 'BlipVisionConfig', 'pixel_values', image_size=64", PICTURE),
    (
        "groupvit_vision",
        "'GroupViTVisionModel', 'GroupViTVisionConfig', 'pixel_values', image_size=64, "
        "depths=[1, 1, 1], num_group_tokens=[8, 4, 0], num_output_groups=[8, 4, 0]",
        PICTURE,
    ),
    (
        "videomae",
        "'VideoMAEForVideoClassification', 'VideoMAEConfig', 'pixel_values', image_size=32, num_frames=4",
        "torch.rand(b, 4, 3, 32, 32)",
    ),
    (
        "timesformer",
        "'TimesformerForVideoClassification', 'TimesformerConfig', 'pixel_values', image_size=32, " "num_frames=4",
        "torch.rand(b, 4, 3, 32, 32)",
    ),
    (
        "vivit",
        "'VivitForVideoClassification', 'VivitConfig', 'pixel_values', image_size=32, num_frames=4",
        "torch.rand(b, 4, 3, 32, 32)",
    ),
    (
        "depth_anything",
        "'DepthAnythingForDepthEstimation', 'DepthAnythingConfig', 'pixel_values', "
        "backbone_config=transformers.Dinov2Config(hidden_size=64, num_hidden_layers=4, num_attention_heads=4, "
        "image_size=56, out_indices=[1, 2, 3, 4], reshape_hidden_states=False), reassemble_hidden_size=64, "
        "neck_hidden_sizes=[16, 24, 32, 48], fusion_hidden_size=32",
        "torch.rand(b, 3, 56, 56)",
    ),
    (
        "vilt",
        "'ViltForQuestionAnswering', 'ViltConfig', 'input_ids', lambda x: dict(pixel_values=torch.ones("
        "x.shape[0], 3, 64, 64, device=x.device)), image_size=64",
        SHORT,
    ),
    ("clip_text", "'CLIPTextModelWithProjection', 'CLIPTextConfig', projection_dim=32, eos_token_id=2", SHORT),
    (
        "layoutlmv3",
        "'LayoutLMv3ForTokenClassification', 'LayoutLMv3Config', visual_embed=False, "
        "coordinate_size=8, shape_size=16",
        SHORT,
    ),
    ("tapas", "'TapasForSequenceClassification', 'TapasConfig'", SHORT),
    ("canine", "'CanineForSequenceClassification', 'CanineConfig', local_transformer_stride=32", LONG),
    (
        "mobilebert",
        "'MobileBertForSequenceClassification', 'MobileBertConfig', intra_bottleneck_size=32, " "true_hidden_size=32",
        SHORT,
    ),
    (
        "deberta_tokens",
        "'DebertaV2ForTokenClassification', 'DebertaV2Config', relative_attention=True, "
        "position_buckets=16, pos_att_type=['p2c', 'c2p']",
        SHORT,
    ),
    ("t5_encoder", "'T5EncoderModel', 'T5Config', decoder_start_token_id=0", SHORT),
    (
        "switch",
        "'SwitchTransformersEncoderModel', 'SwitchTransformersConfig', num_experts=4, " "num_sparse_encoder_layers=1",
        SHORT,
    ),
    (
        "pegasus",
        "'PegasusForConditionalGeneration', 'PegasusConfig', 'input_ids', lambda x: dict("
        "decoder_input_ids=x[:, :16])",
        SHORT,
    ),
    ("m2m", "'M2M100Model', 'M2M100Config', 'input_ids', lambda x: dict(decoder_input_ids=x[:, :16])", SHORT),
    (
        "decision",
        "'DecisionTransformerModel', 'DecisionTransformerConfig', 'states', lambda x: dict("
        "actions=x[:, :, :4], rewards=x[:, :, :1], returns_to_go=x[:, :, :1], timesteps=torch.zeros(x.shape[0], "
        "x.shape[1], dtype=torch.long, device=x.device), attention_mask=torch.ones(x.shape[0], x.shape[1], "
        "device=x.device)), state_dim=17, act_dim=4, hidden_size=64, n_layer=2, n_head=4",
        "torch.rand(b, 20, 17)",
    ),
    (
        "patchtst",
        "'PatchTSTForPrediction', 'PatchTSTConfig', 'past_values', context_length=96, num_input_channels=4, "
        "patch_length=8, patch_stride=8, prediction_length=24",
        "torch.rand(b, 96, 4)",
    ),
    (
        "patchtsmixer",
        "'PatchTSMixerModel', 'PatchTSMixerConfig', 'past_values', context_length=96, "
        "num_input_channels=4, patch_length=8, patch_stride=8",
        "torch.rand(b, 96, 4)",
    ),
    ("qwen3_classes", "'Qwen3ForSequenceClassification', 'Qwen3Config', num_key_value_heads=2, head_dim=16", SHORT),
    ("llama_tokens", "'LlamaForTokenClassification', 'LlamaConfig', num_key_value_heads=2", SHORT),
    ("gemma3_text", "'Gemma3TextModel', 'Gemma3TextConfig', num_key_value_heads=2, head_dim=16", SHORT),
    ("modernbert", "'ModernBertForSequenceClassification', 'ModernBertConfig', reference_compile=False", SHORT),
    ("mamba2", "'Mamba2Model', 'Mamba2Config', num_heads=8, head_dim=16, state_size=16, n_groups=1", SHORT),
    ("vitmae", "'ViTMAEModel', 'ViTMAEConfig', 'pixel_values', image_size=64", PICTURE),
)

INSIDE = (
    ("gpt2_loss", "'GPT2LMHeadModel', 'GPT2Config', n_positions=64", SHORT),
    ("bert_loss", "'BertForSequenceClassification', 'BertConfig', classes=2, num_labels=2", SHORT),
    ("qwen3moe_loss", "'Qwen3ForCausalLM', 'Qwen3Config', num_key_value_heads=2, head_dim=16", SHORT),
    ("bart_loss", "'BartForConditionalGeneration', 'BartConfig'", SHORT),
    ("electra_loss", "'ElectraForTokenClassification', 'ElectraConfig'", SHORT),
)

GRAPHS = """import torch_geometric.nn as g
def ring(n):
    at = torch.arange(n)
    return torch.stack([torch.cat([at, at]), torch.cat([(at + 1) % n, (at + 2) % n])])
class Net(nn.Module):
    "a graph for all, features of nodes as (batch, nodes, features)"
    def __init__(self, *layers, n=64):
        super().__init__()
        self.layers = nn.ModuleList(layers)
        self.register_buffer("edges", ring(n))
    def forward(self, x):
        for layer in self.layers[:-1]:
            x = F.relu(layer(x, self.edges))
        return self.layers[-1](x, self.edges)
class Dense(nn.Module):
    def __init__(self, first, second):
        super().__init__()
        self.first, self.second, self.head = first, second, nn.Linear(64, 4)
        self.register_buffer("adj", (torch.rand(64, 64) > 0.5).float())
    def forward(self, x):
        adj = self.adj.expand(x.shape[0], -1, -1)
        x = F.relu(self.first(x, adj))
        x = F.dropout(x, 0.5, self.training)
        x = self.second(x, adj)
        return F.log_softmax(self.head(x.mean(1)), -1)
"""
NODES = "torch.rand(b, 64, 32)"
GEOMETRIC = (
    ("dense_gcn", "Dense(g.DenseGCNConv(32, 64), g.DenseGCNConv(64, 64))", NODES),
    ("dense_sage", "Dense(g.DenseSAGEConv(32, 64), g.DenseSAGEConv(64, 64))", NODES),
    (
        "dense_gin",
        "Dense(g.DenseGINConv(nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 64))), "
        "g.DenseGraphConv(64, 64))",
        NODES,
    ),
    ("dense_gat", "Dense(g.DenseGATConv(32, 16, heads=4), g.DenseGATConv(64, 64, heads=1))", NODES),
    ("gcn", "Net(g.GCNConv(32, 64), g.GCNConv(64, 8))", NODES),
    ("sage", "Net(g.SAGEConv(32, 64), g.SAGEConv(64, 8))", NODES),
    ("graph_conv", "Net(g.GraphConv(32, 64), g.GraphConv(64, 8))", NODES),
)

LESSONS = """
class Generator(nn.Module):
    def __init__(self, nz=32, ngf=16):
        super().__init__()
        self.main = nn.Sequential(
            nn.ConvTranspose2d(nz, ngf * 4, 4, 1, 0, bias=False), nn.BatchNorm2d(ngf * 4), nn.ReLU(True),
            nn.ConvTranspose2d(ngf * 4, ngf * 2, 4, 2, 1, bias=False), nn.BatchNorm2d(ngf * 2), nn.ReLU(True),
            nn.ConvTranspose2d(ngf * 2, ngf, 4, 2, 1, bias=False), nn.BatchNorm2d(ngf), nn.ReLU(True),
            nn.ConvTranspose2d(ngf, 3, 4, 2, 1, bias=False), nn.Tanh())
    def forward(self, input):
        return self.main(input)
class SelfAttentionGAN(nn.Module):
    def __init__(self, ch=32):
        super().__init__()
        sn = nn.utils.parametrizations.spectral_norm
        self.inp = sn(nn.Conv2d(3, ch, 3, padding=1))
        self.query = sn(nn.Conv2d(ch, ch // 8, 1, bias=False))
        self.key = sn(nn.Conv2d(ch, ch // 8, 1, bias=False))
        self.value = sn(nn.Conv2d(ch, ch // 2, 1, bias=False))
        self.out = sn(nn.Conv2d(ch // 2, ch, 1, bias=False))
        self.gamma = nn.Parameter(torch.ones(()))
        self.fc = sn(nn.Linear(ch, 1))
    def forward(self, x):
        x = F.leaky_relu(self.inp(x), 0.2)
        b, c, h, w = x.shape
        theta = self.query(x).view(b, -1, h * w)
        phi = F.max_pool2d(self.key(x), [2, 2]).view(b, -1, h * w // 4)
        g = F.max_pool2d(self.value(x), [2, 2]).view(b, -1, h * w // 4)
        beta = F.softmax(torch.bmm(theta.transpose(1, 2), phi), dim=-1)
        o = self.out(torch.bmm(g, beta.transpose(1, 2)).view(b, c // 2, h, w))
        x = self.gamma * o + x
        return self.fc(torch.sum(F.relu(x), dim=(2, 3)))
class WaveNetBlock(nn.Module):
    def __init__(self, c, d):
        super().__init__()
        self.d = d
        self.filt = nn.Conv1d(c, c, 2, dilation=d)
        self.gate = nn.Conv1d(c, c, 2, dilation=d)
        self.skip = nn.Conv1d(c, c, 1)
        self.res = nn.Conv1d(c, c, 1)
    def forward(self, x):
        p = F.pad(x, (self.d, 0))
        z = torch.tanh(self.filt(p)) * torch.sigmoid(self.gate(p))
        return x + self.res(z), self.skip(z)
class WaveNet(nn.Module):
    def __init__(self, c=32, classes=64):
        super().__init__()
        self.inp = nn.Conv1d(1, c, 1)
        self.blocks = nn.ModuleList(WaveNetBlock(c, 2 ** i) for _ in range(2) for i in range(4))
        self.end1, self.end2 = nn.Conv1d(c, c, 1), nn.Conv1d(c, classes, 1)
    def forward(self, x):
        x = self.inp(x)
        skips = 0
        for block in self.blocks:
            x, skip = block(x)
            skips = skips + skip
        return self.end2(F.relu(self.end1(F.relu(skips))))
class Encoder(nn.Module):
    def __init__(self, v, h):
        super().__init__()
        self.embedding, self.gru, self.dropout = nn.Embedding(v, h), nn.GRU(h, h, batch_first=True), nn.Dropout(0.1)
    def forward(self, input):
        return self.gru(self.dropout(self.embedding(input)))
class Bahdanau(nn.Module):
    def __init__(self, h):
        super().__init__()
        self.Wa, self.Ua, self.Va = nn.Linear(h, h), nn.Linear(h, h), nn.Linear(h, 1)
    def forward(self, query, keys):
        scores = self.Va(torch.tanh(self.Wa(query) + self.Ua(keys)))
        scores = scores.squeeze(2).unsqueeze(1)
        weights = F.softmax(scores, dim=-1)
        context = torch.bmm(weights, keys)
        return context, weights
class Seq2Seq(nn.Module):
    "the tutorial's translation with attention, teacher forcing"
    def __init__(self, v=300, h=64, length=6):
        super().__init__()
        self.encoder, self.attention, self.length = Encoder(v, h), Bahdanau(h), length
        self.embedding, self.cell, self.out = nn.Embedding(v, h), nn.GRU(2 * h, h, batch_first=True), nn.Linear(h, v)
        self.dropout = nn.Dropout(0.1)
    def forward(self, x):
        keys, hidden = self.encoder(x)
        outputs = []
        for i in range(self.length):
            embedded = self.dropout(self.embedding(x[:, i:i + 1]))
            query = hidden.permute(1, 0, 2)
            context, weights = self.attention(query, keys)
            output, hidden = self.cell(torch.cat((embedded, context), dim=2), hidden)
            outputs.append(self.out(output))
        outputs = torch.cat(outputs, dim=1)
        return F.log_softmax(outputs, dim=-1)
class Prenet(nn.Module):
    def __init__(self, sizes):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(a, b, bias=False) for a, b in zip(sizes[:-1], sizes[1:]))
    def forward(self, x):
        for linear in self.layers:
            x = F.dropout(F.relu(linear(x)), p=0.5, training=True)
        return x
class Postnet(nn.Module):
    def __init__(self, mels=40, c=64):
        super().__init__()
        self.convolutions = nn.ModuleList(
            nn.Sequential(nn.Conv1d(i, o, 5, padding=2), nn.BatchNorm1d(o))
            for i, o in ((mels, c), (c, c), (c, mels)))
    def forward(self, x):
        for i in range(len(self.convolutions) - 1):
            x = F.dropout(torch.tanh(self.convolutions[i](x)), 0.5, self.training)
        x = F.dropout(self.convolutions[-1](x), 0.5, self.training)
        return x
class Tacotron(nn.Module):
    def __init__(self, mels=40, h=64):
        super().__init__()
        self.prenet, self.rnn, self.proj, self.postnet = Prenet([mels, h, h]), nn.LSTM(h, h, 2, batch_first=True), \\
            nn.Linear(h, mels), Postnet(mels)
        self.gate = nn.Linear(h, 1)
    def forward(self, mel):
        hidden, _ = self.rnn(self.prenet(mel))
        mel_out = self.proj(hidden)
        gate = self.gate(hidden).squeeze(-1)
        post = self.postnet(mel_out.transpose(1, 2)).transpose(1, 2)
        post = mel_out + post
        return post * torch.sigmoid(gate).unsqueeze(-1)
class NeRF(nn.Module):
    def __init__(self, w=64, depth=6, skips=(3,), freqs=6):
        super().__init__()
        self.freqs, self.skips = freqs, skips
        ch = 3 + 6 * freqs
        self.pts = nn.ModuleList([nn.Linear(ch, w)] + [
            nn.Linear(w + ch, w) if i in skips else nn.Linear(w, w) for i in range(depth - 1)])
        self.alpha, self.feature, self.views, self.rgb = nn.Linear(w, 1), nn.Linear(w, w), \\
            nn.Linear(w + ch, w // 2), nn.Linear(w // 2, 3)
    def embed(self, x):
        out = [x]
        for i in range(self.freqs):
            for fn in (torch.sin, torch.cos):
                out.append(fn(x * 2.0 ** i))
        return torch.cat(out, -1)
    def forward(self, rays):
        pts, dirs = rays[..., :3], rays[..., 3:6]
        e, d = self.embed(pts), self.embed(dirs)
        h = e
        for i, l in enumerate(self.pts):
            h = F.relu(l(h))
            if i in self.skips:
                h = torch.cat([e, h], -1)
        sigma = F.relu(self.alpha(h))
        h = F.relu(self.views(torch.cat([self.feature(h), d], -1)))
        rgb = torch.sigmoid(self.rgb(h))
        alpha = 1.0 - torch.exp(-sigma[..., 0] * 0.1)
        trans = torch.cumprod(1.0 - alpha + 1e-10, -1)
        weights = alpha * trans
        return torch.sum(weights[..., None] * rgb, -2)
class DeepFM(nn.Module):
    def __init__(self, fields=10, vocab=200, k=16):
        super().__init__()
        self.first, self.second = nn.Embedding(fields * vocab, 1), nn.Embedding(fields * vocab, k)
        self.register_buffer("offsets", torch.arange(fields) * vocab)
        self.bias = nn.Parameter(torch.zeros(1))
        self.mlp = nn.Sequential(nn.Linear(fields * k, 64), nn.BatchNorm1d(64), nn.ReLU(), nn.Dropout(0.2),
                                 nn.Linear(64, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Dropout(0.2), nn.Linear(32, 1))
    def forward(self, x):
        x = x + self.offsets
        linear = self.first(x).sum(dim=1) + self.bias
        e = self.second(x)
        square_of_sum = e.sum(dim=1) ** 2
        sum_of_square = (e ** 2).sum(dim=1)
        fm = 0.5 * (square_of_sum - sum_of_square).sum(1, keepdim=True)
        deep = self.mlp(e.view(e.shape[0], -1))
        return torch.sigmoid(linear + fm + deep).squeeze(1)
class DLRM(nn.Module):
    def __init__(self, tables=6, rows=300, m=16):
        super().__init__()
        self.emb = nn.ModuleList(nn.EmbeddingBag(rows, m, mode="sum") for _ in range(tables))
        self.bot = nn.Sequential(nn.Linear(13, 64), nn.ReLU(), nn.Linear(64, m), nn.ReLU())
        n = tables + 1
        self.top = nn.Sequential(nn.Linear(m + n * (n - 1) // 2, 32), nn.ReLU(), nn.Linear(32, 1), nn.Sigmoid())
        li, lj = torch.tril_indices(n, n, -1)
        self.register_buffer("li", li)
        self.register_buffer("lj", lj)
    def forward(self, dense):
        x = self.bot(dense)
        ids = (dense[:, :6] * 100).long()
        ly = [e(ids[:, i:i + 1]) for i, e in enumerate(self.emb)]
        T = torch.cat([x] + ly, dim=1).view(x.shape[0], -1, x.shape[1])
        Z = torch.bmm(T, torch.transpose(T, 1, 2))
        Zflat = Z[:, self.li, self.lj]
        R = torch.cat([x, Zflat], dim=1)
        return self.top(R)
class Capsules(nn.Module):
    def __init__(self, caps=8, d=8, out=10, od=16, n=288, rounds=3):
        super().__init__()
        self.conv1, self.primary = nn.Conv2d(1, 64, 9), nn.Conv2d(64, caps * d, 9, stride=2)
        self.W = nn.Parameter(torch.randn(1, n, out, od, d) * 0.01)
        self.caps, self.d, self.rounds = caps, d, rounds
    @staticmethod
    def squash(s, dim=-1):
        n2 = (s ** 2).sum(dim=dim, keepdim=True)
        return n2 / (1 + n2) * s / (n2.sqrt() + 1e-8)
    def forward(self, x):
        x = F.relu(self.conv1(x))
        u = self.primary(x)
        u = u.view(x.size(0), -1, self.d)
        u = self.squash(u)
        u_hat = torch.matmul(self.W, u[:, :, None, :, None]).squeeze(-1)
        b = torch.zeros(*u_hat.shape[:3], 1, device=x.device)
        stopped = u_hat.detach()
        for r in range(self.rounds - 1):
            c = F.softmax(b, dim=2)
            v = self.squash((c * stopped).sum(dim=1, keepdim=True))
            b = b + (stopped * v).sum(dim=-1, keepdim=True)
        c = F.softmax(b, dim=2)
        v = self.squash((c * u_hat).sum(dim=1))
        return torch.sqrt((v ** 2).sum(-1))
class VQVAE(nn.Module):
    def __init__(self, k=64, d=16):
        super().__init__()
        self.enc = nn.Sequential(nn.Conv2d(3, 32, 4, 2, 1), nn.ReLU(), nn.Conv2d(32, d, 4, 2, 1))
        self.dec = nn.Sequential(nn.ConvTranspose2d(d, 32, 4, 2, 1), nn.ReLU(), nn.ConvTranspose2d(32, 3, 4, 2, 1))
        self.book = nn.Embedding(k, d)
        self.book.weight.data.uniform_(-1 / k, 1 / k)
    def forward(self, x):
        z = self.enc(x)
        ze = z.permute(0, 2, 3, 1).contiguous()
        flat = ze.view(-1, ze.shape[-1])
        dist = torch.sum(flat ** 2, dim=1, keepdim=True) + torch.sum(self.book.weight ** 2, dim=1) \\
            - 2 * torch.matmul(flat, self.book.weight.t())
        index = torch.argmin(dist, dim=1)
        zq = self.book(index).view(ze.shape)
        loss = F.mse_loss(zq, ze.detach()) + 0.25 * F.mse_loss(zq.detach(), ze)
        zq = ze + (zq - ze).detach()
        out = self.dec(zq.permute(0, 3, 1, 2))
        return F.mse_loss(out, x) + loss
class Coupling(nn.Module):
    def __init__(self, mask, h=64):
        super().__init__()
        d = len(mask)
        self.register_buffer("mask", mask)
        self.s = nn.Sequential(nn.Linear(d, h), nn.LeakyReLU(), nn.Linear(h, h), nn.LeakyReLU(), nn.Linear(h, d),
                               nn.Tanh())
        self.t = nn.Sequential(nn.Linear(d, h), nn.LeakyReLU(), nn.Linear(h, h), nn.LeakyReLU(), nn.Linear(h, d))
    def forward(self, x):
        xm = x * self.mask
        s = self.s(xm) * (1 - self.mask)
        t = self.t(xm) * (1 - self.mask)
        return xm + (1 - self.mask) * (x * torch.exp(s) + t), s.sum(-1)
class Flow(nn.Module):
    "RealNVP, the negative log-likelihood in forward"
    def __init__(self, d=32, n=4):
        super().__init__()
        mask = (torch.arange(d) % 2).float()
        self.layers = nn.ModuleList(Coupling(mask if i % 2 else 1 - mask) for i in range(n))
    def forward(self, x):
        log_det = x.new_zeros(x.shape[0])
        for layer in self.layers:
            x, ld = layer(x)
            log_det = log_det + ld
        log_prob = -0.5 * (x ** 2).sum(-1) - 0.5 * x.shape[-1] * 1.8378770664
        return -(log_prob + log_det).mean()
class WordModel(nn.Module):
    def __init__(self, rnn, v=400, h=64, tie=True):
        super().__init__()
        self.drop, self.encoder, self.decoder = nn.Dropout(0.2), nn.Embedding(v, h), nn.Linear(h, v)
        self.rnn = getattr(nn, rnn)(h, h, 2, dropout=0.2, batch_first=True)
        if tie:
            self.decoder.weight = self.encoder.weight
    def forward(self, x):
        emb = self.drop(self.encoder(x))
        output, hidden = self.rnn(emb)
        output = self.drop(output)
        decoded = self.decoder(output)
        return F.log_softmax(decoded.view(-1, decoded.shape[-1]), dim=1).view_as(decoded)
class ODE(nn.Module):
    def __init__(self, d=64, steps=4):
        super().__init__()
        self.net, self.steps = nn.Sequential(nn.Linear(d, 128), nn.Tanh(), nn.Linear(128, d)), steps
        self.head = nn.Linear(d, 10)
    def forward(self, y):
        dt = 1.0 / self.steps
        for _ in range(self.steps):
            k1 = self.net(y)
            k2 = self.net(y + dt * k1 / 2)
            k3 = self.net(y + dt * k2 / 2)
            k4 = self.net(y + dt * k3)
            y = y + dt * (k1 + 2 * k2 + 2 * k3 + k4) / 6
        return self.head(y)
class Siamese(nn.Module):
    "two pictures side by side, the contrastive loss in forward"
    def __init__(self):
        super().__init__()
        self.cnn = nn.Sequential(nn.Conv2d(1, 16, 5), nn.ReLU(inplace=True), nn.MaxPool2d(2), nn.Conv2d(16, 32, 5),
                                 nn.ReLU(inplace=True), nn.MaxPool2d(2))
        self.fc = nn.Sequential(nn.Linear(32 * 4 * 4, 64), nn.ReLU(inplace=True), nn.Linear(64, 16))
    def once(self, x):
        x = self.cnn(x)
        return self.fc(x.view(x.size(0), -1))
    def forward(self, pair):
        a, b = self.once(pair[:, :1]), self.once(pair[:, 1:])
        d = F.pairwise_distance(a, b)
        label = pair[:, 0, 0, 0] > 0.5
        return torch.mean((~label) * d.pow(2) + label * torch.clamp(2.0 - d, min=0.0).pow(2))
class Masked(nn.Conv2d):
    def __init__(self, kind, *a, **k):
        super().__init__(*a, **k)
        mask = torch.ones_like(self.weight)
        h, w = mask.shape[2:]
        mask[:, :, h // 2, w // 2 + (kind == "B"):] = 0
        mask[:, :, h // 2 + 1:] = 0
        self.register_buffer("mask", mask)
    def forward(self, x):
        return F.conv2d(x, self.weight * self.mask, self.bias, self.stride, self.padding)
class PixelCNN(nn.Module):
    def __init__(self, c=32):
        super().__init__()
        self.net = nn.Sequential(Masked("A", 1, c, 7, padding=3), nn.BatchNorm2d(c), nn.ReLU(True),
                                 Masked("B", c, c, 7, padding=3), nn.BatchNorm2d(c), nn.ReLU(True),
                                 Masked("B", c, c, 7, padding=3), nn.BatchNorm2d(c), nn.ReLU(True), nn.Conv2d(c, 16, 1))
    def forward(self, x):
        return self.net(x)
class Contrast(nn.Module):
    "SimCLR: two views, NT-Xent in forward"
    def __init__(self, t=0.5):
        super().__init__()
        self.f = nn.Sequential(nn.Conv2d(3, 32, 3, 2, 1), nn.BatchNorm2d(32), nn.ReLU(), nn.Conv2d(32, 64, 3, 2, 1),
                               nn.BatchNorm2d(64), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten())
        self.g, self.t = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 32)), t
    def forward(self, x):
        z1 = F.normalize(self.g(self.f(x)), dim=1)
        z2 = F.normalize(self.g(self.f(x.flip(3))), dim=1)
        z = torch.cat([z1, z2], dim=0)
        sim = torch.mm(z, z.t()) / self.t
        sim = sim.masked_fill(torch.eye(sim.shape[0], dtype=torch.bool, device=x.device), -9e15)
        n = x.shape[0]
        pos = torch.cat([torch.diag(sim, n), torch.diag(sim, -n)])
        return (-pos + torch.logsumexp(sim, dim=-1)).mean()
class DoubleConv(nn.Module):
    def __init__(self, i, o):
        super().__init__()
        self.conv = nn.Sequential(nn.Conv2d(i, o, 3, padding=1), nn.BatchNorm2d(o), nn.ReLU(inplace=True),
                                  nn.Conv2d(o, o, 3, padding=1), nn.BatchNorm2d(o), nn.ReLU(inplace=True))
    def forward(self, x):
        return self.conv(x)
class UNET(nn.Module):
    def __init__(self, features=(16, 32, 64)):
        super().__init__()
        self.ups, self.downs, self.pool = nn.ModuleList(), nn.ModuleList(), nn.MaxPool2d(2, 2)
        i = 3
        for f in features:
            self.downs.append(DoubleConv(i, f))
            i = f
        for f in reversed(features):
            self.ups.append(nn.ConvTranspose2d(f * 2, f, 2, 2))
            self.ups.append(DoubleConv(f * 2, f))
        self.bottleneck = DoubleConv(features[-1], features[-1] * 2)
        self.final_conv = nn.Conv2d(features[0], 1, 1)
    def forward(self, x):
        skip_connections = []
        for down in self.downs:
            x = down(x)
            skip_connections.append(x)
            x = self.pool(x)
        x = self.bottleneck(x)
        skip_connections = skip_connections[::-1]
        for idx in range(0, len(self.ups), 2):
            x = self.ups[idx](x)
            skip_connection = skip_connections[idx // 2]
            concat_skip = torch.cat((skip_connection, x), dim=1)
            x = self.ups[idx + 1](concat_skip)
        return self.final_conv(x)
class ActorCritic(nn.Module):
    def __init__(self, n=6):
        super().__init__()
        self.conv1, self.conv2, self.conv3 = nn.Conv2d(4, 16, 8, 4), nn.Conv2d(16, 32, 4, 2), nn.Conv2d(32, 32, 3)
        self.fc, self.actor, self.critic = nn.Linear(32 * 49, 128), nn.Linear(128, n), nn.Linear(128, 1)
    def forward(self, x):
        x = x / 255.0
        x = F.relu(self.conv1(x)); x = F.relu(self.conv2(x)); x = F.relu(self.conv3(x))
        x = F.relu(self.fc(x.flatten(1)))
        logits, value = self.actor(x), self.critic(x)
        logp = F.log_softmax(logits, -1)
        adv = (1.0 - value).squeeze(-1)
        entropy = -(logp.exp() * logp).sum(-1).mean()
        return -(logp[:, 0] * adv.detach()).mean() + 0.5 * adv.pow(2).mean() - 0.01 * entropy
class Highway(nn.Module):
    def __init__(self, size, n=3):
        super().__init__()
        self.nonlinear, self.linear, self.gate = (nn.ModuleList(nn.Linear(size, size) for _ in range(n))
                                                  for _ in range(3))
    def forward(self, x):
        for i in range(len(self.gate)):
            gate = torch.sigmoid(self.gate[i](x))
            nonlinear = F.relu(self.nonlinear[i](x))
            linear = self.linear[i](x)
            x = gate * nonlinear + (1 - gate) * linear
        return x
class BiDAF(nn.Module):
    def __init__(self, v=400, h=32):
        super().__init__()
        self.emb, self.highway, self.lstm = nn.Embedding(v, h), Highway(h), nn.LSTM(h, h, bidirectional=True,
                                                                                  batch_first=True)
        self.w = nn.Linear(6 * h, 1, bias=False)
        self.p1, self.p2 = nn.Linear(8 * h, 1), nn.Linear(8 * h, 1)
    def forward(self, x):
        c, q = x[:, :48], x[:, 48:]
        c, _ = self.lstm(self.highway(self.emb(c)))
        q, _ = self.lstm(self.highway(self.emb(q)))
        cl, ql = c.size(1), q.size(1)
        ce = c.unsqueeze(2).expand(-1, -1, ql, -1)
        qe = q.unsqueeze(1).expand(-1, cl, -1, -1)
        s = self.w(torch.cat([ce, qe, ce * qe], -1)).squeeze(-1)
        a = torch.bmm(F.softmax(s, dim=2), q)
        b = F.softmax(torch.max(s, 2)[0], dim=1).unsqueeze(1)
        q2c = torch.bmm(b, c).repeat(1, cl, 1)
        g = torch.cat([c, a, c * a, c * q2c], dim=-1)
        return torch.stack([self.p1(g).squeeze(-1), self.p2(g).squeeze(-1)], 1)
class SpatialTransformer(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1, self.conv2, self.drop = nn.Conv2d(1, 10, 5), nn.Conv2d(10, 20, 5), nn.Dropout2d()
        self.fc1, self.fc2 = nn.Linear(320, 50), nn.Linear(50, 10)
        self.localization = nn.Sequential(nn.Conv2d(1, 8, 7), nn.MaxPool2d(2, 2), nn.ReLU(True), nn.Conv2d(8, 10, 5),
                                          nn.MaxPool2d(2, 2), nn.ReLU(True))
        self.fc_loc = nn.Sequential(nn.Linear(90, 32), nn.ReLU(True), nn.Linear(32, 6))
    def stn(self, x):
        xs = self.localization(x)
        xs = xs.view(-1, 90)
        theta = self.fc_loc(xs)
        theta = theta.view(-1, 2, 3)
        grid = F.affine_grid(theta, x.size())
        x = F.grid_sample(x, grid)
        return x
    def forward(self, x):
        x = self.stn(x)
        x = F.relu(F.max_pool2d(self.conv1(x), 2))
        x = F.relu(F.max_pool2d(self.drop(self.conv2(x)), 2))
        x = x.view(-1, 320)
        x = F.relu(self.fc1(x))
        x = F.dropout(x, training=self.training)
        x = self.fc2(x)
        return F.log_softmax(x, dim=1)
class PositionalEncoding(nn.Module):
    def __init__(self, d, drop=0.1, most=256):
        super().__init__()
        self.dropout = nn.Dropout(p=drop)
        position = torch.arange(most).unsqueeze(1)
        div = torch.exp(torch.arange(0, d, 2) * (-9.21 / d))
        pe = torch.zeros(1, most, d)
        pe[0, :, 0::2] = torch.sin(position * div)
        pe[0, :, 1::2] = torch.cos(position * div)
        self.register_buffer("pe", pe)
    def forward(self, x):
        x = x + self.pe[:, :x.size(1)]
        return self.dropout(x)
class Translate(nn.Module):
    "nn.Transformer with its masks, as the tutorial has it"
    def __init__(self, v=300, d=64):
        super().__init__()
        self.src, self.tgt, self.pos = nn.Embedding(v, d), nn.Embedding(v, d), PositionalEncoding(d)
        self.transformer = nn.Transformer(d, 4, 2, 2, 128, 0.1, batch_first=True)
        self.generator, self.d = nn.Linear(d, v), d
    def forward(self, x):
        src, tgt = x[:, :32], x[:, 32:]
        mask = nn.Transformer.generate_square_subsequent_mask(tgt.size(1)).to(x.device)
        pad = src == 0
        s = self.pos(self.src(src) * self.d ** 0.5)
        t = self.pos(self.tgt(tgt) * self.d ** 0.5)
        out = self.transformer(s, t, None, mask, None, pad, None, pad)
        return self.generator(out)
class MADE(nn.Module):
    def __init__(self, d=64, h=128):
        super().__init__()
        self.l1, self.l2, self.l3 = nn.Linear(d, h), nn.Linear(h, h), nn.Linear(h, 2 * d)
        m0, m1 = torch.arange(d), torch.arange(h) % (d - 1)
        self.register_buffer("m1", (m1[:, None] >= m0[None]).float())
        self.register_buffer("m2", (m1[:, None] >= m1[None]).float())
        self.register_buffer("m3", (m0[:, None] > m1[None]).float().repeat(2, 1))
    def forward(self, x):
        h = F.relu(F.linear(x, self.m1 * self.l1.weight, self.l1.bias))
        h = F.relu(F.linear(h, self.m2 * self.l2.weight, self.l2.bias))
        mu, logs = F.linear(h, self.m3 * self.l3.weight, self.l3.bias).chunk(2, dim=1)
        u = (x - mu) * torch.exp(-logs)
        return (0.5 * u ** 2 + logs).sum(1).mean()
class Prototypes(nn.Module):
    def __init__(self, way=3, shot=2):
        super().__init__()
        def block(i, o):
            return nn.Sequential(nn.Conv2d(i, o, 3, padding=1), nn.BatchNorm2d(o), nn.ReLU(), nn.MaxPool2d(2))
        self.encoder = nn.Sequential(block(1, 32), block(32, 32), block(32, 32), nn.Flatten())
        self.way, self.shot = way, shot
    def forward(self, x):
        b, n = x.shape[:2]
        z = self.encoder(x.reshape(b * n, 1, 28, 28)).view(b, n, -1)
        support, query = z[:, :self.way * self.shot], z[:, self.way * self.shot:]
        proto = support.view(b, self.way, self.shot, -1).mean(2)
        return -torch.cdist(query, proto) ** 2
class KANLayer(nn.Module):
    def __init__(self, i, o, n=8):
        super().__init__()
        self.base = nn.Linear(i, o)
        self.coef = nn.Parameter(torch.randn(i, o, n) * 0.1)
        self.register_buffer("grid", torch.linspace(-1, 1, n))
    def forward(self, x):
        rbf = torch.exp(-((x.unsqueeze(-1) - self.grid) * 4) ** 2)
        return self.base(F.silu(x)) + torch.einsum("bin,ion->bo", rbf, self.coef)
class NGram(nn.Module):
    def __init__(self, v=500, d=16, context=8):
        super().__init__()
        self.embeddings, self.linear1, self.linear2 = nn.Embedding(v, d), nn.Linear(context * d, 128), nn.Linear(128, v)
    def forward(self, inputs):
        embeds = self.embeddings(inputs).view((inputs.shape[0], -1))
        out = F.relu(self.linear1(embeds))
        out = self.linear2(out)
        log_probs = F.log_softmax(out, dim=1)
        return log_probs
class BasicBlock(nn.Module):
    def __init__(self, i, o, stride=1):
        super(BasicBlock, self).__init__()
        self.conv1 = nn.Conv2d(i, o, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(o)
        self.conv2 = nn.Conv2d(o, o, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(o)
        self.relu = nn.ReLU(inplace=True)
        self.downsample = None if stride == 1 and i == o else nn.Sequential(nn.Conv2d(i, o, 1, stride, bias=False),
                                                                             nn.BatchNorm2d(o))
    def forward(self, x):
        identity = x
        out = self.conv1(x)
        out = self.bn1(out)
        out = self.relu(out)
        out = self.conv2(out)
        out = self.bn2(out)
        if self.downsample is not None:
            identity = self.downsample(x)
        out += identity
        out = self.relu(out)
        return out
class VideoLSTM(nn.Module):
    "frames through a CNN, then an LSTM"
    def __init__(self):
        super().__init__()
        self.cnn = nn.Sequential(BasicBlock(3, 16, 2), BasicBlock(16, 32, 2), nn.AdaptiveAvgPool2d(1))
        self.lstm, self.fc = nn.LSTM(32, 64, 1, batch_first=True), nn.Linear(64, 10)
    def forward(self, clip):
        b, t = clip.shape[:2]
        f = self.cnn(clip.flatten(0, 1)).flatten(1)
        out, (h, c) = self.lstm(f.view(b, t, -1))
        return self.fc(h[-1])
class Style(nn.Module):
    "perceptual loss: Gram matrices of frozen features"
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Conv2d(3, 16, 9, padding=4), nn.InstanceNorm2d(16, affine=True), nn.ReLU(),
                                 nn.Conv2d(16, 3, 9, padding=4), nn.Sigmoid())
        self.f1, self.f2 = nn.Conv2d(3, 16, 3, padding=1), nn.Conv2d(16, 32, 3, padding=1)
        for p in list(self.f1.parameters()) + list(self.f2.parameters()):
            p.requires_grad = False
    @staticmethod
    def gram(x):
        b, c, h, w = x.size()
        f = x.view(b, c, h * w)
        return f.bmm(f.transpose(1, 2)) / (c * h * w)
    def features(self, x):
        a = F.relu(self.f1(x))
        return a, F.relu(self.f2(F.avg_pool2d(a, 2)))
    def forward(self, x):
        y = self.net(x)
        loss = 0.0
        for fy, fx in zip(self.features(y), self.features(x)):
            loss += F.mse_loss(self.gram(fy), self.gram(fx))
        return loss + F.mse_loss(self.features(y)[1], self.features(x)[1])
"""
CLIP = "torch.rand(b, 4, 3, 32, 32)"
NETS = (
    ("dcgan", "Generator()", "torch.rand(b, 32, 1, 1)", ""),
    ("sagan", "SelfAttentionGAN()", SMALLER, ""),
    ("wavenet", "WaveNet()", "torch.rand(b, 1, 512)", ""),
    ("seq2seq", "Seq2Seq()", "torch.ones(b, 12, dtype=torch.long)", ""),
    ("tacotron", "Tacotron()", "torch.rand(b, 50, 40)", ""),
    ("nerf", "NeRF()", "torch.rand(b, 32, 6)", ""),
    ("deepfm", "DeepFM()", "torch.ones(b, 10, dtype=torch.long)", ""),
    ("dlrm", "DLRM()", "torch.rand(b, 13)", ""),
    ("capsules", "Capsules()", "torch.rand(b, 1, 28, 28)", ""),
    ("vqvae", "VQVAE()", SMALLER, "output"),
    ("flow", "Flow()", "torch.rand(b, 32)", "output"),
    ("gru_lm", "WordModel('GRU')", SHORT, ""),
    ("lstm_lm", "WordModel('LSTM')", SHORT, ""),
    ("ode", "ODE()", "torch.rand(b, 64)", ""),
    ("siamese", "Siamese()", "torch.rand(b, 2, 28, 28)", "output"),
    ("pixelcnn", "PixelCNN()", "torch.rand(b, 1, 28, 28)", ""),
    ("simclr", "Contrast()", SMALLER, "output"),
    ("unet", "UNET()", PICTURE, ""),
    ("actor_critic", "ActorCritic()", "torch.rand(b, 4, 84, 84)", "output"),
    ("bidaf", "BiDAF()", "torch.ones(b, 60, dtype=torch.long)", ""),
    ("stn", "SpatialTransformer()", "torch.rand(b, 1, 28, 28)", ""),
    ("translate", "Translate()", "torch.ones(b, 56, dtype=torch.long)", ""),
    ("made", "MADE()", "torch.rand(b, 64)", "output"),
    ("prototypes", "Prototypes()", "torch.rand(b, 12, 28, 28)", ""),
    ("kan", "nn.Sequential(KANLayer(32, 64), KANLayer(64, 8))", "torch.rand(b, 32)", ""),
    ("ngram", "NGram()", "torch.ones(b, 8, dtype=torch.long)", ""),
    ("video", "VideoLSTM()", CLIP, ""),
    ("style", "Style()", SMALLER, "output"),
)

# The second set: written down when the first had been looked at, and before any of these was run.
AFTER = (
    ("siglip_vision", "'SiglipVisionModel', 'SiglipVisionConfig', 'pixel_values', image_size=64", PICTURE),
    (
        "hiera",
        "'HieraForImageClassification', 'HieraConfig', 'pixel_values', image_size=[64, 64], embed_dim=16, "
        "depths=[1, 1, 1, 1], num_heads=[1, 2, 2, 2], masked_unit_size=[8, 8]",
        PICTURE,
    ),
    (
        "pvt",
        "'PvtForImageClassification', 'PvtConfig', 'pixel_values', image_size=64, hidden_sizes=[16, 32, 48, 64], "
        "depths=[1, 1, 1, 1], num_attention_heads=[1, 2, 3, 4]",
        PICTURE,
    ),
    (
        "swiftformer",
        "'SwiftFormerForImageClassification', 'SwiftFormerConfig', 'pixel_values', embed_dims=[16, 24, 32, "
        "48], depths=[1, 1, 1, 1]",
        PICTURE,
    ),
    ("mobilevitv2", "'MobileViTV2ForImageClassification', 'MobileViTV2Config', 'pixel_values', image_size=64", PICTURE),
    (
        "resnet",
        "'ResNetForImageClassification', 'ResNetConfig', 'pixel_values', embedding_size=16, hidden_sizes=[16, "
        "32, 48, 64], depths=[1, 1, 1, 1]",
        PICTURE,
    ),
    (
        "data2vec_vision",
        "'Data2VecVisionForImageClassification', 'Data2VecVisionConfig', 'pixel_values', image_size=64",
        PICTURE,
    ),
    ("olmoe", "'OlmoeModel', 'OlmoeConfig', num_experts=4, num_experts_per_tok=2, num_key_value_heads=2", SHORT),
    ("stablelm", "'StableLmModel', 'StableLmConfig', num_key_value_heads=4", SHORT),
    ("starcoder2", "'Starcoder2ForSequenceClassification', 'Starcoder2Config', num_key_value_heads=2", SHORT),
    ("phi3", "'Phi3ForTokenClassification', 'Phi3Config', num_key_value_heads=2", SHORT),
    ("cohere", "'CohereModel', 'CohereConfig', num_key_value_heads=2", SHORT),
    ("albert_tokens", "'AlbertForTokenClassification', 'AlbertConfig'", SHORT),
    (
        "encodec",
        "'EncodecModel', 'EncodecConfig', 'input_values', num_filters=8, num_lstm_layers=1, codebook_size=32",
        "torch.rand(b, 1, 2000)",
    ),
)
LATER = """
class SEBlock(nn.Module):
    def __init__(self, c, r=4):
        super().__init__()
        self.squeeze = nn.AdaptiveAvgPool2d(1)
        self.excite = nn.Sequential(nn.Linear(c, c // r, bias=False), nn.ReLU(inplace=True),
                                    nn.Linear(c // r, c, bias=False), nn.Sigmoid())
    def forward(self, x):
        b, c, _, _ = x.size()
        y = self.squeeze(x).view(b, c)
        y = self.excite(y).view(b, c, 1, 1)
        return x * y.expand_as(x)
class Bottleneck(nn.Module):
    def __init__(self, i, o, stride=1):
        super().__init__()
        m = o // 4
        self.conv1, self.bn1 = nn.Conv2d(i, m, 1, bias=False), nn.BatchNorm2d(m)
        self.conv2, self.bn2 = nn.Conv2d(m, m, 3, stride, 1, groups=4, bias=False), nn.BatchNorm2d(m)
        self.conv3, self.bn3 = nn.Conv2d(m, o, 1, bias=False), nn.BatchNorm2d(o)
        self.se = SEBlock(o)
        self.shortcut = nn.Sequential()
        if stride != 1 or i != o:
            self.shortcut = nn.Sequential(nn.Conv2d(i, o, 1, stride, bias=False), nn.BatchNorm2d(o))
    def forward(self, x):
        out = F.relu(self.bn1(self.conv1(x)))
        out = F.relu(self.bn2(self.conv2(out)))
        out = self.bn3(self.conv3(out))
        out = self.se(out)
        out += self.shortcut(x)
        return F.relu(out)
class SEResNeXt(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.bn = nn.Conv2d(3, 32, 3, padding=1, bias=False), nn.BatchNorm2d(32)
        self.layers = nn.Sequential(Bottleneck(32, 64), Bottleneck(64, 64), Bottleneck(64, 128, 2))
        self.linear = nn.Linear(128, 10)
    def forward(self, x):
        out = F.relu(self.bn(self.conv(x)))
        out = self.layers(out)
        out = F.avg_pool2d(out, 4)
        out = out.view(out.size(0), -1)
        return self.linear(F.adaptive_avg_pool1d(out.unsqueeze(1), 128).squeeze(1))
class Inception(nn.Module):
    def __init__(self, i, c=16):
        super().__init__()
        self.b1 = nn.Conv2d(i, c, 1)
        self.b2 = nn.Sequential(nn.Conv2d(i, c, 1), nn.ReLU(), nn.Conv2d(c, c, 3, padding=1))
        self.b3 = nn.Sequential(nn.Conv2d(i, c, 1), nn.ReLU(), nn.Conv2d(c, c, 5, padding=2))
        self.b4 = nn.Sequential(nn.MaxPool2d(3, 1, 1), nn.Conv2d(i, c, 1))
    def forward(self, x):
        return torch.cat([F.relu(b(x)) for b in (self.b1, self.b2, self.b3, self.b4)], 1)
class NBeatsBlock(nn.Module):
    def __init__(self, n, h, theta):
        super().__init__()
        self.fc = nn.ModuleList([nn.Linear(n, 64), nn.Linear(64, 64), nn.Linear(64, 64)])
        self.back, self.fore = nn.Linear(64, n), nn.Linear(64, h)
    def forward(self, x):
        for layer in self.fc:
            x = F.relu(layer(x))
        return self.back(x), self.fore(x)
class NBeats(nn.Module):
    def __init__(self, n=96, h=24, blocks=4):
        super().__init__()
        self.blocks, self.h = nn.ModuleList(NBeatsBlock(n, h, 8) for _ in range(blocks)), h
    def forward(self, x):
        forecast = torch.zeros(x.shape[0], self.h, device=x.device)
        for block in self.blocks:
            b, f = block(x)
            x = x - b
            forecast = forecast + f
        return forecast
class TemporalBlock(nn.Module):
    def __init__(self, i, o, d):
        super().__init__()
        wn = nn.utils.parametrizations.weight_norm
        self.pad = (2 * d, 0)
        self.conv1, self.conv2 = wn(nn.Conv1d(i, o, 3, dilation=d)), wn(nn.Conv1d(o, o, 3, dilation=d))
        self.down = nn.Conv1d(i, o, 1) if i != o else None
        self.dropout = nn.Dropout(0.2)
    def forward(self, x):
        out = self.dropout(F.relu(self.conv1(F.pad(x, self.pad))))
        out = self.dropout(F.relu(self.conv2(F.pad(out, self.pad))))
        res = x if self.down is None else self.down(x)
        return F.relu(out + res)
class MultiHead(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        self.h, self.qkv, self.proj = h, nn.Linear(d, 3 * d, bias=False), nn.Linear(d, d)
        self.drop = nn.Dropout(0.1)
        self.register_buffer("tril", torch.tril(torch.ones(128, 128)))
    def forward(self, x):
        b, t, c = x.shape
        q, k, v = self.qkv(x).chunk(3, dim=-1)
        q, k, v = (z.view(b, t, self.h, c // self.h).transpose(1, 2) for z in (q, k, v))
        wei = q @ k.transpose(-2, -1) * (c // self.h) ** -0.5
        wei = wei.masked_fill(self.tril[:t, :t] == 0, float("-inf"))
        wei = self.drop(F.softmax(wei, dim=-1))
        out = (wei @ v).transpose(1, 2).contiguous().view(b, t, c)
        return self.proj(out)
class Block(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        self.sa, self.ff = MultiHead(d, h), nn.Sequential(nn.Linear(d, 4 * d), nn.ReLU(), nn.Linear(4 * d, d),
                                                          nn.Dropout(0.1))
        self.ln1, self.ln2 = nn.LayerNorm(d), nn.LayerNorm(d)
    def forward(self, x):
        x = x + self.sa(self.ln1(x))
        x = x + self.ff(self.ln2(x))
        return x
class CharGPT(nn.Module):
    "next characters, the loss in forward"
    def __init__(self, v=65, d=64, n=3):
        super().__init__()
        self.tok, self.pos = nn.Embedding(v, d), nn.Embedding(128, d)
        self.blocks, self.ln, self.head = nn.Sequential(*(Block(d, 4) for _ in range(n))), nn.LayerNorm(d), \\
            nn.Linear(d, v)
    def forward(self, idx):
        b, t = idx.shape
        x = self.tok(idx) + self.pos(torch.arange(t, device=idx.device))
        logits = self.head(self.ln(self.blocks(x)))
        b, t, c = logits.shape
        return F.cross_entropy(logits.view(b * t, c), idx.reshape(b * t))
class FPN(nn.Module):
    "three levels, boxes and classes of each"
    def __init__(self, c=32):
        super().__init__()
        self.c1, self.c2, self.c3 = nn.Conv2d(3, c, 3, 2, 1), nn.Conv2d(c, c, 3, 2, 1), nn.Conv2d(c, c, 3, 2, 1)
        self.lat = nn.ModuleList(nn.Conv2d(c, c, 1) for _ in range(3))
        self.cls, self.box = nn.Conv2d(c, 4, 3, padding=1), nn.Conv2d(c, 4, 3, padding=1)
    def forward(self, x):
        c1 = F.relu(self.c1(x))
        c2 = F.relu(self.c2(c1))
        c3 = F.relu(self.c3(c2))
        p3 = self.lat[2](c3)
        p2 = self.lat[1](c2) + F.interpolate(p3, scale_factor=2, mode="nearest")
        p1 = self.lat[0](c1) + F.interpolate(p2, scale_factor=2, mode="nearest")
        out = []
        for p in (p1, p2, p3):
            out.append(torch.cat([self.cls(p), self.box(p).exp()], 1).flatten(2))
        return torch.cat(out, dim=2).permute(0, 2, 1)
class VAE(nn.Module):
    def __init__(self, d=32):
        super().__init__()
        self.fc1, self.fc21, self.fc22, self.fc3, self.fc4 = nn.Linear(784, 256), nn.Linear(256, d), \\
            nn.Linear(256, d), nn.Linear(d, 256), nn.Linear(256, 784)
    def encode(self, x):
        h1 = F.relu(self.fc1(x))
        return self.fc21(h1), self.fc22(h1)
    def reparameterize(self, mu, logvar):
        std = torch.exp(0.5 * logvar)
        eps = torch.randn_like(std)
        return mu + eps * std
    def decode(self, z):
        h3 = F.relu(self.fc3(z))
        return torch.sigmoid(self.fc4(h3))
    def forward(self, x):
        mu, logvar = self.encode(x.view(-1, 784))
        z = self.reparameterize(mu, logvar)
        recon = self.decode(z)
        kld = -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp())
        return F.mse_loss(recon, x.view(-1, 784), reduction="sum") + kld
"""
FURTHER = (
    ("seresnext", "SEResNeXt()", SMALLER, ""),
    (
        "inception",
        "nn.Sequential(nn.Conv2d(3, 32, 3), Inception(32), Inception(64), nn.Conv2d(64, 8, 1))",
        SMALLER,
        "",
    ),
    ("nbeats", "NBeats()", "torch.rand(b, 96)", ""),
    (
        "tcn",
        "nn.Sequential(TemporalBlock(8, 32, 1), TemporalBlock(32, 32, 2), TemporalBlock(32, 32, 4))",
        "torch.rand(b, 8, 128)",
        "",
    ),
    ("char_gpt", "CharGPT()", "torch.ones(b, 64, dtype=torch.long)", "output"),
    ("fpn", "FPN()", PICTURE, ""),
    ("vae", "VAE()", "torch.rand(b, 1, 28, 28)", "output"),
)

# The third set: written down before any of it was run. Libraries' models that no other list has, some of real sizes,
# and nets as repositories have them.
VISION = """import torchvision
from torchvision.models import detection, segmentation, video
class Out(nn.Module):
    def __init__(self, net):
        super().__init__()
        self.net = net
    def forward(self, x):
        return self.net(x)["out"]
class Both(nn.Module):
    "the loss of the reference script: the head's, and half of the auxiliary one's"
    def __init__(self, net):
        super().__init__()
        self.net = net
    def forward(self, image):
        target = (image[:, 0] > 0.5).long()
        losses = {}
        for name, x in self.net(image).items():
            losses[name] = F.cross_entropy(x, target, ignore_index=255)
        return losses["out"] + 0.5 * losses["aux"]
class Retina(nn.Module):
    def __init__(self, classes=20):
        super().__init__()
        self.backbone = detection.backbone_utils.resnet_fpn_backbone(backbone_name="resnet18", weights=None)
        self.head = detection.retinanet.RetinaNetHead(256, 9, classes)
    def forward(self, images):
        features = list(self.backbone(images).values())
        head_outputs = self.head(features)
        return torch.cat([head_outputs["cls_logits"], head_outputs["bbox_regression"]], dim=-1)
"""
MORE_TASKS = TASKS + """
class Real(nn.Module):
    "as its configuration has it; the model computes its loss"
    def __init__(self, name, config, classes=0, masked=True, **more):
        super().__init__()
        made = getattr(transformers, config)(**more)
        made.use_cache = False
        self.model, self.classes, self.masked = getattr(transformers, name)(made), classes, masked
    def forward(self, input_ids):
        labels = input_ids if not self.classes else input_ids[:, 0] % self.classes
        more = dict(attention_mask=torch.ones_like(input_ids)) if self.masked else {}
        return self.model(input_ids=input_ids, labels=labels, **more).loss
class Small(nn.Module):
    "as a trainer calls it: token ids, a mask of ones, labels"
    def __init__(self, name, config, classes=0, **more):
        super().__init__()
        self.model, self.classes = M(name, config, attn_implementation="eager", **more).model, classes
    def forward(self, input_ids):
        mask = torch.ones_like(input_ids)
        if self.classes:
            return self.model(input_ids=input_ids, attention_mask=mask, labels=input_ids[:, 0] % self.classes)[0]
        return self.model(input_ids=input_ids, attention_mask=mask, labels=input_ids)[0]
class Answers(nn.Module):
    def __init__(self, name, config, **more):
        super().__init__()
        self.model = M(name, config, attn_implementation="eager", **more).model
    def forward(self, input_ids):
        at, mask = input_ids[:, 0] % input_ids.shape[1], torch.ones_like(input_ids)
        return self.model(input_ids=input_ids, attention_mask=mask, start_positions=at, end_positions=at).loss
class Queries(nn.Module):
    "a detector's decoder"
    def __init__(self, name, config, **more):
        super().__init__()
        self.model = getattr(transformers, name)(getattr(transformers, config)(**more))
    def forward(self, pixel_values):
        return self.model(pixel_values).last_hidden_state
class Pairs(nn.Module):
    "texts and images, the contrastive loss inside"
    def __init__(self, name, config, text, vision):
        super().__init__()
        self.model = getattr(transformers, name)(getattr(transformers, config)(text_config=text, vision_config=vision))
    def forward(self, pixel_values):
        ids = torch.ones(pixel_values.shape[0], 16, dtype=torch.long, device=pixel_values.device)
        return self.model(input_ids=ids, pixel_values=pixel_values, return_loss=True).loss
class Captions(nn.Module):
    "an encoder of images and a decoder of text"
    def __init__(self):
        super().__init__()
        small = dict(hidden_size=64, num_hidden_layers=2, num_attention_heads=4, intermediate_size=128)
        encoder = transformers.ViTConfig(image_size=64, **small)
        decoder = transformers.TrOCRConfig(vocab_size=500, d_model=64, decoder_layers=2, decoder_attention_heads=4,
            decoder_ffn_dim=128, max_position_embeddings=64, cross_attention_hidden_size=64, use_cache=False)
        config = transformers.VisionEncoderDecoderConfig.from_encoder_decoder_configs(encoder, decoder)
        config.pad_token_id, config.decoder_start_token_id = 0, 1
        self.model = transformers.VisionEncoderDecoderModel(config)
    def forward(self, pixel_values):
        labels = torch.ones(pixel_values.shape[0], 16, dtype=torch.long, device=pixel_values.device)
        return self.model(pixel_values=pixel_values, labels=labels).loss
"""
DENOISERS = """import diffusers
class M(nn.Module):
    def __init__(self, model, **given):
        super().__init__()
        self.model, self.given = model, given
    def forward(self, sample):
        more = {}
        for name, said in self.given.items():
            more[name] = said
            if isinstance(said, tuple):
                more[name] = torch.ones(sample.shape[0], *said[1], dtype=getattr(torch, said[0]), device=sample.device)
        out = self.model(sample, **more, return_dict=False)
        return out[0] if torch.is_tensor(out[0]) else out[1]
"""
SEEN = (
    ("fcn", "Both(segmentation.fcn_resnet50(weights_backbone=None, aux_loss=True))", PICTURE, "output"),
    ("deeplab", "Out(segmentation.deeplabv3_mobilenet_v3_large(weights_backbone=None))", LARGER, ""),
    ("lraspp", "Out(segmentation.lraspp_mobilenet_v3_large(weights_backbone=None))", LARGER, ""),
    ("r3d", "video.r3d_18()", "torch.rand(b, 3, 8, 56, 56)", ""),
    ("s3d", "video.s3d()", "torch.rand(b, 3, 16, 224, 224)", ""),
    ("swin3d", "video.swin3d_t()", "torch.rand(b, 3, 4, 64, 64)", ""),
    ("retina", "Retina()", "torch.rand(b, 3, 128, 128)", ""),
)
TIMMED = (
    "vit_small_patch16_224",
    "convnextv2_tiny",
    "seresnext50_32x4d",
    "eva02_tiny_patch14_224",
    "mobilenetv4_conv_medium",
    "tf_efficientnetv2_b0",
)
W2V = f"{CONV} num_feat_extract_layers=3, apply_spec_augment=False, num_conv_pos_embedding_groups=4"
TOWER = "dict(hidden_size=64, intermediate_size=128, num_hidden_layers=2, num_attention_heads=4"
AGAIN = (
    ("unispeech", f"M('UniSpeechForCTC', 'UniSpeechConfig', 'input_values', {W2V})", AUDIO, ""),
    (
        "conformer",
        f"M('Wav2Vec2ConformerForCTC', 'Wav2Vec2ConformerConfig', 'input_values', {W2V}, conv_depthwise_kernel_size=7)",
        AUDIO,
        "",
    ),
    (
        "w2v_bert",
        "M('Wav2Vec2BertForSequenceClassification', 'Wav2Vec2BertConfig', 'input_features', "
        "feature_projection_input_dim=80, apply_spec_augment=False)",
        FRAMES,
        "",
    ),
    (
        "clip",
        f"Pairs('CLIPModel', 'CLIPConfig', {TOWER}, vocab_size=500, eos_token_id=2), {TOWER}, image_size=64))",
        PICTURE,
        "output",
    ),
    (
        "siglip",
        f"Pairs('SiglipModel', 'SiglipConfig', {TOWER}, vocab_size=500), {TOWER}, image_size=64))",
        PICTURE,
        "output",
    ),
    ("trocr", "Captions()", PICTURE, "output"),
    (
        "conditional_detr",
        "Queries('ConditionalDetrModel', 'ConditionalDetrConfig', use_pretrained_backbone=False, num_queries=10, "
        "d_model=64, encoder_layers=2, decoder_layers=2, encoder_attention_heads=4, decoder_attention_heads=4, "
        "encoder_ffn_dim=128, decoder_ffn_dim=128, attn_implementation='eager')",
        PICTURE,
        "",
    ),
    (
        "rt_detr",
        "Queries('RTDetrModel', 'RTDetrConfig', num_queries=20, encoder_hidden_dim=64, d_model=64, "
        "decoder_in_channels=[64, 64, 64], num_denoising=0, decoder_layers=2, encoder_ffn_dim=128, "
        "decoder_ffn_dim=128)",
        PICTURE,
        "",
    ),
    (
        "donut",
        "M('DonutSwinModel', 'DonutSwinConfig', 'pixel_values', image_size=64, embed_dim=32, depths=[2, 2], "
        "num_heads=[2, 4], window_size=4)",
        PICTURE,
        "",
    ),
    (
        "vitpose",
        "M('VitPoseForPoseEstimation', 'VitPoseConfig', 'pixel_values', backbone_config=transformers."
        "VitPoseBackboneConfig(image_size=[64, 48], hidden_size=64, num_hidden_layers=2, num_attention_heads=4, "
        "out_indices=[2]), use_simple_decoder=False)",
        "torch.rand(b, 3, 64, 48)",
        "",
    ),
    ("dinov3", "M('DINOv3ViTModel', 'DINOv3ViTConfig', 'pixel_values', image_size=64)", PICTURE, ""),
    (
        "qformer",
        "M('Blip2QFormerModel', 'Blip2QFormerConfig', 'query_embeds', lambda x: dict(encoder_hidden_states="
        "torch.ones(x.shape[0], 20, 64, device=x.device)), encoder_hidden_size=64)",
        "torch.rand(b, 8, 64)",
        "",
    ),
    ("marian", "Small('MarianMTModel', 'MarianConfig', decoder_start_token_id=1)", SHORT, "output"),
    ("mbart", "Small('MBartForConditionalGeneration', 'MBartConfig')", SHORT, "output"),
    ("umt5", "Inside('UMT5ForConditionalGeneration', 'UMT5Config', decoder_start_token_id=0)", SHORT, "output"),
    (
        "longt5",
        "Inside('LongT5ForConditionalGeneration', 'LongT5Config', decoder_start_token_id=0, local_radius=15)",
        LONG,
        "output",
    ),
    (
        "led",
        "Small('LEDForConditionalGeneration', 'LEDConfig', attention_window=16, decoder_start_token_id=1, "
        "max_encoder_position_embeddings=256, max_decoder_position_embeddings=256)",
        LONG,
        "output",
    ),
    (
        "xlnet",
        "Real('XLNetForSequenceClassification', 'XLNetConfig', vocab_size=500, d_model=64, n_layer=2, n_head=4, "
        "d_inner=128, classes=2)",
        SHORT,
        "output",
    ),
    (
        "funnel",
        "Real('FunnelForSequenceClassification', 'FunnelConfig', vocab_size=500, block_sizes=[1, 1], d_model=64, "
        "n_head=4, d_head=16, d_inner=128, classes=2)",
        SHORT,
        "output",
    ),
    ("roformer", "Small('RoFormerForSequenceClassification', 'RoFormerConfig', classes=2)", SHORT, "output"),
    ("mpnet", "Small('MPNetForSequenceClassification', 'MPNetConfig', classes=2)", SHORT, "output"),
    ("roberta_answers", "Answers('RobertaForQuestionAnswering', 'RobertaConfig')", SHORT, "output"),
    ("gpt2_real", "Real('GPT2LMHeadModel', 'GPT2Config', masked=False)", LONG, "output"),
    (
        "distilbert_real",
        "Real('DistilBertForSequenceClassification', 'DistilBertConfig', classes=2, attn_implementation='eager')",
        LONG,
        "output",
    ),
    ("bert_real", "Real('BertForMaskedLM', 'BertConfig', attn_implementation='eager')", LONG, "output"),
    (
        "llama_mid",
        "Real('LlamaForCausalLM', 'LlamaConfig', masked=False, hidden_size=512, intermediate_size=1376, "
        "num_hidden_layers=8, num_attention_heads=8, num_key_value_heads=4)",
        LONG,
        "output",
    ),
)
DENOISED = (
    (
        "controlnet",
        "M(diffusers.ControlNetModel(block_out_channels=(32, 64), layers_per_block=1, norm_num_groups=8, "
        "down_block_types=('CrossAttnDownBlock2D', 'DownBlock2D'), cross_attention_dim=32, attention_head_dim=8, "
        "conditioning_embedding_out_channels=(8, 16)), timestep=('long', ()), encoder_hidden_states=('float', (8, "
        "32)), "
        "controlnet_cond=('float', (3, 32, 32)))",
        "torch.rand(b, 4, 16, 16)",
    ),
    (
        "prior",
        "M(diffusers.PriorTransformer(num_attention_heads=4, attention_head_dim=16, num_layers=2, embedding_dim=32, "
        "num_embeddings=8), timestep=('long', ()), proj_embedding=('float', (32,)), encoder_hidden_states=('float', "
        "(8, 32)))",
        "torch.rand(b, 32)",
    ),
    (
        "cogvideo",
        "M(diffusers.CogVideoXTransformer3DModel(num_attention_heads=4, attention_head_dim=16, in_channels=4, "
        "out_channels=4, time_embed_dim=16, text_embed_dim=32, num_layers=2, sample_width=8, sample_height=8, "
        "sample_frames=9, max_text_seq_length=8), encoder_hidden_states=('float', (8, 32)), timestep=('long', ()))",
        "torch.rand(b, 3, 4, 8, 8)",
    ),
    (
        "unet3d",
        "M(diffusers.UNet3DConditionModel(8, block_out_channels=(32, 64), layers_per_block=1, norm_num_groups=8, "
        "down_block_types=('CrossAttnDownBlock3D', 'DownBlock3D'), up_block_types=('UpBlock3D', 'CrossAttnUpBlock3D'), "
        "cross_attention_dim=32, attention_head_dim=8), timestep=('long', ()), encoder_hidden_states=('float', (8, "
        "32)))",
        "torch.rand(b, 4, 4, 16, 16)",
    ),
    (
        "ltx",
        "M(diffusers.LTXVideoTransformer3DModel(in_channels=8, out_channels=8, num_attention_heads=4, "
        "attention_head_dim=16, cross_attention_dim=64, num_layers=2, caption_channels=32), encoder_hidden_states="
        "('float', (8, 32)), timestep=('long', ()), encoder_attention_mask=('long', (8,)), "
        "num_frames=2, height=4, width=4)",
        "torch.rand(b, 32, 8)",
    ),
)
ORDINARY = """
import math
class ConvBNReLU(nn.Module):
    def __init__(self, in_ch, out_ch, k=3, s=1, p=1, d=1):
        super().__init__()
        self.conv = nn.Conv2d(in_ch, out_ch, k, s, p, d, bias=False)
        self.bn = nn.BatchNorm2d(out_ch)
        self.act = nn.LeakyReLU(0.1)
    def forward(self, x):
        return self.act(self.bn(self.conv(x)))
class ResBlock(nn.Module):
    def __init__(self, ch):
        super().__init__()
        self.conv1 = ConvBNReLU(ch, ch // 2, 1, 1, 0)
        self.conv2 = ConvBNReLU(ch // 2, ch)
    def forward(self, x):
        return x + self.conv2(self.conv1(x))
class YOLOv3(nn.Module):
    "three heads, anchors decoded while it trains"
    def __init__(self, num_classes=5, num_anchors=3):
        super().__init__()
        self.num_classes, self.num_anchors = num_classes, num_anchors
        self.stem = nn.Sequential(ConvBNReLU(3, 16), ConvBNReLU(16, 32, 3, 2), ResBlock(32))
        self.stage3 = nn.Sequential(ConvBNReLU(32, 64, 3, 2), ResBlock(64), ResBlock(64))
        self.stage4 = nn.Sequential(ConvBNReLU(64, 128, 3, 2), ResBlock(128))
        self.stage5 = nn.Sequential(ConvBNReLU(128, 256, 3, 2), ResBlock(256))
        self.lateral5, self.lateral4 = ConvBNReLU(256, 64, 1, 1, 0), ConvBNReLU(128 + 64, 64, 1, 1, 0)
        out = num_anchors * (5 + num_classes)
        self.head5, self.head4, self.head3 = nn.Conv2d(256, out, 1), nn.Conv2d(192, out, 1), nn.Conv2d(128, out, 1)
        self.upsample = nn.Upsample(scale_factor=2, mode="nearest")
        self.register_buffer("anchors", torch.rand(3, num_anchors, 2))
    def decode(self, p, level):
        bs, _, ny, nx = p.shape
        p = p.view(bs, self.num_anchors, self.num_classes + 5, ny, nx).permute(0, 1, 3, 4, 2).contiguous()
        yv, xv = torch.meshgrid(torch.arange(ny, device=p.device), torch.arange(nx, device=p.device), indexing="ij")
        grid = torch.stack((xv, yv), 2).view(1, 1, ny, nx, 2).float()
        xy = (torch.sigmoid(p[..., 0:2]) + grid) * (64 / ny)
        wh = torch.exp(p[..., 2:4]) * self.anchors[level].view(1, self.num_anchors, 1, 1, 2)
        conf = torch.sigmoid(p[..., 4:])
        return torch.cat((xy, wh, conf), -1).view(bs, -1, self.num_classes + 5)
    def forward(self, x):
        c3 = self.stage3(self.stem(x))
        c4 = self.stage4(c3)
        c5 = self.stage5(c4)
        p5 = self.head5(c5)
        x = self.upsample(self.lateral5(c5))
        x = torch.cat([x, c4], dim=1)
        p4 = self.head4(x)
        x = self.upsample(self.lateral4(x))
        x = torch.cat([x, c3], dim=1)
        p3 = self.head3(x)
        return torch.cat([self.decode(p, i) for i, p in enumerate((p5, p4, p3))], 1)
class RMSNorm(nn.Module):
    def __init__(self, dim, eps=1e-6):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(dim))
    def _norm(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.eps)
    def forward(self, x):
        return self._norm(x.float()).type_as(x) * self.weight
class MambaBlock(nn.Module):
    "selective scan written out"
    def __init__(self, d_model=64, d_state=8, d_conv=4, expand=2):
        super().__init__()
        d_inner = expand * d_model
        self.d_inner, self.d_state, self.dt_rank = d_inner, d_state, math.ceil(d_model / 16)
        self.in_proj = nn.Linear(d_model, 2 * d_inner, bias=False)
        self.conv1d = nn.Conv1d(d_inner, d_inner, d_conv, groups=d_inner, padding=d_conv - 1)
        self.x_proj = nn.Linear(d_inner, self.dt_rank + 2 * d_state, bias=False)
        self.dt_proj = nn.Linear(self.dt_rank, d_inner)
        self.A_log = nn.Parameter(torch.log(torch.arange(1, d_state + 1).float().repeat(d_inner, 1)))
        self.D = nn.Parameter(torch.ones(d_inner))
        self.out_proj = nn.Linear(d_inner, d_model, bias=False)
    def ssm(self, x):
        A = -torch.exp(self.A_log.float())
        D = self.D.float()
        delta, B, C = self.x_proj(x).split([self.dt_rank, self.d_state, self.d_state], dim=-1)
        delta = F.softplus(self.dt_proj(delta))
        return self.scan(x, delta, A, B, C, D)
    def scan(self, u, delta, A, B, C, D):
        b, l, d = u.shape
        deltaA = torch.exp(torch.einsum("bld,dn->bldn", delta, A))
        deltaB_u = torch.einsum("bld,bln,bld->bldn", delta, B, u)
        x = torch.zeros((b, d, self.d_state), device=u.device)
        ys = []
        for i in range(l):
            x = deltaA[:, i] * x + deltaB_u[:, i]
            ys.append(torch.einsum("bdn,bn->bd", x, C[:, i]))
        return torch.stack(ys, dim=1) + u * D
    def forward(self, x):
        b, l, d = x.shape
        x, res = self.in_proj(x).split([self.d_inner, self.d_inner], dim=-1)
        x = self.conv1d(x.transpose(1, 2))[:, :, :l].transpose(1, 2)
        x = F.silu(x)
        y = self.ssm(x)
        return self.out_proj(y * F.silu(res))
class MambaLM(nn.Module):
    def __init__(self, vocab=300, d=64, n=2):
        super().__init__()
        self.embedding = nn.Embedding(vocab, d)
        self.mixers = nn.ModuleList([MambaBlock(d) for _ in range(n)])
        self.norms = nn.ModuleList([RMSNorm(d) for _ in range(n)])
        self.norm_f = RMSNorm(d)
        self.lm_head = nn.Linear(d, vocab, bias=False)
        self.lm_head.weight = self.embedding.weight
    def forward(self, input_ids):
        x = self.embedding(input_ids)
        for mixer, norm in zip(self.mixers, self.norms):
            x = x + mixer(norm(x))
        logits = self.lm_head(self.norm_f(x))
        return F.cross_entropy(logits[:, :-1].reshape(-1, logits.size(-1)), input_ids[:, 1:].reshape(-1))
class TimeMix(nn.Module):
    "RWKV's attention over time, one step after the other"
    def __init__(self, d):
        super().__init__()
        self.time_decay, self.time_first = nn.Parameter(torch.zeros(d)), nn.Parameter(torch.zeros(d))
        self.time_mix_k, self.time_mix_v, self.time_mix_r = (nn.Parameter(torch.rand(1, 1, d)) for _ in range(3))
        self.time_shift = nn.ZeroPad2d((0, 0, 1, -1))
        self.key, self.value, self.receptance, self.output = (nn.Linear(d, d, bias=False) for _ in range(4))
    def forward(self, x):
        B, T, C = x.size()
        xx = self.time_shift(x)
        xk = x * self.time_mix_k + xx * (1 - self.time_mix_k)
        xv = x * self.time_mix_v + xx * (1 - self.time_mix_v)
        xr = x * self.time_mix_r + xx * (1 - self.time_mix_r)
        k, v, r = self.key(xk), self.value(xv), torch.sigmoid(self.receptance(xr))
        w = -torch.exp(self.time_decay)
        aa = torch.zeros(B, C, device=x.device)
        bb = torch.zeros(B, C, device=x.device)
        pp = torch.full((B, C), -1e38, device=x.device)
        out = []
        for t in range(T):
            kk, vv = k[:, t], v[:, t]
            ww = self.time_first + kk
            p = torch.maximum(pp, ww)
            e1 = torch.exp(pp - p)
            e2 = torch.exp(ww - p)
            a = e1 * aa + e2 * vv
            b = e1 * bb + e2
            out.append(a / b)
            ww = pp + w
            p = torch.maximum(ww, kk)
            e1 = torch.exp(ww - p)
            e2 = torch.exp(kk - p)
            aa = e1 * aa + e2 * vv
            bb = e1 * bb + e2
            pp = p
        wkv = torch.stack(out, dim=1)
        return self.output(r * wkv)
class ChannelMix(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.time_shift = nn.ZeroPad2d((0, 0, 1, -1))
        self.mix = nn.Parameter(torch.rand(1, 1, d))
        self.key, self.receptance, self.value = nn.Linear(d, 4 * d, bias=False), nn.Linear(d, d, bias=False), \\
            nn.Linear(4 * d, d, bias=False)
    def forward(self, x):
        xx = self.time_shift(x)
        xk = x * self.mix + xx * (1 - self.mix)
        k = torch.square(torch.relu(self.key(xk)))
        return torch.sigmoid(self.receptance(xk)) * self.value(k)
class RWKV(nn.Module):
    def __init__(self, vocab=300, d=64, n=2):
        super().__init__()
        self.emb, self.head = nn.Embedding(vocab, d), nn.Linear(d, vocab, bias=False)
        self.ln1, self.ln2 = nn.ModuleList(nn.LayerNorm(d) for _ in range(n)), nn.ModuleList(nn.LayerNorm(d)
            for _ in range(n))
        self.att, self.ffn = nn.ModuleList(TimeMix(d) for _ in range(n)), nn.ModuleList(ChannelMix(d) for _ in range(n))
        self.ln_out = nn.LayerNorm(d)
    def forward(self, idx):
        x = self.emb(idx)
        for i in range(len(self.att)):
            x = x + self.att[i](self.ln1[i](x))
            x = x + self.ffn[i](self.ln2[i](x))
        x = self.ln_out(x)
        return self.head(x)
class Retention(nn.Module):
    "retention in parallel, heads with their own decay"
    def __init__(self, d=64, heads=4):
        super().__init__()
        self.heads, self.dk = heads, d // heads
        self.q, self.k, self.v, self.g, self.o = (nn.Linear(d, d, bias=False) for _ in range(5))
        self.group_norm = nn.GroupNorm(heads, d)
        self.register_buffer("gamma", 1 - torch.exp(torch.linspace(math.log(1 / 32), math.log(1 / 512), heads)))
    def forward(self, x):
        b, n, d = x.shape
        q = self.q(x).view(b, n, self.heads, self.dk).transpose(1, 2)
        k = self.k(x).view(b, n, self.heads, self.dk).transpose(1, 2)
        v = self.v(x).view(b, n, self.heads, self.dk).transpose(1, 2)
        i = torch.arange(n, device=x.device)
        dist = (i[:, None] - i[None, :]).float()
        D = torch.where(dist >= 0, self.gamma[:, None, None] ** dist.clamp(min=0), torch.zeros_like(dist))
        att = (q @ k.transpose(-1, -2)) * self.dk ** -0.5 * D
        y = (att @ v).transpose(1, 2).reshape(b * n, d)
        y = self.group_norm(y).view(b, n, d)
        return self.o(F.silu(self.g(x)) * y)
class RetNet(nn.Module):
    def __init__(self, vocab=300, d=64, layers=2):
        super().__init__()
        self.embed = nn.Embedding(vocab, d)
        self.retentions = nn.ModuleList([Retention(d) for _ in range(layers)])
        self.ffns = nn.ModuleList([nn.Sequential(nn.Linear(d, 2 * d), nn.GELU(), nn.Linear(2 * d, d))
            for _ in range(layers)])
        self.norm1 = nn.ModuleList([nn.LayerNorm(d) for _ in range(layers)])
        self.norm2 = nn.ModuleList([nn.LayerNorm(d) for _ in range(layers)])
        self.proj = nn.Linear(d, vocab)
    def forward(self, tokens):
        X = self.embed(tokens)
        for i in range(len(self.retentions)):
            Y = self.retentions[i](self.norm1[i](X)) + X
            X = self.ffns[i](self.norm2[i](Y)) + Y
        return self.proj(X)
class SplineLinear(nn.Module):
    "efficient-kan's layer"
    def __init__(self, in_features, out_features, grid_size=5, spline_order=3):
        super().__init__()
        self.in_features, self.out_features = in_features, out_features
        self.grid_size, self.spline_order = grid_size, spline_order
        h = 2 / grid_size
        grid = (torch.arange(-spline_order, grid_size + spline_order + 1) * h - 1).expand(in_features, -1).contiguous()
        self.register_buffer("grid", grid)
        self.base_weight = nn.Parameter(torch.randn(out_features, in_features) * 0.1)
        self.spline_weight = nn.Parameter(torch.randn(out_features, in_features, grid_size + spline_order) * 0.1)
        self.spline_scaler = nn.Parameter(torch.ones(out_features, in_features))
        self.base_activation = nn.SiLU()
    def b_splines(self, x):
        grid = self.grid
        x = x.unsqueeze(-1)
        bases = ((x >= grid[:, :-1]) & (x < grid[:, 1:])).to(x.dtype)
        for k in range(1, self.spline_order + 1):
            bases = (
                (x - grid[:, : -(k + 1)]) / (grid[:, k:-1] - grid[:, : -(k + 1)]) * bases[:, :, :-1]
            ) + (
                (grid[:, k + 1 :] - x) / (grid[:, k + 1 :] - grid[:, 1:(-k)]) * bases[:, :, 1:]
            )
        return bases.contiguous()
    @property
    def scaled_spline_weight(self):
        return self.spline_weight * self.spline_scaler.unsqueeze(-1)
    def forward(self, x):
        base_output = F.linear(self.base_activation(x), self.base_weight)
        spline_output = F.linear(
            self.b_splines(x).view(x.size(0), -1),
            self.scaled_spline_weight.view(self.out_features, -1),
        )
        return base_output + spline_output
class LoRALinear(nn.Module):
    def __init__(self, linear, r=4, alpha=8, dropout=0.1):
        super().__init__()
        self.linear = linear
        self.linear.weight.requires_grad = False
        if self.linear.bias is not None:
            self.linear.bias.requires_grad = False
        self.lora_A = nn.Parameter(torch.randn(r, linear.in_features) * 0.01)
        self.lora_B = nn.Parameter(torch.zeros(linear.out_features, r))
        self.scaling, self.dropout = alpha / r, nn.Dropout(dropout)
    def forward(self, x):
        return self.linear(x) + (self.dropout(x) @ self.lora_A.t() @ self.lora_B.t()) * self.scaling
class SelfAttention(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        self.h = h
        self.q_proj, self.k_proj, self.v_proj, self.o_proj = (nn.Linear(d, d) for _ in range(4))
    def forward(self, x, mask=None):
        B, T, C = x.shape
        q = self.q_proj(x).view(B, T, self.h, C // self.h).transpose(1, 2)
        k = self.k_proj(x).view(B, T, self.h, C // self.h).transpose(1, 2)
        v = self.v_proj(x).view(B, T, self.h, C // self.h).transpose(1, 2)
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        return self.o_proj(y.transpose(1, 2).contiguous().view(B, T, C))
class FrozenWithLoRA(nn.Module):
    "a frozen encoder with adapters in queries and values, and a new head"
    def __init__(self, vocab=300, d=64, layers=3, classes=4):
        super().__init__()
        self.tok, self.pos = nn.Embedding(vocab, d), nn.Embedding(64, d)
        self.attn = nn.ModuleList(SelfAttention(d, 4) for _ in range(layers))
        self.mlp = nn.ModuleList(nn.Sequential(nn.Linear(d, 4 * d), nn.GELU(), nn.Linear(4 * d, d))
            for _ in range(layers))
        self.ln1, self.ln2 = nn.ModuleList(nn.LayerNorm(d) for _ in range(layers)), nn.ModuleList(nn.LayerNorm(d)
            for _ in range(layers))
        for p in self.parameters():
            p.requires_grad = False
        for a in self.attn:
            a.q_proj, a.v_proj = LoRALinear(a.q_proj), LoRALinear(a.v_proj)
        self.classifier = nn.Linear(d, classes)
    def forward(self, ids):
        h = self.tok(ids) + self.pos(torch.arange(ids.shape[1], device=ids.device))[None]
        for a, m, n1, n2 in zip(self.attn, self.mlp, self.ln1, self.ln2):
            h = h + a(n1(h))
            h = h + m(n2(h))
        return self.classifier(h.mean(dim=1))
class Expert(nn.Module):
    def __init__(self, d, hidden):
        super().__init__()
        self.w1, self.w2, self.w3 = nn.Linear(d, hidden, bias=False), nn.Linear(hidden, d, bias=False), \\
            nn.Linear(d, hidden, bias=False)
    def forward(self, x):
        return self.w2(F.silu(self.w1(x)) * self.w3(x))
class TopKMoE(nn.Module):
    "every expert sees every token, the gate's weights choose; with the balancing loss"
    def __init__(self, d=64, hidden=128, experts=4, k=2):
        super().__init__()
        self.gate = nn.Linear(d, experts, bias=False)
        self.experts = nn.ModuleList([Expert(d, hidden) for _ in range(experts)])
        self.k, self.num_experts = k, experts
    def forward(self, x):
        scores = F.softmax(self.gate(x), dim=-1)
        topk_weight, topk_idx = torch.topk(scores, self.k, dim=-1)
        topk_weight = topk_weight / topk_weight.sum(dim=-1, keepdim=True)
        weights = torch.zeros_like(scores).scatter(-1, topk_idx, topk_weight)
        out = torch.zeros_like(x)
        for i, expert in enumerate(self.experts):
            out = out + weights[..., i:i + 1] * expert(x)
        density = F.one_hot(topk_idx[..., 0], self.num_experts).float().mean(dim=(0, 1))
        aux = (density * scores.mean(dim=(0, 1))).sum() * self.num_experts
        return out, aux
class MoETransformer(nn.Module):
    def __init__(self, vocab=300, d=64, layers=2):
        super().__init__()
        self.embed = nn.Embedding(vocab, d)
        self.attn = nn.ModuleList(nn.MultiheadAttention(d, 4, batch_first=True) for _ in range(layers))
        self.moe = nn.ModuleList(TopKMoE(d) for _ in range(layers))
        self.norm1, self.norm2 = nn.ModuleList(RMSNorm(d) for _ in range(layers)), nn.ModuleList(RMSNorm(d)
            for _ in range(layers))
        self.head = nn.Linear(d, vocab)
    def forward(self, ids):
        x = self.embed(ids)
        mask = torch.triu(torch.full((ids.shape[1], ids.shape[1]), float("-inf"), device=ids.device), diagonal=1)
        total_aux = 0.
        for attn, moe, norm1, norm2 in zip(self.attn, self.moe, self.norm1, self.norm2):
            h = norm1(x)
            a, _ = attn(h, h, h, attn_mask=mask, need_weights=False)
            x = x + a
            m, aux = moe(norm2(x))
            x = x + m
            total_aux += aux
        logits = self.head(x)
        return F.cross_entropy(logits.view(-1, logits.size(-1)), ids.view(-1)) + 0.01 * total_aux
class ConvLSTMCell(nn.Module):
    def __init__(self, input_dim, hidden_dim, kernel_size=3):
        super().__init__()
        self.hidden_dim = hidden_dim
        self.conv = nn.Conv2d(input_dim + hidden_dim, 4 * hidden_dim, kernel_size, padding=kernel_size // 2)
    def forward(self, input_tensor, cur_state):
        h_cur, c_cur = cur_state
        combined = torch.cat([input_tensor, h_cur], dim=1)
        combined_conv = self.conv(combined)
        cc_i, cc_f, cc_o, cc_g = torch.split(combined_conv, self.hidden_dim, dim=1)
        i = torch.sigmoid(cc_i)
        f = torch.sigmoid(cc_f)
        o = torch.sigmoid(cc_o)
        g = torch.tanh(cc_g)
        c_next = f * c_cur + i * g
        h_next = o * torch.tanh(c_next)
        return h_next, c_next
    def init_hidden(self, batch_size, image_size):
        height, width = image_size
        return (torch.zeros(batch_size, self.hidden_dim, height, width, device=self.conv.weight.device),
                torch.zeros(batch_size, self.hidden_dim, height, width, device=self.conv.weight.device))
class ConvLSTM(nn.Module):
    "frames to the next frame"
    def __init__(self, channels=1, hidden=(16, 16)):
        super().__init__()
        dims = (channels,) + hidden
        self.cell_list = nn.ModuleList([ConvLSTMCell(dims[i], dims[i + 1]) for i in range(len(hidden))])
        self.final = nn.Conv2d(hidden[-1], channels, 1)
    def forward(self, input_tensor):
        b, seq_len, _, h, w = input_tensor.size()
        hidden_state = [cell.init_hidden(b, (h, w)) for cell in self.cell_list]
        cur_layer_input = input_tensor
        for layer_idx in range(len(self.cell_list)):
            h, c = hidden_state[layer_idx]
            output_inner = []
            for t in range(seq_len):
                h, c = self.cell_list[layer_idx](input_tensor=cur_layer_input[:, t, :, :, :], cur_state=[h, c])
                output_inner.append(h)
            layer_output = torch.stack(output_inner, dim=1)
            cur_layer_input = layer_output
        return self.final(layer_output[:, -1])
class EulerODE(nn.Module):
    "a latent ODE: an RNN encodes, Euler steps, a decoder"
    def __init__(self, obs=16, latent=32, steps=8):
        super().__init__()
        self.rnn, self.to_mu, self.to_logvar = nn.RNNCell(obs, 64), nn.Linear(64, latent), nn.Linear(64, latent)
        self.func = nn.Sequential(nn.Linear(latent, 64), nn.ELU(inplace=True), nn.Linear(64, 64), nn.ELU(inplace=True),
                                  nn.Linear(64, latent))
        self.decoder, self.steps = nn.Sequential(nn.Linear(latent, 64), nn.ReLU(inplace=True), nn.Linear(64,
            obs)), steps
    def forward(self, x):
        h = torch.zeros(x.size(0), 64, device=x.device)
        for t in reversed(range(x.size(1))):
            h = self.rnn(x[:, t, :], h)
        qz0_mean, qz0_logvar = self.to_mu(h), self.to_logvar(h)
        epsilon = torch.randn(qz0_mean.size(), device=x.device)
        z = epsilon * torch.exp(.5 * qz0_logvar) + qz0_mean
        zs = [z]
        for _ in range(x.size(1) - 1):
            for _ in range(2):
                z = z + 0.05 * self.func(z)
            zs.append(z)
        pred_x = self.decoder(torch.stack(zs, 1))
        noise = ((x - pred_x) ** 2).sum(-1).sum(-1)
        kl = -0.5 * (1 + qz0_logvar - qz0_mean ** 2 - torch.exp(qz0_logvar)).sum(-1)
        return torch.mean(noise + kl, dim=0)
class MixerBlock(nn.Module):
    def __init__(self, dim, patches, token_dim, channel_dim, dropout=0.):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.token_mix = nn.Sequential(nn.Linear(patches, token_dim), nn.GELU(), nn.Linear(token_dim, patches))
        self.channel_mix = nn.Sequential(nn.Linear(dim, channel_dim), nn.GELU(), nn.Linear(channel_dim, dim))
    def forward(self, x):
        y = self.norm1(x).permute(0, 2, 1)
        y = self.token_mix(y)
        x = x + y.permute(0, 2, 1)
        x = x + self.channel_mix(self.norm2(x))
        return x
class Mixer(nn.Module):
    def __init__(self, image=64, patch=8, dim=96, depth=4, classes=10):
        super().__init__()
        n = (image // patch) ** 2
        self.to_patch_embedding = nn.Conv2d(3, dim, patch, patch)
        self.mixer_blocks = nn.ModuleList([])
        for _ in range(depth):
            self.mixer_blocks.append(MixerBlock(dim, n, 48, 192))
        self.layer_norm, self.mlp_head = nn.LayerNorm(dim), nn.Sequential(nn.Linear(dim, classes))
    def forward(self, x):
        x = self.to_patch_embedding(x)
        x = x.flatten(2).transpose(1, 2)
        for mixer_block in self.mixer_blocks:
            x = mixer_block(x)
        x = self.layer_norm(x)
        x = x.mean(dim=1)
        return self.mlp_head(x)
class CrossAttention(nn.Module):
    def __init__(self, q_dim, kv_dim, heads=4):
        super().__init__()
        self.heads, self.scale = heads, (q_dim // heads) ** -0.5
        self.to_q, self.to_kv, self.to_out = nn.Linear(q_dim, q_dim, bias=False), \\
            nn.Linear(kv_dim, 2 * q_dim, bias=False), nn.Linear(q_dim, q_dim)
    def forward(self, x, context=None):
        context = x if context is None else context
        q = self.to_q(x)
        k, v = self.to_kv(context).chunk(2, dim=-1)
        b, n, d = q.shape
        q, k, v = map(lambda t: t.reshape(b, -1, self.heads, d // self.heads).permute(0, 2, 1, 3), (q, k, v))
        sim = torch.einsum("bhid,bhjd->bhij", q, k) * self.scale
        attn = sim.softmax(dim=-1)
        out = torch.einsum("bhij,bhjd->bhid", attn, v)
        out = out.permute(0, 2, 1, 3).reshape(b, n, d)
        return self.to_out(out)
class Perceiver(nn.Module):
    "latents read bytes, Fourier features of positions beside them"
    def __init__(self, channels=3, size=32, latents=16, d=64, bands=4, depth=2, classes=10):
        super().__init__()
        self.bands = bands
        dim = channels + 2 * (2 * bands + 1)
        self.latents = nn.Parameter(torch.randn(latents, d))
        self.cross = nn.ModuleList([CrossAttention(d, dim) for _ in range(depth)])
        self.self_attn = nn.ModuleList([CrossAttention(d, d) for _ in range(depth)])
        self.ff = nn.ModuleList([nn.Sequential(nn.LayerNorm(d), nn.Linear(d, 4 * d), nn.GELU(), nn.Linear(4 * d, d))
            for _ in range(depth)])
        self.ln_c, self.ln_s = nn.ModuleList([nn.LayerNorm(d) for _ in range(depth)]), nn.ModuleList([nn.LayerNorm(d)
            for _ in range(depth)])
        self.to_logits = nn.Sequential(nn.LayerNorm(d), nn.Linear(d, classes))
    def encode(self, pos):
        scales = torch.linspace(1., 5., self.bands, device=pos.device)
        x = pos.unsqueeze(-1) * scales * math.pi
        x = torch.cat([x.sin(), x.cos(), pos.unsqueeze(-1)], dim=-1)
        return x.flatten(-2)
    def forward(self, img):
        b, c, h, w = img.shape
        axis = [torch.linspace(-1., 1., steps=s, device=img.device) for s in (h, w)]
        pos = torch.stack(torch.meshgrid(*axis, indexing="ij"), dim=-1)
        enc = self.encode(pos).unsqueeze(0).expand(b, -1, -1, -1)
        data = torch.cat((img.permute(0, 2, 3, 1), enc), dim=-1).flatten(1, 2)
        x = self.latents.unsqueeze(0).repeat(b, 1, 1)
        for cross, attn, ff, lc, ls in zip(self.cross, self.self_attn, self.ff, self.ln_c, self.ln_s):
            x = cross(lc(x), context=data) + x
            x = attn(ls(x)) + x
            x = ff(x) + x
        return self.to_logits(x.mean(dim=-2))
class SinusoidalEmbedding(nn.Module):
    def __init__(self, size, scale=1.0):
        super().__init__()
        self.size, self.scale = size, scale
    def forward(self, x):
        x = x * self.scale
        half_size = self.size // 2
        emb = torch.log(torch.Tensor([10000.0])).to(x.device) / (half_size - 1)
        emb = torch.exp(-emb * torch.arange(half_size, device=x.device))
        emb = x.unsqueeze(-1) * emb.unsqueeze(0)
        return torch.cat((torch.sin(emb), torch.cos(emb)), dim=-1)
class DiffusionBlock(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.ff, self.act = nn.Linear(size, size), nn.GELU()
    def forward(self, x):
        return x + self.act(self.ff(x))
class TinyDiffusion(nn.Module):
    "noise of two-dimensional points, the loss of a training step inside"
    def __init__(self, hidden=128, layers=3, emb=32, steps=50):
        super().__init__()
        self.time_mlp = SinusoidalEmbedding(emb)
        self.input_mlp1, self.input_mlp2 = SinusoidalEmbedding(emb, 25.0), SinusoidalEmbedding(emb, 25.0)
        blocks = [nn.Linear(3 * emb, hidden), nn.GELU()]
        for _ in range(layers):
            blocks.append(DiffusionBlock(hidden))
        blocks.append(nn.Linear(hidden, 2))
        self.joint_mlp = nn.Sequential(*blocks)
        betas = torch.linspace(1e-4, 0.02, steps)
        acp = torch.cumprod(1 - betas, 0)
        self.register_buffer("sqrt_acp", acp ** 0.5)
        self.register_buffer("sqrt_om_acp", (1 - acp) ** 0.5)
    def forward(self, batch):
        noise = torch.randn_like(batch)
        t = torch.randint(0, 50, (batch.shape[0],), device=batch.device)
        noisy = self.sqrt_acp[t].reshape(-1, 1) * batch + self.sqrt_om_acp[t].reshape(-1, 1) * noise
        x1_emb = self.input_mlp1(noisy[:, 0])
        x2_emb = self.input_mlp2(noisy[:, 1])
        t_emb = self.time_mlp(t)
        x = torch.cat((x1_emb, x2_emb, t_emb), dim=-1)
        noise_pred = self.joint_mlp(x)
        return F.mse_loss(noise_pred, noise)
class TNet(nn.Module):
    def __init__(self, k):
        super().__init__()
        self.k = k
        self.conv1, self.conv2 = nn.Conv1d(k, 32, 1), nn.Conv1d(32, 128, 1)
        self.fc1, self.fc2 = nn.Linear(128, 64), nn.Linear(64, k * k)
        self.bn1, self.bn2, self.bn3 = nn.BatchNorm1d(32), nn.BatchNorm1d(128), nn.BatchNorm1d(64)
    def forward(self, x):
        bs = x.size(0)
        xb = F.relu(self.bn1(self.conv1(x)))
        xb = F.relu(self.bn2(self.conv2(xb)))
        pool = nn.MaxPool1d(xb.size(-1))(xb)
        flat = nn.Flatten(1)(pool)
        xb = F.relu(self.bn3(self.fc1(flat)))
        init = torch.eye(self.k, requires_grad=True, device=x.device).repeat(bs, 1, 1)
        return self.fc2(xb).view(-1, self.k, self.k) + init
class PointNet(nn.Module):
    "with the regularizer of its transforms"
    def __init__(self, classes=10):
        super().__init__()
        self.input_transform, self.feature_transform = TNet(3), TNet(32)
        self.conv1, self.conv2, self.conv3 = nn.Conv1d(3, 32, 1), nn.Conv1d(32, 64, 1), nn.Conv1d(64, 128, 1)
        self.bn1, self.bn2, self.bn3 = nn.BatchNorm1d(32), nn.BatchNorm1d(64), nn.BatchNorm1d(128)
        self.fc1, self.fc2, self.dropout = nn.Linear(128, 64), nn.Linear(64, classes), nn.Dropout(p=0.3)
        self.bn4, self.logsoftmax = nn.BatchNorm1d(64), nn.LogSoftmax(dim=1)
    def forward(self, points):
        input = points.transpose(1, 2)
        matrix3x3 = self.input_transform(input)
        xb = torch.bmm(torch.transpose(input, 1, 2), matrix3x3).transpose(1, 2)
        xb = F.relu(self.bn1(self.conv1(xb)))
        matrix = self.feature_transform(xb)
        xb = torch.bmm(torch.transpose(xb, 1, 2), matrix).transpose(1, 2)
        xb = F.relu(self.bn2(self.conv2(xb)))
        xb = self.bn3(self.conv3(xb))
        xb = torch.max(xb, 2)[0]
        xb = F.relu(self.bn4(self.dropout(self.fc1(xb))))
        out = self.logsoftmax(self.fc2(xb))
        label = points[:, 0, 0].long() % 10
        bs = out.size(0)
        id3 = torch.eye(3, device=out.device).repeat(bs, 1, 1)
        idk = torch.eye(32, device=out.device).repeat(bs, 1, 1)
        diff3 = id3 - torch.bmm(matrix3x3, matrix3x3.transpose(1, 2))
        diffk = idk - torch.bmm(matrix, matrix.transpose(1, 2))
        return F.nll_loss(out, label) + 0.001 * (torch.norm(diff3) + torch.norm(diffk)) / float(bs)
class PixelNorm(nn.Module):
    def forward(self, x):
        return x / torch.sqrt(torch.mean(x ** 2, dim=1, keepdim=True) + 1e-8)
class WSConv2d(nn.Module):
    "equalized learning rate"
    def __init__(self, in_channels, out_channels, kernel_size=3, stride=1, padding=1, gain=2):
        super().__init__()
        self.conv = nn.Conv2d(in_channels, out_channels, kernel_size, stride, padding)
        self.scale = (gain / (in_channels * kernel_size ** 2)) ** 0.5
        self.bias = self.conv.bias
        self.conv.bias = None
        nn.init.normal_(self.conv.weight)
        nn.init.zeros_(self.bias)
    def forward(self, x):
        return self.conv(x * self.scale) + self.bias.view(1, self.bias.shape[0], 1, 1)
class ProGANCritic(nn.Module):
    def __init__(self, c=32):
        super().__init__()
        self.leaky = nn.LeakyReLU(0.2)
        self.from_rgb = WSConv2d(3, c, kernel_size=1, padding=0)
        self.blocks = nn.ModuleList([nn.Sequential(WSConv2d(c, c), nn.LeakyReLU(0.2), WSConv2d(c, c), nn.LeakyReLU(0.2))
                                     for _ in range(3)])
        self.avg_pool = nn.AvgPool2d(kernel_size=2, stride=2)
        self.final_block = nn.Sequential(WSConv2d(c + 1, c, padding=1), nn.LeakyReLU(0.2),
                                         WSConv2d(c, c, kernel_size=4, padding=0, stride=1), nn.LeakyReLU(0.2),
                                         WSConv2d(c, 1, kernel_size=1, padding=0, stride=1))
    def minibatch_std(self, x):
        batch_statistics = torch.std(x, dim=0).mean().repeat(x.shape[0], 1, x.shape[2], x.shape[3])
        return torch.cat([x, batch_statistics], dim=1)
    def forward(self, x):
        out = self.leaky(self.from_rgb(x))
        for block in self.blocks:
            out = block(out)
            out = self.avg_pool(out)
        out = self.minibatch_std(out)
        return self.final_block(out).view(out.shape[0], -1)
class ProGANGenerator(nn.Module):
    def __init__(self, z_dim=64, c=32):
        super().__init__()
        self.initial = nn.Sequential(PixelNorm(), nn.ConvTranspose2d(z_dim, c, 4, 1, 0), nn.LeakyReLU(0.2),
                                     WSConv2d(c, c), nn.LeakyReLU(0.2), PixelNorm())
        self.convs1, self.convs2 = nn.ModuleList([WSConv2d(c, c) for _ in range(3)]), nn.ModuleList([WSConv2d(c, c)
            for _ in range(3)])
        self.leaky, self.pn = nn.LeakyReLU(0.2), PixelNorm()
        self.rgb_low, self.rgb = WSConv2d(c, 3, 1, padding=0), WSConv2d(c, 3, 1, padding=0)
        self.alpha = 0.5
    def forward(self, x):
        out = self.initial(x)
        for conv1, conv2 in zip(self.convs1, self.convs2):
            upscaled = F.interpolate(out, scale_factor=2, mode="nearest")
            out = self.pn(self.leaky(conv1(upscaled)))
            out = self.pn(self.leaky(conv2(out)))
        final_upscaled = self.rgb_low(upscaled)
        final_out = self.rgb(out)
        return torch.tanh(self.alpha * final_out + (1 - self.alpha) * final_upscaled)
class CVAE(nn.Module):
    "conditioned on the class, the criterion's two sums inside"
    def __init__(self, latent=16, classes=10):
        super().__init__()
        self.classes = classes
        self.encoder = nn.Sequential(nn.Conv2d(1 + classes, 16, 3, 2, 1), nn.BatchNorm2d(16), nn.ReLU(),
                                     nn.Conv2d(16, 32, 3, 2, 1), nn.BatchNorm2d(32), nn.ReLU(), nn.Flatten())
        self.fc_mu, self.fc_var = nn.Linear(32 * 49, latent), nn.Linear(32 * 49, latent)
        self.decoder_input = nn.Linear(latent + classes, 32 * 49)
        self.decoder = nn.Sequential(nn.ConvTranspose2d(32, 16, 3, 2, 1, output_padding=1), nn.BatchNorm2d(16),
            nn.ReLU(),
                                     nn.ConvTranspose2d(16, 1, 3, 2, 1, output_padding=1), nn.Sigmoid())
    def forward(self, x):
        y = F.one_hot((x[:, 0, 0, 0] * 10).long() % self.classes, self.classes).float()
        cond = y[:, :, None, None].expand(-1, -1, 28, 28)
        h = self.encoder(torch.cat([x, cond], dim=1))
        mu, log_var = self.fc_mu(h), self.fc_var(h)
        std = torch.exp(0.5 * log_var)
        z = mu + std * torch.randn_like(std)
        out = self.decoder_input(torch.cat([z, y], dim=1)).view(-1, 32, 7, 7)
        recon = self.decoder(out)
        bce = F.binary_cross_entropy(recon, x, reduction="sum")
        kld = -0.5 * torch.sum(1 + log_var - mu ** 2 - log_var.exp())
        return (bce + kld) / x.size(0)
class TwoTower(nn.Module):
    "users and items, sampled softmax over the batch"
    def __init__(self, users=1000, items=2000, d=32, temperature=0.05):
        super().__init__()
        self.user_embedding, self.item_embedding = nn.Embedding(users, d), nn.Embedding(items, d)
        self.category = nn.EmbeddingBag(50, d, mode="mean")
        self.user_tower = nn.Sequential(nn.Linear(d, 64), nn.ReLU(), nn.Dropout(0.1), nn.Linear(64, 32))
        self.item_tower = nn.Sequential(nn.Linear(2 * d, 64), nn.ReLU(), nn.Dropout(0.1), nn.Linear(64, 32))
        self.temperature = temperature
    def forward(self, features):
        user_id, item_id, categories = features[:, 0], features[:, 1], features[:, 2:]
        u = self.user_tower(self.user_embedding(user_id))
        i = self.item_tower(torch.cat([self.item_embedding(item_id), self.category(categories)], dim=-1))
        u = F.normalize(u, p=2, dim=-1)
        i = F.normalize(i, p=2, dim=-1)
        logits = torch.matmul(u, i.T) / self.temperature
        labels = torch.arange(logits.size(0), device=logits.device)
        return F.cross_entropy(logits, labels)
class CrossNetMix(nn.Module):
    "DCN-V2 with low-rank experts"
    def __init__(self, in_features, low_rank=8, experts=3, layers=2):
        super().__init__()
        self.layers, self.experts = layers, experts
        self.U = nn.Parameter(torch.randn(layers, experts, in_features, low_rank) * 0.1)
        self.V = nn.Parameter(torch.randn(layers, experts, in_features, low_rank) * 0.1)
        self.C = nn.Parameter(torch.randn(layers, experts, low_rank, low_rank) * 0.1)
        self.gating = nn.ModuleList([nn.Linear(in_features, 1, bias=False) for _ in range(experts)])
        self.bias = nn.Parameter(torch.zeros(layers, in_features, 1))
    def forward(self, inputs):
        x_0 = inputs.unsqueeze(2)
        x_l = x_0
        for i in range(self.layers):
            outputs, gates = [], []
            for e in range(self.experts):
                gates.append(self.gating[e](x_l.squeeze(2)))
                v_x = torch.matmul(self.V[i][e].t(), x_l)
                v_x = torch.tanh(v_x)
                v_x = torch.matmul(self.C[i][e], v_x)
                v_x = torch.tanh(v_x)
                uv_x = torch.matmul(self.U[i][e], v_x)
                dot_ = x_0 * (uv_x + self.bias[i])
                outputs.append(dot_.squeeze(2))
            outputs = torch.stack(outputs, 2)
            gates = torch.stack(gates, 1)
            x_l = torch.matmul(outputs, gates.softmax(1)) + x_l
        return x_l.squeeze(2)
class DCNMix(nn.Module):
    def __init__(self, fields=8, vocab=100, d=8):
        super().__init__()
        self.embedding_dict = nn.ModuleDict({f"C{i}": nn.Embedding(vocab, d) for i in range(fields)})
        self.crossnet = CrossNetMix(fields * d)
        self.dnn = nn.Sequential(nn.Linear(fields * d, 64), nn.ReLU(inplace=True), nn.Dropout(0.5), nn.Linear(64, 32),
                                 nn.ReLU(inplace=True))
        self.dnn_linear = nn.Linear(fields * d + 32, 1, bias=False)
    def forward(self, X):
        embs = [self.embedding_dict[f"C{i}"](X[:, i]) for i in range(X.shape[1])]
        dnn_input = torch.cat(embs, dim=-1)
        deep_out = self.dnn(dnn_input)
        cross_out = self.crossnet(dnn_input)
        stack_out = torch.cat((cross_out, deep_out), dim=-1)
        return torch.sigmoid(self.dnn_linear(stack_out))
class GraphAttentionLayer(nn.Module):
    "as pyGAT writes it"
    def __init__(self, in_features, out_features, dropout, alpha, concat=True):
        super().__init__()
        self.dropout, self.out_features, self.concat = dropout, out_features, concat
        self.W = nn.Parameter(torch.empty(size=(in_features, out_features)))
        nn.init.xavier_uniform_(self.W.data, gain=1.414)
        self.a = nn.Parameter(torch.empty(size=(2 * out_features, 1)))
        nn.init.xavier_uniform_(self.a.data, gain=1.414)
        self.leakyrelu = nn.LeakyReLU(alpha)
    def forward(self, h, adj):
        Wh = torch.mm(h, self.W)
        e = self._prepare_attentional_mechanism_input(Wh)
        zero_vec = -9e15 * torch.ones_like(e)
        attention = torch.where(adj > 0, e, zero_vec)
        attention = F.softmax(attention, dim=1)
        attention = F.dropout(attention, self.dropout, training=self.training)
        h_prime = torch.matmul(attention, Wh)
        return F.elu(h_prime) if self.concat else h_prime
    def _prepare_attentional_mechanism_input(self, Wh):
        Wh1 = torch.matmul(Wh, self.a[:self.out_features, :])
        Wh2 = torch.matmul(Wh, self.a[self.out_features:, :])
        e = Wh1 + Wh2.T
        return self.leakyrelu(e)
class GAT(nn.Module):
    "nodes of one graph are the batch; who has similar features are neighbours"
    def __init__(self, nfeat=64, nhid=16, nclass=7, dropout=0.6, alpha=0.2, nheads=4):
        super().__init__()
        self.dropout = dropout
        self.attentions = nn.ModuleList([GraphAttentionLayer(nfeat, nhid, dropout, alpha, concat=True)
            for _ in range(nheads)])
        self.out_att = GraphAttentionLayer(nhid * nheads, nclass, dropout, alpha, concat=False)
    def forward(self, x):
        with torch.no_grad():
            adj = (x @ x.t() > 0).float()
        x = F.dropout(x, self.dropout, training=self.training)
        x = torch.cat([att(x, adj) for att in self.attentions], dim=1)
        x = F.dropout(x, self.dropout, training=self.training)
        x = F.elu(self.out_att(x, adj))
        return F.log_softmax(x, dim=1)
class GraphConvolution(nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.weight, self.bias = nn.Parameter(torch.randn(in_features,
            out_features) * 0.1), nn.Parameter(torch.zeros(out_features))
    def forward(self, input, adj):
        support = torch.matmul(input, self.weight)
        output = torch.matmul(adj, support)
        return output + self.bias
class STGCN(nn.Module):
    "spatio-temporal: gated convolutions over time around a graph convolution with a learned adjacency"
    def __init__(self, nodes=24, c_in=2, hidden=32, horizon=6):
        super().__init__()
        self.nodevec1, self.nodevec2 = nn.Parameter(torch.randn(nodes, 8)), nn.Parameter(torch.randn(8, nodes))
        self.filter_conv, self.gate_conv = nn.Conv2d(c_in, hidden, (1, 3)), nn.Conv2d(c_in, hidden, (1, 3))
        self.gc1, self.gc2 = GraphConvolution(hidden, hidden), GraphConvolution(hidden, hidden)
        self.bn = nn.BatchNorm2d(hidden)
        self.end = nn.Conv2d(hidden, horizon, (1, 10))
    def forward(self, x):
        adp = F.softmax(F.relu(torch.mm(self.nodevec1, self.nodevec2)), dim=1)
        residual = x
        filter = torch.tanh(self.filter_conv(residual))
        gate = torch.sigmoid(self.gate_conv(residual))
        x = filter * gate
        h = x.permute(0, 3, 2, 1)
        h = F.relu(self.gc1(h, adp))
        h = F.dropout(h, 0.3, training=self.training)
        h = self.gc2(h, adp)
        x = self.bn(x + h.permute(0, 3, 2, 1))
        return self.end(F.relu(x)).squeeze(-1)
class Swish(nn.Module):
    def forward(self, x):
        return x * torch.sigmoid(x)
class AttentionBlock(nn.Module):
    def __init__(self, ch):
        super().__init__()
        self.group_norm = nn.GroupNorm(8, ch)
        self.proj_q, self.proj_k, self.proj_v, self.proj = (nn.Conv2d(ch, ch, 1) for _ in range(4))
    def forward(self, x):
        B, C, H, W = x.shape
        h = self.group_norm(x)
        q = self.proj_q(h)
        k = self.proj_k(h)
        v = self.proj_v(h)
        q = q.permute(0, 2, 3, 1).view(B, H * W, C)
        k = k.view(B, C, H * W)
        w = torch.bmm(q, k) * (int(C) ** (-0.5))
        w = F.softmax(w, dim=-1)
        v = v.permute(0, 2, 3, 1).view(B, H * W, C)
        h = torch.bmm(w, v)
        h = h.view(B, H, W, C).permute(0, 3, 1, 2)
        h = self.proj(h)
        return x + h
class TimeResBlock(nn.Module):
    def __init__(self, in_ch, out_ch, tdim, dropout=0.1, attn=False):
        super().__init__()
        self.block1 = nn.Sequential(nn.GroupNorm(8, in_ch), Swish(), nn.Conv2d(in_ch, out_ch, 3, stride=1, padding=1))
        self.temb_proj = nn.Sequential(Swish(), nn.Linear(tdim, out_ch))
        self.block2 = nn.Sequential(nn.GroupNorm(8, out_ch), Swish(), nn.Dropout(dropout), nn.Conv2d(out_ch, out_ch,
            3, stride=1, padding=1))
        self.shortcut = nn.Conv2d(in_ch, out_ch, 1) if in_ch != out_ch else nn.Identity()
        self.attn = AttentionBlock(out_ch) if attn else nn.Identity()
    def forward(self, x, temb):
        h = self.block1(x)
        h += self.temb_proj(temb)[:, :, None, None]
        h = self.block2(h)
        h = h + self.shortcut(x)
        h = self.attn(h)
        return h
class DDPM(nn.Module):
    "the UNet and the trainer's loss"
    def __init__(self, T=100, ch=32, ch_mult=(1, 2)):
        super().__init__()
        tdim = ch * 4
        emb = torch.arange(0, ch, step=2) / ch * math.log(10000)
        emb = torch.exp(-emb)
        pos = torch.arange(T).float()
        emb = pos[:, None] * emb[None, :]
        emb = torch.stack([torch.sin(emb), torch.cos(emb)], dim=-1).view(T, ch)
        self.timembedding = nn.Sequential(nn.Embedding.from_pretrained(emb), nn.Linear(ch, tdim), Swish(),
            nn.Linear(tdim, tdim))
        self.head = nn.Conv2d(3, ch, 3, 1, 1)
        self.down1, self.down2 = TimeResBlock(ch, ch, tdim), TimeResBlock(ch, 2 * ch, tdim, attn=True)
        self.downsample = nn.Conv2d(ch, ch, 3, stride=2, padding=1)
        self.middle = nn.ModuleList([TimeResBlock(2 * ch, 2 * ch, tdim, attn=True), TimeResBlock(2 * ch, 2 * ch, tdim)])
        self.up2, self.up1 = TimeResBlock(4 * ch, ch, tdim, attn=True), TimeResBlock(2 * ch, ch, tdim)
        self.upsample = nn.Conv2d(ch, ch, 3, stride=1, padding=1)
        self.tail = nn.Sequential(nn.GroupNorm(8, ch), Swish(), nn.Conv2d(ch, 3, 3, stride=1, padding=1))
        self.T = T
        betas = torch.linspace(1e-4, 0.02, T).double()
        alphas_bar = torch.cumprod(1. - betas, dim=0)
        self.register_buffer("sqrt_alphas_bar", torch.sqrt(alphas_bar))
        self.register_buffer("sqrt_one_minus_alphas_bar", torch.sqrt(1. - alphas_bar))
    def extract(self, v, t, x_shape):
        out = torch.gather(v, index=t, dim=0).float()
        return out.view([t.shape[0]] + [1] * (len(x_shape) - 1))
    def unet(self, x, t):
        temb = self.timembedding(t)
        h = self.head(x)
        hs = [h]
        h = self.down1(h, temb)
        hs.append(h)
        h = self.downsample(h)
        h = self.down2(h, temb)
        hs.append(h)
        for layer in self.middle:
            h = layer(h, temb)
        h = torch.cat([h, hs.pop()], dim=1)
        h = self.up2(h, temb)
        h = F.interpolate(h, scale_factor=2, mode="nearest")
        h = self.upsample(h)
        h = torch.cat([h, hs.pop()], dim=1)
        h = self.up1(h, temb)
        h = self.tail(h)
        return h
    def forward(self, x_0):
        t = torch.randint(self.T, size=(x_0.shape[0],), device=x_0.device)
        noise = torch.randn_like(x_0)
        x_t = (self.extract(self.sqrt_alphas_bar, t, x_0.shape) * x_0
               + self.extract(self.sqrt_one_minus_alphas_bar, t, x_0.shape) * noise)
        return F.mse_loss(self.unet(x_t, t), noise, reduction="none").mean()
class MultiHeadedAttention(nn.Module):
    "from 'The Annotated Transformer'"
    def __init__(self, h, d_model, dropout=0.1):
        super().__init__()
        self.d_k, self.h = d_model // h, h
        self.linears = nn.ModuleList([nn.Linear(d_model, d_model) for _ in range(4)])
        self.attn, self.dropout = None, nn.Dropout(p=dropout)
    def attention(self, query, key, value, mask=None, dropout=None):
        d_k = query.size(-1)
        scores = torch.matmul(query, key.transpose(-2, -1)) / math.sqrt(d_k)
        if mask is not None:
            scores = scores.masked_fill(mask == 0, -1e9)
        p_attn = scores.softmax(dim=-1)
        if dropout is not None:
            p_attn = dropout(p_attn)
        return torch.matmul(p_attn, value), p_attn
    def forward(self, query, key, value, mask=None):
        if mask is not None:
            mask = mask.unsqueeze(1)
        nbatches = query.size(0)
        query, key, value = [lin(x).view(nbatches, -1, self.h, self.d_k).transpose(1, 2)
                             for lin, x in zip(self.linears, (query, key, value))]
        x, attn = self.attention(query, key, value, mask=mask, dropout=self.dropout)
        x = x.transpose(1, 2).contiguous().view(nbatches, -1, self.h * self.d_k)
        del query
        del key
        del value
        return self.linears[-1](x)
class PositionwiseFeedForward(nn.Module):
    def __init__(self, d_model, d_ff, dropout=0.1):
        super().__init__()
        self.w_1, self.w_2, self.dropout = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model), nn.Dropout(dropout)
    def forward(self, x):
        return self.w_2(self.dropout(self.w_1(x).relu()))
class HandNorm(nn.Module):
    def __init__(self, features, eps=1e-6):
        super().__init__()
        self.a_2, self.b_2, self.eps = nn.Parameter(torch.ones(features)), nn.Parameter(torch.zeros(features)), eps
    def forward(self, x):
        mean = x.mean(-1, keepdim=True)
        std = x.std(-1, keepdim=True)
        return self.a_2 * (x - mean) / (std + self.eps) + self.b_2
class Sublayer(nn.Module):
    def __init__(self, size, dropout=0.1):
        super().__init__()
        self.norm, self.dropout = HandNorm(size), nn.Dropout(dropout)
    def forward(self, x, sublayer):
        return x + self.dropout(sublayer(self.norm(x)))
class EncoderLayer(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.self_attn, self.feed_forward = MultiHeadedAttention(4, size), PositionwiseFeedForward(size, 2 * size)
        self.sublayer = nn.ModuleList([Sublayer(size) for _ in range(2)])
    def forward(self, x, mask):
        x = self.sublayer[0](x, lambda x: self.self_attn(x, x, x, mask))
        return self.sublayer[1](x, self.feed_forward)
class DecoderLayer(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.self_attn, self.src_attn, self.feed_forward = MultiHeadedAttention(4, size), \\
            MultiHeadedAttention(4, size), PositionwiseFeedForward(size, 2 * size)
        self.sublayer = nn.ModuleList([Sublayer(size) for _ in range(3)])
    def forward(self, x, memory, src_mask, tgt_mask):
        m = memory
        x = self.sublayer[0](x, lambda x: self.self_attn(x, x, x, tgt_mask))
        x = self.sublayer[1](x, lambda x: self.src_attn(x, m, m, src_mask))
        return self.sublayer[2](x, self.feed_forward)
class Annotated(nn.Module):
    def __init__(self, vocab=200, d=64, n=2):
        super().__init__()
        self.src_embed, self.tgt_embed, self.d = nn.Embedding(vocab, d), nn.Embedding(vocab, d), d
        pe = torch.zeros(128, d)
        position = torch.arange(0, 128).unsqueeze(1)
        div_term = torch.exp(torch.arange(0, d, 2) * -(math.log(10000.0) / d))
        pe[:, 0::2], pe[:, 1::2] = torch.sin(position * div_term), torch.cos(position * div_term)
        self.register_buffer("pe", pe.unsqueeze(0))
        self.dropout = nn.Dropout(0.1)
        self.encoder, self.decoder = nn.ModuleList([EncoderLayer(d)
            for _ in range(n)]), nn.ModuleList([DecoderLayer(d) for _ in range(n)])
        self.enc_norm, self.dec_norm, self.proj = HandNorm(d), HandNorm(d), nn.Linear(d, vocab)
    def embed(self, table, x):
        x = table(x) * math.sqrt(self.d)
        x = x + self.pe[:, : x.size(1)].requires_grad_(False)
        return self.dropout(x)
    def forward(self, tokens):
        src, tgt = tokens[:, :24], tokens[:, 24:]
        src_mask = (src != 0).unsqueeze(-2)
        tgt_mask = (tgt != 0).unsqueeze(-2)
        size = tgt.size(-1)
        subsequent_mask = torch.triu(torch.ones(1, size, size, device=tokens.device), diagonal=1).type(torch.uint8)
        tgt_mask = tgt_mask & (subsequent_mask == 0)
        memory = self.embed(self.src_embed, src)
        for layer in self.encoder:
            memory = layer(memory, src_mask)
        memory = self.enc_norm(memory)
        x = self.embed(self.tgt_embed, tgt)
        for layer in self.decoder:
            x = layer(x, memory, src_mask, tgt_mask)
        return F.log_softmax(self.proj(self.dec_norm(x)), dim=-1)
class WordTransformer(nn.Module):
    "PyTorch's word language model with nn.TransformerEncoder"
    def __init__(self, ntoken=400, ninp=64, nhead=4, nhid=128, nlayers=2, dropout=0.2):
        super().__init__()
        self.pos_encoder = nn.Embedding(64, ninp)
        self.transformer_encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(ninp, nhead, nhid, dropout),
            nlayers)
        self.encoder, self.ninp, self.decoder = nn.Embedding(ntoken, ninp), ninp, nn.Linear(ninp, ntoken)
        self.drop = nn.Dropout(dropout)
    def forward(self, tokens):
        src = tokens.t()
        src_mask = nn.Transformer.generate_square_subsequent_mask(len(src)).to(src.device)
        src = self.encoder(src) * math.sqrt(self.ninp)
        src = self.drop(src + self.pos_encoder(torch.arange(len(src), device=src.device)).unsqueeze(1))
        output = self.transformer_encoder(src, src_mask)
        output = self.decoder(output)
        return F.log_softmax(output, dim=-1).transpose(0, 1)
class DQN(nn.Module):
    "dueling networks, the TD error with a frozen target in forward"
    def __init__(self, actions=4, n_obs=32):
        super().__init__()
        def head():
            return nn.ModuleDict(dict(feature=nn.Sequential(nn.Linear(n_obs, 128), nn.ReLU(), nn.Linear(128, 128),
                nn.ReLU()),
                                      advantage=nn.Linear(128, actions), value=nn.Linear(128, 1)))
        self.policy_net, self.target_net = head(), head()
        self.target_net.load_state_dict(self.policy_net.state_dict())
        for p in self.target_net.parameters():
            p.requires_grad_(False)
    def q(self, net, state):
        feat = net["feature"](state)
        adv, val = net["advantage"](feat), net["value"](feat)
        return val + adv - adv.mean(dim=1, keepdim=True)
    def forward(self, transitions):
        state, next_state, reward = transitions[:, 0], transitions[:, 1], transitions[:, 2, 0]
        action = (reward > 0.5).long().unsqueeze(1)
        state_action_values = self.q(self.policy_net, state).gather(1, action)
        with torch.no_grad():
            next_action = self.q(self.policy_net, next_state).argmax(1, keepdim=True)
            next_state_values = self.q(self.target_net, next_state).gather(1, next_action).squeeze(1)
        expected = reward + 0.99 * next_state_values
        criterion = nn.SmoothL1Loss()
        return criterion(state_action_values, expected.unsqueeze(1))
class CRNN(nn.Module):
    "convolutions, then time steps through linear layers with CTC"
    def __init__(self, classes=27):
        super().__init__()
        def conv(i, o, pool):
            layers = [nn.Conv2d(i, o, 3, 1, 1), nn.BatchNorm2d(o), nn.ReLU(inplace=True)]
            return nn.Sequential(*layers, nn.MaxPool2d(*pool))
        self.cnn = nn.Sequential(conv(1, 16, ((2, 2), (2, 2))), conv(16, 32, ((2, 2), (2, 2))), conv(32, 64, ((4, 1),
            (4, 1))))
        self.map_to_seq, self.dense = nn.Linear(128, 64), nn.Linear(64, classes)
    def forward(self, images):
        conv = self.cnn(images)
        batch, channel, height, width = conv.size()
        conv = conv.view(batch, channel * height, width)
        conv = conv.permute(2, 0, 1)
        seq = self.map_to_seq(conv)
        output = self.dense(torch.relu(seq))
        return output.log_softmax(2).permute(1, 0, 2)
class ResidualDenseBlock(nn.Module):
    def __init__(self, nf=32, gc=16):
        super().__init__()
        self.conv1, self.conv2, self.conv3 = nn.Conv2d(nf, gc, 3, 1, 1), nn.Conv2d(nf + gc, gc, 3, 1, 1), \\
            nn.Conv2d(nf + 2 * gc, nf, 3, 1, 1)
        self.lrelu = nn.LeakyReLU(negative_slope=0.2, inplace=True)
    def forward(self, x):
        x1 = self.lrelu(self.conv1(x))
        x2 = self.lrelu(self.conv2(torch.cat((x, x1), 1)))
        x3 = self.conv3(torch.cat((x, x1, x2), 1))
        return x3 * 0.2 + x
class ChannelAttention(nn.Module):
    def __init__(self, channel, reduction=8):
        super().__init__()
        self.avg_pool = nn.AdaptiveAvgPool2d(1)
        self.conv_du = nn.Sequential(nn.Conv2d(channel, channel // reduction, 1), nn.ReLU(inplace=True),
                                     nn.Conv2d(channel // reduction, channel, 1), nn.Sigmoid())
    def forward(self, x):
        y = self.avg_pool(x)
        y = self.conv_du(y)
        return x * y
class SuperResolution(nn.Module):
    def __init__(self, nf=32, blocks=3, upscale=4):
        super().__init__()
        self.conv_first = nn.Conv2d(3, nf, 3, 1, 1)
        self.body = nn.Sequential(*[nn.Sequential(ResidualDenseBlock(nf), ChannelAttention(nf)) for _ in range(blocks)])
        self.upconv1, self.upconv2 = nn.Conv2d(nf, nf * 4, 3, 1, 1), nn.Conv2d(nf, nf * 4, 3, 1, 1)
        self.pixel_shuffle, self.conv_last = nn.PixelShuffle(2), nn.Conv2d(nf, 3, 3, 1, 1)
        self.lrelu = nn.LeakyReLU(0.1, inplace=True)
    def forward(self, x):
        feat = self.conv_first(x)
        res = self.body(feat)
        res += feat
        out = self.lrelu(self.pixel_shuffle(self.upconv1(res)))
        out = self.lrelu(self.pixel_shuffle(self.upconv2(out)))
        out = self.conv_last(out)
        base = F.interpolate(x, scale_factor=4, mode="bilinear", align_corners=False)
        out += base
        return out
class MoCo(nn.Module):
    "a key encoder that follows by momentum, a queue of negatives"
    def __init__(self, dim=32, K=256, T=0.07):
        super().__init__()
        def encoder():
            return nn.Sequential(nn.Conv2d(3, 16, 3, 2, 1), nn.BatchNorm2d(16), nn.ReLU(), nn.Conv2d(16, 32, 3, 2, 1),
                                 nn.BatchNorm2d(32), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(32,
                                     dim))
        self.T, self.encoder_q, self.encoder_k = T, encoder(), encoder()
        for param_q, param_k in zip(self.encoder_q.parameters(), self.encoder_k.parameters()):
            param_k.data.copy_(param_q.data)
            param_k.requires_grad = False
        self.register_buffer("queue", F.normalize(torch.randn(dim, K), dim=0))
    def forward(self, im_q):
        q = self.encoder_q(im_q)
        q = nn.functional.normalize(q, dim=1)
        with torch.no_grad():
            k = self.encoder_k(torch.flip(im_q, dims=[3]))
            k = nn.functional.normalize(k, dim=1)
        l_pos = torch.einsum("nc,nc->n", [q, k]).unsqueeze(-1)
        l_neg = torch.einsum("nc,ck->nk", [q, self.queue.clone().detach()])
        logits = torch.cat([l_pos, l_neg], dim=1)
        logits /= self.T
        labels = torch.zeros(logits.shape[0], dtype=torch.long, device=logits.device)
        return F.cross_entropy(logits, labels)
class DiceUNet(nn.Module):
    "segmentation with dice and cross entropy in one"
    def __init__(self, classes=4, f=16):
        super().__init__()
        def block(i, o):
            return nn.Sequential(nn.Conv2d(i, o, 3, padding=1), nn.InstanceNorm2d(o, affine=True), nn.LeakyReLU(0.01,
                True),
                                 nn.Conv2d(o, o, 3, padding=1), nn.InstanceNorm2d(o, affine=True), nn.LeakyReLU(0.01,
                                     True))
        self.e1, self.e2, self.e3 = block(1, f), block(f, 2 * f), block(2 * f, 4 * f)
        self.u2, self.u1 = nn.ConvTranspose2d(4 * f, 2 * f, 2, 2), nn.ConvTranspose2d(2 * f, f, 2, 2)
        self.d2, self.d1 = block(4 * f, 2 * f), block(2 * f, f)
        self.out, self.aux = nn.Conv2d(f, classes, 1), nn.Conv2d(2 * f, classes, 1)
        self.classes = classes
    def dice(self, logits, target):
        probs = torch.softmax(logits, dim=1)
        onehot = F.one_hot(target, self.classes).permute(0, 3, 1, 2).float()
        dims = (0, 2, 3)
        intersection = torch.sum(probs * onehot, dims)
        cardinality = torch.sum(probs + onehot, dims)
        return (1. - 2. * intersection / (cardinality + 1e-7)).mean()
    def forward(self, image):
        e1 = self.e1(image)
        e2 = self.e2(F.max_pool2d(e1, 2))
        e3 = self.e3(F.max_pool2d(e2, 2))
        d2 = self.d2(torch.cat((self.u2(e3), e2), dim=1))
        d1 = self.d1(torch.cat((self.u1(d2), e1), dim=1))
        logits = self.out(d1)
        deep = F.interpolate(self.aux(d2), size=logits.shape[2:], mode="bilinear", align_corners=True)
        target = (image[:, 0] * self.classes).long().clamp(0, self.classes - 1)
        loss = F.cross_entropy(logits, target) + self.dice(logits, target)
        loss = loss + 0.4 * (F.cross_entropy(deep, target) + self.dice(deep, target))
        return loss
class Conformer(nn.Module):
    "one block with its convolution module, GLU and relative shift left out"
    def __init__(self, d=64, heads=4, k=15, classes=30, layers=2):
        super().__init__()
        self.sub = nn.Sequential(nn.Conv2d(1, d, 3, 2), nn.ReLU(), nn.Conv2d(d, d, 3, 2), nn.ReLU())
        self.inp = nn.Sequential(nn.Linear(d * 19, d), nn.Dropout(0.1))
        def ff():
            return nn.Sequential(nn.LayerNorm(d), nn.Linear(d, 4 * d), nn.SiLU(), nn.Dropout(0.1), nn.Linear(4 * d,
                d), nn.Dropout(0.1))
        self.ff1, self.ff2 = nn.ModuleList(ff() for _ in range(layers)), nn.ModuleList(ff() for _ in range(layers))
        self.ln, self.mha = nn.ModuleList(nn.LayerNorm(d) for _ in range(layers)), \\
            nn.ModuleList(nn.MultiheadAttention(d, heads, dropout=0.1, batch_first=True) for _ in range(layers))
        self.cln = nn.ModuleList(nn.LayerNorm(d) for _ in range(layers))
        self.conv = nn.ModuleList(nn.Sequential(nn.Conv1d(d, 2 * d, 1), nn.GLU(dim=1), nn.Conv1d(d, d, k,
            padding=k // 2, groups=d),
                                                nn.BatchNorm1d(d), nn.SiLU(), nn.Conv1d(d, d,
                                                    1), nn.Dropout(0.1)) for _ in range(layers))
        self.final, self.fc = nn.ModuleList(nn.LayerNorm(d) for _ in range(layers)), nn.Linear(d, classes)
    def forward(self, spec):
        x = self.sub(spec.unsqueeze(1))
        b, c, t, f = x.size()
        x = self.inp(x.permute(0, 2, 1, 3).contiguous().view(b, t, c * f))
        for i in range(len(self.ff1)):
            x = x + 0.5 * self.ff1[i](x)
            y = self.ln[i](x)
            y, _ = self.mha[i](y, y, y)
            x = x + y
            y = self.cln[i](x).transpose(1, 2)
            x = x + self.conv[i](y).transpose(1, 2)
            x = x + 0.5 * self.ff2[i](x)
            x = self.final[i](x)
        return F.log_softmax(self.fc(x), dim=-1)
"""
NETS_AGAIN = (
    ("yolo", "YOLOv3()", PICTURE, ""),
    ("mamba", "MambaLM()", "torch.ones(b, 16, dtype=torch.long)", "output"),
    ("rwkv", "RWKV()", "torch.ones(b, 12, dtype=torch.long)", ""),
    ("retnet", "RetNet()", SHORT, ""),
    ("splines", "nn.Sequential(SplineLinear(64, 32), SplineLinear(32, 10))", "torch.rand(b, 64)", ""),
    ("lora", "FrozenWithLoRA()", SHORT, ""),
    ("moe", "MoETransformer()", SHORT, "output"),
    ("conv_lstm", "ConvLSTM()", "torch.rand(b, 5, 1, 32, 32)", ""),
    ("latent_ode", "EulerODE()", "torch.rand(b, 10, 16)", "output"),
    ("mixer", "Mixer()", PICTURE, ""),
    ("perceiver", "Perceiver()", SMALLER, ""),
    ("diffusion_points", "TinyDiffusion()", "torch.rand(b, 2)", "output"),
    ("pointnet", "PointNet()", "torch.rand(b, 128, 3)", "output"),
    ("progan_critic", "ProGANCritic()", SMALLER, ""),
    ("progan", "ProGANGenerator()", "torch.rand(b, 64, 1, 1)", ""),
    ("cvae", "CVAE()", "torch.rand(b, 1, 28, 28)", "output"),
    ("two_tower", "TwoTower()", "torch.ones(b, 6, dtype=torch.long)", "output"),
    ("dcn_mix", "DCNMix()", "torch.ones(b, 8, dtype=torch.long)", ""),
    ("gat", "GAT()", "torch.rand(b, 64)", ""),
    ("stgcn", "STGCN()", "torch.rand(b, 2, 24, 12)", ""),
    ("ddpm", "DDPM()", SMALLER, "output"),
    ("annotated", "Annotated()", "torch.ones(b, 48, dtype=torch.long)", ""),
    ("word_transformer", "WordTransformer()", SHORT, ""),
    ("dqn", "DQN()", "torch.rand(b, 3, 32)", "output"),
    ("crnn", "CRNN()", "torch.rand(b, 1, 32, 100)", ""),
    ("super_resolution", "SuperResolution()", SMALLER, ""),
    ("moco", "MoCo()", SMALLER, "output"),
    ("dice_unet", "DiceUNet()", "torch.rand(b, 1, 64, 64)", "output"),
    ("conformer", "Conformer()", FRAMES, ""),
)

# package, name, what is imported, the model, its input for a batch of b, the loss where it is not a mean squared error
ROWS = (
    *(("unseen", name, TASKS, f"M({made})", given, "") for name, made, given in HUGGING),
    *(("unseen", name, TASKS, f"Inside({made})", given, "output") for name, made, given in INSIDE),
    *(("unseen", "pyg_" + name, GRAPHS, made, given, "") for name, made, given in GEOMETRIC),
    *(("unseen", "net_" + name, LESSONS, made, given, loss) for name, made, given, loss in NETS),
    *(("later", name, TASKS, f"M({made})", given, "") for name, made, given in AFTER),
    *(("later", "net_" + name, LATER, made, given, loss) for name, made, given, loss in FURTHER),
    *(("third", "tv_" + name, VISION, made, given, loss) for name, made, given, loss in SEEN),
    *(("third", "tm_" + n, "import timm", f"timm.create_model('{n}', num_classes=10)", LARGER, "") for n in TIMMED),
    *(("third", name, MORE_TASKS, made, given, loss) for name, made, given, loss in AGAIN),
    *(("third", "df_" + name, DENOISERS, made, given, "") for name, made, given in DENOISED),
    *(("third", "net_" + name, ORDINARY, made, given, loss) for name, made, given, loss in NETS_AGAIN),
)

INSIDE_LOSS, OUT = "# loss: output\n", ("F.mse_loss, (4,)", "lambda out, _: out, (4,)")
