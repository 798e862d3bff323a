/* SPDX-License-Identifier: BSD-3-Clause */
/* Private to logfmt/. */
#ifndef LOGFMT_NODES_SURVEY_H
#define LOGFMT_NODES_SURVEY_H

#include "logfmt/nodes/bytes.h"
#include "logfmt/nodes/id_table.h"
#include "logfmt/nodes/world.h"
#include "logfmt/records/hashmap.h"
#include "logfmt/records/heat_level.h"

#define SCRIBE_BATCH_NODES 64

struct scribe_survey {
	struct scribe_join *j;
	struct scribe_id_table ids; /* of records that can become shared */
	struct scribe_map named;    /* ids with a name in the next two */
	struct scribe_bytes names;  /* compressed, as in a log */
	struct scribe_bytes odd;    /* with a NUL: id, 32-bit length, bytes */
	struct scribe_heat_axis axis;
	uint64_t *hash;   /* by node */
	uint32_t *holder; /* by rank: 1 + node; 0: none */
	uint64_t plan;    /* hash of all that determines a batch */
};

static inline size_t scribe_survey_batches(const struct scribe_survey *s)
{
	return (s->j->world->nodes + SCRIBE_BATCH_NODES - 1) / SCRIBE_BATCH_NODES;
}

/* Sets the join's ranks and partial, reports unusable parts. A failure is in the join's error. */
int scribe_survey_take(struct scribe_survey *s, struct scribe_join *j);
void scribe_survey_clear(struct scribe_survey *s);

#endif
