/* SPDX-License-Identifier: Apache-2.0 */
/* driver.c - a test double: libcuda, NVML, cuDNN and cuBLASLt in one file, for a machine without any of them.
 *
 * tests/driver.sh gives it these libraries' names in a folder of its own and puts that folder before the loader's
 * others, so that memlint opens it as it would open the real ones. It has memory only as numbers: a capacity, what is
 * out, what leaks. When a context goes and when the program ends it writes what it saw to the file in DRIVER_LOG. The
 * environment says how it behaves:
 *
 *   DRIVER_CAPACITY  bytes of the device (2 GiB)      DRIVER_FOREIGN  of them in use by others (0)
 *   DRIVER_GROW      bytes that others take, too, from the 40th memset on
 *   DRIVER_FAIL      a function that fails            DRIVER_RAISE    the number of the memset at which a signal
 *   comes, a colon, the signal
 *   DRIVER_CUDNN     the version that cuDNN says (91002)
 *   DRIVER_PLANS     plans that cuDNN makes before it aborts
 *
 * It shares no declaration with memlint: prototypes are written from the libraries' documentation.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { OK = 0, INVALID_VALUE = 1, OUT_OF_MEMORY = 2, NOT_SUPPORTED = 801, MOST = 4096 };
static const uint64_t CONTEXT = 300 << 20, HANDLE = 5 << 20; /* bytes of the device */

static struct {
    uint64_t at, bytes;
    int handle; /* mapped: of which memory */
} out[MOST];
static struct {
    uint64_t bytes;
    int released, mapped;
} memory[MOST];
static int nout, nmemory, contexts, ranges, handles, descriptors, sets, strangers, convolutions, products;
static uint64_t used, most, next = UINT64_C(1) << 40, range_at, range_bytes;

static uint64_t
number(const char *name, uint64_t otherwise)
{
    const char *s = getenv(name);
    return s ? strtoull(s, NULL, 10) : otherwise;
}

static int
fails(const char *name)
{
    const char *s = getenv("DRIVER_FAIL");
    return s && strcmp(s, name) == 0;
}

static uint64_t
foreign(void)
{
    return number("DRIVER_FOREIGN", 0) + (sets >= 40 ? number("DRIVER_GROW", 0) : 0);
}

static uint64_t
in_use(void)
{
    return foreign() + used + (contexts ? CONTEXT : 0) + (uint64_t)handles * HANDLE;
}

static uint64_t
capacity(void)
{
    return number("DRIVER_CAPACITY", UINT64_C(2) << 30);
}

static int
room(uint64_t bytes)
{
    if (in_use() + bytes > capacity())
        return OUT_OF_MEMORY;
    used += bytes;
    most = used > most ? used : most;
    return OK;
}

static void __attribute__((destructor)) write_log(void)
{
    FILE *f = getenv("DRIVER_LOG") ? fopen(getenv("DRIVER_LOG"), "w") : NULL;
    if (!f)
        return;
    int leaks = nout;
    for (int i = 0; i < nmemory; i++)
        leaks += !memory[i].released;
    fprintf(
        f,
        "leaks %d\ncontexts %d\nranges %d\nhandles %d\ndescriptors %d\nstrangers %d\nmost %llu\nsets %d\nmapped %d\n",
        leaks, contexts, ranges, handles, descriptors, strangers, (unsigned long long)most, sets, nmemory);
    fprintf(f, "convolutions %d\nproducts %d\n", convolutions, products);
    fclose(f);
}

/* ---- the driver -------------------------------------------------------------------------------------------------- */

#define FAILS                \
    do {                     \
        if (fails(__func__)) \
            return 999;      \
    } while (0)

int
cuInit(unsigned flags)
{
    FAILS;
    return flags ? INVALID_VALUE : OK;
}

int
cuDeviceGet(int *device, int i)
{
    FAILS;
    *device = 7;
    return i ? INVALID_VALUE : OK;
}

