/* SPDX-License-Identifier: Apache-2.0 */
/* main.c - the program: the pipeline as a column of calls, and the exit codes.
 *
 * Every model is analysed in an arena of its own. What goes wrong with one (exit 3) does not keep the next from being
 * analysed; the program exits with the gravest code of all. Gates are judged here, so that every report shows the same
 * verdict.
 */
#include "cli/cli.h"
#include "commit.h"
#include "config.h"
#include "onnx/onnx.h"

#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

struct run { /* of one model */
    struct options *o;
    struct arena *a;
    const char *path;
    struct tally *tally;
    struct arena *whole; /* of the program */
};

/* ---- progress: one line on a terminal's standard error, for work that takes long --------------------------------- */

static char stage[80];
static volatile sig_atomic_t late; /* the work takes long: the line is shown */

static void
progress_show(int number)
{
    late |= number == SIGALRM;
    if (late && stage[0])
        (void)!write(STDERR_FILENO, stage, strlen(stage));
}

static void
progress_tell(const char *what, int done, int of)
{
    snprintf(stage, sizeof(stage), of ? "\r\033[Kmemlint: %s, %d of %d" : "\r\033[Kmemlint: %s", what, done + 1, of);
    progress_show(0);
}

static void
progress_begin(const struct options *o)
{
    const char *term = getenv("TERM");
    struct sigaction sa = {.sa_handler = progress_show, .sa_flags = SA_RESTART};
    struct itimerval once = {.it_value.tv_usec = 500000};
    if (o->progress == WHEN_NEVER || !isatty(STDERR_FILENO) || (term && strcmp(term, "dumb") == 0))
        return;
    sigaction(SIGALRM, &sa, NULL);
    setitimer(ITIMER_REAL, &once, NULL);
}

/* Whoever writes to standard error or output calls this first. */
static void
progress_end(void)
{
    struct itimerval none = {0};
    setitimer(ITIMER_REAL, &none, NULL);
    if (late)
        (void)!write(STDERR_FILENO, "\r\033[K", 4);
    late = 0;
}

/* What is wrong with the command line or a flag file. */
static int
misused(struct arena *a, const char *wrong)
{
    bool asks = wrong[strlen(wrong) - 1] == '?';
    fprintf(stderr, "memlint: %s%s see memlint --help\n", string_clean(a, wrong), asks ? "" : ";");
    return EXIT_USAGE;
}

/* Tells about a model on one line, whatever its strings hold. */
static void
say(const struct run *x, const char *what)
{
    progress_end();
    fprintf(stderr, "memlint: %s: %s\n", string_clip(x->a, x->path, 300), string_clip(x->a, what, 1000));
}

static int
worse(int a, int b)
{
    return a > b ? a : b;
}

/* ---- output ------------------------------------------------------------------------------------------------------ */

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

/* One file for the results of many models, a line each. */
static bool
is_log(const struct options *o, int i)
{
    bool many = o->nmodels > 1 || o->files_from || o->resume;
    return many && strcmp(o->outputs[i].format->name, "jsonl") == 0 && !strchr(o->outputs[i].path, '%');
}

static int
write_file(const struct run *x, const struct result *r, const struct format *f, const char *path, bool append)
{
    const char *why = NULL;
    bool ok = (append ? report_append : report_write)(r, f, path, &why);
    if (!ok)
        fprintf(stderr, "memlint: %s: can't be written: %s\n", string_clip(x->a, path, 300), why);
    else if (x->o->verbose)
        fprintf(stderr, "memlint: wrote %s\n", string_clip(x->a, path, 300));
    return ok ? EXIT_CLEAN : EXIT_ENVIRONMENT;
}

