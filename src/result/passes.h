/* SPDX-License-Identifier: Apache-2.0 */
/* passes.h - how results come about: from a step, from a file, from two of them. */
#ifndef PASSES_H
#define PASSES_H

#include "device/device.h"
#include "lower/lower.h"
#include "result/result.h"

/* Everything the reports show, from what the passes made; peak_alone: what a gate on the peak asks for, and no more. */
struct result *result_build(const struct graph *g, struct program *p, struct step *st, const struct setup *s,
                            bool peak_alone);
/* Makes these the choices of r, those that have a field of their own too. */
void result_choose(struct result *r, int n, const struct choice *c);

/* owner.c: what tensors are to whoever wrote the program. */
struct owner *owner_new(struct arena *a, const struct program *p, const struct setup *s);
/* "gradient of the logits (nll_loss_backward)", "optimizer state of fc.weight"; the text may live in the program. */
const char *owner_name(const struct owner *o, const struct storage *s);
/* Whether the loss or its backward pass runs, by a call of the model (NULL none). */
bool owner_in_loss(const struct owner *o, enum phase phase, const struct call *c);
/* Fills r->held. */
void owner_held(const struct owner *o, const struct step *st, const struct live *l, struct result *r);

/* choices.c: what was chosen for the step, in the order of the reports. */
struct choice *choices_of(struct arena *a, const struct setup *s, int *n);
/* The choices of a stored set-up: value(from, name) is what it says, NULL nothing, which is the default. */
struct choice *choices_stored(struct arena *a, const char *(*value)(const void *from, const char *name),
                              const void *from, int *n);

/* segments.c: fills r->segments but for what tensors say; the segment of a storage's block, -1 unknown; what the places
 * of r->live say of them. */
void segments_gather(struct arena *a, const struct machine *m, struct result *r);
int segments_find(const struct result *r, const struct storage *s);
void segments_fill(struct result *r);

/* certain.c: the least that the step allocates at its peak whatever the doubts turn out to be, bytes. */
int64_t certain_bytes(const struct step *st);

/* ---- stored.c: a JSON result read back --------------------------------------------------------------------------- */

/* Model, set-up, verdict, peak, tensors alive then, layers: what a comparison needs. NULL and e when it is no result
 * of memlint. */
struct result *stored_read(struct arena *a, const char *path, struct err *e);
/* The same from one line of a jsonl file. */
struct result *stored_parse(struct arena *a, const char *path, const char *text, struct err *e);
/* A whole text file of at most that limit's bytes; NULL and e. */
char *stored_text(struct arena *a, const char *path, enum limit most, struct err *e);

/* ---- compare.c: two results -------------------------------------------------------------------------------------- */

struct baseline *compare_run(struct arena *a, const struct result *old, const struct result *now);
/* Marks the findings of now that old has, too: of the same rule at the same place, or elsewhere but about as large. */
void compare_findings(const struct result *old, struct result *now);

#endif
