/* SPDX-License-Identifier: Apache-2.0 */
/* computed.c - constants that the exporter computed from parameters and buffers, and left alone.
 *
 * A name of a call's arguments is a constant in the file: what was computed, looked up, sliced or selected of a
 * parameter that no text names then. The line that reads it, its sizes and the parameters left over tell of which, and
 * the calls are put back.
 */
#include "lower/dynamo.h"
#include "torch/torch.h"

#include <ctype.h>
#include <string.h>

/* Whether a line has that text, which ends in a name, and none of these behind it. */
static bool
line_has(const char *line, const char *text, const char *unless)
{
    const size_t n = strlen(text);
    for (const char *p = line; (p = strstr(p, text)); p += n)
        if (!isalnum((unsigned char)p[n]) && !(p[n] && strchr(unless, p[n])))
            return true;
    return false;
}

/* Whether the group's line reads that parameter of its module, or of one below that it does not call: "self.gamma",
 * "self.queries.weight", with what stands behind it or before. */
bool
computed_read_here(const struct dynamo *d, const struct group *g, const struct param *q, const char *before,
                   const char *behind)
{
    struct arena *a = d->l->a;
    const char *path = g->path ? g->path : "", *leaf = q->name + (*path ? strlen(path) + 1 : 0);
    if (!path_within(d->l->p->modules[q->module].path, path))
        return false;
    return line_has(fx_line_at(d, g->last), arena_printf(a, "%sself.%s%s", before, leaf, behind), "_");
}

/* Whether the group may read it by its name: it is its module's, or its line has it. */
bool
computed_named_here(const struct dynamo *d, const struct group *g, const struct param *q)
{
    return strcmp(d->l->p->modules[q->module].path, g->path ? g->path : "") == 0 || computed_read_here(d, g, q, "", "");
}

/* Whether the parameter's module looked something up, in a table under another name: they are tied. */
static bool
looked_up_as_another(const struct dynamo *d, const struct param *q)
{
    bool as_another = false;
    for (int i = 0; i < d->ngroups && !as_another; i++) {
        const struct group *g = &d->groups[i];
        const size_t n = g->path ? strlen(g->path) : 0;
        as_another =
            n && spelled(g->target, LOOKS_UP) && starts_with(q->name, g->path) && strcmp(q->name + n, ".weight") == 0;
    }
    return as_another;
}

/* Whether the line has a local of the parameter's name: "places = self.places" left nothing. */
static bool
local_here(const struct dynamo *d, const struct group *g, const struct param *q)
{
    const char *leaf = path_last(q->name);
    size_t n = strlen(leaf);
    bool there = false;
    for (const char *line = fx_line_at(d, g->last), *p = line; !there && (p = strstr(p, leaf)); p += n)
        there = python_name(p) == n && (p == line || (p[-1] != '_' && p[-1] != '.' && !isalnum((unsigned char)p[-1])));
    return there && n > 1;
}

/* The next parameter that no text names and whose size nobody knows, from *k on: what constants may have been folded
 * from. NULL: no more. Such are few, and none becomes one. */
static struct param *
next_unread(struct dynamo *d, int *k)
{
    struct program *p = d->l->p;
    if (d->unread_of != p->nparams) {
        d->nunread = 0;
        d->unread_of = p->nparams;
        d->unread = NEWN(d->l->a, int, p->nparams + 1);
        for (int i = 0; i < p->nparams; i++)
            if (p->params[i].rank < 0 && !d->referenced[i])
                d->unread[d->nunread++] = i;
    }
    while (*k < d->nunread) {
        const int i = d->unread[(*k)++];
        if (p->params[i].rank < 0 && !d->referenced[i] && constant_may_be(d, &p->params[i]))
            return &p->params[i];
    }
    return NULL;
}

/* A parameter below the group's module that nothing names, but for one: of these, one whose name ends so; else that of
 * its line, or of those that no line reads one that may have this rank. */
static struct param *
folded_param(struct dynamo *d, const struct group *g, const char *end, int rank, const struct param *but)
{
    const char *path = g->path ? g->path : "";
    struct param *first = NULL, *local = NULL;
    size_t len = strlen(path);
    int k = 0;
    for (struct param *q; (q = next_unread(d, &k));) {
        if (q == but || (q->kind != PARAM_TRAINED && q->kind != PARAM_FROZEN) ||
            (len && !(starts_with(q->name, path) && q->name[len] == '.')))
            continue;
        bool fits = end ? ends_with(q->name, end) : ends_with(q->name, "bias") == (rank == 1);
        if (!end && computed_read_here(d, g, q, "", ""))
            return q;
        local = !local && !end && local_here(d, g, q) ? q : local;
        first = fits && !first && (end || !params_in_line(d, q)) ? q : first;
    }
    return local ? local : first;
}

/* A call reads the parameter, of these sizes. Returns its slot. */
static int
refer(struct dynamo *d, struct param *q, int rank, const int64_t *size)
{
    q->rank = rank;
    q->size = arena_dup(d->l->a, size, sizeof(*size) * (size_t)(rank ? rank : 1));
    d->referenced[q - d->l->p->params] = true;
    return q->slot;
}

struct call *
computed_call(struct dynamo *d, const struct group *g, const char *target, int nargs, struct param *q, int rank,
              const int64_t *size)
{
    refer(d, q, rank, size);
    struct call *c = group_call(d, g, target, nargs);
    c->args[0] = (struct arg){.kind = ARG_SLOT, .i = q->slot};
    return c;
}

void
resolve_kept(struct dynamo *d, struct call *c)
{
    struct program *p = d->l->p;
    c->kept = c->outs[0];
    for (int i = 0; &p->calls[i] < c && !c->attribute; i++)
        if (strcmp(p->calls[i].target, c->target) == 0 && p->calls[i].args[0].i == c->args[0].i)
            c->attribute = p->calls[i].attribute;
    c->attribute = c->attribute ? c->attribute : ++p->nattributes;
}

/* Whether a constant of these sizes is the transpose of a linear layer's weight, which has a row for each output. */
static bool
is_turned(struct dynamo *d, const struct group *g, int rank, const int64_t *size)
{
    const int out = group_output(d, g);
    int made_rank = 0;
    const int64_t *made = NULL;
    return rank == 2 && g->target && spelled(g->target, PROJECTS) && out >= 0 &&
           lower_sizes(d->l, &d->l->g->t[out], &made_rank, &made) && made_rank > 0 && made[made_rank - 1] == size[1];
}

