/* SPDX-License-Identifier: Apache-2.0 */
/* lower.c - from the nodes of a file to the framework calls that the Python program made.
 *
 * PyTorch's default exporter writes down what it saw: the graph signature names the parameters, and every node carries the text of the
 * call it came from, its module and its Python frames. One call may stand as many nodes; nodes with the same text are one group, and a
 * group is one call, made where its last node stands. The text is the authority on operator and arguments; the nodes give order and sizes.
 *
 * Arguments that no node defines were optimized away. Each has a reason that its name and its neighbours show (lost[] below): a dropout
 * in evaluation mode, a convolution that took in its batch norm, a merged transpose, a folded constant, a shared duplicate.
 * The file's own tensors fill the gap: the group's inputs that no other argument accounts for.
 *
 * Files without such texts go through patterns.c.
 */
#include "lower/lowering.h"
#include "torch/torch.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static bool
starts_with(const char *s, const char *with)
{
    return strncmp(s, with, strlen(with)) == 0;
}

static bool
ends_with(const char *s, const char *end)
{
    size_t n = strlen(s), m = strlen(end);
    return n >= m && strcmp(s + n - m, end) == 0;
}

/* ---- a program under construction: shared with patterns.c ---------------------------------------------------------------- */

struct lowering *
lowering_new(struct graph *g, const struct setup *s)
{
    struct lowering *l = NEW(g->arena, struct lowering);
    l->a = g->arena;
    l->g = g;
    l->s = s;
    l->p = NEW(l->a, struct program);
    l->p->arena = l->a;
    l->p->graph = g;
    l->slots = names_new(l->a);
    l->modules = names_new(l->a);
    l->slot_of = NEWN(l->a, int, g->nt + 1);
    memset(l->slot_of, -1, sizeof(int) * (size_t)(g->nt + 1));
    return l;
}

int
lower_slot(struct lowering *l)
{
    return l->p->nslots++;
}

/* The module of that path, its parents made as needed. */
int
lower_module(struct lowering *l, const char *path, const char *type)
{
    struct program *p = l->p;
    int at = names_find(l->modules, path);
    if (at < 0) {
        const char *dot = strrchr(path, '.');
        int parent = !*path ? -1 : lower_module(l, dot ? arena_strn(l->a, path, (size_t)(dot - path)) : "", NULL);
        at = p->nmodules;
        *PUSH(l->a, p->modules, p->nmodules, p->cap_modules) = (struct module){arena_str(l->a, path), NULL, parent};
        names_put(l->modules, p->modules[at].path, at);
    }
    if (type && !p->modules[at].type)
        p->modules[at].type = arena_str(l->a, type);
    return at;
}

struct param *
lower_param(struct lowering *l, const char *name, enum param_kind kind)
{
    const char *dot = strrchr(name, '.');
    struct param *q = PUSH(l->a, l->p->params, l->p->nparams, l->p->cap_params);
    q->name = arena_str(l->a, name);
    q->kind = kind;
    q->slot = lower_slot(l);
    q->module = lower_module(l, dot ? arena_strn(l->a, name, (size_t)(dot - name)) : "", NULL);
    q->tied_to = -1;
    q->rank = -1;
    for (int i = 0; i < l->s->nfreeze && q->kind == PARAM_TRAINED; i++)
        if (glob_match(l->s->freeze[i], name))
            q->kind = PARAM_FROZEN;
    return q;
}

/* Known sizes of a file's tensor. */
bool
lower_sizes(struct lowering *l, const struct tensor *t, int *rank, const int64_t **size)
{
    if (t->rank < 0)
        return false;
    int64_t *s = NEWN(l->a, int64_t, t->rank ? t->rank : 1);
    for (int i = 0; i < t->rank; i++) {
        if (t->dims[i].n < 0)
            return false;
        s[i] = t->dims[i].n;
    }
    *rank = t->rank;
    *size = s;
    return true;
}

void
lower_param_shape(struct lowering *l, struct param *q, const struct tensor *t)
{
    if (lower_sizes(l, t, &q->rank, &q->size) && t->dtype)
        q->dtype = t->dtype;
}

struct call *
lower_call(struct lowering *l, const char *target, int nargs)
{
    struct call *c = PUSH(l->a, l->p->calls, l->p->ncalls, l->p->cap_calls);
    c->target = arena_str(l->a, target);
    c->op = aten_find(target);
    c->nargs = nargs;
    c->args = NEWN(l->a, struct arg, nargs ? nargs : 1);
    c->nouts = 1;
    c->outs = NEWN(l->a, int, 1);
    c->outs[0] = lower_slot(l);
    c->rank = -1;
    return c;
}

void
lower_inputs(struct lowering *l)
{
    struct program *p = l->p;
    p->inputs = NEWN(l->a, struct input, l->g->nin + 1);
    for (int i = 0; i < l->g->nin; i++) {
        const struct tensor *t = &l->g->t[l->g->in[i]];
        struct input *in = &p->inputs[p->ninputs++];
        in->name = t->name;
        in->dtype = t->dtype;
        in->slot = lower_slot(l);
        in->rank = -1;
        lower_sizes(l, t, &in->rank, &in->size);
        l->slot_of[l->g->in[i]] = in->slot;
        names_put(l->slots, t->fx_name ? t->fx_name : t->name, in->slot);
    }
}

void
lower_outputs(struct lowering *l)
{
    struct program *p = l->p;
    p->outputs = NEWN(l->a, int, l->g->nout + 1);
    for (int i = 0; i < l->g->nout; i++)
        if (l->slot_of[l->g->out[i]] >= 0)
            p->outputs[p->noutputs++] = l->slot_of[l->g->out[i]];
    if (!p->noutputs && p->ncalls)
        p->outputs[p->noutputs++] = p->calls[p->ncalls - 1].outs[0];
}

/* ---- texts of the exporter ------------------------------------------------------------------------------------------------------ */

/* One group of nodes: a call of the traced program. */
struct group {
    const char *fx_name, *target, *args; /* args: after "(args = (" */
    int nnodes, cap, *nodes, last;
    const char *path, *type; /* module; no type without a path */
    int call;                /* -1 not made yet */
    bool done;
};

struct dynamo {
    struct lowering *l;
    int ngroups;
    struct group *groups;
    int *group_of;          /* per node, -1 none */
    struct names *params;   /* placeholder name to param */
    struct names *producer; /* fx name to call */
    bool *referenced;       /* params named by any text */
    int fed;                /* tensor of the running group that went into pieces made for it, -1 none */
    int ntables, cap_tables;
    struct table {
        const char *line, *path;
        int at, slot;
        const struct tensor *t;
    } * tables; /* folded constants by the line that reads them */
    int npacked, cap_packed;
    struct packed {
        int weight, bias;
    } * packed;   /* parts of packed projections */
    struct norm { /* the RMSNorm module being lowered */
        int scope, input, wide;
    } norm;
    struct {
        int bias, slot;
    } masked;        /* a position bias, and with the mask that the exporter folded away */
    int body_params; /* parameters that the group being lowered has got by param_in_body */
    int norigins, cap_origins;
    struct origin {
        int slot, tensor;
    } * origins; /* lost calls: the tensor whose place they take */
};

/* "%NAME : [num_users=1] = call_function[target=torch.ops.aten.add.Tensor](args = (...), kwargs = {...})" */
static bool
fx_split(struct arena *a, const char *fx, struct group *g)
{
    const char *colon = strchr(fx, ' '), *target = strstr(fx, "[target="), *end;
    if (*fx != '%' || !colon || !target)
        return false;
    target += strlen("[target=");
    if (strncmp(target, "torch.ops.", 10) == 0)
        target += 10;
    end = strchr(target, ']');
    const char *args = end ? strstr(end, "(args = (") : NULL;
    if (!args)
        return false;
    g->fx_name = arena_strn(a, fx + 1, (size_t)(colon - fx - 1));
    g->target = arena_strn(a, target, (size_t)(end - target));
    g->args = args + strlen("(args = (");
    return true;
}

/* The n-th entry from the end of a Python list of strings. */
static const char *
list_entry(struct arena *a, const char *list, int from_end)
{
    struct entry {
        const char *s;
        size_t len;
    } *found = NULL;
    int n = 0, cap = 0;
    for (const char *p = list; p && *p; p++)
        if (*p == '\'' || *p == '"') {
            const char *end = strchr(p + 1, *p);
            if (!end)
                break;
            *PUSH(a, found, n, cap) = (struct entry){p + 1, (size_t)(end - p - 1)};
            p = end;
        }
    return from_end <= n ? arena_strn(a, found[n - from_end].s, found[n - from_end].len) : NULL;
}

/* The last frame outside site-packages as "file.py:123". */
static const char *
location(struct arena *a, const char *stack)
{
    const char *best = NULL;
    for (const char *p = stack; p && (p = strstr(p, "File \"")); p++) {
        const char *file = p + 6, *end = strchr(file, '"'), *line = end ? strstr(end, "line ") : NULL;
        if (!line || line - end > 4)
            continue;
        const char *text = arena_printf(a, "%.*s:%d", (int)(end - file), file, atoi(line + 5));
        if (!best || !strstr(text, "site-packages/"))
            best = text;
    }
    return best;
}

/* The source line of the innermost frame. */
static const char *
source_line(struct arena *a, const char *stack)
{
    size_t n = stack ? strlen(stack) : 0;
    while (n && (stack[n - 1] == '\n' || stack[n - 1] == ' '))
        n--;
    size_t from = n;
    while (from && stack[from - 1] != '\n')
        from--;
    return n ? arena_strn(a, stack + from, n - from) : "";
}

static const char **
frames(struct arena *a, const char *stack)
{
    const char **list = NULL;
    int n = 0, cap = 0;
    for (const char *p = stack; p && (p = strstr(p, "File \"")); p++) {
        const char *end = strchr(p, '\n');
        *PUSH(a, list, n, cap) = end ? arena_strn(a, p, (size_t)(end - p)) : arena_str(a, p);
    }
    if (list)
        *PUSH(a, list, n, cap) = NULL;
    return list;
}

/* ---- arguments --------------------------------------------------------------------------------------------------------------------- */

/* While arguments are read, names stay text; resolve() turns them into slots. */
static const char *
parse_arg(struct lowering *l, const char *p, struct arg *out, int depth)
{
    while (*p == ' ')
        p++;
    if ((*p == '[' || *p == '(') && depth == MAX_DEPTH) {
        graph_doubt(l->g, "model", "fx_node", limit_remedy(l->a, LIMIT_DEPTH),
                    "a recorded argument has more than %d lists in lists", MAX_DEPTH)
            ->sure = SURE_MODEL;
        *out = NONE;
        return p + strlen(p);
    }
    if (*p == '[' || *p == '(') {
        char close = *p == '[' ? ']' : ')';
        int cap = 0;
        *out = (struct arg){.kind = ARG_LIST};
        p++;
        while (*p && *p != close) {
            struct arg e;
            const char *next = parse_arg(l, p, &e, depth + 1);
            if (next == p)
                break;
            *PUSH(l->a, out->list, out->n, cap) = e;
            p = next;
            while (*p == ',' || *p == ' ')
                p++;
        }
        return *p ? p + 1 : p;
    }
    const char *end = p;
    while (*end && *end != ')' && *end != ']' && *end != '}' && !(*end == ',' && (end[1] == ' ' || end[1] == ')')))
        end++;
    const char *arrow = strstr(p, "->"), *list = strstr(p, ", [");
    if (isalpha((unsigned char)*p) && arrow && list && end < arrow && arrow < list) /* an equation with blanks */
        end = list;
    char *word = arena_strn(l->a, p, (size_t)(end - p)), *rest;
    double f = strtod(word, &rest);
    if (*word == '%')
        *out = (struct arg){.kind = ARG_SLOT, .i = -1, .s = word + 1};
    else if (*word && !*rest)
        *out = strpbrk(word, ".einf") ? (struct arg){.kind = ARG_FLOAT, .f = f}
                                      : (struct arg){.kind = ARG_INT, .i = strtoll(word, NULL, 10)};
    else if (strcmp(word, "True") == 0 || strcmp(word, "False") == 0)
        *out = (struct arg){.kind = ARG_BOOL, .i = *word == 'T'};
    else if (strcmp(word, "None") == 0 || !*word)
        *out = (struct arg){.kind = ARG_NONE};
    else if (strncmp(word, "torch.", 6) == 0 && dtype_by_torch(word + 6))
        *out = (struct arg){.kind = ARG_DTYPE, .i = dtype_by_torch(word + 6)};
    else
        *out = (struct arg){.kind = ARG_TEXT, .s = word};
    return end;
}

/* Positional arguments, then keyword ones at their place in the row; the rest of out[MAX_ARGS] is NONE. */
static int
parse_args(struct lowering *l, const struct aten *op, const char *p, struct arg *out)
{
    int n = 0;
    for (int i = 0; i < MAX_ARGS; i++)
        out[i] = NONE;
    while (*p && *p != ')' && n < MAX_ARGS) {
        p = parse_arg(l, p, &out[n++], 0);
        while (*p == ',' || *p == ' ')
            p++;
    }
    const char *named = strstr(p, "kwargs = {");
    for (p = named ? named + strlen("kwargs = {") : ""; *p && *p != '}';) {
        const char *colon = strchr(p, ':');
        if (!colon)
            break;
        char key[64];
        snprintf(key, sizeof(key), "%.*s", (int)(colon - p), p);
        struct arg v;
        p = parse_arg(l, colon + 1, &v, 0);
        int at = op ? aten_arg(op, key) : -1;
        if (at >= 0 && at < MAX_ARGS) {
            out[at] = v;
            n = at < n ? n : at + 1;
        }
        while (*p == ',' || *p == ' ')
            p++;
    }
    return n;
}

