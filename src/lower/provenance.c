/* SPDX-License-Identifier: Apache-2.0 */
/* provenance.c - where a file comes from, and what that means for the number.
 *
 * memlint answers for the step that PyTorch runs. How a file tells that step depends on who wrote it: PyTorch's
 * exporters record enough, a tool in between may have taken that away or have fused it, another framework runs other
 * kernels, and a quantized file is not what is trained. Each case is a row; the first that holds is the file's
 * provenance. Rows that make the number uncertain add a doubt, so that the result is inconclusive and says why.
 *
 * Sources: producer names as the tools write them (torch/onnx/_internal/exporter/_core.py,
 * torch/csrc/jit/serialization/ export.cpp, tf2onnx/graph.py, skl2onnx/convert.py, onnxmltools/utils/utils_backend.py,
 * paddle2onnx/mapper/exporter.cc, onnxruntime/python/tools/transformers/onnx_model.py,
 * onnxruntime/python/tools/quantization/quant_utils.py); operators as onnxruntime/core/graph/contrib_ops and
 * nchwc_schema_defs.cc define them.
 */
#include "base/setup.h"
#include "lower/lower.h"

#include <stdlib.h>
#include <string.h>

/* Who wrote the file: what the producer's name begins with, without case; or in files without one what the graph's name
 * begins with. */
static const struct producer {
    const char *name;
    enum { PYTORCH, TOOL, FRAMEWORK, CLASSICAL } kind;
    const char *is; /* what people call it */
    const char *graph;
} producers[] = {
    {"pytorch", PYTORCH, "PyTorch"},
    {"memlint", PYTORCH, "PyTorch, by memlint.export"},
    {"onnxruntime", TOOL, "ONNX Runtime's optimizer"},
    {"onnx.quantize", TOOL, "ONNX Runtime's quantizer"},
    {"onnx.optimizer", TOOL, "onnxoptimizer"},
    {"onnx.utils.extract_model", TOOL, "onnx.utils.extract_model"},
    {"onnx.compose", TOOL, "onnx.compose"},
    {"onnx-simplifier", TOOL, "onnx-simplifier"},
    {"onnxsim", TOOL, "onnx-simplifier"},
    {"onnxslim", TOOL, "OnnxSlim"},
    {"olive", TOOL, "Olive"},
    {"optimum", TOOL, "Optimum"},
    {"neural-compressor", TOOL, "Neural Compressor"},
    {"tf2onnx", FRAMEWORK, "TensorFlow, by tf2onnx"},
    {"keras2onnx", FRAMEWORK, "Keras, by keras2onnx"},
    {"jax2onnx", FRAMEWORK, "JAX, by jax2onnx"},
    {"jax", FRAMEWORK, "JAX"},
    {"paddle", FRAMEWORK, "Paddle, by Paddle2ONNX", "paddlepaddle graph"},
    {"paddle2onnx", FRAMEWORK, "Paddle, by Paddle2ONNX", "model from paddlepaddle"},
    {"mxnet", FRAMEWORK, "MXNet", "mxnet_converted_model"},
    {"cntk", FRAMEWORK, "CNTK"},
    {"chainer", FRAMEWORK, "Chainer"},
    {"onnx-caffe2", FRAMEWORK, "Caffe2"},
    {"caffe", FRAMEWORK, "Caffe"},
    {"onnxmltools", FRAMEWORK, "another library, by OnnxMLTools"},
    {"winmltools", FRAMEWORK, "another library, by WinMLTools"},
    {"coremltools", FRAMEWORK, "Core ML"},
    {"matlab", FRAMEWORK, "MATLAB"},
    {"mindspore", FRAMEWORK, "MindSpore"},
    {"nnabla", FRAMEWORK, "NNabla"},
    {"deeplearning4j", FRAMEWORK, "Deeplearning4j"},
    {"skl2onnx", CLASSICAL, "scikit-learn, by skl2onnx"},
    {"sklearn", CLASSICAL, "scikit-learn"},
    {"hummingbird", CLASSICAL, "Hummingbird"},
    {"catboost", CLASSICAL, "CatBoost"},
    {"ml.net", CLASSICAL, "ML.NET"},
    {"tribuo", CLASSICAL, "Tribuo"},
};

