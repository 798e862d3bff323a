/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A job on several nodes: which logs are made of the nodes' parts, and what they
 * are called (logfmt/parts.h). Must not know records.
 */
#ifndef RUNTIME_DAEMON_PARTS_H
#define RUNTIME_DAEMON_PARTS_H

#include <stdbool.h>
#include <stddef.h>

#include "logfmt/parts.h"
#include "runtime/daemon/daemon.h"

/* Is the job on several nodes? */
bool scribe_parts_job(const struct scribe_work *w);
/* Can other nodes have a part of the unit's log, too? */
bool scribe_parts_unit(const struct scribe_work *w, const struct scribe_unit *u);

/* DIR/NAME in the job's directory of parts. */
int scribe_parts_path(const struct scribe_work *w, const char *name, char *ret_path, size_t cap);
/* DIR/WORLD.NODE.KIND; of the ranks' own log without a node. */
int scribe_parts_unit_path(const struct scribe_work *w, const struct scribe_unit *u, const char *kind,
			   char *ret_path, size_t cap);
/* DIR/NODE.KIND */
int scribe_parts_node_path(const struct scribe_work *w, const char *kind, char *ret_path, size_t cap);
/* What the unit's part says of itself, as lines for the log's metadata. */
int scribe_parts_describe(struct scribe_work *w, struct scribe_unit *u, char *text, size_t cap);
/* Text of NODE.done into `fd`. */
int scribe_parts_write_done(const struct scribe_work *w, int fd);
/* The logs that were made, a path a line in `fd`, replace the parts that are told of. */
void scribe_parts_made(struct scribe_work *w, int fd);

#endif
