/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sums of counters from a log: any values, so they wrap round instead of being
 * undefined.
 */
#ifndef UTIL_SUM_H
#define UTIL_SUM_H

#include <stdint.h>

static inline int64_t scribe_sum(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a + (uint64_t)b);
}

#endif
