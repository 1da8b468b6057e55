/* SPDX-License-Identifier: Apache-2.0 */
/* libraries.c - what kernels of cuDNN and cuBLAS ask for, as the libraries themselves say.
 *
 * The step notes every convolution and matrix product that it runs, by shape. Where the libraries can be opened at run
 * time, their heuristics are asked for each: a convolution's answer is then taken from the allocator while that kernel
 * runs, as PyTorch does; a product's is only told, because PyTorch hands cuBLAS one buffer for all products, whatever
 * they take.
 *
 * Nothing of either library is needed to build: the few prototypes and numbers below are part of their ABI and the
 * same from cuDNN 8 and CUDA 11 on. Source: cudnn_graph.h, cudnn_ops.h, cudnn_cnn.h (cuDNN 9), cublasLt.h,
 * library_types.h (CUDA 13).
 */
#include "device/device.h"

#include <dlfcn.h>
#include <string.h>

/* ---- what a step runs -------------------------------------------------------------------------------------------- */

void
libraries_ask(const struct libraries *l, struct kernels *k)
{
    for (int i = 0; i < k->n; i++)
        if (!l->ask(l->self, &k->kernel[i].shape, &k->kernel[i].bytes))
            k->kernel[i].bytes = -1;
}

/* ---- cuDNN, cuBLASLt --------------------------------------------------------------------------------------------- */

enum { TENSOR_NCHW, TENSOR_NHWC };                   /* cudnnTensorFormat_t */
enum { CROSS_CORRELATION = 1 };                      /* cudnnConvolutionMode_t */
enum { DEFAULT_MATH, TENSOR_OP_MATH, FMA_MATH = 3 }; /* cudnnMathType_t; the first includes TF32 */
enum { TRANSA = 3, TRANSB = 4, LAYOUT_BATCH = 5, LAYOUT_STRIDE = 6, MAX_WORKSPACE = 1 }; /* cublasLt attributes */
enum { COMPUTE_32F = 68, COMPUTE_64F = 70 };                                             /* cublasComputeType_t */
enum { ALGORITHMS = 16 };

struct perf { /* cudnnConvolutionFwdAlgoPerf_t and its two twins */
    int algo, status;
    float time;
    size_t memory;
    int determinism, math, reserved[3];
};

struct heuristic { /* cublasLtMatmulHeuristicResult_t */
    uint64_t algo[8];
    size_t bytes;
    int state;
    float waves;
    int reserved[4];
};

struct opened {
    struct cudnn_flags flags;
    void *handle, *lt; /* of each library */
    void *x, *w, *y, *convolution;
    size_t (*version)(void);
    size_t (*lt_version)(void);
    int (*create)(void **);
    int (*destroy)(void *);
    int (*tensor)(void **), (*filter)(void **), (*descriptor)(void **);
    int (*no_tensor)(void *), (*no_filter)(void *), (*no_descriptor)(void *);
    int (*set_tensor)(void *, int, int, const int *, const int *);
    int (*set_filter)(void *, int, int, int, const int *);
    int (*set_convolution)(void *, int, const int *, const int *, const int *, int, int);
    int (*set_groups)(void *, int), (*set_math)(void *, int);
    int (*heuristics[3])(void *, void *, void *, void *, void *, int, int *, struct perf *);
    int (*lt_create)(void **);
    int (*lt_destroy)(void *);
    int (*op_create)(void **, int, int);
    int (*op_destroy)(void *);
    int (*op_set)(void *, int, const void *, size_t);
    int (*layout_create)(void **, int, uint64_t, uint64_t, int64_t);
    int (*layout_destroy)(void *);
    int (*layout_set)(void *, int, const void *, size_t);
    int (*limit_create)(void **);
    int (*limit_destroy)(void *);
    int (*limit_set)(void *, int, const void *, size_t);
    int (*lt_heuristic)(void *, void *, void *, void *, void *, void *, void *, int, struct heuristic *, int *);
};

