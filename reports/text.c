/* SPDX-License-Identifier: Apache-2.0 */
/* text.c - one screen for people: about fifty lines, whatever the model. The format "full" is the same without limits.
 *
 * From top to bottom: the verdict, the three peaks, the peak by class as bars, the step as a small picture, the largest
 * tensors alive at the peak, the best changes, devices, what was assumed and what is not explained.
 * Every list is short and ends with a count of the rest: the whole of it is in the HTML and JSON reports. A
 * comparison, checkpoint plans, a replay and an out-of-memory message have been asked for and come on top of the
 * screen.
 *
 * Pictures use block elements when the locale's character set is UTF-8 and plain ASCII otherwise. Colour only repeats
 * what the words say. Every string of the model goes through string_clip, and no line begins with one, so that a log
 * which reads commands at the start of a line (as continuous integration servers do) meets none.
 */
#include "reports/reports.h"

#include <langinfo.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 4, PLANS = 8, ALL = 10000 };

struct limits {
    int best, how, said; /* changes in full, lines of Python in one, lines of each message but the first's */
    int tensors, layers, listed, assumed;
};
static const struct limits screen = {3, 12, 1, 4, 0, 10, 2}, full = {ALL, ALL, ALL, 40, 40, ALL, ALL};

struct page {
    FILE *out;
    struct arena *a;
    bool colour, utf8;
    int width;
    const struct limits *limit;
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

/* Columns of n bytes; escapes take none. */
static int
columns(const char *s, size_t n)
{
    int wide = 0;
    for (size_t i = 0; i < n; i++) {
        while (i < n && s[i] == '\033')
            i += strcspn(s + i, "m") + 1;
        wide += i < n && (s[i] & 0xc0) != 0x80;
    }
    return wide;
}

/* A word, with the unit that stands behind its number: no line ends between them. */
static size_t
word_length(const char *s)
{
    size_t n = strcspn(s, " ");
    return s[n] && n && emit_is_unit(s + n) ? n + 1 + strcspn(s + n + 1, " ") : n;
}

/* So much of a word as has room on a line, up to where a path or a list goes on if there is such a place. */
static size_t
word_part(const char *s, size_t n, int room)
{
    size_t fits = 0, place = 0;
    for (size_t i = 0; i <= n && columns(s, i) <= room; i++) {
        fits = (s[i] & 0xc0) != 0x80 ? i : fits;
        place = i && strchr("/.,", s[i - 1]) ? i : place;
    }
    return place ? place : fits ? fits : n;
}

/* How much of a text stands on at most so many lines and ends where a clause does, or before brackets around words, so
 * that no number is cut off; at least one clause. */
static size_t
clauses(const char *text, int room, int most)
{
    size_t fits = 0;
    int at = 0, line = 1, depth = 0;
    for (const char *word = text; *word; word += strspn(word, " ")) {
        size_t n = word_length(word);
        int wide = columns(word, n);
        bool number = *word == '(' && strspn(word + 1, "+-0123456789") > strspn(word + 1, "-"); /* "(29 %)" */
        if (*word == '(' && !number && !depth && word > text && line <= most && at + 4 <= room)
            fits = (size_t)(word - 1 - text);
        for (size_t k = 0; k < n; k++)
            depth += (word[k] == '(') - (word[k] == ')' && depth);
        bool ends = !depth && (strchr(",;:.", word[n - 1]) || !word[n]);
        line += at && at + 1 + wide > room;
        at = at && at + 1 + wide <= room ? at + 1 + wide : wide;
        word += n;
        if (ends && (line <= most || !fits) && (!*word || at + 4 <= room)) /* " ..." */
            fits = (size_t)(word - text);
    }
    return fits;
}

/* A text over at most so many lines, the first after prefix, which the others are as far in as; the bar before each
 * keeps a model's string from beginning it. */
static void
wrap(const struct page *p, const char *prefix, const char *text, int most)
{
    int in = columns(prefix, strlen(prefix)), at = 0, room;
    in = in < 4 ? 4 : in;
    room = p->width - in;
    text += strspn(text, " ");
    size_t fits = clauses(text, room, most), n;
    bool cut = fits < strlen(text);
    while (cut && fits && strchr(",;:.", text[fits - 1]))
        fits--;
    fputs(prefix, p->out);
    for (const char *word = text, *end = text + fits; word < end; word += n, word += strspn(word, " ")) {
        n = word_length(word);
        n = word + n > end ? (size_t)(end - word) : n;
        int wide = columns(word, n);
        if (wide > room) {
            n = word_part(word, n, at && at + 8 < room ? room - at - 1 : room);
            wide = columns(word, n);
        }
        bool inside = word > text && word[-1] != ' '; /* what is left of a word */
        if (at && at + !inside + wide > room) {
            fprintf(p->out, "\n%*s| ", in - 2, "");
            at = 0;
        }
        fprintf(p->out, "%s%.*s", at && !inside ? " " : "", (int)n, word);
        at += (at && !inside) + wide;
    }
    if (cut && at + 4 > room)
        fprintf(p->out, "\n%*s| ...\n", in - 2, "");
    else
        fputs(cut ? " ...\n" : "\n", p->out);
}

/* How long the word of a command is: a blank in quotes is part of it. */
static size_t
command_word(const char *word)
{
    size_t n = 0;
    for (bool quoted = false; word[n] && (quoted || word[n] != ' '); n++)
        if (word[n] == '\'')
            quoted = !quoted;
        else if (word[n] == '\\' && !quoted && word[n + 1])
            n++;
    return n;
}

/* A command over lines that a shell reads as one; an option stands with its argument. */
static void
command(const struct page *p, const char *prefix, const char *text)
{
    int in = columns(prefix, strlen(prefix)), at = in;
    fputs(prefix, p->out);
    for (const char *word = text; *word; word += strspn(word, " ")) {
        size_t n = command_word(word);
        if (strncmp(word, "--", 2) == 0 && !memchr(word, '=', n) && word[n])
            n += 1 + command_word(word + n + 1);
        int wide = columns(word, n);
        if (at > in && at + 1 + wide > p->width - 2) {
            fprintf(p->out, " \\\n%*s", in, "");
            at = in;
        }
        fprintf(p->out, "%s%.*s", at > in ? " " : "", (int)n, word);
        at += (at > in) + wide;
        word += n;
    }
    fputc('\n', p->out);
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
text_oom(const struct page *p, const struct result *r)
{
    const struct oom *o = r->oom;
    if (!o)
        return;
    heading(p, "Out of memory");
    wrap(p, "  | ",
         o->tried < 0
             ? o->judgement
             : arena_printf(p->a, "PyTorch tried to allocate %s; %s", bytes_text(p->a, o->tried), o->judgement),
         9);
    if (o->tried >= 0 && !o->nmatches)
        wrap(p, "  | ", "no tensor of this step has that size: is it the same batch, precision and optimizer?", 9);
    for (int i = 0; i < o->nmatches && i < p->limit->listed; i++) {
        const struct oom_match *t = &o->matches[i];
        wrap(p, i == o->likely ? "  | > " : "  | - ",
             arena_printf(p->a, "%s: %s, %s%s%s%s", string_op(p->a, t->name, 80), phase_names[t->phase],
                          string_op(p->a, t->op, 60), t->location ? ", " : "",
                          string_clip(p->a, t->location, p->width / 3),
                          t->count > 1 ? arena_printf(p->a, ", %d times", t->count) : ""),
             ALL);
    }
    if (o->nmatches > p->limit->listed)
        fprintf(p->out, "  | and %d more\n", o->nmatches - p->limit->listed);
    if (emit_oom(p->a, o))
        wrap(p, "  | ", arena_printf(p->a, "when > was asked for, %s", emit_oom(p->a, o)), 9);
    if (o->navoided)
        wrap(p, "  | ",
             arena_printf(p->a, "with one of these changes it fits that card, and reserves: %s", emit_avoided(p->a, r)),
             4);
}

static void
text_head(const struct page *p, const struct result *r)
{
    const char *file = string_tail(p->a, r->model.file, p->width - 12), *swings = emit_swings(p->a, r);
    wrap(p, arena_printf(p->a, "%smemlint%s  ", on(p, "1"), on(p, "0")),
         arena_printf(p->a, "%s: %s", file, emit_setup(p->a, r)), 3);
    text_oom(p, r);
    fprintf(p->out, "\n%s", on(p, "1"));
    wrap(p, "", emit_verdict(p->a, r), 4);
    fputs(on(p, "0"), p->out);
    const char *notes[] = {emit_cause(p->a, r), emit_best(p->a, r), emit_estimate(p->a, r)};
    for (int i = 0; i < COUNT(notes); i++)
        if (notes[i])
            wrap(p, "  ", string_clean(p->a, notes[i]), 4);
    if (emit_operator(p->a, r))
        wrap(p, "  running then: ", emit_operator(p->a, r), 2);
    if (emit_remedy(p->a, r))
        command(p, "  try: ", emit_remedy(p->a, r));
    if (emit_note(r))
        wrap(p, "  note: ", string_clean(p->a, emit_note(r)), 4);
    if (swings)
        wrap(p, "  assumed, and worth a look: ", swings, 3);
    if (r->verdict != VERDICT_OK)
        wrap(p,
             arena_printf(p->a, "  %s%s%s%s", on(p, "31"), verdict_names[r->verdict], on(p, "0"), r->gate ? ": " : ""),
             string_clean(p->a, r->gate), ALL);
    if (emit_let_pass(p->a, r))
        wrap(p, "  ", string_clean(p->a, emit_let_pass(p->a, r)), ALL);
    if (!r->provenance.none)
        wrap(p, "  ",
             arena_printf(p->a, "allocated: %s, reserved: %s, device: %s", bytes_text(p->a, r->peak.allocated),
                          bytes_text(p->a, r->peak.reserved), emit_device(p->a, r)),
             3);
    if (emit_checkpoints(p->a, r))
        wrap(p, "  ", string_clean(p->a, emit_checkpoints(p->a, r)), 3);
}

/* Classes of less than a percent are one line. */
static void
text_classes(const struct page *p, const struct result *r)
{
    int64_t most = 1, small = 0;
    int nsmall = 0;
    if (r->provenance.none)
        return;
    for (int c = 0; c < CLASS_COUNT; c++)
        most = r->class_bytes[c] > most ? r->class_bytes[c] : most;
    fputc('\n', p->out);
    for (int c = 0; c < CLASS_COUNT; c++) {
        if (r->class_bytes[c] <= 0)
            continue;
        if (r->class_bytes[c] < r->peak.allocated / 100) {
            small = bytes_add(small, r->class_bytes[c]);
            nsmall++;
            continue;
        }
        fprintf(p->out, "  %-12s %11s %5.1f %%  %s%s%s\n", class_names[c], bytes_text(p->a, r->class_bytes[c]),
                bytes_percent(r->class_bytes[c], r->peak.allocated), on(p, paint[c]),
                bar(p, r->class_bytes[c], most, p->width - 36), on(p, "0"));
    }
    if (nsmall)
        fprintf(p->out, "  %-12s %11s %5.1f %%\n", nsmall == 1 ? "one other" : arena_printf(p->a, "%d others", nsmall),
                bytes_text(p->a, small), bytes_percent(small, r->peak.allocated));
}

static void
text_baseline(const struct page *p, const struct result *r)
{
    const struct baseline *b = r->baseline;
    if (!b)
        return;
    heading(p, "Against the baseline");
    wrap(p, "  ", arena_printf(p->a, "%s: %s", string_clip(p->a, b->file, p->width / 2), emit_increase(p->a, r)), 3);
    for (int i = 0; i < b->ndiffers; i++)
        wrap(p, "  another set-up: ", string_clip(p->a, b->differs[i], 200), 3);
    int n;
    const struct change_group *g = emit_changes(p->a, b, &n);
    for (int i = 0; i < n && i < p->limit->listed; i++, g++) {
        wrap(p, arena_printf(p->a, "  %12s  ", emit_signed(p->a, g->increase_bytes)),
             arena_printf(p->a, "%s%s%s", string_clip(p->a, g->name, p->width), g->location ? " at " : "",
                          string_clip(p->a, g->location, p->width)),
             3);
        wrap(p, arena_printf(p->a, "  %12s| ", ""), string_clip(p->a, g->change, 300), 2);
    }
    if (n > p->limit->listed)
        fprintf(p->out, "  %12s  %d more changes\n", "", n - p->limit->listed);
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
    enum { BESIDE = 15 /* margins, and "1023.99 MiB" */, MOST = 82 };
    int *at = NEWN(p->a, int, r->ninstants + 1), room = p->width - BESIDE < MOST ? p->width - BESIDE : MOST, n;
    for (int want = room; (n = emit_columns(r, want, at)) > room && want > 2; want--)
        ; /* phases and the peak may want more */
    int64_t peak = r->peak.allocated;
    if (n < 2 || peak <= 0)
        return;
    fputc('\n', p->out);
    for (int row = ROWS - 1; row >= 0; row--) {
        fputs("  ", p->out);
        for (int i = 0; i < n; i++) {
            const struct instant *in = &r->instants[at[i]];
            int eighths = (int)((double)instant_bytes(in) / (double)peak * ROWS * 8) - row * 8;
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
        fprintf(p->out, "|%-*s", room, (int)strlen(phase_names[phase]) <= room ? phase_names[phase] : "");
    }
    fputs("\n", p->out);
}

static void
text_live(const struct page *p, const struct result *r)
{
    if (r->provenance.none)
        return;
    heading(p, "Largest tensors alive then");
    enum { BEFORE = 28 /* columns of bytes and class */, LEAST = 12, SHAPE = 34 };
    int n, at = 0;
    struct tensor_group *g = emit_groups(p->a, r, &n);
    int64_t rest = 0;
    for (int i = 0; i < n; i++, g++) {
        const struct live_tensor *t = g->first;
        if (i >= p->limit->tensors) {
            rest = bytes_add(rest, g->bytes);
            at += g->count;
            continue;
        }
        const char *shape =
            p->width < 90
                ? ""
                : string_clip(p->a, arena_printf(p->a, "  %s %s", emit_shape(p->a, t->rank, t->shape), t->dtype),
                              SHAPE);
        const char *times = g->count > 1 ? arena_printf(p->a, "%d x ", g->count) : "";
        int room = p->width - BEFORE - (int)strlen(times) - columns(shape, strlen(shape));
        const char *name = string_op(p->a, g->name, room);
        room -= columns(name, strlen(name));
        const char *line = g->elsewhere ? arena_printf(p->a, "%s, ...", g->location) : g->location;
        const char *slack = g->slack_bytes ? arena_printf(p->a, "  %s slack", bytes_text(p->a, g->slack_bytes)) : "";
        int more = columns(slack, strlen(slack));
        slack = more <= room ? slack : "";
        room -= *slack ? more + 2 : 2; /* with the gap before the line */
        fprintf(p->out, "  %11s  %s%-11s%s  %s%s%s%s%s%s%s%s\n", bytes_text(p->a, g->bytes), on(p, paint[t->class]),
                class_names[t->class], on(p, "0"), times, name, on(p, "2"), shape, slack,
                line && room >= LEAST ? "  " : "", room >= LEAST ? string_tail(p->a, line, room) : "", on(p, "0"));
    }
    if (at)
        fprintf(p->out, "  %11s  in %d smaller tensors\n", bytes_text(p->a, rest), at);
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
    if (n == 0 || p->limit->layers == 0)
        return;
    qsort(leaf, (size_t)n, sizeof(*leaf), by_saved);
    heading(p, "Layers that keep most for the backward pass");
    for (int i = 0; i < n && i < p->limit->layers; i++)
        fprintf(p->out, "  %11s  %s\n", bytes_text(p->a, leaf[i]->saved_bytes),
                string_clip(p->a, leaf[i]->path, p->width - 16));
    if (n > p->limit->layers)
        fprintf(p->out, "  %11s  %d more\n", "", n - p->limit->layers);
}

/* The largest batches, by size of device. */
static void
text_fits(const struct page *p, const struct result *r)
{
    const char *s = "";
    const struct fit *last = NULL;
    for (;;) {
        const struct fit *next = NULL;
        for (int i = 0; i < r->nfits; i++)
            if (r->fits[i].largest_batch > 0 && (!last || r->fits[i].capacity > last->capacity) &&
                (!next || r->fits[i].capacity < next->capacity))
                next = &r->fits[i];
        if (!next)
            break;
        s = arena_printf(p->a, "%s%s%lld on %s", s, *s ? ", " : "", (long long)next->largest_batch,
                         string_clip(p->a, next->device, 24));
        last = next;
    }
    if (*s)
        wrap(p, "  largest batch: ", s, p->limit->said);
}

/* Python; of a line that is too long the comment comes first, and what is left goes on after a comma, which lies in
 * brackets there. */
static void
code(const struct page *p, const char *line)
{
    size_t in = strspn(line, " "), n;
    const char *comment = columns(line, strlen(line)) > p->width - 6 ? strstr(line, "  # ") : NULL;
    if (comment) {
        code(p, arena_printf(p->a, "%.*s%s", (int)in, line, comment + 2));
        line = arena_strn(p->a, line, (size_t)(comment - line));
    }
    for (int indent = 0; *line; indent = (int)in + 8, line += n) {
        bool quoted = line[strspn(line, " ")] == '#';
        n = strlen(line);
        for (size_t k = 1, wide = n; columns(line, wide) + indent > p->width - 6 && k + 1 < wide; k++) {
            quoted ^= line[k] == '"';
            if (!quoted && line[k] == ',' && line[k + 1] == ' ' && columns(line, k + 1) + indent <= p->width - 6)
                n = k + 2;
        }
        size_t shown = n - (line[n] && line[n - 1] == ' ');
        fprintf(p->out, "  |   %s%*s%.*s%s\n", on(p, "36"), indent, "", (int)shown, line, on(p, "0"));
    }
}

static void
lines(const struct page *p, const char *text, int most)
{
    for (; text && *text && most > 0; text += strcspn(text, "\n") + (text[strcspn(text, "\n")] != 0), most--)
        code(p, string_clean(p->a, arena_strn(p->a, text, strcspn(text, "\n"))));
    if (text && *text)
        fprintf(p->out, "  |   ...\n");
}

static void
pattern_line(const struct page *p, const struct plan *q, bool own)
{
    wrap(p,
         arena_printf(p->a, " %c%11s  %+5.1f %%  ", own ? '*' : ' ', bytes_text(p->a, q->peak), q->extra_flops_percent),
         q->pattern ? arena_printf(p->a, "%s (%s)", string_clip(p->a, q->pattern, 400), emit_pattern(p->a, q))
                    : "no checkpoints",
         3);
}

static void
plan_line(const struct page *p, const struct result *r, const struct plan *q, bool own)
{
    const char *modules =
        q->nmodules ? arena_printf(p->a, "%d: %s", q->nmodules, string_clip(p->a, emit_modules(p->a, q), p->width - 52))
                    : "no checkpoints";
    fprintf(p->out, " %c%11s  %+5.1f %%  %9s  %9s  %s\n", own ? '*' : ' ', bytes_text(p->a, q->peak),
            q->extra_flops_percent, emit_cheapest(p->a, r->recompute.nselective, r->recompute.selective, q->peak),
            emit_cheapest(p->a, r->recompute.noperators, r->recompute.operators, q->peak), modules);
}

/* Patterns with the one to take marked; scattered plans in full alone, and where there is no pattern. */
static void
text_recompute(const struct page *p, const struct result *r)
{
    int n = r->recompute.nfront, np = r->recompute.npatterns, step = n / PLANS + 1;
    int take = emit_plan_to_take(r);
    bool patterns = np > 1, all = p->limit == &full;
    if (!n)
        return;
    heading(p, "Checkpoint plans");
    for (int i = 0; i < np && patterns; i++)
        pattern_line(p, &r->recompute.patterns[i], i == r->recompute.chosen_pattern);
    if (patterns && r->recompute.chosen_pattern >= 0)
        wrap(p, "  ", "* is the plan to take; its program stands below", 1);
    if (patterns && all)
        heading(p, "Plans of scattered modules");
    if (!patterns || all)
        fprintf(p->out, "  %11s  %7s  %9s  %9s  modules\n", "peak", "FLOPs", "if kept", "if any");
    for (int i = 0; i < n && (!patterns || all); i++)
        if (all || i % step == 0 || i == n - 1 || i == take)
            plan_line(p, r, &r->recompute.front[i], i == take);
    if (!patterns || all)
        wrap(p, "  ",
             "beside the FLOPs stand those for the same peak if a policy keeps results, and if any operators are "
             "recomputed",
             3);
    if (*r->recompute.front[n - 1].held_by)
        wrap(p, "  ",
             arena_printf(p->a, "what holds the lowest peak of any plan, %s: %s",
                          bytes_text(p->a, r->recompute.front[n - 1].peak),
                          string_op(p->a, r->recompute.front[n - 1].held_by, 200)),
             3);
    if (!all)
        wrap(p, "  ", arena_printf(p->a, "%d plans of scattered modules are in the other reports", n), 2);
    if (all && r->recompute.selective_python)
        lines(p, r->recompute.selective_python, ALL);
    lines(p, r->recompute.python, all ? ALL : 2 * PLANS);
}

/* Whether a narrow table shows a column: few, with that of --gpus. */
static bool
shows(const struct page *p, const struct scale *s, int column)
{
    int n = s->gpus[column];
    bool room = p->width >= 80; /* for more than two */
    return column > 0 && (p->limit == &full || column == s->own || n == 64 || (room && (n == 2 || n == 1024)));
}

/* "one GPU; 2 GPUs: zero1; 8 GPUs: ddp": for each number of GPUs from which on another way is the first that fits. */
static const char *
cheapest_ways(const struct page *p, const struct scale *s, const int *cheapest)
{
    const char *text = "";
    for (int c = 0, last = -1; c < s->ncolumns; last = cheapest[c++])
        if (cheapest[c] != last)
            text = arena_printf(p->a, "%s%s%s%s", text, *text ? "; " : "",
                                c ? arena_printf(p->a, "%d GPUs: ", s->gpus[c]) : "",
                                cheapest[c] < 0 ? "none fits" : s->ways[cheapest[c]].name);
    return *text ? text : "none fits on any number";
}

static const char *
cell(const struct page *p, const struct rank_need *need)
{
    return need->allocated < 0 ? "-" : need->stops ? "stops" : bytes_text(p->a, need->reserved);
}

static void
text_scale(const struct page *p, const struct result *r)
{
    const struct scale *s = r->scale;
    if (!s)
        return;
    heading(p, "Several GPUs");
    wrap(p, "  ", "what the allocator reserves on one of them, with this batch on each", 2);
    fprintf(p->out, "  %-29s", "GPUs");
    for (int c = 0; c < s->ncolumns; c++)
        if (shows(p, s, c))
            fprintf(p->out, " %10d", s->gpus[c]);
    fputc('\n', p->out);
    for (int i = 0; i < s->nways; i++) {
        const struct way *w = &s->ways[i];
        const char *stops = NULL;
        fprintf(p->out, w->strategy ? " %c%-29s" : " %c%s", i == s->chosen ? '*' : ' ',
                w->strategy ? w->name : arena_printf(p->a, "%s: %s", w->name, bytes_text(p->a, w->on[0].reserved)));
        for (int c = 0; c < s->ncolumns && w->strategy; c++) {
            stops = w->on[c].stops ? w->on[c].stops : stops;
            if (shows(p, s, c))
                fprintf(p->out, " %10s", cell(p, &w->on[c]));
        }
        fputc('\n', p->out);
        if (stops)
            wrap(p, "    | ", string_clean(p->a, stops), p->limit->said);
        else if (w->strategy && w->on[s->own].allocated >= 0)
            wrap(p, "    | ",
                 arena_printf(
                     p->a, "largest class on %d GPUs: %s, %.0f %%; each sends %s a step", s->gpus[s->own],
                     class_names[w->on[s->own].holder],
                     bytes_percent(w->on[s->own].holder_bytes, w->on[s->own].allocated),
                     bytes_text(p->a, rank_sends(w->on[s->own].exchanged, w->on[s->own].passed, s->gpus[s->own]))),
                 ALL);
    }
    for (int f = 0, shown = 0; f < r->nfits; f++) {
        bool own = &r->fits[f] == fits_own(r);
        const int *cheapest = s->cheapest + f * s->ncolumns;
        if (r->setup.device ? own : p->limit == &full || (cheapest[0] < 0 && shown++ < PLANS))
            wrap(p, arena_printf(p->a, "  cheapest that fits %s: ", string_clip(p->a, r->fits[f].device, 20)),
                 cheapest_ways(p, s, cheapest), ALL);
    }
    if (s->chosen >= 0)
        lines(p, s->ways[s->chosen].python, p->limit == &full ? ALL : 2 * PLANS);
}

static void
text_ranks(const struct page *p, const struct ranks *k)
{
    if (!k)
        return;
    heading(p, "Several GPUs: the Python");
    wrap(p, "  ", emit_ranks(p->a, k), 3);
    lines(p, k->python, p->limit == &full ? ALL : 2 * PLANS);
}

static void
text_replay(const struct page *p, const struct result *r)
{
    const struct replay *q = r->replay;
    if (!q)
        return;
    heading(p, "Replayed on the device");
    const char *context = q->d->context < 0 ? "unknown" : bytes_text(p->a, q->d->context);
    const char *facts[] = {
        emit_replay(p->a, q),
        arena_printf(p->a, "reserved %s; predicted from the file alone %s, announced %s", bytes_text(p->a, q->most),
                     bytes_text(p->a, q->predicted), bytes_text(p->a, q->announced)),
        arena_printf(p->a, "of the device, by all processes: %s before, %s at most; the context has %s, libraries %s",
                     bytes_text(p->a, q->used_before), bytes_text(p->a, q->used_peak), context,
                     emit_signed(p->a, q->library_bytes)),
        emit_capability(p->a, q),
        emit_steps(p->a, q),
        emit_library(p->a, q, false),
        emit_library(p->a, q, true),
    };
    for (int i = 0; i < COUNT(facts); i++)
        if (facts[i])
            wrap(p, "  ", facts[i], 5);
}

/* Python in whole, or how long it is. */
static void
program(const struct page *p, const char *text)
{
    int n = 1;
    for (const char *c = text ? text : ""; *c; c++)
        n += *c == '\n' && c[1];
    if (n <= p->limit->how)
        lines(p, text, ALL);
    else
        wrap(p, "  | ", arena_printf(p->a, "%d lines of Python are in the other reports, such as -o report.html", n),
             ALL);
}

/* The change of the headline first with what to write, then others, the names of the rest; what only informs stands in
 * the full report. */
static void
text_findings(const struct page *p, const struct result *r)
{
    const char *also = "", *hidden = "", *models = "";
    int best = 0, notes = 0, small = p->limit == &full ? 0 : emit_small(r);
    const struct finding *first = p->limit == &full ? NULL : emit_best_finding(r);
    if (r->nfindings)
        heading(p, "What to change");
    for (int i = first ? -1 : 0; i < r->nfindings; i++) {
        const struct finding *f = i < 0 ? first : &r->findings[i];
        if (i >= 0 && f == first)
            continue;
        const char *rule = string_clean(p->a, f->rule), *saves = bytes_text(p->a, f->saves_bytes);
        if (f->suppressed)
            hidden = arena_printf(p->a, "%s%s%s %s", hidden, *hidden ? "; " : "", rule,
                                  string_clip(p->a, f->suppressed, 120));
        if (p->limit != &full && emit_is_small(r, f))
            continue;
        if (p->limit != &full && (f->suppressed || f->saves_bytes <= 0)) {
            notes += !f->suppressed;
            continue;
        }
        if (p->limit != &full && f->cost == COST_MODEL) {
            models = arena_printf(p->a, "%s%s%s -%s", models, *models ? ", " : "", rule, saves);
            continue;
        }
        if (best == p->limit->best) {
            also = strcmp(f->rule, "together") == 0
                       ? arena_printf(p->a, "the best together -%s%s%s", saves, *also ? ", " : "", also)
                       : arena_printf(p->a, "%s%s%s -%s", also, *also ? ", " : "", rule, saves);
            continue;
        }
        const char *head = arena_printf(p->a, "%s%s%s %s", on(p, strcmp(f->severity, "note") == 0 ? "36" : "33"),
                                        f->severity, on(p, "0"), rule);
        if (f->saves_bytes > 0)
            head = arena_printf(p->a, "%s: saves %s%s%s (%.0f %%), peak %s", head, on(p, "1"), saves, on(p, "0"),
                                bytes_percent(f->saves_bytes, r->peak.allocated), bytes_text(p->a, f->peak_after));
        if (f->extra_flops_percent > 0.05)
            head = arena_printf(p->a, "%s, FLOPs %+.1f %%", head, f->extra_flops_percent);
        wrap(p, "  ", head, ALL);
        wrap(p, "  | ", string_clean(p->a, f->message),
             f->nmembers && p->limit != &full ? 3 : p->limit->said + (best == 0));
        if (f->unless && f->saves_bytes > 0)
            wrap(p, "  | when not to: ", f->unless, p->limit->said);
        if ((best++ == 0 || p->limit == &full) && f->saves_bytes > 0 && f->how)
            program(p, f->how);
    }
    if (notes)
        also = arena_printf(p->a, "%s%s%d observation%s", also, *also ? "; " : "", notes, notes == 1 ? "" : "s");
    if (small)
        also = arena_printf(p->a, "%s%s%d change%s of less than 1 %%", also, *also ? "; " : "", small,
                            small == 1 ? "" : "s");
    if (*also)
        wrap(p, "  also: ", also, 2);
    if (*models)
        wrap(p, "  changing the model: ", models, 1);
    if (*hidden)
        wrap(p, "  suppressed: ", hidden, p->limit == &full ? ALL : 2);
}

static void
text_judgements(const struct page *p, const struct result *r)
{
    const char *thumbs = "";
    text_findings(p, r);
    text_ranks(p, r->ranks);
    text_scale(p, r);
    text_recompute(p, r);
    text_replay(p, r);
    fputc('\n', p->out);
    text_fits(p, r);
    for (int i = 0; i < r->nthumbs && p->limit == &full; i++)
        thumbs = arena_printf(p->a, "%s%s%s: %s (%+.0f %%)", thumbs, *thumbs ? "; " : "",
                              string_clean(p->a, r->thumbs[i].name), bytes_text(p->a, r->thumbs[i].bytes),
                              bytes_percent(r->thumbs[i].bytes - r->peak.allocated, r->peak.allocated));
    if (*thumbs)
        wrap(p, "  rules of thumb: ", thumbs, 3);
    for (int i = 0; i < r->setup.nassumptions && i < p->limit->assumed; i++)
        wrap(p, i ? "               - " : "  assumed:       ", emit_assumption(p->a, r, i), p->limit->said + 1);
    if (r->setup.nassumptions > p->limit->assumed)
        fprintf(p->out, "%17s%d more\n", "", r->setup.nassumptions - p->limit->assumed);
    for (int i = 0; i < r->ndoubts && i < p->limit->assumed; i++) {
        const struct doubt *d = &r->doubts[i];
        const char *op = d->op ? arena_printf(p->a, " (%s)", string_clip(p->a, d->op, 32)) : "";
        wrap(p, i ? "               - " : "  not explained: ",
             arena_printf(p->a, "%s%s: %s%s%s%s", string_clip(p->a, d->node, 48), op, string_clean(p->a, d->why),
                          d->remedy ? "; try " : "", string_clean(p->a, d->remedy),
                          d->effect_bytes
                              ? arena_printf(p->a, " (%s of what is counted)", emit_signed(p->a, d->effect_bytes))
                              : ""),
             p->limit->said);
    }
    if (r->ndoubts > p->limit->assumed)
        fprintf(p->out, "%17s%d more\n", "", r->ndoubts - p->limit->assumed);
}

static bool
write_page(const struct result *r, FILE *out, bool colour, int width, const struct limits *limit)
{
    struct page p = {out,
                     arena_new(),
                     colour,
                     strcmp(nl_langinfo(CODESET), "UTF-8") == 0,
                     width < 60 ? 60 : width > 120 ? 120 : width,
                     limit};
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

bool
text_write(const struct result *r, FILE *out, bool colour, int width)
{
    return write_page(r, out, colour, width, &screen);
}

bool
full_write(const struct result *r, FILE *out, bool colour, int width)
{
    return write_page(r, out, colour, width, &full);
}
