/* heap.c - PyTorch's caching allocator, and the devices whose memory it asks for.
 *
 * Blocks are cut from segments that the driver gave. Two pools: requests up to 1 MiB (segments of 2 MiB) and larger ones (20 MiB, or the
 * request rounded to 2 MiB from 10 MiB on). The smallest free block that is large enough serves, the lowest address among equals; it is split
 * when the rest is worth keeping, merged with free neighbours when freed. Addresses only order blocks: segments get growing ones.
 * Expandable segments are one range of addresses per pool; the pages that blocks need are mapped into it, and those that lie inside of free
 * blocks are given back when the device is full.
 * Source: c10/cuda/CUDACachingAllocator.cpp, 2.11; constants in c10/core/AllocatorConfig.h.
 */
#include "memlint.h"

#include <string.h>

enum {
    MIN_BLOCK = 512,
    SMALL = 1 << 20,
    SMALL_SEGMENT = 2 << 20,
    LARGE_FROM = 10 << 20,
    LARGE_SEGMENT = 20 << 20,
    ROUND = 2 << 20
};

struct block {
    int64_t address, bytes;
    int prev, next;                /* neighbours in the segment, -1 none */
    bool is_free, large, unmapped; /* unmapped: addresses of an expandable range without memory */
};

struct pool { /* free blocks by (bytes, address) */
    int n, cap, *block;
    int range; /* expandable: first block of the range, -1 none yet */
    int64_t page;
};

struct heap {
    struct arena *a;
    bool expandable;
    int n, cap;
    struct block *b;
    struct pool pool[2];
    int spare_n, spare_cap, *spare; /* merged away: ids to use again */
    int64_t allocated, reserved, top;
    struct replay *play; /* NULL: no device */
};

struct heap *
heap_new(struct arena *a, bool expandable)
{
    struct heap *h = NEW(a, struct heap);
    h->a = a;
    h->expandable = expandable;
    h->pool[0] = (struct pool){.range = -1, .page = SMALL_SEGMENT};
    h->pool[1] = (struct pool){.range = -1, .page = LARGE_SEGMENT};
    return h;
}

static int
block_new(struct heap *h, struct block b)
{
    if (h->spare_n) {
        int id = h->spare[--h->spare_n];
        h->b[id] = b;
        return id;
    }
    *PUSH(h->a, h->b, h->n, h->cap) = b;
    return h->n - 1;
}

