// SPDX-License-Identifier: BSD-3-Clause
/*
 * SQLite with a write-ahead log, so that questions and the store do not block each other. Must not know what
 * the tables mean.
 */
#include <errno.h>
#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "util/store/sql.h"

#define BUSY_MS          60000 /* another store commits at least every few seconds */
#define AGAIN_MS         20
#define CACHE_KIB        65536
#define MAX_CACHED       16         /* prepared statements */
#define LOG_PAGES        "4000"     /* 16 MiB of write-ahead log, because pages are often rewritten */
#define ROWS_A_STATEMENT 32         /* older SQLite versions bind at most 999 values */
#define FORGET_AT_A_TIME 50000      /* rows per transaction, so that writers wait little */
#define LOOK_STEPS       10000      /* VM steps between checks of a question's limit */
#define MAX_VALUE_BYTES  (16 << 20) /* of a question's value; bounds one VM step */

struct sqlite {
	char *place;
	sqlite3 *db;
	sqlite3_stmt *put, *put_many; /* for one row; for ROWS_A_STATEMENT rows */
	struct scribe_sql_limit limit;
	struct {
		const char *sql;
		sqlite3_stmt *q;
	} cached[MAX_CACHED];
	int ncached;
};

/* SQLite reports a full disk as FULL or IOERR. */
static int failed(struct sqlite *s, struct scribe_err *err)
{
	int code = sqlite3_errcode(s->db) & 0xff;

	if (code == SQLITE_AUTH)
		return scribe_err_set(err, -EINVAL, "%s: " SCRIBE_SQL_ONLY_READS, s->place);
	return scribe_err_set(err,
			      code == SQLITE_FULL || code == SQLITE_IOERR ? -ENOSPC
			      : code == SQLITE_BUSY                       ? -EBUSY
			      : code == SQLITE_NOTADB                     ? -EINVAL
			      : code == SQLITE_CONSTRAINT || code == SQLITE_TOOBIG || code == SQLITE_MISMATCH
				      ? -SCRIBE_E_REFUSED
				      : -EIO,
			      "%s: %s", s->place, sqlite3_errmsg(s->db));
}

/* ---- spread(x): integer standard deviation ---- */

/* Packed, because SQLite aligns this memory only to 8 bytes. */
struct spread {
	int64_t n;
	__int128 sum, squares;
} __attribute__((packed, aligned(8)));

static void spread_step(sqlite3_context *c, int n, sqlite3_value **v)
{
	struct spread *s = sqlite3_aggregate_context(c, sizeof(*s));
	int64_t x = sqlite3_value_int64(v[0]);

	if (!s || sqlite3_value_type(v[0]) == SQLITE_NULL)
		return;
	s->n++;
	s->sum += x;
	s->squares += (__int128)x * x;
}

/* Integer square root by bisection, without the rounding of a double. */
static int64_t root(unsigned __int128 v)
{
	unsigned __int128 low = 0, high = (unsigned __int128)1 << 63;

	while (low < high) {
		unsigned __int128 middle = low + (high - low + 1) / 2;

		if (middle * middle <= v)
			low = middle;
		else
			high = middle - 1;
	}
	return (int64_t)low;
}

/* variance = (n * squares - sum * sum) / (n * n) */
static void spread_result(sqlite3_context *c, const struct spread *s)
{
	__int128 square, times;

	if (__builtin_mul_overflow(s->squares, (__int128)s->n, &times) ||
	    __builtin_mul_overflow(s->sum, s->sum, &square))
		sqlite3_result_error(c, "spread(): numbers beyond what it can add up", -1);
	else
		sqlite3_result_int64(c, root((unsigned __int128)((times - square) / ((__int128)s->n * s->n))));
}

static void spread_final(sqlite3_context *c)
{
	const struct spread *s = sqlite3_aggregate_context(c, 0);

	if (s && s->n)
		spread_result(c, s);
}

/* spread_of(number, sum, sums of the parts' products): sums.h */
static void spread_of(sqlite3_context *c, int n, sqlite3_value **v)
{
	const __int128 long_long = sqlite3_value_int64(v[2]), long_short = sqlite3_value_int64(v[3]);
	struct spread s = {.n = sqlite3_value_int64(v[0]), .sum = sqlite3_value_int64(v[1])};

	s.squares = long_long * ((__int128)1 << 54) + long_short * ((__int128)1 << 28) + sqlite3_value_int64(v[4]);
	if (s.n)
		spread_result(c, &s);
}

/* ---- sum(x), because SQLite's fails beyond 64 bits; whole(x), ahead(t) ---- */

