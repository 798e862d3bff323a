// SPDX-License-Identifier: BSD-3-Clause
/* The list of a job's written logs, an array owned by the job. */
#include "runtime/daemon/state/job_messages.h"

#include <stdlib.h>
#include <string.h>

struct scribe_msg_log *scribe_commit_message(struct scribe_job *job)
{
	if (job->logs == job->logs_capacity) {
		size_t capacity = job->logs_capacity ? job->logs_capacity * 2 : 4;
		/* may move the array: pointers returned earlier become invalid */
		struct scribe_msg_log *more = realloc(job->log, capacity * sizeof(*more));

		if (!more)
			return NULL;
		job->log = more;
		job->logs_capacity = capacity;
	}
	memset(&job->log[job->logs], 0, sizeof(*job->log));
	return &job->log[job->logs++];
}
