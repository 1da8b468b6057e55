/* SPDX-License-Identifier: Apache-2.0 */
/* result.h - what came out: the only thing reports see. */
#ifndef RESULT_H
#define RESULT_H

#include "base/base.h"

/* ---- the result: the only thing reports see ---------------------------------------------------------------------- */

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
    const char *needed_by; /* "saved for the backward of aten.gelu.default", "part of the model": why it lives */
    const char *node;      /* ONNX node, or NULL */
    const char *location;  /* "file.py:123", else the scope; of a parameter where its module runs first; NULL none */
    const char *layer;     /* path of the module it belongs to; NULL outside of the model */
    int born_at, dies_at;  /* as of a span: index of its first instant, and behind its last */
    int segment;           /* in which its block lies, and where in it; -1 unknown */
    int64_t offset;
};

/* One segment that the allocator holds of the device at the peak, with blocks cut from it. */
struct segment {
    int stream;          /* 0 that of the model, 1 and 2 those of collectives */
    bool large;          /* for requests of more than 1 MiB */
    int64_t address;     /* segments of a stream in the order in which they were taken */
    int64_t bytes, used; /* used: by blocks */
    int64_t largest_free;
    int ntensors;
};

struct held {                /* tensors alive at the peak that are one thing to whoever wrote the program */
    const char *what, *most; /* "copies of the logits"; in which modules most of them are, NULL unknown */
    int count;
    bool counted;        /* count says something */
    int64_t bytes, each; /* each: of one, -1 they differ */
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

struct span {                 /* one storage of the step: alive at the instants from born up to, not with, died */
    const char *name, *layer; /* layer: path of the module it belongs to; NULL outside of the model */
    enum class class;
    int64_t bytes;
    int born, died;
};

/* What a change asks of its author, the least first. */
enum cost { COST_FREE, COST_NUMERICS, COST_TIME, COST_MODEL, COST_GPUS, COST_COUNT };
extern const char *const cost_names[COST_COUNT]; /* "free" "changes numerics" "costs time" "changes the model"
                                                   "takes more GPUs" */

struct finding {
    const char *rule, *severity, *certainty, *message, *location, *how;
    int nnodes;
    const char **nodes;
    int64_t saves_bytes, peak_after, reserved_after; /* of the changed step; -1 none was run */
    double extra_flops_percent;
    const char *suppressed;    /* why it doesn't count, else NULL */
    bool known;                /* the baseline has it, too */
    const struct curve *after; /* the changed step; NULL: none was run */
    const char *help;          /* what its rule is about, in a few words; NULL unknown */
    const char *does;          /* the change, as one tells somebody to make it; NULL it is none */
    const char *unless;        /* when not to make it; NULL nothing is said */
    enum cost cost;
    int nmembers; /* of "together": the rules that it applies */
    const char **members;
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

/* The difference to an older result. The peak_bytes of all layers add up to the peaks, so those of the changed ones to
 * the increase. */
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
    const char **differs;          /* set-ups: "optimizer sgd, now adamw"; none: comparable */
    int ndoubts;                   /* of the old result */
    int64_t peak_least, peak_most; /* of its range; peak_most: 0 or less not known */
    bool alike;                    /* the doubts of both are the same, and each was measured both ways */
    const char *most; /* path of the module below which most of the increase lies, of its sign; NULL none */
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
    const char *pattern;        /* what tells its modules, in the words of --recompute; NULL none */
    int nmodules;
    const char **modules;       /* qualified names */
    double above_front_percent; /* of a pattern: its peak beside the lowest for no more work */
    const char *python;         /* puts a pattern's modules under checkpoint; NULL none */
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

/* --parallel=auto: ways to run the step on several GPUs, and what each of these needs. */
struct rank_need {
    int64_t allocated, reserved; /* peaks, bytes; -1: no such cell */
    enum class holder;           /* which class is largest at the peak, and its bytes */
    int64_t holder_bytes;
    int64_t exchanged, passed; /* bytes a step that go around all GPUs, and from this one to another */
    const char *stops;         /* why PyTorch doesn't run it; NULL it does */
};
/* What one of n GPUs sends in a step, of bytes that go around all with those that it passes on. Source: nccl-tests,
 * doc/PERFORMANCE.md. */
static inline int64_t
rank_sends(int64_t exchanged, int64_t passed, int n)
{
    return bytes_add(exchanged - exchanged / n, passed);
}
struct way {
    int rung;             /* its place among all ways */
    const char *name;     /* "fsdp, checkpoints" */
    const char *strategy; /* as --parallel takes it; NULL one GPU */
    const char *python;   /* that makes the model so; "" nothing, NULL a name could be a program */
    struct rank_need *on; /* per column */
};
struct scale {
    int ncolumns, own; /* own: the column of --gpus */
    const int *gpus;   /* ascending; the first is 1 */
    int nways;
    struct way *ways;    /* from the cheapest to the dearest */
    const int *cheapest; /* [fit * ncolumns + column]: the first way that fits; -1 none */
    int chosen;          /* for the set-up's device and --gpus; -1 none */
};

/* --parallel with one of its ways, which the numbers are of. */
struct ranks {
    const char *kind;
    int gpus, nunits;
    const char **units;
    int64_t exchanged, passed; /* as struct rank_need's */
    const char *python;        /* as struct way's */
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
    int64_t largest_batch; /* that fits the room; -1 unknown, or all that was asked for does */
};

/* One thing that was chosen: as an option takes it. */
struct choice {
    const char *name, *value; /* value NULL: it means nothing here, or none is chosen */
    const char *option;       /* that chooses it */
    bool standard;            /* the default */
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
        int64_t allocated, reserved, device, device_least; /* device: with the largest context, with the least */
        int64_t certain;     /* allocated bytes at least, whatever the doubts turn out to be; without any the peak */
        int64_t most;        /* at most, where each doubt was measured both ways, or there is none; else 0 or less */
        int64_t device_most; /* likewise, of a device; 0 without --device, too */
        enum phase phase;
        const char *op, *node, *location;
        const char *layer; /* path of the module whose operator runs; NULL none of a module below the model */
        bool in_loss;      /* the loss runs, or its backward pass */
        int instant;       /* index into instants */
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
    int nsegments;
    struct segment *segments; /* all that are reserved at the peak; none where blocks are not those of a GPU */
    int nheld;
    struct held *held; /* all of live, largest first */
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
    const struct grid *grid;   /* NULL: there is no dimension to vary */
    const struct scale *scale; /* --parallel=auto, else NULL */
    const struct ranks *ranks; /* another --parallel, else NULL */
    int nfindings;
    struct finding *findings;
    struct {
        int nfront;
        struct plan *front; /* from no checkpoints to the lowest peak; none when not asked for */
        int npatterns;
        struct plan *patterns;      /* near the front and told by a pattern, likewise, from no checkpoints on */
        int chosen, chosen_pattern; /* the cheapest within the budget; without one, the knee; -1 none */
        int nselective, noperators;
        struct plan *selective;       /* the front with selective policies, "blocks.0+linear" */
        struct plan *operators;       /* and with runs of calls that are no module's, "linear to add_3" */
        int64_t lower_bound;          /* of any plan's peak: what no call of the model makes; -1 unknown */
        const char *python;           /* the chosen plan, else the one with the lowest peak */
        int nregions;                 /* modules that the program itself has under checkpoint */
        double extra_flops_percent;   /* and what running them again adds to the step's work */
        const char *selective_python; /* the cheapest selective plan within the budget, or of all; NULL none */
    } recompute;
    const struct replay *replay; /* NULL: not asked for */
    int ndoubts;
    const struct doubt *doubts;
    const struct oom *oom; /* --explain-oom, else NULL */
    const char *gate;      /* gate.c: why the gates stop it, else NULL */
    int nchecks;
    struct check *checks;
    const char *version; /* memlint's */
    int noptions;
    const char **options;      /* of the flag file and the command line, what concerns the analysis */
    struct baseline *baseline; /* NULL without --baseline */
    int nsources;
    const char **sources; /* paths of Python files below --sources */
    const char *refused;  /* why the model can't be analysed: nothing else is filled but its file */
};

/* ---- words ------------------------------------------------------------------------------------------------------- */

/* What is said of the device that was asked for; NULL where none was. */
const struct fit *fits_own(const struct result *r);

/* "fits", "tight" (more than 90 %), "does not fit". */
const char *fits_verdict(int64_t need, int64_t capacity);

/* Rank of a finding's severity: 0 "note", 1 "warning", 2 "error"; -1 for anything else. */
int severity_rank(const char *name);

/* Bytes beyond the tensor's own, rounded up to 512: the rest of a block that the allocator did not split. 0
 * none, or the storage is not one tensor's. Source: should_split of c10/cuda/CUDACachingAllocator.cpp. */
int64_t tensor_slack(const struct live_tensor *t);

/* Allocated bytes at an instant. */
int64_t instant_bytes(const struct instant *at);

#endif
