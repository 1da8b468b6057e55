/* SPDX-License-Identifier: Apache-2.0 */
/* devices.c - the table of devices, and what the CUDA context takes of them. */
#include "base/setup.h"
#include "device/device.h"

#include <string.h>

/* ---- devices ----------------------------------------------------------------------------------------------------- */

#define MIB(x)     ((int64_t)(x) << 20)
#define GIB(x)     ((int64_t)((x) * (1 << 30)))
#define PROPERTIES "cudaGetDeviceProperties: "
#define MESSAGE    "PyTorch's out-of-memory message: "
/* Before release 510 nvidia-smi's total left out what the driver keeps. */
#define OLD_SMI "nvidia-smi of an old driver: "
/* No figure is published. What a driver keeps is at most 4.8 % on cards without ECC (7805 MiB of 8 GiB remain on an
 * RTX 4070 Laptop, ggml-org/llama.cpp 20184), and 8.5 % where ECC lies in the memory itself (the L4 below). */
#define NO_ECC(nominal)   GIB((nominal)*0.952), "no figure published; nominal less 4.8 %, the most seen without ECC"
#define WITH_ECC(nominal) GIB((nominal)*0.915), "no figure published; nominal less 8.5 %, the most seen with ECC"

static const struct device devices[] = {
    {"gtx-1080-ti", "GeForce GTX 1080 Ti, 11 GB", 61, NO_ECC(11)},
    {"rtx-2060", "GeForce RTX 2060, 6 GB", 75, GIB(5.79), MESSAGE "facebookresearch/meshrcnn 92"},
    {"rtx-2080", "GeForce RTX 2080, 8 GB", 75, NO_ECC(8)},
    {"rtx-2080-ti", "GeForce RTX 2080 Ti, 11 GB", 75, GIB(10.76), MESSAGE "ispc-lab/TMA 5"},
    {"titan-rtx", "Titan RTX, 24 GB", 75, MIB(24219), OLD_SMI "lambdal/lambda-tensorflow-benchmark 10"},
    {"rtx-3060", "GeForce RTX 3060, 12 GB", 86, GIB(11.75), MESSAGE "Kunhao-Liu/StyleGaussian 12"},
    {"rtx-3070", "GeForce RTX 3070, 8 GB", 86, GIB(7.76), MESSAGE "sshan-zhao/GASDA 19"},
    {"rtx-3080", "GeForce RTX 3080, 10 GB", 86, GIB(9.78), MESSAGE "zai-org/CogVideo 34"},
    {"rtx-3090", "GeForce RTX 3090, 24 GB", 86, INT64_C(25438126080), PROPERTIES "NVIDIA GeForce RTX 3090"},
    {"rtx-4060", "GeForce RTX 4060, 8 GB", 89, NO_ECC(8)},
    {"rtx-4060-ti", "GeForce RTX 4060 Ti, 16 GB", 89, NO_ECC(16)},
    {"rtx-4070", "GeForce RTX 4070, 12 GB", 89, NO_ECC(12)},
    {"rtx-4070-ti-super", "GeForce RTX 4070 Ti Super, 16 GB", 89, GIB(15.60),
     MESSAGE "kinggongzilla/whatsapp-ai-clone 12"},
    {"rtx-4080", "GeForce RTX 4080, 16 GB", 89, NO_ECC(16)},
    {"rtx-4090", "GeForce RTX 4090, 24 GB", 89, INT64_C(25393692672), PROPERTIES "NVIDIA GeForce RTX 4090"},
    {"rtx-5070", "GeForce RTX 5070, 12 GB", 120, NO_ECC(12)},
    {"rtx-5070-ti", "GeForce RTX 5070 Ti, 16 GB", 120, NO_ECC(16)},
    {"rtx-5080", "GeForce RTX 5080, 16 GB", 120, NO_ECC(16)},
    {"rtx-5090", "GeForce RTX 5090, 32 GB", 120, GIB(31.37), MESSAGE "Wan-Video/Wan2.1 465"},
    {"rtx-8000", "Quadro RTX 8000, 48 GB", 75, GIB(47.46), MESSAGE "Victarry/stable-dreambooth 8"},
    {"rtx-a4000", "RTX A4000, 16 GB", 86, GIB(15.61), MESSAGE "DengKaiCQ/VGGT-Long 6"},
    {"rtx-a5000", "RTX A5000, 24 GB", 86, NO_ECC(24)},
    {"rtx-a6000", "RTX A6000, 48 GB", 86, NO_ECC(48)},
    {"rtx-4000-ada", "RTX 4000 Ada, 20 GB", 89, NO_ECC(20)},
    {"rtx-5000-ada", "RTX 5000 Ada, 32 GB", 89, NO_ECC(32)},
    {"rtx-6000-ada", "RTX 6000 Ada, 48 GB", 89, GIB(44.43), MESSAGE "DINGYANB/MTVCrafter 21, with ECC on"},
    {"rtx-pro-6000", "RTX PRO 6000 Blackwell, 96 GB", 120, GIB(94.97),
     "total memory in a program's log: antirez/ds4 431"},
    {"p100", "Tesla P100, 16 GB", 60, MIB(16280), OLD_SMI "karpathy/minGPT 1"},
    {"t4", "Tesla T4, 16 GB", 75, INT64_C(15828320256), PROPERTIES "Tesla T4"},
    {"v100-16", "Tesla V100, 16 GB", 70, GIB(15.78), MESSAGE "kchengiva/Shift-GCN 34"},
    {"v100-32", "Tesla V100, 32 GB", 70, GIB(31.74), MESSAGE "liucongg/ChatGLM-Finetuning 73"},
    {"a10", "A10, 24 GB", 86, INT64_C(23609475072), PROPERTIES "NVIDIA A10"},
    {"a10g", "A10G, 24 GB", 86, GIB(21.95),
     "total memory in a program's log, the least that prints as 22.0 GiB: batteries-included/batteries-included 1663"},
    {"a30", "A30, 24 GB", 80, GIB(23.53), MESSAGE "google/RB-Modulation 5"},
    {"a40", "A40, 48 GB", 86, WITH_ECC(48)},
    {"a100-40", "A100, 40 GB", 80, INT64_C(42298834944), PROPERTIES "NVIDIA A100-SXM4-40GB"},
    {"a100-80", "A100, 80 GB", 80, INT64_C(85100068864), PROPERTIES "NVIDIA A100-SXM4-80GB"},
    {"l4", "L4, 24 GB", 89, INT64_C(23580639232), PROPERTIES "NVIDIA L4"},
    {"l40s", "L40S, 48 GB", 89, GIB(44.42), MESSAGE "stepfun-ai/Step-Video-T2V 8"},
    {"h100", "H100 SXM, 80 GB", 90, INT64_C(85017493504), PROPERTIES "NVIDIA H100 80GB HBM3"},
    {"h100-nvl", "H100 NVL, 94 GB", 90, GIB(93.00), MESSAGE "ali-vilab/VACE 56"},
    {"h200", "H200, 141 GB", 90, INT64_C(150754820096), PROPERTIES "NVIDIA H200"},
    {"b200", "B200, 180 GB", 100, INT64_C(191514673152), PROPERTIES "NVIDIA B200"},
};

