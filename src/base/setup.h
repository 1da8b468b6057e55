/* SPDX-License-Identifier: Apache-2.0 */
/* setup.h - what the command line says about the training step. */
#ifndef SETUP_H
#define SETUP_H

#include "base/base.h"

struct input_shape {
    const char *name;
    int rank;
    int64_t *dims;
    const char *place;
};

struct input_value {
    const char *name;
    const struct tensor *t;
};

/* The first in_flags of them are a flag file's, which may be for other models. */
struct globs {
    int n, cap, in_flags;
    const char **glob;
};

enum mode { MODE_TRAINING, MODE_INFERENCE };
enum dropout { DROPOUT_UNSAID, DROPOUT_AUTO, DROPOUT_NONE }; /* UNSAID: as AUTO, but nobody said so */
enum attention { ATTENTION_AUTO, ATTENTION_FLASH, ATTENTION_EFFICIENT, ATTENTION_MATH };
enum recurrent_way { RECURRENT_AUTO, RECURRENT_CUDNN, RECURRENT_CELLS }; /* layers in bfloat16 */
enum cudnn { CUDNN_RULE, CUDNN_ASK, CUDNN_NONE }; /* what says its workspaces; NONE: they are not counted */
enum inplace { INPLACE_AUTO, INPLACE_NONE, INPLACE_RELU, INPLACE_ALL };

struct optimizer; /* these: torch/step.c */
struct precision;
struct packing; /* torch/packing.c */
struct loss;
struct loop;
struct player; /* torch/torch.h */
struct kernels;
struct tape;
struct cudnn_library;

/* What a program sets of torch.backends.cudnn. */
struct cudnn_flags {
    bool benchmark, deterministic, no_tf32;
};

/* The memory that the driver gives to programs, which is less than the nominal: totalGlobalMem of
 * cudaGetDeviceProperties, the total of cudaMemGetInfo and the total capacity in PyTorch's message are one figure on
 * Linux (Windows' display driver tells the nominal size). Drivers differ by up to one percent; of several messages the
 * smallest counts. */
struct device {
    const char *name, *help; /* help has the nominal size */
    int sm;                  /* compute capability x 10 */
    int64_t bytes;
    const char *source;
};
/* Compute capability x 10; an H100's when d is NULL. */
static inline int
device_sm(const struct device *d)
{
    return d ? d->sm : 90;
}

struct setup {
    int ndims, nshapes, nvalues;
    struct binding *dims;
    struct input_shape *shapes;
    struct input_value *values;
    struct globs freeze, train; /* over qualified parameter names; train: these alone, empty all */
    enum mode mode;
    bool unroll; /* shapes_run makes control flow straight, for the step */
    const struct optimizer *optimizer;
    bool says_optimizer; /* an option does; else it is the file's, if that has one */
    const struct precision *precision;
    const struct packing *base; /* --base: how frozen weights of linear layers are kept; NULL as they are */
    const struct loss *loss;    /* never NULL; of no output that is named */
    int nterms, cap_terms;      /* outputs that are named: the loss reads these alone */
    struct term {
        const struct loss *loss;
        const char *output, *place;
    } * terms;
    const struct loop *loop;
    int micro_batches;               /* accumulate-N: N, else 1 */
    const struct parallel *parallel; /* how several GPUs share the step; NULL one GPU */
    int gpus;                        /* with parallel: how many, 2 or more */
    int stage;                       /* of a pipeline: the one that is told, from 0 on */
    const char *units;               /* --units: what fully_shard wraps; NULL what lists have */
    int repeats;                     /* of the reported step; 0 as 1 */
    enum dropout dropout;
    int torch;             /* whose eager mode: 206 of 2.6; 0 the file's */
    bool accumulate_eager; /* --assume accumulate=eager|never */
    bool channels_last;    /* --assume inputs=contiguous|channels-last: images among the inputs */
    enum attention attention;
    enum recurrent_way recurrent;
    enum inplace inplace;                /* auto: what lines of Python and names of modules tell */
    uint64_t instead;                    /* bits 1 << enum alternative: the other reading, where no option says so */
    uint64_t *asked;                     /* such bits of those that somebody asked for; NULL: not noted */
    const struct device *device;         /* NULL when not asked */
    int64_t capacity;                    /* bytes of --device SIZE or of the row; 0 not asked */
    int64_t context;                     /* bytes of --context SIZE; 0 not said */
    bool expandable;                     /* --allocator expandable */
    enum cudnn cudnn;                    /* --cudnn; counts where device is known */
    struct cudnn_flags flags;            /* --cudnn-flags */
    bool least;                          /* of plans among which benchmark chooses those with the least workspace */
    const struct cudnn_library *library; /* --cudnn=ask: who answers; NULL nobody */
    const char *recompute;               /* --recompute, "" none; NULL what the program does */
    const struct player *player;         /* where the allocator's segments are taken from a device; NULL nowhere */
    struct tape *tape;                   /* on which the allocator's requests go; NULL none */
    struct kernels *kernels;             /* where kernels of libraries are noted; NULL nowhere */
    bool measured;                       /* its sums are wanted, and no tensor is shown to anybody */
    bool looked_at;                      /* a measured step whose doubts are asked for, too */
    bool unreserved;                     /* of a measured step the peak alone: what is reserved is nothing then */
    int64_t most;                        /* of a step that allocates more nothing is wanted but that it does; 0 any */
    jmp_buf *enough;                     /* where it jumps to then */
    int64_t besides; /* that it is known to hold all the time beside what the iteration makes before it is updated */
};

/* Whether s asks for the other reading of what a file can't show; whether it leaves it to be assumed. */
static inline bool
setup_instead(const struct setup *s, enum alternative other)
{
    if (s->asked)
        *s->asked |= UINT64_C(1) << other;
    return s->instead >> other & 1;
}
/* Whether it trains, which is noted likewise; whether dropout is active. */
static inline bool
setup_trains(const struct setup *s)
{
    if (s->asked)
        *s->asked |= UINT64_C(1) << ALTERNATIVE_EVALUATION;
    return s->mode == MODE_TRAINING;
}
static inline bool
setup_drops(const struct setup *s)
{
    return s->mode == MODE_TRAINING && s->dropout != DROPOUT_NONE;
}
static inline bool
setup_assumes(const struct setup *s, enum alternative other)
{
    return other == ALTERNATIVE_ATTENTION ? s->attention == ATTENTION_AUTO
           : other == ALTERNATIVE_CELLS   ? s->recurrent == RECURRENT_AUTO
                                          : true;
}

#endif