/* "memlint: FILE: PLACE: message", and a line in the log of many models. */
static int
refuse(const struct run *x, const struct err *e)
{
    struct arena *a = x->a;
    int code = EXIT_MODEL;
    const char *message = e->message ? e->message : "can't be analysed";
    progress_end();
    fprintf(stderr, "memlint: %s: ", string_clip(a, e->file, 300));
    if (e->place)
        fprintf(stderr, "%s: ", string_clip(a, e->place, 200));
    fprintf(stderr, "%s", string_clip(a, message, 1000));
    if (e->remedy)
        fprintf(stderr, "; %s", string_clip(a, e->remedy, 400));
    fputc('\n', stderr);
    struct result r = {
        .model.file = x->path, .version = PACKAGE_VERSION, .verdict = (enum verdict) - 1, .refused = message};
    fleet_count(x->whole, x->tally, &r);
    for (int i = 0; i < x->o->noutputs; i++)
        if (is_log(x->o, i))
            code = worse(code, write_file(x, &r, x->o->outputs[i].format, x->o->outputs[i].path, true));
    return code;
}

static int
report(const struct run *x, const struct result *r)
{
    const struct options *o = x->o;
    int code = EXIT_CLEAN;
    progress_end();
    for (int i = 0; i < o->noutputs; i++) {
        const char *path = report_path(x->a, o->outputs[i].path, r->model.file);
        code = worse(code, write_file(x, r, o->outputs[i].format, path, is_log(o, i)));
    }
    const struct format *f = o->format ? o->format : o->quiet ? NULL : &formats[0];
    errno = 0;
    bool ok = !f || f->write(r, stdout, coloured(o), columns());
    if (finish_stdout() != EXIT_CLEAN || !ok)
        code = EXIT_ENVIRONMENT;
    return code;
}

/* ---- the pipeline ------------------------------------------------------------------------------------------------ */

/* The modules that the set-up names. */
static bool
find_modules(struct arena *a, struct program *p, struct setup *s, struct err *e)
{
    e->place = s->recompute;
    if (s->recompute && !recompute_modules(a, p, s->recompute, &e->message))
        return false;
    e->place = s->units;
    if ((s->parallel || s->units) && !unit_modules(a, p, s->units, &e->message))
        return false;
    e->place = "--parallel";
    const struct parallel *how = s->mode == MODE_TRAINING ? s->parallel : NULL;
    if (how && how->tensor && !tensor_cut(a, p, s, &e->message))
        return false;
    if (how && how->pipeline) {
        step_holds(p, s);
        if (!stage_worst(p, s, &e->message))
            return false;
    }
    e->place = NULL;
    if (s->base)
        packing_run(p, s);
    return true;
}

/* File to graph. What *s leaves open is bound in it. NULL: see e. */
static struct graph *
graph_of(const struct onnx_file *f, struct arena *a, struct setup *s, struct err *e)
{
    struct graph *g = onnx_graph(a, f, e);
    if (!g)
        return NULL;
    *s = shapes_bind_open(g, s);
    s->unroll = true;
    return shapes_run(g, s, false, e) ? g : NULL;
}

/* Graph to program, likewise. */
static struct program *
lowered(struct graph *g, struct arena *a, struct setup *s, struct err *e)
{
    lower_setup(g, a, s);
    struct program *p = lower_run(g, s);
    return find_modules(a, p, s, e) ? p : NULL;
}

static bool
same_dims(const struct setup *s, const struct setup *t)
{
    bool same = s->ndims == t->ndims;
    for (int i = 0; i < s->ndims && same; i++)
        same = s->dims[i].n == t->dims[i].n && strcmp(s->dims[i].name, t->dims[i].name) == 0;
    return same;
}

static bool
asks_mode(const struct program *p)
{
    return p->asked >> ALTERNATIVE_EVALUATION & 1;
}

/* Whether nothing but dropout tells a program from the study's. */
static bool
is_still(const struct study *x, const struct setup *s)
{
    const struct setup *own = x->st->setup;
    return setup_drops(own) && !setup_drops(s) && !own->parallel && !asks_mode(x->p) && same_dims(s, own) &&
           s->instead == own->instead && s->inplace == own->inplace; /* alternatives change no more of a program */
}

/* Where no dimension has another size, the study's graph is the file's. Without dropout a program is that of evaluation
 * unless its lowering asked for the mode. */
