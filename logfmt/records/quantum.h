/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Times of records: multiples of 2^-22 s (238 ns), the resolution of a double of seconds since 1970 and therefore of
 * Darshan's times. With zeros in the low bits records compress to about half, and sums and differences are exact.
 */
#ifndef LOGFMT_RECORDS_QUANTUM_H
#define LOGFMT_RECORDS_QUANTUM_H

#include <stdint.h>

#define SCRIBE_QUANTUM_BITS 22

/* The nearest multiple, but not 0 unless ns is. Keeps the order. */
static inline double scribe_quantum_seconds(uint64_t ns)
{
	const uint64_t second = 1000000000;
	uint64_t part = ((ns % second << SCRIBE_QUANTUM_BITS) + second / 2) / second;
	uint64_t ticks = (ns / second << SCRIBE_QUANTUM_BITS) + part;

	if (ns != 0 && ticks == 0)
		ticks = 1;
	return (double)ticks / (double)(1u << SCRIBE_QUANTUM_BITS);
}

/* Seconds from `base_ns`. 0: never; a time before the base becomes the first tick. */
static inline double scribe_quantum_when(uint64_t ns, uint64_t base_ns)
{
	if (ns == 0)
		return 0;
	return scribe_quantum_seconds(ns > base_ns ? ns - base_ns : 1);
}

/* Unchanged beyond 30 years. */
static inline double scribe_quantum_round(double seconds)
{
	const double ticks = seconds * (double)(1u << SCRIBE_QUANTUM_BITS);

	if (!(ticks > -4e15 && ticks < 4e15))
		return seconds;
	return (double)(int64_t)(ticks < 0 ? ticks - 0.5 : ticks + 0.5) / (double)(1u << SCRIBE_QUANTUM_BITS);
}

#endif
