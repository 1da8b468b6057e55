/* SPDX-License-Identifier: Apache-2.0 */
/* edit.h - programs rewritten as another author would have written them. Between rules.c, which has them measured, and
 * edit.c. */
#ifndef EDIT_H
#define EDIT_H

#include "advice/advice.h"
#include "base/setup.h"

enum { MANY_ENTRIES = 1000, CHUNKS = 8, NARROW = 128 };

struct advice;

struct edit {
    struct arena *a;
    struct advice *advice; /* for edits of rules.c that look further than the program */
    struct setup setup;
    struct program *program;   /* to be written to */
    const struct program *was; /* before the edit */
    int **uses;                /* of its slots: how often each is read; NULL not counted yet */
    int places;                /* that changed */
    int64_t size;              /* what an edit of sizes began with */
    const char *location;      /* of the first place */
    const char *what, *with;   /* names of the model that the edit is about */
    int nnames, cap_names;     /* likewise, where there may be many: parameters */
    const char **names;
    bool reload;                                     /* other dimensions: the program is made again */
    void (*look)(const struct step *st, void *seen); /* at the edited step; NULL nobody */
    void *seen;
    const struct measured *known; /* the step with this edit alone, where it was run already; NULL it was not */
};

/* An edit of s and p; both stay as they are. */
struct edit edit_new(struct arena *a, const struct setup *s, const struct program *p);
/* Likewise, but of none of p's calls, parameters or sizes. */
struct edit edit_setup(struct arena *a, const struct setup *s, const struct program *p);

/* Each looks for its places and changes them all; places stays 0 where there are none. */
void edit_attention(struct edit *e);     /* softmax(q k^T) v to scaled_dot_product_attention */
void edit_gelu(struct edit *e);          /* tanh and erf by hand to gelu */
void edit_layer_norm(struct edit *e);    /* (x - mean) / sqrt(variance + eps) * w + b to layer_norm */
void edit_rms_norm(struct edit *e);      /* x * rsqrt(mean(x^2) + eps) * w to rms_norm */
void edit_chunks(struct edit *e);        /* head and cross-entropy in CHUNKS parts, each under checkpoint */
void edit_in_place(struct edit *e);      /* activations that may write over their input */
void edit_no_bias(struct edit *e);       /* biases before a batch norm */
void edit_tied(struct edit *e);          /* head.weight = embedding.weight */
void edit_equal_tables(struct edit *e);  /* tables of one shape become one */
void edit_shared_table(struct edit *e);  /* a head reads the narrower table of another embedding through a projection */
void edit_narrow_table(struct edit *e);  /* the largest table NARROW wide, with projections */
void edit_tables_on_cpu(struct edit *e); /* tables that only embeddings read */
void edit_sparse_tables(struct edit *e); /* the same tables with gradients of the rows that are read */
void edit_half_vocabulary(struct edit *e);
void edit_half_length(struct edit *e);
void edit_length(struct edit *e, int64_t to); /* every sample of that length, where the file fixes one */
void edit_unused_parameters(struct edit *e);
void edit_unused_outputs(struct edit *e);

/* The projection onto many classes that makes the first output; NULL none. */
const struct call *edit_head(const struct program *p);
/* The shortest length that the program's windows accept instead of the fixed one. */
int64_t edit_shortest(const struct program *p, int64_t length);
/* Entries of the vocabulary that takes most parameters; 0 none. */
int64_t edit_entries(const struct program *p);
bool edit_is_table(const struct program *p, const struct param *q); /* an embedding reads it */
bool edit_owns(const struct param *q);                              /* a parameter with a tensor of its own */
int64_t edit_elements(const struct param *q);

#endif
