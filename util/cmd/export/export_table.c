// SPDX-License-Identifier: BSD-3-Clause
/*
 * The tables of a log (docs/export.md). Cells borrow from log and record during the sink's call. Must not know
 * any export format.
 */
#include "util/cmd/export/export_table.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "logfmt/base/hash.h"
#include "util/cmd/export/export_rows.h"
#include "util/text/print_record.h"

#define COUNT(a) ((int)(sizeof(a) / sizeof((a)[0])))

static bool wanted(const struct scribe_export_rows *r, const char *name)
{
	return !r->sink->wanted || r->sink->wanted(r->sink->ctx, name);
}

/* Starts a table. 1: send rows; 0: not selected; negative: failed. */
static int begin(struct scribe_export_rows *r, const char *name, const struct scribe_column *columns, int n)
{
	int rc;

	if (!wanted(r, name))
		return 0;
	r->table = (struct scribe_export_table){name, columns, n};
	rc = r->sink->table(r->sink->ctx, &r->table, r->err);
	return rc < 0 ? rc : 1;
}

static const struct scribe_column job_columns[] = {
	{"log", SCRIBE_COL_TEXT},     {"format", SCRIBE_COL_TEXT},       {"uid", SCRIBE_COL_INT},
	{"jobid", SCRIBE_COL_INT},    {"start_time", SCRIBE_COL_INT},    {"start_time_nsec", SCRIBE_COL_INT},
	{"end_time", SCRIBE_COL_INT}, {"end_time_nsec", SCRIBE_COL_INT}, {"run_time", SCRIBE_COL_REAL},
	{"nprocs", SCRIBE_COL_INT},   {"exe", SCRIBE_COL_TEXT},          {"incomplete", SCRIBE_COL_INT},
};

static int put_job(struct scribe_export_rows *r)
{
	const struct scribe_log_header *h = scribe_reader_header(r->log->reader);
	const struct scribe_log_job *j = scribe_reader_job(r->log->reader);
	int rc = begin(r, "job", job_columns, COUNT(job_columns)), n = 0;

	if (rc <= 0)
		return rc;
	r->cells[n++] = cell_text(r->log->path);
	r->cells[n++] = cell_bytes(h->version, strnlen(h->version, sizeof(h->version)));
	r->cells[n++] = cell_int(j->uid);
	r->cells[n++] = cell_int(j->jobid);
	r->cells[n++] = cell_int(j->start_time_sec);
	r->cells[n++] = cell_int(j->start_time_nsec);
	r->cells[n++] = cell_int(j->end_time_sec);
	r->cells[n++] = cell_int(j->end_time_nsec);
	r->cells[n++] = cell_real(scribe_reader_runtime(r->log->reader));
	r->cells[n++] = cell_int(j->nprocs);
	r->cells[n++] = cell_text(scribe_reader_exe(r->log->reader));
	r->cells[n++] = cell_int((int64_t)h->partial_flag);
	return scribe_export_row(r);
}

static const struct scribe_column metadata_columns[] = {{"key", SCRIBE_COL_TEXT}, {"value", SCRIBE_COL_TEXT}};

static int put_metadata(struct scribe_export_rows *r)
{
	const char *at = scribe_reader_job(r->log->reader)->metadata;
	const char *end = at + strnlen(at, SCRIBE_JOB_METADATA_BYTES);
	int rc = begin(r, "metadata", metadata_columns, COUNT(metadata_columns));

	for (const char *stop; rc > 0 && at < end; at = stop + 1) {
		const char *equals;

		stop = memchr(at, '\n', (size_t)(end - at));
		stop = stop ? stop : end;
		equals = memchr(at, '=', (size_t)(stop - at));
		if (!equals)
			continue;
		r->cells[0] = cell_bytes(at, (size_t)(equals - at));
		r->cells[1] = cell_bytes(equals + 1, (size_t)(stop - equals - 1));
		rc = scribe_export_row(r) < 0 ? -1 : 1;
	}
	return rc < 0 ? rc : 0;
}

static const struct scribe_column mount_columns[] = {{"path", SCRIBE_COL_TEXT}, {"type", SCRIBE_COL_TEXT}};