/* ---- the signature ---------------------------------------------------------------------------------------------------------------------- */

static const struct kind_row {
    const char *word;
    enum param_kind kind;
} kinds[] = {{"PARAMETER", PARAM_TRAINED}, {"BUFFER", PARAM_BUFFER}, {"CONSTANT_TENSOR", PARAM_CONSTANT}};

static void
read_signature(struct dynamo *d)
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

static struct param *
param_of(struct dynamo *d, const char *placeholder)
{
    int at = names_find(d->params, placeholder);
    return at < 0 ? NULL : &d->l->p->params[at];
}

/* ---- groups ------------------------------------------------------------------------------------------------------------------------------- */

static void
mark_referenced(struct dynamo *d, const char *text)
{
    for (const char *p = strchr(text, '%'); p; p = strchr(p + 1, '%')) {
        size_t n = 1;
        while (isalnum((unsigned char)p[n]) || p[n] == '_')
            n++;
        int at = names_find(d->params, arena_strn(d->l->a, p + 1, n - 1));
        if (at >= 0)
            d->referenced[at] = true;
    }
}

/* The class of every module around a node. */
static void
note_modules(struct lowering *l, const struct node *n)
{
    const char *path, *type;
    for (int i = 2; (path = list_entry(l->a, n->scopes, i)) && (type = list_entry(l->a, n->classes, i)); i++) {
        int at = names_find(l->modules, path);
        if (at >= 0 && l->p->modules[at].type)
            return;
        lower_module(l, path, type);
    }
}

static void
make_groups(struct dynamo *d)
{
    struct lowering *l = d->l;
    struct names *by_name = names_new(l->a);
    d->group_of = NEWN(l->a, int, l->g->nn + 1);
    d->groups = NEWN(l->a, struct group, l->g->nn + 1);
    d->referenced = NEWN(l->a, bool, l->p->nparams + 1);
    for (int i = 0; i < l->g->nn; i++) {
        const struct node *n = &l->g->n[i];
        struct group fresh = {.last = i, .call = -1};
        d->group_of[i] = -1;
        if (!n->fx || !fx_split(l->a, n->fx, &fresh))
            continue;
        int at = names_find(by_name, fresh.fx_name);
        if (at < 0) {
            at = d->ngroups++;
            d->groups[at] = fresh;
            names_put(by_name, fresh.fx_name, at);
            mark_referenced(d, fresh.args);
            d->groups[at].path = list_entry(l->a, n->scopes, 2);
            d->groups[at].type = d->groups[at].path ? list_entry(l->a, n->classes, 2) : NULL;
            note_modules(l, n);
        }
        struct group *g = &d->groups[at];
        *PUSH(l->a, g->nodes, g->nnodes, g->cap) = i;
        g->last = i;
        d->group_of[i] = at;
    }
}

/* The tensor by which the group's result leaves it. */
static int
group_output(const struct dynamo *d, const struct group *g)
{
    const struct graph *gr = d->l->g;
    int self = d->group_of[g->last];
    if (!g->nnodes) /* a piece */
        return -1;
    for (int k = g->nnodes - 1; k >= 0; k--) {
        const struct node *n = &gr->n[g->nodes[k]];
        for (int o = 0; o < n->nout; o++) {
            if (n->out[o] < 0)
                continue;
            const struct tensor *t = &gr->t[n->out[o]];
            bool leaves = t->is_output;
            for (int u = 0; u < t->nusers && !leaves; u++)
                leaves = d->group_of[t->users[u]] != self;
            if (leaves)
                return n->out[o];
        }
    }
    return gr->n[g->last].nout ? gr->n[g->last].out[0] : -1;
}

static bool
made_inside(const struct dynamo *d, const struct group *g, int tensor)
{
    int at = d->l->g->t[tensor].producer;
    return at >= 0 && d->group_of[at] == d->group_of[g->last];
}

/* The argument is this tensor, or what a lost call made of it. */
static bool
stands_for(const struct dynamo *d, const struct arg *a, int tensor)
{
    if (a->kind != ARG_SLOT || a->i < 0)
        return false;
    for (int i = 0; i < d->norigins; i++)
        if (d->origins[i].slot == a->i)
            return d->origins[i].tensor == tensor;
    return a->i == d->l->slot_of[tensor];
}

/* The group's inputs from outside that hold data of the step (not constants) and are no argument already resolved. */
static int
free_inputs(const struct dynamo *d, const struct group *g, const struct arg *args, int nargs, int *out, int max)
{
    const struct lowering *l = d->l;
    int n = 0;
    for (int k = g->nnodes - 1; k >= 0; k--) { /* view-like calls: the last node's input comes first */
        const struct node *node = &l->g->n[g->nodes[k]];
        for (int i = 0; i < node->nin; i++) {
            int t = node->in[i], slot = t < 0 ? -1 : l->slot_of[t];
            bool taken = slot < 0 || t == d->fed || made_inside(d, g, t);
            for (int j = 0; j < nargs && !taken; j++) {
                taken = stands_for(d, &args[j], t);
                for (int e = 0; args[j].kind == ARG_LIST && e < args[j].n && !taken; e++)
                    taken = stands_for(d, &args[j].list[e], t);
            }
            for (int j = 0; j < n && !taken; j++)
                taken = out[j] == t;
            if (!taken && n < max)
                out[n++] = t;
        }
    }
    return n;
}

static struct call *
call_for(struct dynamo *d, const struct group *g, const char *target, int nargs)
{
    struct lowering *l = d->l;
    struct call *c = lower_call(l, target, nargs);
    const struct node *n = &l->g->n[g->last];
    c->name = g->fx_name;
    c->node = n->name;
    c->location = location(l->a, n->stack);
    c->frames = frames(l->a, n->stack);
    c->stack = n->stack;
    c->scopes = n->scopes;
    c->scope = lower_module(l, g->path ? g->path : "", g->type);
    if (!c->location && g->path && *g->path)
        c->location = g->path;
    return c;
}

static void
sized(struct lowering *l, struct param *q, int rank, const int64_t *size)
{
    if (!q || q->rank >= 0 || rank < 0 || !size)
        return;
    q->rank = rank;
    q->size = arena_dup(l->a, size, sizeof(*size) * (size_t)rank);
}

/* ---- arguments that no node defines ---------------------------------------------------------------------------------------------------------- */

static bool
has_stem(const char *name, const char *stem)
{
    size_t n = strlen(stem);
    return strncmp(name, stem, n) == 0 && (!name[n] || (name[n] == '_' && isdigit((unsigned char)name[n + 1])));
}

static const struct trait_row {
    const char *stem;
    unsigned traits;
    const char *was; /* what a constant of that name was made by; NULL: by itself */
} trait_rows[] = {
    {"slice", MAY_SLICE, NULL},
    {"alias", MAY_SLICE | IS_SAME, NULL},
    {"add", KEEPS_SIZES | HAS_IDENTITY, NULL},
    {"sub", KEEPS_SIZES | HAS_IDENTITY | SUBTRACTS, NULL},
    {"rsub", KEEPS_SIZES, NULL},
    {"mul", KEEPS_SIZES | HAS_IDENTITY | MULTIPLIES, NULL},
    {"div", KEEPS_SIZES | HAS_IDENTITY, NULL},
    {"neg", KEEPS_SIZES, NULL},
    {"exp", KEEPS_SIZES, NULL},
    {"einsum", MAKES_TABLES, NULL},
    {"cos", MAKES_TABLES, NULL},
    {"sin", MAKES_TABLES, NULL},
    {"cat", MAKES_TABLES, NULL},
    {"stack", MAKES_TABLES, NULL},
    {"outer", MAKES_TABLES, NULL},
    {"permute", TRANSPOSES, NULL},
    {"t", TRANSPOSES, NULL},
    {"transpose", TRANSPOSES, NULL},
    {"embedding", LOOKS_UP, NULL},
    {"clone", COPIES, "_to_copy.default"}, /* torch.tensor(number, device=...) is traced as a clone */
    {"type_as", CASTS, NULL},
    {"scalar_tensor_default", IS_NUMBER, NULL},
    {"sym_size_int", IS_SIZE, NULL},
    {"softmax", NORMALIZES, NULL},
    {"scaled_dot_product_attention", ATTENDS, NULL},
    {"linear", PROJECTS, NULL},
    {"addmm", ADDS_PRODUCT, NULL},
    {"convert_element_type_default", PROMOTES, NULL},
    {"_to_copy", CONVERTS, NULL},
    {"to", CASTS_TO, NULL},
    {"pow", SQUARES, NULL},
    {"rsqrt", INVERTS_ROOT, NULL},
    {"matmul", CONTRACTS, NULL},
    {"where", CHOOSES, NULL},
    {"relu", RECTIFIES | OVERWRITES, NULL},
    {"hardtanh", OVERWRITES, NULL},
    {"silu", OVERWRITES, NULL},
    {"hardswish", OVERWRITES, NULL},
    {"convolution", CONVOLVES, NULL},
    {"conv1d", CONVOLVES, NULL},
    {"conv2d", CONVOLVES, NULL},
    {"conv3d", CONVOLVES, NULL},
    {"conv_transpose1d", CONVOLVES, NULL},
    {"conv_transpose2d", CONVOLVES, NULL},
    {"conv_transpose3d", CONVOLVES, NULL},
    {"batch_norm", SCALES | TRAINS, NULL},
    {"cudnn_batch_norm", SCALES, NULL},
    {"native_batch_norm", SCALES, NULL},
    {"instance_norm", SCALES, NULL},
    {"layer_norm", SCALES, NULL},
    {"native_layer_norm", SCALES, NULL},
    {"group_norm", SCALES, NULL},
    {"native_group_norm", SCALES, NULL},
    {"rms_norm", SCALES, NULL},
    {"_fused_rms_norm", SCALES, NULL},
    {"linalg_vector_norm", SCALES, NULL},
    {"lost_clone", IS_LOST | IS_COPY, NULL},
    {"lost_view", IS_LOST, NULL},
};

/* Of a target, "aten.add.Tensor", or of a name that the traced program gave to a result, "add_3". */
static const struct trait_row *
trait_row(const char *name)
{
    static const struct trait_row none = {"", 0, NULL};
    name += starts_with(name, "aten.") ? strlen("aten.") : 0;
    for (int i = 0; i < COUNT(trait_rows); i++) {
        size_t n = strlen(trait_rows[i].stem);
        if (has_stem(name, trait_rows[i].stem) || (strncmp(name, trait_rows[i].stem, n) == 0 && name[n] == '.'))
            return &trait_rows[i];
    }
    return &none;
}

bool
spelled(const char *name, enum trait t)
{
    return trait_row(name)->traits & t;
}

/* Of sizes: what such targets begin with. */
static bool
makes_number(const char *target)
{
    static const char *const makers[] = {"aten.sym_", "operator."};
    bool makes = false;
    for (int i = 0; i < COUNT(makers); i++)
        makes |= starts_with(target, makers[i]);
    return makes;
}

/* The classes of a module and of the one around it. */
static void
look_around(struct lowering *l, const char *path, const char **around)
{
    const struct program *p = l->p;
    int at = lower_module(l, path ? path : "", NULL), up = p->modules[at].parent;
    around[0] = p->modules[at].type;
    around[1] = up >= 0 ? p->modules[up].type : NULL;
}

static struct place
place_of(struct lowering *l, const char *path, const char *op)
{
    struct place at = {.path = path, .op = op};
    look_around(l, path, at.around);
    return at;
}

/* Counted are the module that reads the result, and where it was made. */
static bool
is_undropped(const struct dynamo *d, const struct group *g, int tensor)
{
    int from = d->l->g->t[tensor].producer, at = from < 0 ? -1 : d->group_of[from];
    struct place reader = place_of(d->l, g->path, NULL);
    reader.type = g->type;
    if (at >= 0)
        look_around(d->l, d->groups[at].path, reader.around + 2);
    return fact_next(NULL, 1u << FACT_UNDROPPED, &reader);
}

/* Whether a clone was a dropout in evaluation mode that is one again in training; said then. */
static bool
drops(struct dynamo *d, const struct group *g, int tensor)
{
    struct lowering *l = d->l;
    if (l->s->dropout != DROPOUT_AUTO || l->s->mode != MODE_TRAINING || is_undropped(d, g, tensor))
        return false;
    program_assume(l->p, ALTERNATIVE_DROPOUT,
                   "dropout is active wherever the evaluation export still shows its place, with a probability above "
                   "0");
    return true;
}

/* A clone that vanished: dropout in evaluation mode, or the copy of contiguous() and reshape. Layout tells, when it runs. */
static int
lost_clone(struct dynamo *d, const struct group *g, int tensor)
{
    struct lowering *l = d->l;
    bool cosine =
        strstr(source_line(l->a, l->g->n[g->last].stack), "cosine_similarity("); /* Distance.cpp clones the norms */
    struct call *c = call_for(d, g, cosine ? "aten.clone.default" : "aten.lost_clone.default", cosine ? 1 : 3);
    c->args[0] = (struct arg){.kind = ARG_SLOT, .i = l->slot_of[tensor]};
    if (cosine)
        return c->outs[0];
    int from = l->g->t[tensor].producer;
    bool copy = from >= 0 && strstr(source_line(l->a, l->g->n[from].stack), ".contiguous(");
    c->args[1] = BOOL(copy || target_views(g->target));
    c->args[2] = BOOL(!copy && drops(d, g, tensor));
    return c->outs[0];
}

