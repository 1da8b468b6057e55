/* SPDX-License-Identifier: Apache-2.0 */
/* dynamo.h - a recorded program being lowered, shared by dynamo.c and what it is made of: fx.c, spelled.c, group.c,
 * params.c, computed.c, resolve.c, left.c, clones.c, again.c, arithmetic.c, casts.c, adapters.c, copies.c, recorded.c,
 * pieces.c. */
#ifndef DYNAMO_H
#define DYNAMO_H

#include "lower/lowering.h"

#include <string.h>

/* What a node's texts say. */
struct record {
    const char *name, *target, *args; /* of its call, args: after "(args = ("; name NULL: it is none */
    int nreads, cap_reads;
    const char **reads; /* names in them, "add_1" of "%add_1" */
    struct aim {
        bool read;                   /* by spelled_read: */
        bool number;                 /* spelled_number */
        uint64_t renames;            /* rows of spelled_anew, as bits */
        bool batch;                  /* its statistics are the batch's */
        bool trains;                 /* spelled_in_training may say so */
        enum trait traits;           /* for spelled */
        const struct aten *row;      /* spelled_row */
        bool pieces;                 /* by pieces.c: */
        uint64_t wholes;             /* rows that it may begin, as bits */
        uint64_t asked[2], draws[2]; /* rows of arithmetic.c of which it was asked, that it may begin */
    } * aim;                         /* what the target says, whatever calls it; NULL without a name */
    struct given {
        struct arena *a;
        int n, nkeyed;
        struct arg *arg; /* NULL: not read yet */
        struct keyed {
            const char *key;
            struct arg value;
        } * keyed;
        bool doubted; /* whoever reads them has a doubt */
    } * given;        /* the arguments; NULL without a name */
    struct traced {
        const char *stack;              /* the text; NULL none */
        struct traced *next;            /* of the node behind it, the last time: layers run the same lines in turn */
        const char *line;               /* of Python: of the innermost frame */
        const char *outer, *around;     /* the stack without that frame, and the innermost line there */
        bool in_torch;                  /* it is of PyTorch's own modules */
        bool casts;                     /* one of the two lines may cast: casts.c */
        uint64_t endings;               /* python_endings of the line */
        bool drops;                     /* a line says dropout */
        int forwards;                   /* count_forwards of it */
        unsigned says;                  /* as bits, of the words that lowerings look for in the whole stack */
        const char *location, **frames; /* struct call's */
        bool drawn;                     /* arithmetic.c has read the line: */
        uint64_t draws[2];              /* rows of its table whose words the line has, as bits */
        bool functions;                 /* recorded.c has read the line: */
        uint64_t decomposed;            /* functions of its tables that the line calls, as bits */
        unsigned composed, recurrent;   /* likewise */
        bool masks, leaves;             /* with those of torch.masked; for the CPU */
        int most;                       /* python_most */
    } * traced;                         /* by its stack: nodes with the same have it in common */
    struct entries scopes, classes;     /* outermost first */
    int scope_drops, class_drops;       /* the first of them that says dropout, from 1 on; 0 none */
    unsigned says;                      /* with the stack's bits */
    bool drops;                         /* they or a line say dropout */
};

/* One group of nodes: a call of the traced program. */
struct group {
    const char *fx_name, *target, *args; /* args: after "(args = (" */
    struct aim *aim;                     /* NULL: not read */
    struct given *given;                 /* likewise */
    int nnodes, cap, *nodes, last;
    const char *path, *type; /* module; no type without a path */
    int call;                /* -1 not made yet */
    int drawn;               /* the result of the operator whose arithmetic it is part of; -1 none */
    bool done;
};

