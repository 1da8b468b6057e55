/* SPDX-License-Identifier: Apache-2.0 */
/* json.c - the result as JSON, schema 1: the format from which others can be made.
 *
 * A small writer keeps what a comma needs to know, a bit per nesting level; the keys stand below in the order of the
 * schema. Bytes are integers, unknown ones null. Strings pass through json_string, which writes valid JSON for any
 * bytes: controls as \u00NN, invalid UTF-8 as U+FFFD, the rest as it is. jsonl is the same object without line breaks.
 */
#include "json.h"

#include <inttypes.h>
#include <string.h>

/* What a string has as it is. */
static bool
is_plain(const struct json *j, char c)
{
    static const bool escaped[][0x80] = {
        {['"'] = true, ['\\'] = true},
        {['"'] = true, ['\\'] = true, ['<'] = true, ['>'] = true, ['&'] = true} /* in a page */
    };
    return c >= ' ' && c <= '~' && !escaped[j->html][(unsigned char)c];
}

static void
break_line(struct json *j)
{
    fputc('\n', j->out);
    for (int n = j->html ? 0 : 2 * j->depth; n > 0; n--)
        fputc(' ', j->out);
}

void
json_string(struct json *j, const char *s)
{
    if (!s) {
        fputs("null", j->out);
        return;
    }
    putc_unlocked('"', j->out);
    while (*s) {
        size_t plain = 0;
        uint32_t c = 0xfffd;
        while (is_plain(j, s[plain]))
            plain++;
        fwrite(s, 1, plain, j->out);
        s += plain;
        if (!*s)
            break;
        int n = string_utf8(s, &c);
        if (n == 0)
            fputs("\\ufffd", j->out);
        else if (c == '"' || c == '\\')
            fprintf(j->out, "\\%c", (int)c);
        else if ((j->html && strchr("<>&", (int)c)) || c < 0x20 || (c >= 0x7f && c < 0xa0) ||
                 (c >= 0x2028 && c <= 0x202e) || (c >= 0xfff0 && c <= 0xffff))
            fprintf(j->out, "\\u%04x", c);
        else
            fwrite(s, 1, (size_t)n, j->out);
        s += n ? n : 1;
    }
    putc_unlocked('"', j->out);
}

/* Begins an element: comma, line, key. */
void
json_next(struct json *j, const char *key)
{
    uint64_t bit = UINT64_C(1) << j->depth;
    if (j->depth) {
        const bool line = j->lines && j->depth <= 2;
        if (j->some & bit)
            putc_unlocked(',', j->out);
        if (line)
            break_line(j);
        else if (j->some & bit && !j->html)
            putc_unlocked(' ', j->out);
    }
    j->some |= bit;
    if (key) {
        json_string(j, key);
        fputs(": ", j->out);
    }
}

void
json_open(struct json *j, const char *key, char bracket)
{
    json_next(j, key);
    putc_unlocked(bracket, j->out);
    j->some &= ~(UINT64_C(1) << ++j->depth);
}

void
json_close(struct json *j, char bracket)
{
    bool some = j->some >> j->depth & 1;
    j->depth--;
    if (some && j->lines && j->depth < 2)
        break_line(j);
    putc_unlocked(bracket, j->out);
}

void
json_text(struct json *j, const char *key, const char *s)
{
    json_next(j, key);
    json_string(j, s);
}

void
json_int(struct json *j, const char *key, int64_t n)
{
    char digits[24];
    const char *end = int_put(digits, n);
    json_next(j, key);
    for (const char *p = digits; p < end; p++)
        putc_unlocked(*p, j->out);
}

/* A number that may be unknown. */
void
json_maybe(struct json *j, const char *key, int64_t n)
{
    json_next(j, key);
    if (n < 0)
        fputs("null", j->out);
    else
        fprintf(j->out, "%" PRId64, n);
}

void
json_percent(struct json *j, const char *key, double v)
{
    json_next(j, key);
    fprintf(j->out, "%.3g", v > -1e9 && v < 1e9 ? v : 0.0); /* infinity and NaN are no JSON */
}

static void
json_checks(struct json *j, const struct result *r)
{
    json_open(j, "gates", '[');
    for (int i = 0; i < r->nchecks; i++) {
        if (!r->checks[i].message)
            continue;
        json_open(j, NULL, '{');
        json_text(j, "name", r->checks[i].name);
        json_text(j, "outcome", outcome_names[r->checks[i].outcome]);
        json_text(j, "message", r->checks[i].message);
        json_close(j, '}');
    }
    json_close(j, ']');
}

