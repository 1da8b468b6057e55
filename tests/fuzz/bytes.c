/* SPDX-License-Identifier: Apache-2.0 */
/* bytes.c - fuzz target: the bytes of a binary model to a graph, which is printed. */
#include "fuzz.h"

static void
target(struct arena *a, const uint8_t *data, size_t size)
{
    struct err e = {0};
    const struct graph *g = onnx_load_bytes(a, "fuzz.onnx", data, size, &e);
    print_graph(g, &e);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return fuzz_run(target, data, size);
}
