/* SPDX-License-Identifier: Apache-2.0 */
/* wrap.c - the Python that shares a model among GPUs, as torchrun's processes run it once the process group is there.
 *
 * It begins with `model`, as the script has it, and with `lr` where an optimizer is made. Names of modules stand in
 * regular expressions, so that a list of sixty blocks is one line.
 */
#include "advice/advice.h"
#include "base/setup.h"

#include <string.h>

/* A module's path as a regular expression: "layers\.3", with any number for its numbers "layers\.\d+". */
static const char *
expression(struct arena *a, const char *path, bool any)
{
    const char *text = "";
    for (const char *s = path; *s;) {
        size_t n = strcspn(s, ".");
        bool number = any && strspn(s, "0123456789") == n;
        text = arena_printf(a, "%s%s%.*s", text, s == path ? "" : "\\.", number ? 3 : (int)n, number ? "\\d+" : s);
        s += n + (s[n] == '.');
    }
    return text;
}

/* A regular expression for the units' names, that of no other module; NULL where a name could be more than one. */
static const char *
pattern_of(struct arena *a, const struct program *p)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.";
    struct names *units = names_new(a), *others = names_new(a), *seen = names_new(a);
    const char *all = "";
    for (int i = 0; i < p->nunits; i++) {
        names_put(units, p->units[i].module, i);
        if (p->units[i].module[strspn(p->units[i].module, letters)])
            return NULL;
    }
    for (int i = 1; i < p->nmodules; i++)
        if (names_find(units, p->modules[i].path) < 0)
            names_put(others, expression(a, p->modules[i].path, true), i);
    for (int i = 0; i < p->nunits; i++) {
        const char *one = expression(a, p->units[i].module, true);
        if (names_find(others, one) >= 0)
            one = expression(a, p->units[i].module, false);
        if (names_find(seen, one) < 0)
            all = arena_printf(a, "%s%s%s", all, *all ? "|" : "", one);
        names_put(seen, one, i);
    }
    return all;
}

static const char *
or_empty(const char *s)
{
    return s ? s : "";
}

static const char *
imports_of(struct arena *a, const struct parallel *how)
{
    const char *s = or_empty(how->import);
    return how->shards
               ? arena_printf(a, "%sfrom torch.distributed.fsdp import %sfully_shard\n", s, or_empty(how->policy))
               : s;
}

/* What to_empty() leaves to do: with CPU offload buffers belong on the GPU, and nothing has values yet. */
static const char *
leave_meta(struct arena *a, const struct parallel *how)
{
    return arena_printf(a,
                        "\nmodel.to_empty(device=\"%s\")%s\n"
                        "# now give it values: torch.distributed.checkpoint.load reads each rank's shares, and buffers "
                        "that\n# no checkpoint has are computed again",
                        how->offloads ? "cpu" : "cuda",
                        how->offloads ? "\nfor module in model.modules():\n"
                                        "    for name, buffer in module.named_buffers(recurse=False):\n"
                                        "        setattr(module, name, buffer.to(\"cuda\"))"
                                      : "");
}

/* fully_shard and DistributedDataParallel: of the model, and of every unit. */
static const char *
wrapped(struct arena *a, const struct parallel *how, const struct setup *setup, const char *pattern, bool checkpoint)
{
    const char *optimizer = optimizer_python(setup->optimizer);
    bool units = *pattern && (checkpoint || (how && how->shards));
    const char *s = units ? "import re\n" : "";
    if (checkpoint)
        s = arena_printf(a, "%sfrom torch.utils.checkpoint import checkpoint\n", s);
    if (how)
        s = arena_printf(a, "%s%s%s%s", s, imports_of(a, how), how->before ? "\n" : "", or_empty(how->before));
    if (how && how->on_meta)
        s = arena_printf(a, "%s\n# model is built under torch.device(\"meta\")\n", s);
    if (units)
        s = arena_printf(a, "%s%sunits = re.compile(r\"%s\")\nfor name, module in model.named_modules():\n", s,
                         how && how->on_meta ? "" : "\n", pattern);
    if (units)
        s = arena_printf(a, "%s    if not units.fullmatch(name):\n        continue\n", s);
    if (checkpoint)
        s = arena_printf(a, "%s%s\n", s, checkpoint_module);
    if (how && how->shards && units)
        s = arena_printf(a, "%s    fully_shard(module%s)\n", s, or_empty(how->arguments));
    if (how)
        s = arena_printf(a, "%s%s(model%s)", s, how->shards ? "fully_shard" : "\nmodel = DistributedDataParallel",
                         or_empty(how->arguments));
    if (how && how->on_meta)
        s = arena_printf(a, "%s%s", s, leave_meta(a, how));
    if (how && how->loop)
        s = arena_printf(a, "%s%s", s, how->loop);
    if (how && how->partitions && optimizer)
        s = arena_printf(a, "%s\noptimizer = ZeroRedundancyOptimizer(model.parameters(), optimizer_class=%s, lr=lr%s)",
                         s, optimizer, optimizer_switched(setup->optimizer));
    return s;
}