static void
json_provenance(struct json *j, const struct result *r)
{
    json_open(j, "provenance", '{');
    json_text(j, "kind", r->provenance.kind);
    json_text(j, "text", r->provenance.text);
    json_close(j, '}');
}

static void
json_setup(struct json *j, const struct result *r)
{
    json_open(j, "setup", '{');
    json_text(j, "mode", r->setup.mode);
    json_maybe(j, "batch", r->setup.batch);
    json_open(j, "dims", '{');
    for (int i = 0; i < r->setup.ndims; i++)
        json_int(j, r->setup.dims[i].name, r->setup.dims[i].n);
    json_close(j, '}');
    for (int i = 0; i < r->setup.nchoices; i++)
        if (strcmp(r->setup.choices[i].name, "mode") != 0)
            json_text(j, r->setup.choices[i].name, r->setup.choices[i].value);
    json_open(j, "assumptions", '[');
    for (int i = 0; i < r->setup.nassumptions; i++)
        json_text(j, NULL, r->setup.assumptions[i].text);
    json_close(j, ']');
    json_open(j, "assumed", '[');
    for (int i = 0; i < r->setup.nassumptions; i++) {
        const struct assumption *q = &r->setup.assumptions[i];
        json_open(j, NULL, '{');
        json_text(j, "text", q->text);
        json_text(j, "option", q->option);
        json_next(j, "effect_bytes");
        if (q->measured)
            fprintf(j->out, "%" PRId64, q->effect_bytes);
        else
            fputs("null", j->out);
        json_close(j, '}');
    }
    json_close(j, ']');
    json_close(j, '}');
}

/* The three sentences that the other reports begin with, and what holds the peak. */
static void
json_summary(struct json *j, const struct result *r)
{
    struct arena *a = arena_new();
    const struct finding *best = emit_best_finding(r);
    json_open(j, "summary", '{');
    json_text(j, "fit", emit_verdict(a, r));
    json_text(j, "cause", emit_cause(a, r));
    json_text(j, "change", emit_best(a, r));
    json_text(j, "change_rule", best ? best->rule : NULL);
    json_open(j, "held_by", '[');
    for (int i = 0; i < r->nheld; i++) {
        const struct held *k = &r->held[i];
        json_open(j, NULL, '{');
        json_text(j, "what", k->what);
        json_text(j, "most", k->most);
        json_int(j, "bytes", k->bytes);
        json_int(j, "count", k->count);
        json_maybe(j, "each_bytes", k->each);
        json_close(j, '}');
    }
    json_close(j, ']');
    json_close(j, '}');
    arena_free(a);
}

static void
json_peak(struct json *j, const struct result *r)
{
    json_open(j, "peak", '{');
    json_maybe(j, "allocated", r->peak.allocated);
    json_maybe(j, "reserved", r->peak.reserved);
    json_maybe(j, "device", r->peak.device);
    json_maybe(j, "device_least", r->peak.device_least);
    json_int(j, "certain", r->peak.certain);
    json_maybe(j, "most", r->peak.most > 0 ? r->peak.most : -1);
    json_maybe(j, "device_most", r->peak.device_most > 0 ? r->peak.device_most : -1);
    json_open(j, "at", '{');
    json_text(j, "phase", phase_names[r->peak.phase]);
    json_text(j, "operator", r->peak.op);
    json_text(j, "node", r->peak.node);
    json_text(j, "location", r->peak.location);
    json_text(j, "layer", r->peak.layer);
    json_close(j, '}');
    json_close(j, '}');
    if (r->recompute.nregions) {
        json_open(j, "checkpointed", '{');
        json_int(j, "modules", r->recompute.nregions);
        json_percent(j, "extra_flops_percent", r->recompute.extra_flops_percent);
        json_close(j, '}');
    }
    json_open(j, "allocated_after", '{');
    if (r->after.model) /* else the host has all of it */
        json_maybe(j, "model", r->after.model);
    json_maybe(j, "inputs", r->after.inputs);
    json_maybe(j, "forward", r->after.forward);
    json_maybe(j, "backward", r->after.backward);
    json_maybe(j, "step", r->after.step);
    json_close(j, '}');
    json_open(j, "peak_until", '{');
    json_maybe(j, "forward", r->peak_until.forward);
    json_maybe(j, "backward", r->peak_until.backward);
    json_maybe(j, "step", r->peak_until.step);
    json_close(j, '}');
    json_open(j, "classes", '{');
    for (int c = 0; c < CLASS_COUNT; c++)
        json_int(j, class_names[c], r->class_bytes[c]);
    json_close(j, '}');
}

