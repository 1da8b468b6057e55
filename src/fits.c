/* fits.c - the largest batch that fits each device, and the largest size of any dimension that fits one.
 *
 * Sizes are affine in a dimension: between the program at the size of the set-up and one at another size, each number of a third lies on the line
 * through its two. Where a number doesn't, or the two differ in more than numbers, the file is read again instead.
 *
 * The step is run again at other batches. Reserved bytes are nearly linear in the batch, so the next one to try is where the line between the
 * nearest that fits and the nearest that does not crosses the device's capacity. What is reported was run and fits. For the device of --device the search ends
 * when the next larger batch was run and does not fit; for the others after a few runs, and a large model gets fewer.
 */
#include "memlint.h"

#include <string.h>

enum {
    MOST_SIZE = 1 << 20,
    MOST_RUNS = 256,
    TRIES = 3,
    NEAR = 20 /* sizes are told to 1/NEAR */,
    OWN_TRIES = 40,
    CALLS = 24000 /* run for all devices */
};

struct search {
    const struct study *s;
    int dim; /* index into setup.dims */
    struct arena *own;
    const struct program *far; /* at far_size; NULL as long as there is none like the study's own */
    int64_t far_size;
    int nruns;
    struct run {
        int64_t size, reserved; /* -1: the model can't be read so */
    } runs[MOST_RUNS];
    int left; /* runs that others than the own device may still take */
};

struct line {
    int64_t from, to, at;
    bool straight;
};

static int64_t
on_line(struct line *l, int64_t from, int64_t to)
{
    int64_t rise = 0;
    if (from == to)
        return from;
    l->straight &= from >= 0 && to >= 0 && mul_ok(to - from, l->at - l->from, &rise) && rise % (l->to - l->from) == 0;
    return from + rise / (l->to - l->from);
}

static const int64_t *
sizes_on_line(struct line *l, struct arena *a, int rank, const int64_t *from, const int64_t *to)
{
    int64_t *s = NEWN(a, int64_t, rank > 0 ? rank : 1);
    for (int i = 0; i < rank; i++)
        s[i] = on_line(l, from[i], to[i]);
    return s;
}

static void
args_on_line(struct line *l, int n, struct arg *from, const struct arg *to)
{
    for (int i = 0; i < n && l->straight; i++) {
        l->straight &= from[i].kind == to[i].kind && (from[i].kind != ARG_SLOT || from[i].i == to[i].i) &&
                       (from[i].kind != ARG_LIST || from[i].n == to[i].n);
        if (from[i].kind == ARG_INT)
            from[i].i = on_line(l, from[i].i, to[i].i);
        if (from[i].kind == ARG_LIST && l->straight)
            args_on_line(l, from[i].n, from[i].list, to[i].list);
    }
}

/* The program at that size, NULL where only the file tells. */
static const struct program *
program_at(const struct search *x, struct arena *a, int64_t size)
{
    const struct program *p = x->s->p, *far = x->far;
    struct line l = {x->s->s->dims[x->dim].n, x->far_size, size, far && far->ncalls == p->ncalls};
    l.straight = l.straight && far->nslots == p->nslots && far->ninputs == p->ninputs && far->nparams == p->nparams;
    if (!l.straight)
        return NULL;
    struct program *q = arena_dup(a, p, sizeof(*p));
    q->inputs = arena_dup(a, p->inputs, sizeof(*p->inputs) * (size_t)p->ninputs);
    for (int i = 0; i < p->ninputs && l.straight; i++)
        if ((l.straight = p->inputs[i].rank == far->inputs[i].rank))
            q->inputs[i].size = sizes_on_line(&l, a, p->inputs[i].rank, p->inputs[i].size, far->inputs[i].size);
    q->calls = arena_dup(a, p->calls, sizeof(*p->calls) * (size_t)p->ncalls);
    for (int i = 0; i < p->ncalls && l.straight; i++) {
        struct call *c = &q->calls[i];
        const struct call *d = &far->calls[i];
        if (!(l.straight = c->op == d->op && c->nargs == d->nargs && c->rank == d->rank))
            break;
        c->size = sizes_on_line(&l, a, c->rank, c->size, d->size);
        c->args = args_copy(a, c->nargs, c->args);
        args_on_line(&l, c->nargs, c->args, d->args);
    }
    return l.straight ? q : NULL;
}

static struct setup
setup_at(const struct search *x, struct arena *a, int64_t size)
{
    struct setup s = *x->s->s;
    s.dims = arena_dup(a, s.dims, sizeof(*s.dims) * (size_t)s.ndims);
    s.dims[x->dim].n = size;
    return s;
}

static void
add_run(struct search *x, const struct program *p, const struct setup *s)
{
    x->runs[x->nruns++] = (struct run){s->dims[x->dim].n, p ? measure_step(p, s, NULL, NULL).reserved : -1};
    x->left--;
}

static void
run_at(struct search *x, int64_t size)
{
    struct arena *a = arena_new();
    struct setup s = setup_at(x, a, size);
    const struct program *p = program_at(x, a, size);
    add_run(x, p ? p : x->s->reload(x->s, a, &s), &s);
    arena_free(a);
}

