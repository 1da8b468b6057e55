/* SPDX-License-Identifier: Apache-2.0 */
/* params.c - the parameters of a recorded program: the signature names them, the file may have their data.
 *
 * A size that no initializer states follows from the call that reads the parameter, or from a library's fact. One that
 * no call names is another name of a tied one. What is left gets a doubt.
 */
#include "lower/dynamo.h"
#include "torch/torch.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* ---- the signature ----------------------------------------------------------------------------------------------- */

static const struct kind_row {
    const char *word;
    enum param_kind kind;
} kinds[] = {{"PARAMETER", PARAM_TRAINED}, {"BUFFER", PARAM_BUFFER}, {"CONSTANT_TENSOR", PARAM_CONSTANT}};

void
params_read(struct dynamo *d)
{
    struct lowering *l = d->l;
    const char *p = l->g->signature, *stop = strstr(p, "# outputs");
    for (; p && *p && (!stop || p < stop); p = strchr(p, '\n'), p = p ? p + 1 : NULL) {
        size_t len = strcspn(p, "\n");
        char *line = arena_strn(l->a, p, len);
        char *colon = strstr(line, ": "), *target = strstr(line, "target='"),
             *end = target ? strchr(target + 8, '\'') : NULL;
        if (!colon || !end)
            continue;
        *colon = *end = 0;
        for (int k = 0; k < COUNT(kinds); k++)
            if (strncmp(colon + 2, kinds[k].word, strlen(kinds[k].word)) == 0) {
                struct param *q = lower_param(l, target + 8, kinds[k].kind);
                names_put(d->params, line, l->p->nparams - 1);
                names_put(l->slots, line, q->slot);
                int t = graph_find(l->g, q->name);
                if (t >= 0 && l->g->t[t].is_initializer)
                    lower_param_shape(l, q, &l->g->t[t]);
                if (strcmp(q->name + strlen(q->name) - (strlen(q->name) < 19 ? 0 : 19), "num_batches_tracked") == 0) {
                    q->rank = 0; /* torch/nn/modules/batchnorm.py: a long scalar */
                    q->dtype = DT_INT64;
                }
            }
    }
}

struct param *
params_of(const struct dynamo *d, const char *placeholder)
{
    int at = names_find(d->params, placeholder);
    return at < 0 ? NULL : &d->l->p->params[at];
}

struct param *
params_called(const struct dynamo *d, const char *name)
{
    const int at = names_find(d->l->params, name);
    return at < 0 ? NULL : &d->l->p->params[at];
}

static struct names *
read_lines(const struct dynamo *d)
{
    static const char self[] = "self.";
    struct arena *a = d->l->a;
    struct names *read = names_new(a);
    for (int i = 0; i < d->ngroups; i++) {
        const char *path = d->groups[i].path ? d->groups[i].path : "", *p = fx_line_at(d, d->groups[i].last);
        while ((p = strstr(p, self))) {
            p += strlen(self);
            names_put(read, arena_printf(a, "%s%s%.*s", path, *path ? "." : "", (int)python_name(p), p), i);
        }
    }
    return read;
}

bool
params_in_line(struct dynamo *d, const struct param *q)
{
    d->read = d->read ? d->read : read_lines(d);
    return names_find(d->read, q->name) >= 0;
}

/* ---- sizes of parameters without an initializer of their own ----------------------------------------------------- */

void
params_sized(struct lowering *l, struct param *q, int rank, const int64_t *size)
{
    if (!q || q->rank >= 0 || rank < 0 || !size)
        return;
    q->rank = rank;
    q->size = arena_dup(l->a, size, sizeof(*size) * (size_t)rank);
}

static void
sized_like(struct lowering *l, struct param *q, const struct param *like)
{
    params_sized(l, q, like->rank, like->size);
    q->dtype = like->dtype;
}

static void
params_turned(struct lowering *l, struct param *q)
{
    int64_t size[] = {q->size[1], q->size[0]};
    q->size = arena_dup(l->a, size, sizeof(size));
}

int64_t
params_width(const struct dynamo *d, const struct group *g)
{
    const struct lowering *l = d->l;
    for (int k = 0; k < g->nnodes; k++) {
        const struct node *n = &l->g->n[g->nodes[k]];
        for (int i = 0; i < n->nin; i++)
            if (n->in[i] >= 0 && l->slot_of[n->in[i]] >= 0 && !group_makes(d, g, n->in[i])) {
                const struct tensor *t = &l->g->t[n->in[i]];
                return t->rank > 0 ? t->dims[t->rank - 1].n : -1;
            }
    }
    for (int k = 0; k < g->nnodes; k++) { /* a buffer by a weight */
        const struct node *n = &l->g->n[g->nodes[k]];
        const struct tensor *t = n->nin > 1 && n->in[0] >= 0 ? &l->g->t[n->in[0]] : NULL;
        if (t && t->is_initializer && dtypes[t->dtype].is_float && t->rank > 0)
            return t->dims[t->rank - 1].n;
    }
    return -1;
}

/* Recurrent layers, how many gates' weights are stacked in one of theirs, and how many states they return beside their
 * output: torch/nn/modules/rnn.py. */
static const struct recurrent {
    const char *name;
    int gates, states;
} recurrent[] = {{"lstm.input", 4, 2}, {"gru.input", 3, 1}, {"rnn_tanh.input", 1, 1}, {"rnn_relu.input", 1, 1}};

static const struct recurrent *
recurrent_row(const struct aten *op)
{
    for (int i = 0; i < COUNT(recurrent) && op; i++)
        if (*recurrent[i].name == *op->name && strcmp(recurrent[i].name, op->name) == 0)
            return &recurrent[i];
    return NULL;
}

int
params_gates(const struct aten *op)
{
    const struct recurrent *r = recurrent_row(op);
    return r ? r->gates : 0;
}

int
params_states(const struct aten *op)
{
    const struct recurrent *r = recurrent_row(op);
    return r ? r->states : 0;
}

/* Their weights, where some are small enough to be folded: of the input and of the hidden state, and the biases, for
 * each layer and direction. Projections make lists of another length. */