struct sum {
	int64_t n, reals; /* all values; those that are not integers */
	__int128 whole;
	double real;
} __attribute__((packed, aligned(8)));

static void sum_add(sqlite3_context *c, sqlite3_value *v, int sign)
{
	struct sum *s = sqlite3_aggregate_context(c, sizeof(*s));
	int type = sqlite3_value_numeric_type(v);

	if (!s || type == SQLITE_NULL)
		return;
	s->n += sign;
	s->reals += type == SQLITE_INTEGER ? 0 : sign;
	if (type == SQLITE_INTEGER)
		s->whole += (__int128)sqlite3_value_int64(v) * sign;
	else
		s->real += sqlite3_value_double(v) * sign;
}

static void sum_step(sqlite3_context *c, int n, sqlite3_value **v)
{
	sum_add(c, v[0], 1);
}

static void sum_leave(sqlite3_context *c, int n, sqlite3_value **v)
{
	sum_add(c, v[0], -1);
}

/* Beyond 64 bits a real, as in PostgreSQL. */
static void sum_value(sqlite3_context *c)
{
	const struct sum *s = sqlite3_aggregate_context(c, 0);

	if (!s || !s->n)
		return;
	if (!s->reals && s->whole >= INT64_MIN && s->whole <= INT64_MAX)
		sqlite3_result_int64(c, (int64_t)s->whole);
	else
		sqlite3_result_double(c, (double)s->whole + s->real);
}

static void whole(sqlite3_context *c, int n, sqlite3_value **v)
{
	if (sqlite3_value_type(v[0]) != SQLITE_NULL)
		sqlite3_result_int64(c, sqlite3_value_int64(v[0]));
}

static void ahead(sqlite3_context *c, int n, sqlite3_value **v)
{
	sqlite3_result_int64(c, sqlite3_value_int64(v[0]) / 1000000 > time(NULL) + 86400);
}

/* An allow list: PRAGMA, ATTACH, VACUUM, transactions and changes are refused. */
static int authorize(void *ctx, int action, const char *a, const char *b, const char *db, const char *by)
{
	if (action == SQLITE_FUNCTION)
		return sqlite3_stricmp(b, "load_extension") ? SQLITE_OK : SQLITE_DENY;
	return action == SQLITE_SELECT || action == SQLITE_READ || action == SQLITE_RECURSIVE ? SQLITE_OK : SQLITE_DENY;
}

static int is_over(void *db)
{
	return scribe_sql_over(&((struct sqlite *)db)->limit, "", NULL) < 0;
}

static void sqlite_limit(void *db, const struct scribe_sql_limit *limit)
{
	((struct sqlite *)db)->limit = *limit;
}

static void sqlite_close(void *db)
{
	struct sqlite *s = db;

	if (!s)
		return;
	sqlite3_finalize(s->put);
	sqlite3_finalize(s->put_many);
	for (int i = 0; i < s->ncached; i++)
		sqlite3_finalize(s->cached[i].q);
	sqlite3_close(s->db);
	free(s->place);
	free(s);
}

static int sqlite_run(void *db, const char *sql, struct scribe_err *err)
{
	struct sqlite *s = db;

	return sqlite3_exec(s->db, sql, NULL, NULL, NULL) == SQLITE_OK ? 0 : failed(s, err);
}

static int prepare_place(struct sqlite *s, bool read_only, struct scribe_err *err)
{
	char pragmas[256];
	int rc;

	sqlite3_busy_timeout(s->db, BUSY_MS);
	sqlite3_create_function(s->db, "spread", 1, SQLITE_UTF8 | SQLITE_DETERMINISTIC, NULL, NULL, spread_step,
				spread_final);
	sqlite3_create_function(s->db, "spread_of", 5, SQLITE_UTF8 | SQLITE_DETERMINISTIC, NULL, spread_of, NULL, NULL);
	sqlite3_create_window_function(s->db, "sum", 1, SQLITE_UTF8 | SQLITE_DETERMINISTIC, NULL, sum_step, sum_value,
				       sum_value, sum_leave, NULL);
	sqlite3_create_function(s->db, "whole", 1, SQLITE_UTF8 | SQLITE_DETERMINISTIC, NULL, whole, NULL, NULL);
	sqlite3_create_function(s->db, "ahead", 1, SQLITE_UTF8, NULL, ahead, NULL, NULL);
	snprintf(pragmas, sizeof(pragmas), "PRAGMA cache_size = -%d; PRAGMA foreign_keys = OFF; %s", CACHE_KIB,
		 /* reading the schema detects a file that is not a database */
		 read_only ? "PRAGMA query_only = ON; SELECT 1 FROM sqlite_schema LIMIT 1;"
			   : "PRAGMA temp_store = MEMORY; PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL; "
			     "PRAGMA "
			     "synchronous = NORMAL; PRAGMA wal_autocheckpoint = " LOG_PAGES ";");
	rc = sqlite_run(s, pragmas, err);
	/* SQLite does not wait for another store that is making the database. */
	for (int ms = 0; rc == -EBUSY && ms < BUSY_MS; ms += AGAIN_MS) {
		sqlite3_sleep(AGAIN_MS);
		rc = sqlite_run(s, pragmas, err);
	}
	if (read_only) {
		sqlite3_limit(s->db, SQLITE_LIMIT_LENGTH, MAX_VALUE_BYTES);
		sqlite3_progress_handler(s->db, LOOK_STEPS, is_over, s);
		sqlite3_set_authorizer(s->db, authorize, NULL);
	}
	return rc;
}

