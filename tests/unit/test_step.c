/* SPDX-License-Identifier: Apache-2.0 */
/* test_step.c - a training step small enough to count by hand. */
#include "suites.h"
#include "tests/all.h"

#include <CUnit/CUnit.h>
#include <string.h>

static struct arena *a;

/* x [64, 256] -> Gemm 512 -> Relu -> Gemm 16. In bytes: x 65,536, w1 524,288, b1 2,048, h and r 131,072, w2 32,768, b2
 * 512, y 4,096. */
static const char mlp[] = "<ir_version: 10, opset_import: [\"\": 20]>"
                          "g (float[64, 256] x) => (y)"
                          "<float[512, 256] fc1.weight = {}, float[512] fc1.bias = {}, float[16, 512] fc2.weight = {}, "
                          "float[16] fc2.bias = {}> {"
                          "  h = Gemm <transB = 1> (x, fc1.weight, fc1.bias)"
                          "  r = Relu (h)"
                          "  y = Gemm <transB = 1> (r, fc2.weight, fc2.bias)"
                          "}";
enum {
    X = 65536,
    W1 = 524288,
    B1 = 2048,
    H = 131072,
    W2 = 32768,
    B2 = 512,
    Y = 4096,
    TARGET = 512,
    P = W1 + B1 + W2 + B2
};

static struct step *
simulate(struct setup s)
{
    struct err e = {0};
    a = arena_new();
    struct setup *own = arena_dup(a, &s, sizeof(s));
    own->optimizer = s.optimizer ? s.optimizer : optimizer_find("sgd");
    own->precision = s.precision ? s.precision : precision_find("fp32");
    own->loss = loss_find("cross-entropy");
    own->loop = s.loop ? s.loop : loop_find("plain");
    own->micro_batches = s.micro_batches ? s.micro_batches : 1;
    struct graph *g = onnx_parse_text(a, "mlp.onnxtxt", mlp, &e);
    CU_ASSERT_PTR_NOT_NULL_FATAL(g);
    CU_ASSERT_FATAL(shapes_run(g, own, true, &e));
    struct step *st = step_run(lower_run(g, own), own);
    CU_ASSERT_EQUAL(g->ndoubts, 0);
    return st;
}

static void
test_marks(void)
{
    struct step *st = simulate((struct setup){0});
    CU_ASSERT_EQUAL(st->after.model, P);
    int64_t held = P + X + TARGET + Y + 512; /* the last step's out and loss */
    CU_ASSERT_EQUAL(st->after.inputs, held);
    CU_ASSERT_EQUAL(st->after.forward,
                    P + X + TARGET + H + Y + 512 + 512 + Y); /* r, out, loss, its weight, log-probabilities */
    CU_ASSERT_EQUAL(st->after.backward, held + P);
    CU_ASSERT_EQUAL(st->after.step, held + P);
    arena_free(a);
}

static void
test_optimizers(void)
{
    static const struct {
        const char *name;
        int states, lists;
    } rows[] = {{"sgd", 0, 0},   {"momentum", 1, 0}, {"adam", 2, 1},
                {"adamw", 2, 1}, {"rmsprop", 1, 1},  {"adagrad", 1, 2}};
    for (int i = 0; i < COUNT(rows); i++) {
        struct step *st = simulate((struct setup){.optimizer = optimizer_find(rows[i].name)});
        struct live *l = live_run(st);
        int64_t after = P + X + TARGET + Y + 512 + P;
        CU_ASSERT_EQUAL(st->after.step, after + rows[i].states * P);
        CU_ASSERT_EQUAL(l->at_peak[CLASS_OPTIMIZER], rows[i].states * P);
        if (rows[i].lists)
            CU_ASSERT_EQUAL(l->peak_bytes, after + (rows[i].states + rows[i].lists) * P);
        arena_free(a);
    }
}

