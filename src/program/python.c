/* SPDX-License-Identifier: Apache-2.0 */
/* python.c - how long the names of the traced program hold a tensor.
 *
 * Every call carries the Python frames it ran in, with their source lines and modules. Where the frames of a value's
 * maker and of its reader first differ tells who held the value in between:
 *
 *   - only by the line: it was a local of that frame; its name stands before the "=" of the maker's line. It lives
 *     until another statement has bound the name anew, or until the frame returns. What was appended to a list lives
 *     as long as the list's name, else until the frame returns.
 *     A reader whose line does not mention the name read it under another, which lines without calls gave it (a
 *     tuple that grew, an alias); a maker's line that is part of a statement of several has no name either. Then it is
 *     one of those in the reader's line that no line was seen to bind.
 *     Which variables a line's operands are tells more (sights): a name that holds another tensor holds this no longer.
 *   - otherwise it was passed on without a name: as an argument it lives until the reader's function returns.
 *
 * A frame is told from another one of the same function by its module: each forward() of the stack belongs to one
 * entry of the module path.
 *
 * Of the same lines are the calls of torch.utils.checkpoint, and what runs under them.
 *
 * Files without stacks (TorchScript's) have the names of modules alone: what was made outside of a module and is read
 * in it was its argument. Of locals they say nothing: with `locals` each tensor has a name, until its statement runs
 * again, which is the most that they can hold.
 */
#include "program/program.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

struct bound { /* a name that a line binds */
    const char *name;
    const char *from, *value, *end; /* the statement; to what, a part of the line's text */
    int of;                         /* how many names share the value */
    const char *renamed;            /* the variable that is all of the value, "y = x"; NULL none */
    size_t nrenamed;
    const char *displayed; /* the bracket where the value begins that is a list, tuple or dictionary; NULL none */
};

struct spot {            /* a frame of a call */
    int where, function; /* file, function and module, as a number; without the module */
    int line;
    struct path *path; /* it and the frames around it */
    const char *text;
    const char *calls; /* the module that it calls there; "" none */
    unsigned inners;   /* that the line calls, as bits; of frames alone */
    bool whole;        /* the line is all of a statement, as far as brackets tell */
    bool returns;      /* what runs next at its level is of the next time that the function runs */
    bool several;      /* statements, as far as a ";" tells */
    bool library;      /* its file is an installed package's; of frames alone, as the next one */
    bool traced;       /* it is a line of a traced graph's code */
    bool states;       /* the line takes what lies between a module's layers */
    int nbindings;
    const struct bound *binding;
    int nreads, cap_reads;
    struct name_read {
        const char *at;
        size_t len;
    } * reads; /* that it reads, in order; of frames alone */
};

struct path { /* a frame in the frames around it: equal ones are one */
    int where, line;
    struct path *inside, *next; /* frames in it; of the same frame around */
};

struct stack {
    int n;
    struct spot *at;
    int *end;      /* per frame the last call before it returns */
    int *line_end; /* and before that the line's last; -1 not known yet */
    bool borrowed; /* of a call that was lost, where it may have run */
};

struct frames { /* of a program's calls and of its copies', each read once */
    struct arena *a;
    struct names *codes, *places;
    struct code { /* a frame's, whatever its module */
        struct spot spot;
        const char *function; /* and its file */
    } * code;
    struct path paths; /* around all */
    int n, cap, nplaces;
    char *key;
    int cap_key;
    int nlast, cap_last;
    struct frame { /* of the stack that was parsed last: the next one begins like it */
        const char *text, *module;
        size_t size; /* with what ends it, a new line or the stack's end */
        bool forward;
        struct spot spot;
    } * last;
    int nread, cap_read;
    struct reading { /* by the texts' addresses: calls have them in common */
        const char *stack, *scopes;
        struct stack read;
    } * reading;           /* open addressing, cap_read is a power of two */
    struct frames *before; /* of the file's first program, which outlives this one; NULL none */
};

struct round { /* of a loop whose body is one line: the call's, which is the line's frame and where it ends */
    int level, end;
    const struct round *outer; /* of a loop around it */
};

struct tracer {
    const struct program *p;
    struct arena *a;
    struct stack *stacks; /* per call */
    struct round *rounds; /* per call */
    struct sights {       /* of names, by what a call's line writes */
        int n, cap;
        struct sight {
            const char *name;
            int slot;
        } * of;
    } * *sights; /* per call and frame */
    int *object; /* per slot, the one that it was before it was written in place */
    int *maker;  /* per slot, a call or -1 */
    int slot;    /* whose names are looked for */
    int steps;
    struct {
        int from, user, level;
    } apart; /* what runs_apart was asked last: it is asked several times for a tensor and its reader */
};

struct frames *
frames_new(struct arena *a, struct frames *before)
{
    struct frames *f = NEW(a, struct frames);
    f->a = a;
    f->before = before;
    f->codes = names_new(a);
    f->places = names_new(a);
    return f;
}

static struct tracer
tracer_new(const struct program *p)
{
    return (struct tracer){.p = p, .a = arena_new(), .slot = -1, .apart.from = -1};
}

const char *
python_entry(const char **list, size_t *len)
{
    const char *p = *list ? *list : "", *end;
    while (*p && *p != '\'' && *p != '"') /* mostly the second or third */
        p++;
    end = *p ? strchr(p + 1, *p) : NULL;
    *list = end ? end + 1 : NULL;
    *len = end ? (size_t)(end - p - 1) : 0;
    return end ? p + 1 : NULL;
}

/* The entries of a Python list of strings. */
static const char **
scope_list(struct arena *a, const char *list, int *n)
{
    const char **out = NULL, *s;
    int cap = 0;
    for (size_t len; (s = python_entry(&list, &len));)
        *PUSH(a, out, *n, cap) = arena_strn(a, s, len);
    return out;
}

/* Where the statement ends that begins there. */
static const char *
statement_end(const char *p)
{
    for (int open = 0; *p && (open || *p != ';'); p++)
        open += python_opens(*p);
    return p;
}

/* Behind the comma that parts what begins there from what follows; NULL none. */
static const char *
part_end(const char *p, const char *end)
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
    const char *next = part_end(eq + 1, end);
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
    for (const char *p = names; p < eq; p++)
        if (!isalnum((unsigned char)*p) && !strchr("_, +-*/@", *p))
            return NULL;
    return passes_keyword(names, eq, end) ? NULL : eq;
}

/* "x += y" reads what it binds. */
static bool
augments(const struct bound *b)
{
    return strchr("+-*/@", b->value[-2]) != NULL;
}

/* What the value is as far as it shows. */
static void
read_value(struct bound *b)
{
    const char *value = b->value + strspn(b->value, " ");
    const size_t n = python_name(value);
    const bool all = n && !augments(b) && value + n + strspn(value + n, " ") == b->end;
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
        end = statement_end(p);
        const char *eq = equals_sign(p, end), *value = eq ? eq + 1 : NULL, *from = p;
        int first = *n, parts = 1;
        bool star = false, chain = false; /* y = x = f(z) */
        for (; eq; from = eq + 1, eq = equals_sign(from, end)) {
            chain |= value != eq + 1;
            value = eq + 1;
            for (const char *q = from; q && q < eq; q = part_end(q, eq)) {
                q += strspn(q, " *");
                star |= q > p && q[-1] == '*';
                if (python_name(q))
                    *PUSH(a, list, *n, cap) = (struct bound){arena_strn(a, q, python_name(q)), p, value, end, 1};
            }
        }
        for (const char *q = value; q && (q = part_end(q, end)); parts++)
            ;
        bool each = parts == *n - first && !star && !chain;
        for (int i = first; i < *n; i++) {
            const char *next = each ? part_end(value, end) : NULL;
            list[i].value = value;
            list[i].end = next ? next - 1 : end;
            list[i].of = each ? 1 : *n - first;
            read_value(&list[i]);
            value = next ? next : value;
        }
    }
    return list;
}

/* The "] = " of a line that stores in a list or a dictionary, "x[i] = f(y)"; NULL none. */
static const char *
stores(const char *text)
{
    const char *eq = strstr(text, "] = ");
    return eq && text[python_name(text)] == '[' && eq < statement_end(text) && strchr(text, '=') > eq ? eq : NULL;
}

/* The lines of a traced graph bind names that no program has. */
static struct spot
read_line(struct arena *a, const char *text)
{
    struct spot s = {.text = text, .whole = python_complete(text), .several = strchr(text, ';')};
    s.returns = strncmp(text, "return", strlen("return")) == 0;
    if (!strstr(text, " = torch.ops."))
        s.binding = read_bindings(a, text, &s.nbindings);
    return s;
}

static bool
binds(const struct spot *s, const char *name)
{
    for (int i = 0; i < s->nbindings; i++)
        if (strcmp(s->binding[i].name, name) == 0)
            return true;
    return false;
}

int
python_frame_line(const char *frame)
{
    static const char mark[] = "\", line ";
    const char *at = strstr(frame, mark);
    return at ? atoi(at + strlen(mark)) : 0;
}

static int
place_number(struct frames *f, const char *place)
{
    int number = names_find(f->places, place);
    if (number < 0 && f->before)
        number = names_find(f->before->places, place);
    if (number < 0) {
        number = 2 * f->nplaces++ + (f->before != NULL); /* apart from those before */
        names_put(f->places, arena_str(f->a, place), number);
    }
    return number;
}

/* Paths are the first program's, which outlives the others. */
static struct path *
path_in(struct frames *f, struct path *around, const struct spot *s)
{
    f = f->before ? f->before : f;
    struct path **at = around ? &around->inside : &f->paths.inside;
    while (*at && ((*at)->where != s->where || (*at)->line != s->line))
        at = &(*at)->next;
    if (!*at) {
        *at = NEW(f->a, struct path);
        (*at)->where = s->where;
        (*at)->line = s->line;
    }
    return *at;
}

static const char *next_name_read(const struct spot *s, const char *p, size_t *len);
static const char *next_frame(struct arena *a, const char **at, const char **text);
static int mentions(const struct spot *s, const char *name);
static unsigned inners_in(const char *text);

/* Whether it is one of a traced graph's code. */
static bool
is_traced(const char *frame)
{
    static const char begin[] = "File \"<eval_with_key>";
    return strncmp(frame, begin, strlen(begin)) == 0;
}

/* The first bytes of one text, a space and another text, until the next two. */
static const char *
joined(struct frames *f, const char *text, size_t n, const char *more)
{
    const size_t m = strlen(more) + 1;
    f->key = arena_grow(f->a, f->key, &f->cap_key, (int)(n + 1 + m), 1);
    memcpy(f->key, text, n);
    f->key[n] = ' ';
    memcpy(f->key + n + 1, more, m);
    return f->key;
}

/* What a frame says in whatever module. */
static struct code
read_spot(struct frames *f, const char *frame, const char *end)
{
    const size_t n = (size_t)(end - frame);
    const char *text = memchr(frame, '\n', n), *line = strstr(frame, "\", line "), *in = strstr(line, ", in ");
    const char *function = arena_printf(f->a, "%.*s %.*s", (int)(line - frame), frame, (int)(text - in), in);
    text += 1 + strspn(text + 1, " ");
    struct spot spot = read_line(f->a, arena_strn(f->a, text, (size_t)(end - text)));
    spot.line = python_frame_line(frame);
    spot.library = strstr(function, "site-packages/");
    spot.traced = is_traced(frame);
    spot.states = strstr(spot.text, "output_hidden_states=True") || strstr(spot.text, ".hidden_states");
    spot.function = place_number(f, function);
    spot.inners = inners_in(spot.text);
    size_t len;
    for (const char *p = spot.text; (p = next_name_read(&spot, p, &len)); p += len)
        *PUSH(f->a, spot.reads, spot.nreads, spot.cap_reads) = (struct name_read){p, len};
    return (struct code){spot, function};
}

/* The frame whose text ends there, in a function of that module. */
static struct spot
frame_spot(struct frames *f, const char *frame, const char *end, const char *module)
{
    const char *key = joined(f, frame, (size_t)(end - frame), "");
    const struct code *own = NULL;
    for (const struct frames *of = f; of && !own; of = of->before) {
        int at = names_find(of->codes, key);
        own = at < 0 ? NULL : &of->code[at];
    }
    if (!own) {
        names_put(f->codes, arena_str(f->a, key), f->n);
        own = PUSH(f->a, f->code, f->n, f->cap);
        f->code[f->n - 1] = read_spot(f, frame, end);
    }
    struct spot spot = own->spot;
    spot.where = place_number(f, joined(f, own->function, strlen(own->function), module));
    return spot;
}

/* What the text there says of a frame, without its module; false: it is none. */
static bool
read_frame(struct frame *to, const char *p)
{
    const char *end = strchr(p, '\n'), *line = strstr(p, "\", line "), *in = line ? strstr(line, ", in ") : NULL;
    if (!end || !in || in > end)
        return false;
    *to = (struct frame){.text = p, .size = (size_t)(end + 1 + strcspn(end + 1, "\n") - p) + 1};
    to->forward = strncmp(in, ", in forward\n", 13) == 0;
    return true;
}

static struct stack
parse_stack(struct frames *f, const struct call *c)
{
    struct stack s = {0};
    int n = 0, depth = 0, cap = 0;
    const char **scope = scope_list(f->a, c->scopes, &n), *end;
    int nscopes = n - 1; /* the last entry is the call itself */
    for (const char *p = c->stack; (p = python_frame(p)); p = end) {
        struct frame read, *own = s.n < f->nlast ? &f->last[s.n] : NULL;
        if (!own || strncmp(own->text, p, own->size) != 0) {
            if (!read_frame(&read, p))
                break;
            f->nlast = s.n;
            own = PUSH(f->a, f->last, f->nlast, f->cap_last);
            *own = read;
        }
        end = p + own->size - 1;
        depth += own->forward;
        const char *module = nscopes < 1 ? "" : scope[depth < 1 ? 0 : depth <= nscopes ? depth - 1 : nscopes - 1];
        if (!own->module || strcmp(own->module, module) != 0) {
            own->spot = frame_spot(f, p, end, module);
            own->module = module;
        }
        struct spot *spot = PUSH(f->a, s.at, s.n, cap);
        *spot = own->spot;
        spot->path = path_in(f, s.n > 1 ? spot[-1].path : NULL, spot);
        spot->calls = depth < nscopes ? scope[depth] : "";
    }
    return s;
}

/* Where the stack with these texts stands or would stand. */
static struct reading *
reading_at(const struct frames *f, const char *stack, const char *scopes)
{
    uint64_t h = ((uint64_t)(uintptr_t)stack ^ (uint64_t)(uintptr_t)scopes << 17) * UINT64_C(0x9e3779b97f4a7c15);
    int at = (int)(h >> 33 & (uint64_t)(f->cap_read - 1));
    while (f->reading[at].stack && (f->reading[at].stack != stack || f->reading[at].scopes != scopes))
        at = (at + 1) & (f->cap_read - 1);
    return &f->reading[at];
}

static struct stack
read_stack(struct tracer *t, const struct call *c)
{
    struct frames *f = t->p->frames;
    if (!c->stack)
        return (struct stack){0};
    const struct reading *before = f->before && f->before->nread ? reading_at(f->before, c->stack, c->scopes) : NULL;
    if (before && before->stack)
        return before->read;
    if (2 * f->nread >= f->cap_read) {
        struct frames grown = *f;
        grown.cap_read = f->cap_read ? 2 * f->cap_read : 256;
        grown.reading = NEWN(f->a, struct reading, grown.cap_read);
        for (int i = 0; i < f->cap_read; i++)
            if (f->reading[i].stack)
                *reading_at(&grown, f->reading[i].stack, f->reading[i].scopes) = f->reading[i];
        *f = grown;
    }
    struct reading *r = reading_at(f, c->stack, c->scopes);
    if (!r->stack) {
        *r = (struct reading){c->stack, c->scopes, parse_stack(f, c)};
        f->nread++;
    }
    return r->read;
}

/* The innermost frame of a call; NULL none. */
static const struct spot *
innermost(struct tracer *t, const struct call *c)
{
    const struct stack s = read_stack(t, c);
    return s.n ? &s.at[s.n - 1] : NULL;
}

static void
read_stacks(struct tracer *t)
{
    t->stacks = NEWN(t->a, struct stack, t->p->ncalls + 1);
    for (int i = 0; i < t->p->ncalls; i++)
        t->stacks[i] = read_stack(t, &t->p->calls[i]);
}

static bool
same_spot(const struct spot *a, const struct spot *b)
{
    return a->where == b->where && a->line == b->line;
}

/* The level at which two stacks first differ. */
static int
parting(const struct stack *a, const struct stack *b)
{
    int j = a->n < b->n ? a->n : b->n;
    while (j > 0 && a->at[j - 1].path != b->at[j - 1].path)
        j--;
    return j;
}

/* Whether the other call runs in the frame that is at `level` of s. */
static bool
inside(const struct stack *s, int level, const struct stack *other)
{
    return other->n > level && other->at[level].where == s->at[level].where &&
           (level < 1 || other->at[level - 1].path == s->at[level - 1].path);
}

bool
python_complete(const char *text)
{
    int open = 0;
    for (const char *p = text; *p; p++)
        open += python_opens(*p);
    return !open && *text && text[strlen(text) - 1] != '\\';
}

static bool
collects(const char *text)
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

/* What the line stores or appends in: a list, a dictionary or a tensor; NULL none. */
static const char *
put_into(struct arena *a, const char *text)
{
    return stores(text) ? arena_strn(a, text, python_name(text)) : collector(a, text);
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

/* What a line writes for an operator: "aten.add.Tensor" is "add(", "add_(" or " + ". */
struct spelling {
    const char *stem, *sign;
    size_t len, width;
    bool alone; /* nothing stands before the sign */
};

static struct spelling
spelling_of(const char *target)
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

/* Where a part of a line writes an operator for the n-th time; NULL not so often. */
static const char *
nth_written(const struct spelling *s, const char *text, const char *end, int n)
{
    const char *next = text, *at = next_written(s, text, text, end, &next);
    while (at && n--)
        at = next_written(s, text, next, end, &next);
    return at;
}

static const char *
written(const char *text, const char *end, const char *target, int n)
{
    const struct spelling s = spelling_of(target);
    return nth_written(&s, text, end, n);
}

static int
count_written(const struct spelling *s, const char *text, const char *end)
{
    int n = 0;
    for (const char *next = text; next_written(s, text, next, end, &next);)
        n++;
    return n;
}

static int
times_written(const char *text, const char *end, const char *target)
{
    const struct spelling s = spelling_of(target);
    return count_written(&s, text, end);
}

/* What makes a reshape, too. */
static const char *const reshapes[] = {"aten.view", "aten.flatten", "aten.unflatten"};

/* As times_written, of whatever methods make such a call. */
static int
times_made(const char *text, const char *end, const char *target)
{
    int n = times_written(text, end, target);
    for (int i = 0; i < COUNT(reshapes) && target_named(target, "reshape"); i++)
        n += times_written(text, end, reshapes[i]);
    return n;
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
    return written(line, line + strlen(line), target, 0) != NULL;
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
        end = statement_end(p);
        int times = times_written(p, end, target);
        const char *at = n < times ? nth_run(p, end, target, n, &assigns) : NULL;
        if (at)
            return assigns || (isalpha((unsigned char)*at) && at[strcspn(at, "(") - 1] == '_');
        n -= times;
    }
    return false;
}

