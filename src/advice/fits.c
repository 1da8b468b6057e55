/* SPDX-License-Identifier: Apache-2.0 */
/* fits.c - the largest batch that fits each device, and the largest size of any dimension that fits one.
 *
 * A largest batch is exact: the step was run at it and fits, and at the next one and does not. Devices of one kind run
 * the same step, so a run answers for all of them; the search for one goes where the line between the nearest runs
 * crosses its memory. It begins at sizes that do not depend on the set-up's, so neither does its answer.
 *
 * Sizes are affine in a dimension: between the programs at two sizes, each number of a third lies on the line through
 * its two. A third size is read to see whether that holds; where a number lies beside the line, or programs differ in
 * more than numbers, the file is read again for each run. The engine does not run at each size either: what it asked of
 * the allocator at others is played (struct tape) where that tells what it would ask. What is said of the device of
 * --device was run from the file in any case.
 */
#include "advice/advice.h"
#include "base/setup.h"

#include <stdlib.h>
#include <string.h>

enum {
    MOST_SIZE = 1 << 24,
    FIRST = 2,     /* where searches for a batch begin; 1 is a size of its own to broadcasting */
    CALLS = 120000 /* run for all devices but that of --device */
};

struct search {
    const struct study *s;
    int dim; /* index into setup.dims */
    struct arena *own;
    const struct program *model;      /* whose sizes are put on lines: */
    const struct program *base, *far; /* sizes alone; far NULL: they are not on lines */
    int64_t base_size, far_size;
    struct program *one; /* at size 1, read when first asked for */
    int nruns, cap_runs;
    struct run {
        int kind;
        int64_t size, reserved; /* -1: the model can't be read so */
        bool sought;            /* by a search for the largest, whose answer others' runs must not change */
        struct devices same;    /* struct measured's */
    } * runs;
    int ntapes, cap_tapes;
    struct taped { /* what the engine ran, by size */
        int64_t size;
        struct tape tape;
        const struct request *straight; /* of the next one, up to which sizes lie on lines; NULL not known */
    } * tapes;
    int left; /* runs that devices other than --device's may still take */
};

static const int64_t *
sizes_on_line(struct line *l, struct arena *a, int rank, const int64_t *from, const int64_t *to)
{
    int64_t *s = NEWN(a, int64_t, rank > 0 ? rank : 1);
    for (int i = 0; i < rank; i++)
        s[i] = line_at(l, from[i], to[i]);
    return s;
}

static bool
alike(const struct arg *p, const struct arg *q)
{
    return p->kind == q->kind && (p->kind != ARG_SLOT || p->i == q->i) && (p->kind != ARG_LIST || p->n == q->n);
}

static void
args_on_line(struct line *l, int n, struct arg *args, const struct arg *from, const struct arg *to)
{
    for (int i = 0; i < n && l->straight; i++) {
        l->straight &= alike(&args[i], &from[i]) && alike(&from[i], &to[i]);
        if (args[i].kind == ARG_INT)
            args[i].i = line_at(l, from[i].i, to[i].i);
        if (args[i].kind == ARG_LIST && l->straight)
            args_on_line(l, args[i].n, args[i].list, from[i].list, to[i].list);
    }
}

static bool
same_lists(const struct program *p, const struct program *q)
{
    return p->ncalls == q->ncalls && p->nslots == q->nslots && p->ninputs == q->ninputs && p->nparams == q->nparams;
}

/* The program at that size, NULL where only the file tells. */
static const struct program *
program_at(const struct search *x, struct arena *a, int64_t size)
{
    const struct program *p = x->model, *base = x->base, *far = x->far;
    struct line l = {x->base_size, x->far_size, size, far && same_lists(p, base) && same_lists(p, far)};
    if (!l.straight)
        return NULL;
    struct program *q = arena_dup(a, p, sizeof(*p));
    q->inputs = arena_dup(a, p->inputs, sizeof(*p->inputs) * (size_t)p->ninputs);
    for (int i = 0; i < p->ninputs && l.straight; i++) {
        int rank = p->inputs[i].rank;
        if ((l.straight = rank == base->inputs[i].rank && rank == far->inputs[i].rank))
            q->inputs[i].size = sizes_on_line(&l, a, rank, base->inputs[i].size, far->inputs[i].size);
    }
    q->calls = arena_dup(a, p->calls, sizeof(*p->calls) * (size_t)p->ncalls);
    for (int i = 0; i < p->ncalls && l.straight; i++) {
        struct call *c = &q->calls[i];
        const struct call *b = &base->calls[i], *d = &far->calls[i];
        if (!(l.straight = c->op == d->op && c->nargs == d->nargs && c->rank == d->rank && c->op == b->op &&
                           c->nargs == b->nargs && c->rank == b->rank))
            break;
        c->size = sizes_on_line(&l, a, c->rank, b->size, d->size);
        c->args = args_copy(a, c->nargs, c->args);
        args_on_line(&l, c->nargs, c->args, b->args, d->args);
    }
    return l.straight ? q : NULL;
}

