/* SPDX-License-Identifier: Apache-2.0 */
/* graph.h - what ONNX says: a graph, its shapes and values. */
#ifndef GRAPH_H
#define GRAPH_H

#include "base/base.h"

struct setup;   /* base/setup.h */
struct binding; /* likewise */
struct program; /* program/program.h */

/* ---- the graph --------------------------------------------------------------------------------------------------- */

/* A dimension: n >= 0 is known; otherwise n is -1 and sym, when set, is its symbol or expression ("batch",
 * "197*batch"). */
struct dim {
    int64_t n;
    const char *sym;
};

/* A constant whose value matters: a small initializer, or what value propagation found. Integers, booleans and floats
 * of up to limit(LIMIT_FOLD) elements. Exactly one of i and f is set, by dtype; unknown elements of a partly known
 * value have known[k] false (known is NULL when all are known). */
struct constant {
    int n;
    int64_t *i;
    double *f;
    bool *known;
};

/* The elements of a sequence, in order: their types and shapes. */
struct sequence {
    int n;
    const struct tensor **elem;
};

/* A value of the graph. Type "seq(float)" is wrap "s" with dtype float, "optional(seq(float))" is "os". */
struct tensor {
    const char *name;
    enum dtype dtype;
    const char *wrap; /* "" for plain tensors; letters from outside in: s sequence, o optional, m map, p sparse */
    int rank;         /* -1 unknown */
    struct dim *dims;
    int producer; /* node, or -1 for inputs, initializers and outer values */
    bool is_input, is_output, is_initializer;
    int64_t file_bytes;           /* initializers: bytes of their data in the file or beside it */
    const struct constant *value; /* NULL unknown */
    const struct tensor *outer;   /* in a subgraph: the enclosing graph's value of that name */
    const char *fx_name;          /* graph outputs and inputs: pkg.torch.onnx.original_node_name */
    const char *folded_from;      /* pkg.onnxscript.optimizer.folded_from: "['a', 'b']", the names of all values that a
                                   * folded constant was computed of; NULL none */
    int declared_rank;            /* what value_info said, -1 nothing; shapes.c compares */
    struct dim *declared;
    enum dtype declared_dtype;  /* likewise; undefined: nothing */
    bool contradicted;          /* value_info said something else than shapes.c found */
    const struct sequence *seq; /* a sequence whose elements are all known, else NULL */
    int nusers, *users;         /* nodes that read it, ascending, once each */
};

struct graph;

struct attr {
    const char *name;
    enum {
        ATTR_NONE,
        ATTR_FLOAT,
        ATTR_INT,
        ATTR_STRING,
        ATTR_TENSOR,
        ATTR_GRAPH,
        ATTR_FLOATS,
        ATTR_INTS,
        ATTR_STRINGS,
        ATTR_OTHER
    } type;
    int64_t i;
    double f;
    const char *s; /* NUL-terminated copy */
    int n;         /* elements of the repeated kinds */
    const int64_t *ints;
    const double *floats;
    const char **strings;
    const struct tensor *t; /* type, dims and, when small, value */
    struct graph *g;
    const char *ref; /* in a function body: the attribute of the call that this one stands for */
};

struct op;

struct node {
    const char *op, *domain, *overload, *name; /* domain "" is the default one (also written ai.onnx) */
    int nin, nout;
    int *in, *out; /* tensor ids; -1 for an omitted optional */
    int nattr;
    struct attr *attr;
    const struct op *row; /* NULL unknown operator */
    /* What PyTorch's exporter recorded, NULL where it did not. Metadata keys: reference lowering in
     * docs/ARCHITECTURE.md */
    const char *fx;      /* pkg.torch.onnx.fx_node */
    const char *scopes;  /* name_scopes, a Python list repr */
    const char *classes; /* class_hierarchy */
    const char *stack;   /* stack_trace */
    const char *rules;   /* pkg.onnxscript.rewriter.rule_name */
    bool made;           /* by unroll.c: no node of the file */
    /* What the texts say, NULL not read yet: lower/dynamo.h */
    const struct record *record;
};

/* A model-local function; attr holds its attributes, those with a default with their value. */
struct function {
    const char *domain, *name, *overload;
    struct graph *body;
    int nattr;
    struct attr *attr;
    bool active; /* being inlined */
};

