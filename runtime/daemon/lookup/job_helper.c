// SPDX-License-Identifier: BSD-3-Clause
/* Starts helpers. The job owns its writer, callers the others. Must not know requests. */
#include "runtime/daemon/lookup/job_helper.h"

#include <stdio.h>

#include "runtime/daemon/base/event_loop.h"

int scribe_job_start_helper(const struct scribe_job *job, struct scribe_helper *ret_helper, struct scribe_err *err)
{
	const struct scribe_config *c = &job->config;

	/* a user name set by the user must not add that name's groups */
	return scribe_helper_start(ret_helper, c->uid, c->gid, c->locked ? "" : c->user, err);
}

int scribe_job_start_writer(const struct scribe_job *job, struct scribe_helper *ret_helper, struct scribe_err *err)
{
	const struct scribe_config *c = &job->config;
	/* in a container paths differ */
	struct scribe_helper_wanted who = {
		.uid = c->uid, .gid = c->gid, .root_of = job->client.pid, .root_of_ticks = job->client.ticks};

	if (!job->daemon || !job->daemon->service || !who.root_of)
		return scribe_job_start_helper(job, ret_helper, err);
	if (!c->locked)
		snprintf(who.user, sizeof(who.user), "%s", c->user);
	return scribe_helper_start_as(ret_helper, &who, err);
}

int scribe_job_helper(struct scribe_job *job, struct scribe_err *err)
{
	const bool is_new = job->helper.sock < 0;
	int rc = is_new ? scribe_job_start_writer(job, &job->helper, err) : 0;

	if (is_new && rc == 0 && job->daemon)
		(void)scribe_watch_edge(job->daemon->epoll, job->helper.sock, &job->daemon->bpf); /* wakes the loop */
	/* a private daemon reports missing privileges before CMD runs */
	return rc < 0 || !job->daemon || job->daemon->service ? rc : scribe_helper_meet(&job->helper, err);
}

int scribe_job_new_helper(struct scribe_job *job, struct scribe_err *err)
{
	scribe_helper_stop(&job->helper);
	return scribe_job_helper(job, err);
}
