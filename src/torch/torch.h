/* SPDX-License-Identifier: Apache-2.0 */
/* torch.h - what PyTorch does with a program: operators, autograd, the allocator, the training loop. */
#ifndef TORCH_H
#define TORCH_H

#include "program/program.h"

#include <string.h>

/* ---- tables ------------------------------------------------------------------------------------------------------ */

/* The tables behind the options. Each *_find returns NULL when no row has that name; each row begins with its name and
 * a line of help, and each *_list prints them: NAME, a tab, the help; device_list adds the memory and its source. The
 * row of --loop accumulate-N is called "accumulate-N". */
const char *optimizer_name(int i); /* NULL past the last, and so below */
const char *precision_name(int i);
const char *packing_name(int i);
const char *loss_name(int i);
const char *loop_name(int i);
const char *parallel_name(int i);
const struct optimizer *optimizer_find(const char *name);
const struct precision *precision_find(const char *name);
const struct packing *packing_find(const char *name);
const struct loss *loss_find(const char *name);
const struct loop *loop_find(const char *name);
/* "fsdp:meta,bf16": a way of --list=parallel, with any of its options in any order; NULL where one is unknown. */
const struct parallel *parallel_find(struct arena *a, const char *text);
/* A way's text with one more option: "fsdp" and "meta", "fsdp:meta" and "bf16". */
const char *parallel_with(struct arena *a, const char *way, const char *option);
/* "adam+amsgrad+fused": a row with switches of --list=optimizers; NULL where one is unknown, or the row has it not. */
const struct optimizer *optimizer_read(struct arena *a, const char *text);
void optimizer_switch_list(FILE *out);
/* The same with fused=True, whose update makes no lists; NULL when it has none on CUDA, or no lists. */
const struct optimizer *optimizer_fused(struct arena *a, const struct optimizer *o);
enum { FOREACH_SINCE = 200 }; /* torch/optim: the default on CUDA, as is zero_grad(set_to_none=True) */
/* Whose eager mode runs, 206 of 2.6: what the set-up says, the file's, or the newest that was read. */
int step_torch(const struct program *p, const struct setup *s);
/* Whether the update of that version is written down: before FOREACH_SINCE it goes one parameter after another. */
bool optimizer_told(const struct optimizer *o, int torch);
const char *optimizer_text(const struct optimizer *o); /* as optimizer_read takes it */
/* Its Python class, and the one that keeps the same states in 8 bits; NULL none. */
const char *optimizer_python(const struct optimizer *o);
/* Arguments of that class which the row is with, ", momentum=0.9"; "" none. */
const char *optimizer_switched(const struct optimizer *o);
const char *optimizer_in_8bit(const struct optimizer *o);
/* The class of torch.optim that updates a parameter from a sparse gradient in its place, NULL none, and how many
 * states it keeps. */
const char *optimizer_sparse(const struct optimizer *o, int *states);
void optimizer_list(FILE *out);
void precision_list(FILE *out);
void packing_list(FILE *out);
void loss_list(FILE *out);
void loop_list(FILE *out);
void parallel_list(FILE *out);
void aten_list(FILE *out);

/* ---- aten.c, expand.c: PyTorch's eager mode without numbers ------------------------------------------------------ */

/* A block of device memory from birth to death. */
struct storage {
    int id, at, refs; /* id: its place in machine.st; at: in the trace */
    int version;      /* how often it was written over */
    int ask;          /* that tells its size: 1 and up, in tape.ask; 0 none */
    int request;      /* of the tape, for its block */
    int64_t bytes;    /* rounded up to 512 as the CUDA allocator rounds */
    int64_t requested;
    const char *op;          /* that made it: "aten.addmm.default" */
    const char *name;        /* parameter, input or value name, NULL none */
    const struct call *call; /* NULL outside the model's forward */
    int64_t *size;           /* of the tensor that was born with it, the first `rank`, of a step that is shown */
    struct block *block;
    int64_t address; /* of the block, when it was taken */
    enum class class : 8;
    enum phase phase : 8; /* of birth */
    enum dtype dtype : 8;
    uint8_t rank, stream; /* stream: of the heap that its block is from */
    bool saved : 1;       /* autograd kept it at some time */
    bool empty : 1;       /* it has given its memory back */
    bool stays : 1;       /* made once, by the first iteration that needs it */
    bool asked : 1;       /* an ask takes it and gives it back */
};

struct gnode;

/* A tensor: sizes and strides over a storage. References are counted, as PyTorch counts them. */
struct value {
    struct storage *st;
    int64_t *size, *stride; /* elements */
    struct gnode *fn;       /* who made it; for leaves that require a gradient, its accumulator */
    struct gnode *shown;    /* of a view made without gradients: its base's node, which lives as long */
    struct storage **tail;  /* adopted: what the graph behind it keeps */
    int ntail, cap_tail;
    int refs, fn_out;
    int by_maker; /* references that fn holds, which saved its own result */
    int rank;
    enum dtype dtype : 8;
    bool requires_grad, is_view;
    bool conj;  /* its storage holds the conjugate */
    bool stale; /* what it shows was written since fn was made */
    bool dead;  /* only by_maker's references are left: no reason for fn to live on */
};

/* How autocast treats an operator: its operands in the lower type, in fp32, its result in fp32 unless it is told a
 * type, its operands in the widest of theirs; in fp32, and its result in the type of its first operand. Source:
 * aten/src/ATen/autocast_mode.h. */
enum cast { CAST_NONE, CAST_LOWER, CAST_FP32, CAST_DTYPE, CAST_PROMOTE, CAST_BACK };

struct machine;
struct derivative;
struct rule_read;
struct heap;
struct block;
struct player;

/* One running call: arguments by position, outputs. */
struct frame {
    const struct aten *op;
    int n;
    const struct arg *a; /* the caller's, or a copy of them with changes */
    int nout, cap_out;
    struct value **out, *few[2];  /* few: room for most */
    int rank;                     /* sizes of the first output as the file states them; -1 unknown */
    const int64_t *size, *stride; /* stride: of a view, where who calls it has found them; else NULL */
    unsigned want;                /* in backward: which outputs somebody needs */
    bool in_place;
    struct value *over; /* in place: the tensor that is written over */
    struct frame *next; /* of those that may serve again */
};

