/* SPDX-License-Identifier: Apache-2.0 */
/* syntax.c - what a source line of Python says by itself.
 *
 * Lines come one by one, as the frames of a stack have them: a statement, several, or a part of one. So nothing is
 * parsed whole. What is asked for is found by its letters: where a statement or an argument ends, which names it binds
 * and to what, which variables it reads and how often, where it writes an operator or calls a function. Of graphs and
 * tensors it knows nothing but how a call is spelled.
 */
#include "program/syntax.h"

#include <ctype.h>
#include <string.h>

struct entries
python_entries(struct arena *a, const char *list, const struct entries *before)
{
    struct entries e = {.list = list ? list : "", .len = list ? strlen(list) : 0, .n = before->n};
    int cap = before->n;
    for (size_t end; e.n && ((end = before->entry[e.n - 1].end) > e.len || memcmp(e.list, before->list, end) != 0);)
        e.n--; /* mostly the last one alone */
    e.kept = e.n;
    e.entry = arena_dup(a, before->entry, sizeof(*e.entry) * (size_t)cap);
    for (const char *p = e.list + (e.n ? e.entry[e.n - 1].end : 0), *end;; p = end + 1) {
        while (*p && *p != '\'' && *p != '"') /* mostly the second or third */
            p++;
        end = *p ? strchr(p + 1, *p) : NULL;
        if (!end)
            return e;
        *PUSH(a, e.entry, e.n, cap) =
            (struct entry){arena_strn(a, p + 1, (size_t)(end - p - 1)), (size_t)(end + 1 - e.list)};
    }
}

const char *
syntax_end(const char *p)
{
    for (int open = 0; *p && (open || *p != ';'); p++)
        open += python_opens(*p);
    return p;
}

const char *
syntax_part_end(const char *p, const char *end)
{
    for (int open = 0; p < end; p++) {
        open += python_opens(*p);
        if (!open && *p == ',')
            return p + 1;
    }
    return NULL;
}

size_t
python_name(const char *p)
{
    size_t n = 0;
    while (isalnum((unsigned char)p[n]) || p[n] == '_')
        n++;
    return n;
}

/* The body of a compound statement that stands on its header's line: "for f in fs: x = f(x)"; else the statement. */
static const char *
body(const char *p)
{
    static const char *const heads[] = {"for ", "while ", "if ", "elif ", "else:", "with "};
    for (int i = 0; i < COUNT(heads); i++)
        if (strncmp(p, heads[i], strlen(heads[i])) == 0) {
            const char *colon = p;
            for (int open = 0; *colon && (open || *colon != ':'); colon++)
                open += python_opens(*colon);
            return *colon ? colon + 1 + strspn(colon + 1, " ") : p;
        }
    return p;
}

/* Behind the annotation of a name, "x: List[int] = y"; else the name. */
static const char *
annotated(const char *name, const char *end)
{
    const char *p = name + python_name(name);
    if (p == name || *p != ':')
        return name;
    for (int open = 0; p < end && (open || *p != '='); p++)
        open += python_opens(*p);
    return p;
}

/* "x=f(y), z=w" or "x=f(y),": a line inside of a call's brackets, which binds nothing. */
static bool
passes_keyword(const char *from, const char *eq, const char *end)
{
    if (from + python_name(from) != eq || eq[1] == ' ')
        return false;
    const char *next = syntax_part_end(eq + 1, end);
    next = next ? next + strspn(next, " ") : NULL;
    return next && (next >= end || (python_name(next) && next[python_name(next)] == '=' &&
                                    next[python_name(next) + 1] != '=' && next[python_name(next) + 1] != ' '));
}

/* The "=" of a statement that binds names and nothing else; NULL none. */
static const char *
equals_sign(const char *from, const char *end)
{
    const char *names = annotated(from, end);
    const char *eq = memchr(names, '=', (size_t)(end - names));
    if (!eq || eq == from || eq[1] == '=' || strchr("!<>", eq[-1]))
        return NULL;
    int open = 0; /* "(a, b), c = f(x)" */
    for (const char *p = names; p < eq; p++) {
        const bool opens = *p == '(' && (p == names || strchr("( ", p[-1]));
        open += opens - (*p == ')');
        if (!isalnum((unsigned char)*p) && !strchr("_, +-*/@)", *p) && !opens)
            return NULL;
    }
    return open || passes_keyword(names, eq, end) ? NULL : eq;
}

