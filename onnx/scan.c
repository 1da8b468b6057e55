/* SPDX-License-Identifier: Apache-2.0 */
/* scan.c - walk the wire format before protobuf-c sees anything, and write a skeleton without weights.
 *
 * protobuf-c has no limit on depth or memory, copies every payload and merges repeated messages in quadratic time. So
 * nothing goes to it that was not walked here first. The walk is driven by the descriptors that protoc-c generates
 * from onnx.proto; what they do not name is skipped.
 *
 * A message that may hold weights, at whatever depth, is read twice. survey() skips from field to field of one level
 * and counts: occurrences, bytes, limits, wire types. copy() writes the message to the skeleton, as it stands but for
 * such messages inside: these get five-byte length prefixes that are filled in afterwards. Of all others survey() goes
 * down into the messages inside, and they are copied as they stand. What is dropped is said in memlint's own fields:
 * data_bytes and data_dropped of a tensor, dropped_count of an attribute. The bytes of a dropped payload are never
 * touched, so a model of many gigabytes costs what its graph costs.
 *
 * The file is mapped. Somebody may cut it short meanwhile: the SIGBUS that follows is caught and becomes an error.
 *
 * Refused: groups in place of known fields, field number 0, varints of more than ten bytes, lengths beyond the
 * parent, a second occurrence of a message that may stand once (protobuf would merge), NUL in names, anything over a
 * limit of limits.c.
 */
#include "scan.h"

#include "onnx.pb-c.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    MAX_FIELDS = 20,
    MAX_MESSAGES = 24,
    MAX_ID = 32,         /* of fields that files have; */
    OWN_FIELDS = 100000, /* and of memlint's own */
    DATA_BYTES = 100001,
    DATA_DROPPED = 100002,
    DROPPED_COUNT = 100001,
    FX_NODE = 100001,
    NAME_SCOPES,
    CLASS_HIERARCHY,
    STACK_TRACE,
    RULE_NAME
};

enum payload { PLAIN, TENSOR_DATA, ATTRIBUTE_DATA, BLOB };

/* The limits of a field: of its occurrences or elements, and of its bytes. */
enum { USUAL = -1, NO_LIMIT = -2 };

