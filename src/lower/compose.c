/* SPDX-License-Identifier: Apache-2.0 */
/* compose.c - ONNX operators that a Python program writes as several calls.
 *
 * The operator's row (graph/ops.c) says which, in the notation of PyTorch's own text: statements "r = mul.Tensor(a,
 * a); 0 = ...", where
 *
 *   a b c ...    the node's inputs; NONE where omitted, and a sum with NONE is its other term
 *   r s ... z    what statements before made
 *   0 1 ...      the node's outputs; a row of one expression is output 0
 *   @axis:-1     an attribute, or the value behind the colon; @axes is looked for in the second input too
 *   %b %b0 %o2   the sizes of input b, one of them ($ the last), one of output 0's; %t its type; %n the number of
 *      inputs
 *   [1, -1] 2*@size/4    lists, products
 *   scatter_.value(r)    in place
 *   chain(add.Tensor)    all inputs, one after the other
 *   turned(a, @transA:0)    transposed where the attribute says so
 *   4: ... | 3: ...      by how many dimensions input a has
 */
#include "lower/matcher.h"
#include "torch/torch.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

struct reader {
    const char *p;
    struct lowering *l;
    struct matcher *x;
    const struct node *n;
    struct arg made[26];
    const char *target; /* of the last call: long sums have one */
};

static struct arg expression(struct reader *r);

static void
skip(struct reader *r)
{
    while (*r->p == ' ')
        r->p++;
}

static bool
eat(struct reader *r, char c)
{
    skip(r);
    if (*r->p != c)
        return false;
    r->p++;
    return true;
}

static struct arg
slot_arg(int slot)
{
    return (struct arg){.kind = ARG_SLOT, .i = slot};
}

static const struct tensor *
input_of(const struct reader *r, int k)
{
    return k < r->n->nin && r->n->in[k] >= 0 ? &r->l->g->t[r->n->in[k]] : NULL;
}

static struct arg
list(struct reader *r)
{
    struct arg a = {.kind = ARG_LIST, .list = NEWN(r->l->a, struct arg, MAX_ARGS)};
    while (!eat(r, ']')) {
        struct arg e = expression(r);
        if (a.n < MAX_ARGS)
            a.list[a.n++] = e;
        eat(r, ',');
    }
    return a;
}

/* %b, %b0, %o2, %n */
static struct arg
sizes(struct reader *r)
{
    char which = *r->p++;
    if (which == 'n')
        return INT(r->n->nin);
    if (which == 't')
        return DTYPE(r->l->g->t[r->n->out[0]].dtype);
    const struct tensor *t = which == 'o' ? &r->l->g->t[r->n->out[0]] : input_of(r, which - 'a');
    if (isdigit((unsigned char)*r->p) || *r->p == '$') {
        int d = *r->p == '$' ? (t ? t->rank : 0) - 1 : *r->p - '0';
        r->p++;
        return INT(t && d >= 0 && d < t->rank ? t->dims[d].n : -1);
    }
    struct arg a = {.kind = ARG_LIST};
    a.n = t && t->rank > 0 ? t->rank : 0;
    a.list = NEWN(r->l->a, struct arg, a.n + 1);
    for (int i = 0; i < a.n; i++)
        a.list[i] = INT(t->dims[i].n);
    return a;
}

static struct arg
integers(struct reader *r, int n, const int64_t *v)
{
    struct arg a = {.kind = ARG_LIST, .n = n, .list = NEWN(r->l->a, struct arg, n + 1)};
    for (int i = 0; i < n; i++)
        a.list[i] = INT(v[i]);
    return a;
}

/* @name:otherwise */
static struct arg
attribute(struct reader *r)
{
    const char *start = r->p;
    while (isalnum((unsigned char)*r->p) || *r->p == '_')
        r->p++;
    const char *name = arena_strn(r->l->a, start, (size_t)(r->p - start));
    struct arg otherwise = eat(r, ':') ? expression(r) : NONE;
    const struct attr *a = node_attr(r->n, name);
    const struct tensor *second = strcmp(name, "axes") == 0 ? input_of(r, 1) : NULL;
    if (a && a->type == ATTR_INT)
        return INT(a->i);
    if (a && a->type == ATTR_FLOAT)
        return FLT(a->f);
    if (a && a->type == ATTR_INTS && a->ints)
        return integers(r, a->n, a->ints);
    if (second && second->value && second->value->i)
        return integers(r, second->value->n, second->value->i);
    return otherwise;
}

/* What an argument that is no tensor makes of an operator. */
static const struct way {
    const char *name;
    bool sum; /* with NONE it is its other term */
    const char *by_number;
} ways[] = {
    {"add.Tensor", true, NULL},
    {"mul.Tensor", true, NULL},
    {"maximum.default", false, "clamp_min.default"},
    {"minimum.default", false, "clamp_max.default"},
};

static const struct way *
way_of(const char *name)
{
    static const struct way plain;
    for (int i = 0; i < COUNT(ways); i++)
        if (strcmp(ways[i].name, name) == 0)
            return &ways[i];
    return &plain;
}

static const char *
out_of_place(struct arena *a, const char *name, bool *in_place)
{
    const char *mark = strstr(name, "_.");
    *in_place = mark != NULL;
    return mark ? arena_printf(a, "%.*s%s", (int)(mark - name), name, mark + 1) : name;
}