/* How an operator is part of an assignment, "x[a:b] = y", as exporters write it without side effects. */
enum writes {
    WRITES_NOTHING,
    WRITES_PART,   /* its second argument over a part of its first one */
    WRITES_NUMBER, /* value, over its first argument */
    WRITES_VALUES, /* likewise, or a tensor of them */
    WRITES_ZERO    /* likewise */
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
    int casts_since; /* the version of PyTorch from which autocast does so, 212 of 2.12; 0 all that are known */
    const char *redispatches; /* under CAST_DTYPE the overload that runs; NULL itself */
    const char *takes;        /* tensors it can't do without, see aten_takes */
    /* By argument, in which order a GPU's kernel wants its elements: c contiguous, d that or channels last, . any; NULL
     * likewise. Of others it takes a copy, which dies with the call: once the result is there, or before it if the
     * letter is a capital. Measured by tests/oracle/contiguous.py; the .contiguous() of each kernel's host code,
     * aten/src/ATen/native/cuda. */
    const char *order;
    enum writes writes;
    bool whole_batch; /* its result for one sample depends on the others of the batch */
    bool unseen;      /* its result is a view that autograd doesn't know of */
    bool shaped;   /* an argument called size, shape or repeats is what the file states, however the text spells it */
    bool wraps;    /* wrap_opt_if: keeps an argument for one of several gradients, else for one alone */
    bool subclass; /* its result is of a subclass of Tensor */
    bool complex;  /* its formulas hold for complex numbers, too, and so do those of every view */
    bool function; /* a torch.autograd.Function, which saves when it has run */
    bool keeps_result; /* in place, autograd saves the result; else a clone of what is overwritten, if it needs that */
    int64_t (*inner)(
        const struct frame *f); /* of a product: how many products an element of its result is the sum of */
    const char *source;
    int since;         /* the version of PyTorch, 209 of 2.9, from which eager runs it on CUDA; 0 all that are known */
    const char *reads; /* of a loss: what its first argument is to its author, "logits"; NULL no loss */
    const char *assumes;          /* what the report says when a program calls it, NULL nothing */
    enum alternative alternative; /* to that */
};
extern const char COMPOSITE[];

/* All rows, the composites of expand.c included. */
extern const struct aten aten_table[];
extern const int aten_count;
/* The row for "aten.add.Tensor", "add.Tensor" or "add"; NULL unknown. */
const struct aten *aten_find(const char *target);
/* Whether it makes of one tensor another of its sizes: exp, sigmoid, neg. */
bool aten_elementwise(const struct aten *op);
/* Whether the arguments are such that run may rely on them. */
bool aten_takes(const struct aten *op, const struct arg *a, int n);
/* What stands before a row's name in full: the operators of other libraries name theirs. */
static inline const char *
aten_space(const char *name)
{
    static const char *const own[] = {"torchvision.", "memlint.", "bitsandbytes.", "peft.", "deepspeed."};
    for (int i = 0; i < COUNT(own); i++)
        if (strncmp(name, own[i], strlen(own[i])) == 0)
            return "";
    return "aten.";
}
/* A line of --list=aten: name, arguments, gradients, how autocast treats it. */
void aten_print(const struct aten *op, FILE *out);
int aten_nargs(const struct aten *op);
/* Position of an argument, -1 none. */
int aten_arg(const struct aten *op, const char *name);

/* ---- eager.c: storages, values, dispatch, autograd's graph and engine -------------------------------------------- */

struct event {
    int storage; /* index into step.storages */
    bool birth;
    enum phase phase : 8;
    const char *op;          /* operator that runs */
    const struct call *call; /* the forward call it belongs to, also in backward; NULL outside */
};

/* Where cuDNN's workspaces come from: convolutions that it runs. */
struct cudnn_use {
    int kernels;                   /* of these their device being known: */
    int asked, driven;             /* the library answered; a row of the driver's did; */
    int ruled, unknown;            /* another did; nobody: counted as 0 */
    const struct cudnn_rule *rule; /* of the others that did the one with the largest error; NULL none */
    int doubtful;                  /* may take another algorithm's instead, */
    int64_t doubt;                 /* bytes of the largest of them */
    int64_t recurrent;             /* bytes of the largest workspace of recurrent layers that is not counted */
};

/* Compute capabilities, x 10, from the one to below the other. */
struct devices {
    int from, below;
};

/* Bytes of blocks that live side by side, a 0 behind each such group. */
struct workspaces {
    struct arena *a;
    int n, cap;
    int64_t *bytes;
    bool elsewhere; /* with these numbers the step would take another way */
};

static inline void
workspaces_add(struct workspaces *b, int64_t bytes)
{
    *PUSH(b->a, b->bytes, b->n, b->cap) = bytes;
}

/* Blocks that a kernel takes while it runs and whose bytes follow from some numbers, but not along a line, or that
 * devices differ in. */
struct ask {
    void (*blocks)(struct machine *m, const struct ask *q,
                   struct workspaces *to); /* of m its set-up and device alone */
    const void *of;                        /* what else it depends on */
    size_t of_bytes;
    int n;
    const int64_t *number;
};

/* What a step asked of the allocator, in order, so that it can be asked again without the engine. */
struct tape {
    struct arena *a, *own; /* of its asks; of its lists */
    struct devices alike;  /* struct machine's */
    bool whole;            /* false: other streams asked, too */
    int n, cap;
    struct request {
        enum {
            REQUEST_BLOCK, /* of number bytes */
            REQUEST_ASKED, /* a block as large as the first of that ask, none of 0 bytes */
            REQUEST_FREE,  /* the block of that request */
            REQUEST_ASK,   /* all blocks of that ask, which go back at once */
        } kind : 2;
        unsigned passes : 1; /* a block that the next request gives back */
        uint64_t number : 61;
    } * request;
    int nasks, cap_asks;
    struct ask *ask;
};

