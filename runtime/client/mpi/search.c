/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Second step: which records all ranks have, and which names another rank writes (shared.h). Runs in
 * MPI_Finalize; memory: coll.c.
 */
#include "runtime/client/mpi/final.h"

/* Ids of the records and names that other ranks may also have, sorted. Names have their own module number. */
static int list_ids(struct scribe_final *f)
{
	const struct scribe_shared_id me = {.ranks = 1, .first_module = (uint32_t)f->rank << 8};
	size_t n = 0, at = 0, len;
	const char *name;
	uint64_t id;

	for (int i = 0; i < SCRIBE_MAX_MODULES; i++)
		n += f->module[i].shares ? f->module[i].mine.n : 0;
	while (scribe_log_image_name(&f->image, &at, &id, &name, &len))
		n++;
	f->ids = scribe_coll_alloc(&f->coll, n * sizeof(*f->ids));
	if (!f->ids) {
		f->coll.broken = true;
		return -1;
	}
	for (int i = 0; i < SCRIBE_MAX_MODULES; i++) {
		const struct scribe_final_module *m = &f->module[i];

		for (size_t p = 0; m->shares && p < m->mine.n; p++) {
			f->ids[f->nids] = me;
			f->ids[f->nids].id = m->places[p].id;
			f->ids[f->nids++].first_module |= (uint32_t)i;
		}
	}
	at = 0;
	while (scribe_log_image_name(&f->image, &at, &id, &name, &len)) {
		f->ids[f->nids] = me;
		f->ids[f->nids].id = id;
		f->ids[f->nids++].first_module |= SCRIBE_SHARED_NAMES;
	}
	f->nids = scribe_shared_sort(f->ids, f->nids);
	return 0;
}

static int search(struct scribe_final *f)
{
	switch (f->way) {
	case SCRIBE_SHARED_AND:
		return scribe_shared_by_and(&f->coll, f->rank, f->size, f->ids, f->nids, f->teller);
	case SCRIBE_SHARED_TREE:
		return scribe_shared_by_tree(&f->coll, f->rank, f->size, f->ids, f->nids);
	case SCRIBE_SHARED_HASH:
		break;
	}
	return scribe_shared_by_hash(&f->coll, f->rank, f->size, f->ids, f->nids);
}

void scribe_final_search(struct scribe_final *f)
{
	if (f->coll.broken || f->failed_any || list_ids(f) < 0 || search(f) < 0)
		return;
	for (int i = 0; i < SCRIBE_MAX_MODULES; i++) {
		struct scribe_final_module *m = &f->module[i];

		if (!m->shares)
			continue;
		m->shared = scribe_coll_alloc(&f->coll, m->mine.n);
		if (!m->shared) {
			f->coll.broken = true;
			return;
		}
		for (size_t p = 0; p < m->mine.n; p++) {
			const struct scribe_shared_id *e =
				scribe_shared_find(f->ids, f->nids, m->places[p].id, (unsigned)i);

			m->shared[p] = e && e->ranks == (uint32_t)f->size;
			m->nshared += m->shared[p];
		}
	}
}
