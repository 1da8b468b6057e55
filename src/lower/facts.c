/* SPDX-License-Identifier: Apache-2.0 */
/* facts.c - what the sources of libraries say that a file does not show: one schema, one table.
 *
 * A fact holds for a version of a library, at a place, and stands with the file and the name where it was read. A
 * place is a class (of the module, or of one around it), a module's path or a parameter's name, an operator, another
 * module of the model; what is left out counts anywhere. A fact that names a class is asked of files that recorded
 * classes, one that doesn't of files that have names alone.
 *
 * What the file's own lines contradict does not hold: they are the program, and a library has other versions.
 *
 * Lowering asks by kind; the first fact that holds counts, so a narrow one stands before a wide one. What the lowering
 * makes of a fact is its own affair. How PyTorch's exporter spells and decomposes operators is no fact of a library:
 * spelled.c.
 */
#include "lower/lowering.h"

#include <assert.h>
#include <string.h>

#define TORCHVISION    "torchvision", "0.26"
#define TRANSFORMERS   "Transformers", "4.57"
#define TRANSFORMERS_5 "Transformers", "5.24"
#define MODEL(name)    "transformers.models." name ".*"
#define TIMM           "timm", "1.0"
#define ACTIVATION     "torch.nn.modules.activation.*"
#define DIFFUSERS      "diffusers", "0.35"
#define PEFT           "PEFT", "0.21"
#define PYTORCH        "PyTorch", "2.11"

/* library, version, kind, source, what it says in numbers or names; then where. Transformers' files are named without
 * their folder. */
