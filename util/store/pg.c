// SPDX-License-Identifier: BSD-3-Clause
/*
 * PostgreSQL by libpq. Writers of one database exclude each other by an advisory lock. Must not know what the
 * tables mean.
 */
#include "util/store/pg.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

#define CONNECT_SECONDS "10" /* per address of the host */
#define MAX_VALUES      32   /* of a statement */
#define LOOK_MS         200  /* interval of checking a question's limit */
#define LATE_MS         5000 /* beyond the limit, for a server that does not respond */

static const char settings[] = "SET lock_timeout = '60s'"; /* another store commits at least every few seconds */

enum { PG_BOOL = 16, PG_INT8 = 20, PG_INT2 = 21, PG_INT4 = 23, PG_TEXT = 25, PG_FLOAT4 = 700 };
enum { PG_FLOAT8 = 701, PG_NUMERIC = 1700 };

/* -ENOSPC and -ENOTCONN are worth waiting for. */
static int code_of(const char *state)
{
	if (!state)
		return -ENOTCONN;
	return !strcmp(state, "53100") || !strcmp(state, "53200")                                  ? -ENOSPC
	       : !strncmp(state, "57P", 3) || !strncmp(state, "08", 2) || !strncmp(state, "53", 2) ? -ENOTCONN
	       : !strcmp(state, "55P03")                                                           ? -EBUSY
	       : !strncmp(state, "22", 2) || !strncmp(state, "23", 2) || !strncmp(state, "54", 2)  ? -SCRIBE_E_REFUSED
												   : -EIO;
}

static int report_failure(struct scribe_pg *pg, const PGresult *res, struct scribe_err *err)
{
	const char *text = res ? PQresultErrorField(res, PG_DIAG_MESSAGE_PRIMARY) : NULL;
	int code = code_of(res ? PQresultErrorField(res, PG_DIAG_SQLSTATE) : NULL);

	if (PQstatus(pg->conn) == CONNECTION_BAD)
		code = -ENOTCONN;
	if (!text)
		text = PQerrorMessage(pg->conn);
	return scribe_err_set(err, code, "%s: %.*s", pg->place, (int)strcspn(text, "\n"), text);
}

int scribe_pg_failed(struct scribe_pg *pg, PGresult *res, struct scribe_err *err)
{
	int code = report_failure(pg, res, err);

	PQclear(res);
	return code;
}

static void cancel(struct scribe_pg *pg)
{
	PGcancel *cancel = PQgetCancel(pg->conn);
	char ignored[64];

	PQcancel(cancel, ignored, sizeof(ignored));
	PQfreeCancel(cancel);
}

/* With the limit, which statement_timeout enforces on the server. */
static PGresult *next_result(struct scribe_pg *pg)
{
	const int64_t end_ms = pg->limit.end_ms ? pg->limit.end_ms + LATE_MS : INT64_MAX;
	bool cancelled = false;

	while (pg->read_only && PQisBusy(pg->conn)) {
		struct pollfd p = {.fd = PQsocket(pg->conn), .events = POLLIN};

		if (poll(&p, 1, LOOK_MS) > 0 && !PQconsumeInput(pg->conn))
			break;
		if (scribe_msg_now_ms() >= end_ms)
			shutdown(p.fd, SHUT_RDWR);
		else if (!cancelled && scribe_sql_over(&pg->limit, "", NULL) == -ECANCELED) {
			cancel(pg);
			cancelled = true;
		}
	}
	return PQgetResult(pg->conn);
}

void scribe_pg_limit(void *db, const struct scribe_sql_limit *limit)
{
	((struct scribe_pg *)db)->limit = *limit;
}

int scribe_pg_run(void *db, const char *sql, struct scribe_err *err)
{
	struct scribe_pg *pg = db;
	int rc = PQsendQuery(pg->conn, sql) ? 0 : scribe_pg_failed(pg, NULL, err);

	for (PGresult *res; (res = next_result(pg)); PQclear(res)) {
		ExecStatusType status = PQresultStatus(res);

		if (rc >= 0 && status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK)
			rc = report_failure(pg, res, err);
	}
	return rc;
}

