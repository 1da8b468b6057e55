/* SPDX-License-Identifier: Apache-2.0 */
/* traces.c - the planner on an operator trace that another tool recorded, in that trace's own bytes and times.
 *
 * Reads what tests/oracle/traces.py writes, and prints for each share of the trace's peak that is an argument: the
 * bytes that may be allocated, the extra time of the cheapest operator plan in percent or "-", and the least peak of
 * any plan as a share. Linked with --wrap=measure_step: recompute_plan chooses, as it does for a model, and what it
 * chooses is judged here, call by call. A call before the turn is one of the forward pass. A region's calls run again
 * when the backward pass first reads something that the region dropped, and only those calls that this takes. The
 * judge writes down the order of all runs, and a tensor lives from the run that makes it to the last one that reads it
 * before it is made anew: whatever the order is, its peak and its time are those of a program that works.
 */
#include "tests/all.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct view {          /* a tensor of the trace */
    int storage, call; /* that made it, -1 a constant */
};

struct buffer { /* of the trace; a storage is one of its lives */
    int64_t bytes;
    int since;      /* before which call it is there */
    int born, dies; /* the call that makes it, -1 a constant; the one after which it goes */
    int last;       /* call of the forward pass that reads it last */
    bool saved;     /* the backward pass reads it */
};

struct trace_call { /* in nanoseconds */
    int64_t time;
    int nreads, nmakes, *reads, first; /* tensors; it makes those from first on */
};

struct trace {
    struct arena *a;
    int ntensors, cap_tensors, nbuffers, cap_buffers, ncalls, cap_calls, turn;
    struct view *tensor;
    struct buffer *buffer;
    struct trace_call *call;
    bool *read_back; /* per tensor: by the backward pass */
    int *place;      /* per call of the backward pass the call of the forward pass that it belongs to */
};

/* ---- reading ----------------------------------------------------------------------------------------------------- */

static void
bad(int line)
{
    fprintf(stderr, "traces: line %d of the trace\n", line);
    exit(2);
}

static void
view_new(struct trace *t, int buffer, int call)
{
    *PUSH(t->a, t->tensor, t->ntensors, t->cap_tensors) = (struct view){buffer, call};
}

static void
buffer_new(struct trace *t, int64_t bytes, int call)
{
    view_new(t, t->nbuffers, call);
    *PUSH(t->a, t->buffer, t->nbuffers, t->cap_buffers) = (struct buffer){bytes, t->ncalls, call, INT_MAX, call, false};
}

/* "call TIME READ... > BYTES or @PLACE..." */
static void
read_call(struct trace *t, char *words, int line)
{
    char *save = NULL, *w = strtok_r(words, " \n", &save);
    struct trace_call c = {.time = w ? atoll(w) : 0, .first = t->ntensors};
    int cap = 0;
    while ((w = strtok_r(NULL, " \n", &save)) && *w != '>') {
        int tensor = atoi(w);
        if (tensor < 0 || tensor >= t->ntensors)
            bad(line);
        *PUSH(t->a, c.reads, c.nreads, cap) = tensor;
    }
    while ((w = strtok_r(NULL, " \n", &save))) {
        int place = *w == '@' ? atoi(w + 1) : -1;
        if (*w == '@' && (place < 0 || place >= c.nreads))
            bad(line);
        if (*w == '@')
            view_new(t, t->tensor[c.reads[place]].storage, t->ncalls);
        else
            buffer_new(t, atoll(w), t->ncalls);
        c.nmakes++;
    }
    *PUSH(t->a, t->call, t->ncalls, t->cap_calls) = c;
}

static void
read_trace(struct trace *t, FILE *f)
{
    char *text = NULL;
    size_t size = 0;
    t->turn = -1;
    for (int line = 1; getline(&text, &size, f) > 0; line++) {
        int tensor = -1;
        long long bytes = 0;
        if (strncmp(text, "call ", 5) == 0)
            read_call(t, text + 5, line);
        else if (sscanf(text, "constant %lld", &bytes) == 1)
            buffer_new(t, bytes, -1);
        else if (sscanf(text, "free %d", &tensor) == 1 && tensor >= 0 && tensor < t->ntensors)
            t->buffer[t->tensor[tensor].storage].dies = t->ncalls - 1;
        else if (strcmp(text, "turn\n") == 0)
            t->turn = t->ncalls;
        else
            bad(line);
    }
    free(text);
    if (t->turn < 1) {
        fprintf(stderr, "traces: no turn from a forward pass to a backward pass\n");
        exit(2);
    }
}

