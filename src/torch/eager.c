/* SPDX-License-Identifier: Apache-2.0 */
/* eager.c - PyTorch's eager mode without numbers: who allocates what, who owns it, when it dies.
 *
 * A storage is a block of memory; a value is a tensor over it (sizes, strides, dtype). Values are counted references,
 * held by the C++ frames that run (the pool: what a scope made dies at its end, last made first), by autograd's nodes
 * (saved tensors), by gradient buffers and by Python names (slots of step.c). A storage dies with its last value;
 * births and deaths are appended to one list of events.
 *
 * dispatch() is PyTorch's dispatcher in small: autocast's casts, the row's forward, then a node of autograd's graph
 * with what the derivative formula mentions. backward() is its engine: the node created last runs first, gradients of
 * one input meet in a buffer, formulas are evaluated by dispatching the operators they name.
 *
 * A formula such as "self: mul(grad, other); other: mul(grad, self)" is parsed once a run. From its names follows what
 * is saved (a name with # needs only sizes), guarded as PyTorch's generator guards (reference: guard_for in
 * tools/autograd/gen_variable_type.py): an input that one other input's formula needs is kept only if that one
 * requires a gradient. Arguments are evaluated from the left, as a method's object comes before its arguments; div~(a,
 * b) is C++'s a / b or a call of a function, whose operands compilers evaluate from the right.
 */
#include "base/setup.h"
#include "torch/torch.h"

#include <assert.h>
#include <ctype.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 512, HOPPER = 90 };

/* No device holds more in one tensor: larger sizes are a broken model's, and sums must not overflow. */

const char COMPOSITE[] = "";

/* ---- storages and values ----------------------------------------------------------------------------------------- */

/* What is held in the first iteration is held in the reported one, too. */
static void
hold(struct machine *m, int64_t bytes)
{
    m->held += bytes;
    if (m->held > m->most)
        longjmp(*m->enough, 1);
    m->held_most = m->held > m->held_most ? m->held : m->held_most;
}

static struct storage *
storage_new(struct machine *m, int64_t bytes)
{
    struct storage *s = m->nspare ? m->spare[--m->nspare] : NEW(m->keep, struct storage);
    *s = (struct storage){.id = -1,
                          .requested = bytes,
                          .class = m->fresh,
                          .phase = m->phase,
                          .op = m->op,
                          .name = m->fresh_name,
                          .call = m->call,
                          .asked = m->asking,
                          .bytes = (bytes + BLOCK - 1) / BLOCK * BLOCK};
    if (!s->bytes) /* an empty tensor allocates nothing */
        return s;
    s->empty = m->on_meta;
    if (s->empty)
        return s;
    s->stream = m->stream;
    trace_birth(m, s);
    if (m->most && m->fresh != CLASS_OPTIMIZER) /* there from the second iteration on */
        hold(m, bytes);
    return s;
}

/* Its memory goes; it may be there for a while without. */
static void
storage_empty(struct machine *m, struct storage *s)
{
    if (s->empty || !(s->bytes || s->ask))
        return;
    s->empty = true;
    m->held -= s->class == CLASS_OPTIMIZER ? 0 : s->requested;
    trace_death(m, s);
}

/* Where an operator wants dimensions, a file may give it a scalar: its first one is 0. */
static struct value *
value_alloc(struct arena *a, struct storage *st, enum dtype t, int rank)
{
    int room = rank ? rank : 1;
    struct value *v = arena_alloc(a, sizeof(*v) + sizeof(int64_t) * 2 * (size_t)room);
    v->st = st;
    v->dtype = t;
    v->rank = rank;
    v->size = (int64_t *)(v + 1);
    v->stride = v->size + room;
    v->refs = 1;
    return v;
}

static struct value *
value_make(struct machine *m, struct storage *st, enum dtype t, int rank, const int64_t *size, const int64_t *stride)
{
    rank = rank < MAX_RANK ? rank : MAX_RANK;
    struct value *v = value_alloc(m->a, st, t, rank);
    st->refs++;
    int64_t run = 1, *own = v->size, *steps = v->stride;
    for (int i = rank - 1; i >= 0; i--) {
        int64_t n = size[i] < 0 ? 1 : size[i]; /* open, which is a doubt */
        own[i] = n;
        steps[i] = stride ? stride[i] : run;
        run *= n > 1 ? n : 1;
    }
    *PUSH(m->keep, m->pool, m->npool, m->cap_pool) = v;
    return v;
}

struct value *
value_adopt(struct machine *m, struct value *v)
{
    struct value *w = value_alloc(m->keep, v->st, v->dtype, v->rank);
    memcpy(w->size, v->size, sizeof(*v->size) * (size_t)v->rank);
    memcpy(w->stride, v->stride, sizeof(*v->stride) * (size_t)v->rank);
    w->is_view = v->is_view;
    w->conj = v->conj;
    w->requires_grad = v->requires_grad;
    v->st->refs++;
    m->heir = w;
    value_drop(m, v);
    m->heir = NULL;
    return w;
}

struct value *
value_new(struct machine *m, enum dtype t, int rank, const int64_t *size, const int64_t *stride)
{
    int64_t n = 1;
    for (int i = 0; i < rank; i++)
        if (!mul_ok(n, size[i] < 0 ? 1 : size[i], &n) || n > MAX_STORAGE_BYTES)
            n = MAX_STORAGE_BYTES;
    int64_t bytes = dtype_bytes(t, n);
    if (bytes >= MAX_STORAGE_BYTES) {
        bytes = MAX_STORAGE_BYTES;
        m->oversized = true;
    }
    struct value *v = value_make(m, storage_new(m, bytes), t, rank, size, stride);
    v->st->dtype = t;
    if (!m->measured) {
        v->st->rank = (uint8_t)(v->rank < SHOWN_RANK ? v->rank : SHOWN_RANK);
        v->st->size = arena_dup(m->keep, v->size, sizeof(*size) * v->st->rank);
    }
    return v;
}

struct value *
value_born(struct machine *m, const char *op, enum class class, const char *name, enum dtype t, int rank,
           const int64_t *size)
{
    m->op = op;
    m->fresh = class;
    m->fresh_name = name;
    struct arena *iteration = m->a;
    m->a = m->keep;
    struct value *v = value_new(m, t, rank, size, NULL);
    m->npool--; /* it is no scope's */
    m->a = iteration;
    m->fresh = CLASS_TEMPORARIES;
    m->fresh_name = NULL;
    return v;
}

struct value *
value_view(struct machine *m, struct value *v, int rank, const int64_t *size, const int64_t *stride)
{
    struct value *w = value_make(m, v->st, v->dtype, rank, size, stride);
    w->is_view = true;
    w->conj = v->conj;
    return w;
}

static void storage_drop(struct machine *m, struct storage *st);

void
value_empty(struct machine *m, struct value *v)
{
    storage_empty(m, v->st);
}

void
value_refill(struct machine *m, struct value *v, enum class class, int64_t elements)
{
    m->fresh = class;
    m->fresh_name = v->st->name;
    struct storage *old = v->st, *st = storage_new(m, dtype_bytes(v->dtype, elements));
    m->fresh = CLASS_TEMPORARIES;
    m->fresh_name = NULL;
    st->dtype = v->dtype;
    st->rank = old->rank;
    st->size = old->size;
    st->refs++;
    v->st = st;
    storage_drop(m, old);
}

struct value *
value_keep(struct value *v)
{
    v->refs++;
    return v;
}

static void node_forget(struct machine *m, struct gnode *g);

static void
storage_drop(struct machine *m, struct storage *st)
{
    if (--st->refs == 0)
        storage_empty(m, st);
}

/* Nobody holds v but its maker, if it does. */
static __attribute__((noinline)) void
value_left(struct machine *m, struct value *v)
{
    const bool last = v->refs == 0;
    if (v->fn && !v->dead && v->refs == v->by_maker) {
        v->dead = true;
        node_forget(m, v->fn);
    }
    if (v->shown && last)
        node_forget(m, v->shown);
    for (int i = 0; i < v->ntail && last; i++)
        storage_drop(m, v->tail[i]);
    if (last)
        storage_drop(m, v->st);
}

void
value_drop(struct machine *m, struct value *v)
{
    if (v && (--v->refs == 0 || v->by_maker))
        value_left(m, v);
}

void
value_let_go(struct machine *m, struct value **v)
{
    value_drop(m, *v);
    *v = NULL;
}

int64_t
value_elements(const struct value *v)
{
    return sizes_product(v->rank, v->size);
}

bool
value_contiguous(const struct value *v)
{
    int64_t run = 1;
    for (int i = v->rank - 1; i >= 0; i--) {
        if (v->size[i] != 1 && v->stride[i] != run)
            return false;
        run *= v->size[i];
    }
    return true;
}

bool
value_channels_last(const struct value *v)
{
    if (!v || (v->rank != 4 && v->rank != 5) || v->stride[1] == 0)
        return false;
    int64_t least = 0;
    for (int i = 0; i < v->rank; i++) {
        int d = image_dim(v->rank, true, i);
        if (v->size[d] == 0 || v->stride[d] < least || (d == 0 && least == v->stride[1]))
            return false;
        least = v->stride[d] * (v->size[d] > 1 ? v->size[d] : 1);
    }
    return true;
}

/* ---- what kernels and libraries take ----------------------------------------------------------------------------- */

static struct value *
workspace(struct machine *m, int64_t bytes)
{
    enum class class = m->fresh;
    m->fresh = CLASS_WORKSPACE;
    struct value *v = value_new(m, DT_UINT8, 1, &bytes, NULL);
    m->fresh = class;
    return v;
}

