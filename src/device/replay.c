/* SPDX-License-Identifier: Apache-2.0 */
/* replay.c - the step's allocations on a device: the allocator's segments are real memory, its blocks are written to.
 *
 * The step runs as always; the allocator model asks a device for every segment, or for every page of an expandable
 * one. When the device refuses, cached memory goes back and it is asked once more, as PyTorch does; refused again, the
 * replay ends there, says which tensor asked, and the step runs on without a device. A signal or a failure of the
 * device ends it, too. Everything taken is given back at that moment.
 *
 * Before it begins, libraries are asked what the step's kernels take, and the step runs without a device: a replay
 * takes no more than it announced, and is not begun where less than that, and something to spare, is free.
 */
#include "base/setup.h"
#include "device/device.h"

#include <string.h>

struct segment {
    int64_t address, bytes; /* the allocator's */
    uint64_t at;            /* the device's */
    bool mapped;            /* into a range */
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
drop(struct replay *p, int at)
{
    struct segment s = p->segments[at];
    bool ok = s.mapped ? p->d->unmap(p->d->self, s.at, s.bytes) : p->d->give(p->d->self, s.at);
    if (!ok && !p->failed)
        p->failed = arena_str(p->a, p->d->error(p->d->self));
    p->held -= s.bytes;
    p->now.given += s.bytes;
    memmove(&p->segments[at], &p->segments[at + 1], sizeof(s) * (size_t)(p->n - 1 - at));
    p->n--;
}

/* Nothing more is asked of the device, and nothing stays. */
static void
end(struct replay *p)
{
    if (!p->ended && p->d->used)
        p->d->used(p->d->self, &p->nvml_after, &p->own_after);
    p->ended = true;
    while (p->n)
        drop(p, p->n - 1);
    for (int i = 0; i < COUNT(p->range); i++) {
        if (p->range[i].bytes && !p->d->release(p->d->self, p->range[i].at, p->range[i].bytes) && !p->failed)
            p->failed = arena_str(p->a, p->d->error(p->d->self));
        p->range[i].bytes = 0;
    }
}

static void
fail(struct replay *p)
{
    if (!p->failed)
        p->failed = arena_str(p->a, p->d->error(p->d->self));
    end(p);
}

/* Whether the replay goes on. */
static bool
playing(struct replay *p)
{
    if (!p->ended && p->stop && *p->stop) {
        p->stopped = true;
        end(p);
    }
    return !p->ended;
}

static void
look_at_device(struct replay *p)
{
    int64_t unused, total;
    if (!p->d->info(p->d->self, &unused, &total))
        fail(p);
    else if (total - unused > p->used_peak)
        p->used_peak = total - unused;
}

/* False when the device refuses. */
static bool
hold(struct replay *p, struct segment s)
{
    p->at_limit = p->limit > 0 && p->held + s.bytes > p->limit;
    if (p->at_limit)
        return false;
    enum taken t = s.mapped ? p->d->map(p->d->self, s.at, s.bytes) : p->d->take(p->d->self, s.bytes, &s.at);
    if (t == TAKEN_FULL)
        return false;
    if (t == TAKEN_FAILED) {
        fail(p);
        return true;
    }
    int at = segment_at(p, s.address) + 1;
    (void)PUSH(p->a, p->segments, p->n, p->cap);
    memmove(&p->segments[at + 1], &p->segments[at], sizeof(s) * (size_t)(p->n - 1 - at));
    p->segments[at] = s;
    p->held += s.bytes;
    p->now.taken += s.bytes;
    p->most = p->held > p->most ? p->held : p->most;
    p->now.most_reserved = p->held > p->now.most_reserved ? p->held : p->now.most_reserved;
    return true;
}

static bool
replay_take(struct replay *p, int64_t address, int64_t bytes)
{
    if (!playing(p))
        return true;
    if (!hold(p, (struct segment){address, bytes, 0, false}))
        return false;
    if (!p->ended)
        look_at_device(p);
    return true;
}

static void
replay_give(struct replay *p, int64_t address)
{
    int at = segment_at(p, address);
    if (at >= 0 && p->segments[at].address == address)
        drop(p, at);
}

static void
replay_unmap(struct replay *p, int64_t address, int64_t bytes, int64_t page)
{
    for (int64_t done = 0; done < bytes; done += page)
        replay_give(p, address + done);
}

/* Source: ExpandableSegment in c10/cuda/CUDACachingAllocator.cpp: addresses for 9/8 of the device, memory page by
 * page. */
static bool
replay_map(struct replay *p, struct replay_range r, int64_t address, int64_t bytes)
{
    if (!playing(p))
        return true;
    if (!p->range[r.pool].bytes) {
        int64_t all = div_up(p->total / 8 * 9, r.page) * r.page;
        if (!p->d->reserve(p->d->self, all, &p->range[r.pool].at)) {
            fail(p);
            return true;
        }
        p->range[r.pool].bytes = all;
    }
    p->at_limit = false;
    if (address - r.base + bytes > p->range[r.pool].bytes)
        return false;
    for (int64_t done = 0; done < bytes && !p->ended; done += r.page) {
        uint64_t at = p->range[r.pool].at + (uint64_t)(address - r.base + done);
        if (hold(p, (struct segment){address + done, r.page, at, true}))
            continue;
        replay_unmap(p, address, done, r.page);
        return false;
    }
    if (!p->ended)
        look_at_device(p);
    return true;
}

static void
replay_block(struct replay *p, int64_t address, int64_t bytes, int64_t allocated)
{
    if (!playing(p))
        return;
    p->blocks++;
    if (allocated > p->now.most_allocated) {
        p->now.most_allocated = allocated;
        p->now.idle = p->held - allocated;
    }
    for (int at = segment_at(p, address); playing(p) && at >= 0 && at < p->n && bytes > 0;
         at++) { /* of a range: several */
        const struct segment *s = &p->segments[at];
        int64_t from = address - s->address, n = s->bytes - from < bytes ? s->bytes - from : bytes;
        if (!p->d->touch(p->d->self, s->at + (uint64_t)from, n)) {
            fail(p);
            return;
        }
        address += n;
        bytes -= n;
    }
}

static void
replay_refuse(struct replay *p, int64_t bytes)
{
    if (p->ended)
        return;
    p->refused = true;
    p->refused_bytes = bytes;
    p->refused_step = p->nsteps;
    p->refused_block = p->blocks + 1;
    end(p);
}

static void
replay_asked(struct replay *p, enum phase phase, const char *op, const char *name, const char *location)
{
    if (!p->refused || p->op)
        return;
    p->phase = phase;
    p->op = op ? op : "a tensor";
    p->name = name;
    p->location = location;
}

static void
replay_step(struct replay *p, int64_t allocated)
{
    if (!playing(p))
        return;
    p->now.allocated = allocated;
    p->now.reserved = p->held;
    *PUSH(p->a, p->steps, p->nsteps, p->cap_steps) = p->now;
    p->now = (struct replayed_step){.most_allocated = allocated, .most_reserved = p->held, .idle = p->held - allocated};
    p->blocks = 0;
}

struct player
replay_player(struct replay *p)
{
    return (struct player){p,           replay_take, replay_give, replay_map, replay_unmap, replay_block, replay_refuse,
                           replay_step, replay_asked};
}

/* What the step reserves from the file alone, and what it will take as it is played. */
static void
predict(struct replay *p, const struct program *program, struct setup *s)
{
    int64_t unused, total;
    p->kernels = NEW(p->a, struct kernels);
    p->kernels->a = p->a;
    s->kernels = p->kernels;
    p->sm = device_sm(s->device);
    p->predicted = p->announced = measure_step(program, s, NULL, NULL).reserved;
    p->kernels->counted = true;
    if (p->libraries)
        libraries_ask(p->libraries, p->kernels);
    s->repeats = p->repeats;
    if (p->libraries || p->repeats > 1)
        p->announced = measure_step(program, s, NULL, NULL).reserved;
    if (!p->d->info(p->d->self, &unused, &total)) {
        fail(p);
        return;
    }
    p->total = total;
    p->used_before = p->used_peak = total - unused;
    p->library_bytes = p->d->unused - unused;
    if (p->d->used)
        p->d->used(p->d->self, &p->nvml_before, &p->own_before);
}

bool
replay_run(struct replay *p, const struct program *program, const struct setup *s)
{
    struct setup own = *s;
    p->nvml_before = p->nvml_after = p->own_before = p->own_after = -1;
    predict(p, program, &own);
    if (p->failed)
        return false;
    int64_t wanted = p->limit > 0 && p->limit < p->announced ? p->limit : p->announced;
    wanted += p->spare >= 0 ? p->spare : p->total / 20;
    p->missing = wanted - (p->total - p->used_before);
    p->crowded = p->missing > 0;
    if (p->crowded)
        return true;
    p->limit = p->limit > 0 ? p->limit : p->announced;
    struct player player = replay_player(p);
    own.player = &player;
    (void)measure_step(program, &own, NULL, NULL);
    end(p);
    return !p->failed;
}
