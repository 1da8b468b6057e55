/* SPDX-License-Identifier: Apache-2.0 */
/* checkpoints.c - what a program's own lines put under torch.utils.checkpoint. */
#include "program/tracer.h"

#include <stdlib.h>
#include <string.h>

/* ---- checkpoints in the program ---------------------------------------------------------------------------------- */

/* What a line calls that puts calls under checkpoint: those of one function or module, of a list's segments but the
 * last, of each function or module of a list, if the line does not ask for more, or all of the line's own. */
static const struct wrapper {
    const char *name;
    enum { WRAPS_ONE, WRAPS_SEGMENTS, WRAPS_EACH, WRAPS_ALL } how;
    bool method; /* of the module */
    const char *source;
} wrappers[] = {
    {"checkpoint", WRAPS_ONE, false, "torch/utils/checkpoint.py"},
    {"checkpoint_sequential", WRAPS_SEGMENTS, false, "torch/utils/checkpoint.py"},
    {"checkpoint_seq", WRAPS_EACH, false, "timm/models/_manipulate.py"},
    /* their own lines, where another function than a forward() calls them, whose line no file has */
    {"input = functions[j]", WRAPS_SEGMENTS, false,
     "run_function of checkpoint_sequential in torch/utils/checkpoint.py"},
    {"_x = functions[j]", WRAPS_EACH, false, "run_function of checkpoint_seq in timm/models/_manipulate.py"},
    {"_gradient_checkpointing_func", WRAPS_ONE, true,
     "enable_gradient_checkpointing in diffusers/models/modeling_utils.py; transformers/modeling_utils.py"},
    {"call_checkpoint_bottleneck", WRAPS_ALL, true, "torchvision/models/densenet.py; timm/models/densenet.py"},
};

