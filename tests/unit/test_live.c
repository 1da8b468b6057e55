/* SPDX-License-Identifier: Apache-2.0 */
/* test_live.c - the sweep against an independent count, on generated models; tapes against runs. */
#include "suites.h"
#include "tests/all.h"

#include <CUnit/CUnit.h>
#include <string.h>

static struct arena *a;

static struct step *
simulate(const char *text, const char *optimizer, const char *loop, int micro, enum mode mode)
{
    struct err e = {0};
    struct setup *s;
    a = arena_new();
    s = NEW(a, struct setup);
    *s = (struct setup){.optimizer = optimizer_find(optimizer),
                        .precision = precision_find("fp32"),
                        .loss = loss_find("sum"),
                        .loop = loop_find(loop),
                        .micro_batches = micro,
                        .mode = mode,
                        .accumulate_eager = true};
    struct graph *g = onnx_parse_text(a, "test.onnxtxt", text, &e);
    CU_ASSERT_PTR_NOT_NULL_FATAL(g);
    CU_ASSERT_FATAL(shapes_run(g, s, true, &e));
    return step_run(lower_run(g, s), s);
}

/* At every event: the classes sum to the total, the total is the independent count, nothing is negative. */
static void
check(const struct step *st)
{
    const struct machine *m = st->m;
    struct live *l = live_run(st);
    int64_t now[CLASS_COUNT], most = st->before_bytes;
    memcpy(now, l->start, sizeof(now));
    for (int i = 0; i < m->nev; i++) {
        const struct storage *s = m->st[m->ev[i].storage];
        int64_t sum = 0;
        now[s->class] += m->ev[i].birth ? s->bytes : -s->bytes;
        for (int c = 0; c < CLASS_COUNT; c++) {
            sum += now[c];
            if (now[c] < 0)
                CU_FAIL("negative bytes in a class");
        }
        if (sum != live_recount(st, i))
            CU_FAIL("the sweep and the count disagree");
        most = sum > most ? sum : most;
    }
    CU_ASSERT_EQUAL(l->peak_bytes, most);
    int64_t at_peak = 0, alive = 0;
    for (int c = 0; c < CLASS_COUNT; c++)
        at_peak += l->at_peak[c];
    for (int i = 0; i < m->nst; i++)
        alive += l->alive[i] ? m->st[i]->bytes : 0;
    CU_ASSERT_EQUAL(at_peak, l->peak_bytes);
    CU_ASSERT_EQUAL(alive, l->peak_bytes);
    CU_ASSERT(heap_reserved(m->heap) >= l->peak_bytes);
}

/* A chain with residuals, broadcasts, transposes and splits, drawn from a seed. */
static const char *
random_model(uint64_t seed)
{
    static const char *const unary[] = {"Relu", "Tanh", "Sigmoid", "Exp", "Gelu", "Softplus", "Neg", "Abs"};
    static char text[8192];
    int n = snprintf(text, sizeof(text),
                     "<ir_version: 10, opset_import: [\"\": 20]> g (float[6, 10, 32] x0) => (y) <float[32, 32] "
                     "a.weight = {}, float[32] a.bias = {}> {\n");
    int last = 0;
    for (int i = 0; i < 24; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        int pick = (int)(seed >> 33) % 12, other = (int)(seed >> 40) % (last + 1), next = last + 1;
        const char *format = pick < 8    ? "  x%d = %s (x%d)\n"
                             : pick == 8 ? "  x%d = Add (x%d, x%d)\n"
                             : pick == 9 ? "  x%d = Mul (x%d, x%d)\n"
                                         : NULL;
        if (pick < 8)
            n += snprintf(text + n, sizeof(text) - (size_t)n, format, next, unary[pick], last);
        else if (format)
            n += snprintf(text + n, sizeof(text) - (size_t)n, format, next, last, other);
        else if (pick == 10)
            n += snprintf(text + n, sizeof(text) - (size_t)n,
                          "  m%d = MatMul (x%d, a.weight)\n  x%d = Add (m%d, a.bias)\n", next, last, next, next);
        else
            n += snprintf(text + n, sizeof(text) - (size_t)n,
                          "  t%d = Transpose <perm = [1, 0, 2]> (x%d)\n  u%d = Relu (t%d)\n  x%d = Transpose <perm = "
                          "[1, 0, 2]> (u%d)\n",
                          next, last, next, next, next, next);
        last = next;
    }
    snprintf(text + n, sizeof(text) - (size_t)n, "  y = Softmax <axis = -1> (x%d)\n}\n", last);
    return text;
}

