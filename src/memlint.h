/* memlint.h - what the passes share, in the order in which they run.
 *
 *   scan > load > graph > shapes > lower > expand > step > live > heap > rules > reports
 *
 * onnx/ is the border: it may refuse a file, and says so in a struct err. From shapes on no pass fails; what a
 * pass does not know is recorded (graph_doubt) and reported. Everything a pass returns lives in the run's arena.
 * Bytes are int64_t and their names end in "bytes"; ids are dense from 0, -1 means none.
 */
#ifndef MEMLINT_H
#define MEMLINT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define COUNT(a) ((int)(sizeof(a) / sizeof((a)[0])))
#define PRINTF(f, a) __attribute__((format(printf, f, a)))
#define NORETURN __attribute__((noreturn))

enum exit_code { EXIT_CLEAN = 0, EXIT_GATE = 1, EXIT_USAGE = 2, EXIT_MODEL = 3, EXIT_ENVIRONMENT = 4 };

/* ---- util.c: memory, text, tables of names -------------------------------------------------------------- */

struct arena;

struct arena *arena_new(void);
void arena_free(struct arena *a);
/* Zeroed bytes, aligned for any type; never NULL (dies with exit 4 when the machine has no more). */
void *arena_alloc(struct arena *a, size_t bytes);
void *arena_dup(struct arena *a, const void *p, size_t bytes);
char *arena_str(struct arena *a, const char *s);
char *arena_strn(struct arena *a, const char *s, size_t n);
char *arena_printf(struct arena *a, const char *fmt, ...) PRINTF(2, 3);
/* Grows an arena array to hold at least n elements; the old contents are kept. Returns the (moved) array. */
void *arena_grow(struct arena *a, void *array, int *cap, int n, size_t size);
size_t arena_bytes(const struct arena *a);

#define NEW(a, type) ((type *)arena_alloc((a), sizeof(type)))
#define NEWN(a, type, n) ((type *)arena_alloc((a), sizeof(type) * (size_t)(n)))
/* Appends a zeroed element to array (with int count n and int capacity cap) and yields a pointer to it. */
#define PUSH(a, array, n, cap) \
    ((array) = arena_grow((a), (array), &(cap), (n) + 1, sizeof(*(array))), &(array)[(n)++])

/* A map from strings to ints; keys are kept by reference. */
struct names;
struct names *names_new(struct arena *a);
/* The id of s, or -1. */
int names_find(const struct names *m, const char *s);
/* Sets the id of s. */
void names_put(struct names *m, const char *s, int id);

/* A fault of the model: filled once, at the border only. */
struct err {
    const char *file, *place, *message, *remedy;
};
/* Fills e and returns false, so that a caller can `return err_set(...)`. Texts are formatted into a. place may be NULL. */
bool err_set(struct err *e, struct arena *a, const char *place, const char *fmt, ...) PRINTF(4, 5);

/* Environment failure: prints "memlint: ..." and exits 4. For util.c and main.c only. */
void die(const char *fmt, ...) PRINTF(1, 2) NORETURN;

/* Checked 64-bit arithmetic: false on overflow or a negative factor. */
bool mul_ok(int64_t a, int64_t b, int64_t *out);
bool add_ok(int64_t a, int64_t b, int64_t *out);

/* "5.1 GiB", for people. Static rotating buffers are not used: the text lives in a. */
const char *bytes_text(struct arena *a, int64_t bytes);
/* Reads 24GiB, 512MB, 1e9, 1073741824: bytes, or -1. */
int64_t bytes_parse(const char *text);
/* Shell-style match of * ? and [...]; a star matches dots too. */
bool glob_match(const char *glob, const char *text);

/* ---- element types (util.c) ------------------------------------------------------------------------------ */

/* The values are ONNX's TensorProto.DataType. Source: onnx.proto. */
enum dtype {
    DT_UNDEFINED, DT_FLOAT, DT_UINT8, DT_INT8, DT_UINT16, DT_INT16, DT_INT32, DT_INT64, DT_STRING, DT_BOOL, DT_FLOAT16,
    DT_DOUBLE, DT_UINT32, DT_UINT64, DT_COMPLEX64, DT_COMPLEX128, DT_BFLOAT16, DT_FLOAT8E4M3FN, DT_FLOAT8E4M3FNUZ,
    DT_FLOAT8E5M2, DT_FLOAT8E5M2FNUZ, DT_UINT4, DT_INT4, DT_FLOAT4E2M1, DT_FLOAT8E8M0, DT_UINT2, DT_INT2, DT_COUNT
};