struct graph {
    struct arena *arena;
    const struct program *first;   /* that the file became, of which others take what its text alone tells; NULL none */
    struct fact_index *fact_index; /* of lower/facts.c; NULL none */
    struct stacks *stacks;         /* of lower/fx.c; NULL none */
    struct names *told, *most;     /* of lower/resolve.c, by so many calls; NULL none */
    int ntold;
    struct derivatives *derivatives;                            /* of torch/eager.c; NULL none */
    const char *file;                                           /* as given on the command line */
    const char *name, *producer, *producer_version, *signature; /* signature: pkg.torch.export...graph_signature */
    const char *packaged;  /* the domain "pkg.torch.VERSION", which torch.onnx.dynamo_export imports; NULL no such */
    bool unread;           /* root graph only: of lower/unread.c: lines made what the file does not have */
    bool runtime;          /* a domain of ONNX Runtime's own layouts is imported, as in all that it saves */
    int ir_version, opset; /* opset of the default domain */
    int nmetadata, cap_metadata;
    struct metadata {
        const char *key, *value;
    } * metadata;                /* root graph only: properties of the model whose key begins with "memlint." */
    const struct shapes *shapes; /* root graph only: what its dimensions are bound to; NULL not yet */
    int64_t file_bytes;
    int nt, cap_t;
    struct tensor *t;
    int nn, cap_n;
    struct node *n; /* topologically ordered */
    int nin, nout;
    int *in, *out; /* tensor ids; inputs without those that are initializers */
    struct names *by_name;
    struct graph *parent; /* the enclosing graph of a subgraph */
    int unrolled;         /* nodes more than the file has, since unroll.c */
    int nf, cap_f;
    struct function *f;  /* root graph only; graph_finish puts their bodies in place of the calls */
    const char *leading; /* the dimension that --dim batch binds under another name; NULL none */
    int nidle, cap_idle;
    const char **idle; /* root graph only: lines of a flag file that bind nothing here */
    int ndoubts, cap_doubts;
    struct doubt *doubts; /* root graph only */
};

/* ---- graph.c ----------------------------------------------------------------------------------------------------- */

/* An empty graph; a subgraph takes file and opset from its parent. */
struct graph *graph_new(struct arena *a, struct graph *parent);
/* The same nodes and tensors, with doubts of its own. */
struct graph graph_apart(const struct graph *g, struct arena *a);
/* The tensor of that name, created without a type when there is none. */
int graph_tensor(struct graph *g, const char *name);
int graph_find(const struct graph *g, const char *name);
/* Notes that the file imports that domain. */
void graph_import(struct graph *g, const char *domain);
/* The version of PyTorch that wrote the file, 211 of "2.11.0+cu130"; 0 not PyTorch, or not told. */
int graph_torch(const struct graph *g);
struct node *graph_node(struct graph *g);
/* Inlines functions, orders nodes, fills users and rows. False and e: duplicate outputs, cycles, missing inputs. */
bool graph_finish(struct graph *g, struct err *e);
/* For unroll.c, which rewrites a finished graph. A tensor like t, called PREFIX/NAME. */
int graph_fresh(struct graph *g, const char *prefix, const struct tensor *t);
/* A node of a subgraph as one of g: map gives the tensor of g for each of body's. */
struct node graph_copy_node(struct graph *g, const struct graph *body, const struct node *from, const int *map);
/* Finds again what the subgraphs in g capture; g's tensors may have moved. */
void graph_capture(struct graph *g);
/* Finds producers, captures and users again; the nodes are in order. */
void graph_renumber(struct graph *g);
void graph_describe(struct graph *g, const char *key, const char *value); /* a property of the model */
const char *graph_metadata(const struct graph *g, const char *key);       /* NULL none */
/* The number that an expression of dimensions has now, "2*batch"; -1 unknown or negative. */
int64_t graph_number(const struct graph *g, const char *expression);
const struct attr *node_attr(const struct node *n, const char *name);
int64_t node_int(const struct node *n, const char *name, int64_t otherwise);
double node_float(const struct node *n, const char *name, double otherwise);
const char *node_str(const struct node *n, const char *name, const char *otherwise);
/* Elements of a tensor: product of the dims; -1 unknown. */
int64_t tensor_elements(const struct tensor *t);
/* The doubt that was added, for who knows more than SURE_CALLS. */
struct doubt *graph_doubt(struct graph *g, const char *node, const char *op, const char *remedy, const char *fmt, ...)
    PRINTF(5, 6);

/* ---- ops.c: the ONNX operator table ------------------------------------------------------------------------------ */

/* What a rule looks at and sets: one node. Inputs and outputs are NULL where omitted. infer.h. */
struct infer {
    struct graph *g;
    const struct node *n;
    struct shapes *run;
    int nin, nout;
    struct tensor **in, **out;
    const char *why; /* a doubt: why a shape stays open, or that sizes contradict each other */
};

