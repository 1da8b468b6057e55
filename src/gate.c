/* gate.c - which results are stopped: a table of gates, each judged by itself, and the suppressions of findings.
 *
 * A gate that was asked for and can't be judged fails: what wasn't compared must not pass unseen. Suppressions have a
 * reason and a day on which they end; those that are over or cover nothing are told, so that they don't pile up.
 */
#include "memlint.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- suppressions ---------------------------------------------------------------------------------------------------------- */

static bool
covers(const struct suppression *s, const struct finding *f)
{
    bool hit = !s->glob || (f->location && glob_match(s->glob, f->location));
    for (int i = 0; i < f->nnodes && !hit; i++)
        hit = f->nodes[i] && glob_match(s->glob, f->nodes[i]);
    return hit && f->rule && glob_match(s->rule, f->rule);
}

/* Today as YYYY-MM-DD in UTC; SOURCE_DATE_EPOCH, for reports that can be made again, is another day. */
static const char *
today(struct arena *a)
{
    const char *epoch = getenv("SOURCE_DATE_EPOCH");
    time_t now = epoch && *epoch ? (time_t)strtoll(epoch, NULL, 10) : time(NULL);
    struct tm tm;
    char *s = arena_alloc(a, 64);
    if (gmtime_r(&now, &tm))
        strftime(s, 64, "%Y-%m-%d", &tm);
    return s;
}

const char **
gate_suppress(struct arena *a, const struct options *o, struct result *r)
{
    const char **notes = NEWN(a, const char *, o->nsuppress + 1), *day = today(a);
    int n = 0;
    for (int i = 0; i < o->nsuppress; i++) {
        struct suppression *s = &o->suppress[i];
        bool over = strcmp(s->until, day) < 0;
        s->used = false;
        for (int k = 0; k < r->nfindings; k++)
            if (covers(s, &r->findings[k])) {
                s->used = true;
                if (!over)
                    r->findings[k].suppressed = arena_printf(a, "until %s: %s", s->until, s->reason);
            }
        const char *what = arena_printf(a, "%s: the suppression of %s%s%s", s->place, s->rule, s->glob ? "@" : "",
                                        s->glob ? s->glob : "");
        if (!s->used)
            notes[n++] = arena_printf(a, "%s covers no finding; remove it", what);
        else if (over)
            notes[n++] = arena_printf(a, "%s ended on %s; mend the finding, or decide anew", what, s->until);
    }
    return notes;
}

/* ---- gates ----------------------------------------------------------------------------------------------------------------- */

static struct check
outcome(bool failed, const char *message)
{
    return (struct check){.message = message, .outcome = failed ? CHECK_FAILED : CHECK_PASSED};
}

static const struct check skipped = {.outcome = CHECK_SKIPPED};

static struct check
max_peak(struct arena *a, const struct options *o, const struct result *r)
{
    bool over = r->peak.allocated > o->max_peak;
    if (o->max_peak < 0)
        return skipped;
    return outcome(over, arena_printf(a, "the peak of %s is %s --max-peak %s", bytes_text(a, r->peak.allocated),
                                      over ? "above" : "within", bytes_text(a, o->max_peak)));
}

/* The layer that comes first among those that changed, in a few words. */
static const char *
culprit(struct arena *a, const struct baseline *b)
{
    if (b->nlayers == 0)
        return "";
    const struct layer_change *l = &b->layers[0];
    return arena_printf(a, "; first %s%s%s: %s", emit_layer(a, l, 120), l->location ? " at " : "",
                        l->location ? l->location : "", emit_change(a, l));
}

static struct check
max_increase(struct arena *a, const struct options *o, const struct result *r)
{
    const struct baseline *b = r->baseline;
    double percent = o->max_increase_percent;
    if ((o->max_increase_bytes < 0 && percent < 0) || !b || o->update_baseline)
        return skipped;
    if (b->ndiffers)
        return outcome(true, arena_printf(a,
                                          "--max-increase can't be judged, the baseline has another set-up (%s); "
                                          "--update-baseline writes it anew",
                                          b->differs[0]));
    double part = percent >= 0 ? (double)b->peak / 100 * percent : -1;
    int64_t allowed = part > (double)o->max_increase_bytes ? (int64_t)part : o->max_increase_bytes;
    bool over = b->increase_bytes > allowed;
    const char *change = arena_printf(a, "the peak %s by %s (%+.3g %%)", b->increase_bytes < 0 ? "shrank" : "grew",
                                      bytes_text(a, b->increase_bytes < 0 ? -b->increase_bytes : b->increase_bytes),
                                      b->increase_percent);
    return outcome(over, arena_printf(a, "%s, %s --max-increase %s%s", change, over ? "more than" : "within",
                                      bytes_text(a, allowed), over ? culprit(a, b) : ""));
}

static struct check
fail_on(struct arena *a, const struct options *o, const struct result *r)
{
    if (!o->fail_on)
        return skipped;
    int least = severity_rank(o->fail_on);
    if (least < 0)
        return outcome(r->ndoubts > 0, r->ndoubts
                                           ? arena_printf(a, "inconclusive: %d values are not explained", r->ndoubts)
                                           : "every value is explained");
    for (int i = 0; i < r->nfindings; i++)
        if (!r->findings[i].suppressed && severity_rank(r->findings[i].severity) >= least)
            return outcome(true, arena_printf(a, "%s %s, and --fail-on %s", r->findings[i].severity,
                                              r->findings[i].rule, o->fail_on));
    return outcome(false, arena_printf(a, "no finding of %s or above", o->fail_on));
}

static struct check
device(struct arena *a, const struct options *o, const struct result *r)
{
    bool fits = r->peak.device <= o->setup.capacity;
    if (o->setup.capacity <= 0)
        return skipped;
    return outcome(!fits, arena_printf(a, "%s of the device %s in --device %s", bytes_text(a, r->peak.device),
                                       fits ? "fit" : "don't fit", bytes_text(a, o->setup.capacity)));
}

static const struct {
    const char *name;
    struct check (*judge)(struct arena *a, const struct options *o, const struct result *r);
    enum verdict verdict; /* when it fails */
} gates[] = {
    {"max-peak", max_peak, VERDICT_GATE_FAILED},
    {"max-increase", max_increase, VERDICT_GATE_FAILED},
    {"fail-on", fail_on, VERDICT_GATE_FAILED},
    {"device", device, VERDICT_DOES_NOT_FIT},
};

void
gate_judge(struct arena *a, const struct options *o, struct result *r)
{
    r->checks = NEWN(a, struct check, COUNT(gates));
    r->nchecks = COUNT(gates);
    for (int i = COUNT(gates) - 1; i >= 0; i--) { /* the first one's verdict counts */
        r->checks[i] = gates[i].judge(a, o, r);
        r->checks[i].name = gates[i].name;
        if (r->checks[i].outcome != CHECK_FAILED)
            continue;
        r->gate = r->gate ? arena_printf(a, "%s; %s", r->checks[i].message, r->gate) : r->checks[i].message;
        r->verdict = gates[i].verdict;
    }
}

int
gate_code(enum verdict v)
{
    return v == VERDICT_GATE_FAILED || v == VERDICT_DOES_NOT_FIT ? EXIT_GATE : EXIT_CLEAN;
}
