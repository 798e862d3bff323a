/* SPDX-License-Identifier: BSD-3-Clause */
/* A sum of counters of a log, which may be any: it wraps round instead of being undefined. */
#ifndef LOGFMT_RECORDS_SUM_H
#define LOGFMT_RECORDS_SUM_H

#include <stdint.h>

static inline int64_t scribe_sum(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a + (uint64_t)b);
}

#endif