/* Operators that no exporter of a float model writes; the first row that a node is of. */
static const struct {
    const char *domain, *op; /* globs */
    enum { FEW_BITS, INTEGERS, DYNAMIC, PAIRS, FUSED, CLASSIC } kind;
} operators[] = {
    {"", "QuantizeLinear", PAIRS},
    {"", "DequantizeLinear", PAIRS},
    {"", "DynamicQuantizeLinear", DYNAMIC},
    {"", "MatMulInteger", DYNAMIC},
    {"", "ConvInteger", DYNAMIC},
    {"", "QLinear*", INTEGERS},
    {"com.microsoft", "MatMulIntegerToFloat", DYNAMIC},
    {"com.microsoft", "Dynamic*", DYNAMIC},
    {"com.microsoft", "MatMulInteger*", DYNAMIC},
    {"com.microsoft", "QuantizeLinear", PAIRS},
    {"com.microsoft", "DequantizeLinear", PAIRS},
    {"com.microsoft", "QMoE", FEW_BITS},
    {"com.microsoft", "QLinear*", INTEGERS},
    {"com.microsoft", "QAttention", INTEGERS},
    {"com.microsoft", "QEmbed*", INTEGERS},
    {"com.microsoft", "QGemm", INTEGERS},
    {"com.microsoft", "QOrdered*", INTEGERS},
    {"com.microsoft", "Dequantize*", FEW_BITS},
    {"com.microsoft", "MatMulNBits", FEW_BITS},
    {"com.microsoft", "MatMulFpQ4", FEW_BITS},
    {"com.microsoft", "MatMulBnb4", FEW_BITS},
    {"com.microsoft", "GatherBlockQuantized", FEW_BITS},
    {"com.microsoft*", "*", FUSED},
    {"ai.onnx.ml", "*", CLASSIC},
};

/* What tools call the nodes that they put in: convert_float_to_float16 in onnxconverter_common/float16.py and
 * onnxruntime/python/tools/transformers/float16.py; insert_cast_transformer.cc in onnxruntime/core/optimizer. */
static const char *const inserted[] = {"*_cast_to_*", "graph_input_cast*", "graph_output_cast*", "Inserted*Cast_*"};

static const enum op_call layers[] = {CALL_CONV, CALL_CONV_TRANSPOSE, CALL_GEMM, CALL_LSTM, CALL_RNN};

struct file {
    const struct graph *g;
    const struct program *p;
    const struct setup *s;
    const struct producer *producer;       /* NULL unknown */
    const struct node *found[CLASSIC + 1]; /* the first of each kind */
    bool recorded;                         /* PyTorch's own record of the program is there */
    bool partly;                           /* of its nodes alone */
    bool scoped;                           /* nodes and results are named as TorchScript's exporter names them */
    bool inserted;                         /* a tool put a node in */
    bool layers;                           /* operators that have weights, where these may be computed */
    bool constants;                        /* a parameter that is trained is a Constant node's */
    int data;                              /* initializers of floats */
    int weights, trained;                  /* floats of two and more dimensions and not one number; parameters */
};

static bool
has_few_bits(const struct file *f)
{
    return f->found[FEW_BITS];
}

static bool
is_dynamic(const struct file *f)
{
    return f->found[DYNAMIC];
}

static bool
has_integers(const struct file *f)
{
    return f->found[INTEGERS];
}

static bool
has_pairs(const struct file *f)
{
    return f->found[PAIRS];
}

/* Trees, scalers and linear models have operators of their own and no weights that are trained by gradients. */
static bool
is_classical(const struct file *f)
{
    return f->found[CLASSIC] && f->weights == 0;
}

/* Libraries that fit their models by other means, networks too. */
static bool
is_fitted(const struct file *f)
{
    return f->producer && f->producer->kind == CLASSICAL;
}

static bool
is_fused(const struct file *f)
{
    return f->found[FUSED];
}

/* Where PyTorch's record is there, the record is what tells the program, whatever a tool made of the operators. */
static bool
is_tools(const struct file *f)
{
    return f->producer && f->producer->kind == TOOL && !f->g->signature;
}

/* ONNX Runtime keeps the producer of what it optimized, inlines functions and removes operators at every level. */
static bool
is_saved(const struct file *f)
{
    return f->g->runtime && !f->g->signature;
}

static bool
is_foreign(const struct file *f)
{
    return f->producer && f->producer->kind == FRAMEWORK;
}

/* What prepares the input of a network, or comes after it. */
static bool
is_weightless(const struct file *f)
{
    return is_foreign(f) && f->weights == 0 && !f->layers;
}

/* torch.onnx.dynamo_export of PyTorch 2.1 to 2.4: torch/onnx/_internal/fx/fx_onnx_interpreter.py. */
static bool
is_packaged(const struct file *f)
{
    return f->g->packaged && !f->recorded;
}