/* Who reads what, and where in the forward pass a call of the backward pass is: at the last reader of the earliest
 * thing that it reads. */
static void
find_readers(struct trace *t)
{
    t->read_back = NEWN(t->a, bool, t->ntensors + 1);
    t->place = NEWN(t->a, int, t->ncalls + 1);
    for (int i = 0; i < t->ncalls; i++)
        for (int k = 0; k < t->call[i].nreads; k++) {
            struct buffer *b = &t->buffer[t->tensor[t->call[i].reads[k]].storage];
            if (i < t->turn)
                b->last = i;
            b->saved |= i >= t->turn && b->born >= 0 && b->born < t->turn;
            t->read_back[t->call[i].reads[k]] |= i >= t->turn;
        }
    for (int i = t->turn, at = t->turn - 1; i < t->ncalls; i++) {
        for (int k = 0; k < t->call[i].nreads; k++) {
            const struct buffer *b = &t->buffer[t->tensor[t->call[i].reads[k]].storage];
            if (b->born >= 0 && b->born < t->turn && b->last < at)
                at = b->last;
        }
        t->place[i] = at;
    }
}

/* ---- judging ----------------------------------------------------------------------------------------------------- */

enum { UNIT = 1000000 /* of work in a nanosecond: a quotient by bytes is a whole number */ };

static const struct trace *the_trace;

struct run {          /* of a call */
    int call, region; /* -1 the trace's own */
};

struct judge {
    const struct trace *t;
    const struct program *p;
    struct arena *a;
    struct step *st;
    int nruns, cap_runs;
    struct run *run;
    int *inner;  /* per call of the forward pass the innermost region, -1 none */
    int *outer;  /* per region the one around it, -1 none */
    bool *again; /* per region: it has run again */
    bool *stays; /* per buffer: nobody drops it */
};

/* Whether a region's policy keeps the results of a call that cost so much to make again. */
static bool
keeps(const struct judge *j, const struct region *r, int call, double cost)
{
    const struct call *c = &j->p->calls[call];
    return r->keeps && r->keeps[c->op - aten_table] && cost / 2 / (double)c->size[0] >= (double)r->inner;
}

/* Regions drop what the backward pass reads, but for what their policies keep. */
static void
find_regions(struct judge *j)
{
    const struct trace *t = j->t;
    memset(j->inner, 0xff, sizeof(*j->inner) * (size_t)t->turn);
    for (int n = 0; n < j->p->nregions; n++) {
        const struct region *r = &j->p->regions[n];
        j->outer[n] = j->inner[r->first];
        for (int i = r->first; i < r->end; i++)
            j->inner[i] = n;
    }
    /* with the calls before, in the same region, whose results are gone by then */
    double *cost = NEWN(j->a, double, t->turn + 1);
    for (int i = 0; i < t->turn; i++) {
        cost[i] = j->st->call_flops[i];
        for (int k = 0; k < t->call[i].nreads; k++) {
            const struct view *v = &t->tensor[t->call[i].reads[k]];
            if (v->call >= 0 && j->inner[v->call] == j->inner[i] && t->buffer[v->storage].dies < t->turn)
                cost[i] += cost[v->call];
        }
    }
    for (int b = 0; b < t->nbuffers; b++) {
        const struct buffer *q = &t->buffer[b];
        int n = q->born >= 0 && q->born < t->turn ? j->inner[q->born] : -1;
        j->stays[b] = n < 0 || q->dies >= t->ncalls || keeps(j, &j->p->regions[n], q->born, cost[q->born]);
    }
    for (int v = 0; v < t->ntensors; v++) { /* a view that another region makes would be gone */
        int b = t->tensor[v].storage;
        if (t->read_back[v] && !j->stays[b])
            j->stays[b] = t->tensor[v].call >= t->turn || j->inner[t->tensor[v].call] != j->inner[t->buffer[b].born];
    }
}

