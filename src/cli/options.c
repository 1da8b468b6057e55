/* SPDX-License-Identifier: Apache-2.0 */
/* options.c - the command line, as one table.
 *
 * A row says how an option is called, what it takes, what it is for and which function reads its argument into struct
 * options. getopt_long's table, --help, --list=options, the completions (--list=bash, zsh, fish) and the man page's
 * list (--list=mdoc, compared by a test) are all printed from the rows. Where an option takes names, its row says from
 * which table: they are found without regard to case, hyphens and blanks, and the reader gets the name as the table
 * has it.
 *
 * A reader returns NULL or what is wrong, as an end of the sentence "memlint: --mode=x: ...". Nothing here prints but
 * the functions behind --help and --list, and nothing touches the model.
 */
#include "cli/cli.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

struct reader {
    struct options *o;
    struct arena *a;
    int cap_dims, cap_shapes, cap_values, cap_files, cap_suppress;
    const char *file; /* the flag file that is read, NULL the command line */
    int line;
};

/* ---- names and sizes --------------------------------------------------------------------------------------------- */

/* The names that an option takes: rows of a table. */
struct words {
    const char *what, *list; /* "optimizer"; its --list, NULL where the names are few */
    const char *(*name)(int i);
};

#define NAMES(function, ...)                              \
    static const char *function(int i)                    \
    {                                                     \
        static const char *const names[] = {__VA_ARGS__}; \
        return i < COUNT(names) ? names[i] : NULL;        \
    }

/* The name as its table spells it; NULL when it has none such. */
static const char *
word_find(const struct words *w, const char *word)
{
    const char *name;
    for (int i = 0; (name = w->name(i)); i++)
        if (word_same(name, word))
            return name;
    return NULL;
}

static const char **
word_list(struct arena *a, const struct words *w, int *n)
{
    const char **names = NULL, *name;
    int cap = 0;
    *n = 0;
    while ((name = w->name(*n)))
        *PUSH(a, names, *n, cap) = name;
    return names;
}

static const char *
unknown_word(struct reader *r, const struct words *w, const char *word)
{
    int n;
    const char **names = word_list(r->a, w, &n), *near = words_near(r->a, word, n, names), *all = names[0];
    if (w->list && near)
        return arena_printf(r->a, "unknown %s; did you mean %s? (--list=%s)", w->what, near, w->list);
    if (w->list)
        return arena_printf(r->a, "unknown %s, see --list=%s", w->what, w->list);
    for (int i = 1; i < n; i++)
        all = arena_printf(r->a, "%s, %s", all, names[i]);
    return near ? arena_printf(r->a, "wanted one of %s; did you mean %s?", all, near)
                : arena_printf(r->a, "wanted one of %s", all);
}

/* Bytes: of a number without a unit it can't be told what it counts, unless it is large enough to be bytes. */
static const char *
read_size(struct reader *r, const char *arg, int64_t *bytes)
{
    enum { SURE = 1 << 20, LARGEST_DEVICE = 256 /* GiB */ };
    *bytes = bytes_parse(arg);
    if (*bytes < 0)
        return "not a size such as 24GiB or 512MB";
    if (arg[strspn(arg, "0123456789. ")] || *bytes >= SURE || !strpbrk(arg, "123456789"))
        return NULL;
    return arena_printf(r->a, "%s has no unit; %s%s?", arg, arg, *bytes < LARGEST_DEVICE ? "GiB" : "MiB");
}

/* Where it stands in a flag file; NULL on the command line. */
static const char *
place(const struct reader *r)
{
    return r->file ? arena_printf(r->a, "%s:%d", r->file, r->line) : NULL;
}

/* ---- NAME=VALUE -------------------------------------------------------------------------------------------------- */

/* Splits at the last '=': names of a model may hold one. */
static char *
split(struct reader *r, const char *arg, const char **value)
{
    const char *equals = strrchr(arg, '=');
    if (!equals || equals == arg)
        return NULL;
    *value = equals + 1;
    return arena_strn(r->a, arg, (size_t)(equals - arg));
}

static bool
number(const char *s, char **end, int64_t least, int64_t *n)
{
    errno = 0;
    *end = (char *)s;
    *n = *s >= '0' && *s <= '9' ? strtoll(s, end, 10) : -1;
    return *n >= least && errno == 0;
}

static const char *
read_dim(struct reader *r, const char *arg)
{
    struct setup *s = &r->o->setup;
    const char *value;
    char *end, *name = split(r, arg, &value);
    int64_t n;
    if (!name || !number(value, &end, 1, &n) || *end)
        return "wanted NAME=N with N of 1 or more, as in --dim batch=32";
    for (int i = 0; i < s->ndims; i++) /* the command line wins over the flag file */
        if (strcmp(s->dims[i].name, name) == 0) {
            s->dims[i] = (struct binding){name, n, place(r)};
            return NULL;
        }
    *PUSH(r->a, s->dims, s->ndims, r->cap_dims) = (struct binding){name, n, place(r)};
    return NULL;
}

static const char *
read_shape(struct reader *r, const char *arg)
{
    struct setup *s = &r->o->setup;
    struct input_shape in = {.place = place(r)};
    const char *value;
    int cap = 0;
    in.name = split(r, arg, &value);
    for (bool more = in.name && *value; more;) {
        char *end;
        int64_t n;
        if (!number(value, &end, 0, &n) || (*end && *end != 'x') || in.rank >= 64)
            in.name = NULL;
        else
            *PUSH(r->a, in.dims, in.rank, cap) = n;
        more = in.name && *end == 'x';
        value = end + 1;
    }
    if (!in.name)
        return "wanted NAME=2x3x224x224";
    *PUSH(r->a, s->shapes, s->nshapes, r->cap_shapes) = in;
    return NULL;
}

static const char *
read_value(struct reader *r, const char *arg)
{
    struct setup *s = &r->o->setup;
    const char *file, *name = split(r, arg, &file);
    if (!name || !*file)
        return "wanted NAME=FILE.pb";
    r->o->value_files = arena_grow(r->a, r->o->value_files, &r->cap_files, s->nvalues + 1, sizeof(*r->o->value_files));
    r->o->value_files[s->nvalues] = file;
    *PUSH(r->a, s->values, s->nvalues, r->cap_values) = (struct input_value){name, NULL};
    return NULL;
}

static const struct words limits = {"limit", "limits", limit_name};

/* Not in a flag file: that may come with the model. */
static const char *
read_limit(struct reader *r, const char *arg)
{
    const char *value, *name = split(r, arg, &value);
    int64_t n = name ? bytes_parse(value) : -1;
    if (n < 0)
        return "wanted NAME=N, as in --limit nodes=4000000 or --limit memory=16GiB";
    const char *known = word_find(&limits, name);
    return known ? limit_set(r->a, known, n) : unknown_word(r, &limits, name);
}

/* ---- the step ---------------------------------------------------------------------------------------------------- */

NAMES(mode_name, "training", "inference")
static const struct words modes = {"mode", NULL, mode_name};

static const char *
read_mode(struct reader *r, const char *arg)
{
    r->o->setup.mode = strcmp(arg, "inference") == 0 ? MODE_INFERENCE : MODE_TRAINING;
    return NULL;
}