static int put_mounts(struct scribe_export_rows *r)
{
	int rc = begin(r, "mount", mount_columns, COUNT(mount_columns));

	for (size_t i = 0; rc > 0 && i < r->log->nmounts; i++) {
		r->cells[0] = cell_text(r->log->mounts[i].path);
		r->cells[1] = cell_text(r->log->mounts[i].type);
		rc = scribe_export_row(r) < 0 ? -1 : 1;
	}
	return rc < 0 ? rc : 0;
}

static const struct scribe_column file_columns[] = {
	{"record_id", SCRIBE_COL_ID},
	{"name", SCRIBE_COL_TEXT},
	{"mount", SCRIBE_COL_TEXT},
	{"fs", SCRIBE_COL_TEXT},
};

static int put_files(struct scribe_export_rows *r)
{
	int rc = begin(r, "file", file_columns, COUNT(file_columns));

	for (size_t i = 0; rc > 0 && i < scribe_names_count(r->log->names); i++) {
		struct scribe_name n = scribe_names_at(r->log->names, i);
		struct scribe_mount m = scribe_print_mount_of(r->log->mounts, r->log->nmounts, n.bytes);

		r->cells[0] = cell_id(n.id);
		r->cells[1] = cell_bytes(n.bytes, n.len);
		r->cells[2] = cell_text(m.path);
		r->cells[3] = cell_text(m.type);
		rc = scribe_export_row(r) < 0 ? -1 : 1;
	}
	return rc < 0 ? rc : 0;
}

static const struct scribe_column place_columns[] = {
	{"record_id", SCRIBE_COL_ID}, {"rank", SCRIBE_COL_INT}, {"name", SCRIBE_COL_PLACE},
	{"mount", SCRIBE_COL_PLACE},  {"fs", SCRIBE_COL_PLACE},
};
_Static_assert(COUNT(place_columns) == SCRIBE_EXPORT_PLACES, "columns of a place");

static int add_column(struct scribe_export_rows *r, int n, const char *name, enum scribe_column_kind kind)
{
	r->columns[n] = (struct scribe_column){name, kind};
	return n + 1;
}

static int extra_columns(struct scribe_export_rows *r, int module, int n)
{
	switch (module) {
	case SCRIBE_MOD_H5D:
	case SCRIBE_MOD_PNETCDF_VAR:
		return add_column(r, n, "file_record_id", SCRIBE_COL_ID);
	case SCRIBE_MOD_DFS:
	case SCRIBE_MOD_DAOS:
		n = add_column(r, n, "pool_container", SCRIBE_COL_TEXT);
		return module == SCRIBE_MOD_DAOS ? add_column(r, n, "object_id", SCRIBE_COL_TEXT) : n;
	case SCRIBE_MOD_APMPI:
		return add_column(r, n, "node_name", SCRIBE_COL_TEXT);
	case SCRIBE_MOD_MDHIM:
		return add_column(r, n, "server_histogram", SCRIBE_COL_TEXT);
	case SCRIBE_MOD_PROCESS:
		n = add_column(r, n, "host", SCRIBE_COL_TEXT);
		return add_column(r, n, "exe", SCRIBE_COL_TEXT);
	default:
		return n;
	}
}

/* "POOL:CONTAINER" in the usual grouping of UUIDs. */
static void put_uuids(const uint8_t *pool, const uint8_t *cont, char *to)
{
	for (int k = 0; k < 2; k++)
		for (int i = 0; i < 16; i++)
			to += sprintf(to, "%s%02x",
				      i == 4 || i == 6 || i == 8 || i == 10 ? "-"
				      : k && !i                             ? ":"
									    : "",
				      (k ? cont : pool)[i]);
}

