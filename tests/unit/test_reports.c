/* SPDX-License-Identifier: Apache-2.0 */
/* test_reports.c - every format fed with hostile strings, and what happens when a report can't be written.
 *
 * The result is made by hand: small, every list filled, every string a variant of one that would be markup, an escape
 * sequence, a workflow command, a table cell's end or broken UTF-8 somewhere.
 */
#include "suites.h"
#include "tests/all.h"

#include <CUnit/CUnit.h>
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define EVIL                                                                                                       \
    "z\"'><script>alert(1)</"                                                                                      \
    "script>&amp;`|`]]>\n::error::x\r\033[31m\x9b\xff\xc3(\xed\xa0\x80\xf4\x90\x80\x80\xe2\x80\xae--> ::error::y " \
    "::error::z"

static struct result
hostile(void)
{
    static const int64_t shape[] = {2, 3};
    static struct live_tensor live[] = {
        {EVIL, 1024, 2, shape, EVIL, CLASS_SAVED, EVIL, EVIL, EVIL, EVIL},
        {EVIL "1", 512, 2, shape, EVIL, CLASS_PARAMETERS, EVIL, EVIL, EVIL, EVIL},
        {EVIL "2", 512, 2, shape, EVIL, CLASS_PARAMETERS, EVIL, EVIL, EVIL, EVIL},
        {NULL, 0, -1, NULL, NULL, CLASS_INPUTS, NULL, NULL, NULL, NULL},
    };
    static struct layer_op ops[] = {{EVIL, EVIL, 1}};
    static struct layer layers[] = {{EVIL, EVIL, 0, 1, 4, 8, 8, 16, EVIL, 1, 1, ops},
                                    {EVIL "." EVIL, EVIL, 1, 1, 4, 8, 8, 16}};
    static struct instant instants[] = {
        {PHASE_FORWARD, EVIL, EVIL, {[CLASS_PARAMETERS] = 1024}},
        {PHASE_BACKWARD, EVIL, EVIL, {[CLASS_PARAMETERS] = 1024, [CLASS_SAVED] = 1024}},
        {PHASE_UPDATE, NULL, NULL, {[CLASS_PARAMETERS] = 1024}},
    };
    static const char *nodes[] = {EVIL};
    static const struct assumption assumptions[] = {
        {.text = EVIL, .option = EVIL, .measured = true, .effect_bytes = 512}};
    static const struct choice choices[] = {{"freeze", EVIL, "--freeze", false}, {"loop", NULL, "--loop", true}};
    static const struct binding dims[] = {{EVIL, 3}};
    static struct finding findings[] = {
        {EVIL, "warning", "certain", EVIL, EVIL, EVIL, 1, nodes, 512, 1536, 1536, 1.5, EVIL},
        {EVIL, "error", "certain", EVIL, EVIL ":3", EVIL, 1, nodes, 512, 1536, 1536, 1.5, NULL}};
    static struct fit fits[] = {{EVIL, 1 << 20, 1 << 9, 1 << 10, 1, "fits", -1}};
    static struct thumb thumbs[] = {{EVIL, EVIL, EVIL, 4096}};
    static struct check checks[] = {{"max-increase", EVIL, CHECK_FAILED},
                                    {"max-peak", EVIL, CHECK_PASSED},
                                    {"device", EVIL, CHECK_UNJUDGED},
                                    {"fail-on", EVIL, CHECK_ACCEPTED}};
    static struct tensor_change tensors[] = {
        {CLASS_PARAMETERS, {EVIL, EVIL, 2, shape, 512}, {EVIL "2", EVIL "2", 2, shape, 1024}},
        {CLASS_PARAMETERS, {0}, {EVIL, EVIL, 2, shape, 1024}}};
    static struct layer_change changed[] = {
        {CHANGE_TYPE, true, true, EVIL, {EVIL, EVIL, 1, 2, 3}, {EVIL "2", EVIL "2", 4, 5, 6}, EVIL ":12", 2, tensors},
        {CHANGE_REMOVED, true, false, NULL, {EVIL, EVIL, 1, 2, 3}, {0}, EVIL, 0, NULL}};
    static const char *differs[] = {EVIL};
    static struct baseline baseline = {.file = EVIL,
                                       .most = EVIL,
                                       .peak = 1024,
                                       .increase_bytes = 1024,
                                       .increase_percent = 100,
                                       .nlayers = COUNT(changed),
                                       .layers = changed,
                                       .ndiffers = 1,
                                       .differs = differs};
    static struct held held[] = {{EVIL, EVIL, 2, true, 1024, 512}};
    static const struct doubt doubts[] = {{EVIL, EVIL, EVIL, EVIL}};
    static const struct curve curve = {3, {{1024, PHASE_FORWARD}, {1536, PHASE_BACKWARD}, {512, PHASE_UPDATE}}};
    static struct tensor_growth grown[] = {{EVIL, CLASS_SAVED, 0, 1, 0, 1024}, {EVIL, CLASS_INPUTS, 1, 0, 512, 0}};
    static struct span spans[] = {{EVIL, EVIL, CLASS_SAVED, 1024, 0, 2}, {NULL, NULL, CLASS_INPUTS, 512, 1, 3}};
    static const int64_t sizes[] = {1, 2};
    static int64_t reserved[] = {1 << 10, 1 << 21, -1, INT64_MAX / 2};
    static const struct grid grid = {EVIL, EVIL, 2, 2, 0, 1, sizes, sizes, {reserved, reserved}};
    static const char *modules[] = {EVIL, EVIL};
    static struct plan front[] = {
        {.peak = 2048, .held_by = EVIL},
        {.peak = 1024, .extra_flops_percent = 33, .held_by = EVIL, .nmodules = 2, .modules = modules, .after = &curve}};
    static struct device_memory device = {.name = EVIL};
    static const struct libraries libraries = {.convolutions = EVIL, .no_products = EVIL};
    static struct kernel kernel[] = {
        {.shape = {.kind = KERNEL_GRAD_INPUT, .dtype = DT_FLOAT, .rank = 4}, EVIL, EVIL, 1, 1024},
        {.shape = {.kind = KERNEL_PRODUCT, .dtype = DT_FLOAT}, EVIL, EVIL, 1, -1}};
    static struct kernels kernels = {.n = COUNT(kernel), .kernel = kernel};
    static struct replayed_step steps[2];
    static const struct replay replay = {.d = &device,
                                         .sm = 90,
                                         .libraries = &libraries,
                                         .kernels = &kernels,
                                         .nsteps = COUNT(steps),
                                         .steps = steps,
                                         .refused = true,
                                         .refused_bytes = 512,
                                         .op = EVIL,
                                         .name = EVIL,
                                         .location = EVIL};
    findings[0].after = findings[1].after = baseline.curve = &curve;
    baseline.grown = grown;
    baseline.ngrown = COUNT(grown);
    return (struct result){
        .model = {EVIL, EVIL, EVIL, 20, 3, 1, 4, 1, 0},
        .setup = {"training", "adamw", "fp32", "auto", "plain", EVIL, "native", 3, 1, dims, COUNT(choices), choices, 1,
                  assumptions},
        .provenance = {"unknown", EVIL},
        .verdict = VERDICT_INCONCLUSIVE,
        .peak = {2048, -1, -1, -1, 1024, 0, 0, PHASE_BACKWARD, EVIL, EVIL, EVIL, EVIL, false, 1},
        .nheld = COUNT(held),
        .held = held,
        .after = {-1, -1, -1, -1, -1},
        .class_bytes = {[CLASS_PARAMETERS] = 1024, [CLASS_SAVED] = 1024},
        .nlive = COUNT(live),
        .live = live,
        .nlayers = COUNT(layers),
        .layers = layers,
        .ninstants = COUNT(instants),
        .instants = instants,
        .nthumbs = 1,
        .thumbs = thumbs,
        .nfits = 1,
        .fits = fits,
        .nfindings = COUNT(findings),
        .findings = findings,
        .ndoubts = 1,
        .doubts = doubts,
        .gate = EVIL,
        .nchecks = COUNT(checks),
        .checks = checks,
        .version = EVIL,
        .baseline = &baseline,
        .nspans = COUNT(spans),
        .spans = spans,
        .grid = &grid,
        .recompute = {.nfront = COUNT(front),
                      .chosen = 1,
                      .front = front,
                      .nselective = COUNT(front),
                      .selective = front,
                      .noperators = COUNT(front),
                      .operators = front,
                      .lower_bound = 512,
                      .python = EVIL,
                      .selective_python = EVIL},
        .replay = &replay,
    };
}

