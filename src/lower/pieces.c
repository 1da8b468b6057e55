/* SPDX-License-Identifier: Apache-2.0 */
/* pieces.c - several recorded calls that eager runs as one, and one that stands for several.
 *
 * The exporter decomposes modules and functions that have an operator of their own; of others its optimizer leaves the
 * last call alone. Tables say which: wholes and fusions.
 */
#include "lower/dynamo.h"
#include "torch/torch.h"

#include <ctype.h>
#include <string.h>

/* ---- of several, the last is left -------------------------------------------------------------------------------- */

/* Fusions of the exporter that leave the last piece of several behind: the pieces before it, which make what it reads
 * and no node does. In their arguments $x is the node's input, $0 the first piece, $c and $s the tables of cosines and
 * sines, & the node's epsilon, # half the width of its input. Without pieces it is a doubt. Source:
 * onnxscript/rewriter/rules/fusion, from opset 23 on; the pieces are those of transformers. */
static const struct fusion {
    const char *rule;
    const char *unless; /* the input is made so: the file hides how often; NULL nothing */
    struct table_of {
        const char *op, *target;
    } tables[2]; /* $c and $s */
    struct piece {
        const char *target, *args;
        bool read; /* by the last piece, in this order */
    } piece[8];
} fusions[] = {
    {"RmsNormFusion",
     "aten.sub.",
     {{0}},
     {{"aten.pow.Tensor_Scalar", "%$x, 2", false},
      {"aten.mean.dim", "%$0, [-1], True", false},
      {"aten.add.Tensor", "%$1, &", false},
      {"aten.rsqrt.default", "%$2", false},
      {"aten.mul.Tensor", "%$x, %$3", true}}},
    {"RotaryEmbedding",
     NULL,
     {{"Cos", "aten.cos.default"}, {"Sin", "aten.sin.default"}},
     {{"aten.mul.Tensor", "%$x, %$c", true},
      {"aten.slice.Tensor", "%$x, -1, 0, #", false},
      {"aten.slice.Tensor", "%$x, -1, #, 9223372036854775807", false},
      {"aten.neg.default", "%$2", false},
      {"aten.cat.default", "[%$3, %$1], -1", false},
      {"aten.mul.Tensor", "%$4, %$s", true}}},
    {"LayerNormFusion", NULL, {{0}}, {{0}}},
    {"LayerNormBiasFusion", NULL, {{0}}, {{0}}},
    {"OnnxGroupQueryAttention", NULL, {{0}}, {{0}}},
};

static const struct fusion *
fusion_of(const struct node *n)
{
    for (int i = 0; n->rules && i < COUNT(fusions); i++)
        if (strstr(n->rules, fusions[i].rule))
            return &fusions[i];
    return NULL;
}

static void
doubt_fusion(struct dynamo *d, const struct group *g)
{
    const struct node *n = &d->l->g->n[g->last];
    const struct fusion *f = fusion_of(n);
    if (f)
        graph_doubt(d->l->g, n->name, n->op, NULL,
                    "the exporter fused several operators here (%s), and what those before the last keep is not "
                    "counted: an export with opset_version=20 shows them",
                    f->rule);
}

static void
call_or_doubt(struct dynamo *d, struct group *g)
{
    if (recorded_call(d, g) && d->fed < 0)
        doubt_fusion(d, g);
}

/* A call that no node stands for, in the place of g; its slot. */
static int
lower_piece(struct dynamo *d, const struct group *g, const char *name, const char *target, const char *args)
{
    struct group piece = {.fx_name = name,
                          .target = target,
                          .args = args,
                          .nodes = g->nodes,
                          .last = g->last,
                          .path = g->path,
                          .type = g->type,
                          .call = -1};
    d->fed = -1;
    call_or_doubt(d, &piece);
    return names_find(d->l->slots, name);
}

/* The name of a table that the model makes once, of both halves' angles: the node reads that of the first half, t.
 * NULL: it is made otherwise. */
