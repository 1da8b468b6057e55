/* SPDX-License-Identifier: Apache-2.0 */
/* data.c - what the page's pictures and tables are made of, once, as JSON: the script reads all of its numbers here.
 *
 * One object; each member that is a table is a list: the names of its columns, then a list for each row. Bytes are
 * exact. The text is raw in the page, and may be, because json_string writes no character that HTML gives a meaning.
 * Readers without a script read it as it is, a row a line.
 */
#include "html.h"
#include "json.h"

#include <string.h>

static void
columns(struct json *j, const char *key, const char *const *name, int n)
{
    json_open(j, key, '[');
    json_open(j, NULL, '[');
    for (int i = 0; i < n; i++)
        json_text(j, NULL, name[i]);
    json_close(j, ']');
}

static void
timeline(struct html *h, struct json *j)
{
    const struct result *r = h->r;
    const char *head[4 + CLASS_COUNT] = {"instant", "phase", "operator", "total"};
    enum class show[CLASS_COUNT];
    int n = 0, peak = 0;
    for (int i = 0; i < CLASS_COUNT; i++) {
        bool ever = false;
        for (int k = 0; k < h->n && !ever; k++)
            ever = r->instants[h->columns[k]].class_bytes[html_stack[i]] != 0;
        if (ever) {
            head[4 + n] = class_names[html_stack[i]];
            show[n++] = html_stack[i];
        }
    }
    for (int k = 0; k < h->n; k++)
        peak = h->columns[k] == r->peak.instant ? k : peak;
    json_int(j, "instants", r->ninstants);
    json_int(j, "peak", peak);
    json_int(j, "digits", h->digits);
    columns(j, "timeline", head, 4 + n);
    for (int k = 0; k < h->n; k++) {
        const struct instant *at = &r->instants[h->columns[k]];
        json_open(j, NULL, '[');
        json_int(j, NULL, h->columns[k] + 1);
        json_text(j, NULL, phase_names[at->phase]);
        json_text(j, NULL, string_op(h->a, at->op, 60));
        json_int(j, NULL, instant_bytes(at));
        for (int i = 0; i < n; i++)
            json_int(j, NULL, at->class_bytes[show[i]]);
        json_close(j, ']');
    }
    json_close(j, ']');
}

static void
spans(struct html *h, struct json *j)
{
    static const char *const head[] = {"class", "bytes", "from", "to", "tensor"};
    columns(j, "spans", head, COUNT(head));
    for (int i = 0; i < h->r->nspans; i++) {
        const struct span *s = &h->r->spans[i];
        json_open(j, NULL, '[');
        json_text(j, NULL, class_names[s->class]);
        json_int(j, NULL, s->bytes);
        json_int(j, NULL, s->born + 1);
        json_int(j, NULL, s->died);
        json_text(j, NULL, string_op(h->a, emit_tensor(h->a, s->name, s->layer), 100));
        json_close(j, ']');
    }
    json_close(j, ']');
}

/* The module of all, with * for numbers; "" none. */
static const char *
module_of(struct html *h, const struct tensor_group *g)
{
    const char *path = g->first->layer;
    return g->mixed || !path || !*path
               ? ""
               : string_clip(h->a, g->count > 1 ? string_module_pattern(h->a, path) : path, NAME);
}

/* A row has its members where no table of the page lists them. */
static void
tensor(struct html *h, struct json *j, const struct tensor_group *g, bool members)
{
    const struct live_tensor *t = g->first;
    int from = t->born_at, to = t->dies_at;
    for (int i = 0; i < g->count; i++) {
        const struct live_tensor *m = &h->r->live[g->member[i]];
        from = m->born_at < from ? m->born_at : from;
        to = m->dies_at > to ? m->dies_at : to;
    }
    json_open(j, NULL, '[');
    json_text(j, NULL, string_op(h->a, g->name, NAME));
    json_int(j, NULL, g->count);
    json_int(j, NULL, g->bytes);
    json_text(j, NULL, class_names[t->class]);
    json_text(j, NULL,
              g->mixed ? ""
                       : html_format(h, "%s %s", string_clip(h->a, t->dtype, 20), emit_shape(h->a, t->rank, t->shape)));
    json_int(j, NULL, g->slack_bytes);
    json_text(j, NULL, g->mixed ? "" : string_op(h->a, t->needed_by, NAME));
    json_text(j, NULL, g->mixed || !t->born ? "" : string_op(h->a, t->born, NAME));
    json_text(j, NULL, g->location ? string_op(h->a, g->location, NAME) : "");
    json_int(j, NULL, g->elsewhere);
    json_text(j, NULL, module_of(h, g));
    json_int(j, NULL, from + 1);
    json_int(j, NULL, to);
    json_open(j, NULL, '[');
    for (int i = 0; i < g->count && members && g->count > 1; i++) {
        const struct live_tensor *m = &h->r->live[g->member[i]];
        if (g->count > MEMBERS && i == MEMBERS / 2) {
            json_text(j, NULL, html_format(h, "and %d more", g->count - MEMBERS + 1));
            i += g->count - MEMBERS;
        } else {
            json_text(j, NULL, string_op(h->a, emit_tensor(h->a, m->name, m->layer), NAME));
        }
    }
    json_close(j, ']');
    json_close(j, ']');
}