struct dynamo {
    struct lowering *l;
    int ngroups;
    struct group *groups;
    int *group_of;              /* per node, -1 none */
    struct names *params;       /* placeholder name to param */
    struct names *producer;     /* fx name to call */
    bool *referenced;           /* params named by any text */
    int nunread, unread_of;     /* of the first unread_of params, */
    int *unread;                /* those that no text names and whose size nobody knows, when resolve.c first looked */
    int asked, *source;         /* constants.c: per param, the last asked constant that it is a source of */
    const struct tensor **into; /* constant_into's; NULL not asked for yet */
    const struct tensor **folded; /* per param: a constant that the file says it was folded into, of its size if that
                                   * can be told; NULL none */
    bool *copied;                 /* params of a copy, of which the file has the other's alone */
    struct names *told, *most;    /* names in the file's texts; of roots the greatest number; NULL not asked for yet */
    struct names *left; /* modules in which there is a group or one of the first nleft params; NULL likewise */
    int nleft;
    struct names *read;   /* full names of what lines read as "self.name"; NULL not asked for yet */
    int again;            /* calls being made again, one for the other */
    int rerun;            /* likewise, of another run of a function or a module */
    bool clones_left_out; /* the last time that numbers told it, before a layer whose text went */
    bool trained;         /* the exporter saw the model in training mode */
    bool takes_batch;     /* and a batch norm */
    bool drops;           /* some line, module or class says dropout */
    int fed;              /* tensor of the running group that went into pieces made for it, -1 none */
    int ntables, cap_tables;
    struct table {
        const char *line, *path;
        int at, slot;
        const struct tensor *t;
    } * tables; /* folded constants by the line that reads them */
    int nparts, cap_parts;
    struct part {
        const struct param *param;
        int tensor;
    } * parts; /* of parameters, which were folded one by one */
    int npacked, cap_packed;
    struct packed {
        int weight, bias;
    } * packed;   /* parts of packed projections */
    struct norm { /* the RMSNorm module being lowered */
        int scope, input, wide;
    } norm;
    struct {
        int bias, slot;
    } masked; /* a position bias, and with the mask that the exporter folded away */
    int ntraced, cap_traced;
    int *traced;                   /* slots of what only the trace has, a mask first */
    const struct tensor *constant; /* the folded one that is being resolved, if the file says what of; NULL else */
    int body_params;               /* parameters that the group being lowered has got by param_in_body */
    int nremade, cap_remade;
    struct remade {
        const char *in, *module; /* the frames around that run, and the module that ran */
        int slot, again;
    } * remade; /* what another run of a function made again */
    int nsplits, cap_splits;
    struct split {
        int first, number; /* slot of the file's first part, and the number of that one's name */
        const int *outs;
    } * splits; /* those that are read, equal ones of which the file has one */
    int norigins, cap_origins;
    struct origin {
        int slot, tensor;
    } * origins; /* lost calls: the tensor whose place they take */
};

static inline bool
starts_with(const char *s, const char *with)
{
    while (*with && *s == *with) {
        s++;
        with++;
    }
    return !*with;
}

static inline bool
ends_with(const char *s, const char *end)
{
    size_t n = strlen(s), m = strlen(end);
    return n >= m && strcmp(s + n - m, end) == 0;
}

/* ---- masks.c ----------------------------------------------------------------------------------------------------- */

/* The same of a mask of which the file has nothing but its name, before arguments are resolved. */
void masks_lost(const struct dynamo *d, const struct group *g, struct arg *args, int n);
/* Takes an attention's mask away where only the trace has it, and repeated heads with it; a doubt where that can't be
 * told. How many arguments there are then. */
int masks_leave(struct dynamo *d, const struct group *g, struct arg *args, int n);
/* Takes the calls away that made it. */
void masks_sweep(struct dynamo *d);

/* ---- fx.c: the exporter's text ----------------------------------------------------------------------------------- */

/* What a node's texts say, read once a file. */
const struct record *fx_read(const struct lowering *l, int node);
static inline const struct record *
fx_record(const struct lowering *l, int node)
{
    const struct record *r = l->g->n[node].record;
    return r ? r : fx_read(l, node);
}
enum stack_word {
    SAYS_CHECKPOINT = 1,
    SAYS_APPLY = 2,
    SAYS_EVAL = 4,
    SAYS_DETACH = 8,
    SAYS_FLOAT = 16,
    SAYS_KEEPS = 32,
    SAYS_FUNCTION = 64, /* a forward() runs that is no module's: "spike(x)" of "spike = Spike.apply" */
    SAYS_TYPE_AS = 128
};
/* Whether the stack of some node has one of the words; SAYS_KEEPS: a line that may bind an attribute. */
bool fx_says(const struct lowering *l, unsigned words);
/* The list that a call takes an item of, and which; "" none. */
const char *fx_list(struct arena *a, const struct record *r, int *item);
/* The n-th entry from the end; NULL none. */
static inline const char *
fx_entry(const struct entries *e, int from_end)
{
    return from_end <= e->n ? e->entry[e->n - from_end].name : NULL;
}
const char *fx_location(struct arena *a, const char *stack); /* "file.py:123", outside of packages where it can be */
/* The stack of a statement before that one, which binds the name; the stack itself where there is no such name. */
const char *fx_before(struct arena *a, const char *stack, const char *name);
bool fx_widens(const char *line);                         /* reads a weight in fp32 */
const char *fx_outer(struct arena *a, const char *stack); /* without the innermost frame */
/* The stack of a statement that left nothing, "name = called(", before the line that a stack ends in; NULL it has no
 * frames. */
