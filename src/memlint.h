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

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define COUNT(a)     ((int)(sizeof(a) / sizeof((a)[0])))
#define PRINTF(f, a) __attribute__((format(printf, f, a)))
#define NORETURN     __attribute__((noreturn))

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
/* From now on all arenas together take at most limit(LIMIT_MEMORY); what would be more jumps to *over, with 1,
 * or 2 when it can't be a size. NULL ends that. */
void arena_guard(jmp_buf *over);
/* Frees the arenas that were made after a. */
void arena_free_newer(const struct arena *a);

#define NEW(a, type)     ((type *)arena_alloc((a), sizeof(type)))
#define NEWN(a, type, n) ((type *)arena_alloc((a), sizeof(type) * (size_t)(n)))
/* Appends a zeroed element to array (with int count n and int capacity cap) and yields a pointer to it. */
#define PUSH(a, array, n, cap) ((array) = arena_grow((a), (array), &(cap), (n) + 1, sizeof(*(array))), &(array)[(n)++])

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

/* realloc for what can't live in an arena. The caller frees. */
void *grow_or_die(void *p, size_t bytes);

/* Checked 64-bit arithmetic: false on overflow or a negative factor. */
bool mul_ok(int64_t a, int64_t b, int64_t *out);
static inline int64_t
div_up(int64_t n, int64_t by)
{
    return (n + by - 1) / by;
}
bool add_ok(int64_t a, int64_t b, int64_t *out);
/* For qsort and bsearch: ints that are 0 or more. */
int by_number(const void *a, const void *b);
/* The whole part of v; what does not fit is the nearest number that does, and NaN is 0. */
int64_t to_int(double v);

/* "5.1 GiB", for people. Static rotating buffers are not used: the text lives in a. */
const char *bytes_text(struct arena *a, int64_t bytes);
/* Reads 24GiB, 24g, 512 MB, 1e9, 1073741824: bytes, or -1. */
int64_t bytes_parse(const char *text);
/* Whether two names differ in case, hyphens, underscores and blanks at most. */
bool word_same(const char *a, const char *b);
/* Those of the names that were probably meant by word, "adam or adamw"; NULL when none is near. */
const char *words_near(struct arena *a, const char *word, int n, const char *const *names);
/* Whether a name of the model may stand in a command or a program that people paste: letters, digits and _.-:/ alone. */
bool is_pasteable(const char *s);
/* Shell-style match of * ? and [...]; a star matches dots too. */
bool glob_match(const char *glob, const char *text);

/* ---- limits.c: how much of a model is taken ----------------------------------------------------------------- */

enum limit { /* the rows of --list=limits */
             LIMIT_MEMORY,
             LIMIT_MESSAGES,
             LIMIT_SKELETON,
             LIMIT_NODES,
             LIMIT_TENSORS,
             LIMIT_REPEATED,
             LIMIT_PROPERTIES,
             LIMIT_NAME,
             LIMIT_METADATA,
             LIMIT_ATTRIBUTE,
             LIMIT_TEXT,
             LIMIT_FOLD,
             LIMIT_FOLDED,
             LIMIT_INLINED,
             LIMIT_UNROLLED,
             LIMIT_PARTS,
             LIMIT_FRAMES,
             LIMIT_BASELINE,
             LIMIT_LIST,
             LIMIT_DEPTH,
             LIMIT_RANK,
             LIMIT_CALLS,
             LIMIT_SEQUENCE,
             LIMIT_WINDOW,
};
/* Those that can't be moved. */
enum { MAX_DEPTH = 100, MAX_RANK = 64, MAX_CALLS = 64, MAX_SEQUENCE = 64, MAX_WINDOW = 1 << 30 };
int64_t limit(enum limit which);
const char *limit_name(int i); /* NULL past the last */
/* Sets a limit, for the whole program; returns what is wrong, or NULL. */
const char *limit_set(struct arena *a, const char *name, int64_t n);
/* Fills e and returns false: what, which the limit ended, and how to raise it. */
bool err_limit(struct err *e, struct arena *a, const char *place, enum limit which, const char *what);
/* The option that raises a limit, for a doubt; NULL when none does. */
const char *limit_remedy(struct arena *a, enum limit which);
void limits_list(FILE *out);

/* ---- element types (util.c) ------------------------------------------------------------------------------ */

/* The values are ONNX's TensorProto.DataType. Source: onnx.proto. */
enum dtype {
    DT_UNDEFINED,
    DT_FLOAT,
    DT_UINT8,
    DT_INT8,
    DT_UINT16,
    DT_INT16,
    DT_INT32,
    DT_INT64,
    DT_STRING,
    DT_BOOL,
    DT_FLOAT16,
    DT_DOUBLE,
    DT_UINT32,
    DT_UINT64,
    DT_COMPLEX64,
    DT_COMPLEX128,
    DT_BFLOAT16,
    DT_FLOAT8E4M3FN,
    DT_FLOAT8E4M3FNUZ,
    DT_FLOAT8E5M2,
    DT_FLOAT8E5M2FNUZ,
    DT_UINT4,
    DT_INT4,
    DT_FLOAT4E2M1,
    DT_FLOAT8E8M0,
    DT_UINT2,
    DT_INT2,
    DT_COUNT
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

/* A dimension: n >= 0 is known; otherwise n is -1 and sym, when set, is its symbol or expression ("batch", "197*batch"). */
struct dim {
    int64_t n;
    const char *sym;
};

/* A constant whose value matters: a small initializer, or what value propagation found. Integers, booleans and
 * floats of up to limit(LIMIT_FOLD) elements. Exactly one of i and f is set, by dtype; unknown elements of a partly known
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
    int declared_rank;            /* what value_info said, -1 nothing; shapes.c compares */
    struct dim *declared;
    bool contradicted;             /* value_info said something else than shapes.c found */
    const struct sequence *seq;    /* a sequence whose elements are all known, else NULL */
    int nusers, cap_users, *users; /* nodes that read it, ascending, once each */
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
    /* What PyTorch's exporter recorded, NULL where it did not. Metadata keys: reference lowering in docs/ARCHITECTURE.md */
    const char *fx;      /* pkg.torch.onnx.fx_node */
    const char *scopes;  /* name_scopes, a Python list repr */
    const char *classes; /* class_hierarchy */
    const char *stack;   /* stack_trace */
    const char *rules;   /* pkg.onnxscript.rewriter.rule_name */
    bool made;           /* by unroll.c: no node of the file */
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
    const char *file;                                           /* as given on the command line */
    const char *name, *producer, *producer_version, *signature; /* signature: pkg.torch.export...graph_signature */
    int ir_version, opset;                                      /* opset of the default domain */
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

/* Something memlint does not know: reported as unexplained; the result is then inconclusive. */
struct doubt {
    const char *node, *op, *why, *remedy; /* remedy: the option that would settle it, or NULL */
    enum sure {                           /* what is certain beside it */
                SURE_CALLS,               /* what does not depend on the node or input that it names */
                SURE_UPDATE,              /* parameters, inputs, gradients, optimizer states */
                SURE_MODEL,               /* parameters and inputs */
                SURE_NOTHING
    } sure;
    const char *dim;      /* it is about this dimension, which was taken as 1; NULL about none */
    int64_t effect_bytes; /* peak at 8 less the peak at 1, where assume_measure ran it; else 0 */
};
/* The doubt that was added, for who knows more than SURE_CALLS. */
struct doubt *graph_doubt(struct graph *g, const char *node, const char *op, const char *remedy, const char *fmt, ...)
    PRINTF(5, 6);

/* Reads an ONNX file in binary (or, when its name ends in .txt or .onnxtxt, in ONNX text syntax) form. Weights are never read; external data
 * files need not exist. Returns NULL and fills e when the file is refused. The graph has functions inlined, names
 * interned, nodes in topological order. */
struct graph *onnx_load(struct arena *a, const char *path, struct err *e);
/* The same of a binary model in memory; path names it, and external data lie beside it. */
struct graph *onnx_load_bytes(struct arena *a, const char *path, const uint8_t *data, size_t size, struct err *e);
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
/* For unroll.c, which rewrites a finished graph. A tensor like t, called PREFIX/NAME. */
int graph_fresh(struct graph *g, const char *prefix, const struct tensor *t);
/* A node of a subgraph as one of g: map gives the tensor of g for each of body's. */
struct node graph_copy_node(struct graph *g, const struct graph *body, const struct node *from, const int *map);
/* Finds again what the subgraphs in g capture; g's tensors may have moved. */
void graph_capture(struct graph *g);
/* Finds producers, captures and users again; the nodes are in order. */
void graph_renumber(struct graph *g);
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
    const char *place; /* where a flag file says so, for models of all kinds; NULL on the command line */
};

struct input_shape {
    const char *name;
    int rank;
    int64_t *dims;
    const char *place;
};

struct input_value {
    const char *name;
    const struct tensor *t;
};

