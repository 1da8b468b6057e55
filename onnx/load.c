/* SPDX-License-Identifier: Apache-2.0 */
/* load.c - from the skeleton to struct graph, by way of protobuf-c.
 *
 * protobuf-c unpacks the skeleton into the run's arena: its allocator never frees, and fails over a budget. The graph
 * keeps pointing at the strings of that tree. Nothing outside onnx/ sees it.
 *
 *   read_model     the tree, which graphs are made of: a file is read once, however many graphs a run needs of it
 *   onnx_graph     opset, producer, functions, the graph
 *   unpack_type    a value's type, which stays bytes up to here: most values have that of another
 *   load_graph     one graph: inputs, initializers, nodes, value_info, metadata; recurses into attributes
 *   load_tensor    dtype, dims, byte count and, when small, the value, from any of the payload fields
 *   read_external  small tensors beside the model: their values may be shapes. A path must be relative and without
 *                  "..", and the file that it leads to must lie under the model's folder or, for caches that keep
 *                  links to a folder of blobs, under the folder where the model really is.
 *
 * Element types that the format does not know become undefined. Missing names, types and values are left open: later
 * passes say what they could not find out.
 */
#include "onnx/onnx.h"
#include "scan.h"

#include "onnx.pb-c.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct loader {
    struct arena *a;
    struct err *e;
    const char *path;
    struct graph *root;
    size_t budget;
    struct arena *file;                  /* what is read of it once, whatever graphs are made */
    const Onnx__ValueInfoProto **lately; /* by their types' bytes: hundreds of a file's values have one of a few */
};

static void *
pb_alloc(void *data, size_t bytes)
{
    struct loader *l = data;
    return arena_bytes(l->a) > l->budget ? NULL : arena_alloc(l->a, bytes);
}

static void
pb_free(void *data, void *p)
{
    (void)data;
    (void)p;
}

static const char *
str(const char *s)
{
    return s ? s : "";
}

static const char *
domain_of(const char *s)
{
    return !s || strcmp(s, "ai.onnx") == 0 ? "" : s;
}

static enum dtype
dtype_of(int32_t t)
{
    return t > 0 && t < DT_COUNT ? (enum dtype)t : DT_UNDEFINED;
}

static const char *
property(size_t n, Onnx__StringStringEntryProto **props, const char *key)
{
    for (size_t i = 0; i < n; i++)
        if (props[i]->key && strcmp(props[i]->key, key) == 0)
            return props[i]->value;
    return NULL;
}

/* ---- tensors ----------------------------------------------------------------------------------------------------- */

static double
half(uint16_t h)
{
    int exponent = h >> 10 & 31, mantissa = h & 1023;
    double v = exponent == 31 ? (mantissa ? NAN : INFINITY)
               : exponent     ? ldexp(1024 + mantissa, exponent - 25)
                              : ldexp(mantissa, -24);
    return h & 0x8000 ? -v : v;
}

static double
bfloat(uint16_t h)
{
    uint32_t bits = (uint32_t)h << 16;
    float f;
    memcpy(&f, &bits, sizeof(f));
    return f;
}

/* Element k of little-endian data without alignment. */
static void
decode(const uint8_t *data, enum dtype t, int k, struct constant *c)
{
    uint64_t u = 0;
    int bytes = dtypes[t].bits / 8;
    float f;
    for (int b = 0; b < bytes; b++)
        u |= (uint64_t)data[(size_t)k * (size_t)bytes + (size_t)b] << 8 * b;
    switch (t) {
    case DT_FLOAT:
        memcpy(&f, &(uint32_t){(uint32_t)u}, sizeof(f));
        c->f[k] = f;
        break;
    case DT_DOUBLE:
        memcpy(&c->f[k], &u, sizeof(u));
        break;
    case DT_FLOAT16:
        c->f[k] = half((uint16_t)u);
        break;
    case DT_BFLOAT16:
        c->f[k] = bfloat((uint16_t)u);
        break;
    case DT_INT8:
        c->i[k] = (int8_t)u; /* NOLINT(bugprone-signed-char-misuse): a number */
        break;
    case DT_INT16:
        c->i[k] = (int16_t)u;
        break;
    case DT_INT32:
        c->i[k] = (int32_t)u;
        break;
    case DT_BOOL:
        c->i[k] = u != 0;
        break;
    default:
        c->i[k] = (int64_t)u;
    }
}

