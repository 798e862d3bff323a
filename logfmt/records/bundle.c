/* SPDX-License-Identifier: BSD-3-Clause */
/* Records of a log in memory, and names. Owns copies of all. Must not know processes or the kernel side. */
#include "logfmt/records/bundle.h"
#include "logfmt/records/heat.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "logfmt/base/keyed.h"
#include "logfmt/counters/module.h"
#include "logfmt/records/reduce.h"
#include "logfmt/records/shift.h"

static uint64_t key_of(int module, uint64_t id, int64_t rank)
{
	const uint64_t key[] = {id, (uint64_t)rank, (uint64_t)module};

	return scribe_keyed(key, sizeof(key));
}

static struct scribe_bundled *find(const struct scribe_bundle *b, int module, uint64_t id, int64_t rank)
{
	struct scribe_bundled *r = scribe_map_get(&b->by_key, key_of(module, id, rank));

	while (r && (r->module != module || r->id != id || r->rank != rank))
		r = r->same;
	return r;
}

void scribe_bundle_clear(struct scribe_bundle *b)
{
	for (size_t i = 0; i < b->n; i++)
		free(b->rec[i]);
	for (size_t i = 0; i < b->names.buckets; i++)
		free(b->names.entry[i].value);
	free(b->rec);
	scribe_map_clear(&b->by_key);
	scribe_map_clear(&b->names);
	memset(b, 0, sizeof(*b));
}

/* Does not search for an equal record. */
static int append(struct scribe_bundle *b, int module, const void *rec, size_t bytes)
{
	const struct scribe_base_record *base = rec;
	struct scribe_bundled *r;
	uint64_t key;

	if (b->n == b->capacity) {
		size_t capacity = b->capacity ? b->capacity * 2 : 256;
		struct scribe_bundled **more = realloc(b->rec, capacity * sizeof(*more));

		if (!more)
			return -ENOMEM;
		b->rec = more;
		b->capacity = capacity;
	}
	r = malloc(sizeof(*r) + bytes);
	if (!r)
		return -ENOMEM;
	*r = (struct scribe_bundled){
		.id = base->id, .rank = base->rank, .module = module, .bytes = bytes, .order = b->n};
	memcpy(r->data, rec, bytes);
	key = key_of(module, base->id, base->rank);
	r->same = scribe_map_get(&b->by_key, key);
	if (scribe_map_put(&b->by_key, key, r) < 0) {
		free(r);
		return -ENOMEM;
	}
	b->rec[b->n++] = r;
	return 0;
}

int scribe_bundle_add(struct scribe_bundle *b, int module, const void *rec, size_t bytes)
{
	const struct scribe_module *m = scribe_module_by_id(module);
	const struct scribe_base_record *base = rec;
	struct scribe_bundled *there;

	if (bytes < sizeof(*base))
		return -EINVAL;
	if (m && m->reduces) {
		there = find(b, module, base->id, base->rank);
		if (!there)
			there = find(b, module, base->id, -1);
		if (there && there->bytes == bytes && scribe_record_merge(module, there->data, rec) == 0)
			return 0;
	}
	return append(b, module, rec, bytes);
}

bool scribe_bundle_can_share(int module)
{
	/* Layouts are not added: as in Darshan, rank 0's becomes the shared one. */
	return module == SCRIBE_MOD_LUSTRE || scribe_reduction_bytes(module);
}

static int reduce_records(struct scribe_bundled *first)
{
	size_t bytes = scribe_reduction_bytes(first->module);
	char *elem = malloc(2 * bytes);
	int rc = elem ? scribe_reduction_begin(first->module, first->data, elem) : -ENOMEM;

	for (struct scribe_bundled *r = first->rest; r && rc == 0; r = r->rest) {
		rc = scribe_reduction_begin(r->module, r->data, elem + bytes);
		if (rc == 0)
			rc = scribe_reduction_join(r->module, elem, elem + bytes);
	}
	if (rc == 0)
		rc = scribe_reduction_end(first->module, elem, first->data);
	free(elem);
	return rc;
}