bool
syntax_augments(const struct bound *b)
{
    return strchr("+-*/@", b->value[-2]) != NULL;
}

/* What the value is as far as it shows. */
static void
read_value(struct bound *b)
{
    const char *value = b->value + strspn(b->value, " ");
    const size_t n = python_name(value);
    const bool all = n && !syntax_augments(b) && value + n + strspn(value + n, " ") == b->end;
    b->renamed = all ? value : NULL;
    b->nrenamed = all ? n : 0;
    b->displayed = value < b->end && strchr("([{", *value) && strchr(")]}", b->end[-1]) ? value : NULL;
}

/* "x, y = f(z), w; v = g(x)": the names that a line binds, and to what. */
static struct bound *
read_bindings(struct arena *a, const char *text, int *n)
{
    struct bound *list = NULL;
    int cap = 0;
    *n = 0;
    for (const char *p = text, *end; *p; p = *end ? end + 1 : end) {
        p = body(p + strspn(p, " "));
        end = syntax_end(p);
        const char *eq = equals_sign(p, end), *value = eq ? eq + 1 : NULL, *from = p;
        int first = *n, parts = 1, nnames = 0;
        bool star = false, chain = false; /* y = x = f(z) */
        for (; eq; from = eq + 1, eq = equals_sign(from, end)) {
            chain |= value != eq + 1;
            value = eq + 1;
            for (const char *q = from; q && q < eq; q = syntax_part_end(q, eq)) {
                q += strspn(q, " *");
                star |= q > p && q[-1] == '*';
                const char *next = syntax_part_end(q, eq);
                nnames++;
                for (const char *name = q; name < (next ? next : eq); name += strcspn(name, ",=") + 1) {
                    name += strspn(name, " *(");
                    if (python_name(name)) /* `of` is which of the names or tuples, until all are known */
                        *PUSH(a, list, *n, cap) =
                            (struct bound){arena_strn(a, name, python_name(name)), p, value, end, nnames};
                }
            }
        }
        for (const char *q = value; q && (q = syntax_part_end(q, end)); parts++)
            ;
        const bool each = parts == nnames && !star && !chain;
        for (int i = first, last; i < *n; i = last) {
            const char *next = each ? syntax_part_end(value, end) : NULL;
            for (last = i; last < *n && (!each || list[last].of == list[i].of || last == i); last++)
                ;
            for (int k = last - 1; k >= i; k--) {
                list[k].value = value;
                list[k].end = next ? next - 1 : end;
                list[k].of = last - i;
                read_value(&list[k]);
            }
            value = next ? next : value;
        }
    }
    return list;
}

const char *
syntax_stores(const char *text)
{
    const char *eq = strstr(text, "] = ");
    return eq && text[python_name(text)] == '[' && eq < syntax_end(text) && strchr(text, '=') > eq ? eq : NULL;
}

struct source
syntax_read(struct arena *a, const char *text)
{
    struct source s = {.text = text, .whole = python_complete(text), .several = strchr(text, ';')};
    s.returns = strncmp(text, "return", strlen("return")) == 0;
    if (!strstr(text, " = torch.ops.")) /* the lines of a traced graph bind names that no program has */
        s.binding = read_bindings(a, text, &s.nbindings);
    return s;
}

bool
syntax_binds(const struct source *s, const char *name)
{
    for (int i = 0; i < s->nbindings; i++)
        if (strcmp(s->binding[i].name, name) == 0)
            return true;
    return false;
}

bool
python_complete(const char *text)
{
    int open = 0;
    for (const char *p = text; *p; p++)
        open += python_opens(*p);
    return !open && *text && text[strlen(text) - 1] != '\\';
}

bool
syntax_collects(const char *text)
{
    return strstr(text, ".append(") || strstr(text, ".extend(") || strstr(text, "] = ");
}

/* The variable that the line's only statement appends to; NULL none. */
static const char *
collector(struct arena *a, const char *text)
{
    size_t n = python_name(text);
    bool appends = strncmp(text + n, ".append(", strlen(".append(")) == 0;
    return n && appends && !strchr(text, ';') ? arena_strn(a, text, n) : NULL;
}

