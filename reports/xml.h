/* SPDX-License-Identifier: Apache-2.0 */
/* xml.h - where html.c and junit.c begin to write through libxml2. Nobody else includes it. */
#ifndef XML_H
#define XML_H

#include <libxml/xmlwriter.h>

/* A writer to out, through *buffer, NULL when there is none; libxml2 keeps what it has to say of errors to itself,
 * since main says it. */
xmlTextWriterPtr xml_writer(FILE *out, xmlOutputBufferPtr *buffer);

#endif
