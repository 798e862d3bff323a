// SPDX-License-Identifier: BSD-3-Clause
/* Summary parts beside the file modules: libraries above MPI-IO, mapped files, excluded paths. */
#include <stdio.h>

#include "util/cmd/summary/summary.h"
#include "util/logs/rank_times.h"
#include "util/logs/sum.h"
#include "util/text/human.h"

#define H 40

/* Counters of a library's module; lists end with -1. */
static const struct library_counters {
	int module;
	const char *things;
	short reads[4], writes[4];
	short bytes_read, bytes_written;
	short times[3], slowest; /* read, write, metadata; slowest rank of a shared record */
} library_counters[SCRIBE_SUMMARY_LIBRARIES] = {
	{SCRIBE_MOD_H5D,
	 "dataset",
	 {SCRIBE_H5D_READS, -1},
	 {SCRIBE_H5D_WRITES, -1},
	 SCRIBE_H5D_BYTES_READ,
	 SCRIBE_H5D_BYTES_WRITTEN,
	 {SCRIBE_H5D_F_READ_TIME, SCRIBE_H5D_F_WRITE_TIME, SCRIBE_H5D_F_META_TIME},
	 SCRIBE_H5D_F_SLOWEST_RANK_TIME},
	{SCRIBE_MOD_PNETCDF_VAR,
	 "variable",
	 {SCRIBE_PNETCDF_VAR_INDEP_READS, SCRIBE_PNETCDF_VAR_COLL_READS, SCRIBE_PNETCDF_VAR_NB_READS, -1},
	 {SCRIBE_PNETCDF_VAR_INDEP_WRITES, SCRIBE_PNETCDF_VAR_COLL_WRITES, SCRIBE_PNETCDF_VAR_NB_WRITES, -1},
	 SCRIBE_PNETCDF_VAR_BYTES_READ,
	 SCRIBE_PNETCDF_VAR_BYTES_WRITTEN,
	 {SCRIBE_PNETCDF_VAR_F_READ_TIME, SCRIBE_PNETCDF_VAR_F_WRITE_TIME, SCRIBE_PNETCDF_VAR_F_META_TIME},
	 SCRIBE_PNETCDF_VAR_F_SLOWEST_RANK_TIME},
};

static int library_take(struct scribe_summary_library *l, const struct library_counters *o,
			struct scribe_rank_times *ranks, const void *record)
{
	const struct scribe_module *m = scribe_module_by_id(o->module);
	const struct scribe_base_record *base = record;
	const int64_t *c = scribe_record_counters(m, record);
	const double *f = scribe_record_fcounters(m, record);
	struct scribe_rank_time *t;

	l->things++;
	l->reads = scribe_sum(l->reads, scribe_sum_of(c, o->reads));
	l->writes = scribe_sum(l->writes, scribe_sum_of(c, o->writes));
	l->bytes_read = scribe_sum(l->bytes_read, c[o->bytes_read] > 0 ? c[o->bytes_read] : 0);
	l->bytes_written = scribe_sum(l->bytes_written, c[o->bytes_written] > 0 ? c[o->bytes_written] : 0);
	/* Darshan's estimate: the slowest rank in unshared records plus the slowest rank of each shared one. */
	if (base->rank < 0) {
		l->seconds += f[o->slowest];
		return 0;
	}
	t = scribe_rank_time_of(ranks, base->rank);
	if (!t)
		return -1;
	for (int i = 0; i < 3; i++)
		t->total += f[o->times[i]];
	return 0;
}

static int read_library(struct scribe_summary *s, const struct library_counters *o, struct scribe_err *err)
{
	struct scribe_summary_library *l = &s->library[s->nlibraries];
	struct scribe_rank_times ranks = {0};
	const void *record;
	double most = 0;
	size_t len;
	int rc;

	*l = (struct scribe_summary_library){.module = o->module, .what = o->things};
	while ((rc = scribe_reader_borrow_record(s->log.reader, o->module, &record, &len)) > 0)
		if (library_take(l, o, &ranks, record) < 0) {
			rc = scribe_err_set(err, -1, "out of memory");
			break;
		}
	if (rc < 0 && rc != -1)
		*err = *scribe_reader_error(s->log.reader);
	for (size_t i = 0; i < ranks.n; i++)
		most = ranks.entries[i].total > most ? ranks.entries[i].total : most;
	l->seconds += most;
	scribe_rank_times_clear(&ranks);
	s->nlibraries += rc == 0;
	return rc;
}