static const char *
rotary_table(struct dynamo *d, const struct group *g, int t, const struct table_of *k)
{
    struct lowering *l = d->l;
    int from = t >= 0 ? l->g->t[t].producer : -1;
    const struct node *n = from >= 0 ? &l->g->n[from] : NULL;
    int angles = n && strcmp(n->op, k->op) == 0 && n->nin == 1 ? n->in[0] : -1;
    if (angles < 0 || (l->slot_of[angles] < 0 && !l->g->t[angles].is_initializer))
        return NULL;
    const char *half = arena_printf(l->a, "angles~%d", angles), *both = arena_printf(l->a, "both~%d", angles);
    const char *flat = arena_printf(l->a, "%s~flat~%d", k->op, angles),
               *table = arena_printf(l->a, "%s~%d", k->op, angles);
    if (names_find(l->slots, table) >= 0)
        return table;
    if (l->slot_of[angles] < 0)
        l->slot_of[angles] = computed_constant(d, g, l->g->t[angles].name, angles);
    names_put(l->slots, half, l->slot_of[angles]);
    if (names_find(l->slots, both) < 0)
        lower_piece(d, g, both, "aten.cat.default", arena_printf(l->a, "[%%%s, %%%s], -1", half, half));
    lower_piece(d, g, flat, k->target, arena_printf(l->a, "%%%s", both));
    lower_piece(d, g, table, "aten.unsqueeze.default", arena_printf(l->a, "%%%s, 1", flat));
    return table;
}

static bool
names_piece(const struct fusion *f, const char *name)
{
    for (int i = 0; i < COUNT(f->piece) && f->piece[i].target; i++)
        if (f->piece[i].read && spelled_after(name, f->piece[i].target))
            return true;
    return false;
}

/* What the last piece reads and nobody has made; of all, or of what would be called like a piece. How many. */
static int
lost_pieces(struct dynamo *d, const struct group *g, const struct fusion *f, bool all, const char **lost)
{
    struct arg args[MAX_ARGS];
    int n = 0, nargs = fx_args(d->l, spelled_row(g->target), g->args, args);
    for (int i = 0; i < nargs; i++)
        if (args[i].kind == ARG_SLOT && names_find(d->l->slots, args[i].s) < 0 && !params_of(d, args[i].s) &&
            (all || names_piece(f, args[i].s)))
            lost[n++] = args[i].s;
    return n;
}

/* A piece's arguments, names for their keys. */
static const char *
piece_args(struct arena *a, const char *args, const char *const *name, double epsilon, int64_t half)
{
    const char *out = "";
    for (; *args; args++)
        out = *args == '$'   ? arena_printf(a, "%s%s", out, name[(unsigned char)*++args])
              : *args == '&' ? arena_printf(a, "%s%g", out, epsilon)
              : *args == '#' ? arena_printf(a, "%s%lld", out, (long long)half)
                             : arena_printf(a, "%s%c", out, *args);
    return out;
}

/* Makes what the last piece of a fusion reads, and returns the tensor that it is made of; -1, and nothing, where some
 * of it can't be made. */
static int
unfuse(struct dynamo *d, const struct group *g)
{
    struct lowering *l = d->l;
    const struct node *n = &l->g->n[g->last];
    const struct fusion *f = g->nnodes ? fusion_of(n) : NULL;
    int x = f && n->nin && n->in[0] >= 0 && l->slot_of[n->in[0]] >= 0 ? n->in[0] : -1, nread = 0;
    const struct call *made = x >= 0 ? group_maker(l->p, l->slot_of[x]) : NULL;
    const char *lost[MAX_ARGS] = {NULL}, *name[128] = {NULL};
    if (!made || l->g->t[x].rank < 1 || (f->unless && starts_with(made->target, f->unless)))
        return -1;
    for (int i = 0; i < COUNT(f->piece) && f->piece[i].target; i++)
        nread += f->piece[i].read;
    int64_t half = l->g->t[x].dims[l->g->t[x].rank - 1].n / 2;
    int nlost = lost_pieces(d, g, f, true, lost);
    nlost = nlost > nread ? lost_pieces(d, g, f, false, lost) : nlost;
    if (!nread || nlost != nread)
        return -1;
    bool whole = half > 0 && !node_int(n, "interleaved", 0);
    for (int i = 0; i < COUNT(f->tables) && f->tables[i].op; i++) {
        const char **table = &name[(unsigned char)"cs"[i]];
        *table = whole && n->nin > i + 1 ? rotary_table(d, g, n->in[i + 1], &f->tables[i]) : NULL;
        if (!*table)
            return -1;
    }
    name['x'] = arena_printf(l->a, "fused~%d", g->last);
    names_put(l->slots, name['x'], l->slot_of[x]);
    for (int i = 0, k = 0; i < COUNT(f->piece) && f->piece[i].target; i++) {
        const struct piece *p = &f->piece[i];
        name['0' + i] = p->read ? lost[k++] : arena_printf(l->a, "%s~%d", p->target + strlen("aten."), g->last * 8 + i);
        lower_piece(d, g, name['0' + i], p->target,
                    piece_args(l->a, p->args, name, node_float(n, "epsilon", 1e-5), half));
    }
    return x;
}

