/* SPDX-License-Identifier: Apache-2.0 */
/* text.c - the ONNX text syntax: parse it to a graph, print a graph in it.
 *
 *   <ir_version: 10, opset_import: ["": 20, "com.microsoft": 1]>
 *   agraph (float[batch, 8] x, float[8, 4] w = {...}) => (float[batch, 4] y)
 *   <float[4] b = {0, 0, 0, 0}, float[batch, 4] h>          initializers, and types of values inside
 *   {
 *       h = MatMul (x, w)
 *       [label] y = Add <axis: int = 1, body = g (...) => (...) {...}> (h, b)
 *       z, _ = com.microsoft.SkipLayerNormalization (h, "odd name", b)
 *   }
 *   <domain: "local", opset_import: ["": 20]>
 *   twice <times: int = 2> (a) => (b) { b = Mul <by: int = @times> (a, a) }
 *
 * Recursive descent, functions named after what they read. float is a scalar, float[] has an unknown rank, float["2*n"]
 * a dimension that is no identifier; # begins a comment.
 *
 * Three things are memlint's own, for tests: a label may carry metadata ([fc1, "pkg.torch.onnx.fx_node": "..."]), so
 * may a value (float[4] x ["pkg...": "..."]), and `= {}` is an initializer whose data are left out. The
 * graph signature stands among metadata_props of the header.
 *
 * The first fault ends the parse: every function returns at once when p->bad is set.
 */
#include "onnx/onnx.h"
#include "scan.h"

#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_NESTING = MAX_DEPTH / 3 /* as in a binary file */ };

struct text {
    struct arena *a, *own; /* own: of the parse */
    int *id, cap_id;       /* the list that is read */
    struct err *e;
    const char *start, *p;
    int depth;
    bool bad;
};

static void *
fault(struct text *t, const char *what)
{
    int line = 1;
    if (t->bad)
        return NULL;
    for (const char *s = t->start; s < t->p; s++)
        line += *s == '\n';
    t->bad = true;
    err_set(t->e, t->a, arena_printf(t->a, "line %d", line), "%s before \"%.20s\"", what, t->p);
    return NULL;
}

/* ---- tokens ------------------------------------------------------------------------------------------------------ */

static void
space(struct text *t)
{
    for (;; t->p++)
        if (*t->p == '#')
            while (t->p[1] && t->p[1] != '\n')
                t->p++;
        else if (!*t->p || !strchr(" \t\r\n", *t->p))
            return;
}

static char
peek(struct text *t)
{
    space(t);
    return *t->p;
}

static bool
accept(struct text *t, const char *token)
{
    space(t);
    size_t n = strlen(token);
    if (t->bad || strncmp(t->p, token, n) != 0)
        return false;
    t->p += n;
    return true;
}

static void
expect(struct text *t, const char *token)
{
    if (!accept(t, token))
        fault(t, arena_printf(t->a, "%s is missing", token));
}

static bool
is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static const char *
string(struct text *t)
{
    expect(t, "\"");
    const char *end = t->p;
    while (*end && *end != '"')
        end += 1 + (*end == '\\' && end[1]);
    if (t->bad || !*end)
        return fault(t, "a string is not closed"), "";
    char *s = arena_alloc(t->a, (size_t)(end - t->p) + 1), *to = s;
    for (; t->p < end; t->p++) {
        char c = *t->p;
        if (c == '\\') {
            c = *++t->p;
            if (c == 'x' && end - t->p > 2) {
                c = (char)strtol(arena_strn(t->a, t->p + 1, 2), NULL, 16);
                t->p += 2;
            } else {
                c = c == 'n' ? '\n' : c == 't' ? '\t' : c;
            }
        }
        *to++ = c;
    }
    t->p = end + 1;
    return s;
}

/* A name: a word, which may have dots inside, or a string. */
static const char *
name_in(struct text *t, struct arena *a)
{
    if (peek(t) == '"')
        return string(t);
    const char *start = t->p;
    while (is_word(*t->p) || (*t->p == '.' && t->p > start && is_word(t->p[1])))
        t->p++;
    if (t->p == start || (*start >= '0' && *start <= '9'))
        return fault(t, "a name is missing"), "";
    return arena_strn(a, start, (size_t)(t->p - start));
}

