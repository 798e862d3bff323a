// SPDX-License-Identifier: BSD-3-Clause
/*
 * Figures of one log. Knows POSIX and STDIO records; must not know other logs.
 */
#include "util/analyze_log.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "util/logfile.h"
#include "util/print_record.h"

/* Where the two modules that touch file systems count. */
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

static int add_mount(const struct scribe_log *log, uint64_t id, const struct scribe_totals *t,
		     struct scribe_log_figures *f)
{
	const char *name = scribe_names_find(log->names, id, NULL);
	struct scribe_mount m = scribe_mount_of(log->mounts, log->nmounts, name);
	char key[512];

	if (!strcmp(m.path, "UNKNOWN")) /* terminal, pipes, names without a mount */
		snprintf(key, sizeof(key), "(none)");
	else
		snprintf(key, sizeof(key), "%.400s (%.100s)", m.path, m.type);
	return scribe_tally_add(&f->mounts, key, t);
}

static int read_layer(struct scribe_log *log, const struct layer *l, int with_mounts, double *io_time,
		      int64_t *records, struct scribe_log_figures *f, struct scribe_err *err)
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

		++*records;
		*io_time += t.io_time;
		f->shared |= l->module == SCRIBE_MOD_POSIX && base->rank == -1;
		f->per_process |= l->module == SCRIBE_MOD_POSIX && base->rank != -1;
		scribe_totals_add(&f->totals, &t);
		if (with_mounts && add_mount(log, base->id, &t, f) < 0)
			return scribe_err_set(err, -ENOMEM, "%s: out of memory", log->path);
	}
	if (rc < 0)
		*err = *scribe_reader_error(log->reader);
	return rc;
}

/* The program's name: the last part of the command line's first word. */
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

static void take_job(const struct scribe_log *log, struct scribe_log_figures *f)
{
	const struct scribe_log_header *h = scribe_reader_header(log->reader);
	const struct scribe_log_job *job = scribe_reader_job(log->reader);

	f->mpiio = h->mod_map[SCRIBE_MOD_MPIIO].len > 0;
	f->hdf5 = h->mod_map[SCRIBE_MOD_H5F].len > 0 || h->mod_map[SCRIBE_MOD_H5D].len > 0;
	f->pnetcdf =
		h->mod_map[SCRIBE_MOD_PNETCDF_FILE].len > 0 || h->mod_map[SCRIBE_MOD_PNETCDF_VAR].len > 0;
	f->totals.logs = 1;
	f->totals.run_time = scribe_reader_runtime(log->reader) * (double)job->nprocs;
	snprintf(f->user, sizeof(f->user), "%lld", (long long)job->uid);
	take_program(scribe_reader_exe(log->reader), f);
}

int scribe_analyze_log(const char *path, int with_mounts, struct scribe_log_figures *ret_f,
		       struct scribe_err *err)
{
	struct scribe_log log;
	struct scribe_log_figures f = {0};
	double posix_time = 0, stdio_time = 0;
	int64_t posix = 0, stdio = 0;
	int rc = scribe_log_open(&log, path, with_mounts ? SCRIBE_LOG_NAMES : 0, err);

	if (rc >= 0)
		rc = read_layer(&log, &layers[0], with_mounts, &posix_time, &posix, &f, err);
	if (rc >= 0)
		rc = read_layer(&log, &layers[1], with_mounts, &stdio_time, &stdio, &f, err);
	if (rc >= 0) {
		take_job(&log, &f);
		if (posix)
			f.io_ratio = posix_time / scribe_reader_runtime(log.reader);
		for (size_t i = 0; i < f.mounts.n; i++)
			f.mounts.entries[i].totals.logs = 1;
		*ret_f = f;
	} else {
		scribe_tally_free(&f.mounts);
	}
	scribe_log_close(&log);
	return rc;
}