const struct fact fact_table[] = {
    /* Dropout whose probability is 0 unless a configuration says otherwise: in whole families, at some places of
     * others. */
    {TIMM, FACT_DROPPED, "models/cpubone.py: CPUBone", .around = "timm.models.cpubone.*"},
    {TIMM, FACT_DROPPED, "models/ghostnet.py: GhostNet", .around = "timm.models.ghostnet.*"},
    {TIMM, FACT_DROPPED, "models/repghost.py: RepGhostNet", .around = "timm.models.repghost.*"},
    {TIMM, FACT_DROPPED, "models/rexnet.py: RexNet", .around = "timm.models.rexnet.*"},
    {TIMM, FACT_DROPPED, "models/senet.py: SENet", .around = "timm.models.senet.*"},
    {TORCHVISION, FACT_UNDROPPED, "models/vision_transformer.py: VisionTransformer",
     .around = "torchvision.models.vision_transformer.*"},
    {TORCHVISION, FACT_UNDROPPED, "models/swin_transformer.py: SwinTransformer",
     .around = "torchvision.models.swin_transformer.*"},
    {TORCHVISION, FACT_UNDROPPED, "models/maxvit.py: MaxVit", .around = "torchvision.models.maxvit.*"},
    {TORCHVISION, FACT_UNDROPPED, "ops/misc.py: MLP", .around = "torchvision.ops.misc.MLP"},
    {TORCHVISION, FACT_DROPPED,
     "models/vgg.py: VGG; likewise alexnet.py, mobilenetv2.py, mobilenetv3.py, efficientnet.py",
     .around = "torchvision.*"},
    {TRANSFORMERS, FACT_UNDROPPED, "configuration_arcee.py: ArceeConfig", .around = "transformers.models.arcee.*"},
    {TRANSFORMERS, FACT_UNDROPPED, "configuration_beit.py: BeitConfig", .around = "transformers.models.beit.*"},
    {TRANSFORMERS, FACT_UNDROPPED, "configuration_blip.py: BlipTextConfig", .around = "transformers.models.blip.*"},
    {TRANSFORMERS, FACT_UNDROPPED, "configuration_bloom.py: BloomConfig", .around = "transformers.models.bloom.*"},
    {TRANSFORMERS, FACT_UNDROPPED, "configuration_clip.py: CLIPTextConfig", .around = "transformers.models.clip.*"},
    {TRANSFORMERS, FACT_UNDROPPED, "configuration_codegen.py: CodeGenConfig",
     .around = "transformers.models.codegen.*"},
    {TRANSFORMERS, FACT_UNDROPPED, "configuration_cohere.py: CohereConfig", .around = "transformers.models.cohere.*"},
    {TRANSFORMERS, FACT_UNDROPPED, "configuration_cohere2.py: Cohere2Config",
     .around = "transformers.models.cohere2.*"},
    {TRANSFORMERS, FACT_UNDROPPED, "configuration_deepseek_v3.py: DeepseekV3Config",
     .around = "transformers.models.deepseek_v3.*"},
    {TRANSFORMERS, FACT_UNDROPPED, "configuration_deit.py: DeiTConfig", .around = "transformers.models.deit.*"},
    {TRANSFORMERS, FACT_UNDROPPED, "configuration_dinov2.py: Dinov2Config", .around = "transformers.models.dinov2.*"},
    {TRANSFORMERS, FACT_UNDROPPED, "configuration_exaone4.py: Exaone4Config",
     .around = "transformers.models.exaone4.*"},
    {TRANSFORMERS, FACT_UNDROPPED, "configuration_falcon.py: FalconConfig", .around = "transformers.models.falcon.*"},
    {TRANSFORMERS, FACT_UNDROPPED, "configuration_gemma.py: GemmaConfig", .around = "transformers.models.gemma.*"},
    {TRANSFORMERS, FACT_UNDROPPED, "configuration_gemma2.py: Gemma2Config", .around = "transformers.models.gemma2.*"},
    {TRANSFORMERS, FACT_UNDROPPED, "configuration_gemma3.py: Gemma3TextConfig",
     .around = "transformers.models.gemma3.*"},
    {TRANSFORMERS, FACT_UNDROPPED, "configuration_glm.py: GlmConfig", .around = "transformers.models.glm.*"},
    {TRANSFORMERS, FACT_UNDROPPED, "configuration_glm4.py: Glm4Config", .around = "transformers.models.glm4.*"},
    {TRANSFORMERS, FACT_UNDROPPED, "configuration_gptj.py: GPTJConfig", .around = "transformers.models.gptj.*"},
    {TRANSFORMERS, FACT_UNDROPPED, "configuration_granite.py: GraniteConfig",
     .around = "transformers.models.granite.*"},
    {TRANSFORMERS, FACT_UNDROPPED, "configuration_helium.py: HeliumConfig", .around = "transformers.models.helium.*"},
    {TRANSFORMERS, FACT_UNDROPPED, "configuration_hunyuan_v1_dense.py: HunYuanDenseV1Config",
     .around = "transformers.models.hunyuan_v1_dense.*"},
    {TRANSFORMERS, FACT_UNDROPPED, "configuration_jamba.py: JambaConfig", .around = "transformers.models.jamba.*"},
    {TRANSFORMERS, FACT_UNDROPPED, "configuration_llama.py: LlamaConfig", .around = "transformers.models.llama.*"},
    {TRANSFORMERS, FACT_UNDROPPED, "configuration_mistral.py: MistralConfig",
     .around = "transformers.models.mistral.*"},
    {TRANSFORMERS, FACT_UNDROPPED, "configuration_mixtral.py: MixtralConfig",
     .around = "transformers.models.mixtral.*"},
    {TRANSFORMERS, FACT_UNDROPPED, "configuration_mpt.py: MptConfig", .around = "transformers.models.mpt.*"},
    {TRANSFORMERS, FACT_UNDROPPED, "configuration_nemotron.py: NemotronConfig",
     .around = "transformers.models.nemotron.*"},
    {TRANSFORMERS, FACT_UNDROPPED, "configuration_olmo.py: OlmoConfig", .around = "transformers.models.olmo.*"},
    {TRANSFORMERS, FACT_UNDROPPED, "configuration_olmo2.py: Olmo2Config", .around = "transformers.models.olmo2.*"},
    {TRANSFORMERS, FACT_UNDROPPED, "configuration_persimmon.py: PersimmonConfig",
     .around = "transformers.models.persimmon.*"},
    {TRANSFORMERS, FACT_UNDROPPED, "configuration_phi.py: PhiConfig", .around = "transformers.models.phi.*"},
    {TRANSFORMERS, FACT_UNDROPPED, "configuration_phi3.py: Phi3Config", .around = "transformers.models.phi3.*"},
    {TRANSFORMERS, FACT_UNDROPPED, "configuration_qwen2.py: Qwen2Config", .around = "transformers.models.qwen2.*"},
    {TRANSFORMERS, FACT_UNDROPPED, "configuration_qwen2_moe.py: Qwen2MoeConfig",
     .around = "transformers.models.qwen2_moe.*"},
    {TRANSFORMERS, FACT_UNDROPPED, "configuration_qwen3.py: Qwen3Config", .around = "transformers.models.qwen3.*"},
    {TRANSFORMERS, FACT_UNDROPPED, "configuration_qwen3_moe.py: Qwen3MoeConfig",
     .around = "transformers.models.qwen3_moe.*"},
    {TRANSFORMERS, FACT_UNDROPPED, "configuration_siglip.py: SiglipTextConfig",
     .around = "transformers.models.siglip.*"},
    {TRANSFORMERS, FACT_UNDROPPED, "configuration_smollm3.py: SmolLM3Config",
     .around = "transformers.models.smollm3.*"},
    {TRANSFORMERS, FACT_UNDROPPED, "configuration_stablelm.py: StableLmConfig",
     .around = "transformers.models.stablelm.*"},
    {TRANSFORMERS, FACT_UNDROPPED, "configuration_starcoder2.py: Starcoder2Config",
     .around = "transformers.models.starcoder2.*"},
    {TRANSFORMERS, FACT_UNDROPPED, "configuration_swin.py: SwinConfig", .around = "transformers.models.swin.*"},
    {TRANSFORMERS, FACT_UNDROPPED, "configuration_swinv2.py: Swinv2Config", .around = "transformers.models.swinv2.*"},
    {TRANSFORMERS, FACT_UNDROPPED, "configuration_vit.py: ViTConfig", .around = "transformers.models.vit.*"},
    {TRANSFORMERS, FACT_UNDROPPED, "configuration_opt.py: OPTConfig", .type = "transformers.models.opt.*Attention"},
    {TRANSFORMERS, FACT_UNDROPPED, "configuration_bart.py: BartConfig", .type = "transformers.models.bart.*Attention"},
    {TRANSFORMERS, FACT_UNDROPPED, "configuration_mbart.py: MBartConfig",
     .type = "transformers.models.mbart.*Attention"},
    {TRANSFORMERS, FACT_UNDROPPED, "configuration_pegasus.py: PegasusConfig",
     .type = "transformers.models.pegasus.*Attention"},
    {TRANSFORMERS, FACT_UNDROPPED, "configuration_cpmant.py: CpmAntConfig", .around = "transformers.models.cpmant.*"},
    {TRANSFORMERS, FACT_UNDROPPED, "configuration_dinov2_with_registers.py: Dinov2WithRegistersConfig",
     .around = "transformers.models.dinov2_with_registers.*"},
    {TRANSFORMERS, FACT_UNDROPPED, "configuration_ijepa.py: IJepaConfig", .around = "transformers.models.ijepa.*"},
    {TRANSFORMERS, FACT_UNDROPPED, "configuration_vit_msn.py: ViTMSNConfig", .around = "transformers.models.vit_msn.*"},
    {TRANSFORMERS, FACT_UNDROPPED, "configuration_yolos.py: YolosConfig", .around = "transformers.models.yolos.*"},
    {TRANSFORMERS, FACT_UNDROPPED, "configuration_vivit.py: VivitConfig", .around = "transformers.models.vivit.*"},
    {TRANSFORMERS, FACT_UNDROPPED, "configuration_marian.py: MarianConfig",
     .type = "transformers.models.marian.*Attention"},
    {TRANSFORMERS, FACT_UNDROPPED, "configuration_blenderbot.py: BlenderbotConfig",
     .type = "transformers.models.blenderbot*Attention"},
    {TRANSFORMERS, FACT_UNDROPPED, "configuration_led.py: LEDConfig", .type = "transformers.models.led.*Attention"},
    {TRANSFORMERS, FACT_UNDROPPED, "configuration_bigbird_pegasus.py: BigBirdPegasusConfig",
     .type = "transformers.models.bigbird_pegasus.*Attention"},
    {TRANSFORMERS, FACT_UNDROPPED, "configuration_speech_to_text.py: Speech2TextConfig",
     .type = "transformers.models.speech_to_text.*Attention"},
    {TRANSFORMERS, FACT_UNDROPPED, "configuration_whisper.py: WhisperConfig",
     .around = "transformers.models.whisper.*"},
    {TRANSFORMERS, FACT_UNDROPPED, "configuration_detr.py: DetrConfig", .type = "transformers.models.detr.*Attention"},
    {TRANSFORMERS, FACT_UNDROPPED, "configuration_bart.py: BartConfig", .around = "transformers.models.*coderLayer",
     .path = "*.fc2"},
    {TRANSFORMERS, FACT_UNDROPPED, "configuration_wav2vec2.py: Wav2Vec2Config",
     .around = "transformers.models.wav2vec2.*FeatureProjection"},
    {TRANSFORMERS, FACT_UNDROPPED, "configuration_hubert.py: HubertConfig",
     .around = "transformers.models.hubert.*FeatureProjection"},
    {TRANSFORMERS, FACT_UNDROPPED, "configuration_wavlm.py: WavLMConfig",
     .around = "transformers.models.wavlm.*FeatureProjection"},
    {TRANSFORMERS, FACT_UNDROPPED, "configuration_unispeech.py: UniSpeechConfig",
     .around = "transformers.models.unispeech*FeatureProjection"},
    {TRANSFORMERS, FACT_UNDROPPED, "configuration_data2vec_audio.py: Data2VecAudioConfig",
     .around = "transformers.models.data2vec.*FeatureProjection"},
    {TRANSFORMERS, FACT_UNDROPPED, "configuration_albert.py: AlbertConfig", .around = "transformers.models.albert.*",
     .path = "!*classifier*"},
    {TRANSFORMERS, FACT_UNDROPPED, "configuration_gpt_neo.py: GPTNeoConfig", .around = "transformers.models.gpt_neo.*",
     .path = "!*classifier*"},
    {TRANSFORMERS, FACT_UNDROPPED, "configuration_gpt_neox.py: GPTNeoXConfig",
     .around = "transformers.models.gpt_neox.*", .path = "!*classifier*"},
    {TRANSFORMERS, FACT_UNDROPPED, "configuration_segformer.py: SegformerConfig",
     .around = "transformers.models.segformer.*", .path = "!*classifier*"},
    {TRANSFORMERS, FACT_UNDROPPED, "configuration_mobilebert.py: MobileBertConfig",
     .around = "transformers.models.mobilebert.*", .path = "!*.attention.self"},
    {TRANSFORMERS, FACT_UNDROPPED, "configuration_deberta.py: DebertaConfig",
     .around = "transformers.models.deberta*ContextPooler"},
    {TIMM, FACT_UNDROPPED, "layers/attention.py: Attention", .around = "timm.layers.attention*"},
    {TIMM, FACT_UNDROPPED, "layers/mlp.py: Mlp", .around = "timm.layers.mlp.*"},
    {TIMM, FACT_UNDROPPED, "layers/classifier.py: ClassifierHead", .around = "timm.layers.classifier.*"},
    {TIMM, FACT_UNDROPPED, "models/resnet.py: ResNet", .around = "timm.models.*"},
    {DIFFUSERS, FACT_UNDROPPED, "models/attention.py: FeedForward", .around = "diffusers.models.attention.*"},
    {DIFFUSERS, FACT_UNDROPPED, "models/attention.py: FeedForward", .path = "*.net.2", .beside = "../0.proj"},
    {DIFFUSERS, FACT_UNDROPPED, "models/attention_processor.py: Attention",
     .around = "diffusers.models.attention_processor.*"},
    {DIFFUSERS, FACT_UNDROPPED, "models/resnet.py: ResnetBlock2D", .around = "diffusers.models.resnet.*"},
    {DIFFUSERS, FACT_UNDROPPED, "models/transformers/transformer_flux.py: FluxAttention",
     .around = "diffusers.models.transformers.transformer_*"},
    {TRANSFORMERS, FACT_UNDROPPED,
     "configuration_vit_mae.py: ViTMAEConfig; likewise aimv2, apertus, aria, audio_spectrogram_transformer, bamba, "
     "bark, bitnet, blt, chameleon, clipseg, csm, d_fine, dbrx, deepseek_v2, diffllama, dinat, dinov3_vit, doge, "
     "dots1, dpt, efficientloftr, eomt, ernie4_5, ernie4_5_moe, falcon_h1, flava, flex_olmo, focalnet, fuyu, "
     "gemma3n, glm4_moe, glm4v, glm4v_moe, glpn, got_ocr2, gpt_oss, granitemoe, granitemoehybrid, granitemoeshared, "
     "groupvit, hiera, hunyuan_v1_moe, idefics, idefics2, idefics3, internvl, janus, jetmoe, kyutai_speech_to_text, "
     "lfm2, lightglue, llama4, longcat_flash, mask2former, metaclip_2, mgp_str, mimi, minimax, ministral, mlcd, "
     "mllama, modernbert, modernbert_decoder, moonshine, moshi, olmo3, olmoe, omdet_turbo, ovis2, owlv2, owlvit, "
     "patchtst, phi4_multimodal, phimoe, pixtral, pvt, pvt_v2, qwen2_5_vl, qwen2_audio, qwen2_vl, qwen3_next, "
     "qwen3_omni_moe, qwen3_vl, qwen3_vl_moe, recurrent_gemma, rt_detr, rt_detr_v2, sam, sam_hq, seggpt, siglip2, "
     "smolvlm, superglue, swiftformer, swin2sr, t5gemma, timesfm, timesformer, vaultgemma, videomae, vilt, vitdet, "
     "vitpose_backbone, vjepa2, voxtral, x_clip, zamba, zamba2",
     .around = "transformers.models.vit_mae.*|transformers.models.aimv2.*|transformers.models.apertus.*|"
               "transformers.models.aria.*|transformers.models.audio_spectrogram_transformer.*|"
               "transformers.models.bamba.*|transformers.models.bark.*|transformers.models.bitnet.*|"
               "transformers.models.blt.*|transformers.models.chameleon.*|transformers.models.clipseg.*|"
               "transformers.models.csm.*|transformers.models.d_fine.*|transformers.models.dbrx.*|"
               "transformers.models.deepseek_v2.*|transformers.models.diffllama.*|transformers.models.dinat.*|"
               "transformers.models.dinov3_vit.*|transformers.models.doge.*|transformers.models.dots1.*|"
               "transformers.models.dpt.*.DPTViT*|transformers.models.efficientloftr.*|transformers.models.eomt.*|"
               "transformers.models.ernie4_5.*|transformers.models.ernie4_5_moe.*|transformers.models.falcon_h1.*|"
               "transformers.models.flava.*|transformers.models.flex_olmo.*|transformers.models.focalnet.*|"
               "transformers.models.fuyu.*|transformers.models.gemma3n.*|transformers.models.glm4_moe.*|"
               "transformers.models.glm4v.*|transformers.models.glm4v_moe.*|transformers.models.glpn.*|"
               "transformers.models.got_ocr2.*|transformers.models.gpt_oss.*|transformers.models.granitemoe.*|"
               "transformers.models.granitemoehybrid.*|transformers.models.granitemoeshared.*|"
               "transformers.models.groupvit.*|transformers.models.hiera.*|transformers.models.hunyuan_v1_moe.*|"
               "transformers.models.idefics.*|transformers.models.idefics2.*|transformers.models.idefics3.*|"
               "transformers.models.internvl.*|transformers.models.janus.*|transformers.models.jetmoe.*|"
               "transformers.models.kyutai_speech_to_text.*|transformers.models.lfm2.*|"
               "transformers.models.lightglue.*|transformers.models.llama4.*|transformers.models.longcat_flash.*|"
               "transformers.models.mask2former.*|transformers.models.metaclip_2.*|transformers.models.mgp_str.*|"
               "transformers.models.mimi.*|transformers.models.minimax.*|transformers.models.ministral.*|"
               "transformers.models.mlcd.*|transformers.models.mllama.*|transformers.models.modernbert.*|"
               "transformers.models.modernbert_decoder.*|transformers.models.moonshine.*|"
               "transformers.models.moshi.*|transformers.models.olmo3.*|transformers.models.olmoe.*|"
               "transformers.models.omdet_turbo.*|transformers.models.ovis2.*|transformers.models.owlv2.*|"
               "transformers.models.owlvit.*|transformers.models.patchtst.*|transformers.models.phi4_multimodal.*|"
               "transformers.models.phimoe.*|transformers.models.pixtral.*|transformers.models.pvt.*|"
               "transformers.models.pvt_v2.*|transformers.models.qwen2_5_vl.*|transformers.models.qwen2_audio.*|"
               "transformers.models.qwen2_vl.*|transformers.models.qwen3_next.*|"
               "transformers.models.qwen3_omni_moe.*|transformers.models.qwen3_vl.*|"
               "transformers.models.qwen3_vl_moe.*|transformers.models.recurrent_gemma.*|"
               "transformers.models.rt_detr.*|transformers.models.rt_detr_v2.*|transformers.models.sam.*|"
               "transformers.models.sam_hq.*|transformers.models.seggpt.*|transformers.models.siglip2.*|"
               "transformers.models.smolvlm.*|transformers.models.superglue.*|transformers.models.swiftformer.*|"
               "transformers.models.swin2sr.*|transformers.models.t5gemma.*|transformers.models.timesfm.*|"
               "transformers.models.timesformer.*|transformers.models.vaultgemma.*|transformers.models.videomae.*|"
               "transformers.models.vilt.*|transformers.models.vitdet.*|transformers.models.vitpose_backbone.*|"
               "transformers.models.vjepa2.*|transformers.models.voxtral.*|transformers.models.x_clip.*|"
               "transformers.models.zamba.*|transformers.models.zamba2.*"},
    {TRANSFORMERS, FACT_DROPPED, "configuration_bert.py: BertConfig", .around = "transformers.models.*"},

    /* Casts that do nothing in an fp32 export and copy under autocast. */
    {TRANSFORMERS, FACT_INPUT_TO_FLOAT, "loss/loss_utils.py: ForCausalLMLoss", "loss_function",
     .around = "transformers.models.*ForCausalLM|transformers.models.*LMHeadModel|transformers.models.*ForMaskedLM|"
               "transformers.models.*ForTokenClassification|transformers.models.*ForConditionalGeneration",
     .op = "cross_entropy_loss.default"},
    {TRANSFORMERS, FACT_INPUT_TO_WEIGHT, "modeling_t5.py: T5DenseActDense", .around = "*T5Dense*", .path = "*.wo",
     .op = "linear.default"},
    {DIFFUSERS, FACT_INPUT_TO_FLOAT, "models/normalization.py: FP32LayerNorm", "layer_norm",
     .around = "*.FP32LayerNorm", .op = "layer_norm.default"},
    {DIFFUSERS, FACT_RESULT_TO_INPUT, "models/normalization.py: FP32LayerNorm", .around = "*.FP32LayerNorm",
     .op = "layer_norm.default"},
    {TRANSFORMERS, FACT_RESULT_TO_INPUT, "modeling_olmo.py: OlmoLayerNorm", .around = "*OlmoLayerNorm",
     .op = "layer_norm.default"},
    {TRANSFORMERS, FACT_RESULT_TO_VALUE, "modeling_gpt2.py: eager_attention_forward", .around = "*GPT2Attention",
     .op = "softmax.int"},
    {TRANSFORMERS, FACT_RESULT_TO_VALUE, "modeling_imagegpt.py: ImageGPTAttention", .around = "*ImageGPTAttention",
     .op = "softmax.int"},
    {TRANSFORMERS, FACT_RESULT_TO_VALUE, "modeling_gpt_neo.py: GPTNeoSelfAttention", .around = "*GPTNeoSelfAttention",
     .op = "softmax.int"},
    {TRANSFORMERS, FACT_RESULT_TO_VALUE, "modeling_gptj.py: GPTJAttention", .around = "*GPTJAttention",
     .op = "softmax.int"},
    {TRANSFORMERS, FACT_RESULT_TO_VALUE, "modeling_codegen.py: CodeGenAttention", .around = "*CodeGenAttention",
     .op = "softmax.int"},
    {TRANSFORMERS, FACT_RESULT_TO_VALUE, "modeling_mpt.py: MptAttention", .around = "*MptAttention",
     .op = "softmax.int"},
    {TRANSFORMERS, FACT_RESULT_TO_QUERY, "modeling_llama.py: eager_attention_forward",
     .around = "transformers.*Attention", .op = "softmax.int"},
    {PEFT, FACT_RESULT_TO_WEIGHT, "tuners/lora/dora.py: DoraLinearLayer", .around = "peft.tuners.lora.dora.*",
     .op = "permute.default"},
    {PEFT, FACT_ADAPTS, "tuners/lora/layer.py: Linear; likewise miss",
     .around = "peft.tuners.lora.layer.Linear|peft.tuners.lora.layer.Conv*|peft.tuners.miss.layer.*"},
    {PEFT, FACT_RETURNS, "tuners/lora/layer.py: Linear", "base_layer", .around = "peft.tuners.lora.layer.*"},
    {PEFT, FACT_RETURNS, "tuners/miss/layer.py: MissLinear; likewise gralora",
     .around = "peft.tuners.miss.layer.*|peft.tuners.gralora.layer.*"},
    {TRANSFORMERS, FACT_INPUT_TO_WEIGHT, "modeling_t5.py: T5DenseActDense", .path = "*.DenseReluDense.wo",
     .op = "linear.default"},

    /* Norms that copy their input to fp32 and go back to its type after they multiply with the weight, or before. T5's
     * copies it for the square alone and goes to the weight's type. The first that matches counts. */
    {TRANSFORMERS, FACT_NORM_BACK_AT_END, "modeling_gemma.py: GemmaRMSNorm",
     .type = "transformers.models.*gemma*RMSNorm"},
    {TRANSFORMERS, FACT_NORM_BACK_AT_END, "modeling_olmo2.py: Olmo2RMSNorm",
     .type = "transformers.models.olmo2.*RMSNorm"},
    {TRANSFORMERS, FACT_NORM_BACK_AT_END, "modeling_olmo3.py: Olmo3RMSNorm",
     .type = "transformers.models.olmo3.*RMSNorm"},
    {TRANSFORMERS, FACT_NORM_BACK_AT_END, "modeling_flex_olmo.py: FlexOlmoRMSNorm",
     .type = "transformers.models.flex_olmo.*RMSNorm"},
    {TRANSFORMERS, FACT_NORM_BACK_AT_END, "modeling_cohere.py: CohereLayerNorm",
     .type = "transformers.models.cohere*LayerNorm"},
    {TRANSFORMERS, FACT_NORM_BACK_AT_END, "modeling_gpt_oss.py: GptOssRMSNorm",
     .type = "transformers.models.gpt_oss.*RMSNorm"},
    {TRANSFORMERS, FACT_NORM_BACK_AT_END, "modeling_helium.py: HeliumRMSNorm",
     .type = "transformers.models.helium.*RMSNorm"},
    {TRANSFORMERS, FACT_NORM_BACK_AT_END, "modeling_kyutai_speech_to_text.py: KyutaiSpeechToTextRMSNorm",
     .type = "transformers.models.kyutai_*RMSNorm"},
    {TRANSFORMERS, FACT_NORM_BACK_AT_END, "modeling_moshi.py: MoshiRMSNorm",
     .type = "transformers.models.moshi.*RMSNorm"},
    {TRANSFORMERS, FACT_NORM_BACK_AT_END, "modeling_qwen3_next.py: Qwen3NextRMSNorm",
     .type = "transformers.models.qwen3_next.*RMSNorm"},
    {TRANSFORMERS, FACT_NORM_TO_WEIGHT, "modeling_idefics.py: IdeficsRMSNorm",
     .type = "transformers.models.idefics.*RMSNorm"},
    {TRANSFORMERS, FACT_NORM_BACK, "modeling_llama.py: LlamaRMSNorm", .type = "transformers.models.*RMSNorm"},
    {TRANSFORMERS, FACT_NORM_TO_WEIGHT, "modeling_t5.py: T5LayerNorm", .type = "transformers.models.*T5LayerNorm"},
    {TRANSFORMERS, FACT_NORM_TO_WEIGHT, "modeling_switch_transformers.py: SwitchTransformersLayerNorm",
     .type = "*.SwitchTransformersLayerNorm"},
    {TRANSFORMERS, FACT_NORM_TO_WEIGHT, "modeling_udop.py: UdopLayerNorm", .type = "*.UdopLayerNorm"},
    {TRANSFORMERS, FACT_NORM_TO_WEIGHT, "modeling_pix2struct.py: Pix2StructLayerNorm", .type = "*.Pix2StructLayerNorm"},
    {TRANSFORMERS, FACT_NORM_TO_WEIGHT, "modeling_kosmos2_5.py: Kosmos2_5LayerNorm", .type = "*.Kosmos2_5LayerNorm"},
    {TRANSFORMERS, FACT_NORM_TO_WEIGHT, "modeling_pop2piano.py: Pop2PianoLayerNorm", .type = "*.Pop2PianoLayerNorm"},

    /* What is run as one operator of its own, or beside what the file shows. */
    {TRANSFORMERS, FACT_ONE_OPERATOR, "modeling_bloom.py: GeLUFunction", "aten.bloom_gelu.default",
     .type = "*bloom.BloomGelu"},
    {TRANSFORMERS, FACT_ADDS_MASK, "modeling_t5.py: T5Attention", "unsqueeze.default", .around = "*T5Attention",
     .op = "add.Tensor"},
    {TRANSFORMERS_5, FACT_MASKS_ALWAYS,
     "modeling_falcon.py: FalconModel; likewise axk2, deepseek_ocr2, deepseek_v32, diffusion_gemma, doge, dots3_note, "
     "esmc, esmfold2, gemma4, gemma4_unified, git, glm_moe_dsa, hy_v4, hy_v4_vl, lightglue, longformer, "
     "mistral_large4, moonshine_streaming, nemotron_asr_streaming, paligemma, pi0, qwen4_exp, t5gemma2, "
     "unlimited_ocr, visual_bert",
     .around = "transformers.models.falcon.*|transformers.models.axk2.*|transformers.models.deepseek_ocr2.*|"
               "transformers.models.deepseek_v32.*|transformers.models.diffusion_gemma.*|"
               "transformers.models.doge.*|transformers.models.dots3_note.*|transformers.models.esmc.*|"
               "transformers.models.esmfold2.*|transformers.models.gemma4.*|"
               "transformers.models.gemma4_unified.*|transformers.models.git.*|"
               "transformers.models.glm_moe_dsa.*|transformers.models.hy_v4.*|transformers.models.hy_v4_vl.*|"
               "transformers.models.lightglue.*|transformers.models.longformer.*|"
               "transformers.models.mistral_large4.*|transformers.models.moonshine_streaming.*|"
               "transformers.models.nemotron_asr_streaming.*|transformers.models.paligemma.*|"
               "transformers.models.pi0.*|transformers.models.qwen4_exp.*|transformers.models.t5gemma2.*|"
               "transformers.models.unlimited_ocr.*|transformers.models.visual_bert.*",
     .op = "scaled_dot_product_attention.default"},
    {TRANSFORMERS_5, FACT_MASKS_TRACE, "masking_utils.py: create_causal_mask", "expand",
     .around = "transformers.models.*", .op = "scaled_dot_product_attention.default"},

    /* The weights of attention, which autocast leaves in fp32 where no cast follows the softmax. Products read a copy,
     * and whoever is handed the weights has them: each layer, and BERT's loop over layers. */
    {TRANSFORMERS, FACT_WEIGHTS,
     "modeling_bart.py: BartAttention; likewise biogpt, blenderbot, blenderbot_small, data2vec, hubert, imagegpt, "
     "informer, m2m_100, marian, mbart, mgp_str, musicgen, nllb_moe, patchtst, pegasus, plbart, qwen2_audio, sew, "
     "speech_to_text, time_series_transformer, unispeech, unispeech_sat, wav2vec2, whisper",
     .around = "*.BartAttention|*.BioGptAttention|*.BlenderbotAttention|*.BlenderbotSmallAttention|"
               "*.Data2VecAudioAttention|*.HubertAttention|*.ImageGPTAttention|*.InformerAttention|*.M2M100Attention|"
               "*.MarianAttention|*.MBartAttention|*.MgpstrAttention|*.MusicgenAttention|*.NllbMoeAttention|"
               "*.PatchTSTAttention|*.PegasusAttention|*.PLBartAttention|*.Qwen2AudioAttention|*.SEWAttention|"
               "*.Speech2TextAttention|*.TimeSeriesTransformerAttention|*.UniSpeechAttention|*.UniSpeechSatAttention|"
               "*.Wav2Vec2Attention|*.WhisperAttention"},
    {TRANSFORMERS, FACT_WEIGHTS,
     "modeling_bert.py: BertSelfAttention; likewise bert_generation, bridgetower, camembert, data2vec, "
     "electra, ernie, megatron_bert, rembert, roberta, roberta_prelayernorm, roc_bert, roformer, xlm_roberta, "
     "xlm_roberta_xl, xmod",
     .around = "*.BertSelfAttention|*.BertGenerationSelfAttention|*.BridgeTowerSelfAttention|"
               "*.CamembertSelfAttention|*.Data2VecTextSelfAttention|*.ElectraSelfAttention|*.ErnieSelfAttention|"
               "*.MegatronBertSelfAttention|*.RemBertSelfAttention|*.RobertaSelfAttention|"
               "*.RobertaPreLayerNormSelfAttention|*.RoCBertSelfAttention|*.RoFormerSelfAttention|"
               "*.XLMRobertaSelfAttention|*.XLMRobertaXLSelfAttention|*.XmodSelfAttention"},
    {TRANSFORMERS, FACT_WEIGHTS_WITHHELD,
     "modeling_timesformer.py: TimesformerSelfAttention; likewise canine, clap, cpmant, dab_detr, data2vec, "
     "deberta, deberta_v2, dinat, donut, fastspeech2_conformer, flaubert, flava, fsmt, funnel, glpn, "
     "grounding_dino, hiera, ibert, led, longt5, luke, lxmert, mask2former, maskformer, mm_grounding_dino, mpnet, "
     "mvp, nystromformer, omdet_turbo, oneformer, openai, prophetnet, pvt, pvt_v2, seggpt, speecht5, squeezebert, "
     "superglue, swin2sr, swinv2, table_transformer, tapas, trocr, tvp, visual_bert, vitdet, vits, xlm, zoedepth",
     .around = "*.CanineSelfAttention|*.ClapAudioSelfAttention|*.CpmAntAttention|*.DabDetrAttention|"
               "transformers.models.dab_detr.*.DetrAttention|*.Data2VecVisionSelfAttention|"
               "transformers.models.deberta.*.DisentangledSelfAttention|"
               "transformers.models.deberta_v2.*.DisentangledSelfAttention|"
               "transformers.models.dinat.*.NeighborhoodAttention|*.DonutSwinSelfAttention|"
               "*.FastSpeech2ConformerAttention|transformers.models.flaubert.*.MultiHeadAttention|"
               "*.FlavaSelfAttention|transformers.models.fsmt.*.Attention|*.FunnelRelMultiheadAttention|"
               "*.GLPNEfficientSelfAttention|*.GroundingDinoMultiheadAttention|*.HieraMaskUnitAttention|"
               "*.IBertSelfAttention|*.LEDDecoderAttention|*.LongT5LocalAttention|*.LongT5TransientGlobalAttention|"
               "*.LukeSelfAttention|*.LxmertAttention|*.Mask2FormerAttention|*.MaskFormerSwinSelfAttention|"
               "*.MMGroundingDinoMultiheadAttention|*.MPNetSelfAttention|*.MvpAttention|"
               "*.NystromformerSelfAttention|*.OmDetTurboMultiheadAttention|*.OneFormerAttention|"
               "transformers.models.openai.*.Attention|*.ProphetNetAttention|*.PvtEfficientSelfAttention|"
               "*.PvtV2SelfAttention|*.SegGptAttention|*.SpeechT5Attention|*.SqueezeBertSelfAttention|"
               "*.SuperGlueSelfAttention|*.Swin2SRSelfAttention|"
               "*.Swinv2SelfAttention|*.TableTransformerAttention|*.TapasSelfAttention|*.TimesformerSelfAttention|"
               "*.TrOCRAttention|*.TvpAttention|*.VisualBertSelfAttention|*.VitDetAttention|*.VitsAttention|"
               "transformers.models.xlm.*.MultiHeadAttention|*.ZoeDepthMultiheadAttention"},

    /* In place or not, by the class around an activation's; then by the names of modules. The first that matches
     * counts. */
    {PYTORCH, FACT_OFTEN_IN_PLACE, "torch/nn/modules/activation.py: ReLU", .type = "torch.nn.modules.activation.ReLU"},
    {PYTORCH, FACT_OFTEN_IN_PLACE, "torch/nn/modules/activation.py: Hardtanh",
     .type = "torch.nn.modules.activation.Hardtanh"},
    {PYTORCH, FACT_OFTEN_IN_PLACE, "torch/nn/modules/activation.py: ReLU6",
     .type = "torch.nn.modules.activation.ReLU6"},
    {PYTORCH, FACT_OFTEN_IN_PLACE, "torch/nn/modules/activation.py: SiLU", .type = "torch.nn.modules.activation.SiLU"},
    {PYTORCH, FACT_OFTEN_IN_PLACE, "torch/nn/modules/activation.py: Mish", .type = "torch.nn.modules.activation.Mish"},
    {PYTORCH, FACT_OFTEN_IN_PLACE, "torch/nn/modules/activation.py: Hardswish",
     .type = "torch.nn.modules.activation.Hardswish"},
    {PYTORCH, FACT_OFTEN_IN_PLACE, "torch/nn/modules/activation.py: Hardsigmoid",
     .type = "torch.nn.modules.activation.Hardsigmoid"},
    {PYTORCH, FACT_OFTEN_IN_PLACE, "torch/nn/modules/activation.py: ELU", .type = "torch.nn.modules.activation.ELU"},
    {PYTORCH, FACT_OFTEN_IN_PLACE, "torch/nn/modules/activation.py: CELU", .type = "torch.nn.modules.activation.CELU"},
    {PYTORCH, FACT_OFTEN_IN_PLACE, "torch/nn/modules/activation.py: SELU", .type = "torch.nn.modules.activation.SELU"},
    {PYTORCH, FACT_OFTEN_IN_PLACE, "torch/nn/modules/activation.py: LeakyReLU",
     .type = "torch.nn.modules.activation.LeakyReLU"},
    {TIMM, FACT_IN_PLACE, "layers/norm_act.py: BatchNormAct2d", .around = "timm.layers.norm_act.*"},
    {TIMM, FACT_IN_PLACE, "layers/squeeze_excite.py: SEModule", .type = ACTIVATION,
     .around = "timm.layers.squeeze_excite.SEModule"},
    {TIMM, FACT_IN_PLACE, "layers/split_attn.py: SplitAttn", .type = ACTIVATION,
     .around = "timm.layers.split_attn.SplitAttn"},
    {TIMM, FACT_IN_PLACE, "layers/selective_kernel.py: SelectiveKernelAttn", .type = ACTIVATION,
     .around = "timm.layers.selective_kernel.SelectiveKernelAttn"},
    {TIMM, FACT_IN_PLACE, "models/_efficientnet_blocks.py: SqueezeExcite",
     .around = "timm.models._efficientnet_blocks.SqueezeExcite", .path = "*act1"},
    {TIMM, FACT_IN_PLACE, "models/byobnet.py: BottleneckBlock", .type = ACTIVATION, .around = "timm.models.byobnet.*"},
    {TIMM, FACT_IN_PLACE, "models/dla.py: DlaBasic", .type = ACTIVATION, .around = "timm.models.dla.*"},
    {TIMM, FACT_IN_PLACE, "models/efficientvit_mit.py: ConvNormAct", .type = ACTIVATION,
     .around = "timm.models.efficientvit_mit.ConvNormAct"},
    {TIMM, FACT_IN_PLACE, "models/ghostnet.py: GhostModule", .type = ACTIVATION, .around = "timm.models.ghostnet.*"},
    {TIMM, FACT_IN_PLACE, "models/nfnet.py: NormFreeBlock", .around = "timm.models.nfnet.*", .path = "*.act2*"},
    {TIMM, FACT_IN_PLACE, "models/repghost.py: RepGhostModule", .around = "timm.models.repghost.*",
     .path = "*primary_conv*"},
    {TIMM, FACT_IN_PLACE, "models/repghost.py: RepGhostNet", .type = ACTIVATION,
     .around = "timm.models.repghost.RepGhostNet"},
    {TIMM, FACT_IN_PLACE, "models/res2net.py: Bottle2neck", .type = ACTIVATION, .around = "timm.models.res2net.*"},
    {TIMM, FACT_IN_PLACE, "models/resnest.py: ResNestBottleneck", .type = ACTIVATION,
     .around = "timm.models.resnest.*"},
    {TIMM, FACT_IN_PLACE, "models/resnet.py: BasicBlock", .type = ACTIVATION, .around = "timm.models.resnet.*"},
    {TIMM, FACT_IN_PLACE, "models/resnetv2.py: Bottleneck", .type = ACTIVATION,
     .around = "timm.models.resnetv2.Bottleneck"},
    {TIMM, FACT_IN_PLACE, "models/selecsls.py: SelecSlsBlock", .type = ACTIVATION, .around = "timm.models.selecsls.*"},
    {TIMM, FACT_IN_PLACE, "models/senet.py: SEModule", .type = ACTIVATION, .around = "timm.models.senet.*"},
    {TIMM, FACT_IN_PLACE, "models/sknet.py: SelectiveKernelBasic", .type = ACTIVATION, .around = "timm.models.sknet.*"},
    {TIMM, FACT_IN_PLACE, "models/tresnet.py: BasicBlock", .type = ACTIVATION, .around = "timm.models.tresnet.*"},
    {TIMM, FACT_IN_PLACE, "models/vgg.py: VGG", .type = ACTIVATION, .around = "timm.models.vgg.*"},
    {TIMM, FACT_OUT_OF_PLACE, "layers/activations.py: Sigmoid", .type = "timm.layers.activations.Sigmoid"},
    {TIMM, FACT_OUT_OF_PLACE, "layers/mlp.py: Mlp", .around = "timm.layers.mlp.Mlp"},
    {TIMM, FACT_OUT_OF_PLACE, "layers/mlp.py: GluMlp", .around = "timm.layers.mlp.GluMlp"},
    {TIMM, FACT_OUT_OF_PLACE, "layers/mlp.py: SwiGLU", .around = "timm.layers.mlp.SwiGLU"},
    {TIMM, FACT_OUT_OF_PLACE, "models/_efficientnet_blocks.py: SqueezeExcite",
     .around = "timm.models._efficientnet_blocks.SqueezeExcite"},
    {TIMM, FACT_OUT_OF_PLACE, "models/convmixer.py: ConvMixer", .around = "timm.models.convmixer.*"},
    {TIMM, FACT_OUT_OF_PLACE, "models/levit.py: LevitMlp", .around = "timm.models.levit.*"},
    {TIMM, FACT_OUT_OF_PLACE, "models/metaformer.py: StarReLU", .around = "timm.models.metaformer.*"},
    {TIMM, FACT_OUT_OF_PLACE, "models/nfnet.py: NormFreeBlock", .around = "timm.models.nfnet.*"},
    {TIMM, FACT_OUT_OF_PLACE, "models/regnet.py: Bottleneck", .around = "timm.models.regnet.*"},
    {TIMM, FACT_OUT_OF_PLACE, "models/repghost.py: RepGhostModule", .around = "timm.models.repghost.RepGhostModule"},
    {TIMM, FACT_OUT_OF_PLACE, "models/rexnet.py: LinearBottleneck", .around = "timm.models.rexnet.*"},
    {TRANSFORMERS, FACT_IN_PLACE,
     "modeling_maskformer.py: MaskFormerFPNConvLayer; likewise clap, depth_pro, groupvit, qwen2_5_omni, superpoint, "
     "swin2sr, swinv2, zoedepth",
     .type = ACTIVATION,
     .around = "*.MaskFormerFPNConvLayer|*.ClapAudioAFFBlock|*.DepthProFovModel|*.GroupViTModel|"
               "transformers.models.qwen2_5_omni.*.SqueezeExcitationBlock|*.SuperPointConvBlock|"
               "*.SuperPointInterestPointDecoder|*.SuperPointDescriptorDecoder|*.Swin2SRSelfAttention|*.Swin2SRStage|"
               "transformers.models.swin2sr.*Upsampler|*.Swinv2SelfAttention|*.ZoeDepthSeedBinRegressor|"
               "*.ZoeDepthAttractorLayer|*.ZoeDepthAttractorLayerUnnormed|*.ZoeDepthProjector"},
    {TRANSFORMERS, FACT_OUT_OF_PLACE, "modeling_upernet.py: UperNetConvModule; likewise activations.py",
     .type = ACTIVATION, .around = "transformers.models.*"},
    {DIFFUSERS, FACT_OUT_OF_PLACE, "models/activations.py: get_activation", .around = "diffusers.*"},
    {TORCHVISION, FACT_IN_PLACE, "models/efficientnet.py: MBConv", .type = "torch.nn.modules.activation.SiLU*",
     .around = "torchvision.ops.misc.SqueezeExcitation*"},
    {TORCHVISION, FACT_OUT_OF_PLACE, "ops/misc.py: SqueezeExcitation",
     .around = "torchvision.ops.misc.SqueezeExcitation*"},
    {TORCHVISION, FACT_OUT_OF_PLACE, "models/segmentation/deeplabv3.py: ASPP",
     .around = "torchvision.models.segmentation.deeplabv3*"},
    {TORCHVISION, FACT_OUT_OF_PLACE, "models/segmentation/fcn.py: FCNHead",
     .around = "torchvision.models.segmentation.fcn*"},
    {TORCHVISION, FACT_OUT_OF_PLACE, "models/detection/fcos.py: FCOSClassificationHead",
     .around = "torchvision.models.detection.fcos.*"},
    {TORCHVISION, FACT_IN_PLACE, "ops/misc.py: ConvNormActivation", .type = "torch.nn.modules.activation.ReLU*",
     .around = "torchvision.*"},
    {TORCHVISION, FACT_IN_PLACE, "ops/misc.py: ConvNormActivation", .type = "torch.nn.modules.activation.SiLU*",
     .around = "torchvision.*"},
    {TORCHVISION, FACT_IN_PLACE, "models/mobilenetv3.py: MobileNetV3", .type = "torch.nn.modules.activation.Hardswish*",
     .around = "torchvision.*"},
    {TORCHVISION, FACT_IN_PLACE, "models/mobilenetv3.py: MobileNetV3", .around = "torchvision.models.mobilenetv3.*",
     .op = "dropout.default"},
    {TORCHVISION, FACT_IN_PLACE, "models/efficientnet.py: EfficientNet", .around = "torchvision.models.efficientnet.*",
     .op = "dropout.default"},
    {TORCHVISION, FACT_IN_PLACE, "models/mnasnet.py: MNASNet", .around = "torchvision.models.mnasnet.*",
     .op = "dropout.default"},
    {TORCHVISION, FACT_IN_PLACE, "models/mobilenetv3.py: MobileNetV3", .path = "classifier.*", .op = "dropout.default",
     .beside = "/features.1.block.0"},
    {TORCHVISION, FACT_IN_PLACE, "models/efficientnet.py: EfficientNet", .path = "classifier.*",
     .op = "dropout.default", .beside = "/features.1.0.block.0"},
    {TORCHVISION, FACT_IN_PLACE, "models/mnasnet.py: MNASNet", .path = "classifier.*", .op = "dropout.default",
     .beside = "/layers.0"},
    {PYTORCH, FACT_OUT_OF_PLACE, "torch/nn/modules/transformer.py: TransformerEncoderLayer", .path = "*layers.*",
     .op = "relu.default", .beside = "linear2"},
    {TORCHVISION, FACT_OUT_OF_PLACE, "ops/misc.py: SqueezeExcitation", .path = "*.scale_activation",
     .op = "hardsigmoid.default", .beside = "../fc1"},
    {TORCHVISION, FACT_OUT_OF_PLACE, "ops/misc.py: SqueezeExcitation", .path = "*.activation", .op = "relu.default",
     .beside = "../fc1"},
    {TORCHVISION, FACT_IN_PLACE, "models/efficientnet.py: MBConv; likewise mobilenetv3.py, convnext.py",
     .path = "features.*", .op = "add.Tensor", .beside = "block.0"},
    {TORCHVISION, FACT_IN_PLACE, "models/densenet.py: DenseNet", .path = "", .op = "relu.default",
     .beside = "/features.conv0"},
    {TORCHVISION, FACT_IN_PLACE, "models/shufflenetv2.py: ShuffleNetV2", .path = "conv?.*", .beside = "/stage2.0"},
    {TORCHVISION, FACT_IN_PLACE, "models/resnet.py: BasicBlock", .path = "layer?.*.relu*", .beside = "/layer1.0.conv1"},
    {TORCHVISION, FACT_IN_PLACE, "models/resnet.py: ResNet", .path = "relu", .beside = "/layer1.0.conv1"},
    {TORCHVISION, FACT_IN_PLACE, "models/resnet.py: BasicBlock", .path = "layer?.*", .op = "add.Tensor",
     .beside = "/layer1.0.conv1"},
    {TORCHVISION, FACT_IN_PLACE,
     "models/vgg.py: make_layers; likewise alexnet.py, squeezenet.py, mobilenetv2.py, mobilenetv3.py, efficientnet.py",
     .path = "features.*", .beside = "/features.0"},
    {TORCHVISION, FACT_IN_PLACE, "models/densenet.py: _DenseLayer", .path = "features.*", .beside = "/features.conv0"},
    {TORCHVISION, FACT_IN_PLACE, "models/alexnet.py: AlexNet; likewise vgg.py, mobilenetv3.py", .path = "classifier.*",
     .beside = "/features.0"},
    {TORCHVISION, FACT_IN_PLACE, "models/shufflenetv2.py: InvertedResidual", .path = "stage?.*", .beside = "/stage2.0"},
    {TORCHVISION, FACT_IN_PLACE, "models/mnasnet.py: _InvertedResidual", .path = "layers.*", .beside = "/layers.0"},
    {TORCHVISION, FACT_IN_PLACE, "models/regnet.py: ResBottleneckBlock", .path = "*", .beside = "/trunk_output.block1"},
    {TRANSFORMERS, FACT_IN_PLACE, "modeling_t5.py: T5Attention", .path = "*.SelfAttention", .op = "add.Tensor"},
    {TRANSFORMERS, FACT_IN_PLACE, "modeling_t5.py: T5Attention", .path = "*.EncDecAttention", .op = "add.Tensor"},

    /* Where dropout runs that an evaluation export removed. */
    {TRANSFORMERS, FACT_DROPS_APART, "modeling_bart.py: BartEncoderLayer", .type = "transformers.models.*coderLayer"},

    /* Dropout that an evaluation export removed, by the names of modules: after an operator, or after what leaves the
     * module. */
    {TRANSFORMERS, FACT_DROPS, "modeling_bert.py: BertEmbeddings", "0.1", .path = "*embeddings.LayerNorm",
     .op = "layer_norm.default", .beside = "../position_embeddings"},
    {TRANSFORMERS, FACT_DROPS, "modeling_bert.py: BertSelfAttention", "0.1", .path = "*.attention.self",
     .op = "softmax.int", .beside = "query"},
    {TRANSFORMERS, FACT_DROPS, "modeling_bert.py: BertSdpaSelfAttention", "0.1", .path = "*.attention.self",
     .op = "scaled_dot_product_attention.default", .beside = "query"},
    {TRANSFORMERS, FACT_DROPS, "modeling_bert.py: BertSelfOutput", "0.1", .path = "*.attention.output.dense",
     .op = "linear.default", .beside = "../../self.query"},
    {TRANSFORMERS, FACT_DROPS, "modeling_bert.py: BertOutput", "0.1", .path = "*.output.dense", .op = "linear.default",
     .beside = "../../attention.self.query"},
    {TRANSFORMERS, FACT_DROPS, "modeling_distilbert.py: MultiHeadSelfAttention", "0.1",
     .path = "*transformer.layer.*.attention", .op = "softmax.int", .beside = "q_lin"},
    {TRANSFORMERS, FACT_DROPS, "modeling_distilbert.py: DistilBertSdpaAttention", "0.1",
     .path = "*transformer.layer.*.attention", .op = "scaled_dot_product_attention.default", .beside = "q_lin"},
    {TRANSFORMERS, FACT_DROPS, "modeling_distilbert.py: FFN", "0.1", .path = "*transformer.layer.*.ffn.lin2",
     .op = "linear.default"},
    {TRANSFORMERS, FACT_DROPS, "modeling_t5.py: T5Stack", "0.1", .path = "*", .op = "embedding.default",
     .beside = "../block.0.layer.0.SelfAttention.q"},
    {TRANSFORMERS, FACT_DROPS, "modeling_t5.py: T5Attention", "0.1", .path = "*.SelfAttention", .op = "softmax.int",
     .beside = "q"},
    {TRANSFORMERS, FACT_DROPS, "modeling_t5.py: T5Attention", "0.1", .path = "*.EncDecAttention", .op = "softmax.int",
     .beside = "q"},
    {TRANSFORMERS, FACT_DROPS, "modeling_t5.py: T5LayerSelfAttention", "0.1", .path = "*.SelfAttention.o",
     .op = "linear.default"},
    {TRANSFORMERS, FACT_DROPS, "modeling_t5.py: T5LayerCrossAttention", "0.1", .path = "*.EncDecAttention.o",
     .op = "linear.default"},
    {TRANSFORMERS, FACT_DROPS, "modeling_t5.py: T5DenseActDense", "0.1", .path = "*.DenseReluDense.act",
     .op = "relu.default"},
    {TRANSFORMERS, FACT_DROPS, "modeling_t5.py: T5DenseGatedActDense", "0.1", .path = "*.DenseReluDense",
     .op = "mul.Tensor", .beside = "wi_1"},
    {TRANSFORMERS, FACT_DROPS, "modeling_t5.py: T5LayerFF", "0.1", .path = "*.DenseReluDense.wo",
     .op = "linear.default"},
    {TRANSFORMERS, FACT_DROPS_RESULT, "modeling_t5.py: T5Stack", "0.1", .path = "*final_layer_norm",
     .beside = "../block.0.layer.0.SelfAttention.q"},
    {TRANSFORMERS, FACT_DROPS, "modeling_gpt2.py: GPT2Attention", "0.1", .path = "*h.*.attn", .op = "softmax.int",
     .beside = "c_attn"},
    {TRANSFORMERS, FACT_DROPS, "modeling_gpt2.py: GPT2Attention", "0.1", .path = "*h.*.attn",
     .op = "scaled_dot_product_attention.default", .beside = "c_attn"},
    {TRANSFORMERS, FACT_DROPS_RESULT, "modeling_gpt2.py: GPT2Attention", "0.1", .path = "*h.*.attn.c_proj",
     .beside = "../c_attn"},
    {TRANSFORMERS, FACT_DROPS_RESULT, "modeling_gpt2.py: GPT2MLP", "0.1", .path = "*h.*.mlp.c_proj",
     .beside = "../c_fc"},
    {TRANSFORMERS, FACT_DROPS, "modeling_gpt2.py: GPT2Model", "0.1", .path = "*", .op = "add.Tensor",
     .beside = "h.0.attn.c_attn"},
    {PYTORCH, FACT_DROPS, "torch/nn/modules/transformer.py: TransformerEncoderLayer", "0.1", .path = "*layers.*_attn",
     .op = "scaled_dot_product_attention.default", .beside = "../linear2"},
    {PYTORCH, FACT_DROPS_RESULT, "torch/nn/modules/transformer.py: TransformerEncoderLayer", "0.1",
     .path = "*layers.*_attn", .beside = "../linear2"},
    {PYTORCH, FACT_DROPS, "torch/nn/modules/transformer.py: TransformerEncoderLayer", "0.1", .path = "*layers.*",
     .op = "relu.default", .beside = "linear2"},
    {PYTORCH, FACT_DROPS, "torch/nn/modules/transformer.py: TransformerEncoderLayer", "0.1", .path = "*layers.*",
     .op = "gelu.default", .beside = "linear2"},
    {PYTORCH, FACT_DROPS, "torch/nn/modules/transformer.py: TransformerEncoderLayer", "0.1",
     .path = "*layers.*.linear2", .op = "linear.default", .beside = "../self_attn"},

    /* Buffers and parameters that files name without a size. */
    {TRANSFORMERS, FACT_SIZE, "modeling_bert.py: BertEmbeddings", "int64 1 @position_embeddings.weight",
     .type = "*Embeddings", .path = "*.position_ids"},
    {TRANSFORMERS, FACT_SIZE, "modeling_clip.py: CLIPTextEmbeddings", "int64 1 @position_embedding.weight", .type = "*",
     .path = "*.position_ids"},
    {TRANSFORMERS, FACT_SIZE, "modeling_openai.py: OpenAIGPTModel", "int64 @positions_embed.weight", .type = "*",
     .path = "*.position_ids"},
    {TRANSFORMERS, FACT_SIZE, "modeling_bert.py: BertEmbeddings", "int64 1 @position_embeddings.weight",
     .type = "*Embeddings", .path = "*.token_type_ids"},
    {TRANSFORMERS, FACT_SIZE, "modeling_gpt2.py: GPT2Attention", "bool 1 1 @wpe.weight @wpe.weight",
     .type = "*GPT2Attention", .path = "*.bias"},
    {TRANSFORMERS, FACT_SIZE, "modeling_openai.py: Attention",
     "float 1 1 @positions_embed.weight @positions_embed.weight", .type = "transformers.models.openai.*.Attention",
     .path = "*.bias"},
    {TRANSFORMERS, FACT_SIZE, "modeling_gpt_neo.py: GPTNeoSelfAttention", "bool 1 1 @wpe.weight @wpe.weight",
     .type = "*GPTNeoSelfAttention", .path = "*.bias"},
    {TRANSFORMERS, FACT_SIZE, "modeling_gpt2.py: GPT2Attention", "float", .type = "*", .path = "*.masked_bias"},
    {TRANSFORMERS, FACT_SIZE, "modeling_bert.py: BertPooler", "float @LayerNorm.weight @LayerNorm.weight", .type = "*",
     .path = "*.pooler.dense.weight"},
    {TRANSFORMERS, FACT_SIZE, "modeling_bert.py: BertPooler", "float @LayerNorm.weight", .type = "*",
     .path = "*.pooler.dense.bias"},
    {TRANSFORMERS, FACT_SIZE, "modeling_dinov2.py: Dinov2Embeddings", "float 1 @layernorm.weight", .type = "*",
     .path = "*.embeddings.mask_token"},
    {TRANSFORMERS, FACT_SIZE,
     "modeling_wav2vec2.py: Wav2Vec2Model; likewise data2vec, hubert, unispeech, unispeech_sat, wav2vec2_bert, "
     "wav2vec2_conformer, wavlm",
     "float @feature_projection.projection.weight", .type = "*", .path = "*masked_spec_embed"},
    {TRANSFORMERS, FACT_SIZE, "modeling_sew.py: SEWModel; likewise sew_d", "float @encoder.pos_conv_embed.conv.bias",
     .type = "*", .path = "*masked_spec_embed"},
    {TRANSFORMERS, FACT_SIZE, "modeling_rope_utils.py: _compute_default_rope_parameters", "float 128", .type = "*",
     .path = "*.inv_freq"},
    {TRANSFORMERS_5, FACT_SIZE, "modeling_gpt_bigcode.py: GPTBigCodeModel", "bool @wpe.weight @wpe.weight",
     .type = "*GPTBigCodeModel", .path = "*.bias"},
    {TRANSFORMERS_5, FACT_SIZE, "modeling_llama.py: LlamaRotaryEmbedding", "float 128", .type = "*",
     .path = "*.rotary_emb.*_inv_freq"},
    {TORCHVISION, FACT_SIZE, "models/swin_transformer.py: ShiftedWindowAttentionV2", "float 512 2", .type = "*",
     .path = "*.cpb_mlp.0.weight"},
    {TIMM, FACT_SIZE, "layers/pos_embed_sincos.py: RotaryEmbeddingCat", "float 16", .type = "*", .path = "*rope.bands"},
    {PEFT, FACT_SIZE, "tuners/ln_tuning/layer.py: LNTuningLayer", "base_layer=ln_tuning_layers.*", .type = "*",
     .path = "*.base_layer.*"},
    {PEFT, FACT_SIZE, "utils/other.py: ModulesToSaveWrapper", "original_module=modules_to_save.*", .type = "*",
     .path = "*.original_module.*"},
    {PYTORCH, FACT_SIZE, "torch/nn/utils/parametrizations.py: _SpectralNorm", "float <original", .type = "*",
     .path = "*.parametrizations.*._u"},
    {PYTORCH, FACT_SIZE, "torch/nn/utils/parametrizations.py: _SpectralNorm", "float >original", .type = "*",
     .path = "*.parametrizations.*._v"},

    /* Parameters that the constructor freezes. */
    {TRANSFORMERS, FACT_FROZEN, "modeling_pegasus.py: PegasusSinusoidalPositionalEmbedding",
     .around = "*SinusoidalPositionalEmbedding", .path = "*weight"},
    {TRANSFORMERS, FACT_FROZEN, "modeling_whisper.py: WhisperEncoder", .around = "*WhisperEncoder",
     .path = "*embed_positions.weight"},
    {TRANSFORMERS, FACT_FROZEN, "modeling_qwen2_audio.py: Qwen2AudioEncoder", .around = "*Qwen2AudioEncoder",
     .path = "*embed_positions.weight"},
    {TRANSFORMERS, FACT_FROZEN, "modeling_voxtral.py: VoxtralEncoder", .around = "*VoxtralEncoder",
     .path = "*embed_positions.weight"},
    {TRANSFORMERS, FACT_FROZEN, "modeling_vit_mae.py: ViTMAEEmbeddings", .around = "*ViTMAEEmbeddings",
     .path = "*position_embeddings"},
    {TRANSFORMERS, FACT_FROZEN, "modeling_vit_mae.py: ViTMAEDecoder", .around = "*ViTMAEDecoder",
     .path = "*decoder_pos_embed"},
    {TRANSFORMERS, FACT_FROZEN, "modeling_patchtst.py: PatchTSTPositionalEncoding; likewise modeling_patchtsmixer.py",
     .around = "*.PatchTS*PositionalEncoding", .path = "*position_enc"},
    {PEFT, FACT_ALONE, "tuners/tuners_utils.py: _mark_only_adapters_as_trainable", .around = "peft.tuners.lora.*",
     .path = "*.lora_*"},
    {PEFT, FACT_ALONE, "tuners/tuners_utils.py: _mark_only_adapters_as_trainable", .around = "peft.*",
     .path = "*.default*"},
    {PEFT, FACT_ALONE, "utils/other.py: ModulesToSaveWrapper", .around = "peft.*", .path = "*.modules_to_save.*"},

    /* Modules that ask for a gradient of what they are given, whoever needs it: for checkpoints. */
    {TRANSFORMERS, FACT_ASKS, "modeling_wav2vec2.py: Wav2Vec2FeatureEncoder", .type = "*.Wav2Vec2*FeatureEncoder"},
    {TRANSFORMERS, FACT_ASKS, "modeling_hubert.py: HubertFeatureEncoder", .type = "*.HubertFeatureEncoder"},
    {TRANSFORMERS, FACT_ASKS, "modeling_wavlm.py: WavLMFeatureEncoder", .type = "*.WavLMFeatureEncoder"},
    {TRANSFORMERS, FACT_ASKS, "modeling_unispeech.py: UniSpeechFeatureEncoder", .type = "*.UniSpeech*FeatureEncoder"},
    {TRANSFORMERS, FACT_ASKS, "modeling_sew.py: SEWFeatureEncoder; likewise sew_d", .type = "*.SEW*FeatureEncoder"},
    {TRANSFORMERS, FACT_ASKS, "modeling_speecht5.py: SpeechT5FeatureEncoder", .type = "*.SpeechT5FeatureEncoder"},
    {TRANSFORMERS, FACT_ASKS, "modeling_data2vec_audio.py: Data2VecAudioFeatureEncoder",
     .type = "*.Data2VecAudioFeatureEncoder"},

    /* What files without a signature leave open: whether a tensor that no operator calls its weight is trained. */
    {TORCHVISION, FACT_TRAINED, "models/convnext.py: CNBlock", .path = "*.layer_scale", .beside = "../block.0"},
    {DIFFUSERS, FACT_BUFFER, "models/embeddings.py: PatchEmbed", .path = "*pos_embed.pos_embed", .beside = "../proj"},
};
const int fact_count = COUNT(fact_table);
enum { BITS = 64, WORDS = (COUNT(fact_table) + BITS - 1) / BITS };

