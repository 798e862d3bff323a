// SPDX-License-Identifier: BSD-3-Clause
/* Summary parts beside the file modules: libraries above MPI-IO, page cache, mounts, mapped files, excluded paths. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/cmd/summary/summary.h"
#include "util/logs/print_job.h"
#include "util/logs/rank_times.h"
#include "util/logs/sum.h"
#include "util/text/human.h"
#include "util/text/print_record.h"

#define H 40

/* Counters of a library's module; lists end with -1. */
static const struct library_counters {
	int module;
	const char *title, *things;
	short reads[4], writes[4];
	short bytes_read, bytes_written;
	short times[3], slowest; /* read, write, metadata; slowest rank of a shared record */
} library_counters[SCRIBE_SUMMARY_LIBRARIES] = {
	{SCRIBE_MOD_H5D,
	 "HDF5       ",
	 "dataset",
	 {SCRIBE_H5D_READS, -1},
	 {SCRIBE_H5D_WRITES, -1},
	 SCRIBE_H5D_BYTES_READ,
	 SCRIBE_H5D_BYTES_WRITTEN,
	 {SCRIBE_H5D_F_READ_TIME, SCRIBE_H5D_F_WRITE_TIME, SCRIBE_H5D_F_META_TIME},
	 SCRIBE_H5D_F_SLOWEST_RANK_TIME},
	{SCRIBE_MOD_PNETCDF_VAR,
	 "PnetCDF    ",
	 "variable",
	 {SCRIBE_PNETCDF_VAR_INDEP_READS, SCRIBE_PNETCDF_VAR_COLL_READS, SCRIBE_PNETCDF_VAR_NB_READS, -1},
	 {SCRIBE_PNETCDF_VAR_INDEP_WRITES, SCRIBE_PNETCDF_VAR_COLL_WRITES, SCRIBE_PNETCDF_VAR_NB_WRITES, -1},
	 SCRIBE_PNETCDF_VAR_BYTES_READ,
	 SCRIBE_PNETCDF_VAR_BYTES_WRITTEN,
	 {SCRIBE_PNETCDF_VAR_F_READ_TIME, SCRIBE_PNETCDF_VAR_F_WRITE_TIME, SCRIBE_PNETCDF_VAR_F_META_TIME},
	 SCRIBE_PNETCDF_VAR_F_SLOWEST_RANK_TIME},
	{SCRIBE_MOD_CUFILE,
	 "cuFile     ",
	 "file",
	 {SCRIBE_CUFILE_READS, -1},
	 {SCRIBE_CUFILE_WRITES, -1},
	 SCRIBE_CUFILE_BYTES_READ,
	 SCRIBE_CUFILE_BYTES_WRITTEN,
	 {SCRIBE_CUFILE_F_READ_TIME, SCRIBE_CUFILE_F_WRITE_TIME, SCRIBE_CUFILE_F_META_TIME},
	 SCRIBE_CUFILE_F_SLOWEST_RANK_TIME},
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
	/* Darshan's estimate. */
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

	*l = (struct scribe_summary_library){.title = o->title, .what = o->things};
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

/* Sums of nodes; -1 if a node does not know. */
static int64_t sum_known(int64_t a, int64_t b)
{
	return a < 0 || b < 0 ? -1 : scribe_sum(a, b);
}

/* Seconds of a log may be anything. */
static double add_known(double a, double b)
{
	return a >= 0 && b >= 0 && b < 1e12 ? a + b : -1;
}

static struct scribe_summary_mount *mount_of(struct scribe_summary *s, const char *path, size_t len)
{
	for (int i = 0; i < s->nmounts; i++)
		if (strlen(s->mount[i].path) == len && !memcmp(s->mount[i].path, path, len))
			return &s->mount[i];
	if (s->nmounts == SCRIBE_SUMMARY_MOUNTS || len >= sizeof(s->mount[0].path))
		return NULL;
	s->mount[s->nmounts] = (struct scribe_summary_mount){.type = ""};
	memcpy(s->mount[s->nmounts].path, path, len);
	return &s->mount[s->nmounts++];
}

/* Its name is mount:HOST:PATH. */
static void take_mount(struct scribe_summary *s, const struct scribe_mounts_record *r)
{
	size_t len = 0;
	const char *name = scribe_names_find(s->log.names, r->base.id, &len);
	const char *path = name && len > 6 && !memcmp(name, "mount:", 6) ? memchr(name + 6, ':', len - 6) : NULL;
	struct scribe_summary_mount *m = path ? mount_of(s, path + 1, len - (size_t)(path + 1 - name)) : NULL;

	if (!m)
		return;
	m->shared = scribe_sum(m->shared, r->counters[SCRIBE_MOUNTS_SHARED] > 0);
	m->client_read = sum_known(m->client_read, r->counters[SCRIBE_MOUNTS_CLIENT_BYTES_READ]);
	m->client_written = sum_known(m->client_written, r->counters[SCRIBE_MOUNTS_CLIENT_BYTES_WRITTEN]);
	m->requests = sum_known(m->requests, r->counters[SCRIBE_MOUNTS_CLIENT_REQUESTS]);
	m->errors = sum_known(m->errors, r->counters[SCRIBE_MOUNTS_CLIENT_ERRORS]);
	m->rtt = add_known(m->rtt, r->fcounters[SCRIBE_MOUNTS_F_CLIENT_RTT_TIME]);
	m->queue = add_known(m->queue, r->fcounters[SCRIBE_MOUNTS_F_CLIENT_QUEUE_TIME]);
}

static int by_requests(const void *a, const void *b)
{
	const struct scribe_summary_mount *x = a, *y = b;

	return (x->requests < y->requests) - (x->requests > y->requests);
}

void scribe_summary_read_mounts(struct scribe_summary *s)
{
	for (int k = 0; k < s->nmounts; k++)
		for (size_t i = 0; i < s->log.nmounts; i++)
			if (!strcmp(s->mount[k].path, s->log.mounts[i].path))
				s->mount[k].type = s->log.mounts[i].type;
	for (size_t i = 0; s->nmounts && i < s->facts.nfiles; i++) {
		const struct scribe_file_facts *file = s->facts.file[i];
		size_t len = 0, at;
		const char *name = scribe_names_find(s->log.names, file->id, &len);

		at = name ? scribe_mount_index(s->log.mounts, s->log.nmounts, name) : s->log.nmounts;
		for (int k = 0; at < s->log.nmounts && k < s->nmounts; k++) {
			struct scribe_summary_mount *m = &s->mount[k];

			if (strcmp(m->path, s->log.mounts[at].path))
				continue;
			m->bytes_read += file->v[SCRIBE_FACT_bytes_read];
			m->bytes_written += file->v[SCRIBE_FACT_bytes_written];
			m->seconds += scribe_file_seconds(file->v);
		}
	}
}

static int read_mounts(struct scribe_summary *s, struct scribe_err *err)
{
	const void *record;
	size_t len;
	int rc;

	while ((rc = scribe_reader_borrow_record(s->log.reader, SCRIBE_MOD_MOUNTS, &record, &len)) > 0)
		take_mount(s, record);
	if (rc < 0)
		*err = *scribe_reader_error(s->log.reader);
	qsort(s->mount, (size_t)s->nmounts, sizeof(s->mount[0]), by_requests);
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
	if (rc >= 0 && scribe_reader_has(s->log.reader, SCRIBE_MOD_MOUNTS))
		rc = read_mounts(s, err);
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
		scribe_out_wrapped(out, l->title, text);
	}
}