/* Whether the line returned, and the next one is of another run of its function. */
static bool
returned(const struct spot *s, const struct spot *next)
{
    return s->returns && (next->line < s->line || (next->line > s->line && s->whole));
}

static bool
same_call(const struct tracer *t, int i, int j)
{
    const struct stack *a = &t->stacks[i], *b = &t->stacks[j];
    return a->n == b->n && (!a->n || a->at[a->n - 1].path == b->at[b->n - 1].path) &&
           strcmp(t->p->calls[i].target, t->p->calls[j].target) == 0;
}

/* Whether one call is all that the line of call i returns, and call next runs that line again: "x[0], x[1]" says that
 * of no view. */
static bool
returned_same(const struct tracer *t, int level, int i, int next)
{
    const struct spot *s = &t->stacks[i].at[level];
    const char *target = t->p->calls[i].target;
    return !t->stacks[i].borrowed && s->returns && s->whole && !strstr(s->text, " for ") && same_call(t, i, next) &&
           t->stacks[i].n == level + 1 && python_times(s->text, target) == 1 &&
           !(target_is(target, TARGET_VIEWS) && strchr(s->text, '['));
}

/* The last call before the frame of call i at that level returns. */
static int
frame_end(struct tracer *t, int level, int i)
{
    const struct stack *s = &t->stacks[i];
    const struct spot *line = &s->at[level];
    int last = i;
    for (int k = i + 1; k < t->p->ncalls && t->steps++ < limit(LIMIT_FRAMES); k++) {
        const struct stack *next = &t->stacks[k];
        bool here = !next->n || inside(s, level, next);
        if (!next->n || next->borrowed || t->p->calls[k].anew) {
            last = here ? k : last;
            continue;
        }
        if (!here || (level > 0 && (returned(line, &next->at[level]) || returned_same(t, level, i, k))))
            break;
        return next->end[level];
    }
    return last;
}

static void
read_ends(struct tracer *t)
{
    for (int i = t->p->ncalls - 1; i >= 0; i--) {
        struct stack *s = &t->stacks[i];
        s->end = NEWN(t->a, int, 2 * s->n + 1);
        s->line_end = s->end + s->n;
        memset(s->line_end, -1, sizeof(int) * (size_t)s->n);
        for (int level = 0; level < s->n; level++)
            s->end[level] = frame_end(t, level, i);
    }
}

/* Whether calls i to i + size - 1 ran `times` over, and the line did not write them so often. What modules called is
 * behind a bracket of the line; an operator that it writes under another name tells nothing. */
static bool
runs_over(const struct tracer *t, int level, int i, int size, int times)
{
    const char *text = t->stacks[i].at[level].text;
    for (int k = i; k < i + size; k++) {
        int count = 0, written = 0;
        for (int l = i; l < i + size; l++)
            count += strcmp(t->p->calls[l].target, t->p->calls[k].target) == 0;
        if (t->stacks[k].n > level + 1)
            for (const char *p = text; *p; p++)
                written += *p == '(';
        else
            written = times_written(text, text + strlen(text), t->p->calls[k].target);
        if (written > 0 && count * times > written)
            return true;
    }
    return false;
}

/* How often a line runs call i, as it and the lines of the frames in it write it. */
static int
times_run(const struct tracer *t, int level, int i)
{
    const struct stack *s = &t->stacks[i];
    const char *text = s->at[s->n - 1].text, *p;
    int all = times_written(text, text + strlen(text), t->p->calls[i].target);
    for (int l = level; l < s->n - 1; l++) {
        const char *module = path_last(s->at[l].calls);
        int n = 0;
        for (p = s->at[l].text; *module && (p = python_calls(p, module)); n++)
            ;
        all *= n ? n : 1;
    }
    return all;
}

/* Whether the line runs call i more often than these calls are it. */
static bool
part_of_round(const struct tracer *t, int level, int i, int size)
{
    int n = 0;
    for (int k = i; k < i + size; k++)
        n += same_call(t, k, i);
    return times_run(t, level, i) > n;
}

/* What a line calls next of its module, "encode" of "self.encode(x)", from p on. NULL no more. */
static const char *
next_own_call(const char *p, size_t *n)
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

static bool
is_last(const char *path, const char *name, size_t n)
{
    const char *last = path_last(path);
    return strlen(last) == n && strncmp(last, name, n) == 0;
}

/* Whether the line calls a function of the module's own class, "x = self.encode(x)": none of the modules that calls i
 * to j - 1 run has that name. */
static bool
calls_method(const struct tracer *t, int level, int i, int j)
{
    size_t n;
    for (const char *p = t->stacks[i].at[level].text; (p = next_own_call(p, &n)); p += n) {
        bool module = false;
        for (int k = i; k < j && !module; k++)
            module = is_last(t->stacks[k].at[level].calls, p, n);
        if (!module)
            return true;
    }
    return false;
}

/* Lines of outer frames come first. */
static void
set_round(struct tracer *t, int i, int level, int end)
{
    struct round *r = &t->rounds[i];
    const struct round *outer = r->level < 0 ? NULL : r->level == level ? r->outer : arena_dup(t->a, r, sizeof(*r));
    *r = (struct round){level, end, outer};
}

static const struct round *
round_at(const struct tracer *t, int i, int level)
{
    const struct round *r = &t->rounds[i];
    while (r && r->level != level)
        r = r->outer;
    return r;
}

/* Whether calls i to j - 1 are of more modules, one after another, than the line writes calls: "x = layer(x)". Each is
 * a round, with what the line itself does behind it; or those up to the next of the first one's list: "x = conv(x) +
 * skip(x)" of two lists. */
static bool
find_modules(struct tracer *t, int level, int i, int j)
{
    const struct spot *s = &t->stacks[i].at[level];
    int modules = 0, written = 0;
    const char *module = "";
    bool lists = false;
    for (int k = i; k < j; k++) {
        const char *calls = t->stacks[k].at[level].calls;
        modules += *calls && strcmp(calls, module) != 0;
        module = *calls ? calls : module;
    }
    for (const char *p = s->text; *p && modules > 1; p++)
        written += p[1] == '(' && (isalnum((unsigned char)*p) || *p == '_' || *p == ')' || *p == ']');
    if ((!s->nbindings && !stores(s->text)) || !*s->calls || modules < 2 || modules <= written ||
        strstr(s->text, " for ") || calls_method(t, level, i, j))
        return false;
    for (int k = i; k < j && !lists; k++)
        lists = path_number(s->calls, t->stacks[k].at[level].calls) != NULL;
    for (int k = i, first = i; k < j; k++) {
        const char *calls = t->stacks[k].at[level].calls, *next = k + 1 < j ? t->stacks[k + 1].at[level].calls : "";
        module = *calls ? calls : module;
        if (k + 1 < j && (!*next || strcmp(next, module) == 0 || (lists && !path_number(s->calls, next))))
            continue;
        for (; first <= k; first++)
            set_round(t, first, level, k);
    }
    return true;
}

/* Whether the text is one call of that module: "self.module(...)". */
static bool
plain_call(const char *from, const char *end, const char *module)
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

/* Whether the call is all that a module of PyTorch's own does, and the line calls that: "x = self.fc(x[:, 1:])". */
static bool
is_layer(const struct tracer *t, int level, int i)
{
    const struct stack *s = &t->stacks[i];
    return s->n == level + 2 && *s->at[level].calls && python_writes(s->at[level + 1].text, t->p->calls[i].target) &&
           !strstr(s->at[level].text, " for ") && python_in_torch(t->p->calls[i].stack);
}

/* Whether the line, of calls i to j - 1, writes this one once and runs it several times. */
static bool
runs_again(const struct tracer *t, int level, int i, int j, int one)
{
    const struct spot *s = &t->stacks[one].at[level];
    const char *target = t->p->calls[one].target;
    int times = 0, calls = 0;
    size_t n;
    for (int k = i; k < j; k++)
        times += same_call(t, k, one);
    if (times < 2)
        return false;
    if (!is_layer(t, level, one))
        return t->stacks[one].n == level + 1 && times_made(s->text, s->text + strlen(s->text), target) == 1 &&
               python_times(s->text, target) == 1;
    for (const char *p = s->text; (p = next_own_call(p, &n)); p += n)
        calls += is_last(s->calls, p, n);
    return calls == 1;
}

/* Whether a round, of functions that the line calls, reads what the one before made, and the line reads no name that it
 * binds: the loop is in one of those. */
static bool
flows_unnamed(const struct tracer *t, int level, int i, int j, int size)
{
    const struct spot *s = &t->stacks[i].at[level];
    bool named = !s->nbindings || t->stacks[i].n == level + 1, flows = false;
    for (int k = 0; k < s->nbindings; k++)
        named |= mentions(s, s->binding[k].name) > 0;
    for (int k = i + size, slot; k < j && !named && !flows; k++)
        for (struct call_reads r = {&t->p->calls[k]}; !flows && (slot = next_read(&r)) >= 0;)
            flows = t->maker[slot] >= i && t->maker[slot] < i + (k - i) / size * size;
    return flows;
}

/* Calls i to j - 1 stand on one line, in the frame at that level. Where they are some calls over and over, more often
 * than the line writes them, it is the body of a loop. */
static void
find_rounds(struct tracer *t, int level, int i, int j)
{
    enum { LONGEST = 32 };
    const struct spot *s = &t->stacks[i].at[level];
    for (int size = 1; size <= LONGEST && 2 * size <= j - i; size++) {
        int k = i;
        if ((j - i) % size)
            continue;
        while (k + size < j && same_call(t, k, k + size))
            k++;
        t->steps += k - i;
        if (k + size < j || part_of_round(t, level, i, size))
            continue;
        if ((!s->nbindings && !stores(s->text)) || !runs_over(t, level, i, size, (j - i) / size) ||
            flows_unnamed(t, level, i, j, size))
            return;
        for (k = i; k < j; k++)
            set_round(t, k, level, i + (k - i) / size * size + size - 1);
        return;
    }
    if (find_modules(t, level, i, j))
        return;
    const char *last = written(s->text, s->text + strlen(s->text), t->p->calls[j - 1].target, 0);
    if (!s->nbindings)
        return;
    const struct bound *b = s->binding;
    bool called = is_layer(t, level, j - 1) ? plain_call(b->value, b->end, t->stacks[j - 1].at[level].calls)
                                            : last && isalpha((unsigned char)*last);
    if (called && runs_again(t, level, i, j, j - 1)) {
        for (int k = i, first = i; k < j; k++) /* rounds that differ, as the first one often does, end alike */
            for (; same_call(t, k, j - 1) && first <= k; first++)
                set_round(t, first, level, k);
    } else if (s->whole && !strstr(s->text, " for ") && runs_again(t, level, i, j, i) &&
               !target_is(t->p->calls[i].target, TARGET_VIEWS | TARGET_REORDERS)) {
        for (int k = j - 1, end = j - 1; k >= i; k--) /* or begin so: views of what is so already are left out */
            for (int first = end; same_call(t, k, i) && end >= k; end--)
                set_round(t, end, level, first);
    }
}