static bool
lies_in(const struct judge *j, int call, int region)
{
    return region < 0 ? call >= 0 && call < j->t->turn
                      : call >= j->p->regions[region].first && call < j->p->regions[region].end;
}

/* Whether a second run of a region makes what a call reads, instead of keeping it until then. */
static bool
made_again(const struct judge *j, const struct view *v, int region)
{
    const struct buffer *b = &j->t->buffer[v->storage];
    return lies_in(j, b->born, region) && (!j->stays[v->storage] || b->dies < j->t->turn);
}

static void
run_call(struct judge *j, int call, int region)
{
    *PUSH(j->a, j->run, j->nruns, j->cap_runs) = (struct run){call, region};
}

enum { HERE = 1, INSIDE = 2 };

/* The calls of a region, -1 for the whole forward pass, that a second run of it makes, and those that second runs of
 * the regions inside will. What these read of each other is there once the region has run, and stays. */
static void
find_second(struct judge *j, int region, char *runs)
{
    const struct trace *t = j->t;
    const struct region all = {.end = t->turn}, *r = region < 0 ? &all : &j->p->regions[region];
    char *needed = NEWN(j->a, char, t->ntensors + 1);
    bool *held = NEWN(j->a, bool, t->nbuffers + 1);
    for (int i = r->end - 1; i >= r->first; i--) {
        const struct trace_call *c = &t->call[i];
        int child = j->inner[i];
        while (child != region && j->outer[child] != region)
            child = j->outer[child];
        for (int k = c->first; k < c->first + c->nmakes; k++) {
            int b = t->tensor[k].storage;
            runs[i] |= needed[k];
            if (t->read_back[k] && !j->stays[b] && !held[b])
                runs[i] |= child == region ? HERE : INSIDE;
        }
        for (int k = 0; k < c->nreads; k++) {
            const struct view *v = &t->tensor[c->reads[k]];
            if (!made_again(j, v, region))
                continue;
            if (runs[i] & HERE)
                needed[c->reads[k]] |= HERE;
            if (runs[i] & INSIDE) {
                bool inside = made_again(j, v, child);
                needed[c->reads[k]] |= inside ? INSIDE : HERE;
                held[v->storage] |= !inside;
            }
        }
    }
    for (int b = 0; b < t->nbuffers; b++)
        j->stays[b] |= held[b];
}

static void
run_again(struct judge *j, int region)
{
    const struct trace *t = j->t;
    const struct region *r = &j->p->regions[region];
    char *runs = NEWN(j->a, char, t->turn + 1);
    find_second(j, region, runs);
    j->again[region] = true;
    for (int i = r->first; i < r->end; i++)
        if (runs[i] & HERE) {
            run_call(j, i, region);
            j->st->region_flops[region] += j->st->call_flops[i];
        }
    j->st->recomputed_flops += j->st->region_flops[region];
}

/* The call of the backward pass reads the buffer: the regions that dropped it run again, the outermost first. */
static void
ask_for(struct judge *j, int buffer, int region)
{
    if (region < 0)
        return;
    ask_for(j, buffer, j->outer[region]);
    if (!j->again[region] && !j->stays[buffer])
        run_again(j, region);
}

static void
find_order(struct judge *j)
{
    const struct trace *t = j->t;
    find_second(j, -1, NEWN(j->a, char, t->turn + 1));
    for (int i = 0; i < t->ncalls; i++) {
        for (int k = 0; k < t->call[i].nreads && i >= t->turn; k++) {
            int b = t->tensor[t->call[i].reads[k]].storage, born = t->buffer[b].born;
            if (born >= 0 && born < t->turn)
                ask_for(j, b, j->inner[born]);
        }
        run_call(j, i, -1);
    }
}

/* A buffer between a run that makes it and the last one that reads it, or where the trace lets it go when nobody makes
 * it again. */
struct copy {
    int buffer, born, dies; /* runs; before the first run */
};

