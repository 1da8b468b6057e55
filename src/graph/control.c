/* SPDX-License-Identifier: Apache-2.0 */
/* control.c - shape rules of sequences, optionals, If, Loop and Scan.
 *
 * A sequence knows its elements one by one up to MAX_SEQUENCE of them; its own shape is what they share. Bodies are
 * run by shapes_subgraph. A carried value whose shape the body changes is made open where it changes, and the body run
 * again until nothing changes; unroll.c does the rest, for the step.
 */
#include "graph/infer.h"

/* ---- sequences and optionals ------------------------------------------------------------------------------------- */

static const char *
unwrapped(const char *wrap, char letter)
{
    return *wrap == letter ? wrap + 1 : wrap;
}

/* Gives output k, a sequence, its elements; its shape is what they share. */
static void
set_sequence(const struct infer *I, int k, int n, const struct tensor **elem)
{
    struct tensor *o = out(I, k);
    if (!o || n > MAX_SEQUENCE)
        return;
    struct sequence *s = NEW(I->g->arena, struct sequence);
    s->n = n;
    s->elem = NEWN(I->g->arena, const struct tensor *, n + 1);
    for (int i = 0; i < n; i++)
        s->elem[i] = arena_dup(I->g->arena, elem[i], sizeof(*elem[i]));
    o->seq = s;
    for (int i = 0; i < n; i++)
        if (elem[i]->rank < 0 || elem[i]->rank != elem[0]->rank)
            return;
    struct dim *d = n ? shape(I, k, elem[0]->rank) : NULL;
    for (int i = 0; d && i < elem[0]->rank; i++) {
        d[i] = elem[0]->dims[i];
        for (int e = 1; e < n; e++)
            d[i] = merge_dim(d[i], elem[e]->dims[i]);
    }
}

void
control_sequence_construct(struct infer *I)
{
    const struct tensor **elem = NEWN(I->g->arena, const struct tensor *, I->nin + 1);
    int n = 0;
    for (int k = 0; k < I->nin; k++)
        if (in(I, k))
            elem[n++] = in(I, k);
    if (n)
        set_wrap(I, 0, "s", elem[0]);
    set_sequence(I, 0, n, elem);
}

void
control_sequence_empty(struct infer *I)
{
    struct tensor element = {.dtype = type_attr(I, "dtype", DT_FLOAT), .wrap = ""};
    set_wrap(I, 0, "s", &element);
    set_sequence(I, 0, 0, NULL);
}

/* The place that input k names in a sequence of n, or -1. */
int
control_position(const struct infer *I, int k, int n, int otherwise)
{
    int64_t v;
    int at;
    if (!int_of(I, NULL, k, otherwise, &v))
        return -1;
    if (v == n)
        return n;
    return axis_in(v, n, &at) ? at : -1;
}

/* What the elements of two sequences, or of a sequence and one more, share. */
static void
merge_shape(const struct infer *I, int k, const struct tensor *a, const struct tensor *b)
{
    if (rank(a) < 0 || rank(a) != rank(b))
        return;
    struct dim *d = shape(I, k, rank(a));
    for (int i = 0; d && i < rank(a); i++)
        d[i] = merge_dim(a->dims[i], b->dims[i]);
}

void
control_sequence_insert(struct infer *I)
{
    const struct tensor *s = in(I, 0), *x = in(I, 1);
    if (!s || !x)
        return;
    set_wrap(I, 0, "", s->dtype ? s : NULL);
    if (!s->dtype)
        set_wrap(I, 0, "s", x);
    int n = s->seq ? s->seq->n : 0, at = s->seq ? control_position(I, 2, n, n) : -1, to = 0;
    if (at < 0) {
        merge_shape(I, 0, s, x);
        return;
    }
    const struct tensor *elem[MAX_SEQUENCE + 1];
    for (int i = 0; i <= n; i++)
        elem[i] = i == at ? x : s->seq->elem[to++];
    set_sequence(I, 0, n + 1, elem);
    if (n + 1 > MAX_SEQUENCE)
        merge_shape(I, 0, s, x);
}

void
control_sequence_erase(struct infer *I)
{
    const struct tensor *s = in(I, 0), *elem[MAX_SEQUENCE];
    if (!s)
        return;
    whole_as(I, 0, s);
    int n = s->seq ? s->seq->n : 0, at = n ? control_position(I, 1, n, n - 1) : -1, to = 0;
    if (out(I, 0))
        out(I, 0)->seq = NULL;
    for (int i = 0; i < n; i++)
        if (i != at)
            elem[to++] = s->seq->elem[i];
    if (at >= 0 && at < n)
        set_sequence(I, 0, to, elem);
}

