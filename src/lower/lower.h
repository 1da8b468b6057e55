/* SPDX-License-Identifier: Apache-2.0 */
/* lower.h - how a file tells the program that it was exported from. */
#ifndef LOWER_H
#define LOWER_H

#include "program/program.h"

/* Total: what can't be lowered becomes a doubt of g. */
/* What the file says of the step and no option does: the optimizer, of a capture. */
void lower_setup(const struct graph *g, struct arena *a, struct setup *s);
struct program *lower_run(struct graph *g, const struct setup *s);

void fact_list(FILE *out);                          /* --list=facts */
void fact_dump(const struct program *p, FILE *out); /* --dump=facts: those that hold in the file */

/* provenance.c: where the model comes from; a doubt is added to p's graph where that makes the number one. */
struct provenance provenance_find(struct program *p, const struct setup *s);

#endif
