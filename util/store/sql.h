/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A database as the store uses it: one connection, statements with $1, $2, ... Statements are
 * written once, for all kinds of databases.
 */
#ifndef UTIL_STORE_SQL_H
#define UTIL_STORE_SQL_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#include "logfmt/base/err.h"

/* Columns of table `event`, in this order. The first four are its key. */
#define SCRIBE_STORE_COLUMNS(X)                                                                              \
	X(job)                                                                                               \
	X(rank)                                                                                              \
	X(time_us)                                                                                           \
	X(key)                                                                                               \
	X(operation)                                                                                         \
	X(node)                                                                                              \
	X(file)                                                                                              \
	X(off)                                                                                               \
	X(len)                                                                                               \
	X(max_byte)                                                                                          \
	X(switches)                                                                                          \
	X(flushes)                                                                                           \
	X(cnt)                                                                                               \
	X(start_us)                                                                                          \
	X(dur_us)                                                                                            \
	X(total_us)                                                                                          \
	X(pt_sel)                                                                                            \
	X(irreg_hslab)                                                                                       \
	X(reg_hslab)                                                                                         \
	X(ndims)                                                                                             \
	X(npoints)                                                                                           \
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

enum scribe_sql_kind { SCRIBE_SQL_IS_NULL, SCRIBE_SQL_IS_INT, SCRIBE_SQL_IS_REAL, SCRIBE_SQL_IS_TEXT };

struct scribe_sql_value {
	enum scribe_sql_kind kind;
	int64_t i;
	double r;
	const char *text; /* borrowed, ends with NUL */
	size_t len;
};

/* When a question is given up. Zeros: never. */
struct scribe_sql_limit {
	int64_t end_ms;   /* CLOCK_MONOTONIC */
	int seconds;      /* the limit as messages name it */
	const bool *stop; /* set by another thread */
};

static inline int64_t scribe_sql_now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * INT64_C(1000) + t.tv_nsec / 1000000;
}

/* 0: go on; -ECANCELED, -ETIMEDOUT: give up, with a line about `what`. */
static inline int scribe_sql_over(const struct scribe_sql_limit *limit, const char *what,
				  struct scribe_err *err)
{
	if (limit->stop && __atomic_load_n(limit->stop, __ATOMIC_RELAXED))
		return scribe_err_set(err, -ECANCELED, "%s: stopped", what);
	if (limit->end_ms && scribe_sql_now_ms() >= limit->end_ms)
		return scribe_err_set(err, -ETIMEDOUT, "%s: no answer within %d s", what, limit->seconds);
	return 0;
}

/* The columns of an answer; told once with values NULL before the first row. 0 or a negative code to stop. */
typedef int scribe_sql_row_fn(void *ctx, int n, const char *const *names,
			      const struct scribe_sql_value *values, struct scribe_err *err);

struct scribe_sql_kind_ops {
	/*
	 * words of its dialect: type of a number that names a row of a dictionary, type of a text that
	 * is ordered by its bytes, end of CREATE TABLE event, of a table that is kept in its key's order;
	 * statements before the first table; those that make functions; the begin of one that
	 * makes the view `io` anew, which keeps its rights; statements that make (job, record_id) the key of
	 * `file` (the view is made anew behind them)
	 */
	const char *id_type, *text_type, *event_end, *keyed_end, *setup, *setup_functions, *new_io,
		*files_by_job;
	/* connect; read_only: no statement makes or changes anything. A place that is not there is made else. */
	int (*open)(const char *place, bool read_only, void **ret_db, struct scribe_err *err);
	void (*close)(void *db);
	/* of read-only connections: of each `ask` from now on */
	void (*limit)(void *db, const struct scribe_sql_limit *limit);
	/* statements without values or answer */
	int (*run)(void *db, const char *sql, struct scribe_err *err);
	/* one statement; `again`: its text is a constant that will be asked again. row may be NULL. */
	int (*ask)(void *db, const char *sql, bool again, const struct scribe_sql_value *values, int n,
		   scribe_sql_row_fn *row, void *ctx, struct scribe_err *err);
	/* begin a transaction that may write, waiting for others that do; end it; give it up */
	int (*begin)(void *db, struct scribe_err *err);
	int (*commit)(void *db, struct scribe_err *err);
	void (*roll_back)(void *db);
	/* add rows to `event` but those whose key is there */
	int (*put)(void *db, const struct scribe_store_row *rows, size_t n, uint64_t *ret_new,
		   struct scribe_err *err);
	/* delete rows of `event` before that time, some at a time (a transaction each) */
	int (*forget)(void *db, int64_t before_us, uint64_t *ret_rows, struct scribe_err *err);
};

extern const struct scribe_sql_kind_ops scribe_sql_sqlite;     /* sql_sqlite.c */
extern const struct scribe_sql_kind_ops scribe_sql_postgresql; /* pg_kind.c, in a module */

/* A number or a text (NULL: null) as a value. */
static inline struct scribe_sql_value scribe_sql_int(int64_t i)
{
	return (struct scribe_sql_value){
		.kind = i == SCRIBE_SQL_NULL ? SCRIBE_SQL_IS_NULL : SCRIBE_SQL_IS_INT, .i = i};
}

static inline struct scribe_sql_value scribe_sql_text(const char *text)
{
	return (struct scribe_sql_value){.kind = text ? SCRIBE_SQL_IS_TEXT : SCRIBE_SQL_IS_NULL,
					 .text = text,
					 .len = text ? strlen(text) : 0};
}

#endif
