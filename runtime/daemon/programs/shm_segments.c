// SPDX-License-Identifier: BSD-3-Clause
/*
 * Rings of single operations: a program's threads write, the daemon reads and advances `taken`. Values are
 * limited to possible ones. Must not know logs.
 */
#include "runtime/daemon/programs/shm_segments.h"

#include <stddef.h>
#include <unistd.h>

#include "logfmt/base/clock.h"
#include "runtime/daemon/state/receivers.h"
#include "runtime/daemon/tables/held_events.h"

/* per pread() */
#define AT_ONCE   256
#define LOST_MOST (1ull << 32) /* accepted per read */

static void count_lost(struct scribe_job *job, uint64_t n)
{
	job->losses.rings += n < LOST_MOST ? n : LOST_MOST;
}

void scribe_shm_segments_attach(struct scribe_memory *m)
{
	struct scribe_shm_ring ring[SCRIBE_SHM_RINGS];

	scribe_shm_segments_set_wanted(m);
	scribe_receivers_urgent(m->process->job); /* many operations at a program's start */
	if (!scribe_shm_read(m, offsetof(struct scribe_shm_counters, ring), ring, sizeof(ring)))
		return;
	for (uint32_t i = 0; i < SCRIBE_SHM_RINGS; i++)
		m->ring[i].taken = ring[i].taken;
}

static void store(struct scribe_memory *m, const struct scribe_shm_entry *at, struct scribe_segment *s)
{
	struct scribe_job *job = m->process->job;

	if (s->start_ns < job->begun_ns)
		return;
	if (at->file || at->slot)
		scribe_receivers_receive(job, s, 0);
	else
		scribe_receivers_standard(m->process, at->generation - 1, s);
}

/* Limits values. Starts of a file's operations increase within a ring, which packing relies on. */
static struct scribe_segment sane(const struct scribe_shm_segment *from, struct scribe_shm_reader *r, bool file,
				  uint64_t born, uint64_t now)
{
	static const uint8_t ops[] = {[SCRIBE_OP_READ] = SCRIBE_SEGMENT_LIB_READ,
				      [SCRIBE_OP_WRITE] = SCRIBE_SEGMENT_LIB_WRITE,
				      [SCRIBE_SHM_OP_OPEN] = SCRIBE_SEGMENT_OPEN,
				      [SCRIBE_SHM_OP_FLUSH] = SCRIBE_SEGMENT_FLUSH};
	struct scribe_segment s = {.offset = from->offset,
				   .bytes = from->bytes < SCRIBE_CALL_BYTES ? from->bytes : SCRIBE_CALL_BYTES,
				   .start_ns = from->start_ns,
				   .end_ns = from->end_ns,
				   .op = file ? from->op & 1 : ops[from->op & 3]};

	if (s.offset < 0 || s.offset > INT64_MAX - (int64_t)s.bytes)
		s.offset = -1;
	if (s.start_ns < born)
		s.start_ns = born;
	if (file && s.start_ns < r->last_ns)
		s.start_ns = r->last_ns;
	if (s.start_ns > now)
		s.start_ns = now;
	if (s.end_ns < s.start_ns)
		s.end_ns = s.start_ns;
	if (s.end_ns > now)
		s.end_ns = now;
	if (file)
		r->last_ns = s.start_ns;
	return s;
}

/* Can the event for the index still be in the ring? */
static bool is_on_the_way(const struct scribe_job *job, struct scribe_shm_reader *r, bool last)
{
	const struct scribe_daemon *d = job->daemon;

	if (last || !d->bpf)
		return false;
	if (r->unknown == r->taken + 1)
		return scribe_held_taken(job) < r->unknown_at;
	r->unknown = r->taken + 1;
	r->unknown_at = scribe_bpf_put(d->bpf);
	return true;
}

/*
 * An index that is never reported is of an excluded file or a pipe, unless the kernel lost something. Computed once
 * per read.
 */