static struct program *
reload(const struct study *x, struct arena *a, struct setup *s)
{
    struct err e;
    bool still = is_still(x, s);
    struct program *p = still ? *x->still : NULL;
    if (p)
        return p;
    a = still ? x->a : a;
    const struct graph own = graph_apart(x->p->graph, a);
    struct graph *g = same_dims(s, x->st->setup) ? arena_dup(a, &own, sizeof(own)) : graph_of(x->file, a, s, &e);
    if (!g)
        return NULL;
    g->first = x->p;
    p = lowered(g, a, s, &e);
    if (still && p && !asks_mode(p)) {
        step_holds(p, s);
        *x->still = p;
    }
    return p;
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
    static const int stops[] = {SIGINT, SIGTERM, SIGHUP};
    void (*before[COUNT(stops)])(int);
    struct device_memory *d = NEW(a, struct device_memory);
    struct libraries *l = NEW(a, struct libraries);
    struct replay *r = NEW(a, struct replay);
    const char *why = NULL;
    *r = (struct replay){.a = a,
                         .d = d,
                         .libraries = l,
                         .limit = o->replay_limit,
                         .spare = o->replay_spare,
                         .repeats = o->replay,
                         .stop = &interrupted};
    for (int i = 0; i < COUNT(stops); i++)
        if ((before[i] = signal(stops[i], interrupt)) == SIG_IGN)
            signal(stops[i], SIG_IGN);
    if (cuda_open(a, d, &why)) {
        libraries_open(a, s->flags, l);
        if (!replay_run(r, p, s))
            why = arena_printf(a, "the CUDA driver says %s", r->failed);
        else if (r->crowded)
            why = arena_printf(a,
                               "%s more would have to be free; --replay-limit plays against less, --replay-spare "
                               "leaves less to others",
                               bytes_text(a, r->missing));
        else if (r->stopped)
            why = "interrupted; everything was given back";
        libraries_close(l);
        d->name = arena_str(a, d->name);
        cuda_close(d);
    }
    if (why)
        fprintf(stderr, "memlint: --replay: %s\n", string_clean(a, why));
    for (int i = 0; i < COUNT(stops); i++)
        signal(stops[i], before[i]);
    if (interrupted)
        raise(interrupted);
    return why ? NULL : r;
}

/* ---- the baseline ------------------------------------------------------------------------------------------------ */

/* Somebody sees or judges the findings: a gate on the peak alone need not wait for them. */
static bool
is_read(const struct options *o)
{
    return !o->quiet || o->format || o->noutputs || o->update_baseline || o->fail_on || o->oom_text || o->nsuppress;
}

/* The result of an older model under the same set-up, or the one that was stored; NULL: see e. */
static struct result *
older(const struct run *x, const char *path, struct err *e)
{
    struct arena *a = x->a;
    const struct options *o = x->o;
    const char *dot = strrchr(path, '.');
    if (dot && strcasecmp(dot, ".json") == 0)
        return stored_read(a, path, e);
    struct setup own = o->setup;
    e->file = path;
    own.dims = arena_dup(a, own.dims, sizeof(*own.dims) * (size_t)own.ndims);
    for (int i = 0; i < own.ndims; i++) /* an older model may lack a dimension */
        own.dims[i].place = "--baseline";
    const struct onnx_file *f = onnx_read(a, path, e);
    struct graph *g = f ? graph_of(f, a, &own, e) : NULL;
    struct program *p = g ? lowered(g, a, &own, e) : NULL;
    for (int i = 0; p && i < p->graph->nidle; i++)
        say(x, arena_printf(a, "%s: %s", path, p->graph->idle[i]));
    if (!p)
        return NULL;
    struct step *st = step_run(p, &own);
    struct program *still = NULL;
    recompute_check(st);
    struct study study = {
        .a = a, .file = f, .s = &own, .p = p, .st = st, .still = &still, .reload = reload, .tell = progress_tell};
    assume_doubt(&study);
    struct result *r = result_build(p->graph, p, st, &own, false);
    if (is_read(o))
        rules_run(&study, r);
    fits_free(&study);
    return r;
}

