/* SPDX-License-Identifier: Apache-2.0 */
/* gitlab.c - what GitLab's merge requests read: the code quality report, a list of issues with fingerprints, of which
 * equal ones collapse; and the metrics report, OpenMetrics text, of which it shows what changed.
 */
#include "json.h"

#include <inttypes.h>
#include <string.h>

bool
gitlab_write(const struct result *r, FILE *out, bool colour, int width)
{
    static const char *const severities[] = {"info", "minor", "major", "critical"};
    (void)colour, (void)width;
    struct arena *a = arena_new();
    struct json j = {.out = out, .lines = true};
    int n;
    struct issue *all = emit_issues(a, r, &n);
    json_open(&j, NULL, '[');
    for (int i = 0; i < n; i++) {
        const char *path = string_clip(a, all[i].file, 500);
        if (all[i].suppressed || all[i].known)
            continue;
        json_open(&j, NULL, '{');
        json_text(&j, "description", string_clip(a, all[i].message, 1000));
        json_text(&j, "check_name", string_clip(a, all[i].rule, 200));
        json_text(&j, "fingerprint", arena_printf(a, "%016" PRIx64, all[i].id));
        json_text(&j, "severity", severities[all[i].severity]);
        json_open(&j, "location", '{');
        json_text(&j, "path", strncmp(path, "./", 2) == 0 ? path + 2 : path);
        json_open(&j, "lines", '{');
        json_int(&j, "begin", all[i].line);
        json_close(&j, '}');
        json_close(&j, '}');
        json_close(&j, '}');
    }
    json_close(&j, ']');
    fputc('\n', out);
    arena_free(a);
    return !ferror(out);
}

static void
escaped(FILE *out, const char *s, const char *special)
{
    for (; *s; s++)
        fprintf(out, strchr(special, *s) ? "\\%c" : "%c", *s);
}

static void
metric(FILE *out, const char *name, const char *model, int64_t n)
{
    fprintf(out, "memlint_%s{model=\"", name);
    escaped(out, model, "\"\\");
    fprintf(out, "\"} %" PRId64 "\n", n);
}

static void
bytes_metric(struct arena *a, FILE *out, const char *name, const char *model, int64_t bytes)
{
    if (bytes < 0)
        return;
    fprintf(out, "# TYPE memlint_%s_bytes gauge\n# UNIT memlint_%s_bytes bytes\n", name, name);
    metric(out, arena_printf(a, "%s_bytes", name), model, bytes);
}

/* Of each gate that was asked for whether it stops the model, so that a change shows, and its sentence. */
static void
metric_of_gate(struct arena *a, FILE *out, const char *model, const struct check *c)
{
    char *name = arena_printf(a, "gate_%s", c->name);
    for (char *p = name; *p; p++)
        *p = *p == '-' ? '_' : *p;
    fprintf(out, "# TYPE memlint_%s gauge\n# HELP memlint_%s %s: ", name, name, outcome_names[c->outcome]);
    escaped(out, string_clip(a, c->message, 1000), "\"\\");
    fputc('\n', out);
    metric(out, name, model, check_stops(c));
}

bool
gitlab_metrics_write(const struct result *r, FILE *out, bool colour, int width)
{
    (void)colour, (void)width;
    struct arena *a = arena_new();
    const char *model = string_clip(a, r->model.file, 500);
    bytes_metric(a, out, "peak_allocated", model, r->peak.allocated);
    bytes_metric(a, out, "peak_certain", model, r->peak.certain);
    bytes_metric(a, out, "peak_reserved", model, r->peak.reserved);
    bytes_metric(a, out, "peak_device", model, r->peak.device);
    bytes_metric(a, out, "parameters", model, r->model.parameter_bytes);
    for (int c = 0; c < CLASS_COUNT; c++)
        if (c != CLASS_PARAMETERS)
            bytes_metric(a, out, class_names[c], model, r->class_bytes[c]);
    for (int i = 0; i < r->nchecks; i++)
        if (r->checks[i].message)
            metric_of_gate(a, out, model, &r->checks[i]);
    fputs("# EOF\n", out);
    arena_free(a);
    return !ferror(out);
}