static const char *
name(struct text *t)
{
    return name_in(t, t->a);
}

static bool
at_number(struct text *t)
{
    char c = peek(t);
    return (c >= '0' && c <= '9') || c == '-' || c == '+' || c == '.' || strncmp(t->p, "inf", 3) == 0 ||
           strncmp(t->p, "nan", 3) == 0;
}

/* A number; is_float tells how it is written. */
static double
number(struct text *t, int64_t *i, bool *is_float)
{
    char *end, *end_int;
    space(t);
    double f = strtod(t->p, &end);
    errno = 0;
    *i = strtoll(t->p, &end_int, 10);
    *is_float = end_int != end;
    if (end == t->p || (!*is_float && errno))
        fault(t, "a number is missing, or too large");
    else
        t->p = end;
    return f;
}

static int64_t
integer(struct text *t)
{
    int64_t i;
    bool is_float;
    number(t, &i, &is_float);
    if (is_float)
        fault(t, "a whole number is wanted");
    return i;
}

/* ---- types and tensors ------------------------------------------------------------------------------------------- */

static void
dims(struct text *t, int *rank, struct dim **out)
{
    int cap = 0, n = 0;
    struct dim *d = NULL;
    *rank = 0;
    *out = NULL;
    if (!accept(t, "["))
        return;
    if (accept(t, "]")) {
        *rank = -1;
        return;
    }
    do {
        struct dim *x = PUSH(t->a, d, n, cap);
        x->n = -1;
        if (at_number(t))
            x->n = integer(t);
        else if (!accept(t, "?"))
            x->sym = name(t);
        if (x->n < -1 || n > MAX_RANK)
            fault(t, "a dimension is negative, or there are too many");
    } while (!t->bad && accept(t, ","));
    expect(t, "]");
    *rank = n;
    *out = d;
}

static void
type(struct text *t, struct tensor *to, int depth)
{
    static const struct {
        const char *word, *letter;
    } wraps[] = {{"seq", "s"}, {"optional", "o"}, {"sparse_tensor", "p"}};
    const char *start = t->p, *word = name(t);
    for (int i = 0; i < COUNT(wraps); i++)
        if (strcmp(word, wraps[i].word) == 0) {
            if (depth == MAX_NESTING)
                fault(t, "types are nested too deeply");
            expect(t, "(");
            if (!t->bad)
                type(t, to, depth + 1);
            to->wrap = arena_printf(t->a, "%s%s", wraps[i].letter, to->wrap);
            expect(t, ")");
            return;
        }
    to->wrap = "";
    to->dtype = dtype_by_onnx(word);
    if (!to->dtype && strcmp(word, "undefined") != 0) {
        t->p = start;
        fault(t, "an element type is missing");
    }
    dims(t, &to->rank, &to->dims);
}

/* ["key": "value", ...]; calls with each pair. */
static void
pairs(struct text *t, void (*with)(void *, const char *, const char *), void *data)
{
    if (accept(t, "]"))
        return;
    do {
        const char *key = string(t);
        expect(t, ":");
        const char *value = peek(t) == '"' ? string(t) : arena_printf(t->a, "%lld", (long long)integer(t));
        if (!t->bad)
            with(data, key, value);
    } while (!t->bad && accept(t, ","));
    expect(t, "]");
}

static void
external_pair(void *data, const char *key, const char *value)
{
    struct tensor *to = data;
    if (strcmp(key, "length") == 0)
        to->file_bytes = strtoll(value, NULL, 10);
}

