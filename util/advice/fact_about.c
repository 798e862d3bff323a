// SPDX-License-Identifier: BSD-3-Clause
/* What facts are about: their names and units, and the rank that one concerns. */
#include <string.h>

#include "util/advice/facts.h"

double scribe_file_seconds(const double *v)
{
	return v[SCRIBE_FACT_read_time] + v[SCRIBE_FACT_write_time] + v[SCRIBE_FACT_meta_time] +
	       v[SCRIBE_FACT_stream_time];
}

const struct scribe_file_facts *scribe_facts_slowest(const struct scribe_facts *f)
{
	const struct scribe_file_facts *most = NULL;

	for (size_t i = 0; i < f->nfiles; i++)
		if (scribe_file_seconds(f->file[i]->v) > (most ? scribe_file_seconds(most->v) : 0))
			most = f->file[i];
	return most;
}

int64_t scribe_fact_rank(const struct scribe_facts *f, const struct scribe_file_facts *file, enum scribe_fact fact)
{
	switch (fact) {
	case SCRIBE_FACT_straggle:
		return file ? file->slow_rank : -1;
	case SCRIBE_FACT_imbalance:
		return file ? file->most_rank : -1;
	case SCRIBE_FACT_io_time:
	case SCRIBE_FACT_rank_gap:
		return f->slow_rank;
	case SCRIBE_FACT_rank_meta_time:
		return f->slow_meta_rank;
	case SCRIBE_FACT_failed_processes:
		return f->failed_rank;
	default:
		return -1;
	}
}

static const struct scribe_fact_about facts[SCRIBE_NFACTS] = {
#define SCRIBE_X(name, unit, counters, text) [SCRIBE_FACT_##name] = {#name, counters, text, SCRIBE_UNIT_##unit},
	SCRIBE_FILE_FACTS(SCRIBE_X) SCRIBE_JOB_FACTS(SCRIBE_X)
#undef SCRIBE_X
};

int scribe_fact_of(const char *name)
{
	for (int i = 0; i < SCRIBE_NFACTS; i++)
		if (!strcmp(facts[i].name, name))
			return i;
	return -1;
}

const struct scribe_fact_about *scribe_fact_about(enum scribe_fact fact)
{
	return &facts[fact];
}
