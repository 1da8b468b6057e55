/* SPDX-License-Identifier: Apache-2.0 */
/* stored.c - a JSON result read back, for a comparison with it and to resume a run over many models.
 *
 * The reader takes RFC 8259 as written, nothing more: one object, no comments, no trailing commas, numbers of memlint's
 * kind, valid escapes, a limit of nesting. The text becomes a small tree, from which the fields that a comparison needs
 * are taken; others, also those of later versions, are passed over. A stored result is input as a model is: what is
 * missing or of another kind is a fault of the file, told with its line.
 */
#include "result/passes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH = 32 };

struct item {
    enum { NOTHING, TRUTH, NUMBER, TEXT, LIST, OBJECT } kind;
    int line;
    const char *key, *s;
    double number;
    int n, cap;
    struct item *kids;
};

struct json_reader {
    struct arena *a;
    struct err *e;
    const char *p;
    int line, depth;
};

static bool
fault(struct json_reader *j, int line, const char *what)
{
    if (!j->e->message)
        err_set(j->e, j->a, arena_printf(j->a, "line %d", line), "no result of memlint: %s", what);
    j->e->remedy = "write one with -o FILE.json";
    return false;
}

static void
blank(struct json_reader *j)
{
    for (; *j->p == ' ' || *j->p == '\n' || *j->p == '\t' || *j->p == '\r'; j->p++)
        j->line += *j->p == '\n';
}

static bool
hex4(struct json_reader *j, uint32_t *c)
{
    *c = 0;
    for (int i = 0; i < 4; i++, j->p++) {
        const char *digits = "0123456789abcdefABCDEF", *d = *j->p ? strchr(digits, *j->p) : NULL;
        if (!d)
            return fault(j, j->line, "a bad \\u escape");
        *c = *c << 4 | (uint32_t)(d - digits < 16 ? d - digits : d - digits - 6);
    }
    return true;
}

static char *
utf8_put(char *o, uint32_t c)
{
    if (c < 0x80) {
        *o++ = (char)c;
        return o;
    }
    int n = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
    *o++ = (char)((0xf00 >> n & 0xff) | c >> 6 * n);
    while (n--)
        *o++ = (char)(0x80 | (c >> 6 * n & 0x3f));
    return o;
}

static bool
text(struct json_reader *j, const char **s)
{
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    const char *end = ++j->p;
    while (*end && *end != '"')
        end += *end == '\\' && end[1] ? 2 : 1;
    char *out = arena_alloc(j->a, (size_t)(end - j->p) + 1), *o = out;
    while (*j->p != '"') {
        uint32_t c, low;
        int n;
        const char *known;
        if ((unsigned char)*j->p < 0x20)
            return fault(j, j->line, *j->p ? "a control character in a string" : "it ends in a string");
        if (*j->p != '\\') {
            if ((n = string_utf8(j->p, &c)) == 0)
                return fault(j, j->line, "invalid UTF-8");
            memcpy(o, j->p, (size_t)n);
            o += n;
            j->p += n;
            continue;
        }
        j->p += 2;
        if (j->p[-1] == 'u') {
            if (!hex4(j, &c))
                return false;
            if (c >= 0xd800 && c < 0xdc00 && j->p[0] == '\\' && j->p[1] == 'u') {
                j->p += 2;
                if (!hex4(j, &low))
                    return false;
                c = 0x10000 + ((c - 0xd800) << 10) + (low & 0x3ff);
            }
            o = utf8_put(o, c == 0 || (c >= 0xd800 && c < 0xe000) ? 0xfffd : c);
        } else if (j->p[-1] && (known = strchr(from, j->p[-1]))) {
            *o++ = to[known - from];
        } else {
            return fault(j, j->line, "a bad escape");
        }
    }
    j->p++;
    *s = out;
    return true;
}

static bool value(struct json_reader *j, struct item *it);

static bool
members(struct json_reader *j, struct item *it)
{
    char end = *j->p == '{' ? '}' : ']';
    it->kind = end == '}' ? OBJECT : LIST;
    j->p++;
    blank(j);
    if (++j->depth > DEPTH)
        return fault(j, j->line, "it is nested too deep");
    while (*j->p != end || it->n) {
        struct item kid = {0};
        blank(j);
        if (end == '}') {
            if (*j->p != '"' || !text(j, &kid.key))
                return fault(j, j->line, "a key is missing");
            blank(j);
            if (*j->p++ != ':')
                return fault(j, j->line, "a colon is missing");
        }
        if (!value(j, &kid))
            return false;
        *PUSH(j->a, it->kids, it->n, it->cap) = kid;
        blank(j);
        if (*j->p == end)
            break;
        if (*j->p++ != ',')
            return fault(j, j->line, j->p[-1] ? "a comma is missing" : "it ends too early");
    }
    j->p++;
    j->depth--;
    return true;
}

