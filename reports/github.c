/* SPDX-License-Identifier: Apache-2.0 */
/* github.c - GitHub's workflow commands: a line of the log that annotates a line of the code, without any token.
 *
 * The runner shows ten annotations of a level and drops the rest without a word; so the gravest nine of each are
 * written, and a last line counts the others. What could end a property or the command is escaped, so that no string
 * of a model begins a command of its own.
 */
#include "reports/reports.h"

#include <string.h>

enum { SHOWN = 9 };

static const char *
escape(struct arena *a, const char *s, const char *also)
{
    s = string_clip(a, s, 1000);
    char *out = arena_alloc(a, strlen(s) * 3 + 1), *o = out;
    for (; *s; s++)
        if (strchr(also, *s))
            o += sprintf(o, "%%%02X", (unsigned char)*s);
        else
            *o++ = *s;
    return out;
}

bool
github_write(const struct result *r, FILE *out, bool colour, int width)
{
    static const char *const commands[] = {"notice", "warning", "error", "error"};
    static const char data[] = "%", property[] = "%:,";
    (void)colour, (void)width;
    struct arena *a = arena_new();
    int n, shown[4] = {[0] = 1}, rest = 0, known = 0;
    struct issue *all = emit_issues(a, r, &n);
    const char *model = escape(a, r->model.file, property);
    for (int i = 0; i < n; i++) {
        const struct issue *k = &all[i];
        known += k->known;
        int level = k->severity < 3 ? k->severity : 2;
        if (k->suppressed || k->known)
            continue;
        if (shown[level]++ >= SHOWN) {
            rest++;
            continue;
        }
        fprintf(out, "::%s file=%s,line=%d,title=memlint %s::%s\n", commands[level], escape(a, k->file, property),
                k->line, escape(a, k->rule, property), escape(a, k->message, data));
    }
    const char *words = emit_verdict(a, r);
    if (r->baseline)
        words = arena_printf(a, "%s; against the baseline: %s", words, emit_increase(a, r));
    if (known)
        words = arena_printf(a, "%s; %d findings that the baseline has, too, are left out", words, known);
    if (emit_let_pass(a, r))
        words = arena_printf(a, "%s; %s", words, emit_let_pass(a, r));
    if (rest)
        words = arena_printf(a, "%s; %d more findings stand in the other reports", words, rest);
    fprintf(out, "::notice file=%s,line=1,title=memlint::%s\n", model, escape(a, words, data));
    arena_free(a);
    return !ferror(out);
}
