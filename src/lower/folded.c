/* SPDX-License-Identifier: Apache-2.0 */
/* folded.c - what a line computes of one parameter and of numbers: "x * self.mix + y * (1 - self.mix.sigmoid())".
 *
 * The exporter folds it into a constant that has the name of the last operator. So the line is read, from the parameter
 * outward: methods and functions of each element, numbers beside it, brackets. What comes to the constant's operator is
 * what PyTorch runs.
 */
#include "lower/dynamo.h"
#include "torch/torch.h"

#include <ctype.h>
#include <string.h>

static bool
in_name(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '.';
}

/* Where the line of a module reads that parameter by its name, "self.gamma", from p on; NULL no more. */
static const char *
next_named(const struct dynamo *d, const char *line, const char *p, const char *path, const struct param *q)
{
    const char *text = strstr(p, "self.") && strstr(p, path_last(q->name))
                           ? arena_printf(d->l->a, "self.%s", q->name + (*path ? strlen(path) + 1 : 0))
                           : "";
    const size_t n = strlen(text);
    for (; n && (p = strstr(p, text)); p += n)
        if (!python_name(p + n) && (p == line || !in_name(p[-1])))
            return p;
    return NULL;
}

bool
folded_told(struct dynamo *d, const struct group *g, const struct tensor *t)
{
    const struct program *p = d->l->p;
    const char *path = g->path ? g->path : "", *line = fx_line_at(d, g->last), *list = t->folded_from;
    bool here = false, read = false, other = false;
    if (!list)
        return false;
    constant_ask(d, t);
    for (const struct param *q; (q = constant_next(d, &list));) {
        const char *at = p->modules[q->module].path;
        const bool own = path_within(at, path);
        here |= own || path_within(path, at);
        read |= own && next_named(d, line, line, path, q);
    }
    for (int i = 0; i < p->nparams && here && !read && !other; i++) {
        const struct param *q = &p->params[i];
        other = q->rank < 0 && !d->referenced[i] && path_within(p->modules[q->module].path, path) &&
                !constant_from(d, q) && next_named(d, line, line, path, q);
    }
    return here && (read || !other);
}

const struct tensor *
folded_elsewhere(struct dynamo *d, const struct group *g, const struct tensor *t)
{
    const struct module *modules = d->l->p->modules;
    const char *list = t->folded_from, *path = g->path ? g->path : "";
    const struct param *q = list && g->type ? constant_next(d, &list) : NULL;
    int at = q ? q->module : -1;
    while (at > 0 && !(modules[at].type && strcmp(modules[at].type, g->type) == 0))
        at = modules[at].parent;
    if (at <= 0 || strcmp(modules[at].path, path) == 0)
        return NULL;
    struct tensor *own = arena_dup(d->l->a, t, sizeof(*t));
    const char *from = arena_printf(d->l->a, "'%s.", modules[at].path), *rest = t->folded_from, *next;
    own->folded_from = "";
    for (; (next = strstr(rest, from)); rest = next + strlen(from))
        own->folded_from = arena_printf(d->l->a, "%s%.*s'%s.", own->folded_from, (int)(next - rest), rest, path);
    own->folded_from = arena_printf(d->l->a, "%s%s", own->folded_from, rest);
    return folded_told(d, g, own) ? own : NULL;
}

enum { MOST_OPERATIONS = 8 };

struct expression {
    const char *line, *from, *to; /* what of the line it is so far */
    int nops;
    struct operation {
        const char *target;   /* "": in fp32 */
        const char *names[2]; /* what the exporter calls what it makes, as "aten.sub" */
        int nargs;
    } op[MOST_OPERATIONS];
};

enum { SUM = 1, PRODUCT, POWER };