static void
json_live(struct json *j, const struct result *r)
{
    json_open(j, "live_at_peak", '[');
    for (int i = 0; i < r->nlive; i++) {
        const struct live_tensor *t = &r->live[i];
        json_open(j, NULL, '{');
        json_text(j, "name", t->name);
        json_int(j, "bytes", t->bytes);
        json_open(j, "shape", '[');
        for (int k = 0; k < t->rank; k++)
            json_int(j, NULL, t->shape[k]);
        json_close(j, ']');
        json_int(j, "slack_bytes", tensor_slack(t));
        json_text(j, "dtype", t->dtype);
        json_text(j, "class", class_names[t->class]);
        json_text(j, "born", t->born);
        json_text(j, "needed_by", t->needed_by);
        json_int(j, "from", t->born_at + 1);
        json_int(j, "to", t->dies_at);
        json_text(j, "node", t->node);
        json_text(j, "location", t->location);
        json_text(j, "layer", t->layer);
        if (r->nsegments) {
            json_maybe(j, "segment", t->segment);
            json_int(j, "offset", t->offset);
        }
        json_close(j, '}');
    }
    json_close(j, ']');
}

/* The tensors above say where they lie in these; lists of one length, as long as there are segments. */
static void
json_segments(struct json *j, const struct result *r)
{
    static const char *const key[] = {"stream", "bytes", "allocated", "largest_free", "tensors"};
    if (!r->nsegments)
        return;
    json_open(j, "segments", '{');
    json_open(j, "pool", '[');
    for (int i = 0; i < r->nsegments; i++)
        json_text(j, NULL, r->segments[i].large ? "large" : "small");
    json_close(j, ']');
    for (int k = 0; k < COUNT(key); k++) {
        json_open(j, key[k], '[');
        for (int i = 0; i < r->nsegments; i++) {
            const struct segment *s = &r->segments[i];
            const int64_t value[] = {s->stream, s->bytes, s->used, s->largest_free, s->ntensors};
            json_int(j, NULL, value[k]);
        }
        json_close(j, ']');
    }
    json_close(j, '}');
}

/* Instants and tensors of the step are counted from 1. At most that many are written. */
enum { INSTANTS = 500 };

static void
json_timeline(struct json *j, const struct result *r)
{
    struct arena *a = arena_new();
    int *at = NEWN(a, int, r->ninstants + 1), n = emit_columns(r, INSTANTS, at);
    json_open(j, "timeline", '{');
    json_int(j, "of", r->ninstants);
    json_open(j, "instant", '[');
    for (int i = 0; i < n; i++)
        json_int(j, NULL, at[i] + 1);
    json_close(j, ']');
    json_open(j, "phase", '[');
    for (int i = 0; i < n; i++)
        json_text(j, NULL, phase_names[r->instants[at[i]].phase]);
    json_close(j, ']');
    json_open(j, "operator", '[');
    for (int i = 0; i < n; i++)
        json_text(j, NULL, r->instants[at[i]].op);
    json_close(j, ']');
    json_open(j, "allocated", '[');
    for (int i = 0; i < n; i++)
        json_int(j, NULL, instant_bytes(&r->instants[at[i]]));
    json_close(j, ']');
    json_open(j, "classes", '{');
    for (int c = 0; c < CLASS_COUNT; c++) {
        json_open(j, class_names[c], '[');
        for (int i = 0; i < n; i++)
            json_int(j, NULL, r->instants[at[i]].class_bytes[c]);
        json_close(j, ']');
    }
    json_close(j, '}');
    json_close(j, '}');
    arena_free(a);
}

