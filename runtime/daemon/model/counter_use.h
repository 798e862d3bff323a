/* SPDX-License-Identifier: BSD-3-Clause */
/* Reference to a program's counters of one file. */
#ifndef RUNTIME_DAEMON_MODEL_COUNTER_USE_H
#define RUNTIME_DAEMON_MODEL_COUNTER_USE_H

#include "logfmt/rules/streams.h"

/* Index in one of its shared memories. */
struct scribe_stream_use {
	uint32_t memory, index, gen;
	uint32_t file; /* 1: an MPI-IO file */
};

#endif
