/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sums over all records of one module, and what is derived from them: the
 * figures of --total, --file and --perf. The rules are the stock tools' own,
 * quirks included, because the text must be the same; joining records of one
 * file properly is logfmt/records/reduce.h.
 */
#ifndef UTIL_LOGS_ACCUM_H
#define UTIL_LOGS_ACCUM_H

#include <stdint.h>

#include "logfmt/base/err.h"
#include "logfmt/counters/module.h"

enum scribe_accum_want {
	SCRIBE_WANT_TOTAL = 1 << 0, /* the summed record */
	SCRIBE_WANT_FILES = 1 << 1, /* categories of files */
	SCRIBE_WANT_PERF = 1 << 2,  /* bytes, times, performance */
};

enum scribe_file_category {
	SCRIBE_FILES_ALL,
	SCRIBE_FILES_READ_ONLY,
	SCRIBE_FILES_WRITE_ONLY,
	SCRIBE_FILES_READ_WRITE,
	SCRIBE_FILES_UNIQUE,
	SCRIBE_FILES_SHARED,
	SCRIBE_FILES_PART_SHARED,
	SCRIBE_FILES_CATEGORIES
};

struct scribe_category {
	int64_t count;
	int64_t bytes;      /* read and written */
	int64_t max_offset; /* bytes; -1: the module does not tell */
};

struct scribe_perf {
	int64_t bytes_read, bytes_written;
	double unique_time, unique_meta_time, unique_rw_time; /* seconds, of the slowest rank */
	int64_t unique_slowest_rank;
	double shared_time; /* seconds, of the slowest ranks of shared records */
	double agg_time;    /* seconds */
	double agg_perf;    /* MiB a second */
};

struct scribe_accum;

/* Can the module be accumulated? POSIX, MPI-IO, STDIO, DFS and DAOS can. */
int scribe_accum_supports(int module);

/* want: enum scribe_accum_want. 0; -ENOMEM or -SCRIBE_E_UNSUPPORTED with a message. */
int scribe_accum_new(int module, unsigned want, struct scribe_accum **ret_a, struct scribe_err *err);
/* NULL allowed; returns NULL. */
struct scribe_accum *scribe_accum_free(struct scribe_accum *a);

/* 0 or -ENOMEM, with a message. */
int scribe_accum_add(struct scribe_accum *a, const void *record, struct scribe_err *err);

/* The summed record (layout of the module), borrowed. */
const void *scribe_accum_total(const struct scribe_accum *a);
/* ret_files: SCRIBE_FILES_CATEGORIES places. */
void scribe_accum_files(const struct scribe_accum *a, struct scribe_category *ret_files);
void scribe_accum_perf(const struct scribe_accum *a, struct scribe_perf *ret_perf);
/* The i-th file in order of appearance (SCRIBE_WANT_FILES). 1, or 0 beyond the last. */
struct scribe_accum_file {
	uint64_t id;
	int64_t bytes_read, bytes_written;
	int64_t nprocs;     /* ranks with a record of it; -1: shared by all */
	int64_t max_offset; /* bytes; -1: the module does not tell */
};
int scribe_accum_file_at(const struct scribe_accum *a, size_t i, struct scribe_accum_file *ret_file);
int64_t scribe_accum_records(const struct scribe_accum *a);

/*
 * The same sum in the caller's hands: add `record` to `total`; `first` starts
 * it anew. 0, or -SCRIBE_E_UNSUPPORTED.
 */
int scribe_accum_sum(int module, void *total, const void *record, int first);

#endif
