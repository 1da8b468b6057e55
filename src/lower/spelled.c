/* SPDX-License-Identifier: Apache-2.0 */
/* spelled.c - how PyTorch's exporter spells a program: what operators do that tells what became of them, and which it
 * writes instead of others.
 *
 * The same whatever the model is, so no facts of libraries (facts.c). Bodies elsewhere ask for a trait and name no
 * operator.
 */
#include "lower/dynamo.h"
#include "torch/torch.h"

#include <ctype.h>
#include <limits.h>
#include <string.h>

bool
spelled_as(const char *name, const char *stem)
{
    while (*stem && *stem == *name) {
        stem++;
        name++;
    }
    return !*stem && (!*name || (*name == '_' && isdigit((unsigned char)name[1])));
}

static const struct trait_row {
    const char *stem;
    unsigned traits;
    const char *was; /* what a constant of that name was made by; NULL: by itself */
} trait_rows[] = {
    {"slice", MAY_SLICE, NULL},
    {"alias", MAY_SLICE | IS_SAME, NULL},
    {"add", KEEPS_SIZES | HAS_IDENTITY, NULL},
    {"sub", KEEPS_SIZES | HAS_IDENTITY | SUBTRACTS, NULL},
    {"rsub", KEEPS_SIZES, NULL},
    {"mul", KEEPS_SIZES | HAS_IDENTITY | MULTIPLIES, NULL},
    {"div", KEEPS_SIZES | HAS_IDENTITY, NULL},
    {"neg", KEEPS_SIZES, NULL},
    {"exp", KEEPS_SIZES, NULL},
    {"einsum", MAKES_TABLES, NULL},
    {"cos", MAKES_TABLES, NULL},
    {"sin", MAKES_TABLES, NULL},
    {"cat", MAKES_TABLES, NULL},
    {"stack", MAKES_TABLES, NULL},
    {"outer", MAKES_TABLES, NULL},
    {"permute", TRANSPOSES, NULL},
    {"t", TRANSPOSES, NULL},
    {"transpose", TRANSPOSES, NULL},
    {"embedding", LOOKS_UP, NULL},
    {"clone", COPIES, "_to_copy.default"}, /* torch.tensor(number, device=...) is traced as a clone */
    {"type_as", CASTS, NULL},
    {"to_like", CASTS, NULL},
    {"scalar_tensor_default", IS_NUMBER, NULL},
    {"sym_size_int", IS_SIZE, NULL},
    {"softmax", NORMALIZES, NULL},
    {"scaled_dot_product_attention", ATTENDS, NULL},
    {"linear", PROJECTS, NULL},
    {"addmm", ADDS_PRODUCT, NULL},
    {"convert_element_type_default", PROMOTES, NULL},
    {"_to_copy", CONVERTS, NULL},
    {"to", CASTS_TO, NULL},
    {"pow", SQUARES, NULL},
    {"rsqrt", INVERTS_ROOT, NULL},
    {"matmul", CONTRACTS, NULL},
    {"where", CHOOSES, NULL},
    {"copy", OVERWRITES, NULL},
    {"relu", RECTIFIES | OVERWRITES, NULL},
    {"hardtanh", OVERWRITES, NULL},
    {"silu", OVERWRITES, NULL},
    {"hardswish", OVERWRITES, NULL},
    {"hardsigmoid", OVERWRITES, NULL},
    {"mish", OVERWRITES, NULL},
    {"leaky_relu", OVERWRITES, NULL},
    {"elu", OVERWRITES, NULL},
    {"celu", OVERWRITES, NULL},
    {"selu", OVERWRITES, NULL},
    {"convolution", CONVOLVES, NULL},
    {"conv1d", CONVOLVES, NULL},
    {"conv2d", CONVOLVES, NULL},
    {"conv3d", CONVOLVES, NULL},
    {"conv_transpose1d", CONVOLVES, NULL},
    {"conv_transpose2d", CONVOLVES, NULL},
    {"conv_transpose3d", CONVOLVES, NULL},
    {"batch_norm", SCALES | TRAINS, NULL},
    {"cudnn_batch_norm", SCALES, NULL},
    {"native_batch_norm", SCALES, NULL},
    {"instance_norm", SCALES, NULL},
    {"layer_norm", SCALES, NULL},
    {"native_layer_norm", SCALES, NULL},
    {"group_norm", SCALES, NULL},
    {"native_group_norm", SCALES, NULL},
    {"rms_norm", SCALES, NULL},
    {"_fused_rms_norm", SCALES, NULL},
    {"linalg_vector_norm", SCALES, NULL},
    {"lost_clone", IS_LOST | IS_COPY, NULL},
    {"_unsafe_view", IS_COPY, NULL}, /* behind the clone of a reshape */
    {"lost_view", IS_LOST, NULL},
};

