#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Models that nobody had run through memlint when they were written down, a row each: for families.py.

Transformers' models of other tasks than those of families.py, torch_geometric's dense layers, and nets as tutorials
have them, some with the loss inside ("# loss:" says so) or several outputs.
"""

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
IMAGE = "torch.rand(b, 3, 64, 64)"

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
        IMAGE,
    ),
    ("detr", "'DetrModel', 'DetrConfig', 'pixel_values', use_pretrained_backbone=False, num_queries=10", IMAGE),
    (
        "segformer_seg",
        "'SegformerForSemanticSegmentation', 'SegformerConfig', 'pixel_values', "
        "hidden_sizes=[16, 32, 48, 64], depths=[1, 1, 1, 1], num_attention_heads=[1, 2, 3, 4], decoder_hidden_size=32",
        IMAGE,
    ),
    (
        "dpt",
        "'DPTForDepthEstimation', 'DPTConfig', 'pixel_values', image_size=64, backbone_out_indices=[0, 1, 2, 3], "
        "num_hidden_layers=4, "
        "neck_hidden_sizes=[16, 24, 32, 48], fusion_hidden_size=32, is_hybrid=False",
        IMAGE,
    ),
    (
        "beit_seg",
        "'BeitForSemanticSegmentation', 'BeitConfig', 'pixel_values', image_size=64, num_hidden_layers=4, "
        "out_indices=[1, 2, 3, 4]",
        IMAGE,
    ),
    (
        "upernet",
        "'UperNetForSemanticSegmentation', 'UperNetConfig', 'pixel_values', hidden_size=32, "
        "auxiliary_channels=48, backbone_config=transformers.ConvNextConfig(hidden_sizes=[16, 24, 32, 48], "
        "depths=[1, 1, 1, 1], out_features=['stage1', 'stage2', 'stage3', 'stage4']), auxiliary_in_channels=32",
        IMAGE,
    ),
    (
        "glpn",
        "'GLPNForDepthEstimation', 'GLPNConfig', 'pixel_values', hidden_sizes=[16, 32, 48, 64], "
        "depths=[1, 1, 1, 1], num_attention_heads=[1, 2, 3, 4], decoder_hidden_size=32",
        IMAGE,
    ),
    (
        "vitdet",
        "'VitDetModel', 'VitDetConfig', 'pixel_values', image_size=64, pretrain_image_size=64, "
        "window_block_indices=[0], window_size=2, use_relative_position_embeddings=True",
        IMAGE,
    ),
    (
        "swin2sr",
        "'Swin2SRForImageSuperResolution', 'Swin2SRConfig', 'pixel_values', image_size=32, embed_dim=32, "
        "depths=[2], num_heads=[2], window_size=8",
        "torch.rand(b, 3, 32, 32)",
    ),
    (
        "sam_vision",
        "'SamVisionModel', 'SamVisionConfig', 'pixel_values', image_size=64, window_size=2, "
        "global_attn_indexes=[1], output_channels=32, mlp_dim=128",
        IMAGE,
    ),
    ("blip_vision", "'BlipVisionModel', 'BlipVisionConfig', 'pixel_values', image_size=64", IMAGE),
    (
        "groupvit_vision",
        "'GroupViTVisionModel', 'GroupViTVisionConfig', 'pixel_values', image_size=64, "
        "depths=[1, 1, 1], num_group_tokens=[8, 4, 0], num_output_groups=[8, 4, 0]",
        IMAGE,
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
    ("vitmae", "'ViTMAEModel', 'ViTMAEConfig', 'pixel_values', image_size=64", IMAGE),
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
    ("sagan", "SelfAttentionGAN()", "torch.rand(b, 3, 32, 32)", ""),
    ("wavenet", "WaveNet()", "torch.rand(b, 1, 512)", ""),
    ("seq2seq", "Seq2Seq()", "torch.ones(b, 12, dtype=torch.long)", ""),
    ("tacotron", "Tacotron()", "torch.rand(b, 50, 40)", ""),
    ("nerf", "NeRF()", "torch.rand(b, 32, 6)", ""),
    ("deepfm", "DeepFM()", "torch.ones(b, 10, dtype=torch.long)", ""),
    ("dlrm", "DLRM()", "torch.rand(b, 13)", ""),
    ("capsules", "Capsules()", "torch.rand(b, 1, 28, 28)", ""),
    ("vqvae", "VQVAE()", "torch.rand(b, 3, 32, 32)", "output"),
    ("flow", "Flow()", "torch.rand(b, 32)", "output"),
    ("gru_lm", "WordModel('GRU')", "torch.ones(b, 32, dtype=torch.long)", ""),
    ("lstm_lm", "WordModel('LSTM')", "torch.ones(b, 32, dtype=torch.long)", ""),
    ("ode", "ODE()", "torch.rand(b, 64)", ""),
    ("siamese", "Siamese()", "torch.rand(b, 2, 28, 28)", "output"),
    ("pixelcnn", "PixelCNN()", "torch.rand(b, 1, 28, 28)", ""),
    ("simclr", "Contrast()", "torch.rand(b, 3, 32, 32)", "output"),
    ("unet", "UNET()", "torch.rand(b, 3, 64, 64)", ""),
    ("actor_critic", "ActorCritic()", "torch.rand(b, 4, 84, 84)", "output"),
    ("bidaf", "BiDAF()", "torch.ones(b, 60, dtype=torch.long)", ""),
    ("stn", "SpatialTransformer()", "torch.rand(b, 1, 28, 28)", ""),
    ("translate", "Translate()", "torch.ones(b, 56, dtype=torch.long)", ""),
    ("made", "MADE()", "torch.rand(b, 64)", "output"),
    ("prototypes", "Prototypes()", "torch.rand(b, 12, 28, 28)", ""),
    ("kan", "nn.Sequential(KANLayer(32, 64), KANLayer(64, 8))", "torch.rand(b, 32)", ""),
    ("ngram", "NGram()", "torch.ones(b, 8, dtype=torch.long)", ""),
    ("video", "VideoLSTM()", CLIP, ""),
    ("style", "Style()", "torch.rand(b, 3, 32, 32)", "output"),
)

# The second set: written down when the first had been looked at, and before any of these was run.
AFTER = (
    ("siglip_vision", "'SiglipVisionModel', 'SiglipVisionConfig', 'pixel_values', image_size=64", IMAGE),
    (
        "hiera",
        "'HieraForImageClassification', 'HieraConfig', 'pixel_values', image_size=[64, 64], embed_dim=16, "
        "depths=[1, 1, 1, 1], num_heads=[1, 2, 2, 2], masked_unit_size=[8, 8]",
        IMAGE,
    ),
    (
        "pvt",
        "'PvtForImageClassification', 'PvtConfig', 'pixel_values', image_size=64, hidden_sizes=[16, 32, 48, 64], "
        "depths=[1, 1, 1, 1], num_attention_heads=[1, 2, 3, 4]",
        IMAGE,
    ),
    (
        "swiftformer",
        "'SwiftFormerForImageClassification', 'SwiftFormerConfig', 'pixel_values', embed_dims=[16, 24, 32, "
        "48], depths=[1, 1, 1, 1]",
        IMAGE,
    ),
    ("mobilevitv2", "'MobileViTV2ForImageClassification', 'MobileViTV2Config', 'pixel_values', image_size=64", IMAGE),
    (
        "resnet",
        "'ResNetForImageClassification', 'ResNetConfig', 'pixel_values', embedding_size=16, hidden_sizes=[16, "
        "32, 48, 64], depths=[1, 1, 1, 1]",
        IMAGE,
    ),
    (
        "data2vec_vision",
        "'Data2VecVisionForImageClassification', 'Data2VecVisionConfig', 'pixel_values', image_size=64",
        IMAGE,
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
    ("seresnext", "SEResNeXt()", "torch.rand(b, 3, 32, 32)", ""),
    (
        "inception",
        "nn.Sequential(nn.Conv2d(3, 32, 3), Inception(32), Inception(64), nn.Conv2d(64, 8, 1))",
        "torch.rand(b, 3, 32, 32)",
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
    ("fpn", "FPN()", "torch.rand(b, 3, 64, 64)", ""),
    ("vae", "VAE()", "torch.rand(b, 1, 28, 28)", "output"),
)

# package, name, what is imported, the model, its input for a batch of b, the loss where it is not a mean squared error
ROWS = (
    *(("unseen", name, TASKS, f"M({made})", given, "") for name, made, given in HUGGING),
    *(("unseen", name, TASKS, f"Inside({made})", given, "output") for name, made, given in INSIDE),
    *(("unseen", "pyg_" + name, GRAPHS, made, given, "") for name, made, given in GEOMETRIC),
    *(("unseen", "net_" + name, LESSONS, made, given, loss) for name, made, given, loss in NETS),
    *(("later", name, TASKS, f"M({made})", given, "") for name, made, given in AFTER),
    *(("later", "net_" + name, LATER, made, given, loss) for name, made, given, loss in FURTHER),
)

INSIDE_LOSS, OUT = "# loss: output\n", ("F.mse_loss, (4,)", "lambda out, _: out, (4,)")
