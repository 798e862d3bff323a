// SPDX-License-Identifier: BSD-3-Clause
/*
 * Is a unit's log made of parts of several nodes? See job_nodes.h. Pure functions of the job's
 * specification and the unit. Main thread of the daemon.
 */
#include "runtime/daemon/state/job_nodes.h"

#include <string.h>

bool scribe_node_parts_job(const struct scribe_job *job)
{
	return job->spec.nodes > 1;
}

/*
 * Keys that name a process of this node (mpi_worlds.c, world_key): other nodes cannot have ranks of
 * such a world.
 */
bool scribe_is_local_world(const char *key)
{
	return !strncmp(key, "launcher:", 9) || !strncmp(key, "process:", 8) || !strncmp(key, "single:", 7);
}

/*
 * The rest of the job is on all nodes. A world that has all its ranks here is complete without the
 * others.
 */
bool scribe_node_parts_unit(const struct scribe_job *job, const struct scribe_log_unit *u)
{
	if (!scribe_node_parts_job(job))
		return false;
	/* logs with one name in common are numbered by whoever makes them all */
	if (!u->id || job->config.log_file[0])
		return true;
	return !scribe_is_local_world(u->key) && (u->nprocs <= 0 || u->ranks.used < (size_t)u->nprocs);
}