static void
tensors(struct html *h, struct json *j)
{
    static const char *const head[] = {"tensor", "count", "bytes",      "class",  "type", "slack", "why",
                                       "since",  "line",  "more_lines", "module", "from", "to",    "members"};
    columns(j, "tensors", head, COUNT(head));
    for (int i = 0; i < h->ngroups; i++)
        tensor(h, j, &h->group[i], i >= h->written);
    json_close(j, ']');
}

/* Segments that are alike, one after the other in the picture's order, are one line. */
static void
segments(struct html *h, struct json *j)
{
    static const char *const head[] = {"pool",    "stream",    "segments", "bytes",
                                       "tensors", "allocated", "free",     "largest free piece"};
    const struct result *r = h->r;
    columns(j, "segments", head, COUNT(head));
    for (int i = 0, end; i < r->nsegments && h->order; i = end) {
        const struct segment *s = &r->segments[h->order[i]];
        for (end = i + 1; end < r->nsegments; end++) {
            const struct segment *o = &r->segments[h->order[end]];
            if (o->large != s->large || o->stream != s->stream || o->bytes != s->bytes || o->used != s->used ||
                o->largest_free != s->largest_free || o->ntensors != s->ntensors)
                break;
        }
        json_open(j, NULL, '[');
        json_text(j, NULL, s->large ? "large" : "small");
        json_int(j, NULL, s->stream);
        json_int(j, NULL, end - i);
        json_int(j, NULL, s->bytes);
        json_int(j, NULL, s->ntensors);
        json_int(j, NULL, s->used);
        json_int(j, NULL, s->bytes - s->used);
        json_int(j, NULL, s->largest_free);
        json_close(j, ']');
    }
    json_close(j, ']');
}

static void
layers(struct html *h, struct json *j)
{
    static const char *const head[] = {"depth", "module",     "to",      "alike",   "type",
                                       "saved", "parameters", "weights", "outputs", "flops"};
    columns(j, "layers", head, COUNT(head));
    for (int i = 0; i < h->nlines; i++) {
        const struct layer_line *line = &h->line[i];
        const struct layer *l = &h->r->layers[line->first];
        json_open(j, NULL, '[');
        json_int(j, NULL, l->depth);
        json_text(j, NULL, l->path && *l->path ? string_clip(h->a, l->path, NAME) : "(model)");
        json_text(j, NULL,
                  line->count > 1 ? string_clip(h->a, html_last(h->r->layers[line->last].path, '.'), NAME) : "");
        json_int(j, NULL, line->count);
        json_text(j, NULL, string_clip(h->a, html_last(l->type ? l->type : "", '.'), 60));
        json_int(j, NULL, l->saved_bytes);
        json_int(j, NULL, l->parameters);
        json_int(j, NULL, l->parameter_bytes);
        json_int(j, NULL, l->output_bytes);
        json_int(j, NULL, l->flops);
        json_close(j, ']');
    }
    json_close(j, ']');
}

void
html_data(struct html *h)
{
    struct json j = {.out = h->out, .lines = true, .html = true};
    xmlTextWriterWriteRaw(h->w, XML("\n"));
    xmlTextWriterFlush(h->w);
    json_open(&j, NULL, '{');
    timeline(h, &j);
    spans(h, &j);
    tensors(h, &j);
    segments(h, &j);
    layers(h, &j);
    json_close(&j, '}');
}
