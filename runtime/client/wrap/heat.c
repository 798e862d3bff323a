/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Bytes over time for operations outside of the current bin. Tables in shared memory belong to their shard; a
 * reused slot clears them. Must not know: which calls exist.
 */
#include "runtime/client/wrap/heat.h"

#include <string.h>

static struct scribe_heat_table *table_of(struct scribe_shm_counters *m, const struct scribe_heat *h)
{
	return h->table && h->table <= SCRIBE_STREAM_HEATS ? &m->heat[h->table - 1] : NULL;
}

/* If one is free. */
static void make_table(struct scribe_shm_counters *m, struct scribe_heat *h, uint64_t base)
{
	uint32_t index;

	if (__atomic_load_n(&m->heats, __ATOMIC_RELAXED) >= SCRIBE_STREAM_HEATS)
		return;
	index = __atomic_fetch_add(&m->heats, 1, __ATOMIC_RELAXED);
	if (index >= SCRIBE_STREAM_HEATS)
		return;
	m->heat[index].base_ns = base;
	h->table = index + 1;
}

static void move(struct scribe_shm_counters *m, struct scribe_heat *h, const struct scribe_lib_op *op)
{
	uint64_t base = m->heat_base_ns ? m->heat_base_ns : m->made_ns;
	struct scribe_heat_table *t;

	if (!h->table && scribe_heat_wants_table(h, base, op->start_ns, op->end_ns))
		make_table(m, h, base);
	t = table_of(m, h);
	scribe_heat_move(h, t, t ? t->base_ns : base, op->start_ns, op->end_ns, op->bytes, op->op_class);
}

void scribe_stream_heat_far(struct scribe_shm_counters *m, struct scribe_counter_slot *s, enum scribe_stream_shard i,
			    const struct scribe_lib_op *op)
{
	struct scribe_heat *h = &s->heat[i];

	if (i == SCRIBE_SHARD_SHARED && __atomic_exchange_n(&h->lock, 1, __ATOMIC_ACQUIRE)) {
		/*
		 * A try-lock, so that nothing waits: bytes in `spill` are later spread over the shard's time.
		 */
		__atomic_fetch_add(&h->spill[op->op_class & 1], op->bytes, __ATOMIC_RELAXED);
		return;
	}
	move(m, h, op);
	if (i == SCRIBE_SHARD_SHARED)
		__atomic_store_n(&h->lock, 0, __ATOMIC_RELEASE);
}

/* Before the slot is announced. */
void scribe_stream_heat_begin(struct scribe_shm_counters *m, struct scribe_counter_slot *s)
{
	const uint64_t base = m->heat_base_ns ? m->heat_base_ns : m->made_ns;

	for (int i = 0; i < SCRIBE_STREAM_SHARDS; i++) {
		const struct scribe_heat h = {.table = s->heat[i].table};
		struct scribe_heat_table *t = table_of(m, &h);

		s->heat[i] = h;
		if (t)
			memset(t, 0, sizeof(*t));
		if (t)
			t->base_ns = base;
	}
}
