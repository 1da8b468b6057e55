/* SPDX-License-Identifier: Apache-2.0 */
/* casts.c - casts that a line of Python says and a file in fp32 has not.
 *
 * .float() of what is fp32 already leaves nothing in a file, but copies under autocast and in a model of halves. Where
 * a line calls an operator or a torch.nn module once, its text tells which casts stand right around the call: of its
 * receiver or first argument, and of its result. Casts in statements of their own are no part of any line that a file
 * has. Likewise what is made in the type of another tensor, "torch.rand(n, dtype=x.dtype)", is in fp32 in the file.
 */
#include "lower/dynamo.h"
#include "program/program.h"
#include "torch/torch.h"

#include <ctype.h>
#include <string.h>

static const char *const to_float[] = {".float()", ".to(torch.float32)", ".to(dtype=torch.float32)", ".to(torch.float)",
                                       ".type(torch.float32)"};

/* Classes whose forward calls the operator in a line of its own, so that casts stand where the module is called. */
static const char *const libraries[] = {"torch.nn.modules."};

/* What stands around the one call of a function in a line. */
struct around {
    const char *operand, *operand_end; /* its receiver or first argument, to its last cast */
    bool in, out;                      /* are cast to fp32 */
    const char *like;                  /* whose type the result goes back to, to its end; NULL none */
    size_t like_len;
    const char *in_like; /* whose type the operand gets; NULL none */
};

/* Behind the bracket that closes what `open` stands behind; the text's end without one. Stops at a comma if told. */
static const char *
closing(const char *open, bool comma)
{
    int depth = 0;
    for (; *open; open++) {
        int opens = python_opens(*open);
        if (depth == 0 && (opens < 0 || (comma && *open == ',')))
            break;
        depth += opens;
    }
    return open;
}

/* The begin of the expression whose method stands at p: names, calls and indices that are chained. */
static const char *
chain_begin(const char *line, const char *p)
{
    int depth = 0;
    for (; p > line; p--) {
        const char c = p[-1];
        const bool opens = c == '(' || c == '[';
        if (c == ')' || c == ']')
            depth++;
        else if (opens && depth-- == 0)
            break;
        else if (!depth && !opens && !isalnum((unsigned char)c) && c != '_' && c != '.')
            break;
    }
    return p;
}

/* Whether the text is one such expression, so that a method at its end is of all of it: "x / y.float()" is none. */
static bool
is_chain(const char *begin, const char *end)
{
    return chain_begin(begin, end) == begin;
}

/* The length of a cast to fp32 that ends at `end`, or that begins at p; 0 none. */
static size_t
ends_in_cast(const char *begin, const char *end)
{
    for (int i = 0; i < COUNT(to_float); i++) {
        size_t n = strlen(to_float[i]);
        if ((size_t)(end - begin) > n && strncmp(end - n, to_float[i], n) == 0)
            return is_chain(begin, end) ? n : 0;
    }
    return 0;
}

static size_t
begins_with_cast(const char *p)
{
    for (int i = 0; i < COUNT(to_float); i++)
        if (strncmp(p, to_float[i], strlen(to_float[i])) == 0)
            return strlen(to_float[i]);
    return 0;
}

/* "x" of ".type_as(x)", ".to(x.dtype)" and ".type(x.dtype)". */
static void
read_like(const char *p, struct around *w)
{
    static const char type_as[] = ".type_as(", dtype[] = ".dtype", *const to[] = {".to(", ".type("};
    bool as = starts_with(p, type_as), goes = as;
    for (int i = 0; i < COUNT(to); i++)
        goes |= starts_with(p, to[i]);
    if (!goes)
        return;
    p += strcspn(p, "(") + 1;
    const char *end = closing(p, true);
    if (!as && (end - p < (ptrdiff_t)sizeof(dtype) || strncmp(end - sizeof(dtype) + 1, dtype, sizeof(dtype) - 1) != 0))
        return;
    w->like = p;
    w->like_len = (size_t)(end - p) - (as ? 0 : sizeof(dtype) - 1);
}