static void
json_tensors(struct json *j, const struct result *r)
{
    json_open(j, "tensors", '{');
    json_int(j, "of", r->nstorages);
    json_open(j, "largest", '[');
    for (int i = 0; i < r->nspans; i++) {
        const struct span *s = &r->spans[i];
        json_open(j, NULL, '{');
        json_text(j, "name", s->name);
        json_text(j, "layer", s->layer);
        json_text(j, "class", class_names[s->class]);
        json_int(j, "bytes", s->bytes);
        json_int(j, "from", s->born + 1);
        json_int(j, "to", s->died);
        json_close(j, '}');
    }
    json_close(j, ']');
    json_close(j, '}');
}

static void
json_layers(struct json *j, const struct result *r)
{
    json_open(j, "layers", '[');
    for (int i = 0; i < r->nlayers; i++) {
        const struct layer *l = &r->layers[i];
        json_open(j, NULL, '{');
        json_text(j, "path", l->path);
        json_text(j, "type", l->type);
        json_int(j, "depth", l->depth);
        json_int(j, "parameters", l->parameters);
        json_int(j, "parameter_bytes", l->parameter_bytes);
        json_int(j, "saved_bytes", l->saved_bytes);
        json_int(j, "output_bytes", l->output_bytes);
        json_int(j, "flops", l->flops);
        json_text(j, "location", l->location);
        json_open(j, "operators", '[');
        for (int k = 0; k < l->nops; k++) {
            json_open(j, NULL, '{');
            json_text(j, "name", l->ops[k].name);
            json_int(j, "calls", l->ops[k].count);
            json_text(j, "location", l->ops[k].location);
            json_close(j, '}');
        }
        json_close(j, ']');
        json_close(j, '}');
    }
    json_close(j, ']');
}

/* The step at other sizes: reserved bytes by row and column. */
static void
json_grid(struct json *j, const struct result *r)
{
    const struct grid *g = r->grid;
    if (!g)
        return;
    json_open(j, "sizes", '[');
    for (int i = 0; i < g->nrows * g->ncolumns; i++) {
        int64_t reserved = g->reserved[r->own_kind][i];
        if (reserved < 0)
            continue;
        json_open(j, NULL, '{');
        json_open(j, "dims", '{');
        json_int(j, g->across, g->column[i % g->ncolumns]);
        if (g->down)
            json_int(j, g->down, g->row[i / g->ncolumns]);
        json_close(j, '}');
        json_int(j, "reserved", reserved);
        json_close(j, '}');
    }
    json_close(j, ']');
}

static void
json_plans(struct json *j, const char *name, int n, const struct plan *plan)
{
    json_open(j, name, '[');
    for (int i = 0; i < n; i++) {
        json_open(j, NULL, '{');
        json_int(j, "peak", plan[i].peak);
        json_percent(j, "extra_flops_percent", plan[i].extra_flops_percent);
        if (plan[i].pattern)
            json_percent(j, "above_front_percent", plan[i].above_front_percent);
        json_text(j, "pattern", plan[i].pattern);
        json_text(j, "held_by", plan[i].held_by);
        json_open(j, "modules", '[');
        for (int k = 0; k < plan[i].nmodules; k++)
            json_text(j, NULL, plan[i].modules[k]);
        json_close(j, ']');
        if (plan[i].pattern)
            json_text(j, "python", plan[i].python);
        json_close(j, '}');
    }
    json_close(j, ']');
}

/* One figure of a way, per number of GPUs; null where there is no such cell. */
static void
json_needs(struct json *j, const char *key, const struct scale *s, const struct way *w,
           int64_t (*figure)(const struct rank_need *need, int gpus))
{
    json_open(j, key, '[');
    for (int c = 0; c < s->ncolumns; c++)
        json_maybe(j, NULL, w->on[c].allocated < 0 || w->on[c].stops ? -1 : figure(&w->on[c], s->gpus[c]));
    json_close(j, ']');
}

static int64_t
need_allocated(const struct rank_need *need, int gpus)
{
    (void)gpus;
    return need->allocated;
}

static int64_t
need_reserved(const struct rank_need *need, int gpus)
{
    (void)gpus;
    return need->reserved;
}

static int64_t
need_sent(const struct rank_need *need, int gpus)
{
    return rank_sends(need->exchanged, need->passed, gpus);
}