static void
size_recurrent(struct dynamo *d, const struct group *g, const struct aten *op, const struct arg *args, int nargs,
               int64_t out)
{
    const int gates = params_gates(op);
    if (!gates)
        return;
    int at = aten_arg(op, "params"), biases = aten_arg(op, "has_biases"), layers = aten_arg(op, "num_layers"),
        both = aten_arg(op, "bidirectional");
    if (at >= nargs || args[at].kind != ARG_LIST || both >= nargs || out <= 0)
        return;
    int each = args[biases].i ? 4 : 2, directions = args[both].i ? 2 : 1;
    int64_t hidden = out / directions, in = params_width(d, g);
    for (int i = 0; i < args[at].n && args[at].n == each * directions * args[layers].i; i++) {
        struct param *q = args[at].list[i].s ? params_of(d, args[at].list[i].s) : NULL;
        int64_t columns = i % each ? hidden : i < each * directions ? in : out;
        if (q && columns > 0)
            params_sized(d->l, q, i % each < 2 ? 2 : 1, (int64_t[]){gates * hidden, columns});
    }
}

/* Whether the group reads the parameter under its own name. */
static bool
reads_as_named(const struct lowering *l, const struct group *g, const struct param *q)
{
    bool reads = false;
    for (int k = 0; k < g->nnodes && !reads; k++)
        for (int j = 0; j < l->g->n[g->nodes[k]].nin && !reads; j++) {
            const int t = l->g->n[g->nodes[k]].in[j];
            reads = t >= 0 && strcmp(l->g->t[t].name, q->name) == 0;
        }
    return reads;
}

/* The parameters that a call's arguments name, in order: how many. */
static int
params_named(const struct dynamo *d, const struct arg *args, int nargs, struct param **out, int most)
{
    int n = 0;
    for (int i = 0; i < nargs; i++)
        for (int k = 0; k < (args[i].kind == ARG_LIST ? args[i].n : 1) && n < most; k++) {
            const struct arg *a = args[i].kind == ARG_LIST ? &args[i].list[k] : &args[i];
            struct param *q = a->kind == ARG_SLOT && a->s ? params_of(d, a->s) : NULL;
            if (q)
                out[n++] = q;
        }
    return n;
}

/* The parameter has the sizes of a constant that the group reads under a name that none of its arguments has, of
 * numbers or indices: of as many such arguments before it the next one; first: of all the first. */
static void
sized_as_read(const struct dynamo *d, const struct group *g, const struct arg *args, int nargs, struct param *q,
              bool first, bool numbers)
{
    struct lowering *l = d->l;
    struct param *named[2 * MAX_ARGS];
    const int n = params_named(d, args, nargs, named, COUNT(named));
    int skip = 0;
    for (int i = 0; i < n && named[i] != q && !first; i++)
        skip += !reads_as_named(l, g, named[i]);
    for (int k = 0; k < g->nnodes && q->rank < 0; k++)
        for (int j = 0; j < l->g->n[g->nodes[k]].nin && q->rank < 0; j++) {
            const int at = l->g->n[g->nodes[k]].in[j];
            const struct tensor *t = at < 0 ? NULL : &l->g->t[at];
            bool free = t && t->is_initializer && dtypes[t->dtype].is_float == numbers;
            for (int i = 0; i < n && free; i++)
                free = strcmp(named[i]->name, t->name) != 0;
            if (free && skip-- == 0)
                lower_param_shape(l, q, t);
        }
}

/* "x[:, self.rows, self.columns]": of buffers the node takes one list of coordinates, all of which are read. */
static void
sized_as_coordinates(struct dynamo *d, const struct group *g, const struct arg *indices)
{
    const struct graph *gr = d->l->g;
    int64_t n = 0;
    for (int i = 0; i < indices->n; i++)
        n += indices->list[i].kind != ARG_NONE;
    for (int k = 0; k < g->nnodes && n; k++) {
        const struct node *node = &gr->n[g->nodes[k]];
        const struct tensor *t =
            node_is(node, OP_COORDINATES) && node->nin > 1 && node->in[1] >= 0 ? &gr->t[node->in[1]] : NULL;
        int rank;
        const int64_t *size;
        if (!t || !t->is_initializer || !lower_sizes(d->l, t, &rank, &size) || rank < 1 || size[rank - 1] != n)
            continue;
        for (int i = 0; i < indices->n; i++) {
            struct param *q = indices->list[i].s ? params_of(d, indices->list[i].s) : NULL;
            if (!q || q->rank >= 0)
                continue;
            params_sized(d->l, q, rank - 1, size);
            q->dtype = t->dtype;
        }
    }
}

static bool size_by_fact(struct lowering *l, struct param *q);

/* Columns of a linear layer's weight and of the table that it reads, whose product the exporter folded into a constant
 * of so many columns and rows; 0 it did not. */
static int64_t
folded_columns(struct dynamo *d, const struct group *g, const struct arg *args, int nargs, const struct param *q,
               int rank, const int64_t *size)
{
    const struct node *n = &d->l->g->n[g->last];
    const struct tensor *t = n->nin > 0 && n->in[0] >= 0 ? &d->l->g->t[n->in[0]] : NULL;
    if (!t || g->nnodes > 1 || !t->is_initializer || !t->folded_from || t->rank != rank || rank < 2)
        return 0;
    int64_t rows = 1;
    for (int i = 0; i < rank - 1; i++)
        rows *= size[i];
    rows = rows > size[rank - 1] ? rows : size[rank - 1];
    if (rows < 1 || rows > MOST_FOLDED)
        return 0;
    struct param *weight = nargs > 1 && args[1].kind == ARG_SLOT && args[1].s ? params_of(d, args[1].s) : NULL;
    if (weight && (weight->rank == 2 || (weight->rank < 0 && size_by_fact(d->l, weight) && weight->rank == 2)))
        return weight->size[1];
    program_assume(d->l->p, ALTERNATIVE_FOLDED, "%s, whose product the exporter folded, has two columns", q->name);
    return setup_instead(d->l->s, ALTERNATIVE_FOLDED) ? MOST_FOLDED / rows : 2; /* coordinates in an image */
}

/* The sizes of what repeat_interleave reads along one dimension: its result, so much shorter there. The node reads what
 * was folded of it, which is repeated already. NULL where that is not known. */
static int64_t *
sizes_unrepeated(struct arena *a, const struct aten *op, const struct arg *args, int nargs, int rank,
                 const int64_t *size)
{
    const int at = op ? aten_arg(op, "repeats") : -1, along = at < 0 ? -1 : aten_arg(op, "dim");
    if (at < 0 || at >= nargs || along < 0 || along >= nargs || args[at].kind != ARG_INT || args[at].i < 1 ||
        args[along].kind != ARG_INT || rank < 1)
        return NULL;
    const int64_t dim = args[along].i + (args[along].i < 0 ? rank : 0);
    if (dim < 0 || dim >= rank || size[dim] < 0 || size[dim] % args[at].i)
        return NULL;
    int64_t *own = arena_dup(a, size, sizeof(*size) * (size_t)rank);
    own[dim] /= args[at].i;
    return own;
}

