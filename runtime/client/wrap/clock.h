/* SPDX-License-Identifier: BSD-3-Clause */
/* The clock of what is counted inside. */
#ifndef RUNTIME_CLIENT_WRAP_CLOCK_H
#define RUNTIME_CLIENT_WRAP_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

/* CLOCK_MONOTONIC of the initial time namespace, by the C library. */
uint64_t scribe_clock_ns(void);
/* The same by the processor's counter where that is steady; in a sealed program what it allows. */
uint64_t scribe_stream_now(void);
/* Is there no clock that the program allows? */
bool scribe_clock_stands(void);

#endif
