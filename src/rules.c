/* rules.c - advice: each rule is an edit of the training step, and what it saves is measured by running the edited step.
 *
 * A rule says when it applies and makes the edit: another set-up, another program, or both. The driver runs the step again, drops edits
 * that lower nothing (but for those that people believe in), ranks the rest and measures the best ones together.
 * docs/RULES.md explains every rule to the one who has to change the model.
 */
#include "memlint.h"

#include <stdlib.h>
#include <string.h>

enum {
    MICRO_BATCHES = 4,
    CHUNKS = 8,
    MANY_ENTRIES = 1000,
    SHORTEST = 32 /* length worth cutting */,
    WORTH = 200 /* a saving of 1/200 of the peak */,
    MOST_VALUES = 50000,
    MOST_DIMS = 8
};

struct edit {
    struct setup setup;
    struct program *program; /* to be written to by a rule */
    bool reload;             /* other dimensions: the program is made again */
    const char *location;    /* of the first place that changes */
};

struct advice {
    const struct study *s;
    struct result *r;
    struct arena *a;
    struct measured base;
    int *uses;                      /* per slot of the program: calls that read it */
    const char *wrapped, *wrapping; /* checkpoint: the modules, and the Python that wraps them */
};

struct rule {
    const char *id, *severity, *certainty, *help;
    bool (*applies)(struct advice *x);
    void (*edit)(struct advice *x, struct edit *e);
    const char *(*message)(struct advice *x, const struct measured *after);
    const char *(*how)(struct advice *x);
    bool believed; /* reported when it saves nothing, too */
    bool combines; /* with the others into "all" */
};

/* ---- measuring ---------------------------------------------------------------------------------------------------------- */

/* Regions count calls: those of an edited program must still be what they were. */
static bool
regions_hold(const struct advice *x, const struct program *p)
{
    const struct call *was = x->s->p->calls;
    bool hold = true;
    for (int i = 0; i < p->nregions && hold; i++) {
        int first = p->regions[i].first, last = p->regions[i].end - 1;
        hold = last < p->ncalls && p->calls[first].outs == was[first].outs && p->calls[last].outs == was[last].outs;
    }
    return hold;
}

static struct measured
measure(struct advice *x, struct edit *e)
{
    struct arena *a = arena_new();
    struct program *p = e->reload ? x->s->reload(x->s, a, &e->setup) : e->program;
    struct measured m = {.allocated = -1};
    if (p && (e->reload || regions_hold(x, p)))
        m = measure_step(p, &e->setup, NULL, NULL);
    arena_free(a);
    return m;
}

/* ---- editing programs ------------------------------------------------------------------------------------------------------ */

static struct arg *
args_copy(struct arena *a, const struct arg *from, int n)
{
    struct arg *to = NEWN(a, struct arg, n + 1);
    for (int i = 0; i < n; i++) {
        to[i] = from[i];
        if (from[i].kind == ARG_LIST)
            to[i].list = args_copy(a, from[i].list, from[i].n);
    }
    return to;
}

/* A program whose calls and parameters may be written to. */
static struct program *
program_copy(struct arena *a, const struct program *p)
{
    struct program *q = arena_dup(a, p, sizeof(*p));
    q->calls = NEWN(a, struct call, p->ncalls + 8);
    q->cap_calls = p->ncalls + 8;
    for (int i = 0; i < p->ncalls; i++) {
        q->calls[i] = p->calls[i];
        q->calls[i].args = args_copy(a, p->calls[i].args, p->calls[i].nargs);
    }
    q->params = NEWN(a, struct param, p->nparams + 1);
    for (int i = 0; i < p->nparams; i++)
        q->params[i] = p->params[i];
    return q;
}

/* Calls fn for every slot that a call reads. */
static void
each_read(struct call *c, void (*fn)(struct arg *, void *), void *to)
{
    for (int i = 0; i < c->nargs; i++)
        for (int k = 0; k < (c->args[i].kind == ARG_LIST ? c->args[i].n : 1); k++) {
            struct arg *a = c->args[i].kind == ARG_LIST ? &c->args[i].list[k] : &c->args[i];
            if (a->kind == ARG_SLOT && a->i >= 0)
                fn(a, to);
        }
}

static void
count_read(struct arg *a, void *to)
{
    ((int *)to)[a->i]++;
}

static int *
count_uses(struct arena *a, const struct program *p)
{
    int *uses = NEWN(a, int, p->nslots + 1);
    for (int i = 0; i < p->ncalls; i++)
        each_read(&p->calls[i], count_read, uses);
    for (int i = 0; i < p->noutputs; i++)
        uses[p->outputs[i]]++;
    return uses;
}

/* Removes calls whose results nobody reads any more. */
static void
remove_unread(struct advice *x, struct program *p)
{
    bool again = true;
    while (again) {
        int *uses = count_uses(x->a, p), kept = 0;
        for (int i = 0; i < p->ncalls; i++) {
            bool read = p->calls[i].in_place;
            for (int k = 0; k < p->calls[i].nouts; k++)
                read |= uses[p->calls[i].outs[k]] > 0;
            if (read)
                p->calls[kept++] = p->calls[i];
        }
        again = kept < p->ncalls;
        p->ncalls = kept;
    }
}

static bool
is_op(const struct call *c, const char *name)
{
    return c && c->op && strcmp(c->op->name, name) == 0;
}

/* The call that makes what argument i of c is. */
static int
maker(const struct program *p, const struct call *c, int i)
{
    if (i >= c->nargs || c->args[i].kind != ARG_SLOT)
        return -1;
    for (int k = (int)(c - p->calls) - 1; k >= 0; k--)
        for (int o = 0; o < p->calls[k].nouts; o++)
            if (p->calls[k].outs[o] == c->args[i].i)
                return k;
    return -1;
}

