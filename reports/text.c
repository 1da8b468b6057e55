/* text.c - one screen for people.
 *
 * From top to bottom: the verdict, the three peaks, the peak by class as bars, the step as a small picture, the largest
 * tensors alive at the peak, findings, devices, rules of thumb, what was assumed and what is not explained. Long lists
 * end with a line that counts the rest: the whole of it is in the HTML and JSON reports.
 *
 * Pictures use block elements when the locale's character set is UTF-8 and plain ASCII otherwise. Colour only repeats
 * what the words say. Every string of the model goes through emit_clip, and no line begins with one, so that a log which
 * reads commands at the start of a line (as continuous integration servers do) meets none.
 */
#include "memlint.h"

#include <langinfo.h>
#include <stdlib.h>
#include <string.h>

enum { HOWS = 6 /* findings with what to write */, TENSORS = 10, LAYERS = 8, ROWS = 6 };

struct page {
    FILE *out;
    struct arena *a;
    bool colour, utf8;
    int width;
};

static const char *const paint[CLASS_COUNT] = {
    [CLASS_PARAMETERS] = "34", [CLASS_BUFFERS] = "36", [CLASS_GRADIENTS] = "32",
    [CLASS_OPTIMIZER] = "94",  [CLASS_SAVED] = "33",   [CLASS_TEMPORARIES] = "31",
    [CLASS_WORKSPACE] = "35",  [CLASS_INPUTS] = "37",  [CLASS_OUTPUTS] = "95",
};

static const char *
on(const struct page *p, const char *code)
{
    return p->colour ? arena_printf(p->a, "\033[%sm", code) : "";
}

static void
heading(const struct page *p, const char *title)
{
    fprintf(p->out, "\n%s%s%s\n", on(p, "1"), title, on(p, "0"));
}