/* printf to the end of the text, which may be cut. */
static void append(char *text, size_t cap, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

static void append(char *text, size_t cap, const char *fmt, ...)
{
	const size_t n = strlen(text);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text + n, cap - n, fmt, ap);
	va_end(ap);
}

static void put_cache(const struct scribe_summary *s, struct scribe_out *out)
{
	const double *v = s->facts.v, unknown = v[SCRIBE_FACT_fetch_unknown];
	const double read = v[SCRIBE_FACT_bytes_read] + v[SCRIBE_FACT_stream_bytes_read] - unknown;
	const double missed = v[SCRIBE_FACT_fetched] + v[SCRIBE_FACT_direct_read];
	const double direct = v[SCRIBE_FACT_direct_read] + v[SCRIBE_FACT_direct_written];
	char a[H], b[H], text[512] = "";

	if (!scribe_reader_has(s->log.reader, SCRIBE_MOD_CACHE))
		return;
	if (read > 0)
		append(text, sizeof(text), "; %s of %s read from the page cache",
		       scribe_human_bytes(scribe_whole(read > missed ? read - missed : 0), a, H),
		       scribe_human_bytes(scribe_whole(read), b, H));
	if (unknown > 0)
		append(text, sizeof(text), "; not known of %s in files with io_uring, libaio or splice",
		       scribe_human_bytes(scribe_whole(unknown), a, H));
	if (v[SCRIBE_FACT_fetched] > 0)
		append(text, sizeof(text), "; %s fetched in %.4g s",
		       scribe_human_bytes(scribe_whole(v[SCRIBE_FACT_fetched]), a, H), v[SCRIBE_FACT_fetch_time]);
	if (direct > 0)
		append(text, sizeof(text), "; with O_DIRECT %s read, %s written",
		       scribe_human_bytes(scribe_whole(v[SCRIBE_FACT_direct_read]), a, H),
		       scribe_human_bytes(scribe_whole(v[SCRIBE_FACT_direct_written]), b, H));
	if (v[SCRIBE_FACT_throttled] > 0)
		append(text, sizeof(text), "; writers held back for %.4g s", v[SCRIBE_FACT_throttled]);
	if (text[0])
		scribe_out_wrapped(out, "cache      ", text + 2);
}

