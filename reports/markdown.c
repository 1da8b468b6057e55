/* SPDX-License-Identifier: Apache-2.0 */
/* markdown.c - a summary for a pull request or a job's page: GitHub's and GitLab's Markdown.
 *
 * Strings of the model appear only as code spans, which neither mention people nor link nor hold markup; the fence is
 * longer than any run of backticks inside. A pipe would end a table's cell even there, so it is escaped. Every list is
 * cut, so that the whole stays below the 65,536 characters that GitHub takes for a comment.
 */
#include "reports/reports.h"

#include <stdlib.h>
#include <string.h>

enum { TENSORS = 20, ROWS = 12, FITS = 3, SENTENCE = 2000, MESSAGE = 420, ASSUMED = 300, PROGRAM = 1500 };

static const char *
span(struct arena *a, const char *s, int max)
{
    s = string_clip(a, s, max);
    if (!*s)
        return "";
    int run = 0, longest = 0, n = 0;
    for (const char *p = s; *p; p++) {
        run = *p == '`' ? run + 1 : 0;
        longest = run > longest ? run : longest;
        n += *p == '|';
    }
    char *body = arena_alloc(a, strlen(s) + (size_t)n + 1), *o = body;
    for (const char *p = s; *p; p++) {
        if (*p == '|')
            *o++ = '\\';
        *o++ = *p;
    }
    char *fence = arena_alloc(a, (size_t)longest + 2);
    memset(fence, '`', (size_t)longest + 1);
    const char *pad = longest ? " " : "";
    return arena_printf(a, "%s%s%s%s%s", fence, pad, body, pad, fence);
}

/* A sentence, whose names of the model stand in backquotes. */
static const char *
prose(struct arena *a, const char *s)
{
    char *out = arena_alloc(a, 2 * strlen(s) + 2), *o = out;
    for (bool quoted = false; *s; s++) {
        quoted ^= *s == '`';
        if (*s == '|' || (!quoted && *s != '`' && strchr("\\*_[]<>&#~", *s)))
            *o++ = '\\';
        *o++ = *s;
    }
    return arena_strn(a, out, (size_t)(o - out));
}

static const char *
code(struct arena *a, const char *s)
{
    return span(a, s, 120);
}

/* A fenced program; a line of it that would end the fence is no Python of ours. */
static const char *
program(struct arena *a, const char *s)
{
    const char *text = "";
    for (; *s && !strstr(s, "```"); s += strcspn(s, "\n") + (s[strcspn(s, "\n")] != 0))
        if (s[strspn(s, " ")] != ':') /* which would be a command to a server, and is no Python */
            text = arena_printf(a, "%s%s\n", text, string_clean(a, arena_strn(a, s, strcspn(s, "\n"))));
    return arena_printf(a, "```python\n%s```", text);
}

/* Tensors that differ in numbers alone are one row. */
static void
markdown_tensors(struct arena *a, const struct result *r, FILE *out)
{
    int n, rest = 0;
    const struct tensor_group *g = emit_groups(a, r, &n);
    fputs("\n<details><summary>Largest tensors alive at the peak</summary>\n\n"
          "| tensor | bytes | class | type and shape | why it is alive | line |\n"
          "| --- | ---: | --- | --- | --- | --- |\n",
          out);
    for (int i = 0; i < n; i++, g++) {
        const struct live_tensor *t = g->first;
        if (i >= ROWS) {
            rest += g->count;
            continue;
        }
        const char *type = arena_printf(a, "%s %s", string_clean(a, t->dtype), emit_shape(a, t->rank, t->shape));
        fprintf(out, "| %s%s | %s | %s | %s%s | %s | %s%s |\n", g->count > 1 ? arena_printf(a, "%d × ", g->count) : "",
                code(a, g->name), bytes_text(a, g->bytes), class_names[t->class], code(a, type),
                g->slack_bytes ? arena_printf(a, ", %s of it slack", bytes_text(a, g->slack_bytes)) : "",
                code(a, string_op(a, t->needed_by, 120)), code(a, g->location), g->elsewhere ? " and others" : "");
    }
    if (rest)
        fprintf(out, "\n%d smaller tensors are not listed.\n", rest);
    fputs("\n</details>\n", out);
}