static void
find_lives(struct judge *j, int *ncopies, struct copy **copies)
{
    const struct trace *t = j->t;
    int n = 0, cap = 0, *now = NEWN(j->a, int, t->nbuffers + 1), *own = NEWN(j->a, int, t->ncalls + 1);
    struct copy *c = NULL;
    for (int x = 0; x < j->nruns; x++)
        if (j->run[x].region < 0)
            own[j->run[x].call] = x;
    own[t->ncalls] = j->nruns;
    for (int b = 0; b < t->nbuffers; b++) {
        now[b] = n;
        if (t->buffer[b].born < 0)
            *PUSH(j->a, c, n, cap) = (struct copy){b, own[t->buffer[b].since], -1};
    }
    for (int x = 0; x < j->nruns; x++) {
        const struct trace_call *q = &t->call[j->run[x].call];
        for (int k = 0; k < q->nreads; k++)
            c[now[t->tensor[q->reads[k]].storage]].dies = x;
        for (int k = q->first; k < q->first + q->nmakes; k++) {
            int b = t->tensor[k].storage;
            if (t->buffer[b].born != j->run[x].call)
                continue;
            now[b] = n;
            *PUSH(j->a, c, n, cap) = (struct copy){b, x, x};
        }
    }
    for (int b = 0; b < t->nbuffers; b++) {
        int dies = t->buffer[b].dies, at = dies >= t->ncalls ? j->nruns : dies < 0 ? -1 : own[dies];
        c[now[b]].dies = at > c[now[b]].dies ? at : c[now[b]].dies;
    }
    *ncopies = n;
    *copies = c;
}

static int
by_birth(const void *a, const void *b)
{
    const struct copy *c = a, *d = b;
    return c->born != d->born ? c->born - d->born : c->buffer - d->buffer;
}

/* The births and deaths of all copies. */
static void
write_events(struct judge *j, int n, struct copy *c)
{
    struct machine *m = j->st->m;
    int cap_st = 0, cap_ev = 0, *first = NEWN(j->a, int, j->nruns + 1), *next = NEWN(j->a, int, n + 1);
    memset(first, 0xff, sizeof(*first) * (size_t)j->nruns);
    qsort(c, (size_t)n, sizeof(*c), by_birth);
    for (int x = 0, k = 0; x < j->nruns; x++) {
        struct run run = j->run[x];
        bool back = run.region >= 0 || run.call >= j->t->turn;
        const struct call *of = &j->p->calls[run.call < j->t->turn ? run.call : j->t->place[run.call]];
        struct event e = {
            .birth = true, .phase = back ? PHASE_BACKWARD : PHASE_FORWARD, .op = of->op->name, .call = of};
        for (; k < n && c[k].born == x; k++) {
            const struct buffer *b = &j->t->buffer[c[k].buffer];
            if (c[k].dies < x)
                continue;
            struct storage *s = NEW(j->a, struct storage);
            *s = (struct storage){.bytes = b->bytes,
                                  .class = b->saved ? CLASS_SAVED : CLASS_TEMPORARIES,
                                  .phase = e.phase,
                                  .op = of->op->name,
                                  .call = of,
                                  .saved = b->saved};
            e.storage = m->nst;
            *PUSH(j->a, m->st, m->nst, cap_st) = s;
            *PUSH(j->a, m->ev, m->nev, cap_ev) = e;
            if (c[k].dies < j->nruns) {
                next[e.storage] = first[c[k].dies];
                first[c[k].dies] = e.storage;
            }
        }
        e.birth = false;
        for (e.storage = first[x]; e.storage >= 0; e.storage = next[e.storage])
            *PUSH(j->a, m->ev, m->nev, cap_ev) = e;
    }
}

static struct step *
run_trace(struct arena *a, const struct program *p)
{
    const struct trace *t = the_trace;
    struct step *st = NEW(a, struct step);
    struct judge j = {.t = t, .p = p, .a = a, .st = st};
    struct copy *copies;
    int n;
    *st = (struct step){.arena = a, .program = p, .m = NEW(a, struct machine)};
    st->call_flops = NEWN(a, double, t->turn + 1);
    st->region_flops = NEWN(a, double, p->nregions + 1);
    for (int i = 0; i < t->ncalls; i++)
        st->forward_flops += (double)t->call[i].time * UNIT / 3; /* the planner takes three times that for the step */
    for (int i = 0; i < t->turn; i++)
        st->call_flops[i] = (double)t->call[i].time * UNIT;
    j.inner = NEWN(a, int, t->turn + 1);
    j.outer = NEWN(a, int, p->nregions + 1);
    j.again = NEWN(a, bool, p->nregions + 1);
    j.stays = NEWN(a, bool, t->nbuffers + 1);
    find_regions(&j);
    find_order(&j);
    find_lives(&j, &n, &copies);
    write_events(&j, n, copies);
    return st;
}

