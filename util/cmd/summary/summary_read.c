// SPDX-License-Identifier: BSD-3-Clause
/* Collects a log's summary in one pass over each module. Must not know text. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "util/cmd/summary/summary.h"
#include "util/logs/sum.h"

static const struct op_counters {
	int module;
	short opens[8], reads[8], writes[8];
	short read_sizes, write_sizes;
} op_counters[SCRIBE_SUMMARY_MODULES] = {
	{SCRIBE_MOD_POSIX,
	 {SCRIBE_POSIX_OPENS, -1},
	 {SCRIBE_POSIX_READS, -1},
	 {SCRIBE_POSIX_WRITES, -1},
	 SCRIBE_POSIX_SIZE_READ_0_100,
	 SCRIBE_POSIX_SIZE_WRITE_0_100},
	{SCRIBE_MOD_MPIIO,
	 {SCRIBE_MPIIO_INDEP_OPENS, SCRIBE_MPIIO_COLL_OPENS, -1},
	 {SCRIBE_MPIIO_INDEP_READS, SCRIBE_MPIIO_COLL_READS, SCRIBE_MPIIO_SPLIT_READS, SCRIBE_MPIIO_NB_READS, -1},
	 {SCRIBE_MPIIO_INDEP_WRITES, SCRIBE_MPIIO_COLL_WRITES, SCRIBE_MPIIO_SPLIT_WRITES, SCRIBE_MPIIO_NB_WRITES, -1},
	 SCRIBE_MPIIO_SIZE_READ_AGG_0_100,
	 SCRIBE_MPIIO_SIZE_WRITE_AGG_0_100},
	{SCRIBE_MOD_STDIO, {SCRIBE_STDIO_OPENS, -1}, {SCRIBE_STDIO_READS, -1}, {SCRIBE_STDIO_WRITES, -1}, -1, -1},
	{SCRIBE_MOD_DFS,
	 {SCRIBE_DFS_OPENS, -1},
	 {SCRIBE_DFS_READS, SCRIBE_DFS_READXS, SCRIBE_DFS_NB_READS, -1},
	 {SCRIBE_DFS_WRITES, SCRIBE_DFS_WRITEXS, SCRIBE_DFS_NB_WRITES, -1},
	 SCRIBE_DFS_SIZE_READ_0_100,
	 SCRIBE_DFS_SIZE_WRITE_0_100},
	{SCRIBE_MOD_DAOS,
	 {SCRIBE_DAOS_OBJ_OPENS, SCRIBE_DAOS_ARRAY_OPENS, SCRIBE_DAOS_KV_OPENS, -1},
	 {SCRIBE_DAOS_OBJ_FETCHES, SCRIBE_DAOS_ARRAY_READS, SCRIBE_DAOS_KV_GETS, -1},
	 {SCRIBE_DAOS_OBJ_UPDATES, SCRIBE_DAOS_ARRAY_WRITES, SCRIBE_DAOS_KV_PUTS, -1},
	 SCRIBE_DAOS_SIZE_READ_0_100,
	 SCRIBE_DAOS_SIZE_WRITE_0_100},
};

/* Inserts into the sorted list of files with most bytes, if the file belongs there. */
static void file_keep(struct scribe_summary *s, const struct scribe_summary_file *f)
{
	int64_t bytes = scribe_sum(f->bytes_read, f->bytes_written);
	int at = s->nfiles;

	while (at > 0 && scribe_sum(s->files[at - 1].bytes_read, s->files[at - 1].bytes_written) < bytes)
		at--;
	if (at == SCRIBE_SUMMARY_FILES)
		return;
	if (s->nfiles < SCRIBE_SUMMARY_FILES)
		s->nfiles++;
	for (int i = s->nfiles - 1; i > at; i--)
		s->files[i] = s->files[i - 1];
	s->files[at] = *f;
}

