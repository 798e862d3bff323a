/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The log of very many nodes, in `ioscribe merge` and the daemon's helper. Must not know which nodes have
 * delivered.
 */
#include "logfmt/nodes/many.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "logfmt/counters/module.h"
#include "logfmt/file/writer.h"
#include "logfmt/nodes/batch.h"
#include "logfmt/nodes/pool.h"
#include "logfmt/nodes/spool.h"
#include "logfmt/records/bundle.h"
#include "logfmt/records/reduce.h"

#define PATH_BYTES 4400

struct spooled {
	void *at;
	size_t bytes;
	size_t next;
};

/* On the stack of scribe_many_join, which frees it. */
struct many {
	struct scribe_survey survey;
	struct scribe_join *j;
	size_t *left;
	size_t nleft;
	struct spooled *spool;
	size_t batches;
	bool failed; /* set by the thread that writes `first`, which is read after all have ended */
	struct scribe_err first;
	struct scribe_bundle carried;
	struct scribe_map elements;
};

/* In the pool's threads, which only read the survey. */
static int one_batch(void *ctx, size_t i)
{
	struct many *m = ctx;
	struct scribe_err err = {0};
	int rc = scribe_batch_write(&m->survey, m->left[i], &err);

	if (rc < 0 && !__atomic_exchange_n(&m->failed, true, __ATOMIC_RELAXED))
		m->first = err;
	return rc;
}

static int make_batches(struct many *m)
{
	const struct scribe_parts_world *world = m->j->world;
	char path[PATH_BYTES], line[256];
	int rc;

	for (size_t i = 0; i < m->batches; i++) {
		/*
		 * A stopped merge continues: batches with a complete file of the same plan are not made
		 * again.
		 */
		scribe_batch_path(world, i, path, sizeof(path));
		if (!scribe_spool_is_whole(path, m->survey.plan))
			m->left[m->nleft++] = i;
	}
	if (m->nleft < m->batches && world->report) {
		snprintf(line, sizeof(line), "going on where a merge of %.100s stopped: %zu of %zu batches were done",
			 world->name, m->batches - m->nleft, m->batches);
		world->report(world->ctx, line);
	}
	rc = scribe_pool_work(world->threads, m->nleft, one_batch, m);
	return rc < 0 ? scribe_err_set(m->j->err, rc, "%s", m->first.text) : 0;
}

static int map_batches(struct many *m)
{
	char path[PATH_BYTES];

	for (size_t i = 0; i < m->batches; i++) {
		scribe_batch_path(m->j->world, i, path, sizeof(path));
		/* Not read: each byte is needed once, and the page cache can drop it. */
		m->spool[i].at = scribe_spool_map(path, m->survey.plan, &m->spool[i].bytes);
		if (!m->spool[i].at)
			return scribe_err_set(m->j->err, -errno, "%s: %s", path, strerror(errno));
	}
	return 0;
}

static int take_element(struct many *m, int module, uint64_t id, const void *element)
{
	size_t bytes = scribe_reduction_bytes(module);
	void *known = scribe_map_get(&m->elements, id);

	if (known)
		return scribe_reduction_join(module, known, element);
	known = malloc(bytes);
	if (!known)
		return -ENOMEM;
	memcpy(known, element, bytes);
	if (scribe_map_put(&m->elements, id, known) == 0)
		return 0;
	free(known);
	return -ENOMEM;
}

/* Collects what must be joined over all batches. *ret_packed: packed records follow. */
static int take_module(struct many *m, int module, bool *ret_packed)
{
	int rc = 0;

	for (size_t i = 0; i < m->batches; i++) {
		size_t at = m->spool[i].next;
		const struct scribe_spool_item *item;
		const void *data;

		while (rc == 0 && (item = scribe_spool_next(m->spool[i].at, m->spool[i].bytes, &at, &data)) &&
		       item->module == (uint32_t)module) {
			if (item->kind == SCRIBE_SPOOL_REDUCED)
				rc = take_element(m, module, item->id, data);
			else if (item->kind == SCRIBE_SPOOL_CARRIED)
				rc = scribe_bundle_add(&m->carried, module, data, (size_t)item->bytes);
			else
				*ret_packed = true;
		}
	}
	return rc;
}

static int by_id(const void *a, const void *b)
{
	uint64_t x = ((const struct scribe_map_entry *)a)->key, y = ((const struct scribe_map_entry *)b)->key;

	return x < y ? -1 : x > y;
}