enum mode { MODE_TRAINING, MODE_INFERENCE };
enum dropout { DROPOUT_AUTO, DROPOUT_NONE };
enum attention { ATTENTION_AUTO, ATTENTION_FLASH, ATTENTION_EFFICIENT, ATTENTION_MATH };
enum inplace { INPLACE_AUTO, INPLACE_NONE, INPLACE_RELU };

struct optimizer; /* step.c */
struct precision; /* expand.c */
struct loss;      /* step.c */
struct loop;      /* step.c */
struct device;    /* heap.c */
struct replay;    /* replay.c */
struct kernels;   /* libraries.c */

/* What a file can't show is assumed, and the step run with the alternative too: rows of assume.c. */
enum alternative {
    ALTERNATIVE_NONE, /* there is none */
    ALTERNATIVE_LOSS,
    ALTERNATIVE_LOOP,
    ALTERNATIVE_DROPOUT,
    ALTERNATIVE_INPLACE,
    ALTERNATIVE_ATTENTION,
    ALTERNATIVE_TIED,
    ALTERNATIVE_NORMS,
    ALTERNATIVE_SILU,
    ALTERNATIVE_COUNT
};

struct setup {
    int ndims, nshapes, nvalues, nfreeze;
    struct binding *dims;
    struct input_shape *shapes;
    struct input_value *values;
    const char **freeze; /* globs over qualified parameter names */
    enum mode mode;
    bool unroll; /* shapes_run makes control flow straight, for the step */
    const struct optimizer *optimizer;
    const struct precision *precision;
    const struct loss *loss; /* never NULL: the row "auto" is resolved by step_build */
    const struct loop *loop;
    int micro_batches; /* accumulate-N: N, else 1 */
    int repeats;       /* of the reported step; 0 as 1 */
    enum dropout dropout;
    bool accumulate_eager; /* --assume accumulate=eager|never */
    enum attention attention;
    enum inplace inplace;        /* auto: what lines of Python and names of modules tell */
    unsigned instead;            /* bits 1 << enum alternative: the other reading, where no option says so */
    const struct device *device; /* NULL when not asked */
    int64_t capacity;            /* bytes of --device SIZE or of the row; 0 not asked */
    bool expandable;             /* --allocator expandable */
    const char *recompute;       /* --recompute; NULL none */
    struct replay *replay;       /* where the allocator's segments are taken from a device; NULL nowhere */
    struct kernels *kernels;     /* where kernels of libraries are noted; NULL nowhere */
};

/* The tables behind the options. Each *_find returns NULL when no row has that name; each row begins with its name and a line
 * of help, and each *_list prints them: NAME, a tab, the help; device_list adds the memory and its source. The row of --loop
 * accumulate-N is called "accumulate-N". */
const char *optimizer_name(int i); /* NULL past the last, and so below */
const char *precision_name(int i);
const char *loss_name(int i);
const char *loop_name(int i);
const struct optimizer *optimizer_find(const char *name);
const struct precision *precision_find(const char *name);
const struct loss *loss_find(const char *name);
const struct loop *loop_find(const char *name);
const struct device *device_find(const char *name);
const struct device *device_row(int i); /* NULL past the last */
/* The same with fused=True, whose update makes no lists; NULL when it has none on CUDA, or no lists. */
const struct optimizer *optimizer_fused(struct arena *a, const struct optimizer *o);
/* Its Python class, and the one that keeps the same states in 8 bits; NULL none. */
const char *optimizer_python(const struct optimizer *o);
const char *optimizer_in_8bit(const struct optimizer *o);
/* The class of torch.optim that updates a parameter from a sparse gradient in its place, NULL none, and how many states it keeps. */
const char *optimizer_sparse(const struct optimizer *o, int *states);
const char *device_name(const struct device *d);
int64_t device_capacity(const struct device *d); /* bytes that the driver gives to programs, not the nominal size */
/* Bytes of the CUDA context on d (NULL: any), and who measured them (source may be NULL). */
int64_t device_context(const struct device *d, const char **source);
int device_sm(const struct device *d); /* compute capability x 10; an H100's when d is NULL */
/* Devices of one kind run the same step: what PyTorch does depends on compute capability 9.0 alone (library_workspace in eager.c, attention's
 * kernels in expand.c). device_of_kind: some device of it. */
enum { DEVICE_KINDS = 2 };
int device_kind(const struct device *d);
const struct device *device_of_kind(int kind);
void optimizer_list(FILE *out);
void precision_list(FILE *out);
void loss_list(FILE *out);
void loop_list(FILE *out);
void device_list(FILE *out);
void aten_list(FILE *out);

/* ---- options.c: the command line ---------------------------------------------------------------------------------------- */

struct format;

struct output { /* -o FILE */
    const char *path;
    const struct format *format;
};

struct suppression { /* --suppress */
    const char *rule, *glob, *until, *reason,
        *place; /* glob over nodes and locations, NULL all; place: where it was written */
    bool used;
};

struct flag_line { /* of a flag file */
    const char *text;
    int line;
};

enum dump { DUMP_NONE, DUMP_GRAPH, DUMP_SHAPES, DUMP_CALLS, DUMP_STEP };
enum when { WHEN_AUTO, WHEN_ALWAYS, WHEN_NEVER };

struct options {
    struct setup setup;
    int nmodels, noutputs, cap_outputs;
    char **models;
    struct output *outputs;
    const char **value_files;    /* of setup.values: read by main, which fills their t */
    const struct format *format; /* on standard output; NULL when --format was not given */
    enum dump dump;
    void (*list)(FILE *out);    /* --list: print this table and stop */
    int64_t max_peak;           /* -1 no gate */
    const char *fail_on;        /* a severity or "inconclusive"; NULL no gate */
    bool fail_on_known;         /* a gate that can't be judged passes */
    const char *baseline;       /* NULL none; % stands for the model's name */
    bool no_baseline;           /* --baseline=none: the model is new */
    int64_t max_increase_bytes; /* -1 no gate */
    double max_increase_percent;
    const char *max_peak_text, *device_text, *increase_bytes_text, *increase_percent_text; /* as they were typed */
    const char *accept; /* --accept: the reason; NULL none */
    bool update_baseline, expect_fail;
    int nsuppress;
    struct suppression *suppress;
    const char *flags; /* --flags: the flag file, "none", or NULL: look for .memlint */
    int nflags;
    struct flag_line *flag; /* what was taken from it */
    const char *sources;    /* --sources: the folder of the Python files */
    const char *files_from;
    int shard, shards; /* 1-based; 0 all */
    bool resume;
    const char *oom_text, *oom_file; /* --explain-oom: the message, and the file that holds it; NULL none */
    enum when colour, progress;
    bool quiet, verbose, help, version;
    int nfile_freeze;                   /* of setup.freeze: the first ones, which a flag file has */
    bool recompute;                     /* --recompute auto or SIZE: */
    int64_t recompute_budget;           /* bytes; 0 none */
    int replay;                         /* how often the step is played on the GPU; 0 not at all */
    int64_t replay_limit, replay_spare; /* bytes; 0 none, -1 the default */
    int argc;
    char **argv;
};
/* Fills o from the command line. Returns NULL, or one line that says what is wrong with it. */
const char *options_read(struct options *o, struct arena *a, int argc, char **argv);
/* The options for one model: those of its flag file, then those of the command line over them. */
const char *options_for(struct options *own, struct arena *a, const struct options *o, const char *model);
void options_help(FILE *out);
/* Rank of a finding's severity: 0 "note", 1 "warning", 2 "error"; -1 for anything else. */
int severity_rank(const char *name);

/* ---- flags.c: the flag file --------------------------------------------------------------------------------------------- */

/* .memlint beside the model or in the nearest folder above it that has .git; NULL none. */
const char *flags_find(struct arena *a, const char *model);
/* Its lines without blanks around, comments and empty ones left out; NULL and *wrong when it can't be read. */
struct flag_line *flags_read(struct arena *a, const char *path, int *n, const char **wrong);

/* ---- ops.c: the ONNX operator table -------------------------------------------------------------------------------- */

/* What a rule looks at and sets: one node. Inputs and outputs are NULL where omitted. infer.h. */
struct infer {
    struct graph *g;
    const struct node *n;
    struct shapes *run;
    int nin, nout;
    struct tensor **in, **out;
    const char *why; /* set where a shape stays open for a reason that can be named */
};

struct op {
    const char *domain, *name;
    int since, until;              /* opsets that this row describes; until 0: no end */
    void (*shape)(struct infer *); /* output types and shapes */
    void (*value)(struct infer *); /* constant propagation, NULL none */
    const char *aten; /* the framework operator it is one to one, or NULL: lowered by a pattern or not at all */
};
/* The row for an operator at an opset of its domain, or NULL. */
const struct op *op_find(const char *domain, const char *name, int opset);
void op_list(FILE *out); /* --list=ops */

/* ---- shapes.c ---------------------------------------------------------------------------------------------------------- */

/* Binds dimensions from s, runs shape and value rules over g in order. Total: what stays unknown gets a doubt.
 * Evaluates dims that are expressions of symbols ("197*batch", "(s0 + 1)//2"). False and e only when an option
 * contradicts the model (no input or dimension of that name, a rank that differs) or input dimensions stay unbound and
 * need_bound is set: the message then lists them with an example command line. What a flag file binds in vain is
 * noted in g->idle instead. */
