/* SPDX-License-Identifier: Apache-2.0 */
/* lost.c - what a TorchScript export lost: dropout, which evaluation mode removes without a trace, and writes in place.
 *
 * These files keep neither Python lines nor classes. What is left are the names of modules: those that libraries gave them, and gaps in
 * the numbers of a Sequential.
 */
#include "lower/lowering.h"
#include "torch/torch.h"

#include <stdlib.h>
#include <string.h>

/* ---- in place ------------------------------------------------------------------------------------------------------------------------------- */

/* What libraries' models write in place, by the names that their modules have there. */
static const struct in_place_name {
    const char *op;     /* NULL: an activation */
    const char *path;   /* glob: the operator's module */
    const char *beside; /* another module of the model; NULL any */
    const char *source;
} in_place_names[] = {
    {NULL, "layer?.*.relu*", "layer1.0.conv1", "torchvision/models/resnet.py: nn.ReLU(inplace=True)"},
    {NULL, "relu", "layer1.0.conv1", "torchvision/models/resnet.py"},
    {"add.Tensor", "layer?.*", "layer1.0.conv1", "torchvision/models/resnet.py: out += identity"},
    {NULL, "features.*", "features.0",
     "torchvision's vgg, alexnet, squeezenet, mobilenetv2, mobilenetv3, efficientnet"},
    {NULL, "features.*", "features.conv0", "torchvision/models/densenet.py"},
    {NULL, "classifier.*", "features.0", "torchvision's vgg, alexnet, mobilenetv3"},
    {NULL, "stage?.*", "stage2.0", "torchvision/models/shufflenetv2.py"},
    {NULL, "layers.*", "layers.0", "torchvision/models/mnasnet.py"},
    {NULL, "*", "trunk_output.block1", "torchvision/models/regnet.py"},
    {"add.Tensor", "*.SelfAttention", NULL, "transformers/models/t5/modeling_t5.py: scores += position_bias_masked"},
    {"add.Tensor", "*.EncDecAttention", NULL, "transformers/models/t5/modeling_t5.py"},
};

/* Operators of these may write in place. */
static const char *const activations[] = {"relu.default", "hardtanh.default", "silu.default", "hardswish.default"};

static void
mark_in_place(struct lost *x, const struct node *n, struct call *c)
{
    const struct lowering *l = x->l;
    const char *path = l->p->modules[c->scope].path;
    bool activation = false;
    int in = -1;
    for (int i = 0; i < COUNT(activations); i++)
        activation |= strcmp(c->op->name, activations[i]) == 0;
    for (int i = n->nin - 1; i >= 0 && c->nargs; i--)
        if (n->in[i] >= 0 && c->args[0].kind == ARG_SLOT && l->slot_of[n->in[i]] == c->args[0].i)
            in = n->in[i];
    if (l->s->inplace == INPLACE_NONE || !lower_may_overwrite(l->g, in, n->out[0], (int)(n - l->g->n)))
        return;
    c->in_place = l->s->inplace == INPLACE_RELU && strcmp(c->op->name, "relu.default") == 0;
    for (int i = 0; i < COUNT(in_place_names) && !c->in_place; i++) {
        const struct in_place_name *k = &in_place_names[i];
        c->in_place = (k->op ? strcmp(c->op->name, k->op) == 0 : activation) && glob_match(k->path, path) &&
                      (!k->beside || names_find(x->modules, k->beside) >= 0);
    }
    x->in_place |= c->in_place;
}

/* ---- dropout ----------------------------------------------------------------------------------------------------------------------------------- */

/* Where libraries' models drop out by default, by the names that their modules have there. Source: the modeling files of Transformers
 * 4.57 with the defaults of their configurations, torch/nn/modules/transformer.py. */