const char *fx_lost_line(struct arena *a, const char *stack, const char *name, const char *called);
const char *fx_line(struct arena *a, const char *stack); /* the Python line of the innermost frame */
static inline const char *
fx_line_at(const struct dynamo *d, int node) /* the same of a node */
{
    return fx_record(d->l, node)->traced->line;
}
const char **fx_frames(struct arena *a, const char *stack);
int fx_count_frames(const char *stack);
/* The line of the maker's stack in the reader's innermost frame. */
const char *fx_line_in_frame(struct arena *a, const char *maker, const char *reader);
/* The length of a traced name without its number, and that: "_to_copy_2"; 0 it has none. */
size_t fx_number(const char *name, int *number);
/* Whether two traced names are of one root. */
bool fx_same_root(const char *a, const char *b);
/* The traced name of that root and number: "add" of 0. */
const char *fx_nth(struct arena *a, const char *name, size_t root, int number);
const char *fx_named(struct arena *a, const char **args); /* "add_1" of "%add_1", from there on; NULL no more */
bool fx_names(const char *args, const char *name);        /* whether that name is among them; args NULL: none are */
/* Arguments in the order of op's row; names stay text. How many of out[MAX_ARGS]. */
int fx_args(struct lowering *l, const struct aten *op, const char *p, struct arg *out);
/* The same of a group's, which are read once a file. */
int fx_group_args(struct lowering *l, const struct aten *op, const struct group *g, struct arg *out);

/* ---- spelled.c: how the exporter spells operators ---------------------------------------------------------------- */

/* "add" of "add" and "add_3". */
bool spelled_as(const char *name, const char *stem);
const char *spelled_was(const char *name);                     /* what made a constant of that name; NULL itself */
bool spelled_number(const char *target);                       /* makes no tensor, but a number of sizes */
const char *spelled_root(struct arena *a, const char *target); /* "add" of "aten.add.Tensor" */
/* The name by which the line calls the operator: its root, or that of a function which is nothing else. */
const char *spelled_in(struct arena *a, const char *line, const char *target);
const char *spelled_stem(struct arena *a, const char *name); /* "aten.full_like" of "full_like_3" */
/* What eager runs for a recorded call. */
const char *spelled_anew(const struct dynamo *d, const struct group *g);
/* What makes the same as "x.new_zeros(n)" without a tensor whose type it takes; NULL of other operators. */
const char *spelled_alone(const char *target);
/* Of what a batch norm takes statistics. */
enum statistics { STATISTICS_ANY, STATISTICS_BATCH, STATISTICS_RUNNING };
enum statistics spelled_statistics(const char *target);
/* A model in evaluation mode doesn't call it; args NULL: whatever they are, and the node's texts. */
bool spelled_in_training(const char *target, const char *args, const struct node *n);
const struct aten *spelled_row(const char *target); /* of a recorded call; NULL none */
/* What the tables of spelled.c say of a target, where it was not read yet. */
void spelled_read(struct aim *aim, const char *target);
/* Whether the traced program gives such a name to results of this target. */
bool spelled_after(const char *name, const char *target);
/* Calls that leave nothing in a file: complex numbers are pairs there, gradients do not exist, and what is joined
 * alone is itself. */
struct traceless {
    const char *stem, *target;
    bool list;     /* takes a list of tensors */
    unsigned last; /* its name, which is this word, may be lost with what read it */
};
enum { TRACELESS_PAIRS, TRACELESS_COMPLEX, TRACELESS_DETACH, TRACELESS_CAT, NTRACELESS };
extern const struct traceless traceless[NTRACELESS];
/* The row of a name; NULL none. */
const struct traceless *spelled_traceless(const char *name);
/* Whether such a call may be lost with what read it, at the end of its statement. */
bool spelled_ends_statement(const char *target);
#define REFLECTED "aten.rsub.Scalar" /* of a number minus a tensor, which the file has as aten.sub.Tensor */

