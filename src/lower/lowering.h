/* SPDX-License-Identifier: Apache-2.0 */
/* lowering.h - a program under construction, shared by dynamo.c (exports that carry their calls), patterns.c (those
 * that do not) and compose.c (operators that are several calls). */
#ifndef LOWERING_H
#define LOWERING_H

#include "base/setup.h"
#include "lower/lower.h"

struct lowering {
    struct arena *a;
    struct graph *g;
    const struct setup *s;
    struct program *p;
    struct names *slots;   /* name in the traced program to slot */
    struct names *modules; /* path to module */
    struct names *params;  /* name to parameter, the first of that name */
    struct {
        const char *path;
        int module;
    } asked;                       /* last: a call asks for its module several times */
    int *slot_of;                  /* per tensor of the graph; -1 none: constants, shapes */
    bool *facts;                   /* which of facts.c were used; NULL none */
    struct fact_index *fact_index; /* of facts.c; NULL not asked yet */
    struct fact_asked *fact_asked; /* likewise */
};

struct lowering *lowering_new(struct graph *g, const struct setup *s);
int lower_slot(struct lowering *l);
int lower_module(struct lowering *l, const char *path, const char *type);
/* Per slot whether a gradient goes to it: the trained parameters'. */
bool *lower_trained(const struct program *p, struct arena *a);
/* Whether a gradient goes to what the call reads; its results are noted. Call after call, in order. */
bool lower_grows(const struct call *c, bool *grows);
/* "classifier.2" of "classifier.3": the path before that of a Sequential's module; NULL none. */
const char *lower_before(struct lowering *l, const char *path);
struct param *lower_param(struct lowering *l, const char *name, enum param_kind kind);
void lower_param_shape(struct lowering *l, struct param *q, const struct tensor *t);
bool lower_sizes(struct lowering *l, const struct tensor *t, int *rank, const int64_t **size);
/* A call with one output slot; arguments are ARG_NONE until filled. The pointer is good until the next call. */
struct call *lower_call(struct lowering *l, const char *target, int nargs);
/* The same in front of call `at`, of the node and the module of call `of`, which may be that one. */
struct call *lower_call_at(struct lowering *l, int at, int of, const char *target, int nargs);
/* What call `at` makes first is made to require a gradient, by a call of its own behind that one. */
void lower_requires_grad(struct lowering *l, int at);
bool lower_reads(const struct call *c, int slot);
/* A constant of one element whose value is known; NONE otherwise. */
struct arg lower_number(const struct tensor *t);
/* So many output slots for it, new ones. */
void lower_results(struct lowering *l, struct call *c, int n);
void lower_inputs(struct lowering *l);
void lower_outputs(struct lowering *l);
/* Whether node `last` could write tensor `out` over tensor `in`: same sizes, made by the model, not read afterwards. */
bool lower_may_overwrite(const struct graph *g, int in, int out, int last, bool inputs);
/* Whether an activation writes in place that may be told either way, which is said. */
bool lower_overwrites(struct lowering *l, const char *target);

/* It writes over its first argument: the operator's own row for that, where it has one. */
void lower_in_place(struct lowering *l, struct call *c);
/* A cast of a slot, "aten.to.dtype" or "aten.to_like", of the node and place of call `of`, but not among the program's
 * calls yet. */
struct call lower_cast(struct lowering *l, int of, const char *target, int slot, struct arg to);
/* Calls to put among the program's, each before call `at` of these, and by turns where several are. */
struct added {
    int at, turn;
    struct call call;
};
void lower_insert(struct lowering *l, struct added *added, int n);

/* "layer1.0.conv1" of the node "/layer1/layer1.0/conv1/Conv". */
const char *lower_node_module(struct arena *a, const struct node *n);
/* Nothing else runs in the node's module, which has a name. */
bool lower_is_module(const struct lowering *l, const struct node *n);

