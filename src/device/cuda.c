/* SPDX-License-Identifier: Apache-2.0 */
/* cuda.c - the CUDA driver and NVML, opened at run time: one binary serves machines with and without a GPU.
 *
 * The driver says what is free only to a process with a context; what the context itself takes, NVML knows, where it
 * is there. Of NVML the few prototypes stand here, because its header does not come with every toolkit. Source:
 * pynvml.py of NVIDIA's nvidia-ml-py.
 */
#include "config.h"
#include "device/device.h"

#include <string.h>

#ifdef HAVE_CUDA_H
#include <cuda.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

enum { NVML_PROCESSES = 1024 };

struct nvml_memory { /* nvmlMemory_t */
    unsigned long long total, unused, used;
};
struct nvml_process { /* nvmlProcessInfo_t of _v3 */
    unsigned pid;
    unsigned long long used;
    unsigned gpu_instance, compute_instance;
};

struct cuda {
    void *library, *nvml, *nvml_device;
    CUdevice device;
    CUcontext context;
    CUresult last;
    CUmemAllocationProp kind; /* of memory for expandable segments */
    CUmemAccessDesc access;
    char name[128], bus[32];
    CUresult (*init)(unsigned);
    CUresult (*device_get)(CUdevice *, int);
    CUresult (*device_name)(char *, int, CUdevice);
    CUresult (*attribute)(int *, CUdevice_attribute, CUdevice);
    CUresult (*bus_id)(char *, int, CUdevice);
    CUresult (*retain)(CUcontext *, CUdevice);
    CUresult (*leave)(CUdevice);
    CUresult (*set_current)(CUcontext);
    CUresult (*mem_info)(size_t *, size_t *);
    CUresult (*mem_alloc)(CUdeviceptr *, size_t);
    CUresult (*mem_free)(CUdeviceptr);
    CUresult (*mem_set)(CUdeviceptr, unsigned char, size_t, CUstream);
    CUresult (*synchronize)(void);
    CUresult (*error_name)(CUresult, const char **);
    CUresult (*address_reserve)(CUdeviceptr *, size_t, size_t, CUdeviceptr, unsigned long long);
    CUresult (*address_free)(CUdeviceptr, size_t);
    CUresult (*mem_create)(CUmemGenericAllocationHandle *, size_t, const CUmemAllocationProp *, unsigned long long);
    CUresult (*mem_release)(CUmemGenericAllocationHandle);
    CUresult (*mem_map)(CUdeviceptr, size_t, size_t, CUmemGenericAllocationHandle, unsigned long long);
    CUresult (*mem_unmap)(CUdeviceptr, size_t);
    CUresult (*set_access)(CUdeviceptr, size_t, const CUmemAccessDesc *, size_t);
    int (*nvml_init)(void);
    int (*nvml_shutdown)(void);
    int (*nvml_by_bus)(const char *, void **);
    int (*nvml_memory)(void *, struct nvml_memory *);
    int (*nvml_processes)(void *, unsigned *, struct nvml_process *); /* NULL: an old one, without _v3 */
};

static bool
good(struct cuda *c, CUresult r)
{
    c->last = r;
    return r == CUDA_SUCCESS;
}

static bool
cuda_info(void *self, int64_t *unused, int64_t *total)
{
    struct cuda *c = self;
    size_t f, t;
    if (!good(c, c->mem_info(&f, &t)))
        return false;
    *unused = (int64_t)f;
    *total = (int64_t)t;
    return true;
}

static enum taken
outcome(const struct cuda *c)
{
    return c->last == CUDA_SUCCESS ? TAKEN : c->last == CUDA_ERROR_OUT_OF_MEMORY ? TAKEN_FULL : TAKEN_FAILED;
}

static enum taken
cuda_take(void *self, int64_t bytes, uint64_t *at)
{
    struct cuda *c = self;
    CUdeviceptr p = 0;
    good(c, c->mem_alloc(&p, (size_t)bytes));
    *at = p;
    return outcome(c);
}

static bool
cuda_give(void *self, uint64_t at)
{
    struct cuda *c = self;
    return good(c, c->synchronize()) && good(c, c->mem_free((CUdeviceptr)at));
}