/* The default exporter writes IR version 10 and the whole version of PyTorch, with what it was built for; TorchScript's
 * no "+", IR version 10 from opset 21 on, and nodes that begin with their scope. */
static bool
is_stripped(const struct file *f)
{
    bool script = false;
    for (int i = 0; i < f->g->nn && f->g->opset >= 21; i++)
        script |= *f->g->n[i].name == '/';
    return f->partly ||
           (f->producer && f->producer->kind == PYTORCH && !f->recorded &&
            ((f->g->ir_version >= 10 && !script) || (f->g->producer_version && strchr(f->g->producer_version, '+'))));
}

/* Weights are inputs then in TorchScript's files, and names that nothing defines in others. */
static bool
is_unfilled(const struct file *f)
{
    return f->producer && f->producer->kind == PYTORCH && f->data == 0 && (f->layers || f->p->nparams > 0) &&
           !f->p->captured;
}

/* From 1.4 to 1.12 it called the nodes of a graph "Conv_0", "Relu_1", ...: one that is gone leaves a gap. */
static bool
has_gaps(const struct graph *g)
{
    int version = graph_torch(g);
    bool gap = false, flow = false;
    for (int i = 0; i < g->nn && version >= 104 && version <= 112; i++) {
        const struct node *n = &g->n[i];
        flow |= n->made || (n->row && n->row->flow);
        gap |= *n->name && strcmp(n->name, arena_printf(g->arena, "%s_%d", n->op, i)) != 0;
    }
    return gap && !flow;
}

/* TorchScript's exporter writes what a program computes as nodes, numbers too, and no sizes between them (none from 2.1
 * on): torch/csrc/jit/serialization/export.cpp. */
static bool
is_touched(const struct file *f)
{
    bool script = f->producer && f->producer->kind == PYTORCH && !f->recorded;
    bool touched = f->inserted || (script && has_gaps(f->g)) || (f->scoped && !f->producer);
    for (int i = 0; i < f->g->nt && script && !touched; i++) {
        const struct tensor *t = &f->g->t[i];
        bool result = *t->name == '/' && strstr(t->name, "_output_");
        bool between = t->declared_rank >= 0 && t->producer >= 0 && !t->is_output && t->wrap && !*t->wrap &&
                       !strchr(t->name, '#'); /* a branch's result, which the format has stated */
        for (int u = 0; u < t->nusers; u++)   /* what a cast reads got the sizes of its result: unroll.c */
            between &= node_call(&f->g->n[t->users[u]]) != CALL_CAST;
        touched = (t->is_initializer && result) || (between && graph_torch(f->g) >= 201);
    }
    return touched;
}

/* Lowering put back what evaluation mode takes away. */
static bool
is_evaluation(const struct file *f)
{
    for (int i = 0; i < f->p->nassumptions; i++)
        if (f->p->assumptions[i].alternative == ALTERNATIVE_NORMS ||
            f->p->assumptions[i].alternative == ALTERNATIVE_DROPOUT ||
            f->p->assumptions[i].alternative == ALTERNATIVE_DROPS)
            return true;
    return false;
}

static bool
is_untrained(const struct file *f)
{
    return f->s->mode == MODE_TRAINING && f->trained == 0;
}

/* --freeze and --train leave nothing. */
static bool
is_chosen(const struct file *f)
{
    return is_untrained(f) && (f->s->freeze.n || f->s->train.n);
}

/* TorchScript's exporter makes constants of scalars, and with do_constant_folding of what is computed from parameters
 * alone. */
static bool
is_folded(const struct file *f)
{
    return is_untrained(f) && !f->recorded && !f->s->freeze.n && !f->s->train.n && f->producer &&
           f->producer->kind == PYTORCH;
}

/* No exporter of PyTorch writes a weight as a Constant node. */
static bool
is_of_constants(const struct file *f)
{
    return f->weights == 0 && f->trained > 0 && !f->recorded && f->constants;
}

static bool
is_pytorch(const struct file *f)
{
    return f->producer && f->producer->kind == PYTORCH;
}

static bool
is_any(const struct file *f)
{
    return f->g->producer && *f->g->producer;
}

