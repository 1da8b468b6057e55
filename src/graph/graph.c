/* SPDX-License-Identifier: Apache-2.0 */
/* graph.c - names, function inlining, order, users.
 *
 * The border (load.c, text.c) makes graphs node by node: graph_new, graph_tensor, graph_node. graph_finish then makes
 * one of them fit for the passes:
 *
 *   inline    each call of a model-local function is replaced by a copy of its body. Values inside are called
 *             CALL/NAME; attributes that refer to the call's are resolved; subgraphs are copied along. A function that
 *             reaches itself, calls too deep and too many nodes in all (limits.c) are refused.
 *   rows      each node gets its row of the operator table. In a function the function's own opset counts.
 *   capture   a value of a subgraph that nothing in it defines is the enclosing graph's of that name: .outer.
 *   order     nodes sorted topologically, by depth first search with a stack of its own; file order is kept where
 *             it is one already. What a node's subgraphs capture counts as its input.
 *   users     who reads each value.
 *   signature in one spelling, whatever version of PyTorch wrote it.
 *
 * Subgraphs are finished from outside in. Recursion follows their nesting only, which scan.c has limited.
 */
#include "graph/graph.h"

#include <assert.h>
#include <limits.h>
#include <string.h>

struct graph *
graph_new(struct arena *a, struct graph *parent)
{
    struct graph *g = NEW(a, struct graph);
    g->arena = a;
    g->by_name = names_new(a);
    g->parent = parent;
    if (parent) {
        g->file = parent->file;
        g->opset = parent->opset;
        g->ir_version = parent->ir_version;
    }
    return g;
}

int
graph_find(const struct graph *g, const char *name)
{
    return names_find(g->by_name, name);
}

void
graph_import(struct graph *g, const char *domain)
{
    if (strncmp(domain, "pkg.torch.", strlen("pkg.torch.")) == 0)
        g->packaged = domain;
    /* Source: Model::Model in onnxruntime/core/graph/model.cc. */
    g->runtime |= strcmp(domain, "com.microsoft.nchwc") == 0;
}

int
graph_torch(const struct graph *g)
{
    int major = 0, minor = 0;
    const char *captured = graph_metadata(g, "memlint.torch"), *version = captured;
    if (!captured && g->producer && strcmp(g->producer, "pytorch") == 0)
        version = g->producer_version;
    return version && sscanf(version, "%2d.%2d", &major, &minor) == 2 ? 100 * major + minor : 0;
}

int
graph_tensor(struct graph *g, const char *name)
{
    int *id = names_id(g->by_name, name);
    if (*id >= 0)
        return *id;
    *id = g->nt;
    struct tensor *t = PUSH(g->arena, g->t, g->nt, g->cap_t);
    t->name = name;
    t->wrap = "";
    t->rank = t->declared_rank = t->producer = -1;
    return *id;
}

struct node *
graph_node(struct graph *g)
{
    struct node *n = PUSH(g->arena, g->n, g->nn, g->cap_n);
    n->op = n->domain = n->overload = n->name = "";
    return n;
}

struct graph
graph_apart(const struct graph *g, struct arena *a)
{
    struct graph own = *g;
    own.arena = a;
    own.parent = NULL;
    own.doubts = NULL;
    own.ndoubts = own.cap_doubts = 0;
    return own;
}

struct doubt *
graph_doubt(struct graph *g, const char *node, const char *op, const char *remedy, const char *fmt, ...)
{
    while (g->parent)
        g = g->parent;
    char text[512];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    struct doubt *d = PUSH(g->arena, g->doubts, g->ndoubts, g->cap_doubts);
    *d = (struct doubt){.node = node, .op = op, .why = arena_str(g->arena, text), .remedy = remedy};
    return d;
}

void
graph_describe(struct graph *g, const char *key, const char *value)
{
    static const char own[] = "memlint.";
    if (strncmp(key, own, strlen(own)) == 0)
        *PUSH(g->arena, g->metadata, g->nmetadata, g->cap_metadata) = (struct metadata){key, value};
}