static size_t
digits(const char *s)
{
    return strspn(s, "0123456789");
}

static bool
number(struct json_reader *j, struct item *it)
{
    const char *p = j->p + (*j->p == '-');
    size_t whole = digits(p), part = 1;
    bool ok = whole == 1 || (whole > 1 && *p != '0');
    p += whole;
    if (*p == '.')
        p += 1 + (part = digits(p + 1));
    ok &= part > 0;
    if (*p == 'e' || *p == 'E') {
        p += 1 + (p[1] == '-' || p[1] == '+');
        p += part = digits(p);
    }
    if (!ok || part == 0)
        return fault(j, j->line, *j->p ? "no value where one must stand" : "it ends too early");
    it->kind = NUMBER;
    it->s = j->p;
    it->number = strtod(j->p, NULL);
    j->p = p;
    return true;
}

static bool
value(struct json_reader *j, struct item *it)
{
    static const struct {
        const char *word;
        int kind;
        double number;
    } words[] = {{"null", NOTHING, 0}, {"true", TRUTH, 1}, {"false", TRUTH, 0}};
    blank(j);
    it->line = j->line;
    if (*j->p == '{' || *j->p == '[')
        return members(j, it);
    if (*j->p == '"') {
        it->kind = TEXT;
        return text(j, &it->s);
    }
    for (int i = 0; i < COUNT(words); i++)
        if (strncmp(j->p, words[i].word, strlen(words[i].word)) == 0) {
            it->kind = words[i].kind;
            it->number = words[i].number;
            j->p += strlen(words[i].word);
            return true;
        }
    return number(j, it);
}

/* ---- from the tree to a result ----------------------------------------------------------------------------------- */

static const struct item *
member(const struct item *it, const char *key)
{
    for (int i = 0; it && it->kind == OBJECT && i < it->n; i++)
        if (strcmp(it->kids[i].key, key) == 0)
            return &it->kids[i];
    return NULL;
}

static const char *
text_of(const struct item *it, const char *key)
{
    const struct item *m = member(it, key);
    return m && m->kind == TEXT ? m->s : NULL;
}

/* -1 when it is null or missing. */
static int64_t
int_of(const struct item *m)
{
    return m && m->kind == NUMBER && m->number > -9.2e18 && m->number < 9.2e18 ? strtoll(m->s, NULL, 10) : -1;
}

static int
named(const char *const *names, int n, const char *s, int otherwise)
{
    for (int i = 0; i < n; i++)
        if (s && strcmp(names[i], s) == 0)
            return i;
    return otherwise;
}

/* A list's elements, after a look at what every one must have. */
static int
elements(struct json_reader *j, const struct item *root, const char *key, const char *needed, const struct item **first)
{
    const struct item *m = member(root, key);
    if (!m || m->kind != LIST) {
        fault(j, root->line, arena_printf(j->a, "it has no list \"%s\"", key));
        return 0;
    }
    for (int i = 0; i < m->n; i++)
        if (!member(&m->kids[i], needed))
            fault(j, m->kids[i].line, arena_printf(j->a, "an element of \"%s\" lacks \"%s\"", key, needed));
    *first = m->kids;
    return m->n;
}

static void
take_live(struct json_reader *j, const struct item *root, struct result *r)
{
    const struct item *kid = NULL;
    r->nlive = elements(j, root, "live_at_peak", "bytes", &kid);
    r->live = NEWN(j->a, struct live_tensor, r->nlive + 1);
    for (int i = 0; i < r->nlive; i++, kid++) {
        struct live_tensor *t = &r->live[i];
        const struct item *shape = member(kid, "shape");
        t->name = text_of(kid, "name");
        t->bytes = int_of(member(kid, "bytes"));
        t->rank = shape && shape->kind == LIST ? shape->n : 0;
        if (t->rank > MAX_RANK)
            fault(j, kid->line, "a shape of too many dimensions");
        int64_t *sizes = NEWN(j->a, int64_t, t->rank + 1);
        for (int k = 0; k < t->rank; k++)
            sizes[k] = int_of(&shape->kids[k]);
        t->shape = sizes;
        t->dtype = text_of(kid, "dtype");
        t->class = (enum class)named(class_names, CLASS_COUNT, text_of(kid, "class"), CLASS_TEMPORARIES);
        t->location = text_of(kid, "location");
        t->layer = text_of(kid, "layer");
        if (t->bytes < 0)
            fault(j, kid->line, "a tensor without bytes");
    }
}

