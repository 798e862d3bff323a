/* SPDX-License-Identifier: BSD-3-Clause */
/* Private to logfmt/. */
#ifndef LOGFMT_NODES_WORLD_H
#define LOGFMT_NODES_WORLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "logfmt/base/err.h"
#include "logfmt/file/reader.h"
#include "logfmt/nodes/part.h"

struct scribe_parts_world {
	const char *dir, *name;  /* WORLD */
	const char *const *node; /* with a part */
	size_t nodes;
	const char *missing; /* nodes without delivery, separated by commas */
	unsigned number;     /* among the job's logs, from 1 */
	int64_t job_nodes;   /* 0: unknown */
	unsigned threads;    /* 0: the caller's, with few nodes in memory */
	bool without_bad;
	void (*report)(void *ctx,
		       const char *line); /* of each such part, and where a merge continues; NULL: not reported */
	void *ctx;
};

struct scribe_join {
	const struct scribe_parts_world *world;
	struct scribe_log_job job;
	struct scribe_part_info info; /* of the leading part */
	char from[SCRIBE_JOB_METADATA_BYTES];
	struct scribe_reader *leader; /* its reader */
	bool agreed, split, collective;
	uint64_t partial;
	size_t parts;
	int64_t ranks; /* in the parts' process tables */
	bool *bad;     /* by node: unusable */
	size_t nbad;
	char *missing; /* world->missing and unusable ones */
	struct scribe_err *err;
};

/* Keeps `err` (may be NULL). 0 or -ENOMEM. */
int scribe_join_begin(struct scribe_join *j, const struct scribe_parts_world *world, struct scribe_err *err);
void scribe_join_end(struct scribe_join *j);

/* `node` NULL: the ranks' file. */
int scribe_join_open(const struct scribe_join *j, const char *node, const char *kind, struct scribe_reader **ret_r,
		     struct scribe_err *err);
/* Seconds on the times' quantum from the joined job's start to that of r's log. */
double scribe_join_lag(const struct scribe_join *j, const struct scribe_reader *r);
/* Reads jobs and metadata of all parts, reports unusable ones. */
int scribe_join_look(struct scribe_join *j);
/* Marks node i's part as unusable. */
void scribe_join_is_bad(struct scribe_join *j, size_t i, const char *why);
/* 0, or the error if unusable parts end the join. */
int scribe_join_check(struct scribe_join *j);

struct scribe_writer;
/* Writes job, metadata, mounts; needs j->ranks. After a failure `to` is removed. */
int scribe_join_create(struct scribe_join *j, const char *to, struct scribe_writer **ret_w);
/* Ends the log and frees `w`; `rc`: result of writing the records. */
int scribe_join_finish(struct scribe_join *j, struct scribe_writer *w, int rc, const char *to);
bool scribe_join_lacks(const struct scribe_join *j);
/* Path below the logs' directory: NAME with .N before the ending, or STEM_SECONDS.darshan. */
int scribe_join_log_path(const struct scribe_join *j, char *ret, size_t cap);

#endif
