/* SPDX-License-Identifier: Apache-2.0 */
/* replay.c - a fuzz target without a fuzzer: each file of the command line, or of a folder on it, is one input. */
#include "fuzz.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int
replay(const char *path)
{
    enum { MOST = 1 << 20 };
    FILE *f = fopen(path, "rb");
    uint8_t *data = malloc(MOST);
    size_t n = f && data ? fread(data, 1, MOST, f) : 0;
    if (f) {
        data = realloc(data, n ? n : 1); /* so that a sanitizer sees where it ends */
        LLVMFuzzerTestOneInput(data, n);
        fclose(f);
    } else {
        fprintf(stderr, "%s: %s\n", path, strerror(errno));
    }
    free(data);
    return f != NULL;
}

int
main(int argc, char **argv)
{
    int passed = 0, failed = 0;
    for (int i = 1; i < argc; i++) {
        struct dirent **entry;
        int n = scandir(argv[i], &entry, NULL, alphasort), ok = n < 0 && replay(argv[i]);
        passed += ok;
        failed += n < 0 && !ok;
        for (int k = 0; k < n; k++) {
            char path[4096];
            snprintf(path, sizeof(path), "%s/%s", argv[i], entry[k]->d_name);
            ok = entry[k]->d_name[0] != '.' && replay(path);
            passed += ok;
            failed += entry[k]->d_name[0] != '.' && !ok;
            free(entry[k]);
        }
        if (n >= 0)
            free(entry);
    }
    printf("%d passed, %d failed\n", passed, failed);
    return failed || !passed;
}