/* Signs between two operands, how tight they bind, and what they run with a number behind, or before. */
static const struct sign {
    const char *text;
    int binds;
    const char *behind, *before, *then; /* then: on what that made, with another number */
    const char *names[2];
} signs[] = {{"**", POWER, "aten.pow.Tensor_Scalar", NULL, NULL, {"aten.pow"}},
             {"+", SUM, "aten.add.Tensor", "aten.add.Tensor", NULL, {"aten.add"}},
             {"-", SUM, "aten.sub.Tensor", REFLECTED, NULL, {"aten.sub", "aten.rsub"}},
             {"*", PRODUCT, "aten.mul.Tensor", "aten.mul.Tensor", NULL, {"aten.mul"}},
             /* __rtruediv__ in torch/_tensor.py */
             {"/", PRODUCT, "aten.div.Tensor", "aten.reciprocal.default", "aten.mul.Tensor", {"aten.div", "aten.mul"}},
             {"@", PRODUCT, NULL, NULL, NULL, {NULL}},
             {"%", PRODUCT, NULL, NULL, NULL, {NULL}}},
  minus = {"-", SUM, NULL, "aten.neg.default", NULL, {"aten.neg"}};

static const struct sign *
sign_at(const char *p)
{
    for (int i = 0; i < COUNT(signs); i++)
        if (starts_with(p, signs[i].text))
            return &signs[i];
    return NULL;
}

/* The one that ends before p, from the line's start on. */
static const struct sign *
sign_before(const char *line, const char *p)
{
    return p > line + 1 && p[-1] == '*' && p[-2] == '*' ? sign_at(p - 2) : p > line ? sign_at(p - 1) : NULL;
}

static const char *
spaces_before(const char *line, const char *p)
{
    while (p > line && p[-1] == ' ')
        p--;
    return p;
}

/* How long the number is that begins there; 0 none. */
static size_t
number_at(const char *p)
{
    const size_t n =
        isdigit((unsigned char)*p) || (*p == '.' && isdigit((unsigned char)p[1])) ? strspn(p, "0123456789.") : 0;
    const size_t e = n && p[n] == 'e' ? 1 + strspn(p + n + 1, "0123456789-+") : 0;
    return n && !in_name(p[n + e]) ? n + e : 0;
}

/* Where the number begins that ends there; NULL none does. */
static const char *
number_before(const char *line, const char *end)
{
    const char *p = end;
    while (p > line && (in_name(p[-1]) || ((p[-1] == '-' || p[-1] == '+') && p > line + 1 && p[-2] == 'e')))
        p--;
    return p < end && number_at(p) == (size_t)(end - p) ? p : NULL;
}

static bool
add_operation(struct expression *e, const char *target, const char *const *names, int nargs)
{
    if (!target || e->nops == MOST_OPERATIONS)
        return false;
    e->op[e->nops++] = (struct operation){target, {names[0], names[1]}, nargs};
    return true;
}

/* The bracket that ends the arguments which begin there, numbers and names of them at most; NULL there are others. */
static const char *
end_of_numbers(const char *p)
{
    p += strspn(p, " ,=.-0123456789abcdefghijklmnopqrstuvwxyz_");
    return *p == ')' ? p : NULL;
}

/* A function of each element, of that name, with one argument. */
static bool
add_function(struct expression *e, struct arena *a, const char *name, size_t n)
{
    const struct aten *op = aten_find(arena_printf(a, "aten.%.*s", (int)n, name));
    if (n == strlen("float") && strncmp(name, "float", n) == 0)
        return add_operation(e, "", (const char *[]){"", NULL}, 1);
    const char *const names[] = {arena_printf(a, "aten.%.*s", (int)n, name), NULL};
    return op && op->grad && aten_elementwise(op) && add_operation(e, arena_printf(a, "aten.%s", op->name), names, 1);
}

/* ".exp()" behind it. */
static bool
read_method(struct expression *e, struct arena *a)
{
    const size_t n = *e->to == '.' ? python_name(e->to + 1) : 0;
    const char *end = n && e->to[1 + n] == '(' ? end_of_numbers(e->to + n + 2) : NULL;
    if (!end || !add_function(e, a, e->to + 1, n))
        return false;
    e->to = end + 1;
    return true;
}

/* Brackets around it, which may be a function's: "torch.exp(", "F.softplus(". */
static bool
read_brackets(struct expression *e, struct arena *a)
{
    const char *open = spaces_before(e->line, e->from), *close = e->to + strspn(e->to, " "), *name = open - 1;
    if (open == e->line || open[-1] != '(' || (*close != ')' && *close != ','))
        return false;
    while (name > e->line && in_name(name[-1]))
        name--;
    const char *last = name;
    for (const char *p = name; p < open - 1; p++)
        last = *p == '.' ? p + 1 : last;
    const size_t n = (size_t)(open - 1 - last);
    close = n ? end_of_numbers(close) : *close == ')' ? close : NULL;
    if (!close || (n && !add_function(e, a, last, n)))
        return false;
    e->from = name;
    e->to = close + 1;
    return true;
}

