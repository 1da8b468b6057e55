/* SPDX-License-Identifier: Apache-2.0 */
/* test_replay.c - the replay on a stand-in device: order, refusal, fragmentation, steady state, failures, cleaning up;
 * and on stand-in libraries: which kernels they are asked about, and what becomes of the answers. */
#include "suites.h"
#include "tests/all.h"

#include <CUnit/CUnit.h>
#include <stdlib.h>
#include <string.h>

enum { MiB = 1 << 20, MOST = 4096 };
static const int64_t GiB = INT64_C(1) << 30;

/* Gives memory up to a capacity and knows what is out. */
static struct stand_in {
    int64_t capacity, total, foreign, used, most, touched;
    int n, ranges, takes, refusals, strangers, touches, calls;
    struct {
        uint64_t at;
        int64_t bytes;
        bool mapped;
    } out[MOST];
    uint64_t next;
    /* From the call with that number on everything fails; a signal comes with that touch. 0: never. */
    int fail_at, stop_at;
} device;
static volatile sig_atomic_t stop;

static bool
works(struct stand_in *d)
{
    return d->fail_at == 0 || ++d->calls < d->fail_at;
}

static bool
info(void *self, int64_t *unused, int64_t *total)
{
    struct stand_in *d = self;
    *total = d->total;
    *unused = d->total - d->foreign - d->used;
    return works(d);
}

static enum taken
put(struct stand_in *d, uint64_t at, int64_t bytes, bool mapped)
{
    d->takes++;
    if (d->used + bytes > d->capacity || d->n == MOST) {
        d->refusals++;
        return TAKEN_FULL;
    }
    for (int i = 0; i < d->n; i++)
        d->strangers += at < d->out[i].at + (uint64_t)d->out[i].bytes && d->out[i].at < at + (uint64_t)bytes;
    d->out[d->n].at = at;
    d->out[d->n].mapped = mapped;
    d->out[d->n++].bytes = bytes;
    d->used += bytes;
    d->most = d->used > d->most ? d->used : d->most;
    return TAKEN;
}

static enum taken
take(void *self, int64_t bytes, uint64_t *at)
{
    struct stand_in *d = self;
    *at = d->next += UINT64_C(1) << 40;
    return works(d) ? put(d, *at, bytes, false) : TAKEN_FAILED;
}

/* Also when the device fails otherwise, so that what stays is a leak of the replay. */
static bool
put_back(struct stand_in *d, uint64_t at, int64_t bytes, bool mapped)
{
    for (int i = 0; i < d->n; i++)
        if (d->out[i].at == at && d->out[i].mapped == mapped && (bytes < 0 || d->out[i].bytes == bytes)) {
            d->used -= d->out[i].bytes;
            d->out[i] = d->out[--d->n];
            return works(d);
        }
    d->strangers++;
    return false;
}

static bool
give(void *self, uint64_t at)
{
    return put_back(self, at, -1, false);
}

static bool
reserve(void *self, int64_t bytes, uint64_t *at)
{
    struct stand_in *d = self;
    *at = d->next += UINT64_C(1) << 40;
    bool ok = bytes >= d->total && works(d);
    d->ranges += ok;
    return ok;
}

static bool
release(void *self, uint64_t at, int64_t bytes)
{
    struct stand_in *d = self;
    for (int i = 0; i < d->n; i++) /* still mapped */
        d->strangers += d->out[i].mapped && d->out[i].at >= at && d->out[i].at < at + (uint64_t)bytes;
    d->ranges--;
    return works(d);
}

static enum taken
map(void *self, uint64_t at, int64_t bytes)
{
    struct stand_in *d = self;
    return works(d) ? put(d, at, bytes, true) : TAKEN_FAILED;
}

static bool
unmap(void *self, uint64_t at, int64_t bytes)
{
    return put_back(self, at, bytes, true);
}

static bool
touch(void *self, uint64_t at, int64_t bytes)
{
    struct stand_in *d = self;
    d->touched += bytes;
    stop |= ++d->touches == d->stop_at;
    for (int i = 0; i < d->n; i++)
        if (at >= d->out[i].at && at + (uint64_t)bytes <= d->out[i].at + (uint64_t)d->out[i].bytes)
            return works(d);
    d->strangers++;
    return false;
}

static const char *
error(void *self)
{
    (void)self;
    return "STAND_IN_FAILS";
}

