// SPDX-License-Identifier: BSD-3-Clause
/*
 * Opens a log with what a tool needs of it.
 */
#include "util/logfile.h"

#include <errno.h>
#include <string.h>

int scribe_log_open(struct scribe_log *log, const char *path, unsigned want, struct scribe_err *err)
{
	int rc;

	memset(log, 0, sizeof(*log));
	log->path = path;
	rc = scribe_reader_open(path, &log->reader, err);
	if (rc < 0)
		return rc;
	log->nmounts = scribe_reader_mounts(log->reader, &log->mounts);
	log->names = scribe_names_new();
	if (!log->names)
		return scribe_err_set(err, -ENOMEM, "%s: names: out of memory", path);
	return want & SCRIBE_LOG_NAMES ? scribe_names_load(log->names, log->reader, err) : 0;
}

void scribe_log_close(struct scribe_log *log)
{
	log->names = scribe_names_free(log->names);
	log->reader = scribe_reader_free(log->reader);
}