/* What an iteration did, before the allocator is asked. */
enum trace_mark { TRACE_INPUTS, TRACE_FORWARD, TRACE_BACKWARD, TRACE_STEP, TRACE_LOOP, TRACE_END, TRACE_MARKS };
struct step_trace {
    struct arena *a;
    int before, nst, cap_st; /* before: how many lived before */
    struct storage **st;
    int nev, cap_ev;
    struct event *ev; /* storage: index into st; below 0, of note: -1 less the index */
    int nnotes, cap_notes;
    struct note {
        struct value **name; /* that is bound anew; NULL: */
        bool releases;       /* what is cached goes back to the device; else: */
        int ask;             /* index into tape.ask */
    } * note;
    struct round {
        int ev, st; /* events and storages before it */
    } round[2];     /* the last two micro-batches; the first of them is played so many times more: */
    int times;
    int at[TRACE_MARKS]; /* events before the mark; -1: it was not passed */
    int64_t bytes[TRACE_END];
};

/* How much a heap held of the device at a moment: so many segments, or so much of a pool's expandable one. */
struct heap_mark {
    int nsegments;
    int64_t mapped[2];
};
enum { STREAMS = 3 }; /* the machine's heap, and those of collectives */

struct machine {
    struct arena *a;    /* of the running iteration */
    struct arena *keep; /* of the run */
    const struct setup *s;
    struct step_trace trace; /* of the last iteration that ran */
    int nst, cap_st, nspare, cap_spare;
    struct storage **st, **spare; /* alive when the reported step began, then those that it made */
    int nev, cap_ev;
    struct event *ev;                      /* of the reported step */
    bool on_meta;                          /* what is made has no memory */
    struct heap *heap, *side[3];           /* side: those of collectives */
    uint8_t stream;                        /* where blocks come from now: 0 heap, else one of side, from 1 on */
    struct shards *shards;                 /* NULL: parameters are whole */
    const struct collectives *collectives; /* of several GPUs; NULL of one */
    struct zero *zero;                     /* of DeepSpeed's ZeRO-2; NULL none */
    struct zero3 *zero3;                   /* of DeepSpeed's ZeRO-3; NULL none */
    struct reducer *reducer;               /* of several GPUs; NULL of one */
    const struct value *gathers;           /* what a module gathered along the sequence, and the result; NULL nothing */
    struct value *gathered;
    int64_t exchanged;                  /* bytes that go around all GPUs in the reported step */
    int64_t passed;                     /* and that go from this one to another */
    int64_t live_bytes, reserved_bytes; /* reserved: the most in the reported step */
    int64_t most_bytes;                 /* allocated in the reported step, and what each stream's heap held then: */
    struct heap_mark at_most[STREAMS];
    int64_t held, held_most;   /* requested, beside what an iteration leaves to the next; before the update at most: */
    bool measured, unreserved; /* struct setup's */
    int64_t most;              /* more than that is enough known; 0 no such number */
    jmp_buf *enough;
    enum phase phase;
    enum class fresh; /* class of storages born now, and their name where it is known beforehand */
    const char *fresh_name;
    const char *op;
    const struct aten *uncertain; /* whose derivative is not known for the complex numbers that it read; NULL none */
    const struct call *call;
    bool grad_mode, autocast;
    bool more_micro_batches; /* the running one is not the step's last */
    bool untracked;          /* a call of the program runs with gradients switched off */
    enum dtype low;          /* autocast's type */
    struct frame *frames;    /* of the running iteration, for other calls */
    int seq, npool, cap_pool;
    struct value **pool; /* what the running C++ frames hold */
    int ncast, cap_cast;
    struct cast_entry {
        struct value *from, *to;
    } * casts;    /* autocast's weight cache */
    double flops; /* of the running forward */
    struct derivatives *derivatives;
    /* Of cudnn.c, by type, whether channels lie last and whether of the driver; NULL not looked up yet. */
    const struct cudnn_rule *rule_of[DT_COUNT][2][2];
    int stamp;
    int ndead, cap_dead;
    struct gnode **dead; /* nodes that nothing leads to */
    bool sweeping;
    struct value *heir;         /* what they saved lives on with this one */
    bool real;                  /* what real CUDA tensors do, which fake ones and dispatch modes don't */
    int torch;                  /* whose eager mode: 206 of 2.6 */
    int sm;                     /* compute capability x 10 of the device */
    struct devices same, alike; /* the step is the same on these; or its tape is */
    struct tape *tape;          /* NULL: nobody wants it */
    bool asking;
    struct cudnn_use cudnn;        /* in the reported step */
    struct value *workspace[2][2]; /* per thread (forward, autograd's) and library; never freed */
    struct checkpoint *checkpoint; /* the region whose forward runs */
    int ncaptives, cap_captives;
    struct value ***captives;                      /* of autograd's graphs, the oldest first */
    void (*rerun)(void *to, struct checkpoint *c); /* runs a region's forward again, until the longjmp that ends it */
    void *rerun_to;
    const char *missing; /* an operator was met whose arguments its row can't take */
    bool oversized;      /* a tensor of 4 TiB or more was met: counted as 4 TiB */
    bool many_parts;     /* a split into more than limit(LIMIT_PARTS) was met: so many are counted */
};

/* ---- play.c: the trace of an iteration, and the allocator that plays it ------------------------------------------ */

void trace_begin(struct machine *m);
void trace_birth(struct machine *m, struct storage *s);
void trace_death(struct machine *m, const struct storage *s);
void trace_mark(struct machine *m, enum trace_mark at);
/* A micro-batch begins. */
void trace_round(struct machine *m);
/* Whether the last two did the same, and each lets go of what the one before it left: then so would those behind them,
 * and that many more are played without being run. */
bool trace_settles(struct machine *m, int times);
/* A name is bound anew that holds nothing yet; what it holds at the iteration's end dies here in the next one. */
void trace_unbind(struct machine *m, struct value **name);
/* Its place on a tape. */
int tape_ask(struct tape *x, const struct ask *q);
/* torch.cuda.empty_cache() */
void trace_release(struct machine *m);
/* An ask whose blocks come next, for m->tape. */
void trace_ask(struct machine *m, const struct ask *q);
/* Whether the next iteration does the same, but for what such names hold and what stays. */
bool trace_repeats(const struct machine *m);
/* Plays the trace to its end, or the reported step to its mark; again: as an iteration behind the one that ran. */
void trace_play(struct machine *m, bool again, bool reported);
/* What is reserved in the end when tapes are played on s's device, with the numbers that l has between theirs: of those
 * that tape_between has compared, or of one and the same. -1 where a number is none, or the step goes elsewhere. *on:
 * devices on which it is as much. d: the file's. */
