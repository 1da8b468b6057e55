/* SPDX-License-Identifier: Apache-2.0 */
/* edit.c - programs rewritten: what another author of the model would have written.
 *
 * A rewrite changes calls, parameters or sizes of a copy of the program; what nobody reads any more is removed, and
 * what is counted in calls (names that hold tensors, regions under checkpoint) moves along. It computes no bytes:
 * rules.c runs the step again.
 */
#include "advice/edit.h"

#include <string.h>

enum {
    MOST_SIZES = 16,
    SPARE_CALLS = 128,
    SPARE_SLOTS = 256,
    SPARE_PARAMS = 8,
    SHORTEST = 32 /* length worth cutting */
};

/* ---- copies ------------------------------------------------------------------------------------------------------ */

static void *
widened(struct arena *a, const void *from, int n, int room, size_t size)
{
    void *to = arena_alloc(a, (size_t)(room + 1) * size);
    if (n > 0)
        memcpy(to, from, (size_t)n * size);
    return to;
}

static struct program *
program_copy(struct arena *a, const struct program *p)
{
    struct program *q = arena_dup(a, p, sizeof(*p));
    q->arena = a;
    q->cap_calls = p->ncalls + SPARE_CALLS;
    q->calls = NEWN(a, struct call, q->cap_calls);
    for (int i = 0; i < p->ncalls; i++) {
        q->calls[i] = p->calls[i];
        q->calls[i].args = args_copy(a, p->calls[i].nargs, p->calls[i].args);
    }
    q->cap_params = p->nparams + SPARE_PARAMS;
    q->params = widened(a, p->params, p->nparams, q->cap_params, sizeof(*q->params));
    q->inputs = widened(a, p->inputs, p->ninputs, p->ninputs + 1, sizeof(*q->inputs));
    q->outputs = widened(a, p->outputs, p->noutputs, p->noutputs + 1, sizeof(*q->outputs));
    q->regions = widened(a, p->regions, p->nregions, p->nregions + CHUNKS, sizeof(*q->regions));
    q->units = widened(a, p->units, p->nunits, p->nunits + 1, sizeof(*q->units));
    q->held = widened(a, p->held, p->held ? p->nslots : 0, p->nslots + SPARE_SLOTS, sizeof(*q->held));
    for (int i = p->held ? p->nslots : 0; i < p->nslots + SPARE_SLOTS; i++)
        q->held[i] = -1;
    return q;
}

static int *
count_uses(struct arena *a, const struct program *p)
{
    int *uses = NEWN(a, int, p->nslots + SPARE_SLOTS);
    for (int i = 0, slot; i < p->ncalls; i++)
        for (struct call_reads r = {&p->calls[i]}; (slot = next_read(&r)) >= 0;)
            uses[slot]++;
    for (int i = 0; i < p->noutputs; i++)
        uses[p->outputs[i].slot]++;
    return uses;
}

struct edit
edit_new(struct arena *a, const struct setup *s, const struct program *p)
{
    return (struct edit){.a = a, .setup = *s, .program = program_copy(a, p), .was = p, .uses = NEW(a, int *)};
}

/* Calls that read a slot, and outputs that are it, before the edit. */
static int
uses(const struct edit *e, int64_t slot)
{
    if (!*e->uses) /* most edits do not ask */
        *e->uses = count_uses(e->a, e->was);
    return (*e->uses)[slot];
}

struct edit
edit_setup(struct arena *a, const struct setup *s, const struct program *p)
{
    return (struct edit){.a = a, .setup = *s, .program = arena_dup(a, p, sizeof(*p))};
}

/* ---- moving calls ------------------------------------------------------------------------------------------------ */

/* Those that still have calls: how many. */
static int
move_regions(const struct region *of, int n, const int *to)
{
    struct region *r = (struct region *)of; /* program_copy made it */
    int kept = 0;
    for (int i = 0; i < n; i++) {
        struct region moved = r[i];
        moved.first = to[r[i].first];
        moved.end = to[r[i].end];
        if (moved.first < moved.end)
            r[kept++] = moved;
    }
    return kept;
}

/* What counts calls follows them: to[i] is the new place of call i, of a removed one that of the next. */
static void
renumber(struct program *p, const int *to, int n)
{
    for (int i = 0; i < p->nslots; i++)
        if (p->held[i] >= 0 && p->held[i] < n)
            p->held[i] = to[p->held[i]];
    p->nregions = move_regions(p->regions, p->nregions, to);
    p->nunits = move_regions(p->units, p->nunits, to);
}

/* Room for n calls before call `at`; NULL when an edit wants more than was spared. */
static struct call *
insert_calls(struct edit *e, int at, int n)
{
    struct program *p = e->program;
    if (p->ncalls + n > p->cap_calls)
        return NULL;
    int *to = NEWN(e->a, int, p->ncalls + 1);
    for (int i = 0; i <= p->ncalls; i++)
        to[i] = i < at ? i : i + n;
    renumber(p, to, p->ncalls + 1);
    memmove(&p->calls[at + n], &p->calls[at], sizeof(*p->calls) * (size_t)(p->ncalls - at));
    p->ncalls += n;
    return &p->calls[at];
}

/* Removes calls whose results nobody reads any more, and then those that only they read. */
static void
remove_unread(struct edit *e)
{
    struct program *p = e->program;
    int *to = NEWN(e->a, int, p->ncalls + 1), *uses = count_uses(e->a, p), kept = 0;
    for (int i = p->ncalls - 1; i >= 0; i--) {
        to[i] = p->calls[i].in_place;
        for (int k = 0; k < p->calls[i].nouts; k++)
            to[i] |= uses[p->calls[i].outs[k]] > 0;
        int slot;
        for (struct call_reads r = {&p->calls[i]}; !to[i] && (slot = next_read(&r)) >= 0;)
            uses[slot]--;
    }
    for (int i = 0; i < p->ncalls; i++) {
        bool read = to[i];
        to[i] = kept;
        if (read)
            p->calls[kept++] = p->calls[i];
    }
    to[p->ncalls] = kept;
    renumber(p, to, p->ncalls + 1);
    p->ncalls = kept;
}

static int
slot_new(struct program *p)
{
    return p->nslots++;
}

