/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Converts a rank's records to those of the log (POSIX, libraries, LAYERS), and feeds modules of plain code.
 * The caller owns the bundle, a rank its core until it is finished. Main thread, and the process that builds a
 * log. Must not know how records are collected.
 */
#include "runtime/daemon/events/modules.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "logfmt/counters/built.h"
#include "logfmt/records/layers.h"
#include "logfmt/records/lib_finish.h"
#include "runtime/core/module_table.h"
#include "runtime/daemon/lookup/file_xattrs.h"

#define PLAIN_MEMORY (4u << 20) /* for all plain modules, per rank */

static struct scribe_core *core_new(struct scribe_job *job, int64_t rank, uint64_t base_ns, size_t memory)
{
	struct scribe_core_options o = {
		.rank = rank,
		.memory = memory,
		.mem_alignment = (int)job->config.mem_alignment,
		.base_ns = base_ns,
		.paths = &job->config.paths,
		.mounts = job->mounts.mount,
		.nmounts = job->mounts.n,
	};

	return scribe_core_new(&o);
}

static bool any_on(const char *list)
{
	for (int i = 0; scribe_daemon_modules[i]; i++)
		if (scribe_module_is_on(scribe_daemon_modules[i], list))
			return true;
	return false;
}

/* Made when first needed. NULL: no such module is enabled, or out of memory. */
static struct scribe_core *plain_core(struct scribe_job *job, const struct scribe_log_unit *u, struct scribe_rank *r)
{
	if (r->core || !any_on(job->config.modules))
		return r->core;
	r->core = core_new(job, r->rank, u->start_ns, PLAIN_MEMORY);
	for (int i = 0; r->core && scribe_daemon_modules[i]; i++)
		if (scribe_module_is_on(scribe_daemon_modules[i], job->config.modules) &&
		    scribe_daemon_modules[i]->rank_begin)
			scribe_daemon_modules[i]->rank_begin(r->core);
	return r->core;
}

void scribe_daemon_modules_process_end(const struct scribe_process *p)
{
	struct scribe_job *job = p->job;
	struct scribe_core *core = p->rank ? plain_core(job, p->unit, p->rank) : NULL;
	struct scribe_module_process x = {
		.pid = p->tgid,
		.status = p->status,
		.start = p->start_ns > p->unit->start_ns ? (double)(p->start_ns - p->unit->start_ns) / 1e9 : 0,
		.end = p->end_ns > p->unit->start_ns ? (double)(p->end_ns - p->unit->start_ns) / 1e9 : 0,
		.exe = p->exe,
		.operations = p->totals.operations,
		.bytes_read = p->totals.bytes_read,
		.bytes_written = p->totals.bytes_written,
	};

	for (int i = 0; core && scribe_daemon_modules[i]; i++)
		if (scribe_module_is_on(scribe_daemon_modules[i], job->config.modules) &&
		    scribe_daemon_modules[i]->process_end)
			scribe_daemon_modules[i]->process_end(core, &x);
}

static bool shape_of(void *ctx, int64_t key, struct scribe_access_pattern *ret_shape)
{
	return scribe_access_patterns_find(ctx, key, ret_shape);
}

/* Nothing for a record without operations. */
static int lib_record(struct scribe_job *job, int64_t rank, const struct scribe_file_record *f, uint64_t base_ns,
		      struct scribe_bundle *b)
{
	union scribe_lib_record rec;
	size_t bytes = scribe_lib_record_make(f->module, &f->acc, f->id, rank, base_ns, f->mode, shape_of,
					      &job->patterns, &rec);

	if (!bytes)
		return 0;
	if (f->module == SCRIBE_MOD_H5D)
		rec.h5d.file_rec_id = f->file_id;
	if (f->module == SCRIBE_MOD_PNETCDF_VAR)
		rec.nc_var.file_rec_id = f->file_id;
	return scribe_bundle_add(b, f->module, &rec, bytes);
}

/* POSIX, extended counters, the page cache. */
static int posix_records(struct scribe_job *job, int64_t rank, const struct scribe_file_record *f, uint64_t base_ns,
			 struct scribe_bundle *b)
{
	struct scribe_posix_ext_record ext = {0};
	struct scribe_cache_record cache;
	struct scribe_posix_record rec = {0};
	int rc = 0;

