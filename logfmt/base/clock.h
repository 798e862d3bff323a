/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The clock by which waits and spans are measured.
 */
#ifndef LOGFMT_BASE_CLOCK_H
#define LOGFMT_BASE_CLOCK_H

#include <stdint.h>

/* CLOCK_MONOTONIC, ns. */
uint64_t scribe_now_ns(void);
/* From one time of that clock (ns) to another; 0 where it is not the later one. */
double scribe_seconds_between(uint64_t from_ns, uint64_t to_ns);

#endif