static void files_take(struct scribe_summary *s, int module, const struct scribe_accum *a)
{
	struct scribe_accum_file f;

	for (size_t i = 0; scribe_accum_file_at(a, i, &f); i++) {
		struct scribe_summary_file file = {f.id, module, f.bytes_read, f.bytes_written, f.nprocs};

		file_keep(s, &file);
	}
}

/* Standard streams are open from begin to end. */
static int phases_take(struct scribe_summary *s, int module, const void *record)
{
	const struct scribe_base_record *base = record;
	const char *name = scribe_names_find(s->log.names, base->id, NULL);

	return name && !strncmp(name, "<STD", 4) ? 0 : scribe_phases_take(&s->phases, module, record);
}

static int read_records(struct scribe_summary *s, const struct op_counters *o, struct scribe_accum *a,
			struct scribe_summary_module *ret_m, struct scribe_err *err)
{
	const struct scribe_module *module = scribe_module_by_id(o->module);
	const void *record;
	size_t len;
	int rc;

	while ((rc = scribe_reader_borrow_record(s->log.reader, o->module, &record, &len)) > 0) {
		const int64_t *c = scribe_record_counters(module, record);

		rc = scribe_accum_add(a, record, err);
		if (rc >= 0 && phases_take(s, o->module, record) < 0)
			rc = scribe_err_set(err, -ENOMEM, "out of memory");
		if (rc < 0)
			return rc;
		ret_m->opens = scribe_sum(ret_m->opens, scribe_sum_of(c, o->opens));
		ret_m->reads = scribe_sum(ret_m->reads, scribe_sum_of(c, o->reads));
		ret_m->writes = scribe_sum(ret_m->writes, scribe_sum_of(c, o->writes));
		if (o->module == SCRIBE_MOD_POSIX && c[SCRIBE_POSIX_MMAPS] > 0) {
			s->mapped_files++;
			s->mappings = scribe_sum(s->mappings, c[SCRIBE_POSIX_MMAPS]);
		}
		for (int i = 0; o->read_sizes >= 0 && i < SCRIBE_SIZE_BUCKETS; i++) {
			ret_m->read_sizes[i] = scribe_sum(ret_m->read_sizes[i], c[o->read_sizes + i]);
			ret_m->write_sizes[i] = scribe_sum(ret_m->write_sizes[i], c[o->write_sizes + i]);
		}
	}
	if (rc < 0 && err)
		*err = *scribe_reader_error(s->log.reader);
	return rc;
}

static int read_module(struct scribe_summary *s, const struct op_counters *o, struct scribe_err *err)
{
	struct scribe_summary_module *m = &s->modules[s->nmodules];
	struct scribe_accum *a = NULL;
	int rc = scribe_accum_new(o->module, SCRIBE_WANT_FILES | SCRIBE_WANT_PERF, &a, err);

	if (rc < 0)
		return rc;
	m->module = o->module;
	m->has_sizes = o->read_sizes >= 0;
	rc = read_records(s, o, a, m, err);
	if (rc == 0) {
		m->records = scribe_accum_records(a);
		scribe_accum_perf(a, &m->perf);
		scribe_accum_files(a, m->files);
		/* MPI-IO's bytes appear again in the layers below, with the same files. */
		if (o->module != SCRIBE_MOD_MPIIO || !scribe_reader_has(s->log.reader, SCRIBE_MOD_POSIX))
			files_take(s, o->module, a);
		s->nmodules++;
	}
	scribe_accum_free(a);
	return rc;
}