struct value *
workspace_new(struct machine *m, int64_t bytes)
{
    return m->real && bytes > 0 ? workspace(m, bytes) : NULL;
}

void
scratch(struct machine *m, int64_t bytes)
{
    int mark = m->npool;
    workspace_new(m, bytes);
    scope_end(m, mark, 0, NULL);
}

static void
aligned_blocks(struct machine *m, const struct ask *q, struct workspaces *to)
{
    const int64_t *unit = q->of; /* negative: it was not aligned */
    (void)m;
    to->elsewhere = (q->number[0] % *unit == 0) != (*unit > 0);
}

bool
is_aligned(struct machine *m, int64_t n, int64_t unit)
{
    bool is = n % unit == 0;
    int64_t of = is ? unit : -unit;
    if (m->tape)
        trace_ask(m, &(struct ask){aligned_blocks, &of, sizeof(of), 1, &n});
    return is;
}

void
ask_blocks(struct machine *m, const struct ask *q)
{
    struct workspaces blocks = {.a = m->a};
    q->blocks(m, q, &blocks);
    if (m->tape)
        trace_ask(m, q);
    m->asking = true;
    for (int i = 0, mark = m->npool; i < blocks.n; i++)
        if (blocks.bytes[i])
            workspace_new(m, blocks.bytes[i]);
        else
            scope_end(m, mark, 0, NULL);
    m->asking = false;
}

struct value *
ask_block(struct machine *m, const struct ask *q)
{
    struct workspaces b = {.a = m->a};
    q->blocks(m, q, &b);
    struct value *v = workspace(m, b.bytes[0]);
    v->st->ask = m->tape ? tape_ask(m->tape, q) + 1 : 0;
    if (v->st->ask && !v->st->bytes) /* but at other sizes */
        trace_birth(m, v->st);
    return v;
}

/* Source: aten/src/ATen/cuda/CublasHandlePool.cpp: 4096 KiB x 2 + 16 KiB x 8, on Hopper and Blackwell 32 MiB; cuBLASLt
 * 1 MiB. */
int64_t
library_workspace(struct machine *m, enum library l)
{
    return l == LIBRARY_CUBLASLT ? 1 << 20 : devices_from(&m->same, m->sm, HOPPER) ? 32 << 20 : 8519680;
}

static void
library_blocks(struct machine *m, const struct ask *q, struct workspaces *to)
{
    workspaces_add(to, library_workspace(m, *(const enum library *)q->of));
}

void
use_library(struct machine *m, enum library l)
{
    static const char *const names[] = {"cuBLAS workspace", "cuBLASLt workspace"};
    struct value **w = &m->workspace[m->phase == PHASE_BACKWARD][l];
    if (!m->real || *w)
        return;
    int mark = m->npool;
    *w = value_adopt(m, value_keep(ask_block(m, &(struct ask){library_blocks, &l, sizeof(l), 0, NULL})));
    (*w)->st->name = names[l];
    (*w)->st->stays = true;
    scope_end(m, mark, 0, NULL);
}

int
scope_begin(struct machine *m)
{
    return m->npool;
}

void
scope_end(struct machine *m, int mark, int nkeep, struct value **keep)
{
    if (m->npool - mark == nkeep &&
        (!nkeep ||
         (m->pool[mark] == *keep && (nkeep == 1 || memcmp(&m->pool[mark], keep, sizeof(*keep) * (size_t)nkeep) == 0))))
        return; /* it made what it keeps and nothing else */
    for (int k = 0; k < nkeep; k++)
        if (keep[k])
            value_keep(keep[k]);
    while (m->npool > mark)
        value_drop(m, m->pool[--m->npool]);
    for (int k = 0; k < nkeep; k++)
        if (keep[k])
            *PUSH(m->keep, m->pool, m->npool, m->cap_pool) = keep[k];
}

void
scope_assign(struct machine *m, int mark, struct value **variable, struct value *v)
{
    int at = mark - 1;
    while (*variable && at >= 0 && m->pool[at] != *variable)
        at--;
    if (*variable && at >= 0) {
        m->pool[at] = value_keep(v);
        value_drop(m, *variable);
        scope_end(m, mark, 0, NULL);
    } else {
        scope_end(m, mark, 1, &v);
    }
    *variable = v;
}

/* ---- arguments --------------------------------------------------------------------------------------------------- */

static int64_t
arg_as_int(const struct arg *a, int64_t otherwise)
{
    switch (a->kind) {
    case ARG_INT:
    case ARG_BOOL:
    case ARG_DTYPE:
        return a->i;
    case ARG_FLOAT:
        return to_int(a->f);
    default:
        return otherwise;
    }
}

int64_t
arg_int(const struct frame *f, int i, int64_t otherwise)
{
    return i >= 0 && i < f->n ? arg_as_int(&f->a[i], otherwise) : otherwise;
}

double
arg_float(const struct frame *f, int i, double otherwise)
{
    if (i < 0 || i >= f->n)
        return otherwise;
    return f->a[i].kind == ARG_FLOAT ? f->a[i].f : (double)arg_as_int(&f->a[i], (int64_t)otherwise);
}

int
arg_ints(const struct frame *f, int i, int64_t *out, int max)
{
    if (i < 0 || i >= f->n || f->a[i].kind == ARG_NONE || f->a[i].kind == ARG_VALUE)
        return 0;
    const struct arg *a = &f->a[i];
    if (a->kind != ARG_LIST) {
        out[0] = arg_as_int(a, 0);
        return 1;
    }
    int n = a->n < max ? a->n : max;
    for (int k = 0; k < n; k++)
        out[k] = arg_as_int(&a->list[k], -1);
    return n;
}

struct arg
ints_arg(struct machine *m, int n, const int64_t *v)
{
    struct arg l = {.kind = ARG_LIST, .n = n, .list = NEWN(m->a, struct arg, n ? n : 1)};
    for (int i = 0; i < n; i++)
        l.list[i] = INT(v[i]);
    return l;
}

void
out_add(struct machine *m, struct frame *f, struct value *v)
{
    if (!f->cap_out) {
        f->out = f->few;
        f->cap_out = COUNT(f->few);
    }
    *PUSH(m->a, f->out, f->nout, f->cap_out) = v;
}

/* ---- derivative formulas ----------------------------------------------------------------------------------------- */

struct expr {
    enum { EXPR_CALL, EXPR_ARG, EXPR_GRAD, EXPR_GRADS, EXPR_RESULT, EXPR_NUMBER } kind;
    const struct aten *op;
    bool from_right; /* the last argument is evaluated first */
    int at, n;       /* position; number of arguments */
    double f;
    struct expr *arg[MAX_ARGS];
};

struct save {
    bool result;
    int at;         /* argument or output */
    unsigned guard; /* arguments of which one must require a gradient, as bits; 0 always */
};

struct derivative { /* a row's parsed derivative */
    unsigned of;    /* arguments that have a formula, as bits */
    int nformulas, cap_formulas;
    struct formula {
        int ntargets, target[MAX_ARGS]; /* arguments */
        struct expr *e;
    } * formula;
    int nsaved, cap_saved;
    struct save *saved;
};

struct parser {
    struct machine *m;
    const struct aten *op;
    struct derivative *rule;
    const char *p;
    struct formula *now;
    bool multi; /* more than one differentiable input, none of them a list */
};

static const char *
word(struct parser *p, char *buf, int size)
{
    int n = 0;
    while (*p->p == ' ')
        p->p++;
    while (isalnum((unsigned char)*p->p) || *p->p == '_' || *p->p == '.')
        buf[n < size - 1 ? n++ : n] = *p->p++;
    buf[n] = 0;
    while (*p->p == ' ')
        p->p++;
    return buf;
}

/* Whether the schema has it as Tensor?. */
static bool
is_optional(const struct aten *op, int at)
{
    const char *takes = op->takes ? op->takes : ".";
    int n = (int)strlen(takes),
        required = n > 0 && takes[n - 1] == '?' ? n + 1 : n; /* one of two, both in the schema */
    return at >= required || (at < n && takes[at] == '-');
}

static void
note_saved(struct parser *p, bool result, int at)
{
    struct derivative *r = p->rule;
    bool guarded = p->multi && p->now->ntargets == 1 && !result && !is_optional(p->op, at);
    unsigned guard = guarded ? 1u << p->now->target[0] : 0;
    for (int i = 0; i < r->nsaved; i++) {
        struct save *s = &r->saved[i];
        if (s->result != result || s->at != at)
            continue;
        if (p->op->wraps && guard && s->guard)
            s->guard |= guard;
        else if (s->guard != guard)
            s->guard = 0;
        return;
    }
    *PUSH(p->m->derivatives->a, r->saved, r->nsaved, r->cap_saved) = (struct save){result, at, guard};
}