static const struct dropout_name {
    const char *op;   /* NULL: whatever gives the module's result */
    const char *path; /* glob: the module of the operator that comes before */
    int up;           /* from that module's path: so many names less */
    const char *beside;
} dropout_names[] = {
    /* BERT, RoBERTa, ELECTRA: hidden_dropout_prob and attention_probs_dropout_prob 0.1; DistilBERT: dropout 0.1 */
    {"layer_norm.default", "*embeddings.LayerNorm", 1, "position_embeddings"},
    {"softmax.int", "*.attention.self", 0, "query"},
    {"scaled_dot_product_attention.default", "*.attention.self", 0, "query"},
    {"linear.default", "*.attention.output.dense", 2, "self.query"},
    {"linear.default", "*.output.dense", 2, "attention.self.query"},
    {"softmax.int", "*transformer.layer.*.attention", 0, "q_lin"},
    {"scaled_dot_product_attention.default", "*transformer.layer.*.attention", 0, "q_lin"},
    {"linear.default", "*transformer.layer.*.ffn.lin2", 0, NULL},
    /* T5: dropout_rate 0.1 */
    {"embedding.default", "*", 1, "block.0.layer.0.SelfAttention.q"},
    {"softmax.int", "*.SelfAttention", 0, "relative_attention_bias"},
    {"softmax.int", "*.SelfAttention", 0, "q"},
    {"softmax.int", "*.EncDecAttention", 0, "q"},
    {"linear.default", "*.SelfAttention.o", 0, NULL},
    {"linear.default", "*.EncDecAttention.o", 0, NULL},
    {"relu.default", "*.DenseReluDense.act", 0, NULL},
    {"mul.Tensor", "*.DenseReluDense", 0, "wi_1"},
    {"linear.default", "*.DenseReluDense.wo", 0, NULL},
    {NULL, "*final_layer_norm", 1, "block.0.layer.0.SelfAttention.q"},
    /* GPT-2: resid_pdrop, embd_pdrop, attn_pdrop 0.1 */
    {"softmax.int", "*h.*.attn", 0, "c_attn"},
    {"scaled_dot_product_attention.default", "*h.*.attn", 0, "c_attn"},
    {NULL, "*h.*.attn.c_proj", 1, "c_attn"},
    {NULL, "*h.*.mlp.c_proj", 1, "c_fc"},
    {"add.Tensor", "*", 0, "h.0.attn.c_attn"},
    /* nn.TransformerEncoderLayer, nn.TransformerDecoderLayer: dropout 0.1 */
    {"scaled_dot_product_attention.default", "*layers.*_attn", 1, "linear2"},
    {"softmax.int", "*layers.*_attn", 1, "linear2"},
    {NULL, "*layers.*_attn", 1, "linear2"},
    {"relu.default", "*layers.*", 0, "linear2"},
    {"gelu.default", "*layers.*", 0, "linear2"},
    {"linear.default", "*layers.*.linear2", 1, "self_attn"},
};

/* Nobody in the module reads the tensor. */
static bool
leaves(const struct lost *x, int tensor, const char *path)
{
    const struct graph *g = x->l->g;
    size_t n = strlen(path);
    for (int u = 0; u < g->t[tensor].nusers; u++) {
        const char *user = lower_node_module(x->l->a, &g->n[g->t[tensor].users[u]]);
        if (strncmp(user, path, n) == 0 && (!user[n] || user[n] == '.'))
            return false;
    }
    return g->t[tensor].nusers > 0;
}

static bool
drops(const struct lost *x, const struct dropout_name *k, const struct call *c, int out)
{
    const char *path = x->l->p->modules[c->scope].path;
    if ((k->op && strcmp(c->op->name, k->op) != 0) || !glob_match(k->path, path) ||
        (strcmp(c->op->name, "scaled_dot_product_attention.default") != 0 && !k->op && !leaves(x, out, path)))
        return false;
    char *parent = arena_str(x->l->a, path);
    for (int i = 0; i < k->up; i++)
        *(strrchr(parent, '.') ? strrchr(parent, '.') : parent) = 0;
    return !k->beside ||
           names_find(x->modules, arena_printf(x->l->a, "%s%s%s", parent, *parent ? "." : "", k->beside)) >= 0;
}

/* A call of `slot` at the place of call `at`. */
static struct call *
call_of(struct lost *x, int at, const char *target, int nargs, int slot)
{
    struct call *c = lower_call(x->l, target, nargs), *from = &x->l->p->calls[at];
    c->node = from->node;
    c->name = from->name;
    c->scope = from->scope;
    c->location = from->location;
    c->args[0] = (struct arg){.kind = ARG_SLOT, .i = slot};
    return c;
}

/* The last call runs before call `at`, which reads its result. */
static void
put_before(struct lost *x, int at)
{
    struct program *p = x->l->p;
    struct call reader = p->calls[at], *last = &p->calls[p->ncalls - 1];
    reader.args[0].i = last->outs[0];
    p->calls[at] = *last;
    *last = reader;
}

static struct call *
dropout_of(struct lost *x, int at, int slot)
{
    struct call *c = call_of(x, at, "aten.dropout.default", 3, slot);
    c->args[1] = FLT(0.1);
    c->args[2] = BOOL(true);
    x->dropout = true;
    return c;
}