int
cuDeviceGetName(char *name, int n, int device)
{
    FAILS;
    snprintf(name, (size_t)n, "Driver of the tests");
    return device == 7 ? OK : INVALID_VALUE;
}

int
cuDeviceGetAttribute(int *value, int which, int device)
{
    FAILS;
    *value = which == 75 ? 8 : 6; /* compute capability 8.6 */
    return device == 7 && (which == 75 || which == 76) ? OK : INVALID_VALUE;
}

int
cuDeviceGetPCIBusId(char *name, int n, int device)
{
    FAILS;
    snprintf(name, (size_t)n, "0000:17:00.0");
    return device == 7 ? OK : INVALID_VALUE;
}

int
cuDevicePrimaryCtxRetain(void **context, int device)
{
    FAILS;
    *context = out;
    contexts++;
    return device == 7 ? OK : INVALID_VALUE;
}

int
cuDevicePrimaryCtxRelease_v2(int device)
{
    contexts--;
    write_log(); /* a signal ends the program without destructors */
    return device == 7 ? OK : INVALID_VALUE;
}

int
cuCtxSetCurrent(void *context)
{
    FAILS;
    return context == out ? OK : INVALID_VALUE;
}

int
cuCtxSynchronize(void)
{
    FAILS;
    return OK;
}

int
cuMemGetInfo_v2(size_t *unused, size_t *total)
{
    FAILS;
    *total = capacity();
    *unused = in_use() < *total ? *total - in_use() : 0;
    return contexts ? OK : 201;
}

static int
put(uint64_t at, uint64_t bytes, int handle)
{
    if (nout == MOST)
        return OUT_OF_MEMORY;
    for (int i = 0; i < nout; i++)
        strangers += at < out[i].at + out[i].bytes && out[i].at < at + bytes;
    out[nout].at = at;
    out[nout].handle = handle;
    out[nout++].bytes = bytes;
    return OK;
}

static int
find(uint64_t at, int mapped)
{
    for (int i = 0; i < nout; i++)
        if (out[i].at == at && (out[i].handle >= 0) == mapped)
            return i;
    strangers++;
    return -1;
}

int
cuMemAlloc_v2(uint64_t *at, size_t bytes)
{
    FAILS;
    int r = room(bytes);
    *at = next += UINT64_C(1) << 40;
    return r ? r : put(*at, bytes, -1);
}

int
cuMemFree_v2(uint64_t at)
{
    FAILS;
    int i = find(at, 0);
    if (i < 0)
        return INVALID_VALUE;
    used -= out[i].bytes;
    out[i] = out[--nout];
    return OK;
}

int
cuMemsetD8Async(uint64_t at, unsigned char value, size_t n, void *stream)
{
    const char *when = getenv("DRIVER_RAISE");
    FAILS;
    if (when && atoi(when) == ++sets)
        raise(atoi(strchr(when, ':') + 1));
    sets += !when;
    while (n) { /* a range's pieces lie side by side */
        int i = 0;
        while (i < nout && (at < out[i].at || at >= out[i].at + out[i].bytes))
            i++;
        if (i == nout) {
            strangers++;
            return INVALID_VALUE;
        }
        uint64_t part = out[i].at + out[i].bytes - at;
        part = part < n ? part : n;
        at += part;
        n -= part;
    }
    return stream || value ? INVALID_VALUE : OK;
}

int
cuMemAddressReserve(uint64_t *at, size_t bytes, size_t alignment, uint64_t wanted, unsigned long long flags)
{
    FAILS;
    *at = range_at = next += UINT64_C(1) << 40;
    range_bytes = bytes;
    ranges++;
    return alignment || wanted || flags || bytes % (2 << 20) ? INVALID_VALUE : OK;
}

int
cuMemAddressFree(uint64_t at, size_t bytes)
{
    FAILS;
    for (int i = 0; i < nout; i++)
        strangers += out[i].at >= at && out[i].at < at + bytes;
    ranges--;
    return OK;
}

struct location {
    int type, id;
};
struct properties {
    int type, handles;
    struct location location;
    void *windows;
    unsigned char flags[8];
};
struct access {
    struct location location;
    int flags;
};