static const struct words optimizers = {"optimizer", "optimizers", optimizer_name};

static const char *
read_optimizer(struct reader *r, const char *arg)
{
    const struct optimizer *o = optimizer_read(r->a, arg);
    if (!o)
        return strchr(arg, '+') ? "no switch of that name in --list=optimizers, or not of this optimizer"
                                : unknown_word(r, &optimizers, arg);
    r->o->setup.optimizer = o;
    r->o->setup.says_optimizer = true;
    return NULL;
}

static const struct words precisions = {"precision", "precisions", precision_name};

static const char *
read_precision(struct reader *r, const char *arg)
{
    r->o->setup.precision = precision_find(arg);
    return NULL;
}

static const struct words bases = {"base", "bases", packing_name};

static const char *
read_base(struct reader *r, const char *arg)
{
    r->o->setup.base = packing_find(arg);
    return NULL;
}

static const struct words losses = {"loss", "losses", loss_name};

static const char *
read_loss(struct reader *r, const char *arg)
{
    struct setup *s = &r->o->setup;
    size_t name = strcspn(arg, ":");
    const char *of = arg + name;
    const struct loss *loss = loss_find(arena_strn(r->a, arg, name));
    if (!loss)
        return unknown_word(r, &losses, arena_strn(r->a, arg, name));
    if (!*of) {
        s->loss = loss;
        s->nterms = 0;
        return NULL;
    }
    for (size_t n; *of; of += n) {
        n = strcspn(++of, ",");
        if (!n)
            return "wanted NAME:OUTPUT, or several outputs with commas between";
        for (int i = 0; i < s->nterms; i++)
            if (strlen(s->terms[i].output) == n && strncmp(s->terms[i].output, of, n) == 0)
                return "that output has a loss already";
        *PUSH(r->a, s->terms, s->nterms, s->cap_terms) =
            (struct term){loss, arena_strn(r->a, of, n), arena_printf(r->a, "--loss=%s", arg)};
    }
    return NULL;
}

static const struct words loops = {"loop", "loops", loop_name};

static const char *
read_loop(struct reader *r, const char *arg)
{
    static const char accumulate[] = "accumulate-";
    struct setup *s = &r->o->setup;
    size_t prefix = sizeof(accumulate) - 1;
    bool many = strncasecmp(arg, accumulate, prefix - 1) == 0;
    int64_t n = 1;
    char *end = "";
    if (many && (strlen(arg) <= prefix || !number(arg + prefix, &end, 1, &n) || *end || n > 4096))
        return "wanted accumulate-N with N from 1 to 4096";
    s->loop = loop_find(many ? "accumulate-N" : arg);
    s->micro_batches = (int)n;
    return s->loop ? NULL : unknown_word(r, &loops, arg);
}

static const char AUTO[] = "auto";

static const char *
strategy_name(int i)
{
    return i == 0 ? AUTO : parallel_name(i - 1);
}

static const struct words strategies = {"way", "parallel", strategy_name};

static const char *
read_parallel(struct reader *r, const char *arg)
{
    r->o->scale = strcmp(arg, AUTO) == 0;
    r->o->setup.parallel = parallel_find(r->a, arg);
    return r->o->scale || r->o->setup.parallel ? NULL : unknown_word(r, &strategies, arg);
}

static const char *
read_gpus(struct reader *r, const char *arg)
{
    char *end;
    int64_t n;
    if (!number(arg, &end, 2, &n) || *end || n > 65536)
        return "wanted how many GPUs there are, from 2 to 65536";
    r->o->setup.gpus = (int)n;
    return NULL;
}

static const char *
read_units(struct reader *r, const char *arg)
{
    r->o->setup.units = arg;
    return *arg ? NULL : "wanted names of modules, with * and commas";
}

NAMES(dropout_name, "auto", "none")
static const struct words dropouts = {"dropout", NULL, dropout_name};

static const char *
read_dropout(struct reader *r, const char *arg)
{
    r->o->setup.dropout = strcmp(arg, "none") == 0 ? DROPOUT_NONE : DROPOUT_AUTO;
    return NULL;
}

static const char *
read_torch(struct reader *r, const char *arg)
{
    char *end;
    int64_t major, minor = 0;
    if (!number(arg, &end, 1, &major) || *end != '.' || !number(end + 1, &end, 0, &minor) || (*end && *end != '.') ||
        major > 99 || minor > 99)
        return "wanted a version of PyTorch, as in --torch=2.6";
    r->o->setup.torch = (int)(100 * major + minor);
    return NULL;
}

static const char *
read_replay(struct reader *r, const char *arg)
{
    char *end = "";
    int64_t n = 1;
    if (arg && (!number(arg, &end, 1, &n) || *end || n > 100))
        return "wanted how often the step is played, from 1 to 100";
    r->o->replay = (int)n;
    return NULL;
}

static const char *
read_replay_limit(struct reader *r, const char *arg)
{
    const char *wrong = read_size(r, arg, &r->o->replay_limit);
    return wrong ? wrong : r->o->replay_limit > 0 ? NULL : "not a size such as 16GiB";
}

static const char *
read_replay_spare(struct reader *r, const char *arg)
{
    return read_size(r, arg, &r->o->replay_spare);
}

NAMES(recompute_name, "auto", "none")
static const struct words recomputes = {"plan", NULL, recompute_name};

/* What is no size and none of the words names modules; so does a number in brackets, as Sequential calls them. */
static const char *
read_recompute(struct reader *r, const char *arg)
{
    struct options *o = r->o;
    bool none = strcmp(arg, "none") == 0, any = strcmp(arg, "auto") == 0;
    int64_t budget;
    const char *wrong = read_size(r, arg, &budget);
    if (wrong && budget >= 0)
        return arena_printf(r->a, "%s Modules of that name are [%s]", wrong, arg);
    o->recompute = any || budget > 0;
    o->recompute_budget = budget > 0 ? budget : 0;
    o->setup.recompute = o->recompute || none ? "" : arg;
    return *arg ? NULL : "wanted auto, none, a size such as 8GiB, or names of modules";
}

static const struct {
    const char *text;
    enum { ACCUMULATE, ATTENTION, INPLACE, INPUTS, RECURRENT } what;
    int value;
} assumptions[] = {
    {"accumulate=eager", ACCUMULATE, true},
    {"accumulate=never", ACCUMULATE, false},
    {"attention=flash", ATTENTION, ATTENTION_FLASH},
    {"attention=efficient", ATTENTION, ATTENTION_EFFICIENT},
    {"attention=math", ATTENTION, ATTENTION_MATH},
    {"inplace=none", INPLACE, INPLACE_NONE},
    {"inplace=relu", INPLACE, INPLACE_RELU},
    {"inplace=all", INPLACE, INPLACE_ALL},
    {"inputs=contiguous", INPUTS, false},
    {"inputs=channels-last", INPUTS, true},
    {"recurrent=cudnn", RECURRENT, RECURRENT_CUDNN},
    {"recurrent=cells", RECURRENT, RECURRENT_CELLS},
};

static const char *
assumption_name(int i)
{
    return i < COUNT(assumptions) ? assumptions[i].text : NULL;
}

