/* SPDX-License-Identifier: Apache-2.0 */
/* reports.h - views of one const struct result. */
#ifndef REPORTS_H
#define REPORTS_H

#include "device/device.h"
#include "result/result.h"

/* ---- reports/: views of one const struct result ------------------------------------------------------------------ */

struct format {
    const char *name, *extension, *help;
    /* Writes r to out; false when the stream failed. colour and width concern text only. */
    bool (*write)(const struct result *r, FILE *out, bool colour, int width);
};
extern const struct format formats[];
extern const int nformats;
const struct format *format_by_name(const char *name);
const struct format *format_by_extension(const char *path);
const char *reports_library(void); /* the version of libxml2 */
/* For main, once: SIGINT, SIGTERM and SIGHUP remove a report that is not whole and end the program with exit status
 * 4. */
void emit_guard(void);
/* Writes a report to path by way of a temporary file beside it: all or nothing. On failure returns false and says why
 * in *why. */
bool report_write(const struct result *r, const struct format *f, const char *path, const char **why);
/* Adds a report of one line to path in one write: what is there after a kill is whole lines and at most one torn. */
bool report_append(const struct result *r, const struct format *f, const char *path, const char **why);

/* The three sentences that come first. "Peak 5.1 GiB allocated at batch 32; fits ...", or "At least 1.2 GiB is certain;
 * unknown: ...", before it where the file is from, where that leads. What holds the peak and when it comes; NULL of an
 * inconclusive result. The change to make and its new peak; NULL there is none. */
const char *emit_verdict(struct arena *a, const struct result *r);
/* "1.50 GiB": the allocated bytes, or the least that is certain; "107.12 MiB to 110.12 MiB": what they can be. */
const char *emit_sure(struct arena *a, const struct result *r);
const char *emit_cause(struct arena *a, const struct result *r);
const char *emit_best(struct arena *a, const struct result *r);
/* The finding that emit_best is about; NULL none. */
const struct finding *emit_best_finding(const struct result *r);
/* That one, unless it is several, and then those that save most for what they cost, each alone: at most want. Returns
 * how many. */
int emit_best_changes(const struct result *r, int want, const struct finding **out);
/* Whether a change saves less than 1 % of the peak, or nothing, so that a short report hides it; how many do. */
bool emit_is_small(const struct result *r, const struct finding *f);
int emit_small(const struct result *r);
/* The operator that runs at the peak and its line; NULL unknown. */
const char *emit_operator(struct arena *a, const struct result *r);
/* Whether a space, which is not a text's first character, stands between a number and its unit: no line ends there. */
bool emit_is_unit(const char *space);
/* What a finding tells to do, as a heading: "Run under bf16 autocast"; of one that only informs what it is about. */
const char *emit_title(struct arena *a, const struct finding *f);
/* The rules of "together", "a, b and c". */
const char *emit_members(struct arena *a, const struct finding *f);
/* Where the file is from, under a verdict that does not say so; NULL nothing. */
const char *emit_note(const struct result *r);
/* "training, batch 32, adamw, fp32, loss auto": what was chosen, the defaults of most not named. */
const char *emit_setup(struct arena *a, const struct result *r);
/* An assumption, with the option that says otherwise and what that changes. */
const char *emit_assumption(struct arena *a, const struct result *r, int i);
/* The assumptions whose alternative moves the peak by more than 2 %, "12.00 MiB (4 %) less with --dropout=none"; NULL
 * none. */
const char *emit_swings(struct arena *a, const struct result *r);
/* What the step takes of the device, from the least context to the largest: "2.1 GiB to 3.3 GiB". */
const char *emit_device(struct arena *a, const struct result *r);
/* Of an inconclusive result: the peak as far as it was counted, where that is more than what is certain; the command
 * that settles what options can, else the call of Python that leaves nothing to settle. NULL none. */
const char *emit_estimate(struct arena *a, const struct result *r);
const char *emit_remedy(struct arena *a, const struct result *r);
const char *emit_signed(struct arena *a, int64_t bytes); /* "+5.1 GiB" */
/* A changed layer: its path, and what became of it, "weight [64, 10] -> [64, 20]". The peaks, "1.0 GiB -> 2.0 GiB
 * (+1.0 GiB, +100 %)". */