/* A bar of at most width cells, an eighth of a cell exact where the character set allows. */
static const char *
bar(const struct page *p, int64_t bytes, int64_t of, int width)
{
    static const char *const part[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
    int eighths = of > 0 ? (int)((double)bytes / (double)of * width * 8 + 0.5) : 0;
    char *s = arena_alloc(p->a, (size_t)width * 3 + 4), *o = s;
    for (int i = 0; i < eighths / 8 && i < width; i++)
        o = p->utf8 ? stpcpy(o, "█") : stpcpy(o, "#");
    if (eighths / 8 < width)
        stpcpy(o, p->utf8 ? part[eighths % 8] : eighths % 8 >= 4 ? "#" : "");
    return s;
}

static void
text_head(const struct page *p, const struct result *r)
{
    fprintf(p->out, "%smemlint%s  %s: %s", on(p, "1"), on(p, "0"), emit_clip(p->a, r->model.file, p->width - 12),
            r->setup.mode);
    if (r->setup.batch >= 0)
        fprintf(p->out, ", batch %lld", (long long)r->setup.batch);
    fprintf(p->out, ", %s, %s, loss %s\n\n", r->setup.optimizer, r->setup.precision, r->setup.loss);
    fprintf(p->out, "%s%s%s\n", on(p, "1"), emit_verdict(p->a, r), on(p, "0"));
    if (r->peak.location)
        fprintf(p->out, "  at %s\n", emit_clip(p->a, r->peak.location, p->width - 5));
    if (r->verdict != VERDICT_OK)
        fprintf(p->out, "  %s%s%s%s%s\n", on(p, "31"), verdict_names[r->verdict], on(p, "0"), r->gate ? ": " : "",
                emit_clean(p->a, r->gate));
    fprintf(p->out, "  reserved: %s   device: %s\n", bytes_text(p->a, r->peak.reserved),
            bytes_text(p->a, r->peak.device));
}

static void
text_classes(const struct page *p, const struct result *r)
{
    int64_t most = 1;
    for (int c = 0; c < CLASS_COUNT; c++)
        most = r->class_bytes[c] > most ? r->class_bytes[c] : most;
    heading(p, "At the peak");
    for (int c = 0; c < CLASS_COUNT; c++)
        if (r->class_bytes[c])
            fprintf(p->out, "  %-12s %11s %5.1f %%  %s%s%s\n", class_names[c], bytes_text(p->a, r->class_bytes[c]),
                    emit_percent(r->class_bytes[c], r->peak.allocated), on(p, paint[c]),
                    bar(p, r->class_bytes[c], most, p->width - 36), on(p, "0"));
}

static void
text_baseline(const struct page *p, const struct result *r)
{
    const struct baseline *b = r->baseline;
    if (!b)
        return;
    heading(p, "Against the baseline");
    fprintf(p->out, "  %s: %s\n", emit_clip(p->a, b->file, p->width / 2), emit_increase(p->a, r));
    for (int i = 0; i < b->ndiffers; i++)
        fprintf(p->out, "  another set-up: %s\n", emit_clip(p->a, b->differs[i], p->width - 20));
    int n;
    const struct change_group *g = emit_changes(p->a, b, &n);
    for (int i = 0; i < n && i < TENSORS; i++, g++) {
        fprintf(p->out, "  %12s  %s%s%s\n", emit_signed(p->a, g->increase_bytes),
                emit_clip(p->a, g->name, p->width / 2), g->location ? "  " : "",
                emit_clip(p->a, g->location, p->width / 3));
        fprintf(p->out, "  %12s  %s%s%s\n", "", on(p, "2"), emit_clip(p->a, g->change, p->width - 16), on(p, "0"));
    }
    if (n > TENSORS)
        fprintf(p->out, "  %12s  %d more changes\n", "", n - TENSORS);
    else
        fprintf(p->out, "  %12s  nothing %schanged\n", "", n ? "else " : "");
}

/* The class with most bytes: what colours a column. */
static int
largest_class(const struct instant *at)
{
    int best = 0;
    for (int c = 1; c < CLASS_COUNT; c++)
        best = at->class_bytes[c] > at->class_bytes[best] ? c : best;
    return best;
}

static void
text_timeline(const struct page *p, const struct result *r)
{
    static const char *const level[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    int width = p->width - 4, *at = NEWN(p->a, int, r->ninstants + 1), n = emit_columns(r, width < 64 ? width : 64, at);
    int64_t peak = r->peak.allocated;
    if (n < 2 || peak <= 0)
        return;
    heading(p, "Over the step (in order of execution, not in time)");
    for (int row = ROWS - 1; row >= 0; row--) {
        fputs("  ", p->out);
        for (int i = 0; i < n; i++) {
            const struct instant *in = &r->instants[at[i]];
            int eighths = (int)((double)emit_total(in) / (double)peak * ROWS * 8) - row * 8;
            eighths = eighths < 0 ? 0 : eighths > 8 ? 8 : eighths;
            fprintf(p->out, "%s%s", on(p, at[i] == r->peak.instant ? "1;31" : paint[largest_class(in)]),
                    p->utf8        ? level[eighths]
                    : eighths >= 4 ? "#"
                                   : " ");
        }
        fprintf(p->out, "%s%s%s\n", on(p, "0"), row == ROWS - 1 ? "  " : "",
                row == ROWS - 1 ? bytes_text(p->a, peak) : "");
    }
    fputs("  ", p->out);
    for (int i = 0, end; i < n; i = end) {
        enum phase phase = r->instants[at[i]].phase;
        for (end = i; end < n && r->instants[at[end]].phase == phase;)
            end++;
        int room = end - i - 1;
        fprintf(p->out, "|%-*.*s", room, room, phase_names[phase]);
    }
    fputs("\n", p->out);
}

static void
text_live(const struct page *p, const struct result *r)
{
    heading(p, "Largest tensors alive then");
    int n = r->nlive < TENSORS ? r->nlive : TENSORS;
    int64_t rest = 0;
    for (int i = 0; i < r->nlive; i++) {
        const struct live_tensor *t = &r->live[i];
        if (i >= n) {
            rest = emit_add(rest, t->bytes);
            continue;
        }
        fprintf(p->out, "  %11s  %s%-11s%s  %s  %s %s\n", bytes_text(p->a, t->bytes), on(p, paint[t->class]),
                class_names[t->class], on(p, "0"), emit_op(p->a, t->name, 40), emit_clip(p->a, t->dtype, 16),
                emit_shape(p->a, t->rank, t->shape));
        if (t->needed_by || t->location)
            fprintf(p->out, "  %11s  %s%s%s%s%s\n", "", on(p, "2"), emit_op(p->a, t->needed_by, p->width / 2),
                    t->needed_by && t->location ? ", " : "", emit_clip(p->a, t->location, p->width / 3), on(p, "0"));
    }
    if (r->nlive > n)
        fprintf(p->out, "  %11s  in %d smaller tensors\n", bytes_text(p->a, rest), r->nlive - n);
}

static int
by_saved(const void *x, const void *y)
{
    const struct layer *a = *(const struct layer *const *)x, *b = *(const struct layer *const *)y;
    return (b->saved_bytes > a->saved_bytes) - (b->saved_bytes < a->saved_bytes);
}

/* The layers without layers below them that keep most. */
static void
text_layers(const struct page *p, const struct result *r)
{
    const struct layer **leaf = NEWN(p->a, const struct layer *, r->nlayers + 1);
    int n = 0;
    for (int i = 0; i < r->nlayers; i++)
        if ((i + 1 == r->nlayers || r->layers[i + 1].depth <= r->layers[i].depth) && r->layers[i].saved_bytes > 0)
            leaf[n++] = &r->layers[i];
    if (n == 0)
        return;
    qsort(leaf, (size_t)n, sizeof(*leaf), by_saved);
    heading(p, "Layers that keep most for the backward pass");
    for (int i = 0; i < n && i < LAYERS; i++)
        fprintf(p->out, "  %11s  %s\n", bytes_text(p->a, leaf[i]->saved_bytes),
                emit_clip(p->a, leaf[i]->path, p->width - 16));
    if (n > LAYERS)
        fprintf(p->out, "  %11s  %d more\n", "", n - LAYERS);
}

/* A line a device, or, when there are many, their names by verdict. */
static void
text_fits(const struct page *p, const struct result *r)
{
    static const char *const verdicts[] = {"fits", "tight", "does not fit"};
    bool batches = false;
    for (int i = 0; i < r->nfits; i++)
        batches |= r->fits[i].largest_batch >= 0;
    if (r->nfits)
        heading(p, batches ? "Devices (and the largest batch that was found to fit)" : "Devices");
    for (int i = 0; i < r->nfits && r->nfits <= 4; i++) {
        fprintf(p->out, "  %11s  %-24s %s", bytes_text(p->a, r->fits[i].capacity),
                emit_clip(p->a, r->fits[i].device, 24), r->fits[i].verdict);
        if (r->fits[i].largest_batch >= 0)
            fprintf(p->out, ", largest batch %lld", (long long)r->fits[i].largest_batch);
        fputc('\n', p->out);
    }
    for (int v = 0; v < COUNT(verdicts) && r->nfits > 4; v++) {
        int n = 0, at = 0;
        for (int i = 0; i < r->nfits; i++)
            n += strcmp(r->fits[i].verdict, verdicts[v]) == 0;
        if (n)
            at = fprintf(p->out, "  %-12s %d:", verdicts[v], n);
        for (int i = 0; i < r->nfits; i++) {
            const char *name = emit_clip(p->a, r->fits[i].device, 24);
            if (r->fits[i].largest_batch >= 0)
                name = arena_printf(p->a, "%s (%lld)", name, (long long)r->fits[i].largest_batch);
            if (strcmp(r->fits[i].verdict, verdicts[v]) != 0)
                continue;
            if (at + (int)strlen(name) + 2 > p->width)
                at = fprintf(p->out, "\n%15s", "");
            at += fprintf(p->out, " %s%s", name, --n ? "," : "\n");
        }
    }
}

static void
text_recompute(const struct page *p, const struct result *r)
{
    if (!r->recompute.nfront)
        return;
    heading(p, "Checkpoint plans: peak, extra FLOPs, modules");
    for (int i = 0; i < r->recompute.nfront; i++) {
        const struct plan *q = &r->recompute.front[i];
        fprintf(p->out, " %c%11s  %5.1f %%  %d: %s\n", i == r->recompute.chosen ? '*' : ' ', bytes_text(p->a, q->peak),
                q->extra_flops_percent, q->nmodules, emit_clip(p->a, emit_modules(p->a, q), p->width - 30));
    }
    fprintf(p->out, "  %11s  no choice of operators to recompute goes below\n",
            bytes_text(p->a, r->recompute.lower_bound));
    for (const char *line = r->recompute.python; line && *line;
         line += strcspn(line, "\n") + (line[strcspn(line, "\n")] != 0))
        fprintf(p->out, "    %s\n", emit_clean(p->a, arena_strn(p->a, line, strcspn(line, "\n"))));
}

static void
text_replay(const struct page *p, const struct result *r)
{
    const struct replay *q = r->replay;
    if (!q)
        return;
    heading(p, "Replayed on the device");
    fprintf(p->out, "  %s: reserved %s, predicted %s\n", emit_clip(p->a, q->d->name, 60), bytes_text(p->a, q->most),
            bytes_text(p->a, q->predicted));
    fprintf(p->out, "  the driver counted %s before and %s at most, of all processes\n",
            bytes_text(p->a, q->used_before), bytes_text(p->a, q->used_peak));
    if (q->refused)
        fprintf(p->out, "  refused: a segment of %s, in %s by aten.%s%s%s\n", bytes_text(p->a, q->refused_bytes),
                phase_names[q->phase], emit_clip(p->a, q->op, 80), q->location ? " at " : "",
                emit_clip(p->a, q->location, 80));
}

/* A text over as many lines as it takes; a bar before each keeps a model's string from its beginning. */
static void
wrap(const struct page *p, const char *text)
{
    int room = p->width - 6, at = 0;
    for (const char *word = text; *word; word += strspn(word, " ")) {
        int n = (int)strcspn(word, " ");
        if (at && at + 1 + n > room)
            at = 0, fputc('\n', p->out);
        at += at ? fprintf(p->out, " %.*s", n, word) : fprintf(p->out, "  | %.*s", n, word) - 4;
        word += n;
    }
    fputc('\n', p->out);
}

static void
lines(const struct page *p, const char *text)
{
    for (; text && *text; text += strcspn(text, "\n") + (text[strcspn(text, "\n")] != 0))
        fprintf(p->out, "  |   %s%s%s\n", on(p, "36"), emit_clean(p->a, arena_strn(p->a, text, strcspn(text, "\n"))),
                on(p, "0"));
}

/* The first ones with what to write; what only informs without. */
static void
text_findings(const struct page *p, const struct result *r)
{
    if (r->nfindings)
        heading(p, "Findings");
    for (int i = 0; i < r->nfindings; i++) {
        const struct finding *f = &r->findings[i];
        fprintf(p->out, "  %s%s%s %s", on(p, strcmp(f->severity, "note") == 0 ? "36" : "33"), f->severity, on(p, "0"),
                emit_clean(p->a, f->rule));
        if (f->saves_bytes > 0)
            fprintf(p->out, ": saves %s%s%s, peak %s", on(p, "1"), bytes_text(p->a, f->saves_bytes), on(p, "0"),
                    bytes_text(p->a, f->peak_after));
        if (f->extra_flops_percent > 0.05)
            fprintf(p->out, ", FLOPs %+.1f %%", f->extra_flops_percent);
        fputc('\n', p->out);
        if (f->suppressed)
            fprintf(p->out, "    suppressed %s\n", emit_clean(p->a, f->suppressed));
        wrap(p, emit_clean(p->a, f->message));
        if (f->saves_bytes > 0 && i < HOWS)
            lines(p, f->how);
    }
}

static void
text_oom(const struct page *p, const struct oom *o)
{
    if (!o)
        return;
    heading(p, "Out of memory");
    wrap(p, o->tried < 0
                ? o->judgement
                : arena_printf(p->a, "PyTorch tried to allocate %s: %s", bytes_text(p->a, o->tried), o->judgement));
    if (o->tried >= 0 && !o->nmatches)
        wrap(p, "no tensor of this step has that size: is it the same batch, precision and optimizer?");
    for (int i = 0; i < o->nmatches && i < TENSORS; i++) {
        const struct oom_match *t = &o->matches[i];
        fprintf(p->out, "  | %c %s: %s, %s%s%s%s\n", i == o->likely ? '>' : '-', emit_op(p->a, t->name, 80),
                phase_names[t->phase], emit_op(p->a, t->op, 60), t->location ? ", " : "",
                emit_clip(p->a, t->location, p->width / 3),
                t->count > 1 ? arena_printf(p->a, ", %d times", t->count) : "");
    }
    if (o->nmatches > TENSORS)
        fprintf(p->out, "  | and %d more\n", o->nmatches - TENSORS);
    for (int i = 0; i < o->navoided; i++)
        fprintf(p->out, "%s%s%s", i ? ", " : "  | each would have avoided it: ", emit_clean(p->a, o->avoided_by[i]),
                i + 1 == o->navoided ? "\n" : "");
}

static void
text_judgements(const struct page *p, const struct result *r)
{
    text_oom(p, r->oom);
    text_findings(p, r);
    text_recompute(p, r);
    text_replay(p, r);
    text_fits(p, r);
    if (r->nthumbs)
        heading(p, "Rules of thumb for the same step");
    for (int i = 0; i < r->nthumbs; i++)
        fprintf(p->out, "  %11s  %+6.0f %%  %s\n", bytes_text(p->a, r->thumbs[i].bytes),
                emit_percent(r->thumbs[i].bytes - r->peak.allocated, r->peak.allocated),
                emit_clip(p->a, r->thumbs[i].name, p->width - 26));
    if (r->setup.nassumptions)
        heading(p, "Assumed");
    for (int i = 0; i < r->setup.nassumptions; i++)
        fprintf(p->out, "  - %s\n", emit_clean(p->a, r->setup.assumptions[i]));
    if (r->ndoubts)
        heading(p, "Not explained: the peak is a lower bound");
    for (int i = 0; i < r->ndoubts && i < TENSORS; i++) {
        const struct doubt *d = &r->doubts[i];
        const char *op = d->op ? arena_printf(p->a, " (%s)", emit_clip(p->a, d->op, 32)) : "";
        fprintf(p->out, "  - %s%s: %s%s%s\n", emit_clip(p->a, d->node, 48), op, emit_clean(p->a, d->why),
                d->remedy ? "; try " : "", emit_clean(p->a, d->remedy));
    }
    if (r->ndoubts > TENSORS)
        fprintf(p->out, "  - and %d more\n", r->ndoubts - TENSORS);
}

bool
text_write(const struct result *r, FILE *out, bool colour, int width)
{
    struct page p = {out, arena_new(), colour, strcmp(nl_langinfo(CODESET), "UTF-8") == 0,
                     width < 60    ? 60
                     : width > 120 ? 120
                                   : width};
    text_head(&p, r);
    text_baseline(&p, r);
    text_classes(&p, r);
    text_timeline(&p, r);
    text_live(&p, r);
    text_layers(&p, r);
    text_judgements(&p, r);
    arena_free(p.a);
    return !ferror(out);
}