/* ---- group.c: the nodes of one recorded call --------------------------------------------------------------------- */

void group_make(struct dynamo *d);
int group_output(const struct dynamo *d, const struct group *g); /* the tensor by which its result leaves it */
bool group_of_sizes(const struct group *g);                      /* it makes a number, which is no call of the step */
bool group_makes(const struct dynamo *d, const struct group *g, int tensor);
/* Its inputs from outside that hold data and are no argument already resolved. How many. */
int group_inputs(const struct dynamo *d, const struct group *g, const struct arg *args, int nargs, int *out, int max);
bool group_same_statement(const struct dynamo *d, int a, int b); /* nodes */
/* The call that made a slot; NULL none. */
const struct call *group_maker(const struct program *p, int64_t slot);
/* Whether what the call reads was written in place, or is a view of what was. */
bool group_of_written(const struct program *p, const struct call *c);
/* A call that stands where the node says, in the module of that path and class. */
struct call *group_placed(struct lowering *l, const struct node *n, const char *path, const char *type,
                          const char *target, int nargs);
/* A call in its place. */
struct call *group_call(struct dynamo *d, const struct group *g, const char *target, int nargs);
/* The calls from `from` on run before call `at`. */
void group_move(struct dynamo *d, int from, int at);
void group_define(struct dynamo *d, const struct group *g, int tensor, int slot);
/* Turns the operands of a number minus a tensor round, whose call is REFLECTED (__rsub__); false, and nothing, else. */
bool group_reflects(const char *target, struct arg *args, int n);
int group_cast_like(struct dynamo *d, const struct group *g, int slot, int like);
int group_to_float(struct dynamo *d, const struct group *g, int slot);

/* ---- copies.c: copies of views that only the line of Python says ------------------------------------------------- */

bool copies_is(const char *target);
/* What eager runs for a view that is a copy, or for its clone; NULL the group is neither. */
const char *copies_anew(const struct dynamo *d, const struct group *g);
/* A copy that the statement of this group writes, and that none of its calls is; NULL none. */
const char *copies_missed(const struct dynamo *d, int at);

/* ---- casts.c: casts that only the line of Python says ------------------------------------------------------------ */

/* The slot of the n-th argument, or of the result, after the casts that the line writes around the call; operand: the
 * first argument before any, -1 none. */
int casts_operand(struct dynamo *d, const struct group *g, int nth, int slot);
/* Arguments behind the first, and elements of lists, after the casts that their texts end in. */
void casts_further(struct dynamo *d, const struct group *g, const char *target, struct arg *args, int n);
void casts_made(struct lowering *l);
/* What functions without lines of their own, as only forward has, may cast to fp32 before an operator in fp32. */
void casts_hidden(struct lowering *l);
/* What a line gives a function or module of the user's own after a cast to fp32: "self._norm(x.float())". */
void casts_given(struct lowering *l);
/* And what a statement's value is cast to as a whole. */
void casts_of_lines(struct lowering *l);
int casts_result(struct dynamo *d, const struct group *g, int operand, int slot);

/* ---- adapters.c: casts of PEFT's layers ------------------------------------------------------------------------ */

/* Puts in the casts that a library's source says of what adapts a module. */
void adapters_cast(struct lowering *l);

/* ---- constants.c: what the exporter folded constants from ------------------------------------------------------- */

/* The next parameter of a list, "['a', 'b']", from there on; NULL no more. */
struct param *constant_next(const struct dynamo *d, const char **list);
/* From then on constant_from answers for that constant. */
void constant_ask(struct dynamo *d, const struct tensor *t);
/* Whether the file says that the constant was folded from the parameter. */
static inline bool
constant_from(const struct dynamo *d, const struct param *q)
{
    return d->source[q - d->l->p->params] == d->asked;
}
/* A constant that the file says was folded from the parameter; NULL none. */
const struct tensor *constant_into(struct dynamo *d, const struct param *q);
/* Whether it was computed element by element, so that what it was computed of has no more. */
bool constant_by_element(struct dynamo *d, const struct tensor *t);
/* Whether the constant that is being resolved may come from that parameter. */
static inline bool
constant_may_be(const struct dynamo *d, const struct param *q)
{
    return !d->constant || constant_from(d, q);
}

