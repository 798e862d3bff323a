/* SPDX-License-Identifier: BSD-3-Clause */
/* Ids that meet in one place where a place is (id * factor >> 20), or >> 32, in a table of up to 2^24 places;
 * and others. */
#ifndef TESTS_HARNESS_CHOSEN_H
#define TESTS_HARNESS_CHOSEN_H

#include <stdint.h>

/* The inverse of 0x9e3779b97f4a7c15: the product is i again, which is below 2^20. */
static inline uint64_t chosen_id(uint64_t i)
{
	return i * UINT64_C(0xf1de83e19937733d);
}

static inline uint64_t other_id(uint64_t i)
{
	uint64_t h = i * UINT64_C(0xbf58476d1ce4e5b9);

	h = (h ^ h >> 31) * UINT64_C(0x94d049bb133111eb);
	return h ^ h >> 29;
}

#endif
