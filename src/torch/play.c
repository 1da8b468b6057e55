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
    t->nst = t->nev = t->nnames = 0;
    t->before = m->nst;
    for (int i = 0; i < m->nst; i++) {
        *PUSH(t->a, t->st, t->nst, t->cap_st) = m->st[i];
        m->st[i]->at = i;
    }
    memset(t->at, -1, sizeof(t->at));
}

static void
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
    note(m, -1 - t->nnames, false);
    *PUSH(t->a, t->name, t->nnames, t->cap_names) = name;
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

bool
trace_repeats(const struct machine *m)
{
    const struct step_trace *t = &m->trace;
    struct arena *own = arena_new();
    int *held = NEWN(own, int, t->nst + 1); /* by names that were noted */
    bool repeats = !m->reducer && !m->shards && !m->ncaptives;
    for (int i = 0; i < t->nnames; i++) {
        const struct value *v = *t->name[i];
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

static void
tell(const struct machine *m, const struct storage *s, const struct event *e)
{
    const struct player *p = m->s ? m->s->player : NULL;
    if (p)
        p->asked(p->of, e->phase, e->op,
                 s->class == CLASS_WORKSPACE ? "a workspace"
                 : e->call                   ? e->call->name
                                             : s->name,
                 e->call ? e->call->location : NULL);
}

static void
report(struct machine *m, const struct storage *s, const struct event *e)
{
    struct event *to = PUSH(m->keep, m->ev, m->nev, m->cap_ev);
    *to = *e;
    to->storage = s->id;
}

static void
birth(struct machine *m, struct storage *s, const struct event *e, bool reported)
{
    s->block = heap_malloc(s->heap, s->requested);
    tell(m, s, e);
    if (m->real)
        s->bytes = heap_block_bytes(s->heap, s->block);
    m->live_bytes += s->bytes;
    int64_t reserved = machine_reserved(m);
    m->reserved_bytes = reserved > m->reserved_bytes ? reserved : m->reserved_bytes;
    s->id = m->nst;
    *PUSH(m->keep, m->st, m->nst, m->cap_st) = s;
    if (reported)
        report(m, s, e);
}

static void
death(struct machine *m, struct storage *s, const struct event *e, bool reported)
{
    heap_free(s->heap, s->block);
    m->live_bytes -= s->bytes;
    if (reported) {
        report(m, s, e);
        return;
    }
    m->st[s->id] = m->st[--m->nst];
    m->st[s->id]->id = s->id;
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

void
trace_play(struct machine *m, bool again, bool reported)
{
    struct step_trace *t = &m->trace;
    const struct player *p = m->s ? m->s->player : NULL;
    struct arena *own = arena_new();
    struct storage **old = again ? leavings(m, own) : NULL;
    int end = reported ? t->at[TRACE_END] : t->nev;
    for (int i = 0, mark = 0; i <= end; i++) {
        for (; mark < TRACE_END && t->at[mark] <= i; mark++) {
            t->bytes[mark] = m->live_bytes;
            if (p && mark == TRACE_LOOP && t->at[mark] >= 0)
                p->step(p->of, heap_allocated(m->heap));
        }
        if (i == end)
            break;
        const struct event *e = &t->ev[i];
        const struct value *v = e->storage < 0 ? *t->name[-1 - e->storage] : NULL;
        struct storage *s = e->storage < 0 ? NULL : t->st[e->storage];
        for (int k = 0; again && v && k < v->ntail; k++)
            let_go(m, old[v->tail[k]->at], e, reported);
        if (again && v && v->st->bytes)
            let_go(m, old[v->st->at], e, reported);
        if (s && !e->birth)
            death(m, s, e, reported);
        else if (s && !(again && s->stays))
            birth(m, s, e, reported);
    }
    arena_free(own);
}