const struct device *
device_find(const char *name)
{
    for (int i = 0; i < COUNT(devices); i++)
        if (strcmp(devices[i].name, name) == 0)
            return &devices[i];
    return NULL;
}

const struct device *
device_row(int i)
{
    return i < COUNT(devices) ? &devices[i] : NULL;
}

const char *
device_name(const struct device *d)
{
    return d->name;
}

/* What the driver keeps for a process beside PyTorch's segments: context, kernels, handles of libraries. It hangs on
 * GPU and versions; people measured, as a rule by nvidia-smi less what PyTorch reserves. From CUDA 11.7 on kernels are
 * loaded when they are needed; figures of older versions hold all of them: they are listed, and do not count. */
static const struct context_row {
    int sm; /* of this compute capability x 10; 0: of any */
    const char *gpu, *torch, *cuda;
    bool lazy;
    int mib;
    const char *source;
} contexts[] = {
    {70, "Titan V", "1.3", "10", false, 1005, "pytorch/pytorch 28394"},
    {70, "V100", "1.10", "11.2", false, 1341, "huggingface/transformers docs/source/en/model_memory_anatomy.md"},
    {75, "RTX 2080 Ti", "1.6", "10.1", false, 877, "pytorch/pytorch 49877"},
    {80, "A100", "2.x", "", true, 1429, "itu-rad/GPUMemNet Datasets/MLP, 500 runs under a profiler"},
    {86, "RTX 3090", "1.7.1", "11.0", false, 1486, "pytorch/pytorch 49877"},
    {86, "RTX 3090", "2.7.1", "12.8", true, 256, "invoke-ai/InvokeAI 9413"},
    {89, "RTX 4060", "2.3", "", true, 510, "Stone-ResearchLife/xMem host_metrics-1732691718.json"},
    {89, "RTX 6000 Ada", "2.10", "13.0", true, 426, "unsloth-zoo 1053"},
    {90, "H100", "2.x", "", true, 534, "meta-pytorch/torchcomms 777, a context alone"},
    {90, "H200", "2.7.1", "12.8", true, 520, "clemsgrs/slide2vec 326, a process without tensors"},
    {90, "H200", "2.11", "13.0", true, 630, "tests/oracle/h200.tar.xz, convolutions alone"},
    {90, "H200", "2.11", "13.0", true, 766, "tests/oracle/h200.tar.xz, 97 in 100 of 1,263 training steps at most"},
    {0, "a GPU", "1.13", "11.7 or later", false, 615, "pytorch/pytorch 86509, less 20 MiB of a tensor"},
    {0, "a GPU", "1.13", "11.7 or later", true, 253, "pytorch/pytorch 86509, less 20 MiB of a tensor"},
    {0, "a GPU", "2.x", "11.7 or later", true, 300, "pytorch/pytorch 107667"},
    {0, "a GPU", "2.x", "11.7 or later", true, 400, "pytorch/pytorch 109888"},
};