static const struct words assumed = {"assumption", NULL, assumption_name};

static const char *
read_assume(struct reader *r, const char *arg)
{
    struct setup *s = &r->o->setup;
    int i = 0;
    while (strcmp(arg, assumptions[i].text) != 0)
        i++;
    if (assumptions[i].what == ACCUMULATE)
        s->accumulate_eager = assumptions[i].value;
    else if (assumptions[i].what == ATTENTION)
        s->attention = (enum attention)assumptions[i].value;
    else if (assumptions[i].what == INPUTS)
        s->channels_last = assumptions[i].value;
    else if (assumptions[i].what == RECURRENT)
        s->recurrent = (enum recurrent_way)assumptions[i].value;
    else
        s->inplace = (enum inplace)assumptions[i].value;
    return NULL;
}

static const char *
add_glob(struct arena *a, struct globs *of, const char *arg)
{
    *PUSH(a, of->glob, of->n, of->cap) = arg;
    return NULL;
}

static const char *
read_freeze(struct reader *r, const char *arg)
{
    return add_glob(r->a, &r->o->setup.freeze, arg);
}

static const char *
read_train(struct reader *r, const char *arg)
{
    return add_glob(r->a, &r->o->setup.train, arg);
}

static const char *
device_word(int i)
{
    const struct device *d = device_row(i);
    return d ? device_name(d) : NULL;
}

static const struct words devices = {"device", "devices", device_word};

/* "4090" is rtx-4090: a name without the family before it, where one row alone has it. */
static const char *
without_family(const char *arg)
{
    const char *found = NULL, *name;
    for (int i = 0; (name = device_word(i)); i++) {
        const char *dash = strchr(name, '-');
        bool family = dash && strcspn(name, "0123456789") > (size_t)(dash - name);
        if (!family || !strpbrk(arg, "0123456789") || !word_same(dash, arg))
            continue;
        if (found)
            return NULL;
        found = name;
    }
    return found;
}

static const char *
read_device(struct reader *r, const char *arg)
{
    struct setup *s = &r->o->setup;
    r->o->device_text = arg;
    const char *name = without_family(arg);
    s->device = device_find(name ? name : arg);
    if (!s->device) {
        bool size = (*arg >= '0' && *arg <= '9') || *arg == '.';
        const char *wrong = size ? read_size(r, arg, &s->capacity) : unknown_word(r, &devices, arg);
        if (wrong && !size)
            return arena_printf(r->a, "%s, or give a size such as 24GiB", wrong);
        return wrong ? wrong : s->capacity > 0 ? NULL : "not a size such as 24GiB";
    }
    s->capacity = device_capacity(s->device);
    return NULL;
}

NAMES(allocator_name, "native", "expandable")
static const struct words allocators = {"allocator", NULL, allocator_name};

static const char *
read_allocator(struct reader *r, const char *arg)
{
    r->o->setup.expandable = strcmp(arg, "expandable") == 0;
    return NULL;
}

static const char *
read_context(struct reader *r, const char *arg)
{
    const char *wrong = read_size(r, arg, &r->o->setup.context);
    return wrong ? wrong : r->o->setup.context > 0 ? NULL : "not a size such as 600MiB: every process has a context";
}

NAMES(cudnn_name, "rule", "ask", "none")
static const struct words cudnns = {"source of cuDNN's workspaces", NULL, cudnn_name};

static const char *
read_cudnn(struct reader *r, const char *arg)
{
    r->o->setup.cudnn = strcmp(arg, "ask") == 0 ? CUDNN_ASK : strcmp(arg, "none") == 0 ? CUDNN_NONE : CUDNN_RULE;
    return NULL;
}

NAMES(flag_name, "benchmark", "deterministic", "no-tf32")
static const struct words cudnn_flags = {"flag", NULL, flag_name};

static const char *
read_cudnn_flags(struct reader *r, const char *arg)
{
    struct cudnn_flags *f = &r->o->setup.flags;
    bool *const to[] = {&f->benchmark, &f->deterministic, &f->no_tf32};
    *f = (struct cudnn_flags){0};
    for (size_t n;; arg += n + 1) {
        n = strcspn(arg, ",");
        const char *word = arena_strn(r->a, arg, n), *name = word_find(&cudnn_flags, word);
        if (!name)
            return unknown_word(r, &cudnn_flags, word);
        for (int i = 0; i < COUNT(to); i++)
            *to[i] |= strcmp(flag_name(i), name) == 0;
        if (!arg[n])
            return NULL;
    }
}

/* ---- what comes out ---------------------------------------------------------------------------------------------- */

static const char *
format_name(int i)
{
    return i < nformats ? formats[i].name : NULL;
}

static const struct words format_words = {"format", NULL, format_name};

static const char *
read_output(struct reader *r, const char *arg)
{
    const struct format *f = format_by_extension(arg);
    if (!f) {
        const char *known = formats[0].extension;
        for (int i = 1; i < nformats; i++)
            known = arena_printf(r->a, "%s %s", known, formats[i].extension);
        return arena_printf(r->a, "the file's extension picks the format: %s", known);
    }
    *PUSH(r->a, r->o->outputs, r->o->noutputs, r->o->cap_outputs) = (struct output){arg, f};
    return NULL;
}

static const char *
read_format(struct reader *r, const char *arg)
{
    r->o->format = format_by_name(arg);
    return NULL;
}

static const struct {
    const char *name;
    enum dump dump;
} dumps[] = {
    {"graph", DUMP_GRAPH}, {"shapes", DUMP_SHAPES}, {"calls", DUMP_CALLS}, {"facts", DUMP_FACTS}, {"step", DUMP_STEP}};

static const char *
dump_name(int i)
{
    return i < COUNT(dumps) ? dumps[i].name : NULL;
}

static const struct words dump_words = {"pass", NULL, dump_name};

static const char *
read_dump(struct reader *r, const char *arg)
{
    for (int i = 0; i < COUNT(dumps); i++)
        if (strcmp(arg, dumps[i].name) == 0)
            r->o->dump = dumps[i].dump;
    return NULL;
}

static void options_list(FILE *out);
static void options_mdoc(FILE *out);
static void options_bash(FILE *out);
static void options_zsh(FILE *out);
static void options_fish(FILE *out);

static void
list_optimizers(FILE *f)
{
    optimizer_list(f);
    optimizer_switch_list(f);
}

static const struct {
    const char *name;
    void (*list)(FILE *out);
} lists[] = {
    {"ops", op_list},
    {"aten", aten_list},
    {"optimizers", list_optimizers},
    {"precisions", precision_list},
    {"bases", packing_list},
    {"losses", loss_list},
    {"loops", loop_list},
    {"parallel", parallel_list},
    {"devices", device_list},
    {"contexts", device_contexts_list},
    {"rules", rules_list},
    {"policies", policy_list},
    {"formats", format_list},
    {"facts", fact_list},
    {"limits", limits_list},
    {"options", options_list},
    {"mdoc", options_mdoc},
    {"completions", options_bash},
    {"zsh", options_zsh},
    {"fish", options_fish},
};

