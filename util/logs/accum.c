// SPDX-License-Identifier: BSD-3-Clause
/* Sums of a module's records, by the rules of the counter lists and, where these differ, Darshan 3.5.0. */
#include "util/logs/accum.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "logfmt/base/err.h"
#include "logfmt/base/keyed.h"
#include "util/logs/rank_times.h"
#include "util/logs/sum.h"

#define NONE (-1)

struct counter_indices {
	int module;
	short bytes_read, bytes_written;                      /* integers */
	short max_read, max_written;                          /* NONE: not in this module */
	short fastest;                                        /* FASTEST_RANK, then _BYTES, SLOWEST_RANK, _BYTES */
	short meta_time, read_time, write_time, fastest_time; /* reals; SLOWEST follows FASTEST */
	short clamp;                                          /* 1: negative sums become -1 */
	short unsummed;                                       /* integer that Darshan's sum leaves at 0, or NONE */
};

static const struct counter_indices indices_of_modules[] = {
	{SCRIBE_MOD_POSIX, SCRIBE_POSIX_BYTES_READ, SCRIBE_POSIX_BYTES_WRITTEN, SCRIBE_POSIX_MAX_BYTE_READ,
	 SCRIBE_POSIX_MAX_BYTE_WRITTEN, SCRIBE_POSIX_FASTEST_RANK, SCRIBE_POSIX_F_META_TIME, SCRIBE_POSIX_F_READ_TIME,
	 SCRIBE_POSIX_F_WRITE_TIME, SCRIBE_POSIX_F_FASTEST_RANK_TIME, 1, NONE},
	{SCRIBE_MOD_MPIIO, SCRIBE_MPIIO_BYTES_READ, SCRIBE_MPIIO_BYTES_WRITTEN, NONE, NONE, SCRIBE_MPIIO_FASTEST_RANK,
	 SCRIBE_MPIIO_F_META_TIME, SCRIBE_MPIIO_F_READ_TIME, SCRIBE_MPIIO_F_WRITE_TIME,
	 SCRIBE_MPIIO_F_FASTEST_RANK_TIME, 0, NONE},
	{SCRIBE_MOD_STDIO, SCRIBE_STDIO_BYTES_READ, SCRIBE_STDIO_BYTES_WRITTEN, SCRIBE_STDIO_MAX_BYTE_READ,
	 SCRIBE_STDIO_MAX_BYTE_WRITTEN, SCRIBE_STDIO_FASTEST_RANK, SCRIBE_STDIO_F_META_TIME, SCRIBE_STDIO_F_READ_TIME,
	 SCRIBE_STDIO_F_WRITE_TIME, SCRIBE_STDIO_F_FASTEST_RANK_TIME, 0, NONE},
	{SCRIBE_MOD_DFS, SCRIBE_DFS_BYTES_READ, SCRIBE_DFS_BYTES_WRITTEN, NONE, NONE, SCRIBE_DFS_FASTEST_RANK,
	 SCRIBE_DFS_F_META_TIME, SCRIBE_DFS_F_READ_TIME, SCRIBE_DFS_F_WRITE_TIME, SCRIBE_DFS_F_FASTEST_RANK_TIME, 1,
	 NONE},
	{SCRIBE_MOD_DAOS, SCRIBE_DAOS_BYTES_READ, SCRIBE_DAOS_BYTES_WRITTEN, NONE, NONE, SCRIBE_DAOS_FASTEST_RANK,
	 SCRIBE_DAOS_F_META_TIME, SCRIBE_DAOS_F_READ_TIME, SCRIBE_DAOS_F_WRITE_TIME, SCRIBE_DAOS_F_FASTEST_RANK_TIME, 1,
	 SCRIBE_DAOS_NB_OPS},
};

struct file_entry {
	uint64_t id;
	int64_t bytes_read, bytes_written, max_offset;
	int64_t nprocs; /* -1: all */
};