/* traced.c: lines of what runs under torch.no_grad, from another run of it or of what it is a copy of. */
void traced_lines(struct lowering *l);
/* regions.c: which of what has a graph's code for its lines runs under torch.no_grad; what it is else is a doubt. */
void regions_weigh(struct lowering *l);
/* The region of that traced call runs under torch.no_grad, unless it is measured with gradients. */
void regions_no_grad(struct lowering *l, int i);
/* What the line of a call in a region says of its argument k: "to" of "pow(to, 2)". */
const char *regions_argument(struct arena *a, const struct call *c, int k);
/* Per call, whether it is of a checkpoint with use_reentrant=True, or of what is behind one. */
bool *regions_go_on(struct lowering *l, struct arena *a);

/* unread.c: doubts where a line made, in one of its runs, less than in others. */
void unread_doubt(struct lowering *l);

/* captured.c: files whose calls memlint's own export captured. */
void lower_captured(struct lowering *l);

/* patterns.c: files without recorded calls. */
void lower_patterns(struct lowering *l);

/* lost.c: what those files lost, put back call by call; then the assumptions are stated. */
struct lost {
    struct lowering *l;
    struct names *modules;  /* paths of all modules that nodes and weights name */
    bool evaluation;        /* dropout would have been removed */
    bool trained;           /* no: the export was made in training mode */
    bool unfolded;          /* perhaps: by default an export in evaluation mode folds transposes of weights */
    bool in_place, dropout; /* put back somewhere */
    const bool *detached;   /* per node: perhaps; NULL none */
};
struct lost lost_new(struct lowering *l);
void lost_after(struct lost *x, const struct node *n, int call);
void lost_end(const struct lost *x);
/* Of an export in evaluation mode that shows no dropout, where it would show none. */
void lost_unseen(struct lowering *l);

/* ---- spelled.c: how PyTorch's exporter spells operators ---------------------------------------------------------- */

/* What an operator does that tells what became of it in a file, or of what stood beside it. */
enum trait {
    KEEPS_SIZES = 1 << 0,  /* when the other operand is a number: "1 + weight" of Gemma's norm */
    MAKES_TABLES = 1 << 1, /* of positions, from no parameter */
    HAS_IDENTITY = 1 << 2, /* with 0 or 1, which the exporter drops */
    TRANSPOSES = 1 << 3,   /* a weight, which the exporter then folds */
    LOOKS_UP = 1 << 4,     /* rows of a table, perhaps all of them */
    MAY_SLICE = 1 << 5,    /* a buffer, which is then a constant, or is read itself */
    COPIES = 1 << 6,       /* a clone: dropout in evaluation mode, or the copy of contiguous() and reshape */
    CASTS = 1 << 7,        /* to the type of another tensor */
    IS_NUMBER = 1 << 8,    /* no tensor of the step */
    IS_SIZE = 1 << 9,      /* likewise */
    NORMALIZES = 1 << 10,  /* in fp32, and is cast back to its input's type */
    ATTENDS = 1 << 11,  /* takes a boolean mask as its fourth tensor, and no other boolean one; drops out by itself */
    PROJECTS = 1 << 12, /* takes an input of its result's rank, a matrix and a vector */
    PROMOTES = 1 << 13, /* to the type of what it is multiplied with; the kernel does that by itself */
    CONVERTS = 1 << 14, /* a weight, to another type */
    CASTS_TO = 1 << 15, /* a type */
    ADDS_PRODUCT = 1 << 16, /* of a matrix that is not transposed */
    CONVOLVES = 1 << 17,
    SCALES = 1 << 18, /* channels, by a vector */
    RECTIFIES = 1 << 19,
    OVERWRITES = 1 << 20, /* its input, where its module was told so */
    MULTIPLIES = 1 << 21,
    SUBTRACTS = 1 << 22,
    SQUARES = 1 << 23,
    INVERTS_ROOT = 1 << 24,
    CONTRACTS = 1 << 25,
    CHOOSES = 1 << 26,
    TRAINS = 1 << 27,  /* a batch norm, which the exporter saw in evaluation mode */
    IS_LOST = 1 << 28, /* memlint's own, for a call that left no node */
    IS_COPY = 1 << 29, /* likewise: dropout or a copy */
    IS_SAME = 1 << 30, /* as its input */
};