static const char *
list_name(int i)
{
    return i < COUNT(lists) ? lists[i].name : NULL;
}

static const struct words list_words = {"table", NULL, list_name};

static const char *
read_list(struct reader *r, const char *arg)
{
    for (int i = 0; i < COUNT(lists); i++)
        if (strcmp(arg, lists[i].name) == 0)
            r->o->list = lists[i].list;
    return NULL;
}

NAMES(when_name, "auto", "always", "never")
static const struct words whens = {"time", NULL, when_name};

static enum when
when_of(const char *arg)
{
    return strcmp(arg, "always") == 0 ? WHEN_ALWAYS : strcmp(arg, "never") == 0 ? WHEN_NEVER : WHEN_AUTO;
}

static const char *
read_colour(struct reader *r, const char *arg)
{
    r->o->colour = when_of(arg);
    return NULL;
}

static const char *
read_progress(struct reader *r, const char *arg)
{
    r->o->progress = when_of(arg);
    return NULL;
}

static const char *
read_quiet(struct reader *r, const char *arg)
{
    (void)arg;
    r->o->quiet = true;
    return NULL;
}

static const char *
read_verbose(struct reader *r, const char *arg)
{
    (void)arg;
    r->o->verbose = true;
    return NULL;
}

static const char *
read_help(struct reader *r, const char *arg)
{
    (void)arg;
    r->o->help = true;
    return NULL;
}

static const char *
read_version(struct reader *r, const char *arg)
{
    (void)arg;
    r->o->version = true;
    return NULL;
}

/* ---- gates ------------------------------------------------------------------------------------------------------- */

NAMES(level_name, "note", "warning", "error", "inconclusive", "known")
static const struct words levels = {"level", NULL, level_name};

static const char *
read_max_peak(struct reader *r, const char *arg)
{
    r->o->max_peak_text = arg;
    return read_size(r, arg, &r->o->max_peak);
}

/* The message itself or a file that holds it. */
static const char *
read_oom(struct reader *r, const char *arg)
{
    struct err e = {0};
    r->o->oom_text = arg;
    bool message = strchr(arg, '\n') || access(arg, F_OK) != 0;
    r->o->oom_file = message ? NULL : arg;
    if (message)
        return strstr(arg, "allocate") ? NULL : "wanted PyTorch's message, or a file that holds it";
    r->o->oom_text = stored_text(r->a, arg, LIMIT_BASELINE, &e);
    return r->o->oom_text ? NULL : e.message;
}

static const char *
read_fail_on(struct reader *r, const char *arg)
{
    if (strcmp(arg, "known") == 0)
        r->o->fail_on_known = true;
    else
        r->o->fail_on = arg;
    return NULL;
}

/* In a flag file a path starts at the file's folder. */
static const char *
read_baseline(struct reader *r, const char *arg)
{
    const char *slash = r->file && *arg != '/' ? strrchr(r->file, '/') : NULL;
    r->o->no_baseline = strcmp(arg, "none") == 0;
    r->o->baseline = r->o->no_baseline ? NULL
                     : slash           ? arena_printf(r->a, "%.*s%s", (int)(slash - r->file) + 1, r->file, arg)
                                       : arg;
    return *arg ? NULL : "wanted a model or a JSON result";
}

static const char *
read_max_increase(struct reader *r, const char *arg)
{
    char *end = "";
    double percent = *arg >= '0' && *arg <= '9' ? strtod(arg, &end) : -1;
    end += strspn(end, " ");
    if (percent >= 0 && strcmp(end, "%") == 0 && percent < 1e9) {
        r->o->max_increase_percent = percent;
        r->o->increase_percent_text = arg;
        return NULL;
    }
    r->o->increase_bytes_text = arg;
    const char *wrong = read_size(r, arg, &r->o->max_increase_bytes);
    return !wrong                         ? NULL
           : r->o->max_increase_bytes < 0 ? "wanted 5% or a size such as 64MiB"
                                          : arena_printf(r->a, "%s has no unit; %s%% or %sMiB?", arg, arg, arg);
}

/* Not in a flag file: it is about one change, not about all to come. */
static const char *
read_accept(struct reader *r, const char *arg)
{
    r->o->accept = arg;
    return *arg ? NULL : "wanted the reason";
}

static const char *
read_update_baseline(struct reader *r, const char *arg)
{
    (void)arg;
    r->o->update_baseline = true;
    return NULL;
}

static const char *
read_expect_fail(struct reader *r, const char *arg)
{
    (void)arg;
    r->o->expect_fail = true;
    return NULL;
}

static const char *
read_flags(struct reader *r, const char *arg)
{
    r->o->flags = arg;
    return *arg ? NULL : "wanted a file, or none";
}

static bool
is_date(const char *s)
{
    static const char like[] = "dddd-dd-dd";
    for (int i = 0; like[i]; i++)
        if (like[i] == 'd' ? s[i] < '0' || s[i] > '9' : s[i] != like[i])
            return false;
    int month = atoi(s + 5), day = atoi(s + 8);
    return (s[10] == ' ' || s[10] == '\0') && month >= 1 && month <= 12 && day >= 1 && day <= 31;
}

/* RULE[@GLOB] until=YYYY-MM-DD reason=TEXT */
static const char *
read_suppress(struct reader *r, const char *arg)
{
    static const char form[] = "wanted RULE[@GLOB] until=YYYY-MM-DD reason=\"...\"";
    struct suppression s = {.place = r->file ? place(r) : "--suppress"};
    const char *until = strstr(arg, " until="), *reason = strstr(arg, " reason=");
    if (!until || !reason || reason < until || until == arg || !is_date(until + 7))
        return form;
    size_t n = strcspn(arg, "@ ");
    s.rule = arena_strn(r->a, arg, n);
    if (arg[n] == '@')
        s.glob = arena_strn(r->a, arg + n + 1, (size_t)(until - arg) - n - 1);
    s.until = arena_strn(r->a, until + 7, 10);
    reason += strlen(" reason=");
    size_t long_is = strlen(reason);
    bool quoted = long_is >= 2 && reason[0] == '"' && reason[long_is - 1] == '"';
    s.reason = quoted ? arena_strn(r->a, reason + 1, long_is - 2) : reason;
    if (!n || !*s.reason || (s.glob && !*s.glob) || (!s.glob && arg + n != until))
        return form;
    *PUSH(r->a, r->o->suppress, r->o->nsuppress, r->cap_suppress) = s;
    return NULL;
}

static const char *
read_sources(struct reader *r, const char *arg)
{
    r->o->sources = arg;
    return *arg ? NULL : "wanted a folder";
}

/* ---- many models ------------------------------------------------------------------------------------------------- */

static const char *
read_files_from(struct reader *r, const char *arg)
{
    r->o->files_from = arg;
    return *arg ? NULL : "wanted a file, or - for standard input";
}

static const char *
read_shard(struct reader *r, const char *arg)
{
    char *slash, *end = "x";
    int64_t i, n = 0;
    if (!number(arg, &slash, 1, &i) || *slash != '/' || !number(slash + 1, &end, 1, &n) || *end || i > n || n > 1000000)
        return "wanted I/N with I from 1 to N, as in 3/16";
    r->o->shard = (int)i;
    r->o->shards = (int)n;
    return NULL;
}