static struct expr *
parse_expr(struct parser *p)
{
    char buf[64] = "";
    struct expr *e = NEW(p->m->derivatives->a, struct expr);
    while (*p->p == ' ')
        p->p++;
    bool sizes_only = *p->p == '#', negative = *p->p == '-';
    p->p += sizes_only || negative;
    word(p, buf, sizeof(buf));
    e->from_right = *p->p == '~';
    p->p += e->from_right;
    if (*p->p == '(') {
        e->kind = EXPR_CALL;
        e->op = aten_find(buf);
        assert(e->op); /* a derivative names an operator without a row */
        do {
            p->p++;
            assert(e->n < MAX_ARGS);
            e->arg[e->n++] = parse_expr(p);
        } while (*p->p == ',');
        p->p++; /* ) */
        while (*p->p == ' ')
            p->p++;
        return e;
    }
    if (isdigit((unsigned char)buf[0])) {
        e->kind = EXPR_NUMBER;
        e->f = negative ? -atof(buf) : atof(buf);
        return e;
    }
    if (strcmp(buf, "grads") == 0) {
        e->kind = EXPR_GRADS;
        return e;
    }
    for (int result = 0; result < 2; result++) {
        const char *stem = result ? "result" : "grad";
        size_t len = strlen(stem);
        if (strncmp(buf, stem, len) == 0 && (!buf[len] || isdigit((unsigned char)buf[len]))) {
            e->kind = result ? EXPR_RESULT : EXPR_GRAD;
            e->at = atoi(buf + len);
            if (result && !sizes_only)
                note_saved(p, true, e->at);
            return e;
        }
    }
    e->kind = EXPR_ARG;
    e->at = aten_arg(p->op, buf);
    assert(e->at >= 0); /* a derivative names what is no argument */
    if (!sizes_only)
        note_saved(p, false, e->at);
    return e;
}

static struct derivative *
rule_parse(struct machine *m, const struct aten *op)
{
    struct derivative *r = NEW(m->derivatives->a, struct derivative);
    struct parser p = {.m = m, .op = op, .rule = r, .p = op->grad};
    char buf[64];
    int colons = 0, commas = 0;
    for (const char *c = op->grad; *c; c++)
        colons += *c == ':';
    commas = strchr(op->grad, ',') && strchr(op->grad, ',') < strchr(op->grad, ':');
    p.multi = colons > 1 || commas;
    while (*p.p) {
        p.now = PUSH(m->derivatives->a, r->formula, r->nformulas, r->cap_formulas);
        do {
            p.p += *p.p == ',' || *p.p == ';';
            int at = aten_arg(op, word(&p, buf, sizeof(buf)));
            assert(at >= 0);
            p.now->target[p.now->ntargets++] = at;
            r->of |= 1u << at;
        } while (*p.p == ',');
        p.p++; /* : */
        p.now->e = parse_expr(&p);
    }
    return r;
}

struct derivatives *
derivatives_new(struct arena *a)
{
    struct derivatives *d = NEW(a, struct derivatives);
    d->a = a;
    d->of = NEWN(a, struct derivative *, aten_count);
    return d;
}

static const struct derivative *
rule_of(struct machine *m, const struct aten *op)
{
    int at = (int)(op - aten_table);
    struct derivative **of = &m->derivatives->of[at];
    if (!*of)
        *of = rule_parse(m, op);
    return *of;
}

void
eager_check_formula(struct machine *m, const struct aten *op)
{
    (void)rule_of(m, op);
}

/* ---- autograd's graph -------------------------------------------------------------------------------------------- */

struct edge {
    struct gnode *fn;
    int out;
};

struct gnode {
    const struct aten *op; /* NULL: accumulates into *grad, or runs a function */
    const struct call *call;
    int seq, deps, stamp;
    int nargs, nin, nout, nsaved;
    struct arg *args;
    int *first;         /* per argument, its first input */
    struct edge *in;    /* per tensor argument, lists flattened; fn NULL where no gradient is wanted */
    struct value **out; /* not owned: sizes and types */
    struct value **saved;
    struct value **buf; /* incoming gradients, one per output */
    struct value **grad;
    struct value *leaf;
    struct checkpoint *checkpoint; /* whose holders the saved tensors are */
    struct checkpoint *function;   /* reentrant: makes the region's graph and runs it */
    bool released;
    bool slices; /* in place, over a view: of all of another tensor, or of a part, whose sizes `part` has */
    const struct value *over, *part, *base; /* base: what `part` is a view of */
    int gate, opens; /* a unit's number from 1 on: it runs when the unit has its gradients, or before them; 0 none */
    bool pinned;     /* made under a checkpoint in another, or again: it lives as long as the iteration */
    int holders;     /* living results and nodes that lead to it */
};

static bool
wants(const struct gnode *n, int arg)
{
    int end = arg + 1 < n->nargs ? n->first[arg + 1] : n->nin;
    for (int k = n->first[arg]; k < end; k++)
        if (n->in[k].fn)
            return true;
    return false;
}

static bool
differentiable(const struct derivative *r, int arg)
{
    return r->of >> arg & 1;
}

static void
args_into(struct arena *a, int n, struct arg *to, const struct arg *from)
{
    for (int i = 0; i < n; i++) {
        to[i] = from[i];
        if (from[i].kind == ARG_LIST)
            to[i].list = args_copy(a, from[i].n, from[i].list);
    }
}

struct arg *
args_copy(struct arena *a, int n, const struct arg *from)
{
    struct arg *to = NEWN(a, struct arg, n + 1);
    args_into(a, n, to, from);
    return to;
}

static struct value *
saved(struct value *v)
{
    v->st->saved = true;
    if (v->st->class == CLASS_TEMPORARIES)
        v->st->class = CLASS_SAVED;
    return value_keep(v);
}

static void
holder_fill(struct checkpoint *c, struct value *v)
{
    if (c->filled >= c->nholders)
        return;
    struct holder *h = &c->holders[c->filled++];
    if (h->node && h->node->released)
        return;
    *h->to = saved(v);
    if (h->at)
        *h->at = v;
}

/* *at is the tensor, where the node's formulas read it. */
static void
node_save(struct machine *m, struct gnode *n, struct value **at, bool result)
{
    struct checkpoint *c = m->checkpoint;
    if (c && c->mute)
        return;
    if (c && c->again) {
        holder_fill(c, *at);
        return;
    }
    if (c) {
        *PUSH(m->a, c->holders, c->nholders, c->cap) = (struct holder){n, &n->saved[n->nsaved], at};
        c->alive++;
        n->checkpoint = c;
    }
    n->saved[n->nsaved++] = c ? NULL : saved(*at);
    (*at)->by_maker += result && !c;
}

/* A view that autograd knows of. */
static bool
views_all(const struct value *v)
{
    return v->is_view && v->requires_grad && v->fn && v->fn->op && !v->fn->op->unseen &&
           (!v->fn->over || v->fn->slices) && dtype_bytes(v->dtype, value_elements(v)) == v->st->requested;
}

/* The view that leads there and that autograd knows of; NULL it is none. */
static struct value *
view_of(struct edge e)
{
    struct value *v = e.fn && e.fn->op && !e.fn->over && !e.fn->op->unseen && !e.fn->nsaved ? e.fn->out[e.out] : NULL;
    return v && v->is_view ? v : NULL;
}

/* Likewise, whether it is of all of its input. */
static bool
is_view(struct edge e)
{
    const struct value *v = view_of(e);
    return v && dtype_bytes(v->dtype, value_elements(v)) == v->st->requested;
}

/* Below the views that lead there: what they are of. */
static struct edge
root_of(struct edge e)
{
    while (is_view(e))
        e = e.fn->in[0];
    return e;
}

/* v is made there; who called forgets what made it before. */
static void
lead(struct value *v, struct edge e)
{
    v->fn = e.fn;
    v->fn_out = e.out;
    e.fn->holders++;
}

static void
views_number(struct machine *m, struct edge e)
{
    if (!is_view(e))
        return;
    views_number(m, e.fn->in[0]);
    e.fn->seq = m->seq++;
}

/* What is made anew is made when it is first read. Source: VariableHooks::grad_fn in
 * torch/csrc/autograd/variable.cpp. */
static struct edge
node_edge(struct machine *m, struct value *v)
{
    if (v->stale)
        views_number(m, (struct edge){v->fn, v->fn_out});
    v->stale = false;
    if (v->fn)
        v->fn->holders++;
    return (struct edge){v->fn, v->fn_out};
}

static const struct value *
base_of(struct edge root)
{
    return root.fn->base ? root.fn->base : root.fn->op ? root.fn->out[root.out] : root.fn->leaf;
}

/* All views between a tensor and v, made anew by strides: what an engine of tensors with a GPU's kernels does. */
static struct edge
strided_again(struct machine *m, struct edge root, struct value *v)
{
    enum { SELF, SIZE, STRIDE, NARGS };
    struct gnode *again = NEW(m->a, struct gnode);
    again->op = aten_find("as_strided.default");
    again->call = m->call;
    again->seq = m->seq++;
    again->nargs = again->nin = NARGS;
    again->args = NEWN(m->a, struct arg, NARGS);
    again->args[SELF] = VAL((struct value *)base_of(root));
    again->args[SIZE] = ints_arg(m, v->rank, v->size);
    again->args[STRIDE] = ints_arg(m, v->rank, v->stride);
    again->first = NEWN(m->a, int, NARGS);
    again->in = NEWN(m->a, struct edge, NARGS);
    for (int i = 0; i < NARGS; i++)
        again->first[i] = i;
    again->in[SELF] = root;
    root.fn->holders++;
    again->nout = 1;
    again->out = arena_dup(m->a, &v, sizeof(v));
    again->buf = NEWN(m->a, struct value *, 1);
    return (struct edge){again, 0};
}

/* The views that lead there, made anew on top of a node: one by one, or by strides. Source: VariableHooks::grad_fn in
 * torch/csrc/autograd/variable.cpp; tensors of a dispatch mode have a function of each view, of others strides do. */
