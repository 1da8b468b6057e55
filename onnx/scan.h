/* SPDX-License-Identifier: Apache-2.0 */
/* scan.h - between scan.c and load.c: the weight-free skeleton. */
#ifndef SCAN_H
#define SCAN_H

#include "onnx/onnx.h"

struct skeleton {
    const uint8_t *data;
    size_t size;
    int64_t file_bytes;
};

/* Walks the serialized message in path, a ModelProto or (tensor) a TensorProto, and writes its skeleton into a: only
 * fields that onnx.proto names, no payload whose elements are not followed. False and e: not a regular file, not this
 * format, cut off, or over a limit. */
bool scan_file(struct arena *a, const char *path, bool tensor, struct skeleton *out, struct err *e);
/* The same over bytes in memory. */
bool scan_bytes(struct arena *a, const uint8_t *data, size_t size, bool tensor, struct skeleton *out, struct err *e);

#endif