static const char *
read_resume(struct reader *r, const char *arg)
{
    (void)arg;
    r->o->resume = true;
    return NULL;
}

/* ---- the table --------------------------------------------------------------------------------------------------- */

static const struct row {
    const char *group;             /* set in the first row of a group */
    const char *name, *arg, *help; /* arg: NULL none; in brackets: may be left out */
    char letter;
    const char *(*read)(struct reader *r, const char *arg);
    bool in_file;              /* may stand in a flag file */
    const struct words *words; /* the names that it takes, NULL none */
    bool others;               /* and what is no such name, too */
} table[] = {
    {"Reports", "output", "FILE",
     "write a report; the extension picks the format, and a % in it stands for the model's name; may repeat", 'o',
     read_output},
    {NULL, "format", "FMT", "format on standard output: text (default) or another of --list=formats", 0, read_format,
     false, &format_words},
    {NULL, "sources", "DIR",
     "Python files lie below DIR: reports for servers of continuous integration name their paths, from there", 0,
     read_sources},
    {NULL, "quiet", NULL, "nothing on standard output but what --format asks for", 'q', read_quiet},
    {NULL, "verbose", NULL, "say on standard error what is read and written", 'v', read_verbose},
    {NULL, "color", "WHEN", "colour the text report: auto (default), always, never", 0, read_colour, false, &whens},
    {NULL, "progress", "WHEN", "how far long work is, on standard error: auto (default), always, never", 0,
     read_progress, false, &whens},
    {"Inputs", "dim", "NAME=N", "bind a symbolic dimension, as in --dim batch=32; may repeat", 0, read_dim, true},
    {NULL, "input-shape", "NAME=DIMS", "fix an input's shape, as in --input-shape x=2x3x224x224; may repeat", 0,
     read_shape, true},
    {NULL, "input-value", "NAME=FILE", "give an input's value, a serialized TensorProto; may repeat", 0, read_value},
    {NULL, "limit", "NAME=N", "take more, or less, of a model than the N of --list=limits; may repeat", 0, read_limit},
    {"Training step", "mode", "MODE", "training (default) or inference", 0, read_mode, true, &modes},
    {NULL, "optimizer", "NAME",
     "optimizer: the file's, else adamw, or another of --list=optimizers; with switches as in adam+amsgrad", 0,
     read_optimizer, true, &optimizers, true},
    {NULL, "precision", "NAME", "precision: fp32 (default) or another of --list=precisions", 0, read_precision, true,
     &precisions},
    {NULL, "base", "NAME",
     "keep frozen weights of linear layers in 4 bits, as QLoRA does: one of --list=bases; else they are as in the file",
     0, read_base, true, &bases},
    {NULL, "loss", "NAME",
     "loss: auto (default) or another of --list=losses; with :OUTPUT,... of these outputs alone, and "
     "may repeat then: the losses are added",
     0, read_loss, true, &losses, true},
    {NULL, "loop", "NAME", "training loop: plain (default), accumulate-N or another of --list=loops", 0, read_loop,
     true, &loops, true},
    {NULL, "parallel", "HOW",
     "several GPUs, of which the first one's memory is told: one of --list=parallel, as PyTorch runs it, with "
     "commas between options as in fsdp:meta,bf16; auto adds a table of 1 to 1,024 GPUs and the cheapest way that fits "
     "each device",
     0, read_parallel, true, &strategies, true},
    {NULL, "gpus", "N", "how many GPUs --parallel has; 8 without it", 0, read_gpus, true},
    {NULL, "units", "GLOB",
     "modules that --parallel=fsdp shards one by one, tensor cuts and pipeline hands out, with * and commas; without "
     "it those of lists (nn.ModuleList, nn.Sequential)",
     0, read_units, true},
    {NULL, "dropout", "HOW", "dropout that an export removed: auto (default) puts it back, none leaves it out", 0,
     read_dropout, true, &dropouts},
    {NULL, "torch", "VERSION", "the version of PyTorch that runs the step; else the file's", 0, read_torch, true},
    {NULL, "assume", "NAME",
     "a choice that the file can't show: accumulate=eager|never, attention=flash|efficient|math, "
     "inplace=none|relu|all, inputs=contiguous|channels-last, recurrent=cudnn|cells; may repeat",
     0, read_assume, true, &assumed},
    {NULL, "freeze", "GLOB", "parameters that are not trained; may repeat", 0, read_freeze, true},
    {NULL, "train", "GLOB", "train these parameters alone, less those of --freeze; may repeat", 0, read_train, true},
    {NULL, "recompute", "HOW",
     "plan checkpoints: auto for all worthwhile plans, a SIZE for the cheapest whose peak is no larger; or names of "
     "modules that are under checkpoint, with * and commas, of those that a name matches the outermost, with /N "
     "every N-th, each with +POLICY of --list=policies if that keeps results, +POLICY:N if of products only those with "
     "an inner dimension of N or more; or none; otherwise "
     "what the program's own lines put there",
     0, read_recompute, true, &recomputes, true},
    {"Device", "device", "NAME|SIZE", "must fit this device of --list=devices, or this capacity such as 24GiB", 0,
     read_device, true, &devices, true},
    {NULL, "context", "SIZE",
     "the CUDA context, instead of what others measured: the memory that nvidia-smi lists for a process after "
     "torch.zeros(1, device=\"cuda\"), less 2MiB",
     0, read_context, true},
    {NULL, "allocator", "NAME", "caching allocator: native (default) or expandable", 0, read_allocator, true,
     &allocators},
    {NULL, "cudnn", "HOW",
     "workspaces of cuDNN's convolutions on the device of --device NAME: by a rule (default); ask, which has the "
     "library say them where it is installed, without a GPU; none",
     0, read_cudnn, false, &cudnns},
    {NULL, "cudnn-flags", "LIST",
     "what the program sets of torch.backends.cudnn, with commas: benchmark, deterministic, no-tf32 "
     "(allow_tf32=False); "
     "they choose other workspaces",
     0, read_cudnn_flags, true, &cudnn_flags, true},
    {NULL, "explain-oom", "TEXT|FILE", "name the tensor behind PyTorch's out-of-memory message", 0, read_oom},
    {NULL, "replay", "[N]",
     "run the step's allocations on the first CUDA device and compare; with N the step is played N times, to show "
     "whether it is steady",
     0, read_replay},
    {NULL, "replay-limit", "SIZE", "the replay takes no more than SIZE of the device, as if it were that small", 0,
     read_replay_limit},
    {NULL, "replay-spare", "SIZE",
     "what has to stay free of the device beside the replay, else it is not begun; a twentieth of it (default)", 0,
     read_replay_spare},
    {"Gates", "max-peak", "SIZE", "exit 1 when the allocated peak is above SIZE", 0, read_max_peak, true},
    {NULL, "baseline", "FILE",
     "report the difference to an older model, analysed the same way, or to a JSON result; a % in it stands for the "
     "model's name; none: the model is new, and no increase is judged",
     0, read_baseline, true},
    {NULL, "max-increase", "SIZE|PCT",
     "exit 1 when the peak grew more than this over the baseline, as in 64MiB or 5%; of both the larger counts", 0,
     read_max_increase, true},
    {NULL, "fail-on", "LEVEL",
     "exit 1 on a finding of note, warning or error and above, or when inconclusive; known: a gate that can't be "
     "judged "
     "passes, which exits 1 otherwise; may repeat",
     0, read_fail_on, true, &levels},
    {NULL, "accept", "REASON", "a gate on bytes lets the model pass for this reason, which the reports repeat", 0,
     read_accept},
    {NULL, "update-baseline", NULL, "write the result to the JSON file of --baseline, whose increase is accepted", 0,
     read_update_baseline},
    {NULL, "expect-fail", NULL, "a test of the gate: exit 0 when it failed and 1 when it passed", 0, read_expect_fail},
    {NULL, "suppress", "RULE[@GLOB] until=DATE reason=TEXT",
     "a finding that doesn't count until a day such as 2027-06-30, by rule and node or line; may repeat", 0,
     read_suppress, true},
    {NULL, "flags", "FILE",
     "read options from FILE, one a line, or from none; default: .memlint beside the model or at the root of its git "
     "repository",
     0, read_flags},
    {"Inspection", "list", "TABLE",
     "print a table: ops, aten, optimizers, precisions, losses, loops, parallel, devices, rules, policies, formats, "
     "limits, options, mdoc; completions (of bash), zsh, fish",
     0, read_list, false, &list_words},
    {NULL, "dump", "PASS", "print what a pass made: graph, shapes, calls, facts, step", 0, read_dump, false,
     &dump_words},
    {"Many models", "files-from", "FILE", "read the models' names from FILE, one a line; - is standard input", 0,
     read_files_from},
    {NULL, "shard", "I/N", "analyse part I of N of the models; a model stays in its part when others come", 0,
     read_shard},
    {NULL, "resume", NULL, "skip the models that -o FILE.jsonl already holds", 0, read_resume},
    {"Help", "help", NULL, "print this", 'h', read_help},
    {NULL, "version", NULL, "print the version", 'V', read_version},
};