static void
markdown_tables(struct arena *a, const struct result *r, FILE *out)
{
    if (r->provenance.none)
        return;
    fputs("\n| at the peak | bytes | share |\n| --- | ---: | ---: |\n", out);
    for (int c = 0; c < CLASS_COUNT; c++)
        if (r->class_bytes[c])
            fprintf(out, "| %s | %s | %.1f %% |\n", class_names[c], bytes_text(a, r->class_bytes[c]),
                    100.0 * (double)r->class_bytes[c] / (double)(r->peak.allocated > 0 ? r->peak.allocated : 1));
    markdown_tensors(a, r, out);
}

static void
markdown_baseline(struct arena *a, const struct result *r, FILE *out)
{
    const struct baseline *b = r->baseline;
    if (!b)
        return;
    fprintf(
        out,
        "\n| | baseline | now | increase |\n| --- | ---: | ---: | ---: |\n| **peak** | %s | %s | **%s (%+.3g %%)** |\n",
        bytes_text(a, b->peak), bytes_text(a, r->peak.allocated), emit_signed(a, b->increase_bytes),
        b->increase_percent);
    for (int c = 0; c < CLASS_COUNT; c++)
        if (b->class_bytes[c] != r->class_bytes[c])
            fprintf(out, "| %s | %s | %s | %s |\n", class_names[c], bytes_text(a, b->class_bytes[c]),
                    bytes_text(a, r->class_bytes[c]), emit_signed(a, r->class_bytes[c] - b->class_bytes[c]));
    for (int i = 0; i < b->ndiffers; i++)
        fprintf(out, "\nThe baseline has another set-up: %s\n", code(a, b->differs[i]));
    if (b->nlayers)
        fputs("\n| layer | at the peak | change | line |\n| --- | ---: | --- | --- |\n", out);
    else
        fprintf(out, "\nNo layer differs from %s.\n", code(a, b->file));
    int n;
    const struct change_group *g = emit_changes(a, b, &n);
    for (int i = 0; i < n && i < TENSORS; i++, g++)
        fprintf(out, "| %s%s | %s | %s | %s |\n", code(a, g->name), g->cause ? "" : " (follows)",
                emit_signed(a, g->increase_bytes), code(a, g->change), code(a, g->location));
    if (n > TENSORS)
        fprintf(out, "\n%d more changes.\n", n - TENSORS);
    else if (n)
        fprintf(out, "\nNothing else differs from %s.\n", code(a, b->file));
}

static void
markdown_oom(struct arena *a, const struct result *r, FILE *out)
{
    const struct oom *o = r->oom;
    if (!o)
        return;
    fprintf(out, "**Out of memory**: ");
    if (o->tried >= 0)
        fprintf(out, "PyTorch tried to allocate %s; ", bytes_text(a, o->tried));
    fprintf(out, "%s.\n\n", string_clean(a, o->judgement));
    for (int i = 0; i < o->nmatches && i < TENSORS; i++) {
        const struct oom_match *t = &o->matches[i];
        fprintf(out, "- %s%s: %s, %s %s%s\n", i == o->likely ? "most likely " : "", code(a, string_op(a, t->name, 120)),
                phase_names[t->phase], code(a, string_op(a, t->op, 60)), code(a, t->location),
                t->count > 1 ? arena_printf(a, ", %d times", t->count) : "");
    }
    if (o->nmatches > TENSORS)
        fprintf(out, "- and %d more\n", o->nmatches - TENSORS);
    if (emit_oom(a, o))
        fprintf(out, "\nWhen it asked, %s.\n", emit_oom(a, o));
    if (o->navoided)
        fprintf(out, "\nWith one of these changes it fits that card, and reserves: %s.\n", emit_avoided(a, r));
    fputc('\n', out);
}

static void
markdown_ranks(struct arena *a, const struct ranks *k, FILE *out)
{
    if (!k)
        return;
    fprintf(out, "\n<details><summary>Several GPUs: the Python</summary>\n\n%s\n", prose(a, emit_ranks(a, k)));
    if (k->python && strlen(k->python) < PROGRAM)
        fprintf(out, "\n%s\n", program(a, k->python));
    fputs("\n</details>\n", out);
}