static void
changed(struct edit *e, const struct call *c)
{
    e->places++;
    e->location = e->location ? e->location : c->location;
}

/* A parameter that goes, or that is kept otherwise. */
static void
changed_param(struct edit *e, const struct param *q)
{
    e->what = e->what ? e->what : q->name;
    *PUSH(e->a, e->names, e->nnames, e->cap_names) = q->name;
}

static struct arg
slot_arg(int slot)
{
    return (struct arg){.kind = ARG_SLOT, .i = slot};
}

static struct arg
int_list(struct arena *a, int n, const int64_t *v)
{
    struct arg x = {.kind = ARG_LIST, .n = n, .list = NEWN(a, struct arg, n + 1)};
    for (int i = 0; i < n; i++)
        x.list[i] = INT(v[i]);
    return x;
}

/* A call in the place of like, with another operator and arguments and a result of its own. */
static struct call
call_new(struct edit *e, const struct call *like, const char *op, int n, const struct arg *args)
{
    struct call c = *like;
    c.op = aten_find(op);
    c.nargs = n;
    c.args = arena_dup(e->a, args, sizeof(*args) * (size_t)n);
    c.nouts = 1;
    c.outs = NEWN(e->a, int, 1);
    c.outs[0] = slot_new(e->program);
    c.rank = -1;
    c.in_place = false;
    return c;
}
#define CALL(e, like, op, ...) call_new(e, like, op, COUNT(((struct arg[]){__VA_ARGS__})), (struct arg[]){__VA_ARGS__})

/* ---- looking ----------------------------------------------------------------------------------------------------- */

/* What operators do, as far as an edit asks. */
enum role {
    ADDS = 1 << 0,
    SUBTRACTS = 1 << 1,
    MULTIPLIES = 1 << 2,
    DIVIDES = 1 << 3,
    SQUARES = 1 << 4,
    ROOTS = 1 << 5,
    INVERTS_ROOT = 1 << 6,
    AVERAGES = 1 << 7,
    VARIES = 1 << 8,
    BROADCASTS = 1 << 9,
    CASTS = 1 << 10,
    CASTS_TO = 1 << 11, /* a type that stands in the call */
    CHOOSES = 1 << 12,  /* by its first argument */
    HIDES = 1 << 13,    /* scores, by a mask */
    SCORES = 1 << 14,   /* may stand between a product and the softmax of attention */
    POINTWISE = 1 << 15,
    EXPONENTIATES = 1 << 16,
    CONTRACTS = 1 << 17,
    PROJECTS = 1 << 18,
    CONVOLVES = 1 << 19,
    LOOKS_UP = 1 << 20,
    DROPS = 1 << 21,
    IS_TANH = 1 << 22,
    IS_ERF = 1 << 23,
    NORMS_CHANNELS = 1 << 24,
    READS_RESULT = 1 << 25, /* not its input, in the derivative of an activation */
    MAKES_OWN = 1 << 26,    /* a tensor that its derivative does not read */
};

static const struct {
    const char *name;
    unsigned roles;
} operators[] = {
    {"add.Scalar", POINTWISE},
    {"add.Tensor", ADDS | SCORES | POINTWISE | MAKES_OWN},
    {"addmm.default", MAKES_OWN},
    {"batch_norm.default", NORMS_CHANNELS | MAKES_OWN},
    {"broadcast_in_dim.default", BROADCASTS},
    {"conv1d.default", CONVOLVES | MAKES_OWN},
    {"conv2d.default", CONVOLVES | MAKES_OWN},
    {"conv3d.default", CONVOLVES | MAKES_OWN},
    {"conv_transpose1d.default", CONVOLVES | MAKES_OWN},
    {"conv_transpose2d.input", CONVOLVES | MAKES_OWN},
    {"conv_transpose3d.input", CONVOLVES | MAKES_OWN},
    {"convolution.default", CONVOLVES | MAKES_OWN},
    {"cudnn_batch_norm.default", NORMS_CHANNELS | MAKES_OWN},
    {"div.Scalar", POINTWISE},
    {"div.Tensor", DIVIDES | SCORES | POINTWISE},
    {"dropout.default", DROPS},
    {"elu.default", READS_RESULT},
    {"embedding.default", LOOKS_UP},
    {"erf.default", IS_ERF},
    {"group_norm.default", MAKES_OWN},
    {"hardtanh.default", READS_RESULT},
    {"layer_norm.default", MAKES_OWN},
    {"leaky_relu.default", READS_RESULT},
    {"linear.default", PROJECTS | MAKES_OWN},
    {"lost_clone.default", SCORES},
    {"masked_fill.Scalar", HIDES | SCORES},
    {"matmul.default", CONTRACTS | MAKES_OWN},
    {"mean.dim", AVERAGES},
    {"mul.Scalar", POINTWISE},
    {"mul.Tensor", MULTIPLIES | SCORES | POINTWISE | MAKES_OWN},
    {"native_batch_norm.default", NORMS_CHANNELS | MAKES_OWN},
    {"pow.Tensor_Scalar", SQUARES | POINTWISE},
    {"relu.default", READS_RESULT},
    {"rsqrt.default", INVERTS_ROOT},
    {"softmax.int", EXPONENTIATES},
    {"sqrt.default", ROOTS},
    {"sub.Tensor", SUBTRACTS},
    {"tanh.default", IS_TANH},
    {"to.dtype", CASTS | CASTS_TO | SCORES},
    {"to_like", CASTS | SCORES},
    {"var.correction", VARIES},
    {"where.Scalar", CHOOSES},
    {"where.ScalarOther", CHOOSES},
    {"where.ScalarSelf", CHOOSES},
    {"where.self", CHOOSES | HIDES | SCORES},
};

static bool
does(const struct call *c, unsigned roles)
{
    static struct {
        const struct aten *op;
        unsigned roles;
    } known[256]; /* lately, by the row's place */
    if (!c || !c->op)
        return false;
    const int at = (int)((c->op - aten_table) % COUNT(known));
    if (known[at].op != c->op) {
        known[at].op = c->op;
        known[at].roles = 0;
        for (int i = 0; i < COUNT(operators); i++)
            known[at].roles |= strcmp(c->op->name, operators[i].name) == 0 ? operators[i].roles : 0;
    }
    return known[at].roles & roles;
}

