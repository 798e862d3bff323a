// SPDX-License-Identifier: BSD-3-Clause
/* A struct scribe_log owns reader, sorted mounts and names until scribe_log_close, also after a failure. */
#include "util/logs/logfile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int mounts_sort(struct scribe_log *log, struct scribe_err *err)
{
	const struct scribe_mount *from;
	size_t n = scribe_reader_mounts(log->reader, &from);

	log->mounts = calloc(n + 1, sizeof(*log->mounts));
	if (!log->mounts)
		return scribe_err_set(err, -ENOMEM, "%s: mounts: out of memory", log->path);
	/* Insertion sort is stable, and a log has a few dozen mounts. */
	for (size_t i = 0; i < n; i++) {
		size_t at = i, len = strlen(from[i].path);

		for (; at > 0 && strlen(log->mounts[at - 1].path) < len; at--)
			log->mounts[at] = log->mounts[at - 1];
		log->mounts[at] = from[i];
	}
	log->nmounts = n;
	return 0;
}

int scribe_log_open(struct scribe_log *log, const char *path, unsigned want, struct scribe_err *err)
{
	int rc;

	memset(log, 0, sizeof(*log));
	log->path = path;
	rc = scribe_reader_open(path, &log->reader, err);
	if (rc < 0)
		return rc;
	rc = mounts_sort(log, err);
	if (rc < 0)
		return rc;
	log->names = scribe_names_new();
	if (!log->names)
		return scribe_err_set(err, -ENOMEM, "%s: names: out of memory", path);
	return want & SCRIBE_LOG_NAMES ? scribe_names_load(log->names, log->reader, err) : 0;
}

void scribe_log_close(struct scribe_log *log)
{
	log->names = scribe_names_free(log->names);
	log->reader = scribe_reader_free(log->reader);
	free(log->mounts);
	log->mounts = NULL;
	log->nmounts = 0;
}
