/* html.c - the report as one page: words and tables; the pictures are in svg.c.
 *
 * The page is written through libxml2's text writer, whose escaping is the only one: no string reaches the file by
 * another way but the style sheet and the script, which are our own and allowed by their hash. The page's policy allows
 * nothing else, so nothing leaves it. Strings of the model become text, never an attribute, a script or an id.
 *
 * Everything is in the page before any script runs: tables are tables, long tails are folded in details, pictures have
 * their numbers beside them. The script only sorts, filters, folds the tree of layers and reads the timeline's table
 * back to say what is allocated under the pointer.
 *
 * Repeated modules are folded: tensors that differ in nothing but the numbers in their names (blocks.0.fc, blocks.1.fc)
 * are one row, its members inside. A row's bytes are its members' sum, and no tensor is left out.
 */
#include "html.h"

#include "assets.h"

#include <stdlib.h>
#include <string.h>

enum { COLUMNS = 800, OPEN_ROWS = 30, NAME = 160 };

/* ---- the writer ------------------------------------------------------------------------------------------------------------ */

#define XML(s) ((const xmlChar *)(s))

static void
attributes(struct html *h, va_list ap)
{
    for (const char *name; (name = va_arg(ap, const char *));) {
        const char *value = va_arg(ap, const char *);
        if (value)
            xmlTextWriterWriteAttribute(h->w, XML(name), XML(emit_clean(h->a, value)));
    }
}

void
html_open(struct html *h, const char *name, ...)
{
    va_list ap;
    va_start(ap, name);
    xmlTextWriterStartElement(h->w, XML(name));
    attributes(h, ap);
    va_end(ap);
}

void
html_close(struct html *h)
{
    xmlTextWriterFullEndElement(h->w);
}

void
html_leaf(struct html *h, const char *name, const char *text, ...)
{
    va_list ap;
    va_start(ap, text);
    xmlTextWriterStartElement(h->w, XML(name));
    attributes(h, ap);
    va_end(ap);
    html_text(h, text);
    xmlTextWriterFullEndElement(h->w);
}

void
html_void(struct html *h, const char *name, ...)
{
    va_list ap;
    va_start(ap, name);
    xmlTextWriterStartElement(h->w, XML(name));
    attributes(h, ap);
    va_end(ap);
    xmlTextWriterEndElement(h->w);
}

void
html_text(struct html *h, const char *s)
{
    xmlTextWriterWriteString(h->w, XML(emit_clean(h->a, s)));
}

static const char *
html_vformat(struct html *h, const char *fmt, va_list ap)
{
    va_list again;
    va_copy(again, ap);
    size_t n = (size_t)vsnprintf(NULL, 0, fmt, again) + 1;
    va_end(again);
    char *s = arena_alloc(h->a, n);
    vsnprintf(s, n, fmt, ap);
    return s;
}

const char *
html_format(struct html *h, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    const char *s = html_vformat(h, fmt, ap);
    va_end(ap);
    return s;
}

void
html_printf(struct html *h, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    html_text(h, html_vformat(h, fmt, ap));
    va_end(ap);
}

/* ---- cells and sections ------------------------------------------------------------------------------------------------------- */

static const char *
grouped(struct html *h, int64_t n)
{
    char digits[32], out[48], *o = out;
    int len = snprintf(digits, sizeof(digits), "%lld", (long long)n);
    for (int i = 0; i < len; i++) {
        if (i && (len - i) % 3 == 0 && digits[i - 1] != '-')
            *o++ = ',';
        *o++ = digits[i];
    }
    *o = '\0';
    return arena_str(h->a, out);
}

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
    html_leaf(h, "td", html_format(h, "%.1f", (double)bytes / (1 << 20)), "data-b",
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

/* A place in the Python source, or a scope. */
static void
code(struct html *h, const char *s)
{
    if (s && *s)
        html_leaf(h, "code", emit_op(h->a, s, NAME), NULL);
}

/* ---- first screen ------------------------------------------------------------------------------------------------------------------ */

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
    html_printf(h, "%s: peak %s - memlint", emit_clip(h->a, r->model.file, 80), bytes_text(h->a, r->peak.allocated));
    html_close(h);
    html_open(h, "style", NULL);
    xmlTextWriterWriteRaw(h->w, XML(html_style));
    html_close(h);
    html_close(h);
}

static void
fact(struct html *h, const char *s)
{
    if (s && *s)
        html_leaf(h, "span", s, NULL);
}