/* ---- one that arrives in pieces ---------------------------------------------------------------------------------- */

/* Modules and functions that arrive in pieces although eager runs one operator. A function's pieces are those of its
 * statement, from one target to another. */
static const struct whole {
    const char *type, *line;           /* class of the module, or what the innermost source line says */
    const char *first, *second, *last; /* what its pieces' targets begin with, NULL anything */
    const char *target, *source;       /* # in the target stands for the image's dimensions */
} wholes[] = {
    {"torch.nn.modules.normalization.RMSNorm", NULL, NULL, NULL, NULL, "aten.rms_norm.default", "since 2.9"},
    {NULL, "rms_norm(", "aten.pow", "aten.mean", "aten.mul", "aten.rms_norm.default", "rms_norm in layer_norm.cpp"},
    {"torch.nn.modules.pooling.AdaptiveAvgPool2d", NULL, "aten.index", NULL, NULL, "aten._adaptive_avg_pool2d.default",
     "windows of unequal sizes: adaptive_avg_pool2d in torch/_decomp/decompositions.py"},
    {NULL, "adaptive_avg_pool", "aten.index", "aten.masked_fill", "aten.div", "aten._adaptive_avg_pool2d.default",
     "likewise"},
    {NULL, "adaptive_avg_pool", "aten.index", "aten.mean", "aten.mean", "aten._adaptive_avg_pool2d.default",
     "likewise"},
    {NULL, "interpolate(", "aten.index", "aten.masked_fill", "aten.div", "aten._adaptive_avg_pool2d.default",
     "mode='area': interpolate in torch/nn/functional.py"},
    {NULL, "interpolate(", "aten.index", "aten.mean", "aten.mean", "aten._adaptive_avg_pool2d.default", "likewise"},
    {NULL, "interpolate(", "aten._unsafe_index", "aten._unsafe_index", "aten.add", "aten.upsample_linear1d.default",
     "upsample_linear1d in torch/_decomp/decompositions.py"},
    {NULL, "interpolate(", "aten._unsafe_index", NULL, "aten._unsafe_index", "aten._upsample_nearest_exact#d.default",
     "mode='nearest-exact', in torch/_decomp/decompositions.py"},
    {NULL, "hardshrink(", "aten.abs", "aten.le", "aten.where", "aten.hardshrink.default",
     "in torch/_decomp/decompositions.py, as the next two"},
    {NULL, "softshrink(", "aten.abs", "aten.gt", "aten.where", "aten.softshrink.default", "likewise"},
    {NULL, "threshold(", "aten.le", "aten.where", "aten.where", "aten.threshold.default", "likewise"},
    {NULL, "std(", "prims.var", NULL, "aten.sqrt", "aten.std.correction", "std in torch/_refs"},
};

static bool
same_origin(const struct dynamo *d, const struct whole *w, const struct group *g, const struct group *h)
{
    return w->type ? h->path && g->path && strcmp(h->path, g->path) == 0 : group_same_statement(d, g->last, h->last);
}

/* Rows that a call of that target may begin, as bits. */
static uint64_t
wholes_of(const char *target)
{
    uint64_t may = 0;
    _Static_assert(COUNT(wholes) <= 64, "a bit each");
    for (int i = 0; i < COUNT(wholes); i++)
        may |= (uint64_t)(!wholes[i].first || starts_with(target, wholes[i].first)) << i;
    return may;
}

static const struct whole *
whole_of(const struct dynamo *d, const struct group *g)
{
    const struct group *next = g + 1 < d->groups + d->ngroups ? g + 1 : NULL;
    const char *line = fx_line_at(d, g->last);
    if (g->aim && !g->aim->pieces) {
        g->aim->wholes = wholes_of(g->target);
        g->aim->pieces = true;
    }
    for (uint64_t left = g->aim ? g->aim->wholes : wholes_of(g->target); left; left &= left - 1) {
        const struct whole *w = &wholes[__builtin_ctzll(left)];
        if ((w->type ? g->type && strcmp(g->type, w->type) == 0 : strstr(line, w->line) != NULL) &&
            (!w->second || (next && starts_with(next->target, w->second) && same_origin(d, w, g, next))))
            return w;
    }
    return NULL;
}