static const struct device_memory stand_in = {.self = &device,
                                              .name = "stand-in",
                                              .context = -1,
                                              .info = info,
                                              .take = take,
                                              .give = give,
                                              .reserve = reserve,
                                              .release = release,
                                              .map = map,
                                              .unmap = unmap,
                                              .touch = touch,
                                              .error = error};

/* ---- playing a model --------------------------------------------------------------------------------------------- */

/* A chain of n layers of width w: its model in text. */
static const char *
chain(struct arena *a, int n, int w)
{
    const char *weights = "", *nodes = "";
    for (int i = 0; i < n; i++) {
        weights = arena_printf(a, "%s%sfloat[%d, %d] l%d.weight = {}", weights, i ? ", " : "", w, w, i);
        nodes = arena_printf(a, "%s h%d = Gemm <transB = 1> (%s%d, l%d.weight) r%d = Relu (h%d)", nodes, i,
                             i ? "r" : "x", i ? i - 1 : 0, i, i, i);
    }
    return arena_printf(a, "<ir_version: 10, opset_import: [\"\": 20]> g (float[512, %d] x0) => (r%d) <%s> {%s}", w,
                        n - 1, weights, nodes);
}

static const struct {
    int layers, width;
} models[] = {{1, 256}, {6, 512}, {12, 1024}};

static struct setup
adamw(bool expandable)
{
    return (struct setup){.optimizer = optimizer_find("adamw"),
                          .precision = precision_find("fp32"),
                          .loss = loss_find("mse"),
                          .loop = loop_find("plain"),
                          .micro_batches = 1,
                          .accumulate_eager = true,
                          .expandable = expandable};
}

static void
begin(int64_t capacity)
{
    memset(&device, 0, sizeof(device));
    device.capacity = capacity;
    device.total = 64 * GiB; /* of a large device: a smaller capacity shows only when it is asked */
    stop = 0;
}

static struct program *
program_of(struct arena *a, const char *text, const struct setup *s)
{
    struct err e = {0};
    struct graph *g = onnx_parse_text(a, "chain.onnxtxt", text, &e);
    CU_ASSERT_PTR_NOT_NULL_FATAL(g);
    CU_ASSERT_FATAL(shapes_run(g, s, true, &e));
    return lower_run(g, s);
}

/* Plays on the device as it was prepared; whatever happens, nothing leaks and nothing else is touched. */
static bool
play(struct replay *r, struct arena *a, const char *text, bool expandable)
{
    struct setup s = adamw(expandable);
    r->a = a;
    r->d = &stand_in;
    r->stop = &stop;
    r->repeats = r->repeats ? r->repeats : 1;
    r->spare = r->spare ? r->spare : -1;
    bool ok = replay_run(r, program_of(a, text, &s), &s);
    CU_ASSERT_EQUAL(device.n, 0);
    CU_ASSERT_EQUAL(device.used, 0);
    CU_ASSERT_EQUAL(device.ranges, 0);
    CU_ASSERT_EQUAL(device.strangers, 0);
    CU_ASSERT_EQUAL(r->held, 0);
    CU_ASSERT(device.most <= r->announced);
    return ok;
}

static void
test_enough(void)
{
    for (int i = 0; i < 2 * COUNT(models); i++) {
        struct arena *a = arena_new();
        struct replay r = {0};
        begin(64 * GiB);
        CU_ASSERT(play(&r, a, chain(a, models[i / 2].layers, models[i / 2].width), i % 2));
        CU_ASSERT(!r.refused);
        CU_ASSERT_EQUAL(r.most, r.predicted);
        CU_ASSERT_EQUAL(device.most, r.predicted);
        CU_ASSERT_EQUAL(r.used_peak - r.used_before, r.most);
        CU_ASSERT_EQUAL(r.nsteps, 3);
        CU_ASSERT(device.touched > r.steps[2].most_allocated);
        arena_free(a);
    }
}