static struct setup
setup_at(const struct search *x, struct arena *a, int kind, int64_t size)
{
    struct setup s = *x->s->s;
    s.dims = arena_dup(a, s.dims, sizeof(*s.dims) * (size_t)s.ndims);
    s.dims[x->dim].n = size;
    s.device = device_kind(s.device, step_convolves(x->s->st)) == kind ? s.device : device_of_kind(kind);
    return s;
}

static bool
same_ints(int n, const int64_t *p, const int64_t *q)
{
    return n <= 0 || memcmp(p, q, sizeof(*p) * (size_t)n) == 0;
}

/* Whether two programs of equal structure have equal sizes. */
static bool
same_sizes(const struct program *p, const struct program *q)
{
    bool same = true;
    for (int i = 0; i < p->ninputs && same; i++)
        same = same_ints(p->inputs[i].rank, p->inputs[i].size, q->inputs[i].size);
    for (int i = 0; i < p->ncalls && same; i++) {
        const struct call *c = &p->calls[i], *d = &q->calls[i];
        same = c->op == d->op && c->nargs == d->nargs && c->rank == d->rank && same_ints(c->rank, c->size, d->size) &&
               same_args(c->nargs, c->args, d->args);
    }
    return same;
}

static void
keep_tape(struct search *x, const struct tape *t, int64_t size)
{
    if (!t->whole)
        return;
    (void)PUSH(x->own, x->tapes, x->ntapes, x->cap_tapes);
    int at = x->ntapes - 1;
    for (; at > 0 && x->tapes[at - 1].size > size; at--)
        x->tapes[at] = x->tapes[at - 1];
    x->tapes[at] = (struct taped){size, *t, NULL};
}

/* Runs the engine, and keeps what it asked of the allocator. */
static struct measured
run_engine(struct search *x, const struct program *p, const struct setup *s, int64_t size)
{
    struct arena *a = arena_new();
    struct tape t = {.a = x->own, .own = a, .whole = true};
    struct setup taped = *s;
    taped.tape = &t;
    struct measured m = measure_step(p, &taped, NULL, NULL);
    t.request = arena_dup(x->own, t.request, sizeof(*t.request) * (size_t)t.n);
    t.ask = arena_dup(x->own, t.ask, sizeof(*t.ask) * (size_t)t.nasks);
    keep_tape(x, &t, size);
    arena_free(a);
    return m;
}

/* The bytes that are allocated at that size; the study's own step was run already. */
static int64_t
run_first(struct search *x, const struct program *p, const struct setup *s, int64_t size)
{
    const struct study *own = x->s;
    if (p != own->p || !own->tape)
        return run_engine(x, p, s, size).allocated;
    keep_tape(x, own->tape, size);
    return live_run(own->st)->peak_bytes;
}

static bool
is_between(const struct taped *from, const struct taped *third, const struct taped *to)
{
    struct line l = {from->size, to->size, third->size, true};
    return tape_between(&from->tape, &to->tape, &l, &third->tape);
}

/* Whether sizes between two neighbours lie on lines: with a third right beside one of them, which a staircase does not,
 * or at the other end of lines that were so found; before, behind NULL: there is none. */
static bool
is_straight(const struct taped *before, struct taped *from, const struct taped *to, const struct taped *behind)
{
    bool below = before && (before->size == from->size - 1 || before->straight == from->tape.request),
         above = behind && (behind->size == to->size + 1 || to->straight == behind->tape.request);
    if (from->straight != to->tape.request &&
        ((below && is_between(before, from, to)) || (above && is_between(from, to, behind))))
        from->straight = to->tape.request;
    return from->straight == to->tape.request;
}