static bool
compare(const struct run *x, struct result *r, struct err *e)
{
    if (!x->o->baseline)
        return true;
    const char *path = report_path(x->a, x->o->baseline, r->model.file);
    if (x->o->update_baseline && access(path, F_OK) != 0)
        return true;
    struct result *old = older(x, path, e);
    if (!old)
        return false;
    r->baseline = compare_run(x->a, old, r);
    r->baseline->file = path;
    compare_findings(old, r);
    if (strcmp(r->version, old->version ? old->version : "") != 0)
        say(x, arena_printf(x->a, "the baseline %s was made by memlint %s, this is %s", path,
                            old->version ? old->version : "of unknown version", r->version));
    for (int i = 0; i < r->baseline->ndiffers; i++)
        say(x, arena_printf(x->a, "the baseline %s has another set-up: %s", path, r->baseline->differs[i]));
    return true;
}

/* Without what hangs on the baseline itself or on gates, so that the same model gives the same bytes. */
static int
update(const struct run *x, const struct result *r)
{
    struct result plain = *r;
    if (!x->o->update_baseline)
        return EXIT_CLEAN;
    plain.baseline = NULL;
    plain.gate = NULL;
    plain.nchecks = 0;
    plain.noptions = 0;
    plain.verdict = r->ndoubts ? VERDICT_INCONCLUSIVE : VERDICT_OK;
    return write_file(x, &plain, format_by_name("json"), report_path(x->a, x->o->baseline, r->model.file), false);
}

/* What stops the model, on one line, and what was let pass. */
static void
say_gates(const struct run *x, const struct result *r)
{
    if (r->gate)
        say(x, r->gate);
    const char *passed = emit_let_pass(x->a, r);
    if (passed)
        say(x, passed);
}

/* --expect-fail: a canary. */
static int
expected(const struct run *x, int code)
{
    if (!x->o->expect_fail || code > EXIT_GATE)
        return code;
    say(x, code == EXIT_GATE ? "the gate failed, as --expect-fail expects" : "the gate passed, and --expect-fail");
    return code == EXIT_GATE ? EXIT_CLEAN : EXIT_GATE;
}

/* ---- one model, and many ----------------------------------------------------------------------------------------- */

/* The text report names the nearest devices alone. */
static bool
only_text(const struct options *o)
{
    return o->noutputs == 0 && !o->update_baseline && (!o->format || o->format == &formats[0]);
}

/* Every --freeze and --train names parameters; one of a flag file may be for other models. What is frozen may have
 * buffers alone, as module.requires_grad_(False) takes those, too. */
static bool
names_parameters(const struct run *x, const char *option, const struct globs *of, bool buffers, const struct program *p,
                 struct err *e)
{
    const char **names = NEWN(x->a, const char *, p->nparams + 1);
    int n = 0, all;
    for (int i = 0; i < p->nparams; i++)
        if (p->params[i].kind == PARAM_TRAINED || p->params[i].kind == PARAM_FROZEN)
            names[n++] = p->params[i].name;
    all = n;
    for (int i = 0; i < p->nparams && buffers; i++)
        if (p->params[i].kind == PARAM_BUFFER)
            names[all++] = p->params[i].name;
    for (int i = 0; i < of->n; i++) {
        int k = 0;
        while (k < all && !glob_match(of->glob[i], names[k]))
            k++;
        if (k < all)
            continue;
        const char *near = words_near(x->a, of->glob[i], n, names);
        const char *place = arena_printf(x->a, "%s=%s", option, of->glob[i]);
        const char *why = near ? arena_printf(x->a, "no parameter matches; did you mean %s?", near)
                          : n  ? arena_printf(x->a, "no parameter matches; the first is %s", names[0])
                               : "the model has no parameters";
        if (i >= of->in_flags)
            return err_set(e, x->a, place, "%s", why);
        say(x, arena_printf(x->a, "%s: %s: %s", x->o->flags, place, why));
    }
    return true;
}

