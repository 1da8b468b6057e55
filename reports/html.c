/* SPDX-License-Identifier: Apache-2.0 */
/* html.c - the report as one page: words and tables; the pictures are in svg.c.
 *
 * The page is written through libxml2's text writer, whose escaping is the only one: no string reaches the file by
 * another way but the style sheet and the script, which are our own and allowed by their hash. The page's policy allows
 * nothing else, so nothing leaves it. Strings of the model become text, never an attribute, a script or an id.
 *
 * Everything is in the page before any script runs: tables are tables, long tails are folded in details, and what
 * pictures are made of stands at its end, as JSON (data.c). The script only sorts, filters, folds the tree of layers,
 * and reads that: what is allocated under the pointer, a tensor's card, the rows of tables that are opened.
 *
 * Repeated modules are folded: tensors that differ in nothing but the numbers in their names (blocks.0.fc, blocks.1.fc)
 * are one row, its members inside. A row's bytes are its members' sum, and no tensor is left out.
 */
#include "html.h"

#include "assets.h"

#include <stdlib.h>
#include <string.h>

enum {
    COLUMNS = 1000,
    OPEN_ROWS = 30, /* of tensors: those behind are folded */
    ROWS = 120,     /* of tensors: those behind are in the data alone, of which a script makes rows */
    LINES = 400,    /* of layers, likewise: from the highest level on as many levels as that has room for */
    BEST = 3,
    ALIVE = 5,
    DIGITS_FROM = 64 << 20 /* bytes of the peak: tables of smaller ones show thousandths of a MiB */
};

/* ---- cells and sections ------------------------------------------------------------------------------------------ */

static void
section(struct html *h, const char *id, const char *title, const char *below)
{
    html_open(h, "section", "id", id, "aria-labelledby", html_format(h, "h-%s", id), NULL);
    html_leaf(h, "h2", title, "id", html_format(h, "h-%s", id), NULL);
    if (below)
        html_leaf(h, "p", below, "class", "ss", NULL);
}

/* A table in a box that scrolls on its own, with a caption. */
static void
table(struct html *h, const char *caption, const char *css, const char *id)
{
    html_open(h, "div", "class", "sx", "role", "region", "aria-label", caption, "tabindex", "0", NULL);
    html_open(h, "table", "class", css, "id", id, NULL);
    html_leaf(h, "caption", caption, "class", "vh", NULL);
}

struct column {
    const char *title, *css, *sort; /* sort: "n" by data-v, "s" by text, NULL not sortable */
};

static void
table_head(struct html *h, const struct column *c, int n)
{
    html_open(h, "thead", NULL);
    html_open(h, "tr", NULL);
    for (int i = 0; i < n; i++)
        if (*c[i].title)
            html_leaf(h, "th", c[i].title, "scope", "col", "class", c[i].css, "data-sort", c[i].sort, NULL);
        else /* over bars, which repeat the figure beside them */
            html_leaf(h, "td", "", "class", c[i].css, NULL);
    html_close(h);
    html_close(h);
    html_open(h, "tbody", NULL);
}

static void
table_end(struct html *h)
{
    html_close(h);
    html_close(h);
    html_close(h);
}

/* A figure with its sort key. */
static void
cell(struct html *h, const char *text, int64_t value)
{
    html_leaf(h, "td", text, "data-v", html_format(h, "%lld", (long long)value), NULL);
}

/* Bytes in MiB; the exact figure is their sort key, and what the script shows under the pointer. */
static void
cell_mib(struct html *h, int64_t bytes)
{
    html_leaf(h, "td", fixed_text(h->a, (double)bytes / (1 << 20), h->digits, ""), "data-b",
              html_format(h, "%lld", (long long)bytes), NULL);
}

static void
cell_class(struct html *h, enum class c)
{
    html_open(h, "td", NULL);
    html_leaf(h, "span", "", "class", html_format(h, "sw s-%s", class_names[c]), NULL);
    html_text(h, class_names[c]);
    html_close(h);
}

/* A name of the model, or a place in the Python source; what is long has places where a line may end. */
static void
code(struct html *h, const char *s)
{
    enum { PIECE = 12, LEAST = 8 };
    if (!s || !*s)
        return;
    html_open(h, "code", NULL);
    s = string_op(h->a, s, NAME);
    for (size_t n; strlen(s) > 2 * PIECE; s += n) {
        n = PIECE + strcspn(s + PIECE, "./");
        n += s[n] != '\0';
        html_text(h, arena_strn(h->a, s, n));
        if (strlen(s + n) > LEAST)
            html_void(h, "wbr", NULL);
    }
    html_text(h, s);
    html_close(h);
}

/* What only the data at the page's end have, where no script makes a table of it. */
static void
in_data(struct html *h, const char *says)
{
    html_open(h, "p", "class", "ss plain", NULL);
    html_printf(h, "%s ", says);
    html_leaf(h, "a", "the end of the page", "href", "#data", NULL);
    html_text(h, ", as JSON.");
    html_close(h);
}

/* ---- first screen ------------------------------------------------------------------------------------------------ */

static void
page_head(struct html *h)
{
    const struct result *r = h->r;
    html_open(h, "head", NULL);
    html_void(h, "meta", "charset", "utf-8", NULL);
    html_void(h, "meta", "http-equiv", "Content-Security-Policy", "content",
              html_format(h,
                          "default-src 'none'; style-src 'sha256-%s'; script-src 'sha256-%s'; base-uri 'none'; "
                          "form-action 'none'",
                          html_style_hash, html_script_hash),
              NULL);
    html_void(h, "meta", "name", "viewport", "content", "width=device-width, initial-scale=1", NULL);
    html_void(h, "meta", "name", "color-scheme", "content", "light dark", NULL);
    html_open(h, "title", NULL);
    html_printf(h, "%s: peak %s - memlint", string_clip(h->a, r->model.file, 80), bytes_text(h->a, r->peak.allocated));
    html_close(h);
    html_open(h, "style", NULL);
    xmlTextWriterWriteRaw(h->w, XML(html_style));
    html_close(h);
    html_close(h);
}

static void
fact(struct html *h, const char *s)
{
    if (s && *s) {
        html_text(h, " ");
        html_leaf(h, "span", s, NULL);
    }
}

/* A number stays with its unit on one line. */
static const char *
bound(struct html *h, const char *s)
{
    char *out = arena_alloc(h->a, 2 * strlen(s) + 1), *o = out;
    for (const char *p = s; *p; p++) {
        if (*p == ' ' && p > s && emit_is_unit(p))
            o = stpcpy(o, "\u00a0");
        else
            *o++ = *p;
    }
    *o = '\0';
    return out;
}

/* A sentence, whose names in backquotes are code. */
static void
words(struct html *h, const char *s)
{
    s = bound(h, s);
    while (*s) {
        size_t n = strcspn(s, "`"), len = s[n] ? strcspn(s + n + 1, "`") : 0;
        if (n)
            html_printf(h, "%.*s", (int)n, s);
        if (len)
            html_leaf(h, "code", html_format(h, "%.*s", (int)len, s + n + 1), NULL);
        s += n + (s[n] ? 1 + len + (s[n + 1 + len] != 0) : 0);
    }
}

static void
sentence(struct html *h, const char *s, const char *css)
{
    html_open(h, "p", "class", css, NULL);
    words(h, string_clip(h->a, s, 600));
    html_text(h, ".");
    html_close(h);
}

/* A sentence whose names of devices and options are not broken at their hyphens. */
static void
unbroken(struct html *h, const char *s)
{
    while (*s) {
        size_t n = strcspn(s, " "), whole = n < 24 ? n : strcspn(s, "= ") + 1; /* a long option's name alone */
        whole = whole <= n && memchr(s, '-', whole) ? whole : 0;
        if (whole)
            html_leaf(h, "span", html_format(h, "%.*s", (int)whole, s), "class", "nb", NULL);
        html_printf(h, "%.*s", (int)(n - whole), s + whole);
        s += n;
        n = strspn(s, " ");
        html_printf(h, "%.*s", (int)n, s);
        s += n;
    }
}

/* The id of a finding, which links from elsewhere rely on: "rule-checkpoint". */
static const char *
anchor(struct html *h, const struct finding *f)
{
    char *id = arena_str(h->a, html_format(h, "rule-%s", f->rule));
    for (char *p = id; *p; p++)
        *p = (*p >= 'a' && *p <= 'z') || (*p >= '0' && *p <= '9') ? *p : '-';
    return id;
}

static void
notice(struct html *h)
{
    const struct result *r = h->r;
    const char *passed = emit_let_pass(h->a, r);
    if (passed)
        html_leaf(h, "p", string_clip(h->a, passed, 2000), NULL);
    if ((r->verdict == VERDICT_OK || (r->verdict == VERDICT_DOES_NOT_FIT && !r->ndoubts)) && !r->gate)
        return; /* the headline says it */
    html_open(h, "p", "class", html_format(h, "notice v-%s", verdict_names[r->verdict]), NULL);
    html_leaf(h, "strong",
              r->verdict == VERDICT_GATE_FAILED    ? "✕ Gate failed: "
              : r->verdict == VERDICT_DOES_NOT_FIT ? "✕ Does not fit: "
                                                   : "? Inconclusive: ",
              NULL);
    if (r->gate)
        html_printf(h, "%s. ", string_clip(h->a, r->gate, 2000));
    if (r->ndoubts) {
        if (emit_estimate(h->a, r))
            html_printf(h, "%s. ", emit_estimate(h->a, r));
        if (emit_remedy(h->a, r)) {
            html_text(h, "Try ");
            code(h, emit_remedy(h->a, r));
            html_text(h, ". ");
        }
        html_leaf(h, "a", "What is not known", "href", "#doubts", NULL);
        html_text(h, ".");
    }
    html_close(h);
}

/* What stands right under the headline because it may move it: where the file comes from, and assumptions. */
static void
caution(struct html *h)
{
    const char *swings = emit_swings(h->a, h->r), *from = emit_note(h->r);
    if (!swings && !from)
        return;
    html_open(h, "p", "class", "sub caution", NULL);
    if (from)
        html_printf(h, "Note: %s. ", string_clip(h->a, from, 300));
    if (swings) {
        html_text(h, "Assumed, and worth a look: ");
        unbroken(h, swings);
        html_text(h, ": ");
        html_leaf(h, "a", "assumptions", "href", "#assumptions", NULL);
        html_text(h, ".");
    }
    html_close(h);
}

/* Why, what to change, and what runs then. */
static void
summary(struct html *h)
{
    const struct result *r = h->r;
    const struct finding *f = emit_best_finding(r);
    if (emit_cause(h->a, r)) {
        html_open(h, "p", "class", "why", NULL);
        words(h, emit_cause(h->a, r));
        html_text(h, ".");
        html_close(h);
    }
    if (emit_best(h->a, r)) {
        html_open(h, "p", "class", "why", NULL);
        words(h, emit_best(h->a, r));
        html_text(h, ".");
        if (f) {
            html_text(h, " ");
            html_leaf(h, "a", "How", "href", html_format(h, "#%s", anchor(h, f)), NULL);
        }
        html_close(h);
    }
    if (emit_operator(h->a, r)) {
        html_open(h, "p", "class", "sub", NULL);
        html_text(h, "Running then: ");
        code(h, emit_operator(h->a, r));
        html_close(h);
    }
    if (r->baseline) {
        html_open(h, "p", "class", "sub", NULL);
        html_printf(h, "Against the baseline: %s, ", emit_increase(h->a, r));
        html_leaf(h, "a", "by what", "href", "#baseline", NULL);
        html_text(h, ".");
        html_close(h);
    }
}

static void
page_header(struct html *h)
{
    const struct result *r = h->r;
    html_open(h, "header", NULL);
    html_open(h, "p", "class", "run", NULL);
    html_leaf(h, "b", "memlint", NULL);
    fact(h, string_clip(h->a, r->model.file, 120));
    for (const char *s = emit_setup(h->a, r); *s;) {
        const char *end = strstr(s, ", ");
        size_t n = end ? (size_t)(end - s) : strlen(s);
        fact(h, html_format(h, "%.*s", (int)n, s));
        s += n + (end ? 2 : 0);
    }
    fact(h, html_format(h, "%s parameters", count_text(h->a, r->model.parameters)));
    html_close(h);
    const char *verdict = emit_verdict(h->a, r);
    const char *size = emit_sure(h->a, r), *at = strstr(verdict, size);
    html_open(h, "h1", NULL);
    words(h, html_format(h, "%.*s", (int)(at ? at - verdict : 0), verdict));
    if (at)
        html_leaf(h, "em", size, NULL);
    if (r->ndoubts || r->provenance.leads)
        words(h, at ? at + strlen(size) : verdict);
    else
        unbroken(h, at ? at + strlen(size) : verdict);
    html_close(h);
    summary(h);
    notice(h);
    caution(h);
    html_close(h);
}