static void
test_too_small(void)
{
    for (int i = 0; i < 2 * COUNT(models); i++) {
        struct arena *a = arena_new();
        struct replay whole = {0}, r = {0};
        const char *text = chain(a, models[i / 2].layers, models[i / 2].width);
        begin(64 * GiB);
        CU_ASSERT(play(&whole, a, text, i % 2));
        begin(whole.predicted / 3);
        CU_ASSERT(play(&r, a, text, i % 2));
        CU_ASSERT(r.refused && !r.at_limit);
        CU_ASSERT(r.refused_bytes >= 2 * MiB);
        CU_ASSERT_PTR_NOT_NULL(r.op);
        CU_ASSERT(r.refused_block > 0);
        CU_ASSERT_EQUAL(r.refused_step, r.nsteps);
        CU_ASSERT(r.most <= whole.predicted / 3);
        CU_ASSERT(device.refusals >= 2); /* asked again after cached memory went back */
        arena_free(a);
    }
}

/* The first layer's weight of 4 MiB finds room, the second layer's does not. */
static void
test_who_asked(void)
{
    struct arena *a = arena_new();
    struct replay r = {.limit = 24 * MiB};
    begin(64 * GiB);
    CU_ASSERT(play(&r, a, chain(a, 12, 1024), false));
    CU_ASSERT(r.refused && r.phase == PHASE_BUILD);
    CU_ASSERT_STRING_EQUAL(r.op, "empty.memory_format");
    CU_ASSERT_STRING_EQUAL(r.name, "l5.weight"); /* a segment of 20 MiB holds five */
    CU_ASSERT_EQUAL(r.refused_step, 0);
    CU_ASSERT_EQUAL(r.refused_block, 6);
    CU_ASSERT_EQUAL(r.refused_bytes, 20 * MiB);
    arena_free(a);
}

static void
test_limit(void)
{
    for (int i = 0; i < 2; i++) {
        struct arena *a = arena_new();
        struct replay r = {.limit = 40 * MiB};
        begin(64 * GiB);
        CU_ASSERT(play(&r, a, chain(a, 6, 512), i));
        CU_ASSERT(r.refused && r.at_limit && device.most <= 40 * MiB);
        arena_free(a);
    }
}

/* Others use the device: a twentieth of it stays free, or what was asked for. */
static void
test_crowded(void)
{
    struct arena *a = arena_new();
    const char *text = chain(a, 6, 512);
    struct replay r = {0}, near = {.spare = 1}, small = {.limit = 40 * MiB, .spare = 1};
    begin(64 * GiB);
    device.foreign = device.total - GiB;
    CU_ASSERT(play(&r, a, text, false));
    CU_ASSERT(r.crowded && device.takes == 0);
    CU_ASSERT_EQUAL(r.missing, r.predicted + device.total / 20 - GiB);
    begin(64 * GiB);
    device.foreign = device.total - r.predicted - 1;
    CU_ASSERT(play(&near, a, text, false));
    CU_ASSERT(!near.crowded && near.most == near.predicted);
    begin(64 * GiB);
    device.foreign = device.total - 50 * MiB;
    CU_ASSERT(play(&small, a, text, false));
    CU_ASSERT(!small.crowded && small.refused);
    arena_free(a);
}

/* Repeated, the step takes nothing more and ends where it began. */
static void
test_steady(void)
{
    for (int i = 0; i < 2; i++) {
        struct arena *a = arena_new();
        struct replay r = {.repeats = 2};
        begin(64 * GiB);
        CU_ASSERT(play(&r, a, chain(a, 6, 512), i));
        CU_ASSERT_EQUAL_FATAL(r.nsteps, 4);
        const struct replayed_step *last = &r.steps[3], *before = &r.steps[2];
        CU_ASSERT_EQUAL(r.announced, r.predicted);
        CU_ASSERT(r.steps[0].taken > 0);
        CU_ASSERT_EQUAL(last->taken, 0);
        CU_ASSERT_EQUAL(last->given, 0);
        CU_ASSERT_EQUAL(last->reserved, before->reserved);
        CU_ASSERT_EQUAL(last->allocated, before->allocated);
        CU_ASSERT_EQUAL(last->most_allocated, before->most_allocated);
        CU_ASSERT_EQUAL(last->idle, before->idle);
        CU_ASSERT_EQUAL(last->reserved, r.predicted);
        CU_ASSERT(last->most_allocated + last->idle <= last->most_reserved);
        arena_free(a);
    }
}