static int put_elements(struct many *m, struct scribe_writer *w, int module)
{
	struct scribe_map_entry *p = m->elements.entry;
	size_t n = 0, bytes = scribe_reduction_record_bytes(module);
	void *record = m->elements.used ? malloc(bytes) : NULL;
	int rc = m->elements.used && !record ? -ENOMEM : 0;

	for (size_t i = 0; i < m->elements.buckets; i++)
		if (p[i].value)
			p[n++] = p[i];
	if (n)
		/* Sorted, because the log must not depend on the hash table. */
		qsort(p, n, sizeof(*p), by_id);
	for (size_t i = 0; i < n; i++) {
		if (rc == 0)
			rc = scribe_reduction_end(module, p[i].value, record);
		if (rc == 0)
			rc = scribe_writer_record(w, module, record, scribe_record_length(module, record, bytes));
		free(p[i].value);
	}
	free(record);
	scribe_map_clear(&m->elements);
	return rc;
}

/* Moves each batch to the next module. */
static int put_packed(struct many *m, struct scribe_writer *w, int module)
{
	int rc = 0;

	for (size_t i = 0; i < m->batches; i++) {
		struct spooled *s = &m->spool[i];
		const struct scribe_spool_item *item;
		const void *data;
		size_t at = s->next;

		while (rc == 0 && (item = scribe_spool_next(s->at, s->bytes, &at, &data)) &&
		       item->module == (uint32_t)module) {
			if (item->kind == SCRIBE_SPOOL_PACKED)
				rc = scribe_writer_packed(w, module, data, (size_t)item->bytes);
			s->next = at;
		}
	}
	return rc;
}

static int put_module(struct many *m, struct scribe_writer *w, int module)
{
	bool packed = false;
	int rc = take_module(m, module, &packed), ended = put_elements(m, w, module);

	rc = rc ? rc : ended;
	if (rc == 0)
		rc = scribe_bundle_write(&m->carried, w);
	scribe_bundle_clear(&m->carried);
	return rc ? rc : put_packed(m, w, module);
}

static int put_names(struct many *m, struct scribe_writer *w)
{
	int rc = 0;

	/* With a NUL first: the writer keeps them until the end. The survey has compressed all others. */
	for (size_t at = 0; at < m->survey.odd.n && rc == 0;) {
		size_t bytes;
		uint64_t id;
		const char *text = scribe_bytes_get_name(&m->survey.odd, &at, &id, &bytes);

		rc = scribe_writer_name(w, id, text, bytes);
	}
	return rc ? rc : scribe_writer_packed(w, -1, m->survey.names.at, m->survey.names.n);
}

static int write_log(struct many *m, const char *to)
{
	struct scribe_join *j = m->j;
	struct scribe_writer *w = NULL;
	int rc = scribe_join_create(j, to, &w);

	if (rc < 0)
		return rc;
	rc = put_names(m, w);
	for (int module = 0; module < SCRIBE_MAX_MODULES && rc == 0; module++)
		rc = put_module(m, w, module);
	return scribe_join_finish(j, w, rc, to);
}

int scribe_many_join(struct scribe_join *j, const char *to)
{
	struct many m = {.j = j};
	int rc = scribe_survey_take(&m.survey, j);

	if (rc == 0) {
		m.batches = scribe_survey_batches(&m.survey);
		m.left = calloc(m.batches, sizeof(*m.left));
		m.spool = calloc(m.batches, sizeof(*m.spool));
		if (!m.left || !m.spool)
			rc = scribe_err_set(j->err, -ENOMEM, "out of memory");
	}
	if (rc == 0)
		rc = make_batches(&m);
	if (rc == 0)
		rc = map_batches(&m);
	if (rc == 0)
		rc = write_log(&m, to);
	/* The spool files stay until the caller has given the log its name (scribe_many_clean). */
	for (size_t i = 0; m.spool && i < m.batches; i++)
		scribe_spool_unmap(m.spool[i].at, m.spool[i].bytes);
	free(m.spool);
	free(m.left);
	scribe_survey_clear(&m.survey);
	return rc;
}

void scribe_many_clean(const struct scribe_parts_world *world)
{
	char path[PATH_BYTES];

	for (size_t i = 0; i * SCRIBE_BATCH_NODES < world->nodes; i++) {
		scribe_batch_path(world, i, path, sizeof(path));
		unlink(path);
	}
}