static void
notice(struct html *h)
{
    const struct result *r = h->r;
    if (r->verdict == VERDICT_OK && !r->gate)
        return;
    html_open(h, "p", "class", html_format(h, "notice v-%s", verdict_names[r->verdict]), NULL);
    html_leaf(h, "strong",
              r->verdict == VERDICT_GATE_FAILED    ? "✕ Gate failed: "
              : r->verdict == VERDICT_DOES_NOT_FIT ? "✕ Does not fit: "
                                                   : "? Inconclusive: ",
              NULL);
    if (r->gate)
        html_printf(h, "%s. ", emit_clip(h->a, r->gate, 400));
    if (r->ndoubts) {
        html_printf(h, "%d %s not explained, so the peak is a lower bound: ", r->ndoubts,
                    r->ndoubts == 1 ? "value is" : "values are");
        html_leaf(h, "a", "see which", "href", "#doubts", NULL);
        html_text(h, ".");
    }
    html_close(h);
}

static const char *const holds[CLASS_COUNT] = {
    [CLASS_PARAMETERS] = "Parameters hold",       [CLASS_BUFFERS] = "Buffers hold",
    [CLASS_GRADIENTS] = "Gradients hold",         [CLASS_OPTIMIZER] = "Optimizer states hold",
    [CLASS_SAVED] = "Saved activations hold",     [CLASS_TEMPORARIES] = "Temporaries hold",
    [CLASS_WORKSPACE] = "Kernel workspaces hold", [CLASS_INPUTS] = "Inputs hold",
    [CLASS_OUTPUTS] = "The model's outputs hold",
};

/* Which class and how many tensors make the most of it. */
static void
summary(struct html *h)
{
    const struct result *r = h->r;
    int c = 0, half = 0;
    for (int i = 1; i < CLASS_COUNT; i++)
        c = r->class_bytes[i] > r->class_bytes[c] ? i : c;
    for (int64_t sum = 0; half < r->nlive && sum <= r->peak.allocated / 2; half++)
        sum = emit_add(sum, r->live[half].bytes);
    if (r->peak.allocated <= 0 || half == 0)
        return;
    html_open(h, "p", "class", "sub", NULL);
    html_printf(h, "%s %.0f %% of it; %d of the %d tensors alive then hold%s more than half.", holds[c],
                emit_percent(r->class_bytes[c], r->peak.allocated), half, r->nlive, half == 1 ? "s" : "");
    if (r->peak.location) {
        html_text(h, " The operator stands at ");
        code(h, r->peak.location);
        html_text(h, ".");
    }
    html_close(h);
}

static void
page_header(struct html *h)
{
    const struct result *r = h->r;
    html_open(h, "header", NULL);
    html_open(h, "p", "class", "run", NULL);
    html_leaf(h, "b", "memlint", NULL);
    fact(h, emit_clip(h->a, r->model.file, 120));
    fact(h, r->setup.mode);
    if (r->setup.batch >= 0)
        fact(h, html_format(h, "batch %lld", (long long)r->setup.batch));
    for (int i = 0; i < r->setup.ndims; i++)
        if (strcmp(r->setup.dims[i].name, "batch") != 0)
            fact(h,
                 html_format(h, "%s %lld", emit_clip(h->a, r->setup.dims[i].name, 40), (long long)r->setup.dims[i].n));
    fact(h, r->setup.optimizer);
    fact(h, r->setup.precision);
    fact(h, r->setup.loss ? html_format(h, "loss %s", r->setup.loss) : NULL);
    fact(h, r->setup.loop ? html_format(h, "loop %s", r->setup.loop) : NULL);
    fact(h, html_format(h, "%s parameters", grouped(h, r->model.parameters)));
    html_close(h);
    const char *verdict = emit_verdict(h->a, r), *size = bytes_text(h->a, r->peak.allocated);
    html_open(h, "h1", NULL);
    html_text(h, "Peak ");
    html_leaf(h, "em", size, NULL);
    html_text(h, verdict + strlen("Peak ") + strlen(size));
    html_close(h);
    notice(h);
    summary(h);
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
        {"baseline", "Baseline", r->baseline != NULL}, {"timeline", "Timeline", h->n > 1},
        {"findings", "Findings", r->nfindings > 0},    {"recompute", "Checkpoints", r->recompute.nfront > 0},
        {"alive", "Alive at the peak", r->nlive > 0},  {"layers", "Layers", r->nlayers > 0},
        {"fits", "What fits", r->nfits > 0},           {"thumbs", "Rules of thumb", r->nthumbs > 0},
        {"assumptions", "Assumptions", true},          {"doubts", "Not explained", r->ndoubts > 0},
    };
    html_open(h, "nav", "aria-label", "Sections", NULL);
    for (int i = 0; i < COUNT(links); i++)
        if (links[i].there)
            html_leaf(h, "a", links[i].title, "href", html_format(h, "#%s", links[i].id), NULL);
    html_close(h);
}

