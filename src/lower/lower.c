/* SPDX-License-Identifier: Apache-2.0 */
/* lower.c - from the nodes of a file to the framework calls that the Python program made: the pass.
 *
 * Files whose calls PyTorch's exporter recorded go through dynamo.c, others through patterns.c.
 */
#include "lower/dynamo.h"
#include "torch/torch.h"

#include <string.h>

enum { FIRST_RECORDED = 204 }; /* tests/oracle/versions.py */

/* Whether the exporter computed the data: it fuses batch norms into convolutions in float, whatever a model's type. */
static bool
is_fused(const struct graph *g, int tensor)
{
    for (int i = 0; i < g->t[tensor].nusers; i++) {
        const char *rules = g->n[g->t[tensor].users[i]].rules;
        if (rules && strstr(rules, "FuseBatchNorm"))
            return true;
    }
    return false;
}

/* Parameters whose own data the file lacks are of the type that most others are of, or the first input that has
 * numbers. */
static void
type_params(struct graph *g, struct program *p)
{
    int count[DT_COUNT] = {0};
    enum dtype most = DT_FLOAT;
    for (int i = p->ninputs - 1; i >= 0; i--)
        most = dtypes[p->inputs[i].dtype].is_float ? p->inputs[i].dtype : most;
    for (int i = 0; i < p->nparams; i++) {
        struct param *q = &p->params[i];
        int own = graph_find(g, q->name);
        if (own >= 0 && is_fused(g, own))
            q->dtype = DT_UNDEFINED;
        else if (own >= 0 && dtypes[q->dtype].is_float && ++count[q->dtype] > count[most])
            most = q->dtype;
    }
    for (int i = 0; i < p->nparams; i++) {
        struct param *q = &p->params[i];
        bool wider = dtypes[q->dtype].is_float && dtypes[q->dtype].bits > dtypes[most].bits;
        if (q->dtype == DT_UNDEFINED)
            q->dtype = most;
        else if (!g->signature && wider && q->rank == 2 && graph_find(g, q->name) < 0) /* of a linear layer */
            graph_doubt(g, q->name, "parameter", NULL,
                        "the exporter computed its data in a wider type than the model's, where PyTorch computes in "
                        "the model's type: an export with dynamo=True, or in float with --precision, is exact");
    }
}

/* Operators that no row knows, in a file whose others PyTorch's exporter recorded. */
static void
doubt_unrecorded(struct graph *g)
{
    for (int i = 0; i < g->nn; i++) {
        const struct node *n = &g->n[i];
        if (!n->row && !n->fx && !n->made)
            graph_doubt(g, n->name, n->op, NULL, "the operator is not known, and the exporter recorded nothing of it");
    }
}

/* What a call wrote over is gone: a call behind it that reads it as it was reads another tensor, which was made by an
 * equal call, or is a copy, and which the exporter merged with it. */
static void
doubt_overwritten(const struct program *p)
{
    struct arena *own = arena_new();
    const struct call **by = NEWN(own, const struct call *, p->nslots);
    bool said = false;
    for (int i = 0; i < p->ncalls && !said; i++) {
        const struct call *c = &p->calls[i];
        struct call_reads r = {c};
        const bool puts_back = c->op && c->op->writes == WRITES_PART && c->nargs > 1 && c->args[0].kind == ARG_SLOT &&
                               c->args[1].kind == ARG_SLOT && by[c->args[0].i] &&
                               by[c->args[0].i]->outs[0] == c->args[1].i; /* what was written over all of it */
        for (int slot; (slot = next_read(&r)) >= 0 && !said && !puts_back; said = by[slot])
            if (by[slot])
                graph_doubt(p->graph, c->node, target_bare(c->target), "memlint.export",
                            "it reads what %s wrote over before: another tensor that the exporter merged with that one",
                            by[slot]->node ? by[slot]->node : target_bare(by[slot]->target));
        bool writes = c->in_place || (c->op && c->op->writes == WRITES_PART);
        if (writes && c->nargs && c->args[0].kind == ARG_SLOT)
            by[c->args[0].i] = c;
    }
    arena_free(own);
}

/* What a function writes by index has no line: "x[:, i] = y" writes in place, and index_copy(), which the exporter
 * decomposes so, keeps what it writes. */
static void
doubt_indexed(struct program *p)
{
    struct arena *own = arena_new();
    bool *grows = lower_trained(p, own);
    for (int i = 0; i < p->ncalls; i++) {
        const struct call *c = &p->calls[i];
        if (!lower_grows(c, grows) || c->in_place || !target_named(c->target, "index_put"))
            continue;
        const char *line = fx_line(own, c->stack);
        if (!strstr(line, "] = ") && !python_calls(line, "index_put")) {
            graph_doubt(p->graph, c->node, target_bare(c->target), "memlint.export",
                        "a function writes by index, and no line shows whether in place or by index_copy");
            break;
        }
    }
    arena_free(own);
}