/* A number beside it, or a minus before: the tighter of the signs, the first of two that are alike. */
static bool
read_sign(struct expression *e)
{
    const char *left = spaces_before(e->line, e->from), *right = e->to + strspn(e->to, " ");
    const struct sign *before = sign_before(e->line, left), *behind = sign_at(right);
    const char *start = before ? spaces_before(e->line, left - strlen(before->text)) : NULL;
    if (before && (start == e->line || strchr("(,=[", start[-1]))) { /* it has one operand */
        if (*before->text != *minus.text || (behind && behind->binds > minus.binds) ||
            !add_operation(e, minus.before, minus.names, 1))
            return false;
        e->from = left - 1;
        return true;
    }
    if (before && (!behind || behind->binds <= before->binds)) {
        const char *number = number_before(e->line, start);
        const char *outer = number ? spaces_before(e->line, number) : NULL;
        const struct sign *other = outer ? sign_before(e->line, outer) : NULL;
        const bool whole =
            number && (other ? other->binds < before->binds : outer > e->line && strchr("(,=[", outer[-1]));
        if (!whole || !add_operation(e, before->before, before->names, before->then ? 1 : 2) ||
            (before->then && !add_operation(e, before->then, before->names, 2)))
            return false;
        e->from = number;
        return true;
    }
    const char *number = behind ? right + strlen(behind->text) : NULL;
    const size_t n = number ? number_at(number += strspn(number, " ")) : 0;
    const struct sign *other = n ? sign_at(number + n + strspn(number + n, " ")) : NULL;
    if (!n || (other && other->binds > behind->binds) || !add_operation(e, behind->behind, behind->names, 2))
        return false;
    e->to = number + n;
    return true;
}

/* Reads outward from what stands at [from, to) until it comes to the operator of that name. */
static bool
read_expression(struct expression *e, struct arena *a, const char *name)
{
    bool there = false;
    while (!there && (read_method(e, a) || read_sign(e) || read_brackets(e, a))) {
        const struct operation *last = e->nops ? &e->op[e->nops - 1] : NULL;
        for (int i = 0; last && i < COUNT(last->names) && last->names[i]; i++)
            there |= strcmp(last->names[i], name) == 0;
    }
    return there;
}

/* Runs the operations on it. */
static int
run_operations(struct dynamo *d, const struct group *g, const struct expression *e, int slot)
{
    for (int i = 0; i < e->nops; i++) {
        if (!*e->op[i].target) {
            slot = group_to_float(d, g, slot);
            continue;
        }
        struct call *c = group_call(d, g, e->op[i].target, e->op[i].nargs);
        c->args[0] = (struct arg){.kind = ARG_SLOT, .i = slot};
        if (e->op[i].nargs > 1)
            c->args[1] = INT(1);
        slot = c->outs[0];
    }
    return slot;
}

static bool
same_size(const struct param *q, int rank, const int64_t *size)
{
    return q->rank == rank && memcmp(q->size, size, sizeof(*size) * (size_t)rank) == 0;
}

/* What the group's function made of a parameter of these sizes before, element by element; -1 nothing. */
static int
made_before(struct dynamo *d, const struct group *g, int rank, const int64_t *size)
{
    const struct program *p = d->l->p;
    const struct param **of = program_params(p, d->l->a);
    for (int i = p->ncalls - 1; i >= 0; i--) {
        const struct call *c = &p->calls[i];
        const struct param *q =
            c->op && c->nargs && c->args[0].kind == ARG_SLOT && c->args[0].i >= 0 ? of[c->args[0].i] : NULL;
        if (q && q->kind <= PARAM_FROZEN && same_size(q, rank, size) && aten_elementwise(c->op) &&
            strcmp(p->modules[c->scope].path, g->path ? g->path : "") == 0)
            return c->outs[0];
    }
    return -1;
}

