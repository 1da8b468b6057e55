/* formats.c - the table of report formats. A format is a row here and a file that writes it; --format, the extension of
 * -o FILE, --list=formats, the help and the man page all read this table.
 */
#include "memlint.h"

#include <string.h>
#include <strings.h>

const struct format formats[] = {
    {"text", ".txt", "one screen for people", text_write},
    {"json", ".json", "every fact, schema 1", json_write},
    {"jsonl", ".jsonl", "the same on one line, for many models", jsonl_write},
    {"markdown", ".md", "a summary for a pull request", markdown_write},
    {"html", ".html", "a page with pictures, in one file", html_write},
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
    size_t n = strlen(path);
    for (int i = 0; i < nformats; i++) {
        size_t e = strlen(formats[i].extension);
        if (n > e && strcasecmp(path + n - e, formats[i].extension) == 0)
            return &formats[i];
    }
    return NULL;
}

void
format_list(FILE *out)
{
    for (int i = 0; i < nformats; i++)
        fprintf(out, "%s\t%s (%s)\n", formats[i].name, formats[i].help, formats[i].extension);
}