/* Fields with a limit of their own, or whose content may be dropped. */
static const struct special {
    const ProtobufCMessageDescriptor *message;
    uint32_t id;
    int count, bytes; /* enum limit */
    enum payload payload;
    const ProtobufCMessageDescriptor *inner; /* of bytes that are a message */
} specials[] = {
    {&onnx__graph_proto__descriptor, 1, LIMIT_NODES, USUAL, PLAIN},
    {&onnx__graph_proto__descriptor, 5, LIMIT_TENSORS, USUAL, PLAIN},
    {&onnx__graph_proto__descriptor, 11, LIMIT_TENSORS, USUAL, PLAIN},
    {&onnx__graph_proto__descriptor, 12, LIMIT_TENSORS, USUAL, PLAIN},
    {&onnx__graph_proto__descriptor, 13, LIMIT_TENSORS, USUAL, PLAIN},
    {&onnx__graph_proto__descriptor, 16, LIMIT_PROPERTIES, USUAL, PLAIN},
    {&onnx__function_proto__descriptor, 9, LIMIT_PROPERTIES, USUAL, PLAIN},
    {&onnx__model_proto__descriptor, 8, LIMIT_PROPERTIES, USUAL, PLAIN},
    {&onnx__node_proto__descriptor, 9, LIMIT_PROPERTIES, USUAL, PLAIN},
    {&onnx__value_info_proto__descriptor, 2, USUAL, USUAL, PLAIN, &onnx__type_proto__descriptor},
    {&onnx__value_info_proto__descriptor, 4, LIMIT_PROPERTIES, USUAL, PLAIN},
    {&onnx__string_string_entry_proto__descriptor, 2, USUAL, LIMIT_METADATA, PLAIN},
    {&onnx__tensor_shape_proto__descriptor, 1, LIMIT_RANK, USUAL, PLAIN},
    {&onnx__sparse_tensor_proto__descriptor, 3, LIMIT_RANK, USUAL, PLAIN},
    {&onnx__tensor_proto__descriptor, 1, LIMIT_RANK, USUAL, PLAIN},
    {&onnx__tensor_proto__descriptor, 4, NO_LIMIT, NO_LIMIT, TENSOR_DATA},
    {&onnx__tensor_proto__descriptor, 5, NO_LIMIT, NO_LIMIT, TENSOR_DATA},
    {&onnx__tensor_proto__descriptor, 6, NO_LIMIT, NO_LIMIT, TENSOR_DATA},
    {&onnx__tensor_proto__descriptor, 7, NO_LIMIT, NO_LIMIT, TENSOR_DATA},
    {&onnx__tensor_proto__descriptor, 9, NO_LIMIT, NO_LIMIT, TENSOR_DATA},
    {&onnx__tensor_proto__descriptor, 10, NO_LIMIT, NO_LIMIT, TENSOR_DATA},
    {&onnx__tensor_proto__descriptor, 11, NO_LIMIT, NO_LIMIT, TENSOR_DATA},
    {&onnx__tensor_proto__descriptor, 16, LIMIT_PROPERTIES, USUAL, PLAIN},
    {&onnx__tensor_proto__descriptor, 13, LIMIT_PROPERTIES, USUAL, PLAIN},
    {&onnx__attribute_proto__descriptor, 4, USUAL, LIMIT_ATTRIBUTE, BLOB},
    {&onnx__attribute_proto__descriptor, 7, LIMIT_ATTRIBUTE, LIMIT_ATTRIBUTE, ATTRIBUTE_DATA},
    {&onnx__attribute_proto__descriptor, 8, LIMIT_ATTRIBUTE, LIMIT_ATTRIBUTE, ATTRIBUTE_DATA},
    {&onnx__attribute_proto__descriptor, 9, LIMIT_ATTRIBUTE, LIMIT_ATTRIBUTE, ATTRIBUTE_DATA},
};

struct form { /* of a message type */
    const ProtobufCMessageDescriptor *message;
    bool drops; /* it may hold fields that are dropped, itself or in a message inside, at whatever depth */
    struct kind *by_id[MAX_ID];
    struct kind {
        const ProtobufCFieldDescriptor *d;
        const struct special *special;
        int wire, at; /* at: its place among the fields */
        bool repeated, message, text;
        const struct form *inner; /* of the message */
        int count, bytes;         /* enum limit, or NO_LIMIT */
        int64_t most, most_bytes;
    } kind[MAX_FIELDS];
};

struct survey { /* of a message */
    struct found {
        int64_t count; /* elements; of payloads, of which packed ones are not looked into, a lower bound */
        int64_t bytes;
    } found[MAX_FIELDS];
    bool drop[BLOB + 1];
    /* copy() has to look at it again: it has fields that its type has not, or, where its form drops nothing, a message
     * inside has; where it drops some, a field is dropped, or there is a message inside. */
    bool changes;
    int64_t payload_bytes, payload_count;
};

struct scan {
    struct arena *arena;
    struct err *e;
    const uint8_t *base;
    uint8_t *out; /* malloc'd: the skeleton so far */
    size_t n, cap;
    int64_t messages, most_messages, most_bytes;
    int depth;
    const char *names[MAX_DEPTH + 1];
    struct looked { /* at bytes that are a message, which hundreds have in common */
        const uint8_t *data;
        size_t size;
        int depth;
        int64_t messages;
        bool changes;
    } lately[LATELY];
    int nforms;
    struct form form[MAX_MESSAGES];
};

struct field {
    uint32_t id;
    int wire;
    const uint8_t *start, *data, *next; /* data and size: the content without tag and length */
    size_t size;
};

