/* scan.h - between scan.c and load.c: the weight-free skeleton and the limits of the border. */
#ifndef SCAN_H
#define SCAN_H

#include "memlint.h"

enum limit {
    LIMIT_DEPTH = 100,          /* nested messages, as in the official parsers; a subgraph costs three */
    LIMIT_MESSAGES = 8 << 20,   /* in the whole file */
    LIMIT_NODES = 1 << 20,      /* nodes, initializers, inputs, ... of one graph */
    LIMIT_REPEATED = 1 << 16,   /* any other repeated field of one message */
    LIMIT_PROPERTIES = 4096,    /* key-value pairs of one message, opset imports */
    LIMIT_STRING = 1 << 16,     /* names; longer ones are refused */
    LIMIT_METADATA = 64 << 20,  /* one metadata value */
    LIMIT_KEEP = 1 << 16,       /* payload bytes of a tensor or an attribute that stay in the skeleton */
    LIMIT_ATTRIBUTE = 64 << 20, /* bytes of a repeated attribute */
    LIMIT_SKELETON = 512 << 20,
    LIMIT_TEXT = 64 << 20, /* a model in text syntax */
};

struct skeleton {
    const uint8_t *data;
    size_t size;
    int64_t file_bytes;
};

/* Walks the serialized message in path, a ModelProto or (tensor) a TensorProto, and writes its skeleton into a: only
 * fields that onnx.proto names, no payload above LIMIT_KEEP. False and e: not a regular file, not this format, cut
 * off, or over a limit. */
bool scan_file(struct arena *a, const char *path, bool tensor, struct skeleton *out, struct err *e);
/* The same over bytes in memory. */
bool scan_bytes(struct arena *a, const uint8_t *data, size_t size, bool tensor, struct skeleton *out, struct err *e);

#endif
