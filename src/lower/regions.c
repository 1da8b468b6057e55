/* SPDX-License-Identifier: Apache-2.0 */
/* regions.c - what the exporter made a graph of, whose code is its operators' only line.
 *
 * torch.no_grad, torch.autocast and torch.autograd.Function leave their operators so, but not which of them it was. A
 * region is under torch.no_grad where no parameter would be left without a gradient by it, nor one of the parts that a
 * tensor was split into, as queries are, and the step is measured with gradients, too; where one would, the region is
 * under something else, and in doubt; or it is a checkpoint's, where everything behind it is a region, too. Source:
 * torch/_export/passes/replace_with_hop_pass_util.py; CheckpointFunction in torch/utils/checkpoint.py.
 */
#include "lower/dynamo.h"
#include "torch/torch.h"

#include <stdlib.h>
#include <string.h>

struct regions {
    struct arena *own;
    const struct program *p;
    struct names *codes;     /* the regions, by their code */
    int *of;                 /* per call: the region that it is of; -1 none */
    int *number;             /* per region: of its graph, in the order in which graphs were made */
    bool *trains;            /* it has gradients */
    bool *widens;            /* and it casts what it reads, as outside of torch.autocast in it */
    bool *known, *reentrant; /* it is a reentrant checkpoint's if it has gradients, or nothing's; and which */
    bool *inside;            /* likewise, of what follows each other: it is what the first one is, a checkpoint's */
    bool *goes_on;           /* and it is of the checkpoint before it */
    int n, cap;
};

/* Which calls are of which region, those that were put between them since included. */
static void
place_calls(struct regions *r)
{
    r->of = NEWN(r->own, int, r->p->ncalls + 1);
    for (int i = 0; i < r->p->ncalls; i++) {
        size_t len;
        const char *code = python_region(r->p->calls[i].stack, &len);
        r->of[i] = -1;
        if (!code)
            continue;
        code = arena_strn(r->own, code, len);
        if ((r->of[i] = names_find(r->codes, code)) < 0) {
            *PUSH(r->own, r->number, r->n, r->cap) = python_region_number(code);
            names_put(r->codes, code, r->of[i] = r->n - 1);
        }
    }
}

static void
find_regions(struct regions *r)
{
    r->codes = names_new(r->own);
    place_calls(r);
    r->trains = NEWN(r->own, bool, r->n + 1);
    r->widens = NEWN(r->own, bool, r->n + 1);
    r->known = NEWN(r->own, bool, r->n + 1);
    r->reentrant = NEWN(r->own, bool, r->n + 1);
    r->inside = NEWN(r->own, bool, r->n + 1);
    r->goes_on = NEWN(r->own, bool, r->n + 1);
}

/* What the file has no line of, and a region's first call reads behind it, is of it where its code has lines before
 * that call's: the first is the fifth, and a batch norm's is behind that of its counter. Source: torch/fx/graph.py:
 * python_code; torch/nn/modules/batchnorm.py: num_batches_tracked. */
static void
place_lost(struct program *p, struct regions *r)
{
    enum { FIRST_LINE = 5 };
    const int *maker = program_makers(p, r->own);
    for (int i = 1, slot, lost; i < p->ncalls; i++) {
        const struct call *c = &p->calls[i];
        const bool begins = r->of[i] >= 0 && !p->calls[i - 1].stack && (i < 2 || r->of[i - 2] != r->of[i]);
        if (!begins)
            continue;
        int line = python_frame_line(python_inner(c->stack)) - spelled(target_bare(c->target), TRAINS);
        for (struct call_reads reads = {c}; (slot = next_read(&reads)) >= 0;)
            if ((lost = maker[slot]) == i - 1 && line-- > FIRST_LINE) {
                p->calls[lost].stack = c->stack;
                r->of[lost] = r->of[i];
            }
    }
}

/* Whether a call reads a parameter that is trained. */
static bool
reads_trained(const struct program *p, const struct call *c)
{
    int slot;
    bool trained = false;
    for (struct call_reads reads = {c}; (slot = next_read(&reads)) >= 0;) {
        const struct param *q = program_param(p, slot);
        trained |= q && q->kind == PARAM_TRAINED;
    }
    return trained;
}

