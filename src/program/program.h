/* SPDX-License-Identifier: Apache-2.0 */
/* program.h - what a Python program called: calls, parameters, modules. */
#ifndef PROGRAM_H
#define PROGRAM_H

#include "graph/graph.h"

#include <limits.h>
#include <string.h>

/* ---- program.c; how long names hold tensors: python.c, places.c, hidden.c, checkpoints.c ------------------------- */

/* An argument of a framework call. In a program tensors are slots; while a call runs they are values. */
struct arg {
    enum arg_kind {
        ARG_NONE,
        ARG_SLOT,
        ARG_VALUE,
        ARG_INT,
        ARG_FLOAT,
        ARG_COMPLEX,
        ARG_BOOL,
        ARG_DTYPE,
        ARG_TEXT,
        ARG_LIST
    } kind;
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
    struct arg *args;   /* in the order of op->args */
    int *outs;          /* slots */
    int nargs, nouts;
    int rank;  /* sizes of outs[0] as the file states them; -1 unknown */
    int scope; /* module, index into program.modules */
    const int64_t *size;
    const char *location, *node, *name; /* name: of the first output */
    const char **frames;        /* Python frames, outermost first: File "f.py", line 1, in f; NULL-terminated or NULL */
    const char *stack, *scopes; /* the exporter's text of both, NULL none */
    int kept, attribute; /* the slot that an attribute of a module keeps from then until the next step, and the number
                          * of that attribute from 1 on; 0 none */
    const char *unread;  /* the module that makes it for nobody, so that the file has it not; "" the last round of
                          * a loop; NULL none */
    bool in_place;       /* writes over its first argument: relu_, += */
    bool no_grad, no_autocast; /* the program has switched either off */
    bool in_loss;              /* the loss function runs it, not the model */
    bool either_type;          /* in fp32 as far as a line shows: it may have another tensor's type */
    enum anew {
        ANEW_NOT,
        ANEW_FIRST, /* a view that autograd makes anew since what it shows was written */
        ANEW_OF,    /* one of that */
        ANEW_READ   /* as the first, when it is read */
    } anew : 8;
};

/* Slots that a call reads, one after another: for (struct call_reads r = {c}; (slot = next_read(&r)) >= 0;) */
struct call_reads {
    const struct call *call;
    int arg, element;
    struct arg *at; /* where the last one stands */
};
static inline int
next_read(struct call_reads *r) /* -1 no more */
{
    for (; r->arg < r->call->nargs; r->arg++, r->element = 0) {
        struct arg *a = &r->call->args[r->arg];
        while (r->element < (a->kind == ARG_LIST ? a->n : 1)) {
            r->at = a->kind == ARG_LIST ? &a->list[r->element] : a;
            r->element++;
            if (r->at->kind == ARG_SLOT && r->at->i >= 0)
                return (int)r->at->i;
        }
    }
    return -1;
}
enum target_trait {
    TARGET_VIEWS = 1,         /* its result shows its first argument under other sizes */
    TARGET_LOST = 2,          /* put where a file shows by what is missing that there was a call */
    TARGET_COPIES = 4,        /* such a call that was a dropout or a copy */
    TARGET_VIEWS_COPY = 8,    /* what reshape copied for it, never a dropout's result */
    TARGET_COPIES_INPUT = 16, /* since its library overwrites it */
    TARGET_REORDERS = 32,     /* its result shows its first argument under other strides */
    TARGET_KEEPS = 64,        /* one of TARGET_VIEWS, of all elements, each once */
    TARGET_WRITES = 128,      /* over a part of its first argument */
    TARGET_CLONES = 256,      /* as the line says */
    TARGET_SORTS = 512,       /* its results are values and their indices, as those of ONNX's TopK */
    TARGET_MULTIPLIES = 1024, /* matrices */
    TARGET_PROJECTS = 2048,   /* a linear layer: input, weight, bias */
    TARGET_FOLDED = 4096,     /* a constant that was computed, made anew: its first argument says by what */
    TARGET_EXCEEDS = 8192,    /* compares, as a window's end */
    TARGET_WEIGHS = 16384,    /* a softmax */
    TARGET_DROPS = 32768,     /* out */
    TARGET_COMPLEX = 65536,   /* makes complex numbers, which files have as pairs */
    TARGET_DRAWS = 131072,    /* random numbers, into a tensor of its own */
    TARGET_PADS = 262144      /* so that it makes more than it reads */
};
bool target_is(const char *target, enum target_trait t);
bool target_named(const char *target, const char *stem); /* "aten.add.Tensor" is "add" */
/* "add.Tensor" of "aten.add.Tensor". */
static inline const char *
target_bare(const char *t)
{
    return t[0] == 'a' && t[1] == 't' && t[2] == 'e' && t[3] == 'n' && t[4] == '.' ? t + 5 : t;
}

