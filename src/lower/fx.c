/* SPDX-License-Identifier: Apache-2.0 */
/* fx.c - the exporter's text: a call as torch.fx prints it, its module scopes, its Python frames.
 *
 * Reading alone: names stay text. Texts are a file's, and may be anything; what doesn't read as expected ends the
 * reading.
 */
#include "lower/dynamo.h"
#include "torch/torch.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* "%NAME : [num_users=1] = call_function[target=torch.ops.aten.add.Tensor](args = (...), kwargs = {...})" */
static void
split(struct arena *a, const char *fx, struct record *r)
{
    const char *colon = strchr(fx, ' '), *target = strstr(fx, "[target="), *end;
    if (*fx != '%' || !colon || !target)
        return;
    target += strlen("[target=");
    if (strncmp(target, "torch.ops.", 10) == 0)
        target += 10;
    end = strchr(target, ']');
    const char *args = end ? strstr(end, "(args = (") : NULL;
    if (!args)
        return;
    r->name = arena_strn(a, fx + 1, (size_t)(colon - fx - 1));
    r->target = arena_strn(a, target, (size_t)(end - target));
    r->args = args + strlen("(args = (");
}

/* Arguments are "%list, 2". */
const char *
fx_list(struct arena *a, const struct record *r, int *item)
{
    if (strcmp(r->target, "operator.getitem") != 0 || *r->args != '%')
        return "";
    const char *list = r->args + 1, *end = list + python_name(list);
    *item = atoi(end + strspn(end, ", "));
    return arena_strn(a, list, (size_t)(end - list));
}

/* ---- Python frames ----------------------------------------------------------------------------------------------- */

/* The last frame outside site-packages as "file.py:123". */
const char *
fx_location(struct arena *a, const char *stack)
{
    static const char packages[] = "site-packages/";
    const char *best = NULL, *number = NULL, *library = stack ? strstr(stack, packages) : NULL;
    int length = 0;
    for (const char *p = stack; p && (p = python_frame(p)); p++) {
        const char *file = p + 6, *end = strchr(file, '"'), *line = end ? strstr(end, "line ") : NULL;
        if (!line || line - end > 4)
            continue;
        while (library && library < file)
            library = strstr(library + 1, packages);
        if (best && library && library < end)
            continue;
        best = file;
        length = (int)(end - file);
        number = line + 5;
    }
    return best ? arena_printf(a, "%.*s:%d", length, best, atoi(number)) : NULL;
}

/* The source line of the innermost frame. */
const char *
fx_line(struct arena *a, const char *stack)
{
    const size_t all = stack ? strlen(stack) : 0;
    size_t n = all;
    while (n && (stack[n - 1] == '\n' || stack[n - 1] == ' '))
        n--;
    size_t from = n;
    while (from && stack[from - 1] != '\n')
        from--;
    return !n ? "" : n < all ? arena_strn(a, stack + from, n - from) : stack + from;
}

bool
fx_widens(const char *line)
{
    static const char *const widened[] = {"weight.float()", "weight.to(torch.float32)"};
    bool wide = false;
    for (int i = 0; i < COUNT(widened); i++)
        wide |= strstr(line, widened[i]) != NULL;
    return wide;
}

const char *
fx_outer(struct arena *a, const char *stack)
{
    const char *last = python_inner(stack);
    return last ? arena_strn(a, stack, (size_t)(last - stack)) : stack;
}

const char *
fx_lost_line(struct arena *a, const char *stack, const char *name, const char *called)
{
    static const char begin[] = "File \"";
    const char *frame = python_inner(stack), *in = frame ? strstr(frame, ", in ") : NULL;
    const size_t file = frame ? strlen(begin) + strcspn(frame + strlen(begin), "\"") : 0;
    return in ? arena_printf(a, "%.*s%.*s\", line %d%.*s\n    %s = %s(", (int)(frame - stack), stack, (int)file, frame,
                             python_frame_line(frame) - 1, (int)strcspn(in, "\n"), in, name, called)
              : NULL;
}

