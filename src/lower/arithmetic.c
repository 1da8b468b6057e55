/* SPDX-License-Identifier: Apache-2.0 */
/* arithmetic.c - operators that the exporter wrote as their arithmetic.
 *
 * An operator with a gradient or an autocast class of its own arrives as several calls of one statement, and eager
 * keeps and makes other tensors than these do. A row draws the calls in their order, and says which of their arguments
 * and results are the operator's. What is drawn nowhere stays a doubt (recorded.c).
 */
#include "lower/dynamo.h"
#include "torch/torch.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* ---- the table --------------------------------------------------------------------------------------------------- */

/* A word of a drawing is a call: its operator's stem; in brackets the operator's arguments in the place of the call's
 * own, empty where they are none, = before a number that one is, ! after one that must be a tensor, * after the one of
 * a list that is one, < before what an earlier call read that made it, with which the exporter merged one, or before
 * that argument of the operator that it was drawn to; then > and the number of the result that it makes, where that is
 * not the last call alone; then ? where the call may be missing, & where it may and the line gives its last argument, ^
 * where it reads the two before it, ~ the one before it. "reduction" is mean, sum or nothing, which is that argument;
 * name=number is an argument that the drawing itself tells. Sources: torch/_decomp/decompositions.py, torch/_refs and,
 * of composites, aten/src/ATen/native. */