/* Whether the piece names a parameter, a weight that the function multiplies with at the end. */
static bool
names_param(struct dynamo *d, const struct group *g)
{
    struct arg args[MAX_ARGS];
    int n = fx_args(d->l, NULL, g->args, args);
    for (int i = 0; i < n; i++)
        if (args[i].kind == ARG_SLOT && args[i].s && params_of(d, args[i].s))
            return true;
    return false;
}

/* Whether the function that is whole is given a weight on the piece's line: -1 unknown. */
static int
gives_weight(const struct dynamo *d, const struct group *piece, const struct whole *w)
{
    int at = aten_arg(aten_find(w->target), "weight");
    if (at < 0)
        return 0;
    return w->line ? python_gives(fx_line_at(d, piece->last), arena_strn(d->l->a, w->line, strlen(w->line) - 1), at,
                                  "weight")
                   : -1;
}

static void
lower_whole(struct dynamo *d, int at, const struct whole *w)
{
    struct lowering *l = d->l;
    struct group *g = &d->groups[at], *last = g;
    int input = -1, weight = -1, over = 1; /* over: dimensions that a piece reduces */
    int scale = -1;                        /* a weight that is no parameter */
    struct arg own[MAX_ARGS] = {NONE};     /* the first piece's */
    bool ended = false;
    for (int i = at; i < d->ngroups; i++) {
        struct group *h = &d->groups[i];
        if (h->done || !same_origin(d, w, g, h) || h->last > last->last + 4 * (i - at + 2))
            continue;
        bool more = ended && starts_with(h->target, w->last), named = more && names_param(d, h);
        int given = more ? gives_weight(d, h, w) : 0;
        if (given < 0 && !named)
            graph_doubt(l->g, l->g->n[h->last].name, l->g->n[h->last].op, NULL,
                        "%s may take this as its weight, which is no parameter", w->target + strlen("aten."));
        if (ended && !(given < 0 ? named : given))
            break;
        struct arg args[MAX_ARGS];
        int n = fx_args(l, NULL, h->args, args), missing = 0;
        for (int k = 0; k < n; k++) {
            resolve_known(d, &args[k], &missing);
            if (args[k].kind != ARG_SLOT)
                continue;
            struct param *q = args[k].s ? params_of(d, args[k].s) : NULL;
            if (q)
                weight = (int)(q - l->p->params);
            else if (more && args[k].kind == ARG_SLOT && args[k].i >= 0)
                scale = (int)args[k].i;
            else if (i == at && input < 0)
                input = args[k].i >= 0 ? (int)args[k].i : -1;
        }
        if (i == at && input < 0) {
            int spare[4];
            int ns = group_inputs(d, h, args, n, spare, 4), used = 0;
            resolve_arg(d, h, &args[0], 0, spare, ns, &used);
            input = args[0].kind == ARG_SLOT ? (int)args[0].i : -1;
        }
        if (i == at)
            memcpy(own, args, sizeof(*args) * (size_t)n);
        else if (n > 1 && args[1].kind == ARG_LIST)
            over = args[1].n;
        h->done = true;
        last = h;
        ended |= w->last && (i > at || strcmp(w->first, w->last) == 0) && starts_with(h->target, w->last);
    }
    int out = group_output(d, last);
    const struct node *first = &l->g->n[g->nodes[0]];
    if (input < 0 || out < 0)
        return;
    const char *target = strchr(w->target, '#')
                             ? arena_printf(l->a, "%.*s%d%s", (int)strcspn(w->target, "#"), w->target,
                                            l->g->t[out].rank - 2, strchr(w->target, '#') + 1)
                             : w->target;
    struct call *c = group_call(d, last, target, 4);
    int shape = aten_arg(c->op, "normalized_shape"), gain = aten_arg(c->op, "weight"), dim = aten_arg(c->op, "dim"),
        keep = aten_arg(c->op, "keepdim");
    c->args[0] = (struct arg){.kind = ARG_SLOT, .i = input};
    for (int i = 1; i < c->nargs; i++)
        c->args[i] = NONE;
    lower_sizes(l, &l->g->t[out], &c->rank, &c->size);
    over = c->rank < 0 ? 0 : over > c->rank ? c->rank : over;
    const int64_t *normalized = c->size + (c->rank - over);
    if (weight >= 0 && gain > 0) {
        struct param *q = &l->p->params[weight];
        params_sized(l, q, over, normalized);
        if (over == 1 && q->rank > 0)
            normalized = q->size;
        scale = q->slot;
    }
    if (scale >= 0 && gain > 0)
        c->args[gain] = (struct arg){.kind = ARG_SLOT, .i = scale};
    if (shape > 0) {
        c->args[shape] = (struct arg){.kind = ARG_LIST, .n = over, .list = NEWN(l->a, struct arg, over + 1)};
        for (int i = 0; i < over; i++)
            c->args[shape].list[i] = INT(normalized[i]);
    }
    if (dim > 0)
        c->args[dim] = own[1];
    if (keep > 0)
        c->args[keep] = BOOL(first->nin && first->in[0] >= 0 && c->rank == l->g->t[first->in[0]].rank);
    group_define(d, last, out, c->outs[0]);
}