static const struct {
    enum dtype dtype;
    int cudnn, cuda; /* cudnnDataType_t, cudaDataType */
} types[] = {{DT_FLOAT, 0, 0}, {DT_DOUBLE, 1, 1}, {DT_FLOAT16, 2, 2}, {DT_BFLOAT16, 9, 14}};

int
libraries_type(enum dtype t)
{
    for (int i = 0; i < COUNT(types); i++)
        if (types[i].dtype == t)
            return types[i].cudnn;
    return -1;
}

static void
ints(int *to, const int64_t *from, int n)
{
    for (int i = 0; i < n; i++)
        to[i] = (int)from[i];
}

static bool
small(const int64_t *v, int n)
{
    for (int i = 0; i < n; i++)
        if (v[i] < 0 || v[i] > INT32_MAX)
            return false;
    return true;
}

/* A dense tensor, channels last or not; false: cuDNN counts in 32 bits. */
static bool
describe(const struct opened *o, void *to, int type, const struct kernel_shape *s, const int64_t *size)
{
    int dims[KERNEL_RANK], strides[KERNEL_RANK];
    int64_t run = 1;
    for (int i = 0; i < s->rank; i++) {
        int d = image_dim(s->rank, s->last, i);
        if (run > INT32_MAX)
            return false;
        strides[d] = (int)run;
        run *= size[d];
    }
    ints(dims, size, s->rank);
    return o->set_tensor(to, type, s->rank, dims, strides) == 0;
}

static bool
ask_cudnn(const struct opened *o, const struct kernel_shape *s, int type, int64_t *bytes)
{
    int pad[KERNEL_RANK], stride[KERNEL_RANK], dilation[KERNEL_RANK], filter[KERNEL_RANK], n = 0;
    struct perf found[ALGORITHMS];
    if (!small(s->in, s->rank) || !small(s->out, s->rank) || !small(s->weight, s->rank) || !small(&s->groups, 1))
        return false;
    ints(pad, s->pad, s->rank);
    ints(stride, s->stride, s->rank);
    ints(dilation, s->dilation, s->rank);
    ints(filter, s->weight, s->rank);
    int accumulate = s->dtype == DT_DOUBLE ? 1 : 0; /* half precision is summed in float */
    if (!describe(o, o->x, type, s, s->in) || !describe(o, o->y, type, s, s->out) ||
        o->set_filter(o->w, type, s->last ? TENSOR_NHWC : TENSOR_NCHW, s->rank, filter) ||
        o->set_convolution(o->convolution, s->rank - 2, pad, stride, dilation, CROSS_CORRELATION, accumulate) ||
        o->set_groups(o->convolution, (int)s->groups) ||
        o->set_math(o->convolution, s->dtype == DT_FLOAT16                     ? TENSOR_OP_MATH
                                    : s->dtype == DT_FLOAT && o->flags.no_tf32 ? FMA_MATH
                                                                               : DEFAULT_MATH)) /* Descriptors.h */
        return false;
    void *const operands[][3] = {{o->x, o->w, o->y}, {o->w, o->y, o->x}, {o->x, o->y, o->w}};
    void *const *of = operands[s->kind];
    if (o->heuristics[s->kind](o->handle, of[0], of[1], o->convolution, of[2], ALGORITHMS, &n, found))
        return false;
    for (int i = 0; i < n && i < ALGORITHMS; i++)
        if (found[i].status == 0 && (found[i].determinism || !o->flags.deterministic)) {
            *bytes = (int64_t)found[i].memory;
            return true;
        }
    return false;
}

static bool
batched(const struct opened *o, void *layout, const struct kernel_shape *s, int64_t stride)
{
    int32_t batch = (int32_t)s->batch;
    return s->batch == 1 || (o->layout_set(layout, LAYOUT_BATCH, &batch, sizeof(batch)) == 0 &&
                             o->layout_set(layout, LAYOUT_STRIDE, &stride, sizeof(stride)) == 0);
}

