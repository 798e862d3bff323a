/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The job, metadata and path in the parts of an MPI world, and in their log. Must not know records or which
 * nodes have delivered.
 */
#include "logfmt/nodes/world.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "logfmt/counters/module.h"
#include "logfmt/file/writer.h"
#include "logfmt/records/quantum.h"
#include "logfmt/records/reduce.h"

#define PATH_BYTES    4400
#define MISSING_BYTES 600

int scribe_join_begin(struct scribe_join *j, const struct scribe_parts_world *world, struct scribe_err *err)
{
	*j = (struct scribe_join){.world = world, .err = err};
	j->bad = calloc(world->nodes + 1, sizeof(*j->bad));
	j->missing = malloc(MISSING_BYTES);
	if (!j->bad || !j->missing) {
		scribe_join_end(j);
		return scribe_err_set(err, -ENOMEM, "out of memory");
	}
	snprintf(j->missing, MISSING_BYTES, "%s", world->missing);
	return 0;
}

void scribe_join_end(struct scribe_join *j)
{
	j->leader = scribe_reader_free(j->leader);
	free(j->bad);
	free(j->missing);
	j->bad = NULL;
	j->missing = NULL;
}

int scribe_join_open(const struct scribe_join *j, const char *node, const char *kind, struct scribe_reader **ret_r,
		     struct scribe_err *err)
{
	char path[PATH_BYTES];

	snprintf(path, sizeof(path), "%s/%s%s%s.%s", j->world->dir, j->world->name, node ? "." : "", node ? node : "",
		 kind);
	return scribe_reader_open(path, ret_r, err);
}

static bool leads(const struct scribe_join *j, const struct scribe_part_info *info, const struct scribe_log_job *of,
		  const struct scribe_log_job *led)
{
	if (!j->leader)
		return true;
	/* The lowest rank leads, then the earliest start: a log has only one command line, path and metadata. */
	if (info->lowest != j->info.lowest)
		return info->lowest >= 0 && (j->info.lowest < 0 || info->lowest < j->info.lowest);
	return scribe_job_earlier(of, led);
}

/* Adds one part's job. */
static int look(struct scribe_join *j, const char *node, struct scribe_err *err)
{
	struct scribe_reader *r = NULL;
	struct scribe_part_info info;
	const struct scribe_log_job *of;
	struct scribe_log_job led = {0};
	int rc = scribe_join_open(j, node, SCRIBE_PART_LATE, &r, err);

	if (rc < 0)
		return rc;
	of = scribe_reader_job(r);
	rc = scribe_part_info_read(of->metadata, &info);
	if (rc < 0) {
		scribe_reader_free(r);
		return scribe_err_set(err, rc, "%s/%s.%s.part is no part of a log", j->world->dir, j->world->name,
				      node);
	}
	if (j->leader)
		led = *scribe_reader_job(j->leader);
	j->agreed = j->agreed || info.agreed;
	j->split = (j->split || !j->parts) && info.split;
	j->parts++;
	if (j->parts == 1)
		j->job = *of;
	else
		scribe_job_merge(&j->job, of);
	if (leads(j, &info, of, &led)) {
		scribe_reader_free(j->leader);
		j->leader = r;
		j->info = info;
		snprintf(j->from, sizeof(j->from), "%s", of->metadata);
		return 0;
	}
	scribe_reader_free(r);
	return 0;
}

void scribe_join_is_bad(struct scribe_join *j, size_t i, const char *why)
{
	size_t n = strlen(j->missing);

	if (j->bad[i])
		return;
	j->bad[i] = true;
	j->nbad++;
	snprintf(j->missing + n, MISSING_BYTES - n, "%s%s", n ? "," : "", j->world->node[i]);
	if (j->world->report)
		j->world->report(j->world->ctx, why);
}

int scribe_join_check(struct scribe_join *j)
{
	if (j->nbad == j->world->nodes)
		return scribe_err_set(j->err, -SCRIBE_E_FORMAT, "%s: no part of %s can be used", j->world->dir,
				      j->world->name);
	if (j->nbad == 0 || j->world->without_bad)
		return 0;
	return scribe_err_set(
		j->err, -SCRIBE_E_FORMAT,
		"%s: %zu of %zu parts of %s cannot be used: nothing was changed; merge --without-bad makes "
		"the log of the others",
		j->world->dir, j->nbad, j->world->nodes, j->world->name);
}