struct dtype_row {
    const char *onnx;  /* name in ONNX's text syntax: float, int64, bfloat16 */
    const char *torch; /* PyTorch's: float32, int64; NULL when it has none */
    int bits;          /* of one element; 0 for strings */
    bool is_float;     /* can carry a gradient */
};
extern const struct dtype_row dtypes[DT_COUNT];

/* Bytes of n elements of type t, rounded up to whole bytes; -1 when n < 0. */
int64_t dtype_bytes(enum dtype t, int64_t n);
enum dtype dtype_by_onnx(const char *name);
enum dtype dtype_by_torch(const char *name);

/* ---- onnx/: the border: bytes or text to a graph ------------------------------------------------------------ */

enum { LIMIT_FOLD = 4096, LIMIT_RANK = 64 };

/* A dimension: n >= 0 is known; otherwise n is -1 and sym, when set, is its symbol or expression ("batch", "197*batch"). */
struct dim {
    int64_t n;
    const char *sym;
};

/* A constant whose value matters: a small initializer, or what value propagation found. Integers, booleans and
 * floats of up to LIMIT_FOLD elements. Exactly one of i and f is set, by dtype; unknown elements of a partly known
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
    int producer;     /* node, or -1 for inputs, initializers and outer values */
    bool is_input, is_output, is_initializer;
    int64_t file_bytes;            /* initializers: bytes of their data in the file or beside it */
    const struct constant *value;  /* NULL unknown */
    const struct tensor *outer;    /* in a subgraph: the enclosing graph's value of that name */
    const char *fx_name;           /* graph outputs and inputs: pkg.torch.onnx.original_node_name */
    int declared_rank;             /* what value_info said, -1 nothing; shapes.c compares */
    struct dim *declared;
    bool contradicted;             /* value_info said something else than shapes.c found */
    const struct sequence *seq;    /* a sequence whose elements are all known, else NULL */
    int nusers, cap_users, *users; /* nodes that read it, ascending, once each */
};

struct graph;

struct attr {
    const char *name;
    enum { ATTR_NONE, ATTR_FLOAT, ATTR_INT, ATTR_STRING, ATTR_TENSOR, ATTR_GRAPH, ATTR_FLOATS, ATTR_INTS, ATTR_STRINGS,
           ATTR_OTHER } type;
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
    /* What PyTorch's exporter recorded, NULL where it did not. Metadata keys: reference lowering in docs/ARCHITECTURE.md */
    const char *fx;      /* pkg.torch.onnx.fx_node */
    const char *scopes;  /* name_scopes, a Python list repr */
    const char *classes; /* class_hierarchy */
    const char *stack;   /* stack_trace */
    const char *rules;   /* pkg.onnxscript.rewriter.rule_name */
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
    const char *file;     /* as given on the command line */
    const char *name, *producer, *producer_version, *signature; /* signature: pkg.torch.export...graph_signature */
    int ir_version, opset; /* opset of the default domain */
    int64_t file_bytes;
    int nt, cap_t;
    struct tensor *t;
    int nn, cap_n;
    struct node *n; /* topologically ordered */
    int nin, nout;
    int *in, *out; /* tensor ids; inputs without those that are initializers */
    struct names *by_name;
    struct graph *parent; /* the enclosing graph of a subgraph */
    int nf, cap_f;
    struct function *f; /* root graph only; graph_finish puts their bodies in place of the calls */
    int ndoubts, cap_doubts;
    struct doubt *doubts; /* root graph only */
};

/* Something memlint does not know: reported as unexplained; the result is then inconclusive. */
struct doubt {
    const char *node, *op, *why, *remedy; /* remedy: the option that would settle it, or NULL */
};
void graph_doubt(struct graph *g, const char *node, const char *op, const char *remedy, const char *fmt, ...) PRINTF(5, 6);

/* Reads an ONNX file in binary (or, when its name ends in .txt or .onnxtxt, in ONNX text syntax) form. Weights are never read; external data
 * files need not exist. Returns NULL and fills e when the file is refused. The graph has functions inlined, names
 * interned, nodes in topological order. */
struct graph *onnx_load(struct arena *a, const char *path, struct err *e);
struct graph *onnx_parse_text(struct arena *a, const char *path, const char *text, struct err *e);
/* Prints a graph in ONNX text syntax: --dump=graph. */
void onnx_print_text(const struct graph *g, FILE *out);
/* Reads one serialized TensorProto (--input-value): type, dims and, when small, the value. NULL and e on a bad file. */
const struct tensor *onnx_load_tensor(struct arena *a, const char *path, struct err *e);

/* ---- graph.c ------------------------------------------------------------------------------------------------- */