const char *
fx_before(struct arena *a, const char *stack, const char *name)
{
    static const char mark[] = "\", line ";
    const char *line = stack ? strstr(stack, mark) : NULL;
    for (const char *p = line; p && (p = strstr(p + 1, mark));)
        line = p;
    const char *number = line ? line + strlen(mark) : NULL, *text = number ? strchr(number, '\n') : NULL;
    if (!text || !name)
        return stack;
    return arena_printf(a, "%.*s-%.*s\n    %s = ", (int)(number - stack), stack, (int)(text - number), number, name);
}

const char *
fx_named(struct arena *a, const char **args)
{
    const char *p = strchr(*args, '%');
    if (!p)
        return NULL;
    size_t n = 1;
    while (isalnum((unsigned char)p[n]) || p[n] == '_')
        n++;
    *args = p + n;
    return arena_strn(a, p + 1, n - 1);
}

bool
fx_names(const char *args, const char *name)
{
    const size_t n = strlen(name);
    for (const char *p = args ? strchr(args, '%') : NULL; p; p = strchr(p + 1, '%'))
        if (strncmp(p + 1, name, n) == 0 && !isalnum((unsigned char)p[1 + n]) && p[1 + n] != '_')
            return true;
    return false;
}

const char **
fx_frames(struct arena *a, const char *stack)
{
    const char **list = NULL;
    int n = 0, cap = 0;
    for (const char *p = stack; p && (p = python_frame(p)); p++) {
        const char *end = strchr(p, '\n');
        *PUSH(a, list, n, cap) = end ? arena_strn(a, p, (size_t)(end - p)) : arena_str(a, p);
    }
    if (list)
        *PUSH(a, list, n, cap) = NULL;
    return list;
}

/* ---- all of a node ----------------------------------------------------------------------------------------------- */

/* Whether a stack's source lines mention dropout; files may be called anything. */
static bool
says_dropout(const char *text)
{
    const char *at = text ? strstr(text, "rop") : NULL;
    for (const char *p = text; at; p += *p == '\n') {
        const char *end = p + strcspn(p, "\n");
        if (!starts_with(p + strspn(p, " "), "File \"") && at < end && at > p && (at[-1] == 'd' || at[-1] == 'D'))
            return true;
        p = end;
        at = at < end ? strstr(end, "rop") : at;
    }
    return false;
}

/* The first entry that mentions dropout, from 1 on, by that of the list before; 0 none. */
static int
first_dropout(const struct entries *e, int before)
{
    if (before && before <= e->kept)
        return before;
    for (int i = e->kept; i < e->n; i++) {
        const char *name = e->entry[i].name, *at = strstr(name, "rop");
        if (at && at > name && (at[-1] == 'd' || at[-1] == 'D'))
            return i + 1;
    }
    return 0;
}

/* As all casts begin that casts.c reads. */
static bool
may_cast(const char *line)
{
    return strstr(line, ".float(") || strstr(line, ".to(") || strstr(line, ".type");
}

static unsigned
says(const char *stack)
{
    /* "functions[j](": a line of checkpoint_sequential() itself */
    static const struct {
        const char *text;
        unsigned bit;
    } words[] = {
        {"checkpoint", SAYS_CHECKPOINT}, {"functions[j](", SAYS_CHECKPOINT},
        {".apply(", SAYS_APPLY},         {"File \"<eval_with_key>", SAYS_EVAL},
        {"detach", SAYS_DETACH},         {"float", SAYS_FLOAT},
        {").type_as(", SAYS_TYPE_AS},
    };
    unsigned bits = 0;
    for (int i = 0; i < COUNT(words) && stack; i++)
        bits |= strstr(stack, words[i].text) ? words[i].bit : 0;
    return stack && python_keeps(stack) ? bits | SAYS_KEEPS : bits;
}

/* Whether a line calls something by its bare name, with arguments: "spike(x)", no "self.act(x)" and no "Act()(x)". */
static bool
calls_bare(const char *line, const char *end)
{
    const char *name = NULL;
    for (const char *p = line; p < end; p++) {
        const bool letter = isalnum((unsigned char)*p) || *p == '_';
        if (*p == '(' && name && p[1] != ')' && (name == line || !strchr(".)]", name[-1])))
            return true;
        name = !letter ? NULL : name ? name : p;
    }
    return false;
}