/* What a fact says, as --list=facts has it, and the alternative that is a file's reading without it; ALTERNATIVE_NONE
 * there is no other. told: the same as a clause, where that is none. */
static const struct {
    const char *says;
    enum alternative without;
    const char *told;
} kinds[FACT_COUNT] = {
    [FACT_ADDS_MASK] = {"adds a mask of the batch's size to what that operator made", ALTERNATIVE_FACT_OPERATORS},
    [FACT_ADAPTS] = {"reads its input in the adapter's type behind the base layer", ALTERNATIVE_FACT_CASTS},
    [FACT_ASKS] = {"asks for a gradient of its input", ALTERNATIVE_FACT_PARAMETERS,
                   "the module asks for a gradient of its input"},
    [FACT_BUFFER] = {"a buffer", ALTERNATIVE_FACT_PARAMETERS, "the tensor is a buffer"},
    [FACT_DROPS] = {"drops out after the operator", ALTERNATIVE_FACT_DROPOUT},
    [FACT_DROPPED] = {"dropout by default"},
    [FACT_DROPS_APART] = {"drops out in a line of its own"},
    [FACT_DROPS_RESULT] = {"drops out what leaves the module", ALTERNATIVE_FACT_DROPOUT},
    [FACT_ALONE] = {"alone is trained", ALTERNATIVE_FACT_PARAMETERS, "nothing else is trained"},
    [FACT_FROZEN] = {"frozen", ALTERNATIVE_FACT_PARAMETERS, "the parameter is frozen"},
    [FACT_INPUT_TO_FLOAT] = {"casts its input to fp32 in that function", ALTERNATIVE_FACT_CASTS},
    [FACT_INPUT_TO_WEIGHT] = {"casts its input to the weight's type", ALTERNATIVE_FACT_CASTS},
    [FACT_IN_PLACE] = {"in place", ALTERNATIVE_FACT_IN_PLACE, "the operator runs in place"},
    [FACT_MASKS_ALWAYS] = {"makes a mask in any case, also of no input", ALTERNATIVE_FACT_OPERATORS},
    [FACT_MASKS_TRACE] = {"makes a mask of no input for the trace alone, and ends with that operator",
                          ALTERNATIVE_FACT_OPERATORS},
    [FACT_NORM_BACK] = {"fp32 inside, back before the weight", ALTERNATIVE_FACT_CASTS,
                        "the norm computes in fp32 up to its weight"},
    [FACT_NORM_BACK_AT_END] = {"fp32 inside, back at the end", ALTERNATIVE_FACT_CASTS,
                               "the norm computes in fp32 up to its end"},
    [FACT_NORM_TO_WEIGHT] = {"fp32 for the square, then the weight's type", ALTERNATIVE_FACT_CASTS,
                             "the norm computes its square in fp32, the rest in the weight's type"},
    [FACT_OFTEN_IN_PLACE] = {"in place as often as not"},
    [FACT_ONE_OPERATOR] = {"one operator", ALTERNATIVE_FACT_OPERATORS, "what the file has as several is one operator"},
    [FACT_OUT_OF_PLACE] = {"not in place", ALTERNATIVE_FACT_IN_PLACE, "the operator does not run in place"},
    [FACT_RESULT_TO_INPUT] = {"casts its result to its input's type", ALTERNATIVE_FACT_CASTS},
    [FACT_RESULT_TO_QUERY] = {"casts its result to the query's type", ALTERNATIVE_FACT_CASTS},
    [FACT_RESULT_TO_VALUE] = {"casts its result to the value's type", ALTERNATIVE_FACT_CASTS},
    [FACT_RESULT_TO_WEIGHT] = {"casts its result to the type of the weight before it", ALTERNATIVE_FACT_CASTS},
    [FACT_RETURNS] = {"returns the type of its input, or of that module", ALTERNATIVE_FACT_CASTS},
    [FACT_SIZE] = {"type and size"},
    [FACT_TRAINED] = {"a parameter", ALTERNATIVE_FACT_PARAMETERS, "the tensor is a parameter"},
    [FACT_UNDROPPED] = {"no dropout by default", ALTERNATIVE_FACT_DROPOUT},
    [FACT_WEIGHTS] = {"returns attention's weights", ALTERNATIVE_FACT_OPERATORS},
    [FACT_WEIGHTS_WITHHELD] = {"returns attention's weights only when asked", ALTERNATIVE_FACT_OPERATORS},
};