static void
take_operators(struct json_reader *j, const struct item *list, struct layer *l)
{
    for (int i = 0; list && list->kind == LIST && i < list->n; i++) {
        const struct item *kid = &list->kids[i];
        if (!text_of(kid, "name") || int_of(member(kid, "calls")) < 0)
            fault(j, kid->line, "an operator without a name or its calls");
        else
            *PUSH(j->a, l->ops, l->nops, l->cap_ops) = (struct layer_op){
                text_of(kid, "name"), text_of(kid, "location"), (int)(int_of(member(kid, "calls")) & 0x7fffffff)};
    }
}

static void
take_layers(struct json_reader *j, const struct item *root, struct result *r)
{
    const struct item *kid = NULL;
    r->nlayers = elements(j, root, "layers", "path", &kid);
    r->layers = NEWN(j->a, struct layer, r->nlayers + 1);
    for (int i = 0; i < r->nlayers; i++, kid++) {
        int64_t depth = int_of(member(kid, "depth")), above = i ? r->layers[i - 1].depth : -1;
        if (depth < (i > 0) || depth > above + 1 || !text_of(kid, "path"))
            fault(j, kid->line, "layers are not listed depth first");
        r->layers[i] = (struct layer){.path = text_of(kid, "path") ? text_of(kid, "path") : "",
                                      .type = text_of(kid, "type"),
                                      .depth = (int)depth,
                                      .parameters = int_of(member(kid, "parameters")),
                                      .saved_bytes = int_of(member(kid, "saved_bytes")),
                                      .location = text_of(kid, "location")};
        take_operators(j, member(kid, "operators"), &r->layers[i]);
        if (r->layers[i].parameters < 0 || r->layers[i].saved_bytes < 0)
            fault(j, kid->line, "a layer without numbers");
    }
}

/* Results of earlier versions lack it. Its classes are those that memlint knows. */
static void
take_timeline(struct json_reader *j, const struct item *t, struct result *r)
{
    const struct item *phase = member(t, "phase"), *classes = member(t, "classes");
    r->ninstants = phase && phase->kind == LIST ? phase->n : 0;
    r->instants = NEWN(j->a, struct instant, r->ninstants + 1);
    for (int i = 0; i < r->ninstants; i++) {
        const struct item *kid = &phase->kids[i];
        int named_phase = named(phase_names, PHASE_COUNT, kid->kind == TEXT ? kid->s : NULL, -1);
        r->instants[i].phase = (enum phase)named_phase;
        if (named_phase < 0)
            fault(j, kid->line, "an instant of no phase");
    }
    for (int c = 0; c < CLASS_COUNT && r->ninstants; c++) {
        const struct item *bytes = member(classes, class_names[c]);
        if (!bytes || bytes->kind != LIST || bytes->n != r->ninstants) {
            fault(j, t->line, "a timeline whose lists differ in length");
            return;
        }
        for (int i = 0; i < r->ninstants; i++)
            if ((r->instants[i].class_bytes[c] = int_of(&bytes->kids[i])) < 0)
                fault(j, bytes->kids[i].line, "an instant without bytes");
    }
}

static const char *
choice_of(const void *setup, const char *name)
{
    return text_of(setup, name);
}

/* Results of earlier versions may lack them. */
static void
take_findings(struct json_reader *j, const struct item *list, struct result *r)
{
    r->nfindings = list && list->kind == LIST ? list->n : 0;
    r->findings = NEWN(j->a, struct finding, r->nfindings + 1);
    for (int i = 0; i < r->nfindings; i++) {
        const struct item *kid = &list->kids[i];
        r->findings[i] = (struct finding){.rule = text_of(kid, "rule"),
                                          .severity = text_of(kid, "severity"),
                                          .message = text_of(kid, "message"),
                                          .location = text_of(kid, "location"),
                                          .suppressed = text_of(kid, "suppressed"),
                                          .saves_bytes = int_of(member(kid, "saves_bytes"))};
        if (!r->findings[i].rule || severity_rank(r->findings[i].severity) < 0)
            fault(j, kid->line, "a finding without its rule or severity");
    }
}

static void
take_gates(struct json_reader *j, const struct item *list, struct result *r)
{
    r->nchecks = list && list->kind == LIST ? list->n : 0;
    r->checks = NEWN(j->a, struct check, r->nchecks + 1);
    for (int i = 0; i < r->nchecks; i++) {
        const struct item *kid = &list->kids[i];
        int outcome = named(outcome_names, CHECK_COUNT, text_of(kid, "outcome"), -1);
        r->checks[i] = (struct check){text_of(kid, "name"), text_of(kid, "message"), (enum outcome)outcome};
        if (outcome < 0)
            fault(j, kid->line, "a gate without an outcome");
    }
}

