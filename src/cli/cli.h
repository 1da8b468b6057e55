/* SPDX-License-Identifier: Apache-2.0 */
/* cli.h - what was asked: options, flag files, gates, many models. */
#ifndef CLI_H
#define CLI_H

#include "advice/advice.h"
#include "base/setup.h"
#include "reports/reports.h"

/* ---- options.c: the command line --------------------------------------------------------------------------------- */

struct format;

struct output { /* -o FILE */
    const char *path;
    const struct format *format;
};

struct suppression { /* --suppress */
    const char *rule, *glob, *until, *reason,
        *place; /* glob over nodes and locations, NULL all; place: where it was written */
    bool used;
};

struct flag_line { /* of a flag file */
    const char *text;
    int line;
};

enum dump { DUMP_NONE, DUMP_GRAPH, DUMP_SHAPES, DUMP_CALLS, DUMP_FACTS, DUMP_STEP };
enum when { WHEN_AUTO, WHEN_ALWAYS, WHEN_NEVER };

struct options {
    struct setup setup;
    int nmodels, noutputs, cap_outputs;
    char **models;
    struct output *outputs;
    const char **value_files;    /* of setup.values: read by main, which fills their t */
    const struct format *format; /* on standard output; NULL when --format was not given */
    enum dump dump;
    void (*list)(FILE *out);    /* --list: print this table and stop */
    int64_t max_peak;           /* -1 no gate */
    const char *fail_on;        /* a severity or "inconclusive"; NULL no gate */
    bool fail_on_known;         /* a gate that can't be judged passes */
    const char *baseline;       /* NULL none; % stands for the model's name */
    bool no_baseline;           /* --baseline=none: the model is new */
    int64_t max_increase_bytes; /* -1 no gate */
    double max_increase_percent;
    const char *max_peak_text, *device_text, *increase_bytes_text, *increase_percent_text; /* as they were typed */
    const char *accept; /* --accept: the reason; NULL none */
    bool update_baseline, expect_fail;
    int nsuppress;
    struct suppression *suppress;
    const char *flags; /* --flags: the flag file, "none", or NULL: look for .memlint */
    int nflags;
    struct flag_line *flag; /* what was taken from it */
    int nsaid, cap_said;
    const char **said;   /* options that a flag file may have, of it and of the command line, in order */
    const char *sources; /* --sources: the folder of the Python files */
    const char *files_from;
    int shard, shards; /* 1-based; 0 all */
    bool resume;
    const char *oom_text, *oom_file; /* --explain-oom: the message, and the file that holds it; NULL none */
    enum when colour, progress;
    bool quiet, verbose, help, version;
    bool scale;                         /* --parallel=auto */
    bool recompute;                     /* --recompute auto or SIZE: */
    int64_t recompute_budget;           /* bytes; 0 none */
    int replay;                         /* how often the step is played on the GPU; 0 not at all */
    int64_t replay_limit, replay_spare; /* bytes; 0 none, -1 the default */
    int argc;
    char **argv;
};
/* Fills o from the command line. Returns NULL, or one line that says what is wrong with it. */
const char *options_read(struct options *o, struct arena *a, int argc, char **argv);
/* The options for one model: those of its flag file, then those of the command line over them. */
const char *options_for(struct options *own, struct arena *a, const struct options *o, const char *model);
void options_help(FILE *out);

/* ---- flags.c: the flag file -------------------------------------------------------------------------------------- */

/* .memlint beside the model or in the nearest folder above it that has .git; NULL none. */
const char *flags_find(struct arena *a, const char *model);
/* Its lines without blanks around, comments and empty ones left out; NULL and *wrong when it can't be read. */
struct flag_line *flags_read(struct arena *a, const char *path, int *n, const char **wrong);

/* ---- sources.c --------------------------------------------------------------------------------------------------- */

/* The paths of all Python files below folder, relative to it; none when it can't be read. */
const char **sources_find(struct arena *a, const char *folder, int *n);

/* ---- gate.c: which results are stopped --------------------------------------------------------------------------- */

/* Marks the findings that a suppression of o covers, by the date of today. Returns what is to be said of suppressions:
 * NULL-terminated. */
const char **gate_suppress(struct arena *a, const struct options *o, struct result *r);
/* Fills r->checks, r->gate and r->verdict. */
void gate_judge(struct arena *a, const struct options *o, struct result *r);
/* The exit code of a judged result. */
int gate_code(const struct result *r);

/* ---- fleet.c: many models ---------------------------------------------------------------------------------------- */

/* The models of the command line or of --files-from, one a line, those of this shard only; *wrong when there are
 * none. */
char **fleet_list(struct arena *a, const struct options *o, int *n, const char **wrong);
/* Whether the model is in shard I of N: by a hash of its name, so that a longer list moves no other model. */
bool fleet_mine(const char *model, int shard, int shards);

struct tally { /* of a run over many models */
    int models, by_verdict[4], refused, skipped;
    int64_t highest;
    const char *highest_model;
    int code;
    struct names *done; /* models that a file of results holds */
};
void fleet_count(struct arena *a, struct tally *t, const struct result *r);
/* Reads a jsonl file that an earlier run left: has its lines judged, counts its models, cuts off a last line that is
 * not whole. judge: false and *why when this run can't judge the result. False and e. */
typedef bool fleet_judge(struct arena *a, const struct options *o, struct result *r, const char **why);
bool fleet_resume(struct arena *a, const struct options *o, const char *path, fleet_judge *judge, struct tally *t,
                  struct err *e);
const char *fleet_summary(struct arena *a, const struct tally *t);

#endif
