/* SPDX-License-Identifier: Apache-2.0 */
/* unread.c - what a model computes and nobody reads: the exporter leaves it out, and PyTorch runs it.
 *
 * A line that runs in several modules of a class, or several times, makes the same calls each time. Where one time it
 * made some of them and not the others, these were made for nobody: "return a @ w, b @ w" of which one result is read.
 * That is asked of products alone, since what is done element by element may have been merged or left out.
 */
#include "lower/dynamo.h"
#include "torch/torch.h"

#include <ctype.h>
#include <string.h>

enum { MOST = 8 }; /* operators that a line writes */

/* A line of a class; whole: the fullest of its runs that made each operator as often as the line writes it, or a
 * multiple of that. */
struct written {
    const char *text;
    const struct run *whole;
};

/* A run of it, or several with the same frames: how often each operator ran that the line writes. */
struct run {
    struct written *of;
    const struct call *first;
    int n, calls[MOST];
    const char *target[MOST];
};

/* Whether each part of it runs when it runs, once. */
static bool
is_plain(const char *text)
{
    static const char *const others[] = {" if ", " for ", " and ", " or ", "lambda"};
    bool plain = true;
    for (int i = 0; i < COUNT(others); i++)
        plain &= !strstr(text, others[i]);
    return plain;
}

static void
note(struct run *run, const char *target)
{
    int k = 0;
    while (k < run->n && strcmp(run->target[k], target) != 0)
        k++;
    if (k == MOST)
        return;
    run->target[k] = target;
    run->calls[k]++;
    run->n += k == run->n;
}

static bool
is_whole(const struct run *run)
{
    bool whole = true;
    for (int k = 0; k < run->n && whole; k++)
        whole = run->calls[k] % python_times(run->of->text, run->target[k]) == 0;
    return whole;
}

/* An operator of which this run has not as many as the line writes, or none beside others, and a whole one has; NULL
 * none. */
static const char *
missing(const struct run *run)
{
    const struct run *whole = run->of->whole;
    for (int k = 0; k < whole->n; k++) {
        int ran = 0;
        for (int i = 0; i < run->n; i++)
            ran += strcmp(run->target[i], whole->target[k]) == 0 ? run->calls[i] : 0;
        if (!ran || ran % python_times(run->of->text, whole->target[k]) != 0)
            return whole->target[k];
    }
    return NULL;
}

static const char *
without_end(struct arena *a, const char *text)
{
    size_t n = strlen(text);
    while (n && isspace((unsigned char)text[n - 1]))
        n--;
    return arena_strn(a, text, n);
}

void
unread_doubt(struct lowering *l)
{
    const struct program *p = l->p;
    struct arena *a = arena_new();
    struct names *lines = names_new(a), *runs = names_new(a);
    struct written *line = NEWN(a, struct written, p->ncalls + 1);
    struct run *run = NEWN(a, struct run, p->ncalls + 1);
    int nlines = 0, nruns = 0;
    for (int i = 0; i < p->ncalls; i++) {
        const struct call *c = &p->calls[i];
        if (!c->stack || !c->op || c->op->cast != CAST_LOWER || python_is_traced(c->stack))
            continue;
        const bool layer = python_in_torch(c->stack); /* its line is its caller's */
        const char *stack = layer ? without_end(a, fx_outer(a, c->stack)) : c->stack, *inner = python_inner(stack),
                   *text = fx_line(a, stack);
        const struct module *m = &p->modules[c->scope];
        while (layer && m->parent >= 0 && (!m->type || starts_with(m->type, "torch.")))
            m = &p->modules[m->parent];
        if (!inner || !m->type || !is_plain(text) || !python_complete(text) ||
            !(layer || python_writes(text, c->target)))
            continue;
        const char *key = arena_printf(a, "%s %s", m->type, inner);
        int at = names_find(lines, key), in;
        if (at < 0) {
            names_put(lines, key, at = nlines++);
            line[at].text = text;
        }
        key = arena_printf(a, "%d %s", (int)(m - p->modules), stack);
        if ((in = names_find(runs, key)) < 0) {
            names_put(runs, key, in = nruns++);
            run[in] = (struct run){.of = &line[at], .first = c};
        }
        if (!layer)
            note(&run[in], c->target);
    }
    for (int i = 0; i < nruns; i++)
        if (is_whole(&run[i]) && (!run[i].of->whole || run[i].n > run[i].of->whole->n))
            run[i].of->whole = &run[i];
    for (int i = 0; i < nruns; i++) {
        const char *target = run[i].of->whole ? missing(&run[i]) : NULL;
        if (target)
            graph_doubt(l->g, run[i].first->node, spelled_bare(target), "memlint.export",
                        "its line makes %s elsewhere: what nobody reads is not in the file, and not counted",
                        spelled_bare(target));
    }
    arena_free(a);
}
