/* SPDX-License-Identifier: Apache-2.0 */
/* tensor.c - tensor parallelism: the program that one of several ranks runs.
 *
 * Inside of a unit (a Transformer block) a linear layer whose input every rank has whole is cut by columns, and one
 * whose input is cut in its last dimension by rows: Megatron-LM's plan, as ColwiseParallel and RowwiseParallel of
 * parallelize_module run it. Between the two every rank has a part of the heads and of the hidden units. A run of the
 * forward pass on a rank's sizes tells in which dimension each tensor is cut: the one that is by the number of ranks
 * smaller than in the file. Where an operator's result is not of such a size, or mixes what is cut, its columns stay
 * whole, and the run begins anew. What remains is written into the program: sizes of parameters and of views, and other
 * rows for the linear layers, which have the collectives.
 *
 * A view that takes heads apart gets as many less: the module is believed to be written so, or to have been told its
 * part of the heads. Tensors between modules are plain ones, as with use_local_output=True.
 *
 * Source: torch/distributed/tensor/parallel/style.py; Shoeybi et al., Megatron-LM, arXiv:1909.08053, section 3.
 */
#include "base/setup.h"
#include "torch/run.h"

enum role { WHOLE, COLUMNS, ROWS };
enum { NOT_CUT = -1, NO_PART = -2 };
enum { SEQUENCE = -1 /* of from */, ALONG = 1 /* dimension of a sequence */ };

struct cutter {
    struct arena *a;
    struct program *p;
    const struct setup *s;
    struct machine *m;
    const struct param **param;  /* per slot */
    int *reads;                  /* per slot: how many calls read it */
    struct value **slot, **full; /* as a rank has it, and the file; the same where nothing is cut */
    int *dim;                    /* per slot: in which dimension it is cut, or NOT_CUT */
    int *from;                   /* per slot: a call by columns that it comes from */
    int *joined;                 /* per call: calls by columns that meet are one: another of them, or itself */
    const char **layer;          /* per call: of linear layers the module's name, with * for numbers */
    struct names *whole;         /* those that stay whole */
    enum role *role;             /* per call */
    struct arg **args;           /* per call: with a rank's sizes; NULL as they are */
    int64_t **size;              /* per call: of the first result, likewise */
    const bool *learned;         /* per slot */
    const int *made_by;          /* per slot: the call, -1 none */
    int *parts, *wholes;         /* as struct program has them */
    const char *uneven;          /* what the ranks can't share; NULL nothing */
    const char *why;             /* it can't be done at all */
};

static int
joined(const struct cutter *x, int call)
{
    while (x->joined[call] != call)
        call = x->joined[call];
    return call;
}

/* ---- sizes ------------------------------------------------------------------------------------------------------- */

/* Which dimension of a view, its size being that of the file, has what v has cut in dim: of those that lie there the
 * outermost that can be divided, but not the innermost of several, which is a head's own; NOT_CUT none. */
static int
dim_of_view(const struct cutter *x, const struct value *v, int dim, int rank, const int64_t *size)
{
    int64_t low = sizes_product(v->rank - 1 - dim, v->size + dim + 1), high = low * v->size[dim] * x->s->gpus;
    int64_t inner = sizes_product(rank, size);
    int at = NOT_CUT, last = NOT_CUT, n = 0;
    for (int i = 0; i < rank; i++) {
        int64_t outer = inner;
        inner = size[i] ? inner / size[i] : 0;
        if (inner >= high || outer <= low || size[i] < 2)
            continue;
        last = i;
        n++;
        at = at < 0 && size[i] % x->s->gpus == 0 ? i : at;
    }
    return n > 1 && at == last ? NOT_CUT : at;
}

static const char *
sizes_text(struct arena *a, int n, const int64_t *size)
{
    const char *text = "";
    for (int i = 0; i < n; i++)
        text = arena_printf(a, "%s%s%lld", text, i ? ", " : "", (long long)size[i]);
    return text;
}