/* An empty graph; a subgraph takes file and opset from its parent. */
struct graph *graph_new(struct arena *a, struct graph *parent);
/* The tensor of that name, created without a type when there is none. */
int graph_tensor(struct graph *g, const char *name);
int graph_find(const struct graph *g, const char *name);
struct node *graph_node(struct graph *g);
/* Inlines functions, orders nodes, fills users and rows. False and e: duplicate outputs, cycles, missing inputs. */
bool graph_finish(struct graph *g, struct err *e);
const struct attr *node_attr(const struct node *n, const char *name);
int64_t node_int(const struct node *n, const char *name, int64_t otherwise);
double node_float(const struct node *n, const char *name, double otherwise);
const char *node_str(const struct node *n, const char *name, const char *otherwise);
/* Elements of a tensor: product of the dims; -1 unknown. */
int64_t tensor_elements(const struct tensor *t);

/* ---- set-up: what the command line says about the training step ------------------------------------------------ */

struct binding {
    const char *name;
    int64_t n;
};

struct input_shape {
    const char *name;
    int rank;
    int64_t *dims;
};

struct input_value {
    const char *name;
    const struct tensor *t;
};

enum mode { MODE_TRAINING, MODE_INFERENCE };
enum dropout { DROPOUT_AUTO, DROPOUT_NONE };
enum attention { ATTENTION_AUTO, ATTENTION_FLASH, ATTENTION_EFFICIENT, ATTENTION_MATH };

struct optimizer; /* step.c */
struct precision; /* expand.c */
struct loss;      /* step.c */
struct loop;      /* step.c */
struct device;    /* heap.c */

struct setup {
    int ndims, nshapes, nvalues, nfreeze;
    struct binding *dims;
    struct input_shape *shapes;
    struct input_value *values;
    const char **freeze; /* globs over qualified parameter names */
    enum mode mode;
    const struct optimizer *optimizer;
    const struct precision *precision;
    const struct loss *loss; /* never NULL: the row "auto" is resolved by step_build */
    const struct loop *loop;
    int micro_batches; /* accumulate-N: N, else 1 */
    enum dropout dropout;
    bool accumulate_eager;        /* --assume accumulate=eager|never */
    enum attention attention;
    bool inplace_relu;            /* --assume inplace=relu */
    const struct device *device;  /* NULL when not asked */
    int64_t capacity;             /* bytes of --device SIZE or of the row; 0 not asked */
    bool expandable;              /* --allocator expandable */
};

/* ---- ops.c: the ONNX operator table -------------------------------------------------------------------------------- */

/* What a rule looks at and sets: one node. Inputs and outputs are NULL where omitted. infer.h. */
struct infer {
    struct graph *g;
    const struct node *n;
    struct shapes *run;
    int nin, nout;
    struct tensor **in, **out;
};

struct op {
    const char *domain, *name;
    int since, until;                /* opsets that this row describes; until 0: no end */
    void (*shape)(struct infer *);   /* output types and shapes */
    void (*value)(struct infer *);   /* constant propagation, NULL none */
    const char *aten;                /* the framework operator it is one to one, or NULL: lowered by a pattern or not at all */
};
/* The row for an operator at an opset of its domain, or NULL. */
const struct op *op_find(const char *domain, const char *name, int opset);
void op_list(FILE *out); /* --list=ops */

/* ---- shapes.c ---------------------------------------------------------------------------------------------------------- */

/* Binds dimensions from s, runs shape and value rules over g in order. Total: what stays unknown gets a doubt.
 * Evaluates dims that are expressions of symbols ("197*batch", "(s0 + 1)//2"). False and e only when an option
 * contradicts the model (unknown input name, a rank that differs) or input dimensions stay unbound and need_bound is
 * set: the message then lists them with an example command line. */
bool shapes_run(struct graph *g, const struct setup *s, bool need_bound, struct err *e);
void shapes_dump(const struct graph *g, FILE *out); /* --dump=shapes */
/* For rules of control flow: runs the rules over a subgraph, whose inputs the caller has filled. False when the budget
 * of visits is spent; what the subgraph computes is then unknown. */
bool shapes_subgraph(struct infer *in, struct graph *sub);
/* A constant to fill, every element unknown; NULL when n is over LIMIT_FOLD, the type has no numbers, or the run's
 * budget is spent. */
struct constant *shapes_constant(struct infer *in, enum dtype t, int64_t n);

/* ---- lower.c, expand.c, aten.c, step.c, live.c, heap.c ------------------------------------------------------------------------- */

enum phase { PHASE_BUILD, PHASE_INPUT, PHASE_FORWARD, PHASE_LOSS, PHASE_BACKWARD, PHASE_UPDATE, PHASE_COUNT };
extern const char *const phase_names[PHASE_COUNT];

