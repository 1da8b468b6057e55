/* SPDX-License-Identifier: Apache-2.0 */
/* limits.c - how much of a model is taken: one table.
 *
 * A model may come from a stranger, so whatever a file can make grow has an end. Each limit is a row with its reason.
 * Those that a real model could meet are moved by --limit NAME=N; the others are sizes of arrays in the program, and
 * the enumerators that base.h declares. A flag file can't move them: it lies beside the model and may come from the
 * same stranger.
 *
 * A limit that is met ends the reading of the model with an error (err_limit), or leaves something unknown (a doubt
 * with limit_remedy). Either names the limit and the option.
 */
#include "base/base.h"

#include <string.h>

static struct row {
    const char *name;
    int64_t n;
    enum { SIZE, NUMBER, FIXED } kind; /* bytes, a count, and a count that can't be moved */
    const char *what, *why;
} rows[] = {
    [LIMIT_MEMORY] = {"memory", INT64_C(3) << 29, SIZE, "bytes that the analysis of one model may take",
                      "some thirty times what the largest of the exports measured takes; a chain of 600,000 nodes"},
    [LIMIT_MESSAGES] = {"messages", 8 << 20, NUMBER, "messages in the file, of all kinds",
                        "an empty one costs two bytes of file and a hundred of memory"},
    [LIMIT_SKELETON] = {"skeleton", 512 << 20, SIZE, "bytes of the file without its weights",
                        "what is copied; exports of large models have some tens of megabytes"},
    [LIMIT_NODES] = {"nodes", 1 << 20, NUMBER, "nodes of one graph", "a hundred times the largest exports"},
    [LIMIT_TENSORS] = {"tensors", 1 << 20, NUMBER, "initializers, inputs, outputs or described values of one graph",
                       "as for nodes; an empty one costs two bytes of file"},
    [LIMIT_REPEATED] = {"repeated", 1 << 16, NUMBER, "elements of any other list: a node's inputs, functions",
                        "passes look at each with each of some"},
    [LIMIT_PROPERTIES] = {"properties", 4096, NUMBER, "key-value pairs of one node or value, and imported domains",
                          "they are searched from end to end"},
    [LIMIT_NAME] = {"name", 1 << 16, SIZE, "bytes of a name", "reports and messages repeat names"},
    [LIMIT_METADATA] = {"metadata", 64 << 20, SIZE, "bytes of one value of metadata",
                        "the graph signature of a large export has a megabyte"},
    [LIMIT_ATTRIBUTE] = {"attribute", 64 << 20, SIZE, "bytes of an attribute's string or list",
                         "tables for text and for trees lie in attributes; weights do not"},
    [LIMIT_TEXT] = {"text", 64 << 20, SIZE, "bytes of a model in text syntax", "people write them"},
    [LIMIT_FOLD] = {"fold", 4096, NUMBER, "elements of a constant that is followed",
                    "shapes, axes and small tables are; weights are not"},
    [LIMIT_FOLDED] = {"folded", 8 << 20, NUMBER, "elements of all constants that are computed",
                      "the work of constant propagation"},
    [LIMIT_INLINED] = {"inlined", 1 << 17, NUMBER, "nodes after functions are put in place of their calls",
                       "functions that call each other twice double at each level"},
    [LIMIT_UNROLLED] = {"unrolled", 1 << 17, NUMBER, "nodes that loops and branches are written out to",
                        "a loop says how often it runs in eight bytes"},
    [LIMIT_BASELINE] = {"baseline", 256 << 20, NUMBER, "bytes of a stored result", "it is read whole"},
    [LIMIT_LIST] = {"list", 16 << 20, NUMBER, "bytes of a list of models or a flag file",
                    "they are read whole; a name of 100 bytes for each of 160,000 models"},
    [LIMIT_PARTS] = {"parts", 1 << 16, NUMBER, "parts that one call splits a tensor into",
                     "a dimension says how many in eight bytes"},
    [LIMIT_FRAMES] = {"frames", 1 << 26, NUMBER, "steps from call to call within Python frames",
                      "each call looks at those of its frame, and a frame can have them all"},
    /* below: sizes of arrays and depths of recursion */
    [LIMIT_DEPTH] = {"depth", MAX_DEPTH, FIXED, "messages in messages; a subgraph costs three",
                     "the official parsers refuse the same"},
    [LIMIT_RANK] = {"rank", MAX_RANK, FIXED, "dimensions of a tensor", "PyTorch and NumPy take no more"},
    [LIMIT_CALLS] = {"calls", MAX_CALLS, FIXED, "functions that call functions", "recursion while they are inlined"},
    [LIMIT_SEQUENCE] = {"sequence", MAX_SEQUENCE, FIXED, "elements of a sequence that are told apart",
                        "longer ones are known by what their elements share"},
    [LIMIT_WINDOW] = {"window", MAX_WINDOW, FIXED, "a window's size, stride, padding or dilation",
                      "their products stay within 64 bits"},
};

int64_t
limit(enum limit which)
{
    return rows[which].n;
}

const char *
limit_remedy(struct arena *a, enum limit which)
{
    const struct row *r = &rows[which];
    return r->kind == FIXED ? NULL : arena_printf(a, "--limit %s=%lld", r->name, (long long)r->n * 4);
}

bool
err_limit(struct err *e, struct arena *a, const char *place, enum limit which, const char *what)
{
    const struct row *r = &rows[which];
    const char *remedy = limit_remedy(a, which);
    e->remedy = remedy ? arena_printf(a, "%s raises it", remedy) : NULL;
    return err_set(e, a, place, "%s: more than %lld, the %slimit \"%s\" (%s)", what, (long long)r->n,
                   remedy ? "" : "fixed ", r->name, r->what);
}

const char *
limit_name(int i)
{
    return i < COUNT(rows) ? rows[i].name : NULL;
}

const char *
limit_set(struct arena *a, const char *name, int64_t n)
{
    for (int i = 0; i < COUNT(rows); i++) {
        struct row *r = &rows[i];
        int64_t most = r->kind == SIZE ? INT64_C(1) << 50 : 1 << 30;
        if (strcmp(r->name, name) != 0)
            continue;
        if (r->kind == FIXED)
            return arena_printf(a, "the limit is fixed at %lld", (long long)r->n);
        if (n < 1 || n > most)
            return arena_printf(a, "wanted a %s from 1 to %lld", r->kind == SIZE ? "size" : "number", (long long)most);
        r->n = n;
        return NULL;
    }
    return "no limit of that name, see --list=limits";
}

void
limits_list(FILE *out)
{
    for (int i = 0; i < COUNT(rows); i++)
        fprintf(out, "%s\t%lld%s\t%s\t%s\n", rows[i].name, (long long)rows[i].n, rows[i].kind == FIXED ? " fixed" : "",
                rows[i].what, rows[i].why);
}
