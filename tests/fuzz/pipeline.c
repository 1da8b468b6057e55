/* SPDX-License-Identifier: Apache-2.0 */
/* pipeline.c - fuzz target: a model, in text when it begins with '<', through every pass to a report of every format.
 *
 * The last byte of the model chooses the set-up, so that a file alone says what was done.
 */
#include "fuzz.h"

#include <string.h>

static const uint8_t *model;
static size_t model_size;

static struct program *
program_of(struct arena *a, struct setup *s, struct err *e)
{
    struct graph *g = *model == '<'
                          ? onnx_parse_text(a, "fuzz.onnxtxt", arena_strn(a, (const char *)model, model_size), e)
                          : onnx_load_bytes(a, "fuzz.onnx", model, model_size, e);
    if (!g)
        return NULL;
    *s = shapes_bind_open(g, s);
    s->unroll = true;
    return shapes_run(g, s, false, e) ? lower_run(g, s) : NULL;
}

static struct program *
reload(const struct study *x, struct arena *a, struct setup *s)
{
    struct err e = {0};
    (void)x;
    return program_of(a, s, &e);
}

/* The set-up of byte b. */
static struct setup
setup_of(uint8_t b)
{
    static const char *const precisions[] = {"fp32", "amp-bf16", "bf16", "amp-fp16"};
    static const char *const loops[] = {"plain", "late-zero", "accumulate-N", "del"};
    return (struct setup){.mode = b % 16 == 15 ? MODE_INFERENCE : MODE_TRAINING,
                          .optimizer = optimizer_find(b & 1 ? "sgd" : "adamw"),
                          .precision = precision_find(precisions[b / 4 % 4]),
                          .loss = loss_find("auto"),
                          .loop = loop_find(loops[b / 16 % 4]),
                          .micro_batches = b / 16 % 4 == 2 ? 3 : 1,
                          .accumulate_eager = b & 2,
                          .device = device_row(b % 3)};
}

static void
target(struct arena *a, const uint8_t *data, size_t size)
{
    struct err e = {0};
    model = data;
    model_size = size;
    uint8_t last = size ? data[size - 1] : 0;
    struct setup s = setup_of(last), before = setup_of((uint8_t)(last + 1));
    struct program *p = size ? program_of(a, &s, &e) : NULL;
    struct step *st = p ? step_run(p, &s) : NULL;
    if (st) {
        struct study study = {.a = a, .s = &s, .p = p, .st = st, .reload = reload};
        struct result *r = result_build(p->graph, p, st, &s, false);
        shapes_dump(p->graph, nowhere());
        program_dump(p, nowhere());
        step_dump(st, nowhere());
        rules_run(&study, r);
        fits_run(&study, r, true);
        if (last & 1)
            recompute_plan(&study, r, 0);
        if (last & 2) {
            struct program *old = program_of(a, &before, &e);
            r->baseline = compare_run(a, result_build(old->graph, old, step_run(old, &before), &before, false), r);
            r->baseline->file = "old.onnx";
        }
        arena_guard(NULL, 0); /* reports hold more than memory */
        for (int i = 0; i < nformats; i++)
            formats[i].write(r, nowhere(), true, 100);
    } else if (size && !e.message) {
        __builtin_trap(); /* refused without a word */
    }
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return fuzz_run(target, data, size);
}