static const char *
percent_of(struct advice *x, int64_t bytes)
{
    return arena_printf(x->a, "%.0f %%", 100.0 * (double)bytes / (double)(x->base.allocated ? x->base.allocated : 1));
}

static bool
training(const struct advice *x)
{
    return x->s->s->mode == MODE_TRAINING;
}

static int64_t
elements(const struct param *q)
{
    int64_t n = 1;
    for (int i = 0; i < q->rank; i++)
        n *= q->size[i];
    return n;
}

static bool
owns(const struct param *q)
{
    return q->kind <= PARAM_FROZEN && q->rank >= 0 && q->tied_to < 0;
}

/* An embedding reads it. */
static bool
is_table(const struct program *p, const struct param *q)
{
    for (int i = 0; i < p->ncalls; i++)
        if (is_op(&p->calls[i], "embedding.default") && p->calls[i].args[0].kind == ARG_SLOT &&
            p->calls[i].args[0].i == q->slot)
            return true;
    return false;
}

/* ---- precision and optimizer -------------------------------------------------------------------------------------------------- */

static bool
is_fp32(struct advice *x)
{
    return training(x) && x->s->s->precision == precision_find("fp32");
}

static void
to_autocast(struct advice *x, struct edit *e)
{
    (void)x;
    e->setup.precision = precision_find("amp-bf16");
}

static const char *
say_autocast(struct advice *x, const struct measured *m)
{
    int64_t weights = 0;
    for (int i = 0; i < x->s->p->nparams; i++)
        if (owns(&x->s->p->params[i]) && x->s->p->params[i].rank > 1 && !is_table(x->s->p, &x->s->p->params[i]))
            weights += 2 * elements(&x->s->p->params[i]);
    return arena_printf(x->a,
                        "Under torch.autocast with bfloat16 the peak is %s; its half-precision copies of the weights "
                        "take up to %s of that during the forward pass",
                        bytes_text(x->a, m->allocated), bytes_text(x->a, weights));
}

static bool
is_adam(struct advice *x)
{
    const struct optimizer *o = x->s->s->optimizer;
    return training(x) && (o == optimizer_find("adam") || o == optimizer_find("adamw"));
}

static void
to_8bit(struct advice *x, struct edit *e)
{
    (void)x;
    e->setup.optimizer = optimizer_find("adam8bit");
}

static const char *
say_8bit(struct advice *x, const struct measured *m)
{
    static const char *const others[] = {"sgd", "momentum", "adamw", "adafactor"};
    const char *s = arena_printf(
        x->a, "With Adam's states in 8 bits the peak is %s; side by side:", bytes_text(x->a, m->allocated));
    for (int i = 0; i < COUNT(others); i++) {
        struct edit e = {.setup = *x->s->s, .program = x->s->p};
        e.setup.optimizer = optimizer_find(others[i]);
        s = arena_printf(x->a, "%s %s %s%s", s, others[i], bytes_text(x->a, measure(x, &e).allocated),
                         i + 1 < COUNT(others) ? "," : "");
    }
    return s;
}

static bool
update_peaks(struct advice *x)
{
    return training(x) && x->base.phase == PHASE_UPDATE && optimizer_fused(x->a, x->s->s->optimizer);
}

static void
to_fused(struct advice *x, struct edit *e)
{
    const struct optimizer *fused = optimizer_fused(x->a, e->setup.optimizer);
    e->setup.optimizer = fused ? fused : e->setup.optimizer;
}

static const char *
say_fused(struct advice *x, const struct measured *m)
{
    return arena_printf(x->a,
                        "The optimizer's update is the peak: foreach makes a list as large as all parameters; a fused "
                        "update makes none and peaks at %s",
                        bytes_text(x->a, m->allocated));
}

/* ---- the loop ------------------------------------------------------------------------------------------------------------------- */

static bool
is_plain(struct advice *x)
{
    return training(x) && x->s->s->loop == loop_find("plain");
}

static void
to_del(struct advice *x, struct edit *e)
{
    (void)x;
    e->setup.loop = loop_find("del");
}

static const char *
say_del(struct advice *x, const struct measured *m)
{
    return arena_printf(x->a,
                        "`out` and `loss` of the last step stay alive through the next forward pass; with `del` after "
                        "their last use the peak is %s",
                        bytes_text(x->a, m->allocated));
}

static bool
keeps_gradients(struct advice *x)
{
    const struct loop *l = x->s->s->loop;
    return training(x) && (l == loop_find("late-zero") || l == loop_find("zero-in-place"));
}

static void
to_plain(struct advice *x, struct edit *e)
{
    (void)x;
    e->setup.loop = loop_find("plain");
}

static const char *
say_plain(struct advice *x, const struct measured *m)
{
    return arena_printf(
        x->a, "Gradients stay alive through the forward pass; zero_grad(set_to_none=True) before it peaks at %s",
        bytes_text(x->a, m->allocated));
}

static struct binding *
batch_of(const struct setup *s)
{
    for (int i = 0; i < s->ndims; i++)
        if (strcmp(s->dims[i].name, "batch") == 0)
            return &s->dims[i];
    return NULL;
}

static bool
divides(struct advice *x)
{
    const struct binding *b = batch_of(x->s->s);
    return is_plain(x) && x->s->s->micro_batches == 1 && b && b->n % MICRO_BATCHES == 0;
}

static void
accumulate(struct advice *x, struct edit *e, int n)
{
    e->setup.dims = arena_dup(x->a, e->setup.dims, sizeof(*e->setup.dims) * (size_t)e->setup.ndims);
    batch_of(&e->setup)->n /= n;
    e->setup.loop = loop_find("accumulate-N");
    e->setup.micro_batches = n;
    e->reload = true;
}