enum { WIRE_VARINT, WIRE_64, WIRE_BYTES, WIRE_GROUP, WIRE_GROUP_END, WIRE_32 };

static const char *
place(const struct scan *s, const uint8_t *at)
{
    char where[160];
    size_t n = 0;
    where[0] = '\0';
    for (int i = 0; i < s->depth && n < sizeof(where) - 32; i++)
        n += (size_t)snprintf(where + n, sizeof(where) - n, "%s%s", i ? "." : "", s->names[i]);
    return arena_printf(s->arena, "byte %lld%s%s", (long long)(at - s->base), n ? ", in " : "", where);
}

static bool
refuse(struct scan *s, const uint8_t *at, const char *what)
{
    return err_set(s->e, s->arena, place(s, at), "%s", what);
}

static bool
over(struct scan *s, const uint8_t *at, enum limit which, const char *what)
{
    return err_limit(s->e, s->arena, place(s, at), which, what);
}

static bool
long_varint(struct scan *s, const uint8_t **p, const uint8_t *end, uint64_t *value)
{
    const uint8_t *start = *p;
    *value = 0;
    for (int shift = 0; shift < 70; shift += 7) {
        if (*p == end)
            return refuse(s, start, "truncated: the data end inside a number");
        uint8_t b = *(*p)++;
        if (shift < 63 || b <= 1)
            *value |= (uint64_t)(b & 0x7f) << shift;
        if (b < 0x80)
            return true;
    }
    return refuse(s, start, "not a protobuf message: a number of more than ten bytes");
}

static inline bool
varint(struct scan *s, const uint8_t **p, const uint8_t *end, uint64_t *value)
{
    if (*p == end || **p >= 0x80) /* NOLINT(clang-analyzer-core.NullDereference): no field begins at NULL */
        return long_varint(s, p, end, value);
    *value = *(*p)++;
    return true;
}

static bool read_any(struct scan *s, const uint8_t *p, const uint8_t *end, struct field *f);

/* Skips an unknown group, whose start tag has been read. */
static bool
skip_group(struct scan *s, const uint8_t *p, const uint8_t *end, struct field *f)
{
    uint32_t open[MAX_DEPTH];
    int depth = 0;
    open[depth++] = f->id;
    struct field in = {0};
    while (depth) {
        if (p == end)
            return refuse(s, f->start, "truncated: a group is not closed");
        const uint8_t *tag = p;
        uint64_t key;
        if (!varint(s, &p, end, &key))
            return false;
        if ((key & 7) == WIRE_GROUP) {
            if (depth == MAX_DEPTH)
                return over(s, tag, LIMIT_DEPTH, "groups are nested too deeply");
            open[depth++] = (uint32_t)(key >> 3);
        } else if ((key & 7) == WIRE_GROUP_END) {
            if (open[--depth] != (uint32_t)(key >> 3))
                return refuse(s, tag, "not a protobuf message: a group is closed by another's end");
        } else {
            if (!read_any(s, tag, end, &in))
                return false;
            p = in.next;
        }
    }
    f->next = p;
    return true;
}

static bool
read_any(struct scan *s, const uint8_t *p, const uint8_t *end, struct field *f)
{
    uint64_t key, v;
    f->start = p;
    if (!varint(s, &p, end, &key))
        return false;
    if (key >> 3 == 0 || key >> 3 > 0x1fffffff)
        return refuse(s, f->start, "not a protobuf message: bad field number");
    f->id = (uint32_t)(key >> 3);
    f->wire = (int)(key & 7);
    f->data = p;
    switch (f->wire) {
    case WIRE_VARINT:
        if (!varint(s, &p, end, &v))
            return false;
        break;
    case WIRE_BYTES:
        if (!varint(s, &p, end, &v))
            return false;
        if (v > (uint64_t)(end - p))
            return refuse(s, f->start, "truncated: a length goes beyond the end of what holds it");
        f->data = p;
        p += v;
        break;
    case WIRE_64:
    case WIRE_32:
        if (end - p < (f->wire == WIRE_64 ? 8 : 4))
            return refuse(s, f->start, "truncated: the data end inside a number");
        p += f->wire == WIRE_64 ? 8 : 4;
        break;
    case WIRE_GROUP:
        if (!skip_group(s, p, end, f))
            return false;
        p = f->next;
        break;
    default:
        return refuse(s, f->start, "not a protobuf message: bad wire type");
    }
    f->next = p;
    f->size = (size_t)(p - f->data);
    return true;
}

