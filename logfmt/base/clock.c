// SPDX-License-Identifier: BSD-3-Clause
/*
 * The monotonic clock in nanoseconds, and differences of it in seconds. The daemon, the loader of
 * the kernel programs and the `ioscribe` command use it. CLOCK_MONOTONIC is the clock of the kernel
 * programs (bpf_ktime_get_ns) too, so their times and these are comparable on one node.
 */
#include "logfmt/base/clock.h"

#include <time.h>

uint64_t scribe_now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000ull + (uint64_t)ts.tv_nsec;
}

/*
 * A later `from_ns` gives 0, not a wrapped difference: two threads may read the clock in either
 * order.
 */
double scribe_seconds_between(uint64_t from_ns, uint64_t to_ns)
{
	return to_ns > from_ns ? (double)(to_ns - from_ns) / 1e9 : 0;
}