/* ---- folded.c: what a line computes of a parameter --------------------------------------------------------------- */

/* Whether the file says which parameters the constant was folded from: of equal constants it has one, which then is
 * another module's, or another parameter's, and tells nothing. */
bool folded_told(struct dynamo *d, const struct group *g, const struct tensor *t);
/* A constant of another module of the group's class, as if the group's own had made it: of equal ones the file has that
 * one's alone. NULL it is none, or its own does not fit. */
const struct tensor *folded_elsewhere(struct dynamo *d, const struct group *g, const struct tensor *t);
/* The slot of what the group's line computes of one parameter, or of what its function made of one before, and of
 * numbers, where the last operator is that of a folded constant; -1 nothing. */
int folded_expression(struct dynamo *d, const struct group *g, const char *stem, const struct tensor *t);
/* The slot of the constant that is being resolved, made by an operator of that name of the trained parameters that the
 * file says; -1 it says of none. */
int folded_of(struct dynamo *d, const struct group *g, const char *op);

/* ---- unread.c: what nobody reads --------------------------------------------------------------------------------- */

/* Puts back the calls that the last of several layers, or of a loop's rounds, made for nobody. */
void unread_put_back(struct dynamo *d);

/* ---- params.c: parameters ---------------------------------------------------------------------------------------- */

void params_read(struct dynamo *d);
struct param *params_of(const struct dynamo *d, const char *placeholder);
bool params_in_line(struct dynamo *d, const struct param *q); /* whether any line reads it as "self.name" */
struct param *params_called(const struct dynamo *d, const char *name);
/* Elements of what the exporter folds into a constant. Source: DEFAULT_CONSTANT_FOLD_INPUT_SIZE_LIMIT in
 * onnxscript/optimizer/_constant_folding.py. */
enum { MOST_FOLDED = 8192 };
/* A size, where it has none yet. */
void params_sized(struct lowering *l, struct param *q, int rank, const int64_t *size);
/* Sizes of the constant that a call reads, where the file has what the call's first node made of it. */
void params_size_folded(struct dynamo *d, const struct aten *op, const struct arg *args, int nargs, int rank,
                        const int64_t *size);
/* Sizes of the parameters that a call reads. */
void params_size(struct dynamo *d, const struct group *g, const struct aten *op, const struct arg *args, int nargs,
                 int rank, const int64_t *size);
/* The known last dimension of the group's first data input; -1 unknown. */
int64_t params_width(const struct dynamo *d, const struct group *g);
int params_gates(const struct aten *op);  /* how many gates a recurrent layer has; 0 it is none */
int params_states(const struct aten *op); /* how many states it returns beside its output; 0 it is none */
void params_tie(struct dynamo *d);
void params_freeze(struct dynamo *d);
/* Modules that ask for a gradient of their input do, unless all that they have is frozen: what freezes it by their own
 * method takes that back, too. */
void params_ask(struct lowering *l);

/* ---- computed.c: constants that were computed from parameters ---------------------------------------------------- */

/* The slot of what a constant was computed as, by calls that are put back, under the name that the reader has for it;
 * -1 it was computed of nothing that is known. */
int computed_constant(struct dynamo *d, const struct group *g, const char *name, int tensor);
/* A call of the group's module whose first argument is that parameter, of those sizes if the file has none. */
struct call *computed_call(struct dynamo *d, const struct group *g, const char *target, int nargs, struct param *q,
                           int rank, const int64_t *size);
/* Whether the group's line reads that parameter of its module, or of one below that it does not call: "self.gamma",
 * "self.queries.weight", with what stands behind it or before. */
bool computed_read_here(const struct dynamo *d, const struct group *g, const struct param *q, const char *before,
                        const char *behind);
/* Whether the group may read it by its name: it is its module's, or its line has it. */
bool computed_named_here(const struct dynamo *d, const struct group *g, const struct param *q);
/* Behind the bracket, where the line that the group ran calls that operator; NULL it does not. */
const char *computed_made_here(struct dynamo *d, const struct group *g, const struct aten *op);
/* A module with weight_norm that runs again multiplies again, which the exporter merged: the group's module normalized
 * its weight before. -1 it did not. */
int computed_norm_again(struct dynamo *d, const struct group *g, const char *name);
/* That of which the line calls the operator, else the first that the line reads, else the first that no line reads; and
 * how many there are, buffers included. */