/* The layer of a list that module m is, or is in; -1 none. */
static int
layer_around(const struct program *p, int m)
{
    for (; m > 0; m = p->modules[m].parent)
        if (path_listed(p->modules[m].path))
            return m;
    return -1;
}

/* The module around all parameters that a region reads; the model where it reads none. */
static int
module_read(const struct program *p, int first, int end)
{
    int module = -1, slot;
    for (int i = first; i < end; i++)
        for (struct call_reads reads = {&p->calls[i]}; (slot = next_read(&reads)) >= 0;) {
            const struct param *q = program_param(p, slot);
            if (!q || param_is_state(q))
                continue;
            module = module < 0 ? q->module : module;
            while (module > 0 && !path_within(p->modules[q->module].path, p->modules[module].path))
                module = p->modules[module].parent;
        }
    return module < 0 ? 0 : module;
}

/* Whether a region's calls, i to end - 1, read no parameter, and its graph is in another one's: a torch.autocast's in a
 * torch.no_grad, as around what a rotary embedding computes, which no checkpoint is. */
static bool
is_table(const struct program *p, struct arena *a, int i, int end)
{
    const char *inner = python_inner(p->calls[i].stack), *frame = python_frame(p->calls[i].stack);
    return frame < inner && python_is_traced(arena_strn(a, frame, (size_t)(inner - frame))) && !module_read(p, i, end);
}

/* Of graphs that follow each other, calls i to end - 1, which are what the first is: every second one, and what goes on
 * in the layer that one read, behind graphs of its own, as of a torch.autocast in it. */
static void
find_inside(const struct program *p, struct regions *r, int i, int end)
{
    int base = r->of[i], layer = -1, at = i;
    bool tables = true;
    r->inside[base] = true;
    for (int k = i, next; k < end; k = next) {
        const int of = r->of[k];
        for (next = k + 1; next < end && (r->of[next] == of || r->of[next] < 0);)
            next++;
        if (of < 0)
            continue;
        if (tables && is_table(p, r->own, k, next)) {
            base = next < end ? r->of[next] : base;
            r->inside[base] = true;
            continue;
        }
        tables = false;
        const int own = layer_around(p, module_read(p, k, next)), gap = r->number[of] - r->number[base];
        const bool goes_on = own >= 0 && own == layer && gap > 2;
        r->inside[of] = goes_on || gap % 2 == 0 ? r->inside[base] : !r->inside[base];
        for (; goes_on && at <= k; at++)
            if (r->of[at] >= 0 && r->of[at] != base) {
                r->inside[r->of[at]] = r->inside[base];
                r->goes_on[r->of[at]] = true;
            }
        if (own >= 0) {
            base = of;
            layer = own;
            at = k;
        }
    }
}

/* The regions under torch.utils.checkpoint, if they have gradients. What enters torch.no_grad or leaves it begins a
 * region, but for what has gradients again; a reentrant checkpoint enters it in a function where they are switched off
 * already, so that what is behind it is a region, too, up to the model's end or to that of a torch.no_grad: of the
 * graphs every second one is a checkpoint's. */
static void
find_reentrant(struct program *p, struct regions *r)
{
    for (int i = 0, end; i < p->ncalls; i = end) {
        const int first = r->of[i];
        int last = first;
        bool behind = false, trained = false;
        for (end = i; end == i || (first >= 0 && end < p->ncalls && (r->of[end] >= 0 || !p->calls[end].stack)); end++)
            if (r->of[end] >= 0) {
                last = r->of[end];
                behind |= r->number[last] != r->number[first]; /* what is behind may have left nothing */
            }
        if (behind)
            find_inside(p, r, i, end);
        for (int k = i; k < end && behind && !trained; k++)
            trained = r->of[k] >= 0 && r->inside[r->of[k]] && reads_trained(p, &p->calls[k]);
        for (int k = i; k < end && behind && trained; k++) {
            const int of = r->of[k];
            if (of < 0)
                continue;
            const bool inside = r->inside[of];
            r->known[of] = true;
            r->reentrant[of] = inside && (of != last || end == p->ncalls);
            r->trains[of] = !inside;
            p->calls[k].no_grad |= inside && !r->reentrant[of];
        }
    }
}