static char *
render(const struct format *f, const struct result *r)
{
    char *text = NULL;
    size_t n;
    FILE *out = open_memstream(&text, &n);
    CU_ASSERT_TRUE_FATAL(out != NULL);
    CU_ASSERT_TRUE(f->write(r, out, false, 80));
    fclose(out);
    CU_ASSERT_EQUAL(strlen(text), n);
    return text;
}

/* ---- strings ----------------------------------------------------------------------------------------------------- */

static bool
printable(const char *s)
{
    uint32_t c;
    for (int n; *s; s += n) {
        n = string_utf8(s, &c);
        if (n == 0 || (c < 0x20 && c != '\n') || (c >= 0x7f && c < 0xa0) || (c >= 0x202a && c <= 0x202e))
            return false;
    }
    return true;
}

/* Every line is a command of ours. */
static bool
commands(const char *s)
{
    for (; *s; s += strcspn(s, "\n") + 1)
        if (strncmp(s, "::error file=", 13) != 0 && strncmp(s, "::warning file=", 15) != 0 &&
            strncmp(s, "::notice file=", 14) != 0)
            return false;
    return true;
}

/* GitHub's runner reads a command at the first character of a line that is no blank. */
static bool
no_commands(const char *s)
{
    for (; *s; s += strcspn(s, "\n"), s += *s == '\n') {
        const char *first = s + strspn(s, " \t");
        if (first[0] == ':' && first[1] == ':')
            return false;
    }
    return true;
}