const char *
syntax_put_into(struct arena *a, const char *text)
{
    return syntax_stores(text) ? arena_strn(a, text, python_name(text)) : collector(a, text);
}

/* What stands before that in a line, without spaces: an opening bracket where an expression begins there anew. */
static char
sign_before(const char *text, const char *p)
{
    while (p > text && p[-1] == ' ')
        p--;
    bool word = p - text >= 6 && strncmp(p - 6, "return", 6) == 0;
    return p == text || word ? '(' : p[-1];
}

/* Whether the sign there joins nothing with what follows: "f(-x)". */
static bool
alone(const char *text, const char *sign)
{
    return strchr("([{,=:;*+-/@", sign_before(text, sign));
}

struct spelling
syntax_spelling(const char *target)
{
    static const struct {
        const char *stem, *sign;
        bool alone; /* nothing before it */
    } signs[] = {{"add", "+", false}, {"sub", "-", false},   {"rsub", "-", false}, {"mul", "*", false},
                 {"div", "/", false}, {"neg", "-", true},    {"pow", "**", false}, {"gt", ">", false},
                 {"lt", "<", false},  {"matmul", "@", false}};
    const char *dot = strchr(target, '.'), *stem = dot ? dot + 1 : target;
    struct spelling s = {.stem = stem, .len = strcspn(stem, ".")};
    for (int i = 0; i < COUNT(signs); i++)
        if (*signs[i].stem == *stem && strlen(signs[i].stem) == s.len && strncmp(signs[i].stem, stem, s.len) == 0) {
            s.sign = signs[i].sign;
            s.alone = signs[i].alone;
        }
    s.width = s.sign ? strlen(s.sign) : 0;
    return s;
}

/* Where it is written next, from p on; *next is behind. NULL: no more. */
static const char *
next_written(const struct spelling *s, const char *text, const char *p, const char *end, const char **next)
{
    const char any[] = {*s->stem, '*', s->sign ? *s->sign : '\0', '\0'};
    for (size_t width; (p += strcspn(p, any)) < end; p += width) {
        bool power = *p == '*' && p[1] == '*'; /* of which each is no product */
        bool sign = s->sign && *p == *s->sign && strncmp(p, s->sign, s->width) == 0 && s->alone == alone(text, p) &&
                    !(s->alone && isdigit((unsigned char)p[1])) && (!power || s->width == 2);
        width = power ? 2 : 1;
        const bool word = p == text || (!isalnum((unsigned char)p[-1]) && p[-1] != '_'); /* no "unsqueeze" */
        if (sign || (word && *p == *s->stem && strncmp(p, s->stem, s->len) == 0 &&
                     (p[s->len] == '(' || (p[s->len] == '_' && p[s->len + 1] == '(')))) {
            *next = p + (sign ? s->width : 1);
            return p;
        }
    }
    return NULL;
}

const char *
syntax_nth(const struct spelling *s, const char *text, const char *end, int n)
{
    const char *next = text, *at = next_written(s, text, text, end, &next);
    while (at && n--)
        at = next_written(s, text, next, end, &next);
    return at;
}

static const char *
written(const char *text, const char *end, const char *target, int n)
{
    const struct spelling s = syntax_spelling(target);
    return syntax_nth(&s, text, end, n);
}

const char *
syntax_first(const char *text, const char *target)
{
    return written(text, text + strlen(text), target, 0);
}

int
syntax_count(const struct spelling *s, const char *text, const char *end)
{
    int n = 0;
    for (const char *next = text; next_written(s, text, next, end, &next);)
        n++;
    return n;
}

static int
times_written(const char *text, const char *end, const char *target)
{
    const struct spelling s = syntax_spelling(target);
    return syntax_count(&s, text, end);
}

/* Methods that make one view. */
static const char *const reshapes[] = {"aten.reshape", "aten.view", "aten.flatten", "aten.unflatten"};

int
syntax_times_made(const char *text, const char *target)
{
    const char *end = text + strlen(text);
    bool reshape = false;
    int n = 0;
    for (int i = 0; i < COUNT(reshapes); i++)
        reshape |= target_named(target, reshapes[i] + strlen("aten."));
    for (int i = 0; i < COUNT(reshapes) && reshape; i++)
        n += times_written(text, end, reshapes[i]);
    return reshape ? n : times_written(text, end, target);
}