static inline bool
read_field(struct scan *s, const uint8_t *p, const uint8_t *end, struct field *f)
{
    if (end - p < 3)
        return read_any(s, p, end, f);
    const unsigned tag = p[0]; /* NOLINT(clang-analyzer-core.NullDereference): p < end */
    const uint8_t *data = p + 2;
    size_t size = p[1];
    if (size >= 0x80)
        size = (size & 0x7f) | (size_t)*data++ << 7;
    if ((tag & 0x87) != WIRE_BYTES || tag < 8 || size >= 0x80 << 7 || size > (size_t)(end - data))
        return read_any(s, p, end, f);
    *f = (struct field){tag >> 3, WIRE_BYTES, p, data, data + size, size}; /* most: short tags and lengths */
    return true;
}

static int
wire_of(ProtobufCType type)
{
    switch (type) {
    case PROTOBUF_C_TYPE_FLOAT:
        return WIRE_32;
    case PROTOBUF_C_TYPE_DOUBLE:
        return WIRE_64;
    case PROTOBUF_C_TYPE_STRING:
    case PROTOBUF_C_TYPE_BYTES:
    case PROTOBUF_C_TYPE_MESSAGE:
        return WIRE_BYTES;
    default:
        return WIRE_VARINT;
    }
}

static const struct special *
special_of(const ProtobufCMessageDescriptor *m, uint32_t id)
{
    static const struct special usual = {.count = USUAL, .bytes = USUAL};
    for (int i = 0; i < COUNT(specials); i++)
        if (specials[i].message == m && specials[i].id == id)
            return &specials[i];
    return &usual;
}

static const struct form *
form_of(struct scan *s, const ProtobufCMessageDescriptor *m)
{
    for (int i = 0; i < s->nforms; i++)
        if (s->form[i].message == m)
            return &s->form[i];
    assert(s->nforms < MAX_MESSAGES && m->n_fields <= MAX_FIELDS);
    struct form *f = &s->form[s->nforms++]; /* a circle of types that drops is an attribute's, whose own fields tell */
    *f = (struct form){.message = m};
    for (unsigned i = 0; i < m->n_fields; i++) {
        const ProtobufCFieldDescriptor *d = &m->fields[i];
        const struct special *sp = special_of(m, d->id);
        const ProtobufCMessageDescriptor *inner = d->type == PROTOBUF_C_TYPE_MESSAGE ? d->descriptor : sp->inner;
        struct kind *k = &f->kind[i];
        *k = (struct kind){.d = d,
                           .special = sp,
                           .wire = wire_of(d->type),
                           .at = (int)i,
                           .repeated = d->label == PROTOBUF_C_LABEL_REPEATED,
                           .message = inner,
                           .text = d->type == PROTOBUF_C_TYPE_STRING};
        k->count = !k->repeated ? NO_LIMIT : sp->count != USUAL ? sp->count : LIMIT_REPEATED;
        k->bytes = sp->bytes != USUAL ? sp->bytes : k->message ? NO_LIMIT : LIMIT_NAME;
        k->most = k->count >= 0 ? limit((enum limit)k->count) : INT64_MAX;
        k->most_bytes = k->bytes >= 0 ? limit((enum limit)k->bytes) : INT64_MAX;
        k->inner = inner ? form_of(s, inner) : NULL;
        assert(d->id < MAX_ID || d->id > OWN_FIELDS);
        if (d->id < MAX_ID)
            f->by_id[d->id] = k;
        f->drops |= sp->payload != PLAIN || (k->inner && k->inner->drops);
    }
    return f;
}