static void
test_generated(void)
{
    static const char *const loop_names[] = {"plain", "late-zero", "zero-in-place", "del"};
    for (uint64_t seed = 1; seed <= 40; seed++) {
        struct step *st = simulate(random_model(seed), seed % 3 ? "adamw" : "adagrad", loop_names[seed % 4],
                                   seed % 5 ? 1 : 3, seed % 7 ? MODE_TRAINING : MODE_INFERENCE);
        unsigned before = CU_get_number_of_failures();
        check(st);
        if (CU_get_number_of_failures() != before)
            printf("  seed %d\n", (int)seed);
        arena_free(a);
    }
}

/* What stays after a step is what was there before it: nothing leaks from iteration to iteration. */
static void
test_steady(void)
{
    struct step *st = simulate(random_model(7), "adamw", "plain", 1, MODE_TRAINING);
    CU_ASSERT_EQUAL(st->m->live_bytes - st->before_bytes, st->after.step - st->before_bytes);
    int64_t inputs = 6 * 10 * 32 * 4; /* the batch of the last iteration is still held */
    CU_ASSERT_EQUAL(st->after.step - st->before_bytes, inputs);
    arena_free(a);
}

/* Steps of an embedding, whose gradient is sorted, in few segments or many, and of a convolution behind one and
 * reductions, which take workspaces at some sizes. */
static const char *const stepped[] = {
    "<ir_version: 10, opset_import: [\"\": 18]> g (int64[%d, 128] ids) => (y) <float[200, 8] table = {}> {\n"
    "y = Gather(table, ids)\n}\n",
    "<ir_version: 10, opset_import: [\"\": 18]> g (int64[%d, 128] ids) => (y)\n"
    "<float[200, 8] table = {}, float[8, 8, 3] w = {}, int64[1] last = {2}> {\n"
    "e = Gather(table, ids)\n t = Transpose<perm = [0, 2, 1]>(e)\n c = Conv<kernel_shape = [3], pads = [1, 1]>(t, w)\n"
    "r = Relu(c)\n y = ReduceMean<keepdims = 0>(r, last)\n}\n"};

/* One of them at that batch: what it reserves, and its tape in t. */
static int64_t
run_taped(int which, int batch, const char *device, struct tape *t, struct setup *s)
{
    struct err e = {0};
    struct arena *own = t->a;
    char text[1024];
    snprintf(text, sizeof(text), stepped[which], batch);
    *s = (struct setup){.optimizer = optimizer_find("adamw"),
                        .precision = precision_find("fp32"),
                        .loss = loss_find("sum"),
                        .loop = loop_find("plain"),
                        .micro_batches = 1,
                        .device = device_find(device),
                        .accumulate_eager = true,
                        .tape = t};
    *t = (struct tape){.a = own, .own = own, .whole = true};
    struct graph *g = onnx_parse_text(own, "test.onnxtxt", text, &e);
    CU_ASSERT_PTR_NOT_NULL_FATAL(g);
    CU_ASSERT_FATAL(shapes_run(g, s, true, &e));
    return step_run(lower_run(g, s), s)->m->reserved_bytes;
}

/* A tape played is the step that was run: on another device, and between two others, wherever these tell. */
static void
test_tapes(void)
{
    static const int from[] = {30, 3, 30, 30, 200, 300, 3}, to[] = {9000, 24, 20000, 140, 30000, 9000, 900};
    int told = 0;
    for (int i = 0; i < COUNT(from); i++)
        for (int at = from[i] + 2; at < to[i]; at += 1 + at / 3) {
            struct tape lo = {.a = arena_new()}, beside = {.a = lo.a}, hi = {.a = lo.a}, own = {.a = lo.a};
            struct setup s;
            struct devices on;
            run_taped(i % 2, from[i], "rtx-2060", &lo, &s);
            run_taped(i % 2, from[i] + 1, "rtx-2060", &beside, &s);
            run_taped(i % 2, to[i], "rtx-2060", &hi, &s);
            int64_t reserved = run_taped(i % 2, at, "h100", &own, &s);
            struct line l = {from[i], to[i], from[i] + 1, true};
            if (tape_between(&lo, &hi, &l, &beside)) {
                l.at = at;
                CU_ASSERT_EQUAL(tape_play(&lo, &hi, &l, &s, derivatives_new(lo.a), &on), reserved);
                CU_ASSERT_EQUAL(devices_have(on, device_sm(s.device)), i % 2 == 0); /* convolutions: each its own */
                told++;
            }
            run_taped(i % 2, at, "rtx-2060", &hi, &s);
            s.device = device_find("h100");
            l = (struct line){at, at, at, true};
            CU_ASSERT_EQUAL(tape_play(&hi, &hi, &l, &s, derivatives_new(lo.a), &on), reserved);
            arena_free(lo.a);
        }
    CU_ASSERT(told >= 20);
}

void
suite_live(void)
{
    CU_pSuite s = CU_add_suite("live", NULL, NULL);
    CU_add_test(s, "generated models", test_generated);
    CU_add_test(s, "steady", test_steady);
    CU_add_test(s, "tapes", test_tapes);
}
