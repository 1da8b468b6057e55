/* SPDX-License-Identifier: Apache-2.0 */
/* unroll.c - control flow whose way is known becomes straight-line.
 *
 * What eager mode ran has no control flow: Python took one branch, and went round its loops. So the step is lowered
 * from a graph without it. Nodes are visited in order, with their shapes and values, and what they stand for takes
 * their place:
 *
 *   If         the branch that the condition's value takes; where it isn't known the branch that makes more bytes,
 *              with a doubt
 *   Loop       the body once a round, as long as its condition's value says so. Autograd keeps what each round saves,
 *              so
 *              rounds are nodes of their own
 *   Scan       the same, with a slice of every scanned input a round
 *   sequences  an element that is known by name is that tensor; splitting makes tensors, joining reads them
 *
 * Scanned outputs are stacked, which is what a Python program does with a list. A number of rounds that the file
 * doesn't tell is one, and more nodes than the limit are not made: both get a doubt, for the result is then a lower
 * bound. Values of the body are called NODE#ROUND/NAME. The recorded text of a body's calls names values of the body:
 * those names get the round too.
 */
#include "graph/infer.h"

#include <ctype.h>
#include <limits.h>

enum { LONGEST_NAME = 200 };

struct unroll {
    struct arena *a;
    struct graph *g;
    struct shapes *run;
    struct names *recorded; /* names of the traced program outside of bodies; NULL: the file records no calls */
    int64_t left;           /* nodes and values that may still be made */
    int serial;
};

/* A subgraph being copied: its tensors in the main graph, INT_MIN where they are made anew in every round. */
struct copy {
    const struct graph *body;
    const struct node *call;
    int *map, *start;
    struct names *local; /* names of the traced program that the body defines */
    int64_t cost;
};

static void place(struct unroll *u, const struct node *n);

static const char *
clipped(const char *name)
{
    size_t n = strlen(name);
    return n > LONGEST_NAME ? name + n - LONGEST_NAME : name;
}

static const char *
name_of(const struct unroll *u, const struct node *n)
{
    return *n->name ? n->name : n->nout && n->out[0] >= 0 ? u->g->t[n->out[0]].name : n->op;
}

static void
emit(struct unroll *u, const struct node *n)
{
    struct node *m = graph_node(u->g);
    *m = *n;
    struct node own = *n;
    for (int k = 0; k < n->nout; k++)
        if (n->out[k] >= 0)
            u->g->t[n->out[k]].producer = u->g->nn - 1;
    for (int k = 0; k < n->nattr; k++)
        if (n->attr[k].g) {
            n->attr[k].g->parent = u->g;
            graph_capture(n->attr[k].g);
        }
    shapes_node(u->run, u->g, &own);
}

/* A node that the file hasn't: OP of these tensors, with one integer (or list of one) attribute. */
static void
make(struct unroll *u, const struct node *from, const char *op, int nin, const int *in, int nout, const int *out,
     const char *attr, int64_t value)
{
    struct node n = {.op = op, .domain = "", .overload = "", .name = from->name, .made = true};
    n.scopes = from->scopes;
    n.classes = from->classes;
    n.stack = from->stack;
    n.nin = nin;
    n.nout = nout;
    n.in = arena_dup(u->a, in, sizeof(*in) * (size_t)nin);
    n.out = arena_dup(u->a, out, sizeof(*out) * (size_t)nout);
    if (attr) {
        n.nattr = 1;
        n.attr = NEW(u->a, struct attr);
        bool list = strcmp(attr, "axes") == 0;
        *n.attr = (struct attr){.name = attr, .type = list ? ATTR_INTS : ATTR_INT, .i = value, .n = list};
        n.attr->ints = list ? arena_dup(u->a, &value, sizeof(value)) : NULL;
    }
    n.row = op_find("", op, u->g->opset);
    emit(u, &n);
}

/* The last node stands for a recorded call, which the lowering then doesn't make. */
static void
stands_for(struct unroll *u, const struct node *n)
{
    u->g->n[u->g->nn - 1].fx = n->fx;
}

static void
alias(struct unroll *u, const struct node *from, int in, int out)
{
    if (in >= 0 && out >= 0)
        make(u, from, "Identity", 1, &in, 1, &out, NULL, 0);
}

