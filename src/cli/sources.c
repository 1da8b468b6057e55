/* SPDX-License-Identifier: Apache-2.0 */
/* sources.c - where the Python files lie: an export records names of files, a server that annotates lines wants paths.
 *
 * The walk is sorted, so that the same tree gives the same report, follows no links, and leaves out hidden folders and
 * those of virtual environments. It stops at a number of files that no repository of people has.
 */
#include "cli/cli.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { LIMIT = 100000, DEPTH = 24 };

struct walk {
    struct arena *a;
    int n, cap;
    const char **paths;
};

static void
walk(struct walk *w, const char *folder, const char *shown, int depth)
{
    struct dirent **entry;
    int n = depth < DEPTH ? scandir(folder, &entry, NULL, alphasort) : -1;
    for (int i = 0; i < n; i++) {
        const char *name = entry[i]->d_name, *dot = strrchr(name, '.');
        char *path = arena_printf(w->a, "%s/%s", folder, name);
        const char *relative = *shown ? arena_printf(w->a, "%s/%s", shown, name) : arena_str(w->a, name);
        struct stat st;
        if (*name != '.' && strcmp(name, "site-packages") != 0 && w->n < LIMIT && lstat(path, &st) == 0) {
            if (S_ISDIR(st.st_mode))
                walk(w, path, relative, depth + 1);
            else if (S_ISREG(st.st_mode) && dot && strcmp(dot, ".py") == 0)
                *PUSH(w->a, w->paths, w->n, w->cap) = relative;
        }
        free(entry[i]);
    }
    if (n >= 0)
        free(entry);
}

const char **
sources_find(struct arena *a, const char *folder, int *n)
{
    struct walk w = {.a = a};
    walk(&w, folder, "", 0);
    *n = w.n;
    return w.paths;
}
