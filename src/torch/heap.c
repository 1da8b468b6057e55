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

#include <assert.h>
#include <string.h>

enum { MIN_BLOCK = 512, SMALL_SEGMENT = 2 << 20, LARGE_FROM = 10 << 20, LARGE_SEGMENT = 20 << 20, ROUND = 2 << 20 };

/* Free blocks by (bytes, address), in bins of sizes: eight for each power of two. Most bins have none or one. */
enum { BIN_BITS = 3 };
#define BINS 512u
#define WORD 64u
struct pool {
    struct block *bin[BINS];      /* the first of each */
    uint64_t filled[BINS / WORD]; /* bits of bins that are not empty */
    bool large;
    int64_t least;       /* that is kept as a block when more was there than asked for */
    struct block *range; /* expandable: first block of the range, NULL none yet */
    int64_t page, mapped;
};

struct heap {
    struct arena *a;
    bool expandable;
    struct pool pool[2], *of[2]; /* of: for small and for large requests */
    struct block *spare;         /* not used yet, or merged away */
    int64_t allocated, reserved, top;
    int nsegments, cap_segments;
    struct heap_segment *segment; /* all that were ever taken */
    const struct player *play;    /* NULL: no device */
    bool slow;                    /* more is to be done than to take the first block that fits */
};

void
heap_clear(struct heap *h)
{
    *h = (struct heap){.a = h->a, .expandable = h->expandable, .play = h->play, .slow = h->play || h->expandable};
    for (int large = 0; large < 2; large++) {
        struct pool *p = h->of[large] = &h->pool[large];
        p->large = large;
        p->page = large ? LARGE_SEGMENT : SMALL_SEGMENT;
        p->least = large && !h->expandable ? HEAP_SMALL + 1 : MIN_BLOCK;
    }
}

struct heap *
heap_new(struct arena *a, bool expandable)
{
    struct heap *h = NEW(a, struct heap);
    h->a = a;
    h->expandable = expandable;
    heap_clear(h);
    return h;
}

/* ---- free blocks: a request does all of it several times, so they are pieces of their callers -------------------- */

static __attribute__((noinline)) void
more_spare(struct heap *h)
{
    enum { MORE = 64 };
    h->spare = NEWN(h->a, struct block, MORE);
    for (int i = 1; i < MORE; i++)
        h->spare[i - 1].next = &h->spare[i];
}

/* No free one, between its neighbours; whether it is mapped is for the caller to say. */
static inline struct block *
block_new(struct heap *h, int64_t address, int64_t bytes, struct pool *p, struct block *prev, struct block *next)
{
    if (!h->spare)
        more_spare(h);
    struct block *b = h->spare;
    h->spare = b->next;
    b->address = address;
    b->bytes = bytes;
    b->prev = prev;
    b->next = next;
    b->pool = p;
    b->bin = 0;
    return b;
}

static inline void
block_drop(struct heap *h, struct block *b)
{
    b->next = h->spare;
    h->spare = b;
}

static inline unsigned
bin_of(int64_t bytes)
{
    enum { MANTISSA = 52, BIAS = 1023, LEAST = 9 /* MIN_BLOCK's exponent */ };
    const double size = (double)bytes; /* its exponent and the first bits behind it are the bin */
    uint64_t bits;
    memcpy(&bits, &size, sizeof(bits));
    return (unsigned)(bits >> (MANTISSA - BIN_BITS)) - ((BIAS + LEAST) << BIN_BITS) + 1;
}

/* The first free block from that bin on, NULL none. */
static inline struct block *
pool_first(const struct pool *p, unsigned bin)
{
    unsigned word = bin / WORD;
    uint64_t left = p->filled[word] & ~UINT64_C(0) << bin % WORD;
    while (!left && ++word < BINS / WORD)
        left = p->filled[word];
    return left ? p->bin[word * WORD + (unsigned)__builtin_ctzll(left)] : NULL;
}

/* The smallest free block of at least that size, NULL none. */
static inline struct block *
pool_fit(const struct pool *p, int64_t bytes)
{
    unsigned bin = bin_of(bytes);
    struct block *b = p->bin[bin];
    while (b && b->bytes < bytes)
        b = b->more;
    return b ? b : pool_first(p, bin + 1);
}

static struct block *
pool_next(const struct pool *p, const struct block *b)
{
    return b->more ? b->more : pool_first(p, b->bin + 1u);
}

static inline void
pool_insert(struct pool *p, struct block *b)
{
    const unsigned bin = bin_of(b->bytes);
    struct block *less = NULL, *more = p->bin[bin];
    while (more && (more->bytes < b->bytes || (more->bytes == b->bytes && more->address < b->address))) {
        less = more;
        more = less->more;
    }
    b->bin = bin;
    b->less = less;
    b->more = more;
    if (more)
        more->less = b;
    if (less) {
        less->more = b;
    } else {
        p->bin[bin] = b;
        p->filled[bin / WORD] |= UINT64_C(1) << bin % WORD;
    }
}