/* A torch.autograd.Function, traced as its forward. */
static void
lower_function(struct dynamo *d, int at, const struct fact *f)
{
    struct lowering *l = d->l;
    struct group *g = &d->groups[at], *last = g;
    struct arg args[MAX_ARGS];
    int n = fx_args(l, NULL, g->args, args), missing = 0;
    for (int k = 0; k < n; k++)
        resolve_known(d, &args[k], &missing);
    for (int i = at; i < d->ngroups; i++)
        if (fact_of(d->l, d->groups[i].type, f->kind) == f && strcmp(d->groups[i].path, g->path) == 0) {
            last = &d->groups[i];
            last->done = true;
        }
    int out = group_output(d, last);
    struct arg input = args[0].kind == ARG_SLOT ? args[0] : args[1];
    if (n < 1 || out < 0 || input.kind != ARG_SLOT || input.i < 0)
        return;
    struct call *c = group_call(d, last, f->arg, 1);
    c->stack = fx_outer(l->a, c->stack); /* its own lines are no longer the program's */
    c->args[0] = input;
    lower_sizes(l, &l->g->t[out], &c->rank, &c->size);
    group_define(d, last, out, c->outs[0]);
}

/* The parameter that is the call's argument k; NULL none. */
static const struct param *
param_read(struct dynamo *d, const struct group *g, int k)
{
    struct arg args[MAX_ARGS];
    int n = fx_args(d->l, NULL, g->args, args), missing = 0;
    if (k >= n)
        return NULL;
    resolve_known(d, &args[k], &missing);
    return args[k].kind == ARG_SLOT ? program_param(d->l->p, (int)args[k].i) : NULL;
}

/* How both ways to have a weight norm call direction and norms, v (g / |v|). torch.nn.utils.weight_norm's hook runs
 * before the module, which keeps the result as its attribute. Sources: torch/nn/utils/weight_norm.py,
 * parametrizations.py. */
static const struct normed {
    const char *direction, *norms;
    bool kept;
} normed[] = {{"_v", "_g", true}, {".original1", ".original0", false}};

/* The way whose names these two parameters have; NULL none. */
static const struct normed *
normed_by(const struct param *v, const struct param *gain)
{
    for (int i = 0; i < COUNT(normed); i++) {
        const size_t n = strlen(v->name), own = strlen(normed[i].direction);
        if (ends_with(v->name, normed[i].direction) && ends_with(gain->name, normed[i].norms) &&
            strlen(gain->name) == n && strncmp(v->name, gain->name, n - own) == 0)
            return &normed[i];
    }
    return NULL;
}

/* The pieces are one operator on CUDA where the norm keeps the first or the last dimension; one of all runs as they do.
 * Source: aten/src/ATen/native/WeightNorm.cpp. */