static struct param *
param_called(const struct dynamo *d, const char *name)
{
    struct program *p = d->l->p;
    for (int i = 0; i < p->nparams; i++)
        if (strcmp(p->params[i].name, name) == 0)
            return &p->params[i];
    return NULL;
}

/* The convolution or linear layer that took in its batch norm: attributes, input and weight sizes stand in the Conv node, the parameter is the one
 * of the node's name, or else the one that nothing refers to before the batch norm's in the signature. */
static int
lost_host(struct dynamo *d, const struct group *g, const char *norm_weight)
{
    static const struct {
        const char *onnx, *arg;
    } attributes[] = {
        {"strides", "stride"}, {"pads", "padding"}, {"dilations", "dilation"}, {"output_padding", "output_padding"}};
    struct lowering *l = d->l;
    const struct node *n = &l->g->n[g->last];
    int at = names_find(d->params, norm_weight), first, count = 0;
    if (n->nin < 2 || n->nout < 1 || at < 0 || n->in[0] < 0 || n->in[1] < 0 || n->out[0] < 0 ||
        l->slot_of[n->in[0]] < 0)
        return -1;
    const struct tensor *w = &l->g->t[n->in[1]];
    struct param *named = param_called(d, w->name), *bias_named = NULL;
    if (named && ends_with(named->name, "weight"))
        bias_named =
            param_called(d, arena_printf(l->a, "%.*sbias", (int)(strlen(named->name) - strlen("weight")), named->name));
    for (first = at; first > 0 && count < 2; first--) {
        struct param *q = &l->p->params[first - 1];
        if (d->referenced[first - 1] || q->kind == PARAM_BUFFER)
            break;
        count++;
    }
    if (!count && !named)
        return -1;
    struct param *weight = named ? named : &l->p->params[first], *bias = named       ? bias_named
                                                                         : count > 1 ? weight + 1
                                                                                     : NULL;
    d->referenced[weight - l->p->params] = true;
    lower_param_shape(l, weight, w);
    bool transposed = node_call(n) == CALL_CONV_TRANSPOSE, gemm = node_call(n) == CALL_GEMM;
    struct call *c = call_for(d, g, gemm ? "aten.linear.default" : "aten.convolution.default", gemm ? 3 : 9);
    c->scope = weight->module;
    c->name = l->p->modules[weight->module].path;
    c->args[0] = (struct arg){.kind = ARG_SLOT, .i = l->slot_of[n->in[0]]};
    c->args[1] = (struct arg){.kind = ARG_SLOT, .i = weight->slot};
    if (bias) {
        int64_t *size = NEWN(l->a, int64_t, 1);
        d->referenced[bias - l->p->params] = true;
        *size = weight->rank > 0 ? weight->size[transposed] : 0;
        bias->rank = 1;
        bias->size = size;
        c->args[2] = (struct arg){.kind = ARG_SLOT, .i = bias->slot};
    }
    lower_sizes(l, &l->g->t[n->out[0]], &c->rank, &c->size);
    for (int i = 0; i < COUNT(attributes) && !gemm; i++) {
        const struct attr *a = node_attr(n, attributes[i].onnx);
        int pos = aten_arg(c->op, attributes[i].arg), len = a ? a->n : 0;
        if (!a || a->type != ATTR_INTS || !a->ints || pos < 0)
            continue;
        len = strcmp(attributes[i].onnx, "pads") == 0 ? len / 2 : len; /* the same on both sides */
        c->args[pos] = (struct arg){.kind = ARG_LIST, .n = len, .list = NEWN(l->a, struct arg, len ? len : 1)};
        for (int k = 0; k < len; k++)
            c->args[pos].list[k] = INT(a->ints[k]);
    }
    if (!gemm) {
        c->args[6] = BOOL(transposed);
        c->args[8] = INT(node_int(n, "group", 1));
    }
    return c->outs[0];
}

/* "full_like_3" to "aten.full_like". */
static const char *
stem_of(struct arena *a, const char *name)
{
    char *stem = arena_printf(a, "aten.%s", name);
    char *p = stem + strlen(stem), *digits = p;
    while (isdigit((unsigned char)digits[-1]))
        digits--;
    if (digits < p && digits[-1] == '_')
        digits[-1] = 0;
    return stem;
}

/* A parameter below the module that nothing names: of these, one whose name ends so, or else one that may have this rank. */
static struct param *
folded_param(const struct dynamo *d, const char *path, const char *end, int rank)
{
    struct program *p = d->l->p;
    size_t len = strlen(path);
    for (int i = 0; i < p->nparams; i++) {
        struct param *q = &p->params[i];
        bool below = !len || (starts_with(q->name, path) && q->name[len] == '.');
        bool fits = end ? ends_with(q->name, end) : ends_with(q->name, "bias") == (rank == 1);
        if (below && fits && q->rank < 0 && !d->referenced[i] && (q->kind == PARAM_TRAINED || q->kind == PARAM_FROZEN))
            return q;
    }
    return NULL;
}

static struct call *
call_of_param(struct dynamo *d, const struct group *g, const char *target, int nargs, struct param *q, int rank,
              const int64_t *size)
{
    q->rank = rank;
    q->size = arena_dup(d->l->a, size, sizeof(*size) * (size_t)(rank ? rank : 1));
    d->referenced[q - d->l->p->params] = true;
    struct call *c = call_for(d, g, target, nargs);
    c->args[0] = (struct arg){.kind = ARG_SLOT, .i = q->slot};
    return c;
}

/* torch.nn.utils.weight_norm: w = g v / |v|, with g along the first dimension. */
static int
lost_weight_norm(struct dynamo *d, const struct group *g, int rank, const int64_t *size)
{
    static const char *const names[][2] = {{"original0", "original1"}, {"_g", "_v"}};
    const char *path = g->path ? g->path : "";
    for (int i = 0; i < COUNT(names); i++) {
        struct param *gain = folded_param(d, path, names[i][0], rank), *v = folded_param(d, path, names[i][1], rank);
        int64_t ones[MAX_RANK + 1] = {rank > 0 ? size[0] : 1};
        if (!gain || !v || rank < 1 || rank > MAX_RANK)
            continue;
        for (int k = 1; k < rank; k++)
            ones[k] = 1;
        struct call *c = call_of_param(d, g, "aten._weight_norm_interface.default", 3, v, rank, size);
        gain->rank = rank;
        gain->size = arena_dup(d->l->a, ones, sizeof(*ones) * (size_t)rank);
        d->referenced[gain - d->l->p->params] = true;
        c->args[1] = (struct arg){.kind = ARG_SLOT, .i = gain->slot};
        c->args[2] = INT(0);
        return c->outs[0];
    }
    return -1;
}

/* A bias looked up in a table of the relative positions in a square window: table[index] is [N N, H]; often it was folded on to
 * [1, H, N, N]: seen as [N, N, H], permuted, made contiguous, unsqueezed. */
