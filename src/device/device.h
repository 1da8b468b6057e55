/* SPDX-License-Identifier: Apache-2.0 */
/* device.h - what a GPU is: the table of devices, the driver, its libraries, and the replay of a step. */
#ifndef DEVICE_H
#define DEVICE_H

#include "base/setup.h"
#include "torch/torch.h"

/* ---- devices.c --------------------------------------------------------------------------------------------------- */

const struct device *device_find(const char *name);
const struct device *device_row(int i); /* NULL past the last */
const char *device_name(const struct device *d);
int64_t device_capacity(const struct device *d); /* bytes that the driver gives to programs, not the nominal size */
/* What the driver keeps for a process beside PyTorch's segments, as people measured it on GPUs of d's compute
 * capability (NULL, or one that nobody measured: on any), and NCCL with --parallel; or as --context says: then from is
 * NULL. */
struct context {
    int64_t least, most;                        /* bytes */
    const struct context_row *from, *to;        /* who measured them */
    const struct nccl_row *nccl_from, *nccl_to; /* NCCL's part, of several GPUs; NULL none */
    int nccl_least, nccl_most;                  /* MiB */
};
struct context device_context(const struct setup *s, const struct device *d);
const char *device_context_text(struct arena *a, const struct context *c);
void device_contexts_list(FILE *out);
/* Devices of one kind run the same step. PyTorch's own code asks whether the compute capability is 8.0 or more, and 9.0
 * or more (library_workspace in eager.c, attention's kernels in expand.c); cuDNN, which a step with convolutions runs,
 * chooses by each, and of a device that is not known (NULL) it is not counted. device_of_kind: some device of it. */
int device_kind(const struct device *d, bool convolves);
const struct device *device_of_kind(int kind);
void device_list(FILE *out);

/* ---- libraries.c: what kernels of libraries ask for -------------------------------------------------------------- */

struct symbol { /* of a library that is opened at run time, and the pointer that takes it; the last one has no name */
    const char *name;
    void *to;
    bool optional;
};
/* The first symbol that the library lacks, NULL none. */
const char *symbols_load(void *library, const struct symbol *symbols);

/* Loads the first library of these names, the last of which is NULL, with all of its symbols; false and *why. */
bool libraries_load(struct arena *a, const char *const *names, const struct symbol *symbols, const char **why);
/* "cuDNN 9.10.2"; scale: of the major version in v. */
const char *libraries_version(struct arena *a, const char *name, size_t v, int scale);
int libraries_type(enum dtype t); /* cudnnDataType_t; -1 none */

struct libraries { /* cuDNN and cuBLASLt; in the tests a stand-in */
    void *self;
    const char *convolutions, *products;       /* who answers: "cuDNN 9.10.2"; NULL nobody, then ... */
    const char *no_convolutions, *no_products; /* ... why */
    /* Bytes of workspace for what the library's heuristics put first; false: it has no kernel for that. */
    bool (*ask)(void *self, const struct kernel_shape *shape, int64_t *bytes);
};
/* Opens what is there, in the current CUDA context. */
void libraries_open(struct arena *a, struct cudnn_flags flags, struct libraries *l);
void libraries_close(struct libraries *l);
/* Fills the bytes of every kernel. */
void libraries_ask(const struct libraries *l, struct kernels *k);

/* ---- planner.c: cuDNN's plans for a device that it is only told about -------------------------------------------- */

/* Starts the library for that compute capability x 10 and what the program sets of torch.backends.cudnn, in a process
 * of its own; false and *why. l answers as long as
 * it runs within its limits, then l->ended says why not. */
bool planner_open(struct arena *a, int sm, struct cudnn_flags flags, struct cudnn_library *l, const char **why);
/* Keeps what was answered, and ends the process. */
void planner_close(struct cudnn_library *l);

/* ---- replay.c, cuda.c: the step's allocations on a device -------------------------------------------------------- */

