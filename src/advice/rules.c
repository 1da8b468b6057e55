/* SPDX-License-Identifier: Apache-2.0 */
/* rules.c - advice: each rule is an edit of the training step, and what it saves is measured by running the edited
 * step.
 *
 * A rule says when it applies and makes the edit: another set-up, another program (edit.c), or both. The driver runs
 * the step again, drops edits that lower nothing (but for those that people believe in), ranks the rest by what they
 * save against what they cost and measures the best ones together. docs/RULES.md explains every rule to the one who
 * has to change the model.
 */
#include "advice/edit.h"

#include <stdlib.h>
#include <string.h>

enum { MICRO_BATCHES = 4, WORTH = 200 /* a saving of 1/200 of the peak */, MOST_DIMS = 8, MOST_LENGTH = 1 << 24 };

struct advice {
    struct study *s;
    struct result *r;
    struct arena *a;
    struct measured base, *alone; /* alone: after each rule's edit */
    int nregions; /* checkpoint: its modules, found once, the step with them, and the Python that wraps them */
    struct region *regions;
    struct measured checkpointed;
    const char *wrapped, *wrapping;
    const char *local;        /* del-locals: the name, NULL unknown */
    struct measured *updated; /* the step with each of others; NULL not measured yet */
};

struct rule {
    const char *id, *severity, *help;
    const char *unless; /* when not to, as docs/RULES.md has it; NULL there is no change */
    const char *does;   /* what to do, in the imperative; NULL: it only informs, or doing says it */
    const char *(*doing)(struct advice *x);
    enum cost cost;
    enum {
        CHANGES,
        COMBINES /* with the others into "together" */,
        BELIEVED /* told without an effect, too */,
        INFORMS /* no change of the step */,
        RESERVES /* lowers what the allocator holds, not what is alive */
    } kind;
    enum {
        PROGRAM, /* at places that it counts */
        TRACED,  /* likewise, by its calls as traced: before other edits */
        HEAD,    /* likewise, and hides the head: after others */
        SETUP,   /* and no place of the program */
        UPDATE,  /* likewise, the optimizer alone */
        ANEW,    /* likewise: the program is made again */
    } edits;
    enum { MODEL, OPTIMIZER /* which it makes */, FORWARD, BEHIND } turn; /* of its Python in a script */
    bool (*applies)(struct advice *x);                                    /* NULL: where the edit finds a place */
    int64_t (*least)(struct advice *x, const struct edit *e);             /* no edit peaks below; NULL nobody knows */
    void (*edit)(struct edit *e);
    const char *(*message)(struct advice *x, const struct edit *e, const struct measured *after);
    const char *(*how)(struct advice *x, const struct edit *e);
    bool (*minor)(struct advice *x); /* a note, however much it saves */
};

/* ---- measuring and wording --------------------------------------------------------------------------------------- */

static struct measured
measure(struct advice *x, struct edit *e)
{
    struct arena *a = arena_new();
    const struct program *p = e->reload ? fits_program(x->s, x->r, a, &e->setup) : e->program;
    struct measured m = {.allocated = -1};
    if (p)
        m = measure_step(p, &e->setup, e->look, e->seen);
    arena_free(a);
    return m;
}

static struct edit
edit_of(struct advice *x, struct arena *a)
{
    struct edit e = edit_new(a, x->s->s, x->s->p);
    e.advice = x;
    return e;
}

/* Of the set-up alone. */
static struct edit
setup_of(struct advice *x, struct arena *a)
{
    struct edit e = edit_setup(a, x->s->s, x->s->p);
    e.advice = x;
    return e;
}

/* The peak after another edit of the set-up, for comparison. */
static const char *
aside(struct advice *x, void (*edit)(struct edit *e), struct measured (*with)(struct advice *x, struct edit *e))
{
    struct arena *own = arena_new();
    struct edit e = setup_of(x, own);
    edit(&e);
    e.setup.unreserved = true;
    const char *text = bytes_text(x->a, with(x, &e).allocated);
    arena_free(own);
    return text;
}

static const char *
percent_of(struct advice *x, int64_t bytes)
{
    return arena_printf(x->a, "%.0f %%", 100.0 * (double)bytes / (double)(x->base.allocated ? x->base.allocated : 1));
}

/* A name of the model in a message. */
static const char *
quoted(struct advice *x, const char *name)
{
    return string_quote(x->a, name, 120);
}

static const char *
peak(struct advice *x, const struct measured *m)
{
    return bytes_text(x->a, m->allocated);
}

/* "1 convolution", "53 convolutions" */
static const char *
several(struct advice *x, int n, const char *thing)
{
    return n == 1 ? arena_printf(x->a, "1 %s", thing) : arena_printf(x->a, "%d %ss", n, thing);
}

/* ---- precision and optimizer ------------------------------------------------------------------------------------- */

static bool
is_fp32(struct advice *x)
{
    return x->s->s->precision == precision_find("fp32");
}

static void
to_bf16(struct edit *e)
{
    e->setup.precision = precision_find("bf16");
}

/* Saved tensors at the peak: bytes in half precision, and by the operator that made them those in fp32. */
struct by_operator {
    struct arena *a;
    int64_t narrow_bytes, wide_bytes;
    int n, cap;
    struct total {
        const char *op;
        int64_t bytes;
    } * total;
};

static void
add_by_operator(const struct step *st, void *to)
{
    struct by_operator *b = to;
    const struct machine *m = st->m;
    const struct live *l = live_run(st);
    for (int i = 0; i < m->nst; i++) {
        const struct storage *s = m->st[i];
        if (!l->alive[i] || !s->saved || !dtypes[s->dtype].is_float || s->class != CLASS_SAVED)
            continue;
        if (dtypes[s->dtype].bits <= 16) {
            b->narrow_bytes += s->bytes;
            continue;
        }
        /* the model's own operator, of which s->op may be a part; rows outlive the step */
        const char *op =
            s->call && s->call->op && !target_is(s->call->op->name, TARGET_LOST) ? s->call->op->name : s->op;
        int k = 0;
        while (k < b->n && strcmp(b->total[k].op, op) != 0)
            k++;
        if (k == b->n)
            PUSH(b->a, b->total, b->n, b->cap)->op = op;
        b->total[k].bytes += s->bytes;
        b->wide_bytes += s->bytes;
    }
}

static void
to_autocast(struct edit *e)
{
    struct by_operator *b = NEW(e->a, struct by_operator);
    b->a = e->a;
    e->setup.precision = precision_find("amp-bf16");
    e->look = add_by_operator;
    e->seen = b;
}

/* " (most of it made by aten._to_copy)"; "" nothing makes most. */
static const char *
most_by(struct advice *x, const struct by_operator *b)
{
    for (int i = 0; i < b->n; i++)
        if (b->n > 1 && b->total[i].bytes > b->wide_bytes / 2)
            return arena_printf(x->a, " (most of it made by %s)",
                                quoted(x, arena_printf(x->a, "%s%.*s", aten_space(b->total[i].op),
                                                       (int)strcspn(b->total[i].op, "."), b->total[i].op)));
    return "";
}

static const char *
say_autocast(struct advice *x, const struct edit *e, const struct measured *m)
{
    int64_t weights = 0;
    for (int i = 0; i < x->s->p->nparams; i++) {
        const struct param *q = &x->s->p->params[i];
        if (edit_owns(q) && q->rank > 1 && !edit_is_table(x->s->p, q))
            weights += 2 * edit_elements(q);
    }
    const struct by_operator *b = e->seen;
    const char *wide = b->wide_bytes
                           ? arena_printf(x->a, "%s stays in fp32%s", bytes_text(x->a, b->wide_bytes), most_by(x, b))
                           : "nothing stays in fp32";
    const char *kept = b->narrow_bytes + b->wide_bytes
                           ? arena_printf(x->a, "Of what is saved for the backward pass then %s is in bfloat16, %s. ",
                                          bytes_text(x->a, b->narrow_bytes), wide)
                           : "";
    return arena_printf(x->a,
                        "Under torch.autocast with bfloat16 the peak is %s. %sDuring the forward pass it also keeps "
                        "copies of the weights, up to %s. The whole model in bfloat16 peaks at %s",
                        peak(x, m), kept, bytes_text(x->a, weights), aside(x, to_bf16, measure));
}

static bool
has_8bit(struct advice *x)
{
    return optimizer_in_8bit(x->s->s->optimizer) != NULL;
}

