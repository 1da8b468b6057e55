/* SPDX-License-Identifier: Apache-2.0 */
/* scan.h - between scan.c and load.c: the weight-free skeleton. */
#ifndef SCAN_H
#define SCAN_H

#include "onnx/onnx.h"

#include <string.h>

struct skeleton {
    const uint8_t *data; /* until the next scan, or scan_release() */
    size_t size;
    int64_t file_bytes;
};

/* Walks the serialized message in path, a ModelProto or (tensor) a TensorProto, and writes its skeleton: only fields
 * that onnx.proto names, no payload whose elements are not followed. False and e: not a regular file, not this format,
 * cut off, or over a limit. */
bool scan_file(struct arena *a, const char *path, bool tensor, struct skeleton *out, struct err *e);
/* The same over bytes in memory. */
bool scan_bytes(struct arena *a, const uint8_t *data, size_t size, bool tensor, struct skeleton *out, struct err *e);
void scan_release(void);

/* Where of so many places to remember bytes that were met lately: types of values differ in their last dimensions. */
enum { LATELY_BITS = 7, LATELY = 1 << LATELY_BITS };
static inline unsigned
scan_lately(const uint8_t *data, size_t size)
{
    uint64_t word[2] = {0};
    const size_t n = size < sizeof(word) ? size : sizeof(word);
    if (n) /* data is NULL where there is none */
        memcpy(word, data + size - n, n);
    return (unsigned)(((word[0] * 31 ^ word[1]) + size) * UINT64_C(0x9e3779b97f4a7c15) >> (64 - LATELY_BITS));
}

static inline bool
scan_alike(const uint8_t *a, size_t n, const uint8_t *b, size_t m)
{
    return n == m && (!n || memcmp(a, b, n) == 0);
}

#endif
