/* SPDX-License-Identifier: Apache-2.0 */
/* step.c - calls and set-up to a training loop: what a script does around the model.
 *
 * The loop is run as written (figures are those of its last iteration, when optimizer states exist): inputs,
 * zero_grad, forward, loss, backward, update. Python's references are slots: a value lives until the last call that
 * reads it; `out` and `loss` live until the next iteration rebinds them. Everything a script can choose is a row:
 * optimizers, losses, loops, precisions.
 */
#include "base/setup.h"
#include "torch/torch.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ITERATIONS = 3, RANK = 2 * MAX_RANK, MOST_STATES = 4 /* of an optimizer, for a parameter */ };
enum { DEEPEST = 64 /* modules that have parameters and lie in each other */ };

/* ---- rows -------------------------------------------------------------------------------------------------------- */

struct script;
struct trained;

/* What an optimizer keeps for a parameter and what its update makes. Source: the Python files of torch/optim, version
 * 2.11, unless a row says otherwise. */
struct optimizer {
    const char *name, *help;
    enum state_kind {
        STATE_LIKE,     /* tensors like the parameter */
        STATE_FACTORED, /* of a matrix a row and a column; of a vector one like it */
        STATE_8BIT      /* a byte an element and a float a block of 256; small parameters in fp32 */
    } kind;
    int states;
    bool at_construction; /* made by the constructor, not by the first step */
    /* foreach: operators whose result lists over all parameters live until the update returns */
    const char *lists[3];
    const char *remade; /* by a switch: the gradients made anew, a list before the others; NULL none */
    enum remade_kind {
        REMADE_KEPT,    /* until the update returns */
        REMADE_DROPPED, /* before the other lists are made */
        REMADE_REUSED   /* for the last of the other lists */
    } remade_kind;
    /* what versions before `until` made instead, where remade is always REMADE_KEPT; none: it is not written down */
    struct optimizer_before {
        int until; /* 201 of 2.1; 0: it is as now since FOREACH_SINCE */
        const char *lists[3];
    } before;
    bool counts; /* it counts steps, on the device where it is fused: a number for each parameter */
    bool on_device;
    /* one parameter after another: operators whose results live together */
    const char *each[3];
    /* likewise, as written: names are the locals of its loop, which hold their tensors until they are bound anew */
    void (*run)(struct script *x, const struct trained *t, struct value **names);
    /* foreach=False, as _single_tensor_* of the optimizer's file has it in 1.13 and 2.11: what each name but the
     * gradient's is bound to, operators of which each reads the one before */
    struct each_local {
        const char *op[2];
    } locals[2];
    enum each_kind {
        EACH_UNTOLD,  /* not written down here */
        EACH_CHOOSES, /* grad = grads[i] if not maximize else -grads[i] */
        EACH_NEGATES, /* grad = grads[i], or what zip has; then grad = -grad */
        EACH_STATE    /* as EACH_CHOOSES, and at last grad = its state */
    } loop;
    bool loops;           /* foreach=False, by a switch */
    bool negates, adds;   /* the gradients, by a switch or the row: maximize, weight_decay */
    const char *python;   /* its class; NULL none */
    const char *switched; /* arguments of that which the row is with; NULL none */
    bool fused;           /* it takes fused=True on CUDA, whose update makes no lists */
    const char *in_8bit;  /* the class that keeps the same states in 8 bits; NULL none */
    const char *sparse; /* the class that updates a parameter from a sparse gradient, with as many states; NULL none */
    const char *caveat; /* said in the reports; NULL where records agree */
};

/* Arguments of an optimizer that change what it keeps or makes: "adam+amsgrad+fused". */
static const struct optimizer_switch {
    const char *name, *help;
    bool fused;           /* its update makes no lists */
    bool loops;           /* one parameter after another */
    bool negates, adds;   /* the gradients */
    int states;           /* that it adds */
    const char *list;     /* made before the others */
    const char *only[10]; /* the optimizers that have it */
} switches[] = {
    {.name = "+fused",
     .help = "fused=True: the update makes no lists",
     .fused = true,
     .only = {"sgd", "momentum", "momentum-decay", "adam", "adamw"}},
    {.name = "+loop",
     .help = "foreach=False: one parameter after another, as before PyTorch 2.0",
     .loops = true,
     .only = {"sgd", "momentum", "momentum-decay", "adam", "adamw", "rmsprop", "nadam", "adadelta", "adagrad"}},
    {.name = "+amsgrad",
     .help = "amsgrad=True: a third state, of Adam and AdamW",
     .states = 1,
     .only = {"adam", "adamw"}},
    {.name = "+decay",
     .help = "weight_decay that is added to the gradients: a list of them",
     .list = "_foreach_add.List",
     .adds = true,
     .only = {"sgd", "momentum", "adam", "rmsprop", "adamax", "adagrad", "adadelta"}},
    {.name = "+maximize",
     .help = "maximize=True: a list of negated gradients",
     .list = "_foreach_neg.default",
     .negates = true,
     .only = {"sgd", "momentum", "adam", "adamw", "rmsprop", "adamax", "adagrad", "adadelta"}},
};

enum { LOCALS = 4 /* of an optimizer's loop over the parameters */ };
static void run_adafactor(struct script *x, const struct trained *t, struct value **names);

static const struct optimizer optimizers[] = {
    {.name = "sgd",
     .help = "torch.optim.SGD without momentum: no state",
     .loop = EACH_CHOOSES,
     .python = "torch.optim.SGD",
     .fused = true,
     .sparse = "SGD"},
    {.name = "momentum",
     .help = "torch.optim.SGD with momentum: one state",
     .loop = EACH_STATE,
     .python = "torch.optim.SGD",
     .switched = ", momentum=0.9",
     .fused = true,
     .states = 1},
    {.name = "momentum-decay",
     .help = "torch.optim.SGD with momentum and weight decay: one state, one list of gradients",
     .loop = EACH_STATE,
     .adds = true,
     .python = "torch.optim.SGD",
     .switched = ", momentum=0.9, weight_decay=1e-4",
     .fused = true,
     .states = 1,
     .lists = {"_foreach_add.List"}},
    {.name = "adam",
     .help = "torch.optim.Adam: two states, one list of square roots",
     .loop = EACH_CHOOSES,
     .locals = {{{"sqrt.default", "div.Tensor"}}},
     .python = "torch.optim.Adam",
     .fused = true,
     .counts = true,
     .remade_kind = REMADE_DROPPED,
     .in_8bit = "bitsandbytes.optim.Adam8bit",
     .states = 2,
     .lists = {"_foreach_sqrt.default"},
     .before = {201, {"_foreach_sqrt.default", "_foreach_add.Scalar"}},
     .sparse = "SparseAdam"},
    {.name = "adamw",
     .help = "torch.optim.AdamW: as Adam",
     .loop = EACH_CHOOSES,
     .locals = {{{"sqrt.default", "div.Tensor"}}},
     .python = "torch.optim.AdamW",
     .fused = true,
     .counts = true,
     .remade_kind = REMADE_DROPPED,
     .in_8bit = "bitsandbytes.optim.AdamW8bit",
     .states = 2,
     .lists = {"_foreach_sqrt.default"},
     .before = {201, {"_foreach_sqrt.default", "_foreach_add.Scalar"}},
     .sparse = "SparseAdam"},
    {.name = "rmsprop",
     .help = "torch.optim.RMSprop: one state, one list",
     .loop = EACH_NEGATES,
     .locals = {{{"sqrt.default"}}},
     .python = "torch.optim.RMSprop",
     .states = 1,
     .lists = {"_foreach_sqrt.default"}},
    {.name = "adamax",
     .help = "torch.optim.Adamax: two states, one list of absolute gradients",
     .python = "torch.optim.Adamax",
     .states = 2,
     .lists = {"_foreach_abs.default"},
     .remade_kind = REMADE_REUSED,
     .before = {203}},
    {.name = "nadam",
     .help = "torch.optim.NAdam: as Adam",
     .loop = EACH_NEGATES,
     .locals = {{{"div.Tensor", "sqrt.default"}}},
     .python = "torch.optim.NAdam",
     .states = 2,
     .lists = {"_foreach_sqrt.default"},
     .before = {201, {"_foreach_sqrt.default", "_foreach_add.Scalar"}}},
    {.name = "radam",
     .help = "torch.optim.RAdam: as Adam",
     .python = "torch.optim.RAdam",
     .states = 2,
     .lists = {"_foreach_sqrt.default"},
     .before = {201, {"_foreach_sqrt.default", "_foreach_div.ScalarList", "ones_like.default"}}},
    {.name = "adadelta",
     .help = "torch.optim.Adadelta: two states, two lists",
     .loop = EACH_NEGATES,
     .locals = {{{"add.Tensor"}}, {{"add.Tensor"}}},
     .python = "torch.optim.Adadelta",
     .states = 2,
     .lists = {"_foreach_add.Scalar", "_foreach_add.Scalar"}},
    {.name = "adagrad",
     .help = "torch.optim.Adagrad: one state from the constructor on, two lists",
     .loop = EACH_NEGATES,
     .locals = {{{"sqrt.default"}}},
     .python = "torch.optim.Adagrad",
     .states = 1,
     .at_construction = true,
     .lists = {"_foreach_sqrt.default", "_foreach_mul.ScalarList"},
     .before = {201},
     .remade_kind = REMADE_REUSED,
     .sparse = "Adagrad"},
    {.name = "adafactor",
     .help = "torch.optim.Adafactor: a row and a column of each matrix, one parameter after another",
     .python = "torch.optim.Adafactor",
     .kind = STATE_FACTORED,
     .states = 1,
     .run = run_adafactor},
    {.name = "adam8bit",
     .help = "bitsandbytes.optim.Adam8bit: two states of a byte an element",
     .python = "bitsandbytes.optim.Adam8bit",
     .kind = STATE_8BIT,
     .states = 2,
     .caveat = "Adam8bit is modelled from bitsandbytes/optim/optimizer.py, not compared with a recorded step"},
    {.name = "lion",
     .help = "lion_pytorch.Lion: one state, one parameter after another",
     .python = "lion_pytorch.Lion",
     .states = 1,
     .each = {"clone.default", "add.Tensor"},
     .caveat = "Lion is modelled from lion_pytorch/lion_pytorch.py, not compared with a recorded step"},
    {.name = "none", .help = "no update: forward and backward only"},
};

struct precision {
    const char *name, *help;
    enum dtype autocast; /* DT_UNDEFINED none */
    enum dtype model;    /* type of floating parameters; DT_UNDEFINED as in the file */
};

static const struct precision precisions[] = {
    {"fp32", "as the file says", DT_UNDEFINED, DT_UNDEFINED},
    {"amp-bf16", "torch.autocast with bfloat16 around forward and loss", DT_BFLOAT16, DT_UNDEFINED},
    {"amp-fp16", "torch.autocast with float16 around forward and loss", DT_FLOAT16, DT_UNDEFINED},
    {"bf16", "the model itself in bfloat16", DT_UNDEFINED, DT_BFLOAT16},
    {"fp16", "the model itself in float16", DT_UNDEFINED, DT_FLOAT16},
};

struct loss {
    const char *name, *help;
    const char *op;                                                                   /* what it calls, NULL none */
    struct value *(*run)(struct machine *m, struct value *out, struct value *target); /* NULL: op of both */
    bool target_is_class; /* int64, one per row; else like the output */
    bool no_target;
};

struct loop {
    const char *name, *help;
    bool zero_late;  /* zero_grad between forward and backward */
    bool keep_grads; /* zero_grad(set_to_none=False) */
    bool drop_grads; /* zero_grad(set_to_none=True); neither: the version's default */
    bool del;        /* del out after backward, del loss after the update */
    bool inside;     /* out is a local of the function that returns the loss */
};

static const struct loop loops[] = {
    {.name = "plain", .help = "zero_grad() first; out and loss stay bound until the next step"},
    {.name = "set-to-none",
     .help = "zero_grad(set_to_none=True) first: as plain, also before PyTorch 2.0",
     .drop_grads = true},
    {.name = "late-zero", .help = "zero_grad() between forward and backward", .zero_late = true},
    {.name = "zero-in-place", .help = "zero_grad(set_to_none=False): gradients are alive always", .keep_grads = true},
    {.name = "del", .help = "del out after backward, del loss after the update", .del = true},
    {.name = "training-step",
     .help = "out dies with the function that returns the loss, as in Lightning's training_step and Trainer's "
             "compute_loss",
     .inside = true},
    {.name = "accumulate-N", .help = "N forward and backward passes an update"},
};

/* Over the last axis of rank 2 and 3, over axis 1 of images. */
static struct value *
run_classes(struct machine *m, const char *op, struct value *out, struct value *target)
{
    if (out->rank == 3) {
        int64_t rows[] = {out->size[0] * out->size[1], out->size[2]};
        out = OP(m, "reshape.default", VAL(out), ints_arg(m, 2, rows));
        target = OP(m, "reshape.default", VAL(target), ints_arg(m, 1, rows));
    }
    return OP(m, op, VAL(out), VAL(target));
}

static struct value *
run_cross_entropy(struct machine *m, struct value *out, struct value *target)
{
    return run_classes(m, "cross_entropy_loss.default", out, target);
}

static struct value *
run_nll(struct machine *m, struct value *out, struct value *target)
{
    return run_classes(m, "nll_loss_nd.default", out, target);
}

static struct value *
run_sum(struct machine *m, struct value *out, struct value *target)
{
    (void)target;
    return OP(m, "sum.default", VAL(out));
}

static struct value *
run_output(struct machine *m, struct value *out, struct value *target)
{
    (void)m;
    (void)target;
    return out;
}