/* Of a target, "aten.add.Tensor", or of a name that the traced program gave to a result, "add_3"; traits: of which the
 * row has one, which tells most apart. */
static const struct trait_row *
trait_row(const char *name, unsigned traits)
{
    static const struct trait_row none = {"", 0, NULL};
    static unsigned char first[UCHAR_MAX + 1], next[COUNT(trait_rows) + 1]; /* by first letter: 1 and up, in order */
    static unsigned any[UCHAR_MAX + 1];                                     /* traits that one of these has */
    static bool sorted;
    for (int i = COUNT(trait_rows); i > 0 && !sorted; i--) {
        const unsigned char c = (unsigned char)*trait_rows[i - 1].stem;
        any[c] |= trait_rows[i - 1].traits;
        next[i] = first[c];
        first[c] = (unsigned char)i;
    }
    sorted = true;
    name = target_bare(name);
    for (int i = any[(unsigned char)*name] & traits ? first[(unsigned char)*name] : 0; i; i = next[i]) {
        const struct trait_row *row = &trait_rows[i - 1];
        size_t n = 1;
        if (!(row->traits & traits))
            continue;
        while (row->stem[n] && row->stem[n] == name[n])
            n++;
        if (!row->stem[n] && (!name[n] || name[n] == '.' || (name[n] == '_' && isdigit((unsigned char)name[n + 1]))))
            return row;
    }
    return &none;
}

bool
spelled(const char *name, enum trait t)
{
    return trait_row(name, t)->traits & t;
}

const char *
spelled_was(const char *name)
{
    return trait_row(name, ~0u)->was;
}

/* Of sizes: what such targets begin with. */
bool
spelled_number(const char *target)
{
    static const char *const makers[] = {"aten.sym_", "operator."};
    bool makes = false;
    for (int i = 0; i < COUNT(makers); i++)
        makes |= starts_with(target, makers[i]);
    return makes;
}

/* "full_like_3" to "aten.full_like". */
const char *
spelled_stem(struct arena *a, const char *name)
{
    static const char space[] = "aten.";
    const size_t all = strlen(name), m = sizeof(space) - 1;
    size_t n = all;
    while (n && isdigit((unsigned char)name[n - 1]))
        n--;
    n = n && n < all && name[n - 1] == '_' ? n - 1 : all;
    char *stem = arena_alloc(a, m + n + 1);
    memcpy(stem, space, sizeof(space));
    memcpy(stem + m, name, n);
    return stem;
}

/* ---- what was recorded for what runs ----------------------------------------------------------------------------- */

/* What eager runs differs from what was recorded: by target and the module's class. PyTorch's exporter decomposes and
 * spells so whatever the model is, as in the tables of traits, of calls that leave nothing and of wholes: no facts of
 * a library (facts.c). */
