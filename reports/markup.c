/* SPDX-License-Identifier: Apache-2.0 */
/* markup.c - elements and text of the page, through libxml2's writer: the one place where its strings are escaped. */
#include "html.h"

static void
start(struct html *h, const char *name, va_list ap)
{
    xmlTextWriterStartElement(h->w, XML(name));
    for (const char *key; (key = va_arg(ap, const char *));) {
        const char *value = va_arg(ap, const char *);
        if (value)
            xmlTextWriterWriteAttribute(h->w, XML(key), XML(string_clean(h->a, value)));
    }
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

void
html_leaf(struct html *h, const char *name, const char *text, ...)
{
    va_list ap;
    va_start(ap, text);
    start(h, name, ap);
    va_end(ap);
    html_text(h, text);
    xmlTextWriterFullEndElement(h->w);
}

void
html_void(struct html *h, const char *name, ...)
{
    va_list ap;
    va_start(ap, name);
    start(h, name, ap);
    va_end(ap);
    xmlTextWriterEndElement(h->w);
}

void
html_number(struct html *h, const char *name, int64_t n)
{
    char digits[24];
    *int_put(digits, n) = '\0';
    xmlTextWriterWriteAttribute(h->w, XML(name), XML(digits));
}

void
html_text(struct html *h, const char *s)
{
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
