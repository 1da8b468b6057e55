/* SPDX-License-Identifier: Apache-2.0 */
/* mutate.c - a mutator for libFuzzer that knows the protobuf schema.
 *
 * Bytes flipped at random rarely make a message whose lengths still agree. So the model is read into a tree of fields,
 * by the descriptors that protoc-c made of onnx.proto; one field is changed, and the tree is written again with lengths
 * that fit. Strings and payloads inside are given to libFuzzer's own mutator. One time in eight, and when there is no
 * tree, all the bytes are.
 */
#include "fuzz.h"

#include "onnx.pb-c.h"

#include <string.h>

enum { MOST_FIELDS = 1 << 14, DEEPEST = 64, TRIES = 8 };

struct field {
    const ProtobufCMessageDescriptor *in; /* the message that it stands in */
    const ProtobufCFieldDescriptor *d;    /* NULL unknown */
    uint32_t id;
    int wire;
    uint64_t number;     /* varints */
    const uint8_t *data; /* the content of the others */
    size_t size;
    bool is_tree; /* a message, whose fields are first, first->next, ... */
    struct field *first, *next;
};

struct tree {
    struct arena *a;
    int n;
    struct field *all[MOST_FIELDS]; /* all[0] is the model */
};

static uint64_t state;

static uint64_t
roll(uint64_t below)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return below ? (state >> 33) % below : 0;
}

/* ---- reading ----------------------------------------------------------------------------------------------------- */

static bool
varint(const uint8_t **p, const uint8_t *end, uint64_t *v)
{
    *v = 0;
    for (int shift = 0; *p < end && shift < 64; shift += 7) {
        *v |= (uint64_t)(**p & 0x7f) << shift;
        if (*(*p)++ < 0x80)
            return true;
    }
    return false;
}

static bool
read_message(struct tree *t, struct field *to, const ProtobufCMessageDescriptor *m, int depth)
{
    const uint8_t *p = to->data, *end = p + to->size;
    struct field **last = &to->first;
    int before = t->n;
    while (p < end) {
        uint64_t key, n = 0;
        if (t->n == MOST_FIELDS || !varint(&p, end, &key) || (key >> 3) - 1 > 0x1ffffffe)
            goto not_a_message;
        struct field *f = NEW(t->a, struct field);
        f->in = m;
        f->id = (uint32_t)(key >> 3);
        f->wire = (int)(key & 7);
        f->d = protobuf_c_message_descriptor_get_field(m, f->id);
        if (f->wire == 0   ? !varint(&p, end, &f->number)
            : f->wire == 2 ? !varint(&p, end, &n)
                           : f->wire != 5 && f->wire != 1)
            goto not_a_message;
        f->size = f->wire == 2 ? n : f->wire == 5 ? 4 : f->wire == 1 ? 8 : 0;
        f->data = p;
        if (f->size > (size_t)(end - p))
            goto not_a_message;
        p += f->size;
        t->all[t->n++] = *last = f;
        last = &f->next;
        if (f->wire == 2 && f->d && f->d->type == PROTOBUF_C_TYPE_MESSAGE && depth < DEEPEST)
            read_message(t, f, f->d->descriptor, depth + 1);
    }
    return to->is_tree = true;
not_a_message:
    to->first = NULL;
    t->n = before;
    return false;
}

static struct tree *
read_model(struct arena *a, const uint8_t *data, size_t size)
{
    struct tree *t = NEW(a, struct tree);
    t->a = a;
    t->all[t->n++] = NEW(a, struct field);
    t->all[0]->data = data;
    t->all[0]->size = size;
    return read_message(t, t->all[0], &onnx__model_proto__descriptor, 0) ? t : NULL;
}

/* ---- writing ----------------------------------------------------------------------------------------------------- */

static size_t
put_varint(uint8_t *out, uint64_t v)
{
    size_t n = 0;
    do
        out[n++] = (uint8_t)((v & 0x7f) | (v > 0x7f ? 0x80 : 0));
    while (v >>= 7);
    return n;
}

/* Writes the fields of m into out; the bytes written, or SIZE_MAX when there are more than room. */
static size_t
write_message(struct arena *a, const struct field *m, uint8_t *out, size_t room, int depth)
{
    size_t n = 0;
    if (depth == DEEPEST) /* a field put into itself has no end */
        return SIZE_MAX;
    for (const struct field *f = m->first; f; f = f->next) {
        if (room - n < 20)
            return SIZE_MAX;
        n += put_varint(out + n, (uint64_t)f->id << 3 | (uint64_t)f->wire);
        if (f->wire == 0) {
            n += put_varint(out + n, f->number);
            continue;
        }
        const uint8_t *data = f->data;
        size_t size = f->size;
        if (f->is_tree) {
            uint8_t *inner = arena_alloc(a, room - n);
            if ((size = write_message(a, f, inner, room - n, depth + 1)) == SIZE_MAX)
                return SIZE_MAX;
            data = inner;
        }
        if (size > room - n - 10)
            return SIZE_MAX;
        if (f->wire == 2)
            n += put_varint(out + n, size);
        if (size)
            memcpy(out + n, data, size);
        n += size;
    }
    return n;
}

/* ---- changes: each returns whether it could ---------------------------------------------------------------------- */

static struct field *
pick(const struct tree *t)
{
    return t->n > 1 ? t->all[1 + roll((uint64_t)t->n - 1)] : NULL;
}

static struct field *
copy_of(struct tree *t, const struct field *f)
{
    struct field *copy = arena_dup(t->a, f, sizeof(*f));
    copy->next = NULL;
    return copy;
}