static const struct {
    const char *kind;
    bool (*holds)(const struct file *f);
    const char *text; /* %s: the producer, as people call it, or the first operator of the kind; NULL: nothing to say */
    const char *remedy; /* remedy: NULL none */
    bool doubt;
    enum sure sure;
    enum { BY_PRODUCER, BY_OPERATOR } of; /* what %s is, where there is such an operator */
    int found;
    bool leads, none; /* struct provenance */
} rows[] = {
    {"not-a-network", is_classical, "this is no neural network that PyTorch trains (%s)", NULL, true, SURE_NOTHING,
     BY_OPERATOR, CLASSIC, true, true},
    {"not-a-network", is_fitted, "exported from %s, which fits its models itself: there is no training step of PyTorch",
     NULL, true, SURE_NOTHING, BY_PRODUCER, 0, true, true},
    {"quantized", has_few_bits,
     "the file is quantized: its weights have few bits (%s), as a frozen base under adapters has that QLoRA trains, "
     "and no adapters are in it",
     "export the float model with its adapters, and read it with --train='*lora_*' --base=nf4-double", true,
     SURE_NOTHING, BY_OPERATOR, FEW_BITS},
    {"quantized", is_dynamic,
     "the file is quantized dynamically, for inference (%s): PyTorch trains the float model, whose tensors are other "
     "than these",
     "export the float model", true, SURE_NOTHING, BY_OPERATOR, DYNAMIC},
    {"quantized", has_integers,
     "the file is quantized: its operators compute integers (%s), and PyTorch trains the float model, whose tensors "
     "are "
     "other than these",
     "export the float model", true, SURE_NOTHING, BY_OPERATOR, INTEGERS},
    {"quantized", has_pairs,
     "the file is quantized, by QDQ pairs around operators (%s): PyTorch trains the float model, or that with fake "
     "quantization, whose tensors are other than these",
     "export the float model", true, SURE_NOTHING, BY_OPERATOR, PAIRS},
    {"fused", is_fused,
     "an optimizer fused operators for inference (%s): what PyTorch runs and keeps for them is not told",
     "analyse the file that torch.onnx.export wrote", true, SURE_NOTHING, BY_OPERATOR, FUSED},
    {"converted", is_tools, "the file was written by %s, which changes what PyTorch recorded",
     "analyse the file that torch.onnx.export wrote", true, SURE_MODEL, BY_PRODUCER, 0},
    {"converted", is_saved, "the file was saved by ONNX Runtime, which changes what PyTorch's exporter wrote",
     "analyse the file that torch.onnx.export wrote", true, SURE_MODEL, BY_PRODUCER, 0},
    {"not-a-network", is_weightless, "exported from %s, without weights: there is nothing that PyTorch trains", NULL,
     true, SURE_NOTHING, BY_PRODUCER, 0, true, true},
    {"foreign", is_foreign,
     "exported from %s: the step is what PyTorch would run of the same layers, as far as the file tells them", NULL,
     true, SURE_UPDATE, BY_PRODUCER, 0, true},
    {"stripped", is_stripped,
     "a tool between the export and this file removed PyTorch's record of the program, and perhaps operators",
     "analyse the file that torch.onnx.export wrote", true, SURE_MODEL, BY_PRODUCER, 0},
    {"unrecorded", is_packaged,
     "torch.onnx.dynamo_export wrote the file, which takes operators apart and keeps no record of the program",
     "export with torch.onnx.export(dynamo=True) of PyTorch 2.5 or later", true, SURE_MODEL, BY_PRODUCER, 0},
    {"touched", is_touched,
     "a tool changed the file after the export, and may have merged, removed or cast what PyTorch runs",
     "analyse the file that torch.onnx.export wrote", true, SURE_MODEL, BY_PRODUCER, 0},
    {"unfilled", is_unfilled, "the file has no weights, as export_params=False leaves it",
     "export with export_params=True", true, SURE_NOTHING, BY_PRODUCER, 0},
    {"folded", is_folded,
     "the file has no parameter that is trained: the exporter may have made constants of those that the model has",
     "export with dynamo=True", true, SURE_NOTHING, BY_PRODUCER, 0},
    {"untrained", is_chosen, "the set-up trains no parameter: there is no backward pass", NULL, false, 0, BY_PRODUCER,
     0},
    {"untrained", is_untrained, "nothing is trained, since the file has no parameter: there is no backward pass", NULL,
     false, 0, BY_PRODUCER, 0, true},
    {"unknown", is_of_constants,
     "the file keeps weights in Constant nodes, as no exporter of PyTorch does: which of them are trained is not told",
     NULL, true, SURE_MODEL, BY_PRODUCER, 0},
    {"evaluation", is_evaluation,
     "the file was exported after model.eval(); the step trains all the same, with what eval() took out put back where "
     "the file shows its place",
     "export in training mode", false, 0, BY_PRODUCER, 0},
    {"pytorch", is_pytorch, NULL, NULL, false, 0, BY_PRODUCER, 0},
    {"unknown", is_any, "the file is by %s, and is read as one of PyTorch's", NULL, false, 0, BY_PRODUCER, 0},
    {"unknown", NULL, NULL, NULL, false, 0, BY_PRODUCER, 0},
};