/* What NCCL's communicator keeps on each of several GPUs. A connection has 10 MiB at the one end and 2 at the other on
 * each channel (measured: NVIDIA/nccl 1685); 16 channels are the least that logs show on GPUs with NVLink. NVLS, which
 * sums in the switch, had 6 MiB twice a channel for each GPU of a node until 2.20, which PyTorch 2.4 brings, and has 1
 * from 2.22 on (src/transport/nvls.cc), less than what others measured in all. */
enum { GPUS_OF_NODE = 8 };
static const struct nccl_row {
    int sm, before;  /* from this compute capability x 10 on; where --torch is older than this, 0: whatever it is */
    int least, most; /* GPUs that it counts for; most 0: any number */
    int mib, each;   /* each: for each GPU of the node besides */
    const char *where, *source;
} nccl[] = {
    {0, 0, 2, 0, 192, 0, "computed: a ring of 16 channels alone", "NVIDIA/nccl 1685, 892"},
    {0, 0, 2, 2, 544, 0, "A100 with NVLink, a group of 2", "NVIDIA/nccl 964"},
    {0, 0, 3, 0, 688, 0, "A100 with NVLink, a group of 3 or 4", "NVIDIA/nccl 964"},
    {90, 205, 3, 0, 688, 288, "H200, NVLS beside an A100's", "vllm-project/vllm 9699, NVIDIA/nccl 964"},
    {0, 0, 2, 0, 1600, 0, "GPUs not named", "NVIDIA/nccl 864"},
};

static bool
counts(const struct context_row *c, int sm)
{
    return c->lazy && (!sm || !c->sm || c->sm == sm);
}

static bool
nccl_counts(const struct nccl_row *n, const struct setup *s, const struct device *d)
{
    return s->gpus >= n->least && (!n->most || s->gpus <= n->most) && (!n->sm || (d && d->sm >= n->sm)) &&
           (!n->before || (s->torch && s->torch < n->before));
}

static int
nccl_mib(const struct nccl_row *n, int gpus)
{
    return n->mib + n->each * (gpus < GPUS_OF_NODE ? gpus : GPUS_OF_NODE);
}

/* The compute capability whose rows count for d: 0 all of them, where it has none of its own. */
static int
sm_of_contexts(const struct device *d)
{
    for (int i = 0; d && i < COUNT(contexts); i++)
        if (contexts[i].lazy && contexts[i].sm == d->sm)
            return d->sm;
    return 0;
}

static const char *
context_text(struct arena *a, const struct context_row *c)
{
    return arena_printf(a, "%d MiB on %s%s with torch %s%s%s: %s", c->mib, c->sm ? "an " : "", c->gpu, c->torch,
                        *c->cuda ? ", CUDA " : "", c->cuda, c->source);
}