/* The call that makes a slot which call `before` reads. */
static int
maker_of(const struct program *p, int before, const struct arg *a)
{
    if (a->kind != ARG_SLOT)
        return -1;
    for (int k = before - 1; k >= 0; k--)
        for (int o = 0; o < p->calls[k].nouts; o++)
            if (p->calls[k].outs[o] == a->i)
                return k;
    return -1;
}

static int
maker(const struct program *p, const struct call *c, int i)
{
    return i < c->nargs ? maker_of(p, (int)(c - p->calls), &c->args[i]) : -1;
}

static bool
reads(const struct call *c, int slot)
{
    for (int i = 0; i < c->nargs; i++)
        if (c->args[i].kind == ARG_SLOT && c->args[i].i == slot)
            return true;
    return false;
}

/* The only call that reads the result of call `at`; -1 when several do or none. */
static int
only_reader(const struct edit *e, int at)
{
    const struct program *p = e->program;
    if (p->calls[at].nouts != 1 || uses(e, p->calls[at].outs[0]) != 1)
        return -1;
    for (int i = at + 1; i < p->ncalls; i++)
        if (reads(&p->calls[i], p->calls[at].outs[0]))
            return i;
    return -1;
}

/* Of a call with two operands the one that is not the slot; a number when the other is one. */
static struct arg
other_operand(const struct call *c, int slot)
{
    return c->nargs < 2 ? NONE : c->args[0].kind == ARG_SLOT && c->args[0].i == slot ? c->args[1] : c->args[0];
}

static bool
is_half(const struct arg *a)
{
    return a->kind == ARG_FLOAT && a->f == 0.5;
}

int64_t
edit_elements(const struct param *q)
{
    return sizes_product(q->rank, q->size);
}

bool
edit_owns(const struct param *q)
{
    return q->kind <= PARAM_FROZEN && q->rank >= 0 && q->tied_to < 0;
}

bool
edit_is_table(const struct program *p, const struct param *q)
{
    for (int i = 0; i < p->ncalls; i++) {
        const struct call *c = &p->calls[i];
        if (c->nargs && c->args[0].kind == ARG_SLOT && c->args[0].i == q->slot && does(c, LOOKS_UP))
            return true;
    }
    return false;
}

const struct call *
edit_head(const struct program *p)
{
    for (int i = p->ncalls - 1; i >= 0 && p->noutputs; i--) {
        const struct call *c = &p->calls[i];
        if (c->outs[0] == p->outputs[0].slot)
            return does(c, PROJECTS) && c->rank >= 2 && c->rank <= 3 && c->size[c->rank - 1] >= MANY_ENTRIES &&
                           c->size[c->rank - 2] >= CHUNKS
                       ? c
                       : NULL;
    }
    return NULL;
}

/* The parameter that owns the slot. */
static int
owner(const struct program *p, int64_t slot)
{
    for (int i = 0; i < p->nparams; i++)
        if (edit_owns(&p->params[i]) && p->params[i].slot == slot)
            return i;
    return -1;
}

/* ---- by hand ----------------------------------------------------------------------------------------------------- */

/* softmax(q k^T [scaled] [+ mask]) [dropout] v of rank 4: the calls' positions; false when c is not that softmax. */
struct attention_by_hand {
    int scores, softmax, product; /* calls */
    struct arg mask;
    bool causal, dropout;
};

static bool
find_attention(const struct edit *e, int at, struct attention_by_hand *f)
{
    const struct program *p = e->program;
    const struct call *c = &p->calls[at];
    *f = (struct attention_by_hand){.softmax = at, .scores = -1, .product = -1};
    if (!does(c, EXPONENTIATES) || c->rank != 4)
        return false;
    for (int k = maker(p, c, 0), steps = 0; k >= 0 && steps < 8; steps++) {
        const struct call *d = &p->calls[k];
        if (does(d, CONTRACTS)) {
            f->scores = k;
            break;
        }
        if (!does(d, SCORES))
            return false;
        if (does(d, ADDS) && d->nargs > 1 && d->args[1].kind == ARG_SLOT) {
            if (f->mask.kind != ARG_NONE)
                return false;          /* which would have to be added up */
            int made = maker(p, d, 1); /* of a float mask made from a boolean one, fused attention takes the latter */
            f->mask = made >= 0 && does(&p->calls[made], CHOOSES) ? p->calls[made].args[0] : d->args[1];
        }
        f->causal |= does(d, HIDES);
        k = maker(p, d, does(d, CHOOSES)); /* where(mask, scores, low) */
    }
    for (int k = at, steps = 0; f->scores >= 0 && steps < 6; steps++) {
        int next = only_reader(e, k); /* weights that somebody else reads have to be there */
        const struct call *d = next < 0 ? NULL : &p->calls[next];
        if (!d || maker(p, d, 0) != k)
            return false;
        if (does(d, CONTRACTS)) {
            f->product = next;
            return true;
        }
        f->dropout |= does(d, DROPS);
        k = next;
    }
    return false;
}

void
edit_attention(struct edit *e)
{
    struct program *p = e->program;
    for (int i = 0; i < p->ncalls; i++) {
        struct attention_by_hand f;
        if (!find_attention(e, i, &f))
            continue;
        struct call *scores = &p->calls[f.scores], *product = &p->calls[f.product];
        struct call *turned = &p->calls[f.softmax]; /* becomes k: the transpose of k^T */
        changed(e, turned);
        struct arg back[] = {scores->args[1], INT(-2), INT(-1)};
        turned->op = aten_find("transpose.int");
        turned->nargs = COUNT(back);
        turned->args = arena_dup(e->a, back, sizeof(back));
        turned->rank = -1;
        struct arg fused[] = {scores->args[0], slot_arg(turned->outs[0]), product->args[1],
                              f.mask,          FLT(f.dropout ? 0.1 : 0),  BOOL(f.causal && f.mask.kind == ARG_NONE)};
        product->op = aten_find("scaled_dot_product_attention.default");
        product->nargs = COUNT(fused);
        product->args = arena_dup(e->a, fused, sizeof(fused));
    }
    if (e->places)
        remove_unread(e);
}

enum { MOST_POINTWISE = 12 };