/* torch.nn.utils.weight_norm: w = g v / |v|, with g along the first dimension. */
static int
lost_weight_norm(struct dynamo *d, const struct group *g, const struct tensor *t)
{
    int rank;
    const int64_t *size;
    if (!dtypes[t->dtype].is_float || !lower_sizes(d->l, t, &rank, &size))
        return -1;
    int64_t turned[2];
    if (is_turned(d, g, rank, size)) {
        turned[0] = size[1];
        turned[1] = size[0];
        size = turned;
    }
    enum { HOOK = 1 };
    static const char *const names[][2] = {{"original0", "original1"}, [HOOK] = {"_g", "_v"}};
    for (int i = 0; i < COUNT(names); i++) {
        struct param *gain = folded_param(d, g, names[i][0], rank, NULL),
                     *v = gain ? folded_param(d, g, names[i][1], rank, NULL) : NULL;
        int64_t ones[MAX_RANK + 1] = {rank > 0 ? size[0] : 1};
        if (!gain || !v || rank < 1 || rank > MAX_RANK)
            continue;
        for (int k = 1; k < rank; k++)
            ones[k] = 1;
        struct call *c = computed_call(d, g, "aten._weight_norm_interface.default", 3, v, rank, size);
        c->args[1] = (struct arg){.kind = ARG_SLOT, .i = refer(d, gain, rank, ones)};
        c->args[2] = INT(0);
        if (i == HOOK)
            resolve_kept(d, c);
        return c->outs[0];
    }
    return -1;
}

/* A module with weight_norm that runs again multiplies again, which the exporter merged: the group's module normalized
 * its weight before. -1 it did not. */
int
computed_norm_again(struct dynamo *d, const struct group *g, const char *name)
{
    const struct program *p = d->l->p;
    for (int i = p->ncalls - 1; i >= 0 && spelled_as(name, "mul") && g->path; i--) {
        const struct call was = p->calls[i];
        if (!target_named(was.target, "_weight_norm_interface") || !path_within(p->modules[was.scope].path, g->path))
            continue;
        struct call *c = group_call(d, g, was.target, was.nargs);
        memcpy(c->args, was.args, sizeof(*c->args) * (size_t)was.nargs);
        if (was.attribute)
            resolve_kept(d, c);
        return c->outs[0];
    }
    return -1;
}

static const char *const lookups[] = {"index"}; /* by a tensor; a number selects */

/* The buffer by which the group's line takes rows of that parameter of its module, "self.table[self.index.view(-1)]";
 * NULL it does not. */
static struct param *
index_here(struct dynamo *d, const struct group *g, const struct param *q)
{
    struct arena *a = d->l->a;
    const char *path = g->path ? g->path : "", *text = NULL, *at = NULL;
    if (path_within(d->l->p->modules[q->module].path, path))
        text = arena_printf(a, "self.%s[self.", q->name + (*path ? strlen(path) + 1 : 0));
    if (text && (at = strstr(fx_line_at(d, g->last), text)))
        at += strlen(text);
    struct param *index =
        at ? params_called(d, arena_printf(a, "%s%s%.*s", path, *path ? "." : "", (int)python_name(at), at)) : NULL;
    return index && index->kind == PARAM_BUFFER ? index : NULL;
}

/* A bias looked up in a table of the relative positions in a square window: table[index] is [N N, H]; often it was
 * folded on to [1, H, N, N]: seen as [N, N, H], permuted, made contiguous, unsqueezed. */
static int
lost_position_table(struct dynamo *d, const struct group *g, int rank, const int64_t *size)
{
    struct lowering *l = d->l;
    struct param *table = folded_param(d, g, "relative_position_bias_table", rank, NULL), *index = NULL;
    int k = 0;
    for (struct param *q; !table && (q = next_unread(d, &k));)
        if (q->kind <= PARAM_FROZEN && constant_may_be(d, q) && (index = index_here(d, g, q)))
            table = q;
    const bool own = index != NULL, flattened = own && rank == 3;
    int64_t n = 0, w = 0, heads = rank > 1 ? size[!flattened] : 0,
            pairs = rank == 4 || flattened ? size[rank - 2] * size[rank - 1]
                    : rank == 2            ? size[0]
                                           : 0;
    while (n < 1 << 14 && n * n < pairs)
        n++;
    while ((w + 1) * (w + 1) <= n)
        w++;
    if (!table || !n || n - w * w > 1 || n * n != pairs || (own && n != w * w))
        return -1;
    for (int i = 0; i < l->p->nparams && !own; i++) {
        struct param *q = &l->p->params[i];
        if (q->kind == PARAM_BUFFER && q->module == table->module && ends_with(q->name, "relative_position_index"))
            index = q;
    }
    if (!index && w * w == n)
        return -1;
    if (own)
        program_assume(l->p, ALTERNATIVE_NONE,
                       "%s, of which the exporter left what %s picks, has a row for each of the relative positions in "
                       "a square of %lld",
                       table->name, index->name, (long long)n);
    int64_t rows[] = {(2 * w - 1) * (2 * w - 1) + (w * w == n ? 0 : 3), heads}, flat[] = {pairs},
            square[] = {n, n, heads};
    int picks;
    if (index) {
        index->rank = 1;
        index->size = arena_dup(l->a, flat, sizeof(flat));
        index->dtype = DT_INT64;
        picks = index->slot;
    } else { /* BeitRelativePositionBias: three rows for the class token, the index made anew */
        struct call *made = group_call(d, g, "aten.arange.default", 1);
        made->args[0] = INT(pairs);
        picks = made->outs[0];
    }
    struct call *c = computed_call(d, g, "aten.index.Tensor", 2, table, 2, rows);
    c->args[1] = (struct arg){.kind = ARG_LIST, .n = 1, .list = NEWN(l->a, struct arg, 1)};
    c->args[1].list[0] = (struct arg){.kind = ARG_SLOT, .i = picks};
    int slot = c->outs[0];
    static const struct {
        const char *target, *name;
        int n, ints[3];
    } steps[] = {{"aten.view.default", NULL, 0, {0}},
                 {"aten.permute.default", NULL, 3, {2, 0, 1}},
                 {"aten.contiguous.default", "contiguous", 0, {0}},
                 {"aten.unsqueeze.default", "unsqueeze", 1, {0}}};
    for (int i = 0; i < COUNT(steps) && rank > 2; i++) {
        if (own && steps[i].name && !python_calls(fx_line_at(d, g->last), steps[i].name))
            continue;
        c = group_call(d, g, steps[i].target, 2);
        c->args[0] = (struct arg){.kind = ARG_SLOT, .i = slot};
        c->args[1] = (struct arg){.kind = ARG_LIST, .n = steps[i].n, .list = NEWN(l->a, struct arg, 3)};
        for (int k = 0; k < 3; k++)
            c->args[1].list[k] = INT(steps[i].ints[k]);
        if (steps[i].n == 1)
            c->args[1] = INT(steps[i].ints[0]);
        if (i == 0) {
            c->rank = 3;
            c->size = arena_dup(l->a, square, sizeof(square));
        }
        slot = c->outs[0];
    }
    return slot;
}

