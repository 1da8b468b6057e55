/* SPDX-License-Identifier: Apache-2.0 */
/* mutants.c - breaks every framework operator's row once in each way that could matter, and counts who notices.
 *
 * Arguments are folders of what tests/steps.sh replays: NAME.onnx, NAME.PRECISION.step and its other kinds. A mutant is
 * a row whose forward takes a block more, that has no derivative or lacks the gradient of one argument, whose gradient
 * does not keep one of the tensors that it reads, or that autocast lets be. It is noticed when the step of a case that
 * runs the row has other events, of those that its kind of step compares. Each mutant runs in a child: one that crashes
 * is noticed. What changes no event is not broken: takes, whole_batch, inner, assumes, source. A library's fact is
 * broken, too: it holds nowhere. It is noticed also by what is allocated before the step, where the step's file has
 * that, and by doubts and by assumptions that an option changes, of cases in a folder with the file "said", which
 * tests/facts.sh compares.
 *
 * Prints a line for each mutant that no step notices: row, a colon, how it is broken, a tab, the broken row as
 * --list=aten prints it, or one like it for a fact. At the end how many mutants, rows and steps there are.
 */
#include "tests/all.h"

#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_ROWS = 4096 };

struct recorded {
    struct program *p;
    struct setup s;
    const struct onnx_file *file;
    enum { OF_ALL, OF_DROPS, OF_CASTS } compared; /* events */
    bool before, said;     /* what is allocated before, and what the result says, is compared, too */
    uint64_t events, says; /* of the rows as they are */
    bool *runs;            /* per row */
    const bool *facts;     /* per fact; NULL none */
};

struct cases {
    struct arena *a;
    int n, cap;
    struct recorded *of;
};

typedef void runner(struct machine *m, struct frame *f);
static runner *run_of[MOST_ROWS];
static bool ran[MOST_ROWS];
static unsigned tensor[MOST_ROWS]; /* which of its arguments were one, somewhere */
static struct aten *rows;          /* aten_table, writable */
static struct fact *facts;         /* fact_table, likewise */

/* ---- cases ------------------------------------------------------------------------------------------------------- */

static void
fail(const char *what, const char *of)
{
    fprintf(stderr, "mutants: %s: %s\n", of, what ? what : "can't be read");
    exit(2);
}

static uint64_t
mixed(uint64_t h, uint64_t with)
{
    return (h ^ with) * UINT64_C(0x9e3779b97f4a7c15) + (h >> 29);
}

static uint64_t
hash_text(uint64_t h, const char *s)
{
    for (; s && *s; s++)
        h = mixed(h, (unsigned char)*s);
    return h;
}

/* As tests/steps.sh selects. */
static bool
is_compared(const struct recorded *c, const struct event *e, const struct storage *s)
{
    return c->compared == OF_ALL || (e->birth && (c->compared == OF_DROPS ? strstr(s->op, "native_dropout") != NULL
                                                                          : strstr(s->op, "_to_copy") && s->rank > 0));
}

struct hashing {
    const struct recorded *c;
    uint64_t h;
};

/* Hashes the events in their order, deaths between two births in any. */
static void
hash_events(const struct step *st, void *to)
{
    struct hashing *out = to;
    uint64_t h = 1, deaths = 0;
    for (int i = 0; i < st->m->nev; i++) {
        const struct event *e = &st->m->ev[i];
        const struct storage *s = st->m->st[e->storage];
        if (!is_compared(out->c, e, s))
            continue;
        uint64_t one =
            mixed(mixed(mixed((uint64_t)e->phase + 1, (uint64_t)s->requested), s->dtype), (uint64_t)s->phase);
        for (const char *c = s->op; *c; c++)
            one = mixed(one, (unsigned char)*c);
        if (!e->birth) {
            deaths += one;
            continue;
        }
        h = mixed(mixed(h, deaths), one);
        deaths = 0;
    }
    out->h = mixed(mixed(h, deaths), out->c->before ? (uint64_t)st->before_bytes : 0);
}

static uint64_t
step_of(const struct recorded *c)
{
    struct hashing to = {c, 0};
    measure_step(c->p, &c->s, hash_events, &to);
    return to.h;
}

static void
spied(struct machine *m, struct frame *f)
{
    ran[f->op - aten_table] = true;
    for (int i = 0; i < f->n && i < 8; i++)
        tensor[f->op - aten_table] |= (f->a[i].kind == ARG_VALUE) << i;
    run_of[f->op - aten_table](m, f);
}

static struct program *
program_of(struct arena *a, const struct onnx_file *f, struct setup *s)
{
    struct err e;
    struct graph *g = onnx_graph(a, f, &e);
    if (!g)
        fail(e.message, e.file);
    *s = shapes_bind_open(g, s);
    s->unroll = true;
    struct program *p = shapes_run(g, s, false, &e) ? lower_run(g, s) : NULL;
    const char *why = NULL;
    bool cuts = p && s->parallel && s->parallel->tensor;
    if (!p || (cuts && (!unit_modules(a, p, s->units, &why) || !tensor_cut(a, p, s, &why))))
        fail(why ? why : e.message, e.file);
    if (s->base)
        packing_run(p, s);
    return p;
}