/* The step with another optimizer; all that rules ask about are measured at once. */
static struct measured
with_optimizer(struct advice *x, struct edit *e)
{
    static const char *const others[] = {"adam8bit", "sgd", "momentum", "adafactor", "none"};
    const struct optimizer *of[COUNT(others)];
    int at = -1;
    for (int i = 0; i < COUNT(others); i++) {
        of[i] = optimizer_find(others[i]);
        at = of[i] == e->setup.optimizer ? i : at;
    }
    if (at >= 0 && !x->updated && has_8bit(x)) {
        x->updated = NEWN(x->a, struct measured, COUNT(others));
        measure_updates(x->s->p, x->s->s, COUNT(others), of, x->updated);
    }
    return at >= 0 && x->updated && x->updated[at].allocated >= 0 ? x->updated[at] : measure(x, e);
}

static void
to_8bit(struct edit *e)
{
    e->setup.optimizer = optimizer_find("adam8bit");
}

static void
to_sgd(struct edit *e)
{
    e->setup.optimizer = optimizer_find("sgd");
}

static void
to_momentum(struct edit *e)
{
    e->setup.optimizer = optimizer_find("momentum");
}

static void
to_adafactor(struct edit *e)
{
    e->setup.optimizer = optimizer_find("adafactor");
}

static const char *
say_8bit(struct advice *x, const struct edit *e, const struct measured *m)
{
    (void)e;
    return arena_printf(x->a,
                        "With Adam's states in 8 bits the peak is %s. Others: SGD %s, with momentum %s, Adafactor %s",
                        peak(x, m), aside(x, to_sgd, with_optimizer), aside(x, to_momentum, with_optimizer),
                        aside(x, to_adafactor, with_optimizer));
}

static bool
has_states(struct advice *x)
{
    return x->r->class_bytes[CLASS_OPTIMIZER] > 0;
}

static void
to_no_update(struct edit *e)
{
    e->setup.optimizer = optimizer_find("none");
}

static const char *
say_offload(struct advice *x, const struct edit *e, const struct measured *m)
{
    (void)e;
    return arena_printf(x->a,
                        "With the optimizer's states and its update on the CPU the peak is %s; every step then moves "
                        "%s of gradients and as much of parameters over the bus",
                        peak(x, m), bytes_text(x->a, x->r->model.parameter_bytes));
}

/* Of before 2.0: fused=True is there for Adam at most, and zero_grad() keeps the gradients. */
static bool
is_old(struct advice *x)
{
    return step_torch(x->s->p, x->s->s) < FOREACH_SINCE;
}

static bool
update_peaks(struct advice *x)
{
    return x->base.phase == PHASE_UPDATE && !is_old(x) && optimizer_fused(x->a, x->s->s->optimizer);
}

static void
to_fused(struct edit *e)
{
    const struct optimizer *fused = optimizer_fused(e->a, e->setup.optimizer);
    e->setup.optimizer = fused ? fused : e->setup.optimizer;
}

static const char *
say_fused(struct advice *x, const struct edit *e, const struct measured *m)
{
    (void)e;
    return arena_printf(x->a,
                        "The peak is in optimizer.step(): it makes a temporary copy as large as all parameters, %s; "
                        "with fused=True it makes none, and the peak is %s",
                        bytes_text(x->a, x->r->model.parameter_bytes), peak(x, m));
}

/* ---- the loop ---------------------------------------------------------------------------------------------------- */

static bool
is_plain(struct advice *x)
{
    return x->s->s->loop == loop_find("plain");
}

static void
to_del(struct edit *e)
{
    e->setup.loop = loop_find("del");
}

/* In the backward pass the last step's output and loss are gone, and this one's are there in any case. */
static int64_t
least_del(struct advice *x, const struct edit *e)
{
    (void)e;
    const struct step *st = x->s->st;
    const struct live *l = live_run(st);
    int64_t bytes = 0;
    for (int i = 0; i < st->m->nst && x->base.phase == PHASE_BACKWARD; i++)
        bytes += l->alive[i] ? st->m->st[i]->requested : 0;
    return bytes;
}

static const char *
say_del(struct advice *x, const struct edit *e, const struct measured *m)
{
    (void)e;
    return arena_printf(x->a,
                        "`out` and `loss` of the last step stay alive through the next forward pass; with `del` after "
                        "their last use the peak is %s",
                        peak(x, m));
}

static bool
keeps_gradients(struct advice *x)
{
    const struct loop *l = x->s->s->loop;
    return l == loop_find("late-zero") || l == loop_find("zero-in-place") || (l == loop_find("plain") && is_old(x));
}

static void
to_plain(struct edit *e)
{
    e->setup.loop = loop_find(is_old(e->advice) ? "set-to-none" : "plain");
}

static const char *
say_plain(struct advice *x, const struct edit *e, const struct measured *m)
{
    (void)e;
    return arena_printf(x->a,
                        "Gradients stay alive through the forward pass; with zero_grad(set_to_none=True) before it the "
                        "peak is %s",
                        peak(x, m));
}

static bool
divides(struct advice *x)
{
    const struct binding *b = setup_batch(x->s->s);
    return is_plain(x) && x->s->s->micro_batches == 1 && b && b->n % MICRO_BATCHES == 0;
}

static void
accumulate(struct edit *e, int n)
{
    e->setup.dims = arena_dup(e->a, e->setup.dims, sizeof(*e->setup.dims) * (size_t)e->setup.ndims);
    setup_batch(&e->setup)->n /= n;
    e->setup.loop = loop_find("accumulate-N");
    e->setup.micro_batches = n;
    e->reload = true;
}

static void
to_2_parts(struct edit *e)
{
    accumulate(e, 2);
}

static void
to_4_parts(struct edit *e)
{
    accumulate(e, MICRO_BATCHES);
}

static void
to_8_parts(struct edit *e)
{
    accumulate(e, 8);
}

static const char *
say_parts(struct advice *x, const struct edit *e, const struct measured *m)
{
    int64_t n = setup_batch(x->s->s)->n;
    bool norms = false;
    (void)e;
    for (int i = 0; i < x->s->p->ncalls; i++)
        norms |= x->s->p->calls[i].op && x->s->p->calls[i].op->whole_batch;
    return arena_printf(x->a, "The batch of %s in %d parts peaks at %s, in 2 at %s%s%s%s", count_text(x->a, n),
                        MICRO_BATCHES, peak(x, m), aside(x, to_2_parts, measure), n % 8 ? "" : ", in 8 at ",
                        n % 8 ? "" : aside(x, to_8_parts, measure),
                        norms ? ". Batch norm's statistics are then those of a part: not the same training" : "");
}

/* ---- Python names ------------------------------------------------------------------------------------------------ */

static void
to_released(struct edit *e)
{
    e->program->release = true;
}

static bool
in_forward(struct advice *x)
{
    return x->base.phase == PHASE_FORWARD;
}

/* The largest tensor that only a Python name keeps alive at the peak: its slot, -1 none; *last its last reader. */
static int
held_at_peak(struct advice *x, int64_t *bytes, int *last)
{
    const struct program *p = x->s->p;
    const struct machine *m = x->s->st->m;
    const struct live *l = live_run(x->s->st);
    const struct call *now = l->peak >= 0 ? m->ev[l->peak].call : NULL;
    int best = -1;
    *bytes = 0;
    for (int i = 0; i < m->nst; i++) {
        const struct storage *s = m->st[i];
        if (!l->alive[i] || !s->call || s->saved || s->bytes <= *bytes || !now)
            continue;
        int slot = s->call->outs[0], read = -1;
        for (int k = 0; k < p->ncalls; k++)
            for (int g = 0; g < p->calls[k].nargs; g++)
                if (p->calls[k].args[g].kind == ARG_SLOT && p->calls[k].args[g].i == slot)
                    read = k;
        if (read < 0 || p->held[slot] <= read || now - p->calls <= read || now - p->calls > p->held[slot])
            continue;
        best = slot;
        *last = read;
        *bytes = s->bytes;
    }
    return best;
}

static const char *
say_released(struct advice *x, const struct edit *e, const struct measured *m)
{
    const struct program *p = x->s->p;
    int64_t bytes;
    int last, slot = held_at_peak(x, &bytes, &last);
    const char *name = x->local = slot >= 0 && p->held_by ? p->held_by[slot] : NULL;
    (void)e;
    if (slot < 0)
        return arena_printf(x->a,
                            "Names of forward methods hold tensors that nothing reads any more; with `del` after each "
                            "one's last use the peak is %s",
                            peak(x, m));
    return arena_printf(x->a,
                        "%s still holds %s at the peak, though nothing reads it after %s; with `del` there, and after "
                        "the last use of every such name, the peak is %s",
                        name ? quoted(x, name) : "A name of a forward method", bytes_text(x->a, bytes),
                        quoted(x, p->calls[last].location ? p->calls[last].location : p->calls[last].target),
                        peak(x, m));
}

/* ---- recomputation ----------------------------------------------------------------------------------------------- */

static bool
can_recompute(struct advice *x)
{
    return !x->s->p->nregions;
}

