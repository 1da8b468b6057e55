/* SPDX-License-Identifier: Apache-2.0 */
/* stack.c - the Python frames of calls, as exporters write them.
 *
 * A stack is the text of a traceback: for each frame its file, line number and function, and the line itself. Calls of
 * a module have most of it in common, so a frame is read once, whatever modules run it, and one that is in the same
 * frames is one path: where two stacks part is told by comparing pointers from their ends. Other questions ask two
 * texts frame by frame.
 */
#define _GNU_SOURCE
#include "program/stack.h"

#include <stdlib.h>
#include <string.h>

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
        size_t begin, size;   /* text: from the frame before on, with what ends it, a new line or the stack's end */
        bool forward, direct; /* in one; calls one itself, "x.forward(y)", which is no call of a module */
        struct spot spot;
        struct path *around; /* spot.path is in; NULL none, or not known yet */
    } * last;
    struct entries scopes;   /* likewise */
    const char *parsed_text; /* of all of it; NULL none */
    struct stack parsed;
    int nread, cap_read;
    struct reading { /* by the texts' addresses: calls have them in common */
        const char *stack, *scopes;
        struct stack read;
    } * reading;           /* open addressing, cap_read is a power of two */
    struct frames *before; /* of the file's first program, which outlives this one; NULL none */
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

struct path *
stack_path(struct frames *f, struct path *around, const struct spot *s)
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
    struct spot spot = {.line = python_frame_line(frame)};
    spot.src = syntax_keep(f->a, arena_strn(f->a, text, (size_t)(end - text)));
    spot.library = strstr(function, "site-packages/");
    spot.traced = is_traced(frame);
    spot.widens = strstr(spot.src->text, "float") != NULL;
    spot.states = strstr(spot.src->text, "output_hidden_states=True") || strstr(spot.src->text, ".hidden_states");
    spot.function = place_number(f, function);
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
        struct code *read = PUSH(f->a, f->code, f->n, f->cap);
        *read = read_spot(f, frame, end);
        own = read;
    }
    struct spot spot = own->spot;
    spot.where = place_number(f, joined(f, own->function, strlen(own->function), module));
    return spot;
}

/* Files whose functions of the name are no module's. Source: run_function of checkpoint_sequential, checkpoint_seq. */
static const char *const no_modules[] = {"timm/models/_manipulate.py\"", "torch/utils/checkpoint.py\""};

/* Whether the frame that begins there, whose file ends before `line`, is a module's forward. */
static bool
is_forward(const char *frame, const char *line, const char *in)
{
    bool is = strncmp(in, ", in forward\n", 13) == 0;
    for (int i = 0; i < COUNT(no_modules) && is; i++) {
        const size_t n = strlen(no_modules[i]);
        is = (size_t)(line + 1 - frame) < n || strncmp(line + 1 - n, no_modules[i], n) != 0;
    }
    return is;
}

/* What the text there says of its first frame, without its module; false: there is none. */
static bool
read_frame(struct frame *to, const char *text)
{
    const char *p = python_frame(text), *end = p ? strchr(p, '\n') : NULL, *line = end ? strstr(p, "\", line ") : NULL,
               *in = line ? strstr(line, ", in ") : NULL;
    if (!in || in > end)
        return false;
    const char *next = end + 1 + strcspn(end + 1, "\n");
    *to = (struct frame){.text = text, .begin = (size_t)(p - text), .size = (size_t)(next + 1 - text)};
    to->forward = is_forward(p, line, in);
    const char *direct = strstr(end, ".forward(");
    to->direct = direct && direct < next;
    return true;
}