int64_t tape_play(const struct tape *from, const struct tape *to, struct line *l, const struct setup *s,
                  struct derivatives *d, struct devices *on);
/* Whether a third tape has the numbers that l has between them. */
bool tape_between(const struct tape *from, const struct tape *to, struct line *l, const struct tape *third);

/* ---- eager.c again ----------------------------------------------------------------------------------------------- */

/* A fresh tensor; strides NULL means contiguous. It dies with the running scope unless somebody keeps it. */
struct value *value_new(struct machine *m, enum dtype t, int rank, const int64_t *size, const int64_t *stride);
/* The same, outside of scopes: it lives until it is dropped. name: of the parameter or input, or what is shown. */
struct value *value_born(struct machine *m, const char *op, enum class class, const char *name, enum dtype t, int rank,
                         const int64_t *size);
/* A view of v's storage. */
struct value *value_view(struct machine *m, struct value *v, int rank, const int64_t *size, const int64_t *stride);
/* Whether an operator made part in place, over a view of base's storage. */
bool value_written(const struct value *base, const struct value *part);
/* base after part, what an operator made over a view of it: its node is that operator's, which gives base its gradient.
 * Source: CopySlices and rebase_history in torch/csrc/autograd/variable.cpp. */
struct value *value_rebase(struct machine *m, struct value *base, struct value *part);
/* v, which was written in place, for a view that autograd makes anew: by nodes of its own from what was written. */
struct value *value_anew(struct machine *m, struct value *v);
/* v, a view that autograd made anew: on a GPU one node leads there from what was written. */
void value_restride(struct machine *m, struct value *v);
struct value *value_keep(struct value *v);
/* v for longer than the iteration: the caller's reference moves to the copy. */
struct value *value_adopt(struct machine *m, struct value *v);
void value_drop(struct machine *m, struct value *v);
void value_let_go(struct machine *m, struct value **v); /* drops *v, which is NULL from then on */
int64_t value_elements(const struct value *v);          /* as sizes_product */
bool value_contiguous(const struct value *v);
/* Source: is_channels_last_strides_2d_s4 in c10/core/MemoryFormat.h: ambiguous strides, as those of a 1 x 1 kernel,
 * are not. */
bool value_channels_last(const struct value *v);
/* The i-th dimension of a dense image, the innermost first; last: channels are the innermost. */
static inline int
image_dim(int rank, bool last, int i)
{
    return !last ? rank - 1 - i : i == 0 ? 1 : i == rank - 1 ? 0 : rank - i;
}
/* Scopes: values made since the mark die at its end, last made first, but for those kept. */
int scope_begin(struct machine *m);
void scope_end(struct machine *m, int mark, int nkeep, struct value **keep);
/* Ends a scope in which a variable of the scope around is bound to v: what it was dies first, then the rest. */
void scope_assign(struct machine *m, int mark, struct value **variable, struct value *v);

/* A machine in which nothing has run; what it allocates lives in a, but for m->trace.a, which the caller frees. */
void machine_begin(struct machine *m, struct arena *a, const struct program *p, const struct setup *s);
/* Runs a call on what slots hold, with arguments from[0..c->nargs) and that rank of its result, -1 unknown: slots then
 * hold its results, kept. False when it can't run. */
bool call_on(struct machine *m, const struct call *c, const struct arg *from, int rank, struct value **slot);
/* What slots hold after a forward pass without gradients, all of it being kept in a; NULL where a call can't run. */
struct value **step_values(struct arena *a, const struct program *p, const struct setup *s);
/* Parsed derivatives, by row, for all runs of a file's steps and all plays of their tapes. */
struct derivatives {
    struct arena *a;
    struct derivative **of;
    const struct rule_read **rules; /* and rules of cudnn.c; NULL none yet */
};
struct derivatives *derivatives_new(struct arena *a);
struct derivatives *derivatives_of(const struct program *p); /* of its file */
/* Runs an operator: autocast, forward, autograd's node. Outputs are held by the running scope. */
struct frame *dispatch(struct machine *m, const struct aten *op, int n, const struct arg *a, const struct frame *like);
/* Who called it reads no more of it. */
void frame_drop(struct machine *m, struct frame *f);
/* The first result of the row of that name, which has to be a literal or a table's; NULL none. */
struct value *op_call(struct machine *m, const char *name, int n, const struct arg *a);
/* The same, with what a frame says of its result. */
struct value *op_like(struct machine *m, const char *name, int n, const struct arg *a, const struct frame *like);
/* The same, over its first argument if in_place. */
struct value *op_over(struct machine *m, const char *name, int n, const struct arg *a, bool in_place);
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
/* Slots among from[0..n) become the values that they hold; false when one is not there. */
bool args_bind(struct machine *m, struct value **slot, const struct arg *from, int n, struct arg *to);

/* Arguments of a frame by position. */
static inline struct value *
arg_value(const struct frame *f, int i) /* NULL when absent */
{
    return i >= 0 && i < f->n && f->a[i].kind == ARG_VALUE ? f->a[i].v : NULL;
}
int64_t arg_int(const struct frame *f, int i, int64_t otherwise);
double arg_float(const struct frame *f, int i, double otherwise);
int arg_ints(const struct frame *f, int i, int64_t *out,
             int max); /* elements; 0 when absent; a lone int counts as one */
void out_add(struct machine *m, struct frame *f, struct value *v);

/* Memory that a kernel takes while it runs, until the running scope ends or at once freed again, and a library's
 * workspace of the running thread. Nothing, NULL, under fake tensors. */
