/* SPDX-License-Identifier: BSD-3-Clause */
/* Darshan's C interface: mod_logutils. One implementation, bound by macros to the modules' ids. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "logfmt/records/join.h"
#include "logfmt/records/reduce.h"
#include "logfmt/records/sum.h"
#include "util/logs/accum.h"
#include "util/compat/state.h"
#include "util/text/describe.h"
#include "util/text/print_record.h"

static int get(darshan_fd fd, int id, void **buf)
{
	struct scribe_reader *r = fd && fd->state ? fd->state->reader : NULL;
	const void *rec;
	size_t len;
	int rc;

	if (!r || !buf)
		return compat_error("invalid Darshan log file handle.");
	compat_region(fd, id);
	rc = scribe_reader_borrow_record(r, id, &rec, &len);
	if (rc < 0)
		return compat_error("%s", scribe_reader_error(r)->text);
	if (rc == 0)
		fd->state->region = REGION_NONE; /* the next read starts over */
	return rc ? compat_from_record(id, rec, len, buf) : 0;
}

static int put(darshan_fd fd, int id, void *buf)
{
	struct scribe_writer *w = fd && fd->state ? fd->state->writer : NULL;
	size_t len;
	void *rec;
	int rc;

	if (!w || !buf)
		return compat_error("invalid Darshan log file handle.");
	if (fd->state->stage == PUT_NOTHING)
		return compat_error("a module must not be written before the job.");
	/* The first record also writes the job region. */
	if (compat_begin(fd))
		return -1;
	rec = compat_to_record(id, buf, &len);
	if (!rec)
		return compat_error("%s record cannot be written.", darshan_module_names[id]);
	rc = scribe_writer_record(w, id, rec, len);
	free(rec);
	if (rc)
		return compat_error("%s", scribe_writer_error(w)->text);
	fd->state->stage = PUT_MODULES;
	return 0;
}

/* The interface cannot report an error here. */
static void print(int id, void *buf, char *name, char *mnt, char *fs)
{
	const struct scribe_module *m = scribe_module_by_id(id);
	static int apmpi_sync; /* of APMPI's head record */
	struct scribe_printer printer = {.mpi_sync = apmpi_sync};
	struct scribe_out out = {.fd = -1};
	size_t len;
	void *rec = compat_to_record(id, buf, &len);

	fflush(stdout); /* stdio's buffer first: `out` has its own */
	if (rec && scribe_out_open(&out, STDOUT_FILENO, NULL) == 0) {
		if (scribe_printer_module(&printer, &out, m, NULL) == 0)
			scribe_printer_record(&printer, rec, len, name, name ? strlen(name) : 0, mnt, fs, NULL);
		scribe_out_flush(&out, NULL);
		apmpi_sync = printer.mpi_sync;
	}
	scribe_printer_free(&printer);
	scribe_out_close(&out);
	free(rec);
}

static void describe(int id, int ver)
{
	struct scribe_out out = {.fd = -1};

	fflush(stdout);
	if (scribe_out_open(&out, STDOUT_FILENO, NULL) == 0) {
		scribe_describe(&out, id, (unsigned)ver);
		scribe_out_flush(&out, NULL);
	}
	scribe_out_close(&out);
}

/* Fastest and slowest rank of unshared records, as in Darshan's library. */
static void aggregate_ranks(int id, const void *rec, void *agg, int init)
{
	const struct scribe_join_plan *p = scribe_join_plan(id);
	const struct scribe_module *m = scribe_module_by_id(id);
	const struct darshan_base_record *base = rec;
	const int64_t *rc = scribe_record_counters(m, rec);
	const double *rf = scribe_record_fcounters(m, rec);
	int64_t *c = (int64_t *)((char *)agg + m->counters_at);
	double *f = (double *)((char *)agg + m->fcounters_at), time;

	if (!p || p->rank < 0 || base->rank < 0) /* not in this module */
		return;
	time = rf[p->meta_time] + rf[p->read_time] + rf[p->write_time];
	for (int k = 0; k < 2; k++) { /* fastest, slowest */
		if (!init && (k == 0 ? time >= f[p->rank_time] : time <= f[p->rank_time + 1]))
			continue;
		c[p->rank + 2 * k] = base->rank;
		c[p->rank + 2 * k + 1] = scribe_sum(rc[p->bytes_read], rc[p->bytes_written]);
		f[p->rank_time + k] = time;
	}
}

static void aggregate(int id, void *rec, void *agg, int init)
{
	struct darshan_base_record *sum = agg, *base = rec;

	/* Modules with metrics are summed as in Darshan's library, others by the merge rule. */
	if (scribe_accum_supports(id)) {
		scribe_accum_sum(id, agg, rec, init);
		return;
	}
	if (init)
		memcpy(agg, rec, scribe_record_length(id, rec, SIZE_MAX));
	else
		scribe_record_merge(id, agg, rec);
	aggregate_ranks(id, rec, agg, init);
	if (sum->id != base->id)
		sum->id = 0;
	if (sum->rank != base->rank)
		sum->rank = -1;
}