const char *emit_layer(struct arena *a, const struct layer_change *l, int max);
const char *emit_change(struct arena *a, const struct layer_change *l);
/* Layers that changed alike and differ in their numbers alone are one: "blocks.*.up". */
struct change_group {
    const char *name, *change, *location;
    int n, first; /* layers; index of the first */
    bool cause, outside;
    int64_t increase_bytes;
};
struct change_group *emit_changes(struct arena *a, const struct baseline *b, int *n);
const char *emit_increase(struct arena *a, const struct result *r);
/* What of the gates was let pass, and why: accepted, or not to be judged. NULL nothing. */
const char *emit_let_pass(struct arena *a, const struct result *r);
/* "blocks.0.act: gelu": a tensor by its module and what it is there. */
const char *emit_tensor(struct arena *a, const char *name, const char *path);
/* Tensors alive at the peak that differ in the numbers of their names alone, the most bytes first. */
struct tensor_group {
    const char *name, *location; /* name: of emit_tensor, with * for numbers where it has several; location: of the
                                    first that has one */
    bool elsewhere;              /* others have other locations */
    const struct live_tensor *first;
    int64_t bytes, slack_bytes;
    int count, *member, cap; /* members: indices into live */
    bool mixed;              /* of one module and class, and nothing else in common */
};
struct tensor_group *emit_groups(struct arena *a, const struct result *r, int *n);
void emit_sort_groups(struct tensor_group *g, int n);
const char *emit_shape(struct arena *a, int rank, const int64_t *shape);
const char *emit_modules(struct arena *a, const struct plan *p);   /* their names, "none" */
bool emit_avoids(const struct result *r, const struct finding *f); /* whether the step fits what the message left */
/* The changes with which it does, and what they reserve: "accumulate (9.72 GiB)". */
const char *emit_avoided(struct arena *a, const struct result *r);
/* "12 modules under checkpoint: 23.3 % more FLOPs"; NULL where the step has none. */
const char *emit_checkpoints(struct arena *a, const struct result *r);
/* Of a pattern how many modules it tells, and how far its peak is above that of scattered ones for no more work. */
const char *emit_pattern(struct arena *a, const struct plan *p);
/* The plan of the front that the report says to take; -1 it is not on it. */
int emit_plan_to_take(const struct result *r);
/* Extra work of the front's cheapest plan with no higher peak: "3.0 %", "-" for none. */
const char *emit_cheapest(struct arena *a, int n, const struct plan *front, int64_t peak);
/* Chooses at most want instants that stand for all: of each column the one with the largest total, the peak and every
 * phase among them. Fills at[] (room for ninstants) with ascending indices and returns how many. */
int emit_columns(const struct result *r, int want, int *at);
/* What the message held beside what the step holds when it asks, and whether they match; NULL where either is
 * unknown. */
const char *emit_oom(struct arena *a, const struct oom *o);
/* What one of several GPUs sends, and the units. */
const char *emit_ranks(struct arena *a, const struct ranks *k);
/* The outcome of a replay; that the step was another device's, NULL it was not; whether it was steady, NULL unknown; a
 * kernel by its shapes; what its library said of all convolutions or products, NULL there are none. */
const char *emit_replay(struct arena *a, const struct replay *q);
const char *emit_capability(struct arena *a, const struct replay *q);
const char *emit_steps(struct arena *a, const struct replay *q);
const char *emit_kernel(struct arena *a, const struct kernel_shape *s);
const char *emit_library(struct arena *a, const struct replay *q, bool products);
/* What servers of continuous integration list: gates that stop the model first, then findings, the gravest first. */
struct issue {
    const char *rule, *message, *how, *suppressed;
    const char *help;        /* what the rule is about, in a few words; NULL it is none */
    int severity;            /* as severity_rank; 3: a gate that stops the model */
    bool known;              /* the baseline has it, too */
    const char *file, *node; /* file: the Python file where the place is known, else the model */
    int line;
    bool in_code; /* file is the Python file */
    uint64_t id;  /* the same as long as rule, model, file and node are; different ones differ */
};
struct issue *emit_issues(struct arena *a, const struct result *r, int *n);
bool text_write(const struct result *r, FILE *out, bool colour, int width);
bool full_write(const struct result *r, FILE *out, bool colour, int width);
bool json_write(const struct result *r, FILE *out, bool colour, int width);
bool jsonl_write(const struct result *r, FILE *out, bool colour, int width);
bool markdown_write(const struct result *r, FILE *out, bool colour, int width);
bool html_write(const struct result *r, FILE *out, bool colour, int width);
bool sarif_write(const struct result *r, FILE *out, bool colour, int width);
bool junit_write(const struct result *r, FILE *out, bool colour, int width);
bool gitlab_write(const struct result *r, FILE *out, bool colour, int width);
bool gitlab_metrics_write(const struct result *r, FILE *out, bool colour, int width);
bool github_write(const struct result *r, FILE *out, bool colour, int width);
bool csv_write(const struct result *r, FILE *out, bool colour, int width);
void format_list(FILE *out);

#endif