/* A matrix or a kernel that no expression of the line makes may have been made by several calls, as where a convolution
 * standardizes its weight: the first of two readings has the last alone, the other more than people write. Returns the
 * slot of what they make of it. */
static int
computed_before(struct dynamo *d, const struct group *g, const struct param *q, int slot)
{
    enum { MORE = 8 };
    if (q->rank < 2 || computed_read_here(d, g, q, "", ""))
        return slot;
    program_assume(
        d->l->p, ALTERNATIVE_FOLDED,
        "of what is computed of %s, which the exporter folded into a constant, the last call alone is counted",
        q->name);
    for (int i = 0; i < MORE && setup_instead(d->l->s, ALTERNATIVE_FOLDED); i++) {
        struct call *c = group_call(d, g, "aten.exp.default", 1);
        c->args[0] = (struct arg){.kind = ARG_SLOT, .i = slot};
        slot = c->outs[0];
    }
    return slot;
}

/* A parameter that no line left names, beside an input that no node reads: what read both may be gone, and the constant
 * none of the parameter's. */
static void
doubt_folded(const struct dynamo *d, const struct group *g, const struct param *q)
{
    struct graph *gr = d->l->g;
    for (int i = 0; i < gr->nin && !computed_read_here(d, g, q, "", ""); i++) {
        const struct tensor *t = &gr->t[gr->in[i]];
        if (t->nusers || !dtypes[t->dtype].is_float)
            continue;
        graph_doubt(gr, q->name, "parameter", NULL,
                    "a constant may come from it, or what read it left nothing, as what read the input %s", t->name);
        return;
    }
}

/* Whether the group's line reads "self.w[i]" of that parameter of its module, and no slice of it. */
static bool
picked_here(struct dynamo *d, const struct group *g, const struct param *q)
{
    static const char *const others[] = {":", "None", "..."};
    struct arena *a = d->l->a;
    const char *path = g->path ? g->path : "", *leaf = q->name + (*path ? strlen(path) + 1 : 0),
               *text = computed_read_here(d, g, q, "", "") ? arena_printf(a, "self.%s[", leaf) : NULL,
               *at = text ? strstr(fx_line_at(d, g->last), text) : NULL;
    const char *index = at ? arena_strn(a, at + strlen(text), strcspn(at + strlen(text), "]")) : NULL;
    bool picked = index != NULL && !index_here(d, g, q);
    for (int i = 0; i < COUNT(others) && picked; i++)
        picked = !strstr(index, others[i]);
    return picked;
}

/* Which part of the parameter the constant is, from 0 on. */
static int
part_number(struct dynamo *d, const struct param *q, int tensor)
{
    int n = 0;
    for (int i = 0; i < d->nparts; i++) {
        if (d->parts[i].param == q && d->parts[i].tensor == tensor)
            return n;
        n += d->parts[i].param == q;
    }
    *PUSH(d->l->a, d->parts, d->nparts, d->cap_parts) = (struct part){q, tensor};
    return n;
}

/* Parts of a parameter, each of which was folded: "self.w[i] * x" in a loop. It has those that are read, at least. */
static int
lost_part(struct dynamo *d, const struct group *g, const char *stem, int tensor)
{
    struct program *p = d->l->p;
    struct param *of = NULL;
    int rank;
    const int64_t *size;
    if (!dtypes[d->l->g->t[tensor].dtype].is_float || !lower_sizes(d->l, &d->l->g->t[tensor], &rank, &size) ||
        rank >= MAX_RANK || strcmp(stem, lookups[0]) == 0)
        return -1;
    if (!strstr(fx_line_at(d, g->last), "self.")) /* it picks none */
        return -1;
    int64_t whole[MAX_RANK + 1] = {0}, n = 1;
    const bool turned = rank == 2 && spelled(stem, TRANSPOSES);
    for (int i = 0; i < rank; i++) {
        whole[i + 1] = size[turned ? 1 - i : i];
        if (!mul_ok(n, whole[i + 1], &n))
            return -1;
    }
    for (struct param *q = p->params; q < p->params + p->nparams && !of; q++) {
        bool first = q->rank < 0 && !d->referenced[q - p->params],
             again = q->rank == rank + 1 && memcmp(q->size + 1, whole + 1, sizeof(*whole) * (size_t)rank) == 0;
        of = q->kind <= PARAM_FROZEN && constant_may_be(d, q) && (first || again) && picked_here(d, g, q) &&
                     (first || graph_find(d->l->g, q->name) < 0)
                 ? q
                 : NULL;
    }
    if (!of)
        return -1;
    const int part = part_number(d, of, tensor);
    whole[0] = of->rank > 0 && of->size[0] > part ? of->size[0] : part + 1;
    program_assume(p, ALTERNATIVE_FOLDED, "%s has no parts but those that are read, which the exporter folded",
                   of->name);
    if (setup_instead(d->l->s, ALTERNATIVE_FOLDED) && n && MOST_FOLDED / n > whole[0])
        whole[0] = MOST_FOLDED / n;
    struct call *c = computed_call(d, g, "aten.select.int", 3, of, rank + 1, whole);
    c->args[1] = INT(0);
    c->args[2] = INT(part);
    c->rank = rank;
    c->size = arena_dup(d->l->a, whole + 1, sizeof(*whole) * (size_t)(rank + 1));
    if (turned) {
        int slot = c->outs[0];
        c = group_call(d, g, "aten.t.default", 1);
        c->args[0] = (struct arg){.kind = ARG_SLOT, .i = slot};
        lower_sizes(d->l, &d->l->g->t[tensor], &c->rank, &c->size);
    }
    return c->outs[0];
}

/* The parameter of a module around the group's that a line there hands down, "self.block(self.tokens.repeat(n, 1, 1))",
 * and which no call names; the frames down to that line, and whether it is repeated there. NULL none. */