void
params_size_folded(struct dynamo *d, const struct aten *op, const struct arg *args, int nargs, int rank,
                   const int64_t *size)
{
    struct program *p = d->l->p;
    const struct call *maker = nargs && args[0].kind == ARG_SLOT ? group_maker(p, (int)args[0].i) : NULL;
    int64_t *own = maker && target_is(maker->target, TARGET_FOLDED)
                       ? sizes_unrepeated(d->l->a, op, args, nargs, rank, size)
                       : NULL;
    if (own) {
        struct call *c = &p->calls[maker - p->calls];
        c->rank = rank;
        c->size = own;
    }
}

void
params_size(struct dynamo *d, const struct group *g, const struct aten *op, const struct arg *args, int nargs, int rank,
            const int64_t *size)
{
    struct lowering *l = d->l;
    const char *name = op ? op->name : "";
    bool linear = spelled(name, PROJECTS), addmm = spelled(name, ADDS_PRODUCT);
    const int result = group_output(d, g);
    if (op)
        size_recurrent(d, g, op, args, nargs, rank > 0 ? size[rank - 1] : -1);
    for (int i = 0; i < nargs; i++) {
        if (op && args[i].kind == ARG_LIST && i == aten_arg(op, "indices"))
            sized_as_coordinates(d, g, &args[i]);
        struct param *before = NULL; /* in a list: a recurrent layer's biases have as many rows as its weights */
        for (int k = 0; args[i].kind == ARG_LIST && k < args[i].n; k++) {
            struct param *q = args[i].list[k].s ? params_of(d, args[i].list[k].s) : NULL;
            if (q && q->rank < 0 && before && before->rank > 0)
                params_sized(l, q, 1, before->size);
            else if (q && q->rank < 0)
                sized_as_read(d, g, args, nargs, q, false, true);
            before = q ? q : before;
        }
        struct param *q = args[i].kind == ARG_SLOT && args[i].s ? params_of(d, args[i].s) : NULL;
        if (!q || q->rank >= 0)
            continue;
        const int64_t few = linear ? folded_columns(d, g, args, nargs, q, rank, size) : 0;
        int64_t in = few ? few : params_width(d, g), out = rank > 0 ? size[rank - 1] : -1;
        int shape = op ? aten_arg(op, "normalized_shape") : -1;
        if (few && i == 0) {
            int64_t *table = arena_dup(l->a, size, sizeof(*size) * (size_t)rank);
            table[rank - 1] = in;
            params_sized(l, q, rank, table);
            continue;
        }
        if (linear || addmm) {
            bool weight = i == (linear ? 1 : 2);
            if (out >= 0 && (!weight || in >= 0))
                params_sized(l, q, weight ? 2 : 1,
                             weight ? (linear ? (int64_t[]){out, in} : (int64_t[]){in, out}) : &out);
            if (result >= 0) /* a product's operands are of one type */
                q->dtype = l->g->t[result].dtype;
            continue;
        }
        if (shape >= 0 && shape < nargs && args[shape].kind == ARG_LIST) {
            int64_t dims[8];
            for (int k = 0; k < args[shape].n && k < 8; k++)
                dims[k] = args[shape].list[k].i;
            params_sized(l, q, args[shape].n < 8 ? args[shape].n : 8, dims);
            continue;
        }
        bool bias_of_conv = spelled(name, CONVOLVES) && i == 2; /* zero biases are removed from the node */
        if (spelled(name, SCALES) || bias_of_conv) {
            if (rank > 1)
                params_sized(l, q, 1, &size[1]);
            continue;
        }
        const int64_t *read = sizes_unrepeated(l->a, op, args, nargs, rank, size);
        if (read) {
            params_sized(l, q, rank, read);
            continue;
        }
        bool index = op && i == aten_arg(op, "index");
        sized_as_read(d, g, args, nargs, q, index, !index);
        int indices = op ? aten_arg(op, "indices") : -1;
        bool columns = indices > 0 && indices < nargs && args[indices].kind == ARG_LIST && args[indices].n > 1 &&
                       args[indices].list[0].kind == ARG_NONE;
        if (columns && q->rank == 2 && rank > 0 && q->size[0] != size[0] && q->size[1] == size[0])
            params_turned(l, q); /* nodes gather rows, of the transpose */
    }
}

/* ---- parameters that no call names ------------------------------------------------------------------------------- */

/* Rows of the first parameter with that ending. */
static int64_t
rows_of(const struct program *p, const char *end)
{
    for (int i = 0; i < p->nparams; i++)
        if (ends_with(p->params[i].name, end) && p->params[i].rank > 0)
            return p->params[i].size[0];
    return -1;
}

/* Of the parameter of that name in the module around the one that has q: its rows, or the elements of one of them. */
static int64_t
beside_size(const struct lowering *l, const struct param *q, const char *name, bool rows)
{
    const struct program *p = l->p;
    const int around = q->module < 0 ? -1 : p->modules[q->module].parent;
    int64_t n = -1;
    for (int i = 0; i < p->nparams && around >= 0 && n < 0; i++) {
        const struct param *r = &p->params[i];
        if (r->module != around || r->rank < 1 || strcmp(path_last(r->name), name) != 0)
            continue;
        n = rows ? r->size[0] : 1;
        for (int k = 1; k < r->rank && !rows; k++)
            if (!mul_ok(n, r->size[k], &n))
                return -1;
    }
    return n;
}

/* "base_layer=ln_tuning_layers.*": those of the first parameter whose path has the second in place of the first. */
static bool
size_of_copy(struct lowering *l, const char *text, struct param *q)
{
    const size_t len = strcspn(text, "=");
    const char *part = strstr(q->name, arena_printf(l->a, ".%.*s.", (int)len, text));
    const char *copy =
        part ? arena_printf(l->a, "%.*s.%s%s", (int)(part - q->name), q->name, text + len + 1, part + 1 + len) : NULL;
    for (int i = 0; i < l->p->nparams && copy && q->rank < 0; i++)
        if (l->p->params[i].rank >= 0 && glob_match(copy, l->p->params[i].name))
            sized_like(l, q, &l->p->params[i]);
    return q->rank >= 0;
}

