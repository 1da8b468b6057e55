/* SPDX-License-Identifier: Apache-2.0 */
/* modules.h - modules by name: what a glob means, and names that stand for many. Between recompute.c and modules.c. */
#ifndef MODULES_H
#define MODULES_H

#include "advice/advice.h"

/* Per module the calls of it and those below it; first -1 where none are, or others stand between. */
struct region *modules_regions(struct arena *a, const struct program *p);
/* Modules that a glob matches and that run as one piece, but those inside of another that it matches; with every > 1
 * each every-th of them, the first among them. In the order of their first calls into to[], which has room for all
 * modules; how many. */
int modules_named(const struct program *p, const struct region *all, const char *glob, int every, int *to);

/* Whether the module is a list's element, or below something with a number: "h.0.mlp". */
bool modules_numbered(const char *path);

/* What one glob or several tell of: the same modules as in the words of --recompute and as Python finds them in
 * named_modules(). */
struct pattern {
    const char *name;  /* "*.attn,*.mlp", "h.*" with "/2" behind: every second */
    const char *regex; /* of the names, for re.fullmatch */
    int every, terms, n;
    const int *module;   /* in the order of their first calls */
    int64_t most, saves; /* bytes, roughly: what they no longer keep for the backward pass; less half of what the
                            largest makes again, which may or may not lie at the peak */
    double flops;        /* of their forward passes */
};
/* Patterns whose modules can all be wrapped (can[]), named after those that are worth it (worth[]): of those alike in
 * work and saving the shortest, at most `most`: what one name tells first, then the others evenly. kept, inside: bytes
 * that a module saves and nobody behind it reads, and all that it saves; flops, too, with the modules below. */
struct pattern *modules_patterns(struct arena *a, const struct program *p, const struct region *all, const bool *can,
                                 const bool *worth, const int64_t *kept, const int64_t *inside, const double *flops,
                                 int most, int *n);

#endif
