/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers in rows of `event`. */
#ifndef UTIL_STORE_NAMES_H
#define UTIL_STORE_NAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "logfmt/base/err.h"
#include "util/store/event.h"
#include "util/store/sql.h"

/* A job id without operations for this long (us) is treated as a new job. */
#define SCRIBE_STORE_REUSE_US (86400LL * 1000000)

/* Bytes of a text in an index: PostgreSQL limits a whole index row to 2,704. */
#define SCRIBE_STORE_KEY 2048

#define SCRIBE_NAMES_MAX 500000

struct scribe_store_names;

int scribe_store_names_new(const struct scribe_sql_kind_ops *ops, void *db, struct scribe_store_names **ret_names,
			   struct scribe_err *err);
struct scribe_store_names *scribe_store_names_free(struct scribe_store_names *names);

/* After a rollback, or when rows were deleted. */
void scribe_store_names_clear(struct scribe_store_names *names);
/* Call between transactions. */
bool scribe_store_names_full(const struct scribe_store_names *names);

/* For an index: whole characters, '#', a hash. capacity: SCRIBE_STORE_KEY + 1 bytes. */
const char *scribe_store_key(const char *text, char *capacity);

/* New entries are added. path may be NULL. */
int scribe_store_operation(struct scribe_store_names *names, const char *module, const char *op, const char *type,
			   int64_t *ret_id, struct scribe_err *err);
int scribe_store_node(struct scribe_store_names *names, const char *name, int64_t *ret_id, struct scribe_err *err);
int scribe_store_metric(struct scribe_store_names *names, const char *name, int64_t *ret_id, struct scribe_err *err);
int scribe_store_file(struct scribe_store_names *names, int64_t job, uint64_t record_id, const char *path,
		      int64_t *ret_id, struct scribe_err *err);

struct scribe_store_job {
	int64_t id, uid, use, first_us, last_us;
	enum scribe_store_origin origin;
	bool changed;
	bool is_new;
	bool is_other; /* first call with another origin */
	bool other_reported;
};

/* Added if needed; the time is widened. *ret_job is valid until the next call. */
int scribe_store_job(struct scribe_store_names *names, int64_t job_id, int64_t uid, int64_t from_us, int64_t to_us,
		     enum scribe_store_origin origin, const struct scribe_store_job **ret_job, struct scribe_err *err);
int scribe_store_exe(struct scribe_store_names *names, int64_t job, const char *exe, struct scribe_err *err);
/* Before a commit. */
int scribe_store_job_times(struct scribe_store_names *names, struct scribe_err *err);

#endif