/* Of a list of sizes that a view of v is given the one that a rank has less of; false where there is none. */
static bool
divide_sizes(struct cutter *x, const struct call *c, struct arg *list, const struct value *v, int dim)
{
    const struct value *w = x->full[c->outs[0]];
    if (!w || list->kind != ARG_LIST || list->n != w->rank)
        return false;
    int at = w->rank - v->rank + dim; /* of an expanded one */
    if (value_elements(w) == value_elements(v) * x->s->gpus)
        at = dim_of_view(x, v, dim, w->rank, w->size);
    if (at < 0)
        x->why = arena_printf(x->a, "%d GPUs can't share the heads of [%s] that %s makes of its columns", x->s->gpus,
                              sizes_text(x->a, w->rank, w->size), x->p->modules[c->scope].path);
    if (at < 0 || w->size[at] % x->s->gpus)
        return false;
    for (int i = 0; i < list->n; i++)
        list->list[i] = INT(w->size[i] / (i == at ? x->s->gpus : 1));
    return true;
}

static void
divide_numbers(const struct cutter *x, struct arg *a)
{
    for (int i = 0; i < (a->kind == ARG_LIST ? a->n : 1); i++) {
        struct arg *one = a->kind == ARG_LIST ? &a->list[i] : a;
        if (one->kind == ARG_INT)
            one->i /= x->s->gpus;
    }
}

/* Arguments that have sizes, by their names. */
static const struct {
    const char *name;
    bool parts; /* of the dimension that the argument called dim tells */
} sized[] = {{"size", false}, {"shape", false}, {"split_size", true}, {"split_sizes", true}};

/* Whether the call works along the dimension of v that is cut. */
static bool
runs_along(const struct call *c, const struct value *v, int dim)
{
    int at = aten_arg(c->op, "dim");
    return at >= 0 && at < c->nargs && c->args[at].kind == ARG_INT && layout_dim(c->args[at].i, v->rank) == dim;
}

/* The arguments of a call that reads v with a rank's sizes; NULL where they can't be told. */
static struct arg *
divided(struct cutter *x, const struct call *c, const struct value *v, int dim)
{
    struct arg *args = args_copy(x->a, c->nargs, c->args);
    for (int i = 0; i < COUNT(sized); i++) {
        int at = aten_arg(c->op, sized[i].name);
        if (at < 0 || at >= c->nargs || args[at].kind == ARG_NONE)
            continue;
        if (!sized[i].parts && !divide_sizes(x, c, &args[at], v, dim))
            return NULL;
        if (sized[i].parts && runs_along(c, v, dim))
            divide_numbers(x, &args[at]);
    }
    return args;
}

/* In which dimension v is cut, w being the file's. */
static int
cut_of(const struct cutter *x, const struct value *v, const struct value *w)
{
    int at = NOT_CUT;
    if (v->rank != w->rank)
        return NO_PART;
    for (int i = 0; i < v->rank; i++) {
        if (v->size[i] == w->size[i])
            continue;
        if (at >= 0 || v->size[i] * x->s->gpus != w->size[i])
            return NO_PART;
        at = i;
    }
    return at;
}

/* ---- the run ----------------------------------------------------------------------------------------------------- */

/* Whether the ranks can share a parameter in that dimension; then its value becomes a rank's. */
static bool
cut_param(struct cutter *x, const struct arg *a, int dim)
{
    int slot = a->kind == ARG_SLOT ? (int)a->i : -1;
    const struct param *q = slot >= 0 ? x->param[slot] : NULL;
    struct value *v = q ? x->slot[slot] : NULL;
    if (!v || x->reads[slot] != 1 || v->rank <= dim || q->size[dim] % x->s->gpus)
        return false;
    int64_t size[RANK];
    memcpy(size, q->size, sizeof(*size) * (size_t)q->rank);
    size[dim] /= x->s->gpus;
    x->slot[slot] = value_keep(value_new(x->m, v->dtype, v->rank, size, NULL));
    return true;
}