static const struct loss losses[] = {
    {.name = "auto",
     .help = "the model's own where an output is one number, else cross-entropy",
     .target_is_class = true},
    {.name = "cross-entropy",
     .help = "classes on the last axis of rank 2 and 3, on axis 1 of images",
     .op = "cross_entropy_loss.default",
     .run = run_cross_entropy,
     .target_is_class = true},
    {.name = "nll",
     .help = "log-probabilities of classes, on the axes of cross-entropy",
     .op = "nll_loss_nd.default",
     .run = run_nll,
     .target_is_class = true},
    {.name = "mse", .help = "mean squared error against a tensor like the output", .op = "mse_loss.default"},
    {.name = "l1", .help = "mean absolute error, likewise", .op = "l1_loss.default"},
    {.name = "smooth-l1", .help = "likewise, squared near zero", .op = "smooth_l1_loss.default"},
    {.name = "huber", .help = "likewise, linear far from zero", .op = "huber_loss.default"},
    {.name = "bce", .help = "binary cross-entropy with logits", .op = "binary_cross_entropy_with_logits.default"},
    {.name = "kl-div", .help = "log-probabilities against probabilities like the output", .op = "kl_div.default"},
    {.name = "sum", .help = "the sum of the output", .run = run_sum, .no_target = true},
    {.name = "output",
     .help = "the output itself, one number that the model computed",
     .run = run_output,
     .no_target = true},
};

#define FINDER(type, table)                                       \
    const char *type##_name(int i)                                \
    {                                                             \
        return i < COUNT(table) ? table[i].name : NULL;           \
    }                                                             \
    const struct type *type##_find(const char *name)              \
    {                                                             \
        for (int i = 0; i < COUNT(table); i++)                    \
            if (strcmp(table[i].name, name) == 0)                 \
                return &table[i];                                 \
        return NULL;                                              \
    }                                                             \
    void type##_list(FILE *f)                                     \
    {                                                             \
        for (int i = 0; i < COUNT(table); i++)                    \
            fprintf(f, "%s\t%s\n", table[i].name, table[i].help); \
    }

FINDER(optimizer, optimizers)
FINDER(optimizer_switch, switches)
FINDER(precision, precisions)
FINDER(loss, losses)
FINDER(loop, loops)

static bool
switch_on(struct optimizer *o, const char *row, const struct optimizer_switch *w)
{
    int at = 0;
    while (at < COUNT(w->only) && w->only[at] && strcmp(w->only[at], row) != 0)
        at++;
    if (at == COUNT(w->only) || !w->only[at])
        return false;
    if (w->list)
        o->remade = w->list;
    o->states += w->states;
    o->loops |= w->loops;
    o->negates |= w->negates;
    o->adds |= w->adds;
    return true;
}

const struct optimizer *
optimizer_read(struct arena *a, const char *text)
{
    char *row = arena_strn(a, text, strcspn(text, "+"));
    const struct optimizer *plain = optimizer_find(row);
    if (!plain || !text[strlen(row)])
        return plain;
    struct optimizer *o = arena_dup(a, plain, sizeof(*o));
    bool fused = false;
    size_t n = 0;
    o->name = arena_printf(a, "%s", text);
    for (const char *p = text + strlen(row); *p; p += n) {
        n = 1 + strcspn(p + 1, "+");
        const struct optimizer_switch *w = optimizer_switch_find(arena_strn(a, p, n));
        if (!w || strstr(p + n, w->name) || !switch_on(o, row, w))
            return NULL;
        fused |= w->fused;
    }
    if (fused && o->loops)
        return NULL;
    if (fused) {
        o->loop = EACH_UNTOLD;
        memset(o->lists, 0, sizeof(o->lists));
        o->before = (struct optimizer_before){0};
        o->remade = NULL;
        o->on_device = o->counts;
    }
    o->fused &= !fused && !o->loops;
    return o;
}

const struct optimizer *
optimizer_fused(struct arena *a, const struct optimizer *o)
{
    return o->fused && o->lists[0] ? optimizer_read(a, arena_printf(a, "%s+fused", o->name)) : NULL;
}

const char *
optimizer_text(const struct optimizer *o)
{
    return o->name;
}

bool
optimizer_told(const struct optimizer *o, int torch)
{
    enum { ONE_LIST_SINCE = 201 }; /* of negated gradients, to which the decay is added in place */
    const bool foreach = torch >= FOREACH_SINCE && !o->loops;
    if (foreach && torch < ONE_LIST_SINCE && o->negates && o->adds)
        return false;
    return foreach ? torch >= o->before.until || o->before.lists[0] : o->loop || !o->lists[0];
}

const char *
optimizer_python(const struct optimizer *o)
{
    return o->python;
}

const char *
optimizer_switched(const struct optimizer *o)
{
    return o->switched ? o->switched : "";
}

const char *
optimizer_in_8bit(const struct optimizer *o)
{
    return o->in_8bit;
}

const char *
optimizer_sparse(const struct optimizer *o, int *states)
{
    *states = o->states;
    return o->sparse;
}

/* ---- what the loss reads ----------------------------------------------------------------------------------------- */

/* Marks what gradients reach from a slot; whether a parameter that nothing had reached is among it. */
static bool
reaches_more(const struct program *p, bool *reached, int from)
{
    bool more = false;
    if (reached[from])
        return false;
    reached[from] = true;
    for (int i = p->ncalls - 1, slot; i >= 0; i--) {
        const struct call *c = &p->calls[i];
        bool any = false;
        for (int k = 0; k < c->nouts; k++)
            any |= reached[c->outs[k]];
        for (struct call_reads r = {c}; any && !c->no_grad && c->op && c->op->grad && (slot = next_read(&r)) >= 0;)
            reached[slot] = true;
        if (any && c->no_grad && (c->in_place || target_is(c->target, TARGET_WRITES)) && c->args[0].kind == ARG_SLOT &&
            c->args[0].i >= 0) /* which keeps its history */
            reached[c->args[0].i] = true;
    }
    for (int i = 0; i < p->nparams; i++)
        if (reached[p->params[i].slot] && p->params[i].kind == PARAM_TRAINED && !reached[p->nslots + i])
            more = reached[p->nslots + i] = true;
    return more;
}

/* The output that is the model's own loss: one number, the first output or computed from another one; -1 none. */
static int
own_loss(struct arena *a, const struct program *p)
{
    for (int i = 0; i < p->noutputs; i++) {
        const struct returned *out = &p->outputs[i];
        bool *reached = NEWN(a, bool, p->nslots + p->nparams + 1);
        if (out->rank != 0 || !out->is_float || !reaches_more(p, reached, out->slot))
            continue;
        bool last = i == 0;
        for (int k = 0; k < p->noutputs; k++)
            last |= k != i && reached[p->outputs[k].slot];
        if (last)
            return i;
    }
    return -1;
}

const char *
loss_reads(const struct loss *loss)
{
    return loss->op ? aten_find(loss->op)->reads : NULL;
}

static const struct loss *
usual_loss(const struct loss *loss, const struct returned *out)
{
    return loss != loss_find("auto") ? loss : loss_find(out->rank == 0 ? "output" : "cross-entropy");
}

const struct loss **
loss_of(struct arena *a, const struct program *p, const struct setup *s)
{
    const struct loss **of = NEWN(a, const struct loss *, p->noutputs + 1);
    struct arena *work = arena_new();
    bool *reached = NEWN(work, bool, p->nslots + p->nparams + 1);
    int own = s->nterms || s->loss != loss_find("auto") ? -1 : own_loss(work, p);
    for (int i = 0; i < p->noutputs; i++) {
        const struct returned *out = &p->outputs[i];
        for (int k = 0; k < s->nterms; k++)
            if (strcmp(s->terms[k].output, out->name) == 0)
                of[i] = usual_loss(s->terms[k].loss, out);
        if (i == own || (!s->nterms && own < 0 && (p->noutputs == 1 || reaches_more(p, reached, out->slot) || i == 0)))
            of[i] = usual_loss(s->loss, out);
    }
    arena_free(work);
    return of;
}

/* ---- the script's state ------------------------------------------------------------------------------------------ */

struct script {
    struct arena *own; /* of what nobody asks for behind the run */
    struct machine *m;
    const struct program *p;
    const struct setup *s;
    struct value **slot;
    int *last_use;               /* per slot: the call after which Python drops it; ncalls: lives to the end */
    bool *is_table;              /* per slot: no parameter goes into it, but something that one goes into reads it */
    int *first_drop, *next_drop; /* per call, the slots dropped after it: a list */
    int nparams;                 /* that own their tensor: tied names share */
    bool sharded, sharded_low;
    const struct region *unit; /* that runs */
    struct swaps {
        int n, *slot; /* that hold a unit's gates, and what they held */
        struct value **was;
    } swapped;
    int *passing;          /* room for what passes a gate, NULL nothing did yet: */
    struct value **passed; /* slots and values */
    bool *hooked;          /* per module: ZeRO-3 does something before it runs */
    int *part;             /* per slot: the parameter's number there; -1 none */
    int nuses, first_use;  /* modules that run, the outermost first; those of the running second forward */
    int around;            /* the module whose second forward that is; -1 none */
    struct use {
        int module, first, end; /* calls */
        struct swaps swapped;
        const struct checkpoint *under;
    } use[DEEPEST];
    struct value **split; /* what was split along the sequence */
    int nsplit, cap_split;
    struct stage *stage;                   /* of a pipeline; NULL none */
    struct value **received, **returned;   /* per micro-batch and slot that the stage is sent: it, and its gradient */
    struct value **awaited;                /* per micro-batch and slot that it sends on: that one's gradient */
    struct value **made, **scores, **sent; /* likewise what it sends; losses; gradients that are sent back */
    int nupdated, *updated;                /* those that this rank's optimizer has, in its order */
    struct trained {
        const struct param *param;
        struct value *v, *grad, *state[MOST_STATES], *local, *whole_grad; /* sharded: v is whole at times */
    } * params;
    const int *moves; /* of params, in the order in which a model moves to a device */
    struct value **inputs, **targets, **outs, *loss;
    const struct loss **loss_of; /* per output, NULL none */
    bool first;                  /* iteration: doubts are noted once, and where anybody asks for them */
    struct value **kept;         /* slots around a second forward */
    int captives_before;         /* of the last step's graph */
    struct value **attributes;   /* by their numbers, of the last step until this one binds them */
    int *seen, stamp;            /* per slot: -1 a parameter, else the last region that read or made it */
    double flops_before;
    struct step *st;
    const struct updates *others; /* optimizers whose updates are tried before the set-up's; NULL none */
    struct step_trace *tried;     /* per other optimizer, what its update alone did; */
    struct step_trace untried[2]; /* the trace before and behind the set-up's own */
    int64_t held;                 /* at most before it */
};

enum dtype
precision_half(const struct precision *p, bool *autocast)
{
    *autocast = p->autocast != DT_UNDEFINED;
    return *autocast ? p->autocast : p->model;
}

enum dtype
precision_type(const struct precision *p, enum dtype t)
{
    return p->model && t == DT_FLOAT ? p->model : t;
}

/* A module among those that have parameters, which stand in their order: by number, from 1 on; 0 is around all. */
struct mover {
    bool seen;
    int inner, last, next; /* the first and the last in it, and the one behind it; 0 none */
    int turn;
};

/* Module.to moves a module's children before its own. Source: Module._apply in torch/nn/modules/module.py. */
static int
take_turns(struct mover *m, int at, int turn)
{
    for (int in = m[at].inner; in; in = m[in].next)
        turn = take_turns(m, in, turn);
    m[at].turn = turn;
    return turn + 1;
}

/* The parameters of the script, in the order in which the model moves to the device: a module's before its buffers. */
static int *
moves(const struct script *x)
{
    const struct program *p = x->p;
    struct mover *m = NEWN(x->m->a, struct mover, p->nmodules + 1);
    int *order = NEWN(x->m->a, int, x->nparams + 1), *turn = NEWN(x->m->a, int, x->nparams + 1),
        turns = 2 * p->nmodules + 2, *before = NEWN(x->m->a, int, turns + 1); /* before: those of earlier turns */
    for (int i = 0; i < x->nparams; i++)
        for (int at = x->params[i].param->module + 1, up; at && !m[at].seen; at = up) {
            up = p->modules[at - 1].parent + 1;
            m[at].seen = true;
            *(m[up].inner ? &m[m[up].last].next : &m[up].inner) = at;
            m[up].last = at;
        }
    take_turns(m, 0, 0);
    for (int i = 0; i < x->nparams; i++) {
        const struct param *q = x->params[i].param;
        turn[i] = 2 * m[q->module + 1].turn + param_is_state(q);
        before[turn[i] + 1]++;
    }
    for (int i = 0; i < turns; i++)
        before[i + 1] += before[i];
    for (int i = 0; i < x->nparams; i++)
        order[before[turn[i]]++] = i;
    return order;
}

/* An attribute that is no buffer, so that Module.to() leaves it alone: the program brings it to the device itself, and
 * may have it there in the type of what it meets: "self.pe = self.pe.to(x.dtype)". */
static bool
brought_along(const struct program *p, const struct param *q)
{
    return q->kind == PARAM_CONSTANT && q->dtype == DT_FLOAT && q->rank > 0 && !q->is_exact && !p->captured;
}

static enum dtype
type_of_param(const struct script *x, const struct param *q)
{
    enum dtype low = x->s->precision->autocast;
    if (low != DT_UNDEFINED && brought_along(x->p, q) && setup_instead(x->s, ALTERNATIVE_TYPES))
        return low;
    bool zero = x->s->mode == MODE_TRAINING && x->s->parallel && x->s->parallel->zero; /* casts by itself, no buffers */
    return x->sharded_low || q->is_exact || zero ? q->dtype : precision_type(x->s->precision, q->dtype);
}