static void
page_nav(struct html *h)
{
    const struct result *r = h->r;
    const struct {
        const char *id, *title;
        bool there;
    } links[] = {
        {"oom", "Out of memory", r->oom != NULL},
        {"timeline", "Timeline", h->n > 1},
        {"baseline", "Baseline", r->baseline != NULL},
        {"replay", "Replay", r->replay != NULL},
        {"findings", "What to change", r->nfindings > 0},
        {"recompute", "Checkpoints", r->recompute.nfront > 0},
        {"alive", "Alive at the peak", r->nlive > 0},
        {"segments", "Allocator", html_segments_matter(r)},
        {"layers", "Layers", r->nlayers > 0},
        {"fits", "What fits", r->nfits > 0 && !r->ndoubts},
        {"scale", "Several GPUs", r->scale || r->ranks},
        {"thumbs", "Rules of thumb", r->nthumbs > 0},
        {"assumptions", "Assumptions", true},
        {"doubts", "Not explained", r->ndoubts > 0},
        {"words", "Words", true},
        {"numbers", "Numbers", true},
    };
    html_open(h, "nav", "aria-label", "Sections", NULL);
    for (int i = 0; i < COUNT(links); i++)
        if (links[i].there) {
            html_leaf(h, "a", links[i].title, "href", html_format(h, "#%s", links[i].id), NULL);
            html_text(h, " "); /* for readers that drop the style sheet */
        }
    html_close(h);
}

static void
peak_figure(struct html *h, const char *name, const char *bytes, const char *what)
{
    html_open(h, "div", NULL);
    html_leaf(h, "dt", name, NULL);
    html_leaf(h, "dd", bytes, "class", "n", NULL);
    html_leaf(h, "dd", what, "class", "w", NULL);
    html_close(h);
}

static void
section_peaks(struct html *h)
{
    const struct result *r = h->r;
    if (r->provenance.none)
        return;
    html_open(h, "section", "class", "peaks", "aria-label", "Three peaks", NULL);
    html_open(h, "dl", NULL);
    peak_figure(h, "Allocated", bytes_text(h->a, r->peak.allocated),
                r->ndoubts ? "as far as it is known" : "live tensors");
    peak_figure(h, "Reserved", bytes_text(h->a, r->peak.reserved), "held by the allocator");
    peak_figure(h, "Device", emit_device(h->a, r), "with the CUDA context, as others measured it");
    html_close(h);
    html_open(h, "figure", NULL);
    svg_ruler(h);
    html_close(h);
    html_close(h);
}

/* ---- timeline ---------------------------------------------------------------------------------------------------- */

/* What the script changes under the pointer; as written, it describes the peak. */
static void
readout(struct html *h)
{
    const struct result *r = h->r;
    html_open(h, "div", "class", "read", "id", "rd", NULL);
    html_leaf(h, "h3", "At the peak", "id", "rd-h", NULL);
    html_leaf(h, "p", bytes_text(h->a, r->peak.allocated), "class", "total", "id", "rd-t", NULL);
    html_open(h, "p", "class", "where", "id", "rd-w", NULL);
    html_printf(h, "%s, %s", phase_names[r->peak.phase], string_op(h->a, r->peak.op, 80));
    html_close(h);
    html_open(h, "table", NULL);
    html_leaf(h, "caption", "Bytes by class", "class", "vh", NULL);
    html_open(h, "tbody", NULL);
    for (int i = CLASS_COUNT - 1; i >= 0; i--) {
        enum class c = html_stack[i];
        bool ever = r->class_bytes[c] != 0;
        for (int k = 0; k < h->n && !ever; k++)
            ever = r->instants[h->columns[k]].class_bytes[c] != 0;
        if (!ever)
            continue;
        html_open(h, "tr", NULL);
        html_open(h, "th", "scope", "row", NULL);
        html_leaf(h, "span", "", "class", html_format(h, "sw s-%s", class_names[c]), NULL);
        html_text(h, class_names[c]);
        html_close(h);
        html_leaf(h, "td", bytes_text(h->a, r->class_bytes[c]), "data-c", class_names[c], NULL);
        html_leaf(h, "td", html_format(h, "%.1f %%", bytes_percent(r->class_bytes[c], r->peak.allocated)), "data-p",
                  class_names[c], NULL);
        html_close(h);
    }
    html_close(h);
    html_close(h);
    html_leaf(h, "h3", "Largest alive then", NULL);
    html_open(h, "ol", "id", "rd-l", NULL);
    int64_t rest = r->peak.allocated;
    for (int i = 0; i < r->nlive && i < ALIVE; i++) {
        const struct live_tensor *t = &r->live[i];
        html_open(h, "li", NULL);
        html_leaf(h, "span", "", "class", html_format(h, "sw s-%s", class_names[t->class]), NULL);
        html_leaf(h, "span", html_short(h, string_op(h->a, emit_tensor(h->a, t->name, t->layer), 100)), "class", "nm",
                  NULL);
        html_leaf(h, "b", bytes_text(h->a, t->bytes), NULL);
        html_close(h);
        rest -= t->bytes;
    }
    html_open(h, "li", NULL);
    html_leaf(h, "span", "all others", "class", "nm", NULL);
    html_leaf(h, "b", bytes_text(h->a, rest > 0 ? rest : 0), NULL);
    html_close(h);
    html_close(h);
    html_close(h);
}

static void
timeline_phases(struct html *h)
{
    static const struct column head[] = {
        {"Phase", NULL, NULL}, {"Instants", "r", NULL}, {"Highest, MiB", "r", NULL}, {"At its end, MiB", "r", NULL}};
    const struct result *r = h->r;
    table(h, "Phases of the step", NULL, NULL);
    table_head(h, head, COUNT(head));
    for (int i = 0, end, rows = 0; i < r->ninstants; i = end, rows++) {
        int64_t highest = 0;
        for (end = i; end < r->ninstants && r->instants[end].phase == r->instants[i].phase; end++)
            highest = instant_bytes(&r->instants[end]) > highest ? instant_bytes(&r->instants[end]) : highest;
        if (rows >= 200 && end < r->ninstants) /* the last one is told, too */
            continue;
        html_open(h, "tr", NULL);
        html_leaf(h, "th",
                  rows > 200 ? html_format(h, "%d more, and %s", rows - 200, phase_names[r->instants[i].phase])
                             : phase_names[r->instants[i].phase],
                  "scope", "row", NULL);
        cell(h, count_text(h->a, end - i), end - i);
        cell_mib(h, highest);
        cell_mib(h, instant_bytes(&r->instants[end - 1]));
        html_close(h);
    }
    table_end(h);
}

/* A table that the script makes of the page's data when its details are opened. */
static void
late_table(struct html *h, const char *id, const char *caption)
{
    html_open(h, "div", "class", "sx", "role", "region", "aria-label", caption, "tabindex", "0", "id", id, NULL);
    in_data(h, "Its numbers stand at");
    html_close(h);
}

static void
timeline_table(struct html *h)
{
    html_open(h, "details", "class", "twin", NULL);
    html_leaf(h, "summary", "The timeline as a table", NULL);
    timeline_phases(h);
    late_table(h, "tlt", "The timeline's columns, in MiB");
    html_close(h);
}

/* From which instant to which the largest storages are alive. */
static void
spans_table(struct html *h)
{
    const struct result *r = h->r;
    if (r->nspans == 0)
        return;
    html_open(h, "details", "class", "twin", NULL);
    html_leaf(h, "summary",
              r->nspans == r->nstorages
                  ? html_format(h, "The %s tensors of the step, and at which instants they are alive",
                                count_text(h->a, r->nspans))
                  : html_format(h, "The %s largest of the step's %s tensors, and at which instants they are alive",
                                count_text(h->a, r->nspans), count_text(h->a, r->nstorages)),
              NULL);
    late_table(h, "spans", "The largest tensors of the step");
    html_close(h);
}

static void
overlay_radio(struct html *h, const char *id, const char *label, bool checked)
{
    html_open(h, "label", NULL);
    html_void(h, "input", "type", "radio", "name", "ov", "id", id, "checked", checked ? "checked" : NULL, NULL);
    html_text(h, label);
    html_close(h);
}

/* Which other step is drawn over this one: radio buttons, which need no script. */
static void
overlay_choice(struct html *h)
{
    bool patterns = h->r->recompute.npatterns > 1;
    if (h->noverlays == 0)
        return;
    html_open(h, "fieldset", "class", "over", NULL);
    html_leaf(h, "legend", "Draw over it", NULL);
    overlay_radio(h, "ovx", "nothing", true);
    for (int i = 0; i < h->noverlays; i++) {
        const struct overlay *o = &h->overlays[i];
        if (o->plan && (i == 0 || !o[-1].plan))
            html_leaf(h, "span", patterns ? "checkpoints" : "checkpoint plan, as numbered below", NULL);
        overlay_radio(h, o->id,
                      o->plan && !patterns ? html_format(h, "%d", o->plan)
                                           : html_format(h, "%s: %s", o->name, bytes_text(h->a, o->peak)),
                      false);
    }
    html_close(h);
}

static void
add_overlay(struct html *h, const char *name, const struct curve *c, int64_t peak, int plan)
{
    if (!c || c->n < 2 || h->noverlays == OVERLAYS)
        return;
    h->overlays[h->noverlays] =
        (struct overlay){html_format(h, "ov%d", h->noverlays), string_clip(h->a, name, 60), c, peak, plan};
    h->noverlays++;
}

/* The best changes, all of them together, and the checkpoint plans: those that a pattern tells, where there are any. */
static void
choose_overlays(struct html *h)
{
    const struct result *r = h->r;
    const struct finding *best[BEST];
    int n = emit_best_changes(r, BEST, best);
    for (int i = 0; i < n; i++)
        add_overlay(h, best[i]->rule, best[i]->after, best[i]->peak_after, 0);
    for (int i = 0; i < r->nfindings; i++)
        if (r->findings[i].nmembers && !r->findings[i].suppressed)
            add_overlay(h, r->findings[i].rule, r->findings[i].after, r->findings[i].peak_after, 0);
    for (int i = 0; i < r->recompute.nfront; i++) {
        const struct plan *p = &r->recompute.front[i];
        if (p->pattern || r->recompute.npatterns <= 1)
            add_overlay(h, p->pattern ? p->pattern : html_format(h, "plan %d", i), p->after, p->peak, i);
    }
}

/* The three best changes, for the first screen. */
static void
best_changes(struct html *h)
{
    const struct result *r = h->r;
    const struct finding *best[BEST];
    int n = emit_best_changes(r, BEST, best);
    if (n == 0)
        return;
    html_open(h, "div", "class", "best", NULL);
    html_leaf(h, "h3", "The best changes, each measured alone", NULL);
    html_open(h, "ol", NULL);
    for (int i = 0; i < n; i++) {
        const struct finding *f = best[i];
        html_open(h, "li", NULL);
        html_open(h, "div", NULL);
        html_open(h, "a", "href", html_format(h, "#%s", anchor(h, f)), NULL);
        html_open(h, "b", NULL);
        html_printf(h, "%d. ", i + 1);
        words(h, string_clip(h->a, emit_title(h->a, f), 200));
        html_close(h);
        html_close(h);
        html_open(h, "p", "class", "ba", NULL);
        html_printf(h, "%s → ", bytes_text(h->a, r->peak.allocated));
        html_leaf(h, "strong", bytes_text(h->a, f->peak_after), NULL);
        html_leaf(h, "span", html_format(h, " −%.0f %%", bytes_percent(f->saves_bytes, r->peak.allocated)), NULL);
        if (f->extra_flops_percent > 0.05)
            html_printf(h, ", FLOPs\u00a0%+.0f\u00a0%%", f->extra_flops_percent);
        html_close(h);
        html_close(h);
        svg_after(h, f->peak_after, r->peak.allocated);
        html_open(h, "p", "class", "meta", NULL);
        html_printf(h, "%s, ", cost_names[f->cost]);
        code(h, f->rule);
        html_close(h);
        html_close(h);
    }
    html_close(h);
    html_close(h);
}

