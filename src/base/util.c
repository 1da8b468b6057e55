/* SPDX-License-Identifier: Apache-2.0 */
/* util.c - memory, text, names and element types.
 *
 * One arena per run: blocks that double up to 64 KiB, since several arenas are alive at once and the last block of each
 * is half empty; big requests in a block of their own; everything dropped at once. Blocks are kept for the next arena,
 * cleared as far as they were used. Nothing else in memlint frees memory.
 * die() is the only way out when the machine refuses; a model that asks for more than the most that arena_guard was
 * told leaves by its jump, and arena_free_newer drops what lay on the way.
 */
#include "base/base.h"

#include <ctype.h>
#include <errno.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

/* Under AddressSanitizer what is not given out is poisoned, and a gap lies between allocations. */
#ifndef __has_feature
#define __has_feature(x) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer)
#include <sanitizer/asan_interface.h>
enum { GAP = 16 };
#else
#define ASAN_POISON_MEMORY_REGION(at, bytes)   ((void)(at), (void)(bytes))
#define ASAN_UNPOISON_MEMORY_REGION(at, bytes) ((void)(at), (void)(bytes))
enum { GAP = 0 };
#endif

enum { ALIGN = 16, FIRST_BLOCK = 1 << 14, SIZES = 3, LAST_BLOCK = FIRST_BLOCK << (SIZES - 1) };

struct block {
    struct block *next;
    size_t size, used;
    _Alignas(ALIGN) char data[];
};

struct arena {
    struct block *blocks; /* the first one is being filled: */
    char *at;             /* from here on; what the block has of it is set when it is full */
    size_t left;
    size_t bytes;
    struct arena *older, *newer;
};

static struct arena *newest;
static struct block *kept[SIZES]; /* of FIRST_BLOCK, twice that and so on */
static size_t taken;              /* by all arenas */
static size_t most;               /* that all may take, while guard is set */
static jmp_buf *guard;

void
arena_guard(jmp_buf *over, int64_t bytes)
{
    guard = over;
    most = (size_t)bytes;
}

void
die(const char *fmt, ...)
{
    va_list ap;
    fputs("memlint: ", stderr);
    va_start(ap, fmt);
    vfprintf(stderr, fmt, ap);
    va_end(ap);
    fputc('\n', stderr);
    exit(EXIT_ENVIRONMENT);
}

void *
grow_or_die(void *p, size_t bytes)
{
    p = realloc(p, bytes);
    if (!p)
        die("out of memory: %zu bytes wanted", bytes);
    return p;
}

struct arena *
arena_new(void)
{
    struct arena *a = calloc(1, sizeof(*a));
    if (!a)
        die("out of memory");
    a->older = newest;
    if (newest)
        newest->newer = a;
    newest = a;
    return a;
}

/* Where blocks of that size are kept; NULL: nowhere, it is one request's. */
static struct block **
kept_of(size_t size)
{
    for (int i = 0; i < SIZES; i++)
        if (size == (size_t)FIRST_BLOCK << i)
            return &kept[i];
    return NULL;
}

static void
block_free(struct block *b)
{
    struct block **to = kept_of(b->size);
    ASAN_UNPOISON_MEMORY_REGION(b->data, b->size);
    if (!to) {
        free(b);
        return;
    }
    ASAN_POISON_MEMORY_REGION(b->data, b->size);
    b->next = *to; /* cleared, as far as it was used, when it is wanted again */
    *to = b;
}

/* Tells the block that is being filled how far it is. */
static void
fill(struct arena *a)
{
    if (a->blocks)
        a->blocks->used = a->blocks->size - a->left;
}

void
arena_free(struct arena *a)
{
    if (!a)
        return;
    fill(a);
    for (struct block *b = a->blocks, *next; b; b = next) {
        next = b->next;
        block_free(b);
    }
    if (a->older)
        a->older->newer = a->newer;
    if (a == newest)
        newest = a->older;
    else
        a->newer->older = a->older;
    taken -= a->bytes;
    free(a);
}

