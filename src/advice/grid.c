/* SPDX-License-Identifier: Apache-2.0 */
/* grid.c - the step at other sizes: what a table of batch and sequence against devices needs.
 *
 * Every number in the table is a run of the step, or played. The first row is the size that was asked for; more rows
 * vary the first dimension beside the batch. Runs stop where no device is large enough, and a large model gets fewer of
 * them: what was not run stays -1.
 */
#include "advice/advice.h"
#include "base/setup.h"

#include <string.h>

enum { COLUMNS = 8, ROWS = 4, BELOW = 3 /* halvings */, MOST_SIZE = 1 << 20, CALLS = 18000 /* run for all */ };

/* n, its halves and its doubles, ascending: count of them; *own is where n stands. */
static int
sizes_around(int64_t n, int count, int below, int64_t *size, int *own)
{
    int k = 0;
    while (below > 0 && n >> below == 0)
        below--;
    for (int i = below; i > 0; i--)
        if (k == 0 || n >> i > size[k - 1])
            size[k++] = n >> i;
    *own = k;
    size[k++] = n;
    while (k < count && n <= MOST_SIZE / 2)
        size[k++] = n *= 2;
    return k;
}

static bool
has_kind(const struct result *r, int kind)
{
    bool has = kind == r->own_kind;
    for (int i = 0; i < r->nfits; i++)
        has |= r->fits[i].kind == kind;
    return has;
}

void
grid_run(struct study *x, struct result *r)
{
    const struct setup *s = x->s;
    const struct binding *batch = setup_batch(s);
    int64_t *column = NEWN(x->a, int64_t, COLUMNS), *row = NEWN(x->a, int64_t, ROWS), most = 0;
    int across = batch ? (int)(batch - s->dims) : 0, down = -1, left = CALLS / (x->p->ncalls + 1);
    if (s->ndims == 0 || s->dims[across].n < 1)
        return;
    for (int i = s->ndims - 1; i >= 0; i--)
        down = i != across && s->dims[i].n > 1 ? i : down;
    for (int i = 0; i < r->nfits; i++)
        most = r->fits[i].capacity > most ? r->fits[i].capacity : most;
    struct grid *g = NEW(x->a, struct grid);
    *g = (struct grid){.across = s->dims[across].name, .nrows = 1, .column = column, .row = row};
    g->ncolumns = sizes_around(s->dims[across].n, COLUMNS, BELOW, column, &g->own_column);
    row[0] = -1;
    if (down >= 0) {
        g->down = s->dims[down].name;
        g->nrows = sizes_around(s->dims[down].n, ROWS, 2, row, &g->own_row);
    }
    for (int kind = 0; kind < DEVICE_KINDS; kind++) {
        g->reserved[kind] = NEWN(x->a, int64_t, g->ncolumns * g->nrows);
        memset(g->reserved[kind], 0xff, sizeof(int64_t) * (size_t)(g->ncolumns * g->nrows));
    }
    g->reserved[r->own_kind][g->own_row * g->ncolumns + g->own_column] = r->peak.reserved;
    for (int k = 0; k < g->nrows && left > 0; k++) {
        int at = k == 0 ? g->own_row : k <= g->own_row ? k - 1 : k; /* the asked for one first */
        struct study other = *x, *row_of = at == g->own_row ? x : &other;
        struct arena *a = arena_new();
        struct setup there = *s;
        if (row_of == &other) { /* the study at another size of dimension down */
            there.dims = arena_dup(a, s->dims, sizeof(*s->dims) * (size_t)s->ndims);
            there.dims[down].n = row[at];
            other.s = &there;
            other.search = NULL;
        }
        for (int kind = 0; kind < DEVICE_KINDS && left > 0; kind++) {
            int n = left < g->ncolumns ? left : g->ncolumns;
            if (!has_kind(r, kind))
                continue;
            study_tell(x, "trying sizes", k * DEVICE_KINDS + kind, g->nrows * DEVICE_KINDS);
            fits_sizes(row_of, kind, across, n, column, most, &g->reserved[kind][at * g->ncolumns]);
            left -= n;
        }
        if (row_of == &other)
            fits_free(&other);
        arena_free(a);
    }
    r->grid = g;
}