static int extra_cells(struct scribe_export_rows *r, int module, const void *record, int n)
{
	const struct scribe_h5d_record *h5d = record;
	const struct scribe_dfs_record *dfs = record;
	const struct scribe_daos_record *daos = record;
	const struct scribe_apmpi_record *apmpi = record;
	const struct scribe_mdhim_record *mdhim = record;
	const struct scribe_process_record *process = record;

	switch (module) {
	case SCRIBE_MOD_H5D:
	case SCRIBE_MOD_PNETCDF_VAR:
		r->cells[n++] = cell_id(h5d->file_rec_id);
		return n;
	case SCRIBE_MOD_DFS:
		put_uuids(dfs->pool_uuid, dfs->cont_uuid, r->pool);
		r->cells[n++] = cell_text(r->pool);
		return n;
	case SCRIBE_MOD_DAOS:
		put_uuids(daos->pool_uuid, daos->cont_uuid, r->pool);
		snprintf(r->oid, sizeof(r->oid), "%llu.%llu", (unsigned long long)daos->oid_hi,
			 (unsigned long long)daos->oid_lo);
		r->cells[n++] = cell_text(r->pool);
		r->cells[n++] = cell_text(r->oid);
		return n;
	case SCRIBE_MOD_MDHIM:
		r->list = scribe_export_ints(mdhim->server_histogram, mdhim->counters[SCRIBE_MDHIM_SERVERS]);
		r->cells[n++] = cell_text(r->list);
		return n;
	case SCRIBE_MOD_APMPI:
		r->cells[n++] = cell_bytes(apmpi->node_name, strnlen(apmpi->node_name, sizeof(apmpi->node_name)));
		return n;
	case SCRIBE_MOD_PROCESS:
		r->cells[n++] = cell_bytes(process->host, strnlen(process->host, sizeof(process->host)));
		r->cells[n++] = cell_bytes(process->exe, strnlen(process->exe, sizeof(process->exe)));
		return n;
	default:
		return n;
	}
}

static void table_name(const char *module, char *to, size_t cap)
{
	size_t n = 0;

	for (; *module && n + 1 < cap; module++) {
		if (*module >= 'A' && *module <= 'Z')
			to[n++] = (char)(*module - 'A' + 'a');
		else if (*module != '-' && *module != '/')
			to[n++] = *module;
	}
	to[n] = '\0';
}

static int counters_begin(struct scribe_export_rows *r, const struct scribe_module *m)
{
	int n = SCRIBE_EXPORT_PLACES;

	memcpy(r->columns, place_columns, sizeof(place_columns));
	/* RENAMED_FROM is a record id among the counters: signed it would not match the other ids. */
	for (int i = 0; i < m->ncounters; i++)
		n = add_column(r, n, m->counters[i].name,
			       m->id == SCRIBE_MOD_POSIX && i == SCRIBE_POSIX_RENAMED_FROM ? SCRIBE_COL_ID
											   : SCRIBE_COL_INT);
	for (int i = 0; i < m->nfcounters; i++)
		n = add_column(r, n, m->fcounters[i].name, SCRIBE_COL_REAL);
	n = extra_columns(r, m->id, n);
	table_name(m->name, r->table_name, sizeof(r->table_name));
	return begin(r, r->table_name, r->columns, n);
}

static int counters_row(struct scribe_export_rows *r, const struct scribe_module *m, const void *record)
{
	const int64_t *ints = scribe_record_counters(m, record);
	const double *reals = scribe_record_fcounters(m, record);
	int n = scribe_export_place(r, record), rc;

	for (int i = 0; i < m->ncounters; i++)
		r->cells[n++].i = ints[i];
	for (int i = 0; i < m->nfcounters; i++)
		r->cells[n++].r = reals[i];
	for (int i = SCRIBE_EXPORT_PLACES; i < n; i++)
		r->cells[i].null = 0;
	extra_cells(r, m->id, record, n);
	if (m->id == SCRIBE_MOD_MDHIM && !r->list)
		return scribe_err_set(r->err, -ENOMEM, "MDHIM record: out of memory");
	rc = scribe_export_row(r);
	free(r->list);
	r->list = NULL;
	return rc;
}

static int put_record(struct scribe_export_rows *r, const struct scribe_module *m,
		      const struct scribe_export_list *list, const void *record, size_t len)
{
	if (list)
		return list->rows(r, record);
	if (m->id == SCRIBE_MOD_APMPI && len < sizeof(struct scribe_apmpi_record))
		return 0;
	return counters_row(r, m, record);
}

static int put_module(struct scribe_export_rows *r, const struct scribe_module *m)
{
	const struct scribe_export_list *list = scribe_export_list_of(m->id);
	const void *record;
	size_t len;
	int rc;

	if (list) {
		table_name(m->name, r->table_name, sizeof(r->table_name));
		rc = begin(r, r->table_name, list->columns, list->ncolumns);
	} else {
		rc = counters_begin(r, m);
	}
	if (rc <= 0)
		return rc;
	while ((rc = scribe_reader_borrow_record(r->log->reader, m->id, &record, &len)) > 0)
		if (put_record(r, m, list, record, len) < 0)
			return -1;
	if (rc < 0 && r->err)
		*r->err = *scribe_reader_error(r->log->reader);
	return rc;
}