bool shapes_run(struct graph *g, const struct setup *s, bool need_bound, struct err *e);
/* A copy of s in which every named dimension of an input that nobody bound is 1, each with a doubt that says so: a number for a first look. */
struct setup shapes_bind_open(struct graph *g, const struct setup *s);
/* The binding of the dimension called batch; NULL none. */
struct binding *setup_batch(const struct setup *s);
void shapes_dump(const struct graph *g, FILE *out); /* --dump=shapes */
/* For rules of control flow: runs the rules over a subgraph, whose inputs the caller has filled. False when the budget
 * of visits is spent; what the subgraph computes is then unknown. */
bool shapes_subgraph(struct infer *in, struct graph *sub);
/* Runs the rules over one node of the main graph. */
void shapes_node(struct shapes *run, struct graph *g, const struct node *n);
/* A constant to fill, every element unknown; NULL when n is over limit(LIMIT_FOLD), the type has no numbers, or the run's
 * budget is spent. */
struct constant *shapes_constant(struct infer *in, enum dtype t, int64_t n);

/* ---- unroll.c: control flow whose way is known becomes straight-line ---------------------------------------------------- */

/* Whether the main graph has control flow or sequences. */
bool unroll_needed(const struct graph *g);
/* Runs shapes_node over g in order and, where a node is control flow, over the nodes that it stands for, which take its place. */
void unroll_run(struct shapes *run, struct graph *g);

/* ---- lower.c: the file's nodes to the calls that the Python program made ------------------------------------------ */

enum phase { PHASE_BUILD, PHASE_INPUT, PHASE_FORWARD, PHASE_LOSS, PHASE_BACKWARD, PHASE_UPDATE, PHASE_COUNT };
extern const char *const phase_names[PHASE_COUNT];

/* Why bytes are there. At every instant the classes sum to the allocated bytes. */
enum class {
    CLASS_PARAMETERS,
    CLASS_BUFFERS,
    CLASS_GRADIENTS,
    CLASS_OPTIMIZER,
    CLASS_SAVED,
    CLASS_TEMPORARIES,
    CLASS_WORKSPACE,
    CLASS_INPUTS,
    CLASS_OUTPUTS,
    CLASS_COUNT
};
extern const char *const class_names[CLASS_COUNT];

/* An argument of a framework call. In a program tensors are slots; while a call runs they are values. */
struct arg {
    enum arg_kind { ARG_NONE, ARG_SLOT, ARG_VALUE, ARG_INT, ARG_FLOAT, ARG_BOOL, ARG_DTYPE, ARG_TEXT, ARG_LIST } kind;
    int n; /* elements of a list */
    union {
        int64_t i; /* slot, int, bool, dtype */
        double f;
        struct arg *list;
        struct value *v;
    };
    const char *s; /* text; of a slot, its name in the traced program */
};

enum { MAX_ARGS = 16, SHOWN_RANK = 8 };

struct aten;

/* One call of a framework operator by the Python program. */
struct call {
    const struct aten *op;
    const char *target; /* as the file names it, "aten.linear.default" */
    int nargs;
    struct arg *args; /* in the order of op->args */
    int nouts;
    int *outs; /* slots */
    int rank;  /* sizes of outs[0] as the file states them; -1 unknown */
    const int64_t *size;
    int scope;                          /* module, index into program.modules */
    const char *location, *node, *name; /* name: of the first output */
    const char **frames;        /* Python frames, outermost first: "file:line in function"; NULL-terminated or NULL */
    const char *stack, *scopes; /* the exporter's text of both, NULL none */
    bool in_place;              /* writes over its first argument: relu_, += */
};

/* Slots that a call reads, one after another: for (struct call_reads r = {c}; (slot = next_read(&r)) >= 0;) */
struct call_reads {
    const struct call *call;
    int arg, element;
    struct arg *at; /* where the last one stands */
};
int next_read(struct call_reads *r); /* -1 no more */
/* Whether it shows its first argument under other sizes. */
bool call_views(const struct call *c);

enum param_kind { PARAM_TRAINED, PARAM_FROZEN, PARAM_BUFFER, PARAM_CONSTANT };

/* A parameter, buffer or constant of the model, in registration order; tied names share a slot. */
struct param {
    const char *name; /* qualified: "blocks.0.qkv.weight" */
    enum param_kind kind;
    int slot, module;
    int tied_to;   /* param, or -1 */
    bool is_table; /* an embedding reads it */
    enum dtype dtype;
    int rank; /* -1: the file has the name but not the shape */
    const int64_t *size;
};

struct module {
    const char *path, *type; /* type NULL unknown */
    int parent;              /* -1 for the model itself */
};

/* Calls of a module under torch.utils.checkpoint(use_reentrant=False). */
struct region {
    int first, end; /* calls */
    const bool
        *keeps;    /* selective: per row of aten_table, whether its results are kept instead of made again; NULL none */
    int64_t inner; /* of products only those with an inner dimension of at least this */
};

struct program {
    struct arena *arena;
    struct graph *graph; /* doubts are added to it */
    int nslots;
    int nparams, cap_params;
    struct param *params;
    int ninputs;
    struct input {
        const char *name;
        int slot;
        enum dtype dtype;
        int rank;
        const int64_t *size;
    } * inputs;
    int ncalls, cap_calls;
    struct call *calls;
    int noutputs;
    int *outputs; /* slots */
    int nmodules, cap_modules;
    struct module *modules;
    int nassumptions, cap_assumptions;
    struct assumption {
        const char *text;
        enum alternative alternative;
        const char *option;   /* that says otherwise; NULL none */
        bool measured;        /* assume_measure ran the alternative */
        int64_t effect_bytes; /* its peak of allocated bytes less the step's */
    } * assumptions;
    int nregions;
    const struct region *regions; /* an edit: in order, apart from each other */
    int *held;                    /* python_holds, found by the first step */
    const char **held_by;         /* and the names, NULL where an expression holds it */
    bool release;                 /* an edit: no Python name holds a tensor longer than operators read it */
};

/* Total: what can't be lowered becomes a doubt of g. */
struct program *lower_run(struct graph *g, const struct setup *s);
void lower_dump(const struct program *p, FILE *f); /* --dump=calls */
/* python.c: per slot the last call during which a name of the traced program holds its tensor; -1 none. */
int *python_holds(const struct program *p, const char ***by); /* by: the name that holds it, NULL none */
/* States an assumption, once. */
void program_assume(struct program *p, enum alternative other, const char *fmt, ...) PRINTF(3, 4);
/* assume.c: whether s asks for the other reading of what a file can't show. */
bool assume_instead(const struct setup *s, enum alternative other);
/* Whether s leaves it to be assumed. */
bool assume_open(const struct setup *s, enum alternative other);

/* ---- aten.c, expand.c: PyTorch's eager mode without numbers ---------------------------------------------------------------- */

/* A block of device memory from birth to death. */
struct storage {
    int id, refs, block; /* id: its place in machine.st; block: the heap's */
    int64_t bytes;       /* rounded up to 512 as the CUDA allocator rounds */
    int64_t requested;
    enum class class;
    enum phase phase;        /* of birth */
    const char *op;          /* that made it: "aten.addmm.default" */
    const char *name;        /* parameter, input or value name, NULL none */
    const struct call *call; /* NULL outside the model's forward */
    enum dtype dtype;
    int rank;
    int64_t size[SHOWN_RANK]; /* of the tensor that was born with it, its first dimensions */
    bool saved;               /* autograd kept it at some time */
    int version;              /* how often it was written over */
};

struct gnode;

/* A tensor: sizes and strides over a storage. References are counted, as PyTorch counts them. */
struct value {
    struct storage *st;
    int refs;
    enum dtype dtype;
    int rank;
    int64_t *size, *stride; /* elements */
    bool requires_grad, is_view;
    struct gnode *fn; /* who made it; for leaves that require a gradient, its accumulator */
    int fn_out;
};

enum cast { CAST_NONE, CAST_LOWER, CAST_FP32, CAST_PROMOTE };

struct machine;
struct derivative;
struct heap;

/* One running call: arguments by position, outputs. */
struct frame {
    const struct aten *op;
    int n;
    struct arg *a;
    int nout, cap_out;
    struct value **out, *few[2]; /* few: room for most */
    int rank;                    /* sizes of the first output as the file states them; -1 unknown */
    const int64_t *size;
    unsigned want; /* in backward: which outputs somebody needs */
    bool in_place;
    struct value *over; /* in place: the tensor that is written over */
};