static void ignore_notice(void *ctx, const char *text)
{ /* a library must not print; errors are also in the result */
}

/* pg_temp comes first whatever search_path the role has. */
static int begin_session(struct scribe_pg *pg, struct scribe_err *err)
{
	int rc = scribe_pg_run(pg, settings, err);

	if (rc >= 0 && pg->views)
		rc = scribe_pg_run(
			pg, "SELECT set_config('search_path', 'pg_temp, ' || current_setting('search_path'), false)",
			err);
	if (rc >= 0 && pg->views)
		rc = scribe_pg_run(pg, pg->views, err);
	pg->ready = rc >= 0;
	return rc;
}

int scribe_pg_connect(struct scribe_pg *pg, const char *place, struct scribe_err *err)
{
	static const char *const names[] = {"connect_timeout", "fallback_application_name", "dbname", "client_encoding",
					    NULL};
	const char *values[] = {CONNECT_SECONDS, "ioscribe", place, "UTF8", NULL};

	pg->conn = PQconnectdbParams(names, values, 1);
	if (!pg->conn)
		return scribe_err_set(err, -ENOMEM, "%s: out of memory", pg->place);
	PQsetNoticeProcessor(pg->conn, ignore_notice, NULL);
	if (PQstatus(pg->conn) != CONNECTION_OK)
		return scribe_pg_failed(pg, NULL, err);
	return begin_session(pg, err);
}

static int reconnect(struct scribe_pg *pg, struct scribe_err *err)
{
	if (PQstatus(pg->conn) == CONNECTION_OK && pg->ready)
		return 0;
	PQreset(pg->conn);
	/* Prepared statements and the staging table ended with the session. */
	pg->ncached = 0;
	pg->staged = false;
	if (PQstatus(pg->conn) != CONNECTION_OK)
		return scribe_pg_failed(pg, NULL, err);
	return begin_session(pg, err);
}

int scribe_pg_narrow(void *db, const char *sql, struct scribe_err *err)
{
	struct scribe_pg *pg = db;

	pg->views = strdup(sql);
	pg->ready = false;
	return pg->views ? begin_session(pg, err) : scribe_err_set(err, -ENOMEM, "%s: out of memory", pg->place);
}

struct bound {
	Oid types[MAX_VALUES];
	const char *texts[MAX_VALUES];
	char numbers[MAX_VALUES][32];
};

static void bind_values(struct bound *b, const struct scribe_sql_value *values, int n)
{
	for (int i = 0; i < n; i++) {
		b->types[i] = 0;
		b->texts[i] = b->numbers[i];
		switch (values[i].kind) {
		case SCRIBE_SQL_IS_NULL:
			b->texts[i] = NULL;
			break;
		case SCRIBE_SQL_IS_INT:
			b->types[i] = PG_INT8;
			snprintf(b->numbers[i], sizeof(b->numbers[i]), "%" PRId64, values[i].i);
			break;
		case SCRIBE_SQL_IS_REAL:
			b->types[i] = PG_FLOAT8;
			snprintf(b->numbers[i], sizeof(b->numbers[i]), "%.17g", values[i].r);
			break;
		case SCRIBE_SQL_IS_TEXT:
			b->types[i] = PG_TEXT;
			b->texts[i] = values[i].text;
			break;
		}
	}
}

static struct scribe_sql_value value_of(const PGresult *res, int column)
{
	struct scribe_sql_value v = {.kind = SCRIBE_SQL_IS_TEXT};