static int sqlite_narrow(void *db, const char *sql, struct scribe_err *err)
{
	struct sqlite *s = db;
	int rc;

	sqlite3_set_authorizer(s->db, NULL, NULL);
	rc = sqlite_run(s, "PRAGMA temp_store = MEMORY; PRAGMA query_only = OFF", err);
	if (rc >= 0)
		rc = sqlite_run(s, sql, err);
	if (rc >= 0)
		rc = sqlite_run(s, "PRAGMA query_only = ON", err);
	sqlite3_set_authorizer(s->db, authorize, NULL);
	return rc;
}

/* Opened read-write also for questions, because readers of a write-ahead log write its index file. */
static int sqlite_open(const char *place, bool read_only, void **ret_db, struct scribe_err *err)
{
	struct sqlite *s = calloc(1, sizeof(*s));
	struct stat st;
	int rc;

	if (!s || !(s->place = strdup(place))) {
		free(s);
		return scribe_err_set(err, -ENOMEM, "%s: out of memory", place);
	}
	if (read_only && stat(place, &st) < 0)
		rc = scribe_err_set(err, -errno, "%s: %s; `ioscribe store --db %s` makes it", place, strerror(errno),
				    place);
	else if (sqlite3_open_v2(place, &s->db,
				 SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | (read_only ? 0 : SQLITE_OPEN_CREATE),
				 NULL) != SQLITE_OK)
		rc = failed(s, err);
	else
		rc = prepare_place(s, read_only, err);
	if (rc < 0) {
		sqlite_close(s);
		return rc;
	}
	*ret_db = s;
	return 0;
}

/* Constant statements are cached by address. */
static int prepare(struct sqlite *s, const char *sql, bool again, sqlite3_stmt **ret_q, struct scribe_err *err)
{
	for (int i = 0; again && i < s->ncached; i++)
		if (s->cached[i].sql == sql) {
			*ret_q = s->cached[i].q;
			return 0;
		}
	if (sqlite3_prepare_v3(s->db, sql, -1, again ? SQLITE_PREPARE_PERSISTENT : 0, ret_q, NULL) != SQLITE_OK)
		return failed(s, err);
	return 0;
}

static void give_back(struct sqlite *s, const char *sql, bool again, sqlite3_stmt *q)
{
	sqlite3_reset(q);
	for (int i = 0; again && i < s->ncached; i++)
		if (s->cached[i].sql == sql)
			return;
	if (!again || s->ncached == MAX_CACHED) {
		sqlite3_finalize(q);
		return;
	}
	s->cached[s->ncached].sql = sql;
	s->cached[s->ncached++].q = q;
}

/* By name, because $2 may come before $1 or be unused. */
static void bind_values(sqlite3_stmt *q, const struct scribe_sql_value *values, int n)
{
	char name[16];

	for (int i = 0; i < n; i++) {
		int at;

		snprintf(name, sizeof(name), "$%d", i + 1);
		at = sqlite3_bind_parameter_index(q, name);
		if (!at)
			continue;
		if (values[i].kind == SCRIBE_SQL_IS_INT)
			sqlite3_bind_int64(q, at, values[i].i);
		else if (values[i].kind == SCRIBE_SQL_IS_REAL)
			sqlite3_bind_double(q, at, values[i].r);
		else if (values[i].kind == SCRIBE_SQL_IS_TEXT)
			sqlite3_bind_text64(q, at, values[i].text, values[i].len, SQLITE_STATIC, SQLITE_UTF8);
		else
			sqlite3_bind_null(q, at);
	}
}

static struct scribe_sql_value value_of(sqlite3_stmt *q, int at)
{
	struct scribe_sql_value v = {.kind = SCRIBE_SQL_IS_NULL};

