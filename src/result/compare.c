/* SPDX-License-Identifier: Apache-2.0 */
/* compare.c - two results: which layers and tensors are the same ones, and what became of them.
 *
 * Layers are matched from the model downwards, the children of a pair among themselves: by name and type, then by
 * structure (type, and the shapes of the parameters of everything below) in order, then by name alone, then by type in
 * order. What is left over on both sides and has the same structure has moved. So a renamed layer is a rename, an index
 * that shifted in a Sequential is no change of every layer behind it, and a ReLU that became a SiLU is a change of
 * type. Parameters, buffers and inputs of a pair are matched in the same way.
 *
 * Every tensor alive at a peak belongs to one layer or to OUTSIDE (inputs, loss, libraries, blocks not split), so the
 * increases of the layers add up to the increase of the peak. A layer that differs by itself - parameters, type, there
 * or not - is a cause; so is one that calls other operators. One that only holds more because of others isn't. What
 * was added or removed is told of the topmost layer.
 */
#include "result/passes.h"

#include <stdlib.h>
#include <string.h>

const char *const change_names[] = {"grew", "added", "removed", "renamed", "type", "shapes", "operators"};
const char OUTSIDE[] = "(outside of the model)";

enum { NOBODY = -1, TOLD = -2 }; /* of place.match */

struct place { /* a layer of one side; the last one stands for OUTSIDE */
    const char *path, *type, *location;
    const struct layer *layer;                     /* NULL: OUTSIDE */
    int parent, kid, last, sibling, match, tensor; /* first tensor alive at the peak */
    uint64_t structure;
    int64_t parameters, saved_bytes, peak_bytes; /* its own */
};

struct side {
    const struct result *r;
    int n;
    struct place *at;
    struct names *by_path;
    int *next; /* tensor of the same layer */
};

struct comparison {
    struct arena *a;
    struct side old, now;
    struct baseline *b;
    int cap, budget; /* of comparisons of structures: hostile models may have very many children */
};

/* ---- one side ---------------------------------------------------------------------------------------------------- */

static uint64_t
mix(uint64_t h, const void *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        h = (h ^ ((const unsigned char *)p)[i]) * UINT64_C(0x100000001b3);
    return h;
}

static uint64_t
mix_text(uint64_t h, const char *s)
{
    return mix(h, s ? s : "", s ? strlen(s) + 1 : 1);
}

static bool
same(const char *a, const char *b)
{
    return strcmp(a ? a : "", b ? b : "") == 0;
}

/* Of a parameter's or layer's path the part below path. */
static const char *
below(const char *path, const char *name)
{
    size_t n = path ? strlen(path) : 0;
    return name && n && strncmp(name, path, n) == 0 && name[n] == '.' ? name + n + 1 : name;
}

static bool
is_state(const struct live_tensor *t)
{
    return t->class == CLASS_PARAMETERS || t->class == CLASS_BUFFERS || t->class == CLASS_INPUTS;
}

static void
side_build(struct arena *a, struct side *s, const struct result *r)
{
    int n = r->nlayers, *at_depth = NEWN(a, int, n + 2);
    *s = (struct side){r, n + 1, NEWN(a, struct place, n + 1), names_new(a), NEWN(a, int, r->nlive + 1)};
    for (int i = 0; i <= n; i++) {
        const struct layer *l = i < n ? &r->layers[i] : &(struct layer){.path = OUTSIDE};
        struct place *p = &s->at[i];
        *p = (struct place){l->path, l->type, l->location,   i < n ? l : NULL, -1, -1, -1, -1, -1,
                            -1,      0,       l->parameters, l->saved_bytes,   0};
        if (i < n)
            names_put(s->by_path, p->path, i);
        if (i == n || l->depth == 0) {
            at_depth[0] = i;
            continue;
        }
        p->parent = at_depth[l->depth - 1];
        at_depth[l->depth] = i;
        struct place *up = &s->at[p->parent];
        *(up->last < 0 ? &up->kid : &s->at[up->last].sibling) = i;
        up->last = i;
        up->parameters -= l->parameters;
        up->saved_bytes -= l->saved_bytes;
    }
    for (int i = r->nlive - 1; i >= 0; i--) {
        int l = r->live[i].layer ? names_find(s->by_path, r->live[i].layer) : -1;
        struct place *p = &s->at[l < 0 ? n : l];
        int64_t slack = tensor_slack(&r->live[i]); /* it comes with the order of allocations, not with the layer */
        s->next[i] = p->tensor;
        p->tensor = i;
        p->peak_bytes = bytes_add(p->peak_bytes, r->live[i].bytes - slack);
        s->at[n].peak_bytes = bytes_add(s->at[n].peak_bytes, slack);
    }
    for (int i = n; i >= 0; i--) { /* children stand behind their parents */
        struct place *p = &s->at[i];
        uint64_t h = mix_text(UINT64_C(0xcbf29ce484222325), p->type);
        for (int t = p->tensor; t >= 0; t = s->next[t]) {
            const struct live_tensor *v = &r->live[t];
            if (v->class != CLASS_PARAMETERS)
                continue;
            h = mix_text(mix_text(h, below(p->path, v->name)), v->dtype);
            h = mix(h, v->shape, sizeof(*v->shape) * (size_t)(v->rank > 0 ? v->rank : 0));
        }
        for (int k = p->kid; k >= 0; k = s->at[k].sibling)
            h = mix(h, &s->at[k].structure, sizeof(h));
        p->structure = h;
    }
}

