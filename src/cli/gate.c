/* SPDX-License-Identifier: Apache-2.0 */
/* gate.c - which results are stopped: a table of gates, each judged by itself, and the suppressions of findings.
 *
 * A gate that was asked for and can't be judged stops the model, too: what wasn't compared, or isn't known, must not
 * pass unseen. Two things let a gate pass, and the reports say so: --fail-on=known, which a reviewed flag file may
 * hold, what is unjudged; --accept, with its reason, what is about bytes. Suppressions have a
 * reason and a day on which they end; those that are over or cover nothing are told, so that they don't pile up.
 */
#include "cli/cli.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- suppressions ------------------------------------------------------------------------------------------------ */

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

/* ---- gates ------------------------------------------------------------------------------------------------------- */

static struct check
outcome(bool failed, const char *message)
{
    return (struct check){.message = message, .outcome = failed ? CHECK_FAILED : CHECK_PASSED};
}

static const struct check skipped = {.outcome = CHECK_SKIPPED};

static struct check
unjudged(struct arena *a, const char *budget, const char *why)
{
    return (struct check){.message = arena_printf(a, "%s is unjudged: %s", budget, why), .outcome = CHECK_UNJUDGED};
}

static const char *
unexplained(struct arena *a, const char *what, int n)
{
    return arena_printf(a, "%s is inconclusive, %d %s not explained", what, n, n == 1 ? "value is" : "values are");
}

static const char *
unsettled(struct arena *a, const struct result *r)
{
    const char *why = unexplained(a, "the result", r->ndoubts), *remedy = r->doubts ? r->doubts[0].remedy : NULL;
    return remedy ? arena_printf(a, "%s; %s may settle it", why, string_clip(a, remedy, 120)) : why;
}

/* A budget of an inconclusive result: above it for certain, within it whichever way what is unknown goes, or unjudged.
 * high: the most that it can be; 0 not known. */
static struct check
uncertain(struct arena *a, const struct result *r, const char *budget, int64_t most, int64_t high)
{
    if (r->peak.certain > most)
        return outcome(true, arena_printf(a, "%s of the peak are certain, which is above %s",
                                          bytes_text(a, r->peak.certain), budget));
    if (high > 0 && high <= most)
        return outcome(false, arena_printf(a, "%s at most, whichever way what is unknown goes, are within %s",
                                           bytes_text(a, high), budget));
    return unjudged(a, budget, unsettled(a, r));
}

static struct check
max_peak(struct arena *a, const struct options *o, const struct result *r)
{
    bool over = r->peak.allocated > o->max_peak;
    if (o->max_peak < 0)
        return skipped;
    const char *budget = arena_printf(a, "--max-peak %s", o->max_peak_text);
    if (r->ndoubts)
        return uncertain(a, r, budget, o->max_peak, r->peak.most);
    return outcome(over, arena_printf(a, "the peak of %s is %s %s", bytes_text(a, r->peak.allocated),
                                      over ? "above" : "within", budget));
}

/* Where most of the increase lies, and what changed by itself. */
static const char *
culprit(struct arena *a, const struct baseline *b)
{
    const struct layer_change *l = b->first >= 0 ? &b->layers[b->first] : NULL;
    const char *s = "", *path = l ? emit_layer(a, l, 120) : NULL;
    if (b->most && (!path || strcmp(path, b->most) != 0))
        s = arena_printf(a, "; the largest part in %s (%s)",
                         *b->most ? string_clip(a, b->most, 120) : "the model itself", emit_signed(a, b->most_bytes));
    return l ? arena_printf(a, "%s; first in %s%s%s: %s", s, path, l->location ? " at " : "",
                            l->location ? l->location : "", emit_change(a, l))
             : s;
}

/* An increase where one of both, or both, are inconclusive. With the same doubts on both sides each way is compared
 * with itself, so that what did not change is known to be none. */
static struct check
uncertain_increase(struct arena *a, const struct result *r, const char *budget, int64_t allowed)
{
    const struct baseline *b = r->baseline;
    if (!b->ndoubts && (r->peak.most <= 0 || r->peak.certain > bytes_add(b->peak, allowed)))
        return uncertain(a, r, budget, bytes_add(b->peak, allowed), 0);
    const char *open = r->ndoubts ? unsettled(a, r) : unexplained(a, "the baseline", b->ndoubts);
    if (r->peak.most <= 0 || b->peak_most <= 0 || b->peak_least < 0)
        return unjudged(a, budget, open);
    const int64_t ways[] = {r->peak.certain - b->peak_least, b->increase_bytes, r->peak.most - b->peak_most};
    int64_t low = r->peak.certain - b->peak_most, high = r->peak.most - b->peak_least;
    for (int i = 0; i < COUNT(ways) && b->alike; i++) {
        low = i == 0 || ways[i] < low ? ways[i] : low;
        high = i == 0 || ways[i] > high ? ways[i] : high;
    }
    if (low > allowed || high <= allowed) {
        const char *change = low < high
                                 ? arena_printf(a, "changes by %s to %s", emit_signed(a, low), emit_signed(a, high))
                             : low ? arena_printf(a, "changes by %s", emit_signed(a, low))
                                   : "is unchanged";
        return outcome(low > allowed, arena_printf(a, "whichever way what is unknown goes, the peak %s, %s %s", change,
                                                   low > allowed ? "more than" : "within", budget));
    }
    return unjudged(a, budget, open);
}

