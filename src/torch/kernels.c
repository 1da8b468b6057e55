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

void
use_kernel(struct machine *m, const struct kernel_shape *shape)
{
    int64_t bytes = notes_kernels(m) ? note(m, m->s->kernels, shape) : -1;
    if (shape->kind == KERNEL_PRODUCT)
        return;
    m->cudnn.kernels += m->s->cudnn != CUDNN_NONE;
    m->sm_below = m->s->cudnn != CUDNN_NONE ? m->sm_from : m->sm_below; /* each has workspaces of its own */
    if (bytes < 0 && m->s->device && m->s->cudnn != CUDNN_NONE)
        bytes = cudnn_workspace(m, shape);
    scratch(m, bytes);
}