static const struct arithmetic {
    const char *name; /* as the line calls it; "" whatever that says, for it is a function's, which no file has */
    const char *target, *drawing;
    const char *given, *never; /* what the line says, too, and what not; NULL anything */
} rows[] = {
    {"binary_cross_entropy_with_logits", "aten.binary_cross_entropy_with_logits.default",
     "sub(pos_weight) mul add sub(,target) mul log_sigmoid(self) mul sub mul(,weight)& reduction"},
    {"binary_cross_entropy_with_logits", "aten.binary_cross_entropy_with_logits.default",
     "mul(pos_weight,target) add sub mul log_sigmoid(self) mul sub mul(,weight)& reduction"}, /* a constant less one */
    {"binary_cross_entropy_with_logits", "aten.binary_cross_entropy_with_logits.default",
     "sub(,target) mul log_sigmoid(self) sub mul(,weight)& reduction"},
    {"binary_cross_entropy_with_logits", "aten.binary_cross_entropy_with_logits.default",
     "mul(<target) log_sigmoid(self) sub mul(,weight)& reduction"},
    {"binary_cross_entropy_with_logits", "aten.binary_cross_entropy_with_logits.default",
     "mul(<target) log_sigmoid(self) mul sub mul(,weight)& reduction"}, /* its weights were merged, too */
    {"binary_cross_entropy_with_logits", "aten.binary_cross_entropy_with_logits.default",
     "sub(,target) mul(,self) sub mul(,weight)& reduction"}, /* the logarithm was merged with another loss's */
    {"nll_loss", "aten.nll_loss_nd.default",
     "ne(,) where(,target) unsqueeze gather(self) squeeze neg where sum reduction=2"},
    {"nll_loss", "aten.nll_loss_nd.default",
     "ne(,) where(,target) unsqueeze gather(self) squeeze neg where ne? convert_element_type? sum _to_copy? sum? div "
     "reduction=1"},
    {"soft_margin_loss", "aten.soft_margin_loss.default", "neg(self) mul(,target) exp log1p reduction"},
    {"l1_loss", "aten.l1_loss.default", "sub(self,target) abs reduction"},
    {"smooth_l1_loss", "aten.smooth_l1_loss.default", "sub(self,target) abs lt pow mul div? sub where reduction"},
    {"huber_loss", "aten.huber_loss.default", "sub(self,target) abs lt mul mul sub mul? where reduction"},
    {"binary_cross_entropy", "aten.binary_cross_entropy.default",
     "sub(target) neg(self) log1p maximum mul log maximum mul sub mul(,weight)& reduction"},
    {"binary_cross_entropy", "aten.binary_cross_entropy.default",
     "neg(self) log1p maximum mul(<target) log maximum mul sub mul(,weight)& reduction"},
    {"cosine_embedding_loss", "aten.cosine_embedding_loss.default",
     "mul(input1,input2) sum mul sum add? mul sum add? mul sqrt div sub sub? clamp_min eq(target) where eq where add "
     "reduction"},
    {"dist", "aten.dist.default", "sub(self,other) linalg_vector_norm(,p)"},
    {"diag_embed", "aten.diag_embed.default", "cat(self*) unsqueeze where"}, /* off the diagonal */
    {"diag", "aten.diag_embed.default", "cat(self*) unsqueeze where"},
    {"diag_embed", "aten.diag_embed.default", "unsqueeze(self) where"},
    {"diag", "aten.diag_embed.default", "unsqueeze(self) where"},
    {"diagflat", "aten.diagflat.default", "view(self) cat unsqueeze where"}, /* with an offset */
    {"diagflat", "aten.diagflat.default", "view(self) unsqueeze where"},
    {"trace", "aten.trace.default", "diagonal_copy(self) sum"},
    /* what it expands itself */
    {"cosine_similarity", "aten.cosine_similarity.default",
     "expand(x2) expand(x1) linalg_vector_norm(,,dim)~ linalg_vector_norm clamp_min clamp_min div div mul sum", NULL,
     "expand"},
    {"cosine_similarity", "aten.cosine_similarity.default",
     "expand(x1) linalg_vector_norm(,,dim)~ linalg_vector_norm(x2) clamp_min clamp_min div div mul sum", NULL,
     "expand"},
    {"cosine_similarity", "aten.cosine_similarity.default",
     "expand(x2) linalg_vector_norm(x1,,dim) linalg_vector_norm clamp_min clamp_min div div mul sum", NULL, "expand"},
    {"cosine_similarity", "aten.cosine_similarity.default",
     "linalg_vector_norm(x1,,dim) linalg_vector_norm(x2) clamp_min clamp_min div div mul sum"},
    {"triplet_margin_loss", "aten.triplet_margin_loss.default",
     "sub(anchor,positive) add linalg_vector_norm(,p) sub(,negative) add linalg_vector_norm add? sub clamp_min "
     "reduction"},
    {"triplet_margin_loss", "aten.triplet_margin_loss.default",
     "sub(anchor,positive) add linalg_vector_norm(,p) sub(,negative) add linalg_vector_norm sub add "
     "linalg_vector_norm minimum add? sub clamp_min reduction swap=1"},
    {"hinge_embedding_loss", "aten.hinge_embedding_loss.default",
     "sub(,self) clamp_min ne(target) where ne where add reduction"},
    {"margin_ranking_loss", "aten.margin_ranking_loss.default",
     "sub(input1,input2) neg(target) convert_element_type? mul add? clamp_min reduction"},
    {"std_mean", "aten.std_mean.correction",
     "var(self,dim,correction) broadcast_in_dim sum broadcast_in_dim div>1 sqrt>0 keepdim=1"},
    {"var_mean", "aten.var_mean.correction",
     "var(self,dim,correction)>0 broadcast_in_dim>0? sum broadcast_in_dim div>1 keepdim=1"},
    {"std_mean", "aten.std_mean.correction", "var(self,dim,correction) sum div>1 sqrt>0"},
    {"var_mean", "aten.var_mean.correction", "var(self,dim,correction)>0 sum div>1"},
    {"dropout", "aten.dropout_.default", "empty_like? bernoulli div mul(input)"}, /* inplace=True */
    {"alpha_dropout", "aten.alpha_dropout.default", "empty_like? bernoulli add mul add mul mul(input) add"},
    {"feature_alpha_dropout", "aten.feature_alpha_dropout.default",
     "new_empty? bernoulli add mul add mul mul(input) add"},
    {"ldexp", "aten.ldexp.Tensor", "pow(,other) mul(self)"},
    {"vecdot", "aten.linalg_vecdot.default", "dot(x,y)"},
    {"rsub", "aten.rsub.Tensor", "sub(other!,self)"},
    {"nan_to_num", "aten.nan_to_num.default", "isnan(self) where isneginf where isposinf where"},
    {"index_add", "aten.index_add.decomposed", "mul(values) index_put(self,indices) alpha=2", "alpha=", NULL},
    {"index_add_", "aten.index_add.decomposed", "mul(values) index_put(self,indices) alpha=2", "alpha=", NULL},
    /* of numbers, as the next one */
    {"index_add", "aten.index_add.default", "mul(source) unsqueeze(self) index_put(,index*) squeeze dim=0 alpha=2",
     "alpha=", "unsqueeze("},
    {"index_copy", "aten.index_copy.default", "unsqueeze(self) index_put(,index*,source) squeeze dim=0", NULL,
     "unsqueeze("},
    {"renorm", "aten.renorm.default",
     "linalg_vector_norm(self,p,dim) gt add reciprocal mul? where convert_element_type? mul"},
    {"nansum", "aten.nansum.default", "isnan where(,,self) sum(,dim,keepdim)?"},
    {"rot90", "aten.rot90.turned", "flip(self) transpose(,dim0,dim1)?"},
    {"take", "aten.take.default", "view(self) index(,index*)"},
    {"take", "aten.take.default", "index(self,index*)"},
    {"max_unpool1d", "aten.max_unpool2d.default",
     "unsqueeze(self) unsqueeze(indices) arange? view? mul? add view new_zeros view view _unsafe_index_put view "
     "squeeze?"},
    {"max_unpool1d", "aten.max_unpool2d.default", /* of zeros that an earlier call made */
     "unsqueeze(self) unsqueeze(indices) arange? view? mul? add view view _unsafe_index_put view squeeze?"},
    {"max_unpool2d", "aten.max_unpool2d.default",
     "arange? view? mul? add(indices) view new_zeros view view(self) _unsafe_index_put view?"},
    {"max_unpool2d", "aten.max_unpool2d.default",
     "arange? view? mul? add(indices) view view(self) _unsafe_index_put view?"},
    {"max_unpool3d", "aten.max_unpool3d.default",
     "arange? view? mul? add(indices) view new_zeros view view(self) _unsafe_index_put view?"},
    {"max_unpool3d", "aten.max_unpool3d.default",
     "arange? view? mul? add(indices) view view(self) _unsafe_index_put view?"},
    {"F.channel_shuffle", "aten.channel_shuffle.default", "view(self) transpose _unsafe_view?"},
    {"count_nonzero", "aten.count_nonzero.default", "convert_element_type(self) ne convert_element_type? sum(,dim)"},
    {"count_nonzero", "aten.count_nonzero.default", "ne(self) convert_element_type? sum(,dim)"},
    {"xlog1py", "aten.special_xlog1py.default", "eq(self) log1p(other) mul where isnan where"},
    {"nanmean", "aten.nanmean.default",
     "ne logical_not convert_element_type? sum? isnan where(,,self) sum(,dim,keepdim)? convert_element_type? div"},
    {"multilabel_soft_margin_loss", "aten.multilabel_soft_margin_loss.default",
     "log_sigmoid(self) mul(target) sub neg log_sigmoid mul add neg mul(,weight)& sum? div? reduction"},
    {"multilabel_soft_margin_loss", "aten.multilabel_soft_margin_loss.default", /* of whole numbers */
     "log_sigmoid(self) convert_element_type(target) mul sub neg log_sigmoid convert_element_type mul add neg "
     "mul(,weight)& sum? div? reduction"},
    {"poisson_nll_loss", "aten.poisson_nll_loss.default",
     "mul(target,input) exp sub mul log mul log mul sub add le masked_fill add reduction log_input=1 full=1"},
    {"poisson_nll_loss", "aten.poisson_nll_loss.default", "mul(target,input) exp sub reduction log_input=1"},
    {"poisson_nll_loss", "aten.poisson_nll_loss.default",
     "add? log mul(target) sub(input) mul log mul log mul sub add le masked_fill add reduction log_input=0 full=1"},
    {"poisson_nll_loss", "aten.poisson_nll_loss.default", "add? log mul(target) sub(input) reduction log_input=0"},
    {"log_ndtr", "aten.special_log_ndtr.default",
     "mul(self) lt neg special_erfcx div log mul sub erfc neg div log1p where"},
    {"ndtr", "aten.special_ndtr.default", "mul(self) erf add mul"},
    {"", "aten.binary_cross_entropy_with_logits.default", "sub(,target) mul log_sigmoid(self) sub^ reduction", NULL,
     "ogsigmoid("},
    {"", "aten.binary_cross_entropy_with_logits.default", "mul(<target) log_sigmoid(self) sub^ reduction", NULL,
     "ogsigmoid("},
    {"", "aten.cdist.default",
     "pow(x1) sum ones_like? pow(x2) sum ones_like? mul cat cat transpose matmul clamp_min sqrt"},
    {"", "aten.cdist.default", "pow(x1) sum ones_like? mul cat matmul(,<x2) clamp_min sqrt"},
    {"", "aten.cdist.default", "pow(x2) sum ones_like? cat transpose matmul(<x1) clamp_min sqrt"},
    {"", "aten.affine_grid_generator.default",
     "add? add? view? transpose(theta,=-2,=-1) unsqueeze(,=1) mul sum(,=-2) view"}, /* its base may be folded */
    {"_safe_softmax.default", "aten._safe_softmax.default", "softmax(self,dim) eq all where"},
};

