/* SPDX-License-Identifier: BSD-3-Clause */
/* One connection; statements with $1, $2, ... for all kinds of databases. */
#ifndef UTIL_STORE_SQL_H
#define UTIL_STORE_SQL_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#include "logfmt/base/err.h"
#include "logfmt/base/proto.h"

/* X(column): columns of `event` in order; the first four are the key. */
#define SCRIBE_STORE_COLUMNS(X) \
	X(job) \
	X(rank) \
	X(time_us) \
	X(key) \
	X(operation) \
	X(node) \
	X(file) \
	X(off) \
	X(len) \
	X(max_byte) \
	X(switches) \
	X(flushes) \
	X(cnt) \
	X(start_us) \
	X(dur_us) \
	X(total_us) \
	X(pt_sel) \
	X(irreg_hslab) \
	X(reg_hslab) \
	X(ndims) \
	X(npoints) \
	X(dur_ns)

enum scribe_store_column {
#define SCRIBE_X(name) SCRIBE_COLUMN_##name,
	SCRIBE_STORE_COLUMNS(SCRIBE_X)
#undef SCRIBE_X
		SCRIBE_STORE_NCOLUMNS
};

#define SCRIBE_SQL_NULL INT64_MIN

#define SCRIBE_SQL_ONLY_READS "a question is one SELECT, WITH or VALUES that reads, nothing else"

struct scribe_store_row {
	int64_t v[SCRIBE_STORE_NCOLUMNS]; /* SCRIBE_SQL_NULL: null */
};

/* The table's key. For qsort and bsearch. */
static inline int scribe_store_by_key(const void *a, const void *b)
{
	const int64_t *x = ((const struct scribe_store_row *)a)->v, *y = ((const struct scribe_store_row *)b)->v;

	for (int i = SCRIBE_COLUMN_job; i <= SCRIBE_COLUMN_key; i++)
		if (x[i] != y[i])
			return x[i] < y[i] ? -1 : 1;
	return 0;
}

enum scribe_sql_kind { SCRIBE_SQL_IS_NULL, SCRIBE_SQL_IS_INT, SCRIBE_SQL_IS_REAL, SCRIBE_SQL_IS_TEXT };

struct scribe_sql_value {
	enum scribe_sql_kind kind;
	int64_t i;
	double r;
	const char *text; /* borrowed, NUL-terminated */
	size_t len;
};

/* Zeroed: unlimited. */
struct scribe_sql_limit {
	int64_t end_ms; /* CLOCK_MONOTONIC */
	int seconds;
	const bool *stop; /* set by another thread */
};

/* 0, -ECANCELED or -ETIMEDOUT. */
static inline int scribe_sql_over(const struct scribe_sql_limit *limit, const char *what, struct scribe_err *err)
{
	if (limit->stop && __atomic_load_n(limit->stop, __ATOMIC_RELAXED))
		return scribe_err_set(err, -ECANCELED, "%s: stopped", what);
	if (limit->end_ms && scribe_msg_now_ms() >= limit->end_ms)
		return scribe_err_set(err, -ETIMEDOUT, "%s: no answer within %d s", what, limit->seconds);
	return 0;
}

/* A row; called first with values == NULL for the names. A negative code stops. */
typedef int scribe_sql_row_fn(void *ctx, int n, const char *const *names, const struct scribe_sql_value *values,
			      struct scribe_err *err);

struct scribe_sql_kind_ops {
	/*
	 * Dialect, in this order: types of ids and of text ordered by bytes; ends of CREATE TABLE event and of
	 * tables in key order; statements before the first table, for functions, to replace view `io`, for the key
	 * of `file`; what names a table that a temporary view hides; type of sums; the function of spreads.
	 */
	const char *id_type, *text_type, *event_end, *keyed_end, *setup, *setup_functions, *new_io, *files_by_job,
		*main_prefix, *wide_type, *spread_of;
	/* read_only: no statement changes anything; otherwise the database is created if missing. */
	int (*open)(const char *place, bool read_only, void **ret_db, struct scribe_err *err);
	void (*close)(void *db);
	/* Read-only connections: for each following `ask`. */
	void (*limit)(void *db, const struct scribe_sql_limit *limit);
	int (*run)(void *db, const char *sql, struct scribe_err *err);
	/* Read-only connections: temporary views, which come before tables; made anew with each session. */
	int (*narrow)(void *db, const char *sql, struct scribe_err *err);
	/* `again`: sql is a constant, cached by address. row may be NULL. */
	int (*ask)(void *db, const char *sql, bool again, const struct scribe_sql_value *values, int n,
		   scribe_sql_row_fn *row, void *ctx, struct scribe_err *err);
	/* begin waits for other writers. */
	int (*begin)(void *db, struct scribe_err *err);
	int (*commit)(void *db, struct scribe_err *err);
	void (*roll_back)(void *db);
	/* Rows in the order of their keys. ret_fresh[n]: those that were not there. */
	int (*put)(void *db, const struct scribe_store_row *rows, size_t n, bool *ret_fresh, struct scribe_err *err);
	/* In several transactions. */
	int (*forget)(void *db, int64_t before_us, uint64_t *ret_rows, struct scribe_err *err);
};

extern const struct scribe_sql_kind_ops scribe_sql_sqlite;     /* sql_sqlite.c */
extern const struct scribe_sql_kind_ops scribe_sql_postgresql; /* pg_kind.c, in a module */

static inline struct scribe_sql_value scribe_sql_int(int64_t i)
{
	return (struct scribe_sql_value){.kind = i == SCRIBE_SQL_NULL ? SCRIBE_SQL_IS_NULL : SCRIBE_SQL_IS_INT, .i = i};
}

static inline struct scribe_sql_value scribe_sql_text(const char *text)
{
	return (struct scribe_sql_value){
		.kind = text ? SCRIBE_SQL_IS_TEXT : SCRIBE_SQL_IS_NULL, .text = text, .len = text ? strlen(text) : 0};
}

#endif