/* The parameters' memory; of those on the meta device there is none, but what would have it is known. */
static void
build_model(struct script *x)
{
    const struct program *p = x->p;
    x->m->phase = PHASE_BUILD;
    x->params = NEWN(x->m->a, struct trained, 2 * p->nparams + 1); /* DeepSpeed's optimizer has others behind them */
    for (int i = 0; i < p->nparams; i++) {
        const struct param *q = &p->params[i];
        if (q->rank >= 0 && q->tied_to < 0 && (!x->stage || x->stage->reads[q->slot]))
            x->params[x->nparams++].param = q;
    }
    x->moves = moves(x);
    for (int i = 0; i < x->nparams; i++) {
        struct trained *t = &x->params[x->moves[i]];
        const struct param *q = t->param;
        x->m->on_meta = x->sharded && x->s->parallel->on_meta;
        t->v = value_born(x->m, "empty.memory_format", param_is_state(q) ? CLASS_BUFFERS : CLASS_PARAMETERS, q->name,
                          type_of_param(x, q), q->rank, q->size);
        x->slot[q->slot] = t->v;
        if (q->kind == PARAM_TRAINED && x->s->mode == MODE_TRAINING && dtypes[q->dtype].is_float)
            value_requires_grad(x->m, t->v, x->sharded ? &t->whole_grad : &t->grad);
    }
    x->m->on_meta = false;
}

/* to_empty() makes shares and whole buffers; with CPU offload shares are the host's, and buffers are moved. */
static void
leave_meta(struct script *x)
{
    for (int i = 0; i < x->nparams; i++) {
        struct trained *t = &x->params[x->moves[i]];
        if (!param_is_state(t->param) && !x->s->parallel->offloads)
            t->local = shards_born(x->m->shards, t->v);
        else if (param_is_state(t->param))
            value_refill(x->m, t->v, CLASS_BUFFERS, value_elements(t->v));
    }
}

static bool
has_update(const struct trained *t)
{
    return t->v->fn != NULL;
}

/* What the optimizer updates: with shards this rank's share, which the host may have. */
static struct value *
updated_value(const struct script *x, const struct trained *t)
{
    return x->sharded ? t->local : t->v;
}

/* The unit of the first call that reads a slot, from 1 on; 0 the model. */
static int *
units_of_slots(const struct script *x)
{
    const struct program *p = x->p;
    int *of = NEWN(x->m->a, int, p->nslots + 1), unit = 0;
    memset(of, -1, sizeof(*of) * (size_t)(p->nslots + 1));
    for (int i = 0, slot; i < p->ncalls; i++) {
        while (unit < p->nunits && p->units[unit].end <= i)
            unit++;
        bool inside = unit < p->nunits && p->units[unit].first <= i;
        for (struct call_reads r = {&p->calls[i]}; (slot = next_read(&r)) >= 0;)
            of[slot] = of[slot] < 0 ? inside * (unit + 1) : of[slot];
    }
    return of;
}

/* What fully_shard refuses of a parameter, whose unit has trained ones of the type like; NULL nothing. Source:
 * _verify_managed_param and _init_mp_dtypes in _fsdp_init.py and _fsdp_param_group.py of
 * torch/distributed/fsdp/_fully_shard.
 */
static const char *
refused(const struct trained *t, enum dtype like)
{
    if (!t->v->rank)
        return "has no dimensions, which fully_shard refuses: with one dimension of one element it takes it";
    if (has_update(t) && like != DT_UNDEFINED && like != t->v->dtype)
        return "has another type than others that its unit trains, which fully_shard refuses";
    return NULL;
}

static void
shard(struct script *x)
{
    struct machine *m = x->m;
    const int *unit = units_of_slots(x);
    enum dtype *type = NEWN(m->a, enum dtype, x->p->nunits + 1);
    m->shards = shards_new(m, x->s->parallel, x->s->gpus, x->p->nunits + 1);
    for (int i = 0; i < x->nparams; i++) {
        struct trained *t = &x->params[i];
        if (param_is_state(t->param))
            continue;
        int of = unit[t->param->slot] < 0 ? 0 : unit[t->param->slot];
        const char *why = refused(t, type[of]);
        if (why)
            graph_doubt(x->p->graph, t->param->name, "fully_shard", NULL, "%s %s", t->param->name, why)->sure =
                SURE_MODEL;
        if (has_update(t))
            type[of] = t->v->dtype;
        shards_add(m->shards, of, t->v, &t->local, has_update(t) ? &t->whole_grad : NULL, &t->grad);
    }
    if (x->s->parallel->on_meta)
        leave_meta(x);
    shards_build(m->shards);
}

static void
reduce(struct script *x)
{
    struct machine *m = x->m;
    m->reducer = reducer_new(m, x->s->parallel);
    for (int i = 0; i < x->nparams; i++)
        if (has_update(&x->params[i]) || x->params[i].param->kind == PARAM_BUFFER)
            reducer_add(m->reducer, x->params[i].v, has_update(&x->params[i]) ? &x->params[i].grad : NULL);
    reducer_build(m->reducer);
}

/* Source: _cast_module_mixed_precision in deepspeed/runtime/engine.py. */
static void
cast_model(struct script *x)
{
    for (int i = 0; i < x->nparams; i++) {
        struct trained *t = &x->params[i];
        enum dtype to = precision_type(x->s->precision, t->param->dtype);
        if (param_is_state(t->param) || t->param->is_exact || to == t->v->dtype)
            continue;
        t->v->dtype = to;
        value_refill(x->m, t->v, CLASS_PARAMETERS, value_elements(t->v));
    }
}

/* DeepSpeed's optimizer has one parameter, which stands behind the model's. */
static void
flatten(struct script *x)
{
    struct machine *m = x->m;
    struct trained *own = &x->params[x->nparams];
    struct param *q = NEW(m->keep, struct param);
    *q = (struct param){.name = "flat parameters", .kind = PARAM_TRAINED, .tied_to = -1};
    m->zero = zero_new(m, x->s->gpus);
    for (int i = 0; i < x->nparams; i++)
        if (has_update(&x->params[i]))
            zero_add(m->zero, x->params[i].v, &x->params[i].grad);
    *own = (struct trained){.param = q, .v = zero_build(m->zero)};
    x->updated = NEWN(m->a, int, 1);
    x->updated[x->nupdated++] = x->nparams;
}

/* Modules that are called are hooked: what they have comes before they run. */
static void
hook(struct script *x)
{
    const struct program *p = x->p;
    struct machine *m = x->m;
    int *part = NEWN(m->a, int, p->nparams + 1);
    m->zero3 = zero3_new(m, x->s->gpus, p->nmodules);
    x->hooked = NEWN(m->a, bool, p->nmodules + 1);
    x->part = NEWN(m->a, int, p->nslots + 1);
    memset(x->part, -1, sizeof(*x->part) * (size_t)(p->nslots + 1));
    for (int i = 0; i < x->nparams; i++) {
        struct trained *t = &x->params[i];
        if (!param_is_state(t->param))
            x->part[t->param->slot] = zero3_add(m->zero3, t->v, &t->grad, has_update(t));
    }
    for (int i = 0; i < p->nparams; i++) {
        const struct param *q = &p->params[i];
        part[i] = x->part[q->tied_to < 0 ? q->slot : p->params[q->tied_to].slot];
        if (part[i] < 0 || q->module < 0)
            continue;
        zero3_own(m->zero3, q->module, part[i]);
    }
    for (int i = 0; i < p->nmodules; i++) /* a list of modules is not called: nothing tells its class */
        x->hooked[i] = i == 0 || p->modules[i].type;
    for (int i = 0; i < p->ncalls; i++)
        x->hooked[p->calls[i].scope] |= !p->calls[i].in_loss;
    int groups = zero3_build(m->zero3);
    x->updated = NEWN(m->a, int, groups + 1);
    for (int g = 0; g < groups; g++) {
        struct param *q = NEW(m->keep, struct param);
        *q = (struct param){.name = "the rank's parameters", .kind = PARAM_TRAINED, .tied_to = -1};
        x->params[x->nparams + g] = (struct trained){.param = q, .v = zero3_master(m->zero3, g)};
        x->updated[x->nupdated++] = x->nparams + g;
    }
}

/* The parameters of this rank's optimizer, and what shares gradients with other ranks. */
static void
spread(struct script *x)
{
    struct machine *m = x->m;
    const struct parallel *how = x->s->mode == MODE_TRAINING ? x->s->parallel : NULL;
    int64_t *elements = NEWN(m->a, int64_t, x->nparams + 1);
    if (how && how->zero) {
        cast_model(x);
        (how->zero > 2 ? hook : flatten)(x);
        return;
    }
    if (how && !how->tensor && !how->pipeline)
        (how->shards ? shard : reduce)(x);
    x->updated = NEWN(m->a, int, x->nparams + 1);
    for (int i = 0; i < x->nparams; i++)
        if (has_update(&x->params[i]) && updated_value(x, &x->params[i])) {
            elements[x->nupdated] = value_elements(x->params[i].v);
            x->updated[x->nupdated++] = i;
        }
    if (!how || !how->partitions)
        return;
    int *mine = NEWN(m->a, int, x->nupdated + 1), n = parallel_share(m->a, x->s->gpus, x->nupdated, elements, mine);
    for (int i = 0; i < n; i++)
        mine[i] = x->updated[mine[i]];
    x->updated = mine;
    x->nupdated = n;
}

enum { BLOCK_8BIT = 256, SMALLEST_8BIT = 4096 }; /* bitsandbytes/optim/optimizer.py: blockwise, min_8bit_size */

struct state { /* a tensor that an optimizer keeps for a parameter */
    enum dtype dtype;
    int rank;
    const int64_t *size; /* the parameter's, or own */
    int64_t own[MAX_RANK];
};

/* The states for a parameter of that type and shape, in the order in which they are made: how many. */
static int
states_of(const struct optimizer *o, enum dtype t, int rank, const int64_t *size, struct state *out)
{
    int64_t n = 1;
    struct state *s = out;
    for (int i = 0; i < rank && o->kind == STATE_8BIT; i++)
        n = mul_ok(n, size[i], &n) ? n : INT64_MAX;
    const bool narrow = o->kind == STATE_8BIT && n >= SMALLEST_8BIT;
    const enum dtype like = narrow ? DT_UINT8 : o->kind == STATE_8BIT ? DT_FLOAT : t;
    if (o->on_device) {
        s->dtype = DT_FLOAT;
        s->size = s->own;
        s++->rank = 0;
    }
    for (int k = 0; k < o->states; k++) {
        const int parts = o->kind == STATE_FACTORED && rank > 1 ? 2 : 1; /* of a row and of a column */
        for (int i = 0; i < parts; i++, s++) {
            s->dtype = like;
            s->rank = rank;
            s->size = size;
            if (parts > 1) {
                s->size = memcpy(s->own, size, sizeof(*size) * (size_t)rank);
                s->own[rank - 1 - i] = 1;
            }
        }
        if (narrow) {
            s->dtype = DT_FLOAT;
            s->rank = 1;
            s->own[0] = div_up(n, BLOCK_8BIT);
            s->size = s->own;
            s++;
        }
    }
    return (int)(s - out);
}

int64_t
optimizer_state_bytes(const struct optimizer *o, enum dtype t, int rank, const int64_t *size)
{
    struct state s[MOST_STATES];
    int64_t sum = 0;
    for (int i = states_of(o, t, rank, size, s) - 1; i >= 0; i--) {
        int64_t n = 1;
        for (int d = 0; d < s[i].rank; d++)
            n = mul_ok(n, s[i].size[d], &n) ? n : INT64_MAX;
        sum = bytes_add(sum, dtype_bytes(s[i].dtype, n));
    }
    return sum;
}

static void
make_states(struct script *x)
{
    const char *op = x->m->op;
    for (int i = 0; i < x->nupdated; i++) {
        struct trained *t = &x->params[x->updated[i]];
        const struct value *v = updated_value(x, t);
        struct state s[MOST_STATES];
        int n = !t->state[0] && (t->grad || x->s->optimizer->at_construction)
                    ? states_of(x->s->optimizer, v->dtype, v->rank, v->size, s)
                    : 0;
        for (int k = 0; k < n; k++) {
            t->state[k] = value_born(x->m, "zeros_like.default", CLASS_OPTIMIZER, t->param->name, s[k].dtype, s[k].rank,
                                     s[k].size);
            t->state[k]->st->stays = true;
        }
    }
    x->m->op = op; /* later iterations make none */
}

/* A name that outlives the iteration is bound anew. */
static void
unbind(struct script *x, struct value **name)
{
    if (*name)
        value_let_go(x->m, name);
    else
        trace_unbind(x->m, name);
}

static void
zero_grad(struct script *x)
{
    const struct loop *loop = x->s->loop;
    const bool keeps = loop->keep_grads || (x->m->torch < FOREACH_SINCE && !loop->drop_grads);
    for (int i = 0; i < x->nparams && !keeps; i++)
        unbind(x, &x->params[i].grad);
}

static void
make_target(struct script *x, int output)
{
    const struct program *p = x->p;
    for (int i = p->ncalls - 1; i >= 0; i--) {
        const struct call *c = &p->calls[i];
        if (c->outs[0] != p->outputs[output].slot || c->rank < 1)
            continue;
        int64_t size[RANK];
        int rank = 0, axis = c->rank > 3 ? 1 : c->rank - 1;
        for (int d = 0; d < c->rank; d++)
            if (!x->loss_of[output]->target_is_class || d != axis)
                size[rank++] = c->size[d];
        if (x->stage && rank && !mul_ok(size[0], x->s->micro_batches, &size[0]))
            size[0] = INT64_MAX;
        x->targets[output] =
            value_born(x->m, x->loss_of[output]->target_is_class ? "zeros.default" : "rand.default", CLASS_INPUTS,
                       "targets", x->loss_of[output]->target_is_class ? DT_INT64 : DT_FLOAT, rank, size);
        return;
    }
}

/* An input of the batch; images are channels last where they are said to be. */
static struct value *
input_born(struct script *x, const char *op, const struct input *in, enum dtype t)
{
    struct value *v = value_born(x->m, op, CLASS_INPUTS, in->name, t, in->rank, in->size);
    int64_t row, image;
    if (x->s->channels_last && in->rank == 4 && dtypes[t].is_float && mul_ok(v->size[1], v->size[3], &row) &&
        mul_ok(row, v->size[2], &image)) {
        const int64_t stride[] = {image, 1, row, v->size[1]};
        memcpy(v->stride, stride, sizeof(stride));
    }
    return v;
}

