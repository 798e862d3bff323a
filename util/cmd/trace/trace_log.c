// SPDX-License-Identifier: BSD-3-Clause
/* The log of `ioscribe trace`: filtered by rank and file, compressed. Must not know the service. */
#include "util/cmd/trace/trace_log.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/logs/copy.h"
#include "util/logs/logfile.h"

struct copying {
	struct scribe_log log;
	struct scribe_output out;
	const struct scribe_dxt_filter *filter;
	struct scribe_err *err;
};

/* Called before the window, which would be wasted if the log could not be written. */
int scribe_trace_log_check(const char *path, bool replace, struct scribe_err *err)
{
	const char *slash = strrchr(path, '/');
	char *dir = slash == path ? strdup("/") : slash ? strndup(path, (size_t)(slash - path)) : strdup(".");
	struct stat st;
	int rc = dir ? 0 : scribe_err_set(err, -ENOMEM, "out of memory");

	if (rc == 0 && !replace && lstat(path, &st) == 0)
		rc = scribe_err_set(err, -EEXIST, "%s: File exists (--force replaces it)", path);
	if (rc == 0 && access(dir, W_OK | X_OK) < 0)
		rc = scribe_err_set(err, -errno, "no log can be written to %s/: %s", dir, strerror(errno));
	free(dir);
	return rc;
}

static int copy_names(struct copying *c)
{
	struct scribe_writer *wr = c->out.writer;
	int rc = 0;

	for (size_t i = 0; i < scribe_names_count(c->log.names) && rc >= 0; i++) {
		const struct scribe_name n = scribe_names_at(c->log.names, i);

		/* Names of other files are left out; the ledger keeps its name with its record. */
		if (scribe_dxt_filter_wants_file(c->filter, n.bytes) || !strncmp(n.bytes, "ledger:", 7))
			rc = scribe_writer_name(wr, n.id, n.bytes, n.len);
	}
	return scribe_copy_check(wr, rc, c->err);
}

/* Only traces are filtered; the ledger counts losses of all. */
static bool is_wanted(const struct copying *c, int module, const void *record)
{
	const struct scribe_base_record *base = record;

	return (module != SCRIBE_MOD_DXT_POSIX && module != SCRIBE_MOD_DXT_MPIIO) ||
	       scribe_dxt_filter_wants(c->filter, base->rank, scribe_names_find(c->log.names, base->id, NULL));
}

static int copy_module(struct copying *c, int module)
{
	const void *record;
	size_t len;
	int rc;

	while ((rc = scribe_reader_borrow_record(c->log.reader, module, &record, &len)) > 0) {
		if (!is_wanted(c, module, record))
			continue;
		rc = scribe_writer_record(c->out.writer, module, record, len);
		if (scribe_copy_check(c->out.writer, rc, c->err) < 0)
			return rc;
	}
	if (rc < 0)
		*c->err = *scribe_reader_error(c->log.reader);
	return rc;
}

static int copy_all(struct copying *c)
{
	const uint64_t partial = scribe_reader_header(c->log.reader)->partial_flag;
	struct scribe_log_job job = scribe_copy_job(c->log.reader);
	struct scribe_writer *wr = c->out.writer;
	const struct scribe_mount *mounts;
	size_t n = scribe_reader_mounts(c->log.reader, &mounts);
	int rc = scribe_writer_job(wr, &job, scribe_reader_exe(c->log.reader), mounts, n);

	rc = scribe_copy_check(wr, rc, c->err);
	if (rc >= 0)
		rc = copy_names(c);
	for (int i = 0; i < SCRIBE_MAX_MODULES && rc >= 0; i++) {
		if (partial >> i & 1)
			scribe_writer_partial(wr, i);
		if (scribe_reader_has(c->log.reader, i))
			rc = copy_module(c, i);
	}
	return rc < 0 ? rc : scribe_output_finish(&c->out, c->err);
}

int scribe_trace_log_write(int fd, const struct scribe_dxt_filter *f, const char *path, bool replace,
			   struct scribe_err *err)
{
	struct scribe_writer_options options = {.compression = SCRIBE_COMP_ZLIB};
	struct copying c = {.filter = f, .err = err};
	char from[32];
	int rc;

	/* Logs are opened by path, and /proc has one for a descriptor. */
	snprintf(from, sizeof(from), "/proc/self/fd/%d", fd);
	rc = scribe_log_open(&c.log, from, SCRIBE_LOG_NAMES, err);
	if (rc >= 0) {
		options.dxt_threads = scribe_copy_has_threads(c.log.reader);
		rc = scribe_output_create(&c.out, path, replace, false, &options, err);
		if (rc >= 0)
			rc = copy_all(&c);
		scribe_output_free(&c.out);
	}
	scribe_log_close(&c.log);
	return rc;
}