static inline bool
target_views(const char *target)
{
    return target_is(target, TARGET_VIEWS);
}

enum param_kind { PARAM_TRAINED, PARAM_FROZEN, PARAM_BUFFER, PARAM_CONSTANT };

/* A parameter, buffer or constant of the model, in registration order; tied names share a slot. */
struct param {
    const char *name; /* qualified: "blocks.0.qkv.weight" */
    enum param_kind kind;
    int slot, module;
    int tied_to;   /* param, or -1 */
    int group;     /* of the optimizer, which updates one after another */
    bool is_table; /* an embedding reads it */
    bool is_exact; /* its type is the same under every precision */
    enum dtype dtype;
    int rank; /* -1: the file has the name but not the shape */
    const int64_t *size;
};

/* Whether it is no parameter but a buffer, or what the file has in the place of one. */
static inline bool
param_is_state(const struct param *q)
{
    return q->kind == PARAM_BUFFER || q->kind == PARAM_CONSTANT;
}

/* Whether a module returns the weights of its attention; withheld: only when it is asked to. */
enum weights { WEIGHTS_UNKNOWN, WEIGHTS_RETURNED, WEIGHTS_WITHHELD };

struct module {
    const char *path, *type; /* type NULL unknown */
    int parent;              /* -1 for the model itself */
    enum weights weights;
};

/* Calls of a module under torch.utils.checkpoint. */
struct region {
    int first, end;     /* calls */
    const char *module; /* whose calls they are; NULL no module's */
    bool reentrant;     /* made again to the end; what the function holds lives as long as the graph */
    int nholds;
    const int *holds; /* slots that the function has, besides those that its calls read */
    const bool
        *keeps;    /* selective: per row of aten_table, whether its results are kept instead of made again; NULL none */
    int64_t inner; /* of products only those with an inner dimension of at least this */
};

struct program {
    struct arena *arena;
    struct graph *graph;              /* doubts are added to it */
    int nslots, ngiven;               /* ngiven: the first so many no call makes, as far as that is known */
    int cap_made, *made;              /* the call that made a slot, or its place before calls were moved */
    int nparams, cap_params, ngroups; /* of the optimizer, besides the first */
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
    struct returned {
        const char *name;
        int slot;
        int rank; /* -1 unknown */
        bool is_float;
    } * outputs;
    int nmodules, cap_modules;
    struct module *modules;
    int nassumptions, cap_assumptions;
    struct assumption *assumptions;
    const bool *facts; /* which rows of fact_table were used; NULL none */
    int nattributes;   /* of modules, that keep a tensor until the next step */
    int nregions;
    const struct region *regions; /* in order, apart from each other */
    int nunits;
    const struct region *units; /* that fully_shard wraps, in order, apart from each other */
    int *parts;  /* with sequence parallelism what the units read that goes along the sequence: slots, -1 behind them */
    int *wholes; /* and what is read of them behind the units */
    const char *columns, *rows; /* linear layers that GPUs share, "blocks.*.up, blocks.*.q"; NULL none */
    uint64_t asked;             /* bits 1 << enum alternative: with none of the others it would be another program */
    int *held;                  /* python_holds, which step_holds asks once */
    const char **held_by;       /* and the names, NULL where an expression holds it */
    unsigned held_most;         /* what it was asked with */
    struct held_before *held_before; /* of it what holds for any most; NULL not known yet */
    struct frames *frames;           /* of the calls' stacks, as far as they were read */
    const char *unseen_switch;       /* a library's, of checkpoints, which leaves nothing in a file; NULL none */
    const char *switched;            /* globs of the modules that it puts under checkpoint; NULL unknown */
    bool captured;                   /* by memlint's own export: nothing had to be told from lines */
    bool release;                    /* an edit: no Python name holds a tensor longer than operators read it */
};