/* On the program as it was traced: regions count its calls. */
static void
to_checkpoints(struct edit *e)
{
    struct advice *x = e->advice;
    struct program *p = e->program;
    if (!x->regions) {
        recompute_level(x->s, x->r, p, &x->checkpointed, &x->wrapped, &x->wrapping);
        x->nregions = p->nregions;
        x->regions = arena_dup(x->a, p->nregions ? p->regions : &(struct region){0},
                               sizeof(*x->regions) * (size_t)(p->nregions ? p->nregions : 1));
    }
    struct region *r = NEWN(e->a, struct region, x->nregions + CHUNKS + 1);
    memcpy(r, x->regions, sizeof(*r) * (size_t)x->nregions);
    p->regions = r;
    p->nregions = e->places = x->nregions;
    e->known = &x->checkpointed;
}

static const char *
do_checkpoints(struct advice *x)
{
    return arena_printf(x->a, "checkpoint %s", x->wrapped);
}

static const char *
say_checkpoints(struct advice *x, const struct edit *e, const struct measured *m)
{
    const char *on = e->program->unseen_switch;
    return arena_printf(
        x->a,
        "%storch.utils.checkpoint around %s runs their forward passes a second time and makes the "
        "peak %s; --recompute=auto lists plans that save less and cost less",
        on ? arena_printf(x->a, "Where %s runs already say --recompute=NAMES, for no file shows that. ", on) : "",
        x->wrapped, peak(x, m));
}

/* ---- written by hand --------------------------------------------------------------------------------------------- */

static const char *
say_fused_attention(struct advice *x, const struct edit *e, const struct measured *m)
{
    return arena_printf(x->a,
                        "Attention by hand, at %s, keeps matrices of length x length for the backward pass; with "
                        "F.scaled_dot_product_attention the peak is %s",
                        several(x, e->places, "place"), peak(x, m));
}

/* What a fused operator keeps instead of a tensor for each step. */
static const char *
say_by_hand(struct advice *x, const struct edit *e, const struct measured *m, const char *what, const char *fused,
            const char *keeps)
{
    return arena_printf(x->a, "%s by hand, at %s, keeps a tensor for each of its steps; %s keeps %s and peaks at %s",
                        what, several(x, e->places, "place"), fused, keeps, peak(x, m));
}

static const char *
say_gelu(struct advice *x, const struct edit *e, const struct measured *m)
{
    return say_by_hand(x, e, m, "GELU", "F.gelu", "its input alone");
}

static const char *
say_rms_norm(struct advice *x, const struct edit *e, const struct measured *m)
{
    return say_by_hand(x, e, m, "RMSNorm", "F.rms_norm", "its input and a number a row");
}

static const char *
say_layer_norm(struct advice *x, const struct edit *e, const struct measured *m)
{
    return say_by_hand(x, e, m, "LayerNorm", "F.layer_norm", "its input and two numbers a row");
}

/* ---- logits and loss --------------------------------------------------------------------------------------------- */

static const char *
say_chunks(struct advice *x, const struct edit *e, const struct measured *m)
{
    const struct call *head = edit_head(x->s->p);
    int64_t n = sizes_product(head->rank, head->size), each = 0;
    int copies = 0;
    (void)e;
    for (int i = 0; i < x->r->nlive; i++) {
        const struct live_tensor *t = &x->r->live[i];
        if (sizes_product(t->rank, t->shape) == n &&
            (t->class == CLASS_OUTPUTS || t->class == CLASS_SAVED || t->class == CLASS_TEMPORARIES)) {
            copies++;
            each = t->bytes > each ? t->bytes : each;
        }
    }
    const char *now = copies ? arena_printf(x->a, "The loss has %s of the logits in memory at the peak (%s%s). ",
                                            copies == 1 ? "one copy" : arena_printf(x->a, "%d copies", copies),
                                            bytes_text(x->a, each), copies == 1 ? "" : " each")
                             : "";
    return arena_printf(x->a, "%sComputing head and loss in %d chunks, each under checkpoint, makes the peak %s", now,
                        CHUNKS, peak(x, m));
}

/* ---- tables ------------------------------------------------------------------------------------------------------ */

/* The parameters whose first dimension is the vocabulary, "64 in embed.weight, ..."; *width: of all, an entry. */
static const char *
table_parts(struct advice *x, int64_t n, int64_t *width)
{
    const struct program *p = x->s->p;
    const char *parts = "";
    *width = 0;
    for (int i = 0; i < p->nparams; i++) {
        const struct param *q = &p->params[i];
        bool tied = false;
        if (!edit_owns(q) || q->rank < 1 || q->size[0] != n)
            continue;
        for (int k = 0; k < p->nparams; k++)
            tied |= p->params[k].tied_to == i;
        *width += edit_elements(q) / n;
        parts = arena_printf(x->a, "%s%s%s in %s%s", parts, *parts ? ", " : "", count_text(x->a, edit_elements(q) / n),
                             quoted(x, q->name),
                             q->rank != 2 || !tied ? ""
                             : edit_is_table(p, q) ? " (tied to the head)"
                                                   : " (read by nothing but the head tied to it)");
    }
    return parts;
}

/* Sharing the peak with activations, as a usual vocabulary does. */
static bool
is_small_vocabulary(struct advice *x)
{
    int64_t n = edit_entries(x->s->p), width, copies = 2;
    table_parts(x, n, &width);
    for (int i = 0; i < CLASS_COUNT; i++)
        copies += i == CLASS_OPTIMIZER && x->r->class_bytes[i] > x->r->model.parameter_bytes;
    return 4 * n * width * copies < x->base.allocated / 4;
}

static const char *
say_half_vocabulary(struct advice *x, const struct edit *e, const struct measured *m)
{
    int64_t width;
    const char *parts = table_parts(x, e->size, &width);
    return arena_printf(
        x->a,
        "%s vocabulary entries take %s parameters each: %s. One entry costs %s at the peak; with half of "
        "them the peak is %s",
        count_text(x->a, e->size), count_text(x->a, width), parts,
        bytes_text(x->a, (x->base.allocated - m->allocated) / (e->size - e->size / 2)), peak(x, m));
}

static const char *
say_tied(struct advice *x, const struct edit *e, const struct measured *m)
{
    return arena_printf(x->a, "%s and %s have the same shape and are not tied; one tensor for both peaks at %s",
                        quoted(x, e->what), quoted(x, e->with), peak(x, m));
}

static const char *
say_equal_tables(struct advice *x, const struct edit *e, const struct measured *m)
{
    return arena_printf(x->a, "The tables %s and %s have the same shape; one table for both peaks at %s",
                        quoted(x, e->what), quoted(x, e->with), peak(x, m));
}

static const char *
say_shared_table(struct advice *x, const struct edit *e, const struct measured *m)
{
    return arena_printf(x->a,
                        "Nothing but the head reads %s; a head that projects to %s columns and reads %s, which has the "
                        "same entries, does without it and peaks at %s",
                        quoted(x, e->what), count_text(x->a, e->size), quoted(x, e->with), peak(x, m));
}

static const char *
say_narrow_table(struct advice *x, const struct edit *e, const struct measured *m)
{
    return arena_printf(x->a, "%s is %s columns wide; with %d and a projection to the old width the peak is %s",
                        quoted(x, e->what), count_text(x->a, e->size), NARROW, peak(x, m));
}

/* A step with tables that have fewer entries holds all else that this one holds at its peak. What may have another size
 * then: the tables, their gradients, states and what these are computed with have as many elements, states that are
 * compressed fewer bytes than that, and workspaces may be anything. */
static int64_t
least_tables(struct advice *x, const struct edit *e)
{
    const struct step *st = x->s->st;
    const struct program *p = x->s->p;
    const struct live *l = live_run(st);
    int64_t *elements = NEWN(e->a, int64_t, p->nparams + 1), bytes = 0;
    int n = 0;
    for (int i = 0; i < p->nparams; i++)
        if (p->params[i].size != e->program->params[i].size)
            elements[n++] = edit_elements(&p->params[i]);
    for (int i = 0; i < st->m->nst && !x->s->s->parallel; i++) {
        const struct storage *s = st->m->st[i];
        bool same = l->alive[i] && (s->class != CLASS_WORKSPACE || s->stays);
        for (int k = 0; k < n && same; k++)
            same = s->requested != dtype_bytes(s->dtype, elements[k]) &&
                   (s->class != CLASS_OPTIMIZER || s->requested > elements[k]);
        bytes += same ? s->requested : 0;
    }
    return bytes;
}