int
python_times(const char *line, const char *target)
{
    return times_written(line, line + strlen(line), target);
}

bool
python_shares(struct arena *a, const char *line, const char *other)
{
    for (const char *open = line; (open = strchr(open, '(')); open++) {
        const char *from = open;
        while (from > line && (isalnum((unsigned char)from[-1]) || from[-1] == '_' || from[-1] == '.'))
            from--;
        if (from < open && strstr(other, arena_strn(a, from, (size_t)(open + 1 - from))))
            return true;
    }
    return false;
}

bool
python_writes(const char *line, const char *target)
{
    return syntax_first(line, target) != NULL;
}

/* Which of the operator's places in a statement runs as its n-th: "x *= y * z" assigns at the end. */
static const char *
nth_run(const char *from, const char *end, const char *target, int n, bool *assigns)
{
    int times = times_written(from, end, target);
    const char *first = written(from, end, target, 0), *eq = memchr(from, '=', (size_t)(end - from));
    bool augmented = first && eq == first + 1 && !isalpha((unsigned char)*first);
    *assigns = augmented && n == times - 1;
    return *assigns ? first : written(from, end, target, n + augmented);
}

bool
python_overwrites(const char *line, const char *target, int n)
{
    int all = times_written(line, line + strlen(line), target);
    n = all ? n % all : 0;
    for (const char *p = line, *end; *p; p = *end ? end + 1 : end) { /* statements */
        bool assigns;
        end = syntax_end(p);
        int times = times_written(p, end, target);
        const char *at = n < times ? nth_run(p, end, target, n, &assigns) : NULL;
        if (at)
            return assigns || (isalpha((unsigned char)*at) && at[strcspn(at, "(") - 1] == '_');
        n -= times;
    }
    return false;
}

const char *
syntax_next_own_call(const char *p, size_t *n)
{
    static const char self[] = "self.";
    while ((p = strstr(p, self))) {
        p += strlen(self);
        *n = python_name(p);
        if (*n && p[*n] == '(')
            return p;
    }
    return NULL;
}

bool
syntax_plain_call(const char *from, const char *end, const char *module)
{
    const char *bracket = memchr(from, '(', (size_t)(end - from)), *name = path_last(module),
               *called = bracket ? bracket - strlen(name) : from;
    int open = *name && called > from && strncmp(called, name, strlen(name)) == 0 && called[-1] == '.';
    for (const char *p = bracket + 1; open && p < end; p++) {
        open += python_opens(*p);
        if (!open)
            return p + 1 == end;
    }
    return false;
}

static unsigned
ending(const char *end)
{
    return (unsigned)(end[-1] + 5 * end[-2]) % 64;
}

uint64_t
python_endings(const char *line)
{
    uint64_t endings = 0;
    for (const char *p = line; (p = strchr(p, '(')); p++)
        endings |= p - line > 1 ? UINT64_C(1) << ending(p) : 1; /* a name of one letter: any bit */
    return endings;
}

uint64_t
python_ending(const char *name)
{
    size_t n = strlen(name);
    return n < 2 ? ~UINT64_C(0) : UINT64_C(1) << ending(name + n);
}

bool
python_may_call(uint64_t endings, const char *name)
{
    return endings & python_ending(name);
}

const char *
python_calls(const char *line, const char *name)
{
    size_t n = strlen(name);
    for (const char *p = line; n && (p = strstr(p, name)); p += n)
        if (p[n] == '(' && (p == line || (!isalnum((unsigned char)p[-1]) && p[-1] != '_')))
            return p + n + 1;
    return NULL;
}

int
python_gives(const char *line, const char *name, int k, const char *keyword)
{
    const char *p = python_calls(line, name);
    size_t n = strlen(keyword);
    if (!p || !python_complete(line))
        return -1;
    bool given = false;
    const char *arg = p;
    for (int at = 0, depth = 0; *p && depth >= 0; p++) {
        if (!depth && strchr(",)", *p)) {
            arg += strspn(arg, " ");
            const char *sign = arg + python_name(arg);
            sign += strspn(sign, " ");
            bool keyed = *sign == '=' && sign[1] != '=';
            given |= keyed ? python_name(arg) == n && strncmp(arg, keyword, n) == 0 : at == k && arg < p;
            at++;
            arg = p + 1;
        }
        depth += python_opens(*p);
    }
    return given;
}

