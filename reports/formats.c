/* SPDX-License-Identifier: Apache-2.0 */
/* formats.c - the table of report formats. A format is a row here and a file that writes it; --format, the extension of
 * -o FILE, --list=formats, the help and the man page all read this table.
 */
#include "reports/reports.h"

#include <string.h>
#include <strings.h>

const struct format formats[] = {
    {"text", ".txt", "one screen for people", text_write},
    {"full", ".full.txt", "the same without limits", full_write},
    {"json", ".json", "every fact, schema 1", json_write},
    {"jsonl", ".jsonl", "the same on one line, for many models", jsonl_write},
    {"markdown", ".md", "a summary for a pull request", markdown_write},
    {"html", ".html", "a page with pictures, in one file", html_write},
    {"sarif", ".sarif", "SARIF 2.1.0, for code scanning", sarif_write},
    {"junit", ".xml", "JUnit XML, a case a gate", junit_write},
    {"gitlab", ".codequality.json", "GitLab's code quality report", gitlab_write},
    {"gitlab-metrics", ".metrics", "GitLab's metrics report, OpenMetrics text", gitlab_metrics_write},
    {"github", ".github", "GitHub's workflow commands, which annotate lines", github_write},
    {"csv", ".csv", "the tensors alive at the peak, as a table", csv_write},
};
const int nformats = COUNT(formats);

const struct format *
format_by_name(const char *name)
{
    for (int i = 0; i < nformats; i++)
        if (strcmp(formats[i].name, name) == 0)
            return &formats[i];
    return NULL;
}

const struct format *
format_by_extension(const char *path)
{
    const struct format *best = NULL;
    size_t n = strlen(path), most = 0;
    for (int i = 0; i < nformats; i++) {
        size_t e = strlen(formats[i].extension);
        if (n > e && e > most && strcasecmp(path + n - e, formats[i].extension) == 0) {
            best = &formats[i];
            most = e;
        }
    }
    return best;
}

void
format_list(FILE *out)
{
    for (int i = 0; i < nformats; i++)
        fprintf(out, "%s\t%s (%s)\n", formats[i].name, formats[i].help, formats[i].extension);
}
