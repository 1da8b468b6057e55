/* main.c - the program: the pipeline as a column of calls, and the exit codes.
 *
 * Every model is analysed in an arena of its own. What goes wrong with one (exit 3) does not keep the next from being
 * analysed; the program exits with the gravest code of all. Gates are judged here, so that every report shows the same
 * verdict.
 */
#include "config.h"
#include "memlint.h"

#include <errno.h>
#include <locale.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* "memlint: FILE: PLACE: message" on one line, whatever the model's strings hold. */
static int
refuse(struct arena *a, const struct err *e)
{
    fprintf(stderr, "memlint: %s: ", emit_clip(a, e->file, 300));
    if (e->place)
        fprintf(stderr, "%s: ", emit_clip(a, e->place, 200));
    fprintf(stderr, "%s", emit_clip(a, e->message ? e->message : "can't be analysed", 1000));
    if (e->remedy)
        fprintf(stderr, "; %s", emit_clip(a, e->remedy, 400));
    fputc('\n', stderr);
    return EXIT_MODEL;
}

/* ---- gates ------------------------------------------------------------------------------------------------------------ */

static const char *
gate(const struct options *o, const struct result *r, struct arena *a)
{
    if (o->max_peak >= 0 && r->peak.allocated > o->max_peak)
        return arena_printf(a, "the peak of %s is above --max-peak %s", bytes_text(a, r->peak.allocated),
                            bytes_text(a, o->max_peak));
    if (o->fail_on && strcmp(o->fail_on, "inconclusive") == 0 && r->ndoubts > 0)
        return arena_printf(a, "inconclusive: %d values are not explained", r->ndoubts);
    for (int i = 0; o->fail_on && i < r->nfindings; i++)
        if (severity_rank(o->fail_on) >= 0 && severity_rank(r->findings[i].severity) >= severity_rank(o->fail_on))
            return arena_printf(a, "%s %s, and --fail-on %s", r->findings[i].severity, r->findings[i].rule, o->fail_on);
    return NULL;
}

/* ---- output ------------------------------------------------------------------------------------------------------------- */

static int
columns(void)
{
    struct winsize w;
    const char *env = getenv("COLUMNS");
    if (env && atoi(env) > 0)
        return atoi(env);
    return ioctl(STDOUT_FILENO, TIOCGWINSZ, &w) == 0 && w.ws_col ? w.ws_col : 100;
}

static bool
coloured(const struct options *o)
{
    const char *no = getenv("NO_COLOR"), *term = getenv("TERM");
    if (o->colour != WHEN_AUTO)
        return o->colour == WHEN_ALWAYS;
    return isatty(STDOUT_FILENO) && !(no && *no) && !(term && strcmp(term, "dumb") == 0);
}

static int
finish_stdout(void)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return EXIT_CLEAN;
    fprintf(stderr, "memlint: standard output: %s\n", strerror(errno ? errno : EIO));
    return EXIT_ENVIRONMENT;
}

/* The path of a report: % stands for the model's name without its folder and extension. */
static const char *
report_path(struct arena *a, const char *path, const char *model)
{
    const char *mark = strchr(path, '%'), *slash = strrchr(model, '/'), *base = slash ? slash + 1 : model;
    const char *dot = strrchr(base, '.');
    int n = dot && dot > base ? (int)(dot - base) : (int)strlen(base);
    return mark ? arena_printf(a, "%.*s%.*s%s", (int)(mark - path), path, n, base, mark + 1) : path;
}

static int
report(const struct options *o, const struct result *r, struct arena *a)
{
    int code = EXIT_CLEAN;
    for (int i = 0; i < o->noutputs; i++) {
        const char *why, *path = report_path(a, o->outputs[i].path, r->model.file);
        if (!report_write(r, o->outputs[i].format, path, &why)) {
            fprintf(stderr, "memlint: %s: can't be written: %s\n", emit_clip(a, path, 300), why);
            code = EXIT_ENVIRONMENT;
        } else if (o->verbose) {
            fprintf(stderr, "memlint: wrote %s\n", emit_clip(a, path, 300));
        }
    }
    const struct format *f = o->format ? o->format : o->quiet ? NULL : &formats[0];
    errno = 0;
    if (f && (!f->write(r, stdout, coloured(o), columns()) || finish_stdout() != EXIT_CLEAN))
        code = EXIT_ENVIRONMENT;
    return code;
}

/* ---- the pipeline ---------------------------------------------------------------------------------------------------------- */

static int
dump(const struct options *o, const struct graph *g, const struct program *p, const struct step *st)
{
    switch (o->dump) {
    case DUMP_GRAPH:
        onnx_print_text(g, stdout);
        break;
    case DUMP_SHAPES:
        shapes_dump(g, stdout);
        break;
    case DUMP_CALLS:
        lower_dump(p, stdout);
        break;
    case DUMP_STEP:
        step_dump(st, stdout);
        break;
    case DUMP_NONE:
        break;
    }
    return finish_stdout();
}

/* File to program. What *s leaves open is bound in it. NULL: see e. */
static struct program *
program_of(const char *path, struct arena *a, struct setup *s, struct err *e)
{
    struct graph *g = onnx_load(a, path, e);
    if (!g)
        return NULL;
    *s = shapes_bind_open(g, s);
    s->unroll = true;
    struct program *p = shapes_run(g, s, false, e) ? lower_run(g, s) : NULL;
    return p && s->recompute && !recompute_modules(a, p, s->recompute, &e->message) ? NULL : p;
}

static struct program *
reload(const struct study *x, struct arena *a, struct setup *s)
{
    struct err e = {.file = x->path};
    return program_of(x->path, a, s, &e);
}

