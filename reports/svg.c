/* svg.c - the pictures of the HTML page, as inline SVG that needs no script.
 *
 * A picture has no viewBox: it is as wide as its column, marks have percentages for x and pixels for y, so text keeps
 * its size from a phone to a wide screen. Only areas sit in an inner svg that is stretched. Whether a label fits is
 * known when the page is made: html.c's style sheet hides class q640 where the container is narrower than 640 pixels, and
 * fitting() chooses the step from the label's length and its mark's share of the width. No label is clipped.
 *
 * Every picture is one image to a screen reader, with a title and a description, and its numbers stand in a table.
 */
#include "html.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const enum class html_stack[CLASS_COUNT] = {CLASS_PARAMETERS, CLASS_BUFFERS,   CLASS_OPTIMIZER,
                                            CLASS_GRADIENTS,  CLASS_SAVED,     CLASS_OUTPUTS,
                                            CLASS_INPUTS,     CLASS_WORKSPACE, CLASS_TEMPORARIES};

/* Fills for readers that drop the style sheet; the style sheet has the same and those for dark pages. */
static const char *const fill[CLASS_COUNT] = {
    [CLASS_PARAMETERS] = "#1f3b5c", [CLASS_BUFFERS] = "#3d7f94", [CLASS_GRADIENTS] = "#0b7065",
    [CLASS_OPTIMIZER] = "#7093b6",  [CLASS_SAVED] = "#c2800a",   [CLASS_TEMPORARIES] = "#bf3a20",
    [CLASS_WORKSPACE] = "#7a5a3a",  [CLASS_INPUTS] = "#929288",  [CLASS_OUTPUTS] = "#8f5cad",
};

const char *
html_class(struct html *h, enum class c)
{
    return html_format(h, "c-%s", class_names[c]);
}

static const char *
pct(struct html *h, double share)
{
    return html_format(h, "%.3f%%", share * 100);
}

static const char *
px(struct html *h, double y)
{
    return html_format(h, "%.1f", y);
}

/* The container's least width, of the style sheet's steps, in which n characters fit a mark with this share of it; 0 none. */
static int
width_for(int n, double glyph, double share)
{
    static const int step[] = {320, 480, 640, 800, 960, 1120, 1280, 1600};
    for (int i = 0; i < COUNT(step); i++)
        if (n * glyph + 10 <= step[i] * share)
            return step[i];
    return 0;
}

/* The CSS class that hides a label below that width; "" when there is none. */
static const char *
fitting(struct html *h, int n, double glyph, double share)
{
    int step = width_for(n, glyph, share);
    return step == 0 ? "" : step == 320 ? "q" : html_format(h, "q q%d", step);
}

static int
characters(const char *s)
{
    int n = 0;
    for (; *s; s++)
        n += (*s & 0xc0) != 0x80;
    return n;
}

static void
describe(struct html *h, const char *id, const char *title, const char *desc)
{
    html_leaf(h, "title", title, "id", html_format(h, "%s-t", id), NULL);
    html_leaf(h, "desc", desc, "id", html_format(h, "%s-d", id), NULL);
}

void
svg_bar(struct html *h, int64_t part, int64_t whole, const char *css)
{
    double share = whole > 0 && part > 0 ? (double)part / (double)whole : 0;
    html_open(h, "svg", "class", "bar", "width", "100%", "height", "12", "aria-hidden", "true", NULL);
    html_void(h, "rect", "width", html_format(h, "%.1f%%", 100 * (share > 1 ? 1 : share)), "height", "12", "class", css,
              NULL);
    html_close(h);
}

void
svg_classes(struct html *h)
{
    const struct result *r = h->r;
    double x = 0, whole = r->peak.allocated > 0 ? (double)r->peak.allocated : 1;
    html_open(h, "svg", "class", "classes", "role", "img", "width", "100%", "height", "58", "aria-labelledby",
              "cl-t cl-d", NULL);
    describe(h, "cl", "The peak by class",
             "One bar, divided by why the bytes are there; the table of classes has the numbers.");
    for (int i = 0; i < CLASS_COUNT; i++) {
        enum class c = html_stack[i];
        double share = (double)r->class_bytes[c] / whole;
        if (share <= 0)
            continue;
        html_open(h, "rect", "x", pct(h, x), "y", "0", "width", pct(h, share), "height", "34", "fill", fill[c], "class",
                  html_format(h, "%s sep", html_class(h, c)), NULL);
        html_leaf(h, "title", html_format(h, "%s %s", class_names[c], bytes_text(h->a, r->class_bytes[c])), NULL);
        html_close(h);
        const char *label = html_format(h, "%s %.0f %%", class_names[c], share * 100);
        const char *q = fitting(h, characters(label), 7, share);
        if (*q)
            html_leaf(h, "text", label, "x", pct(h, x), "y", "51", "dx", "1", "class", html_format(h, "%s tk", q),
                      NULL);
        x += share;
    }
    html_close(h);
}