static int
new_tensor(struct unroll *u, const struct node *n, const char *name)
{
    struct tensor t = {.name = name, .wrap = "", .rank = -1, .declared_rank = -1, .producer = -1};
    return graph_fresh(u->g, arena_printf(u->a, "%s#%d", clipped(name_of(u, n)), u->serial++), &t);
}

static int
new_constant(struct unroll *u, const struct node *n, const char *name, enum dtype type, int rank, int64_t value)
{
    int id = new_tensor(u, n, name);
    struct tensor *t = &u->g->t[id];
    struct constant *c = NEW(u->a, struct constant);
    c->n = 1;
    c->i = arena_dup(u->a, &value, sizeof(value));
    t->dtype = type;
    t->value = c;
    t->is_initializer = true;
    t->rank = rank;
    t->dims = NEW(u->a, struct dim);
    t->dims[0] = num_dim(1);
    return id;
}

/* A known scalar as a number. */
static bool
known_number(const struct unroll *u, int id, int64_t *v)
{
    const struct tensor *t = id < 0 ? NULL : &u->g->t[id];
    if (!known(t, 0) || !t->value->i || t->value->n != 1)
        return false;
    *v = t->value->i[0];
    return true;
}

/* ---- copying a body ---------------------------------------------------------------------------------------------- */

/* What a copy takes: nodes and values, and for hostile files whatever else is copied. */
static int64_t
cost_of(const struct graph *g)
{
    int64_t n = g->nn + g->nt + 1;
    for (int i = 0; i < g->nn; i++) {
        const struct node *m = &g->n[i];
        n += (m->nin + m->nout + m->nattr) / 16 + (m->fx ? (int64_t)strlen(m->fx) / 4096 : 0);
        for (int k = 0; k < m->nattr; k++)
            if (m->attr[k].g)
                n += cost_of(m->attr[k].g);
    }
    return n;
}

/* The name at the start of a node's recorded text, "%NAME : ..."; NULL none. */
static const char *
recorded_name(struct arena *a, const struct node *n)
{
    return n->fx && *n->fx == '%' ? arena_strn(a, n->fx + 1, strcspn(n->fx + 1, " ")) : NULL;
}

static void
note_names(struct unroll *u, struct names *names, const struct graph *g)
{
    const char *name;
    for (int i = 0; i < g->nn; i++)
        if ((name = recorded_name(u->a, &g->n[i])))
            names_put(names, name, 1);
}

/* A body's initializer is one, however often a loop around the body's node comes by. */
static int
initializer_of(struct unroll *u, const struct node *call, const struct tensor *t)
{
    const char *prefix = clipped(name_of(u, call));
    int id = graph_find(u->g, arena_printf(u->a, "%s/%s", prefix, t->name));
    const struct tensor *there = id < 0 ? NULL : &u->g->t[id];
    bool same = there && there->is_initializer && there->dtype == t->dtype && there->dims == t->dims &&
                there->value == t->value && there->rank == t->rank;
    return same ? id : graph_fresh(u->g, prefix, t);
}

static struct copy
copy_begin(struct unroll *u, const struct node *call, const struct graph *body)
{
    struct copy c = {.body = body, .call = call, .cost = cost_of(body)};
    c.map = NEWN(u->a, int, body->nt + 1);
    c.start = NEWN(u->a, int, body->nt + 1);
    for (int i = 0; i < body->nt; i++) {
        const struct tensor *t = &body->t[i];
        c.start[i] = INT_MIN;
        if (t->is_initializer)
            c.start[i] = initializer_of(u, call, t);
        else if (t->producer < 0 && !t->is_input)
            c.start[i] = *t->name ? graph_tensor(u->g, t->name) : -1;
    }
    memcpy(c.map, c.start, sizeof(*c.map) * (size_t)body->nt);
    if (u->recorded) {
        c.local = names_new(u->a);
        note_names(u, c.local, body);
    }
    return c;
}

/* The recorded text with the names of the body's own values made different. */
static const char *
renamed(struct unroll *u, const struct copy *c, const char *fx, int serial)
{
    char suffix[16];
    size_t own = (size_t)snprintf(suffix, sizeof(suffix), "_%d", serial), most = 1;
    for (const char *p = fx; *p; p++)
        most += *p == '%' ? own + 1 : 1;
    char *text = NEWN(u->a, char, most), *to = text;
    while (*fx) {
        size_t n = 1;
        while (*fx == '%' && (isalnum((unsigned char)fx[n]) || fx[n] == '_'))
            n++;
        memcpy(to, fx, n);
        to += n;
        if (*fx == '%') {
            const char *name = arena_strn(u->a, fx + 1, n - 1);
            if (names_find(c->local, name) >= 0 || names_find(u->recorded, name) < 0) {
                memcpy(to, suffix, own);
                to += own;
            }
        }
        fx += n;
    }
    return text;
}

