/* SPDX-License-Identifier: Apache-2.0 */
/* emit.c - what every report needs: writing it safely, and the words and columns that several formats share.
 *
 * report_write makes a report all or nothing. The report goes to a temporary file in the target's folder, is synced and
 * renamed over the target; whatever fails before the rename leaves an older report untouched and no litter. The file
 * has no name until it is whole (O_TMPFILE), so that a kill leaves nothing either. Where a file system can't do that,
 * its name is known to a signal handler and to exit(): Ctrl-C removes it, and the program ends with exit status 4. A
 * target that is no regular file (/dev/stdout, a pipe) is written in place.
 *
 * string_clean is the one place where strings from a model become printable: invalid UTF-8 becomes U+FFFD, and control
 * characters, which could move a terminal's cursor or end a line, become a visible \xNN. So do the characters that turn
 * the direction of the text around. Each format then does its own quoting on top (emit knows no format).
 *
 * emit_columns thins the timeline for a picture. It never mixes instants: a column shows one instant of the step, the
 * largest of those it stands for, because the maximum of each class would be a moment that never was.
 */
#include "config.h"
#include "reports/reports.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- all or nothing ---------------------------------------------------------------------------------------------- */

static char temporary[4096]; /* the file to remove when we are stopped; "" none */

static void
emit_drop(void)
{
    if (temporary[0])
        unlink(temporary);
    temporary[0] = '\0';
}

static void
emit_signal(int number)
{
    static const char said[] = "memlint: interrupted\n";
    (void)number;
    emit_drop();
    (void)!write(STDERR_FILENO, said, sizeof(said) - 1);
    _exit(EXIT_ENVIRONMENT);
}

void
emit_guard(void)
{
    static const int stops[] = {SIGINT, SIGTERM, SIGHUP};
    atexit(emit_drop);
    for (int i = 0; i < COUNT(stops); i++) {
        struct sigaction old, sa = {.sa_handler = emit_signal};
        sigemptyset(&sa.sa_mask);
        if (sigaction(stops[i], NULL, &old) == 0 && old.sa_handler == SIG_DFL)
            sigaction(stops[i], &sa, NULL);
    }
}

static char proc[32]; /* the file without a name, as /proc shows it; "" it has one */

/* A new file beside path. Signals wait meanwhile, so that no file has a name that is not in temporary. */
static int
emit_open(const char *path)
{
    sigset_t all, before;
    sigfillset(&all);
    const char *slash = strrchr(path, '/');
    int folder = slash ? (int)(slash - path) + 1 : 0, fd = -1;
    char name[sizeof(temporary)];
    if (snprintf(name, sizeof(name), "%.*s.memlint-XXXXXX", folder, path) >= (int)sizeof(name)) {
        errno = ENAMETOOLONG;
        return -1;
    }
    proc[0] = '\0';
#ifdef O_TMPFILE
    char where[sizeof(temporary)];
    snprintf(where, sizeof(where), "%.*s.", folder, path);
    if ((fd = open(where, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600)) >= 0)
        snprintf(proc, sizeof(proc), "/proc/self/fd/%d", fd);
    if (fd >= 0 && access(proc, F_OK) == 0)
        return fd;
    proc[0] = '\0';
    if (fd >= 0)
        close(fd);
#endif
    sigprocmask(SIG_BLOCK, &all, &before);
    if ((fd = mkstemp(name)) >= 0)
        strcpy(temporary, name);
    sigprocmask(SIG_SETMASK, &before, NULL);
    return fd;
}

/* The whole file becomes target. Signals wait while it has a name of its own, which only an older target needs. */
static bool
emit_rename(FILE *out, const char *target)
{
    sigset_t all, before;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &before);
    bool ok = !proc[0] || linkat(AT_FDCWD, proc, AT_FDCWD, target, AT_SYMLINK_FOLLOW) == 0, linked = ok && proc[0];
    if (!ok && errno == EEXIST) {
        const char *slash = strrchr(target, '/');
        snprintf(temporary, sizeof(temporary), "%.*s.memlint-%06ld", slash ? (int)(slash - target) + 1 : 0, target,
                 (long)getpid() % 1000000);
        unlink(temporary); /* of a process that was killed here and had this number */
        ok = linkat(AT_FDCWD, proc, AT_FDCWD, temporary, AT_SYMLINK_FOLLOW) == 0;
    }
    ok = ok && (linked || rename(temporary, target) == 0);
    if (ok)
        temporary[0] = '\0';
    sigprocmask(SIG_SETMASK, &before, NULL);
    return fclose(out) == 0 && ok;
}

static bool
emit_fail(FILE *out, const char **why)
{
    *why = strerror(errno ? errno : EIO);
    if (out)
        fclose(out);
    emit_drop();
    return false;
}

static bool
emit_in_place(const struct result *r, const struct format *f, const char *path, const char **why)
{
    FILE *out = fopen(path, "w");
    if (!out || !f->write(r, out, false, 100) || fflush(out))
        return emit_fail(out, why);
    return fclose(out) == 0 || emit_fail(NULL, why);
}

bool
report_write(const struct result *r, const struct format *f, const char *path, const char **why)
{
    struct stat st;
    errno = 0;
    bool exists = stat(path, &st) == 0;
    if (exists && S_ISDIR(st.st_mode)) {
        *why = strerror(EISDIR);
        return false;
    }
    if (exists && !S_ISREG(st.st_mode))
        return emit_in_place(r, f, path, why);
    char *target = exists ? realpath(path, NULL) : strdup(path); /* through a symbolic link: keep the link */
    mode_t mask = umask(0);
    umask(mask);
    int fd = target ? emit_open(target) : -1;
    FILE *out = fd >= 0 ? fdopen(fd, "w") : NULL;
    errno = out ? 0 : errno;
    bool ok = out && f->write(r, out, false, 100) && fflush(out) == 0 && fsync(fd) == 0 &&
              fchmod(fd, exists ? st.st_mode & 07777 : 0666 & ~mask) == 0;
    if (!ok)
        emit_fail(out, why);
    else if (!emit_rename(out, target))
        ok = emit_fail(NULL, why);
    free(target);
    return ok;
}