static struct param *
handed_down(struct dynamo *d, const struct group *g, const char **frames, bool *repeated)
{
    static const char *const repeats[] = {"repeat(", "expand("};
    struct arena *a = d->l->a;
    const struct program *p = d->l->p;
    struct param *q;
    const char *stack = d->l->g->n[g->last].stack, *path = g->path ? g->path : "";
    while (stack && python_frame(stack) && *(stack = fx_outer(a, stack)))
        for (int k = 0; (q = next_unread(d, &k));) {
            const char *around = p->modules[q->module].path;
            if (q->kind > PARAM_FROZEN || !path_within(path, around) || strcmp(path, around) == 0)
                continue;
            const char *text = arena_printf(a, "self.%s", path_last(q->name));
            if (!line_has(fx_line(a, stack), text, "_("))
                continue;
            *frames = stack;
            *repeated = false;
            for (int i = 0; i < COUNT(repeats); i++)
                *repeated |= strstr(fx_line(a, stack), arena_printf(a, "%s.%s", text, repeats[i])) != NULL;
            return q;
        }
    return NULL;
}

/* What was computed of it, which is a constant: as many numbers as that, or one repeated for each of the batch. */
static int
lost_handed(struct dynamo *d, const struct group *g, const struct tensor *t)
{
    struct program *p = d->l->p;
    const char *frames;
    bool repeated;
    struct param *q = dtypes[t->dtype].is_float ? handed_down(d, g, &frames, &repeated) : NULL;
    int rank;
    const int64_t *size;
    int64_t all = q ? tensor_elements(t) : 0, batch = p->ninputs && p->inputs[0].rank > 0 ? p->inputs[0].size[0] : 1;
    if (all < 1 || !lower_sizes(d->l, t, &rank, &size))
        return -1;
    batch = repeated && batch > 0 && all % batch == 0 ? batch : 1;
    program_assume(d->l->p, ALTERNATIVE_NONE, "%s, which the exporter folded into a constant, has that constant's size",
                   q->name);
    struct call *c = computed_call(d, g, "aten.repeat.default", 2, q, 1, (int64_t[]){all / batch});
    c->args[1] = (struct arg){.kind = ARG_LIST, .n = 1, .list = NEWN(d->l->a, struct arg, 1)};
    c->args[1].list[0] = INT(batch);
    c->rank = 1;
    c->size = arena_dup(d->l->a, &all, sizeof(all));
    const int slot = c->outs[0];
    c = group_call(d, g, "aten.reshape.default", 2);
    c->args[0] = (struct arg){.kind = ARG_SLOT, .i = slot};
    c->rank = rank;
    c->size = size;
    const int made = c->outs[0], from = p->ncalls - 2;
    int at = from;
    while (at > 0 && p->calls[at - 1].stack && starts_with(p->calls[at - 1].stack, frames))
        at--;
    for (int i = from; i < p->ncalls; i++) { /* of that line */
        p->calls[i].stack = frames;
        p->calls[i].frames = fx_frames(d->l->a, frames);
        p->calls[i].location = fx_location(d->l->a, frames);
        p->calls[i].scope = q->module;
    }
    group_move(d, from, at); /* before what that calls */
    return made;
}

/* Whether the line gives the parameter, and nothing else, to a function of each element that is not that operator:
 * "x - softplus(self.slopes) * y" has no difference of it alone. */
static bool
given_to_another(struct dynamo *d, const struct group *g, const struct param *q, const char *bare)
{
    const char *line = fx_line_at(d, g->last);
    bool given = false;
    for (const char *p = line; !given && (p = strstr(p, "(self.")); p++) {
        const char *name = p;
        while (name > line && (isalnum((unsigned char)name[-1]) || name[-1] == '_'))
            name--;
        const char *function = arena_strn(d->l->a, name, (size_t)(p - name));
        const struct aten *op = strcmp(function, bare) == 0 ? NULL : aten_find(function);
        given = op && aten_elementwise(op) && computed_read_here(d, g, q, arena_printf(d->l->a, "%s(", function), ")");
    }
    return given;
}

/* w[i - j + n - 1], what a table has of the relative positions on two axes: [M, N, C] of [M + N - 1, C]. Source:
 * get_rel_pos in modeling_sam.py of Transformers. */
static int
look_differences_up(struct dynamo *d, const struct group *g, struct param *q, const int64_t *size)
{
    struct lowering *l = d->l;
    struct call *at = group_call(d, g, "aten.arange.default", 1);
    at->args[0] = INT(size[0] * size[1]);
    const int flat = at->outs[0];
    struct call *pairs = group_call(d, g, "aten.view.default", 2);
    pairs->args[0] = (struct arg){.kind = ARG_SLOT, .i = flat};
    pairs->args[1] = (struct arg){.kind = ARG_LIST, .n = 2, .list = NEWN(l->a, struct arg, 2)};
    for (int i = 0; i < 2; i++)
        pairs->args[1].list[i] = INT(size[i]);
    const int index = pairs->outs[0];
    struct call *c = computed_call(d, g, "aten.index.Tensor", 2, q, 2, (int64_t[]){size[0] + size[1] - 1, size[2]});
    c->args[1] = (struct arg){.kind = ARG_LIST, .n = 1, .list = NEWN(l->a, struct arg, 1)};
    c->args[1].list[0] = (struct arg){.kind = ARG_SLOT, .i = index};
    program_assume(
        l->p, ALTERNATIVE_NONE,
        "%s, of which the exporter folded what was looked up, has a row for each difference of two positions", q->name);
    return c->outs[0];
}