/* The wrapper that a line calls, by its own name or a module's; *arg is behind the bracket. NULL none. */
static const struct wrapper *
wrapper_of(const char *text, const char **arg)
{
    static const char self[] = "self.";
    for (int i = 0; i < COUNT(wrappers); i++)
        for (*arg = text; (*arg = python_calls(*arg, wrappers[i].name));) {
            const char *name = *arg - strlen(wrappers[i].name) - 1;
            size_t before = strlen(self);
            const bool method = (size_t)(name - text) >= before && strncmp(name - before, self, before) == 0;
            if (method == wrappers[i].method)
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
enum { ONE, EACH /* module alone */, SEGMENTS, OPEN };

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

/* How many modules of a list make a segment, and which one is the last, that runs as it is. */
struct segments {
    int size, last;
};

enum { DIGITS = 8 /* of such a number, at most */ };

/* Which module of a list call k runs in; -1 unknown. */
static int
number_in_list(const struct tracer *t, int level, int k)
{
    const char *name = t->stacks[k].n > level ? path_last(t->stacks[k].at[level].calls) : "";
    const size_t n = strspn(name, "0123456789");
    return n && n <= DIGITS && !name[n] ? atoi(name) : -1;
}

/* Of "checkpoint_sequential(self.blocks, 4, x)"; size 0: the line doesn't say. */
static struct segments
segments_in(const struct tracer *t, const char *arg, int first, int end, int level)
{
    static const char keyword[] = "segments=";
    const char *second = syntax_part_end(arg, arg + strlen(arg));
    second = second ? second + strspn(second, " ") : "";
    second += strncmp(second, keyword, strlen(keyword)) == 0 ? strlen(keyword) : 0;
    const int n = strspn(second, "0123456789") <= DIGITS ? atoi(second) : 0;
    int most = -1;
    for (int i = first; i < end; i++) {
        const int number = number_in_list(t, level, i);
        if (t->stacks[i].n && number < 0)
            return (struct segments){0};
        most = number > most ? number : most;
    }
    return (struct segments){.size = n > 0 ? (most + 1) / n : 0, .last = n - 1};
}

static int
parts_listed(const struct wrapper *w, const char *arg, const struct segments *of)
{
    if (w->how == WRAPS_ALL)
        return ONE;
    if (w->how == WRAPS_SEGMENTS)
        return of->size ? SEGMENTS : OPEN;
    return strstr(arg, "every=") || strstr(arg, "skip_last=") ? OPEN : EACH;
}

/* Which segment call k is of; 0 where the line doesn't say. */
static int
segment_of(const struct tracer *t, const struct segments *of, int level, int k)
{
    const int at = of->size ? number_in_list(t, level, k) / of->size : 0;
    return at < of->last ? at : of->last;
}

/* Whether "self.step, x" is a method of the module in whose function the line at that level stands, which has no module
 * of that name. */
static bool
is_method(const struct tracer *t, const struct stack *s, int level, const char *arg)
{
    static const char self[] = "self.";
    const char *around = level ? s->at[level - 1].calls : "", *name = arg + strlen(self);
    const size_t len = strlen(around), dot = len > 0, n = strncmp(arg, self, strlen(self)) == 0 ? python_name(name) : 0;
    bool has = !n || name[n] != ',';
    for (int i = 0; i < t->p->nmodules && !has; i++) {
        const char *path = t->p->modules[i].path;
        has = strncmp(path, around, len) == 0 && (!dot || path[len] == '.') && strlen(path) == len + dot + n &&
              strncmp(path + len + dot, name, n) == 0;
    }
    return !has;
}

/* Whether call i, of a line that calls a wrapper, runs under it: where that wraps a module, no call of the line's own
 * or of another module. */
static bool
under(const struct tracer *t, const struct wrapper *w, int i, int level, const char *arg)
{
    static const char self[] = "self.";
    const struct stack *s = &t->stacks[i];
    size_t n = w->how == WRAPS_ONE && strncmp(arg, self, strlen(self)) == 0 ? python_name(arg + strlen(self)) : 0;
    const char *module = path_last(s->at[level].calls);
    if (!n || arg[strlen(self) + n] != ',')
        return true;
    if (s->n > level + 1 && strncmp(module, arg + strlen(self), n) == 0 && !module[n])
        return true;
    const char *text = s->at[level].src->text;
    const bool written =
        s->n == level + 1 ? python_writes(text, t->p->calls[i].target) : python_calls(text, module) != NULL;
    return !written && is_method(t, s, level, arg);
}

/* Whether call k is of a traced graph, which has no frames, and of the module that call i's line calls there. */
static bool
traced_under(const struct tracer *t, int i, int level, int k)
{
    const struct program *p = t->p;
    const char *module = tracer_called_at(t, level, i);
    return *module && python_is_traced(p->calls[k].stack) && path_within(p->modules[p->calls[k].scope].path, module);
}

/* Whether call k is one of which no line is left, and of the module in which call i runs, which is wrapped: a
 * concatenation of one, "torch.cat(feats, 1)". */
static bool
lost_under(const struct tracer *t, int i, int k)
{
    return !t->stacks[k].n && t->p->calls[k].scope == t->p->calls[i].scope;
}

/* Whether call k runs under the wrapper that call i's line calls, or may. */
static bool
is_under(const struct tracer *t, const struct wrapper *w, int i, int level, const char *arg, int k)
{
    if (python_is_traced(t->p->calls[k].stack))
        return traced_under(t, i, level, k);
    return !t->stacks[k].n || (stack_shares(&t->stacks[i], level, &t->stacks[k]) && under(t, w, k, level, arg));
}

/* Whether call k is of another region than one that began with call `from`: of a loop's next round, or module. */
static bool
begins_region(const struct tracer *t, int level, int parts, const struct segments *of, const char *arg, int from, int k)
{
    const struct spot *one = t->stacks[from].at, *other = t->stacks[k].at;
    if (!one || !other || python_is_traced(t->p->calls[k].stack))
        return false;
    if (parts == SEGMENTS)
        return segment_of(t, of, level, from) != segment_of(t, of, level, k);
    return ((tracer_is_layer(t, level, from) || is_method(t, &t->stacks[from], level, arg)) &&
            tracer_same_call(t, from, k)) ||
           (parts != ONE && strcmp(other[level].calls, one[level].calls) != 0);
}

/* Whether a line, "checkpoint(f, x) if self.training else f(x)", takes the side on which it calls the wrapper whose
 * argument that is; open where its condition is another one. */
enum chosen { CHOSEN, CHOSEN_NOT, CHOSEN_OPEN };
static enum chosen
chosen_of(const char *text, const char *arg)
{
    static const char training[] = " if self.training else ", evaluates[] = " if not self.training else ";
    const char *in_training = strstr(text, training), *in_evaluation = strstr(text, evaluates);
    if (!strstr(text, " if ") || !strstr(text, " else "))
        return CHOSEN;
    if (in_training)
        return arg < in_training ? CHOSEN : CHOSEN_NOT;
    if (in_evaluation)
        return arg > in_evaluation ? CHOSEN : CHOSEN_NOT;
    return CHOSEN_OPEN;
}

/* "model.py:12": the line of that frame of a stack. */
static const char *
place_of(struct arena *a, const char *stack, int level, int line)
{
    const char *frame = python_frame(stack);
    while (frame && level-- > 0)
        frame = python_frame(frame + 1);
    frame = frame ? frame + strlen("File \"") : "";
    return arena_printf(a, "%.*s:%d", (int)strcspn(frame, "\""), frame, line);
}

static int
by_first(const void *a, const void *b)
{
    const struct region *x = a, *y = b;
    return (x->first > y->first) - (x->first < y->first);
}

void
python_checkpoints(struct program *p, bool conditional)
{
    struct tracer t = tracer_new(p);
    tracer_read_stacks(&t);
    struct region *regions = NULL;
    int nregions = 0, cap = 0;
    for (int i = 0; i < p->nregions; i++)
        *PUSH(p->arena, regions, nregions, cap) = p->regions[i];
    for (int i = 0, end; i < p->ncalls; i = end) {
        const struct stack *s = &t.stacks[i];
        const struct wrapper *w = NULL;
        const char *arg = "";
        int level = 0;
        for (level = 0; level < s->n && !w; level += !w)
            for (w = wrapper_of(s->at[level].src->text, &arg); w && !under(&t, w, i, level, arg);)
                w = wrapper_of(arg, &arg);
        end = i + 1;
        if (!w)
            continue;
        for (int k = end; k < p->ncalls && is_under(&t, w, i, level, arg, k); k++)
            end = t.stacks[k].n ? k + 1 : end;
        const char *at = place_of(p->arena, p->calls[i].stack, level, s->at[level].line);
        const enum chosen chosen = chosen_of(s->at[level].src->text, arg);
        const bool choice = chosen == CHOSEN_OPEN;
        const struct segments of =
            w->how == WRAPS_SEGMENTS ? segments_in(&t, arg, i, end, level) : (struct segments){0};
        int parts = w->how == WRAPS_ONE ? parts_under(&t, arg, i, end, level) : parts_listed(w, arg, &of);
        if (choice)
            program_assume(p, ALTERNATIVE_CHECKPOINTS,
                           "%s has torch.utils.checkpoint on one side of a condition: taken not to be called", at);
        if (chosen == CHOSEN_NOT || (choice && !conditional))
            continue;
        if (parts == OPEN)
            graph_doubt(p->graph, p->calls[i].node, "torch.utils.checkpoint", NULL,
                        "%s puts several modules under checkpoint, and the file does not say which together: "
                        "--recompute=NAMES says so",
                        at);
        else if (!choice)
            program_assume(p, ALTERNATIVE_NONE, "%s puts what it calls under torch.utils.checkpoint", at);
        int first = i;
        while (first > 0 && (traced_under(&t, i, level, first - 1) || lost_under(&t, i, first - 1)))
            first--;
        for (int k = i + 1, from = i; k <= end; k++)
            if (k == end || begins_region(&t, level, parts, &of, arg, from, k)) {
                if (parts != SEGMENTS || segment_of(&t, &of, level, from) < of.last)
                    *PUSH(p->arena, regions, nregions, cap) = (struct region){.first = first, .end = k};
                first = from = k;
            }
    }
    if (regions && nregions > p->nregions)
        qsort(regions, (size_t)nregions, sizeof(*regions), by_first);
    p->regions = regions;
    p->nregions = nregions;
    arena_free(t.a);
}