static struct stack
parse_stack(struct frames *f, const struct call *c)
{
    struct stack s = {0};
    const int before = f->scopes.n;
    f->scopes = python_entries(f->a, c->scopes, &f->scopes);
    const struct entry *scope = f->scopes.entry;
    int depth = 0, cap = 0, nscopes = f->scopes.n - 1; /* the last entry is the call itself */
    if (f->parsed_text && f->scopes.n == before && f->scopes.kept >= nscopes && strcmp(f->parsed_text, c->stack) == 0)
        return f->parsed;
    for (const char *p = c->stack, *end;; p = end) {
        struct frame read, *own = s.n < f->nlast ? &f->last[s.n] : NULL;
        if (!own || strncmp(own->text, p, own->size) != 0) {
            if (!read_frame(&read, p))
                break;
            f->nlast = s.n;
            own = PUSH(f->a, f->last, f->nlast, f->cap_last);
            *own = read;
        }
        end = p + own->size - 1;
        depth += own->forward && !(s.n && f->last[s.n - 1].direct);
        const char *module = nscopes < 1 ? "" : scope[depth < 1 ? 0 : depth <= nscopes ? depth - 1 : nscopes - 1].name;
        struct path *around = s.n ? s.at[s.n - 1].path : NULL;
        if (!own->module || (own->module != module && strcmp(own->module, module) != 0))
            own->spot = frame_spot(f, p + own->begin, end, module);
        own->module = module;
        if (!own->spot.path || own->around != around)
            own->spot.path = stack_path(f, around, &own->spot);
        own->around = around;
        struct spot *spot = PUSH(f->a, s.at, s.n, cap);
        *spot = own->spot;
        spot->calls = depth < nscopes ? scope[depth].name : "";
    }
    f->parsed_text = c->stack;
    return f->parsed = s;
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

struct stack
stack_read(const struct program *p, const struct call *c)
{
    struct frames *f = p->frames;
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

bool
stack_same_spot(const struct spot *a, const struct spot *b)
{
    return a->where == b->where && a->line == b->line;
}

int
stack_parting(const struct stack *a, const struct stack *b)
{
    int j = a->n < b->n ? a->n : b->n;
    while (j > 0 && a->at[j - 1].path != b->at[j - 1].path)
        j--;
    return j;
}

const char *
python_text(struct arena *a, const char *stack, int level)
{
    const char *text = "";
    for (int i = 0; i <= level; i++)
        if (!stack_next_frame(a, &stack, &text))
            return "";
    return text;
}

bool
stack_shares_frame(const struct stack *a, int level, const struct stack *b)
{
    bool same = b->n > level && a->at[level].function == b->at[level].function;
    for (int i = 0; i < level && same; i++)
        same = a->at[i].function == b->at[i].function && a->at[i].line == b->at[i].line;
    return same;
}

const char *
stack_next_frame(struct arena *a, const char **at, const char **text)
{
    const char *p = *at ? python_frame(*at) : NULL, *end = p ? strchr(p, '\n') : NULL;
    if (!end)
        return NULL;
    const char *line = end + 1 + strspn(end + 1, " ");
    *at = line + strcspn(line, "\n");
    *text = arena_strn(a, line, (size_t)(*at - line));
    return arena_strn(a, p, (size_t)(end - p));
}

const char *
stack_down_to(struct arena *a, const char *stack, int level)
{
    const char *end = stack, *text;
    for (int i = 0; i <= level; i++)
        stack_next_frame(a, &end, &text);
    return arena_strn(a, stack, (size_t)(end - stack));
}

bool
python_same_function(const char *a, const char *b)
{
    static const char mark[] = "\", line ";
    const char *line = strstr(a, mark);
    return line && strncmp(a, b, (size_t)(line - a) + strlen(mark)) == 0 &&
           strcmp(strrchr(a, ' '), strrchr(b, ' ')) == 0;
}

/* The name that the maker's line binds in the function where both stacks part, and that function's line of the reader;
 * NULL none. */
static const char *
bound_beside(struct arena *a, const char *maker, const char *reader, struct source *r)
{
    const char *made = "", *read = "", *from, *to;
    do {
        from = stack_next_frame(a, &maker, &made);
        to = stack_next_frame(a, &reader, &read);
    } while (from && to && strcmp(from, to) == 0);
    struct source m = syntax_read(a, made);
    *r = syntax_read(a, read);
    return from && to && python_same_function(from, to) && m.whole && r->whole && m.nbindings ? m.binding[0].name
                                                                                              : NULL;
}

bool
python_renames(struct arena *a, const char *maker, const char *reader, const char *later)
{
    struct source r, o;
    const char *name = bound_beside(a, maker, reader, &r), *taken = later ? bound_beside(a, later, reader, &o) : NULL;
    return name && syntax_mentions(&r, name) <= (taken && strcmp(taken, name) == 0);
}

const char *
python_inner(const char *stack)
{
    const char *p = stack ? stack + strlen(stack) : NULL;
    while (p && (p = memrchr(stack, 'F', (size_t)(p - stack))) && strncmp(p, "File \"", 6) != 0)
        ;
    return p;
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
    while ((from = stack_next_frame(a, &below, &made)) && (to = stack_next_frame(a, &under, &read))) {
        if (python_same_function(from, to) && strcmp(from, to) != 0) {
            struct source binds_it = syntax_read(a, made), reads_it = syntax_read(a, read);
            if (binds_it.whole && binds_it.nbindings == 1 && syntax_mentions(&reads_it, binds_it.binding[0].name))
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
    const char *own = python_inner(reader), *under = own, *read = "",
               *to = own ? stack_next_frame(a, &under, &read) : NULL, *below = m, *made, *from, *stack = NULL;
    for (; to && (from = stack_next_frame(a, &below, &made)); m = below) {
        struct source binds_it = syntax_read(a, made), reads_it = syntax_read(a, read);
        if (python_same_function(from, to) && strcmp(from, to) != 0 && binds_it.whole && binds_it.nbindings == 1 &&
            syntax_mentions(&reads_it, binds_it.binding[0].name))
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
        from = stack_next_frame(a, &m, &made);
        to = stack_next_frame(a, &r, &read);
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
    if (syntax_times_made(read, target) || (part && strchr(read, '[')))
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
        x = stack_next_frame(a, &one, &text);
        y = stack_next_frame(a, &other, &text);
    } while (x && y && strcmp(x, y) == 0);
    return x && y && python_same_function(x, y) && python_frame_line(x) < python_frame_line(y);
}

const char *
python_region(const char *stack, size_t *len)
{
    const char *inner = stack ? python_inner(stack) : NULL;
    if (!inner || !is_traced(inner))
        return NULL;
    *len = strcspn(inner, ",");
    return inner;
}

int
python_region_number(const char *code)
{
    const char *at = strchr(code, '>');
    return at && at[1] == '.' ? atoi(at + 2) : 0;
}

const char *
python_region_around(const char *stack, size_t *len)
{
    const char *code = NULL;
    for (const char *p = stack ? python_frame(stack) : NULL; p; p = python_frame(p + 1))
        code = is_traced(p) ? p : code;
    *len = code ? strcspn(code, ",") : 0;
    return code;
}

bool
python_is_traced(const char *stack)
{
    size_t len;
    return python_region(stack, &len);
}
