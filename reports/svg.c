/* SPDX-License-Identifier: Apache-2.0 */
/* svg.c - the pictures of the HTML page, as inline SVG that needs no script.
 *
 * A picture has no viewBox: it is as wide as its column, marks have percentages for x and pixels for y, so text keeps
 * its size from a phone to a wide screen. Only areas sit in an inner svg that is stretched. Whether a label fits is
 * known when the page is made: html.c's style sheet hides class q640 where the container is narrower than 640 pixels,
 * and fitting() chooses the step from the label's length and its mark's share of the width. No label is clipped.
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
    [CLASS_PARAMETERS] = "#1f3b5c", [CLASS_BUFFERS] = "#16101c", [CLASS_GRADIENTS] = "#0b7065",
    [CLASS_OPTIMIZER] = "#7093b6",  [CLASS_SAVED] = "#c2800a",   [CLASS_TEMPORARIES] = "#bf3a20",
    [CLASS_WORKSPACE] = "#642828",  [CLASS_INPUTS] = "#929288",  [CLASS_OUTPUTS] = "#8f5cad",
};

const char *
html_class(struct html *h, enum class c)
{
    return html_format(h, "c-%s", class_names[c]);
}

static const char *
pct(struct html *h, double share)
{
    return fixed_text(h->a, share * 100, 3, "%");
}

static const char *
px(struct html *h, double y)
{
    return fixed_text(h->a, y, 1, "");
}

/* The container's least width, of the style sheet's steps, in which n characters fit a mark with this share of it; 0
 * none. */
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

/* ---- the peak and the devices, on one scale ---------------------------------------------------------------------- */

/* The smallest capacity that holds least, of those that the verdict says; NULL none. */
static const struct fit *
device_from(const struct result *r, int64_t least, const char *verdict)
{
    const struct fit *best = NULL;
    for (int i = 0; i < r->nfits; i++)
        if (r->fits[i].capacity >= least && strcmp(r->fits[i].verdict, verdict) == 0 &&
            (!best || r->fits[i].capacity < best->capacity))
            best = &r->fits[i];
    return best;
}

static const struct fit *
device_too_small(const struct result *r)
{
    const struct fit *best = NULL;
    for (int i = 0; i < r->nfits; i++)
        if (strcmp(r->fits[i].verdict, "does not fit") == 0 && (!best || r->fits[i].capacity > best->capacity))
            best = &r->fits[i];
    return best;
}

enum { RULER = 30 /* the bar's top */, BAR = 30 };

static const char *
device_label(struct html *h, const struct fit *f)
{
    bool fits = strcmp(f->verdict, "fits") == 0, tight = strcmp(f->verdict, "tight") == 0;
    return html_format(h, "%s %s", fits ? "✓" : tight ? "!" : "✕", string_clip(h->a, f->device, 16));
}

/* Its label stands on the left of the mark or on the right, where there is room; that of beside, which may be NULL, is
 * in the same room. */
static void
ruler_device(struct html *h, const struct fit *f, double scale, bool left, double room, const struct fit *beside)
{
    double x = (double)f->capacity * scale;
    const char *label = device_label(h, f);
    const char *at = pct(h, x), *dx = left ? "-3" : "3", *anchor = left ? "end" : "start";
    const char *q = fitting(h, characters(label) + (beside ? characters(device_label(h, beside)) : 0), 7.4, room);
    if (!*q)
        return;
    html_void(h, "line", "x1", at, "x2", at, "y1", px(h, RULER - 6), "y2", px(h, RULER + BAR + 6), "stroke", "#000",
              "class", "tick", NULL);
    html_leaf(h, "text", label, "x", at, "dx", dx, "y", "15", "text-anchor", anchor, "class",
              html_format(h, "%s tk2", q), NULL);
    html_leaf(h, "text", bytes_text(h->a, f->capacity), "x", at, "dx", dx, "y", px(h, RULER + BAR + 20), "text-anchor",
              anchor, "class", html_format(h, "%s tk", q), NULL);
}

static double
ruler_part(struct html *h, double x, int64_t bytes, double scale, const char *name, const char *paint, const char *css,
           const char *on)
{
    double share = (double)bytes * scale;
    if (bytes <= 0)
        return x;
    const char *label = html_format(h, "%s %s", name, bytes_text(h->a, bytes));
    html_open(h, "rect", "x", pct(h, x), "y", px(h, RULER), "width", pct(h, share), "height", px(h, BAR), "fill", paint,
              "class", css, NULL);
    html_leaf(h, "title", label, NULL);
    html_close(h);
    const char *q = fitting(h, characters(name), 7.2, share);
    if (*q)
        html_leaf(h, "text", name, "x", pct(h, x), "dx", "6", "y", px(h, RULER + 20), "class",
                  html_format(h, "%s %s", q, on), NULL);
    return x + share;
}

