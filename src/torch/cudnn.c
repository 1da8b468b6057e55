/* SPDX-License-Identifier: Apache-2.0 */
/* cudnn.c - what cuDNN's convolutions take from the allocator while they run, by a rule.
 *
 * cuDNN says how much workspace a plan needs, and its heuristics say which plan PyTorch takes; both depend on the
 * compute capability and on nothing else of the device. Where the library can't be asked, the rules below say it. Most
 * workspaces are copies of the operands with channels innermost, padded to 16 bytes, and partial sums of a filter's
 * gradient, one copy for each part of a split product. So a size is a sum of
 *
 *     X Y W   bytes of input, output and filter, stored so
 *     S D Q   W times the parts that keep 108 multiprocessors busy, once, twice and four times: a part for each tile of
 *             128 x 128 of the filter
 *     T       filters of 3 x 3 without stride as Winograd's algorithm transforms them, 25 numbers for 9; of others 0
 *
 * and 16 bytes, the least that any answer has on top of its sum: so a block as large as the copies is too small. Which
 * sum it is follows from the shape, by comparisons that are written as in C:
 *
 *     c k g   channels in and out, of one group; groups
 *     p m     pixels of the output, of one image and of all
 *     f d     elements of a filter's window; of a filter, c x f
 *     s o     stride; multiply-adds of the whole convolution
 *     u v     1, 2, 4 or 8: by which the channels in and out can be divided
 *
 * Programs that set deterministic or allow_tf32=False have rows of their own, in fp32.
 *
 * tests/oracle/workspaces.py asks the library about the convolutions of many nets, finds the comparisons on one half of
 * the nets and measures them on shapes of the other half that the first has not; it writes cudnn.h.
 */
#include "base/setup.h"
#include "torch/torch.h"

#include <assert.h>
#include <ctype.h>
#include <string.h>

enum { OPERAND_ALIGNMENT = 16, TILE = 128, MULTIPROCESSORS = 108, EXTRA = 16, FIRST_TF32 = 80 };

static const struct cudnn_rule rules[] = {
#include "torch/cudnn.h"
};

/* What the letters say of a convolution; other characters nothing. */
#define PLACE(letter) ((letter) - 'A')
struct letters {
    double of[PLACE('z') + 1];
};