void
control_sequence_at(struct infer *I)
{
    const struct tensor *s = in(I, 0);
    struct tensor *o = out(I, 0);
    if (!s || !o)
        return;
    int at = s->seq ? control_position(I, 1, s->seq->n, 0) : -1;
    if (at >= 0 && at < s->seq->n) {
        whole_as(I, 0, s->seq->elem[at]);
        return;
    }
    whole_as(I, 0, s);
    o->seq = NULL;
    o->wrap = unwrapped(o->wrap, 's');
}

void
control_sequence_length(struct infer *I)
{
    scalar(I, 0, DT_INT64);
}

void
control_split_to_sequence(struct infer *I)
{
    const struct tensor *x = in(I, 0);
    struct list l = list_of(I, NULL, 1);
    int axis, to = 0;
    bool keep = node_int(I->n, "keepdims", 1) != 0 || in(I, 1);
    if (!x || !axis_in(node_int(I->n, "axis", 0), rank(x), &axis)) {
        set_wrap(I, 0, "s", x);
        return;
    }
    set_wrap(I, 0, "s", x);
    struct dim d[MAX_RANK], whole = x->dims[axis];
    for (int i = 0; i < rank(x); i++)
        if (i != axis || keep)
            d[to++] = x->dims[i];
    bool one_size = l.given && rank(in(I, 1)) == 0;
    int64_t each = !l.given ? 1 : one_size && at_known(&l, 0) ? l.v[0] : -1, n = -1;
    if (!l.given)
        n = whole.n;
    else if (one_size && each > 0 && whole.n >= 0)
        n = whole.n / each + (whole.n % each != 0);
    else if (!one_size && list_known(&l))
        n = l.n;
    if (keep)
        d[axis] = n > 0 && !one_size && l.given                     ? OPEN
                  : each > 0 && whole.n >= 0 && whole.n % each == 0 ? num_dim(each)
                                                                    : OPEN;
    if (n < 0 || n > MAX_SEQUENCE) {
        struct dim *od = shape(I, 0, to);
        for (int i = 0; od && i < to; i++)
            od[i] = d[i];
        return;
    }
    const struct tensor *elem[MAX_SEQUENCE];
    for (int e = 0; e < n; e++) {
        struct tensor *t = arena_dup(I->g->arena, x, sizeof(*x));
        t->rank = to;
        t->dims = arena_dup(I->g->arena, d, sizeof(*d) * (size_t)to);
        t->value = NULL;
        if (keep)
            t->dims[axis] = !l.given     ? num_dim(1)
                            : one_size   ? num_dim(e < n - 1 || whole.n % each == 0 ? each : whole.n % each)
                            : l.v[e] < 0 ? OPEN
                                         : num_dim(l.v[e]);
        elem[e] = t;
    }
    set_sequence(I, 0, (int)n, elem);
}

void
control_concat_from_sequence(struct infer *I)
{
    const struct tensor *s = in(I, 0);
    bool fresh = node_int(I->n, "new_axis", 0) != 0;
    int axis, from = 0;
    if (!s)
        return;
    set_type(I, 0, s->dtype);
    const struct tensor *e = s->rank < 0 && s->seq && s->seq->n ? s->seq->elem[0] : s;
    int r = rank(e);
    if (r < 0 || !axis_in(node_int(I->n, "axis", 0), r + fresh, &axis))
        return;
    struct dim *d = shape(I, 0, r + fresh);
    for (int i = 0; d && i < r + fresh; i++) {
        if (i == axis && fresh) {
            d[i] = s->seq ? num_dim(s->seq->n) : OPEN;
            continue;
        }
        d[i] = e->dims[from++];
        if (i != axis)
            continue;
        d[i] = s->seq ? num_dim(0) : OPEN;
        for (int k = 0; s->seq && k < s->seq->n; k++)
            d[i] = add_dim(d[i], dim(s->seq->elem[k], i));
    }
}

void
control_optional(struct infer *I)
{
    const struct attr *a = node_attr(I->n, "type");
    const struct tensor *x = in(I, 0) ? in(I, 0) : a ? a->t : NULL;
    whole_as(I, 0, x);
    set_wrap(I, 0, "o", x);
}

void
control_optional_get(struct infer *I)
{
    infer_whole(I);
    if (out(I, 0))
        out(I, 0)->wrap = unwrapped(out(I, 0)->wrap, 'o');
}

void
control_optional_has(struct infer *I)
{
    scalar(I, 0, DT_BOOL);
}