static const char *
say_tables_on_cpu(struct advice *x, const struct edit *e, const struct measured *m)
{
    return arena_printf(x->a, "With %s%s on the CPU, where an embedding only fetches rows, the peak is %s",
                        quoted(x, e->what), e->places > 1 ? arena_printf(x->a, " and %d more", e->places - 1) : "",
                        peak(x, m));
}

static const char *
say_sparse_tables(struct advice *x, const struct edit *e, const struct measured *m)
{
    int states;
    return arena_printf(x->a,
                        "%s%s gets a gradient for each of its %s entries, though a step reads few of them; with "
                        "sparse=True and torch.optim.%s the peak is %s",
                        quoted(x, e->what), e->places > 1 ? arena_printf(x->a, ", as %d more,", e->places - 1) : "",
                        count_text(x->a, e->size), optimizer_sparse(x->s->s->optimizer, &states), peak(x, m));
}

/* ---- structure --------------------------------------------------------------------------------------------------- */

static const char *
say_in_place(struct advice *x, const struct edit *e, const struct measured *m)
{
    bool same = m->allocated == x->base.allocated, grows = m->allocated > x->base.allocated;
    return arena_printf(x->a, "%s could run in place; the peak would %s%s%s", several(x, e->places, "activation"),
                        same ? "stay the same: each result is kept anyway, and its input is not" : "be ",
                        same ? "" : peak(x, m),
                        grows ? ": autograd copies the gradient of a view that is written over" : "");
}

static const char *
say_no_bias(struct advice *x, const struct edit *e, const struct measured *m)
{
    bool saves = m->allocated < x->base.allocated;
    return arena_printf(x->a,
                        "%s %s a bias that the batch norm after it subtracts again; without it the peak would %s%s",
                        several(x, e->places, "convolution"), e->places == 1 ? "adds" : "add",
                        saves ? "be " : "stay the same", saves ? peak(x, m) : "");
}

static const char *
say_unused_parameters(struct advice *x, const struct edit *e, const struct measured *m)
{
    return arena_printf(x->a, "Nothing reads %s%s: %s parameters; without %s the peak is %s", quoted(x, e->what),
                        e->places > 1 ? arena_printf(x->a, " and %d other parameters", e->places - 1) : "",
                        count_text(x->a, e->size), e->places > 1 ? "them" : "it", peak(x, m));
}

static const char *
say_unused_outputs(struct advice *x, const struct edit *e, const struct measured *m)
{
    return arena_printf(x->a, "The loss does not read %s; without the peak is %s", several(x, e->places, "output"),
                        peak(x, m));
}

static int
by_saved(const void *a, const void *b)
{
    const struct layer *f = *(const struct layer *const *)a, *g = *(const struct layer *const *)b;
    return f->saved_bytes != g->saved_bytes ? (f->saved_bytes < g->saved_bytes ? 1 : -1) : strcmp(f->path, g->path);
}

/* The layers without layers below, most saved bytes first. */
static int
leaves(struct advice *x, const struct layer **to)
{
    int n = 0;
    for (int i = 0; i < x->r->nlayers; i++)
        if (i + 1 == x->r->nlayers || x->r->layers[i + 1].depth <= x->r->layers[i].depth)
            to[n++] = &x->r->layers[i];
    qsort(to, (size_t)n, sizeof(*to), by_saved);
    return n;
}

enum { STANDS_OUT = 4 /* times the median, and 1/STANDS_OUT of all */ };

static const struct layer *
outlier(struct advice *x, bool parameters)
{
    const struct layer **l = NEWN(x->a, const struct layer *, x->r->nlayers + 1), *best = NULL;
    int64_t total = 0, all = 0;
    int n = leaves(x, l);
    for (int i = 0; i < n; i++) {
        total += l[i]->saved_bytes;
        all += l[i]->parameter_bytes;
        best = !best || (parameters ? l[i]->parameter_bytes > best->parameter_bytes : false) ? l[i] : best;
    }
    if (n < STANDS_OUT ||
        (parameters ? best->parameter_bytes * STANDS_OUT < all
                    : best->saved_bytes * STANDS_OUT < total || best->saved_bytes < STANDS_OUT * l[n / 2]->saved_bytes))
        return NULL;
    return best;
}

static bool
has_outliers(struct advice *x)
{
    return outlier(x, false) || outlier(x, true);
}

static const char *
say_outliers(struct advice *x, const struct edit *e, const struct measured *m)
{
    const struct layer *saved = outlier(x, false), *heavy = outlier(x, true);
    const char *text = "";
    (void)e, (void)m;
    if (heavy)
        text = arena_printf(x->a, "%s holds %s of the %s of parameters", quoted(x, heavy->path),
                            bytes_text(x->a, heavy->parameter_bytes), bytes_text(x->a, x->r->model.parameter_bytes));
    return saved ? arena_printf(x->a, "%s%s%s keeps %s for the backward pass, far more than other layers", text,
                                heavy ? "; " : "", quoted(x, saved->path), bytes_text(x->a, saved->saved_bytes))
                 : text;
}

static void
to_expandable(struct edit *e)
{
    e->setup.expandable = true;
}

static bool
is_fragmented(struct advice *x)
{
    return !x->s->s->expandable && x->base.reserved > x->base.allocated + x->base.allocated / 8;
}

static const char *
say_expandable(struct advice *x, const struct edit *e, const struct measured *m)
{
    (void)e;
    return arena_printf(x->a,
                        "The allocator holds %s for a peak of %s; with expandable segments it holds %s (live tensors "
                        "stay the same)",
                        bytes_text(x->a, x->base.reserved), bytes_text(x->a, x->base.allocated),
                        bytes_text(x->a, m->reserved));
}

/* ---- evaluation and several devices ------------------------------------------------------------------------------ */

static void
to_inference(struct edit *e)
{
    e->setup.mode = MODE_INFERENCE;
}

/* What one forward pass leaves to a backward pass. */
static int64_t
graph_bytes(struct advice *x)
{
    int64_t n = x->s->st->after.forward - x->s->st->after.inputs;
    return n > 0 ? n : 0;
}

static bool
keeps_graph(struct advice *x)
{
    return graph_bytes(x) > 0;
}

static const char *
say_inference(struct advice *x, const struct edit *e, const struct measured *m)
{
    (void)e;
    return arena_printf(
        x->a,
        "Evaluation of this batch under torch.no_grad() peaks at %s, so its batch may be larger than in "
        "training; without no_grad every batch also keeps %s for a backward pass that never runs",
        peak(x, m), bytes_text(x->a, graph_bytes(x)));
}

static const char *
say_loss_item(struct advice *x, const struct edit *e, const struct measured *m)
{
    (void)e, (void)m;
    return arena_printf(
        x->a,
        "`total_loss += loss` keeps every loss: 512 B an iteration in training, and in evaluation without "
        "no_grad the %s of each batch's graph; `loss.item()` keeps neither",
        bytes_text(x->a, graph_bytes(x)));
}

enum { GPUS = 8 };

static bool
is_alone(struct advice *x)
{
    return !x->s->s->parallel;
}

static void
to_shards(struct edit *e)
{
    const char *why;
    e->setup.parallel = parallel_find(e->a, "fsdp");
    e->setup.gpus = GPUS;
    unit_modules(e->a, e->program, NULL, &why);
}

static const char *
say_shards(struct advice *x, const struct edit *e, const struct measured *m)
{
    return arena_printf(
        x->a,
        "On %d GPUs, each with this batch, fully_shard of the model%s peaks at %s on each; "
        "--parallel=auto lists 2 to 1,024 GPUs and the other ways",
        GPUS, e->program->nunits ? arena_printf(x->a, " and of %s", several(x, e->program->nunits, "module")) : "",
        peak(x, m));
}

/* ---- sizes of the input ------------------------------------------------------------------------------------------ */

static bool
has_dims(struct advice *x)
{
    return x->s->s->ndims > 0;
}

/* From which size on the model can be read, when it is not 1: a convolution's window may be wider. */
static int64_t
shortest(struct advice *x, int dim)
{
    int64_t lo = 0, hi = x->s->s->dims[dim].n;
    for (int64_t at = 1; hi - lo > 1; at = lo + (hi - lo) / 2) {
        struct arena *own = arena_new();
        struct setup s = *x->s->s;
        s.dims = arena_dup(own, s.dims, sizeof(*s.dims) * (size_t)s.ndims);
        s.dims[dim].n = at;
        const struct program *p = x->s->reload(x->s, own, &s);
        if (p && p->graph->ndoubts <= x->s->p->graph->ndoubts)
            hi = at;
        else
            lo = at;
        arena_free(own);
    }
    return hi;
}

