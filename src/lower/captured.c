/* SPDX-License-Identifier: Apache-2.0 */
/* captured.c - programs that memlint's own export captured while they ran (packaging/python).
 *
 * Nothing is left to be told from names and lines here. A node is a call: its domain, operator and overload are the
 * framework's ("aten", "add_", "Tensor"), and in its attributes
 *
 *   call     the arguments as torch.fx prints them, "(%x, [2, $0], True), kwargs = {dim: 1}"
 *   sizes    what $0, $1, ... are: expressions of open dimensions
 *   held     per result the last call during which Python held it, counted in nodes from 0; -1 no longer than it is
 *            read; behind the last node: an attribute or a global name has it until the next step. held_fp32,
 *            held_autocast, held_model: in those precisions, where it differs
 *   names    per result the variable, "" none
 *   grad     0: under torch.no_grad
 *   autocast 0: where the program has switched it off
 *   anew     1: a view that autograd makes anew since what it shows was written; 2: a view of that, likewise
 *   loss     1: the loss function runs it, behind the model
 *   region   calls of one number, above 0, are under one torch.utils.checkpoint; of the first of them
 *   holds    tensors that the checkpoint's function has, by closure or argument
 *   reentrant 1: use_reentrant=True
 *
 * An operator in place has a result that is its first argument anew; where that is a view, the second result is what it
 * is a view of. The model's metadata say which schema that is (memlint.schema), and of the parameters in the order of
 * their registration what they are (memlint.tensors): "trained fc.weight", "frozen", "buffer", "constant"; of tied ones
 * "trained head.weight = embed.weight". memlint.variants names the precisions that the same calls run in: "fp32",
 * "autocast", "model" (all of it in half precision); a type that differs is "torch.float32/torch.bfloat16/...", in that
 * order. memlint.unsure says what could not be captured.
 */
#include "lower/dynamo.h"
#include "torch/torch.h"

#include <limits.h>
#include <stdlib.h>

struct capture {
    struct lowering *l;
    const char *variant, *held; /* the step's precision; the attribute that has how long it holds results */
    int *call;                  /* per node, the last of its calls */
    bool *shown;                /* per tensor, whether an output is it, or a view of it */
    int nregions, cap_regions, region;
    struct region *regions;
};

static const struct tensor_kind {
    const char *word;
    enum param_kind kind;
} kinds[] = {
    {"trained", PARAM_TRAINED}, {"frozen", PARAM_FROZEN}, {"buffer", PARAM_BUFFER}, {"constant", PARAM_CONSTANT}};

/* "trained head.weight = embed.weight": false where it says something else, or names what the file does not have. */
static bool
read_tensor(struct lowering *l, char *line)
{
    char *name = strchr(line, ' '), *other = name ? strstr(name + 1, " = ") : NULL;
    int k = 0;
    if (!name)
        return false;
    *name++ = 0;
    if (other) {
        *other = 0;
        other += strlen(" = ");
    }
    while (k < COUNT(kinds) && strcmp(kinds[k].word, line) != 0)
        k++;
    int t = graph_find(l->g, other ? other : name);
    if (k == COUNT(kinds) || t < 0 || !l->g->t[t].is_initializer || (other && l->slot_of[t] < 0))
        return false;
    struct param *q = lower_param(l, name, kinds[k].kind);
    lower_param_shape(l, q, &l->g->t[t]);
    for (int i = 0; other && i < l->p->nparams - 1; i++)
        if (l->p->params[i].slot == l->slot_of[t] && q->tied_to < 0)
            q->tied_to = i;
    if (other)
        q->slot = l->slot_of[t];
    else
        l->slot_of[t] = q->slot;
    return true;
}

