// SPDX-License-Identifier: BSD-3-Clause
/*
 * The list of a job's written logs; see job_messages.h. The array belongs to the job and may move
 * when it grows: a returned pointer is valid until the next call. Main thread of the daemon.
 */
#include "runtime/daemon/state/job_messages.h"

#include <stdlib.h>
#include <string.h>

struct scribe_msg_log *scribe_commit_message(struct scribe_job *job)
{
	if (job->logs == job->logs_room) {
		size_t room = job->logs_room ? job->logs_room * 2 : 4;
		struct scribe_msg_log *more = realloc(job->log, room * sizeof(*more));

		if (!more)
			return NULL;
		job->log = more;
		job->logs_room = room;
	}
	memset(&job->log[job->logs], 0, sizeof(*job->log));
	return &job->log[job->logs++];
}
