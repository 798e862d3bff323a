// SPDX-License-Identifier: BSD-3-Clause
/*
 * A finished log: operations from its traced segments (DXT), as its stream would have sent them, and counters of CACHE
 * and MOUNTS. In ioscribe-store.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "logfmt/base/hash.h"
#include "logfmt/counters/module.h"
#include "util/cmd/store/store_cmd.h"
#include "util/logs/logfile.h"
#include "util/text/shown_name.h"
#include "util/tool/command.h"

#define AT_A_TIME 20000 /* operations per transaction */

struct from_log {
	struct scribe_feed *feed;
	struct scribe_log log;
	struct scribe_shown_name file, exe;
	int64_t began_ns; /* start of the log, since 1970 */
	uint64_t in_transaction, operations, counters;
	char input[64];
	struct scribe_err *err;
};

bool scribe_feed_is_log(const char *path)
{
	char head[2] = "";
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	bool is_log;

	if (fd < 0)
		return false;
	/* A log begins with its version, such as "3.41"; pread fails on a pipe, which then keeps its data. */
	is_log = pread(fd, head, 2, 0) == 2 && head[0] >= '1' && head[0] <= '9' && head[1] == '.';
	close(fd);
	return is_log;
}

static int name_input(struct from_log *l, const char *path)
{
	uint64_t hash = 0, bytes = 0;
	char buf[65536];
	ssize_t n;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return scribe_err_set(l->err, -errno, "%s: %s", path, strerror(errno));
	/* The key is a hash of all bytes, so a renamed log is the same log. */
	while ((n = read(fd, buf, sizeof(buf))) > 0) {
		hash = scribe_hash64(buf, (size_t)n, hash);
		bytes += (uint64_t)n;
	}
	close(fd);
	if (n < 0)
		return scribe_err_set(l->err, -errno, "%s: %s", path, strerror(errno));
	snprintf(l->input, sizeof(l->input), "log %016" PRIx64 " %" PRIu64, hash, bytes);
	return 0;
}

static int commit_some(struct from_log *l)
{
	int rc = scribe_store_commit(l->feed->store, l->err);

	l->in_transaction = 0;
	return rc < 0 ? rc : scribe_store_begin(l->feed->store, l->err);
}

/* 0 for senseless times; 4e9 s in ns plus the log's start fit into 64 bits. */
static int64_t nano(double seconds)
{
	return isfinite(seconds) && fabs(seconds) < 4e9 ? llround(seconds * 1e9) : 0;
}

struct running {
	int64_t writes, reads, switches, max_written, max_read, write_ns, read_ns;
	int last;
};

static int put_segment(struct from_log *l, struct scribe_store_event *e, struct running *r,
		       const struct scribe_dxt_segment *s, bool is_write, bool is_posix)
{
	const bool moved = s->length >= 0 && s->length <= SCRIBE_EVENT_MAX_LEN && s->offset >= -1 &&
			   s->offset <= INT64_MAX - s->length;
	int64_t end_ns = nano(s->end), start_ns = nano(s->start), last = moved ? s->offset + s->length - 1 : -1;
	int64_t *most = is_write ? &r->max_written : &r->max_read, *spent = is_write ? &r->write_ns : &r->read_ns;
	int kind = is_write ? 1 : 2, rc;

	r->switches += r->last && r->last != kind;
	r->last = kind;
	*most = last > *most ? last : *most;
	if (__builtin_add_overflow(*spent, end_ns - start_ns, spent))
		*spent = INT64_MAX;
	e->op = is_write ? "write" : "read";
	e->cnt = is_write ? ++r->writes : ++r->reads;
	e->switches = r->switches;
	/* MPI-IO's offsets may be unknown (-1), so it has a maximum only for POSIX. */
	e->max_byte = is_posix ? *most : SCRIBE_EVENT_NONE;
	e->nsegs = 1;
	e->segs[0] = (struct scribe_event_seg){.pt_sel = SCRIBE_EVENT_NONE,
					       .irreg_hslab = SCRIBE_EVENT_NONE,
					       .reg_hslab = SCRIBE_EVENT_NONE,
					       .ndims = SCRIBE_EVENT_NONE,
					       .npoints = SCRIBE_EVENT_NONE,
					       .off = s->offset,
					       .len = moved ? s->length : SCRIBE_EVENT_NONE,
					       .start_ns = start_ns,
					       .dur_ns = end_ns - start_ns,
					       .total_ns = *spent,
					       .time_ns = l->began_ns + end_ns};
	rc = scribe_store_put(l->feed->store, e, SCRIBE_FROM_LOG, l->err);
	l->operations++;
	if (rc >= 0 && ++l->in_transaction >= AT_A_TIME)
		rc = commit_some(l);
	return rc;
}

/* Sets `e` to the log's job, and a record's file and rank. `program`: capacity for the name of the program. */
static void set_record(struct from_log *l, const struct scribe_base_record *base, struct scribe_store_event *e,
		       char program[1024])
{
	const struct scribe_log_job *job = scribe_reader_job(l->log.reader);
	const char *exe = scribe_reader_exe(l->log.reader);
	size_t len = 0;

	*e = (struct scribe_store_event){
		.record_id = base->id, .job_id = job->jobid, .uid = job->uid, .rank = base->rank};
	snprintf(program, 1024, "%.*s", (int)strcspn(exe, " "), exe);
	e->file = scribe_names_find(l->log.names, base->id, &len);
	e->file = scribe_sent_name(&l->file, e->file, &len);
	len = strlen(program);
	e->exe = len ? scribe_sent_name(&l->exe, program, &len) : NULL;
}