/* ---- layers ------------------------------------------------------------------------------------------------------ */

typedef bool likeness(const struct place *old, const struct place *now);

static bool
like_structure(const struct place *old, const struct place *now)
{
    return old->structure == now->structure;
}

static bool
like_type(const struct place *old, const struct place *now)
{
    return old->type && same(old->type, now->type);
}

static void
match_pair(struct comparison *c, int old, int now)
{
    c->old.at[old].match = now;
    c->now.at[now].match = old;
}

/* Children of the same name, of the same type if asked. */
static void
match_names(struct comparison *c, int old, int now, bool typed)
{
    const struct place *up = &c->old.at[old];
    for (int k = c->now.at[now].kid; k >= 0; k = c->now.at[k].sibling) {
        const struct place *p = &c->now.at[k];
        const char *leaf = below(c->now.at[now].path, p->path);
        const char *path = *up->path ? arena_printf(c->a, "%s.%s", up->path, leaf) : leaf;
        int o = p->match < 0 ? names_find(c->old.by_path, path) : -1;
        if (o >= 0 && c->old.at[o].parent == old && c->old.at[o].match < 0 &&
            (!typed || same(c->old.at[o].type, p->type)))
            match_pair(c, o, k);
    }
}

static void
match_like(struct comparison *c, int old, int now, likeness *like)
{
    int k = c->now.at[now].kid;
    for (int o = c->old.at[old].kid; o >= 0; o = c->old.at[o].sibling)
        for (int i = c->old.at[o].match < 0 ? k : -1; i >= 0 && c->budget > 0; i = c->now.at[i].sibling, c->budget--)
            if (c->now.at[i].match < 0 && like(&c->old.at[o], &c->now.at[i])) {
                match_pair(c, o, i);
                break;
            }
}

/* Everything below a pair: parents stand before their children, so one pass over the ids does. */
static void
match_below(struct comparison *c, int from)
{
    for (int i = from; i < c->now.n - 1; i++) {
        int old = c->now.at[i].match;
        if (old < 0)
            continue;
        match_names(c, old, i, true);
        match_like(c, old, i, like_structure);
        match_names(c, old, i, false);
        match_like(c, old, i, like_type);
    }
}

static void
match_layers(struct comparison *c)
{
    match_pair(c, c->old.n - 1, c->now.n - 1);
    if (c->old.n > 1 && c->now.n > 1)
        match_pair(c, 0, 0);
    match_below(c, 0);
    for (int i = 0; i < c->now.n - 1; i++) { /* moved elsewhere */
        if (c->now.at[i].match >= 0 || c->now.at[i].peak_bytes == 0)
            continue;
        for (int o = 0; o < c->old.n - 1 && c->now.at[i].match < 0 && c->budget > 0; o++, c->budget--)
            if (c->old.at[o].match < 0 && c->old.at[o].peak_bytes && like_structure(&c->old.at[o], &c->now.at[i]))
                match_pair(c, o, i);
        if (c->now.at[i].match >= 0) {
            match_below(c, i);
            c->budget -= c->now.n;
        }
    }
}

/* ---- tensors ----------------------------------------------------------------------------------------------------- */

static bool
same_shape(const struct live_tensor *a, const struct live_tensor *b)
{
    return a->rank == b->rank && same(a->dtype, b->dtype) &&
           (a->rank <= 0 || memcmp(a->shape, b->shape, sizeof(*a->shape) * (size_t)a->rank) == 0);
}

