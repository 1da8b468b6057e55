// SPDX-License-Identifier: Apache-2.0
/* What a static libxml2 asks of glibc 2.36 alone: with it here, the program runs on systems of 2022, which have 2.35. */
#include <stdint.h>
#include <sys/random.h>

uint32_t arc4random(void);

uint32_t
arc4random(void)
{
    uint32_t word = 0;
    while (getrandom(&word, sizeof(word), 0) != (ssize_t)sizeof(word))
        ;
    return word;
}
