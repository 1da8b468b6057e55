/* SPDX-License-Identifier: Apache-2.0 */
/* xml.c - a writer of libxml2 that never prints. */
#include "xml.h"

#include "reports/reports.h"

#include <libxml/xmlerror.h>

static void
ignore(void *to, const char *fmt, ...)
{
    (void)to, (void)fmt;
}

const char *
reports_library(void)
{
    return LIBXML_DOTTED_VERSION;
}

xmlTextWriterPtr
xml_writer(FILE *out, xmlOutputBufferPtr *buffer)
{
    xmlSetGenericErrorFunc(NULL, ignore);
    *buffer = xmlOutputBufferCreateFile(out, NULL);
    return *buffer ? xmlNewTextWriter(*buffer) : NULL;
}
