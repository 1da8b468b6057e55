/* SPDX-License-Identifier: Apache-2.0 */
/* cudnn.c - what cuDNN's convolutions take from the allocator while they run, by a rule.
 *
 * cuDNN says how much workspace a plan needs, and its heuristics say which plan PyTorch takes. Both depend on the
 * compute capability, and on whether a CUDA driver is there: without one it leaves engines out. So there are two kinds
 * of rows. Those of the driver say what was measured on a GPU, and a dash where the same engines are named with a
 * driver and without. There a row behind it counts (more), or the library is asked, or else the other rows say what it
 * would answer. A library that has a driver at hand is asked about everything.
 *
 * Most workspaces are copies of the operands with channels innermost, padded to 16 bytes, and partial sums of a
 * filter's gradient, one copy for each part of a split product. So a size is a sum of
 *
 *     X Y W   bytes of input, output and filter, stored so
 *     S D Q   W times the parts that keep 108 multiprocessors busy, once, twice and four times: a part for each tile of
 *             128 x 128 of the filter
 *     T       filters of 3 x 3 without stride as Winograd's algorithm transforms them, 25 numbers for 9; of others 0
 *     P       a filter's gradient in fp32, of each image
 *     V       of a filter's gradient in fp32, all as Winograd's algorithm transforms it: 36 numbers for each 4 x 4
 *             outputs, and for each filter; likewise of 3 x 3
 *     F       of the same with Fourier's: Y, and twice the larger of its transform and of those of both operands, in
 *             squares of a power of two that hold the output and a filter's margin
 *     G       of a forward pass with Fourier's in fp32: the filters, twice their transforms, and those of both operands
 *     A B C E partial sums of a filter's gradient in fp32, whose pixels are split among multiprocessors: A in tiles of
 *             128 x 128, one on each of 132, B one on each pair, C of 64 x 64 on each, E of 64 x 256 on each pair
 *
 * and 16 bytes, the least that any answer has on top of its sum: so a block as large as the copies is too small. Which
 * sum it is follows from the shape, by comparisons that are written as in C:
 *
 *     c k g   channels in and out, of one group; groups
 *     p m     pixels of the output, of one image and of all
 *     f d     elements of a filter's window; of a filter, c x f
 *     s o     stride; multiply-adds of the whole convolution
 *     u v     1, 2, 4 or 8: by which the channels in and out can be divided
 *     n       1: no stride, no dilation, one group, and either 1 x 1 without padding, which is a product of matrices,
 *             or in two dimensions with padding; 0
 *     w       what P is in percent of input and output, in bytes
 *     t       the side of F's squares
 *     i       A's tiles
 *
 * A dash with a sum behind it is one where that much may be taken instead, and no comparison tells when.
 *
 * Programs that set deterministic or allow_tf32=False have rows of their own, in fp32; those of the driver hold with
 * deterministic, too.
 *
 * tests/oracle/workspaces.py asks the library about the convolutions of many nets, finds the comparisons on one half of
 * the nets and measures them on shapes of the other half that the first has not; it writes cudnn.h. The rows of the
 * driver are from answers on an H200; on 8.0 those of products stand because published figures of an A100 agree.
 */
#include "base/setup.h"
#include "torch/torch.h"

#include <assert.h>
#include <ctype.h>
#include <string.h>

enum { OPERAND_ALIGNMENT = 16, TILE = 128, MULTIPROCESSORS = 108, EXTRA = 16, FIRST_TF32 = 80 };
enum { DRIVEN_MULTIPROCESSORS = 132, DRIVEN_PAIRS = DRIVEN_MULTIPROCESSORS / 2, HALF_TILE = 64, DOUBLE_TILE = 256 };
enum { SINGLE = 4 /* bytes of fp32 */, MOST_SHARE = 1000000 /* percent; beyond it none is compared */ };

static const struct cudnn_rule rules[] = {
#include "torch/cudnn.h"
};

/* What the letters say of a convolution; other characters nothing. Most rules ask for few. */
#define PLACE(letter) ((letter) - 'A')
struct letters {
    const struct kernel_shape *s;
    int64_t in, out; /* channels of one group */
    uint64_t known;  /* bits by place */
    double of[PLACE('z') + 1];
};

static double
divisor(int64_t channels)
{
    return channels % 8 == 0 ? 8 : channels % 4 == 0 ? 4 : channels % 2 == 0 ? 2 : 1;
}

static double
bytes_of(const struct kernel_shape *s)
{
    return dtypes[s->dtype].bits / 8.;
}

static double
elements(const int64_t *size, int from, int to)
{
    double n = 1;
    for (int i = from; i < to; i++)
        n *= (double)size[i];
    return n;
}