/* A framework operator: arguments, forward, derivative, autocast class in one row. */
struct aten {
    const char *name; /* without namespace, with the overload that traces print: "mul.Tensor" */
    const char *args; /* names in schema order, separated by blanks */
    void (*run)(struct machine *m, struct frame *f); /* makes the outputs; composites call other rows */
    /* "self: mul(grad, other); other: mul(grad, self)": per input the formula of its gradient, in the order in which
     * autograd evaluates them. What is saved follows from the names; #name needs only sizes. NULL: no derivative.
     * COMPOSITE: the derivative is that of the rows it calls. */
    const char *grad;
    enum cast cast;
    const char *takes; /* tensors it can't do without, see aten_takes */
    bool whole_batch;  /* its result for one sample depends on the others of the batch */
    bool shaped; /* an argument called size, shape or repeats is what the file states, however the text spells it */
    bool
        keeps_result; /* in place, autograd saves the result; otherwise a clone of what is overwritten, if it needs that */
    int64_t (*inner)(
        const struct frame *f); /* of a product: how many products an element of its result is the sum of */
    const char *source;
    const char *assumes;          /* what the report says when a program calls it, NULL nothing */
    enum alternative alternative; /* to that */
};
extern const char COMPOSITE[];

/* All rows, the composites of expand.c included. */
extern const struct aten aten_table[];
extern const int aten_count;
/* The row for "aten.add.Tensor", "add.Tensor" or "add"; NULL unknown. */
const struct aten *aten_find(const char *target);
/* Whether the arguments are such that run may rely on them. */
bool aten_takes(const struct aten *op, const struct arg *a, int n);
/* Position of an argument, -1 none. */
int aten_arg(const struct aten *op, const char *name);

/* ---- eager.c: storages, values, dispatch, autograd's graph and engine ------------------------------------------------------- */

#define MAX_STORAGE_BYTES (INT64_C(1) << 42)

struct event {
    int storage; /* index into step.storages */
    bool birth;
    enum phase phase;
    const char *op;          /* operator that runs */
    const struct call *call; /* the forward call it belongs to, also in backward; NULL outside */
};

struct machine {
    struct arena *a;    /* of the running iteration */
    struct arena *keep; /* of the run */
    const struct setup *s;
    bool recording; /* the reported step runs: events are kept, and storages that die */
    int nst, cap_st, nspare, cap_spare;
    struct storage **st, **spare; /* alive; while recording, also those that died */
    int nev, cap_ev;
    struct event *ev;
    struct heap *heap;
    int64_t live_bytes, reserved_bytes; /* reserved: the most while recording */
    enum phase phase;
    enum class fresh; /* class of storages born now, and their name where it is known beforehand */
    const char *fresh_name;
    const char *op;
    const struct call *call;
    bool grad_mode, autocast;
    enum dtype low; /* autocast's type */
    int seq, npool, cap_pool;
    struct value **pool; /* what the running C++ frames hold */
    int ncast, cap_cast;
    struct cast_entry {
        struct value *from, *to;
    } * casts;                       /* autocast's weight cache */
    double flops;                    /* of the running forward */
    struct derivative **derivatives; /* parsed derivatives, by row */
    int stamp;
    bool real;                     /* what real CUDA tensors do, which fake ones and dispatch modes don't */
    int sm;                        /* compute capability x 10 of the device */
    struct value *workspace[2][2]; /* per thread (forward, autograd's) and library; never freed */
    struct checkpoint *checkpoint; /* the region whose forward runs */
    void (*rerun)(void *to, struct checkpoint *c); /* runs a region's forward again, until the longjmp that ends it */
    void *rerun_to;
    const char *missing; /* an operator was met whose arguments its row can't take */
    bool oversized;      /* a tensor of 4 TiB or more was met: counted as 4 TiB */
    bool many_parts;     /* a split into more than limit(LIMIT_PARTS) was met: so many are counted */
};

/* A fresh tensor; strides NULL means contiguous. It dies with the running scope unless somebody keeps it. */
struct value *value_new(struct machine *m, enum dtype t, int rank, const int64_t *size, const int64_t *stride);
/* A view of v's storage. */
struct value *value_view(struct machine *m, struct value *v, int rank, const int64_t *size, const int64_t *stride);
struct value *value_keep(struct value *v);
/* v for longer than the iteration: the caller's reference moves to the copy. */
struct value *value_adopt(struct machine *m, struct value *v);
void value_drop(struct machine *m, struct value *v);
int64_t value_elements(const struct value *v); /* at most MAX_STORAGE_BYTES */
bool value_contiguous(const struct value *v);
/* The i-th dimension of a dense image, the innermost first; last: channels are the innermost. */
static inline int
image_dim(int rank, bool last, int i)
{
    return !last ? rank - 1 - i : i == 0 ? 1 : i == rank - 1 ? 0 : rank - i;
}
/* Scopes: values made since the mark die at its end, last made first, but for those kept. */
int scope_begin(struct machine *m);
void scope_end(struct machine *m, int mark, int nkeep, struct value **keep);

/* Runs an operator: autocast, forward, autograd's node. Outputs are held by the running scope. */
struct frame *dispatch(struct machine *m, const struct aten *op, int n, const struct arg *a, const struct frame *like);
struct value *op_call(struct machine *m, const char *name, int n, const struct arg *a);
#define OP(m, name, ...) \
    op_call(m, name, (int)(sizeof((struct arg[]){__VA_ARGS__}) / sizeof(struct arg)), (struct arg[]){__VA_ARGS__})
static inline struct arg
VAL(struct value *v) {
    return (struct arg){.kind = v ? ARG_VALUE : ARG_NONE, .v = v};
}
#define INT(x)   ((struct arg){.kind = ARG_INT, .i = (x)})
#define FLT(x)   ((struct arg){.kind = ARG_FLOAT, .f = (x)})
#define BOOL(x)  ((struct arg){.kind = ARG_BOOL, .i = (x)})
#define DTYPE(x) ((struct arg){.kind = ARG_DTYPE, .i = (x)})
#define NONE     ((struct arg){.kind = ARG_NONE})
struct arg
ints_arg(struct machine *m, int n, const int64_t *v);

/* Parses a row's derivative; asserts that it names rows and arguments that exist. For tests. */
void eager_check_formula(struct machine *m, const struct aten *op);

/* A copy with lists of its own. */
struct arg *args_copy(struct arena *a, int n, const struct arg *from);

/* Arguments of a frame by position. */
struct value *arg_value(const struct frame *f, int i); /* NULL when absent */
int64_t arg_int(const struct frame *f, int i, int64_t otherwise);
double arg_float(const struct frame *f, int i, double otherwise);
int arg_ints(const struct frame *f, int i, int64_t *out,
             int max); /* elements; 0 when absent; a lone int counts as one */
void out_add(struct machine *m, struct frame *f, struct value *v);

/* Memory that a kernel takes while it runs, until the running scope ends or at once freed again, and a library's workspace of the
 * running thread. Nothing under fake tensors. */
void workspace_new(struct machine *m, int64_t bytes);
void scratch(struct machine *m, int64_t bytes);
enum library { LIBRARY_CUBLAS, LIBRARY_CUBLASLT };
int64_t library_workspace(const struct machine *m, enum library l); /* bytes */
void use_library(struct machine *m, enum library l);

/* A region under torch.utils.checkpoint: its operators' saved tensors are numbered holders that own nothing; the first backward node that
 * needs one runs the forward again, which fills those still awaited and stops at the last. What a selective policy keeps is not made again but
 * taken from where the first forward put it. A region inside of another saves its arguments through it, and waits for its second forward.
 * Source: torch/utils/checkpoint.py. */
struct checkpoint {
    const struct region *region;
    int nargs;
    int *slots; /* the arguments: slots, and what they hold */
    struct value **args;
    struct checkpoint *parent; /* the region around it, whose holders have the arguments; NULL none */
    int nholders, cap, alive, filled;
    struct holder {
        struct gnode *node;      /* NULL: an argument of a region inside */
        struct value **to, **at; /* where it is kept; where the node's formulas read it */
    } * holders;
    int ncached, cap_cached, next; /* results that the region's policy keeps, in the order in which they were made */
    struct cached {
        int n;
        struct value **v;
        int *version; /* of their storages, when they were kept */
    } * cached;
    bool again, done; /* the second forward runs; has begun */
    bool spoilt;      /* what it kept has been written over since: PyTorch raises an error */
    bool mute;        /* inside of another's second forward: what it saves belongs to a graph that nobody runs */
    struct checkpoint *mutes, *next_mute; /* those inside of this one's second forward */
    jmp_buf stop;
};
/* The region's first forward begins, or inside of another's second forward it runs once more; args are kept until the last holder is released. */
struct checkpoint *checkpoint_begin(struct machine *m, const struct region *r, int nargs, const int *slots,
                                    struct value **args);
void checkpoint_end(struct machine *m);
/* Whether a selective region runs: its dispatch mode makes composites avoid writing in place. */
bool under_mode(const struct machine *m);

/* Gives v an accumulator: it is a leaf that requires a gradient. */
void value_requires_grad(struct machine *m, struct value *v, struct value **grad);
/* Autograd's engine: runs backward from a scalar root. */
void backward(struct machine *m, struct value *root);

/* ---- workspace.c: what CUDA kernels take while they run ---------------------------------------------------------------------- */

/* Dimensions of TensorIterator, innermost first. after: whether d0 comes after d1 (1), before (-1), or either (0). Source:
 * TensorIteratorBase::reorder_dimensions in aten/src/ATen/TensorIterator.cpp. */