static void
json_way(struct json *j, const struct scale *s, const struct way *w)
{
    json_open(j, NULL, '{');
    json_text(j, "name", w->name);
    json_text(j, "parallel", w->strategy);
    json_needs(j, "allocated", s, w, need_allocated);
    json_needs(j, "reserved", s, w, need_reserved);
    json_needs(j, "sent", s, w, need_sent);
    json_open(j, "held_by", '[');
    for (int c = 0; c < s->ncolumns; c++)
        json_text(j, NULL, w->on[c].allocated < 0 ? NULL : class_names[w->on[c].holder]);
    json_close(j, ']');
    json_open(j, "stops", '[');
    for (int c = 0; c < s->ncolumns; c++)
        json_text(j, NULL, w->on[c].stops);
    json_close(j, ']');
    json_text(j, "python", w->python);
    json_close(j, '}');
}

static void
json_scale(struct json *j, const struct result *r)
{
    const struct scale *s = r->scale;
    if (!s)
        return;
    json_open(j, "scale", '{');
    json_open(j, "gpus", '[');
    for (int c = 0; c < s->ncolumns; c++)
        json_int(j, NULL, s->gpus[c]);
    json_close(j, ']');
    json_open(j, "ways", '[');
    for (int i = 0; i < s->nways; i++)
        json_way(j, s, &s->ways[i]);
    json_close(j, ']');
    json_open(j, "devices", '[');
    for (int f = 0; f < r->nfits; f++) {
        json_open(j, NULL, '{');
        json_text(j, "name", r->fits[f].device);
        json_open(j, "cheapest", '[');
        for (int c = 0; c < s->ncolumns; c++)
            json_maybe(j, NULL, s->cheapest[f * s->ncolumns + c]);
        json_close(j, ']');
        json_close(j, '}');
    }
    json_close(j, ']');
    json_maybe(j, "chosen", s->chosen);
    json_close(j, '}');
}

static void
json_ranks(struct json *j, const struct ranks *k)
{
    if (!k)
        return;
    json_open(j, "parallel", '{');
    json_text(j, "kind", k->kind);
    json_int(j, "gpus", k->gpus);
    json_open(j, "units", '[');
    for (int i = 0; i < k->nunits; i++)
        json_text(j, NULL, k->units[i]);
    json_close(j, ']');
    json_int(j, "bytes_sent", rank_sends(k->exchanged, k->passed, k->gpus));
    json_text(j, "python", k->python);
    json_close(j, '}');
}

static void
json_recompute(struct json *j, const struct result *r)
{
    if (!r->recompute.nfront)
        return;
    json_open(j, "recompute", '{');
    json_plans(j, "front", r->recompute.nfront, r->recompute.front);
    json_plans(j, "selective", r->recompute.nselective, r->recompute.selective);
    json_plans(j, "operators", r->recompute.noperators, r->recompute.operators);
    json_plans(j, "patterns", r->recompute.npatterns, r->recompute.patterns);
    json_maybe(j, "chosen_pattern", r->recompute.chosen_pattern);
    json_maybe(j, "chosen", emit_plan_to_take(r));
    json_maybe(j, "lower_bound", r->recompute.lower_bound);
    json_text(j, "python", r->recompute.python);
    json_text(j, "selective_python", r->recompute.selective_python);
    json_close(j, '}');
}

static void
json_steps(struct json *j, const struct replay *p)
{
    json_open(j, "steps", '[');
    for (int i = 0; i < p->nsteps; i++) {
        const struct replayed_step *s = &p->steps[i];
        json_open(j, NULL, '{');
        json_int(j, "allocated", s->allocated);
        json_int(j, "allocated_peak", s->most_allocated);
        json_int(j, "reserved", s->reserved);
        json_int(j, "reserved_peak", s->most_reserved);
        json_int(j, "idle_at_peak", s->idle);
        json_int(j, "taken", s->taken);
        json_int(j, "given", s->given);
        json_close(j, '}');
    }
    json_close(j, ']');
}

static void
json_ints(struct json *j, const char *key, int n, const int64_t *v)
{
    json_open(j, key, '[');
    for (int i = 0; i < n; i++)
        json_int(j, NULL, v[i]);
    json_close(j, ']');
}

