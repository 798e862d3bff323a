// SPDX-License-Identifier: BSD-3-Clause
/*
 * `ioscribe merge` (darshan-merge). Logs are opened one at a time, several times. In memory: names and, with
 * --shared-redux, shared records of one module.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "logfmt/records/reduce.h"
#include "logfmt/records/shift.h"
#include "util/cmd/merge/merge_parts.h"
#include "util/logs/copy.h"
#include "util/logs/logfile.h"
#include "util/logs/merge_heat.h"
#include "util/logs/merge_reduction.h"
#include "util/tool/command.h"

#define SCRIBE_MERGE_THREADS 64

struct merge {
	const char *output;
	int shared_redux;
	int has_end;
	int64_t end_time;
	enum scribe_compression compression;
	const char *argv0;
	char **paths;
	int npaths;
	struct scribe_log first;
	struct scribe_log_job job;
	struct scribe_names *names;
	uint64_t partial, present, unknown; /* bit i: module i, in any log */
	unsigned version[SCRIBE_MAX_MODULES];
	int threads, other_jobs, as_stock;
	struct scribe_merge_axis axis;
	void *scratch;
	size_t scratch_bytes;
	int64_t nthreads; /* threads for parts; 0: one per processor */
	bool without_bad;
	int force;
	struct scribe_output out;
	struct scribe_err err;
};

static int take(void *ctx, int key, const char *value, struct scribe_err *err)
{
	struct merge *m = ctx;
	char *end;

	switch (key) {
	case 'o':
		m->output = value;
		return 0;
	case 's':
		m->shared_redux = 1;
		return 0;
	case 'b':
		m->compression = SCRIBE_COMP_BZIP2;
		return 0;
	case 'F':
		m->force = 1;
		return 0;
	case 'w':
		m->without_bad = true;
		return 0;
	case 't':
		errno = 0;
		m->nthreads = strtoll(value, &end, 10);
		if (errno || end == value || *end || m->nthreads < 1 || m->threads > SCRIBE_MERGE_THREADS)
			return scribe_err_set(err, -EINVAL, "--threads takes 1 to %d, not '%.40s'",
					      SCRIBE_MERGE_THREADS, value);
		return 0;
	default:
		errno = 0;
		m->end_time = strtoll(value, &end, 10);
		m->has_end = 1;
		if (errno || end == value || *end || m->end_time < 0)
			return scribe_err_set(err, -EINVAL, "--job-end-time takes seconds since 1970, not '%.40s'",
					      value);
		return 0;
	}
}

static void job_join(struct merge *m, const struct scribe_log_job *j)
{
	scribe_job_merge(&m->job, j);
	m->other_jobs |= j->jobid != m->job.jobid;
}

static int names_join(struct merge *m, const struct scribe_log *log)
{
	for (size_t i = 0; i < scribe_names_count(log->names); i++) {
		struct scribe_name n = scribe_names_at(log->names, i);
		size_t len = 0;
		const char *known = scribe_names_find(m->names, n.id, &len);

		if (known && len && n.len && (len != n.len || memcmp(known, n.bytes, len))) {
			/* One id with two names: the logs do not belong together, or the hash collided. */
			char here[101], there[101];

			scribe_name_escape(n.bytes, n.len, here, sizeof(here));
			scribe_name_escape(known, len, there, sizeof(there));
			return scribe_err_set(&m->err, -SCRIBE_E_FORMAT,
					      "%s: record %" PRIu64 " is '%s' here and '%s' in another log", log->path,
					      n.id, here, there);
		}
		if (scribe_names_add(m->names, n.id, n.bytes, n.len) < 0)
			return scribe_err_set(&m->err, -ENOMEM, "names: out of memory");
	}
	return 0;
}