static const struct metrics {
	int id, bytes_read, bytes_written, max_read, max_written; /* counters; -1: not in this module */
	int meta, read, write, slowest;                           /* fcounters */
} all_metrics[] = {
#define TIMES(M) \
	M##_F_META_TIME, M##_F_READ_TIME, M##_F_WRITE_TIME, M##_F_SLOWEST_RANK_TIME
	{DARSHAN_POSIX_MOD, POSIX_BYTES_READ, POSIX_BYTES_WRITTEN, POSIX_MAX_BYTE_READ, POSIX_MAX_BYTE_WRITTEN,
	 TIMES(POSIX)},
	{DARSHAN_MPIIO_MOD, MPIIO_BYTES_READ, MPIIO_BYTES_WRITTEN, -1, -1, TIMES(MPIIO)},
	{DARSHAN_STDIO_MOD, STDIO_BYTES_READ, STDIO_BYTES_WRITTEN, STDIO_MAX_BYTE_READ, STDIO_MAX_BYTE_WRITTEN,
	 TIMES(STDIO)},
	{DARSHAN_DFS_MOD, DFS_BYTES_READ, DFS_BYTES_WRITTEN, -1, -1, TIMES(DFS)},
	{DARSHAN_DAOS_MOD, DAOS_BYTES_READ, DAOS_BYTES_WRITTEN, -1, -1, TIMES(DAOS)},
};

static int metrics(int id, void *rec, uint64_t *rec_id, int64_t *r_bytes, int64_t *w_bytes, int64_t *max_offset,
		   double *io_time, double *md_time, double *rw_time, int64_t *rank, int64_t *nprocs)
{
	const struct scribe_module *m = scribe_module_by_id(id);
	const struct darshan_base_record *base = rec;
	const int64_t *c = scribe_record_counters(m, rec);
	const double *f = scribe_record_fcounters(m, rec);
	const struct metrics *at = all_metrics;

	while (at->id != id)
		at++;
	*rec_id = base->id;
	*rank = base->rank;
	*nprocs = base->rank < 0 ? -1 : 1;
	*r_bytes = c[at->bytes_read];
	*w_bytes = c[at->bytes_written];
	*max_offset = -1;
	if (at->max_read >= 0)
		*max_offset = c[at->max_read] > c[at->max_written] ? c[at->max_read] : c[at->max_written];
	/* A shared record has only the time of its slowest rank, not its parts. */
	*io_time = base->rank < 0 ? f[at->slowest] : f[at->meta] + f[at->read] + f[at->write];
	*md_time = base->rank < 0 ? 0 : f[at->meta];
	*rw_time = base->rank < 0 ? 0 : f[at->read] + f[at->write];
	return 0;
}

static void lustre_agg(void *rec, void *agg, int init)
{
	const struct darshan_lustre_record *from = rec;
	struct darshan_lustre_record *to = agg;

	if (!init) /* ranks may see different layouts: the first one counts */
		return;
	*to = *from;
	to->comps = (struct darshan_lustre_component *)(to + 1);
	to->ost_ids = (OST_ID *)(to->comps + to->num_comps);
	memcpy(to->comps, from->comps, (size_t)from->num_comps * sizeof(*to->comps));
	memcpy(to->ost_ids, from->ost_ids, (size_t)from->num_stripes * sizeof(*to->ost_ids));
}

/* Traces are printed by dxt_log_print_*. */
static void no_rows(void *rec, char *name, char *mnt, char *fs)
{
	(void)rec, (void)name, (void)mnt, (void)fs;
}

#define GET(n, id) \
	static int n##_get(darshan_fd fd, void **buf) { return get(fd, id, buf); } \
	static int n##_put(darshan_fd fd, void *buf) { return put(fd, id, buf); } \
	static int n##_size(void *rec) { return (int)compat_sizeof(id, rec); }
#define PRINT(n, id) \
	static void n##_print(void *rec, char *name, char *mnt, char *fs) { print(id, rec, name, mnt, fs); } \
	static void n##_describe(int ver) { describe(id, ver); }
#define DIFF(n, id) \
	static void n##_diff(void *a, char *na, void *b, char *nb) { compat_diff(id, a, na, b, nb); }
#define SUM(n, id) \
	static void n##_agg(void *rec, void *agg, int init) { aggregate(id, rec, agg, init); }
#define METRICS(n, id) \
	static int n##_metrics(void *rec, uint64_t *i, int64_t *r, int64_t *w, int64_t *o, double *t, double *m, \
			       double *d, int64_t *k, int64_t *p) \
	{ \
		return metrics(id, rec, i, r, w, o, t, m, d, k, p); \
	}