/* The tapes of a device on both sides of a size, and those beyond them; NULL there is none. */
struct neighbours {
    struct taped *before, *lo, *hi, *behind;
};

static struct neighbours
neighbours_of(const struct search *x, int sm, int64_t size)
{
    struct neighbours n = {NULL};
    for (int i = 0; i < x->ntapes && !n.behind; i++) {
        struct taped *t = &x->tapes[i];
        if (!devices_have(t->tape.alike, sm) || (t->size < FIRST && t->size != size))
            continue;
        if (t->size <= size && (!n.lo || n.lo->size < t->size)) {
            n.before = n.lo;
            n.lo = t;
        }
        if (t->size >= size && n.hi && n.hi->size < t->size)
            n.behind = t;
        n.hi = t->size >= size && !n.hi ? t : n.hi;
    }
    return n;
}

/* What a run at that size would reserve, where tapes tell: one of that size, or those on both sides of it. -1: they
 * don't. *same: devices whose run reserves it. */
static int64_t
played(struct search *x, const struct setup *s, int64_t size, struct devices *same)
{
    const struct neighbours n = neighbours_of(x, device_sm(s->device), size);
    struct taped *lo = n.lo, *hi = n.hi;
    if (!lo || !hi || (lo->size < hi->size && !(x->far && is_straight(n.before, lo, hi, n.behind))))
        return -1;
    struct line l = {lo->size, hi->size, size, true};
    return tape_play(&lo->tape, &hi->tape, &l, s, derivatives_of(x->s->p), same);
}

/* The program at size 1, which lies on no line. */
static const struct program *
program_of_one(struct search *x)
{
    struct setup s = setup_at(x, x->own, device_kind(x->s->s->device, step_convolves(x->s->st)), 1);
    x->one = x->one ? x->one : x->s->reload(x->s, x->own, &s);
    if (x->one)
        step_holds(x->one, &s);
    return x->one;
}

/* The step at that size on devices of that kind; -1 bytes: the model can't be read so. */
static struct measured
run_file(struct search *x, int kind, int64_t size)
{
    struct arena *a = arena_new();
    struct setup s = setup_at(x, a, kind, size);
    const struct program *p = size == 1 ? program_of_one(x) : x->s->reload(x->s, a, &s);
    struct measured m = {.reserved = -1};
    if (p)
        m = run_engine(x, p, &s, size);
    arena_free(a);
    return m;
}

/* Runs at a size beyond all others, so that those between lie on lines: where the search will double to, and nearer
 * where that is on no line. */
static void
run_far(struct search *x, struct arena *a, const struct setup *s, int64_t size)
{
    int sm = device_sm(s->device);
    bool needed = x->far && size < x->far_size && size >= FIRST;
    int64_t far = FIRST + 1;
    for (int i = 0; i < x->ntapes && needed; i++)
        needed = x->tapes[i].size < size || !devices_have(x->tapes[i].tape.alike, sm);
    while (far < x->far_size)
        far *= 2;
    far = far > x->far_size / 2 * 3 ? x->far_size : far;
    for (; needed; far = x->far_size) {
        const struct program *p = program_at(x, a, far);
        if (p)
            run_engine(x, p, s, far);
        const struct neighbours n = neighbours_of(x, sm, size);
        needed = p && far > x->far_size && n.lo && n.hi && !is_straight(n.before, n.lo, n.hi, n.behind);
    }
}

/* A run right beside the next smaller one, which tells whether sizes from there on lie on lines; not where one did. */
static void
run_beside(struct search *x, struct arena *a, const struct setup *s, int64_t size)
{
    const struct neighbours n = neighbours_of(x, device_sm(s->device), size);
    const struct program *p = NULL;
    if (n.lo && n.hi && n.lo->size + 1 < size && n.lo->tape.n == n.hi->tape.n &&
        !(n.before && n.before->size == n.lo->size - 1) && !(n.behind && n.behind->size == n.hi->size + 1))
        p = program_at(x, a, n.lo->size + 1);
    if (p)
        run_engine(x, p, s, n.lo->size + 1);
}