/* What follows the equals sign of an initializer: {values}, or where they lie. */
static void
tensor_data(struct text *t, struct tensor *to)
{
    int64_t n = tensor_elements(to), k = 0, i, bytes = dtype_bytes(to->dtype, n);
    bool is_float = dtypes[to->dtype].is_float, any;
    if (n < 0 || bytes < 0) {
        fault(t, "the tensor's size is not known");
        return;
    }
    to->file_bytes = bytes;
    if (accept(t, "[")) {
        pairs(t, external_pair, to);
        return;
    }
    expect(t, "{");
    struct constant *c = NEW(t->a, struct constant);
    bool fold = n <= limit(LIMIT_FOLD) && to->dtype != DT_STRING && bytes <= 8 * n;
    c->n = (int)(fold ? n : 0);
    if (is_float)
        c->f = NEWN(t->a, double, c->n + 1);
    else
        c->i = NEWN(t->a, int64_t, c->n + 1);
    while (!t->bad && peek(t) != '}') {
        if (peek(t) == '"') {
            string(t);
        } else {
            double f = number(t, &i, &any);
            if (fold && k < n && is_float)
                c->f[k] = to->dtype == DT_FLOAT ? (double)(float)f : f;
            else if (fold && k < n)
                c->i[k] = i;
        }
        k++;
        if (!accept(t, ","))
            break;
    }
    expect(t, "}");
    if (k && k != n)
        fault(t, "the tensor has not as many values as elements");
    if (fold && (k || !n))
        to->value = c;
}

static struct tensor *
loose_tensor(struct text *t)
{
    struct tensor *x = NEW(t->a, struct tensor);
    x->name = x->wrap = "";
    x->rank = x->declared_rank = x->producer = -1;
    return x;
}

/* ---- attributes and nodes ---------------------------------------------------------------------------------------- */

static struct graph *graph(struct text *t, struct graph *parent);

static void
list(struct text *t, struct attr *a)
{
    int64_t *ints = NULL;
    double *floats = NULL;
    const char **strings = NULL;
    int n = 0, nints = 0, nfloats = 0, cap_i = 0, cap_f = 0, cap_s = 0;
    bool any_float = false;
    while (!t->bad && peek(t) != ']') {
        if (*t->p == '"') {
            *PUSH(t->a, strings, n, cap_s) = string(t);
        } else {
            bool is_float;
            int64_t i;
            double f = number(t, &i, &is_float);
            any_float |= is_float;
            *PUSH(t->a, ints, nints, cap_i) = i;
            *PUSH(t->a, floats, nfloats, cap_f) = f;
        }
        if (!accept(t, ","))
            break;
    }
    expect(t, "]");
    a->n = n + nints;
    a->strings = strings;
    if (n && nints)
        fault(t, "a list mixes strings and numbers");
    else if (n || a->type == ATTR_STRINGS)
        a->type = ATTR_STRINGS;
    else
        a->type = any_float || a->type == ATTR_FLOATS ? ATTR_FLOATS : ATTR_INTS;
    a->ints = a->type == ATTR_INTS ? (ints ? ints : NEW(t->a, int64_t)) : NULL;
    a->floats = a->type == ATTR_FLOATS ? (floats ? floats : NEW(t->a, double)) : NULL;
}

static int
attr_type(const char *word)
{
    static const struct {
        const char *word;
        int type;
    } types[] = {{"float", ATTR_FLOAT},   {"int", ATTR_INT},         {"string", ATTR_STRING},
                 {"tensor", ATTR_TENSOR}, {"graph", ATTR_GRAPH},     {"floats", ATTR_FLOATS},
                 {"ints", ATTR_INTS},     {"strings", ATTR_STRINGS}, {"type_proto", ATTR_OTHER}};
    for (int i = 0; i < COUNT(types); i++)
        if (strcmp(word, types[i].word) == 0)
            return types[i].type;
    return ATTR_NONE;
}

/* Something that begins with a word: a tensor, a type or a graph. */
static void
word_value(struct text *t, struct attr *a, struct graph *g)
{
    const char *start = t->p, *word = name(t);
    bool is_type = dtype_by_onnx(word) || strcmp(word, "seq") == 0 || strcmp(word, "optional") == 0;
    t->p = start;
    if (!is_type) {
        a->type = ATTR_GRAPH;
        a->g = graph(t, g);
        return;
    }
    struct tensor *x = loose_tensor(t);
    type(t, x, 0);
    a->t = x;
    if (is_word(peek(t)))
        x->name = name(t);
    a->type = accept(t, "=") || peek(t) == '{' ? ATTR_TENSOR : ATTR_OTHER;
    if (a->type == ATTR_TENSOR)
        tensor_data(t, x);
}

