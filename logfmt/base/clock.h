/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef LOGFMT_BASE_CLOCK_H
#define LOGFMT_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

/* CLOCK_MONOTONIC of the initial time namespace, in ns. */
uint64_t scribe_now_ns(void);
/* From this process's CLOCK_MONOTONIC. */
uint64_t scribe_clock_initial_ns(const struct timespec *ts);
/* Call at start, after fork and after setns(2). Without /proc the last offset stays, initially 0. Changes errno. */
void scribe_clock_calibrate(void);
/* 0 if to_ns is not later. */
double scribe_seconds_between(uint64_t from_ns, uint64_t to_ns);

#endif