static struct tensor_state
state(const struct live_tensor *t, const struct place *p)
{
    return t ? (struct tensor_state){below(p->path, t->name), t->dtype, t->rank, t->shape, t->bytes}
             : (struct tensor_state){0};
}

/* Tensors of a pair; either side may be NULL. By name, then by shape, then the rest in order. */
static void
match_tensors(struct comparison *c, const struct place *old, const struct place *now, struct layer_change *l)
{
    enum { LIMIT = 2048 };
    const struct live_tensor *was[LIMIT], *is[LIMIT];
    int n = 0, m = 0, cap = l->ntensors;
    for (int t = old ? old->tensor : -1; t >= 0 && n < LIMIT; t = c->old.next[t])
        if (is_state(&c->old.r->live[t]))
            was[n++] = &c->old.r->live[t];
    for (int t = now ? now->tensor : -1; t >= 0 && m < LIMIT; t = c->now.next[t])
        if (is_state(&c->now.r->live[t]))
            is[m++] = &c->now.r->live[t];
    for (int pass = 0; pass < 4; pass++)
        for (int i = 0; i < n; i++)
            for (int k = 0; was[i] && k < m; k++) {
                if (!is[k] || was[i]->class != is[k]->class)
                    continue;
                bool named = same(below(old->path, was[i]->name), below(now->path, is[k]->name));
                bool shaped = same_shape(was[i], is[k]);
                if (!(pass == 0   ? named && shaped
                      : pass == 1 ? named
                      : pass == 2 ? shaped
                                  : was[i]->rank == is[k]->rank))
                    continue;
                if (pass)
                    *PUSH(c->a, l->tensors, l->ntensors, cap) =
                        (struct tensor_change){is[k]->class, state(was[i], old), state(is[k], now)};
                was[i] = is[k] = NULL;
            }
    for (int i = 0; i < n + m; i++) {
        /* cppcheck-suppress uninitvar */
        const struct live_tensor *o = i < n ? was[i] : NULL, *k = i < n ? NULL : is[i - n];
        if (o || k)
            *PUSH(c->a, l->tensors, l->ntensors, cap) =
                (struct tensor_change){o ? o->class : k->class, state(o, old), state(k, now)};
    }
}

/* ---- what changed ------------------------------------------------------------------------------------------------ */

static void
add(struct layer_state *s, const struct place *p)
{
    s->path = s->path ? s->path : p->path;
    s->type = s->type ? s->type : p->type;
    s->parameters += p->parameters;
    s->saved_bytes += p->saved_bytes;
    s->peak_bytes = bytes_add(s->peak_bytes, p->peak_bytes);
}

/* Where the layer is called, or the largest tensor comes from that is no parameter's. */
static const char *
line_of(const struct side *s, const struct place *p, bool largest)
{
    const char *line = p->location && !largest ? p->location : NULL;
    for (int t = p->tensor; t >= 0 && !line && p != &s->at[s->n - 1]; t = s->next[t])
        line = is_state(&s->r->live[t]) ? NULL : s->r->live[t].location;
    return line ? line : p->location;
}

static bool
reshaped(const struct layer_change *l)
{
    for (int i = 0; i < l->ntensors; i++)
        if (l->tensors[i].old.bytes != l->tensors[i].now.bytes || l->tensors[i].old.rank != l->tensors[i].now.rank)
            return true;
    return l->old.parameters != l->now.parameters;
}

/* The operators that b calls more often than a, in its order. *line: where the first of them is called. */
static const char *
more_operators(struct arena *a, const struct layer *from, const struct layer *to, const char **line)
{
    const char *s = NULL;
    for (int i = 0; i < to->nops; i++) {
        int more = to->ops[i].count;
        for (int k = 0; k < from->nops; k++)
            more -= same(from->ops[k].name, to->ops[i].name) ? from->ops[k].count : 0;
        if (more <= 0)
            continue;
        if (!s)
            *line = to->ops[i].location;
        s = arena_printf(a, "%s%s%s", s ? s : "", s ? ", " : "", to->ops[i].name);
        if (more > 1)
            s = arena_printf(a, "%s x %d", s, more);
    }
    return s;
}