int
cuMemCreate(unsigned long long *handle, size_t bytes, const struct properties *p, unsigned long long flags)
{
    FAILS;
    static const unsigned char none[8];
    if (flags || p->type != 1 || p->handles || p->location.type != 1 || p->location.id != 7 || p->windows ||
        memcmp(p->flags, none, sizeof(none)) != 0 || bytes % (2 << 20))
        return INVALID_VALUE;
    if (nmemory == MOST || room(bytes))
        return OUT_OF_MEMORY;
    memory[nmemory].bytes = bytes;
    *handle = (unsigned long long)++nmemory;
    return OK;
}

static void
unhold(int handle)
{
    if (memory[handle].released && !memory[handle].mapped)
        used -= memory[handle].bytes;
}

int
cuMemRelease(unsigned long long handle)
{
    if (handle == 0 || handle > (unsigned long long)nmemory || memory[handle - 1].released++) {
        strangers++;
        return INVALID_VALUE;
    }
    unhold((int)handle - 1);
    return fails(__func__) ? 999 : OK;
}

int
cuMemMap(uint64_t at, size_t bytes, size_t offset, unsigned long long handle, unsigned long long flags)
{
    FAILS;
    if (offset || flags || bytes != memory[handle - 1].bytes || at < UINT64_C(1) << 40)
        return INVALID_VALUE;
    memory[handle - 1].mapped = 1;
    return put(at, bytes, (int)handle - 1);
}

int
cuMemUnmap(uint64_t at, size_t bytes)
{
    int i = find(at, 1);
    if (i < 0 || bytes != out[i].bytes)
        return INVALID_VALUE;
    memory[out[i].handle].mapped = 0;
    unhold(out[i].handle);
    out[i] = out[--nout];
    return fails(__func__) ? 999 : OK;
}

int
cuMemSetAccess(uint64_t at, size_t bytes, const struct access *a, size_t n)
{
    FAILS;
    int i = find(at, 1);
    return i < 0 || bytes != out[i].bytes || n != 1 || a->location.type != 1 || a->location.id != 7 || a->flags != 3
               ? INVALID_VALUE
               : OK;
}

int
cuGetErrorName(int error, const char **name)
{
    *name = error == OUT_OF_MEMORY ? "CUDA_ERROR_OUT_OF_MEMORY" : "CUDA_ERROR_UNKNOWN";
    return OK;
}

/* ---- NVML -------------------------------------------------------------------------------------------------------- */

int
nvmlInit_v2(void)
{
    return fails(__func__);
}

int
nvmlShutdown(void)
{
    return OK;
}

int
nvmlDeviceGetHandleByPciBusId_v2(const char *bus, void **device)
{
    *device = memory;
    return strcmp(bus, "0000:17:00.0") != 0 || fails(__func__);
}

int
nvmlDeviceGetMemoryInfo(void *device, unsigned long long *m)
{
    m[0] = capacity();
    m[1] = capacity() - in_use();
    m[2] = in_use();
    return device != memory || fails(__func__);
}

struct process {
    unsigned pid;
    unsigned long long used;
    unsigned gpu, compute;
};

int
nvmlDeviceGetComputeRunningProcesses_v3(void *device, unsigned *n, struct process *p)
{
    if (*n < 2)
        return 7; /* NVML_ERROR_INSUFFICIENT_SIZE */
    p[0] = (struct process){1, 12345, 0, 0};
    p[1] = (struct process){(unsigned)getpid(), in_use() - foreign(), 0, 0};
    *n = contexts ? 2 : 1;
    return device != memory || fails(__func__);
}

/* ---- cuDNN ------------------------------------------------------------------------------------------------------- */

/* What it says of a convolution is a MiB for each of the weight's inner dimensions, of gradients of inputs only with
 * groups. */

size_t
cudnnGetVersion(void)
{
    return number("DRIVER_CUDNN", 91002);
}

const char *
cudnnGetErrorString(int status)
{
    return status == OK ? "CUDNN_STATUS_SUCCESS" : "CUDNN_STATUS_REFUSED";
}