static bool
cuda_reserve(void *self, int64_t bytes, uint64_t *at)
{
    struct cuda *c = self;
    CUdeviceptr p = 0;
    bool ok = good(c, c->address_reserve(&p, (size_t)bytes, 0, 0, 0));
    *at = p;
    return ok;
}

static bool
cuda_release(void *self, uint64_t at, int64_t bytes)
{
    struct cuda *c = self;
    return good(c, c->address_free((CUdeviceptr)at, (size_t)bytes));
}

/* The mapping alone keeps the memory: its handle is released at once. */
static enum taken
cuda_map(void *self, uint64_t at, int64_t bytes)
{
    struct cuda *c = self;
    CUmemGenericAllocationHandle handle;
    if (!good(c, c->mem_create(&handle, (size_t)bytes, &c->kind, 0)))
        return outcome(c);
    CUresult mapped = c->mem_map((CUdeviceptr)at, (size_t)bytes, 0, handle, 0), released = c->mem_release(handle);
    if (!good(c, mapped))
        return outcome(c);
    if (good(c, released) && good(c, c->set_access((CUdeviceptr)at, (size_t)bytes, &c->access, 1)))
        return TAKEN;
    enum taken why = outcome(c);
    c->mem_unmap((CUdeviceptr)at, (size_t)bytes);
    return why;
}

static bool
cuda_unmap(void *self, uint64_t at, int64_t bytes)
{
    struct cuda *c = self;
    return good(c, c->synchronize()) && good(c, c->mem_unmap((CUdeviceptr)at, (size_t)bytes));
}

static bool
cuda_touch(void *self, uint64_t at, int64_t bytes)
{
    struct cuda *c = self;
    return good(c, c->mem_set((CUdeviceptr)at, 0, (size_t)bytes, NULL));
}

static const char *
cuda_error(void *self)
{
    struct cuda *c = self;
    const char *name = NULL;
    c->error_name(c->last, &name);
    return name ? name : "an unknown error";
}

/* ---- NVML -------------------------------------------------------------------------------------------------------- */

static void
cuda_used(void *self, int64_t *all, int64_t *own)
{
    struct cuda *c = self;
    struct nvml_memory memory;
    static struct nvml_process processes[NVML_PROCESSES];
    unsigned n = NVML_PROCESSES;
    *all = *own = -1;
    if (c->nvml && c->nvml_memory(c->nvml_device, &memory) == 0)
        *all = (int64_t)memory.used;
    if (!c->nvml || !c->nvml_processes || c->nvml_processes(c->nvml_device, &n, processes) != 0)
        return;
    for (unsigned i = 0; i < n; i++) /* in a container the process may have another number */
        if (processes[i].pid == (unsigned)getpid() && processes[i].used <= INT64_MAX)
            *own = (int64_t)processes[i].used;
}

static void
nvml_open(struct cuda *c)
{
    const struct symbol symbols[] = {{"nvmlInit_v2", &c->nvml_init},
                                     {"nvmlShutdown", &c->nvml_shutdown},
                                     {"nvmlDeviceGetHandleByPciBusId_v2", &c->nvml_by_bus},
                                     {"nvmlDeviceGetMemoryInfo", &c->nvml_memory},
                                     {"nvmlDeviceGetComputeRunningProcesses_v3", &c->nvml_processes, true},
                                     {NULL, NULL}};
    c->nvml = dlopen("libnvidia-ml.so.1", RTLD_NOW);
    if (c->nvml && !symbols_load(c->nvml, symbols) && c->nvml_init() == 0) {
        if (c->nvml_by_bus(c->bus, &c->nvml_device) == 0)
            return;
        c->nvml_shutdown();
    }
    if (c->nvml)
        dlclose(c->nvml);
    c->nvml = NULL;
}

/* ---- opening and closing ----------------------------------------------------------------------------------------- */

static struct cuda *opened; /* closed when the program ends */

static void
close_cuda(void)
{
    struct cuda *c = opened;
    opened = NULL;
    if (!c)
        return;
    if (c->context)
        c->leave(c->device);
    if (c->nvml) {
        c->nvml_shutdown();
        dlclose(c->nvml);
    }
    dlclose(c->library);
}