/* Types whose values memlint can follow: one number of at most eight bytes. */
static bool
has_values(enum dtype t)
{
    return t && (t <= DT_INT64 || (t >= DT_BOOL && t <= DT_UINT64) || t == DT_BFLOAT16);
}

static struct constant *
constant_new(struct arena *a, enum dtype t, int64_t n)
{
    struct constant *c = NEW(a, struct constant);
    c->n = (int)n;
    if (dtypes[t].is_float)
        c->f = NEWN(a, double, n + 1);
    else
        c->i = NEWN(a, int64_t, n + 1);
    return c;
}

/* Reads n elements from the typed fields; false when there are not as many. */
static bool
decode_typed(const Onnx__TensorProto *p, enum dtype t, int64_t n, struct constant *c)
{
    size_t want = (size_t)n;
    for (size_t k = 0; k < want; k++)
        if (t == DT_FLOAT && p->n_float_data == want)
            c->f[k] = p->float_data[k];
        else if (t == DT_DOUBLE && p->n_double_data == want)
            c->f[k] = p->double_data[k];
        else if (t == DT_INT64 && p->n_int64_data == want)
            c->i[k] = p->int64_data[k];
        else if ((t == DT_UINT32 || t == DT_UINT64) && p->n_uint64_data == want)
            c->i[k] = (int64_t)p->uint64_data[k];
        else if (t == DT_FLOAT16 && p->n_int32_data == want)
            c->f[k] = half((uint16_t)p->int32_data[k]);
        else if (t == DT_BFLOAT16 && p->n_int32_data == want)
            c->f[k] = bfloat((uint16_t)p->int32_data[k]);
        else if (!dtypes[t].is_float && t != DT_INT64 && p->n_int32_data == want)
            c->i[k] = p->int32_data[k];
        else
            return false;
    return true;
}

/* Whether the real path of a file under dir, or under the folder where the model really is. */
static bool
is_inside(const char *real, const char *dir)
{
    char folder[PATH_MAX];
    if (!realpath(dir, folder))
        return false;
    size_t n = strlen(folder);
    return strncmp(real, folder, n) == 0 && (real[n] == '/' || (n && folder[n - 1] == '/'));
}

static char *
folder_of(struct arena *a, const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? arena_strn(a, path, (size_t)(slash - path) + 1) : arena_str(a, "./");
}

static bool
parse_offset(const char *s, int64_t *out)
{
    char *end;
    errno = 0;
    *out = 0;
    if (!s)
        return true;
    if (*s < '0' || *s > '9')
        return false;
    long long v = strtoll(s, &end, 10);
    *out = v;
    return !errno && !*end && v >= 0;
}

static bool
leaves_folder(const char *location)
{
    if (*location == '/')
        return true;
    for (const char *s = location; s; s = strchr(s, '/') ? strchr(s, '/') + 1 : NULL)
        if (s[0] == '.' && s[1] == '.' && (!s[2] || s[2] == '/'))
            return true;
    return false;
}

/* The bytes of a small external tensor, or NULL when they can't be had. */
static const uint8_t *
read_external(struct loader *l, const char *location, int64_t offset, int64_t bytes)
{
    char real[PATH_MAX], model[PATH_MAX];
    const char *folder = folder_of(l->a, l->path);
    const char *full = arena_printf(l->a, "%s%s", folder, location);
    if (!realpath(full, real) || !realpath(l->path, model))
        return NULL;
    if (!is_inside(real, folder) && !is_inside(real, folder_of(l->a, model)))
        return NULL;
    int fd = open(real, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW);
    struct stat st;
    uint8_t *data = NULL;
    if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode)) {
        data = arena_alloc(l->a, (size_t)bytes);
        if (pread(fd, data, (size_t)bytes, (off_t)offset) != (ssize_t)bytes)
            data = NULL;
    }
    if (fd >= 0)
        close(fd);
    return data;
}

