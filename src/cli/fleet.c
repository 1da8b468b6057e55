/* SPDX-License-Identifier: Apache-2.0 */
/* fleet.c - many models: which are ours, which are done, and what came of all of them.
 *
 * memlint is one leaf of a larger run and starts nothing itself. A part of the models is chosen by a hash of the name,
 * so that parts stay the same when the list grows. What is done stands in the jsonl file itself, a line a model; a run
 * that was killed leaves whole lines and at most one torn one, which is cut off. Models that were refused have a line,
 * too. Earlier lines count in the summary: what a gate stopped stays stopped, the others are judged anew by the gates
 * of this run, so that a resumed run is no greener than a whole one.
 */
#include "cli/cli.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool
fleet_mine(const char *model, int shard, int shards)
{
    uint64_t h = UINT64_C(0xcbf29ce484222325); /* FNV-1a */
    for (const char *p = model; *p; p++)
        h = (h ^ (unsigned char)*p) * UINT64_C(0x100000001b3);
    h ^= h >> 32;
    return shards == 0 || h % (uint64_t)shards == (uint64_t)shard - 1;
}

/* The lines of a list that are not blank, without a carriage return at their end. */
static char **
list_read(struct arena *a, const char *path, int *n, const char **wrong)
{
    struct err e = {0};
    char **list = NULL, *next = stored_text(a, strcmp(path, "-") ? path : "/dev/stdin", LIMIT_LIST, &e);
    int nlist = 0, cap = 0, number = 0;
    if (!next)
        *wrong =
            arena_printf(a, "--files-from=%s: %s%s%s", path, e.message, e.remedy ? "; " : "", e.remedy ? e.remedy : "");
    while (next && !*wrong) {
        char *line = strsep(&next, "\n"), *end = line + strlen(line);
        number++;
        if (end > line && end[-1] == '\r')
            *--end = '\0';
        for (const char *p = line; *p && !*wrong; p++)
            if (((unsigned char)*p < 0x20 && *p != '\t') || *p == 0x7f)
                *wrong = arena_printf(a,
                                      "--files-from=%s: line %d is no name: it holds a control character; a list "
                                      "has a model's name on each line",
                                      path, number);
        if (line[strspn(line, " \t")])
            *PUSH(a, list, nlist, cap) = line;
    }
    if (!*wrong && !list)
        *wrong = arena_printf(a, "--files-from=%s: it names no model", path);
    *n = nlist;
    return *wrong ? NULL : list;
}

char **
fleet_list(struct arena *a, const struct options *o, int *n, const char **wrong)
{
    char **models = o->models, **mine = NULL;
    int all = o->nmodels, cap = 0;
    *n = 0;
    if (o->files_from && !(models = list_read(a, o->files_from, &all, wrong)))
        return NULL;
    for (int i = 0; i < all; i++)
        if (fleet_mine(models[i], o->shard, o->shards))
            *PUSH(a, mine, *n, cap) = models[i];
    return mine;
}

void
fleet_count(struct arena *a, struct tally *t, const struct result *r)
{
    t->models++;
    if ((int)r->verdict < 0) {
        t->refused++;
        t->code = EXIT_MODEL > t->code ? EXIT_MODEL : t->code;
        return;
    }
    int code = gate_code(r);
    t->by_verdict[r->verdict]++;
    t->code = code > t->code ? code : t->code;
    if (r->peak.allocated > t->highest) {
        t->highest = r->peak.allocated;
        t->highest_model = arena_str(a, r->model.file);
    }
}

/* Which part of the set-up differs; NULL none. */
static const char *
other_setup(struct arena *a, const struct setup *s, const struct result *r)
{
    int n;
    const struct choice *is = choices_of(a, s, &n), *was = r->setup.choices;
    for (int i = 0; i < n && i < r->setup.nchoices; i++) {
        const char *old = was[i].value ? was[i].value : "none", *now = is[i].value ? is[i].value : "none";
        if (strcmp(old, now) != 0)
            return arena_printf(a, "%s %s, now %s", is[i].name, old, now);
    }
    for (int i = 0; i < s->ndims; i++)
        for (int k = 0; k < r->setup.ndims; k++)
            if (strcmp(s->dims[i].name, r->setup.dims[k].name) == 0 && s->dims[i].n != r->setup.dims[k].n)
                return arena_printf(a, "%s %lld, now %lld", s->dims[i].name, (long long)r->setup.dims[k].n,
                                    (long long)s->dims[i].n);
    return NULL;
}

bool
fleet_resume(struct arena *a, const struct options *o, const char *path, fleet_judge *judge, struct tally *t,
             struct err *e)
{
    t->done = names_new(a);
    e->file = path;
    if (access(path, F_OK) != 0)
        return true;
    FILE *f = fopen(path, "r");
    char *line = NULL;
    size_t room = 0;
    off_t whole = 0;
    bool ok = f || err_set(e, a, NULL, "can't be read: %s", strerror(errno));
    ssize_t n = 0;
    for (int number = 1; ok && (n = getline(&line, &room, f)) > 0 && line && line[n - 1] == '\n'; number++) {
        struct arena *one = arena_new();
        struct err fault = {0};
        struct options own;
        struct result *r = stored_parse(one, path, line, &fault);
        if (!r) {
            ok = err_set(e, a, arena_printf(a, "line %d", number), "%s", fault.message ? fault.message : "no result");
            arena_free(one);
            break;
        }
        const char *why = options_for(&own, one, o, r->model.file);
        const char *other = !why && (int)r->verdict >= 0 ? other_setup(one, &own.setup, r) : NULL;
        if (other)
            why = arena_printf(one, "it holds results of another set-up: %s", other);
        bool open = !why && (int)r->verdict >= 0 && gate_code(r) == EXIT_CLEAN; /* what was stopped stays so */
        if (why || (open && !judge(one, &own, r, &why)))
            ok = err_set(e, a, arena_printf(a, "line %d", number), "%s", why);
        if (ok && names_find(t->done, r->model.file) < 0) {
            names_put(t->done, arena_str(a, r->model.file), number);
            fleet_count(a, t, r);
            t->skipped++;
        }
        whole += n;
        arena_free(one);
    }
    if (ok && n > 0 && truncate(path, whole) != 0)
        ok = err_set(e, a, NULL, "its torn last line can't be cut off: %s", strerror(errno));
    if (!ok)
        e->remedy = "resume with another -o FILE.jsonl, or without --resume";
    free(line);
    if (f)
        fclose(f);
    return ok;
}

const char *
fleet_summary(struct arena *a, const struct tally *t)
{
    const char *s = arena_printf(a, "%d models", t->models);
    for (int i = 0; i < COUNT(t->by_verdict); i++)
        if (t->by_verdict[i])
            s = arena_printf(a, "%s, %d %s", s, t->by_verdict[i], verdict_names[i]);
    if (t->refused)
        s = arena_printf(a, "%s, %d refused", s, t->refused);
    if (t->skipped)
        s = arena_printf(a, "%s; %d of them were done before", s, t->skipped);
    if (t->highest_model)
        s = arena_printf(a, "%s; highest peak %s (%s)", s, bytes_text(a, t->highest), t->highest_model);
    return s;
}