static void
section_timeline(struct html *h)
{
    const struct result *r = h->r;
    if (h->n < 2)
        return;
    const char *below =
        h->n == r->ninstants
            ? html_format(h, "Operators in the order in which they run, without a scale of time: %s instants.",
                          count_text(h->a, h->n))
            : html_format(
                  h,
                  "Operators in the order in which they run, without a scale of time: %s instants in %s columns, "
                  "of each the highest.",
                  count_text(h->a, r->ninstants), count_text(h->a, h->n));
    section(h, "timeline", "Memory over the step", below);
    html_open(h, "div", "class", "tl", NULL);
    html_open(h, "figure", NULL);
    svg_timeline(h);
    html_open(h, "p", "class", "scrub", "id", "scrub", "hidden", "hidden", NULL);
    html_leaf(h, "label", "Instant", "for", "at", NULL);
    html_void(h, "input", "type", "range", "id", "at", "min", "0", "max", html_format(h, "%d", h->n - 1), "value", "0",
              NULL);
    html_leaf(h, "button", "Peak", "type", "button", "id", "topeak", "aria-keyshortcuts", "0", NULL);
    html_leaf(h, "button", "+", "type", "button", "id", "zin", "aria-label", "Zoom in", "aria-keyshortcuts", "+", NULL);
    html_leaf(h, "button", "−", "type", "button", "id", "zout", "aria-label", "Zoom out", "aria-keyshortcuts", "-",
              NULL);
    html_leaf(h, "button", "All", "type", "button", "id", "zall", "aria-label", "Show the whole step", NULL);
    html_leaf(h, "span", "", "id", "zsaid", "role", "status", NULL);
    html_leaf(h, "span", "", "id", "zpin", "role", "status", NULL);
    html_close(h);
    overlay_choice(h);
    html_close(h);
    readout(h);
    best_changes(h);
    html_close(h);
    timeline_table(h);
    spans_table(h);
    html_close(h);
}

/* ---- findings ---------------------------------------------------------------------------------------------------- */

/* Python to paste; what is long is folded. */
static void
html_lines(struct html *h, const char *text)
{
    enum { LONG = 14 };
    int n = 1;
    for (const char *c = text; *c; c++)
        n += *c == '\n';
    if (n > LONG) {
        html_open(h, "details", "class", "twin", NULL);
        html_leaf(h, "summary", html_format(h, "The Python, %d lines", n), NULL);
    }
    html_open(h, "pre", NULL);
    for (const char *line = text; *line; line += strcspn(line, "\n") + (line[strcspn(line, "\n")] != 0)) {
        html_leaf(h, "span", arena_strn(h->a, line, strcspn(line, "\n")),
                  NULL); /* no line begins with a model's string */
        xmlTextWriterWriteString(h->w, XML("\n"));
    }
    html_close(h);
    if (n > LONG)
        html_close(h);
}

static void
finding(struct html *h, int i)
{
    const struct result *r = h->r;
    const struct finding *f = &r->findings[i];
    html_open(h, "li", "id", anchor(h, f), NULL);
    html_open(h, "div", NULL);
    html_open(h, "h3", NULL);
    words(h, string_clip(h->a, emit_title(h->a, f), 200));
    html_close(h);
    sentence(h, f->message, "says");
    if (f->unless && f->saves_bytes > 0)
        sentence(h, html_format(h, "When not to: %s", f->unless), "says");
    html_open(h, "p", "class", "meta", NULL);
    code(h, f->rule);
    html_printf(h, ", %s%s%s", f->saves_bytes > 0 ? cost_names[f->cost] : "", f->saves_bytes > 0 ? ", " : "",
                f->severity);
    if (f->suppressed)
        html_printf(h, ", suppressed: %s", string_clip(h->a, f->suppressed, 200));
    if (f->location) {
        html_text(h, ", ");
        code(h, f->location);
    }
    html_close(h);
    html_close(h);
    html_open(h, "div", NULL);
    if (f->saves_bytes > 0) {
        svg_after(h, f->peak_after, r->peak.allocated);
        html_open(h, "p", "class", "effect", NULL);
        html_printf(h, "%s → ", bytes_text(h->a, r->peak.allocated));
        html_leaf(h, "strong", bytes_text(h->a, f->peak_after), NULL);
        html_leaf(h, "b",
                  bound(h, html_format(h, " saves %s, %.0f %%", bytes_text(h->a, f->saves_bytes),
                                       bytes_percent(f->saves_bytes, r->peak.allocated))),
                  NULL);
        if (f->extra_flops_percent > 0.05 || f->extra_flops_percent < -0.05)
            html_printf(h, ", FLOPs %+.1f %%", f->extra_flops_percent);
        html_close(h);
    }
    if (f->how)
        html_lines(h, f->how);
    html_close(h);
    html_close(h);
}

enum kind { SAVES, MODELS, SMALL, TELLS, SUPPRESSED };

static enum kind
kind_of(const struct result *r, const struct finding *f)
{
    return f->suppressed           ? SUPPRESSED
           : f->saves_bytes <= 0   ? TELLS
           : emit_is_small(r, f)   ? SMALL
           : f->cost == COST_MODEL ? MODELS
                                   : SAVES;
}

static void
findings(struct html *h, enum kind kind, const char *title)
{
    int n = 0;
    for (int i = 0; i < h->r->nfindings; i++)
        n += kind_of(h->r, &h->r->findings[i]) == kind;
    if (n == 0)
        return;
    if (title) {
        html_open(h, "details", "class", "twin", NULL);
        html_leaf(h, "summary", html_format(h, title, n), NULL);
    }
    html_open(h, "ol", "class", "find", NULL);
    for (int i = 0; i < h->r->nfindings; i++)
        if (kind_of(h->r, &h->r->findings[i]) == kind)
            finding(h, i);
    html_close(h);
    if (title)
        html_close(h);
}

static void
section_findings(struct html *h)
{
    if (h->r->nfindings == 0)
        return;
    int n = 0;
    for (int i = 0; i < h->r->nfindings; i++)
        n += kind_of(h->r, &h->r->findings[i]) == SAVES;
    section(h, "findings", "What to change",
            n == 0 ? "No change that was tried lowers the peak by 1 % and leaves the model as it is."
                   : "The best ones together first, then each alone in the order of what it asks for: nothing, other "
                     "numerics, "
                     "time, more GPUs; of one kind by what it saves. Every effect was measured by simulating the "
                     "changed step; "
                     "the filled bar is the peak that stays. Savings do not add up.");
    findings(h, SAVES, NULL);
    findings(h, MODELS, "Changes of the model: %d");
    findings(h, SMALL, "Changes that save less than 1 %%: %d");
    findings(h, TELLS, "Observations, which change nothing by themselves: %d");
    findings(h, SUPPRESSED, "Suppressed: %d");
    html_close(h);
}

/* ---- the replay -------------------------------------------------------------------------------------------------- */

static void
replay_row(struct html *h, const char *what, int64_t bytes, const char *how)
{
    html_open(h, "tr", NULL);
    html_leaf(h, "th", what, "scope", "row", NULL);
    cell(h, bytes < 0 ? emit_signed(h->a, bytes) : bytes_text(h->a, bytes), bytes);
    html_leaf(h, "td", how, NULL);
    html_close(h);
}

/* What a row of bytes may be missing: -1. */
static void
known_row(struct html *h, const char *what, int64_t bytes, const char *how, const char *unknown)
{
    if (bytes >= 0) {
        replay_row(h, what, bytes, how);
        return;
    }
    html_open(h, "tr", NULL);
    html_leaf(h, "th", what, "scope", "row", NULL);
    html_leaf(h, "td", "unknown", NULL);
    html_leaf(h, "td", unknown, NULL);
    html_close(h);
}

static void
replay_bytes(struct html *h, const struct replay *q)
{
    static const struct column head[] = {{"", NULL, NULL}, {"Bytes", "r", NULL}, {"What it is", NULL, NULL}};
    const struct result *r = h->r;
    int64_t other = q->used_peak - q->used_before - q->most;
    table(h, "Predicted and replayed", NULL, NULL);
    table_head(h, head, COUNT(head));
    replay_row(h, "Reserved, predicted", q->predicted, "the allocator's segments at the most, from the file alone");
    if (q->announced != q->predicted)
        replay_row(h, "Added", q->announced - q->predicted,
                   "workspaces that the libraries ask for, and what repeated steps take");
    replay_row(h, "Reserved, replayed", q->most, "memory taken from the driver, every block written to");
    replay_row(h, "Difference", q->most - q->announced,
               q->refused ? "what the device refused was never held"
               : q->most == q->announced
                   ? "none: the driver gave what the model of the allocator asked for"
                   : "cached memory went back when the device was full, and was not all asked for again");
    known_row(h, "CUDA context", q->d->context,
              html_format(h, "what NVML counted for it; memlint's device figure says %s",
                          bytes_text(h->a, r->peak.device - r->peak.reserved)),
              "only NVML (libnvidia-ml.so.1) can tell, as the driver's figures need a context already");
    replay_row(h, "Libraries", q->library_bytes,
               q->libraries ? "of the device, gone when cuDNN and cuBLASLt were opened and asked" : "none were opened");
    replay_row(h, "Used before", q->used_before,
               "by all processes, as the driver counts: context and libraries included");
    replay_row(h, "Used at the most", q->used_peak, "the same, while the step was played");
    replay_row(h, "Beyond both", other,
               other > 0   ? "the driver rounds up to its pages; other processes may have grown"
               : other < 0 ? "other processes gave memory back meanwhile"
                           : "nothing: what the driver counts is what was there before and the segments");
    if (q->nvml_after >= 0)
        replay_row(h, "Used at the end, NVML", q->nvml_after,
                   "by all processes and the driver itself, before all went back");
    if (q->own_after >= 0)
        replay_row(h, "of it this process", q->own_after, "segments, context and libraries");
    replay_row(h, "Device", q->total, "all of its memory");
    table_end(h);
}

static void
replay_steps(struct html *h, const struct replay *q)
{
    static const struct column head[] = {{"Step", "r", NULL},           {"Most allocated, MiB", "r", NULL},
                                         {"Idle then", "r", NULL},      {"Allocated after", "r", NULL},
                                         {"Reserved after", "r", NULL}, {"Taken", "r", NULL},
                                         {"Given back", "r", NULL}};
    if (!q->nsteps)
        return;
    const char *steady = emit_steps(h->a, q);
    if (steady)
        html_leaf(h, "p", html_format(h, "%s.", steady), NULL);
    table(h, "Steps", "steps", NULL);
    table_head(h, head, COUNT(head));
    for (int i = 0; i < q->nsteps; i++) {
        const struct replayed_step *s = &q->steps[i];
        html_open(h, "tr", NULL);
        html_leaf(h, "th", html_format(h, "%d", i + 1), "scope", "row", "class", "r", NULL);
        cell_mib(h, s->most_allocated);
        cell_mib(h, s->idle);
        cell_mib(h, s->allocated);
        cell_mib(h, s->reserved);
        cell_mib(h, s->taken);
        cell_mib(h, s->given);
        html_close(h);
    }
    table_end(h);
}

static void
workspace_cell(struct html *h, int64_t bytes)
{
    if (bytes < 0)
        cell(h, "none", -1);
    else
        cell_mib(h, bytes);
}