static void
attribute(struct text *t, struct attr *a, struct graph *g)
{
    a->name = name(t);
    if (accept(t, ":"))
        a->type = attr_type(name(t));
    if (!accept(t, "="))
        return; /* a function's attribute without a default */
    if (accept(t, "@")) {
        a->ref = name(t);
    } else if (accept(t, "[")) {
        list(t, a);
    } else if (peek(t) == '"') {
        a->type = ATTR_STRING;
        a->s = string(t);
    } else if (at_number(t)) {
        bool is_float;
        a->f = number(t, &a->i, &is_float);
        a->type = is_float || a->type == ATTR_FLOAT ? ATTR_FLOAT : ATTR_INT;
    } else {
        word_value(t, a, g);
    }
}

static void
attributes(struct text *t, int *n, struct attr **out, struct graph *g)
{
    int cap = *n;
    if (accept(t, ">"))
        return;
    do
        attribute(t, PUSH(t->a, *out, *n, cap), g);
    while (!t->bad && accept(t, ","));
    expect(t, ">");
}

static void
node_pair(void *data, const char *key, const char *value)
{
    struct node *n = data;
    if (strcmp(key, "pkg.torch.onnx.fx_node") == 0)
        n->fx = value;
    else if (strcmp(key, "pkg.torch.onnx.name_scopes") == 0)
        n->scopes = value;
    else if (strcmp(key, "pkg.torch.onnx.class_hierarchy") == 0)
        n->classes = value;
    else if (strcmp(key, "pkg.torch.onnx.stack_trace") == 0)
        n->stack = value;
    else if (strcmp(key, "pkg.onnxscript.rewriter.rule_name") == 0)
        n->rules = value;
}

/* A name is kept where it is the first of its tensor. */
static int
tensor_id(struct text *t, struct graph *g, const char *s)
{
    const int known = graph_find(g, s);
    return known >= 0 ? known : graph_tensor(g, arena_str(t->a, s));
}

/* Tensor ids up to a closing character; an empty place or "" is an omitted one. */
static int *
ids(struct text *t, struct graph *g, const char *close, int *n)
{
    if (accept(t, close))
        return NULL;
    do {
        char c = peek(t);
        const char *s = c == ',' || c == *close ? "" : name_in(t, t->own);
        *PUSH(t->own, t->id, *n, t->cap_id) = *s && !t->bad ? tensor_id(t, g, s) : -1;
    } while (!t->bad && accept(t, ","));
    expect(t, close);
    return arena_dup(t->a, t->id, sizeof(*t->id) * (size_t)*n);
}

static void
node(struct text *t, struct graph *g)
{
    struct node n = {.op = "", .domain = "", .overload = "", .name = ""};
    if (accept(t, "[")) {
        if (peek(t) != ']')
            n.name = name(t);
        if (accept(t, ","))
            pairs(t, node_pair, &n);
        else
            expect(t, "]");
    }
    n.out = ids(t, g, "=", &n.nout);
    const char *op = name(t), *dot = strrchr(op, '.');
    n.op = dot ? dot + 1 : op;
    n.domain = dot ? arena_strn(t->a, op, (size_t)(dot - op)) : "";
    if (strcmp(n.domain, "ai.onnx") == 0)
        n.domain = "";
    if (accept(t, ":"))
        n.overload = name(t);
    if (accept(t, "<"))
        attributes(t, &n.nattr, &n.attr, g);
    expect(t, "(");
    n.in = ids(t, g, ")", &n.nin);
    if (!n.nattr && accept(t, "<"))
        attributes(t, &n.nattr, &n.attr, g);
    if (t->bad)
        return;
    *graph_node(g) = n;
    for (int i = 0; i < n.nout; i++)
        if (n.out[i] >= 0)
            g->t[n.out[i]].producer = g->nn - 1;
}