/* What Python writes between two operands. */
static const struct {
    const char *target;
    char symbol;
} operators[] = {{"aten.mul.Tensor", '*'},
                 {"aten.add.Tensor", '+'},
                 {"aten.sub.Tensor", '-'},
                 {"aten.div.Tensor", '/'},
                 {"aten.matmul.default", '@'}};

static char
symbol_of(const char *target)
{
    char symbol = 0;
    for (int i = 0; i < COUNT(operators) && !symbol; i++)
        symbol = strcmp(operators[i].target, target) == 0 ? operators[i].symbol : 0;
    return symbol;
}

/* Where the line writes its only such operator; NULL it writes none, or several. */
static const char *
only_operator(const char *line, const char *target)
{
    const char *at = NULL;
    const char symbol = symbol_of(target);
    for (const char *p = line; symbol && (p = strchr(p, symbol)); p++) {
        const char *before = p;
        while (before > line && before[-1] == ' ')
            before--;
        if (before == line || (!isalnum((unsigned char)before[-1]) && !strchr(")]_", before[-1])))
            continue; /* it has one operand, or is the second of "**" */
        if (at || p[1] == symbol)
            return NULL;
        at = p;
    }
    return at;
}

/* Of "(x + y).to(x.dtype)" which operand the sum goes back to; -1 none. Such a bracket has no other operator. */
static int
goes_back(const char *line, const char *target)
{
    const char *at = only_operator(line, target), *open = at;
    struct around w = {.operand = NULL};
    for (int depth = 0; open && open > line && depth >= 0; open--)
        depth -= python_opens(open[-1]);
    const char *end = at ? closing(at + 1, false) : NULL;
    if (!end || *end != ')' || *open != '(' || (open > line && (isalnum((unsigned char)open[-1]) || open[-1] == '_')))
        return -1;
    read_like(end + 1, &w);
    const char *side[] = {open + 1, at + 1 + strspn(at + 1, " ")}, *ends[] = {at, end};
    for (int i = 0; i < COUNT(side) && w.like; i++) {
        while (ends[i] > side[i] && *(ends[i] - 1) == ' ')
            ends[i]--;
        if ((size_t)(ends[i] - side[i]) == w.like_len && strncmp(side[i], w.like, w.like_len) == 0)
            return i;
    }
    return -1;
}

/* "w" of what ends in ".type_as(w)" or ".to(w.dtype)"; NULL of other expressions. */
static const char *
ends_like(struct arena *a, const char *p, const char *end)
{
    struct around w = {.operand = NULL};
    const char *dot = NULL, *begin = p;
    for (int depth = 0; p < end; depth += python_opens(*p++))
        dot = depth == 0 && *p == '.' ? p : dot;
    if (dot)
        read_like(dot, &w);
    return w.like && is_chain(begin, end) ? arena_strn(a, w.like, w.like_len) : NULL;
}

/* Whether the operand on a side of the line's only such operator is cast to fp32. */
static bool
side_is_cast(const char *line, const char *target, bool right)
{
    const char *at = only_operator(line, target);
    if (!at)
        return false;
    const char *end = at;
    if (!right) {
        while (end > line && end[-1] == ' ')
            end--;
        return ends_in_cast(chain_begin(line, end), end) > 0;
    }
    for (at++; *at == ' '; at++)
        ;
    for (end = at; *end && (isalnum((unsigned char)*end) || strchr("_.([", *end)); end += *end != 0)
        if (strchr("([", *end))
            end = closing(end + 1, false); /* of a line that goes on, its end */
    return ends_in_cast(at, end) > 0;
}

static bool
read_around(struct arena *a, const char *line, const char *name, struct around *w)
{
    const char *in = python_calls(line, name);
    if (!in || python_calls(in, name))
        return false;
    const char *word = in - strlen(name) - 1, *end = closing(in, false);
    *w = (struct around){.operand = in, .operand_end = closing(in, true)};
    if (word > line && word[-1] == '.') {
        const char *begin = chain_begin(line, word - 1);
        if (ends_in_cast(begin, word - 1) || ends_like(a, begin, word - 1)) {
            w->operand = begin;
            w->operand_end = word - 1;
        }
    }
    size_t cast = ends_in_cast(w->operand, w->operand_end);
    w->in = cast > 0;
    w->in_like = ends_like(a, w->operand, w->operand_end);
    w->operand_end -= cast;
    end += *end == ')';
    size_t wide = begins_with_cast(end);
    w->out = wide > 0;
    read_like(end + wide, w);
    return true;
}