/* Every output that --loss names is one. */
static bool
names_outputs(const struct run *x, const struct program *p, struct err *e)
{
    const char *all = "", **names = NEWN(x->a, const char *, p->noutputs + 1);
    for (int i = 0; i < p->noutputs; i++) {
        names[i] = p->outputs[i].name;
        all = arena_printf(x->a, "%s%s%s", all, i ? ", " : "", names[i]);
    }
    for (int i = 0; i < x->o->setup.nterms; i++) {
        const struct term *term = &x->o->setup.terms[i];
        int k = 0;
        while (k < p->noutputs && strcmp(names[k], term->output) != 0)
            k++;
        if (k == p->noutputs)
            return err_set(e, x->a, term->place, "the model has no output %s; it has %s", term->output, all);
    }
    return true;
}

static int
analyse(const struct run *x)
{
    struct options *o = x->o;
    struct arena *a = x->a;
    const char *path = x->path;
    struct err e = {.file = path};
    struct setup *s = &o->setup;
    for (int i = 0; i < s->nvalues; i++) {
        e.file = o->value_files[i];
        if (!(s->values[i].t = onnx_load_tensor(a, e.file, &e)))
            return refuse(x, &e);
    }
    e.file = path;
    progress_begin(o);
    progress_tell("reading the model", 0, 0);
    const struct onnx_file *f = onnx_read(a, path, &e);
    struct graph *g = f ? onnx_graph(a, f, &e) : NULL;
    if (!g)
        return refuse(x, &e);
    if (o->verbose)
        say(x, arena_printf(a, "%d nodes, opset %d", g->nn, g->opset));
    if (o->dump != DUMP_NONE && o->dump != DUMP_STEP)
        progress_end();
    if (o->dump == DUMP_GRAPH) {
        onnx_print_text(g, stdout);
        return finish_stdout();
    }
    struct setup own = o->dump == DUMP_SHAPES ? *s : shapes_bind_open(g, s);
    own.unroll = o->dump != DUMP_SHAPES;
    lower_setup(g, a, &own);
    s = &own;
    if (!shapes_run(g, s, false, &e)) /* a dimension nobody bound is a doubt, not an error */
        return refuse(x, &e);
    if (o->dump == DUMP_SHAPES) {
        shapes_dump(g, stdout);
        return finish_stdout();
    }
    struct program *p = lower_run(g, s);
    for (int i = 0; i < g->nidle; i++)
        say(x, g->idle[i]);
    if (!names_parameters(x, "--freeze", &s->freeze, true, p, &e) ||
        !names_parameters(x, "--train", &s->train, false, p, &e) || !names_outputs(x, p, &e))
        return refuse(x, &e);
    if (o->dump == DUMP_CALLS) {
        program_dump(p, stdout);
        return finish_stdout();
    }
    if (o->dump == DUMP_FACTS) {
        fact_dump(p, stdout);
        return finish_stdout();
    }
    if (!find_modules(a, p, &own, &e))
        return refuse(x, &e);
    progress_tell("running the step", 0, 0);
    bool large = g->nt > MOST_VALUES || p->ncalls > MOST_EVENTS / 2; /* nothing will be played: study_is_large */
    struct tape tape = {.a = a, .own = a, .whole = true}, *taped = is_read(o) && !large ? &tape : NULL;
    own.tape = taped;
    struct step *st = step_run(p, s);
    own.tape = NULL;
    recompute_check(st);
    if (o->dump == DUMP_STEP) {
        progress_end();
        step_dump(st, stdout);
        return finish_stdout();
    }
    struct program *still = NULL;
    struct study study = {.a = a,
                          .file = f,
                          .s = s,
                          .p = p,
                          .st = st,
                          .tape = taped,
                          .still = &still,
                          .reload = reload,
                          .tell = progress_tell};
    if (study_is_large(&study)) /* nothing is run again in what the step took */
        arena_release();
    assume_doubt(&study);
    struct result *r = result_build(g, p, st, s, !is_read(o) && !o->baseline);
    if (is_read(o)) {
        rules_run(&study, r);
        assume_measure(&study, r);
    }
    if (is_read(o) && !r->ndoubts) { /* what is not known fits nothing */
        bool all = !only_text(o);
        if (all && !s->library) /* which would be asked about the convolutions of each size */
            grid_run(&study, r);
        fits_run(&study, r, all);
    }
    ranks_run(&study, r);
    e.place = s->units;
    if (o->scale && !scale_run(&study, r, &e.message))
        return refuse(x, &e);
    e.place = NULL;
    if (o->recompute)
        recompute_plan(&study, r, o->recompute_budget);
    r->oom = o->oom_text ? oom_explain(&study, r, o->oom_text) : NULL;
    fits_free(&study);
    if (!compare(x, r, &e))
        return refuse(x, &e);
    progress_end();
    arena_guard(NULL, 0); /* what follows holds more than memory */
    if (o->replay && !(r->replay = replay_on_gpu(o, p, s, a)))
        return EXIT_ENVIRONMENT;
    r->noptions = o->nsaid;
    r->options = o->said;
    if (o->sources)
        r->sources = sources_find(a, o->sources, &r->nsources);
    for (const char **note = gate_suppress(a, o, r); *note; note++)
        say(x, *note);
    gate_judge(a, o, r);
    say_gates(x, r);
    fleet_count(x->whole, x->tally, r);
    return worse(expected(x, worse(report(x, r), gate_code(r))), update(x, r));
}

