/* SPDX-License-Identifier: Apache-2.0 */
/* html.h - the page's writer (markup.c), shared by html.c (words and tables) and svg.c (pictures). Nobody else includes
 * it. */
#ifndef HTML_H
#define HTML_H

#include "reports/reports.h"
#include "xml.h"

struct overlay {           /* another step over the timeline */
    const char *id, *name; /* id: a CSS class, ov0 to ov31 */
    const struct curve *curve;
    int64_t peak;
    int plan; /* of the checkpoint front; 0: it is none */
};

enum { OVERLAYS = 32 };

struct layer_line { /* a line of the layers: a module, or neighbours that are alike, from the first to the last */
    int first, last, count;
};

struct html {
    xmlTextWriterPtr w;
    xmlOutputBufferPtr buffer; /* where w writes */
    FILE *out;                 /* likewise, when it is flushed */
    struct arena *a;
    const struct result *r;
    int n, *columns;      /* the instants that the timeline shows */
    int *row;             /* of each tensor alive at the peak its row in their table */
    int ngroups, written; /* written: so many of the groups are rows of a table, the others are in the data alone */
    struct tensor_group *group;
    int nlines, cap_lines;
    struct layer_line *line;
    int *order; /* of the segments */
    int digits; /* of MiB in tables */
    int noverlays;
    struct overlay overlays[OVERLAYS];
};

#define XML(s) ((const xmlChar *)(s))

/* Elements with attributes as name, value pairs up to a NULL; a NULL value leaves its attribute out. */
void html_open(struct html *h, const char *name, ...) __attribute__((sentinel));
void html_close(struct html *h);
/* An element with text only; a void element (no end tag). */
void html_leaf(struct html *h, const char *name, const char *text, ...) __attribute__((sentinel));
void html_void(struct html *h, const char *name, ...) __attribute__((sentinel));
/* An attribute of the element that has just been opened. */
void html_number(struct html *h, const char *name, int64_t n);
/* Text: the one place where escaping happens is below these. */
void html_text(struct html *h, const char *s);
void html_printf(struct html *h, const char *fmt, ...) PRINTF(2, 3);
const char *html_format(struct html *h, const char *fmt, ...) PRINTF(2, 3);

/* A tensor's name where it is long: without the operator in brackets at its end, then without its outer modules. */
const char *html_short(struct html *h, const char *name);
/* What stands behind the last of that character in s, which may be NULL; s where there is none. */
const char *html_last(const char *s, char by);

/* In which order classes are stacked, from the bottom: what stays first, what comes and goes last. */
extern const enum class html_stack[CLASS_COUNT];
const char *html_class(struct html *h, enum class c); /* the CSS class that paints it */

/* Whether the allocator holds more than the tensors at the peak, and it is known where. */
static inline bool
html_segments_matter(const struct result *r)
{
    int64_t all = 0;
    for (int i = 0; i < r->nsegments; i++)
        all += r->segments[i].bytes;
    return all > r->peak.allocated;
}

/* What the pictures and tables are made of, as JSON: the content of an element that has been opened (data.c). */
void html_data(struct html *h);
enum { NAME = 160, MEMBERS = 40 }; /* characters of a name; names of tensors that one row lists */

void svg_timeline(struct html *h);
void svg_both(struct html *h); /* the timeline and the baseline's, which has a curve */
void svg_front(struct html *h);
void svg_ruler(struct html *h); /* the peak as one bar, and devices beside it */

struct cluster { /* tensors alive at the peak that belong to one module, or to none */
    const char *name;
    int64_t bytes, class_bytes[CLASS_COUNT], rank; /* rank: thousandths of the peak */
    int n, cap, *member;                           /* indices into live */
    bool whole;                                    /* not to be split further */
};
/* The modules that are large enough to be seen apart, largest first; together they are all tensors. */
struct cluster *html_clusters(struct html *h, int *n);
void svg_treemap(struct html *h, const struct cluster *k, int n);
/* The allocator's segments in that order, with the tensors of the peak in them. */
void svg_segments(struct html *h, const int *order);
void svg_after(struct html *h, int64_t after, int64_t whole);
void svg_step(struct html *h, double from, double to, double low, double high, const char *css);
/* A bar inside a table: part of whole. */
void svg_bar(struct html *h, int64_t part, int64_t whole, const char *css);

#endif
