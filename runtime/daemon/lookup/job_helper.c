// SPDX-License-Identifier: BSD-3-Clause
/*
 * Starting a job's helpers with the right identity; see job_helper.h. The job's own helper writes
 * its logs; others are owned by their callers. Main thread of the daemon. Must not know what
 * helpers are asked.
 */
#include "runtime/daemon/lookup/job_helper.h"

#include <stdio.h>

int scribe_job_start_helper(const struct scribe_job *job, struct scribe_helper *ret_helper, struct scribe_err *err)
{
	const struct scribe_config *c = &job->config;

	/* the name that a user gives gets him no groups */
	return scribe_helper_start(ret_helper, c->uid, c->gid, c->locked ? "" : c->user, err);
}

/*
 * With the root directory of `ioscribe run`: in a container its paths lead elsewhere. The start
 * time proves that it is still the same process.
 */
int scribe_job_start_writer(const struct scribe_job *job, struct scribe_helper *ret_helper, struct scribe_err *err)
{
	const struct scribe_config *c = &job->config;
	struct scribe_helper_wanted who = {
		.uid = c->uid, .gid = c->gid, .root_of = job->client_pid, .root_of_ticks = job->client_ticks};

	if (!job->daemon || !job->daemon->service || !who.root_of)
		return scribe_job_start_helper(job, ret_helper, err);
	if (!c->locked)
		snprintf(who.user, sizeof(who.user), "%s", c->user);
	return scribe_helper_start_as(ret_helper, &who, err);
}

int scribe_job_helper(struct scribe_job *job, struct scribe_err *err)
{
	int rc = job->helper.sock >= 0 ? 0 : scribe_job_start_writer(job, &job->helper, err);

	/* of a command's own daemon: who has not the power to is told before CMD runs */
	return rc < 0 || !job->daemon || job->daemon->service ? rc : scribe_helper_meet(&job->helper, err);
}

int scribe_job_new_helper(struct scribe_job *job, struct scribe_err *err)
{
	scribe_helper_stop(&job->helper);
	return scribe_job_helper(job, err);
}