struct scribe_accum {
	const struct counter_indices *counters;
	const struct scribe_module *module;
	unsigned want;
	int64_t records;
	void *total;
	struct scribe_rank_times ranks;
	int64_t bytes_read, bytes_written;
	double shared_time;
	struct file_entry *files; /* in order of appearance */
	uint32_t *index;          /* open addressing: 1 + index in files, 0: empty */
	size_t nfiles, cap_files, cap_index;
};

static const struct counter_indices *indices_of(int module)
{
	for (size_t i = 0; i < sizeof(indices_of_modules) / sizeof(indices_of_modules[0]); i++)
		if (indices_of_modules[i].module == module)
			return &indices_of_modules[i];
	return NULL;
}

int scribe_accum_supports(int module)
{
	return indices_of(module) != NULL;
}

int scribe_accum_new(int module, unsigned want, struct scribe_accum **ret_a, struct scribe_err *err)
{
	const struct counter_indices *s = indices_of(module);
	struct scribe_accum *a;

	if (!s)
		return scribe_err_set(err, -SCRIBE_E_UNSUPPORTED, "module %d is not summed up", module);
	a = calloc(1, sizeof(*a));
	if (!a)
		return scribe_err_set(err, -ENOMEM, "sums of module %d: out of memory", module);
	a->counters = s;
	a->module = scribe_module_by_id(module);
	a->want = want;
	a->total = calloc(1, a->module->record_bytes);
	if (!a->total) {
		scribe_accum_free(a);
		return scribe_err_set(err, -ENOMEM, "sums of module %d: out of memory", module);
	}
	*ret_a = a;
	return 0;
}

struct scribe_accum *scribe_accum_free(struct scribe_accum *a)
{
	if (!a)
		return NULL;
	free(a->total);
	scribe_rank_times_clear(&a->ranks);
	free(a->files);
	free(a->index);
	free(a);
	return NULL;
}

/* Inserts a common value as Darshan does. 0: too rare, as are the rest. */
static int common_insert(int64_t *agg, int64_t value, int64_t count)
{
	int64_t val[4] = {0}, cnt[4] = {0};
	int total = (int)count; /* truncated as in Darshan */
	int n = 0, k = 0;

	for (k = 0; k < 4; k++)
		if (agg[k] == value) {
			total = (int)scribe_sum(agg[k + 4], count);
			break;
		}
	for (k = 0; k < 4; k++) {
		if (!(agg[k + 4] > total || (agg[k + 4] == total && agg[k] > value)))
			break;
		val[n] = agg[k];
		cnt[n++] = agg[k + 4];
	}
	if (n == 4)
		return 0;
	val[n] = value;
	cnt[n++] = count;
	for (; n < 4 && k < 4; k++) {
		if (agg[k] == value)
			continue;
		val[n] = agg[k];
		cnt[n++] = agg[k + 4];
	}
	memcpy(agg, val, sizeof(val));
	memcpy(agg + 4, cnt, sizeof(cnt));
	return 1;
}

static void common_values(int64_t *agg, const int64_t *rec)
{
	int known[4] = {0};

	/* All known values first, as in Darshan; a value that moves down may then be lost. */
	for (int j = 0; j < 4; j++)
		for (int k = 0; k < 4; k++)
			if (agg[k] == rec[j]) {
				agg[k + 4] = scribe_sum(agg[k + 4], rec[j + 4]);
				known[j] = 1;
			}
	for (int j = 0; j < 4; j++) {
		if (known[j])
			continue;
		if (rec[j] == 0 || !common_insert(agg, rec[j], rec[j + 4]))
			break;
	}
}

static void total_ints(const struct scribe_accum *a, int64_t *agg, const int64_t *rec)
{
	const struct scribe_counter *c = a->module->counters;

	for (int i = 0; i < a->module->ncounters; i++) {
		switch (c[i].rule) {
		case SCRIBE_RULE_SUM:
		case SCRIBE_RULE_UNKNOWN:
		case SCRIBE_RULE_RANKS:
			if (i == a->counters->unsummed)
				break;
			agg[i] = scribe_sum(agg[i], rec[i]);
			if (a->counters->clamp && agg[i] < 0)
				agg[i] = -1;
			break;
		case SCRIBE_RULE_KEEP: /* the last record's; a lowest rank exists only in reductions */
			agg[i] = rec[i];
			break;
		case SCRIBE_RULE_MAX:
			if (rec[i] > agg[i])
				agg[i] = rec[i];
			break;
		case SCRIBE_RULE_VALUE:
			common_values(agg + i, rec + i);
			i += 7; /* skip the other three values and four counts */
			break;
		default: /* set together with the reals */
			break;
		}
	}
}

