/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RUNTIME_DAEMON_MODEL_STANDARD_STREAMS_H
#define RUNTIME_DAEMON_MODEL_STANDARD_STREAMS_H

#include <stdbool.h>
#include <stdint.h>

#include "logfmt/rules/streams.h"

/* Index: descriptor. */
extern const char *const scribe_standard_stream[SCRIBE_STANDARD_STREAMS];
bool scribe_is_standard_stream(uint64_t id);

#endif