/* ---- graphs ------------------------------------------------------------------------------------------------------ */

enum role { INPUT, OUTPUT, INSIDE };

/* What metadata of values are kept, and where. */
static const struct {
    const char *key;
    size_t field;
} value_keys[] = {{"pkg.torch.onnx.original_node_name", offsetof(struct tensor, fx_name)},
                  {"pkg.onnxscript.optimizer.folded_from", offsetof(struct tensor, folded_from)}};

static void
value_pair(void *data, const char *key, const char *value)
{
    for (int i = 0; i < COUNT(value_keys); i++)
        if (strcmp(key, value_keys[i].key) == 0)
            *(const char **)((char *)data + value_keys[i].field) = value;
}

static void
value(struct text *t, struct graph *g, enum role role)
{
    struct tensor x = {.rank = -1, .wrap = ""};
    bool typed = peek(t) != '"';
    const char *start = t->p, *word = typed ? name(t) : "";
    char after = peek(t);
    t->p = start;
    if (typed &&
        (after == ',' || after == ')' || (after == '[' && !dtype_by_onnx(word) && strcmp(word, "undefined") != 0)))
        typed = false; /* the name alone */
    if (typed)
        type(t, &x, 0);
    const char *s = name(t);
    int id = t->bad ? -1 : graph_tensor(g, s);
    if (accept(t, "["))
        pairs(t, value_pair, &x);
    bool initializer = accept(t, "=");
    if (initializer && !t->bad)
        tensor_data(t, &x);
    if (t->bad)
        return;
    struct tensor *to = &g->t[id];
    to->fx_name = x.fx_name ? x.fx_name : to->fx_name;
    to->folded_from = x.folded_from ? x.folded_from : to->folded_from;
    if (initializer) {
        to->is_initializer = true;
        to->value = x.value;
        to->file_bytes = x.file_bytes;
    }
    if (initializer || role == INPUT) {
        to->dtype = x.dtype;
        to->wrap = x.wrap;
        to->rank = x.rank;
        to->dims = x.dims;
    } else if (typed) {
        to->declared_rank = x.rank;
        to->declared = x.dims;
        to->declared_dtype = x.dtype;
        if (!to->dtype) {
            to->dtype = x.dtype;
            to->wrap = x.wrap;
        }
    }
    to->is_input |= role == INPUT && !initializer;
    to->is_output |= role == OUTPUT;
    int cap = role == INPUT ? g->nin : g->nout;
    if (role == INPUT && !initializer)
        *PUSH(t->a, g->in, g->nin, cap) = id;
    else if (role == OUTPUT)
        *PUSH(t->a, g->out, g->nout, cap) = id;
}

static void
values(struct text *t, struct graph *g, enum role role, const char *close)
{
    if (accept(t, close))
        return;
    do
        value(t, g, role);
    while (!t->bad && accept(t, ","));
    expect(t, close);
}

static void
body(struct text *t, struct graph *g)
{
    if (accept(t, "<"))
        values(t, g, INSIDE, ">");
    expect(t, "{");
    while (!t->bad && !accept(t, "}"))
        node(t, g);
}

static void
graph_text(struct text *t, struct graph *g)
{
    g->name = name(t);
    expect(t, "(");
    values(t, g, INPUT, ")");
    expect(t, "=>");
    expect(t, "(");
    values(t, g, OUTPUT, ")");
    body(t, g);
}

static struct graph *
graph(struct text *t, struct graph *parent)
{
    if (++t->depth > MAX_NESTING)
        return fault(t, "graphs are nested too deeply");
    struct graph *g = graph_new(t->a, parent);
    if (!t->bad)
        graph_text(t, g);
    t->depth--;
    return t->bad ? NULL : g;
}

/* ---- header and functions ---------------------------------------------------------------------------------------- */

struct header {
    struct graph *g;
    const char *domain, *overload;
};