/* The n-th real of this rule belongs to the n-th integer. */
static void total_slowest(const struct scribe_module *m, int which, int64_t *agg, const int64_t *rec)
{
	for (int i = 0; i < m->ncounters; i++)
		if (m->counters[i].rule == SCRIBE_RULE_SLOWEST && which-- == 0)
			agg[i] = rec[i];
}

static void total_reals(const struct scribe_accum *a, void *total, const void *record)
{
	const struct scribe_module *m = a->module;
	const double *rec = scribe_record_fcounters(m, record);
	double *agg = (double *)((char *)total + m->fcounters_at);
	int slowest = 0;

	for (int i = 0; i < m->nfcounters; i++) {
		switch (m->fcounters[i].rule) {
		case SCRIBE_RULE_SUM:
			agg[i] += rec[i];
			break;
		case SCRIBE_RULE_FIRST:
			if (rec[i] > 0 && (agg[i] == 0 || rec[i] < agg[i]))
				agg[i] = rec[i];
			break;
		case SCRIBE_RULE_MAX:
			if (rec[i] > agg[i])
				agg[i] = rec[i];
			break;
		case SCRIBE_RULE_SLOWEST:
			if (rec[i] > agg[i]) {
				agg[i] = rec[i];
				total_slowest(m, slowest, (int64_t *)((char *)total + m->counters_at),
					      scribe_record_counters(m, record));
			}
			slowest++;
			break;
		default: /* ranks are set below; variances stay 0 */
			break;
		}
	}
}

/* Fastest and slowest rank; cleared when records of several files are summed. */
static void total_ranks(const struct scribe_accum *a, void *total, const void *record, int same_file)
{
	const struct scribe_module *m = a->module;
	const struct counter_indices *s = a->counters;
	const struct scribe_base_record *base = record;
	const int64_t *ri = scribe_record_counters(m, record);
	const double *rf = scribe_record_fcounters(m, record);
	int64_t *ai = (int64_t *)((char *)total + m->counters_at) + s->fastest;
	double *af = (double *)((char *)total + m->fcounters_at) + s->fastest_time;

	for (int k = 0; k < 2; k++) { /* fastest, slowest */
		int64_t rank = base->rank, bytes = scribe_sum(ri[s->bytes_read], ri[s->bytes_written]);
		double time = rf[s->read_time] + rf[s->write_time] + rf[s->meta_time];

		if (base->rank == -1) {
			rank = ri[s->fastest + 2 * k];
			bytes = ri[s->fastest + 2 * k + 1];
			time = rf[s->fastest_time + k];
		}
		if (!same_file) {
			ai[2 * k] = ai[2 * k + 1] = -1;
			af[k] = 0;
		} else if (a->records == 0 || (k == 0 ? time < af[k] : time > af[k])) {
			ai[2 * k] = rank;
			ai[2 * k + 1] = bytes;
			af[k] = time;
		}
	}
}

static void add_total(struct scribe_accum *a, const void *record)
{
	const struct scribe_base_record *base = record;
	struct scribe_base_record *sum = a->total;
	int same_file;

	if (a->records == 0)
		*sum = *base;
	same_file = sum->id == base->id;
	/* 0 and -1 mark sums over several files and ranks. */
	if (!same_file)
		sum->id = 0;
	if (sum->rank != base->rank)
		sum->rank = -1;
	total_ints(a, (int64_t *)((char *)a->total + a->module->counters_at),
		   scribe_record_counters(a->module, record));
	total_reals(a, a->total, record);
	total_ranks(a, a->total, record, same_file);
}