static struct edge
views_again(struct machine *m, struct gnode *g, struct edge e)
{
    if (!is_view(e))
        return (struct edge){g, e.fn == g ? e.out : 0};
    if (m->real)
        return strided_again(m, (struct edge){g, 0}, view_of(e));
    struct edge below = views_again(m, g, e.fn->in[0]);
    struct gnode *again = arena_dup(m->a, e.fn, sizeof(*again));
    again->in = arena_dup(m->a, e.fn->in, sizeof(*again->in) * (size_t)again->nin);
    again->in[0] = below;
    for (int i = 0; i < again->nin; i++) /* a gate has several */
        if (again->in[i].fn)
            again->in[i].fn->holders++;
    again->buf = NEWN(m->a, struct value *, again->nout);
    again->seq = m->seq++;
    again->holders = 0;
    again->released = false;
    return (struct edge){again, e.out};
}

/* Writing in place into a view is a node of what that is a view of, and the view is made again on top of it; v, which
 * the node has written, gets what makes it now. Source: rebase_history in torch/csrc/autograd/variable.cpp. */
static void
rebase(struct machine *m, struct gnode *g, struct value *v)
{
    struct edge shown = g->in[0], root = root_of(shown);
    if (root.fn == shown.fn)
        return;
    if (root.fn) {
        const struct value *base = base_of(root);
        root.fn->holders++;
        if (value_elements(base) == value_elements(g->base ? g->base : v))
            g->base = base;
    }
    g->in[0] = root;
    lead(v, views_again(m, g, shown));
    node_forget(m, g);
    node_forget(m, shown.fn);
}

/* With room for that many of each, side by side. */
static struct gnode *
node_new(struct arena *a, int nargs, int nin, int nout, int nsaved)
{
    size_t pointers = 2 * (size_t)nout + (size_t)nsaved;
    struct gnode *g = arena_alloc(a, sizeof(*g) + sizeof(*g->args) * (size_t)nargs + sizeof(*g->in) * (size_t)nin +
                                         sizeof(*g->out) * pointers + sizeof(*g->first) * (size_t)nargs);
    g->nargs = nargs;
    g->nin = nin;
    g->nout = nout;
    g->args = (struct arg *)(g + 1);
    g->in = (struct edge *)(g->args + nargs);
    g->out = (struct value **)(g->in + nin);
    g->buf = g->out + nout;
    g->saved = g->buf + nout;
    g->first = (int *)(g->saved + nsaved);
    return g;
}

static void
node_make(struct machine *m, struct frame *f)
{
    const struct derivative *r = rule_of(m, f->op);
    int nin = 0, room = 0;
    bool any = false, complex = false;
    for (int i = 0; i < f->n; i++) {
        int n = f->a[i].kind == ARG_LIST ? f->a[i].n : 1;
        bool diff = differentiable(r, i);
        for (int k = 0; k < n; k++) {
            const struct arg *a = f->a[i].kind == ARG_LIST ? &f->a[i].list[k] : &f->a[i];
            any |= diff && a->kind == ARG_VALUE && a->v->requires_grad;
            complex |= a->kind == ARG_VALUE && dtype_is_complex(a->v->dtype);
        }
        nin += n;
    }
    if (!any)
        return;
    if (complex && !f->op->complex && f->nout && f->out[0] && !f->out[0]->is_view)
        m->uncertain = f->op;
    for (int i = 0; i < r->nsaved; i++)
        room += !r->saved[i].result && r->saved[i].at < f->n && f->a[r->saved[i].at].kind == ARG_LIST
                    ? f->a[r->saved[i].at].n
                    : 1;
    struct gnode *g = node_new(m->a, f->n, nin, f->nout, room);
    g->op = f->op;
    g->call = m->call;
    g->seq = m->seq++;
    g->pinned = m->checkpoint && (m->checkpoint->parent || m->checkpoint->again || m->checkpoint->mute);
    g->over = f->over;
    g->slices = f->over && views_all(f->over);
    args_into(m->a, f->n, g->args, f->a);
    for (int k = 0; k < f->nout; k++)
        g->out[k] = f->out[k];
    int at = 0;
    for (int i = 0; i < f->n; i++) {
        int n = f->a[i].kind == ARG_LIST ? f->a[i].n : 1;
        g->first[i] = at;
        for (int k = 0; k < n; k++, at++) {
            const struct arg *a = f->a[i].kind == ARG_LIST ? &f->a[i].list[k] : &f->a[i];
            if (a->kind == ARG_VALUE && a->v->requires_grad && differentiable(r, i))
                g->in[at] = node_edge(m, a->v);
        }
    }
    for (int k = 0; k < at && m->checkpoint && m->checkpoint->again; k++) /* dies with the second forward */
        if (g->in[k].fn)
            g->in[k].fn->holders--;
    for (int i = 0; i < r->nsaved; i++) {
        const struct save *s = &r->saved[i];
        bool wanted = !s->guard;
        for (int k = 0; k < g->nargs && !wanted; k++)
            wanted = s->guard >> k & 1 && wants(g, k);
        if (!wanted)
            continue;
        if (s->result) {
            if (s->at < f->nout && f->out[s->at])
                node_save(m, g, &g->out[s->at], true);
        } else if (s->at < f->n && f->a[s->at].kind == ARG_VALUE) {
            node_save(m, g, &g->args[s->at].v, false);
        } else if (s->at < f->n && f->a[s->at].kind == ARG_LIST) {
            for (int k = 0; k < f->a[s->at].n; k++)
                if (f->a[s->at].list[k].kind == ARG_VALUE)
                    node_save(m, g, &g->args[s->at].list[k].v, false);
        }
    }
    if (m->checkpoint && m->checkpoint->again && m->checkpoint->filled == m->checkpoint->nholders)
        longjmp(m->checkpoint->stop, 1);
    for (int k = 0; k < f->nout; k++)
        if (f->out[k] && dtypes[f->out[k]->dtype].is_float) {
            struct gnode *before = f->out[k]->fn; /* of an operator that gave back its input */
            f->out[k]->requires_grad = true;
            f->out[k]->fn = g;
            f->out[k]->fn_out = k;
            g->holders++;
            if (before)
                node_forget(m, before);
        }
    if (!g->holders) { /* no result can have a gradient: a cast to integers */
        g->holders = 1;
        node_forget(m, g);
        return;
    }
    if (g->slices && f->out[0]->fn == g) {
        g->part = f->over;
        rebase(m, g, f->out[0]);
    }
}

/* The node that wrote in place what a view shows; NULL none. */
static struct gnode *
writer(const struct value *v)
{
    struct gnode *g = v->fn;
    while (g && g->op && !g->over && is_view((struct edge){g, 0}))
        g = g->in[0].fn;
    return g && g->over ? g : NULL;
}

bool
value_written(const struct value *base, const struct value *part)
{
    struct gnode *g = writer(part);
    return part->st == base->st && g && g->over->is_view;
}

struct value *
value_rebase(struct machine *m, struct value *base, struct value *part)
{
    struct value *v = value_view(m, base, base->rank, base->size, base->stride);
    struct gnode *g = writer(part) ? writer(part) : part->fn;
    v->is_view = base->is_view;
    v->requires_grad = base->requires_grad || part->requires_grad;
    if (g && g->slices && g != part->fn) { /* of all */
        lead(v, views_again(m, g, (struct edge){base->fn, base->fn_out}));
        v->stale = true;
        return v;
    }
    v->fn = g ? g : base->fn;
    v->fn_out = g ? part->fn_out : base->fn_out;
    if (v->fn)
        v->fn->holders++;
    if (!g)
        return v;
    struct gnode *before = g->in[g->first[0]].fn;
    g->in[g->first[0]] = base->requires_grad ? node_edge(m, base) : (struct edge){NULL, 0};
    if (before)
        node_forget(m, before);
    if (value_elements(part) != value_elements(base)) {
        g->slices = true;
        g->part = part;
        g->base = base;
        rebase(m, g, v);
        v->stale = true;
    }
    return v;
}

void
value_restride(struct machine *m, struct value *v)
{
    struct edge e = {v->fn, v->fn_out};
    for (const struct value *w; (w = view_of(e)) && w->st == v->st;)
        e = e.fn->in[0];
    if (!m->real || !e.fn || e.fn == v->fn)
        return;
    struct gnode *old = v->fn;
    lead(v, strided_again(m, e, v));
    node_forget(m, old);
}

struct value *
value_anew(struct machine *m, struct value *v)
{
    struct edge e = {v->fn, v->fn_out}, root = root_of(e);
    if (!root.fn || root.fn == e.fn)
        return v;
    struct value *own = value_view(m, v, v->rank, v->size, v->stride);
    own->is_view = v->is_view;
    own->requires_grad = true;
    lead(own, views_again(m, root.fn, e));
    return own;
}

void
gate_make(struct machine *m, int unit, int n, struct value **v)
{
    struct gnode *g = NEW(m->a, struct gnode);
    g->op = aten_find("alias.default");
    g->seq = m->seq++;
    g->gate = unit + 1;
    g->nin = g->nout = n;
    g->in = NEWN(m->a, struct edge, n);
    g->out = NEWN(m->a, struct value *, n);
    g->buf = NEWN(m->a, struct value *, n);
    for (int i = 0; i < n; i++) {
        g->in[i] = node_edge(m, v[i]);
        struct value *w = value_keep(value_view(m, v[i], v[i]->rank, v[i]->size, v[i]->stride));
        w->is_view = v[i]->is_view;
        w->requires_grad = true;
        w->fn = g;
        w->fn_out = i;
        g->out[i] = w;
        g->holders++;
        value_drop(m, v[i]);
        v[i] = w;
    }
}

void
gate_one(struct machine *m, int unit, struct value **v)
{
    int mark = scope_begin(m);
    gate_make(m, unit, 1, v);
    scope_end(m, mark, 0, NULL);
}

void
gate_opens(struct value *v, int unit)
{
    if (v->fn && !v->fn->opens)
        v->fn->opens = unit + 1;
}