/* Of the parts of a split product, as many as keep waves of multiprocessors busy. */
static double
parts(double tiles, int waves)
{
    return tiles >= 1 && tiles < waves * MULTIPROCESSORS ? (double)(int64_t)(waves * MULTIPROCESSORS / tiles) : 1;
}

static int64_t
tiles_of(const struct kernel_shape *s, int rows, int columns)
{
    int64_t row = s->in[1] / s->groups * (int64_t)elements(s->weight, 2, s->rank);
    return div_up(s->out[1], rows) * div_up(row, columns);
}

/* Bytes of the partial sums of a filter's gradient over m pixels, of tiles of which so many are made at a time. Those
 * beyond full waves are split into as many parts as there is room for, if a part has pixels enough. */
static double
partial_sums(const struct kernel_shape *s, double m, int rows, int columns, int at_a_time)
{
    enum { ENOUGH = 784, FEW = 8 /* parts */, ENOUGH_OF_MORE = 1088, ENOUGH_BEHIND_WAVES = 256 };
    int64_t tiles = tiles_of(s, rows, columns), left = tiles % at_a_time, room = left ? at_a_time / left : 0;
    double few = m < FEW * ENOUGH ? m / ENOUGH : FEW, most = m / ENOUGH_OF_MORE;
    most = tiles > at_a_time ? m / ENOUGH_BEHIND_WAVES : most > few ? most : few;
    int64_t split = most < (double)room ? (int64_t)most : room;
    return split > 1 ? (double)(left * split * rows * columns * SINGLE) : 0;
}

static bool
is_plain_3x3(const struct kernel_shape *s)
{
    bool plain = s->rank == 4;
    for (int i = 0; plain && i < 2; i++)
        plain = s->weight[2 + i] == 3 && s->stride[i] == 1 && s->dilation[i] == 1;
    return plain;
}

/* What the letter n says. */
static bool
is_direct(const struct kernel_shape *s)
{
    bool direct = s->groups == 1, padded = false, product = true;
    for (int i = 0; i < s->rank - 2; i++) {
        direct &= s->stride[i] == 1 && s->dilation[i] == 1;
        padded |= s->pad[i] != 0;
        product &= s->weight[2 + i] == 1;
    }
    return direct && (product ? !padded : padded && s->rank == 4);
}

/* The least power of two that holds an output and what a filter reaches beyond. */
static double
square(const struct kernel_shape *s)
{
    int64_t side = 1;
    for (int i = 2; i < s->rank; i++)
        while (side < s->out[i] + s->weight[i] - 1)
            side *= 2;
    return (double)side;
}

/* What a gradient of so many bytes is in percent of input and output. */
static double
share(const struct kernel_shape *s, double gradient)
{
    double percent = 100 * gradient / (bytes_of(s) * (elements(s->in, 0, s->rank) + elements(s->out, 0, s->rank)));
    return percent < MOST_SHARE ? (double)(int64_t)percent : MOST_SHARE;
}

/* Elements of what Winograd's algorithm makes of a filter's gradient of 3 x 3. */
static double
winograd(const struct kernel_shape *s)
{
    enum { OUTPUTS = 4, INPUTS = OUTPUTS + 3 - 1 };
    double in = (double)s->in[1], out = (double)s->out[1];
    double tiles = (double)(s->out[0] * div_up(s->out[2], OUTPUTS) * div_up(s->out[3], OUTPUTS));
    return is_plain_3x3(s) ? INPUTS * INPUTS * (tiles * (in + out) + in * out) : 0;
}

/* Elements of what Fourier's algorithm makes of a filter's gradient: half of each spectrum, in two numbers. */
static double
fourier(const struct kernel_shape *s, double side)
{
    double in = (double)s->in[1], out = (double)s->out[1], operands = (double)s->out[0] * (in + out);
    return elements(s->out, 0, s->rank) + 2 * (in * out > operands ? in * out : operands) * side * (side + 2);
}

/* Bytes of the same of a forward pass, beside the filters. */
static double
fourier_forward(const struct kernel_shape *s, double side)
{
    double in = (double)s->in[1], out = (double)s->out[1], filters = in * out;
    return SINGLE * (2 * filters + (double)s->out[0] * (in + out)) * side * (side + 2);
}

static double say(struct letters *l, char letter);

/* Bytes of so many channels, as they are stored. */
static double
aligned(const struct kernel_shape *s, int64_t channels)
{
    const int64_t bytes = dtypes[s->dtype].bits / 8;
    return (double)(div_up(channels * bytes, OPERAND_ALIGNMENT) * OPERAND_ALIGNMENT);
}