/* The batch: inputs, then targets of the shapes that the loss compares with outputs. */
static void
make_inputs(struct script *x)
{
    const struct program *p = x->p;
    x->m->phase = PHASE_INPUT;
    for (int i = 0; i < p->ninputs; i++) {
        const struct input *in = &p->inputs[i];
        x->inputs[i] =
            in->rank < 0 ? NULL
                         : input_born(x, dtypes[in->dtype].is_float ? "rand.default" : "zeros.default", in, in->dtype);
    }
    for (int i = 0; i < p->noutputs && x->s->mode == MODE_TRAINING; i++)
        if (x->loss_of[i] && !x->loss_of[i]->no_target)
            make_target(x, i);
}

/* ---- forward ----------------------------------------------------------------------------------------------------- */

static void
find_last_uses(struct script *x)
{
    const struct program *p = x->p;
    x->last_use = NEWN(x->own, int, p->nslots + 1);
    memset(x->last_use, -1, sizeof(int) * (size_t)(p->nslots + 1));
    for (int i = 0, slot; i < p->ncalls; i++)
        for (struct call_reads r = {&p->calls[i]}; (slot = next_read(&r)) >= 0;)
            x->last_use[slot] = i;
    for (int i = 0; i < p->nslots && !p->release; i++) {
        int until = p->held[i] < p->ncalls ? p->held[i] : p->ncalls - 1; /* an edit may have removed the last call */
        if (until > x->last_use[i])
            x->last_use[i] = until;
    }
    for (int i = 0; i < p->nparams; i++)
        x->last_use[p->params[i].slot] = p->ncalls;
    for (int i = 0; i < p->ninputs; i++)
        x->last_use[p->inputs[i].slot] = p->ncalls;
    for (int i = 0; i < p->noutputs; i++)
        x->last_use[p->outputs[i].slot] = p->ncalls;
    x->first_drop = NEWN(x->own, int, p->ncalls + 1);
    x->next_drop = NEWN(x->own, int, p->nslots + 1);
    memset(x->first_drop, -1, sizeof(int) * (size_t)(p->ncalls + 1));
    for (int i = p->nslots - 1; i >= 0; i--)
        if (x->last_use[i] >= 0) {
            x->next_drop[i] = x->first_drop[x->last_use[i]];
            x->first_drop[x->last_use[i]] = i;
        }
}

/* A model in half precision brings its tables and masks, which no parameter goes into, to its own type before they
 * meet its tensors: an export in fp32 has lost that cast, and without it a linear layer would be handed fp32. Source:
 * cos.to(dtype=x.dtype) in modeling_llama.py, dtype= of create_causal_mask in masking_utils.py (Transformers). */
static void
find_tables(struct script *x)
{
    const struct program *p = x->p;
    if (!x->s->precision->model || p->captured)
        return;
    bool *learned = NEWN(x->own, bool, p->nslots + 1);
    x->is_table = NEWN(x->own, bool, p->nslots + 1);
    for (int i = 0; i < p->nparams; i++)
        learned[p->params[i].slot] = true;
    for (int i = 0; i < p->ninputs; i++)
        learned[p->inputs[i].slot] = dtypes[p->inputs[i].dtype].is_float;
    for (int i = 0, slot; i < p->ncalls; i++) {
        const struct call *c = &p->calls[i];
        bool any = false;
        for (struct call_reads r = {c}; (slot = next_read(&r)) >= 0;)
            any |= learned[slot];
        for (int k = 0; k < c->nouts; k++)
            learned[c->outs[k]] = any;
        for (struct call_reads r = {c}; any && (slot = next_read(&r)) >= 0;)
            x->is_table[slot] = !learned[slot];
    }
    for (int i = p->ncalls - 1; i >= 0; i--) { /* a view is of what was cast */
        const struct call *c = &p->calls[i];
        if (x->is_table[c->outs[0]] && target_views(c->target) && c->nargs && c->args[0].kind == ARG_SLOT &&
            c->args[0].i >= 0) {
            x->is_table[c->outs[0]] = false;
            x->is_table[c->args[0].i] = true;
        }
    }
}

bool
args_bind(struct machine *m, struct value **slot, const struct arg *from, int n, struct arg *to)
{
    bool all = true;
    for (int i = 0; i < n; i++) {
        to[i] = from[i];
        if (from[i].kind == ARG_SLOT) {
            to[i] = VAL(from[i].i >= 0 ? slot[from[i].i] : NULL);
            all &= to[i].kind != ARG_NONE;
        } else if (from[i].kind == ARG_LIST) {
            to[i].list = NEWN(m->a, struct arg, from[i].n ? from[i].n : 1);
            all &= args_bind(m, slot, from[i].list, from[i].n, to[i].list);
        }
    }
    return all;
}

/* In place of a call that can't be simulated: a result of the size that the file states, made of the tensors that are
 * there. */
static int
stand_in(struct machine *m, const struct call *c, struct arg *args)
{
    struct arg all = {.kind = ARG_LIST};
    int cap = 0;
    for (int i = 0; i < c->nargs; i++)
        for (int k = 0; k < (args[i].kind == ARG_LIST ? args[i].n : 1); k++) {
            const struct arg *a = args[i].kind == ARG_LIST ? &args[i].list[k] : &args[i];
            if (a->kind == ARG_VALUE)
                *PUSH(m->a, all.list, all.n, cap) = *a;
        }
    args[0] = all;
    return all.n && c->rank >= 0;
}

/* Whether a call's first result has another size than the file states, where complex numbers are pairs. */
static bool
contradicts(const struct call *c, const struct frame *f)
{
    const struct value *v = f->nout ? f->out[0] : NULL;
    bool pairs = v && dtype_is_complex(v->dtype);
    int64_t n = sizes_product(c->rank, c->size);
    return c->rank >= 0 && c->nouts && v && value_elements(v) != n && !(pairs && 2 * value_elements(v) == n);
}

/* What a doubt calls it: what stands for a call that the file lost has a name of its own, "aten.lost_view.default". */
static const char *
doubted_name(const struct call *c)
{
    static const char mark[] = "lost_";
    const char *lost = target_is(c->target, TARGET_LOST) ? strstr(c->target, mark) : NULL;
    return lost ? lost + strlen(mark) : c->target;
}

/* Whether a product reads numbers of two types, which PyTorch refuses: a cast between them is in no line. */
static bool
mixes(const struct aten *op, const struct arg *a, int n)
{
    enum dtype t = DT_UNDEFINED;
    for (int i = 0; i < n && op->cast == CAST_LOWER; i++) {
        const struct value *v = a[i].kind == ARG_VALUE && dtypes[a[i].v->dtype].is_float ? a[i].v : NULL;
        if (v && t != DT_UNDEFINED && t != v->dtype)
            return true;
        t = v ? v->dtype : t;
    }
    return false;
}

static void
run_call(struct script *x, int at, double *flops)
{
    struct machine *m = x->m;
    const struct call *c = &x->p->calls[at];
    struct arg args[MAX_ARGS];
    const struct aten *op = c->op;
    int nargs = c->nargs;
    bool bound = args_bind(m, x->slot, c->args, nargs, args);
    if (c->either_type && m->autocast && setup_instead(x->s, ALTERNATIVE_TYPES))
        args[aten_arg(op, "dtype")] = DTYPE(m->low);
    bool ran = bound && op && aten_takes(op, args, nargs);
    if (ran && x->first && x->s->precision->model && !x->p->graph->ndoubts && mixes(op, args, nargs))
        graph_doubt(x->p->graph, c->node, doubted_name(c), "an export by memlint.export, which has the casts",
                    "its operands have two types where the model is in half precision: a cast between them was lost");
    if (!ran && x->first && op && (bound || !x->p->graph->ndoubts)) /* what follows from a doubt is none of its own */
        graph_doubt(x->p->graph, c->node, doubted_name(c), NULL,
                    "an argument is missing or has another rank than the operator takes: only its result is counted");
    if (!ran) {
        op = aten_find("memlint.unknown_operator");
        nargs = stand_in(m, c, args);
        ran = nargs > 0;
    }
    if (ran) {
        int mark = scope_begin(m);
        double before = m->flops;
        m->call = c;
        bool recording = m->grad_mode, casting = m->autocast;
        m->grad_mode &= !c->no_grad;
        m->untracked = !m->grad_mode;
        m->autocast &= !c->no_autocast;
        if ((c->anew == ANEW_FIRST || c->anew == ANEW_READ) && args[0].kind == ARG_VALUE)
            args[0].v = value_anew(m, args[0].v);
        struct frame *f = dispatch(m, op, nargs, args,
                                   &(struct frame){.rank = op->shaped || c->rank >= 0 ? c->rank : -1,
                                                   .size = c->size,
                                                   .want = ~0u,
                                                   .in_place = c->in_place && op == c->op});
        m->untracked = false;
        if (m->uncertain && x->first && !x->p->graph->ndoubts)
            graph_doubt(x->p->graph, c->node, doubted_name(c), NULL,
                        "what the gradient of %s makes of complex numbers is not known", m->uncertain->name);
        m->uncertain = NULL;
        for (int k = 0; c->anew && k < f->nout; k++) {
            value_restride(m, f->out[k]);
            f->out[k]->stale |= c->anew == ANEW_READ;
        }
        m->grad_mode = recording;
        m->autocast = casting;
        if (x->first && !x->p->graph->ndoubts && contradicts(c, f))
            graph_doubt(x->p->graph, c->node, doubted_name(c), NULL,
                        "what it reads gives a result of another size than the file states");
        for (int k = 0; k < c->nouts && k < f->nout; k++)
            if (f->out[k]) {
                struct value *v =
                    x->is_table && x->is_table[c->outs[k]] && f->out[k]->rank && f->out[k]->dtype == DT_FLOAT
                        ? OP(m, "to.dtype", VAL(f->out[k]), DTYPE(x->s->precision->model))
                        : f->out[k];
                x->slot[c->outs[k]] = value_keep(v);
                if (!f->out[k]->st->name && !f->out[k]->is_view)
                    f->out[k]->st->name = c->name;
            }
        frame_drop(m, f);
        scope_end(m, mark, 0, NULL);
        m->call = NULL;
        if (flops)
            flops[at] = m->flops - before;
    }
    m->op = c->op ? c->op->name : NULL;
    if (c->attribute && x->slot[c->kept]) {
        struct value **name = &x->attributes[c->attribute], *old = *name;
        *name = value_keep(x->slot[c->kept]);
        if (old)
            value_drop(m, old);
        else
            trace_unbind(m, name);
    }
    for (int k = 0; k < c->nouts; k++) /* never read */
        if (x->last_use[c->outs[k]] < at && x->slot[c->outs[k]])
            value_let_go(m, &x->slot[c->outs[k]]);
    int slot;
    for (struct call_reads r = {c}; (slot = next_read(&r)) >= 0;)
        if (x->last_use[slot] == at && x->slot[slot])
            value_let_go(m, &x->slot[slot]);
    for (int i = x->first_drop[at]; i >= 0; i = x->next_drop[i])
        if (x->slot[i])
            value_let_go(m, &x->slot[i]);
}

static void
exit_autocast(struct script *x)
{
    struct machine *m = x->m;
    for (int i = 0; i < m->ncast; i++)
        value_drop(m, m->casts[i].to);
    m->ncast = 0;
    m->autocast = false;
}

/* ---- recomputation ----------------------------------------------------------------------------------------------- */

/* The arguments are what the region reads and did not make, but for parameters. */
static void
enter_region(struct script *x, const struct region *r)
{
    const struct program *p = x->p;
    struct machine *m = x->m;
    int *slots = NULL, n = 0, cap = 0, seen = ++x->stamp;
    for (int i = r->first; i < r->end; i++) {
        const struct call *c = &p->calls[i];
        int slot;
        for (struct call_reads k = {c}; (slot = next_read(&k)) >= 0;) {
            if (x->seen[slot] == seen || x->seen[slot] < 0)
                continue;
            x->seen[slot] = seen;
            if (x->slot[slot])
                *PUSH(m->a, slots, n, cap) = slot;
        }
        for (int k = 0; k < c->nouts; k++)
            x->seen[c->outs[k]] = seen;
    }
    for (int i = 0; i < r->nholds; i++) {
        struct value *v = x->slot[r->holds[i]];
        if (v && r->reentrant && m->grad_mode && !m->checkpoint)
            captive(m, value_keep(v));
        else if (v && x->seen[r->holds[i]] != seen && x->seen[r->holds[i]] >= 0)
            *PUSH(m->a, slots, n, cap) = r->holds[i];
    }
    if (n)
        qsort(slots, (size_t)n, sizeof(*slots), by_number);
    struct value **args = NEWN(m->a, struct value *, n + 1);
    for (int i = 0; i < n; i++)
        args[i] = x->slot[slots[i]];
    if (m->grad_mode)
        checkpoint_begin(m, r, n, slots, args);
}

/* Calls of a region put their results into slots anew: keep what is there, or put it back. */
static void
swap_slots(struct script *x, const struct checkpoint *c, bool back)
{
    for (int i = c->region->first; i < c->region->end; i++)
        for (int k = 0; k < x->p->calls[i].nouts; k++) {
            int s = x->p->calls[i].outs[k];
            if (back && x->slot[s] != x->kept[s]) {
                if (x->slot[s])
                    value_let_go(x->m, &x->slot[s]);
                x->slot[s] = x->kept[s];
            }
            x->kept[s] = back ? NULL : x->slot[s];
        }
    for (int i = 0; i < c->nargs; i++) {
        int s = c->slots[i];
        if (back && x->slot[s])
            value_let_go(x->m, &x->slot[s]);
        if (back)
            x->slot[s] = x->kept[s];
        else
            x->kept[s] = x->slot[s];
    }
}