struct context
device_context(const struct setup *s, const struct device *d)
{
    const struct context_row *least = NULL, *most = NULL;
    int sm = sm_of_contexts(d);
    for (const struct context_row *c = contexts; c < contexts + COUNT(contexts); c++)
        if (counts(c, sm)) {
            least = !least || c->mib < least->mib ? c : least;
            most = !most || c->mib > most->mib ? c : most;
        }
    struct context c = {.from = least, .to = most};
    for (const struct nccl_row *n = nccl; n < nccl + COUNT(nccl) && s->parallel; n++)
        if (nccl_counts(n, s, d)) {
            int mib = nccl_mib(n, s->gpus);
            if (!c.nccl_from || mib < c.nccl_least) {
                c.nccl_from = n;
                c.nccl_least = mib;
            }
            if (mib > c.nccl_most) {
                c.nccl_to = n;
                c.nccl_most = mib;
            }
        }
    c.least = MIB((least ? least->mib : 0) + c.nccl_least);
    c.most = MIB((most ? most->mib : 0) + c.nccl_most);
    return s->context ? (struct context){.least = s->context, .most = s->context} : c;
}

const char *
device_context_text(struct arena *a, const struct context *c)
{
    if (!c->from)
        return arena_printf(a, "%s, as --context says", bytes_text(a, c->most));
    const char *text = c->from == c->to ? context_text(a, c->to)
                                        : arena_printf(a, "%s to %s (%s; %s)", bytes_text(a, MIB(c->from->mib)),
                                                       bytes_text(a, MIB(c->to->mib)), context_text(a, c->from),
                                                       context_text(a, c->to));
    return !c->nccl_to ? text
                       : arena_printf(a, "%s, and NCCL's communicator, %d MiB (%s: %s) to %d MiB (%s: %s)", text,
                                      c->nccl_least, c->nccl_from->where, c->nccl_from->source, c->nccl_most,
                                      c->nccl_to->where, c->nccl_to->source);
}

void
device_contexts_list(FILE *out)
{
    for (const struct context_row *c = contexts; c < contexts + COUNT(contexts); c++)
        fprintf(out, "%s\t%s%s\t%s\t%d MiB\t%s%s\n", c->gpu, "torch ", c->torch, *c->cuda ? c->cuda : "?", c->mib,
                c->source, c->lazy ? "" : "; not counted: all kernels were loaded");
    for (const struct nccl_row *n = nccl; n < nccl + COUNT(nccl); n++)
        fprintf(out, "%s\tNCCL, with --parallel\t?\t%d MiB%s\t%s%s\n", n->where, nccl_mib(n, GPUS_OF_NODE),
                n->each ? " on eight" : "", n->source, n->before ? "; counts with --torch=2.4 and older" : "");
}

int64_t
device_capacity(const struct device *d)
{
    return d->bytes;
}

/* The least compute capability of each kind, and that of its kind in a step without convolutions. */
static const struct {
    int sm, alike;
} kinds[DEVICE_KINDS - 1] = {{0, 0}, {75, 0}, {80, 80}, {86, 80}, {89, 80}, {90, 90}, {100, 90}, {120, 90}};
enum { UNKNOWN_KIND = DEVICE_KINDS - 1 };

static int
kind_of_sm(int sm)
{
    int k = COUNT(kinds) - 1;
    while (kinds[k].sm > sm)
        k--;
    return k;
}

int
device_kind(const struct device *d, bool convolves)
{
    int k = kind_of_sm(device_sm(d));
    return convolves ? (d ? k : UNKNOWN_KIND) : kind_of_sm(kinds[k].alike);
}

const struct device *
device_of_kind(int kind)
{
    const struct device *d = devices;
    while (kind != UNKNOWN_KIND && kind_of_sm(d->sm) != kind)
        d++;
    return kind == UNKNOWN_KIND ? NULL : d;
}

void
device_list(FILE *out)
{
    for (int i = 0; i < COUNT(devices); i++)
        fprintf(out, "%s\t%s\t%.2f GiB\t%s\n", devices[i].name, devices[i].help, (double)devices[i].bytes / (1 << 30),
                devices[i].source);
}