void program_dump(const struct program *p, FILE *f); /* --dump=calls */
/* Of a program's stacks; before: of the file's first program, which outlives it, NULL none. */
struct frames *frames_new(struct arena *a, struct frames *before);
/* The first frame from there on in the text of a stack; NULL none. */
static inline const char *
python_frame(const char *p)
{
    while ((p = strchr(p, 'F')) && strncmp(p, "File \"", 6) != 0)
        p++;
    return p;
}
/* Behind the frame that begins there, at the next one or the stack's end. */
static inline const char *
python_frame_end(const char *frame)
{
    const char *next = python_frame(frame + 1);
    return next ? next : frame + strlen(frame);
}
int python_frame_line(const char *frame); /* the number of its line; 0 it says none */
/* Whether two frames are of one function of one file, whatever their lines. */
bool python_same_function(const char *frame, const char *other);
/* The innermost frame of a stack; NULL none. */
const char *python_inner(const char *stack);
bool python_in_torch(const char *stack); /* it is of PyTorch's own modules or functions */
/* By how much a character of a line nests what follows it. */
static inline int
python_opens(char c)
{
    static const signed char opens[UCHAR_MAX + 1] = {
        ['('] = 1, ['['] = 1, ['{'] = 1, [')'] = -1, [']'] = -1, ['}'] = -1};
    return opens[(unsigned char)c];
}
size_t python_name(const char *p); /* the length of the name that the text begins with */
/* Behind the brackets of what a line writes there; NULL they are open at its end. */
const char *python_brackets_end(const char *at);
/* The entries of a Python list of strings, which may be NULL. Those that `before` begins with, too, are the same. */
struct entries {
    const char *list;
    size_t len;
    int n, kept; /* kept: so many of the list before */
    struct entry {
        const char *name;
        size_t end; /* of the list up to behind its closing quote */
    } * entry;
};
struct entries python_entries(struct arena *a, const char *list, const struct entries *before);
/* Behind the bracket where the line first calls a function or method of that name; NULL it does not. */
const char *python_calls(const char *line, const char *name);
/* With which letters the names end that the line calls, and whether one of such an ending may be that name: false, the
 * line doesn't call it. For tables of names. */
uint64_t python_endings(const char *line);
bool python_may_call(uint64_t endings, const char *name);
uint64_t python_ending(const char *name); /* of a name: what python_endings has a bit of where the line may call it */
/* The same for a table's rows, which keep what that is of their names. */
static inline bool
python_may_call_row(uint64_t endings, const char *name, uint64_t *ending)
{
    *ending = *ending ? *ending : python_ending(name);
    return endings & *ending;
}
/* Whether the line gives the first call of that name a k-th argument, from 0 on, or one by that keyword: -1 unknown, as
 * the line does not call it or is not all of the statement. */
int python_gives(const char *line, const char *name, int k, const char *keyword);
/* The slot that a name of the traced program holds where the call runs, among those made before it; -1 none that a line
 * was seen to bind. */
int python_named(const struct program *p, const struct call *c, const char *name);
/* What a line gives a function or module in fp32, "self._norm(x.float())": calls first to last are that's, and read the
 * slot; the line's stack and module; "x" of its text, and what stands behind the brackets, NULL it is not on the line;
 * whether they stand on the line themselves, as those of a function do. They come by their first call. */
