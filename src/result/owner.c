/* SPDX-License-Identifier: Apache-2.0 */
/* owner.c - what tensors are to whoever wrote the program: the logits, a gradient, an optimizer's state.
 *
 * Operators' names say how a tensor came about, which nobody who wrote `loss = F.cross_entropy(out, y)` has to know.
 * What the loss reads has a name (the column `reads` of its row in aten.c), and what the loss and its backward pass
 * make of the same size is a copy or a gradient of it. Everything else is told by its class and its module. The same
 * words make the cause of a peak: its tensors in a few groups, the largest first.
 */
#include "base/setup.h"
#include "result/passes.h"

#include <stdlib.h>
#include <string.h>

struct read { /* by a loss */
    const char *what;
    int64_t elements;
    const struct call *maker, *loss; /* loss NULL: the step's own */
};

struct owner {
    struct arena *a;
    const struct program *p;
    const struct setup *s;
    int nreads, cap_reads;
    struct read *reads;
};

static int64_t
product(int rank, const int64_t *size)
{
    int64_t n = rank >= 0 && rank <= SHOWN_RANK;
    for (int i = 0; i < rank && n; i++)
        n = mul_ok(n, size[i], &n) ? n : 0;
    return n;
}

static void
add_read(struct owner *o, const char *what, int64_t slot, const struct call *loss)
{
    for (int i = 0; i < o->p->ncalls && what; i++) {
        const struct call *c = &o->p->calls[i];
        int64_t n = product(c->rank, c->size);
        if (c->outs[0] == slot && n > 1) {
            *PUSH(o->a, o->reads, o->nreads, o->cap_reads) = (struct read){what, n, c, loss};
            return;
        }
    }
}

struct owner *
owner_new(struct arena *a, const struct program *p, const struct setup *s)
{
    struct owner *o = NEW(a, struct owner);
    *o = (struct owner){.a = a, .p = p, .s = s};
    const struct loss **of = loss_of(a, p, s);
    for (int i = 0; i < p->noutputs && s->mode == MODE_TRAINING; i++)
        if (of[i])
            add_read(o, loss_reads(of[i]), p->outputs[i].slot, NULL);
    for (int i = 0; i < p->ncalls; i++) {
        const struct call *c = &p->calls[i];
        if (c->op && c->op->reads && c->nargs && c->args[0].kind == ARG_SLOT)
            add_read(o, c->op->reads, c->args[0].i, c);
    }
    return o;
}

bool
owner_in_loss(const struct owner *o, enum phase phase, const struct call *c)
{
    bool own = phase == PHASE_LOSS || (phase == PHASE_BACKWARD && !c) || (c && c->in_loss);
    for (int i = 0; i < o->nreads && c && !own; i++)
        own = o->reads[i].loss == c;
    return own;
}

/* What the storage is a copy or a gradient of; NULL nothing that a loss reads. */
static const struct read *
read_of(const struct owner *o, const struct storage *s)
{
    bool other = s->class == CLASS_PARAMETERS || s->class == CLASS_INPUTS || s->class == CLASS_GRADIENTS ||
                 s->class == CLASS_OPTIMIZER || s->class == CLASS_WORKSPACE || s->phase == PHASE_UPDATE;
    for (int i = 0; i < o->nreads && !other; i++) {
        const struct read *r = &o->reads[i];
        if (product(s->rank, s->size) == r->elements &&
            (s->class == CLASS_OUTPUTS || s->call == r->maker || owner_in_loss(o, s->phase, s->call)))
            return r;
    }
    return NULL;
}

/* Operators by the names that people call them by. */
static const struct {
    const char *inner, *called;
} spoken[] = {
    {"_native_batch_norm_legit_no_training", "batch_norm"},
    {"_native_batch_norm_legit_functional", "batch_norm"},
    {"_native_batch_norm_legit", "batch_norm"},
    {"native_batch_norm", "batch_norm"},
    {"cudnn_batch_norm", "batch_norm"},
    {"native_layer_norm", "layer_norm"},
    {"native_group_norm", "group_norm"},
    {"native_dropout", "dropout"},
    {"_log_softmax", "log_softmax"},
    {"_softmax", "softmax"},
    {"_to_copy", "to"},
    {"_scaled_dot_product_flash_attention", "scaled_dot_product_attention"},
    {"_scaled_dot_product_efficient_attention", "scaled_dot_product_attention"},
};