/* Lines that contradict a fact: a whole statement like that, and like none of the others. */
static const struct {
    enum fact_kind kind;
    const char *line, *unless[3];
} contradictions[] = {
    {FACT_UNDROPPED, "*dropout(*p=0.*", {"*p=0.0*"}},
    {FACT_UNDROPPED, "*dropout(*, 0.*", {"*, 0.0*"}},
    {FACT_RESULT_TO_INPUT, "*softmax(*", {"*).to(*", "*).type(*", "*).type_as(*"}},
    {FACT_RESULT_TO_INPUT, "*layer_norm(*", {"*).to(*", "*).type(*", "*).type_as(*"}},
    {FACT_RESULT_TO_QUERY, "*softmax(*", {"*).to(*", "*).type(*", "*).type_as(*"}},
    {FACT_RESULT_TO_VALUE, "*softmax(*).to(*", {"*value*"}},
    {FACT_RESULT_TO_VALUE, "*softmax(*).type_as(*", {"*value*"}},
    {FACT_NORM_BACK, "*weight*).to(*", {NULL}},
    {FACT_NORM_BACK, "*weight*).type_as(*", {NULL}},
    {FACT_NORM_BACK_AT_END, "*weight ? *.to(*", {"*).to(*"}},
    {FACT_IN_PLACE, "*inplace=False*", {NULL}},
    {FACT_IN_PLACE, "return F.*", {"*inplace*"}},
    {FACT_OUT_OF_PLACE, "*inplace=True*", {NULL}},
};