	if (PQgetisnull(res, 0, column)) {
		v.kind = SCRIBE_SQL_IS_NULL;
		return v;
	}
	v.text = PQgetvalue(res, 0, column);
	v.len = (size_t)PQgetlength(res, 0, column);
	switch (PQftype(res, column)) {
	case PG_BOOL:
		v.kind = SCRIBE_SQL_IS_INT;
		v.i = *v.text == 't';
		break;
	case PG_INT2:
	case PG_INT4:
	case PG_INT8:
		v.kind = SCRIBE_SQL_IS_INT;
		v.i = strtoll(v.text, NULL, 10);
		break;
	case PG_FLOAT4:
	case PG_FLOAT8:
	case PG_NUMERIC:
		v.kind = SCRIBE_SQL_IS_REAL;
		v.r = strtod(v.text, NULL);
		break;
	default:
		break;
	}
	return v;
}

static int report_result(struct scribe_pg *pg, PGresult *res, bool *named, scribe_sql_row_fn *row, void *ctx,
			 struct scribe_err *err)
{
	ExecStatusType status = PQresultStatus(res);
	const char *names[SCRIBE_PG_MAX_COLUMNS];
	struct scribe_sql_value values[SCRIBE_PG_MAX_COLUMNS];
	int n = PQnfields(res), rc = 0;

	if (status == PGRES_COMMAND_OK)
		return 0;
	if (status != PGRES_SINGLE_TUPLE && status != PGRES_TUPLES_OK)
		return report_failure(pg, res, err);
	if (n > SCRIBE_PG_MAX_COLUMNS)
		return scribe_err_set(err, -SCRIBE_E_LIMIT, "%s: an answer of more than %d columns", pg->place,
				      SCRIBE_PG_MAX_COLUMNS);
	for (int i = 0; i < n; i++)
		names[i] = PQfname(res, i);
	if (row && !*named)
		rc = row(ctx, n, names, NULL, err);
	*named = true;
	if (!row || rc < 0 || status == PGRES_TUPLES_OK)
		return rc;
	for (int i = 0; i < n; i++)
		values[i] = value_of(res, i);
	return row(ctx, n, names, values, err);
}

static int report_results(struct scribe_pg *pg, scribe_sql_row_fn *row, void *ctx, struct scribe_err *err)
{
	bool named = false;
	int rc = 0;

	/* All results must be read before the connection accepts another statement. */
	for (PGresult *res; (res = next_result(pg)); PQclear(res)) {
		bool went_on = rc >= 0;

		if (went_on)
			rc = report_result(pg, res, &named, row, ctx, err);
		if (went_on && rc < 0 && PQtransactionStatus(pg->conn) == PQTRANS_ACTIVE)
			cancel(pg);
	}
	return rc;
}

/* *ret_number -1: the cache is full. Keys are addresses. */
static int prepare(struct scribe_pg *pg, const char *sql, const struct bound *b, int n, int *ret_number,
		   struct scribe_err *err)
{
	char name[16];
	PGresult *res;

	for (int i = 0; i < pg->ncached; i++)
		if (pg->cached[i] == sql) {
			*ret_number = i;
			return 0;
		}
	*ret_number = -1;
	if (pg->ncached == SCRIBE_PG_MAX_CACHED)
		return 0;
	snprintf(name, sizeof(name), "s%d", pg->ncached);
	res = PQprepare(pg->conn, name, sql, n, b->types);
	if (PQresultStatus(res) != PGRES_COMMAND_OK)
		return scribe_pg_failed(pg, res, err);
	PQclear(res);
	pg->cached[pg->ncached] = sql;
	*ret_number = pg->ncached++;
	return 0;
}