/* The statement that calls what the group is, by an operator's own name or by a torch.nn module's. */
static const char *
statement_of(const struct dynamo *d, const struct group *g, struct around *w)
{
    const struct traced *r = fx_record(d->l, g->last)->traced;
    const bool module = g->type && starts_with(g->type, libraries[0]), inner = module || r->in_torch;
    const char *name = module        ? path_last(g->path ? g->path : "")
                       : r->in_torch ? "super().forward" /* super().forward(x.float()).type(x.dtype) */
                                     : spelled_in(d->l->a, r->line, g->target);
    return !read_around(d->l->a, inner ? r->around : r->line, name, w) ? NULL
           : inner                                                     ? r->outer
                                                                       : d->l->g->n[g->last].stack;
}

static int
stated(struct dynamo *d, int slot, const char *stack, int tensor)
{
    struct call *c = &d->l->p->calls[d->l->p->ncalls - 1];
    c->stack = stack;
    if (tensor >= 0)
        lower_sizes(d->l, &d->l->g->t[tensor], &c->rank, &c->size);
    return slot;
}

int
casts_operand(struct dynamo *d, const struct group *g, int nth, int slot)
{
    struct around w;
    if (!fx_record(d->l, g->last)->traced->casts)
        return slot;
    const char *own = d->l->g->n[g->last].stack;
    if (nth < 2 && side_is_cast(fx_line_at(d, g->last), g->target, nth == 1))
        return stated(d, group_to_float(d, g, slot), own, -1);
    const char *stack = nth ? NULL : statement_of(d, g, &w);
    if (!stack || !(w.in || w.in_like))
        return slot;
    const bool parameter = w.in_like && starts_with(w.in_like, "self."), named = w.in_like && !strchr(w.in_like, '.');
    const struct call line = {.stack = stack, .scopes = d->l->g->n[g->last].scopes};
    const int like = named ? python_named(d->l->p, &line, w.in_like) : -1;
    const struct call *made = group_maker(d->l->p, slot);
    const bool left = made && target_named(made->target, "to_like"); /* of the call its name: "%type_as" */
    if (left && like >= 0)
        d->l->p->calls[made - d->l->p->calls].args[1].i = like;
    if (left || like == slot)
        return slot;
    slot = like >= 0 ? group_cast_like(d, g, slot, like) : group_to_float(d, g, slot);
    d->l->p->calls[d->l->p->ncalls - 1].either_type |= !w.in && like < 0 && !parameter;
    return stated(d, slot, stack, -1);
}

/* Modules whose functions a line calls as it calls methods. */
static const char *const modules[] = {"torch", "F", "nn.functional", "torch.nn.functional", "torch.linalg"};

/* What the line gives the one call of a function in place k, its receiver being the first: to its end. NULL it gives
 * none there, or by a keyword. */
static const char *
given(const char *line, const char *name, int k, const char **end)
{
    const char *p = python_calls(line, name), *word = p ? p - strlen(name) - 1 : NULL;
    if (!p || python_calls(p, name))
        return NULL;
    bool method = word > line && word[-1] == '.';
    const char *receiver = method ? chain_begin(line, word - 1) : NULL;
    for (int i = 0; i < COUNT(modules) && method; i++)
        method = (size_t)(word - 1 - receiver) != strlen(modules[i]) ||
                 strncmp(receiver, modules[i], strlen(modules[i])) != 0;
    *end = word - 1;
    if (method && k == 0)
        return receiver;
    for (int at = method; p && *p; at++) {
        p += strspn(p, " ");
        *end = closing(p, true);
        if (at == k)
            return p[python_name(p)] == '=' ? NULL : p;
        p = **end == ',' ? *end + 1 : NULL;
    }
    return NULL;
}

/* An element of the list that is written there. */
static const char *
element(const char *list, int k, const char **end)
{
    if (!list || !strchr("[(", *list))
        return NULL;
    for (list++; *list; list = *end + 1) {
        list += strspn(list, " ");
        *end = closing(list, true);
        if (k-- == 0)
            return list;
        if (**end != ',')
            return NULL;
    }
    return NULL;
}