static bool may_be_missed(const struct scribe_job *job, struct scribe_shm_reader *r, uint64_t now)
{
	static const int losses[] = {SCRIBE_L_EVENT_LOST,   SCRIBE_L_LIB_DROPPED,  SCRIBE_L_LIB_UNKNOWN,
				     SCRIBE_L_DROP_NO_SLOT, SCRIBE_L_DROP_NO_PROC, SCRIBE_L_DROP_STORAGE};
	struct scribe_ledger ledger = {0};

	if (r->judged_ns == now)
		return r->missed;
	r->judged_ns = now;
	r->missed = !job->daemon->bpf || scribe_bpf_ledger(job->daemon->bpf, job->index, &ledger) < 0;
	for (size_t i = 0; i < sizeof(losses) / sizeof(losses[0]); i++)
		r->missed |= ledger.v[losses[i]] != 0;
	return r->missed;
}

/* False: wait for an event. */
static bool take_one(struct scribe_memory *m, struct scribe_shm_reader *r, const struct scribe_shm_segment *from,
		     uint64_t now, bool last)
{
	const struct scribe_shm_entry *at = from->entry < m->nplaces ? &m->entry[from->entry] : NULL;
	struct scribe_segment s;

	if (at && at->gen == from->gen) {
		s = sane(from, r, at->file, m->process->start_ns, now);
		s.slot = at->slot;
		s.generation = at->generation;
		store(m, at, &s);
	} else if (is_on_the_way(m->process->job, r, last)) {
		return false;
	} else if (may_be_missed(m->process->job, r, now)) {
		count_lost(m->process->job, 1);
	}
	r->taken++;
	return true;
}

static void take_ring(struct scribe_memory *m, uint32_t i, uint64_t put, bool last)
{
	struct scribe_shm_segment part[AT_ONCE];
	struct scribe_shm_reader *r = &m->ring[i];
	const uint64_t now = scribe_now_ns();

	/* impossible: the program has overwritten the ring's state */
	if (put - r->taken > SCRIBE_SHM_RING_SEGMENTS) {
		count_lost(m->process->job, 1);
		r->taken = put;
	}
	if (put - r->taken > SCRIBE_SHM_RING_SEGMENTS / 32)
		scribe_receivers_urgent(m->process->job);
	while (r->taken != put) {
		const uint64_t at = r->taken % SCRIBE_SHM_RING_SEGMENTS;
		uint64_t n = SCRIBE_SHM_RING_SEGMENTS - at, k = 0;

		n = n < put - r->taken ? n : put - r->taken;
		n = n < AT_ONCE ? n : AT_ONCE;
		if (!scribe_shm_read(m,
				     offsetof(struct scribe_shm_counters, segment) +
					     (i * SCRIBE_SHM_RING_SEGMENTS + at) * sizeof(*part),
				     part, n * sizeof(*part)))
			break;
		while (k < n && take_one(m, r, &part[k], now, last))
			k++;
		/* keeps the order: the next read continues with this segment */
		if (k < n)
			break;
	}
	__atomic_store_n(&m->map->ring[i].taken, r->taken, __ATOMIC_RELEASE);
}

void scribe_shm_segments_take(struct scribe_memory *m, bool last)
{
	struct scribe_shm_ring ring[SCRIBE_SHM_RINGS];
	uint32_t unringed;

	if (m->fd < 0 || !scribe_shm_segments_wanted(m->process->job) ||
	    !scribe_shm_read(m, offsetof(struct scribe_shm_counters, ring), ring, sizeof(ring)) ||
	    !scribe_shm_read(m, offsetof(struct scribe_shm_counters, unringed), &unringed, sizeof(unringed)))
		return;
	for (uint32_t i = 0; i < SCRIBE_SHM_RINGS; i++) {
		struct scribe_shm_reader *r = &m->ring[i];

		if (ring[i].put != r->taken)
			take_ring(m, i, ring[i].put, last);
		/* the program's own counts: ring full, or no ring */
		if (ring[i].lost > r->lost) {
			count_lost(m->process->job, ring[i].lost - r->lost);
			r->lost = ring[i].lost;
		}
	}
	if (unringed > m->unringed) {
		count_lost(m->process->job, unringed - m->unringed);
		m->unringed = unringed;
	}
}

void scribe_shm_segments_take_all(struct scribe_daemon *d)
{
	for (struct scribe_memory *m = d->memories; m; m = m->after)
		scribe_shm_segments_take(m, false);
}