static bool
external_value(struct loader *l, const Onnx__TensorProto *p, struct tensor *t, int64_t n, struct constant *c)
{
    const char *location = property(p->n_external_data, p->external_data, "location");
    int64_t offset, length, bytes = dtype_bytes(t->dtype, n);
    for (size_t i = 0; i < p->n_external_data; i++)
        if (p->external_data[i]->key && strcmp(p->external_data[i]->key, "location") == 0 &&
            leaves_folder(str(p->external_data[i]->value)))
            return err_set(l->e, l->a, t->name, "external data outside of the model's folder are not read");
    if (!parse_offset(property(p->n_external_data, p->external_data, "offset"), &offset) ||
        !parse_offset(property(p->n_external_data, p->external_data, "length"), &length))
        return err_set(l->e, l->a, t->name, "offset or length of the external data is not a number");
    t->file_bytes = length ? length : bytes > 0 ? bytes : 0;
    if (c && location && *location && strlen(location) < PATH_MAX / 2 && bytes > 0) {
        const uint8_t *data = read_external(l, location, offset, bytes);
        for (int k = 0; data && k < n; k++)
            decode(data, t->dtype, k, c);
        t->value = data ? c : NULL;
    }
    return true;
}

/* Fills type, dims, byte count and value of t. */
static bool
load_tensor(struct loader *l, const Onnx__TensorProto *p, struct tensor *t)
{
    t->dtype = dtype_of(p->has_data_type ? p->data_type : 0);
    t->rank = (int)p->n_dims;
    t->dims = NEWN(l->a, struct dim, t->rank);
    for (int i = 0; i < t->rank; i++) {
        if (p->dims[i] < 0)
            return err_set(l->e, l->a, t->name, "the tensor has a negative dimension");
        t->dims[i].n = p->dims[i];
    }
    int64_t n = tensor_elements(t), bytes = dtype_bytes(t->dtype, n);
    if (n < 0)
        return err_set(l->e, l->a, t->name, "the tensor's size overflows 64 bits");
    t->file_bytes = p->data_bytes;
    bool fold = n <= limit(LIMIT_FOLD) && has_values(t->dtype);
    struct constant *c = fold ? constant_new(l->a, t->dtype, n) : NULL;
    if (p->n_external_data || p->data_location == 1)
        return external_value(l, p, t, n, c);
    bool typed = p->n_float_data || p->n_int32_data || p->n_int64_data || p->n_double_data || p->n_uint64_data;
    if (p->has_raw_data && dtypes[t->dtype].bits && !typed && p->raw_data.len && (int64_t)p->raw_data.len != bytes)
        return err_set(l->e, l->a, t->name, "%lld bytes of data where its dimensions ask for %lld",
                       (long long)p->raw_data.len, (long long)bytes);
    if (!c)
        return true;
    if (n == 0) {
        t->value = c;
    } else if (p->has_raw_data && (int64_t)p->raw_data.len == bytes) {
        for (int k = 0; k < n; k++)
            decode(p->raw_data.data, t->dtype, k, c);
        t->value = c;
    } else if (decode_typed(p, t->dtype, n, c)) {
        t->value = c;
    }
    return true;
}

static bool
load_sparse(struct loader *l, const Onnx__SparseTensorProto *p, struct tensor *t)
{
    t->wrap = "";
    t->rank = (int)p->n_dims;
    t->dims = NEWN(l->a, struct dim, t->rank);
    struct tensor values = {.name = t->name};
    if (p->values && !load_tensor(l, p->values, &values))
        return false;
    t->dtype = values.dtype;
    t->file_bytes = values.file_bytes + (p->indices ? p->indices->data_bytes : 0);
    for (int i = 0; i < t->rank; i++) {
        if (p->dims[i] < 0)
            return err_set(l->e, l->a, t->name, "the sparse tensor has a negative dimension");
        t->dims[i].n = p->dims[i];
    }
    return true;
}

