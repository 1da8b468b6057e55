/* SPDX-License-Identifier: Apache-2.0 */
/* matcher.h - a file without recorded calls being lowered, shared by patterns.c (what its nodes stand for), forms.c
 * (those that are one operator together) and compose.c (those that are several calls). */
#ifndef MATCHER_H
#define MATCHER_H

#include "lower/lowering.h"

#include <string.h>

struct matcher {
    struct lowering *l;
    struct graph *g;
    bool *data;                          /* per node: carries data of the step */
    const struct pattern **match;        /* per node: the pattern that ends here */
    const struct form **form;            /* likewise, a form */
    bool *covered;                       /* per node: inside a pattern that ends elsewhere */
    int *written, nwritten, cap_written; /* calls that write into a part of a tensor, by index or through a view */
    int again, shared;                   /* a tensor that a module makes again, -1 none; its slot for others */
    struct names *params;                /* initializer (or alias) name to param */
    bool by_torch;                       /* PyTorch's exporter wrote the file */
    bool scoped;                         /* names of nodes begin with a module's */
    bool in_constants;                   /* another converter did, and keeps weights in Constant nodes */
};

/* ---- constants and parameters ------------------------------------------------------------------------------------ */

static inline bool
is(const struct node *n, const char *op)
{
    return strcmp(n->op, op) == 0 && !*n->domain;
}

static inline bool
is_numeral(const struct arg *a)
{
    return a->kind == ARG_INT || a->kind == ARG_FLOAT;
}

/* An input that the operator can't do without is missing. */
static inline bool
broken(const struct node *n)
{
    int least = n->row && n->row->least ? n->row->least : 1;
    for (int k = 0; k < least; k++)
        if (k >= n->nin || n->in[k] < 0)
            return true;
    return false;
}

/* A tensor by its id: one that is omitted has no type and no name. */
static inline const struct tensor *
tensor_at(const struct matcher *x, int tensor)
{
    static const struct tensor omitted = {.name = "", .wrap = "", .rank = -1, .declared_rank = -1, .producer = -1};
    return tensor < 0 ? &omitted : &x->g->t[tensor];
}

static inline const struct node *
maker(const struct matcher *x, int tensor)
{
    int at = tensor < 0 ? -1 : x->g->t[tensor].producer;
    /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): an id has a tensor */
    return at < 0 || broken(&x->g->n[at]) ? NULL : &x->g->n[at];
}

/* The initializer that a tensor is another name of, by an Identity; otherwise the tensor. */
int matcher_origin(const struct matcher *x, int tensor);

static inline bool
matcher_initial(const struct matcher *x, int tensor)
{
    return tensor_at(x, matcher_origin(x, tensor))->is_initializer;
}

/* An initializer that TorchScript's exporter computed, whose name it is: "onnx::Conv_27", and "27" by versions up to
 * 1.10; constant folding came with 1.2. */
bool matcher_renamed(const struct matcher *x, int tensor);
/* The value of a constant of one element. */
bool matcher_number(const struct matcher *x, int tensor, double *v);
/* Whether the file has its value: a weight, a constant. */
bool matcher_constant(const struct matcher *x, int tensor);
/* The parameter behind an initializer, made at its first use; role is its name where the file has none. */
struct param *matcher_param(struct matcher *x, int tensor, const struct node *user, const char *role, bool transposed,
                            bool buffer);
/* A tensor as an argument: a slot, a number, or a parameter made on the way. */
struct arg matcher_arg(struct matcher *x, const struct node *n, int tensor, const char *role);
/* A tensor that is made anew, of which the file has what became of it: its sizes and its type. */
struct arg matcher_folded(struct matcher *x, const struct node *n, int tensor);
/* Input k of a node, NONE where it is omitted. */
struct arg matcher_input(struct matcher *x, const struct node *n, int k);
/* A call in the place of a node. */
struct call *matcher_call(struct matcher *x, const struct node *n, const char *target, int nargs);
/* What a call made is this tensor of the file. */
void matcher_define(struct matcher *x, int tensor, int slot);

/* Integers that the file has, at most max of them: how many. */
int matcher_integers(const struct matcher *x, int tensor, int64_t *out, int max);
struct arg matcher_ints(struct matcher *x, int n, const int64_t *v);
/* The axes of a reduction or a squeeze: an attribute in older opsets, an input later; NONE for all. */
struct arg matcher_axes(struct matcher *x, const struct node *n);
/* By the names that PyTorch's exporter gives to nodes. */
bool matcher_same_module(const struct matcher *x, const struct node *n, const struct node *m);

/* forms.c: the operator whose last node this is, which covers the others; NULL none. */
const struct form *forms_match(struct matcher *x, const struct node *n);
/* Its call, in the place of that node. */
void forms_call(struct matcher *x, const struct node *n, const struct form *f);

/* compose.c: the calls that a node stands for whose row has a text; false when that has none for these inputs. */
bool compose_node(struct lowering *l, struct matcher *x, const struct node *n);

#endif