static const char *
say_dims(struct advice *x, const struct edit *e, const struct measured *m)
{
    const struct setup *s = x->s->s;
    const struct binding *batch = setup_batch(s);
    const char *text = "";
    (void)e, (void)m;
    for (int i = 0; i < s->ndims && i < MOST_DIMS; i++) {
        struct edit more = {.setup = *s, .reload = true};
        more.setup.dims = arena_dup(x->a, s->dims, sizeof(*s->dims) * (size_t)s->ndims);
        int64_t by = s->dims[i].n / 8 > 0 ? s->dims[i].n / 8 : 1;
        more.setup.dims[i].n += by;
        more.setup.unreserved = true;
        int64_t after = measure(x, &more).allocated, from = &s->dims[i] == batch ? 1 : shortest(x, i);
        int64_t most = &s->dims[i] == batch ? -1 : fits_largest(x->s, x->r, i);
        if (after < 0)
            continue;
        text = arena_printf(x->a, "%s%sby %s for each 1 more of %s (%s now%s%s%s%s)", text, *text ? ", " : "",
                            bytes_text(x->a, (after - x->base.allocated) / by), quoted(x, s->dims[i].name),
                            count_text(x->a, s->dims[i].n), from > 1 ? ", the model takes no less than " : "",
                            from > 1 ? count_text(x->a, from) : "", most < 0 ? "" : ", the most that fits is ",
                            most < 0 ? "" : count_text(x->a, most));
    }
    return arena_printf(x->a, "The peak grows %s", *text ? text : "with no dimension");
}

/* The largest fixed length that fits the device. */
static int64_t
longest(struct advice *x, int64_t length)
{
    int64_t lo = 0, hi = length;
    for (bool grows = true; hi - lo > 1 && hi <= MOST_LENGTH;) {
        int64_t at = grows ? hi : lo + (hi - lo) / 2;
        struct arena *own = arena_new();
        struct edit e = edit_of(x, own);
        edit_length(&e, at);
        bool fits = e.places && fits_device(x->r, measure(x, &e).reserved);
        arena_free(own);
        grows &= fits;
        lo = fits ? at : lo;
        hi = grows ? 2 * at : fits ? hi : at;
    }
    return lo;
}

static const char *
say_half_length(struct advice *x, const struct edit *e, const struct measured *m)
{
    int64_t saves = x->base.allocated - m->allocated, n = e->size, from = edit_shortest(x->s->p, n);
    const char *least = from > 1 ? arena_printf(x->a, "; the model takes no less than %s", count_text(x->a, from)) : "";
    const char *most =
        x->r->setup.device ? arena_printf(x->a, "; the most that fits is %s", count_text(x->a, longest(x, n))) : "";
    return arena_printf(
        x->a,
        "Every sample is padded to the %s of the longest one in the last dimension of %s, %s of the peak a "
        "unit; cut to %s it peaks at %s%s%s",
        count_text(x->a, n), quoted(x, e->what), bytes_text(x->a, saves / (n - n / 2)), count_text(x->a, n / 2),
        peak(x, m), least, most);
}

/* ---- the table --------------------------------------------------------------------------------------------------- */

/* Python to be pasted. Its author has model, batch, target, loss_fn, optimizer and lr, behind a forward pass out and
 * loss; what stands in forward() has the names of docs/RULES.md. tests/blocks.sh runs it. */

/* The module of a parameter's name. */
static const char *
owner_of(struct advice *x, const char *name)
{
    const char *dot = strrchr(name, '.');
    return dot ? arena_strn(x->a, name, (size_t)(dot - name)) : "";
}

enum { IN_LINE = 90 };

/* Adds a name to a list of Python's strings; NULL stays, and is what a name makes that could be a program. */
static const char *
listed(struct advice *x, const char *list, const char *name)
{
    if (!list || !is_pasteable(name))
        return NULL;
    const char *line = strrchr(list, '\n');
    bool full = strlen(line ? line : list) + strlen(name) > IN_LINE;
    return arena_printf(x->a, "%s%s\"%s\"", list, !*list ? "" : full ? ",\n             " : ", ", name);
}

/* The parameters of an edit, or the modules that own them. */
static const char *
names_of(struct advice *x, const struct edit *e, bool owners)
{
    const char *list = "";
    for (int i = 0; i < e->nnames; i++)
        list = listed(x, list, owners ? owner_of(x, e->names[i]) : e->names[i]);
    return list;
}

#define HOW(name, ...)                                              \
    static const char *name(struct advice *x, const struct edit *e) \
    {                                                               \
        (void)x, (void)e;                                           \
        return __VA_ARGS__;                                         \
    }

HOW(how_autocast, "import torch\n\n"
                  "with torch.autocast(\"cuda\", dtype=torch.bfloat16):\n"
                  "    out = model(batch)\n"
                  "    loss = loss_fn(out, target)")
HOW(how_8bit, arena_printf(x->a,
                           "import bitsandbytes\n\n"
                           "optimizer = %s(model.parameters(), lr=lr)  # keep your other arguments",
                           optimizer_in_8bit(x->s->s->optimizer)))
HOW(how_offload, !optimizer_python(x->s->s->optimizer)
                     ? NULL
                     : arena_printf(x->a,
                                    "import torch\n"
                                    "from torchao.optim import CPUOffloadOptimizer\n\n"
                                    "optimizer = CPUOffloadOptimizer(model.parameters(), %s, lr=lr)",
                                    optimizer_python(x->s->s->optimizer)))
HOW(how_fused, arena_printf(x->a,
                            "import torch\n\n"
                            "optimizer = %s(model.parameters(), lr=lr, fused=True)  # keep your other arguments",
                            optimizer_python(x->s->s->optimizer)))
HOW(how_del, "loss.backward()\ndel out\noptimizer.step()\ndel loss  # after loss.item()")
HOW(how_zero, "optimizer.step()\noptimizer.zero_grad(set_to_none=True)")
HOW(how_micro, arena_printf(x->a,
                            "for part, wanted in zip(batch.chunk(%d), target.chunk(%d)):\n"
                            "    (loss_fn(model(part), wanted) / %d).backward()\n"
                            "optimizer.step()\n"
                            "optimizer.zero_grad()",
                            MICRO_BATCHES, MICRO_BATCHES, MICRO_BATCHES))
HOW(how_locals, x->local &&is_pasteable(x->local)
                    ? arena_printf(x->a, "del %s  # in forward(), after its last use", x->local)
                    : NULL)
HOW(how_checkpoints, x->wrapping)
HOW(how_attention, "import torch.nn.functional as F\n\n"
                   "out = F.scaled_dot_product_attention(q, k, v, attn_mask=mask, dropout_p=p)  # in forward()")
HOW(how_gelu, arena_printf(x->a,
                           "import torch.nn.functional as F\n\n"
                           "x = F.gelu(x, approximate=\"%s\")  # in forward()",
                           e->what))
HOW(how_layer_norm, "import torch.nn.functional as F\n\n"
                    "x = F.layer_norm(x, weight.shape, weight, bias, eps)  # in forward()")
HOW(how_rms_norm, "import torch.nn.functional as F\n\n"
                  "x = F.rms_norm(x, weight.shape, weight, eps)  # in forward()")

/* The head's module; NULL where the file does not say. */
static const char *
head_module(struct advice *x)
{
    const struct program *p = x->s->p;
    const struct call *c = edit_head(p);
    if (c->scope > 0 && p->modules[c->scope].type)
        return p->modules[c->scope].path;
    for (int i = 0; i < p->nparams && c->nargs > 1 && c->args[1].kind == ARG_SLOT; i++)
        if (edit_owns(&p->params[i]) && p->params[i].slot == c->args[1].i && !edit_is_table(p, &p->params[i]))
            return owner_of(x, p->params[i].name);
    return NULL;
}

static const char *
how_chunks(struct advice *x, const struct edit *e)
{
    const char *head = head_module(x);
    (void)e;
    if (!head || !*head || !is_pasteable(head))
        return NULL;
    return arena_printf(
        x->a,
        "import torch.nn.functional as F\n"
        "from torch.utils.checkpoint import checkpoint\n\n"
        "head = model.get_submodule(\"%s\")\n"
        "project, head.forward = head.forward, lambda hidden: hidden  # model(batch) returns what the head reads\n\n"
        "def part(hidden, target):\n"
        "    return F.cross_entropy(project(hidden).flatten(0, -2), target.flatten(), "
        "reduction=\"sum\")\n\n"
        "def loss_fn(hidden, target):\n"
        "    parts = zip(hidden.chunk(%d, -2), target.chunk(%d, -1))\n"
        "    return sum(checkpoint(part, h, t, use_reentrant=False) for h, t in parts) / "
        "target.numel()",
        head, CHUNKS, CHUNKS);
}

