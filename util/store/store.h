/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The store of I/O operations: tables in a database (docs/store.md), and what goes into them.
 * One thread uses a store; several stores, in several processes, may use one database.
 */
#ifndef UTIL_STORE_STORE_H
#define UTIL_STORE_STORE_H

#include <stdbool.h>
#include <stdint.h>

#include "logfmt/base/err.h"
#include "util/store/event.h"
#include "util/store/sample.h"
#include "util/store/sql.h"

struct scribe_store;

/* What has been committed since the store was opened. */
struct scribe_store_counts {
	uint64_t rows;  /* operations added */
	uint64_t known; /* operations that were there already */
	uint64_t other; /* operations left out: the job's come from elsewhere */
	uint64_t samples, samples_known; /* samples of nodes: added; there already */
};

struct scribe_store_position {
	int64_t bytes, lines, bad_lines;
};

/*
 * Open `place`: a file name, for SQLite, or postgresql://... `read_only`: it has to be there, and
 * nothing is changed. Else the tables are made or brought to this version. `report` (may be NULL) is told
 * what users should know, a line each. 0 or a negative code with a message; close takes NULL and returns
 * NULL.
 */
int scribe_store_open(const char *place, bool read_only, void (*report)(void *ctx, const char *line),
		      void *ctx, struct scribe_store **ret_store, struct scribe_err *err);
struct scribe_store *scribe_store_close(struct scribe_store *store);

/*
 * A transaction: begin, then put and the like, then commit. After any failure of these the
 * transaction has to be given up by roll_back, and nothing of it is there.
 */
int scribe_store_begin(struct scribe_store *store, struct scribe_err *err);
int scribe_store_commit(struct scribe_store *store, struct scribe_err *err);
void scribe_store_roll_back(struct scribe_store *store);

/* The operations of a message. An operation that is there already is not added again. */
int scribe_store_put(struct scribe_store *store, const struct scribe_event *event,
		     enum scribe_store_origin origin, struct scribe_err *err);
/* A sample of a node, within a transaction. A value that is there already is not added again. */
int scribe_store_put_sample(struct scribe_store *store, const struct scribe_sample *sample,
			    struct scribe_err *err);

/* How far an input has been read, by what names it; zeros where it is new. Set: within a transaction. */
int scribe_store_position(struct scribe_store *store, const char *input, struct scribe_store_position *ret_at,
			  struct scribe_err *err);
int scribe_store_position_set(struct scribe_store *store, const char *input,
			      const struct scribe_store_position *at, struct scribe_err *err);

/*
 * Delete operations that ended before that time (microseconds since 1970), jobs that have none any more, and
 * samples' values of before. *ret_rows operations, *ret_values values.
 */
int scribe_store_forget(struct scribe_store *store, int64_t before_us, uint64_t *ret_rows, uint64_t *ret_values,
			struct scribe_err *err);

struct scribe_store_counts scribe_store_counted(const struct scribe_store *store);

/* A question to a read-only store; see struct scribe_sql_kind_ops. */
int scribe_store_ask(struct scribe_store *store, const char *sql, const struct scribe_sql_value *values,
		     int n, const struct scribe_sql_limit *limit, scribe_sql_row_fn *row, void *ctx,
		     struct scribe_err *err);

#endif
