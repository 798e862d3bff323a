/* SPDX-License-Identifier: BSD-3-Clause */
/* See docs/store.md. From one thread; several processes may use one database. */
#ifndef UTIL_STORE_STORE_H
#define UTIL_STORE_STORE_H

#include <stdbool.h>
#include <stdint.h>

#include "logfmt/base/err.h"
#include "util/store/event.h"
#include "util/store/sample.h"
#include "util/store/sql.h"

struct scribe_store;

/* Committed since opening. */
struct scribe_store_counts {
	uint64_t rows;
	uint64_t known;                  /* operations that existed */
	uint64_t other;                  /* operations dropped, because the job's come from elsewhere */
	uint64_t samples, samples_known; /* node samples added; existing */
};

struct scribe_store_position {
	int64_t bytes, lines, bad_lines;
};

/*
 * `place`: an SQLite file or postgresql://... read_only: must exist; otherwise tables are created or upgraded.
 * `report` (may be NULL) receives messages for users.
 */
int scribe_store_open(const char *place, bool read_only, void (*report)(void *ctx, const char *line), void *ctx,
		      struct scribe_store **ret_store, struct scribe_err *err);
struct scribe_store *scribe_store_close(struct scribe_store *store);

/* After any error roll_back, which undoes the transaction. */
int scribe_store_begin(struct scribe_store *store, struct scribe_err *err);
int scribe_store_commit(struct scribe_store *store, struct scribe_err *err);
void scribe_store_roll_back(struct scribe_store *store);

int scribe_store_put(struct scribe_store *store, const struct scribe_store_event *event,
		     enum scribe_store_origin origin, struct scribe_err *err);
/* A counter of a log's record (event: job, rank, file, program; one segment: the log's time). Within a transaction. */
int scribe_store_put_counter(struct scribe_store *store, const struct scribe_store_event *event, const char *name,
			     int64_t value, struct scribe_err *err);
/* Within a transaction. */
int scribe_store_put_sample(struct scribe_store *store, const struct scribe_sample *sample, struct scribe_err *err);

/* Zeros: new. Set it within a transaction. */
int scribe_store_position(struct scribe_store *store, const char *input, struct scribe_store_position *ret_at,
			  struct scribe_err *err);
int scribe_store_position_set(struct scribe_store *store, const char *input, const struct scribe_store_position *at,
			      struct scribe_err *err);

/* Also removes jobs without operations. */
int scribe_store_forget(struct scribe_store *store, int64_t before_us, uint64_t *ret_rows, uint64_t *ret_values,
			struct scribe_err *err);

/* All of a user's jobs, but not the positions in their logs. In several transactions. */
int scribe_store_erase(struct scribe_store *store, int64_t uid, uint64_t *ret_rows, uint64_t *ret_jobs,
		       struct scribe_err *err);
/* A read-only store has only this user's jobs from now on, for questions that name no schema. */
int scribe_store_narrow(struct scribe_store *store, int64_t uid, struct scribe_err *err);

struct scribe_store_counts scribe_store_counted(const struct scribe_store *store);

/* See struct scribe_sql_kind_ops. */
int scribe_store_query(struct scribe_store *store, const char *sql, const struct scribe_sql_value *values, int n,
		       const struct scribe_sql_limit *limit, scribe_sql_row_fn *row, void *ctx, struct scribe_err *err);

#endif