static void
test_inert(void)
{
    struct result r = hostile();
    for (int i = 0; i < 2 * nformats; i++) {
        r.ndoubts = i < nformats; /* without doubts sentences say more */
        const struct format *f = &formats[i % nformats];
        char *s = render(f, &r);
        CU_ASSERT_TRUE(printable(s));
        bool github = strcmp(f->name, "github") == 0;
        CU_ASSERT_TRUE(github ? commands(s) : no_commands(s));
        if (strcmp(f->name, "html") == 0) {
            CU_ASSERT_PTR_NULL(strstr(s, "<script>alert"));
            CU_ASSERT_PTR_NULL(strstr(s, "z\"'"));
            CU_ASSERT_PTR_NOT_NULL(strstr(s, "&lt;script&gt;alert"));
        }
        free(s);
    }
}

static void
test_clean(void)
{
    static const struct {
        const char *in, *out;
    } rows[] = {
        {"plain", "plain"},
        {"caf\xc3\xa9", "caf\xc3\xa9"},
        {"a\tb\n", "a\\x09b\\x0a"},
        {"\033[1m", "\\x1b[1m"},
        {"\xff", "\xef\xbf\xbd"},
        {"\xc0\xaf", "\xef\xbf\xbd\xef\xbf\xbd"},
        {"\xc2\x9b", "\\x9b"},
        {"\xe2\x80\xae", "\\u202e"},
        {"\xef\xbf\xbe", "\\ufffe"},
        {"\xf0\x9f\x98\x80", "\xf0\x9f\x98\x80"},
        {"", ""},
        {NULL, ""},
    };
    struct arena *a = arena_new();
    for (int i = 0; i < COUNT(rows); i++)
        CU_ASSERT_STRING_EQUAL(string_clean(a, rows[i].in), rows[i].out);
    CU_ASSERT_STRING_EQUAL(string_clip(a, "abcdefghij", 10), "abcdefghij");
    CU_ASSERT_STRING_EQUAL(string_clip(a, "abcdefghijk", 10), "abc...hijk");
    CU_ASSERT_STRING_EQUAL(string_clip(a, "\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9", 5),
                           "\xc3\xa9...\xc3\xa9");
    arena_free(a);
}