const char *
graph_metadata(const struct graph *g, const char *key)
{
    for (int i = 0; i < g->nmetadata; i++)
        if (strcmp(g->metadata[i].key, key) == 0)
            return g->metadata[i].value;
    return NULL;
}

const struct attr *
node_attr(const struct node *n, const char *name)
{
    for (int i = 0; i < n->nattr; i++)
        if (strcmp(n->attr[i].name, name) == 0)
            return &n->attr[i];
    return NULL;
}

int64_t
node_int(const struct node *n, const char *name, int64_t otherwise)
{
    const struct attr *a = node_attr(n, name);
    return a && a->type == ATTR_INT ? a->i : otherwise;
}

double
node_float(const struct node *n, const char *name, double otherwise)
{
    const struct attr *a = node_attr(n, name);
    return a && a->type == ATTR_FLOAT ? a->f : otherwise;
}

const char *
node_str(const struct node *n, const char *name, const char *otherwise)
{
    const struct attr *a = node_attr(n, name);
    return a && a->type == ATTR_STRING && a->s ? a->s : otherwise;
}

int64_t
tensor_elements(const struct tensor *t)
{
    int64_t n = 1;
    bool zero = false;
    if (t->rank < 0)
        return -1;
    for (int i = 0; i < t->rank; i++) {
        if (t->dims[i].n < 0)
            return -1;
        zero |= t->dims[i].n == 0;
    }
    for (int i = 0; i < t->rank && !zero; i++)
        if (!mul_ok(n, t->dims[i].n, &n))
            return -1;
    return zero ? 0 : n;
}

/* ---- inlining ---------------------------------------------------------------------------------------------------- */

struct inliner {
    struct graph *root;
    struct err *e;
    struct names *functions; /* "domain\nname\noverload" */
    int64_t nodes;
};

/* Where a copied subgraph looks up what it captures: the graphs it is copied out of, innermost first. */
struct origin {
    const struct graph *from;
    const int *map; /* of a function body: its tensors in `to`; NULL for a graph whose names stay */
    struct graph *to;
    const struct origin *up;
};

static bool
defined_here(const struct tensor *t)
{
    return t->producer >= 0 || t->is_input || t->is_initializer;
}

static const char *
captured_name(const struct origin *o, const char *name)
{
    for (; o; o = o->up) {
        int id = graph_find(o->from, name);
        if (o->map)
            return id < 0 ? name : o->map[id] < 0 ? "" : o->to->t[o->map[id]].name;
        if (id >= 0 && defined_here(&o->from->t[id]))
            return name;
    }
    return name;
}

static struct graph *copy_graph(struct arena *a, const struct graph *from, struct graph *parent,
                                const struct node *call, const struct function *f, const struct origin *up);

static const struct node no_call;
static const struct function no_function;

/* Copies n's attributes, with references to attributes of call resolved. */
static void
copy_attrs(struct arena *a, struct node *n, struct graph *to, const struct node *call, const struct function *f,
           const struct origin *o)
{
    struct attr *copy = NEWN(a, struct attr, n->nattr);
    int kept = 0;
    for (int i = 0; i < n->nattr; i++) {
        struct attr attr = n->attr[i];
        if (attr.ref) {
            const struct attr *given = node_attr(call, attr.ref);
            for (int k = 0; k < f->nattr && !given; k++)
                if (strcmp(f->attr[k].name, attr.ref) == 0 && f->attr[k].type != ATTR_NONE)
                    given = &f->attr[k];
            if (!given)
                continue;
            const char *name = attr.name;
            attr = *given;
            attr.name = name;
            if (attr.g) /* what it refers to was resolved where it was written: what is left could be to itself */
                attr.g = copy_graph(a, attr.g, to, &no_call, &no_function, NULL);
        } else if (attr.g) {
            attr.g = copy_graph(a, attr.g, to, call, f, o);
        }
        copy[kept++] = attr;
    }
    n->attr = copy;
    n->nattr = kept;
}