static void
peak_figure(struct html *h, const char *name, int64_t bytes, const char *what)
{
    html_open(h, "div", NULL);
    html_leaf(h, "dt", name, NULL);
    html_leaf(h, "dd", bytes_text(h->a, bytes), "class", bytes < 0 ? "na" : "n", NULL);
    html_leaf(h, "dd", what, "class", "w", NULL);
    html_close(h);
}

static void
section_peaks(struct html *h)
{
    const struct result *r = h->r;
    html_open(h, "section", "class", "peaks", "aria-label", "Three peaks", NULL);
    html_open(h, "dl", NULL);
    peak_figure(h, "Allocated", r->peak.allocated, "live tensors");
    peak_figure(h, "Reserved", r->peak.reserved, "held by the allocator");
    peak_figure(h, "Device", r->peak.device, "with the CUDA context, estimated");
    html_close(h);
    html_open(h, "figure", NULL);
    svg_classes(h);
    html_close(h);
    html_close(h);
}

/* ---- timeline -------------------------------------------------------------------------------------------------------------------------- */

/* What the script changes under the pointer; as written, it describes the peak. */
static void
readout(struct html *h)
{
    const struct result *r = h->r;
    html_open(h, "div", "class", "read", "id", "rd", NULL);
    html_leaf(h, "h3", "At the peak", "id", "rd-h", NULL);
    html_leaf(h, "p", bytes_text(h->a, r->peak.allocated), "class", "total", "id", "rd-t", NULL);
    html_open(h, "p", "class", "where", "id", "rd-w", NULL);
    html_printf(h, "%s, %s", phase_names[r->peak.phase], emit_op(h->a, r->peak.op, 80));
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
        html_leaf(h, "td", html_format(h, "%.1f %%", emit_percent(r->class_bytes[c], r->peak.allocated)), "data-p",
                  class_names[c], NULL);
        html_close(h);
    }
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
    for (int i = 0, end, rows = 0; i < r->ninstants && rows < 200; i = end, rows++) {
        int64_t highest = 0;
        for (end = i; end < r->ninstants && r->instants[end].phase == r->instants[i].phase; end++)
            highest = emit_total(&r->instants[end]) > highest ? emit_total(&r->instants[end]) : highest;
        html_open(h, "tr", NULL);
        html_leaf(h, "th", phase_names[r->instants[i].phase], "scope", "row", NULL);
        cell(h, grouped(h, end - i), end - i);
        cell_mib(h, highest);
        cell_mib(h, emit_total(&r->instants[end - 1]));
        html_close(h);
    }
    table_end(h);
}

/* The numbers behind the picture, which the script reads too. */
static void
timeline_table(struct html *h)
{
    const struct result *r = h->r;
    struct column head[CLASS_COUNT + 4] = {
        {"Instant", "r", NULL}, {"Phase", NULL, NULL}, {"Operator", NULL, NULL}, {"Total", "r", NULL}};
    enum class show[CLASS_COUNT];
    int n = 0;
    for (int i = 0; i < CLASS_COUNT; i++) {
        bool ever = false;
        for (int k = 0; k < h->n && !ever; k++)
            ever = r->instants[h->columns[k]].class_bytes[html_stack[i]] != 0;
        if (!ever)
            continue;
        head[n + 4] = (struct column){class_names[html_stack[i]], "r", NULL};
        show[n++] = html_stack[i];
    }
    html_open(h, "details", "class", "twin", NULL);
    html_leaf(h, "summary", "The timeline as a table, MiB", NULL);
    timeline_phases(h);
    table(h, "The timeline's columns, in MiB", NULL, "tlt");
    table_head(h, head, n + 4);
    for (int k = 0; k < h->n; k++) {
        const struct instant *at = &r->instants[h->columns[k]];
        html_open(h, "tr", "class", h->columns[k] == r->peak.instant ? "peak" : NULL, NULL);
        html_leaf(h, "td", html_format(h, "%d", h->columns[k] + 1), NULL);
        html_leaf(h, "td", phase_names[at->phase], NULL);
        html_leaf(h, "td", emit_op(h->a, at->op, 60), NULL);
        html_leaf(h, "td", html_format(h, "%.2f", (double)emit_total(at) / (1 << 20)), NULL);
        for (int i = 0; i < n; i++)
            html_leaf(h, "td",
                      at->class_bytes[show[i]] ? html_format(h, "%.2f", (double)at->class_bytes[show[i]] / (1 << 20))
                                               : "0",
                      NULL);
        html_close(h);
    }
    table_end(h);
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
            ? html_format(h, "Allocated bytes over the %s instants of one step, in order of execution, not in time.",
                          grouped(h, h->n))
            : html_format(
                  h,
                  "Allocated bytes over one step, in order of execution, not in time: %s instants in %d columns, "
                  "each the largest of those it stands for.",
                  grouped(h, r->ninstants), h->n);
    section(h, "timeline", "Memory over the step", below);
    html_open(h, "div", "class", "tl", NULL);
    html_open(h, "figure", NULL);
    svg_timeline(h);
    html_open(h, "p", "class", "scrub", "id", "scrub", "hidden", "hidden", NULL);
    html_leaf(h, "label", "Instant", "for", "at", NULL);
    html_void(h, "input", "type", "range", "id", "at", "min", "0", "max", html_format(h, "%d", h->n - 1), "value", "0",
              NULL);
    html_leaf(h, "button", "Peak", "type", "button", "id", "topeak", NULL);
    html_close(h);
    html_close(h);
    readout(h);
    html_close(h);
    timeline_table(h);
    html_close(h);
}