static const struct rename {
    const char *target, *type, *line, *to; /* line: what the innermost source line says */
    const char *source;
    const char *says, *but, *unless; /* globs of the arguments, NULL whatever they are; no line that calls this */
} renames[] = {
    {"aten.clone.default", NULL, NULL, "aten.contiguous.default", "contiguous in torch/_refs/__init__.py",
     .says = "*torch.contiguous_format*", .unless = "clone"},
    {"prims.var.default", NULL, NULL, "aten.var.correction", "decomposed by the exporter"},
    {"prims.broadcast_in_dim.default", NULL, NULL, "aten.broadcast_in_dim.default",
     "keepdim, decomposed by the exporter"},
    {"prims.sum.default", NULL, NULL, "aten.sum.dim_IntList", "likewise"},
    {"prims.squeeze.default", NULL, NULL, "aten.squeeze.dims", "likewise"},
    {"prims.div.default", NULL, NULL, "aten.div.Tensor", "likewise"},
    {"aten._native_batch_norm_legit_functional.default", NULL, "native_batch_norm(", "aten.native_batch_norm.default",
     "called by that name"},
    {"aten._native_batch_norm_legit_no_training.default", NULL, NULL, "aten.batch_norm.default",
     "training=True in a training step"},
    {"aten._native_batch_norm_legit_functional.default", NULL, NULL, "aten.batch_norm.default",
     "of a model that was exported in training mode"},
    {"aten._native_batch_norm_legit.default", NULL, NULL, "aten.batch_norm.default", "likewise"},
    {"aten._native_batch_norm_legit.no_stats", NULL, NULL, "aten.batch_norm.default", "likewise"},
    {"aten.clone.default", "torch.nn.modules.dropout.Dropout", NULL, "aten.lost_clone.default",
     "in evaluation mode, where the exporter optimized nothing"},
    {"aten.clone.default", NULL, "dropout(", "aten.lost_clone.default", "likewise"},
    {"aten.index_put.default", NULL, "index_add(", "aten.index_add.decomposed",
     "index_add in torch/_decomp/decompositions.py"},
    {"aten.index_put.default", NULL, "index_add_(", "aten.index_add.decomposed", "likewise"},
    {"aten.index_put.default", NULL, "index_copy(", "aten.index_copy.decomposed",
     "index_copy in torch/_decomp/decompositions.py"},
    {"aten.index_put.default", NULL, "index_fill(", "aten.index_fill.decomposed",
     "index_fill in torch/_decomp/decompositions.py"},
    {"aten.index_put.default", NULL, "index_fill_(", "aten.index_fill.decomposed", "likewise"},
    {"aten.index_put.default", NULL, "index_copy_(", "aten.index_copy.decomposed", "likewise"},
    {"aten.index_put.default", NULL, NULL, "aten.index_add.decomposed", "index_add, on a line that no file has",
     .says = "*, [[]*%*], %*, True)*", .but = "*, [[]*%*%*], *", .unless = "index_put"},
    {"aten.mm.default", NULL, "tensordot(", "aten.tensordot.decomposed",
     "promote in aten/src/ATen/autocast_mode.h: what it calls is not cast"},
    {"aten.view.default", NULL, NULL, "aten.reshape.default",
     "whether it copies depends on strides: the training device decides anew"},
    {"aten._unsafe_view.default", NULL, NULL, "aten.reshape.default", "likewise"},
    {"aten.avg_pool2d.default", "torch.nn.modules.pooling.AdaptiveAvgPool2d", NULL, "aten._adaptive_avg_pool2d.default",
     "decomposed by the exporter"},
    {"aten.mean.dim", NULL, "adaptive_avg_pool1d(", "aten.mean.pixel", "likewise"},
    {"aten.mean.dim", NULL, "adaptive_avg_pool2d(", "aten.mean.pixel", "likewise"},
    {"aten._to_copy.default", NULL, NULL, "aten.to.dtype", "a copy only when the type differs"},
    {"prims.convert_element_type.default", NULL, NULL, "aten.alias.default",
     "the exporter's type promotion: eager promotes inside the operator"},
    {"aten.as_strided.default", NULL, "adaptive_avg_pool", "aten.alias.default",
     "follows a decomposed adaptive pool, changes nothing"},
    {"aten.linalg_vector_norm.default", NULL, "pairwise_distance(", "aten.norm.ScalarOpt_dim", "Distance.cpp"},
    {"aten.dot.default", NULL, "vdot(", "aten.vdot.default", "vdot in torch/_refs"},
    {"aten.bernoulli.p", NULL, "dropout2d(", "aten.alias.default", "bernoulli_ in Dropout.cpp"},
    {"aten.div.Scalar", NULL, "dropout2d(", "aten.alias.default", "div_ in Dropout.cpp"},
    {"aten.bernoulli.p", NULL, "feature_dropout.", "aten.alias.default", "likewise, as a graph's code has it"},
    {"aten.div.Scalar", NULL, "feature_dropout.", "aten.alias.default", "likewise"},
    {"aten.bernoulli.p", NULL, "dropout1d(", "aten.alias.default", "likewise"},
    {"aten.div.Scalar", NULL, "dropout1d(", "aten.alias.default", "likewise"},
    {"aten.bernoulli.p", NULL, "dropout3d(", "aten.alias.default", "likewise"},
    {"aten.div.Scalar", NULL, "dropout3d(", "aten.alias.default", "likewise"},
    {"aten.avg_pool2d.default", NULL, "adaptive_avg_pool", "aten._adaptive_avg_pool2d.default",
     "windows of equal sizes: adaptive_avg_pool2d in torch/_decomp/decompositions.py"},
    {"aten.avg_pool2d.default", NULL, "interpolate(", "aten._adaptive_avg_pool2d.default",
     "mode='area': interpolate in torch/nn/functional.py"},
};

/* Its rows, as bits. */
static uint64_t
renames_of(const char *target)
{
    _Static_assert(COUNT(renames) <= 64, "a bit each");
    uint64_t rows = 0;
    for (int i = 0; i < COUNT(renames); i++)
        rows |= (uint64_t)(strcmp(renames[i].target, target) == 0) << i;
    return rows;
}