void aten_reorder(int rank, int *perm, int (*after)(const void *of, int d0, int d1), const void *of);
/* A reduction of v over the dimensions marked gone[0..v->rank): buffer and semaphores when it is split over blocks. accumulator: bytes
 * of a partial result. */
void reduce_workspace(struct machine *m, const struct value *v, const bool *gone, int accumulator);
/* The gradient of an embedding's weight, like `weight`; what the sort takes is held by the running scope. */
struct value *embedding_backward(struct machine *m, struct value *grad, struct value *indices,
                                 const struct value *weight);

/* ---- step.c: the training loop ---------------------------------------------------------------------------------------------------- */

struct step {
    struct arena *arena;
    const struct program *program;
    const struct setup *setup;
    struct machine *m;
    int before;           /* storages that were alive when the reported step began: the first ones of m->st */
    int64_t before_bytes; /* and their bytes */
    struct {
        int64_t model, inputs, forward, backward, step;
    } after;
    double forward_flops;
    double *call_flops; /* per call */
    double recomputed_flops,
        *region_flops; /* of second forwards; per region, HUGE_VAL where PyTorch refuses to run it */
};

struct step *step_run(struct program *p, const struct setup *s);
/* The type of a tensor of the model under a precision that casts the model. */
enum dtype precision_type(const struct precision *p, enum dtype t);
/* Bytes of the states that an optimizer keeps for a parameter. */
int64_t optimizer_state_bytes(const struct optimizer *o, enum dtype t, int rank, const int64_t *size);
void step_dump(const struct step *st, FILE *f); /* --dump=step: the form of a recorded trace */

/* ---- live.c: bytes at every instant of the reported step -------------------------------------------------------------------------- */

struct live {
    int peak; /* event after which most bytes are allocated; -1: before the first */
    int64_t peak_bytes, forward_bytes, backward_bytes; /* peaks until the end of that phase */
    int64_t start[CLASS_COUNT];                        /* by class, before the first event */
    int64_t at_peak[CLASS_COUNT];
    bool *alive; /* per storage, at the peak */
};

struct live *live_run(const struct step *st);
/* An independent count in quadratic time, for tests: bytes alive after event `at`. */
int64_t live_recount(const struct step *st, int at);

/* ---- heap.c: the caching allocator, devices ------------------------------------------------------------------------------------------- */

/* PyTorch's caching allocator on one stream. Source: c10/cuda/CUDACachingAllocator.cpp. */
struct heap;
#define RANGE_BYTES (INT64_C(1) << 60) /* of addresses for a pool's expandable segment */
/* From now on segments are taken from a device. */
void heap_play(struct heap *h, struct replay *p);
struct heap *heap_new(struct arena *a, bool expandable);
/* A block for that many bytes; its id. */
int heap_malloc(struct heap *h, int64_t bytes);
void heap_free(struct heap *h, int block);
int64_t heap_block_bytes(const struct heap *h, int block); /* what allocated counts: unsplit slack included */
int64_t heap_allocated(const struct heap *h);
int64_t heap_reserved(const struct heap *h);

/* ---- the result: the only thing reports see --------------------------------------------------------------------------------- */

enum verdict { VERDICT_OK, VERDICT_GATE_FAILED, VERDICT_DOES_NOT_FIT, VERDICT_INCONCLUSIVE };
extern const char *const verdict_names[]; /* "ok" "gate-failed" "does-not-fit" "inconclusive" */

struct live_tensor {  /* one storage alive at the peak */
    const char *name; /* "blocks.0.qkv.weight", "grad of ...", "linear_3" */
    int64_t bytes;    /* as allocated: rounded up to 512 */
    int rank;
    const int64_t *shape;
    const char *dtype; /* PyTorch's name */
    enum class class;
    const char *born;      /* "forward, aten.addmm.default" */
    const char *needed_by; /* "backward of aten.gelu.default", "held by Python name `out`" */
    const char *node;      /* ONNX node, or NULL */
    const char *location;  /* "file.py:123", else the scope, else NULL */
    const char *layer;     /* path of the module it belongs to; NULL outside of the model */
};

struct layer_op { /* an operator that a module calls itself, how often, and where first */
    const char *name, *location;
    int count;
};

struct layer {               /* one module, depth first; depth 0 is the model */
    const char *path, *type; /* "blocks.0.qkv", "torch.nn.modules.linear.Linear" or NULL */
    int depth;
    int64_t parameters, parameter_bytes; /* own and below */
    int64_t saved_bytes;                 /* what autograd keeps of its forward pass, storages counted once */
    int64_t output_bytes;                /* of the operators inside */
    int64_t flops;                       /* forward, 2 a multiply-add */
    const char *location;                /* of its first call, NULL none */
    int nops, cap_ops;
    struct layer_op *ops;
};

struct instant { /* one change of the allocated bytes in the step */
    enum phase phase;
    const char *op, *location; /* operator that runs */
    int64_t class_bytes[CLASS_COUNT];
};

/* Allocated bytes over a step, thinned for a picture: of each column the highest, the peak among them. */
enum { CURVE = 240 };
struct curve {
    int n;
    struct {
        int64_t bytes;
        enum phase phase;
    } at[CURVE];
};

struct span { /* one storage of the step: alive at the instants from born up to, not with, died */
    const char *name;
    enum class class;
    int64_t bytes;
    int born, died;
};

struct finding {
    const char *rule, *severity, *certainty, *message, *location, *how;
    int nnodes;
    const char **nodes;
    int64_t saves_bytes, peak_after, reserved_after; /* of the changed step; -1 none was run */
    double extra_flops_percent;
    const char *suppressed;    /* why it doesn't count, else NULL */
    bool known;                /* the baseline has it, too */
    const struct curve *after; /* the changed step; NULL: none was run */
};

/* What became of a parameter, buffer or input between two models; the side on which it is missing has name NULL. */
struct tensor_change {
    enum class class;
    struct tensor_state {
        const char *name, *dtype;
        int rank;
        const int64_t *shape;
        int64_t bytes;
    } old, now;
};

/* What became of a layer, its sublayers apart. Path NULL: no such layer; OUTSIDE: what no layer owns. */
struct layer_change {
    enum change {
        CHANGE_GREW,
        CHANGE_ADDED,
        CHANGE_REMOVED,
        CHANGE_RENAMED,
        CHANGE_TYPE,
        CHANGE_SHAPES,
        CHANGE_OPERATORS
    } kind;
    bool cause;            /* it differs by itself; otherwise it follows from others */
    bool renamed;          /* by itself, not with the layer it lies in */
    const char *operators; /* "relu -> silu"; NULL none differ */
    struct layer_state {
        const char *path, *type;
        int64_t parameters, peak_bytes, saved_bytes; /* peak_bytes: alive at the peak */
    } old, now;
    const char *location;
    int ntensors;
    struct tensor_change *tensors;
};
extern const char *const change_names[];
extern const char OUTSIDE[];

/* Tensors alive at either peak whose names differ only in numbers: "blocks.*.fc.weight". */
struct tensor_growth {
    const char *name;
    enum class class;
    int old_count, now_count;
    int64_t old_bytes, now_bytes;
};

/* The difference to an older result. The peak_bytes of all layers add up to the peaks, so those of the changed ones to the increase. */
struct baseline {
    const char *file, *version;
    int64_t peak, increase_bytes;
    double increase_percent;
    enum phase phase; /* of the old peak */
    const char *op;
    int64_t parameters, class_bytes[CLASS_COUNT];
    int nlayers;
    struct layer_change *layers; /* causes first, then by what they add to the peak */
    int ngrown;
    struct tensor_growth *grown; /* those that differ, the largest difference first; they add up to the increase */
    const struct curve *curve;   /* of the old step; NULL: a stored result has none */
    int ndiffers;
    const char **differs; /* set-ups: "optimizer sgd, now adamw"; none: comparable */
    int ndoubts;          /* of the old result */
    const char *most;     /* path of the module below which most of the increase lies, of its sign; NULL none */
    int64_t most_bytes;
    int first; /* the layer that differs by itself and adds most, of the increase's sign; -1 none */
};

/* A gate and what came of it. */
struct check {
    const char *name, *message; /* message: NULL where the gate was not asked for */
    enum outcome { CHECK_PASSED, CHECK_FAILED, CHECK_SKIPPED, CHECK_UNJUDGED, CHECK_ACCEPTED, CHECK_COUNT } outcome;
};
extern const char *const outcome_names[CHECK_COUNT]; /* "passed" "failed" "skipped" "unjudged" "accepted" */
static inline bool
check_stops(const struct check *c)
{
    return c->outcome == CHECK_FAILED || c->outcome == CHECK_UNJUDGED;
}

struct fit {
    const char *device;
    int64_t capacity, context, need; /* need: reserved and context; -1 as long as its kind has not been run */
    int kind;                        /* device_kind */
    const char *verdict;             /* "fits", "tight", "does not fit" */
    int64_t largest_batch;           /* -1 unknown */
};