struct value *workspace_new(struct machine *m, int64_t bytes);
void scratch(struct machine *m, int64_t bytes);
/* Whether a size is whole units, which decides what a step does. */
bool is_aligned(struct machine *m, int64_t n, int64_t unit);
/* Takes the blocks that an ask wants, and gives them back. */
void ask_blocks(struct machine *m, const struct ask *q);
/* A workspace as large as the only block that an ask wants, nothing of 0 bytes; it dies with the running scope. */
struct value *ask_block(struct machine *m, const struct ask *q);
enum library { LIBRARY_CUBLAS, LIBRARY_CUBLASLT };
int64_t library_workspace(struct machine *m, enum library l); /* bytes */
void use_library(struct machine *m, enum library l);

/* A region under torch.utils.checkpoint: its operators' saved tensors are numbered holders that own nothing; the first
 * backward node that needs one runs the forward again, which fills those still awaited and stops at the last. What a
 * selective policy keeps is not made again but taken from where the first forward put it. A region inside of another
 * saves its arguments through it, and waits for its second forward. Source: torch/utils/checkpoint.py. */
struct checkpoint {
    const struct region *region;
    int nargs;
    int *slots; /* the arguments: slots, and what they hold */
    struct value **args;
    struct checkpoint *parent; /* the region around it, whose holders have the arguments; NULL none */
    int nholders, cap, alive, filled;
    bool function; /* reentrant: it has a node of its own and no holders */
    int nmade;
    struct value **made; /* of a function, its results */
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
    int uses, around; /* where the modules began that ran around that; and that of another second forward */
    bool spoilt;      /* what it kept has been written over since: PyTorch raises an error */
    bool mute;        /* inside of another's second forward: what it saves belongs to a graph that nobody runs */
    struct checkpoint *mutes, *next_mute; /* those inside of this one's second forward */
    jmp_buf stop;
};
/* The region's first forward begins, or inside of another's second forward it runs once more; args are kept until the
 * last holder is released, or the function's node is. A reentrant region that is in no other one is a function: it runs
 * without gradients, and again to its end when its node does. */
struct checkpoint *checkpoint_begin(struct machine *m, const struct region *r, int nargs, const int *slots,
                                    struct value **args);
void checkpoint_end(struct machine *m, int nmade, struct value **made); /* made: what outlives the region */
/* Whether a selective region runs: its dispatch mode makes composites avoid writing in place. */
bool under_mode(const struct machine *m);

/* v's storage gives its memory back, and gets memory for so many elements, of a class; views of before have none. */
void value_empty(struct machine *m, struct value *v);
void value_refill(struct machine *m, struct value *v, enum class class, int64_t elements);
/* Likewise *v, which somebody holds, by itself. */
void gate_one(struct machine *m, int unit, struct value **v);
/* v[0..n) become what a node hands on that runs when all their gradients are there; v's node runs after the unit's
 * parameters are whole. */
void gate_make(struct machine *m, int unit, int n, struct value **v);
void gate_opens(struct value *v, int unit);
/* What a graph of autograd has, besides what its nodes save, until the loss that it leads to dies: what functions of
 * reentrant checkpoints hold, leaves that the program makes, and their gradients. v moves there, NULL none yet. */
struct value **captive(struct machine *m, struct value *v);
/* Gives v an accumulator: it is a leaf that requires a gradient. */
void value_requires_grad(struct machine *m, struct value *v, struct value **grad);
/* Autograd's engine: runs backward from a scalar root, or from n roots whose gradients are given; NULL ones, of one. */
void backward(struct machine *m, struct value *root);
void backward_from(struct machine *m, int n, struct value **roots, struct value **grads);

/* ---- parallel.c: one rank of several GPUs ------------------------------------------------------------------------ */

/* How GPUs share a step: a row, or one with several of its options, whose rows have what these add. */
struct parallel {
    const char *name, *help;
    const char *import, *policy;    /* Python: lines; names of torch.distributed.fsdp with ", " behind; or NULL */
    const char *loop;               /* lines behind all, about the loop; or NULL */
    const char *before, *arguments; /* a line above, and of what wraps a module; or NULL */
    bool bucket_view;               /* DDP: gradients are views of their buckets */
    bool finds_unused;              /* DDP: a parameter may have no gradient; buckets stay as they were made */
    bool maps;                      /* DDP: a number for each parameter says whether it was used */
    int within;                     /* GPUs of a node, in which shares stay; 0: there are no nodes */
    bool partitions;                /* each rank updates its own parameters alone */
    bool shards;                    /* fully_shard: parameters are whole while their unit runs */
    bool on_meta;                   /* no rank had the whole model: to_empty() makes its shares */
    bool keeps;                     /* and from their forward pass to their backward pass */
    int reshards;                   /* between these shares lie among so many GPUs; 0: among all */
    bool offloads;                  /* a rank's shares are the host's */
    int zero;                       /* DeepSpeed's stage, 2 or 3; 0 none */
    bool pipeline;                  /* a GPU runs a stage of the model */
    bool sequence;                  /* tensor parallelism, and between linear layers along the sequence */
    bool tensor;                    /* tensor parallelism: linear layers are cut by columns and rows */
    bool waits;                     /* gradients are reduced in a step's last backward pass alone */
    bool reduces_low;               /* gradients are reduced in that type, then cast */
    enum dtype low;                 /* of whole parameters, of a unit's inputs and gradients; DT_UNDEFINED their own */
};

/* What happens between ranks while backward runs; NULL nothing. */
struct collectives {
    void (*ready)(struct machine *m, struct value **grad); /* a parameter's gradient is there */
    void (*before)(struct machine *m, int unit);           /* a unit's backward pass begins */
    void (*behind)(struct machine *m, int unit);           /* and ends */
    void (*finish)(struct machine *m);                     /* the whole backward pass has ended */
};

/* Among how many of the GPUs shares of the model lie. */
static inline int
parallel_within(const struct parallel *how, int gpus)
{
    return how->within && how->within < gpus ? how->within : gpus;
}

struct reducer *reducer_new(struct machine *m, const struct parallel *how);
/* A parameter and where its gradient is bound, at rising addresses; with grad NULL a buffer, which is broadcast. */
void reducer_add(struct reducer *r, const struct value *v, struct value **grad);
/* The first buckets, when all are added. */
void reducer_build(struct reducer *r);
/* What DistributedDataParallel returns for an output: itself, or a clone. */
struct value *reducer_output(struct machine *m, struct value *out);
/* Before a forward pass: buckets in the order of gradients, the first time after a backward pass; buffers. Returns the
 * name of a parameter that got no gradient, where PyTorch stops; NULL none. */
