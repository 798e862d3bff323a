// SPDX-License-Identifier: BSD-3-Clause
/*
 * Figures of one log for `ioscribe analyze`: POSIX and STDIO bytes and times per mount, job, modules. Runs in
 * several threads. Must not know other logs.
 */
#include "util/cmd/analyze/analyze_log.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/logs/logfile.h"
#include "util/text/print_record.h"

static const struct layer {
	int module;
	int bytes_read, bytes_written;
	int read_time, write_time, meta_time;
} layers[] = {
	{SCRIBE_MOD_POSIX, SCRIBE_POSIX_BYTES_READ, SCRIBE_POSIX_BYTES_WRITTEN, SCRIBE_POSIX_F_READ_TIME,
	 SCRIBE_POSIX_F_WRITE_TIME, SCRIBE_POSIX_F_META_TIME},
	{SCRIBE_MOD_STDIO, SCRIBE_STDIO_BYTES_READ, SCRIBE_STDIO_BYTES_WRITTEN, SCRIBE_STDIO_F_READ_TIME,
	 SCRIBE_STDIO_F_WRITE_TIME, SCRIBE_STDIO_F_META_TIME},
};

struct by_mount {
	struct scribe_totals totals;
	int any;
	uint64_t first, mask; /* the path's first 8 bytes; 0xff for each byte that the path has */
};

static uint64_t first_bytes(const char *text, size_t len)
{
	uint64_t word = 0;

	if (len >= sizeof(word))
		memcpy(&word, text, sizeof(word));
	else
		memcpy(&word, text, len);
	return word;
}

static void begin_mounts(const struct scribe_log *log, struct by_mount *mounts)
{
	static const char all[8] = {-1, -1, -1, -1, -1, -1, -1, -1};

	for (size_t i = 0; i < log->nmounts; i++) {
		size_t len = strlen(log->mounts[i].path);

		mounts[i].first = first_bytes(log->mounts[i].path, len);
		mounts[i].mask = first_bytes(all, len < sizeof(all) ? len : sizeof(all));
	}
}

static size_t mount_index(const struct scribe_log *log, const struct by_mount *mounts, uint64_t id)
{
	size_t i = 0, len;
	const char *name = scribe_names_find(log->names, id, &len);
	uint64_t first;

	if (!name)
		return log->nmounts;
	first = first_bytes(name, len);
	/* Comparing eight bytes at once rejects most mounts. */
	while (i < log->nmounts &&
	       ((first & mounts[i].mask) != mounts[i].first || scribe_mount_index(&log->mounts[i], 1, name) != 0))
		i++;
	return i;
}

static void count_mount(const struct scribe_log *log, uint64_t id, const struct scribe_totals *t,
			struct by_mount *mounts)
{
	struct by_mount *to = &mounts[mount_index(log, mounts, id)];

	scribe_totals_add(&to->totals, t);
	to->any = 1;
}

static int read_layer(struct scribe_log *log, const struct layer *l, struct by_mount *mounts, double *io_time,
		      struct scribe_log_figures *f, struct scribe_err *err)
{
	const struct scribe_module *m = scribe_module_by_id(l->module);
	const void *record;
	size_t len;
	int rc;

	while ((rc = scribe_reader_borrow_record(log->reader, l->module, &record, &len)) > 0) {
		const struct scribe_base_record *base = record;
		const int64_t *c = scribe_record_counters(m, record);
		const double *r = scribe_record_fcounters(m, record);
		struct scribe_totals t = {0, c[l->bytes_read], c[l->bytes_written],
					  r[l->read_time] + r[l->write_time] + r[l->meta_time], 0};

		*io_time += t.io_time;
		f->shared |= l->module == SCRIBE_MOD_POSIX && base->rank == -1;
		f->per_process |= l->module == SCRIBE_MOD_POSIX && base->rank != -1;
		scribe_totals_add(&f->totals, &t);
		if (mounts)
			count_mount(log, base->id, &t, mounts);
	}
	if (rc < 0)
		*err = *scribe_reader_error(log->reader);
	return rc;
}