/* Places a copy of the body; the caller has filled map for the body's inputs. False when the budget is spent. */
static bool
copy_once(struct unroll *u, struct copy *c)
{
    const struct graph *body = c->body;
    if ((u->left -= c->cost) < 0)
        return false;
    const char *prefix = arena_printf(u->a, "%s#%d", clipped(name_of(u, c->call)), u->serial++);
    for (int i = 0; i < body->nt; i++)
        if (c->map[i] == INT_MIN) {
            struct tensor t = body->t[i];
            t.name = clipped(t.name);
            t.value = NULL;
            t.outer = NULL;
            c->map[i] = graph_fresh(u->g, prefix, &t);
        }
    int serial = u->serial;
    for (int i = 0; i < body->nn; i++) {
        struct node n = graph_copy_node(u->g, body, &body->n[i], c->map);
        if (n.fx && c->local) {
            n.fx = renamed(u, c, n.fx, serial);
        } else if (!n.fx && !n.scopes && !n.stack) {
            n.scopes = c->call->scopes;
            n.classes = c->call->classes;
            n.stack = c->call->stack;
        }
        place(u, &n);
    }
    return true;
}

static void
copy_again(struct copy *c)
{
    memcpy(c->map, c->start, sizeof(*c->map) * (size_t)c->body->nt);
}

static int
copied(const struct copy *c, int id)
{
    return id < 0 || c->map[id] == INT_MIN ? -1 : c->map[id];
}

/* An input whose value would settle it can be given. */
static const char *
remedy_for(const struct unroll *u, int id)
{
    const struct tensor *t = id < 0 ? NULL : &u->g->t[id];
    return !t || !t->is_input
               ? NULL
               : arena_printf(u->a, "--input-value %s=FILE.pb", is_pasteable(t->name) ? t->name : "NAME");
}

/* ---- If ---------------------------------------------------------------------------------------------------------- */

static double
bytes_made(const struct graph *g)
{
    double bytes = 0;
    for (int i = 0; i < g->nn; i++)
        for (int k = 0; k < g->n[i].nout; k++) {
            const struct tensor *t = g->n[i].out[k] < 0 ? NULL : &g->t[g->n[i].out[k]];
            int64_t n = t && t->dtype && !*t->wrap ? dtype_bytes(t->dtype, tensor_elements(t)) : 0;
            bytes += n > 0 ? (double)n : 0;
        }
    return bytes;
}

static struct graph *
subgraph(const struct node *n, const char *name)
{
    const struct attr *a = node_attr(n, name);
    return a ? a->g : NULL;
}

bool
unroll_if(struct unroll *u, const struct node *n)
{
    struct graph *yes = subgraph(n, "then_branch"), *no = subgraph(n, "else_branch"), *taken;
    int64_t truth = 0;
    if (!yes || !no || n->nin < 1)
        return false;
    bool decided = known_number(u, n->in[0], &truth);
    if (!decided) {
        int doubts = u->g->ndoubts;
        struct node own = *n;
        yes->parent = no->parent = u->g;
        graph_capture(yes), graph_capture(no);
        shapes_node(u->run, u->g, &own);
        u->g->ndoubts = doubts; /* those of the branch that is taken come again */
        truth = bytes_made(yes) >= bytes_made(no);
    }
    taken = truth ? yes : no;
    if (taken->nout < n->nout)
        return false;
    struct copy c = copy_begin(u, n, taken);
    for (int k = 0; k < taken->nin; k++)
        c.map[taken->in[k]] = -1; /* a branch has no inputs */
    if (!copy_once(u, &c))
        return false;
    for (int k = 0; k < n->nout; k++)
        alias(u, n, copied(&c, taken->out[k]), n->out[k]);
    if (!decided)
        graph_doubt(u->g, name_of(u, n), n->op, remedy_for(u, n->in[0]),
                    "which branch is taken can't be told from the file: counted as the one that makes more bytes")
            ->sure = SURE_MODEL;
    return true;
}