/* Of a region that has run, what calls behind it read. */
static int
results_of(struct script *x, const struct region *r, struct value ***made)
{
    int n = 0, cap = 0;
    *made = NULL;
    for (int i = r->first; i < r->end; i++)
        for (int k = 0; k < x->p->calls[i].nouts; k++) {
            int s = x->p->calls[i].outs[k];
            if (x->slot[s] && x->slot[s] != x->kept[s] && x->last_use[s] >= r->end)
                *PUSH(x->m->a, *made, n, cap) = x->slot[s];
        }
    return n;
}

/* The model's outputs as DistributedDataParallel returns them. */
static void
hand_back(struct script *x)
{
    const struct program *p = x->p;
    struct value **made = NEWN(x->m->a, struct value *, p->noutputs + 1);
    int mark = scope_begin(x->m);
    for (int i = 0; i < p->noutputs; i++)
        if (x->slot[p->outputs[i].slot])
            made[i] = reducer_output(x->m, x->slot[p->outputs[i].slot]);
    scope_end(x->m, mark, 0, NULL);
    for (int i = 0; i < p->noutputs; i++) {
        struct value **out = &x->slot[p->outputs[i].slot];
        if (made[i] && made[i] != *out) {
            value_drop(x->m, *out);
            *out = made[i];
        }
    }
}

/* The wrapped model has returned: calls from `end` on are not its own. */
static void
leave_model(struct script *x, int end)
{
    const struct program *p = x->p;
    int slot;
    for (int i = 0; i < p->noutputs && x->m->shards; i++)
        if (x->slot[p->outputs[i].slot])
            gate_opens(x->slot[p->outputs[i].slot], 0);
    for (int i = end; i < p->ncalls && x->m->shards; i++)
        for (struct call_reads r = {&p->calls[i]}; (slot = next_read(&r)) >= 0;)
            if (x->slot[slot] && x->seen[slot] >= 0)
                gate_opens(x->slot[slot], 0);
    if (x->m->shards)
        shards_leave(x->m->shards, 0);
    if (x->m->reducer)
        hand_back(x);
}

/* The model has returned: the name of its output is rebound, and what runs now is the loss. */
static void
enter_loss(struct script *x, int first)
{
    leave_model(x, first);
    x->m->phase = PHASE_LOSS;
    for (int i = 0; i < x->p->noutputs; i++)
        if (x->slot[x->p->outputs[i].slot])
            unbind(x, &x->outs[i]);
}

/* What calls read passes a gate, or each tensor one of its own; slots of it that are read behind them, too, are noted.
 * Returns how many tensors did. */
static int
pass_gates(struct script *x, int first, int end, int gate, bool each, struct swaps *swapped)
{
    struct machine *m = x->m;
    if (!x->passing) {
        x->passing = NEWN(x->own, int, x->p->nslots + 1);
        x->passed = NEWN(x->own, struct value *, x->p->nslots + 1);
    }
    int n = 0, seen = ++x->stamp, mark = scope_begin(m), *slots = x->passing;
    struct value **v = x->passed;
    for (int i = first, slot; i < end; i++) {
        const struct call *c = &x->p->calls[i];
        for (struct call_reads k = {c}; (slot = next_read(&k)) >= 0;) {
            if (x->seen[slot] == seen || x->seen[slot] < 0)
                continue;
            x->seen[slot] = seen;
            if (!x->slot[slot])
                continue;
            struct value *to = m->shards ? shards_cast(m->shards, x->slot[slot]) : x->slot[slot];
            if (to == x->slot[slot] && !to->requires_grad)
                continue;
            slots[n] = slot;
            v[n++] = to;
        }
        for (int k = 0; k < c->nouts; k++)
            x->seen[c->outs[k]] = seen;
    }
    int gated = 0;
    *swapped = (struct swaps){0, NEWN(m->a, int, n + 1), NEWN(m->a, struct value *, n + 1)};
    for (int i = 0; i < n; i++) {
        struct value **at = &x->slot[slots[i]];
        value_keep(v[i]);
        if (x->last_use[slots[i]] >= end) {
            swapped->slot[swapped->n] = slots[i];
            swapped->was[swapped->n++] = *at;
        } else
            value_drop(m, *at);
        *at = v[i];
        if (v[i]->requires_grad) {
            slots[gated] = slots[i];
            v[gated++] = v[i];
        }
    }
    for (int i = 0; i < gated; i += each ? 1 : gated)
        gate_make(m, gate, each ? 1 : gated, &v[i]);
    for (int i = 0; i < gated; i++)
        x->slot[slots[i]] = v[i];
    scope_end(m, mark, 0, NULL);
    return gated;
}

/* Slots hold again what they held before the gates. */
static void
put_back(struct script *x, const struct swaps *swapped)
{
    for (int i = 0; i < swapped->n; i++) {
        struct value **at = &x->slot[swapped->slot[i]];
        if (*at)
            value_let_go(x->m, at);
        *at = swapped->was[i];
    }
}

/* A unit begins: what it reads passes a gate, which knows in the backward pass that the unit is behind. */
static void
enter_unit(struct script *x, const struct region *u)
{
    int number = (int)(u - x->p->units) + 1;
    x->unit = u;
    shards_enter(x->m->shards, number);
    pass_gates(x, u->first, u->end, number, false, &x->swapped);
}

static void
leave_unit(struct script *x)
{
    const struct region *u = x->unit;
    int number = (int)(u - x->p->units) + 1;
    put_back(x, &x->swapped);
    for (int i = u->first; i < u->end; i++)
        for (int k = 0; k < x->p->calls[i].nouts; k++) {
            int slot = x->p->calls[i].outs[k];
            if (x->slot[slot] && x->last_use[slot] >= u->end)
                gate_opens(x->slot[slot], number);
        }
    shards_leave(x->m->shards, number);
    x->unit = NULL;
}

static bool
is_within(const struct program *p, int module, int outer)
{
    while (module > outer)
        module = p->modules[module].parent;
    return module == outer;
}

/* A second forward of a checkpoint that is no function is no part of the graph. */
static bool
makes_graph(const struct machine *m)
{
    const struct checkpoint *c = m->checkpoint;
    return m->grad_mode && !(c && c->again && !c->function);
}

/* A hooked module runs. */
static void
enter_use(struct script *x, int module, int first)
{
    const struct program *p = x->p;
    struct machine *m = x->m;
    struct use *u = &x->use[x->nuses++];
    *u = (struct use){.module = module, .first = first, .end = first + 1, .under = m->checkpoint};
    while (u->end < p->ncalls && !p->calls[u->end].in_loss && is_within(p, p->calls[u->end].scope, module))
        u->end++;
    zero3_enter(m->zero3, module);
    if (makes_graph(m))
        zero3_await(m->zero3, module, pass_gates(x, first, u->end, 2 * module + 1, true, &u->swapped));
}

static void
leave_use(struct script *x)
{
    struct machine *m = x->m;
    struct use *u = &x->use[--x->nuses];
    put_back(x, &u->swapped);
    for (int i = u->first; i < u->end && makes_graph(m); i++)
        for (int k = 0; k < x->p->calls[i].nouts; k++) {
            int slot = x->p->calls[i].outs[k];
            struct value **at = &x->slot[slot];
            if (*at && (*at)->requires_grad && (*at)->fn && x->last_use[slot] >= u->end)
                gate_one(m, 2 * u->module, at);
        }
    zero3_leave(m->zero3, u->module);
}

/* The hooked modules that begin with a call, down to one of them; -1 all. A second forward begins below its region. */
static void
enter_uses(struct script *x, int call, int down_to)
{
    const struct program *p = x->p;
    int chain[DEEPEST], n = 0;
    if (p->calls[call].in_loss)
        return;
    for (int at = p->calls[call].scope; at >= 0 && at != x->around && n < DEEPEST; at = p->modules[at].parent)
        if (x->hooked[at])
            chain[n++] = at;
    while (n > x->nuses - x->first_use && x->nuses < DEEPEST) {
        int module = chain[n - 1 - (x->nuses - x->first_use)];
        if (down_to >= 0 && !is_within(p, down_to, module))
            return;
        enter_use(x, module, call);
    }
}

static void
leave_uses(struct script *x, int end)
{
    while (x->nuses > x->first_use && x->use[x->nuses - 1].end <= end && x->use[x->nuses - 1].under == x->m->checkpoint)
        leave_use(x);
}

/* What a call reads of parameters comes first, where it is another module's. */
static void
read_parts(struct script *x, const struct call *c)
{
    int slot;
    for (struct call_reads r = {c}; (slot = next_read(&r)) >= 0;)
        if (x->part[slot] >= 0)
            zero3_read(x->m->zero3, c->scope, x->part[slot]);
}

/* The module that runs around a region: whose calls it is, as its forward is what runs under checkpoint; where the
 * program calls modules under it, what has other calls beside. -1 none. */
static int
module_around(const struct program *p, const struct region *r)
{
    int at = p->calls[r->first].scope;
    while (at >= 0 && (r->module ? strcmp(p->modules[at].path, r->module) != 0
                                 : (r->first == 0 || !is_within(p, p->calls[r->first - 1].scope, at)) &&
                                       (r->end == p->ncalls || !is_within(p, p->calls[r->end].scope, at))))
        at = p->modules[at].parent;
    return at;
}

/* Whether a region is all of earlier stages. */
static bool
is_earlier(const struct script *x, const struct region *r)
{
    return x->stage && r->end <= x->stage->first;
}

/* Slots hold the rank's part of the sequence, or all of it again. What a part was made of lives on: its name does. */
static void
along_sequence(struct script *x, const int *slots, const char *op, bool keeps)
{
    struct machine *m = x->m;
    int mark = scope_begin(m);
    for (int i = 0; slots[i] >= 0; i++) {
        struct value **at = &x->slot[slots[i]], *was = *at;
        *at = value_keep(OP(m, op, VAL(was)));
        if (keeps)
            *PUSH(m->keep, x->split, x->nsplit, x->cap_split) = was;
        else
            value_drop(m, was);
    }
    scope_end(m, mark, 0, NULL);
}

/* Calls and the regions among them: r is the first one that may begin there. */
static void
run_calls(struct script *x, int first, int end, const struct region *r, double *flops)
{
    const struct program *p = x->p;
    struct machine *m = x->m;
    const struct region *u = m->shards && m->grad_mode && !m->checkpoint ? p->units : p->units + p->nunits;
    for (int i = first; i < end; i++) {
        if (p->parts && !m->checkpoint && i == p->units[0].first)
            along_sequence(x, p->parts, "memlint.split", true);
        if (x->stage && !x->stage->runs[i])
            continue;
        for (; u < p->units + p->nunits && u->first == i; u++)
            enter_unit(x, u);
        for (; r < p->regions + p->nregions && (is_earlier(x, r) || (r->first == i && r->end <= end)); r++)
            if (!is_earlier(x, r)) {
                int around = m->zero3 ? module_around(p, r) : -1;
                if (around >= 0)
                    enter_uses(x, i, around);
                enter_region(x, r);
            }
        if (p->calls[i].in_loss && m->phase == PHASE_FORWARD)
            enter_loss(x, i);
        if (m->zero3) {
            enter_uses(x, i, -1);
            read_parts(x, &p->calls[i]);
        }
        run_call(x, i, flops);
        leave_uses(x, i + 1);
        while (m->checkpoint && m->checkpoint->region->end == i + 1 && !m->checkpoint->again) {
            struct value **made;
            int nmade = results_of(x, m->checkpoint->region, &made);
            checkpoint_end(m, nmade, made);
            leave_uses(x, i + 1);
        }
        if (x->unit && x->unit->end == i + 1 && !m->checkpoint)
            leave_unit(x);
        if (p->parts && !m->checkpoint && i + 1 == p->units[p->nunits - 1].end)
            along_sequence(x, p->wholes, "memlint.whole", false);
    }
}

/* The second forward; with c NULL its end, early or not. */
static void
rerun(void *to, struct checkpoint *c)
{
    struct script *x = to;
    struct machine *m = x->m;
    if (!c) {
        struct checkpoint *ran = m->checkpoint;
        ran->nmade = ran->function ? results_of(x, ran->region, &ran->made) : 0;
        for (int i = 0; i < ran->nmade; i++)
            value_keep(ran->made[i]);
        forget_gathered(m);
        x->nuses = x->first_use; /* what it ended in has no end of its own */
        x->first_use = ran->uses;
        x->around = ran->around;
        swap_slots(x, ran, true);
        exit_autocast(x);
        double extra = m->flops - x->flops_before;
        x->st->recomputed_flops += extra;
        x->st->region_flops[m->checkpoint->region - x->p->regions] = m->checkpoint->spoilt ? HUGE_VAL : extra;
        m->flops = x->flops_before;
        return;
    }
    x->flops_before = m->flops;
    c->uses = x->first_use;
    c->around = x->around;
    x->first_use = x->nuses;
    x->around = module_around(x->p, c->region);
    swap_slots(x, c, false);
    for (int i = 0; i < c->nargs; i++)
        x->slot[c->slots[i]] = value_keep(c->args[i]);
    m->autocast = x->s->precision->autocast != DT_UNDEFINED;
    run_calls(x, c->region->first, c->region->end, c->region + 1, NULL);
}

/* The loss of a step dies, and with it the graph, which has the first n captives. */
static void
drop_loss(struct script *x, int n)
{
    struct machine *m = x->m;
    unbind(x, &x->loss);
    for (int i = 0; i < n; i++)
        value_let_go(m, m->captives[i]);
    m->ncaptives -= n;
    for (int i = 0; i < m->ncaptives; i++)
        m->captives[i] = m->captives[n + i];
}