static void
read_tensors(struct lowering *l)
{
    const char *p = graph_metadata(l->g, "memlint.tensors");
    for (size_t n; p && *p; p += n + (p[n] == '\n')) {
        n = strcspn(p, "\n");
        char *line = arena_strn(l->a, p, n);
        if (n && !read_tensor(l, line))
            graph_doubt(l->g, arena_strn(l->a, p, n), "memlint.tensors", NULL,
                        "the metadata say what the file contradicts: it has no such tensor, or the word is none that "
                        "this version knows")
                ->sure = SURE_MODEL;
    }
}

/* What the precision of the step is called among those that were captured. */
static const char *
needed_variant(const struct lowering *l)
{
    bool autocast;
    bool half = precision_half(l->s->precision, &autocast) != DT_UNDEFINED;
    return !half ? "fp32" : autocast ? "autocast" : "model";
}

/* "torch.float32/torch.bfloat16/torch.bfloat16": the type in the precision of the step. */
static struct arg
type_now(const struct lowering *l, const char *text)
{
    bool autocast;
    enum dtype half = precision_half(l->s->precision, &autocast);
    int nth = half == DT_UNDEFINED ? 0 : autocast ? 1 : 2;
    const char *p = text;
    for (int i = 0; i < nth && strchr(p, '/'); i++)
        p = strchr(p, '/') + 1;
    const char *word = arena_strn(l->a, p, strcspn(p, "/"));
    enum dtype t = dtype_by_torch(starts_with(word, "torch.") ? word + strlen("torch.") : word);
    if (t == DT_BFLOAT16 && nth) /* the precision that was captured stands for the others */
        t = half;
    return t != DT_UNDEFINED ? DTYPE(t) : NONE;
}

/* Names to slots, "$0" to what it is now, types to those of the step's precision. */
static void
bind_arg(struct capture *x, const struct node *n, struct arg *a)
{
    struct lowering *l = x->l;
    const struct attr *sizes = node_attr(n, "sizes");
    for (int i = 0; a->kind == ARG_LIST && i < a->n; i++)
        bind_arg(x, n, &a->list[i]);
    if (a->kind == ARG_SLOT && a->s) {
        int t = graph_find(l->g, a->s);
        a->i = t >= 0 ? l->slot_of[t] : -1;
    }
    if (a->kind == ARG_TEXT && starts_with(a->s, "torch.") && strchr(a->s, '/'))
        *a = type_now(l, a->s);
    if (a->kind != ARG_TEXT || *a->s != '$' || !sizes || sizes->type != ATTR_STRINGS)
        return;
    long k = strtol(a->s + 1, NULL, 10);
    int64_t size = k >= 0 && k < sizes->n ? graph_number(l->g, sizes->strings[k]) : -1;
    *a = size >= 0 ? INT(size) : NONE;
    if (size < 0)
        graph_doubt(l->g, n->name, n->op, NULL, "a size of this call hangs on a dimension that is not bound");
}

/* Operators whose row has another name: what writes numbers of its own over a tensor does it in one way; and of these
 * overloads what is not in place is another. overload: NULL all. */
static const struct {
    const char *op, *overload, *row;
} rows[] = {
    {"copy_", NULL, "copy_"},
    {"bernoulli_", NULL, "fill.Scalar"},
    {"cauchy_", NULL, "fill.Scalar"},
    {"exponential_", NULL, "fill.Scalar"},
    {"fill_", NULL, "fill.Scalar"},
    {"geometric_", NULL, "fill.Scalar"},
    {"log_normal_", NULL, "fill.Scalar"},
    {"normal_", NULL, "fill.Scalar"},
    {"pow_", "Scalar", "pow.Tensor_Scalar"},
    {"pow_", "Tensor", "pow.Tensor_Tensor"},
    {"random_", NULL, "fill.Scalar"},
    {"uniform_", NULL, "fill.Scalar"},
    {"zero_", NULL, "fill.Scalar"},
};