void
value_requires_grad(struct machine *m, struct value *v, struct value **grad)
{
    struct gnode *g = NEW(m->keep, struct gnode);
    g->seq = INT_MAX;
    g->nout = 1;
    g->buf = NEWN(m->keep, struct value *, 1);
    g->grad = grad;
    g->leaf = v;
    v->requires_grad = true;
    v->fn = g;
}

struct value **
captive(struct machine *m, struct value *v)
{
    struct value **at = NEW(m->keep, struct value *);
    *at = v;
    *PUSH(m->keep, m->captives, m->ncaptives, m->cap_captives) = at;
    return at;
}

void
run_requires_grad(struct machine *m, struct frame *f)
{
    struct value *v = arg_value(f, 0);
    if (m->grad_mode && !v->requires_grad && dtypes[v->dtype].is_float) {
        v = value_make(m, v->st, v->dtype, v->rank, v->size, v->stride);
        captive(m, saved(v));
        value_requires_grad(m, v, captive(m, NULL));
    }
    out_add(m, f, v);
}

/* ---- dispatch ---------------------------------------------------------------------------------------------------- */

static bool
castable(const struct value *v)
{
    return v->dtype == DT_FLOAT || v->dtype == DT_FLOAT16 || v->dtype == DT_BFLOAT16;
}

enum { CACHE_TRACKED = 211 };

/* Autocast keeps the half copy of a weight until its context ends; one that is made under torch.no_grad has gradients
 * from CACHE_TRACKED on, before which what reads it later has none. Source: cached_cast in
 * aten/src/ATen/autocast_mode.cpp. */
static struct value *
cast_to(struct machine *m, struct value *v, enum dtype t)
{
    if (!castable(v) || v->dtype == t)
        return v;
    bool cached = t == m->low && v->dtype == DT_FLOAT && v->fn && v->fn->grad && !v->is_view;
    for (int i = 0; cached && i < m->ncast; i++)
        if (m->casts[i].from == v)
            return m->casts[i].to;
    const bool recording = m->grad_mode, off = m->untracked;
    if (cached && off && m->torch >= CACHE_TRACKED) {
        m->grad_mode = true;
        m->untracked = false;
    }
    struct value *w = OP(m, "_to_copy.default", VAL(v), DTYPE(t));
    m->grad_mode = recording;
    m->untracked = off;
    if (cached)
        *PUSH(m->keep, m->casts, m->ncast, m->cap_cast) = (struct cast_entry){v, value_keep(w)};
    return w;
}

/* Arguments of C++'s wrapper are evaluated from the last, the elements of a list from the first: cached_cast in
 * autocast_mode.h. */
static void
cast_each(struct machine *m, struct arg *a, int n, enum dtype t, bool list)
{
    for (int k = 0; k < n; k++) {
        struct arg *e = &a[list ? k : n - 1 - k];
        if (e->kind == ARG_VALUE)
            e->v = cast_to(m, e->v, t);
        else if (e->kind == ARG_LIST)
            cast_each(m, e->list, e->n, t, true);
    }
}

static enum dtype
widest(const struct arg *a, int n)
{
    enum dtype t = DT_UNDEFINED;
    for (int i = 0; i < n; i++) {
        enum dtype u = a[i].kind == ARG_VALUE && castable(a[i].v) ? a[i].v->dtype
                       : a[i].kind == ARG_LIST                    ? widest(a[i].list, a[i].n)
                                                                  : DT_UNDEFINED;
        if (u == DT_FLOAT || t == DT_UNDEFINED)
            t = u == DT_UNDEFINED ? t : u;
    }
    return t;
}

/* The overload that takes a type runs, where there is one. Source: set_opt_dtype and wrap_function_ of
 * DifferentRedispatch in aten/src/ATen/autocast_mode.h. */
static void
ask_for_float(struct machine *m, struct frame *f)
{
    int at = aten_arg(f->op, "dtype");
    const struct value *v = arg_value(f, 0);
    if (!v || !castable(v) || (at < f->n && f->a[at].kind != ARG_NONE))
        return;
    struct arg *a = NEWN(m->a, struct arg, at + 1);
    for (int i = 0; i <= at; i++)
        a[i] = i < f->n ? f->a[i] : NONE;
    a[at] = DTYPE(DT_FLOAT);
    f->a = a;
    f->n = f->n > at ? f->n : at + 1;
    f->op = f->op->redispatches ? aten_find(f->op->redispatches) : f->op;
}

static void
autocast(struct machine *m, struct frame *f)
{
    if (f->op->cast == CAST_DTYPE) {
        ask_for_float(m, f);
        return;
    }
    enum dtype t = f->op->cast == CAST_LOWER ? m->low : f->op->cast == CAST_PROMOTE ? widest(f->a, f->n) : DT_FLOAT;
    m->autocast = false;
    struct arg *own = args_copy(m->a, f->n, f->a);
    cast_each(m, own, f->n, t, false);
    f->a = own;
    m->autocast = true;
}

/* Whether one of the arguments requires a gradient, for which something is kept; a list is taken to. */
static bool
is_wanted(const struct frame *f, unsigned guard)
{
    bool wanted = !guard;
    for (int i = 0; i < f->n && !wanted; i++)
        wanted =
            guard >> i & 1 && (f->a[i].kind == ARG_LIST || (f->a[i].kind == ARG_VALUE && f->a[i].v->requires_grad));
    return wanted;
}

/* In place: what is written over, and a clone of it where the derivative needs the old content. Source: original_self
 * in tools/autograd/gen_variable_type.py. */
static void
overwrite(struct machine *m, struct frame *f)
{
    struct value *self = arg_value(f, 0);
    f->over = self;
    if (self)
        self->st->version++;
    if (!self || !m->grad_mode || !f->op->grad || f->op->grad == COMPOSITE || f->op->keeps_result)
        return;
    const struct derivative *r = rule_of(m, f->op);
    bool any = false, saved = false;
    for (int i = 0; i < f->n; i++)
        any |= f->a[i].kind == ARG_VALUE && f->a[i].v->requires_grad;
    for (int i = 0; i < r->nsaved; i++) {
        const struct save *s = &r->saved[i];
        saved |= !s->result && s->at == 0 && is_wanted(f, s->guard);
    }
    if (!any || !saved)
        return;
    m->grad_mode = false;
    struct value *old = OP(m, "clone.default", VAL(self));
    m->grad_mode = true;
    old->requires_grad = self->requires_grad;
    const struct edge from = node_edge(m, self);
    old->fn = from.fn;
    old->fn_out = from.out;
    struct arg *own = args_copy(m->a, f->n, f->a);
    own[0] = VAL(old);
    f->a = own;
}

static bool
holds_tensors(const struct arg *list)
{
    for (int i = 0; list->kind == ARG_LIST && i < list->n; i++)
        if (list->list[i].kind == ARG_VALUE)
            return true;
    return false;
}

/* Where the region's last saved tensors are operands, their operator does not run again: PyTorch saves operands before
 * the kernel. */
static void
stop_before(struct machine *m, struct frame *f)
{
    struct checkpoint *c = m->checkpoint;
    const struct derivative *r = rule_of(m, f->op);
    int n = 0;
    if (f->op->function)
        return;
    for (int i = 0; i < r->nsaved; i++) {
        const struct save *s = &r->saved[i];
        if (!is_wanted(f, s->guard))
            continue;
        if (s->result)
            return;
        if (s->at < f->n && holds_tensors(&f->a[s->at]))
            return; /* counted when it has run */
        n += s->at < f->n && f->a[s->at].kind == ARG_VALUE;
    }
    bool any = false;
    for (int i = 0; i < f->n; i++)
        any |= f->a[i].kind == ARG_VALUE && f->a[i].v->requires_grad && differentiable(r, i);
    if (!any || !n || c->filled + n < c->nholders)
        return;
    for (int i = 0; i < r->nsaved; i++) {
        const struct save *s = &r->saved[i];
        if (s->at < f->n && f->a[s->at].kind == ARG_VALUE && is_wanted(f, s->guard))
            holder_fill(c, f->a[s->at].v);
    }
    longjmp(c->stop, 1);
}

static bool
keeps(const struct checkpoint *c, const struct frame *f)
{
    const struct region *r = c->region;
    return r->keeps && r->keeps[f->op - aten_table] && (!r->inner || !f->op->inner || f->op->inner(f) >= r->inner);
}

bool
under_mode(const struct machine *m)
{
    for (const struct checkpoint *c = m->checkpoint; c; c = c->parent)
        if (c->region->keeps)
            return true;
    return false;
}

/* Every region around that runs forward for its first time keeps the results that its policy names. Source:
 * _CachingTorchDispatchMode in torch/utils/checkpoint.py. */
static void
cache_results(struct machine *m, const struct frame *f)
{
    for (struct checkpoint *c = m->checkpoint; c; c = c->parent) {
        if (c->again || c->done || !keeps(c, f))
            continue;
        struct cached *k = PUSH(m->a, c->cached, c->ncached, c->cap_cached);
        *k = (struct cached){f->nout, NEWN(m->a, struct value *, f->nout + 1), NEWN(m->a, int, f->nout + 1)};
        for (int i = 0; i < f->nout; i++)
            if (f->out[i]) {
                k->v[i] = saved(f->out[i]);
                k->version[i] = k->v[i]->st->version;
            }
    }
}

static void
cache_drop(struct machine *m, struct checkpoint *c)
{
    const struct cached *k = &c->cached[c->next++];
    for (int i = 0; i < k->n; i++)
        if (k->v[i])
            value_drop(m, k->v[i]);
}