/* "4" of a number in a subscript, "" where that is left out. */
static const char *
index_text(struct arena *a, const struct arg *n, int64_t left_out)
{
    return n->kind != ARG_INT || n->i == left_out ? "" : arena_printf(a, "%lld", (long long)n->i);
}

/* "narrow(-1, 0, 8)" of a slice, where the line writes it once; NULL it does not. */
static const char *
narrowed(struct arena *a, const struct call *c, const char *text)
{
    enum { DIM = 1, FROM, TO, ALL };
    for (int i = DIM; i < ALL; i++)
        if (c->nargs < ALL || c->args[i].kind != ARG_INT || (i > DIM && c->args[i].i < 0))
            return NULL;
    const char *piece = arena_printf(a, "narrow(%lld, %lld, %lld)", (long long)c->args[DIM].i,
                                     (long long)c->args[FROM].i, (long long)(c->args[TO].i - c->args[FROM].i)),
               *found = strstr(text, piece);
    return found && !strstr(found + 1, piece) ? found : NULL;
}

const char *
python_subscript(struct arena *a, const struct call *c, const char *text)
{
    enum { FROM = 2, TO, STEP };
    const bool slice = target_named(c->target, "slice");
    if (!(slice ? c->nargs > TO : target_named(c->target, "select") && c->nargs > FROM))
        return NULL;
    const char *piece = index_text(a, &c->args[FROM], slice ? 0 : INT64_MIN), *found = NULL;
    if (slice)
        piece = arena_printf(a, "%s:%s", piece, index_text(a, &c->args[TO], INT64_MAX));
    if (slice && c->nargs > STEP)
        piece = arena_printf(a, "%s:%s", piece, index_text(a, &c->args[STEP], 1));
    for (const char *p = text, *end; (p = strchr(p, '[')); p = end) {
        end = p + 1;
        for (size_t n; *end && *end != ']'; end += n) {
            end += strspn(end, " ,");
            n = strcspn(end, " ,]");
            if (!*piece || n != strlen(piece) || strncmp(end, piece, n) != 0)
                continue;
            if (found && found != p)
                return NULL;
            found = p;
        }
    }
    return found || !slice ? found : narrowed(a, c, text);
}

size_t
syntax_variable(const char *p)
{
    static const char *const others[] = {"self", "torch", "F",    "nn",    "math",  "np",  "return",
                                         "if",   "else",  "not",  "in",    "for",   "and", "or",
                                         "is",   "None",  "True", "False", "lambda"};
    const size_t n = isdigit((unsigned char)*p) ? 0 : python_name(p);
    bool other = p[n] == '(' || (p[n] == '=' && p[n + 1] != '=');
    for (int i = 0; i < COUNT(others) && n && !other; i++)
        other = *others[i] == *p && strlen(others[i]) == n && strncmp(others[i], p, n) == 0;
    return other ? 0 : n;
}

const char *
syntax_next_variable(const char *p, size_t *len)
{
    for (; *p; p += *len) {
        if ((*len = syntax_variable(p)))
            return p;
        if (*p == '"' || *p == '\'') {
            const char *end = strchr(p + 1, *p);
            *len = end ? (size_t)(end - p) + 1 : strlen(p);
        } else if (*p == '.') {
            *len = 1 + python_name(p + 1);
        } else if (isdigit((unsigned char)*p)) {
            for (*len = python_name(p); p[*len] == '.'; *len += python_name(p + *len))
                ++*len;
        } else {
            const size_t n = python_name(p);
            *len = n ? n : 1;
        }
    }
    return NULL;
}

bool
syntax_nested(const char *text, const char *target)
{
    const struct spelling s = syntax_spelling(target);
    const char *end = text + strlen(text), *next = text, *at = next_written(&s, text, text, end, &next), *then;
    for (; at && (then = next_written(&s, text, next, end, &next)); at = then) {
        int open = 0;
        for (const char *p = at; p < then; p++)
            open += (*p == '(') - (*p == ')');
        if (open > 0)
            return true;
    }
    return false;
}

const char *
syntax_variable_before(const char *text, const char *end, size_t *len, char *before)
{
    const char *name = end;
    while (name > text && (isalnum((unsigned char)name[-1]) || name[-1] == '_'))
        name--;
    *before = sign_before(text, name);
    *len = syntax_variable(name);
    return name < end && name + *len == end ? name : NULL;
}