	switch (sqlite3_column_type(q, at)) {
	case SQLITE_INTEGER:
		v.kind = SCRIBE_SQL_IS_INT;
		v.i = sqlite3_column_int64(q, at);
		break;
	case SQLITE_FLOAT:
		v.kind = SCRIBE_SQL_IS_REAL;
		v.r = sqlite3_column_double(q, at);
		break;
	case SQLITE_NULL:
		break;
	default:
		v.kind = SCRIBE_SQL_IS_TEXT;
		v.text = (const char *)sqlite3_column_text(q, at);
		v.len = (size_t)sqlite3_column_bytes(q, at);
	}
	return v;
}

static int report_rows(struct sqlite *s, sqlite3_stmt *q, scribe_sql_row_fn *row, void *ctx, struct scribe_err *err)
{
	int n = sqlite3_column_count(q), rc = 0, step = SQLITE_DONE;
	struct scribe_sql_value *values = calloc((size_t)n + 1, sizeof(*values));
	const char **names = calloc((size_t)n + 1, sizeof(*names));

	if (!values || !names)
		rc = scribe_err_set(err, -ENOMEM, "%s: out of memory", s->place);
	for (int i = 0; i < n && rc >= 0; i++)
		names[i] = sqlite3_column_name(q, i);
	if (rc >= 0 && row)
		rc = row(ctx, n, names, NULL, err);
	while (rc >= 0 && (step = sqlite3_step(q)) == SQLITE_ROW) {
		for (int i = 0; i < n; i++)
			values[i] = value_of(q, i);
		if (row)
			rc = row(ctx, n, names, values, err);
	}
	if (rc >= 0 && step != SQLITE_DONE)
		rc = failed(s, err);
	free(values);
	free(names);
	return rc;
}

static int sqlite_ask(void *db, const char *sql, bool again, const struct scribe_sql_value *values, int n,
		      scribe_sql_row_fn *row, void *ctx, struct scribe_err *err)
{
	struct sqlite *s = db;
	sqlite3_stmt *q = NULL;
	int rc = prepare(s, sql, again, &q, err);

	if (rc < 0)
		return rc;
	bind_values(q, values, n);
	rc = report_rows(s, q, row, ctx, err);
	give_back(s, sql, again, q);
	return rc;
}

/* IMMEDIATE waits for the write lock here; SQLite cannot wait for one taken later. */
static int sqlite_begin(void *db, struct scribe_err *err)
{
	return sqlite_run(db, "BEGIN IMMEDIATE", err);
}

static int sqlite_commit(void *db, struct scribe_err *err)
{
	return sqlite_run(db, "COMMIT", err);
}

static void sqlite_roll_back(void *db)
{
	struct sqlite *s = db;

	if (!sqlite3_get_autocommit(s->db))
		sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
}

static int prepare_put(struct sqlite *s, int rows, sqlite3_stmt **ret_q, struct scribe_err *err)
{
	static const char sql[] = "INSERT OR IGNORE INTO event ("
#define SCRIBE_X(name) #name ","
		SCRIBE_STORE_COLUMNS(SCRIBE_X)
#undef SCRIBE_X
		;
	char text[sizeof(sql) + 16 + ROWS_A_STATEMENT * (2 * SCRIBE_STORE_NCOLUMNS + 2)];
	size_t n = sizeof(sql) - 2; /* without the last comma */

	memcpy(text, sql, n);
	n += (size_t)snprintf(text + n, sizeof(text) - n, ") VALUES ");
	for (int row = 0; row < rows; row++) {
		for (int i = 0; i < SCRIBE_STORE_NCOLUMNS; i++)
			n += (size_t)snprintf(text + n, sizeof(text) - n, i ? ",?" : row ? ",(?" : "(?");
		n += (size_t)snprintf(text + n, sizeof(text) - n, ")");
	}
	return sqlite3_prepare_v3(s->db, text, -1, SQLITE_PREPARE_PERSISTENT, ret_q, NULL) == SQLITE_OK
		       ? 0
		       : failed(s, err);
}

static int put_rows(struct sqlite *s, sqlite3_stmt *q, const struct scribe_store_row *rows, size_t n, uint64_t *added,
		    struct scribe_err *err)
{
	int at = 0, rc = 0;

	for (size_t i = 0; i < n; i++)
		for (int c = 0; c < SCRIBE_STORE_NCOLUMNS; c++)
			if (rows[i].v[c] == SCRIBE_SQL_NULL)
				sqlite3_bind_null(q, ++at);
			else
				sqlite3_bind_int64(q, ++at, rows[i].v[c]);
	if (sqlite3_step(q) != SQLITE_DONE)
		rc = failed(s, err);
	else
		*added += (uint64_t)sqlite3_changes(s->db);
	sqlite3_reset(q);
	return rc;
}