/* An operator's name, "add" or "add_7", as people call it; of a node that begins with its scope, "/conv/Conv", the end,
 * since the module stands beside it. */
static const char *
called(const struct owner *o, const char *name)
{
    const char *end = name && *name == '/' ? strrchr(name, '/') + 1 : NULL;
    name = end && *end ? end : name;
    for (int i = 0; i < COUNT(spoken) && name; i++) {
        const char *inner = spoken[i].inner, *rest = name;
        for (; *inner && *inner == *rest; inner++)
            rest++;
        if (!*inner && (!*rest || *rest == '_'))
            return arena_printf(o->a, "%s%s", spoken[i].called, rest);
    }
    return name;
}

/* The operator that made it, without its overload; of one that runs backward the operator it belongs to. */
static const char *
maker(const struct owner *o, const struct storage *s)
{
    const char *op = s->op ? s->op : "", *back = strstr(op, "_backward");
    return called(o, arena_strn(o->a, op, back ? (size_t)(back - op) : strcspn(op, ".")));
}

const char *
owner_name(const struct owner *o, const struct storage *s)
{
    const char *of = called(o, s->name ? s->name : s->call && s->call->name ? s->call->name : s->op);
    const char *op = maker(o, s);
    const struct read *r = read_of(o, s);
    bool in_loss = owner_in_loss(o, s->phase, s->call);
    if (s->class == CLASS_WORKSPACE)
        return s->name || !s->op ? s->name : arena_printf(o->a, "scratch of %s%s", aten_space(s->op), s->op);
    if (r && s->phase == PHASE_BACKWARD)
        return arena_printf(o->a, "gradient of the %s (%s)", r->what, op);
    if (r)
        return in_loss ? arena_printf(o->a, "%s, in the loss (%s)", r->what, op)
                       : arena_printf(o->a, "%s (%s)", r->what, of);
    if (s->class == CLASS_GRADIENTS)
        return arena_printf(o->a, "gradient of %s", of);
    if (s->class == CLASS_OPTIMIZER)
        return arena_printf(o->a, "optimizer state of %s", of);
    if (s->phase == PHASE_UPDATE)
        return arena_printf(o->a, "temporary in the update of %s", of);
    if (s->phase == PHASE_BACKWARD)
        return in_loss ? arena_printf(o->a, "gradient in the loss (%s)", op)
                       : arena_printf(o->a, "gradient in the backward of %s", of);
    return of;
}

/* ---- the cause of a peak ----------------------------------------------------------------------------------------- */

/* The modules alike ("blocks.*") that keep most of what is saved at the peak, the finest that have nearly all of what
 * coarser ones have: "most of them in the 12 modules blocks.*"; NULL where no such have half. */
static const char *
most_in(const struct owner *o, int64_t total, const int64_t *bytes)
{
    const struct program *p = o->p;
    struct names *ids = names_new(o->a);
    struct alike {
        const char *name;
        int64_t bytes;
        int count, depth;
    } *all = NEWN(o->a, struct alike, p->nmodules + 1), *best = NULL;
    int n = 0;
    for (int i = 1; i < p->nmodules; i++) {
        if (bytes[i] <= 0)
            continue;
        const char *name = string_module_pattern(o->a, p->modules[i].path);
        int id = names_find(ids, name), depth = 0;
        for (const char *dot = name; (dot = strchr(dot, '.')); dot++)
            depth++;
        if (id < 0) {
            names_put(ids, name, id = n++);
            all[id] = (struct alike){.name = name, .depth = depth};
        }
        all[id].bytes = bytes_add(all[id].bytes, bytes[i]);
        all[id].count++;
    }
    for (int i = 0; i < n; i++)
        if (all[i].count > 1 && all[i].bytes > total / 2 && (!best || all[i].bytes > best->bytes))
            best = &all[i];
    for (int i = 0; i < n && best; i++)
        if (all[i].count > 1 && all[i].depth > best->depth && all[i].bytes > best->bytes / 10 * 9)
            best = &all[i];
    return best ? arena_printf(o->a, "most of them in the %d modules %s", best->count,
                               string_quote(o->a, best->name, 80))
                : NULL;
}

