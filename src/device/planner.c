/* SPDX-License-Identifier: Apache-2.0 */
/* planner.c - cuDNN asked for its plans, without a GPU.
 *
 * cuDNN 9.8 and later plan for a device that they are only told about: a descriptor of its properties, written as
 * JSON, takes the place of the handle (documented for compiling ahead of time). Of these properties the plan's
 * workspace depends on the compute capability alone, so a table of generations is all that has to be told. But without
 * a CUDA driver the library leaves engines out, on an H200 seen for products and small filters' gradients: whether a
 * driver is there is said with the version, and cudnn.c asks accordingly.
 *
 * The library runs in a child process within limits: it aborts where it misses a library of its own, and it is much
 * code for a program that reads strangers' files. Questions and answers are the bytes of a struct. What was answered is
 * kept in a file of the user's cache, one for each version of the library, with a driver and without; a file that is
 * not whole is ignored and written anew.
 *
 * The question is PyTorch's: heuristics of mode instant, then the fallback; engines are passed over that convert their
 * inputs down, those that are not deterministic and those with TF32 where the program said so; the first plan that can
 * be made is taken. Under torch.backends.cudnn.benchmark the fastest is, of the first benchmark_limit that run: which
 * only a GPU tells, so the least and the most workspace of these are the answer. Source: filterEngineConfigs,
 * get_plans_from_find and run_single_conv in aten/src/ATen/native/cudnn/Conv_v8.cpp; time_sorted_plan in
 * cudnn_frontend_find_plan.h. Numbers: cudnn_graph.h (cuDNN 9.19).
 */
#include "base/setup.h"
#include "device/device.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    LEAST_VERSION = 90800,
    CHILD_GIB = 16, /* of address space; PyTorch's libraries map two */
    ANSWER_MS = 20000,
    ALL_MS = 180000, /* that are waited for answers, in all */
    MOST_CONFIGS = 256,
    MOST_MADE = MOST_CONFIGS + 64,
    BENCHMARKED = 10, /* torch.backends.cudnn.benchmark_limit, as it is unless a program sets it */
    ALIGNMENT = 32    /* bytes; of any tensor of PyTorch's allocator, as far as Conv_v8.cpp looks */
};

/* Properties beside the compute capability, which have to be there. Source: listings of deviceQuery. */
static const struct generation {
    int sm, multiprocessors, shared, threads, blocks; /* shared: bytes a block may ask for; of a multiprocessor */
    int bus;                                          /* bits, to the memory; 9.28 wants it */
} generations[] = {{75, 40, 65536, 1024, 16, 256},    {80, 108, 166912, 2048, 32, 5120},
                   {86, 82, 101376, 1536, 16, 384},   {89, 128, 101376, 1536, 24, 384},
                   {90, 132, 232448, 2048, 32, 5120}, {100, 148, 232448, 2048, 32, 8192},
                   {120, 170, 101376, 1536, 24, 512}};

struct hello {
    int64_t version; /* 0: it can't be asked */
    int64_t driver;  /* 1: there is a CUDA driver, with a device */
    char why[256];
};
struct answer {
    int64_t least, most; /* one number but under benchmark; -1: there is no plan */
};

/* ---- in the child: the library ----------------------------------------------------------------------------------- */

/* cudnnBackendDescriptorType_t, cudnnBackendAttributeType_t, cudnnBackendAttributeName_t */
enum { CONVOLUTION = 1, ENGINE, CONFIG, HEURISTICS, PLAN, FORWARD = 10, GRAD_WEIGHT, GRAD_INPUT, GRAPH = 15 };
enum { TENSOR = 17, DEVICE = 38 };
enum { T_DATA_TYPE = 1, T_INT64 = 3, T_FLOAT = 4, T_DOUBLE = 5, T_CONVOLUTION_MODE = 7, T_HEUR_MODE = 8 };
enum { T_NOTE = 11, T_DESCRIPTOR = 15, T_CHAR = 24 };
enum { COMPUTE_TYPE = 100, MODE, DILATIONS, STRIDES, POST_PADS, PRE_PADS, DIMENSIONS };
enum { HEUR_MODE = 200, HEUR_GRAPH, HEUR_RESULTS, HEUR_DEVICE = 204, CONFIG_ENGINE = 300, PLAN_CONFIG = 401 };
enum { PLAN_WORKSPACE = 402, PLAN_DEVICE = 407, GRAPH_OPERATIONS = 801, TENSOR_ALIGNMENT = 900, TENSOR_TYPE };
enum { TENSOR_SIZES = 902, TENSOR_STRIDES, TENSOR_ID = 906, ENGINE_NOTES = 1303, DEVICE_JSON = 2702 };
enum { INSTANT, FALLBACK = 2, CROSS_CORRELATION = 1 };
/* cudnnBackendNumericalNote_t */
enum { TENSOR_CORE = 1 << 0, DOWN_CONVERTS = 1 << 1, NONDETERMINISTIC = 1 << 4 };