static struct program *
reload(const struct study *x, struct arena *a, struct setup *s)
{
    return program_of(a, x->file, s);
}

/* Its doubts, and its assumptions with what their options are worth. */
static uint64_t
said_of(const struct recorded *c)
{
    struct arena *a = arena_new();
    struct setup s = c->s;
    struct program *p = program_of(a, c->file, &s);
    struct step *st = step_run(p, &s);
    struct study x = {.a = a, .file = c->file, .s = &s, .p = p, .st = st, .reload = reload};
    uint64_t h = 1;
    assume_doubt(&x);
    struct result *r = result_build(p->graph, p, st, &s, true);
    assume_measure(&x, r);
    for (int i = 0; i < r->ndoubts; i++)
        h = hash_text(h, r->doubts[i].why);
    for (int i = 0; i < r->setup.nassumptions; i++)
        if (r->setup.assumptions[i].option)
            h = mixed(hash_text(h, r->setup.assumptions[i].option), (uint64_t)r->setup.assumptions[i].effect_bytes);
    arena_free(a);
    return h;
}

static void
read_case(struct cases *all, const char *folder, const char *step)
{
    struct arena *a = all->a;
    char line[1024];
    FILE *f = fopen(arena_printf(a, "%s/%s", folder, step), "r");
    if (!f || !fgets(line, sizeof(line), f))
        fail(NULL, step);
    char *stem = arena_printf(a, "%s/%s", folder, step);
    *strrchr(stem, '.') = 0;
    *strrchr(stem, '.') = 0;
    int argc = 4;
    char **argv = NEWN(a, char *, 64), *save = NULL;
    char *model = arena_printf(a, "%s.onnx", stem);
    if (access(model, R_OK) != 0)
        model = arena_printf(a, "%s.txt", stem);
    argv[0] = arena_printf(a, "memlint");
    argv[1] = model;
    argv[2] = arena_printf(a, "--assume");
    argv[3] = arena_printf(a, "accumulate=never");
    for (char *w = strtok_r(line, " \n", &save); w && argc < 63; w = strtok_r(NULL, " \n", &save))
        argv[argc++] = arena_printf(a, "%s", w);
    struct options *o = NEW(a, struct options), *own = NEW(a, struct options);
    const char *wrong = options_read(o, a, argc, argv);
    wrong = wrong ? wrong : options_for(own, a, o, model);
    if (wrong)
        fail(wrong, step);
    const char *kind = strrchr(step, '.'), *second = fgets(line, sizeof(line), f);
    fclose(f);
    struct err e;
    const struct onnx_file *file = onnx_read(a, model, &e);
    if (!file)
        fail(e.message, e.file);
    struct recorded c = {.file = file, .s = own->setup, .before = second && *second == '='};
    c.compared = strcmp(kind, ".drops") == 0 ? OF_DROPS : strcmp(kind, ".casts") == 0 ? OF_CASTS : OF_ALL;
    c.said = access(arena_printf(a, "%s/said", folder), R_OK) == 0;
    c.p = program_of(a, file, &c.s);
    c.facts = c.p->facts;
    c.says = c.said ? said_of(&c) : 0;
    memset(ran, 0, sizeof(ran));
    c.events = step_of(&c);
    c.runs = NEWN(a, bool, aten_count);
    memcpy(c.runs, ran, sizeof(bool) * (size_t)aten_count);
    *PUSH(a, all->of, all->n, all->cap) = c;
}

static void
read_folder(struct cases *all, const char *folder)
{
    DIR *d = opendir(folder);
    if (!d)
        fail(NULL, folder);
    for (struct dirent *e; (e = readdir(d));) {
        const char *dot = strrchr(e->d_name, '.');
        if (dot && strcmp(dot, ".onnx") != 0 && strcmp(dot, ".txt") != 0 && *e->d_name != '.')
            read_case(all, folder, e->d_name);
    }
    closedir(d);
}

/* ---- mutants ----------------------------------------------------------------------------------------------------- */

static int mutants;

/* Whether somebody notices that row r is changed to `to`, or with r < 0 that fact f holds nowhere. */
static bool
noticed(const struct cases *all, int r, const struct aten *to, int f)
{
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
        alarm(60);
        if (!freopen("/dev/null", "w", stderr))
            _exit(2);
        if (r >= 0)
            rows[r] = *to;
        else
            facts[f].type = "no class";
        for (int i = 0; i < all->n; i++) {
            struct recorded *c = &all->of[i];
            if (r < 0 ? !c->facts || !c->facts[f] : !c->runs[r])
                continue;
            if (r < 0)
                c->p = program_of(all->a, c->file, &c->s);
            if (step_of(c) != c->events || (r < 0 && c->said && said_of(c) != c->says))
                _exit(1);
        }
        _exit(0);
    }
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) < 0)
        fail("fork", r < 0 ? facts[f].source : rows[r].name);
    return status != 0;
}