/* The peak by class, then what the allocator holds and the context beside it, then the devices next to that. */
void
svg_ruler(struct html *h)
{
    const struct result *r = h->r;
    int64_t need = r->peak.device > r->peak.allocated ? r->peak.device : r->peak.allocated;
    const struct fit *tight = device_from(r, need, "tight"), *least = device_from(r, need, "fits");
    const struct fit *below = tight ? tight : device_too_small(r), *next = NULL;
    int64_t whole = need > 0 ? need + need / 50 : 1;
    if (below && below->capacity > need)
        whole = below->capacity / 100 * 101;
    if (least)
        whole = least->capacity / 100 * 101;
    if (least && (next = device_from(r, whole / 2 * 3, "fits")) && next->capacity / 3 < need)
        whole = next->capacity / 100 * 101;
    else
        next = NULL;
    bool far = least && need > 0 && least->capacity / 3 > need; /* the bar would be a sliver */
    if (far)
        whole = need + need / 4, next = NULL;
    double x = 0, scale = 1 / (double)whole;
    html_open(h, "svg", "class", "ruler", "role", "img", "width", "100%", "height", px(h, RULER + BAR + 24),
              "aria-labelledby", "cl-t cl-d", NULL);
    describe(h, "cl", "The peak by class, and devices",
             "One bar: live tensors by why they are there, then what the allocator holds beyond them, then the CUDA "
             "context; marks where devices end. The tables of classes and of devices have the numbers.");
    html_void(h, "rect", "x", "0", "y", px(h, RULER), "width", "100%", "height", px(h, BAR), "fill", "#ebe8e0", "class",
              "trough", NULL);
    for (int i = 0; i < CLASS_COUNT; i++) {
        enum class c = html_stack[i];
        x = ruler_part(h, x, r->class_bytes[c], scale, class_names[c], fill[c],
                       html_format(h, "%s sep", html_class(h, c)), html_format(h, "on-%s", class_names[c]));
    }
    x = ruler_part(h, x, r->peak.reserved - r->peak.allocated, scale, "reserved", "#c9c6bd", "held sep", "on-held");
    ruler_part(h, x, r->peak.device - r->peak.reserved, scale, "context", "#e0ddd5", "context sep", "on-held");
    double at = below ? (double)below->capacity * scale : 0, end = least ? (double)least->capacity * scale : 1;
    if (below && at > 0.12)
        ruler_device(h, below, scale, true, at, NULL);
    if (far)
        html_leaf(h, "text",
                  html_format(h, "✓ %s, %s →", string_clip(h->a, least->device, 16), bytes_text(h->a, least->capacity)),
                  "x", "100%", "y", "15", "text-anchor", "end", "class", "tk2", NULL);
    else if (least)
        ruler_device(h, least, scale, end > 0.8, end > 0.8 ? end - at : 1 - end, NULL);
    if (next)
        ruler_device(h, next, scale, true, (double)next->capacity * scale - end, least);
    html_close(h);
}

/* What stays of whole is dark, what goes is an empty frame. */
void
svg_after(struct html *h, int64_t after, int64_t whole)
{
    double share = whole > 0 && after > 0 ? fmin((double)after / (double)whole, 1) : 0;
    html_open(h, "svg", "class", "after", "width", "100%", "height", "14", "aria-hidden", "true", NULL);
    html_void(h, "rect", "x", "0.5", "y", "0.5", "width", "99.7%", "height", "13", "fill", "none", "stroke", "#808080",
              "class", "goes", NULL);
    html_void(h, "rect", "width", pct(h, share), "height", "14", "class", "stays", NULL);
    html_close(h);
}

/* One step of a waterfall: from one sum to the next, on a scale from low to high. */
void
svg_step(struct html *h, double from, double to, double low, double high, const char *css)
{
    double span = high > low ? high - low : 1, a = (fmin(from, to) - low) / span, b = (fmax(from, to) - low) / span;
    html_open(h, "svg", "class", "step", "width", "100%", "height", "20", "aria-hidden", "true", NULL);
    html_void(h, "line", "x1", pct(h, (from - low) / span), "x2", pct(h, (from - low) / span), "y1", "-9", "y2", "4",
              "class", "g0", NULL);
    html_void(h, "rect", "x", pct(h, a), "y", "4", "width", pct(h, fmax(b - a, 0.002)), "height", "12", "class", css,
              NULL);
    html_close(h);
}

/* ---- timeline ---------------------------------------------------------------------------------------------------- */

enum { TOP = 42, HEIGHT = 226, FOOT = 36, NARROW = 8 /* phases: with more, narrow ones have no name */ };

/* "H7V125" */
static char *
corner(char *o, int x, int y)
{
    *o++ = 'H';
    o = int_put(o, x);
    *o++ = 'V';
    return int_put(o, y);
}

/* What lies between two lines: steps, written only where a value changes. */
static const char *
area_path(struct html *h, const int *low, const int *high)
{
    size_t cap = (size_t)h->n * 2 * 24 + 64;
    char *path = arena_alloc(h->a, cap), *o = path + sprintf(path, "M0 %dV%d", low[0], high[0]);
    for (int i = 1; i < h->n; i++)
        if (high[i] != high[i - 1])
            o = corner(o, i, high[i]);
    o = corner(o, h->n, low[h->n - 1]);
    for (int i = h->n - 1; i > 0; i--)
        if (low[i] != low[i - 1])
            o = corner(o, i, low[i - 1]);
    stpcpy(o, "H0Z");
    return path;
}

/* The area of each class above those below it. */
static void
timeline_areas(struct html *h, double scale)
{
    double *bytes = NEWN(h->a, double, h->n);
    int *low = NEWN(h->a, int, h->n), *high = NEWN(h->a, int, h->n);
    for (int i = 0; i < h->n; i++)
        low[i] = 1000;
    for (int layer = 0; layer < CLASS_COUNT; layer++) {
        enum class c = html_stack[layer];
        bool any = false;
        for (int i = 0; i < h->n; i++) {
            bytes[i] += (double)h->r->instants[h->columns[i]].class_bytes[c];
            high[i] = 1000 - (int)lround(fmin(bytes[i] * scale, 1000));
            any |= low[i] != high[i];
        }
        if (!any)
            continue;
        html_open(h, "path", "d", area_path(h, low, high), "fill", fill[c], "class",
                  html_format(h, "%s sep", html_class(h, c)), NULL);
        html_leaf(h, "title", class_names[c], NULL);
        html_close(h);
        memcpy(low, high, sizeof(*low) * (size_t)h->n);
    }
}