	if (scribe_file_has_posix(f)) {
		/* the block size of a file that was only renamed or removed is not known: -1 */
		scribe_posix_acc_record(&f->acc, f->id, rank, base_ns, f->mode, f->align ? (int64_t)f->align : -1,
					job->config.mem_alignment, f->renamed_from, &rec);
		rc = scribe_bundle_add(b, SCRIBE_MOD_POSIX, &rec, sizeof(rec));
	}
	if (rc == 0 && IOSCRIBE_MODULE_POSIX_EXT && scribe_posix_acc_ext_record(&f->acc, f->id, rank, &ext))
		rc = scribe_bundle_add(b, SCRIBE_MOD_POSIX_EXT, &ext, sizeof(ext));
	if (rc == 0 && IOSCRIBE_MODULE_CACHE &&
	    scribe_posix_acc_cache_record(&f->acc, f->id, rank, job->cache_known, &cache))
		rc = scribe_bundle_add(b, SCRIBE_MOD_CACHE, &cache, sizeof(cache));
	return rc;
}

/* The id of the file, also for datasets and variables. */
static uint64_t file_of(const struct scribe_file_record *f)
{
	return f->module == SCRIBE_MOD_H5D || f->module == SCRIBE_MOD_PNETCDF_VAR ? f->file_id : f->id;
}

static bool has_layers(const struct scribe_file_record *f)
{
	return f->module != SCRIBE_MOD_POSIX && f->module != SCRIBE_MOD_STDIO && f->module != SCRIBE_MOD_CUFILE &&
	       file_of(f);
}

/* For files that a library has used: sums over all levels. */
static int layers_of(int64_t rank, const struct scribe_records *files, struct scribe_layers_record *rec,
		     struct scribe_map *by_file, struct scribe_bundle *b)
{
	size_t n = 0;
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < files->n; i++) {
		const struct scribe_file_record *f = files->file[i];

		if (!has_layers(f) || scribe_map_get(by_file, file_of(f)))
			continue;
		rec[n].base = (struct scribe_base_record){file_of(f), rank};
		rc = scribe_map_put(by_file, file_of(f), &rec[n++]);
	}
	/* a second pass, because `by_file` needs all records */
	for (size_t i = 0; rc == 0 && i < files->n; i++) {
		struct scribe_layers_record *of = scribe_map_get(by_file, file_of(files->file[i]));

		if (of)
			scribe_layers_add(of, files->file[i]->module, &files->file[i]->acc);
	}
	for (size_t i = 0; rc == 0 && i < n; i++) {
		scribe_layers_ratios(rec[i].counters, rec[i].fcounters);
		rc = scribe_bundle_add(b, SCRIBE_MOD_LAYERS, &rec[i], sizeof(rec[i]));
	}
	return rc;
}

static int layers(int64_t rank, const struct scribe_records *files, struct scribe_bundle *b)
{
	struct scribe_layers_record *rec;
	struct scribe_map by_file = {0};
	size_t most = 0;
	int rc;

	for (size_t i = 0; IOSCRIBE_MODULE_LAYERS && i < files->n; i++)
		most += has_layers(files->file[i]);
	if (!most)
		return 0;
	rec = calloc(most, sizeof(*rec));
	rc = rec ? layers_of(rank, files, rec, &by_file, b) : -ENOMEM;
	scribe_map_clear(&by_file);
	free(rec);
	return rc;
}

int scribe_daemon_modules_records(struct scribe_job *job, int64_t rank, const struct scribe_records *files,
				  uint64_t base_ns, struct scribe_bundle *b)
{
	int rc = 0;

	for (size_t i = 0; files && i < files->n && rc == 0; i++)
		rc = files->file[i]->module == SCRIBE_MOD_POSIX ? posix_records(job, rank, files->file[i], base_ns, b)
								: lib_record(job, rank, files->file[i], base_ns, b);
	return rc < 0 || !files ? rc : layers(rank, files, b);
}

struct finish {
	struct scribe_job *w;
	struct scribe_bundle *b;
};

static int take_name(void *ctx, uint64_t id, const char *name, size_t len)
{
	const struct finish *f = ctx;
	struct scribe_name_entry *entry = scribe_name_table_intern(&f->w->names, name, len);

	(void)id;
	return entry ? 0 : -ENOMEM;
}

static int take_record(void *ctx, int module, const void *rec, size_t bytes)
{
	const struct finish *f = ctx;

	return scribe_bundle_add(f->b, module, rec, bytes);
}

/* Names go to the job's table. */
static int finish_core(struct scribe_job *job, struct scribe_core *core, struct scribe_bundle *b, uint64_t *partial)
{
	struct finish f = {job, b};
	const struct scribe_core_sink sink = {take_name, take_record, &f};

	/* before finishing, which empties the core */
	*partial |= scribe_core_partial(core);
	return scribe_core_finish(core, &sink);
}