/* Prints words, broken before column width; at is the column of the cursor, indent that of new lines. */
static void
wrap(FILE *out, const char *words, int at, int indent, int width, bool mdoc)
{
    for (bool first = true; *words; first = false) {
        int n = (int)strcspn(words, " ");
        if (!first && at + 1 + n > width)
            at = fprintf(out, "\n%*s", indent, "") - 1;
        else if (!first)
            at += fprintf(out, " ");
        for (int i = 0; i < n; i++) /* mdoc: a dash of an option is a minus */
            fprintf(out, mdoc && words[i] == '-' && words[0] == '-' && i < 2 ? "\\%c" : "%c", words[i]);
        at += n;
        words += n + (words[n] == ' ');
    }
}

static bool
is_optional(const struct row *r)
{
    return r->arg && r->arg[0] == '[';
}

static int
arg_print(FILE *out, const struct row *r)
{
    return !r->arg ? 0 : is_optional(r) ? fprintf(out, "[=%s", r->arg + 1) : fprintf(out, "=%s", r->arg);
}

void
options_help(FILE *out)
{
    enum { INDENT = 30, WIDTH = 100 };
    fputs("Usage: memlint [OPTION]... MODEL.onnx...\n"
          "Predict how much GPU memory a PyTorch training step takes, from an ONNX file alone.\n",
          out);
    for (int i = 0; i < COUNT(table); i++) {
        const struct row *r = &table[i];
        if (r->group)
            fprintf(out, "\n%s:\n", r->group);
        int at = r->letter ? fprintf(out, "  -%c, ", r->letter) : fprintf(out, "      ");
        at += fprintf(out, "--%s", r->name) + arg_print(out, r);
        fprintf(out, at < INDENT ? "%*s" : "\n%*s", at < INDENT ? INDENT - at : INDENT, "");
        wrap(out, r->help, INDENT, INDENT, WIDTH, false);
        fputc('\n', out);
    }
    fputs(
        "\nSizes: KiB, MiB, GiB, TiB and K, M, G, T are powers of 1024, KB, MB, GB, TB of 1000; case does not matter.\n"
        "Exit status: 0 clean, 1 a gate failed, 2 usage, 3 a model can't be analysed, 4 the environment failed.\n"
        "Example: memlint model.onnx --dim batch=32 -o report.html\n",
        out);
}

static void
options_list(FILE *out)
{
    for (int i = 0; i < COUNT(table); i++) {
        fprintf(out, "--%s", table[i].name);
        arg_print(out, &table[i]);
        fprintf(out, "\t%s\n", table[i].help);
    }
}

static void
options_mdoc(FILE *out)
{
    for (int i = 0; i < COUNT(table); i++) {
        const struct row *r = &table[i];
        fputs(".It ", out);
        if (r->letter)
            fprintf(out, "Fl %c , ", r->letter);
        fprintf(out, "Fl -%s", r->name);
        if (is_optional(r))
            fprintf(out, " Ns Oo Ns = Ns Ar %.*s Oc", (int)strlen(r->arg) - 2, r->arg + 1);
        else if (r->arg)
            fprintf(out, " Ns = Ns Ar %s", r->arg);
        fputc('\n', out);
        wrap(out, r->help, 0, 0, 76, true);
        fputs(".\n", out);
    }
}

static void
words_print(FILE *out, const struct words *w)
{
    const char *name;
    for (int i = 0; w && (name = w->name(i)); i++)
        fprintf(out, "%s%s", i ? " " : "", name);
}

static bool
takes_file(const struct row *r)
{
    return r->arg && (strstr(r->arg, "FILE") || strcmp(r->arg, "DIR") == 0) && !strstr(r->arg, "NAME");
}

/* The help's first clause, inside of single quotes; the characters of escape get a backslash. */
static void
brief_print(FILE *out, const char *help, const char *escape)
{
    for (const char *p = help; *p && *p != ';'; p++)
        fprintf(out, *p == '\'' ? "'\\''" : strchr(escape, *p) ? "\\%c" : "%c", *p);
}

static void
options_bash(FILE *out)
{
    fputs("# bash completion for memlint, printed by memlint --list=completions\n"
          "_memlint()\n{\n    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} values=\n"
          "    [ \"$word\" != = ] || word=\n"
          "    [ \"$before\" != = ] || before=${COMP_WORDS[COMP_CWORD-2]}\n"
          "    case $before in\n",
          out);
    for (int i = 0; i < COUNT(table); i++) {
        const struct row *r = &table[i];
        if (!r->words)
            continue;
        fprintf(out, "    --%s) values=\"", r->name);
        words_print(out, r->words);
        fputs("\" ;;\n", out);
    }
    fputs("    esac\n    case $word in\n    -*)\n        COMPREPLY=($(compgen -W \"", out);
    for (int i = 0; i < COUNT(table); i++)
        fprintf(out, "%s--%s%s", i ? " " : "", table[i].name, table[i].arg && !is_optional(&table[i]) ? "=" : "");
    fputs(
        "\" -- \"$word\"))\n        [[ ${COMPREPLY[0]} != *= ]] || compopt -o nospace ;;\n"
        "    *)\n        if [ -n \"$values\" ]; then\n            COMPREPLY=($(compgen -W \"$values\" -- \"$word\"))\n"
        "        elif [[ $before == -* ]]; then\n            COMPREPLY=($(compgen -f -- \"$word\"))\n        else\n"
        "            COMPREPLY=($(compgen -f -X '!*.@(onnx|onnxtxt|txt)' -- \"$word\") $(compgen -d -- \"$word\"))\n"
        "        fi ;;\n"
        "    esac\n}\ncomplete -F _memlint -o filenames memlint\n",
        out);
}

