/* SPDX-License-Identifier: BSD-3-Clause */
/* For --total, --file and --perf; equal to Darshan's, errors included. Proper reduction: logfmt/records/reduce.h. */
#ifndef UTIL_LOGS_ACCUM_H
#define UTIL_LOGS_ACCUM_H

#include <stdint.h>

#include "logfmt/base/err.h"
#include "logfmt/counters/module.h"

enum scribe_accum_want {
	SCRIBE_WANT_TOTAL = 1 << 0,
	SCRIBE_WANT_FILES = 1 << 1,
	SCRIBE_WANT_PERF = 1 << 2,
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
	int64_t bytes;
	int64_t max_offset; /* -1: not in this module */
};

struct scribe_perf {
	int64_t bytes_read, bytes_written;
	double unique_time, unique_meta_time, unique_rw_time; /* seconds of the slowest rank */
	int64_t unique_slowest_rank;
	double shared_time; /* seconds of the slowest ranks of shared records */
	double agg_time;    /* seconds */
	double agg_perf;    /* MiB/s */
};

struct scribe_accum;

/* True for POSIX, MPI-IO, STDIO, DFS and DAOS. */
int scribe_accum_supports(int module);

/* `want` combines enum scribe_accum_want. -ENOMEM or -SCRIBE_E_UNSUPPORTED. */
int scribe_accum_new(int module, unsigned want, struct scribe_accum **ret_a, struct scribe_err *err);
struct scribe_accum *scribe_accum_free(struct scribe_accum *a);

int scribe_accum_add(struct scribe_accum *a, const void *record, struct scribe_err *err);

const void *scribe_accum_total(const struct scribe_accum *a);
/* ret_files: SCRIBE_FILES_CATEGORIES entries. */
void scribe_accum_files(const struct scribe_accum *a, struct scribe_category *ret_files);
void scribe_accum_perf(const struct scribe_accum *a, struct scribe_perf *ret_perf);
/* Files in order of appearance; needs SCRIBE_WANT_FILES. */
struct scribe_accum_file {
	uint64_t id;
	int64_t bytes_read, bytes_written;
	int64_t nprocs;     /* ranks with a record; -1: shared by all */
	int64_t max_offset; /* -1: not in this module */
};
/* 1, or 0 after the last. */
int scribe_accum_file_at(const struct scribe_accum *a, size_t i, struct scribe_accum_file *ret_file);
int64_t scribe_accum_records(const struct scribe_accum *a);

/* Adds `record` to the caller's `total`, which `first` clears. 0 or -SCRIBE_E_UNSUPPORTED. */
int scribe_accum_sum(int module, void *total, const void *record, int first);

#endif