/* Whether a target, "aten.add.Tensor", or a name that the traced program gave to a result, "add_3", is of an operator
 * with one of these traits. */
bool spelled(const char *name, enum trait t);

/* ---- facts.c: what libraries' sources say that a file does not show ---------------------------------------------- */

enum fact_kind {
    FACT_ADDS_MASK,   /* to what that operator made */
    FACT_ADAPTS,      /* its input in the type of what it adapts with */
    FACT_ASKS,        /* for a gradient of what its first line makes */
    FACT_BUFFER,      /* not trained */
    FACT_DROPS,       /* with that probability */
    FACT_DROPS_APART, /* in a line of its own */
    FACT_DROPS_RESULT,
    FACT_DROPPED,
    FACT_ALONE,
    FACT_FROZEN,
    FACT_INPUT_TO_FLOAT, /* where the line calls that function */
    FACT_INPUT_TO_WEIGHT,
    FACT_MASKS_ALWAYS,
    FACT_MASKS_TRACE, /* by that operator */
    FACT_IN_PLACE,
    FACT_NORM_BACK,
    FACT_NORM_BACK_AT_END,
    FACT_NORM_TO_WEIGHT,
    FACT_OFTEN_IN_PLACE, /* as people write it */
    FACT_ONE_OPERATOR,   /* that one */
    FACT_OUT_OF_PLACE,
    FACT_RESULT_TO_INPUT,
    FACT_RESULT_TO_QUERY,
    FACT_RESULT_TO_VALUE,
    FACT_RESULT_TO_WEIGHT, /* by which its input was multiplied */
    FACT_RETURNS,          /* what it makes in its input's type, or in that of what a module inside makes */
    FACT_SIZE,             /* "int64 1 @NAME": the type, then numbers or the rows of the parameter that ends so;
                            * "<NAME", ">NAME": rows, or what is in one, of one in the module around */
    FACT_TRAINED,          /* a parameter */
    FACT_UNDROPPED,
    FACT_WEIGHTS, /* of attention are returned */
    FACT_WEIGHTS_WITHHELD,
    FACT_COUNT
};

struct fact {
    const char *library, *version; /* the version whose source was read */
    enum fact_kind kind;
    const char *source;        /* file: name */
    const char *arg;           /* NULL: the kind says all */
    const char *type, *around; /* globs: class of the module; of that or another around it */
    const char *path, *op,
        *beside; /* glob of the module's path ("!" any other); an operator; another module of the model */
};

extern const struct fact fact_table[];
extern const int fact_count;
void fact_print(const struct fact *f, FILE *out); /* a line of --list=facts */

/* Where something stands; NULL not known. */
struct place {
    const char *type, *around[5], *path, *op;
    const struct names *modules; /* of a file without classes: the paths of all modules */
    const char *line[8];         /* of the program, which runs there: what it says against a fact counts */
};
/* The next fact after f that holds there, of the kinds whose bits are set; NULL none, or for the first. It counts as
 * used. */
const struct fact *fact_next(struct lowering *l, const struct fact *f, unsigned kinds, const struct place *p);
/* Whether there is one; none counts as used. */
bool fact_holds(struct lowering *l, unsigned kinds, const struct place *p);
/* The first of a module's class; NULL none. */
const struct fact *fact_of(struct lowering *l, const char *type, enum fact_kind kind);
/* It does not hold after all: it is not used. */
void fact_drop(struct lowering *l, const struct fact *f);
/* States the facts that were used, as assumptions. */
void fact_assume(struct lowering *l);
struct place fact_place(struct lowering *l, const char *path, const char *op);
/* The classes of a module and of the nearest ones around it that are called, so many at most. */
void fact_around(struct lowering *l, const char *path, const char **around, int most);

bool compose_check(struct arena *a); /* every row names framework operators: for tests */
/* A node that unroll.c made: the file recorded no call for it. */
void lower_made(struct lowering *l, int node);

#endif