static int64_t
run_at(struct search *x, int kind, int64_t size, bool sought)
{
    for (int i = 0; i < x->nruns; i++)
        if (x->runs[i].kind == kind && x->runs[i].size == size) {
            x->left -= sought && !x->runs[i].sought;
            x->runs[i].sought |= sought;
            return x->runs[i].reserved;
        }
    struct arena *a = arena_new();
    struct setup s = setup_at(x, a, kind, size);
    int like = 0;
    while (like < x->nruns && !(x->runs[like].size == size && devices_have(x->runs[like].same, device_sm(s.device))))
        like++;
    struct run r = {kind, size, -1, sought, {0, 0}};
    if (like < x->nruns) {
        r.reserved = x->runs[like].reserved;
        r.same = x->runs[like].same;
    } else {
        run_far(x, a, &s, size);
        r.reserved = played(x, &s, size, &r.same);
        if (r.reserved < 0) {
            run_beside(x, a, &s, size);
            r.reserved = played(x, &s, size, &r.same);
        }
    }
    if (r.reserved < 0 && like == x->nruns) {
        const struct program *p = size >= FIRST ? program_at(x, a, size) : NULL;
        struct measured m = p ? run_engine(x, p, &s, size) : run_file(x, kind, size);
        r.reserved = m.reserved;
        r.same = m.same;
    }
    arena_free(a);
    *PUSH(x->own, x->runs, x->nruns, x->cap_runs) = r;
    x->left--;
    return r.reserved;
}

/* The largest size known to fit and the least known not to, as runs; NULL none. */
static void
bracket(const struct search *x, int kind, int64_t limit, const struct run **lo, const struct run **hi)
{
    *lo = *hi = NULL;
    for (int i = 0; i < x->nruns; i++) {
        const struct run *r = &x->runs[i];
        if (r->sought && r->kind == kind && (r->reserved < 0 || r->reserved > limit) && (!*hi || r->size < (*hi)->size))
            *hi = r;
    }
    for (int i = 0; i < x->nruns; i++) {
        const struct run *r = &x->runs[i];
        if (r->sought && r->kind == kind && r->reserved >= 0 && r->reserved <= limit &&
            (!*hi || r->size < (*hi)->size) && (!*lo || r->size > (*lo)->size))
            *lo = r;
    }
}

/* Where the line between two runs reaches the limit. */
static int64_t
crossing(const struct run *a, const struct run *b, int64_t limit)
{
    double slope = (double)(b->reserved - a->reserved) / (double)(b->size - a->size);
    double at = (double)a->size + (double)(limit - a->reserved) / slope;
    return slope <= 0 || at > MOST_SIZE ? MOST_SIZE : at < 1 ? 1 : (int64_t)at;
}

/* The largest size that fits: run there and at the next. -1: larger than any that is tried, or there are no runs
 * left. */
static int64_t
largest(struct search *x, int kind, int64_t limit, bool own)
{
    const struct run *lo, *hi;
    for (int tries = 0;; tries++) {
        bracket(x, kind, limit, &lo, &hi);
        int64_t from = lo ? lo->size : 0, to = hi ? hi->size : MOST_SIZE + 1, at = 2 * from;
        if (to - from <= 1)
            return to > MOST_SIZE ? -1 : from;
        if (!own && x->left <= 0)
            return -1;
        if (lo && hi && hi->reserved > 0)
            at = crossing(lo, hi, limit);
        if (hi && tries > 2 && tries % 2) /* a line alone may creep */
            at = from + (to - from) / 2;
        run_at(x, kind, at <= from ? from + 1 : at >= to ? to - 1 : at, true);
    }
}

/* As largest, every answer checked against the file itself. */
static int64_t
largest_checked(struct search *x, int kind, int64_t limit)
{
    int64_t size = largest(x, kind, limit, true);
    for (int64_t at = size > 0 ? size : 1; x->far && size >= 0 && at <= size + 1; at++)
        if ((run_at(x, kind, at, true) <= limit) != (run_file(x, kind, at).reserved <= limit)) {
            x->far = NULL;
            x->nruns = x->ntapes = 0;
            return largest(x, kind, limit, true);
        }
    return size;
}

static int64_t
limit_of(const struct fit *f)
{
    return f->capacity - f->context;
}

bool
fits_device(const struct result *r, int64_t reserved)
{
    const struct fit *own = fits_own(r);
    return own && reserved <= limit_of(own);
}