static void
judge(const struct cases *all, int r, const struct aten *to, const char *how)
{
    mutants++;
    if (noticed(all, r, to, -1))
        return;
    printf("%s: %s\t", rows[r].name, how);
    aten_print(to, stdout);
}

static void
takes_more(struct machine *m, struct frame *f)
{
    value_new(m, DT_FLOAT, 0, NULL, NULL);
    run_of[f->op - aten_table](m, f);
}

static bool
is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '.';
}

/* The formula with # before every mention of a name: its tensor is not kept. */
static const char *
unkept(struct arena *a, const char *grad, const char *name, size_t n)
{
    const char *out = "";
    for (const char *p = grad; *p; p++) {
        bool it = strncmp(p, name, n) == 0 && !is_word(p[n]) && p[n] != '(' && p[n] != '~' && p[n] != ':' && p > grad &&
                  !is_word(p[-1]) && p[-1] != '#';
        out = arena_printf(a, "%s%s%c", out, it ? "#" : "", *p);
    }
    return out;
}

/* Every way to break a formula: a clause less, a tensor that is read and not kept. */
static void
break_formula(struct arena *a, const struct cases *all, int r)
{
    const char *grad = rows[r].grad, *end;
    struct aten to = rows[r];
    to.grad = NULL;
    judge(all, r, &to, "no derivative");
    for (const char *p = grad; strchr(grad, ';') && p; p = end ? end + 1 + strspn(end + 1, " ") : NULL) {
        end = strchr(p, ';');
        to.grad = end ? arena_printf(a, "%.*s%s", (int)(p - grad), grad, end + 1 + strspn(end + 1, " "))
                      : arena_printf(a, "%.*s", (int)(p - grad - 2), grad);
        judge(all, r, &to, arena_printf(a, "no gradient of %.*s", (int)strcspn(p, ":"), p));
    }
    for (int at = -8; at < 8; at++) { /* arguments, then results */
        const char *name = at < 0 ? arena_printf(a, at == -8 ? "result" : "result%d", at + 8) : NULL;
        for (const char *p = rows[r].args; !name && tensor[r] >> at & 1 && p;
             p = strchr(p, ' ') ? strchr(p, ' ') + 1 : NULL)
            if (aten_arg(&rows[r], arena_strn(a, p, strcspn(p, " "))) == at)
                name = arena_strn(a, p, strcspn(p, " "));
        to.grad = name ? unkept(a, grad, name, strlen(name)) : grad;
        if (strcmp(to.grad, grad) != 0)
            judge(all, r, &to, arena_printf(a, "%s is not kept", name));
    }
}

static void
break_row(struct arena *a, const struct cases *all, int r)
{
    struct aten to = rows[r];
    to.run = takes_more;
    judge(all, r, &to, "its forward takes a block more");
    if (rows[r].grad && *rows[r].grad)
        break_formula(a, all, r);
    if (rows[r].cast) {
        to = rows[r];
        to.cast = CAST_NONE;
        judge(all, r, &to, "autocast lets it be");
    }
}

/* "fact: library, what it says and where": as the others, a name with spaces for tabs. */
static void
break_fact(const struct cases *all, int f)
{
    const struct fact *k = &facts[f];
    const char *const says[] = {k->library, k->source, k->arg, k->type, k->around, k->path, k->op, k->beside};
    mutants++;
    if (noticed(all, -1, NULL, f))
        return;
    printf("fact");
    for (int i = 0; i < COUNT(says); i++)
        printf(" %s", says[i] ? says[i] : "-");
    printf(": it holds nowhere\tfact\t\tcomposite\t-\n");
}

static void *
writable(const void *table, size_t n, const char *name)
{
    long page = sysconf(_SC_PAGESIZE);
    uintptr_t from = (uintptr_t)table & ~((uintptr_t)page - 1);
    if (mprotect((void *)from, (uintptr_t)table + n - from, PROT_READ | PROT_WRITE) != 0)
        fail("its memory can't be written to", name);
    return (void *)(uintptr_t)table;
}

int
main(int argc, char **argv)
{
    if (aten_count > MOST_ROWS)
        fail("it is too long", "aten_table");
    rows = writable(aten_table, sizeof(*rows) * (size_t)aten_count, "aten_table");
    facts = writable(fact_table, sizeof(*facts) * (size_t)fact_count, "fact_table");
    struct cases all = {.a = arena_new()};
    for (int i = 0; i < aten_count; i++) {
        run_of[i] = rows[i].run;
        rows[i].run = spied;
    }
    for (int i = 1; i < argc; i++)
        read_folder(&all, argv[i]);
    for (int i = 0; i < aten_count; i++)
        rows[i].run = run_of[i];
    for (int r = 0; r < aten_count; r++)
        break_row(all.a, &all, r);
    for (int f = 0; f < fact_count; f++)
        break_fact(&all, f);
    printf("%d mutants of %d rows and %d facts, %d steps\n", mutants, aten_count, fact_count, all.n);
    arena_free(all.a);
    return 0;
}