/* Each letter as the head of this file has it. */
static double
read_letter(struct letters *l, char letter)
{
    const struct kernel_shape *s = l->s;
    const bool sums = s->kind == KERNEL_GRAD_WEIGHT;
    switch (letter) {
    case 'c':
        return (double)l->in;
    case 'k':
        return (double)l->out;
    case 'g':
        return (double)s->groups;
    case 'p':
        return elements(s->out, 2, s->rank);
    case 'm':
        return say(l, 'p') * (double)s->out[0];
    case 'f':
        return elements(s->weight, 2, s->rank);
    case 'd':
        return (double)l->in * say(l, 'f');
    case 's':
        return (double)s->stride[0];
    case 'o':
        return say(l, 'm') * (double)s->out[1] * say(l, 'd');
    case 'u':
        return divisor(l->in);
    case 'v':
        return divisor(l->out);
    case 'n':
        return is_direct(s);
    case 't':
        return square(s);
    case 'i':
        return (double)tiles_of(s, TILE, TILE);
    case 'w':
        return share(s, say(l, 'P'));
    case 'P':
        return (double)SINGLE * (double)s->out[0] * (double)l->out * say(l, 'd');
    case 'X':
        return aligned(s, s->in[1]) * elements(s->in, 2, s->rank) * (double)s->in[0];
    case 'Y':
        return aligned(s, s->out[1]) * say(l, 'm');
    case 'W':
        return aligned(s, s->out[1]) * aligned(s, l->in) / bytes_of(s) * say(l, 'f');
    case 'S':
        return say(l, 'W') * parts(say(l, 'i'), 1);
    case 'D':
        return say(l, 'W') * parts(say(l, 'i'), 2);
    case 'Q':
        return say(l, 'W') * parts(say(l, 'i'), 4);
    case 'T':
        return is_plain_3x3(s) ? say(l, 'W') * 25 / 9 : 0;
    case 'V':
        return SINGLE * winograd(s);
    case 'F':
        return SINGLE * fourier(s, say(l, 't'));
    case 'G':
        return say(l, 'W') + fourier_forward(s, say(l, 't'));
    case 'A':
        return sums ? partial_sums(s, say(l, 'm'), TILE, TILE, DRIVEN_MULTIPROCESSORS) : 0;
    case 'B':
        return sums ? partial_sums(s, say(l, 'm'), TILE, TILE, DRIVEN_PAIRS) : 0;
    case 'C':
        return sums ? partial_sums(s, say(l, 'm'), HALF_TILE, HALF_TILE, DRIVEN_MULTIPROCESSORS) : 0;
    case 'E':
        return sums ? partial_sums(s, say(l, 'm'), HALF_TILE, DOUBLE_TILE, DRIVEN_PAIRS) : 0;
    default:
        return 0;
    }
}

static double
say(struct letters *l, char letter)
{
    const uint64_t bit = UINT64_C(1) << PLACE(letter);
    if (!(l->known & bit))
        l->of[PLACE(letter)] = read_letter(l, letter);
    l->known |= bit;
    return l->of[PLACE(letter)];
}

/* A rule that was read: letter <= number ? yes : no, or a sum, or a dash. */
struct rule_read {
    char letter; /* 0: a sum or a dash */
    bool dash;   /* as without a driver */
    double number;
    const struct rule_read *yes, *no;
    int nsummands, cap;
    struct summand {
        double factor;
        char letter; /* 0: none */
    } * summand;
};

/* The whole number that stands at *at, which moves behind it; exact below 2^53. */
static double
number(const char **at)
{
    double n = 0;
    for (; isdigit((unsigned char)**at); ++*at)
        n = 10 * n + (double)(**at - '0');
    return n;
}

/* rule: letter <= number ? rule : rule, or a dash, or a sum of letters, each maybe with a factor, or both. *at moves
 * behind it. */
static const struct rule_read *
read_rule(struct arena *a, const char **at)
{
    struct rule_read *r = NEW(a, struct rule_read);
    if (islower((unsigned char)**at)) {
        r->letter = **at;
        *at += strlen("c<=");
        r->number = number(at);
        ++*at;
        r->yes = read_rule(a, at);
        ++*at;
        r->no = read_rule(a, at);
        return r;
    }
    if (**at == '-') {
        r->dash = true;
        ++*at;
        if (!isupper((unsigned char)**at))
            return r;
    }
    for (bool more = true; more; more = *(*at)++ == '+') {
        double factor = isdigit((unsigned char)**at) ? number(at) : 1;
        *PUSH(a, r->summand, r->nsummands, r->cap) =
            (struct summand){factor, isupper((unsigned char)**at) ? *(*at)++ : 0};
    }
    --*at;
    return r;
}

