/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A job on several nodes: which logs are made of the nodes' parts, and what they
 * are called (logfmt/nodes/part.h). Must not know records.
 */
#ifndef RUNTIME_DAEMON_OUTPUT_NODE_PARTS_H
#define RUNTIME_DAEMON_OUTPUT_NODE_PARTS_H

#include <stdbool.h>
#include <stddef.h>

#include "logfmt/nodes/part.h"
#include "runtime/daemon/state/daemon.h"


/* DIR/NAME in the job's directory of parts. */
int scribe_parts_path(const struct scribe_job *job, const char *name, char *ret_path, size_t cap);
/* DIR/WORLD.NODE.KIND; of the ranks' own log without a node. */
int scribe_parts_unit_path(const struct scribe_job *job, const struct scribe_log_unit *u, const char *kind,
			   char *ret_path, size_t cap);
/* DIR/NODE.KIND */
int scribe_parts_node_path(const struct scribe_job *job, const char *kind, char *ret_path, size_t cap);
/* What the unit's part says of itself, as lines for the log's metadata. */
int scribe_node_parts_describe(struct scribe_job *job, struct scribe_log_unit *u, char *text, size_t cap);
/* Text of NODE.done into `fd`. */
int scribe_parts_write_done(const struct scribe_job *job, int fd);
/* The logs that were made, a path a line in `fd`, replace the parts that are told of. */
void scribe_parts_made(struct scribe_job *job, int fd);

#endif