static int add_perf(struct scribe_accum *a, const void *record, struct scribe_err *err)
{
	const struct counter_indices *s = a->counters;
	const struct scribe_base_record *base = record;
	const int64_t *ints = scribe_record_counters(a->module, record);
	const double *f = scribe_record_fcounters(a->module, record);
	struct scribe_rank_time *t;

	a->bytes_read = scribe_sum(a->bytes_read, ints[s->bytes_read]);
	a->bytes_written = scribe_sum(a->bytes_written, ints[s->bytes_written]);
	/* A shared record contributes its slowest rank's time, others the time of their rank. */
	if (base->rank < 0) {
		a->shared_time += f[s->fastest_time + 1];
		return 0;
	}
	t = scribe_rank_time_of(&a->ranks, base->rank);
	if (!t)
		return scribe_err_set(err, -ENOMEM, "times of %zu ranks: out of memory", a->ranks.n);
	t->total += f[s->meta_time] + f[s->read_time] + f[s->write_time];
	t->rw += f[s->read_time] + f[s->write_time];
	t->meta += f[s->meta_time];
	return 0;
}

/* Darshan's estimate: time of the slowest rank's own files plus time of shared files. */
void scribe_accum_perf(const struct scribe_accum *a, struct scribe_perf *ret_perf)
{
	struct scribe_perf p = {.bytes_read = a->bytes_read, .bytes_written = a->bytes_written};

	for (size_t i = 0; i < a->ranks.n; i++) {
		const struct scribe_rank_time *t = &a->ranks.entries[i];

		/* Of equal ranks the lowest, as in a loop over ascending ranks. */
		if (!(t->total > p.unique_time ||
		      (t->total == p.unique_time && t->total > 0 && t->rank < p.unique_slowest_rank)))
			continue;
		p.unique_time = t->total;
		p.unique_rw_time = t->rw;
		p.unique_meta_time = t->meta;
		p.unique_slowest_rank = t->rank;
	}
	p.shared_time = a->shared_time;
	p.agg_time = p.unique_time + p.shared_time;
	if (p.agg_time != 0)
		p.agg_perf = (double)scribe_sum(p.bytes_read, p.bytes_written) / 1048576.0 / p.agg_time;
	*ret_perf = p;
}

static size_t place_of(uint64_t id, size_t cap)
{
	return (size_t)scribe_keyed_id(id) & (cap - 1);
}

static int grow_files(struct scribe_accum *a)
{
	size_t cap = a->cap_files ? 2 * a->cap_files : 256;
	/* The index has two slots per file, so that probing stays short. */
	struct file_entry *files = realloc(a->files, cap * sizeof(*files));
	uint32_t *index;

	if (!files)
		return -ENOMEM;
	a->files = files;
	index = calloc(2 * cap, sizeof(*index));
	if (!index)
		return -ENOMEM;
	free(a->index);
	a->index = index;
	a->cap_files = cap;
	a->cap_index = 2 * cap;
	for (size_t i = 0; i < a->nfiles; i++) {
		size_t at = place_of(files[i].id, a->cap_index);

		while (index[at])
			at = (at + 1) & (a->cap_index - 1);
		index[at] = (uint32_t)i + 1;
	}
	return 0;
}

/* NULL: out of memory, or more files than the 32-bit index can address. */
static struct file_entry *file_of(struct scribe_accum *a, uint64_t id)
{
	size_t at;

	if (a->nfiles == a->cap_files && (a->nfiles >= UINT32_MAX / 4 || grow_files(a) < 0))
		return NULL;
	at = place_of(id, a->cap_index);
	while (a->index[at]) {
		struct file_entry *f = &a->files[a->index[at] - 1];

		if (f->id == id)
			return f;
		at = (at + 1) & (a->cap_index - 1);
	}
	a->index[at] = (uint32_t)++a->nfiles;
	a->files[a->nfiles - 1] = (struct file_entry){.id = id};
	return &a->files[a->nfiles - 1];
}