static void
options_zsh(FILE *out)
{
    fputs("#compdef memlint\n# zsh completion for memlint, printed by memlint --list=zsh\n_arguments -s \\\n", out);
    for (int i = 0; i < COUNT(table); i++) {
        const struct row *r = &table[i];
        if (r->letter)
            fprintf(out, "    '*-%c%s[%s]%s' \\\n", r->letter, r->arg ? "+" : "", r->name,
                    r->arg ? ":FILE:_files" : "");
        fprintf(out, "    '*--%s%s[", r->name, !r->arg ? "" : is_optional(r) ? "=-" : "=");
        brief_print(out, r->help, "[]:\\");
        fputc(']', out);
        if (r->arg)
            fprintf(out, "%s:value:", is_optional(r) ? ":" : "");
        if (r->words) {
            fputc('(', out);
            words_print(out, r->words);
            fputc(')', out);
        } else if (takes_file(r)) {
            fputs("_files", out);
        }
        fputs("' \\\n", out);
    }
    fputs("    '*:model:_files -g \"*.(onnx|onnxtxt|txt)\"'\n", out);
}

static void
options_fish(FILE *out)
{
    fputs("# fish completion for memlint, printed by memlint --list=fish\n", out);
    for (int i = 0; i < COUNT(table); i++) {
        const struct row *r = &table[i];
        fprintf(out, "complete -c memlint -l %s", r->name);
        if (r->letter)
            fprintf(out, " -s %c", r->letter);
        if (r->words) {
            fputs(" -x -a '", out);
            words_print(out, r->words);
            fputc('\'', out);
        } else if (r->arg && !is_optional(r)) {
            fputs(takes_file(r) ? " -r" : " -x", out);
        }
        fputs(" -d '", out);
        brief_print(out, r->help, "\\");
        fputs("'\n", out);
    }
}

/* ---- reading ----------------------------------------------------------------------------------------------------- */

static const char *
check(const struct options *o, struct arena *a)
{
    bool many = o->nmodels > 1 || o->files_from;
    if (o->help || o->version || o->list)
        return NULL;
    if (o->nmodels == 0 && !o->files_from)
        return "no model given";
    if (o->nmodels && o->files_from)
        return "--files-from: models stand on the command line, too";
    for (int i = 0; i < o->nmodels; i++)
        if (!*o->models[i])
            return arena_printf(a, "the name of model %d is empty", i + 1);
    bool lines = false;
    for (int i = 0; i < o->noutputs; i++) {
        bool jsonl = strcmp(o->outputs[i].format->name, "jsonl") == 0;
        lines |= jsonl && !strchr(o->outputs[i].path, '%');
        if (many && !jsonl && !strchr(o->outputs[i].path, '%'))
            return arena_printf(a, "-o %s: with several models the name needs a %% that stands for the model's",
                                o->outputs[i].path);
    }
    if (o->setup.units && !o->setup.parallel && !o->scale)
        return "--units: only several GPUs share them, see --parallel";
    int within = o->setup.parallel ? o->setup.parallel->within : 0;
    if (within && o->setup.gpus % within)
        return arena_printf(a, "--gpus=%d: the nodes of --parallel=%s have %d GPUs each", o->setup.gpus,
                            o->setup.parallel->name, within);
    int reshards = o->setup.parallel ? o->setup.parallel->reshards : 0;
    if (reshards && o->setup.gpus % reshards)
        return arena_printf(a, "--gpus=%d: fully_shard refuses reshard_after_forward=%d, which does not divide it",
                            o->setup.gpus, reshards);
    if (o->replay && o->setup.parallel)
        return "--replay: it plays the step of one GPU, without --parallel";
    if (o->resume && !lines)
        return "--resume: it needs the -o FILE.jsonl that holds what is done";
    return NULL;
}

/* The same for one model, with its flag file. */
static const char *
check_gates(const struct options *o)
{
    const char *dot = o->baseline ? strrchr(o->baseline, '.') : NULL;
    if (o->update_baseline && (!dot || strcmp(dot, ".json") != 0))
        return "--update-baseline: it needs the --baseline FILE.json that it writes";
    if (o->baseline && (o->nmodels > 1 || o->files_from) && !strchr(o->baseline, '%'))
        return "--baseline: with several models the name needs a % that stands for the model's";
    return NULL;
}

static const char *
read_argument(struct reader *r, const struct row *row, const char *arg)
{
    const char *name = row->words && arg ? word_find(row->words, arg) : NULL;
    if (row->words && !name && !row->others)
        return unknown_word(r, row->words, arg);
    arg = name ? name : arg;
    if (row->in_file)
        *PUSH(r->a, r->o->said, r->o->nsaid, r->o->cap_said) =
            arena_printf(r->a, arg ? "--%s=%s" : "--%s", row->name, arg);
    return row->read(r, arg);
}

/* What people type who know other programs. */
static const struct typed {
    const char *word, *meant;
} typed[] = {
    {"batch", "--dim batch=32"},
    {"batch-size", "--dim batch=32"},
    {"bs", "--dim batch=32"},
    {"per-device-train-batch-size", "--dim batch=32"},
    {"seq", "--dim NAME=N with the model's name for it"},
    {"seq-len", "--dim NAME=N with the model's name for it"},
    {"seq-length", "--dim NAME=N with the model's name for it"},
    {"sequence-length", "--dim NAME=N with the model's name for it"},
    {"max-length", "--dim NAME=N with the model's name for it"},
    {"input", "--input-shape NAME=2x3x224x224"},
    {"gpu", "--device=NAME of --list=devices"},
    {"memory", "--device=24GiB"},
    {"vram", "--device=24GiB"},
    {"gpu-memory", "--device=24GiB"},
    {"budget", "--max-peak=24GiB"},
    {"max-memory", "--max-peak=24GiB"},
    {"amp", "--precision=amp-bf16"},
    {"bf16", "--precision=bf16"},
    {"fp16", "--precision=fp16"},
    {"half", "--precision=fp16"},
    {"dtype", "--precision=NAME of --list=precisions"},
    {"mixed-precision", "--precision=amp-bf16"},
    {"optim", "--optimizer=NAME of --list=optimizers"},
    {"inference", "--mode=inference"},
    {"eval", "--mode=inference"},
    {"train", "--mode=training"},
    {"checkpoint", "--recompute=auto"},
    {"checkpointing", "--recompute=auto"},
    {"gradient-checkpointing", "--recompute=auto"},
    {"accumulate", "--loop=accumulate-4"},
    {"accumulation", "--loop=accumulate-4"},
    {"gradient-accumulation-steps", "--loop=accumulate-4"},
    {"json", "--format=json"},
    {"html", "-o report.html"},
    {"report", "-o report.html"},
    {"config", "--flags=FILE"},
    {"ignore", "--suppress"},
    {"compare", "--baseline=FILE"},
    {"oom", "--explain-oom=FILE"},
};

