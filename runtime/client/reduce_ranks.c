/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reduces the shared records to rank 0, in batches of bounded size: one message
 * holds elements of several modules. The rules are logfmt/reduce.h's.
 */
#include <string.h>

#include "logfmt/reduce.h"
#include "runtime/client/final.h"

#define BATCH_BYTES (512 * 1024)

/* Elements of one module within a batch. */
struct segment {
	int module;
	size_t n;
};

/* MPI gives a reduction no context: the layout of the batch under way. */
static struct segment segments[SCRIBE_MAX_MODULES];
static size_t nsegments;

static void combine(const void *in, void *inout, size_t bytes)
{
	const char *from = in;
	char *to = inout;

	(void)bytes;
	for (size_t s = 0; s < nsegments; s++) {
		size_t step = scribe_redux_bytes(segments[s].module);

		for (size_t i = 0; i < segments[s].n; i++, from += step, to += step)
			scribe_redux_join(segments[s].module, to, from);
	}
}

/* Where the walk over all shared records stands. */
struct walk {
	int module;
	size_t root; /* index among rank 0's ids of the module */
};

/* The next shared record; false at the end. All ranks walk alike. */
static bool next_shared(const struct scribe_final *f, struct walk *w)
{
	for (; w->module < SCRIBE_MAX_MODULES; w->module++, w->root = 0) {
		const struct scribe_final_module *m = &f->module[w->module];

		if (!m->shared)
			continue;
		for (; w->root < m->root_n; w->root++)
			if (m->shared[w->root])
				return true;
	}
	return false;
}

static const char *own_record(const struct scribe_final_module *m, uint64_t id)
{
	size_t low = 0, high = m->mine.n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (m->places[mid].id < id)
			low = mid + 1;
		else
			high = mid;
	}
	return m->mine.records + m->places[low].at * m->mine.module->record_bytes;
}

/* Put elements of the records from `w` on into `batch`; returns the bytes used. */
static size_t fill(const struct scribe_final *f, struct walk *w, char *batch, char *record)
{
	size_t used = 0;

	nsegments = 0;
	while (next_shared(f, w)) {
		const struct scribe_final_module *m = &f->module[w->module];
		size_t step = scribe_redux_bytes(w->module);

		if (used + step > BATCH_BYTES)
			break;
		if (!nsegments || segments[nsegments - 1].module != w->module)
			segments[nsegments++] = (struct segment){w->module, 0};
		segments[nsegments - 1].n++;
		memcpy(record, own_record(m, m->root_ids[w->root]), m->mine.module->record_bytes);
		scribe_redux_begin(w->module, record, batch + used);
		used += step;
		w->root++;
	}
	return used;
}

/* Rank 0: make records of a reduced batch. */
static void keep(struct scribe_final *f, const char *batch)
{
	for (size_t s = 0; s < nsegments; s++) {
		struct scribe_final_module *m = &f->module[segments[s].module];

		for (size_t i = 0; i < segments[s].n; i++) {
			scribe_redux_end(segments[s].module, batch,
					 m->reduced + m->nreduced++ * m->mine.module->record_bytes);
			batch += scribe_redux_bytes(segments[s].module);
		}
	}
}

/* Room on rank 0 for the shared records, and how long the longest record is. */
static int make_room(struct scribe_final *f, size_t *ret_longest)
{
	size_t longest = 0;

	for (int i = 0; i < SCRIBE_MAX_MODULES; i++) {
		struct scribe_final_module *m = &f->module[i];
		size_t n = 0;

		if (!m->shared)
			continue;
		for (size_t r = 0; r < m->root_n; r++)
			n += m->shared[r] != 0;
		if (m->mine.module->record_bytes > longest)
			longest = m->mine.module->record_bytes;
		if (f->rank != 0 || !n)
			continue;
		m->reduced = scribe_coll_alloc(&f->coll, n * m->mine.module->record_bytes);
		if (!m->reduced)
			return -1;
	}
	*ret_longest = longest;
	return 0;
}

void scribe_final_reduce(struct scribe_final *f)
{
	struct walk w = {0, 0};
	char *in, *out, *record;
	size_t longest = 0, bytes;

	if (f->coll.broken || f->failed_any || !next_shared(f, &w))
		return;
	in = scribe_coll_alloc(&f->coll, BATCH_BYTES);
	out = scribe_coll_alloc(&f->coll, BATCH_BYTES);
	if (!in || !out || make_room(f, &longest) < 0 || !(record = scribe_coll_alloc(&f->coll, longest))) {
		f->coll.broken = true;
		return;
	}
	while ((bytes = fill(f, &w, in, record)) > 0) {
		if (scribe_coll_reduce(&f->coll, in, out, bytes, combine) < 0)
			return;
		if (f->rank == 0)
			keep(f, out);
	}
}