/* ---- Loop and Scan ----------------------------------------------------------------------------------------------- */

/* What the rounds made, side by side along a new axis. */
static void
stack_rounds(struct unroll *u, const struct node *n, int rounds, const int *each, int out, int64_t axis)
{
    if (out < 0)
        return;
    int *wide = NEWN(u->a, int, rounds + 1), nwide = 0;
    for (int i = 0; i < rounds; i++) {
        if (each[i] < 0)
            continue;
        wide[nwide] = new_tensor(u, n, "each");
        make(u, n, "Unsqueeze", 1, &each[i], 1, &wide[nwide++], "axes", axis);
    }
    make(u, n, "Concat", nwide, wide, 1, &out, "axis", axis);
}

static void
doubt_rounds(struct unroll *u, const struct node *n, int asked, int64_t counted, int64_t of)
{
    if (of < 0)
        graph_doubt(
            u->g, name_of(u, n), n->op, remedy_for(u, asked),
            "how many rounds it runs can't be told from the file: counted as %lld; each more keeps as much again",
            (long long)counted)
            ->sure = SURE_MODEL;
    else
        graph_doubt(u->g, name_of(u, n), n->op, limit_remedy(u->a, LIMIT_UNROLLED),
                    "of its %lld rounds %lld are counted, more nodes than the limit: each more keeps as much again",
                    (long long)of, (long long)counted);
}

bool
unroll_loop(struct unroll *u, const struct node *n)
{
    struct graph *body = subgraph(n, "body");
    int carried = n->nin > 2 ? n->nin - 2 : 0, stacked = n->nout - carried;
    if (!body || body->nin != 2 + carried || body->nout != 1 + n->nout || stacked < 0)
        return false;
    int64_t trips = INT64_MAX, go = 1, round = 0;
    bool most = n->nin > 0 && n->in[0] >= 0, sure = true;
    int asked = -1; /* the value that would tell how many rounds */
    if (n->nin > 1 && n->in[1] >= 0 && !known_number(u, n->in[1], &go)) {
        sure = false;
        asked = n->in[1];
    }
    if (most && !known_number(u, n->in[0], &trips)) {
        most = sure = false;
        trips = 1;
        asked = n->in[0];
    }
    if (trips <= 0 || !go) {
        for (int k = 0; k < carried && !stacked; k++)
            alias(u, n, n->in[2 + k], n->out[k]);
        return !stacked;
    }
    struct copy c = copy_begin(u, n, body);
    if (c.cost > u->left)
        return false;
    int *now = NEWN(u->a, int, carried + 1), **each = NEWN(u->a, int *, stacked + 1),
        *cap = NEWN(u->a, int, stacked + 1);
    memcpy(now, n->in + (n->nin > 2 ? 2 : 0), sizeof(*now) * (size_t)carried);
    const struct tensor *counter = &body->t[body->in[0]];
    int counter_rank = counter->declared_rank == 1 || counter->rank == 1;
    for (go = 1; go && round < trips; round++) {
        copy_again(&c);
        c.map[body->in[0]] = new_constant(u, n, "round", DT_INT64, counter_rank, round);
        c.map[body->in[1]] = new_constant(u, n, "condition", DT_BOOL, 0, 1);
        for (int k = 0; k < carried; k++)
            c.map[body->in[2 + k]] = now[k];
        if (!copy_once(u, &c)) {
            doubt_rounds(u, n, -1, round, most ? trips : -1);
            sure = true;
            break;
        }
        for (int k = 0; k < carried; k++)
            now[k] = copied(&c, body->out[1 + k]);
        for (int k = 0, count = (int)round; k < stacked; k++, count = (int)round)
            *PUSH(u->a, each[k], count, cap[k]) = copied(&c, body->out[1 + carried + k]);
        if (!known_number(u, copied(&c, body->out[0]), &go)) {
            sure = false;
            go = most;
        }
    }
    if (!sure)
        doubt_rounds(u, n, asked, round, -1);
    for (int k = 0; k < carried; k++)
        alias(u, n, now[k], n->out[k]);
    for (int k = 0; k < stacked; k++)
        stack_rounds(u, n, (int)round, each[k], n->out[carried + k], 0);
    return true;
}