/* Few numbers of GPUs, with that of --gpus. */
static void
markdown_scale(struct arena *a, const struct result *r, FILE *out)
{
    const struct scale *s = r->scale;
    if (!s)
        return;
    fprintf(out,
            "\n| reserved on each | 1 GPU | %d GPUs | 2 | 64 | 1,024 |\n| --- | ---: | ---: | ---: | ---: | ---: |\n",
            s->gpus[s->own]);
    for (int i = 0; i < s->nways; i++) {
        const struct rank_need *on = s->ways[i].on;
        fprintf(out, "| %s%s%s |", i == s->chosen ? "**" : "", s->ways[i].name, i == s->chosen ? "**" : "");
        const int gpus[] = {1, s->gpus[s->own], 2, 64, 1024};
        for (int k = 0; k < COUNT(gpus); k++) {
            int c = 0;
            while (s->gpus[c] != gpus[k])
                c++;
            fprintf(out, " %s |", on[c].allocated < 0 ? "" : on[c].stops ? "stops" : bytes_text(a, on[c].reserved));
        }
        fputc('\n', out);
    }
}

/* Checkpoint plans that a line tells, the one to take in bold, with its program. */
static void
markdown_patterns(struct arena *a, const struct result *r, FILE *out)
{
    if (r->recompute.npatterns > 1)
        fputs("\n| checkpoints | modules | peak | extra FLOPs |\n| --- | --- | ---: | ---: |\n", out);
    for (int i = 0; i < r->recompute.npatterns && r->recompute.npatterns > 1; i++) {
        const struct plan *p = &r->recompute.patterns[i];
        const char *bold = i == r->recompute.chosen_pattern ? "**" : "";
        fprintf(out, "| %s%s%s | %s | %s | %.1f %% |\n", bold, p->pattern ? code(a, p->pattern) : "no checkpoints",
                bold, p->pattern ? emit_pattern(a, p) : "", bytes_text(a, p->peak), p->extra_flops_percent);
    }
    if (r->recompute.python)
        fprintf(out, "\n%s\n", program(a, r->recompute.python));
}

/* A change, what it saves, when not to make it; folded why and the Python. */
static void
markdown_change(struct arena *a, const struct result *r, const struct finding *f, FILE *out)
{
    fprintf(out, "**%s** (%s, %s): %s%ssaves %s (%.0f %%), peak %s", prose(a, emit_title(a, f)), code(a, f->rule),
            f->severity, f->nmembers ? prose(a, f->does) : "", f->nmembers ? "; " : "", bytes_text(a, f->saves_bytes),
            bytes_percent(f->saves_bytes, r->peak.allocated), bytes_text(a, f->peak_after));
    if (f->extra_flops_percent > 0.05)
        fprintf(out, ", %.1f %% more FLOPs", f->extra_flops_percent);
    fprintf(out, "; %s.", cost_names[f->cost]);
    if (f->unless)
        fprintf(out, " When not to: %s.", prose(a, f->unless));
    if (f->suppressed)
        fprintf(out, " Suppressed: %s.", code(a, f->suppressed));
    fprintf(out, "\n\n<details><summary>Why%s</summary>\n\n%s\n", f->how ? ", and what to write" : "",
            f->nmembers ? "All of them at once, measured."
                        : arena_printf(a, "%s.", prose(a, string_clip(a, f->message, MESSAGE))));
    if (f->how && strlen(f->how) < PROGRAM)
        fprintf(out, "\n%s\n", program(a, f->how));
    else if (f->how)
        fputs("\nThe program is in the other reports: it is too long for a comment.\n", out);
    fputs("\n</details>\n\n", out);
}

static bool
is_change(const struct finding *f)
{
    return f->does && f->saves_bytes > 0;
}