/* "int64 1 @wpe.weight", "float <original" and "float >original", or as above. */
static bool
read_size(struct lowering *l, const char *text, struct param *q)
{
    if (strchr(text, '='))
        return size_of_copy(l, text, q);
    int64_t size[4];
    int n = 0;
    size_t len = strcspn(text, " ");
    enum dtype t = dtype_by_onnx(arena_strn(l->a, text, len));
    for (const char *p = text + len; *p && n < COUNT(size); p += len) {
        p++;
        len = strcspn(p, " ");
        const char *name = arena_strn(l->a, p + 1, len - 1);
        size[n] = *p == '@'                ? rows_of(l->p, name)
                  : *p == '<' || *p == '>' ? beside_size(l, q, name, *p == '<')
                                           : atoll(p);
        if (size[n++] < 0)
            return false;
    }
    params_sized(l, q, n, size);
    q->dtype = t;
    return true;
}

static bool
size_by_fact(struct lowering *l, struct param *q)
{
    const struct place at = {.type = l->p->modules[q->module].type, .path = q->name};
    for (const struct fact *f = NULL; q->rank < 0 && (f = fact_next(l, f, 1u << FACT_SIZE, &at));)
        read_size(l, f->arg, q);
    return q->rank >= 0;
}

/* Names of modules that two module paths begin with, or that a path has (b NULL). */
static int
common_modules(const char *a, const char *b)
{
    int n = 0;
    for (size_t i = 0; a[i] && (!b || a[i] == b[i]); i++)
        n += a[i] == '.';
    return n;
}

/* Whether a parameter's name is "BASE.x.LAST" with the module's name x between, or "BASE.x.NUMBER.LAST" where it is
 * listed: nothing but the first n characters of the base is compared. */
static bool
name_below(const char *name, const char *base, size_t n, const char *last, bool listed)
{
    const char *x = strncmp(name, base, n) == 0 ? name + n : "", *dot = x + strcspn(x, ".");
    if (!*dot)
        return false;
    const char *number = dot + 1, *end = number + strspn(number, "0123456789");
    return strcmp(listed && end > number ? end : listed ? "" : dot, last) == 0;
}

/* A module that is an attribute and stands in a list, too, "self.net = nn.Sequential(self.conv1, ...)", has its
 * parameters twice, and runs under the list's name. Those that nothing reads and those of the list that are read are
 * the same modules where they are as many, in order. -1 they are not. */
static int
listed_as(const struct dynamo *d, int at)
{
    const struct program *p = d->l->p;
    const char *name = p->params[at].name, *parametrized = strstr(name, ".parametrizations."),
               *last = parametrized ? parametrized : strrchr(name, '.'); /* torch/nn/utils/parametrize.py */
    size_t n = last ? (size_t)(last - name) : 0;
    while (n > 0 && name[n - 1] != '.')
        n--;
    int before = 0, unread = 0, listed = 0, found = -1;
    for (int i = 0; i < p->nparams && last; i++) {
        bool empty = !d->referenced[i] && p->params[i].kind <= PARAM_FROZEN;
        if (empty && name_below(p->params[i].name, name, n, last, false)) {
            unread++;
            before += i < at;
        }
    }
    for (int i = 0; i < p->nparams && last; i++)
        if (d->referenced[i] && p->params[i].rank >= 0 && name_below(p->params[i].name, name, n, last, true))
            found = listed++ == before ? i : found;
    return listed == unread ? found : -1;
}

/* Whether the number that ends there is a part of the path, "layers.4", and not the end of a name, "fc2". */
static bool
is_index(const char *path, const char *end)
{
    while (end > path && isdigit((unsigned char)end[-1]))
        end--;
    return end == path || end[-1] == '.';
}

/* The parameter whose size this one has, too: that of the same layer beside it, in a list rather than of a like name,
 * if all of those are alike; NULL none. */
static const struct param *
like_beside(const struct program *p, const struct param *q)
{
    const struct param *like = NULL;
    const char *inner = NULL;
    for (const struct param *o = p->params; o < p->params + p->nparams; o++) {
        const char *at = o->rank >= 0 && (o->kind == PARAM_BUFFER) == (q->kind == PARAM_BUFFER)
                             ? path_number(q->name, o->name)
                             : NULL;
        const int listed = at && inner ? is_index(q->name, at) - is_index(q->name, inner) : 0;
        if (!at || listed < 0 || (!listed && inner && at < inner))
            continue;
        bool same = like && at == inner && like->rank == o->rank && like->dtype == o->dtype &&
                    memcmp(like->size, o->size, sizeof(*o->size) * (size_t)o->rank) == 0;
        if (inner == at && !same)
            return NULL;
        like = o;
        inner = at;
    }
    return like;
}

/* How many parameters are below a module's path of n characters, and of these how many are read. */
static int
params_below(const struct dynamo *d, const char *path, size_t n, int *read)
{
    const struct program *p = d->l->p;
    int all = 0;
    *read = 0;
    for (int i = 0; i < p->nparams; i++)
        if (p->params[i].kind <= PARAM_FROZEN && strncmp(p->params[i].name, path, n) == 0 &&
            p->params[i].name[n] == '.') {
            all++;
            *read += d->referenced[i];
        }
    return all;
}

/* A module that two have, "self.net = net; self.conv = Conv(net)", runs under the name that comes last: that of the
 * module, of several layers, of which all is read, and which has as many parameters by the same names; the nearest one.
 * -1 there is none, or several, or its layer of another number is read. */
static int
registered_as(const struct dynamo *d, int at)
{
    enum { FEWEST = 4 }; /* parameters that tell a module */
    const struct program *p = d->l->p;
    const char *name = p->params[at].name;
    int read = 0, ours = 0, found = -1, nearest = -1;
    size_t n = strcspn(name, ".");
    for (; name[n] && ((ours = params_below(d, name, n, &read)) < FEWEST || read); n += 1 + strcspn(name + n + 1, "."))
        ;
    const struct param *like = name[n] ? like_beside(p, &p->params[at]) : NULL;
    if (!name[n] || (like && d->referenced[like - p->params]))
        return -1;
    for (int i = at + 1; i < p->nparams; i++) {
        const char *other = p->params[i].name;
        const size_t len = strlen(other), rest = strlen(name + n);
        const int near = common_modules(name, other);
        if (near < nearest || (near == nearest && found < 0)) /* it is not the one, whatever it has */
            continue;
        if (!d->referenced[i] || p->params[i].rank < 0 || len <= rest || strcmp(other + len - rest, name + n) != 0 ||
            params_below(d, other, len - rest, &read) != ours || read != ours)
            continue;
        found = near > nearest ? i : near == nearest ? -1 : found;
        nearest = near > nearest ? near : nearest;
    }
    return found;
}