int
cudnnCreate(void **handle)
{
    *handle = &handles;
    handles++;
    return fails(__func__) || !contexts;
}

int
cudnnDestroy(void *handle)
{
    handles--;
    return handle != &handles;
}

struct descriptor {
    char kind;
    int type, n, groups, size[8], stride[8];
};

static int
make(void **d, char kind)
{
    struct descriptor *to = calloc(1, sizeof(*to));
    to->kind = kind;
    *d = to;
    descriptors++;
    return OK;
}

static int
unmake(void *d)
{
    free(d);
    descriptors--;
    return OK;
}

int
cudnnCreateTensorDescriptor(void **d)
{
    return make(d, 't');
}

int
cudnnCreateFilterDescriptor(void **d)
{
    return make(d, 'f');
}

int
cudnnCreateConvolutionDescriptor(void **d)
{
    return make(d, 'c');
}

int
cudnnDestroyTensorDescriptor(void *d)
{
    return unmake(d);
}

int
cudnnDestroyFilterDescriptor(void *d)
{
    return unmake(d);
}

int
cudnnDestroyConvolutionDescriptor(void *d)
{
    return unmake(d);
}

int
cudnnSetTensorNdDescriptor(void *d, int type, int n, const int *size, const int *stride)
{
    struct descriptor *to = d;
    memcpy(to->size, size, sizeof(*size) * (size_t)n);
    memcpy(to->stride, stride, sizeof(*stride) * (size_t)n);
    to->n = n;
    to->type = type;
    return to->kind != 't' || n < 4 || n > 5;
}

int
cudnnSetFilterNdDescriptor(void *d, int type, int format, int n, const int *size)
{
    struct descriptor *to = d;
    memcpy(to->size, size, sizeof(*size) * (size_t)n);
    to->n = n;
    to->type = type;
    return to->kind != 'f' || format < 0 || format > 1;
}

int
cudnnSetConvolutionNdDescriptor(void *d, int n, const int *pad, const int *stride, const int *dilation, int mode,
                                int type)
{
    struct descriptor *to = d;
    for (int i = 0; i < n; i++) {
        to->size[i] = pad[i];
        to->stride[i] = stride[i];
        if (dilation[i] < 1 || stride[i] < 1 || pad[i] < 0)
            return 3;
    }
    to->n = n;
    return to->kind != 'c' || mode != 1 || type != 0;
}

int
cudnnSetConvolutionGroupCount(void *d, int n)
{
    ((struct descriptor *)d)->groups = n;
    return n < 1;
}

int
cudnnSetConvolutionMathType(void *d, int math)
{
    (void)d;
    return math < 0 || math > 3;
}

struct perf {
    int algo, status;
    float time;
    size_t memory;
    int determinism, math, reserved[3];
};

/* The first it names does not work; the second's sums have no fixed order, and need as many MiB again. */
static int
heuristics(const struct descriptor *x, const struct descriptor *w, const struct descriptor *c,
           const struct descriptor *y, int most_n, int *n, struct perf *p, int answers)
{
    convolutions++;
    if (x->kind != 't' || w->kind != 'f' || c->kind != 'c' || y->kind != 't' || x->n != w->n || y->n != w->n ||
        c->n != w->n - 2 || x->type != w->type || most_n < 3 || x->size[1] != w->size[1] * c->groups ||
        y->size[1] != w->size[0])
        return 3;
    memset(p, 0, sizeof(*p) * 3);
    p[0].status = 9;
    p[0].memory = SIZE_MAX;
    p[1].memory = (size_t)w->size[1] << 20;
    p[2].memory = p[1].memory * 2;
    p[2].determinism = 1;
    *n = answers ? 3 : 1;
    return OK;
}

int
cudnnGetConvolutionForwardAlgorithm_v7(void *handle, void *x, void *w, void *c, void *y, int most_n, int *n,
                                       struct perf *p)
{
    return handle != &handles ? 3 : heuristics(x, w, c, y, most_n, n, p, 1);
}