bool
report_append(const struct result *r, const struct format *f, const char *path, const char **why)
{
    char *line = NULL;
    size_t n = 0;
    FILE *out = open_memstream(&line, &n);
    bool ok = out && f->write(r, out, false, 100);
    ok = out && fclose(out) == 0 && ok;
    errno = 0;
    int fd = ok ? open(path, O_WRONLY | O_CREAT | O_APPEND, 0666) : -1;
    ssize_t wrote = fd >= 0 ? write(fd, line, n) : -1;
    ok = wrote == (ssize_t)n;
    *why = strerror(errno ? errno : ENOSPC);
    struct stat st;
    if (wrote > 0 && !ok && fstat(fd, &st) == 0 && st.st_size == lseek(fd, 0, SEEK_CUR)) /* nobody wrote after us */
        (void)!ftruncate(fd, st.st_size - wrote);
    if (fd >= 0)
        ok = close(fd) == 0 && ok;
    free(line);
    return ok;
}

/* ---- strings that came from a model ------------------------------------------------------------------------------ */

/* ---- words ------------------------------------------------------------------------------------------------------- */

bool
emit_is_unit(const char *space)
{
    static const char *const units[] = {"%", "B", "KiB", "MiB", "GiB", "TiB"};
    bool found = false;
    for (int i = 0; i < COUNT(units) && space[-1] >= '0' && space[-1] <= '9'; i++) {
        size_t n = strlen(units[i]);
        found |= strncmp(space + 1, units[i], n) == 0 && strchr(" ,;:.)", space[1 + n]);
    }
    return found;
}

const char *
emit_modules(struct arena *a, const struct plan *p)
{
    const char *s = p->nmodules ? "" : "none";
    for (int i = 0; i < p->nmodules; i++)
        s = arena_printf(a, "%s%s%s", s, i ? ", " : "", string_clip(a, p->modules[i], 200));
    return s;
}

bool
emit_avoids(const struct result *r, const struct finding *f)
{
    bool avoids = false;
    for (int k = 0; k < r->oom->navoided && !avoids; k++)
        avoids = strcmp(r->oom->avoided_by[k], f->rule) == 0;
    return avoids;
}

const char *
emit_avoided(struct arena *a, const struct result *r)
{
    const char *s = "";
    for (int i = 0; i < r->nfindings; i++)
        if (emit_avoids(r, &r->findings[i]))
            s = arena_printf(a, "%s%s%s (%s)", s, *s ? ", " : "", string_clean(a, r->findings[i].rule),
                             bytes_text(a, r->findings[i].reserved_after));
    return s;
}

const char *
emit_checkpoints(struct arena *a, const struct result *r)
{
    int n = r->recompute.nregions;
    return n ? arena_printf(a, "%d module%s under checkpoint: %.1f %% more FLOPs", n, n == 1 ? "" : "s",
                            r->recompute.extra_flops_percent)
             : NULL;
}

const char *
emit_pattern(struct arena *a, const struct plan *p)
{
    const char *s = arena_printf(a, "%d module%s", p->nmodules, p->nmodules == 1 ? "" : "s");
    return p->above_front_percent < 0.5
               ? s
               : arena_printf(a, "%s, %.1f %% above scattered ones for that work", s, p->above_front_percent);
}

int
emit_plan_to_take(const struct result *r)
{
    int k = r->recompute.chosen_pattern, found = k < 0 ? r->recompute.chosen : -1;
    for (int i = 0; i < r->recompute.nfront && k >= 0; i++)
        if (r->recompute.front[i].pattern && r->recompute.patterns[k].pattern &&
            strcmp(r->recompute.front[i].pattern, r->recompute.patterns[k].pattern) == 0)
            found = i;
    return found;
}

const char *
emit_cheapest(struct arena *a, int n, const struct plan *front, int64_t peak)
{
    for (int i = 0; i < n; i++) /* from the highest peak on, each with more work */
        if (front[i].peak <= peak)
            return arena_printf(a, "%.1f %%", front[i].extra_flops_percent);
    return "-";
}

const char *
emit_shape(struct arena *a, int rank, const int64_t *shape)
{
    if (rank < 0)
        return "";
    char *s = arena_alloc(a, (size_t)rank * 24 + 3), *p = s;
    *p++ = '[';
    for (int i = 0; i < rank; i++) {
        if (i)
            p = stpcpy(p, ", ");
        p = int_put(p, shape[i]);
    }
    *p = ']';
    return s;
}

const char *
emit_tensor(struct arena *a, const char *name, const char *path)
{
    name = name ? name : "";
    bool told = !path || !*path || strstr(name, path); /* a parameter's name begins with its module's */
    return told ? name : arena_printf(a, "%s: %s", path, name);
}

static int
by_group_bytes(const void *x, const void *y)
{
    const struct tensor_group *a = x, *b = y;
    return a->bytes != b->bytes ? (a->bytes < b->bytes) - (a->bytes > b->bytes) : a->member[0] - b->member[0];
}

void
emit_sort_groups(struct tensor_group *g, int n)
{
    if (g && n)
        qsort(g, (size_t)n, sizeof(*g), by_group_bytes);
}

struct tensor_group *
emit_groups(struct arena *a, const struct result *r, int *n)
{
    struct names *ids = names_new(a);
    struct tensor_group *groups = NULL;
    int cap = 0;
    *n = 0;
    for (int i = 0; i < r->nlive; i++) {
        const struct live_tensor *t = &r->live[i];
        const char *name = string_pattern(a, string_op(a, emit_tensor(a, t->name, t->layer), 1000));
        const char *key =
            arena_printf(a, "%d\n%s\n%s\n%s\n%s\n%s", (int)t->class, name, emit_shape(a, t->rank, t->shape), t->dtype,
                         t->born ? t->born : "", t->needed_by ? t->needed_by : "");
        int id = names_find(ids, key);
        if (id < 0) {
            names_put(ids, key, id = *n);
            *PUSH(a, groups, *n, cap) =
                (struct tensor_group){.name = emit_tensor(a, t->name, t->layer), .location = t->location, .first = t};
        }
        struct tensor_group *g = &groups[id];
        if (g->count) /* NOLINT(clang-analyzer-core.NullDereference): PUSH made it */
            g->name = name;
        g->location = g->location ? g->location : t->location;
        g->elsewhere |= t->location && strcmp(g->location, t->location) != 0;
        g->bytes = bytes_add(g->bytes, t->bytes);
        g->slack_bytes = bytes_add(g->slack_bytes, tensor_slack(t));
        *PUSH(a, g->member, g->count, g->cap) = i;
    }
    emit_sort_groups(groups, *n);
    return groups;
}

static const char *const when[PHASE_COUNT] = {"while the model is built", "when the inputs arrive",
                                              "in the forward pass",      "in the loss",
                                              "in the backward pass",     "in the optimizer's step"};