/* ---- types ------------------------------------------------------------------------------------------------------- */

static void *
unpack(struct loader *l, const ProtobufCMessageDescriptor *m, size_t size, const uint8_t *data)
{
    l->budget = arena_bytes(l->a) + (64 << 20) + 64 * size;
    ProtobufCAllocator allocator = {pb_alloc, pb_free, l};
    void *p = protobuf_c_message_unpack(m, &allocator, size, data);
    if (!p)
        err_set(l->e, l->a, NULL, "not a model: the fields do not make sense together");
    return p;
}

/* Tells what a value's type is, once; false where it can't be unpacked. */
static bool
unpack_type(struct loader *l, Onnx__ValueInfoProto *p)
{
    const ProtobufCBinaryData *t = &p->type;
    if (p->told || !p->has_type)
        return true;
    const Onnx__ValueInfoProto **lately = &l->lately[scan_lately(t->data, t->len)], *q = *lately;
    struct loader own = {.a = l->file, .e = l->e};
    const bool same = q && scan_alike(q->type.data, q->type.len, t->data, t->len);
    p->told = same ? q->told : unpack(&own, &onnx__type_proto__descriptor, t->len, t->data);
    *lately = p;
    return p->told;
}

static void
load_shape(struct arena *a, const Onnx__TensorShapeProto *p, int *rank, struct dim **dims)
{
    *rank = -1;
    if (!p)
        return;
    *rank = (int)p->n_dim;
    *dims = NEWN(a, struct dim, *rank);
    for (int i = 0; i < *rank; i++) {
        const Onnx__TensorShapeProto__Dimension *d = p->dim[i];
        (*dims)[i].n = d->has_dim_value && d->dim_value >= 0 ? d->dim_value : -1;
        (*dims)[i].sym = (*dims)[i].n < 0 && d->dim_param && *d->dim_param ? d->dim_param : NULL;
    }
}

static void
load_type(struct arena *a, const Onnx__TypeProto *p, enum dtype *dtype, const char **wrap, int *rank, struct dim **dims)
{
    char letters[MAX_DEPTH + 1];
    int n = 0;
    *rank = -1;
    while (p && n < MAX_DEPTH) {
        if (p->tensor_type) {
            *dtype = dtype_of(p->tensor_type->elem_type);
            load_shape(a, p->tensor_type->shape, rank, dims);
            break;
        } else if (p->sparse_tensor_type) {
            letters[n++] = 'p';
            *dtype = dtype_of(p->sparse_tensor_type->elem_type);
            load_shape(a, p->sparse_tensor_type->shape, rank, dims);
            break;
        }
        const Onnx__TypeProto *in = NULL;
        if (p->sequence_type) {
            letters[n++] = 's';
            in = p->sequence_type->elem_type;
        } else if (p->optional_type) {
            letters[n++] = 'o';
            in = p->optional_type->elem_type;
        } else if (p->map_type) {
            letters[n++] = 'm';
            in = p->map_type->value_type;
        }
        p = in;
    }
    *wrap = n ? arena_strn(a, letters, (size_t)n) : "";
}

/* What a file says of a value that nothing here computes. */
static bool
load_input(struct loader *l, struct graph *g, Onnx__ValueInfoProto *p)
{
    int id = graph_tensor(g, str(p->name));
    struct tensor *t = &g->t[id];
    if (!unpack_type(l, p))
        return false;
    load_type(g->arena, p->told, &t->dtype, &t->wrap, &t->rank, &t->dims);
    t->fx_name = property(p->n_metadata_props, p->metadata_props, "pkg.torch.onnx.original_node_name");
    t->is_input = true;
    g->in[g->nin++] = id;
    return true;
}