static int64_t
listed(const struct node *n, const char *name, int k)
{
    const struct attr *a = node_attr(n, name);
    return a && a->type == ATTR_INTS && a->ints && k < a->n ? a->ints[k] : 0;
}

bool
unroll_scan(struct unroll *u, const struct node *n)
{
    struct graph *body = subgraph(n, "body");
    int64_t scanned = node_int(n, "num_scan_inputs", -1), rounds = -1;
    if (!body || u->g->opset < 9 || scanned < 1 || scanned > n->nin || body->nin != n->nin || body->nout != n->nout)
        return false;
    int states = n->nin - (int)scanned, stacked = n->nout - states, at;
    for (int k = states; k < n->nin; k++) {
        const struct tensor *x = n->in[k] < 0 ? NULL : &u->g->t[n->in[k]];
        if (x && axis_in(listed(n, "scan_input_axes", k - states), rank(x), &at) && x->dims[at].n >= 0)
            rounds = x->dims[at].n;
    }
    struct copy c = copy_begin(u, n, body);
    if (rounds < 1 || stacked < 0 || c.cost > u->left)
        return false;
    int *now = NEWN(u->a, int, states + 1), **each = NEWN(u->a, int *, stacked + 1),
        *cap = NEWN(u->a, int, stacked + 1);
    memcpy(now, n->in, sizeof(*now) * (size_t)states);
    int round = 0;
    for (; round < rounds; round++) {
        copy_again(&c);
        for (int k = 0; k < states; k++)
            c.map[body->in[k]] = now[k];
        if ((u->left -= 3 * scanned) < c.cost) {
            doubt_rounds(u, n, -1, round, rounds);
            break;
        }
        for (int k = states; k < n->nin; k++) {
            int in[2] = {n->in[k], new_constant(u, n, "round", DT_INT64, 0, round)}, slice = new_tensor(u, n, "slice");
            make(u, n, "Gather", 2, in, 1, &slice, "axis", listed(n, "scan_input_axes", k - states));
            c.map[body->in[k]] = slice;
        }
        copy_once(u, &c);
        for (int k = 0; k < states; k++)
            now[k] = copied(&c, body->out[k]);
        for (int k = 0, count = round; k < stacked; k++, count = round)
            *PUSH(u->a, each[k], count, cap[k]) = copied(&c, body->out[states + k]);
    }
    for (int k = 0; k < states; k++)
        alias(u, n, now[k], n->out[k]);
    for (int k = 0; k < stacked; k++)
        stack_rounds(u, n, round, each[k], n->out[states + k], listed(n, "scan_output_axes", k));
    return true;
}

/* ---- sequences --------------------------------------------------------------------------------------------------- */

/* The tensors that are the elements of a sequence; NULL when one isn't known by name. */
static int *
elements(const struct unroll *u, int id, int *n)
{
    const struct sequence *s = id < 0 ? NULL : u->g->t[id].seq;
    int *elem = s ? NEWN(u->a, int, s->n + 1) : NULL;
    for (int i = 0; elem && i < s->n; i++)
        if ((elem[i] = s->elem[i]->name ? graph_find(u->g, s->elem[i]->name) : -1) < 0)
            return NULL;
    *n = s ? s->n : 0;
    return elem;
}

bool
unroll_at(struct unroll *u, const struct node *n)
{
    int count;
    int64_t v;
    int *elem = n->nin == 2 ? elements(u, n->in[0], &count) : NULL, at;
    if (!elem || !known_number(u, n->in[1], &v) || !axis_in(v, count, &at))
        return false;
    alias(u, n, elem[at], n->out[0]);
    stands_for(u, n);
    return true;
}

bool
unroll_join(struct unroll *u, const struct node *n)
{
    int count;
    int *elem = n->nin == 1 ? elements(u, n->in[0], &count) : NULL;
    if (!elem || !count)
        return false;
    int64_t axis = node_int(n, "axis", 0);
    if (node_int(n, "new_axis", 0))
        stack_rounds(u, n, count, elem, n->out[0], axis);
    else
        make(u, n, "Concat", count, elem, 1, n->out, "axis", axis);
    return true;
}