/* Whether a slot is computed from the slot x and constants by pointwise calls only. */
static bool
pointwise_of(const struct program *p, int before, const struct arg *a, int64_t x, int *budget)
{
    if (a->kind != ARG_SLOT || a->i == x)
        return true;
    int at = maker_of(p, before, a);
    if (at < 0 || !does(&p->calls[at], POINTWISE) || --*budget < 0)
        return false;
    for (int i = 0; i < p->calls[at].nargs; i++)
        if (!pointwise_of(p, at, &p->calls[at].args[i], x, budget))
            return false;
    return true;
}

/* Call `at` times something: the slot that times 0.5 is the other factor, or is it; *end the product, or its half. */
static int64_t
gelu_source(const struct edit *e, int at, int *end)
{
    const struct program *p = e->program;
    int one = only_reader(e, at), two = one < 0 ? -1 : only_reader(e, one);
    if (two < 0 || !does(&p->calls[one], ADDS) || !does(&p->calls[two], MULTIPLIES))
        return -1;
    struct arg other = other_operand(&p->calls[two], p->calls[one].outs[0]);
    int half = maker_of(p, two, &other), three = only_reader(e, two);
    *end = two;
    if (half >= 0 && does(&p->calls[half], MULTIPLIES) && p->calls[half].nargs > 1 &&
        (is_half(&p->calls[half].args[1]) || is_half(&p->calls[half].args[0])))
        other = p->calls[half].args[is_half(&p->calls[half].args[0])];
    else if (three >= 0 && does(&p->calls[three], MULTIPLIES) &&
             (is_half(&p->calls[three].args[1]) || is_half(&p->calls[three].args[0])))
        *end = three;
    else
        return -1;
    return other.kind == ARG_SLOT ? other.i : -1;
}

void
edit_gelu(struct edit *e)
{
    struct program *p = e->program;
    for (int i = 0; i < p->ncalls; i++) {
        bool tanh = does(&p->calls[i], IS_TANH);
        int end, budget = MOST_POINTWISE;
        int64_t x = tanh || does(&p->calls[i], IS_ERF) ? gelu_source(e, i, &end) : -1;
        if (x < 0 || !pointwise_of(p, i, &p->calls[i].args[0], x, &budget))
            continue;
        struct arg args[] = {slot_arg((int)x), {.kind = ARG_TEXT, .s = tanh ? "tanh" : "none"}};
        struct call *c = &p->calls[end];
        c->op = aten_find("gelu.default");
        c->nargs = COUNT(args);
        c->args = arena_dup(e->a, args, sizeof(args));
        changed(e, c);
        e->what = e->what ? e->what : args[1].s;
    }
    if (e->places)
        remove_unread(e);
}

/* The call behind conversions that fp32 does without. */
static int
through_casts(const struct edit *e, int at)
{
    while (at >= 0 && does(&e->program->calls[at], CASTS))
        at = only_reader(e, at);
    return at;
}

/* rsqrt(mean(x^2) + eps) at call `at`: the scaled product and x; false when it is something else. */
static bool
find_rms_norm(const struct edit *e, int at, int *end, struct arg *x, struct arg *weight, double *eps)
{
    const struct program *p = e->program;
    int add = maker(p, &p->calls[at], 0), mean = add < 0 ? -1 : maker(p, &p->calls[add], 0);
    int square = mean < 0 ? -1 : maker(p, &p->calls[mean], 0), scaled = only_reader(e, at);
    if (scaled < 0 || square < 0 || !does(&p->calls[add], ADDS) || !does(&p->calls[mean], AVERAGES) ||
        !does(&p->calls[square], SQUARES) || !does(&p->calls[scaled], MULTIPLIES))
        return false;
    *x = p->calls[square].args[0];
    if (!reads(&p->calls[scaled], (int)x->i) || p->calls[scaled].rank < 1)
        return false;
    *eps = p->calls[add].nargs > 1 && p->calls[add].args[1].kind == ARG_FLOAT ? p->calls[add].args[1].f : 0;
    int cast = maker_of(p, square, x);
    if (cast >= 0 && does(&p->calls[cast], CASTS_TO))
        *x = p->calls[cast].args[0];
    int read = only_reader(e, scaled);
    *end = through_casts(e, read);
    if (*end < 0 || !does(&p->calls[*end], MULTIPLIES))
        return false;
    for (int i = 0; i < 2 && p->calls[*end].nargs > 1; i++) {
        *weight = p->calls[*end].args[i];
        if (weight->kind == ARG_SLOT && owner(p, weight->i) >= 0)
            return true;
    }
    return false;
}

void
edit_rms_norm(struct edit *e)
{
    struct program *p = e->program;
    for (int i = 0; i < p->ncalls; i++) {
        int end;
        struct arg x, weight;
        double eps;
        if (!does(&p->calls[i], INVERTS_ROOT) || !find_rms_norm(e, i, &end, &x, &weight, &eps))
            continue;
        struct call *c = &p->calls[end];
        if (c->rank < 1)
            continue;
        struct arg args[] = {x, int_list(e->a, 1, &c->size[c->rank - 1]), weight, FLT(eps)};
        c->op = aten_find("rms_norm.default");
        c->nargs = COUNT(args);
        c->args = arena_dup(e->a, args, sizeof(args));
        changed(e, c);
    }
    if (e->places)
        remove_unread(e);
}

/* The mean of slot x over its last dimension, or its variance as a power, a square or var gives it. */
static bool
is_statistic(const struct program *p, int at, int64_t x, bool variance)
{
    if (at < 0)
        return false;
    const struct call *c = &p->calls[at];
    if (does(c, BROADCASTS))
        return is_statistic(p, maker(p, c, 0), x, variance);
    if (!variance || does(c, VARIES))
        return (variance || does(c, AVERAGES)) && c->args[0].kind == ARG_SLOT && c->args[0].i == x;
    int square = does(c, AVERAGES) ? maker(p, c, 0) : -1;
    const struct call *q = square < 0 ? NULL : &p->calls[square];
    int centred = q && does(q, SQUARES | MULTIPLIES) ? maker(p, q, 0) : -1;
    return centred >= 0 && does(&p->calls[centred], SUBTRACTS) && reads(&p->calls[centred], (int)x) &&
           (!does(q, MULTIPLIES) || maker(p, q, 1) == centred);
}

