/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Dictionaries of the store: what a row of `event` names by a small number. What has been looked
 * up is remembered, in bounded memory.
 */
#ifndef UTIL_STORE_NAMES_H
#define UTIL_STORE_NAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "logfmt/base/err.h"
#include "util/store/event.h"
#include "util/store/sql.h"

/* A job id that was silent so long (microseconds) belongs to another job when it comes again. */
#define SCRIBE_STORE_REUSE_US (86400LL * 1000000)

/* Bytes of a text that an index holds: PostgreSQL's take 2,704 with all else that is in a row of it. */
#define SCRIBE_STORE_KEY 2048

/* Entries that are remembered; all are forgotten then. */
#define SCRIBE_NAMES_MAX 500000

struct scribe_store_names;

int scribe_store_names_new(const struct scribe_sql_kind_ops *ops, void *db,
			   struct scribe_store_names **ret_names, struct scribe_err *err);
struct scribe_store_names *scribe_store_names_free(struct scribe_store_names *names);

/* Forget what is remembered: after a transaction that was given up, or when others deleted rows. */
void scribe_store_names_clear(struct scribe_store_names *names);
/* Is it time for that? Between transactions. */
bool scribe_store_names_full(const struct scribe_store_names *names);

/*
 * The text as an index holds it: itself, or where it is too long its begin (of UTF-8, whole characters), '#'
 * and a hash of all. `room` has SCRIBE_STORE_KEY + 1 bytes.
 */
const char *scribe_store_key(const char *text, char *room);

/* Numbers in tables operation, node, metric and file; those that are new are added. path NULL: not known now. */
int scribe_store_operation(struct scribe_store_names *names, const char *module, const char *op,
			   const char *type, int64_t *ret_id, struct scribe_err *err);
int scribe_store_node(struct scribe_store_names *names, const char *name, int64_t *ret_id,
		      struct scribe_err *err);
int scribe_store_metric(struct scribe_store_names *names, const char *name, int64_t *ret_id,
			struct scribe_err *err);
int scribe_store_file(struct scribe_store_names *names, int64_t job, uint64_t record_id, const char *path,
		      int64_t *ret_id, struct scribe_err *err);

struct scribe_store_job {
	int64_t id, uid, use, first_us, last_us;
	enum scribe_store_origin origin;
	bool changed;
	bool is_new;   /* by the call that told it */
	bool is_other; /* the first call that asked with another origin */
	bool other_told;
};

/*
 * The job with that id whose time fits (from start to end of what happened, microseconds since
 * 1970), made where there is none; its time is widened. *ret_job is good until the next call.
 */
int scribe_store_job(struct scribe_store_names *names, int64_t job_id, int64_t uid, int64_t from_us,
		     int64_t to_us, enum scribe_store_origin origin, const struct scribe_store_job **ret_job,
		     struct scribe_err *err);
int scribe_store_exe(struct scribe_store_names *names, int64_t job, const char *exe, struct scribe_err *err);
/* Write the times of jobs that have changed: before a commit. */
int scribe_store_job_times(struct scribe_store_names *names, struct scribe_err *err);

#endif