static bool
contradicted(enum fact_kind kind, const char *line)
{
    for (int i = 0; i < COUNT(contradictions); i++) {
        bool like = contradictions[i].kind == kind && glob_match(contradictions[i].line, line);
        for (int k = 0; k < COUNT(contradictions[i].unless) && like && contradictions[i].unless[k]; k++)
            like = !glob_match(contradictions[i].unless[k], line);
        if (like && python_complete(line))
            return true;
    }
    return false;
}

/* "q" is a module inside of the place's, "../q" one beside it, "/q" one of the model. */
static bool
stands_beside(const char *beside, const struct place *p)
{
    if (*beside == '/')
        return names_find(p->modules, beside + 1) >= 0;
    char path[1024];
    const char *own = p->path ? p->path : "";
    size_t n = strlen(own);
    for (; strncmp(beside, "../", 3) == 0; beside += 3)
        while (n && own[--n] != '.')
            ;
    snprintf(path, sizeof(path), "%.*s%s%s", (int)n, own, n ? "." : "", beside);
    return names_find(p->modules, path) >= 0;
}

/* Which rows: a bit each. */
struct rows {
    uint64_t word[WORDS];
};

/* What is asked of all rows hundreds of times, found out once for a file. */
struct fact_index {
    struct arena *a;
    struct rows of_kind[FACT_COUNT], by_class, anywhere; /* anywhere: whatever is around */
    struct names *classes;
    int n, cap;
    struct like {
        struct rows type, around;    /* whose globs are like it */
        unsigned of_type, of_around; /* the kinds of these, as bits; of_type: but for those of places around */
    } * *like;
};

