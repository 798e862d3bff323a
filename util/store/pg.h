/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UTIL_STORE_PG_H
#define UTIL_STORE_PG_H

#include <libpq-fe.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "logfmt/base/err.h"
#include "util/store/sql.h"

#define SCRIBE_PG_MAX_CACHED  32  /* prepared statements */
#define SCRIBE_PG_MAX_COLUMNS 256 /* of a result */
#define SCRIBE_PG_MAX_DAYS    64  /* days per transaction with a known partition */

struct scribe_pg {
	char *place; /* the address without password, for messages */
	PGconn *conn;
	bool read_only, ready; /* ready: the session's settings and views are made */
	char *views;           /* statements that make them; NULL: none */
	struct scribe_sql_limit limit;
	const char *cached[SCRIBE_PG_MAX_CACHED]; /* texts of prepared statements */
	int ncached;
	/* of the transaction: days with a partition; staging table exists, is new, is in use */
	int64_t days[SCRIBE_PG_MAX_DAYS];
	int ndays;
	bool staged, staged_now, filled;
	int by_staging; /* batches still to go through the staging table, after one with known rows */
};

/* Frees the result; NULL: error of the connection. Returns the code. */
int scribe_pg_failed(struct scribe_pg *pg, PGresult *res, struct scribe_err *err);
int scribe_pg_run(void *db, const char *sql, struct scribe_err *err);
int scribe_pg_query(void *db, const char *sql, bool again, const struct scribe_sql_value *values, int n,
		    scribe_sql_row_fn *row, void *ctx, struct scribe_err *err);
int scribe_pg_begin(void *db, struct scribe_err *err);
int scribe_pg_commit(void *db, struct scribe_err *err);
void scribe_pg_roll_back(void *db);
void scribe_pg_limit(void *db, const struct scribe_sql_limit *limit);

int scribe_pg_narrow(void *db, const char *sql, struct scribe_err *err);

int scribe_pg_connect(struct scribe_pg *pg, const char *place, struct scribe_err *err);

#endif