/* The slot of an argument whose text goes from p to end: cast to fp32 where it ends so, and to the type of the first
 * argument, x or torch.zeros_like(x), where it ends in ".to(x.dtype)"; to that of another it may be. */
static int
cast_given(struct dynamo *d, const struct group *g, const char *name, const char *p, const char *end,
           const struct arg *first, int slot)
{
    static const char *const same[] = {"", "torch.zeros_like(", "torch.ones_like(", "torch.empty_like("};
    const char *own = d->l->g->n[g->last].stack, *of_end;
    if (ends_in_cast(p, end))
        return stated(d, group_to_float(d, g, slot), own, -1);
    const char *like = ends_like(d->l->a, p, end);
    if (!like)
        return slot;
    const char *of = given(fx_line_at(d, g->last), name, 0, &of_end);
    if (of && strchr("[(", *of))
        of = element(of, 0, &of_end);
    for (int i = 0; i < COUNT(same) && of && first->kind == ARG_SLOT && first->i != slot; i++) {
        size_t n = strlen(same[i]), behind = *same[i] != 0;
        if ((size_t)(of_end - of) == n + strlen(like) + behind && strncmp(of, same[i], n) == 0 &&
            strncmp(of + n, like, strlen(like)) == 0)
            return stated(d, group_cast_like(d, g, slot, (int)first->i), own, -1);
    }
    slot = stated(d, group_to_float(d, g, slot), own, -1);
    d->l->p->calls[d->l->p->ncalls - 1].either_type = true;
    return slot;
}

void
casts_further(struct dynamo *d, const struct group *g, const char *target, struct arg *args, int n)
{
    const struct traced *traced = fx_record(d->l, g->last)->traced;
    if (!traced->casts || traced->in_torch || (g->type && starts_with(g->type, libraries[0])))
        return;
    const char *name = spelled_in(d->l->a, traced->line, target), *end;
    int all = 0;
    while (n && args[n - 1].kind != ARG_SLOT && args[n - 1].kind != ARG_LIST)
        n--;
    while (ends_with(target, ".decomposed") && given(traced->line, name, all, &end)) /* which lack numbers */
        all++;
    for (int k = 0; k < n; k++) {
        const char *p = given(traced->line, name, k + (k && all > n ? all - n : 0), &end);
        bool list = args[k].kind == ARG_LIST;
        const struct arg *first = args[0].kind == ARG_LIST && args[0].n ? &args[0].list[0] : &args[0];
        for (int e = 0; p && e < (list ? args[k].n : 1); e++) {
            struct arg *a = list ? &args[k].list[e] : &args[k];
            const char *from = list ? element(p, e, &end) : p;
            if (from && a->kind == ARG_SLOT && a->i >= 0 && (list || k > 0))
                a->i = cast_given(d, g, name, from, end, first, (int)a->i);
        }
    }
}

int
casts_result(struct dynamo *d, const struct group *g, int operand, int slot)
{
    struct around w;
    if (!fx_record(d->l, g->last)->traced->casts)
        return slot;
    const char *stack = statement_of(d, g, &w);
    int out = group_output(d, g);
    const char *own = d->l->g->n[g->last].stack;
    int back = symbol_of(g->target) ? goes_back(fx_line_at(d, g->last), g->target) : -1;
    const struct call *c = back < 0 || g->call < 0 ? NULL : &d->l->p->calls[g->call];
    if (c && c->nargs > back && c->args[back].kind == ARG_SLOT)
        return stated(d, group_cast_like(d, g, slot, (int)c->args[back].i), own, out);
    if (!stack)
        return slot;
    if (w.out)
        slot = stated(d, group_to_float(d, g, slot), stack, out);
    bool same =
        w.like && w.like_len == (size_t)(w.operand_end - w.operand) && strncmp(w.like, w.operand, w.like_len) == 0;
    return same && operand >= 0 ? stated(d, group_cast_like(d, g, slot, operand), stack, out) : slot;
}