/* A free block is taken. */
static inline void
pool_remove(struct pool *p, struct block *b)
{
    if (b->more)
        b->more->less = b->less;
    if (b->less)
        b->less->more = b->more;
    else if (!(p->bin[b->bin] = b->more))
        p->filled[b->bin / WORD] ^= UINT64_C(1) << b->bin % WORD;
    b->bin = 0;
}

static int64_t
segment_bytes(int64_t bytes)
{
    return bytes <= HEAP_SMALL  ? SMALL_SEGMENT
           : bytes < LARGE_FROM ? LARGE_SEGMENT
                                : (bytes + ROUND - 1) / ROUND * ROUND;
}

/* What follows the first bytes of a block as a block of its own. */
static inline struct block *
split(struct heap *h, struct block *b, int64_t bytes)
{
    struct block *tail = block_new(h, b->address + bytes, b->bytes - bytes, b->pool, b, b->next);
    tail->unmapped = b->unmapped;
    if (b->next)
        b->next->prev = tail;
    b->next = tail;
    b->bytes = bytes;
    return tail;
}

/* Joins a block with the one that follows it. */
static inline void
absorb_next(struct heap *h, struct block *b)
{
    struct block *next = b->next;
    b->bytes += next->bytes;
    b->next = next->next;
    if (b->next)
        b->next->prev = b;
    block_drop(h, next);
}

/* A block is free from now on: joined with free neighbours; what it is then. */
static struct block *
join_free(struct heap *h, struct block *b)
{
    struct pool *p = b->pool;
    struct block *prev = b->prev;
    if (prev && prev->bin) {
        pool_remove(p, prev);
        absorb_next(h, prev);
        b = prev;
    }
    if (b->next && b->next->bin) {
        pool_remove(p, b->next);
        absorb_next(h, b);
    }
    pool_insert(p, b);
    return b;
}

void
heap_play(struct heap *h, const struct player *p)
{
    h->play = p;
    h->slow = p || h->expandable;
}

/* ---- expandable segments ----------------------------------------------------------------------------------------- */

static struct replay_range
range_of(const struct pool *p)
{
    return (struct replay_range){p->large, p->range->address, p->page};
}

/* The lowest place where free and unmapped blocks side by side have that many bytes. Source: find_expandable_block. */
static struct block *
find_room(struct heap *h, struct pool *p, int64_t bytes)
{
    if (!p->range) { /* longer than any device is large */
        p->range = block_new(h, RANGE_BYTES * p->large, RANGE_BYTES, p, NULL, NULL);
        p->range->unmapped = true;
    }
    for (struct block *b = p->range;; b = b->next) {
        assert(b); /* at the range's end there is room */
        if (!b->unmapped)
            continue;
        int64_t room = 0;
        struct block *first = b->prev && b->prev->bin ? b->prev : b;
        for (const struct block *k = first; k && room < bytes && (k->bin || k->unmapped); k = k->next)
            room += k->bytes;
        if (room >= bytes)
            return first;
    }
}

/* Maps the pages of an unmapped block's first bytes; the free block that has them, NULL: the device refuses. Source:
 * map_block. */
static struct block *
map_block(struct heap *h, struct block *b, int64_t bytes)
{
    int64_t page = b->pool->page;
    bytes = div_up(bytes < b->bytes ? bytes : b->bytes, page) * page;
    if (h->play && !h->play->map(h->play->of, range_of(b->pool), b->address, bytes))
        return NULL;
    if (bytes < b->bytes)
        split(h, b, bytes);
    b->unmapped = false;
    h->reserved += bytes;
    b->pool->mapped += bytes;
    return join_free(h, b);
}

/* Source: try_allocate_expandable_block. */
static struct block *
grow_range(struct heap *h, int64_t bytes, struct pool *p)
{
    struct block *b = find_room(h, p, bytes);
    if (b->unmapped)
        b = map_block(h, b, bytes);
    while (b && b->bytes < bytes)
        b = map_block(h, b->next, bytes - b->bytes);
    if (b)
        pool_remove(p, b);
    return b;
}

/* The pages that lie inside of a free block go back; what is unmapped then, or the block itself. Source:
 * unmap_block. */
static struct block *
unmap_block(struct heap *h, struct block *b)
{
    struct replay_range r = range_of(b->pool);
    int64_t from = r.base + div_up(b->address - r.base, r.page) * r.page,
            to = r.base + (b->address + b->bytes - r.base) / r.page * r.page;
    if (from >= to)
        return b;
    pool_remove(b->pool, b);
    if (to < b->address + b->bytes)
        pool_insert(b->pool, split(h, b, to - b->address));
    if (from > b->address) {
        struct block *middle = split(h, b, from - b->address);
        pool_insert(b->pool, b);
        b = middle;
    }
    if (h->play)
        h->play->unmap(h->play->of, from, to - from, r.page);
    h->reserved -= to - from;
    b->unmapped = true;
    if (b->next && b->next->unmapped)
        absorb_next(h, b);
    if (b->prev && b->prev->unmapped) {
        b = b->prev;
        absorb_next(h, b);
    }
    return b;
}

