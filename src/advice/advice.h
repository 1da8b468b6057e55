/* SPDX-License-Identifier: Apache-2.0 */
/* advice.h - what could be changed: edits of the step that are run again. */
#ifndef ADVICE_H
#define ADVICE_H

#include "result/passes.h"

/* ---- rules.c: advice, measured ----------------------------------------------------------------------------------- */

struct study {
    struct arena *a;
    const struct onnx_file *file;
    const struct setup *s;
    struct program *p;
    struct step *st;
    const struct tape *tape; /* what st asked of the allocator; NULL not kept */
    struct search *search;   /* of fits.c: steps at other sizes, NULL none yet */
    struct program **still;  /* reload's: without dropout, in any mode, NULL none yet */
    /* The program again under another set-up; NULL when the model can't be read so. */
    struct program *(*reload)(const struct study *x, struct arena *a, struct setup *s);
    void (*tell)(const char *what, int done, int of); /* of long work; NULL: nobody listens */
};
/* Larger steps are run once: no edits, no assumptions, no other batches. */
enum { MOST_VALUES = 100000, MOST_EVENTS = 250000 };
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
void rules_run(struct study *x, struct result *r);
void rules_list(FILE *out);

/* Fills r->fits: what each device needs, and by running the step at other batches the largest that fits: exactly, or
 * -1 where there is no batch to vary. all: of every device, otherwise of that of --device or of those next to the
 * step's size. */
void fits_run(struct study *x, struct result *r, bool all);
/* The largest size of set-up dimension dim with which the step fits the device of --device, -1 without one. */
int64_t fits_largest(const struct study *x, const struct result *r, int dim);
/* The largest batch whose step reserves no more than that; -1 not known. */
int64_t fits_batch(const struct study *x, const struct result *r, int64_t reserved);
/* Runs the step with set-up dimension dim at n sizes, ascending, up to the first that reserves more than most bytes,
 * on devices of that kind. reserved: bytes; -1 not run, or the model can't be read so; what is there already is not
 * run again. */
void fits_sizes(struct study *x, int kind, int dim, int n, const int64_t *size, int64_t most, int64_t *reserved);
/* The study's program under a set-up that may have another batch, beside what a program does not depend on: as lines
 * between sizes tell it, or read again; NULL when the model can't be read so. */
const struct program *fits_program(struct study *x, const struct result *r, struct arena *a, struct setup *other);
/* Forgets what was run for these. */
void fits_free(struct study *x);
/* Whether `reserved` bytes fit the device of --device; false without one. */
bool fits_device(const struct result *r, int64_t reserved);

/* ---- grid.c: the step at other sizes ----------------------------------------------------------------------------- */

/* Fills r->grid by running the step at other sizes of the batch and of one more dimension. */
void grid_run(struct study *x, struct result *r);

/* ---- scale.c: several GPUs --------------------------------------------------------------------------------------- */

/* Fills r->scale; false and *why where --units names no module. Nothing is filled where the number is in doubt. */
bool scale_run(const struct study *x, struct result *r, const char **why);

/* ---- wrap.c: Python for several GPUs ----------------------------------------------------------------------------- */

/* Fills r->ranks of a training step on several GPUs. */
void ranks_run(const struct study *x, struct result *r);
/* What wraps a model as s->parallel says, NULL one GPU, after the process group is there; checkpoint: every unit, too.
 * "" nothing; NULL where a module's name could be more than a name. */
const char *ranks_python(struct arena *a, const struct program *p, const struct setup *s, bool checkpoint);

/* ---- oom.c: PyTorch's out-of-memory message ---------------------------------------------------------------------- */

/* Reads the message and looks for the tensors of this step that could have asked; r has its findings already. A step
 * that reserves more than the message left room for does not fit. */
struct oom *oom_explain(const struct study *x, struct result *r, const char *text);

/* ---- recompute.c: what to recompute ------------------------------------------------------------------------------ */

/* Fills p->units with the modules that globs name, or with NULL those of lists; the outermost where they are nested. */
bool unit_modules(struct arena *a, struct program *p, const char *globs, const char **why);
/* Puts the modules whose paths match one of the globs, with commas between, under checkpoint; false and *why when none
 * can be. */
bool recompute_modules(struct arena *a, struct program *p, const char *globs, const char **why);
/* A doubt for each region that PyTorch refuses to run. */
void recompute_check(const struct step *st);
/* Puts the modules under checkpoint in p that a pattern tells, with nearly the lowest peak of any, at the least work;
 * where no pattern saves much, those that give the lowest peak within a thousandth; false when none can be. *after: the
 * step with them; *names: in a sentence. */
bool recompute_level(const struct study *x, struct result *r, struct program *p, struct measured *after,
                     const char **names, const char **python);
/* How to reverse a chain of equal steps, [values * (steps + 1) + n]: forward evaluations, the gradients' not among
 * them, and how many steps the first region holds. */
#define NO_CHAIN INT64_C(1000000000000) /* too few values */
struct chain {
    int steps;
    int64_t *cost;
    int *first;
};
struct chain recompute_chain(struct arena *a, int steps, int values);
/* Python in a loop over modules: puts the one called module under checkpoint. */
extern const char checkpoint_module[];
void policy_list(FILE *out); /* --list=policies */
/* Fills r->recompute; budget: bytes that the peak must not pass, 0 none. */
void recompute_plan(const struct study *x, struct result *r, int64_t budget);

/* assume.c: a doubt for each assumption of the program of which neither side is usual, where its alternative moves the
 * peak. */
void assume_doubt(const struct study *x);
/* Runs the alternative of every assumption of r that has one. */
void assume_measure(const struct study *x, struct result *r);

#endif
