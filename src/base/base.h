/* SPDX-License-Identifier: Apache-2.0 */
/* base.h - memory, text, limits, element types, and the words that passes and reports share. Knows nothing of models.
 *
 * Bytes are int64_t and their names end in "bytes"; ids are dense from 0, -1 means none.
 */
#ifndef BASE_H
#define BASE_H

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

/* ---- util.c: memory, text, tables of names ----------------------------------------------------------------------- */

struct arena;

struct arena *arena_new(void);
void arena_free(struct arena *a);
/* Zeroed bytes, aligned for any type; never NULL (dies with exit 4 when the machine has no more). */
void *arena_alloc(struct arena *a, size_t bytes);
void *arena_dup(struct arena *a, const void *p, size_t bytes);
char *arena_str(struct arena *a, const char *s);
char *arena_strn(struct arena *a, const char *s, size_t n);
char *arena_printf(struct arena *a, const char *fmt, ...) PRINTF(2, 3);
char *arena_vprintf(struct arena *a, const char *fmt, va_list ap);
/* Grows an arena array to hold at least n elements; the old contents are kept. Returns the (moved) array. */
void *arena_grow(struct arena *a, void *array, int *cap, int n, size_t size);
/* Gives back what is large enough to lie in a block of its own, always. */
void arena_drop(struct arena *a, const void *p, size_t bytes);
/* The same of what such an array has beyond n elements, where that is more than a quarter. Returns the array. */
void *arena_trim(struct arena *a, void *array, int *cap, int n, size_t size);
size_t arena_bytes(const struct arena *a);
/* From now on all arenas together take at most so many bytes; what would be more jumps to *over, with 1, or 2
 * when it can't be a size. NULL ends that. */
void arena_guard(jmp_buf *over, int64_t bytes);
/* The system gets back what freed arenas took, as far as it can. */
void arena_release(void);
/* Frees the arenas that were made after a. */
void arena_free_newer(const struct arena *a);

#define NEW(a, type)     ((type *)arena_alloc((a), sizeof(type)))
#define NEWN(a, type, n) ((type *)arena_alloc((a), sizeof(type) * (size_t)(n)))
/* Appends a zeroed element to array (with int count n and int capacity cap) and yields a pointer to it. */
#define PUSH(a, array, n, cap)                                                                             \
    ((void)((n) < (cap) ? NULL : ((array) = arena_grow((a), (array), &(cap), (n) + 1, sizeof(*(array))))), \
     &(array)[(n)++])

/* What stands behind the last dot of a path of modules, which may be all of it. */
const char *path_last(const char *path);
/* Whether it is of a module of a list, as nn.ModuleList and nn.Sequential number them. */
bool path_listed(const char *path);
/* Whether a path is that module's or of one inside of it; the model's own path is empty. */
bool path_within(const char *path, const char *module);
/* The path that is to one module what that is to another, NULL where it is not within that. */
const char *path_moved(struct arena *a, const char *path, const char *from, const char *to);
/* Behind the number in the first of two paths that is all in which they differ; NULL they differ otherwise. */
const char *path_number(const char *a, const char *b);
/* The first two modules on the way to each path that are not the same. False: one of them is around the other. */
bool path_parts(struct arena *a, const char *one, const char *other, const char **module, const char **again);

/* A map from strings to ints; keys are kept by reference. */
struct names;
struct names *names_new(struct arena *a);
/* The id of s, or -1. */
int names_find(const struct names *m, const char *s);
/* Sets the id of s. */
void names_put(struct names *m, const char *s, int id);
/* Where the id of s stands until another is set; -1 where it had none. */
int *names_id(struct names *m, const char *s);

/* A fault of the model: filled once, at the border only. */
struct err {
    const char *file, *place, *message, *remedy;
};
/* Fills e and returns false, so that a caller can `return err_set(...)`. Texts are formatted into a. place may be
 * NULL. */
bool err_set(struct err *e, struct arena *a, const char *place, const char *fmt, ...) PRINTF(4, 5);

/* Environment failure: prints "memlint: ..." and exits 4. For util.c and main.c only. */
void die(const char *fmt, ...) PRINTF(1, 2) NORETURN;

/* realloc for what can't live in an arena. The caller frees. */
void *grow_or_die(void *p, size_t bytes);