/* A signal at any time: everything goes back, and nothing more is asked for. */
static void
test_signal(void)
{
    static const int when[] = {1, 2, 17, 60, 120};
    for (int i = 0; i < 2 * COUNT(when); i++) {
        struct arena *a = arena_new();
        struct replay r = {0};
        begin(64 * GiB);
        device.stop_at = when[i / 2];
        CU_ASSERT(play(&r, a, chain(a, 6, 512), i % 2));
        CU_ASSERT(r.stopped && !r.refused);
        CU_ASSERT_EQUAL(device.touches, when[i / 2]);
        arena_free(a);
    }
}

/* A device that fails at any call: the replay says so, and gives back what it has. */
static void
test_failure(void)
{
    for (int i = 0; i < 2; i++)
        for (int at = 1; at < 60; at++) {
            struct arena *a = arena_new();
            struct replay r = {0};
            begin(64 * GiB);
            device.fail_at = at;
            CU_ASSERT(!play(&r, a, chain(a, 6, 512), i));
            CU_ASSERT_STRING_EQUAL(r.failed, "STAND_IN_FAILS");
            arena_free(a);
        }
}

/* ---- the allocator on a device ----------------------------------------------------------------------------------- */

static struct heap *
heap_on(struct arena *a, struct replay *r, bool expandable, int64_t limit)
{
    begin(64 * GiB);
    *r = (struct replay){.a = a, .d = &stand_in, .limit = limit, .total = device.total};
    struct heap *h = heap_new(a, expandable);
    struct player *player = NEW(a, struct player);
    *player = replay_player(r);
    heap_play(h, player);
    return h;
}

/* A cached segment goes back to make room; the next request is refused. */
static void
test_retry(void)
{
    struct arena *a = arena_new();
    struct replay r;
    struct heap *h = heap_on(a, &r, false, 80 * MiB);
    struct block *first = heap_malloc(h, 30 * MiB);
    (void)heap_malloc(h, 30 * MiB);
    heap_free(h, first);
    (void)heap_malloc(h, 40 * MiB);
    CU_ASSERT(!r.refused);
    CU_ASSERT_EQUAL(heap_allocated(h), 70 * MiB);
    CU_ASSERT_EQUAL(heap_reserved(h), 70 * MiB);
    CU_ASSERT_EQUAL(device.used, 70 * MiB);
    CU_ASSERT_EQUAL(r.now.given, 30 * MiB);
    (void)heap_malloc(h, 30 * MiB);
    CU_ASSERT(r.refused && r.refused_bytes == 30 * MiB);
    CU_ASSERT_EQUAL(device.used, 0);
    arena_free(a);
}

/* Pages inside of free blocks are unmapped, those that a block shares stay; what is unmapped is mapped again before
 * the range grows. */
static void
test_pages(void)
{
    struct arena *a = arena_new();
    struct replay r;
    struct heap *h = heap_on(a, &r, true, 62 * MiB);
    struct block *first = heap_malloc(h, 30 * MiB); /* of 20 MiB pages: two */
    struct block *second = heap_malloc(h, 15 * MiB);
    CU_ASSERT_EQUAL(device.used, 60 * MiB);
    heap_free(h, first);
    (void)heap_malloc(h, 4 * MiB); /* the hole is [4, 30) then: it holds no whole page */
    CU_ASSERT_EQUAL(device.used, 60 * MiB);
    (void)heap_malloc(h, 1000); /* a page of the small pool */
    CU_ASSERT_EQUAL(device.used, 62 * MiB);
    (void)heap_malloc(h, MiB);
    CU_ASSERT_EQUAL(device.used, 62 * MiB);
    (void)heap_malloc(h, MiB); /* wants another page */
    CU_ASSERT(r.refused);
    CU_ASSERT_EQUAL(device.used, 0);
    arena_free(a);

    a = arena_new();
    h = heap_on(a, &r, true, 64 * MiB);
    int n = 0;
    struct block *small[64];
    first = heap_malloc(h, 30 * MiB);
    second = heap_malloc(h, 15 * MiB); /* [30, 45) */
    heap_free(h, first);
    while (r.now.given == 0 && n < 8) /* the third small page takes page [0, 20) of the hole */
        small[n++] = heap_malloc(h, MiB);
    CU_ASSERT_EQUAL(n, 5);
    CU_ASSERT_EQUAL(r.now.given, 20 * MiB);
    CU_ASSERT_EQUAL(device.used, 46 * MiB);
    CU_ASSERT_EQUAL(heap_reserved(h), 46 * MiB);
    (void)heap_malloc(h, 12 * MiB); /* of the 15 in [45, 60) */
    heap_free(h, second);
    first = heap_malloc(h, 24 * MiB); /* [20, 44) */
    CU_ASSERT_EQUAL(device.used, 46 * MiB);
    heap_free(h, first);
    while (r.now.given == 20 * MiB && n < COUNT(small)) /* now [20, 40) */
        small[n++] = heap_malloc(h, MiB);
    CU_ASSERT_EQUAL(r.now.given, 40 * MiB);
    CU_ASSERT_EQUAL(device.used, 46 * MiB);
    while (n)
        heap_free(h, small[--n]);
    (void)heap_malloc(h, 10 * MiB); /* small pages go back, and [0, 20) is mapped again */
    CU_ASSERT(!r.refused);
    CU_ASSERT_EQUAL(device.used, 40 * MiB);
    CU_ASSERT_EQUAL(heap_reserved(h), 40 * MiB);
    CU_ASSERT_EQUAL(device.strangers, 0);
    arena_free(a);
}