/* What is worth it, what changes the model folded, what only informs. */
static int
markdown_findings(struct arena *a, const struct result *r, FILE *out)
{
    int known = 0, models = 0, shown = 0;
    for (int i = 0; i < r->nfindings; i++) {
        const struct finding *f = &r->findings[i];
        bool small = emit_is_small(r, f), model = is_change(f) && f->cost == COST_MODEL;
        known += f->known;
        models += !f->known && !small && model;
        if (!f->known && !small && !model && is_change(f) && shown++ < TENSORS)
            markdown_change(a, r, f, out);
    }
    if (models)
        fprintf(out, "<details><summary>%d that change%s the model</summary>\n\n", models, models == 1 ? "s" : "");
    for (int i = 0; i < r->nfindings && models; i++) {
        const struct finding *f = &r->findings[i];
        if (!f->known && !emit_is_small(r, f) && is_change(f) && f->cost == COST_MODEL && shown++ < TENSORS)
            markdown_change(a, r, f, out);
    }
    if (models)
        fputs("</details>\n\n", out);
    for (int i = 0; i < r->nfindings; i++) {
        const struct finding *f = &r->findings[i];
        if (!f->known && !is_change(f) && !emit_is_small(r, f) && shown++ < TENSORS)
            fprintf(out, "- %s %s: %s%s\n", f->severity, code(a, f->rule),
                    prose(a, string_clip(a, f->message, MESSAGE)),
                    f->suppressed ? arena_printf(a, " (suppressed %s)", code(a, f->suppressed)) : "");
    }
    if (shown > TENSORS)
        fprintf(out, "- and %d more\n", shown - TENSORS);
    return known;
}

static int
by_capacity(const void *a, const void *b)
{
    const struct fit *f = *(const struct fit *const *)a, *g = *(const struct fit *const *)b;
    return f->capacity != g->capacity ? (f->capacity < g->capacity ? -1 : 1) : strcmp(f->device, g->device);
}

/* The device that was asked for, else the smallest on which the step fits, with its neighbours; the others folded. */
static void
markdown_fits(struct arena *a, const struct result *r, FILE *out)
{
    static const char head[] = "| device | capacity | verdict |\n| --- | ---: | --- |\n";
    const struct fit **fit = NEWN(a, const struct fit *, r->nfits + 1), *own = fits_own(r);
    int at = -1;
    for (int i = 0; i < r->nfits; i++)
        fit[i] = &r->fits[i];
    qsort(fit, (size_t)r->nfits, sizeof(*fit), by_capacity);
    for (int i = 0; i < r->nfits; i++)
        if (own ? fit[i] == own : at < 0 && strcmp(fit[i]->verdict, "fits") == 0)
            at = i;
    int first = at < 0 ? r->nfits - FITS : at - 1;
    first = first > r->nfits - FITS ? r->nfits - FITS : first;
    first = first < 0 ? 0 : first;
    for (int folded = 0; folded <= (r->nfits > FITS ? 1 : 0); folded++) {
        if (folded)
            fprintf(out, "\n<details><summary>%d more devices</summary>\n", r->nfits - FITS);
        if (r->nfits)
            fprintf(out, "\n%s", head);
        for (int i = 0; i < r->nfits; i++)
            if ((i < first || i >= first + FITS ? 1 : 0) == folded)
                fprintf(out, "| %s | %s | %s |\n", code(a, fit[i]->device), bytes_text(a, fit[i]->capacity),
                        fit[i]->verdict);
    }
    if (r->nfits > FITS)
        fputs("\n</details>\n", out);
}

