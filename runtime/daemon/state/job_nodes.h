/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A job on several nodes: what other nodes have a part of.
 */
#ifndef RUNTIME_DAEMON_STATE_JOB_NODES_H
#define RUNTIME_DAEMON_STATE_JOB_NODES_H

#include "runtime/daemon/state/job.h"

/* Is the job on several nodes? */
bool scribe_node_parts_job(const struct scribe_job *job);
/* Can other nodes have a part of the unit's log, too? */
bool scribe_node_parts_unit(const struct scribe_job *job, const struct scribe_log_unit *u);
/* No other node calls a world so: its name is a process's of this node. */
bool scribe_is_local_world(const char *key);

#endif
