/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RUNTIME_CLIENT_WRAP_CLOCK_H
#define RUNTIME_CLIENT_WRAP_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

/* CLOCK_MONOTONIC of the initial time namespace. */
uint64_t scribe_clock_ns(void);
uint64_t scribe_stream_now(void);
/* No clock is allowed. */
bool scribe_clock_stands(void);

#endif