struct plan { /* modules under torch.utils.checkpoint */
    int64_t peak;
    double extra_flops_percent; /* of the step's: products, convolutions and attention; others count nothing */
    const char *held_by;        /* what runs at its peak */
    int nmodules;
    const char **modules; /* qualified names */
    bool beaten;
    const struct curve *after; /* NULL: the step as it is */
};

/* The step at other sizes of the model's dimensions. */
struct grid {
    const char *across, *down;                /* dimensions; down NULL: one row */
    int ncolumns, nrows, own_column, own_row; /* own: the size that was asked for */
    const int64_t *column, *row;              /* sizes, ascending; row[0] is -1 when there is no down */
    int64_t *reserved[DEVICE_KINDS]; /* bytes, [row * ncolumns + column]; -1: not run, or the model can't be read so */
};

struct thumb { /* a rule of thumb beside memlint's number */
    const char *name, *formula, *leaves_out;
    int64_t bytes;
};

struct oom_match { /* tensors of one name whose request prints as the message's */
    const char *name, *op, *location;
    enum class class;
    enum phase phase; /* in which they are born */
    int count;
    int64_t bytes;
};

struct oom {                                                                  /* --explain-oom */
    int64_t tried, capacity, allocated, free, reserved, unallocated, process; /* what the message says; -1 nothing */
    const char *judgement;
    int nmatches, navoided;
    struct oom_match *matches;
    const char **avoided_by; /* rules whose finding alone reserves no more than the process could have had */
    int likely;              /* the match that fits what was allocated, -1 unknown */
    int64_t room,
        simulated; /* what the process could have had; allocated here when the likely tensor is asked for; -1 unknown */
};

/* One thing that was chosen: as an option takes it. */
struct choice {
    const char *name, *value; /* value NULL: it means nothing here, or none is chosen */
    const char *option;       /* that chooses it */
    bool standard;            /* the default */
};

/* Where a file comes from, and what that means for the number. */
struct provenance {
    const char *kind, *text; /* "pytorch", "quantized"; text: a sentence, NULL where nothing needs saying */
};

struct result {
    struct {
        const char *file, *producer, *dtype; /* dtype: of most parameters' bytes, PyTorch's name */
        int opset, nodes;
        int64_t parameters, parameter_bytes, trainable_parameters, buffer_bytes;
    } model;
    struct {
        const char *mode, *optimizer, *precision, *loss, *loop, *device, *allocator; /* NULL: means nothing here */
        int64_t batch; /* -1 when no dimension is called so */
        int ndims;
        const struct binding *dims;
        int nchoices;
        const struct choice *choices; /* everything that changes a number, but for dims */
        int nassumptions;
        const struct assumption *assumptions;
    } setup;
    enum verdict verdict;
    struct provenance provenance;
    struct {
        int64_t allocated, reserved, device;
        int64_t certain; /* allocated bytes at least, whatever the doubts turn out to be; without any the peak */
        enum phase phase;
        const char *op, *node, *location;
        int instant; /* index into instants */
    } peak;
    struct {
        int64_t model, inputs, forward, backward, step;
    } after; /* allocated bytes when that part was done; -1 not run */
    struct {
        int64_t forward, backward, step;
    } peak_until;
    int64_t class_bytes[CLASS_COUNT]; /* at the peak */
    int nlive;
    struct live_tensor *live; /* largest first */
    int nlayers;
    struct layer *layers;
    int ninstants;
    struct instant *instants;
    int nspans, nstorages;
    struct span *spans; /* the largest of the step's storages, largest first */
    struct {
        int64_t parameters, gradients, optimizer, activations, total;
    } rule_of_thumb; /* the first thumb's parts */
    int nthumbs;
    struct thumb *thumbs;
    int nfits, own_kind; /* own_kind: device_kind of the set-up's device */
    struct fit *fits;
    const struct grid *grid; /* NULL: there is no dimension to vary */
    int nfindings;
    struct finding *findings;
    struct {
        int nfront;
        struct plan *front; /* from no checkpoints to the lowest peak; none when not asked for */
        int chosen; /* the cheapest within the budget; without a budget, the cheapest with 99 % of the saving; -1 none */
        int nselective, noperators;
        struct plan *selective;       /* the front with selective policies, "blocks.0+linear" */
        struct plan *operators;       /* and with runs of calls that are no module's, "linear to add_3" */
        int64_t lower_bound;          /* of any plan's peak: what no call of the model makes; -1 unknown */
        const char *python;           /* the chosen plan, else the one with the lowest peak */
        const char *selective_python; /* the cheapest selective plan within the budget, or of all; NULL none */
    } recompute;
    const struct replay *replay; /* NULL: not asked for */
    int ndoubts;
    const struct doubt *doubts;
    const struct oom *oom; /* --explain-oom, else NULL */
    const char *gate;      /* gate.c: why the gates stop it, else NULL */
    int nchecks;
    struct check *checks;
    const char *version;       /* memlint's */
    struct baseline *baseline; /* NULL without --baseline */
    int nsources;
    const char **sources; /* paths of Python files below --sources */
    const char *refused;  /* why the model can't be analysed: nothing else is filled but its file */
};
/* ---- an edited step, measured (live.c) ------------------------------------------------------------------------------------- */

struct measured {
    int64_t allocated, reserved;    /* peaks */
    enum phase phase;               /* of the peak */
    const char *op, *location;      /* that runs then, NULL none; of the model's call that it belongs to */
    double flops, recomputed_flops; /* of a forward, of the second ones */
    struct curve curve;
};
struct curve curve_of(int n, const int64_t *bytes, const enum phase *phase);
/* Runs the step of an edited program or set-up in an arena of its own; look, when given, sees it before it is freed. */
struct measured measure_step(const struct program *p, const struct setup *s,
                             void (*look)(const struct step *st, void *to), void *to);

/* ---- libraries.c: what kernels of libraries ask for ------------------------------------------------------------------------------ */

enum kernel_kind { KERNEL_FORWARD, KERNEL_GRAD_INPUT, KERNEL_GRAD_WEIGHT, KERNEL_PRODUCT };
extern const char *const kernel_names[]; /* "convolution", "its input's gradient", "its weight's gradient", "product" */
enum { KERNEL_RANK = 5 };

/* What decides about a kernel; what says nothing of one is 0. No padding: equal kernels have equal bytes. */
struct kernel_shape {
    enum kernel_kind kind;
    enum dtype dtype;
    int rank;                                                       /* of operands: 4 or 5; 1d is of height 1 */
    int last;                                                       /* channels last */
    int64_t in[KERNEL_RANK], weight[KERNEL_RANK], out[KERNEL_RANK]; /* sizes, whichever of them is computed */
    int64_t stride[KERNEL_RANK], pad[KERNEL_RANK], dilation[KERNEL_RANK], groups;
    /* A product, row-major: batch x [m, k] * [k, n]. ld: elements between rows, or columns where transposed (ta, tb). most: bytes that PyTorch
     * hands the library, whatever its kernel takes. */
    int64_t batch, m, n, k, lda, ldb, most;
    int ta, tb;
};
struct kernel {
    struct kernel_shape shape;
    const char *op, *location; /* that runs it first; location NULL unknown */
    int count;                 /* in a step */
    int64_t bytes;             /* of its workspace, as the library says; -1 unknown */
};
struct kernels {
    struct arena *a;
    bool counted; /* a step was: further ones are not */
    int n, cap;
    struct kernel *kernel;
};
/* Whether somebody wants to know; only then a kernel is noted. */
bool notes_kernels(const struct machine *m);
/* Notes the kernel that runs now; where its library has said what a convolution takes, that is taken and given back. */
void use_kernel(struct machine *m, const struct kernel_shape *shape);

struct symbol { /* of a library that is opened at run time, and the pointer that takes it; the last one has no name */
    const char *name;
    void *to;
    bool optional;
};
/* The first symbol that the library lacks, NULL none. */
const char *symbols_load(void *library, const struct symbol *symbols);

struct libraries { /* cuDNN and cuBLASLt; in the tests a stand-in */
    void *self;
    const char *convolutions, *products;       /* who answers: "cuDNN 9.10.2"; NULL nobody, then ... */
    const char *no_convolutions, *no_products; /* ... why */
    /* Bytes of workspace for what the library's heuristics put first; false: it has no kernel for that. */
    bool (*ask)(void *self, const struct kernel_shape *shape, int64_t *bytes);
};
/* Opens what is there, in the current CUDA context. */
void libraries_open(struct arena *a, struct libraries *l);
void libraries_close(struct libraries *l);
/* Fills the bytes of every kernel. */
void libraries_ask(const struct libraries *l, struct kernels *k);

/* ---- replay.c, cuda.c: the step's allocations on a device --------------------------------------------------------------------- */