static void
replay_kernels(struct html *h, const struct replay *q)
{
    static const struct column head[] = {{"Kernel", NULL, "s"}, {"Runs", "r", "n"},      {"Estimate, MiB", "r", "n"},
                                         {"Answer", "r", "n"},  {"Operator", NULL, "s"}, {"Where", NULL, "s"}};
    for (int products = 0; products < 2; products++) {
        const char *s = emit_library(h->a, q, products);
        if (s)
            html_leaf(h, "p", html_format(h, "%s.", s), NULL);
    }
    if (!q->libraries || !q->kernels || !q->kernels->n || (!q->libraries->convolutions && !q->libraries->products))
        return;
    html_open(h, "details", "class", "twin", NULL);
    html_leaf(h, "summary", "Kernels, memlint's estimate of their workspaces and the library's answer", NULL);
    table(h, "Workspaces of kernels", NULL, NULL);
    table_head(h, head, COUNT(head));
    for (int i = 0; i < q->kernels->n; i++) {
        const struct kernel *k = &q->kernels->kernel[i];
        html_open(h, "tr", NULL);
        html_leaf(h, "th", emit_kernel(h->a, &k->shape), "scope", "row", NULL);
        cell(h, html_format(h, "%d", k->count), k->count);
        workspace_cell(h, k->shape.kind == KERNEL_PRODUCT ? k->shape.most : -1);
        workspace_cell(h, k->bytes);
        html_open(h, "td", NULL);
        code(h, k->op);
        html_close(h);
        html_open(h, "td", NULL);
        code(h, k->location);
        html_close(h);
        html_close(h);
    }
    table_end(h);
    html_close(h);
}

static void
section_replay(struct html *h)
{
    const struct replay *q = h->r->replay;
    if (!q)
        return;
    section(h, "replay", "Replayed on the device", html_format(h, "%s.", emit_replay(h->a, q)));
    const char *other = emit_capability(h->a, q);
    if (other)
        html_leaf(h, "p", html_format(h, "%s.", other), NULL);
    replay_bytes(h, q);
    replay_steps(h, q);
    replay_kernels(h, q);
    html_close(h);
}

/* ---- out of memory ----------------------------------------------------------------------------------------------- */

static void
section_oom(struct html *h)
{
    static const struct column head[] = {{"Tensor", NULL, NULL}, {"Bytes", "r", NULL}, {"Made in", NULL, NULL}};
    const struct oom *o = h->r->oom;
    if (!o)
        return;
    section(h, "oom", "Out of memory",
            o->tried < 0
                ? o->judgement
                : html_format(h, "PyTorch tried to allocate %s; %s.", bytes_text(h->a, o->tried), o->judgement));
    if (o->nmatches) {
        table(h, "Tensors of that size", "oom", NULL);
        table_head(h, head, COUNT(head));
    }
    for (int i = 0; i < o->nmatches; i++) {
        const struct oom_match *t = &o->matches[i];
        html_open(h, "tr", "class", i == o->likely ? "own" : NULL, NULL);
        html_leaf(h, "td", string_op(h->a, t->name, 120), NULL);
        cell(h, bytes_text(h->a, t->bytes), t->bytes);
        html_open(h, "td", NULL);
        html_printf(h, "%s, ", phase_names[t->phase]);
        code(h, t->location ? t->location : t->op);
        if (t->location)
            html_leaf(h, "small", string_op(h->a, t->op, 60), NULL);
        html_close(h);
        html_close(h);
    }
    if (o->nmatches)
        table_end(h);
    if (emit_oom(h->a, o))
        html_leaf(h, "p", html_format(h, "When the tensor in bold is asked for, %s.", emit_oom(h->a, o)), NULL);
    if (o->navoided) {
        html_open(h, "p", NULL);
        html_text(h, "With one of these changes it fits that card, and reserves: ");
        for (int i = 0, n = 0; i < h->r->nfindings; i++) {
            const struct finding *f = &h->r->findings[i];
            if (!emit_avoids(h->r, f))
                continue;
            html_text(h, n++ ? ", " : "");
            html_leaf(h, "a", string_clip(h->a, f->rule, 60), "href", html_format(h, "#%s", anchor(h, f)), NULL);
            html_printf(h, " (%s)", bytes_text(h->a, f->reserved_after));
        }
        html_text(h, ".");
        html_close(h);
    }
    html_close(h);
}

/* ---- checkpoint plans -------------------------------------------------------------------------------------------- */

static void
plan_modules(struct html *h, const struct plan *p)
{
    enum { SHOWN = 4 };
    html_open(h, "td", NULL);
    if (p->nmodules > SHOWN) {
        html_open(h, "details", NULL);
        html_leaf(h, "summary",
                  html_format(h, "%d modules, %s to %s", p->nmodules, string_clip(h->a, p->modules[0], 60),
                              string_clip(h->a, p->modules[p->nmodules - 1], 60)),
                  NULL);
        html_text(h, emit_modules(h->a, p));
        html_close(h);
    } else {
        html_text(h, emit_modules(h->a, p));
    }
    html_close(h);
}

static void
plan_row(struct html *h, const struct plan *p, const char *name, bool own, bool compared)
{
    const struct result *r = h->r;
    html_open(h, "tr", "class", own ? "own" : NULL, NULL);
    html_leaf(h, "th", name, "scope", "row", "class", "r", NULL);
    cell(h, bytes_text(h->a, p->peak), p->peak);
    html_open(h, "td", "class", "b", NULL);
    svg_after(h, p->peak, r->recompute.front[0].peak);
    html_close(h);
    html_leaf(h, "td", html_format(h, "%.1f %%", p->extra_flops_percent), "class", "r", NULL);
    if (compared)
        html_leaf(h, "td", emit_cheapest(h->a, r->recompute.nselective, r->recompute.selective, p->peak), "class", "r",
                  NULL);
    html_leaf(h, "td", emit_cheapest(h->a, r->recompute.noperators, r->recompute.operators, p->peak), "class", "r",
              NULL);
    plan_modules(h, p);
    html_close(h);
}

/* Plans that keep the results of some operators. */
static void
selective_plans(struct html *h)
{
    static const struct column head[] = {{"Plan", "r", NULL},
                                         {"Peak", "r", NULL},
                                         {"", "b", NULL},
                                         {"Extra FLOPs", "r", NULL},
                                         {"if operators are chosen", "r", NULL},
                                         {"Modules under checkpoint, +policy", NULL, NULL}};
    const struct result *r = h->r;
    if (!r->recompute.selective_python)
        return;
    html_leaf(
        h, "p",
        "Selective plans recompute a module but keep what costs most to make again: the results of its matrix "
        "products, its attention or its convolutions. memlint --list=policies has the policies; with a number, as in "
        "+products:512, only products whose inner dimension is as large: those that cost much for their size.",
        NULL);
    table(h, "Selective plans, from the highest peak to the lowest", "plans selective", NULL);
    table_head(h, head, COUNT(head));
    for (int i = 0; i < r->recompute.nselective; i++)
        plan_row(h, &r->recompute.selective[i], html_format(h, "s%d", i), false, false);
    table_end(h);
    html_lines(h, r->recompute.selective_python);
}

/* What a line tells, the one to take marked. */
static void
pattern_plans(struct html *h)
{
    static const struct column head[] = {{"Modules under checkpoint", NULL, NULL},
                                         {"Peak", "r", NULL},
                                         {"Extra FLOPs", "r", NULL},
                                         {"", "b", NULL},
                                         {"How many", NULL, NULL}};
    const struct result *r = h->r;
    table(h, "Plans told by a pattern, from the highest peak to the lowest", "plans told", NULL);
    table_head(h, head, COUNT(head));
    for (int i = 0; i < r->recompute.npatterns; i++) {
        const struct plan *p = &r->recompute.patterns[i];
        bool own = i == r->recompute.chosen_pattern;
        html_open(h, "tr", "class", own ? "own" : NULL, NULL);
        html_open(h, "th", "scope", "row", NULL);
        if (p->pattern)
            code(h, p->pattern);
        else
            html_text(h, "no checkpoints");
        if (own)
            html_leaf(h, "small", " the plan to take", NULL);
        html_close(h);
        cell(h, bytes_text(h->a, p->peak), p->peak);
        html_leaf(h, "td", html_format(h, "%.1f %%", p->extra_flops_percent), "class", "r", NULL);
        html_open(h, "td", "class", "b", NULL);
        svg_after(h, p->peak, r->recompute.front[0].peak);
        html_close(h);
        html_leaf(h, "td", p->pattern ? emit_pattern(h->a, p) : "", NULL);
        html_close(h);
    }
    table_end(h);
}

static void
scattered_plans(struct html *h)
{
    static const struct column head[] = {{"Plan", "r", NULL},
                                         {"Peak", "r", NULL},
                                         {"", "b", NULL},
                                         {"Extra FLOPs", "r", NULL},
                                         {"if results are kept", "r", NULL},
                                         {"if operators are chosen", "r", NULL},
                                         {"Modules under checkpoint", NULL, NULL}};
    const struct result *r = h->r;
    int n = r->recompute.nfront;
    html_leaf(h, "p",
              "Any choice of modules: every plan was run, none here is beaten by another. Beside a plan's extra FLOPs "
              "stand those for the same peak if a policy keeps the results that are dear to compute again, and if any "
              "operators, not only whole modules, could be recomputed.",
              NULL);
    table(h, "Plans, from the highest peak to the lowest", "plans", NULL);
    table_head(h, head, COUNT(head));
    for (int i = 0; i < n; i++)
        plan_row(h, &r->recompute.front[i], r->recompute.front[i].nmodules ? html_format(h, "%d", i) : "no checkpoints",
                 i == emit_plan_to_take(r), true);
    table_end(h);
    if (*r->recompute.front[n - 1].held_by)
        html_leaf(
            h, "p",
            html_format(h, "What holds the lowest peak: %s.", string_op(h->a, r->recompute.front[n - 1].held_by, 300)),
            NULL);
    selective_plans(h);
}

/* What the lines of the picture are. */
static void
front_key(struct html *h)
{
    const struct result *r = h->r;
    html_open(h, "p", "class", "key", NULL);
    html_leaf(h, "span", "", "class", "sw s-pk", NULL);
    html_text(h, "modules under checkpoint");
    if (r->recompute.nselective > 1) {
        html_leaf(h, "span", "", "class", "sw s-fs", NULL);
        html_text(h, "if a policy keeps results");
    }
    if (r->recompute.noperators > 1) {
        html_leaf(h, "span", "", "class", "sw s-fo", NULL);
        html_text(h, "if any operators are recomputed");
    }
    html_close(h);
}

static void
section_recompute(struct html *h)
{
    const struct result *r = h->r;
    bool patterns = r->recompute.npatterns > 1;
    if (!r->recompute.nfront)
        return;
    section(h, "recompute", "Checkpoint plans",
            "Which modules to put under torch.utils.checkpoint. FLOPs are those of products, convolutions and "
            "attention. The timeline above draws a plan over the step without it.");
    if (patterns)
        pattern_plans(h);
    if (r->recompute.python)
        html_lines(h, r->recompute.python);
    html_leaf(h, "h3", "Peak and extra FLOPs of every plan that no other beats; the plan to take is larger", NULL);
    html_open(h, "figure", NULL);
    front_key(h);
    svg_front(h);
    html_close(h);
    if (patterns) {
        html_open(h, "details", "class", "twin", NULL);
        html_leaf(h, "summary",
                  html_format(h, "%d plans of scattered modules, and what policies keep", r->recompute.nfront), NULL);
    }
    scattered_plans(h);
    if (patterns)
        html_close(h);
    html_close(h);
}

/* ---- tensors alive at the peak ----------------------------------------------------------------------------------- */

/* The rows behind the largest ones, by module and class: a large model has too many tensors for a row each. */
static struct tensor_group *
fold_rest(struct html *h, struct tensor_group *groups, int *n)
{
    enum { MOST = 1000 };
    int nclusters, kept = MOST;
    if (*n <= MOST + CLASS_COUNT)
        return groups;
    const struct cluster *k = html_clusters(h, &nclusters);
    int *row = NEWN(h->a, int, nclusters *CLASS_COUNT), *of = NEWN(h->a, int, h->r->nlive);
    for (int i = 0; i < nclusters; i++)
        for (int m = 0; m < k[i].n; m++)
            of[k[i].member[m]] = i;
    struct tensor_group *out = NEWN(h->a, struct tensor_group, MOST + nclusters * CLASS_COUNT);
    memcpy(out, groups, sizeof(*out) * MOST);
    for (int g = MOST; g < *n; g++)
        for (int m = 0; m < groups[g].count; m++) {
            int i = groups[g].member[m], *at = &row[of[i] * CLASS_COUNT + (int)h->r->live[i].class];
            if (*at == 0) {
                *at = kept++;
                out[*at] = (struct tensor_group){
                    .name = html_format(h, "others in %s", k[of[i]].name), .first = &h->r->live[i], .mixed = true};
            }
            out[*at].bytes = bytes_add(out[*at].bytes, h->r->live[i].bytes);
            *PUSH(h->a, out[*at].member, out[*at].count, out[*at].cap) = i;
        }
    *n = kept;
    emit_sort_groups(out, kept);
    return out;
}