void
arena_release(void)
{
    for (int i = 0; i < SIZES; i++)
        for (struct block *b; (b = kept[i]);) {
            kept[i] = b->next;
            ASAN_UNPOISON_MEMORY_REGION(b->data, b->size);
            free(b);
        }
#ifdef __GLIBC__
    malloc_trim(0);
#endif
}

void
arena_free_newer(const struct arena *a)
{
    while (newest != a)
        arena_free(newest);
}

static struct block *
block_new(struct arena *a, size_t size)
{
    if (guard && taken + size > most)
        longjmp(*guard, 1);
    struct block **from = kept_of(size), *b = from ? *from : NULL;
    if (b) {
        *from = b->next;
        b->next = NULL;
        ASAN_UNPOISON_MEMORY_REGION(b->data, size);
        memset(b->data, 0, b->used);
        b->used = 0;
    } else if (!(b = calloc(1, sizeof(*b) + size))) {
        die("out of memory: %zu bytes wanted", size);
    }
    b->size = size;
    ASAN_POISON_MEMORY_REGION(b->data, size);
    a->bytes += size;
    taken += size;
    return b;
}

static NORETURN void
too_much(size_t bytes)
{
    if (guard)
        longjmp(*guard, 2);
    die("out of memory: %zu bytes wanted", bytes);
}

/* Where the block being filled has no room, or nobody has it. */
static __attribute__((noinline)) void *
alloc_in_new(struct arena *a, size_t bytes, size_t wanted)
{
    if (bytes > PTRDIFF_MAX - ALIGN)
        too_much(bytes);
    struct block *b = a->blocks;
    size_t size = !b ? FIRST_BLOCK : b->size < LAST_BLOCK ? b->size * 2 : LAST_BLOCK;
    bool own = wanted > size / 4; /* a block of its own, behind the one being filled */
    struct block *fresh = block_new(a, own ? wanted : size);
    fresh->used = wanted;
    if (own && b) {
        fresh->next = b->next;
        b->next = fresh;
    } else {
        fill(a);
        fresh->next = b;
        a->blocks = fresh;
        a->at = fresh->data + wanted;
        a->left = fresh->size - wanted;
    }
    return fresh->data;
}

void *
arena_alloc(struct arena *a, size_t bytes)
{
    const size_t wanted = ((bytes + ALIGN - 1) & ~(size_t)(ALIGN - 1)) + GAP;
    void *p = a->at;
    if (wanted < a->left && bytes <= wanted) { /* no block has nothing left */
        a->at += wanted;
        a->left -= wanted;
    } else {
        p = alloc_in_new(a, bytes, wanted);
    }
    ASAN_UNPOISON_MEMORY_REGION(p, bytes);
    return p;
}

size_t
arena_bytes(const struct arena *a)
{
    return a->bytes;
}

void *
arena_dup(struct arena *a, const void *p, size_t bytes)
{
    return bytes ? memcpy(arena_alloc(a, bytes), p, bytes) : arena_alloc(a, 1);
}

char *
arena_strn(struct arena *a, const char *s, size_t n)
{
    char *copy = arena_alloc(a, n + 1);
    memcpy(copy, s, n);
    return copy;
}

char *
arena_str(struct arena *a, const char *s)
{
    return arena_strn(a, s, strlen(s));
}

char *
int_put(char *to, int64_t n)
{
    char digits[20], *end = digits + sizeof(digits), *p = end;
    uint64_t left = n < 0 ? -(uint64_t)n : (uint64_t)n;
    do
        *--p = (char)('0' + left % 10);
    while (left /= 10);
    if (n < 0)
        *to++ = '-';
    memcpy(to, p, (size_t)(end - p));
    return to + (end - p);
}