static int *
map_ids(struct arena *a, const int *ids, int n, const int *map)
{
    int *out = NEWN(a, int, n);
    for (int i = 0; i < n; i++)
        out[i] = ids[i] < 0 ? -1 : map[ids[i]];
    return out;
}

static struct graph *
copy_graph(struct arena *a, const struct graph *from, struct graph *parent, const struct node *call,
           const struct function *f, const struct origin *up)
{
    struct graph *g = graph_new(a, parent);
    struct origin here = {from, NULL, g, up};
    int *map = NEWN(a, int, from->nt);
    g->opset = from->opset;
    g->name = from->name;
    for (int i = 0; i < from->nt; i++) {
        const struct tensor *t = &from->t[i];
        map[i] = graph_tensor(g, defined_here(t) ? t->name : captured_name(up, t->name));
        struct tensor copy = *t;
        copy.name = g->t[map[i]].name;
        g->t[map[i]] = copy;
    }
    for (int i = 0; i < from->nn; i++) {
        struct node *n = graph_node(g);
        *n = from->n[i];
        n->in = map_ids(a, n->in, n->nin, map);
        n->out = map_ids(a, n->out, n->nout, map);
        copy_attrs(a, n, g, call, f, &here);
    }
    g->nin = from->nin;
    g->nout = from->nout;
    g->in = map_ids(a, from->in, from->nin, map);
    g->out = map_ids(a, from->out, from->nout, map);
    return g;
}

static bool inline_graph(struct inliner *l, struct graph *g, int depth);

static const char *
call_name(const struct graph *g, const struct node *n)
{
    if (*n->name)
        return n->name;
    return n->nout && n->out[0] >= 0 ? g->t[n->out[0]].name : n->op;
}

static const char *
function_key(struct arena *a, const char *domain, const char *name, const char *overload)
{
    return arena_printf(a, "%s\n%s\n%s", domain, name, overload);
}

static int
fresh_tensor(struct graph *g, const char *prefix, const char *name)
{
    char *full = arena_printf(g->arena, "%s/%s", prefix, name);
    for (int k = g->nt; graph_find(g, full) >= 0; k++) /* a number not used yet, unless the file plays tricks */
        full = arena_printf(g->arena, "%s/%s#%d", prefix, name, k);
    return graph_tensor(g, full);
}

int
graph_fresh(struct graph *g, const char *prefix, const struct tensor *t)
{
    int id = fresh_tensor(g, prefix, t->name);
    struct tensor copy = *t;
    copy.name = g->t[id].name;
    copy.is_input = copy.is_output = false;
    copy.producer = -1;
    g->t[id] = copy;
    return id;
}

struct node
graph_copy_node(struct graph *g, const struct graph *body, const struct node *from, const int *map)
{
    struct origin here = {body, map, g, NULL};
    struct node n = *from;
    n.in = map_ids(g->arena, n.in, n.nin, map);
    n.out = map_ids(g->arena, n.out, n.nout, map);
    copy_attrs(g->arena, &n, g, from, &no_function, &here);
    return n;
}