/* DeepSpeed's engine. Source: deepspeed/runtime/zero/config.py, torch_autocast.py (autocast_if_enabled), of 0.19.8. */
static void
assume_deepspeed(struct program *p, const struct setup *s)
{
    bool autocast;
    enum dtype half = precision_half(s->precision, &autocast);
    program_assume(p, ALTERNATIVE_NONE,
                   "DeepSpeed 0.19.8 has its default settings but for the stage: reduce_bucket_size is 500,000,000 "
                   "elements, which a rank has whatever the model needs, and the optimizer is PyTorch's; %s",
                   s->parallel->zero > 2 ? "parameters of up to 100,000 elements stay whole, those of the next "
                                           "50,000,000 elements are asked for beforehand, and those that are used "
                                           "again within 1,000,000,000 elements are kept"
                                         : "gradients are contiguous and reduced without overlap");
    if (autocast)
        graph_doubt(p->graph, "model", "DeepSpeed", "--precision=bf16",
                    "DeepSpeed switches torch.autocast off that is around its engine, and what its own torch_autocast "
                    "does is not known");
    else if (half == DT_FLOAT16)
        graph_doubt(p->graph, "model", "DeepSpeed", "--precision=bf16",
                    "what DeepSpeed's loss scaling for float16 takes is not known");
}

/* Hooks that make an attribute NAME of NAME_orig or NAME_v before a module runs, by what they have beside it. Source:
 * __call__ of each in torch/nn/utils: spectral_norm.py, prune.py, weight_norm.py. */
static const struct hook {
    const char *of, *beside;
} hooks[] = {{"_orig", "_u"}, {"_orig", "_mask"}, {"_v", "_g"}};

/* What a parameter has beside it, of which a hook makes the attribute; NULL nothing. */
static const struct param *
hooked_with(const struct program *p, const struct param *q)
{
    const char *end = strrchr(q->name, '_');
    size_t n = end ? (size_t)(end - q->name) : 0;
    for (int k = 0; k < COUNT(hooks) && end; k++)
        for (int i = 0; strcmp(end, hooks[k].of) == 0 && i < p->nparams; i++)
            if (strncmp(p->params[i].name, q->name, n) == 0 && strcmp(p->params[i].name + n, hooks[k].beside) == 0)
                return &p->params[i];
    return NULL;
}

/* Libraries' switches that put layers under torch.utils.checkpoint and leave no line, since none of a forward calls it.
 * Source: GradientCheckpointingLayer in transformers/modeling_layers.py; forward_features in timm/models/. */
static const struct {
    const char *types, *name;
} switches[] = {{"transformers.models.*", "gradient_checkpointing_enable()"},
                {"timm.models.*", "set_grad_checkpointing()"}};

/* Globs of the outermost layers in lists that are of the library, "model.layers.*"; NULL there are none. */
static const char *
switched_layers(const struct program *p, const char *types)
{
    const char *all = NULL;
    struct names *seen = names_new(p->arena);
    for (int i = 1; i < p->nmodules; i++) {
        const struct module *m = &p->modules[i];
        bool outer = m->type && path_listed(m->path) && glob_match(types, m->type);
        for (int k = m->parent; k > 0 && outer; k = p->modules[k].parent)
            outer = !p->modules[k].type || !path_listed(p->modules[k].path) || !glob_match(types, p->modules[k].type);
        const char *glob = outer ? arena_printf(p->arena, "%.*s*", (int)(path_last(m->path) - m->path), m->path) : NULL;
        if (!glob || names_find(seen, glob) >= 0)
            continue;
        names_put(seen, glob, 0);
        all = all ? arena_printf(p->arena, "%s,%s", all, glob) : glob;
    }
    return all;
}

static void
assume_switches(struct program *p)
{
    for (int k = 0; k < COUNT(switches); k++)
        for (int i = 0; i < p->nmodules; i++)
            if (p->modules[i].type && glob_match(switches[k].types, p->modules[i].type)) {
                p->unseen_switch = switches[k].name;
                p->switched = switched_layers(p, switches[k].types);
                program_assume(p, p->switched ? ALTERNATIVE_SWITCH : ALTERNATIVE_NONE,
                               "%s, which leaves nothing in a file, was not called%s", switches[k].name,
                               p->switched ? "" : ": --recompute=NAMES says of which layers it was");
                break;
            }
}

/* The module keeps what the hook made last until it runs again: of what is made of the parameter, what has its rank, or
 * what is made of that and of what it has beside it. */
