/* SPDX-License-Identifier: Apache-2.0 */
/* choices.c - everything that was chosen for a step and changes a number, as one table.
 *
 * The reports' headers, the set-up in JSON, the comparison of two results and a resumed run all ask these rows, so that
 * an option which is forgotten here is forgotten nowhere else. Sizes of dimensions are not among them: struct result
 * has them with their names.
 */
#include "base/setup.h"
#include "result/passes.h"

#include <string.h>

static const char *
name_of(const void *row)
{
    return row ? *(const char *const *)row : NULL; /* every row begins with its name */
}

static const char *
mode(struct arena *a, const struct setup *s)
{
    (void)a;
    return s->mode == MODE_TRAINING ? "training" : "inference";
}

static const char *
optimizer(struct arena *a, const struct setup *s)
{
    (void)a;
    return name_of(s->optimizer);
}

static const char *
precision(struct arena *a, const struct setup *s)
{
    (void)a;
    return name_of(s->precision);
}

static const char *
loss(struct arena *a, const struct setup *s)
{
    const char *list = s->nterms ? "" : name_of(s->loss);
    for (int i = 0; i < s->nterms; i++)
        list = arena_printf(a, "%s%s%s:%s", list, i ? "," : "", name_of(s->terms[i].loss), s->terms[i].output);
    return list;
}

static const char *
loop(struct arena *a, const struct setup *s)
{
    return s->micro_batches > 1 ? arena_printf(a, "accumulate-%d", s->micro_batches) : name_of(s->loop);
}

static const char *
parallel(struct arena *a, const struct setup *s)
{
    return s->parallel ? arena_printf(a, "%s, %d GPUs", name_of(s->parallel), s->gpus) : "none";
}

static const char *
base(struct arena *a, const struct setup *s)
{
    (void)a;
    return s->base ? packing_text(s->base) : "file";
}

static const char *
dropout(struct arena *a, const struct setup *s)
{
    (void)a;
    return s->dropout == DROPOUT_NONE ? "none" : "auto";
}

static const char *
torch(struct arena *a, const struct setup *s)
{
    return s->torch ? arena_printf(a, "%d.%d", s->torch / 100, s->torch % 100) : "file";
}

static const char *
accumulate(struct arena *a, const struct setup *s)
{
    (void)a;
    return s->accumulate_eager ? "eager" : "never";
}

static const char *
inputs(struct arena *a, const struct setup *s)
{
    (void)a;
    return s->channels_last ? "channels-last" : "contiguous";
}

static const char *
attention(struct arena *a, const struct setup *s)
{
    static const char *const names[] = {"auto", "flash", "efficient", "math"};
    (void)a;
    return names[s->attention];
}

static const char *
inplace(struct arena *a, const struct setup *s)
{
    static const char *const names[] = {"auto", "none", "relu", "all"};
    (void)a;
    return names[s->inplace];
}

static const char *
globs(struct arena *a, const struct globs *of, const char *none)
{
    const char *list = of->n ? of->glob[0] : none;
    for (int i = 1; i < of->n; i++)
        list = arena_printf(a, "%s,%s", list, of->glob[i]);
    return list;
}

static const char *
freeze(struct arena *a, const struct setup *s)
{
    return globs(a, &s->freeze, "none");
}

static const char *
train(struct arena *a, const struct setup *s)
{
    return globs(a, &s->train, "all");
}

static const char *
recompute(struct arena *a, const struct setup *s)
{
    (void)a;
    return s->recompute && *s->recompute ? s->recompute : "none";
}

static const char *
shapes(struct arena *a, const struct setup *s)
{
    const char *list = s->nshapes ? "" : "none";
    for (int i = 0; i < s->nshapes; i++) {
        list = arena_printf(a, "%s%s%s=", list, i ? "," : "", s->shapes[i].name);
        for (int d = 0; d < s->shapes[i].rank; d++)
            list = arena_printf(a, "%s%s%lld", list, d ? "x" : "", (long long)s->shapes[i].dims[d]);
    }
    return list;
}

