/* SPDX-License-Identifier: Apache-2.0 */
/* workspace.c - what CUDA kernels take from the allocator while they run, beside their results.
 *
 * The rules are those of PyTorch's own host code for compute capability 9.0 (an H100: 132 multiprocessors). Fake
 * tensors take none of it. What CUB's device-wide algorithms ask for was read off PyTorch 2.11's allocator (CUDA 13)
 * over sizes from 4,096 to 2,000,000 elements. Batch norm and Fourier transforms are cuDNN's and cuFFT's, as an H200
 * told.
 */
#include "base/setup.h"
#include "torch/torch.h"

#include <string.h>

enum {
    RANK = 2 * MAX_RANK,
    MULTIPROCESSORS = 132,
    THREADS_PER_MULTIPROCESSOR = 2048,
    WARP = 32,
    ROWS_PER_THREAD = 10, /* of an embedding's gradient */
    ONE_TILE = 2304,      /* pairs that are sorted without a buffer */
    INDEX = 8             /* bytes */
};

static int64_t
least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* ---- reductions -------------------------------------------------------------------------------------------------- */

/* TensorIterator's dimensions, innermost first: strides in bytes. */
struct reduction {
    int rank, reduced; /* the first ones are reduced */
    int64_t size[RANK], in[RANK], out[RANK];
    int64_t element, accumulator; /* bytes */
    int vector;                   /* elements per load along the reduced dimension */
};

/* Whether dimension a comes after b (1), before (-1), or either (0). Source: TensorIteratorBase::reorder_dimensions. */
static int
order(const void *of, int a, int b)
{
    const struct reduction *r = of;
    if ((r->out[a] == 0) != (r->out[b] == 0))
        return r->out[b] == 0 ? 1 : -1;
    const int64_t *strides[] = {r->out, r->in};
    for (int i = 0; i < 2; i++) {
        int64_t sa = strides[i][a], sb = strides[i][b];
        if (sa == 0 || sb == 0)
            continue;
        if (sa != sb)
            return sa < sb ? -1 : 1;
        if (r->size[a] > r->size[b])
            return 1;
    }
    return 0;
}

static void
reorder(struct reduction *r)
{
    struct reduction from = *r;
    int perm[RANK];
    layout_reorder(r->rank, perm, order, &from);
    for (int i = 0; i < r->rank; i++) {
        r->size[i] = from.size[perm[i]];
        r->in[i] = from.in[perm[i]];
        r->out[i] = from.out[perm[i]];
    }
}

/* Source: TensorIteratorBase::coalesce_dimensions. */
static void
coalesce(struct reduction *r)
{
    int at = 0;
    for (int i = 1; i < r->rank; i++) {
        bool joined = r->size[at] == 1 || r->size[i] == 1 ||
                      (r->size[at] * r->in[at] == r->in[i] && r->size[at] * r->out[at] == r->out[i]);
        int to = joined ? at : ++at;
        if (!joined || r->size[at] == 1) {
            r->in[to] = r->in[i];
            r->out[to] = r->out[i];
        }
        r->size[to] = joined ? r->size[at] * r->size[i] : r->size[i];
    }
    r->rank = r->rank ? at + 1 : 0;
    for (int i = 0; i < r->rank; i++)
        r->reduced += r->out[i] == 0;
}