/* Frames of a program's forward(), the last of which a line calls by a bare name, as modules hardly are. */
static int
count_forwards(const char *stack)
{
    static const char frame[] = ", in forward\n";
    int n = 0;
    const char *last = stack, *above = stack;
    for (const char *p = stack; p && (p = strstr(p, frame)); p += strlen(frame)) {
        above = last;
        last = p + strlen(frame);
        n++;
    }
    const bool other = n < 2 || strstr(stack, ".forward(") || strstr(stack, "torch/");
    const char *end = other ? NULL : strstr(above, "File \"");
    return end && calls_bare(above + strspn(above, " "), end) ? n : 0;
}

static struct traced
read_stack(struct arena *a, const char *stack)
{
    const char *outer = stack ? fx_outer(a, stack) : NULL, *line = fx_line(a, stack), *around = fx_line(a, outer);
    return (struct traced){.stack = stack,
                           .line = line,
                           .outer = outer,
                           .around = around,
                           .casts = may_cast(line) || may_cast(around),
                           .in_torch = stack && python_in_torch(stack),
                           .drops = says_dropout(stack),
                           .says = says(stack),
                           .forwards = count_forwards(stack),
                           .endings = python_endings(line),
                           .location = fx_location(a, stack),
                           .frames = fx_frames(a, stack)};
}

/* What a file's stacks say, and the targets of its calls. */
struct stacks {
    struct names *texts, *targets;
    int n, cap, naims, cap_aims;
    struct traced **traced, *none; /* none: of a node without a stack */
    struct aim **aim;
};

static struct stacks *
stacks_of(const struct lowering *l, struct arena **a)
{
    struct graph *file = l->g->first ? l->g->first->graph : l->g;
    *a = file->arena;
    if (!file->stacks) {
        file->stacks = NEW(*a, struct stacks);
        file->stacks->texts = names_new(*a);
        file->stacks->targets = names_new(*a);
    }
    return file->stacks;
}

static struct aim *
aim_of(const struct lowering *l, const char *target)
{
    struct arena *a;
    struct stacks *x = stacks_of(l, &a);
    int at = names_find(x->targets, target);
    if (at >= 0)
        return x->aim[at];
    struct aim *aim = NEW(a, struct aim);
    names_put(x->targets, arena_str(a, target), x->naims);
    return *PUSH(a, x->aim, x->naims, x->cap_aims) = aim;
}

/* before: of the node before it. */
static struct traced *
read_traced(const struct lowering *l, const char *stack, struct traced *before)
{
    const struct traced *next = before ? before->next : NULL;
    if (stack && next && next->stack && strcmp(next->stack, stack) == 0)
        return before->next;
    struct arena *a;
    struct stacks *x = stacks_of(l, &a);
    int at = stack ? names_find(x->texts, stack) : -1;
    if (at >= 0)
        return x->traced[at];
    if (!stack && x->none)
        return x->none;
    const struct traced read = read_stack(a, stack);
    struct traced *t = arena_dup(a, &read, sizeof(read));
    if (!stack)
        return x->none = t;
    names_put(x->texts, stack, x->n);
    return *PUSH(a, x->traced, x->n, x->cap) = t;
}

static const struct record *
read_record(const struct lowering *l, const struct node *n)
{
    static const struct record none;
    const struct record *before = n > l->g->n && n[-1].record ? n[-1].record : &none;
    struct record *r = NEW(l->a, struct record);
    if (n->fx)
        split(l->a, n->fx, r);
    const char *args = r->name ? r->args : NULL, *name;
    while (args && (name = fx_named(l->a, &args)))
        *PUSH(l->a, r->reads, r->nreads, r->cap_reads) = name;
    r->aim = r->name ? aim_of(l, r->target) : NULL;
    r->given = r->name ? NEW(l->a, struct given) : NULL;
    if (r->given)
        r->given->a = l->a;
    const bool same = n->stack && before != &none && n[-1].stack && strcmp(n->stack, n[-1].stack) == 0;
    r->traced = same ? before->traced : read_traced(l, n->stack, before->traced);
    if (before->traced && !same)
        before->traced->next = r->traced;
    r->scopes = python_entries(l->a, n->scopes, &before->scopes);
    r->classes = python_entries(l->a, n->classes, &before->classes);
    r->scope_drops = first_dropout(&r->scopes, before->scope_drops);
    r->class_drops = first_dropout(&r->classes, before->class_drops);
    r->drops = r->traced->drops || r->scope_drops || r->class_drops;
    const bool function = r->scopes.n && r->traced->forwards > r->scopes.n - 1; /* the last one is the call's own */
    r->says = r->traced->says | (function ? SAYS_FUNCTION : 0);
    return r;
}

