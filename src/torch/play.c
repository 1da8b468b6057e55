/* SPDX-License-Identifier: Apache-2.0 */
/* play.c - the trace of an iteration, played on the caching allocator: what is allocated and reserved.
 *
 * Eager mode asks the allocator nothing that would change what it does next, so the engine writes down births and
 * deaths, and they are played afterwards. Iterations differ only in what the one before has left: gradients, outputs
 * and loss, which die where their names are bound anew, and what the first one makes for good (states of the optimizer,
 * workspaces of libraries). So the engine runs once. Where it drops a name that holds nothing yet, it notes the name;
 * when the trace is played again, what the name holds at the iteration's end dies there, and what stays is not born
 * again.
 *
 * That is a proof only where everything that outlives the iteration is either held by such names alone or by none of
 * them; where it is not (gradients that are zeroed in place, leaves that the program makes), the engine runs each
 * iteration.
 *
 * What all iterations asked goes on a tape, which is played again for other devices and for sizes between those of two
 * tapes.
 */
#include "base/setup.h"
#include "torch/torch.h"

#include <string.h>

/* ---- what the engine writes down --------------------------------------------------------------------------------- */

void
trace_begin(struct machine *m)
{
    struct step_trace *t = &m->trace;
    for (int i = 0; i < t->nst; i++) /* room of what nobody knows any more */
        if (t->st[i]->refs == 0)
            *PUSH(m->keep, m->spare, m->nspare, m->cap_spare) = t->st[i];
    t->nst = t->nev = t->nnotes = t->times = 0;
    t->before = m->nst;
    for (int i = 0; i < m->nst; i++) {
        *PUSH(t->a, t->st, t->nst, t->cap_st) = m->st[i];
        m->st[i]->at = i;
    }
    memset(t->at, -1, sizeof(t->at));
}

static inline void
note(struct machine *m, int storage, bool birth)
{
    struct step_trace *t = &m->trace;
    *PUSH(t->a, t->ev, t->nev, t->cap_ev) = (struct event){storage, birth, m->phase, m->op, m->call};
}

void
trace_birth(struct machine *m, struct storage *s)
{
    struct step_trace *t = &m->trace;
    s->at = t->nst;
    *PUSH(t->a, t->st, t->nst, t->cap_st) = s;
    note(m, s->at, true);
}

void
trace_death(struct machine *m, const struct storage *s)
{
    note(m, s->at, false);
}

void
trace_unbind(struct machine *m, struct value **name)
{
    struct step_trace *t = &m->trace;
    note(m, -1 - t->nnotes, false);
    *PUSH(t->a, t->note, t->nnotes, t->cap_notes) = (struct note){.name = name};
}

void
trace_release(struct machine *m)
{
    struct step_trace *t = &m->trace;
    note(m, -1 - t->nnotes, false);
    *PUSH(t->a, t->note, t->nnotes, t->cap_notes) = (struct note){.releases = true};
}

int
tape_ask(struct tape *x, const struct ask *q)
{
    struct ask *to = PUSH(x->own, x->ask, x->nasks, x->cap_asks);
    *to = *q;
    to->of = arena_dup(x->a, q->of, q->of_bytes);
    to->number = arena_dup(x->a, q->number, sizeof(*q->number) * (size_t)q->n);
    return x->nasks - 1;
}

void
trace_ask(struct machine *m, const struct ask *q)
{
    struct step_trace *t = &m->trace;
    note(m, -1 - t->nnotes, false);
    *PUSH(t->a, t->note, t->nnotes, t->cap_notes) = (struct note){.ask = tape_ask(m->tape, q)};
}

void
trace_mark(struct machine *m, enum trace_mark at)
{
    m->trace.at[at] = m->trace.nev;
}

static bool
lives(const struct storage *s)
{
    return s->refs > 0 && !s->empty;
}

void
trace_round(struct machine *m)
{
    struct step_trace *t = &m->trace;
    t->round[0] = t->round[1];
    t->round[1] = (struct round){t->nev, t->nst};
}