/* "blocks.*.up, blocks.*.q" as a regular expression. */
static const char *
layers(struct arena *a, const char *names)
{
    const char *s = "";
    for (const char *at = names; *at; at++)
        s = *at == '*'                  ? arena_printf(a, "%s\\d+", s)
            : *at == '.'                ? arena_printf(a, "%s\\.", s)
            : strncmp(at, ", ", 2) == 0 ? arena_printf(a, "%s|", s)
            : *at == ' '                ? s
                                        : arena_printf(a, "%s%c", s, *at);
    return s;
}

static const char shared_heads[] =
    "# a module that keeps a number of heads gets its part of them: module.num_heads //= mesh.size()\n"
    "# and the optimizer steps under torch.distributed.tensor.experimental.implicit_replication()";

static const char *
cut_layers(struct arena *a, const struct program *p)
{
    return arena_printf(a,
                        "import re\nfrom torch.distributed.device_mesh import init_device_mesh\n"
                        "from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel\n"
                        "from torch.distributed.tensor.parallel import parallelize_module\n"
                        "\nmesh = init_device_mesh(\"cuda\", (torch.distributed.get_world_size(),))\n"
                        "styles = {r\"%s\": ColwiseParallel(), r\"%s\": RowwiseParallel()}\n"
                        "for name, module in model.named_modules():\n"
                        "    for names, style in styles.items():\n"
                        "        if re.fullmatch(names, name):\n"
                        "            parallelize_module(module, mesh, style)\n"
                        "%s",
                        layers(a, p->columns), layers(a, p->rows), shared_heads);
}

/* The same along the sequence: what has columns gathers once for them, norms and what is between have a part. */
static const char *
cut_sequence(struct arena *a, const struct program *p, const char *units)
{
    return arena_printf(
        a,
        "import re\nfrom torch.distributed.device_mesh import init_device_mesh\n"
        "from torch.distributed.tensor import Replicate, Shard\n"
        "from torch.distributed.tensor.parallel import ColwiseParallel, PrepareModuleInput, PrepareModuleOutput\n"
        "from torch.distributed.tensor.parallel import RowwiseParallel, SequenceParallel, parallelize_module\n"
        "\nmesh = init_device_mesh(\"cuda\", (torch.distributed.get_world_size(),))\n"
        "part, whole = Shard(1), Replicate()\nunits = re.compile(r\"%s\")\n"
        "columns = re.compile(r\"%s\")\nrows = re.compile(r\"%s\")\n"
        "blocks = {name: module for name, module in model.named_modules() if units.fullmatch(name)}\n"
        "for name, module in model.named_modules():\n    within = name.rpartition(\".\")[0]\n"
        "    linear = any(isinstance(m, torch.nn.Linear) for m in module.modules())\n"
        "    if columns.fullmatch(name): # a unit's own has to gather by itself\n"
        "        style = ColwiseParallel(input_layouts=part if within in blocks else whole)\n"
        "    elif rows.fullmatch(name):\n        style = RowwiseParallel(output_layouts=part)\n"
        "    elif within in blocks and not linear and any(True for _ in module.parameters()): # norms\n"
        "        style = SequenceParallel(use_local_output=True)\n"
        "    elif name not in blocks and any(columns.fullmatch(f\"{name}.{child}\") for child, _ in "
        "module.named_children()):\n"
        "        style = PrepareModuleInput(input_layouts=part, desired_input_layouts=whole)\n"
        "    else:\n        continue\n    parallelize_module(module, mesh, style)\nblocks = list(blocks.values())\n"
        "begin = PrepareModuleInput(input_layouts=whole, desired_input_layouts=part, use_local_output=True)\n"
        "parallelize_module(blocks[0], mesh, begin)\n"
        "end = PrepareModuleOutput(output_layouts=part, desired_output_layouts=whole)\n"
        "parallelize_module(blocks[-1], mesh, end)\n"
        "# a module that is called with keywords has input_kwarg_layouts and desired_input_kwarg_layouts instead\n%s",
        units, layers(a, p->columns), layers(a, p->rows), shared_heads);
}

