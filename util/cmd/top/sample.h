/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UTIL_CMD_TOP_SAMPLE_H
#define UTIL_CMD_TOP_SAMPLE_H

#include <stdbool.h>
#include <stddef.h>

#include "logfmt/base/err.h"
#include "logfmt/base/live_view.h"

#define SCRIBE_SAMPLE_MAX (4u << 20) /* jobs, processes and records together */

struct scribe_sampled_process {
	struct scribe_live_process is;
	size_t job;     /* index in the sample */
	uint64_t at_ns; /* CLOCK_MONOTONIC */
};

struct scribe_sampled_record {
	struct scribe_live_record is;
	size_t process; /* index in the sample */
	uint64_t at_ns;
};

struct scribe_top_sample {
	uint64_t at_ns;  /* CLOCK_MONOTONIC at its start */
	int64_t real_ns; /* the same in CLOCK_REALTIME */
	struct scribe_live_job *job;
	struct scribe_sampled_process *process;
	struct scribe_sampled_record *record;
	size_t jobs, processes, records;
	size_t jobs_capacity, processes_capacity, records_capacity;
};

/* A connection, opened when needed. Initialise sock to -1. */
struct scribe_live_link {
	int sock;
	const char *job_id;       /* only this job; NULL: all visible ones */
	bool (*go_on)(void *ctx); /* may be NULL; called between pages, false cancels the sample with -ECANCELED */
	void *ctx;
};

void scribe_live_link_close(struct scribe_live_link *l);

int scribe_sample_take(struct scribe_live_link *l, struct scribe_top_sample *ret_sample, struct scribe_err *err);
void scribe_sample_clear(struct scribe_top_sample *s);

/* Requests names of a job's records and calls `fn` for each found. At most SCRIBE_LIVE_NAMES_MAX ids. */
typedef int (*scribe_live_name_fn)(void *ctx, uint64_t id, const char *name, size_t bytes);
int scribe_live_names(struct scribe_live_link *l, const struct scribe_live_job *job, const uint64_t *id, size_t n,
		      scribe_live_name_fn fn, void *ctx, struct scribe_err *err);

#endif
