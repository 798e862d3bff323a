/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One log's part in the figures of analyze.
 */
#ifndef UTIL_ANALYZE_LOG_H
#define UTIL_ANALYZE_LOG_H

#include "logfmt/base/err.h"
#include "util/tally.h"

struct scribe_log_figures {
	int shared, per_process; /* has POSIX records of all ranks, of one */
	int mpiio, pnetcdf, hdf5;
	double io_ratio;             /* POSIX time by run time; 0 without POSIX records */
	struct scribe_totals totals; /* POSIX and STDIO */
	char user[32];
	char program[128];
	struct scribe_tally mounts; /* "path (type)"; only when asked for */
};

/* Read a log. with_mounts: also its names, for totals by file system. Free the figures' mounts. */
int scribe_analyze_log(const char *path, int with_mounts, struct scribe_log_figures *ret_f,
		       struct scribe_err *err);

#endif
