/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz.h - what the fuzz targets share. */
#ifndef FUZZ_H
#define FUZZ_H

#include "tests/all.h"

/* What libFuzzer and AFL++ call, and what libFuzzer has. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed);
size_t LLVMFuzzerCustomCrossOver(const uint8_t *a, size_t na, const uint8_t *b, size_t nb, uint8_t *out, size_t max,
                                 unsigned seed);

/* A stream whose text goes nowhere. */
static inline FILE *
nowhere(void)
{
    static FILE *f;
    return f ? f : (f = fopen("/dev/null", "w"));
}

/* A graph is printed, NULL was refused with a word. */
static inline void
print_graph(const struct graph *g, const struct err *e)
{
    if (g)
        onnx_print_text(g, nowhere());
    else if (!e->message)
        __builtin_trap();
}

/* Runs a target under limits so low that an input takes milliseconds; one that meets the limit of memory is done. */
static inline int
fuzz_run(void (*target)(struct arena *a, const uint8_t *data, size_t size), const uint8_t *data, size_t size)
{
    static const struct {
        const char *name;
        int64_t n;
    } low[] = {{"memory", 256 << 20}, {"inlined", 2000}, {"unrolled", 2000}, {"folded", 200000}};
    jmp_buf over;
    struct arena *a = arena_new();
    for (int i = 0; i < COUNT(low); i++)
        limit_set(a, low[i].name, low[i].n);
    switch (setjmp(over)) {
    case 0:
        arena_guard(&over, limit(LIMIT_MEMORY));
        target(a, data, size);
        break;
    case 2:
        __builtin_trap();
    }
    arena_guard(NULL, 0);
    arena_free_newer(NULL);
    return 0;
}

#endif