static void
to_micro_batches(struct advice *x, struct edit *e)
{
    accumulate(x, e, MICRO_BATCHES);
}

static const char *
say_micro_batches(struct advice *x, const struct measured *m)
{
    int64_t n = batch_of(x->s->s)->n;
    const char *s = arena_printf(x->a, "The batch of %lld as %d passes of %lld peaks at %s", (long long)n,
                                 MICRO_BATCHES, (long long)n / MICRO_BATCHES, bytes_text(x->a, m->allocated));
    for (int k = 2; k <= 8; k *= 4)
        if (n % k == 0) {
            struct edit e = {.setup = *x->s->s};
            accumulate(x, &e, k);
            s = arena_printf(x->a, "%s, as %d of %lld at %s", s, k, (long long)n / k,
                             bytes_text(x->a, measure(x, &e).allocated));
        }
    return s;
}

static bool
has_locals(struct advice *x)
{
    return training(x) && x->s->p->ncalls > 0;
}

static void
to_released(struct advice *x, struct edit *e)
{
    e->program->release = true;
    int *held = python_holds(x->s->p);
    int64_t most = 0;
    for (int i = 0; i < x->s->p->ncalls; i++) {
        const struct call *c = &x->s->p->calls[i];
        int64_t n = c->rank >= 0;
        for (int d = 0; d < c->rank; d++)
            n *= c->size[d];
        if (held[c->outs[0]] > i + 1 && n > most) {
            most = n;
            e->location = c->location;
        }
    }
}

static const char *
say_released(struct advice *x, const struct measured *m)
{
    return arena_printf(x->a,
                        "Local variables of forward methods hold tensors that nothing reads any more; with `del` after "
                        "each one's last use the peak is %s",
                        bytes_text(x->a, m->allocated));
}

/* ---- recomputation ------------------------------------------------------------------------------------------------------------------- */

static bool
can_recompute(struct advice *x)
{
    return training(x) && !x->s->p->nregions;
}

static void
to_checkpoints(struct advice *x, struct edit *e)
{
    recompute_level(x->s, x->r, e->program, &x->wrapped, &x->wrapping);
}

static const char *
say_checkpoints(struct advice *x, const struct measured *m)
{
    return arena_printf(
        x->a,
        "torch.utils.checkpoint around %s recomputes their forward passes and peaks at %s; --recompute auto "
        "has the plans between",
        x->wrapped, bytes_text(x->a, m->allocated));
}

static const char *
how_checkpoints(struct advice *x)
{
    return x->wrapping;
}

/* ---- attention by hand ------------------------------------------------------------------------------------------------------------ */

/* softmax(q k^T [scaled] [+ mask]) [dropout] v of rank 4: the calls' positions; false when c is not that softmax. */
struct attention_by_hand {
    int scores, softmax, product; /* calls */
    struct arg mask;
    bool causal, dropout;
};

static bool
find_attention(const struct program *p, int at, struct attention_by_hand *f)
{
    const struct call *c = &p->calls[at];
    *f = (struct attention_by_hand){.softmax = at, .scores = -1, .product = -1};
    if (!is_op(c, "softmax.int") || c->rank != 4)
        return false;
    static const char *const between[] = {"add.Tensor", "masked_fill.Scalar", "where.self", "div.Tensor",
                                          "mul.Tensor", "to.dtype",           "to_like",    "lost_clone.default"};
    for (int k = maker(p, c, 0), steps = 0; k >= 0 && steps < 8; steps++) {
        const struct call *d = &p->calls[k];
        bool known = false, selects = is_op(d, "masked_fill.Scalar") || is_op(d, "where.self");
        if (is_op(d, "matmul.default")) {
            f->scores = k;
            break;
        }
        for (int i = 0; i < COUNT(between); i++)
            known |= is_op(d, between[i]);
        if (!known)
            break;
        if (is_op(d, "add.Tensor") && d->nargs > 1 && d->args[1].kind == ARG_SLOT)
            f->mask = d->args[1];
        f->causal |= selects;
        k = maker(p, d, is_op(d, "where.self")); /* where(mask, scores, low) */
    }
    for (int k = at + 1, from = at; k < p->ncalls && k < at + 6 && f->scores >= 0; k++) {
        const struct call *d = &p->calls[k];
        if (maker(p, d, 0) != from)
            continue;
        if (is_op(d, "matmul.default")) {
            f->product = k;
            break;
        }
        f->dropout |= is_op(d, "dropout.default");
        from = k;
    }
    return f->scores >= 0 && f->product >= 0;
}

static bool
has_attention(struct advice *x)
{
    struct attention_by_hand f;
    for (int i = 0; i < x->s->p->ncalls; i++)
        if (find_attention(x->s->p, i, &f))
            return true;
    return false;
}

static void
to_fused_attention(struct advice *x, struct edit *e)
{
    struct program *p = e->program;
    for (int i = 0; i < p->ncalls; i++) {
        struct attention_by_hand f;
        if (!find_attention(p, i, &f))
            continue;
        struct call *scores = &p->calls[f.scores], *product = &p->calls[f.product];
        struct call *turned = &p->calls[f.softmax]; /* becomes k: the transpose of k^T */
        e->location = e->location ? e->location : turned->location;
        struct call t = *turned, a = *product;
        t.op = aten_find("transpose.int");
        t.nargs = 3;
        t.rank = -1;
        t.args = NEWN(x->a, struct arg, 3);
        t.args[0] = scores->args[1];
        t.args[1] = INT(-2);
        t.args[2] = INT(-1);
        a.op = aten_find("scaled_dot_product_attention.default");
        a.nargs = 6;
        a.args = NEWN(x->a, struct arg, 6);
        a.args[0] = scores->args[0];
        a.args[1] = (struct arg){.kind = ARG_SLOT, .i = t.outs[0]};
        a.args[2] = product->args[1];
        a.args[3] = f.mask;
        a.args[4] = FLT(f.dropout ? 0.1 : 0);
        a.args[5] = BOOL(f.causal && f.mask.kind == ARG_NONE);
        *turned = t;
        *product = a;
    }
    remove_unread(x, p);
}