/* An operation's attributes: alpha, beta, convolution, then the operands. */
static const struct {
    int descriptor, alpha, beta, convolution, x, w, y;
} operations[] = {
    [KERNEL_FORWARD] = {FORWARD, 700, 701, 702, 704, 703, 705},
    [KERNEL_GRAD_INPUT] = {GRAD_INPUT, 706, 707, 708, 710, 709, 711},
    [KERNEL_GRAD_WEIGHT] = {GRAD_WEIGHT, 712, 713, 714, 716, 715, 717},
};

struct session {
    size_t (*version)(void);
    int (*create)(int, void **);
    int (*destroy)(void *);
    int (*set)(void *, int, int, int64_t, const void *);
    int (*get)(void *, int, int, int64_t, int64_t *, void *);
    int (*finalize)(void *);
    const char *(*status_text)(int);
    struct cudnn_flags flags;
    void *device;
    int failed; /* what the first call since it was cleared returned that did not succeed; 0: all did */
    int nmade;
    void *made[MOST_MADE];
};

static void *
make(struct session *c, int descriptor)
{
    void *d = NULL;
    int status = c->nmade == MOST_MADE ? -1 : c->create(descriptor, &d);
    c->failed = c->failed ? c->failed : status;
    if (d)
        c->made[c->nmade++] = d;
    return d;
}

static void
set(struct session *c, void *d, int attribute, int type, int64_t n, const void *v)
{
    if (!c->failed)
        c->failed = c->set(d, attribute, type, n, v);
}

static void
set_int(struct session *c, void *d, int attribute, int type, int v)
{
    int64_t wide = v;
    set(c, d, attribute, type, 1, type == T_INT64 ? (const void *)&wide : &v);
}

static void
finalize(struct session *c, void *d)
{
    if (!c->failed)
        c->failed = c->finalize(d);
}

/* All but the first n. */
static void
unmake(struct session *c, int n)
{
    while (c->nmade > n)
        c->destroy(c->made[--c->nmade]);
}

static void *
tensor(struct session *c, const struct kernel_shape *s, int type, int id, const int64_t *size)
{
    int64_t strides[KERNEL_RANK], run = 1;
    void *d = make(c, TENSOR);
    for (int i = 0; i < s->rank; i++) {
        int at = image_dim(s->rank, s->last, i);
        strides[at] = run;
        run *= size[at];
    }
    set_int(c, d, TENSOR_TYPE, T_DATA_TYPE, type);
    set(c, d, TENSOR_SIZES, T_INT64, s->rank, size);
    set(c, d, TENSOR_STRIDES, T_INT64, s->rank, strides);
    set_int(c, d, TENSOR_ID, T_INT64, id);
    set_int(c, d, TENSOR_ALIGNMENT, T_INT64, ALIGNMENT);
    finalize(c, d);
    return d;
}

/* The graph of one operation. */
static void *
graph(struct session *c, const struct kernel_shape *s)
{
    int type = libraries_type(s->dtype), n = s->rank - 2;
    bool doubles = s->dtype == DT_DOUBLE;
    double one = 1, zero = 0;
    float single = 1, none = 0;
    void *x = tensor(c, s, type, 1, s->in), *w = tensor(c, s, type, 2, s->weight), *y = tensor(c, s, type, 3, s->out);
    void *convolution = make(c, CONVOLUTION), *of = make(c, operations[s->kind].descriptor), *g = make(c, GRAPH);
    set_int(c, convolution, COMPUTE_TYPE, T_DATA_TYPE, libraries_type(doubles ? DT_DOUBLE : DT_FLOAT));
    set_int(c, convolution, MODE, T_CONVOLUTION_MODE, CROSS_CORRELATION);
    set_int(c, convolution, DIMENSIONS, T_INT64, n);
    set(c, convolution, PRE_PADS, T_INT64, n, s->pad);
    set(c, convolution, POST_PADS, T_INT64, n, s->pad);
    set(c, convolution, STRIDES, T_INT64, n, s->stride);
    set(c, convolution, DILATIONS, T_INT64, n, s->dilation);
    finalize(c, convolution);
    set(c, of, operations[s->kind].x, T_DESCRIPTOR, 1, &x);
    set(c, of, operations[s->kind].w, T_DESCRIPTOR, 1, &w);
    set(c, of, operations[s->kind].y, T_DESCRIPTOR, 1, &y);
    set(c, of, operations[s->kind].convolution, T_DESCRIPTOR, 1, &convolution);
    set(c, of, operations[s->kind].alpha, doubles ? T_DOUBLE : T_FLOAT, 1, doubles ? (void *)&one : &single);
    set(c, of, operations[s->kind].beta, doubles ? T_DOUBLE : T_FLOAT, 1, doubles ? (void *)&zero : &none);
    finalize(c, of);
    set(c, g, GRAPH_OPERATIONS, T_DESCRIPTOR, 1, &of);
    finalize(c, g);
    return c->failed ? NULL : g;
}

