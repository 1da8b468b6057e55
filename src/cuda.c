/* cuda.c - the CUDA driver, opened at run time: one binary serves machines with and without a GPU. */
#include "config.h"
#include "memlint.h"

#include <string.h>

#ifdef HAVE_CUDA_H
#include <cuda.h>
#include <dlfcn.h>

struct cuda {
    void *library;
    CUdevice device;
    CUcontext context;
    CUresult last;
    char name[128];
    CUresult (*init)(unsigned);
    CUresult (*device_get)(CUdevice *, int);
    CUresult (*device_name)(char *, int, CUdevice);
    CUresult (*retain)(CUcontext *, CUdevice);
    CUresult (*release)(CUdevice);
    CUresult (*set_current)(CUcontext);
    CUresult (*mem_info)(size_t *, size_t *);
    CUresult (*mem_alloc)(CUdeviceptr *, size_t);
    CUresult (*mem_free)(CUdeviceptr);
    CUresult (*mem_set)(CUdeviceptr, unsigned char, size_t, CUstream);
    CUresult (*synchronize)(void);
    CUresult (*error_name)(CUresult, const char **);
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

static bool
cuda_take(void *self, int64_t bytes, uint64_t *at)
{
    struct cuda *c = self;
    CUdeviceptr p;
    if (!good(c, c->mem_alloc(&p, (size_t)bytes)))
        return false;
    *at = p;
    return true;
}

static bool
cuda_give(void *self, uint64_t at)
{
    struct cuda *c = self;
    return good(c, c->synchronize()) && good(c, c->mem_free((CUdeviceptr)at));
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

static bool
load(struct cuda *c, const char **missing)
{
    const struct {
        const char *name;
        void *to;
    } symbols[] = {{"cuInit", &c->init},
                   {"cuDeviceGet", &c->device_get},
                   {"cuDeviceGetName", &c->device_name},
                   {"cuDevicePrimaryCtxRetain", &c->retain},
                   {"cuDevicePrimaryCtxRelease_v2", &c->release},
                   {"cuCtxSetCurrent", &c->set_current},
                   {"cuMemGetInfo_v2", &c->mem_info},
                   {"cuMemAlloc_v2", &c->mem_alloc},
                   {"cuMemFree_v2", &c->mem_free},
                   {"cuMemsetD8Async", &c->mem_set},
                   {"cuCtxSynchronize", &c->synchronize},
                   {"cuGetErrorName", &c->error_name}};
    for (int i = 0; i < COUNT(symbols); i++) {
        void *f = dlsym(c->library, symbols[i].name);
        memcpy(symbols[i].to, &f, sizeof(f));
        if (!f) {
            *missing = symbols[i].name;
            return false;
        }
    }
    return true;
}

bool
cuda_open(struct arena *a, struct device_memory *d, const char **why)
{
    struct cuda *c = NEW(a, struct cuda);
    *d = (struct device_memory){c, c->name, cuda_info, cuda_take, cuda_give, cuda_touch, cuda_error};
    c->library = dlopen("libcuda.so.1", RTLD_NOW);
    if (!c->library) {
        *why = "no CUDA driver (libcuda.so.1) is installed here";
        return false;
    }
    if (!load(c, why)) {
        *why = arena_printf(a, "the CUDA driver has no %s: it is too old", *why);
    } else if (good(c, c->init(0)) && good(c, c->device_get(&c->device, 0)) &&
               good(c, c->device_name(c->name, sizeof(c->name), c->device)) &&
               good(c, c->retain(&c->context, c->device))) {
        if (good(c, c->set_current(c->context)))
            return true;
        c->release(c->device);
        *why = cuda_error(c);
    } else {
        *why = arena_printf(a, "the CUDA driver says %s", cuda_error(c));
    }
    dlclose(c->library);
    return false;
}

void
cuda_close(struct device_memory *d)
{
    struct cuda *c = d->self;
    c->release(c->device);
    dlclose(c->library);
}

#else

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