/* Appends n, whose ids are g's, to g: itself, or in its place the body of the function that it calls. */
static bool
inline_node(struct inliner *l, struct graph *g, const struct node *call, int depth)
{
    struct arena *a = g->arena;
    for (int i = 0; i < call->nattr; i++)
        if (call->attr[i].g && !inline_graph(l, call->attr[i].g, depth))
            return false;
    if (++l->nodes > limit(LIMIT_INLINED))
        return err_limit(l->e, a, call->name, LIMIT_INLINED, "too many nodes with functions inlined");
    int id = names_find(l->functions, function_key(a, call->domain, call->op, call->overload));
    if (id < 0) {
        *graph_node(g) = *call;
        return true;
    }
    struct function *f = &l->root->f[id];
    struct graph *body = f->body;
    if (f->active)
        return err_set(l->e, a, f->name, "the function calls itself: recursion");
    if (depth == MAX_CALLS)
        return err_limit(l->e, a, f->name, LIMIT_CALLS, "functions call each other too deeply");
    f->active = true;

    const char *prefix = call_name(g, call);
    int *map = NEWN(a, int, body->nt);
    for (int i = 0; i < body->nt; i++)
        map[i] = INT_MIN;
    for (int i = 0; i < body->nin; i++)
        map[body->in[i]] = i < call->nin ? call->in[i] : -1;
    for (int i = 0; i < body->nout && i < call->nout; i++) {
        int *to = &map[body->out[i]];
        if (call->out[i] < 0)
            continue;
        if (*to == INT_MIN) {
            *to = call->out[i];
            continue;
        }
        struct node *same = graph_node(g); /* an input, or another output, handed through */
        same->op = "Identity";
        same->name = prefix;
        same->nin = same->nout = 1;
        same->in = arena_dup(a, to, sizeof(*to));
        same->out = arena_dup(a, &call->out[i], sizeof(*to));
    }
    for (int i = 0; i < body->nt; i++) {
        const struct tensor *t = &body->t[i];
        if (map[i] == INT_MIN)
            map[i] = graph_fresh(g, prefix, t);
        else if (map[i] >= 0 && !g->t[map[i]].dtype) {
            g->t[map[i]].dtype = t->dtype;
            g->t[map[i]].wrap = t->wrap;
        }
    }
    struct origin here = {body, map, g, NULL};
    for (int i = 0; i < body->nn; i++) {
        struct node n = body->n[i];
        n.in = map_ids(a, n.in, n.nin, map);
        n.out = map_ids(a, n.out, n.nout, map);
        n.name = arena_printf(a, "%s/%s", prefix, *n.name ? n.name : n.op);
        if (!n.fx && !n.scopes && !n.stack) {
            n.fx = call->fx;
            n.scopes = call->scopes;
            n.classes = call->classes;
            n.stack = call->stack;
            n.rules = call->rules;
        }
        copy_attrs(a, &n, g, call, f, &here);
        if (!inline_node(l, g, &n, depth + 1))
            return false;
    }
    f->active = false;
    return true;
}

static bool
inline_graph(struct inliner *l, struct graph *g, int depth)
{
    struct node *old = g->n;
    int n = g->nn;
    g->n = NULL;
    g->nn = g->cap_n = 0;
    for (int i = 0; i < n; i++)
        if (!inline_node(l, g, &old[i], depth))
            return false;
    return true;
}

static bool
inline_functions(struct graph *g, struct err *e)
{
    struct inliner l = {g, e, names_new(g->arena), 0};
    for (int i = 0; i < g->nf; i++) {
        const struct function *f = &g->f[i];
        const char *key = function_key(g->arena, f->domain, f->name, f->overload);
        if (names_find(l.functions, key) >= 0)
            return err_set(e, g->arena, f->name, "the function is defined twice");
        names_put(l.functions, key, i);
    }
    return inline_graph(&l, g, 0);
}

/* ---- order ------------------------------------------------------------------------------------------------------- */

static const char slices[] = ".slice(";

/* Letters of ".slice(None, 2, None)", which begins with the list's first module and leaves none out; 0 it is no such
 * slice. */
static size_t
from_first(const char *text)
{
    static const char *const firsts[] = {"None, ", "0, "}, *const steps[] = {", None)", ", 1)"};
    const char *first = text + strlen(slices);
    for (int i = 0; i < COUNT(firsts) && strncmp(text, slices, strlen(slices)) == 0; i++)
        for (int k = 0; k < COUNT(steps) && strncmp(first, firsts[i], strlen(firsts[i])) == 0; k++) {
            const char *end = first + strlen(firsts[i]);
            end += strcspn(end, ",)");
            if (strncmp(end, steps[k], strlen(steps[k])) == 0)
                return (size_t)(end - text) + strlen(steps[k]);
        }
    return 0;
}

/* "layers.slice(None, 2, None).0" of "self.layers[:2]" is layers.0: such a slice numbers its modules as the list does.
 * Source: ModuleList.__getitem__ in torch/nn/modules/container.py. */
