/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reduces shared records to rank 0 by logfmt/records/reduce.h, in batches with elements of several modules. All
 * ranks walk in the order of ids, so element i is the same file everywhere. Runs in MPI_Finalize; memory:
 * coll.c.
 */
#include <string.h>

#include "logfmt/records/reduce.h"
#include "runtime/client/mpi/final.h"

/* Limits memory and message size. */
#define BATCH_BYTES (512 * 1024)

/* Elements of a module in a batch. */
struct segment {
	int64_t module, n;
};

/* Contains its layout, equal on all ranks, because MPI gives reductions no context. */
struct batch {
	int64_t nsegments;
	struct segment segment[SCRIBE_MAX_MODULES];
	char elems[];
};

/* Called by MPI. */
static void combine(const void *in, void *inout, size_t bytes)
{
	const struct batch *other = in;
	struct batch *b = inout;
	const char *from = other->elems;
	char *to = b->elems;

	(void)bytes;
	for (int64_t s = 0; s < b->nsegments; s++) {
		int module = (int)b->segment[s].module;
		size_t step = scribe_reduction_bytes(module);

		for (int64_t i = 0; i < b->segment[s].n; i++, from += step, to += step)
			scribe_reduction_join(module, to, from);
	}
}

struct walk {
	int module;
	size_t place; /* within the module */
};

/* False: end. */
static bool next_shared(const struct scribe_final *f, struct walk *w)
{
	for (; w->module < SCRIBE_MAX_MODULES; w->module++, w->place = 0) {
		const struct scribe_final_module *m = &f->module[w->module];

		if (!m->nshared)
			continue;
		for (; w->place < m->mine.n; w->place++)
			if (m->shared[w->place])
				return true;
	}
	return false;
}

/* Returns the bytes used, 0 at the end. */
static size_t fill(const struct scribe_final *f, struct walk *w, struct batch *batch, char *record)
{
	struct scribe_base_record *base = (struct scribe_base_record *)(void *)record;
	size_t used = 0;

	batch->nsegments = 0;
	while (next_shared(f, w)) {
		const struct scribe_final_module *m = &f->module[w->module];
		size_t step = scribe_reduction_bytes(w->module), bytes = m->mine.module->record_bytes;

		if (used && used + step > BATCH_BYTES)
			break;
		if (!batch->nsegments || batch->segment[batch->nsegments - 1].module != w->module)
			batch->segment[batch->nsegments++] = (struct segment){w->module, 0};
		batch->segment[batch->nsegments - 1].n++;
		memcpy(record, m->mine.records + m->places[w->place].at * bytes, bytes);
		base->rank = f->rank;
		scribe_reduction_begin(w->module, record, batch->elems + used);
		used += step;
		w->place++;
	}
	return used ? sizeof(*batch) + used : 0;
}

/* On rank 0. */
static void keep(struct scribe_final *f, const struct batch *batch)
{
	const char *elem = batch->elems;

	for (int64_t s = 0; s < batch->nsegments; s++) {
		int module = (int)batch->segment[s].module;
		struct scribe_final_module *m = &f->module[module];

		for (int64_t i = 0; i < batch->segment[s].n; i++) {
			scribe_reduction_end(module, elem, m->reduced + m->nreduced++ * m->mine.module->record_bytes);
			elem += scribe_reduction_bytes(module);
		}
	}
}

/* On rank 0 allocates the result; *ret_longest: longest record. */
static int make_room(struct scribe_final *f, size_t *ret_longest)
{
	size_t longest = 0;

	for (int i = 0; i < SCRIBE_MAX_MODULES; i++) {
		struct scribe_final_module *m = &f->module[i];

		if (!m->nshared)
			continue;
		if (m->mine.module->record_bytes > longest)
			longest = m->mine.module->record_bytes;
		if (f->rank != 0)
			continue;
		m->reduced = scribe_coll_alloc(&f->coll, m->nshared * m->mine.module->record_bytes);
		if (!m->reduced)
			return -1;
	}
	*ret_longest = longest;
	return 0;
}

void scribe_final_reduce(struct scribe_final *f)
{
	struct walk w = {0, 0};
	struct batch *in, *out;
	char *record;
	size_t longest = 0, bytes;

	if (f->coll.broken || f->failed_any || !next_shared(f, &w))
		return;
	in = scribe_coll_alloc(&f->coll, sizeof(*in) + BATCH_BYTES);
	out = scribe_coll_alloc(&f->coll, f->rank == 0 ? sizeof(*out) + BATCH_BYTES : 0);
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
	scribe_coll_release(&f->coll, in);
	scribe_coll_release(&f->coll, out);
	scribe_coll_release(&f->coll, record);
}