/* NULL: the message type has no such field. */
static inline const struct kind *
kind_of(const struct form *of, uint32_t id)
{
    return id < MAX_ID ? of->by_id[id] : NULL;
}

static int64_t
packed_count(const struct field *f, ProtobufCType type)
{
    int64_t n = 0;
    if (type == PROTOBUF_C_TYPE_FLOAT)
        return (int64_t)f->size / 4;
    if (type == PROTOBUF_C_TYPE_DOUBLE)
        return (int64_t)f->size / 8;
    for (size_t i = 0; i < f->size; i++)
        n += f->data[i] < 0x80;
    return n;
}

static bool survey(struct scan *s, const struct form *of, const uint8_t *p, const uint8_t *end, struct survey *v);

/* Goes down into field f of a message that is copied as it stands, unless something there is unknown. What passed
 * passes again. */
static bool
survey_below(struct scan *s, const struct kind *k, const struct field *f, bool *changes)
{
    struct survey in;
    struct looked *at = k->special->inner ? &s->lately[scan_lately(f->data, f->size)] : NULL;
    if (at && at->data && at->depth == s->depth && scan_alike(at->data, at->size, f->data, f->size) &&
        at->messages <= s->most_messages - s->messages) {
        s->messages += at->messages;
        *changes |= at->changes;
        return true;
    }
    const int64_t before = s->messages;
    if (s->depth == MAX_DEPTH)
        return over(s, f->start, LIMIT_DEPTH, "nested too deeply");
    s->names[s->depth++] = k->d->name;
    if (!survey(s, k->inner, f->data, f->next, &in))
        return false;
    s->depth--;
    *changes |= in.changes;
    if (at)
        *at = (struct looked){f->data, f->size, s->depth, s->messages - before, in.changes};
    return true;
}

static bool
survey(struct scan *s, const struct form *of, const uint8_t *p, const uint8_t *end, struct survey *v)
{
    struct field f = {0};
    memset(v->found, 0, sizeof(*v->found) * of->message->n_fields);
    memset(&v->drop, 0, sizeof(*v) - offsetof(struct survey, drop));
    if (++s->messages > s->most_messages)
        return over(s, p, LIMIT_MESSAGES, "too many messages");
    if ((int64_t)s->n > s->most_bytes)
        return over(s, p, LIMIT_SKELETON, "too large without its weights");
    for (; p < end; p = f.next) {
        if (!read_field(s, p, end, &f))
            return false;
        const struct kind *k = kind_of(of, f.id);
        v->changes |= !k || (of->drops && k->message);
        if (!k)
            continue;
        struct found *n = &v->found[k->at];
        const bool packed = f.wire != k->wire;
        if (packed && !(k->repeated && f.wire == WIRE_BYTES))
            return refuse(s, f.start, arena_printf(s->arena, "field %s has the wrong wire type", k->d->name));
        const struct special *sp = k->special;
        n->bytes += (int64_t)f.size;
        if ((sp->bytes == USUAL ? (int64_t)f.size : n->bytes) > k->most_bytes)
            return over(s, f.start, (enum limit)k->bytes, arena_printf(s->arena, "field %s is too long", k->d->name));
        n->count += packed && sp->payload != TENSOR_DATA ? packed_count(&f, k->d->type) : 1;
        if (n->count > k->most)
            return over(s, f.start, (enum limit)k->count, arena_printf(s->arena, "too many of field %s", k->d->name));
        if (!k->repeated && n->count > 1 && k->message)
            return refuse(s, f.start, arena_printf(s->arena, "field %s is given twice", k->d->name));
        if (k->text && memchr(f.data, 0, f.size))
            return refuse(s, f.start, arena_printf(s->arena, "field %s holds a NUL character", k->d->name));
        if (k->message && !of->drops && !survey_below(s, k, &f, &v->changes))
            return false;
        if (sp->payload == TENSOR_DATA || sp->payload == ATTRIBUTE_DATA) {
            v->payload_bytes += (int64_t)f.size;
            v->payload_count += packed && sp->payload == TENSOR_DATA ? 0 : 1;
        }
    }
    if (!of->drops)
        return true;
    int64_t keep = 16 * limit(LIMIT_FOLD); /* bytes: an element of a typed field has up to ten, and a tag */
    for (unsigned i = 0; i < of->message->n_fields; i++)
        if (of->kind[i].special->payload == BLOB) /* NOLINT(clang-analyzer-core.NullDereference): form_of's */
            v->drop[BLOB] = v->found[i].bytes > keep;
    v->drop[TENSOR_DATA] = v->drop[ATTRIBUTE_DATA] = v->payload_bytes > keep || v->payload_count > keep;
    v->changes |= v->drop[BLOB] || v->drop[TENSOR_DATA] || of->message == &onnx__tensor_proto__descriptor;
    return true;
}