const char *reducer_forward(struct reducer *r);
/* fully_shard: parameters are whole while their unit runs. Unit 0 is the model with what no other unit has. local and
 * local_grad: where a share of the parameter and of its gradient is bound; whole_grad: the engine's, NULL of what
 * is not trained. */
struct shards *shards_new(struct machine *m, const struct parallel *how, int gpus, int nunits);
void shards_add(struct shards *x, int unit, struct value *v, struct value **local, struct value **whole_grad,
                struct value **local_grad);
/* The rank's share of a parameter, in its type. */
struct value *shards_born(const struct shards *x, const struct value *v);
/* Shares of those that have none yet; all parameters cease to be whole. */
void shards_build(struct shards *x);
/* What a unit is handed, in the type of its parameters. */
struct value *shards_cast(const struct shards *x, struct value *v);
void shards_enter(struct shards *x, int unit); /* its forward pass begins */
void shards_leave(struct shards *x, int unit); /* and ends */
/* DeepSpeed's ZeRO-2, of the parameters that the optimizer has, in its order and at rising addresses of grad. */
struct zero *zero_new(struct machine *m, int gpus);
void zero_add(struct zero *z, struct value *v, struct value **grad);
/* The backward pass has ended. */
void zero_finish(struct zero *z);
/* The rank's part of them all, which its optimizer updates. */
struct value *zero_build(struct zero *z);
/* Before the update: the gradient of that part, for the caller; NULL none. */
struct value *zero_flatten(struct zero *z);
/* DeepSpeed's ZeRO-3, of all parameters in the model's order and at rising addresses of grad, which is bound where they
 * are trained. zero3_add returns the parameter's number; zero3_own says that a module has it, or another module's. */
struct zero3 *zero3_new(struct machine *m, int gpus, int nmodules);
int zero3_add(struct zero3 *z, struct value *v, struct value **grad, bool trained);
void zero3_own(struct zero3 *z, int module, int part);
/* How many groups the optimizer updates one after another, and what it updates of one. */
int zero3_build(struct zero3 *z);
struct value *zero3_master(const struct zero3 *z, int group);
void zero3_begin(struct zero3 *z);             /* a forward pass begins */
void zero3_enter(struct zero3 *z, int module); /* a module's forward pass begins, in the backward pass again */
void zero3_leave(struct zero3 *z, int module); /* and ends */
/* So many inputs' gradients end its backward pass. Gates: 2 * module of its results, and 1 more of its inputs. */
void zero3_await(struct zero3 *z, int module, int ninputs);
/* A module's forward reads a parameter, perhaps another's: then it is gathered, and from now on the module's, too. */
void zero3_read(struct zero3 *z, int module, int part);
/* The backward pass has ended. */
void zero3_finish(struct zero3 *z);
/* Before the update; the gradient of a group, for the caller; behind the update. */
void zero3_step(struct zero3 *z);
struct value *zero3_flatten(struct zero3 *z, int group);
void zero3_end(struct zero3 *z);
/* Bytes go around all GPUs: once in an all-gather, a reduce-scatter and a broadcast, twice in an all-reduce. */
void ranks_exchange(struct machine *m, int64_t bytes, int times);
/* Among n records of a parameter each, that of a gradient: a record begins with where its gradient is bound, and they
 * lie at rising ones. NULL none. */
void *ranks_find(struct value **grad, void *records, int n, size_t size);
/* A flat tensor of so many elements, until it is dropped; ranks_buffer: from a stream of its own, m->side[stream]. */
struct value *ranks_flat(struct machine *m, enum class class, const char *name, enum dtype t, int64_t elements);
struct value *ranks_buffer(struct machine *m, int stream, enum class class, const char *name, enum dtype t,
                           int64_t elements);
/* *grad, of a parameter like v, is from now on a view of to. */
void ranks_move(struct machine *m, struct value **grad, const struct value *v, struct value *to);
/* ZeRO-1: the parameters of the first of gpus ranks, of n with so many elements each, into mine[n] in the order of its
 * optimizer; how many. */
int parallel_share(struct arena *a, int gpus, int n, const int64_t *elements, int *mine);

/* ---- tensor.c: tensor parallelism -------------------------------------------------------------------------------- */

/* Makes p the program of the first of s->gpus ranks: linear layers of p->units cut by columns and rows. False and *why
 * where that can't be done. */
bool tensor_cut(struct arena *a, struct program *p, const struct setup *s, const char **why);

/* ---- packing.c: a frozen base in four bits ----------------------------------------------------------------------- */

/* The linear layers of p that have a frozen weight become those of bitsandbytes, as s->base says; what that leaves open
 * is a doubt of p's graph. */
void packing_run(struct program *p, const struct setup *s);
const char *packing_text(const struct packing *b);

/* expand.c: what a module has gathered along the sequence is let go. */
void forget_gathered(struct machine *m);

/* ---- pipeline.c: pipeline parallelism ---------------------------------------------------------------------------- */

/* What a stage runs for each micro-batch. */
struct stage {
    bool is_last;
    int first;   /* call */
    bool *runs;  /* per call */
    bool *reads; /* per slot: a call that it runs does */
    int warmup;  /* forward passes before the first backward pass, the most graphs that are alive at once */
    int nin, nout, *in, *out; /* slots that it is sent, that it sends on */
};
/* The first of the units that a stage has. */
int stage_first(int units, int stages, int stage);
/* The program of s->stage of s->gpus, the units being p->units: p with the stage's parts of its regions. */
const struct program *stage_of(struct arena *a, const struct program *p, const struct setup *s, struct stage **stage);
/* Sets s->stage to the one with the highest peak, and s->micro_batches, where nobody said how many, to as many as there
 * are stages. False and *why where p can't be run so. */
bool stage_worst(struct program *p, struct setup *s, const char **why);

/* ---- workspace.c: what CUDA kernels take while they run ---------------------------------------------------------- */