/* "parameters, gradients and adamw's states" */
static const char *
state_text(const struct owner *o, const int64_t *bytes)
{
    const struct {
        enum class class;
        const char *text;
    } parts[] = {{CLASS_PARAMETERS, "parameters"},
                 {CLASS_GRADIENTS, "gradients"},
                 {CLASS_OPTIMIZER, arena_printf(o->a, "%s's states", optimizer_text(o->s->optimizer))}};
    const char *s = "";
    int left = 0;
    for (int i = 0; i < COUNT(parts); i++)
        left += bytes[parts[i].class] > 0;
    for (int i = 0; i < COUNT(parts); i++)
        if (bytes[parts[i].class] > 0)
            s = arena_printf(o->a, "%s%s%s", s, parts[i].text, --left == 0 ? "" : left == 1 ? " and " : ", ");
    return s;
}

static int
by_bytes(const void *a, const void *b)
{
    const struct held *h = a, *k = b;
    return h->bytes != k->bytes ? (h->bytes < k->bytes ? 1 : -1) : strcmp(h->what, k->what);
}

void
owner_held(const struct owner *o, const struct step *st, const struct live *l, struct result *r)
{
    enum { STATE = CLASS_COUNT, LISTS, OTHERS /* what losses read comes behind */ };
    const struct machine *m = st->m;
    struct held *h = NEWN(o->a, struct held, OTHERS + o->nreads + 1);
    int64_t *saved = NEWN(o->a, int64_t, o->p->nmodules + 1), state[CLASS_COUNT] = {0};
    static const char *const called[CLASS_COUNT] = {[CLASS_BUFFERS] = "buffers",
                                                    [CLASS_SAVED] =
                                                        "activations that the model saves for the backward pass",
                                                    [CLASS_TEMPORARIES] = "temporaries of the operators that run",
                                                    [CLASS_WORKSPACE] = "workspaces of cuBLAS and other libraries",
                                                    [CLASS_INPUTS] = "the tensors of the batch",
                                                    [CLASS_OUTPUTS] = "the model's outputs"};
    for (int i = 0; i < m->nst; i++) {
        const struct storage *s = m->st[i];
        const struct read *q = l->alive[i] ? read_of(o, s) : NULL;
        if (!l->alive[i])
            continue;
        bool is_state = s->class == CLASS_PARAMETERS || s->class == CLASS_GRADIENTS || s->class == CLASS_OPTIMIZER;
        bool is_list = s->phase == PHASE_UPDATE && s->class == CLASS_TEMPORARIES;
        struct held *to = &h[q ? OTHERS + (int)(q - o->reads) : is_state ? STATE : is_list ? LISTS : (int)s->class];
        to->each = to->count == 0 || to->each == s->bytes ? s->bytes : -1;
        to->bytes = bytes_add(to->bytes, s->bytes);
        to->count++;
        state[s->class] = bytes_add(state[s->class], s->bytes);
        for (int at = s->call ? s->call->scope : -1; at >= 0 && !q && s->class == CLASS_SAVED;
             at = o->p->modules[at].parent)
            saved[at] = bytes_add(saved[at], s->bytes);
    }
    for (int i = 0; i < OTHERS + o->nreads; i++) {
        struct held *to = &h[i];
        if (!to->count)
            continue;
        to->what = i < CLASS_COUNT ? called[i]
                   : i == STATE    ? state_text(o, state)
                   : i == LISTS    ? "lists of temporaries that optimizer.step() makes"
                   : to->count > 1 ? arena_printf(o->a, "copies of the %s", o->reads[i - OTHERS].what)
                                   : arena_printf(o->a, "the %s", o->reads[i - OTHERS].what);
        to->counted = i >= OTHERS && to->count > 1;
        to->most = i == CLASS_SAVED ? most_in(o, to->bytes, saved) : NULL;
        h[r->nheld++] = *to;
    }
    qsort(h, (size_t)r->nheld, sizeof(*h), by_bytes);
    r->held = h;
}