static void
keep_hooked(struct program *p)
{
    for (int k = 0; k < p->nparams; k++) {
        const struct param *q = &p->params[k], *beside = hooked_with(p, q);
        struct call *kept = NULL;
        for (int i = beside ? p->ncalls - 1 : -1; i >= 0 && !kept; i--) {
            struct call *c = &p->calls[i];
            if (lower_reads(c, q->slot) && (c->rank < 0 || c->rank == q->rank) &&
                !target_is(c->target, TARGET_VIEWS | TARGET_KEEPS | TARGET_REORDERS))
                kept = c;
        }
        for (struct call *c = kept; c && c < p->calls + p->ncalls; c++)
            if (lower_reads(c, kept->outs[0]) && lower_reads(c, beside->slot)) {
                graph_doubt(p->graph, kept->node, target_bare(kept->target), "an export with dynamo=True",
                            "weight_norm multiplies with a number for all, where the file divides each and multiplies");
                kept = c;
            }
        if (!kept || kept->attribute)
            continue;
        kept->kept = kept->outs[0];
        kept->attribute = ++p->nattributes;
        int runs = 0;
        for (struct call *c = kept; c < p->calls + p->ncalls; c++)
            runs += lower_reads(c, kept->kept);
        if (runs > 1)
            graph_doubt(p->graph, kept->node, target_bare(kept->target), "memlint.export",
                        "a hook makes it before each of its module's runs, which the exporter merged");
    }
}

struct program *
lower_run(struct graph *g, const struct setup *setup)
{
    uint64_t asked = 0;
    struct setup noted = *setup, *s = &noted;
    noted.asked = &asked;
    struct lowering *l = lowering_new(g, s);
    lower_module(l, "", NULL);
    lower_inputs(l);
    const bool captured = graph_metadata(g, "memlint.schema") != NULL;
    if (captured) {
        lower_captured(l);
    } else if (g->signature) {
        lower_dynamo(l);
        doubt_unrecorded(g);
        doubt_overwritten(l->p);
        doubt_indexed(l->p);
        unread_doubt(l);
    } else {
        lower_patterns(l);
    }
    if (!captured)
        keep_hooked(l->p);
    lower_outputs(l);
    fact_assume(l);
    type_params(g, l->p);
    if (s->mode == MODE_TRAINING && !captured && fx_says(l, SAYS_APPLY | SAYS_EVAL | SAYS_FUNCTION))
        regions_weigh(l);
    if (!s->recompute && !captured && fx_says(l, SAYS_CHECKPOINT) && setup_trains(s))
        python_checkpoints(l->p, setup_instead(s, ALTERNATIVE_CHECKPOINTS));
    if (!s->recompute && !captured && setup_trains(s) && !l->p->nregions)
        assume_switches(l->p);
    const int by = step_torch(l->p, s);
    if (by < FIRST_RECORDED)
        program_assume(l->p, ALTERNATIVE_NONE,
                       "the step is that of PyTorch %d.%d, the first whose steps were recorded: the file is by %d.%d%s",
                       FIRST_RECORDED / 100, FIRST_RECORDED % 100, by / 100, by % 100,
                       by < FOREACH_SINCE ? ", whose update of one parameter after another and whose zero_grad(), "
                                            "which keeps gradients, the step has"
                                          : "");
    if (s->mode == MODE_TRAINING && !optimizer_told(s->optimizer, by))
        graph_doubt(g, "model", "optimizer", "--torch=2.11, or another --optimizer",
                    "what %s makes in PyTorch %d.%d is not known", optimizer_python(s->optimizer), by / 100, by % 100);
    if (s->mode == MODE_TRAINING && s->parallel && s->parallel->shards && !s->parallel->on_meta)
        program_assume(l->p, ALTERNATIVE_NONE,
                       "each rank builds the whole model on its GPU before fully_shard, and what that took stays "
                       "reserved: built on the meta device, as with fsdp:meta, it would not be");
    if (s->mode == MODE_TRAINING && s->parallel && s->parallel->zero)
        assume_deepspeed(l->p, s);
    if (g->leading)
        program_assume(l->p, ALTERNATIVE_NONE, "the batch is %s, the only leading dimension of an input that is open",
                       g->leading);
    for (int i = 0; i < l->p->ncalls; i++)
        if (l->p->calls[i].op && l->p->calls[i].op->assumes && setup_assumes(s, l->p->calls[i].op->alternative))
            program_assume(l->p, l->p->calls[i].op->alternative, "%s", l->p->calls[i].op->assumes);
    l->p->asked = asked;
    l->p->calls = arena_trim(l->a, l->p->calls, &l->p->cap_calls, l->p->ncalls, sizeof(*l->p->calls));
    return l->p;
}
