/* SPDX-License-Identifier: BSD-3-Clause */
/* The parts of one MPI world (or of the rest of a job), looked at: what the log of them says of itself.
 * Private to logfmt/. */
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
	const char *const *node; /* of the parts */
	size_t nodes;
	const char *missing; /* nodes that have not delivered, joined by commas; "" none */
	unsigned number;     /* of the job's logs, from 1 */
	int64_t job_nodes;   /* 0: not known */
	/* how it is made */
	unsigned threads; /* 0: this one alone, and in memory where the nodes are few */
	bool without_bad; /* parts that cannot be used are left out */
	void (*tell)(void *ctx,
		     const char *line); /* of each such part, and where a merge goes on; NULL: nobody asks */
	void *ctx;
};

struct scribe_join {
	const struct scribe_parts_world *world;
	struct scribe_log_job job;
	struct scribe_part_info info; /* of the part with the lowest rank */
	char from[SCRIBE_JOB_METADATA_BYTES];
	struct scribe_reader *leader; /* of that part: command line, mounts */
	bool agreed, split, collective;
	uint64_t partial;
	size_t parts;
	int64_t ranks; /* that the process tables of the parts tell of */
	bool *bad;     /* of each node: its part cannot be used */
	size_t nbad;
	char *missing; /* world->missing and the bad ones */
	struct scribe_err *err;
};

/* `err` is kept, and NULL is allowed. 0 or -ENOMEM. */
int scribe_join_begin(struct scribe_join *j, const struct scribe_parts_world *world, struct scribe_err *err);
void scribe_join_end(struct scribe_join *j);

/* The part of a kind of a node; `node` NULL: that of the ranks. */
int scribe_join_open(const struct scribe_join *j, const char *node, const char *kind,
		     struct scribe_reader **ret_r, struct scribe_err *err);
/* Seconds, a multiple of the times' grid, from the joined job's start to that of a log of it. */
double scribe_join_lag(const struct scribe_join *j, const struct scribe_reader *r);
/* Job and metadata of all parts; bad ones are told. */
int scribe_join_look(struct scribe_join *j);
/* The part of node `i` cannot be used. */
void scribe_join_is_bad(struct scribe_join *j, size_t i, const char *why);
/* May it go on? 0, or the error that ends it. */
int scribe_join_check(struct scribe_join *j);

struct scribe_writer;
/* The log in the new file `to`, with its job, metadata and mounts; `ranks` is known by then. 0, or the failure,
 * which the error tells: nothing is left then.
 */
int scribe_join_create(struct scribe_join *j, const char *to, struct scribe_writer **ret_w);
/* The end of the log, `rc` after its records; the writer is freed. 0, or the failure, which the error tells.
 */
int scribe_join_finish(struct scribe_join *j, struct scribe_writer *w, int rc, const char *to);
/* Does the log lack records? */
bool scribe_join_lacks(const struct scribe_join *j);
/* Where the log belongs below the directory of the logs: NAME with .N before its ending, or
 * STEM_SECONDS.darshan. */
int scribe_join_log_path(const struct scribe_join *j, char *ret, size_t cap);

#endif