/* The pieces get names, in a Split of their own. */
bool
unroll_split(struct unroll *u, const struct node *n)
{
    struct node own = *n;
    shapes_node(u->run, u->g, &own);
    const struct sequence *s = n->nin < 1 || n->in[0] < 0 ? NULL : u->g->t[n->out[0]].seq;
    bool keep = node_int(n, "keepdims", 1) != 0 || (n->nin > 1 && n->in[1] >= 0);
    int64_t axis = node_int(n, "axis", 0), sizes[MAX_SEQUENCE];
    int at, made[MAX_SEQUENCE], whole = n->nin < 1 ? -1 : n->in[0];
    if (!s || s->n < 1 || !axis_in(axis, rank(&u->g->t[whole]), &at) || (u->left -= 3 * s->n) < 0)
        return false;
    for (int i = 0; i < s->n; i++) {
        made[i] = new_tensor(u, n, "piece");
        sizes[i] = keep ? dim(s->elem[i], at).n : 1;
        int in[2] = {whole, keep ? -1 : new_constant(u, n, "place", DT_INT64, 0, i)};
        if (!keep)
            make(u, n, "Gather", 2, in, 1, &made[i], "axis", axis);
    }
    if (keep) {
        struct node split = {.op = "Split", .domain = "", .overload = "", .name = n->name, .made = true};
        split.scopes = n->scopes;
        split.classes = n->classes;
        split.stack = n->stack;
        split.nin = 1;
        split.nout = s->n;
        split.in = arena_dup(u->a, &whole, sizeof(whole));
        split.out = arena_dup(u->a, made, sizeof(*made) * (size_t)s->n);
        split.nattr = 2;
        split.attr = NEWN(u->a, struct attr, 2);
        split.attr[0] = (struct attr){.name = "axis", .type = ATTR_INT, .i = axis};
        split.attr[1] = (struct attr){.name = "split", .type = ATTR_INTS, .n = s->n};
        split.attr[1].ints = arena_dup(u->a, sizes, sizeof(*sizes) * (size_t)s->n);
        split.row = op_find("", "Split", u->g->opset);
        emit(u, &split);
    }
    stands_for(u, n);
    struct sequence *named = NEW(u->a, struct sequence);
    named->n = s->n;
    named->elem = NEWN(u->a, const struct tensor *, s->n);
    for (int i = 0; i < s->n; i++)
        named->elem[i] = arena_dup(u->a, &u->g->t[made[i]], sizeof(struct tensor));
    u->g->t[n->out[0]].seq = named;
    return true;
}

/* ---- the pass ---------------------------------------------------------------------------------------------------- */

static void
place(struct unroll *u, const struct node *n)
{
    if (shapes_recorded(n) || !n->row || !n->row->flow || n->nout < 1 || n->out[0] < 0 || !n->row->flow(u, n))
        emit(u, n);
}

bool
unroll_needed(const struct graph *g)
{
    for (int i = 0; i < g->nn; i++)
        if (g->n[i].row && g->n[i].row->flow)
            return true;
    return false;
}

/* The names before the colons of a signature's lines are those of its inputs. */
static void
note_signature(struct unroll *u, const char *p)
{
    for (; p && *p; p = strchr(p, '\n'), p = p ? p + 1 : NULL)
        names_put(u->recorded, arena_strn(u->a, p, strcspn(p, ":\n")), 1);
}

/* What a cast reads has the sizes that the file states of its result. */
static void
declare_casts(struct graph *g)
{
    for (int i = 0; i < g->nn; i++) {
        const struct node *n = &g->n[i];
        if (node_call(n) != CALL_CAST || n->nin != 1 || n->nout != 1 || n->in[0] < 0 || n->out[0] < 0 ||
            g->t[n->in[0]].declared_rank >= 0)
            continue;
        g->t[n->in[0]].declared_rank = g->t[n->out[0]].declared_rank;
        g->t[n->in[0]].declared = g->t[n->out[0]].declared;
    }
}

void
unroll_run(struct shapes *run, struct graph *g)
{
    struct unroll u = {.a = g->arena, .g = g, .run = run, .left = limit(LIMIT_UNROLLED)};
    if (g->signature) {
        u.recorded = names_new(g->arena);
        note_signature(&u, g->signature);
        note_names(&u, u.recorded, g);
    }
    declare_casts(g);
    struct node *old = g->n;
    int n = g->nn;
    g->n = NULL;
    g->nn = g->cap_n = 0;
    for (int i = 0; i < n; i++)
        place(&u, &old[i]);
    g->unrolled = g->nn - n;
    graph_renumber(g);
}