/* Lately, by the class's address: modules and texts of nodes have it in common. */
struct fact_asked {
    const char *class;
    const struct like *like;
};
enum { ASKED = 256 };

static void
row_set(struct rows *r, int at, bool is)
{
    r->word[at / BITS] |= (uint64_t)is << at % BITS;
}

static void
index_facts(struct lowering *l)
{
    struct graph *file = l->g->first ? l->g->first->graph : l->g;
    struct fact_index *x = l->fact_index = file->fact_index;
    l->fact_asked = NEWN(l->a, struct fact_asked, ASKED);
    if (x)
        return;
    x = l->fact_index = file->fact_index = NEW(file->arena, struct fact_index);
    x->a = file->arena;
    x->classes = names_new(x->a);
    for (int i = 0; i < fact_count; i++) {
        const struct fact *f = &fact_table[i];
        row_set(&x->of_kind[f->kind], i, true);
        row_set(&x->by_class, i, f->type || f->around);
        row_set(&x->anywhere, i, !f->around);
    }
}

/* Whether a name is like one of globs with bars between: families that one source stands for. */
static bool
like_one(const char *globs, const char *name)
{
    char one[128];
    for (const char *next; globs; globs = next ? next + 1 : NULL) {
        size_t same = 0; /* most differ in the first letters */
        while (globs[same] == name[same] && name[same] && globs[same] != '*')
            same++;
        next = strchr(globs + same, '|');
        const char c = globs[same];
        if (c && c != '*' && c != '?' && c != '[' && c != '|')
            continue;
        const size_t n = next ? (size_t)(next - globs) : 0;
        assert(n < sizeof(one));
        memcpy(one, globs, n);
        one[n] = '\0';
        if (glob_match(next ? one : globs, name))
            return true;
    }
    return false;
}