/* GitHub takes 65,536 characters for a comment. */
static void
test_comment(void)
{
    enum { MANY = 300, LONG = 600 };
    struct arena *a = arena_new();
    struct result r = hostile();
    char *name = arena_alloc(a, LONG + 1);
    memset(name, '|', LONG);
    struct assumption *said = NEWN(a, struct assumption, MANY);
    struct baseline b = *r.baseline;
    r.live = NEWN(a, struct live_tensor, MANY);
    r.findings = NEWN(a, struct finding, MANY);
    b.layers = NEWN(a, struct layer_change, MANY);
    struct doubt *doubts = NEWN(a, struct doubt, MANY);
    for (int i = 0; i < MANY; i++) {
        r.live[i] = (struct live_tensor){.name = name, .needed_by = name, .location = name};
        r.findings[i] = (struct finding){.rule = name, .severity = "error", .message = name, .suppressed = name};
        b.layers[i] = (struct layer_change){.old.path = name, .now.path = name, .location = name};
        doubts[i] = (struct doubt){.node = name, .op = name, .why = name, .remedy = name};
        said[i] = (struct assumption){.text = name, .option = name, .measured = true};
    }
    r.nlive = r.nfindings = b.nlayers = r.ndoubts = r.setup.nassumptions = MANY;
    r.doubts = doubts;
    r.setup.assumptions = said;
    r.baseline = &b;
    char *s = render(format_by_name("markdown"), &r);
    CU_ASSERT_TRUE(strlen(s) < 65000);
    free(s);
    arena_free(a);
}

/* ---- JSON: a reader of the grammar ------------------------------------------------------------------------------- */

static const char *json_value(const char *s);

static const char *
json_space(const char *s)
{
    return s ? s + strspn(s, " \n") : NULL;
}

static const char *
json_word(const char *s)
{
    if (*s++ != '"')
        return NULL;
    for (; *s != '"'; s++) {
        if ((unsigned char)*s < 0x20)
            return NULL;
        if (*s == '\\') {
            s++;
            if (*s == 'u' && strspn(s + 1, "0123456789abcdef") < 4)
                return NULL;
            if (!*s || !strchr("\"\\/bfnrtu", *s))
                return NULL;
        }
    }
    return s + 1;
}

static const char *
json_list(const char *s, char end, bool keys)
{
    s = json_space(s + 1);
    if (*s == end)
        return s + 1;
    for (;;) {
        if (keys) {
            s = json_space(json_word(s));
            if (!s || *s++ != ':')
                return NULL;
            s = json_space(s);
        }
        s = json_space(json_value(s));
        if (!s || (*s != ',' && *s != end))
            return NULL;
        if (*s == end)
            return s + 1;
        s = json_space(s + 1);
    }
}

static const char *
json_value(const char *s)
{
    if (*s == '{' || *s == '[')
        return json_list(s, *s == '{' ? '}' : ']', *s == '{');
    if (*s == '"')
        return json_word(s);
    static const char *const words[] = {"null", "true", "false"};
    for (int i = 0; i < COUNT(words); i++)
        if (strncmp(s, words[i], strlen(words[i])) == 0)
            return s + strlen(words[i]);
    char *end;
    (void)strtod(s, &end);
    return end > s ? end : NULL;
}

static void
test_json(void)
{
    struct result r = hostile();
    static const char *const names[] = {"json", "jsonl", "sarif", "gitlab"};
    for (int i = 0; i < COUNT(names); i++) {
        char *s = render(format_by_name(names[i]), &r);
        const char *end = json_space(json_value(s));
        CU_ASSERT_PTR_NOT_NULL(end);
        CU_ASSERT_TRUE(end && *end == '\0');
        CU_ASSERT_TRUE(i > 1 || strstr(s, "\"allocated\": 2048"));
        CU_ASSERT_TRUE(i > 1 || strstr(s, "\"reserved\": null"));
        CU_ASSERT_TRUE(i != 1 || strchr(s, '\n') == s + strlen(s) - 1);
        free(s);
    }
}