/* at: the row's number in the data; most: the largest row, for the bar; 0 draws none. */
static void
tensor_row(struct html *h, const struct tensor_group *g, int at, int64_t most)
{
    const struct live_tensor *t = g->first;
    html_open(h, "tr", "data-g", html_format(h, "%d", at), NULL);
    html_open(h, "th", "scope", "row", NULL);
    if (g->count == 1) {
        code(h, g->name);
    } else {
        html_open(h, "details", NULL);
        html_open(h, "summary", NULL);
        code(h, g->name);
        html_printf(h, " ×\u00a0%d", g->count);
        html_close(h);
        html_open(h, "ul", NULL);
        for (int i = 0; i < g->count; i++) {
            const struct live_tensor *m = &h->r->live[g->member[i]];
            html_open(h, "li", NULL);
            if (g->count > MEMBERS && i == MEMBERS / 2) { /* the JSON report has each */
                html_printf(h, "and %d more", g->count - MEMBERS + 1);
                i += g->count - MEMBERS;
            } else {
                html_text(h, string_op(h->a, emit_tensor(h->a, m->name, m->layer), NAME));
                if (g->elsewhere && m->location && *m->location)
                    html_printf(h, ", %s", string_clip(h->a, m->location, 80));
            }
            html_close(h);
        }
        html_close(h);
        html_close(h);
    }
    html_close(h);
    cell_mib(h, g->bytes);
    html_open(h, "td", "class", most ? "b" : NULL, NULL);
    if (most)
        svg_bar(h, g->bytes, most, html_class(h, t->class));
    html_close(h);
    cell_class(h, t->class);
    html_open(h, "td", "class", "sh", NULL);
    if (!g->mixed)
        html_printf(h, "%s %s", string_clip(h->a, t->dtype, 20), emit_shape(h->a, t->rank, t->shape));
    if (g->slack_bytes)
        html_leaf(h, "small", html_format(h, "%s of it slack", bytes_text(h->a, g->slack_bytes)), NULL);
    html_close(h);
    html_open(h, "td", NULL);
    if (!g->mixed)
        words(h, string_op(h->a, t->needed_by, NAME));
    if (!g->mixed && t->born)
        html_leaf(h, "small", html_format(h, "since %s", string_op(h->a, t->born, NAME)), NULL);
    html_close(h);
    html_open(h, "td", NULL);
    code(h, g->location);
    if (g->elsewhere)
        html_leaf(h, "small", "and other lines", NULL);
    html_close(h);
    html_close(h);
}

static void
tensor_table(struct html *h, const struct tensor_group *g, int from, int to, const char *caption)
{
    static const struct column head[] = {{"Tensor", NULL, "s"},
                                         {"MiB", "r", "n"},
                                         {"", "b", NULL},
                                         {"Class", NULL, "s"},
                                         {"Type and shape", NULL, "s"},
                                         {"Why it is alive", NULL, "s"},
                                         {"Line", NULL, "s"}};
    table(h, caption, "live sort", NULL);
    table_head(h, head, COUNT(head));
    for (int i = from; i < to; i++)
        tensor_row(h, &g[i], i, from == 0 ? g[0].bytes : 0);
    table_end(h);
}

/* The treemap's boxes as a table: modules by classes. */
static void
cluster_table(struct html *h, const struct cluster *k, int n)
{
    struct column head[CLASS_COUNT + 2] = {{"Module", NULL, "s"}, {"All", "r", "n"}};
    enum class show[CLASS_COUNT];
    int classes = 0;
    for (int i = 0; i < CLASS_COUNT; i++)
        if (h->r->class_bytes[html_stack[i]] > 0) {
            head[classes + 2] = (struct column){class_names[html_stack[i]], "r", "n"};
            show[classes++] = html_stack[i];
        }
    html_open(h, "details", "class", "twin", "id", "picture", NULL);
    html_leaf(h, "summary", "The picture as a table: modules by classes, MiB", NULL);
    table(h, "Bytes at the peak by module and class, in MiB", "sort", "clusters");
    table_head(h, head, classes + 2);
    for (int i = 0; i < n; i++) {
        html_open(h, "tr", NULL);
        html_open(h, "th", "scope", "row", NULL);
        code(h, k[i].name);
        html_close(h);
        cell_mib(h, k[i].bytes);
        for (int c = 0; c < classes; c++)
            cell_mib(h, k[i].class_bytes[show[c]]);
        html_close(h);
    }
    table_end(h);
    html_close(h);
}

static void
section_alive(struct html *h)
{
    const struct result *r = h->r;
    if (r->nlive == 0)
        return;
    int n;
    struct tensor_group *g = h->group = fold_rest(h, emit_groups(h->a, r, &n), &n);
    h->ngroups = n;
    h->written = n < ROWS ? n : ROWS;
    int open = n < OPEN_ROWS + 10 ? n : OPEN_ROWS;
    int64_t rest = 0;
    for (int i = open; i < n; i++)
        rest = bytes_add(rest, g[i].bytes);
    h->row = NEWN(h->a, int, r->nlive);
    for (int i = 0; i < n; i++)
        for (int k = 0; k < g[i].count; k++)
            h->row[g[i].member[k]] = i;
    section(h, "alive", "What is alive at the peak",
            html_format(
                h,
                "%s tensors, %s. A box is a module, area is bytes, colour is class; in the table, tensors that differ "
                "only in a number are one row.",
                count_text(h->a, r->nlive), bytes_text(h->a, r->peak.allocated)));
    int nclusters;
    const struct cluster *clusters = html_clusters(h, &nclusters);
    html_open(h, "p", "class", "tools", "id", "maptools", "hidden", "hidden", NULL);
    html_leaf(h, "label", "Show", "for", "mapof", NULL);
    html_open(h, "select", "id", "mapof", NULL);
    html_leaf(h, "option", "the whole peak", NULL);
    html_close(h);
    html_close(h);
    svg_treemap(h, clusters, nclusters);
    cluster_table(h, clusters, nclusters);
    html_open(h, "p", "class", "tools", "id", "tools", "hidden", "hidden", NULL);
    html_leaf(h, "label", "Filter", "for", "q", NULL);
    html_void(h, "input", "type", "search", "id", "q", "placeholder", "name, class, shape, line", NULL);
    html_leaf(h, "span", "", "id", "qn", "role", "status", NULL);
    html_close(h);
    tensor_table(h, g, 0, open, "Tensors alive at the peak");
    if (open < n) {
        html_open(h, "details", "class", "twin", "id", "tail", NULL);
        html_leaf(h, "summary",
                  html_format(h, "%s smaller rows, %s together", count_text(h->a, n - open), bytes_text(h->a, rest)),
                  NULL);
        tensor_table(h, g, open, h->written, "Smaller tensors alive at the peak");
        if (h->written < n)
            in_data(h, html_format(h, "%s more rows stand at", count_text(h->a, n - h->written)));
        html_close(h);
    }
    html_close(h);
}

/* ---- segments ---------------------------------------------------------------------------------------------------- */

static int64_t
free_of(const struct segment *s)
{
    return s->bytes - s->used;
}

/* The order of the picture: large ones first, of these the ones that have most free. */
static int *
segment_order(struct html *h)
{
    const struct segment *s = h->r->segments;
    int *order = NEWN(h->a, int, h->r->nsegments + 1);
    for (int i = 0; i < h->r->nsegments; i++) { /* by insertion, from behind: most are full, and stay where they are */
        int k = i;
        for (; k > 0; k--) {
            const struct segment *p = &s[order[k - 1]];
            if (p->large > s[i].large || (p->large == s[i].large && free_of(p) >= free_of(&s[i])))
                break;
            order[k] = order[k - 1];
        }
        order[k] = i;
    }
    return order;
}

/* Where what is reserved beyond the tensors lies. */
static const char *
segment_words(struct html *h)
{
    const struct result *r = h->r;
    int64_t all = 0, whole = 0, largest = 0, slack = 0;
    int nwhole = 0;
    for (int i = 0; i < r->nsegments; i++) {
        const struct segment *s = &r->segments[i];
        all = bytes_add(all, s->bytes);
        largest = s->largest_free > largest ? s->largest_free : largest;
        if (!s->ntensors)
            whole = bytes_add(whole, s->bytes), nwhole++;
    }
    for (int i = 0; i < r->nlive; i++)
        slack = bytes_add(slack, tensor_slack(&r->live[i]));
    int64_t between = all - r->peak.allocated - whole;
    const char *s =
        html_format(h, "At the peak it holds %s of the device in %s: %s are tensors", bytes_text(h->a, all),
                    html_format(h, r->nsegments == 1 ? "%s segment" : "%s segments", count_text(h->a, r->nsegments)),
                    bytes_text(h->a, r->peak.allocated));
    if (slack)
        s = html_format(h, "%s (%s of it slack, the rest of blocks that were not worth splitting)", s,
                        bytes_text(h->a, slack));
    if (between)
        s = html_format(h, "%s, %s are free between them", s, bytes_text(h->a, between));
    if (nwhole)
        s = html_format(h,
                        nwhole == 1 ? "%s, and a segment of %s has no tensor: torch.cuda.empty_cache() gives it back"
                                    : "%s, and segments of %s together have no tensor: torch.cuda.empty_cache() "
                                      "gives them back",
                        s, bytes_text(h->a, whole));
    s = html_format(h,
                    "%s. The largest free piece has %s; a request for more takes new memory from the device. Colours "
                    "are those of the classes, grey is free, a pale end is slack.",
                    s, bytes_text(h->a, largest));
    if (r->peak.reserved > all)
        s = html_format(h, "%s Before or after the peak, up to %s are reserved.", s,
                        bytes_text(h->a, r->peak.reserved));
    return s;
}

/* Only where the allocator holds more than the tensors. */
static void
section_segments(struct html *h)
{
    const struct result *r = h->r;
    if (!html_segments_matter(r))
        return;
    h->order = segment_order(h);
    section(h, "segments", "What PyTorch's allocator holds", segment_words(h));
    svg_segments(h, h->order);
    html_open(h, "details", "class", "twin", NULL);
    html_leaf(h, "summary", "The picture as a table: segments, those that are alike on one line, MiB", NULL);
    late_table(h, "segs", "Segments of the allocator, in MiB");
    html_close(h);
    html_close(h);
}

/* ---- layers, devices, rules of thumb ----------------------------------------------------------------------------- */

/* The layer behind i and all below it. */
static int
layer_end(const struct result *r, int i)
{
    int end = i + 1;
    while (end < r->nlayers && r->layers[end].depth > r->layers[i].depth)
        end++;
    return end;
}

/* Whether two layers and all below them have the same figures and, but for their own, the same names. */
static bool
alike(const struct result *r, int i, int k, int n)
{
    const char *p = r->layers[i].path, *q = r->layers[k].path;
    size_t skip = p ? strlen(p) : 0, also = q ? strlen(q) : 0;
    for (int at = 0; at < n; at++) {
        const struct layer *a = &r->layers[i + at], *b = &r->layers[k + at];
        if (k + at >= r->nlayers || a->depth != b->depth || a->parameters != b->parameters ||
            a->parameter_bytes != b->parameter_bytes || a->saved_bytes != b->saved_bytes ||
            a->output_bytes != b->output_bytes || a->flops != b->flops || !a->path || !b->path ||
            strcmp(a->type ? a->type : "", b->type ? b->type : "") != 0 || strlen(a->path) < skip ||
            strlen(b->path) < also || strcmp(a->path + skip, b->path + also) != 0)
            return false;
    }
    return true;
}