/* ---- matching ---------------------------------------------------------------------------------------------------- */

enum { MAX_WORDS = 24, MAX_RESULTS = 2 };

struct word {
    const char *text;
    int group; /* -1 missing */
};

static bool
is_call(const struct dynamo *d, int at, int i, const char *stem, size_t len)
{
    const char *dot = i < d->ngroups && !d->groups[i].done ? strchr(d->groups[i].target, '.') : NULL;
    return dot && strncmp(dot + 1, stem, len) == 0 && dot[1 + len] == '.' &&
           group_same_statement(d, d->groups[at].last, d->groups[i].last);
}

static const char *const reductions[] = {NULL, "mean", "sum"}; /* by their number in torch/nn/_reduction.py */

/* The group of the reduction at the end; -1 none. What reduces a loss that said 'none' is another call; of a statement
 * of several lines only the first is known. */
static int
reduction_at(const struct dynamo *d, int at, int i)
{
    const char *line = fx_line_at(d, d->groups[at].last);
    if (strstr(line, "'none'") || strstr(line, "\"none\""))
        return -1;
    for (int k = 1; k < COUNT(reductions); k++)
        if (is_call(d, at, i, reductions[k], strlen(reductions[k])))
            return i;
    return -1;
}

static bool
is_number(const struct arg *a, int64_t n)
{
    const struct arg *one = a->kind == ARG_LIST && a->n == 1 ? a->list : a;
    return one->kind == ARG_INT && one->i == n;
}