/* Bytes mapped, not moved: page faults are not system calls. */
static int read_mapped(struct scribe_summary *s, struct scribe_err *err)
{
	const void *record;
	size_t len;
	int rc;

	while ((rc = scribe_reader_borrow_record(s->log.reader, SCRIBE_MOD_POSIX_EXT, &record, &len)) > 0) {
		const struct scribe_posix_ext_record *e = record;

		s->mapped_bytes = scribe_sum(s->mapped_bytes, e->counters[SCRIBE_EXT_MAPPED_BYTES]);
	}
	if (rc < 0)
		*err = *scribe_reader_error(s->log.reader);
	return rc;
}

int scribe_summary_read_more(struct scribe_summary *s, struct scribe_err *err)
{
	int rc = 0;

	for (int i = 0; i < SCRIBE_SUMMARY_LIBRARIES && rc >= 0; i++)
		if (scribe_reader_has(s->log.reader, library_counters[i].module))
			rc = read_library(s, &library_counters[i], err);
	return rc < 0 || !scribe_reader_has(s->log.reader, SCRIBE_MOD_POSIX_EXT) ? rc : read_mapped(s, err);
}

static void put_libraries(const struct scribe_summary *s, struct scribe_out *out)
{
	char a[H], b[H], c[H], d[H], e[H], text[512];

	for (int i = 0; i < s->nlibraries; i++) {
		const struct scribe_summary_library *l = &s->library[i];

		snprintf(text, sizeof(text), "%s %s%s; read %s in %s call%s, wrote %s in %s call%s; %.4g s",
			 scribe_human_count(l->things, a, H), l->what, l->things == 1 ? "" : "s",
			 scribe_human_bytes(l->bytes_read, b, H), scribe_human_count(l->reads, c, H),
			 l->reads == 1 ? "" : "s", scribe_human_bytes(l->bytes_written, d, H),
			 scribe_human_count(l->writes, e, H), l->writes == 1 ? "" : "s", l->seconds);
		scribe_out_wrapped(out, l->module == SCRIBE_MOD_H5D ? "HDF5       " : "PnetCDF    ", text);
	}
}

static void put_mapped(const struct scribe_summary *s, struct scribe_out *out)
{
	char a[H], b[H], c[H], of[H + 8] = "", text[256];

	if (s->mappings <= 0)
		return;
	if (s->mapped_bytes > 0)
		snprintf(of, sizeof(of), " of %s", scribe_human_bytes(s->mapped_bytes, c, H));
	snprintf(text, sizeof(text), "%s file%s by %s mapping%s%s: bytes that move through them are not counted",
		 scribe_human_count(s->mapped_files, a, H), s->mapped_files == 1 ? "" : "s",
		 scribe_human_count(s->mappings, b, H), s->mappings == 1 ? "" : "s", of);
	scribe_out_wrapped(out, "mapped     ", text);
}

static void put_excluded(const struct scribe_summary *s, struct scribe_out *out)
{
	int64_t calls = scribe_summary_ledger(s, "LEFT_EXCLUDED_CALLS"),
		bytes = scribe_summary_ledger(s, "LEFT_EXCLUDED_BYTES"), counted = 0;
	char a[H], b[H], text[256];

	for (int i = 0; i < s->nmodules; i++)
		if (s->modules[i].module != SCRIBE_MOD_MPIIO)
			counted = scribe_sum(
				counted, scribe_sum(s->modules[i].perf.bytes_read, s->modules[i].perf.bytes_written));
	if (calls <= 0 || (counted > 0 && bytes <= counted))
		return;
	snprintf(text, sizeof(text),
		 "%s read%s and writes of %s on excluded paths, in the whole job: "
		 "--include PREFIX counts those below PREFIX",
		 scribe_human_count(calls, a, H), calls == 1 ? "" : "s", scribe_human_bytes(bytes, b, H));
	scribe_out_wrapped(out, "left out   ", text);
}

void scribe_summary_print_more(const struct scribe_summary *s, struct scribe_out *out)
{
	put_libraries(s, out);
	put_mapped(s, out);
	put_excluded(s, out);
}