static void
read_rounds(struct tracer *t)
{
    int deepest = 0;
    t->rounds = NEWN(t->a, struct round, t->p->ncalls + 1);
    for (int i = 0; i < t->p->ncalls; i++) {
        t->rounds[i] = (struct round){-1, i, NULL};
        deepest = t->stacks[i].n > deepest ? t->stacks[i].n : deepest;
    }
    for (int level = 0; level < deepest && t->steps < limit(LIMIT_FRAMES); level++)
        for (int i = 0, j; i < t->p->ncalls; i = j) {
            for (j = i + 1; j < t->p->ncalls && parting(&t->stacks[i], &t->stacks[j]) > level; j++)
                t->steps++;
            if (j - i > 1)
                find_rounds(t, level, i, j);
        }
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
    for (const char *p = line; (p = strstr(p, name)); p += n)
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

/* Whether calls i and j are of one line's own, and written alike: mean.dim is mean.default. */
static bool
same_operator(const struct tracer *t, int i, int j)
{
    const struct stack *a = &t->stacks[i], *b = &t->stacks[j];
    if (a->n != b->n || (a->n && a->at[a->n - 1].path != b->at[b->n - 1].path))
        return false;
    const char *x = t->p->calls[i].target, *y = t->p->calls[j].target, *dot = strrchr(x, '.');
    const size_t n = dot ? (size_t)(dot - x) : strlen(x);
    return strncmp(x, y, n) == 0 && (!y[n] || (y[n] == '.' && !strchr(y + n + 1, '.')));
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

/* Whether call k is of the line that runs call i, in the same round of a loop. */
static bool
same_run(const struct tracer *t, int i, int k, int level)
{
    const struct round *round = t->rounds ? round_at(t, i, level) : NULL, *other = round ? round_at(t, k, level) : NULL;
    return (t->stacks[k].borrowed || parting(&t->stacks[k], &t->stacks[i]) > level) &&
           (!round || !other || round->end == other->end);
}

/* Where the line, which is that text, writes what runs call i, as far as its other calls tell, and how often it writes
 * such a call; NULL unknown. */
static const char *
written_times(struct tracer *t, int i, int level, const char *text, int *times)
{
    const struct stack *s = &t->stacks[i];
    if (s->n > level + 1) {
        const char *module = path_last(s->at[level].calls), *at = *module ? python_calls(text, module) : NULL;
        *times = 1;
        return at && !python_calls(at, module) ? at - 1 : NULL;
    }
    const struct spelling spelling = spelling_of(t->p->calls[i].target);
    const char *end = text + strlen(text);
    if (!(*times = count_written(&spelling, text, end)))
        return python_subscript(t->a, &t->p->calls[i], text);
    int first = i, last = i, before = 0, all = 0;
    while (first > 0 && same_run(t, i, first - 1, level))
        first--;
    while (last + 1 < t->p->ncalls && same_run(t, i, last + 1, level))
        last++;
    for (int k = first; k <= last; k++) {
        const bool same = same_operator(t, k, i);
        before += same && k < i;
        all += same;
    }
    return *times == all ? nth_written(&spelling, text, end, before) : NULL;
}

static const char *
written_at(struct tracer *t, int i, int level, const char *text)
{
    int times;
    return written_times(t, i, level, text, &times);
}

/* The length of the variable's name that the text begins with: no function, no keyword of a call; 0 it is none. */
static size_t
variable_at(const char *p)
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

/* The next name of a variable in an expression, from p on: no attribute. */
static const char *
next_variable(const char *p, size_t *len)
{
    for (; *p; p += *len) {
        if ((*len = variable_at(p)))
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

/* Whether the line writes an operator among its own arguments: the last one runs first. */
static bool
nested(const char *text, const char *target)
{
    const struct spelling s = spelling_of(target);
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

/* The variable that ends there, and what stands before it; NULL none. */
static const char *
variable_before(const char *text, const char *end, size_t *len, char *before)
{
    const char *name = end;
    while (name > text && (isalnum((unsigned char)name[-1]) || name[-1] == '_'))
        name--;
    *before = sign_before(text, name);
    *len = variable_at(name);
    return name < end && name + *len == end ? name : NULL;
}

static void
see(struct tracer *t, struct sights *seen, const char *name, size_t len, const struct arg *a)
{
    if (a->kind == ARG_SLOT && a->i >= 0)
        *PUSH(t->a, seen->of, seen->n, seen->cap) = (struct sight){arena_strn(t->a, name, len), (int)a->i};
}

/* "x * y": the variables are the call's arguments. */
static void
see_operands(struct tracer *t, const struct call *c, const char *text, const char *sign, struct sights *seen)
{
    size_t len = 0;
    char before = 0;
    const char *name = sign[-1] == ' ' ? variable_before(text, sign - 1, &len, &before) : NULL;
    if (name && strchr("(=,[:", before))
        see(t, seen, name, len, &c->args[0]);
    const char *other = sign + strspn(sign, "*/+-@=");
    other += strspn(other, " ");
    const char *behind = (len = variable_at(other)) ? other + len : NULL;
    const bool sum = *sign == '+' || (*sign == '-' && sign[1] != '='), alone = behind && strchr(",);]", *behind);
    if (!behind || c->nargs < 2 ||
        !(alone || (*behind == ' ' && (sum ? strchr("+-", behind[1]) != NULL : behind[1] != '*'))))
        return;
    see(t, seen, other, len, c->args[1].kind == ARG_SLOT ? &c->args[1] : &c->args[0]); /* "1 - x" */
}

/* "cat([x, y])": of a list of variables each is an element. */
static void
see_elements(struct tracer *t, const struct arg *list, const char *bracket, struct sights *seen)
{
    const char *p = bracket + 1 + (strchr("([", bracket[1]) && bracket[1]), *end = p, *next;
    for (int open = 0; *end && (open || !strchr(")]", *end)); end++)
        open += python_opens(*end);
    int n = 0;
    for (const char *q = p; q && p > bracket + 1; q = part_end(q, end))
        n++;
    for (int i = 0; p && i < n && n == list->n; i++, p = next) {
        next = part_end(p, end);
        p += strspn(p, " ");
        size_t len = python_name(p);
        if (len && p + len == (next ? next - 1 : end))
            see(t, seen, p, len, &list->list[i]);
    }
}

/* "x.mean()", "torch.exp(x)", "x * y", "torch.cat([x, y])": which variables a call's arguments are. */
static void
see_names(struct tracer *t, int i, struct sights *seen)
{
    const struct call *c = &t->p->calls[i];
    const struct stack *s = &t->stacks[i];
    const char *text = s->at[s->n - 1].text, *from, *name;
    size_t len = 0;
    char before;
    int times;
    if (!c->nargs || (c->op && target_is(c->target, TARGET_LOST)) ||
        !(from = written_times(t, i, s->n - 1, text, &times)) || from == text || (times > 1 && nested(text, c->target)))
        return;
    if (*from == '[') {
        if ((name = variable_before(text, from, &len, &before)))
            see(t, seen, name, len, &c->args[0]);
    } else if (!isalpha((unsigned char)*from)) {
        see_operands(t, c, text, from, seen);
    } else if (from[-1] == '.' && (name = variable_before(text, from - 1, &len, &before))) {
        const char *bracket = strchr(from, '('); /* "module.mean(x)" */
        if (!strchr(".)]", before) && !(bracket && variable_at(bracket + 1)))
            see(t, seen, name, len, &c->args[0]);
    } else {
        const char *bracket = strchr(from, '(');
        if (bracket && c->args[0].kind == ARG_LIST)
            see_elements(t, &c->args[0], bracket, seen);
        else if (bracket && (len = variable_at(bracket + 1)) && strchr(",)", bracket[1 + len]))
            see(t, seen, bracket + 1, len, &c->args[0]);
    }
}

/* Behind "()" of a method without arguments, ".float()"; else the text itself. */
static const char *
behind_call(const char *p)
{
    const char *end = *p == '.' ? p + 1 + python_name(p + 1) : p;
    return end > p && end[0] == '(' && end[1] == ')' ? end + 2 : p;
}

/* "self.layer(x)": the variable is what the first call of the module, call i, reads of what was made before; that of
 * "self.layer(x.float())" too, where it left no call. */
static void
see_argument(struct tracer *t, int i, int level, struct sights *seen)
{
    const struct stack *s = &t->stacks[i];
    const char *text = s->at[level].text, *module = path_last(s->at[level].calls),
               *arg = *module ? python_calls(text, module) : NULL;
    const struct arg *given = NULL;
    size_t len;
    int slot;
    if (!arg || python_calls(arg, module) || !(len = variable_at(arg)) || *behind_call(arg + len) != ')')
        return;
    for (struct call_reads r = {&t->p->calls[i]}; (slot = next_read(&r)) >= 0;) {
        const int from = t->maker[slot];
        if (from < 0 || (given && slot == given->i))
            continue;
        if (from > i || given || t->stacks[from].borrowed || target_is(t->p->calls[from].target, TARGET_COPIES) ||
            (arg[len] == '.' && parting(&t->stacks[from], s) > level))
            return;
        given = r.at;
    }
    if (given)
        see(t, seen, arg, len, given);
}

/* Whether the call is a view whose line ran before what it shows was written: made anew since, where it is read, with
 * names that held others. */
static bool
viewed_before(const struct tracer *t, int i)
{
    const unsigned view = TARGET_VIEWS | TARGET_REORDERS;
    const struct call *c = &t->p->calls[i], *of = c;
    while (of && target_is(of->target, view) && of->nargs && of->args[0].kind == ARG_SLOT && of->args[0].i >= 0) {
        const int maker = t->maker[of->args[0].i];
        of = maker < 0 ? NULL : &t->p->calls[maker];
    }
    return of && of != c && (of->in_place || target_is(of->target, TARGET_WRITES)) && of->stack && c->stack &&
           python_earlier(t->a, c->stack, of->stack);
}

static void
read_sights(struct tracer *t)
{
    t->sights = NEWN(t->a, struct sights *, t->p->ncalls + 1);
    t->object = NEWN(t->a, int, t->p->nslots + 1);
    for (int i = 0; i < t->p->nslots; i++)
        t->object[i] = i;
    for (int i = 0; i < t->p->ncalls; i++) {
        const struct call *c = &t->p->calls[i];
        bool writes = c->in_place || target_is(c->target, TARGET_WRITES);
        if (writes && c->nargs && c->args[0].kind == ARG_SLOT && c->args[0].i >= 0)
            t->object[c->outs[0]] = t->object[c->args[0].i];
        const int n = c->anew || viewed_before(t, i) ? 0 : t->stacks[i].n;
        t->sights[i] = NEWN(t->a, struct sights, t->stacks[i].n + 1);
        for (int level = i ? parting(&t->stacks[i - 1], &t->stacks[i]) : 0; level < n - 1; level++)
            see_argument(t, i, level, &t->sights[i][level]);
        if (n)
            see_names(t, i, &t->sights[i][n - 1]);
    }
}

/* The last call of the line that call i is of, and of the lines that its statement goes on in: these are behind it, and
 * the operator that joins them is of the first. */
static int
line_end(struct tracer *t, int level, int i, int end)
{
    if (t->stacks[i].n <= level || !t->stacks[i].at)
        return i;
    const struct spot *s = &t->stacks[i].at[level];
    int *known = t->stacks[i].end && t->stacks[i].end[level] == end ? &t->stacks[i].line_end[level] : NULL;
    if (known && *known >= 0)
        return *known;
    for (int k = i + 1; k <= end; k++) {
        const struct spot *o = t->stacks[k].n ? &t->stacks[k].at[level] : NULL;
        if (o && t->stacks[k].n <= level)
            break;
        if (!o || o->line == s->line)
            i = k;
        else if (!t->stacks[k].borrowed && (s->whole || o->line < s->line || (o->nbindings && o->whole)))
            break;
    }
    if (known)
        *known = i;
    return i;
}

/* The last call of the line, in its round of a loop. */
static int
statement_last(struct tracer *t, int i, int level)
{
    const struct round *round = round_at(t, i, level);
    return round ? round->end : line_end(t, level, i, t->stacks[i].end[level]);
}

/* The last call of the statement that binds the name anew, on the line of call i, which reads it: others may follow. */
static int
binding_last(struct tracer *t, int i, int level, const char *name)
{
    const struct spot *s = &t->stacks[i].at[level];
    const char *read = s->several ? written_at(t, i, level, s->text) : NULL, *end = NULL, *at;
    const int last = statement_last(t, i, level);
    for (int k = 0; k < s->nbindings && read && !end; k++)
        if (strcmp(s->binding[k].name, name) == 0 && statement_end(s->binding[k].from) > read)
            end = statement_end(s->binding[k].from);
    for (int k = i + 1; end && k <= last; k++)
        if ((at = written_at(t, k, level, s->text)) && at > end)
            return k - 1;
    return last;
}

enum { MAX_NAMES = 8 };

/* The first of these that is that text; -1 none. */
static int
among(const char *const *names, int n, const char *from, size_t len)
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
        next = part_end(p, end - 1);
        const char *stop = next ? next - 1 : end - 1, *key = memchr(p, ':', (size_t)(stop - p));
        p = key && *from == '{' ? key + 1 : p;
        p += strspn(p, " ");
        if (python_name(p) && p + python_name(p) == stop && among(names, n, p, python_name(p)) >= 0)
            return true;
    }
    return false;
}

/* What these names hold, after a line has bound its own: "y = x" gives it another. How many names are left, and the end
 * of the statement behind which none is. */
static int
rebind(const struct spot *s, const char **names, int n, const char **end)
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
                (b->renamed ? among(names, n, b->renamed, b->nrenamed) >= 0 : displays(b, names, n)))
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

/* Of these names those stay that no call of a line shows to hold what was made since; `end` is where the last one was
 * lost. How many. */
static int
gone(const struct tracer *t, int from, int level, int i, int last, const char **names, int n, int *end)
{
    for (int k = i; k <= last; k++) {
        const struct sights *seen = level < t->stacks[k].n ? &t->sights[k][level] : NULL;
        for (const struct sight *s = seen ? seen->of : NULL; s && s < seen->of + seen->n; s++) {
            int at = among(names, n, s->name, strlen(s->name)), made = t->maker[t->object[s->slot]];
            if (at < 0 || made >= i || t->object[s->slot] == t->object[t->slot])
                continue;
            names[at] = names[--n];
            *end = made > from ? made : from;
        }
    }
    return n;
}

/* The last of these calls that reads the tensor whose names are looked for; else the first. */
static int
last_read(const struct tracer *t, int first, int end)
{
    for (int k = end - 1, slot; k > first; k--)
        for (struct call_reads r = {&t->p->calls[k]}; (slot = next_read(&r)) >= 0;)
            if (slot == t->slot)
                return k;
    return first;
}

/* Whether line numbers leave room before a call, as far as it and the one before it have lines. */
static bool
line_after_gap(const struct tracer *t, int level, int i)
{
    const struct stack *before = &t->stacks[i - 1], *s = &t->stacks[i];
    return before->n > level && s->n > level && s->at[level].line > before->at[level].line + 1;
}

/* The last call before a line that left no call and stands behind call i and before call `until`: line numbers leave it
 * room; else the end of that call's line. */
static int
unseen_line(struct tracer *t, int level, int i, int until)
{
    int first = line_end(t, level, i, until - 1);
    for (int last = first; last + 1 < until; last = line_end(t, level, last + 1, until - 1))
        if (line_after_gap(t, level, last + 1))
            return last;
    return line_after_gap(t, level, until) ? until - 1 : first;
}

/* Whether the text is calls of calls: no operator joins it with another. */
static bool
one_call(const char *from, const char *end)
{
    int open = 0;
    for (from += strspn(from, " "); from < end && (open || !strchr("+-*/@, ;", *from)); from++)
        open += python_opens(*from);
    return from == end && !open && from[-1] == ')';
}

/* What the caller's line names one of these, which call `from` made, where call i is the frame's last: of a line that
 * returns it among others; else, as a line that only returns leaves no call, at the place that a statement of as many
 * names gave it, of which the last line binds the first. NULL nothing. */
static const char *
result_name(const struct tracer *t, int from, int i, int level, const char *const *names, int n)
{
    static const char word[] = "return ";
    const struct stack *s = &t->stacks[i];
    if (level < 1 || s->n <= level || !s->at[level - 1].nbindings)
        return NULL;
    const struct spot *caller = &s->at[level - 1], *made = &t->stacks[from].at[level];
    const char *text = s->at[level].text, *end = text + strlen(text), *next;
    if (caller->binding[0].of != caller->nbindings ||
        !plain_call(caller->binding[0].value, caller->binding[0].end, caller->calls))
        return NULL;
    if (!s->at[level].returns) {
        bool alike = caller->nbindings > 1 && made->nbindings == caller->nbindings &&
                     binds(&s->at[level], made->binding[0].name);
        for (int k = 1; alike && k < made->nbindings && made->binding[k].of == made->nbindings; k++)
            if (among(names, n, made->binding[k].name, strlen(made->binding[k].name)) >= 0)
                return caller->binding[k].name;
        return NULL;
    }
    if (!strchr(text, ',') || !s->at[level].whole)
        return NULL;
    int nth = 0;
    for (const char *p = text + strlen(word); p; p = next, nth++) {
        next = part_end(p, end);
        p += strspn(p, " ");
        size_t len = python_name(p);
        int at = caller->nbindings == 1 ? 0 : nth;
        if ((nth || next) && len && p + len == (next ? next - 1 : end) && among(names, n, p, len) >= 0)
            return at < caller->nbindings ? caller->binding[at].name : NULL;
    }
    return NULL;
}

/* Whether calls i and j are of one line of one function, whatever module runs it. */
static bool
same_line(const struct tracer *t, int i, int j)
{
    const struct stack *a = &t->stacks[i], *b = &t->stacks[j];
    const struct spot *x = a->n && a->n == b->n ? &a->at[a->n - 1] : NULL, *y = x ? &b->at[b->n - 1] : NULL;
    return x && x->function == y->function && x->line == y->line &&
           strcmp(t->p->calls[i].target, t->p->calls[j].target) == 0;
}

/* The end of the round of calls i to last - a loop's line, which reads the name - after which that is another tensor,
 * as "out = layer(x); x = out[0]" leaves no call: what reads the tensor first in one round reads another one of before
 * in the next. -1 none. */
static int
passed_anew(const struct tracer *t, int i, int last, int level)
{
    const struct round *round = round_at(t, i, level), *next;
    for (int first = -1; round && round->end < last && first < 0; i = round->end + 1, round = next) {
        int slot, arg = -1, element = -1;
        next = round_at(t, round->end + 1, level);
        for (int k = i; k <= round->end && first < 0; k++)
            for (struct call_reads r = {&t->p->calls[k]}; first < 0 && (slot = next_read(&r)) >= 0;)
                if (slot == t->slot) {
                    first = k;
                    arg = r.arg;
                    element = r.element;
                }
        for (int k = round->end + 1; next && first >= 0 && k <= next->end; k++) {
            if (!same_line(t, first, k))
                continue;
            for (struct call_reads r = {&t->p->calls[k]}; (slot = next_read(&r)) >= 0;)
                if (r.arg == arg && r.element == element && slot != t->slot && t->maker[slot] >= i &&
                    t->maker[slot] <= round->end)
                    return round->end;
            break;
        }
    }
    return -1;
}

/* Whether call i runs in a region that has no lines, only a frame of its function. */
static bool
lineless(const struct tracer *t, int i, int level)
{
    const struct stack *s = &t->stacks[i];
    return s->n > level && !*s->at[level].text && !s->borrowed;
}

/* Where a region without lines, from call i on, gives the name to another tensor: it is the last to read this one, and
 * a line behind it, which it may have run too, binds the name. -1 it does not. */
static int
rebound_unseen(const struct tracer *t, int i, int level, const char *name)
{
    const int end = t->stacks[i].end[level];
    int last = -1, slot;
    bool within = true, bound = false;
    for (int k = i; k <= end; k++) {
        within &= lineless(t, k, level);
        for (struct call_reads r = {&t->p->calls[k]}; (slot = next_read(&r)) >= 0;)
            if (slot == t->slot && !within)
                return -1;
            else
                last = slot == t->slot ? k : last;
        bound |= !within && t->stacks[k].n > level && binds(&t->stacks[k].at[level], name);
    }
    return bound ? last : -1;
}

/* A local of the frame at that level, made by call `from`: the last call before it has no name any more. */
static int
local_end(struct tracer *t, int from, int level, const char *name)
{
    const char *names[MAX_NAMES] = {name}, *bound = NULL, *at;
    int end = t->stacks[from].end[level], n = 1;
    for (int i = line_end(t, level, from, end) + 1; i <= end; i++) {
        int last = line_end(t, level, i, end), made = i;
        n = gone(t, from, level, i, last, names, n, &made);
        if (!n)
            return unseen_line(t, level, last_read(t, made, i), i);
        int own = i; /* of the line's calls the first that has it for itself */
        while (own < last && t->stacks[own].borrowed)
            own++;
        const struct spot *s = t->stacks[own].n > level ? &t->stacks[own].at[level] : NULL;
        const int unseen = lineless(t, i, level) ? rebound_unseen(t, i, level, names[0]) : -1;
        if (unseen >= 0)
            return unseen;
        if (s && (!t->stacks[own].borrowed || s->line > t->stacks[from].at[level].line)) /* else it ran before */
            n = rebind(s, names, n, &bound);
        const struct round *round = n < 2 ? round_at(t, i, level) : NULL;
        if (round && !n)
            return round->end;
        int anew = round && round->end < last && s && mentions(s, names[0]) ? passed_anew(t, i, last, level) : -1;
        if (anew >= 0)
            return anew;
        for (int k = i; !n && *bound && k <= last; k++) /* statements follow on the line */
            if (t->stacks[k].n && (at = written_at(t, k, level, t->stacks[i].at[level].text)) && at > bound)
                return k - 1;
        if (!n)
            return last;
        i = last;
    }
    const char *result = result_name(t, from, end, level, names, n);
    return result ? local_end(t, end, level - 1, result) : end;
}

/* The next variable that a line reads, from p on. */
static const char *
next_name_read(const struct spot *s, const char *p, size_t *len)
{
    for (; (p = next_variable(p, len)); p += *len) {
        bool bound = false;
        for (int i = 0; i < s->nbindings; i++)
            bound |= p >= s->binding[i].from && p < s->binding[i].value && !augments(&s->binding[i]) &&
                     (!i || s->binding[i - 1].from != s->binding[i].from);
        if (!bound)
            return p;
    }
    return NULL;
}

bool
python_closes(struct arena *a, const char *line, const char *name)
{
    struct spot s = read_line(a, line);
    const struct bound *last = s.nbindings ? &s.binding[s.nbindings - 1] : NULL;
    const bool alone = last && last->of == 1 && (s.nbindings == 1 || last[-1].from != last->from);
    const char *call = arena_printf(a, ".%s()", name), *from = alone ? last->value : line;
    from += strncmp(from, "return ", 7) == 0 ? 7 : strspn(from, " ");
    return string_ends(line, call) && one_call(from, line + strlen(line));
}

const char *
python_variable(struct arena *a, const char *line)
{
    struct spot s = read_line(a, line);
    size_t len;
    const char *name = next_name_read(&s, line, &len);
    return name ? arena_strn(a, name, len) : NULL;
}

const char *
python_sums(const char *line)
{
    const char *sum = python_calls(line, "sum");
    return sum && (sum - line == 4 || !strchr("._", sum[-5])) ? sum : NULL;
}

const char *
python_text(struct arena *a, const char *stack, int level)
{
    const char *text = "";
    for (int i = 0; i <= level; i++)
        if (!next_frame(a, &stack, &text))
            return "";
    return text;
}

bool
python_goes_on(struct arena *a, const char *line, const char *later)
{
    const struct spot s = read_line(a, later);
    return *line && !python_complete(line) && !(s.whole && s.nbindings);
}

bool
python_binds(struct arena *a, const char *line, const char *name)
{
    const struct spot s = read_line(a, line);
    return binds(&s, name);
}

const char *
python_operand(struct arena *a, const char *line, const char *target)
{
    const char *end = line + strlen(line),
               *at = times_written(line, end, target) == 1 ? written(line, end, target, 0) : NULL, *name = NULL;
    size_t len = 0;
    char before = '.';
    if (at && at > line && at[-1] == '.')
        name = variable_before(line, at - 1, &len, &before);
    if (name)
        return strchr(".)]", before) ? NULL : arena_strn(a, name, len);
    const char *open = at && isalpha((unsigned char)*at) ? strchr(at, '(') : NULL;
    return open && (len = variable_at(open + 1)) && strchr(",)", open[1 + len]) ? arena_strn(a, open + 1, len) : NULL;
}

const char *
python_passed(struct arena *a, const char *line, const char *reader)
{
    struct spot made = read_line(a, line), read = read_line(a, reader);
    size_t len;
    for (const char *p = reader; (p = next_name_read(&read, p, &len)); p += len)
        if (binds(&made, arena_strn(a, p, len)))
            return arena_strn(a, p, len);
    return NULL;
}

static int
mentions(const struct spot *s, const char *name)
{
    size_t len, all = strlen(name);
    int n = 0;
    for (int i = 0; i < s->nreads; i++)
        n += s->reads[i].len == all && memcmp(s->reads[i].at, name, all) == 0;
    for (const char *p = !s->reads && strstr(s->text, name) ? s->text : ""; (p = next_name_read(s, p, &len)); p += len)
        n += len == all && memcmp(p, name, len) == 0;
    return n;
}

/* Whether a line that ran before in the reader's frame was seen to bind the name; to no result of what it gives a
 * tensor of the other name, NULL none, which may be that tensor. */
static bool
bound_before(struct tracer *t, int user, int level, const char *name, const char *given)
{
    for (int i = user - 1; i >= 0 && t->steps++ < limit(LIMIT_FRAMES); i--) {
        if (!t->stacks[i].n)
            continue;
        if (!inside(&t->stacks[user], level, &t->stacks[i]))
            return false;
        const struct spot *s = &t->stacks[i].at[level];
        if (binds(s, name))
            return !(given && *s->calls && mentions(s, given));
    }
    return false;
}

int
python_named(const struct program *p, const struct call *c, const char *name)
{
    struct tracer t = tracer_new(p);
    struct stack s = read_stack(&t, c);
    int slot = -1;
    for (int i = p->ncalls - 1, level = s.n - 1; i >= 0 && s.n; i--) {
        struct stack o = read_stack(&t, &p->calls[i]);
        if (o.n && !inside(&s, level, &o))
            break;
        if (o.n && binds(&o.at[level], name)) {
            slot = o.at[level].nbindings == 1 ? p->calls[i].outs[0] : -1;
            break;
        }
    }
    arena_free(t.a);
    return slot;
}

/* Whether the call is "x.div(y)" in that line, of a variable x that is a tensor. */
static bool
is_method_of(struct tracer *t, const char *text, const char *name, const struct call *c)
{
    const char *at, *target = c->target + (strncmp(c->target, "aten.", 5) == 0 ? 5 : 0);
    char *method = arena_printf(t->a, "%s.%.*s", name, (int)strcspn(target, "."), target);
    size_t n = strlen(method);
    while ((at = strstr(text, method)) && at > text && (isalnum((unsigned char)at[-1]) || strchr("_.", at[-1])))
        text = at + 1;
    return at && at[n + (at[n] == '_')] == '(';
}

/* What a name is in the function that call i runs in: what a line bound it to before; else, of an argument, what
 * another line's call has in its place. "": what the function is given that the line calls, as its first operator that
 * is given something reads it. */
static int
meant(struct tracer *t, int i, const char *name)
{
    const struct stack *s = &t->stacks[i];
    const int level = s->n - 1;
    for (int k = i - 1; k >= 0 && level >= 0; k--) {
        const struct stack *o = &t->stacks[k];
        if (o->n && !inside(s, level, o))
            break;
        if (o->n && binds(&o->at[level], name))
            return o->at[level].nbindings == 1 ? t->p->calls[k].outs[0] : -1;
    }
    for (int step = 1; step >= -1 && level >= 0; step -= 2)
        for (int k = i + step; k >= 0 && k < t->p->ncalls; k += step) {
            const struct stack *o = &t->stacks[k];
            const struct call *c = &t->p->calls[k];
            if (o->n && !inside(s, level, o))
                break;
            bool reads = o->n == level + 1 && c->nargs && c->args[0].kind == ARG_SLOT && c->args[0].i >= 0 &&
                         t->maker[c->args[0].i] < i;
            bool given = !*name && reads && same_spot(&o->at[level], &s->at[level]);
            const struct sights *seen = &t->sights[k][level];
            if (given || (reads && seen->n && strcmp(seen->of->name, name) == 0 && seen->of->slot == c->args[0].i) ||
                (reads && *name && is_method_of(t, o->at[level].text, name, c)))
                return (int)c->args[0].i;
        }
    return -1;
}

int *
python_meant(const struct program *p, struct arena *a, const char *const *names)
{
    struct tracer t = tracer_new(p);
    int *slots = NEWN(a, int, p->ncalls + 1);
    read_stacks(&t);
    t.maker = program_makers(p, t.a);
    read_sights(&t);
    for (int i = 0; i < p->ncalls; i++)
        slots[i] = names[i] ? meant(&t, i, names[i]) : -1;
    arena_free(t.a);
    return slots;
}

static bool
makes_one_of(const struct call *c, const struct call *from, const struct call *end)
{
    for (; from < end; from++)
        for (int k = 0; k < from->nargs; k++)
            if (from->args[k].kind == ARG_SLOT && from->args[k].i == c->outs[0])
                return true;
    return false;
}

/* Whether both stacks have the same frame at that level, as lines tell: a view that was made anew has the module of its
 * reader. */
static bool
shares_frame(const struct stack *a, int level, const struct stack *b)
{
    bool same = b->n > level && a->at[level].function == b->at[level].function;
    for (int i = 0; i < level && same; i++)
        same = a->at[i].function == b->at[i].function && a->at[i].line == b->at[i].line;
    return same;
}

/* Where a line writes what a call is, which runs there as the n-th of its operator; NULL unknown. */
static const char *
place_in_line(struct arena *a, const char *line, const struct call *c, int n)
{
    const char *end = line + strlen(line);
    const int times = times_written(line, end, c->target);
    for (int i = 0; i < COUNT(reshapes) && !times && times_made(line, end, c->target) == 1; i++)
        if (times_written(line, end, reshapes[i]))
            return written(line, end, reshapes[i], 0);
    if (!times)
        return python_subscript(a, c, line);
    return n < times && !nested(line, c->target) ? written(line, end, c->target, n) : NULL;
}

/* How many calls before that one are the line's, of its operator. */
static int
made_in_line(const struct program *p, int i)
{
    int n = 0;
    for (const struct call *c = p->calls; c < p->calls + i; c++)
        n += c->stack && strcmp(c->stack, p->calls[i].stack) == 0 && strcmp(c->target, p->calls[i].target) == 0;
    return n;
}

/* Behind the brackets of what a line writes there; NULL they are open at its end. */
static const char *
brackets_end(const char *at)
{
    int open = 0;
    at += strcspn(at, "([");
    do
        open += python_opens(*at);
    while (*at && (at++, open));
    return open ? NULL : at;
}

/* Where the line at that level of its stack writes call i, or the only module of that name in which it ran; NULL
 * unknown. */
static const char *
place_of_call(struct tracer *t, int i, const struct stack *s, int level)
{
    const char *text = s->at[level].text, *module = path_last(s->at[level].calls);
    if (s->n == level + 1)
        return place_in_line(t->a, text, &t->p->calls[i], made_in_line(t->p, i));
    const char *at = *module ? python_calls(text, module) : NULL;
    if (at || !*module)
        return at && !python_calls(at, module) ? at : NULL;
    const char *given = arena_printf(t->a, "(self.%s,", module); /* "checkpoint(self.layer, x)" */
    at = strstr(text, given);
    return at && !strstr(at + 1, given) ? at : NULL;
}

/* Where a line has call i, before the last one's view (-1) or behind it (1), "x[:, :4], x[:, 4:]" and "x[:, 1:] +
 * y.mean()"; 0 unknown. */
static int
order_in_line(struct tracer *t, const struct spot *s, const struct stack *other, int level, int i)
{
    const struct program *p = t->p;
    const char *view = place_in_line(t->a, s->text, &p->calls[p->ncalls - 1], made_in_line(p, p->ncalls - 1));
    if (!view || strstr(s->text, " for ") || strstr(s->text, " if "))
        return 0;
    const char *at = place_of_call(t, i, other, level), *end = brackets_end(view);
    return !at || at == view ? 0 : at < view ? -1 : end && at >= end;
}

int
python_place(const struct program *p, int from)
{
    struct tracer t = tracer_new(p);
    int place = from, last = p->ncalls - 1;
    struct stack s = read_stack(&t, &p->calls[last]);
    const char *view = s.n ? place_in_line(t.a, s.at[s.n - 1].text, &p->calls[last], made_in_line(p, last)) : NULL;
    const bool whole = view && brackets_end(view); /* a later line of its statement runs behind it */
    bool late = true;
    t.maker = program_makers(p, t.a);
    for (int i = last - 1; i >= 0 && s.n; i--) {
        struct stack o = read_stack(&t, &p->calls[i]);
        if (!o.n)
            continue;
        int level = s.n - 1; /* of the innermost frame that both run in */
        while (level >= 0 && !shares_frame(&s, level, &o))
            level--;
        if (level < 0 || (level < s.n - 1 && o.at[level].line == s.at[level].line)) /* before the function began */
            break;
        int line = o.at[level].line;
        const bool made = makes_one_of(&p->calls[i], &p->calls[from], &p->calls[last + 1]);
        const int order = line == s.at[level].line && i < from && level == s.n - 1
                              ? order_in_line(&t, &s.at[level], &o, level, i)
                              : 0;
        if (order < 0 || (made && (order > 0 || p->calls[i].anew)))
            break;
        if (order > 0) {
            place = i;
            continue;
        }
        if (late && i < from && !made && p->calls[i].anew != ANEW_FIRST && viewed_before(&t, i)) {
            place = i; /* right before its reader */
            continue;
        }
        late &= line > s.at[level].line || i >= from;
        if (!late && place == from)
            break;
        place = late && i < from ? i : place;
        if (line == s.at[level].line || (line > s.at[level].line && !o.at[level].whole && !whole) ||
            (line > s.at[level].line && made)) {
            place = from;
            break;
        }
    }
    arena_free(t.a);
    return place;
}

/* The frame of a stack's text at *at, and its source line; *at moves behind. NULL: no more. */
static const char *
next_frame(struct arena *a, const char **at, const char **text)
{
    const char *p = *at ? python_frame(*at) : NULL, *end = p ? strchr(p, '\n') : NULL;
    if (!end)
        return NULL;
    const char *line = end + 1 + strspn(end + 1, " ");
    *at = line + strcspn(line, "\n");
    *text = arena_strn(a, line, (size_t)(*at - line));
    return arena_strn(a, p, (size_t)(end - p));
}

int
python_line(const struct program *p, int slot, const char *stack, const char *scopes, const char *name,
            const char **line)
{
    struct tracer t = tracer_new(p);
    struct stack s = read_stack(&t, &(struct call){.stack = stack, .scopes = scopes}), made = {0};
    int first = p->ncalls, from = -1;
    for (int i = p->ncalls - 1; i >= 0 && from < 0; i--)
        for (int k = 0; k < p->calls[i].nouts; k++)
            from = p->calls[i].outs[k] == slot ? i : from;
    if (from >= 0)
        made = read_stack(&t, &p->calls[from]);
    const int level = from < 0 ? s.n - 1 : parting(&s, &made); /* the model's input is its function's own */
    const bool beside = level >= 0 && level < s.n && (from < 0 || level < made.n);
    while (first > 0 && beside) {
        struct stack o = read_stack(&t, &p->calls[first - 1]);
        if (parting(&s, &o) <= level)
            break;
        first--;
    }
    *line = NULL;
    bool room = false;
    int behind = beside ? s.at[level].line : 0;
    for (int i = first - 1; i >= 0 && beside && !*line; i--) {
        struct stack o = read_stack(&t, &p->calls[i]);
        room |= o.n <= level || behind > o.at[level].line + 1;
        behind = o.n > level ? o.at[level].line : behind;
        if (made.n > level + 1 && parting(&made, &o) > level && !room && !python_in_torch(p->calls[from].stack))
            first = i + 1;
        if (o.n && (!inside(&s, level, &o) || parting(&made, &o) > level))
            break;
        if (!o.n || !python_calls(o.at[level].text, name))
            continue;
        const char *end = p->calls[i].stack, *text;
        for (int k = 0; k <= level; k++)
            next_frame(p->arena, &end, &text);
        *line = arena_strn(p->arena, p->calls[i].stack, (size_t)(end - p->calls[i].stack));
        first = i + 1;
    }
    arena_free(t.a);
    return first;
}

/* A list that the reader takes whole, "stack(list)", until call `until`: where the same line takes it again without the
 * tensor, a line that left no call has bound it anew when the loop went back. */
static int
emptied(struct tracer *t, int user, int level, const char *name, int until)
{
    const struct call *c = &t->p->calls[user];
    const struct spot *s = &t->stacks[user].at[level];
    const char *at = strstr(s->text, name);
    bool whole = at && at > s->text && !isalnum((unsigned char)at[-1]) && strchr(",)", at[strlen(name)]);
    if (!whole || t->stacks[user].n != level + 1 || c->nargs < 1 || c->args[0].kind != ARG_LIST)
        return until;
    int back = -1;
    for (int k = line_end(t, level, user, until) + 1, slot; k <= until; k++) {
        back = back < 0 && t->stacks[k].n > level && t->stacks[k].at[level].line < s->line ? k : back;
        if (!same_call(t, k, user))
            continue;
        for (struct call_reads r = {&t->p->calls[k]}; (slot = next_read(&r)) >= 0;)
            if (slot == t->slot)
                return until;
        return back < 0 ? until : back - 1;
    }
    return until;
}

/* Whether the name there is of a list of which a line reads an element, "x[i]". */
static bool
is_element(const char *name, size_t len)
{
    return name[len] == '[' && name[len + 1 + python_name(name + len + 1)] == ']';
}

/* The slot that a call reads in the n-th place; -1 none. */
static int
nth_read(const struct call *c, int n)
{
    struct call_reads r = {c};
    int slot = next_read(&r);
    while (slot >= 0 && n--)
        slot = next_read(&r);
    return slot;
}

/* The last call before the reader's line runs again and reads another tensor in that place: a line without calls has
 * given the name that. Lists over which a loop goes hold theirs. */
static int
given_another(struct tracer *t, int user, int level, int until)
{
    const struct call *c = &t->p->calls[user];
    const struct stack *made = &t->stacks[t->maker[t->slot]];
    int place = 0;
    if (made->n > level && strncmp(made->at[level].text, "for ", 4) == 0)
        return until;
    while (nth_read(c, place) >= 0 && nth_read(c, place) != t->slot)
        place++;
    for (int k = statement_last(t, user, level) + 1; k <= until; k++) {
        t->steps++;
        if (same_call(t, k, user) && inside(&t->stacks[user], level, &t->stacks[k]) &&
            nth_read(&t->p->calls[k], place) != t->slot)
            return k - 1;
    }
    return until;
}

/* What the reader's line calls it, which no line was seen to bind: the last call before a line binds that anew. */
static int
alias_end(struct tracer *t, int user, int level, const char **by)
{
    const struct spot *s = &t->stacks[user].at[level];
    const char *given = *by;
    size_t len;
    int end = -1;
    if (!s->whole)
        return -1;
    for (const char *p = s->text; (p = next_name_read(s, p, &len)); p += len) {
        const bool number =
            p > s->text + 1 && p[-1] == '[' && p[len] == ']' && (isalnum((unsigned char)p[-2]) || p[-2] == '_');
        if (number || (p == s->text && collects(p))) /* of an element, or the list that gets another */
            continue;
        const char *name = arena_strn(t->p->arena, p, len);
        int until = !is_element(p, len) && bound_before(t, user, level, name, given) ? -1
                    : binds(s, name) ? binding_last(t, user, level, name)
                                     : local_end(t, user, level, name);
        until = emptied(t, user, level, name, until);
        until = p[len] == '[' ? until : given_another(t, user, level, until);
        if (until > end) {
            end = until;
            *by = name;
        }
    }
    return end;
}

/* The first line of the loop that call i runs in, as the calls around it tell: where lines go back; -1 none. */
static int
loop_begin(const struct tracer *t, int i, int level)
{
    const struct stack *s = &t->stacks[i];
    for (int step = -1; step <= 1; step += 2)
        for (int k = i, line = s->at[level].line; k >= 0 && k < t->p->ncalls; k += step) {
            const struct stack *o = &t->stacks[k];
            if (o->borrowed || o->n <= level)
                continue;
            if (!inside(s, level, o))
                break;
            const int now = o->at[level].line, first = step < 0 ? line : now, last = step < 0 ? now : line;
            if (first < last && first <= s->at[level].line && s->at[level].line <= last && o->at[level].whole)
                return first;
            line = now;
        }
    return -1;
}

/* Whether nothing but the loop's own line stands before its first one, and none that left no call up to the line of
 * call i: its variables are bound there. */
static bool
binds_in_head(const struct tracer *t, int i, int level)
{
    enum { MOST_LINES = 64 };
    const struct stack *s = &t->stacks[i];
    const int first = loop_begin(t, i, level), lines = s->at[level].line - first;
    uint64_t seen = 0;
    bool before = false, room = false;
    if (first < 0 || lines >= MOST_LINES)
        return false;
    for (int k = t->stacks[i].end[level]; k >= 0; k--) {
        const struct stack *o = &t->stacks[k];
        if (o->borrowed || o->n <= level)
            continue;
        if (!inside(s, level, o))
            break;
        const int line = o->at[level].line - first;
        seen |= line >= 0 && line <= lines ? UINT64_C(1) << line : 0;
        before |= line == -2;
        room |= line == -1;
    }
    return before && !room && seen + 1 == UINT64_C(2) << lines;
}

/* Whether the line of call i is all of a loop's body, and has in each round another tensor by that name, each of which
 * was made before the loop: "for y in list: x = x + y". */
static bool
goes_through(const struct tracer *t, int i, int level, const char *name)
{
    int first = i, n = 0, before = -1;
    while (first > 0 && parting(&t->stacks[first - 1], &t->stacks[i]) > level)
        first--;
    for (int k = first; k < t->p->ncalls && round_at(t, k, level) && parting(&t->stacks[k], &t->stacks[i]) > level;
         k++) {
        const struct sights *seen = &t->sights[k][level];
        for (const struct sight *s = seen->of; s && s < seen->of + seen->n; s++) {
            if (strcmp(s->name, name) != 0 || s->slot == before)
                continue;
            if (t->maker[s->slot] >= first)
                return false;
            before = s->slot;
            n++;
        }
    }
    return n > 1;
}

/* What the reader's line calls a tensor whose own name is another tensor's by then: where that is a loop's variable, it
 * is in a list, which the loop goes through, and which its function has until it returns. Else `end`. */
static int
looped_end(struct tracer *t, int user, int level, int end, const char **by)
{
    const struct spot *s = &t->stacks[user].at[level];
    const struct sights *seen = &t->sights[user][level];
    for (const struct sight *at = seen->of; at && at < seen->of + seen->n; at++)
        if (at->slot == t->slot && !t->stacks[user].borrowed && s->whole && !binds(s, at->name) &&
            !bound_before(t, user, level, at->name, NULL) &&
            (goes_through(t, user, level, at->name) || binds_in_head(t, user, level))) {
            *by = arena_str(t->p->arena, at->name);
            return t->stacks[user].end[level];
        }
    return end;
}

/* Part of a statement of several lines that a later one reads: what it made has a name, but not on this line. */
static bool
is_part(const struct spot *maker, const struct spot *reader)
{
    return !maker->returns && reader->line > maker->line && reader->whole && (reader->returns || reader->nbindings);
}

/* The name that the line binds to what call `from` makes, its result number `out`, and which the reader's line mentions
 * while it is this one; else its first. NULL: none. */
static const char *
name_of(struct tracer *t, int from, int out, int user, int level)
{
    const struct spot *s = &t->stacks[from].at[level], *u = &t->stacks[user].at[level];
    const char *at = s->nbindings > 1 ? written_at(t, from, level, s->text) : NULL, *name = NULL;
    for (int i = 0, nth = 0; i < s->nbindings; i++) {
        const struct bound *b = &s->binding[i];
        bool here = at ? at >= (b->of == 1 && augments(b) ? b->from : b->value) && at < b->end : !b->renamed;
        if (!here)
            continue;
        if (!name || (t->p->calls[from].nouts > 1 && nth <= out))
            name = b->name;
        nth++;
        if (t->p->calls[from].nouts == 1 && mentions(u, b->name) && local_end(t, from, level, b->name) >= user)
            return b->name;
    }
    return name;
}

bool
python_same_function(const char *a, const char *b)
{
    const char *p = strstr(a, "\", line "), *q = strstr(b, "\", line ");
    return p && q && p - a == q - b && strncmp(a, b, (size_t)(p - a)) == 0 &&
           strcmp(strrchr(a, ' '), strrchr(b, ' ')) == 0;
}

/* The name that the maker's line binds in the function where both stacks part, and that function's line of the reader;
 * NULL none. */
static const char *
bound_beside(struct arena *a, const char *maker, const char *reader, struct spot *r)
{
    const char *made = "", *read = "", *from, *to;
    do {
        from = next_frame(a, &maker, &made);
        to = next_frame(a, &reader, &read);
    } while (from && to && strcmp(from, to) == 0);
    struct spot m = read_line(a, made);
    *r = read_line(a, read);
    return from && to && python_same_function(from, to) && m.whole && r->whole && m.nbindings ? m.binding[0].name
                                                                                              : NULL;
}

bool
python_renames(struct arena *a, const char *maker, const char *reader, const char *later)
{
    struct spot r, o;
    const char *name = bound_beside(a, maker, reader, &r), *taken = later ? bound_beside(a, later, reader, &o) : NULL;
    return name && mentions(&r, name) <= (taken && strcmp(taken, name) == 0);
}

const char *
python_inner(const char *stack)
{
    const char *last = NULL;
    for (const char *p = stack; p && (p = python_frame(p)); p++)
        last = p;
    return last;
}

bool
python_in_torch(const char *stack)
{
    const char *inner = python_inner(stack);
    return inner && strstr(inner, "torch/nn/") && glob_match("File \"*torch/nn/*.py\", line *", inner);
}

/* The stack of a call in another module of its class: from the frames where both stacks part on, the innermost of one
 * function, whose line has the name that the maker's binds. NULL none. */
static const char *
another_module(struct arena *a, const char *m, const char *reader, const char *r)
{
    const char *made = "", *read = "", *below = m, *under = r, *from, *to, *stack = NULL;
    while ((from = next_frame(a, &below, &made)) && (to = next_frame(a, &under, &read))) {
        if (python_same_function(from, to) && strcmp(from, to) != 0) {
            struct spot binds_it = read_line(a, made), reads_it = read_line(a, read);
            if (binds_it.whole && binds_it.nbindings == 1 && mentions(&reads_it, binds_it.binding[0].name))
                stack = arena_printf(a, "%.*s%s", (int)(r - reader), reader, m);
        }
        m = below;
        r = under;
    }
    return stack;
}

/* The same where other modules called it the first time, so that its frame is another one from outside: the innermost
 * that fits the reader's own. */
static const char *
called_deeper(struct arena *a, const char *m, const char *reader)
{
    const char *own = python_inner(reader), *under = own, *read = "", *to = own ? next_frame(a, &under, &read) : NULL,
               *below = m, *made, *from, *stack = NULL;
    for (; to && (from = next_frame(a, &below, &made)); m = below) {
        struct spot binds_it = read_line(a, made), reads_it = read_line(a, read);
        if (python_same_function(from, to) && strcmp(from, to) != 0 && binds_it.whole && binds_it.nbindings == 1 &&
            mentions(&reads_it, binds_it.binding[0].name))
            stack = arena_printf(a, "%.*s%s", (int)(own - reader), reader, m);
    }
    return stack;
}

const char *
python_again(struct arena *a, const char *target, const char *maker, const char *reader)
{
    const char *made = "", *read = "", *from, *to, *m = maker, *r = reader, *before_m, *before_r;
    const char *inner = python_inner(maker), *there = inner && reader ? strstr(reader, inner) : NULL;
    do {
        before_m = m;
        before_r = r;
        from = next_frame(a, &m, &made);
        to = next_frame(a, &r, &read);
    } while (from && to && strcmp(from, to) == 0);
    if (there && (!from || !to || there >= r)) /* its line runs again, for another one */
        return arena_strn(a, reader, (size_t)(there - reader) + strlen(inner));
    if (!from)
        return NULL;
    if (to && !python_same_function(from, to)) {
        const char *stack = another_module(a, before_m, reader, before_r);
        return stack ? stack : called_deeper(a, before_m, reader);
    }
    bool part = target_is(target, TARGET_VIEWS) && !target_is(target, TARGET_KEEPS); /* x[:, i] */
    if (python_writes(read, target) || (part && strchr(read, '[')))
        return to ? arena_strn(a, reader, (size_t)(r - reader)) : reader;
    if (!to)
        return NULL;
    for (const char *p = made; *m && (p = strstr(p, "self."));) {
        const char *call = p;
        p += strcspn(p, "( ,)");
        if (*p == '(' && strstr(read, arena_strn(a, call, (size_t)(p - call) + 1)))
            return arena_printf(a, "%.*s%s", (int)(r - reader), reader, m);
    }
    const char *stack = another_module(a, m, reader, r);
    return stack ? stack : called_deeper(a, m, reader);
}

bool
python_earlier(struct arena *a, const char *one, const char *other)
{
    const char *x, *y, *text;
    do {
        x = next_frame(a, &one, &text);
        y = next_frame(a, &other, &text);
    } while (x && y && strcmp(x, y) == 0);
    return x && y && python_same_function(x, y) && python_frame_line(x) < python_frame_line(y);
}

/* Functions whose own frames a file does not have: what one of their calls makes, or what they are called with, they
 * hold until another has run. */
static const struct inner {
    const char *function, *maker; /* NULL: any */
    const char *last[2];          /* whichever comes first; NULL: the last of the function's */
    const char *source;
} inners[] = {
    {"trapezoid", NULL, {NULL}, "do_trapezoid in Integration.cpp: one expression of C++, which keeps all to its end"},
    {"trapz", NULL, {NULL}, "likewise"},
    {"cumulative_trapezoid", NULL, {NULL}, "do_cumulative_trapezoid in Integration.cpp"},
    {"pairwise_distance", "sub", {"norm"}, "pairwise_distance in Distance.cpp: the argument of norm is one expression"},
    {"float_power", NULL, {"pow"}, "float_power in Pow.cpp: the argument of pow, and its caller's"},
    {"softmin", NULL, {"softmax"}, "softmin in torch/nn/functional.py: likewise"},
    {"take_along_dim", NULL, {"gather"}, "take_along_dim in TensorAdvancedIndexing.cpp: likewise"},
    {"hfft", NULL, {"_fft_c2r"}, "fft_c2r in SpectralOps.cpp: its conjugate is made by the kernel"},
    {"hfft2", NULL, {"_fft_c2r"}, "fft_hfftn_impl in SpectralOps.cpp"},
    {"hfftn", NULL, {"_fft_c2r"}, "likewise"},
    {"local_response_norm", "avg_pool2d", {"pow"}, "local_response_norm in torch/nn/functional.py: div"},
    {"local_response_norm", "avg_pool3d", {"pow"}, "likewise"},
};

_Static_assert(COUNT(inners) < 32, "a bit each");

static unsigned
inners_in(const char *text)
{
    const uint64_t endings = python_endings(text);
    unsigned in = 0;
    for (int i = 0; i < COUNT(inners); i++)
        in |= (unsigned)(python_may_call(endings, inners[i].function) && python_calls(text, inners[i].function)) << i;
    return in;
}

/* Between two calls of one statement, the first of which made a tensor that the second reads: the last call that holds
 * it; -1 the second. */
static int
inner_end(struct tracer *t, int from, int user)
{
    const struct stack *s = &t->stacks[from];
    const struct inner *in = NULL;
    const unsigned calls = s->n ? s->at[s->n - 1].inners : 0;
    for (int i = 0; calls >> i && !in; i++)
        if (calls >> i & 1 && (!inners[i].maker || target_named(t->p->calls[from].target, inners[i].maker)))
            in = &inners[i];
    if (!in)
        return -1;
    int end = user;
    for (int i = user; i < t->p->ncalls && t->stacks[i].n == s->n && parting(s, &t->stacks[i]) == s->n; i++) {
        end = i;
        bool last = false;
        for (int k = 0; k < COUNT(in->last) && in->last[k]; k++)
            last |= target_named(t->p->calls[i].target, in->last[k]);
        if (last)
            break;
    }
    return end;
}

/* Of PyTorch's own modules, methods other than forward: they hold what they are called with until the last call of that
 * operator. */
static const struct method {
    const char *name, *last, *source;
} methods[] = {
    {"_ff_block", "linear", "TransformerEncoderLayer in torch/nn/modules/transformer.py: x = self.linear2(...)"},
};

/* Between two calls of a line, the first of which made an argument of such a method that the second reads inside it:
 * the last call that holds it; -1 none. */
static int
method_end(const struct tracer *t, int from, int user, int level)
{
    const struct spot *s = &t->stacks[from].at[level];
    const struct method *in = NULL;
    int end = -1;
    for (int i = 0; i < COUNT(methods) && *s->calls && python_calls(s->text, path_last(s->calls)) && !in; i++)
        in = python_calls(s->text, methods[i].name) ? &methods[i] : NULL;
    for (int i = user; in && i < t->p->ncalls && parting(&t->stacks[from], &t->stacks[i]) > level; i++)
        end = target_named(t->p->calls[i].target, in->last) ? i : end;
    return end;
}

/* The name that a statement gives to what call `from` makes and another one of its line reads; NULL none. */
static const struct bound *
next_statement(struct tracer *t, int from, int user, int level)
{
    const struct spot *s = &t->stacks[from].at[level];
    const char *at = s->several ? written_at(t, from, level, s->text) : NULL,
               *read = at ? written_at(t, user, level, s->text) : NULL;
    for (int i = 0; i < s->nbindings && read; i++)
        if (at >= s->binding[i].value && at < s->binding[i].end && read >= s->binding[i].end)
            return strcspn(s->binding[i].end, ";") < (size_t)(read - s->binding[i].end) ? &s->binding[i] : NULL;
    return NULL;
}

/* Whether the line's last statement binds the name anew. */
static bool
bound_last(const struct spot *s, const struct bound *b)
{
    const struct bound *last = &s->binding[s->nbindings - 1];
    return last->from > b->end && !*last->end && strcmp(last->name, b->name) == 0;
}

/* What "y, z = layer(y, z=z)" makes in one round and reads in the next, other than its last result, is the value of the
 * last name that it both binds and reads. The level of its frame; -1 none. */
static int
carried(const struct tracer *t, int from, int user, const char **by)
{
    if (t->rounds[from].level < 0)
        return -1;
    int level = parting(&t->stacks[from], &t->stacks[user]);
    for (const struct round *round = &t->rounds[from]; round && round->level >= 0; round = round->outer) {
        const struct spot *s = &t->stacks[from].at[round->level];
        if (level <= round->level || round->end >= user || round->end == from || !round_at(t, user, round->level))
            continue;
        for (int k = s->nbindings - 1; k >= 0; k--)
            if (s->nbindings > 1 && s->binding[k].of == s->nbindings && mentions(s, s->binding[k].name)) {
                *by = arena_str(t->p->arena, s->binding[k].name);
                return round->level;
            }
    }
    return -1;
}

/* The level at which the frames of two calls part: they differ there, or the function or the line runs again. */
static int
runs_apart(struct tracer *t, int from, int user)
{
    const struct stack *s = &t->stacks[from], *u = &t->stacks[user];
    if (t->apart.from == from && t->apart.user == user)
        return t->apart.level;
    int level = parting(s, u);
    for (const struct round *r = &t->rounds[from]; r && r->level >= 0; r = r->outer)
        level = level > r->level && r->end < user && round_at(t, user, r->level) ? r->level : level;
    for (int i = 1; i <= level && i < s->n; i++) { /* that frame has returned */
        bool again = i < level || (i < u->n && s->at[i].where == u->at[i].where);
        level = again && s->end[i] < user ? i - 1 : level;
    }
    for (int i = 0; i < level; i++)
        level = line_end(t, i, from, user) < user ? i : level;
    t->apart.from = from;
    t->apart.user = user;
    return t->apart.level = level;
}

/* Whether calls i and j give the same variable of one function its value. */
static bool
same_variable(const struct tracer *t, int i, int j)
{
    const struct stack *a = &t->stacks[i], *b = &t->stacks[j];
    const struct spot *s = a->n == b->n && a->n ? &a->at[a->n - 1] : NULL, *o = s ? &b->at[b->n - 1] : NULL;
    return s && s->function == o->function && s->nbindings && o->nbindings &&
           strcmp(s->binding[0].name, o->binding[0].name) == 0;
}

/* The list of the element that ends there, "x[-1]"; NULL it is none. */
static const char *
list_before(struct arena *a, const char *text, const char *end)
{
    const char *open = end - 1, *name;
    if (end == text || *open != ']')
        return NULL;
    while (open > text && *open != '[')
        open--;
    for (name = open; name > text && (isalnum((unsigned char)name[-1]) || name[-1] == '_');)
        name--;
    const size_t number = strspn(open + 1, "-0123456789"), len = variable_at(name);
    return len && name + len == open && open + 1 + number == end - 1 ? arena_strn(a, name, len) : NULL;
}

/* The list whose element its line writes for the first operand of call i, "x[2] - y", "x[-1].mean()" and "exp(x[0])";
 * NULL none. */
static const char *
element_read(struct tracer *t, int i, int level)
{
    const struct stack *s = &t->stacks[i];
    const char *text = s->n == level + 1 ? s->at[level].text : "",
               *at = strchr(text, '[') ? written_at(t, i, level, text) : NULL;
    if (!at || at == text)
        return NULL;
    const bool word = isalpha((unsigned char)*at);
    const char *list = at > text + 1 && at[-1] == (word ? '.' : ' ') ? list_before(t->a, text, at - 1) : NULL,
               *arg = word && !list && at[-1] != ']' && at[-1] != ')' ? strchr(at, '(') : NULL;
    const size_t len = arg ? strcspn(arg + 1, ",)") : 0;
    return len ? list_before(t->a, arg + 1, arg + 1 + len) : list;
}

static int
held_until(struct tracer *t, int from, int out, int user, const char **by)
{
    const struct stack *s = &t->stacks[from], *u = &t->stacks[user];
    int level = parting(s, u);
    *by = NULL;
    if (!s->n || !u->n)
        return -1;
    for (const struct round *round = &t->rounds[from], *other; round && round->level >= 0; round = round->outer) {
        other = level > round->level && round->end < user ? round_at(t, user, round->level) : NULL;
        if (other && s->at[round->level].nbindings) {
            *by = arena_str(t->p->arena, s->at[round->level].binding[0].name);
            return round->end == from || carried(t, from, user, by) >= 0 ? other->end : -1;
        }
    }
    level = runs_apart(t, from, user);
    for (int i = 0; i < level; i++) {
        const struct bound *b = next_statement(t, from, user, i);
        if (b) {
            *by = arena_str(t->p->arena, b->name);
            return bound_last(&s->at[i], b) ? line_end(t, i, from, t->p->ncalls - 1) : local_end(t, from, i, b->name);
        }
    }
    if (level < s->n && level < u->n && s->at[level].where == u->at[level].where) {
        const char *name = name_of(t, from, out, user, level);
        if (name) {
            *by = arena_str(t->p->arena, name);
            int end = local_end(t, from, level, *by);
            const char *alias = *by, *loop = *by;
            const bool another = !mentions(&u->at[level], *by) || (end < user && element_read(t, user, level));
            const int other = another && !u->borrowed ? alias_end(t, user, level, &alias) : -1,
                      looped = end < user ? looped_end(t, user, level, end, &loop) : end;
            if (other > end || looped > end)
                *by = other > looped ? alias : loop;
            return other > looped ? other : looped;
        }
        const char *list = put_into(t->a, s->at[level].text);
        if (list)
            return local_end(t, from, level, list);
        if (collects(s->at[level].text))
            return s->end[level];
        int other = is_part(&s->at[level], &u->at[level]) ? alias_end(t, user, level, by) : -1;
        if (other >= 0)
            return other;
        level++;
    } else if (level == s->n && level == u->n) {
        return inner_end(t, from, user);
    }
    int method = level ? method_end(t, from, user, level - 1) : -1;
    return method >= 0 ? method : level && level < u->n ? u->end[level] : -1;
}

/* What the reader's line shows to hold the tensor there, the name that does so longest: the last call before that is
 * bound anew. */
static int
seen_until(struct tracer *t, int user, const char **by)
{
    const int level = parting(&t->stacks[t->maker[t->slot]], &t->stacks[user]);
    const struct sights *seen = level < t->stacks[user].n ? &t->sights[user][level] : NULL;
    int end = -1;
    if (!seen || !seen->n || !inside(&t->stacks[user], level, &t->stacks[t->maker[t->slot]]))
        return -1;
    for (const struct sight *s = seen->of; s < seen->of + seen->n; s++) {
        if (s->slot != t->slot)
            continue;
        const int until = binds(&t->stacks[user].at[level], s->name) ? binding_last(t, user, level, s->name)
                                                                     : local_end(t, user, level, s->name);
        if (until > end) {
            end = until;
            *by = arena_str(t->p->arena, s->name);
        }
    }
    return end;
}

static bool
writes_parts(const char *text)
{
    return strstr(text, "chunk(") || strstr(text, "split(");
}

/* The only statement of a line of several that takes something apart, "y = f(x); a, b = y.chunk(2)"; NULL none. */
static const char *
parting_statement(struct arena *a, const char *text)
{
    const char *found = NULL;
    for (const char *p = text, *end; *p; p = *end ? end + 1 : end) {
        end = statement_end(p += strspn(p, " "));
        const char *statement = arena_strn(a, p, (size_t)(end - p));
        if (writes_parts(statement) && found)
            return NULL;
        found = writes_parts(statement) ? statement : found;
    }
    return found;
}

/* Before which of the calls from its maker on call i ran, where it is a statement of a line and others, which left
 * calls, stand behind it there; -1 it is none. */
static int
among_statements(struct tracer *t, int i, const struct stack *u, int level, int in)
{
    const struct call *calls = t->p->calls;
    int first = -1;
    for (int k = i - 1; k >= 0; k--) {
        const struct stack s = read_stack(t, &calls[k]);
        const char *text = s.n > level && inside(u, level, &s) ? s.at[level].text : "",
                   *parts = s.n > level && s.at[level].several ? parting_statement(t->a, text) : NULL,
                   *found = parts ? strstr(text, parts) : NULL, *end = found ? found + strlen(parts) : NULL;
        if (!parts && first >= 0)
            break;
        if (!parts && s.n > level && inside(u, level, &s) && writes_parts(text))
            break; /* another line's */
        for (int m = 0; m < calls[k].nouts; m++)
            if (calls[k].outs[m] == in)
                return first;
        const char *at = parts ? place_of_call(t, k, &s, level) : NULL;
        first = at && at > end ? k : first;
    }
    return first;
}

/* Behind which of the calls from its maker on call i ran, which takes a tensor apart, as line numbers leave its
 * statement room at one place alone before call `user`; -1 at none or several, and where a line does so itself, but for
 * those of equal calls, which ran before. */
static int
room_for_parts(struct tracer *t, int i, int user, int level, int in)
{
    const struct call *calls = t->p->calls;
    const struct stack u = read_stack(t, &calls[user]);
    int room = -1, behind = -1, line = u.at[level].line, unknown = 0;
    for (int k = i - 1; k >= 0; k--) {
        const struct stack s = read_stack(t, &calls[k]);
        if (!s.n && calls[k].nouts > 1 && next_read(&(struct call_reads){&calls[k]}) == in) {
            behind = behind < 0 ? k : behind;
            unknown--;
            continue;
        }
        if (!inside(&u, level, &s) || s.at[level].line > line)
            return -1;
        const bool gap = line > s.at[level].line + 1 && s.at[level].whole;
        if (gap && room >= 0)
            return -1;
        room = gap ? k : room;
        unknown += line != s.at[level].line && writes_parts(s.at[level].text);
        line = s.at[level].line;
        for (int m = 0; m < calls[k].nouts; m++)
            if (calls[k].outs[m] == in)
                return unknown > 0 ? -1 : room < 0 || behind < room ? room : behind;
    }
    return -1;
}

/* Where call i, which has no stack, ran if the line of the call that reads it takes nothing apart: before the calls of
 * that line, or right behind what made its tensor, where *either says that both may be: `early` asks for the latter.
 * Where a function out of sight reads it, that takes it apart, too. */
static int
place_of_parts(struct tracer *t, int i, int user, bool early, bool *either)
{
    const struct call *calls = t->p->calls;
    bool between = false;
    const struct stack u = read_stack(t, &calls[user]);
    int level = u.n - 1, to = i, in = next_read(&(struct call_reads){&calls[i]});
    level -= level > 0 && python_in_torch(calls[user].stack);
    if (level < 0 || writes_parts(u.at[level].text))
        return i;
    const int statement = among_statements(t, i, &u, level, in), room = room_for_parts(t, i, user, level, in);
    if (statement >= 0 || room >= 0)
        return statement >= 0 ? statement : room + 1;
    for (int k = i - 1; k >= 0; k--) {
        const struct stack s = read_stack(t, &calls[k]);
        for (int m = 0; m < calls[k].nouts; m++)
            if (calls[k].outs[m] == in)
                return *either && early ? k + 1 : to;
        if (*either)
            continue;
        bool beside = !s.n || parting(&s, &u) > level,
             view = target_is(calls[k].target, TARGET_VIEWS | TARGET_REORDERS);
        *either = !beside && !view && python_writes(u.at[level].text, calls[user].target);
        if (*either)
            continue;
        if (!beside && !view)
            break;
        between |= !beside;
        to = s.n && !between ? k : to;
    }
    return to;
}

bool
python_parts(struct program *p, bool early)
{
    struct tracer t = tracer_new(p);
    bool any = false;
    int *reader = NEWN(t.a, int, p->nslots), slot; /* per slot the first; moves leave those behind where they are */
    bool *made = NEWN(t.a, bool, p->nslots);
    for (int i = p->ncalls - 1; i >= 0; i--)
        for (struct call_reads r = {&p->calls[i]}; (slot = next_read(&r)) >= 0;)
            reader[slot] = i;
    for (int i = 0; i < p->ncalls; i++) {
        struct call call = p->calls[i];
        int user = p->ncalls, in = next_read(&(struct call_reads){&call});
        for (int k = 0; k < call.nouts; k++) {
            made[call.outs[k]] = true;
            user = reader[call.outs[k]] && reader[call.outs[k]] < user ? reader[call.outs[k]] : user;
        }
        if (call.stack || call.nouts < 2 || in < 0 || !made[in] || user == p->ncalls)
            continue;
        bool either = false;
        int to = place_of_parts(&t, i, user, early, &either);
        any |= either;
        memmove(&p->calls[to + 1], &p->calls[to], sizeof(call) * (size_t)(i - to));
        p->calls[to] = call;
    }
    arena_free(t.a);
    return any;
}

/* The variable that the reader's line names and no line was seen to bind: the statement of a lost call did. NULL
 * none. */
static const char *
lost_name(struct tracer *t, int reader, int level)
{
    const struct spot *s = &t->stacks[reader].at[level];
    size_t len;
    for (const char *p = s->text; s->whole && (p = next_name_read(s, p, &len)); p += len) {
        const char *name = arena_strn(t->a, p, len);
        if (!bound_before(t, reader, level, name, NULL))
            return name;
    }
    return NULL;
}

/* Whether a line at that level calls a module, "self.drop(x) / 3", that none of the calls from `first` to end - 1 shows
 * to run. */
static bool
calls_unseen(const struct tracer *t, int first, int end, int level, const struct spot *s)
{
    size_t n;
    for (const char *p = s->text; (p = next_own_call(p, &n)); p += n) {
        bool seen = false;
        for (int k = first; k < end && !seen; k++) {
            const struct spot *o = t->stacks[k].n > level + 1 ? &t->stacks[k].at[level] : NULL;
            seen = o && same_spot(o, s) && (!*path_last(o->calls) || is_last(o->calls, p, n));
        }
        if (!seen)
            return true;
    }
    return false;
}

/* Whether nothing follows in the frames above the level but their return. */
static bool
returns_above(const struct stack *s, int level)
{
    for (int i = level + 1; i < s->n; i++)
        if (strncmp(s->at[i].text, "return ", strlen("return ")) != 0 || strstr(s->at[i].text, "drop"))
            return false;
    return true;
}

/* Whether a copy that the reader's line does not write has no other room than a line behind the maker's, in a function
 * that the line before the reader's calls: "return y.contiguous(), weights". */
static bool
copied_inside(const struct tracer *t, int from, int copy, int reader, int n)
{
    const struct stack *m = &t->stacks[from], *r = &t->stacks[reader];
    const struct spot *called = &m->at[n], *reads = &r->at[n];
    return target_is(t->p->calls[copy].target, TARGET_COPIES) && m->n > n + 1 && called->whole &&
           reads->line == called->line + 1 && !python_calls(reads->text, "contiguous") &&
           !python_calls(reads->text, "clone") && !m->at[m->n - 1].returns && !python_in_torch(t->p->calls[from].stack);
}

/* The first name that a line may give to what the call makes; NULL none. */
static const char *
given_name(struct tracer *t, int i, int level)
{
    const struct spot *s = &t->stacks[i].at[level];
    const char *at = s->nbindings > 1 ? written_at(t, i, level, s->text) : NULL;
    for (const struct bound *b = s->binding; b < s->binding + s->nbindings; b++)
        if (!at || (at >= b->from && at < b->end))
            return b->name;
    return NULL;
}

/* Whether neither line writes that operator, which no copy or view is: it is a statement between them. */
static bool
written_apart(const char *target, const struct spot *maker, const struct spot *reader)
{
    return !target_is(target, TARGET_COPIES | TARGET_VIEWS | TARGET_REORDERS | TARGET_KEEPS) &&
           !python_writes(maker->text, target) && !python_writes(reader->text, target);
}

/* Whether the line gives a variable to Python's own sum(): a list that another line has made. */
static bool
adds_variable(const char *text)
{
    const char *sum = python_sums(text);
    return sum && variable_at(sum) && sum[variable_at(sum)] == ')';
}

/* The stack of such a line, of that statement alone, which ran between two calls in the frame at that level and reads
 * what the first one's line binds; n of 0: none did. */
static struct stack
parted_beside(struct tracer *t, int from, int reader, int level)
{
    const struct stack *m = &t->stacks[from];
    const char *name = given_name(t, from, level);
    for (int k = reader - 1; k > from; k--) {
        const struct stack *o = &t->stacks[k];
        const char *text = o->n > level && !o->borrowed && o->at[level].several && inside(m, level, o)
                               ? parting_statement(t->a, o->at[level].text)
                               : NULL;
        const struct spot line = text ? read_line(t->a, text) : (struct spot){0};
        if (!text || (name && !mentions(&line, name)))
            continue;
        struct stack s = {.n = level + 1, .borrowed = true};
        s.at = arena_dup(t->a, o->at, sizeof(*o->at) * (size_t)s.n);
        struct spot *at = &s.at[level];
        *at = line;
        at->where = o->at[level].where;
        at->calls = o->at[level].calls;
        at->line = o->at[level].line;
        at->path = o->at[level].path;
        return s;
    }
    return (struct stack){0};
}

/* A call that the exporter lost has the frames that its input's maker and its reader share. Its statement is taken for
 * the maker's, unless it parts a tensor and that line does not (then it is the reader's, where this takes something
 * apart or calls a function that reads it, or a line that nothing is known of), the reader's line calls a module that
 * nothing else shows, it calls the result by a name of its own, or neither writes the operator. */
static void
borrow_stack(struct tracer *t, int from, int reader, bool parts, struct stack *s)
{
    const struct stack *m = &t->stacks[from], *r = &t->stacks[reader];
    int n = parting(m, r);
    for (int i = 0; i < n; i++) /* that line runs again */
        n = line_end(t, i, from, reader) < reader ? i : n;
    for (int i = n; parts && i < r->n && !(i < m->n && writes_parts(m->at[i].text)); i++)
        if (writes_parts(r->at[i].text)) {
            *s = (struct stack){.n = i + 1, .at = r->at, .borrowed = true};
            return;
        }
    const char *reads = parts && r->n > n ? r->at[r->n - 1].text : "";
    if (*reads && !writes_parts(reads) && !python_writes(reads, t->p->calls[reader].target) && !adds_variable(reads)) {
        *s = (struct stack){.n = r->n, .at = r->at, .borrowed = true}; /* a function out of sight makes and reads it */
        return;
    }
    if (n > 0 && n == m->n && n == r->n && python_in_torch(t->p->calls[from].stack))
        n--; /* a layer that a loop runs again: what is behind it is its caller's */
    bool beside = n < m->n && n < r->n && m->at[n].where == r->at[n].where, elsewhere;
    if (beside && !parts && r->n == n + 1 && returns_above(m, n) && calls_unseen(t, from + 1, reader, n, &r->at[n])) {
        *s = (struct stack){.n = n + 1, .at = r->at, .borrowed = true};
        return;
    }
    if (beside && target_is(t->p->calls[s - t->stacks].target, TARGET_COPIES) &&
        python_calls(r->at[n].text, "contiguous") && !python_calls(m->at[n].text, "contiguous")) {
        *s = (struct stack){.n = n + 1, .at = r->at, .borrowed = true}; /* "self.norm(x.contiguous())" */
        return;
    }
    bool inside_it = beside && copied_inside(t, from, (int)(s - t->stacks), reader, n);
    s->n = inside_it ? m->n : n + beside;
    s->at = m->at;
    s->borrowed = true;
    if (inside_it)
        return;
    elsewhere = beside && parts && !writes_parts(m->at[n].text);
    const struct stack several = elsewhere ? parted_beside(t, from, reader, n) : (struct stack){0};
    if (several.n) {
        *s = several;
        return;
    }
    int around = elsewhere && s > t->stacks && s[1].n ? parting(&s[-1], &s[1]) : 0;
    if (around > n && around < s[-1].n && around < s[1].n && s[-1].at[around].where == s[1].at[around].where) {
        m = &s[-1]; /* between two calls of a frame that frame runs */
        n = around;
        s->n = n + 1;
        s->at = m->at;
    }
    const char *name = NULL, *own = !elsewhere && beside ? given_name(t, from, n) : NULL;
    if (own && !calls_unseen(t, 0, reader, n, &m->at[n]) &&
        (!mentions(&r->at[n], own) || written_apart(t->p->calls[s - t->stacks].target, &m->at[n], &r->at[n])))
        name = lost_name(t, reader, n);
    if (!elsewhere && !name)
        return;
    s->at = arena_dup(t->a, m->at, sizeof(*m->at) * (size_t)s->n);
    struct spot *at = &s->at[n], was = *at;
    *at = read_line(t->a, name ? arena_printf(t->a, "%s = ", name) : "");
    at->where = was.where;
    at->calls = was.calls;
    at->line = name ? -was.line : 0;
    at->path = path_in(t->p->frames, n ? s->at[n - 1].path : NULL, at);
}

/* ---- files without stacks ---------------------------------------------------------------------------------------- */

/* "/layer1/layer1.0/" of the node "/layer1/layer1.0/Conv": its length. */
static size_t
scope_length(const struct call *c)
{
    const char *end = c->node && *c->node == '/' ? strrchr(c->node, '/') : NULL;
    return end ? (size_t)(end - c->node) + 1 : 0;
}

/* How much of their scopes two calls share: whole names. */
static size_t
shared_scope(const struct call *a, const struct call *b)
{
    size_t n = 0, whole = 0, na = scope_length(a), nb = scope_length(b);
    for (; n < na && n < nb && a->node[n] == b->node[n]; n++)
        if (a->node[n] == '/')
            whole = n + 1;
    return whole;
}

/* The last call of the module that call i is in, as far as the first n characters of its scope name it. */
static int
scope_end(const struct program *p, int i, size_t n)
{
    const char *scope = p->calls[i].node;
    while (i + 1 < p->ncalls && (!p->calls[i + 1].node ||
                                 (scope_length(&p->calls[i + 1]) >= n && strncmp(p->calls[i + 1].node, scope, n) == 0)))
        i++;
    return i;
}

/* Whether two calls could be of one statement, run again: the same operator and sizes, in modules whose names differ in
 * numbers only. */
static bool
same_statement(const struct call *a, const struct call *b)
{
    if (strcmp(a->target, b->target) != 0 || a->rank != b->rank ||
        (a->rank > 0 && memcmp(a->size, b->size, sizeof(*a->size) * (size_t)a->rank) != 0))
        return false;
    const char *x = a->node, *y = b->node, *ex = x + scope_length(a), *ey = y + scope_length(b);
    for (; x < ex && y < ey; x++, y++) {
        x += strspn(x, "0123456789");
        y += strspn(y, "0123456789");
        if (*x != *y)
            return false;
    }
    return x == ex && y == ey;
}

/* Whether a module calls numbered ones and nothing else, as Sequential does: it binds one name, anew after each.
 * Source: Sequential.forward in torch/nn/modules/container.py. */
static bool
sequential(const struct program *p, int from, int last, size_t n)
{
    int first = from;
    const char *scope = p->calls[from].node;
    while (first > 0 && p->calls[first - 1].node && strncmp(p->calls[first - 1].node, scope, n) == 0)
        first--;
    for (int i = first; i <= last; i++) {
        const char *child = p->calls[i].node ? p->calls[i].node + n : NULL, *end = child ? strchr(child, '/') : NULL;
        const char *number = end;
        while (number && number > child && isdigit((unsigned char)number[-1]))
            number--;
        if (child && (!end || number == end || (number > child && number[-1] != '.')))
            return false;
    }
    return true;
}

/* A tensor that call u reads: as an argument of the reader's module it lives until that returns
 * (torch/nn/modules/module.py: _call_impl has it in args). Whether a local of the module around both calls names it,
 * no such file says: with `locals` one does, until the statement runs again, as long as finding that takes no more
 * steps than the limit. */
static int
held_in_scope(const struct program *p, int from, int u, bool locals, int64_t *steps)
{
    const struct call *m = &p->calls[from], *c = &p->calls[u];
    size_t n = shared_scope(m, c);
    if (!n)
        return -1;
    const char *child = scope_length(c) > n ? strchr(c->node + n, '/') : NULL;
    int end = child ? scope_end(p, u, (size_t)(child - c->node) + 1) : u;
    if (!locals || *steps > limit(LIMIT_FRAMES))
        return child ? end : -1;
    int last = scope_end(p, from, n), i = end + 1;
    *steps += last - from;
    if (sequential(p, from, last, n))
        return end;
    while (i <= last && !(p->calls[i].node && same_statement(m, &p->calls[i])))
        i++;
    return i < last ? i : last;
}

/* Per slot whether it is attention's weights behind their dropout, which forward() may return for a list. */
static bool *
weights_dropped(const struct program *p, struct arena *a)
{
    bool *weighs = NEWN(a, bool, p->nslots + 1), *dropped = NEWN(a, bool, p->nslots + 1);
    for (int i = 0; i < p->ncalls; i++) {
        const struct call *c = &p->calls[i];
        weighs[c->outs[0]] |= target_is(c->target, TARGET_WEIGHS);
        dropped[c->outs[0]] |=
            target_is(c->target, TARGET_DROPS) && c->args[0].kind == ARG_SLOT && weighs[c->args[0].i];
    }
    return dropped;
}

static int *
scope_holds(const struct program *p, bool locals, bool weights)
{
    int *until = NEWN(p->arena, int, p->nslots + 1), *maker = NEWN(p->arena, int, p->nslots + 1);
    memset(until, -1, sizeof(int) * (size_t)(p->nslots + 1));
    memset(maker, -1, sizeof(int) * (size_t)(p->nslots + 1));
    int64_t steps = 0;
    bool scopes = false; /* before 1.13 TorchScript's exporter wrote none */
    for (int i = 0; i < p->ncalls; i++)
        scopes |= p->calls[i].scope > 0;
    for (int i = 0, slot; i < p->ncalls; i++) {
        for (struct call_reads r = {&p->calls[i]}; (slot = next_read(&r)) >= 0;) {
            int end = maker[slot] < 0     ? -1
                      : locals && !scopes ? p->ncalls - 1
                                          : held_in_scope(p, maker[slot], i, locals, &steps);
            until[slot] = end > until[slot] ? end : until[slot];
        }
        for (int k = 0; k < p->calls[i].nouts; k++)
            maker[p->calls[i].outs[k]] = i;
    }
    const bool *kept = weights ? weights_dropped(p, p->arena) : NULL;
    for (int i = 0; i < p->nslots && kept; i++)
        until[i] = kept[i] ? p->ncalls - 1 : until[i];
    return until;
}

/* Whether two lines call modules of one number, each in its list, or the same one. */
static bool
same_number(const struct spot *a, const struct spot *b)
{
    return *a->calls && *b->calls && strcmp(path_last(a->calls), path_last(b->calls)) == 0;
}

/* Whether line numbers leave room for "list = []" right before the loop that call i runs in. */
static bool
room_for_list(const struct tracer *t, int i, int level)
{
    const int first = loop_begin(t, i, level), begin = first < 0 ? t->stacks[i].at[level].line : first;
    for (int k = i - 1; k >= 0; k--) {
        const struct stack *o = &t->stacks[k];
        if (o->borrowed || o->n <= level)
            continue;
        if (!inside(&t->stacks[i], level, o))
            break;
        if (o->at[level].line < begin)
            return o->at[level].whole && begin - o->at[level].line > 2; /* and for the loop's */
    }
    return true; /* nothing shows where the function begins */
}

/* The list that the reader's line takes it out of, which lines without calls made: one that runs over and over appended
 * each time. NULL none. */
static const char *
list_of(struct tracer *t, int from, int user, const char *name, int *level)
{
    const struct stack *s = &t->stacks[from], *u = &t->stacks[user];
    *level = name ? runs_apart(t, from, user) : s->n;
    if (*level >= s->n || *level >= u->n || !s->at || !u->at || s->at[*level].where != u->at[*level].where)
        return NULL;
    const struct spot *made = &s->at[*level], *read = &u->at[*level];
    const bool same = same_spot(made, read) && line_end(t, *level, from, user) >= user; /* which makes it */
    const int first = nth_read(&t->p->calls[user], 0);
    const char *own = first >= 0 && t->maker[first] == from ? element_read(t, user, *level) : NULL;
    if (same || !strchr(read->text, '[') ||
        (!own && binds(made, name) && mentions(read, name) && local_end(t, from, *level, name) >= user))
        return NULL;
    size_t len;
    for (const char *p = read->text; (p = next_name_read(read, p, &len)); p += len) {
        const char *list = arena_strn(t->a, p, len);
        if (p[len] == '[' && !binds(made, list) && (!own || strcmp(own, list) == 0) &&
            ((is_element(p, len) && same_number(made, read)) || !bound_before(t, user, *level, list, NULL)))
            return list;
    }
    return NULL;
}

/* Whether calls i and j are one of a line that ran for each of them: as many like it follow in both. */
static bool
same_element(struct tracer *t, int i, int j, int level)
{
    int behind = 0;
    if (!same_call(t, i, j))
        return false;
    for (int k = statement_last(t, i, level); k > i; k--)
        behind += same_call(t, k, j);
    for (int k = statement_last(t, j, level); k > j; k--)
        behind -= same_call(t, k, j);
    return !behind;
}

/* Whether the list that the line of call `user` takes an element of, which call `from` made, may have one for each time
 * that this ran: "list[0]" of the third has not. */
static bool
grown(struct tracer *t, const char *list, int from, int user, int level)
{
    const struct spot *made = &t->stacks[from].at[level], *read = &t->stacks[user].at[level];
    const char *text = read->text, *at = strstr(text, arena_printf(t->a, "%s[", list));
    char *end = NULL;
    if (made->nbindings && mentions(read, made->binding[0].name) && /* it may have been put there behind the loop */
        !(element_read(t, user, level) && room_for_list(t, from, level)))
        return false;
    const long n = at ? strtol(at + strlen(list) + 1, &end, 10) : 0;
    int nth = 0, all = 0;
    for (int k = 0; k < user; k++) {
        const bool same = same_element(t, k, from, level);
        nth += same && k < from;
        all += same;
    }
    return !at || *end != ']' || (n < 0 ? all - nth <= -n : nth <= n);
}

/* What a line stores in the list, "x[i]" of "y[i], x[i] = f(z)", and its length; NULL nothing. */
static const char *
stored_in(const char *text, const char *list, size_t *size)
{
    const char *eq = stores(text), *next;
    const size_t n = strlen(list);
    for (const char *p = text; eq && p; p = next ? next + strspn(next, " ") : NULL) {
        next = part_end(p, eq + 1);
        *size = (size_t)((next ? next - 1 : eq + 1) - p);
        if (python_name(p) == n && strncmp(p, list, n) == 0)
            return p;
    }
    return NULL;
}

/* Whether a line that two calls ran, "x[i] = layer(y, x[i])", did so for other numbers. */
static bool
other_number(const struct tracer *t, int i, int j, int level)
{
    const struct stack *a = &t->stacks[i], *b = &t->stacks[j];
    return a->n > level && b->n > level && same_spot(&a->at[level], &b->at[level]) && *a->at[level].calls &&
           !same_number(&a->at[level], &b->at[level]);
}

/* Whether the line of call i stores what it makes of the tensor in the list where that was: "x[i] = f(x[i])", and
 * "x[i] = x[i] + f(x[i + 1])", whose last call has it for its first argument. *last is the last call of the line. */
static bool
stored_again(struct tracer *t, int i, int level, const char *list, int slot, int *last)
{
    const struct spot *line = t->stacks[i].n > level ? t->stacks[i].at : NULL;
    size_t target = 0, n = strlen(list), len;
    const char *text = line ? line[level].text : "", *part = stored_in(text, list, &target);
    if (!part)
        return false;
    const char *end = statement_end(text), *value = stores(text) + strlen("] = ");
    *last = statement_last(t, i, level);
    if (*last == i && next_read(&(struct call_reads){&t->p->calls[i]}) == slot && !strncmp(value, part, target))
        return true;
    bool same = false;
    for (const char *p = value; (p = next_variable(p, &len)) && p < end; p += len)
        if (len == n && strncmp(p, list, n) == 0 && !(same = strncmp(p, part, target) == 0))
            return false;
    return same;
}

/* Whether the line has "x[i]" of that list, and no "x[0]". */
static bool
reads_element(const struct spot *s, const char *list)
{
    size_t n = strlen(list), len;
    for (const char *p = s->text; (p = next_name_read(s, p, &len)); p += len)
        if (len == n && strncmp(p, list, n) == 0 && is_element(p, len) && !isdigit((unsigned char)p[len + 1]))
            return true;
    return false;
}

/* Whether the line of call i, "h = cell(y, x[i])", is followed by one without calls that stores in the list what it
 * makes: the same line and module read that there when they run again. */
static bool
stored_behind(struct tracer *t, int i, int level, const char *list, int slot, int *last)
{
    const struct stack *s = &t->stacks[i], *m = &t->stacks[t->maker[slot]];
    if (level + 1 >= s->n || !s->at[level].nbindings || !*s->at[level].calls || binds(&s->at[level], list) ||
        !reads_element(&s->at[level], list))
        return false;
    *last = statement_last(t, i, level);
    if (m->n > level && same_spot(&m->at[level], &s->at[level]))
        return true;
    int next = *last + 1, read;
    while (next <= s->end[level] && !same_call(t, next, i))
        next++;
    for (struct call_reads r = {&t->p->calls[next]}; next <= s->end[level] && (read = next_read(&r)) >= 0;)
        if (t->maker[read] >= i && t->maker[read] <= *last)
            return true;
    return false;
}

/* How long names hold a result of call i that nothing reads: "x, (h, c) = self.lstm(x)". -1 none does. */
static int
unread_until(struct tracer *t, int i, int out, const char **by)
{
    const struct stack *s = &t->stacks[i];
    const int level = s->n - 1 - (s->n > 1 && python_in_torch(t->p->calls[i].stack));
    const struct spot *line = level >= 0 && s->at ? &s->at[level] : NULL;
    const struct bound *b = line && line->nbindings ? line->binding : NULL;
    if (!b || b->of != line->nbindings ||
        !(plain_call(b->value, b->end, line->calls) || (b->of > 1 && one_call(b->value, b->end))))
        return -1;
    *by = arena_str(t->p->arena, b[out < b->of ? out : b->of - 1].name);
    return local_end(t, i, level, *by);
}

/* How long names hold what a module made for nobody: those of the line that calls it, or of the loop's line. */
static int
handed_until(struct tracer *t, int i, const char **by)
{
    const struct stack *s = &t->stacks[i];
    int end = -1, level = s->n - 1;
    for (int k = 0; k < s->n; k++)
        level = strcmp(s->at[k].calls, t->p->calls[i].unread) == 0 ? k : level;
    while (level > 0 && !s->at[level].nbindings)
        level--;
    for (int k = 0; level >= 0 && k < s->at[level].nbindings; k++) {
        const char *name = arena_str(t->p->arena, s->at[level].binding[k].name);
        const int until = local_end(t, i, level, name);
        *by = until > end ? name : *by;
        end = until > end ? until : end;
    }
    return end;
}

/* ---- functions that are no forward ------------------------------------------------------------------------------- */

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

/* "weights" of "self.weights = softmax(x)" and of "x, self.weights = attention(x)", where *last says whether it is the
 * last of several names; NULL none. */
static const char *
attribute_of(struct arena *a, const char *line, bool *several, bool *last)
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

/* The slot of calls first to end - 1 that an attribute keeps; -1 not known. */
static int
kept_of(const struct program *p, int first, int end, bool several)
{
    const struct call *c = &p->calls[end - 1];
    if (!several)
        return c->nouts == 1 ? c->outs[0] : -1;
    while (c > &p->calls[first] && target_is(c->target, TARGET_VIEWS | TARGET_REORDERS))
        c--;
    if (!target_is(c->target, TARGET_MULTIPLIES) || c->args[0].kind != ARG_SLOT)
        return -1;
    for (int i = first; i < end; i++)
        if (p->calls[i].outs[0] == c->args[0].i && !target_is(p->calls[i].target, TARGET_VIEWS | TARGET_REORDERS))
            return (int)c->args[0].i;
    return -1;
}

/* Behind the calls from i on that the statement of these n characters of its stack runs. */
static int
behind_statement(const struct program *p, int i, size_t n)
{
    const char *stack = p->calls[i].stack;
    int end = i;
    while (end < p->ncalls && p->calls[end].stack && strncmp(p->calls[end].stack, stack, n) == 0 &&
           (!p->calls[end].stack[n] || p->calls[end].stack[n] == '\n'))
        end++;
    return end;
}

bool
python_keeps(const char *stack)
{
    struct arena *a = arena_new();
    const char *text;
    bool keeps = false, several, last;
    while (!keeps && next_frame(a, &stack, &text))
        keeps = attribute_of(a, text, &several, &last);
    arena_free(a);
    return keeps;
}

void
python_attributes(struct program *p)
{
    struct arena *a = arena_new();
    struct names *numbers = names_new(a);
    for (int i = 0; i < p->ncalls; i++) {
        const char *at = p->calls[i].stack, *text, *frame;
        if (i > 0 && at && p->calls[i - 1].stack && strcmp(p->calls[i - 1].stack, at) == 0)
            continue; /* of a line that was read */
        while ((frame = next_frame(a, &at, &text))) {
            bool several, last;
            const char *name = attribute_of(a, text, &several, &last), *value = name ? strchr(text, '=') + 1 : NULL;
            size_t n = (size_t)(at - p->calls[i].stack);
            if (!name || (i > 0 && p->calls[i - 1].stack && strncmp(p->calls[i - 1].stack, p->calls[i].stack, n) == 0))
                continue;
            int end = behind_statement(p, i, n);
            bool display = strchr("[{(", value[strspn(value, " ")]) != NULL;
            int slot = display || !last || !python_complete(text) ? -1 : kept_of(p, i, end, several);
            struct call *c = &p->calls[end - 1];
            if (slot < 0) {
                graph_doubt(p->graph, c->node, c->target, NULL,
                            "the program keeps a tensor of this line as an attribute until the next step, and the file "
                            "does not say which");
                continue;
            }
            const char *key = arena_printf(a, "%s %s %s", frame, p->modules[c->scope].path, name);
            int number = names_find(numbers, key);
            if (number < 0)
                names_put(numbers, key, number = ++p->nattributes);
            c->kept = slot;
            c->attribute = number;
        }
    }
    arena_free(a);
}

/* Every how many of the calls from call i to end - 1 that are of its own line the same operators come again, as they do
 * in a loop, whose first round may have begun before; how many they are where they don't. */
static int
period(struct arena *a, const struct program *p, int i, int end)
{
    const char **target = NEWN(a, const char *, end - i + 1), *stack = p->calls[i].stack;
    int n = 0, every = 1;
    for (int k = i; k < end; k++)
        if (strcmp(p->calls[k].stack, stack) == 0)
            target[n++] = p->calls[k].target;
    for (int k = every; k < n; k++)
        if (strcmp(target[k], target[k - every]) != 0)
            k = every++;
    return 2 * n < 3 * every ? n : every;
}

/* Whether calls i to end - 1 that are of its own line are several, none of which this writes; views apart. */
static bool
writes_none(const struct program *p, int i, int end, const char *line)
{
    int n = 0;
    bool any = false;
    for (int k = i; k < end && !any; k++) {
        const char *target = p->calls[k].target;
        const bool own = strcmp(p->calls[k].stack, p->calls[i].stack) == 0 &&
                         !target_is(target, TARGET_VIEWS | TARGET_REORDERS | TARGET_KEEPS | TARGET_COPIES);
        n += own;
        any |= own && python_writes(line, target);
    }
    return !any && n > 1;
}

/* Behind the calls of one statement from call i on, if its line writes fewer than those: functions ran them whose names
 * the file does not have, as it has frames of forward() alone. Libraries' lines are known better, and are no such. -1
 * it shows all. */
static int
hidden_end(struct tracer *t, int i)
{
    const struct program *p = t->p;
    const struct spot *s = innermost(t, &p->calls[i]);
    const char *stack = p->calls[i].stack;
    int end = i;
    if (!s || s->library)
        return -1;
    for (size_t len = strlen(stack); end < p->ncalls && p->calls[end].stack; end++)
        if (strncmp(p->calls[end].stack, stack, len) != 0)
            break;
    if (!s->whole || strstr(s->text, " for "))
        return -1;
    return period(t->a, p, i, end) > python_most(s->text) || writes_none(p, i, end, s->text) ? end : -1;
}

/* The most that functions can hold which the file does not show: what their calls make and read, until they return;
 * maker: per slot its call. Where `until` is NULL only whether there are any. */
static bool
hold_hidden(struct tracer *t, const int *maker, int *until)
{
    const struct program *p = t->p;
    bool any = false;
    for (int i = 0; i < p->ncalls; i++) {
        int end = hidden_end(t, i), slot;
        any |= end > i;
        for (int k = i; k < end && until; k++) {
            const struct call *c = &p->calls[k];
            if (strcmp(c->stack, p->calls[i].stack) != 0)
                continue;
            for (int o = 0; o < c->nouts; o++)
                until[c->outs[o]] = until[c->outs[o]] < end - 1 ? end - 1 : until[c->outs[o]];
            for (struct call_reads r = {c}; (slot = next_read(&r)) >= 0;)
                if (maker[slot] >= i && until[slot] < end - 1)
                    until[slot] = end - 1;
        }
        i = end > i ? end - 1 : i;
    }
    return any;
}

bool
python_hides(const struct program *p)
{
    struct tracer t = tracer_new(p);
    bool any = hold_hidden(&t, NULL, NULL);
    arena_free(t.a);
    return any;
}

bool
python_is_traced(const char *stack)
{
    const char *p = stack ? python_inner(stack) : NULL;
    return p && is_traced(p);
}

bool
python_traced(const struct program *p)
{
    struct tracer t = tracer_new(p);
    const struct spot *s = NULL;
    for (int i = 0; i < p->ncalls && !(s && s->traced); i++)
        s = innermost(&t, &p->calls[i]);
    arena_free(t.a);
    return s && s->traced;
}

/* Whether the call multiplies with a parameter, of a module that has no number for a name, as those of a Sequential;
 * of: the parameter of each slot. */
static bool
multiplies_named(const struct program *p, const struct param *const *of, const struct call *c)
{
    int slot;
    for (struct call_reads r = {c}; (slot = next_read(&r)) >= 0;)
        if (of[slot] && of[slot]->rank > 1)
            return !isdigit((unsigned char)path_last(p->modules[of[slot]->module].path)[0]);
    return false;
}

/* The end of the traced calls of one region that follow each other from the first, and how much of the first one's path
 * their modules have in common: that of the module whose forward the region is in. */
static int
region_ends(const struct program *p, int first, size_t *common)
{
    const char *code = python_inner(p->calls[first].stack), *path = p->modules[p->calls[first].scope].path;
    const size_t len = strcspn(code, ",") + 1;
    int end = first;
    *common = strlen(path);
    for (; end < p->ncalls && python_is_traced(p->calls[end].stack); end++) {
        const char *other = p->modules[p->calls[end].scope].path;
        if (strncmp(python_inner(p->calls[end].stack), code, len) != 0)
            break;
        while (*common && (strncmp(path, other, *common) != 0 || (other[*common] && other[*common] != '.')))
            while (*common && path[--*common] != '.')
                ;
    }
    return end;
}

/* "with torch.no_grad(): y = teacher(x)": names hold what a region hands on until the module that it is in returns. */
static void
hold_handed(const struct program *p, const int *read, int *until)
{
    struct arena *a = arena_new();
    size_t common;
    for (int i = 0, end; i < p->ncalls; i = end) {
        end = i + 1;
        if (!python_is_traced(p->calls[i].stack))
            continue;
        end = region_ends(p, i, &common);
        const char *path = arena_strn(a, p->modules[p->calls[i].scope].path, common);
        int last = end - 1;
        while (last + 1 < p->ncalls && !p->calls[last + 1].in_loss &&
               path_within(p->modules[p->calls[last + 1].scope].path, path))
            last++;
        for (int k = i; k < end; k++)
            for (int o = 0; o < p->calls[k].nouts; o++) {
                const int slot = p->calls[k].outs[o];
                if (read[slot] >= end && !p->calls[read[slot]].no_grad && until[slot] < last)
                    until[slot] = last;
            }
    }
    arena_free(a);
}

/* "x = bn(conv(x))": what a product reads is held until what it makes was read, too, but in a Sequential. */
static void
hold_traced(const struct program *p, int *until)
{
    struct arena *a = arena_new();
    int *read = NEWN(a, int, p->nslots + 1), slot;
    const struct param **of = program_params(p, a);
    for (int i = 0; i < p->ncalls; i++)
        for (struct call_reads r = {&p->calls[i]}; (slot = next_read(&r)) >= 0;)
            read[slot] = i;
    hold_handed(p, read, until);
    for (int i = 0; i < p->ncalls; i++) {
        const struct call *c = &p->calls[i];
        bool holds = multiplies_named(p, of, c) && python_is_traced(c->stack);
        for (struct call_reads r = {c}; holds && (slot = next_read(&r)) >= 0;)
            for (int o = 0; o < c->nouts; o++)
                until[slot] = until[slot] < read[c->outs[o]] ? read[c->outs[o]] : until[slot];
    }
    arena_free(a);
}

/* Whether a value is more than what one call returns: "f(x) + x", "f(x)[0]", "f(x).transpose(0, 1)". */
static bool
goes_on(const struct bound *b)
{
    const char *p = b->value + strspn(b->value, " ");
    char last = 0;
    for (int open = 0; p < b->end && (open || python_name(p) || strchr(".([", *p)); p++) {
        open += python_opens(*p);
        last = *p;
    }
    return augments(b) || p < b->end || last != ')';
}

/* Whether a line reads a name as a tensor, and not as a tuple: as an argument, or one of two operands. */
static bool
takes_tensor(const struct spot *s, const char *name)
{
    size_t len, all = strlen(name);
    const char *p = s->text;
    while ((p = next_name_read(s, p, &len)) && (len != all || memcmp(p, name, all) != 0))
        p += len;
    const char *behind = p ? p + len + strspn(p + len, " ") : "";
    return *behind && strchr("),*/@-", *behind) && strchr("(,=/@-", sign_before(s->text, p));
}

/* Whether the first line behind call i that reads that name in the function around its innermost one takes a tensor. */
static bool
read_as_tensor(struct arena *a, const struct program *p, int i, const char *name)
{
    const char *own = p->calls[i].stack, *inner = python_inner(own), *around = NULL, *text, *at;
    for (const char *q = own; (q = python_frame(q)) && q < inner; q++)
        around = q;
    const size_t n = around ? (size_t)(around - own) : 0;
    const char *from = (at = around) ? next_frame(a, &at, &text) : NULL, *to;
    for (int k = i + 1; from && k < p->ncalls; k++) {
        const char *other = p->calls[k].stack;
        if (!other || strncmp(other, own, n) != 0)
            break;
        at = other + n;
        if (!(to = next_frame(a, &at, &text)) || !python_same_function(from, to))
            break;
        const struct spot s = read_line(a, text);
        if (strcmp(from, to) != 0 && mentions(&s, name))
            return s.whole && takes_tensor(&s, name);
    }
    return false;
}

/* How many names the line binds that calls the innermost function of call i, and to what that returns, as far as it
 * shows: 0 where it makes more of it, or another line does, as of a tensor. */
static int
names_given(struct arena *a, const struct program *p, int i)
{
    const char *line = "", *caller = "", *text = "", *stack = p->calls[i].stack;
    while (next_frame(a, &stack, &text)) {
        caller = line;
        line = text;
    }
    const struct spot s = read_line(a, caller);
    const bool tensor =
        s.nbindings == 1 && s.whole && (goes_on(&s.binding[0]) || read_as_tensor(a, p, i, s.binding[0].name));
    return tensor ? 0 : s.nbindings;
}

/* The first of two tensors that the call multiplies and that are no parameters; -1 none. */
static int
multiplied(const struct param *const *of, const struct call *c)
{
    const bool sums = target_named(c->target, "einsum") && c->nargs > 1 && c->args[1].kind == ARG_LIST;
    const struct arg *x = sums ? c->args[1].list : c->args;
    if (!sums && !target_is(c->target, TARGET_MULTIPLIES))
        return -1;
    if ((sums ? c->args[1].n : c->nargs) < 2 || x[0].kind != ARG_SLOT || x[1].kind != ARG_SLOT || of[x[0].i] ||
        of[x[1].i])
        return -1;
    return (int)x[0].i;
}

/* Whether a softmax made it, with a dropout, a mask or a cast behind that. */
static bool
softmaxed(const struct program *p, const int *maker, int slot)
{
    enum { BEHIND = 3 };
    for (int i = 0; i <= BEHIND && slot >= 0 && maker[slot] >= 0; i++) {
        const struct call *c = &p->calls[maker[slot]];
        if (target_named(c->target, "softmax"))
            return true;
        slot = next_read(&(struct call_reads){c});
    }
    return false;
}

/* The weights that attention multiplies there with its values, in a function that may return them: one of a library, to
 * a line that does not show it, or another to a line of several names. -1 none. */
static int
attends(struct arena *a, const struct program *p, const struct param *const *of, const int *maker, int i)
{
    const struct call *c = &p->calls[i];
    const int weights = c->stack ? multiplied(of, c) : -1;
    const char *frame = weights >= 0 ? python_inner(c->stack) : NULL;
    if (!frame || python_in_torch(c->stack))
        return -1;
    const int names = names_given(a, p, i);
    const bool may = strstr(frame, "site-packages/") ? names == 1 : names > 1 && softmaxed(p, maker, weights);
    return may ? weights : -1;
}

bool
python_attends(const struct program *p)
{
    struct arena *a = arena_new();
    const struct param **of = program_params(p, a);
    const int *maker = program_makers(p, a);
    bool any = false, stacks = false;
    for (int i = 0; i < p->ncalls; i++) {
        any |= attends(a, p, of, maker, i) >= 0;
        stacks |= p->calls[i].stack != NULL;
    }
    const bool *dropped = stacks ? NULL : weights_dropped(p, a);
    for (int i = 0; i < p->nslots && dropped; i++)
        any |= dropped[i];
    arena_free(a);
    return any;
}

/* The last call that may hold what call i's function returns beside its result: the functions around bind it to a name
 * that no line reads, and return it or put it in a list. */
static int
passed_on(const struct tracer *t, int i)
{
    const struct stack *s = &t->stacks[i];
    int end = -1;
    for (int level = s->n - 2; level >= 0 && s->at[level].nbindings > 1; level--) {
        const struct spot *line = &s->at[level];
        const char *name = line->binding[line->nbindings - 1].name;
        if (line->binding[0].of != line->nbindings)
            break;
        for (int k = s->end[level + 1] + 1; k <= s->end[level]; k++)
            if (t->stacks[k].n > level && mentions(&t->stacks[k].at[level], name))
                return end;
        end = s->end[level];
    }
    return end;
}

/* Weights of attention that its function returns, in a tuple that its callers pass on: the layer around that has them
 * until it returns. */
static void
hold_weights(struct tracer *t, int *until)
{
    const struct param **of = program_params(t->p, t->a);
    for (int i = 0; i < t->p->ncalls; i++) {
        const struct stack *s = &t->stacks[i];
        const int weights = attends(t->a, t->p, of, t->maker, i);
        if (weights < 0)
            continue;
        const bool library = strstr(python_inner(t->p->calls[i].stack), "site-packages/");
        const int end = !library ? passed_on(t, i) : s->n > 2 ? s->end[s->n - 3] : -1;
        until[weights] = until[weights] < end ? end : until[weights];
    }
}

/* The number of a module in a list below that one, "3/output" of "encoder.layer.3.output"; NULL it is in none. */
static const char *
listed_below(const char *path, const char *module)
{
    for (const char *p = path_within(path, module) ? path + strlen(module) : ""; *p; p += strcspn(p, ".")) {
        p += *p == '.';
        if (*p && strspn(p, "0123456789") == strcspn(p, "."))
            return p;
    }
    return NULL;
}

/* The layers of a list that run last in these calls, one after another: *from is the first of their calls. False: none
 * does, or other modules run in between. */
static bool
last_layers(const struct program *p, const char *module, int first, int end, int *from)
{
    const char *list = NULL;
    size_t n = 0;
    for (int k = end; k >= first; k--) {
        const char *path = p->modules[p->calls[k].scope].path, *number = listed_below(path, module);
        const bool in = number && (!list || ((size_t)(number - path) == n && strncmp(path, list, n) == 0));
        if (in && list && *from != k + 1)
            return false;
        if (!in)
            continue;
        list = path;
        n = (size_t)(number - path);
        *from = k;
    }
    return list;
}

/* "states = self.encoder(x, output_hidden_states=True).hidden_states": what goes into each layer of the module, and
 * what leaves the last, as long as the name has them. Source: ModelOutput in transformers/modeling_outputs.py. */
static void
hold_states(struct tracer *t, int *until, const char **by)
{
    const struct program *p = t->p;
    for (int i = 0; i < p->ncalls; i++)
        for (int level = 0, from; level < t->stacks[i].n - 1; level++) {
            const struct spot *s = &t->stacks[i].at[level];
            const int end = t->stacks[i].end[level + 1];
            if (!s->states || !*s->calls || (i && parting(&t->stacks[i - 1], &t->stacks[i]) > level) ||
                !last_layers(p, s->calls, i, end, &from))
                continue;
            const char *name = s->nbindings ? arena_str(p->arena, s->binding[0].name) : NULL;
            const int last = name ? local_end(t, end, level, name) : line_end(t, level, end, t->stacks[i].end[level]);
            for (int k = from > i ? from - 1 : i; k <= end; k++) {
                const int slot = p->calls[k].outs[0];
                const char *number = k < from ? "" : listed_below(p->modules[p->calls[k].scope].path, s->calls),
                           *next = k < end ? listed_below(p->modules[p->calls[k + 1].scope].path, s->calls) : NULL;
                if (!number || (next && atoi(next) == atoi(number) && *number) || until[slot] >= last)
                    continue;
                until[slot] = last;
                by[slot] = name;
            }
        }
}

static bool
same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

static bool
same_slots(int n, const struct arg *p, const struct arg *q)
{
    bool same = true;
    for (int i = 0; i < n && same; i++) {
        same = p[i].kind == q[i].kind;
        if (same && p[i].kind == ARG_SLOT)
            same = p[i].i == q[i].i && same_text(p[i].s, q[i].s);
        else if (same && p[i].kind == ARG_LIST)
            same = p[i].n == q[i].n && same_slots(p[i].n, p[i].list, q[i].list);
    }
    return same;
}

bool
python_holds_alike(const struct program *p, const struct program *q)
{
    bool same =
             p->ncalls == q->ncalls && p->nslots == q->nslots && p->nparams == q->nparams && p->nmodules == q->nmodules,
         stacks = false;
    for (int i = 0; i < p->nmodules && same; i++)
        same = p->modules[i].parent == q->modules[i].parent && same_text(p->modules[i].path, q->modules[i].path) &&
               same_text(p->modules[i].type, q->modules[i].type);
    for (int i = 0; i < p->nparams && same; i++)
        same = p->params[i].slot == q->params[i].slot && p->params[i].rank == q->params[i].rank;
    for (int i = 0; i < p->ncalls && same; i++) {
        const struct call *c = &p->calls[i], *d = &q->calls[i];
        same = c->op == d->op && c->scope == d->scope && c->in_place == d->in_place && c->nouts == d->nouts &&
               c->nargs == d->nargs && c->kept == d->kept && c->attribute == d->attribute &&
               same_text(c->target, d->target) && same_text(c->node, d->node) && same_text(c->stack, d->stack) &&
               same_text(c->scopes, d->scopes) && memcmp(c->outs, d->outs, sizeof(*c->outs) * (size_t)c->nouts) == 0 &&
               same_slots(c->nargs, c->args, d->args);
        stacks |= c->stack != NULL;
    }
    return same && stacks; /* without stacks sizes tell */
}

struct held_before { /* by names, whatever the most is that others hold */
    int *until;
    const char **by;
    int steps;
};

/* What its readers' lines hold of each slot; place: which of its call's results it is, reader: whose stack reads it. */
static void
hold_read(struct tracer *t, const int *place, const int *reader, int *until, const char **by)
{
    const struct program *p = t->p;
    int *out_at = NEWN(t->a, int, p->nslots + 1);
    const char **out_of = NEWN(t->a, const char *, p->nslots + 1); /* the list that a slot left, after that call */
    for (int i = 0, slot; i < p->ncalls; i++)
        for (struct call_reads r = {&p->calls[i]}; (slot = next_read(&r)) >= 0;) {
            if (t->maker[slot] < 0 || t->maker[slot] >= i)
                continue;
            const char *name;
            t->slot = slot;
            int end = held_until(t, t->maker[slot], place[slot], i, &name);
            int loop = carried(t, t->maker[slot], i, &name), last = -1;
            for (int k = i; loop >= 0 && k <= t->stacks[i].end[loop]; k++)
                last = same_variable(t, k, t->maker[slot]) ? k : last;
            if (last >= 0) { /* the last round's, which nobody reads */
                int other = p->calls[last].outs[0], end = local_end(t, last, loop, name);
                by[other] = end > until[other] ? name : by[other];
                until[other] = end > until[other] ? end : until[other];
            }
            const char *seen = NULL;
            int other = seen_until(t, i, &seen);
            if (other > end && (end < i || !name || strcmp(seen, name) != 0)) {
                name = seen;
                end = other;
            }
            const int root = t->maker[t->object[slot]];
            int level;
            const char *list = root < 0 ? NULL : list_of(t, root, i, name, &level), *own = name;
            if (list && strcmp(list, name) != 0 && (last = local_end(t, i, level, list)) > end) {
                name = arena_str(p->arena, list);
                end = last;
            }
            for (int k = list && grown(t, list, root, i, level) ? i - 1 : -1; k >= 0; k--) {
                bool same = k != root && same_element(t, k, root, level) && p->calls[k].nouts > place[slot];
                int other = same ? p->calls[k].outs[place[slot]] : -1;
                if (other >= 0 && end > until[other]) {
                    until[other] = end;
                    by[other] = name;
                }
            }
            const struct stack *put = &t->stacks[t->maker[slot]];
            int common = runs_apart(t, t->maker[slot], i);
            const char *left = list ? list : own ? own : common < put->n ? put_into(t->a, put->at[common].text) : NULL;
            if (left && !other_number(t, t->maker[slot], i, common) &&
                (stored_again(t, i, common, left, slot, &last) || stored_behind(t, i, common, left, slot, &last))) {
                out_of[slot] = left;
                out_at[slot] = last;
                int next = i; /* what takes its place, which nobody may read */
                while (next <= last && !same_call(t, next, t->maker[slot]))
                    next++;
                int into = next <= last ? p->calls[next].outs[place[slot]] : -1, held = local_end(t, i, common, left);
                if (into >= 0 && held > until[into]) {
                    until[into] = held;
                    by[into] = arena_str(p->arena, left);
                }
            }
            if (end > until[slot]) {
                until[slot] = end;
                by[slot] = name;
            }
        }
    for (int i = 0; i < p->ncalls; i++)
        for (int k = 0; k < p->calls[i].nouts && (p->calls[i].nouts > 1 || p->calls[i].unread); k++)
            if (reader[t->slot = p->calls[i].outs[k]] < 0)
                until[t->slot] =
                    p->calls[i].unread ? handed_until(t, i, &by[t->slot]) : unread_until(t, i, k, &by[t->slot]);
    for (int slot = 0; slot < p->nslots; slot++)
        if (out_of[slot] && (!by[slot] || strcmp(by[slot], out_of[slot]) == 0) && until[slot] > out_at[slot])
            until[slot] = out_at[slot];
}

int *
python_holds(struct program *p, unsigned most, const char ***by)
{
    bool stacks = false;
    for (int i = 0; i < p->ncalls; i++)
        stacks |= p->calls[i].stack != NULL;
    *by = NEWN(p->arena, const char *, p->nslots + 1);
    if (!stacks)
        return scope_holds(p, most & HOLD_LOCALS, most & HOLD_WEIGHTS);
    struct tracer t = tracer_new(p);
    int *until = NEWN(p->arena, int, p->nslots + 1), *maker = NEWN(t.a, int, p->nslots + 1),
        *place = NEWN(t.a, int, p->nslots + 1), *reader = NEWN(t.a, int, p->nslots + 1);
    memset(until, -1, sizeof(int) * (size_t)(p->nslots + 1));
    memset(maker, -1, sizeof(int) * (size_t)(p->nslots + 1));
    memset(reader, -1, sizeof(int) * (size_t)(p->nslots + 1));
    read_stacks(&t);
    for (int i = 0; i < p->ncalls; i++)
        for (int k = 0; k < p->calls[i].nouts; k++) {
            maker[p->calls[i].outs[k]] = i;
            place[p->calls[i].outs[k]] = k;
        }
    for (int i = p->ncalls - 1, slot; i >= 0; i--) { /* with a stack, as far as there is one */
        int by = t.stacks[i].n ? i : -1;
        for (int k = 0; k < p->calls[i].nouts && by < 0; k++)
            by = reader[p->calls[i].outs[k]];
        for (struct call_reads r = {&p->calls[i]}; by >= 0 && (slot = next_read(&r)) >= 0;)
            reader[slot] = by;
    }
    for (int i = 0; i < p->ncalls; i++) {
        const struct call *c = &p->calls[i];
        bool lost = !t.stacks[i].n || (c->op && target_is(c->target, TARGET_COPIES));
        int in = lost ? next_read(&(struct call_reads){c}) : -1, next = -1;
        for (int k = 0; k < c->nouts && next < 0; k++)
            next = reader[c->outs[k]];
        if (in >= 0 && maker[in] >= 0 && maker[in] < i && next > i)
            borrow_stack(&t, maker[in], next, c->nouts > 1, &t.stacks[i]);
    }
    read_ends(&t);
    t.maker = maker;
    read_rounds(&t);
    read_sights(&t);
    const struct held_before *before = p->held_before;
    if (before) {
        memcpy(until, before->until, sizeof(*until) * (size_t)(p->nslots + 1));
        memcpy(*by, before->by, sizeof(**by) * (size_t)(p->nslots + 1));
        t.steps = before->steps;
    } else {
        hold_read(&t, place, reader, until, *by);
        p->held_before = NEW(p->arena, struct held_before);
        *p->held_before =
            (struct held_before){arena_dup(p->arena, until, sizeof(*until) * (size_t)(p->nslots + 1)),
                                 arena_dup(p->arena, *by, sizeof(**by) * (size_t)(p->nslots + 1)), t.steps};
    }
    if (most & HOLD_FUNCTIONS)
        hold_hidden(&t, maker, until);
    if (most & HOLD_TRACED)
        hold_traced(p, until);
    if (most & HOLD_WEIGHTS)
        hold_weights(&t, until);
    hold_states(&t, until, *by);
    for (int i = 0; i < p->ncalls; i++)
        if (p->calls[i].attribute && until[p->calls[i].kept] < i)
            until[p->calls[i].kept] = i;
    if (t.steps > limit(LIMIT_FRAMES))
        graph_doubt(p->graph, "model", "python", limit_remedy(p->arena, LIMIT_FRAMES),
                    "how long names of the Python program hold tensors takes too many steps to tell")
            ->sure = SURE_MODEL;
    arena_free(t.a);
    return until;
}

/* ---- checkpoints in the program ---------------------------------------------------------------------------------- */

/* What a line calls that puts the calls of its first argument under checkpoint: torch/utils/checkpoint.py. */
static const struct wrapper {
    const char *name;
    bool segments; /* of a list: which, the line doesn't show */
} wrappers[] = {{"checkpoint", false}, {"checkpoint_sequential", true}};

/* The wrapper that a line calls, by its own name or a module's; *arg is behind the bracket. NULL none. */
static const struct wrapper *
wrapper_of(const char *text, const char **arg)
{
    static const char self[] = "self.";
    for (int i = 0; i < COUNT(wrappers); i++)
        for (*arg = text; (*arg = python_calls(*arg, wrappers[i].name));) {
            const char *name = *arg - strlen(wrappers[i].name) - 1;
            size_t before = strlen(self);
            if ((size_t)(name - text) < before || strncmp(name - before, self, before) != 0)
                return &wrappers[i];
        }
    return NULL;
}

static const char *
class_of(const struct program *p, const char *path)
{
    for (int i = 0; i < p->nmodules; i++)
        if (strcmp(p->modules[i].path, path) == 0)
            return p->modules[i].type ? p->modules[i].type : "";
    return "";
}

/* How a run of calls under one line's checkpoint falls apart. */
enum { ONE, EACH /* module alone */, OPEN };

static int
parts_under(const struct tracer *t, const char *arg, int first, int end, int level)
{
    size_t name = strspn(arg, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.");
    const char *module = t->stacks[first].at[level].calls, *type = class_of(t->p, module);
    bool alike = *module, several = false;
    for (int i = first; i < end; i++) {
        const char *other = t->stacks[i].n ? t->stacks[i].at[level].calls : module;
        if (strcmp(other, module) == 0)
            continue;
        alike &= *other && strcmp(class_of(t->p, other), type) == 0;
        several = true;
    }
    if (!several || strncmp(arg, "lambda", 6) == 0)
        return ONE;
    if (arg[name] == '[' || (*arg == '\0' && alike))
        return EACH;
    if (memchr(arg, '.', name)) /* a method */
        return arg[name] == ',' ? ONE : OPEN;
    return arg[name] != ',' ? OPEN : alike ? EACH : ONE; /* a loop's module, or a function */
}

/* Whether call i, of a line that calls a wrapper, runs under it: where that wraps a module, no call of the line's own
 * or of another module. */
static bool
under(const struct tracer *t, int i, int level, const char *arg)
{
    static const char self[] = "self.";
    const struct stack *s = &t->stacks[i];
    size_t n = strncmp(arg, self, strlen(self)) == 0 ? python_name(arg + strlen(self)) : 0;
    const char *module = path_last(s->at[level].calls);
    if (!n || arg[strlen(self) + n] != ',')
        return true;
    return s->n > level + 1 && strncmp(module, arg + strlen(self), n) == 0 && !module[n];
}

/* Whether call k is of another region than one that began with call `from`: of a loop's next round, or module. */
static bool
begins_region(const struct tracer *t, int level, int parts, int from, int k)
{
    const struct spot *one = t->stacks[from].at, *other = t->stacks[k].at;
    if (!one || !other)
        return false;
    return (is_layer(t, level, from) && same_call(t, from, k)) ||
           (parts != ONE && strcmp(other[level].calls, one[level].calls) != 0);
}

void
python_checkpoints(struct program *p, bool conditional)
{
    struct tracer t = tracer_new(p);
    read_stacks(&t);
    struct region *regions = NULL;
    int nregions = 0, cap = 0;
    for (int i = 0, end; i < p->ncalls; i = end) {
        const struct stack *s = &t.stacks[i];
        const struct wrapper *w = NULL;
        const char *arg = "";
        int level = 0;
        for (level = 0; level < s->n && !w; level += !w)
            for (w = wrapper_of(s->at[level].text, &arg); w && !under(&t, i, level, arg);)
                w = wrapper_of(arg, &arg);
        end = i + 1;
        if (!w)
            continue;
        for (int k = end;
             k < p->ncalls && (!t.stacks[k].n || (parting(s, &t.stacks[k]) > level && under(&t, k, level, arg))); k++)
            end = t.stacks[k].n ? k + 1 : end;
        const char *file = p->calls[i].frames[level] + strlen("File \""),
                   *at = arena_printf(p->arena, "%.*s:%d", (int)strcspn(file, "\""), file, s->at[level].line);
        bool choice = strstr(s->at[level].text, " if ") && strstr(s->at[level].text, " else ");
        int parts = w->segments ? OPEN : parts_under(&t, arg, i, end, level);
        if (choice)
            program_assume(p, ALTERNATIVE_CHECKPOINTS,
                           "%s has torch.utils.checkpoint on one side of a condition: taken not to be called", at);
        if (choice && !conditional)
            continue;
        if (parts == OPEN)
            graph_doubt(p->graph, p->calls[i].node, "torch.utils.checkpoint", NULL,
                        "%s puts several modules under checkpoint, and the file does not say which together: "
                        "--recompute=NAMES says so",
                        at);
        else if (!choice)
            program_assume(p, ALTERNATIVE_NONE, "%s puts what it calls under torch.utils.checkpoint", at);
        for (int k = i + 1, from = i; k <= end; k++)
            if (k == end || begins_region(&t, level, parts, from, k)) {
                *PUSH(p->arena, regions, nregions, cap) = (struct region){.first = from, .end = k};
                from = k;
            }
    }
    p->regions = regions;
    p->nregions = nregions;
    arena_free(t.a);
}
