/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One log's part in the figures of analyze.
 */
#ifndef UTIL_CMD_ANALYZE_ANALYZE_LOG_H
#define UTIL_CMD_ANALYZE_ANALYZE_LOG_H

#include "logfmt/base/err.h"
#include "util/logs/tally.h"

struct scribe_log_figures {
	int shared, per_process; /* has POSIX records of all ranks, of one */
	int mpiio, pnetcdf, hdf5;
	double io_ratio;             /* POSIX time by run time; 0 without POSIX records */
	struct scribe_totals totals; /* POSIX and STDIO */
	char user[32];
	char program[128];
	struct scribe_tally mounts; /* "path (type)" */
};

/*
 * Read a log. `stock`: only what darshan-analyzer looks at, job and POSIX records. Else also
 * STDIO and the names, for totals by file system. Free the figures' mounts.
 */
int scribe_analyze_log(const char *path, int stock, struct scribe_log_figures *ret_f,
		       struct scribe_err *err);

#endif
