/* SPDX-License-Identifier: Apache-2.0 */
/* constants.c - what the exporter says that it folded a constant from: the names of all values on the way to it, in no
 * order, parameters and buffers among them. Source: _record_contributing_values in
 * onnxscript/optimizer/_constant_folding.py.
 */
#include "lower/dynamo.h"
#include "torch/torch.h"

#include <string.h>

/* The next name of a list, "['a', 'b']"; NULL no more. */
static const char *
next_source(struct arena *a, const char **list)
{
    const char *p = *list ? strpbrk(*list, "'\"") : NULL;
    const char *end = p ? strchr(p + 1, *p) : NULL;
    *list = end ? end + 1 : NULL;
    return end ? arena_strn(a, p + 1, (size_t)(end - p - 1)) : NULL;
}

/* The next parameter of a list; NULL no more. */
struct param *
constant_next(const struct dynamo *d, const char **list)
{
    for (const char *name; (name = next_source(d->l->a, list));) {
        const int at = names_find(d->l->params, name);
        if (at >= 0)
            return &d->l->p->params[at];
    }
    return NULL;
}

void
constant_ask(struct dynamo *d, const struct tensor *t)
{
    const char *list = t->folded_from;
    d->asked++;
    for (const struct param *q; (q = constant_next(d, &list));)
        d->source[q - d->l->p->params] = d->asked;
}

const struct tensor *
constant_into(struct dynamo *d, const struct param *q)
{
    const struct graph *g = d->l->g;
    if (!d->into) {
        d->into = NEWN(d->l->a, const struct tensor *, d->l->p->nparams + 1);
        for (int i = 0; i < g->nt; i++) {
            const char *list = g->t[i].folded_from;
            for (const struct param *of; (of = constant_next(d, &list));)
                if (!d->into[of - d->l->p->params])
                    d->into[of - d->l->p->params] = &g->t[i];
        }
    }
    return d->into[q - d->l->p->params];
}

/* Whether what has that name has as many elements as what it was computed of. */
static bool
keeps_size(struct dynamo *d, const char *name)
{
    const char *stem = spelled_stem(d->l->a, name);
    const struct aten *op = aten_find(stem);
    return starts_with(name, "val_") || target_is(stem, TARGET_KEEPS) || spelled(stem, PROMOTES | CONVERTS) ||
           (op && aten_elementwise(op));
}

bool
constant_by_element(struct dynamo *d, const struct tensor *t)
{
    const struct aten *op = aten_find(spelled_stem(d->l->a, t->name));
    const bool written = op && op->writes == WRITES_PART; /* "b = b.clone(); b[:n] = 0" */
    bool same = written || keeps_size(d, t->name), copied = false;
    const char *list = t->folded_from;
    for (const char *name; same && (name = next_source(d->l->a, &list));) {
        copied |= spelled(name, COPIES);
        same = written || names_find(d->l->params, name) >= 0 || keeps_size(d, name);
    }
    return same && (!written || copied);
}