/* As vsnprintf writes the usual directives; -1 where there is another one, or not as much room. */
static int
print_usual(char *to, size_t room, const char *fmt, va_list ap)
{
    size_t at = 0;
    for (; *fmt; fmt++) {
        char digits[24];
        const char *s = fmt;
        size_t n = *fmt == '%' ? 0 : strcspn(fmt, "%");
        if (n) {
            fmt += n - 1;
        } else if (*++fmt == 's') {
            s = va_arg(ap, const char *);
            n = s ? strlen(s) : room;
        } else if (strncmp(fmt, ".*s", 3) == 0) {
            const int most = va_arg(ap, int);
            s = va_arg(ap, const char *);
            n = s && most >= 0 ? strnlen(s, (size_t)most) : room;
            fmt += 2;
        } else if (*fmt == 'd') {
            s = digits;
            n = (size_t)(int_put(digits, va_arg(ap, int)) - digits);
        } else if (strncmp(fmt, "lld", 3) == 0) {
            s = digits;
            n = (size_t)(int_put(digits, va_arg(ap, long long)) - digits);
            fmt += 2;
        } else {
            return -1;
        }
        if (n >= room - at)
            return -1;
        memcpy(to + at, s, n);
        at += n;
    }
    return (int)at;
}

char *
arena_vprintf(struct arena *a, const char *fmt, va_list ap)
{
    char text[4096]; /* past its end printf counts letter by letter */
    va_list again;
    va_copy(again, ap);
    int n = print_usual(text, sizeof(text), fmt, again);
    va_end(again);
    va_copy(again, ap);
    n = n < 0 ? vsnprintf(text, sizeof(text), fmt, again) : n;
    va_end(again);
    if (n < (int)sizeof(text))
        return arena_strn(a, text, n < 0 ? 0 : (size_t)n);
    char *s = arena_alloc(a, (size_t)n + 1);
    vsnprintf(s, (size_t)n + 1, fmt, ap);
    return s;
}

char *
arena_printf(struct arena *a, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    char *s = arena_vprintf(a, fmt, ap);
    va_end(ap);
    return s;
}

void
arena_drop(struct arena *a, const void *p, size_t bytes)
{
    struct block **at = &a->blocks->next, *b;
    if (bytes <= LAST_BLOCK / 4)
        return;
    while (*at && (*at)->data != p)
        at = &(*at)->next;
    if (!(b = *at))
        return;
    *at = b->next;
    a->bytes -= b->size;
    taken -= b->size;
    block_free(b);
}

void *
arena_grow(struct arena *a, void *array, int *cap, int n, size_t size)
{
    if (n <= *cap)
        return array;
    int64_t want = *cap ? (int64_t)*cap * 2 : 8;
    while (want < n)
        want *= 2;
    if (want > INT32_MAX)
        die("out of memory: more than %d elements", INT32_MAX);
    void *fresh = arena_alloc(a, (size_t)want * size);
    if (*cap) {
        memcpy(fresh, array, (size_t)*cap * size);
        arena_drop(a, array, (size_t)*cap * size);
    }
    *cap = (int)want;
    return fresh;
}

void *
arena_trim(struct arena *a, void *array, int *cap, int n, size_t size)
{
    const size_t bytes = (size_t)*cap * size;
    if (bytes <= LAST_BLOCK || n > *cap / 4 * 3)
        return array;
    void *fresh = arena_dup(a, array, (size_t)n * size);
    arena_drop(a, array, bytes);
    *cap = n;
    return fresh;
}

/* ---- paths of modules -------------------------------------------------------------------------------------------- */

const char *
path_last(const char *path)
{
    const char *dot = strrchr(path, '.');
    return dot ? dot + 1 : path;
}

bool
path_listed(const char *path)
{
    const char *name = path_last(path);
    return *name && !name[strspn(name, "0123456789")];
}

bool
path_within(const char *path, const char *module)
{
    size_t n = strlen(module);
    return strncmp(path, module, n) == 0 && (!n || !path[n] || path[n] == '.');
}

const char *
path_moved(struct arena *a, const char *path, const char *from, const char *to)
{
    return path_within(path, from) ? arena_printf(a, "%s%s", to, path + strlen(from)) : NULL;
}