static void
run_model(struct script *x, double *flops)
{
    const struct program *p = x->p;
    struct machine *m = x->m;
    x->captives_before = m->ncaptives;
    m->phase = PHASE_FORWARD;
    m->fresh = CLASS_TEMPORARIES;
    struct value **uncast = NEWN(m->a, struct value *, p->ninputs + 1);
    for (int i = 0; i < p->ninputs; i++) { /* the script casts its inputs, then forgets the first */
        struct value *v = x->inputs[i];
        if (v && x->s->precision->model && !x->sharded_low && v->dtype == DT_FLOAT) {
            x->inputs[i] = input_born(x, "_to_copy.default", &p->inputs[i], x->s->precision->model);
            uncast[i] = v;
        }
        x->slot[p->inputs[i].slot] = x->inputs[i];
    }
    for (int i = 0; i < p->ninputs; i++)
        if (uncast[i])
            value_drop(m, uncast[i]);
    const char *missing = m->reducer ? reducer_forward(m->reducer) : NULL;
    if (m->zero3)
        zero3_begin(m->zero3);
    if (missing)
        graph_doubt(p->graph, "model", "DistributedDataParallel", arena_printf(p->arena, "--freeze='%s'", missing),
                    "the parameter %s gets no gradient: without find_unused_parameters=True PyTorch stops there",
                    missing)
            ->sure = SURE_MODEL;
    struct value **handed = NEWN(m->a, struct value *, p->ninputs + 1);
    if (m->shards) {
        int mark = scope_begin(m);
        shards_enter(m->shards, 0);
        for (int i = 0; i < p->ninputs; i++)
            if (x->inputs[i])
                x->slot[p->inputs[i].slot] = handed[i] = value_keep(shards_cast(m->shards, x->inputs[i]));
        scope_end(m, mark, 0, NULL);
    }
    run_calls(x, 0, p->ncalls, p->regions, flops);
    forget_gathered(m);
    while (x->nsplit)
        value_drop(m, x->split[--x->nsplit]);
    if (m->phase == PHASE_FORWARD)
        leave_model(x, p->ncalls);
    for (int i = 0; i < p->noutputs; i++) {
        struct value **from = &x->slot[p->outputs[i].slot], *out = *from;
        bool is_made = x->seen[p->outputs[i].slot] >= 0; /* no parameter, which is the model's, too */
        bool moves = is_made;
        for (int k = 0; k < p->ninputs; k++) {
            is_made &= out != x->inputs[k];
            moves &= p->outputs[i].slot != p->inputs[k].slot;
        }
        if (out && !moves)
            value_keep(out);
        if (x->outs[i] || m->phase != PHASE_LOSS) /* the name is rebound when the call returns */
            unbind(x, &x->outs[i]);
        x->outs[i] = out;
        if (out && is_made)
            out->st->class = CLASS_OUTPUTS;
        if (moves)
            *from = NULL;
    }
    for (int i = 0; i < p->ninputs; i++) {
        x->slot[p->inputs[i].slot] = NULL;
        value_drop(m, handed[i]);
    }
}

/* Of several outputs the sum of their losses. */
static struct value *
sum_losses(struct script *x)
{
    struct machine *m = x->m;
    struct value *sum = NULL;
    for (int i = 0; i < x->p->noutputs; i++)
        if (x->loss_of[i] && x->outs[i] && dtypes[x->outs[i]->dtype].is_float) {
            const struct loss *l = x->loss_of[i];
            struct value *loss =
                l->run ? l->run(m, x->outs[i], x->targets[i]) : OP(m, l->op, VAL(x->outs[i]), VAL(x->targets[i]));
            sum = sum && loss ? OP(m, "add.Tensor", VAL(sum), VAL(loss)) : loss ? loss : sum;
        }
    return sum;
}

static void
run_loss(struct script *x)
{
    struct machine *m = x->m;
    m->phase = PHASE_LOSS;
    int mark = scope_begin(m);
    struct value *loss = sum_losses(x);
    if (loss) {
        value_keep(loss);
        if (loss->st->class == CLASS_TEMPORARIES)
            loss->st->class = CLASS_OUTPUTS;
        loss->st->name = "loss";
    }
    scope_end(m, mark, 0, NULL);
    for (int i = 0; i < x->p->noutputs && x->s->loop->inside; i++)
        value_let_go(m, &x->outs[i]);
    drop_loss(x, x->captives_before);
    x->loss = loss;
}

/* ---- update ------------------------------------------------------------------------------------------------------ */

static struct value *
update_value(struct script *x, const struct trained *t, const char *op)
{
    x->m->op = op;
    x->m->fresh_name = t->param->name;
    const struct value *like = updated_value(x, t);
    struct value *v = value_new(x->m, like->dtype, like->rank, like->size, NULL);
    x->m->fresh_name = NULL;
    return v;
}

/* A name takes v, which the running scope holds, for what it held. */
static void
bind(struct machine *m, struct value **name, struct value *v)
{
    value_keep(v);
    value_drop(m, *name);
    *name = v;
}

static struct value *
norm_along(struct machine *m, struct value *v, int64_t dim)
{
    return OP(m, "linalg_vector_norm.default", VAL(v), INT(2), ints_arg(m, 1, &dim), BOOL(true));
}

/* Of a norm only the number is wanted. Source: _single_tensor_adafactor in torch/optim/_adafactor.py. */
static void
run_adafactor(struct script *x, const struct trained *t, struct value **names)
{
    enum { ROW, COLUMN, SQUARED, UPDATE };
    struct machine *m = x->m;
    int mark = scope_begin(m);
    OP(m, "linalg_vector_norm.default", VAL(updated_value(x, t)), INT(2));
    scope_end(m, mark, 0, NULL);
    mark = scope_begin(m);
    struct value *v;
    if (t->grad->rank > 1) {
        bind(m, &names[ROW], norm_along(m, t->grad, -1));
        bind(m, &names[COLUMN], norm_along(m, t->grad, -2));
        v = OP(m, "matmul.default", VAL(names[ROW]), VAL(names[COLUMN]));
        int inner = scope_begin(m);
        OP(m, "mean.dim", VAL(names[ROW]), ints_arg(m, 1, (int64_t[]){-2}), BOOL(true));
        scope_end(m, inner, 0, NULL);
    } else {
        bind(m, &names[SQUARED], OP(m, "mul.Tensor", VAL(t->grad), VAL(t->grad)));
        v = OP(m, "clone.default", VAL(t->grad));
    }
    v->st->name = t->param->name;
    bind(m, &names[UPDATE], v);
    scope_end(m, mark, 0, NULL);
    mark = scope_begin(m);
    OP(m, "linalg_vector_norm.default", VAL(v), INT(2));
    scope_end(m, mark, 0, NULL);
}

static void
update_list(struct script *x, int group, const char *op)
{
    for (int i = 0; i < x->nupdated; i++) {
        const struct trained *t = &x->params[x->updated[i]];
        if (t->grad && t->param->group == group)
            update_value(x, t, op);
    }
}

/* One turn of the loop over the parameters, with foreach=False. */
static void
run_each(struct script *x, const struct trained *t, struct value **names)
{
    struct machine *m = x->m;
    const struct optimizer *o = x->s->optimizer;
    struct value **grad = &names[0];
    int mark = scope_begin(m);
    if (o->loop == EACH_NEGATES || !o->negates)
        value_let_go(m, grad);
    if (o->negates)
        bind(m, grad, update_value(x, t, "neg.default"));
    scope_end(m, mark, 0, NULL);
    mark = scope_begin(m);
    if (o->adds)
        bind(m, grad, update_value(x, t, "add.Tensor"));
    scope_end(m, mark, 0, NULL);
    if (o->loop == EACH_STATE)
        value_let_go(m, grad);
    for (int k = 0; k < COUNT(o->locals) && o->locals[k].op[0]; k++) {
        struct value *v = NULL;
        mark = scope_begin(m);
        for (int i = 0; i < COUNT(o->locals[k].op) && o->locals[k].op[i]; i++) {
            struct value *last = v;
            v = value_keep(update_value(x, t, o->locals[k].op[i]));
            scope_end(m, mark, 0, NULL);
            value_drop(m, last);
        }
        value_drop(m, names[k + 1]);
        names[k + 1] = v;
    }
}

/* Of all that the rank's optimizer has. */
static void
update_all(struct script *x)
{
    struct machine *m = x->m;
    const struct optimizer *o = x->s->optimizer;
    const bool loops = o->loop && (o->loops || m->torch < FOREACH_SINCE);
    const bool before = m->torch < o->before.until;
    const char *const *lists = before ? o->before.lists : o->lists;
    const enum remade_kind remade = before ? REMADE_KEPT : o->remade_kind;
    struct value *names[LOCALS] = {NULL};
    make_states(x);
    m->grad_mode = false;
    int mark = scope_begin(m);
    for (int group = 0; group <= x->p->ngroups && !loops; group++) {
        if (o->remade)
            update_list(x, group, o->remade);
        if (remade == REMADE_DROPPED) {
            scope_end(m, mark, 0, NULL);
            mark = scope_begin(m);
        }
        for (int k = 0; k < COUNT(o->lists) && lists[k]; k++)
            if (!o->remade || remade != REMADE_REUSED || (k + 1 < COUNT(o->lists) && lists[k + 1]))
                update_list(x, group, lists[k]);
        scope_end(m, mark, 0, NULL); /* lists die from their end */
        mark = scope_begin(m);
    }
    scope_end(m, mark, 0, NULL);
    for (int i = 0; i < x->nupdated; i++) {
        const struct trained *t = &x->params[x->updated[i]];
        if (!t->grad)
            continue;
        mark = scope_begin(m);
        for (int k = 0; k < COUNT(o->each) && o->each[k]; k++)
            update_value(x, t, o->each[k]);
        if (o->run)
            o->run(x, t, names);
        scope_end(m, mark, 0, NULL);
    }
    for (int group = 0; group <= x->p->ngroups && loops; group++) {
        for (int i = 0; i < x->nupdated; i++)
            if (x->params[x->updated[i]].grad && x->params[x->updated[i]].param->group == group)
                run_each(x, &x->params[x->updated[i]], names);
        for (int i = 0; i < LOCALS; i++)
            value_let_go(m, &names[i]);
    }
    for (int i = 0; i < LOCALS; i++)
        value_drop(m, names[i]);
    m->grad_mode = true;
}

/* One group after another. */
static void
update_groups(struct script *x)
{
    struct machine *m = x->m;
    int n = x->nupdated, *all = x->updated;
    zero3_step(m->zero3);
    x->nupdated = 1;
    for (int g = 0; g < n; g++) {
        struct value **grad = &x->params[all[g]].grad;
        x->updated = &all[g];
        *grad = zero3_flatten(m->zero3, g);
        update_all(x);
        value_let_go(m, grad);
    }
    x->updated = all;
    x->nupdated = n;
    zero3_end(m->zero3);
}

static void
run_update(struct script *x)
{
    struct machine *m = x->m;
    m->phase = PHASE_UPDATE;
    if (m->zero)
        x->params[x->nparams].grad = zero_flatten(m->zero);
    (m->zero3 ? update_groups : update_all)(x);
    if (m->zero && x->params[x->nparams].grad)
        value_let_go(m, &x->params[x->nparams].grad);
    for (int i = 0; i < x->nparams && x->s->parallel && x->s->parallel->partitions; i++)
        if (has_update(&x->params[i])) /* by one rank, which sends it to the others */
            ranks_exchange(m, x->params[i].v->st->requested, 1);
}

/* What other optimizers' updates do here, each as if it were the only one. */
static void
try_updates(struct script *x)
{
    struct machine *m = x->m;
    struct step_trace *t = &m->trace;
    const struct setup *own = x->s;
    const struct step_trace before = *t;
    struct value *workspace[COUNT(m->workspace)][COUNT(*m->workspace)];
    memcpy(workspace, m->workspace, sizeof(workspace));
    for (int i = 0; i < x->others->n; i++) {
        struct setup s = *own;
        s.optimizer = x->others->optimizer[i];
        x->s = m->s = &s;
        run_update(x);
        struct step_trace *to = &x->tried[i];
        *to = *t;
        to->nev -= before.nev;
        to->nst -= before.nst;
        to->ev = arena_dup(m->keep, t->ev + before.nev, sizeof(*t->ev) * (size_t)to->nev);
        to->st = arena_dup(m->keep, t->st + before.nst, sizeof(*t->st) * (size_t)to->nst);
        t->nev = before.nev;
        t->nst = before.nst;
        memcpy(m->workspace, workspace, sizeof(workspace));
        for (int k = 0; k < x->nparams; k++)
            memset(x->params[k].state, 0, sizeof(x->params[k].state));
    }
    x->s = m->s = own;
}

/* ---- the loop ---------------------------------------------------------------------------------------------------- */

static void
drop_batch(struct script *x)
{
    for (int i = 0; i < x->p->ninputs; i++)
        value_let_go(x->m, &x->inputs[i]);
    for (int i = 0; i < x->p->noutputs; i++)
        value_let_go(x->m, &x->targets[i]);
}

/* DeepSpeed's engine divides the loss by micro-batches and multiplies it by its scale. Source: backward in
 * deepspeed/runtime/engine.py. */
static void
run_backward(struct script *x)
{
    struct machine *m = x->m;
    int mark = scope_begin(m);
    struct value *root = x->loss;
    if (m->zero || m->zero3) {
        root = OP(m, "div.Tensor", VAL(root), FLT(1));
        root = OP(m, "mul.Tensor", VAL(root), FLT(1));
    }
    backward(m, root);
    if (m->zero)
        zero_finish(m->zero);
    if (m->zero3)
        zero3_finish(m->zero3);
    scope_end(m, mark, 0, NULL);
}