enum taken { TAKEN, TAKEN_FULL, TAKEN_FAILED };
struct device_memory { /* a CUDA device; in the tests a stand-in. false: it failed, error says how */
    void *self;
    const char *name;
    int sm;          /* compute capability x 10 */
    int64_t context; /* bytes that went for this process's context; -1 unknown */
    int64_t unused;  /* bytes, right after that */
    bool (*info)(void *self, int64_t *unused, int64_t *total); /* bytes */
    /* Bytes in use by all processes and by this one, as NVML counts them; -1 unknown. NULL: there is no NVML. */
    void (*used)(void *self, int64_t *all, int64_t *own);
    enum taken (*take)(void *self, int64_t bytes, uint64_t *at);
    bool (*give)(void *self, uint64_t at);
    /* A range of addresses, and memory mapped into it and taken out again, piece by piece as it was mapped. */
    bool (*reserve)(void *self, int64_t bytes, uint64_t *at);
    bool (*release)(void *self, uint64_t at, int64_t bytes);
    enum taken (*map)(void *self, uint64_t at, int64_t bytes);
    bool (*unmap)(void *self, uint64_t at, int64_t bytes);
    bool (*touch)(void *self, uint64_t at, int64_t bytes);
    const char *(*error)(void *self);
};
/* The first CUDA device, its context made; false and *why when there is none. What is open when the program ends is
 * closed then. */
bool cuda_open(struct arena *a, struct device_memory *d, const char **why);
void cuda_close(struct device_memory *d);
/* The version of the CUDA headers that memlint was built with, 1000 x major + 10 x minor; 0: without. */
int cuda_headers(void);

struct replayed_step {                                          /* bytes, as the allocator counts them */
    int64_t allocated, most_allocated, reserved, most_reserved; /* after the step; at most in it */
    int64_t idle;                                               /* reserved and in no block when most was allocated */
    int64_t taken, given;                                       /* of the device, in this step */
};

struct replay {
    struct arena *a;
    const struct device_memory *d;
    const struct libraries *libraries; /* NULL: nobody is asked */
    int64_t limit;                     /* bytes that it may take; 0: what was announced */
    int64_t spare;                     /* bytes of the device that have to stay free beside it; -1: a twentieth */
    int repeats;                       /* how often the reported step is played; 1 or more */
    const volatile sig_atomic_t *stop; /* set by a signal; NULL none */
    int n, cap;
    struct segment *segments; /* held now, by the allocator's addresses */
    struct {
        uint64_t at;
        int64_t bytes;
    } range[2];                            /* of the device's addresses, by pool; 0 bytes: none yet */
    int64_t held, most;                    /* bytes: now, at most */
    int sm;                                /* compute capability x 10 that the prediction assumes */
    int64_t predicted;                     /* bytes reserved, from the file alone */
    int64_t announced;                     /* the same with what libraries ask for, over all steps that are played */
    int64_t library_bytes;                 /* that the libraries' handles took of the device */
    struct kernels *kernels;               /* of a step, with what libraries ask for; NULL before it was predicted */
    int64_t total, used_before, used_peak; /* of the device, by all processes, with this one's context */
    int64_t nvml_before, nvml_after, own_before, own_after; /* as NVML counts: all, this process; -1 unknown */
    struct replayed_step now;
    int nsteps, cap_steps, blocks; /* blocks: that were asked for in this step so far */
    struct replayed_step *steps;
    bool ended, refused, stopped, at_limit; /* at_limit: not the device said no, but the limit */
    const char *failed;                     /* what the device said when it failed */
    bool crowded;                           /* it was not begun: others use the device */
    int64_t missing;                        /* bytes that were not free then */
    int64_t refused_bytes; /* of the request that the device refused, and who asked: the blocks-th of a step */
    int refused_step, refused_block;
    enum phase phase;
    const char *op, *name, *location; /* name, location: NULL unknown */
};
/* For the allocator and the step: plays on p. */
struct player replay_player(struct replay *p);
/* Plays the step on p->d; false: the device failed. Everything is given back. */
bool replay_run(struct replay *p, const struct program *program, const struct setup *s);

#endif
