/* SPDX-License-Identifier: Apache-2.0 */
/* test_heap.c - the caching allocator on sequences worked out by hand from CUDACachingAllocator.cpp. */
#include "suites.h"
#include "tests/all.h"

#include <CUnit/CUnit.h>

enum { MIB = 1 << 20 };

static struct arena *a;
static struct heap *h;
static struct block *block[16];

/* Allocates into a slot, or frees it when bytes is 0; then both counters must stand as given. */
static void
step(int slot, int64_t bytes, int64_t allocated, int64_t reserved)
{
    if (bytes)
        block[slot] = heap_malloc(h, bytes);
    else
        heap_free(h, block[slot]);
    CU_ASSERT_EQUAL(heap_allocated(h), allocated);
    CU_ASSERT_EQUAL(heap_reserved(h), reserved);
}

static void
begin(bool expandable)
{
    a = arena_new();
    h = heap_new(a, expandable);
}

static void
test_small_pool(void)
{
    begin(false);
    step(0, 1, 512, 2097152);
    step(1, 513, 1536, 2097152);
    step(2, 1048576, 1050112, 2097152);
    step(3, 1048576, 2098688, 4194304); /* no room: a second segment */
    step(1, 0, 2097664, 4194304);
    step(4, 400, 2098176, 4194304); /* from the hole of 1,024 */
    step(0, 0, 2097664, 4194304);
    step(2, 0, 1049088, 4194304);
    step(3, 0, 512, 4194304);
    step(4, 0, 0, 4194304);
    arena_free(a);
}

static void
test_large_pool(void)
{
    begin(false);
    step(0, MIB + 1, 1049088, 20971520);
    step(1, 9 * MIB, 10486272, 20971520);
    step(2, 10 * MIB, 20972032, 31457280);     /* the rest is 10,485,248: too small */
    step(3, 10 * MIB + 1, 31458304, 44040192); /* a segment of 12 MiB */
    step(4, 9 * MIB, 41943552, 44040192);      /* a rest of 1,048,064 stays attached and counts */
    arena_free(a);
}

static void
test_split_needs_more_than_a_mib(void)
{
    begin(false);
    step(0, 21 * MIB, 23068672, 23068672); /* the rest is exactly 1 MiB */
    step(0, 0, 0, 23068672);
    step(0, 20 * MIB + MIB / 2, 21495808, 23068672);
    step(0, 0, 0, 23068672);
    step(0, 21 * MIB - 512, 22019584, 23068672);
    arena_free(a);
}

static void
test_workspace(void)
{
    begin(false);
    step(0, 8519680, 8519680, 20971520);
    step(1, 11 * MIB, 20971520, 20971520); /* what is left, 917,504 attached */
    step(2, MIB + 1, 22020608, 41943040);
    step(3, 8519680, 30540288, 41943040);
    arena_free(a);
}

static void
test_expandable(void)
{
    begin(true);
    step(0, 1, 512, 2097152);
    step(1, 30 * MIB, 31457792, 44040192); /* maps 40 */
    step(2, 30 * MIB, 62915072, 65011712); /* 10 were free, maps 20 */
    step(1, 0, 31457792, 65011712);
    step(3, 50 * MIB, 83886592, 127926272); /* the hole of 30 is too small */
    step(3, 0, 31457792, 127926272);
    step(4, 10 * MIB, 41943552, 127926272); /* from the hole, not from the tail */
    arena_free(a);
}

/* The rest at a range's end can grow, so a hole that is larger serves first: the next block fits what is left then. */
static void
test_end_of_a_range(void)
{
    begin(true);
    step(0, 30 * MIB, 30 * MIB, 40 * MIB);
    step(1, 15 * MIB, 45 * MIB, 60 * MIB);
    step(0, 0, 15 * MIB, 60 * MIB);
    step(2, 12 * MIB, 27 * MIB, 60 * MIB); /* the end has 15 */
    step(3, 18 * MIB, 45 * MIB, 60 * MIB); /* the hole's other 18 */
    step(4, 15 * MIB, 60 * MIB, 60 * MIB);
    arena_free(a);
}

/* Whatever happens, allocated is the sum of the blocks, reserved never falls and holds it, and everything merges
 * again. */
static void
test_random(void)
{
    uint64_t seed = 12345;
    int64_t held[64] = {0};
    struct block *taken[64];
    begin(false);
    for (int i = 0; i < 20000; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        int slot = (int)(seed >> 33) % 64;
        int64_t sum = 0, was = heap_reserved(h);
        if (held[slot]) {
            heap_free(h, taken[slot]);
            held[slot] = 0;
        } else {
            int64_t bytes = (int64_t)(seed >> 40) % (1 << (10 + (seed >> 20) % 15)) + 1;
            taken[slot] = heap_malloc(h, bytes);
            held[slot] = taken[slot]->bytes;
            if (held[slot] < bytes)
                CU_FAIL("a block smaller than its request");
        }
        for (int k = 0; k < 64; k++)
            sum += held[k];
        if (sum != heap_allocated(h) || heap_reserved(h) < was || heap_reserved(h) < sum)
            CU_FAIL("counters disagree");
    }
    for (int k = 0; k < 64; k++)
        if (held[k])
            heap_free(h, taken[k]);
    CU_ASSERT_EQUAL(heap_allocated(h), 0);
    arena_free(a);
}

void
suite_heap(void)
{
    CU_pSuite s = CU_add_suite("heap", NULL, NULL);
    CU_add_test(s, "small pool", test_small_pool);
    CU_add_test(s, "large pool", test_large_pool);
    CU_add_test(s, "split needs more than 1 MiB", test_split_needs_more_than_a_mib);
    CU_add_test(s, "workspace", test_workspace);
    CU_add_test(s, "expandable segments", test_expandable);
    CU_add_test(s, "end of a range", test_end_of_a_range);
    CU_add_test(s, "random", test_random);
}