/* The tensor that a hook makes require a gradient, as enable_input_require_grads() of Transformers does for a frozen
 * model: what the embedding makes of which a region reads, or what that reads first. -1 none. */
static int
hooked_input(const struct program *p, const int *maker, int first)
{
    int slot = -1, k = 0, of;
    for (struct call_reads reads = {&p->calls[first]}; slot < 0 && (of = next_read(&reads)) >= 0;)
        slot = maker[of] >= 0 ? of : -1;
    for (int at = slot; at >= 0 && maker[at] >= 0 && k <= p->ncalls; k++) {
        const struct call *c = &p->calls[maker[at]];
        if (spelled(target_bare(c->target), LOOKS_UP))
            return c->outs[0];
        at = c->nargs && c->args[0].kind == ARG_SLOT ? (int)c->args[0].i : -1;
    }
    return slot;
}

/* A reentrant checkpoint has gradients if one of its inputs does: where parameters alone would, a hook sees to it. */
static void
ask_inputs(struct lowering *l, struct regions *r)
{
    struct program *p = l->p;
    bool *grows = lower_trained(p, r->own);
    const int *maker = program_makers(p, r->own);
    int asked = -1;
    for (int i = 0, end, slot; i < p->ncalls && asked < 0; i = end) {
        const int of = r->of[i];
        bool trained = false, input = false;
        for (end = i; end < p->ncalls && (end == i || (of >= 0 && r->of[end] == of)); end++) {
            trained |= reads_trained(p, &p->calls[end]);
            for (struct call_reads reads = {&p->calls[end]}; (slot = next_read(&reads)) >= 0;)
                input |= grows[slot] && maker[slot] < i && !program_param(p, slot);
            lower_grows(&p->calls[end], grows);
        }
        if (of >= 0 && r->reentrant[of] && r->trains[of] && trained && !input)
            asked = hooked_input(p, maker, i);
    }
    if (asked < 0)
        return;
    lower_requires_grad(l, maker[asked]);
    place_calls(r);
}

static bool
reads_within(const struct program *p, const struct region *r, int slot)
{
    bool reads = false;
    for (int i = r->first; i < r->end && !reads; i++)
        reads = lower_reads(&p->calls[i], slot);
    return reads;
}

/* Whether two regions are one, in which something ran under torch.no_grad: they read parameters of one layer of a list,
 * and the second several tensors that the first made, or one and what the first reads of others. */
static bool
one_checkpoint(const struct program *p, const bool *grows, const struct region *a, const struct region *b)
{
    const int layer = layer_around(p, module_read(p, a->first, a->end));
    if (layer < 0 || layer_around(p, module_read(p, b->first, b->end)) != layer)
        return false;
    int made = 0, slot;
    bool read = false;
    for (int i = a->first; i < b->first; i++) {
        const struct call *c = &p->calls[i];
        if (i >= a->end && grows[c->outs[0]])
            return false;
        for (int k = 0; k < c->nouts && i < a->end; k++)
            made += reads_within(p, b, c->outs[k]);
        for (struct call_reads own = {c}; !read && i < a->end && (slot = next_read(&own)) >= 0;) {
            const struct call *m = group_maker(p, slot);
            read = grows[slot] && m && m < p->calls + a->first && reads_within(p, b, slot);
        }
    }
    return made > 1 || (made && read);
}