static bool
asks_like(const struct ask *p, const struct ask *q)
{
    return p->blocks == q->blocks && p->n == q->n && p->of_bytes == q->of_bytes &&
           memcmp(p->of, q->of, p->of_bytes) == 0;
}

/* Whether an event of the last micro-batch is that of the one before it at the same place: a birth of as much, the
 * death of what was born at the same place of its own or of the micro-batch before, an ask for the same. */
static bool
same_event(const struct machine *m, const struct event *e, const struct event *f)
{
    const struct step_trace *t = &m->trace;
    const int from = t->round[0].st, to = t->round[1].st;
    if (e->birth != f->birth || e->phase != f->phase || e->op != f->op || e->call != f->call)
        return false;
    if (e->storage < 0 || f->storage < 0) {
        const struct note *p = e->storage < 0 && f->storage < 0 ? &t->note[-1 - e->storage] : NULL,
                          *q = p ? &t->note[-1 - f->storage] : NULL;
        if (!p || p->name || q->name)
            return false;
        const struct ask *x = &m->tape->ask[p->ask], *y = &m->tape->ask[q->ask];
        return asks_like(x, y) && memcmp(x->number, y->number, sizeof(*x->number) * (size_t)x->n) == 0;
    }
    if (f->storage < to)
        return !f->birth && f->storage >= from && e->storage < from;
    const struct storage *s = t->st[e->storage], *o = t->st[f->storage];
    return e->storage - from == f->storage - to && s->requested == o->requested && s->stream == o->stream &&
           !s->stays && !o->stays && !s->ask && !o->ask;
}

bool
trace_settles(struct machine *m, int times)
{
    struct step_trace *t = &m->trace;
    const struct round *r = t->round;
    int n = r[1].ev - r[0].ev;
    bool same = !m->reducer && !m->shards && !m->collectives && t->nev - r[1].ev == n;
    for (int i = 0; i < n && same; i++)
        same = same_event(m, &t->ev[r[0].ev + i], &t->ev[r[1].ev + i]);
    for (int i = r[0].st; i < r[1].st && same; i++)
        same = !lives(t->st[i]);
    t->times = same ? times : 0;
    return same;
}

bool
trace_repeats(const struct machine *m)
{
    const struct step_trace *t = &m->trace;
    struct arena *own = arena_new();
    int *held = NEWN(own, int, t->nst + 1);                         /* by names that were noted */
    bool repeats = (!m->collectives || m->shards) && !m->ncaptives; /* buckets of gradients are none's to hold */
    for (int i = 0; i < t->nnotes; i++) {
        const struct value *v = t->note[i].name ? *t->note[i].name : NULL;
        for (int k = 0; v && k < v->ntail; k++)
            held[v->tail[k]->at]++;
        if (v && v->st->bytes)
            held[v->st->at]++;
    }
    for (int i = 0; i < t->nst && repeats; i++) {
        const struct storage *s = t->st[i];
        repeats = i < t->before ? lives(s) : !lives(s) || s->stays || held[i] == s->refs;
    }
    arena_free(own);
    return repeats;
}

/* ---- the allocator plays it -------------------------------------------------------------------------------------- */

int64_t
machine_reserved(const struct machine *m)
{
    int64_t sum = heap_reserved(m->heap);
    for (int i = 0; i < COUNT(m->side); i++)
        sum += m->side[i] ? heap_reserved(m->side[i]) : 0;
    return sum;
}

struct heap *
machine_heap(const struct machine *m, int stream)
{
    return stream ? m->side[stream - 1] : m->heap;
}

void
machine_mark(struct machine *m)
{
    m->most_bytes = m->live_bytes;
    for (int i = 0; i < STREAMS; i++)
        m->at_most[i] = machine_heap(m, i) ? heap_mark(machine_heap(m, i)) : (struct heap_mark){0};
}

