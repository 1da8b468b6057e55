/* SPDX-License-Identifier: Apache-2.0 */
/* adapters.c - casts around what adapts a module, such as LoRA's, which only the library's source says.
 *
 * An adapter calls its base layer and adds what it computes itself of the same input. Its forward reads the input in
 * the type of its own parameters, and returns the type of its input or of what the base layer made. In fp32 that is
 * nothing and leaves nothing in the file; under autocast, or with another type of base and adapter, it copies.
 */
#include "lower/dynamo.h"
#include "torch/torch.h"

#include <string.h>

static const char base_layer[] = "base_layer"; /* of an adapter in peft/tuners/tuners_utils.py */

struct adapters {
    struct lowering *l;
    const int *maker;           /* per slot, as program_makers */
    const struct param **param; /* per slot */
    const int *within;          /* per module the adapter that it is or stands in, -1 none */
    const char *base;           /* of the run: path of its base layer */
    int module, first, last;    /* of the run: the adapter, its calls */
    int given, made;            /* slots: what the run reads and makes; -1 not known */
    int ncasts, cap_casts;
    struct added *casts;
};

static bool
in_base(const struct adapters *x, int call)
{
    const struct program *p = x->l->p;
    return path_within(p->modules[p->calls[call].scope].path, x->base);
}

/* The statement of the adapter's own forward in which that call of the run stands, or one behind it. */
static const char *
own_statement(const struct adapters *x, int at)
{
    const struct program *p = x->l->p;
    for (int i = at; i <= x->last; i++)
        if (p->calls[i].scope == x->module && p->calls[i].stack)
            return p->calls[i].stack;
    const char *stack = p->calls[at].stack;
    for (int m = p->calls[at].scope; stack && m != x->module && m > 0; m = p->modules[m].parent)
        stack = p->modules[m].type ? fx_outer(x->l->a, stack) : stack; /* a list of modules is never called */
    return stack;
}

/* A cast of a slot to the type of another, which a statement of the adapter's own makes before call `at`, next to call
 * `of`. */
static struct call *
cast_like(struct adapters *x, int at, int of, int slot, int like)
{
    const struct program *p = x->l->p;
    struct call c = lower_cast(x->l, of, "aten.to_like", slot, (struct arg){.kind = ARG_SLOT, .i = like});
    c.scope = x->module;
    c.stack = own_statement(x, of);
    for (int i = x->first; i <= x->last && !c.scopes; i++)
        c.scopes = p->calls[i].scope == x->module ? p->calls[i].scopes : NULL;
    const int turn = -x->ncasts; /* the last call is found first */
    struct added *cast = PUSH(x->l->a, x->casts, x->ncasts, x->cap_casts);
    *cast = (struct added){at, turn, c};
    return &cast->call;
}

/* Reads its input in the type of the parameter that it adapts with: "x = x.to(self.a.dtype)" behind the base layer. */
static void
adapt(struct adapters *x)
{
    const struct program *p = x->l->p;
    int like = -1, from = -1, slot;
    for (int i = x->first + 1; i <= x->last; i++) {
        if (in_base(x, i))
            continue;
        from = from < 0 ? i : from;
        for (struct call_reads r = {.call = &p->calls[i]}; like < 0 && (slot = next_read(&r)) >= 0;)
            like = x->param[slot] ? slot : -1;
    }
    if (like < 0 || spelled(p->calls[from].target, CASTS_TO | CASTS))
        return;
    struct call *c = cast_like(x, from, from, x->given, like);
    c->stack = fx_before(x->l->a, c->stack, "x");
    for (int i = from; i <= x->last; i++)
        for (struct call_reads r = {.call = &p->calls[i]}; (slot = next_read(&r)) >= 0;)
            if (slot == x->given && !in_base(x, i))
                r.at->i = c->outs[0];
}

/* What the base layer makes; -1 nothing. */
static int
made_by_base(const struct adapters *x)
{
    int made = -1;
    for (int i = x->first; i <= x->last; i++)
        made = in_base(x, i) ? x->l->p->calls[i].outs[0] : made;
    return made;
}