static const char *
without_slices(struct arena *a, const char *scopes)
{
    const char *p = scopes ? strstr(scopes, slices) : NULL;
    if (!p)
        return scopes;
    char *text = arena_dup(a, scopes, strlen(scopes) + 1), *to = text + (p - scopes);
    while (*p) {
        const size_t n = from_first(p);
        if (n)
            p += n;
        else
            *to++ = *p++;
    }
    *to = '\0';
    return text;
}

/* Where a model returns its input, PyTorch writes the input's identity under its own name, which is dropped. */
static void
fill_rows(struct graph *g)
{
    int kept = 0;
    for (int i = 0; i < g->nn; i++) {
        struct node *n = &g->n[i];
        if (!n->row)
            n->row = op_find(n->domain, n->op, *n->domain ? INT_MAX : g->opset);
        n->scopes = without_slices(g->arena, n->scopes);
        for (int k = 0; k < n->nattr; k++)
            if (n->attr[k].g)
                fill_rows(n->attr[k].g);
        if (node_call(n) != CALL_IDENTITY || n->nin != 1 || n->nout != 1 || n->in[0] != n->out[0])
            g->n[kept++] = *n;
    }
    g->nn = kept;
}

static bool
fill_producers(struct graph *g, struct err *e)
{
    for (int i = 0; i < g->nt; i++)
        g->t[i].producer = -1;
    for (int i = 0; i < g->nn; i++)
        for (int k = 0; k < g->n[i].nout; k++) {
            int id = g->n[i].out[k];
            if (id < 0)
                continue;
            struct tensor *t = &g->t[id];
            if (t->producer >= 0 || t->is_input || t->is_initializer)
                return err_set(e, g->arena, call_name(g, &g->n[i]), "value %s is defined twice", t->name);
            t->producer = i;
        }
    return true;
}

/* The tensors of g that a node reads, with those that its subgraphs capture; lists are reused from node to node. */
struct reads {
    struct arena *a;
    int n, cap, *id;
    int *seen, stamp; /* by tensor of g: the stamp of the node that was last found to read it */
};

static void
add_read(struct reads *r, int id)
{
    if (r->seen[id] == r->stamp)
        return;
    r->seen[id] = r->stamp;
    *PUSH(r->a, r->id, r->n, r->cap) = id;
}

static void
add_captures(struct graph *g, struct reads *r, const struct graph *sub)
{
    for (int i = 0; i < sub->nt; i++) {
        const struct tensor *t = &sub->t[i];
        if (defined_here(t) || !*t->name)
            continue;
        const struct graph *up = sub->parent;
        int id = -1;
        for (; up != g; up = up->parent)
            if ((id = graph_find(up, t->name)) >= 0 && defined_here(&up->t[id]))
                break;
        if (up == g && (id = graph_find(g, t->name)) >= 0)
            add_read(r, id);
    }
    for (int i = 0; i < sub->nn; i++)
        for (int k = 0; k < sub->n[i].nattr; k++)
            if (sub->n[i].attr[k].g)
                add_captures(g, r, sub->n[i].attr[k].g);
}

static void
find_reads(struct graph *g, struct reads *r, const struct node *n)
{
    r->n = 0;
    r->stamp++;
    for (int k = 0; k < n->nin; k++)
        if (n->in[k] >= 0)
            add_read(r, n->in[k]);
    for (int k = 0; k < n->nattr; k++)
        if (n->attr[k].g)
            add_captures(g, r, n->attr[k].g);
}

/* Counted first, so that no list takes more than it needs. */
static void
fill_users(struct graph *g)
{
    struct arena *own = arena_new();
    struct reads r = {.a = own, .seen = NEWN(own, int, g->nt)};
    int *end = NEWN(own, int, g->nn + 1), *read = NULL, n = 0, cap = 0;
    for (int i = 0; i < g->nt; i++)
        g->t[i].nusers = 0;
    for (int i = 0; i < g->nn; i++) {
        find_reads(g, &r, &g->n[i]);
        for (int k = 0; k < r.n; k++) {
            *PUSH(own, read, n, cap) = r.id[k];
            g->t[r.id[k]].nusers++;
        }
        end[i] = n;
    }
    int *users = NEWN(g->arena, int, n + 1);
    for (int i = 0; i < g->nt; i++) {
        g->t[i].users = users;
        users += g->t[i].nusers;
        g->t[i].nusers = 0;
    }
    for (int i = 0, k = 0; i < g->nn; i++)
        for (; k < end[i]; k++) {
            struct tensor *t = &g->t[read[k]];
            t->users[t->nusers++] = i;
        }
    arena_free(own);
}