static const char *
how_tied(struct advice *x, const struct edit *e)
{
    const char *to = strrchr(e->with, '.'), *from = strrchr(e->what, '.');
    if (!is_pasteable(e->with) || !is_pasteable(e->what) || !to || !from)
        return NULL;
    return arena_printf(x->a, "model.get_submodule(\"%s\")%s = model.get_submodule(\"%s\")%s", owner_of(x, e->with), to,
                        owner_of(x, e->what), from);
}

static const char *
how_shared(struct advice *x, const struct edit *e)
{
    int64_t wide = 0;
    for (int i = 0; i < x->s->p->nparams; i++)
        if (strcmp(x->s->p->params[i].name, e->what) == 0)
            wide = x->s->p->params[i].size[1];
    return !is_pasteable(e->with)
               ? NULL
               : arena_printf(x->a,
                              "import torch\n"
                              "import torch.nn.functional as F\n\n"
                              "project = torch.nn.Linear(%lld, %lld)  # in __init__, and in forward():\n"
                              "logits = F.linear(project(hidden), model.get_parameter(\"%s\"))",
                              (long long)wide, (long long)e->size, e->with);
}

static const char *
how_narrow(struct advice *x, const struct edit *e)
{
    const char *owner = owner_of(x, e->what);
    return !*owner || !is_pasteable(owner)
               ? NULL
               : arena_printf(x->a,
                              "import torch\n\n"
                              "old = model.get_submodule(\"%s\")  # before the optimizer is made\n"
                              "model.set_submodule(\"%s\", torch.nn.Sequential(\n"
                              "    torch.nn.Embedding(old.num_embeddings, %d),\n"
                              "    torch.nn.Linear(%d, old.embedding_dim, bias=False)))",
                              owner, owner, NARROW, NARROW);
}

static const char *
how_cpu(struct advice *x, const struct edit *e)
{
    const char *names = names_of(x, e, true);
    return !names ? NULL
                  : arena_printf(x->a,
                                 "for name in [%s]:  # before the optimizer is made\n"
                                 "    table = model.get_submodule(name).cpu()\n"
                                 "    def look_up(ids, forward=table.forward):\n"
                                 "        return forward(ids.cpu()).to(ids.device)\n"
                                 "    table.forward = look_up",
                                 names);
}

static const char *
how_sparse(struct advice *x, const struct edit *e)
{
    int states;
    const char *names = names_of(x, e, true), *own = optimizer_python(x->s->s->optimizer);
    const char *sparse = optimizer_sparse(x->s->s->optimizer, &states);
    return !names || !own
               ? NULL
               : arena_printf(x->a,
                              "import torch\n\n"
                              "tables = [model.get_submodule(name) for name in\n"
                              "            [%s]]\n"
                              "for table in tables:\n"
                              "    table.sparse = True\n"
                              "weights = [table.weight for table in tables]\n"
                              "others = [p for p in model.parameters() if all(p is not w for w in weights)]\n"
                              "sparse_optimizer = torch.optim.%s(weights, lr=lr)  # its step() after the other's\n"
                              "optimizer = %s(others, lr=lr)  # keep your other arguments",
                              names, sparse, own);
}

static const char activations[] = "torch.nn.modules.activation.*"; /* which have inplace */

/* Modules of torch.nn that have inplace and whose every call may write over its input. */
static const char *
how_in_place(struct advice *x, const struct edit *e)
{
    const struct program *p = e->program;
    bool *may = NEWN(x->a, bool, p->nmodules + 1);
    const char *list = "";
    for (int i = 1; i < p->nmodules; i++)
        may[i] = p->modules[i].type && glob_match(activations, p->modules[i].type);
    for (int i = 0; i < p->ncalls; i++)
        if (p->calls[i].scope > 0 && !p->calls[i].in_place)
            may[p->calls[i].scope] = false;
    for (int i = 1; i < p->nmodules; i++)
        list = may[i] ? listed(x, list, p->modules[i].path) : list;
    return !list || !*list ? NULL
                           : arena_printf(x->a,
                                          "for name in [%s]:\n"
                                          "    model.get_submodule(name).inplace = True",
                                          list);
}

static const char *
how_without(struct advice *x, const struct edit *e)
{
    const char *names = names_of(x, e, false);
    return !names ? NULL
                  : arena_printf(x->a,
                                 "for name in [%s]:  # before the optimizer is made\n"
                                 "    module, _, own = name.rpartition(\".\")\n"
                                 "    model.get_submodule(module).register_parameter(own, None)",
                                 names);
}

HOW(how_expandable, "import os\n\n"
                    "os.environ[\"PYTORCH_CUDA_ALLOC_CONF\"] = \"expandable_segments:True\"  # before import torch")
HOW(how_no_grad, "import torch\n\nwith torch.no_grad():\n    out = model(batch)")
HOW(how_loss_item, "total_loss = 0.0  # before the loop\ntotal_loss += loss.item()")