/* A constant that the exporter computed from a parameter: the parameter is known by its name only. */
static int
lost_computed(struct dynamo *d, const struct group *g, const char *stem, int tensor)
{
    struct lowering *l = d->l;
    int rank, slot;
    const int64_t *size;
    if (!lower_sizes(l, &l->g->t[tensor], &rank, &size) || !dtypes[l->g->t[tensor].dtype].is_float)
        return -1;
    if ((slot = lost_position_table(d, g, rank, size)) >= 0)
        return slot;
    const char *own = g->path ? g->path : "";
    bool looked_up = spelled(stem, LOOKS_UP) && rank > 1; /* a table of positions, read as a whole */
    struct param *q = rank > 0 ? folded_param(d, g, looked_up ? "weight" : NULL, rank, NULL) : NULL;
    const char *of = q ? l->p->modules[q->module].path : "";
    if (!q || given_to_another(d, g, q, target_bare(stem)) ||
        (!looked_up && !computed_named_here(d, g, q) &&
         strcmp(of, arena_printf(l->a, "%s.parametrizations.weight", own)) != 0))
        return -1; /* the module's own */
    doubt_folded(d, g, q);
    int skip = looked_up ? rank - 2 : 0;
    bool sliced = spelled(stem, MAY_SLICE), viewed = target_is(stem, TARGET_KEEPS);
    if (target_is(stem, TARGET_PADS) || target_is(spelled_stem(l->a, l->g->t[tensor].name), TARGET_PADS))
        graph_doubt(l->g, q->name, "parameter", "an export with optimize=False has it",
                    "the exporter folded it into %s, which is larger than it", l->g->t[tensor].name);
    if (spelled_as(target_bare(stem), lookups[0]) && rank == 3)
        return look_differences_up(d, g, q, size);
    program_assume(l->p, ALTERNATIVE_NONE, "%s, which the exporter folded into a constant, has that constant's size",
                   q->name);
    if (spelled(stem, IS_SAME))
        return refer(d, q, rank - skip, size + skip);
    struct call *c = computed_call(d, g,
                                   sliced   ? "aten.slice.Tensor"
                                   : viewed ? "aten.reshape.default"
                                            : "aten.mul.Tensor",
                                   2 - sliced - viewed, q, rank - skip, size + skip);
    int made = c->outs[0];
    if (sliced || viewed)
        lower_sizes(l, &l->g->t[tensor], &c->rank, &c->size);
    else
        c->args[1] = FLT(1);
    return looked_up ? made : computed_before(d, g, q, made);
}

/* A buffer beside or below that module which no call reads: what was sliced from it became a constant. */
static const struct param *
unread_buffer(const struct dynamo *d, const char *path)
{
    const struct program *p = d->l->p;
    const char *dot = path ? strrchr(path, '.') : NULL;
    size_t n = dot ? (size_t)(dot - path) : 0;
    for (int i = 0; i < p->nparams; i++)
        if (p->params[i].kind == PARAM_BUFFER && !d->referenced[i] && p->params[i].rank < 0 &&
            constant_may_be(d, &p->params[i]) &&
            (!n || (strncmp(p->params[i].name, path, n) == 0 && p->params[i].name[n] == '.')))
            return &p->params[i];
    return NULL;
}

/* Whether the group's line reads the list of its module that has the parameter: "for w in self.weights". */
static bool
listed_here(const struct dynamo *d, const struct group *g, const struct param *q)
{
    const char *list = d->l->p->modules[q->module].path, *name = path_last(list);
    const size_t around = name > list ? (size_t)(name - list - 1) : 0;
    return *list && strlen(g->path) == around && strncmp(list, g->path, around) == 0 &&
           line_has(fx_line_at(d, g->last), arena_printf(d->l->a, "self.%s", name), "_.(");
}

/* That of which the line calls the operator, else the first that the line reads, else the first that no line reads; and
 * how many there are, buffers included. */
struct param *
computed_unread_weight(struct dynamo *d, const struct group *g, const char *stem, int *n)
{
    struct param *best = NULL;
    const char *bare = target_bare(stem), *called = arena_printf(d->l->a, ".%s(", bare),
               *calls = arena_printf(d->l->a, "%s(", bare);
    int rank = 0, k = 0;
    *n = 0;
    for (struct param *q; g->path && (q = next_unread(d, &k));) {
        if (q->kind > PARAM_BUFFER)
            continue;
        bool own = computed_named_here(d, g, q), listed = !own && listed_here(d, g, q);
        if (!own && !listed)
            continue;
        ++*n;
        int fits = q->kind > PARAM_FROZEN                                                              ? 0
                   : listed                                                                            ? 2
                   : computed_read_here(d, g, q, "", called) || computed_read_here(d, g, q, calls, "") ? 3
                   : given_to_another(d, g, q, bare)                                                   ? 0
                   : computed_read_here(d, g, q, "", "")                                               ? 2
                   : params_in_line(d, q)                                                              ? 0
                                                                                                       : 1;
        best = fits > rank ? q : best;
        rank = fits > rank ? fits : rank;
    }
    return best;
}

/* Layers that view one table (rotary's cosines) each left a constant: the n-th that a line reads is the n-th that it
 * reads in another layer. Returns its slot, or -1 where this is the first. */
static int
shared_table(struct dynamo *d, const struct group *g, const struct tensor *t, int *at)
{
    const char *line = fx_record(d->l, g->last)->traced->location, *path = g->path ? g->path : "";
    *at = d->ntables;
    int nth = 0, slot = -1;
    for (int i = 0; i < d->ntables; i++)
        nth += strcmp(d->tables[i].line, line ? line : "") == 0 && strcmp(d->tables[i].path, path) == 0;
    for (int i = 0; i < d->ntables && slot < 0; i++) {
        const struct table *b = &d->tables[i];
        bool same = b->at == nth && strcmp(b->line, line ? line : "") == 0 && strcmp(b->path, path) != 0 &&
                    b->t->rank == t->rank && b->t->dtype == t->dtype;
        for (int k = 0; k < t->rank && same; k++)
            same = b->t->dims[k].n == t->dims[k].n;
        slot = same ? b->slot : -1;
    }
    *PUSH(d->l->a, d->tables, d->ntables, d->cap_tables) = (struct table){line ? line : "", path, nth, slot, t};
    return slot;
}

/* A small table looked up at 0, 1, ...: folded, with a parameter below the module left over. */
static int
lost_embedding(struct dynamo *d, const struct group *g, const struct tensor *t)
{
    struct lowering *l = d->l;
    int rank;
    const int64_t *size;
    struct param *q = folded_param(d, g, ".weight", 2, NULL);
    if (q && looked_up_as_another(d, q))
        q = folded_param(d, g, ".weight", 2, q);
    if (!q || !lower_sizes(l, t, &rank, &size) || rank < 2)
        return -1;
    int64_t table[] = {size[rank - 2], size[rank - 1]}, most = table[1] > 0 ? MOST_FOLDED / table[1] : 0;
    /* no larger table is folded, and positions are the same for the whole batch: types, looked up again and again */
    const bool types = table[0] > most || (rank > 2 && size[0] > 1);
    const struct param *other = folded_param(d, g, ".weight", 2, q);
    if (other && !(types && looked_up_as_another(d, other)))
        graph_doubt(l->g, q->name, "parameter", "an export with optimize=False",
                    "the exporter looked a constant up in it, or in %s, and left neither's size", other->name);
    struct call *at = group_call(d, g, types ? "aten.zeros.default" : "aten.arange.default", types ? 2 : 1);
    at->args[0] = types ? (struct arg){.kind = ARG_LIST, .n = rank - 1, .list = NEWN(l->a, struct arg, rank)}
                        : INT(size[rank - 2]);
    for (int i = 0; i < rank - 1 && types; i++)
        at->args[0].list[i] = INT(size[i]);
    if (types)
        at->args[1] = DTYPE(DT_INT64);
    int indices = at->outs[0];
    table[0] = types ? 2 : table[0];
    if (setup_instead(l->s, ALTERNATIVE_FOLDED) && most > table[0])
        table[0] = most;
    struct call *c = computed_call(d, g, "aten.embedding.default", 2, q, 2, table);
    c->args[1] = (struct arg){.kind = ARG_SLOT, .i = indices};
    program_assume(l->p, ALTERNATIVE_FOLDED,
                   types ? "%s, of which the exporter folded what was looked up, has two rows"
                         : "%s has no rows but those that the exporter folded into a constant",
                   q->name);
    return c->outs[0];
}