/* Whether each value is made before it is read. */
static bool
in_order(const struct graph *g)
{
    bool ordered = true;
    for (int i = 0; i < g->nt && ordered; i++)
        ordered = g->t[i].nusers == 0 || g->t[i].users[0] > g->t[i].producer;
    return ordered;
}

/* Depth first from each node in file order: a node follows what it reads. */
static bool
sort_nodes(struct graph *g, struct err *e)
{
    struct arena *a = g->arena;
    struct reads r = {.a = a, .seen = NEWN(a, int, g->nt)};
    int *first = NEWN(a, int, g->nn + 1), *edge = NULL, nedges = 0, cap = 0;
    for (int i = 0; i < g->nn; i++) {
        first[i] = nedges;
        find_reads(g, &r, &g->n[i]);
        for (int k = 0; k < r.n; k++) {
            int from = g->t[r.id[k]].producer;
            if (from >= 0)
                *PUSH(a, edge, nedges, cap) = from;
        }
    }
    first[g->nn] = nedges;
    if (!edge)
        return true;

    enum { NEW_NODE, OPEN, DONE };
    char *state = NEWN(a, char, g->nn);
    int *next = arena_dup(a, first, sizeof(*first) * (size_t)g->nn);
    int *stack = NEWN(a, int, g->nn), *order = NEWN(a, int, g->nn), norder = 0;
    for (int i = 0; i < g->nn; i++) {
        int depth = 0;
        if (state[i] == NEW_NODE)
            stack[depth++] = i;
        while (depth) {
            int at = stack[depth - 1];
            state[at] = OPEN;
            while (next[at] < first[at + 1] && state[edge[next[at]]] == DONE)
                next[at]++;
            if (next[at] == first[at + 1]) {
                state[at] = DONE;
                order[norder++] = at;
                depth--;
            } else if (state[edge[next[at]]] == OPEN) {
                return err_set(e, a, call_name(g, &g->n[at]), "the graph has a cycle through this node");
            } else {
                stack[depth++] = edge[next[at]];
            }
        }
    }
    struct node *nodes = NEWN(a, struct node, g->nn);
    for (int i = 0; i < g->nn; i++)
        nodes[i] = g->n[order[i]];
    g->n = nodes;
    g->cap_n = g->nn;
    return fill_producers(g, e);
}

static const struct tensor *
enclosing(const struct graph *g, const char *name)
{
    for (; g; g = g->parent) {
        int id = graph_find(g, name);
        if (id >= 0 && (defined_here(&g->t[id]) || !g->parent))
            return &g->t[id];
    }
    return NULL;
}

/* Only of t's that no more are added to: pointers into g->t are taken. */
static bool
finish(struct graph *g, struct err *e)
{
    if (!fill_producers(g, e))
        return false;
    for (int i = 0; i < g->nt; i++) {
        struct tensor *t = &g->t[i];
        if (defined_here(t))
            continue;
        t->outer = enclosing(g->parent, t->name);
        if (!t->outer)
            graph_doubt(g, t->name, NULL, NULL, "value %s is used, but nothing defines it", t->name);
    }
    for (int i = 0; i < g->nn; i++)
        for (int k = 0; k < g->n[i].nattr; k++)
            if (g->n[i].attr[k].g) {
                g->n[i].attr[k].g->parent = g;
                if (!fill_producers(g->n[i].attr[k].g, e))
                    return false;
            }
    fill_users(g);
    if (!in_order(g)) {
        if (!sort_nodes(g, e))
            return false;
        fill_users(g);
    }
    for (int i = 0; i < g->nn; i++)
        for (int k = 0; k < g->n[i].nattr; k++)
            if (g->n[i].attr[k].g && !finish(g->n[i].attr[k].g, e))
                return false;
    return true;
}