static struct check
max_increase(struct arena *a, const struct options *o, const struct result *r)
{
    const struct baseline *b = r->baseline;
    double percent = o->max_increase_percent;
    if ((o->max_increase_bytes < 0 && percent < 0) || o->update_baseline)
        return skipped;
    if (o->no_baseline)
        return (struct check){.message = "no increase to judge: --baseline=none says that the model is new",
                              .outcome = CHECK_SKIPPED};
    double part = percent >= 0 && b ? (double)b->peak / 100 * percent : -1;
    int64_t allowed = part > (double)o->max_increase_bytes ? (int64_t)part : o->max_increase_bytes;
    bool by_percent = o->max_increase_bytes < 0 || allowed > o->max_increase_bytes;
    const char *budget =
        arena_printf(a, "--max-increase %s", by_percent ? o->increase_percent_text : o->increase_bytes_text);
    if (!b)
        return unjudged(a, budget,
                        "there is no baseline to compare with; --baseline names one, --baseline=none says that "
                        "the model is new");
    if (b->ndiffers)
        return unjudged(a, budget,
                        arena_printf(a, "the baseline has another set-up (%s), with which the peak was %s, now %s",
                                     b->differs[0], bytes_text(a, b->peak), bytes_text(a, r->peak.allocated)));
    if (r->ndoubts || b->ndoubts)
        return uncertain_increase(a, r, budget, allowed);
    bool over = b->increase_bytes > allowed;
    const char *change = arena_printf(a, "the peak %s by %s (%+.3g %%)", b->increase_bytes < 0 ? "shrank" : "grew",
                                      bytes_text(a, b->increase_bytes < 0 ? -b->increase_bytes : b->increase_bytes),
                                      b->increase_percent);
    if (by_percent)
        budget = arena_printf(a, "%s (%s)", budget, bytes_text(a, allowed));
    return outcome(over, arena_printf(a, "%s, %s %s%s", b->increase_bytes ? change : "the peak is unchanged",
                                      over ? "more than" : "within", budget, over ? culprit(a, b) : ""));
}

static struct check
fail_on(struct arena *a, const struct options *o, const struct result *r)
{
    if (!o->fail_on)
        return skipped;
    int least = severity_rank(o->fail_on);
    if (least < 0)
        return outcome(r->ndoubts > 0,
                       r->ndoubts ? unexplained(a, "the result", r->ndoubts) : "every value is explained");
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
    const char *budget = arena_printf(a, "--device %s", o->device_text);
    if (r->ndoubts && r->peak.device_most > 0 && r->peak.device_most <= o->setup.capacity)
        return outcome(false,
                       arena_printf(a, "%s of the device at most, whichever way what is unknown goes, fit in %s (%s)",
                                    bytes_text(a, r->peak.device_most), budget, bytes_text(a, o->setup.capacity)));
    if (r->ndoubts)
        return uncertain(a, r, budget, o->setup.capacity - device_context(&o->setup, o->setup.device).least, 0);
    return outcome(!fits, arena_printf(a, "%s of the device %s in %s (%s)", bytes_text(a, r->peak.device),
                                       fits ? "fit" : "don't fit", budget, bytes_text(a, o->setup.capacity)));
}

static const struct {
    const char *name;
    struct check (*judge)(struct arena *a, const struct options *o, const struct result *r);
    enum verdict verdict; /* when it stops the model */
    bool acceptable;      /* --accept lets it pass */
} gates[] = {
    {"max-peak", max_peak, VERDICT_GATE_FAILED, true},
    {"max-increase", max_increase, VERDICT_GATE_FAILED, true},
    {"fail-on", fail_on, VERDICT_GATE_FAILED, false},
    {"device", device, VERDICT_DOES_NOT_FIT, true},
};

void
gate_judge(struct arena *a, const struct options *o, struct result *r)
{
    r->checks = NEWN(a, struct check, COUNT(gates));
    r->nchecks = COUNT(gates);
    bool unfit = r->verdict == VERDICT_DOES_NOT_FIT && o->setup.capacity <= 0; /* as --explain-oom found */
    r->verdict = r->ndoubts ? VERDICT_INCONCLUSIVE : unfit ? VERDICT_DOES_NOT_FIT : VERDICT_OK;
    for (int i = COUNT(gates) - 1; i >= 0; i--) { /* the first one's verdict counts */
        struct check *c = &r->checks[i];
        *c = gates[i].judge(a, o, r);
        c->name = gates[i].name;
        if (check_stops(c) && gates[i].acceptable && o->accept) {
            c->outcome = CHECK_ACCEPTED;
            c->message = arena_printf(a, "%s; accepted: %s", c->message, string_clip(a, o->accept, 200));
        } else if (c->outcome == CHECK_UNJUDGED && o->fail_on_known) {
            c->outcome = CHECK_SKIPPED;
            c->message = arena_printf(a, "%s; --fail-on=known lets it pass", c->message);
        }
        if (!check_stops(c))
            continue;
        r->gate = r->gate ? arena_printf(a, "%s; %s", c->message, r->gate) : c->message;
        if (c->outcome == CHECK_FAILED || !r->ndoubts) /* else it stays inconclusive */
            r->verdict = c->outcome == CHECK_FAILED ? gates[i].verdict : VERDICT_GATE_FAILED;
    }
}

int
gate_code(const struct result *r)
{
    for (int i = 0; i < r->nchecks; i++)
        if (check_stops(&r->checks[i]))
            return EXIT_GATE;
    return EXIT_CLEAN;
}