static const char *
option_name(int i)
{
    return i < COUNT(table) ? table[i].name : NULL;
}

/* text: with its dashes, and perhaps its value. */
/* What was meant by an option that is none, "--gpu=4090"; NULL not known. */
static const char *
typed_meant(struct arena *a, const char *text)
{
    const char *name = text + strspn(text, "-"), *meant = NULL;
    name = arena_strn(a, name, strcspn(name, "= \t"));
    for (int i = 0; i < COUNT(typed); i++)
        if (word_same(typed[i].word, name))
            meant = typed[i].meant;
    for (int i = 0; i < COUNT(table); i++)
        if (strcmp(table[i].name, name) == 0)
            return NULL;
    return meant;
}

static const char *
unknown_option(struct arena *a, const char *text)
{
    static const struct words options = {"option", "options", option_name};
    int n;
    const char **names = word_list(a, &options, &n);
    const char *name = text + strspn(text, "-");
    name = arena_strn(a, name, strcspn(name, "= \t"));
    const char *meant = typed_meant(a, text);
    if (meant)
        return arena_printf(a, "unknown option --%s; did you mean %s?", name, meant);
    const char *near = words_near(a, name, n, names), *begin = NULL;
    for (int i = 0; i < n; i++)
        if (strncmp(names[i], name, strlen(name)) == 0)
            begin = begin ? arena_printf(a, "%s, --%s", begin, names[i]) : names[i];
    return begin  ? arena_printf(a, "ambiguous option --%s: --%s", name, begin)
           : near ? arena_printf(a, "unknown option --%s; did you mean --%s?", name, near)
                  : arena_printf(a, "unknown option --%s", name);
}

/* One line of a flag file: --NAME, --NAME=VALUE or --NAME VALUE. */
static const char *
read_line(struct reader *r, const char *text)
{
    size_t n = strncmp(text, "--", 2) == 0 ? strcspn(text + 2, "= \t") : 0;
    const char *arg = text + 2 + n;
    const struct row *row = NULL;
    for (int i = 0; n && i < COUNT(table); i++)
        if (strncmp(table[i].name, text + 2, n) == 0 && table[i].name[n] == '\0')
            row = &table[i];
    if (!n)
        return "no option; a line is one option, as in --max-peak=24GiB";
    if (!row)
        return unknown_option(r->a, text);
    if (!row->in_file)
        return "this option can't stand in a flag file";
    arg += *arg ? 1 + strspn(arg + 1, " \t") : 0;
    return *arg ? read_argument(r, row, arg) : "its value is missing";
}

static void
defaults(struct options *o)
{
    *o = (struct options){.max_peak = -1, .max_increase_bytes = -1, .max_increase_percent = -1, .replay_spare = -1};
    o->setup.optimizer = optimizer_find("adamw");
    o->setup.precision = precision_find("fp32");
    o->setup.loss = loss_find("auto");
    o->setup.accumulate_eager = true;
    o->setup.loop = loop_find("plain");
    o->setup.gpus = 8;
    o->setup.micro_batches = 1;
}

static const char *
read_words(struct reader *r, int argc, char **argv)
{
    enum { FIRST = 256 };
    struct arena *a = r->a;
    struct option longs[COUNT(table) + 1] = {{0}};
    char shorts[2 * COUNT(table) + 2] = ":", *s = shorts + 1;
    for (int i = 0; i < COUNT(table); i++) {
        longs[i] = (struct option){table[i].name,
                                   !table[i].arg            ? no_argument
                                   : is_optional(&table[i]) ? optional_argument
                                                            : required_argument,
                                   NULL, FIRST + i};
        if (table[i].letter)
            *s++ = table[i].letter;
        if (table[i].letter && table[i].arg)
            *s++ = ':';
    }
    opterr = 0;
    optind = 0; /* glibc's and musl's way to begin anew */
    for (int c; (c = getopt_long(argc, argv, shorts, longs, NULL)) != -1;) {
        const struct row *row = NULL;
        for (int i = 0; i < COUNT(table); i++)
            if (c == FIRST + i || (table[i].letter && c == table[i].letter))
                row = &table[i];
        for (int k = 1; k <= 2 && optind > k; k++) /* "--gpu" is no abbreviation of --gpus */
            if (strncmp(argv[optind - k], "--", 2) == 0 && typed_meant(a, argv[optind - k]))
                return unknown_option(a, argv[optind - k]);
        if (c == ':')
            return arena_printf(a, "%s: an argument is missing", argv[optind - 1]);
        if (!row && optopt > 0 && optopt < FIRST)
            return arena_printf(a, "unknown option -%c", optopt);
        if (!row && optopt >= FIRST)
            return arena_printf(a, "--%s takes no argument", table[optopt - FIRST].name);
        if (!row)
            return unknown_option(a, argv[optind - 1]);
        const char *wrong = read_argument(r, row, optarg);
        if (wrong)
            return arena_printf(a, "--%s=%s: %s", row->name, optarg, wrong);
    }
    r->o->nmodels = argc - optind;
    r->o->models = argv + optind;
    r->o->argc = argc;
    r->o->argv = argv;
    return NULL;
}

const char *
options_read(struct options *o, struct arena *a, int argc, char **argv)
{
    struct reader r = {.o = o, .a = a};
    defaults(o);
    const char *wrong = read_words(&r, argc, argv);
    return wrong ? wrong : check(o, a);
}

const char *
options_for(struct options *own, struct arena *a, const struct options *o, const char *model)
{
    const char *none = o->flags && strcmp(o->flags, "none") == 0 ? o->flags : NULL, *wrong = NULL;
    const char *path = none ? NULL : o->flags ? o->flags : flags_find(a, model);
    struct reader r = {.o = own, .a = a, .file = path};
    defaults(own);
    int n = 0;
    struct flag_line *flag = path ? flags_read(a, path, &n, &wrong) : NULL;
    for (int i = 0; i < n && !wrong; i++) {
        r.line = flag[i].line;
        if ((wrong = read_line(&r, flag[i].text)))
            wrong = arena_printf(a, "%s:%d: %s: %s", path, flag[i].line, flag[i].text, wrong);
    }
    if (wrong)
        return wrong;
    r.file = NULL;
    own->setup.freeze.in_flags = own->setup.freeze.n;
    own->setup.train.in_flags = own->setup.train.n;
    int64_t bytes = own->max_increase_bytes;
    double percent = own->max_increase_percent;
    own->max_increase_bytes = -1; /* one on the command line wins over both of the file */
    own->max_increase_percent = -1;
    wrong = read_words(&r, o->argc, o->argv);
    if (own->max_increase_bytes < 0 && own->max_increase_percent < 0) {
        own->max_increase_bytes = bytes;
        own->max_increase_percent = percent;
    }
    own->flags = path;
    own->flag = flag;
    own->nflags = n;
    return wrong ? wrong : check_gates(own);
}