/* ---- control flow ------------------------------------------------------------------------------------------------ */

static struct graph *
body_of(const struct infer *I, const char *name)
{
    const struct attr *a = node_attr(I->n, name);
    return a ? a->g : NULL;
}

static const struct tensor *
result_of(const struct graph *g, int k)
{
    return g && k < g->nout ? &g->t[g->out[k]] : NULL;
}

void
control_if(struct infer *I)
{
    struct graph *yes = body_of(I, "then_branch"), *no = body_of(I, "else_branch");
    const struct tensor *c = in(I, 0);
    bool decided = known(c, 0) && c->value->i;
    struct graph *taken = decided ? (c->value->i[0] ? yes : no) : NULL;
    bool ok = (!yes || shapes_subgraph(I, yes)) && (!no || shapes_subgraph(I, no));
    for (int k = 0; k < I->nout && ok; k++) {
        const struct tensor *a = result_of(taken ? taken : yes, k), *b = result_of(taken ? taken : no, k);
        struct tensor *o = out(I, k);
        if (!o || !a || !b)
            continue;
        whole_as(I, k, a->dtype ? a : b);
        if (*b->wrap == 'o' && *o->wrap != 'o')
            set_wrap(I, k, "", b);
        o->rank = -1;
        o->seq = taken ? a->seq : NULL;
        merge_shape(I, k, a, b);
        if (taken)
            shape_as(I, k, a);
        o->value = taken ? a->value : NULL;
    }
}

/* Gives a body's input what is known of the value that enters. */
static void
enter(struct graph *body, int k, const struct tensor *x, bool with_value)
{
    if (k >= body->nin)
        return;
    struct tensor *t = &body->t[body->in[k]];
    if (x && x->dtype) {
        t->dtype = x->dtype;
        t->wrap = x->wrap;
    }
    t->rank = rank(x);
    t->dims = x ? x->dims : NULL;
    t->value = x && with_value ? x->value : NULL;
    t->seq = NULL;
}

/* Dims of a carried value that the body changes become open. Whether any did. */
static bool
widen(const struct infer *I, struct graph *body, int k, const struct tensor *after)
{
    if (k >= body->nin)
        return false;
    struct tensor *t = &body->t[body->in[k]];
    if (!after || t->rank < 0)
        return false;
    if (after->rank != t->rank) {
        t->rank = -1;
        return true;
    }
    bool changed = false;
    struct dim *d = NEWN(I->g->arena, struct dim, t->rank);
    for (int i = 0; i < t->rank; i++) {
        d[i] = merge_dim(t->dims[i], after->dims[i]);
        changed |= d[i].n != t->dims[i].n || d[i].sym != t->dims[i].sym;
    }
    t->dims = d;
    return changed;
}

/* Runs a body until the shapes of what it carries, inputs from `in0` to outputs from `out0`, are stable. */
static bool
run_body(struct infer *I, struct graph *body, int in0, int out0, int n)
{
    struct graph *root = I->g;
    while (root->parent)
        root = root->parent;
    int doubts = root->ndoubts;
    for (int tries = 0; tries < 4; tries++) {
        bool changed = false;
        root->ndoubts = doubts; /* those of the last try count */
        if (!shapes_subgraph(I, body))
            return false;
        for (int k = 0; k < n; k++)
            changed |= widen(I, body, in0 + k, result_of(body, out0 + k));
        if (!changed)
            return true;
    }
    return false;
}

/* A scan output: the body's result with an axis of the number of rounds. */
static void
stack_results(const struct infer *I, int k, const struct tensor *each, struct dim rounds, int64_t axis)
{
    int at, from = 0;
    if (!each)
        return;
    set_type(I, k, each->dtype);
    if (each->rank < 0 || !axis_in(axis, each->rank + 1, &at))
        return;
    struct dim *d = shape(I, k, each->rank + 1);
    for (int i = 0; d && i <= each->rank; i++)
        d[i] = i == at ? rounds : each->dims[from++];
}

