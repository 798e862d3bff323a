// SPDX-License-Identifier: BSD-3-Clause
/*
 * Rings of operations: claimed by threads, written. A ring stays with its thread's word, so that a
 * thread that comes at the address of one that is gone goes on with its ring. No lock, no system
 * call, and nobody is waited for. Must not know: files, MPI. One producer a ring (its thread) and
 * one consumer (the daemon): `put` is stored with release after the segment, `taken` is the
 * daemon's. Runs on the traced program's threads.
 */
#include "runtime/client/wrap/segments.h"

/* The daemon is woken when a quarter of the ring waits. */
#define ASK_EVERY (SCRIBE_SHM_RING_SEGMENTS / 4)

/* Of this thread: its ring, and the process that it is in. */
static __thread struct {
	uint64_t born;
	struct scribe_shm_ring *ring; /* NULL: there is none left */
} mine __attribute__((tls_model("initial-exec")));

/* Compare-and-exchange: of two threads one gets the ring. It is never given back. */
static struct scribe_shm_ring *claim(struct scribe_shm_counters *m, uint64_t thread)
{
	for (uint32_t i = 0; i < SCRIBE_SHM_RINGS; i++) {
		uint64_t owner = 0;

		if (__atomic_compare_exchange_n(&m->ring[i].owner, &owner, thread, false, __ATOMIC_ACQ_REL,
						__ATOMIC_ACQUIRE) ||
		    owner == thread)
			return &m->ring[i];
	}
	return NULL;
}

/* True: the daemon is to be woken. A full ring loses the segment and counts it. */
bool scribe_segment_put(struct scribe_shm_counters *m, uint64_t born, const struct scribe_shm_segment *segment)
{
	struct scribe_shm_ring *r;
	uint64_t waiting;

	if (mine.born != born) {
		mine.ring = claim(m, (uint64_t)(uintptr_t)&mine);
		mine.born = born;
	}
	r = mine.ring;
	if (!r) {
		__atomic_fetch_add(&m->unringed, 1, __ATOMIC_RELAXED);
		return false;
	}
	waiting = r->put - __atomic_load_n(&r->taken, __ATOMIC_ACQUIRE);
	if (waiting >= SCRIBE_SHM_RING_SEGMENTS) {
		r->lost++;
		return false;
	}
	m->segment[r - m->ring][r->put % SCRIBE_SHM_RING_SEGMENTS] = *segment;
	__atomic_store_n(&r->put, r->put + 1, __ATOMIC_RELEASE);
	return waiting + 1 >= ASK_EVERY && r->put % ASK_EVERY == 0;
}

void scribe_segment_put_stream(struct scribe_shm_counters *m, uint64_t born, const struct scribe_counter_slot *s,
			       const struct scribe_lib_op *op)
{
	const uint32_t index = (uint32_t)(s - m->stream);
	struct scribe_shm_segment segment = {.offset = op->offset,
					     .bytes = op->bytes,
					     .start_ns = op->start_ns,
					     .end_ns = op->end_ns,
					     .entry = index,
					     .gen = m->gen[index],
					     .op = SCRIBE_SHM_OP_OPEN};

	if (op->what == SCRIBE_LIB_SEEK)
		return;
	if (op->what == SCRIBE_LIB_DATA)
		segment.op = op->op_class;
	else if (op->what == SCRIBE_LIB_FLUSH)
		segment.op = SCRIBE_SHM_OP_FLUSH;
	(void)scribe_segment_put(m, born, &segment);
}