/* Whether arguments that must be tensors are, and numbers are those: another stands for another operator. */
static bool
has_tensors(const struct dynamo *d, const char *word, int group)
{
    struct arg args[MAX_ARGS];
    const char *p = word + strcspn(word, "( ");
    if (strcspn(p, "!=") >= strcspn(p, " "))
        return true;
    int n = fx_group_args(d->l, spelled_row(d->groups[group].target), &d->groups[group], args);
    bool all = true;
    for (int k = 0; *p == '(' || *p == ','; k++) {
        size_t len = strcspn(++p, ",)");
        if (len && p[len - 1] == '!')
            all &= k < n && args[k].kind == ARG_SLOT && !spelled(args[k].s, IS_NUMBER);
        if (*p == '=')
            all &= k < n && is_number(&args[k], strtoll(p + 1, NULL, 10));
        p += len;
    }
    return all;
}

/* Whether the line may give the operator what the last argument of a word is: another call follows otherwise. */
static bool
may_give(const struct dynamo *d, int at, const struct arithmetic *row, const char *word)
{
    const char *from = word, *end = word + strcspn(word, ")");
    for (const char *p = word; p < end; p++)
        from = *p == ',' || *p == '(' ? p + 1 : from;
    const char *name = arena_strn(d->l->a, from, (size_t)(end - from));
    return python_gives(fx_line_at(d, d->groups[at].last), row->name, aten_arg(aten_find(row->target), name), name) !=
           0;
}

