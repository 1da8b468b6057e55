/* grid.c - the step at other sizes: what a table of batch and sequence against devices needs.
 *
 * One row and one column for every size is a run of the step, so nothing in the table is a guess. The first row is the size that was asked for;
 * more rows vary the first dimension beside the batch. Runs stop where no device is large enough, and a large model gets
 * fewer of them: what was not run stays -1.
 */
#include "memlint.h"

#include <string.h>

enum { COLUMNS = 8, ROWS = 4, BELOW = 3 /* halvings */, MOST_SIZE = 1 << 20, CALLS = 9000 /* run for all */ };

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
    for (; k < count && n <= MOST_SIZE; n *= 2)
        size[k++] = n;
    return k;
}

static int64_t
reserved_at(const struct study *x, const char *across, int64_t column, const char *down, int64_t row)
{
    struct arena *a = arena_new();
    struct setup s = *x->s;
    s.dims = arena_dup(a, s.dims, sizeof(*s.dims) * (size_t)s.ndims);
    for (int i = 0; i < s.ndims; i++)
        s.dims[i].n = strcmp(s.dims[i].name, across) == 0         ? column
                      : down && strcmp(s.dims[i].name, down) == 0 ? row
                                                                  : s.dims[i].n;
    const struct program *p = x->reload(x, a, &s);
    int64_t reserved = p ? measure_step(p, &s, NULL, NULL).reserved : -1;
    arena_free(a);
    return reserved;
}

void
grid_run(const struct study *x, struct result *r)
{
    const struct setup *s = x->s;
    const struct binding *across = setup_batch(s), *down = NULL;
    int64_t *column = NEWN(x->a, int64_t, COLUMNS), *row = NEWN(x->a, int64_t, ROWS), most = 0;
    int own_column, own_row = 0, left = CALLS / (x->p->ncalls + 1);
    across = across ? across : s->ndims ? &s->dims[0] : NULL;
    if (!across || across->n < 1)
        return;
    for (int i = s->ndims - 1; i >= 0; i--)
        down = strcmp(s->dims[i].name, across->name) != 0 && s->dims[i].n > 1 ? &s->dims[i] : down;
    for (int i = 0; i < r->nfits; i++)
        most = r->fits[i].capacity > most ? r->fits[i].capacity : most;
    struct grid *g = NEW(x->a, struct grid);
    *g = (struct grid){
        .across = across->name, .down = down ? down->name : NULL, .nrows = 1, .column = column, .row = row};
    g->ncolumns = sizes_around(across->n, COLUMNS, BELOW, column, &own_column);
    row[0] = -1;
    if (down)
        g->nrows = sizes_around(down->n, ROWS, 2, row, &own_row);
    g->reserved = NEWN(x->a, int64_t, g->ncolumns * g->nrows);
    memset(g->reserved, 0xff, sizeof(*g->reserved) * (size_t)(g->ncolumns * g->nrows));
    g->reserved[own_row * g->ncolumns + own_column] = r->peak.reserved;
    for (int k = 0; k < g->nrows; k++) {
        int at = k == 0 ? own_row : k <= own_row ? k - 1 : k; /* the asked for one first */
        int64_t *cell = &g->reserved[at * g->ncolumns];
        study_tell(x, "trying sizes", k, g->nrows);
        for (int i = 0; i < g->ncolumns && left > 0; i++) {
            bool own = at == own_row && i == own_column;
            if (i && cell[i - 1] > most)
                break;
            if (!own && left-- > 0)
                cell[i] = reserved_at(x, across->name, column[i], down ? down->name : NULL, row[at]);
        }
    }
    g->own_column = own_column;
    g->own_row = own_row;
    r->grid = g;
}