/* It grows until memory goes back to the device. */
static void
note_reserved(struct machine *m)
{
    const int64_t reserved = machine_reserved(m);
    m->reserved_bytes = reserved > m->reserved_bytes ? reserved : m->reserved_bytes;
}

/* To a device, which may have refused it and got memory back. */
static void
tell(struct machine *m, const struct player *p, const struct storage *s, const struct event *e)
{
    p->asked(p->of, e->phase, e->op,
             s->class == CLASS_WORKSPACE ? "a workspace"
             : e->call                   ? e->call->name
                                         : s->name,
             e->call ? e->call->location : NULL);
    note_reserved(m);
}

static inline void
report(struct machine *m, const struct storage *s, const struct event *e)
{
    struct event *to = PUSH(m->keep, m->ev, m->nev, m->cap_ev);
    *to = *e;
    to->storage = s->id;
}

/* Its place on the tape. */
static int
put_on_tape(struct machine *m, int kind, int64_t number)
{
    struct tape *x = m->tape;
    if (kind == REQUEST_FREE && number == x->n - 1)
        x->request[number].passes = true;
    *PUSH(x->own, x->request, x->n, x->cap) = (struct request){.kind = (unsigned)kind & 3, .number = (uint64_t)number};
    return x->n - 1;
}

/* Small blocks take as much as they ask for, wherever they lie. */
static bool
is_played(const struct machine *m, const struct storage *s)
{
    return !m->unreserved || heap_is_large(s->requested);
}

/* p: the device that it is played on, NULL none. */
static void
birth(struct machine *m, struct storage *s, const struct event *e, bool reported, const struct player *p)
{
    if (m->tape && !s->asked)
        s->request = put_on_tape(m, s->ask ? REQUEST_ASKED : REQUEST_BLOCK, s->ask ? s->ask - 1 : s->requested);
    if (!s->bytes) /* it is asked for at other sizes */
        return;
    if (m->tape)
        m->tape->whole &= !s->stream;
    s->block = is_played(m, s) ? heap_malloc(machine_heap(m, s->stream), s->requested) : NULL;
    s->address = s->block ? s->block->address : 0;
    if (p)
        tell(m, p, s, e);
    if (m->real && s->block)
        s->bytes = s->block->bytes;
    m->live_bytes += s->bytes;
    s->id = m->nst;
    *PUSH(m->keep, m->st, m->nst, m->cap_st) = s;
    if (reported && m->live_bytes > m->most_bytes)
        machine_mark(m);
    if (reported)
        report(m, s, e);
}

static inline void
death(struct machine *m, struct storage *s, const struct event *e, bool reported)
{
    if (m->tape && !s->asked)
        put_on_tape(m, REQUEST_FREE, s->request);
    if (!s->bytes)
        return;
    if (s->block)
        heap_free(machine_heap(m, s->stream), s->block);
    m->live_bytes -= s->bytes;
    if (reported) {
        report(m, s, e);
        return;
    }
    m->st[s->id] = m->st[--m->nst];
    m->st[s->id]->id = s->id;
}

static void
release(struct machine *m)
{
    if (m->tape)
        m->tape->whole = false;
    note_reserved(m);
    for (int i = 0; i < STREAMS; i++)
        if (machine_heap(m, i))
            heap_release(machine_heap(m, i));
}

/* What the iteration before has left, for what will be born again: by place in the trace, NULL none. */
static struct storage **
leavings(struct machine *m, struct arena *a)
{
    const struct step_trace *t = &m->trace;
    struct storage **old = NEWN(a, struct storage *, t->nst + 1);
    for (int i = t->before; i < t->nst; i++)
        if (lives(t->st[i]) && !t->st[i]->stays) {
            old[i] = arena_dup(m->keep, t->st[i], sizeof(*old[i]));
            m->st[old[i]->id] = old[i];
        }
    return old;
}

static void
let_go(struct machine *m, struct storage *old, const struct event *e, bool reported)
{
    if (old && --old->refs == 0)
        death(m, old, e, reported);
}