static int
lost_position_table(struct dynamo *d, const struct group *g, int rank, const int64_t *size)
{
    struct lowering *l = d->l;
    const char *path = g->path ? g->path : "";
    int64_t n = 0, w = 0, heads = rank > 1 ? size[1] : 0,
            pairs = rank == 4   ? size[2] * size[3]
                    : rank == 2 ? size[0]
                                : 0;
    while (n < 1 << 14 && n * n < pairs)
        n++;
    while ((w + 1) * (w + 1) <= n)
        w++;
    struct param *table = folded_param(d, path, "relative_position_bias_table", rank);
    int found = -1;
    if (!table || !n || n - w * w > 1 || n * n != pairs)
        return -1;
    for (int i = 0; i < l->p->nparams; i++) {
        const struct param *q = &l->p->params[i];
        if (q->kind == PARAM_BUFFER && q->module == table->module && ends_with(q->name, "relative_position_index"))
            found = i;
    }
    if (found < 0 && w * w == n)
        return -1;
    int64_t rows[] = {(2 * w - 1) * (2 * w - 1) + (w * w == n ? 0 : 3), heads}, flat[] = {pairs},
            square[] = {n, n, heads};
    int picks;
    if (found >= 0) {
        struct param *index = &l->p->params[found];
        index->rank = 1;
        index->size = arena_dup(l->a, flat, sizeof(flat));
        index->dtype = DT_INT64;
        picks = index->slot;
    } else { /* BeitRelativePositionBias in modeling_beit.py: with three rows for the class token, the index made anew */
        struct call *made = call_for(d, g, "aten.arange.default", 1);
        made->args[0] = INT(pairs);
        picks = made->outs[0];
    }
    struct call *c = call_of_param(d, g, "aten.index.Tensor", 2, table, 2, rows);
    c->args[1] = (struct arg){.kind = ARG_LIST, .n = 1, .list = NEWN(l->a, struct arg, 1)};
    c->args[1].list[0] = (struct arg){.kind = ARG_SLOT, .i = picks};
    int slot = c->outs[0];
    static const struct {
        const char *target;
        int n, ints[3];
    } steps[] = {{"aten.view.default", 0, {0}},
                 {"aten.permute.default", 3, {2, 0, 1}},
                 {"aten.contiguous.default", 0, {0}},
                 {"aten.unsqueeze.default", 1, {0}}};
    for (int i = 0; i < COUNT(steps) && rank == 4; i++) {
        c = call_for(d, g, steps[i].target, 2);
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

/* A constant that the exporter computed from a parameter: the parameter is known by its name only. */
static int
lost_computed(struct dynamo *d, const struct group *g, const char *stem, int tensor)
{
    struct lowering *l = d->l;
    int rank, slot;
    const int64_t *size;
    if (!lower_sizes(l, &l->g->t[tensor], &rank, &size) || !dtypes[l->g->t[tensor].dtype].is_float)
        return -1;
    if ((slot = lost_weight_norm(d, g, rank, size)) >= 0 || (slot = lost_position_table(d, g, rank, size)) >= 0)
        return slot;
    const char *own = g->path ? g->path : "";
    bool looked_up = spelled(stem, LOOKS_UP) && rank > 1; /* a table of positions, read as a whole */
    struct param *q = rank > 0 ? folded_param(d, own, looked_up ? "weight" : NULL, rank) : NULL;
    const char *of = q ? l->p->modules[q->module].path : "";
    if (!q ||
        (!looked_up && strcmp(of, own) != 0 && strcmp(of, arena_printf(l->a, "%s.parametrizations.weight", own)) != 0))
        return -1; /* the module's own */
    int skip = looked_up ? rank - 2 : 0;
    struct call *c = call_of_param(d, g, "aten.mul.Tensor", 2, q, rank - skip, size + skip);
    c->args[1] = FLT(1);
    program_assume(l->p, ALTERNATIVE_NONE, "%s, which the exporter folded into a constant, has that constant's size",
                   q->name);
    return c->outs[0];
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
            (!n || (strncmp(p->params[i].name, path, n) == 0 && p->params[i].name[n] == '.')))
            return &p->params[i];
    return NULL;
}

static struct param *
unread_weight(const struct dynamo *d, const char *path)
{
    struct program *p = d->l->p;
    for (int i = 0; i < p->nparams; i++)
        if (p->params[i].kind <= PARAM_FROZEN && !d->referenced[i] && p->params[i].rank < 0 && path &&
            strcmp(p->modules[p->params[i].module].path, path) == 0)
            return &p->params[i];
    return NULL;
}

/* Layers that view one table (rotary's cosines) each left a constant: the n-th that a line reads is the n-th that it reads in another
 * layer. Returns its slot, or -1 where this is the first. */
static int
shared_table(struct dynamo *d, const struct group *g, const struct tensor *t, int *at)
{
    const char *line = location(d->l->a, d->l->g->n[g->last].stack), *path = g->path ? g->path : "";
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
    struct param *q = folded_param(d, g->path ? g->path : "", ".weight", 2);
    if (!q || !lower_sizes(l, t, &rank, &size) || rank < 2)
        return -1;
    struct call *at = call_for(d, g, "aten.arange.default", 1);
    at->args[0] = INT(size[rank - 2]);
    int indices = at->outs[0];
    struct call *c = call_of_param(d, g, "aten.embedding.default", 2, q, 2, &size[rank - 2]);
    c->args[1] = (struct arg){.kind = ARG_SLOT, .i = indices};
    program_assume(l->p, ALTERNATIVE_NONE, "%s, which the exporter folded into a constant, has that constant's size",
                   q->name);
    return c->outs[0];
}

/* A weight that no node reads, behind what was folded of it: its transpose, or arithmetic with a number. */
static int
lost_weight(struct dynamo *d, const struct group *g, const char *stem, const struct tensor *t)
{
    struct lowering *l = d->l;
    struct param *weight = unread_weight(d, g->path);
    bool transposed = t->rank == 2 && spelled(stem, TRANSPOSES);
    if (!weight || !(transposed || (dtypes[t->dtype].is_float && spelled(stem, KEEPS_SIZES | PROMOTES | CONVERTS))))
        return -1;
    int rank;
    const int64_t *size;
    if (transposed)
        sized(l, weight, 2, (int64_t[]){t->dims[1].n, t->dims[0].n});
    else if (lower_sizes(l, t, &rank, &size))
        sized(l, weight, rank, size);
    d->referenced[weight - l->p->params] = true;
    if (spelled(stem, PROMOTES))
        return weight->slot;
    const char *target = transposed                ? "aten.t.default"
                         : spelled(stem, CONVERTS) ? "aten.to.dtype"
                                                   : arena_printf(l->a, "%s.Tensor", stem);
    struct call *c = call_for(d, g, target, 2 - transposed);
    c->args[0] = (struct arg){.kind = ARG_SLOT, .i = weight->slot};
    if (!transposed)
        c->args[1] = spelled(stem, CONVERTS) ? DTYPE(t->dtype) : INT(1);
    return c->outs[0];
}

/* A constant that was folded is made anew in every step. Its name is the last operator's: where that one only views, an arange or a mask was
 * made before. */
static int
lost_constant(struct dynamo *d, const struct group *g, const char *name, int tensor)
{
    struct lowering *l = d->l;
    const struct tensor *t = &l->g->t[tensor];
    const char *stem = stem_of(l->a, name);
    const struct param *buffer = target_views(stem) && spelled(stem, MAY_SLICE) ? unread_buffer(d, g->path) : NULL;
    struct call *c;
    int weight = lost_weight(d, g, stem, t);
    if (weight >= 0)
        return weight;
    if (buffer) {
        c = call_for(d, g, "aten.lost_view.default", 1);
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
    int slot = (own && own->shaped) || spelled(stem, MAKES_TABLES) ? -1 : lost_computed(d, g, stem, tensor);
    if (slot >= 0)
        return slot;
    const char *viewed = dtypes[t->dtype].is_float ? "aten.mul.Tensor"
                         : t->dtype == DT_BOOL     ? "aten.le.Tensor"
                                                   : "aten.arange";
    const struct aten *was = aten_find(target_views(stem)                   ? viewed
                                       : trait_row(stem)->was               ? trait_row(stem)->was
                                       : t->dtype == DT_BOOL && t->rank > 1 ? arena_printf(l->a, "%s.Tensor", stem)
                                                                            : stem);
    c = call_for(d, g, "aten.folded.default", 2);
    c->args[0] = (struct arg){.kind = ARG_TEXT, .s = was ? was->name : "empty.memory_format"};
    c->args[1] = DTYPE(t->dtype);
    c->name = name;
    lower_sizes(l, t, &c->rank, &c->size);
    for (int k = 0; k < g->nnodes; k++)
        if (node_is(&l->g->n[g->nodes[k]], OP_COORDINATES) && c->rank > 1 && c->size[c->rank - 1] == 1) {
            c->rank--; /* an index, not the list of coordinates that the node takes */
            break;
        }
    if (table >= 0)
        d->tables[table].slot = c->outs[0];
    return c->outs[0];
}

/* The constant among the group's inputs that could be what a lost call made; strict: no number, no parameter's data. */
static int
constant_input(const struct dynamo *d, const struct group *g, bool strict)
{
    const struct graph *gr = d->l->g;
    for (int k = g->nnodes - 1; k >= 0; k--) {
        const struct node *n = &gr->n[g->nodes[k]];
        for (int i = n->nin - 1; i >= 0; i--) {
            const struct tensor *t = n->in[i] < 0 ? NULL : &gr->t[n->in[i]];
            bool number = t && t->rank < 2 && strncmp(t->name, "val_", 4) == 0;
            if (t && t->is_initializer && !(strict && (number || param_called(d, t->name))))
                return n->in[i];
        }
    }
    return -1;
}

/* The buffer whose data the group reads. */
static const struct param *
buffer_input(const struct dynamo *d, const struct group *g)
{
    const struct graph *gr = d->l->g;
    for (int k = 0; k < g->nnodes; k++) {
        const struct node *n = &gr->n[g->nodes[k]];
        for (int i = 0; i < n->nin; i++) {
            const struct param *q = n->in[i] < 0 ? NULL : param_called(d, gr->t[n->in[i]].name);
            if (q && q->kind == PARAM_BUFFER)
                return q;
        }
    }
    return NULL;
}

/* Duplicates merged inside a decomposition: the group reads an interior value of an earlier group of the same operator, which stands for
 * the argument in the same position there. */
static int
lost_interior(const struct dynamo *d, const struct group *g, int position)
{
    const struct graph *gr = d->l->g;
    const struct program *p = d->l->p;
    for (int k = 0; k < g->nnodes; k++) {
        const struct node *n = &gr->n[g->nodes[k]];
        for (int i = 0; i < n->nin; i++) {
            int from = n->in[i] < 0 ? -1 : gr->t[n->in[i]].producer;
            int at = from < 0 ? -1 : d->group_of[from];
            if (at < 0 || at == d->group_of[g->last] || strcmp(d->groups[at].target, g->target) != 0 ||
                d->groups[at].call < 0 || d->l->slot_of[n->in[i]] >= 0)
                continue;
            const struct call *c = &p->calls[d->groups[at].call];
            if (position < c->nargs && c->args[position].kind == ARG_SLOT)
                return (int)c->args[position].i;
        }
    }
    return -1;
}

/* The parameter that the file merged with this one: unread, of the same name in a sibling module or another of the same module. */
static struct param *
merged_param(struct dynamo *d, int slot)
{
    struct program *p = d->l->p;
    for (int i = 0; i < p->nparams; i++) {
        const struct param *q = &p->params[i];
        if (q->slot != slot || q->kind > PARAM_FROZEN)
            continue;
        for (int j = 0; j < p->nparams; j++) {
            struct param *other = &p->params[j];
            const char *leaf = strrchr(q->name, '.'), *end = strrchr(other->name, '.');
            bool sibling = leaf && end && strcmp(leaf, end) == 0 && other->module != q->module &&
                           p->modules[other->module].parent == p->modules[q->module].parent;
            if (d->referenced[j] || other->kind > PARAM_FROZEN ||
                !(sibling || (other->module == q->module && other->rank < 0)))
                continue;
            d->referenced[j] = true;
            sized(d->l, other, q->rank, q->size);
            return other;
        }
    }
    return NULL;
}

/* What eager runs differs from what was recorded: by target and the module's class. PyTorch's exporter decomposes and spells so whatever the
 * model is, as in the tables of traits, of calls that leave nothing and of wholes: no facts of a library (facts.c). */
static const struct rename {
    const char *target, *type, *line, *to; /* line: what the innermost source line says */
    const char *source;
} renames[] = {
    {"prims.var.default", NULL, NULL, "aten.var.correction", "decomposed by the exporter"},
    {"prims.broadcast_in_dim.default", NULL, NULL, "aten.broadcast_in_dim.default",
     "keepdim, decomposed by the exporter"},
    {"prims.sum.default", NULL, NULL, "aten.sum.dim_IntList", "likewise"},
    {"prims.div.default", NULL, NULL, "aten.div.Tensor", "likewise"},
    {"aten.grid_sampler.default", NULL, NULL, "aten.grid_sampler_2d.default", "a composite"},
    {"aten._native_batch_norm_legit_no_training.default", NULL, NULL, "aten.batch_norm.default",
     "training=True in a training step"},
    {"aten._native_batch_norm_legit_functional.default", NULL, NULL, "aten.batch_norm.default",
     "of a model that was exported in training mode"},
    {"aten._native_batch_norm_legit.default", NULL, NULL, "aten.batch_norm.default", "likewise"},
    {"aten._native_batch_norm_legit.no_stats", NULL, NULL, "aten.batch_norm.default", "likewise"},
    {"aten.clone.default", "torch.nn.modules.dropout.Dropout", NULL, "aten.lost_clone.default",
     "in evaluation mode, where the exporter optimized nothing"},
    {"aten.clone.default", NULL, "dropout(", "aten.lost_clone.default", "likewise"},
    {"aten.view.default", NULL, NULL, "aten.reshape.default",
     "whether it copies depends on strides: the training device decides anew"},
    {"aten._unsafe_view.default", NULL, NULL, "aten.reshape.default", "likewise"},
    {"aten.avg_pool2d.default", "torch.nn.modules.pooling.AdaptiveAvgPool2d", NULL, "aten._adaptive_avg_pool2d.default",
     "decomposed by the exporter"},
    {"aten._to_copy.default", NULL, NULL, "aten.to.dtype", "a copy only when the type differs"},
    {"prims.convert_element_type.default", NULL, NULL, "aten.alias.default",
     "the exporter's type promotion: eager promotes inside the operator"},
    {"aten.as_strided.default", NULL, NULL, "aten.alias.default",
     "follows a decomposed adaptive pool, changes nothing"},
    {"aten.linalg_vector_norm.default", NULL, "pairwise_distance(", "aten.norm.ScalarOpt_dim", "Distance.cpp"},
    {"aten.linalg_vector_norm.default", NULL, "triplet_margin_loss(", "aten.norm.ScalarOpt_dim", "pairwise_distance"},
    {"aten.clamp_min.Tensor", NULL, "cosine_similarity(", "aten.alias.default", "clamp_min_ in Distance.cpp"},
    {"aten.bernoulli.p", NULL, "dropout2d(", "aten.alias.default", "bernoulli_ in Dropout.cpp"},
    {"aten.div.Scalar", NULL, "dropout2d(", "aten.alias.default", "div_ in Dropout.cpp"},
    {"aten.avg_pool2d.default", NULL, "adaptive_avg_pool", "aten._adaptive_avg_pool2d.default",
     "windows of equal sizes: adaptive_avg_pool2d in torch/_decomp/decompositions.py"},
    {"aten.avg_pool2d.default", NULL, "interpolate(", "aten._adaptive_avg_pool2d.default",
     "mode='area': interpolate in torch/nn/functional.py"},
};

static int
cast_like(struct dynamo *d, const struct group *g, int slot, int like)
{
    struct call *c = call_for(d, g, "aten.to_like", 2);
    c->args[0] = (struct arg){.kind = ARG_SLOT, .i = slot};
    c->args[1] = (struct arg){.kind = ARG_SLOT, .i = like};
    return c->outs[0];
}

static int
to_float(struct dynamo *d, const struct group *g, int slot)
{
    struct call *c = call_for(d, g, "aten.to.dtype", 2);
    c->args[0] = (struct arg){.kind = ARG_SLOT, .i = slot};
    c->args[1] = DTYPE(DT_FLOAT);
    return c->outs[0];
}

/* "add.Tensor" of "aten.add.Tensor". */
static const char *
bare(const char *target)
{
    return starts_with(target, "aten.") ? target + strlen("aten.") : target;
}

/* Adding 0 or multiplying by 1, dropped by the exporter's optimizer. */
static int
lost_identity(struct dynamo *d, const struct group *g, const char *name, int slot)
{
    if (!spelled(name, HAS_IDENTITY))
        return slot;
    struct call *c = call_for(d, g, arena_printf(d->l->a, "%s.Tensor", stem_of(d->l->a, name)), 2);
    c->args[0] = (struct arg){.kind = ARG_SLOT, .i = slot};
    c->args[1] = INT(1);
    return c->outs[0];
}

/* Whether a name such as "view_1" is one that the traced program gives to results of this target, as it was before it was renamed. */
static bool
named_after(const char *name, const char *target)
{
    const char *stem = bare(target);
    size_t n = strcspn(stem, ".");
    if (n && strncmp(name, stem, n) == 0 && !isalpha((unsigned char)name[n]))
        return true;
    for (int i = 0; i < COUNT(renames); i++)
        if (strcmp(renames[i].to, target) == 0 && strcmp(renames[i].target, target) != 0) {
            stem = bare(renames[i].target);
            n = strcspn(stem, ".");
            if (strncmp(name, stem, n) == 0 && !isalpha((unsigned char)name[n]))
                return true;
        }
    return false;
}

/* The same call again: duplicates were merged in the file, but both ran. */
static int
lost_duplicate(struct dynamo *d, const struct group *g, const char *name, int slot)
{
    struct program *p = d->l->p;
    for (int i = p->ncalls - 1; i >= 0; i--) {
        if (p->calls[i].outs[0] != slot)
            continue;
        if (!named_after(name, p->calls[i].target))
            return lost_identity(d, g, name, slot);
        struct call again = p->calls[i];
        again.outs = NEWN(d->l->a, int, 1);
        again.outs[0] = lower_slot(d->l);
        again.name = name;
        again.scope = lower_module(d->l, g->path ? g->path : "", g->type); /* where it is read */
        again.args = arena_dup(d->l->a, again.args, sizeof(*again.args) * (size_t)(again.nargs ? again.nargs : 1));
        for (int k = 0; k < again.nargs; k++) {
            struct param *q = again.args[k].kind == ARG_SLOT ? merged_param(d, (int)again.args[k].i) : NULL;
            if (q)
                again.args[k].i = q->slot;
        }
        *PUSH(d->l->a, p->calls, p->ncalls, p->cap_calls) = again;
        return again.outs[0];
    }
    return lost_identity(d, g, name, slot);
}

/* The next free input. Of an attention's, masks are boolean and nothing else is; of a linear's, the input has the result's
 * rank, the weight 2 and the bias 1. */
static int
take_spare(const struct dynamo *d, const struct group *g, int position, int *spare, int nspare, int *used)
{
    bool attention = spelled(g->target, ATTENDS);
    bool linear = spelled(g->target, PROJECTS);
    int out = group_output(d, g), rank = position || out < 0 ? 3 - position : d->l->g->t[out].rank;
    for (int i = *used; i < nspare && (attention || linear); i++) {
        int t = spare[i];
        const struct tensor *x = &d->l->g->t[t];
        if (attention ? (x->dtype == DT_BOOL) != (position == 3) : x->rank != rank)
            continue;
        memmove(&spare[*used + 1], &spare[*used], sizeof(int) * (size_t)(i - *used));
        spare[*used] = t;
        break;
    }
    return spare[(*used)++];
}

/* x.type_as(y) where the types were equal: a softmax goes back to the type of its input, a norm to that of what entered its module. */
static int
lost_type_as(struct dynamo *d, const struct group *g, int slot)
{
    const struct program *p = d->l->p;
    int from = p->ncalls - 1, like = -1;
    while (from >= 0 && p->calls[from].outs[0] != slot)
        from--;
    if (from < 0)
        return slot;
    for (int i = from; i >= 0 && p->calls[i].scope == p->calls[from].scope; i--)
        for (int k = p->calls[i].nargs - 1; k >= 0; k--)
            like = p->calls[i].args[k].kind == ARG_SLOT ? (int)p->calls[i].args[k].i : like;
    if (spelled(p->calls[from].target, NORMALIZES))
        like = (int)p->calls[from].args[0].i;
    return like < 0 ? slot : cast_like(d, g, slot, like);
}

/* An input of the group that the same operator made: merged with the lost one, it is read twice. */
static int
twin_input(const struct dynamo *d, const struct group *g, const char *name)
{
    const struct lowering *l = d->l;
    for (int k = 0; k < g->nnodes; k++) {
        const struct node *n = &l->g->n[g->nodes[k]];
        for (int i = 0; i < n->nin; i++) {
            int slot = n->in[i] < 0 || n->in[i] == d->fed ? -1 : l->slot_of[n->in[i]];
            for (int c = l->p->ncalls - 1; c >= 0 && slot >= 0; c--)
                if (l->p->calls[c].outs[0] == slot && named_after(name, l->p->calls[c].target))
                    return slot;
        }
    }
    return -1;
}

/* Calls that leave nothing in a file: complex numbers are pairs there, gradients do not exist, and what is joined alone is itself. */
static const struct {
    const char *stem, *target;
    bool list; /* takes a list of tensors */
} traceless[] = {{"view_as_real", "aten.view_as_real.default", false},
                 {"view_as_complex", "aten.view_as_complex.default", false},
                 {"detach", "aten.detach.default", false},
                 {"cat", "aten.cat.default", true}};

/* Where its operand stands in another place too, no input is left over: it is the group's first. */
static int
lost_traceless(struct dynamo *d, const struct group *g, const char *name, int slot)
{
    int first;
    for (int i = 0; i < COUNT(traceless); i++)
        if (has_stem(name, traceless[i].stem)) {
            if (slot < 0 && free_inputs(d, g, NULL, 0, &first, 1))
                slot = d->l->slot_of[first];
            if (slot < 0)
                return -1;
            struct call *c = call_for(d, g, traceless[i].target, 1);
            c->args[0] = (struct arg){.kind = ARG_SLOT, .i = slot};
            if (traceless[i].list)
                c->args[0] =
                    (struct arg){.kind = ARG_LIST, .n = 1, .list = arena_dup(d->l->a, c->args, sizeof(*c->args))};
            return c->outs[0];
        }
    return slot;
}

/* The slot for a name that no call defined; -1 when it is no tensor of the step (a symbolic size). */
static int
resolve_lost(struct dynamo *d, const struct group *g, const char *name, int position, int *spare, int nspare, int *used)
{
    struct lowering *l = d->l;
    int t = graph_find(l->g, name);
    if (spelled(name, IS_SIZE) || spelled(name, IS_NUMBER))
        return -1;
    if (t >= 0 && l->slot_of[t] >= 0) /* the name survived as a value's */
        return spelled(name, CASTS) ? lost_type_as(d, g, l->slot_of[t]) : l->slot_of[t];
    if (t >= 0 && l->g->t[t].is_initializer)
        return lost_constant(d, g, name, t);
    if (*used >= nspare && spelled(name, MAY_SLICE)) {
        const struct param *q = buffer_input(d, g);
        if (q)
            return q->slot;
    }
    if (*used >= nspare) {
        const struct aten *was = aten_find(stem_of(l->a, name));
        int inside = lost_interior(d, g, position);
        int twin = inside < 0 ? twin_input(d, g, name) : -1;
        if (twin >= 0)
            return lost_duplicate(d, g, name, twin);
        t = inside < 0 ? constant_input(d, g, !was || !was->shaped) : -1;
        return t >= 0 ? lost_constant(d, g, name, t) : inside < 0 ? lost_traceless(d, g, name, -1) : inside;
    }
    t = take_spare(d, g, position, spare, nspare, used);
    int slot = lost_traceless(d, g, name, l->slot_of[t]);
    if (slot == l->slot_of[t])
        slot = spelled(name, COPIES) ? lost_clone(d, g, t) : lost_duplicate(d, g, name, slot);
    if (slot != l->slot_of[t])
        *PUSH(l->a, d->origins, d->norigins, d->cap_origins) = (struct origin){slot, t};
    return slot;
}

/* A body's call names its parameters as the body's arguments: what the node reads at that position, or the next that the nodes read. */
static int
param_in_body(struct dynamo *d, const struct group *g, int position)
{
    const struct lowering *l = d->l;
    int skip = d->body_params;
    bool one = g->nnodes == 1;
    for (int k = 0; k < g->nnodes && l->g->unrolled; k++) {
        const struct node *n = &l->g->n[g->nodes[k]];
        for (int i = one ? position : 0; i < (one ? position + 1 : n->nin) && i < n->nin; i++)
            for (int j = 0; n->in[i] >= 0 && l->g->t[n->in[i]].is_initializer && j < l->p->nparams; j++)
                if (strcmp(l->p->params[j].name, l->g->t[n->in[i]].name) == 0 && (one || skip-- == 0)) {
                    d->body_params++;
                    return l->p->params[j].slot;
                }
    }
    return -1;
}

static void
resolve_arg(struct dynamo *d, const struct group *g, struct arg *a, int position, int *spare, int nspare, int *used)
{
    struct lowering *l = d->l;
    if (a->kind == ARG_LIST)
        for (int i = 0; i < a->n; i++)
            resolve_arg(d, g, &a->list[i], position, spare, nspare, used);
    if (a->kind != ARG_SLOT || a->i >= 0)
        return;
    int slot = l->g->unrolled && *used >= nspare && !spelled(a->s, IS_NUMBER) ? param_in_body(d, g, position) : -1;
    slot = slot >= 0 ? slot : resolve_lost(d, g, a->s, position, spare, nspare, used);
    if (slot < 0) {
        *a = spelled(a->s, IS_NUMBER) ? FLT(0) : INT(-1); /* a number, a symbolic size */
        return;
    }
    a->i = slot;
    names_put(l->slots, a->s, slot);
}

static void
resolve_known(struct dynamo *d, struct arg *a, int *missing)
{
    if (a->kind == ARG_LIST)
        for (int i = 0; i < a->n; i++)
            resolve_known(d, &a->list[i], missing);
    if (a->kind == ARG_SLOT) {
        a->i = names_find(d->l->slots, a->s);
        *missing += a->i < 0;
    }
}

/* ---- sizes of parameters without an initializer of their own ----------------------------------------------------------------------------------- */

/* The known last dimension of the first data input. */
static int64_t
last_input_dim(const struct dynamo *d, const struct group *g)
{
    const struct lowering *l = d->l;
    for (int k = 0; k < g->nnodes; k++) {
        const struct node *n = &l->g->n[g->nodes[k]];
        for (int i = 0; i < n->nin; i++)
            if (n->in[i] >= 0 && l->slot_of[n->in[i]] >= 0 && !made_inside(d, g, n->in[i])) {
                const struct tensor *t = &l->g->t[n->in[i]];
                return t->rank > 0 ? t->dims[t->rank - 1].n : -1;
            }
    }
    return -1;
}

static void
size_params(struct dynamo *d, const struct group *g, const struct aten *op, const struct arg *args, int nargs, int rank,
            const int64_t *size)
{
    struct lowering *l = d->l;
    const char *name = op ? op->name : "";
    bool linear = spelled(name, PROJECTS), addmm = spelled(name, ADDS_PRODUCT);
    int seen = 0;
    for (int i = 0; i < nargs; i++) {
        struct param *before = NULL; /* in a list: a recurrent layer's biases have as many rows as its weights */
        for (int k = 0; args[i].kind == ARG_LIST && k < args[i].n; k++) {
            struct param *q = args[i].list[k].s ? param_of(d, args[i].list[k].s) : NULL;
            if (q && q->rank < 0 && before && before->rank > 0)
                sized(l, q, 1, before->size);
            before = q ? q : before;
        }
        struct param *q = args[i].kind == ARG_SLOT && args[i].s ? param_of(d, args[i].s) : NULL;
        seen += q != NULL;
        if (!q || q->rank >= 0)
            continue;
        int64_t in = last_input_dim(d, g), out = rank > 0 ? size[rank - 1] : -1;
        int shape = op ? aten_arg(op, "normalized_shape") : -1;
        if (linear || addmm) {
            bool weight = i == (linear ? 1 : 2);
            if (out >= 0 && (!weight || in >= 0))
                sized(l, q, weight ? 2 : 1, weight ? (linear ? (int64_t[]){out, in} : (int64_t[]){in, out}) : &out);
            continue;
        }
        if (shape >= 0 && shape < nargs && args[shape].kind == ARG_LIST) {
            int64_t dims[8];
            for (int k = 0; k < args[shape].n && k < 8; k++)
                dims[k] = args[shape].list[k].i;
            sized(l, q, args[shape].n < 8 ? args[shape].n : 8, dims);
            continue;
        }
        bool bias_of_conv = spelled(name, CONVOLVES) && i == 2; /* zero biases are removed from the node */
        if (spelled(name, SCALES) || bias_of_conv) {
            if (rank > 1)
                sized(l, q, 1, &size[1]);
            continue;
        }
        bool index = op && i == aten_arg(op, "index");
        int skip = index ? 0 : seen - 1; /* otherwise: the constants among the group's inputs, in order */
        for (int k = 0; k < g->nnodes && q->rank < 0; k++) {
            const struct node *n = &l->g->n[g->nodes[k]];
            for (int j = 0; j < n->nin && q->rank < 0; j++)
                if (n->in[j] >= 0 && l->g->t[n->in[j]].is_initializer &&
                    dtypes[l->g->t[n->in[j]].dtype].is_float != index && skip-- == 0)
                    lower_param_shape(l, q, &l->g->t[n->in[j]]);
        }
    }
}

/* ---- calls ------------------------------------------------------------------------------------------------------------------------------------------ */

static const char *
renamed(const struct dynamo *d, const struct group *g)
{
    struct arena *a = d->l->a;
    static const char *const scalar[] = {"clamp", "eq", "ne",        "lt",  "le",
                                         "gt",    "ge", "remainder", "fmod"}; /* a number became a tensor */
    for (int i = 0; i < COUNT(scalar); i++) {
        const char *row = arena_printf(a, "aten.%s.", scalar[i]);
        if (starts_with(g->target, row) && strstr(g->args, "%scalar_tensor_default"))
            return i ? arena_printf(a, "%sScalar", row) : "aten.clamp.default";
    }
    for (int i = 0; i < COUNT(renames); i++)
        if (strcmp(renames[i].target, g->target) == 0 &&
            (!renames[i].type || (g->type && strcmp(renames[i].type, g->type) == 0)) &&
            (!renames[i].line || strstr(source_line(a, d->l->g->n[g->last].stack), renames[i].line)))
            return renames[i].to;
    return g->target;
}

static const struct fact *
fact_of(const struct group *g, enum fact_kind kind)
{
    return g->type ? fact_next(NULL, 1u << kind, &(struct place){.type = g->type}) : NULL;
}

static const struct fact *
norm_of(const struct group *g)
{
    enum { NORMS = 1u << FACT_NORM_BACK | 1u << FACT_NORM_BACK_AT_END | 1u << FACT_NORM_TO_WEIGHT };
    return g->type ? fact_next(NULL, NORMS, &(struct place){.type = g->type}) : NULL;
}

static const struct call *
maker(const struct program *p, int64_t slot)
{
    for (int i = p->ncalls - 1; i >= 0; i--)
        for (int k = 0; k < p->calls[i].nouts; k++)
            if (p->calls[i].outs[k] == slot)
                return &p->calls[i];
    return NULL;
}

/* The module's input is read in fp32, what the weight scales in the weight's type. */
static void
norm_input(struct dynamo *d, const struct group *g, bool to_weight, struct arg *args, int n)
{
    struct lowering *l = d->l;
    for (int i = 0; i < 2 && n == 2 && to_weight; i++)
        if (args[i].kind == ARG_SLOT && args[1 - i].kind == ARG_SLOT && !maker(l->p, args[i].i) &&
            maker(l->p, args[1 - i].i))
            args[1 - i].i = cast_like(d, g, (int)args[1 - i].i, (int)args[i].i);
    int scope = lower_module(l, g->path ? g->path : "", g->type);
    bool square = spelled(g->target, SQUARES);
    bool reads_float = !spelled(g->target, CASTS) && (!to_weight || square);
    for (int i = 0; i < n; i++) {
        const struct call *c = args[i].kind == ARG_SLOT && args[i].i >= 0 ? maker(l->p, args[i].i) : NULL;
        if (to_weight && !square && c && c->scope == scope && spelled(c->target, CASTS_TO) &&
            c->args[1].kind == ARG_DTYPE && c->args[1].i == DT_FLOAT)
            args[i].i = c->args[0].i; /* where the file has the copy, it was merged with the kernel's own */
        if (!reads_float)
            continue;
        const struct call *from = c && c->nargs && c->args[0].kind == ARG_SLOT ? maker(l->p, c->args[0].i) : NULL;
        bool lost = c && (spelled(c->target, IS_LOST) || /* found where it is read */
                          (strcmp(c->name, g->fx_name) == 0 && from && from->scope != scope));
        bool input = d->norm.scope == scope && d->norm.input == (int)args[i].i;
        if (!c || (c->scope == scope && !lost && !input))
            continue;
        if (!input) {
            d->norm = (struct norm){scope, (int)args[i].i, -1};
            d->norm.wide = to_float(d, g, (int)args[i].i);
        }
        args[i].i = d->norm.wide;
    }
}

static int
norm_output(struct dynamo *d, const struct group *g, enum fact_kind back, const struct call *c)
{
    struct lowering *l = d->l;
    bool weighted = false, normal = false;
    int slot = c->outs[0];
    for (int i = 0; i < c->nargs; i++) {
        const struct call *m = c->args[i].kind == ARG_SLOT ? maker(l->p, c->args[i].i) : NULL;
        weighted |= c->args[i].kind == ARG_SLOT && !m;
        weighted |= m && m->scope == c->scope && m->nargs && m->args[0].kind == ARG_SLOT &&
                    !maker(l->p, m->args[0].i); /* 1 + weight */
        normal |= m && spelled(m->target, INVERTS_ROOT);
    }
    bool goes = spelled(g->target, MULTIPLIES) &&
                ((back == FACT_NORM_BACK_AT_END && weighted) || (back == FACT_NORM_BACK && normal));
    return goes && d->norm.input >= 0 ? cast_like(d, g, slot, d->norm.input) : slot;
}

/* What the probabilities are multiplied with: the next product in the module. */
static int
value_after(struct dynamo *d, const struct group *g)
{
    for (const struct group *h = g + 1; h < d->groups + d->ngroups; h++) {
        struct arg args[MAX_ARGS];
        int missing = 0;
        if (!h->path || strcmp(h->path, g->path) != 0 || !spelled(h->target, CONTRACTS))
            continue;
        if (parse_args(d->l, NULL, h->args, args) < 2 || args[1].kind != ARG_SLOT)
            return -1;
        resolve_known(d, &args[1], &missing);
        return (int)args[1].i;
    }
    return -1;
}

/* The query of the product that these scores come from. */
static int
query_before(const struct dynamo *d, int slot)
{
    const struct program *p = d->l->p;
    for (int i = p->ncalls - 1; i >= 0; i--) {
        const struct call *c = &p->calls[i];
        int first = c->nargs && c->args[0].kind == ARG_LIST ? -1 : 0;
        if (c->outs[0] != slot)
            continue;
        first = first == 0 && spelled(c->target, CHOOSES) ? 1 : first;
        if (first < 0 || first >= c->nargs || c->args[first].kind != ARG_SLOT)
            return -1;
        slot = (int)c->args[first].i;
        if (spelled(c->target, CONTRACTS))
            return slot;
    }
    return -1;
}

/* Casts that copy under autocast: of the input before the call, or of its result. */
static int
cast_by_fact(struct dynamo *d, const struct group *g, const struct arg *args, int n, bool before, int slot)
{
    unsigned inputs = 1u << FACT_INPUT_TO_WEIGHT | 1u << FACT_INPUT_TO_FLOAT;
    unsigned results = 1u << FACT_RESULT_TO_VALUE | 1u << FACT_RESULT_TO_QUERY | 1u << FACT_RESULT_TO_INPUT;
    if (!g->path || slot < 0 || n < 2)
        return slot;
    const struct place at = place_of(d->l, g->path, bare(g->target));
    const struct fact *k = fact_next(NULL, before ? inputs : results, &at);
    while (k && k->kind == FACT_RESULT_TO_QUERY && (n < 3 || args[2].kind != ARG_DTYPE || args[2].i != DT_FLOAT))
        k = fact_next(k, results, &at);
    if (!k)
        return slot;
    if (k->kind == FACT_INPUT_TO_FLOAT)
        return to_float(d, g, slot);
    const struct call *wide = k->kind == FACT_RESULT_TO_INPUT ? maker(d->l->p, args[0].i) : NULL;
    const struct arg *same = k->kind == FACT_INPUT_TO_WEIGHT ? &args[1] : wide && wide->nargs ? &wide->args[0] : &NONE;
    int like = k->kind == FACT_RESULT_TO_VALUE   ? value_after(d, g)
               : k->kind == FACT_RESULT_TO_QUERY ? query_before(d, (int)args[0].i)
               : same->kind == ARG_SLOT          ? (int)same->i
                                                 : -1;
    return like < 0 ? slot : cast_like(d, g, slot, like);
}

/* T5 adds its padding mask to the position bias that all layers share; of a mask of ones the exporter leaves nothing, but the sum has the
 * batch's size and lives as long as the layers. */
static void
add_lost_mask(struct dynamo *d, const struct group *g, struct arg *args, int n, int rank, const int64_t *size)
{
    const struct call *bias = n == 2 && args[1].kind == ARG_SLOT ? maker(d->l->p, args[1].i) : NULL;
    if (!g->path || rank != 4 || !bias || bias->rank != 4 || bias->size[0] != 1 || size[0] == 1)
        return;
    const struct place at = place_of(d->l, g->path, bare(g->target));
    const struct fact *f = fact_next(NULL, 1u << FACT_ADDS_MASK, &at);
    if (!f || strcmp(bare(bias->target), f->arg) != 0)
        return;
    if (d->masked.bias != (int)args[1].i) {
        d->masked.bias = (int)args[1].i;
        struct call *mask = call_for(d, g, "aten.zeros.default", 2);
        int64_t shape[] = {size[0], 1, 1, size[3]};
        mask->args[0] = (struct arg){.kind = ARG_LIST, .n = 4, .list = NEWN(d->l->a, struct arg, 4)};
        for (int i = 0; i < 4; i++)
            mask->args[0].list[i] = INT(shape[i]);
        mask->args[1] = DTYPE(DT_FLOAT);
        mask->rank = 4;
        mask->size = arena_dup(d->l->a, shape, sizeof(shape));
        int made = mask->outs[0];
        struct call *sum = call_for(d, g, "aten.add.Tensor", 2);
        sum->args[0] = args[1];
        sum->args[1] = (struct arg){.kind = ARG_SLOT, .i = made};
        d->masked.slot = sum->outs[0];
    }
    args[1].i = d->masked.slot;
}

/* ---- in place ----------------------------------------------------------------------------------------------------------------------------------- */

/* Exports show every operator out of place. What tells the rest: the Python line, or the source of a library's class. */
static bool
class_in_place(const struct dynamo *d, const struct group *g)
{
    struct lowering *l = d->l;
    struct place at = {.type = g->type};
    for (int up = 3; (at.around[0] = list_entry(l->a, l->g->n[g->last].classes, up)); up++) { /* 1 operator, 2 module */
        const struct fact *f = fact_next(NULL, 1u << FACT_IN_PLACE | 1u << FACT_OUT_OF_PLACE, &at);
        if (f)
            return f->kind == FACT_IN_PLACE;
    }
    return l->s->inplace == INPLACE_RELU && spelled(g->target, RECTIFIES);
}

/* One line runs for every module of a class: the module counts too. */
static bool
same_statement(const struct dynamo *d, int a, int b)
{
    const char *p = d->l->g->n[a].stack, *q = d->l->g->n[b].stack;
    int ga = d->group_of[a], gb = d->group_of[b];
    const char *pa = ga < 0 ? NULL : d->groups[ga].path, *pb = gb < 0 ? NULL : d->groups[gb].path;
    return p && q && strcmp(p, q) == 0 && (!pa || !pb || strcmp(pa, pb) == 0);
}

/* "x += y": the last operator of the statement, the one whose result no other operand of the statement is. */
static bool
line_in_place(const struct dynamo *d, const struct group *g, const char *stem, int out)
{
    static const struct {
        const char *stem, *sign;
    } augmented[] = {{"add", " += "}, {"sub", " -= "}, {"mul", " *= "}, {"div", " /= "}};
    const struct graph *gr = d->l->g;
    const char *line = source_line(d->l->a, gr->n[g->last].stack);
    struct arena *a = d->l->a;
    if (strstr(line, arena_printf(a, "%s_(", stem)) ||
        (strstr(line, arena_printf(a, "%s(", stem)) && (strstr(line, "inplace=True") || strstr(line, ", True)"))))
        return true;
    for (int i = 0; i < COUNT(augmented); i++) {
        if (strcmp(augmented[i].stem, stem) != 0 ||
            (!strstr(line, augmented[i].sign) && !strstr(line, arena_printf(a, "%.2s", augmented[i].sign + 1))))
            continue;
        for (int u = 0; u < gr->t[out].nusers; u++) {
            const struct node *user = &gr->n[gr->t[out].users[u]];
            if (same_statement(d, g->last, gr->t[out].users[u]) && user->nin && user->in[0] != out)
                return false;
        }
        return true;
    }
    return false;
}

bool
lower_may_overwrite(const struct graph *g, int in, int out, int last)
{
    if (in < 0 || g->t[in].is_initializer || g->t[in].is_input || g->t[in].is_output || g->t[in].rank != g->t[out].rank)
        return false;
    for (int i = 0; i < g->t[in].rank; i++)
        if (g->t[in].dims[i].n != g->t[out].dims[i].n)
            return false;
    for (int u = 0; u < g->t[in].nusers; u++)
        if (g->t[in].users[u] > last)
            return false;
    return true;
}

static bool
in_place(const struct dynamo *d, const struct group *g, int out)
{
    const struct node *first = &d->l->g->n[g->nodes[0]];
    if (out < 0 || !starts_with(g->target, "aten.") || d->l->s->inplace == INPLACE_NONE || !first->nin ||
        !lower_may_overwrite(d->l->g, first->in[0], out, g->last))
        return false;
    const char *name = g->target + 5;
    const char *stem = arena_strn(d->l->a, name, strcspn(name, "."));
    if (fact_of(g, FACT_MAY_OVERWRITE) && class_in_place(d, g))
        return true;
    return line_in_place(d, g, stem, out);
}

/* ---- calls --------------------------------------------------------------------------------------------------------------------------------------- */

static void
define(struct dynamo *d, const struct group *g, int tensor, int slot)
{
    names_put(d->l->slots, g->fx_name, slot);
    if (tensor >= 0)
        d->l->slot_of[tensor] = slot;
}

/* Transposes and unsqueezes that were merged: the node's own attributes apply to its own input. */
static bool
merged(struct dynamo *d, const struct group *g, int out)
{
    struct lowering *l = d->l;
    const struct node *n = &l->g->n[g->last];
    const struct attr *perm = node_attr(n, "perm");
    perm = perm && perm->type == ATTR_INTS && perm->ints ? perm : NULL;
    if (!n->rules || n->nin < 1 || n->in[0] < 0 || l->slot_of[n->in[0]] < 0)
        return false;
    struct call *c = NULL;
    if (strstr(n->rules, "TransposeTranspose") && perm) {
        c = call_for(d, g, "aten.permute.default", 2);
        c->args[1] =
            (struct arg){.kind = ARG_LIST, .n = perm->n, .list = NEWN(l->a, struct arg, perm->n ? perm->n : 1)};
        for (int i = 0; i < perm->n; i++)
            c->args[1].list[i] = INT(perm->ints[i]);
    } else if (strstr(n->rules, "ReshapeReshape") || strstr(n->rules, "UnsqueezeUnsqueeze")) {
        c = call_for(d, g, "aten.reshape.default", 2);
    } else {
        return false;
    }
    c->args[0] = (struct arg){.kind = ARG_SLOT, .i = l->slot_of[n->in[0]]};
    lower_sizes(l, &l->g->t[out], &c->rank, &c->size);
    define(d, g, out, c->outs[0]);
    return true;
}

/* Which of the results of the operator's own node a value comes from; -1 where the file has no such node. */
static int
result_index(const struct dynamo *d, const struct group *g, const struct call *c, int tensor)
{
    const struct graph *gr = d->l->g;
    for (int hops = 0; hops < 8 && tensor >= 0 && made_inside(d, g, tensor); hops++) {
        const struct node *n = &gr->n[gr->t[tensor].producer];
        for (int o = 0; n->row && n->row->aten && strcmp(n->row->aten, c->target) == 0 && o < n->nout; o++)
            if (n->out[o] == tensor)
                return o;
        tensor = n->nin ? n->in[0] : -1;
    }
    return -1;
}

/* Several results: the file's names for the entries of the tuple, in order; an index follows its value. */
static void
define_items(struct dynamo *d, const struct group *g, struct call *c)
{
    struct lowering *l = d->l;
    int n = 0, cap = 0, *item = NULL;
    for (int k = 0; k < g->nnodes; k++) {
        const struct node *node = &l->g->n[g->nodes[k]];
        for (int o = 0; o < node->nout; o++)
            if (node->out[o] >= 0 && has_stem(l->g->t[node->out[o]].name, "getitem"))
                *PUSH(l->a, item, n, cap) = node->out[o];
    }
    if (!n)
        return;
    bool index = n == 1 && l->g->t[item[0]].dtype == DT_INT64 && ends_with(c->target, ".dim");
    int *place = NEWN(l->a, int, n);
    c->nouts = n + index;
    for (int i = 0; i < n; i++) {
        int at = result_index(d, g, c, item[i]);
        place[i] = at >= 0 ? at : i + index;
        c->nouts = place[i] >= c->nouts ? place[i] + 1 : c->nouts;
    }
    c->outs = NEWN(l->a, int, c->nouts);
    for (int i = 0; i < c->nouts; i++)
        c->outs[i] = lower_slot(l);
    for (int i = 0; i < n; i++) {
        names_put(l->slots, l->g->t[item[i]].name, c->outs[place[i]]);
        l->slot_of[item[i]] = c->outs[place[i]];
    }
}

/* The row of a recorded call. Those that only gradients and memlint itself call have no overload or are called _backward, and rely on
 * what their callers give them. */
static const struct aten *
recorded_row(const char *target)
{
    const struct aten *op = aten_find(target);
    return op && strchr(op->name, '.') && !strstr(op->name, "_backward") ? op : NULL;
}

/* Fusions of the exporter that leave the last piece of several behind: the pieces before it, which make what it reads and no node does. In their
 * arguments $x is the node's input, $0 the first piece, $c and $s the tables of cosines and sines, & the node's epsilon, # half the width of its
 * input. Without pieces it is a doubt. Source: onnxscript/rewriter/rules/fusion, from opset 23 on; the pieces are those of transformers. */
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

static void lower_group(struct dynamo *d, struct group *g);

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
    lower_group(d, &piece);
    return names_find(d->l->slots, name);
}

/* The name of a table that the model makes once, of both halves' angles: the node reads that of the first half, t. NULL: it is made otherwise. */
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
        l->slot_of[angles] = lost_constant(d, g, l->g->t[angles].name, angles);
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
        if (f->piece[i].read && named_after(name, f->piece[i].target))
            return true;
    return false;
}