/* sqrt or rsqrt of the variance of slot x and a number, argument i of a call. */
static bool
is_deviation(const struct program *p, const struct call *c, int i, int64_t x, double *eps)
{
    int root = maker(p, c, i), add = root < 0 ? -1 : maker(p, &p->calls[root], 0);
    const struct call *a = add < 0 ? NULL : &p->calls[add];
    if (!a || !does(&p->calls[root], does(c, DIVIDES) ? ROOTS : INVERTS_ROOT) || !does(a, ADDS) || a->nargs < 2 ||
        a->args[1].kind != ARG_FLOAT)
        return false;
    *eps = a->args[1].f;
    return is_statistic(p, maker(p, a, 0), x, true);
}

/* The parameter among the operands of the only call of that kind that reads the result of call *at; *at moves there. */
static struct arg
next_parameter(const struct edit *e, int *at, enum role r)
{
    const struct program *p = e->program;
    int next = only_reader(e, *at);
    if (next < 0 || !does(&p->calls[next], r))
        return NONE;
    struct arg q = other_operand(&p->calls[next], p->calls[*at].outs[0]);
    if (q.kind != ARG_SLOT || owner(p, q.i) < 0)
        return NONE;
    *at = next;
    return q;
}

void
edit_layer_norm(struct edit *e)
{
    struct program *p = e->program;
    for (int i = 0; i < p->ncalls; i++) {
        const struct call *c = &p->calls[i]; /* (x - mean) / deviation */
        int sub = does(c, DIVIDES | MULTIPLIES) ? maker(p, c, 0) : -1, end = i;
        double eps;
        if (sub < 0 || c->rank < 1 || !does(&p->calls[sub], SUBTRACTS) || p->calls[sub].args[0].kind != ARG_SLOT ||
            !is_statistic(p, maker(p, &p->calls[sub], 1), p->calls[sub].args[0].i, false) ||
            !is_deviation(p, c, 1, p->calls[sub].args[0].i, &eps))
            continue;
        struct arg weight = next_parameter(e, &end, MULTIPLIES);
        struct arg bias = weight.kind == ARG_SLOT ? next_parameter(e, &end, ADDS) : NONE;
        struct arg args[] = {p->calls[sub].args[0], int_list(e->a, 1, &c->size[c->rank - 1]), weight, bias, FLT(eps)};
        struct call *to = &p->calls[end];
        to->op = aten_find("layer_norm.default");
        to->nargs = COUNT(args);
        to->args = arena_dup(e->a, args, sizeof(args));
        changed(e, to);
    }
    if (e->places)
        remove_unread(e);
}

/* ---- head and loss ----------------------------------------------------------------------------------------------- */

/* The loss is computed by the program, part by part, and its sum is what the loop then takes for the loss. */
void
edit_chunks(struct edit *e)
{
    struct program *p = e->program;
    const struct call *found = edit_head(p);
    const struct loss **loss = loss_of(e->a, p, &e->setup);
    if (!found || p->noutputs != 1 || loss[0] != loss_find("cross-entropy"))
        return;
    enum { EACH = 6 };
    struct call head = *found, made[CHUNKS * EACH] = {{0}};
    for (int i = 0; i < p->nregions; i++)
        if (p->regions[i].end > (int)(found - p->calls))
            p->nregions = i; /* the chunks are under checkpoint themselves */
    int at = (int)(found - p->calls), axis = head.rank - 2, n = 0, sum = -1;
    int64_t total = head.size[axis], step = (total + CHUNKS - 1) / CHUNKS, classes = head.size[head.rank - 1];
    struct input *target = &p->inputs[p->ninputs];
    *target = (struct input){"targets", slot_new(p), DT_INT64, head.rank - 1, head.size};
    changed(e, &head);
    struct region *r = (struct region *)p->regions;
    for (int64_t from = 0; from < total; from += step) {
        struct arg to = INT(from + step < total ? from + step : total);
        int64_t rows[] = {-1, classes};
        struct call h = CALL(e, &head, "slice.Tensor", head.args[0], INT(axis), INT(from), to, INT(1));
        struct call t = CALL(e, &head, "slice.Tensor", slot_arg(target->slot), INT(axis), INT(from), to, INT(1));
        struct call y = call_new(e, &head, "linear.default", head.nargs, head.args);
        y.args[0] = slot_arg(h.outs[0]);
        struct call flat = CALL(e, &head, "reshape.default", slot_arg(y.outs[0]), int_list(e->a, 2, rows));
        struct call row = CALL(e, &head, "reshape.default", slot_arg(t.outs[0]), int_list(e->a, 1, rows));
        struct call loss_of =
            CALL(e, &head, "cross_entropy_loss.default", slot_arg(flat.outs[0]), slot_arg(row.outs[0]));
        struct call *all[] = {&h, &t, &y, &flat, &row, &loss_of};
        for (int i = 0; i < COUNT(all); i++)
            made[n++] = *all[i];
    }
    struct call sums[CHUNKS];
    int parts = n / EACH;
    for (int i = 0; i < parts; i++) {
        int part = made[i * EACH + EACH - 1].outs[0];
        sums[i] = CALL(e, &head, "add.Tensor", slot_arg(sum < 0 ? part : sum), slot_arg(part));
        sum = i ? sums[i].outs[0] : part;
    }
    struct call *to = insert_calls(e, at, n + parts - 1);
    if (!to) {
        e->places = 0;
        return;
    }
    for (int i = 0, k = 0; i < parts; i++) { /* slices, head and loss, sum */
        memcpy(&to[k], &made[i * EACH], sizeof(*to) * EACH);
        r[p->nregions++] = (struct region){at + k + 2, at + k + EACH};
        k += EACH;
        if (i)
            to[k++] = sums[i];
    }
    at += n + parts - 1; /* the head itself, which is the output's maker */
    memmove(&p->calls[at], &p->calls[at + 1], sizeof(*p->calls) * (size_t)(p->ncalls - at - 1));
    for (int i = 0; i < p->nslots; i++)
        p->held[i] -= p->held[i] >= at;
    p->ncalls--;
    p->ninputs++;
    p->outputs[0].slot = sum;
    e->setup.loss = loss_find("sum");
    e->setup.nterms = 0;
}

/* ---- tables ------------------------------------------------------------------------------------------------------ */