/* old: of the iteration before, NULL there was none. */
static void
take_note(struct machine *m, const struct note *n, struct storage **old, const struct event *e, bool reported)
{
    const struct value *v = n->name ? *n->name : NULL;
    if (n->releases)
        release(m);
    else if (!n->name)
        put_on_tape(m, REQUEST_ASK, n->ask);
    for (int k = 0; old && v && k < v->ntail; k++)
        let_go(m, old[v->tail[k]->at], e, reported);
    if (old && v && v->st->bytes)
        let_go(m, old[v->st->at], e, reported);
}

void
trace_play(struct machine *m, bool again, bool reported)
{
    struct step_trace *t = &m->trace;
    const struct player *p = m->s ? m->s->player : NULL;
    struct arena *own = arena_new();
    struct storage **old = again ? leavings(m, own) : NULL;
    struct storage **now = t->times ? arena_dup(own, t->st, sizeof(*now) * (size_t)t->nst) : t->st, **was = NULL;
    const struct round *r = t->round; /* that is played over again: with storages of its own, was: those before */
    int end = reported ? t->at[TRACE_END] : t->nev;
    if (reported && m->cap_ev < t->nev) { /* nearly all that is reported */
        m->ev = NEWN(m->keep, struct event, t->nev);
        m->cap_ev = t->nev;
    }
    const struct event *ev = t->ev;
    for (int i = 0, stop, mark = 0, left = t->times;; i = stop) {
        if (left > 0 && i == r[1].ev) {
            left--;
            i = r[0].ev;
            was = arena_dup(own, now + r[0].st, sizeof(*was) * (size_t)(r[1].st - r[0].st));
        }
        for (; mark < TRACE_END && t->at[mark] <= i; mark++) {
            t->bytes[mark] = m->live_bytes;
            if (p && mark == TRACE_LOOP && t->at[mark] >= 0)
                p->step(p->of, heap_allocated(m->heap));
        }
        if (i == end)
            break;
        stop = mark < TRACE_END && t->at[mark] < end ? t->at[mark] : end;
        stop = left > 0 && r[1].ev < stop ? r[1].ev : stop;
        for (; i < stop; i++) {
            const struct event *e = &ev[i];
            if (e->storage < 0) {
                take_note(m, &t->note[-1 - e->storage], old, e, reported);
                continue;
            }
            struct storage *s = now[e->storage];
            if (was && i < r[1].ev && e->birth)
                s = now[e->storage] = arena_dup(m->keep, t->st[e->storage], sizeof(*s));
            else if (was && i < r[1].ev && e->storage < r[0].st)
                s = was[ev[i - r[0].ev + r[1].ev].storage - r[0].st];
            if (!e->birth)
                death(m, s, e, reported);
            else if (!(again && s->stays))
                birth(m, s, e, reported, p);
        }
    }
    note_reserved(m);
    arena_free(own);
}

/* ---- tapes ------------------------------------------------------------------------------------------------------- */

/* Whether both are the same requests but for their numbers. */
static bool
tapes_alike(const struct tape *x, const struct tape *y)
{
    bool same = x->n == y->n && x->nasks == y->nasks;
    for (int i = 0; i < x->n && same; i++) {
        struct request p = x->request[i], q = y->request[i];
        same = p.kind == q.kind && (p.kind == REQUEST_BLOCK || p.number == q.number);
    }
    for (int i = 0; i < x->nasks && same; i++) {
        const struct ask *p = &x->ask[i], *q = &y->ask[i];
        same = asks_like(p, q);
    }
    return same;
}

bool
tape_between(const struct tape *from, const struct tape *to, struct line *l, const struct tape *third)
{
    bool between = tapes_alike(from, to) && tapes_alike(from, third);
    for (int i = 0; i < from->n && between; i++)
        if (from->request[i].kind == REQUEST_BLOCK)
            between = line_at(l, (int64_t)from->request[i].number, (int64_t)to->request[i].number) ==
                          (int64_t)third->request[i].number &&
                      l->straight;
    for (int i = 0; i < from->nasks; i++)
        for (int k = 0; k < from->ask[i].n && between; k++)
            between =
                line_at(l, from->ask[i].number[k], to->ask[i].number[k]) == third->ask[i].number[k] && l->straight;
    return between;
}

