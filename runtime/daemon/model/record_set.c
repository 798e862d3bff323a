/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Records of a rank by record id and module. A set owns its records, which never move. Filled in the daemon's
 * main thread, joined in the log builder. Must not know of processes, slots or logs.
 */
#include "runtime/daemon/model/record_set.h"

#include "runtime/daemon/model/standard_streams.h"

#include <errno.h>
#include <stdlib.h>

#include "logfmt/base/keyed.h"
#include "logfmt/rules/lib_rules.h"

struct scribe_records *scribe_records_new(void)
{
	return calloc(1, sizeof(struct scribe_records));
}

struct scribe_records *scribe_records_free(struct scribe_records *r)
{
	if (!r)
		return NULL;
	for (size_t i = 0; i < r->n; i++) {
		scribe_posix_acc_free(&r->file[i]->acc);
		free(r->file[i]);
	}
	free(r->file);
	scribe_map_clear(&r->by_id);
	free(r);
	return NULL;
}

struct scribe_file_record *scribe_records_at(struct scribe_records *r, uint64_t id)
{
	return scribe_records_at_module(r, SCRIBE_MOD_POSIX, id);
}

static uint64_t key_of(int module, uint64_t id)
{
	/* A name has the same id in all modules. */
	const uint64_t key[] = {id, (uint64_t)module};

	return scribe_keyed(key, sizeof(key));
}

struct scribe_file_record *scribe_records_at_module(struct scribe_records *r, int module, uint64_t id)
{
	uint64_t key = key_of(module, id);
	struct scribe_file_record *f = scribe_map_get(&r->by_id, key);

	if (f)
		return f;
	if (r->n == r->capacity) {
		size_t capacity = r->capacity ? r->capacity * 2 : 64;
		struct scribe_file_record **more = realloc(r->file, capacity * sizeof(*more));

		if (!more)
			return NULL;
		r->file = more;
		r->capacity = capacity;
	}
	f = calloc(1, sizeof(*f));
	if (!f || scribe_map_put(&r->by_id, key, f) < 0) {
		free(f);
		return NULL;
	}
	f->id = id;
	f->module = module;
	scribe_posix_acc_init(&f->acc);
	r->file[r->n++] = f;
	return f;
}

struct scribe_file_record *scribe_records_find(const struct scribe_records *r, int module, uint64_t id)
{
	return r ? scribe_map_get(&r->by_id, key_of(module, id)) : NULL;
}

void scribe_file_properties(struct scribe_file_record *f, const struct scribe_ext_shard *of)
{
	/* Dimensions and element sizes are not sums. */
	for (int i = 0; f->module == SCRIBE_MOD_H5D && i < SCRIBE_LIB_H5D_PROPERTIES; i++)
		f->acc.ext.v[SCRIBE_LIB_H5D_NDIMS + i] = of->v[SCRIBE_LIB_H5D_NDIMS + i];
	for (int i = 0; f->module == SCRIBE_MOD_PNETCDF_VAR && i < SCRIBE_LIB_NC_PROPERTIES; i++)
		f->acc.ext.v[i] = of->v[i];
}

int scribe_records_join(struct scribe_records *r, const struct scribe_records *other)
{
	for (size_t i = 0; other && i < other->n; i++) {
		const struct scribe_file_record *from = other->file[i];
		struct scribe_file_record *to = scribe_records_at_module(r, from->module, from->id);

		if (!to || scribe_posix_acc_join(&to->acc, &from->acc) < 0)
			return -ENOMEM;
		/* The later mode and alignment win, the first ids stay. */
		if (from->mode)
			to->mode = from->mode;
		if (from->align)
			to->align = from->align;
		if (!to->file_id)
			to->file_id = from->file_id;
		scribe_file_properties(to, &from->acc.ext);
		if (!to->renamed_from)
			to->renamed_from = from->renamed_from;
	}
	return 0;
}

int scribe_file_has_posix(const struct scribe_file_record *f)
{
	const struct scribe_posix_shard *p = &f->acc.sum;

	if (f->module != SCRIBE_MOD_POSIX)
		return 0;
	return (p->opens | p->dups | p->ops[0] | p->ops[1] | p->seeks | p->stats | p->mmaps | p->fsyncs | p->fdsyncs |
		p->rename_sources | p->rename_targets) != 0;
}

static int has_ext(const struct scribe_file_record *f)
{
	/* Closes alone are not activity: a descriptor may be inherited. */
	for (int i = 0; i < SCRIBE_EXT_CLOSE_NS; i++)
		if (i != SCRIBE_EXT_CLOSES && f->acc.ext.v[i])
			return 1;
	return 0;
}

int scribe_records_have_activity(const struct scribe_records *r)
{
	/* Every program has standard streams, so they alone do not count. */
	for (size_t i = 0; r && i < r->n; i++)
		if (scribe_file_has_posix(r->file[i]) || has_ext(r->file[i]) ||
		    (r->file[i]->module != SCRIBE_MOD_POSIX && !scribe_is_standard_stream(r->file[i]->id)))
			return 1;
	return 0;
}