/* Two thirds of what was freed don't serve the next request: they are idle when most is allocated, and stay so after
 * the step. */
static void
test_fragmentation(void)
{
    for (int expandable = 0; expandable < 2; expandable++) {
        struct arena *a = arena_new();
        struct replay r;
        struct heap *h = heap_on(a, &r, expandable, 200 * MiB);
        struct block *first = heap_malloc(h, 30 * MiB);
        (void)heap_malloc(h, 30 * MiB);
        heap_free(h, first);
        (void)heap_malloc(h, 40 * MiB);
        replay_player(&r).step(&r, heap_allocated(h));
        CU_ASSERT_EQUAL_FATAL(r.nsteps, 1);
        CU_ASSERT_EQUAL(r.steps[0].most_allocated, 70 * MiB);
        CU_ASSERT_EQUAL(r.steps[0].idle, 30 * MiB);
        CU_ASSERT_EQUAL(r.steps[0].reserved, 100 * MiB);
        CU_ASSERT_EQUAL(r.steps[0].taken, 100 * MiB);
        (void)heap_malloc(h, 20 * MiB); /* the hole serves that */
        replay_player(&r).step(&r, heap_allocated(h));
        CU_ASSERT_EQUAL(r.steps[1].taken, 0);
        CU_ASSERT_EQUAL(r.steps[1].idle, 10 * MiB);
        arena_free(a);
    }
}

/* Whatever happens, the device holds what the allocator reserves, and no byte is written outside of it. */
static void
test_random(void)
{
    uint64_t seed = 4711;
    for (int i = 0; i < 40; i++) {
        struct arena *a = arena_new();
        struct replay r;
        struct heap *h = heap_on(a, &r, i % 2, (24 + i / 2) * MiB);
        int64_t given = 0;
        struct block *taken[40];
        bool held[40] = {false};
        for (int k = 0; k < 3000 && !r.refused; k++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            int slot = (int)(seed >> 33) % COUNT(held);
            if (held[slot])
                heap_free(h, taken[slot]);
            else
                taken[slot] = heap_malloc(h, (int64_t)(seed >> 40) % (1 << (10 + (seed >> 20) % 15)) + 1);
            held[slot] = !held[slot];
            if (!r.refused && (heap_reserved(h) != device.used || heap_reserved(h) != r.held))
                CU_FAIL("the device holds something else");
            given = r.now.given;
        }
        CU_ASSERT(given > 0 || r.refused);
        CU_ASSERT(!r.refused || device.used == 0);
        CU_ASSERT_EQUAL(device.strangers, 0);
        arena_free(a);
    }
}

/* ---- libraries --------------------------------------------------------------------------------------------------- */

static const char *
sizes_text(struct arena *a, int n, const int64_t *v)
{
    const char *s = "";
    for (int i = 0; i < n; i++)
        s = arena_printf(a, "%s%s%lld", s, i ? "," : "", (long long)v[i]);
    return s;
}