static int
guarded(const struct run *x)
{
    jmp_buf over;
    if (setjmp(over)) {
        struct err e = {.file = x->path};
        arena_guard(NULL, 0);
        err_limit(&e, x->a, NULL, LIMIT_MEMORY, "the analysis takes too much memory");
        return refuse(x, &e);
    }
    arena_guard(&over, limit(LIMIT_MEMORY));
    int code = analyse(x);
    arena_guard(NULL, 0);
    return code;
}

/* With cuDNN at hand where it is to be asked. */
static int
planned(const struct run *x, struct setup *s)
{
    struct cudnn_library *library = NEW(x->a, struct cudnn_library);
    const char *why;
    if (s->cudnn != CUDNN_ASK || !s->device)
        return guarded(x);
    if (!planner_open(x->a, device_sm(s->device), s->flags, library, &why)) {
        fprintf(stderr,
                "memlint: --cudnn=ask: %s; LD_LIBRARY_PATH names its folder, and that of cuBLASLt, where the loader "
                "does not know them\n",
                string_clean(x->a, why));
        planner_close(library);
        return EXIT_ENVIRONMENT;
    }
    s->library = library;
    int code = guarded(x);
    if (library->ended)
        say(x, arena_printf(x->a, "--cudnn=ask: cuDNN was not asked to the end, the rest follows the rule: %s",
                            library->ended));
    planner_close(library);
    return code;
}

/* A model with its flag file. */
static int
one(const struct options *o, const char *path, struct tally *t, struct arena *whole)
{
    struct arena *a = arena_new();
    struct options own;
    struct run x = {&own, a, path, t, whole};
    const char *wrong = options_for(&own, a, o, path);
    for (int i = 0; i < own.nflags && own.verbose && !wrong; i++)
        fprintf(stderr, "memlint: %s:%d: %s\n", string_clip(a, own.flags, 300), own.flag[i].line,
                string_clip(a, own.flag[i].text, 300));
    int code = wrong ? misused(a, wrong) : planned(&x, &own.setup);
    arena_free_newer(whole);
    return code;
}

/* The result of an earlier run under the gates of this one; the file keeps what it says. */
static bool
judge_stored(struct arena *a, const struct options *o, struct result *r, const char **why)
{
    struct options own = *o;
    struct run x = {.o = &own, .a = a, .path = r->model.file};
    struct err e = {0};
    r->version = r->version ? r->version : "of unknown version";
    if (!compare(&x, r, &e)) {
        *why = arena_printf(a, "%s: %s", e.file, e.message);
        return false;
    }
    gate_suppress(a, o, r);
    gate_judge(a, o, r);
    say_gates(&x, r);
    return true;
}