static const char *
capacity_text(struct arena *a, const struct fit *f)
{
    return arena_printf(a, "%s of %s", bytes_text(a, f->need), bytes_text(a, f->capacity));
}

/* Whether it fits: the device asked for, the room of the message, else the smallest that fits and the next smaller. */
static const char *
devices_text(struct arena *a, const struct result *r)
{
    const struct fit *fits = NULL, *less = NULL, *own = fits_own(r);
    if (r->oom && r->oom->room >= 0 && !r->setup.device) {
        const char *s = arena_printf(a, "; it reserves %s, %s than the %s that the message left room for",
                                     bytes_text(a, r->peak.reserved),
                                     r->peak.reserved > r->oom->room ? "more" : "no more", bytes_text(a, r->oom->room));
        return r->oom->largest_batch > 0
                   ? arena_printf(a, "%s; the largest batch that fits is %lld", s, (long long)r->oom->largest_batch)
                   : s;
    }
    if (own && own->need >= 0) {
        bool named = strcmp(own->device, bytes_text(a, own->capacity)) != 0;
        const char *s =
            arena_printf(a, "; it %s %s (%s)", strcmp(own->verdict, "tight") == 0 ? "is tight on" : own->verdict,
                         string_clip(a, own->device, 40),
                         named ? capacity_text(a, own) : arena_printf(a, "it takes %s", bytes_text(a, own->need)));
        return own->largest_batch > 0
                   ? arena_printf(a, "%s; the largest batch that fits is %lld", s, (long long)own->largest_batch)
                   : s;
    }
    for (int i = 0; i < r->nfits; i++)
        if (r->fits[i].device && r->fits[i].verdict && strcmp(r->fits[i].verdict, "fits") == 0 &&
            (!fits || r->fits[i].capacity < fits->capacity))
            fits = &r->fits[i];
    for (int i = 0; i < r->nfits; i++)
        if (r->fits[i].device && r->fits[i].verdict && strcmp(r->fits[i].verdict, "fits") != 0 &&
            (!fits || r->fits[i].capacity <= fits->capacity) && (!less || r->fits[i].capacity > less->capacity))
            less = &r->fits[i];
    const char *s = fits   ? arena_printf(a, "; fits %s (%s)", string_clip(a, fits->device, 40), capacity_text(a, fits))
                    : less ? "; fits none of the devices listed"
                           : "";
    return !less ? s
                 : arena_printf(a, "%s, %s %s (%s)", s,
                                strcmp(less->verdict, "tight") == 0 ? "tight on"
                                : fits                              ? "not"
                                                                    : "not even",
                                string_clip(a, less->device, 40), capacity_text(a, less));
}

/* "Peak 5.1 GiB allocated at batch 32" */
static const char *
peak_text(struct arena *a, const struct result *r, const char *begin)
{
    const char *s = arena_printf(a, "%s %s allocated", begin, bytes_text(a, r->peak.allocated));
    return r->setup.batch < 0 ? s : arena_printf(a, "%s at batch %lld", s, (long long)r->setup.batch);
}

static const char *
when_text(struct arena *a, const struct result *r)
{
    const char *s = when[r->peak.phase];
    return r->peak.phase == PHASE_LOSS ? s
           : r->peak.in_loss           ? arena_printf(a, "%s of the loss", s)
           : r->peak.layer             ? arena_printf(a, "%s of %s", s, string_quote(a, r->peak.layer, 80))
                                       : s;
}

/* "4 copies of the logits (394.00 MiB each)" */
static const char *
holder_text(struct arena *a, const struct held *k)
{
    const char *s =
        k->counted ? arena_printf(a, "%d %s", k->count, string_clean(a, k->what)) : string_clean(a, k->what);
    const char *of = k->most                      ? string_clean(a, k->most)
                     : k->counted && k->each >= 0 ? arena_printf(a, "%s each", bytes_text(a, k->each))
                                                  : NULL;
    return of ? arena_printf(a, "%s (%s)", s, of) : s;
}

const char *
emit_cause(struct arena *a, const struct result *r)
{
    enum { ALSO = 20 /* percent of the peak */, MOST = 3 };
    const char *s = "";
    if (r->ndoubts || !r->nheld || r->peak.allocated <= 0)
        return NULL;
    for (int i = 0; i < r->nheld && i < MOST; i++) {
        const struct held *k = &r->held[i];
        double share = bytes_percent(k->bytes, r->peak.allocated);
        if (i == 0)
            s = arena_printf(a, "%s are %.0f %% of the peak", holder_text(a, k), share);
        else if (share >= ALSO)
            s = arena_printf(a, "%s, %s %.0f %%", s, holder_text(a, k), share);
    }
    char *text = arena_str(a, arena_printf(a, "%s; the peak comes %s", s, when_text(a, r)));
    *text = *text >= 'a' && *text <= 'z' ? (char)(*text - 'a' + 'A') : *text;
    return text;
}

bool
emit_is_small(const struct result *r, const struct finding *f)
{
    bool reserves = f->saves_bytes <= 0 && r->peak.reserved - f->reserved_after >= r->peak.reserved / 100;
    return f->does && !f->known && f->peak_after >= 0 && f->saves_bytes * 100 < r->peak.allocated && !reserves;
}

int
emit_small(const struct result *r)
{
    int n = 0;
    for (int i = 0; i < r->nfindings; i++)
        n += emit_is_small(r, &r->findings[i]);
    return n;
}

const char *
emit_operator(struct arena *a, const struct result *r)
{
    if (r->ndoubts || !r->peak.op || !*r->peak.op)
        return r->peak.location && !r->ndoubts ? string_clip(a, r->peak.location, 120) : NULL;
    return arena_printf(a, "%s%s%s", string_op(a, r->peak.op, 80), r->peak.location ? ", " : "",
                        string_clip(a, r->peak.location, 120));
}

/* What the step may reserve: of the device that is asked for, or of the message's; -1 nobody asks. */
static int64_t
room_of(const struct result *r)
{
    const struct fit *own = fits_own(r);
    return own ? own->capacity - own->context : r->oom ? r->oom->room : -1;
}

/* What a change saves, less what it costs. */
static int64_t
worth(const struct finding *f)
{
    static const int counts[COST_COUNT] = {100, 80, 50, 30}; /* percent of a saving */
    return f->saves_bytes / 100 * counts[f->cost];
}