int
folded_expression(struct dynamo *d, const struct group *g, const char *stem, const struct tensor *t)
{
    struct program *p = d->l->p;
    const char *line = fx_line_at(d, g->last), *path = g->path ? g->path : "";
    int rank;
    const int64_t *size;
    if (!dtypes[t->dtype].is_float || !lower_sizes(d->l, t, &rank, &size))
        return -1;
    for (int pass = 0; pass < 2 && strstr(line, "self."); pass++) /* what nothing has read is first */
        for (int i = 0; i < p->nparams; i++) {
            struct param *q = &p->params[i];
            if (q->kind > PARAM_FROZEN || !constant_may_be(d, q) || (q->rank < 0) == pass ||
                (pass && !same_size(q, rank, size)) || !path_within(p->modules[q->module].path, path))
                continue;
            const size_t n = strlen("self.") + strlen(q->name) - (*path ? strlen(path) + 1 : 0);
            for (const char *at = line; (at = next_named(d, line, at, path, q)); at += n) {
                struct expression e = {.line = line, .from = at, .to = at + n};
                if (!read_expression(&e, d->l->a, stem))
                    continue;
                params_sized(d->l, q, rank, size);
                d->referenced[i] = true;
                return run_operations(d, g, &e, q->slot);
            }
        }
    for (const char *at = line; *at && rank > 0; at += python_name(at) + !python_name(at)) { /* "1 - g" */
        struct expression e = {.line = line, .from = at, .to = at + python_name(at)};
        if (e.to == at || isdigit((unsigned char)*at) || (*e.to && strchr(".(", *e.to)) ||
            (at > line && at[-1] == '.') || !read_expression(&e, d->l->a, stem))
            continue;
        const int slot = made_before(d, g, rank, size);
        return slot < 0 ? -1 : run_operations(d, g, &e, slot);
    }
    return -1;
}

/* The next of the trained parameters that the constant was folded from; NULL no more. */
static const struct param *
next_trained(struct dynamo *d, const char **list)
{
    const struct param *q;
    while ((q = constant_next(d, list)) && q->kind != PARAM_TRAINED)
        ;
    const ptrdiff_t at = q ? q - d->l->p->params : -1;
    if (q && (!d->folded[at] || constant_by_element(d, d->constant)))
        d->folded[at] = d->constant;
    if (q)
        d->referenced[at] |= q->rank >= 0;
    return q;
}

/* The transpose of the only parameter that the constant was folded from, of any size; -1 it is none. */
static int
folded_turned(struct dynamo *d, const struct group *g, const char *op)
{
    const char *list = d->constant ? d->constant->folded_from : NULL;
    struct param *q = list ? constant_next(d, &list) : NULL;
    int rank;
    const int64_t *size;
    if (!q || q->rank >= 0 || constant_next(d, &list) || !spelled(op, TRANSPOSES) ||
        !lower_sizes(d->l, d->constant, &rank, &size) || rank != 2)
        return -1;
    params_sized(d->l, q, 2, (int64_t[]){size[1], size[0]});
    d->referenced[q - d->l->p->params] = true;
    struct call *c = group_call(d, g, "aten.t.default", 1);
    c->args[0] = (struct arg){.kind = ARG_SLOT, .i = q->slot};
    return c->outs[0];
}

int
folded_of(struct dynamo *d, const struct group *g, const char *op)
{
    const int turned = folded_turned(d, g, op);
    if (turned >= 0)
        return turned;
    const char *list = d->constant ? d->constant->folded_from : NULL;
    int slot = -1;
    const struct param *q = next_trained(d, &list);
    while (q) {
        const struct param *other = slot < 0 ? next_trained(d, &list) : q;
        struct call *c = group_call(d, g, "aten.folded_of.default", 4);
        c->args[0] = (struct arg){.kind = ARG_SLOT, .i = slot < 0 ? q->slot : slot};
        c->args[1] = other ? (struct arg){.kind = ARG_SLOT, .i = other->slot} : NONE;
        c->args[2] = (struct arg){.kind = ARG_TEXT, .s = op};
        c->args[3] = DTYPE(d->constant->dtype);
        lower_sizes(d->l, d->constant, &c->rank, &c->size);
        slot = c->outs[0];
        q = next_trained(d, &list);
    }
    return slot;
}