static const char *
say_fused_attention(struct advice *x, const struct measured *m)
{
    return arena_printf(x->a,
                        "Attention written by hand keeps matrices of length x length for the backward pass; with "
                        "F.scaled_dot_product_attention the peak is %s",
                        bytes_text(x->a, m->allocated));
}

/* ---- logits and loss ---------------------------------------------------------------------------------------------------------------- */

/* The last call, when it is a projection onto many classes. */
static const struct call *
head_of(const struct program *p)
{
    for (int i = p->ncalls - 1; i >= 0 && p->noutputs; i--)
        if (p->calls[i].outs[0] == p->outputs[0])
            return is_op(&p->calls[i], "linear.default") && p->calls[i].rank >= 2 && p->calls[i].rank <= 3 &&
                           p->calls[i].size[p->calls[i].rank - 1] >= MANY_ENTRIES &&
                           p->calls[i].size[p->calls[i].rank - 2] >= CHUNKS
                       ? &p->calls[i]
                       : NULL;
    return NULL;
}

static bool
has_logits(struct advice *x)
{
    return training(x) && head_of(x->s->p) && x->s->p->noutputs == 1;
}

/* One chunk's logits at a time: a slice of the rows goes through head and loss. */
static void
to_chunks(struct advice *x, struct edit *e)
{
    struct program *p = e->program;
    struct call *head = &p->calls[head_of(p) - p->calls], slice = *head;
    int axis = head->rank - 2;
    int64_t *size = arena_dup(x->a, head->size, sizeof(*size) * (size_t)head->rank);
    e->location = head->location;
    size[axis] = (size[axis] + CHUNKS - 1) / CHUNKS;
    slice.op = aten_find("slice.Tensor");
    slice.nargs = 5;
    slice.args = NEWN(x->a, struct arg, 5);
    slice.args[0] = head->args[0];
    slice.args[1] = INT(axis);
    slice.args[2] = INT(0);
    slice.args[3] = INT(size[axis]);
    slice.args[4] = INT(1);
    slice.outs = NEWN(x->a, int, 1);
    slice.outs[0] = p->nslots++;
    slice.rank = -1;
    struct call chunk = *head;
    chunk.args[0] = (struct arg){.kind = ARG_SLOT, .i = slice.outs[0]};
    chunk.size = size;
    int at = (int)(head - p->calls);
    memmove(&p->calls[at + 1], &p->calls[at], sizeof(*p->calls) * (size_t)(p->ncalls - at));
    p->calls[at] = slice;
    p->calls[at + 1] = chunk;
    p->ncalls++;
}

static const char *
say_chunks(struct advice *x, const struct measured *m)
{
    const struct call *head = head_of(x->s->p);
    int64_t n = 1, each = 0;
    int copies = 0;
    for (int i = 0; i < head->rank; i++)
        n *= head->size[i];
    for (int i = 0; i < x->r->nlive; i++) {
        const struct live_tensor *t = &x->r->live[i];
        int64_t k = 1;
        for (int d = 0; d < t->rank; d++)
            k *= t->shape[d];
        if (k == n) {
            copies++;
            each = t->bytes > each ? t->bytes : each;
        }
    }
    return arena_printf(
        x->a,
        "%d tensors of the logits' size, %s each, are alive at the peak; head and loss in %d chunks, each "
        "recomputed in its backward pass, peak at %s",
        copies, bytes_text(x->a, each), CHUNKS, bytes_text(x->a, m->allocated));
}

/* ---- vocabulary ------------------------------------------------------------------------------------------------------------------------ */

/* Entries of the largest table: the first dimension of most parameter elements among those with many. */
static int64_t
entries_of(const struct program *p)
{
    int64_t best = 0, most = 0;
    for (int i = 0; i < p->nparams; i++)
        if (owns(&p->params[i]) && p->params[i].rank == 2 && p->params[i].size[0] >= MANY_ENTRIES &&
            is_table(p, &p->params[i])) {
            int64_t n = 0;
            for (int k = 0; k < p->nparams; k++)
                if (owns(&p->params[k]) && p->params[k].rank > 0 && p->params[k].size[0] == p->params[i].size[0])
                    n += elements(&p->params[k]);
            if (n > most) {
                most = n;
                best = p->params[i].size[0];
            }
        }
    return best;
}

static bool
has_vocabulary(struct advice *x)
{
    return training(x) && entries_of(x->s->p) > 0;
}

static void
resize(struct arena *a, int rank, const int64_t **size, int64_t from, int64_t to)
{
    int64_t *s = rank > 0 ? arena_dup(a, *size, sizeof(*s) * (size_t)rank) : NULL;
    for (int i = 0; i < rank; i++)
        s[i] = s[i] == from ? to : s[i];
    *size = s ? s : *size;
}

static void
to_half_vocabulary(struct advice *x, struct edit *e)
{
    struct program *p = e->program;
    int64_t n = entries_of(p);
    for (int i = 0; i < p->nparams; i++)
        resize(x->a, p->params[i].rank, &p->params[i].size, n, n / 2);
    for (int i = 0; i < p->ncalls; i++)
        resize(x->a, p->calls[i].rank, &p->calls[i].size, n, n / 2);
}