struct param *computed_unread_weight(struct dynamo *d, const struct group *g, const char *stem, int *n);

/* ---- resolve.c: the names in arguments --------------------------------------------------------------------------- */

void resolve_known(struct dynamo *d, struct arg *a, int *missing);
void resolve_arg(struct dynamo *d, const struct group *g, struct arg *a, int position, int *spare, int nspare,
                 int *used);
/* A view of a tensor that left no node: of that target, whose arguments are the result's sizes. */
int resolve_view(struct dynamo *d, const struct group *g, const char *target, int nargs, int tensor);

/* The module keeps what the call makes of its parameter, the first argument, as an attribute until its next call. */
void resolve_kept(struct dynamo *d, struct call *c);

/* What was written behind detach(), all of it: who reads that by its name, without a detach() of its own, reads what
 * was detached, which is the same memory and has its gradient still. The slot of that; else the slot itself. */
int resolve_written(const struct dynamo *d, int slot);
/* The slot of an output that the group made, under the name of a call behind it that left no node. */
int resolve_returned(struct dynamo *d, const struct group *g, const char *name, int tensor);
/* The slot of an output that the exporter merged with what the group's call made on its way, by a call of its own; -1
 * where that isn't known. */
int resolve_output(struct dynamo *d, const struct group *g, int tensor);
/* What a call that left nothing makes of the group's result at the end of its statement, or before what takes it apart
 * there; else the slot itself. */
int resolve_last(struct dynamo *d, const struct group *g, int slot, bool parted);

/* ---- left.c: what the optimizer left out ------------------------------------------------------------------------- */

bool left_picks(const char *target); /* whether lines write it as a subscript */
/* The call that made what that one, a view, shows; NULL none. */
const struct call *left_viewed(const struct program *p, const struct call *c);
/* The last call made, as one of the line that made what it reads, right behind that. */
struct call *left_after_maker(struct dynamo *d, const struct call *maker, const char *stack);
/* What adding 0 or multiplying by 1 made of a slot, or the first of two that bound, which the exporter's optimizer
 * dropped; a doubt and the slot where that call is another one. */
int left_identity(struct dynamo *d, const struct group *g, const char *name, int slot);
/* How many calls of a name's root right before that one no text of the file has: "x.relu().relu().relu()" is one. */
int left_before(struct dynamo *d, const char *name);
/* How many calls of a name's root right behind that one no text of the file has, as the next one's number tells; -1
 * there is no next one. */
int left_behind(struct dynamo *d, const char *name);
/* What changes no number was left out, as a sum of one element is; but PyTorch makes a tensor: a doubt. */
void left_out(struct dynamo *d, const struct group *g, const char *name);
/* The last call, which reads that slot, is of a line of its own, which calls it by that name; seen: or stays where it
 * is, where no line does. lost: the stack that it has there; NULL none. */
void left_put_on_line(struct dynamo *d, const struct group *g, int slot, const char *stem, bool seen, const char *lost);
/* The node that makes tensor t, an interior value of another group of the same operator, or the sizes for one that runs
 * like it, as ones_like does like zeros_like; -1. */
int left_inside(const struct dynamo *d, const struct group *g, int t);
/* The parameter that the file merged with this one: unread, of the same name in the group's module, in one of the same
 * name beside a module around that, of a vector in one beside this one's, or another of the same module; spread: what
 * was merged repeats it for the batch, as tokens of classes are. */
struct param *left_merged_param(struct dynamo *d, const struct group *g, int slot, bool spread);
/* States that merged calls run where they are read. */
void left_assume_merged(struct program *p);
/* Whether the line of those frames, on which the maker ran, writes the operator more often than the file has it there,
 * this time. */
bool left_writes_more(const struct dynamo *d, const struct call *maker, const char *stack, const char *line,
                      const char *target);
/* A learned number of the group's line that was 1 or 0 when the file was written: what is multiplied with it, or added
 * to it, was left alone. NULL none. */
struct param *left_learned(struct dynamo *d, const struct group *g, const char *name);
/* A view that was written in place is made anew for each of its readers, with the line of the write: it is one
 * tensor. */
bool left_for_reader(const struct program *p, const struct call *c);
/* Whether the reader's line is of the function that called the maker, and is another line. */
bool left_read_beside(struct arena *a, const char *maker, const char *reader);

/* ---- clones.c: what left a clone, or nothing --------------------------------------------------------------------- */