static bool
load_declared(struct loader *l, struct graph *g, Onnx__ValueInfoProto *p, int id)
{
    struct tensor *t = &g->t[id];
    enum dtype dtype = DT_UNDEFINED;
    const char *wrap = "";
    if (!unpack_type(l, p))
        return false;
    load_type(g->arena, p->told, &dtype, &wrap, &t->declared_rank, &t->declared);
    t->declared_dtype = dtype;
    if (!t->dtype) {
        t->dtype = dtype;
        t->wrap = wrap;
    }
    const char *fx = property(p->n_metadata_props, p->metadata_props, "pkg.torch.onnx.original_node_name");
    if (fx)
        t->fx_name = fx;
    enum { MOST_NAMES = 8192 }; /* letters; a longer list says nothing, for it is read for each reader */
    const char *from = property(p->n_metadata_props, p->metadata_props, "pkg.onnxscript.optimizer.folded_from");
    t->folded_from = from && strlen(from) <= MOST_NAMES ? from : NULL;
    return true;
}

/* ---- nodes and graphs -------------------------------------------------------------------------------------------- */

static struct graph *load_graph(struct loader *l, const Onnx__GraphProto *p, struct graph *parent);

static const char *
bytes_str(struct arena *a, ProtobufCBinaryData b)
{
    return arena_strn(a, b.data ? (const char *)b.data : "", b.len);
}

/* Older files give no type: the field that is set tells. */
static int
attr_type(const Onnx__AttributeProto *p)
{
    if (p->has_type && p->type)
        return p->type;
    return p->has_f       ? 1
           : p->has_i     ? 2
           : p->has_s     ? 3
           : p->t         ? 4
           : p->g         ? 5
           : p->n_floats  ? 6
           : p->n_ints    ? 7
           : p->n_strings ? 8
                          : 0;
}

static bool
load_attr(struct loader *l, const Onnx__AttributeProto *p, struct attr *attr, struct graph *g)
{
    struct arena *a = l->a;
    attr->name = str(p->name);
    attr->ref = p->ref_attr_name && *p->ref_attr_name ? p->ref_attr_name : NULL;
    switch (attr_type(p)) {
    case 1:
        attr->type = p->has_f ? ATTR_FLOAT : ATTR_NONE;
        attr->f = p->f;
        break;
    case 2:
        attr->type = p->has_i || p->has_type ? ATTR_INT : ATTR_NONE;
        attr->i = p->i;
        break;
    case 3:
        attr->type = p->has_s ? ATTR_STRING : ATTR_NONE;
        attr->s = bytes_str(a, p->s);
        break;
    case 4:
    case 11: {
        struct tensor *t = NEW(a, struct tensor);
        t->name = p->t ? str(p->t->name) : "";
        t->wrap = "";
        t->rank = t->declared_rank = t->producer = -1;
        attr->t = t;
        attr->type = p->t || p->sparse_tensor ? ATTR_TENSOR : ATTR_NONE;
        return p->t ? load_tensor(l, p->t, t) : p->sparse_tensor ? load_sparse(l, p->sparse_tensor, t) : true;
    }
    case 5:
        attr->type = p->g ? ATTR_GRAPH : ATTR_NONE;
        return !p->g || (attr->g = load_graph(l, p->g, g));
    case 6:
        attr->type = ATTR_FLOATS;
        attr->n = (int)p->n_floats;
        double *floats = NEWN(a, double, attr->n);
        for (int i = 0; i < attr->n; i++)
            floats[i] = p->floats[i];
        attr->floats = floats;
        break;
    case 7:
        attr->type = ATTR_INTS;
        attr->n = (int)p->n_ints;
        attr->ints = p->ints;
        break;
    case 8:
        attr->type = ATTR_STRINGS;
        attr->n = (int)p->n_strings;
        attr->strings = NEWN(a, const char *, attr->n);
        for (int i = 0; i < attr->n; i++)
            attr->strings[i] = bytes_str(a, p->strings[i]);
        break;
    case 13: { /* a type: Optional and SequenceEmpty; kept as a tensor without a value */
        struct tensor *t = NEW(a, struct tensor);
        t->name = t->wrap = "";
        load_type(a, p->tp, &t->dtype, &t->wrap, &t->rank, &t->dims);
        attr->type = ATTR_OTHER;
        attr->t = t;
        break;
    }
    default:
        attr->type = p->has_type ? ATTR_OTHER : ATTR_NONE;
    }
    if (p->dropped_count) { /* too many to keep: only their number is known */
        attr->n = p->dropped_count > INT_MAX ? INT_MAX : (int)p->dropped_count;
        attr->ints = NULL;
        attr->floats = NULL;
        attr->strings = NULL;
    }
    return true;
}