/* A class's name where its band is high enough for as many columns as the name needs. */
static void
timeline_label(struct html *h, int layer, double scale)
{
    enum { HIGH = 17 * 1000 / HEIGHT };
    enum class c = html_stack[layer];
    int best = 0, at = 0, y = 0;
    for (int i = 0; i < h->n; i++) {
        int top = 0, bottom = 1000, k = i;
        for (; k < h->n; k++) {
            double below = 0;
            const int64_t *b = h->r->instants[h->columns[k]].class_bytes;
            for (int l = 0; l < layer; l++)
                below += (double)b[html_stack[l]];
            int low = 1000 - (int)(below * scale), high = 1000 - (int)((below + (double)b[c]) * scale);
            int t = high > top ? high : top, l = low < bottom ? low : bottom;
            if (l - t < HIGH)
                break;
            top = t, bottom = l;
        }
        if (k - i > best)
            best = k - i, at = i, y = (top + bottom) / 2;
        i += k > i ? (k - i) / 8 : 0; /* near enough */
    }
    const char *q = fitting(h, characters(class_names[c]) + 1, 7.2, (double)best / h->n);
    if (best && *q)
        html_leaf(h, "text", class_names[c], "x", pct(h, (at + best / 2.0) / h->n), "y",
                  px(h, TOP + y * HEIGHT / 1000.0 + 4), "text-anchor", "middle", "data-x", px(h, at + best / 2.0),
                  "class", html_format(h, "%s on-%s", q, class_names[c]), NULL);
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

/* The timeline's marks tell their columns, so that a zoom can move them. */
static void
timeline_phases(struct html *h)
{
    const char *base = px(h, TOP + HEIGHT), *under = px(h, TOP + HEIGHT + 17), *below = px(h, TOP + HEIGHT + 32);
    int runs = 0;
    for (int i = 0; i < h->n; i++)
        runs += !i || h->r->instants[h->columns[i]].phase != h->r->instants[h->columns[i - 1]].phase;
    for (int i = 0, end; i < h->n; i = end) {
        enum phase phase = h->r->instants[h->columns[i]].phase;
        for (end = i; end < h->n && h->r->instants[h->columns[end]].phase == phase;)
            end++;
        double x = (double)i / h->n, share = (double)(end - i) / h->n;
        const char *at = html_format(h, "%d", i);
        html_open(h, "rect", "x", pct(h, x), "y", base, "width", pct(h, share), "height", "4", "fill", "#808080",
                  "data-x", at, "data-w", html_format(h, "%d", end - i), "class", html_format(h, "ph ph%d", (int)phase),
                  NULL);
        html_leaf(h, "title", phase_names[phase], NULL);
        html_close(h);
        if (i)
            html_void(h, "line", "x1", pct(h, x), "x2", pct(h, x), "y1", px(h, TOP - 8), "y2", base, "data-x", at,
                      "class", "phl", NULL);
        const char *q = fitting(h, characters(phase_names[phase]), 7.5, share);
        if (*q)
            html_leaf(h, "text", phase_names[phase], "x", pct(h, x), "dx", "1", "y", under, "data-x", at, "data-end",
                      html_format(h, "%d", end), "class", html_format(h, "%s phn", q), NULL);
        else if (runs <= NARROW)
            html_leaf(h, "text", phase_names[phase], "x", pct(h, x + share / 2), "y", below, "data-x",
                      px(h, (i + end) / 2.0), "text-anchor",
                      x < 0.05   ? "start"
                      : x > 0.95 ? "end"
                                 : "middle",
                      "class", "tk", NULL);
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
    const char *col = html_format(h, "%.1f", at + 0.5);
    html_void(h, "line", "x1", px_x, "x2", px_x, "y1", "4", "y2", px(h, TOP), "data-x", col, "class", "pkl", NULL);
    html_void(h, "circle", "cx", px_x, "cy", px(h, TOP), "r", "5", "data-x", col, "class", "pkd", NULL);
    html_leaf(h, "text", html_format(h, "Peak %s", bytes_text(h->a, r->peak.allocated)), "x", px_x, "dx", dx, "y", "18",
              "text-anchor", anchor, "data-x", col, "class", "pk1", NULL);
    const char *where =
        html_format(h, "%s%s%s", phase_names[r->peak.phase], r->peak.op ? ", " : "", string_op(h->a, r->peak.op, 60));
    const char *q = fitting(h, characters(where), 7, (x > 0.5 ? x : 1 - x) - 0.02);
    if (*q)
        html_leaf(h, "text", where, "x", px_x, "dx", dx, "y", "36", "text-anchor", anchor, "data-x", col, "class",
                  html_format(h, "%s pk2", q), NULL);
}

/* The line of another step's bytes over this one: its phases stretched to the same phases here where both have the
 * same, else as a whole. */
static const char *
other_line(struct html *h, const struct curve *c, double scale)
{
    int *from = NEWN(h->a, int, c->n + 1), *to = NEWN(h->a, int, h->n + 1), nfrom = 0, nto = 0;
    for (int i = 0; i < c->n; i++)
        if (i == 0 || c->at[i].phase != c->at[i - 1].phase)
            from[nfrom++] = i;
    for (int i = 0; i < h->n; i++)
        if (i == 0 || h->r->instants[h->columns[i]].phase != h->r->instants[h->columns[i - 1]].phase)
            to[nto++] = i;
    bool same = nfrom == nto;
    for (int i = 0; i < nfrom && same; i++)
        same = c->at[from[i]].phase == h->r->instants[h->columns[to[i]]].phase;
    nfrom = nto = same ? nfrom : 1;
    from[nfrom] = c->n, to[nto] = h->n;
    char *path = arena_alloc(h->a, (size_t)c->n * 40 + 64), *p = path;
    int run = 0, last = -1;
    for (int i = 0; i < c->n; i++) {
        while (i >= from[run + 1])
            run++;
        double step = (double)(to[run + 1] - to[run]) / (from[run + 1] - from[run]);
        int y = 1000 - (int)lround(fmin((double)c->at[i].bytes * scale, 1000));
        double x = to[run] + (i - from[run]) * step;
        if (y != last && i)
            p = int_put(stpcpy(stpcpy(stpcpy(p, "H"), fixed_text(h->a, x, 1, "")), "V"), y);
        else if (y != last)
            p = int_put(stpcpy(p, "M0 "), y);
        last = y;
    }
    sprintf(p, "H%d", h->n);
    return path;
}

/* A line over areas, which has a border against all of their colours. */
static void
outlined(struct html *h, const char *path)
{
    html_void(h, "path", "d", path, "fill", "none", "class", "ovb", NULL);
    html_void(h, "path", "d", path, "fill", "none", "class", "ovl", NULL);
}

static void
timeline_overlay(struct html *h, const struct overlay *o, double scale)
{
    const char *path = other_line(h, o->curve, scale);
    html_open(h, "g", "class", html_format(h, "ov %s", o->id), NULL);
    html_leaf(h, "title", html_format(h, "%s: peak %s", o->name, bytes_text(h->a, o->peak)), NULL);
    outlined(h, path);
    html_close(h);
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
    timeline_areas(h, 1000.0 / (double)peak);
    for (int i = 0; i < h->noverlays; i++)
        timeline_overlay(h, &h->overlays[i], 1000.0 / (double)peak);
    html_close(h);
    timeline_grid(h, peak);
    for (int layer = 0; layer < CLASS_COUNT; layer++)
        timeline_label(h, layer, 1000.0 / (double)peak);
    timeline_phases(h);
    timeline_peak(h);
    html_open(h, "line", "class", "cur", "y1", px(h, TOP - 4), "y2", px(h, TOP + HEIGHT), "x1", "0", "x2", "0", NULL);
    html_close(h);
    html_close(h);
}

/* Bytes of this step, filled. */
static const char *
own_area(struct html *h, double scale)
{
    int *low = NEWN(h->a, int, h->n), *high = NEWN(h->a, int, h->n);
    for (int i = 0; i < h->n; i++) {
        low[i] = 1000;
        high[i] = 1000 - (int)lround((double)instant_bytes(&h->r->instants[h->columns[i]]) * scale);
    }
    return area_path(h, low, high);
}

void
svg_both(struct html *h)
{
    const struct baseline *b = h->r->baseline;
    int64_t high = b->peak > h->r->peak.allocated ? b->peak : h->r->peak.allocated;
    double scale = 1000 / (double)(high > 0 ? high : 1);
    html_open(h, "svg", "class", "plot both", "role", "img", "width", "100%", "height",
              html_format(h, "%d", TOP + HEIGHT + FOOT), "aria-labelledby", "bo-t bo-d", NULL);
    describe(h, "bo", "Allocated memory over the step, now and in the baseline",
             html_format(h,
                         "The area is the step now, up to %s, the line the baseline's, up to %s; phases that both have "
                         "stand over each other.",
                         bytes_text(h->a, h->r->peak.allocated), bytes_text(h->a, b->peak)));
    html_open(h, "svg", "x", "0", "y", html_format(h, "%d", TOP), "width", "100%", "height",
              html_format(h, "%d", HEIGHT), "viewBox", html_format(h, "0 0 %d 1000", h->n), "preserveAspectRatio",
              "none", "class", "areas", NULL);
    html_void(h, "path", "d", own_area(h, scale), "fill", "#c9c6bd", "class", "held", NULL);
    outlined(h, other_line(h, b->curve, scale));
    html_close(h);
    timeline_grid(h, high);
    timeline_phases(h);
    html_close(h);
}

/* ---- treemap: modules first, in each its classes, in these the tensors; squarified ------------------------------- */

/* What differs by less than a thousandth of the peak is as large, and stays in the order of names. */
static int64_t
rank_of(const struct html *h, int64_t bytes)
{
    return (int64_t)(10 * bytes_percent(bytes, h->r->peak.allocated));
}

static int
by_rank(const void *x, const void *y)
{
    const struct cluster *a = x, *b = y;
    if (a->rank != b->rank)
        return a->rank < b->rank ? 1 : -1;
    size_t n = strlen(a->name), m = strlen(b->name);
    return n != m ? (n > m) - (n < m) : strcmp(a->name, b->name); /* blocks.2 before blocks.10 */
}

static void
cluster_add(struct html *h, struct cluster *c, int i)
{
    const struct live_tensor *t = &h->r->live[i];
    *PUSH(h->a, c->member, c->n, c->cap) = i;
    c->bytes = bytes_add(c->bytes, t->bytes);
    c->class_bytes[t->class] = bytes_add(c->class_bytes[t->class], t->bytes);
    c->rank = rank_of(h, c->bytes);
}

/* The clusters of one's children; what is its own, and children that are too small to see, make one each. */
static int
cluster_split(struct html *h, const struct cluster *c, struct cluster **out)
{
    struct names *ids = names_new(h->a);
    int n = 0, cap = 8, small = -1, nsmall = 0, kept = 0;
    struct cluster *kid = NEWN(h->a, struct cluster, cap);
    size_t skip = *c->name ? strlen(c->name) + 1 : 0;
    for (int i = 0; i < c->n; i++) {
        const char *path = h->r->live[c->member[i]].layer;
        bool own = strlen(path) <= skip;
        const char *name = own ? c->name : arena_strn(h->a, path, skip + strcspn(path + skip, "."));
        int id = names_find(ids, name);
        if (id < 0) {
            names_put(ids, name, id = n);
            *PUSH(h->a, kid, n, cap) = (struct cluster){.name = name, .whole = own};
        }
        cluster_add(h, &kid[id], c->member[i]);
    }
    qsort(kid, (size_t)n, sizeof(*kid), by_rank);
    for (int i = 0; i < n; i++) {
        if (kid[i].bytes >= h->r->peak.allocated / 150) {
            kid[kept++] = kid[i];
            continue;
        }
        small = small < 0 ? kept++ : small;
        if (nsmall++ == 0)
            kid[small] = kid[i];
        else
            for (int k = 0; k < kid[i].n; k++)
                cluster_add(h, &kid[small], kid[i].member[k]);
        kid[small].whole = true;
    }
    if (nsmall > 1)
        kid[small].name = html_format(h, "%d small in %s", nsmall, *c->name ? c->name : "the model");
    *out = kid;
    return kept;
}

struct cluster *
html_clusters(struct html *h, int *n)
{
    enum { MOST = 28 };
    const struct result *r = h->r;
    struct cluster *c = NULL;
    int cap = 0;
    *n = 0;
    *PUSH(h->a, c, *n, cap) = (struct cluster){.name = ""};
    *PUSH(h->a, c, *n, cap) = (struct cluster){.name = "outside of the model", .whole = true};
    for (int i = 0; i < r->nlive; i++)
        cluster_add(h, &c[r->live[i].layer ? 0 : 1], i);
    for (int tries = 0; tries < 64 && *n < MOST; tries++) {
        int best = -1;
        for (int i = 0; i < *n; i++)
            if (!c[i].whole && c[i].n && (best < 0 || c[i].bytes > c[best].bytes))
                best = i;
        if (best < 0 || c[best].bytes < r->peak.allocated / 16)
            break;
        struct cluster *kid, from = c[best];
        int nkid = cluster_split(h, &from, &kid);
        if (*n + nkid - 1 > 2 * MOST) {
            c[best].whole = true;
            continue;
        }
        c[best] = kid[0];
        for (int i = 1; i < nkid; i++)
            *PUSH(h->a, c, *n, cap) = kid[i];
    }
    qsort(c, (size_t)*n, sizeof(*c), by_rank);
    while (*n && c[*n - 1].n == 0)
        --*n;
    for (int i = 0; i < *n; i++)
        c[i].name = *c[i].name ? c[i].name : "the model itself";
    return c;
}

struct tile {
    double size, x, y, w, h;
    int64_t rank;
    const struct live_tensor *t; /* NULL: a box, or the small ones together */
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

static int
by_size(const void *x, const void *y)
{
    const struct tile *a = x, *b = y;
    return a->rank != b->rank ? (a->rank < b->rank) - (a->rank > b->rank)
           : a->t != b->t     ? (a->t > b->t) - (a->t < b->t)
                              : a->count - b->count;
}

/* Lays tiles, whose size is bytes, out in a box. */
static void
fill_box(struct html *of, struct tile *tiles, int n, double x, double y, double w, double h)
{
    double sum = 0;
    for (int i = 0; i < n; i++) {
        tiles[i].rank = rank_of(of, tiles[i].size < 0x1p63 ? (int64_t)tiles[i].size : INT64_MAX);
        sum += tiles[i].size;
    }
    qsort(tiles, (size_t)n, sizeof(*tiles), by_size);
    for (int i = 0; i < n; i++)
        tiles[i].size *= sum > 0 ? w * h / sum : 0;
    squarify(tiles, n, x, y, w, h);
}

/* The first of labels, of which the longest stands first, that shows where the picture is so wide; else the last. */
static const char *
longest(const char *const *labels, int n, double glyph, double share, int wide)
{
    for (int i = 0; i < n; i++) {
        int step = width_for(characters(labels[i]), glyph, share);
        if (step && step <= wide)
            return labels[i];
    }
    return labels[n - 1];
}

/* The length of "add_7" without its number. */
static size_t
unnumbered(const char *name)
{
    size_t n = strlen(name), end = n;
    while (end && name[end - 1] >= '0' && name[end - 1] <= '9')
        end--;
    return end > 1 && end < n && name[end - 1] == '_' ? end - 1 : n;
}

/* The longest of labels that shows in a window of usual width, and where that is too long for a narrower one another
 * until then. Returns the former. */
static const char *
treemap_label(struct html *h, const char *const *labels, int n, double glyph, const struct tile *t, double width,
              int in, const char *css)
{
    double share = t->w / width;
    const char *label = longest(labels, n, glyph, share, width < 500 ? 320 : 960);
    const char *less = longest(labels, n - 1, glyph, share, width < 500 ? 320 : 640);
    const char *const show[] = {label, less};
    int step = width_for(characters(label), glyph, share), lower = width_for(characters(less), glyph, share);
    for (int i = 0; i < (lower && lower < step ? 2 : 1); i++) {
        const char *q = fitting(h, characters(show[i]), glyph, share);
        if (*q)
            html_leaf(h, "text", show[i], "x", pct(h, t->x / width), "dx", html_format(h, "%d", in), "y",
                      px(h, t->y + 14), "class",
                      i ? html_format(h, "%s u%d %s", q, step, css) : html_format(h, "%s %s", q, css), NULL);
    }
    return label;
}

/* "h.0" of "model.transformer.h.0": so many parts at its end. */
static const char *
last_parts(const char *path, int n)
{
    const char *at = path + strlen(path);
    for (; at > path; at--)
        if (at[-1] == '.' && --n == 0)
            break;
    return at;
}

/* Of the box of a tensor, which may be NULL: its row in the data, and what is not the row's because it has others. */
static void
tensor_figures(struct html *h, const struct live_tensor *t)
{
    if (!t)
        return;
    int row = h->row[t - h->r->live];
    html_number(h, "data-g", row);
    if (h->group[row].count == 1)
        return;
    html_number(h, "data-bytes", t->bytes);
    html_number(h, "data-from", t->born_at + 1);
    html_number(h, "data-to", t->dies_at);
}

static void
treemap_tile(struct html *h, const struct tile *t, enum class c, double width, int64_t rest)
{
    const char *name = t->t ? string_op(h->a, t->t->name, 60) : html_format(h, "%d small", t->count);
    const char *bytes = bytes_text(h->a, t->t ? t->t->bytes : rest);
    html_open(h, "rect", "x", pct(h, t->x / width), "y", px(h, t->y), "width", pct(h, t->w / width), "height",
              px(h, t->h), "fill", fill[c], "class", html_format(h, "%s sep2", html_class(h, c)), NULL);
    tensor_figures(h, t->t);
    html_leaf(h, "title", html_format(h, "%s, %s, %s", name, bytes, class_names[c]), NULL);
    html_close(h);
    const char *const labels[] = {string_clip(h->a, html_short(h, name), 28),
                                  string_clip(h->a, html_short(h, name), 15), arena_strn(h->a, name, unnumbered(name)),
                                  bytes};
    const char *on = html_format(h, "on-%s", class_names[c]);
    if (t->h < 18)
        return;
    const char *label = treemap_label(h, labels, COUNT(labels), 7.4, t, width, 5, on);
    const char *also = t->h >= 34 && label != bytes ? fitting(h, characters(bytes), 7.4, t->w / width) : "";
    if (*also)
        html_leaf(h, "text", bytes, "x", pct(h, t->x / width), "dx", "5", "y", px(h, t->y + 30), "class",
                  html_format(h, "%s %s", also, on), NULL);
}

/* The tensors of one class of a cluster in their box. */
static void
treemap_class(struct html *h, const struct cluster *k, enum class c, const struct tile *box, double width, double least)
{
    struct tile *tiles = NEWN(h->a, struct tile, k->n + 1), few = {0};
    int n = 0;
    int64_t rest = 0;
    for (int i = 0; i < k->n; i++) {
        const struct live_tensor *t = &h->r->live[k->member[i]];
        if (t->class == c && (double)t->bytes >= least)
            tiles[n++] = (struct tile){.size = (double)t->bytes, .t = t};
        else if (t->class == c)
            few.count++, rest = bytes_add(rest, t->bytes);
    }
    few.size = (double)rest;
    if (rest > 0)
        tiles[n++] = few;
    fill_box(h, tiles, n, box->x, box->y, box->w, box->h);
    for (int i = 0; i < n; i++)
        if (tiles[i].w > 0)
            treemap_tile(h, &tiles[i], c, width, rest);
}

static void
treemap(struct html *h, const struct cluster *k, int n, double width, double height, const char *css, const char *id)
{
    enum { HEAD = 17 };
    double least = (double)h->r->peak.allocated * (width < 500 ? 0.004 : 0.0015);
    struct tile *box = NEWN(h->a, struct tile, n + 1), in[CLASS_COUNT];
    html_open(h, "svg", "class", css, "role", "img", "width", "100%", "height", px(h, height), "aria-labelledby",
              html_format(h, "%s-t %s-d", id, id), NULL);
    describe(h, id, "What is alive at the peak, by module and class",
             "Every tensor's area is its bytes, its colour its class; a box is a module. The tables below have the "
             "same by module and class, and every tensor.");
    for (int i = 0; i < n; i++)
        box[i] = (struct tile){.size = (double)k[i].bytes, .count = i};
    fill_box(h, box, n, 0, 0, width, height);
    for (int i = 0; i < n; i++) {
        const struct cluster *c = &k[box[i].count];
        struct tile b = box[i];
        const char *last = string_clip(h->a, last_parts(c->name, 1), 20);
        const char *const names[] = {string_clip(h->a, c->name, 40), string_clip(h->a, last_parts(c->name, 3), 36),
                                     string_clip(h->a, last_parts(c->name, 2), 30), last, last};
        bool named = b.h > 3 * HEAD && width_for(characters(last), 6.8, b.w / width);
        if (b.w <= 0)
            continue;
        html_open(h, "g", "data-m", html_format(h, "%d", box[i].count), NULL); /* its row in the table of modules */
        if (named) {
            treemap_label(h, names, COUNT(names), 6.8, &b, width, 2, "mod");
            b.y += HEAD, b.h -= HEAD + 2, b.w -= 2;
        }
        int classes = 0;
        for (int l = 0; l < CLASS_COUNT; l++)
            if (c->class_bytes[l] > 0)
                in[classes++] = (struct tile){.size = (double)c->class_bytes[l], .count = l};
        fill_box(h, in, classes, b.x, b.y, b.w, b.h);
        for (int l = 0; l < classes; l++)
            treemap_class(h, c, (enum class)in[l].count, &in[l], width, least);
        html_void(h, "rect", "x", pct(h, box[i].x / width), "y", px(h, box[i].y), "width", pct(h, box[i].w / width),
                  "height", px(h, box[i].h), "fill", "none", "class", "frame", NULL);
        html_close(h);
    }
    html_close(h);
}

void
svg_treemap(struct html *h, const struct cluster *k, int n)
{
    if (h->r->peak.allocated <= 0 || h->r->nlive == 0)
        return;
    html_open(h, "figure", "class", "map", NULL);
    treemap(h, k, n, 1000, 440, "wide", "mw");
    treemap(h, k, n, 380, 560, "narrow", "mn");
    html_close(h);
}

/* ---- segments: what the allocator holds, on lines of equal length ------------------------------------------------ */

enum { SEGMENT_HIGH = 22, SEGMENT_LINE = 27, SEGMENT_BOXES = 400 };

struct strip {   /* lines over which bytes run on, as words do */
    double line; /* bytes */
    double at;
};

/* What is too small for a box of its own. */
struct crumbs {
    int ntensors, nsegments;
    int64_t used, free, class_bytes[CLASS_COUNT], each; /* each: of the segments, -1 they differ */
};

/* So many of the next bytes, as a box on every line that they reach. */
static void
strip_boxes(struct html *h, struct strip *s, int64_t bytes, const char *paint, const char *css, const char *title,
            const struct live_tensor *t)
{
    double left = (double)bytes;
    while (left > s->line / 1e6) {
        double row = floor(s->at / s->line + 1e-9), from = fmax(s->at - row * s->line, 0);
        double part = fmin(left, s->line - from);
        html_open(h, "rect", "x", pct(h, from / s->line), "y", px(h, row * SEGMENT_LINE), "width",
                  pct(h, part / s->line), "height", px(h, SEGMENT_HIGH), "fill", paint, "class", css, NULL);
        tensor_figures(h, t);
        if (title)
            html_leaf(h, "title", title, NULL);
        html_close(h);
        s->at += part;
        left -= part;
    }
}

/* A label in the box that begins there, on its first line, where it has room. */
static void
strip_label(struct html *h, const struct strip *s, double from, int64_t bytes, const char *name, const char *size,
            const char *css)
{
    double row = floor(from / s->line + 1e-9), x = fmax(from - row * s->line, 0);
    struct tile t = {.x = x, .y = row * SEGMENT_LINE + 1, .w = fmin((double)bytes, s->line - x)};
    const char *const labels[] = {string_clip(h->a, html_short(h, name), 28),
                                  string_clip(h->a, html_short(h, name), 15), arena_strn(h->a, name, unnumbered(name)),
                                  size};
    treemap_label(h, labels, COUNT(labels), 7.4, &t, s->line, 5, css);
}

static void
strip_free(struct html *h, struct strip *s, int64_t bytes)
{
    double from = s->at;
    const char *size = bytes_text(h->a, bytes);
    strip_boxes(h, s, bytes, "#ebe8e0", "free", html_format(h, "free, %s", size), NULL);
    strip_label(h, s, from, bytes, html_format(h, "free %s", size), size, "");
}

static void
strip_tensor(struct html *h, struct strip *s, const struct live_tensor *t)
{
    int64_t slack = tensor_slack(t);
    double from = s->at;
    const char *name = string_op(h->a, t->name, 60), *size = bytes_text(h->a, t->bytes);
    const char *title = html_format(h, "%s, %s, %s", name, size, class_names[t->class]);
    strip_boxes(h, s, t->bytes, fill[t->class], html_format(h, "%s sep2", html_class(h, t->class)), title, t);
    struct strip end = {s->line, from + (double)(t->bytes - slack)};
    if ((double)slack > s->line / 500)
        strip_boxes(h, &end, slack, "#fff", "slack", html_format(h, "slack, %s, of %s", bytes_text(h->a, slack), name),
                    NULL);
    strip_label(h, s, from, t->bytes, name, size, html_format(h, "on-%s", class_names[t->class]));
}

static void
strip_crumbs(struct html *h, struct strip *s, struct crumbs *c)
{
    enum class most = 0;
    for (int i = 1; i < CLASS_COUNT; i++)
        most = c->class_bytes[i] > c->class_bytes[most] ? (enum class)i : most;
    const char *what =
        html_format(h, c->ntensors == 1 ? "%s%s tensor, %s, %s" : "%s%s tensors, %s, most of it %s",
                    !c->nsegments ? ""
                    : c->each < 0 ? html_format(h, "%d segments: ", c->nsegments)
                                  : html_format(h, "%d segments of %s: ", c->nsegments, bytes_text(h->a, c->each)),
                    count_text(h->a, c->ntensors), bytes_text(h->a, c->used), class_names[most]);
    struct strip frame = *s;
    int64_t whole = c->used + c->free;
    if (c->used)
        strip_boxes(h, s, c->used, fill[most], html_class(h, most), what, NULL);
    if (c->free)
        strip_boxes(h, s, c->free, "#ebe8e0", "free", html_format(h, "free beside %s", what), NULL);
    if (c->nsegments)
        strip_boxes(h, &frame, whole, "none", "frame", NULL, NULL);
    *c = (struct crumbs){.each = -1};
}

/* Tensors in the order of their places. */
static int
by_place(const void *x, const void *y)
{
    const struct live_tensor *p = *(const struct live_tensor *const *)x, *q = *(const struct live_tensor *const *)y;
    return p->segment != q->segment ? (p->segment > q->segment) - (p->segment < q->segment)
                                    : (p->offset > q->offset) - (p->offset < q->offset);
}

/* One segment, whose tensors are t[0..n) in order. */
static void
strip_segment(struct html *h, struct strip *s, const struct segment *of, const struct live_tensor *const *t, int n,
              double least)
{
    struct crumbs c = {.each = -1};
    struct strip frame = *s;
    int64_t at = 0;
    for (int i = 0; i <= n; i++) {
        int64_t gap = (i < n ? t[i]->offset : of->bytes) - at;
        bool large = (double)gap >= least;
        if (large && (c.used || c.free))
            strip_crumbs(h, s, &c);
        if (large)
            strip_free(h, s, gap);
        else
            c.free += gap;
        if (i == n)
            break;
        at = t[i]->offset + t[i]->bytes;
        if ((double)t[i]->bytes >= least) {
            if (c.used || c.free)
                strip_crumbs(h, s, &c);
            strip_tensor(h, s, t[i]);
        } else {
            c.ntensors++;
            c.used += t[i]->bytes;
            c.class_bytes[t[i]->class] += t[i]->bytes;
        }
    }
    if (c.used || c.free)
        strip_crumbs(h, s, &c);
    strip_boxes(h, &frame, of->bytes, "none", "frame", NULL, NULL);
}

void
svg_segments(struct html *h, const int *order)
{
    const struct result *r = h->r;
    const struct live_tensor **t = NEWN(h->a, const struct live_tensor *, r->nlive + 1);
    int *first = NEWN(h->a, int, r->nsegments + 1), n = 0;
    int64_t sum = 0;
    for (int i = 0; i < r->nlive; i++)
        if (r->live[i].segment >= 0)
            t[n++] = &r->live[i];
    qsort(t, (size_t)n, sizeof(*t), by_place);
    for (int i = 0, k = 0; i < r->nsegments; i++) {
        while (k < n && t[k]->segment < i)
            k++;
        first[i] = k;
        sum = bytes_add(sum, r->segments[i].bytes);
    }
    double root = sqrt(r->nsegments), lines = root < 4 ? 4 : root > 12 ? 12 : ceil(root);
    double least = (double)sum / SEGMENT_BOXES;
    struct strip s = {.line = (double)sum / lines};
    struct crumbs c = {.each = -1};
    html_open(h, "figure", "class", "map", NULL);
    html_open(h, "svg", "class", "segs", "role", "img", "width", "100%", "height", px(h, lines * SEGMENT_LINE),
              "aria-labelledby", "sg-t sg-d", NULL);
    describe(h, "sg", "What the allocator holds at the peak, segment by segment",
             "Segments follow each other on lines of equal length, those with the most free bytes first. Of each the "
             "blocks in the order of their addresses, coloured by class, and what is free between them. The table "
             "below has the numbers.");
    for (int i = 0; i < r->nsegments; i++) {
        const struct segment *of = &r->segments[order[i]];
        int k = first[order[i]];
        if ((double)of->bytes >= least) {
            if (c.nsegments)
                strip_crumbs(h, &s, &c);
            strip_segment(h, &s, of, t + k, of->ntensors, least);
            continue;
        }
        c.each = !c.nsegments || c.each == of->bytes ? of->bytes : -1;
        c.nsegments++;
        c.ntensors += of->ntensors;
        c.used += of->used;
        c.free += of->bytes - of->used;
        for (int m = k; m < k + of->ntensors; m++)
            c.class_bytes[t[m]->class] += t[m]->bytes;
        if ((double)(c.used + c.free) >= least)
            strip_crumbs(h, &s, &c);
    }
    if (c.nsegments)
        strip_crumbs(h, &s, &c);
    html_close(h);
    html_close(h);
}

/* ---- checkpoint plans -------------------------------------------------------------------------------------------- */

/* Where a plan stands: extra FLOPs to the right, peaks from the lowest of all plans up. */
struct ruler {
    double most, low, span;
};
enum { FRONT_HIGH = 200, FRONT_TOP = 20 };

static const char *
plan_x(struct html *h, const struct ruler *u, const struct plan *p)
{
    return pct(h, 0.02 + 0.94 * p->extra_flops_percent / u->most);
}

static const char *
plan_y(struct html *h, const struct ruler *u, const struct plan *p)
{
    return px(h, FRONT_TOP + (FRONT_HIGH - FRONT_TOP) * (1 - ((double)p->peak - u->low) / u->span));
}

static void
front_line(struct html *h, const struct ruler *u, const struct plan *from, const char *class)
{
    html_open(h, "line", "x1", plan_x(h, u, from), "x2", plan_x(h, u, from + 1), "y1", plan_y(h, u, from), "y2",
              plan_y(h, u, from + 1), "class", class, NULL);
    html_close(h);
}

/* Another front in the same picture. */
static void
other_front(struct html *h, const struct ruler *u, const char *class, int n, const struct plan *f)
{
    for (int i = 1; i < n; i++)
        front_line(h, u, &f[i - 1], class);
}

/* Peak against extra FLOPs. */
void
svg_front(struct html *h)
{
    const struct result *r = h->r;
    const struct plan *f = r->recompute.front;
    int own = emit_plan_to_take(r), k = r->recompute.chosen_pattern;
    int n = r->recompute.nfront, ns = r->recompute.nselective, no = r->recompute.noperators;
    const struct {
        int n;
        const struct plan *plan;
    } all[] = {{n, f},
               {ns, r->recompute.selective},
               {no, r->recompute.operators},
               {own < 0 && k > 0, r->recompute.patterns + (k > 0 ? k : 0)}};
    double most = 1, named = 0, low = (double)f[n - 1].peak, top = low;
    for (int from = 0; from < COUNT(all); from++)
        for (int i = 0; i < all[from].n; i++) {
            const struct plan *p = &all[from].plan[i];
            most = p->extra_flops_percent > most ? p->extra_flops_percent : most;
            low = (double)p->peak < low ? (double)p->peak : low;
            top = (double)p->peak > top ? (double)p->peak : top;
        }
    struct ruler u = {most, low, top > low ? top - low : 1};
    html_open(h, "svg", "class", "plot", "role", "img", "width", "100%", "height",
              html_format(h, "%d", FRONT_HIGH + 40), "aria-labelledby", "fr-t fr-d", NULL);
    describe(h, "fr", "Peak against extra work",
             html_format(
                 h,
                 "%d plans from no checkpoints at %s to the lowest peak at %s, for up to %.1f %% more FLOPs; dashed, "
                 "what is reached if a policy keeps results, and if any operators are recomputed. The tables have the "
                 "numbers.",
                 n, bytes_text(h->a, f[0].peak), bytes_text(h->a, f[n - 1].peak), f[n - 1].extra_flops_percent));
    html_open(h, "line", "x1", "0", "x2", "100%", "y1", px(h, FRONT_HIGH), "y2", px(h, FRONT_HIGH), "class", "g0",
              NULL);
    html_close(h);
    other_front(h, &u, "fo", no, r->recompute.operators);
    other_front(h, &u, "fs", ns, r->recompute.selective);
    for (int i = 0; i < n; i++) {
        const char *x = plan_x(h, &u, &f[i]), *y = plan_y(h, &u, &f[i]);
        if (i)
            front_line(h, &u, &f[i - 1], "g0");
        html_open(h, "circle", "cx", x, "cy", y, "r", i == own ? "7" : "5", "class", "pkd", NULL);
        html_leaf(h, "title",
                  f[i].nmodules ? html_format(h, "%s: %s, %.1f %% more FLOPs",
                                              f[i].pattern ? string_clip(h->a, f[i].pattern, 200)
                                                           : html_format(h, "plan %d, %d %s", i, f[i].nmodules,
                                                                         f[i].nmodules == 1 ? "module" : "modules"),
                                              bytes_text(h->a, f[i].peak), f[i].extra_flops_percent)
                                : html_format(h, "no checkpoints: %s", bytes_text(h->a, f[i].peak)),
                  NULL);
        html_close(h);
        double along = f[i].extra_flops_percent / most;
        bool last = i && i == n - 1;
        const char *name = i == 0                       ? "no checkpoints"
                           : f[i].pattern               ? string_clip(h->a, f[i].pattern, 24)
                           : r->recompute.npatterns > 1 ? ""
                                                        : html_format(h, "%d", i);
        if (i == 0 || last || i == own || (*name && along - named > 0.05 && along < 0.8)) {
            const char *bytes = bytes_text(h->a, f[i].peak);
            if (i == 0 || last || i == own)
                name = html_format(h, "%s%s%s", name, *name ? ": " : "", bytes);
            html_leaf(h, "text", name, "x", x, "dx", last ? "2" : "9", "y", y, "dy", last ? "-10" : "-4", "text-anchor",
                      last ? "end" : "start", "class", i == 0 || last ? "tk halo" : "q q800 tk halo", NULL);
            if (i == own && !last) /* where there is no room for more */
                html_leaf(h, "text", bytes, "x", x, "dx", "9", "y", y, "dy", "-6", "class", "u800 tk halo", NULL);
            named = along + (i == own ? 0.2 : 0); /* its label is long */
        }
    }
    if (own < 0 && k > 0) {
        const struct plan *p = &r->recompute.patterns[k];
        html_open(h, "circle", "cx", plan_x(h, &u, p), "cy", plan_y(h, &u, p), "r", "7", "class", "pkd", NULL);
        html_leaf(h, "title",
                  html_format(h, "%s: %s, %.1f %% more FLOPs", string_clip(h->a, p->pattern, 200),
                              bytes_text(h->a, p->peak), p->extra_flops_percent),
                  NULL);
        html_close(h);
        html_leaf(h, "text", html_format(h, "%s: %s", string_clip(h->a, p->pattern, 24), bytes_text(h->a, p->peak)),
                  "x", plan_x(h, &u, p), "dx", "9", "y", plan_y(h, &u, p), "dy", "-6", "class", "tk halo", NULL);
    }
    html_leaf(h, "text", "0 %", "x", "2%", "y", px(h, FRONT_HIGH + 18), "class", "tk", NULL);
    html_leaf(h, "text", html_format(h, "%.1f %% more FLOPs", most), "x", "98%", "y", px(h, FRONT_HIGH + 18),
              "text-anchor", "end", "class", "tk", NULL);
    html_close(h);
}