static bool
lower_weight_norm(struct dynamo *d, int at)
{
    struct group *norm = &d->groups[at], *div = norm + 1, *mul = norm + 2;
    if (at + 2 >= d->ngroups || !target_named(norm->target, "linalg_vector_norm") ||
        !target_named(div->target, "div") || !spelled(mul->target, MULTIPLIES))
        return false;
    const struct param *v = param_read(d, norm, 0), *gain = param_read(d, div, 0);
    int out = group_output(d, mul), apart = 0;
    const struct normed *by = v && gain ? normed_by(v, gain) : NULL;
    if (!by || v != param_read(d, mul, 0) || out < 0 || v->rank != gain->rank)
        return false;
    for (int i = 0; i < v->rank; i++) /* the norms are of the first or of the last dimension alone */
        apart += gain->size[i] == 1 ? 0 : i == 0 || i == v->rank - 1 ? 1 : v->rank;
    if (apart > 1)
        return false;
    struct call *c = group_call(d, mul, "aten._weight_norm_interface.default", 2);
    c->args[0] = (struct arg){.kind = ARG_SLOT, .i = v->slot};
    c->args[1] = (struct arg){.kind = ARG_SLOT, .i = gain->slot};
    if (by->kept)
        resolve_kept(d, c);
    group_define(d, mul, out, c->outs[0]);
    norm->done = div->done = mul->done = true;
    return true;
}

/* ---- recurrent cells --------------------------------------------------------------------------------------------- */

/* The exporter's CPU decomposes a cell; on a GPU two products and one kernel run. A line may run a cell many times, so
 * that its pieces are a sequence and not a statement. Source: aten/src/ATen/native/RNN.cpp. */
enum { CELL_PIECES = 12 };
static const struct cell {
    const char *line, *target;
    int by_input, by_hidden; /* the pieces that multiply the input and the hidden state */
    int state;               /* the piece whose second argument is the cell's state; -1 it has none */
    int out[2];              /* the pieces that make its results, -1 none */
    const char *piece[CELL_PIECES];
} cells[] = {
    {"lstm_cell(",
     "aten.lstm_cell.default",
     1,
     0,
     7,
     {11, 9},
     {"linear", "linear", "add", "sigmoid", "sigmoid", "tanh", "sigmoid", "mul", "mul", "add", "tanh", "mul"}},
    {"gru_cell(",
     "aten.gru_cell.default",
     0,
     1,
     -1,
     {11, -1},
     {"linear", "linear", "add", "sigmoid", "add", "sigmoid", "mul", "add", "tanh", "sub", "mul", "add"}},
    {"rnn_tanh_cell(", "aten.rnn_tanh_cell.default", 1, 0, -1, {3, -1}, {"linear", "linear", "add", "tanh"}},
    {"rnn_relu_cell(", "aten.rnn_relu_cell.default", 1, 0, -1, {3, -1}, {"linear", "linear", "add", "relu"}},
};

static bool
is_piece(const struct dynamo *d, int at, int i, const char *stem)
{
    if (i >= d->ngroups || !group_same_statement(d, d->groups[at].last, d->groups[i].last))
        return false;
    return spelled_as(spelled_root(d->l->a, d->groups[i].target), stem);
}

/* The name of the weight that a product multiplies with. */
static const char *
cell_weight(struct dynamo *d, int i)
{
    struct arg args[MAX_ARGS];
    int n = fx_args(d->l, spelled_row(d->groups[i].target), d->groups[i].args, args);
    return n > 1 && args[1].kind == ARG_SLOT && args[1].s ? args[1].s : "";
}

/* The pieces of a cell that begins with group `at`. A product that a cell before it made of the same input was merged
 * with that one's: it ran again. */
static const struct cell *
cell_of(struct dynamo *d, int at, int *piece)
{
    const struct traced *traced = fx_record(d->l, d->groups[at].last)->traced;
    const char *line = traced->line;
    if (!python_may_call(traced->endings, "cell")) /* as all of them end */
        return NULL;
    for (int i = 0; i < COUNT(cells); i++) {
        const struct cell *k = &cells[i];
        if (!strstr(line, k->line) || !is_piece(d, at, at, k->piece[0]))
            continue;
        bool both = is_piece(d, at, at + 1, k->piece[1]), same = true;
        int own = both ? 0 : k->by_hidden, before = at - 1, next = at + 1 + both;
        piece[own] = at;
        piece[1 - own] = at + 1;
        while (!both && before >= 0 &&
               !(is_piece(d, at, before, k->piece[0]) && strcmp(cell_weight(d, at), cell_weight(d, before)) != 0))
            before--;
        if (!both)
            piece[1 - own] = before;
        for (int j = 2; j < CELL_PIECES && k->piece[j] && same; j++) {
            piece[j] = next++;
            same = is_piece(d, at, piece[j], k->piece[j]) && !d->groups[piece[j]].done;
        }
        if (same && before >= -both)
            return k;
    }
    return NULL;
}

