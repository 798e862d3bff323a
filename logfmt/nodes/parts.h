/* SPDX-License-Identifier: BSD-3-Clause */
/* Making the logs of a job on several nodes from their parts (logfmt/nodes/part.h). */
#ifndef LOGFMT_NODES_PARTS_H
#define LOGFMT_NODES_PARTS_H

#include <stdbool.h>

#include "logfmt/base/err.h"

#define SCRIBE_PARTS_STALE_S 600 /* a merge that has not moved for so long has died */

struct scribe_parts_way {
	bool incomplete; /* also when nodes are missing, or a merge was cut short */
	/* A log is finished; `missing` names nodes that it lacks, NULL none. */
	void (*said)(void *ctx, const char *path, const char *missing);
	void *ctx;
	unsigned threads; /* 0: this one; records of up to 64 nodes are in memory together then, else those of
			     64 a thread */
	bool without_bad; /* parts that cannot be used are left out, and stay where they are */
	/* A part that cannot be used, in one line; or where a merge that was stopped goes on. */
	void (*tell)(void *ctx, const char *line);
};

/*
 * Make the logs of the parts in `dir` and remove these. At most one caller does,
 * on whatever node. 0; -EAGAIN: a node has not delivered; -EBUSY: somebody is at
 * it; -ENOENT: there are no parts.
 */
int scribe_parts_merge(const char *dir, const struct scribe_parts_way *way, struct scribe_err *err);

#endif