static void
json_kernel(struct json *j, const struct kernel_shape *s)
{
    json_text(j, "kernel", kernel_names[s->kind]);
    json_text(j, "dtype", dtypes[s->dtype].torch);
    if (s->kind == KERNEL_PRODUCT) {
        json_ints(j, "first", 3, (int64_t[]){s->batch, s->m, s->k});
        json_ints(j, "second", 3, (int64_t[]){s->batch, s->k, s->n});
        return;
    }
    json_ints(j, "input", s->rank, s->in);
    json_ints(j, "weight", s->rank, s->weight);
    json_ints(j, "output", s->rank, s->out);
    json_ints(j, "stride", s->rank - 2, s->stride);
    json_ints(j, "padding", s->rank - 2, s->pad);
    json_ints(j, "dilation", s->rank - 2, s->dilation);
    json_int(j, "groups", s->groups);
}

static void
json_libraries(struct json *j, const struct replay *p)
{
    const struct libraries *l = p->libraries;
    json_open(j, "libraries", '{');
    json_text(j, "convolutions", l ? l->convolutions : NULL);
    json_text(j, "products", l ? l->products : NULL);
    json_open(j, "kernels", '[');
    for (int i = 0; p->kernels && i < p->kernels->n; i++) {
        const struct kernel *k = &p->kernels->kernel[i];
        json_open(j, NULL, '{');
        json_kernel(j, &k->shape);
        json_text(j, "operator", k->op);
        json_text(j, "location", k->location);
        json_int(j, "count", k->count);
        json_maybe(j, "estimated_bytes", k->shape.kind == KERNEL_PRODUCT ? k->shape.most : -1);
        json_maybe(j, "bytes", k->bytes);
        json_close(j, '}');
    }
    json_close(j, ']');
    json_close(j, '}');
}

static void
json_replay(struct json *j, const struct result *r)
{
    const struct replay *p = r->replay;
    if (!p)
        return;
    json_open(j, "replay", '{');
    json_text(j, "device", p->d->name);
    json_int(j, "compute_capability", p->d->sm);
    json_int(j, "assumed_capability", p->sm);
    json_int(j, "predicted_reserved", p->predicted);
    json_int(j, "announced_reserved", p->announced);
    json_int(j, "replayed_reserved", p->most);
    json_int(j, "device_total", p->total);
    json_int(j, "device_used_before", p->used_before);
    json_int(j, "device_used_peak", p->used_peak);
    json_maybe(j, "context_bytes", p->d->context);
    json_int(j, "library_handle_bytes", p->library_bytes);
    json_maybe(j, "nvml_used_before", p->nvml_before);
    json_maybe(j, "nvml_used_after", p->nvml_after);
    json_maybe(j, "process_used_before", p->own_before);
    json_maybe(j, "process_used_after", p->own_after);
    json_maybe(j, "refused_bytes", p->refused ? p->refused_bytes : -1);
    json_maybe(j, "refused_step", p->refused ? p->refused_step + 1 : -1);
    json_maybe(j, "refused_block", p->refused ? p->refused_block : -1);
    json_text(j, "refused_phase", p->refused ? phase_names[p->phase] : NULL);
    json_text(j, "refused_operator", p->refused ? p->op : NULL);
    json_text(j, "refused_tensor", p->refused ? p->name : NULL);
    json_text(j, "refused_location", p->refused ? p->location : NULL);
    json_steps(j, p);
    json_libraries(j, p);
    json_close(j, '}');
}

static void
json_findings(struct json *j, const struct result *r)
{
    json_open(j, "findings", '[');
    for (int i = 0; i < r->nfindings; i++) {
        const struct finding *f = &r->findings[i];
        json_open(j, NULL, '{');
        json_text(j, "rule", f->rule);
        json_text(j, "severity", f->severity);
        json_text(j, "certainty", f->certainty);
        json_text(j, "message", f->message);
        json_open(j, "nodes", '[');
        for (int k = 0; k < f->nnodes; k++)
            json_text(j, NULL, f->nodes[k]);
        json_close(j, ']');
        json_text(j, "location", f->location);
        json_maybe(j, "saves_bytes", f->saves_bytes);
        json_maybe(j, "peak_after", f->peak_after);
        json_maybe(j, "reserved_after", f->reserved_after);
        json_percent(j, "extra_flops_percent", f->extra_flops_percent);
        json_text(j, "how", f->how);
        json_text(j, "when_not", f->unless);
        json_text(j, "suppressed", f->suppressed);
        if (r->baseline) {
            json_next(j, "in_baseline");
            fputs(f->known ? "true" : "false", j->out);
        }
        json_close(j, '}');
    }
    json_close(j, ']');
}