/* *ret_added: number of those that were not there. */
static int put_all(struct sqlite *s, const struct scribe_store_row *rows, size_t n, uint64_t *ret_added,
		   struct scribe_err *err)
{
	int rc = 0;

	*ret_added = 0;
	/* A statement opens table and indices anew, so many rows share one. */
	for (; n >= ROWS_A_STATEMENT && rc >= 0; n -= ROWS_A_STATEMENT, rows += ROWS_A_STATEMENT)
		rc = put_rows(s, s->put_many, rows, ROWS_A_STATEMENT, ret_added, err);
	for (; n && rc >= 0; n--, rows++)
		rc = put_rows(s, s->put, rows, 1, ret_added, err);
	return rc;
}

static int sqlite_put(void *db, const struct scribe_store_row *rows, size_t n, bool *ret_fresh, struct scribe_err *err)
{
	struct sqlite *s = db;
	uint64_t added = 0;
	int rc = sqlite_run(s, "SAVEPOINT put", err);

	if (!s->put && rc >= 0)
		rc = prepare_put(s, 1, &s->put, err);
	if (!s->put_many && rc >= 0)
		rc = prepare_put(s, ROWS_A_STATEMENT, &s->put_many, err);
	if (rc >= 0)
		rc = put_all(s, rows, n, &added, err);
	memset(ret_fresh, added != 0, n * sizeof(*ret_fresh));
	/* Of some, one after the other tells which. */
	if (rc >= 0 && added && added < n) {
		rc = sqlite_run(s, "ROLLBACK TO put", err);
		for (size_t i = 0; i < n && rc >= 0; i++) {
			rc = put_all(s, &rows[i], 1, &added, err);
			ret_fresh[i] = added != 0;
		}
	}
	return rc < 0 ? rc : sqlite_run(s, "RELEASE put", err);
}

static int forget_some(struct sqlite *s, int64_t before_us, int *ret_rows, struct scribe_err *err)
{
	struct scribe_sql_value values[] = {scribe_sql_int(before_us), scribe_sql_int(FORGET_AT_A_TIME)};
	int rc = sqlite_begin(s, err);

	if (rc < 0)
		return rc;
	rc = sqlite_ask(s,
			"DELETE FROM event WHERE (job, rank, time_us, key) IN"
			" (SELECT job, rank, time_us, key FROM event WHERE time_us < $1 LIMIT $2)",
			true, values, 2, NULL, NULL, err);
	*ret_rows = sqlite3_changes(s->db);
	if (rc >= 0)
		rc = sqlite_commit(s, err);
	if (rc < 0)
		sqlite_roll_back(s);
	return rc;
}

static int sqlite_forget(void *db, int64_t before_us, uint64_t *ret_rows, struct scribe_err *err)
{
	int rows = 1, rc = 0;

	*ret_rows = 0;
	while (rows > 0 && rc >= 0) {
		rc = forget_some(db, before_us, &rows, err);
		*ret_rows += rc < 0 ? 0 : (uint64_t)rows;
	}
	return rc < 0 ? rc : sqlite_run(db, "PRAGMA incremental_vacuum", err);
}

const struct scribe_sql_kind_ops scribe_sql_sqlite = {
	.id_type = "INTEGER PRIMARY KEY AUTOINCREMENT",
	.text_type = "TEXT",
	.event_end = "WITHOUT ROWID",
	.keyed_end = "WITHOUT ROWID",
	.setup = "",
	.setup_functions = "",
	.new_io = "DROP VIEW IF EXISTS io; CREATE VIEW io",
	.files_by_job = "DROP VIEW io;"
			"CREATE TABLE file_by_job (id INTEGER PRIMARY KEY AUTOINCREMENT, record_id TEXT NOT "
			"NULL, path TEXT,"
			" job BIGINT NOT NULL DEFAULT 0, UNIQUE (job, record_id));"
			"INSERT INTO file_by_job (id, record_id, path) SELECT id, record_id, path FROM file;"
			"DROP TABLE file; ALTER TABLE file_by_job RENAME TO file;",
	.main_prefix = "main.",
	.wide_type = "BIGINT",
	.spread_of = "",
	.open = sqlite_open,
	.close = sqlite_close,
	.limit = sqlite_limit,
	.run = sqlite_run,
	.narrow = sqlite_narrow,
	.ask = sqlite_ask,
	.begin = sqlite_begin,
	.commit = sqlite_commit,
	.roll_back = sqlite_roll_back,
	.put = sqlite_put,
	.forget = sqlite_forget,
};