/* ---- findings ------------------------------------------------------------------------------------------------------------------------------ */

/* Python to paste. */
static void
html_lines(struct html *h, const char *text)
{
    html_open(h, "pre", NULL);
    for (const char *line = text; *line; line += strcspn(line, "\n") + (line[strcspn(line, "\n")] != 0)) {
        html_leaf(h, "span", arena_strn(h->a, line, strcspn(line, "\n")),
                  NULL); /* no line begins with a model's string */
        xmlTextWriterWriteString(h->w, XML("\n"));
    }
    html_close(h);
}

static void
section_findings(struct html *h)
{
    const struct result *r = h->r;
    if (r->nfindings == 0)
        return;
    section(h, "findings", "What to change",
            "The most useful first; every effect is that of simulating the changed step.");
    html_open(h, "ol", "class", "find", NULL);
    for (int i = 0; i < r->nfindings; i++) {
        const struct finding *f = &r->findings[i];
        html_open(h, "li", NULL);
        html_leaf(h, "h3", emit_clip(h->a, f->message, 400), NULL);
        html_open(h, "p", "class", "effect", NULL);
        if (f->saves_bytes > 0) {
            html_leaf(h, "b", html_format(h, "saves %s", bytes_text(h->a, f->saves_bytes)), NULL);
            html_printf(h, " peak %s → %s", bytes_text(h->a, r->peak.allocated), bytes_text(h->a, f->peak_after));
            if (f->extra_flops_percent > 0.05 || f->extra_flops_percent < -0.05)
                html_printf(h, ", FLOPs %+.1f %%", f->extra_flops_percent);
        }
        html_close(h);
        if (f->saves_bytes > 0)
            svg_bar(h, f->peak_after, r->peak.allocated, "left");
        html_open(h, "p", "class", "meta", NULL);
        html_printf(h, "%s, %s, rule %s ", f->severity, f->certainty, f->rule);
        code(h, f->location);
        html_close(h);
        if (f->how)
            html_lines(h, f->how);
        html_close(h);
    }
    html_close(h);
    html_close(h);
}

/* ---- out of memory ------------------------------------------------------------------------------------------------------------------------ */

static void
section_oom(struct html *h)
{
    static const struct column head[] = {{"Tensor", NULL, NULL},
                                         {"Bytes", "r", NULL},
                                         {"Born in", NULL, NULL},
                                         {"By", NULL, NULL},
                                         {"Where", NULL, NULL}};
    const struct oom *o = h->r->oom;
    if (!o)
        return;
    section(h, "oom", "Out of memory",
            html_format(h, "PyTorch tried to allocate %s: %s", o->tried < 0 ? "?" : bytes_text(h->a, o->tried),
                        o->judgement));
    if (o->nmatches) {
        table(h, "Tensors of that size", "oom", NULL);
        table_head(h, head, COUNT(head));
    }
    for (int i = 0; i < o->nmatches; i++) {
        const struct oom_match *t = &o->matches[i];
        html_open(h, "tr", "class", i == o->likely ? "own" : "", NULL);
        html_leaf(h, "td", emit_op(h->a, t->name, 120), NULL);
        cell(h, bytes_text(h->a, t->bytes), t->bytes);
        html_leaf(h, "td", phase_names[t->phase], NULL);
        html_leaf(h, "td", emit_op(h->a, t->op, 60), NULL);
        html_leaf(h, "td", emit_clip(h->a, t->location, 80), NULL);
        html_close(h);
    }
    if (o->nmatches)
        table_end(h);
    if (o->navoided) {
        html_open(h, "p", NULL);
        html_printf(h, "Each of these would have avoided it:");
        for (int i = 0; i < o->navoided; i++)
            html_printf(h, "%s %s", i ? "," : "", o->avoided_by[i]);
        html_close(h);
    }
    html_close(h);
}

