/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef LOGFMT_NODES_PARTS_H
#define LOGFMT_NODES_PARTS_H

#include <stdbool.h>

#include "logfmt/base/err.h"

#define SCRIBE_PARTS_STALE_S 600 /* an older claim is of a merge that has died */

struct scribe_parts_way {
	bool incomplete; /* even if nodes are missing or a merge was stopped */
	/* A log is finished; `missing`: nodes that it lacks, or NULL. */
	void (*said)(void *ctx, const char *path, const char *missing);
	void *ctx;
	unsigned threads; /* 0: the caller's; in memory are records of 64 nodes per thread */
	bool without_bad; /* leaves out unusable parts, which stay */
	/* A line about an unusable part, or where a stopped merge continues. */
	void (*report)(void *ctx, const char *line);
};

/*
 * Makes the logs and removes the parts. -EAGAIN: a node has not delivered; -EBUSY: another merge is running, on
 * any node; -ENOENT: without parts.
 */
int scribe_parts_merge(const char *dir, const struct scribe_parts_way *way, struct scribe_err *err);

#endif