/* What is written is read back; any change of a byte gives a result or a fault, never more. */
static void
test_stored(void)
{
    struct result r = hostile();
    char *s = render(format_by_name("json"), &r);
    struct arena *a = arena_new();
    struct err e = {0};
    struct result *back = stored_parse(a, "r.json", s, &e);
    CU_ASSERT_PTR_NOT_NULL_FATAL(back);
    CU_ASSERT_EQUAL(back->peak.allocated, r.peak.allocated);
    CU_ASSERT_EQUAL(back->nlive, r.nlive);
    CU_ASSERT_EQUAL(back->nlayers, r.nlayers);
    CU_ASSERT_EQUAL(back->live[0].bytes, r.live[0].bytes);
    CU_ASSERT_STRING_EQUAL(back->setup.optimizer, r.setup.optimizer);
    CU_ASSERT_EQUAL(compare_run(a, back, back)->nlayers, 0);
    arena_free(a);
    size_t n = strlen(s);
    for (size_t i = 0; i + 1 < n; i += 1 + i % 7) {
        static const char bytes[] = "\"\\{}[],:0-u\xff";
        char old = s[i];
        s[i] = bytes[i % (sizeof(bytes) - 1)];
        a = arena_new();
        e = (struct err){0};
        CU_ASSERT_TRUE((stored_parse(a, "r.json", s, &e) != NULL) == (e.message == NULL));
        s[i] = '\0'; /* cut off */
        CU_ASSERT_PTR_NULL(stored_parse(a, "r.json", s, &e));
        s[i] = old;
        arena_free(a);
    }
    free(s);
}

/* ---- columns ----------------------------------------------------------------------------------------------------- */

static void
test_columns(void)
{
    enum { MANY = 50000 };
    struct arena *a = arena_new();
    struct result r = {.ninstants = MANY, .instants = NEWN(a, struct instant, MANY)};
    for (int i = 0; i < MANY; i++)
        r.instants[i] = (struct instant){.phase = i < 10      ? PHASE_INPUT
                                                  : i < 20000 ? PHASE_FORWARD
                                                              : PHASE_BACKWARD,
                                         .class_bytes = {(i * 7919) % 10007}};
    r.peak.instant = 31234;
    int *at = NEWN(a, int, MANY), n = emit_columns(&r, 800, at);
    bool peak = false, input = false, ascending = true;
    for (int i = 0; i < n; i++) {
        peak |= at[i] == r.peak.instant;
        input |= at[i] < 10;
        ascending &= i == 0 || at[i] > at[i - 1];
    }
    CU_ASSERT_TRUE(n > 700 && n < 850);
    CU_ASSERT_TRUE(peak && input && ascending);
    for (int i = 0; i < MANY; i++) /* a step of very many phases */
        r.instants[i].phase = i % 2 ? PHASE_FORWARD : PHASE_BACKWARD;
    CU_ASSERT_TRUE(emit_columns(&r, 800, at) <= 800);
    r.ninstants = 0;
    CU_ASSERT_EQUAL(emit_columns(&r, 800, at), 0);
    arena_free(a);
}

static void
test_nothing(void)
{
    struct result r = {.model = {"m", NULL, NULL, 0, 0, 0, 0, 0, 0},
                       .setup = {.mode = "training", .optimizer = "", .precision = "", .loss = ""},
                       .peak = {0, -1, -1, -1, 0, 0, 0, PHASE_FORWARD, NULL, NULL, NULL, 0}};
    for (int i = 0; i < nformats; i++)
        free(render(&formats[i], &r));
}