static const char *
compare_operators(struct arena *a, const struct place *old, const struct place *now, const char **line)
{
    const char *gone_line = NULL;
    if (!old->layer || !now->layer || !old->layer->nops || !now->layer->nops)
        return NULL;
    const char *more = more_operators(a, old->layer, now->layer, line);
    const char *gone = more_operators(a, now->layer, old->layer, &gone_line);
    return more && gone ? arena_printf(a, "%s -> %s", gone, more)
           : more       ? arena_printf(a, "%s added", more)
           : gone       ? arena_printf(a, "%s removed", gone)
                        : NULL;
}

static void
pair_change(struct comparison *c, const struct place *old, const struct place *now)
{
    struct layer_change l = {.kind = CHANGE_GREW};
    add(&l.old, old);
    add(&l.now, now);
    match_tensors(c, old, now, &l);
    bool child = now->parent >= 0 && c->now.at[now->parent].match == old->parent &&
                 same(below(c->now.at[now->parent].path, now->path), below(c->old.at[old->parent].path, old->path));
    bool typed = old->type && now->type && !same(old->type, now->type);
    const char *line = NULL;
    l.renamed = !same(old->path, now->path) && !child;
    l.operators = compare_operators(c->a, old, now, &line);
    l.kind = reshaped(&l)  ? CHANGE_SHAPES
             : typed       ? CHANGE_TYPE
             : l.operators ? CHANGE_OPERATORS
             : l.renamed   ? CHANGE_RENAMED
             : l.ntensors  ? CHANGE_SHAPES
                           : CHANGE_GREW;
    l.cause = l.kind == CHANGE_SHAPES || l.kind == CHANGE_TYPE || l.kind == CHANGE_OPERATORS;
    l.location = l.kind == CHANGE_OPERATORS && line ? line : line_of(&c->now, now, !l.cause);
    if (l.kind != CHANGE_GREW || old->peak_bytes != now->peak_bytes || old->saved_bytes != now->saved_bytes)
        *PUSH(c->a, c->b->layers, c->b->nlayers, c->cap) = l;
}

/* A layer without a counterpart, and what below it has none either. */
static void
lone_change(struct comparison *c, struct side *s, int top, enum change kind)
{
    struct layer_change l = {.kind = kind, .cause = true, .location = s->at[top].location};
    struct layer_state *state = kind == CHANGE_ADDED ? &l.now : &l.old;
    for (int i = top; i < s->n - 1; i++) {
        struct place *p = &s->at[i];
        if (i > top && p->parent < top)
            break;
        if (i > top && (p->match >= 0 || s->at[p->parent].match != TOLD))
            continue;
        p->match = TOLD;
        add(state, p);
        if (l.ntensors < 64)
            match_tensors(c, kind == CHANGE_ADDED ? NULL : p, kind == CHANGE_ADDED ? p : NULL, &l);
    }
    *PUSH(c->a, c->b->layers, c->b->nlayers, c->cap) = l;
}

static int64_t
size(int64_t x)
{
    return x < 0 ? -x : x;
}

static int
by_weight(const void *x, const void *y)
{
    const struct layer_change *a = x, *b = y;
    int64_t p = size(a->now.peak_bytes - a->old.peak_bytes), q = size(b->now.peak_bytes - b->old.peak_bytes);
    int64_t s = size(a->now.saved_bytes - a->old.saved_bytes), t = size(b->now.saved_bytes - b->old.saved_bytes);
    bool out = a->now.path == OUTSIDE, last = b->now.path == OUTSIDE;
    if (a->cause != b->cause)
        return a->cause ? -1 : 1;
    if (out != last && !a->cause)
        return out ? 1 : -1;
    if (p != q || s != t)
        return p != q ? (p < q ? 1 : -1) : s < t ? 1 : -1;
    return strcmp(a->now.path ? a->now.path : a->old.path, b->now.path ? b->now.path : b->old.path);
}

/* ---- tensors ----------------------------------------------------------------------------------------------------- */

/* A tensor's name as its counterpart has it: with the path that its layer had, numbers as *, and without one at its
 * end. */
static const char *
plain_name(struct comparison *c, const struct side *s, const struct live_tensor *t)
{
    const char *name = t->name ? t->name : "";
    int l = t->layer && s == &c->now ? names_find(s->by_path, t->layer) : -1;
    const char *was = l >= 0 && s->at[l].match >= 0 ? c->old.at[s->at[l].match].path : NULL;
    const char *at = was && *s->at[l].path ? strstr(name, s->at[l].path) : NULL;
    if (at)
        name = arena_printf(c->a, "%.*s%s%s", (int)(at - name), name, was, at + strlen(s->at[l].path));
    char *out = arena_str(c->a, name), *o = out;
    for (const char *p = out; *p;) {
        size_t digits = strspn(p + (*p == '_'), "0123456789");
        if (digits && *p == '_' && !p[1 + digits])
            break;
        if (digits && *p != '_') {
            *o++ = '*';
            p += digits;
        } else {
            *o++ = *p++;
        }
    }
    *o = '\0';
    return out;
}