static int tally_mounts(const struct scribe_log *log, struct by_mount *mounts, struct scribe_log_figures *f)
{
	for (size_t i = 0; i <= log->nmounts; i++) {
		char key[512] = "(none)";

		if (!mounts[i].any)
			continue;
		if (i < log->nmounts)
			snprintf(key, sizeof(key), "%.400s (%.100s)", log->mounts[i].path, log->mounts[i].type);
		if (scribe_tally_add(&f->mounts, key, &mounts[i].totals) < 0)
			return -ENOMEM;
	}
	/* The additions above counted records; a mount counts each log once. */
	for (size_t i = 0; i < f->mounts.n; i++)
		f->mounts.entries[i].totals.logs = 1;
	return 0;
}

static void take_program(const char *exe, struct scribe_log_figures *f)
{
	size_t len = strcspn(exe, " \t\n"), from = len;

	while (from > 0 && exe[from - 1] != '/')
		from--;
	if (from == len)
		snprintf(f->program, sizeof(f->program), "(unknown)");
	else
		snprintf(f->program, sizeof(f->program), "%.*s", (int)(len - from < 120 ? len - from : 120),
			 exe + from);
}

static void take_modules(const struct scribe_log *log, struct scribe_log_figures *f)
{
	const struct scribe_log_header *h = scribe_reader_header(log->reader);

	f->mpiio = h->mod_map[SCRIBE_MOD_MPIIO].len > 0;
	f->hdf5 = h->mod_map[SCRIBE_MOD_H5F].len > 0 || h->mod_map[SCRIBE_MOD_H5D].len > 0;
	f->pnetcdf = h->mod_map[SCRIBE_MOD_PNETCDF_FILE].len > 0 || h->mod_map[SCRIBE_MOD_PNETCDF_VAR].len > 0;
}

static void take_job(const struct scribe_log *log, struct scribe_log_figures *f)
{
	const struct scribe_log_job *job = scribe_reader_job(log->reader);

	f->totals.logs = 1;
	f->totals.run_time = scribe_reader_runtime(log->reader) * (double)job->nprocs;
	snprintf(f->user, sizeof(f->user), "%lld", (long long)job->uid);
	take_program(scribe_reader_exe(log->reader), f);
}

static int read_layers(struct scribe_log *log, double *posix_time, struct scribe_log_figures *f, struct scribe_err *err)
{
	struct by_mount *mounts = calloc(log->nmounts + 1, sizeof(*mounts));
	double stdio_time = 0;
	int rc;

	if (!mounts)
		return scribe_err_set(err, -ENOMEM, "%s: out of memory", log->path);
	begin_mounts(log, mounts);
	rc = read_layer(log, &layers[0], mounts, posix_time, f, err);
	if (rc >= 0)
		rc = read_layer(log, &layers[1], mounts, &stdio_time, f, err);
	if (rc >= 0 && tally_mounts(log, mounts, f) < 0)
		rc = scribe_err_set(err, -ENOMEM, "%s: out of memory", log->path);
	free(mounts);
	return rc;
}

int scribe_analyze_log(const char *path, int stock, struct scribe_log_figures *ret_f, struct scribe_err *err)
{
	struct scribe_log log = {.path = path};
	struct scribe_log_figures f = {0};
	double posix_time = 0;
	int rc =
		stock ? scribe_reader_open(path, &log.reader, err) : scribe_log_open(&log, path, SCRIBE_LOG_NAMES, err);

	if (rc >= 0)
		rc = stock ? read_layer(&log, &layers[0], NULL, &posix_time, &f, err)
			   : read_layers(&log, &posix_time, &f, err);
	if (rc >= 0) {
		take_modules(&log, &f);
		if (!stock)
			take_job(&log, &f);
		if (f.shared || f.per_process)
			f.io_ratio = posix_time / scribe_reader_runtime(log.reader);
		*ret_f = f;
	} else {
		scribe_tally_free(&f.mounts);
	}
	scribe_log_close(&log);
	return rc;
}