/* The program has these under checkpoint. */
static void
checkpoint_regions(struct lowering *l, struct regions *r)
{
    struct program *p = l->p;
    struct region *regions = NULL;
    int n = 0, cap = 0;
    ask_inputs(l, r);
    bool *grows = lower_trained(p, r->own);
    for (int i = 0; i < p->ncalls; i++)
        lower_grows(&p->calls[i], grows);
    for (int i = 0, end; i < p->ncalls; i = end) {
        const int of = r->of[i];
        for (end = i + 1; end < p->ncalls && (r->of[end] == of || !p->calls[end].stack);)
            end++;
        while (end > i + 1 && r->of[end - 1] != of)
            end--;
        if (of < 0 || !r->reentrant[of] || !r->trains[of])
            continue;
        struct region next = {.first = i, .end = end, .reentrant = true};
        if (n && r->goes_on[of]) {
            regions[n - 1].end = end;
            continue;
        }
        if (n && one_checkpoint(p, grows, &regions[n - 1], &next)) {
            for (int k = regions[n - 1].end; k < i; k++)
                p->calls[k].no_grad = true;
            regions[n - 1].end = end;
            continue;
        }
        *PUSH(l->a, regions, n, cap) = next;
    }
    for (int i = 0; i < n; i++) {
        const int module = module_read(p, regions[i].first, regions[i].end);
        regions[i].module = p->modules[module].path;
        for (int k = regions[i].first; k < regions[i].end && module; k++)
            p->calls[k].scope = module;
    }
    if (n)
        program_assume(p, ALTERNATIVE_NONE,
                       "the exporter left graphs of %d checkpoints with use_reentrant=True, the first one around %s", n,
                       *regions[0].module ? regions[0].module : "calls of the model's own");
    p->regions = regions;
    p->nregions = n;
}

bool *
regions_go_on(struct lowering *l, struct arena *a)
{
    struct regions r = {.own = a, .p = l->p};
    bool *go_on = NEWN(a, bool, l->p->ncalls + 1);
    find_regions(&r);
    find_reentrant(l->p, &r);
    for (int i = 0; i < l->p->ncalls; i++)
        go_on[i] = r.of[i] >= 0 && (r.reentrant[r.of[i]] || r.trains[r.of[i]]);
    return go_on;
}

void
regions_no_grad(struct lowering *l, int i)
{
    struct program *p = l->p;
    size_t len, n;
    const char *code = python_region(p->calls[i].stack, &len), *own;
    if (p->calls[i].no_grad || setup_instead(l->s, ALTERNATIVE_GRADIENTS))
        return;
    for (int k = 0; k < p->ncalls; k++)
        if ((own = python_region(p->calls[k].stack, &n)) && n == len && strncmp(own, code, n) == 0)
            p->calls[k].no_grad = true;
}

/* Whether it is what a power iteration goes on from, which runs under torch.no_grad. Source: _power_method of
 * torch/nn/utils/parametrizations.py, compute_weight of torch/nn/utils/spectral_norm.py. */
static bool
is_iterated(const struct lowering *l, const struct param *q)
{
    const char *end = strrchr(q->name, '_');
    if (q->kind != PARAM_BUFFER || !end || (strcmp(end, "_u") != 0 && strcmp(end, "_v") != 0))
        return false;
    const char *weight = arena_printf(l->a, "%.*s_orig", (int)(end - q->name), q->name);
    return strstr(q->name, "parametrizations.") || names_find(l->params, weight) >= 0;
}

/* The buffer that a line writes its result over, "out = b_weight_v"; NULL it makes one. */
static const struct param *
written_over(struct lowering *l, const char *stack)
{
    static const char out[] = ", out = ";
    const char *line = fx_line(l->a, stack), *at = strstr(line, out);
    if (!at)
        return NULL;
    at += strlen(out);
    int slot = names_find(l->slots, arena_strn(l->a, at, python_name(at)));
    return slot < 0 ? NULL : program_param(l->p, slot);
}

/* Behind its region what an iteration wrote is read as copies, which leave names: first that of u, then that of v. */
static void
copy_iterated(struct lowering *l, struct regions *r, int region, const int slots[2])
{
    struct program *p = l->p;
    int first = 0, slot;
    bool reads = false;
    for (; first < p->ncalls && !reads; first += !reads)
        for (struct call_reads of = {&p->calls[first]}; r->of[first] != region && (slot = next_read(&of)) >= 0;)
            reads |= slot == slots[0] || slot == slots[1];
    for (int k = 0; k < 2 && reads; k++, first++) {
        struct call *c = lower_call_at(l, first, first, "aten.clone.default", 1);
        c->args[0] = (struct arg){.kind = ARG_SLOT, .i = slots[k]};
        c->stack = NULL;
        const int copy = c->outs[0];
        place_calls(r);
        for (int i = first + 1; i < p->ncalls; i++)
            for (struct call_reads of = {&p->calls[i]}; (slot = next_read(&of)) >= 0;)
                if (slot == slots[k])
                    of.at->i = copy;
    }
}