/* ---- the signature ----------------------------------------------------------------------------------------------- */

/* How many characters stand in quotes behind a key, before `end`. */
static int
quoted(const char *p, const char *end, const char *key, const char **value)
{
    const char *at = strstr(p, key);
    *value = at && at < end ? at + strlen(key) : end;
    size_t n = strcspn(*value, "'"), most = *value < end ? (size_t)(end - *value) : 0;
    return (int)(n < most ? n : most);
}

/* PyTorch 2.5 to 2.7 recorded the signature as its data class prints itself,
 *   ExportGraphSignature(input_specs=[InputSpec(kind=<InputKind.BUFFER: 3>, arg=TensorArgument(name='b_x'), target='x',
 *   persistent=True), ...], output_specs=[OutputSpec(kind=<OutputKind.USER_OUTPUT: 1>, ...
 * and later ones a line each, "b_x: BUFFER target='x' persistent=True": __str__ in torch/export/graph_signature.py. */
static const char *
signature_lines(struct arena *a, const char *text)
{
    static const char was[] = "ExportGraphSignature(", kind[] = "Spec(kind=<", of[] = "Kind.";
    if (!text || strncmp(text, was, strlen(was)) != 0)
        return text;
    size_t room = 5 * strlen(text) + sizeof("# inputs\n# outputs\n"); /* a record gives three pieces of itself */
    char *lines = arena_alloc(a, room), *to = lines, *stop = lines + room;
    bool outputs = false;
    to += snprintf(to, (size_t)(stop - to), "# inputs\n");
    for (const char *p = strstr(text, kind), *end; p; p = *end ? end : NULL) {
        const char *name, *target, *word = strstr(p, of);
        end = strstr(p + strlen(kind), kind);
        end = end ? end : p + strlen(p);
        if (!word || word > end)
            continue;
        if (!outputs && (outputs = strncmp(p + strlen(kind), "Output", strlen("Output")) == 0))
            to += snprintf(to, (size_t)(stop - to), "# outputs\n");
        word += strlen(of);
        int n = quoted(word, end, "name='", &name), m = quoted(word, end, "target='", &target);
        to += snprintf(to, (size_t)(stop - to), "%.*s: %.*s%s%.*s%s\n", n, name,
                       (int)strspn(word, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_"), word, m ? " target='" : "", m, target,
                       m ? "'" : "");
    }
    return lines;
}

bool
graph_finish(struct graph *g, struct err *e)
{
    for (int i = 0; i < g->nf; i++) {
        fill_rows(g->f[i].body);
        if (!fill_producers(g->f[i].body, e))
            return false;
    }
    if (g->nf && !inline_functions(g, e))
        return false;
    fill_rows(g);
    g->signature = signature_lines(g->arena, g->signature);
    return finish(g, e);
}

/* ---- after the fact ---------------------------------------------------------------------------------------------- */

void
graph_capture(struct graph *g)
{
    for (int i = 0; i < g->nt && g->parent; i++)
        if (!defined_here(&g->t[i]))
            g->t[i].outer = enclosing(g->parent, g->t[i].name);
    for (int i = 0; i < g->nn; i++)
        for (int k = 0; k < g->n[i].nattr; k++)
            if (g->n[i].attr[k].g) {
                g->n[i].attr[k].g->parent = g;
                graph_capture(g->n[i].attr[k].g);
            }
}

void
graph_renumber(struct graph *g)
{
    for (int i = 0; i < g->nt; i++)
        g->t[i].producer = -1;
    for (int i = 0; i < g->nn; i++)
        for (int k = 0; k < g->n[i].nout; k++)
            if (g->n[i].out[k] >= 0)
                g->t[g->n[i].out[k]].producer = i;
    graph_capture(g);
    fill_users(g);
}