static const char *
say_half_vocabulary(struct advice *x, const struct measured *m)
{
    const struct program *p = x->s->p;
    int64_t n = entries_of(p), width = 0;
    const char *parts = "";
    for (int i = 0; i < p->nparams; i++) {
        const struct param *q = &p->params[i];
        if (!owns(q) || q->rank < 1 || q->size[0] != n)
            continue;
        bool tied = false;
        for (int k = 0; k < p->nparams; k++)
            tied |= p->params[k].tied_to == i;
        width += elements(q) / n;
        parts = arena_printf(x->a, "%s%s%lld in %s%s", parts, *parts ? ", " : "", (long long)(elements(q) / n), q->name,
                             tied && q->rank == 2 && !is_table(p, q) ? " (tied, and read by nothing but the head)"
                             : tied && q->rank == 2                  ? " (tied to the head)"
                                                                     : "");
    }
    return arena_printf(x->a,
                        "%lld entries take %lld parameters each (%s) and %s of the peak; with half of them it is %s",
                        (long long)n, (long long)width, parts, bytes_text(x->a, 2 * (x->base.allocated - m->allocated)),
                        bytes_text(x->a, m->allocated));
}

/* A head as large as a table and not tied to it. */
static bool
find_untied(const struct program *p, int *table, int *head)
{
    const struct call *c = head_of(p);
    *table = *head = -1;
    for (int i = 0; i < p->nparams && c; i++)
        if (owns(&p->params[i]) && p->params[i].slot == (int)c->args[1].i)
            *head = i;
    for (int i = 0; i < p->nparams && *head >= 0; i++) {
        const struct param *q = &p->params[i], *h = &p->params[*head];
        if (i != *head && owns(q) && is_table(p, q) && q->rank == 2 && h->rank == 2 && q->size[0] == h->size[0] &&
            q->size[1] == h->size[1])
            *table = i;
    }
    return *table >= 0;
}

static bool
has_untied(struct advice *x)
{
    int table, head;
    return training(x) && find_untied(x->s->p, &table, &head);
}

struct replace {
    int from, to;
};

static void
replace_read(struct arg *a, void *to)
{
    const struct replace *r = to;
    if (a->i == r->from)
        a->i = r->to;
}

static void
to_tied(struct advice *x, struct edit *e)
{
    struct program *p = e->program;
    int table, head;
    (void)x;
    if (!find_untied(p, &table, &head))
        return;
    e->location = head_of(p)->location;
    struct replace r = {p->params[head].slot, p->params[table].slot};
    for (int i = 0; i < p->ncalls; i++)
        each_read(&p->calls[i], replace_read, &r);
    p->params[head].tied_to = table;
    p->params[head].slot = p->params[table].slot;
}

static const char *
say_tied(struct advice *x, const struct measured *m)
{
    int table, head;
    find_untied(x->s->p, &table, &head);
    return arena_printf(x->a, "%s and %s have the same shape and are not tied; one tensor for both peaks at %s",
                        x->s->p->params[table].name, x->s->p->params[head].name, bytes_text(x->a, m->allocated));
}

/* ---- in place --------------------------------------------------------------------------------------------------------------------------- */

/* Activations whose derivative reads their result, not their input. */
static const char *const overwriting[] = {"relu.default", "hardtanh.default", "leaky_relu.default", "elu.default"};

static bool
may_write(const struct advice *x, const struct program *p, int at)
{
    const struct call *c = &p->calls[at];
    bool can = false;
    for (int i = 0; i < COUNT(overwriting); i++)
        can |= is_op(c, overwriting[i]);
    int from = can && !c->in_place ? maker(p, c, 0) : -1;
    if (from < 0 || x->uses[c->args[0].i] != 1 || p->calls[from].nouts != 1)
        return false;
    const char *grad = p->calls[from].op ? p->calls[from].op->grad : NULL;
    return grad && !strstr(grad, "result,") && !strstr(grad, "result)"); /* its maker saved no result */
}

static bool
has_writable(struct advice *x)
{
    for (int i = 0; i < x->s->p->ncalls && training(x); i++)
        if (may_write(x, x->s->p, i))
            return true;
    return false;
}

static void
to_in_place(struct advice *x, struct edit *e)
{
    for (int i = 0; i < e->program->ncalls; i++)
        if (may_write(x, e->program, i)) {
            e->program->calls[i].in_place = true;
            e->location = e->location ? e->location : e->program->calls[i].location;
        }
}

static const char *
say_in_place(struct advice *x, const struct measured *m)
{
    int n = 0;
    for (int i = 0; i < x->s->p->ncalls; i++)
        n += may_write(x, x->s->p, i);
    if (m->allocated >= x->base.allocated)
        return arena_printf(x->a, "%d activations could run in place; the peak would stay the same", n);
    return arena_printf(x->a, "%d activations could run in place: %s", n, bytes_text(x->a, m->allocated));
}

/* ---- structure ---------------------------------------------------------------------------------------------------------------------------- */

static bool
is_norm(const struct call *c)
{
    return is_op(c, "batch_norm.default") || is_op(c, "cudnn_batch_norm.default") ||
           is_op(c, "native_batch_norm.default");
}

/* The parameter that a convolution before a batch norm adds and the norm subtracts again; -1 none. */
static int
idle_bias(const struct advice *x, const struct program *p, int at)
{
    int from = is_norm(&p->calls[at]) ? maker(p, &p->calls[at], 0) : -1;
    const struct call *c = from < 0 ? NULL : &p->calls[from];
    if (!c || !c->op || strncmp(c->op->name, "conv", 4) != 0 || c->nargs < 3 || c->args[2].kind != ARG_SLOT ||
        x->uses[c->outs[0]] != 1)
        return -1;
    for (int i = 0; i < p->nparams; i++)
        if (p->params[i].slot == (int)c->args[2].i && owns(&p->params[i]) && x->uses[p->params[i].slot] == 1)
            return i;
    return -1;
}

