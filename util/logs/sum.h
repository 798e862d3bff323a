/* SPDX-License-Identifier: BSD-3-Clause */
/* Arithmetic on values from a log, which may be any: defined for all of them. */
#ifndef UTIL_LOGS_SUM_H
#define UTIL_LOGS_SUM_H

#include <stdint.h>

#include "logfmt/records/sum.h"

/* Towards 0; beyond the range its nearest end; 0 for no number. */
static inline int64_t scribe_whole(double v)
{
	return v != v ? 0 : v >= 0x1p63 ? INT64_MAX : v < -0x1p63 ? INT64_MIN : (int64_t)v;
}

/* Sum of the counters that the list names, which ends with -1; those below 0 say nothing. */
static inline int64_t scribe_sum_of(const int64_t *counters, const short *which)
{
	int64_t sum = 0;

	for (; *which >= 0; which++)
		if (counters[*which] > 0)
			sum = scribe_sum(sum, counters[*which]);
	return sum;
}

#endif