static void
markdown_lists(struct arena *a, const struct result *r, FILE *out)
{
    if (r->nfindings)
        fputs("\n**What to change**\n\n", out);
    int known = markdown_findings(a, r, out), small = emit_small(r);
    if (small)
        fprintf(out,
                small == 1 ? "- %d change that saves less than 1 %% is not listed\n"
                           : "- %d changes that save less than 1 %% are not listed\n",
                small);
    if (known)
        fprintf(out, "- %d that the baseline has, too, are left out\n", known);
    markdown_patterns(a, r, out);
    if (r->recompute.nfront)
        fputs("\n<details><summary>Plans of scattered modules</summary>\n\n| checkpointed modules | peak | extra FLOPs "
              "| if a policy keeps results | if any operators are recomputed |\n| --- | ---: | ---: | ---: | "
              "---: |\n",
              out);
    for (int i = 0; i < r->recompute.nfront; i++) {
        const struct plan *p = &r->recompute.front[i];
        fprintf(out, "| %s | %s | %.1f %% | %s | %s |\n", code(a, string_clip(a, emit_modules(a, p), 200)),
                bytes_text(a, p->peak), p->extra_flops_percent,
                emit_cheapest(a, r->recompute.nselective, r->recompute.selective, p->peak),
                emit_cheapest(a, r->recompute.noperators, r->recompute.operators, p->peak));
    }
    if (r->recompute.nfront)
        fputs("\n</details>\n", out);
    if (!r->ndoubts)
        markdown_fits(a, r, out);
    markdown_ranks(a, r->ranks, out);
    markdown_scale(a, r, out);
    if (r->setup.nassumptions)
        fputs("\n<details><summary>Assumptions</summary>\n\n", out);
    for (int i = 0; i < r->setup.nassumptions && i < TENSORS; i++)
        fprintf(out, "- %s\n", span(a, emit_assumption(a, r, i), ASSUMED));
    if (r->setup.nassumptions)
        fputs("\n</details>\n", out);
    if (r->ndoubts)
        fprintf(out, "\n**Not explained** (%d)\n\n", r->ndoubts);
    for (int i = 0; i < r->ndoubts && i < TENSORS; i++)
        fprintf(out, "- %s %s: %s\n", code(a, r->doubts[i].node), code(a, r->doubts[i].op), code(a, r->doubts[i].why));
    if (r->ndoubts > TENSORS)
        fprintf(out, "- and %d more\n", r->ndoubts - TENSORS);
}

static void
markdown_peak(struct arena *a, const struct result *r, FILE *out)
{
    if (r->provenance.none)
        return;
    fprintf(out, "%s (%s): allocated %s, reserved %s, device %s", code(a, r->model.file), code(a, emit_setup(a, r)),
            bytes_text(a, r->peak.allocated), bytes_text(a, r->peak.reserved), emit_device(a, r));
    if (emit_checkpoints(a, r))
        fprintf(out, "; %s", emit_checkpoints(a, r));
    if (emit_operator(a, r))
        fprintf(out, "; running at the peak: %s", code(a, emit_operator(a, r)));
    fputs(".\n", out);
}

bool
markdown_write(const struct result *r, FILE *out, bool colour, int width)
{
    (void)colour, (void)width;
    static const char *const says[] = {[VERDICT_OK] = "ok",
                                       [VERDICT_INCONCLUSIVE] = "inconclusive",
                                       [VERDICT_DOES_NOT_FIT] = "does not fit",
                                       [VERDICT_GATE_FAILED] = "gate failed"};
    struct arena *a = arena_new();
    const char *notes[] = {emit_estimate(a, r), emit_note(r), emit_swings(a, r)};
    fprintf(out, "### memlint: %s%s, %s\n\n",
            r->peak.most > 0  ? "peak "
            : r->peak.certain ? "at least "
                              : "",
            r->ndoubts && !r->peak.certain ? "nothing is certain" : emit_sure(a, r), says[r->verdict]);
    markdown_oom(a, r, out);
    const char *said[] = {emit_verdict(a, r), emit_cause(a, r), emit_best(a, r)};
    for (int i = 0; i < COUNT(said); i++)
        if (said[i])
            fprintf(out, "%s.\n\n", prose(a, string_clean(a, said[i])));
    markdown_peak(a, r, out);
    for (int i = 0; i < COUNT(notes); i++)
        if (notes[i])
            fprintf(out, "\n%s%s%s\n",
                    i == 2 ? "Assumed, and worth a look: "
                    : i    ? "Note: "
                           : "",
                    i == 2 ? span(a, notes[i], SENTENCE) : prose(a, string_clean(a, notes[i])), i == 2 ? "" : ".");
    if (emit_remedy(a, r))
        fprintf(out, "\nTry %s\n", code(a, emit_remedy(a, r)));
    for (int i = 0; i < r->nchecks; i++)
        if (r->checks[i].message && r->checks[i].outcome != CHECK_PASSED)
            fprintf(out, "\n**Gate %s**: %s\n", outcome_names[r->checks[i].outcome],
                    span(a, r->checks[i].message, SENTENCE));
    markdown_baseline(a, r, out);
    markdown_tables(a, r, out);
    markdown_lists(a, r, out);
    arena_free(a);
    return !ferror(out);
}