static bool
has_idle_bias(struct advice *x)
{
    for (int i = 0; i < x->s->p->ncalls && training(x); i++)
        if (idle_bias(x, x->s->p, i) >= 0)
            return true;
    return false;
}

static void
to_no_bias(struct advice *x, struct edit *e)
{
    struct program *p = e->program;
    for (int i = 0; i < p->ncalls; i++) {
        int bias = idle_bias(x, p, i);
        if (bias < 0)
            continue;
        struct call *c = &p->calls[maker(p, &p->calls[i], 0)];
        e->location = e->location ? e->location : c->location;
        c->args[2] = NONE;
        p->params[bias].rank = -1;
    }
}

static const char *
say_no_bias(struct advice *x, const struct measured *m)
{
    int n = 0;
    for (int i = 0; i < x->s->p->ncalls; i++)
        n += idle_bias(x, x->s->p, i) >= 0;
    return arena_printf(x->a, "%d convolutions add a bias that the batch norm after them subtracts again; without: %s",
                        n, bytes_text(x->a, m->allocated));
}

static bool
always(struct advice *x)
{
    return training(x);
}

static void
to_expandable(struct advice *x, struct edit *e)
{
    (void)x;
    e->setup.expandable = true;
}

static bool
is_fragmented(struct advice *x)
{
    return training(x) && !x->s->s->expandable && x->base.reserved > x->base.allocated + x->base.allocated / 8;
}

static const char *
say_expandable(struct advice *x, const struct measured *m)
{
    return arena_printf(
        x->a,
        "The allocator holds %s for a peak of %s; with expandable segments it holds %s (the peak of live "
        "tensors stays)",
        bytes_text(x->a, x->base.reserved), bytes_text(x->a, x->base.allocated), bytes_text(x->a, m->reserved));
}

/* ---- evaluation and several devices ------------------------------------------------------------------------------------------------ */

static void
to_inference(struct advice *x, struct edit *e)
{
    (void)x;
    e->setup.mode = MODE_INFERENCE;
    e->reload = true;
}

static const char *
say_inference(struct advice *x, const struct measured *m)
{
    int64_t graph = x->s->st->after.forward - x->s->st->after.inputs;
    return arena_printf(
        x->a,
        "Evaluation of this batch under torch.no_grad() peaks at %s. Without it each batch builds the graph "
        "for a backward pass that never runs, %s; `total += loss` instead of `total += loss.item()` keeps "
        "every batch's",
        bytes_text(x->a, m->allocated), bytes_text(x->a, graph > 0 ? graph : 0));
}

static const char *
say_sharded(struct advice *x, const struct measured *m)
{
    static const int gpus[] = {2, 8, 64};
    const int64_t *c = x->r->class_bytes;
    const char *s = "Sharded over GPUs at the same batch each, from the classes at the peak (temporaries of the "
                    "communication not counted):";
    (void)m;
    for (int i = 0; i < COUNT(gpus); i++) {
        int64_t rest = x->base.allocated - c[CLASS_OPTIMIZER], n = gpus[i];
        int64_t one = rest + c[CLASS_OPTIMIZER] / n, two = one - c[CLASS_GRADIENTS] + c[CLASS_GRADIENTS] / n;
        s = arena_printf(x->a, "%s%s on %d %s with ZeRO-1, %s with ZeRO-2, %s with ZeRO-3 or FSDP", s, i ? ";" : "",
                         gpus[i], bytes_text(x->a, one), bytes_text(x->a, two),
                         bytes_text(x->a, two - c[CLASS_PARAMETERS] + c[CLASS_PARAMETERS] / n));
    }
    return s;
}

/* ---- sizes of the input ---------------------------------------------------------------------------------------------------------------- */

static bool
has_dims(struct advice *x)
{
    return training(x) && x->s->s->ndims > 0;
}

static const char *
say_dims(struct advice *x, const struct measured *m)
{
    const struct setup *s = x->s->s;
    const char *text = "What the peak grows by with the input:";
    (void)m;
    for (int i = 0; i < s->ndims && i < MOST_DIMS; i++) {
        struct edit e = {.setup = *s, .reload = true};
        e.setup.dims = arena_dup(x->a, s->dims, sizeof(*s->dims) * (size_t)s->ndims);
        int64_t more = s->dims[i].n / 8 > 0 ? s->dims[i].n / 8 : 1;
        e.setup.dims[i].n += more;
        int64_t after = measure(x, &e).allocated;
        if (after < 0)
            continue;
        text = arena_printf(x->a, "%s%s %s each further unit of %s (%lld now)", text, i ? "," : "",
                            bytes_text(x->a, (after - x->base.allocated) / more), s->dims[i].name,
                            (long long)s->dims[i].n);
    }
    return text;
}

/* The last dimension of an input of indices, fixed in the file; 0 when it can't be told from other sizes. */
static int64_t
length_of(const struct program *p, const char **name)
{
    int64_t n = 0;
    for (int i = 0; i < p->ninputs && !n; i++)
        if (p->inputs[i].rank > 1 && !dtypes[p->inputs[i].dtype].is_float &&
            p->inputs[i].size[p->inputs[i].rank - 1] >= SHORTEST) {
            n = p->inputs[i].size[p->inputs[i].rank - 1];
            *name = p->inputs[i].name;
        }
    for (int i = 0; i < p->nparams && n; i++)
        for (int d = 0; d < p->params[i].rank; d++)
            if (p->params[i].kind <= PARAM_FROZEN && p->params[i].size[d] % n == 0)
                return 0;
    for (int i = 0; i < p->ncalls && n; i++)
        for (int d = 0; d < p->calls[i].rank; d++)
            if (p->calls[i].size[d] > n && p->calls[i].size[d] % n == 0)
                return 0;
    return n;
}