/* ---- timeline ------------------------------------------------------------------------------------------------------------ */

enum { TOP = 54, HEIGHT = 300, FOOT = 26 };

/* The area of one class above those below it: steps, written only where a value changes. */
static void
timeline_area(struct html *h, int layer, double scale)
{
    size_t cap = (size_t)h->n * 2 * 24 + 64;
    char *path = arena_alloc(h->a, cap), *o = path;
    int *low = NEWN(h->a, int, h->n), *high = NEWN(h->a, int, h->n);
    bool any = false;
    for (int i = 0; i < h->n; i++) {
        double below = 0;
        const int64_t *b = h->r->instants[h->columns[i]].class_bytes;
        for (int k = 0; k < layer; k++)
            below += (double)b[html_stack[k]];
        low[i] = 1000 - (int)lround(fmin(below * scale, 1000));
        high[i] = 1000 - (int)lround(fmin((below + (double)b[html_stack[layer]]) * scale, 1000));
        any |= low[i] != high[i];
    }
    if (!any)
        return;
    o += sprintf(o, "M0 %dV%d", low[0], high[0]);
    for (int i = 1; i < h->n; i++)
        if (high[i] != high[i - 1])
            o += sprintf(o, "H%dV%d", i, high[i]);
    o += sprintf(o, "H%dV%d", h->n, low[h->n - 1]);
    for (int i = h->n - 1; i > 0; i--)
        if (low[i] != low[i - 1])
            o += sprintf(o, "H%dV%d", i, low[i - 1]);
    sprintf(o, "H0Z");
    enum class c = html_stack[layer];
    html_open(h, "path", "d", path, "fill", fill[c], "class", html_format(h, "%s sep", html_class(h, c)), NULL);
    html_leaf(h, "title", class_names[c], NULL);
    html_close(h);
}