/* Whether the call of a group reads what those of the words before it made, as its own word's end says. */
static bool
reads_them(const struct dynamo *d, int group, char end, const struct word *words, int n)
{
    const int before = end == '^' ? 2 : end == '~' ? 1 : 0;
    bool all = n >= before;
    for (int k = 1; k <= before && all; k++) {
        const int made = words[n - k].group;
        all = made >= 0 && fx_names(d->groups[group].args, d->groups[made].fx_name);
    }
    return all;
}

/* Whether the statement of a group has as many calls behind it as a row draws at least. */
static bool
has_room(const struct dynamo *d, int at, const struct arithmetic *row)
{
    static unsigned char fewest[COUNT(rows)];
    unsigned char *n = &fewest[row - rows];
    for (const char *p = *n ? "" : row->drawing; *p; p += strspn(p, " ")) {
        const size_t stem = strcspn(p, "(>?=^ "), len = strcspn(p, " ");
        *n += !strchr("?&", p[len - 1]) && p[stem] != '=' && strncmp(p, "reduction", stem) != 0;
        p += len;
    }
    const int last = at + *n - 1;
    return last < d->ngroups && (last < at || group_of_sizes(&d->groups[last]) ||
                                 group_same_statement(d, d->groups[at].last, d->groups[last].last));
}

static bool
matches(const struct dynamo *d, int at, const struct arithmetic *row, struct word *words, int *n)
{
    int i = at;
    *n = 0;
    if (!has_room(d, at, row))
        return false;
    for (const char *p = row->drawing; *p; p += strspn(p, " ")) {
        size_t stem = strcspn(p, "(>?=^ "), len = strcspn(p, " ");
        bool given = p[len - 1] == '&', optional = given || p[len - 1] == '?';
        bool reduces = strncmp(p, "reduction", stem) == 0, told = p[stem] == '=';
        struct word w = {p, -1};
        while (i < d->ngroups && group_of_sizes(&d->groups[i]))
            i++;
        if (reduces)
            w.group = reduction_at(d, at, i);
        else if (!told && is_call(d, at, i, p, stem) && has_tensors(d, p, i) && (!given || may_give(d, at, row, p)) &&
                 reads_them(d, i, p[len - 1], words, *n))
            w.group = i;
        if (w.group >= 0)
            i++;
        else if (!reduces && !told && !optional)
            return false;
        if (*n < MAX_WORDS)
            words[(*n)++] = w;
        p += len;
    }
    return true;
}

enum { BITS = 64 }; /* of a word */

/* The rows whose words a line has, as bits. */
static void
read_rows(struct traced *t)
{
    static uint64_t ending[COUNT(rows)];
    _Static_assert(COUNT(rows) <= BITS * COUNT(t->draws), "a bit each");
    for (int i = 0; i < COUNT(rows); i++)
        if (python_may_call_row(t->endings, rows[i].name, &ending[i]) &&
            (!*rows[i].name || python_calls(t->line, rows[i].name)) &&
            (!rows[i].given || strstr(t->line, rows[i].given)) && !(rows[i].never && strstr(t->line, rows[i].never)))
            t->draws[i / BITS] |= UINT64_C(1) << i % BITS;
    t->drawn = true;
}

/* Whether the call of a stem may be the first of a drawing: of words that may be missing, too. */
static bool
may_begin(const char *drawing, const char *stem)
{
    for (const char *p = drawing;; p += strspn(p, " ")) {
        const size_t n = strcspn(p, "(>?=^ ");
        if ((*p == *stem && strncmp(p, stem, n) == 0 && stem[n] == '.') || p[n] == '=' || !strncmp(p, "reduction", n))
            return true;
        p += strcspn(p, " ");
        if (!strchr("?&", p[-1]))
            return false;
    }
}

/* Whether a group may begin what a row draws, as far as its target tells. */
static bool
begins(const struct group *g, int row)
{
    const uint64_t bit = UINT64_C(1) << row % BITS;
    struct aim *aim = g->aim;
    if (!aim)
        return true;
    if (!(aim->asked[row / BITS] & bit)) {
        const char *dot = strchr(g->target, '.');
        aim->asked[row / BITS] |= bit;
        if (aim->number || (dot && may_begin(rows[row].drawing, dot + 1)))
            aim->draws[row / BITS] |= bit;
    }
    return aim->draws[row / BITS] & bit;
}

