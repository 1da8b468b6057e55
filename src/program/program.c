/* SPDX-License-Identifier: Apache-2.0 */
/* program.c - the calls of a Python program: reading them, what is assumed of them, and printing them. */
#include "program/program.h"

#include <inttypes.h>
#include <limits.h>
#include <string.h>

/* Operators that a program's readers tell from others, without overloads. */
static const struct {
    const char *name;
    enum target_trait traits;
} targets[] = {
    {"view", TARGET_VIEWS | TARGET_KEEPS},
    {"_unsafe_view", TARGET_VIEWS | TARGET_VIEWS_COPY | TARGET_KEEPS},
    {"view_as", TARGET_VIEWS | TARGET_KEEPS},
    {"reshape", TARGET_VIEWS | TARGET_KEEPS},
    {"select", TARGET_VIEWS},
    {"slice", TARGET_VIEWS},
    {"split", TARGET_VIEWS},
    {"split_with_sizes", TARGET_VIEWS},
    {"unbind", TARGET_VIEWS},
    {"squeeze", TARGET_VIEWS | TARGET_KEEPS},
    {"unsqueeze", TARGET_VIEWS | TARGET_KEEPS},
    {"expand", TARGET_VIEWS},
    {"expand_as", TARGET_VIEWS},
    {"lost_clone", TARGET_LOST | TARGET_COPIES},
    {"lost_view", TARGET_LOST},
    {"copy_slices", TARGET_WRITES},
    {"folded", TARGET_FOLDED},
    {"gt", TARGET_EXCEEDS},
    {"clone", TARGET_CLONES},
    {"_fft_c2r", TARGET_COPIES_INPUT},
    {"_fft_r2c", TARGET_COMPLEX},
    {"_fft_c2c", TARGET_COMPLEX},
    {"complex", TARGET_COMPLEX},
    {"polar", TARGET_COMPLEX},
    {"permute", TARGET_REORDERS},
    {"transpose", TARGET_REORDERS},
    {"t", TARGET_REORDERS},
    {"diagonal", TARGET_REORDERS},
    {"movedim", TARGET_REORDERS},
    {"swapaxes", TARGET_REORDERS},
    {"narrow", TARGET_REORDERS},
    {"detach", TARGET_REORDERS},
    {"flatten", TARGET_REORDERS},
    {"sort", TARGET_SORTS},
    {"topk", TARGET_SORTS},
    {"matmul", TARGET_MULTIPLIES},
    {"bmm", TARGET_MULTIPLIES},
    {"linear", TARGET_PROJECTS},
    {"softmax", TARGET_WEIGHS},
    {"pad", TARGET_PADS},
    {"constant_pad_nd", TARGET_PADS},
    {"rand", TARGET_DRAWS},
    {"rand_like", TARGET_DRAWS},
    {"randn", TARGET_DRAWS},
    {"randn_like", TARGET_DRAWS},
    {"dropout", TARGET_DROPS},
    {"native_dropout", TARGET_DROPS},
};

static inline bool
is_named(const char *name, const char *stem)
{
    while (*stem && *stem == *name) {
        stem++;
        name++;
    }
    return !*stem && (!*name || *name == '.');
}

bool
target_named(const char *target, const char *stem)
{
    return is_named(target_bare(target), stem);
}

bool
target_is(const char *target, enum target_trait t)
{
    static unsigned char first[UCHAR_MAX + 1], next[COUNT(targets) + 1]; /* by first letter: 1 and up, in order */
    static unsigned any[UCHAR_MAX + 1];                                  /* traits that one of these has */
    static bool sorted;
    for (int i = COUNT(targets); i > 0 && !sorted; i--) {
        const unsigned char c = (unsigned char)*targets[i - 1].name;
        any[c] |= targets[i - 1].traits;
        next[i] = first[c];
        first[c] = (unsigned char)i;
    }
    sorted = true;
    const char *name = target_bare(target);
    int i = any[(unsigned char)*name] & t ? first[(unsigned char)*name] : 0;
    while (i && !((targets[i - 1].traits & t) && is_named(name, targets[i - 1].name))) /* traits tell most apart */
        i = next[i];
    return i;
}

bool
same_args(int n, const struct arg *p, const struct arg *q)
{
    for (int i = 0; i < n; i++)
        if (p[i].kind != q[i].kind || (p[i].kind == ARG_INT && p[i].i != q[i].i) ||
            (p[i].kind == ARG_LIST && !(p[i].n == q[i].n && same_args(p[i].n, p[i].list, q[i].list))))
            return false;
    return true;
}

