/* SPDX-License-Identifier: Apache-2.0 */
/* lowering.h - a program under construction, shared by lower.c (exports that carry their calls), patterns.c (those that do not) and
 * compose.c (operators that are several calls). */
#ifndef LOWERING_H
#define LOWERING_H

#include "lower/lower.h"

struct lowering {
    struct arena *a;
    struct graph *g;
    const struct setup *s;
    struct program *p;
    struct names *slots;   /* name in the traced program to slot */
    struct names *modules; /* path to module */
    int *slot_of;          /* per tensor of the graph; -1 none: constants, shapes */
};

struct lowering *lowering_new(struct graph *g, const struct setup *s);
int lower_slot(struct lowering *l);
int lower_module(struct lowering *l, const char *path, const char *type);
struct param *lower_param(struct lowering *l, const char *name, enum param_kind kind);
void lower_param_shape(struct lowering *l, struct param *q, const struct tensor *t);
bool lower_sizes(struct lowering *l, const struct tensor *t, int *rank, const int64_t **size);
/* A call with one output slot; arguments are ARG_NONE until filled. The pointer is good until the next call. */
struct call *lower_call(struct lowering *l, const char *target, int nargs);
void lower_inputs(struct lowering *l);
void lower_outputs(struct lowering *l);
/* Whether node `last` could write tensor `out` over tensor `in`: same sizes, made by the model, not read afterwards. */
bool lower_may_overwrite(const struct graph *g, int in, int out, int last);

/* patterns.c: files without recorded calls. */
void lower_patterns(struct lowering *l);
/* "layer1.0.conv1" of the node "/layer1/layer1.0/conv1/Conv". */
const char *lower_node_module(struct arena *a, const struct node *n);

/* lost.c: what those files lost, put back call by call; then the assumptions are stated. */
struct lost {
    struct lowering *l;
    struct names *modules;  /* paths of all modules that nodes and weights name */
    bool evaluation;        /* dropout would have been removed */
    bool in_place, dropout; /* put back somewhere */
};
struct lost lost_new(struct lowering *l);
void lost_after(struct lost *x, const struct node *n, int call);
void lost_end(const struct lost *x);
struct matcher;
struct arg matcher_input(struct matcher *x, const struct node *n, int k);
struct call *matcher_call(struct matcher *x, const struct node *n, const char *target, int nargs);
void matcher_define(struct matcher *x, int tensor, int slot); /* what a call made is this tensor of the file */
/* compose.c: the calls that a node stands for whose row has a text; false when that has none for these inputs. */
bool lower_composed(struct lowering *l, struct matcher *x, const struct node *n);
bool compose_check(struct arena *a); /* every row names framework operators: for tests */
/* A node that unroll.c made: the file recorded no call for it. */
void lower_made(struct lowering *l, int node);

#endif
