/* options.c - the command line, as one table.
 *
 * A row says how an option is called, what it takes, what it is for and which function reads its argument into struct
 * options. getopt_long's table, --help, --list=options, the completions (--list=completions) and the man page's list
 * (--list=mdoc, compared by a test) are all printed from the rows. A row without a function is an option of a later
 * version: it is named in the help as such and refused with a clear message, never silently accepted.
 *
 * A reader returns NULL or what is wrong, as an end of the sentence "memlint: --mode=x: ...". Nothing here prints
 * but the functions behind --help and --list, and nothing touches the model.
 */
#include "memlint.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

struct reader {
    struct options *o;
    struct arena *a;
    int cap_dims, cap_shapes, cap_values, cap_files, cap_freeze, cap_suppress;
    const char *file; /* the flag file that is read, NULL the command line */
    int line;
};

static const char *
choices(struct reader *r, const char *list)
{
    return arena_printf(r->a, "wanted one of %s", list);
}

/* ---- NAME=VALUE ------------------------------------------------------------------------------------------------------ */

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
            s->dims[i].n = n;
            return NULL;
        }
    *PUSH(r->a, s->dims, s->ndims, r->cap_dims) = (struct binding){name, n};
    return NULL;
}

static const char *
read_shape(struct reader *r, const char *arg)
{
    struct setup *s = &r->o->setup;
    struct input_shape in = {0};
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

/* Not in a flag file: that may come with the model. */
static const char *
read_limit(struct reader *r, const char *arg)
{
    const char *value, *name = split(r, arg, &value);
    int64_t n = name ? bytes_parse(value) : -1;
    return n < 0 ? "wanted NAME=N, as in --limit nodes=4000000 or --limit memory=16GiB" : limit_set(r->a, name, n);
}

/* ---- the step ---------------------------------------------------------------------------------------------------------- */

static const char *
read_mode(struct reader *r, const char *arg)
{
    bool inference = strcmp(arg, "inference") == 0;
    r->o->setup.mode = inference ? MODE_INFERENCE : MODE_TRAINING;
    return inference || strcmp(arg, "training") == 0 ? NULL : choices(r, "training, inference");
}

static const char *
read_optimizer(struct reader *r, const char *arg)
{
    r->o->setup.optimizer = optimizer_find(arg);
    return r->o->setup.optimizer ? NULL : "unknown, see --list=optimizers";
}

static const char *
read_precision(struct reader *r, const char *arg)
{
    r->o->setup.precision = precision_find(arg);
    return r->o->setup.precision ? NULL : "unknown, see --list=precisions";
}

static const char *
read_loss(struct reader *r, const char *arg)
{
    r->o->setup.loss = loss_find(arg);
    return r->o->setup.loss ? NULL : "unknown, see --list=losses";
}

static const char *
read_loop(struct reader *r, const char *arg)
{
    static const char accumulate[] = "accumulate-";
    struct setup *s = &r->o->setup;
    size_t prefix = sizeof(accumulate) - 1;
    bool many = strncmp(arg, accumulate, prefix) == 0;
    int64_t n = 1;
    char *end = "";
    if (many && (!number(arg + prefix, &end, 1, &n) || *end || n > 4096))
        return "wanted accumulate-N with N from 1 to 4096";
    s->loop = loop_find(many ? "accumulate-N" : arg);
    s->micro_batches = (int)n;
    return s->loop ? NULL : "unknown, see --list=loops";
}

static const char *
read_dropout(struct reader *r, const char *arg)
{
    bool none = strcmp(arg, "none") == 0;
    r->o->setup.dropout = none ? DROPOUT_NONE : DROPOUT_AUTO;
    return none || strcmp(arg, "auto") == 0 ? NULL : choices(r, "auto, none");
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
    r->o->replay_limit = bytes_parse(arg);
    return r->o->replay_limit > 0 ? NULL : "not a size such as 16GiB";
}

static const char *
read_replay_spare(struct reader *r, const char *arg)
{
    r->o->replay_spare = bytes_parse(arg);
    return r->o->replay_spare >= 0 ? NULL : "not a size such as 1GiB or 0";
}

static const char *
read_recompute(struct reader *r, const char *arg)
{
    struct options *o = r->o;
    int64_t budget = bytes_parse(arg);
    o->setup.recompute = NULL;
    o->recompute = strcmp(arg, "auto") == 0 || budget > 0;
    o->recompute_budget = budget > 0 ? budget : 0;
    if (!o->recompute && strcmp(arg, "none") != 0)
        o->setup.recompute = arg;
    return *arg ? NULL : choices(r, "auto, none, a size such as 8GiB, names of modules");
}

static const char *
read_assume(struct reader *r, const char *arg)
{
    struct setup *s = &r->o->setup;
    static const struct {
        const char *text;
        int what, value;
    } rows[] = {
        {"accumulate=eager", 0, true},           {"accumulate=never", 0, false},
        {"attention=flash", 1, ATTENTION_FLASH}, {"attention=efficient", 1, ATTENTION_EFFICIENT},
        {"attention=math", 1, ATTENTION_MATH},   {"inplace=none", 2, INPLACE_NONE},
        {"inplace=relu", 2, INPLACE_RELU},
    };
    for (int i = 0; i < COUNT(rows); i++)
        if (strcmp(arg, rows[i].text) == 0) {
            if (rows[i].what == 0)
                s->accumulate_eager = rows[i].value;
            else if (rows[i].what == 1)
                s->attention = (enum attention)rows[i].value;
            else
                s->inplace = (enum inplace)rows[i].value;
            return NULL;
        }
    return choices(r, "accumulate=eager|never, attention=flash|efficient|math, inplace=none|relu");
}

static const char *
read_freeze(struct reader *r, const char *arg)
{
    *PUSH(r->a, r->o->setup.freeze, r->o->setup.nfreeze, r->cap_freeze) = arg;
    return NULL;
}

static const char *
read_device(struct reader *r, const char *arg)
{
    struct setup *s = &r->o->setup;
    r->o->device_text = arg;
    s->device = device_find(arg);
    s->capacity = s->device ? device_capacity(s->device) : bytes_parse(arg);
    return s->capacity > 0 ? NULL : "neither a size such as 24GiB nor a device of --list=devices";
}

static const char *
read_allocator(struct reader *r, const char *arg)
{
    r->o->setup.expandable = strcmp(arg, "expandable") == 0;
    return r->o->setup.expandable || strcmp(arg, "native") == 0 ? NULL : choices(r, "native, expandable");
}

/* ---- what comes out ------------------------------------------------------------------------------------------------------ */

static const char *
format_names(struct reader *r)
{
    const char *s = formats[0].name;
    for (int i = 1; i < nformats; i++)
        s = arena_printf(r->a, "%s, %s", s, formats[i].name);
    return s;
}

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
    return r->o->format ? NULL : choices(r, format_names(r));
}

