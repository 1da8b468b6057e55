/* SPDX-License-Identifier: Apache-2.0 */
/* oom.c - --explain-oom: from PyTorch's out-of-memory message to the tensor of this step that asked.
 *
 * The message is read by a table of phrases, which hold for every wording since version 1.0: what stands before a size
 * and what follows it. Sizes are printed with two decimals, so every tensor of the step is one that could have asked
 * whose request prints the same; requests are rounded as the allocator rounds them before they are printed. What the
 * message says of the device tells a full one from a fragmented one and from one that others use. Sources:
 * c10/cuda/CUDACachingAllocator.cpp (malloc, format_size, get_allocation_size) of 1.0, 1.13, 2.0 to 2.9.
 */
#include "advice/advice.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct phrase {
    const char *before, *after; /* a size stands between; an empty one matches everything */
    size_t field;
} phrases[] = {
    {"Tried to allocate ", "", offsetof(struct oom, tried)},
    {"", " total capacity", offsetof(struct oom, capacity)},
    {"total capacity of ", "", offsetof(struct oom, capacity)},
    {"", " already allocated", offsetof(struct oom, allocated)},
    {"", " is allocated by PyTorch", offsetof(struct oom, allocated)},
    {"", " free", offsetof(struct oom, free)},
    {"", " is free", offsetof(struct oom, free)},
    {"", " reserved in total by PyTorch", offsetof(struct oom, reserved)},
    {"", " cached", offsetof(struct oom, unallocated)} /* but not in use: before 1.4 */,
    {"", " is reserved by PyTorch but unallocated", offsetof(struct oom, unallocated)},
    {"this process has ", " memory in use", offsetof(struct oom, process)},
};

static const struct unit {
    const char *name;
    int64_t bytes;
} units[] = {{"GiB", INT64_C(1) << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}, {"bytes", 1}, {"B", 1}};

/* ---- the message ------------------------------------------------------------------------------------------------- */

/* A size at s, as in "2.69 GiB": its bytes, or -1; *end behind it. */
static int64_t
size_at(const char *s, const char **end)
{
    char *rest;
    if (*s < '0' || *s > '9')
        return -1;
    double x = strtod(s, &rest);
    rest += strspn(rest, " ");
    for (int i = 0; i < COUNT(units); i++)
        if (strncmp(rest, units[i].name, strlen(units[i].name)) == 0 && x >= 0 && x < 1e6) {
            *end = rest + strlen(units[i].name);
            return (int64_t)(x * (double)units[i].bytes + 0.5);
        }
    return -1;
}

static bool
ends_with(const char *text, const char *at, const char *before)
{
    size_t n = strlen(before);
    return (size_t)(at - text) >= n && strncmp(at - n, before, n) == 0;
}

static void
read_message(struct oom *o, const char *text)
{
    for (const char *p = text; *p; p++) {
        const char *end;
        int64_t bytes = p == text || !strchr("0123456789.", p[-1]) ? size_at(p, &end) : -1;
        for (int i = 0; i < COUNT(phrases) && bytes >= 0; i++) {
            int64_t *field = (int64_t *)(void *)((char *)o + phrases[i].field);
            if (*field < 0 && ends_with(text, p, phrases[i].before) &&
                strncmp(end, phrases[i].after, strlen(phrases[i].after)) == 0)
                *field = bytes;
        }
        p = bytes >= 0 ? end - 1 : p;
    }
    if (o->reserved < 0 && o->allocated >= 0 && o->unallocated >= 0)
        o->reserved = o->allocated + o->unallocated;
}

/* ---- the tensors ------------------------------------------------------------------------------------------------- */

/* As format_size prints it. */
static bool
prints_as(int64_t bytes, int64_t shown)
{
    int64_t unit = bytes > INT64_C(1) << 30 ? INT64_C(1) << 30
                   : bytes > 1 << 20        ? 1 << 20
                   : bytes > 1 << 10        ? 1 << 10
                                            : 1;
    return fabs((double)bytes / (double)unit - (double)shown / (double)unit) <= 0.00501 || bytes == shown;
}

/* A segment for the request, which is what newer messages print. */
static int64_t
segment_bytes(int64_t bytes)
{
    const int64_t small = 1 << 20, page = 2 << 20, large = 20 << 20, own = 10 << 20;
    return bytes <= small ? page : bytes < own ? large : (bytes + page - 1) / page * page;
}

