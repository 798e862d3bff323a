/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The clock by which waits and spans are measured.
 */
#ifndef LOGFMT_BASE_CLOCK_H
#define LOGFMT_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

/* CLOCK_MONOTONIC of the initial time namespace, ns. */
uint64_t scribe_now_ns(void);
/* A time of CLOCK_MONOTONIC as this process reads it, on that clock. */
uint64_t scribe_clock_initial_ns(const struct timespec *ts);
/*
 * Reads the offset of this process's time namespace: when the process begins, after a fork, and
 * after setns(2). Where /proc does not tell it, the last one stays (0 in a new program). Changes errno.
 */
void scribe_clock_calibrate(void);
/* From one time of that clock (ns) to another; 0 where it is not the later one. */
double scribe_seconds_between(uint64_t from_ns, uint64_t to_ns);

#endif