/* Why bytes are there. At every instant the classes sum to the allocated bytes. */
enum class {
    CLASS_PARAMETERS, CLASS_BUFFERS, CLASS_GRADIENTS, CLASS_OPTIMIZER, CLASS_SAVED, CLASS_TEMPORARIES, CLASS_WORKSPACE,
    CLASS_INPUTS, CLASS_OUTPUTS, CLASS_COUNT
};
extern const char *const class_names[CLASS_COUNT];


/* ---- the result: the only thing reports see --------------------------------------------------------------------------------- */

enum verdict { VERDICT_OK, VERDICT_GATE_FAILED, VERDICT_DOES_NOT_FIT, VERDICT_INCONCLUSIVE };
extern const char *const verdict_names[]; /* "ok" "gate-failed" "does-not-fit" "inconclusive" */

struct live_tensor {   /* one storage alive at the peak */
    const char *name;  /* "blocks.0.qkv.weight", "grad of ...", "linear_3" */
    int64_t bytes;     /* as allocated: rounded up to 512 */
    int rank;
    const int64_t *shape;
    const char *dtype; /* PyTorch's name */
    enum class class;
    const char *born;      /* "forward, aten.addmm.default" */
    const char *needed_by; /* "backward of aten.gelu.default", "held by Python name `out`" */
    const char *node;      /* ONNX node, or NULL */
    const char *location;  /* "file.py:123", else the scope, else NULL */
};

struct layer {                /* one module, depth first; depth 0 is the model */
    const char *path, *type;  /* "blocks.0.qkv", "torch.nn.modules.linear.Linear" or NULL */
    int depth;
    int64_t parameters, parameter_bytes; /* own and below */
    int64_t saved_bytes;      /* what autograd keeps of its forward pass, storages counted once */
    int64_t output_bytes;     /* of the operators inside */
    int64_t flops;            /* forward, 2 a multiply-add */
};

struct instant { /* one change of the allocated bytes in the step */
    enum phase phase;
    const char *op, *location; /* operator that runs */
    int64_t class_bytes[CLASS_COUNT];
};

struct finding {
    const char *rule, *severity, *certainty, *message, *location, *how;
    int nnodes;
    const char **nodes;
    int64_t saves_bytes, peak_after;
    double extra_flops_percent;
};

struct fit {
    const char *device;
    int64_t capacity;
    const char *verdict; /* "fits", "tight", "does not fit" */
    int64_t largest_batch; /* -1 unknown */
};

struct thumb { /* a rule of thumb beside memlint's number */
    const char *name, *formula, *leaves_out;
    int64_t bytes;
};

struct result {
    struct {
        const char *file, *producer;
        int opset, nodes;
        int64_t parameters, parameter_bytes, trainable_parameters, buffer_bytes;
    } model;
    struct {
        const char *mode, *optimizer, *precision, *loss, *loop, *device, *allocator;
        int64_t batch; /* -1 when no dimension is called so */
        int ndims;
        const struct binding *dims;
        int nassumptions;
        const char **assumptions;
    } setup;
    enum verdict verdict;
    struct {
        int64_t allocated, reserved, device;
        enum phase phase;
        const char *op, *node, *location;
        int instant; /* index into instants */
    } peak;
    struct { int64_t model, inputs, forward, backward, step; } after; /* allocated bytes when that part was done; -1 not run */
    struct { int64_t forward, backward, step; } peak_until;
    int64_t class_bytes[CLASS_COUNT]; /* at the peak */
    int nlive;
    struct live_tensor *live; /* largest first */
    int nlayers;
    struct layer *layers;
    int ninstants;
    struct instant *instants;
    struct { int64_t parameters, gradients, optimizer, activations, total; } rule_of_thumb; /* the first thumb's parts */
    int nthumbs;
    struct thumb *thumbs;
    int nfits;
    struct fit *fits;
    int nfindings;
    struct finding *findings;
    int ndoubts;
    const struct doubt *doubts;
};

/* ---- reports/: views of one const struct result -------------------------------------------------------------------------- */

struct format {
    const char *name, *extension, *help;
    /* Writes r to out; false when the stream failed. colour and width concern text only. */
    bool (*write)(const struct result *r, FILE *out, bool colour, int width);
};
extern const struct format formats[];
extern const int nformats;
const struct format *format_by_name(const char *name);
const struct format *format_by_extension(const char *path);
/* Writes a report to path by way of a temporary file beside it: all or nothing. On failure returns false and says why in *why. */
bool report_write(const struct result *r, const struct format *f, const char *path, const char **why);

#endif