static enum role
role_of(struct cutter *x, int at, bool inside)
{
    const struct call *c = &x->p->calls[at];
    int input = x->layer[at] && c->args[0].kind == ARG_SLOT ? (int)c->args[0].i : -1;
    if (input < 0 || !x->slot[input] || !inside)
        return WHOLE;
    if (x->dim[input] >= 0 && x->from[input] != SEQUENCE)
        return x->dim[input] == x->slot[input]->rank - 1 && cut_param(x, &c->args[1], 1) ? ROWS : WHOLE;
    if (names_find(x->whole, x->layer[at]) >= 0)
        return WHOLE;
    if (!cut_param(x, &c->args[1], 0)) {
        const struct value *w = c->args[1].kind == ARG_SLOT && c->args[1].i >= 0 ? x->slot[c->args[1].i] : NULL;
        if (!x->uneven && w && w->rank && w->size[0] % x->s->gpus)
            x->uneven = arena_printf(x->a, "%d GPUs can't share the columns of %s", x->s->gpus, x->layer[at]);
        return WHOLE;
    }
    if (c->nargs > 2)
        cut_param(x, &c->args[2], 0);
    return COLUMNS;
}

/* Of what a call reads, something that is cut; what else is comes from then on from the same columns. -1 nothing is. */
static int
cut_input(struct cutter *x, const struct call *c)
{
    int first = -1, slot;
    for (struct call_reads r = {c}; (slot = next_read(&r)) >= 0;) {
        if (x->dim[slot] < 0)
            continue;
        first = first < 0 || x->from[first] == SEQUENCE ? slot : first;
        if (x->from[slot] != SEQUENCE)
            x->joined[joined(x, x->from[slot])] = joined(x, x->from[first]);
    }
    return first;
}

/* What a call made of something that is cut: whether it is, too. */
static bool
note_results(struct cutter *x, int at, int from)
{
    const struct call *c = &x->p->calls[at];
    bool fits = true, any = x->role[at] == ROWS;
    for (int k = 0; k < c->nouts; k++) {
        const struct value *v = x->slot[c->outs[k]], *w = x->full[c->outs[k]];
        int dim = v && w ? cut_of(x, v, w) : NOT_CUT;
        fits &= dim != NO_PART;
        any |= dim >= 0;
        x->dim[c->outs[k]] = dim < 0 ? NOT_CUT : dim;
        x->from[c->outs[k]] = from;
        if (v && k == 0 && v->rank == c->rank)
            x->size[at] = arena_dup(x->a, v->size, sizeof(*v->size) * (size_t)v->rank);
    }
    return fits && any;
}

/* Whether what is whole of a call's tensors has something else than a number where v is cut. Rows and columns of
 * matrices are no such places. */
static bool
meets_whole(const struct cutter *x, int call, const struct value *v, int dim)
{
    const struct call *c = &x->p->calls[call];
    if ((x->layer[call] || target_is(c->target, TARGET_MULTIPLIES)) && dim >= v->rank - 2)
        return false;
    int slot;
    for (struct call_reads r = {c}; (slot = next_read(&r)) >= 0;) {
        const struct value *w = x->slot[slot];
        int at = w ? w->rank - v->rank + dim : NOT_CUT;
        if (x->dim[slot] < 0 && at >= 0 && w->size[at] > 1)
            return true;
    }
    return false;
}

/* A slot becomes a rank's part of the sequence; false where it is none that the ranks can share. */
static bool
to_part(struct cutter *x, int slot)
{
    const struct value *v = x->slot[slot];
    if (!v || v->rank < 3 || v->size[ALONG] % x->s->gpus) {
        x->why = arena_printf(x->a, "%d GPUs can't share %s along dimension 1", x->s->gpus,
                              v ? arena_printf(x->a, "[%s]", sizes_text(x->a, v->rank, v->size)) : "what is unknown");
        return false;
    }
    int64_t size[RANK];
    memcpy(size, v->size, sizeof(*size) * (size_t)v->rank);
    size[ALONG] /= x->s->gpus;
    x->slot[slot] = value_keep(value_new(x->m, v->dtype, v->rank, size, NULL));
    x->dim[slot] = ALONG;
    x->from[slot] = SEQUENCE;
    return true;
}