/* "classifier.3" without a "classifier.2": a Sequential's module that left no operator. */
static bool
after_gap(const struct lost *x, const char *path)
{
    const char *dot = strrchr(path, '.'), *number = dot ? dot + 1 : path;
    char *end;
    long k = strtol(number, &end, 10);
    return *number && !*end && k > 0 &&
           names_find(x->modules, arena_printf(x->l->a, "%.*s%ld", (int)(number - path), path, k - 1)) < 0;
}

static void
put_back_dropout(struct lost *x, const struct node *n, int at)
{
    struct program *p = x->l->p;
    struct call *c = &p->calls[at];
    int out = n->out[0];
    if (strcmp(c->op->name, "linear.default") == 0 && after_gap(x, p->modules[c->scope].path)) {
        dropout_of(x, at, (int)c->args[0].i);
        put_before(x, at);
        return;
    }
    for (int i = 0; i < COUNT(dropout_names); i++)
        if (drops(x, &dropout_names[i], c, out)) {
            if (strcmp(c->op->name, "scaled_dot_product_attention.default") == 0) {
                if (c->nargs > 4)
                    c->args[4] = FLT(0.1);
                x->dropout = true;
            } else {
                c = dropout_of(x, at, x->l->slot_of[out]);
                lower_sizes(x->l, &x->l->g->t[out], &c->rank, &c->size);
                x->l->slot_of[out] = c->outs[0];
            }
            return;
        }
}

/* ---- casts -------------------------------------------------------------------------------------------------------------------------------------- */

/* Modules whose input is cast to their weight's type: nothing when it has it, as in the export, but not under autocast. */
static const char *const weight_casts[] = {
    "*.DenseReluDense.wo", /* transformers/models/t5/modeling_t5.py: hidden_states.to(self.wo.weight.dtype) */
};

static void
put_back_cast(struct lost *x, int at)
{
    const struct call *c = &x->l->p->calls[at];
    for (int i = 0; i < COUNT(weight_casts); i++)
        if (strcmp(c->op->name, "linear.default") == 0 &&
            glob_match(weight_casts[i], x->l->p->modules[c->scope].path)) {
            int weight = (int)c->args[1].i;
            struct call *cast = call_of(x, at, "aten.to_like", 2, (int)c->args[0].i);
            cast->args[1] = (struct arg){.kind = ARG_SLOT, .i = weight};
            put_before(x, at);
            return;
        }
}

/* ---- the pass ---------------------------------------------------------------------------------------------------------------------------------- */

/* A module and those around it. */
static void
note_module(struct lost *x, const char *path)
{
    char *p = arena_str(x->l->a, path), *dot;
    while (*p && names_find(x->modules, p) < 0) {
        names_put(x->modules, arena_str(x->l->a, p), 0);
        if (!(dot = strrchr(p, '.')))
            break;
        *dot = 0;
    }
}

struct lost
lost_new(struct lowering *l)
{
    struct lost x = {.l = l, .modules = names_new(l->a)};
    const struct graph *g = l->g;
    x.evaluation = l->s->dropout == DROPOUT_AUTO && l->s->mode == MODE_TRAINING;
    for (int i = 0; i < g->nn; i++) {
        note_module(&x, lower_node_module(l->a, &g->n[i]));
        x.evaluation &= node_call(&g->n[i]) != CALL_DROPOUT;
    }
    for (int i = 0; i < g->nt; i++) {
        const char *dot = g->t[i].is_initializer ? strrchr(g->t[i].name, '.') : NULL;
        if (dot)
            note_module(&x, arena_strn(l->a, g->t[i].name, (size_t)(dot - g->t[i].name)));
    }
    return x;
}

void
lost_after(struct lost *x, const struct node *n, int at)
{
    struct call *c = &x->l->p->calls[at];
    if (!c->op || n->nout != 1)
        return;
    mark_in_place(x, n, c);
    bool whole = c->outs[0] == x->l->slot_of[n->out[0]];
    put_back_cast(x, at);
    if (x->evaluation && whole)
        put_back_dropout(x, n, x->l->p->ncalls - 1);
}

void
lost_end(const struct lost *x)
{
    if (x->in_place && x->l->s->inplace == INPLACE_AUTO)
        program_assume(x->l->p, ALTERNATIVE_INPLACE,
                       "operators write in place, as in the libraries whose names the modules have");
    if (x->dropout)
        program_assume(x->l->p, ALTERNATIVE_DROPOUT,
                       "dropout that an evaluation export removed is put back where the names of modules show its "
                       "place, with a probability above 0");
}
