/* SPDX-License-Identifier: Apache-2.0 */
/* sarif.c - SARIF 2.1.0, as code scanning reads it: findings and failed gates with a place, a level and a fingerprint.
 *
 * A place is the Python line where the export knows it, else line 1 of the model: servers refuse results without a
 * line. Fingerprints follow rule, model and node, not sizes or line numbers, so that an alert stays the same one while
 * the code around it moves. Only the first location of a result is annotated; the node stands as a logical location.
 */
#include "json.h"

#include <inttypes.h>
#include <string.h>

enum { RESULTS = 5000, TEXT = 1000 }; /* GitHub shows no more results, and takes 1,024 characters of a description */

static const char *const levels[] = {"note", "warning", "error", "error"};

/* A path as a URI reference: RFC 3986, every other byte escaped. */
static const char *
uri(struct arena *a, const char *path)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/";
    path = string_clip(a, path, 1000);
    char *out = arena_alloc(a, strlen(path) * 3 + 16), *o = out;
    if (*path == '/')
        o += sprintf(o, "file://");
    while (strncmp(path, "./", 2) == 0)
        path += 2;
    for (; *path; path++)
        o += sprintf(o, strchr(plain, *path) ? "%c" : "%%%02X", (unsigned char)*path);
    return out;
}

static void
message(struct json *j, const char *key, const char *text)
{
    json_open(j, key, '{');
    json_text(j, "text", text);
    json_close(j, '}');
}

static int
rule_index(const struct issue *all, int n, const char *rule)
{
    int index = 0;
    for (int i = 0; i < n; i++) {
        bool again = false;
        for (int k = 0; k < i && !again; k++)
            again = strcmp(all[k].rule, all[i].rule) == 0;
        if (strcmp(all[i].rule, rule) == 0)
            return index;
        index += !again;
    }
    return index;
}

static void
rules(struct arena *a, struct json *j, const struct issue *all, int n)
{
    json_open(j, "rules", '[');
    for (int i = 0, next = 0; i < n; i++) {
        const char *rule = string_clip(a, all[i].rule, 200);
        if (rule_index(all, n, all[i].rule) != next)
            continue;
        next++;
        json_open(j, NULL, '{');
        json_text(j, "id", rule);
        static const char gate[] = "gate-";
        const char *help = all[i].help;
        bool stops = strncmp(rule, gate, sizeof(gate) - 1) == 0;
        message(j, "shortDescription", help ? help : rule);
        message(j, "fullDescription",
                help ? arena_printf(a, "%s: memlint ran the training step with this changed; docs/RULES.md explains it",
                                    help)
                : stops ? arena_printf(a, "A gate of memlint stops the model: --%s", rule + sizeof(gate) - 1)
                        : "What memlint can't tell from the file; what does not depend on it is certain");
        message(j, "help",
                all[i].how ? string_clip(a, all[i].how, TEXT) : "memlint --list=rules and man memlint say more.");
        json_open(j, "defaultConfiguration", '{');
        json_text(j, "level", levels[all[i].severity]);
        json_close(j, '}');
        json_close(j, '}');
    }
    json_close(j, ']');
}

static void
place(struct arena *a, struct json *j, const struct issue *i)
{
    json_open(j, "locations", '[');
    json_open(j, NULL, '{');
    json_open(j, "physicalLocation", '{');
    json_open(j, "artifactLocation", '{');
    json_text(j, "uri", uri(a, i->file));
    json_close(j, '}');
    json_open(j, "region", '{');
    json_int(j, "startLine", i->line);
    json_int(j, "startColumn", 1);
    json_int(j, "endLine", i->line);
    json_int(j, "endColumn", 2);
    json_close(j, '}');
    json_close(j, '}');
    if (i->node && *i->node) {
        json_open(j, "logicalLocations", '[');
        json_open(j, NULL, '{');
        json_text(j, "fullyQualifiedName", string_clip(a, i->node, TEXT));
        json_text(j, "kind", "element");
        json_close(j, '}');
        json_close(j, ']');
    }
    json_close(j, '}');
    json_close(j, ']');
}

/* state: whether it says what of it the baseline has. */
static void
result(struct arena *a, struct json *j, const struct issue *i, int index, bool state)
{
    json_open(j, NULL, '{');
    json_text(j, "ruleId", string_clip(a, i->rule, 200));
    json_int(j, "ruleIndex", index);
    json_text(j, "level", levels[i->severity]);
    if (state)
        json_text(j, "baselineState", i->known ? "unchanged" : "new");
    message(j, "message", string_clip(a, i->message, TEXT));
    place(a, j, i);
    json_open(j, "partialFingerprints", '{');
    json_text(j, "primaryLocationLineHash", arena_printf(a, "%016" PRIx64 ":1", i->id));
    json_text(j, "memlint/v1", arena_printf(a, "%016" PRIx64, i->id));
    json_close(j, '}');
    if (i->suppressed) {
        json_open(j, "suppressions", '[');
        json_open(j, NULL, '{');
        json_text(j, "kind", "external");
        json_text(j, "justification", string_clip(a, i->suppressed, TEXT));
        json_close(j, '}');
        json_close(j, ']');
    }
    json_close(j, '}');
}

bool
sarif_write(const struct result *r, FILE *out, bool colour, int width)
{
    (void)colour, (void)width;
    struct arena *a = arena_new();
    struct json j = {.out = out, .lines = true};
    int n;
    struct issue *all = emit_issues(a, r, &n);
    n = n < RESULTS ? n : RESULTS;
    json_open(&j, NULL, '{');
    json_text(&j, "$schema", "https://json.schemastore.org/sarif-2.1.0.json");
    json_text(&j, "version", "2.1.0");
    json_open(&j, "runs", '[');
    json_open(&j, NULL, '{');
    json_open(&j, "tool", '{');
    json_open(&j, "driver", '{');
    json_text(&j, "name", "memlint");
    json_text(&j, "version", r->version ? r->version : "unknown");
    rules(a, &j, all, n);
    json_close(&j, '}');
    json_close(&j, '}');
    json_open(&j, "automationDetails", '{'); /* up to the last slash is the category */
    json_text(&j, "id", arena_printf(a, "memlint/%s/", uri(a, r->model.file)));
    json_close(&j, '}');
    json_open(&j, "results", '[');
    for (int i = 0; i < n; i++)
        result(a, &j, &all[i], rule_index(all, n, all[i].rule), r->baseline != NULL);
    json_close(&j, ']');
    json_open(&j, "properties", '{');
    json_text(&j, "model", string_clean(a, r->model.file));
    json_text(&j, "verdict", verdict_names[r->verdict]);
    json_int(&j, "peakAllocatedBytes", r->peak.allocated);
    json_close(&j, '}');
    json_close(&j, '}');
    json_close(&j, ']');
    json_close(&j, '}');
    fputc('\n', out);
    arena_free(a);
    return !ferror(out);
}