static void
header_pair(void *data, const char *key, const char *value)
{
    struct header *h = data;
    int64_t v = strtoll(value, NULL, 10);
    if (!*key || strcmp(key, "ai.onnx") == 0)
        h->g->opset = v < 1 ? 1 : v > 100000 ? 100000 : (int)v;
    else if (strcmp(key, "pkg.torch.export.ExportedProgram.graph_signature") == 0)
        h->g->signature = value;
    else {
        graph_import(h->g, key);
        graph_describe(h->g, key, value);
    }
}

static void
header(struct text *t, struct header *h)
{
    while (!t->bad && !accept(t, ">")) {
        const char *key = name(t);
        expect(t, ":");
        const char *text = NULL;
        int64_t v = 0;
        if (accept(t, "["))
            pairs(t, header_pair, h);
        else if (peek(t) == '"')
            text = string(t);
        else
            v = integer(t);
        if (strcmp(key, "ir_version") == 0)
            h->g->ir_version = v < 0 || v > 100000 ? 0 : (int)v;
        else if (strcmp(key, "producer_name") == 0 && text)
            h->g->producer = text;
        else if (strcmp(key, "producer_version") == 0 && text)
            h->g->producer_version = text;
        else if (strcmp(key, "domain") == 0 && text)
            h->domain = text;
        else if (strcmp(key, "overload") == 0 && text)
            h->overload = text;
        if (!accept(t, ",") && peek(t) != '>')
            fault(t, "> is missing");
    }
}

static void
function(struct text *t, struct graph *root)
{
    struct graph *g = graph_new(t->a, root);
    struct header h = {g, "", ""};
    int n = 0;
    if (accept(t, "<"))
        header(t, &h);
    struct function *f = PUSH(t->a, root->f, root->nf, root->cap_f);
    f->domain = strcmp(h.domain, "ai.onnx") == 0 ? "" : h.domain;
    f->overload = h.overload;
    f->name = name(t);
    f->body = g;
    if (accept(t, "<"))
        attributes(t, &f->nattr, &f->attr, g);
    expect(t, "(");
    g->in = ids(t, g, ")", &n);
    for (int i = 0; i < n; i++)
        if (g->in[i] >= 0) {
            g->t[g->in[i]].is_input = true;
            g->in[g->nin++] = g->in[i];
        }
    expect(t, "=>");
    expect(t, "(");
    n = 0;
    g->out = ids(t, g, ")", &n);
    for (int i = 0; i < n; i++)
        if (g->out[i] >= 0)
            g->out[g->nout++] = g->out[i];
    body(t, g);
}

struct graph *
onnx_parse_text(struct arena *a, const char *path, const char *text, struct err *e)
{
    struct text t = {.a = a, .own = arena_new(), .e = e, .start = text, .p = text};
    struct graph *g = graph_new(a, NULL);
    struct header h = {g, "", ""};
    *e = (struct err){.file = path};
    g->file = path;
    g->producer = g->producer_version = "";
    g->opset = 28;
    g->ir_version = 13;
    g->file_bytes = (int64_t)strlen(text);
    if (accept(&t, "<"))
        header(&t, &h);
    graph_text(&t, g);
    while (!t.bad && peek(&t))
        function(&t, g);
    arena_free(t.own);
    return t.bad || !graph_finish(g, e) ? NULL : g;
}

/* ---- printing ---------------------------------------------------------------------------------------------------- */

static void
print_string(const char *s, FILE *out)
{
    fputc('"', out);
    for (; *s; s++)
        if (*s == '"' || *s == '\\')
            fprintf(out, "\\%c", *s);
        else if (*s == '\n')
            fputs("\\n", out);
        else if ((unsigned char)*s < ' ' || *s == 0x7f)
            fprintf(out, "\\x%02x", (unsigned char)*s);
        else
            fputc(*s, out);
    fputc('"', out);
}

static void
print_name(const char *s, FILE *out)
{
    size_t n = 0;
    while (is_word(s[n]))
        n++;
    if (s[n] || !n || (*s >= '0' && *s <= '9'))
        print_string(s, out);
    else
        fputs(s, out);
}

static void
print_float(double f, FILE *out)
{
    char s[40];
    snprintf(s, sizeof(s), "%.9g", f);
    fprintf(out, "%s%s", s, strpbrk(s, ".ein") ? "" : ".0");
}