static int put_record(struct from_log *l, int module, const struct scribe_dxt_record *r)
{
	const struct scribe_dxt_segment *w = r->segments, *w_end = w + r->write_count;
	const struct scribe_dxt_segment *d = w_end, *d_end = d + r->read_count;
	struct running run = {.max_written = -1, .max_read = -1};
	struct scribe_store_event e;
	char program[1024], node[sizeof(r->hostname) + 1];
	int rc = 0;

	set_record(l, &r->base, &e, program);
	snprintf(node, sizeof(node), "%.*s", (int)sizeof(r->hostname), r->hostname);
	e.node = node[0] && scribe_name_printable(node, strlen(node)) ? node : NULL;
	e.module = module == SCRIBE_MOD_DXT_POSIX ? "POSIX" : "MPIIO";
	e.type = "MOD";
	e.flushes = SCRIBE_EVENT_NONE;
	/* Writes and reads are each sorted by start: merge them, as the stream had them. */
	while ((w < w_end || d < d_end) && rc >= 0 && !*l->feed->stop) {
		bool is_write = w < w_end && (d == d_end || w->start <= d->start);

		rc = put_segment(l, &e, &run, is_write ? w++ : d++, is_write, module == SCRIBE_MOD_DXT_POSIX);
	}
	return rc;
}

/* Zeros and unknown values are left out. */
static int put_counter(struct from_log *l, const struct scribe_store_event *e, const char *name, int64_t value)
{
	if (value <= 0)
		return 0;
	if (scribe_store_put_counter(l->feed->store, e, name, value, l->err) < 0)
		return l->err->code;
	l->counters++;
	return ++l->in_transaction >= AT_A_TIME ? commit_some(l) : 0;
}

static int put_counters(struct from_log *l, const struct scribe_module *m, const void *record)
{
	const struct scribe_log_job *job = scribe_reader_job(l->log.reader);
	const int64_t *c = scribe_record_counters(m, record);
	const double *f = scribe_record_fcounters(m, record);
	struct scribe_store_event e;
	char program[1024];
	int rc = 0;

	set_record(l, record, &e, program);
	e.segs[0] = (struct scribe_event_seg){.time_ns = l->began_ns, .start_ns = SCRIBE_EVENT_NONE};
	if (job->end_time_sec > job->start_time_sec && job->end_time_sec < INT64_MAX / 2000000000) {
		e.segs[0].time_ns = job->end_time_sec * 1000000000;
		e.segs[0].dur_ns = e.segs[0].time_ns - l->began_ns;
	}
	for (int i = 0; i < m->ncounters && rc >= 0; i++)
		rc = put_counter(l, &e, m->counters[i].name, c[i]);
	for (int i = 0; i < m->nfcounters && rc >= 0; i++)
		rc = put_counter(l, &e, m->fcounters[i].name, (nano(f[i]) + 500) / 1000);
	return rc;
}

static int put_module(struct from_log *l, int module)
{
	const struct scribe_module *m = scribe_module_by_id(module);
	const bool is_traced = module == SCRIBE_MOD_DXT_POSIX || module == SCRIBE_MOD_DXT_MPIIO;
	const void *record;
	size_t len;
	int rc;

	if (!scribe_reader_has(l->log.reader, module))
		return 0;
	while ((rc = scribe_reader_borrow_record(l->log.reader, module, &record, &len)) > 0 && !*l->feed->stop)
		if ((is_traced ? put_record(l, module, record) : put_counters(l, m, record)) < 0)
			return l->err->code;
	if (rc < 0)
		*l->err = *scribe_reader_error(l->log.reader);
	return rc;
}

static int put_log(struct from_log *l)
{
	static const int modules[] = {SCRIBE_MOD_DXT_POSIX, SCRIBE_MOD_DXT_MPIIO, SCRIBE_MOD_CACHE, SCRIBE_MOD_MOUNTS};
	const struct scribe_log_job *job = scribe_reader_job(l->log.reader);
	struct scribe_store_position at = {0};
	int rc;

	if (job->start_time_sec <= 0 || job->start_time_sec > INT64_MAX / 2000000000)
		return scribe_err_set(l->err, -SCRIBE_E_FORMAT, "%s: the log's start is no time after 1970",
				      l->log.path);
	l->began_ns = job->start_time_sec * 1000000000 + job->start_time_nsec % 1000000000;
	rc = scribe_store_begin(l->feed->store, l->err);
	for (size_t i = 0; i < sizeof(modules) / sizeof(modules[0]) && rc >= 0; i++)
		rc = put_module(l, modules[i]);
	at.bytes = (int64_t)(l->operations + l->counters);
	if (rc >= 0 && !*l->feed->stop)
		rc = scribe_store_position_set(l->feed->store, l->input, &at, l->err);
	if (rc >= 0)
		rc = scribe_store_commit(l->feed->store, l->err);
	if (rc < 0)
		scribe_store_roll_back(l->feed->store);
	else if (!at.bytes)
		scribe_complain(l->feed->argv0, "%s: no traced operations (DXT), CACHE or MOUNTS: nothing to store",
				l->log.path);
	return rc;
}

int scribe_feed_log(struct scribe_feed *f, const char *path, struct scribe_err *err)
{
	struct from_log l = {.feed = f, .err = err};
	struct scribe_store_position at;
	int rc = name_input(&l, path);

	if (rc >= 0)
		rc = scribe_store_position(f->store, l.input, &at, err);
	if (rc < 0 || at.bytes)
		return rc;
	rc = scribe_log_open(&l.log, path, SCRIBE_LOG_NAMES, err);
	if (rc >= 0)
		rc = put_log(&l);
	scribe_shown_name_clear(&l.file);
	scribe_shown_name_clear(&l.exe);
	scribe_log_close(&l.log);
	return rc;
}