/* Whether a module is named as a table of tokens is, or as what is tied to one. */
static bool
is_table(const char *module)
{
    static const char *const tables[] = {"emb",     "tok",       "wte", "shared", "head",
                                         "decoder", "generator", "out", "lm",     "vocab"};
    static const char *const others[] = {"pos", "time", "type", "segment"};
    bool is = false;
    for (int i = 0; i < COUNT(tables); i++)
        is |= strstr(module, tables[i]) != NULL;
    for (int i = 0; i < COUNT(others); i++)
        is &= !strstr(module, others[i]);
    return is;
}

/* The parameter under whose name a nameless one is read: the same last name in the nearest module above or below (a
 * head's bias and its decoder's); for a weight that is named as a table, and is none of a list's or of attention's, the
 * one that an embedding reads, or the head nearer to it. */
static int
tied_to(const struct dynamo *d, int at, int table)
{
    const struct program *p = d->l->p;
    const char *name = p->params[at].name, *dot = strrchr(name, '.');
    int best = -1, least = 0;
    for (int i = 0; i < p->nparams && dot; i++) {
        const char *other = p->params[i].name, *end = strrchr(other, '.');
        size_t n = (size_t)(dot - name), m = end ? (size_t)(end - other) : 0, common = n < m ? n : m;
        int apart = abs(common_modules(name, NULL) - common_modules(other, NULL));
        if (d->referenced[i] && p->params[i].rank >= 0 && end && n != m && strcmp(dot, end) == 0 &&
            strncmp(name, other, common) == 0 && (n < m ? other : name)[common] == '.' && (best < 0 || apart < least)) {
            best = i;
            least = apart;
        }
    }
    best = best < 0 ? listed_as(d, at) : best;
    best = best < 0 ? registered_as(d, at) : best;
    if (best >= 0)
        return best;
    static const char *const heads[] = {"head.weight", "decoder.weight", "generator.weight"};
    const char *module = p->modules[p->params[at].module].path;
    if (!ends_with(name, "weight") || !is_table(path_last(module)) || strstr(module, "attn.") ||
        strstr(module, "attention.") || like_beside(p, &p->params[at]))
        return -1;
    for (int i = 0; i < p->nparams; i++)
        for (int k = 0; k < COUNT(heads); k++)
            if (d->referenced[i] && p->params[i].rank == 2 && ends_with(p->params[i].name, heads[k]) &&
                common_modules(name, p->params[i].name) > (table < 0 ? 0 : common_modules(name, p->params[table].name)))
                table = i;
    return table;
}

/* One tensor is trained or not, under whichever of its names options say so. */
static void
tie_kinds(const struct setup *s, struct param *one, struct param *other)
{
    const enum param_kind wins = s->train.n ? PARAM_TRAINED : PARAM_FROZEN;
    if (one->kind == wins || other->kind == wins)
        one->kind = other->kind = wins;
}

/* A buffer of the same name in a module of the same parent, which is read; NULL none. */
static const struct param *
same_leaf(const struct dynamo *d, const struct param *q)
{
    const struct program *p = d->l->p;
    const char *leaf = strrchr(q->name, '.');
    for (const struct param *o = p->params; leaf && o < p->params + p->nparams; o++) {
        const char *end = strrchr(o->name, '.');
        if (o->kind == PARAM_BUFFER && o->rank >= 0 && d->referenced[o - p->params] && end && strcmp(end, leaf) == 0 &&
            o->module != q->module && p->modules[o->module].parent == p->modules[q->module].parent &&
            !path_number(q->name, o->name))
            return o;
    }
    return NULL;
}

/* Whether all that the file has of the parameters below both paths has equal sizes, of one at least. */
static bool
agree_below(const struct dynamo *d, const char *path, const char *other)
{
    const struct program *p = d->l->p;
    const size_t n = strlen(path);
    int agree = 0;
    for (const struct param *q = p->params; q < p->params + p->nparams; q++) {
        const bool below = q->rank > 0 && strncmp(q->name, path, n) == 0 && q->name[n] == '.';
        const struct param *o = below ? params_called(d, arena_printf(d->l->a, "%s%s", other, q->name + n)) : NULL;
        if (!o || o->rank < 0)
            continue;
        if (o->rank != q->rank || memcmp(o->size, q->size, sizeof(*q->size) * (size_t)q->rank) != 0)
            return false;
        agree++;
    }
    return agree > 0;
}

/* A parameter with the same place in a module like the one that q is in, "teacher.norm.bias" of "student.norm.bias", of
 * which equal ones are one in the file: one that has a size, or whose name a line says. NULL none. */
static const struct param *
twin_of(struct dynamo *d, const struct param *q, bool sized)
{
    enum { TRIES = 8 };
    const struct program *p = d->l->p;
    int tries = 0;
    for (const struct param *o = p->params; o < p->params + p->nparams && tries < TRIES; o++) {
        const char *name = q->name, *other = o->name, *at = name;
        if (o == q || (sized && o->rank < 0) || param_is_state(o) != param_is_state(q))
            continue;
        for (; *name && *name == *other; name++, other++)
            at = *name == '.' ? name + 1 : at; /* where the component begins that differs */
        const char *tail = strchr(at, '.'), *same = strchr(o->name + (at - q->name), '.');
        if (!tail || !same || strcmp(tail, same) != 0 || (!sized && !params_in_line(d, o)))
            continue;
        tries++;
        if (agree_below(d, arena_strn(d->l->a, q->name, (size_t)(tail - q->name)),
                        arena_strn(d->l->a, o->name, (size_t)(same - o->name))))
            return o;
    }
    return NULL;
}

/* Whether the exporter computed what calls read of a buffer: a call or a line reads it, or its module or one below has
 * a constant that is a view of nothing else; taken: per call, whether it stands for another buffer. */
static bool
folded_away(struct dynamo *d, const struct param *q, bool *taken)
{
    const struct program *p = d->l->p;
    const char *path = p->modules[q->module].path;
    if (constant_into(d, q) || d->referenced[q - p->params] || params_in_line(d, q))
        return true;
    for (int i = 0; i < p->ncalls; i++) {
        const struct call *c = &p->calls[i];
        const char *at = p->modules[c->scope].path;
        if (taken[i] || !c->name || !target_named(c->target, "folded") ||
            !target_views(spelled_stem(d->l->a, c->name)) || !path_within(at, path))
            continue;
        taken[i] = true;
        return true;
    }
    return false;
}