static int modules_join(struct merge *m, const struct scribe_log *log)
{
	const struct scribe_log_header *h = scribe_reader_header(log->reader);
	uint64_t unknown = scribe_reader_info(log->reader)->unknown;

	m->partial |= h->partial_flag;
	m->threads |= scribe_copy_has_threads(log->reader);
	for (int i = 0; i < SCRIBE_MAX_MODULES; i++) {
		if (scribe_reader_has(log->reader, i))
			m->present |= UINT64_C(1) << i;
		if (!(unknown >> i & 1))
			continue;
		/* Bytes of an unknown module can be appended only if all logs have one version. */
		if (m->unknown >> i & 1 && m->version[i] != h->mod_ver[i])
			return scribe_err_set(&m->err, -SCRIBE_E_VERSION,
					      "%s: module id %d is unknown and has version %u, %u in another log",
					      log->path, i, h->mod_ver[i], m->version[i]);
		m->unknown |= UINT64_C(1) << i;
		m->version[i] = h->mod_ver[i];
	}
	return 0;
}

static int first_pass(struct merge *m)
{
	for (int i = 0; i < m->npaths; i++) {
		struct scribe_log log;
		int rc = scribe_log_open(&log, m->paths[i], SCRIBE_LOG_NAMES, &m->err);
		struct scribe_log_job job;

		if (rc < 0) {
			scribe_log_close(&log);
			return rc;
		}
		job = scribe_copy_job(log.reader);
		if (i == 0)
			m->job = job;
		else
			job_join(m, &job);
		rc = names_join(m, &log);
		log.names = scribe_names_free(log.names);
		if (rc >= 0)
			rc = modules_join(m, &log);
		if (i == 0)
			m->first = log;
		else
			scribe_log_close(&log);
		if (rc < 0)
			return rc;
	}
	if (m->has_end) {
		m->job.end_time_sec = m->end_time;
		m->job.end_time_nsec = 0;
	}
	return 0;
}

struct each {
	struct merge *m;
	struct scribe_merge_reduction *x;
	int module;
	double lag;
};

typedef int each_record(struct each *e, const void *record, size_t len);

static double lag_of(const struct merge *m, const struct scribe_log *log)
{
	const struct scribe_log_job *j = scribe_reader_job(log->reader);

	if (m->as_stock)
		return 0;
	return (double)j->start_time_sec - (double)m->job.start_time_sec +
	       ((double)j->start_time_nsec - (double)m->job.start_time_nsec) / 1e9;
}

static void *scratch_of(struct merge *m, size_t len)
{
	void *bigger;

	if (len <= m->scratch_bytes)
		return m->scratch;
	bigger = realloc(m->scratch, len);
	if (!bigger) {
		scribe_err_set(&m->err, -ENOMEM, "record of %zu bytes: out of memory", len);
		return NULL;
	}
	m->scratch = bigger;
	m->scratch_bytes = len;
	return bigger;
}

static const void *moved(const struct each *e, const void *record, size_t *len)
{
	struct merge *m = e->m;
	int on_axis = e->module == SCRIBE_MOD_HEATMAP;
	void *copy;

	if (on_axis ? !m->axis.differs || !scribe_merge_heat_is_sound(record) : e->lag <= 0)
		return record;
	copy = scratch_of(m, on_axis ? scribe_merge_axis_bytes(&m->axis) : *len);
	if (!copy)
		return NULL;
	if (on_axis) {
		scribe_merge_axis_move(&m->axis, record, e->lag, copy);
		*len = scribe_merge_axis_bytes(&m->axis);
	} else {
		memcpy(copy, record, *len);
		scribe_record_shift(e->module, copy, e->lag);
	}
	return copy;
}

static int walk(struct each *e, each_record *each)
{
	struct merge *m = e->m;

	for (int i = 0; i < m->npaths; i++) {
		struct scribe_log log;
		const void *record;
		size_t len;
		int rc = scribe_log_open(&log, m->paths[i], 0, &m->err);

		e->lag = rc < 0 ? 0 : lag_of(m, &log);
		while (rc >= 0 && (rc = scribe_reader_borrow_record(log.reader, e->module, &record, &len)) > 0)
			if (each(e, record, len) < 0)
				rc = -EIO;
		if (rc < 0 && !m->err.code)
			m->err = *scribe_reader_error(log.reader);
		scribe_log_close(&log);
		if (rc < 0)
			return rc;
	}
	return 0;
}

/* First pass over heatmaps: finds the common time axis. */
static int note_axis(struct each *e, const void *record, size_t len)
{
	scribe_merge_axis_note(&e->m->axis, record, e->lag);
	return 0;
}

static int note(struct each *e, const void *record, size_t len)
{
	return scribe_merge_reduction_note(e->x, record, len, &e->m->err);
}