static void put_mount(const struct scribe_summary_mount *m, struct scribe_out *out)
{
	char a[H], b[H], path[300], type[64], text[1024] = "";

	append(text, sizeof(text), "%s (%s): the job read %s, wrote %s in %.4g s",
	       scribe_human_text(m->path, path, sizeof(path)), scribe_human_text(m->type, type, sizeof(type)),
	       scribe_human_bytes(scribe_whole(m->bytes_read), a, H),
	       scribe_human_bytes(scribe_whole(m->bytes_written), b, H), m->seconds);
	if (m->client_read >= 0 && m->client_written >= 0)
		append(text, sizeof(text), "; the client read %s, wrote %s", scribe_human_bytes(m->client_read, a, H),
		       scribe_human_bytes(m->client_written, b, H));
	if (m->requests > 0 && m->rtt >= 0)
		append(text, sizeof(text), "; %s requests, %.3g ms each", scribe_human_count(m->requests, a, H),
		       1e3 * m->rtt / (double)m->requests);
	if (m->requests > 0 && m->queue >= 0)
		append(text, sizeof(text), " and %.3g ms queued", 1e3 * m->queue / (double)m->requests);
	if (m->errors > 0)
		append(text, sizeof(text), ", %s refused", scribe_human_count(m->errors, a, H));
	if (m->shared)
		append(text, sizeof(text), "; with other jobs");
	scribe_out_wrapped(out, "mount      ", text);
}

static void put_mapped(const struct scribe_summary *s, struct scribe_out *out)
{
	char a[H], b[H], c[H], of[H + 8] = "", moved[2 * H + 32] = "bytes that move through them are not counted",
				      text[320];

	if (s->mappings <= 0)
		return;
	if (s->mapped_bytes > 0)
		snprintf(of, sizeof(of), " of %s", scribe_human_bytes(s->mapped_bytes, c, H));
	if (scribe_reader_has(s->log.reader, SCRIBE_MOD_CACHE))
		snprintf(moved, sizeof(moved), "%s page faults fetched %s",
			 scribe_human_count(scribe_whole(s->facts.v[SCRIBE_FACT_faults]), a, H),
			 scribe_human_bytes(scribe_whole(s->facts.v[SCRIBE_FACT_faulted]), b, H));
	snprintf(text, sizeof(text), "%s file%s by %s mapping%s%s: %s", scribe_human_count(s->mapped_files, a, H),
		 s->mapped_files == 1 ? "" : "s", scribe_human_count(s->mappings, b, H), s->mappings == 1 ? "" : "s",
		 of, moved);
	scribe_out_wrapped(out, "mapped     ", text);
}

