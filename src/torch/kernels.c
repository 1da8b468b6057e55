/* SPDX-License-Identifier: Apache-2.0 */
/* kernels.c - which kernels of libraries a step runs, by shape: noted where somebody asks, with the workspace that the
 * library said. */
#include "base/setup.h"
#include "torch/torch.h"

#include <string.h>

const char *const kernel_names[] = {"convolution", "gradient of a convolution's input",
                                    "gradient of a convolution's weight", "product"};

bool
notes_kernels(const struct machine *m)
{
    return m->real && m->s && m->s->kernels;
}

/* What its library said; -1 unknown. */
static int64_t
note(struct machine *m, struct kernels *k, const struct kernel_shape *shape)
{
    int i = 0;
    while (i < k->n && memcmp(&k->kernel[i].shape, shape, sizeof(*shape)) != 0)
        i++;
    if (i == k->n)
        *PUSH(k->a, k->kernel, k->n, k->cap) =
            (struct kernel){*shape, m->op, m->call ? m->call->location : NULL, 0, -1};
    k->kernel[i].count += !k->counted;
    return k->kernel[i].bytes;
}

/* A convolution's shape: what stands before its sizes, and its numbers from there to its groups. */
enum {
    HEAD = offsetof(struct kernel_shape, in),
    NUMBERS = (offsetof(struct kernel_shape, batch) - HEAD) / sizeof(int64_t)
};

static void
kernel_blocks(struct machine *m, const struct ask *q, struct workspaces *to)
{
    struct kernel_shape shape;
    if (m->s->cudnn != CUDNN_NONE)
        m->same.below = m->same.from; /* each device has workspaces of its own */
    memset(&shape, 0, sizeof(shape)); /* what says nothing of it */
    memcpy(&shape, q->of, HEAD);
    memcpy(shape.in, q->number, sizeof(*q->number) * NUMBERS);
    int64_t bytes = notes_kernels(m) ? note(m, m->s->kernels, &shape) : -1;
    if (bytes < 0 && cudnn_counted(m))
        bytes = cudnn_workspace(m, &shape);
    if (bytes <= 0 || !m->real)
        return;
    workspaces_add(to, bytes);
    workspaces_add(to, 0);
}

void
use_kernel(struct machine *m, const struct kernel_shape *shape)
{
    if (shape->kind == KERNEL_PRODUCT) {
        if (notes_kernels(m))
            note(m, m->s->kernels, shape);
        return;
    }
    m->cudnn.kernels += m->s->cudnn != CUDNN_NONE;
    ask_blocks(m, &(struct ask){kernel_blocks, shape, HEAD, NUMBERS, &shape->in[0]});
}