/* Source: setReduceConfig and ReduceConfig in aten/src/ATen/native/cuda/Reduce.cuh. */
static void
reduce_part(const struct reduction *r, struct workspaces *to)
{
    int64_t outputs = 1, inputs = 1, dim0 = 1, dim1 = 1, output_vector = 1;
    for (int i = 0; i < r->rank; i++)
        *(i < r->reduced ? &inputs : &outputs) *= r->size[i];
    bool fastest = r->rank == r->reduced || r->in[0] < r->in[r->reduced];
    if (r->rank) {
        dim0 = fastest ? inputs : outputs;
        dim1 = fastest ? outputs : inputs;
    }
    if (r->rank && r->in[fastest ? 0 : r->reduced] == r->element) {
        if (fastest && dim0 >= 128 && r->reduced == 1)
            dim0 /= r->vector;
        else if (!fastest) {
            output_vector = 4;
            while (r->size[r->reduced] % output_vector)
                output_vector /= 2;
            for (int i = 0; i < r->rank; i++)
                while (i != r->reduced && r->in[i] / r->element % output_vector)
                    output_vector /= 2;
            dim0 /= output_vector;
        }
    }
    int64_t most = 512 / output_vector, p0 = 1, p1 = 1;
    while (2 * p0 <= dim0 && p0 < most)
        p0 *= 2;
    while (2 * p1 <= dim1 && p1 < most)
        p1 *= 2;
    int64_t width = least(p0, WARP), height = least(p1, most / width);
    width = least(p0, most / height);

    int64_t step_input = fastest ? width : 1, step_output = fastest ? 1 : width;
    bool across_warps = div_up(inputs, step_input) >= least(height * 16, 256);
    *(across_warps ? &step_input : &step_output) *= height;
    int64_t values = div_up(inputs, step_input), grid = div_up(outputs / output_vector, step_output);
    int64_t target = MULTIPROCESSORS * (THREADS_PER_MULTIPROCESSOR / (width * height));
    if (!across_warps || values < 256 || grid > target || grid == 0)
        return;
    int64_t blocks = least(div_up(target, grid), div_up(values, 16));
    blocks = blocks > div_up(values, 256) ? blocks : div_up(values, 256);
    if (blocks <= 1)
        return;
    workspaces_add(to, r->accumulator * outputs * blocks * (fastest ? 1 : width * output_vector));
    workspaces_add(to, 4 * grid); /* semaphores */
    workspaces_add(to, 0);
}

/* Kernels index with 32 bits; a longer input is reduced in parts. Source: SplitUntil32Bit and get_dim_to_split in
 * TensorIterator.cpp. */
static void
reduce_parts(const struct reduction *r, struct workspaces *to)
{
    int64_t most = 1, longest = -1, in = 1, out = 1;
    int at = 0;
    for (int i = r->rank - 1; i >= 0; i--) {
        most *= r->size[i];
        in += (r->size[i] - 1) * r->in[i];
        out += (r->size[i] - 1) * r->out[i];
        int64_t extent = (r->size[i] - 1) * (r->in[i] > r->out[i] ? r->in[i] : r->out[i]);
        if (extent > longest) {
            longest = extent;
            at = i;
        }
    }
    if ((most <= INT32_MAX && in <= INT32_MAX && out <= INT32_MAX) || r->size[at] < 2) {
        reduce_part(r, to);
        return;
    }
    struct reduction half = *r;
    half.size[at] = r->size[at] / 2;
    reduce_parts(&half, to);
    half.size[at] = r->size[at] - r->size[at] / 2;
    reduce_parts(&half, to);
}

/* What is reduced: its sizes, then its strides, are an ask's numbers. */
struct reduced {
    int rank, element, accumulator;
    bool gone[RANK];
};

static void
reduce(const struct reduced *of, const int64_t *number, struct workspaces *to)
{
    const int64_t *size = number, *stride = size + of->rank;
    struct reduction r = {
        .rank = of->rank, .element = of->element, .accumulator = of->accumulator, .vector = of->element == 2 ? 8 : 4};
    int64_t run = r.element;
    for (int i = r.rank - 1; i >= 0; i--) {
        r.size[i] = size[i];
        r.in[i] = stride[i] * r.element;
        r.out[i] = of->gone[i] ? 0 : run;
        run *= of->gone[i] ? 1 : size[i];
    }
    reorder(&r);
    coalesce(&r);
    reduce_parts(&r, to);
}

/* Layers that are alike ask the same. */
static void
reduce_blocks(struct machine *m, const struct ask *q, struct workspaces *to)
{
    enum { MOST = 8 /* dimensions */, FEW = 4 /* blocks and ends */ };
    static struct known {
        char of[offsetof(struct reduced, gone) + MOST];
        int64_t number[2 * MOST], bytes[FEW];
        int nnumbers, n;
    } known[64];
    const struct reduced *of = q->of;
    size_t numbers = sizeof(*q->number) * (size_t)q->n;
    uint64_t mixed = (uint64_t)of->accumulator;
    (void)m;
    for (int i = 0; i < of->rank; i++)
        mixed = 2 * mixed + of->gone[i];
    for (int i = 0; i < q->n; i++)
        mixed = (mixed ^ (uint64_t)q->number[i]) * UINT64_C(0x9e3779b97f4a7c15);
    struct known *k = &known[mixed >> 58];
    if (q->n > 2 * MOST || k->nnumbers != q->n || memcmp(k->of, q->of, q->of_bytes) != 0 ||
        memcmp(k->number, q->number, numbers) != 0) {
        int from = to->n;
        reduce(of, q->number, to);
        if (q->n > 2 * MOST || to->n - from > FEW)
            return;
        k->nnumbers = q->n;
        k->n = to->n - from;
        memcpy(k->of, q->of, q->of_bytes);
        memcpy(k->number, q->number, numbers);
        for (int i = 0; i < k->n; i++)
            k->bytes[i] = to->bytes[from + i];
        return;
    }
    for (int i = 0; i < k->n; i++)
        workspaces_add(to, k->bytes[i]);
}