static void put_phases(const struct scribe_phases *phases, bool reads, struct scribe_out *out)
{
	const struct scribe_phase *p = phases->phase, *longest = p;
	char a[H], b[H], c[H], d[H], text[512];
	double seconds = 0;
	int64_t bytes = 0;

	if (!phases->n)
		return;
	for (size_t i = 0; i < phases->n; i++) {
		seconds += p[i].end - p[i].begin;
		bytes = scribe_sum(bytes, p[i].bytes);
		if (p[i].end - p[i].begin > longest->end - longest->begin)
			longest = &p[i];
	}
	snprintf(text, sizeof(text), "all ranks %s %s time%s, %s in %.4g s; the longest took %.4g s from %.4g s on: %s",
		 reads ? "read" : "wrote", scribe_human_count((int64_t)phases->n, a, H), phases->n == 1 ? "" : "s",
		 scribe_human_bytes(bytes, b, H), seconds, longest->end - longest->begin, longest->begin,
		 scribe_human_bytes(longest->bytes, c, H));
	if (!reads)
		append(text, sizeof(text), ", %s fsync%s", scribe_human_count(longest->syncs, d, H),
		       longest->syncs == 1 ? "" : "s");
	if (longest->last_rank >= 0 && longest->first_rank >= 0 && (!reads || longest->end > longest->first_end))
		append(text, sizeof(text),
		       reads ? "; rank %lld read until %.3g s after rank %lld"
			     : "; rank %lld closed its files %.3g s after rank %lld",
		       (long long)longest->last_rank, longest->end - longest->first_end,
		       (long long)longest->first_rank);
	scribe_out_wrapped(out, reads ? "reading    " : "phases     ", text);
}

void scribe_summary_print_phases(const struct scribe_summary *s, struct scribe_out *out)
{
	put_phases(&s->phases, false, out);
	put_phases(&s->reads, true, out);
}

/* What the log does not have. */
static void put_bypass(const struct scribe_summary *s, struct scribe_out *out)
{
	const double moved = s->facts.cufile_bytes, calls = s->facts.cufile_calls, unsized = s->facts.cufile_unsized;
	char value[256], text[512], a[H], b[H];

	if (scribe_metadata(s->log.reader, "bypass", value, sizeof(value))) {
		snprintf(text, sizeof(text), "%s: what these move past the kernel is not in POSIX", value);
		if (moved > 0)
			append(text, sizeof(text), "; cuFile's own calls moved %s, %s by system calls",
			       scribe_human_bytes((int64_t)moved, a, H),
			       calls > 0 ? scribe_human_bytes((int64_t)(calls < moved ? calls : moved), b, H) : "none");
		if (unsized > 0)
			append(text, sizeof(text), "; of %s asynchronous requests to it the bytes are not known",
			       scribe_human_count((int64_t)unsized, a, H));
		scribe_out_wrapped(out, "bypass     ", text);
	}
	if (scribe_metadata(s->log.reader, "launchers", value, sizeof(value)))
		scribe_out_wrapped(out, "launchers  ", value);
	if (scribe_metadata(s->log.reader, "ranks_unknown", value, sizeof(value))) {
		snprintf(text, sizeof(text), "of %s processes it is not known which rank they are", value);
		scribe_out_wrapped(out, "ranks      ", text);
	}
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
	put_cache(s, out);
	for (int i = 0; i < s->nmounts; i++)
		put_mount(&s->mount[i], out);
	put_mapped(s, out);
	put_bypass(s, out);
	put_excluded(s, out);
}
