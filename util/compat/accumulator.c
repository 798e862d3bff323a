/* SPDX-License-Identifier: BSD-3-Clause */
/* Darshan's accumulator. The caller owns it until destroy. */
#include <stdlib.h>
#include <string.h>

#include "logfmt/records/sum.h"
#include "util/compat/state.h"
#include "util/logs/accum.h"

struct darshan_accumulator_st {
	int id;
	int64_t nprocs;
	struct scribe_accum *accum;
};

int darshan_accumulator_create(darshan_module_id id, int64_t job_nprocs, darshan_accumulator *new_accumulator)
{
	darshan_accumulator acc;

	*new_accumulator = NULL;
	if ((unsigned)id >= DARSHAN_KNOWN_MODULE_COUNT || !scribe_accum_supports((int)id))
		return -1;
	acc = calloc(1, sizeof(*acc));
	if (!acc)
		return -1;
	acc->id = (int)id;
	acc->nprocs = job_nprocs;
	if (scribe_accum_new((int)id, SCRIBE_WANT_TOTAL | SCRIBE_WANT_FILES | SCRIBE_WANT_PERF, &acc->accum, NULL)) {
		free(acc);
		return -1;
	}
	*new_accumulator = acc;
	return 0;
}

int darshan_accumulator_inject(darshan_accumulator acc, void *record_array, int record_count)
{
	/* Records of some modules differ in length, so the array is walked. */
	const char *rec = record_array;

	for (int i = 0; i < record_count; i++) {
		const struct darshan_base_record *base = (const void *)rec;
		struct scribe_err err;

		if (base->rank >= acc->nprocs)
			return compat_error("a record of rank %" PRId64 " in a job of %" PRId64 " processes.",
					    base->rank, acc->nprocs);
		if (scribe_accum_add(acc->accum, rec, &err))
			return compat_error("%s", err.text);
		rec += compat_sizeof(acc->id, rec);
	}
	return 0;
}

static int64_t larger(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

static void count_file(struct darshan_file_category_counters *c, const struct scribe_accum_file *f, int64_t nprocs)
{
	c->count++;
	c->total_read_volume_bytes = scribe_sum(c->total_read_volume_bytes, f->bytes_read);
	c->total_write_volume_bytes = scribe_sum(c->total_write_volume_bytes, f->bytes_written);
	c->max_read_volume_bytes = larger(c->max_read_volume_bytes, f->bytes_read);
	c->max_write_volume_bytes = larger(c->max_write_volume_bytes, f->bytes_written);
	if (f->max_offset == -1) {
		c->total_max_offset_bytes = -1;
		c->max_offset_bytes = -1;
	} else {
		c->total_max_offset_bytes = scribe_sum(c->total_max_offset_bytes, f->max_offset);
		c->max_offset_bytes = larger(c->max_offset_bytes, f->max_offset);
	}
	if (f->nprocs > 0 && c->nprocs > -1)
		c->nprocs += f->nprocs;
	/* -1, all processes, as in Darshan's library; it then stays -1. */
	if (f->nprocs < 0 || c->nprocs >= nprocs)
		c->nprocs = -1;
}

static void count_files(darshan_accumulator acc, struct darshan_file_category_counters *c)
{
	struct scribe_accum_file f;

	for (size_t i = 0; scribe_accum_file_at(acc->accum, i, &f); i++) {
		count_file(&c[DARSHAN_ALL_FILES], &f, acc->nprocs);
		if (f.bytes_read > 0 && f.bytes_written == 0)
			count_file(&c[DARSHAN_RO_FILES], &f, acc->nprocs);
		else if (f.bytes_written > 0 && f.bytes_read == 0)
			count_file(&c[DARSHAN_WO_FILES], &f, acc->nprocs);
		else if (f.bytes_written > 0 && f.bytes_read > 0)
			count_file(&c[DARSHAN_RW_FILES], &f, acc->nprocs);
		count_file(&c[f.nprocs == 1    ? DARSHAN_UNIQ_FILES
			      : f.nprocs == -1 ? DARSHAN_SHARED_FILES
					       : DARSHAN_PART_SHARED_FILES],
			   &f, acc->nprocs);
	}
}

int darshan_accumulator_emit(darshan_accumulator acc, struct darshan_derived_metrics *metrics, void *aggregation_record)
{
	const void *total = scribe_accum_total(acc->accum);
	struct scribe_perf p;

	scribe_accum_perf(acc->accum, &p);
	*metrics = (struct darshan_derived_metrics){
		.total_bytes = scribe_sum(p.bytes_read, p.bytes_written),
		.unique_io_total_time_by_slowest = p.unique_time,
		.unique_rw_only_time_by_slowest = p.unique_rw_time,
		.unique_md_only_time_by_slowest = p.unique_meta_time,
		.unique_io_slowest_rank = (int)p.unique_slowest_rank,
		.shared_io_total_time_by_slowest = p.shared_time,
		.agg_perf_by_slowest = p.agg_perf,
		.agg_time_by_slowest = p.agg_time,
	};
	count_files(acc, metrics->category_counters);
	memcpy(aggregation_record, total, compat_sizeof(acc->id, total));
	return 0;
}

int darshan_accumulator_destroy(darshan_accumulator acc)
{
	if (acc)
		scribe_accum_free(acc->accum);
	free(acc);
	return 0;
}