static const struct {
    const char *name;
    enum dump dump;
} dumps[] = {{"graph", DUMP_GRAPH}, {"shapes", DUMP_SHAPES}, {"calls", DUMP_CALLS}, {"step", DUMP_STEP}};

static const char *
read_dump(struct reader *r, const char *arg)
{
    for (int i = 0; i < COUNT(dumps); i++)
        if (strcmp(arg, dumps[i].name) == 0)
            r->o->dump = dumps[i].dump;
    return r->o->dump ? NULL : choices(r, "graph, shapes, calls, step");
}

static void options_list(FILE *out);
static void options_mdoc(FILE *out);
static void options_completions(FILE *out);

static const struct {
    const char *name;
    void (*list)(FILE *out);
} lists[] = {
    {"ops", op_list},
    {"aten", aten_list},
    {"optimizers", optimizer_list},
    {"precisions", precision_list},
    {"losses", loss_list},
    {"loops", loop_list},
    {"devices", device_list},
    {"rules", rules_list},
    {"policies", policy_list},
    {"formats", format_list},
    {"limits", limits_list},
    {"options", options_list},
    {"mdoc", options_mdoc},
    {"completions", options_completions},
};

static const char *
read_list(struct reader *r, const char *arg)
{
    const char *known = lists[0].name;
    for (int i = 0; i < COUNT(lists); i++) {
        if (strcmp(arg, lists[i].name) == 0)
            r->o->list = lists[i].list;
        if (i)
            known = arena_printf(r->a, "%s, %s", known, lists[i].name);
    }
    return r->o->list ? NULL : choices(r, known);
}

static const char *
read_when(struct reader *r, const char *arg, enum when *when)
{
    static const char *const names[] = {"auto", "always", "never"};
    for (int i = 0; i < COUNT(names); i++)
        if (strcmp(arg, names[i]) == 0) {
            *when = (enum when)i;
            return NULL;
        }
    return choices(r, "auto, always, never");
}

static const char *
read_colour(struct reader *r, const char *arg)
{
    return read_when(r, arg, &r->o->colour);
}