static void
json_oom(struct json *j, const struct oom *o)
{
    if (!o)
        return;
    json_open(j, "oom", '{');
    json_maybe(j, "tried", o->tried);
    json_maybe(j, "capacity", o->capacity);
    json_maybe(j, "allocated", o->allocated);
    json_maybe(j, "reserved", o->reserved);
    json_maybe(j, "free", o->free);
    json_text(j, "judgement", o->judgement);
    json_open(j, "tensors", '[');
    for (int i = 0; i < o->nmatches; i++) {
        const struct oom_match *t = &o->matches[i];
        json_open(j, NULL, '{');
        json_text(j, "name", t->name);
        json_int(j, "bytes", t->bytes);
        json_int(j, "count", t->count);
        json_text(j, "class", class_names[t->class]);
        json_text(j, "phase", phase_names[t->phase]);
        json_text(j, "operator", t->op);
        json_text(j, "location", t->location);
        json_close(j, '}');
    }
    json_close(j, ']');
    json_maybe(j, "likely", o->likely);
    json_maybe(j, "room", o->room);
    json_maybe(j, "largest_batch", o->largest_batch);
    json_maybe(j, "simulated", o->simulated);
    json_open(j, "avoided_by", '[');
    for (int i = 0; i < o->navoided; i++)
        json_text(j, NULL, o->avoided_by[i]);
    json_close(j, ']');
    json_close(j, '}');
}

static void
json_judgements(struct json *j, const struct result *r)
{
    if (r->nthumbs) { /* they are of training */
        json_open(j, "rule_of_thumb", '{');
        json_int(j, "parameters", r->rule_of_thumb.parameters);
        json_int(j, "gradients", r->rule_of_thumb.gradients);
        json_int(j, "optimizer", r->rule_of_thumb.optimizer);
        json_int(j, "activations", r->rule_of_thumb.activations);
        json_int(j, "total", r->rule_of_thumb.total);
        json_close(j, '}');
    } else {
        json_text(j, "rule_of_thumb", NULL);
    }
    json_open(j, "fits", '[');
    for (int i = 0; i < r->nfits; i++) {
        json_open(j, NULL, '{');
        json_text(j, "device", r->fits[i].device);
        json_int(j, "capacity", r->fits[i].capacity);
        json_text(j, "verdict", r->fits[i].verdict);
        json_maybe(j, "largest_batch", r->fits[i].largest_batch);
        json_maybe(j, "need", r->fits[i].need);
        json_int(j, "context", r->fits[i].context);
        json_close(j, '}');
    }
    json_close(j, ']');
    json_grid(j, r);
    json_ranks(j, r->ranks);
    json_scale(j, r);
    json_recompute(j, r);
    json_replay(j, r);
    json_findings(j, r);
    json_oom(j, r->oom);
    json_open(j, "unexplained", '[');
    for (int i = 0; i < r->ndoubts; i++) {
        json_open(j, NULL, '{');
        json_text(j, "node", r->doubts[i].node);
        json_text(j, "operator", r->doubts[i].op);
        json_text(j, "why", r->doubts[i].why);
        json_text(j, "remedy", r->doubts[i].remedy);
        json_text(j, "assumed", r->doubts[i].assumed);
        json_next(j, "effect_bytes");
        if (r->doubts[i].effect_bytes)
            fprintf(j->out, "%" PRId64, r->doubts[i].effect_bytes);
        else
            fputs("null", j->out);
        json_close(j, '}');
    }
    json_close(j, ']');
}

static void
json_shape(struct json *j, const char *key, const struct tensor_state *t)
{
    json_open(j, key, '[');
    for (int i = 0; i < t->rank; i++)
        json_int(j, NULL, t->shape[i]);
    json_close(j, ']');
}

