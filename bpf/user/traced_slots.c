// SPDX-License-Identifier: BSD-3-Clause
/*
 * Switches segments for a running job: new records by its entry, existing ones after all programs that may have
 * read the old entry have ended; a thread waits for that. Otherwise main thread. Must not know what segments
 * are for.
 */
#include <errno.h>
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "bpf/user/load_private.h"

#define SETTLE_NAP_NS 200000000 /* without membarrier: much longer than any program runs */

static void settle(void)
{
	const struct timespec nap = {.tv_nsec = SETTLE_NAP_NS};

	/* Returns when all programs that ran before have ended: 10 to 60 ms. */
	if (syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0))
		nanosleep(&nap, NULL);
}

/* One wait at a time; it outlives the caller. */
static bool asked, settled;

static void *settle_aside(void *arg)
{
	(void)arg;
	settle();
	__atomic_store_n(&settled, true, __ATOMIC_RELEASE);
	return NULL;
}

bool scribe_bpf_sync_done(void)
{
	/* Acquire: programs that start after it have read the new entry. */
	return __atomic_load_n(&settled, __ATOMIC_ACQUIRE);
}

bool scribe_bpf_sync_begin(void)
{
	pthread_t thread;

	if (asked && !scribe_bpf_sync_done())
		return false;
	asked = true;
	settled = false;
	if (scribe_thread_start(&thread, settle_aside, NULL) == 0)
		pthread_detach(thread);
	else
		settle_aside(NULL);
	return true;
}

static void mark(struct scribe_slot *s, uint32_t flags, bool on)
{
	/* Of library records only MPI-IO's have reads and writes. */
	if (!(SCRIBE_TRACED_KINDS >> (s->kind & 31) & 1))
		flags &= ~(uint32_t)SCRIBE_SF_TRACED;
	if (!(SCRIBE_OPENS_KINDS >> (s->kind & 31) & 1))
		flags &= ~(uint32_t)SCRIBE_SF_OPENS;
	if (!flags)
		return;
	if (on)
		__atomic_fetch_or(&s->flags, flags, __ATOMIC_RELAXED);
	else
		__atomic_fetch_and(&s->flags, ~flags, __ATOMIC_RELAXED);
}

void scribe_bpf_trace_job(struct scribe_bpf *b, uint32_t job, uint32_t flags, bool on)
{
	struct scribe_job_entry *entry = scribe_bpf_job(b, job);

	if (entry && on)
		__atomic_fetch_or(&entry->flags, flags, __ATOMIC_SEQ_CST);
	else if (entry)
		__atomic_fetch_and(&entry->flags, ~flags, __ATOMIC_SEQ_CST);
}

void scribe_bpf_trace_slots(struct scribe_bpf *b, uint32_t job, uint32_t flags, bool on)
{
	for (uint32_t i = 1; i < b->procs.entries; i++) {
		const struct scribe_proc *p = scribe_bpf_proc(b, i);
		struct scribe_slot *s;

		if (!p->proc_id || p->job != job)
			continue;
		for (uint32_t at = __atomic_load_n(&p->head, __ATOMIC_ACQUIRE); at; at = scribe_slot_next(s)) {
			s = scribe_bpf_slot(b, at);
			/* Freed and reused: the rest is another process's list. */
			if (!s || s->proc_id != p->proc_id)
				break;
			mark(s, flags, on);
		}
	}
}
