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

void
use_kernel(struct machine *m, const struct kernel_shape *shape)
{
    struct kernels *k = m->s->kernels;
    int i = 0;
    while (i < k->n && memcmp(&k->kernel[i].shape, shape, sizeof(*shape)) != 0)
        i++;
    if (i == k->n)
        *PUSH(k->a, k->kernel, k->n, k->cap) =
            (struct kernel){*shape, m->op, m->call ? m->call->location : NULL, 0, -1};
    k->kernel[i].count += m->recording && !k->counted;
    if (shape->kind != KERNEL_PRODUCT)
        scratch(m, k->kernel[i].bytes);
}
