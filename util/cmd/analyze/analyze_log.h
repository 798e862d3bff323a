/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UTIL_CMD_ANALYZE_ANALYZE_LOG_H
#define UTIL_CMD_ANALYZE_ANALYZE_LOG_H

#include "logfmt/base/err.h"
#include "util/logs/tally.h"

struct scribe_log_figures {
	int shared, per_process; /* has POSIX records of all ranks, of single ranks */
	int mpiio, pnetcdf, hdf5;
	double io_ratio; /* POSIX time / run time; 0 without POSIX records */
	struct scribe_totals totals;
	char user[32];
	char program[128];
	struct scribe_tally mounts;
};

/*
 * `stock`: only the job and POSIX records, as darshan-analyzer; otherwise also STDIO and names, for totals
 * per file system. The caller frees ret_f->mounts.
 */
int scribe_analyze_log(const char *path, int stock, struct scribe_log_figures *ret_f, struct scribe_err *err);

#endif