/* The file's first program has the same nodes in the same places, but for loops that were unrolled otherwise. */
const struct record *
fx_read(const struct lowering *l, int node)
{
    struct node *n = &l->g->n[node];
    const struct graph *first = l->g->first ? l->g->first->graph : NULL;
    const struct node *same = first && node < first->nn ? &first->n[node] : NULL;
    if (!n->record && same && same->fx == n->fx && same->scopes == n->scopes && same->classes == n->classes &&
        same->stack == n->stack)
        n->record = same->record;
    if (!n->record)
        n->record = read_record(l, n);
    return n->record;
}

bool
fx_says(const struct lowering *l, unsigned words)
{
    bool any = false;
    for (int i = 0; i < l->g->nn && !any; i++)
        any = l->g->n[i].stack && fx_record(l, i)->says & words;
    return any;
}

/* ---- arguments --------------------------------------------------------------------------------------------------- */

/* While arguments are read, names stay text; resolve() turns them into slots. */
static const char *
parse_arg(struct lowering *l, struct arena *a, const char *p, struct arg *out, int depth)
{
    while (*p == ' ')
        p++;
    if ((*p == '[' || *p == '(') && depth == MAX_DEPTH) {
        graph_doubt(l->g, "model", "fx_node", limit_remedy(l->a, LIMIT_DEPTH),
                    "a recorded argument has more than %d lists in lists", MAX_DEPTH)
            ->sure = SURE_MODEL;
        *out = NONE;
        return p + strlen(p);
    }
    if (*p == '[' || *p == '(') {
        char close = *p == '[' ? ']' : ')';
        int cap = 0;
        *out = (struct arg){.kind = ARG_LIST};
        p++;
        while (*p && *p != close) {
            struct arg e;
            const char *next = parse_arg(l, a, p, &e, depth + 1);
            if (next == p)
                break;
            *PUSH(a, out->list, out->n, cap) = e;
            p = next;
            while (*p == ',' || *p == ' ')
                p++;
        }
        return *p ? p + 1 : p;
    }
    const char *end = p;
    while (*end && *end != ')' && *end != ']' && *end != '}' && !(*end == ',' && (end[1] == ' ' || end[1] == ')')))
        end++;
    const bool equation = isalpha((unsigned char)*p) || *p == '.'; /* "... i, ... j -> ... i j" */
    const char *arrow = equation ? strstr(p, "->") : NULL, *list = arrow ? strstr(p, ", [") : NULL;
    if (arrow && list && end < arrow && arrow < list)
        end = list;
    char *word = arena_strn(a, p, (size_t)(end - p)), *rest = word;
    const int64_t whole = *word == '%' ? 0 : strtoll(word, &rest, 10);
    const double f = *word == '%' || !*rest ? 0 : strtod(word, &rest);
    if (*word == '%')
        *out = (struct arg){.kind = ARG_SLOT, .i = -1, .s = word + 1};
    else if (*word && !*rest)
        *out = strpbrk(word, ".einf") ? (struct arg){.kind = ARG_FLOAT, .f = f}
                                      : (struct arg){.kind = ARG_INT, .i = whole};
    else if (*word && strcmp(rest, "j") == 0) /* "2j", of which the type alone counts */
        *out = (struct arg){.kind = ARG_COMPLEX, .s = word};
    else if (strcmp(word, "True") == 0 || strcmp(word, "False") == 0)
        *out = (struct arg){.kind = ARG_BOOL, .i = *word == 'T'};
    else if (strcmp(word, "None") == 0 || !*word)
        *out = (struct arg){.kind = ARG_NONE};
    else if (strncmp(word, "torch.", 6) == 0 && dtype_by_torch(word + 6))
        *out = (struct arg){.kind = ARG_DTYPE, .i = dtype_by_torch(word + 6)};
    else
        *out = (struct arg){.kind = ARG_TEXT, .s = word};
    return end;
}