static bool
passed_over(struct session *c, void *config, enum dtype t)
{
    int notes[32] = {0};
    unsigned all = 0, unwanted = DOWN_CONVERTS | (c->flags.deterministic ? NONDETERMINISTIC : 0) |
                                 (c->flags.no_tf32 && t == DT_FLOAT ? TENSOR_CORE : 0);
    int64_t n = 0;
    void *engine = make(c, ENGINE);
    if (!engine || c->get(config, CONFIG_ENGINE, T_DESCRIPTOR, 1, &n, &engine) ||
        c->get(engine, ENGINE_NOTES, T_NOTE, COUNT(notes), &n, notes))
        return true;
    while (n > 0 && n <= COUNT(notes))
        all |= 1u << (notes[--n] & 31);
    return all & unwanted;
}

static bool
workspace_of(struct session *c, void *config, int64_t *bytes)
{
    void *plan = make(c, PLAN);
    int64_t n = 0;
    c->failed = 0;
    set(c, plan, PLAN_CONFIG, T_DESCRIPTOR, 1, &config);
    set(c, plan, PLAN_DEVICE, T_DESCRIPTOR, 1, &c->device);
    finalize(c, plan);
    return !c->failed && c->get(plan, PLAN_WORKSPACE, T_INT64, 1, &n, bytes) == 0 && n == 1;
}

/* Of plans that heuristics of this mode name and that can be made: at most so many, which is how many are still
 * wanted. */
static void
plans(struct session *c, void *g, int mode, enum dtype t, int *wanted, struct answer *to)
{
    void *h = make(c, HEURISTICS), *configs[MOST_CONFIGS];
    int64_t n = 0, bytes;
    c->failed = 0;
    set_int(c, h, HEUR_MODE, T_HEUR_MODE, mode);
    set(c, h, HEUR_GRAPH, T_DESCRIPTOR, 1, &g);
    set(c, h, HEUR_DEVICE, T_DESCRIPTOR, 1, &c->device);
    finalize(c, h);
    if (c->failed || c->get(h, HEUR_RESULTS, T_DESCRIPTOR, 0, &n, NULL))
        return;
    n = n < MOST_CONFIGS ? n : MOST_CONFIGS;
    for (int i = 0; i < n; i++)
        configs[i] = make(c, CONFIG);
    if (c->failed || c->get(h, HEUR_RESULTS, T_DESCRIPTOR, n, &n, configs))
        return;
    for (int i = 0, made = c->nmade; i < n && *wanted; i++) {
        if (!passed_over(c, configs[i], t) && workspace_of(c, configs[i], &bytes)) {
            to->least = to->least < 0 || bytes < to->least ? bytes : to->least;
            to->most = bytes > to->most ? bytes : to->most;
            --*wanted;
        }
        unmake(c, made);
    }
}

static struct answer
answer_of(struct session *c, const struct kernel_shape *s)
{
    static const int modes[] = {INSTANT, FALLBACK};
    struct answer answer = {-1, -1};
    int wanted = c->flags.benchmark ? BENCHMARKED : 1;
    c->failed = 0;
    void *g = graph(c, s);
    for (int i = 0, made = c->nmade; g && i < COUNT(modes) && wanted; i++) {
        plans(c, g, modes[i], s->dtype, &wanted, &answer);
        unmake(c, made);
    }
    unmake(c, 0);
    return answer;
}