static int *
load_names(struct graph *g, size_t n, char **names)
{
    int *ids = NEWN(g->arena, int, n);
    for (size_t i = 0; i < n; i++)
        ids[i] = *names[i] ? graph_tensor(g, names[i]) : -1;
    return ids;
}

static bool
load_node(struct loader *l, const Onnx__NodeProto *p, struct graph *g)
{
    struct node *n = graph_node(g);
    n->op = str(p->op_type);
    n->domain = domain_of(p->domain);
    n->overload = str(p->overload);
    n->name = str(p->name);
    n->nin = (int)p->n_input;
    n->in = load_names(g, p->n_input, p->input);
    n->nout = (int)p->n_output;
    n->out = load_names(g, p->n_output, p->output);
    for (int i = 0; i < n->nout; i++)
        if (n->out[i] >= 0)
            g->t[n->out[i]].producer = g->nn - 1;
    n->nattr = (int)p->n_attribute;
    n->attr = NEWN(l->a, struct attr, n->nattr);
    for (int i = 0; i < n->nattr; i++)
        if (!load_attr(l, p->attribute[i], &n->attr[i], g))
            return false;
    static const struct {
        const char *key;
        size_t field, own; /* own: where scan.c has put it */
    } keys[] = {
        {"pkg.torch.onnx.fx_node", offsetof(struct node, fx), offsetof(Onnx__NodeProto, fx_node)},
        {"pkg.torch.onnx.name_scopes", offsetof(struct node, scopes), offsetof(Onnx__NodeProto, name_scopes)},
        {"pkg.torch.onnx.class_hierarchy", offsetof(struct node, classes), offsetof(Onnx__NodeProto, class_hierarchy)},
        {"pkg.torch.onnx.stack_trace", offsetof(struct node, stack), offsetof(Onnx__NodeProto, stack_trace)},
        {"pkg.onnxscript.rewriter.rule_name", offsetof(struct node, rules), offsetof(Onnx__NodeProto, rule_name)},
    };
    for (int i = 0; i < COUNT(keys); i++) {
        const char *own = *(char *const *)((const char *)p + keys[i].own);
        *(const char **)((char *)n + keys[i].field) =
            own ? own : property(p->n_metadata_props, p->metadata_props, keys[i].key);
    }
    return true;
}

static bool
load_initializer(struct loader *l, struct graph *g, const char *name, const Onnx__TensorProto *dense,
                 const Onnx__SparseTensorProto *sparse)
{
    int id = graph_tensor(g, name);
    struct tensor *t = &g->t[id];
    if (t->is_initializer)
        return err_set(l->e, l->a, name, "the initializer is given twice");
    t->is_initializer = true;
    t->wrap = "";
    return dense ? load_tensor(l, dense, t) : load_sparse(l, sparse, t);
}

