// SPDX-License-Identifier: BSD-3-Clause
/*
 * Mapping and reading of a memory, and the flag by which programs send single operations. Must not know
 * what is counted.
 */
#include "runtime/daemon/programs/shm_memory.h"

#include <stddef.h>
#include <sys/mman.h>
#include <unistd.h>

bool scribe_shm_open(struct scribe_memory *m, int fd, uint64_t made_ns)
{
	struct scribe_shm_counters *map = mmap(NULL, sizeof(*map), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (map == MAP_FAILED)
		return false;
	/* forked copies do not need it */
	(void)madvise(map, sizeof(*map), MADV_DONTFORK);
	m->map = map;
	m->fd = fd;
	m->made_ns = made_ns;
	return true;
}

void scribe_shm_close(struct scribe_memory *m)
{
	if (m->fd < 0)
		return;
	munmap(m->map, sizeof(*m->map));
	close(m->fd);
	m->map = NULL;
	m->fd = -1;
}

bool scribe_shm_read(const struct scribe_memory *m, size_t at, void *to, size_t bytes)
{
	return pread(m->fd, to, bytes, (off_t)at) == (ssize_t)bytes;
}

bool scribe_shm_segments_wanted(const struct scribe_job *job)
{
	const struct scribe_job_entry *entry = job->daemon->bpf ? scribe_bpf_job(job->daemon->bpf, job->index) : NULL;

	return scribe_job_has_dxt(job) || (entry && entry->flags & SCRIBE_JF_SEGMENTS);
}

void scribe_shm_segments_set_wanted(const struct scribe_memory *m)
{
	const struct scribe_job *job = m->process->job;
	const uint32_t wish = job->publishing                   ? SCRIBE_SEGMENTS_STREAMS_TOO
			      : scribe_shm_segments_wanted(job) ? SCRIBE_SEGMENTS_WANTED
								: SCRIBE_SEGMENTS_UNWANTED;

	if (m->fd < 0)
		return;
	/* programs read it at each call; a call in progress may use the old value */
	__atomic_store_n(&m->map->segments, wish, __ATOMIC_RELEASE);
}

void scribe_shm_segments_wish(const struct scribe_job *job)
{
	for (const struct scribe_memory *m = job->daemon->memories; m; m = m->after)
		if (m->process->job == job)
			scribe_shm_segments_set_wanted(m);
}
