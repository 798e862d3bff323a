/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Names and contents of a job's parts. All nodes derive the same names from the job, so that they exchange nothing but
 * files. Main thread; helpers write the files. Must not know records.
 */
#include "runtime/daemon/output/node_parts.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "logfmt/base/hash.h"
#include "runtime/daemon/output/log_path.h"
#include "runtime/daemon/state/job_messages.h"
#include "runtime/daemon/state/job_nodes.h"

int scribe_parts_path(const struct scribe_job *job, const char *name, char *ret_path, size_t cap)
{
	char stem[SCRIBE_PATH_MAX];
	int rc = scribe_log_path_stem(job, stem, sizeof(stem)), n;

	if (rc < 0)
		return rc;
	/* A restarted job has its own directory: old parts must not be merged with new ones. */
	if (job->spec.attempt)
		n = snprintf(ret_path, cap, "%s.%u" SCRIBE_PARTS_ENDING "/%s", stem, job->spec.attempt, name);
	else
		n = snprintf(ret_path, cap, "%s" SCRIBE_PARTS_ENDING "/%s", stem, name);
	return n < 0 || (size_t)n >= cap ? -ENAMETOOLONG : 0;
}

static void node_word(const struct scribe_job *job, char *ret, size_t cap)
{
	size_t n = 0;

	for (const char *p = job->host; *p && n < cap - 1; p++)
		ret[n++] = *p > ' ' && *p != '.' && *p != '/' && *p != ',' && *p != 0x7f ? *p : '_';
	ret[n] = 0;
}

/* Launchers may get a port again. */
static unsigned earlier_namesakes(const struct scribe_job *job, const struct scribe_log_unit *u)
{
	unsigned n = 0;

	for (const struct scribe_log_unit *other = job->worlds.units; other && other != u; other = other->next)
		n += !strcmp(other->key, u->key);
	return n;
}

static void world_word(const struct scribe_job *job, const struct scribe_log_unit *u, char *ret, size_t cap)
{
	uint64_t hash = scribe_hash64(u->key, strlen(u->key), u->id ? earlier_namesakes(job, u) : 0);

	/* A hash, because keys may be long and contain slashes. A key of this node is mixed with its name. */
	if (!u->id)
		snprintf(ret, cap, SCRIBE_PARTS_REST);
	else if (scribe_is_local_world(u->key))
		snprintf(ret, cap, "%016" PRIx64, scribe_hash64(job->host, strlen(job->host), hash));
	else
		snprintf(ret, cap, "%016" PRIx64, hash);
}

int scribe_parts_unit_path(const struct scribe_job *job, const struct scribe_log_unit *u, const char *kind,
			   char *ret_path, size_t cap)
{
	char world[32], node[64], name[128];

	world_word(job, u, world, sizeof(world));
	node_word(job, node, sizeof(node));
	if (strcmp(kind, SCRIBE_PART_RANKS))
		snprintf(name, sizeof(name), "%s.%s.%s", world, node, kind);
	else
		snprintf(name, sizeof(name), "%s.%s", world, kind);
	return scribe_parts_path(job, name, ret_path, cap);
}

int scribe_parts_node_path(const struct scribe_job *job, const char *kind, char *ret_path, size_t cap)
{
	char node[64], name[128];

	node_word(job, node, sizeof(node));
	snprintf(name, sizeof(name), "%s.%s", node, kind);
	return scribe_parts_path(job, name, ret_path, cap);
}

static void keep_place(struct scribe_log_unit *u, const char *path)
{
	free(u->log_path);
	u->log_path = strdup(path);
}

/* Relative to the parent of the parts' directory, because the merging node may mount it elsewhere. */
static int place_of(struct scribe_job *job, struct scribe_log_unit *u, struct scribe_part_info *info)
{
	char path[SCRIBE_PATH_MAX], stem[SCRIBE_PATH_MAX];
	struct scribe_err err;
	const char *from;
	size_t n;
	int rc = scribe_log_path_stem(job, stem, sizeof(stem));

	if (rc == 0 && job->config.log_file[0])
		snprintf(path, sizeof(path), "%s", job->config.log_file);
	else if (rc == 0)
		rc = scribe_log_path_partial(job, u, path, sizeof(path), &err);
	if (rc < 0)
		return rc;
	keep_place(u, path);
	info->named = job->config.log_file[0] != 0;
	from = path + (strrchr(stem, '/') + 1 - stem);
	if (job->config.dated && !info->named)
		from -= strlen(SCRIBE_PARTS_ALL "/");
	n = strlen(from) - (info->named ? 0 : strlen(".darshan_partial"));
	return snprintf(info->log_path, sizeof(info->log_path), "%.*s", (int)n, from) < (int)sizeof(info->log_path)
		       ? 0
		       : -ENAMETOOLONG;
}

int scribe_node_parts_describe(struct scribe_job *job, struct scribe_log_unit *u, char *text, size_t cap)
{
	struct scribe_part_info info = {.lowest = -1, .split = 1, .unshared = job->config.unshared};
	int rc = place_of(job, u, &info);

	for (size_t i = 0; i < u->ranks.buckets; i++) {
		const struct scribe_rank *r = u->ranks.entry[i].value;

		if (!r)
			continue;
		info.agreed = info.agreed || r->state == SCRIBE_RANK_DONE;
		info.split = info.split && r->fetched;
		if (u->id && (info.lowest < 0 || r->rank < info.lowest))
			info.lowest = r->rank;
	}
	return rc < 0 ? rc : scribe_part_info_write(&info, text, cap);
}

int scribe_parts_write_done(const struct scribe_job *job, int fd)
{
	int rc = dprintf(fd, "nodes=%u\n", job->spec.nodes);

	for (const struct scribe_log_unit *u = job->worlds.units; u && rc >= 0; u = u->next) {
		char path[SCRIBE_PATH_MAX];

		if (!u->part)
			continue;
		rc = scribe_parts_unit_path(job, u, SCRIBE_PART_LATE, path, sizeof(path));
		if (rc >= 0)
			rc = dprintf(fd, "part=%s\n", strrchr(path, '/') + 1);
	}
	return rc < 0 ? -EIO : 0;
}

void scribe_parts_made(struct scribe_job *job, int fd)
{
	FILE *f = fdopen(dup(fd), "r");
	char line[SCRIBE_PATH_MAX + 2];
	size_t kept = 0;

	for (size_t i = 0; i < job->logs; i++)
		if (!job->log[i].part)
			job->log[kept++] = job->log[i];
	job->logs = kept;
	if (!f)
		return;
	rewind(f);
	while (fgets(line, sizeof(line), f)) {
		struct scribe_msg_log *m = scribe_commit_message(job);

		line[strcspn(line, "\n")] = 0;
		if (m)
			snprintf(m->path, sizeof(m->path), "%.4000s", line);
	}
	fclose(f);
}
