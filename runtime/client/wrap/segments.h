/* SPDX-License-Identifier: BSD-3-Clause */
/* Operations one by one (DXT), in the memory that is shared with the daemon: logfmt/rules/streams.h. */
#ifndef RUNTIME_CLIENT_WRAP_SEGMENTS_H
#define RUNTIME_CLIENT_WRAP_SEGMENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "logfmt/rules/streams.h"

/* Is an operation that begins now to be kept? */
static inline bool scribe_segment_wanted(const struct scribe_shm_counters *m)
{
	return *(volatile const uint32_t *)&m->segments != SCRIBE_SEGMENTS_UNWANTED;
}

/*
 * On the ring of this thread, whose word that is, in the process that was born then; what has no room is
 * counted. True: the daemon should come.
 */
bool scribe_segment_put(struct scribe_shm_counters *m, uint64_t thread, uint64_t born,
			const struct scribe_shm_segment *segment);

#endif