/* -1: a dash; *most: bytes that may be taken instead. */
static double
evaluate(const struct rule_read *r, struct letters *l, double *most)
{
    double sum = 0;
    while (r->letter)
        r = say(l, r->letter) <= r->number ? r->yes : r->no;
    for (int i = 0; i < r->nsummands; i++)
        sum += r->summand[i].factor * (r->summand[i].letter ? say(l, r->summand[i].letter) : 1);
    *most = r->dash ? sum : 0;
    return r->dash ? -1 : sum;
}

enum { KINDS = 3 /* of kernels that have rules */ };

/* A rule for kernels of that kind, read once a file. */
static const struct rule_read *
rule_text(struct machine *m, const struct cudnn_rule *r, enum kernel_kind kind)
{
    struct derivatives *d = m->derivatives;
    if (!d->rules)
        d->rules = NEWN(d->a, const struct rule_read *, COUNT(rules) * KINDS);
    const struct rule_read **to = &d->rules[(r - rules) * KINDS + kind];
    const char *at = r->workspace[kind];
    if (!*to) {
        *to = read_rule(d->a, &at);
        assert(!*at);
    }
    return *to;
}

/* With both flags the rows without TF32 count. */
static const struct cudnn_rule *
rule_of(struct machine *m, enum dtype t, bool last, bool driver)
{
    static const struct cudnn_rule none;
    const struct cudnn_rule **known = &m->rule_of[t][last][driver];
    bool half = dtype_is_half(t);
    bool no_tf32 = !half && m->s->flags.no_tf32 && m->sm >= FIRST_TF32;
    bool deterministic = !half && !no_tf32 && !driver && m->s->flags.deterministic;
    for (int i = 0; i < COUNT(rules) && !*known && (half || t == DT_FLOAT); i++)
        if (!rules[i].more && rules[i].sm == m->sm && rules[i].half == half && rules[i].last == last &&
            rules[i].driver == driver && rules[i].deterministic == deterministic && rules[i].no_tf32 == no_tf32)
            *known = &rules[i];
    *known = *known ? *known : &none;
    return *known == &none ? NULL : *known;
}

/* The row that counts where r has a dash; NULL none. */
static const struct cudnn_rule *
next_rule(const struct cudnn_rule *r)
{
    return r + 1 < rules + COUNT(rules) && r[1].more ? r + 1 : NULL;
}

static void
note_doubt(struct machine *m, double most)
{
    int64_t bytes = most < (double)MAX_STORAGE_BYTES ? (int64_t)most : MAX_STORAGE_BYTES;
    m->cudnn.doubtful += bytes > 0;
    m->cudnn.doubt = bytes > m->cudnn.doubt ? bytes : m->cudnn.doubt;
}

/* As a rule says, which is returned; NULL none does. */
static const struct cudnn_rule *
ruled(struct machine *m, struct letters *l, bool driver, int64_t *bytes)
{
    const struct cudnn_rule *r = rule_of(m, l->s->dtype, l->s->last, driver);
    double n = -1, most = 0;
    while (r && (n = evaluate(rule_text(m, r, l->s->kind), l, &most)) < 0) {
        note_doubt(m, most);
        r = next_rule(r);
    }
    if (n > 0)
        n += EXTRA;
    *bytes = n < (double)MAX_STORAGE_BYTES ? (int64_t)n : MAX_STORAGE_BYTES;
    return n < 0 ? NULL : r;
}

bool
cudnn_counted(const struct machine *m)
{
    return m->s->device && m->s->cudnn != CUDNN_NONE;
}

int64_t
cudnn_workspace(struct machine *m, const struct kernel_shape *s)
{
    const struct cudnn_library *of = m->s->library;
    struct letters l; /* without clearing what nobody asks for */
    l.s = s;
    l.in = s->in[1] / s->groups;
    l.out = s->out[1] / s->groups;
    l.known = 0;
    int64_t bytes = 0;
    if (!(of && of->driver) && ruled(m, &l, true, &bytes)) {
        m->cudnn.driven++;
        return bytes;
    }
    if (of && of->ask(of->self, m->sm, s, m->s->least, &bytes)) {
        m->cudnn.asked++;
        return bytes;
    }
    const struct cudnn_rule *r = ruled(m, &l, false, &bytes);
    m->cudnn.ruled += r != NULL;
    m->cudnn.unknown += !r;
    if (r && (!m->cudnn.rule || m->cudnn.rule->most < r->most))
        m->cudnn.rule = r;
    return r ? bytes : 0;
}