/* ---- the device -------------------------------------------------------------------------------------------------- */

/* The driver gets a segment back. */
static void
give_back(struct heap *h, struct block *b)
{
    int at = 0;
    if (h->play)
        h->play->give(h->play->of, b->address);
    while (at < h->nsegments && h->segment[at].address != b->address)
        at++;
    if (!h->play && at < h->nsegments) {
        h->nsegments--;
        memmove(&h->segment[at], &h->segment[at + 1], sizeof(*h->segment) * (size_t)(h->nsegments - at));
    }
    pool_remove(b->pool, b);
    h->reserved -= b->bytes;
    block_drop(h, b);
}

void
heap_release(struct heap *h)
{
    for (int large = 0; large < 2; large++) {
        for (struct block *b = h->pool[large].range; b; b = b->next)
            if (b->bin)
                b = unmap_block(h, b);
        for (unsigned i = BINS; i-- > 0 && !h->expandable;) {
            struct block *last = h->pool[large].bin[i];
            while (last && last->more)
                last = last->more;
            for (struct block *b = last, *less; b; b = less) {
                less = b->less;
                if (!b->prev && !b->next)
                    give_back(h, b);
            }
        }
    }
}

/* A free block of at least that size where no pool had one, NULL: the device refuses. */
static struct block *
grow(struct heap *h, int64_t bytes, struct pool *p)
{
    if (h->expandable)
        return grow_range(h, bytes, p);
    int64_t seg = segment_bytes(bytes);
    if (h->play && !h->play->take(h->play->of, h->top, seg))
        return NULL;
    struct block *b = block_new(h, h->top, seg, p, NULL, NULL);
    b->unmapped = false;
    *PUSH(h->a, h->segment, h->nsegments, h->cap_segments) = (struct heap_segment){h->top, seg, p->large};
    h->top += seg;
    h->reserved += seg;
    return b;
}

/* The same, at once or after what is cached went back; without the device where it still refuses. */
static struct block *
grow_or_refuse(struct heap *h, int64_t bytes, struct pool *p)
{
    struct block *b = grow(h, bytes, p);
    if (b)
        return b;
    heap_release(h);
    if ((b = grow(h, bytes, p)))
        return b;
    h->play->refuse(h->play->of, segment_bytes(bytes));
    return grow(h, bytes, p);
}

/* ---- blocks ------------------------------------------------------------------------------------------------------ */

/* What a free block counts as when the best fit is sought: one of a range can grow. Source: get_free_block. */
static int64_t
fit_bytes(const struct block *b)
{
    return b->bytes + (b->next && b->next->unmapped ? b->next->bytes : 0);
}

static int64_t
block_round(int64_t bytes)
{
    return (bytes + MIN_BLOCK - 1) & ~(int64_t)(MIN_BLOCK - 1);
}

/* A block that is no longer free serves a request. */
static inline struct block *
serve(struct heap *h, struct pool *p, struct block *b, int64_t bytes)
{
    if (b->bytes - bytes >= p->least)
        pool_insert(p, split(h, b, bytes));
    h->allocated += b->bytes;
    return b;
}

/* Where more is to be done than to take the first block that fits. */
static __attribute__((noinline)) struct block *
search(struct heap *h, int64_t bytes, struct pool *p)
{
    struct block *b = pool_fit(p, bytes), *next;
    while (h->expandable && b && (next = pool_next(p, b)) && fit_bytes(next) < fit_bytes(b))
        b = next;
    if (b)
        pool_remove(p, b);
    else
        b = grow_or_refuse(h, bytes, p);
    b = serve(h, p, b, bytes);
    if (h->play)
        h->play->block(h->play->of, b->address, b->bytes, h->allocated);
    return b;
}

/* Where it is not, nothing is called, so that no register is saved. */
struct block *
heap_malloc(struct heap *h, int64_t bytes)
{
    bytes = block_round(bytes);
    struct pool *p = h->of[heap_is_large(bytes)];
    struct block *b = pool_fit(p, bytes);
    if (!b || !h->spare || h->slow)
        return search(h, bytes, p);
    pool_remove(p, b);
    return serve(h, p, b, bytes);
}

void
heap_free(struct heap *h, struct block *b)
{
    h->allocated -= b->bytes;
    (void)join_free(h, b);
}

void
heap_pass(struct heap *h, int64_t bytes)
{
    bytes = block_round(bytes);
    if (h->expandable || !pool_fit(h->of[heap_is_large(bytes)], bytes))
        heap_free(h, heap_malloc(h, bytes));
}

struct heap_mark
heap_mark(const struct heap *h)
{
    return (struct heap_mark){h->expandable ? 2 : h->nsegments, {h->pool[0].mapped, h->pool[1].mapped}};
}

struct heap_segment
heap_segment(const struct heap *h, const struct heap_mark *at, int i)
{
    return h->expandable ? (struct heap_segment){RANGE_BYTES * i, at->mapped[i], i == 1} : h->segment[i];
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