/* The row of an operator, and whether it is called in place. */
static const struct aten *
find_row(struct capture *x, const struct node *n, bool *in_place)
{
    struct arena *a = x->l->a;
    const char *space = strcmp(n->domain, "aten") == 0 ? "" : arena_printf(a, "%s.", n->domain);
    size_t stem = strlen(n->op);
    *in_place = stem > 1 && n->op[stem - 1] == '_' && n->op[stem - 2] != '_';
    for (int i = 0; i < COUNT(rows); i++)
        if (strcmp(rows[i].op, n->op) == 0 && (!rows[i].overload || strcmp(rows[i].overload, n->overload) == 0))
            return aten_find(rows[i].row);
    const struct aten *own = spelled_row(arena_printf(a, "%s%s.%s", space, n->op, n->overload));
    return (own && own->grad) || !*in_place
               ? own
               : spelled_row(arena_printf(a, "%s%.*s.%s", space, (int)stem - 1, n->op, n->overload));
}

static struct call *
new_call(struct capture *x, const struct node *n, const char *target, int nargs)
{
    const struct record *r = fx_record(x->l, (int)(n - x->l->g->n));
    struct call *c = group_placed(x->l, n, fx_entry(&r->scopes, 1), fx_entry(&r->classes, 1), target, nargs);
    c->name = n->nout && n->out[0] >= 0 ? x->l->g->t[n->out[0]].name : NULL;
    c->no_grad = node_int(n, "grad", 1) == 0;
    c->no_autocast = node_int(n, "autocast", 1) == 0;
    c->anew = (enum anew)node_int(n, "anew", ANEW_NOT);
    c->in_loss = node_int(n, "loss", 0) == 1;
    return c;
}

static struct region
begin_region(const struct lowering *l, const struct node *n, int first)
{
    const struct attr *holds = node_attr(n, "holds");
    struct region r = {.first = first, .reentrant = node_int(n, "reentrant", 0) == 1};
    int *slots = NEWN(l->a, int, holds ? holds->n + 1 : 1);
    for (int i = 0; holds && holds->type == ATTR_STRINGS && i < holds->n; i++) {
        int t = graph_find(l->g, holds->strings[i]);
        if (t >= 0 && l->slot_of[t] >= 0)
            slots[r.nholds++] = l->slot_of[t];
    }
    r.holds = slots;
    return r;
}

static void
set_region(struct capture *x, const struct node *n, int first)
{
    int64_t region = node_int(n, "region", 0);
    if (region <= 0 || region > INT_MAX) {
        x->region = 0;
        return;
    }
    if (region != x->region)
        *PUSH(x->l->a, x->regions, x->nregions, x->cap_regions) = begin_region(x->l, n, first);
    x->region = (int)region;
    x->regions[x->nregions - 1].end = x->l->p->ncalls;
}

static void
capture_node(struct capture *x, int at)
{
    struct lowering *l = x->l;
    const struct node *n = &l->g->n[at];
    const char *text = node_str(n, "call", "()");
    bool in_place;
    const struct aten *op = find_row(x, n, &in_place);
    struct arg args[MAX_ARGS];
    int nargs = fx_args(l, op, text + (*text == '('), args), first = l->p->ncalls;
    for (int i = 0; i < nargs; i++)
        bind_arg(x, n, &args[i]);
    if (op && nargs > aten_nargs(op))
        nargs = aten_nargs(op);
    if (op && in_place && aten_arg(op, "value") == 1) { /* whatever it fills with */
        args[1] = FLT(0);
        nargs = 2;
    }
    if (!op)
        graph_doubt(l->g, n->name, arena_printf(l->a, "%s.%s.%s", n->domain, n->op, n->overload), NULL,
                    "no rule for this operator: only its result is counted");
    struct call *c = new_call(x, n, op ? arena_printf(l->a, "aten.%s", op->name) : n->op, nargs);
    int made = c->outs[0];
    c->op = op;
    memcpy(c->args, args, sizeof(*args) * (size_t)nargs);
    if (in_place && op)
        lower_in_place(l, c);
    int nouts = in_place && n->nout > 1 ? 1 : n->nout;
    c->nouts = nouts;
    c->outs = NEWN(l->a, int, nouts + 1);
    c->outs[0] = made;
    for (int o = 0; o < nouts; o++) {
        c->outs[o] = o ? lower_slot(l) : made;
        if (n->out[o] >= 0)
            l->slot_of[n->out[o]] = c->outs[o];
    }
    if (n->nout && n->out[0] >= 0)
        lower_sizes(l, &l->g->t[n->out[0]], &c->rank, &c->size);
    int base = n->nin > 0 ? n->in[n->nin - 1] : -1;
    if (nouts < n->nout && n->out[1] >= 0 && base >= 0) { /* a view was written: so was what it shows */
        int part = c->outs[0];
        c = new_call(x, n, "aten.copy_slices", 2);
        c->args[0] = (struct arg){.kind = ARG_SLOT, .i = l->slot_of[base]};
        c->args[1] = (struct arg){.kind = ARG_SLOT, .i = part};
        lower_sizes(l, &l->g->t[n->out[1]], &c->rank, &c->size);
        l->slot_of[n->out[1]] = c->outs[0];
    }
    x->call[at] = l->p->ncalls - 1;
    set_region(x, n, first);
}