/* Values are told apart by their elements, as far as they were read. */
static const char *
values(struct arena *a, const struct setup *s)
{
    const char *list = s->nvalues ? "" : "none";
    for (int i = 0; i < s->nvalues; i++) {
        const struct constant *c = s->values[i].t ? s->values[i].t->value : NULL;
        uint64_t sum = UINT64_C(0xcbf29ce484222325);
        for (int k = 0; c && c->i && k < c->n; k++)
            sum = (sum ^ (uint64_t)c->i[k]) * UINT64_C(0x100000001b3);
        list = arena_printf(a, "%s%s%s=%016llx", list, i ? "," : "", s->values[i].name, (unsigned long long)sum);
    }
    return list;
}

static const char *
device(struct arena *a, const struct setup *s)
{
    return s->device ? device_name(s->device) : s->capacity > 0 ? bytes_text(a, s->capacity) : NULL;
}

static const char *
allocator(struct arena *a, const struct setup *s)
{
    (void)a;
    return s->expandable ? "expandable" : "native";
}

static const char *
context(struct arena *a, const struct setup *s)
{
    return s->context ? bytes_text(a, s->context) : "measured";
}

static const char *
cudnn(struct arena *a, const struct setup *s)
{
    static const char *const names[] = {"rule", "ask", "none"};
    (void)a;
    return names[s->cudnn];
}

static const char *
cudnn_flags(struct arena *a, const struct setup *s)
{
    const struct {
        bool is;
        const char *name;
    } flags[] = {
        {s->flags.benchmark, "benchmark"}, {s->flags.deterministic, "deterministic"}, {s->flags.no_tf32, "no-tf32"}};
    const char *list = "";
    for (int i = 0; i < COUNT(flags); i++)
        if (flags[i].is)
            list = arena_printf(a, "%s%s%s", list, *list ? "," : "", flags[i].name);
    return *list ? list : "none";
}

static const struct {
    const char *name, *option, *standard; /* standard NULL: none is chosen */
    const char *(*value)(struct arena *a, const struct setup *s);
    bool training; /* means nothing in inference mode */
} rows[] = {
    {"mode", "--mode", "training", mode, false},
    {"optimizer", "--optimizer", "adamw", optimizer, true},
    {"precision", "--precision", "fp32", precision, false},
    {"base", "--base", "file", base, false},
    {"loss", "--loss", "auto", loss, true},
    {"loop", "--loop", "plain", loop, true},
    {"parallel", "--parallel", "none", parallel, true},
    {"dropout", "--dropout", "auto", dropout, true},
    {"torch", "--torch", "file", torch, false},
    {"accumulate", "--assume", "eager", accumulate, true},
    {"attention", "--assume", "auto", attention, false},
    {"inplace", "--assume", "auto", inplace, false},
    {"inputs", "--assume", "contiguous", inputs, false},
    {"freeze", "--freeze", "none", freeze, true},
    {"train", "--train", "all", train, true},
    {"recompute", "--recompute", "none", recompute, true},
    {"input_shape", "--input-shape", "none", shapes, false},
    {"input_value", "--input-value", "none", values, false},
    {"device", "--device", NULL, device, false},
    {"allocator", "--allocator", "native", allocator, false},
    {"cudnn", "--cudnn", "rule", cudnn, false},
    {"cudnn_flags", "--cudnn-flags", "none", cudnn_flags, false},
    {"context", "--context", "measured", context, false},
};

static struct choice
choice(int row, const char *value)
{
    const char *standard = rows[row].standard;
    return (struct choice){rows[row].name, value, rows[row].option,
                           !value || (standard && strcmp(value, standard) == 0)};
}

struct choice *
choices_of(struct arena *a, const struct setup *s, int *n)
{
    struct choice *c = NEWN(a, struct choice, COUNT(rows));
    *n = COUNT(rows);
    for (int i = 0; i < COUNT(rows); i++) {
        const char *value = rows[i].training && s->mode != MODE_TRAINING ? NULL : rows[i].value(a, s);
        c[i] = choice(i, value);
    }
    return c;
}

struct choice *
choices_stored(struct arena *a, const char *(*value)(const void *from, const char *name), const void *from, int *n)
{
    struct choice *c = NEWN(a, struct choice, COUNT(rows));
    const char *m = value(from, "mode");
    bool training = !m || strcmp(m, rows[0].standard) == 0;
    *n = COUNT(rows);
    for (int i = 0; i < COUNT(rows); i++) {
        const char *is = value(from, rows[i].name);
        is = rows[i].training && !training ? NULL : is ? is : rows[i].standard;
        c[i] = choice(i, is);
    }
    return c;
}
