/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * First steps of the collective finalize: the ranks agree on modules, times and
 * success, rank 0 tells path and record ids, and the records that every rank has
 * are found. Three collectives, however many modules.
 */
#include <stdlib.h>
#include <string.h>

#include "logfmt/reduce.h"
#include "runtime/client/final.h"

/* One vector of maxima; minima go negated. */
enum {
	AT_FAILED,
	AT_START, /* negated */
	AT_END,
	AT_PATH_BYTES, /* from rank 0 */
	AT_ACTIVE,     /* then, for each module: */
	AT_PARTIAL = AT_ACTIVE + SCRIBE_MAX_MODULES,
	AT_ROOT_N = AT_PARTIAL + SCRIBE_MAX_MODULES, /* records of rank 0 */
	AT_LEAST = AT_ROOT_N + SCRIBE_MAX_MODULES,   /* negated: fewest records of a rank */
	AT_COUNT = AT_LEAST + SCRIBE_MAX_MODULES
};

#define PATH_ROUND(bytes) (((size_t)(bytes) + 8) & ~(size_t)7) /* with its NUL, to whole words */

static uint64_t record_id(const struct scribe_image_module *m, size_t i)
{
	uint64_t id;

	memcpy(&id, m->records + i * m->module->record_bytes, sizeof(id));
	return id;
}

static int by_id(const void *a, const void *b)
{
	const struct scribe_id_place *x = a, *y = b;

	if (x->id != y->id)
		return x->id < y->id ? -1 : 1;
	return x->at < y->at ? -1 : x->at > y->at;
}

static int index_records(struct scribe_final *f, struct scribe_final_module *m)
{
	m->places = scribe_coll_alloc(&f->coll, m->mine.n * sizeof(*m->places));
	if (!m->places)
		return -1;
	for (size_t i = 0; i < m->mine.n; i++)
		m->places[i] = (struct scribe_id_place){record_id(&m->mine, i), i};
	qsort(m->places, m->mine.n, sizeof(*m->places), by_id);
	return 0;
}

static void fill_own(struct scribe_final *f, int64_t *v)
{
	v[AT_START] = INT64_MIN;
	v[AT_END] = INT64_MIN;
	for (int i = 0; i < SCRIBE_MAX_MODULES; i++) {
		struct scribe_final_module *m = &f->module[i];

		if (f->failed || !scribe_image_module(&f->image, i, &m->mine))
			continue;
		v[AT_ACTIVE + i] = 1;
		v[AT_LEAST + i] = -(int64_t)m->mine.n;
		if (f->rank == 0)
			v[AT_ROOT_N + i] = (int64_t)m->mine.n;
		if (index_records(f, m) < 0)
			f->failed = true;
	}
	if (!f->failed) {
		v[AT_START] = -scribe_image_start_ns(&f->image);
		v[AT_END] = scribe_image_end_ns(&f->image);
	}
	for (int i = 0; i < SCRIBE_MAX_MODULES; i++)
		v[AT_PARTIAL + i] = f->partial >> i & 1;
	if (f->rank == 0 && f->path)
		v[AT_PATH_BYTES] = (int64_t)strlen(f->path);
	v[AT_FAILED] = f->failed;
}

static void take_agreed(struct scribe_final *f, const int64_t *v)
{
	f->failed_any = v[AT_FAILED] != 0;
	f->start_ns = -v[AT_START];
	f->end_ns = v[AT_END];
	f->partial = 0;
	for (int i = 0; i < SCRIBE_MAX_MODULES; i++) {
		struct scribe_final_module *m = &f->module[i];

		f->partial |= (uint64_t)(v[AT_PARTIAL + i] != 0) << i;
		m->active = v[AT_ACTIVE + i] != 0;
		m->root_n = (size_t)v[AT_ROOT_N + i];
		m->shares = v[AT_LEAST + i] < 0 && m->mine.module && scribe_redux_bytes(i) > 0;
	}
}

/* Path and ids of rank 0 in one message: word-padded path, then the ids by module. */
static int tell_ids(struct scribe_final *f, size_t path_bytes)
{
	size_t bytes = PATH_ROUND(path_bytes);
	uint64_t *ids;
	char *msg;

	for (int i = 0; i < SCRIBE_MAX_MODULES; i++)
		bytes += f->module[i].root_n * sizeof(uint64_t);
	msg = scribe_coll_alloc(&f->coll, bytes);
	if (!msg) {
		f->coll.broken = true; /* cannot take part: the others' deadline ends it */
		return -1;
	}
	ids = (uint64_t *)(void *)(msg + PATH_ROUND(path_bytes));
	if (f->rank == 0)
		memcpy(msg, f->path, path_bytes);
	for (int i = 0; i < SCRIBE_MAX_MODULES; i++) {
		struct scribe_final_module *m = &f->module[i];

		for (size_t r = 0; f->rank == 0 && r < m->root_n; r++)
			ids[r] = m->places[r].id;
		m->root_ids = ids;
		ids += m->root_n;
	}
	if (scribe_coll_bcast(&f->coll, msg, bytes) < 0)
		return -1;
	if (f->rank != 0)
		f->path = msg;
	return 0;
}

long scribe_final_root_place(const struct scribe_final_module *m, uint64_t id)
{
	size_t low = 0, high = m->root_n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (m->root_ids[mid] < id)
			low = mid + 1;
		else
			high = mid;
	}
	return low < m->root_n && m->root_ids[low] == id ? (long)low : -1;
}

/* Mark rank 0's records that this rank has; what all have marked is shared. */
static void find_shared(struct scribe_final *f)
{
	unsigned char *flags, *at;
	size_t bytes = 0;

	for (int i = 0; i < SCRIBE_MAX_MODULES; i++)
		if (f->module[i].shares)
			bytes += f->module[i].root_n;
	if (!bytes)
		return;
	flags = at = scribe_coll_alloc(&f->coll, bytes);
	if (!flags) {
		f->coll.broken = true;
		return;
	}
	for (int i = 0; i < SCRIBE_MAX_MODULES; i++) {
		struct scribe_final_module *m = &f->module[i];

		if (!m->shares)
			continue;
		for (size_t p = 0; p < m->mine.n; p++) {
			long place = scribe_final_root_place(m, m->places[p].id);

			if (place >= 0)
				at[place] = 1;
		}
		m->shared = at;
		at += m->root_n;
	}
	scribe_coll_band(&f->coll, flags, bytes);
}

void scribe_final_agree(struct scribe_final *f)
{
	int64_t *v = scribe_coll_alloc(&f->coll, AT_COUNT * sizeof(*v));
	int64_t later;

	if (!v) {
		f->coll.broken = true;
		return;
	}
	fill_own(f, v);
	if (scribe_coll_max(&f->coll, v, AT_COUNT) < 0)
		return;
	take_agreed(f, v);
	if (f->failed_any)
		return;
	later = scribe_image_start_ns(&f->image) - f->start_ns;
	for (int i = 0; i < SCRIBE_MAX_MODULES; i++)
		scribe_image_rebase(&f->module[i].mine, later);
	if (tell_ids(f, (size_t)v[AT_PATH_BYTES]) == 0)
		find_shared(f);
}

bool scribe_final_vote(struct scribe_final *f)
{
	int64_t *v = scribe_coll_alloc(&f->coll, sizeof(*v));

	if (!v) {
		f->coll.broken = true;
		return false;
	}
	*v = f->failed;
	return scribe_coll_max(&f->coll, v, 1) == 0 && *v == 0;
}