/* Where something has to fit the cheapest that does, else the one that saves most for what it asks. */
const struct finding *
emit_best_finding(const struct result *r)
{
    const struct finding *best = NULL, *least = NULL;
    int64_t room = room_of(r);
    bool over = room >= 0 && r->peak.reserved > room;
    for (int i = 0; i < r->nfindings && !r->ndoubts; i++) {
        const struct finding *f = &r->findings[i];
        if (f->suppressed || !f->does || f->saves_bytes <= 0)
            continue;
        bool fits = over && f->reserved_after >= 0 && f->reserved_after <= room;
        if (over && f->reserved_after >= 0 && (!least || f->reserved_after < least->reserved_after))
            least = f;
        if (over ? fits && (!best || (best->nmembers && !f->nmembers) || (f->cost < best->cost && !f->nmembers) ||
                            (f->cost == best->cost && f->saves_bytes > best->saves_bytes && !f->nmembers))
                 : !f->nmembers && (!best || worth(f) > worth(best)))
            best = f;
    }
    return best ? best : least;
}

int
emit_best_changes(const struct result *r, int want, const struct finding **out)
{
    const struct finding *first = emit_best_finding(r);
    int n = 0;
    if (first && !first->nmembers && want > 0)
        out[n++] = first;
    while (n < want) {
        const struct finding *next = NULL;
        for (int i = 0; i < r->nfindings; i++) {
            const struct finding *f = &r->findings[i];
            bool there = f->suppressed || f->nmembers || f->saves_bytes <= 0;
            for (int k = 0; k < n; k++)
                there |= out[k] == f;
            if (!there && (!next || worth(f) > worth(next)))
                next = f;
        }
        if (!next)
            break;
        out[n++] = next;
    }
    return n;
}

const char *
emit_title(struct arena *a, const struct finding *f)
{
    char *s = arena_str(a, string_clean(a, f->nmembers ? "the best changes together"
                                           : f->does   ? f->does
                                           : f->help   ? f->help
                                                       : f->rule));
    *s = *s >= 'a' && *s <= 'z' ? (char)(*s - 'a' + 'A') : *s;
    return s;
}

const char *
emit_members(struct arena *a, const struct finding *f)
{
    const char *s = "";
    for (int i = 0; i < f->nmembers; i++)
        s = arena_printf(a, "%s%s%s", s,
                         !i                     ? ""
                         : i + 1 == f->nmembers ? " and "
                                                : ", ",
                         string_clean(a, f->members[i]));
    return s;
}

const char *
emit_best(struct arena *a, const struct result *r)
{
    const struct finding *f = emit_best_finding(r);
    int64_t room = room_of(r);
    bool over = room >= 0 && r->peak.reserved > room;
    if (!f)
        return over && !r->ndoubts && r->nfindings ? "No change that was tried lowers the peak" : NULL;
    const char *what = f->nmembers ? arena_printf(a, "%s together", emit_members(a, f)) : string_clean(a, f->does);
    const char *s = arena_printf(a, "%s: %s: peak %s, %.0f %% less",
                                 !over         ? "Best change"
                                 : f->nmembers ? "No single change is enough"
                                               : "Change to make",
                                 what, bytes_text(a, f->peak_after), bytes_percent(f->saves_bytes, r->peak.allocated));
    if (f->extra_flops_percent > 0.05)
        s = arena_printf(a, "%s, %.1f %% more FLOPs", s, f->extra_flops_percent);
    if (!over)
        return s;
    return f->reserved_after <= room
               ? arena_printf(a, "%s; it then reserves %s and fits", s, bytes_text(a, f->reserved_after))
               : arena_printf(a,
                              "%s; it still reserves %s, more than the %s there are: a smaller batch or a larger "
                              "device is needed",
                              s, bytes_text(a, f->reserved_after), bytes_text(a, room));
}

/* Doubts of one operator are one, and those of the same words: "GatherND, 3 times; dimension batch of the input is
 * open". */
static const char *
unknown_text(struct arena *a, const struct result *r)
{
    enum { SHOWN = 3, LOOKED = 1000, SENTENCE = 240 };
    const char *s = "";
    int kinds = 0;
    struct names *seen = names_new(a);
    for (int i = 0; i < r->ndoubts && i < LOOKED; i++) {
        const struct doubt *d = &r->doubts[i];
        const char *key = d->op ? d->op : d->why ? d->why : "";
        int n = 0;
        if (r->provenance.leads && strcmp(key, r->provenance.text) == 0)
            continue;
        if (names_find(seen, key) >= 0 || (d->op && *d->op && strstr(s, d->op))) /* where the file is from named it */
            continue;
        names_put(seen, key, 1);
        if (++kinds > SHOWN)
            continue;
        for (int k = i; k < r->ndoubts && d->op; k++)
            n += r->doubts[k].op && strcmp(r->doubts[k].op, key) == 0 &&
                 (k == i || !d->node || !r->doubts[k].node || strcmp(r->doubts[k].node, d->node) != 0);
        const char *what =
            !d->op       ? string_clip(a, key, SENTENCE)
            : d->assumed ? string_clip(a, arena_printf(a, "whether %s", d->assumed), SENTENCE)
            : d->node && strcmp(d->node, "model") == 0 ? string_clip(a, d->why, SENTENCE)
            : n > 1 ? arena_printf(a, "%s, %d times", string_quote(a, string_op(a, key, 48), 48), n)
            : !d->node || !*d->node
                ? string_quote(a, string_op(a, key, 48), 48)
                : arena_printf(a, "%s at %s", string_quote(a, string_op(a, key, 48), 48), string_quote(a, d->node, 48));
        s = arena_printf(a, "%s%s%s", s, *s ? "; " : "", what);
    }
    return kinds > SHOWN ? arena_printf(a, "%s; and %d more", s, kinds - SHOWN) : s;
}

const char *
emit_verdict(struct arena *a, const struct result *r)
{
    const char *from = "", *unknown = r->ndoubts && !r->provenance.none ? unknown_text(a, r) : "";
    if (r->provenance.leads) {
        const char *text = r->provenance.text;
        from = arena_printf(a, "%c%s. ", *text - 'a' + 'A', text + 1);
    }
    if (!r->ndoubts)
        return arena_printf(a, "%s%s%s", from, peak_text(a, r, "Peak"), devices_text(a, r));
    const char *sure = r->peak.certain <= 0 ? "Nothing is certain"
                       : r->peak.most > 0   ? arena_printf(a, "Peak %s allocated", emit_sure(a, r))
                                            : arena_printf(a, "At least %s is certain", emit_sure(a, r));
    return arena_printf(a, "%s%s%s%s", from, sure, *unknown ? "; unknown: " : "", unknown);
}