/* Sizes that become others, all at once. */
struct sizes {
    int n;
    struct {
        int64_t from, to;
    } size[MOST_SIZES];
};

static bool
is_resized(const struct sizes *z, int64_t size, int64_t *to)
{
    for (int i = 0; i < z->n; i++)
        if (z->size[i].from == size) {
            *to = z->size[i].to;
            return true;
        }
    return false;
}

static void
resize(struct arena *a, int rank, const int64_t **size, const struct sizes *z)
{
    int64_t *s = rank > 0 ? arena_dup(a, *size, sizeof(*s) * (size_t)rank) : NULL;
    for (int i = 0; i < rank; i++)
        is_resized(z, s[i], &s[i]);
    *size = s ? s : *size;
}

static void
resize_args(struct arg *args, int n, const struct sizes *z)
{
    for (int i = 0; i < n; i++) {
        if (args[i].kind == ARG_INT)
            is_resized(z, args[i].i, &args[i].i);
        if (args[i].kind == ARG_LIST)
            resize_args(args[i].list, args[i].n, z);
    }
}

static void
resize_all(struct edit *e, const struct sizes *z)
{
    struct program *p = e->program;
    for (int i = 0; i < p->ninputs; i++)
        resize(e->a, p->inputs[i].rank, &p->inputs[i].size, z);
    for (int i = 0; i < p->nparams; i++)
        resize(e->a, p->params[i].rank, &p->params[i].size, z);
    for (int i = 0; i < p->ncalls; i++) {
        resize(e->a, p->calls[i].rank, &p->calls[i].size, z);
        resize_args(p->calls[i].args, p->calls[i].nargs, z);
    }
}

int64_t
edit_entries(const struct program *p)
{
    int64_t best = 0, most = 0;
    for (int i = 0; i < p->nparams; i++)
        if (edit_owns(&p->params[i]) && p->params[i].rank == 2 && p->params[i].size[0] >= MANY_ENTRIES &&
            edit_is_table(p, &p->params[i])) {
            int64_t n = 0;
            for (int k = 0; k < p->nparams; k++)
                if (edit_owns(&p->params[k]) && p->params[k].rank > 0 && p->params[k].size[0] == p->params[i].size[0])
                    n += edit_elements(&p->params[k]);
            if (n > most) {
                most = n;
                best = p->params[i].size[0];
            }
        }
    return best;
}

void
edit_half_vocabulary(struct edit *e)
{
    e->size = edit_entries(e->program);
    e->places = e->size > 0;
    if (e->places)
        resize_all(e, &(struct sizes){1, {{e->size, e->size / 2}}});
}

/* One tensor for both. */
static void
tie(struct edit *e, int table, int copy)
{
    struct program *p = e->program;
    int from = p->params[copy].slot, to = p->params[table].slot;
    for (int i = 0, slot; i < p->ncalls; i++)
        for (struct call_reads r = {&p->calls[i]}; (slot = next_read(&r)) >= 0;)
            r.at->i = slot == from ? to : slot;
    for (int i = 0; i < p->nparams; i++)
        if (p->params[i].slot == from) {
            p->params[i].slot = to;
            p->params[i].tied_to = table;
        }
    e->places++;
    e->what = p->params[table].name;
    e->with = p->params[copy].name;
}

static bool
same_shape(const struct param *a, const struct param *b)
{
    return a->rank == 2 && b->rank == 2 && a->size[0] == b->size[0] && a->size[1] == b->size[1];
}

void
edit_tied(struct edit *e)
{
    struct program *p = e->program;
    const struct call *c = edit_head(p);
    int head = c && c->nargs > 1 && c->args[1].kind == ARG_SLOT ? owner(p, c->args[1].i) : -1;
    for (int i = 0; i < p->nparams && head >= 0; i++)
        if (i != head && edit_owns(&p->params[i]) && same_shape(&p->params[i], &p->params[head]) &&
            edit_is_table(p, &p->params[i])) {
            e->location = c->location;
            tie(e, i, head);
            return;
        }
}

void
edit_equal_tables(struct edit *e)
{
    struct program *p = e->program;
    for (int i = 0; i < p->nparams; i++)
        for (int k = i + 1; k < p->nparams && edit_owns(&p->params[i]); k++)
            if (edit_owns(&p->params[k]) && same_shape(&p->params[i], &p->params[k]) &&
                p->params[i].size[0] >= MANY_ENTRIES) {
                if (!edit_is_table(p, &p->params[i]))
                    break;
                if (edit_is_table(p, &p->params[k]))
                    tie(e, i, k);
            }
}

static int
param_new(struct edit *e, int64_t rows, int64_t columns)
{
    struct program *p = e->program;
    int64_t size[] = {rows, columns};
    p->params[p->nparams] = (struct param){.name = "projection.weight",
                                           .slot = slot_new(p),
                                           .tied_to = -1,
                                           .dtype = DT_FLOAT,
                                           .rank = 2,
                                           .size = arena_dup(e->a, size, sizeof(size))};
    return p->params[p->nparams++].slot;
}

/* A projection to `width` before the call. */
static void
project_input(struct edit *e, int at, int64_t width, int64_t from)
{
    int weight = param_new(e, width, from);
    struct call like = e->program->calls[at];
    struct call c = CALL(e, &like, "linear.default", like.args[0], slot_arg(weight));
    struct call *to = insert_calls(e, at, 1);
    if (to) {
        *to = c;
        to[1].args[0] = slot_arg(c.outs[0]);
    }
}

void
edit_shared_table(struct edit *e)
{
    struct program *p = e->program;
    const struct call *c = edit_head(p);
    int head = c && c->nargs > 1 && c->args[1].kind == ARG_SLOT ? owner(p, c->args[1].i) : -1, table = -1;
    if (head < 0 || p->params[head].rank != 2 || edit_is_table(p, &p->params[head]))
        return;
    for (int i = 0; i < p->nparams; i++) {
        const struct param *q = &p->params[i], *h = &p->params[head];
        if (edit_owns(q) && q->rank == 2 && q->size[0] == h->size[0] && q->size[1] < h->size[1] && edit_is_table(p, q))
            table = i;
    }
    if (table < 0)
        return;
    int at = (int)(c - p->calls), slot = p->params[head].slot;
    changed(e, c);
    project_input(e, at, p->params[table].size[1], p->params[head].size[1]);
    p->calls[at + 1].args[1] = slot_arg(p->params[table].slot);
    e->what = p->params[head].name;
    e->with = p->params[table].name;
    e->size = p->params[table].size[1];
    for (int i = 0; i < p->nparams; i++)
        if (p->params[i].slot == slot)
            p->params[i].rank = -1;
}