/* The first unit begins: what it reads that parameters went into goes along the sequence. */
static void
enter_units(struct cutter *x)
{
    const struct region *u = x->p->units;
    int n = 0, slot;
    for (int i = u->first; i < u->end; i++)
        for (struct call_reads r = {&x->p->calls[i]}; (slot = next_read(&r)) >= 0;)
            if (x->learned[slot] && !x->param[slot] && x->slot[slot] && x->made_by[slot] < u->first &&
                x->dim[slot] < 0 && to_part(x, slot))
                x->parts[n++] = slot;
    x->parts[n] = -1;
}

static int
to_whole(struct cutter *x, int slot, int n)
{
    if (x->dim[slot] < 0 || x->from[slot] != SEQUENCE)
        return n;
    x->slot[slot] = x->full[slot];
    x->dim[slot] = NOT_CUT;
    x->wholes[n] = slot;
    return n + 1;
}

/* The last unit has ended. */
static void
leave_units(struct cutter *x, int at)
{
    int n = 0, slot;
    for (int i = at; i < x->p->ncalls; i++)
        for (struct call_reads r = {&x->p->calls[i]}; (slot = next_read(&r)) >= 0;)
            n = to_whole(x, slot, n);
    for (int i = 0; i < x->p->noutputs; i++)
        n = to_whole(x, x->p->outputs[i].slot, n);
    x->wholes[n] = -1;
}

/* A linear layer of which the rank has a part. Along the sequence its input was gathered, and its result is reduced and
 * scattered. */
static bool
run_layer(struct cutter *x, int at, int input)
{
    const struct call *c = &x->p->calls[at];
    int from = (int)c->args[0].i, to = c->outs[0];
    struct value *part = x->slot[from];
    if (x->role[at] == COLUMNS)
        x->slot[from] = x->full[from];
    bool ran = call_on(x->m, c, c->args, c->rank, x->slot) &&
               note_results(x, at, x->role[at] == COLUMNS ? at : x->from[input]);
    x->slot[from] = part;
    if (!ran || x->role[at] == COLUMNS || !x->s->parallel->sequence)
        return ran;
    if (!to_part(x, to))
        return false;
    x->size[at] = arena_dup(x->a, x->slot[to]->size, sizeof(*x->slot[to]->size) * (size_t)x->slot[to]->rank);
    return true;
}

/* Runs a call; false where the columns that it reads must stay whole. */
static bool
run_one(struct cutter *x, int at, bool inside)
{
    const struct call *c = &x->p->calls[at];
    int input = cut_input(x, c);
    const struct value *cut = input >= 0 ? x->slot[input] : NULL;
    x->role[at] = role_of(x, at, inside);
    call_on(x->m, c, c->args, c->rank, x->full);
    for (int k = 0; k < c->nouts; k++)
        x->slot[c->outs[k]] = x->full[c->outs[k]];
    if (x->role[at] != WHOLE)
        return run_layer(x, at, input);
    if (!cut)
        return true;
    if ((!inside && x->from[input] != SEQUENCE) || !c->op || meets_whole(x, at, cut, x->dim[input]) ||
        !(x->args[at] = divided(x, c, cut, x->dim[input])) || !call_on(x->m, c, x->args[at], -1, x->slot))
        return false;
    return note_results(x, at, x->from[input]) &&
           (!runs_along(c, cut, x->dim[input]) || x->slot[c->outs[0]]->st == cut->st);
}

static void
keep_whole(struct cutter *x, int column)
{
    for (int i = 0; i < x->p->ncalls; i++)
        if (x->role[i] == COLUMNS && joined(x, i) == joined(x, column))
            names_put(x->whole, x->layer[i], 1);
}

static struct value *
made(struct cutter *x, enum dtype t, int rank, const int64_t *size)
{
    return rank < 0 ? NULL : value_keep(value_new(x->m, t, rank, size, NULL));
}