static volatile sig_atomic_t interrupted;

static void
interrupt(int number)
{
    interrupted = number;
}

/* Plays the step on the first CUDA device; NULL and a line on standard error when there is none that can. */
static const struct replay *
replay_on_gpu(const struct options *o, const struct program *p, const struct setup *s, struct arena *a)
{
    struct device_memory *d = NEW(a, struct device_memory);
    struct replay *r = NEW(a, struct replay);
    const char *why = NULL;
    *r = (struct replay){.a = a, .d = d, .limit = o->replay_limit, .stop = &interrupted};
    if (cuda_open(a, d, &why)) {
        signal(SIGINT, interrupt);
        signal(SIGTERM, interrupt);
        if (!replay_run(r, p, s))
            why = d->error(d->self);
        else if (r->crowded)
            why = arena_printf(a, "%s more would have to be free; --replay-limit plays against less",
                               bytes_text(a, r->missing));
        else if (r->stopped)
            why = "interrupted; everything was given back";
        d->name = arena_str(a, d->name);
        cuda_close(d);
        signal(SIGINT, SIG_DFL);
        signal(SIGTERM, SIG_DFL);
    }
    if (why)
        fprintf(stderr, "memlint: --replay: %s\n", emit_clean(a, why));
    return why ? NULL : r;
}

static int
analyse(struct options *o, const char *path, struct arena *a)
{
    struct err e = {.file = path};
    struct setup *s = &o->setup;
    for (int i = 0; i < s->nvalues; i++) {
        e.file = o->value_files[i];
        if (!(s->values[i].t = onnx_load_tensor(a, e.file, &e)))
            return refuse(a, &e);
    }
    e.file = path;
    struct graph *g = onnx_load(a, path, &e);
    if (!g)
        return refuse(a, &e);
    if (o->verbose)
        fprintf(stderr, "memlint: %s: %d nodes, opset %d\n", emit_clip(a, path, 300), g->nn, g->opset);
    if (o->dump == DUMP_GRAPH)
        return dump(o, g, NULL, NULL);
    struct setup own = o->dump == DUMP_SHAPES ? *s : shapes_bind_open(g, s);
    own.unroll = o->dump != DUMP_SHAPES;
    s = &own;
    if (!shapes_run(g, s, false, &e)) /* a dimension nobody bound is a doubt, not an error */
        return refuse(a, &e);
    if (o->dump == DUMP_SHAPES)
        return dump(o, g, NULL, NULL);
    struct program *p = lower_run(g, s);
    if (o->dump == DUMP_CALLS)
        return dump(o, g, p, NULL);
    if (s->recompute && !recompute_modules(a, p, s->recompute, &e.message)) {
        e.place = s->recompute;
        return refuse(a, &e);
    }
    struct step *st = step_run(p, s);
    if (o->dump == DUMP_STEP)
        return dump(o, g, p, st);
    struct result *r = result_build(g, p, st, s);
    struct study study = {.a = a, .path = path, .s = s, .p = p, .st = st, .reload = reload};
    rules_run(&study, r);
    fits_run(&study, r);
    if (o->recompute)
        recompute_plan(&study, r, o->recompute_budget);
    r->oom = o->oom_text ? oom_explain(&study, r, o->oom_text) : NULL;
    if (o->replay && !(r->replay = replay_on_gpu(o, p, s, a)))
        return EXIT_ENVIRONMENT;
    if ((r->gate = gate(o, r, a))) {
        r->verdict = VERDICT_GATE_FAILED;
        fprintf(stderr, "memlint: %s: %s\n", emit_clip(a, path, 300), emit_clean(a, r->gate));
    }
    int code = report(o, r, a);
    bool failed = r->verdict == VERDICT_GATE_FAILED || r->verdict == VERDICT_DOES_NOT_FIT;
    return code == EXIT_CLEAN && failed ? EXIT_GATE : code;
}

int
main(int argc, char **argv)
{
    setlocale(LC_CTYPE, "");
#ifdef M_TRIM_THRESHOLD
    mallopt(M_MMAP_THRESHOLD, 1 << 26); /* every edit of the step fills an arena and frees it: keep the pages */
    mallopt(M_TRIM_THRESHOLD, 1 << 28);
#endif
    signal(SIGPIPE, SIG_IGN); /* a closed pipe is a failed write: exit 4 */
    signal(SIGXFSZ, SIG_IGN); /* so is a file that may not grow */
    struct arena *a = arena_new();
    struct options o;
    const char *wrong = options_read(&o, a, argc, argv);
    int code = EXIT_CLEAN;
    if (wrong) {
        fprintf(stderr, "memlint: %s; see memlint --help\n", emit_clean(a, wrong));
        code = EXIT_USAGE;
    } else if (o.help) {
        options_help(stdout);
        code = finish_stdout();
    } else if (o.version) {
        printf("memlint %s\nLicence: Apache-2.0\n", PACKAGE_VERSION);
        code = finish_stdout();
    } else if (o.list) {
        o.list(stdout);
        code = finish_stdout();
    } else {
        bool counted = o.progress == WHEN_ALWAYS || (o.progress == WHEN_AUTO && isatty(STDERR_FILENO) && o.nmodels > 1);
        for (int i = 0; i < o.nmodels; i++) {
            struct arena *run = arena_new();
            if (counted)
                fprintf(stderr, "[%d/%d] %s\n", i + 1, o.nmodels, emit_clip(run, o.models[i], 300));
            int one = analyse(&o, o.models[i], run);
            code = one > code ? one : code;
            arena_free(run);
        }
    }
    arena_free(a);
    return code;
}
