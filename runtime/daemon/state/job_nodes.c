// SPDX-License-Identifier: BSD-3-Clause
/* Whether a unit's log has parts on several nodes: functions of job and unit, without state. */
#include "runtime/daemon/state/job_nodes.h"

#include <string.h>

bool scribe_node_parts_job(const struct scribe_job *job)
{
	return job->spec.nodes > 1;
}

bool scribe_is_local_world(const char *key)
{
	/* these keys name a process of this node (world_key in mpi_worlds.c) */
	return !strncmp(key, "launcher:", 9) || !strncmp(key, "process:", 8) || !strncmp(key, "single:", 7);
}

bool scribe_node_parts_unit(const struct scribe_job *job, const struct scribe_log_unit *u)
{
	if (!scribe_node_parts_job(job))
		return false;
	/* the rest of the job is on all nodes; logs with one file name must be numbered by one writer */
	if (!u->id || job->config.log_file[0])
		return true;
	/* a world of which all ranks are here is complete without other nodes */
	return !scribe_is_local_world(u->key) && (u->nprocs <= 0 || u->ranks.used < (size_t)u->nprocs);
}