/* Which rows are like a class. */
static const struct like *
find_like(struct fact_index *x, const char *class)
{
    const int at = names_find(x->classes, class);
    if (at >= 0)
        return x->like[at];
    struct like *like = NEW(x->a, struct like);
    const char *globs = NULL; /* of the row before, which often is of the same classes */
    bool around = false;
    for (int i = 0; i < fact_count; i++) {
        const struct fact *f = &fact_table[i];
        const bool type = !f->type || glob_match(f->type, class);
        if (f->around != globs)
            around = f->around && like_one(f->around, class);
        globs = f->around;
        row_set(&like->type, i, type);
        row_set(&like->around, i, around);
        like->of_type |= (unsigned)(type && !f->around) << f->kind;
        like->of_around |= (unsigned)around << f->kind;
    }
    names_put(x->classes, arena_str(x->a, class), x->n);
    return *PUSH(x->a, x->like, x->n, x->cap) = like;
}

static inline const struct like *
likes(struct lowering *l, const char *class)
{
    struct fact_asked *asked = &l->fact_asked[(unsigned)((uintptr_t) class >> 4) % ASKED];
    if (asked->class != class)
        *asked = (struct fact_asked){class, find_like(l->fact_index, class)};
    return asked->like;
}

static bool
holds(const struct fact *f, const struct place *p)
{
    bool not_there = f->path && *f->path == '!';
    if ((f->op && (!p->op || strcmp(f->op, p->op) != 0)) ||
        (f->path && glob_match(f->path + not_there, p->path ? p->path : "") == not_there) ||
        (f->beside && !stands_beside(f->beside, p)))
        return false;
    for (int i = 0; i < COUNT(p->line) && p->line[i]; i++)
        if (contradicted(f->kind, p->line[i]))
            return false;
    return true;
}