/* The regions of power iterations have no gradients, and write over the buffers that they went on from. */
static void
switch_iterations(struct lowering *l, struct regions *r)
{
    struct program *p = l->p;
    bool *iterated = NEWN(r->own, bool, p->nslots + 1), *off = NEWN(r->own, bool, r->n + 1);
    int(*last)[2] = arena_alloc(r->own, sizeof(*last) * (size_t)(r->n + 1)), slot;
    for (int i = 0; i < p->nparams; i++)
        iterated[p->params[i].slot] = is_iterated(l, &p->params[i]);
    for (int i = 0; i < p->ncalls; i++)
        for (struct call_reads reads = {&p->calls[i]}; r->of[i] >= 0 && (slot = next_read(&reads)) >= 0;)
            off[r->of[i]] |= iterated[slot];
    for (int i = 0; i < p->ncalls; i++) {
        struct call *c = &p->calls[i];
        if (r->of[i] < 0 || !off[r->of[i]])
            continue;
        c->no_grad = true;
        const struct param *over = written_over(l, c->stack);
        if (!over || !iterated[over->slot])
            continue;
        c->target = "aten.alias.default";
        c->op = aten_find(c->target);
        c->nargs = 1;
        c->args[0] = (struct arg){.kind = ARG_SLOT, .i = over->slot};
        last[r->of[i]][ends_with(over->name, "v")] = c->outs[0];
    }
    for (int i = 0; i < r->n; i++)
        if (last[i][0] && last[i][1])
            copy_iterated(l, r, i, last[i]);
}

const char *
regions_argument(struct arena *a, const struct call *c, int k)
{
    const char *line = fx_line(a, c->stack), *p = strchr(line, '(');
    for (int depth = 0; p && *++p && depth >= 0 && k > 0;) {
        k -= !depth && *p == ',';
        depth += python_opens(*p);
    }
    return p ? arena_strn(a, p + strspn(p, " "), python_name(p + strspn(p, " "))) : "";
}

/* Whether a call in a region reads its argument k, which the region did not make, by a cast. */
static bool
casts_read(const struct lowering *l, const struct regions *r, int at, int k)
{
    const struct arg *arg = &l->p->calls[at].args[k];
    const struct call *m = arg->kind == ARG_SLOT ? group_maker(l->p, (int)arg->i) : NULL;
    return arg->kind == ARG_SLOT && (!m || r->of[m - l->p->calls] != r->of[at]) &&
           spelled(regions_argument(r->own, &l->p->calls[at], k), CASTS_TO);
}

/* The regions that cast what they read have gradients. */
static void
train_widened(struct lowering *l, struct regions *r, bool *grows)
{
    bool any = false;
    for (int i = 0; i < l->p->ncalls; i++)
        for (int k = 0; r->of[i] >= 0 && k < l->p->calls[i].nargs; k++)
            if (casts_read(l, r, i, k)) {
                r->widens[r->of[i]] = true;
                any |= lower_grows(&l->p->calls[i], grows);
            }
    if (any)
        program_assume(l->p, ALTERNATIVE_WIDENED,
                       "what the exporter left the code of a graph of, and casts what it reads, runs under "
                       "torch.autocast with enabled=False, and not under torch.no_grad");
    for (int i = 0; i < r->n && !setup_instead(l->s, ALTERNATIVE_WIDENED); i++)
        r->trains[i] |= r->widens[i];
}

