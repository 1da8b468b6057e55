/* SPDX-License-Identifier: Apache-2.0 */
/* segments.c - what the allocator holds of the device at the peak, segment by segment: who uses it, and what is free.
 *
 * The heap says which segments it had then, and a storage where its block lay; what is free is what lies between. Under
 * fake tensors, whose bytes are not those of blocks, there is none of it.
 */
#include "result/passes.h"

#include <stdlib.h>

void
segments_gather(struct arena *a, const struct machine *m, struct result *r)
{
    int n = 0;
    for (int k = 0; k < STREAMS; k++)
        n += m->at_most[k].nsegments;
    r->segments = NEWN(a, struct segment, n + 1);
    for (int k = 0; k < STREAMS && m->real; k++)
        for (int i = 0; i < m->at_most[k].nsegments; i++) {
            struct heap_segment s = heap_segment(machine_heap(m, k), &m->at_most[k], i);
            if (s.bytes)
                r->segments[r->nsegments++] = (struct segment){
                    .stream = k, .large = s.large, .address = s.address, .bytes = s.bytes, .largest_free = s.bytes};
        }
}

int
segments_find(const struct result *r, const struct storage *s)
{
    const int stream = s->stream;
    int lo = 0, hi = r->nsegments;
    while (lo < hi) {
        int mid = (lo + hi) / 2;
        const struct segment *at = &r->segments[mid];
        if (at->stream < stream || (at->stream == stream && at->address + at->bytes <= s->address))
            lo = mid + 1;
        else if (at->stream > stream || at->address > s->address)
            hi = mid;
        else
            return mid;
    }
    return -1;
}

/* By stream and address; segments are in that order already. */
static int
by_place(const void *x, const void *y)
{
    const struct live_tensor *p = *(const struct live_tensor *const *)x, *q = *(const struct live_tensor *const *)y;
    return p->segment != q->segment ? (p->segment > q->segment) - (p->segment < q->segment)
                                    : (p->offset > q->offset) - (p->offset < q->offset);
}

void
segments_fill(struct result *r)
{
    struct arena *own = arena_new();
    const struct live_tensor **at = NEWN(own, const struct live_tensor *, r->nlive + 1);
    int n = 0;
    for (int i = 0; i < r->nlive; i++)
        if (r->live[i].segment >= 0)
            at[n++] = &r->live[i];
    qsort(at, (size_t)n, sizeof(*at), by_place);
    for (int i = 0; i < n; i++) {
        struct segment *s = &r->segments[at[i]->segment];
        bool first = i == 0 || at[i - 1]->segment != at[i]->segment;
        bool last = i == n - 1 || at[i + 1]->segment != at[i]->segment;
        int64_t gap = at[i]->offset - (first ? 0 : at[i - 1]->offset + at[i - 1]->bytes);
        int64_t rest = last ? s->bytes - at[i]->offset - at[i]->bytes : 0;
        s->largest_free = first || gap > s->largest_free ? gap : s->largest_free;
        s->largest_free = rest > s->largest_free ? rest : s->largest_free;
        s->used = bytes_add(s->used, at[i]->bytes);
        s->ntensors++;
    }
    arena_free(own);
}