const char *
spelled_anew(const struct dynamo *d, const struct group *g)
{
    struct arena *a = d->l->a;
    static const struct {
        const char *stem, *overload;
    } scalar[] = {{"clamp", "default"}, {"clamp_min", "default"}, {"clamp_max", "default"}, {"eq", "Scalar"},
                  {"ne", "Scalar"},     {"lt", "Scalar"},         {"le", "Scalar"},         {"gt", "Scalar"},
                  {"ge", "Scalar"},     {"remainder", "Scalar"},  {"fmod", "Scalar"}}; /* a number became a tensor */
    bool was_number = strstr(g->args, "%scalar_tensor_default");
    for (int i = 0; i < COUNT(scalar) && was_number; i++)
        if (target_named(g->target, scalar[i].stem))
            return arena_printf(a, "aten.%s.%s", scalar[i].stem, scalar[i].overload);
    const char *line = fx_line_at(d, g->last);
    for (uint64_t left = g->aim ? g->aim->renames : renames_of(g->target); left; left &= left - 1) {
        const struct rename *r = &renames[__builtin_ctzll(left)];
        if ((!r->type || (g->type && strcmp(r->type, g->type) == 0)) && (!r->line || strstr(line, r->line)) &&
            (!r->says || glob_match(r->says, g->args)) && !(r->but && glob_match(r->but, g->args)) &&
            !(r->unless && python_calls(line, r->unless)))
            return r->to;
    }
    return g->target;
}

/* Calls that a model in evaluation mode doesn't make, beside norms that take statistics of the batch: dropout, a power
 * iteration's, and random numbers in a class or on a line that drops paths, blocks or connections. */
bool
spelled_in_training(const char *target, const char *args, const struct node *n)
{
    static const struct {
        const char *target, *said; /* said: among the arguments, NULL whatever they are */
        bool random;
    } calls[] = {{"aten.native_dropout.default", ", True", false},
                 {"aten.dropout.default", ", True", false},
                 {"aten.mv.default", "_u)", false}, /* _power_method in torch/nn/utils/parametrizations.py */
                 {"aten.rand.default", NULL, true},
                 {"aten.rand_like.default", NULL, true},
                 {"aten.bernoulli.default", NULL, true},
                 {"aten.bernoulli.p", NULL, true},
                 {"aten.uniform.default", NULL, true}};
    static const char *const drops[] = {"Drop", "drop_", "StochasticDepth", "self.training"};
    int at = 0;
    while (at < COUNT(calls) && strcmp(calls[at].target, target) != 0)
        at++;
    if (at == COUNT(calls) || !args)
        return at < COUNT(calls);
    if (!calls[at].random)
        return !calls[at].said || strstr(args, calls[at].said);
    bool training = false;
    for (int i = 0; i < COUNT(drops); i++)
        training |= (n->stack && strstr(n->stack, drops[i])) || (n->classes && strstr(n->classes, drops[i]));
    return training;
}

enum statistics
spelled_statistics(const char *target)
{
    static const struct {
        const char *target;
        enum statistics of;
    } norms[] = {{"aten._native_batch_norm_legit_functional.default", STATISTICS_BATCH},
                 {"aten._native_batch_norm_legit_no_training.default", STATISTICS_RUNNING}};
    for (int i = 0; i < COUNT(norms); i++)
        if (strcmp(norms[i].target, target) == 0)
            return norms[i].of;
    return STATISTICS_ANY;
}

const char *
spelled_root(struct arena *a, const char *target)
{
    static const char functional[] = "_functional"; /* "normal_functional" of x.normal_() */
    const char *bare = target_bare(target);
    const size_t n = strcspn(bare, "."), suffix = strlen(functional);
    const bool in_place = n > suffix && strncmp(bare + n - suffix, functional, suffix) == 0;
    return arena_strn(a, bare, in_place ? n - suffix : n);
}

/* Functions that are one operator each, by other names: those of torch.fft where nothing is cut or padded.
 * Source: aten/src/ATen/native/SpectralOps.cpp, torch/nn/functional.py, torch/functional.py. */