static struct graph *
load_graph(struct loader *l, const Onnx__GraphProto *p, struct graph *parent)
{
    struct arena *a = l->a;
    struct graph *g = parent ? graph_new(a, parent) : l->root;
    g->name = str(p->name);
    g->in = NEWN(a, int, p->n_input);
    g->out = NEWN(a, int, p->n_output);
    for (size_t i = 0; i < p->n_input; i++)
        if (!load_input(l, g, p->input[i]))
            return NULL;
    for (size_t i = 0; i < p->n_initializer; i++)
        if (!load_initializer(l, g, str(p->initializer[i]->name), p->initializer[i], NULL))
            return NULL;
    for (size_t i = 0; i < p->n_sparse_initializer; i++) {
        const Onnx__SparseTensorProto *sp = p->sparse_initializer[i];
        if (!load_initializer(l, g, sp->values ? str(sp->values->name) : "", NULL, sp))
            return NULL;
    }
    int nin = 0; /* up to IR 3 each initializer is an input, too */
    for (int i = 0; i < g->nin; i++)
        if (!g->t[g->in[i]].is_initializer)
            g->in[nin++] = g->in[i];
        else
            g->t[g->in[i]].is_input = false;
    g->nin = nin;
    for (size_t i = 0; i < p->n_node; i++)
        if (!load_node(l, p->node[i], g))
            return NULL;
    for (size_t i = 0; i < p->n_output; i++) {
        int id = graph_tensor(g, str(p->output[i]->name));
        g->out[g->nout++] = id;
        g->t[id].is_output = true;
        if (!load_declared(l, g, p->output[i], id))
            return NULL;
    }
    for (size_t i = 0; i < p->n_value_info; i++) {
        int id = graph_find(g, str(p->value_info[i]->name));
        if (id >= 0 && !g->t[id].is_input && !load_declared(l, g, p->value_info[i], id))
            return NULL;
    }
    if (!parent)
        g->signature =
            property(p->n_metadata_props, p->metadata_props, "pkg.torch.export.ExportedProgram.graph_signature");
    return g;
}

enum { NEWEST_OPSET = 28 };

static int
default_opset(size_t n, Onnx__OperatorSetIdProto **imports)
{
    for (size_t i = 0; i < n; i++)
        if (!*domain_of(imports[i]->domain))
            return imports[i]->version < 1 ? 1 : imports[i]->version > 100000 ? 100000 : (int)imports[i]->version;
    return NEWEST_OPSET;
}

static bool
load_function(struct loader *l, const Onnx__FunctionProto *p)
{
    struct graph *root = l->root;
    struct function *f = PUSH(l->a, root->f, root->nf, root->cap_f);
    struct graph *g = graph_new(l->a, root);
    f->name = str(p->name);
    f->domain = domain_of(p->domain);
    f->overload = str(p->overload);
    f->body = g;
    g->opset = p->n_opset_import ? default_opset(p->n_opset_import, p->opset_import) : root->opset;
    g->in = load_names(g, p->n_input, p->input);
    for (size_t i = 0; i < p->n_input; i++)
        if (g->in[i] >= 0) {
            g->t[g->in[i]].is_input = true;
            g->in[g->nin++] = g->in[i];
        }
    for (size_t i = 0; i < p->n_node; i++)
        if (!load_node(l, p->node[i], g))
            return false;
    g->out = NEWN(l->a, int, p->n_output);
    for (size_t i = 0; i < p->n_output; i++)
        g->out[g->nout++] = graph_tensor(g, p->output[i]);
    f->attr = NEWN(l->a, struct attr, p->n_attribute_proto);
    for (size_t i = 0; i < p->n_attribute_proto; i++)
        if (!load_attr(l, p->attribute_proto[i], &f->attr[f->nattr++], g))
            return false;
    return true;
}

static void *
unpack_skeleton(struct loader *l, const ProtobufCMessageDescriptor *m, const struct skeleton *s)
{
    void *p = unpack(l, m, s->size, s->data);
    scan_release();
    return p;
}

struct onnx_file {
    struct arena *arena;
    const char *path, *text; /* text: in ONNX text syntax; NULL: model */
    const Onnx__ModelProto *model;
    int64_t bytes;
};

static const struct onnx_file *
read_model(struct loader *l, const struct skeleton *s)
{
    const Onnx__ModelProto *p = unpack_skeleton(l, &onnx__model_proto__descriptor, s);
    if (p && !p->graph)
        err_set(l->e, l->a, NULL, "no graph in the file: not an ONNX model, or truncated");
    if (!p || !p->graph)
        return NULL;
    struct onnx_file *f = NEW(l->a, struct onnx_file);
    *f = (struct onnx_file){.arena = l->a, .path = l->path, .model = p, .bytes = s->file_bytes};
    return f;
}