const char *
emit_sure(struct arena *a, const struct result *r)
{
    const char *least = bytes_text(a, r->ndoubts ? r->peak.certain : r->peak.allocated);
    return r->ndoubts && r->peak.most > 0 ? arena_printf(a, "%s to %s", least, bytes_text(a, r->peak.most)) : least;
}

const char *
emit_note(const struct result *r)
{
    return r->ndoubts || r->provenance.leads ? NULL : r->provenance.text;
}

const char *
emit_device(struct arena *a, const struct result *r)
{
    const char *most = bytes_text(a, r->peak.device), *least = bytes_text(a, r->peak.device_least);
    return strcmp(least, most) == 0 ? most : arena_printf(a, "%s to %s", least, most);
}

/* "; the other way 162.85 MiB": the peaks of what was assumed in doubt and measured. */
static const char *
others_text(struct arena *a, const struct result *r)
{
    int64_t least = INT64_MAX, most = 0;
    int n = 0;
    for (int i = 0; i < r->setup.nassumptions; i++) {
        const struct assumption *x = &r->setup.assumptions[i];
        bool doubted = false;
        for (int k = 0; k < r->ndoubts && x->measured; k++)
            doubted |= r->doubts[k].assumed && strcmp(r->doubts[k].assumed, x->text) == 0;
        if (!doubted)
            continue;
        int64_t peak = r->peak.allocated + x->effect_bytes;
        least = peak < least ? peak : least;
        most = peak > most ? peak : most;
        n++;
    }
    return n == 0   ? ""
           : n == 1 ? arena_printf(a, "; the other way %s", bytes_text(a, most))
                    : arena_printf(a, "; other ways %s to %s", bytes_text(a, least), bytes_text(a, most));
}

const char *
emit_estimate(struct arena *a, const struct result *r)
{
    if (!r->ndoubts || r->peak.allocated <= r->peak.certain)
        return NULL;
    const char *s = peak_text(a, r, "With what is unknown left out or assumed, the peak is");
    return arena_printf(a, "%s%s", s, others_text(a, r));
}

/* What the command line said, as far as it can be typed again: choices, and dimensions that no doubt is about. */
static const char *
said_text(struct arena *a, const struct result *r)
{
    const char *s = "";
    for (int i = 0; i < r->setup.nchoices; i++) {
        const struct choice *c = &r->setup.choices[i];
        if (!c->standard && c->option && is_pasteable(c->value))
            s = strcmp(c->option, "--assume") == 0 ? arena_printf(a, "%s --assume %s=%s", s, c->name, c->value)
                                                   : arena_printf(a, "%s %s=%s", s, c->option, c->value);
    }
    for (int i = 0; i < r->setup.ndims; i++) {
        const struct binding *d = &r->setup.dims[i];
        bool open = !is_pasteable(d->name);
        for (int k = 0; k < r->ndoubts && !open; k++)
            open = r->doubts[k].dim && strcmp(r->doubts[k].dim, d->name) == 0;
        s = open ? s : arena_printf(a, "%s --dim %s=%lld", s, d->name, (long long)d->n);
    }
    return s;
}

const char *
emit_remedy(struct arena *a, const struct result *r)
{
    enum { MOST = 16 }; /* options that a person would type */
    const char *s = "";
    int n = 0;
    struct names *seen = names_new(a);
    for (int i = 0; i < r->ndoubts && !r->provenance.none; i++) {
        const char *remedy = r->doubts[i].remedy;
        if (!remedy || strncmp(remedy, "--", 2) != 0 || names_find(seen, remedy) >= 0)
            continue;
        if (n++ == MOST)
            return NULL;
        names_put(seen, remedy, 1);
        s = arena_printf(a, "%s %s", s, remedy);
    }
    const char *file = *s ? string_shell(a, r->model.file) : NULL;
    if (*s)
        return arena_printf(a, "memlint %s%s%s", file ? file : "MODEL", said_text(a, r), string_clean(a, s));
    bool pytorch = r->model.producer && strncmp(r->model.producer, "pytorch", strlen("pytorch")) == 0;
    return r->ndoubts && pytorch && !r->provenance.none ? "memlint.export(model, *inputs, path=\"model.onnx\")" : NULL;
}

const char *
emit_setup(struct arena *a, const struct result *r)
{
    const char *s = r->setup.mode ? string_clean(a, r->setup.mode) : "";
    if (r->setup.batch >= 0)
        s = arena_printf(a, "%s, batch %lld", s, (long long)r->setup.batch);
    enum { DIMS = 6 };
    for (int i = 0; i < r->setup.ndims && i < DIMS; i++)
        if (strcmp(r->setup.dims[i].name, "batch") != 0)
            s = arena_printf(a, "%s, %s %lld", s, string_clip(a, r->setup.dims[i].name, 40),
                             (long long)r->setup.dims[i].n);
    if (r->setup.ndims > DIMS)
        s = arena_printf(a, "%s, %d more dimensions", s, r->setup.ndims - DIMS);
    bool cast = r->setup.precision && strcmp(r->setup.precision, "fp32") != 0;
    const char *type = !cast && r->model.dtype && strcmp(r->model.dtype, "float32") != 0
                           ? arena_printf(a, "%s as in the file", string_clip(a, r->model.dtype, 24))
                           : string_clip(a, r->setup.precision, 40);
    s = arena_printf(a, "%s%s%s, %s", s, r->setup.optimizer ? ", " : "", string_clip(a, r->setup.optimizer, 40), type);
    if (r->setup.loss)
        s = arena_printf(a, "%s, loss %s", s, string_clip(a, r->setup.loss, 40));
    static const char *const said[] = {"mode", "optimizer", "precision", "loss"};
    for (int i = 0; i < r->setup.nchoices; i++) {
        const struct choice *c = &r->setup.choices[i];
        bool named = c->standard || !c->value;
        for (int k = 0; k < COUNT(said); k++)
            named |= strcmp(said[k], c->name) == 0;
        if (!named)
            s = arena_printf(a, "%s, %s %s", s, c->name, string_clip(a, c->value, 80));
    }
    return s;
}

const char *
emit_assumption(struct arena *a, const struct result *r, int i)
{
    const struct assumption *q = &r->setup.assumptions[i];
    const char *option = string_clean(a, q->option);
    const char *effect = !q->measured          ? NULL
                         : !q->effect_bytes    ? "no difference"
                         : q->effect_bytes < 0 ? arena_printf(a, "%s less", bytes_text(a, -q->effect_bytes))
                                               : arena_printf(a, "%s more", bytes_text(a, q->effect_bytes));
    if (q->option)
        return arena_printf(a, "%s (%s%s%s)", string_clean(a, q->text), option, effect ? ": " : "",
                            effect ? effect : "");
    return arena_printf(a, effect ? "%s (if not: %s)" : "%s", string_clean(a, q->text), effect);
}

