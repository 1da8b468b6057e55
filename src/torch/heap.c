/* SPDX-License-Identifier: Apache-2.0 */
/* heap.c - PyTorch's caching allocator, and the devices whose memory it asks for.
 *
 * Blocks are cut from segments that the driver gave. Two pools: requests up to 1 MiB (segments of 2 MiB) and larger
 * ones (20 MiB, or the request rounded to 2 MiB from 10 MiB on). The smallest free block that is large enough serves,
 * the lowest address among equals; it is split when the rest is worth keeping, merged with free neighbours when freed.
 * Addresses only order blocks: segments get growing ones. Expandable segments are one range of addresses per pool; the
 * pages that blocks need are mapped into it, and those that lie inside of free blocks are given back when the device
 * is full. Source: c10/cuda/CUDACachingAllocator.cpp, 2.11; constants in c10/core/AllocatorConfig.h.
 */
#include "torch/torch.h"

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

/* Free blocks by (bytes, address), in bins of sizes: eight for each power of two. */
enum { BIN_BITS = 3 };
#define BINS 512u
#define WORD 64u
struct pool {
    struct bin {
        int n, cap, *block;
    } bin[BINS];
    uint64_t filled[BINS / WORD]; /* bits of bins that are not empty */
    int range;                    /* expandable: first block of the range, -1 none yet */
    int64_t page;
};

/* Where a free block stands; bin BINS: behind the last. */
struct place {
    unsigned bin;
    int at;
};

struct heap {
    struct arena *a;
    bool expandable;
    int n, cap;
    struct block *b;
    struct pool pool[2];
    int spare; /* merged away, -1 none: ids to use again, one behind the other by next */
    int64_t allocated, reserved, top;
    const struct player *play; /* NULL: no device */
};

struct heap *
heap_new(struct arena *a, bool expandable)
{
    struct heap *h = NEW(a, struct heap);
    h->a = a;
    h->expandable = expandable;
    h->spare = -1;
    h->pool[0].range = h->pool[1].range = -1;
    h->pool[0].page = SMALL_SEGMENT;
    h->pool[1].page = LARGE_SEGMENT;
    return h;
}

static inline int
block_new(struct heap *h, struct block b)
{
    int id = h->spare;
    if (id < 0) {
        *PUSH(h->a, h->b, h->n, h->cap) = b;
        return h->n - 1;
    }
    h->spare = h->b[id].next;
    h->b[id] = b;
    return id;
}

static inline void
block_drop(struct heap *h, int id)
{
    h->b[id].next = h->spare;
    h->spare = id;
}

static inline unsigned
bin_of(int64_t bytes)
{
    uint64_t unit = (uint64_t)bytes / MIN_BLOCK;
    unsigned more = 63u - BIN_BITS - (unsigned)__builtin_clzll(unit | 1 << BIN_BITS); /* bits behind its first */
    return (more << BIN_BITS) + (unsigned)(unit >> more);
}

/* The first free block from that bin on. */
static inline struct place
pool_first(const struct pool *p, unsigned bin)
{
    uint64_t mask = ~UINT64_C(0) << bin % WORD;
    for (unsigned word = bin / WORD; word < BINS / WORD; word++, mask = ~UINT64_C(0))
        if (p->filled[word] & mask)
            return (struct place){word * WORD + (unsigned)__builtin_ctzll(p->filled[word] & mask), 0};
    return (struct place){BINS, 0};
}

/* Where a block of that size and address stands in its bin or would stand. */
static inline int
bin_at(const struct heap *h, const struct bin *bin, int64_t bytes, int64_t address)
{
    const int *at = bin->block;
    for (unsigned n = (unsigned)bin->n, half; n;) {
        const struct block *b = &h->b[at[half = n / 2]];
        if (b->bytes > bytes || (b->bytes == bytes && b->address >= address)) {
            n = half;
        } else {
            at += half + 1;
            n -= half + 1;
        }
    }
    return (int)(at - bin->block);
}

/* The smallest free block of at least that size. */
static inline struct place
pool_fit(const struct heap *h, const struct pool *p, int64_t bytes)
{
    unsigned bin = bin_of(bytes);
    int at = bin_at(h, &p->bin[bin], bytes, -1);
    return at < p->bin[bin].n ? (struct place){bin, at} : pool_first(p, bin + 1);
}

static struct place
pool_next(const struct pool *p, struct place at)
{
    return at.at + 1 < p->bin[at.bin].n ? (struct place){at.bin, at.at + 1} : pool_first(p, at.bin + 1);
}

static void
pool_insert(struct heap *h, int id)
{
    struct block *b = &h->b[id];
    struct pool *p = &h->pool[b->large];
    unsigned i = bin_of(b->bytes);
    struct bin *bin = &p->bin[i];
    int at = bin_at(h, bin, b->bytes, b->address);
    (void)PUSH(h->a, bin->block, bin->n, bin->cap);
    if (at < bin->n - 1)
        memmove(&bin->block[at + 1], &bin->block[at], sizeof(int) * (size_t)(bin->n - 1 - at));
    bin->block[at] = id;
    p->filled[i / WORD] |= UINT64_C(1) << i % WORD;
    b->is_free = true;
}

