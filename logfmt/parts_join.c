/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One log from the parts of an MPI world, or of the rest of a job. The ranks'
 * own log counts where they agreed on it and every node can tell what came
 * later; else each node's records up to MPI_Finalize take its place, and are
 * reduced by the rule that the ranks use. Must not know who has delivered.
 */
#include "logfmt/parts.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "logfmt/bundle.h"
#include "logfmt/reduce.h"
#include "logfmt/writer.h"

#define PATH_BYTES 4400

struct join {
	const struct scribe_parts_world *world;
	struct scribe_bundle bundle;
	struct scribe_log_job job;
	struct scribe_part_info info; /* of the part with the lowest rank */
	char from[SCRIBE_JOB_METADATA_BYTES];
	struct scribe_reader *leader; /* of that part: command line, mounts */
	bool agreed, split, collective;
	uint64_t partial;
	size_t parts;
	int64_t ranks; /* in the parts */
	struct scribe_err *err;
};

static const struct {
	const char *key;
	size_t at;
} numbers[] = {
	{"agreed", offsetof(struct scribe_part_info, agreed)},
	{"split", offsetof(struct scribe_part_info, split)},
	{"unshared", offsetof(struct scribe_part_info, unshared)},
	{"named", offsetof(struct scribe_part_info, named)},
};
#define NUMBERS (sizeof(numbers) / sizeof(numbers[0]))

int scribe_part_info_write(const struct scribe_part_info *info, char *text, size_t cap)
{
	int n = snprintf(text, cap, "lowest=%" PRId64 "\nplace=%s\n", info->lowest, info->place);

	for (size_t i = 0; i < NUMBERS && n >= 0 && (size_t)n < cap; i++)
		n += snprintf(text + n, cap - (size_t)n, "%s=%d\n", numbers[i].key,
			      *(const int *)(const void *)((const char *)info + numbers[i].at));
	return n < 0 || (size_t)n >= cap ? -ENAMETOOLONG : n;
}

/* Does the line begin with "key="? Its value, up to the end of the line, in *ret. */
static bool line_is(const char *line, const char *key, const char **ret, size_t *ret_bytes)
{
	size_t n = strlen(key);

	if (strncmp(line, key, n) || line[n] != '=')
		return false;
	*ret = line + n + 1;
	*ret_bytes = strcspn(*ret, "\n");
	return true;
}

/* Takes the line if it is of a part alone. */
static bool take_line(const char *line, struct scribe_part_info *info)
{
	const char *value;
	size_t bytes;

	if (line_is(line, "place", &value, &bytes)) {
		snprintf(info->place, sizeof(info->place), "%.*s", (int)bytes, value);
		return true;
	}
	if (line_is(line, "lowest", &value, &bytes)) {
		info->lowest = strtoll(value, NULL, 10);
		return true;
	}
	for (size_t i = 0; i < NUMBERS; i++)
		if (line_is(line, numbers[i].key, &value, &bytes)) {
			*(int *)(void *)((char *)info + numbers[i].at) = value[0] == '1';
			return true;
		}
	return false;
}

/* A place is below the directory of the parts' own, whatever a file says. */
static bool place_is_sound(const char *place)
{
	return place[0] && place[0] != '/' && strncmp(place, "../", 3) && !strstr(place, "/../") &&
	       strcmp(place, "..");
}

int scribe_part_info_read(const char *metadata, struct scribe_part_info *ret_info)
{
	struct scribe_part_info info = {.lowest = -1};

	for (const char *line = metadata; line && *line; line = strchr(line, '\n')) {
		line += *line == '\n';
		(void)take_line(line, &info);
	}
	if (!place_is_sound(info.place))
		return -SCRIBE_E_FORMAT;
	*ret_info = info;
	return 0;
}

static int open_part(struct join *j, const char *node, const char *kind, struct scribe_reader **ret_r)
{
	char path[PATH_BYTES];

	snprintf(path, sizeof(path), "%s/%s%s%s.%s", j->world->dir, j->world->name, node ? "." : "",
		 node ? node : "", kind);
	return scribe_reader_open(path, ret_r, j->err);
}