static void *growing; /* the skeleton, as far as it is: freed also when the file is cut short */

void
scan_release(void)
{
    free(growing);
    growing = NULL;
}

static void
put(struct scan *s, const void *p, size_t n)
{
    if (!n)
        return;
    if (s->cap - s->n < n) {
        s->cap = s->cap * 2 > s->n + n ? s->cap * 2 : s->n + n + 4096;
        growing = s->out = grow_or_die(s->out, s->cap);
    }
    memcpy(s->out + s->n, p, n);
    s->n += n;
}

static void
put_varint(struct scan *s, uint64_t v)
{
    uint8_t b[10];
    size_t n = 0;
    do
        b[n++] = (uint8_t)((v & 0x7f) | (v > 0x7f ? 0x80 : 0));
    while (v >>= 7);
    put(s, b, n);
}

/* Properties that most nodes have: one that nobody reads, and those whose values become fields of the node, which
 * protobuf-c unpacks without a message and a key for each. */
static const struct property {
    const char *key;
    size_t n;    /* letters */
    uint32_t id; /* of the field, 0: none */
} properties[] = {
    {"namespace", 9, 0},
    {"pkg.torch.onnx.fx_node", 22, FX_NODE},
    {"pkg.torch.onnx.name_scopes", 26, NAME_SCOPES},
    {"pkg.torch.onnx.class_hierarchy", 30, CLASS_HIERARCHY},
    {"pkg.torch.onnx.stack_trace", 26, STACK_TRACE},
    {"pkg.onnxscript.rewriter.rule_name", 33, RULE_NAME},
};

/* Whether behind a key there is one value that survey() lets pass, and nothing else. */
static bool
is_value(const struct kind *k, const uint8_t *p, const uint8_t *end)
{
    int64_t size = 0;
    if (p == end || *p++ != (2 << 3 | WIRE_BYTES))
        return false;
    for (int shift = 0; p < end && shift < 28; shift += 7) {
        size |= (int64_t)(*p & 0x7f) << shift;
        if (*p++ < 0x80)
            return size == end - p && size <= k->most_bytes && !memchr(p, 0, (size_t)size);
    }
    return false;
}

/* Which of them field f of a message is, a pair whose key stands first; NULL none, or survey() has to look at it. */
static const struct property *
property_of(const ProtobufCMessageDescriptor *m, const struct form *pair, const struct field *f)
{
    const uint8_t *key = f->data + 2;
    if (f->size < 2 || f->data[0] != (1 << 3 | WIRE_BYTES) || f->data[1] > pair->by_id[1]->most_bytes)
        return NULL;
    for (int i = 0; i < COUNT(properties); i++) {
        const struct property *q = &properties[i];
        if (f->data[1] == q->n && f->size > q->n + 2 && memcmp(key, q->key, q->n) == 0)
            return (!q->id || m == &onnx__node_proto__descriptor) && is_value(pair->by_id[2], key + q->n, f->next)
                       ? q
                       : NULL;
    }
    return NULL;
}