struct given_cast {
    int first, last, slot, scope;
    const char *stack, *of, *behind;
    size_t len;
    bool on_line;
};
/* The length of the cast to fp32 with which an expression ends; 0 none. */
typedef size_t cast_length(const char *begin, const char *end);
int python_given(const struct program *p, struct arena *a, cast_length *cast, struct given_cast **found);
/* Likewise what a line's calls make for others, where its value ends in such a cast: "y = self.net(x).float()". */
int python_made(const struct program *p, struct arena *a, cast_length *cast, struct given_cast **found);
/* Per call the slot that the variable of that name holds in its function, as the lines there tell; -1 they don't. Names
 * are per call, NULL none, "" the tensor that a function is given which the line calls. */
int *python_meant(const struct program *p, struct arena *a, const char *const *names);
/* The only subscript of a line that is that slice or element, "x[:, 4:]", or "narrow(1, 4, 2)"; NULL none. */
const char *python_subscript(struct arena *a, const struct call *c, const char *line);
/* The call before which the last one ran, with those from `from` on, by its line, if that ran once and behind those of
 * its arguments; else `from`. */
int python_place(const struct program *p, int from);
/* Where a call ran that left nothing, reads that slot and is read by a call of that stack, in the frame that both
 * share: behind the last line that writes its name, whose frames are *line; else, *line NULL, before the reader's line,
 * or behind what made the slot, in a function that the line before calls, where numbers leave no other line. The number
 * of calls where no frames tell. */
int python_line(const struct program *p, int slot, const char *stack, const char *scopes, const char *name,
                const char **line);
/* Whether the value of a line's last statement is what that method, without arguments, makes at its end. */
bool python_closes(struct arena *a, const char *line, const char *name);
/* The variable that a line's only such operator reads first, "x" of "x.mean()" and of "mean(x)"; NULL none. */
const char *python_operand(struct arena *a, const char *line, const char *target);
/* What a line gives Python's own sum(list), which adds the first to 0; NULL it does not call it. */
const char *python_sums(const char *line);
/* Whether a line adds three in a row, "x + y + z". */
bool python_adds_on(const char *line);
/* The line of a stack's frame at that level, from 0 on. */
const char *python_text(struct arena *a, const char *stack, int level);
/* Whether a later line may be of the statement that a line begins: that one leaves a bracket open, and the later one is
 * no statement that binds a name. */
bool python_goes_on(struct arena *a, const char *line, const char *later);
/* Whether a line binds that name. */
bool python_binds(struct arena *a, const char *line, const char *name);
/* Whether a line writes that operator: "aten.add.Tensor" as "add(", "add_(" or " + ". */
bool python_writes(const char *line, const char *target);
int python_times(const char *line, const char *target); /* and how often */
/* Whether what the line writes for the n-th time, over and over, is the operator in place: "add_(" or "+=". */
bool python_overwrites(const char *line, const char *target, int n);
/* Whether a module of PyTorch's own runs the call, and a statement of its own calls that: "self.act(x)", so that who
 * reads the result must find it in x. */
bool python_unnamed_layer(const struct program *p, const struct call *c);
/* Whether both lines call a function of the same name, "torch.tensordot(". */
bool python_shares(struct arena *a, const char *line, const char *other);
/* All of a statement, as far as brackets tell. */
bool python_complete(const char *line);
/* The variable that the second line reads and the first binds; NULL none. */
const char *python_passed(struct arena *a, const char *line, const char *reader);
/* The first variable that the line reads; NULL none. */
const char *python_variable(struct arena *a, const char *line);
/* Whether one call's result is read by another under a name that its own line does not bind, or that another result
 * which it reads was given later (NULL none), by their stacks: a statement that left no call stands between them. */