/* What the planner calls instead of measure_step. */
struct measured __wrap_measure_step(const struct program *p, const struct setup *s,
                                    void (*look)(const struct step *st, void *to), void *to);
struct measured
__wrap_measure_step(const struct program *p, const struct setup *s, void (*look)(const struct step *st, void *to),
                    void *to)
{
    (void)s;
    struct arena *a = arena_new();
    struct step *st = run_trace(a, p);
    struct measured m = {
        .allocated = live_run(st)->peak_bytes, .flops = st->forward_flops, .recomputed_flops = st->recomputed_flops};
    if (look)
        look(st, to);
    arena_free(a);
    return m;
}

/* ---- planning ---------------------------------------------------------------------------------------------------- */

/* The forward pass as a program: a call's results are products, so that policies keep those that cost most for their
 * bytes. */
static struct program *
program_of(struct trace *t)
{
    struct arena *a = t->a;
    struct program *p = NEW(a, struct program);
    *p = (struct program){.arena = a, .ncalls = t->turn, .nslots = t->nbuffers + t->turn, .nmodules = 1};
    p->modules = NEWN(a, struct module, 1);
    p->modules[0] = (struct module){.path = "", .parent = -1};
    p->calls = NEWN(a, struct call, t->turn + 1);
    for (int i = 0; i < t->turn; i++) {
        const struct trace_call *c = &t->call[i];
        int64_t *bytes = NEWN(a, int64_t, 1);
        struct call *q = &p->calls[i];
        *q = (struct call){
            .op = aten_find("bmm.default"), .nargs = c->nreads, .nouts = 1, .rank = 1, .size = bytes, .name = "call"};
        q->args = NEWN(a, struct arg, c->nreads + 1);
        q->outs = NEWN(a, int, 1);
        q->outs[0] = t->nbuffers + i;
        for (int k = 0; k < c->nreads; k++)
            q->args[k] = (struct arg){.kind = ARG_SLOT, .i = t->tensor[c->reads[k]].storage};
        for (int k = c->first; k < c->first + c->nmakes; k++) {
            const struct buffer *b = &t->buffer[t->tensor[k].storage];
            if (b->born != i)
                continue;
            if (*bytes == 0) /* the result proper, before what is kept for the backward pass */
                q->outs[0] = t->tensor[k].storage;
            *bytes += b->bytes;
        }
        *bytes = *bytes ? *bytes : 1;
    }
    return p;
}

int
main(int argc, char **argv)
{
    struct trace t = {.a = arena_new()};
    read_trace(&t, stdin);
    find_readers(&t);
    the_trace = &t;
    struct program *p = program_of(&t);
    struct study s = {.a = t.a, .p = p, .st = run_trace(t.a, p)};
    int64_t peak = live_run(s.st)->peak_bytes;
    for (int i = 1; i < argc; i++) {
        struct result r = {.peak = {.allocated = peak}};
        int64_t budget = (int64_t)(atof(argv[i]) * (double)peak), least = peak;
        double cost = -1;
        recompute_plan(&s, &r, budget);
        for (int k = 0; k < r.recompute.noperators; k++) {
            const struct plan *q = &r.recompute.operators[k];
            least = q->peak < least ? q->peak : least;
            if (q->peak <= budget && (cost < 0 || q->extra_flops_percent < cost))
                cost = q->extra_flops_percent;
        }
        printf("%lld %s %.4f\n", (long long)budget, cost < 0 ? "-" : arena_printf(t.a, "%.1f", cost),
               (double)least / (double)peak);
    }
    arena_free(t.a);
    return 0;
}