static void
find_tensors(struct oom *o, const struct study *s, const struct owner *w)
{
    const struct machine *m = s->st->m;
    int cap = 0;
    for (int i = 0; i < m->nst; i++) {
        const struct storage *t = m->st[i];
        int64_t asked = (t->requested + 511) / 512 * 512;
        if (!prints_as(asked, o->tried) && (asked < 10 << 20 || !prints_as(segment_bytes(asked), o->tried)))
            continue;
        const char *name = owner_name(w, t);
        struct oom_match *same = NULL;
        for (int k = 0; k < o->nmatches && !same; k++)
            if (strcmp(o->matches[k].name, name) == 0 && o->matches[k].phase == t->phase)
                same = &o->matches[k];
        if (same) {
            same->count++;
            continue;
        }
        *PUSH(s->a, o->matches, o->nmatches, cap) =
            (struct oom_match){.name = name,
                               .class = t->class,
                               .phase = t->phase,
                               .count = 1,
                               .op = t->op ? arena_printf(s->a, "%s%s", aten_space(t->op), t->op) : NULL,
                               .location = t->call ? t->call->location : NULL,
                               .bytes = t->requested};
    }
}

/* The match whose birth finds most nearly as much allocated as the message says. */
static void
find_likely(struct oom *o, const struct study *s, const struct owner *w)
{
    const struct machine *m = s->st->m;
    int64_t live = s->st->before_bytes, least = o->allocated / 4;
    for (int i = 0; i < m->nev && o->allocated >= 0; i++) {
        const struct storage *t = m->st[m->ev[i].storage];
        int64_t off = live > o->allocated ? live - o->allocated : o->allocated - live;
        for (int k = 0; k < o->nmatches && m->ev[i].birth && off < least; k++)
            if (t->requested == o->matches[k].bytes && t->phase == o->matches[k].phase &&
                strcmp(owner_name(w, t), o->matches[k].name) == 0) {
                o->likely = k;
                o->simulated = live;
                least = off;
            }
        live += m->ev[i].birth ? t->bytes : -t->bytes;
    }
}

/* ---- what to make of it ------------------------------------------------------------------------------------------ */

static const char *
judge(struct arena *a, const struct oom *o)
{
    int64_t spare = o->reserved >= 0 && o->allocated >= 0 ? o->reserved - o->allocated : -1;
    int64_t others = o->process >= 0 && o->capacity >= 0 && o->free >= 0 ? o->capacity - o->free - o->process
                     : o->reserved >= 0 && o->capacity >= 0 && o->free >= 0
                         ? o->capacity - o->free - o->reserved - (INT64_C(1) << 30) /* a context */
                         : -1;
    if (o->tried < 0)
        return "this is no out-of-memory message of PyTorch: it does not say what it tried to allocate";
    if (o->capacity >= 0 && o->tried > o->capacity)
        return "the request alone is larger than the device";
    if (spare >= o->tried)
        return arena_printf(
            a,
            "this is fragmentation: PyTorch held %s that no tensor used, more than the request, but in no one "
            "piece; expandable segments would have served it",
            bytes_text(a, spare));
    if (spare >= 0 && o->free >= 0 && spare + o->free >= o->tried)
        return arena_printf(
            a,
            "this is fragmentation in part: %s of PyTorch's cache that no tensor used and %s left on the "
            "device were enough, but in no one piece; expandable segments may serve it",
            bytes_text(a, spare), bytes_text(a, o->free));
    if (others >= o->tried)
        return arena_printf(a, "other processes on the device held %s, more than the request", bytes_text(a, others));
    if (spare >= 0)
        return arena_printf(a, "this is not fragmentation: only %s of PyTorch's cache was unused",
                            bytes_text(a, spare));
    return "the message does not say how much memory was in use";
}

struct oom *
oom_explain(const struct study *s, struct result *r, const char *text)
{
    struct oom *o = NEW(s->a, struct oom);
    *o = (struct oom){-1, -1, -1, -1, -1, -1, -1, NULL, 0, 0, NULL, NULL, -1, -1, -1, -1};
    read_message(o, arena_str(s->a, text));
    o->judgement = judge(s->a, o);
    if (o->tried < 0)
        return o;
    const struct owner *w = owner_new(s->a, s->p, s->s);
    find_tensors(o, s, w);
    find_likely(o, s, w);
    int64_t held = o->reserved > o->allocated ? o->reserved : o->allocated;
    o->room = held >= 0 && o->free >= 0 ? held + o->free : o->capacity;
    bool over = o->room >= 0 && r->peak.reserved > o->room;
    if (over && r->verdict == VERDICT_OK)
        r->verdict = VERDICT_DOES_NOT_FIT;
    if (!over && o->room >= 0)
        o->judgement =
            arena_printf(s->a,
                         "%s. The step that is analysed here reserves %s and would have fit: batch, precision, "
                         "optimizer or model was another one",
                         o->judgement, bytes_text(s->a, r->peak.reserved));
    o->largest_batch = over && !r->ndoubts ? fits_batch(s, r, o->room) : -1;
    o->avoided_by = NEWN(s->a, const char *, r->nfindings + 1);
    for (int i = 0; i < r->nfindings && over; i++) {
        const struct finding *f = &r->findings[i];
        if (f->reserved_after >= 0 && f->reserved_after <= o->room)
            o->avoided_by[o->navoided++] = f->rule;
    }
    return o;
}