void
reduce_workspace(struct machine *m, const struct value *v, const bool *gone, int accumulator)
{
    struct reduced of = {.rank = v->rank, .element = dtypes[v->dtype].bits / 8, .accumulator = accumulator};
    int64_t number[2 * RANK];
    if (!m->real || !of.element || value_elements(v) == 0 || value_elements(v) >= MAX_STORAGE_BYTES)
        return;
    memcpy(of.gone, gone, sizeof(*gone) * (size_t)v->rank);
    memcpy(number, v->size, sizeof(*number) * (size_t)v->rank);
    memcpy(number + v->rank, v->stride, sizeof(*number) * (size_t)v->rank);
    size_t used = offsetof(struct reduced, gone) + sizeof(*gone) * (size_t)v->rank;
    ask_blocks(m, &(struct ask){reduce_blocks, &of, used, 2 * v->rank, number});
}

/* Sums of a norm's rows. */
struct summed {
    int n, element; /* how many: of weight, of bias; bytes */
};

/* Of many short rows some each are summed first, and these sums in a second pass. */
static void
norm_blocks(struct machine *m, const struct ask *q, struct workspaces *to)
{
    enum { MANY = 64 * 1024, GRID = MANY / 2 };
    const struct summed *of = q->of;
    const int64_t rows = q->number[0], columns = q->number[1];
    (void)m;
    if (rows <= MANY || columns / WARP >= MULTIPROCESSORS / 2)
        return;
    const int64_t parts = least(GRID / div_up(columns, WARP), div_up(rows, WARP));
    const struct reduced sum = {.rank = 2, .element = of->element, .accumulator = 4, .gone = {true, false}};
    for (int i = 0; i < of->n; i++) {
        for (int k = 0; k < of->n; k++)
            workspaces_add(to, parts * columns * of->element);
        const int before = to->n;
        reduce(&sum, (int64_t[]){parts, columns, columns, 1}, to);
        if (to->n == before)
            workspaces_add(to, 0);
    }
}

void
norm_workspace(struct machine *m, int64_t rows, int64_t columns, int sums, int element)
{
    enum { SINCE = 208 };
    const struct summed of = {sums, element};
    if (m->real && m->torch >= SINCE)
        ask_blocks(m, &(struct ask){norm_blocks, &of, sizeof(of), 2, (int64_t[]){rows, columns}});
}

/* ---- CUB --------------------------------------------------------------------------------------------------------- */

/* Aligned to 256 bytes each, and 255 to align the first. */
static int64_t
alias(int64_t a, int64_t b, int64_t c)
{
    return 256 * (div_up(a, 256) + div_up(b, 256) + div_up(c, 256)) + 255;
}

/* Radix sort of n pairs of 8 bytes each, eight bits a pass; from the second pass on between two buffers. */
static int64_t
sort_bytes(int64_t n, int64_t passes)
{
    int64_t other = passes > 1 ? 8 * n : 0;
    return n <= ONE_TILE ? 1 : alias(other, other, 2048 * passes + 1024 * div_up(n, 4608) + 256);
}

/* Decoupled look-back over n elements in tiles, each of which has its state in so many bytes. */
static int64_t
scan_bytes(int64_t n, int64_t tile, int64_t state)
{
    return alias(0, 1, state * (div_up(n, tile) + WARP));
}

static void
sort_blocks(struct machine *m, const struct ask *q, struct workspaces *to)
{
    (void)m;
    workspaces_add(to, sort_bytes(q->number[0], *(const int64_t *)q->of));
    workspaces_add(to, 0);
}

