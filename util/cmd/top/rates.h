/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UTIL_CMD_TOP_RATES_H
#define UTIL_CMD_TOP_RATES_H

#include "util/cmd/top/sample.h"

enum scribe_top_view { SCRIBE_TOP_JOBS, SCRIBE_TOP_PROCESSES, SCRIBE_TOP_RANKS, SCRIBE_TOP_FILES };

struct scribe_top_scope {
	enum scribe_top_view view;
	const char *job_id; /* only this job; NULL: all */
	int32_t pid;        /* FILES: only this process; 0: all */
	int64_t rank;       /* PROCESSES, FILES: only this rank of `unit`; -1: all */
	uint32_t unit;
};

/*
 * [0] is reads, [1] writes. Latency: time with an operation in progress / operations, in FILES of the row's
 * layer. The longest is since the start.
 */
struct scribe_top_row {
	const struct scribe_live_job *job;
	const struct scribe_live_process *process; /* the only one of the row; otherwise NULL */
	int64_t rank;                              /* -1: none */
	uint32_t unit;
	uint64_t name; /* FILES; 0: none */
	bool folded;   /* FILES: an overflow record of many files */
	uint32_t processes;
	uint64_t modules;                          /* bit per layer with records */
	double bytes_s[2], ops_s, latency_s, size; /* NAN: no operation */
	double opens_s, stats_s, failed_s;         /* failed lookups: JOBS */
	double longest_s;
	uint64_t bytes[2], operations; /* since the start */
	size_t counted;
	double changed_bytes, changed_ops, changed_busy_ns;
};

struct scribe_top_rows {
	struct scribe_top_row *row;
	size_t n, capacity;
	double seconds;
};

/* Rows refer to `now`. 0 or -ENOMEM. */
int scribe_top_rows_make(const struct scribe_top_sample *before, const struct scribe_top_sample *now,
			 const struct scribe_top_scope *scope, struct scribe_top_rows *ret_rows);
void scribe_top_rows_clear(struct scribe_top_rows *rows);

#endif