static const char *
kernel_text(struct arena *a, const struct kernel *k)
{
    const struct kernel_shape *s = &k->shape;
    if (s->kind == KERNEL_PRODUCT)
        return arena_printf(a, "%dx %s product %lld x %lld%s %lld %lld%s most %lld", k->count, dtypes[s->dtype].onnx,
                            (long long)s->batch, (long long)s->m, s->ta ? "t" : "", (long long)s->k, (long long)s->n,
                            s->tb ? "t" : "", (long long)s->most);
    int r = s->rank;
    return arena_printf(
        a, "%dx %s %s [%s] * [%s] = [%s] stride %s pad %s dilation %s groups %lld%s", k->count, dtypes[s->dtype].onnx,
        s->kind == KERNEL_FORWARD      ? "forward"
        : s->kind == KERNEL_GRAD_INPUT ? "input"
                                       : "weight",
        sizes_text(a, r, s->in), sizes_text(a, r, s->weight), sizes_text(a, r, s->out), sizes_text(a, r - 2, s->stride),
        sizes_text(a, r - 2, s->pad), sizes_text(a, r - 2, s->dilation), (long long)s->groups, s->last ? " last" : "");
}

/* Says that much of every convolution's forward pass and of every product, has no kernel for gradients of inputs. */
static bool
answer(void *self, const struct kernel_shape *s, int64_t *bytes)
{
    *bytes = *(const int64_t *)self;
    return s->kind == KERNEL_FORWARD || s->kind == KERNEL_PRODUCT;
}

static void
kernels_are(struct arena *a, const struct kernels *k, int n, const char *const *wanted)
{
    CU_ASSERT_EQUAL(k->n, n);
    for (int i = 0; i < k->n && i < n; i++)
        if (strcmp(kernel_text(a, &k->kernel[i]), wanted[i]) != 0) {
            fprintf(stderr, "kernel %d: %s\n  wanted: %s\n", i, kernel_text(a, &k->kernel[i]), wanted[i]);
            CU_FAIL("another kernel");
        }
}

static const char images[] =
    "<ir_version: 10, opset_import: [\"\": 20]> g (float[2, 4, 16, 20] x) => (y) "
    "<float[8, 4, 3, 3] a.weight = {}, float[8, 4, 3, 3] b.weight = {}, float[8, 1, 3, 3] c.weight = {}, "
    "float[8, 5, 2, 2] d.weight = {}, float[3, 5, 1, 1] e.weight = {}> {"
    "p = Conv <strides = [2, 1], pads = [1, 2, 1, 2], kernel_shape = [3, 3]> (x, a.weight) "
    "q = Conv <group = 2, dilations = [2, 2], pads = [2, 2, 2, 2], kernel_shape = [3, 3]> (p, b.weight) "
    "d = Conv <group = 8, pads = [1, 1, 1, 1], kernel_shape = [3, 3]> (q, c.weight) "
    "t = ConvTranspose <strides = [2, 2], kernel_shape = [2, 2]> (d, d.weight) "
    "y = Conv <kernel_shape = [1, 1]> (t, e.weight)}";

/* Strides, padding, dilation, groups; a depthwise one that is PyTorch's own; a transposed one, which is another's
 * gradient. Inputs need no gradient. The backward pass comes from behind. */
static void
test_convolutions(void)
{
#define A "[2,4,16,20] * [8,4,3,3] = [2,8,8,22] stride 2,1 pad 1,2 dilation 1,1 groups 1"
#define B "[2,8,8,22] * [8,4,3,3] = [2,8,8,22] stride 1,1 pad 2,2 dilation 2,2 groups 2"
#define T "[2,5,16,44] * [8,5,2,2] = [2,8,8,22] stride 2,2 pad 0,0 dilation 1,1 groups 1"
#define E "[2,5,16,44] * [3,5,1,1] = [2,3,16,44] stride 1,1 pad 0,0 dilation 1,1 groups 1"
    static const char *const wanted[] = {"1x float forward " A, "1x float forward " B, "1x float input " T,
                                         "1x float forward " E, "1x float input " E,   "1x float weight " E,
                                         "1x float forward " T, "1x float weight " T,  "1x float input " B,
                                         "1x float weight " B,  "1x float weight " A};
    struct arena *a = arena_new();
    int64_t bytes = 100 * MiB;
    const struct libraries l = {.self = &bytes, .convolutions = "stand-in", .ask = answer};
    struct replay alone = {0}, r = {.libraries = &l};
    begin(64 * GiB);
    CU_ASSERT(play(&alone, a, images, false));
    kernels_are(a, alone.kernels, COUNT(wanted), wanted);
    begin(64 * GiB);
    CU_ASSERT(play(&r, a, images, false));
    kernels_are(a, r.kernels, COUNT(wanted), wanted);
    for (int i = 0; i < r.kernels->n; i++)
        CU_ASSERT_EQUAL(r.kernels->kernel[i].bytes, r.kernels->kernel[i].shape.kind == KERNEL_FORWARD ? 100 * MiB : -1);
    CU_ASSERT_EQUAL(r.predicted, alone.predicted); /* one workspace at a time */
    CU_ASSERT_EQUAL(r.announced, r.predicted + 100 * MiB);
    CU_ASSERT_EQUAL(r.most, r.announced);
    arena_free(a);
}