static void process_take(struct scribe_summary *s, const struct scribe_process_record *p)
{
	struct scribe_summary_end *e;

	s->processes++;
	s->operations = scribe_sum(s->operations, p->operations);
	if (p->end_kind == SCRIBE_END_EXITED && p->wait_status == 0) {
		s->ended_well++;
		return;
	}
	s->ended_badly += p->end_kind == SCRIBE_END_EXITED;
	s->signalled += p->end_kind == SCRIBE_END_SIGNALLED;
	if (p->end_kind == SCRIBE_END_SIGNALLED)
		s->by_signal[(p->wait_status & 0x7f) < SCRIBE_SUMMARY_SIGNALS ? p->wait_status & 0x7f : 0]++;
	s->lost += p->end_kind == SCRIBE_END_LOST;
	s->running += p->end_kind == SCRIBE_END_RUNNING;
	if (s->nends == SCRIBE_SUMMARY_ENDS)
		return;
	e = &s->ends[s->nends++];
	e->rank = p->base.rank;
	e->pid = p->pid;
	e->wait_status = p->wait_status;
	e->kind = p->end_kind;
	snprintf(e->exe, sizeof(e->exe), "%.*s", (int)sizeof(e->exe) - 1, p->exe);
}

static int read_processes(struct scribe_summary *s, struct scribe_err *err)
{
	const void *record;
	size_t len;
	int rc;

	while ((rc = scribe_reader_borrow_record(s->log.reader, SCRIBE_MOD_PROCESS, &record, &len)) > 0)
		process_take(s, record);
	if (rc < 0 && err)
		*err = *scribe_reader_error(s->log.reader);
	return rc;
}

static int read_ledger(struct scribe_summary *s, struct scribe_err *err)
{
	const void *record;
	size_t len;
	int rc;

	while ((rc = scribe_reader_borrow_record(s->log.reader, SCRIBE_MOD_LEDGER, &record, &len)) > 0) {
		const struct scribe_ledger_record *l = record;

		s->has_ledger = 1;
		/* A log of several nodes has one ledger per node: sum them. */
		for (int i = 0; i < SCRIBE_LEDGER_PLACES; i++)
			s->ledger[i] = scribe_sum(s->ledger[i], l->counters[i]);
		for (int i = 0; i < SCRIBE_LEDGER_F_PLACES; i++)
			s->ledger_f[i] += l->fcounters[i];
	}
	if (rc < 0 && err)
		*err = *scribe_reader_error(s->log.reader);
	return rc;
}

int scribe_summary_read(struct scribe_summary *s, const char *path, struct scribe_err *err)
{
	static struct scribe_rules defaults; /* the findings point into it */
	int rc;

	memset(s, 0, sizeof(*s));
	rc = scribe_log_open(&s->log, path, SCRIBE_LOG_NAMES, err);
	for (int i = 0; i < SCRIBE_SUMMARY_MODULES && rc >= 0; i++)
		if (scribe_reader_has(s->log.reader, op_counters[i].module))
			rc = read_module(s, &op_counters[i], err);
	if (rc >= 0 && scribe_phases_find(&s->phases, scribe_reader_job(s->log.reader)->nprocs) < 0)
		rc = scribe_err_set(err, -ENOMEM, "out of memory");
	if (rc >= 0)
		rc = read_processes(s, err);
	if (rc >= 0)
		rc = read_ledger(s, err);
	if (rc >= 0)
		rc = scribe_summary_read_more(s, err);
	if (rc >= 0)
		rc = scribe_summary_read_heat(s, err);
	if (rc >= 0)
		rc = scribe_facts_read(&s->facts, &s->log, err);
	if (rc < 0)
		return rc;
	scribe_summary_read_mounts(s);
	scribe_rules_default(&defaults);
	scribe_findings_of(&s->facts, &defaults, &s->findings);
	for (int i = 0; i < SCRIBE_MAX_MODULES; i++)
		if (scribe_reader_has(s->log.reader, i) && !scribe_accum_supports(i) && i < SCRIBE_MOD_POSIX_EXT)
			s->other_modules |= UINT64_C(1) << i;
	return 0;
}

void scribe_summary_free(struct scribe_summary *s)
{
	scribe_phases_clear(&s->phases);
	scribe_phases_clear(&s->reads);
	scribe_facts_clear(&s->facts);
	scribe_log_close(&s->log);
}