/* The way that memlint.units describes, with its options, NULL none: what no row has (another bucket or type, a model
 * that is not wrapped itself) stays a doubt. */
static const struct parallel *
wrapped(struct arena *a, const char *units)
{
    static const struct {
        const char *way, *says, *option; /* option NULL: a way of its own */
    } words[] = {
        {"ddp", "ddp . ", NULL},
        {"ddp", " view=1", "bucket-view"},
        {"ddp", " static=1", "static-graph"},
        {"ddp", " unused=1", "find-unused"},
        {"fsdp", "fully_shard . ", NULL},
        {"fsdp", " meta=1", "meta"},
        {"fsdp", " shard=8 ", "hybrid"},
        {"fsdp", " param=bfloat16 reduce=float32", "bf16"},
        {"fsdp", " param=bfloat16 reduce=bfloat16", "bf16-reduce"},
        {"fsdp", " offload=1", "cpu-offload"},
    };
    const char *way = NULL, *text = NULL;
    for (int i = 0; i < COUNT(words); i++) {
        if (!strstr(units, words[i].says) || (way && strcmp(way, words[i].way) != 0))
            continue;
        way = words[i].option ? way : words[i].way;
        if (way)
            text = words[i].option ? parallel_with(a, text, words[i].option) : words[i].way;
    }
    if (!way || (*way == 'd' && !strstr(units, " bucket=26214400 ")))
        return NULL;
    if ((strstr(units, " shard=") && !strstr(text, "hybrid")) || (strstr(units, " param=") && !strstr(text, "bf16")) ||
        (strstr(units, " reduce=") && !strstr(text, "bf16")))
        return NULL;
    if (*way == 'f' && !strstr(units, " reshard=1"))
        text = parallel_with(a, text, "no-reshard");
    return parallel_find(a, text);
}

/* The lines of memlint.units as --parallel, --gpus and --units say it. */
static void
setup_units(const struct graph *g, struct arena *a, struct setup *s)
{
    const char *p = graph_metadata(g, "memlint.units"), *world = p ? strstr(p, " world=") : NULL;
    const struct parallel *how = p && world && !s->parallel ? wrapped(a, p) : NULL;
    int gpus = how ? atoi(world + strlen(" world=")) : 0;
    if (gpus < 2)
        return;
    s->parallel = how;
    s->gpus = gpus;
    for (size_t n; *p; p += n + (p[n] == '\n')) {
        n = strcspn(p, "\n");
        const char *name = p + strcspn(p, " ") + 1;
        size_t length = strcspn(name, " \n");
        if (how->shards && length && strncmp(name, ".", length) != 0)
            s->units = arena_printf(a, "%s%s%.*s", s->units ? s->units : "", s->units ? "," : "", (int)length, name);
    }
}