bool
path_parts(struct arena *a, const char *one, const char *other, const char **module, const char **again)
{
    size_t same = 0;
    for (size_t i = 0; one[i] && one[i] == other[i]; i++)
        same = one[i] == '.' ? i + 1 : same;
    *module = arena_strn(a, one, same + strcspn(one + same, "."));
    *again = arena_strn(a, other, same + strcspn(other + same, "."));
    return (*module)[same] && (*again)[same];
}

const char *
path_number(const char *a, const char *b)
{
    while (*a && *a == *b) {
        a++;
        b++;
    }
    const char *end = a + strspn(a, "0123456789");
    return *a != *b && strcmp(end, b + strspn(b, "0123456789")) == 0 && (end > a || isdigit((unsigned char)*b)) ? end
                                                                                                                : NULL;
}

/* ---- names: open addressing, grown at two thirds ----------------------------------------------------------------- */

struct names {
    struct arena *a;
    uint64_t seed;
    int n, cap; /* cap is a power of two */
    struct name {
        const char *s;
        uint32_t hash;
        int id;
    } * slot;
};

static inline uint64_t
mix(uint64_t h, uint64_t word)
{
    h = (h ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    return h ^ h >> 29;
}

/* Names come from files: a seed of the run keeps them from being chosen to collide. */
static uint32_t
hash(const struct names *m, const char *s)
{
    const size_t n = strlen(s);
    uint64_t h = m->seed + n, word = 0;
    for (size_t i = sizeof(word); i < n; i += sizeof(word)) {
        memcpy(&word, s + i - sizeof(word), sizeof(word));
        h = mix(h, word);
    }
    if (n >= sizeof(word)) { /* what is left, with some of what was mixed: names differ at their ends */
        memcpy(&word, s + n - sizeof(word), sizeof(word));
        word = __builtin_bswap64(word);
    }
    if (n < sizeof(word)) { /* two parts that overlap, or three letters */
        uint32_t begin = 0, end = 0;
        if (n >= sizeof(begin)) {
            memcpy(&begin, s, sizeof(begin));
            memcpy(&end, s + n - sizeof(end), sizeof(end));
        } else if (n) {
            begin = (unsigned char)s[0];
            end = (uint32_t)(unsigned char)s[n / 2] << 8 | (unsigned char)s[n - 1];
        }
        word = (uint64_t)begin << 32 | end;
    }
    h = mix(h, word);
    return (uint32_t)(h ^ h >> 32);
}

struct names *
names_new(struct arena *a)
{
    struct names *m = NEW(a, struct names);
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    m->seed =
        ((uint64_t)now.tv_nsec << 32 ^ (uint64_t)now.tv_sec ^ (uint64_t)(uintptr_t)m) * UINT64_C(0xbf58476d1ce4e5b9);
    m->a = a;
    m->cap = 64;
    m->slot = NEWN(a, struct name, m->cap);
    return m;
}

static struct name *
names_slot(const struct names *m, const char *s, uint32_t h)
{
    int at = (int)(h & (uint32_t)(m->cap - 1));
    while (m->slot[at].s && (m->slot[at].hash != h || strcmp(m->slot[at].s, s) != 0))
        at = (at + 1) & (m->cap - 1);
    return &m->slot[at];
}

int
names_find(const struct names *m, const char *s)
{
    const struct name *n = names_slot(m, s, hash(m, s));
    return n->s ? n->id : -1;
}

/* Where s stands from now on, at first with the id -1. */
static struct name *
names_place(struct names *m, const char *s)
{
    uint32_t h = hash(m, s);
    struct name *n = names_slot(m, s, h);
    if (!n->s && m->n * 3 >= m->cap * 2) {
        struct name *old = m->slot;
        int cap = m->cap;
        m->cap *= 2;
        m->slot = NEWN(m->a, struct name, m->cap);
        for (int i = 0; i < cap; i++)
            if (old[i].s)
                *names_slot(m, old[i].s, old[i].hash) = old[i];
        arena_drop(m->a, old, sizeof(*old) * (size_t)cap);
        n = names_slot(m, s, h);
    }
    if (!n->s) {
        m->n++;
        *n = (struct name){s, h, -1};
    }
    return n;
}

void
names_put(struct names *m, const char *s, int id)
{
    struct name *n = names_place(m, s);
    n->s = s;
    n->id = id;
}

int *
names_id(struct names *m, const char *s)
{
    return &names_place(m, s)->id;
}

bool
err_set(struct err *e, struct arena *a, const char *place, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    e->place = place;
    e->message = arena_vprintf(a, fmt, ap);
    va_end(ap);
    return false;
}

int
by_number(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

int64_t
to_int(double v)
{
    return v != v ? 0 : v >= 0x1p63 ? INT64_MAX : v < -0x1p63 ? INT64_MIN : (int64_t)v;
}

/* ---- text -------------------------------------------------------------------------------------------------------- */

static const struct unit {
    const char *name;
    int64_t bytes;
} units[] = {
    {"TiB", INT64_C(1) << 40},
    {"GiB", 1 << 30},
    {"MiB", 1 << 20},
    {"KiB", 1 << 10},
    {"TB", INT64_C(1000000000000)},
    {"GB", 1000000000},
    {"MB", 1000000},
    {"KB", 1000},
    {"T", INT64_C(1) << 40},
    {"G", 1 << 30},
    {"M", 1 << 20},
    {"K", 1 << 10},
    {"B", 1},
    {"", 1},
};

const char *
count_text(struct arena *a, int64_t n)
{
    return n < 0      ? arena_printf(a, "-%s", count_text(a, -n))
           : n < 1000 ? arena_printf(a, "%lld", (long long)n)
                      : arena_printf(a, "%s,%03d", count_text(a, n / 1000), (int)(n % 1000));
}

char *
fixed_text(struct arena *a, double v, int digits, const char *unit)
{
    static const int64_t tens[] = {1, 10, 100, 1000};
    double scaled = digits < COUNT(tens) && !__builtin_signbit(v) && v < 1e12 ? v * (double)tens[digits] : -1;
    int64_t n = (int64_t)(scaled + 0.5);
    double off = scaled - (double)n;
    if (scaled < 0 || off > 0.499 || off < -0.499) /* where the last digit is near either */
        return arena_printf(a, "%.*f%s", digits, v, unit);
    char number[24], *p = number + sizeof(number);
    for (int i = 0; i <= digits || n; i++, n /= 10) {
        if (i == digits && i)
            *--p = '.';
        *--p = (char)('0' + n % 10);
    }
    size_t length = (size_t)(number + sizeof(number) - p), more = strlen(unit);
    char *text = arena_alloc(a, length + more + 1);
    memcpy(text, p, length);
    memcpy(text + length, unit, more + 1);
    return text;
}

const char *
bytes_text(struct arena *a, int64_t bytes)
{
    static const char *const shown[] = {" TiB", " GiB", " MiB", " KiB"}; /* of the first units */
    double b = (double)bytes;
    for (int i = 0; i < COUNT(shown); i++)
        if (b >= (double)units[i].bytes || -b >= (double)units[i].bytes)
            return fixed_text(a, b / (double)units[i].bytes, 2, shown[i]);
    return arena_printf(a, "%lld B", (long long)bytes);
}

int64_t
bytes_parse(const char *text)
{
    char *end = (char *)text;
    errno = 0;
    double v = (*text >= '0' && *text <= '9') || *text == '.' ? strtod(text, &end) : -1;
    if (end == text || errno || text[strspn(text, "0")] == 'x')
        return -1;
    while (*end == ' ')
        end++;
    for (int i = 0; i < COUNT(units); i++)
        if (strcasecmp(end, units[i].name) == 0) {
            v *= (double)units[i].bytes;
            return v < 9e18 ? (int64_t)v : -1;
        }
    return -1;
}

/* The letters and digits of s alone, small, as far as there is room. */
static void
word_plain(const char *s, char *out, size_t room)
{
    size_t n = 0;
    for (; *s && n < room - 1; s++)
        if (!strchr("-_ ", *s))
            out[n++] = *s >= 'A' && *s <= 'Z' ? (char)(*s - 'A' + 'a') : *s;
    out[n] = '\0';
}

enum { LONGEST_WORD = 80 };

bool
word_same(const char *a, const char *b)
{
    char x[LONGEST_WORD], y[LONGEST_WORD];
    word_plain(a, x, sizeof(x));
    word_plain(b, y, sizeof(y));
    return *x && strcmp(x, y) == 0;
}

/* Letters to insert, remove, replace or swap until a is b. */
static int
word_distance(const char *a, const char *b)
{
    int d[LONGEST_WORD][LONGEST_WORD], na = (int)strlen(a), nb = (int)strlen(b);
    for (int i = 0; i <= na; i++)
        for (int k = 0; k <= nb; k++) {
            int least = !i ? k : !k ? i : d[i - 1][k - 1] + (a[i - 1] != b[k - 1]);
            if (i && k && d[i - 1][k] + 1 < least)
                least = d[i - 1][k] + 1;
            if (i && k && d[i][k - 1] + 1 < least)
                least = d[i][k - 1] + 1;
            if (i > 1 && k > 1 && a[i - 1] == b[k - 2] && a[i - 2] == b[k - 1] && d[i - 2][k - 2] + 1 < least)
                least = d[i - 2][k - 2] + 1;
            d[i][k] = least;
        }
    return d[na][nb];
}

const char *
words_near(struct arena *a, const char *word, int n, const char *const *names)
{
    enum { SHOWN = 3, SHORT = 3 };
    char x[LONGEST_WORD], y[LONGEST_WORD];
    const char *near[SHOWN], *text = NULL;
    word_plain(word, x, sizeof(x));
    int count = 0, size = (int)strlen(x), best = size < SHORT ? 1 : 1 + size / SHORT;
    for (int i = 0; i < n && size; i++) {
        word_plain(names[i], y, sizeof(y));
        int distance = size >= SHORT && strstr(y, x) ? 0 : word_distance(x, y);
        if (distance > 1 && strlen(y) >= SHORT && strstr(x, y))
            distance = 1;
        if (distance > best || (distance == best && count == SHOWN))
            continue;
        count = distance < best ? 0 : count;
        best = distance;
        if (count < SHOWN)
            near[count++] = names[i];
    }
    for (int i = 0; i < count; i++)
        text = i ? arena_printf(a, "%s%s %s", text, i == count - 1 ? " or" : ",", near[i]) : near[i];
    return text;
}

bool
is_pasteable(const char *s)
{
    enum { LONGEST = 200 };
    size_t n = !s ? 0 : strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-:/");
    return n && n <= LONGEST && !s[n] && *s != '-';
}

/* One element of a glob against one character: the glob after it, or NULL. */
static const char *
glob_one(const char *g, char c)
{
    if (*g == '?')
        return g + 1;
    if (*g != '[' || !strchr(g + 1, ']'))
        return *g == c ? g + 1 : NULL;
    bool not = g[1] == '!', in = false;
    const char *p = g + 1 + not ;
    do {
        if (p[1] == '-' && p[2] && p[2] != ']') {
            in |= *p <= c && c <= p[2];
            p += 3;
        } else {
            in |= *p++ == c;
        }
    } while (*p && *p != ']');
    return in != not &&*p ? p + 1 : NULL;
}

bool
glob_match(const char *glob, const char *text)
{
    static const bool special[256] = {['\0'] = true, ['*'] = true, ['?'] = true, ['['] = true};
    const char *star = NULL, *mark = NULL; /* where to resume after the last star */
    for (; !special[(unsigned char)*glob]; glob++, text++)
        if (*glob != *text)
            return false;
    while (*text) {
        const char *next = *glob && *glob != '*' ? glob_one(glob, *text) : NULL;
        if (*glob == '*') {
            star = ++glob;
            mark = text;
            size_t rest = strcspn(glob, "*?[");
            if (!glob[rest]) { /* the text's end alone can be like it */
                size_t n = strlen(text);
                return n >= rest && memcmp(text + n - rest, glob, rest) == 0;
            }
            if (rest && !(text = mark = strchr(text, *glob)))
                return false;
        } else if (next) {
            glob = next;
            text++;
        } else if (star) {
            glob = star;
            if (strcspn(glob, "*?[") == 0)
                text = ++mark;
            else if (!(text = mark = strchr(mark + 1, *glob)))
                return false;
        } else {
            return false;
        }
    }
    while (*glob == '*')
        glob++;
    return !*glob;
}

/* ---- element types ----------------------------------------------------------------------------------------------- */

const struct dtype_row dtypes[DT_COUNT] = {
    [DT_UNDEFINED] = {"undefined", NULL, 0, false},
    [DT_FLOAT] = {"float", "float32", 32, true},
    [DT_UINT8] = {"uint8", "uint8", 8, false},
    [DT_INT8] = {"int8", "int8", 8, false},
    [DT_UINT16] = {"uint16", "uint16", 16, false},
    [DT_INT16] = {"int16", "int16", 16, false},
    [DT_INT32] = {"int32", "int32", 32, false},
    [DT_INT64] = {"int64", "int64", 64, false},
    [DT_STRING] = {"string", NULL, 0, false},
    [DT_BOOL] = {"bool", "bool", 8, false},
    [DT_FLOAT16] = {"float16", "float16", 16, true},
    [DT_DOUBLE] = {"double", "float64", 64, true},
    [DT_UINT32] = {"uint32", "uint32", 32, false},
    [DT_UINT64] = {"uint64", "uint64", 64, false},
    [DT_COMPLEX64] = {"complex64", "complex64", 64, true},
    [DT_COMPLEX128] = {"complex128", "complex128", 128, true},
    [DT_BFLOAT16] = {"bfloat16", "bfloat16", 16, true},
    [DT_FLOAT8E4M3FN] = {"float8e4m3fn", "float8_e4m3fn", 8, true},
    [DT_FLOAT8E4M3FNUZ] = {"float8e4m3fnuz", "float8_e4m3fnuz", 8, true},
    [DT_FLOAT8E5M2] = {"float8e5m2", "float8_e5m2", 8, true},
    [DT_FLOAT8E5M2FNUZ] = {"float8e5m2fnuz", "float8_e5m2fnuz", 8, true},
    [DT_UINT4] = {"uint4", NULL, 4, false},
    [DT_INT4] = {"int4", NULL, 4, false},
    [DT_FLOAT4E2M1] = {"float4e2m1", NULL, 4, true},
    [DT_FLOAT8E8M0] = {"float8e8m0", "float8_e8m0fnu", 8, true},
    [DT_UINT2] = {"uint2", NULL, 2, false},
    [DT_INT2] = {"int2", NULL, 2, false},
};

int64_t
dtype_bytes(enum dtype t, int64_t n)
{
    int64_t bits;
    if (n < 0 || !mul_ok(n, dtypes[t].bits, &bits))
        return -1;
    return bits / 8 + (bits % 8 != 0);
}

enum dtype
dtype_by_onnx(const char *name)
{
    for (int i = 1; i < DT_COUNT; i++)
        if (strcmp(dtypes[i].onnx, name) == 0)
            return (enum dtype)i;
    return DT_UNDEFINED;
}

enum dtype
dtype_by_torch(const char *name)
{
    for (int i = 1; i < DT_COUNT; i++)
        if (dtypes[i].torch && strcmp(dtypes[i].torch, name) == 0)
            return (enum dtype)i;
    return DT_UNDEFINED;
}

/* ---- words ------------------------------------------------------------------------------------------------------- */

const char *const phase_names[PHASE_COUNT] = {"build", "input", "forward", "loss", "backward", "update"};
const char *const class_names[CLASS_COUNT] = {"parameters",  "buffers",   "gradients", "optimizer", "saved",
                                              "temporaries", "workspace", "inputs",    "outputs"};

int64_t
bytes_add(int64_t a, int64_t b)
{
    int64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

double
bytes_percent(int64_t part, int64_t whole)
{
    return whole > 0 ? 100.0 * (double)part / (double)whole : 0;
}