/* A scan of the number elements, or as many as there are rows. */
struct scanned {
    int64_t rows, tile, state;
};
static void
scan_blocks(struct machine *m, const struct ask *q, struct workspaces *to)
{
    const struct scanned *of = q->of;
    (void)m;
    workspaces_add(to, scan_bytes(least(q->number[0], of->rows), of->tile, of->state));
    workspaces_add(to, 0);
}

/* Source: scan_dim in aten/src/ATen/native/cuda/ScanUtils.cuh. */
void
scan_workspace(struct machine *m, const struct value *v, int dim)
{
    static const struct scanned by_bytes[] = {
        [2] = {INT64_MAX, 7680, 16}, [4] = {INT64_MAX, 1920, 8}, [8] = {INT64_MAX, 896, 16}};
    int64_t n = value_elements(v);
    int bytes = dtypes[v->dtype].bits / 8;
    bool whole = n == v->size[dim];
    if (m->real && whole && n > 0 && n < MAX_STORAGE_BYTES && bytes < COUNT(by_bytes) && by_bytes[bytes].tile)
        ask_blocks(m, &(struct ask){scan_blocks, &by_bytes[bytes], sizeof(*by_bytes), 1, &n});
}

/* Of what the gradient of a table takes; the number is that of indices, of which few are not sorted and take none. */
struct lookup {
    int64_t what, rows, row_bytes, index_bytes, is_narrow;
};
enum lookup_what {
    INDICES,  /* sorted; where they were; the range that is sorted along; where runs of one index are */
    SORT,     /* what the sort takes, */
    RUNS,     /* the scan for runs, */
    STARTS,   /* and that for where these begin */
    AMOUNT,   /* of either */
    SEGMENTS, /* one a run, and for each thread's indices once more: */
    PARTS,    /* indices, */
    SUMS,     /* and rows; of a table of few rows indices */
    WIDE      /* all rows of such a table in fp32, where the gradient is not */
};
static void
lookup_blocks(struct machine *m, const struct ask *q, struct workspaces *to)
{
    enum { UNSORTED = 3072 };
    const struct lookup *of = q->of;
    int64_t n = q->number[0], threads = n / ROWS_PER_THREAD, runs = least(n, of->rows), parts = runs + threads;
    bool few = of->rows < 4 * MULTIPROCESSORS && threads > 3 * of->rows;
    const int64_t bytes[] = {[INDICES] = n * of->index_bytes,
                             [SORT] = sort_bytes(n, sizeof(int64_t)),
                             [RUNS] = scan_bytes(n, 4480, 16),
                             [STARTS] = scan_bytes(runs, 896, 16),
                             [AMOUNT] = 8,
                             [SEGMENTS] = runs * of->index_bytes,
                             [PARTS] = parts * of->index_bytes,
                             [SUMS] = parts * (few ? of->index_bytes : of->row_bytes),
                             [WIDE] = few && of->is_narrow ? of->rows * of->row_bytes : 0};
    (void)m;
    workspaces_add(to, n > UNSORTED ? bytes[of->what] : 0);
}

static void
look_up(struct machine *m, struct lookup *of, enum lookup_what what, int64_t n)
{
    of->what = what;
    ask_block(m, &(struct ask){lookup_blocks, of, sizeof(*of), 1, &n});
}

/* Source: embedding_dense_backward_cuda in Embedding.cu, embedding_backward_cuda_kernel in EmbeddingBackwardKernel.cu;
 * the condition for few weights was read off PyTorch 2.11's allocator. */
struct value *
embedding_backward(struct machine *m, struct value *grad, struct value *indices, const struct value *weight)
{
    struct lookup of = {.rows = weight->size[0],
                        .row_bytes = 4 * weight->size[1],
                        .index_bytes = dtypes[indices->dtype].bits / 8,
                        .is_narrow = grad->dtype != DT_FLOAT};
    int64_t n = value_elements(indices);
    if (!m->real || n >= MAX_STORAGE_BYTES)
        return value_new(m, grad->dtype, weight->rank, weight->size, NULL);
    look_up(m, &of, INDICES, n);
    look_up(m, &of, INDICES, n);
    int mark = scope_begin(m);
    look_up(m, &of, INDICES, n);
    look_up(m, &of, SORT, n);
    scope_end(m, mark, 0, NULL);
    struct value *result = value_new(m, grad->dtype, weight->rank, weight->size, NULL);
    look_up(m, &of, INDICES, n);
    look_up(m, &of, AMOUNT, n);
    mark = scope_begin(m);
    look_up(m, &of, INDICES, n);
    look_up(m, &of, RUNS, n);
    scope_end(m, mark, 0, NULL);
    look_up(m, &of, SEGMENTS, n);
    look_up(m, &of, SEGMENTS, n);
    mark = scope_begin(m);
    look_up(m, &of, STARTS, n);
    scope_end(m, mark, 0, NULL);
    look_up(m, &of, AMOUNT, n);
    look_up(m, &of, PARTS, n);
    look_up(m, &of, SUMS, n);
    look_up(m, &of, WIDE, n);
    return result;
}