/* The device that is told about; false: cuDNN refuses it. */
static bool
tell_device(struct session *c, int sm)
{
    char json[1024];
    const struct generation *g = generations;
    while (g < generations + COUNT(generations) && g->sm != sm)
        g++;
    if (g == generations + COUNT(generations))
        return false;
    int n = snprintf(
        json, sizeof(json),
        "{\"deviceVer\": %d, \"multiProcessorCount\": %d, \"warpSize\": 32, \"maxSharedMemoryPerBlock\": 49152, "
        "\"maxSharedMemoryPerBlockOptin\": %d, \"oversizedSharedMemoryPerBlock\": 0, \"reservedSharedMemoryPerBlock\": "
        "%d, \"maxRegistersPerSM\": 65536, \"maxCtasPerSM\": %d, \"maxThreadsPerBlock\": 1024, \"maxThreadsPerSM\": "
        "%d, \"regsPerBlock\": 65536, \"totalGlobalMem\": 25769803776, \"smClockRateKHz\": 1500000, \"l2CacheSize\": "
        "41943040, \"maxBlockSize\": [1024, 1024, 64], \"memClockRateKHz\": 5000000, \"memoryBusWidth\": %d, "
        "\"maxGridSize\": [2147483647, 65535, 65535], \"supportCoopLaunch\": 1, \"pciDeviceId\": 0, \"isTccDriver\": "
        "0, \"cudaDeviceId\": 0, \"driverVer\": 13000, \"deviceName\": \"NVIDIA GPU\"}",
        sm * 10, g->multiprocessors, g->shared, sm < 80 ? 0 : 1024, g->blocks, g->threads, g->bus);
    c->failed = 0;
    c->device = make(c, DEVICE);
    set(c, c->device, DEVICE_JSON, T_CHAR, n, json);
    finalize(c, c->device);
    c->nmade = 0; /* it stays */
    return !c->failed;
}

static bool
finds_driver(struct arena *a)
{
    static const char *const names[] = {"libcuda.so.1", NULL};
    int (*init)(unsigned), (*get)(int *, int), device;
    const struct symbol symbols[] = {{"cuInit", &init}, {"cuDeviceGet", &get}, {NULL, NULL}};
    const char *why;
    return libraries_load(a, names, symbols, &why) && init(0) == 0 && get(&device, 0) == 0;
}

static void
open_library(struct session *c, struct arena *a, int sm, struct hello *h)
{
    static const char *const names[] = {"libcudnn.so.9", NULL};
    const struct symbol symbols[] = {{"cudnnGetVersion", &c->version},
                                     {"cudnnBackendCreateDescriptor", &c->create},
                                     {"cudnnBackendDestroyDescriptor", &c->destroy},
                                     {"cudnnBackendSetAttribute", &c->set},
                                     {"cudnnBackendGetAttribute", &c->get},
                                     {"cudnnBackendFinalize", &c->finalize},
                                     {"cudnnGetErrorString", &c->status_text},
                                     {NULL, NULL}};
    const char *why = NULL;
    if (!libraries_load(a, names, symbols, &why))
        snprintf(h->why, sizeof(h->why), "%s", why);
    else if (c->version() < LEAST_VERSION)
        snprintf(h->why, sizeof(h->why), "%s, and only 9.8 and later plan without a GPU",
                 libraries_version(a, "it is cuDNN", c->version(), 10000));
    else if (!tell_device(c, sm))
        snprintf(h->why, sizeof(h->why), "it does not plan for compute capability %d.%d%s%s", sm / 10, sm % 10,
                 c->failed ? ": " : "", c->failed ? c->status_text(c->failed) : "");
    else {
        h->version = (int64_t)c->version();
        h->driver = finds_driver(a);
    }
}

static bool
all_read(int fd, void *to, size_t n)
{
    for (ssize_t got; n; n -= (size_t)got, to = (char *)to + got)
        if ((got = read(fd, to, n)) <= 0)
            return false;
    return true;
}

static bool
all_written(int fd, const void *from, size_t n)
{
    for (ssize_t put; n; n -= (size_t)put, from = (const char *)from + put)
        if ((put = write(fd, from, n)) <= 0)
            return false;
    return true;
}