/* Lines at round sizes, three to six of them. */
static void
timeline_grid(struct html *h, int64_t peak)
{
    static const char *const name[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    static const double nice[] = {0.1, 0.2, 0.25, 0.5, 1, 2, 5, 10, 20, 50, 100, 200};
    int at = 0, k = 0;
    double unit = 1;
    while (at < COUNT(name) - 1 && (double)peak >= unit * 1024)
        unit *= 1024, at++;
    while (k < COUNT(nice) - 1 && unit * nice[k] * 6 < (double)peak)
        k++;
    for (int i = 0; unit * nice[k] * i <= (double)peak; i++) {
        double v = unit * nice[k] * i, at_y = TOP + HEIGHT * (1 - v / (double)peak);
        html_open(h, "line", "x1", "0", "x2", "100%", "y1", px(h, at_y), "y2", px(h, at_y), "class", i ? "g" : "g0",
                  NULL);
        html_close(h);
        if (i)
            html_leaf(h, "text", html_format(h, "%g %s", nice[k] * i, name[at]), "x", "3", "y", px(h, at_y - 5),
                      "class", "tk halo", NULL);
    }
}

static void
timeline_phases(struct html *h)
{
    const char *base = px(h, TOP + HEIGHT), *under = px(h, TOP + HEIGHT + 18);
    for (int i = 0, end; i < h->n; i = end) {
        enum phase phase = h->r->instants[h->columns[i]].phase;
        for (end = i; end < h->n && h->r->instants[h->columns[end]].phase == phase;)
            end++;
        double x = (double)i / h->n, share = (double)(end - i) / h->n;
        html_open(h, "rect", "x", pct(h, x), "y", base, "width", pct(h, share), "height", "4", "class",
                  html_format(h, "ph ph%d", (int)phase), NULL);
        html_leaf(h, "title", phase_names[phase], NULL);
        html_close(h);
        if (i) {
            html_open(h, "line", "x1", pct(h, x), "x2", pct(h, x), "y1", px(h, TOP - 8), "y2", base, "class", "phl",
                      NULL);
            html_close(h);
        }
        const char *q = fitting(h, characters(phase_names[phase]), 7.5, share);
        if (*q)
            html_leaf(h, "text", phase_names[phase], "x", pct(h, x), "dx", "1", "y", under, "class",
                      html_format(h, "%s phn", q), NULL);
    }
}

static void
timeline_peak(struct html *h)
{
    const struct result *r = h->r;
    int at = 0;
    while (at < h->n - 1 && h->columns[at] != r->peak.instant)
        at++;
    double x = (at + 0.5) / h->n;
    const char *px_x = pct(h, x), *anchor = x > 0.5 ? "end" : "start", *dx = x > 0.5 ? "-9" : "9";
    html_open(h, "line", "x1", px_x, "x2", px_x, "y1", "4", "y2", px(h, TOP), "class", "pkl", NULL);
    html_close(h);
    html_open(h, "circle", "cx", px_x, "cy", px(h, TOP), "r", "5", "class", "pkd", NULL);
    html_close(h);
    html_leaf(h, "text", html_format(h, "Peak %s", bytes_text(h->a, r->peak.allocated)), "x", px_x, "dx", dx, "y", "18",
              "text-anchor", anchor, "class", "pk1", NULL);
    const char *where =
        html_format(h, "%s%s%s", phase_names[r->peak.phase], r->peak.op ? ", " : "", emit_op(h->a, r->peak.op, 60));
    const char *q = fitting(h, characters(where), 7, (x > 0.5 ? x : 1 - x) - 0.02);
    if (*q)
        html_leaf(h, "text", where, "x", px_x, "dx", dx, "y", "36", "text-anchor", anchor, "class",
                  html_format(h, "%s pk2", q), NULL);
}

void
svg_timeline(struct html *h)
{
    const struct result *r = h->r;
    int64_t peak = r->peak.allocated > 0 ? r->peak.allocated : 1;
    html_open(h, "svg", "id", "tl", "class", "plot", "role", "img", "width", "100%", "height",
              html_format(h, "%d", TOP + HEIGHT + FOOT), "aria-labelledby", "tl-t tl-d", NULL);
    describe(h, "tl", "Allocated memory over the training step",
             html_format(h,
                         "Bytes stacked by class in order of execution, %d columns; the peak of %s is marked, in phase "
                         "%s. The numbers are "
                         "in the table below the picture.",
                         h->n, bytes_text(h->a, r->peak.allocated), phase_names[r->peak.phase]));
    html_open(h, "svg", "x", "0", "y", html_format(h, "%d", TOP), "width", "100%", "height",
              html_format(h, "%d", HEIGHT), "viewBox", html_format(h, "0 0 %d 1000", h->n), "preserveAspectRatio",
              "none", "class", "areas", NULL);
    for (int layer = 0; layer < CLASS_COUNT; layer++)
        timeline_area(h, layer, 1000.0 / (double)peak);
    html_close(h);
    timeline_grid(h, peak);
    timeline_phases(h);
    timeline_peak(h);
    html_open(h, "line", "class", "cur", "y1", px(h, TOP - 4), "y2", px(h, TOP + HEIGHT), "x1", "0", "x2", "0", NULL);
    html_close(h);
    html_close(h);
}

/* ---- treemap: squarified, classes first and the tensors of a class inside ------------------------------------------------- */

struct tile {
    double size, x, y, w, h;
    const struct live_tensor *t; /* NULL: the small ones together */
    int count;
};

/* Lays out tiles[0..n), which are sorted by size, in the box; sizes are areas. */
static void
squarify(struct tile *tiles, int n, double x, double y, double w, double h)
{
    for (int at = 0, end; at < n && w > 0 && h > 0; at = end) {
        double side = w < h ? w : h, sum = 0, worst = INFINITY;
        for (end = at; end < n; end++) { /* grow the row while its worst tile gets squarer */
            double s = sum + tiles[end].size, thick = s / side;
            double long_side = tiles[at].size / thick, short_side = tiles[end].size / thick;
            double ratio =
                fmax(fmax(long_side / thick, thick / long_side), fmax(short_side / thick, thick / short_side));
            if (ratio > worst)
                break;
            worst = ratio;
            sum = s;
        }
        double thick = sum / side, along = 0;
        for (int i = at; i < end; i++) {
            double length = tiles[i].size / thick;
            struct tile *t = &tiles[i];
            t->x = w < h ? x + along : x;
            t->y = w < h ? y : y + along;
            t->w = w < h ? length : thick;
            t->h = w < h ? thick : length;
            along += length;
        }
        if (w < h)
            y += thick, h -= thick;
        else
            x += thick, w -= thick;
    }
}

static void
treemap_tile(struct html *h, const struct tile *t, enum class c, double width)
{
    const char *name = t->t       ? emit_op(h->a, t->t->name, 60)
                       : t->count ? html_format(h, "%d small", t->count)
                                  : class_names[c];
    const char *bytes = bytes_text(h->a, (int64_t)(t->t ? (double)t->t->bytes : t->size));
    html_open(h, "rect", "x", pct(h, t->x / width), "y", px(h, t->y), "width", pct(h, t->w / width), "height",
              px(h, t->h), "fill", fill[c], "class", html_format(h, "%s sep2", html_class(h, c)), NULL);
    html_leaf(h, "title", html_format(h, "%s, %s, %s", name, bytes, class_names[c]), NULL);
    html_close(h);
    const char *const labels[] = {emit_clip(h->a, name, 28), emit_clip(h->a, name, 15), bytes};
    const char *label = bytes;
    for (int i = 0; i < COUNT(labels); i++) { /* the longest that shows in most windows */
        int step = width_for(characters(labels[i]), 7.4, t->w / width);
        if (step && step <= (width < 500 ? 320 : 960)) {
            label = labels[i];
            break;
        }
    }
    const char *q = fitting(h, characters(label), 7.4, t->w / width);
    if (t->h < 18 || !*q)
        return;
    const char *x = pct(h, t->x / width), *on = html_format(h, "%s on-%s", q, class_names[c]);
    html_leaf(h, "text", label, "x", x, "dx", "6", "y", px(h, t->y + 15), "class", on, NULL);
    const char *also = t->h >= 34 && label != bytes ? fitting(h, characters(bytes), 7.4, t->w / width) : "";
    if (*also)
        html_leaf(h, "text", bytes, "x", x, "dx", "6", "y", px(h, t->y + 31), "class",
                  html_format(h, "%s on-%s", also, class_names[c]), NULL);
}

static int
by_size(const void *x, const void *y)
{
    const struct tile *a = x, *b = y;
    return a->size != b->size ? (a->size < b->size) - (a->size > b->size) : (a->t > b->t) - (a->t < b->t);
}

static void
treemap(struct html *h, double width, double height, const char *css, const char *id)
{
    const struct result *r = h->r;
    double scale = width * height / (double)r->peak.allocated, least = (double)r->peak.allocated * 0.001;
    struct tile *box = NEWN(h->a, struct tile, CLASS_COUNT), *tiles = NEWN(h->a, struct tile, r->nlive + 1);
    enum class of[CLASS_COUNT];
    html_open(h, "svg", "class", css, "role", "img", "width", "100%", "height", px(h, height), "aria-labelledby",
              html_format(h, "%s-t %s-d", id, id), NULL);
    describe(h, id, "What is alive at the peak",
             "Every tensor's area is its bytes, its colour its class; the table below has the same.");
    for (int c = 0; c < CLASS_COUNT; c++)
        box[c] = (struct tile){.size = (double)r->class_bytes[c] * scale, .count = c};
    qsort(box, CLASS_COUNT, sizeof(*box), by_size);
    int nbox = 0;
    while (nbox < CLASS_COUNT && box[nbox].size > 0)
        nbox++;
    squarify(box, nbox, 0, 0, width, height);
    for (int b = 0; b < nbox; b++) {
        of[b] = (enum class)box[b].count;
        int n = 0;
        struct tile few = {0};
        for (int i = 0; i < r->nlive; i++) {
            const struct live_tensor *t = &r->live[i];
            if (t->class != of[b])
                continue;
            if ((double)t->bytes >= least)
                tiles[n++] = (struct tile){.size = (double)t->bytes, .t = t};
            else
                few.size += (double)t->bytes, few.count++;
        }
        double sum = few.size;
        for (int i = 0; i < n; i++)
            sum += tiles[i].size;
        few.size += fmax(0, (double)r->class_bytes[of[b]] - sum);
        sum = fmax(sum, (double)r->class_bytes[of[b]]);
        if (few.size > 0)
            tiles[n++] = few;
        qsort(tiles, (size_t)n, sizeof(*tiles), by_size);
        struct tile *area = NEWN(h->a, struct tile, n + 1);
        for (int i = 0; i < n; i++) {
            area[i] = tiles[i];
            area[i].size *= sum > 0 ? box[b].size / sum : 0;
        }
        squarify(area, n, box[b].x, box[b].y, box[b].w, box[b].h);
        for (int i = 0; i < n; i++) {
            area[i].size = tiles[i].size;
            treemap_tile(h, &area[i], of[b], width);
        }
    }
    html_close(h);
}

void
svg_treemap(struct html *h)
{
    if (h->r->peak.allocated <= 0 || h->r->nlive == 0)
        return;
    html_open(h, "figure", "class", "map", NULL);
    treemap(h, 1000, 400, "wide", "mw");
    treemap(h, 380, 520, "narrow", "mn");
    html_close(h);
}

/* ---- checkpoint plans ------------------------------------------------------------------------------------------------------ */

/* Peak against extra FLOPs; y from the lower bound up. */
void
svg_front(struct html *h)
{
    enum { HIGH = 200, LEFT = 8 };
    const struct result *r = h->r;
    const struct plan *f = r->recompute.front;
    int n = r->recompute.nfront;
    double most = f[n - 1].extra_flops_percent > 0 ? f[n - 1].extra_flops_percent : 1;
    double top = (double)f[0].peak, low = (double)r->recompute.lower_bound, span = top > low ? top - low : 1;
    html_open(h, "svg", "class", "plot", "role", "img", "width", "100%", "height", html_format(h, "%d", HIGH + 40),
              "aria-labelledby", "fr-t fr-d", NULL);
    describe(
        h, "fr", "Peak against extra work",
        html_format(h,
                    "%d plans from no checkpoints at %s to the lowest peak at %s, for up to %.1f %% more FLOPs; the "
                    "table has the numbers.",
                    n, bytes_text(h->a, f[0].peak), bytes_text(h->a, f[n - 1].peak), most));
    html_open(h, "line", "x1", "0", "x2", "100%", "y1", px(h, HIGH), "y2", px(h, HIGH), "class", "g0", NULL);
    html_close(h);
    html_leaf(h, "text", html_format(h, "lower bound %s", bytes_text(h->a, r->recompute.lower_bound)), "x", "3", "y",
              px(h, HIGH - 6), "class", "tk halo", NULL);
    for (int i = 0; i < n; i++) {
        const char *x = pct(h, 0.02 + 0.94 * f[i].extra_flops_percent / most);
        const char *y = px(h, LEFT + (HIGH - LEFT) * (1 - ((double)f[i].peak - low) / span));
        if (i)
            html_open(h, "line", "x1", pct(h, 0.02 + 0.94 * f[i - 1].extra_flops_percent / most), "x2", x, "y1",
                      px(h, LEFT + (HIGH - LEFT) * (1 - ((double)f[i - 1].peak - low) / span)), "y2", y, "class", "g0",
                      NULL);
        if (i)
            html_close(h);
        html_open(h, "circle", "cx", x, "cy", y, "r", i == r->recompute.chosen ? "7" : "5", "class", "pkd", NULL);
        html_leaf(h, "title",
                  html_format(h, "%s, %.1f %% more FLOPs, %d modules", bytes_text(h->a, f[i].peak),
                              f[i].extra_flops_percent, f[i].nmodules),
                  NULL);
        html_close(h);
    }
    html_leaf(h, "text", "0 %", "x", "2%", "y", px(h, HIGH + 18), "class", "tk", NULL);
    html_leaf(h, "text", html_format(h, "%.1f %% more FLOPs", most), "x", "98%", "y", px(h, HIGH + 18), "text-anchor",
              "end", "class", "tk", NULL);
    html_close(h);
}