/* Checked 64-bit arithmetic: false on overflow or a negative factor. */
static inline bool
mul_ok(int64_t a, int64_t b, int64_t *out)
{
    return a >= 0 && b >= 0 && !__builtin_mul_overflow(a, b, out);
}
static inline bool
add_ok(int64_t a, int64_t b, int64_t *out)
{
    return a >= 0 && b >= 0 && !__builtin_add_overflow(a, b, out);
}
#define MAX_STORAGE_BYTES (INT64_C(1) << 42)
/* Elements of a tensor of n dimensions; MAX_STORAGE_BYTES where 64 bits don't hold them or a size is negative. */
static inline int64_t
sizes_product(int n, const int64_t *size)
{
    int64_t all = 1;
    for (int i = 0; i < n; i++)
        if (!mul_ok(all, size[i], &all))
            return MAX_STORAGE_BYTES;
    return all;
}
/* A line over sizes, read at one between from and to; straight is false once a number is none of it. */
struct line {
    int64_t from, to, at;
    bool straight;
};
/* What lies between a number at its beginning and one at its end. */
static inline int64_t
line_at(struct line *l, int64_t from, int64_t to)
{
    int64_t rise = 0;
    if (from == to)
        return from;
    l->straight &= from >= 0 && to >= 0 && mul_ok(to - from, l->at - l->from, &rise) && rise % (l->to - l->from) == 0;
    return from + rise / (l->to - l->from);
}
static inline int64_t
div_up(int64_t n, int64_t by)
{
    return (n + by - 1) / by;
}
/* For qsort and bsearch: ints that are 0 or more. */
int by_number(const void *a, const void *b);
/* The whole part of v; what does not fit is the nearest number that does, and NaN is 0. */
int64_t to_int(double v);

/* Writes n in decimal digits, without an end; what is behind them. */
char *int_put(char *to, int64_t n);
/* v with that many digits behind the point, as printf rounds, and a unit. */
char *fixed_text(struct arena *a, double v, int digits, const char *unit);
/* "5.1 GiB", for people. Static rotating buffers are not used: the text lives in a. */
const char *bytes_text(struct arena *a, int64_t bytes);
const char *count_text(struct arena *a, int64_t n); /* "1,117,184" */
/* Reads 24GiB, 24g, 512 MB, 1e9, 1073741824: bytes, or -1. */
int64_t bytes_parse(const char *text);
/* Whether two names differ in case, hyphens, underscores and blanks at most. */
bool word_same(const char *a, const char *b);
/* Those of the names that were probably meant by word, "adam or adamw"; NULL when none is near. */
const char *words_near(struct arena *a, const char *word, int n, const char *const *names);
/* Whether a name of the model may stand in a command or a program that people paste: letters, digits and _.-:/
 * alone. */
bool is_pasteable(const char *s);
/* Shell-style match of * ? and [...]; a star matches dots too. */
bool glob_match(const char *glob, const char *text);
double bytes_percent(int64_t part, int64_t whole); /* 0 of nothing */
int64_t bytes_add(int64_t a, int64_t b);           /* of bytes; stops at INT64_MAX */

/* ---- string.c: text that came from a model ----------------------------------------------------------------------- */

/* Strings from a model are data in every format. string_clean: valid UTF-8 without control, bidi and other invisible
 * characters, which become \xNN or U+FFFD; NULL becomes "". string_clip: at most max characters of it, the middle
 * cut. */
const char *string_clean(struct arena *a, const char *s);
const char *string_clip(struct arena *a, const char *s, int max);
const char *string_tail(struct arena *a, const char *s, int max); /* the beginning cut: of a path the end tells most */
/* The same of a text with names of operators, whose overload ".default" goes without saying. */
const char *string_op(struct arena *a, const char *s, int max);
/* A name of the model in a sentence: "`blocks.0`", so that every format can tell it from the words around. */
const char *string_quote(struct arena *a, const char *s, int max);
/* A path as a word that a POSIX shell reads, in single quotes where it needs them; NULL: it has characters that are not
 * printed. */
const char *string_shell(struct arena *a, const char *path);
/* "blocks.12.up" as "blocks.*.up", "layer_1" as "layer_*". */
const char *string_module_pattern(struct arena *a, const char *path);
/* The same of a tensor's name, without a number at its end: "add_7" as "add". */
const char *string_pattern(struct arena *a, const char *s);
/* The same of a path, of which only whole parts are numbers: "h.12.conv1" as "h.*.conv1". */
const char *string_path_pattern(struct arena *a, const char *path);
bool string_ends(const char *s, const char *with);
/* Decodes one character at s: its bytes, 1 to 4, or 0 when s does not begin with valid UTF-8. */
int string_utf8(const char *s, uint32_t *c);

/* ---- limits.c: how much of a model is taken ---------------------------------------------------------------------- */

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

/* ---- element types (util.c) -------------------------------------------------------------------------------------- */

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
static inline bool
dtype_is_half(enum dtype t)
{
    return t == DT_FLOAT16 || t == DT_BFLOAT16;
}
static inline bool
dtype_is_complex(enum dtype t)
{
    return t == DT_COMPLEX64 || t == DT_COMPLEX128;
}

/* ---- what passes tell and reports show --------------------------------------------------------------------------- */

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

/* Allocated bytes over a step, thinned for a picture: of each column the highest, the peak among them. */
enum { CURVE = 240 };
struct curve {
    int n;
    struct {
        int64_t bytes;
        enum phase phase;
    } at[CURVE];
};