static void
iteration(struct script *x, struct step *st)
{
    struct machine *m = x->m;
    const struct loop *loop = x->s->loop;
    bool training = x->s->mode == MODE_TRAINING;
    int micro = training ? x->s->micro_batches : 1;
    st->recomputed_flops = 0;
    m->cudnn = (struct cudnn_use){0};
    for (int i = 0; notes_kernels(m) && !x->s->kernels->counted && i < x->s->kernels->n; i++)
        x->s->kernels->kernel[i].count = 0;
    for (int k = 0; k < micro; k++) {
        const struct cudnn_use used = m->cudnn;
        const double recomputed = st->recomputed_flops;
        trace_round(m);
        m->more_micro_batches = k + 1 < micro;
        if (k)
            drop_batch(x);
        make_inputs(x);
        if (!loop->zero_late && k == 0)
            zero_grad(x);
        trace_mark(m, TRACE_INPUTS);
        m->autocast = x->s->precision->autocast != DT_UNDEFINED;
        m->low = x->s->precision->autocast;
        run_model(x, st->call_flops);
        if (training)
            run_loss(x);
        exit_autocast(x);
        trace_mark(m, TRACE_FORWARD);
        if (!training)
            continue;
        if (loop->zero_late)
            zero_grad(x);
        m->phase = PHASE_BACKWARD;
        if (x->loss)
            run_backward(x);
        m->op = NULL;
        trace_mark(m, TRACE_BACKWARD);
        for (int i = 0; i < x->p->noutputs && loop->del; i++)
            value_let_go(m, &x->outs[i]);
        m->phase = PHASE_UPDATE;
        int left = micro - 1 - k;
        if (k > 1 && left && !notes_kernels(m) && trace_settles(m, left)) { /* the first makes the gradients */
            st->recomputed_flops += left * (st->recomputed_flops - recomputed);
            m->cudnn.kernels += left * (m->cudnn.kernels - used.kernels);
            m->cudnn.asked += left * (m->cudnn.asked - used.asked);
            m->cudnn.driven += left * (m->cudnn.driven - used.driven);
            m->cudnn.ruled += left * (m->cudnn.ruled - used.ruled);
            m->cudnn.unknown += left * (m->cudnn.unknown - used.unknown);
            k += left;
        }
        if (x->others)
            try_updates(x);
        x->untried[0] = m->trace;
        x->held = m->held_most;
        if (k == micro - 1)
            run_update(x);
        x->untried[1] = m->trace;
        trace_mark(m, TRACE_STEP);
        if (loop->del)
            drop_loss(x, m->ncaptives);
    }
    trace_mark(m, TRACE_LOOP);
}

/* ---- a stage of a pipeline --------------------------------------------------------------------------------------- */

/* A micro-batch of an input: a part of it, as torch.tensor_split has it. */
static struct value *
part_of(struct script *x, struct value *v)
{
    int64_t size[RANK];
    memcpy(size, v->size, sizeof(*size) * (size_t)v->rank);
    if (v->rank)
        size[0] /= x->s->micro_batches;
    return value_view(x->m, v, v->rank, size, v->stride);
}

/* All micro-batches of what the stage reads of the batch. */
static void
make_whole_inputs(struct script *x)
{
    const struct program *p = x->p;
    x->m->phase = PHASE_INPUT;
    for (int i = 0; i < p->ninputs; i++) {
        struct input in = p->inputs[i];
        if (in.rank < 0 || !x->stage->reads[in.slot])
            continue;
        int64_t size[RANK];
        memcpy(size, in.size, sizeof(*size) * (size_t)in.rank);
        if (in.rank && !mul_ok(size[0], x->s->micro_batches, &size[0]))
            size[0] = INT64_MAX;
        in.size = size;
        x->inputs[i] = input_born(x, dtypes[in.dtype].is_float ? "rand.default" : "zeros.default", &in, in.dtype);
    }
    for (int i = 0; i < p->noutputs && x->stage->is_last; i++)
        if (x->loss_of[i] && !x->loss_of[i]->no_target)
            make_target(x, i);
}

/* What is received from the stages beside it has a buffer for each micro-batch, which stays. */
static void
make_buffers(struct script *x)
{
    struct machine *m = x->m;
    const struct stage *g = x->stage;
    struct value **like = step_values(x->p->arena, x->p, x->s);
    int n = x->s->micro_batches;
    x->received = NEWN(m->keep, struct value *, n * g->nin + 1);
    x->returned = NEWN(m->keep, struct value *, n * g->nin + 1);
    x->awaited = NEWN(m->keep, struct value *, n * g->nout + 1);
    x->made = NEWN(m->keep, struct value *, n * g->nout + 1);
    x->sent = NEWN(m->keep, struct value *, g->nin + 1);
    x->scores = NEWN(m->keep, struct value *, n + 1);
    for (int i = 0; i < n * g->nin; i++) {
        const struct value *v = like[g->in[i % g->nin]];
        x->received[i] =
            value_born(m, "empty.memory_format", CLASS_TEMPORARIES, "receive buffer", v->dtype, v->rank, v->size);
        if (dtypes[v->dtype].is_float)
            value_requires_grad(m, x->received[i], &x->returned[i]);
    }
    for (int i = 0; i < n * g->nout; i++) {
        const struct value *v = like[g->out[i % g->nout]];
        x->awaited[i] = value_born(m, "empty.memory_format", CLASS_GRADIENTS, "receive buffer of a gradient", v->dtype,
                                   v->rank, v->size);
    }
}

/* The loss of a micro-batch, against its part of the targets. */
static void
score(struct script *x, int at)
{
    struct value **whole = arena_dup(x->m->a, x->targets, sizeof(*whole) * (size_t)(x->p->noutputs + 1));
    int mark = scope_begin(x->m);
    for (int i = 0; i < x->p->noutputs; i++)
        if (whole[i])
            x->targets[i] = part_of(x, whole[i]);
    run_loss(x);
    memcpy(x->targets, whole, sizeof(*whole) * (size_t)(x->p->noutputs + 1));
    scope_end(x->m, mark, 0, NULL);
    x->scores[at] = x->loss;
    x->loss = NULL;
}

/* To the stage beside it; v NULL nothing. */
static void
pass_on(struct machine *m, const struct value *v)
{
    if (v)
        m->passed = bytes_add(m->passed, dtype_bytes(v->dtype, value_elements(v)));
}

static void
stage_forward(struct script *x, int at)
{
    const struct program *p = x->p;
    struct machine *m = x->m;
    const struct stage *g = x->stage;
    m->phase = PHASE_FORWARD;
    m->fresh = CLASS_TEMPORARIES;
    m->autocast = x->s->precision->autocast != DT_UNDEFINED;
    m->low = x->s->precision->autocast;
    int mark = scope_begin(m);
    for (int i = 0; i < p->ninputs; i++)
        if (x->inputs[i])
            x->slot[p->inputs[i].slot] = value_keep(part_of(x, x->inputs[i]));
    for (int k = 0; k < g->nin; k++)
        x->slot[g->in[k]] = value_keep(x->received[at * g->nin + k]);
    scope_end(m, mark, 0, NULL);
    run_calls(x, 0, p->ncalls, p->regions, at == 0 ? x->st->call_flops : NULL);
    for (int k = 0; k < g->nout; k++) {
        x->made[at * g->nout + k] = x->slot[g->out[k]];
        x->slot[g->out[k]] = NULL;
        pass_on(m, x->made[at * g->nout + k]);
    }
    for (int i = 0; i < p->noutputs && g->is_last; i++) {
        struct value **from = &x->slot[p->outputs[i].slot];
        unbind(x, &x->outs[i]);
        x->outs[i] = *from;
        if (*from)
            (*from)->st->class = CLASS_OUTPUTS;
        *from = NULL;
    }
    for (int i = 0; i < p->nslots; i++)
        if (x->slot[i] && x->seen[i] >= 0)
            value_let_go(m, &x->slot[i]);
    if (g->is_last)
        score(x, at);
    m->autocast = false;
}

static void
stage_backward(struct script *x, int at)
{
    struct machine *m = x->m;
    const struct stage *g = x->stage;
    m->phase = PHASE_BACKWARD;
    if (g->is_last && x->scores[at])
        backward(m, x->scores[at]);
    else if (!g->is_last)
        backward_from(m, g->nout, &x->made[at * g->nout], &x->awaited[at * g->nout]);
    m->op = NULL;
    for (int k = 0; k < g->nout; k++)
        value_let_go(m, &x->made[at * g->nout + k]);
    for (int k = 0; k < g->nin; k++) {
        value_let_go(m, &x->sent[k]);
        x->sent[k] = x->returned[at * g->nin + k];
        pass_on(m, x->sent[k]);
        x->returned[at * g->nin + k] = NULL;
    }
}

/* Source: Schedule1F1B._step_microbatches in torch/distributed/pipelining/schedules.py. */
static void
run_schedule(struct script *x)
{
    int n = x->s->micro_batches, forward = 0;
    while (forward < x->stage->warmup)
        stage_forward(x, forward++);
    trace_mark(x->m, TRACE_FORWARD);
    for (int back = 0; back < n; back++) {
        stage_backward(x, back);
        if (forward < n)
            stage_forward(x, forward++);
    }
    for (int k = 0; k < x->stage->nin; k++)
        value_let_go(x->m, &x->sent[k]);
    for (int i = 0; i < n; i++)
        value_let_go(x->m, &x->scores[i]);
    for (int i = 0; i < x->p->noutputs; i++)
        value_let_go(x->m, &x->outs[i]);
}

static void
stage_iteration(struct script *x)
{
    struct machine *m = x->m;
    make_whole_inputs(x);
    zero_grad(x);
    trace_mark(m, TRACE_INPUTS);
    if (!x->received)
        make_buffers(x);
    run_schedule(x);
    exit_autocast(x); /* it is around schedule.step */
    trace_mark(m, TRACE_BACKWARD);
    m->phase = PHASE_UPDATE;
    run_update(x);
    trace_mark(m, TRACE_STEP);
    trace_mark(m, TRACE_LOOP);
}

/* What outlives the iteration, until the next one binds its names anew: those first that it binds first, since what
 * several of them hold goes with the last. */
static void
adopt_names(struct script *x)
{
    struct machine *m = x->m;
    for (int k = 1; k <= x->p->nattributes; k++)
        x->attributes[k] = x->attributes[k] ? value_adopt(m, x->attributes[k]) : NULL;
    for (int k = 0; k < x->p->noutputs; k++)
        x->outs[k] = x->outs[k] ? value_adopt(m, x->outs[k]) : NULL;
    x->loss = x->loss ? value_adopt(m, x->loss) : NULL;
    for (int k = 0; k < m->ncaptives; k++)
        *m->captives[k] = *m->captives[k] ? value_adopt(m, *m->captives[k]) : NULL;
}

/* The engine's part of an iteration: whether others do the same. */
static bool
run_iteration(struct script *x, bool first)
{
    struct machine *m = x->m;
    struct step *st = x->st;
    struct arena *a = arena_new();
    m->a = a;
    x->first = first && (!x->s->measured || x->s->looked_at);
    m->exchanged = m->passed = 0;
    trace_begin(m);
    if (x->stage)
        stage_iteration(x);
    else
        iteration(x, st);
    adopt_names(x);
    trace_mark(m, TRACE_END);
    drop_batch(x);
    arena_free(a);
    m->a = m->keep;
    m->frames = NULL;
    st->forward_flops = 0;
    for (int i = 0; i < st->program->ncalls; i++)
        st->forward_flops += st->call_flops[i];
    return trace_repeats(m);
}

static void
play_iteration(struct script *x, bool again, bool last)
{
    struct machine *m = x->m;
    struct step *st = x->st;
    if (last) {
        st->before = m->nst;
        st->before_bytes = m->live_bytes;
        m->reserved_bytes = machine_reserved(m);
        machine_mark(m);
    }
    trace_play(m, again, last);
}

/* States are made by the first update, and there from the second iteration on. */
static void
hold_states(const struct script *x)
{
    const struct machine *m = x->m;
    int64_t held = x->held;
    for (int i = m->trace.before; i < m->trace.nst; i++)
        held += m->trace.st[i]->class == CLASS_OPTIMIZER ? m->trace.st[i]->requested : 0;
    if (held > m->most)
        longjmp(*m->enough, 1);
}

static void
run_iterations(struct script *x, struct step *st)
{
    struct machine *m = x->m;
    int n = ITERATIONS + (x->s->repeats ? x->s->repeats - 1 : 0);
    bool repeats = false;
    for (int i = 0; i < n; i++) {
        bool again = repeats;
        if (!again)
            repeats = run_iteration(x, i == 0);
        if (i == 0 && m->most && !x->s->besides)
            hold_states(x);
        play_iteration(x, again, i == n - 1);
    }
    const int64_t *bytes = m->trace.bytes;
    st->after.inputs = bytes[TRACE_INPUTS];
    st->after.forward = bytes[TRACE_FORWARD];
    st->after.backward = m->trace.at[TRACE_BACKWARD] < 0 ? -1 : bytes[TRACE_BACKWARD];
    st->after.step = m->trace.at[TRACE_STEP] < 0 ? -1 : bytes[TRACE_STEP];
}

/* n may be 0, and `from` NULL then. */
static void
copy(void *to, const void *from, size_t size, int n)
{
    if (n > 0)
        memcpy(to, from, size * (size_t)n);
}

/* The trace of an iteration with another update in place of its own; false where what follows knows of that. */
static bool
splice(struct script *x, const struct step_trace *own, const struct step_trace *update)
{
    struct step_trace *t = &x->m->trace;
    const struct step_trace *from = &x->untried[0], *to = &x->untried[1];
    const int before = from->nev, behind = own->nev - to->nev;
    bool alone = own->nst == to->nst && from->nnotes == to->nnotes && update->nnotes == from->nnotes;
    for (int i = 0; i < behind && alone; i++)
        alone = own->ev[to->nev + i].storage < from->nst;
    for (int i = 0; i < update->nst && alone; i++)
        alone = update->st[i]->refs == 0 || update->st[i]->stays;
    if (!alone)
        return false;
    *t = *own;
    t->nst = from->nst + update->nst;
    t->st = NEWN(x->m->keep, struct storage *, t->nst + 1);
    copy(t->st, own->st, sizeof(*t->st), from->nst);
    copy(t->st + from->nst, update->st, sizeof(*t->st), update->nst);
    t->nev = before + update->nev + behind;
    t->ev = NEWN(x->m->keep, struct event, t->nev + 1);
    copy(t->ev, own->ev, sizeof(*t->ev), before);
    copy(t->ev + before, update->ev, sizeof(*t->ev), update->nev);
    copy(t->ev + before + update->nev, own->ev + to->nev, sizeof(*t->ev), behind);
    for (int i = TRACE_STEP; i < TRACE_MARKS; i++)
        t->at[i] += t->at[i] < 0 ? 0 : t->nev - own->nev;
    return true;
}