static double
divisor(int64_t channels)
{
    return channels % 8 == 0 ? 8 : channels % 4 == 0 ? 4 : channels % 2 == 0 ? 2 : 1;
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

static bool
is_plain_3x3(const struct kernel_shape *s)
{
    bool plain = s->rank == 4;
    for (int i = 0; plain && i < 2; i++)
        plain = s->weight[2 + i] == 3 && s->stride[i] == 1 && s->dilation[i] == 1;
    return plain;
}

/* Those that rules compare. */
static void
read_shape(struct letters *l, const struct kernel_shape *s)
{
    double *n = l->of;
    int64_t in = s->in[1] / s->groups, out = s->out[1] / s->groups;
    n[PLACE('c')] = (double)in;
    n[PLACE('k')] = (double)out;
    n[PLACE('g')] = (double)s->groups;
    n[PLACE('p')] = elements(s->out, 2, s->rank);
    n[PLACE('m')] = n[PLACE('p')] * (double)s->out[0];
    n[PLACE('f')] = elements(s->weight, 2, s->rank);
    n[PLACE('d')] = n[PLACE('c')] * n[PLACE('f')];
    n[PLACE('s')] = (double)s->stride[0];
    n[PLACE('o')] = n[PLACE('m')] * (double)s->out[1] * n[PLACE('d')];
    n[PLACE('u')] = divisor(in);
    n[PLACE('v')] = divisor(out);
}

/* Then those of sums. */
static void
read_bytes(struct letters *l, const struct kernel_shape *s)
{
    double *n = l->of;
    int64_t in = s->in[1] / s->groups;
    int bytes = dtypes[s->dtype].bits / 8;
    int64_t unit = OPERAND_ALIGNMENT / bytes;
    n[PLACE('X')] = (double)(div_up(s->in[1], unit) * unit * bytes) * elements(s->in, 2, s->rank) * (double)s->in[0];
    n[PLACE('Y')] = (double)(div_up(s->out[1], unit) * unit * bytes) * n[PLACE('m')];
    n[PLACE('W')] = (double)(div_up(s->out[1], unit) * unit * div_up(in, unit) * unit * bytes) * n[PLACE('f')];
    double tiles = (double)(div_up(s->out[1], TILE) * div_up((int64_t)n[PLACE('d')], TILE));
    n[PLACE('S')] = n[PLACE('W')] * parts(tiles, 1);
    n[PLACE('D')] = n[PLACE('W')] * parts(tiles, 2);
    n[PLACE('Q')] = n[PLACE('W')] * parts(tiles, 4);
    n[PLACE('T')] = is_plain_3x3(s) ? n[PLACE('W')] * 25 / 9 : 0;
}

/* A rule that was read: letter <= number ? yes : no, or a sum. */
struct rule_read {
    char letter; /* 0: a sum */
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

/* rule: letter <= number ? rule : rule, or a sum of letters, each maybe with a factor. *at moves behind it. */
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
    for (bool more = true; more; more = *(*at)++ == '+') {
        double factor = isdigit((unsigned char)**at) ? number(at) : 1;
        *PUSH(a, r->summand, r->nsummands, r->cap) =
            (struct summand){factor, isupper((unsigned char)**at) ? *(*at)++ : 0};
    }
    --*at;
    return r;
}

static double
evaluate(const struct rule_read *r, const struct kernel_shape *s)
{
    struct letters own = {0}, *l = &own;
    double sum = 0;
    bool bytes = false;
    read_shape(l, s);
    while (r->letter)
        r = l->of[PLACE(r->letter)] <= r->number ? r->yes : r->no;
    for (int i = 0; i < r->nsummands; i++)
        bytes |= r->summand[i].letter != 0;
    if (bytes)
        read_bytes(l, s);
    for (int i = 0; i < r->nsummands; i++)
        sum += r->summand[i].factor * (r->summand[i].letter ? l->of[PLACE(r->summand[i].letter)] : 1);
    return sum;
}

enum { KINDS = 3 /* of kernels that have rules */ };

/* A rule for kernels of that kind, read once a run. */
static const struct rule_read *
rule_text(struct machine *m, const struct cudnn_rule *r, enum kernel_kind kind)
{
    if (!m->rules)
        m->rules = NEWN(m->keep, const struct rule_read *, COUNT(rules) * KINDS);
    const struct rule_read **to = &m->rules[(r - rules) * KINDS + kind];
    const char *at = r->workspace[kind];
    if (!*to) {
        *to = read_rule(m->keep, &at);
        assert(!*at);
    }
    return *to;
}

/* With both flags the rows without TF32 count. */
static const struct cudnn_rule *
rule_of(struct machine *m, enum dtype t, bool last)
{
    static const struct cudnn_rule none;
    const struct cudnn_rule **known = &m->rule_of[t][last];
    bool half = dtype_is_half(t);
    bool no_tf32 = !half && m->s->flags.no_tf32 && m->sm >= FIRST_TF32;
    bool deterministic = !half && !no_tf32 && m->s->flags.deterministic;
    for (int i = 0; i < COUNT(rules) && !*known && (half || t == DT_FLOAT); i++)
        if (rules[i].sm == m->sm && rules[i].half == half && rules[i].last == last &&
            rules[i].deterministic == deterministic && rules[i].no_tf32 == no_tf32)
            *known = &rules[i];
    *known = *known ? *known : &none;
    return *known == &none ? NULL : *known;
}

int64_t
cudnn_workspace(struct machine *m, const struct kernel_shape *s)
{
    const struct cudnn_library *of = m->s->library;
    int64_t said;
    if (of && of->ask(of->self, m->sm, s, m->s->least, &said)) {
        m->cudnn.asked++;
        return said;
    }
    const struct cudnn_rule *r = rule_of(m, s->dtype, s->last);
    m->cudnn.ruled += r != NULL;
    m->cudnn.unknown += !r;
    if (!r)
        return 0;
    if (!m->cudnn.rule || m->cudnn.rule->most < r->most)
        m->cudnn.rule = r;
    double bytes = evaluate(rule_text(m, r, s->kind), s);
    if (bytes > 0)
        bytes += EXTRA;
    return bytes < (double)MAX_STORAGE_BYTES ? (int64_t)bytes : MAX_STORAGE_BYTES;
}