/* Stages begin where the units are shared evenly. */
static const char *
split(struct arena *a, const struct program *p, const struct setup *s)
{
    const char *spec = "";
    for (int i = 1; i < s->gpus; i++)
        spec = arena_printf(a, "%s    \"%s\": SplitPoint.BEGINNING,\n", spec,
                            p->units[stage_first(p->nunits, s->gpus, i)].module);
    return arena_printf(a,
                        "from torch.distributed.pipelining import Schedule1F1B, SplitPoint, pipeline\n"
                        "\n# inputs: the arguments of a micro-batch; loss: a function of output and targets\n"
                        "starts = {\n%s}\nstages = pipeline(model, mb_args=inputs, split_spec=starts)\n"
                        "stage = stages.build_stage(torch.distributed.get_rank(), device)\n"
                        "schedule = Schedule1F1B(stage, n_microbatches=%d, loss_fn=loss)\n"
                        "# the first rank: schedule.step(*batch, return_outputs=False), the last one: "
                        "schedule.step(target=targets,\n# return_outputs=False), the others: schedule.step()",
                        spec, s->micro_batches > 1 ? s->micro_batches : s->gpus);
}

static const char *
engine(struct arena *a, const struct setup *s)
{
    const char *optimizer = optimizer_python(s->optimizer);
    return arena_printf(
        a,
        "import deepspeed\n\noptimizer = %s(model.parameters(), lr=lr%s)\nconfig = {\n"
        "    \"train_micro_batch_size_per_gpu\": batch,\n    \"zero_optimization\": {\"stage\": %d},\n"
        "    \"zero_allow_untested_optimizer\": True,\n%s%s}\n%s"
        "model, optimizer, _, _ = deepspeed.initialize(model=model, optimizer=optimizer, config=config)\n"
        "# in the loop: model.backward(loss), then model.step(), %s",
        optimizer ? optimizer : "torch.optim.AdamW", optimizer_switched(s->optimizer), s->parallel->zero,
        s->precision == precision_find("bf16") ? "    \"bf16\": {\"enabled\": True},\n" : "",
        s->micro_batches > 1 ? arena_printf(a, "    \"gradient_accumulation_steps\": %d,\n", s->micro_batches) : "",
        s->parallel->zero > 2
            ? "# a model that no GPU holds is built under deepspeed.zero.Init(config_dict_or_path=config)\n"
            : "",
        s->micro_batches > 1 ? "for each micro-batch" : "which zeroes gradients");
}

const char *
ranks_python(struct arena *a, const struct program *p, const struct setup *s, bool checkpoint)
{
    const struct parallel *how = s->parallel;
    const char *pattern = pattern_of(a, p);
    if (!pattern)
        return NULL;
    return how && how->zero       ? engine(a, s)
           : how && how->sequence ? cut_sequence(a, p, pattern)
           : how && how->tensor   ? cut_layers(a, p)
           : how && how->pipeline ? split(a, p, s)
                                  : wrapped(a, how, s, pattern, checkpoint);
}

void
ranks_run(const struct study *x, struct result *r)
{
    const struct program *p = x->p;
    if (!x->s->parallel || x->s->mode != MODE_TRAINING)
        return;
    struct ranks *k = NEW(x->a, struct ranks);
    const struct parallel *how = x->s->parallel;
    int nunits = how->shards || how->tensor || how->pipeline ? p->nunits : 0;
    *k = (struct ranks){.kind = how->name,
                        .gpus = x->s->gpus,
                        .nunits = nunits,
                        .units = NEWN(x->a, const char *, nunits + 1),
                        .exchanged = x->st->m->exchanged,
                        .passed = x->st->m->passed,
                        .python = ranks_python(x->a, p, x->s, false)};
    for (int i = 0; i < nunits; i++)
        k->units[i] = p->units[i].module;
    r->ranks = k;
}