/* ---- checkpoint plans ------------------------------------------------------------------------------------------------------------------------ */

static void
section_recompute(struct html *h)
{
    static const struct column head[] = {{"Peak", "r", NULL},
                                         {"Of the whole", "b", NULL},
                                         {"Extra FLOPs", "r", NULL},
                                         {"Modules under checkpoint", NULL, NULL}};
    const struct result *r = h->r;
    if (!r->recompute.nfront)
        return;
    section(
        h, "recompute", "Checkpoint plans",
        "Which modules to put under torch.utils.checkpoint: every plan was simulated, none here is beaten by another.");
    html_open(h, "figure", NULL);
    svg_front(h);
    html_close(h);
    table(h, "Checkpoint plans", "plans", NULL);
    table_head(h, head, COUNT(head));
    for (int i = 0; i < r->recompute.nfront; i++) {
        const struct plan *p = &r->recompute.front[i];
        html_open(h, "tr", "class", i == r->recompute.chosen ? "own" : "", NULL);
        cell(h, bytes_text(h->a, p->peak), p->peak);
        html_open(h, "td", "class", "b", NULL);
        svg_bar(h, p->peak, r->recompute.front[0].peak, "left");
        html_close(h);
        html_leaf(h, "td", html_format(h, "%.1f %%", p->extra_flops_percent), "class", "r", NULL);
        html_leaf(h, "td", emit_modules(h->a, p), NULL);
        html_close(h);
    }
    table_end(h);
    if (r->recompute.python)
        html_lines(h, r->recompute.python);
    html_close(h);
}

/* ---- tensors alive at the peak -------------------------------------------------------------------------------------------------------------- */

struct group {
    const char *name; /* with * where the members' numbers differ */
    const struct live_tensor *first;
    int64_t bytes;
    int count, *member, cap;
};

/* A name with its numbers replaced, and without one at its end: what members of a group share. */
static const char *
pattern(struct arena *a, const char *s)
{
    char *out = arena_alloc(a, strlen(s) + 1), *o = out;
    while (*s) {
        size_t digits = strspn(s + (*s == '_'), "0123456789");
        if (*s == '_' && digits && s[1 + digits] == '\0')
            break;
        if (*s != '_' && digits) {
            *o++ = '*';
            s += digits;
        } else {
            *o++ = *s++;
        }
    }
    return out;
}

static int
by_bytes(const void *x, const void *y)
{
    const struct group *a = x, *b = y;
    return a->bytes != b->bytes ? (a->bytes < b->bytes) - (a->bytes > b->bytes) : a->member[0] - b->member[0];
}

static struct group *
fold(struct html *h, int *n)
{
    const struct result *r = h->r;
    struct names *ids = names_new(h->a);
    struct group *groups = NULL;
    int cap = 0;
    *n = 0;
    for (int i = 0; i < r->nlive; i++) {
        const struct live_tensor *t = &r->live[i];
        const char *name = pattern(h->a, t->name ? t->name : "");
        const char *key =
            html_format(h, "%d\n%s\n%s\n%s\n%s\n%s", (int)t->class, name, emit_shape(h->a, t->rank, t->shape), t->dtype,
                        t->born ? t->born : "", t->needed_by ? t->needed_by : "");
        int id = names_find(ids, key);
        if (id < 0) {
            names_put(ids, key, id = *n);
            *PUSH(h->a, groups, *n, cap) = (struct group){.name = name, .first = t};
        }
        struct group *g = &groups[id];
        g->bytes = emit_add(g->bytes, t->bytes); /* NOLINT(clang-analyzer-core.NullDereference): PUSH made it */
        *PUSH(h->a, g->member, g->count, g->cap) = i;
    }
    if (*n)
        qsort(groups, (size_t)*n, sizeof(*groups), by_bytes);
    return groups;
}

static const char *
last_part(const char *s, char by)
{
    const char *at = s ? strrchr(s, by) : NULL;
    return at ? at + 1 : s;
}