static bool
make_context(struct cuda *c, struct device_memory *d)
{
    int64_t all, own, before, total;
    int major, minor;
    if (!good(c, c->init(0)) || !good(c, c->device_get(&c->device, 0)) ||
        !good(c, c->device_name(c->name, sizeof(c->name), c->device)) ||
        !good(c, c->bus_id(c->bus, sizeof(c->bus), c->device)) ||
        !good(c, c->attribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, c->device)) ||
        !good(c, c->attribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, c->device)))
        return false;
    d->sm = 10 * major + minor;
    nvml_open(c);
    cuda_used(c, &before, &own);
    if (!good(c, c->retain(&c->context, c->device)) || !good(c, c->set_current(c->context)))
        return false;
    cuda_used(c, &all, &own);
    d->context = own > 0 ? own : before >= 0 && all >= before ? all - before : -1;
    d->used = c->nvml ? cuda_used : NULL;
    c->kind = (CUmemAllocationProp){.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                    .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = c->device}};
    c->access = (CUmemAccessDesc){.location = c->kind.location, .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    return cuda_info(c, &d->unused, &total);
}

bool
cuda_open(struct arena *a, struct device_memory *d, const char **why)
{
    static bool registered;
    static struct cuda only;
    struct cuda *c = &only;
    const struct symbol symbols[] = {{"cuInit", &c->init},
                                     {"cuDeviceGet", &c->device_get},
                                     {"cuDeviceGetName", &c->device_name},
                                     {"cuDeviceGetAttribute", &c->attribute},
                                     {"cuDeviceGetPCIBusId", &c->bus_id},
                                     {"cuDevicePrimaryCtxRetain", &c->retain},
                                     {"cuDevicePrimaryCtxRelease_v2", &c->leave},
                                     {"cuCtxSetCurrent", &c->set_current},
                                     {"cuMemGetInfo_v2", &c->mem_info},
                                     {"cuMemAlloc_v2", &c->mem_alloc},
                                     {"cuMemFree_v2", &c->mem_free},
                                     {"cuMemsetD8Async", &c->mem_set},
                                     {"cuCtxSynchronize", &c->synchronize},
                                     {"cuGetErrorName", &c->error_name},
                                     {"cuMemAddressReserve", &c->address_reserve},
                                     {"cuMemAddressFree", &c->address_free},
                                     {"cuMemCreate", &c->mem_create},
                                     {"cuMemRelease", &c->mem_release},
                                     {"cuMemMap", &c->mem_map},
                                     {"cuMemUnmap", &c->mem_unmap},
                                     {"cuMemSetAccess", &c->set_access},
                                     {NULL, NULL}};
    memset(c, 0, sizeof(*c));
    *d = (struct device_memory){.self = c,
                                .name = c->name,
                                .context = -1,
                                .info = cuda_info,
                                .take = cuda_take,
                                .give = cuda_give,
                                .reserve = cuda_reserve,
                                .release = cuda_release,
                                .map = cuda_map,
                                .unmap = cuda_unmap,
                                .touch = cuda_touch,
                                .error = cuda_error};
    c->library = dlopen("libcuda.so.1", RTLD_NOW);
    if (!c->library) {
        *why = "no CUDA driver (libcuda.so.1) is installed here";
        return false;
    }
    opened = c;
    if (!registered)
        registered = atexit(close_cuda) == 0;
    const char *missing = symbols_load(c->library, symbols);
    if (!missing && make_context(c, d))
        return true;
    *why = missing ? arena_printf(a, "the CUDA driver has no %s: it is too old", missing)
                   : arena_printf(a, "the CUDA driver says %s", cuda_error(c));
    close_cuda();
    return false;
}

void
cuda_close(struct device_memory *d)
{
    (void)d;
    close_cuda();
}

int
cuda_headers(void)
{
    return CUDA_VERSION;
}

#else

int
cuda_headers(void)
{
    return 0;
}

bool
cuda_open(struct arena *a, struct device_memory *d, const char **why)
{
    (void)a;
    memset(d, 0, sizeof(*d));
    *why = "memlint was built without the CUDA toolkit's headers (configure --with-cuda)";
    return false;
}

void
cuda_close(struct device_memory *d)
{
    (void)d;
}

#endif