/* The slots from which a gradient comes back to what the model returns; trains: per region; NULL all have one. */
static bool *
reaching(const struct regions *r, const bool *trains)
{
    const struct program *p = r->p;
    bool *to = NEWN(r->own, bool, p->nslots + 1);
    for (int i = 0; i < p->noutputs; i++)
        if (p->outputs[i].slot >= 0)
            to[p->outputs[i].slot] = true;
    for (int i = p->ncalls - 1; i >= 0; i--) {
        const struct call *c = &p->calls[i];
        bool any = false;
        for (int k = 0; k < c->nouts; k++)
            any |= to[c->outs[k]];
        any &= !c->no_grad && (!c->op || c->op->grad) && (!trains || r->of[i] < 0 || trains[r->of[i]]);
        int slot;
        for (struct call_reads reads = {c}; any && (slot = next_read(&reads)) >= 0;)
            to[slot] = true;
    }
    return to;
}

/* The regions that cut parameters or parts off have gradients: true some more have. */
static bool
train_more(struct regions *r, const bool *all)
{
    const struct program *p = r->p;
    const bool *to = reaching(r, r->trains);
    bool *cut = NEWN(r->own, bool, p->nslots + 1), more = false;
    for (int i = 0; i < p->nparams; i++) {
        const struct param *q = &p->params[i];
        cut[q->slot] = q->kind == PARAM_TRAINED && all[q->slot] && !to[q->slot];
    }
    for (int i = 0; i < p->ncalls; i++) {
        const struct call *c = &p->calls[i];
        bool any = false;
        int slot;
        for (struct call_reads reads = {c}; (slot = next_read(&reads)) >= 0;)
            any |= cut[slot];
        any &= !c->no_grad && (!c->op || c->op->grad);
        if (any && r->of[i] >= 0 && !r->trains[r->of[i]]) {
            more = r->trains[r->of[i]] = true;
            any = false;
        }
        const bool parts = c->nouts > 1 && target_is(c->target, TARGET_VIEWS) && r->of[i] < 0;
        for (int k = 0; k < c->nouts; k++)
            cut[c->outs[k]] = any || (parts && all[c->outs[k]] && !to[c->outs[k]]);
    }
    return more;
}

/* Regions that cut no parameter off run under torch.no_grad. */
static void
switch_off(struct lowering *l, struct regions *r)
{
    switch_iterations(l, r);
    bool *grows = lower_trained(l->p, r->own), any = false;
    const bool *all = reaching(r, NULL);
    train_widened(l, r, grows);
    while (train_more(r, all))
        ;
    for (int i = 0; i < l->p->ncalls; i++) {
        bool off = r->of[i] >= 0 && !r->trains[r->of[i]] && !l->p->calls[i].no_grad;
        any |= lower_grows(&l->p->calls[i], grows) && off;
    }
    if (any)
        program_assume(l->p, ALTERNATIVE_GRADIENTS,
                       "what the exporter left the code of a graph of runs under torch.no_grad where every parameter "
                       "that has a gradient has one without it, too: torch.autocast has such code, and gradients");
    for (int i = 0; i < l->p->ncalls && any && !setup_instead(l->s, ALTERNATIVE_GRADIENTS); i++)
        l->p->calls[i].no_grad |= r->of[i] >= 0 && !r->trains[r->of[i]];
}

/* A stack down to the function that it ends in, whichever of its lines. */
static const char *
function_key(struct arena *a, const char *stack)
{
    const char *inner = python_inner(stack);
    return inner ? arena_strn(a, stack, (size_t)(inner - stack) + strcspn(inner, ",")) : stack;
}

/* The stacks of nodes in whose frames a forward() ran that is no module's. NULL there are none. A node that the
 * exporter moved to another module has the frames of its own: where others run there as their modules' do, it does. */
static struct names *
functions_of(const struct lowering *l, struct arena *a)
{
    struct names *stacks = fx_says(l, SAYS_FUNCTION) ? names_new(a) : NULL, *modules = stacks ? names_new(a) : NULL;
    for (int i = 0; i < l->g->nn && stacks; i++) {
        const char *stack = l->g->n[i].stack;
        if (stack && !(fx_record(l, i)->says & SAYS_FUNCTION))
            names_put(modules, function_key(a, stack), i);
    }
    for (int i = 0; i < l->g->nn && stacks; i++) {
        const char *stack = l->g->n[i].stack;
        if (stack && fx_record(l, i)->says & SAYS_FUNCTION && names_find(stacks, stack) < 0 &&
            names_find(modules, function_key(a, stack)) < 0)
            names_put(stacks, stack, i);
    }
    return stacks;
}