/* The iteration runs once, and is played from the model on with each of the other optimizers. */
static void
run_others(struct script *x)
{
    struct machine *m = x->m;
    struct step_trace build = m->trace, own;
    build.ev = arena_dup(m->keep, build.ev, sizeof(*build.ev) * (size_t)build.nev);
    build.st = arena_dup(m->keep, build.st, sizeof(*build.st) * (size_t)build.nst);
    x->tried = NEWN(m->keep, struct step_trace, x->others->n + 1);
    bool repeats = run_iteration(x, true);
    own = m->trace;
    for (int i = 0; i < x->others->n && repeats; i++) {
        heap_clear(m->heap);
        m->nst = m->nev = 0;
        m->live_bytes = 0;
        m->trace = build;
        trace_play(m, false, false);
        if (!splice(x, &own, &x->tried[i]))
            continue;
        for (int k = 0; k < ITERATIONS; k++)
            play_iteration(x, k > 0, k == ITERATIONS - 1);
        x->others->each(x->st, i, x->others->to);
    }
    m->trace = own;
}

static void
assume_loss(struct program *p, const struct loss **of)
{
    int more = 0, own = 0;
    if (graph_metadata(p->graph, "memlint.loss"))
        return;
    for (int i = 1; i < p->noutputs; i++)
        more += of[i] != NULL;
    while (own < p->noutputs && of[own] != loss_find("output"))
        own++;
    if (own < p->noutputs && (own == 0 || !of[0]))
        program_assume(p, ALTERNATIVE_LOSS, "the loss is what the model computes as its output %s",
                       p->outputs[own].name);
    else
        program_assume(p, ALTERNATIVE_LOSS, "the loss is cross-entropy of the model's first output%s",
                       more ? arena_printf(p->arena, ", and of %s that parameters reach alone",
                                           more > 1 ? arena_printf(p->arena, "%d others", more) : "another")
                            : "");
}

void
step_holds(struct program *p, const struct setup *s)
{
    const struct program *first = p->graph->first;
    if (p->held)
        return;
    p->held_most =
        HOLD_LOCALS * setup_instead(s, ALTERNATIVE_LOCALS) | HOLD_FUNCTIONS * setup_instead(s, ALTERNATIVE_FUNCTIONS) |
        HOLD_WEIGHTS * setup_instead(s, ALTERNATIVE_WEIGHTS) | HOLD_TRACED * !setup_instead(s, ALTERNATIVE_TRACED) |
        HOLD_LISTS * !setup_instead(s, ALTERNATIVE_LISTS) | HOLD_BEHIND * setup_instead(s, ALTERNATIVE_BEHIND);
    if (first && first->held && first->held_most == p->held_most && python_holds_alike(p, first)) {
        p->held = first->held;
        p->held_by = first->held_by;
    } else {
        p->held = python_holds(p, p->held_most, &p->held_by);
    }
    if (first) /* whose report says what follows */
        return;
    if (python_traced(p))
        program_assume(p, ALTERNATIVE_TRACED,
                       "names of what runs under torch.no_grad hold random numbers until their function returns, and "
                       "what a product reads until that was read, too: the file has no lines of it");
    if (python_behind(p))
        program_assume(p, ALTERNATIVE_BEHIND,
                       "what stands behind checkpoints lives until it is read, and not in names until its function "
                       "returns: the file has no lines of it");
    if (python_lists(p))
        program_assume(p, ALTERNATIVE_LISTS,
                       "lists that have what a loop's lines read under a name that none binds, or what further lines "
                       "of a call give it, live on, and nothing is taken out of them");
    if (python_attends(p))
        program_assume(p, ALTERNATIVE_WEIGHTS,
                       "attention's weights live until they are read, and not in what its function returns");
    if (python_hides(p))
        program_assume(p, ALTERNATIVE_FUNCTIONS,
                       "functions other than forward hold what they make until it is read, as expressions do, and "
                       "not until they return");
}

/* The version whose sources the tables were read from. */
enum { NEWEST = 211 };

int
step_torch(const struct program *p, const struct setup *s)
{
    const int file = graph_torch(p->graph);
    return s->torch ? s->torch : file ? file : NEWEST;
}

struct derivatives *
derivatives_of(const struct program *p)
{
    struct graph *file = p->graph->first ? p->graph->first->graph : p->graph;
    if (!file->derivatives)
        file->derivatives = derivatives_new(file->arena);
    return file->derivatives;
}

enum { EVENTS = 3 /* for a call; a trace of more grows */ };

void
machine_begin(struct machine *m, struct arena *a, const struct program *p, const struct setup *s)
{
    m->a = m->keep = a;
    m->trace.a = arena_new();
    m->trace.cap_ev = EVENTS * p->ncalls;
    m->trace.ev = NEWN(m->trace.a, struct event, m->trace.cap_ev + 1);
    trace_begin(m);
    m->heap = heap_new(a, s->expandable);
    m->s = s;
    m->fresh = CLASS_TEMPORARIES;
    m->real = s->accumulate_eager;
    m->sm = device_sm(s->device);
    m->same.below = m->alike.below = INT_MAX;
    m->tape = s->tape;
    m->torch = step_torch(p, s);
    m->most = s->mode == MODE_TRAINING && !s->parallel && !s->player && !s->tape ? s->most : 0;
    m->enough = s->enough;
    m->measured = s->measured;
    m->unreserved = s->measured && s->unreserved;
    m->held = s->besides;
    m->derivatives = derivatives_of(p);
}

bool
call_on(struct machine *m, const struct call *c, const struct arg *from, int rank, struct value **slot)
{
    struct arg args[MAX_ARGS];
    struct frame like = {.rank = rank, .size = c->size, .want = ~0u};
    if (!c->op || !args_bind(m, slot, from, c->nargs, args) || !aten_takes(c->op, args, c->nargs))
        return false;
    int mark = scope_begin(m);
    const struct frame *f = dispatch(m, c->op, c->nargs, args, &like);
    for (int k = 0; k < c->nouts && k < f->nout; k++)
        slot[c->outs[k]] = f->out[k] ? value_keep(f->out[k]) : NULL;
    scope_end(m, mark, 0, NULL);
    return true;
}

struct value **
step_values(struct arena *a, const struct program *p, const struct setup *s)
{
    struct machine *m = NEW(a, struct machine);
    struct value **slot = NEWN(a, struct value *, p->nslots + 1);
    machine_begin(m, a, p, s);
    m->autocast = s->precision->autocast != DT_UNDEFINED;
    m->low = s->precision->autocast;
    for (int i = 0; i < p->nparams; i++)
        if (p->params[i].rank >= 0)
            slot[p->params[i].slot] = value_keep(value_new(m, precision_type(s->precision, p->params[i].dtype),
                                                           p->params[i].rank, p->params[i].size, NULL));
    for (int i = 0; i < p->ninputs; i++)
        if (p->inputs[i].rank >= 0)
            slot[p->inputs[i].slot] = value_keep(value_new(m, precision_type(s->precision, p->inputs[i].dtype),
                                                           p->inputs[i].rank, p->inputs[i].size, NULL));
    for (int i = 0; i < p->ncalls; i++)
        call_on(m, &p->calls[i], p->calls[i].args, p->calls[i].rank, slot);
    arena_free(m->trace.a);
    return slot;
}

static struct step *
run(struct program *p, const struct setup *s, const struct updates *others)
{
    struct step *st = NEW(p->arena, struct step);
    struct machine *m = NEW(p->arena, struct machine);
    struct script x = {.own = arena_new(), .m = m, .p = p, .s = s, .st = st, .others = others};
    st->arena = p->arena;
    st->program = p;
    st->setup = s;
    st->m = m;
    st->call_flops = NEWN(p->arena, double, p->ncalls + 1);
    st->region_flops = NEWN(p->arena, double, p->nregions + 1);
    machine_begin(m, p->arena, p, s);
    m->grad_mode = s->mode == MODE_TRAINING;
    heap_play(m->heap, s->player);
    x.slot = NEWN(x.own, struct value *, p->nslots + 1);
    x.kept = NEWN(x.own, struct value *, p->nslots + 1);
    x.attributes = NEWN(x.own, struct value *, p->nattributes + 1);
    x.seen = NEWN(x.own, int, p->nslots + 1);
    x.around = -1;
    for (int i = 0; i < p->nparams; i++)
        x.seen[p->params[i].slot] = -1;
    m->rerun = rerun;
    m->rerun_to = &x;
    x.inputs = NEWN(x.own, struct value *, p->ninputs + 1);
    x.outs = NEWN(x.own, struct value *, p->noutputs + 1);
    x.targets = NEWN(x.own, struct value *, p->noutputs + 1);
    x.loss_of = loss_of(x.own, p, s);
    step_holds(p, s);
    bool either = false;
    for (int i = 0; i < p->ncalls; i++)
        either |= p->calls[i].either_type;
    if (either && s->precision->autocast != DT_UNDEFINED)
        program_assume(p, ALTERNATIVE_TYPES,
                       "casts to fp32, and what is made so, of which no line tells whether they have another tensor's "
                       "type are in fp32");
    const struct param *brought = NULL;
    for (int i = 0; i < p->nparams && !brought; i++)
        brought = brought_along(p, &p->params[i]) ? &p->params[i] : NULL;
    if (brought && s->precision->autocast != DT_UNDEFINED)
        program_assume(p, ALTERNATIVE_TYPES, "%s, an attribute that is no buffer, is in fp32 on the device",
                       brought->name);
    find_last_uses(&x);
    find_tables(&x);
    x.sharded = s->mode == MODE_TRAINING && s->parallel && s->parallel->shards;
    x.sharded_low = x.sharded && s->parallel->low != DT_UNDEFINED;
    if (s->mode == MODE_TRAINING && s->parallel && s->parallel->pipeline)
        x.p = stage_of(p->arena, p, s, &x.stage);
    build_model(&x);
    spread(&x);
    if (s->optimizer->caveat && s->mode == MODE_TRAINING)
        program_assume(p, ALTERNATIVE_NONE, "%s", s->optimizer->caveat);
    if (s->mode == MODE_TRAINING && s->loss == loss_find("auto") && !s->nterms)
        assume_loss(p, x.loss_of);
    if (s->mode == MODE_TRAINING && s->loop == loop_find("plain") && !x.stage)
        program_assume(p, ALTERNATIVE_LOOP,
                       "the loop zeroes gradients first, and keeps its names for output and loss until the next step");
    if (s->optimizer->at_construction && s->mode == MODE_TRAINING)
        make_states(&x);
    trace_mark(m, TRACE_END);
    trace_play(m, false, false);
    st->after.model = m->live_bytes;
    if (others)
        run_others(&x);
    else
        run_iterations(&x, st);
    if (m->tape)
        m->tape->alike = m->alike;
    arena_free(m->trace.a);
    arena_free(x.own);
    m->trace.a = NULL;
    if (m->oversized)
        graph_doubt(p->graph, "model", "tensor", NULL, "a tensor of 4 TiB or more is counted as 4 TiB")->sure =
            SURE_MODEL;
    if (m->many_parts)
        graph_doubt(p->graph, "model", "aten.split", limit_remedy(m->keep, LIMIT_PARTS),
                    "a tensor is split into more than %lld parts: so many are counted", (long long)limit(LIMIT_PARTS))
            ->sure = SURE_MODEL;
    if (m->missing)
        graph_doubt(p->graph, "model", m->missing, NULL,
                    "arguments of another kind or rank than the operator takes: not counted")
            ->sure = SURE_MODEL;
    return st;
}

struct step *
step_run(struct program *p, const struct setup *s)
{
    return run(p, s, NULL);
}

void
step_updates(struct program *p, const struct setup *s, const struct updates *others)
{
    bool can = s->mode == MODE_TRAINING && !s->parallel && s->micro_batches == 1 && !s->kernels && !s->player &&
               !s->tape && !s->optimizer->at_construction;
    for (int i = 0; i < others->n; i++)
        can &= !others->optimizer[i]->at_construction;
    if (can)
        run(p, s, others);
}

/* ---- --dump=step ------------------------------------------------------------------------------------------------- */

/* PyTorch's traces call the loss a part of the forward. */
static const char *
trace_phase(enum phase p)
{
    return p == PHASE_LOSS ? "forward" : phase_names[p];
}

void
step_dump(const struct step *st, FILE *f)
{
    const struct machine *m = st->m;
    int64_t live = st->before_bytes;
    fputs("\tbytes\tlive\tphase\toperator\tshape\tdtype\n", f);
    for (int i = 0; i < m->nev; i++) {
        const struct event *e = &m->ev[i];
        const struct storage *s = m->st[e->storage];
        live += e->birth ? s->bytes : -s->bytes;
        fprintf(f, "%c\t%lld\t%lld\t%s\t", e->birth ? '+' : '-', (long long)s->bytes, (long long)live,
                trace_phase(e->phase));
        if (e->birth)
            fprintf(f, "%s%s\t[", aten_space(s->op), s->op);
        else
            fprintf(f, "born in %s by %s%s\t[", trace_phase(s->phase), aten_space(s->op), s->op);
        for (int k = 0; k < s->rank; k++)
            fprintf(f, "%s%lld", k ? ", " : "", (long long)s->size[k]);
        fprintf(f, "]\t%s\n", dtypes[s->dtype].torch);
    }
}