void
lower_setup(const struct graph *g, struct arena *a, struct setup *s)
{
    setup_units(g, a, s);
    const char *text = graph_metadata(g, "memlint.optimizer");
    const struct optimizer *o = text && !s->says_optimizer ? optimizer_read(a, text) : NULL;
    s->optimizer = o ? o : s->optimizer;
    if (s->parallel && s->parallel->low != DT_UNDEFINED) /* what runs is a model in that type */
        s->precision = precision_find("bf16");
}

/* Lines of memlint.groups are the optimizer's groups of parameters behind the first. */
static void
read_groups(struct lowering *l)
{
    const char *p = graph_metadata(l->g, "memlint.groups");
    for (size_t n; p && *p; p += n + (p[n] != 0)) {
        n = strcspn(p, " \n");
        const char *name = arena_strn(l->a, p, n);
        for (int i = 0; i < l->p->nparams; i++)
            if (strcmp(l->p->params[i].name, name) == 0)
                l->p->params[i].group = l->p->ngroups + 1;
        l->p->ngroups += p[n] != ' ';
    }
}

/* Whether a module of that name has calls or tensors; "." is the model. */
static bool
has_module(const struct lowering *l, const char *name)
{
    size_t n = strlen(name);
    bool found = strcmp(name, ".") == 0;
    for (int i = 0; i < l->p->nparams && !found; i++)
        found = strncmp(l->p->params[i].name, name, n) == 0 && l->p->params[i].name[n] == '.';
    return found;
}

/* Lines of memlint.units: "ddp . world=8 ...", "fully_shard layers.0 world=8 ...". */
static void
read_units(struct lowering *l)
{
    const char *p = graph_metadata(l->g, "memlint.units");
    int units = 0;
    for (size_t n; p && *p; p += n + (p[n] == '\n')) {
        n = strcspn(p, "\n");
        const char *line = arena_strn(l->a, p, n), *name = line + strcspn(line, " ");
        name += *name == ' ';
        name = arena_strn(l->a, name, strcspn(name, " "));
        units += n > 0;
        if (n && !has_module(l, name))
            graph_doubt(l->g, line, "memlint.units", NULL,
                        "the metadata say what the file contradicts: it has no tensor of a module %s", name)
                ->sure = SURE_MODEL;
    }
    p = graph_metadata(l->g, "memlint.units");
    if (units && !l->s->parallel)
        graph_doubt(
            l->g, "model", "memlint.units", "--parallel=NAME of --list=parallel, --gpus and --units",
            "%d %s: this is one process's step of the whole model, and what they gather, reduce and shard is not "
            "counted; the first is %s",
            units, units > 1 ? "modules are wrapped for several processes" : "module is wrapped for several processes",
            arena_strn(l->a, p, strcspn(p, "\n")))
            ->sure = SURE_MODEL;
}

/* What the capture says it could not tell. */
static void
doubt_capture(const struct capture *x)
{
    struct lowering *l = x->l;
    const char *unsure = graph_metadata(l->g, "memlint.unsure"), *variants = graph_metadata(l->g, "memlint.variants"),
               *schema = graph_metadata(l->g, "memlint.schema"), *own = graph_metadata(l->g, "memlint.optimizer"),
               *asked = graph_metadata(l->g, "memlint.asked");
    if (strcmp(schema, "1") != 0 && strcmp(schema, "2") != 0)
        graph_doubt(l->g, "model", "capture", "a newer memlint", "schema %s is newer than this program", schema);
    if (own && !optimizer_read(l->a, own))
        graph_doubt(l->g, "model", "memlint.optimizer", "a newer memlint", "no optimizer or switch like %s", own);
    else if (own && l->s->says_optimizer && strcmp(own, optimizer_text(l->s->optimizer)) != 0)
        program_assume(l->p, ALTERNATIVE_NONE, "the optimizer is the option's, not the file's %s", own);
    if (asked)
        program_assume(l->p, ALTERNATIVE_NONE,
                       "where the program asks for values of its inputs they are the example's: %s", asked);
    if (unsure && *unsure)
        graph_doubt(l->g, "model", "capture", NULL, "what the capture could not tell: %s", unsure);
    if (!variants || !strstr(variants, x->variant))
        graph_doubt(l->g, "model", "capture", NULL,
                    "the program does not run, or makes other calls, in this precision: it was captured in %s",
                    variants && *variants ? variants : "none");
}