static struct call
cast_of(struct lowering *l, const struct given_cast *of, const char *target, int slot, struct arg to)
{
    struct call c = lower_cast(l, of->first, target, slot, to);
    c.scope = of->scope;
    c.scopes = l->p->calls[of->first].scopes;
    c.stack = of->stack;
    return c;
}

/* Lets the calls read another slot, but for the type that a ".type_as(x)" behind them reads. */
static void
give(struct program *p, const struct given_cast *of, int slot, int cast)
{
    const bool goes_back = of->on_line && of->behind && starts_with(of->behind, ".type_as(");
    int read;
    for (int i = of->first; i <= of->last; i++)
        for (struct call_reads r = {.call = &p->calls[i]}; (read = next_read(&r)) >= 0;)
            if (read == slot && !(r.arg == 1 && target_named(p->calls[i].target, "to_like") &&
                                  (goes_back || (of->on_line && i == of->last))))
                r.at->i = cast;
}

/* Whether the line takes the result back to the type of what it gave: "self.norm(x.float()).to(x.dtype)". */
static bool
takes_back(const struct given_cast *of, const struct call *last)
{
    struct around w = {.operand = NULL};
    if (of->behind && !target_named(last->target, "to_like"))
        read_like(of->behind, &w);
    const char *rest = w.like ? closing(w.like, false) : "";
    return w.like_len == of->len && w.like && strncmp(w.like, of->of, of->len) == 0 && last->nouts == 1 &&
           (!of->on_line || strcmp(rest, ")") == 0);
}

/* What the last call makes is what the cast makes then. */
static struct call
cast_back(struct lowering *l, const struct given_cast *of, int slot)
{
    struct call *last = &l->p->calls[of->last],
                c = cast_of(l, of, "aten.to_like", last->outs[0], (struct arg){.kind = ARG_SLOT, .i = slot});
    const int made = last->outs[0];
    c.args[0].i = last->outs[0] = c.outs[0];
    c.outs[0] = made;
    return c;
}

void
casts_given(struct lowering *l)
{
    struct program *p = l->p;
    struct given_cast *given = NULL;
    const int n = python_given(p, l->a, ends_in_cast, &given);
    struct added *casts = NEWN(l->a, struct added, 2 * n + 1);
    int ncasts = 0, *cast = NEWN(l->a, int, n + 1);
    for (int k = 0; k < n; k++) {
        const struct given_cast *of = &given[k];
        int slot = of->slot;
        for (int j = 0; j < k; j++) /* of a frame around it */
            slot = given[j].slot == of->slot && given[j].last >= of->first ? cast[j] : slot;
        const struct call c = cast_of(l, of, "aten.to.dtype", slot, DTYPE(DT_FLOAT));
        casts[ncasts++] = (struct added){.at = of->first, .turn = n + k, .call = c};
        cast[k] = c.outs[0];
        give(p, of, slot, cast[k]);
        if (takes_back(of, &p->calls[of->last]))
            casts[ncasts++] = (struct added){.at = of->last + 1, .turn = n - 1 - k, .call = cast_back(l, of, slot)};
    }
    lower_insert(l, casts, ncasts);
}

/* What a cast to fp32 makes, whatever stands around it. */
static bool
is_wide(const struct call *c)
{
    return target_named(c->target, "to") && c->nargs > 1 && c->args[1].kind == ARG_DTYPE && c->args[1].i == DT_FLOAT;
}

void
casts_of_lines(struct lowering *l)
{
    struct program *p = l->p;
    struct given_cast *made = NULL;
    const int n = python_made(p, l->a, ends_in_cast, &made);
    struct added *casts = NEWN(l->a, struct added, n + 1);
    bool *done = NEWN(l->a, bool, p->nslots + 1); /* by a line that an outer one calls */
    int ncasts = 0, read;
    for (int k = 0; k < n; k++) {
        const struct given_cast *of = &made[k];
        if (done[of->slot])
            continue;
        done[of->slot] = true;
        struct call *maker = &p->calls[group_maker(p, of->slot) - p->calls];
        if (is_wide(maker))
            continue;
        int at = 0;
        while (maker->outs[at] != of->slot)
            at++;
        struct call c = cast_of(l, of, "aten.to.dtype", of->slot, DTYPE(DT_FLOAT));
        const int narrow = c.outs[0];
        for (struct call *own = &p->calls[of->first]; own <= &p->calls[of->last]; own++)
            for (struct call_reads r = {.call = own}; (read = next_read(&r)) >= 0;)
                r.at->i = read == of->slot ? narrow : read;
        c.outs[0] = of->slot;
        c.args[0].i = maker->outs[at] = narrow;
        casts[ncasts++] = (struct added){.at = of->last + 1, .turn = -1 - k, .call = c};
    }
    lower_insert(l, casts, ncasts);
}