static void
count_tensors(struct comparison *c, const struct side *s, struct names *seen, int *cap)
{
    struct baseline *b = c->b;
    for (int i = 0; i < s->r->nlive; i++) {
        const struct live_tensor *t = &s->r->live[i];
        const char *name = plain_name(c, s, t), *key = arena_printf(c->a, "%d %s", (int)t->class, name);
        int at = names_find(seen, key);
        if (at < 0) {
            names_put(seen, key, at = b->ngrown);
            *PUSH(c->a, b->grown, b->ngrown, *cap) = (struct tensor_growth){.name = name, .class = t->class};
        }
        struct tensor_growth *g = &b->grown[at];
        int64_t *bytes = s == &c->now ? &g->now_bytes : &g->old_bytes;
        *bytes = bytes_add(*bytes, t->bytes);
        ++*(s == &c->now ? &g->now_count : &g->old_count);
    }
}

static int
by_growth(const void *x, const void *y)
{
    const struct tensor_growth *a = x, *b = y;
    int64_t p = size(a->now_bytes - a->old_bytes), q = size(b->now_bytes - b->old_bytes);
    return p != q ? (p < q ? 1 : -1) : a->class != b->class ? (int)a->class - (int)b->class : strcmp(a->name, b->name);
}

static void
compare_tensors(struct comparison *c)
{
    struct baseline *b = c->b;
    struct names *seen = names_new(c->a);
    int cap = 0;
    count_tensors(c, &c->now, seen, &cap);
    count_tensors(c, &c->old, seen, &cap);
    if (b->ngrown)
        qsort(b->grown, (size_t)b->ngrown, sizeof(*b->grown), by_growth);
    while (b->ngrown && b->grown[b->ngrown - 1].old_bytes == b->grown[b->ngrown - 1].now_bytes)
        b->ngrown--;
}

/* ---- who did it -------------------------------------------------------------------------------------------------- */

struct share { /* a module and what became of everything below it at the peak */
    const char *path;
    int parent;
    int64_t bytes;
};

/* Adds a layer's increase to the modules that its path goes through, up to a depth that no model of people has. */
static void
share_out(struct comparison *c, struct share **all, int *n, int *cap, struct names *seen, const struct layer_change *l)
{
    enum { DEEP = 24 };
    const char *path = l->now.path ? l->now.path : l->old.path;
    int64_t bytes = l->now.peak_bytes - l->old.peak_bytes;
    (*all)[0].bytes += bytes;
    size_t end = 0;
    for (int parent = 0, depth = 0; path[end] && depth < DEEP; depth++) {
        end += end > 0;
        end += path == OUTSIDE ? strlen(path) : strcspn(path + end, ".");
        const char *key = arena_strn(c->a, path, end);
        int at = names_find(seen, key);
        if (at < 0) {
            names_put(seen, key, at = *n);
            *PUSH(c->a, *all, *n, *cap) = (struct share){.path = key, .parent = parent};
        }
        (*all)[at].bytes += bytes;
        parent = at;
    }
}

/* From the model downwards to whoever adds most, as long as it is more than half of what its parent adds. */
static void
blame(struct comparison *c)
{
    struct baseline *b = c->b;
    struct share *all = NEW(c->a, struct share);
    struct names *seen = names_new(c->a);
    int n = 1, cap = 1, at = 0;
    int64_t sign = b->increase_bytes < 0 ? -1 : 1;
    all[0].path = "";
    b->first = -1;
    for (int i = 0; i < b->nlayers; i++) {
        const struct layer_change *l = &b->layers[i];
        share_out(c, &all, &n, &cap, seen, l);
        if (b->first < 0 && l->cause && (l->now.peak_bytes - l->old.peak_bytes) * sign >= 0)
            b->first = i;
    }
    for (bool deeper = true; deeper;) {
        int next = -1;
        for (int i = 1; i < n; i++)
            if (all[i].parent == at && (next < 0 || all[i].bytes * sign > all[next].bytes * sign))
                next = i;
        deeper = next >= 0 && all[next].bytes * sign > (at ? all[at].bytes * sign / 2 : 0);
        at = deeper ? next : at;
    }
    if (all[at].bytes * sign > 0) {
        b->most = all[at].path;
        b->most_bytes = all[at].bytes;
    }
}