/* The forward pass on a rank's sizes; false when layers that it cut stay whole. */
static bool
run_all(struct cutter *x)
{
    const struct program *p = x->p;
    int unit = 0, slot;
    memset(x->role, 0, sizeof(*x->role) * (size_t)(p->ncalls + 1));
    memset(x->slot, 0, sizeof(*x->slot) * (size_t)(p->nslots + 1));
    memset(x->full, 0, sizeof(*x->full) * (size_t)(p->nslots + 1));
    memset(x->args, 0, sizeof(*x->args) * (size_t)(p->ncalls + 1));
    memset(x->size, 0, sizeof(*x->size) * (size_t)(p->ncalls + 1));
    for (int i = 0; i < p->nslots; i++)
        x->dim[i] = NOT_CUT;
    for (int i = 0; i < p->nparams; i++)
        x->slot[p->params[i].slot] = x->full[p->params[i].slot] =
            made(x, p->params[i].dtype, p->params[i].rank, p->params[i].size);
    for (int i = 0; i < p->ninputs; i++)
        x->slot[p->inputs[i].slot] = x->full[p->inputs[i].slot] =
            made(x, p->inputs[i].dtype, p->inputs[i].rank, p->inputs[i].size);
    for (int i = 0; i < p->ncalls; i++)
        x->joined[i] = i;
    for (int i = 0; i < p->ncalls; i++) {
        while (unit < p->nunits && p->units[unit].end <= i)
            unit++;
        if (x->s->parallel->sequence && i == p->units[0].first)
            enter_units(x);
        if (x->why)
            return false;
        if (run_one(x, i, unit < p->nunits && p->units[unit].first <= i)) {
            if (x->s->parallel->sequence && i + 1 == p->units[p->nunits - 1].end)
                leave_units(x, i + 1);
            continue;
        }
        for (struct call_reads r = {&p->calls[i]}; (slot = next_read(&r)) >= 0;)
            if (x->dim[slot] >= 0 && x->from[slot] != SEQUENCE)
                keep_whole(x, x->from[slot]);
            else if (x->dim[slot] >= 0 && x->role[i] == WHOLE && !x->why)
                x->why =
                    arena_printf(x->a, "%s mixes what goes along the sequence", p->modules[p->calls[i].scope].path);
        if (x->role[i] == COLUMNS)
            keep_whole(x, i);
        return false;
    }
    for (int i = 0; i < p->noutputs; i++) {
        slot = p->outputs[i].slot;
        if (x->dim[slot] >= 0 && x->from[slot] != SEQUENCE) {
            keep_whole(x, x->from[slot]);
            return false;
        }
    }
    return true;
}

/* ---- what is written --------------------------------------------------------------------------------------------- */

/* The path of a call's module, with * for numbers; but for those inside of its unit, where these tell modules apart. */
static const char *
name_of(const struct cutter *x, int call, const enum role *role, const char **pattern)
{
    const struct program *p = x->p;
    const char *path = p->modules[p->calls[call].scope].path;
    bool same = true;
    int unit = 0;
    for (int i = 1; i < p->nmodules && same; i++)
        same = role[i] == x->role[call] || strcmp(pattern[i], x->layer[call]) != 0;
    while (unit < p->nunits && p->units[unit].end <= call)
        unit++;
    if (same || unit == p->nunits)
        return x->layer[call];
    const char *own = p->units[unit].module;
    return arena_printf(x->a, "%s%s", string_path_pattern(x->a, own), path + strlen(own));
}

static const char *
layers_of(const struct cutter *x, enum role role)
{
    struct names *seen = names_new(x->a);
    enum role *of = NEWN(x->a, enum role, x->p->nmodules + 1);
    const char *text = "", **pattern = NEWN(x->a, const char *, x->p->nmodules + 1);
    for (int i = 0; i < x->p->nmodules; i++)
        pattern[i] = string_path_pattern(x->a, x->p->modules[i].path);
    for (int i = 0; i < x->p->ncalls; i++)
        if (x->role[i] != WHOLE)
            of[x->p->calls[i].scope] = x->role[i];
    for (int i = 0; i < x->p->ncalls; i++) {
        const char *name = x->role[i] == role && x->layer[i] ? name_of(x, i, of, pattern) : NULL;
        if (!name || names_find(seen, name) >= 0)
            continue;
        names_put(seen, name, i);
        text = arena_printf(x->a, "%s%s%s", text, *text ? ", " : "", name);
    }
    return text;
}

static void
write_param(struct cutter *x, const struct arg *a)
{
    if (a->kind != ARG_SLOT || a->i < 0)
        return;
    const struct value *v = x->slot[a->i];
    for (int i = 0; i < x->p->nparams; i++)
        if (x->p->params[i].slot == a->i)
            x->p->params[i].size = arena_dup(x->a, v->size, sizeof(*v->size) * (size_t)v->rank);
}