/* Functions that draw numbers of the type of their argument, whose own lines no file has. */
static const struct {
    const char *name, *source;
} draw[] = {{"drop_path", "transformers/models/*/modeling_*.py, timm/layers/drop.py"},
            {"stochastic_depth", "torchvision/ops/stochastic_depth.py"}};

/* The variable whose type has what the line makes: "zeros(n, dtype=x.dtype)", "x.new_zeros(n)"; "" the argument of a
 * function; NULL none, or of several. */
static const char *
typed_after(struct arena *a, const char *line)
{
    static const struct {
        const char *before, *behind;
    } of[] = {{"dtype=", ".dtype"}, {"", ".new_"}};
    const char *name = NULL;
    for (int i = 0; i < COUNT(draw); i++)
        if (python_calls(line, draw[i].name))
            return "";
    for (int i = 0; i < COUNT(of); i++)
        for (const char *p = line; (p = strstr(p, of[i].behind)); p++) {
            const char *begin = chain_begin(line, p), *is = arena_strn(a, begin, (size_t)(p - begin));
            const size_t n = strlen(of[i].before);
            if ((size_t)(begin - line) < n || strncmp(begin - n, of[i].before, n) != 0)
                continue;
            if (begin == p || python_name(begin) != strlen(is) || (name && strcmp(name, is) != 0))
                return NULL;
            name = is;
        }
    return name;
}

/* Where its type stands of what a call makes in fp32 of no tensor, or of one's sizes; -1 none. */
static int
made_in(const struct call *c)
{
    const bool makes = c->op && (c->op->takes ? !*c->op->takes : !c->op->grad);
    int at = makes ? aten_arg(c->op, "dtype") : -1;
    return at >= 0 && at < c->nargs && c->args[at].kind == ARG_DTYPE && c->args[at].i == DT_FLOAT ? at : -1;
}

/* The line does not write what makes it: a function does, whose lines no file has, in fp32 or in another's type. */
static bool
made_out_of_sight(struct arena *a, const struct call *c, const char *line)
{
    const char *name = c->args[0].kind == ARG_TEXT ? c->args[0].s : c->op->name; /* of what the exporter folded */
    return !strstr(line, spelled_root(a, name));
}

/* Of constants into which the exporter folded a layer's states the sizes of these: those of its first weight for the
 * hidden state and its input's batch, where the input was made by a call. */
static void
size_state(const struct program *p, const struct call *layer, struct call *state)
{
    enum { HX = 1, PARAMS, LAYERS = 4, BOTH = 7, BATCH_FIRST };
    const struct call *x = layer->args[0].kind == ARG_SLOT ? group_maker(p, layer->args[0].i) : NULL;
    const struct arg *w = &layer->args[PARAMS];
    const struct param *hidden =
        w->kind == ARG_LIST && w->n > 1 && w->list[1].kind == ARG_SLOT ? program_param(p, (int)w->list[1].i) : NULL;
    if (!x || x->rank != 3 || !hidden || hidden->rank != 2 || layer->nargs <= BATCH_FIRST)
        return;
    const int64_t size[] = {layer->args[LAYERS].i << (layer->args[BOTH].i != 0),
                            x->size[layer->args[BATCH_FIRST].i ? 0 : 1], hidden->size[1]};
    state->rank = COUNT(size);
    state->size = arena_dup(p->arena, size, sizeof(size));
    state->args[1] = layer->args[0];
}

/* States that a recurrent layer is not given it makes in the type of its input. Source: LSTM.forward and others in
 * torch/nn/modules/rnn.py. */