/* ---- findings ---------------------------------------------------------------------------------------------------- */

void
compare_findings(const struct result *old, struct result *now)
{
    for (int i = 0; i < now->nfindings; i++)
        for (int k = 0; k < old->nfindings; k++) {
            struct finding *f = &now->findings[i];
            const struct finding *was = &old->findings[k];
            bool as_large = (double)f->saves_bytes <= 1.1 * (double)was->saves_bytes;
            f->known |= same(was->rule, f->rule) && (as_large || same(was->location, f->location));
        }
}

static const struct curve *
curve_of_result(struct arena *a, const struct result *r)
{
    int64_t *bytes = NEWN(a, int64_t, r->ninstants + 1);
    enum phase *phase = NEWN(a, enum phase, r->ninstants + 1);
    for (int i = 0; i < r->ninstants; i++) {
        bytes[i] = instant_bytes(&r->instants[i]);
        phase[i] = r->instants[i].phase;
    }
    struct curve c = curve_of(r->ninstants, bytes, phase);
    return r->ninstants ? arena_dup(a, &c, sizeof(c)) : NULL;
}

static void
differs(struct comparison *c, const char *what, const char *old, const char *now)
{
    int cap = c->b->ndiffers;
    if (!same(old, now))
        *PUSH(c->a, c->b->differs, c->b->ndiffers, cap) =
            arena_printf(c->a, "%s %s, now %s", what, old ? old : "unknown", now ? now : "unknown");
}

static void
compare_setups(struct comparison *c)
{
    const struct result *old = c->old.r, *now = c->now.r;
    for (int i = 0; i < old->setup.nchoices && i < now->setup.nchoices; i++) /* the rows of one table */
        differs(c, old->setup.choices[i].name, old->setup.choices[i].value, now->setup.choices[i].value);
    for (int i = 0; i < old->setup.ndims; i++)
        for (int k = 0; k < now->setup.ndims; k++)
            if (same(old->setup.dims[i].name, now->setup.dims[k].name))
                differs(c, old->setup.dims[i].name, arena_printf(c->a, "%lld", (long long)old->setup.dims[i].n),
                        arena_printf(c->a, "%lld", (long long)now->setup.dims[k].n));
}

struct baseline *
compare_run(struct arena *a, const struct result *old, const struct result *now)
{
    struct comparison c = {.a = a, .b = NEW(a, struct baseline), .budget = 10000000};
    struct baseline *b = c.b;
    b->file = old->model.file;
    b->version = old->version;
    b->peak = old->peak.allocated;
    b->phase = old->peak.phase;
    b->op = old->peak.op;
    b->parameters = old->model.parameters;
    b->ndoubts = old->ndoubts;
    b->peak_least = old->peak.certain;
    b->peak_most = old->ndoubts ? old->peak.most : old->peak.allocated;
    b->alike = old->ndoubts == now->ndoubts;
    for (int i = 0; i < now->ndoubts && b->alike; i++) {
        const char *was = old->doubts[i].assumed, *is = now->doubts[i].assumed;
        b->alike = was && is && strcmp(was, is) == 0;
    }
    memcpy(b->class_bytes, old->class_bytes, sizeof(b->class_bytes));
    b->increase_bytes = now->peak.allocated - b->peak;
    b->increase_percent = b->peak > 0 ? 100.0 * (double)b->increase_bytes / (double)b->peak : 0;
    side_build(a, &c.old, old);
    side_build(a, &c.now, now);
    compare_setups(&c);
    match_layers(&c);
    for (int i = 0; i < c.now.n; i++)
        if (c.now.at[i].match >= 0)
            pair_change(&c, &c.old.at[c.now.at[i].match], &c.now.at[i]);
    for (int i = 0; i < c.now.n - 1; i++)
        if (c.now.at[i].match == NOBODY)
            lone_change(&c, &c.now, i, CHANGE_ADDED);
    for (int i = 0; i < c.old.n - 1; i++)
        if (c.old.at[i].match == NOBODY)
            lone_change(&c, &c.old, i, CHANGE_REMOVED);
    if (b->nlayers)
        qsort(b->layers, (size_t)b->nlayers, sizeof(*b->layers), by_weight);
    blame(&c);
    compare_tensors(&c);
    b->curve = curve_of_result(a, old);
    return b;
}