/* Of all ranks. */
static int reduce_chain(struct scribe_bundled *first)
{
	int rc = first->module == SCRIBE_MOD_LUSTRE ? 0 : reduce_records(first);

	if (rc < 0)
		return rc;
	((struct scribe_base_record *)(void *)first->data)->rank = -1;
	first->rank = -1;
	for (struct scribe_bundled *r = first->rest; r; r = r->rest)
		r->bytes = 0;
	return 0;
}

static void drop_empty(struct scribe_bundle *b)
{
	size_t kept = 0;

	for (size_t i = 0; i < b->n; i++) {
		if (b->rec[i]->bytes)
			b->rec[kept++] = b->rec[i];
		else
			free(b->rec[i]);
	}
	b->n = kept;
}

int scribe_bundle_rekey(struct scribe_bundle *b)
{
	/* Pointers and ranks have changed, and both are in the map. */
	scribe_map_clear(&b->by_key);
	for (size_t i = 0; i < b->n; i++) {
		struct scribe_bundled *r = b->rec[i];
		uint64_t key = key_of(r->module, r->id, r->rank);

		r->same = scribe_map_get(&b->by_key, key);
		if (scribe_map_put(&b->by_key, key, r) < 0)
			return -ENOMEM;
	}
	return 0;
}

static int by_module_id_rank(const void *a, const void *b)
{
	const struct scribe_bundled *x = *(struct scribe_bundled *const *)a;
	const struct scribe_bundled *y = *(struct scribe_bundled *const *)b;

	if (x->module != y->module)
		return x->module < y->module ? -1 : 1;
	if (x->id != y->id)
		return x->id < y->id ? -1 : 1;
	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	return 0;
}

int scribe_bundle_reduce(struct scribe_bundle *b, int64_t nprocs)
{
	size_t next;

	if (nprocs < 1 || !b->n)
		return 0;
	/* Sorted, because records of one id must be neighbours. A shared record sorts first. */
	qsort(b->rec, b->n, sizeof(*b->rec), by_module_id_rank);
	for (size_t i = 0; i < b->n; i = next) {
		struct scribe_bundled *first = b->rec[i];
		int64_t ranks = 1;

		for (next = i + 1; next < b->n; next++) {
			struct scribe_bundled *r = b->rec[next];

			if (r->module != first->module || r->id != first->id)
				break;
			b->rec[next - 1]->rest = r;
			ranks++;
		}
		b->rec[next - 1]->rest = NULL;
		if (ranks == nprocs && first->rank == 0 && scribe_bundle_can_share(first->module)) {
			int rc = reduce_chain(first);

			if (rc < 0)
				return rc;
		}
	}
	drop_empty(b);
	return scribe_bundle_rekey(b);
}

/* The first name of an id counts. */
static int keep_name(struct scribe_bundle *b, const struct scribe_name *name)
{
	struct scribe_bundle_name *n;

	if (scribe_map_get(&b->names, name->id))
		return 0;
	n = malloc(sizeof(*n) + name->len + 1);
	if (!n)
		return -ENOMEM;
	n->bytes = name->len;
	memcpy(n->text, name->bytes, name->len);
	n->text[name->len] = 0;
	if (scribe_map_put(&b->names, name->id, n) < 0) {
		free(n);
		return -ENOMEM;
	}
	return 0;
}

/* A heatmap of a log that began `lag` seconds after the job. */
static int take_late_heat(struct scribe_bundle *b, const struct scribe_heatmap_record *rec, double lag)
{
	const uint64_t end = (uint64_t)((lag + rec->bin_width_seconds * (double)rec->nbins) * 1e9);
	struct scribe_heat_table t = {0};
	struct scribe_heatmap_record *moved = malloc(scribe_heat_record_bytes(SCRIBE_HEAT_BINS));
	size_t nbins;
	int rc;

	if (!moved)
		return -ENOMEM;
	scribe_heat_fit(&t, end);
	/* Bytes are divided by time, because the log's bins do not begin at those of the job. */
	scribe_heat_read(rec, lag, &t);
	nbins = scribe_heat_nbins(end, t.shift);
	scribe_heat_write(&t, nbins, rec->base.id, rec->base.rank, moved);
	rc = append(b, SCRIBE_MOD_HEATMAP, moved, scribe_heat_record_bytes(nbins));
	free(moved);
	return rc;
}