/* One dimension is two, of height 1; under autocast the kernels are in half precision. */
static void
test_convolution_1d(void)
{
#define C "[2,4,1,30] * [6,4,1,5] = [2,6,1,13] stride 1,2 pad 0,0 dilation 1,1 groups 1"
    static const char *const wanted[] = {"1x bfloat16 forward " C, "1x bfloat16 weight " C};
    struct arena *a = arena_new();
    struct setup s = adamw(false);
    struct kernels k = {.a = a};
    s.precision = precision_find("amp-bf16");
    s.kernels = &k;
    (void)step_run(
        program_of(a,
                   "<ir_version: 10, opset_import: [\"\": 20]> g (float[2, 4, 30] x) => (y) "
                   "<float[6, 4, 5] c.weight = {}> {y = Conv <strides = [2], kernel_shape = [5]> (x, c.weight)}",
                   &s),
        &s);
    kernels_are(a, &k, COUNT(wanted), wanted);
    arena_free(a);
}

/* With a bias the product is cuBLASLt's, its gradients' are cuBLAS's. What the library asks for changes nothing:
 * PyTorch's buffer is there already. */
static void
test_products(void)
{
    static const char *const wanted[] = {
        "1x float product 1 x 6 5 7t most 1048576",  /* x * weight^T, weight [7, 5] */
        "1x float product 3 x 2 7 4 most 33554432",  /* the batched one */
        "1x float product 3 x 7t 2 4 most 33554432", /* its gradients */
        "1x float product 3 x 2 4 7t most 33554432", "1x float product 1 x 7t 6 5 most 33554432", /* the weight's */
    };
    struct arena *a = arena_new();
    int64_t bytes = 100 * MiB;
    const struct libraries l = {.self = &bytes, .products = "stand-in", .ask = answer};
    struct replay r = {.libraries = &l};
    begin(64 * GiB);
    CU_ASSERT(play(&r, a,
                   "<ir_version: 10, opset_import: [\"\": 20]> g (float[6, 5] x) => (y) "
                   "<float[7, 5] l.weight = {}, float[7] l.bias = {}, float[3, 7, 4] m = {}, int64[3] s = {3, 2, 7}> {"
                   "h = Gemm <transB = 1> (x, l.weight, l.bias) v = Reshape (h, s) y = MatMul (v, m)}",
                   false));
    kernels_are(a, r.kernels, COUNT(wanted), wanted);
    for (int i = 0; i < r.kernels->n; i++)
        CU_ASSERT_EQUAL(r.kernels->kernel[i].bytes, 100 * MiB);
    CU_ASSERT_EQUAL(r.announced, r.predicted);
    arena_free(a);
}

void
suite_replay(void)
{
    CU_pSuite suite = CU_add_suite("replay", NULL, NULL);
    CU_add_test(suite, "enough", test_enough);
    CU_add_test(suite, "too small", test_too_small);
    CU_add_test(suite, "who asked", test_who_asked);
    CU_add_test(suite, "limit", test_limit);
    CU_add_test(suite, "crowded", test_crowded);
    CU_add_test(suite, "steady", test_steady);
    CU_add_test(suite, "signal", test_signal);
    CU_add_test(suite, "failure", test_failure);
    CU_add_test(suite, "retry", test_retry);
    CU_add_test(suite, "pages", test_pages);
    CU_add_test(suite, "fragmentation", test_fragmentation);
    CU_add_test(suite, "random", test_random);
    CU_add_test(suite, "convolutions", test_convolutions);
    CU_add_test(suite, "convolution 1d", test_convolution_1d);
    CU_add_test(suite, "products", test_products);
}