/* A piece's arguments, as if it ran; how many. */
static int
cell_args(struct dynamo *d, const struct group *g, struct arg *args)
{
    int n = fx_args(d->l, spelled_row(g->target), g->args, args), missing = 0, spare[MAX_ARGS], used = 0, rank = -1;
    int out = group_output(d, g);
    const int64_t *size = NULL;
    for (int i = 0; i < n; i++)
        resolve_known(d, &args[i], &missing);
    if (out >= 0)
        lower_sizes(d->l, &d->l->g->t[out], &rank, &size);
    params_size(d, g, spelled_row(g->target), args, n, rank, size);
    int nspare = group_inputs(d, g, args, n, spare, MAX_ARGS);
    for (int i = 0; i < n; i++)
        resolve_arg(d, g, &args[i], i, spare, nspare, &used);
    return n;
}

static void
lower_cell(struct dynamo *d, const struct cell *k, const int *piece)
{
    enum { INPUT, HIDDEN, BY_INPUT, BY_HIDDEN, INPUT_BIAS, HIDDEN_BIAS, ALL };
    struct arg a[ALL], input[MAX_ARGS] = {NONE}, hidden[MAX_ARGS] = {NONE}, state[MAX_ARGS] = {NONE};
    int ni = cell_args(d, &d->groups[piece[k->by_input]], input),
        nh = cell_args(d, &d->groups[piece[k->by_hidden]], hidden), n = 0;
    a[INPUT] = input[0];
    a[HIDDEN] = hidden[0];
    a[BY_INPUT] = input[1];
    a[BY_HIDDEN] = hidden[1];
    a[INPUT_BIAS] = ni > 2 ? input[2] : NONE;
    a[HIDDEN_BIAS] = nh > 2 ? hidden[2] : NONE;
    if (k->state >= 0) {
        const struct group *g = &d->groups[piece[k->state]];
        int missing = 0, spare[MAX_ARGS], used = 0;
        fx_args(d->l, spelled_row(g->target), g->args, state);
        resolve_known(d, &state[1], &missing);
        int nspare = group_inputs(d, g, state, 2, spare, MAX_ARGS);
        resolve_arg(d, g, &state[1], 1, spare, nspare, &used);
        a[HIDDEN] = (struct arg){.kind = ARG_LIST, .n = 2, .list = NEWN(d->l->a, struct arg, 2)};
        a[HIDDEN].list[0] = hidden[0];
        a[HIDDEN].list[1] = state[1];
    }
    while (n < CELL_PIECES && k->piece[n])
        d->groups[piece[n++]].done = true;
    struct call *c = group_call(d, &d->groups[piece[n - 1]], k->target, ALL);
    memcpy(c->args, a, sizeof(a));
    int out = group_output(d, &d->groups[piece[k->out[0]]]);
    if (out >= 0)
        lower_sizes(d->l, &d->l->g->t[out], &c->rank, &c->size);
    lower_results(d->l, c, k->out[1] >= 0 ? 2 : 1);
    for (int i = 0; i < c->nouts; i++) {
        const struct group *g = &d->groups[piece[k->out[i]]];
        group_define(d, g, group_output(d, g), c->outs[i]);
    }
}

void
pieces_lower(struct dynamo *d, int at)
{
    int piece[CELL_PIECES] = {0};
    struct group *g = &d->groups[at];
    const struct cell *cell = cell_of(d, at, piece);
    const struct whole *w = cell ? NULL : whole_of(d, g);
    const struct fact *function = cell || w ? NULL : fact_of(d->l, g->type, FACT_ONE_OPERATOR);
    d->fed = -1;
    if (cell) {
        lower_cell(d, cell, piece);
    } else if (arithmetic_lower(d, at) || lower_weight_norm(d, at)) {
        return;
    } else if (w) {
        lower_whole(d, at, w);
    } else if (function) {
        lower_function(d, at, function);
    } else {
        d->fed = unfuse(d, g);
        call_or_doubt(d, g);
    }
}