/* lag NULL: the record is added unchanged, otherwise joined with its times shifted. */
static int take(struct scribe_bundle *b, int module, const void *rec, size_t bytes, const double *lag)
{
	void *copy;
	int rc;

	if (!lag)
		return append(b, module, rec, bytes);
	if (module == SCRIBE_MOD_HEATMAP && *lag > 0)
		return take_late_heat(b, rec, *lag);
	if (*lag == 0)
		return scribe_bundle_add(b, module, rec, bytes);
	copy = malloc(bytes);
	if (!copy)
		return -ENOMEM;
	memcpy(copy, rec, bytes);
	if (scribe_module_by_id(module)) /* positions of times are known */
		scribe_record_shift(module, copy, *lag);
	rc = scribe_bundle_add(b, module, copy, bytes);
	free(copy);
	return rc;
}

static int take_all(struct scribe_bundle *b, struct scribe_reader *r, const double *lag, struct scribe_err *err)
{
	struct scribe_name name;
	const void *rec;
	size_t bytes;
	int rc;

	while ((rc = scribe_reader_next_name(r, &name)) > 0) {
		rc = keep_name(b, &name);
		if (rc < 0)
			return scribe_err_set(err, rc, "out of memory");
	}
	for (int module = 0; module < SCRIBE_MAX_MODULES && rc == 0; module++) {
		while ((rc = scribe_reader_borrow_record(r, module, &rec, &bytes)) > 0) {
			rc = take(b, module, rec, bytes, lag);
			if (rc < 0)
				return scribe_err_set(err, rc, "out of memory");
		}
	}
	if (rc < 0 && err)
		*err = *scribe_reader_error(r);
	return rc;
}

int scribe_bundle_read(struct scribe_bundle *b, struct scribe_reader *r, struct scribe_err *err)
{
	return take_all(b, r, NULL, err);
}

int scribe_bundle_join(struct scribe_bundle *b, struct scribe_reader *r, double seconds, struct scribe_err *err)
{
	return take_all(b, r, &seconds, err);
}

int scribe_bundle_write_names(const struct scribe_bundle *b, struct scribe_writer *w)
{
	struct scribe_map done = {0};
	int rc = 0;

	for (size_t i = 0; i < b->n && rc == 0; i++) {
		const uint64_t id = b->rec[i]->id;
		struct scribe_bundle_name *name = scribe_map_get(&b->names, id);

		if (!name || scribe_map_get(&done, id))
			continue;
		rc = scribe_map_put(&done, id, name);
		if (rc == 0)
			rc = scribe_writer_name(w, id, name->text, name->bytes);
	}
	scribe_map_clear(&done);
	return rc;
}

static int by_file_order(const void *a, const void *b)
{
	const struct scribe_bundled *x = *(struct scribe_bundled *const *)a;
	const struct scribe_bundled *y = *(struct scribe_bundled *const *)b;
	int64_t rx = x->rank < 0 ? 0 : x->rank, ry = y->rank < 0 ? 0 : y->rank;

	if (x->module != y->module)
		return x->module < y->module ? -1 : 1;
	if (rx != ry)
		return rx < ry ? -1 : 1;
	if ((x->rank < 0) != (y->rank < 0))
		return x->rank < 0 ? 1 : -1;
	return x->order < y->order ? -1 : x->order > y->order;
}

void scribe_bundle_sort(struct scribe_bundle *b)
{
	if (b->n)
		qsort(b->rec, b->n, sizeof(*b->rec), by_file_order);
}

int scribe_bundle_write_modules(struct scribe_bundle *b, struct scribe_writer *w, int first, int end)
{
	scribe_bundle_sort(b);
	for (size_t i = 0; i < b->n; i++) {
		int rc = 0;

		if (b->rec[i]->module >= first && b->rec[i]->module < end)
			rc = scribe_writer_record(w, b->rec[i]->module, b->rec[i]->data, b->rec[i]->bytes);
		if (rc < 0)
			return rc;
	}
	return 0;
}

int scribe_bundle_write(struct scribe_bundle *b, struct scribe_writer *w)
{
	return scribe_bundle_write_modules(b, w, 0, SCRIBE_MAX_MODULES);
}