/* What the last piece reads and nobody has made; of all, or of what would be called like a piece. How many. */
static int
lost_pieces(struct dynamo *d, const struct group *g, const struct fusion *f, bool all, const char **lost)
{
    struct arg args[MAX_ARGS];
    int n = 0, nargs = parse_args(d->l, recorded_row(g->target), g->args, args);
    for (int i = 0; i < nargs; i++)
        if (args[i].kind == ARG_SLOT && names_find(d->l->slots, args[i].s) < 0 && !param_of(d, args[i].s) &&
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

/* Makes what the last piece of a fusion reads, and returns the tensor that it is made of; -1, and nothing, where some of it can't be made. */
static int
unfuse(struct dynamo *d, const struct group *g)
{
    struct lowering *l = d->l;
    const struct node *n = &l->g->n[g->last];
    const struct fusion *f = g->nnodes ? fusion_of(n) : NULL;
    int x = f && n->nin && n->in[0] >= 0 && l->slot_of[n->in[0]] >= 0 ? n->in[0] : -1, nread = 0;
    const struct call *made = x >= 0 ? maker(l->p, l->slot_of[x]) : NULL;
    const char *lost[MAX_ARGS], *name[128] = {NULL};
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

static void
lower_group(struct dynamo *d, struct group *g)
{
    struct lowering *l = d->l;
    struct arg args[MAX_ARGS];
    const char *target = renamed(d, g);
    const struct aten *op = recorded_row(target);
    int out = group_output(d, g), rank = -1, missing = 0, spare[MAX_ARGS], used = 0;
    const int64_t *size = NULL;
    if (makes_number(g->target))
        return; /* sizes */
    d->fed = unfuse(d, g);
    int n = parse_args(l, op, g->args, args);
    if (out >= 0)
        lower_sizes(l, &l->g->t[out], &rank, &size);
    for (int i = 0; i < n; i++)
        resolve_known(d, &args[i], &missing);
    if (missing && out >= 0 && merged(d, g, out))
        return;
    if (missing && d->fed < 0)
        doubt_fusion(d, g);
    size_params(d, g, op, args, n, rank, size);
    if (spelled(target, TRAINS)) {
        enum { STATISTICS = 3, TRAINING = 5, ALL = 8 };
        bool tracked = n > ALL - 2;
        if (n == ALL - 1) /* (input, weight, bias, mean, var, momentum, eps) */
            memmove(&args[TRAINING + 1], &args[TRAINING], sizeof(*args) * 2);
        if (n == ALL - 2) { /* (input, weight, bias, training, momentum, eps) */
            memmove(&args[TRAINING], &args[STATISTICS], sizeof(*args) * 3);
            args[STATISTICS] = args[STATISTICS + 1] = NONE;
        }
        args[TRAINING] = BOOL(!tracked || l->s->mode != MODE_INFERENCE);
        n = ALL;
        bool folded = node_call(&l->g->n[g->last]) != CALL_BATCH_NORM;
        if (folded && args[0].kind == ARG_SLOT && args[0].i < 0 && args[1].s) {
            int conv = lost_host(d, g, args[1].s);
            if (conv >= 0) {
                names_put(l->slots, args[0].s, conv);
                args[0].i = conv;
            }
        }
    }
    if (n == 1 && spelled(target, IS_COPY)) {
        const struct node *made = &l->g->n[g->last];
        args[n++] = BOOL(false);
        args[n++] = BOOL(made->nin > 0 && made->in[0] >= 0 && drops(d, g, made->in[0]));
    }
    int nspare = free_inputs(d, g, args, n, spare, MAX_ARGS);
    d->body_params = 0;
    for (int i = 0; i < n; i++)
        resolve_arg(d, g, &args[i], i, spare, nspare, &used);
    if (spelled(target, SUBTRACTS) && args[0].kind != ARG_SLOT && n > 1) { /* number - tensor: __rsub__ */
        struct arg number = args[0];
        args[0] = args[1];
        args[1] = number;
        target = "aten.rsub.Scalar";
        op = aten_find(target);
    }
    if (spelled(target, IS_SAME) && args[0].kind == ARG_SLOT) {
        define(d, g, out, (int)args[0].i);
        return;
    }
    if (!op)
        graph_doubt(l->g, l->g->n[g->last].name, g->target, NULL,
                    "no rule for this operator: only its result is counted");
    for (int i = 0; i < d->npacked && n > 2; i++)
        if (args[1].kind == ARG_SLOT && args[1].i == d->packed[i].weight && args[2].kind == ARG_SLOT)
            args[2].i = d->packed[i].bias;
    if (n > 0 && args[0].kind == ARG_SLOT)
        args[0].i = cast_by_fact(d, g, args, n, true, (int)args[0].i);
    const struct fact *norm = norm_of(g);
    if (norm)
        norm_input(d, g, norm->kind == FACT_NORM_TO_WEIGHT, args, n);
    add_lost_mask(d, g, args, n, rank, size);
    struct call *c = call_for(d, g, target, n);
    c->op = op;
    memcpy(c->args, args, sizeof(*args) * (size_t)n);
    c->rank = rank;
    c->size = size;
    c->in_place = in_place(d, g, out);
    g->call = l->p->ncalls - 1;
    int slot = norm ? norm_output(d, g, norm->kind, c) : c->outs[0];
    slot = cast_by_fact(d, g, args, n, false, slot);
    define(d, g, out, slot);
    define_items(d, g, &l->p->calls[g->call]);
}

/* Modules and functions that arrive in pieces although eager runs one operator. A function's pieces are those of its statement, from one target to another. */
static const struct whole {
    const char *type, *line;           /* class of the module, or what the innermost source line says */
    const char *first, *second, *last; /* what its pieces' targets begin with, NULL anything */
    const char *target, *source;
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
    {NULL, "interpolate(", "aten._unsafe_index", NULL, "aten._unsafe_index", "aten._upsample_nearest_exact2d.default",
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
    return w->type ? h->path && g->path && strcmp(h->path, g->path) == 0 : same_statement(d, g->last, h->last);
}

static const struct whole *
whole_of(const struct dynamo *d, const struct group *g)
{
    const struct group *next = g + 1 < d->groups + d->ngroups ? g + 1 : NULL;
    for (int i = 0; i < COUNT(wholes); i++) {
        const struct whole *w = &wholes[i];
        if (w->type ? !g->type || strcmp(g->type, w->type) != 0
                    : !strstr(source_line(d->l->a, d->l->g->n[g->last].stack), w->line))
            continue;
        if ((!w->first || starts_with(g->target, w->first)) &&
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
    int n = parse_args(d->l, NULL, g->args, args);
    for (int i = 0; i < n; i++)
        if (args[i].kind == ARG_SLOT && args[i].s && param_of(d, args[i].s))
            return true;
    return false;
}

static void
lower_whole(struct dynamo *d, int at, const struct whole *w)
{
    struct lowering *l = d->l;
    struct group *g = &d->groups[at], *last = g;
    int input = -1, weight = -1;
    struct arg own[MAX_ARGS] = {NONE}; /* the first piece's */
    bool ended = false;
    for (int i = at; i < d->ngroups; i++) {
        struct group *h = &d->groups[i];
        if (h->done || !same_origin(d, w, g, h) || h->last > last->last + 4 * (i - at + 2))
            continue;
        if (ended && !(starts_with(h->target, w->last) && names_param(d, h)))
            break;
        struct arg args[MAX_ARGS];
        int n = parse_args(l, NULL, h->args, args), missing = 0;
        for (int k = 0; k < n; k++) {
            resolve_known(d, &args[k], &missing);
            if (args[k].kind != ARG_SLOT)
                continue;
            struct param *q = args[k].s ? param_of(d, args[k].s) : NULL;
            if (q)
                weight = (int)(q - l->p->params);
            else if (i == at && input < 0)
                input = args[k].i >= 0 ? (int)args[k].i : -1;
        }
        if (i == at && input < 0) {
            int spare[4];
            int ns = free_inputs(d, h, args, n, spare, 4), used = 0;
            resolve_arg(d, h, &args[0], 0, spare, ns, &used);
            input = args[0].kind == ARG_SLOT ? (int)args[0].i : -1;
        }
        if (i == at)
            memcpy(own, args, sizeof(*args) * (size_t)n);
        h->done = true;
        last = h;
        ended |= w->last && (i > at || strcmp(w->first, w->last) == 0) && starts_with(h->target, w->last);
    }
    int out = group_output(d, last);
    const struct node *first = &l->g->n[g->nodes[0]];
    if (input < 0 || out < 0)
        return;
    struct call *c = call_for(d, last, w->target, 4);
    int shape = aten_arg(c->op, "normalized_shape"), gain = aten_arg(c->op, "weight"), dim = aten_arg(c->op, "dim"),
        keep = aten_arg(c->op, "keepdim");
    c->args[0] = (struct arg){.kind = ARG_SLOT, .i = input};
    for (int i = 1; i < c->nargs; i++)
        c->args[i] = NONE;
    lower_sizes(l, &l->g->t[out], &c->rank, &c->size);
    int64_t width = c->rank > 0 ? c->size[c->rank - 1] : 0;
    if (weight >= 0 && gain > 0) {
        struct param *q = &l->p->params[weight];
        sized(l, q, 1, &width);
        width = q->rank > 0 ? q->size[0] : width;
        c->args[gain] = (struct arg){.kind = ARG_SLOT, .i = q->slot};
    }
    if (shape > 0) {
        c->args[shape] = (struct arg){.kind = ARG_LIST, .n = 1, .list = NEWN(l->a, struct arg, 1)};
        c->args[shape].list[0] = INT(width);
    }
    if (dim > 0)
        c->args[dim] = own[1];
    if (keep > 0)
        c->args[keep] = BOOL(first->nin && first->in[0] >= 0 && c->rank == l->g->t[first->in[0]].rank);
    define(d, last, out, c->outs[0]);
}

/* A torch.autograd.Function, traced as its forward. */
static void
lower_function(struct dynamo *d, int at, const struct fact *f)
{
    struct lowering *l = d->l;
    struct group *g = &d->groups[at], *last = g;
    struct arg args[MAX_ARGS];
    int n = parse_args(l, NULL, g->args, args), missing = 0;
    for (int k = 0; k < n; k++)
        resolve_known(d, &args[k], &missing);
    for (int i = at; i < d->ngroups; i++)
        if (fact_of(&d->groups[i], f->kind) == f && strcmp(d->groups[i].path, g->path) == 0) {
            last = &d->groups[i];
            last->done = true;
        }
    int out = group_output(d, last);
    struct arg input = args[0].kind == ARG_SLOT ? args[0] : args[1];
    if (n < 1 || out < 0 || input.kind != ARG_SLOT || input.i < 0)
        return;
    struct call *c = call_for(d, last, f->arg, 1);
    c->args[0] = input;
    lower_sizes(l, &l->g->t[out], &c->rank, &c->size);
    define(d, last, out, c->outs[0]);
}

/* The parametrization arrives in pieces, but CUDA runs one operator where the norm keeps the first or the last dimension. Pieces before the
 * last make no call. */
static void
lower_weight_norm(struct dynamo *d, struct group *g)
{
    struct lowering *l = d->l;
    if (!spelled(g->target, MULTIPLIES))
        return;
    struct param *part[2] = {NULL, NULL}; /* original0 the norms, original1 the direction */
    for (int i = 0; i < l->p->nparams; i++)
        for (int k = 0; k < 2; k++)
            if (strncmp(l->p->params[i].name, g->path, strlen(g->path) - 2) == 0 &&
                ends_with(l->p->params[i].name, k ? ".original1" : ".original0"))
                part[k] = &l->p->params[i];
    int out = group_output(d, g);
    if (!part[0] || !part[1] || out < 0)
        return;
    struct call *c = call_for(d, g, "aten._weight_norm_interface.default", 2);
    c->args[0] = (struct arg){.kind = ARG_SLOT, .i = part[1]->slot};
    c->args[1] = (struct arg){.kind = ARG_SLOT, .i = part[0]->slot};
    define(d, g, out, c->outs[0]);
}

/* split and chunk lose their text. */
static struct call *
split_call(struct lowering *l, const struct node *n, int slot, int64_t axis)
{
    struct call *c = lower_call(l, "aten.split_with_sizes.default", 3);
    c->target = "aten.split.Tensor";
    c->name = n->name;
    c->node = n->name;
    c->scope = lower_module(l, "", NULL);
    c->args[0] = (struct arg){.kind = ARG_SLOT, .i = slot};
    c->args[1] = (struct arg){.kind = ARG_LIST, .n = n->nout, .list = NEWN(l->a, struct arg, n->nout)};
    c->args[2] = INT(axis);
    c->nouts = n->nout;
    c->outs = NEWN(l->a, int, n->nout);
    for (int i = 0; i < n->nout; i++)
        c->outs[i] = lower_slot(l);
    return c;
}

/* Attention on two tensors splits its packed projection, weight and bias. The biases' split may be another module's, merged: each weight
 * remembers its own. */
static void
split_projection(struct dynamo *d, const struct node *n, const struct param *weight, const struct call *split)
{
    struct lowering *l = d->l;
    size_t stem = strlen(weight->name) - strlen("weight");
    struct param *bias = param_called(d, arena_printf(l->a, "%.*sbias", (int)stem, weight->name));
    struct arg sizes = split->args[1];
    const int *outs = split->outs;
    if (!bias || weight->rank != 2)
        return;
    sized(l, bias, 1, weight->size);
    d->referenced[bias - l->p->params] = true;
    struct call *c = split_call(l, n, bias->slot, 0);
    c->args[1] = sizes;
    for (int i = 0; i < n->nout; i++)
        *PUSH(l->a, d->packed, d->npacked, d->cap_packed) = (struct packed){outs[i], c->outs[i]};
}

static void
lower_split(struct dynamo *d, int at)
{
    struct lowering *l = d->l;
    const struct node *n = &l->g->n[at];
    if (n->nin < 1 || n->nout < 1 || n->in[0] < 0)
        return;
    const struct tensor *from = &l->g->t[n->in[0]];
    struct param *q = from->is_initializer ? param_called(d, from->name) : NULL;
    if (q && ends_with(q->name, "in_proj_bias")) {
        for (int i = 0; i < n->nout && n->nout <= d->npacked; i++)
            if (n->out[i] >= 0)
                l->slot_of[n->out[i]] = d->packed[d->npacked - n->nout + i].bias;
        return;
    }
    if (q && q->rank > 0) {
        l->slot_of[n->in[0]] = q->slot;
        d->referenced[q - l->p->params] = true;
    }
    if (l->slot_of[n->in[0]] < 0 && from->is_initializer && strncmp(from->name, "val_", 4) != 0) {
        struct group here = {.last = at, .path = "", .call = -1};
        l->slot_of[n->in[0]] = lost_constant(d, &here, from->name, n->in[0]);
    }
    if (l->slot_of[n->in[0]] < 0)
        return;
    int64_t axis = node_int(n, "axis", 0);
    struct call *c = split_call(l, n, l->slot_of[n->in[0]], axis);
    for (int i = 0; i < n->nout; i++) {
        if (n->out[i] < 0)
            continue;
        const struct tensor *t = &l->g->t[n->out[i]];
        int dim = (int)(axis < 0 ? axis + t->rank : axis);
        c->args[1].list[i] = INT(dim >= 0 && dim < t->rank ? t->dims[dim].n : 0);
        l->slot_of[n->out[i]] = c->outs[i];
        names_put(l->slots, t->name, c->outs[i]);
    }
    if (q && ends_with(q->name, "in_proj_weight")) {
        split_projection(d, n, q, c);
        return;
    }
    for (int i = l->p->ncalls - 2; i >= 0; i--) /* it ran where its input was made */
        for (int k = 0; k < l->p->calls[i].nouts; k++)
            if (l->p->calls[i].outs[k] == c->args[0].i) {
                c->scope =
                    l->p->modules[l->p->calls[i].scope].parent >= 0 ? l->p->modules[l->p->calls[i].scope].parent : 0;
                c->location = l->p->calls[i].location;
                return;
            }
}

/* ---- parameters that no call names --------------------------------------------------------------------------------------------------------------------- */

/* Rows of the first parameter with that ending. */
static int64_t
rows_of(const struct program *p, const char *end)
{
    for (int i = 0; i < p->nparams; i++)
        if (ends_with(p->params[i].name, end) && p->params[i].rank > 0)
            return p->params[i].size[0];
    return -1;
}

/* "int64 1 @wpe.weight" */
static bool
read_size(struct lowering *l, const char *text, struct param *q)
{
    int64_t size[4];
    int n = 0;
    size_t len = strcspn(text, " ");
    enum dtype t = dtype_by_onnx(arena_strn(l->a, text, len));
    for (const char *p = text + len; *p && n < COUNT(size); p += len) {
        p++;
        len = strcspn(p, " ");
        size[n] = *p == '@' ? rows_of(l->p, arena_strn(l->a, p + 1, len - 1)) : atoll(p);
        if (size[n++] < 0)
            return false;
    }
    sized(l, q, n, size);
    q->dtype = t;
    return true;
}

static bool
size_by_fact(struct lowering *l, struct param *q)
{
    const struct place at = {.type = l->p->modules[q->module].type, .path = q->name};
    for (const struct fact *f = NULL; q->rank < 0 && (f = fact_next(f, 1u << FACT_SIZE, &at));)
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

/* The parameter under whose name a nameless one is read: the same last name in the nearest module above or below (a head's bias and its
 * decoder's); for a weight that is named as a table the one that an embedding reads, or the head nearer to it. */
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
    if (best >= 0)
        return best;
    static const char *const tables[] = {"emb",     "tok",       "wte", "shared", "head",
                                         "decoder", "generator", "out", "lm",     "vocab"};
    static const char *const heads[] = {"head.weight", "decoder.weight", "generator.weight"};
    bool is_table = false;
    for (int i = 0; i < COUNT(tables); i++)
        is_table |= ends_with(name, "weight") && strstr(name, tables[i]);
    if (!is_table)
        return -1;
    for (int i = 0; i < p->nparams; i++)
        for (int k = 0; k < COUNT(heads); k++)
            if (d->referenced[i] && p->params[i].rank == 2 && ends_with(p->params[i].name, heads[k]) &&
                common_modules(name, p->params[i].name) > (table < 0 ? 0 : common_modules(name, p->params[table].name)))
                table = i;
    return table;
}

/* A parameter that nothing names and that has no data is another name of one that has, or what a library's source says. */
static void
tie_params(struct dynamo *d)
{
    struct lowering *l = d->l;
    struct program *p = l->p;
    int table = -1;
    for (int i = 0; i < p->ncalls && table < 0; i++)
        if (p->calls[i].op && spelled(p->calls[i].op->name, LOOKS_UP))
            for (int k = 0; k < p->nparams; k++)
                if (p->params[k].slot == p->calls[i].args[0].i)
                    table = k;
    for (int i = 0; i < p->nparams; i++) {
        struct param *q = &p->params[i];
        if (q->rank >= 0 || size_by_fact(l, q) || (q->kind == PARAM_CONSTANT && !d->referenced[i]))
            continue;
        int other = q->kind <= PARAM_FROZEN && !d->referenced[i] ? tied_to(d, i, table) : -1;
        if (other >= 0) {
            struct param *from = &p->params[other];
            q->slot = from->slot;
            if (from->tied_to >= 0 || other < i) {
                q->tied_to = from->tied_to >= 0 ? from->tied_to : other;
            } else { /* the name that comes first is the parameter's */
                sized(l, q, from->rank, from->size);
                q->dtype = from->dtype;
                from->tied_to = i;
            }
        } else {
            graph_doubt(l->g, q->name, q->kind == PARAM_BUFFER ? "buffer" : "parameter", NULL,
                        "the file names it but has neither its data nor a call that reads it: its size is unknown and "
                        "not counted");
        }
    }
}

static void
freeze_by_fact(struct dynamo *d)
{
    struct program *p = d->l->p;
    for (int i = 0; i < p->nparams; i++) {
        struct place at = {.path = p->params[i].name};
        look_around(d->l, p->modules[p->params[i].module].path, at.around);
        if (p->params[i].kind == PARAM_TRAINED && fact_next(NULL, 1u << FACT_FROZEN, &at))
            p->params[i].kind = PARAM_FROZEN;
    }
}

/* A clone that was the model's last call: the signature still names it. */
static void
lower_lost_outputs(struct dynamo *d)
{
    struct lowering *l = d->l;
    const char *outputs = strstr(l->g->signature, "# outputs"), *p = outputs ? outputs : "";
    for (int i = 0; i < l->g->nout && (p = strchr(p, '\n')); i++) {
        const char *name = arena_strn(l->a, p + 1, strcspn(p + 1, ":\n"));
        int out = l->g->out[i], from = l->g->t[out].producer, at = from < 0 ? -1 : d->group_of[from];
        p++;
        if (!spelled(name, COPIES) || at < 0 || l->slot_of[out] < 0 || strcmp(d->groups[at].fx_name, name) == 0)
            continue;
        int slot = lost_clone(d, &d->groups[at], out);
        struct call *c = &l->p->calls[l->p->ncalls - 1];
        lower_sizes(l, &l->g->t[out], &c->rank, &c->size);
        l->slot_of[out] = slot;
    }
}

static void
lower_dynamo(struct lowering *l)
{
    struct dynamo d = {.l = l, .params = names_new(l->a), .norm = {-1, -1, -1}};
    read_signature(&d);
    make_groups(&d);
    freeze_by_fact(&d);
    for (int i = 0; i < l->g->nn; i++) {
        int at = d.group_of[i];
        if (at < 0) {
            if (l->g->n[i].made)
                lower_made(l, i);
            else if (node_call(&l->g->n[i]) == CALL_SPLIT)
                lower_split(&d, i);
            continue;
        }
        struct group *g = &d.groups[at];
        if (g->last != i || g->done)
            continue;
        const struct whole *w = whole_of(&d, g);
        const struct fact *function;
        d.fed = -1;
        if (w)
            lower_whole(&d, at, w);
        else if (fact_of(g, FACT_WEIGHT_NORM))
            lower_weight_norm(&d, g);
        else if ((function = fact_of(g, FACT_ONE_OPERATOR)))
            lower_function(&d, at, function);
        else
            lower_group(&d, g);
        g->done = true;
    }
    lower_lost_outputs(&d);
    tie_params(&d);
}

/* Whether the exporter computed the data: it fuses batch norms into convolutions in float, whatever the model's type. */
static bool
is_fused(const struct graph *g, int tensor)
{
    for (int i = 0; i < g->t[tensor].nusers; i++) {
        const char *rules = g->n[g->t[tensor].users[i]].rules;
        if (rules && strstr(rules, "FuseBatchNorm"))
            return true;
    }
    return false;
}

/* Parameters whose own data the file lacks are of the type that most others are of, or the first input that has numbers. */
static void
type_params(struct graph *g, struct program *p)
{
    int count[DT_COUNT] = {0};
    enum dtype most = DT_FLOAT;
    for (int i = p->ninputs - 1; i >= 0; i--)
        most = dtypes[p->inputs[i].dtype].is_float ? p->inputs[i].dtype : most;
    for (int i = 0; i < p->nparams; i++) {
        struct param *q = &p->params[i];
        int own = graph_find(g, q->name);
        if (own >= 0 && is_fused(g, own))
            q->dtype = DT_UNDEFINED;
        else if (own >= 0 && dtypes[q->dtype].is_float && ++count[q->dtype] > count[most])
            most = q->dtype;
    }
    for (int i = 0; i < p->nparams; i++) {
        struct param *q = &p->params[i];
        bool wider = dtypes[q->dtype].is_float && dtypes[q->dtype].bits > dtypes[most].bits;
        if (q->dtype == DT_UNDEFINED)
            q->dtype = most;
        else if (!g->signature && wider && q->rank == 2 && graph_find(g, q->name) < 0) /* of a linear layer */
            graph_doubt(g, q->name, "parameter", NULL,
                        "the exporter computed its data in a wider type than the model's, where PyTorch computes in "
                        "the model's type: an export with dynamo=True, or in float with --precision, is exact");
    }
}

/* Operators that no row knows, in a file whose others PyTorch's exporter recorded. */
static void
doubt_unrecorded(struct graph *g)
{
    for (int i = 0; i < g->nn; i++) {
        const struct node *n = &g->n[i];
        if (!n->row && !n->fx && !n->made)
            graph_doubt(g, n->name, n->op, NULL, "the operator is not known, and the exporter recorded nothing of it");
    }
}

struct program *
lower_run(struct graph *g, const struct setup *s)
{
    struct lowering *l = lowering_new(g, s);
    lower_module(l, "", NULL);
    lower_inputs(l);
    if (g->signature) {
        lower_dynamo(l);
        doubt_unrecorded(g);
    } else {
        lower_patterns(l);
    }
    lower_outputs(l);
    type_params(g, l->p);
    if (g->leading)
        program_assume(l->p, ALTERNATIVE_NONE, "the batch is %s, the only leading dimension of an input that is open",
                       g->leading);
    for (int i = 0; i < l->p->ncalls; i++)
        if (l->p->calls[i].op && l->p->calls[i].op->assumes && setup_assumes(s, l->p->calls[i].op->alternative))
            program_assume(l->p, l->p->calls[i].op->alternative, "%s", l->p->calls[i].op->assumes);
    return l->p;
}