/* Where a block of that size and address stands or would stand. */
static int
pool_at(const struct heap *h, const struct pool *p, int64_t bytes, int64_t address)
{
    int lo = 0, hi = p->n;
    while (lo < hi) {
        int mid = (lo + hi) / 2;
        const struct block *b = &h->b[p->block[mid]];
        if (b->bytes < bytes || (b->bytes == bytes && b->address < address))
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

static void
pool_insert(struct heap *h, int id)
{
    struct block *b = &h->b[id];
    struct pool *p = &h->pool[b->large];
    int at = pool_at(h, p, b->bytes, b->address);
    (void)PUSH(h->a, p->block, p->n, p->cap);
    memmove(&p->block[at + 1], &p->block[at], sizeof(int) * (size_t)(p->n - 1 - at));
    p->block[at] = id;
    b->is_free = true;
}

static void
pool_remove(struct heap *h, int id)
{
    struct block *b = &h->b[id];
    struct pool *p = &h->pool[b->large];
    int at = pool_at(h, p, b->bytes, b->address);
    memmove(&p->block[at], &p->block[at + 1], sizeof(int) * (size_t)(p->n - 1 - at));
    p->n--;
    b->is_free = false;
}

static int64_t
segment_bytes(int64_t bytes)
{
    return bytes <= SMALL ? SMALL_SEGMENT : bytes < LARGE_FROM ? LARGE_SEGMENT : (bytes + ROUND - 1) / ROUND * ROUND;
}

/* What follows the first bytes of a block as a block of its own; its id. */
static int
split(struct heap *h, int id, int64_t bytes)
{
    struct block b = h->b[id];
    int tail = block_new(h, (struct block){b.address + bytes, b.bytes - bytes, id, b.next, false, b.large, b.unmapped});
    if (b.next >= 0)
        h->b[b.next].prev = tail;
    h->b[id].next = tail;
    h->b[id].bytes = bytes;
    return tail;
}

/* Joins a block with the one that follows it. */
static void
absorb_next(struct heap *h, int id)
{
    int next = h->b[id].next;
    h->b[id].bytes += h->b[next].bytes;
    h->b[id].next = h->b[next].next;
    if (h->b[next].next >= 0)
        h->b[h->b[next].next].prev = id;
    *PUSH(h->a, h->spare, h->spare_n, h->spare_cap) = next;
}

/* A block is free from now on: joined with free neighbours; the id of what it is then. */
static int
join_free(struct heap *h, int id)
{
    int prev = h->b[id].prev;
    if (prev >= 0 && h->b[prev].is_free) {
        pool_remove(h, prev);
        absorb_next(h, prev);
        id = prev;
    }
    int next = h->b[id].next;
    if (next >= 0 && h->b[next].is_free) {
        pool_remove(h, next);
        absorb_next(h, id);
    }
    pool_insert(h, id);
    return id;
}

void
heap_play(struct heap *h, struct replay *p)
{
    h->play = p;
}

/* ---- expandable segments ------------------------------------------------------------------------------------------------------------- */

static struct replay_range
range_of(const struct heap *h, bool large)
{
    return (struct replay_range){large, h->b[h->pool[large].range].address, h->pool[large].page};
}

/* The lowest place where free and unmapped blocks side by side have that many bytes. Source: find_expandable_block. */
static int
find_room(struct heap *h, bool large, int64_t bytes)
{
    struct pool *p = &h->pool[large];
    if (p->range < 0) /* longer than any device is large */
        p->range = block_new(h, (struct block){RANGE_BYTES * large, RANGE_BYTES, -1, -1, false, large, true});
    for (int id = p->range;; id = h->b[id].next) {
        if (!h->b[id].unmapped)
            continue;
        int64_t room = 0;
        int first = h->b[id].prev >= 0 && h->b[h->b[id].prev].is_free ? h->b[id].prev : id;
        for (int k = first; k >= 0 && room < bytes && (h->b[k].is_free || h->b[k].unmapped); k = h->b[k].next)
            room += h->b[k].bytes;
        if (room >= bytes)
            return first;
    }
}

/* Maps the pages of an unmapped block's first bytes; the free block that has them, -1: the device refuses. Source: map_block. */
static int
map_block(struct heap *h, int id, int64_t bytes)
{
    struct block b = h->b[id];
    int64_t page = h->pool[b.large].page;
    bytes = div_up(bytes < b.bytes ? bytes : b.bytes, page) * page;
    if (h->play && !replay_map(h->play, range_of(h, b.large), b.address, bytes))
        return -1;
    if (bytes < b.bytes)
        split(h, id, bytes);
    h->b[id].unmapped = false;
    h->reserved += bytes;
    return join_free(h, id);
}

/* Source: try_allocate_expandable_block. */
static int
grow_range(struct heap *h, int64_t bytes, bool large)
{
    int id = find_room(h, large, bytes);
    if (h->b[id].unmapped)
        id = map_block(h, id, bytes);
    while (id >= 0 && h->b[id].bytes < bytes)
        id = map_block(h, h->b[id].next, bytes - h->b[id].bytes);
    if (id >= 0)
        pool_remove(h, id);
    return id;
}

/* The pages that lie inside of a free block go back; the id of what is unmapped then, or of the block itself. Source: unmap_block. */
static int
unmap_block(struct heap *h, int id)
{
    struct block b = h->b[id];
    struct replay_range r = range_of(h, b.large);
    int64_t from = r.base + div_up(b.address - r.base, r.page) * r.page,
            to = r.base + (b.address + b.bytes - r.base) / r.page * r.page;
    if (from >= to)
        return id;
    pool_remove(h, id);
    if (to < b.address + b.bytes)
        pool_insert(h, split(h, id, to - b.address));
    if (from > b.address) {
        int middle = split(h, id, from - b.address);
        pool_insert(h, id);
        id = middle;
    }
    replay_unmap(h->play, from, to - from, r.page);
    h->reserved -= to - from;
    h->b[id].unmapped = true;
    if (h->b[id].next >= 0 && h->b[h->b[id].next].unmapped)
        absorb_next(h, id);
    if (h->b[id].prev >= 0 && h->b[h->b[id].prev].unmapped) {
        id = h->b[id].prev;
        absorb_next(h, id);
    }
    return id;
}

/* ---- the device ------------------------------------------------------------------------------------------------------------------------ */

/* Memory that nobody uses goes back to the device. Source: release_cached_blocks. */
static void
release_cached(struct heap *h)
{
    for (int large = 0; large < 2; large++) {
        for (int id = h->pool[large].range; id >= 0; id = h->b[id].next)
            if (h->b[id].is_free)
                id = unmap_block(h, id);
        for (int i = h->pool[large].n - 1; i >= 0 && !h->expandable; i--) {
            int id = h->pool[large].block[i];
            struct block *b = &h->b[id];
            if (b->prev >= 0 || b->next >= 0)
                continue;
            replay_give(h->play, b->address);
            pool_remove(h, id);
            h->reserved -= b->bytes;
            *PUSH(h->a, h->spare, h->spare_n, h->spare_cap) = id;
        }
    }
}

/* A free block of at least that size where no pool had one, -1: the device refuses. */
static int
grow(struct heap *h, int64_t bytes, bool large)
{
    if (h->expandable)
        return grow_range(h, bytes, large);
    int64_t seg = segment_bytes(bytes);
    if (h->play && !replay_take(h->play, h->top, seg))
        return -1;
    int id = block_new(h, (struct block){h->top, seg, -1, -1, false, large, false});
    h->top += seg;
    h->reserved += seg;
    return id;
}

/* The same, at once or after what is cached went back; without the device where it still refuses. */
static int
grow_or_refuse(struct heap *h, int64_t bytes, bool large)
{
    int id = grow(h, bytes, large);
    if (id >= 0)
        return id;
    release_cached(h);
    if ((id = grow(h, bytes, large)) >= 0)
        return id;
    replay_refuse(h->play, segment_bytes(bytes));
    return grow(h, bytes, large);
}

/* ---- blocks ------------------------------------------------------------------------------------------------------------------------------ */

/* What a free block counts as when the best fit is sought: one of a range can grow. Source: get_free_block. */
static int64_t
fit_bytes(const struct heap *h, int id)
{
    int next = h->b[id].next;
    return h->b[id].bytes + (next >= 0 && h->b[next].unmapped ? h->b[next].bytes : 0);
}

int
heap_malloc(struct heap *h, int64_t bytes)
{
    bytes = bytes < MIN_BLOCK ? MIN_BLOCK : (bytes + MIN_BLOCK - 1) / MIN_BLOCK * MIN_BLOCK;
    bool large = bytes > SMALL;
    struct pool *p = &h->pool[large];
    int at = pool_at(h, p, bytes, -1), id;
    while (h->expandable && at + 1 < p->n && fit_bytes(h, p->block[at + 1]) < fit_bytes(h, p->block[at]))
        at++;
    if (at < p->n) {
        id = p->block[at];
        pool_remove(h, id);
    } else {
        id = grow_or_refuse(h, bytes, large);
    }
    int64_t rest = h->b[id].bytes - bytes;
    if (large && !h->expandable ? rest > SMALL : rest >= MIN_BLOCK)
        pool_insert(h, split(h, id, bytes));
    h->allocated += h->b[id].bytes;
    if (h->play)
        replay_block(h->play, h->b[id].address, h->b[id].bytes, h->allocated);
    return id;
}

void
heap_free(struct heap *h, int id)
{
    h->allocated -= h->b[id].bytes;
    (void)join_free(h, id);
}

int64_t
heap_block_bytes(const struct heap *h, int block)
{
    return h->b[block].bytes;
}

int64_t
heap_allocated(const struct heap *h)
{
    return h->allocated;
}

int64_t
heap_reserved(const struct heap *h)
{
    return h->reserved;
}

/* ---- devices -------------------------------------------------------------------------------------------------------------------------- */

/* The memory that the driver gives to programs, which is less than the nominal: totalGlobalMem of cudaGetDeviceProperties, the total of
 * cudaMemGetInfo and the total capacity in PyTorch's message are one figure on Linux (Windows' display driver tells the nominal size).
 * Drivers differ by up to one percent; of several messages the smallest counts. */
struct device {
    const char *name, *help; /* help has the nominal size */
    int sm;                  /* compute capability x 10 */
    int64_t bytes;
    const char *source;
};

#define MIB(x)     (INT64_C(x) << 20)
#define GIB(x)     ((int64_t)((x) * (1 << 30)))
#define PROPERTIES "cudaGetDeviceProperties: "
#define MESSAGE    "PyTorch's out-of-memory message: "
/* Before release 510 nvidia-smi's total left out what the driver keeps. */
#define OLD_SMI "nvidia-smi of an old driver: "
/* No figure is published. What a driver keeps is at most 4.8 % on cards without ECC (7805 MiB of 8 GiB remain on an RTX 4070 Laptop,
 * ggml-org/llama.cpp 20184), and 8.5 % where ECC lies in the memory itself (the L4 below). */
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

/* What the driver keeps for a process beside PyTorch's segments, kernels being loaded lazily; the default is the largest figure published
 * since. It grows with the libraries that are loaded. */
static const struct context {
    const char *device; /* NULL: any other */
    int64_t bytes;
    const char *source;
} contexts[] = {
    {"rtx-3090", INT64_C(256) << 20, "measured with torch 2.7.1, CUDA 12.8: invoke-ai/InvokeAI 9413"},
    {"rtx-6000-ada", INT64_C(426) << 20, "measured with torch 2.10, CUDA 13.0: unsloth-zoo 1053"},
    {NULL, INT64_C(426) << 20,
     "measured on an RTX 6000 Ada with torch 2.10, CUDA 13.0: unsloth-zoo 1053; others report 256 to 400 MB"},
};

int64_t
device_context(const struct device *d, const char **source)
{
    const struct context *c = contexts;
    while (c->device && (!d || strcmp(c->device, d->name) != 0))
        c++;
    if (source)
        *source = c->source;
    return c->bytes;
}

int64_t
device_capacity(const struct device *d)
{
    return d->bytes;
}

int
device_sm(const struct device *d)
{
    return d ? d->sm : 90;
}

int
device_kind(const struct device *d)
{
    return device_sm(d) >= 90;
}

const struct device *
device_of_kind(int kind)
{
    const struct device *d = devices;
    while (device_kind(d) != kind)
        d++;
    return d;
}

void
device_list(FILE *out)
{
    for (int i = 0; i < COUNT(devices); i++)
        fprintf(out, "%s\t%s\t%.2f GiB\t%s\n", devices[i].name, devices[i].help, (double)devices[i].bytes / (1 << 30),
                devices[i].source);
}