static void NORETURN
serve(int fd, int sm, struct cudnn_flags flags)
{
    static const struct {
        int what;
        rlim_t most;
    } limits[] = {{RLIMIT_AS, (rlim_t)CHILD_GIB << 30}, {RLIMIT_CPU, ALL_MS / 1000}, {RLIMIT_CORE, 0}};
    struct session c = {.flags = flags};
    struct hello h = {0};
    struct kernel_shape s;
    int quiet = open("/dev/null", O_RDWR);
    for (int i = 0; i < 3; i++)
        dup2(quiet, i); /* the library writes to them as it aborts */
    for (int i = 0; i < COUNT(limits); i++)
        setrlimit(limits[i].what, &(struct rlimit){limits[i].most, limits[i].most});
    open_library(&c, arena_new(), sm, &h);
    bool goes_on = all_written(fd, &h, sizeof(h)) && h.version;
    while (goes_on && all_read(fd, &s, sizeof(s))) {
        struct answer answer = answer_of(&c, &s);
        goes_on = all_written(fd, &answer, sizeof(answer));
    }
    _exit(0);
}

/* ---- in memlint: questions, and what was answered before --------------------------------------------------------- */

struct planner {
    struct arena *a;
    struct cudnn_library *library;
    int sm, fd;
    struct cudnn_flags flags;
    pid_t child;
    int64_t waited; /* milliseconds */
    const char *file;
    bool fresh; /* something was answered that the file has not */
    struct names *seen;
    int n, cap;
    struct known {
        const char *question;
        int64_t bytes;
    } * known;
};

/* A question as a line of the file. */
struct text {
    char line[512];
    int n;
};

static void
add_sizes(struct text *t, const int64_t *v, int n)
{
    for (int i = 0; i < n && t->n < (int)sizeof(t->line); i++)
        t->n += snprintf(t->line + t->n, sizeof(t->line) - (size_t)t->n, "%c%lld", i ? 'x' : ' ', (long long)v[i]);
}

static struct text
question(const struct planner *p, const struct kernel_shape *s, bool least)
{
    struct text t;
    t.n = snprintf(t.line, sizeof(t.line), "%s%s%s%d %d %s %s",
                   !p->flags.benchmark ? ""
                   : least             ? "least "
                                       : "most ",
                   p->flags.deterministic ? "deterministic " : "",
                   p->flags.no_tf32 && s->dtype == DT_FLOAT ? "no-tf32 " : "", p->sm, s->kind, dtypes[s->dtype].torch,
                   s->last ? "channels-last" : "contiguous");
    add_sizes(&t, s->in, s->rank);
    add_sizes(&t, s->weight, s->rank);
    add_sizes(&t, s->out, s->rank);
    add_sizes(&t, s->stride, s->rank - 2);
    add_sizes(&t, s->pad, s->rank - 2);
    add_sizes(&t, s->dilation, s->rank - 2);
    add_sizes(&t, &s->groups, 1);
    return t;
}

static void
learn(struct planner *p, const char *text, int64_t bytes)
{
    names_put(p->seen, text, p->n);
    *PUSH(p->a, p->known, p->n, p->cap) = (struct known){text, bytes};
}

static void
stop(struct planner *p, const char *why)
{
    p->library->ended = why;
    if (p->child <= 0)
        return;
    close(p->fd);
    kill(p->child, SIGKILL);
    waitpid(p->child, NULL, 0);
    p->child = 0;
}

/* The child's next bytes, within the limits; else it is stopped. */
static bool
hear(struct planner *p, void *to, size_t n)
{
    struct pollfd f = {.fd = p->fd, .events = POLLIN};
    struct timespec before, after;
    clock_gettime(CLOCK_MONOTONIC, &before);
    int ready;
    while ((ready = poll(&f, 1, ANSWER_MS)) < 0 && errno == EINTR)
        ;
    clock_gettime(CLOCK_MONOTONIC, &after);
    p->waited += (after.tv_sec - before.tv_sec) * 1000 + (after.tv_nsec - before.tv_nsec) / 1000000;
    if (ready == 1 && p->waited <= ALL_MS && all_read(p->fd, to, n))
        return true;
    stop(p, ready == 0 || p->waited > ALL_MS ? "it took too long" : "it ended by itself");
    return false;
}