static bool
begins(const char *s, const char *with)
{
    for (; *with; s++, with++)
        if ((*s >= 'A' && *s <= 'Z' ? *s - 'A' + 'a' : *s) != *with)
            return false;
    return true;
}

/* "/layer/Conv_output_0" of "/layer/Conv": torch/csrc/jit/passes/onnx/naming.cpp. */
static bool
is_result_of(const struct tensor *t, const struct node *n)
{
    size_t most = strlen(n->name);
    return strncmp(t->name, n->name, most) == 0 && strcmp(t->name + most, "_output_0") == 0;
}

static void
look_at_nodes(struct file *f)
{
    const struct graph *g = f->g;
    const bool whole = g->signature != NULL || f->p->captured;
    const struct op *seen[64] = {NULL}; /* rows whose nodes were looked at last, by address */
    f->recorded = whole;
    for (int i = 0; i < g->nn; i++) {
        const struct node *n = &g->n[i];
        f->recorded |= n->fx || n->stack || n->classes;
        f->scoped |= *n->name == '/' && n->nout && is_result_of(&g->t[n->out[0]], n);
        for (int k = 0; k < COUNT(layers); k++)
            f->layers |= node_call(n) == layers[k];
        for (int k = 0; k < COUNT(inserted) && node_call(n) == CALL_CAST && !n->made; k++)
            f->inserted |= glob_match(inserted[k], n->name);
        const struct op **last = &seen[(uintptr_t)n->row / sizeof(void *) % COUNT(seen)];
        if (n->made || (n->row && *last == n->row))
            continue;
        *last = n->row;
        for (int k = 0; k < COUNT(operators); k++)
            if (glob_match(operators[k].domain, n->domain) && glob_match(operators[k].op, n->op)) {
                const struct node **first = &f->found[operators[k].kind];
                *first = *first ? *first : n;
                break;
            }
    }
    f->partly = f->recorded && !whole && !g->packaged;
}

static bool
is_weight(const struct tensor *t)
{
    bool more = false;
    for (int d = 0; d < t->rank; d++)
        more |= t->dims[d].n != 1;
    return t->is_initializer && t->rank > 1 && more && dtypes[t->dtype].is_float;
}

struct provenance
provenance_find(struct program *p, const struct setup *s)
{
    struct graph *g = p->graph;
    struct file f = {.g = g, .p = p, .s = s};
    const bool named = g->producer && *g->producer;
    for (int i = 0; i < COUNT(producers) && !f.producer; i++)
        if (named ? begins(g->producer, producers[i].name) : producers[i].graph && begins(g->name, producers[i].graph))
            f.producer = &producers[i];
    for (int i = 0; i < g->nt; i++) {
        f.weights += is_weight(&g->t[i]);
        f.data += g->t[i].is_initializer && dtypes[g->t[i].dtype].is_float;
    }
    for (int i = 0; i < p->nparams; i++) {
        int t = p->params[i].kind == PARAM_TRAINED ? graph_find(g, p->params[i].name) : -1;
        f.trained += p->params[i].kind == PARAM_TRAINED;
        f.constants |= t >= 0 && g->t[t].producer >= 0;
    }
    look_at_nodes(&f);
    int i = 0;
    while (rows[i].holds && !rows[i].holds(&f))
        i++;
    const struct node *n = rows[i].of == BY_OPERATOR ? f.found[rows[i].found] : NULL;
    const char *op = n ? arena_printf(g->arena, "%s%s%s", n->domain, *n->domain ? "." : "", n->op) : g->producer;
    const char *of = !n && f.producer ? f.producer->is : string_quote(g->arena, op ? op : "", 80);
    const char *mark = rows[i].text ? strstr(rows[i].text, "%s") : NULL;
    struct provenance r = {rows[i].kind, rows[i].text, rows[i].leads, rows[i].none};
    if (mark)
        r.text = arena_printf(g->arena, "%.*s%s%s", (int)(mark - rows[i].text), rows[i].text, of, mark + 2);
    if (rows[i].doubt) {
        graph_doubt(g, "model", NULL, rows[i].remedy, "%s", r.text)->sure = rows[i].sure;
        struct doubt first = g->doubts[g->ndoubts - 1];
        memmove(g->doubts + 1, g->doubts, sizeof(*g->doubts) * (size_t)(g->ndoubts - 1));
        g->doubts[0] = first;
    }
    return r;
}