static int reduce(struct each *e, const void *record, size_t len)
{
	record = moved(e, record, &len);
	return record ? scribe_merge_reduction_add(e->x, record, len, &e->m->err) : -ENOMEM;
}

static int put(struct each *e, const void *record, size_t len)
{
	struct merge *m = e->m;

	if (e->x && scribe_merge_reduction_takes(e->x, record, len))
		return 0;
	record = moved(e, record, &len);
	if (!record)
		return -ENOMEM;
	return scribe_copy_check(m->out.writer, scribe_writer_record(m->out.writer, e->module, record, len), &m->err);
}

static int put_joined(struct each *e)
{
	struct merge *m = e->m;
	const void *record;
	size_t len;
	int rc = scribe_merge_reduction_new(e->module, m->job.nprocs, &e->x, &m->err);

	/* Three passes over all logs, because records of one module are too many to keep. */
	if (rc >= 0)
		rc = walk(e, note);
	if (rc >= 0)
		rc = scribe_merge_reduction_plan(e->x, &m->err);
	if (rc >= 0)
		rc = walk(e, reduce);
	for (size_t i = 0; rc >= 0; i++) {
		rc = scribe_merge_reduction_record(e->x, i, &record, &len, &m->err);
		if (rc <= 0)
			break;
		rc = scribe_copy_check(m->out.writer, scribe_writer_record(m->out.writer, e->module, record, len),
				       &m->err);
	}
	return rc;
}

static int put_module(struct merge *m, int module)
{
	struct each e = {m, NULL, module, 0};
	int rc = 0;

	if (module == SCRIBE_MOD_HEATMAP) {
		rc = walk(&e, note_axis);
		scribe_merge_axis_plan(&m->axis);
	}
	if (rc >= 0 && m->shared_redux && scribe_merge_reduction_can(module))
		rc = put_joined(&e);
	if (rc >= 0)
		rc = walk(&e, put);
	scribe_merge_reduction_free(e.x);
	return rc;
}

static int put_unknown(struct merge *m, int module)
{
	for (int i = 0; i < m->npaths; i++) {
		struct scribe_log log;
		int rc = scribe_log_open(&log, m->paths[i], 0, &m->err);

		if (rc >= 0 && scribe_reader_info(log.reader)->unknown >> module & 1)
			rc = scribe_copy_unknown(log.reader, m->out.writer, module, &m->err);
		scribe_log_close(&log);
		if (rc < 0)
			return rc;
	}
	return 0;
}

static int put_all(struct merge *m)
{
	const struct scribe_mount *mounts;
	size_t n = scribe_reader_mounts(m->first.reader, &mounts);
	int rc = scribe_writer_job(m->out.writer, &m->job, scribe_reader_exe(m->first.reader), mounts, n);

	for (size_t i = 0; i < scribe_names_count(m->names) && rc >= 0; i++) {
		struct scribe_name name = scribe_names_at(m->names, i);

		rc = scribe_writer_name(m->out.writer, name.id, name.bytes, name.len);
	}
	if (scribe_copy_check(m->out.writer, rc, &m->err) < 0)
		return rc;
	for (int i = 0; i < SCRIBE_MAX_MODULES && rc >= 0; i++) {
		if (m->partial >> i & 1)
			scribe_writer_partial(m->out.writer, i);
		if (m->present >> i & 1)
			rc = put_module(m, i);
		else if (m->unknown >> i & 1)
			rc = put_unknown(m, i);
	}
	return rc < 0 ? rc : scribe_output_finish(&m->out, &m->err);
}

static int merge_logs(struct merge *m)
{
	struct scribe_writer_options options = {.compression = m->compression};
	int rc;

	m->names = scribe_names_new();
	if (!m->names)
		return scribe_err_set(&m->err, -ENOMEM, "names: out of memory");
	rc = first_pass(m);
	if (rc < 0)
		return rc;
	if (m->other_jobs)
		scribe_complain(m->argv0, "warning: the logs are of different jobs; %s gets the first one's job id",
				m->output);
	options.dxt_threads = m->threads;
	rc = scribe_output_create(&m->out, m->output, m->force, m->as_stock, &options, &m->err);
	return rc < 0 ? rc : put_all(m);
}