/* The casts by which regions read, each for all calls of its region, and torch.autocast off in these. */
static void
widen(struct lowering *l, const struct regions *r)
{
    struct program *p = l->p;
    struct names *made = names_new(r->own);
    struct added *casts = NULL;
    int n = 0, cap = 0;
    for (int i = 0; i < p->ncalls; i++) {
        struct call *c = &p->calls[i];
        if (r->of[i] < 0 || !r->widens[r->of[i]])
            continue;
        c->no_autocast |= !setup_instead(l->s, ALTERNATIVE_WIDENED);
        for (int k = 0; k < c->nargs; k++) {
            if (!casts_read(l, r, i, k))
                continue;
            const char *key = arena_printf(r->own, "%d %d", r->of[i], (int)c->args[k].i);
            int slot = names_find(made, key);
            if (slot < 0) {
                struct call cast = lower_cast(l, i, "aten.to.dtype", (int)c->args[k].i, DTYPE(DT_FLOAT));
                cast.stack = c->stack;
                cast.scope = c->scope;
                cast.scopes = c->scopes;
                slot = cast.outs[0];
                names_put(made, key, slot);
                *PUSH(l->a, casts, n, cap) = (struct added){.at = i, .turn = k, .call = cast};
            }
            c->args[k].i = slot;
        }
    }
    lower_insert(l, casts, n);
}

/* Whether call `at` of a region is a layer's whose parameters are trained, and were not cast for it: it may be of
 * another network, under torch.no_grad. */
static bool
runs_layer(const struct lowering *l, const struct regions *r, int at)
{
    const struct program *p = l->p;
    const struct call *c = &p->calls[at];
    const char *type = p->modules[c->scope].type;
    const bool layer = type && starts_with(type, "torch.");
    for (int k = 0; k < c->nargs; k++) {
        const struct param *q = c->args[k].kind == ARG_SLOT ? program_param(p, (int)c->args[k].i) : NULL;
        if (q && q->kind == PARAM_TRAINED && (layer || q->module != c->scope) && !casts_read(l, r, at, k))
            return true;
    }
    return false;
}

void
regions_weigh(struct lowering *l)
{
    struct regions r = {.own = arena_new(), .p = l->p};
    const struct names *functions = functions_of(l, r.own);
    find_regions(&r);
    place_lost(l->p, &r);
    if (r.number) {
        find_reentrant(l->p, &r);
        switch_off(l, &r);
    }
    bool *grows = lower_trained(l->p, r.own);
    for (int i = 0; i < l->p->ncalls; i++) {
        const struct call *c = &l->p->calls[i];
        bool reads = lower_grows(c, grows);
        const char *stack = reads && c->stack ? c->stack : "", *applied = strstr(stack, ".apply(");
        const bool function =
            (applied && strstr(applied, "\n  File ")) || (functions && names_find(functions, stack) >= 0);
        const char *why = function
                              ? "it runs in an autograd.Function, and the file does not say what that keeps for its "
                                "backward"
                          : reads && r.of[i] >= 0 && r.trains[r.of[i]] && !r.known[r.of[i]] &&
                                  (!r.widens[r.of[i]] || runs_layer(l, &r, i))
                              ? "it runs under torch.no_grad, torch.autocast or in an autograd.Function, such as "
                                "torch.utils.checkpoint with use_reentrant=True, and the file does not say under "
                                "which: use_reentrant=False leaves its line"
                              : NULL;
        if (why) {
            graph_doubt(l->p->graph, c->node, "torch.autograd.Function", NULL, "%s", why);
            break;
        }
    }
    widen(l, &r);
    place_calls(&r);
    bool reentrant = false;
    for (int i = 0; i < r.n; i++)
        reentrant |= r.reentrant[i] && r.trains[i];
    if (reentrant && !l->s->recompute)
        checkpoint_regions(l, &r);
    arena_free(r.own);
}