int scribe_daemon_modules_rank(struct scribe_job *job, struct scribe_rank *r, struct scribe_bundle *b,
			       uint64_t *partial)
{
	struct scribe_core *core = r->core;
	int rc;

	if (!core)
		return 0;
	for (int i = 0; scribe_daemon_modules[i]; i++)
		if (scribe_module_is_on(scribe_daemon_modules[i], job->config.modules) &&
		    scribe_daemon_modules[i]->rank_end)
			scribe_daemon_modules[i]->rank_end(core);
	rc = finish_core(job, core, b, partial);
	r->core = scribe_core_free(core);
	return rc;
}

struct file_rank {
	uint64_t id;
	int64_t rank;
};

/* Shared records (rank -1) first. */
static int by_id_rank(const void *a, const void *b)
{
	const struct file_rank *x = a, *y = b;

	if (x->id != y->id)
		return x->id < y->id ? -1 : 1;
	return (x->rank > y->rank) - (x->rank < y->rank);
}

static int by_rank(const void *a, const void *b)
{
	const struct file_rank *x = a, *y = b;

	return x->rank != y->rank ? (x->rank > y->rank) - (x->rank < y->rank) : (x->id > y->id) - (x->id < y->id);
}

static bool is_of_file(int module)
{
	return module == SCRIBE_MOD_POSIX || module == SCRIBE_MOD_STDIO || module == SCRIBE_MOD_MPIIO ||
	       module == SCRIBE_MOD_H5F || module == SCRIBE_MOD_PNETCDF_FILE;
}

/* One entry per file and rank, or one for a shared file; sorted by rank. */
static size_t places_of(const struct scribe_bundle *b, struct file_rank *file_rank)
{
	size_t n = 0, kept = 0;

	for (size_t i = 0; i < b->n; i++)
		if (is_of_file(b->rec[i]->module))
			file_rank[n++] = (struct file_rank){b->rec[i]->id, b->rec[i]->rank};
	qsort(file_rank, n, sizeof(*file_rank), by_id_rank);
	for (size_t i = 0; i < n; i++)
		if (!kept || file_rank[kept - 1].id != file_rank[i].id ||
		    (file_rank[kept - 1].rank >= 0 && file_rank[kept - 1].rank != file_rank[i].rank))
			file_rank[kept++] = file_rank[i];
	qsort(file_rank, kept, sizeof(*file_rank), by_rank);
	return kept;
}

static int report_files(struct scribe_job *job, const struct scribe_module_ops *s, const struct file_rank *file_rank,
			size_t n, struct scribe_bundle *b, uint64_t *partial)
{
	struct scribe_module_file *file = calloc(n, sizeof(*file));
	struct scribe_core *core = core_new(job, file_rank->rank, 0, 0);
	size_t answers = 0;
	int rc = file && core ? 0 : -ENOMEM;

	for (size_t i = 0; rc == 0 && i < n; i++) {
		struct scribe_module_file *f = &file[answers];
		const struct scribe_name_entry *name = scribe_name_table_by_id(&job->names, file_rank[i].id);

		f->id = file_rank[i].id;
		f->name = name ? name->text : NULL;
		f->attribute = scribe_file_xattrs_get(job, s, f->id, &f->attribute_bytes);
		answers += f->name && f->attribute;
	}
	if (rc == 0 && answers) {
		s->files(core, file, answers);
		rc = finish_core(job, core, b, partial);
	}
	scribe_core_free(core);
	free(file);
	return rc;
}

int scribe_daemon_modules_files(struct scribe_job *job, struct scribe_bundle *b, uint64_t *partial)
{
	struct file_rank *file_rank = job->file_xattrs ? calloc(b->n + 1, sizeof(*file_rank)) : NULL;
	size_t n, next;
	int rc = 0;

	if (!file_rank)
		return job->file_xattrs ? -ENOMEM : 0;
	n = places_of(b, file_rank);
	for (size_t i = 0; i < n; i = next) {
		for (next = i + 1; next < n && file_rank[next].rank == file_rank[i].rank;)
			next++;
		for (int s = 0; scribe_daemon_modules[s] && rc == 0; s++)
			if (scribe_daemon_modules[s]->files)
				rc = report_files(job, scribe_daemon_modules[s], file_rank + i, next - i, b, partial);
	}
	free(file_rank);
	return rc;
}
