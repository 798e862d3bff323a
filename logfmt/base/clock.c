// SPDX-License-Identifier: BSD-3-Clause
/* See clock.h. */
#include "logfmt/base/clock.h"

#include <time.h>

uint64_t scribe_now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000ull + (uint64_t)ts.tv_nsec;
}

double scribe_seconds_between(uint64_t from_ns, uint64_t to_ns)
{
	return to_ns > from_ns ? (double)(to_ns - from_ns) / 1e9 : 0;
}