static bool
drop(struct tree *t, const struct tree *from)
{
    (void)from;
    const struct field *f = pick(t);
    for (int i = 0; i < t->n; i++)
        for (struct field **p = &t->all[i]->first; *p; p = &(*p)->next)
            if (*p == f) {
                *p = f->next;
                return true;
            }
    return false;
}

/* Puts a field's copy, of this model or another, at a random place of a message of its kind. */
static bool
insert(struct tree *t, const struct tree *from)
{
    const struct field *f = pick(from);
    for (int i = 0; f && i < TRIES * TRIES; i++) {
        struct field *at = pick(t);
        if (at && at->in == f->in) {
            struct field *copy = copy_of(t, f);
            copy->next = at->next;
            at->next = copy;
            return true;
        }
    }
    return false;
}

/* Gives a field the content of another one of the same kind: a name of the graph becomes another of its names. */
static bool
replace(struct tree *t, const struct tree *from)
{
    struct field *f = pick(t);
    for (int i = 0; f && f->d && i < TRIES * TRIES; i++) {
        const struct field *other = pick(from);
        bool strings = f->d->type == PROTOBUF_C_TYPE_STRING && other && other->d && other->d->type == f->d->type;
        if (other && other != f && other->wire == f->wire && (other->d == f->d || (strings && roll(8) == 0))) {
            struct field *copy = copy_of(t, other);
            copy->id = f->id;
            copy->next = f->next;
            *f = *copy;
            return true;
        }
    }
    return false;
}

static bool
renumber(struct tree *t, const struct tree *from)
{
    static const int64_t odd[] = {
        0,  1,  2,  3,   -1,  -2,  INT64_MAX, INT64_MIN, INT32_MAX, INT32_MIN, UINT32_MAX, INT64_C(1) << 40,
        63, 64, 65, 127, 128, 255, 4096};
    (void)from;
    for (int i = 0; i < TRIES; i++) {
        struct field *f = pick(t);
        if (f && f->wire == 0) {
            f->number = roll(2) ? (uint64_t)odd[roll(COUNT(odd))] : roll(2) ? f->number + roll(9) - 4 : roll(32);
            return true;
        }
    }
    return false;
}

static bool
rewrite(struct tree *t, const struct tree *from)
{
    enum { ROOM = 256 };
    (void)from;
    for (int i = 0; i < TRIES; i++) {
        struct field *f = pick(t);
        if (!f || f->wire == 0 || f->is_tree)
            continue;
        size_t room = f->wire == 2 ? f->size + ROOM : f->size;
        uint8_t *data = arena_alloc(t->a, room);
        if (f->size)
            memcpy(data, f->data, f->size);
        size_t size = LLVMFuzzerMutate(data, f->size, room);
        f->size = f->wire == 2 ? size : f->size;
        f->data = data;
        return true;
    }
    return false;
}

/* Adds a field that the schema knows, empty or with a small number. */
static bool
add(struct tree *t, const struct tree *from)
{
    (void)from;
    struct field *at = roll(8) ? pick(t) : t->all[0];
    const ProtobufCMessageDescriptor *m = at == t->all[0]              ? &onnx__model_proto__descriptor
                                          : at && at->is_tree && at->d ? at->d->descriptor
                                                                       : NULL;
    if (!m || !m->n_fields)
        return false;
    const ProtobufCFieldDescriptor *d = &m->fields[roll(m->n_fields)];
    struct field *f = NEW(t->a, struct field);
    f->in = m;
    f->d = d;
    f->id = d->id;
    f->data = (const uint8_t *)f;
    f->wire =
        d->type == PROTOBUF_C_TYPE_FLOAT    ? 5
        : d->type == PROTOBUF_C_TYPE_DOUBLE ? 1
        : d->type == PROTOBUF_C_TYPE_STRING || d->type == PROTOBUF_C_TYPE_BYTES || d->type == PROTOBUF_C_TYPE_MESSAGE
            ? 2
            : 0;
    f->size = f->wire == 5 ? 4 : f->wire == 1 ? 8 : 0;
    f->number = roll(32);
    f->is_tree = d->type == PROTOBUF_C_TYPE_MESSAGE;
    f->next = at->first;
    at->first = f;
    return true;
}

/* ---- what libFuzzer calls ---------------------------------------------------------------------------------------- */

static size_t
change(const uint8_t *data, size_t size, const uint8_t *other, size_t nother, uint8_t *out, size_t max, unsigned seed)
{
    static bool (*const changes[])(struct tree *, const struct tree *) = {drop,     insert,   replace, replace,
                                                                          renumber, renumber, rewrite, add};
    struct arena *a = arena_new();
    uint8_t *made = arena_alloc(a, max + 1);
    size_t n = SIZE_MAX;
    state = seed;
    roll(1);
    struct tree *t = read_model(a, arena_dup(a, data, size), size);
    const struct tree *from = t && other ? read_model(a, other, nother) : t;
    for (int left = from && (other || roll(8)) ? 1 + (int)roll(3) : 0, i = 0; left && i < TRIES * TRIES; i++) {
        bool done = other ? (roll(2) ? insert : replace)(t, from) : changes[roll(COUNT(changes))](t, from);
        n = done && --left == 0 ? write_message(a, t->all[0], made, max, 0) : n;
    }
    if (n != SIZE_MAX)
        memcpy(out, made, n);
    arena_free(a);
    return n;
}

size_t
LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed)
{
    size_t n = change(data, size, NULL, 0, data, max, seed);
    return n == SIZE_MAX ? LLVMFuzzerMutate(data, size, max) : n;
}

size_t
LLVMFuzzerCustomCrossOver(const uint8_t *a, size_t na, const uint8_t *b, size_t nb, uint8_t *out, size_t max,
                          unsigned seed)
{
    size_t n = change(a, na, b, nb, out, max, seed);
    return n == SIZE_MAX ? 0 : n;
}