/* Which of a node's inputs and attributes were the arguments of the call that a Python program made: patterns.c has a
 * function for each. */
enum op_call {
    CALL_NONE, /* not known; with a framework operator and one result: all inputs */
    CALL_TEXT, /* several calls, or arguments in another order: a text */
    CALL_LIKE, /* what another operator is, then a sum, then the activation that an attribute names */
    CALL_ALL,
    CALL_FIRST,
    CALL_ALIAS,
    CALL_ARG_REDUCE,
    CALL_AVG_POOL,
    CALL_AXIS,
    CALL_BATCH_NORM,
    CALL_CAST,
    CALL_CLAMP,
    CALL_CONCAT,
    CALL_CONV,
    CALL_CONV_TRANSPOSE,
    CALL_DFT,
    CALL_DROPOUT,
    CALL_EINSUM,
    CALL_EXPAND,
    CALL_FACTORY,
    CALL_GATHER,
    CALL_GATHER_ND,
    CALL_GEMM,
    CALL_GLOBAL_POOL,
    CALL_GROUP_NORM,
    CALL_IDENTITY,
    CALL_INSTANCE_NORM,
    CALL_LAYER_NORM,
    CALL_LSTM,
    CALL_MAX_POOL,
    CALL_NORM_1,
    CALL_NORM_2,
    CALL_PAD,
    CALL_PERMUTE,
    CALL_PICK,
    CALL_POW,
    CALL_REDUCE,
    CALL_RESIZE,
    CALL_RNN,
    CALL_SCATTER_ND,
    CALL_SLICE,
    CALL_SPLIT,
    CALL_STFT,
    CALL_TOPK,
    CALL_WHERE,
    CALL_COUNT
};

/* What else tells an operator from others. */
enum op_trait {
    OP_CONSTANT = 1,    /* its value stands in the file */
    OP_SIZES = 2,       /* of its input: numbers of the program, not a tensor */
    OP_MAKES = 4,       /* a tensor of such numbers */
    OP_COORDINATES = 8, /* reads lists of them, where PyTorch has an index a dimension */
    OP_DRAWS = 16,      /* by chance, as what drops paths does in training alone */
};

enum { NO_INPUT = -1 };

struct unroll;

struct op {
    const char *domain, *name;
    int since, until;              /* opsets that this row describes; until 0: no end */
    void (*shape)(struct infer *); /* output types and shapes */
    void (*value)(struct infer *); /* constant propagation, NULL none */
    const char *aten; /* the framework operator it is one to one, or NULL: lowered by a pattern or not at all */
    /* What a Python program wrote, for files that recorded no calls. */
    enum op_call call;
    const char *calls; /* what it called, where that is not aten: operator, text (lower/compose.c), what it is like */
    const char *data;  /* digits: positions of the inputs that carry data; the others are settings. NULL: all do */
    int least;         /* how many inputs it can't do without; 0: the first */
    unsigned is;       /* enum op_trait */
    bool (*flow)(struct unroll *, const struct node *); /* puts what it stands for in its place; false: it stays */
};
/* The row for an operator at an opset of its domain, or NULL. */
const struct op *op_find(const char *domain, const char *name, int opset);
/* All rows, one after another: for (const struct op *o = NULL; (o = op_next(o));) */
const struct op *op_next(const struct op *o);
bool node_is(const struct node *n, enum op_trait t);
/* How the operator of a node was called; CALL_NONE where it has no row. */
enum op_call node_call(const struct node *n);
void op_list(FILE *out); /* --list=ops */

/* ---- bind.c, shapes.c -------------------------------------------------------------------------------------------- */

/* Binds dimensions from s, runs shape and value rules over g in order. Total: what stays unknown gets a doubt.
 * Evaluates dims that are expressions of symbols ("197*batch", "(s0 + 1)//2"). False and e only when an option
 * contradicts the model (no input or dimension of that name, a rank that differs) or input dimensions stay unbound and
 * need_bound is set: the message then lists them with an example command line. What a flag file binds in vain is
 * noted in g->idle instead. */
bool shapes_run(struct graph *g, const struct setup *s, bool need_bound, struct err *e);
/* A copy of s in which every named dimension of an input that nobody bound is 1, each with a doubt that says so: a
 * number for a first look. */
struct setup shapes_bind_open(struct graph *g, const struct setup *s);
/* The binding of the dimension called batch; NULL none. */
struct binding *setup_batch(const struct setup *s);
void shapes_dump(const struct graph *g, FILE *out); /* --dump=shapes */

#endif
