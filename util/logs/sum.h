/* SPDX-License-Identifier: BSD-3-Clause */
/* Arithmetic that is defined for any value from a log. */
#ifndef UTIL_LOGS_SUM_H
#define UTIL_LOGS_SUM_H

#include <stdint.h>

#include "logfmt/records/sum.h"

/* Rounds towards 0 and saturates; 0 for NaN. */
static inline int64_t scribe_whole(double v)
{
	return v != v ? 0 : v >= 0x1p63 ? INT64_MAX : v < -0x1p63 ? INT64_MIN : (int64_t)v;
}

/* Sums the counters in a list that ends with -1; negative ones (not monitored) count 0. */
static inline int64_t scribe_sum_of(const int64_t *counters, const short *which)
{
	int64_t sum = 0;

	for (; *which >= 0; which++)
		if (counters[*which] > 0)
			sum = scribe_sum(sum, counters[*which]);
	return sum;
}

#endif
