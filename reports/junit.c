/* SPDX-License-Identifier: Apache-2.0 */
/* junit.c - JUnit XML: the model is a suite, a gate a case. There is no official schema; what Jenkins, GitLab and
 * Bazel read in common is kept: no time and no host, so that the same input gives the same bytes.
 */
#include "reports/reports.h"
#include "xml.h"

#define XML(s) ((const xmlChar *)(s))

static void
attribute(xmlTextWriterPtr w, struct arena *a, const char *name, const char *value)
{
    xmlTextWriterWriteAttribute(w, XML(name), XML(string_clip(a, value, 2000)));
}

static void
property(xmlTextWriterPtr w, struct arena *a, const char *name, const char *value)
{
    xmlTextWriterStartElement(w, XML("property"));
    attribute(w, a, "name", name);
    attribute(w, a, "value", value);
    xmlTextWriterEndElement(w);
}

static void
testcase(xmlTextWriterPtr w, struct arena *a, const struct result *r, const struct check *c)
{
    static const char *const element[CHECK_COUNT] = {[CHECK_FAILED] = "failure",
                                                     [CHECK_SKIPPED] = "skipped",
                                                     [CHECK_UNJUDGED] = "error",
                                                     [CHECK_ACCEPTED] = "skipped"};
    xmlTextWriterStartElement(w, XML("testcase"));
    attribute(w, a, "classname", r->model.file);
    attribute(w, a, "name", c->name);
    if (element[c->outcome]) {
        xmlTextWriterStartElement(w, XML(element[c->outcome]));
        attribute(w, a, "message", c->message ? c->message : "not asked for");
        if (check_stops(c))
            attribute(w, a, "type", c->name);
        xmlTextWriterEndElement(w);
    }
    xmlTextWriterEndElement(w);
}

bool
junit_write(const struct result *r, FILE *out, bool colour, int width)
{
    (void)colour, (void)width;
    struct arena *a = arena_new();
    const struct check explained = {"explained", r->ndoubts ? emit_verdict(a, r) : NULL,
                                    r->ndoubts ? CHECK_SKIPPED : CHECK_PASSED};
    int count[CHECK_COUNT] = {0};
    count[explained.outcome]++;
    for (int i = 0; i < r->nchecks; i++)
        count[r->checks[i].outcome]++;
    xmlOutputBufferPtr buffer;
    xmlTextWriterPtr w = xml_writer(out, &buffer);
    if (!w) {
        arena_free(a);
        return false;
    }
    xmlTextWriterSetIndent(w, 1);
    xmlTextWriterStartDocument(w, NULL, "UTF-8", NULL);
    xmlTextWriterStartElement(w, XML("testsuites"));
    xmlTextWriterStartElement(w, XML("testsuite"));
    attribute(w, a, "name", arena_printf(a, "memlint %s", r->model.file));
    attribute(w, a, "tests", arena_printf(a, "%d", r->nchecks + 1));
    attribute(w, a, "failures", arena_printf(a, "%d", count[CHECK_FAILED]));
    attribute(w, a, "errors", arena_printf(a, "%d", count[CHECK_UNJUDGED]));
    attribute(w, a, "skipped", arena_printf(a, "%d", count[CHECK_SKIPPED] + count[CHECK_ACCEPTED]));
    xmlTextWriterStartElement(w, XML("properties"));
    property(w, a, "peak_allocated_bytes", arena_printf(a, "%lld", (long long)r->peak.allocated));
    property(w, a, "verdict", verdict_names[r->verdict]);
    if (r->baseline)
        property(w, a, "increase_bytes", arena_printf(a, "%lld", (long long)r->baseline->increase_bytes));
    xmlTextWriterEndElement(w);
    testcase(w, a, r, &explained);
    for (int i = 0; i < r->nchecks; i++)
        testcase(w, a, r, &r->checks[i]);
    xmlTextWriterWriteElement(w, XML("system-out"), XML(emit_verdict(a, r)));
    bool ok = xmlTextWriterEndDocument(w) >= 0 && xmlTextWriterFlush(w) >= 0;
    xmlFreeTextWriter(w);
    arena_free(a);
    return ok && !ferror(out);
}
