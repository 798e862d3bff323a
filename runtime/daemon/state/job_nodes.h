/* SPDX-License-Identifier: BSD-3-Clause */
/* Jobs on several nodes. */
#ifndef RUNTIME_DAEMON_STATE_JOB_NODES_H
#define RUNTIME_DAEMON_STATE_JOB_NODES_H

#include "runtime/daemon/state/job.h"

bool scribe_node_parts_job(const struct scribe_job *job);
/* Can other nodes have a part of the unit's log? */
bool scribe_node_parts_unit(const struct scribe_job *job, const struct scribe_log_unit *u);
/* The key includes a process of this node, so that it exists on this node only. */
bool scribe_is_local_world(const char *key);

#endif