const char *
syntax_behind_call(const char *p)
{
    const char *end = *p == '.' ? p + 1 + python_name(p + 1) : p;
    return end > p && end[0] == '(' && end[1] == ')' ? end + 2 : p;
}

int
syntax_among(const char *const *names, int n, const char *from, size_t len)
{
    for (int i = 0; i < n; i++)
        if (strlen(names[i]) == len && strncmp(names[i], from, len) == 0)
            return i;
    return -1;
}

/* Whether the list, tuple or dictionary that is written there has one of these names for an element. */
static bool
displays(const struct bound *b, const char *const *names, int n)
{
    const char *from = b->displayed, *end = b->end;
    for (const char *p = from ? from + 1 : NULL, *next; p; p = next) {
        next = syntax_part_end(p, end - 1);
        const char *stop = next ? next - 1 : end - 1, *key = memchr(p, ':', (size_t)(stop - p));
        p = key && *from == '{' ? key + 1 : p;
        p += strspn(p, " ");
        if (python_name(p) && p + python_name(p) == stop && syntax_among(names, n, p, python_name(p)) >= 0)
            return true;
    }
    return false;
}

int
syntax_rebind(const struct source *s, const char **names, int n, const char **end)
{
    for (int i = 0, k; i < s->nbindings && n; i = k) { /* a statement */
        const char *now[MAX_NAMES];
        int left = 0;
        for (k = i; k < s->nbindings && s->binding[k].from == s->binding[i].from; k++) {
            const struct bound *b = &s->binding[k];
            bool again = false; /* "x, x = y, z" binds x to z */
            for (int l = k + 1; l < s->nbindings && s->binding[l].from == b->from; l++)
                again |= strcmp(s->binding[l].name, b->name) == 0;
            if (left < MAX_NAMES && !again &&
                (b->renamed ? syntax_among(names, n, b->renamed, b->nrenamed) >= 0 : displays(b, names, n)))
                now[left++] = b->name;
        }
        for (int j = 0; j < n; j++) {
            bool anew = false;
            for (int l = i; l < k; l++)
                anew |= strcmp(s->binding[l].name, names[j]) == 0;
            if (!anew && left < MAX_NAMES)
                now[left++] = names[j];
        }
        memcpy(names, now, sizeof(*names) * (size_t)left);
        n = left;
        *end = s->binding[k - 1].end;
    }
    return n;
}

bool
syntax_one_call(const char *from, const char *end)
{
    int open = 0;
    for (from += strspn(from, " "); from < end && (open || !strchr("+-*/@, ;", *from)); from++)
        open += python_opens(*from);
    return from == end && !open && from[-1] == ')';
}

const char *
syntax_next_read(const struct source *s, const char *p, size_t *len)
{
    for (; (p = syntax_next_variable(p, len)); p += *len) {
        bool bound = false;
        for (int i = 0; i < s->nbindings; i++)
            bound |= p >= s->binding[i].from && p < s->binding[i].value && !syntax_augments(&s->binding[i]) &&
                     (!i || s->binding[i - 1].from != s->binding[i].from);
        if (!bound)
            return p;
    }
    return NULL;
}

const struct source *
syntax_keep(struct arena *a, const char *text)
{
    struct source *s = NEW(a, struct source);
    *s = syntax_read(a, text);
    s->endings = python_endings(text);
    size_t len;
    for (const char *p = text; (p = syntax_next_read(s, p, &len)); p += len)
        *PUSH(a, s->reads, s->nreads, s->cap_reads) = (struct name_read){p, len};
    return s;
}

bool
python_closes(struct arena *a, const char *line, const char *name)
{
    struct source s = syntax_read(a, line);
    const struct bound *last = s.nbindings ? &s.binding[s.nbindings - 1] : NULL;
    const bool alone = last && last->of == 1 && (s.nbindings == 1 || last[-1].from != last->from);
    const char *call = arena_printf(a, ".%s()", name), *from = alone ? last->value : line;
    from += strncmp(from, "return ", 7) == 0 ? 7 : strspn(from, " ");
    return string_ends(line, call) && syntax_one_call(from, line + strlen(line));
}

