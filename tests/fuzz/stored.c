/* SPDX-License-Identifier: Apache-2.0 */
/* stored.c - fuzz target: a stored result, as the baseline of a small model that stays the same, to every report
 * format. */
#include "fuzz.h"

/* The model's layers have types, lines and calls of their own, for a stored result to be matched with. */
static const char head[] =
    "<ir_version: 10, opset_import: [\"\": 20], metadata_props: [\"pkg.torch.export.ExportedProgram.graph_signature\": "
    "\"w: PARAMETER target='body.0.weight'\\nb: PARAMETER target='body.0.bias'\\nh: PARAMETER "
    "target='head.weight'\"]>\n"
    "net (float[batch, 8] x) => (float[batch, 8] y)\n"
    "<float[8, 8] \"body.0.weight\" = {}, float[8] \"body.0.bias\" = {}, float[8, 8] \"head.weight\" = {}> {\n";
static const struct {
    const char *node, *name, *op, *args, *scopes, *classes;
    int line;
} calls[] = {
    {"h = Gemm <transB = 1> (x, \"body.0.weight\", \"body.0.bias\")", "linear", "linear.default", "%x, %w, %b",
     "'body', 'body.0'", "'nn.Sequential', 'nn.Linear'", 5},
    {"r = Relu (h)", "relu", "relu.default", "%linear", "'body', 'body.1'", "'nn.Sequential', 'nn.ReLU'", 5},
    {"z = Gemm <transB = 1> (r, \"head.weight\")", "linear_1", "linear.default", "%relu, %h", "'head'", "'nn.Linear'",
     6},
    {"y = Add (z, x)", "add", "add.Tensor", "%linear_1, %x", "'tail'", "'Tail'", 7},
};

static struct result *
result_now(struct arena *a, struct err *e)
{
    struct setup s = {.mode = MODE_TRAINING,
                      .optimizer = optimizer_find("sgd"),
                      .precision = precision_find("fp32"),
                      .loss = loss_find("auto"),
                      .loop = loop_find("plain"),
                      .micro_batches = 1,
                      .unroll = true};
    const char *model = head;
    for (int i = 0; i < COUNT(calls); i++)
        model =
            arena_printf(a,
                         "%s[%s, \"pkg.torch.onnx.fx_node\": "
                         "\"%%%s : call_function[target=torch.ops.aten.%s](args = (%s), kwargs = {})\", "
                         "\"pkg.torch.onnx.name_scopes\": \"['', %s, '%s']\", "
                         "\"pkg.torch.onnx.class_hierarchy\": \"['Net', %s, 'aten.%s']\", "
                         "\"pkg.torch.onnx.stack_trace\": \"File \\\"net.py\\\", line %d, in forward\\n    x\"] %s\n",
                         model, calls[i].name, calls[i].name, calls[i].op, calls[i].args, calls[i].scopes,
                         calls[i].name, calls[i].classes, calls[i].op, calls[i].line, calls[i].node);
    struct graph *g = onnx_parse_text(a, "now.onnxtxt", arena_printf(a, "%s}\n", model), e);
    s = g ? shapes_bind_open(g, &s) : s;
    if (!g || !shapes_run(g, &s, false, e))
        __builtin_trap(); /* the model above is at fault, not the input */
    struct program *p = lower_run(g, &s);
    return result_build(g, p, step_run(p, &s), &s, false);
}

static void
target(struct arena *a, const uint8_t *data, size_t size)
{
    struct err e = {0};
    const struct options gates = {.max_peak = -1}; /* and no increase is allowed */
    const struct result *old = stored_parse(a, "old.json", arena_strn(a, (const char *)data, size), &e);
    if (old) {
        struct result *r = result_now(a, &e);
        r->baseline = compare_run(a, old, r);
        r->baseline->file = "old.json";
        gate_judge(a, &gates, r);
        arena_guard(NULL, 0); /* reports hold more than memory */
        for (int i = 0; i < nformats; i++)
            formats[i].write(r, nowhere(), true, 100);
    } else if (!e.message) {
        __builtin_trap(); /* refused without a word */
    }
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return fuzz_run(target, data, size);
}
