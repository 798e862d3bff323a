// SPDX-License-Identifier: BSD-3-Clause
/* See shm_memory.h. Must not know what is counted there. */
#include "runtime/daemon/collect/shm_memory.h"

#include <stddef.h>
#include <unistd.h>

bool scribe_shm_read(const struct scribe_memory *m, size_t at, void *to, size_t bytes)
{
	return pread(m->fd, to, bytes, (off_t)at) == (ssize_t)bytes;
}

bool scribe_shm_segments_wanted(const struct scribe_job *w)
{
	const struct scribe_job_entry *job = w->daemon->bpf ? scribe_bpf_job(w->daemon->bpf, w->index) : NULL;

	return w->segments || (job && job->flags & SCRIBE_JF_SEGMENTS);
}

void scribe_shm_segments_say(const struct scribe_memory *m)
{
	const uint32_t wish =
		scribe_shm_segments_wanted(m->process->work) ? SCRIBE_SEGMENTS_WANTED : SCRIBE_SEGMENTS_UNWANTED;

	if (m->fd < 0)
		return;
	/* should it fail, the program fills rings that nobody reads */
	(void)!pwrite(m->fd, &wish, sizeof(wish), (off_t)offsetof(struct scribe_shm_counters, segments));
}

void scribe_shm_segments_wish(const struct scribe_job *w)
{
	for (const struct scribe_memory *m = w->daemon->memories; m; m = m->after)
		if (m->process->work == w)
			scribe_shm_segments_say(m);
}
