/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A place of the memory that a program counts in, copied as it is between two calls of its
 * owner. Must not know whose record it is.
 */
#ifndef RUNTIME_DAEMON_STATE_SHM_COPY_H
#define RUNTIME_DAEMON_STATE_SHM_COPY_H

#include <stdbool.h>

#include "logfmt/rules/streams.h"

struct scribe_stream_copy {
	struct scribe_counter_slot s;
	struct scribe_stream_more more;                      /* of a file of MPI-IO */
	struct scribe_heat_table heat[SCRIBE_STREAM_SHARDS]; /* of shards that have one: s.heat[].table */
};

/*
 * After many tries, which the owner has not outlived, as it was before the last call.
 * `tries`: what the look at its memory has left, each place has one of its own.
 */
bool scribe_stream_copy_read(int memory_fd, uint32_t index, bool file, struct scribe_stream_copy *ret_copy,
			     unsigned *tries);
/* The table of a shard, NULL: it has none. */
const struct scribe_heat_table *scribe_stream_copy_heat(const struct scribe_stream_copy *c, int shard);

#endif