static struct arg
call(struct reader *r, const char *name, int n, const struct arg *args)
{
    const struct way *w = way_of(name);
    if (w->sum && n == 2 && (args[0].kind == ARG_NONE || args[1].kind == ARG_NONE))
        return args[args[0].kind == ARG_NONE];
    if (!n || args[0].kind == ARG_NONE)
        return NONE;
    if (strcmp(name, "turned") == 0) {
        if (!args[1].i)
            return args[0];
        struct arg turn[] = {args[0], INT(-2), INT(-1)};
        return call(r, "transpose.int", 3, turn);
    }
    bool in_place;
    name = out_of_place(r->l->a, name, &in_place);
    bool number = n == 2 && is_numeral(&args[1]);
    const char *space = aten_space(name), *row = number && w->by_number ? w->by_number : name;
    if (!r->target || strncmp(r->target, space, strlen(space)) != 0 || strcmp(r->target + strlen(space), row) != 0)
        r->target = arena_printf(r->l->a, "%s%s", space, row);
    struct call *c = matcher_call(r->x, r->n, r->target, n);
    memcpy(c->args, args, sizeof(*args) * (size_t)n);
    if (in_place)
        lower_in_place(r->l, c);
    return slot_arg(c->outs[0]);
}

static struct arg
chain(struct reader *r)
{
    const char *start = r->p;
    r->p += strcspn(r->p, ")");
    const char *name = arena_strn(r->l->a, start, (size_t)(r->p - start));
    struct arg all = r->n->nin ? matcher_input(r->x, r->n, 0) : NONE;
    for (int k = 1; k < r->n->nin; k++) {
        struct arg two[] = {all, matcher_input(r->x, r->n, k)};
        all = call(r, name, 2, two);
    }
    eat(r, ')');
    return all;
}

static struct arg
term(struct reader *r)
{
    skip(r);
    if (eat(r, '['))
        return list(r);
    if (eat(r, '@'))
        return attribute(r);
    if (eat(r, '%'))
        return sizes(r);
    if (isdigit((unsigned char)*r->p) || *r->p == '-') {
        char *end;
        double f = strtod(r->p, &end);
        bool whole = !memchr(r->p, '.', (size_t)(end - r->p));
        r->p = end;
        return whole ? INT((int64_t)f) : FLT(f);
    }
    const char *start = r->p;
    while (isalnum((unsigned char)*r->p) || *r->p == '_' || *r->p == '.')
        r->p++;
    size_t len = (size_t)(r->p - start);
    const char *name = arena_strn(r->l->a, start, len);
    if (len == 1)
        return *name >= 'r' ? r->made[*name - 'a'] : matcher_input(r->x, r->n, *name - 'a');
    if (!eat(r, '('))
        return strcmp(name, "true") == 0 || strcmp(name, "false") == 0 ? BOOL(*name == 't')
               : strcmp(name, "none") == 0                             ? NONE
                                                                       : DTYPE(dtype_by_onnx(name));
    if (strcmp(name, "chain") == 0)
        return chain(r);
    struct arg args[MAX_ARGS];
    int n = 0;
    while (!eat(r, ')')) {
        struct arg a = expression(r);
        if (n < MAX_ARGS)
            args[n++] = a;
        eat(r, ',');
    }
    return call(r, name, n, args);
}

static struct arg
expression(struct reader *r)
{
    struct arg a = term(r);
    for (;;) {
        bool times = eat(r, '*');
        if (!times && !eat(r, '/'))
            return a;
        struct arg b = term(r);
        int64_t v = 0;
        if (a.kind == ARG_INT && b.kind == ARG_INT && times && !__builtin_mul_overflow(a.i, b.i, &v))
            a.i = v;
        else if (a.kind == ARG_INT && b.kind == ARG_INT && !times && b.i > 0)
            a.i /= b.i;
    }
}

/* The statements for a first input of that rank; NULL none. */
static const char *
statements(const char *text, int rank)
{
    for (const char *p = text; p; p = strchr(p, '|'), p = p ? p + strlen("| ") : NULL)
        if (!isdigit((unsigned char)p[0]) || p[1] != ':')
            return p;
        else if (p[0] - '0' == rank)
            return p + strlen("4:");
    return NULL;
}

bool
compose_node(struct lowering *l, struct matcher *x, const struct node *n)
{
    int rank = n->nin && n->in[0] >= 0 ? l->g->t[n->in[0]].rank : -1;
    struct reader r = {.l = l, .x = x, .n = n, .p = statements(n->row->calls, rank)};
    bool done = false;
    if (!r.p || n->nout < 1 || n->out[0] < 0)
        return false;
    for (; *r.p && *r.p != '|'; eat(&r, ';')) {
        char to = '0';
        skip(&r);
        if (r.p[1] == ' ' && r.p[2] == '=') {
            to = *r.p;
            r.p += 3;
        }
        struct arg a = expression(&r);
        int k = isdigit((unsigned char)to) ? to - '0' : -1;
        if (k < 0)
            r.made[to - 'a'] = a;
        else if (k < n->nout && n->out[k] >= 0 && a.kind == ARG_SLOT)
            matcher_define(x, n->out[k], (int)a.i);
        done |= k == 0 && a.kind == ARG_SLOT;
        skip(&r);
    }
    return done;
}

bool
compose_check(struct arena *a)
{
    bool ok = true;
    for (const struct op *o = NULL; (o = op_next(o));)
        for (const char *p = o->call == CALL_TEXT ? o->calls : "", *dot; (dot = strpbrk(p, "(")); p = dot + 1) {
            const char *start = dot;
            while (start > p && (isalnum((unsigned char)start[-1]) || strchr("_.", start[-1])))
                start--;
            const char *name = arena_strn(a, start, (size_t)(dot - start));
            bool own = strcmp(name, "turned") == 0 || strcmp(name, "chain") == 0;
            bool in_place;
            ok &= own || aten_find(out_of_place(a, name, &in_place)) != NULL;
        }
    return ok;
}