/* The files of results: what they hold is done, or they begin anew. */
static bool
open_logs(const struct options *o, struct arena *a, struct tally *t)
{
    struct err e = {0};
    struct run x = {.a = a};
    for (int i = 0; i < o->noutputs; i++)
        if (is_log(o, i) && !o->resume)
            (void)!truncate(o->outputs[i].path, 0); /* there may be none; writing tells what is wrong */
        else if (is_log(o, i) && !t->done && !fleet_resume(a, o, o->outputs[i].path, judge_stored, t, &e)) {
            x.path = e.place ? arena_printf(a, "%s: %s", e.file, e.place) : e.file;
            say(&x, arena_printf(a, "%s; %s", e.message, e.remedy));
            return false;
        }
    return true;
}

/* A % stands for a name without its folder: two models of one name would write one file. */
static const char *
clash(const struct options *o, struct arena *a, char **models, int n)
{
    bool marked = o->baseline && o->update_baseline;
    struct names *seen = names_new(a);
    for (int i = 0; i < o->noutputs; i++)
        marked |= strchr(o->outputs[i].path, '%') != NULL;
    for (int i = 0; i < n && marked; i++) {
        const char *name = report_path(a, "%", models[i]);
        int other = names_find(seen, name);
        if (other >= 0 && strcmp(models[other], models[i]) != 0)
            return arena_printf(a, "%s and %s: %% stands for %s in both; run them apart", models[other], models[i],
                                name);
        names_put(seen, name, i);
    }
    return NULL;
}

struct inputs { /* files that are read, by device and inode */
    struct arena *a;
    struct names *seen;
    int n, cap;
    struct input_file {
        const char *path, *what;
        bool is_baseline;
    } * file;
};

/* The place of a file in the map, NULL when it is none that could be overwritten. */
static const char *
file_key(struct arena *a, const char *path)
{
    struct stat st;
    bool regular = path && stat(path, &st) == 0 && S_ISREG(st.st_mode);
    return regular ? arena_printf(a, "%llx:%llx", (unsigned long long)st.st_dev, (unsigned long long)st.st_ino) : NULL;
}

static void
read_from(struct inputs *in, const char *path, const char *what, bool is_baseline)
{
    const char *key = file_key(in->a, path);
    if (!key || (is_baseline && names_find(in->seen, key) >= 0))
        return;
    names_put(in->seen, key, in->n);
    *PUSH(in->a, in->file, in->n, in->cap) = (struct input_file){arena_str(in->a, path), what, is_baseline};
}

/* What is wrong with writing to path, NULL nothing; update: of the baseline, which may be an input. */
static const char *
write_to(const struct inputs *in, const char *path, bool update)
{
    const char *key = file_key(in->a, path);
    int at = key ? names_find(in->seen, key) : -1;
    const struct input_file *f = at >= 0 && in->file ? &in->file[at] : NULL;
    if (!f || (update && f->is_baseline))
        return NULL;
    return arena_printf(in->a, "%s %s: it would overwrite the %s %s; choose another name",
                        update ? "--update-baseline" : "-o", path, f->what, f->path);
}

