/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RUNTIME_DAEMON_STATE_SHM_COPY_H
#define RUNTIME_DAEMON_STATE_SHM_COPY_H

#include <stdbool.h>

#include "logfmt/rules/streams.h"

struct scribe_stream_copy {
	struct scribe_counter_slot s;
	struct scribe_stream_more more;                      /* MPI-IO files only */
	struct scribe_heat_table heat[SCRIBE_STREAM_SHARDS]; /* valid where s.heat[].table is not 0 */
};

/*
 * If the owner's lock stays odd: the state before the call in progress. `tries` is what is left for the whole
 * memory; the first read of each slot is free. False: cannot be read.
 */
bool scribe_stream_copy_read(int memory_fd, uint32_t index, bool file, struct scribe_stream_copy *ret_copy,
			     unsigned *tries);
/* NULL: the shard has none. */
const struct scribe_heat_table *scribe_stream_copy_heat(const struct scribe_stream_copy *c, int shard);

#endif
