/* SPDX-License-Identifier: Apache-2.0 */
/* string.c - strings that came from a model: data in every format.
 *
 * What can't be seen, or changes how what follows is read, is written out; what is too long is cut where it tells
 * least.
 */
#include "base/base.h"

#include <ctype.h>
#include <string.h>

int
string_utf8(const char *s, uint32_t *c)
{
    const unsigned char *p = (const unsigned char *)s;
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    int n = p[0] < 0x80 ? 1 : p[0] >> 5 == 6 ? 2 : p[0] >> 4 == 14 ? 3 : p[0] >> 3 == 30 ? 4 : 0;
    if (n == 0)
        return 0;
    *c = n == 1 ? p[0] : p[0] & (0x7f >> n);
    for (int i = 1; i < n; i++) {
        if (p[i] >> 6 != 2)
            return 0;
        *c = *c << 6 | (p[i] & 0x3f);
    }
    return *c < least[n] || *c > 0x10ffff || (*c >= 0xd800 && *c < 0xe000) ? 0 : n;
}

/* Controls, line separators, marks that change the direction of text or can't be seen, noncharacters. */
static bool
invisible(uint32_t c)
{
    return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0xad || c == 0x61c || (c >= 0x200b && c <= 0x200f) ||
           (c >= 0x2028 && c <= 0x202e) || (c >= 0x2060 && c <= 0x206f) || c == 0xfeff || (c & 0xfffe) == 0xfffe ||
           (c >= 0xfdd0 && c <= 0xfdef) || (c >= 0xe0000 && c <= 0xe0fff);
}

const char *
string_clean(struct arena *a, const char *s)
{
    uint32_t c;
    int n;
    if (!s)
        return "";
    const char *p = s;
    while (*p) { /* most strings are clean, and plain */
        while (*p >= 0x20 && *p < 0x7f)
            p++;
        if (!*p || (n = string_utf8(p, &c)) == 0 || invisible(c))
            break;
        p += n;
    }
    if (!*p)
        return s;
    char *out = arena_alloc(a, strlen(s) * 8 + 1), *o = out;
    for (p = s; *p; p += n ? n : 1) {
        n = string_utf8(p, &c);
        if (n && !invisible(c)) {
            memcpy(o, p, (size_t)n);
            o += n;
        } else {
            o += n == 0 ? sprintf(o, "\xef\xbf\xbd") : sprintf(o, c < 0x100 ? "\\x%02x" : "\\u%04x", c);
        }
    }
    return out;
}

const char *
string_clip(struct arena *a, const char *s, int max)
{
    s = string_clean(a, s);
    if (strlen(s) <= (size_t)max)
        return s;
    int n = 0;
    for (const char *p = s; *p; p++)
        n += (*p & 0xc0) != 0x80;
    if (n <= max)
        return s;
    int head = (max - 3) / 2, tail = max - 3 - head, at = 0;
    const char *left = NULL, *right = NULL;
    for (const char *p = s; *p; p++) {
        if ((*p & 0xc0) == 0x80)
            continue;
        if (at == head)
            left = p;
        if (at == n - tail)
            right = p;
        at++;
    }
    return arena_printf(a, "%.*s...%s", (int)(left - s), s, right ? right : "");
}

const char *
string_tail(struct arena *a, const char *s, int max)
{
    s = string_clean(a, s);
    int n = 0;
    for (const char *p = s; *p; p++)
        n += (*p & 0xc0) != 0x80;
    if (n <= max)
        return s;
    for (n -= max - 3; n > 0; n -= (*s & 0xc0) != 0x80)
        s++;
    return arena_printf(a, "...%s", s);
}

const char *
string_op(struct arena *a, const char *s, int max)
{
    static const char overload[] = ".default";
    const size_t n = sizeof(overload) - 1;
    if (!s || !strstr(s, overload))
        return string_clip(a, s, max);
    char *out = arena_str(a, s);
    for (char *p = out; (p = strstr(p, overload));)
        if (isalnum((unsigned char)p[n]) || p[n] == '_')
            p += n;
        else
            memmove(p, p + n, strlen(p + n) + 1);
    return string_clip(a, out, max);
}

const char *
string_module_pattern(struct arena *a, const char *path)
{
    char *out = arena_alloc(a, strlen(path) + 1), *o = out;
    while (*path) {
        const bool number = isdigit((unsigned char)*path);
        *o++ = number ? '*' : *path++;
        while (number && isdigit((unsigned char)*path))
            path++;
    }
    return out;
}

const char *
string_pattern(struct arena *a, const char *s)
{
    size_t n = strlen(s), end = n;
    while (end && s[end - 1] >= '0' && s[end - 1] <= '9')
        end--;
    return string_module_pattern(a, arena_strn(a, s, end && end < n && s[end - 1] == '_' ? end - 1 : n));
}

const char *
string_path_pattern(struct arena *a, const char *path)
{
    char *out = arena_alloc(a, strlen(path) + 1), *o = out;
    for (const char *p = path; *p;) {
        size_t n = p == path || p[-1] == '.' ? strspn(p, "0123456789") : 0;
        if (n && (p[n] == '.' || !p[n])) {
            *o++ = '*';
            p += n;
        } else {
            *o++ = *p++;
        }
    }
    return out;
}

const char *
string_quote(struct arena *a, const char *s, int max)
{
    char *out = arena_str(a, arena_printf(a, "`%s`", string_clip(a, s, max)));
    for (char *p = out + 1; p[1]; p++)
        *p = *p == '`' ? '\'' : *p;
    return out;
}

const char *
string_shell(struct arena *a, const char *path)
{
    if (!path || !*path || string_clean(a, path) != path)
        return NULL;
    if (is_pasteable(path))
        return path;
    char *out = arena_alloc(a, 4 * strlen(path) + sizeof("./''")), *o = out;
    o += sprintf(o, "%s'", *path == '-' ? "./" : "");
    for (const char *p = path; *p; p++)
        o += sprintf(o, *p == '\'' ? "'\\''" : "%c", *p);
    memcpy(o, "'", sizeof("'"));
    return out;
}

bool
string_ends(const char *s, const char *with)
{
    const size_t n = strlen(s), m = strlen(with);
    return n >= m && strcmp(s + n - m, with) == 0;
}