enum taken { TAKEN, TAKEN_FULL, TAKEN_FAILED };
struct device_memory { /* a CUDA device; in the tests a stand-in. false: it failed, error says how */
    void *self;
    const char *name;
    int sm;          /* compute capability x 10 */
    int64_t context; /* bytes that went for this process's context; -1 unknown */
    int64_t unused;  /* bytes, right after that */
    bool (*info)(void *self, int64_t *unused, int64_t *total); /* bytes */
    /* Bytes in use by all processes and by this one, as NVML counts them; -1 unknown. NULL: there is no NVML. */
    void (*used)(void *self, int64_t *all, int64_t *own);
    enum taken (*take)(void *self, int64_t bytes, uint64_t *at);
    bool (*give)(void *self, uint64_t at);
    /* A range of addresses, and memory mapped into it and taken out again, piece by piece as it was mapped. */
    bool (*reserve)(void *self, int64_t bytes, uint64_t *at);
    bool (*release)(void *self, uint64_t at, int64_t bytes);
    enum taken (*map)(void *self, uint64_t at, int64_t bytes);
    bool (*unmap)(void *self, uint64_t at, int64_t bytes);
    bool (*touch)(void *self, uint64_t at, int64_t bytes);
    const char *(*error)(void *self);
};
/* The first CUDA device, its context made; false and *why when there is none. What is open when the program ends is closed then. */
bool cuda_open(struct arena *a, struct device_memory *d, const char **why);
void cuda_close(struct device_memory *d);
/* The version of the CUDA headers that memlint was built with, 1000 x major + 10 x minor; 0: without. */
int cuda_headers(void);

struct replayed_step {                                          /* bytes, as the allocator counts them */
    int64_t allocated, most_allocated, reserved, most_reserved; /* after the step; at most in it */
    int64_t idle;                                               /* reserved and in no block when most was allocated */
    int64_t taken, given;                                       /* of the device, in this step */
};

struct replay {
    struct arena *a;
    const struct device_memory *d;
    const struct libraries *libraries; /* NULL: nobody is asked */
    int64_t limit;                     /* bytes that it may take; 0: what was announced */
    int64_t spare;                     /* bytes of the device that have to stay free beside it; -1: a twentieth */
    int repeats;                       /* how often the reported step is played; 1 or more */
    const volatile sig_atomic_t *stop; /* set by a signal; NULL none */
    int n, cap;
    struct segment *segments; /* held now, by the allocator's addresses */
    struct {
        uint64_t at;
        int64_t bytes;
    } range[2];                            /* of the device's addresses, by pool; 0 bytes: none yet */
    int64_t held, most;                    /* bytes: now, at most */
    int sm;                                /* compute capability x 10 that the prediction assumes */
    int64_t predicted;                     /* bytes reserved, from the file alone */
    int64_t announced;                     /* the same with what libraries ask for, over all steps that are played */
    int64_t library_bytes;                 /* that the libraries' handles took of the device */
    struct kernels *kernels;               /* of a step, with what libraries ask for; NULL before it was predicted */
    int64_t total, used_before, used_peak; /* of the device, by all processes, with this one's context */
    int64_t nvml_before, nvml_after, own_before, own_after; /* as NVML counts: all, this process; -1 unknown */
    struct replayed_step now;
    int nsteps, cap_steps, blocks; /* blocks: that were asked for in this step so far */
    struct replayed_step *steps;
    bool ended, refused, stopped, at_limit; /* at_limit: not the device said no, but the limit */
    const char *failed;                     /* what the device said when it failed */
    bool crowded;                           /* it was not begun: others use the device */
    int64_t missing;                        /* bytes that were not free then */
    int64_t refused_bytes; /* of the request that the device refused, and who asked: the blocks-th of a step */
    int refused_step, refused_block;
    enum phase phase;
    const char *op, *name, *location; /* name, location: NULL unknown */
};
/* Plays the step on p->d; false: the device failed. Everything is given back. */
bool replay_run(struct replay *p, const struct program *program, const struct setup *s);

/* For the allocator. take, map: false when the device refuses; refuse ends the replay. Addresses are the allocator's. */
struct replay_range {
    int pool;
    int64_t base, page; /* first address; bytes that are mapped at once */
};
bool replay_take(struct replay *p, int64_t address, int64_t bytes);
void replay_give(struct replay *p, int64_t address);
bool replay_map(struct replay *p, struct replay_range r, int64_t address, int64_t bytes);
void replay_unmap(struct replay *p, int64_t address, int64_t bytes, int64_t page);
/* A block is handed out: it is written to. */
void replay_block(struct replay *p, int64_t address, int64_t bytes, int64_t allocated);
void replay_refuse(struct replay *p, int64_t bytes);
/* For the step: an iteration is over; who asked for the block that was refused. */
void replay_step(struct replay *p, int64_t allocated);
void replay_asked(struct replay *p, enum phase phase, const char *op, const char *name, const char *location);

/* ---- rules.c: advice, measured ------------------------------------------------------------------------------------------- */

struct study {
    struct arena *a;
    const char *path;
    const struct setup *s;
    struct program *p;
    struct step *st;
    /* The program again under another set-up; NULL when the model can't be read so. */
    struct program *(*reload)(const struct study *x, struct arena *a, struct setup *s);
    void (*tell)(const char *what, int done, int of); /* of long work; NULL: nobody listens */
};
/* Larger steps are run once: no edits, no assumptions, no other batches. */
enum { MOST_VALUES = 50000, MOST_EVENTS = 250000 };
static inline bool
study_is_large(const struct study *x)
{
    return x->p->graph->nt > MOST_VALUES || x->st->m->nev > MOST_EVENTS;
}
static inline void
study_tell(const struct study *x, const char *what, int done, int of)
{
    if (x->tell)
        x->tell(what, done, of);
}
/* Adds the findings to r, the largest saving first. */
void rules_run(const struct study *x, struct result *r);
void rules_list(FILE *out);
/* What the rule is about, in a few words; NULL where it is none, as a gate. */
const char *rules_help(const char *id);

/* Fills r->fits: what each device needs, and by running the step at other batches the largest that fits: exactly, or -1 where there is no batch to
 * vary. all: of every device, otherwise of that of --device or of those next to the step's size. */
void fits_run(const struct study *x, struct result *r, bool all);
/* "fits", "tight", "does not fit". */
const char *fits_verdict(int64_t need, int64_t capacity);
/* The largest size of set-up dimension dim with which the step fits the device of --device, -1 without one. */
int64_t fits_largest(const struct study *x, const struct result *r, int dim);
/* Runs the step with set-up dimension dim at n sizes, ascending, up to the first that reserves more than most bytes, on devices of that kind.
 * reserved: bytes; -1 not run, or the model can't be read so; what is there already is not run again. */
void fits_sizes(const struct study *x, int kind, int dim, int n, const int64_t *size, int64_t most, int64_t *reserved);
/* Whether `reserved` bytes fit the device of --device; false without one. */
bool fits_device(const struct result *r, int64_t reserved);

/* ---- grid.c: the step at other sizes ------------------------------------------------------------------------------------- */

/* Fills r->grid by running the step at other sizes of the batch and of one more dimension. */
void grid_run(const struct study *x, struct result *r);

/* ---- oom.c: PyTorch's out-of-memory message ------------------------------------------------------------------------------ */

/* Reads the message and looks for the tensors of this step that could have asked; r has its findings already. A step that reserves more than
 * the message left room for does not fit. */
struct oom *oom_explain(const struct study *x, struct result *r, const char *text);

/* ---- recompute.c: what to recompute ------------------------------------------------------------------------------------------- */

/* Puts the modules whose paths match one of the globs, with commas between, under checkpoint; false and *why when none can be. */
bool recompute_modules(struct arena *a, struct program *p, const char *globs, const char **why);
/* A doubt for each region that PyTorch refuses to run. */
void recompute_check(const struct step *st);
/* Puts the modules under checkpoint in p that give the lowest peak, within a thousandth, at the least work; false when none can be. */
bool recompute_level(const struct study *x, struct result *r, struct program *p, const char **names,
                     const char **python);
/* How to reverse a chain of equal steps, [values * (steps + 1) + n]: forward evaluations, the gradients' not among them, and how many steps the
 * first region holds. */
#define NO_CHAIN INT64_C(1000000000000) /* too few values */
struct chain {
    int steps;
    int64_t *cost;
    int *first;
};
struct chain recompute_chain(struct arena *a, int steps, int values);
void policy_list(FILE *out); /* --list=policies */
/* Fills r->recompute; budget: bytes that the peak must not pass, 0 none. */
void recompute_plan(const struct study *x, struct result *r, int64_t budget);

/* choices.c: what was chosen for the step, in the order of the reports. */
struct choice *choices_of(struct arena *a, const struct setup *s, int *n);
/* The choices of a stored set-up: value(from, name) is what it says, NULL nothing, which is the default. */
struct choice *choices_stored(struct arena *a, const char *(*value)(const void *from, const char *name),
                              const void *from, int *n);

/* provenance.c: where the model comes from; a doubt is added to p's graph where that makes the number one. */
struct provenance provenance_find(struct program *p, const struct setup *s);

/* certain.c: the least that the step allocates at its peak whatever the doubts turn out to be, bytes. */
int64_t certain_bytes(const struct step *st);

/* assume.c: runs the alternative of every assumption of r that has one. */
void assume_measure(const struct study *x, struct result *r);