static void
layer_row(struct html *h, const struct layer_line *line, int64_t most)
{
    const struct layer *l = &h->r->layers[line->first];
    const char *path = l->path && *l->path ? l->path : "(model)";
    html_open(h, "tr", "data-d", html_format(h, "%d", l->depth), NULL);
    html_open(h, "th", "scope", "row", "class", html_format(h, "d%d", l->depth > 12 ? 12 : l->depth), NULL);
    html_leaf(h, "code", string_clip(h->a, l->depth > 1 ? html_last(path, '.') : path, NAME), NULL);
    if (line->count > 1)
        html_leaf(h, "b",
                  html_format(h, " – %s × %d", string_clip(h->a, html_last(h->r->layers[line->last].path, '.'), NAME),
                              line->count),
                  NULL);
    if (l->type && strcmp(html_last(l->type, '.'), html_last(path, '.')) != 0)
        html_leaf(h, "span", html_format(h, " %s", string_clip(h->a, html_last(l->type, '.'), 60)), "class", "ty",
                  NULL);
    html_close(h);
    cell_mib(h, l->saved_bytes);
    html_open(h, "td", "class", "b", NULL);
    if (l->saved_bytes > most / 200)
        svg_bar(h, l->saved_bytes, most, "c-saved");
    html_close(h);
    html_leaf(h, "td", count_text(h->a, l->parameters), "class", "r", NULL);
    cell_mib(h, l->parameter_bytes);
    cell_mib(h, l->output_bytes);
    html_leaf(h, "td", html_format(h, "%.2f", (double)l->flops / 1e9), "class", "r", NULL);
    html_close(h);
}

/* A module that has nothing to show: dropout that does not run, the exporter's own. */
static bool
is_idle(const struct layer *l)
{
    return !l->saved_bytes && !l->parameters && !l->output_bytes && !l->flops;
}

/* Neighbours that are alike are one line, with the figures of one. */
static void
layer_lines(struct html *h, int from, int to)
{
    enum { ALIKE = 3 };
    for (int i = from; i < to;) {
        int end = layer_end(h->r, i), count = 1, next = end, last = i;
        while (next < to && alike(h->r, i, next, end - i)) {
            last = next;
            next = layer_end(h->r, next);
            count++;
        }
        bool fold = count >= ALIKE;
        if (i == 0 || end > i + 1 || !is_idle(&h->r->layers[i]))
            *PUSH(h->a, h->line, h->nlines, h->cap_lines) = (struct layer_line){i, fold ? last : i, fold ? count : 1};
        layer_lines(h, i + 1, end);
        i = fold ? next : end;
    }
}

/* Down to which depth lines have rows. */
static int
deepest(const struct html *h)
{
    int deep = 1;
    for (int n = 0; n <= LINES && deep < 64; deep++) {
        n = 0;
        for (int i = 0; i < h->nlines; i++)
            n += h->r->layers[h->line[i].first].depth <= deep + 1;
        if (n > LINES)
            break;
    }
    return deep;
}

static void
section_layers(struct html *h)
{
    static const struct column head[] = {
        {"Module", NULL, NULL},      {"Saved, MiB", "r", NULL},   {"", "b", NULL},
        {"Parameters", "r", NULL},   {"Weights, MiB", "r", NULL}, {"Outputs, MiB", "r", NULL},
        {"Forward GFLOP", "r", NULL}};
    const struct result *r = h->r;
    int64_t most = 1;
    if (r->nlayers == 0)
        return;
    for (int i = 0; i < r->nlayers; i++)
        most = r->layers[i].saved_bytes > most ? r->layers[i].saved_bytes : most;
    section(h, "layers", "Layers",
            "A line counts the module with all below it; neighbours that are alike are one line, with the figures of "
            "one, and modules without figures are left out. Saved is what autograd keeps of the module's forward pass "
            "for the backward pass.");
    html_open(h, "p", "class", "tools", "id", "laytools", "hidden", "hidden", NULL);
    html_leaf(h, "button", "Open all", "type", "button", "id", "layopen", NULL);
    html_leaf(h, "button", "Close all", "type", "button", "id", "layclose", NULL);
    html_leaf(h, "button", "Copy as TSV", "type", "button", "id", "laytsv", NULL);
    html_leaf(h, "span", "", "id", "laysaid", "role", "status", NULL);
    html_close(h);
    table(h, "Modules of the model", "layers", "lay");
    table_head(h, head, COUNT(head));
    layer_lines(h, 0, r->nlayers);
    int deep = deepest(h), left = 0;
    for (int i = 0; i < h->nlines; i++) {
        bool told = r->layers[h->line[i].first].depth <= deep;
        left += !told;
        if (told)
            layer_row(h, &h->line[i], most);
    }
    table_end(h);
    if (left)
        in_data(h, html_format(h, "%s lines of deeper modules stand at", count_text(h->a, left)));
    html_close(h);
}

static int
by_capacity(const void *x, const void *y)
{
    const struct fit *a = *(const struct fit *const *)x, *b = *(const struct fit *const *)y;
    return a->capacity != b->capacity ? (a->capacity > b->capacity) - (a->capacity < b->capacity) : (a > b) - (a < b);
}

/* What a device needs at a size of the grid; -1 not known. */
static int64_t
grid_need(const struct result *r, const struct fit *f, int column)
{
    const struct grid *g = r->grid;
    int64_t reserved = g->reserved[f->kind][g->own_row * g->ncolumns + column];
    return reserved < 0 ? -1 : bytes_add(reserved, f->context);
}

static void
share_cell(struct html *h, int64_t need, int64_t capacity, bool own)
{
    const char *css = need < 0 ? "na" : need > capacity ? "no" : need > capacity / 100 * 90 ? "tight" : "yes";
    const char *text = need < 0 ? "–"
                       : need > capacity
                           ? html_format(h, need / 11 * 10 > capacity ? "✕ %.1f×" : "✕ %.2f×",
                                         (double)need / (double)(capacity > 0 ? capacity : 1))
                           : html_format(h, "%s %.0f %%", *css == 't' ? "!" : "✓", bytes_percent(need, capacity));
    int64_t quarter = capacity / 4 > 0 ? capacity / 4 : 1; /* a shade for each */
    const char *shade = *css == 'y' ? html_format(h, " h%d", (int)(need / quarter)) : "";
    html_leaf(h, "td", text, "class", html_format(h, "%s%s%s", css, shade, own ? " here" : ""), NULL);
}

/* The largest batch that was found to fit, or at least the largest that was run and does. */
static const char *
largest_batch(struct html *h, const struct fit *f)
{
    const struct grid *g = h->r->grid;
    if (f->largest_batch >= 0)
        return f->largest_batch ? count_text(h->a, f->largest_batch) : "none";
    for (int i = g ? g->ncolumns - 1 : -1; i >= 0; i--) {
        int64_t need = grid_need(h->r, f, i);
        if (need >= 0 && need <= f->capacity)
            return html_format(h, "≥ %s", count_text(h->a, g->column[i]));
    }
    return "not known";
}

/* The card of an out-of-memory message: what PyTorch's allocator could have had of it, beside what steps reserve. */
static void
message_row(struct html *h)
{
    const struct result *r = h->r;
    const struct grid *g = r->grid;
    const struct oom *o = r->oom;
    if (!o || o->room < 0)
        return;
    html_open(h, "tr", "class", "own", NULL);
    html_leaf(h, "th", "the message's card", "scope", "row", NULL);
    html_leaf(h, "td", bytes_text(h->a, o->room), "class", "r", NULL);
    for (int k = 0; g && k < g->ncolumns; k++)
        share_cell(h, g->reserved[r->own_kind][g->own_row * g->ncolumns + k], o->room, k == g->own_column);
    if (!g)
        share_cell(h, r->peak.reserved, o->room, true);
    html_leaf(h, "td",
              o->largest_batch < 0 ? ""
              : o->largest_batch   ? count_text(h->a, o->largest_batch)
                                   : "none",
              "class", "r", NULL);
    html_close(h);
}

/* Devices of one size are one row. */
static void
fits_table(struct html *h, const struct fit **fits, int n)
{
    const struct result *r = h->r;
    const struct grid *g = r->grid;
    struct column *head = NEWN(h->a, struct column, (g ? g->ncolumns : 1) + 3);
    int nhead = 0;
    head[nhead++] = (struct column){"Device", NULL, NULL};
    head[nhead++] = (struct column){"Capacity", "r", NULL};
    for (int i = 0; g && i < g->ncolumns; i++)
        head[nhead++] = (struct column){
            html_format(h, "%s %s", i ? "" : string_clip(h->a, g->across, 20), count_text(h->a, g->column[i])), "r",
            NULL};
    if (!g)
        head[nhead++] = (struct column){"Share", "r", NULL};
    head[nhead++] =
        (struct column){g ? html_format(h, "Largest %s", string_clip(h->a, g->across, 20)) : "Largest", "r", NULL};
    table(h, "Devices by sizes: the share of the device that a step takes",
          html_format(h, "fits sizes k%d", g ? g->ncolumns : 1), NULL);
    table_head(h, head, nhead);
    message_row(h);
    for (int i = 0, end; i < n; i = end) {
        const char *names = string_clip(h->a, fits[i]->device, 60);
        for (end = i + 1; end < n && fits[end]->capacity == fits[i]->capacity && fits[end]->need == fits[i]->need &&
                          fits[end]->kind == fits[i]->kind;
             end++)
            names = html_format(h, "%s, %s", names, string_clip(h->a, fits[end]->device, 60));
        html_open(h, "tr", NULL);
        html_leaf(h, "th", names, "scope", "row", NULL);
        html_leaf(h, "td", bytes_text(h->a, fits[i]->capacity), "class", "r", NULL);
        for (int k = 0; g && k < g->ncolumns; k++)
            share_cell(h, grid_need(r, fits[i], k), fits[i]->capacity, k == g->own_column);
        if (!g)
            share_cell(h, fits[i]->need, fits[i]->capacity, true);
        html_leaf(h, "td", largest_batch(h, fits[i]), "class", "r", NULL);
        html_close(h);
    }
    table_end(h);
}

/* Two dimensions: what the device has to hold, and the smallest that does. */
static void
sizes_table(struct html *h, const struct fit **fits, int n)
{
    const struct result *r = h->r;
    const struct grid *g = r->grid;
    struct column *head = NEWN(h->a, struct column, g->ncolumns + 1);
    head[0] = (struct column){html_format(h, "%s", string_clip(h->a, g->down, 30)), "r", NULL};
    for (int i = 0; i < g->ncolumns; i++)
        head[i + 1] = (struct column){
            html_format(h, "%s %s", i ? "" : string_clip(h->a, g->across, 20), count_text(h->a, g->column[i])), "r",
            NULL};
    html_leaf(h, "h3",
              html_format(h, "%s and %s: the memory of the device, and the smallest that has it",
                          string_clip(h->a, g->across, 30), string_clip(h->a, g->down, 30)),
              NULL);
    table(h, "Device memory by two dimensions", "fits two", NULL);
    table_head(h, head, g->ncolumns + 1);
    for (int k = 0; k < g->nrows; k++) {
        html_open(h, "tr", NULL);
        html_leaf(h, "th", count_text(h->a, g->row[k]), "scope", "row", "class", "r", NULL);
        for (int i = 0; i < g->ncolumns; i++) {
            const struct fit *least = NULL;
            int64_t need = -1;
            for (int d = n - 1; d >= 0;
                 d--) { /* from the largest on; the smallest says what is needed, else the largest */
                int64_t reserved = g->reserved[fits[d]->kind][k * g->ncolumns + i];
                int64_t takes = reserved < 0 ? -1 : bytes_add(reserved, fits[d]->context);
                if (takes < 0 || (need >= 0 && takes > fits[d]->capacity))
                    continue;
                need = takes;
                least = takes <= fits[d]->capacity ? fits[d] : least;
            }
            html_open(h, "td", "class", html_format(h, "r%s", k == g->own_row && i == g->own_column ? " here" : ""),
                      NULL);
            html_text(h, need < 0 ? "–" : bytes_text(h->a, need));
            if (need >= 0)
                html_leaf(h, "small", least ? string_clip(h->a, least->device, 20) : "✕ none", NULL);
            html_close(h);
        }
        html_close(h);
    }
    table_end(h);
}