/* table[:, index]: a parameter and a buffer of the module that nobody reads otherwise. How many columns the table has,
 * the result doesn't say: of relative positions in a square as many as there are positions. */
static int
lost_lookup(struct dynamo *d, const struct group *g, const char *name, const struct tensor *t)
{
    struct lowering *l = d->l;
    int rank;
    const int64_t *size;
    int square =
        spelled_as(name, lookups[0]) && lower_sizes(l, t, &rank, &size) ? lost_position_table(d, g, rank, size) : -1;
    if (square >= 0)
        return square;
    struct param *table = spelled_as(name, lookups[0]) ? folded_param(d, g, NULL, 2, NULL) : NULL;
    struct param *index = NULL;
    int indices = 0;
    for (int i = 0; i < l->p->nparams && table; i++) {
        struct param *q = &l->p->params[i];
        if (q->kind == PARAM_BUFFER && q->module == table->module && q->rank < 0 && !d->referenced[i] &&
            constant_may_be(d, q)) {
            index = q;
            indices++;
        }
    }
    if (indices != 1 || !lower_sizes(l, t, &rank, &size) || rank < 2)
        return -1;
    params_sized(l, index, rank - 1, size + 1);
    index->dtype = DT_INT64;
    struct call *c = computed_call(d, g, "aten.index.Tensor", 2, table, 2, size);
    c->args[1] = (struct arg){.kind = ARG_LIST, .n = 2, .list = NEWN(l->a, struct arg, 2)};
    c->args[1].list[0] = NONE;
    c->args[1].list[1] = (struct arg){.kind = ARG_SLOT, .i = index->slot};
    c->rank = rank;
    c->size = size;
    program_assume(l->p, ALTERNATIVE_NONE,
                   "%s, of which the exporter left what %s picks, is taken to have %lld columns", table->name,
                   index->name, (long long)size[1]);
    return c->outs[0];
}

/* A weight that no node reads, behind what was folded of it: its transpose, arithmetic with a number, a function of
 * each element, or, of the only one that its module has, a view. */
static int
lost_weight(struct dynamo *d, const struct group *g, const char *stem, const struct tensor *t)
{
    struct lowering *l = d->l;
    int unread;
    struct param *weight = computed_unread_weight(d, g, stem, &unread);
    const struct aten *op = aten_find(stem);
    bool transposed = t->rank == 2 && spelled(stem, TRANSPOSES), viewed = target_is(stem, TARGET_KEEPS) && unread == 1,
         alone = op && aten_elementwise(op);
    if (!weight || !(transposed || (dtypes[t->dtype].is_float &&
                                    (viewed || alone || spelled(stem, KEEPS_SIZES | PROMOTES | CONVERTS)))))
        return -1;
    int rank;
    const int64_t *size;
    doubt_folded(d, g, weight);
    if (transposed)
        params_sized(l, weight, 2, (int64_t[]){t->dims[1].n, t->dims[0].n});
    else if (lower_sizes(l, t, &rank, &size))
        params_sized(l, weight, rank, size);
    d->referenced[weight - l->p->params] = true;
    if (spelled(stem, PROMOTES))
        return weight->slot;
    const char *target = transposed                ? "aten.t.default"
                         : viewed                  ? "aten.reshape.default"
                         : spelled(stem, CONVERTS) ? "aten.to.dtype"
                         : alone                   ? arena_printf(l->a, "aten.%s", op->name)
                                                   : arena_printf(l->a, "%s.Tensor", stem);
    bool computed = !transposed && !viewed && !spelled(stem, CONVERTS),
         wide = computed && fx_widens(fx_line_at(d, g->last));
    int from = computed ? computed_before(d, g, weight, weight->slot) : weight->slot;
    from = wide ? group_to_float(d, g, from) : from;
    struct call *c = group_call(d, g, target, 2 - (transposed || alone));
    c->args[0] = (struct arg){.kind = ARG_SLOT, .i = from};
    if (viewed)
        lower_sizes(l, t, &c->rank, &c->size);
    else if (!transposed && !alone)
        c->args[1] = spelled(stem, CONVERTS) ? DTYPE(t->dtype) : INT(1);
    return c->outs[0];
}

/* Behind the bracket, where the line that the group ran calls that operator; NULL it does not. */
const char *
computed_made_here(struct dynamo *d, const struct group *g, const struct aten *op)
{
    const char *stem = op ? spelled_root(d->l->a, op->name) : NULL;
    return stem && !op->grad && !target_views(op->name) ? python_calls(fx_line_at(d, g->last), stem) : NULL;
}

/* zeros_like(x), on the line of its reader: of the type of x, which under autocast is not what the file says. */
static int
lost_like(struct dynamo *d, const struct group *g, const char *name, const struct tensor *t)
{
    struct lowering *l = d->l;
    const struct aten *op = aten_find(spelled_stem(l->a, name));
    bool likes = op && !op->grad && aten_arg(op, "self") == 0 && aten_arg(op, "dtype") > 0;
    const char *like = likes ? computed_made_here(d, g, op) : NULL;
    size_t len = like ? python_name(like) : 0;
    if (!len || like[len] != ')')
        return -1;
    const struct node *n = &l->g->n[g->last];
    int slot = python_named(l->p, &(struct call){.stack = n->stack, .scopes = n->scopes}, arena_strn(l->a, like, len)),
        rank;
    const int64_t *size;
    const struct call *x = slot >= 0 ? group_maker(l->p, slot) : NULL;
    if (!x || !lower_sizes(l, t, &rank, &size) || x->rank != rank ||
        memcmp(x->size, size, sizeof(*size) * (size_t)rank) != 0)
        return -1;
    struct call *c = group_call(d, g, arena_printf(l->a, "aten.%s", op->name), 1);
    c->args[0] = (struct arg){.kind = ARG_SLOT, .i = slot};
    c->rank = rank;
    c->size = size;
    return c->outs[0];
}

