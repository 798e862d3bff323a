/* SPDX-License-Identifier: BSD-3-Clause */
/* Sums of counters from logs: limited to the smallest and largest 64-bit value. */
#ifndef LOGFMT_RECORDS_SUM_H
#define LOGFMT_RECORDS_SUM_H

#include <stdint.h>

static inline int64_t scribe_sum(int64_t a, int64_t b)
{
	int64_t sum;

	return __builtin_add_overflow(a, b, &sum) ? (a < 0 ? INT64_MIN : INT64_MAX) : sum;
}

static inline int64_t scribe_difference(int64_t a, int64_t b)
{
	int64_t less;

	return __builtin_sub_overflow(a, b, &less) ? (a < 0 ? INT64_MIN : INT64_MAX) : less;
}

#endif