int
cudnnGetConvolutionBackwardDataAlgorithm_v7(void *handle, void *w, void *y, void *c, void *x, int most_n, int *n,
                                            struct perf *p)
{
    return handle != &handles ? 3 : heuristics(x, w, c, y, most_n, n, p, ((struct descriptor *)c)->groups > 1);
}

int
cudnnGetConvolutionBackwardFilterAlgorithm_v7(void *handle, void *x, void *y, void *c, void *w, int most_n, int *n,
                                              struct perf *p)
{
    return handle != &handles ? 3 : heuristics(x, w, c, y, most_n, n, p, 1);
}

/* ---- cuDNN's graph interface: a device of compute capability 8.0, told about ------------------------------------- */

/* Of six engines the first converts its inputs down and the second's plan can't be made; the third's takes 3 MiB for
 * an output, 5 for a gradient of the weight, 7 for one of the input, with TF32 and in no fixed order. The others take
 * 1 MiB more each: one in order, one without TF32, one that is both. */
struct part {
    int kind, finished, operation, engine;
    int64_t sizes; /* of a tensor: how many */
};
enum {
    ENGINE = 2,
    CONFIG,
    HEURISTICS,
    PLAN,
    FORWARD = 10,
    GRAD_WEIGHT,
    GRAD_INPUT,
    GRAPH = 15,
    TENSOR = 17,
    TOLD = 38
};
enum { ENGINES = 6 };
enum { INT64 = 3, PART = 15, TEXT = 24 };

int
cudnnBackendCreateDescriptor(int kind, void **d)
{
    struct part *p = calloc(1, sizeof(*p));
    p->kind = kind;
    *d = p;
    return fails(__func__);
}

int
cudnnBackendDestroyDescriptor(void *d)
{
    free(d);
    return OK;
}

int
cudnnBackendSetAttribute(void *d, int attribute, int type, int64_t n, const void *v)
{
    struct part *p = d;
    const struct part *of = type == PART ? *(struct part *const *)v : NULL;
    if (p->finished || (of && !of->finished && attribute != 401))
        return 3000;
    switch (attribute) {
    case 2702:
        return p->kind != TOLD || type != TEXT || !memmem(v, (size_t)n, "\"deviceVer\": 800,", 17) ||
               !memmem(v, (size_t)n, "\"memoryBusWidth\": 5120,", 23);
    case 902:
    case 903:
        p->sizes = n;
        return p->kind != TENSOR || type != INT64 || n < 4;
    case 801:
        p->operation = of->kind;
        return p->kind != GRAPH || n != 1;
    case 201:
        p->operation = of->operation;
        return p->kind != HEURISTICS || of->kind != GRAPH;
    case 204:
    case 407:
        return of->kind != TOLD;
    case 401:
        p->operation = of->operation;
        p->engine = of->engine;
        return p->kind != PLAN || of->kind != CONFIG;
    default:
        return of && of->kind == TENSOR && of->sizes < 4;
    }
}

int
cudnnBackendFinalize(void *d)
{
    static uint64_t plans;
    struct part *p = d;
    p->finished = 1;
    if (p->kind == PLAN && p->engine > 1 && plans++ == number("DRIVER_PLANS", UINT64_MAX))
        abort();
    return fails(__func__) || (p->kind == PLAN && p->engine == 1);
}

int
cudnnBackendGetAttribute(void *d, int attribute, int type, int64_t room, int64_t *n, void *to)
{
    struct part *p = d, **parts = to;
    int64_t mib = (p->operation == FORWARD ? 3 : p->operation == GRAD_WEIGHT ? 5 : 7) + p->engine - 2;
    static const int notes[ENGINES][2] = {{1, 1}, {0, 0}, {0, 4}, {0, 0}, {4, 4}, {6, 6}};
    switch (attribute) {
    case 202:
        *n = ENGINES;
        for (int i = 0; i < ENGINES && i < room; i++) {
            parts[i]->operation = p->operation;
            parts[i]->engine = i;
        }
        return p->kind != HEURISTICS || !p->finished;
    case 300:
        parts[0]->engine = p->engine;
        *n = 1;
        return p->kind != CONFIG || parts[0]->kind != ENGINE;
    case 1303:
        memcpy(to, notes[p->engine], sizeof(notes[0])); /* CUDNN_NUMERICAL_NOTE_TENSOR_CORE is 0 */
        *n = 2;
        return p->kind != ENGINE;
    case 402:
        *(int64_t *)to = mib << 20;
        *n = 1;
        return p->kind != PLAN || !p->finished || type != INT64;
    default:
        return 3000;
    }
}