/* The largest size known to fit and the least known not to, as runs; NULL none. */
static void
bracket(const struct search *x, int64_t limit, const struct run **lo, const struct run **hi)
{
    *lo = *hi = NULL;
    for (int i = 0; i < x->nruns; i++) {
        const struct run *r = &x->runs[i];
        bool fits = r->reserved >= 0 && r->reserved <= limit;
        if (fits && (!*lo || r->size > (*lo)->size))
            *lo = r;
        if (!fits && (!*hi || r->size < (*hi)->size))
            *hi = r;
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

static int64_t
largest(struct search *x, int64_t limit, bool own)
{
    const struct run *lo, *hi;
    int before = x->nruns;
    for (int tries = own ? OWN_TRIES : TRIES;; tries--) {
        bracket(x, limit, &lo, &hi);
        int64_t from = lo ? lo->size : 0, to = hi ? hi->size : MOST_SIZE + 1;
        if (to - from <= 1 || tries == 0 || x->nruns == MOST_RUNS || (!own && x->left <= 0))
            break;
        int64_t at = lo && hi && hi->reserved > 0                 ? crossing(lo, hi, limit)
                     : x->runs[0].reserved != x->runs[1].reserved ? crossing(&x->runs[0], &x->runs[1], limit)
                                                                  : 2 * from;
        if (own && tries % 2 && hi) /* a line alone may creep */
            at = from + (to - from) / 2;
        run_at(x, at <= from ? from + 1 : at >= to ? to - 1 : at);
    }
    int64_t from = lo ? lo->size : 0, apart = hi ? hi->size - from : MOST_SIZE;
    bool aimed = lo >= &x->runs[before];
    return apart <= 1 || own || aimed || apart <= from / NEAR ? from : -1;
}

static int64_t
limit_of(const struct result *r, const struct fit *f)
{
    return f->capacity - (f->need - r->peak.reserved);
}

static const struct fit *
own_device(const struct result *r)
{
    for (int i = 0; i < r->nfits && r->setup.device; i++)
        if (strcmp(r->fits[i].device, r->setup.device) == 0)
            return &r->fits[i];
    return NULL;
}

bool
fits_device(const struct result *r, int64_t reserved)
{
    const struct fit *own = own_device(r);
    return own && reserved <= limit_of(r, own);
}

/* The limit that most devices without an answer share, 0 none: a large model has no runs for all. */
static int64_t
next_limit(const struct result *r, const bool *done)
{
    int64_t best = 0;
    int most = 0;
    for (int i = 0; i < r->nfits; i++) {
        int n = 0;
        for (int k = 0; k < r->nfits && !done[i]; k++)
            n += !done[k] && limit_of(r, &r->fits[k]) == limit_of(r, &r->fits[i]);
        if (n > most) {
            most = n;
            best = limit_of(r, &r->fits[i]);
        }
    }
    return best;
}

static void
answer(struct search *x, struct result *r, int64_t limit, bool own, bool *done)
{
    int64_t batch = largest(x, limit, own);
    for (int i = 0; i < r->nfits; i++)
        if (limit_of(r, &r->fits[i]) == limit) {
            r->fits[i].largest_batch = batch;
            done[i] = true;
        }
}

/* Runs at the size of the set-up and near where `most` bytes are reserved; the line between them is the first guess. */
static struct search
search_new(const struct study *s, const struct result *r, int dim, int64_t most)
{
    struct search x = {.s = s, .dim = dim, .own = arena_new(), .left = CALLS / (s->p->ncalls + 1)};
    int64_t n = s->s->dims[dim].n, times = r->peak.reserved > 0 ? most / r->peak.reserved + 1 : 2;
    x.runs[x.nruns++] = (struct run){n, r->peak.reserved};
    struct setup far = setup_at(&x, x.own, times > MOST_SIZE / n ? MOST_SIZE : times * n);
    x.far_size = far.dims[dim].n;
    x.far = s->reload(s, x.own, &far);
    add_run(&x, x.far, &far);
    if (x.far_size == n)
        x.far = NULL;
    return x;
}

int64_t
fits_largest(const struct study *s, const struct result *r, int dim)
{
    const struct fit *own = own_device(r);
    if (!own)
        return -1;
    struct search x = search_new(s, r, dim, limit_of(r, own));
    int64_t size = largest(&x, limit_of(r, own), true);
    arena_free(x.own);
    return size;
}

void
fits_sizes(const struct study *s, const struct result *r, int dim, int n, const int64_t *size, int64_t most,
           int64_t *reserved)
{
    struct search x = search_new(s, r, dim, most);
    for (int i = 0; i < n && (i == 0 || reserved[i - 1] <= most); i++)
        if (reserved[i] < 0) {
            run_at(&x, size[i]);
            reserved[i] = x.runs[x.nruns - 1].reserved;
        }
    arena_free(x.own);
}

void
fits_run(const struct study *s, struct result *r)
{
    const struct binding *batch = setup_batch(s->s);
    bool *done = NEWN(s->a, bool, r->nfits + 1);
    int64_t most = 0;
    if (!batch || (CALLS / (s->p->ncalls + 1) < TRIES && !r->setup.device))
        return;
    for (int i = 0; i < r->nfits; i++)
        most = limit_of(r, &r->fits[i]) > most ? limit_of(r, &r->fits[i]) : most;
    struct search x = search_new(s, r, (int)(batch - s->s->dims), most);
    if (own_device(r))
        answer(&x, r, limit_of(r, own_device(r)), true, done);
    for (int64_t limit; (limit = next_limit(r, done)) > 0;)
        answer(&x, r, limit, false, done);
    arena_free(x.own);
}
