/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * First step: the ranks agree on modules, times, success and the search method by one reduction of maxima; rank
 * 0 then sends the path. Last step: the vote. Memory: coll.c. Runs in MPI_Finalize.
 */
#include <stdlib.h>
#include <string.h>

#include "logfmt/records/reduce.h"
#include "runtime/client/mpi/final.h"

/* One vector of maxima, minima negated: one message per rank. */
enum {
	AT_FAILED,
	AT_START, /* negated */
	AT_END,
	AT_PATH_BYTES, /* from rank 0 */
	AT_WAY,        /* the highest requested by any rank */
	AT_TELLER,     /* negated: smallest image and its rank */
	AT_ACTIVE,
	AT_PARTIAL = AT_ACTIVE + SCRIBE_MAX_MODULES,
	AT_LEAST = AT_PARTIAL + SCRIBE_MAX_MODULES, /* negated: fewest records */
	AT_COUNT = AT_LEAST + SCRIBE_MAX_MODULES
};

#define IMAGE_MASK ((1ull << 38) - 1) /* leaves bits for the rank */

/* Records start with their id, unaligned. */
static uint64_t record_id(const struct scribe_log_image_module *m, size_t i)
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

/* Positions in order of ids. -1: no memory. */
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
	/* A failed rank contributes an empty vector, so that the others do not wait for it. */
	v[AT_START] = INT64_MIN;
	v[AT_END] = INT64_MIN;
	for (int i = 0; i < SCRIBE_MAX_MODULES; i++) {
		struct scribe_final_module *m = &f->module[i];

		if (f->failed || !scribe_log_image_module(&f->image, i, &m->mine))
			continue;
		v[AT_ACTIVE + i] = 1;
		v[AT_LEAST + i] = -(int64_t)m->mine.n;
		if (index_records(f, m) < 0)
			f->failed = true;
	}
	if (!f->failed) {
		v[AT_START] = -scribe_log_image_start_ns(&f->image);
		v[AT_END] = scribe_log_image_end_ns(&f->image);
	}
	for (int i = 0; i < SCRIBE_MAX_MODULES; i++)
		v[AT_PARTIAL + i] = f->partial >> i & 1;
	if (f->rank == 0 && f->path)
		v[AT_PATH_BYTES] = (int64_t)strlen(f->path);
	v[AT_FAILED] = f->failed;
	v[AT_WAY] = f->way;
	v[AT_TELLER] = -((int64_t)(f->image.bytes & IMAGE_MASK) * SCRIBE_SHARED_RANKS + f->rank);
}

static void take_agreed(struct scribe_final *f, const int64_t *v)
{
	f->failed_any = v[AT_FAILED] != 0;
	f->way = (enum scribe_shared_way)v[AT_WAY];
	f->start_ns = -v[AT_START];
	f->end_ns = v[AT_END];
	f->partial = 0;
	for (int i = 0; i < SCRIBE_MAX_MODULES; i++) {
		struct scribe_final_module *m = &f->module[i];

		f->partial |= (uint64_t)(v[AT_PARTIAL + i] != 0) << i;
		m->active = v[AT_ACTIVE + i] != 0;
		m->shares = v[AT_LEAST + i] < 0 && m->mine.module && scribe_reduction_bytes(i) > 0;
	}
}

static void report_path(struct scribe_final *f, size_t bytes)
{
	char *path = scribe_coll_alloc(&f->coll, bytes + 1);

	if (!path) {
		f->coll.broken = true; /* the others' deadline ends it */
		return;
	}
	if (f->rank == 0)
		memcpy(path, f->path, bytes);
	if (scribe_coll_bcast(&f->coll, path, bytes, 0) == 0)
		f->path = path;
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
	later = scribe_log_image_start_ns(&f->image) - f->start_ns;
	/* Record times count from the rank's start: move them to the earliest start. */
	for (int i = 0; i < SCRIBE_MAX_MODULES; i++)
		scribe_log_image_rebase(&f->module[i].mine, later);
	f->teller = (int)(-v[AT_TELLER] % SCRIBE_SHARED_RANKS);
	report_path(f, (size_t)v[AT_PATH_BYTES]);
}

/* The same on all ranks, unless the collectives are broken. */
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