static void
test_huge(void)
{
    struct result r = hostile();
    struct live_tensor live[3];
    memcpy(live, r.live, sizeof(live));
    live[0].bytes = live[1].bytes = live[2].bytes = INT64_MAX;
    r.live = live;
    r.nlive = 3;
    for (int c = 0; c < CLASS_COUNT; c++)
        r.class_bytes[c] = INT64_MAX / 2;
    struct instant instants[3];
    memcpy(instants, r.instants, sizeof(instants));
    memcpy(instants[1].class_bytes, r.class_bytes, sizeof(r.class_bytes));
    r.instants = instants;
    r.peak.allocated = INT64_MAX;
    for (int i = 0; i < nformats; i++)
        free(render(&formats[i], &r));
    CU_ASSERT_EQUAL(instant_bytes(&instants[1]), INT64_MAX);
}

static void
test_slack(void)
{
    const int64_t shape[] = {50304, 384}, odd[] = {3, 7};
    struct live_tensor t = {.rank = 2, .shape = shape, .dtype = "float32", .bytes = INT64_C(50304) * 384 * 4};
    CU_ASSERT_EQUAL(tensor_slack(&t), 0);
    t.bytes = INT64_C(74) << 20; /* the parameter that fills a segment to its end */
    CU_ASSERT_EQUAL(tensor_slack(&t), (INT64_C(74) << 20) - INT64_C(50304) * 384 * 4);
    t.bytes += 2 << 20; /* no block is left so large: the storage is more than this tensor */
    CU_ASSERT_EQUAL(tensor_slack(&t), 0);
    t.shape = odd, t.bytes = 512; /* 84 bytes are rounded up */
    CU_ASSERT_EQUAL(tensor_slack(&t), 0);
    t.dtype = NULL, t.bytes = 1024;
    CU_ASSERT_EQUAL(tensor_slack(&t), 0);
}

/* ---- writing ----------------------------------------------------------------------------------------------------- */

static char folder[] = "/tmp/memlint-test-XXXXXX";

static int
entries(void)
{
    int n = 0;
    DIR *d = opendir(folder);
    for (struct dirent *e; (e = readdir(d));)
        n += e->d_name[0] != '.' || strlen(e->d_name) > 2;
    closedir(d);
    return n;
}

static const char *
path_in(const char *name)
{
    static char path[256];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    return path;
}

static void
spit(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");
    CU_ASSERT_TRUE_FATAL(f != NULL);
    fputs(text, f);
    fclose(f);
}

static bool
holds(const char *path, const char *text)
{
    char line[64] = "";
    FILE *f = fopen(path, "r");
    bool same = f && fgets(line, sizeof(line), f) && strcmp(line, text) == 0;
    if (f)
        fclose(f);
    return same;
}

static bool
failing(const struct result *r, FILE *out, bool colour, int width)
{
    (void)r, (void)colour, (void)width;
    fputs("half a report", out);
    errno = ENOSPC;
    return false;
}

static void
test_write(void)
{
    struct result r = hostile();
    struct stat st;
    const char *why = NULL, *path = path_in("r.txt");
    CU_ASSERT_TRUE(report_write(&r, &formats[0], path, &why));
    CU_ASSERT_EQUAL(stat(path, &st), 0);
    CU_ASSERT_EQUAL(st.st_mode & 0400, 0400);
    CU_ASSERT_EQUAL(entries(), 1);

    spit(path, "older");
    chmod(path, 0640);
    const struct format broken = {"broken", ".b", "", failing};
    CU_ASSERT_FALSE(report_write(&r, &broken, path, &why));
    CU_ASSERT_STRING_EQUAL(why, strerror(ENOSPC));
    CU_ASSERT_TRUE(holds(path, "older"));
    CU_ASSERT_EQUAL(entries(), 1);

    struct rlimit old, small = {64, 64};
    getrlimit(RLIMIT_FSIZE, &old);
    small.rlim_max = old.rlim_max;
    setrlimit(RLIMIT_FSIZE, &small);
    bool grew = report_write(&r, &formats[0], path, &why);
    setrlimit(RLIMIT_FSIZE, &old);
    CU_ASSERT_FALSE(grew);
    CU_ASSERT_TRUE(holds(path, "older"));
    CU_ASSERT_EQUAL(entries(), 1);

    CU_ASSERT_TRUE(report_write(&r, &formats[0], path, &why));
    CU_ASSERT_EQUAL(stat(path, &st), 0);
    CU_ASSERT_EQUAL(st.st_mode & 0777, 0640); /* the older report's */
    CU_ASSERT_FALSE(holds(path, "older"));
}

