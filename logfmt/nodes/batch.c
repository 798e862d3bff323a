/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One batch: parts of up to 64 nodes, joined in memory and written to a spool file (spool.h). A thread of
 * `ioscribe merge`, or the daemon's helper with the job user's identity. Must not know other batches.
 */
#include "logfmt/nodes/batch.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "logfmt/base/err.h"
#include "logfmt/counters/module.h"
#include "logfmt/file/encode.h"
#include "logfmt/file/pack.h"
#include "logfmt/nodes/many_read.h"
#include "logfmt/nodes/spool.h"
#include "logfmt/records/reduce.h"

#define PATH_BYTES 4400 /* of a path with a name */

struct batch {
	const struct scribe_survey *s;
	struct scribe_bundle records;
	struct scribe_parts_spool *spool;
	/* of the current module */
	struct scribe_pack *pack;
	struct scribe_bytes packed, scratch;
	struct scribe_map elements; /* by id, of records that all ranks have */
};

void scribe_batch_path(const struct scribe_parts_world *world, size_t batch, char *ret, size_t cap)
{
	snprintf(ret, cap, "%s/%s.%zu." SCRIBE_PART_BATCH, world->dir, world->name, batch);
}

static enum scribe_spool_kind kind_of(const struct scribe_survey *s, const struct scribe_bundled *r)
{
	const struct scribe_id_seen *seen =
		scribe_bundle_can_share(r->module) ? scribe_id_table_find(&s->ids, r->module, r->id) : NULL;

	if (!seen)
		return SCRIBE_SPOOL_PACKED;
	if (seen->shared)
		return SCRIBE_SPOOL_CARRIED;
	if (!s->j->info.unshared && seen->zero && (int64_t)seen->records == s->j->job.nprocs)
		return SCRIBE_SPOOL_REDUCED;
	return SCRIBE_SPOOL_PACKED;
}

static int pack_record(struct batch *b, const struct scribe_bundled *r)
{
	/* In the file's form and compressed, because the log copies such bytes without reading them. */
	size_t need = scribe_record_encode(r->module, false, r->data, r->bytes, NULL, 0);
	int rc = need ? scribe_bytes_room(&b->scratch, need) : -EINVAL;

	if (rc < 0)
		return rc;
	if (!b->pack)
		b->pack = scribe_pack_new(SCRIBE_COMP_ZLIB, 0, scribe_bytes_sink, &b->packed);
	if (!b->pack)
		return -ENOMEM;
	scribe_record_encode(r->module, false, r->data, r->bytes, b->scratch.at, need);
	return scribe_pack_put(b->pack, b->scratch.at, need);
}

/* One element per id, owned by b->elements. */
static int reduce_record(struct batch *b, const struct scribe_bundled *r)
{
	size_t bytes = scribe_reduction_bytes(r->module);
	char *known = scribe_map_get(&b->elements, r->id), *element = malloc(bytes);
	int rc = element ? scribe_reduction_begin(r->module, r->data, element) : -ENOMEM;

	if (rc == 0 && known)
		rc = scribe_reduction_join(r->module, known, element);
	else if (rc == 0)
		rc = scribe_map_put(&b->elements, r->id, element);
	if (rc < 0 || known)
		free(element);
	return rc;
}

static int put_record(struct batch *b, struct scribe_bundled *r)
{
	switch (kind_of(b->s, r)) {
	case SCRIBE_SPOOL_PACKED:
		return pack_record(b, r);
	case SCRIBE_SPOOL_REDUCED:
		if (r->module != SCRIBE_MOD_LUSTRE)
			return reduce_record(b, r);
		if (r->rank != 0)
			return 0;
		((struct scribe_base_record *)(void *)r->data)->rank = -1;
		break;
	default:
		break;
	}
	return scribe_spool_put(b->spool, SCRIBE_SPOOL_CARRIED, r->module, r->id, r->data, r->bytes);
}

static int end_module(struct batch *b, int module)
{
	int rc = b->pack ? scribe_pack_end(b->pack) : 0;

	if (b->pack && rc == 0)
		rc = scribe_spool_put(b->spool, SCRIBE_SPOOL_PACKED, module, 0, b->packed.at, b->packed.n);
	b->pack = scribe_pack_free(b->pack);
	b->packed.n = 0;
	for (size_t i = 0; i < b->elements.buckets; i++) {
		const struct scribe_map_entry *p = &b->elements.entry[i];

		if (p->value && rc == 0)
			rc = scribe_spool_put(b->spool, SCRIBE_SPOOL_REDUCED, module, p->key, p->value,
					      scribe_reduction_bytes(module));
		free(p->value);
	}
	scribe_map_clear(&b->elements);
	return rc;
}

static int put_records(struct batch *b)
{
	int rc = 0;

	scribe_bundle_sort(&b->records);
	for (size_t i = 0; i < b->records.n; i++) {
		struct scribe_bundled *r = b->records.rec[i];
		bool last = i + 1 == b->records.n || b->records.rec[i + 1]->module != r->module;
		int ended;

		if (rc == 0)
			rc = put_record(b, r);
		ended = last ? end_module(b, r->module) : 0;
		rc = rc ? rc : ended;
	}
	return rc;
}

static int read_nodes(struct batch *b, size_t batch, struct scribe_err *err)
{
	const struct scribe_join *j = b->s->j;
	const size_t first = batch * SCRIBE_BATCH_NODES;
	uint64_t partial = 0, hash;
	int rc = 0;

	for (size_t i = first; i < j->world->nodes && i < first + SCRIBE_BATCH_NODES && rc == 0; i++) {
		if (j->bad[i])
			continue;
		rc = scribe_many_read(j, i, &b->records, &partial, &hash, err);
		/* The second reading: the parts must still be those of the survey. */
		if (rc == 0 && hash != b->s->hash[i])
			rc = scribe_err_set(err, -ESTALE, "%s/%s.%s.part was changed while it was read", j->world->dir,
					    j->world->name, j->world->node[i]);
	}
	return rc;
}

int scribe_batch_write(const struct scribe_survey *s, size_t batch, struct scribe_err *err)
{
	struct batch b = {.s = s};
	char path[PATH_BYTES];
	int rc = read_nodes(&b, batch, err), ended;

	scribe_batch_path(s->j->world, batch, path, sizeof(path));
	/* All batches use the same time axis of heatmaps, so that their records fit together. */
	if (rc == 0 && scribe_heat_level_to(&b.records, &s->axis) < 0)
		rc = scribe_err_set(err, -ENOMEM, "out of memory");
	if (rc == 0) {
		b.spool = scribe_spool_create(path, s->plan);
		rc = b.spool ? put_records(&b) : -errno;
		ended = b.spool ? scribe_spool_finish(b.spool, rc == 0) : 0;
		rc = rc ? rc : ended;
		if (rc < 0)
			scribe_err_set(err, rc, "%s: %s", path, scribe_strerror(rc));
	}
	scribe_bundle_clear(&b.records);
	free(b.packed.at);
	free(b.scratch.at);
	return rc;
}