/* Whether a dropout lies between who made the tensor and the group. */
bool clones_drops(struct dynamo *d, const struct group *g, int tensor);
/* Whether a library's source says that there is none, so that what left a name is a copy. */
bool clones_undropped(const struct dynamo *d, const struct group *g, int tensor);
/* The slot of a tensor after what left no more than a clone before the group reads it; copied: by contiguous(). */
int clones_resolve(struct dynamo *d, const struct group *g, int tensor, bool copied);
/* What a call whose own text went, behind that group, reads of a slot: "x.permute(0, 3, 1, 2).contiguous()" before it
 * was copied by that line, or by a function, as the numbers of clones tell. */
int clones_copied(struct dynamo *d, const struct group *g, int slot);
/* What the convolution made that took in a batch norm, by the norm's first parameter or buffer that has a name; -1 not
 * known. */
int clones_host(struct dynamo *d, const struct group *g, const char *norm);
/* Whether the group reads what its producer, a node, turned and nothing has copied since. */
bool clones_turned(const struct dynamo *d, const struct group *g, int from);
/* What a dropout made of it that left nothing but a gap in the numbers of a Sequential. */
int clones_dropped(struct dynamo *d, const struct group *g, int slot);
/* Whether modules of that class call no others. */
bool clones_is_leaf(const char *type);
/* Of a call in a module of that class the stack that ends with the line of the model: a module that calls no others has
 * one more frame. */
const char *clones_own_stack(struct arena *a, const char *type, const char *stack);
/* F.pad, which the exporter's optimizer moved into the convolution behind it: what the node pads beyond the padding of
 * the call itself, if that is known. Source: onnxscript/rewriter/rules/common/_fuse_pad_into_conv.py. The slot of the
 * padded input, or of the input where nothing was moved. */
int clones_pad(struct dynamo *d, const struct group *g, int input);

/* ---- again.c: calls that were merged with equal ones ------------------------------------------------------------- */

/* The slot of what a call made of another that leaves nothing in a file; that slot where the name is of none. */
int again_traceless(struct dynamo *d, const struct group *g, const char *name, int slot);
/* The slot of a tensor that another statement made and that the group reads under that name; of the same call again,
 * where the group's line writes it, too, and no group of that line is it: the exporter merged the two, and views behind
 * it. */
int again_resolve(struct dynamo *d, const struct group *g, const char *name, int tensor);
/* What an equal call was given through a node of its own, where each has another: "zeros_like(x).index_add(y)". */
int again_operand(struct dynamo *d, const struct group *g, const char *name);
/* What a call that runs again on a line reads: made again, too, where that writes it more often than it was called,
 * in all rounds of a loop; where it is a subscript of what was one expression; where a function that both lines call
 * made it; or where a round of a loop runs its line before the call's. */
int again_read(struct dynamo *d, const struct group *g, const struct call *reader, const char *stack, bool rounds,
               int slot);
/* What a line made in another module of the reader's class, in the reader's own, which ran it, too. */
int again_made_here(struct dynamo *d, const struct group *g, int slot);
/* The same call again: duplicates were merged in the file, but both ran. Results of calls that return several are
 * getitem, whatever was called; was: what the file calls the one that is read, NULL unknown. */
int again_duplicate(struct dynamo *d, const struct group *g, const char *name, int slot, const char *was);
/* The noise of dropouts whose first call was merged has the sizes of what each drops out. */
void again_noise(const struct program *p);

/* ---- arithmetic.c: operators that the exporter wrote as their arithmetic ----------------------------------------- */

/* Whether one of a statement's calls, from this group on, is an operator of that name, or several are drawn as it. */
bool arithmetic_draws(const struct dynamo *d, int at, const char *name);
/* One call for those from this group on; false, and nothing, where no row draws them. */
bool arithmetic_lower(struct dynamo *d, int at);

/* ---- recorded.c: a recorded call as eager makes it --------------------------------------------------------------- */

/* How many of the names in its arguments nobody had made. */
int recorded_call(struct dynamo *d, struct group *g);

/* ---- pieces.c: one for several, several for one ------------------------------------------------------------------ */

/* A group, and what is one call with it. */
void pieces_lower(struct dynamo *d, int at);

/* ---- dynamo.c ---------------------------------------------------------------------------------------------------- */

void lower_dynamo(struct lowering *l);

#endif
