// SPDX-License-Identifier: BSD-3-Clause
/* Held events by job, in order. The job owns the list. */
#include "runtime/daemon/tables/held_events.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/daemon/journal/job_journal.h"

static size_t size_of(const struct scribe_event *e)
{
	return sizeof(struct scribe_held_event) + e->text_bytes;
}

int scribe_held_restore(struct scribe_job *job, uint64_t begin, uint64_t end, const struct scribe_event *e,
			const char *text)
{
	struct scribe_held_events *held = &job->held;
	size_t bytes = size_of(e);
	struct scribe_held_event *h;

	if (held->bytes + bytes > SCRIBE_HELD_BYTES_MAX || job->daemon->held_bytes + bytes > SCRIBE_HELD_BYTES_ALL_MAX)
		return -ENOBUFS;
	h = malloc(bytes);
	if (!h)
		return -ENOBUFS;
	h->next = NULL;
	h->begin = begin;
	h->end = end;
	/* copied, because the ring's memory is reused */
	h->event = *e;
	memcpy(h->text, text, e->text_bytes);
	if (held->last)
		held->last->next = h;
	else
		held->first = h;
	held->last = h;
	held->bytes += bytes;
	job->daemon->held_bytes += bytes;
	return 0;
}

int scribe_held_put(struct scribe_job *job, const struct scribe_event *e, const char *text)
{
	const struct scribe_bpf *b = job->daemon->bpf;
	const uint64_t begin = scribe_bpf_taken(b), end = scribe_bpf_position(b);
	int rc = scribe_held_restore(job, begin, end, e, text);

	/* Before the ring's space is freed, so that the next daemon finds the event in the journal. */
	if (rc == 0)
		scribe_job_journal_held(job, begin, end, e, text);
	return rc;
}

void scribe_held_drop(struct scribe_job *job)
{
	struct scribe_held_event *h = job->held.first;
	size_t bytes = size_of(&h->event);

	job->held.first = h->next;
	if (!h->next)
		job->held.last = NULL;
	job->held.bytes -= bytes;
	job->daemon->held_bytes -= bytes;
	free(h);
}

void scribe_held_clear(struct scribe_job *job)
{
	while (job->held.first)
		scribe_held_drop(job);
}

uint64_t scribe_held_taken(const struct scribe_job *job)
{
	return job->held.first ? job->held.first->begin : scribe_bpf_taken(job->daemon->bpf);
}

uint64_t scribe_held_taken_of(const struct scribe_daemon *d, uid_t uid)
{
	uint64_t taken = scribe_bpf_taken(d->bpf);

	for (const struct scribe_job *job = d->jobs; job; job = job->next)
		if (job->held.first && job->config.uid == uid && job->held.first->begin < taken)
			taken = job->held.first->begin;
	return taken;
}