static void
test_places(void)
{
    struct result r = hostile();
    const char *why = NULL;
    CU_ASSERT_FALSE(report_write(&r, &formats[0], "/nonexistent/folder/r.txt", &why));
    CU_ASSERT_PTR_NOT_NULL(why);
    CU_ASSERT_FALSE(report_write(&r, &formats[0], folder, &why));
    CU_ASSERT_STRING_EQUAL(why, strerror(EISDIR));
    CU_ASSERT_FALSE(report_write(&r, &formats[0], "/dev/full", &why));
    CU_ASSERT_STRING_EQUAL(why, strerror(ENOSPC));
    CU_ASSERT_TRUE(report_write(&r, &formats[0], "/dev/null", &why));

    char target[256], link[256];
    snprintf(target, sizeof(target), "%s/target.txt", folder);
    snprintf(link, sizeof(link), "%s/link.txt", folder);
    spit(target, "older");
    CU_ASSERT_EQUAL(symlink("target.txt", link), 0);
    CU_ASSERT_TRUE(report_write(&r, &formats[0], link, &why));
    struct stat st;
    CU_ASSERT_EQUAL(lstat(link, &st), 0);
    CU_ASSERT_TRUE(S_ISLNK(st.st_mode));
    CU_ASSERT_FALSE(holds(target, "older"));
}

static bool
interrupted(const struct result *r, FILE *out, bool colour, int width)
{
    (void)r, (void)colour, (void)width;
    fputs("half a report", out);
    fflush(out);
    raise(SIGINT);
    return true;
}

static void
test_interrupt(void)
{
    struct result r = hostile();
    const struct format stopped = {"stopped", ".s", "", interrupted};
    const char *why, *path = path_in("r.txt");
    int before = entries(), status = 0;
    spit(path, "older");
    pid_t child = fork();
    if (child == 0) {
        emit_guard();
        report_write(&r, &stopped, path, &why);
        _exit(0);
    }
    CU_ASSERT_EQUAL(waitpid(child, &status, 0), child);
    CU_ASSERT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == EXIT_ENVIRONMENT);
    CU_ASSERT_EQUAL(entries(), before);
    CU_ASSERT_TRUE(holds(path, "older"));
}

static int
make_folder(void)
{
    signal(SIGXFSZ, SIG_IGN);
    signal(SIGINT, SIG_DFL); /* a job in the background ignores it */
    return mkdtemp(folder) ? 0 : 1;
}

static int
remove_folder(void)
{
    static const char *const names[] = {"r.txt", "link.txt", "target.txt"};
    for (int i = 0; i < COUNT(names); i++)
        unlink(path_in(names[i]));
    return rmdir(folder);
}

void
suite_reports(void)
{
    CU_pSuite s = CU_add_suite("reports", make_folder, remove_folder);
    CU_add_test(s, "strings of the model are inert in every format", test_inert);
    CU_add_test(s, "strings are made printable and clipped", test_clean);
    CU_add_test(s, "a pull request takes the Markdown", test_comment);
    CU_add_test(s, "JSON is valid for any bytes", test_json);
    CU_add_test(s, "a stored result is read back", test_stored);
    CU_add_test(s, "columns keep the peak and short phases", test_columns);
    CU_add_test(s, "an empty result", test_nothing);
    CU_add_test(s, "sizes at the end of the range", test_huge);
    CU_add_test(s, "what a block has beyond its tensor", test_slack);
    CU_add_test(s, "writing is all or nothing", test_write);
    CU_add_test(s, "an interrupt leaves no litter", test_interrupt);
    CU_add_test(s, "odd targets", test_places);
}
