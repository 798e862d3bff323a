/* SPDX-License-Identifier: BSD-3-Clause */
/* From two samples to rows: rates of what was counted between them. */
#ifndef UTIL_CMD_TOP_RATES_H
#define UTIL_CMD_TOP_RATES_H

#include "util/cmd/top/sample.h"

enum scribe_top_view { SCRIBE_TOP_JOBS, SCRIBE_TOP_PROCESSES, SCRIBE_TOP_RANKS, SCRIBE_TOP_FILES };

/* What rows are wanted of. */
struct scribe_top_scope {
	enum scribe_top_view view;
	const char *job_id; /* of this job alone; NULL: all */
	int32_t pid;        /* FILES: of this process alone; 0: all */
	int64_t rank;       /* PROCESSES, FILES: of this rank of `unit` alone; -1: all */
	uint32_t unit;
};

/*
 * READ and WRITE are [0] and [1]. Latencies are those of records of system calls and streams, in FILES of the
 * row's own layer: time in which an operation was under way, by operations; the longest is of all times.
 */
struct scribe_top_row {
	const struct scribe_live_job *job;         /* of the later sample */
	const struct scribe_live_process *process; /* PROCESSES, and where there is one alone; NULL */
	int64_t rank;                              /* -1 none */
	uint32_t unit;
	uint64_t name;                             /* FILES; 0: it has none */
	bool folded;                               /* FILES: it stands for many */
	uint32_t processes;                        /* living */
	uint64_t modules;                          /* bits of the layers that have records */
	double bytes_s[2], ops_s, latency_s, size; /* NAN where there was none */
	double longest_s;
	uint64_t bytes[2], operations; /* since it began */
	/* while rows are added up */
	size_t counted; /* 1 + the process that was counted last */
	double changed_bytes, changed_ops, changed_busy_ns;
};

struct scribe_top_rows {
	struct scribe_top_row *row;
	size_t n, room;
	double seconds; /* between the samples */
};

/* Rows of `now`, which they refer to, with what has changed since `before`. 0 or -ENOMEM. */
int scribe_top_rows_make(const struct scribe_sample *before, const struct scribe_sample *now,
			 const struct scribe_top_scope *scope, struct scribe_top_rows *ret_rows);
void scribe_top_rows_clear(struct scribe_top_rows *rows);

#endif