/* id: of the field that has the message, of which v was found; 0: it is the whole file. */
static bool
copy(struct scan *s, const struct form *of, const struct survey *v, uint32_t id, const uint8_t *p, const uint8_t *end)
{
    const ProtobufCMessageDescriptor *m = of->message;
    if (id)
        put_varint(s, (uint64_t)id << 3 | WIRE_BYTES);
    size_t at = s->n;
    if (id)
        put(s, "\x80\x80\x80\x80", 5);
    const uint8_t *from = p; /* what is written next */
    unsigned moved = 0;      /* properties that are fields now: the first with a key counts */
    struct field f = {.next = p};
    for (; p < end; p = f.next) {
        if (!read_field(s, p, end, &f))
            return false;
        const struct kind *k = kind_of(of, f.id);
        const bool keep = k && !v->drop[k->special->payload], message = keep && k->message;
        const struct form *inner = message ? k->inner : NULL;
        struct survey in;
        const struct survey *below = of->drops ? &in : v; /* else what is inside was looked at with it */
        if (message && s->depth == MAX_DEPTH)
            return over(s, f.start, LIMIT_DEPTH, "nested too deeply");
        if (message)
            s->names[s->depth++] = k->d->name;
        const bool pair = message && inner->message == &onnx__string_string_entry_proto__descriptor;
        const struct property *q = pair && s->messages < s->most_messages ? property_of(m, inner, &f) : NULL;
        if (q && of->drops)
            s->messages++;
        else if (message && of->drops && !survey(s, inner, f.data, f.next, &in))
            return false;
        if (!keep || q || (message && below->changes)) {
            put(s, from, (size_t)(f.start - from));
            from = f.next;
            if (q && q->id && !(moved >> (q - properties) & 1)) {
                moved |= 1u << (q - properties);
                put_varint(s, (uint64_t)q->id << 3 | WIRE_BYTES);
                from = f.data + q->n + 3; /* the value's length */
            } else if (keep && message && !q && !copy(s, inner, below, f.id, f.data, f.next)) {
                return false;
            }
        }
        s->depth -= message;
    }
    put(s, from, (size_t)(end - from));
    if (m == &onnx__tensor_proto__descriptor) {
        put_varint(s, DATA_BYTES << 3 | WIRE_VARINT);
        put_varint(s, (uint64_t)v->payload_bytes);
        put_varint(s, DATA_DROPPED << 3 | WIRE_VARINT);
        put_varint(s, v->drop[TENSOR_DATA]);
    } else if (m == &onnx__attribute_proto__descriptor && v->drop[ATTRIBUTE_DATA]) {
        int64_t n = 0;
        for (unsigned i = 0; i < m->n_fields; i++)
            if (of->kind[i].special->payload == ATTRIBUTE_DATA)
                n += v->found[i].count;
        put_varint(s, DROPPED_COUNT << 3 | WIRE_VARINT);
        put_varint(s, (uint64_t)n);
    }
    size_t size = s->n - at - 5;
    for (int i = 0; i < 5 && id; i++)
        s->out[at + (size_t)i] = (uint8_t)((size >> 7 * i & 0x7f) | (i < 4 ? 0x80 : 0));
    return true;
}

static bool
starts(const uint8_t *data, size_t size, const char *with)
{
    return size >= strlen(with) && memcmp(data, with, strlen(with)) == 0;
}