struct binding {
    const char *name;
    int64_t n;
    const char *place; /* where a flag file says so, for models of all kinds; NULL on the command line */
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
    const char *assumed;  /* it is about this assumption, the other side of which moves the peak; NULL about none */
    int64_t effect_bytes; /* peak at 8 less the peak at 1, where assume_measure ran it; else 0 */
};
/* What a file can't show is assumed, and the step run with the alternative too: rows of assume.c. */
enum alternative {
    ALTERNATIVE_NONE, /* there is none */
    ALTERNATIVE_LOSS,
    ALTERNATIVE_LOOP,
    ALTERNATIVE_DROPOUT,
    ALTERNATIVE_DROPS,  /* likewise, where no library's source says that it has any */
    ALTERNATIVE_UNSEEN, /* dropout, of a file that would show none */
    ALTERNATIVE_INPLACE,
    ALTERNATIVE_OVERWRITES,
    ALTERNATIVE_ATTENTION,
    ALTERNATIVE_TIED,
    ALTERNATIVE_TRANSPOSED, /* tied, of a weight whose transpose the file has under another name */
    ALTERNATIVE_NORMS,
    ALTERNATIVE_SILU,
    ALTERNATIVE_MAX,
    ALTERNATIVE_EARLY,     /* log_softmax, before what lies between it and its loss */
    ALTERNATIVE_TWICE,     /* what is equal, which the exporter writes once */
    ALTERNATIVE_TURNED,    /* contiguous() before a convolution or a view */
    ALTERNATIVE_PRODUCTS,  /* with a parameter, by an operator or by F.linear */
    ALTERNATIVE_DETACHED,  /* norms of parameters */
    ALTERNATIVE_WIDENED,   /* of what casts what it reads: under torch.no_grad, and not outside of torch.autocast */
    ALTERNATIVE_GRADIENTS, /* of what runs twice, one time of which may be under torch.no_grad */
    ALTERNATIVE_SQUARES,   /* by square, which is a power */
    ALTERNATIVE_LEFT,      /* likewise, or dropout of 0, of which a name is left */
    ALTERNATIVE_CLONED,    /* what else left nothing but a name, where nothing else tells of dropout */
    ALTERNATIVE_BUFFERS,
    ALTERNATIVE_FOLDED,   /* the most that a buffer or parameter may be which became a constant */
    ALTERNATIVE_COMPUTED, /* of parameters, by constant folding, which left the result alone */
    ALTERNATIVE_LOCALS,
    ALTERNATIVE_TRACED,    /* names of what was traced under torch.no_grad, without its lines */
    ALTERNATIVE_LISTS,     /* that loops go through, or take each element out of */
    ALTERNATIVE_TYPES,     /* numbers made of masks and integers are of autocast's type */
    ALTERNATIVE_FUNCTIONS, /* names of functions that are no module's forward */
    ALTERNATIVE_BEHIND,    /* names of what stands behind reentrant checkpoints, without its lines */
    ALTERNATIVE_CASTS,     /* to fp32, in such functions, of what a softmax or a loss reads */
    ALTERNATIVE_WEIGHTS,   /* attention's, in what its function returns */
    ALTERNATIVE_CHECKPOINTS,
    ALTERNATIVE_SWITCH,       /* of a library, which puts layers under checkpoint */
    ALTERNATIVE_CELLS,        /* recurrent layers step by step, without cuDNN */
    ALTERNATIVE_PARTS,        /* of what is taken apart on a line that was lost: where it is made */
    ALTERNATIVE_MERGED,       /* calls, with equal ones: right behind those */
    ALTERNATIVE_REMADE,       /* what merged calls of functions read: by each of them */
    ALTERNATIVE_UNREAD,       /* what nobody reads of the last of several layers: not at all */
    ALTERNATIVE_UNSIZED,      /* parameters of lost sizes, which nothing reads: as large as others of their name */
    ALTERNATIVE_KERNEL,       /* a library's own, which makes nothing in between */
    ALTERNATIVE_ASKS,         /* a module whose parameters are frozen asks for a gradient of its input */
    ALTERNATIVE_FACT_DROPOUT, /* without what libraries' sources say of it, and so on */
    ALTERNATIVE_FACT_IN_PLACE,
    ALTERNATIVE_FACT_CASTS,
    ALTERNATIVE_FACT_PARAMETERS,
    ALTERNATIVE_FACT_OPERATORS,
    ALTERNATIVE_EVALUATION, /* none's: who asked for it asked for the mode */
    ALTERNATIVE_COUNT
};

struct assumption {
    const char *text;
    enum alternative alternative;
    const char *option;   /* that says otherwise; NULL none */
    const char *called;   /* what is said so to have been called; NULL nothing */
    bool measured;        /* assume_measure ran the alternative */
    int64_t effect_bytes; /* its peak of allocated bytes less the step's */
    int64_t reserved;     /* its peak of reserved bytes; 0 not asked for */
};

/* Where a file comes from, and what that means for the number. */
struct provenance {
    const char *kind, *text; /* "pytorch", "quantized"; text: a sentence, NULL where nothing needs saying */
    bool leads;              /* it is the first that a report says, before any number */
    bool none;               /* no step is there to be measured: the numbers of a result are 0, and none is told */
};

/* Devices of one kind run the same step: device.h. */
enum { DEVICE_KINDS = 9 };

#endif