static void
print_type(const struct tensor *t, int rank, const struct dim *d, FILE *out)
{
    for (const char *w = t->wrap; *w; w++)
        fputs(*w == 's' ? "seq(" : *w == 'o' ? "optional(" : *w == 'm' ? "map(" : "sparse_tensor(", out);
    fputs(dtypes[t->dtype].onnx, out);
    fputs(rank < 0 ? "[]" : rank ? "[" : "", out);
    for (int i = 0; i < rank; i++) {
        fputs(i ? ", " : "", out);
        if (d[i].n >= 0)
            fprintf(out, "%lld", (long long)d[i].n);
        else if (d[i].sym)
            print_name(d[i].sym, out);
        else
            fputc('?', out);
    }
    fputs(rank > 0 ? "]" : "", out);
    for (const char *w = t->wrap; *w; w++)
        fputc(')', out);
}

static void
print_values(const struct constant *c, FILE *out)
{
    fputc('{', out);
    for (int k = 0; c && k < c->n; k++) {
        fputs(k ? ", " : "", out);
        if (c->f)
            print_float(c->f[k], out);
        else
            fprintf(out, "%lld", (long long)c->i[k]);
    }
    fputc('}', out);
}

static void print_graph(const struct graph *g, FILE *out, int depth);

static void
print_attr(const struct attr *a, FILE *out, int depth)
{
    print_name(a->name, out);
    fputs(" = ", out);
    if (a->ref)
        fprintf(out, "@%s", a->ref);
    else if (a->type == ATTR_INT)
        fprintf(out, "%lld", (long long)a->i);
    else if (a->type == ATTR_FLOAT)
        print_float(a->f, out);
    else if (a->type == ATTR_STRING)
        print_string(a->s, out);
    else if (a->t) {
        print_type(a->t, a->t->rank, a->t->dims, out);
        if (a->type == ATTR_TENSOR)
            print_values(a->t->value, out);
    } else if (a->g) {
        print_graph(a->g, out, depth + 1);
    } else {
        fputc('[', out);
        for (int i = 0; i < a->n && (a->ints || a->floats || a->strings); i++) {
            fputs(i ? ", " : "", out);
            if (a->ints)
                fprintf(out, "%lld", (long long)a->ints[i]);
            else if (a->floats)
                print_float(a->floats[i], out);
            else
                print_string(a->strings[i], out);
        }
        fputc(']', out);
    }
}

static void
print_ids(const struct graph *g, const int *id, int n, FILE *out)
{
    for (int i = 0; i < n; i++) {
        fputs(i ? ", " : "", out);
        print_name(id[i] < 0 ? "" : g->t[id[i]].name, out);
    }
}

static void
print_pair(const char *key, const char *s, FILE *out)
{
    if (!s)
        return;
    fprintf(out, ", \"%s\": ", key);
    print_string(s, out);
}

static void
print_node(const struct graph *g, const struct node *n, FILE *out, int depth)
{
    fprintf(out, "%*s", 4 * (depth + 1), "");
    if (*n->name || n->fx || n->scopes || n->classes || n->stack || n->rules) {
        fputc('[', out);
        print_name(n->name, out);
        print_pair("pkg.torch.onnx.fx_node", n->fx, out);
        print_pair("pkg.torch.onnx.name_scopes", n->scopes, out);
        print_pair("pkg.torch.onnx.class_hierarchy", n->classes, out);
        print_pair("pkg.torch.onnx.stack_trace", n->stack, out);
        print_pair("pkg.onnxscript.rewriter.rule_name", n->rules, out);
        fputs("] ", out);
    }
    print_ids(g, n->out, n->nout, out);
    fputs(" = ", out);
    const char *op = *n->domain ? arena_printf(g->arena, "%s.%s", n->domain, n->op) : n->op;
    bool plain = !(*op >= '0' && *op <= '9');
    for (const char *c = op; *c; c++)
        plain &= is_word(*c) || (*c == '.' && c > op && is_word(c[1]));
    if (plain)
        fputs(op, out);
    else
        print_string(op, out);
    if (*n->overload) {
        fputc(':', out);
        print_name(n->overload, out);
    }
    for (int i = 0, printed = 0; i < n->nattr; i++) {
        if (n->attr[i].type == ATTR_NONE && !n->attr[i].ref)
            continue;
        fputs(printed++ ? ", " : " <", out);
        print_attr(&n->attr[i], out, depth);
    }
    bool any = false;
    for (int i = 0; i < n->nattr; i++)
        any |= n->attr[i].type != ATTR_NONE || n->attr[i].ref;
    fputs(any ? "> (" : " (", out);
    print_ids(g, n->in, n->nin, out);
    fputs(")\n", out);
}

