/* SPDX-License-Identifier: BSD-3-Clause */
/* Operations one by one (DXT), in the memory that is shared with the daemon: logfmt/rules/streams.h. */
#ifndef RUNTIME_CLIENT_WRAP_SEGMENTS_H
#define RUNTIME_CLIENT_WRAP_SEGMENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "logfmt/rules/lib_rules.h"
#include "logfmt/rules/streams.h"

/* Is an operation that begins now to be kept? */
static inline bool scribe_segment_wanted(const struct scribe_shm_counters *m)
{
	return *(volatile const uint32_t *)&m->segments != SCRIBE_SEGMENTS_UNWANTED;
}

/* The same of one on a stream. */
static inline bool scribe_segment_wanted_of_streams(const struct scribe_shm_counters *m)
{
	return *(volatile const uint32_t *)&m->segments == SCRIBE_SEGMENTS_STREAMS_TOO;
}

/*
 * On the ring of this thread, in the process that was born then; what has no room is counted. True: the
 * daemon should come.
 */
bool scribe_segment_put(struct scribe_shm_counters *m, uint64_t born, const struct scribe_shm_segment *segment);
/* The same of a call on the stream that is counted there; a seek leaves none. The daemon comes by itself. */
void scribe_segment_put_stream(struct scribe_shm_counters *m, uint64_t born, const struct scribe_counter_slot *s,
			       const struct scribe_lib_op *op);

#endif