/* In place of a kernel, what the region whose second forward runs has kept of it: _CachedTorchDispatchMode. False: the
 * kernel runs. */
static bool
take_results(struct machine *m, struct frame *f)
{
    struct checkpoint *c = m->checkpoint;
    while (c && !c->again)
        c = c->parent;
    if (!c || !keeps(c, f) || c->next == c->ncached)
        return false;
    const struct cached *k = &c->cached[c->next];
    for (int i = 0; i < k->n; i++) {
        const struct value *v = k->v[i];
        c->spoilt |= v && v->st->version != k->version[i];
        out_add(m, f, v ? value_make(m, v->st, v->dtype, v->rank, v->size, v->stride) : NULL);
    }
    cache_drop(m, c);
    return true;
}

static bool
casts(const struct machine *m, const struct aten *op)
{
    return op->cast && m->torch >= op->casts_since;
}

/* What an operator made of v under torch.no_grad. Written in place it keeps its history; a view asks for a gradient
 * that leads nowhere, and has its base. Source: DifferentiableViewMeta in torch/csrc/autograd/variable.h. */
static void
untracked(struct machine *m, struct value *made, const struct value *v, bool in_place)
{
    if (!made || made == v || made->st != v->st || made->fn || !v->requires_grad)
        return;
    made->requires_grad = in_place || made->is_view;
    if (!in_place) {
        made->shown = v->fn ? v->fn : v->shown;
        if (made->shown)
            made->shown->holders++;
        return;
    }
    struct edge e = {v->fn, v->fn_out}, root = root_of(e);
    made->stale = root.fn && root.fn != e.fn;
    if (e.fn)
        lead(made, made->stale ? views_again(m, root.fn, e) : e);
}

static void
copy_arguments(struct machine *m, const struct frame *f, bool before_result)
{
    const char *order = f->op->order;
    for (int i = 0; i < f->n && order[i]; i++) {
        bool taken = order[i] != '.' && !isupper(order[i]) != before_result;
        struct value *v = f->a[i].kind == ARG_VALUE && taken ? f->a[i].v : NULL;
        if (v && !value_contiguous(v) && !(tolower(order[i]) == 'd' && value_channels_last(v)))
            OP(m, "clone.default", VAL(v), BOOL(true));
    }
}

struct frame *
dispatch(struct machine *m, const struct aten *op, int n, const struct arg *a, const struct frame *like)
{
    struct frame *f = m->frames ? m->frames : NEW(m->a, struct frame);
    const char *outer = m->op;
    int mark = scope_begin(m);
    m->frames = f->next;
    f->op = op;
    f->n = n;
    f->a = a;
    f->nout = f->cap_out = 0;
    f->out = NULL;
    f->rank = like ? like->rank : -1;
    f->size = like ? like->size : NULL;
    f->stride = like ? like->stride : NULL;
    f->want = like ? like->want : ~0u;
    f->in_place = like && like->in_place;
    f->over = NULL;
    if (!aten_takes(op, f->a, n)) {
        m->missing = op->name;
        return f;
    }
    if (m->autocast && casts(m, op) && !f->in_place) { /* only what makes a new tensor is in autocast's lists */
        autocast(m, f);
        op = f->op;
    }
    if (f->in_place)
        overwrite(m, f);
    if (op->grad != COMPOSITE || !outer) /* what a composite makes by itself is its own, where nobody called it */
        m->op = op->name;
    bool under = m->autocast;
    if (casts(m, op))
        m->autocast = false; /* the dispatcher excludes autocast below a casting operator */
    bool recording = m->grad_mode;
    if (m->checkpoint && m->checkpoint->again && recording && op->grad && op->grad != COMPOSITE)
        stop_before(m, f);
    m->grad_mode = recording && op->grad == COMPOSITE;
    bool top = m->checkpoint && recording && op->grad != COMPOSITE; /* where a dispatch mode sees it */
    if (!top || !take_results(m, f)) {
        if (m->real && op->order)
            copy_arguments(m, f, true);
        op->run(m, f);
        if (m->real && op->order)
            copy_arguments(m, f, false);
    }
    if (top)
        cache_results(m, f);
    m->grad_mode = recording;
    if (op->grad && op->grad != COMPOSITE && recording)
        node_make(m, f);
    if (m->untracked && op->grad && op->grad != COMPOSITE && !op->unseen && n && f->a[0].kind == ARG_VALUE)
        for (int k = 0; k < f->nout; k++)
            untracked(m, f->out[k], f->a[0].v, f->over);
    if (under && op->cast == CAST_BACK && f->nout && n && a[0].kind == ARG_VALUE)
        f->out[0] = OP(m, "to.dtype", VAL(f->out[0]), DTYPE(a[0].v->dtype));
    m->autocast = under;
    scope_end(m, mark, f->nout, f->out);
    m->op = outer;
    return f;
}

void
frame_drop(struct machine *m, struct frame *f)
{
    f->next = m->frames;
    m->frames = f;
}

struct value *
op_like(struct machine *m, const char *name, int n, const struct arg *a, const struct frame *like)
{
    static struct named { /* rows that OP named last, by the literal's address */
        const char *name;
        const struct aten *op;
    } named[512];
    struct named *row = &named[((uintptr_t)name >> 3) % COUNT(named)];
    if (row->name != name)
        *row = (struct named){name, aten_find(name)};
    assert(row->op);
    struct frame *f = dispatch(m, row->op, n, a, like);
    struct value *v = f->nout ? f->out[0] : NULL;
    frame_drop(m, f);
    return v;
}

struct value *
op_over(struct machine *m, const char *name, int n, const struct arg *a, bool in_place)
{
    return op_like(m, name, n, a, in_place ? &(struct frame){.rank = -1, .want = ~0u, .in_place = true} : NULL);
}

struct value *
op_call(struct machine *m, const char *name, int n, const struct arg *a)
{
    return op_like(m, name, n, a, NULL);
}

/* ---- the engine -------------------------------------------------------------------------------------------------- */

struct engine {
    struct machine *m;
    int n, cap, naside, cap_aside;
    struct gnode **heap; /* largest sequence number first */
    struct aside {
        struct gnode *to;
        int deps;
        struct value *awaits;
    } * aside;
};

static void
heap_push(struct engine *e, struct gnode *g)
{
    int at = e->n;
    (void)PUSH(e->m->a, e->heap, e->n, e->cap);
    for (; at > 0 && e->heap[(at - 1) / 2]->seq < g->seq; at = (at - 1) / 2)
        e->heap[at] = e->heap[(at - 1) / 2];
    e->heap[at] = g;
}

static struct gnode *
heap_pop(struct engine *e)
{
    struct gnode *top = e->heap[0], *last = e->heap[--e->n];
    int at = 0;
    for (int child; (child = 2 * at + 1) < e->n; at = child) {
        child += child + 1 < e->n && e->heap[child + 1]->seq > e->heap[child]->seq;
        if (last->seq >= e->heap[child]->seq)
            break;
        e->heap[at] = e->heap[child];
    }
    e->heap[at] = last;
    return top;
}

/* Of the nodes behind root. An accumulator may await gradients of a graph around this one, which are put aside. */
static void
count_dependencies(struct engine *e, struct gnode *root)
{
    struct machine *m = e->m;
    int n = 0, cap = 0, stamp = ++m->stamp;
    struct gnode **stack = NULL;
    root->stamp = stamp;
    root->deps = 0;
    *PUSH(m->a, stack, n, cap) = root;
    while (n) {
        struct gnode *g = stack[--n];
        for (int i = 0; i < g->nin; i++) {
            struct gnode *to = g->in[i].fn;
            if (!to)
                continue;
            if (to->stamp != stamp) {
                if (to->grad) {
                    *PUSH(m->a, e->aside, e->naside, e->cap_aside) = (struct aside){to, to->deps, to->buf[0]};
                    to->buf[0] = NULL;
                }
                to->stamp = stamp;
                to->deps = 0;
                *PUSH(m->a, stack, n, cap) = to;
            }
            to->deps++;
        }
    }
}

/* Source: InputBuffer::accumulate in torch/csrc/autograd/input_buffer.cpp. It adds in place when the stored gradient is
 * dense, not a view, and nobody else holds it; under fake tensors, a dispatch mode or of a subclass it never does. */
static void
buffer_add(struct machine *m, struct value **slot, struct value *v, bool subclass)
{
    struct value *old = *slot;
    if (!old) {
        *slot = value_keep(v);
        return;
    }
    if (m->real && !subclass && old->refs == 1 && old->st->refs == 1 && !old->is_view)
        return;
    int mark = scope_begin(m);
    *slot = value_keep(OP(m, "add.Tensor", VAL(old), VAL(v)));
    scope_end(m, mark, 0, NULL);
    value_drop(m, old);
}

static bool
same_layout(const struct value *a, const struct value *b)
{
    for (int i = 0; i < a->rank; i++)
        if (a->size[i] > 1 && a->stride[i] != b->stride[i])
            return false;
    return true;
}

/* Source: torch/csrc/autograd/functions/accumulate_grad.h. */
static void
accumulate_grad(struct machine *m, struct gnode *g)
{
    struct value *v = g->buf[0];
    g->buf[0] = NULL;
    if (!v)
        return;
    if (*g->grad) {
        value_drop(m, v); /* added in place */
        if (m->collectives && m->collectives->ready)
            m->collectives->ready(m, g->grad);
        return;
    }
    if (v->refs > 1 || !same_layout(v, g->leaf)) {
        int mark = scope_begin(m);
        struct value *own = OP(m, "new_empty_strided.default", VAL(v), VAL(g->leaf));
        value_keep(own);
        scope_end(m, mark, 0, NULL);
        value_drop(m, v);
        v = own;
    }
    v->st->class = CLASS_GRADIENTS;
    v->st->name = g->leaf->st->name;
    *g->grad = value_adopt(m, v);
    if (m->collectives && m->collectives->ready)
        m->collectives->ready(m, g->grad);
}