struct param *
program_param(const struct program *p, int slot)
{
    for (int i = 0; i < p->nparams; i++)
        if (p->params[i].slot == slot)
            return &p->params[i];
    return NULL;
}

const struct param **
program_params(const struct program *p, struct arena *a)
{
    const struct param **of = NEWN(a, const struct param *, p->nslots + 1);
    for (int i = p->nparams - 1; i >= 0; i--)
        of[p->params[i].slot] = &p->params[i];
    return of;
}

int *
program_makers(const struct program *p, struct arena *a)
{
    int *maker = NEWN(a, int, p->nslots + 1);
    memset(maker, -1, sizeof(*maker) * (size_t)(p->nslots + 1));
    for (int i = 0; i < p->ncalls; i++)
        for (int k = 0; k < p->calls[i].nouts; k++)
            maker[p->calls[i].outs[k]] = i;
    return maker;
}

bool *
program_learned(const struct program *p, struct arena *a)
{
    bool *learned = NEWN(a, bool, p->nslots + 1);
    for (int i = 0; i < p->nparams; i++)
        learned[p->params[i].slot] |= p->params[i].kind == PARAM_TRAINED || p->params[i].kind == PARAM_FROZEN;
    for (int i = 0; i < p->ninputs; i++)
        learned[p->inputs[i].slot] = dtypes[p->inputs[i].dtype].is_float;
    for (int i = 0, slot; i < p->ncalls; i++) {
        bool any = false;
        for (struct call_reads r = {&p->calls[i]}; (slot = next_read(&r)) >= 0;)
            any |= learned[slot];
        for (int k = 0; k < p->calls[i].nouts; k++)
            learned[p->calls[i].outs[k]] = any;
    }
    return learned;
}

void
program_assume(struct program *p, enum alternative other, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    char text[512];
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    for (int i = 0; i < p->nassumptions; i++)
        if (strcmp(p->assumptions[i].text, text) == 0)
            return;
    *PUSH(p->arena, p->assumptions, p->nassumptions, p->cap_assumptions) =
        (struct assumption){.text = arena_str(p->arena, text), .alternative = other};
}

/* ---- --dump=calls ------------------------------------------------------------------------------------------------ */

static void
dump_arg(const struct arg *a, FILE *f)
{
    switch (a->kind) {
    case ARG_SLOT:
        fprintf(f, "%%%lld", (long long)a->i);
        break;
    case ARG_INT:
        fprintf(f, "%lld", (long long)a->i);
        break;
    case ARG_BOOL:
        fputs(a->i ? "True" : "False", f);
        break;
    case ARG_FLOAT:
        fprintf(f, "%g", a->f);
        break;
    case ARG_DTYPE:
        fputs(dtypes[a->i].onnx, f);
        break;
    case ARG_COMPLEX:
    case ARG_TEXT:
        fputs(a->s, f);
        break;
    case ARG_LIST:
        fputc('[', f);
        for (int i = 0; i < a->n; i++) {
            fputs(i ? "," : "", f);
            dump_arg(&a->list[i], f);
        }
        fputc(']', f);
        break;
    default:
        fputs("None", f);
    }
}

/* One call a line: slots, target, arguments, sizes, module, Python line. */
void
program_dump(const struct program *p, FILE *f)
{
    for (int i = 0; i < p->nparams; i++) {
        const struct param *q = &p->params[i];
        fprintf(f, "param\t%%%d\t%s\t%s\t[", q->slot, q->name, q->tied_to >= 0 ? p->params[q->tied_to].name : "-");
        for (int k = 0; k < q->rank; k++)
            fprintf(f, "%s%lld", k ? "," : "", (long long)q->size[k]);
        fprintf(f, "%s\n", q->rank < 0 ? "?]" : "]");
    }
    for (int i = 0; i < p->ncalls; i++) {
        const struct call *c = &p->calls[i];
        fputs("call\t", f);
        for (int k = 0; k < c->nouts; k++)
            fprintf(f, "%s%%%d", k ? "," : "", c->outs[k]);
        fprintf(f, "\t%s\t(", c->target);
        for (int k = 0; k < c->nargs; k++) {
            fputs(k ? ", " : "", f);
            dump_arg(&c->args[k], f);
        }
        fputs(")\t[", f);
        for (int k = 0; k < c->rank; k++)
            fprintf(f, "%s%lld", k ? "," : "", (long long)c->size[k]);
        fprintf(f, "%s\t%s\t%s\n", c->rank < 0 ? "?]" : "]", p->modules[c->scope].path,
                c->location ? c->location : "-");
    }
}