/* most: the largest row, for the bar; 0 draws none. */
static void
tensor_row(struct html *h, const struct group *g, int64_t most)
{
    const struct live_tensor *t = g->first;
    html_open(h, "tr", NULL);
    html_open(h, "th", "scope", "row", NULL);
    if (g->count == 1) {
        code(h, t->name);
    } else {
        html_open(h, "details", NULL);
        html_open(h, "summary", NULL);
        code(h, g->name);
        html_printf(h, " × %d", g->count);
        html_close(h);
        html_open(h, "ul", NULL);
        for (int i = 0; i < g->count; i++) {
            const struct live_tensor *m = &h->r->live[g->member[i]];
            html_open(h, "li", NULL);
            html_text(h, emit_op(h->a, m->name, NAME));
            if (m->location && *m->location)
                html_printf(h, ", %s", emit_clip(h->a, m->location, 80));
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
    html_printf(h, "%s %s", emit_clip(h->a, t->dtype, 20), emit_shape(h->a, t->rank, t->shape));
    html_close(h);
    html_open(h, "td", NULL);
    html_text(h, emit_op(h->a, t->needed_by, NAME));
    if (t->born)
        html_leaf(h, "small", html_format(h, "since %s", emit_op(h->a, t->born, NAME)), NULL);
    html_close(h);
    html_open(h, "td", NULL);
    if (g->count == 1 && t->location)
        html_leaf(h, "code", emit_clip(h->a, last_part(t->location, '/'), NAME), "title",
                  emit_clip(h->a, t->location, NAME), NULL);
    html_close(h);
    html_close(h);
}

static void
tensor_table(struct html *h, const struct group *g, int from, int to, const char *caption)
{
    static const struct column head[] = {{"Tensor", NULL, "s"},
                                         {"MiB", "r", "n"},
                                         {"", "b", NULL},
                                         {"Class", NULL, "s"},
                                         {"Type and shape", NULL, "s"},
                                         {"Why it is alive", NULL, "s"},
                                         {"Line", NULL, "s"}};
    table(h, caption, "live", NULL);
    table_head(h, head, COUNT(head));
    for (int i = from; i < to; i++)
        tensor_row(h, &g[i], from == 0 ? g[0].bytes : 0);
    table_end(h);
}

static void
section_alive(struct html *h)
{
    const struct result *r = h->r;
    if (r->nlive == 0)
        return;
    int n;
    struct group *g = fold(h, &n);
    int open = n < OPEN_ROWS + 10 ? n : OPEN_ROWS;
    int64_t rest = 0;
    for (int i = open; i < n; i++)
        rest = emit_add(rest, g[i].bytes);
    section(h, "alive", "What is alive at the peak",
            html_format(
                h, "%s tensors, %s. Area is bytes, colour is class; tensors that differ only in a number are one row.",
                grouped(h, r->nlive), bytes_text(h->a, r->peak.allocated)));
    svg_treemap(h);
    html_open(h, "p", "class", "tools", "id", "tools", "hidden", "hidden", NULL);
    html_leaf(h, "label", "Filter", "for", "q", NULL);
    html_void(h, "input", "type", "search", "id", "q", "placeholder", "name, class, shape, line", NULL);
    html_leaf(h, "span", "", "id", "qn", "role", "status", NULL);
    html_close(h);
    tensor_table(h, g, 0, open, "Tensors alive at the peak");
    if (open < n) {
        html_open(h, "details", "class", "twin", "id", "tail", NULL);
        html_leaf(h, "summary",
                  html_format(h, "%s smaller rows, %s together", grouped(h, n - open), bytes_text(h->a, rest)), NULL);
        tensor_table(h, g, open, n, "Smaller tensors alive at the peak");
        html_close(h);
    }
    html_close(h);
}

/* ---- layers, devices, rules of thumb --------------------------------------------------------------------------------------------------------- */

static void
section_layers(struct html *h)
{
    static const struct column head[] = {
        {"Module", NULL, NULL},    {"Type", NULL, NULL}, {"Parameters", "r", NULL},   {"Weights, MiB", "r", NULL},
        {"Saved, MiB", "r", NULL}, {"", "b", NULL},      {"Outputs, MiB", "r", NULL}, {"Forward GFLOP", "r", NULL}};
    const struct result *r = h->r;
    int64_t most = 1;
    if (r->nlayers == 0)
        return;
    for (int i = 0; i < r->nlayers; i++)
        most = r->layers[i].saved_bytes > most ? r->layers[i].saved_bytes : most;
    section(h, "layers", "Layers",
            "Each line counts the module with all below it. Saved is what autograd keeps of its forward pass for the "
            "backward pass.");
    table(h, "Modules of the model", "layers", "lay");
    table_head(h, head, COUNT(head));
    for (int i = 0; i < r->nlayers; i++) {
        const struct layer *l = &r->layers[i];
        const char *path = l->path && *l->path ? l->path : "(model)";
        html_open(h, "tr", "data-d", html_format(h, "%d", l->depth), NULL);
        html_open(h, "th", "scope", "row", "class", html_format(h, "d%d", l->depth > 12 ? 12 : l->depth), NULL);
        html_leaf(h, "code", emit_clip(h->a, l->depth > 1 ? last_part(path, '.') : path, NAME), NULL);
        html_close(h);
        html_leaf(h, "td", emit_clip(h->a, last_part(l->type, '.'), 60), NULL);
        cell(h, grouped(h, l->parameters), l->parameters);
        cell_mib(h, l->parameter_bytes);
        cell_mib(h, l->saved_bytes);
        html_open(h, "td", "class", "b", NULL);
        svg_bar(h, l->saved_bytes, most, "c-saved");
        html_close(h);
        cell_mib(h, l->output_bytes);
        cell(h, html_format(h, "%.2f", (double)l->flops / 1e9), l->flops);
        html_close(h);
    }
    table_end(h);
    html_close(h);
}

static int
by_capacity(const void *x, const void *y)
{
    const struct fit *a = *(const struct fit *const *)x, *b = *(const struct fit *const *)y;
    return a->capacity != b->capacity ? (a->capacity > b->capacity) - (a->capacity < b->capacity) : (a > b) - (a < b);
}

static void
fits_table(struct html *h, const struct fit **fits, int n, bool batches, const char *caption)
{
    static const struct column head[] = {{"Device", NULL, NULL},          {"Capacity", "r", NULL},
                                         {"Device use in it", "b", NULL}, {"Share", "r", NULL},
                                         {"Verdict", NULL, NULL},         {"Largest batch", "r", NULL}};
    table(h, caption, "fits", NULL);
    table_head(h, head, COUNT(head) - !batches);
    for (int i = 0; i < n; i++) {
        const struct fit *f = fits[i];
        bool fit = strcmp(f->verdict, "fits") == 0, tight = strcmp(f->verdict, "tight") == 0;
        html_open(h, "tr", NULL);
        html_leaf(h, "th", emit_clip(h->a, f->device, 60), "scope", "row", NULL);
        cell(h, bytes_text(h->a, f->capacity), f->capacity);
        html_open(h, "td", "class", "b", NULL);
        svg_bar(h, f->need, f->capacity, "left");
        html_close(h);
        cell(h, html_format(h, "%.0f %%", emit_percent(f->need, f->capacity)), f->need);
        html_leaf(h, "td",
                  html_format(h, "%s %s",
                              fit     ? "✓"
                              : tight ? "!"
                                      : "✕",
                              f->verdict),
                  "class",
                  fit     ? "good"
                  : tight ? "warn"
                          : "bad",
                  NULL);
        if (batches)
            html_leaf(h, "td", f->largest_batch < 0 ? "not computed" : grouped(h, f->largest_batch), "class", "r",
                      NULL);
        html_close(h);
    }
    table_end(h);
}

/* From small to large; where everything fits, the larger ones are folded. */
static void
section_fits(struct html *h)
{
    enum { FITTING = 6 };
    const struct result *r = h->r;
    const struct fit **fits = NEWN(h->a, const struct fit *, r->nfits + 1);
    bool batches = false;
    int open = 0;
    if (r->nfits == 0)
        return;
    for (int i = 0; i < r->nfits; i++) {
        fits[i] = &r->fits[i];
        batches |= fits[i]->largest_batch >= 0;
    }
    qsort(fits, (size_t)r->nfits, sizeof(*fits), by_capacity);
    for (int i = 0; i < r->nfits; i++)
        if (strcmp(fits[i]->verdict, "fits") != 0)
            open = i + 1;
    open = open + FITTING < r->nfits ? open + FITTING : r->nfits;
    section(h, "fits", "What fits", "From small to large.");
    fits_table(h, fits, open, batches, "Devices and whether the step fits");
    if (open < r->nfits) {
        html_open(h, "details", "class", "twin", NULL);
        html_leaf(h, "summary", html_format(h, "%d larger devices, which it fits too", r->nfits - open), NULL);
        fits_table(h, fits + open, r->nfits - open, batches, "Larger devices");
        html_close(h);
    }
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
    cell(h, own ? "" : html_format(h, "%+.0f %%", emit_percent(t->bytes - h->r->peak.allocated, h->r->peak.allocated)),
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
section_assumptions(struct html *h)
{
    static const struct column head[] = {
        {"Node", NULL, NULL}, {"Operator", NULL, NULL}, {"Why", NULL, NULL}, {"What would settle it", NULL, NULL}};
    const struct result *r = h->r;
    section(h, "assumptions", "Assumptions",
            r->setup.nassumptions ? "What the file can't say, and what was taken instead." : "None was needed.");
    if (r->setup.nassumptions) {
        html_open(h, "ul", "class", "assume", NULL);
        for (int i = 0; i < r->setup.nassumptions; i++)
            html_leaf(h, "li", emit_clip(h->a, r->setup.assumptions[i], 600), NULL);
        html_close(h);
    }
    html_close(h);
    if (r->ndoubts == 0)
        return;
    section(h, "doubts", "Not explained", "These values have no known size, so the peak is a lower bound.");
    table(h, "Values that are not explained", "doubts", NULL);
    table_head(h, head, COUNT(head));
    for (int i = 0; i < r->ndoubts; i++) {
        html_open(h, "tr", NULL);
        html_open(h, "th", "scope", "row", NULL);
        code(h, r->doubts[i].node);
        html_close(h);
        html_leaf(h, "td", emit_clip(h->a, r->doubts[i].op, 80), NULL);
        html_leaf(h, "td", emit_clip(h->a, r->doubts[i].why, 300), NULL);
        html_leaf(h, "td", emit_clip(h->a, r->doubts[i].remedy, 200), NULL);
        html_close(h);
    }
    table_end(h);
    html_close(h);
}

/* ---- the baseline ------------------------------------------------------------------------------------------------------------------ */

static void
section_baseline(struct html *h)
{
    enum { ROWS = 500 };
    static const struct column head[] = {{"Layer", NULL, "s"},
                                         {"MiB at the peak", "r", "n"},
                                         {"", "b", NULL},
                                         {"Change", NULL, "s"},
                                         {"Line", NULL, "s"}};
    const struct baseline *b = h->r->baseline;
    int64_t most = 1;
    if (!b)
        return;
    section(h, "baseline", "Against the baseline",
            html_format(h, "%s: %s", emit_clip(h->a, b->file, 200), emit_increase(h->a, h->r)));
    for (int i = 0; i < b->ndiffers; i++)
        html_leaf(h, "p", html_format(h, "The baseline has another set-up: %s", emit_clip(h->a, b->differs[i], 200)),
                  "class", "notice", NULL);
    int n;
    const struct change_group *g = emit_changes(h->a, b, &n);
    for (int i = 0; i < n; i++)
        most = llabs(g[i].increase_bytes) > most ? llabs(g[i].increase_bytes) : most;
    if (n)
        table(h, "What changed against the baseline, causes first", "fits", NULL);
    if (n)
        table_head(h, head, COUNT(head));
    for (int i = 0; i < n && i < ROWS; i++, g++) {
        html_open(h, "tr", NULL);
        html_open(h, "th", "scope", "row", NULL);
        code(h, g->name);
        html_close(h);
        html_leaf(h, "td", html_format(h, "%+.1f", (double)g->increase_bytes / (1 << 20)), "data-v",
                  html_format(h, "%lld", (long long)g->increase_bytes), NULL);
        html_open(h, "td", "class", "b", NULL);
        svg_bar(h, llabs(g->increase_bytes), most, g->increase_bytes < 0 ? "c-parameters" : "c-temporaries");
        html_close(h);
        html_leaf(h, "td", emit_clip(h->a, g->change, 300), NULL);
        html_open(h, "td", NULL);
        code(h, g->location);
        html_close(h);
        html_close(h);
    }
    if (n)
        table_end(h);
    html_leaf(h, "p",
              n > ROWS ? html_format(h, "%d more changes.", n - ROWS)
              : n      ? "Nothing else changed."
                       : "Nothing changed.",
              "class", "ss", NULL);
    html_close(h);
}

static void
page_footer(struct html *h)
{
    const struct result *r = h->r;
    html_open(h, "footer", NULL);
    html_open(h, "p", NULL);
    html_printf(h, "Read from the file alone: %s nodes, opset %d", grouped(h, r->model.nodes), r->model.opset);
    if (r->model.producer && *r->model.producer)
        html_printf(h, ", written by %s", emit_clip(h->a, r->model.producer, 80));
    html_printf(h, ". Nothing was run, and no weight was read. MiB are 1,048,576 bytes; a tensor counts as allocated, "
                   "rounded up to 512 bytes.");
    html_close(h);
    html_close(h);
}

bool
html_write(const struct result *r, FILE *out, bool colour, int width)
{
    (void)colour, (void)width;
    struct html h = {.a = arena_new(), .r = r};
    h.columns = NEWN(h.a, int, r->ninstants + 1);
    h.n = emit_columns(r, COLUMNS, h.columns);
    fputs("<!DOCTYPE html>\n", out);
    xmlOutputBufferPtr buffer = xmlOutputBufferCreateFile(out, NULL);
    h.w = buffer ? xmlNewTextWriter(buffer) : NULL;
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
    section_peaks(&h);
    section_baseline(&h);
    section_timeline(&h);
    section_oom(&h);
    section_findings(&h);
    section_recompute(&h);
    section_alive(&h);
    section_layers(&h);
    section_fits(&h);
    section_thumbs(&h);
    section_assumptions(&h);
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