/* Of a program what tells whether sizes lie on lines, and on which. */
static const struct program *
sizes_of(struct arena *a, const struct program *p)
{
    if (!p)
        return NULL;
    struct program *q = arena_dup(a, p, sizeof(*p));
    q->inputs = arena_dup(a, p->inputs, sizeof(*p->inputs) * (size_t)p->ninputs);
    q->calls = arena_dup(a, p->calls, sizeof(*p->calls) * (size_t)p->ncalls);
    for (int i = 0; i < p->ninputs; i++)
        if (p->inputs[i].rank > 0)
            q->inputs[i].size = arena_dup(a, p->inputs[i].size, sizeof(*p->inputs->size) * (size_t)p->inputs[i].rank);
    for (int i = 0; i < p->ncalls; i++) {
        struct call *c = &q->calls[i];
        c->size = c->rank > 0 ? arena_dup(a, c->size, sizeof(*c->size) * (size_t)c->rank) : NULL;
        c->args = args_copy(a, c->nargs, c->args);
    }
    return q;
}

/* The program at a size, as the file tells it; NULL: it can't be read so. */
static struct program *
read_at(const struct search *x, struct arena *a, int kind, int64_t size)
{
    const struct setup s = setup_at(x, a, kind, size);
    return x->s->reload(x->s, a, arena_dup(a, &s, sizeof(s)));
}

/* Programs at the first size, at the study's own or the next one, and near where `most` bytes are allocated; the second
 * tells whether sizes lie on lines. */
static struct search
search_new(const struct study *s, int dim, int64_t first, int64_t most)
{
    struct search x = {.s = s, .dim = dim, .own = arena_new(), .left = CALLS / (s->p->ncalls + 1), .base_size = first};
    struct arena *a = arena_new();
    int kind = device_kind(s->s->device, step_convolves(s->st));
    int64_t own = s->s == s->st->setup ? s->s->dims[dim].n : 0; /* else a study's copy with other sizes */
    int64_t other = own > first ? own : first + 1;
    struct program *base = own == first ? s->p : read_at(&x, own > first ? a : x.own, kind, first),
                   *third = own == other ? s->p : read_at(&x, a, kind, other);
    if (base && third) {
        struct setup at = setup_at(&x, a, kind, first), next = setup_at(&x, a, kind, other);
        step_holds(base, &at);
        int64_t low = run_first(&x, base, &at, first), high = run_first(&x, third, &next, other);
        int64_t slope = (high - low) / (other - first), away = most / (slope > 0 ? slope : 1);
        x.far_size = first + 3 + (away < MOST_SIZE / 2 ? away : MOST_SIZE / 2);
        x.far_size += x.far_size == other;
        x.model = own > first ? s->p : base;
        x.base = sizes_of(x.own, base);
        x.far = sizes_of(x.own, read_at(&x, a, kind, x.far_size));
        const struct program *told = program_at(&x, a, other);
        if (!told || third->ncalls != told->ncalls || !same_sizes(told, third))
            x.far = NULL;
        for (int64_t size = first; size <= first + 1; size++)
            run_at(&x, kind, size, true);
    }
    arena_free(a);
    return x;
}

static int64_t
largest_within(const struct study *s, int dim, int kind, int64_t limit)
{
    struct search x = search_new(s, dim, s->s->dims[dim].n, limit);
    int64_t size = largest_checked(&x, kind, limit);
    arena_free(x.own);
    return size;
}

int64_t
fits_largest(const struct study *s, const struct result *r, int dim)
{
    const struct fit *own = fits_own(r);
    return own ? largest_within(s, dim, own->kind, limit_of(own)) : -1;
}

int64_t
fits_batch(const struct study *s, const struct result *r, int64_t reserved)
{
    const struct binding *batch = setup_batch(s->s);
    return batch && !study_is_large(s) ? largest_within(s, (int)(batch - s->s->dims), r->own_kind, reserved) : -1;
}

/* The study's runs at sizes of that dimension, the only one that is asked for. */
static struct search *
search_of(struct study *s, int dim, int64_t most)
{
    if (!s->search) {
        struct search x = search_new(s, dim, FIRST, most);
        s->search = arena_dup(x.own, &x, sizeof(x));
    }
    return s->search;
}