void
control_loop(struct infer *I)
{
    struct graph *body = body_of(I, "body");
    const struct tensor *trips = in(I, 0), *cond = in(I, 1);
    int carried = I->nin > 2 ? I->nin - 2 : 0;
    if (!body || body->nin < 2)
        return;
    bool starts = !cond || (known(cond, 0) && cond->value->i && cond->value->i[0]);
    static const int64_t one = 1;
    static const struct constant truth = {.n = 1, .i = (int64_t *)&one};
    struct tensor go = {.dtype = DT_BOOL, .wrap = "", .value = starts ? &truth : NULL};
    struct tensor round = {.dtype = DT_INT64, .wrap = ""};
    if (I->g->opset >= 1) {
        enter(body, 0, &round, false);
        enter(body, 1, &go, true);
    }
    for (int k = 0; k < carried; k++)
        enter(body, k + 2, in(I, k + 2), false);
    if (!run_body(I, body, 2, 1, carried))
        return;
    const struct tensor *again = result_of(body, 0);
    struct dim rounds = OPEN;
    if (known(trips, 0) && trips->value->i && starts && known(again, 0) && again->value->i && again->value->i[0])
        rounds = num_dim(trips->value->i[0] > 0 ? trips->value->i[0] : 0);
    else if (cond && known(cond, 0) && cond->value->i && !cond->value->i[0])
        rounds = num_dim(0);
    for (int k = 0; k < carried; k++) {
        const struct tensor *t = k + 2 < body->nin ? &body->t[body->in[k + 2]] : NULL, *after = result_of(body, k + 1);
        whole_as(I, k, t);
        set_wrap(I, k, "", after);
        if (out(I, k) && after && rounds.n > 0)
            shape_as(I, k, after);
        if (out(I, k))
            out(I, k)->seq = NULL;
    }
    for (int k = carried; k < I->nout; k++)
        stack_results(I, k, result_of(body, k + 1), rounds, 0);
}

static int64_t
axis_at(const struct infer *I, const char *name, int k)
{
    struct list l = list_of(I, name, -1);
    return l.v && k < l.n ? l.v[k] : 0;
}

void
control_scan(struct infer *I)
{
    struct graph *body = body_of(I, "body");
    int64_t nscan = node_int(I->n, "num_scan_inputs", -1);
    int first = I->g->opset < 9, lead = first; /* Scan-8: sequence_lens before, and a batch axis in front */
    int n = I->nin - first;
    if (!body || nscan < 0 || nscan > n)
        return;
    int states = n - (int)nscan;
    struct dim rounds = OPEN, batch = OPEN;
    for (int k = 0; k < n; k++) {
        const struct tensor *x = in(I, first + k);
        struct tensor slice = {.dtype = type(x), .wrap = "", .rank = -1};
        int at = 0, to = 0;
        int64_t axis = k < states ? 0 : axis_at(I, first ? "axes" : "scan_input_axes", k - states);
        if (lead && k >= states && axis == 0)
            axis = 1;
        if (k < states && !lead) {
            enter(body, k, x, false);
            continue;
        }
        if (rank(x) >= 0 && (k < states || axis_in(axis, rank(x), &at))) {
            at = k < states ? -1 : at;
            slice.dims = NEWN(I->g->arena, struct dim, rank(x) + 1);
            for (int i = 0; i < rank(x); i++)
                if (i != at && !(lead && i == 0))
                    slice.dims[to++] = x->dims[i];
            slice.rank = to;
            if (k >= states && x->dims[at].n >= 0)
                rounds = x->dims[at];
            if (lead && rank(x) > 0)
                batch = x->dims[0];
        }
        enter(body, k, &slice, false);
    }
    if (!run_body(I, body, 0, 0, states))
        return;
    for (int k = 0; k < I->nout; k++) {
        const struct tensor *r = result_of(body, k);
        if (!r)
            continue;
        if (k < states && !lead) {
            whole_as(I, k, k < body->nin ? &body->t[body->in[k]] : r);
        } else if (k < states) {
            stack_results(I, k, r, batch, 0);
        } else {
            stack_results(I, k, r, rounds, lead ? 0 : axis_at(I, "scan_output_axes", k - states));
            struct tensor *o = out(I, k);
            if (lead && o && o->rank >= 0) {
                struct tensor inner = *o;
                stack_results(I, k, &inner, batch, 0);
            }
        }
    }
}

void
control_sequence_map(struct infer *I)
{
    struct graph *body = body_of(I, "body");
    if (!body)
        return;
    const struct tensor *s = in(I, 0);
    for (int k = 0; k < I->nin; k++) {
        struct tensor x = in(I, k) ? *in(I, k) : (struct tensor){.wrap = "", .rank = -1};
        x.wrap = unwrapped(x.wrap, 's');
        enter(body, k, &x, false);
    }
    if (!shapes_subgraph(I, body))
        return;
    (void)s;
    for (int k = 0; k < I->nout; k++) {
        const struct tensor *r = result_of(body, k);
        if (!r)
            continue;
        set_wrap(I, k, "s", r);
        shape_as(I, k, r);
    }
}