#define TABLE(n) \
	struct darshan_mod_logutil_funcs n##_logutils = { \
		.log_get_record = n##_get, .log_put_record = n##_put, .log_sizeof_record = n##_size,
#define WITH_PRINT(n) .log_print_record = n##_print, .log_print_description = n##_describe,
#define WITH_DIFF(n) .log_print_diff = n##_diff,
#define WITH_SUM(n) .log_agg_records = n##_agg,
#define WITH_METRICS(n) .log_record_metrics = n##_metrics,

/* Modules with counters and metrics; with counters; and the rest. */
#define FULL(n, id) \
	GET(n, id) PRINT(n, id) DIFF(n, id) SUM(n, id) METRICS(n, id) \
	TABLE(n) WITH_PRINT(n) WITH_DIFF(n) WITH_SUM(n) WITH_METRICS(n) }
#define COUNTERS(n, id) \
	GET(n, id) PRINT(n, id) DIFF(n, id) SUM(n, id) TABLE(n) WITH_PRINT(n) WITH_DIFF(n) WITH_SUM(n) }
#define ROWS(n, id) GET(n, id) PRINT(n, id) TABLE(n) WITH_PRINT(n) }
#define COMPARED(n, id) GET(n, id) PRINT(n, id) DIFF(n, id) TABLE(n) WITH_PRINT(n) WITH_DIFF(n) }
#define LAYOUT(n, id) GET(n, id) PRINT(n, id) DIFF(n, id) TABLE(n) WITH_PRINT(n) WITH_DIFF(n) WITH_SUM(n) }
#define TRACES(n, id) GET(n, id) TABLE(n) .log_print_record = no_rows }

COUNTERS(null, DARSHAN_NULL_MOD);
FULL(posix, DARSHAN_POSIX_MOD);
FULL(mpiio, DARSHAN_MPIIO_MOD);
COUNTERS(hdf5_file, DARSHAN_H5F_MOD);
COUNTERS(hdf5_dataset, DARSHAN_H5D_MOD);
COUNTERS(pnetcdf_file, DARSHAN_PNETCDF_FILE_MOD);
COUNTERS(pnetcdf_var, DARSHAN_PNETCDF_VAR_MOD);
COUNTERS(bgq, DARSHAN_BGQ_MOD);
LAYOUT(lustre, DARSHAN_LUSTRE_MOD);
FULL(stdio, DARSHAN_STDIO_MOD);
TRACES(dxt_posix, DXT_POSIX_MOD);
TRACES(dxt_mpiio, DXT_MPIIO_MOD);
COUNTERS(mdhim, DARSHAN_MDHIM_MOD);
COMPARED(apmpi, DARSHAN_APMPI_MOD);
ROWS(heatmap, DARSHAN_HEATMAP_MOD);
FULL(dfs, DARSHAN_DFS_MOD);
FULL(daos, DARSHAN_DAOS_MOD);

struct darshan_mod_logutil_funcs *mod_logutils[DARSHAN_KNOWN_MODULE_COUNT] = {
	[DARSHAN_NULL_MOD] = &null_logutils,
	[DARSHAN_POSIX_MOD] = &posix_logutils,
	[DARSHAN_MPIIO_MOD] = &mpiio_logutils,
	[DARSHAN_H5F_MOD] = &hdf5_file_logutils,
	[DARSHAN_H5D_MOD] = &hdf5_dataset_logutils,
	[DARSHAN_PNETCDF_FILE_MOD] = &pnetcdf_file_logutils,
	[DARSHAN_PNETCDF_VAR_MOD] = &pnetcdf_var_logutils,
	[DARSHAN_BGQ_MOD] = &bgq_logutils,
	[DARSHAN_LUSTRE_MOD] = &lustre_logutils,
	[DARSHAN_STDIO_MOD] = &stdio_logutils,
	[DXT_POSIX_MOD] = &dxt_posix_logutils,
	[DXT_MPIIO_MOD] = &dxt_mpiio_logutils,
	[DARSHAN_MDHIM_MOD] = &mdhim_logutils,
	[DARSHAN_APXC_MOD] = NULL,
	[DARSHAN_APMPI_MOD] = &apmpi_logutils,
	[DARSHAN_HEATMAP_MOD] = &heatmap_logutils,
	[DARSHAN_DFS_MOD] = &dfs_logutils,
	[DARSHAN_DAOS_MOD] = &daos_logutils,
};

int darshan_log_get_record(darshan_fd fd, int mod_idx, void **buf)
{
	if (mod_idx < 0 || mod_idx >= DARSHAN_KNOWN_MODULE_COUNT || !mod_logutils[mod_idx])
		return compat_error("records of module %d cannot be read through this interface.", mod_idx);
	return mod_logutils[mod_idx]->log_get_record(fd, buf);
}