/* Everything the reports show, from what the passes made. */
struct result *result_build(const struct graph *g, struct program *p, struct step *st, const struct setup *s);
/* Makes these the choices of r, those that have a field of their own too. */
void result_choose(struct result *r, int n, const struct choice *c);

/* ---- stored.c: a JSON result read back -------------------------------------------------------------------------------------- */

/* Model, set-up, verdict, peak, tensors alive then, layers: what a comparison needs. NULL and e when it is no result of memlint. */
struct result *stored_read(struct arena *a, const char *path, struct err *e);
/* The same from one line of a jsonl file. */
struct result *stored_parse(struct arena *a, const char *path, const char *text, struct err *e);
/* A whole text file of at most that limit's bytes; NULL and e. */
char *stored_text(struct arena *a, const char *path, enum limit most, struct err *e);

/* ---- compare.c: two results -------------------------------------------------------------------------------------------------- */

struct baseline *compare_run(struct arena *a, const struct result *old, const struct result *now);
/* Marks the findings of now that old has, too: of the same rule at the same place, or elsewhere but about as large. */
void compare_findings(const struct result *old, struct result *now);

/* ---- sources.c ------------------------------------------------------------------------------------------------------------------- */

/* The paths of all Python files below folder, relative to it; none when it can't be read. */
const char **sources_find(struct arena *a, const char *folder, int *n);

/* ---- gate.c: which results are stopped ------------------------------------------------------------------------------------------ */

/* Marks the findings that a suppression of o covers, by the date of today. Returns what is to be said of suppressions: NULL-terminated. */
const char **gate_suppress(struct arena *a, const struct options *o, struct result *r);
/* Fills r->checks, r->gate and r->verdict. */
void gate_judge(struct arena *a, const struct options *o, struct result *r);
/* The exit code of a judged result. */
int gate_code(const struct result *r);

/* ---- fleet.c: many models --------------------------------------------------------------------------------------------------------- */

/* The models of the command line or of --files-from, one a line, those of this shard only; *wrong when there are none. */
char **fleet_list(struct arena *a, const struct options *o, int *n, const char **wrong);
/* Whether the model is in shard I of N: by a hash of its name, so that a longer list moves no other model. */
bool fleet_mine(const char *model, int shard, int shards);

struct tally { /* of a run over many models */
    int models, by_verdict[4], refused, skipped;
    int64_t highest;
    const char *highest_model;
    int code;
    struct names *done; /* models that a file of results holds */
};
void fleet_count(struct arena *a, struct tally *t, const struct result *r);
/* Reads a jsonl file that an earlier run left: has its lines judged, counts its models, cuts off a last line that is not
 * whole. judge: false and *why when this run can't judge the result. False and e. */
typedef bool fleet_judge(struct arena *a, const struct options *o, struct result *r, const char **why);
bool fleet_resume(struct arena *a, const struct options *o, const char *path, fleet_judge *judge, struct tally *t,
                  struct err *e);
const char *fleet_summary(struct arena *a, const struct tally *t);

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
/* For main, once: SIGINT, SIGTERM and SIGHUP remove a report that is not whole and end the program with exit status 4. */
void emit_guard(void);
/* Writes a report to path by way of a temporary file beside it: all or nothing. On failure returns false and says why in *why. */
bool report_write(const struct result *r, const struct format *f, const char *path, const char **why);
/* Adds a report of one line to path in one write: what is there after a kill is whole lines and at most one torn. */
bool report_append(const struct result *r, const struct format *f, const char *path, const char **why);

/* Strings from a model are data in every format. emit_clean: valid UTF-8 without control, bidi and other invisible
 * characters, which become \xNN or U+FFFD; NULL becomes "". emit_clip: at most max characters of it, the middle cut. */
const char *emit_clean(struct arena *a, const char *s);
const char *emit_clip(struct arena *a, const char *s, int max);
const char *emit_tail(struct arena *a, const char *s, int max); /* the beginning cut: of a path the end tells most */
/* The same of a text with names of operators, whose overload ".default" goes without saying. */
const char *emit_op(struct arena *a, const char *s, int max);
/* Decodes one character at s: its bytes, 1 to 4, or 0 when s does not begin with valid UTF-8. */
int emit_utf8(const char *s, uint32_t *c);
/* "Peak 5.1 GiB allocated at batch 32, in the backward pass at aten.gelu_backward; ...", or "At least 1.2 GiB is certain;
 * unknown: ..." */
const char *emit_verdict(struct arena *a, const struct result *r);
/* "training, batch 32, adamw, fp32, loss auto": what was chosen, the defaults of most not named. */
const char *emit_setup(struct arena *a, const struct result *r);
/* An assumption, with the option that says otherwise and what that changes. */
const char *emit_assumption(struct arena *a, const struct result *r, int i);
/* The assumptions whose alternative moves the peak by more than 2 %, "--dropout none: -12.00 MiB (-4.1 %)"; NULL none. */
const char *emit_swings(struct arena *a, const struct result *r);
/* Of an inconclusive result: the peak as far as it was counted; the command that settles what options can. NULL none. */
const char *emit_estimate(struct arena *a, const struct result *r);
const char *emit_remedy(struct arena *a, const struct result *r);
const char *emit_signed(struct arena *a, int64_t bytes); /* "+5.1 GiB" */
/* A changed layer: its path, and what became of it, "weight [64, 10] -> [64, 20]". The peaks, "1.0 GiB -> 2.0 GiB (+1.0 GiB, +100 %)". */
const char *emit_layer(struct arena *a, const struct layer_change *l, int max);
const char *emit_change(struct arena *a, const struct layer_change *l);
/* Layers that changed alike and differ in their numbers alone are one: "blocks.*.up". */
struct change_group {
    const char *name, *change, *location;
    int n, first; /* layers; index of the first */
    bool cause, outside;
    int64_t increase_bytes;
};
struct change_group *emit_changes(struct arena *a, const struct baseline *b, int *n);
const char *emit_increase(struct arena *a, const struct result *r);
/* What of the gates was let pass, and why: accepted, or not to be judged. NULL nothing. */
const char *emit_let_pass(struct arena *a, const struct result *r);
const char *emit_shape(struct arena *a, int rank, const int64_t *shape);
const char *emit_modules(struct arena *a, const struct plan *p); /* their names, "none" */
/* Extra work of the front's cheapest plan with no higher peak: "3.0 %", "-" for none. */
const char *emit_cheapest(struct arena *a, int n, const struct plan *front, int64_t peak);
double emit_percent(int64_t part, int64_t whole); /* 0 of nothing */
int64_t emit_add(int64_t a, int64_t b);           /* of bytes; stops at INT64_MAX */
int64_t emit_total(const struct instant *at);
/* Chooses at most want instants that stand for all: of each column the one with the largest total, the peak and every
 * phase among them. Fills at[] (room for ninstants) with ascending indices and returns how many. */
int emit_columns(const struct result *r, int want, int *at);
/* What the message held beside what the step holds when it asks, and whether they match; NULL where either is unknown. */
const char *emit_oom(struct arena *a, const struct oom *o);
/* The outcome of a replay; that the step was another device's, NULL it was not; whether it was steady, NULL unknown; a kernel by its shapes; what its library said of all convolutions or
 * products, NULL there are none. */
const char *emit_replay(struct arena *a, const struct replay *q);
const char *emit_capability(struct arena *a, const struct replay *q);
const char *emit_steps(struct arena *a, const struct replay *q);
const char *emit_kernel(struct arena *a, const struct kernel_shape *s);
const char *emit_library(struct arena *a, const struct replay *q, bool products);
/* What servers of continuous integration list: gates that stop the model first, then findings, the gravest first. */
struct issue {
    const char *rule, *message, *how, *suppressed;
    int severity;            /* as severity_rank; 3: a gate that stops the model */
    bool known;              /* the baseline has it, too */
    const char *file, *node; /* file: the Python file where the place is known, else the model */
    int line;
    bool in_code; /* file is the Python file */
    uint64_t id;  /* the same as long as rule, model, file and node are; different ones differ */
};
struct issue *emit_issues(struct arena *a, const struct result *r, int *n);
bool text_write(const struct result *r, FILE *out, bool colour, int width);
bool full_write(const struct result *r, FILE *out, bool colour, int width);
bool json_write(const struct result *r, FILE *out, bool colour, int width);
bool jsonl_write(const struct result *r, FILE *out, bool colour, int width);
bool markdown_write(const struct result *r, FILE *out, bool colour, int width);
bool html_write(const struct result *r, FILE *out, bool colour, int width);
bool sarif_write(const struct result *r, FILE *out, bool colour, int width);
bool junit_write(const struct result *r, FILE *out, bool colour, int width);
bool gitlab_write(const struct result *r, FILE *out, bool colour, int width);
bool gitlab_metrics_write(const struct result *r, FILE *out, bool colour, int width);
bool github_write(const struct result *r, FILE *out, bool colour, int width);
bool csv_write(const struct result *r, FILE *out, bool colour, int width);
void format_list(FILE *out);

#endif