static void
print_value(const struct tensor *t, int rank, const struct dim *d, FILE *out)
{
    print_type(t, rank, d, out);
    fputc(' ', out);
    print_name(t->name, out);
    bool any = false;
    for (int i = 0; i < COUNT(value_keys); i++) {
        const char *said = *(const char *const *)((const char *)t + value_keys[i].field);
        if (!said)
            continue;
        fprintf(out, "%s\"%s\": ", any ? ", " : " [", value_keys[i].key);
        print_string(said, out);
        any = true;
    }
    fputs(any ? "]" : "", out);
}

static void
print_graph(const struct graph *g, FILE *out, int depth)
{
    print_name(g->name && *g->name ? g->name : "graph", out);
    fputs(" (", out);
    for (int i = 0; i < g->nin; i++) {
        const struct tensor *t = &g->t[g->in[i]];
        fputs(i ? ", " : "", out);
        print_value(t, t->rank, t->dims, out);
    }
    fputs(") => (", out);
    for (int i = 0; i < g->nout; i++) {
        const struct tensor *t = &g->t[g->out[i]];
        bool inferred = t->rank >= 0;
        fputs(i ? ", " : "", out);
        print_value(t, inferred ? t->rank : t->declared_rank, inferred ? t->dims : t->declared, out);
    }
    fputs(")\n", out);
    bool any = false;
    for (int i = 0; i < g->nt; i++) {
        const struct tensor *t = &g->t[i];
        bool declared = t->producer >= 0 && (t->rank >= 0 || t->declared_rank >= 0) && !t->is_output;
        if (!t->is_initializer && !declared)
            continue;
        fprintf(out, any ? ",\n%*s" : "%*s<", 4 * depth + any, "");
        any = true;
        print_value(t, t->rank >= 0 ? t->rank : t->declared_rank, t->rank >= 0 ? t->dims : t->declared, out);
        if (t->is_initializer) {
            fputs(" = ", out);
            print_values(t->value, out);
        }
    }
    fprintf(out, any ? ">\n%*s{\n" : "%*s{\n", 4 * depth, "");
    for (int i = 0; i < g->nn; i++)
        print_node(g, &g->n[i], out, depth);
    fprintf(out, "%*s}", 4 * depth, "");
    fputs(depth ? "" : "\n", out);
}

void
onnx_print_text(const struct graph *g, FILE *out)
{
    fprintf(out, "<ir_version: %d, opset_import: [\"\": %d", g->ir_version, g->opset);
    if (g->packaged) {
        fputs(", ", out);
        print_string(g->packaged, out);
        fputs(": 1", out);
    }
    fputc(']', out);
    fputs(", producer_name: ", out);
    print_string(g->producer ? g->producer : "", out);
    fputs(", producer_version: ", out);
    print_string(g->producer_version ? g->producer_version : "", out);
    bool any = g->signature != NULL;
    if (any) {
        fputs(", metadata_props: [\"pkg.torch.export.ExportedProgram.graph_signature\": ", out);
        print_string(g->signature, out);
    }
    for (int i = 0; i < g->nmetadata; i++) {
        fprintf(out, "%s\"%s\": ", any ? ", " : ", metadata_props: [", g->metadata[i].key);
        print_string(g->metadata[i].value, out);
        any = true;
    }
    fputs(any ? "]" : "", out);
    fputs(">\n", out);
    print_graph(g, out, 0);
}