/* The blocks of an ask at that size; number: room for its numbers. */
static struct workspaces
blocks_between(struct machine *m, const struct ask *from, const struct ask *to, struct line *l, int64_t *number)
{
    struct workspaces b = {.a = m->a};
    struct ask q = *from;
    for (int i = 0; i < q.n; i++)
        number[i] = line_at(l, from->number[i], to->number[i]);
    q.number = number;
    q.blocks(m, &q, &b);
    return b;
}

/* Takes the blocks and gives them back, the last first. */
static __attribute__((noinline)) void
pass(struct heap *h, const struct workspaces *b, struct block **taken)
{
    for (int i = 0, n = 0; i < b->n; i++)
        if (b->bytes[i] && !n && !b->bytes[i + 1])
            heap_pass(h, b->bytes[i++]);
        else if (b->bytes[i])
            taken[n++] = heap_malloc(h, b->bytes[i]);
        else
            while (n)
                heap_free(h, taken[--n]);
}

/* All requests of a tape. A number that is another on the other tape rises by a whole one for each size, as a third
 * tape right beside one of them has told. */
static __attribute__((noinline)) void
requests_play(struct heap *h, const struct tape *from, const struct tape *to, const struct line *l,
              const struct workspaces *blocks, struct block **taken, struct block **block)
{
    const struct request *request = from->request, *other = to->request;
    const size_t n = (size_t)from->n;
    for (size_t i = 0; i < n; i++) {
        const struct request r = request[i];
        int64_t bytes = (int64_t)r.number;
        if (r.kind == REQUEST_FREE) {
            if (block[r.number])
                heap_free(h, block[r.number]);
            continue;
        }
        if (r.kind == REQUEST_ASK) {
            pass(h, &blocks[r.number], taken);
            continue;
        }
        if (r.kind == REQUEST_ASKED)
            bytes = blocks[r.number].bytes[0];
        else if (other[i].number != r.number)
            bytes += ((int64_t)other[i].number - bytes) / (l->to - l->from) * (l->at - l->from);
        if (r.passes) {
            if (bytes)
                heap_pass(h, bytes);
            i++;
        } else if (bytes) {
            block[i] = heap_malloc(h, bytes);
        }
    }
}

int64_t
tape_play(const struct tape *from, const struct tape *to, struct line *l, const struct setup *s, struct derivatives *d,
          struct devices *on)
{
    struct arena *a = arena_new();
    int most = 1, numbers = 1;
    struct block **block = NEWN(a, struct block *, from->n + 1);
    struct machine m = {.a = a, .keep = a, .s = s, .real = s->accumulate_eager, .sm = device_sm(s->device)};
    m.same = devices_both(from->alike, to->alike);
    m.derivatives = d;
    struct workspaces *blocks = NEWN(a, struct workspaces, from->nasks + 1);
    for (int i = 0; i < from->nasks; i++)
        numbers = from->ask[i].n > numbers ? from->ask[i].n : numbers;
    int64_t *number = NEWN(a, int64_t, numbers);
    for (int i = 0; i < from->nasks; i++) {
        blocks[i] = blocks_between(&m, &from->ask[i], &to->ask[i], l, number);
        most = blocks[i].n > most ? blocks[i].n : most;
        l->straight &= !blocks[i].elsewhere;
    }
    struct block **taken = NEWN(a, struct block *, most);
    struct heap *h = heap_new(a, s->expandable);
    if (l->straight)
        requests_play(h, from, to, l, blocks, taken, block);
    int64_t reserved = l->straight ? heap_reserved(h) : -1;
    *on = m.same;
    arena_free(a);
    return reserved;
}