int scribe_join_look(struct scribe_join *j)
{
	for (size_t i = 0; i < j->world->nodes; i++) {
		struct scribe_err err = {0};
		int rc = look(j, j->world->node[i], &err);

		if (rc < 0 && !j->world->report && !j->world->without_bad)
			return scribe_err_set(j->err, rc, "%s", err.text);
		if (rc < 0)
			scribe_join_is_bad(j, i, err.text);
	}
	return j->parts ? 0 : scribe_join_check(j);
}

double scribe_join_lag(const struct scribe_join *j, const struct scribe_reader *r)
{
	const struct scribe_log_job *of = scribe_reader_job(r);
	const double lag = (double)(of->start_time_sec - j->job.start_time_sec) +
			   (double)(of->start_time_nsec - j->job.start_time_nsec) / 1e9;

	/* On the quantum, so that shifted times remain multiples of 2^-22 s. */
	return scribe_quantum_round(lag);
}

bool scribe_join_lacks(const struct scribe_join *j)
{
	const bool rest = !strcmp(j->world->name, SCRIBE_PARTS_REST);

	/* The ranks' own log has all ranks, also those of missing nodes. */
	return j->missing[0] && (j->nbad || rest || (!j->collective && j->ranks < j->job.nprocs));
}

static void describe(struct scribe_join *j)
{
	static const char finalize[] = "finalize=";
	struct scribe_part_info ignored;
	size_t n, cap = sizeof(j->job.metadata);
	char *to = j->job.metadata;

	if (scribe_join_lacks(j))
		j->partial |= UINT64_C(1) << SCRIBE_MOD_POSIX;
	n = (size_t)snprintf(to, cap, "finalize=%s\nnodes=%zu\n", j->collective ? "collective" : "deferred",
			     j->world->nodes - j->nbad);
	if (j->missing[0])
		n += (size_t)snprintf(to + n, cap - n, "missing_nodes=%.400s\n", j->missing);
	for (const char *line = j->from; *line;) {
		size_t len = strcspn(line, "\n");

		if (len && !scribe_part_info_take(line, &ignored) && strncmp(line, finalize, sizeof(finalize) - 1) &&
		    n + len + 2 < cap) {
			memcpy(to + n, line, len);
			n += len;
			to[n++] = '\n';
		}
		line += len + (line[len] == '\n');
	}
	to[n] = 0;
}

int scribe_join_log_path(const struct scribe_join *j, char *ret, size_t cap)
{
	const char *log_path = j->info.log_path, *slash = strrchr(log_path, '/'),
		   *dot = strrchr(slash ? slash : log_path, '.');
	double seconds = (double)(j->job.end_time_sec - j->job.start_time_sec) +
			 (double)(j->job.end_time_nsec - j->job.start_time_nsec) / 1e9;
	int n;

	/* The job's duration is part of a generated name, and known only now. */
	if (!j->info.named)
		n = snprintf(ret, cap, "%s_%" PRIu64 ".darshan", log_path, (uint64_t)seconds + 1);
	else if (j->world->number < 2)
		n = snprintf(ret, cap, "%s", log_path);
	else if (!dot || dot == (slash ? slash + 1 : log_path))
		n = snprintf(ret, cap, "%s.%u", log_path, j->world->number);
	else
		n = snprintf(ret, cap, "%.*s.%u%s", (int)(dot - log_path), log_path, j->world->number, dot);
	return n < (int)cap ? 0 : -ENAMETOOLONG;
}

int scribe_join_create(struct scribe_join *j, const char *to, struct scribe_writer **ret_w)
{
	const struct scribe_mount *mounts;
	size_t n = scribe_reader_mounts(j->leader, &mounts);
	int rc = scribe_writer_create(to, NULL, ret_w, j->err);

	if (rc < 0)
		return rc;
	describe(j);
	rc = scribe_writer_job(*ret_w, &j->job, scribe_reader_exe(j->leader), mounts, n);
	return rc < 0 ? scribe_join_finish(j, *ret_w, rc, to) : 0;
}

int scribe_join_finish(struct scribe_join *j, struct scribe_writer *w, int rc, const char *to)
{
	for (int i = 0; i < SCRIBE_MAX_MODULES; i++)
		if (j->partial & UINT64_C(1) << i)
			scribe_writer_partial(w, i);
	if (rc == 0)
		rc = scribe_writer_finish(w);
	if (rc < 0 && j->err && !j->err->text[0]) {
		*j->err = *scribe_writer_error(w);
		if (!j->err->text[0])
			scribe_err_set(j->err, rc, "cannot write %s: %s", to, scribe_strerror(rc));
	}
	scribe_writer_free(w);
	return rc;
}