static void
make_states(struct program *p, const struct call *layer)
{
    const struct arg *hx = &layer->args[1], *of = hx->kind == ARG_LIST ? hx->list : hx;
    for (int k = 0; k < (hx->kind == ARG_LIST ? hx->n : 1); k++) {
        const struct call *maker = of[k].kind == ARG_SLOT ? group_maker(p, of[k].i) : NULL;
        if (!maker || maker->scope != layer->scope)
            continue;
        struct call *c = &p->calls[maker - p->calls];
        if (target_named(c->target, "folded"))
            size_state(p, layer, c);
        else if (made_in(c) >= 0)
            c->args[made_in(c)] = layer->args[0];
    }
}

void
casts_made(struct lowering *l)
{
    struct program *p = l->p;
    const char **names = NEWN(l->a, const char *, p->ncalls + 1);
    bool any = false;
    for (int i = 0; i < p->ncalls; i++)
        if (params_states(p->calls[i].op))
            make_states(p, &p->calls[i]);
    for (int i = 0; i < p->ncalls; i++) {
        struct call *c = &p->calls[i];
        if (!c->op || !c->stack || made_in(c) < 0)
            continue;
        const char *line = fx_line(l->a, c->stack);
        any |= (names[i] = typed_after(l->a, line)) != NULL;
        c->either_type |= !names[i] && made_out_of_sight(l->a, c, line);
    }
    const int *slots = any ? python_meant(p, l->a, names) : NULL;
    for (int i = 0; i < p->ncalls && any; i++)
        if (slots[i] >= 0)
            p->calls[i].args[made_in(&p->calls[i])] = (struct arg){.kind = ARG_SLOT, .i = slots[i]};
        else
            p->calls[i].either_type |= names[i] != NULL;
}

/* ---- casts in functions that leave no lines ---------------------------------------------------------------------- */

/* Per slot whether such a function's calls hand it, or views of it, to an operator that autocast runs in fp32. */
static bool *
widened(const struct lowering *l, const bool *hidden)
{
    const struct program *p = l->p;
    bool *wide = NEWN(l->a, bool, p->nslots + 1);
    for (int i = p->ncalls - 1; i >= 0; i--) {
        const struct call *c = &p->calls[i];
        if (!hidden[i] || !c->op || !c->nargs || c->args[0].kind != ARG_SLOT || c->args[0].i < 0)
            continue;
        const bool views = target_is(c->target, TARGET_VIEWS | TARGET_REORDERS);
        wide[c->args[0].i] |= views ? wide[c->outs[0]] : c->op->cast == CAST_FP32 || c->op->cast == CAST_DTYPE;
    }
    for (int i = 0; i < p->ncalls; i++)
        for (int k = 0; hidden[i] && k < p->calls[i].nouts; k++)
            wide[p->calls[i].outs[k]] = false;
    for (int i = 0; i < p->nslots; i++)
        wide[i] &= group_maker(p, i) != NULL;
    return wide;
}

void
casts_hidden(struct lowering *l)
{
    struct program *p = l->p;
    bool autocast, any = false;
    if (precision_half(l->s->precision, &autocast) == DT_UNDEFINED)
        return;
    const bool *hidden = python_hidden(p, l->a), *wide = widened(l, hidden);
    struct added *casts = NEWN(l->a, struct added, p->nslots + 1);
    int n = 0, slot, *cast = NEWN(l->a, int, p->nslots + 1);
    for (int i = 0; i < p->ncalls; i++)
        for (struct call_reads r = {.call = &p->calls[i]}; hidden[i] && (slot = next_read(&r)) >= 0;) {
            any |= wide[slot];
            if (!wide[slot] || !setup_instead(l->s, ALTERNATIVE_CASTS))
                continue;
            if (!cast[slot]) {
                struct call c = lower_cast(l, i, "aten.to.dtype", slot, DTYPE(DT_FLOAT));
                c.scope = p->calls[i].scope;
                c.scopes = p->calls[i].scopes;
                c.stack = p->calls[i].stack;
                cast[slot] = c.outs[0];
                casts[n++] = (struct added){.at = i, .call = c};
            }
            r.at->i = cast[slot];
        }
    if (any)
        program_assume(p, ALTERNATIVE_CASTS,
                       "functions other than forward cast nothing to fp32 before a softmax or a loss");
    lower_insert(l, casts, n);
}