/* Of a buffer whose module reads what was computed of its buffers number by number, as a frozen batch norm does: as
 * many elements as that has; 0 unknown. */
static int64_t
computed_elements(const struct dynamo *d, const struct param *q)
{
    const struct program *p = d->l->p;
    int64_t most = 0;
    for (int i = 0; i < p->ncalls && q->kind == PARAM_BUFFER && !d->referenced[q - p->params]; i++) {
        const struct call *c = &p->calls[i];
        int64_t n = 1;
        bool known = c->scope == q->module && target_named(c->target, "folded") && c->rank >= 0 &&
                     dtypes[c->args[1].i].is_float && spelled(c->args[0].s, KEEPS_SIZES);
        for (int k = 0; k < c->rank && known; k++)
            known = mul_ok(n, c->size[k], &n);
        most = known && n > most ? n : most;
    }
    return most;
}

/* A parameter's name in all modules of its class. */
static const char *
name_in_class(const struct dynamo *d, const struct param *q)
{
    const char *type = d->l->p->modules[q->module].type, *dot = strrchr(q->name, '.');
    return type && dot ? arena_printf(d->l->a, "%s%s", type, dot) : NULL;
}

/* What calls read: names of parameters in their classes, and per module whether it runs, reads numbers that became a
 * constant, and whether it has, or one below, a constant that operators with a gradient made. */
struct reads {
    struct names *names;
    struct names *shared; /* "module name" of a layer that reads another one's parameter of that name */
    bool *runs, *folds;
    enum depth { NOWHERE, BELOW, OWN } * holds;
};

static const char *
layer_key(const struct dynamo *d, int module, const struct param *q)
{
    const char *dot = strrchr(q->name, '.');
    return arena_printf(d->l->a, "%d %s", module, dot ? dot + 1 : q->name);
}

/* Classes whose modules read no parameters but their own and their children's. */
static const char *const layers = "torch.nn.modules.*";

/* Whether the parameter of another path must be the module's own: the program has one of the two twice. */
static bool
reads_its_own(const struct module *m, const char *path)
{
    return m->type && glob_match(layers, m->type) && !path_within(path, m->path) && !path_within(m->path, path);
}

static struct reads
reads_of_calls(const struct dynamo *d)
{
    const struct program *p = d->l->p;
    struct reads read = {names_new(d->l->a), names_new(d->l->a), NEWN(d->l->a, bool, p->nmodules + 1),
                         NEWN(d->l->a, bool, p->nmodules + 1), NEWN(d->l->a, enum depth, p->nmodules + 1)};
    const struct param **of = program_params(p, d->l->a);
    for (int i = 0, slot; i < p->ncalls; i++) {
        const struct call *c = &p->calls[i];
        read.runs[c->scope] = true;
        const bool folded = target_named(c->target, "folded") && dtypes[c->args[1].i].is_float;
        const struct aten *was = folded ? aten_find(c->args[0].s) : NULL;
        read.folds[c->scope] |= folded;
        for (int m = c->scope; m >= 0 && was && was->grad; m = p->modules[m].parent)
            read.holds[m] = m == c->scope ? OWN : read.holds[m] ? read.holds[m] : BELOW;
        for (struct call_reads r = {c}; (slot = next_read(&r)) >= 0;) {
            const char *name = of[slot] ? name_in_class(d, of[slot]) : NULL;
            if (name)
                names_put(read.names, name, i);
            if (of[slot] && reads_its_own(&p->modules[c->scope], p->modules[of[slot]->module].path))
                names_put(read.shared, layer_key(d, c->scope, of[slot]), (int)(of[slot] - p->params));
        }
    }
    return read;
}

/* The module whose own parameter it is: lists have none, and a layer's is read where the layer runs, or not at all. -1
 * none. */
static int
owner_of(const struct program *p, const struct param *q)
{
    static const char *const lists = "torch.nn.modules.container.*";
    int m = q->module;
    if (m >= 0 && !p->modules[m].type && path_listed(q->name)) /* a list that no call is in */
        m = p->modules[m].parent;
    while (m >= 0 && p->modules[m].type && glob_match(lists, p->modules[m].type))
        m = p->modules[m].parent;
    return m >= 0 && p->modules[m].type && glob_match(layers, p->modules[m].type) ? -1 : m;
}

/* Whether the exporter computed what its module makes of a parameter: the module reads a constant, or runs, and others
 * of its class read their parameter of that name; or a model's own module has one that no factory made, at its own
 * level where it is a buffer's. */
static bool
computed_of(struct dynamo *d, const struct reads *read, const struct param *q)
{
    const char *name = name_in_class(d, q);
    const int owner = owner_of(d->l->p, q);
    const enum depth holds = owner < 0 ? NOWHERE : read->holds[owner];
    if (q->kind == PARAM_BUFFER)
        return holds == OWN;
    return constant_into(d, q) || read->folds[q->module] || holds ||
           (read->runs[q->module] && name && names_find(read->names, name) >= 0);
}

/* Whether the other parameter is the table of an embedding beside this one's module: two tables, not one of two names.
 */
static bool
looks_up_beside(const struct program *p, const struct param *q, const struct param *other)
{
    bool looks_up = false;
    for (int i = 0; i < p->ncalls && !looks_up; i++)
        looks_up = p->calls[i].scope == other->module && p->calls[i].op && spelled(p->calls[i].op->name, LOOKS_UP);
    return looks_up && p->modules[other->module].parent == p->modules[q->module].parent;
}

/* NAME_u and NAME_v of torch.nn.utils.spectral_norm have a number for each row and each column of NAME_orig, seen as a
 * matrix of its outputs. Source: SpectralNorm.apply and spectral_norm in torch/nn/utils/spectral_norm.py. */
static bool
size_by_hook(struct lowering *l, struct param *q)
{
    const struct program *p = l->p;
    size_t n = strlen(q->name);
    bool rows = ends_with(q->name, "_u");
    for (int i = 0; i < p->nparams && (rows || ends_with(q->name, "_v")); i++) {
        const struct param *w = &p->params[i];
        if (w->rank < 1 || strncmp(w->name, q->name, n - 1) != 0 || strcmp(w->name + n - 1, "orig") != 0)
            continue;
        const char *type = p->modules[q->module].type;
        int64_t size[] = {w->size[w->rank > 1 && type && strstr(type, ".ConvTranspose")]}, all = 1;
        for (int k = 0; k < w->rank; k++)
            all = mul_ok(all, w->size[k], &all) ? all : 0;
        size[0] = rows || !size[0] ? size[0] : all / size[0];
        params_sized(l, q, 1, size);
        q->dtype = w->dtype;
        return true;
    }
    return false;
}