/* How many calls are drawn. */
static int
drawn(const struct word *words, int n)
{
    int calls = 0;
    for (int i = 0; i < n; i++)
        calls += words[i].group >= 0;
    return calls;
}

/* The row that draws the calls from this group on: of several functions on the line the one that draws the most, as
 * l1_loss does what smooth_l1_loss begins with; of one function's rows the first. */
static const struct arithmetic *
row_at(const struct dynamo *d, int at, struct word *words, int *n)
{
    struct traced *traced = fx_record(d->l, d->groups[at].last)->traced;
    const struct arithmetic *found = NULL;
    struct word more[MAX_WORDS];
    int nmore;
    if (!traced->drawn)
        read_rows(traced);
    for (int k = 0; k < COUNT(traced->draws); k++)
        for (uint64_t left = traced->draws[k]; left; left &= left - 1) {
            const struct arithmetic *row = &rows[BITS * k + __builtin_ctzll(left)];
            if ((found && strcmp(found->name, row->name) == 0) || !begins(&d->groups[at], (int)(row - rows)) ||
                !matches(d, at, row, more, &nmore) || (found && drawn(more, nmore) <= drawn(words, *n)))
                continue;
            found = row;
            *n = nmore;
            memcpy(words, more, sizeof(*words) * (size_t)nmore);
        }
    return found;
}

/* Whether the call is of the statement that the first one is of, or of a module that this calls. */
static bool
is_under(const struct dynamo *d, int at, int i)
{
    const char *line = d->l->g->n[d->groups[at].last].stack, *stack = d->l->g->n[d->groups[i].last].stack;
    return line && stack && strncmp(stack, line, strlen(line)) == 0;
}

bool
arithmetic_draws(const struct dynamo *d, int at, const char *name)
{
    struct word words[MAX_WORDS];
    const size_t len = strlen(name);
    int n;
    for (int i = at; i < d->ngroups && is_under(d, at, i); i++) {
        if (!group_same_statement(d, d->groups[at].last, d->groups[i].last))
            continue;
        const char *target = target_bare(d->groups[i].target);
        const struct arithmetic *row = row_at(d, i, words, &n);
        if ((row && strcmp(row->name, name) == 0) || (strncmp(target, name, len) == 0 && target[len] == '.'))
            return true;
    }
    return false;
}

/* ---- the operator's call ----------------------------------------------------------------------------------------- */

/* The k-th argument of a call, as if it ran; one: of a list the tensor that a call made. */
static struct arg
argument(struct dynamo *d, const struct group *g, int k, bool one)
{
    struct arg args[MAX_ARGS];
    const struct aten *op = spelled_row(g->target);
    int n = fx_args(d->l, op, g->args, args), missing = 0, spare[MAX_ARGS], used = 0, rank = -1, out;
    const int64_t *size = NULL;
    if (k >= n)
        return NONE;
    if ((out = group_output(d, g)) >= 0)
        lower_sizes(d->l, &d->l->g->t[out], &rank, &size);
    for (int i = 0; i < n; i++)
        resolve_known(d, &args[i], &missing);
    params_size(d, g, op, args, n, rank, size);
    int nspare = group_inputs(d, g, args, n, spare, MAX_ARGS);
    for (int i = 0; one && args[k].kind == ARG_LIST && i < args[k].n; i++)
        if (args[k].list[i].kind == ARG_SLOT && args[k].list[i].i >= 0)
            return args[k].list[i];
    resolve_arg(d, g, &args[k], k, spare, nspare, &used);
    return args[k];
}

/* The argument of the operator that the k-th one of a call was drawn to before; NONE it was not. */
static struct arg
drawn_argument(const struct dynamo *d, const struct group *g, int k, int argument)
{
    const struct node *n = &d->l->g->n[g->last];
    const int by = k < n->nin && n->in[k] >= 0 ? d->l->g->t[n->in[k]].producer : -1;
    const struct group *made = by >= 0 && d->group_of[by] >= 0 ? &d->groups[d->group_of[by]] : NULL;
    const struct call *c = made && made->drawn >= 0 ? group_maker(d->l->p, made->drawn) : NULL;
    return c && argument < c->nargs ? c->args[argument] : NONE;
}

