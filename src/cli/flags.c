/* SPDX-License-Identifier: Apache-2.0 */
/* flags.c - the flag file: options that are reviewed with the code, one a line.
 *
 * It is called .memlint and lies beside the model or at the root of its git repository; the nearer one counts, and only
 * one is read. Lines that begin with # are comments. What the lines mean is options.c's affair.
 */
#include "cli/cli.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char NAME[] = ".memlint";

const char *
flags_find(struct arena *a, const char *model)
{
    const char *slash = strrchr(model, '/');
    char *folder = slash ? arena_strn(a, model, (size_t)(slash - model) + 1) : "./";
    const char *beside = slash ? arena_printf(a, "%s%s", folder, NAME) : NAME;
    char real[PATH_MAX];
    if (access(beside, R_OK) == 0)
        return beside;
    if (!realpath(folder, real))
        return NULL;
    for (char *end = real + strlen(real); end;) {
        *end = '\0';
        const char *path = arena_printf(a, "%s/%s", real, NAME);
        if (access(arena_printf(a, "%s/.git", real), F_OK) == 0)
            return access(path, R_OK) == 0 ? path : NULL;
        end = strrchr(real, '/');
    }
    return NULL;
}

struct flag_line *
flags_read(struct arena *a, const char *path, int *n, const char **wrong)
{
    static const char blanks[] = " \t\r";
    struct err e = {0};
    struct flag_line *lines = NULL;
    int nlines = 0, cap = 0, number = 0;
    char *next = stored_text(a, path, LIMIT_LIST, &e);
    if (!next)
        *wrong = arena_printf(a, "%s: %s%s%s", path, e.message, e.remedy ? "; " : "", e.remedy ? e.remedy : "");
    while (next) {
        char *s = strsep(&next, "\n");
        s += strspn(s, blanks);
        for (size_t k = strlen(s); k && strchr(blanks, s[k - 1]); k--)
            s[k - 1] = '\0';
        number++;
        if (*s && *s != '#')
            *PUSH(a, lines, nlines, cap) = (struct flag_line){s, number};
    }
    *n = nlines;
    return lines;
}