/* No output may be an input of this run, whatever links lead to it. */
static const char *
overwrites(const struct options *o, struct arena *a, char **models, int n)
{
    struct inputs in = {.a = a, .seen = names_new(a)};
    struct arena *scratch = arena_new();
    const char *wrong = NULL;
    for (int pass = 0; pass < 2; pass++) /* all inputs are known before an output is looked at */
        for (int i = 0; i < n && !wrong; i++) {
            struct options own;
            if (options_for(&own, scratch, o, models[i]))
                continue; /* told when its turn comes */
            const char *baseline = own.baseline ? report_path(scratch, own.baseline, models[i]) : NULL;
            if (pass == 0) {
                read_from(&in, baseline, "baseline", true);
                read_from(&in, models[i], "model", false);
                read_from(&in, own.flags, "flag file", false);
                read_from(&in, own.oom_file, "message", false);
                read_from(&in, own.files_from, "list", false);
                for (int k = 0; k < own.setup.nvalues; k++)
                    read_from(&in, own.value_files[k], "input's value", false);
                continue;
            }
            wrong = own.update_baseline ? write_to(&in, baseline, true) : NULL;
            for (int k = 0; k < own.noutputs && !wrong; k++)
                wrong = write_to(&in, report_path(scratch, own.outputs[k].path, models[i]), false);
        }
    arena_free(scratch);
    return wrong;
}

static int
all(const struct options *o, struct arena *a)
{
    struct tally t = {0};
    const char *wrong = NULL;
    int n = 0;
    char **models = fleet_list(a, o, &n, &wrong);
    bool many = o->nmodels > 1 || o->files_from || o->resume;
    bool counted = o->progress == WHEN_ALWAYS || (o->progress == WHEN_AUTO && isatty(STDERR_FILENO) && many);
    wrong = wrong ? wrong : clash(o, a, models, n);
    wrong = wrong ? wrong : overwrites(o, a, models, n);
    if (wrong)
        fprintf(stderr, "memlint: %s\n", string_clean(a, wrong));
    if (wrong || !open_logs(o, a, &t))
        return wrong ? EXIT_USAGE : EXIT_MODEL;
    int code = o->expect_fail ? EXIT_CLEAN : t.code;
    for (int i = 0; i < n; i++) {
        if (t.done && names_find(t.done, models[i]) >= 0)
            continue;
        if (counted)
            fprintf(stderr, "[%d/%d] %s\n", i + 1, n, string_clip(a, models[i], 300));
        if (t.done)
            names_put(t.done, models[i], i);
        code = worse(code, one(o, models[i], &t, a));
    }
    if (many)
        fprintf(stderr, "memlint: %s\n", string_clean(a, fleet_summary(a, &t)));
    return code;
}

static int
version(void)
{
    int cuda = cuda_headers();
    printf("memlint %s%s%s%s\n", PACKAGE_VERSION, *COMMIT ? " (commit " : "", COMMIT, *COMMIT ? ")" : "");
    if (cuda)
        printf("Replay: built with the headers of CUDA %d.%d\n", cuda / 1000, cuda % 1000 / 10);
    else
        printf("Replay: not there, built without the headers of CUDA\n");
    printf("Libraries: libxml2 %s, protobuf-c %s\n", reports_library(), onnx_library());
    printf("Licence: Apache-2.0\n");
    return finish_stdout();
}

int
main(int argc, char **argv)
{
    setlocale(LC_CTYPE, "");
#ifdef M_TRIM_THRESHOLD
    mallopt(M_MMAP_THRESHOLD, 1 << 26); /* every edit of the step fills an arena and frees it: keep the pages */
    mallopt(M_TRIM_THRESHOLD, 1 << 28);
#endif
    for (int fd = 0; fd < 3; fd++) /* a closed one would be the next file that is opened */
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDONLY) < 0)
            return EXIT_ENVIRONMENT;
    emit_guard();
    signal(SIGPIPE, SIG_IGN); /* a closed pipe is a failed write: exit 4 */
    signal(SIGXFSZ, SIG_IGN); /* so is a file that may not grow */
    struct arena *a = arena_new();
    struct options o;
    const char *wrong = options_read(&o, a, argc, argv);
    int code = EXIT_CLEAN;
    if (wrong) {
        code = misused(a, wrong);
    } else if (o.help) {
        options_help(stdout);
        code = finish_stdout();
    } else if (o.version) {
        code = version();
    } else if (o.list) {
        o.list(stdout);
        code = finish_stdout();
    } else {
        code = all(&o, a);
    }
    arena_free(a);
    return code;
}