/* Dimensions of TensorIterator, innermost first. after: whether d0 comes after d1 (1), before (-1), or either (0).
 * Source: TensorIteratorBase::reorder_dimensions in aten/src/ATen/TensorIterator.cpp. */
void layout_reorder(int rank, int *perm, int (*after)(const void *of, int d0, int d1), const void *of);
/* A reduction of v over the dimensions marked gone[0..v->rank): buffer and semaphores when it is split over blocks.
 * accumulator: bytes of a partial result. */
void reduce_workspace(struct machine *m, const struct value *v, const bool *gone, int accumulator);
/* A layer norm's gradients of weight and bias, so many sums over rows, with elements of so many bytes.
 * Source: LaunchGammaBetaBackwardCUDAKernel in aten/src/ATen/native/cuda/layer_norm_kernel.cu. */
void norm_workspace(struct machine *m, int64_t rows, int64_t columns, int sums, int element);
/* What adding values to self at indices, a list with a tensor or nothing a dimension, takes. */
void index_put_workspace(struct machine *m, const struct value *self, const struct arg *indices,
                         const struct value *values);
/* What the scan of v along dim takes where that is all of it; otherwise a scan takes nothing. */
void scan_workspace(struct machine *m, const struct value *v, int dim);
/* Of cuDNN's batch norm of x, where the device is known: with channels last it runs in the persistent mode, otherwise
 * it takes none. The sizes are those of cudnnGetBatchNormalizationForwardTrainingExWorkspaceSize and ...Backward...
 * in cuDNN 9.19 on an H200 (norms.tsv of tests/oracle/h200.tar.xz), within 1 % where 8 divides the channels; a reserve
 * it has none there. Source: getCudnnBatchNormMode in cudnn/BatchNorm.cpp. */
void batch_norm_workspace(struct machine *m, const struct value *x, bool backward);
/* Takes and gives back what cuFFT takes for a transform along dim, where the device is known: of complex numbers, or x
 * is the real side. More dimensions are taken to be as the last of them. */
void transform_workspace(struct machine *m, const struct value *x, int dim, bool real);
/* The gradient of an embedding's weight, like `weight`; what the sort takes is held by the running scope. */
struct value *embedding_backward(struct machine *m, struct value *grad, struct value *indices,
                                 const struct value *weight);

/* ---- step.c: the training loop ----------------------------------------------------------------------------------- */

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

/* Per output its loss, NULL where none reads it. Where the set-up names no outputs: one that is a number, if it is the
 * first or computed from another; else the first, and those that alone a trained parameter reaches. */
const struct loss **loss_of(struct arena *a, const struct program *p, const struct setup *s);
/* What a loss reads, as its author calls it: "logits"; NULL where there is no word for it. */
const char *loss_reads(const struct loss *loss);
/* Fills p->held as the set-up has it, where it is not there; step_run would, and so would each run of a copy. */
void step_holds(struct program *p, const struct setup *s);
/* Other optimizers than the set-up's, and who sees the step with each. */
struct updates {
    int n;
    const struct optimizer *const *optimizer;
    void (*each)(const struct step *st, int i, void *to);
    void *to;
};
/* Runs forward and backward passes once, and the step with each optimizer as if it had run alone; nothing where that
 * can't be said. */
void step_updates(struct program *p, const struct setup *s, const struct updates *others);
struct step *step_run(struct program *p, const struct setup *s);
/* The type of a tensor of the model under a precision that casts the model. */
enum dtype precision_type(const struct precision *p, enum dtype t);
/* Its half type, DT_UNDEFINED in fp32; *autocast: that of autocast, not of the model. */
enum dtype precision_half(const struct precision *p, bool *autocast);
/* Bytes of the states that an optimizer keeps for a parameter. */
int64_t optimizer_state_bytes(const struct optimizer *o, enum dtype t, int rank, const int64_t *size);
void step_dump(const struct step *st, FILE *f); /* --dump=step: the form of a recorded trace */

/* ---- live.c: bytes at every instant of the reported step --------------------------------------------------------- */

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

/* ---- an edited step, measured (live.c) --------------------------------------------------------------------------- */

struct measured {
    int64_t allocated, reserved;    /* peaks */
    enum phase phase;               /* of the peak */
    const char *op, *location;      /* that runs then, NULL none; of the model's call that it belongs to */
    double flops, recomputed_flops; /* of a forward, of the second ones */
    int64_t exchanged, passed;      /* bytes, between GPUs: struct machine's */
    struct devices same;            /* struct machine's; none where convolutions run, which each device does its way */
    struct curve curve;             /* none of a step whose peak alone is wanted, or its tape */
};
struct curve curve_of(int n, const int64_t *bytes, const enum phase *phase);
/* Whether it has convolutions that cuDNN runs and whose workspaces count. */
static inline bool
step_convolves(const struct step *st)
{
    return st->m->cudnn.kernels > 0;
}
/* Whether a device's compute capability, x 10, is at least so much: those that answer otherwise are no longer d's. */
static inline bool
devices_from(struct devices *d, int sm, int least)
{
    bool yes = sm >= least;
    if (yes && d->from < least)
        d->from = least;
    if (!yes && d->below > least)
        d->below = least;
    return yes;
}
static inline bool
machine_from(struct machine *m, int least)
{
    devices_from(&m->alike, m->sm, least);
    return devices_from(&m->same, m->sm, least);
}
static inline bool
devices_have(struct devices d, int sm)
{
    return d.from <= sm && sm < d.below;
}
static inline struct devices
devices_both(struct devices p, struct devices q) /* of p and of q */
{
    return (struct devices){p.from > q.from ? p.from : q.from, p.below < q.below ? p.below : q.below};
}
/* p with doubts and assumptions of its own, none yet, which live in a; *g is its graph. */
struct program program_apart(const struct program *p, struct graph *g, struct arena *a);
/* The step with each of these optimizers, from one run: forward and backward passes do not know of them. Allocated -1:
 * that takes a run of its own. */
void measure_updates(const struct program *p, const struct setup *s, int n, const struct optimizer *const *optimizer,
                     struct measured *to);