static bool
has_length(struct advice *x)
{
    const char *name;
    return training(x) && length_of(x->s->p, &name) > 0;
}

static void
halve(struct arg *args, int n, int64_t from)
{
    for (int i = 0; i < n; i++) {
        if (args[i].kind == ARG_INT && args[i].i == from)
            args[i].i = from / 2;
        if (args[i].kind == ARG_LIST)
            halve(args[i].list, args[i].n, from);
    }
}

static void
to_half_length(struct advice *x, struct edit *e)
{
    struct program *p = e->program;
    const char *name;
    int64_t n = length_of(p, &name);
    p->inputs = arena_dup(x->a, p->inputs, sizeof(*p->inputs) * (size_t)p->ninputs);
    for (int i = 0; i < p->ninputs; i++)
        resize(x->a, p->inputs[i].rank, &p->inputs[i].size, n, n / 2);
    for (int i = 0; i < p->nparams; i++)
        resize(x->a, p->params[i].rank, &p->params[i].size, n, n / 2);
    for (int i = 0; i < p->ncalls; i++) {
        resize(x->a, p->calls[i].rank, &p->calls[i].size, n, n / 2);
        halve(p->calls[i].args, p->calls[i].nargs, n);
    }
}

static const char *
say_half_length(struct advice *x, const struct measured *m)
{
    const char *name;
    int64_t n = length_of(x->s->p, &name), saves = x->base.allocated - m->allocated;
    return arena_printf(
        x->a,
        "Every sample is padded to the %lld of the longest one in the last dimension of %s, %s of the peak a "
        "unit; cut to %lld it peaks at %s",
        (long long)n, name, bytes_text(x->a, saves / (n - n / 2)), (long long)(n / 2), bytes_text(x->a, m->allocated));
}

/* ---- the table ---------------------------------------------------------------------------------------------------------------------------- */

#define HOW(name, text)                       \
    static const char *name(struct advice *x) \
    {                                         \
        (void)x;                              \
        return text;                          \
    }

HOW(how_autocast,
    "with torch.autocast(\"cuda\", dtype=torch.bfloat16):\n    out = model(batch)\n    loss = loss_fn(out, target)")
HOW(how_8bit, "optimizer = bitsandbytes.optim.AdamW8bit(model.parameters(), lr=lr)")
HOW(how_fused, "optimizer = torch.optim.AdamW(model.parameters(), lr=lr, fused=True)")
HOW(how_del, "loss.backward()\ndel out\noptimizer.step()\ndel loss  # after loss.item()")
HOW(how_zero, "optimizer.zero_grad(set_to_none=True)  # right after optimizer.step()")
HOW(how_micro, "for part in batch.chunk(4):\n    (loss_fn(model(part), ...) / "
               "4).backward()\noptimizer.step()\noptimizer.zero_grad()")
HOW(how_locals, "del name  # after its last use in forward()")
HOW(how_attention, "out = torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=mask, dropout_p=p)")
HOW(how_chunks, "for h, t in zip(hidden.chunk(8, 1), target.chunk(8, 1)):\n"
                "    loss = loss + checkpoint(lambda h, t: loss_fn(head(h), t), h, t, use_reentrant=False)")
HOW(how_tied, "model.head.weight = model.embedding.weight")
HOW(how_in_place, "nn.ReLU(inplace=True)")
HOW(how_no_bias, "nn.Conv2d(..., bias=False)")
HOW(how_expandable, "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True python train.py")
HOW(how_no_grad, "with torch.no_grad():\n    total += loss_fn(model(batch), target).item()")
HOW(how_vocabulary, "Count the entries that the data uses; hash or drop the rest, or keep the table on the CPU")
HOW(how_length, "Sort samples into batches of like length, or cut the few that are far longer than the rest")
HOW(how_nothing, NULL)

static const struct rule rules[] = {
    {"logits-chunks", "warning", "simulated", "many copies of the logits at the peak", has_logits, to_chunks,
     say_chunks, how_chunks, false, true},
    {"vocabulary", "warning", "simulated", "a table whose entries take much of the peak", has_vocabulary,
     to_half_vocabulary, say_half_vocabulary, how_vocabulary, false, false},
    {"length", "warning", "simulated", "padding to the longest sample", has_length, to_half_length, say_half_length,
     how_length, false, false},
    {"untied-head", "warning", "simulated", "a head as large as the embedding and not tied to it", has_untied, to_tied,
     say_tied, how_tied, false, true},
    {"half-precision", "warning", "simulated", "autocast to bfloat16", is_fp32, to_autocast, say_autocast, how_autocast,
     true, true},
    {"optimizer-8bit", "note", "simulated", "optimizer states in 8 bits, and other optimizers", is_adam, to_8bit,
     say_8bit, how_8bit, false, true},
    {"fused-update", "warning", "simulated", "an update that is the peak", update_peaks, to_fused, say_fused, how_fused,
     false, true},
    {"del-outputs", "warning", "simulated", "outputs of the last step that are still alive", is_plain, to_del, say_del,
     how_del, false, true},
    {"del-locals", "note", "simulated", "local variables that hold tensors for nothing", has_locals, to_released,
     say_released, how_locals, false, true},
    {"zero-grad", "warning", "simulated", "gradients that live through the forward pass", keeps_gradients, to_plain,
     say_plain, how_zero, false, true},
    {"accumulate", "note", "simulated", "the batch in parts", divides, to_micro_batches, say_micro_batches, how_micro,
     false, false},
    {"checkpoint", "note", "simulated", "saved tensors that recomputation replaces", can_recompute, to_checkpoints,
     say_checkpoints, how_checkpoints, false, true},
    {"fused-attention", "warning", "simulated", "attention written by hand", has_attention, to_fused_attention,
     say_fused_attention, how_attention, false, true},
    {"in-place", "note", "simulated", "activations that could overwrite their input", has_writable, to_in_place,
     say_in_place, how_in_place, true, true},
    {"conv-bias", "note", "simulated", "a bias before a batch norm", has_idle_bias, to_no_bias, say_no_bias,
     how_no_bias, false, true},
    {"fragmentation", "note", "simulated", "reserved far above allocated", is_fragmented, to_expandable, say_expandable,
     how_expandable, true, false},
    {"evaluation", "note", "simulated", "the peak of evaluation, and without no_grad", always, to_inference,
     say_inference, how_no_grad, true, false},
    {"dimensions", "note", "simulated", "bytes per unit of the input's dimensions", has_dims, NULL, say_dims,
     how_nothing, true, false},
    {"sharding", "note", "estimated", "ZeRO and FSDP over GPUs", always, NULL, say_sharded, how_nothing, true, false},
};

