/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of the PostgreSQL kind share; a module of its own (sql_kinds.h). */
#ifndef UTIL_STORE_PG_H
#define UTIL_STORE_PG_H

#include <libpq-fe.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "logfmt/base/err.h"
#include "util/store/sql.h"

#define SCRIBE_PG_MAX_CACHED  32  /* statements */
#define SCRIBE_PG_MAX_COLUMNS 256 /* of an answer */
#define SCRIBE_PG_MAX_DAYS    64  /* days of a transaction that are known to have their partition */

struct scribe_pg {
	char *place; /* as messages call it: without the password */
	PGconn *conn;
	bool read_only;
	struct scribe_sql_limit limit;
	const char *cached[SCRIBE_PG_MAX_CACHED]; /* texts of prepared statements, by number */
	int ncached;
	/* of the transaction: days with a partition; is the staging table new in it, and in use? */
	int64_t days[SCRIBE_PG_MAX_DAYS];
	int ndays;
	bool staged, staged_now, filled;
	int by_staging; /* batches for which the staging table is used: one had rows that were there already */
};

/* The message of a result (taken and freed; NULL: of the connection). Returns err's code. */
int scribe_pg_failed(struct scribe_pg *pg, PGresult *res, struct scribe_err *err);
/* Statements without values. */
int scribe_pg_run(void *db, const char *sql, struct scribe_err *err);
int scribe_pg_ask(void *db, const char *sql, bool again, const struct scribe_sql_value *values, int n,
		  scribe_sql_row_fn *row, void *ctx, struct scribe_err *err);
int scribe_pg_begin(void *db, struct scribe_err *err);
int scribe_pg_commit(void *db, struct scribe_err *err);
void scribe_pg_roll_back(void *db);
void scribe_pg_limit(void *db, const struct scribe_sql_limit *limit);

/* To pg->conn, which is made. */
int scribe_pg_connect(struct scribe_pg *pg, const char *place, struct scribe_err *err);

#endif