const char *
emit_swings(struct arena *a, const struct result *r)
{
    const char *s = "";
    for (int i = 0; i < r->setup.nassumptions && !r->ndoubts; i++) {
        const struct assumption *q = &r->setup.assumptions[i];
        if (!q->measured || llabs(q->effect_bytes) <= r->peak.allocated / 50)
            continue;
        const char *how = q->called   ? arena_printf(a, "if %s was called: ", string_clean(a, q->called))
                          : q->option ? "with "
                                      : "if this is wrong: ";
        s = arena_printf(a, "%s%s%s (%.0f %%) %s %s%s", s, *s ? "; " : "", bytes_text(a, llabs(q->effect_bytes)),
                         bytes_percent(llabs(q->effect_bytes), r->peak.allocated),
                         q->effect_bytes < 0 ? "less" : "more", how,
                         string_clip(a, q->option ? q->option : q->text, 240));
    }
    return *s ? s : NULL;
}

const char *
emit_signed(struct arena *a, int64_t bytes)
{
    return arena_printf(a, "%s%s", bytes < 0 ? "-" : "+", bytes_text(a, bytes < 0 ? -bytes : bytes));
}

static const char *
tensor_text(struct arena *a, const struct tensor_change *t)
{
    const struct tensor_state *o = &t->old, *n = &t->now;
    const char *shape = emit_shape(a, n->rank, n->shape), *was = emit_shape(a, o->rank, o->shape);
    if (!o->name)
        return arena_printf(a, "%s %s added", string_clip(a, n->name, 60), shape);
    if (!n->name)
        return arena_printf(a, "%s %s removed", string_clip(a, o->name, 60), was);
    const char *s = string_clip(a, n->name, 60);
    if (strcmp(o->name, n->name) != 0)
        s = arena_printf(a, "%s (was %s)", s, string_clip(a, o->name, 60));
    if (strcmp(shape, was) != 0)
        s = arena_printf(a, "%s %s -> %s", s, was, shape);
    if (o->dtype && n->dtype && strcmp(o->dtype, n->dtype) != 0)
        s = arena_printf(a, "%s %s -> %s", s, string_clip(a, o->dtype, 16), string_clip(a, n->dtype, 16));
    return s;
}

/* The last part of "torch.nn.modules.linear.Linear". */
static const char *
class_name(struct arena *a, const char *type)
{
    const char *dot = type ? strrchr(type, '.') : NULL;
    return string_clip(a, dot ? dot + 1 : type, 40);
}

const char *
emit_layer(struct arena *a, const struct layer_change *l, int max)
{
    const char *path = l->now.path ? l->now.path : l->old.path;
    return *path ? string_clip(a, path, max) : "(the model itself)";
}

const char *
emit_change(struct arena *a, const struct layer_change *l)
{
    enum { SHOWN = 3 };
    int64_t params = l->kind == CHANGE_REMOVED ? l->old.parameters : l->now.parameters;
    int64_t kept = l->now.saved_bytes - l->old.saved_bytes;
    if (l->kind == CHANGE_ADDED || l->kind == CHANGE_REMOVED)
        return arena_printf(a, "%s, %s parameters", change_names[l->kind], count_text(a, params));
    const char *s = "";
    if (l->renamed && l->old.path)
        s = arena_printf(a, ", was %s", string_clip(a, l->old.path, 80));
    if (l->kind == CHANGE_TYPE)
        s = arena_printf(a, "%s, %s -> %s", s, class_name(a, l->old.type), class_name(a, l->now.type));
    for (int i = 0; i < l->ntensors && i < SHOWN; i++)
        s = arena_printf(a, "%s, %s", s, tensor_text(a, &l->tensors[i]));
    if (l->ntensors > SHOWN)
        s = arena_printf(a, "%s, %d more", s, l->ntensors - SHOWN);
    if (l->operators && l->kind == CHANGE_OPERATORS)
        s = arena_printf(a, "%s, %s", s, string_op(a, l->operators, 200));
    if (kept)
        s = arena_printf(a, "%s, keeps %s for the backward pass", s, emit_signed(a, kept));
    return *s ? s + 2 : l->kind == CHANGE_RENAMED ? "renamed" : "follows";
}

static int
by_increase(const void *x, const void *y)
{
    const struct change_group *a = x, *b = y;
    int64_t p = llabs(a->increase_bytes), q = llabs(b->increase_bytes);
    if (a->cause != b->cause || a->outside != b->outside)
        return a->cause > b->cause || (a->cause == b->cause && b->outside) ? -1 : 1;
    return p != q ? (p < q ? 1 : -1) : a->first - b->first;
}

struct change_group *
emit_changes(struct arena *a, const struct baseline *b, int *n)
{
    struct change_group *all = NEWN(a, struct change_group, b->nlayers + 1);
    struct names *seen = names_new(a);
    *n = 0;
    for (int i = 0; i < b->nlayers; i++) {
        const struct layer_change *l = &b->layers[i];
        const char *name = string_path_pattern(a, emit_layer(a, l, 120)), *change = emit_change(a, l);
        const char *key = arena_printf(a, "%s\n%d\n%s", name, l->cause, string_path_pattern(a, change));
        int at = names_find(seen, key);
        if (at < 0) {
            at = (*n)++;
            names_put(seen, key, at);
            const char *path = l->now.path ? l->now.path : l->old.path;
            bool line = l->location && strcmp(l->location, path) != 0; /* else there is none, and it is the scope */
            all[at] = (struct change_group){.name = emit_layer(a, l, 120),
                                            .change = change,
                                            .location = line ? l->location : NULL,
                                            .cause = l->cause,
                                            .outside = path == OUTSIDE && !l->cause,
                                            .first = i};
        } else {
            all[at].name = name;
        }
        all[at].n++;
        all[at].increase_bytes = bytes_add(all[at].increase_bytes, l->now.peak_bytes - l->old.peak_bytes);
    }
    for (int i = 0; i < *n; i++)
        if (all[i].n > 1)
            all[i].change = arena_printf(a, "%d modules, each: %s", all[i].n, all[i].change);
    qsort(all, (size_t)*n, sizeof(*all), by_increase);
    return all;
}

