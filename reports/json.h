/* SPDX-License-Identifier: Apache-2.0 */
/* json.h - the JSON writer, shared by the formats that are JSON. Nobody else includes it. */
#ifndef JSON_H
#define JSON_H

#include "reports/reports.h"

struct json {
    FILE *out;
    bool lines; /* break lines and indent */
    bool html;  /* no character that HTML gives a meaning; lines without indent */
    int depth;
    uint64_t some; /* bit d: something was written at depth d */
};

/* key NULL: an element of a list. s NULL: null. */
void json_next(struct json *j, const char *key);
void json_string(struct json *j, const char *s);
void json_open(struct json *j, const char *key, char bracket);
void json_close(struct json *j, char bracket);
void json_text(struct json *j, const char *key, const char *s);
void json_int(struct json *j, const char *key, int64_t n);
void json_maybe(struct json *j, const char *key, int64_t n); /* below 0: null */
void json_percent(struct json *j, const char *key, double v);

#endif