static int add_file(struct scribe_accum *a, const void *record, struct scribe_err *err)
{
	const struct counter_indices *s = a->counters;
	const struct scribe_base_record *base = record;
	const int64_t *ints = scribe_record_counters(a->module, record);
	struct file_entry *f = file_of(a, base->id);
	int64_t offset = -1;

	if (!f)
		return scribe_err_set(err, -ENOMEM, "table of %zu files: out of memory", a->nfiles);
	if (s->max_read != NONE)
		offset = ints[s->max_read] > ints[s->max_written] ? ints[s->max_read] : ints[s->max_written];
	f->bytes_read = scribe_sum(f->bytes_read, ints[s->bytes_read]);
	f->bytes_written = scribe_sum(f->bytes_written, ints[s->bytes_written]);
	if (offset == -1)
		f->max_offset = -1;
	else if (offset > f->max_offset)
		f->max_offset = offset;
	if (base->rank < 0)
		f->nprocs = -1;
	else
		f->nprocs++;
	return 0;
}

static void category_add(struct scribe_category *c, const struct file_entry *f)
{
	c->count++;
	c->bytes = scribe_sum(c->bytes, scribe_sum(f->bytes_read, f->bytes_written));
	if (f->max_offset == -1)
		c->max_offset = -1;
	else if (f->max_offset > c->max_offset)
		c->max_offset = f->max_offset;
}

void scribe_accum_files(const struct scribe_accum *a, struct scribe_category *ret_files)
{
	memset(ret_files, 0, SCRIBE_FILES_CATEGORIES * sizeof(*ret_files));
	for (size_t i = 0; i < a->nfiles; i++) {
		const struct file_entry *f = &a->files[i];
		int r = f->bytes_read > 0, w = f->bytes_written > 0;

		category_add(&ret_files[SCRIBE_FILES_ALL], f);
		if (r && f->bytes_written == 0)
			category_add(&ret_files[SCRIBE_FILES_READ_ONLY], f);
		else if (w && f->bytes_read == 0)
			category_add(&ret_files[SCRIBE_FILES_WRITE_ONLY], f);
		else if (r && w)
			category_add(&ret_files[SCRIBE_FILES_READ_WRITE], f);
		category_add(&ret_files[f->nprocs == 1    ? SCRIBE_FILES_UNIQUE
					: f->nprocs == -1 ? SCRIBE_FILES_SHARED
							  : SCRIBE_FILES_PART_SHARED],
			     f);
	}
}

int scribe_accum_file_at(const struct scribe_accum *a, size_t i, struct scribe_accum_file *ret_file)
{
	if (i >= a->nfiles)
		return 0;
	*ret_file = (struct scribe_accum_file){
		.id = a->files[i].id,
		.bytes_read = a->files[i].bytes_read,
		.bytes_written = a->files[i].bytes_written,
		.nprocs = a->files[i].nprocs,
		.max_offset = a->files[i].max_offset,
	};
	return 1;
}

int scribe_accum_add(struct scribe_accum *a, const void *record, struct scribe_err *err)
{
	int rc = 0;

	if (a->want & SCRIBE_WANT_TOTAL)
		add_total(a, record);
	if (a->want & SCRIBE_WANT_PERF)
		rc = add_perf(a, record, err);
	if (rc == 0 && a->want & SCRIBE_WANT_FILES)
		rc = add_file(a, record, err);
	a->records++;
	return rc;
}

const void *scribe_accum_total(const struct scribe_accum *a)
{
	return a->total;
}

int64_t scribe_accum_records(const struct scribe_accum *a)
{
	return a->records;
}

int scribe_accum_sum(int module, void *total, const void *record, int first)
{
	/* On the stack, around the caller's total. */
	struct scribe_accum a = {.counters = indices_of(module), .module = scribe_module_by_id(module), .total = total};

	if (!a.counters)
		return -SCRIBE_E_UNSUPPORTED;
	if (first)
		memset(total, 0, a.module->record_bytes);
	a.records = !first;
	add_total(&a, record);
	return 0;
}