/* Eight bits each of the largest of so many numbers. */
static int64_t
key_passes(int64_t keys)
{
    int64_t passes = 1;
    for (int64_t last = (keys > 1 ? keys - 1 : 1) >> 8; last; last >>= 8)
        passes++;
    return passes;
}

/* Source: index_put_with_sort_kernel in Indexing.cu, computeLinearIndex in IndexingUtils.h. */
void
index_put_workspace(struct machine *m, const struct value *self, const struct arg *indices, const struct value *values)
{
    int64_t picked = 1, after = 1, n, elements = value_elements(self);
    int count = 0, last = -1, gaps = 0;
    for (int i = 0; indices->kind == ARG_LIST && i < indices->n && i < self->rank; i++) {
        if (indices->list[i].kind != ARG_VALUE)
            continue;
        if (!m->real || indices->list[i].v->dtype == DT_BOOL)
            return;
        gaps += count && last != i - 1;
        picked *= self->size[last = i];
        count++;
    }
    if (!count || !elements || elements >= MAX_STORAGE_BYTES || value_elements(values) >= MAX_STORAGE_BYTES)
        return;
    for (int i = last + 1; i < self->rank; i++)
        after *= self->size[i];
    after = gaps ? elements / picked : after;
    n = value_elements(values) / (elements / picked);
    int mark = scope_begin(m);
    for (int i = 0; i < count; i++) { /* wrapped, then times a stride; the first keeps the sum */
        int one = scope_begin(m);
        workspace_new(m, n * INDEX);
        struct value *linear = workspace_new(m, n * INDEX);
        scope_end(m, one, i == 0, &linear);
    }
    if (gaps)
        workspace_new(m, elements * (dtypes[self->dtype].bits / 8));
    if (!value_contiguous(values))
        workspace_new(m, value_elements(values) * (dtypes[values->dtype].bits / 8));
    for (int i = 0; i < 3; i++) /* sorted, where they were, the range that is sorted along */
        workspace_new(m, n * INDEX);
    int64_t passes = key_passes(elements / after);
    ask_blocks(m, &(struct ask){sort_blocks, &passes, sizeof(passes), 1, &n});
    scope_end(m, mark, 0, NULL);
}

/* ---- cuDNN's batch norm ------------------------------------------------------------------------------------------ */

struct batch_norm {
    int64_t half, backward;
};
enum { NORM_ROWS, NORM_CHANNELS };

/* Sums of tiles of rows, 64 channels side by side. */
static void
batch_norm_blocks(struct machine *m, const struct ask *q, struct workspaces *to)
{
    enum { CHANNELS = 64, FEW = 16, FORWARD = 516, BACKWARD = 512, MORE = 2 };
    const struct batch_norm *of = q->of;
    const int64_t rows = q->number[NORM_ROWS], channels = q->number[NORM_CHANNELS];
    const int64_t unit = channels % 4 ? FEW : CHANNELS, tile = of->backward ? 96 : of->half ? 160 : 64;
    (void)m;
    workspaces_add(to, div_up(channels, unit) * unit * (of->backward ? BACKWARD : FORWARD) / CHANNELS *
                           (div_up(rows, tile) + MORE));
    workspaces_add(to, 0);
}

void
batch_norm_workspace(struct machine *m, const struct value *x, bool backward)
{
    if (!m->real || !cudnn_counted(m) || !value_channels_last(x) || !value_elements(x))
        return;
    const struct batch_norm of = {dtype_is_half(x->dtype), backward};
    const int64_t number[] = {[NORM_ROWS] = value_elements(x) / x->size[1], [NORM_CHANNELS] = x->size[1]};
    ask_blocks(m, &(struct ask){batch_norm_blocks, &of, sizeof(of), COUNT(number), number});
}