static void
write_program(struct cutter *x)
{
    static const char *const rows[][2] = {[COLUMNS] = {"memlint.columns", "memlint.columns_of_parts"},
                                          [ROWS] = {"memlint.rows", "memlint.rows_to_parts"}};
    struct program *p = x->p;
    for (int i = 0; i < p->ncalls; i++) {
        struct call *c = &p->calls[i];
        if (x->args[i])
            c->args = x->args[i];
        if (x->size[i])
            c->size = x->size[i];
        if (x->role[i] == WHOLE)
            continue;
        c->op = aten_find(rows[x->role[i]][x->s->parallel->sequence]);
        for (int k = 1; k < c->nargs; k++)
            write_param(x, &c->args[k]);
    }
}

bool
tensor_cut(struct arena *a, struct program *p, const struct setup *s, const char **why)
{
    struct machine *m = NEW(a, struct machine);
    struct cutter x = {.a = a, .p = p, .s = s, .m = m};
    int slot;
    machine_begin(m, a, p, s);
    x.param = program_params(p, a);
    x.reads = NEWN(a, int, p->nslots + 1);
    x.slot = NEWN(a, struct value *, p->nslots + 1);
    x.full = NEWN(a, struct value *, p->nslots + 1);
    x.dim = NEWN(a, int, p->nslots + 1);
    x.from = NEWN(a, int, p->nslots + 1);
    x.joined = NEWN(a, int, p->ncalls + 1);
    x.layer = NEWN(a, const char *, p->ncalls + 1);
    x.role = NEWN(a, enum role, p->ncalls + 1);
    x.args = NEWN(a, struct arg *, p->ncalls + 1);
    x.size = NEWN(a, int64_t *, p->ncalls + 1);
    x.whole = names_new(a);
    x.learned = program_learned(p, a);
    x.made_by = program_makers(p, a);
    x.parts = NEWN(a, int, p->nslots + 1);
    x.wholes = NEWN(a, int, p->nslots + 1);
    for (int i = 0; i < p->ncalls; i++) {
        const struct call *c = &p->calls[i];
        for (struct call_reads r = {c}; (slot = next_read(&r)) >= 0;)
            x.reads[slot]++;
        if (target_is(c->target, TARGET_PROJECTS) && c->nargs > 1)
            x.layer[i] = string_path_pattern(a, p->modules[c->scope].path);
    }
    if (s->parallel->sequence && !p->nunits)
        x.why = "there are no units, which --units names or lists have";
    int left = p->ncalls; /* each run that fails keeps a layer whole */
    while (!x.why && !run_all(&x))
        if (left-- == 0)
            x.why = "its layers can't be told apart";
    arena_free(m->trace.a);
    if (!x.why && !*layers_of(&x, ROWS))
        x.why =
            x.uneven
                ? x.uneven
                : "no linear layers of its units follow each other, of which the first could be cut by columns and the "
                  "last by rows";
    if (x.why) {
        *why = x.why;
        return false;
    }
    write_program(&x);
    p->columns = layers_of(&x, COLUMNS);
    p->rows = layers_of(&x, ROWS);
    if (s->parallel->sequence) {
        p->parts = x.parts;
        p->wholes = x.wholes;
    }
    program_assume(p, ALTERNATIVE_NONE,
                   "%d GPUs share linear layers by columns (%s) and by rows (%s); all else is whole on each of them, "
                   "and modules know their part of the heads, by which fused layers are ordered",
                   s->gpus, p->columns, p->rows);
    if (s->parallel->sequence)
        program_assume(p, ALTERNATIVE_NONE,
                       "what units hand on goes along dimension 1 (SequenceParallel), and a module gathers its input "
                       "once for all of its layers (PrepareModuleInput)");
    program_assume(p, ALTERNATIVE_NONE,
                   "the optimizer's step runs under torch.distributed.tensor.experimental.implicit_replication, "
                   "without which PyTorch refuses lists of DTensors and others");
    return true;
}