static const struct rule rules[] = {
    {.id = "logits-chunks",
     .severity = "warning",
     .help = "many copies of the logits at the peak",
     .unless = "when something else needs all logits, such as metrics over the whole batch",
     .does = "compute head and loss in 8 chunks, each under checkpoint",
     .cost = COST_TIME,
     .kind = COMBINES,
     .edit = edit_chunks,
     .edits = HEAD,
     .message = say_chunks,
     .how = how_chunks},
    {.id = "vocabulary",
     .severity = "warning",
     .help = "a table whose entries take much of the peak",
     .unless = "with a pretrained tokenizer",
     .does = "halve the vocabulary",
     .cost = COST_MODEL,
     .kind = CHANGES,
     .edit = edit_half_vocabulary,
     .message = say_half_vocabulary,
     .minor = is_small_vocabulary},
    {.id = "shared-table",
     .severity = "warning",
     .help = "a head's table beside a narrower one with the same entries",
     .unless = "when the decoder's rank matters, or its pretrained weights do",
     .does = "have the head read the narrower table through a projection",
     .cost = COST_MODEL,
     .kind = COMBINES,
     .edit = edit_shared_table,
     .message = say_shared_table,
     .how = how_shared},
    {.id = "narrow-table",
     .severity = "note",
     .help = "a wide embedding",
     .unless = "with pretrained weights, or where the table is small beside the layers",
     .does = "make the largest embedding 128 wide, with a projection",
     .cost = COST_MODEL,
     .kind = CHANGES,
     .edit = edit_narrow_table,
     .message = say_narrow_table,
     .how = how_narrow},
    {.id = "table-on-cpu",
     .severity = "note",
     .help = "embeddings on the CPU",
     .unless = "when the table is tied to the decoder, which multiplies with all of it",
     .does = "keep the embedding tables on the CPU",
     .cost = COST_TIME,
     .kind = CHANGES,
     .least = least_tables,
     .edit = edit_tables_on_cpu,
     .message = say_tables_on_cpu,
     .how = how_cpu},
    {.id = "sparse-gradients",
     .severity = "note",
     .help = "embeddings with dense gradients",
     .unless = "when the table is tied to the decoder, with weight decay, or under DDP with the NCCL backend",
     .does = "give the embeddings sparse gradients",
     .cost = COST_NUMERICS,
     .kind = CHANGES,
     .least = least_tables,
     .edit = edit_sparse_tables,
     .turn = OPTIMIZER,
     .message = say_sparse_tables,
     .how = how_sparse},
    {.id = "length",
     .severity = "warning",
     .help = "padding to the longest sample",
     .unless = "when the length is what the model needs (a convolution's width is the least it accepts)",
     .does = "halve the length of the samples",
     .cost = COST_MODEL,
     .kind = CHANGES,
     .edit = edit_half_length,
     .message = say_half_length},
    {.id = "untied-head",
     .severity = "warning",
     .help = "a head as large as the embedding and not tied to it",
     .unless = "with weights that were trained apart; tying is another model",
     .does = "tie the head to the embedding",
     .cost = COST_MODEL,
     .kind = COMBINES,
     .edit = edit_tied,
     .message = say_tied,
     .how = how_tied},
    {.id = "equal-tables",
     .severity = "warning",
     .help = "two tables of one shape",
     .unless = "when they index different things, such as two languages with tables of one size by chance",
     .does = "share one table",
     .cost = COST_MODEL,
     .kind = COMBINES,
     .edit = edit_equal_tables,
     .message = say_equal_tables,
     .how = how_tied},
    {.id = "fused-attention",
     .severity = "warning",
     .help = "attention written by hand",
     .unless = "when the weights themselves are returned. With a learned bias as mask the fused kernel saves less",
     .does = "replace the attention written by hand with F.scaled_dot_product_attention",
     .cost = COST_FREE,
     .kind = COMBINES,
     .edit = edit_attention,
     .message = say_fused_attention,
     .how = how_attention},
    {.id = "fused-gelu",
     .severity = "warning",
     .help = "GELU written by hand",
     .unless = "where results must stay bit for bit what they were: they differ by rounding",
     .does = "replace the GELU written by hand with F.gelu",
     .cost = COST_FREE,
     .kind = COMBINES,
     .edit = edit_gelu,
     .message = say_gelu,
     .how = how_gelu},
    {.id = "fused-layer-norm",
     .severity = "warning",
     .help = "LayerNorm written by hand",
     .unless = "when the deviation is not `sqrt(variance + eps)`, as in `x.std() + eps`: another formula, which "
               "memlint does not count here",
     .does = "replace the LayerNorm written by hand with F.layer_norm",
     .cost = COST_FREE,
     .kind = COMBINES,
     .edit = edit_layer_norm,
     .message = say_layer_norm,
     .how = how_layer_norm},
    {.id = "fused-norm",
     .severity = "warning",
     .help = "RMSNorm written by hand",
     .unless = "when the statistics have to be in another precision",
     .does = "replace the RMSNorm written by hand with F.rms_norm",
     .cost = COST_FREE,
     .kind = COMBINES,
     .edit = edit_rms_norm,
     .message = say_rms_norm,
     .how = how_rms_norm},
    {.id = "half-precision",
     .severity = "warning",
     .help = "autocast to bfloat16",
     .unless = "on devices before Ampere, which have no bfloat16; `float16` needs a `GradScaler`",
     .does = "run forward pass and loss under bf16 autocast",
     .cost = COST_NUMERICS,
     .kind = COMBINES,
     .applies = is_fp32,
     .edit = to_autocast,
     .edits = SETUP,
     .turn = FORWARD,
     .message = say_autocast,
     .how = how_autocast},
    {.id = "optimizer-8bit",
     .severity = "note",
     .help = "optimizer states in 8 bits, and other optimizers",
     .unless = "when the states are a small part of the peak, or the run must match earlier ones",
     .does = "keep the optimizer's states in 8 bits",
     .cost = COST_NUMERICS,
     .kind = COMBINES,
     .applies = has_8bit,
     .edit = to_8bit,
     .edits = UPDATE,
     .turn = OPTIMIZER,
     .message = say_8bit,
     .how = how_8bit},
    {.id = "optimizer-offload",
     .severity = "note",
     .help = "optimizer states on the CPU",
     .unless = "when the bus is the bottleneck: every step moves all gradients and parameters",
     .does = "keep the optimizer's states on the CPU",
     .cost = COST_TIME,
     .kind = CHANGES,
     .applies = has_states,
     .edit = to_no_update,
     .edits = UPDATE,
     .turn = OPTIMIZER,
     .message = say_offload,
     .how = how_offload},
    {.id = "fused-update",
     .severity = "warning",
     .help = "an update that is the peak",
     .unless = "with an optimizer that has no fused version",
     .does = "pass fused=True to the optimizer",
     .cost = COST_FREE,
     .kind = COMBINES,
     .applies = update_peaks,
     .edit = to_fused,
     .edits = UPDATE,
     .turn = OPTIMIZER,
     .message = say_fused,
     .how = how_fused},
    {.id = "del-outputs",
     .severity = "warning",
     .help = "outputs of the last step that are still alive",
     .unless = "when the peak is in the backward pass, nothing changes, and memlint reports nothing",
     .does = "delete `out` and `loss` after their last use",
     .cost = COST_FREE,
     .kind = COMBINES,
     .applies = is_plain,
     .least = least_del,
     .edit = to_del,
     .edits = SETUP,
     .turn = BEHIND,
     .message = say_del,
     .how = how_del},
    {.id = "del-locals",
     .severity = "warning",
     .help = "local variables that hold tensors for nothing",
     .unless = "where autograd keeps the tensor anyway",
     .does = "delete local names in forward() after their last use",
     .cost = COST_FREE,
     .kind = COMBINES,
     .applies = in_forward,
     .edit = to_released,
     .edits = SETUP,
     .message = say_released,
     .how = how_locals},
    {.id = "zero-grad",
     .severity = "warning",
     .help = "gradients that live through the forward pass",
     .unless = "while accumulating",
     .does = "call zero_grad(set_to_none=True) before the forward pass",
     .cost = COST_FREE,
     .kind = COMBINES,
     .applies = keeps_gradients,
     .edit = to_plain,
     .edits = SETUP,
     .turn = BEHIND,
     .message = say_plain,
     .how = how_zero},
    {.id = "accumulate",
     .severity = "note",
     .help = "the batch in parts",
     .unless = "with batch norm, whose statistics are then those of a part; when parameters are the peak",
     .does = "run the batch in 4 parts and add up their gradients",
     .cost = COST_TIME,
     .kind = CHANGES,
     .applies = divides,
     .edit = to_4_parts,
     .edits = ANEW,
     .turn = FORWARD,
     .message = say_parts,
     .how = how_micro},
    {.id = "checkpoint",
     .severity = "note",
     .help = "saved tensors that recomputation replaces",
     .unless = "as long as a change that costs no time is enough",
     .doing = do_checkpoints,
     .cost = COST_TIME,
     .kind = COMBINES,
     .applies = can_recompute,
     .edit = to_checkpoints,
     .edits = TRACED,
     .message = say_checkpoints,
     .how = how_checkpoints},
    {.id = "in-place",
     .severity = "note",
     .help = "activations that could overwrite their input",
     .unless = "when its input is read elsewhere",
     .does = "run activations in place",
     .cost = COST_FREE,
     .kind = BELIEVED,
     .edit = edit_in_place,
     .message = say_in_place,
     .how = how_in_place},
    {.id = "conv-bias",
     .severity = "note",
     .help = "a bias before a batch norm",
     .unless = "never, but for loading old checkpoints",
     .does = "drop the biases before batch norms",
     .cost = COST_FREE,
     .kind = BELIEVED,
     .edit = edit_no_bias,
     .message = say_no_bias,
     .how = how_without},
    {.id = "unused-parameters",
     .severity = "warning",
     .help = "parameters that nothing reads",
     .unless = "when another path through the model uses them",
     .does = "drop the parameters that nothing reads",
     .cost = COST_FREE,
     .kind = COMBINES,
     .edit = edit_unused_parameters,
     .message = say_unused_parameters,
     .how = how_without},
    {.id = "unused-outputs",
     .severity = "note",
     .help = "outputs that the loss does not read",
     .unless = "when your own loss reads them: memlint knows only what `--loss` says",
     .does = "return no output that the loss does not read",
     .cost = COST_FREE,
     .kind = COMBINES,
     .edit = edit_unused_outputs,
     .message = say_unused_outputs},
    {.id = "fragmentation",
     .severity = "note",
     .help = "reserved far above allocated",
     .unless = "where CUDA graphs or memory pools are shared between processes",
     .does = "set expandable_segments:True",
     .cost = COST_FREE,
     .kind = RESERVES,
     .applies = is_fragmented,
     .edit = to_expandable,
     .edits = SETUP,
     .message = say_expandable,
     .how = how_expandable},
    {.id = "outliers",
     .severity = "note",
     .help = "layers whose activations or weights stand out",
     .cost = COST_FREE,
     .kind = INFORMS,
     .applies = has_outliers,
     .message = say_outliers},
    {.id = "evaluation",
     .severity = "note",
     .help = "the peak of evaluation, and without no_grad",
     .cost = COST_FREE,
     .kind = INFORMS,
     .applies = keeps_graph,
     .edit = to_inference,
     .edits = ANEW,
     .message = say_inference,
     .how = how_no_grad},
    {.id = "loss-item",
     .severity = "note",
     .help = "the leak total_loss += loss",
     .cost = COST_FREE,
     .kind = INFORMS,
     .applies = keeps_graph,
     .message = say_loss_item,
     .how = how_loss_item},
    {.id = "dimensions",
     .severity = "note",
     .help = "bytes per unit of the input's dimensions",
     .cost = COST_FREE,
     .kind = INFORMS,
     .applies = has_dims,
     .message = say_dims},
    {.id = "sharding",
     .severity = "note",
     .help = "FSDP over several GPUs",
     .cost = COST_GPUS,
     .kind = CHANGES,
     .edits = SETUP,
     .applies = is_alone,
     .edit = to_shards,
     .message = say_shards},
    {.id = "together",
     .severity = "note",
     .help = "the best changes at once",
     .does = "make these changes at once",
     .cost = COST_FREE,
     .kind = CHANGES},
};

void
rules_list(FILE *out)
{
    for (int i = 0; i < COUNT(rules); i++)
        fprintf(out, "%s\t%s\n", rules[i].id, rules[i].help);
}

/* ---- the pass ---------------------------------------------------------------------------------------------------- */