static struct arg eval(struct machine *m, struct gnode *g, const struct expr *e, unsigned want, struct frame **out);

static struct frame *
eval_call(struct machine *m, struct gnode *g, const struct expr *e, unsigned want)
{
    struct arg a[MAX_ARGS];
    for (int k = 0; k < e->n; k++) {
        int i = e->from_right ? e->n - 1 - k : k;
        const struct expr *x = e->arg[i];
        if (x->kind == EXPR_ARG && x->at < g->nargs)
            a[i] = g->args[x->at];
        else if (x->kind == EXPR_GRAD && x->at < g->nout)
            a[i] = VAL(g->buf[x->at]);
        else
            a[i] = eval(m, g, x, ~0u, NULL);
    }
    return dispatch(m, e->op, e->n, a, want == ~0u ? NULL : &(struct frame){.rank = -1, .want = want});
}

static struct arg
eval(struct machine *m, struct gnode *g, const struct expr *e, unsigned want, struct frame **out)
{
    switch (e->kind) {
    case EXPR_CALL: {
        struct frame *f = eval_call(m, g, e, want);
        struct arg v = VAL(f->nout ? f->out[0] : NULL);
        if (out)
            *out = f;
        else
            frame_drop(m, f);
        return v;
    }
    case EXPR_ARG:
        return e->at < g->nargs ? g->args[e->at] : NONE;
    case EXPR_GRAD:
        return VAL(e->at < g->nout ? g->buf[e->at] : NULL);
    case EXPR_GRADS: {
        struct arg l = {.kind = ARG_LIST, .n = g->nout, .list = NEWN(m->a, struct arg, g->nout)};
        for (int i = 0; i < g->nout; i++)
            l.list[i] = VAL(g->buf[i]);
        return l;
    }
    case EXPR_RESULT:
        return VAL(e->at < g->nout ? g->out[e->at] : NULL);
    case EXPR_NUMBER:
        break;
    }
    return FLT(e->f);
}

/* w takes v's place: v's reference moves, what was made since the mark dies. */
static struct value *
settle(struct machine *m, int mark, struct value *v, struct value *w)
{
    if (w != v) {
        value_keep(w);
        scope_end(m, mark, 0, NULL);
        value_drop(m, v);
    }
    return w;
}

/* The gradient must have its input's shape and type: reduce what was broadcast, cast what was cast. Of a real input it
 * is the real parts. Source: validate_outputs in torch/csrc/autograd/engine.cpp; handle_r_to_c in FunctionsManual.cpp
 * beside it. */
static struct value *
fit_to(struct machine *m, struct value *v, const struct value *to)
{
    int mark = scope_begin(m), lead = v->rank - to->rank;
    if (dtype_is_complex(v->dtype) && !dtype_is_complex(to->dtype))
        v = settle(m, mark, v, OP(m, "real.default", VAL(v)));
    struct value *w = v;
    bool differs = lead != 0;
    for (int i = 0; i < to->rank && lead >= 0; i++)
        differs |= v->size[i + lead] != to->size[i];
    if (differs && lead >= 0)
        w = OP(m, "sum_to_size", VAL(v), ints_arg(m, to->rank, to->size));
    v = settle(m, mark, v, w);
    if (v->dtype != to->dtype && dtypes[to->dtype].is_float)
        v = settle(m, mark, v, OP(m, "_to_copy.default", VAL(v), DTYPE(to->dtype)));
    return v;
}

static const struct value *
input_of(const struct gnode *g, int arg, int k)
{
    const struct arg *a = &g->args[arg];
    return a->kind == ARG_LIST ? a->list[k].v : a->v;
}

/* What a graph keeps lives on with the value that is adopted, whose graph it is. */
static void
inherit(struct machine *m, const struct value *v)
{
    if (!m->heir || !v)
        return;
    v->st->refs++;
    *PUSH(m->keep, m->heir->tail, m->heir->ntail, m->heir->cap_tail) = v->st;
}

static void
checkpoint_drop(struct machine *m, struct checkpoint *c)
{
    for (int i = 0; i < c->nargs; i++) {
        inherit(m, c->args[i]);
        value_drop(m, c->args[i]);
    }
    c->nargs = 0;
    while (c->next < c->ncached) /* what the second forward did not come to */
        cache_drop(m, c);
}

/* What the node saved dies: in declared order, or, being locals of its function when a hook made them, the last one
 * first. */
static void
drop_saved(struct machine *m, struct gnode *g)
{
    g->released = true;
    for (int i = 0; i < g->nsaved; i++) {
        struct value **at = &g->saved[g->checkpoint ? g->nsaved - 1 - i : i], *v = *at;
        if (v && v->fn == g && v->by_maker > 0)
            v->by_maker--;
        *at = NULL;
        value_drop(m, v);
    }
}

/* And its hooks, the last of which have a region's arguments. */
static void
release(struct machine *m, struct gnode *g)
{
    struct checkpoint *c = g->checkpoint;
    int n = g->nsaved;
    drop_saved(m, g);
    g->nsaved = 0;
    if (c && n && (c->alive -= n) == 0 && m->checkpoint != c) /* while it runs it has its arguments */
        checkpoint_drop(m, c);
}

/* A result has died, or a node that led to g has: with the last of them goes what g saved, and on from there. */
static void
node_forget(struct machine *m, struct gnode *g)
{
    if (--g->holders > 0 || g->pinned || g->grad)
        return;
    *PUSH(m->keep, m->dead, m->ndead, m->cap_dead) = g;
    if (m->sweeping)
        return;
    m->sweeping = true;
    while (m->ndead) {
        g = m->dead[--m->ndead];
        for (int i = 0; i < g->nsaved; i++)
            inherit(m, g->saved[i]);
        release(m, g);
        for (int i = 0; i < g->nin; i++)
            if (g->in[i].fn)
                node_forget(m, g->in[i].fn);
    }
    m->sweeping = false;
}

struct checkpoint *
checkpoint_begin(struct machine *m, const struct region *r, int nargs, const int *slots, struct value **args)
{
    struct checkpoint *c = NEW(m->a, struct checkpoint), *outer = m->checkpoint;
    c->region = r;
    c->parent = outer;
    c->function = r->reentrant && !outer;
    c->mute = outer && (outer->again || outer->mute);
    if (c->mute) {
        struct checkpoint *runs = outer;
        while (runs->mute)
            runs = runs->parent;
        c->next_mute = runs->mutes;
        runs->mutes = c;
    }
    c->nargs = c->mute ? 0 : nargs;
    c->slots = arena_dup(m->a, slots, sizeof(*slots) * (size_t)nargs);
    c->args = NEWN(m->a, struct value *, nargs + 1);
    for (int i = 0; i < nargs; i++)
        if (outer && outer->again)
            holder_fill(outer, args[i]);
        else if (!outer)
            c->args[i] = saved(args[i]);
        else if (!outer->mute) {
            *PUSH(m->a, outer->holders, outer->nholders, outer->cap) = (struct holder){NULL, &c->args[i], NULL};
            outer->alive++;
        }
    m->checkpoint = c;
    m->grad_mode = !c->function;
    if (outer && outer->again && outer->filled == outer->nholders) {
        m->checkpoint = outer;
        longjmp(outer->stop, 1);
    }
    return c;
}

/* The node of a reentrant region, over its arguments and results. Source: CheckpointFunction in
 * torch/utils/checkpoint.py. */
static void
function_make(struct machine *m, struct checkpoint *c)
{
    struct gnode *g = NEW(m->a, struct gnode);
    bool any = false;
    g->function = c;
    g->call = m->call;
    g->seq = m->seq++;
    g->nin = g->nsaved = c->nargs;
    g->in = NEWN(m->a, struct edge, c->nargs + 1);
    g->saved = arena_dup(m->a, c->args, sizeof(*c->args) * (size_t)c->nargs);
    g->nout = c->nmade;
    g->out = c->made;
    g->buf = NEWN(m->a, struct value *, c->nmade + 1);
    for (int i = 0; i < c->nargs; i++) {
        g->in[i] = c->args[i]->requires_grad ? node_edge(m, c->args[i]) : (struct edge){NULL, 0};
        any |= g->in[i].fn != NULL;
    }
    for (int k = 0; k < c->nmade && any; k++)
        if (dtypes[c->made[k]->dtype].is_float && !c->made[k]->fn) {
            c->made[k]->requires_grad = true;
            c->made[k]->fn = g;
            c->made[k]->fn_out = k;
            g->holders++;
        }
    if (!g->holders)
        release(m, g);
}

void
checkpoint_end(struct machine *m, int nmade, struct value **made)
{
    struct checkpoint *c = m->checkpoint;
    if (c->function) {
        c->nmade = nmade;
        c->made = made;
        function_make(m, c);
        m->grad_mode = true;
    } else if (c->alive == 0 && !c->mute)
        checkpoint_drop(m, c);
    m->checkpoint = c->parent;
}