/* Reads the text of a call's arguments. */
static void
read_given(struct lowering *l, const char *p, struct given *to)
{
    struct arg arg[MAX_ARGS];
    int cap = 0;
    while (*p && *p != ')' && to->n < MAX_ARGS) {
        p = parse_arg(l, to->a, p, &arg[to->n++], 0);
        while (*p == ',' || *p == ' ')
            p++;
    }
    to->arg = arena_dup(to->a, arg, sizeof(*arg) * (size_t)to->n);
    const char *named = strstr(p, "kwargs = {");
    for (p = named ? named + strlen("kwargs = {") : ""; *p && *p != '}';) {
        const char *colon = strchr(p, ':');
        if (!colon)
            break;
        struct keyed *k = PUSH(to->a, to->keyed, to->nkeyed, cap);
        k->key = arena_strn(to->a, p, (size_t)(colon - p));
        p = parse_arg(l, to->a, colon + 1, &k->value, 0);
        while (*p == ',' || *p == ' ')
            p++;
    }
}

/* Positional arguments, then keyword ones at their place in op's row; the rest of out[MAX_ARGS] is NONE. copies: others
 * read them, too, so lists are the caller's own. */
static int
in_order(struct arena *a, const struct aten *op, const struct given *given, bool copies, struct arg *out)
{
    int n = given->n;
    memcpy(out, given->arg, sizeof(*out) * (size_t)n);
    for (int i = n; i < MAX_ARGS; i++)
        out[i] = NONE;
    for (int i = 0; i < given->nkeyed; i++) {
        int at = op ? aten_arg(op, given->keyed[i].key) : -1;
        if (at >= 0 && at < MAX_ARGS) {
            out[at] = given->keyed[i].value;
            n = at < n ? n : at + 1;
        }
    }
    for (int i = 0; i < n && copies; i++)
        if (out[i].kind == ARG_LIST)
            out[i].list = args_copy(a, out[i].n, out[i].list);
    return n;
}

int
fx_args(struct lowering *l, const struct aten *op, const char *p, struct arg *out)
{
    struct given given = {.a = l->a};
    read_given(l, p, &given);
    return in_order(l->a, op, &given, false, out);
}

int
fx_group_args(struct lowering *l, const struct aten *op, const struct group *g, struct arg *out)
{
    struct given *given = g->given;
    const int doubts = l->g->ndoubts;
    if (!given || given->doubted)
        return fx_args(l, op, g->args, out);
    if (!given->arg)
        read_given(l, g->args, given);
    given->doubted = l->g->ndoubts > doubts; /* each program has it */
    return in_order(l->a, op, given, true, out);
}

int
fx_count_frames(const char *stack)
{
    int n = 0;
    for (const char *p = stack; p && (p = python_frame(p)); p++)
        n++;
    return n;
}

const char *
fx_line_in_frame(struct arena *a, const char *maker, const char *reader)
{
    const char *p = maker;
    int frames = fx_count_frames(reader);
    for (int i = 0; p && i < frames; i++)
        p = python_frame(p + (i > 0));
    const char *text = p ? strchr(p, '\n') : NULL;
    return text ? arena_strn(a, text + 1 + strspn(text + 1, " "), strcspn(text + 1 + strspn(text + 1, " "), "\n")) : "";
}

size_t
fx_number(const char *name, int *number)
{
    size_t n = strlen(name), root = n;
    uint64_t digits = 0, tens = 1;
    for (; root && name[root - 1] >= '0' && name[root - 1] <= '9'; tens *= 10)
        digits += tens * (uint64_t)(name[--root] - '0');
    const bool has = root && root < n && name[root - 1] == '_';
    *number = has ? (int)digits : 0;
    return has ? root - 1 : n;
}

bool
fx_same_root(const char *a, const char *b)
{
    int number;
    const size_t root = fx_number(a, &number);
    return fx_number(b, &number) == root && strncmp(a, b, root) == 0;
}

const char *
fx_nth(struct arena *a, const char *name, size_t root, int number)
{
    return number ? arena_printf(a, "%.*s_%d", (int)root, name, number) : arena_strn(a, name, root);
}
