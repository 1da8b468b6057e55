/* SPDX-License-Identifier: Apache-2.0 */
/* markup.c - elements and text of the page, through libxml2's writer: the one place where its strings are escaped. */
#include "html.h"

/* A tag as it is put together. Most have nothing that must be escaped, and are written at once. */
struct tag {
    int n;
    bool plain; /* so far */
    char text[1 << 14];
};

static inline void
begin(struct tag *t) /* its text is not cleared */
{
    t->n = 0;
    t->plain = true;
}

static inline void
put(struct tag *t, const char *s, size_t n)
{
    t->plain = t->plain && n <= (size_t)(COUNT(t->text) - t->n);
    if (!t->plain)
        return;
    memcpy(t->text + t->n, s, n);
    t->n += (int)n;
}

/* What stands in quotes, or between tags, where libxml2 leaves letters beyond ASCII as they are. */
static void
put_quoted(struct html *h, struct tag *t, const char *s, bool between)
{
    static const bool escaped[256] = {['"'] = true, ['&'] = true, ['<'] = true, ['>'] = true, [0x7f] = true};
    size_t n = 0;
    while (s[n] >= ' ' && s[n] < 0x7f && !escaped[(unsigned char)s[n]]) /* most is ASCII, and clean */
        n++;
    put(t, s, n);
    for (s = s[n] ? string_clean(h->a, s + n) : ""; *s && t->plain; s++) {
        unsigned char c = (unsigned char)*s;
        t->plain = t->n < COUNT(t->text) && c >= ' ' && (c < 0x80 || between) && !escaped[c];
        if (t->plain)
            t->text[t->n++] = *s;
    }
}

static void
put_attributes(struct html *h, struct tag *t, va_list ap)
{
    for (const char *key; t->plain && (key = va_arg(ap, const char *));) {
        const char *value = va_arg(ap, const char *);
        if (!value)
            continue;
        put(t, " ", 1);
        put(t, key, strlen(key));
        put(t, "=\"", 2);
        put_quoted(h, t, value, false);
        put(t, "\"", 1);
    }
}

static void
start(struct html *h, const char *name, va_list ap)
{
    struct tag t;
    begin(&t);
    va_list again;
    va_copy(again, ap);
    put_attributes(h, &t, ap);
    xmlTextWriterStartElement(h->w, XML(name));
    if (t.plain) /* as the writer would: it has only just begun the tag */
        xmlOutputBufferWrite(h->buffer, t.n, t.text);
    for (const char *key; !t.plain && (key = va_arg(again, const char *));) {
        const char *value = va_arg(again, const char *);
        if (value)
            xmlTextWriterWriteAttribute(h->w, XML(key), XML(string_clean(h->a, value)));
    }
    va_end(again);
}

void
html_open(struct html *h, const char *name, ...)
{
    va_list ap;
    va_start(ap, name);
    start(h, name, ap);
    va_end(ap);
}

void
html_close(struct html *h)
{
    xmlTextWriterFullEndElement(h->w);
}

/* An element at once, text NULL: a void one; false where something is to be escaped. */
static bool
at_once(struct html *h, const char *name, const char *text, va_list ap)
{
    struct tag t;
    begin(&t);
    put(&t, "<", 1);
    put(&t, name, strlen(name));
    put_attributes(h, &t, ap);
    if (text) {
        put(&t, ">", 1);
        put_quoted(h, &t, text, true);
        put(&t, "</", 2);
        put(&t, name, strlen(name));
        put(&t, ">", 1);
    } else {
        put(&t, "/>", 2);
    }
    if (t.plain)
        xmlTextWriterWriteRawLen(h->w, XML(t.text), t.n);
    return t.plain;
}

void
html_leaf(struct html *h, const char *name, const char *text, ...)
{
    va_list ap, again;
    va_start(ap, text);
    va_copy(again, ap);
    if (!at_once(h, name, text ? text : "", ap)) {
        start(h, name, again);
        html_text(h, text);
        xmlTextWriterFullEndElement(h->w);
    }
    va_end(again);
    va_end(ap);
}

void
html_void(struct html *h, const char *name, ...)
{
    va_list ap, again;
    va_start(ap, name);
    va_copy(again, ap);
    if (!at_once(h, name, NULL, ap)) {
        start(h, name, again);
        xmlTextWriterEndElement(h->w);
    }
    va_end(again);
    va_end(ap);
}

void
html_number(struct html *h, const char *name, int64_t n)
{
    char digits[24];
    const size_t len = (size_t)(int_put(digits, n) - digits);
    struct tag t;
    begin(&t);
    put(&t, " ", 1);
    put(&t, name, strlen(name));
    put(&t, "=\"", 2);
    put(&t, digits, len);
    put(&t, "\"", 1);
    xmlOutputBufferWrite(h->buffer, t.n, t.text); /* as start() does */
}

void
html_text(struct html *h, const char *s)
{
    struct tag t;
    begin(&t);
    put_quoted(h, &t, s ? s : "", true);
    if (t.plain)
        xmlTextWriterWriteRawLen(h->w, XML(t.text), t.n);
    else
        xmlTextWriterWriteString(h->w, XML(string_clean(h->a, s)));
}

const char *
html_short(struct html *h, const char *name)
{
    enum { LONG = 24 };
    const char *bracket = strstr(name, " (");
    if (bracket && strlen(name) > LONG)
        name = arena_strn(h->a, name, (size_t)(bracket - name));
    for (size_t n; strlen(name) > LONG && name[n = strcspn(name, ". ")] == '.' && strchr(name + n + 1, '.');)
        name += n + 1;
    return name;
}

const char *
html_last(const char *s, char by)
{
    const char *at = s ? strrchr(s, by) : NULL;
    return at ? at + 1 : s;
}

const char *
html_format(struct html *h, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    const char *s = arena_vprintf(h->a, fmt, ap);
    va_end(ap);
    return s;
}

void
html_printf(struct html *h, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    html_text(h, arena_vprintf(h->a, fmt, ap));
    va_end(ap);
}