/* Row-major a * b is, for a library that counts columns first, b * a. */
static bool
ask_cublaslt(const struct opened *o, const struct kernel_shape *s, int type, int64_t *bytes)
{
    void *op = NULL, *a = NULL, *b = NULL, *c = NULL, *limit = NULL;
    struct heuristic found;
    int32_t ta = s->tb, tb = s->ta;
    uint64_t most = (uint64_t)s->most;
    int n = 0;
    bool doubles = s->dtype == DT_DOUBLE;
    bool ok = small(&s->batch, 1) && o->op_create(&op, doubles ? COMPUTE_64F : COMPUTE_32F, doubles ? 1 : 0) == 0 &&
              o->op_set(op, TRANSA, &ta, sizeof(ta)) == 0 && o->op_set(op, TRANSB, &tb, sizeof(tb)) == 0 &&
              o->layout_create(&a, type, (uint64_t)(ta ? s->k : s->n), (uint64_t)(ta ? s->n : s->k), s->ldb) == 0 &&
              o->layout_create(&b, type, (uint64_t)(tb ? s->m : s->k), (uint64_t)(tb ? s->k : s->m), s->lda) == 0 &&
              o->layout_create(&c, type, (uint64_t)s->n, (uint64_t)s->m, s->n) == 0 && batched(o, a, s, s->k * s->n) &&
              batched(o, b, s, s->m * s->k) && batched(o, c, s, s->m * s->n) && o->limit_create(&limit) == 0 &&
              o->limit_set(limit, MAX_WORKSPACE, &most, sizeof(most)) == 0 &&
              o->lt_heuristic(o->lt, op, a, b, c, c, limit, 1, &found, &n) == 0 && n > 0 && found.state == 0;
    if (ok)
        *bytes = (int64_t)found.bytes;
    if (limit)
        o->limit_destroy(limit);
    void *const layouts[] = {a, b, c};
    for (int i = 0; i < COUNT(layouts); i++)
        if (layouts[i])
            o->layout_destroy(layouts[i]);
    if (op)
        o->op_destroy(op);
    return ok;
}

static bool
ask(void *self, const struct kernel_shape *s, int64_t *bytes)
{
    const struct opened *o = self;
    for (int i = 0; i < COUNT(types); i++)
        if (types[i].dtype == s->dtype && s->kind == KERNEL_PRODUCT)
            return o->lt && ask_cublaslt(o, s, types[i].cuda, bytes);
        else if (types[i].dtype == s->dtype)
            return o->convolution && ask_cudnn(o, s, types[i].cudnn, bytes);
    return false;
}

/* ---- opening ----------------------------------------------------------------------------------------------------- */

const char *
symbols_load(void *library, const struct symbol *symbols)
{
    for (; symbols->name; symbols++) {
        void *f = dlsym(library, symbols->name);
        memcpy(symbols->to, &f, sizeof(f));
        if (!f && !symbols->optional)
            return symbols->name;
    }
    return NULL;
}

bool
libraries_load(struct arena *a, const char *const *names, const struct symbol *symbols, const char **why)
{
    void *library = NULL;
    *why = arena_printf(a, "there is no %s", names[0]);
    for (int i = 0; names[i] && !library; i++)
        library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    const char *lacks = library ? symbols_load(library, symbols) : NULL;
    if (lacks)
        *why = arena_printf(a, "it has no %s", lacks);
    return library && !lacks;
}

