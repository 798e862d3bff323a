/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a program has counted in memory of its own for one file.
 */
#ifndef RUNTIME_DAEMON_MODEL_COUNTER_USE_H
#define RUNTIME_DAEMON_MODEL_COUNTER_USE_H

#include "logfmt/rules/streams.h"

/* A use of a place of a memory. */
struct scribe_stream_use {
	uint32_t memory, index, gen;
	uint32_t file; /* 1: of MPI-IO */
};

#endif