static void
take_arguments(struct dynamo *d, const struct aten *op, const struct word *w, struct arg *all)
{
    const char *p = w->text + strcspn(w->text, "( ");
    for (int k = 0; *p == '(' || *p == ','; k++) {
        bool merged = *++p == '<';
        p += merged;
        size_t len = strcspn(p, "!*,)");
        int at = len ? aten_arg(op, arena_strn(d->l->a, p, len)) : -1, before = d->l->p->ncalls;
        const struct group *g = &d->groups[w->group];
        const struct arg drawn = at >= 0 && merged ? drawn_argument(d, g, k, at) : NONE;
        if (at >= 0)
            all[at] = drawn.kind == ARG_NONE ? argument(d, g, k, p[len] == '*') : drawn;
        if (at >= 0 && merged && drawn.kind == ARG_NONE) {
            const struct call *c = all[at].kind == ARG_SLOT ? group_maker(d->l->p, (int)all[at].i) : NULL;
            all[at] = c ? c->args[0] : NONE;
            d->l->p->ncalls = before;
        }
        p += strcspn(p, ",)");
    }
}

/* What words alone tell: a reduction, a number. */
static void
take_word(struct dynamo *d, const struct aten *op, const struct word *w, struct arg *all)
{
    size_t len = strcspn(w->text, "(>?=^ ");
    int at = aten_arg(op, arena_strn(d->l->a, w->text, len));
    if (at >= 0 && w->text[len] == '=') {
        all[at] = INT(strtoll(w->text + len + 1, NULL, 10));
    } else if (at >= 0) {
        all[at] = INT(0);
        for (int k = 1; k < COUNT(reductions) && w->group >= 0; k++)
            if (is_call(d, w->group, w->group, reductions[k], strlen(reductions[k])))
                all[at] = INT(k);
    }
}

bool
arithmetic_lower(struct dynamo *d, int at)
{
    struct word words[MAX_WORDS];
    struct arg all[MAX_ARGS];
    int n, nargs, made[MAX_RESULTS] = {-1, -1}, nouts = 0, last = at;
    const struct arithmetic *row = row_at(d, at, words, &n);
    if (!row)
        return false;
    const struct aten *op = aten_find(row->target);
    nargs = aten_nargs(op);
    for (int i = 0; i < MAX_ARGS; i++)
        all[i] = NONE;
    for (int i = 0; i < n; i++) {
        const char *result = words[i].text + strcspn(words[i].text, "> ");
        take_word(d, op, &words[i], all);
        if (words[i].group < 0)
            continue;
        take_arguments(d, op, &words[i], all);
        last = words[i].group;
        int k = *result == '>' ? result[1] - '0' : MAX_RESULTS;
        if (k < MAX_RESULTS) {
            made[k] = last;
            nouts = k < nouts ? nouts : k + 1;
        }
    }
    for (int i = 0; i < n; i++)
        if (words[i].group >= 0)
            d->groups[words[i].group].done = true;
    if (!nouts) {
        made[0] = last;
        nouts = 1;
    }
    struct call *c = group_call(d, &d->groups[last], row->target, nargs);
    memcpy(c->args, all, sizeof(*all) * (size_t)nargs);
    int out = group_output(d, &d->groups[made[0]]);
    if (out >= 0)
        lower_sizes(d->l, &d->l->g->t[out], &c->rank, &c->size);
    c->in_place = strstr(row->target, "_.") || ends_with(row->name, "_");
    lower_results(d->l, c, nouts);
    for (int i = 0; i < n; i++)
        if (words[i].group >= 0)
            d->groups[words[i].group].drawn = c->outs[0];
    for (int i = 0; i < nouts; i++) {
        const struct group *g = &d->groups[made[i]];
        group_define(d, g, group_output(d, g), c->outs[i]);
    }
    return true;
}