/* What people give instead of a model. */
static const char *
other_format(const uint8_t *data, size_t size)
{
    if (starts(data, size, "version https://git-lfs"))
        return "this is a Git LFS pointer, not the model: fetch it with git lfs pull";
    if (starts(data, size, "PK\x03\x04"))
        return "this is a zip archive (PyTorch's .pt files are, too), not an ONNX model";
    if (starts(data, size, "\x1f\x8b"))
        return "this is compressed with gzip, not an ONNX model";
    if (starts(data, size, "\x89PNG"))
        return "this is a PNG picture, not an ONNX model";
    if (size >= 8 && memcmp(data + 4, "TFL3", 4) == 0)
        return "this is a TensorFlow Lite model, not an ONNX model";
    if (size >= 8 && memcmp(data + 4, "ORTM", 4) == 0)
        return "this is a model in ONNX Runtime's own format, not an ONNX model";
    if (size >= 10 && data[8] == '{' && data[9] == '"')
        return "this is a safetensors file, not an ONNX model";
    size_t n = size < 512 ? size : 512, i = 0;
    while (i < n && (data[i] >= ' ' || data[i] == '\n' || data[i] == '\r' || data[i] == '\t') && data[i] != 0x7f)
        i++;
    if (i < n)
        return NULL;
    while (i-- > 0)
        if (data[i] == '<' && n - i > 5 && strncasecmp((const char *)data + i, "<html", 5) == 0)
            return "this is an HTML page, not an ONNX model";
    return "this is text, not an ONNX model (models in ONNX text syntax are named .onnxtxt)";
}

bool
scan_bytes(struct arena *a, const uint8_t *data, size_t size, bool tensor, struct skeleton *out, struct err *e)
{
    struct scan s = {
        .arena = a, .e = e, .base = data, .most_messages = limit(LIMIT_MESSAGES), .most_bytes = limit(LIMIT_SKELETON)};
    scan_release(); /* of a model that ran into the limit of memory */
    if (size == 0)
        return err_set(e, a, NULL, "the file is empty");
    const struct form *of = form_of(&s, tensor ? &onnx__tensor_proto__descriptor : &onnx__model_proto__descriptor);
    struct survey v;
    bool ok = survey(&s, of, data, data + size, &v) && copy(&s, of, &v, 0, data, data + size);
    const char *other = ok && s.n > 8 ? NULL : other_format(data, size);
    if (other)
        ok = err_set(e, a, NULL, "%s", other);
    *out = (struct skeleton){s.out, s.n, (int64_t)size};
    if (!ok)
        scan_release();
    return ok;
}

static sigjmp_buf truncated;

static void
on_sigbus(int sig)
{
    (void)sig;
    siglongjmp(truncated, 1);
}

bool
scan_file(struct arena *a, const char *path, bool tensor, struct skeleton *out, struct err *e)
{
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return err_set(e, a, NULL, "cannot be opened: %s", strerror(errno));
    struct stat st;
    const char *why = NULL;
    void *map = MAP_FAILED;
    if (fstat(fd, &st) != 0)
        why = strerror(errno);
    else if (S_ISDIR(st.st_mode))
        why = "is a directory, not a model file";
    else if (!S_ISREG(st.st_mode))
        why = "is not a regular file (a device, pipe or socket)";
    else if (st.st_size == 0)
        why = "the file is empty";
    else if ((map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0)) == MAP_FAILED)
        why = "is too large to be mapped";
    close(fd);
    if (why)
        return err_set(e, a, NULL, "%s", why);

    madvise(map, (size_t)st.st_size, MADV_RANDOM); /* what lies around a page that is read is mostly weights */
    struct sigaction old, act = {.sa_handler = on_sigbus};
    sigaction(SIGBUS, &act, &old);
    bool ok;
    if (sigsetjmp(truncated, 1) == 0) {
        ok = scan_bytes(a, map, (size_t)st.st_size, tensor, out, e);
    } else {
        ok = err_set(e, a, NULL, "was truncated by somebody while being read");
        scan_release();
    }
    sigaction(SIGBUS, &old, NULL);
    munmap(map, (size_t)st.st_size);
    return ok;
}