/* "self.offsets.unsqueeze(0)": a buffer of the module, seen as a whole, which has as many numbers. */
static int
lost_buffer(struct dynamo *d, const struct group *g, const char *stem, const struct tensor *t)
{
    struct program *p = d->l->p;
    const char *called = arena_printf(d->l->a, ".%s(", target_bare(stem));
    int rank;
    const int64_t *size;
    for (int i = 0; i < p->nparams && !spelled(stem, MAY_SLICE) && target_views(stem); i++) {
        struct param *q = &p->params[i];
        if (q->kind != PARAM_BUFFER || q->rank >= 0 || !computed_read_here(d, g, q, "", called) ||
            !lower_sizes(d->l, t, &rank, &size))
            continue;
        q->dtype = t->dtype;
        struct call *c = computed_call(d, g, "aten.lost_view.default", 1, q, rank, size);
        c->rank = q->rank;
        c->size = q->size;
        return c->outs[0];
    }
    return -1;
}

/* The bias of a linear layer that joins several, "cat((self.q_bias, self.k_bias, self.v_bias))": those of its module
 * that nothing reads, each as long as the input is wide; or zeros are between them, as keys need none. */
static int
lost_joined(struct dynamo *d, const struct group *g, const struct aten *op, int tensor)
{
    enum { MOST = 4 };
    struct lowering *l = d->l;
    struct program *p = l->p;
    const char *path = g->path ? g->path : "";
    struct param *of[MOST + 1];
    int rank, n = 0;
    const int64_t *size;
    if (!op || aten_arg(op, "tensors") != 0 || !g->target || !spelled(g->target, PROJECTS) ||
        !lower_sizes(l, &l->g->t[tensor], &rank, &size) || rank != 1 || !dtypes[l->g->t[tensor].dtype].is_float)
        return -1;
    for (struct param *q = p->params; q < p->params + p->nparams && n <= MOST; q++)
        if (q->rank < 0 && !d->referenced[q - p->params] && constant_may_be(d, q) && ends_with(q->name, "bias") &&
            strcmp(p->modules[q->module].path, path) == 0)
            of[n++] = q;
    const int64_t width = params_width(d, g), zeros = size[0] - n * width;
    if (n < 2 || n > MOST || width < 1 || (zeros && zeros != width))
        return -1;
    struct arg *list = NEWN(l->a, struct arg, MOST + 1);
    int parts = 0;
    for (int i = 0; i < n; i++) {
        if (i == n - 1 && zeros) {
            struct call *z = computed_call(d, g, "aten.zeros_like.default", 1, of[i], 1, &width);
            z->rank = 1;
            z->size = arena_dup(l->a, &width, sizeof(width));
            list[parts++] = (struct arg){.kind = ARG_SLOT, .i = z->outs[0]};
        }
        list[parts++] = (struct arg){.kind = ARG_SLOT, .i = refer(d, of[i], 1, &width)};
    }
    struct call *c = group_call(d, g, arena_printf(l->a, "aten.%s", op->name), 2);
    c->args[0] = (struct arg){.kind = ARG_LIST, .n = parts, .list = list};
    c->args[1] = INT(0);
    c->rank = 1;
    c->size = size;
    return c->outs[0];
}

static bool
looks_up(const struct program *p, int module)
{
    bool looks = false;
    for (int i = 0; i < p->ncalls && !looks; i++)
        looks = p->calls[i].scope == module && spelled(p->calls[i].target, LOOKS_UP);
    return looks;
}

/* The table of a module below the group's that never runs, where one of its name is looked up below another module of
 * that class: constants are what was picked of it, and it has the other's size. -1 none. */
static int
lost_table(struct dynamo *d, const struct group *g, const struct tensor *t)
{
    struct lowering *l = d->l;
    struct program *p = l->p;
    const int own = lower_module(l, g->path ? g->path : "", g->type);
    const int64_t all = dtypes[t->dtype].is_float ? tensor_elements(t) : 0;
    struct param *q = NULL;
    const struct param *like = NULL;
    for (int i = 0; !like && (q = next_unread(d, &i));) {
        const struct module *m = &p->modules[q->module];
        if (q->kind > PARAM_FROZEN || m->parent != own)
            continue;
        for (int k = 0; k < p->nparams && !like; k++) {
            const struct param *o = &p->params[k];
            const struct module *other = &p->modules[o->module];
            const char *around = other->parent >= 0 ? p->modules[other->parent].type : NULL;
            if (o->rank == 2 && d->referenced[k] && around && g->type && strcmp(around, g->type) == 0 &&
                strcmp(path_last(other->path), path_last(m->path)) == 0 &&
                strcmp(path_last(o->name), path_last(q->name)) == 0 && looks_up(p, o->module))
                like = o;
        }
    }
    int rank;
    const int64_t *size;
    if (!like || all < 1 || like->size[1] < 1 || all % like->size[1] || !lower_sizes(l, t, &rank, &size))
        return -1;
    const int64_t rows = all / like->size[1];
    struct call *c = group_call(d, g, "aten.zeros.default", 2);
    c->args[0] = (struct arg){.kind = ARG_LIST, .n = 1, .list = NEWN(l->a, struct arg, 1)};
    c->args[0].list[0] = INT(rows);
    c->args[1] = DTYPE(DT_INT64);
    int slot = c->outs[0];
    c = computed_call(d, g, "aten.embedding.default", 2, q, 2, like->size);
    c->args[1] = (struct arg){.kind = ARG_SLOT, .i = slot};
    c->rank = 2;
    c->size = arena_dup(l->a, (int64_t[]){rows, like->size[1]}, 2 * sizeof(*c->size));
    slot = c->outs[0];
    c = group_call(d, g, "aten.reshape.default", 2);
    c->args[0] = (struct arg){.kind = ARG_SLOT, .i = slot};
    c->rank = rank;
    c->size = size;
    return c->outs[0];
}

/* Whether a constant of the group may come from a trained parameter: of a module around it, and no call names that. */
static bool
may_be_trained(const struct dynamo *d, const struct group *g)
{
    const struct program *p = d->l->p;
    bool may = false;
    for (int i = 0; i < p->nparams && !may; i++)
        may = p->params[i].kind == PARAM_TRAINED && p->params[i].rank < 0 && !d->referenced[i] &&
              path_within(g->path ? g->path : "", p->modules[p->params[i].module].path);
    return may;
}