static const char *
read_progress(struct reader *r, const char *arg)
{
    return read_when(r, arg, &r->o->progress);
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

/* ---- gates ----------------------------------------------------------------------------------------------------------------- */

static const char *const severities[] = {"note", "warning", "error"};

int
severity_rank(const char *name)
{
    for (int i = 0; i < COUNT(severities); i++)
        if (name && strcmp(name, severities[i]) == 0)
            return i;
    return -1;
}

static const char *
read_max_peak(struct reader *r, const char *arg)
{
    r->o->max_peak_text = arg;
    r->o->max_peak = bytes_parse(arg);
    return r->o->max_peak >= 0 ? NULL : "wanted a size such as 24GiB or 512MB";
}

enum { MOST_MESSAGE = 1 << 20 };

/* The message itself or a file that holds it. */
static const char *
read_oom(struct reader *r, const char *arg)
{
    FILE *f = strchr(arg, '\n') ? NULL : fopen(arg, "rb");
    r->o->oom_text = arg;
    r->o->oom_file = f ? arg : NULL;
    if (!f)
        return strstr(arg, "allocate") ? NULL : "wanted PyTorch's message, or a file that holds it";
    char *text = arena_alloc(r->a, MOST_MESSAGE + 1);
    size_t n = fread(text, 1, MOST_MESSAGE, f);
    bool failed = ferror(f);
    fclose(f);
    text[n] = '\0';
    r->o->oom_text = text;
    return failed ? "can't be read" : NULL;
}

static const char *
read_fail_on(struct reader *r, const char *arg)
{
    bool known = strcmp(arg, "known") == 0;
    if (known)
        r->o->fail_on_known = true;
    else
        r->o->fail_on = arg;
    return known || strcmp(arg, "inconclusive") == 0 || severity_rank(arg) >= 0
               ? NULL
               : choices(r, "note, warning, error, inconclusive, known");
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
    if (percent >= 0 && strcmp(end, "%") == 0 && percent < 1e9) {
        r->o->max_increase_percent = percent;
        r->o->increase_percent_text = arg;
        return NULL;
    }
    r->o->increase_bytes_text = arg;
    r->o->max_increase_bytes = bytes_parse(arg);
    return r->o->max_increase_bytes >= 0 ? NULL : "wanted 5% or a size such as 64MiB";
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
    struct suppression s = {.place = r->file ? arena_printf(r->a, "%s:%d", r->file, r->line) : "--suppress"};
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

/* ---- many models ------------------------------------------------------------------------------------------------------------ */

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

/* ---- the table --------------------------------------------------------------------------------------------------------------- */

static const struct row {
    const char *group;             /* set in the first row of a group */
    const char *name, *arg, *help; /* arg: NULL none; in brackets: may be left out */
    char letter;
    const char *(*read)(struct reader *r, const char *arg); /* NULL: not in this version */
    bool in_file;                                           /* may stand in a flag file */
} table[] = {
    {"Reports", "output", "FILE",
     "write a report; the extension picks the format, and a % in it stands for the model's name; may repeat", 'o',
     read_output},
    {NULL, "format", "FMT", "format on standard output: text (default) or another of --list=formats", 0, read_format},
    {NULL, "sources", "DIR",
     "Python files lie below DIR: reports for servers of continuous integration name their paths, from there", 0,
     read_sources},
    {NULL, "quiet", NULL, "nothing on standard output but what --format asks for", 'q', read_quiet},
    {NULL, "verbose", NULL, "say on standard error what is read and written", 'v', read_verbose},
    {NULL, "color", "WHEN", "colour the text report: auto (default), always, never", 0, read_colour},
    {NULL, "progress", "WHEN", "how far long work is, on standard error: auto (default), always, never", 0,
     read_progress},
    {"Inputs", "dim", "NAME=N", "bind a symbolic dimension, as in --dim batch=32; may repeat", 0, read_dim, true},
    {NULL, "input-shape", "NAME=DIMS", "fix an input's shape, as in --input-shape x=2x3x224x224; may repeat", 0,
     read_shape, true},
    {NULL, "input-value", "NAME=FILE", "give an input's value, a serialized TensorProto; may repeat", 0, read_value},
    {NULL, "limit", "NAME=N", "take more, or less, of a model than the N of --list=limits; may repeat", 0, read_limit},
    {"Training step", "mode", "MODE", "training (default) or inference", 0, read_mode, true},
    {NULL, "optimizer", "NAME", "optimizer: adamw (default) or another of --list=optimizers", 0, read_optimizer, true},
    {NULL, "precision", "NAME", "precision: fp32 (default) or another of --list=precisions", 0, read_precision, true},
    {NULL, "loss", "NAME", "loss: auto (default) or another of --list=losses", 0, read_loss, true},
    {NULL, "loop", "NAME", "training loop: plain (default), accumulate-N or another of --list=loops", 0, read_loop,
     true},
    {NULL, "dropout", "HOW", "dropout that an export removed: auto (default) puts it back, none leaves it out", 0,
     read_dropout, true},
    {NULL, "assume", "NAME",
     "a choice that the file can't show: accumulate=eager|never, attention=flash|efficient|math, "
     "inplace=none|relu; may repeat",
     0, read_assume, true},
    {NULL, "freeze", "GLOB", "parameters that are not trained; may repeat", 0, read_freeze, true},
    {NULL, "recompute", "HOW",
     "plan checkpoints: auto for all worthwhile plans, a SIZE for the cheapest whose peak is no larger, none "
     "(default); or names of modules that are under checkpoint, with * and commas, each with +POLICY of "
     "--list=policies if that keeps results, +POLICY:N if of products only those with an inner dimension of N or more",
     0, read_recompute, true},
    {"Device", "device", "NAME|SIZE", "must fit this device of --list=devices, or this capacity such as 24GiB", 0,
     read_device, true},
    {NULL, "allocator", "NAME", "caching allocator: native (default) or expandable", 0, read_allocator, true},
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
     0, read_fail_on, true},
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
     "print a table: ops, aten, optimizers, precisions, losses, loops, devices, rules, policies, formats, "
     "limits, options, mdoc, completions",
     0, read_list},
    {NULL, "dump", "PASS", "print what a pass made: graph, shapes, calls, step", 0, read_dump},
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
        if (!r->read)
            continue;
        if (r->group)
            fprintf(out, "\n%s:\n", r->group);
        int at = r->letter ? fprintf(out, "  -%c, ", r->letter) : fprintf(out, "      ");
        at += fprintf(out, "--%s", r->name) + arg_print(out, r);
        fprintf(out, at < INDENT ? "%*s" : "\n%*s", at < INDENT ? INDENT - at : INDENT, "");
        wrap(out, r->help, INDENT, INDENT, WIDTH, false);
        fputc('\n', out);
    }
    fputs("\nNot in this version:", out);
    for (int i = 0; i < COUNT(table); i++)
        if (!table[i].read)
            fprintf(out, " --%s", table[i].name);
    fputs("\n\nExit status: 0 clean, 1 a gate failed, 2 usage, 3 a model can't be analysed, 4 the environment failed.\n"
          "Example: memlint model.onnx --dim batch=32 -o report.html\n",
          out);
}