/* A frozen first layer: neither its gradients nor what only they need are kept. */
static void
test_frozen(void)
{
    const char *globs[] = {"fc1.*"};
    struct step *st = simulate((struct setup){.freeze = {.n = 1, .glob = globs}});
    CU_ASSERT_EQUAL(st->after.backward - st->after.inputs, W2 + B2);
    CU_ASSERT_EQUAL(st->after.forward, P + X + TARGET + H + Y + 512 + 512 + Y);
    arena_free(a);
}

static void
test_inference(void)
{
    struct step *st = simulate((struct setup){.mode = MODE_INFERENCE});
    struct live *l = live_run(st);
    CU_ASSERT_EQUAL(st->after.forward, P + X + Y);
    CU_ASSERT_EQUAL(l->peak_bytes, P + X + Y + H + H); /* the last step's out, h and r */
    arena_free(a);
}

static void
test_loops(void)
{
    struct step *late = simulate((struct setup){.loop = loop_find("late-zero")});
    CU_ASSERT_EQUAL(late->after.inputs, P + X + TARGET + Y + 512 + P);
    arena_free(a);
    struct step *del = simulate((struct setup){.loop = loop_find("del")});
    CU_ASSERT_EQUAL(del->after.inputs, P + X + TARGET);
    arena_free(a);
    struct step *many = simulate((struct setup){.loop = loop_find("accumulate-N"), .micro_batches = 4});
    CU_ASSERT_EQUAL(many->after.step, P + X + TARGET + Y + 512 + P);
    arena_free(a);
}

static bool
same_event(const struct step *x, int i, const struct step *y, int k)
{
    const struct event *e = &x->m->ev[i], *f = &y->m->ev[k];
    return e->birth == f->birth && e->phase == f->phase && e->op == f->op &&
           x->m->st[e->storage]->bytes == y->m->st[f->storage]->bytes;
}

/* Micro-batches behind the third are played, not run: each is one more of what is between the first and the last. */
static void
test_micro_batches(void)
{
    enum { MOST = 7, RUN = 3 };
    struct arena *own[MOST + 1];
    struct step *st[MOST + 1];
    for (int n = RUN - 1; n <= MOST; n++) {
        st[n] = simulate((struct setup){.loop = loop_find("accumulate-N"), .micro_batches = n});
        own[n] = a;
    }
    int more = st[RUN]->m->nev - st[RUN - 1]->m->nev;
    for (int n = RUN + 1; n <= MOST; n++) {
        const struct step *x = st[RUN], *y = st[n];
        const struct live *l = live_run(y);
        int from = 0, to = 0;
        while (from < x->m->nev && same_event(x, from, y, from))
            from++;
        while (to < x->m->nev && same_event(x, x->m->nev - 1 - to, y, y->m->nev - 1 - to))
            to++;
        CU_ASSERT_EQUAL(y->m->trace.times, n - RUN);
        CU_ASSERT_EQUAL(y->m->nev, x->m->nev + (n - RUN) * more);
        CU_ASSERT(from + to >= x->m->nev);
        CU_ASSERT_EQUAL(l->peak_bytes, live_run(x)->peak_bytes);
        CU_ASSERT_EQUAL(l->peak_bytes, live_recount(y, l->peak));
    }
    for (int n = RUN - 1; n <= MOST; n++)
        arena_free(own[n]);
}

/* Real tensors take cuBLAS's workspace on both threads, and cuBLASLt's on the one that adds a bias. */
static void
test_workspaces(void)
{
    struct step *st = simulate((struct setup){.accumulate_eager = true});
    struct live *l = live_run(st);
    CU_ASSERT_EQUAL(l->at_peak[CLASS_WORKSPACE], 2 * 33554432 + 1048576);
    arena_free(a);
}

void
suite_step(void)
{
    CU_pSuite s = CU_add_suite("step", NULL, NULL);
    CU_add_test(s, "bytes after each phase", test_marks);
    CU_add_test(s, "optimizers", test_optimizers);
    CU_add_test(s, "frozen parameters", test_frozen);
    CU_add_test(s, "inference", test_inference);
    CU_add_test(s, "loops", test_loops);
    CU_add_test(s, "micro-batches", test_micro_batches);
    CU_add_test(s, "workspaces", test_workspaces);
}