static int ask_plain(struct scribe_pg *pg, const char *sql, bool again, const struct scribe_sql_value *values, int n,
		     scribe_sql_row_fn *row, void *ctx, struct scribe_err *err)
{
	int number = -1, sent, rc = 0;
	struct bound b;
	char name[16];

	if (n > MAX_VALUES)
		return scribe_err_set(err, -EINVAL, "%s: a statement with more than %d values", pg->place, MAX_VALUES);
	bind_values(&b, values, n);
	if (again)
		rc = prepare(pg, sql, &b, n, &number, err);
	if (rc < 0)
		return rc;
	snprintf(name, sizeof(name), "s%d", number);
	sent = number >= 0 ? PQsendQueryPrepared(pg->conn, name, n, b.texts, NULL, NULL, 0)
			   : PQsendQueryParams(pg->conn, sql, n, b.types, b.texts, NULL, NULL, 0);
	/* Single-row mode: a result of any size needs the memory of one row. */
	if (!sent || !PQsetSingleRowMode(pg->conn))
		return scribe_pg_failed(pg, NULL, err);
	return report_results(pg, row, ctx, err);
}

/*
 * A read-only transaction still permits COPY to a file or program, SET, LOCK and others; none of them starts with
 * one of these words. The server accepts only one statement here.
 */
static bool only_reads(const char *sql)
{
	static const char *const words[] = {"SELECT", "WITH", "VALUES", "TABLE", "EXPLAIN"};
	size_t n;

	sql += strspn(sql, " \t\r\n(");
	n = strspn(sql, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strlen(words[i]) == n && !strncasecmp(words[i], sql, n))
			return true;
	return false;
}

static int begin_question(struct scribe_pg *pg, struct scribe_err *err)
{
	const int64_t left_ms = pg->limit.end_ms - scribe_msg_now_ms();
	char sql[160] = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";
	size_t n = strlen(sql);
	int rc = reconnect(pg, err);

	if (pg->limit.end_ms)
		snprintf(sql + n, sizeof(sql) - n, "; SET LOCAL statement_timeout = %d",
			 left_ms > 0 ? (int)left_ms + 1 : 1);
	return rc < 0 ? rc : scribe_pg_run(pg, sql, err);
}

int scribe_pg_query(void *db, const char *sql, bool again, const struct scribe_sql_value *values, int n,
		    scribe_sql_row_fn *row, void *ctx, struct scribe_err *err)
{
	struct scribe_pg *pg = db;
	int rc;

	if (!pg->read_only)
		return ask_plain(pg, sql, again, values, n, row, ctx, err);
	if (!only_reads(sql))
		return scribe_err_set(err, -EINVAL, "%s: " SCRIBE_SQL_ONLY_READS, pg->place);
	rc = begin_question(pg, err);
	/* The server ended the session while it was not used. */
	if (rc < 0 && PQstatus(pg->conn) != CONNECTION_OK)
		rc = begin_question(pg, err);
	if (rc >= 0)
		rc = ask_plain(pg, sql, again, values, n, row, ctx, err);
	/* Undoes SET; session locks (pg_advisory_lock) would survive the rollback and block writers. */
	if (PQstatus(pg->conn) == CONNECTION_OK)
		scribe_pg_run(pg, "ROLLBACK; SELECT pg_advisory_unlock_all()", NULL);
	return rc;
}

int scribe_pg_begin(void *db, struct scribe_err *err)
{
	struct scribe_pg *pg = db;
	int rc = reconnect(pg, err);

	pg->ndays = 0;
	pg->staged_now = pg->filled = false;
	if (rc < 0)
		return rc;
	/* The lock's name contains the schema, so stores in two schemas do not wait for each other. */
	return scribe_pg_run(pg, "BEGIN; SELECT pg_advisory_xact_lock(hashtext('ioscribe ' || current_schema()))", err);
}

int scribe_pg_commit(void *db, struct scribe_err *err)
{
	return scribe_pg_run(db, "COMMIT", err);
}

void scribe_pg_roll_back(void *db)
{
	struct scribe_pg *pg = db;

	if (PQtransactionStatus(pg->conn) != PQTRANS_IDLE)
		PQclear(PQexec(pg->conn, "ROLLBACK"));
	if (pg->staged_now) /* the rollback also removed the table */
		pg->staged = false;
}
