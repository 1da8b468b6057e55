/* fits.c - the largest batch that fits each device.
 *
 * The step is run again at other batches. Reserved bytes are nearly linear in the batch, so the next one to try is where the line between the
 * nearest that fits and the nearest that does not crosses the device's capacity. What is reported was run and fits. For the device of --device the search ends
 * when the next larger batch was run and does not fit; for the others after a few runs, and a large model gets fewer.
 */
#include "memlint.h"

#include <string.h>

enum {
    MOST_BATCH = 1 << 20,
    MOST_RUNS = 256,
    TRIES = 3,
    NEAR = 20 /* the batch is told to 1/NEAR */,
    OWN_TRIES = 40,
    CALLS = 4500 /* run for all devices */
};

struct search {
    const struct study *s;
    int nruns;
    struct run {
        int64_t batch, reserved; /* -1: the model can't be read so */
    } runs[MOST_RUNS];
    int left; /* runs that others than the own device may still take */
};

static int64_t
reserved_at(struct search *x, int64_t batch)
{
    struct arena *a = arena_new();
    struct setup s = *x->s->s;
    s.dims = arena_dup(a, s.dims, sizeof(*s.dims) * (size_t)s.ndims);
    setup_batch(&s)->n = batch;
    const struct program *p = x->s->reload(x->s, a, &s);
    int64_t reserved = p ? measure_step(p, &s, NULL, NULL).reserved : -1;
    arena_free(a);
    x->runs[x->nruns++] = (struct run){batch, reserved};
    x->left--;
    return reserved;
}

/* The largest batch known to fit and the least known not to, as runs; NULL none. */
static void
bracket(const struct search *x, int64_t limit, const struct run **lo, const struct run **hi)
{
    *lo = *hi = NULL;
    for (int i = 0; i < x->nruns; i++) {
        const struct run *r = &x->runs[i];
        bool fits = r->reserved >= 0 && r->reserved <= limit;
        if (fits && (!*lo || r->batch > (*lo)->batch))
            *lo = r;
        if (!fits && (!*hi || r->batch < (*hi)->batch))
            *hi = r;
    }
}

/* Where the line between two runs reaches the limit. */
static int64_t
crossing(const struct run *a, const struct run *b, int64_t limit)
{
    double slope = (double)(b->reserved - a->reserved) / (double)(b->batch - a->batch);
    double at = (double)a->batch + (double)(limit - a->reserved) / slope;
    return slope <= 0 || at > MOST_BATCH ? MOST_BATCH : at < 1 ? 1 : (int64_t)at;
}

static int64_t
largest(struct search *x, int64_t limit, bool own)
{
    const struct run *lo, *hi;
    int before = x->nruns;
    for (int tries = own ? OWN_TRIES : TRIES;; tries--) {
        bracket(x, limit, &lo, &hi);
        int64_t from = lo ? lo->batch : 0, to = hi ? hi->batch : MOST_BATCH + 1;
        if (to - from <= 1 || tries == 0 || x->nruns == MOST_RUNS || (!own && x->left <= 0))
            break;
        int64_t at = lo && hi && hi->reserved > 0                 ? crossing(lo, hi, limit)
                     : x->runs[0].reserved != x->runs[1].reserved ? crossing(&x->runs[0], &x->runs[1], limit)
                                                                  : 2 * from;
        if (own && tries % 2 && hi) /* a line alone may creep */
            at = from + (to - from) / 2;
        reserved_at(x, at <= from ? from + 1 : at >= to ? to - 1 : at);
    }
    int64_t from = lo ? lo->batch : 0, apart = hi ? hi->batch - from : MOST_BATCH;
    bool aimed = lo >= &x->runs[before];
    return apart <= 1 || own || aimed || apart <= from / NEAR ? from : -1;
}

static int64_t
limit_of(const struct result *r, const struct fit *f)
{
    return f->capacity - (f->need - r->peak.reserved);
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

void
fits_run(const struct study *s, struct result *r)
{
    const struct binding *batch = setup_batch(s->s);
    struct search x = {.s = s, .left = CALLS / (s->p->ncalls + 1)};
    bool *done = NEWN(s->a, bool, r->nfits + 1);
    int64_t most = 0;
    if (!batch || (x.left < TRIES && !r->setup.device))
        return;
    for (int i = 0; i < r->nfits; i++)
        most = limit_of(r, &r->fits[i]) > most ? limit_of(r, &r->fits[i]) : most;
    x.runs[x.nruns++] = (struct run){batch->n, r->peak.reserved};
    for (int i = 0; r->grid && i < r->grid->nrows * r->grid->ncolumns; i++) /* runs that were made for the table */
        if (r->grid->own_row == i / r->grid->ncolumns && r->grid->reserved[i] >= 0 &&
            r->grid->column[i % r->grid->ncolumns] != batch->n)
            x.runs[x.nruns++] = (struct run){r->grid->column[i % r->grid->ncolumns], r->grid->reserved[i]};
    int64_t far = r->peak.reserved > 0 ? most / r->peak.reserved + 1 : 2;
    if (x.nruns == 1)
        reserved_at(&x, far > MOST_BATCH / batch->n ? MOST_BATCH : far * batch->n);
    for (int i = 0; i < r->nfits; i++)
        if (r->setup.device && strcmp(r->fits[i].device, r->setup.device) == 0)
            answer(&x, r, limit_of(r, &r->fits[i]), true, done);
    for (int64_t limit; (limit = next_limit(r, done)) > 0;)
        answer(&x, r, limit, false, done);
}