const char *
emit_increase(struct arena *a, const struct result *r)
{
    const struct baseline *b = r->baseline;
    const char *s = arena_printf(a, "%s -> %s", bytes_text(a, b->peak), bytes_text(a, r->peak.allocated));
    return b->increase_bytes
               ? arena_printf(a, "%s (%s, %+.3g %%)", s, emit_signed(a, b->increase_bytes), b->increase_percent)
               : arena_printf(a, "%s, unchanged", bytes_text(a, b->peak));
}

const char *
emit_let_pass(struct arena *a, const struct result *r)
{
    const char *s = NULL;
    for (int i = 0; i < r->nchecks; i++) {
        const struct check *c = &r->checks[i];
        if (c->outcome == CHECK_ACCEPTED || (c->outcome == CHECK_SKIPPED && c->message))
            s = s ? arena_printf(a, "%s; %s", s, c->message) : c->message;
    }
    return s;
}

/* ---- the replay -------------------------------------------------------------------------------------------------- */

const char *
emit_ranks(struct arena *a, const struct ranks *k)
{
    return arena_printf(a, "Each of %d GPUs under %s sends %s a step%s.", k->gpus, k->kind,
                        bytes_text(a, rank_sends(k->exchanged, k->passed, k->gpus)),
                        k->nunits ? arena_printf(a, "; %d %s, from %s to %s", k->nunits,
                                                 k->nunits > 1 ? "units" : "unit", string_quote(a, k->units[0], 80),
                                                 string_quote(a, k->units[k->nunits - 1], 80))
                                  : "");
}

const char *
emit_replay(struct arena *a, const struct replay *q)
{
    const char *name = string_clip(a, q->d->name, 60);
    if (!q->refused)
        return q->most == q->announced
                   ? arena_printf(a, "%s gave every segment that was announced, and no more was needed", name)
                   : arena_printf(a, "On %s %s were enough of the %s that were announced", name, bytes_text(a, q->most),
                                  bytes_text(a, q->announced));
    const char *s = q->at_limit ? arena_printf(a, "The limit of %s on %s", bytes_text(a, q->limit), name) : name;
    s = arena_printf(a, "%s refused a request of %s, block %d of step %d, %s, by %s", s,
                     bytes_text(a, q->refused_bytes), q->refused_block, q->refused_step + 1, when[q->phase],
                     string_op(a, arena_printf(a, "aten.%s", q->op), 80));
    if (q->name)
        s = arena_printf(a, "%s for %s", s, string_clip(a, q->name, 80));
    return q->location ? arena_printf(a, "%s at %s", s, string_clip(a, q->location, 80)) : s;
}

const char *
emit_oom(struct arena *a, const struct oom *o)
{
    enum { NEAR = 5 }; /* percent */
    if (o->simulated < 0 || o->allocated < 0)
        return NULL;
    double off = bytes_percent(o->simulated - o->allocated, o->allocated);
    return arena_printf(a, "PyTorch had %s allocated by the message, the simulated step has %s (%+.1f %%): %s",
                        bytes_text(a, o->allocated), bytes_text(a, o->simulated), off,
                        off > -NEAR && off < NEAR ? "they match"
                                                  : "they don't match, so batch, precision, optimizer or model may be "
                                                    "another one");
}

const char *
emit_capability(struct arena *a, const struct replay *q)
{
    return q->sm == q->d->sm
               ? NULL
               : arena_printf(a,
                              "This device's compute capability is %d.%d, the step is that of %d.%d: a --device of "
                              "its kind gives it the workspaces that PyTorch takes here",
                              q->d->sm / 10, q->d->sm % 10, q->sm / 10, q->sm % 10);
}

const char *
emit_steps(struct arena *a, const struct replay *q)
{
    if (q->nsteps < 2)
        return NULL;
    const struct replayed_step *last = &q->steps[q->nsteps - 1], *before = last - 1;
    const char *idle = bytes_text(a, last->idle);
    if (last->taken || last->given || last->reserved != before->reserved)
        return arena_printf(a,
                            "Not steady yet: step %d took %s of the device and gave %s back; %s were idle at its peak",
                            q->nsteps, bytes_text(a, last->taken), bytes_text(a, last->given), idle);
    return arena_printf(a, "Steady: step %d took nothing more of the device; of %s reserved, %s were idle at its peak",
                        q->nsteps, bytes_text(a, last->reserved), idle);
}

const char *
emit_kernel(struct arena *a, const struct kernel_shape *s)
{
    const char *type = s->dtype > DT_UNDEFINED && s->dtype < DT_COUNT ? dtypes[s->dtype].torch : NULL;
    if (s->kind == KERNEL_PRODUCT)
        return arena_printf(a, "%s of %lld x [%lld, %lld]%s and [%lld, %lld]%s, %s", kernel_names[s->kind],
                            (long long)s->batch, (long long)s->m, (long long)s->k, s->ta ? " transposed" : "",
                            (long long)s->k, (long long)s->n, s->tb ? " transposed" : "", type);
    return arena_printf(a, "%s, %s with %s, stride %s, padding %s, dilation %s, groups %lld, %s%s",
                        kernel_names[s->kind], emit_shape(a, s->rank, s->in), emit_shape(a, s->rank, s->weight),
                        emit_shape(a, s->rank - 2, s->stride), emit_shape(a, s->rank - 2, s->pad),
                        emit_shape(a, s->rank - 2, s->dilation), (long long)s->groups, type,
                        s->last ? ", channels last" : "");
}

const char *
emit_library(struct arena *a, const struct replay *q, bool products)
{
    const struct libraries *l = q->libraries;
    const struct kernel *most = NULL;
    int n = 0, none = 0, want = 0;
    for (int i = 0; q->kernels && i < q->kernels->n; i++) {
        const struct kernel *k = &q->kernels->kernel[i];
        if ((k->shape.kind == KERNEL_PRODUCT) != products)
            continue;
        n++;
        none += k->bytes < 0;
        want += k->bytes > 0;
        most = k->bytes > 0 && (!most || k->bytes > most->bytes) ? k : most;
    }
    const char *name = l ? products ? l->products : l->convolutions : NULL,
               *kind = products ? "products" : "convolutions";
    if (!n)
        return NULL;
    if (!name)
        return arena_printf(a, "%s was not asked about %d %s%s%s", products ? "cuBLASLt" : "cuDNN", n, kind,
                            l ? ": " : "",
                            l ? string_clip(a, products ? l->no_products : l->no_convolutions, 120) : "");
    const char *s = arena_printf(
        a, "%s, by its heuristics (%s), for %d %s of different shapes: %d want a workspace", string_clip(a, name, 40),
        products ? "cublasLtMatmulAlgoGetHeuristic within PyTorch's buffer"
                 : "cudnnGetConvolution...Algorithm_v7; PyTorch asks its graph API, which may choose others",
        n, kind, want);
    if (most)
        s = arena_printf(a, "%s, at most %s (%s%s%s)", s, bytes_text(a, most->bytes), kernel_names[most->shape.kind],
                         most->location ? " at " : "", string_clip(a, most->location, 80));
    if (none)
        s = arena_printf(a, "%s; for %d it has no answer", s, none);
    return arena_printf(a, "%s. %s", s,
                        products ? "PyTorch hands cuBLAS its whole buffer whatever they take, so memlint's figures stay"
                        : want
                            ? "They are taken from the allocator while each kernel runs, where memlint's own figures "
                              "have none"
                            : "memlint's own figures have none either");
}