static const struct scribe_column apmpi_head_columns[] = {
	{"record_id", SCRIBE_COL_ID},
	{"rank", SCRIBE_COL_INT},
	{"sync_flag", SCRIBE_COL_INT},
	{"MPI_TOTAL_COMM_TIME_VARIANCE", SCRIBE_COL_REAL},
	{"MPI_TOTAL_COMM_SYNC_TIME_VARIANCE", SCRIBE_COL_REAL},
};

static int put_apmpi_heads(struct scribe_export_rows *r)
{
	const struct scribe_apmpi_header_record *head;
	const void *record;
	size_t len;
	int rc = begin(r, "apmpi_head", apmpi_head_columns, COUNT(apmpi_head_columns));

	if (rc <= 0)
		return rc;
	scribe_reader_rewind(r->log->reader, SCRIBE_MOD_APMPI);
	while ((rc = scribe_reader_borrow_record(r->log->reader, SCRIBE_MOD_APMPI, &record, &len)) > 0) {
		if (len >= sizeof(struct scribe_apmpi_record))
			continue;
		head = record;
		r->cells[0] = cell_id(head->base.id);
		r->cells[1] = cell_int(head->base.rank);
		r->cells[2] = cell_int(head->sync_flag);
		r->cells[3] = cell_real(head->variance_total_mpitime);
		r->cells[4] = cell_real(head->variance_total_mpisynctime);
		r->cells[4].null = head->sync_flag == 0;
		if (scribe_export_row(r) < 0)
			return -1;
	}
	if (rc < 0 && r->err)
		*r->err = *scribe_reader_error(r->log->reader);
	return rc;
}

bool scribe_export_has_table(const char *name)
{
	static const char *const tables[] = {"job", "metadata", "mount", "file", "apmpi_head"};
	char of_module[64];

	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
		if (!strcmp(tables[i], name))
			return true;
	for (int i = 0; i < SCRIBE_MAX_MODULES; i++) {
		if (!scribe_module_by_id(i))
			continue;
		table_name(scribe_module_by_id(i)->name, of_module, sizeof(of_module));
		if (!strcmp(of_module, name))
			return true;
	}
	return false;
}

int scribe_export_log(struct scribe_log *log, const struct scribe_export_sink *sink, struct scribe_err *err)
{
	struct scribe_export_rows *r = calloc(1, sizeof(*r));
	int rc;

	if (!r)
		return scribe_err_set(err, -ENOMEM, "export: out of memory");
	r->log = log;
	r->sink = sink;
	r->err = err;
	/* job first, so that the lines of each of several logs start with that log's own. */
	rc = put_job(r);
	if (rc >= 0)
		rc = put_metadata(r);
	if (rc >= 0)
		rc = put_mounts(r);
	if (rc >= 0)
		rc = put_files(r);
	for (int i = 0; i < SCRIBE_MAX_MODULES && rc >= 0; i++)
		if (scribe_reader_has(log->reader, i) && scribe_module_by_id(i))
			rc = put_module(r, scribe_module_by_id(i));
	if (rc >= 0 && scribe_reader_has(log->reader, SCRIBE_MOD_APMPI))
		rc = put_apmpi_heads(r);
	free(r);
	return rc;
}

int scribe_export_digest(const char *path, uint64_t *ret_digest, int64_t *ret_bytes, struct scribe_err *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), rc = 0;
	struct stat st = {0};
	void *map = MAP_FAILED;

	if (fd < 0 || fstat(fd, &st) < 0)
		rc = scribe_err_set(err, -errno, "%s: %s", path, strerror(errno));
	else if (st.st_size > 0) {
		map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
		if (map == MAP_FAILED)
			rc = scribe_err_set(err, -errno, "%s: %s", path, strerror(errno));
	}
	if (rc >= 0) {
		*ret_bytes = (int64_t)st.st_size;
		*ret_digest = st.st_size > 0 ? scribe_record_id(map, (size_t)st.st_size) : 0;
	}
	if (map != MAP_FAILED)
		munmap(map, (size_t)st.st_size);
	if (fd >= 0)
		close(fd);
	return rc;
}