/* Runs the step of an edited program or set-up in an arena of its own; look, when given, sees it before it is freed. */
struct measured measure_step(const struct program *p, const struct setup *s,
                             void (*look)(const struct step *st, void *to), void *to);

/* ---- heap.c: the caching allocator, devices ---------------------------------------------------------------------- */

/* PyTorch's caching allocator on one stream. Source: c10/cuda/CUDACachingAllocator.cpp. */
struct heap;
#define RANGE_BYTES (INT64_C(1) << 60) /* of addresses for a pool's expandable segment */
/* From now on segments are taken from a device. */
void heap_play(struct heap *h, const struct player *p);
struct heap *heap_new(struct arena *a, bool expandable);
/* As if it were new: blocks are no more. */
void heap_clear(struct heap *h);
/* A block of the heap: address and bytes, which allocated counts with slack that was not split, are for all to read. */
struct block {
    int64_t address, bytes;
    struct block *prev, *next; /* neighbours in the segment, NULL none; of a spare one the next of them */
    struct block *less, *more; /* of a free one, its neighbours in the bin */
    struct pool *pool;
    unsigned bin;  /* where a free one stands; 0: it is taken */
    bool unmapped; /* addresses of an expandable range without memory */
};
enum { HEAP_SMALL = 1 << 20 /* bytes of the largest request for the pool of small ones */ };
static inline bool
heap_is_large(int64_t bytes)
{
    return bytes > HEAP_SMALL;
}
/* A block for so many bytes, of which there are some. */
struct block *heap_malloc(struct heap *h, int64_t bytes);
void heap_free(struct heap *h, struct block *b);
/* Memory that no block uses goes back to the device. Source: release_cached_blocks in CUDACachingAllocator.cpp. */
void heap_release(struct heap *h);
/* The same as a block that is freed at once; no device is told. */
void heap_pass(struct heap *h, int64_t bytes);
int64_t heap_allocated(const struct heap *h);
int64_t heap_reserved(const struct heap *h);
int64_t machine_reserved(const struct machine *m); /* of all streams */
/* Where the reported step's bytes are at their highest so far: what each heap holds now (play.c). */
void machine_mark(struct machine *m);
/* The heap of a stream, NULL: the step has no such stream. */
struct heap *machine_heap(const struct machine *m, int stream);
struct heap_mark heap_mark(const struct heap *h);
/* The i-th segment of those that a heap held at that moment, i from 0 to nsegments - 1, in the order of addresses;
 * bytes 0: none of that pool. Only of a heap that gave none back, which one without a device doesn't. */
struct heap_segment {
    int64_t address, bytes;
    bool large; /* for requests of more than 1 MiB */
} heap_segment(const struct heap *h, const struct heap_mark *at, int i);

/* ---- kernels.c: which kernels of libraries a step runs ----------------------------------------------------------- */

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
    /* A product, row-major: batch x [m, k] * [k, n]. ld: elements between rows, or columns where transposed (ta, tb).
     * most: bytes that PyTorch hands the library, whatever its kernel takes. */
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
/* Whether somebody wants to know; only then a product is noted. */
bool notes_kernels(const struct machine *m);
/* Notes the kernel that runs now, where somebody wants to know. What a convolution takes is taken and given back: as
 * the library has said, else as cudnn_workspace says where the device is known. */
void use_kernel(struct machine *m, const struct kernel_shape *shape);

/* ---- cudnn.c: the rule of cuDNN's workspaces --------------------------------------------------------------------- */

struct cudnn_rule {
    int sm;                      /* compute capability x 10 */
    bool half, last;             /* 16-bit types; channels last */
    bool driver;                 /* what only a library with a CUDA driver tells */
    bool more;                   /* what the row before has a dash for */
    bool deterministic, no_tf32; /* of --cudnn-flags; not of 16-bit types, to which they mean next to nothing */
    /* Errors of the sums over a net that the rule was not made from, forward and backward together, in percent: of half
     * of the nets at most the first, of 19 in 20 at most the second. Not of the driver's. */
    int median, most;
    const char *workspace[3]; /* by kernel_kind, in the notation of cudnn.c */
};
/* Bytes of the workspace of a convolution on m's device, at most MAX_STORAGE_BYTES: as the library of the set-up says,
 * else by the rule for its compute capability, 0 where there is none. What a library without a driver can't tell the
 * rule says. Counts which it was in m->cudnn. */
int64_t cudnn_workspace(struct machine *m, const struct kernel_shape *s);
/* Whether what cuDNN takes for a call is counted: the device is known, and nobody has asked for it to be left out. */
bool cudnn_counted(const struct machine *m);

/* Who knows workspaces better than the rule. */
struct cudnn_library {
    void *self;
    const char *name;  /* with its version */
    bool driver;       /* it finds a CUDA driver with a device */
    const char *ended; /* why it no longer answers; NULL: it does */
    /* Bytes for a convolution, of plans among which benchmark chooses the least or the most; false: it does not
     * know. */
    bool (*ask)(void *self, int sm, const struct kernel_shape *shape, bool least, int64_t *bytes);
};

/* ---- whoever plays the step on a device -------------------------------------------------------------------------- */

struct replay;
struct replay_range {
    int pool;
    int64_t base, page; /* first address; bytes that are mapped at once */
};
/* What the allocator asks of a device, and what the step says: device.h has the functions. Addresses are the
 * allocator's. */
struct player {
    struct replay *of;
    bool (*take)(struct replay *p, int64_t address, int64_t bytes); /* take, map: false when the device refuses */
    void (*give)(struct replay *p, int64_t address);
    bool (*map)(struct replay *p, struct replay_range r, int64_t address, int64_t bytes);
    void (*unmap)(struct replay *p, int64_t address, int64_t bytes, int64_t page);
    void (*block)(struct replay *p, int64_t address, int64_t bytes,
                  int64_t allocated);                  /* it is handed out: written to */
    void (*refuse)(struct replay *p, int64_t bytes);   /* ends the replay */
    void (*step)(struct replay *p, int64_t allocated); /* an iteration is over */
    /* Who asked for the block that was refused. */
    void (*asked)(struct replay *p, enum phase phase, const char *op, const char *name, const char *location);
};

#endif