static void
take_setup(struct json_reader *j, const struct item *s, struct result *r)
{
    const struct item *dims = member(s, "dims");
    int n;
    const struct choice *c = choices_stored(j->a, choice_of, s, &n);
    result_choose(r, n, c);
    r->setup.batch = int_of(member(s, "batch"));
    r->setup.ndims = dims && dims->kind == OBJECT ? dims->n : 0;
    struct binding *b = NEWN(j->a, struct binding, r->setup.ndims + 1);
    for (int i = 0; i < r->setup.ndims; i++)
        b[i] = (struct binding){dims->kids[i].key, int_of(&dims->kids[i])};
    r->setup.dims = b;
}

static void
take_doubts(struct json_reader *j, const struct item *root, struct result *r)
{
    const struct item *kid = NULL;
    r->ndoubts = member(root, "unexplained") ? elements(j, root, "unexplained", "why", &kid) : 0;
    struct doubt *all = NEWN(j->a, struct doubt, r->ndoubts + 1);
    for (int i = 0; i < r->ndoubts; i++, kid++)
        all[i] = (struct doubt){.node = text_of(kid, "node"),
                                .op = text_of(kid, "operator"),
                                .why = text_of(kid, "why"),
                                .remedy = text_of(kid, "remedy"),
                                .assumed = text_of(kid, "assumed")};
    r->doubts = all;
}

struct result *
stored_parse(struct arena *a, const char *path, const char *from, struct err *e)
{
    struct json_reader j = {.a = a, .e = e, .p = from, .line = 1};
    struct item root = {0};
    struct result *r = NEW(a, struct result);
    e->file = path;
    e->message = NULL;
    if (!value(&j, &root))
        return NULL;
    blank(&j);
    const struct item *model = member(&root, "model"), *peak = member(&root, "peak"),
                      *classes = member(&root, "classes");
    if (*j.p)
        fault(&j, j.line, "something follows it");
    else if (int_of(member(&root, "schema")) != 1)
        fault(&j, 1, "\"schema\" is not 1");
    else if (!text_of(model, "file"))
        fault(&j, model ? model->line : 1, "it has no \"model\" with a \"file\"");
    if (e->message)
        return NULL;
    r->version = text_of(&root, "version");
    r->model.file = text_of(model, "file");
    r->model.parameters = int_of(member(model, "parameters"));
    r->verdict = (enum verdict)named(verdict_names, VERDICT_INCONCLUSIVE + 1, text_of(&root, "verdict"), -1);
    if (member(&root, "error")) /* a line that says that the model was refused */
        return r;
    r->peak.allocated = int_of(member(peak, "allocated"));
    r->peak.device = int_of(member(peak, "device"));
    r->peak.device_least = member(peak, "device_least") ? int_of(member(peak, "device_least")) : r->peak.device;
    r->peak.certain = int_of(member(peak, "certain"));
    r->peak.phase = (enum phase)named(phase_names, PHASE_COUNT, text_of(member(peak, "at"), "phase"), PHASE_FORWARD);
    r->peak.op = text_of(member(peak, "at"), "operator");
    for (int c = 0; c < CLASS_COUNT; c++)
        r->class_bytes[c] = int_of(member(classes, class_names[c]));
    r->peak.most = int_of(member(peak, "most"));
    r->peak.device_most = int_of(member(peak, "device_most"));
    take_doubts(&j, &root, r);
    if (r->peak.allocated < 0 || !classes || (int)r->verdict < 0)
        fault(&j, 1, "its verdict, its peak or its classes are missing");
    take_setup(&j, member(&root, "setup"), r);
    take_live(&j, &root, r);
    take_timeline(&j, member(&root, "timeline"), r);
    take_layers(&j, &root, r);
    take_findings(&j, member(&root, "findings"), r);
    take_gates(&j, member(&root, "gates"), r);
    return e->message ? NULL : r;
}

char *
stored_text(struct arena *a, const char *path, enum limit most, struct err *e)
{
    enum { PIECE = 1 << 16 };
    FILE *f = fopen(path, "r");
    char *s = NULL;
    int n = 0, cap = 0, got = f ? PIECE : 0;
    bool zero = false;
    while (got > 0 && n <= limit(most) && !zero) {
        s = arena_grow(a, s, &cap, n + PIECE + 1, 1);
        got = (int)fread(s + n, 1, PIECE, f);
        zero = memchr(s + n, '\0', (size_t)got) != NULL;
        n += got;
        s[n] = '\0';
    }
    e->file = path;
    bool ok = f && !ferror(f);
    if (!ok)
        err_set(e, a, NULL, "can't be read: %s", strerror(errno));
    else if (zero)
        ok = err_set(e, a, NULL, "no text: it holds a zero byte");
    else if (n > limit(most))
        ok = err_limit(e, a, NULL, most, "the file is too long");
    if (f)
        fclose(f);
    return ok ? s : NULL;
}

struct result *
stored_read(struct arena *a, const char *path, struct err *e)
{
    char *s = stored_text(a, path, LIMIT_BASELINE, e);
    return s ? stored_parse(a, path, s, e) : NULL;
}
