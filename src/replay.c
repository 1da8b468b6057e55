/* replay.c - the step's allocations on a device: the allocator's segments are real memory, its blocks are written to.
 *
 * The step runs as always; the allocator model asks a device for every segment. When the device refuses, cached segments go back
 * and it is asked once more, as PyTorch does; refused again, the replay ends there, says which tensor asked, and the step runs on
 * without a device. Everything taken is given back, on every way out.
 */
#include "memlint.h"

#include <string.h>

struct segment {
    int64_t address, bytes; /* the allocator's */
    uint64_t at;            /* the device's */
};

/* The last segment that begins no later. */
static int
segment_at(const struct replay *p, int64_t address)
{
    int lo = 0, hi = p->n;
    while (lo < hi) {
        int mid = (lo + hi) / 2;
        if (p->segments[mid].address <= address)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo - 1;
}

static void
look_at_device(struct replay *p)
{
    int64_t unused, total;
    if (p->d->info(p->d->self, &unused, &total) && total - unused > p->used_peak)
        p->used_peak = total - unused;
}

bool
replay_take(struct replay *p, int64_t address, int64_t bytes)
{
    struct segment s = {address, bytes, 0};
    if (p->ended)
        return true;
    if (p->stop && *p->stop) {
        p->ended = p->stopped = true;
        return true;
    }
    if ((p->limit > 0 && p->held + bytes > p->limit) || !p->d->take(p->d->self, bytes, &s.at))
        return false;
    int at = segment_at(p, address) + 1;
    (void)PUSH(p->a, p->segments, p->n, p->cap);
    memmove(&p->segments[at + 1], &p->segments[at], sizeof(s) * (size_t)(p->n - 1 - at));
    p->segments[at] = s;
    p->held += bytes;
    p->most = p->held > p->most ? p->held : p->most;
    look_at_device(p);
    return true;
}

void
replay_give(struct replay *p, int64_t address)
{
    int at = segment_at(p, address);
    if (at < 0 || p->segments[at].address != address)
        return;
    p->failed |= !p->d->give(p->d->self, p->segments[at].at);
    p->held -= p->segments[at].bytes;
    memmove(&p->segments[at], &p->segments[at + 1], sizeof(struct segment) * (size_t)(p->n - 1 - at));
    p->n--;
}

void
replay_touch(struct replay *p, int64_t address, int64_t bytes)
{
    for (int at = p->ended ? -1 : segment_at(p, address); at >= 0 && at < p->n && bytes > 0;
         at++) { /* of an expandable range: several */
        const struct segment *s = &p->segments[at];
        int64_t from = address - s->address, n = s->bytes - from < bytes ? s->bytes - from : bytes;
        if (from < 0 || n <= 0)
            return;
        p->failed |= !p->d->touch(p->d->self, s->at + (uint64_t)from, n);
        address += n;
        bytes -= n;
    }
}

void
replay_refuse(struct replay *p, int64_t bytes)
{
    p->ended = p->refused = true;
    p->refused_bytes = bytes;
}

bool
replay_run(struct replay *p, const struct program *program, const struct setup *s)
{
    int64_t unused, total;
    struct setup own = *s;
    own.replay = p;
    if (!p->d->info(p->d->self, &unused, &total))
        return false;
    p->used_before = p->used_peak = total - unused;
    p->total = total;
    p->predicted = measure_step(program, s, NULL, NULL).reserved;
    int64_t spare = total / 20, allowed = p->limit > 0 && p->limit < p->predicted ? p->limit : p->predicted;
    if (allowed + spare > unused) {
        p->crowded = true;
        p->missing = allowed + spare - unused;
        return true;
    }
    (void)measure_step(program, &own, NULL, NULL);
    while (p->n)
        replay_give(p, p->segments[p->n - 1].address);
    return !p->failed;
}