struct graph *
onnx_graph(struct arena *a, const struct onnx_file *f, struct err *e)
{
    struct loader loader = {.a = a, .e = e, .path = f->path, .file = f->arena}, *l = &loader;
    const Onnx__ModelProto *p = f->model;
    *e = (struct err){.file = f->path};
    if (f->text)
        return onnx_parse_text(a, f->path, f->text, e);
    l->lately = NEWN(a, const Onnx__ValueInfoProto *, LATELY);
    struct graph *g = l->root = graph_new(l->a, NULL);
    g->file = l->path;
    g->file_bytes = f->bytes;
    g->ir_version = p->ir_version < 0 ? 0 : p->ir_version > 100000 ? 100000 : (int)p->ir_version;
    g->producer = str(p->producer_name);
    g->producer_version = str(p->producer_version);
    g->opset = default_opset(p->n_opset_import, p->opset_import);
    for (size_t i = 0; i < p->n_metadata_props; i++)
        graph_describe(g, str(p->metadata_props[i]->key), str(p->metadata_props[i]->value));
    for (size_t i = 0; i < p->n_opset_import; i++)
        graph_import(g, domain_of(p->opset_import[i]->domain));
    for (size_t i = 0; i < p->n_functions; i++)
        if (!load_function(l, p->functions[i]))
            return NULL;
    if (!load_graph(l, p->graph, NULL) || !graph_finish(g, l->e))
        return NULL;
    return g;
}

static const struct onnx_file *
read_text(struct arena *a, const char *path, struct err *e)
{
    struct onnx_file *f = NEW(a, struct onnx_file);
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    struct stat st;
    char *text = NULL;
    if (fd < 0 || fstat(fd, &st) != 0) {
        err_set(e, a, NULL, "cannot be opened: %s", strerror(errno));
    } else if (!S_ISREG(st.st_mode)) {
        err_set(e, a, NULL, "is not a regular file");
    } else if (st.st_size > limit(LIMIT_TEXT)) {
        err_limit(e, a, NULL, LIMIT_TEXT, "the text is too long");
    } else {
        text = arena_alloc(a, (size_t)st.st_size + 1);
        ssize_t n = pread(fd, text, (size_t)st.st_size, 0);
        text[n < 0 ? 0 : n] = '\0';
    }
    if (fd >= 0)
        close(fd);
    *f = (struct onnx_file){.path = path, .text = text};
    return text ? f : NULL;
}

const struct onnx_file *
onnx_read(struct arena *a, const char *path, struct err *e)
{
    struct loader l = {.a = a, .e = e, .path = path};
    struct skeleton s;
    *e = (struct err){.file = path};
    if (string_ends(path, ".txt") || string_ends(path, ".onnxtxt"))
        return read_text(a, path, e);
    return scan_file(a, path, false, &s, e) ? read_model(&l, &s) : NULL;
}

struct graph *
onnx_load_bytes(struct arena *a, const char *path, const uint8_t *data, size_t size, struct err *e)
{
    struct loader l = {.a = a, .e = e, .path = path};
    struct skeleton s;
    *e = (struct err){.file = path};
    const struct onnx_file *f = scan_bytes(a, data, size, false, &s, e) ? read_model(&l, &s) : NULL;
    return f ? onnx_graph(a, f, e) : NULL;
}

const struct tensor *
onnx_load_tensor(struct arena *a, const char *path, struct err *e)
{
    struct loader l = {.a = a, .e = e, .path = path};
    struct skeleton s;
    *e = (struct err){.file = path};
    if (!scan_file(a, path, true, &s, e))
        return NULL;
    const Onnx__TensorProto *p = unpack_skeleton(&l, &onnx__tensor_proto__descriptor, &s);
    if (!p)
        return NULL;
    struct tensor *t = NEW(a, struct tensor);
    t->name = str(p->name);
    t->wrap = "";
    t->producer = t->declared_rank = -1;
    return load_tensor(&l, p, t) ? t : NULL;
}

const char *
onnx_library(void)
{
    return protobuf_c_version();
}