/* What an operator makes of a parameter that has the same numbers when the file is written, which has them once:
 * 1 / (alpha + 1e-9) of ones. -1 it is another constant. */
static int
made_of_equal(struct dynamo *d, const struct group *g, const struct aten *op, const struct tensor *t)
{
    const struct param *q = params_called(d, t->name), *own = NULL;
    for (int i = 0; q && i < d->l->p->nparams && !own; i++) { /* of the layers that have one each the group's */
        const struct param *other = &d->l->p->params[i];
        const bool alike = other->kind == PARAM_TRAINED && other->rank == q->rank &&
                           (q->rank <= 0 || !memcmp(other->size, q->size, sizeof(*q->size) * (size_t)q->rank));
        own = alike && computed_read_here(d, g, other, "", "") ? other : NULL;
    }
    q = own ? own : q;
    const bool pair = spelled(op->name, HAS_IDENTITY);
    if (!q || q->kind != PARAM_TRAINED || !(pair || (aten_elementwise(op) && strcmp(op->args, "self") == 0)))
        return -1;
    struct call *c = group_call(d, g, arena_printf(d->l->a, "aten.%s", op->name), 1 + pair);
    c->args[0] = (struct arg){.kind = ARG_SLOT, .i = q->slot};
    if (pair)
        c->args[1] = INT(1);
    return c->outs[0];
}

static int
constant_made(struct dynamo *d, const struct group *g, const char *name, int tensor)
{
    struct lowering *l = d->l;
    const struct tensor *t = &l->g->t[tensor];
    const char *stem = spelled_stem(l->a, name);
    const struct param *buffer = target_views(stem) && spelled(stem, MAY_SLICE) ? unread_buffer(d, g->path) : NULL;
    struct call *c;
    int weight = computed_norm_again(d, g, name);
    weight = weight < 0 ? lost_lookup(d, g, name, t) : weight;
    weight = weight < 0 ? lost_part(d, g, stem, tensor) : weight;
    weight = weight < 0 ? lost_weight_norm(d, g, t) : weight;
    weight = weight < 0 ? folded_expression(d, g, stem, t) : weight;
    weight = weight < 0 ? lost_weight(d, g, stem, t) : weight;
    if (weight >= 0)
        return weight;
    int like = lost_like(d, g, name, t);
    like = like < 0 ? lost_buffer(d, g, stem, t) : like;
    if (like >= 0)
        return like;
    if (buffer) {
        c = group_call(d, g, "aten.lost_view.default", 1);
        c->args[0] = (struct arg){.kind = ARG_SLOT, .i = buffer->slot};
        lower_sizes(l, t, &c->rank, &c->size);
        return c->outs[0];
    }
    int table = -1, shared = target_views(stem) && dtypes[t->dtype].is_float ? shared_table(d, g, t, &table) : -1;
    if (shared >= 0)
        return shared;
    const struct aten *own = aten_find(stem);
    int looked_up = spelled(stem, LOOKS_UP) ? lost_embedding(d, g, t) : -1;
    if (looked_up >= 0)
        return looked_up;
    int slot = lost_joined(d, g, own, tensor);
    if (slot < 0 && !(own && own->shaped) && !spelled(stem, MAKES_TABLES))
        slot = lost_computed(d, g, stem, tensor);
    slot = slot < 0 && own && (own->shaped || target_views(stem)) ? lost_handed(d, g, t) : slot;
    slot = slot < 0 ? lost_table(d, g, t) : slot;
    if (slot >= 0)
        return slot;
    const char *viewed = dtypes[t->dtype].is_float ? "aten.mul.Tensor"
                         : t->dtype == DT_BOOL     ? "aten.le.Tensor"
                                                   : "aten.arange";
    const struct aten *was = aten_find(target_views(stem)                   ? viewed
                                       : spelled_was(stem)                  ? spelled_was(stem)
                                       : t->dtype == DT_BOOL && t->rank > 1 ? arena_printf(l->a, "%s.Tensor", stem)
                                                                            : stem);
    const bool grows = was && was->grad;
    slot = grows ? made_of_equal(d, g, was, t) : -1;
    if (slot < 0 && grows && dtypes[t->dtype].is_float)
        slot = folded_of(d, g, was->name);
    if (slot >= 0) {
        if (table >= 0)
            d->tables[table].slot = slot;
        return slot;
    }
    c = group_call(d, g, "aten.folded.default", 2);
    c->args[0] = (struct arg){.kind = ARG_TEXT, .s = was ? was->name : "empty.memory_format"};
    /* int64 by float32 is float64 where a folder computes as NumPy does; what PyTorch made is stated beside */
    const bool stated = dtypes[t->dtype].is_float && dtypes[t->declared_dtype].is_float;
    c->args[1] = DTYPE(stated ? t->declared_dtype : t->dtype);
    c->name = name;
    lower_sizes(l, t, &c->rank, &c->size);
    for (int k = 0; k < g->nnodes; k++)
        if (node_is(&l->g->n[g->nodes[k]], OP_COORDINATES) && c->rank > 1 &&
            (c->size[c->rank - 1] == 1 || l->g->n[g->nodes[k]].in[1] == tensor)) {
            c->rank--; /* an index, not the list of coordinates that the node takes */
            break;
        }
    if (!d->constant && setup_instead(l->s, ALTERNATIVE_FOLDED) && dtypes[t->dtype].is_float && was && was->grad &&
        may_be_trained(d, g)) {
        const int made = c->outs[0];
        c = group_call(d, g, "aten.requires_grad_.default", 1);
        c->args[0] = (struct arg){.kind = ARG_SLOT, .i = made};
    }
    if (table >= 0)
        d->tables[table].slot = c->outs[0];
    return c->outs[0];
}

/* A constant that was folded is made anew in every step. Its name is the last operator's: where that one only views,
 * an arange or a mask was made before. */
int
computed_constant(struct dynamo *d, const struct group *g, const char *name, int tensor)
{
    const struct tensor *around = d->constant;
    const struct tensor *t = &d->l->g->t[tensor];
    d->constant = folded_told(d, g, t) ? t : folded_elsewhere(d, g, t);
    const int slot = constant_made(d, g, name, tensor);
    d->constant = around;
    if (around)
        constant_ask(d, around);
    return slot;
}