/* ---- cuFFT ------------------------------------------------------------------------------------------------------- */

/* Of lengths to 2,000 those whose real transforms have kernels of their own, powers of 2 aside: asked of the library of
 * CUDA 13.0 (h200.tar.xz: fft.tsv). */
static const short own_lengths[] = {
    /* clang-format off */
    3, 5, 6, 7, 9, 10, 11, 12, 13, 14, 15, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 33, 35, 36,
    37, 40, 41, 42, 43, 44, 45, 47, 48, 49, 50, 53, 54, 55, 56, 59, 60, 61, 63, 66, 67, 68, 70, 71, 72, 73, 76, 77,
    79, 80, 81, 83, 84, 88, 89, 90, 92, 96, 97, 99, 100, 101, 103, 104, 105, 107, 108, 109, 110, 112, 113, 120, 121,
    125, 126, 127, 132, 135, 136, 140, 144, 150, 152, 156, 160, 162, 165, 168, 169, 175, 176, 180, 184, 189, 192,
    198, 200, 210, 216, 220, 224, 225, 231, 232, 240, 243, 248, 250, 252, 260, 264, 270, 272, 275, 280, 288, 289,
    297, 300, 304, 308, 315, 320, 324, 330, 336, 343, 350, 352, 360, 361, 364, 368, 378, 380, 384, 385, 392, 396,
    400, 405, 416, 420, 432, 440, 441, 448, 450, 456, 462, 464, 468, 480, 486, 490, 495, 496, 504, 528, 529, 539,
    540, 550, 560, 567, 576, 588, 594, 600, 616, 625, 630, 640, 648, 660, 672, 693, 704, 720, 729, 750, 756, 768,
    770, 784, 792, 800, 810, 840, 841, 864, 875, 880, 891, 896, 924, 945, 960, 961, 972, 990, 1000, 1008, 1080,
    1296, 1331, 1728, 1920,
    /* clang-format on */
};

static bool
has_own_kernels(int64_t length)
{
    bool own = (length & (length - 1)) == 0;
    for (int i = 0; i < COUNT(own_lengths) && own_lengths[i] <= length; i++)
        own |= own_lengths[i] == length;
    return own;
}

/* Whether a complex transform goes by more than one pass, one of them of a large prime; primes themselves, and lengths
 * that have a larger one, don't. */
static bool
has_large_factor(int64_t length)
{
    enum { SMALL = 31, LARGE = 127 };
    int64_t rest = length, last = 0;
    for (int64_t p = 2; p <= LARGE; p++)
        for (; rest > 1 && rest % p == 0; rest /= p)
            last = p;
    return rest == 1 && last > SMALL && last < length;
}

struct transform {
    int64_t bytes; /* of a complex number */
    int64_t real;
};
enum { TRANSFORM_ELEMENTS, TRANSFORM_LENGTH };

/* A copy of the data as complex numbers, two reals in each where the length is even. */
static void
transform_blocks(struct machine *m, const struct ask *q, struct workspaces *to)
{
    const struct transform *of = q->of;
    const int64_t length = q->number[TRANSFORM_LENGTH], bytes = q->number[TRANSFORM_ELEMENTS] * of->bytes;
    const int64_t halves = of->real && length % 2 == 0 ? 2 : 1;
    (void)m;
    workspaces_add(to, (of->real ? !has_own_kernels(length) : has_large_factor(length)) ? bytes / halves : 0);
    workspaces_add(to, 0);
}

/* Source: _exec_fft in native/cuda/SpectralOps.cpp. */
void
transform_workspace(struct machine *m, const struct value *x, int dim, bool real)
{
    const struct transform of = {dtypes[x->dtype].bits / 8 * (real ? 2 : 1), real};
    const int64_t number[] = {[TRANSFORM_ELEMENTS] = value_elements(x), [TRANSFORM_LENGTH] = x->size[dim]};
    if (m->real && m->s->device && number[TRANSFORM_ELEMENTS] && number[TRANSFORM_ELEMENTS] < MAX_STORAGE_BYTES)
        ask_blocks(m, &(struct ask){transform_blocks, &of, sizeof(of), COUNT(number), number});
}