static void
json_change(struct json *j, const struct layer_change *l)
{
    json_open(j, NULL, '{');
    json_text(j, "path", l->now.path);
    json_text(j, "old_path", l->old.path);
    json_text(j, "change", change_names[l->kind]);
    json_next(j, "cause");
    fputs(l->cause ? "true" : "false", j->out);
    json_text(j, "type", l->now.type);
    json_text(j, "old_type", l->old.type);
    json_text(j, "operators", l->operators);
    json_text(j, "location", l->location);
    json_int(j, "increase_bytes", l->now.peak_bytes - l->old.peak_bytes);
    json_int(j, "parameters", l->now.parameters);
    json_int(j, "old_parameters", l->old.parameters);
    json_int(j, "saved_bytes", l->now.saved_bytes);
    json_int(j, "old_saved_bytes", l->old.saved_bytes);
    json_open(j, "tensors", '[');
    for (int i = 0; i < l->ntensors; i++) {
        const struct tensor_change *t = &l->tensors[i];
        json_open(j, NULL, '{');
        json_text(j, "name", t->now.name);
        json_text(j, "old_name", t->old.name);
        json_text(j, "class", class_names[t->class]);
        json_shape(j, "shape", &t->now);
        json_shape(j, "old_shape", &t->old);
        json_text(j, "dtype", t->now.dtype);
        json_text(j, "old_dtype", t->old.dtype);
        json_close(j, '}');
    }
    json_close(j, ']');
    json_close(j, '}');
}

static void
json_baseline(struct json *j, const struct baseline *b)
{
    json_open(j, "baseline", '{');
    json_text(j, "file", b->file);
    json_text(j, "version", b->version);
    json_int(j, "peak", b->peak);
    json_int(j, "increase_bytes", b->increase_bytes);
    json_percent(j, "increase_percent", b->increase_percent);
    json_int(j, "parameters", b->parameters);
    json_text(j, "most_by", b->most);
    json_int(j, "most_by_bytes", b->most_bytes);
    json_open(j, "setup_differs", '[');
    for (int i = 0; i < b->ndiffers; i++)
        json_text(j, NULL, b->differs[i]);
    json_close(j, ']');
    json_open(j, "layers_changed", '[');
    for (int i = 0; i < b->nlayers; i++)
        json_change(j, &b->layers[i]);
    json_close(j, ']');
    json_close(j, '}');
}

/* A line that says that the model was refused: a run over many models counts it as done. */
static bool
json_refused(const struct result *r, FILE *out)
{
    struct json j = {.out = out};
    json_open(&j, NULL, '{');
    json_int(&j, "schema", 1);
    json_text(&j, "version", r->version);
    json_open(&j, "model", '{');
    json_text(&j, "file", r->model.file);
    json_close(&j, '}');
    json_text(&j, "verdict", "refused");
    json_text(&j, "error", r->refused);
    json_close(&j, '}');
    fputc('\n', out);
    return !ferror(out);
}

static bool
json_object(const struct result *r, FILE *out, bool lines)
{
    struct json j = {.out = out, .lines = lines};
    if (r->refused)
        return json_refused(r, out);
    json_open(&j, NULL, '{');
    json_int(&j, "schema", 1);
    json_text(&j, "version", r->version);
    json_open(&j, "model", '{');
    json_text(&j, "file", r->model.file);
    json_int(&j, "opset", r->model.opset);
    json_text(&j, "producer", r->model.producer);
    json_int(&j, "nodes", r->model.nodes);
    json_int(&j, "parameters", r->model.parameters);
    json_int(&j, "parameter_bytes", r->model.parameter_bytes);
    json_int(&j, "trainable_parameters", r->model.trainable_parameters);
    json_int(&j, "buffer_bytes", r->model.buffer_bytes);
    json_close(&j, '}');
    json_provenance(&j, r);
    if (r->noptions) {
        json_open(&j, "options", '[');
        for (int i = 0; i < r->noptions; i++)
            json_text(&j, NULL, r->options[i]);
        json_close(&j, ']');
    }
    json_setup(&j, r);
    json_text(&j, "verdict", verdict_names[r->verdict]);
    json_text(&j, "gate", r->gate);
    json_summary(&j, r);
    json_checks(&j, r);
    json_peak(&j, r);
    json_live(&j, r);
    json_segments(&j, r);
    json_timeline(&j, r);
    json_tensors(&j, r);
    json_layers(&j, r);
    json_judgements(&j, r);
    if (r->baseline)
        json_baseline(&j, r->baseline);
    json_close(&j, '}');
    fputc('\n', out);
    return !ferror(out);
}

bool
json_write(const struct result *r, FILE *out, bool colour, int width)
{
    (void)colour, (void)width;
    return json_object(r, out, true);
}

bool
jsonl_write(const struct result *r, FILE *out, bool colour, int width)
{
    (void)colour, (void)width;
    return json_object(r, out, false);
}