/* Reads of the table by embeddings and heads get a projection; by anything else it stays as it is. */
void
edit_narrow_table(struct edit *e)
{
    struct program *p = e->program;
    int table = -1, count = 0;
    for (int i = 0; i < p->nparams; i++)
        if (edit_owns(&p->params[i]) && p->params[i].rank == 2 && p->params[i].size[0] >= MANY_ENTRIES &&
            p->params[i].size[1] >= 2 * NARROW && edit_is_table(p, &p->params[i]) &&
            (table < 0 || edit_elements(&p->params[i]) > edit_elements(&p->params[table])))
            table = i;
    for (int i = 0; i < p->ncalls && table >= 0; i++) {
        const struct call *c = &p->calls[i];
        int slot = p->params[table].slot;
        if (!reads(c, slot))
            continue;
        count++;
        if (!does(c, LOOKS_UP) && !(does(c, PROJECTS) && c->args[1].i == slot))
            return;
    }
    if (table < 0 || count > SPARE_PARAMS)
        return;
    struct param *q = &p->params[table];
    int64_t size[] = {q->size[0], NARROW}, wide = q->size[1];
    for (int i = 0; i < p->ncalls; i++) {
        struct call *c = &p->calls[i];
        if (!reads(c, q->slot))
            continue;
        changed(e, c);
        if (!does(c, LOOKS_UP)) {
            project_input(e, i++, NARROW, wide);
            continue;
        }
        int weight = param_new(e, wide, NARROW), out = c->outs[0];
        struct call narrow = *c, wider;
        narrow.outs = NEWN(e->a, int, 1);
        narrow.outs[0] = slot_new(p);
        narrow.rank = -1;
        wider = CALL(e, c, "linear.default", slot_arg(narrow.outs[0]), slot_arg(weight));
        wider.outs[0] = out;
        struct call *to = insert_calls(e, i, 1);
        if (!to)
            return;
        to[0] = narrow;
        to[1] = wider;
        i++;
    }
    e->what = q->name;
    e->size = wide;
    for (int i = 0; i < p->nparams; i++)
        if (p->params[i].slot == q->slot)
            p->params[i].size = arena_dup(e->a, size, sizeof(size));
}

/* The rows that a step's embeddings fetch from a table that nothing else reads; 0 when something does, or the file
 * doesn't say. */
static int64_t
rows_read(const struct program *p, const struct param *q)
{
    int64_t rows = 0;
    if (!edit_owns(q) || q->rank != 2 || q->size[0] < MANY_ENTRIES)
        return 0;
    for (int i = 0; i < p->ncalls; i++) {
        const struct call *c = &p->calls[i];
        if (!reads(c, q->slot))
            continue;
        if (!does(c, LOOKS_UP) || c->rank < 1)
            return 0;
        rows = bytes_add(rows, sizes_product(c->rank - 1, c->size));
    }
    return rows < q->size[0] ? rows : q->size[0];
}

/* One entry stays, so that autograd still computes the gradient that goes to the host. */
void
edit_tables_on_cpu(struct edit *e)
{
    struct program *p = e->program;
    for (int i = 0; i < p->nparams; i++) {
        struct param *q = &p->params[i];
        if (!rows_read(p, q))
            continue;
        int64_t size[] = {1, q->size[1]};
        q->size = arena_dup(e->a, size, sizeof(size));
        e->places++;
        changed_param(e, q);
    }
}

/* Trained are as many rows as are read; the others and their states, which stay dense, lie beside them. */
void
edit_sparse_tables(struct edit *e)
{
    struct program *p = e->program;
    int states, n = p->nparams;
    if (!optimizer_sparse(e->setup.optimizer, &states))
        return;
    for (int i = 0; i < n && p->nparams < p->cap_params; i++) {
        struct param *q = &p->params[i];
        int64_t rows = rows_read(p, q), size[] = {rows, q->rank == 2 ? q->size[1] : 0};
        if (!rows || rows == q->size[0] || q->kind != PARAM_TRAINED)
            continue;
        int64_t rest[] = {(q->size[0] - rows) * (1 + states), size[1]};
        e->size = e->places ? e->size : q->size[0];
        changed_param(e, q);
        p->params[p->nparams] = *q;
        p->params[p->nparams].slot = slot_new(p);
        p->params[p->nparams].kind = PARAM_FROZEN;
        p->params[p->nparams++].size = arena_dup(e->a, rest, sizeof(rest));
        q->size = arena_dup(e->a, size, sizeof(size));
        e->places++;
    }
}

/* ---- length ------------------------------------------------------------------------------------------------------ */

/* The last dimension of an input of indices, fixed in the file; 0 when it can't be told from other sizes. */
static int64_t
length_of(const struct program *p, const char **name)
{
    int64_t n = 0;
    for (int i = 0; i < p->ninputs && !n; i++)
        if (p->inputs[i].rank > 1 && !dtypes[p->inputs[i].dtype].is_float &&
            p->inputs[i].size[p->inputs[i].rank - 1] >= SHORTEST) {
            n = p->inputs[i].size[p->inputs[i].rank - 1];
            *name = p->inputs[i].name;
        }
    for (int i = 0; i < p->nparams && n; i++)
        for (int d = 0; d < p->params[i].rank; d++)
            if (p->params[i].kind <= PARAM_FROZEN && p->params[i].size[d] % n == 0)
                return 0;
    for (int i = 0; i < p->ncalls && n; i++)
        for (int d = 0; d < p->calls[i].rank; d++)
            if (p->calls[i].size[d] > n && p->calls[i].size[d] % n == 0)
                return 0;
    return n;
}

