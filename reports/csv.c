/* SPDX-License-Identifier: Apache-2.0 */
/* csv.c - the tensors alive at the peak, each with why the model is stopped, as comma-separated values, RFC 4180, for
 * spreadsheets. Every text is quoted, and one that a spreadsheet would take for a formula gets an apostrophe before
 * it. One that reads semicolons as commas begins a cell after each.
 */
#include "reports/reports.h"

#include <inttypes.h>
#include <string.h>

static void
text(struct arena *a, FILE *out, const char *s, char after)
{
    s = string_clean(a, s);
    fputc('"', out);
    bool begins = true;
    for (; *s; s++) {
        if (begins && (strchr("=+-@", *s) || strncmp(s, "\xef\xbc", 2) == 0)) /* these are wide in U+FF0B, U+FF1D */
            fputc('\'', out);
        begins = *s == ';' || (begins && *s == ' ');
        if (*s == '"')
            fputc('"', out);
        fputc(*s, out);
    }
    fputc('"', out);
    fputc(after, out);
}

bool
csv_write(const struct result *r, FILE *out, bool colour, int width)
{
    (void)colour, (void)width;
    struct arena *a = arena_new();
    const char *judgement = r->gate ? r->gate : r->ndoubts || r->provenance.leads ? emit_verdict(a, r) : NULL;
    fputs("model,name,bytes,class,dtype,shape,layer,location,born,needed_by,judgement\n", out);
    if (r->provenance.none) {
        text(a, out, r->model.file, ',');
        fputs(",,,,,,,,,", out);
        text(a, out, judgement, '\n');
    }
    for (int i = 0; i < r->nlive; i++) {
        const struct live_tensor *t = &r->live[i];
        text(a, out, r->model.file, ',');
        text(a, out, t->name, ',');
        fprintf(out, "%" PRId64 ",%s,", t->bytes, class_names[t->class]);
        text(a, out, t->dtype, ',');
        text(a, out, emit_shape(a, t->rank, t->shape), ',');
        text(a, out, t->layer, ',');
        text(a, out, t->location, ',');
        text(a, out, t->born, ',');
        text(a, out, t->needed_by, ',');
        text(a, out, judgement, '\n');
    }
    arena_free(a);
    return !ferror(out);
}
