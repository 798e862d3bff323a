/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RUNTIME_CLIENT_INSIDE_HEAT_H
#define RUNTIME_CLIENT_INSIDE_HEAT_H

#include "logfmt/rules/lib_rules.h"
#include "logfmt/rules/streams.h"

/* What is not in the current bin of shard `i`. */
void scribe_stream_heat_far(struct scribe_shm_counters *m, struct scribe_counter_slot *s, enum scribe_stream_shard i,
			    const struct scribe_lib_op *op);
/* For a new use of a slot; it keeps its tables. */
void scribe_stream_heat_begin(struct scribe_shm_counters *m, struct scribe_counter_slot *s);

static inline void scribe_stream_heat(struct scribe_shm_counters *m, struct scribe_counter_slot *s,
				      enum scribe_stream_shard i, const struct scribe_lib_op *op)
{
	if (op->what != SCRIBE_LIB_DATA || op->unsized || !op->bytes)
		return;
	if (i != SCRIBE_SHARD_SHARED && scribe_heat_is_near(&s->heat[i], op->start_ns, op->end_ns))
		s->heat[i].bytes[op->op_class & 1] += op->bytes;
	else
		scribe_stream_heat_far(m, s, i, op);
}

#endif