static void
run_again(struct machine *m, struct checkpoint *c)
{
    const char *op = m->op;
    const struct call *call = m->call;
    if (c->parent && !c->parent->done)
        run_again(m, c->parent);
    int mark = scope_begin(m);
    c->done = c->again = true;
    m->checkpoint = c;
    m->grad_mode = true;
    if (setjmp(c->stop) == 0)
        m->rerun(m->rerun_to, c);
    scope_end(m, mark, 0, NULL);
    m->checkpoint = c;           /* it may have stopped inside of another */
    m->rerun(m->rerun_to, NULL); /* its locals die */
    c->again = false;
    for (struct checkpoint *k = c->mutes; k; k = k->next_mute) /* and the graph that nobody runs */
        checkpoint_drop(m, k);
    if (c->parent) { /* the outer one's holders were emptied for it */
        struct checkpoint *outer = c->parent;
        int n = c->nargs;
        checkpoint_drop(m, c);
        if ((outer->alive -= n) == 0)
            checkpoint_drop(m, outer);
    }
    m->checkpoint = NULL;
    m->grad_mode = false;
    m->fresh = CLASS_TEMPORARIES;
    m->op = op;
    m->call = call;
}

/* The gradient of what the view shows is copied, the node sees a clone of it, and what it makes is copied back. Source:
 * CopySlices::apply_impl in torch/csrc/autograd/functions/tensor.cpp. */
static struct value *
begin_slices(struct machine *m, struct gnode *g)
{
    int mark = scope_begin(m);
    struct arg like = g->base ? (struct arg){.kind = ARG_VALUE, .v = (struct value *)g->base} : VAL(g->buf[0]);
    struct value *whole = value_keep(OP(m, "new_empty_strided.default", VAL(g->buf[0]), like));
    const struct value *part = g->part;
    struct value *seen = part ? value_view(m, whole, part->rank, part->size, part->stride) : g->buf[0];
    g->buf[0] = value_keep(OP(m, "clone.default", VAL(seen), BOOL(true)));
    scope_end(m, mark, 0, NULL);
    return whole;
}

static void run_engine(struct machine *m, int n, struct value **roots, struct value **grads);

/* Runs the region again on its arguments, detached, and the graph that this makes; their gradients are out. Source:
 * CheckpointFunction.backward in torch/utils/checkpoint.py. */
static void
run_function(struct machine *m, struct gnode *g, struct value **out)
{
    struct checkpoint *c = g->function;
    const char *op = m->op;
    int mark = scope_begin(m);
    struct value **grad = NEWN(m->a, struct value *, c->nargs + 1);
    for (int k = 0; k < g->nout; k++)
        if (!g->buf[k] && dtypes[g->out[k]->dtype].is_float)
            g->buf[k] = value_keep(OP(m, "zeros_like.default", VAL(g->out[k])));
    for (int i = 0; i < c->nargs; i++) {
        struct value *v = g->saved[i];
        c->args[i] = value_make(m, v->st, v->dtype, v->rank, v->size, v->stride);
        if (g->in[i].fn)
            value_requires_grad(m, c->args[i], &grad[i]);
    }
    m->grad_mode = true;
    m->rerun(m->rerun_to, c);
    m->checkpoint = c;
    m->rerun(m->rerun_to, NULL);
    m->checkpoint = NULL;
    m->grad_mode = false;
    m->fresh = CLASS_TEMPORARIES;
    run_engine(m, c->nmade, c->made, g->buf);
    m->op = op;
    for (int i = 0; i < c->nargs; i++) {
        out[i] = grad[i];
        if (out[i])
            out[i]->st->class = CLASS_TEMPORARIES;
    }
    for (int k = 0; k < c->nmade; k++)
        value_drop(m, c->made[k]);
    scope_end(m, mark, 0, NULL);
}

/* A node's gradients go to the nodes that wait for them. */
static void
deliver(struct engine *e, const struct gnode *g, struct value **out)
{
    struct machine *m = e->m;
    int added = 0;
    for (int i = 0; i < g->nin; i++) {
        struct gnode *to = g->in[i].fn;
        if (!to) {
            value_drop(m, out[i]);
            continue;
        }
        if (out[i]) {
            struct value **slot = &to->buf[g->in[i].out];
            bool first = !*slot;
            buffer_add(m, slot, out[i], to->op && to->op->subclass);
            if (first)
                value_drop(m, out[i]);
            else /* only the first is moved into the buffer: evaluate_function holds the others to its end */
                out[added++] = out[i];
        }
        if (--to->deps == 0)
            heap_push(e, to);
    }
    for (int i = 0; i < added; i++)
        value_drop(m, out[i]);
}

static void
run_node(struct engine *e, struct gnode *g)
{
    struct machine *m = e->m;
    struct value **out = NEWN(m->a, struct value *, g->nin);
    bool any = false;
    for (int i = 0; i < g->nout; i++)
        any |= g->buf[i] != NULL;
    if (any && g->checkpoint && !g->checkpoint->done)
        run_again(m, g->checkpoint);
    struct value *whole = NULL, *given = g->buf[0];
    if (any && g->slices && given) {
        whole = begin_slices(m, g);
        m->call = g->call;
    }
    if (any && g->function)
        run_function(m, g, out);
    else if (any) {
        const struct derivative *r = rule_of(m, g->op);
        m->call = g->call;
        for (int i = 0; i < r->nformulas; i++) {
            const struct formula *fm = &r->formula[i];
            unsigned want = 0;
            for (int k = 0; k < fm->ntargets; k++)
                want |= (unsigned)(fm->target[k] < g->nargs && wants(g, fm->target[k])) << k;
            if (!want)
                continue;
            int mark = scope_begin(m);
            struct frame *f = NULL;
            struct arg single = eval(m, g, fm->e, want, &f);
            for (int k = 0; k < fm->ntargets; k++) {
                int arg = fm->target[k];
                if (!(want >> k & 1))
                    continue;
                bool list = g->args[arg].kind == ARG_LIST;
                int n = list ? g->args[arg].n : 1;
                for (int j = 0; j < n; j++) {
                    int at = list ? j : k;
                    struct value *v = !f ? single.v : at < f->nout ? f->out[at] : NULL;
                    if (v && g->in[g->first[arg] + j].fn)
                        out[g->first[arg] + j] = value_keep(v);
                }
            }
            if (f)
                frame_drop(m, f);
            scope_end(m, mark, 0, NULL);
        }
        if (g->checkpoint)
            drop_saved(m, g);
        for (int arg = 0; arg < g->nargs; arg++) {
            int end = arg + 1 < g->nargs ? g->first[arg + 1] : g->nin;
            for (int k = g->first[arg]; k < end; k++)
                if (out[k])
                    out[k] = fit_to(m, out[k], input_of(g, arg, k - g->first[arg]));
        }
    }
    m->op = g->op ? g->op->name : m->op; /* what dies now dies of this node */
    if (whole) {
        value_drop(m, g->buf[0]);
        g->buf[0] = given;
    }
    for (int i = 0; i < g->nout; i++)
        value_let_go(m, &g->buf[i]);
    if (whole) {
        value_drop(m, out[g->first[0]]);
        out[g->first[0]] = whole;
    }
    release(m, g);
    deliver(e, g, out);
}

/* What a unit reads has its gradients: the unit is behind. Source: RegisterPostBackwardFunction in
 * torch/distributed/fsdp/_fully_shard/_fsdp_param_group.py. */
static void
run_gate(struct engine *e, struct gnode *g)
{
    struct value **out = NEWN(e->m->a, struct value *, g->nin);
    e->m->collectives->behind(e->m, g->gate - 1);
    for (int i = 0; i < g->nin; i++) {
        out[i] = g->buf[i];
        g->buf[i] = NULL;
    }
    deliver(e, g, out);
}

/* From roots, NULL none, whose gradients are grads. */
static void
run_engine(struct machine *m, int n, struct value **roots, struct value **grads)
{
    struct engine e = {.m = m};
    struct gnode start = {.nin = n, .in = NEWN(m->a, struct edge, n + 1)};
    for (int i = 0; i < n; i++)
        if (roots[i]->requires_grad && roots[i]->fn)
            start.in[i] = (struct edge){roots[i]->fn, roots[i]->fn_out};
    count_dependencies(&e, &start);
    for (int i = 0; i < n; i++) {
        struct gnode *to = start.in[i].fn;
        if (to && grads[i])
            buffer_add(m, &to->buf[start.in[i].out], grads[i], false);
        if (to && --to->deps == 0)
            heap_push(&e, to);
    }
    while (e.n) {
        struct gnode *g = heap_pop(&e);
        if (g->opens)
            m->collectives->before(m, g->opens - 1);
        if (g->grad)
            accumulate_grad(m, g);
        else if (g->gate)
            run_gate(&e, g);
        else
            run_node(&e, g);
    }
    for (int i = 0; i < e.naside; i++) {
        e.aside[i].to->deps = e.aside[i].deps;
        e.aside[i].to->buf[0] = e.aside[i].awaits;
    }
}

void
backward_from(struct machine *m, int n, struct value **roots, struct value **grads)
{
    bool autocast = m->autocast;
    int mark = scope_begin(m);
    struct value *ones;
    m->autocast = false;
    m->grad_mode = false;
    m->fresh = CLASS_TEMPORARIES;
    m->call = NULL;
    if (!grads) {
        ones = OP(m, "ones_like.default", VAL(*roots));
        grads = &ones;
    }
    run_engine(m, n, roots, grads);
    if (m->collectives && m->collectives->finish)
        m->collectives->finish(m);
    m->call = NULL;
    scope_end(m, mark, 0, NULL); /* a gradient of ones lives until backward returns */
    m->grad_mode = true;
    m->autocast = autocast;
}

void
backward(struct machine *m, struct value *root)
{
    if (root->fn)
        backward_from(m, 1, &root, NULL);
}