static void
section_fits(struct html *h)
{
    const struct result *r = h->r;
    const struct fit **fits = NEWN(h->a, const struct fit *, r->nfits + 1);
    if (r->nfits == 0 || r->ndoubts)
        return;
    for (int i = 0; i < r->nfits; i++)
        fits[i] = &r->fits[i];
    qsort(fits, (size_t)r->nfits, sizeof(*fits), by_capacity);
    section(
        h, "fits", "What fits",
        "How much of a device's memory the step takes, with what the allocator holds beyond the tensors and the CUDA "
        "context: ✓ fits, the stronger its colour the fuller; ! takes more than 90 %; ✕ needs so many times the "
        "memory; – was not run. The framed size is this report's.");
    if (r->oom && r->oom->room >= 0)
        html_leaf(h, "p",
                  html_format(h,
                              "The first row is the card of the message: of it PyTorch's allocator could have had %s, "
                              "which stands beside what the step reserves.",
                              bytes_text(h->a, r->oom->room)),
                  "class", "ss", NULL);
    fits_table(h, fits, r->nfits);
    if (r->grid && r->grid->nrows > 1)
        sizes_table(h, fits, r->nfits);
    html_close(h);
}

/* ---- several GPUs ------------------------------------------------------------------------------------------------ */

static struct column *
gpu_columns(struct html *h, const char *first, const char *css)
{
    const struct scale *s = h->r->scale;
    struct column *head = NEWN(h->a, struct column, s->ncolumns + 1);
    head[0] = (struct column){first, NULL, NULL};
    for (int c = 0; c < s->ncolumns; c++)
        head[c + 1] = (struct column){html_format(h, "%s%s", count_text(h->a, s->gpus[c]),
                                                  s->gpus[c] == 1 ? " GPU"
                                                  : c == 1        ? " GPUs"
                                                                  : ""),
                                      css, NULL};
    return head;
}

static const char *
gpus_text(struct html *h, int n)
{
    return html_format(h, n == 1 ? "%s GPU" : "%s GPUs", count_text(h->a, n));
}

/* What the allocator reserves on one GPU, beside the most of all cells, the class that has most of the peak, and what
 * is sent. */
static void
need_cell(struct html *h, const struct rank_need *need, int gpus, int64_t most, bool own)
{
    const char *css = need->allocated < 0 && !need->stops ? "r na" : own ? "r here" : "r";
    html_open(h, "td", "class", css, "data-h", gpus_text(h, gpus), NULL);
    if (need->allocated < 0 || need->stops)
        html_text(h, need->stops ? "stops" : "–");
    else
        html_text(h, bytes_text(h->a, need->reserved));
    if (need->allocated >= 0 && !need->stops)
        svg_bar(h, need->reserved, most, html_class(h, need->holder));
    if (need->allocated >= 0 && !need->stops)
        html_leaf(
            h, "small",
            html_format(h, "%s %.0f %%", class_names[need->holder], bytes_percent(need->holder_bytes, need->allocated)),
            NULL);
    if (need->allocated >= 0 && !need->stops && gpus > 1)
        html_leaf(h, "small", html_format(h, "→ %s", bytes_text(h->a, rank_sends(need->exchanged, need->passed, gpus))),
                  NULL);
    html_close(h);
}

/* Devices of one answer share a row. */
static void
cheapest_table(struct html *h)
{
    const struct result *r = h->r;
    const struct scale *s = r->scale;
    const struct fit **fits = NEWN(h->a, const struct fit *, r->nfits + 1);
    size_t row = sizeof(*s->cheapest) * (size_t)s->ncolumns;
    int left = r->nfits;
    for (int i = 0; i < r->nfits; i++)
        fits[i] = &r->fits[i];
    qsort(fits, (size_t)r->nfits, sizeof(*fits), by_capacity);
    html_leaf(h, "h3", "The cheapest way that fits, the context and NCCL's buffers included", NULL);
    table(h, "Devices by numbers of GPUs: the first way that fits", "ways cheap", NULL);
    table_head(h, gpu_columns(h, "Devices", NULL), s->ncolumns + 1);
    while (left) {
        const int *cheapest = s->cheapest + (fits[0] - r->fits) * s->ncolumns;
        const char *names = "";
        int kept = 0;
        for (int i = 0; i < left; i++)
            if (memcmp(s->cheapest + (fits[i] - r->fits) * s->ncolumns, cheapest, row) == 0)
                names = html_format(h, "%s%s%s", names, *names ? ", " : "", string_clip(h->a, fits[i]->device, 40));
            else
                fits[kept++] = fits[i];
        left = kept;
        html_open(h, "tr", NULL);
        html_open(h, "th", "scope", "row", NULL);
        unbroken(h, names);
        html_close(h);
        for (int c = 0; c < s->ncolumns; c++)
            if (c == 0 || cheapest[c] != cheapest[c - 1]) {
                int same = c + 1;
                while (same < s->ncolumns && cheapest[same] == cheapest[c])
                    same++;
                html_leaf(h, "td", cheapest[c] < 0 ? "✕ none" : s->ways[cheapest[c]].name, "colspan",
                          same > c + 1 ? html_format(h, "%d", same - c) : NULL, "data-h",
                          same > c + 1 ? html_format(h, "%s to %s", count_text(h->a, s->gpus[c]),
                                                     gpus_text(h, s->gpus[same - 1]))
                                       : gpus_text(h, s->gpus[c]),
                          NULL);
            }
        html_close(h);
    }
    table_end(h);
}

static void
way_code(struct html *h, const struct way *w, bool open)
{
    if (!w->python || !*w->python)
        return;
    html_open(h, "details", "class", "twin", "open", open ? "open" : NULL, NULL);
    html_leaf(h, "summary", html_format(h, "The Python of %s", w->name), NULL);
    html_lines(h, w->python);
    html_close(h);
}

static void
section_ranks(struct html *h)
{
    const struct ranks *k = h->r->ranks;
    if (!k)
        return;
    section(h, "scale", "Several GPUs",
            "All numbers of this report are one GPU's, as PyTorch runs the step there; the Python makes the model so "
            "once the process group is there.");
    html_leaf(h, "p", emit_ranks(h->a, k), NULL);
    if (k->python)
        html_lines(h, k->python);
    html_close(h);
}

static void
section_scale(struct html *h)
{
    const struct result *r = h->r;
    const struct scale *s = r->scale;
    if (!s)
        return;
    int64_t most = 0;
    for (int i = 0; i < s->nways * s->ncolumns; i++) {
        const struct rank_need *need = &s->ways[i / s->ncolumns].on[i % s->ncolumns];
        most = need->allocated >= 0 && need->reserved > most ? need->reserved : most;
    }
    section(h, "scale", "Several GPUs",
            "Every cell is a step that was run, with this batch on each GPU (under tensor parallelism on all together, "
            "of a "
            "pipeline as a micro-batch): what PyTorch's allocator reserves on one of "
            "them (the bar), the class that has most of its peak (the bar's colour), and behind → what it sends to the "
            "others in a step. Ways stand in the order of what they cost; checkpoints are around each block of the "
            "model.");
    table(h, "Ways to run the step by numbers of GPUs", "fits ways", NULL);
    table_head(h, gpu_columns(h, "Way", "r"), s->ncolumns + 1);
    for (int i = 0; i < s->nways; i++) {
        html_open(h, "tr", "class", i == s->chosen ? "own" : NULL, NULL);
        html_leaf(h, "th", s->ways[i].name, "scope", "row", NULL);
        for (int c = 0; c < s->ncolumns; c++)
            need_cell(h, &s->ways[i].on[c], s->gpus[c], most, i == s->chosen && c == s->own);
        html_close(h);
    }
    table_end(h);
    for (int i = 0; i < s->nways; i++)
        for (int c = 0; c < s->ncolumns; c++)
            if (s->ways[i].on[c].stops && (c == 0 || !s->ways[i].on[c - 1].stops))
                html_leaf(h, "p", html_format(h, "%s stops: %s.", s->ways[i].name, s->ways[i].on[c].stops), NULL);
    cheapest_table(h);
    for (int i = 0; i < s->nways; i++)
        way_code(h, &s->ways[i], i == s->chosen);
    html_close(h);
}

static void
thumb_row(struct html *h, const struct thumb *t, int64_t most, bool own)
{
    html_open(h, "tr", "class", own ? "own" : NULL, NULL);
    html_leaf(h, "th", t->name, "scope", "row", NULL);
    cell(h, bytes_text(h->a, t->bytes), t->bytes);
    html_open(h, "td", "class", "b", NULL);
    svg_bar(h, t->bytes, most, own ? "own" : "left");
    html_close(h);
    cell(h, own ? "" : html_format(h, "%+.0f %%", bytes_percent(t->bytes - h->r->peak.allocated, h->r->peak.allocated)),
         t->bytes);
    html_leaf(h, "td", t->formula, NULL);
    html_leaf(h, "td", t->leaves_out, NULL);
    html_close(h);
}

static void
section_thumbs(struct html *h)
{
    static const struct column head[] = {{"Estimate", NULL, NULL}, {"Bytes", "r", NULL}, {"", "b", NULL},
                                         {"Off by", "r", NULL},    {"How", NULL, NULL},  {"Leaves out", NULL, NULL}};
    const struct result *r = h->r;
    if (r->nthumbs == 0)
        return;
    struct thumb own = {"memlint", "the step, operator by operator", "what is listed under assumptions",
                        r->peak.allocated};
    int64_t most = own.bytes;
    for (int i = 0; i < r->nthumbs; i++)
        most = r->thumbs[i].bytes > most ? r->thumbs[i].bytes : most;
    section(h, "thumbs", "Rules of thumb, for comparison",
            "What people reckon by hand for the same step, and what each rule leaves out.");
    table(h, "Rules of thumb beside memlint's peak", "thumbs", NULL);
    table_head(h, head, COUNT(head));
    thumb_row(h, &own, most, true);
    for (int i = 0; i < r->nthumbs; i++)
        thumb_row(h, &r->thumbs[i], most, false);
    table_end(h);
    html_close(h);
}

static void
assumption(struct html *h, const char *what, const char *value, const char *option)
{
    html_open(h, "tr", NULL);
    html_leaf(h, "th", what, "scope", "row", NULL);
    html_leaf(h, "td", string_clip(h->a, value, 80), NULL);
    html_open(h, "td", NULL);
    html_leaf(h, "code", option, NULL);
    html_close(h);
    html_close(h);
}

/* next: per doubt the next one like it, -1 none. */
static void
doubt_row(struct html *h, int first, const int *next)
{
    const struct doubt *d = &h->r->doubts[first];
    int n = 0;
    for (int i = first; i >= 0; i = next[i])
        n++;
    html_open(h, "tr", NULL);
    html_open(h, "th", "scope", "row", NULL);
    if (n == 1)
        code(h, d->node);
    else {
        html_open(h, "details", NULL);
        html_open(h, "summary", NULL);
        code(h, d->node);
        html_printf(h, " × %d", n);
        html_close(h);
        for (int i = first; i >= 0; i = next[i])
            html_printf(h, "%s%s", string_clip(h->a, h->r->doubts[i].node, NAME), next[i] >= 0 ? ", " : "");
        html_close(h);
    }
    html_close(h);
    html_leaf(h, "td", string_clip(h->a, d->op, 80), NULL);
    html_leaf(h, "td", string_clip(h->a, d->why, 300), NULL);
    html_leaf(h, "td", string_clip(h->a, d->remedy, 200), NULL);
    html_close(h);
}