static bool
ask(void *self, int sm, const struct kernel_shape *shape, bool least, int64_t *bytes)
{
    struct planner *p = self;
    if (sm != p->sm)
        return false;
    struct text text = question(p, shape, least);
    int at = names_find(p->seen, text.line);
    if (at < 0 && p->child > 0) {
        struct answer answer;
        if (!all_written(p->fd, shape, sizeof(*shape)))
            stop(p, "it ended by itself");
        else if (hear(p, &answer, sizeof(answer))) {
            struct text other = question(p, shape, !least);
            at = p->n;
            learn(p, arena_str(p->a, text.line), least ? answer.least : answer.most);
            if (p->flags.benchmark)
                learn(p, arena_str(p->a, other.line), least ? answer.most : answer.least);
            p->fresh = true;
        }
    }
    if (at < 0 || p->known[at].bytes < 0)
        return false;
    *bytes = p->known[at].bytes;
    return true;
}

/* ---- the file ---------------------------------------------------------------------------------------------------- */

static const char HEAD[] = "memlint: workspaces that cuDNN said, version 1\n";

/* Lines of a question, a tab and bytes; the last says how many. Anything else: nothing is taken. */
static void
cache_read(struct planner *p)
{
    char line[1024], end[64];
    FILE *f = fopen(p->file, "r");
    int n = 0;
    bool whole = false, good = f && fgets(line, sizeof(line), f) && strcmp(line, HEAD) == 0;
    while (good && !whole && fgets(line, sizeof(line), f)) {
        char *tab = strchr(line, '\t'), *rest = NULL;
        snprintf(end, sizeof(end), "end %d\n", n);
        whole = strcmp(line, end) == 0;
        int64_t bytes = tab ? strtoll(tab + 1, &rest, 10) : 0;
        good =
            whole || (tab && rest != tab + 1 && strcmp(rest, "\n") == 0 && bytes >= -1 && bytes <= MAX_STORAGE_BYTES);
        if (good && !whole) {
            learn(p, arena_strn(p->a, line, (size_t)(tab - line)), bytes);
            n++;
        }
    }
    if (f)
        fclose(f);
    p->fresh = !whole;
    if (!whole) {
        p->seen = names_new(p->a);
        p->n = 0;
    }
}

static void
cache_write(struct planner *p)
{
    const char *temporary = arena_printf(p->a, "%s.%ld", p->file, (long)getpid());
    FILE *f = p->fresh && p->n ? fopen(temporary, "wx") : NULL;
    if (!f)
        return;
    fputs(HEAD, f);
    for (int i = 0; i < p->n; i++)
        fprintf(f, "%s\t%lld\n", p->known[i].question, (long long)p->known[i].bytes);
    fprintf(f, "end %d\n", p->n);
    bool bad = ferror(f);
    if (fclose(f) != 0 || bad || rename(temporary, p->file) != 0)
        unlink(temporary);
}

/* The cache's file for that library; its folder is made. NULL: the user has none. */
static const char *
cache_file(struct arena *a, const struct hello *h)
{
    const char *base = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    if (!base || *base != '/') {
        if (!home || *home != '/')
            return NULL;
        base = arena_printf(a, "%s/.cache", home);
    }
    const char *folder = arena_printf(a, "%s/memlint", base);
    mkdir(base, 0700);
    mkdir(folder, 0700);
    return arena_printf(a, "%s/cudnn-%lld%s", folder, (long long)h->version, h->driver ? "-driver" : "");
}

/* ---- opening ----------------------------------------------------------------------------------------------------- */

bool
planner_open(struct arena *a, int sm, struct cudnn_flags flags, struct cudnn_library *l, const char **why)
{
    struct planner *p = NEW(a, struct planner);
    struct hello h = {0};
    int ends[2];
    *p = (struct planner){.a = a, .library = l, .sm = sm, .flags = flags, .seen = names_new(a)};
    *l = (struct cudnn_library){.self = p, .ask = ask};
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0 || (p->child = fork()) < 0) {
        *why = arena_printf(a, "no process can be started: %s", strerror(errno));
        return false;
    }
    if (p->child == 0) {
        close(ends[0]);
        serve(ends[1], sm, flags);
    }
    close(ends[1]);
    p->fd = ends[0];
    if (!hear(p, &h, sizeof(h)) || !h.version) {
        h.why[sizeof(h.why) - 1] = '\0';
        *why = l->ended ? l->ended : arena_str(a, h.why);
        stop(p, NULL);
        return false;
    }
    l->name = libraries_version(a, "cuDNN", (size_t)h.version, 10000);
    l->driver = h.driver;
    if ((p->file = cache_file(a, &h)))
        cache_read(p);
    return true;
}

void
planner_close(struct cudnn_library *l)
{
    struct planner *p = l->self;
    const char *ended = l->ended;
    if (p->file)
        cache_write(p);
    stop(p, ended);
}