/* ---- cuBLASLt: a product takes all it may ------------------------------------------------------------------------ */

struct matrix {
    char kind;
    int type, transposed[2];
    uint64_t rows, columns, most;
    int64_t ld;
};

size_t
cublasLtGetVersion(void)
{
    return 130100;
}

int
cublasLtCreate(void **handle)
{
    *handle = &products;
    handles++;
    return fails(__func__) || !contexts;
}

int
cublasLtDestroy(void *handle)
{
    handles--;
    return handle != &products;
}

static int
make_matrix(void **m, char kind, int type)
{
    struct matrix *to = calloc(1, sizeof(*to));
    to->kind = kind;
    to->type = type;
    *m = to;
    descriptors++;
    return OK;
}

int
cublasLtMatmulDescCreate(void **d, int compute, int scale)
{
    return make_matrix(d, 'o', scale) || (compute != 68 && compute != 70);
}

int
cublasLtMatmulDescDestroy(void *d)
{
    return unmake(d);
}

int
cublasLtMatmulDescSetAttribute(void *d, int which, const void *value, size_t n)
{
    if (n != 4 || (which != 3 && which != 4))
        return 7;
    memcpy(&((struct matrix *)d)->transposed[which - 3], value, n);
    return OK;
}

int
cublasLtMatrixLayoutCreate(void **m, int type, uint64_t rows, uint64_t columns, int64_t ld)
{
    make_matrix(m, 'm', type);
    struct matrix *to = *m;
    to->rows = rows;
    to->columns = columns;
    to->ld = ld;
    return ld < (int64_t)rows ? 7 : OK;
}

int
cublasLtMatrixLayoutDestroy(void *m)
{
    return unmake(m);
}

int
cublasLtMatrixLayoutSetAttribute(void *m, int which, const void *value, size_t n)
{
    (void)value;
    return ((struct matrix *)m)->kind != 'm' || !((which == 5 && n == 4) || (which == 6 && n == 8));
}

int
cublasLtMatmulPreferenceCreate(void **p)
{
    return make_matrix(p, 'p', 0);
}

int
cublasLtMatmulPreferenceDestroy(void *p)
{
    return unmake(p);
}

int
cublasLtMatmulPreferenceSetAttribute(void *p, int which, const void *value, size_t n)
{
    if (which != 1 || n != 8)
        return 7;
    memcpy(&((struct matrix *)p)->most, value, n);
    return OK;
}

struct choice {
    uint64_t algo[8];
    size_t bytes;
    int state;
    float waves;
    int reserved[4];
};

int
cublasLtMatmulAlgoGetHeuristic(void *handle, void *op, void *a, void *b, void *c, void *d, void *p, int wanted,
                               struct choice *choice, int *n)
{
    const struct matrix *o = op, *x = a, *y = b, *z = c;
    products++;
    uint64_t m = o->transposed[0] ? x->columns : x->rows, k = o->transposed[0] ? x->rows : x->columns,
             l = o->transposed[1] ? y->columns : y->rows, r = o->transposed[1] ? y->rows : y->columns;
    if (handle != &products || o->kind != 'o' || x->kind != 'm' || wanted != 1 || c != d || m != z->rows ||
        r != z->columns || k != l)
        return 7;
    memset(choice, 0, sizeof(*choice));
    choice->bytes = ((const struct matrix *)p)->most;
    *n = 1;
    return OK;
}
