// SPDX-License-Identifier: BSD-3-Clause
/*
 * Rings of operations, one producer (a thread) and one consumer (the daemon) each: `put` is released after the
 * segment. A ring belongs to a thread's address; a later thread there continues it. No lock, no system call.
 * Must not know: files, MPI.
 */
#include "runtime/client/wrap/segments.h"

#define ASK_EVERY (SCRIBE_SHM_RING_SEGMENTS / 4)

static __thread struct {
	uint64_t born;
	struct scribe_shm_ring *ring; /* NULL: none left */
} mine __attribute__((tls_model("initial-exec")));

static struct scribe_shm_ring *claim(struct scribe_shm_counters *m, uint64_t thread)
{
	for (uint32_t i = 0; i < SCRIBE_SHM_RINGS; i++) {
		uint64_t owner = 0;

		/* Compare and exchange, because threads compete. Rings are never freed. */
		if (__atomic_compare_exchange_n(&m->ring[i].owner, &owner, thread, false, __ATOMIC_ACQ_REL,
						__ATOMIC_ACQUIRE) ||
		    owner == thread)
			return &m->ring[i];
	}
	return NULL;
}

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
		/* Full: never wait for the daemon. */
		return false;
	}
	m->segment[r - m->ring][r->put % SCRIBE_SHM_RING_SEGMENTS] = *segment;
	__atomic_store_n(&r->put, r->put + 1, __ATOMIC_RELEASE);
	/* At every quarter of the ring. */
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