static const struct fact *
next_fact(struct lowering *l, const struct fact *f, unsigned kinds_wanted, const struct place *p)
{
    if (!l->fact_index)
        index_facts(l);
    const struct fact_index *x = l->fact_index;
    const struct like *type = likes(l, p->type ? p->type : ""), *around[COUNT(p->around)];
    unsigned kinds_there = type->of_type;
    int n = 0, at = f ? (int)(f - fact_table) + 1 : 0;
    for (int i = 0; i < COUNT(p->around); i++)
        if (p->around[i]) {
            around[n] = likes(l, p->around[i]);
            kinds_there |= around[n++]->of_around;
        }
    if (!(kinds_wanted & kinds_there))
        return NULL;
    uint64_t from = ~UINT64_C(0) << at % BITS;
    for (int word = at / BITS; word < WORDS; word++, from = ~UINT64_C(0)) {
        uint64_t wanted = 0, like = x->anywhere.word[word];
        for (int i = 0; i < n; i++)
            like |= around[i]->around.word[word];
        like &= type->type.word[word] & (p->modules ? ~x->by_class.word[word] : x->by_class.word[word]) & from;
        for (unsigned left = like ? kinds_wanted : 0; left; left &= left - 1)
            wanted |= x->of_kind[__builtin_ctz(left)].word[word];
        for (wanted &= like; wanted; wanted &= wanted - 1) {
            f = &fact_table[word * BITS + __builtin_ctzll(wanted)];
            if (holds(f, p) && !setup_instead(l->s, kinds[f->kind].without))
                return f;
        }
    }
    return NULL;
}

bool
fact_holds(struct lowering *l, unsigned kinds_wanted, const struct place *p)
{
    return next_fact(l, NULL, kinds_wanted, p) != NULL;
}

const struct fact *
fact_next(struct lowering *l, const struct fact *f, unsigned kinds_wanted, const struct place *p)
{
    l->facts = l->facts ? l->facts : NEWN(l->a, bool, fact_count);
    f = next_fact(l, f, kinds_wanted, p);
    if (f)
        l->facts[f - fact_table] = true;
    return f;
}

void
fact_drop(struct lowering *l, const struct fact *f)
{
    l->facts[f - fact_table] = false;
}

/* The used facts like f, of its library and with the same alternative, in words; they are used no longer. */
static const char *
told(struct lowering *l, const struct fact *f)
{
    enum { MOST = 3 };
    const char *text = "";
    int n = 0;
    for (const struct fact *k = f; k < fact_table + fact_count; k++) {
        if (!l->facts[k - fact_table] || kinds[k->kind].without != kinds[f->kind].without ||
            strcmp(k->library, f->library) != 0)
            continue;
        l->facts[k - fact_table] = false;
        const char *told = kinds[k->kind].told ? kinds[k->kind].told : kinds[k->kind].says;
        const char *one = arena_printf(l->a, "%s (%s)", told, k->source);
        if (!strstr(text, one) && n++ < MOST)
            text = arena_printf(l->a, "%s%s%s", text, *text ? ", " : "", one);
    }
    return n > MOST ? arena_printf(l->a, "%s, and %d more", text, n - MOST) : text;
}

void
fact_assume(struct lowering *l)
{
    if (!l->facts)
        return;
    l->p->facts = arena_dup(l->a, l->facts, sizeof(bool) * (size_t)fact_count);
    for (const struct fact *f = fact_table; f < fact_table + fact_count; f++)
        if (l->facts[f - fact_table] && kinds[f->kind].without)
            program_assume(l->p, kinds[f->kind].without, "the source of %s %s says, and the file does not: %s",
                           f->library, f->version, told(l, f));
}

void
fact_around(struct lowering *l, const char *path, const char **around, int most)
{
    const int own = lower_module(l, path ? path : "", NULL);
    const struct module *modules = l->p->modules;
    int n = 1;
    around[0] = modules[own].type;
    for (int up = modules[own].parent; up >= 0 && n < most; up = modules[up].parent)
        if (modules[up].type) /* a list of modules is never called */
            around[n++] = modules[up].type;
}

struct place
fact_place(struct lowering *l, const char *path, const char *op)
{
    struct place at = {.path = path, .op = op};
    fact_around(l, path, at.around, 2);
    return at;
}

const struct fact *
fact_of(struct lowering *l, const char *type, enum fact_kind kind)
{
    if (!l->fact_index)
        index_facts(l);
    const bool may = type && likes(l, type)->of_type >> kind & 1; /* hardly any */
    return may ? fact_next(l, NULL, 1u << kind, &(struct place){.type = type}) : NULL;
}

void
fact_print(const struct fact *f, FILE *out)
{
    const char *column[] = {f->library, f->version, kinds[f->kind].says, f->arg,   f->type, f->around,
                            f->path,    f->op,      f->beside,           f->source};
    for (int i = 0; i < COUNT(column); i++)
        fprintf(out, "%s%s", i ? "\t" : "", column[i] ? column[i] : "-");
    fputc('\n', out);
}

void
fact_list(FILE *out)
{
    for (int i = 0; i < fact_count; i++)
        fact_print(&fact_table[i], out);
}

void
fact_dump(const struct program *p, FILE *out)
{
    for (int i = 0; i < fact_count && p->facts; i++)
        if (p->facts[i])
            fact_print(&fact_table[i], out);
}