/* Which tensors outputs are, or are views of, whose _base keeps them. */
static void
find_shown(const struct capture *x)
{
    const struct graph *g = x->l->g;
    for (int i = 0; i < g->nt; i++)
        x->shown[i] = g->t[i].is_output;
    for (int i = g->nn - 1; i >= 0; i--) {
        const struct node *n = &g->n[i];
        const bool view = n->nin > 0 && n->nout > 0 && n->in[0] >= 0 && n->out[0] >= 0 &&
                          target_is(x->l->p->calls[x->call[i]].target, TARGET_VIEWS);
        if (view && x->shown[n->out[0]])
            x->shown[n->in[0]] = true;
    }
}

/* How long Python holds the results of a node. What outlives the program is kept by an attribute, until the same call
 * of the next step. */
static void
hold_results(const struct capture *x, int at)
{
    const struct graph *g = x->l->g;
    struct program *p = x->l->p;
    const struct node *n = &g->n[at];
    const struct attr *own = node_attr(n, x->held), *held = own ? own : node_attr(n, "held"),
                      *names = node_attr(n, "names");
    struct call *c = &p->calls[x->call[at]];
    for (int o = 0; o < n->nout; o++) {
        int slot = n->out[o] >= 0 ? x->l->slot_of[n->out[o]] : -1;
        int64_t until = held && o < held->n && held->type == ATTR_INTS ? held->ints[o] : -1;
        if (slot < 0)
            continue;
        p->held[slot] = until < 0 ? -1 : x->call[until < g->nn ? until : g->nn - 1];
        if (names && o < names->n && names->type == ATTR_STRINGS && *names->strings[o])
            p->held_by[slot] = names->strings[o];
        if (until >= g->nn && !x->shown[n->out[o]] && !c->attribute) {
            c->kept = slot;
            c->attribute = ++p->nattributes;
        }
    }
}

/* A result that an equal call replaces, whose own one an attribute keeps, was that attribute's before: of a module with
 * torch.nn.utils.weight_norm that runs twice. */
static void
hold_replaced(const struct program *p, struct call *c)
{
    const struct call *next = c->nargs && p->held[c->outs[0]] >= 0 ? &p->calls[p->held[c->outs[0]]] : NULL;
    if (!next || !next->attribute || c->attribute || next == c || strcmp(next->target, c->target) != 0 ||
        next->args[0].kind != ARG_SLOT || next->args[0].i != c->args[0].i)
        return;
    c->kept = c->outs[0];
    c->attribute = next->attribute;
}

void
lower_captured(struct lowering *l)
{
    struct program *p = l->p;
    struct capture x = {.l = l,
                        .variant = needed_variant(l),
                        .call = NEWN(l->a, int, l->g->nn + 1),
                        .shown = NEWN(l->a, bool, l->g->nt + 1)};
    x.held = arena_printf(l->a, "held_%s", x.variant);
    p->captured = true;
    read_tensors(l);
    read_groups(l);
    read_units(l);
    doubt_capture(&x);
    for (int i = 0; i < l->g->nn; i++)
        capture_node(&x, i);
    p->held = NEWN(l->a, int, p->nslots + 1);
    p->held_by = NEWN(l->a, const char *, p->nslots + 1);
    memset(p->held, -1, sizeof(*p->held) * (size_t)(p->nslots + 1));
    find_shown(&x);
    for (int i = 0; i < l->g->nn; i++)
        hold_results(&x, i);
    for (int i = 0; i < p->ncalls; i++)
        hold_replaced(p, &p->calls[i]);
    p->nregions = x.nregions;
    p->regions = x.regions;
}