/* It leads: what there can be one of only is taken from it. */
static bool leads(const struct join *j, const struct scribe_part_info *info, const struct scribe_log_job *of,
		  const struct scribe_log_job *led)
{
	if (!j->leader)
		return true;
	if (info->lowest != j->info.lowest)
		return info->lowest >= 0 && (j->info.lowest < 0 || info->lowest < j->info.lowest);
	return scribe_job_earlier(of, led);
}

static int look(struct join *j, const char *node)
{
	struct scribe_reader *r = NULL;
	struct scribe_part_info info;
	const struct scribe_log_job *of;
	struct scribe_log_job led = {0};
	int rc = open_part(j, node, SCRIBE_PART_LATE, &r);

	if (rc < 0)
		return rc;
	of = scribe_reader_job(r);
	rc = scribe_part_info_read(of->metadata, &info);
	if (rc < 0) {
		scribe_reader_free(r);
		return scribe_err_set(j->err, rc, "%s/%s.%s.part is no part of a log", j->world->dir,
				      j->world->name, node);
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

/* Seconds from the joined job's start to that of a log of it. */
static double lag_of(const struct join *j, const struct scribe_log_job *of)
{
	return (double)(of->start_time_sec - j->job.start_time_sec) +
	       (double)(of->start_time_nsec - j->job.start_time_nsec) / 1e9;
}

static int add_log(struct join *j, struct scribe_reader *r)
{
	j->partial |= scribe_reader_header(r)->partial_flag;
	return scribe_bundle_join(&j->bundle, r, lag_of(j, scribe_reader_job(r)), j->err);
}

static int add_part(struct join *j, const char *node, const char *kind)
{
	struct scribe_reader *r = NULL;
	int rc = open_part(j, node, kind, &r);

	if (rc == 0)
		rc = add_log(j, r);
	scribe_reader_free(r);
	return rc;
}

static int add_records(struct join *j, struct scribe_reader *ranks)
{
	int rc = ranks ? add_log(j, ranks) : 0;

	for (size_t i = 0; i < j->world->nodes && rc == 0; i++) {
		if (!ranks)
			rc = add_part(j, j->world->node[i], SCRIBE_PART_FIRST);
		if (rc == -ENOENT) { /* its ranks had not come so far */
			*j->err = (struct scribe_err){0};
			rc = 0;
		}
		if (rc == 0)
			rc = add_part(j, j->world->node[i], SCRIBE_PART_LATE);
	}
	return rc;
}

/* Ranks that the process tables of the parts tell of. */
static int64_t ranks_seen(const struct join *j)
{
	unsigned char *seen = calloc((size_t)(j->job.nprocs > 0 ? j->job.nprocs : 1), 1);
	int64_t n = 0;

	for (size_t i = 0; seen && i < j->bundle.n; i++) {
		const struct scribe_bundled *r = j->bundle.rec[i];

		if (r->module != SCRIBE_MOD_PROCESS || r->rank < 0 || r->rank >= j->job.nprocs)
			continue;
		n += !seen[r->rank];
		seen[r->rank] = 1;
	}
	free(seen);
	return n;
}

/* The lines of the part that leads which are not of parts alone, behind what is said of the whole. */
static void write_metadata(struct join *j)
{
	struct scribe_part_info ignored;
	const char *value;
	size_t bytes, n, cap = sizeof(j->job.metadata);
	char *to = j->job.metadata;

	n = (size_t)snprintf(to, cap, "finalize=%s\nnodes=%zu\n", j->collective ? "collective" : "deferred",
			     j->world->nodes);
	if (j->world->missing[0])
		n += (size_t)snprintf(to + n, cap - n, "missing_nodes=%.400s\n", j->world->missing);
	for (const char *line = j->from; *line;) {
		size_t len = strcspn(line, "\n");

		if (len && !take_line(line, &ignored) && !line_is(line, "finalize", &value, &bytes) &&
		    n + len + 2 < cap) {
			memcpy(to + n, line, len);
			n += len;
			to[n++] = '\n';
		}
		line += len + (line[len] == '\n');
	}
	to[n] = 0;
}

static int write_log(struct join *j, const char *to)
{
	const struct scribe_mount *mounts;
	size_t n = scribe_reader_mounts(j->leader, &mounts);
	struct scribe_writer *w = NULL;
	int rc = scribe_writer_create(to, NULL, &w, j->err);

	if (rc < 0)
		return rc;
	rc = scribe_writer_job(w, &j->job, scribe_reader_exe(j->leader), mounts, n);
	if (rc == 0)
		rc = scribe_bundle_write_names(&j->bundle, w);
	if (rc == 0)
		rc = scribe_bundle_write(&j->bundle, w);
	for (int i = 0; i < SCRIBE_MAX_MODULES; i++)
		if (j->partial & UINT64_C(1) << i)
			scribe_writer_partial(w, i);
	if (rc == 0)
		rc = scribe_writer_finish(w);
	if (rc < 0 && j->err) {
		*j->err = *scribe_writer_error(w);
		if (!j->err->text[0])
			scribe_err_set(j->err, rc, "cannot write %s: %s", to, scribe_strerror(rc));
	}
	scribe_writer_free(w);
	return rc;
}

/* NAME with .N before its ending, or STEM_SECONDS.darshan. */
static int final_name(const struct join *j, char *ret, size_t cap)
{
	const char *place = j->info.place, *slash = strrchr(place, '/'), *dot = strrchr(slash ? slash : place, '.');
	double seconds = (double)(j->job.end_time_sec - j->job.start_time_sec) +
			 (double)(j->job.end_time_nsec - j->job.start_time_nsec) / 1e9;
	int n;

	if (!j->info.named)
		n = snprintf(ret, cap, "%s_%" PRIu64 ".darshan", place, (uint64_t)seconds + 1);
	else if (j->world->number < 2)
		n = snprintf(ret, cap, "%s", place);
	else if (!dot || dot == (slash ? slash + 1 : place))
		n = snprintf(ret, cap, "%s.%u", place, j->world->number);
	else
		n = snprintf(ret, cap, "%.*s.%u%s", (int)(dot - place), place, j->world->number, dot);
	return n < (int)cap ? 0 : -ENAMETOOLONG;
}

static int join_all(struct join *j, const char *to, bool *ret_lacks)
{
	const bool rest = !strcmp(j->world->name, SCRIBE_PARTS_REST);
	struct scribe_reader *ranks = NULL;
	int rc = 0;

	for (size_t i = 0; i < j->world->nodes && rc == 0; i++)
		rc = look(j, j->world->node[i]);
	if (rc < 0)
		return rc;
	if (j->agreed && j->split && open_part(j, NULL, SCRIBE_PART_RANKS, &ranks) == 0) {
		j->collective = true;
		scribe_job_merge(&j->job, scribe_reader_job(ranks));
	}
	rc = add_records(j, ranks);
	scribe_reader_free(ranks);
	if (rc == 0 && !rest && !j->info.unshared)
		rc = scribe_bundle_reduce(&j->bundle, j->job.nprocs);
	if (rc < 0)
		return j->err && j->err->text[0] ? rc : scribe_err_set(j->err, rc, "out of memory");
	j->ranks = ranks_seen(j);
	*ret_lacks = j->world->missing[0] && (rest || (!j->collective && j->ranks < j->job.nprocs));
	if (*ret_lacks)
		j->partial |= UINT64_C(1) << SCRIBE_MOD_POSIX;
	write_metadata(j);
	return write_log(j, to);
}

int scribe_parts_join(const struct scribe_parts_world *world, const char *to, char *ret_place, size_t cap,
		      bool *ret_named, bool *ret_lacks, struct scribe_err *err)
{
	struct scribe_err own = {0};
	struct join *j = calloc(1, sizeof(*j));
	int rc;

	if (!j)
		return scribe_err_set(err, -ENOMEM, "out of memory");
	j->world = world;
	j->err = err ? err : &own;
	rc = join_all(j, to, ret_lacks);
	if (rc == 0)
		rc = final_name(j, ret_place, cap);
	*ret_named = j->info.named;
	scribe_bundle_clear(&j->bundle);
	scribe_reader_free(j->leader);
	free(j);
	return rc;
}
