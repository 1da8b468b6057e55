/* test_replay.c - the replay on a stand-in device: order, refusal, fragmentation, cleaning up. */
#include "memlint.h"
#include "suites.h"

#include <CUnit/CUnit.h>
#include <stdlib.h>
#include <string.h>

enum { MiB = 1 << 20, MOST = 4096 };

/* Gives memory up to a capacity and knows what is out. */
static struct stand_in {
    int64_t capacity, used, most, touched;
    int n, takes, refusals, strangers;
    struct {
        uint64_t at;
        int64_t bytes;
    } out[MOST];
    uint64_t next;
} device;

static bool
info(void *self, int64_t *unused, int64_t *total)
{
    struct stand_in *d = self;
    *total = INT64_C(64) << 30; /* of a large device: a smaller capacity shows only when it is asked */
    *unused = *total;
    (void)d;
    return true;
}

static bool
take(void *self, int64_t bytes, uint64_t *at)
{
    struct stand_in *d = self;
    d->takes++;
    if (d->used + bytes > d->capacity || d->n == MOST) {
        d->refusals++;
        return false;
    }
    d->next += 1 << 30;
    *at = d->next;
    d->out[d->n].at = *at;
    d->out[d->n++].bytes = bytes;
    d->used += bytes;
    d->most = d->used > d->most ? d->used : d->most;
    return true;
}

static bool
give(void *self, uint64_t at)
{
    struct stand_in *d = self;
    for (int i = 0; i < d->n; i++)
        if (d->out[i].at == at) {
            d->used -= d->out[i].bytes;
            d->out[i] = d->out[--d->n];
            return true;
        }
    d->strangers++;
    return false;
}

static bool
touch(void *self, uint64_t at, int64_t bytes)
{
    struct stand_in *d = self;
    d->touched += bytes;
    for (int i = 0; i < d->n; i++)
        if (at >= d->out[i].at && at + (uint64_t)bytes <= d->out[i].at + (uint64_t)d->out[i].bytes)
            return true;
    d->strangers++;
    return false;
}

static const char *
error(void *self)
{
    (void)self;
    return "stand-in";
}

/* A chain of n layers of width w under AdamW: its model in text. */
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

static struct replay
play(struct arena *a, const char *text, int64_t capacity, bool expandable, int64_t limit)
{
    static struct device_memory d = {&device, "stand-in", info, take, give, touch, error};
    struct err e = {0};
    struct setup s = {.optimizer = optimizer_find("adamw"),
                      .precision = precision_find("fp32"),
                      .loss = loss_find("mse"),
                      .loop = loop_find("plain"),
                      .micro_batches = 1,
                      .accumulate_eager = true,
                      .expandable = expandable};
    struct graph *g = onnx_parse_text(a, "chain.onnxtxt", text, &e);
    CU_ASSERT_PTR_NOT_NULL_FATAL(g);
    CU_ASSERT_FATAL(shapes_run(g, &s, true, &e));
    struct replay r = {.a = a, .d = &d, .limit = limit};
    memset(&device, 0, sizeof(device));
    device.capacity = capacity;
    CU_ASSERT(replay_run(&r, lower_run(g, &s), &s));
    CU_ASSERT_EQUAL(device.n, 0); /* nothing leaks */
    CU_ASSERT_EQUAL(device.used, 0);
    CU_ASSERT_EQUAL(device.strangers, 0);
    CU_ASSERT_EQUAL(r.held, 0);
    return r;
}

static const struct {
    int layers, width;
} models[] = {{1, 256}, {6, 512}, {12, 1024}};

static void
test_enough(void)
{
    for (int i = 0; i < COUNT(models); i++) {
        struct arena *a = arena_new();
        struct replay r = play(a, chain(a, models[i].layers, models[i].width), INT64_C(64) << 30, i == 1, 0);
        CU_ASSERT(!r.refused);
        CU_ASSERT_EQUAL(r.most, r.predicted);
        CU_ASSERT_EQUAL(device.most, r.predicted);
        CU_ASSERT(device.touched > r.predicted);
        arena_free(a);
    }
}

static void
test_too_small(void)
{
    for (int i = 0; i < COUNT(models); i++) {
        struct arena *a = arena_new();
        const char *text = chain(a, models[i].layers, models[i].width);
        struct replay whole = play(a, text, INT64_C(64) << 30, false, 0);
        struct replay r = play(a, text, whole.predicted / 3, false, 0);
        CU_ASSERT(r.refused);
        CU_ASSERT(r.refused_bytes >= 2 * MiB);
        CU_ASSERT_PTR_NOT_NULL(r.op);
        CU_ASSERT(r.most <= whole.predicted / 3);
        CU_ASSERT(device.refusals >= 2); /* asked again after cached segments went back */
        arena_free(a);
    }
}

static void
test_limit(void)
{
    struct arena *a = arena_new();
    struct replay r = play(a, chain(a, 6, 512), INT64_C(64) << 30, false, 40 * MiB);
    CU_ASSERT(r.refused && device.most <= 40 * MiB && device.n == 0);
    arena_free(a);
}

void
suite_replay(void)
{
    CU_pSuite suite = CU_add_suite("replay", NULL, NULL);
    CU_add_test(suite, "enough", test_enough);
    CU_add_test(suite, "too small", test_too_small);
    CU_add_test(suite, "limit", test_limit);
}