/* Returns what it makes in the type of another slot. */
static void
cast_back(struct adapters *x, int like)
{
    const struct program *p = x->l->p;
    struct call *c = cast_like(x, x->last + 1, x->last, x->made, like);
    const int inside = c->outs[0];
    int slot;
    c->outs[0] = x->made;
    c->args[0].i = inside;
    for (int i = x->first; i <= x->last; i++) {
        for (int k = 0; k < p->calls[i].nouts; k++)
            p->calls[i].outs[k] = p->calls[i].outs[k] == x->made ? inside : p->calls[i].outs[k];
        for (struct call_reads r = {.call = &p->calls[i]}; (slot = next_read(&r)) >= 0;)
            r.at->i = slot == x->made ? inside : slot;
    }
}

/* What the run reads first that it has not made, and what it makes last. */
static void
find_ends(struct adapters *x)
{
    const struct program *p = x->l->p;
    int slot;
    x->given = -1;
    for (int i = x->first; i <= x->last && x->given < 0; i++)
        for (struct call_reads r = {.call = &p->calls[i]}; x->given < 0 && (slot = next_read(&r)) >= 0;)
            x->given = x->maker[slot] < x->first && !x->param[slot] ? slot : -1;
    x->made = p->calls[x->last].nouts == 1 ? p->calls[x->last].outs[0] : -1;
}

/* The first call of the run that ends with call `last`. Dropout that several adapters have in common stands under the
 * name of the first one, also behind what another's base layer made. */
static int
begins(const struct adapters *x)
{
    enum { FOREIGN = 2 };
    const struct call *calls = x->l->p->calls;
    int first = x->last;
    for (bool based = false;;) {
        based |= in_base(x, first);
        int k = first - 1;
        while (k > 0 && first - 1 - k < FOREIGN && !based && x->within[calls[k].scope] >= 0 &&
               x->within[calls[k].scope] != x->module)
            k--;
        if (k < 0 || x->within[calls[k].scope] != x->module)
            return first;
        first = k;
    }
}

static const struct fact *
fact_about(struct lowering *l, const char *type, enum fact_kind kind)
{
    return type ? fact_next(l, NULL, 1u << kind, &(struct place){.around = {type}}) : NULL;
}

void
adapters_cast(struct lowering *l)
{
    struct program *p = l->p;
    struct arena *own = arena_new();
    struct adapters x = {.l = l};
    int *within = NEWN(own, int, p->nmodules + 1);
    bool any = false;
    for (int i = 0; i < p->nmodules; i++) {
        const struct module *m = &p->modules[i];
        within[i] = m->parent >= 0 ? within[m->parent] : -1;
        if (within[i] < 0 && fact_about(l, m->type, FACT_RETURNS))
            within[i] = i;
        any |= within[i] >= 0;
    }
    x.within = within;
    x.maker = any ? program_makers(p, own) : NULL;
    x.param = any ? program_params(p, own) : NULL;
    for (x.last = p->ncalls - 1; x.last >= 0 && any; x.last = x.first - 1) {
        x.first = x.last;
        x.module = within[p->calls[x.last].scope];
        if (x.module < 0)
            continue;
        const char *type = p->modules[x.module].type;
        x.base = arena_printf(l->a, "%s.%s", p->modules[x.module].path, base_layer);
        x.first = begins(&x);
        find_ends(&x);
        if (x.given < 0 || x.made < 0)
            continue;
        const struct fact *returns = fact_about(l, type, FACT_RETURNS);
        const int like = returns->arg ? made_by_base(&x) : x.given;
        if (like >= 0 && !spelled(p->calls[x.last].target, CASTS_TO | CASTS)) /* else the file shows it */
            cast_back(&x, like);
        if (fact_about(l, type, FACT_ADAPTS))
            adapt(&x);
    }
    lower_insert(l, x.casts, x.ncasts);
    arena_free(own);
}