const char *
python_variable(struct arena *a, const char *line)
{
    struct source s = syntax_read(a, line);
    size_t len;
    const char *name = syntax_next_read(&s, line, &len);
    return name ? arena_strn(a, name, len) : NULL;
}

const char *
python_sums(const char *line)
{
    const char *sum = python_calls(line, "sum");
    return sum && (sum - line == 4 || !strchr("._", sum[-5])) ? sum : NULL;
}

bool
python_adds_on(const char *line)
{
    int open = 0;
    unsigned plus = 0; /* at each depth */
    for (const char *p = line; *p; p++) {
        const int opens = python_opens(*p);
        open += opens;
        const unsigned here = open >= 0 && open < 31 ? 1u << open : 0;
        if (*p == '+' && p[1] != '=') {
            if (plus & here)
                return true;
            plus |= here;
        } else if (strchr(",=", *p)) {
            plus &= here - 1;
        } else if (opens > 0) {
            plus &= ~here;
        }
    }
    return false;
}

bool
python_goes_on(struct arena *a, const char *line, const char *later)
{
    const struct source s = syntax_read(a, later);
    return *line && !python_complete(line) && !(s.whole && s.nbindings);
}

bool
python_binds(struct arena *a, const char *line, const char *name)
{
    const struct source s = syntax_read(a, line);
    return syntax_binds(&s, name);
}

const char *
python_operand(struct arena *a, const char *line, const char *target)
{
    const char *end = line + strlen(line),
               *at = times_written(line, end, target) == 1 ? written(line, end, target, 0) : NULL, *name = NULL;
    size_t len = 0;
    char before = '.';
    if (at && at > line && at[-1] == '.')
        name = syntax_variable_before(line, at - 1, &len, &before);
    if (name)
        return strchr(".)]", before) ? NULL : arena_strn(a, name, len);
    const char *open = at && isalpha((unsigned char)*at) ? strchr(at, '(') : NULL;
    return open && (len = syntax_variable(open + 1)) && strchr(",)", open[1 + len]) ? arena_strn(a, open + 1, len)
                                                                                    : NULL;
}

const char *
python_passed(struct arena *a, const char *line, const char *reader)
{
    struct source made = syntax_read(a, line), read = syntax_read(a, reader);
    size_t len;
    for (const char *p = reader; (p = syntax_next_read(&read, p, &len)); p += len)
        if (syntax_binds(&made, arena_strn(a, p, len)))
            return arena_strn(a, p, len);
    return NULL;
}

int
syntax_mentions(const struct source *s, const char *name)
{
    size_t len, all = strlen(name);
    int n = 0;
    for (int i = 0; i < s->nreads; i++)
        n += s->reads[i].len == all && memcmp(s->reads[i].at, name, all) == 0;
    for (const char *p = !s->reads && strstr(s->text, name) ? s->text : ""; (p = syntax_next_read(s, p, &len));
         p += len)
        n += len == all && memcmp(p, name, len) == 0;
    return n;
}

const char *
syntax_place(struct arena *a, const char *line, const struct call *c, int n)
{
    const char *end = line + strlen(line);
    const int times = times_written(line, end, c->target);
    for (int i = 0; i < COUNT(reshapes) && !times && syntax_times_made(line, c->target) == 1; i++)
        if (times_written(line, end, reshapes[i]))
            return written(line, end, reshapes[i], 0);
    if (!times)
        return python_subscript(a, c, line);
    return n < times && !syntax_nested(line, c->target) ? written(line, end, c->target, n) : NULL;
}

const char *
python_brackets_end(const char *at)
{
    int open = 0;
    at += strcspn(at, "([");
    do
        open += python_opens(*at);
    while (*at && (at++, open));
    return open ? NULL : at;
}

bool
syntax_is_element(const char *name, size_t len)
{
    return name[len] == '[' && name[len + 1 + python_name(name + len + 1)] == ']';
}

bool
syntax_bound_last(const struct source *s, const struct bound *b)
{
    const struct bound *last = &s->binding[s->nbindings - 1];
    return last->from > b->end && !*last->end && strcmp(last->name, b->name) == 0;
}