static bool
open_cudnn(struct arena *a, struct opened *o, const char **why)
{
    static const char *const names[] = {"libcudnn.so.9", "libcudnn.so.8", "libcudnn.so", NULL};
    const struct symbol symbols[] = {
        {"cudnnGetVersion", &o->version},
        {"cudnnCreate", &o->create},
        {"cudnnDestroy", &o->destroy},
        {"cudnnCreateTensorDescriptor", &o->tensor},
        {"cudnnCreateFilterDescriptor", &o->filter},
        {"cudnnCreateConvolutionDescriptor", &o->descriptor},
        {"cudnnDestroyTensorDescriptor", &o->no_tensor},
        {"cudnnDestroyFilterDescriptor", &o->no_filter},
        {"cudnnDestroyConvolutionDescriptor", &o->no_descriptor},
        {"cudnnSetTensorNdDescriptor", &o->set_tensor},
        {"cudnnSetFilterNdDescriptor", &o->set_filter},
        {"cudnnSetConvolutionNdDescriptor", &o->set_convolution},
        {"cudnnSetConvolutionGroupCount", &o->set_groups},
        {"cudnnSetConvolutionMathType", &o->set_math},
        {"cudnnGetConvolutionForwardAlgorithm_v7", &o->heuristics[KERNEL_FORWARD]},
        {"cudnnGetConvolutionBackwardDataAlgorithm_v7", &o->heuristics[KERNEL_GRAD_INPUT]},
        {"cudnnGetConvolutionBackwardFilterAlgorithm_v7", &o->heuristics[KERNEL_GRAD_WEIGHT]},
        {NULL, NULL}};
    if (!libraries_load(a, names, symbols, why))
        return false;
    int status = o->create(&o->handle);
    if (!status && !o->tensor(&o->x) && !o->tensor(&o->y) && !o->filter(&o->w) && !o->descriptor(&o->convolution))
        return true;
    *why = arena_printf(a, status ? "cudnnCreate returned %d" : "its descriptors can't be made", status);
    return false;
}

static bool
open_cublaslt(struct arena *a, struct opened *o, const char **why)
{
    static const char *const names[] = {"libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so.11", "libcublasLt.so",
                                        NULL};
    const struct symbol symbols[] = {{"cublasLtGetVersion", &o->lt_version},
                                     {"cublasLtCreate", &o->lt_create},
                                     {"cublasLtDestroy", &o->lt_destroy},
                                     {"cublasLtMatmulDescCreate", &o->op_create},
                                     {"cublasLtMatmulDescDestroy", &o->op_destroy},
                                     {"cublasLtMatmulDescSetAttribute", &o->op_set},
                                     {"cublasLtMatrixLayoutCreate", &o->layout_create},
                                     {"cublasLtMatrixLayoutDestroy", &o->layout_destroy},
                                     {"cublasLtMatrixLayoutSetAttribute", &o->layout_set},
                                     {"cublasLtMatmulPreferenceCreate", &o->limit_create},
                                     {"cublasLtMatmulPreferenceDestroy", &o->limit_destroy},
                                     {"cublasLtMatmulPreferenceSetAttribute", &o->limit_set},
                                     {"cublasLtMatmulAlgoGetHeuristic", &o->lt_heuristic},
                                     {NULL, NULL}};
    if (!libraries_load(a, names, symbols, why))
        return false;
    int status = o->lt_create(&o->lt);
    *why = arena_printf(a, "cublasLtCreate returned %d", status);
    return status == 0;
}

const char *
libraries_version(struct arena *a, const char *name, size_t v, int scale)
{
    return arena_printf(a, "%s %d.%d.%d", name, (int)v / scale, (int)v % scale / 100, (int)v % 100);
}

void
libraries_open(struct arena *a, struct cudnn_flags flags, struct libraries *l)
{
    struct opened *o = NEW(a, struct opened);
    o->flags = flags;
    *l = (struct libraries){.self = o, .ask = ask};
    if (open_cudnn(a, o, &l->no_convolutions)) {
        size_t v = o->version();
        l->convolutions =
            libraries_version(a, "cuDNN", v, v >= 90000 ? 10000 : 1000); /* CUDNN_VERSION in cudnn_version.h */
    }
    if (open_cublaslt(a, o, &l->no_products)) {
        size_t v = o->lt_version();
        l->products = libraries_version(a, "cuBLASLt", v, 10000);
    }
}

void
libraries_close(struct libraries *l)
{
    struct opened *o = l->self;
    if (o->convolution)
        o->no_descriptor(o->convolution);
    if (o->w)
        o->no_filter(o->w);
    if (o->x)
        o->no_tensor(o->x);
    if (o->y)
        o->no_tensor(o->y);
    if (o->handle)
        o->destroy(o->handle);
    if (o->lt)
        o->lt_destroy(o->lt);
    memset(o, 0, sizeof(*o)); /* the libraries stay loaded: the next model opens them again */
}