static void
options_list(FILE *out)
{
    for (int i = 0; i < COUNT(table); i++) {
        fprintf(out, "--%s", table[i].name);
        arg_print(out, &table[i]);
        fprintf(out, "\t%s\n", table[i].read ? table[i].help : "(not in this version)");
    }
}

static void
options_mdoc(FILE *out)
{
    for (int i = 0; i < COUNT(table); i++) {
        const struct row *r = &table[i];
        if (!r->read)
            continue;
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
options_completions(FILE *out)
{
    fputs("# bash completion for memlint, printed by memlint --list=completions\n"
          "_memlint()\n{\n    local word=${COMP_WORDS[COMP_CWORD]}\n    case $word in\n    -*)\n        "
          "COMPREPLY=($(compgen -W \"",
          out);
    for (int i = 0; i < COUNT(table); i++)
        if (table[i].read)
            fprintf(out, "%s--%s%s", i ? " " : "", table[i].name, table[i].arg && !is_optional(&table[i]) ? "=" : "");
    fputs("\" -- \"$word\"))\n        [[ ${COMPREPLY[0]} == *= ]] && compopt -o nospace ;;\n"
          "    *)\n        COMPREPLY=($(compgen -f -X '!*.@(onnx|onnxtxt|txt)' -- \"$word\") $(compgen -d -- "
          "\"$word\")) ;;\n"
          "    esac\n}\ncomplete -F _memlint -o filenames memlint\n",
          out);
}

/* ---- reading ------------------------------------------------------------------------------------------------------------------- */

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
    if (!row)
        return "no option; a line is one option, as in --max-peak=24GiB";
    if (!row->in_file || !row->read)
        return "this option can't stand in a flag file";
    arg += *arg ? 1 + strspn(arg + 1, " \t") : 0;
    return *arg ? row->read(r, arg) : "its value is missing";
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
        longs[i] = (struct option){table[i].name, table[i].arg && table[i].read ? required_argument : no_argument, NULL,
                                   FIRST + i};
        if (is_optional(&table[i]) || (!table[i].read && table[i].arg))
            longs[i].has_arg = optional_argument;
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
        if (c == ':')
            return arena_printf(a, "%s: an argument is missing", argv[optind - 1]);
        if (!row && optopt > 0 && optopt < FIRST)
            return arena_printf(a, "unknown option -%c", optopt);
        if (!row && optopt >= FIRST)
            return arena_printf(a, "--%s takes no argument", table[optopt - FIRST].name);
        if (!row)
            return arena_printf(a, "unknown or ambiguous option %s", argv[optind - 1]);
        if (!row->read)
            return arena_printf(a, "--%s is not in this version", row->name);
        const char *wrong = row->read(r, optarg);
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