static void
section_assumptions(struct html *h)
{
    static const struct column head[] = {
        {"Node", NULL, NULL}, {"Operator", NULL, NULL}, {"Why", NULL, NULL}, {"What would settle it", NULL, NULL}};
    static const struct column taken[] = {
        {"Choice", NULL, NULL}, {"Taken", NULL, NULL}, {"Option that says otherwise", NULL, NULL}};
    const struct result *r = h->r;
    section(h, "assumptions", "Assumptions",
            "What the file can't say and was taken for this step; in brackets the option that says otherwise, and what "
            "it changes.");
    if (r->setup.nassumptions) {
        html_open(h, "ul", "class", "assume", NULL);
        for (int i = 0; i < r->setup.nassumptions; i++)
            html_leaf(h, "li", string_clip(h->a, emit_assumption(h->a, r, i), 600), NULL);
        html_close(h);
    }
    html_open(h, "details", "class", "twin", "id", "setup", NULL);
    html_leaf(h, "summary", "Every choice of the set-up", NULL);
    table(h, "The set-up", NULL, NULL);
    table_head(h, taken, COUNT(taken));
    for (int i = 0; i < r->setup.nchoices; i++)
        if (r->setup.choices[i].value)
            assumption(h, r->setup.choices[i].name, string_clip(h->a, r->setup.choices[i].value, 200),
                       strcmp(r->setup.choices[i].option, "--assume") == 0
                           ? html_format(h, "--assume %s=", r->setup.choices[i].name)
                           : string_clip(h->a, r->setup.choices[i].option, 40));
    if (!r->setup.device)
        assumption(h, "device", "any; kernels as on an H100", "--device");
    for (int i = 0; i < r->setup.ndims; i++)
        assumption(h, html_format(h, "Dimension %s", string_clip(h->a, r->setup.dims[i].name, 40)),
                   count_text(h->a, r->setup.dims[i].n),
                   html_format(h, "--dim %s=N", string_clip(h->a, r->setup.dims[i].name, 40)));
    table_end(h);
    html_close(h);
    html_close(h);
    if (r->ndoubts == 0)
        return;
    section(h, "doubts", "Not explained", "What depends on these is not certain.");
    table(h, "Values that are not explained", "doubts", NULL);
    table_head(h, head, COUNT(head));
    bool *told = NEWN(h->a, bool, r->ndoubts);
    struct names *seen = names_new(h->a);
    int *next = NEWN(h->a, int, r->ndoubts), *last = NEWN(h->a, int, r->ndoubts);
    for (int i = 0; i < r->ndoubts; i++) { /* what is the same but for the node is one row */
        const struct doubt *d = &r->doubts[i];
        const char *key =
            html_format(h, "%s\n%s\n%s", d->op ? d->op : "", d->why ? d->why : "", d->remedy ? d->remedy : "");
        int first = names_find(seen, key);
        next[i] = -1;
        last[i] = i;
        if (first < 0) {
            names_put(seen, key, i);
            continue;
        }
        told[i] = true;
        next[last[first]] = i;
        last[first] = i;
    }
    for (int i = 0; i < r->ndoubts; i++)
        if (!told[i])
            doubt_row(h, i, next);
    table_end(h);
    html_close(h);
}

/* ---- the baseline ------------------------------------------------------------------------------------------------ */

struct bar { /* of a waterfall */
    const char *name, *note, *location, *css;
    int64_t bytes;
};

/* From the old peak to the new one, a row for each change; small ones stand together, and all of them in the table
 * below. */
static void
waterfall(struct html *h, const char *caption, const struct bar *bars, int n)
{
    enum { ROWS = 16 };
    static const struct column head[] = {{"", NULL, NULL}, {"", "w", NULL}, {"Change", "r", NULL}, {"", NULL, NULL}};
    const struct baseline *b = h->r->baseline;
    double low = (double)b->peak, high = low, at = low;
    int64_t rest = 0;
    if (n == 0)
        return;
    int shown = n <= ROWS + 1 ? n : ROWS;
    for (int i = shown; i < n; i++)
        rest = bytes_add(rest, bars[i].bytes);
    for (int i = 0; i <= shown; i++) {
        low = at < low ? at : low;
        high = at > high ? at : high;
        at += (double)(i < shown ? bars[i].bytes : rest);
    }
    low = at < low ? at : low;
    high = at > high ? at : high;
    double pad = (high - low) / 50 + 1;
    low -= pad, high += pad, at = (double)b->peak;
    html_leaf(h, "h3", caption, NULL);
    table(h, caption, "fall", NULL);
    table_head(h, head, COUNT(head));
    for (int i = -1; i <= shown + 1; i++) {
        struct bar bar = i >= 0 && i < shown ? bars[i] : (struct bar){.css = "stays"};
        bool end = i < 0 || i > shown;
        if (i < 0)
            bar.name = "Baseline", bar.bytes = b->peak;
        else if (i == shown)
            bar.name = html_format(h, "%d smaller changes", n - shown), bar.bytes = rest;
        else if (i > shown)
            bar.name = "Now", bar.bytes = h->r->peak.allocated;
        if (i == shown && n == shown)
            continue;
        html_open(h, "tr", "class", end ? "sum" : NULL, NULL);
        html_leaf(h, "th", bar.name, "scope", "row", NULL);
        html_open(h, "td", "class", "w", NULL);
        svg_step(h, end ? low : at, end ? (double)bar.bytes : at + (double)bar.bytes, low, high, bar.css);
        html_close(h);
        html_leaf(h, "td", end ? bytes_text(h->a, bar.bytes) : emit_signed(h->a, bar.bytes), "class", "r", NULL);
        html_open(h, "td", NULL);
        html_text(h, bar.note);
        if (bar.location) {
            html_open(h, "small", NULL);
            code(h, bar.location);
            html_close(h);
        }
        html_close(h);
        html_close(h);
        at += end ? 0 : (double)bar.bytes;
    }
    table_end(h);
}

/* The table behind both. */
static void
changes_table(struct html *h, const char *caption, const struct bar *bars, int n)
{
    static const struct column head[] = {
        {"What", NULL, "s"}, {"MiB at the peak", "r", "n"}, {"Change", NULL, "s"}, {"Line", NULL, "s"}};
    if (n == 0)
        return;
    html_open(h, "details", "class", "twin", NULL);
    html_leaf(h, "summary", html_format(h, "%s: all %s", caption, count_text(h->a, n)), NULL);
    table(h, caption, "sort", NULL);
    table_head(h, head, COUNT(head));
    for (int i = 0; i < n; i++) {
        html_open(h, "tr", NULL);
        html_leaf(h, "th", bars[i].name, "scope", "row", NULL);
        html_leaf(h, "td", html_format(h, "%+.2f", (double)bars[i].bytes / (1 << 20)), "data-v",
                  html_format(h, "%lld", (long long)bars[i].bytes), NULL);
        html_leaf(h, "td", bars[i].note, NULL);
        html_open(h, "td", NULL);
        code(h, bars[i].location);
        html_close(h);
        html_close(h);
    }
    table_end(h);
    html_close(h);
}

static void
section_baseline(struct html *h)
{
    const struct baseline *b = h->r->baseline;
    if (!b)
        return;
    section(h, "baseline", "Against the baseline",
            html_format(h, "%s: %s. The bars begin at the baseline's peak; their scale does not begin at zero.",
                        string_clip(h->a, b->file, 200), emit_increase(h->a, h->r)));
    for (int i = 0; i < b->ndiffers; i++)
        html_leaf(h, "p", html_format(h, "The baseline has another set-up: %s", string_clip(h->a, b->differs[i], 200)),
                  "class", "notice", NULL);
    if (b->curve && b->curve->n > 1 && h->n > 1) {
        html_leaf(h, "h3", "Both steps over each other", NULL);
        html_open(h, "figure", NULL);
        html_open(h, "p", "class", "key", NULL);
        html_leaf(h, "span", "", "class", "sw s-now", NULL);
        html_printf(h, "now: peak %s", bytes_text(h->a, h->r->peak.allocated));
        html_leaf(h, "span", "", "class", "sw s-old", NULL);
        html_printf(h, "baseline: peak %s", bytes_text(h->a, b->peak));
        html_close(h);
        svg_both(h);
        html_close(h);
    }
    int n;
    const struct change_group *g = emit_changes(h->a, b, &n);
    struct bar *bars = NEWN(h->a, struct bar, n + 1), *grown = NEWN(h->a, struct bar, b->ngrown + 1);
    for (int i = 0; i < n; i++)
        bars[i] = (struct bar){string_clip(h->a, g[i].name, NAME), string_clip(h->a, g[i].change, 300), g[i].location,
                               g[i].increase_bytes < 0 ? "less" : "more", g[i].increase_bytes};
    for (int i = 0; i < b->ngrown; i++) {
        const struct tensor_growth *t = &b->grown[i];
        grown[i] =
            (struct bar){string_op(h->a, t->name, NAME),
                         html_format(h, "%s: %d with %s, now %d with %s", class_names[t->class], t->old_count,
                                     bytes_text(h->a, t->old_bytes), t->now_count, bytes_text(h->a, t->now_bytes)),
                         NULL, html_class(h, t->class), t->now_bytes - t->old_bytes};
    }
    waterfall(h, "By module, causes first", bars, n);
    waterfall(h, "By tensor", grown, b->ngrown);
    changes_table(h, "Changes by module", bars, n);
    changes_table(h, "Changes by tensor", grown, b->ngrown);
    html_leaf(h, "p", n ? "Nothing else changed." : "Nothing changed.", "class", "ss", NULL);
    html_close(h);
}

/* docs/GLOSSARY.md, folded. */
static void
section_words(struct html *h)
{
    section(h, "words", "Words", NULL);
    html_open(h, "details", "class", "twin", NULL);
    html_leaf(h, "summary", "What the words mean", NULL);
    html_open(h, "dl", "class", "words", NULL);
    for (int i = 0; i < COUNT(html_words); i++) {
        html_leaf(h, "dt", html_words[i].term, NULL);
        html_leaf(h, "dd", html_words[i].meaning, NULL);
    }
    html_close(h);
    html_close(h);
    html_close(h);
}

/* What pictures and tables are made of; without a script it is read as it is. */
static void
section_data(struct html *h)
{
    section(h, "numbers", "Numbers", NULL);
    html_open(h, "details", "class", "twin", NULL);
    html_leaf(h, "summary",
              "What the pictures and tables show, as JSON: each a list of columns, then of rows; in bytes", NULL);
    html_open(h, "div", "class", "sx", "role", "region", "aria-label", "The page's numbers", "tabindex", "0", NULL);
    html_open(h, "pre", "class", "rows", "id", "data", NULL);
    html_data(h);
    html_close(h);
    html_close(h);
    html_close(h);
    html_close(h);
}

static void
page_footer(struct html *h)
{
    const struct result *r = h->r;
    html_open(h, "footer", NULL);
    html_open(h, "p", NULL);
    html_printf(h, "Read from the file alone: %s nodes, opset %d", count_text(h->a, r->model.nodes), r->model.opset);
    if (r->model.producer && *r->model.producer)
        html_printf(h, ", written by %s", string_clip(h->a, r->model.producer, 80));
    html_printf(h, ". Nothing was run, and no weight was read. MiB are 1,048,576 bytes; a tensor counts as allocated, "
                   "rounded up to 512 bytes. Slack is the rest of a block that the allocator did not split: two "
                   "tensors of one shape may differ by it.");
    html_close(h);
    html_close(h);
}

bool
html_write(const struct result *r, FILE *out, bool colour, int width)
{
    (void)colour, (void)width;
    struct html h = {.a = arena_new(), .r = r, .out = out};
    h.columns = NEWN(h.a, int, r->ninstants + 1);
    h.n = emit_columns(r, COLUMNS, h.columns);
    h.digits = r->peak.allocated >= DIGITS_FROM ? 1 : 3;
    choose_overlays(&h);
    fputs("<!DOCTYPE html>\n", out);
    h.w = xml_writer(out, &h.buffer);
    if (!h.w) {
        arena_free(h.a);
        return false;
    }
    html_open(&h, "html", "lang", "en", NULL);
    page_head(&h);
    html_open(&h, "body", NULL);
    html_leaf(&h, "a", "Skip to the report", "class", "skip", "href", "#main", NULL);
    html_open(&h, "div", "class", "page", NULL);
    page_header(&h);
    page_nav(&h);
    html_open(&h, "main", "id", "main", NULL);
    section_oom(&h);
    section_peaks(&h);
    section_timeline(&h);
    section_baseline(&h);
    section_replay(&h);
    section_findings(&h);
    section_recompute(&h);
    section_alive(&h);
    section_segments(&h);
    section_layers(&h);
    section_fits(&h);
    section_ranks(&h);
    section_scale(&h);
    section_thumbs(&h);
    section_assumptions(&h);
    section_words(&h);
    section_data(&h);
    html_close(&h);
    page_footer(&h);
    html_close(&h);
    html_open(&h, "script", NULL);
    xmlTextWriterWriteRaw(h.w, XML(html_script));
    html_close(&h);
    html_close(&h);
    html_close(&h);
    bool ok = xmlTextWriterFlush(h.w) >= 0;
    xmlFreeTextWriter(h.w);
    fputc('\n', out);
    arena_free(h.a);
    return ok && !ferror(out);
}
