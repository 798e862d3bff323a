/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RUNTIME_DAEMON_OUTPUT_NODE_PARTS_H
#define RUNTIME_DAEMON_OUTPUT_NODE_PARTS_H

#include <stdbool.h>
#include <stddef.h>

#include "logfmt/nodes/part.h"
#include "runtime/daemon/state/daemon.h"

/* DIR/NAME in the directory of the job's parts. */
int scribe_parts_path(const struct scribe_job *job, const char *name, char *ret_path, size_t cap);
/* DIR/WORLD.NODE.KIND; the ranks' own log is without NODE. */
int scribe_parts_unit_path(const struct scribe_job *job, const struct scribe_log_unit *u, const char *kind,
			   char *ret_path, size_t cap);
/* DIR/NODE.KIND */
int scribe_parts_node_path(const struct scribe_job *job, const char *kind, char *ret_path, size_t cap);
/* The part's description, as lines for its metadata. */
int scribe_node_parts_describe(struct scribe_job *job, struct scribe_log_unit *u, char *text, size_t cap);
int scribe_parts_write_done(const struct scribe_job *job, int fd);
/* Reports the merged logs instead of the parts; `fd` holds a path per line. */
void scribe_parts_made(struct scribe_job *job, int fd);

#endif