/* ---- issues ------------------------------------------------------------------------------------------------------ */

static const char *
base_name(const char *path)
{
    const char *slash = path ? strrchr(path, '/') : NULL;
    return slash ? slash + 1 : path;
}

static bool
ends_with(const char *path, const char *end)
{
    size_t n = strlen(path), k = strlen(end);
    return n > k && path[n - k - 1] == '/' && strcmp(path + n - k, end) == 0;
}

/* The Python file whose path the recorded one ends with, else the only one of that name; NULL when nothing tells. */
static const char *
source_of(const struct result *r, const char *file)
{
    const char *found = NULL;
    int n = 0;
    for (int i = 0; i < r->nsources; i++) {
        if (strcmp(base_name(r->sources[i]), base_name(file)) != 0)
            continue;
        if (strcmp(r->sources[i], file) == 0 || (strchr(r->sources[i], '/') && ends_with(file, r->sources[i])))
            return r->sources[i];
        found = r->sources[i];
        n++;
    }
    return n == 1 ? found : NULL;
}

/* "file.py:123" to file and line; else the model. */
static void
issue_place(struct arena *a, const struct result *r, struct issue *i, const char *location)
{
    const char *colon = location ? strrchr(location, ':') : NULL;
    int line = colon && colon > location && colon[1] && strspn(colon + 1, "0123456789") == strlen(colon + 1)
                   ? atoi(colon + 1)
                   : 0;
    i->in_code = line > 0;
    i->line = line > 0 ? line : 1;
    i->file = r->model.file;
    if (!location || line <= 0)
        return;
    i->file = arena_strn(a, location, (size_t)(colon - location));
    const char *source = source_of(r, i->file);
    i->file = source ? source : i->file;
}

static uint64_t
hash(uint64_t h, const char *s)
{
    for (const char *p = s ? s : ""; *p; p++)
        h = (h ^ (unsigned char)*p) * UINT64_C(0x100000001b3);
    return (h ^ 0xff) * UINT64_C(0x100000001b3);
}

static void
issue_id(const struct result *r, struct issue *all, int n)
{
    struct issue *i = &all[n];
    i->id = hash(hash(hash(hash(UINT64_C(0xcbf29ce484222325), i->rule), base_name(r->model.file)), i->node),
                 i->in_code ? base_name(i->file) : "");
    for (int k = 0; k < n; k++) /* the same rule at the same node again */
        i->id = all[k].id == i->id ? hash(i->id, i->rule) : i->id;
}

struct issue *
emit_issues(struct arena *a, const struct result *r, int *n)
{
    struct issue *all = NEWN(a, struct issue, r->nchecks + r->nfindings + 2);
    *n = 0;
    for (int c = 0; c < r->nchecks; c++) {
        const struct check *k = &r->checks[c];
        if (!check_stops(k))
            continue;
        bool grew = strcmp(k->name, "max-increase") == 0 && r->baseline && r->baseline->first >= 0;
        const struct layer_change *l = grew ? &r->baseline->layers[r->baseline->first] : NULL;
        struct issue *i = &all[*n];
        *i = (struct issue){.rule = arena_printf(a, "gate-%s", k->name),
                            .message = k->message,
                            .severity = 3,
                            .node = l ? emit_layer(a, l, 200) : r->peak.node};
        issue_place(a, r, i, l ? l->location : r->peak.location);
        issue_id(r, all, (*n)++);
    }
    if (r->ndoubts) {
        all[*n] = (struct issue){
            .rule = "inconclusive", .message = emit_verdict(a, r), .how = emit_remedy(a, r), .severity = 1};
        issue_place(a, r, &all[*n], NULL);
        issue_id(r, all, (*n)++);
    }
    for (int severity = 2; severity >= 0; severity--)
        for (int f = 0; f < r->nfindings; f++) {
            const struct finding *k = &r->findings[f];
            struct issue *i = &all[*n];
            if (severity_rank(k->severity) != severity && !(severity == 0 && severity_rank(k->severity) < 0))
                continue;
            *i = (struct issue){.rule = k->rule,
                                .help = k->help,
                                .message = k->message,
                                .how = k->how,
                                .suppressed = k->suppressed,
                                .known = k->known,
                                .severity = severity,
                                .node = k->nnodes ? k->nodes[0] : NULL};
            issue_place(a, r, i, k->location);
            issue_id(r, all, (*n)++);
        }
    return all;
}

/* ---- the timeline ------------------------------------------------------------------------------------------------ */

int
emit_columns(const struct result *r, int want, int *at)
{
    int n = r->ninstants, out = 0;
    if (n <= want) {
        for (int i = 0; i < n; i++)
            at[i] = i;
        return n;
    }
    int runs = 1;
    for (int i = 1; i < n; i++)
        runs += r->instants[i].phase != r->instants[i - 1].phase;
    int least = runs <= 20 ? want / 50 : 1;            /* a short phase stays visible */
    for (int start = 0, end; start < n; start = end) { /* one phase at a time, unless there are too many */
        for (end = start; end < n && (runs > want || r->instants[end].phase == r->instants[start].phase);)
            end++;
        int length = end - start, columns = (int)((int64_t)length * want / n);
        columns = columns < least ? least : columns;
        columns = columns > length ? length : columns < 1 ? 1 : columns;
        for (int c = 0; c < columns; c++) {
            int from = start + (int)((int64_t)length * c / columns);
            int to = start + (int)((int64_t)length * (c + 1) / columns), best = from;
            for (int i = from; i < to; i++)
                if (instant_bytes(&r->instants[i]) > instant_bytes(&r->instants[best]))
                    best = i;
            at[out++] = r->peak.instant >= from && r->peak.instant < to ? r->peak.instant : best;
        }
    }
    return out;
}
