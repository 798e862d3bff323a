/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a log says in short: job, modules, performance, access sizes, busiest
 * files, how the processes ended, and whether anything was lost.
 */
#ifndef UTIL_SUMMARY_H
#define UTIL_SUMMARY_H

#include "logfmt/base/err.h"
#include "logfmt/records.h"
#include "util/accum.h"
#include "util/logfile.h"
#include "util/outbuf.h"

#define SCRIBE_SUMMARY_MODULES 5 /* POSIX, MPI-IO, STDIO, DFS, DAOS */
#define SCRIBE_SUMMARY_FILES   20
#define SCRIBE_SUMMARY_ENDS 20
#define SCRIBE_SUMMARY_COLUMNS 60 /* of the plot of activity over time */

struct scribe_summary_module {
	int module;
	int64_t records;
	int64_t opens, reads, writes; /* operations */
	struct scribe_category files[SCRIBE_FILES_CATEGORIES];
	struct scribe_perf perf;
	int64_t read_sizes[SCRIBE_SIZE_BUCKETS], write_sizes[SCRIBE_SIZE_BUCKETS];
	int has_sizes;
};

struct scribe_summary_file {
	uint64_t id;
	int module;
	int64_t bytes_read, bytes_written;
	int64_t nprocs; /* -1: all ranks */
};

struct scribe_summary_end {
	int64_t rank, pid, wait_status, kind; /* kind: enum scribe_process_end */
	char exe[64];
};

/* Bytes moved over time, of all ranks, below MPI-IO. */
struct scribe_summary_heat {
	double span; /* seconds that the columns cover; 0: the log has no heatmap */
	double bytes[2][SCRIBE_SUMMARY_COLUMNS]; /* read, written */
};

struct scribe_summary {
	struct scribe_log log;
	struct scribe_summary_module modules[SCRIBE_SUMMARY_MODULES];
	int nmodules;
	uint64_t other_modules;                                 /* bit i: module i has data beside those */
	struct scribe_summary_file files[SCRIBE_SUMMARY_FILES]; /* most bytes first */
	int nfiles;
	int64_t processes, ended_well, ended_badly, signalled, lost, running;
	struct scribe_summary_end ends[SCRIBE_SUMMARY_ENDS]; /* those that did not end well */
	int nends;
	struct scribe_summary_heat heat;
	int has_ledger;
	int64_t ledger[SCRIBE_LEDGER_PLACES]; /* sums over hosts */
	double ledger_f[SCRIBE_LEDGER_F_PLACES];
};

/* Read all of a log. 0 or a negative code with a message; free also after a failure. */
int scribe_summary_read(struct scribe_summary *s, const char *path, struct scribe_err *err);
void scribe_summary_free(struct scribe_summary *s);

/* The heatmaps of an opened log. 0 or a negative code with a message. */
int scribe_summary_read_heat(struct scribe_summary *s, struct scribe_err *err);
/* Plot of activity over time; nothing when there was no heatmap. */
void scribe_summary_print_heat(const struct scribe_summary *s, struct scribe_out *out);

/* The whole summary, or ten lines of it. */
void scribe_summary_print(const struct scribe_summary *s, struct scribe_out *out, int nfiles);
void scribe_summary_print_brief(const struct scribe_summary *s, struct scribe_out *out);

/* Ten lines about the log at `path` to descriptor `fd`, as `ioscribe run` does at its end. */
int scribe_summary_brief(const char *path, int fd, struct scribe_err *err);

#endif