static double
extra_percent(const struct advice *x, const struct measured *m)
{
    double more = 3 * (m->flops - x->base.flops) + m->recomputed_flops - x->base.recomputed_flops;
    return x->base.flops > 0 ? 100 * more / (3 * x->base.flops) : 0; /* backward is twice the forward */
}

static void
add(struct advice *x, const struct rule *k, const struct edit *e, const struct measured *m)
{
    struct result *r = x->r;
    int64_t saves = x->base.allocated - m->allocated;
    bool changes = k->kind < INFORMS, small = saves * 20 < x->base.allocated || (k->minor && k->minor(x));
    struct finding *f = &r->findings[r->nfindings++];
    *f = (struct finding){.rule = k->id,
                          .help = k->help,
                          .does = !changes && k->kind != RESERVES ? NULL
                                  : k->doing                      ? k->doing(x)
                                                                  : k->does,
                          .unless = k->unless,
                          .cost = k->cost,
                          .severity = changes && small ? "note" : k->severity,
                          .certainty = "simulated",
                          .message = k->message(x, e, m),
                          .location = e->location,
                          .how = k->how ? k->how(x, e) : NULL,
                          .saves_bytes = changes && saves > 0 ? saves : 0,
                          .peak_after = changes ? m->allocated : -1,
                          .reserved_after = changes && k->edit ? m->reserved : -1,
                          .after = changes && k->edit ? arena_dup(x->a, &m->curve, sizeof(m->curve)) : NULL};
    if (changes && !e->reload)
        f->extra_flops_percent = extra_percent(x, m);
}

static const struct rule *
rule_of(const struct finding *f)
{
    for (int i = 0; i < COUNT(rules); i++)
        if (strcmp(rules[i].id, f->rule) == 0)
            return &rules[i];
    return NULL;
}

/* What asks less of its author first, then what saves more; what only informs last. */
static int
by_rank(const void *a, const void *b)
{
    const struct finding *f = a, *g = b;
    if ((f->saves_bytes > 0) != (g->saves_bytes > 0))
        return f->saves_bytes > 0 ? -1 : 1;
    if (f->saves_bytes > 0 && f->cost != g->cost)
        return f->cost < g->cost ? -1 : 1;
    if (f->saves_bytes != g->saves_bytes)
        return f->saves_bytes < g->saves_bytes ? 1 : -1;
    return rule_of(f) < rule_of(g) ? -1 : rule_of(f) > rule_of(g);
}

/* Several rules' edits of one program. */
static struct edit
edit_with(struct advice *x, struct arena *a, const struct rule **rule, int n)
{
    struct edit e = setup_of(x, a);
    for (int turn = -1; turn <= 1; turn++)
        for (int i = 0; i < n; i++)
            if ((rule[i]->edits == HEAD) - (rule[i]->edits == TRACED) == turn) {
                struct edit next = (rule[i]->edits < SETUP ? edit_new : edit_setup)(a, &e.setup, e.program);
                next.advice = x;
                rule[i]->edit(&next);
                e = next;
            }
    return e;
}

/* Of two that make the optimizer the last counts; how many are left. */
static int
without_replaced(const struct rule **chosen, const struct finding **of, int n)
{
    int kept = 0;
    for (int i = 0; i < n; i++) {
        if (i + 1 < n && chosen[i]->turn == OPTIMIZER && chosen[n - 1]->turn == OPTIMIZER)
            continue;
        chosen[kept] = chosen[i];
        of[kept++] = of[i];
    }
    return kept;
}

/* Those that leave the model as it is, the cheapest first, each only when it lowers the peak of those before it; they
 * lead the list. */
static void
combine(struct advice *x)
{
    struct result *r = x->r;
    struct measured best = x->base;
    const struct rule *chosen[COUNT(rules)], *k = &rules[COUNT(rules) - 1];
    const struct finding *of[COUNT(rules)];
    const char *does = "", *how = "", **members = NEWN(x->a, const char *, COUNT(rules));
    int n = 0;
    enum cost cost = COST_FREE;
    for (int i = 0; i < r->nfindings && r->findings[i].saves_bytes > 0; i++) {
        of[n] = &r->findings[i];
        chosen[n] = rule_of(of[n]);
        if (chosen[n]->kind != COMBINES || chosen[n]->cost == COST_MODEL)
            continue;
        struct arena *own = arena_new();
        struct measured m = x->alone[chosen[n] - rules];
        if (n) {
            struct edit e = edit_with(x, own, chosen, n + 1);
            e.setup.most = best.allocated - x->base.allocated / WORTH;
            m = measure(x, &e);
        }
        arena_free(own);
        if (m.allocated < 0 || best.allocated - m.allocated < x->base.allocated / WORTH)
            continue;
        best = m;
        n = without_replaced(chosen, of, n + 1);
    }
    for (int i = 0; i < n; i++) {
        cost = chosen[i]->cost > cost ? chosen[i]->cost : cost;
        does = arena_printf(x->a, "%s%s%s", does, i ? "; " : "", of[i]->does);
        members[i] = chosen[i]->id;
    }
    for (int turn = MODEL; turn <= BEHIND; turn++)
        for (int i = 0; i < n; i++)
            if ((int)chosen[i]->turn == turn && of[i]->how)
                how = arena_printf(x->a, "%s%s# %s\n%s", how, *how ? "\n\n" : "", chosen[i]->id, of[i]->how);
    if (n < 2)
        return;
    memmove(&r->findings[1], r->findings, sizeof(*r->findings) * (size_t)r->nfindings++);
    r->findings[0] =
        (struct finding){.rule = k->id,
                         .help = k->help,
                         .does = does,
                         .cost = cost,
                         .how = how,
                         .nmembers = n,
                         .members = members,
                         .severity = k->severity,
                         .certainty = "simulated",
                         .message = arena_printf(x->a, "%s: at once they peak at %s, %s less", does, peak(x, &best),
                                                 percent_of(x, x->base.allocated - best.allocated)),
                         .saves_bytes = x->base.allocated - best.allocated,
                         .peak_after = best.allocated,
                         .reserved_after = best.reserved,
                         .extra_flops_percent = extra_percent(x, &best),
                         .after = arena_dup(x->a, &best.curve, sizeof(best.curve))};
}

static void
run(struct advice *x, const struct rule *k)
{
    if (!k->message || (k->applies && !k->applies(x)))
        return;
    struct arena *own = arena_new();
    struct edit e = (k->edit && k->edits < SETUP ? edit_of : setup_of)(x, own);
    struct measured m = x->base;
    if (k->edit) {
        k->edit(&e);
        e.reload = k->edits == ANEW;
        e.setup.unreserved = k->kind == INFORMS;
        if (k->kind == CHANGES || k->kind == COMBINES)
            e.setup.most = x->base.allocated - x->base.allocated / WORTH;
        if (!e.places && k->edits < SETUP)
            m.allocated = -1;
        else if (k->least && k->least(x, &e) > e.setup.most)
            m.allocated = INT64_MAX;
        else
            m = e.known ? *e.known : (k->edits == UPDATE ? with_optimizer : measure)(x, &e);
        x->alone[k - rules] = m;
    }
    bool lowers = k->kind == RESERVES ? m.reserved < x->base.reserved
                                      : x->base.allocated - m.allocated > x->base.allocated / WORTH;
    if (m.allocated >= 0 && (lowers || k->kind == BELIEVED || k->kind == INFORMS))
        add(x, k, &e, &m);
    arena_free(own);
}

void
rules_run(struct study *s, struct result *r)
{
    struct advice x = {.s = s, .r = r, .a = s->a};
    x.base = (struct measured){.allocated = r->peak.allocated,
                               .reserved = r->peak.reserved,
                               .phase = r->peak.phase,
                               .flops = s->st->forward_flops,
                               .recomputed_flops = s->st->recomputed_flops};
    if (s->s->mode != MODE_TRAINING || r->provenance.none)
        return;
    if (study_is_large(s)) {
        struct assumption *said = NEWN(x.a, struct assumption, r->setup.nassumptions + 1);
        for (int i = 0; i < r->setup.nassumptions; i++)
            said[i] = r->setup.assumptions[i];
        said[r->setup.nassumptions++].text = arena_printf(
            x.a, "advice is not measured for a graph of more than %s values, or a step of more than %s events",
            count_text(x.a, MOST_VALUES), count_text(x.a, MOST_EVENTS));
        r->setup.assumptions = said;
        return;
    }
    r->findings = NEWN(x.a, struct finding, COUNT(rules) + 1);
    x.alone = NEWN(x.a, struct measured, COUNT(rules));
    for (int i = 0; i < COUNT(rules); i++) {
        study_tell(s, "trying changes", i, COUNT(rules));
        run(&x, &rules[i]);
    }
    qsort(r->findings, (size_t)r->nfindings, sizeof(*r->findings), by_rank);
    combine(&x);
}