const struct program *
fits_program(struct study *s, const struct result *r, struct arena *a, struct setup *other)
{
    const struct binding *own = s->s->dims, *batch = setup_batch(s->s);
    int64_t most = 0;
    int dim = (int)(batch ? batch - own : 0);
    bool resized = batch && other->dims[dim].n > 0 && other->dims[dim].n != batch->n;
    for (int i = 0; i < s->s->ndims && resized; i++)
        resized = i == dim || other->dims[i].n == own[i].n;
    if (!resized)
        return s->reload(s, a, other);
    for (int i = 0; i < r->nfits; i++)
        most = limit_of(&r->fits[i]) > most ? limit_of(&r->fits[i]) : most;
    struct search *x = search_of(s, dim, most);
    if (other->dims[dim].n < FIRST)
        return program_of_one(x);
    const struct program *p = program_at(x, a, other->dims[dim].n);
    return p ? p : s->reload(s, a, other);
}

void
fits_sizes(struct study *s, int kind, int dim, int n, const int64_t *size, int64_t most, int64_t *reserved)
{
    struct search *x = search_of(s, dim, most);
    for (int i = 0; i < n && (i == 0 || reserved[i - 1] <= most); i++)
        if (reserved[i] < 0)
            reserved[i] = run_at(x, kind, size[i], false);
}

void
fits_free(struct study *s)
{
    if (s->search)
        arena_free(s->search->own);
    s->search = NULL;
}

static int
by_limit(const void *a, const void *b)
{
    const struct fit *x = *(struct fit *const *)a, *y = *(struct fit *const *)b;
    int64_t p = limit_of(x), q = limit_of(y);
    return x->kind != y->kind ? x->kind - y->kind : p != q ? (p > q ? 1 : -1) : (x > y) - (x < y);
}

/* What devices of another kind need: their step is played. */
static void
need_of_kinds(const struct study *s, struct result *r)
{
    enum { HERE = FIRST }; /* the size of all of it */
    struct search x = {.s = s, .own = arena_new()};
    struct run of[DEVICE_KINDS] = {0};
    of[r->own_kind] = (struct run){.reserved = r->peak.reserved};
    if (s->tape)
        keep_tape(&x, s->tape, HERE);
    for (int i = 0; i < r->nfits; i++) {
        struct fit *f = &r->fits[i];
        struct run *own = &of[f->kind];
        struct setup other = *s->s;
        other.device = device_of_kind(f->kind);
        if (!own->reserved && (own->reserved = played(&x, &other, HERE, &own->same)) < 0)
            own->reserved = run_engine(&x, s->p, &other, HERE).reserved;
        f->need = bytes_add(own->reserved, f->context);
        f->verdict = fits_verdict(f->need, f->capacity);
    }
    arena_free(x.own);
}

/* Of the device of --device, or those next to the step's size: the smallest that has room and the largest that has
 * not. */
static bool
is_near(const struct result *r, const struct fit *f)
{
    bool fits = f->need <= f->capacity;
    if (fits_own(r))
        return f == fits_own(r);
    for (int i = 0; i < r->nfits; i++) {
        const struct fit *g = &r->fits[i];
        if ((g->need <= g->capacity) == fits && (fits ? g->capacity < f->capacity : g->capacity > f->capacity))
            return false;
    }
    return true;
}

void
fits_run(struct study *s, struct result *r, bool all)
{
    const struct binding *batch = setup_batch(s->s);
    struct fit **order = NEWN(s->a, struct fit *, r->nfits + 1);
    int n = 0;
    int64_t most = 0;
    if (study_is_large(s))
        return;
    need_of_kinds(s, r);
    if (!batch)
        return;
    for (int i = 0; i < r->nfits; i++)
        if (all || is_near(r, &r->fits[i])) {
            order[n++] = &r->fits[i];
            most = limit_of(&r->fits[i]) > most ? limit_of(&r->fits[i]) : most;
        }
    qsort(order, (size_t)n, sizeof(*order), by_limit);
    struct search *x = search_of(s, (int)(batch - s->s->dims), most);
    x->left = CALLS / (s->p->ncalls + 1);
    for (int i = 0; i < n && order[i]; i++) {
        struct fit *f = order[i];
        study_tell(s, "trying batches", i, n);
        f->largest_batch =
            f == fits_own(r) ? largest_checked(x, f->kind, limit_of(f)) : largest(x, f->kind, limit_of(f), false);
    }
}