/* The free block that stands there is taken; its id. */
static inline int
pool_take(struct heap *h, struct pool *p, struct place at)
{
    struct bin *bin = &p->bin[at.bin];
    int id = bin->block[at.at];
    if (at.at < --bin->n)
        memmove(&bin->block[at.at], &bin->block[at.at + 1], sizeof(int) * (size_t)(bin->n - at.at));
    if (!bin->n)
        p->filled[at.bin / WORD] &= ~(UINT64_C(1) << at.bin % WORD);
    h->b[id].is_free = false;
    return id;
}

static inline void
pool_remove(struct heap *h, int id)
{
    const struct block *b = &h->b[id];
    struct pool *p = &h->pool[b->large];
    unsigned bin = bin_of(b->bytes);
    (void)pool_take(h, p, (struct place){bin, bin_at(h, &p->bin[bin], b->bytes, b->address)});
}

static int64_t
segment_bytes(int64_t bytes)
{
    return bytes <= SMALL ? SMALL_SEGMENT : bytes < LARGE_FROM ? LARGE_SEGMENT : (bytes + ROUND - 1) / ROUND * ROUND;
}

/* What follows the first bytes of a block as a block of its own; its id. */
static inline int
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
static inline void
absorb_next(struct heap *h, int id)
{
    int next = h->b[id].next;
    h->b[id].bytes += h->b[next].bytes;
    h->b[id].next = h->b[next].next;
    if (h->b[next].next >= 0)
        h->b[h->b[next].next].prev = id;
    block_drop(h, next);
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
heap_play(struct heap *h, const struct player *p)
{
    h->play = p;
}

/* ---- expandable segments ----------------------------------------------------------------------------------------- */

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

/* Maps the pages of an unmapped block's first bytes; the free block that has them, -1: the device refuses. Source:
 * map_block. */
static int
map_block(struct heap *h, int id, int64_t bytes)
{
    struct block b = h->b[id];
    int64_t page = h->pool[b.large].page;
    bytes = div_up(bytes < b.bytes ? bytes : b.bytes, page) * page;
    if (h->play && !h->play->map(h->play->of, range_of(h, b.large), b.address, bytes))
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

/* The pages that lie inside of a free block go back; the id of what is unmapped then, or of the block itself. Source:
 * unmap_block. */
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
    h->play->unmap(h->play->of, from, to - from, r.page);
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

/* ---- the device -------------------------------------------------------------------------------------------------- */

/* Memory that nobody uses goes back to the device. Source: release_cached_blocks. */
static void
release_cached(struct heap *h)
{
    for (int large = 0; large < 2; large++) {
        for (int id = h->pool[large].range; id >= 0; id = h->b[id].next)
            if (h->b[id].is_free)
                id = unmap_block(h, id);
        for (unsigned i = BINS; i-- > 0 && !h->expandable;)
            for (int k = h->pool[large].bin[i].n - 1; k >= 0; k--) {
                int id = h->pool[large].bin[i].block[k];
                struct block *b = &h->b[id];
                if (b->prev >= 0 || b->next >= 0)
                    continue;
                h->play->give(h->play->of, b->address);
                pool_remove(h, id);
                h->reserved -= b->bytes;
                block_drop(h, id);
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
    if (h->play && !h->play->take(h->play->of, h->top, seg))
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
    h->play->refuse(h->play->of, segment_bytes(bytes));
    return grow(h, bytes, large);
}

/* ---- blocks ------------------------------------------------------------------------------------------------------ */

/* What a free block counts as when the best fit is sought: one of a range can grow. Source: get_free_block. */
static int64_t
fit_bytes(const struct heap *h, int id)
{
    int next = h->b[id].next;
    return h->b[id].bytes + (next >= 0 && h->b[next].unmapped ? h->b[next].bytes : 0);
}

static int64_t
block_round(int64_t bytes)
{
    return bytes < MIN_BLOCK ? MIN_BLOCK : (bytes + MIN_BLOCK - 1) & ~(int64_t)(MIN_BLOCK - 1);
}

int
heap_malloc(struct heap *h, int64_t bytes)
{
    bytes = block_round(bytes);
    bool large = bytes > SMALL;
    struct pool *p = &h->pool[large];
    struct place at = pool_fit(h, p, bytes), next;
    while (h->expandable && at.bin < BINS && (next = pool_next(p, at)).bin < BINS &&
           fit_bytes(h, p->bin[next.bin].block[next.at]) < fit_bytes(h, p->bin[at.bin].block[at.at]))
        at = next;
    int id = at.bin < BINS ? pool_take(h, p, at) : grow_or_refuse(h, bytes, large);
    int64_t rest = h->b[id].bytes - bytes;
    if (large && !h->expandable ? rest > SMALL : rest >= MIN_BLOCK)
        pool_insert(h, split(h, id, bytes));
    h->allocated += h->b[id].bytes;
    if (h->play)
        h->play->block(h->play->of, h->b[id].address, h->b[id].bytes, h->allocated);
    return id;
}

void
heap_free(struct heap *h, int id)
{
    h->allocated -= h->b[id].bytes;
    (void)join_free(h, id);
}

void
heap_pass(struct heap *h, int64_t bytes)
{
    bytes = block_round(bytes);
    if (h->expandable || pool_fit(h, &h->pool[bytes > SMALL], bytes).bin == BINS)
        heap_free(h, heap_malloc(h, bytes));
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