/* Of a parameter that calls read of which the file has what was computed. */
static void
size_by_constant(struct dynamo *d, struct param *q)
{
    const struct tensor *t = d->folded[q - d->l->p->params];
    const int64_t most = MOST_FOLDED, one = 1, *size = &one;
    int rank = 1;
    const bool known = constant_by_element(d, t) && lower_sizes(d->l, t, &rank, &size);
    if (!known)
        program_assume(d->l->p, ALTERNATIVE_FOLDED,
                       "%s, of which the exporter left what it computed, is small, and has %lld elements at most",
                       q->name, (long long)most);
    if (!known && setup_instead(d->l->s, ALTERNATIVE_FOLDED))
        size = &most;
    params_sized(d->l, q, rank, size);
    d->referenced[q - d->l->p->params] = true;
}

/* Modules that are norms by their names, so that what they have are vectors. */
static const char *const norms[] = {"*norm*", "*Norm*", "bn*", "ln*", "ln_*"};

/* Names of buffers that have a number for each pair of positions, which nobody may read: other buffers are smaller. */
static const char *const masks[] = {"*mask*", "*tril*", "*causal*", "bias"};

/* The largest of the same last name, among parameters or among buffers, of a norm's among vectors; else the largest of
 * all, NULL there is none, or it may be a mask. */
static const struct param *
largest_of_name(const struct program *p, const struct param *q)
{
    const struct param *named = NULL, *largest = NULL;
    bool vector = false, mask = false;
    for (int i = 0; i < COUNT(norms); i++)
        vector |= glob_match(norms[i], path_last(p->modules[q->module].path));
    for (int i = 0; i < COUNT(masks) && q->kind > PARAM_FROZEN; i++)
        mask |= glob_match(masks[i], path_last(q->name));
    for (const struct param *o = p->params; o < p->params + p->nparams; o++) {
        if (o->rank < 0 || (vector && o->rank > 1) || (o->kind <= PARAM_FROZEN) != (q->kind <= PARAM_FROZEN))
            continue;
        const int64_t n = sizes_product(o->rank, o->size);
        if (!largest || n > sizes_product(largest->rank, largest->size))
            largest = o;
        if (strcmp(path_last(o->name), path_last(q->name)) == 0 &&
            (!named || n > sizes_product(named->rank, named->size)))
            named = o;
    }
    return named ? named : mask ? NULL : largest;
}

/* What it may take at most: what that does, or where it is read as many elements as are merged or folded; a vector or
 * one of another name, whose equals are one in the file and which may be trained, a gradient and two states, too. */
static void
sized_at_most(struct lowering *l, struct param *q, const struct param *largest, bool read)
{
    enum { TRAINED = 4 };
    const bool drawn = largest->rank > 1 && strcmp(path_last(largest->name), path_last(q->name)) == 0;
    const int64_t times = drawn || q->kind > PARAM_FROZEN ? 1 : TRAINED, folded[] = {times, MOST_FOLDED};
    int64_t size[MAX_RANK + 1] = {times};
    if (read && sizes_product(largest->rank, largest->size) > MOST_FOLDED) {
        params_sized(l, q, COUNT(folded), folded);
        q->dtype = largest->dtype;
        return;
    }
    const int rank = largest->rank < MAX_RANK ? largest->rank : MAX_RANK - 1;
    for (int i = 0; i < rank; i++)
        size[i + 1] = largest->size[i];
    params_sized(l, q, rank + 1, size);
    q->dtype = largest->dtype;
}

/* Whether its module, a layer of PyTorch's, runs, or a line reads it, or the list that it is in. */
static bool
is_read(struct dynamo *d, const struct reads *read, const struct param *q)
{
    const struct module *m = &d->l->p->modules[q->module];
    return (read->runs[q->module] && m->type && glob_match(layers, m->type)) || params_in_line(d, q) ||
           names_find(d->read, m->path) >= 0;
}

/* A parameter that nothing names and that has no data is another name of one that has, or what a library's source
 * says. PyTorch up to 2.7 left the data under each name. */
