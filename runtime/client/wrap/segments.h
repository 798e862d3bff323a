/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RUNTIME_CLIENT_WRAP_SEGMENTS_H
#define RUNTIME_CLIENT_WRAP_SEGMENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "logfmt/rules/lib_rules.h"
#include "logfmt/rules/streams.h"

/* Whether to keep an operation that starts now. */
static inline bool scribe_segment_wanted(const struct scribe_shm_counters *m)
{
	return *(volatile const uint32_t *)&m->segments != SCRIBE_SEGMENTS_UNWANTED;
}

static inline bool scribe_segment_wanted_of_streams(const struct scribe_shm_counters *m)
{
	return *(volatile const uint32_t *)&m->segments == SCRIBE_SEGMENTS_STREAMS_TOO;
}

/* Into this thread's ring, in the process with this `born`; overflow is counted. True: wake the daemon. */
bool scribe_segment_put(struct scribe_shm_counters *m, uint64_t born, const struct scribe_shm_segment *segment);
/* For a call on this stream, except seeks. The daemon is not woken. */
void scribe_segment_put_stream(struct scribe_shm_counters *m, uint64_t born, const struct scribe_counter_slot *s,
			       const struct scribe_lib_op *op);

#endif