bool python_renames(struct arena *a, const char *maker, const char *reader, const char *later);
/* The frames of a call that a file has once, by its own frames and those of the call that reads it when it runs again:
 * its own line is one of the reader's, or the reader's line writes it, or calls the module that does. NULL unknown. */
const char *python_again(struct arena *a, const char *target, const char *maker, const char *reader);
/* Whether the first of two stacks is on an earlier line than the second of the function where they part. */
bool python_earlier(struct arena *a, const char *one, const char *other);
/* How many calls a line itself may stand for: functions and methods, signs, and what a subscript takes apart. */
int python_most(const char *line);
/* Whether lines run more calls than they write, in functions whose names no file shows. */
bool python_hides(const struct program *p);
/* Whether the line that a stack ends in may be such a one. */
bool python_may_hide(struct arena *a, const char *stack);
/* Per call whether one of those ran it. */
bool *python_hidden(const struct program *p, struct arena *a);
/* Whether some of it was traced without its lines. */
bool python_traced(const struct program *p);
/* Whether something without lines stands behind reentrant checkpoints. */
bool python_behind(const struct program *p);
/* Whether something may be in a list that a loop goes through, or takes it out of, or that a call has on further lines;
 * of a program that was asked for. */
bool python_lists(const struct program *p);
bool python_is_traced(const char *stack); /* a line of such a graph's code */
/* Whose code that is, File "<eval_with_key>.7": a region's, whose calls all have it. NULL none's. */
const char *python_region(const char *stack, size_t *len);
/* That region's number, in the order in which graphs were made: 835 of "<eval_with_key>.835". */
int python_region_number(const char *code);
/* The same of a call whose own lines are known, but run in such code. */
const char *python_region_around(const char *stack, size_t *len);
/* Whether a library's attention is written out, whose functions may return its weights, or anybody's without stacks. */
bool python_attends(const struct program *p);
enum holds {
    HOLD_LOCALS = 1,
    HOLD_FUNCTIONS = 2,
    HOLD_TRACED = 4,
    HOLD_WEIGHTS = 8,
    HOLD_LISTS = 16,
    HOLD_BEHIND = 32
};
/* Per slot the last call during which a name of the traced program holds its tensor; -1 none. most: of these the most
 * that they can hold, where no stack tells, in functions other than forward, in what was traced without its lines, in
 * tuples that attention returns, in lists that loops go through. by: the name that holds it, NULL none. What is so for
 * any most p keeps for the next time. */
int *python_holds(struct program *p, unsigned most, const char ***by);
/* Whether all that it reads is the same in both. */
bool python_holds_alike(const struct program *p, const struct program *q);
/* Tells calls what an attribute of their module keeps of them: what the last of a statement makes, or the weights that
 * a function of attention returns beside its result. What can't be told apart is a doubt. */
void python_attributes(struct program *p);
bool python_keeps(const char *stack); /* whether a line of a stack may bind an attribute */
/* Moves calls of several results that have no stack before the line that reads these, unless it takes them apart; with
 * `early` right behind what made their tensor, where both are possible. Whether that is so of any. */
bool python_parts(struct program *p, bool early);
/* Adds to p->regions what the program's own lines put under torch.utils.checkpoint; those of a conditional
 * expression only when asked. What can't be told apart is a doubt. */
void python_checkpoints(struct program *p, bool conditional);
/* Whether n arguments are alike, but for which tensors they are. */
bool same_args(int n, const struct arg *p, const struct arg *q);
struct param *program_param(const struct program *p, int slot); /* of several names the first; NULL none */
/* The same of every slot. */
const struct param **program_params(const struct program *p, struct arena *a);
/* Per slot the call that makes it, -1 none; whether a parameter or an input of real numbers goes into it. */
int *program_makers(const struct program *p, struct arena *a);
bool *program_learned(const struct program *p, struct arena *a);
/* States an assumption, once. */
void program_assume(struct program *p, enum alternative other, const char *fmt, ...) PRINTF(3, 4);

#endif