void
params_tie(struct dynamo *d)
{
    struct lowering *l = d->l;
    struct program *p = l->p;
    bool *taken = NEWN(l->a, bool, p->ncalls + 1);
    int table = -1, folded = 0;
    const char *first = NULL, *by_elements = NULL, *unsized = NULL;
    const struct param **largest = NEWN(l->a, const struct param *, p->nparams + 1); /* of what has no size */
    struct reads read = {0};
    for (int i = 0; i < p->ncalls && table < 0; i++)
        if (p->calls[i].op && spelled(p->calls[i].op->name, LOOKS_UP))
            for (int k = 0; k < p->nparams; k++)
                if (p->params[k].slot == p->calls[i].args[0].i &&
                    is_table(path_last(p->modules[p->params[k].module].path)))
                    table = k;
    for (int i = 0; i < p->nparams; i++) {
        struct param *q = &p->params[i];
        bool unread = q->kind <= PARAM_FROZEN && !d->referenced[i];
        if (q->rank >= 0 ? !unread : size_by_fact(l, q) || (q->kind == PARAM_CONSTANT && !d->referenced[i]))
            continue;
        if (q->rank < 0 && size_by_hook(l, q))
            continue;
        if (d->folded[i]) {
            size_by_constant(d, q);
            continue;
        }
        if (!read.names)
            read = reads_of_calls(d);
        if (q->rank >= 0 && names_find(read.shared, layer_key(d, q->module, q)) < 0) /* it has data of its own */
            continue;
        int shared = unread ? names_find(read.shared, layer_key(d, q->module, q)) : -1,
            other = unread && shared < 0 ? tied_to(d, i, table) : shared;
        if (other >= 0 && other != shared && !read.runs[q->module] && looks_up_beside(p, q, &p->params[other]))
            other = -1;
        const struct param *same = q->kind == PARAM_BUFFER && other < 0 ? same_leaf(d, q) : NULL;
        if (same) { /* equal ones are one in the file */
            sized_like(l, q, same);
            continue;
        }
        const int64_t elements = other < 0 ? computed_elements(d, q) : 0;
        if (elements > 0) {
            params_sized(l, q, 1, &elements);
            q->dtype = DT_FLOAT;
            by_elements = by_elements ? by_elements : q->name;
            continue;
        }
        const struct param *like = other < 0 ? like_beside(p, q) : NULL;
        bool computed = other < 0 && !(like && q->kind == PARAM_BUFFER) && computed_of(d, &read, q);
        const struct param *twin = other < 0 && q->rank < 0 && !computed ? twin_of(d, q, true) : NULL;
        if (twin) {
            sized_like(l, q, like ? like : twin);
            continue;
        }
        if (like && !computed) {
            sized_like(l, q, like);
            graph_doubt(
                l->g, q->name, "parameter", NULL,
                "no call reads it, so that its layer ran for nobody or not at all: it has the size of %s, and what "
                "the layer made is not counted",
                like->name);
            continue;
        }
        if (other >= 0) {
            struct param *from = &p->params[other];
            if (shared < 0) {
                program_assume(p, ALTERNATIVE_TIED,
                               "%s, which the file names without data of its own, is taken to be %s", q->name,
                               from->name);
                if (setup_instead(l->s, ALTERNATIVE_TIED)) { /* one of its own that nothing reads */
                    sized_like(l, q, from);
                    continue;
                }
            }
            q->slot = from->slot;
            tie_kinds(l->s, q, from);
            if (from->tied_to >= 0 || other < i) {
                q->tied_to = from->tied_to >= 0 ? from->tied_to : other;
            } else { /* the name that comes first is the parameter's */
                sized_like(l, q, from);
                from->tied_to = i;
            }
            continue;
        }
        if (computed || (q->kind == PARAM_BUFFER && (folded_away(d, q, taken) || twin_of(d, q, false)))) {
            bool buffer = q->kind == PARAM_BUFFER;
            first = folded++ ? first : q->name;
            if (setup_instead(l->s, ALTERNATIVE_FOLDED)) {
                int64_t most[] = {MOST_FOLDED, buffer ? 1 : 4}; /* a gradient and two states, too */
                params_sized(l, q, COUNT(most), most);
                q->dtype = buffer ? DT_INT64 : q->dtype;
            } else if (like) {
                sized_like(l, q, like);
            }
        } else if ((largest[i] = largest_of_name(p, q))) {
            unsized = unsized ? unsized : q->name;
        } else {
            graph_doubt(l->g, q->name, q->kind == PARAM_BUFFER ? "buffer" : "parameter", NULL,
                        "the file names it but has neither its data nor a call that reads it: its size is unknown and "
                        "not counted");
        }
    }
    for (int i = 0; i < p->nparams && unsized && setup_instead(l->s, ALTERNATIVE_UNSIZED); i++)
        if (largest[i])
            sized_at_most(l, &p->params[i], largest[i], is_read(d, &read, &p->params[i]));
    if (unsized)
        program_assume(p, ALTERNATIVE_UNSIZED,
                       "parameters and buffers that the file has neither the data nor a reader of, %s first, take no "
                       "memory, being no larger than the largest others",
                       unsized);
    if (by_elements)
        program_assume(p, ALTERNATIVE_NONE,
                       "buffers of which the exporter left what it computed have as many elements as that, %s first",
                       by_elements);
    if (folded)
        program_assume(p, ALTERNATIVE_FOLDED,
                       "not counted of the buffers and parameters: %d (the first: %s), of which the exporter left "
                       "constants, and which have %lld elements at most",
                       folded, first, (long long)MOST_FOLDED);
}

static bool
has_fact(struct dynamo *d, const struct param *q, enum fact_kind kind)
{
    struct place at = {.path = q->name};
    fact_around(d->l, d->l->p->modules[q->module].path, at.around, COUNT(at.around));
    return fact_next(d->l, NULL, 1u << kind, &at);
}

/* What a PeftModel wraps is below that name of its: base_model and model in peft/peft_model.py and tuners_utils.py. */
static const char wrapped[] = "base_model.model.";

void
params_freeze(struct dynamo *d)
{
    struct program *p = d->l->p;
    bool *alone = NEWN(d->l->a, bool, p->nparams + 1);
    const char *adapter = NULL;
    for (int i = 0; i < p->nparams; i++)
        if ((alone[i] = p->params[i].kind == PARAM_TRAINED && has_fact(d, &p->params[i], FACT_ALONE)))
            adapter = p->params[i].name;
    const char *below = adapter ? strstr(adapter, wrapped) : NULL;
    size_t n = below ? (size_t)(below - adapter) + strlen(wrapped) : 0;
    for (int i = 0; i < p->nparams; i++) {
        struct param *q = &p->params[i];
        bool base =
            adapter && !alone[i] && !d->l->s->train.n && (n || !d->l->s->freeze.n) && strncmp(q->name, adapter, n) == 0;
        if (q->kind == PARAM_TRAINED && (base || has_fact(d, q, FACT_FROZEN)))
            q->kind = PARAM_FROZEN;
    }
}

static bool
trains_within(const struct program *p, const char *module)
{
    bool trains = false;
    for (int i = 0; i < p->nparams && !trains; i++)
        trains = p->params[i].kind == PARAM_TRAINED && path_within(p->params[i].name, module);
    return trains;
}

/* Whether nothing is frozen beside a module, in the one that it is a part of: whoever freezes the first layers alone
 * calls their method, as freeze_feature_encoder() of Transformers' audio models. */
static bool
frozen_alone(const struct program *p, const struct module *m)
{
    const char *around = p->modules[m->parent].path;
    bool alone = true;
    for (int i = 0; i < p->nparams && alone; i++) {
        const char *of = p->modules[p->params[i].module].path;
        alone = p->params[i].kind != PARAM_FROZEN || path_within(of, m->path) || !path_within(of, around);
    }
    return alone;
}

void
params_ask(struct lowering *l)
{
    struct program *p = l->p;
    bool *ran = NEWN(l->a, bool, p->nmodules + 1);
    for (int i = 0; i < p->ncalls; i++) {
        const int scope = p->calls[i].scope;
        const struct module *m = &p->modules[scope];
        const bool first = !ran[scope];
        ran[scope] = true;
        if (!first || !fact_of(l, m->type, FACT_ASKS) || !setup_trains(l->s))
            continue;
        const bool trains = trains_within(p, m->path);
        if (!trains)
            program_assume(p, frozen_alone(p, m) ? ALTERNATIVE_NONE : ALTERNATIVE_ASKS,
                           "%s was frozen by its own method, after which it asks for no gradient of its input, as it "
                           "does where its parameters were frozen one by one",
                           m->path);
        if (!trains && !setup_instead(l->s, ALTERNATIVE_ASKS))
            continue;
        lower_requires_grad(l, i);
    }
}