static const struct {
    const char *root, *names[8];
} functions[] = {{"_fft_r2c", {"rfft", "rfft2", "rfftn", "fft", "fft2", "fftn"}},
                 {"_fft_c2c", {"fft", "fft2", "fftn", "ifft", "ifft2", "ifftn"}},
                 {"_fft_c2r", {"irfft", "irfft2", "irfftn"}},
                 {"col2im", {"fold"}},
                 {"cross_entropy_loss", {"cross_entropy"}},
                 {"grid_sampler", {"grid_sample"}},
                 {"im2col", {"unfold"}},
                 {"linalg_vector_norm", {"norm", "vector_norm"}},
                 {"native_dropout", {"dropout"}},
                 {"upsample_bicubic2d", {"interpolate"}},
                 {"upsample_bilinear2d", {"interpolate"}},
                 {"upsample_linear1d", {"interpolate"}},
                 {"upsample_nearest1d", {"interpolate"}},
                 {"upsample_nearest2d", {"interpolate"}},
                 {"upsample_nearest3d", {"interpolate"}},
                 {"upsample_trilinear3d", {"interpolate"}}};

const char *
spelled_in(struct arena *a, const char *line, const char *target)
{
    const char *root = spelled_root(a, target);
    for (int i = 0; i < COUNT(functions); i++)
        for (int k = 0; strcmp(functions[i].root, root) == 0 && functions[i].names[k]; k++)
            if (python_calls(line, functions[i].names[k]))
                return functions[i].names[k];
    return root;
}

/* Source: new_empty, new_full and others in aten/src/ATen/native/TensorFactories.cpp. */
const char *
spelled_alone(const char *target)
{
    static const struct {
        const char *of, *alone;
    } made[] = {{"aten.new_empty.default", "aten.empty.memory_format"},
                {"aten.new_full.default", "aten.full.default"},
                {"aten.new_ones.default", "aten.ones.default"},
                {"aten.new_zeros.default", "aten.zeros.default"}};
    for (int i = 0; i < COUNT(made); i++)
        if (strcmp(made[i].of, target) == 0)
            return made[i].alone;
    return NULL;
}

/* Whether a name is the stem, a number behind it or not: "view_1" and "view_default" are of "view", "view_as_real" is
 * not. */
static bool
of_stem(const char *name, const char *stem)
{
    const size_t n = strcspn(stem, ".");
    if (!n || strncmp(name, stem, n) != 0)
        return false;
    const char *rest = name + n + strspn(name + n, "_");
    return !isalpha((unsigned char)*rest) || (name[n] == '_' && strncmp(rest, "default", strlen("default")) == 0);
}

/* Whether a name such as "view_1" is one that the traced program gives to results of this target, as it was before it
 * was renamed. */
bool
spelled_after(const char *name, const char *target)
{
    if (of_stem(name, target_bare(target)))
        return true;
    for (int i = 0; i < COUNT(renames); i++)
        if (strcmp(renames[i].to, target) == 0 && strcmp(renames[i].target, target) != 0 &&
            of_stem(name, target_bare(renames[i].target)))
            return true;
    return strcmp(target, REFLECTED) == 0 && spelled_after(name, "aten.sub.Tensor");
}

/* The row of a recorded call. Those that only gradients and memlint itself call have no overload or are called
 * _backward, and rely on what their callers give them. */
const struct aten *
spelled_row(const char *target)
{
    const struct aten *op = aten_find(target);
    return op && strchr(op->name, '.') && !strstr(op->name, "_backward") ? op : NULL;
}

void
spelled_read(struct aim *aim, const char *target)
{
    if (aim->read)
        return;
    aim->read = true;
    aim->row = spelled_row(target);
    aim->traits = trait_row(target, ~0u)->traits;
    aim->number = spelled_number(target);
    aim->renames = renames_of(target);
    aim->batch = spelled_statistics(target) == STATISTICS_BATCH;
    aim->trains = spelled_in_training(target, NULL, NULL);
}

const struct traceless traceless[NTRACELESS] = {
    [TRACELESS_PAIRS] = {"view_as_real", "aten.view_as_real.default", false, 0},
    [TRACELESS_COMPLEX] = {"view_as_complex", "aten.view_as_complex.default", false, 0},
    [TRACELESS_DETACH] = {"detach", "aten.detach.default", false, SAYS_DETACH},
    [TRACELESS_CAT] = {"cat", "aten.cat.default", true, 0},
};

const struct traceless *
spelled_traceless(const char *name)
{
    const struct traceless *row = NULL;
    for (int i = 0; i < NTRACELESS && !row; i++)
        row = spelled_as(name, traceless[i].stem) ? &traceless[i] : NULL;
    return row;
}

bool
spelled_ends_statement(const char *target)
{
    bool ends = false;
    for (int i = 0; i < NTRACELESS; i++)
        ends |= traceless[i].last && strcmp(traceless[i].target, target) == 0;
    return ends;
}