static unsigned threads_of(const struct merge *m)
{
	long n = m->nthreads ? (long)m->nthreads : sysconf(_SC_NPROCESSORS_ONLN);

	return n < 1 ? 1 : n > SCRIBE_MERGE_THREADS ? SCRIBE_MERGE_THREADS : (unsigned)n;
}

static int cmd_merge(int argc, char **argv)
{
	struct merge m = {.argv0 = argv[0]};
	int first, rc, status = scribe_args_read(&scribe_command_merge, argc, argv, take, &m, &first);

	if (status >= 0)
		return status;
	if (!m.output && scribe_merge_is_parts(argv[first]))
		return scribe_merge_parts(argv[0], argv + first, argc - first, threads_of(&m), m.without_bad);
	if (!m.output) {
		scribe_complain(argv[0], "--output FILE is missing");
		return SCRIBE_EXIT_USAGE;
	}
	m.as_stock = !strcmp(scribe_program_name(argv[0]), "darshan-merge");
	m.paths = argv + first;
	m.npaths = argc - first;
	rc = merge_logs(&m);
	scribe_output_free(&m.out);
	scribe_names_free(m.names);
	scribe_log_close(&m.first);
	free(m.scratch);
	return rc < 0 ? scribe_complain_err(argv[0], &m.err) : SCRIBE_EXIT_OK;
}

static const struct scribe_option options[] = {
	{"output", 'o', "FILE", "the log to write"},
	{"force", 'F', NULL, "replace FILE if it is there; it may be one of the logs"},
	{"shared-redux", 's', NULL, "reduce the records that every rank has to one shared record"},
	{"job-end-time", 'e', "SECONDS", "end of the job, in seconds since 1970 (for logs that do not tell)"},
	{"bzip2", 'b', NULL, "compress with bzip2"},
	{"threads", 't', "N", "of directories: threads, 1 to 64 (as many as there are processors)"},
	{"without-bad", 'w', NULL, "of directories: leave out parts that cannot be used"},
	{NULL, 0, NULL, NULL},
};

static const char *const examples[] = {
	"ioscribe merge --shared-redux --output job.darshan rank-*.darshan",
	"one log of the logs that the ranks of a job left",
	"ioscribe merge /scratch/ioscribe/*.parts",
	"the logs of jobs of which a node has never delivered",
	NULL,
};

const struct scribe_command scribe_command_merge = {
	.name = "merge",
	.summary = "make one log of several logs of a job",
	.main = cmd_merge,
	.operands = "LOG...",
	.min_operands = 1,
	.max_operands = -1,
	.options = options,
	.about = "Writes one log with the records of all logs given. Command line, mounts and metadata are "
		 "those\n"
		 "of the first; the job starts with the earliest start and ends with the latest end; nprocs "
		 "is\n"
		 "the largest. Modules that are incomplete in one log are marked so in the result, and no "
		 "others.\n\n"
		 "Times in a log count from its own start; those of logs that start later are moved, so that "
		 "all\n"
		 "count from the merged job's start (under the name darshan-merge no time is moved). "
		 "Heatmaps\n"
		 "whose bins differ in width or number are put on one time axis: the widest bins, 200 at "
		 "most.\n\n"
		 "With --shared-redux, a record that all ranks have becomes one shared record with rank -1:\n"
		 "sums, extremes, fastest and slowest rank, and the variance over ranks; of Lustre layouts "
		 "that of\n"
		 "the lowest rank. Several records of one rank count as one. Records that are shared already "
		 "stay as\n"
		 "they are, and so do traces, processes and heatmaps, of which a rank's several become one.\n\n"
		 "Given directories, without --output: those that the nodes of a job have left (ID.parts, see\n"
		 "ioscribe-job) because one of them never came. Each job's logs are made of what there is, under\n"
		 "the names that they would have had, and the directory goes. The logs say in missing_nodes what\n"
		 "they lack; those that lack records are marked incomplete. A part that is cut\n"
		 "short or changed, or a copy of another node's, is named; nothing is made then, but with\n"
		 "--without-bad: then such parts stay where they are. A merge that was stopped goes on where it\n"
		 "was. Their owner calls it, or root, who becomes the owner of each for that.",
	.alias = "darshan-merge",
	.examples = examples,
};
