/* SPDX-License-Identifier: Apache-2.0 */
/* onnx.h - the border: bytes or text to a graph. */
#ifndef ONNX_H
#define ONNX_H

#include "graph/graph.h"

const char *onnx_library(void); /* the version of protobuf-c */

struct onnx_file; /* what was read of a file */
/* Reads an ONNX file in binary (or, when its name ends in .txt or .onnxtxt, in ONNX text syntax) form. Weights are
 * never read; external data files need not exist. Returns NULL and fills e when the file is refused. */
const struct onnx_file *onnx_read(struct arena *a, const char *path, struct err *e);
/* A graph of its own, with functions inlined, names interned, nodes in topological order; its strings are the file's,
 * whose arena outlives it. NULL and e when the file is refused. */
struct graph *onnx_graph(struct arena *a, const struct onnx_file *f, struct err *e);
/* The same of a binary model in memory; path names it, and external data lie beside it. */
struct graph *onnx_load_bytes(struct arena *a, const char *path, const uint8_t *data, size_t size, struct err *e);
struct graph *onnx_parse_text(struct arena *a, const char *path, const char *text, struct err *e);
/* Prints a graph in ONNX text syntax: --dump=graph. */
void onnx_print_text(const struct graph *g, FILE *out);
/* Reads one serialized TensorProto (--input-value): type, dims and, when small, the value. NULL and e on a bad file. */
const struct tensor *onnx_load_tensor(struct arena *a, const char *path, struct err *e);

#endif