const char *
syntax_list_before(struct arena *a, const char *text, const char *end)
{
    const char *open = end - 1, *name;
    if (end == text || *open != ']')
        return NULL;
    while (open > text && *open != '[')
        open--;
    for (name = open; name > text && (isalnum((unsigned char)name[-1]) || name[-1] == '_');)
        name--;
    const size_t number = strspn(open + 1, "-0123456789"), len = syntax_variable(name);
    return len && name + len == open && open + 1 + number == end - 1 ? arena_strn(a, name, len) : NULL;
}

bool
syntax_writes_parts(const char *text)
{
    return strstr(text, "chunk(") || strstr(text, "split(");
}

const char *
syntax_parting(struct arena *a, const char *text)
{
    const char *found = NULL;
    for (const char *p = text, *end; *p; p = *end ? end + 1 : end) {
        end = syntax_end(p += strspn(p, " "));
        const char *statement = arena_strn(a, p, (size_t)(end - p));
        if (syntax_writes_parts(statement) && found)
            return NULL;
        found = syntax_writes_parts(statement) ? statement : found;
    }
    return found;
}

bool
syntax_adds_variable(const char *text)
{
    const char *sum = python_sums(text);
    return sum && syntax_variable(sum) && sum[syntax_variable(sum)] == ')';
}

const char *
syntax_stored(const char *text, const char *list, size_t *size)
{
    const char *eq = syntax_stores(text), *next;
    const size_t n = strlen(list);
    for (const char *p = text; eq && p; p = next ? next + strspn(next, " ") : NULL) {
        next = syntax_part_end(p, eq + 1);
        *size = (size_t)((next ? next - 1 : eq + 1) - p);
        if (python_name(p) == n && strncmp(p, list, n) == 0)
            return p;
    }
    return NULL;
}

bool
syntax_reads_element(const struct source *s, const char *list)
{
    size_t n = strlen(list), len;
    for (const char *p = s->text; (p = syntax_next_read(s, p, &len)); p += len)
        if (len == n && strncmp(p, list, n) == 0 && syntax_is_element(p, len) && !isdigit((unsigned char)p[len + 1]))
            return true;
    return false;
}

int
python_most(const char *line)
{
    int n = 0, subscript = 0;
    for (const char *p = line; *(p += strcspn(p, "([+-*/@<>&|^~%],")); p++) {
        const char before = p > line ? p[p > line + 1 && p[-1] == ' ' ? -2 : -1] : '(';
        const bool list = *p == '[' && strchr("([,=", before), number = *p == '-' && strchr("([,:=", before);
        subscript += (*p == '[') - (*p == ']');
        n += (strchr("([+-*/@<>&|^~%", *p) && !list && !(number && isdigit((unsigned char)p[1]))) ||
             (*p == ',' && subscript > 0);
    }
    return n;
}

const char *
syntax_attribute(struct arena *a, const char *line, bool *several, bool *last)
{
    static const char self[] = "self.";
    const char *eq = strchr(line, '=');
    bool binds = eq && eq > line && eq[1] != '=' && !strchr("=!<>+-*/%@&|^:", eq[-1]) &&
                 strcspn(line, "([{") > (size_t)(eq - line);
    for (const char *p = line; binds && (p = strstr(p, self)) && p < eq; p++) {
        size_t n = python_name(p + strlen(self));
        const char *end = p + strlen(self) + n, *next = end + strspn(end, " ");
        if (!n || (next != eq && *next != ','))
            continue;
        const char *comma = strchr(line, ',');
        *several = comma && comma < eq;
        *last = next == eq;
        return arena_strn(a, p + strlen(self), n);
    }
    return NULL;
}

bool
syntax_goes_on(const struct bound *b)
{
    const char *p = b->value + strspn(b->value, " ");
    char last = 0;
    for (int open = 0; p < b->end && (open || python_name(p) || strchr(".([", *p)); p++) {
        open += python_opens(*p);
        last = *p;
    }
    return syntax_augments(b) || p < b->end || last != ')';
}

bool
syntax_takes_tensor(const struct source *s, const char *name)
{
    size_t len, all = strlen(name);
    const char *p = s->text;
    while ((p = syntax_next_read(s, p, &len)) && (len != all || memcmp(p, name, all) != 0))
        p += len;
    const char *behind = p ? p + len + strspn(p + len, " ") : "";
    return *behind && strchr("),*/@-", *behind) && strchr("(,=/@-", sign_before(s->text, p));
}
