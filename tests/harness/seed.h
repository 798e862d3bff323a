/* SPDX-License-Identifier: BSD-3-Clause */
/* Where a random test begins: said, so that a failure can be had again. */
#ifndef TESTS_HARNESS_SEED_H
#define TESTS_HARNESS_SEED_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* SCRIBE_SEED; else `usual`, or where that is 0 another one each time. Never 0. */
static inline uint64_t scribe_test_seed(uint64_t usual)
{
	const char *text = getenv("SCRIBE_SEED");
	uint64_t seed = text ? strtoull(text, NULL, 10) : usual ? usual : (uint64_t)time(NULL) * 2654435761u + 1;

	seed += !seed;
	printf("seed %llu (again: SCRIBE_SEED=%llu)\n", (unsigned long long)seed, (unsigned long long)seed);
	return seed;
}

#endif
