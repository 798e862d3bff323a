/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Times of the log's records: nanoseconds become multiples of 2^-22 s (238 ns), the resolution that a double of
 * seconds since 1970 has and Darshan's times therefore have. So the low bits of the doubles are zero, and records
 * compress to about half; sums and differences of such times stay exact.
 */
#ifndef LOGFMT_RECORDS_GRID_H
#define LOGFMT_RECORDS_GRID_H

#include <stdint.h>

#define SCRIBE_GRID_BITS 22

/* Nearest multiple, but never 0 for what took time. Order is kept: a <= b before is so after. */
static inline double scribe_grid_seconds(uint64_t ns)
{
	const uint64_t second = 1000000000;
	uint64_t part = ((ns % second << SCRIBE_GRID_BITS) + second / 2) / second;
	uint64_t ticks = (ns / second << SCRIBE_GRID_BITS) + part;

	if (ns != 0 && ticks == 0)
		ticks = 1;
	return (double)ticks / (double)(1u << SCRIBE_GRID_BITS);
}

/* A moment, in seconds from `base_ns` of the same clock. 0: never; what lies before the base counts as just after. */
static inline double scribe_grid_when(uint64_t ns, uint64_t base_ns)
{
	if (ns == 0)
		return 0;
	return scribe_grid_seconds(ns > base_ns ? ns - base_ns : 1);
}

/* Seconds, either sign; what is beyond 30 years stays as it is. */
static inline double scribe_grid_round(double seconds)
{
	const double ticks = seconds * (double)(1u << SCRIBE_GRID_BITS);

	if (!(ticks > -4e15 && ticks < 4e15))
		return seconds;
	return (double)(int64_t)(ticks < 0 ? ticks - 0.5 : ticks + 0.5) / (double)(1u << SCRIBE_GRID_BITS);
}

#endif