void
rules_list(FILE *out)
{
    for (int i = 0; i < COUNT(rules); i++)
        fprintf(out, "%s\t%s\n", rules[i].id, rules[i].help);
}

/* ---- the pass ------------------------------------------------------------------------------------------------------------------------------ */

static struct edit
edit_new(struct advice *x)
{
    return (struct edit){.setup = *x->s->s, .program = program_copy(x->a, x->s->p)};
}

static struct finding *
add(struct advice *x, const struct rule *k, const struct measured *m, const struct edit *e)
{
    struct result *r = x->r;
    struct finding *f = &r->findings[r->nfindings++];
    int64_t saves = x->base.allocated - m->allocated;
    bool changes = k->edit && k->edit != to_inference && k->edit != to_expandable;
    *f = (struct finding){.rule = k->id,
                          .severity = changes && saves * 20 < x->base.allocated ? "note" : k->severity,
                          .certainty = k->certainty,
                          .message = k->message(x, m),
                          .location = e->location,
                          .how = k->how(x),
                          .saves_bytes = changes && saves > 0 ? saves : 0,
                          .peak_after = changes ? m->allocated : -1};
    if (changes && !e->reload && x->base.flops > 0)
        f->extra_flops_percent = 100 * (m->flops - x->base.flops + m->recomputed_flops / 3) / x->base.flops;
    return f;
}

static int
by_saving(const void *a, const void *b)
{
    const struct finding *f = a, *g = b;
    return f->saves_bytes != g->saves_bytes ? (f->saves_bytes < g->saves_bytes ? 1 : -1) : strcmp(f->rule, g->rule);
}

static const char *
say_all(struct advice *x, const char *names, const struct measured *m)
{
    return arena_printf(x->a, "All of these together, %s: %s, which is %s less", names, bytes_text(x->a, m->allocated),
                        percent_of(x, x->base.allocated - m->allocated));
}

/* The best ones first, each only when it lowers the peak of those before it. */
static void
combine(struct advice *x)
{
    struct result *r = x->r;
    struct arena *own = arena_new();
    x->a = own;
    struct edit all = edit_new(x);
    struct measured best = x->base;
    const char *names = "";
    int n = 0;
    qsort(r->findings, (size_t)r->nfindings, sizeof(*r->findings), by_saving);
    for (int i = 0; i < r->nfindings && r->findings[i].saves_bytes > 0; i++)
        for (int k = 0; k < COUNT(rules); k++) {
            if (!rules[k].combines || strcmp(rules[k].id, r->findings[i].rule) != 0)
                continue;
            struct edit more = all;
            more.program = program_copy(x->a, all.program);
            rules[k].edit(x, &more);
            struct measured m = measure(x, &more);
            if (m.allocated < 0 || best.allocated - m.allocated < x->base.allocated / WORTH)
                continue;
            best = m;
            all = more;
            names = arena_printf(x->s->a, "%s%s%s", names, n++ ? ", " : "", rules[k].id);
        }
    x->a = x->s->a;
    arena_free(own);
    if (n > 1)
        r->findings[r->nfindings++] = (struct finding){.rule = "together",
                                                       .severity = "note",
                                                       .certainty = "simulated",
                                                       .message = say_all(x, names, &best),
                                                       .saves_bytes = x->base.allocated - best.allocated,
                                                       .peak_after = best.allocated};
}

void
rules_run(const struct study *s, struct result *r)
{
    struct advice x = {.s = s, .r = r, .a = s->a};
    x.base = (struct measured){r->peak.allocated, r->peak.reserved, r->peak.phase, s->st->forward_flops};
    x.uses = count_uses(x.a, s->p);
    if (s->p->graph->nt > MOST_VALUES) {
        const char **said = NEWN(x.a, const char *, r->setup.nassumptions + 1);
        for (int i = 0; i < r->setup.nassumptions; i++)
            said[i] = r->setup.assumptions[i];
        said[r->setup.nassumptions++] =
            arena_printf(x.a, "advice is not measured for a graph of more than %d values", MOST_VALUES);
        r->setup.assumptions = said;
        return;
    }
    r->findings = NEWN(x.a, struct finding, COUNT(rules) + 1);
    for (int i = 0; i < COUNT(rules); i++) {
        const struct rule *k = &rules[i];
        if (!k->applies(&x))
            continue;
        struct edit e = {.setup = *s->s};
        struct measured m = x.base;
        if (k->edit) {
            struct arena *own = x.a = arena_new();
            e = edit_new(&x);
            k->edit(&x, &e);
            m = measure(&x, &e);
            x.a = s->a;
            arena_free(own);
        }
        bool lowers = m.allocated >= 0 && x.base.allocated - m.allocated > x.base.allocated / WORTH;
        if (m.allocated < 0 || (!lowers && !k->believed))
            continue;
        add(&x, k, &m, &e);
    }
    combine(&x);
}