/* Positions of the arguments of operators that slide a window; -1 none, KERNEL: the weight's last dimensions. */
enum { KERNEL = -2 };
static const struct sliding {
    const char *op; /* what its name begins with */
    int kernel, stride, padding, dilation;
} slidings[] = {
    {"convolution.", KERNEL, 3, 4, 5}, {"conv1d.default", KERNEL, 3, 4, 5}, {"conv2d.default", KERNEL, 3, 4, 5},
    {"max_pool1d.", 1, 2, 3, 4},       {"max_pool2d.", 1, 2, 3, 4},         {"avg_pool1d.", 1, 2, 3, -1},
    {"avg_pool2d.", 1, 2, 3, -1},
};

/* An argument that is a number or a list of one for each axis. */
static int64_t
of_axis(const struct call *c, int at, int axis, int64_t otherwise)
{
    const struct arg *a = at < 0 || at >= c->nargs ? NULL : &c->args[at];
    if (a && a->kind == ARG_LIST)
        a = a->n ? &a->list[axis < a->n ? axis : a->n - 1] : NULL;
    return a && a->kind == ARG_INT ? a->i : otherwise;
}

static int64_t
kernel_of(const struct program *p, const struct call *c, const struct sliding *w, int axis, int axes)
{
    if (w->kernel != KERNEL)
        return of_axis(c, w->kernel, axis, 1);
    for (int i = 0; i < p->nparams; i++)
        if (c->args[1].kind == ARG_SLOT && p->params[i].slot == c->args[1].i && p->params[i].rank == axes + 2)
            return p->params[i].size[axis + 2];
    return 1;
}

/* What other sizes become when the length n becomes `to`: windows without padding make others of it. False where a
 * window is longer. */
static bool
follow_length(const struct program *p, int64_t n, int64_t to, struct sizes *z)
{
    *z = (struct sizes){1, {{n, to}}};
    for (int i = 0; i < p->ncalls; i++) {
        const struct call *c = &p->calls[i], *from = maker(p, c, 0) < 0 ? NULL : &p->calls[maker(p, c, 0)];
        for (int k = 0; k < COUNT(slidings); k++) {
            const struct sliding *w = &slidings[k];
            if (!c->op || strncmp(c->op->name, w->op, strlen(w->op)) != 0 || !from || from->rank != c->rank)
                continue;
            for (int d = 2; d < c->rank; d++) {
                int64_t size, kernel = kernel_of(p, c, w, d - 2, c->rank - 2);
                if (!is_resized(z, from->size[d], &size))
                    continue;
                size += 2 * of_axis(c, w->padding, d - 2, 0) - of_axis(c, w->dilation, d - 2, 1) * (kernel - 1) - 1;
                if (size < 0)
                    return false;
                int64_t stride = of_axis(c, w->stride, d - 2, w->kernel == KERNEL ? 1 : kernel), known;
                if (!is_resized(z, c->size[d], &known) && z->n < MOST_SIZES) {
                    z->size[z->n].from = c->size[d];
                    z->size[z->n++].to = size / (stride > 0 ? stride : 1) + 1;
                }
            }
        }
    }
    return true;
}

void
edit_length(struct edit *e, int64_t to)
{
    struct sizes z;
    e->size = length_of(e->program, &e->what);
    e->places = e->size > 0 && follow_length(e->program, e->size, to, &z);
    if (e->places)
        resize_all(e, &z);
}

void
edit_half_length(struct edit *e)
{
    edit_length(e, length_of(e->program, &e->what) / 2);
}

int64_t
edit_shortest(const struct program *p, int64_t length)
{
    struct sizes z;
    int64_t lo = 0, hi = length; /* lo is refused */
    while (hi - lo > 1) {
        int64_t at = lo + (hi - lo) / 2;
        if (follow_length(p, length, at, &z))
            hi = at;
        else
            lo = at;
    }
    return hi;
}

/* ---- in place, unused -------------------------------------------------------------------------------------------- */

static bool
may_write(const struct edit *e, int at)
{
    const struct program *p = e->program;
    const struct call *c = &p->calls[at];
    int from = does(c, READS_RESULT) && !c->in_place ? maker(p, c, 0) : -1;
    if (from < 0 || uses(e, c->args[0].i) != 1 || !p->calls[from].op || p->calls[from].in_place)
        return false;
    return does(&p->calls[from], MAKES_OWN);
}

void
edit_in_place(struct edit *e)
{
    for (int i = 0; i < e->program->ncalls; i++)
        if (may_write(e, i)) {
            changed(e, &e->program->calls[i]);
            e->program->calls[i].in_place = true;
        }
}

/* The parameter that a convolution before a batch norm adds and the norm subtracts again; -1 none. */
static int
idle_bias(const struct edit *e, int at)
{
    const struct program *p = e->program;
    int from = does(&p->calls[at], NORMS_CHANNELS) ? maker(p, &p->calls[at], 0) : -1;
    const struct call *c = from < 0 ? NULL : &p->calls[from];
    if (!c || !does(c, CONVOLVES) || c->nargs < 3 || c->args[2].kind != ARG_SLOT || uses(e, c->outs[0]) != 1)
        return -1;
    int bias = owner(p, c->args[2].i);
    return bias >= 0 && uses(e, p->params[bias].slot) == 1 ? bias : -1;
}

void
edit_no_bias(struct edit *e)
{
    struct program *p = e->program;
    for (int i = 0; i < p->ncalls; i++) {
        int bias = idle_bias(e, i);
        if (bias < 0)
            continue;
        struct call *c = &p->calls[maker(p, &p->calls[i], 0)];
        changed(e, c);
        c->args[2] = NONE;
        changed_param(e, &p->params[bias]);
        p->params[bias].rank = -1;
    }
}

void
edit_unused_parameters(struct edit *e)
{
    struct program *p = e->program;
    for (int i = 0; i < p->nparams; i++) {
        struct param *q = &p->params[i];
        if (!edit_owns(q) || uses(e, q->slot) > 0)
            continue;
        e->size += edit_elements(q);
        changed_param(e, q);
        e->places++;
        q->rank = -1;
    }
}

void
edit_unused_outputs(struct edit *e)
{
    struct program *p = e->program;
    const struct loss **loss = loss_of(e->a, p, &e->setup);
    int kept = 0;
    for (int i = 0; i < p->noutputs; i++)
        if (loss[i])
            p->outputs[kept++] = p->outputs[i];
    e->places = p->noutputs - kept;
    if (!e->places)
        return;
    p->noutputs = kept;
    remove_unread(e);
}
