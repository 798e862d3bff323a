// SPDX-License-Identifier: BSD-3-Clause
/*
 * Rows of `event` in PostgreSQL: a partition per day (UTC), filled by COPY; batches with known rows go through
 * a staging table. Old days are dropped as partitions. Must not know how to connect.
 */
#include "util/store/pg_rows.h"

#include <endian.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "util/store/pg.h"

#define DAY_US    INT64_C(86400000000)
#define FIRST_DAY 10957 /* 2000; earlier rows share a partition */
#define LAST_DAY  47482 /* 2100; later rows share another */
/* Bytes per COPY message; a row has at most 266. */
#define COPY_BYTES 262144
/* After a batch with known rows, because each failed COPY leaves dead rows for vacuum. */
#define STAGING_BATCHES  64
#define UNIQUE_VIOLATION "23505"
#define FORGET_AT_A_TIME 50000 /* rows per transaction, so that writers wait little */

static int64_t day_of(int64_t time_us)
{
	int64_t day = time_us / DAY_US - (time_us % DAY_US < 0);

	return day < FIRST_DAY ? FIRST_DAY - 1 : day >= LAST_DAY ? LAST_DAY : day;
}

static void name_of(int64_t day, char *name, size_t cap)
{
	time_t t = (time_t)day * 86400;
	struct tm tm;

	gmtime_r(&t, &tm);
	if (day < FIRST_DAY)
		snprintf(name, cap, "event_before");
	else if (day >= LAST_DAY)
		snprintf(name, cap, "event_after");
	else
		strftime(name, cap, "event_%Y%m%d", &tm);
}

/* to_regclass returns NULL if the table does not exist. */
static int on_there(void *ctx, int n, const char *const *names, const struct scribe_sql_value *v,
		    struct scribe_err *err)
{
	if (v)
		*(bool *)ctx = v[0].kind != SCRIBE_SQL_IS_NULL;
	return 0;
}

static int make_partition(struct scribe_pg *pg, int64_t day, const char *name, struct scribe_err *err)
{
	char sql[512], from[32] = "MINVALUE", to[32] = "MAXVALUE";

	if (day >= FIRST_DAY)
		snprintf(from, sizeof(from), "%" PRId64, day * DAY_US);
	if (day < LAST_DAY)
		snprintf(to, sizeof(to), "%" PRId64, (day + 1) * DAY_US);
	/* ATTACH, unlike CREATE ... PARTITION OF, does not wait for running questions. */
	snprintf(sql, sizeof(sql),
		 "CREATE TABLE %s (LIKE event INCLUDING INDEXES);"
		 "ALTER TABLE event ATTACH PARTITION %s FOR VALUES FROM (%s) TO (%s)",
		 name, name, from, to);
	return scribe_pg_run(pg, sql, err);
}

static int need_day(struct scribe_pg *pg, int64_t day, struct scribe_err *err)
{
	struct scribe_sql_value value;
	bool there = false;
	char name[32];
	int rc;

	for (int i = pg->ndays; i-- > 0;)
		if (pg->days[i] == day)
			return 0;
	name_of(day, name, sizeof(name));
	value = scribe_sql_text(name);
	rc = scribe_pg_query(pg, "SELECT to_regclass($1)", true, &value, 1, on_there, &there, err);
	if (rc >= 0 && !there)
		rc = make_partition(pg, day, name, err);
	if (rc < 0)
		return rc;
	if (pg->ndays == SCRIBE_PG_MAX_DAYS)
		pg->ndays = 0; /* full: start over */
	pg->days[pg->ndays++] = day;
	return 0;
}

/* Per connection, emptied by COMMIT, or here for a second batch. */
static int need_staging(struct scribe_pg *pg, struct scribe_err *err)
{
	int rc = 0;

	if (!pg->staged) {
		rc = scribe_pg_run(pg, "CREATE TEMP TABLE ioscribe_put (LIKE event) ON COMMIT DELETE ROWS", err);
		pg->staged = pg->staged_now = rc >= 0;
	} else if (pg->filled) {
		rc = scribe_pg_run(pg, "TRUNCATE pg_temp.ioscribe_put", err);
	}
	pg->filled = true;
	return rc;
}

static size_t pack16(char *to, uint16_t v)
{
	v = htobe16(v);
	memcpy(to, &v, sizeof(v));
	return sizeof(v);
}

static size_t pack32(char *to, uint32_t v)
{
	v = htobe32(v);
	memcpy(to, &v, sizeof(v));
	return sizeof(v);
}

/* COPY's binary format. */
static size_t pack_row(char *to, const struct scribe_store_row *row)
{
	size_t n = pack16(to, SCRIBE_STORE_NCOLUMNS);

	for (int c = 0; c < SCRIBE_STORE_NCOLUMNS; c++) {
		uint64_t v = htobe64((uint64_t)row->v[c]);

		n += pack32(to + n, row->v[c] == SCRIBE_SQL_NULL ? UINT32_MAX : sizeof(v));
		if (row->v[c] == SCRIBE_SQL_NULL)
			continue;
		memcpy(to + n, &v, sizeof(v));
		n += sizeof(v);
	}
	return n;
}

static int send_rows(struct scribe_pg *pg, const struct scribe_store_row *rows, size_t n, char *buf)
{
	static const char head[] =
		"PGCOPY\n\377\r\n\0\0\0\0\0\0\0\0"; /* signature, flags and extension length, with the last NUL */
	size_t used = sizeof(head);

	memcpy(buf, head, sizeof(head));
	for (size_t i = 0; i < n; i++) {
		if (used > COPY_BYTES - 512) {
			if (PQputCopyData(pg->conn, buf, (int)used) != 1)
				return -1;
			used = 0;
		}
		used += pack_row(buf + used, &rows[i]);
	}
	used += pack16(buf + used, UINT16_MAX); /* -1 ends the data */
	return PQputCopyData(pg->conn, buf, (int)used) == 1 ? 0 : -1;
}

static int copy_rows(struct scribe_pg *pg, const char *copy, const struct scribe_store_row *rows, size_t n,
		     bool *ret_known, struct scribe_err *err)
{
	PGresult *res = PQexec(pg->conn, copy);
	const char *state;
	char *buf;
	int rc;

	*ret_known = false;

	if (PQresultStatus(res) != PGRES_COPY_IN)
		return scribe_pg_failed(pg, res, err);
	PQclear(res);
	buf = malloc(COPY_BYTES);
	rc = buf ? send_rows(pg, rows, n, buf) : -1;
	if (PQputCopyEnd(pg->conn, rc < 0 ? "out of memory, or the connection is lost" : NULL) != 1)
		rc = -1;
	free(buf);
	res = PQgetResult(pg->conn);
	state = PQresultErrorField(res, PG_DIAG_SQLSTATE);
	*ret_known = rc == 0 && state && !strcmp(state, UNIQUE_VIOLATION);
	if (rc < 0 || PQresultStatus(res) != PGRES_COMMAND_OK)
		rc = scribe_pg_failed(pg, res, err);
	else
		PQclear(res);
	/* Read all results, or the connection stays busy. */
	while ((res = PQgetResult(pg->conn)))
		PQclear(res);
	return rc;
}

/* Of rows with one key the first is the one that was put. */
static void mark_fresh(const PGresult *res, const struct scribe_store_row *rows, size_t n, bool *fresh)
{
	memset(fresh, 0, n * sizeof(*fresh));
	for (int i = 0; i < PQntuples(res); i++) {
		const struct scribe_store_row *found;
		struct scribe_store_row key;

		for (int c = SCRIBE_COLUMN_job; c <= SCRIBE_COLUMN_key; c++)
			key.v[c] = strtoll(PQgetvalue(res, i, c), NULL, 10);
		found = bsearch(&key, rows, n, sizeof(*rows), scribe_store_by_key);
		while (found && found > rows && scribe_store_by_key(found - 1, &key) == 0)
			found--;
		if (found)
			fresh[found - rows] = true;
	}
}

static int put_by_staging(struct scribe_pg *pg, const struct scribe_store_row *rows, size_t n, bool *ret_fresh,
			  struct scribe_err *err)
{
	PGresult *res;
	bool known;
	int rc = need_staging(pg, err);

	if (rc >= 0)
		rc = copy_rows(pg, "COPY pg_temp.ioscribe_put FROM STDIN (FORMAT binary)", rows, n, &known, err);
	if (rc < 0)
		return rc;
	res = PQexec(pg->conn, "INSERT INTO event SELECT * FROM pg_temp.ioscribe_put ON CONFLICT DO NOTHING"
			       " RETURNING job, rank, time_us, key");
	if (PQresultStatus(res) != PGRES_TUPLES_OK)
		return scribe_pg_failed(pg, res, err);
	mark_fresh(res, rows, n, ret_fresh);
	PQclear(res);
	return 0;
}

/* *ret_known: a row exists, and nothing was stored. */
static int put_directly(struct scribe_pg *pg, const struct scribe_store_row *rows, size_t n, bool *ret_known,
			struct scribe_err *err)
{
	int rc = scribe_pg_run(pg, "SAVEPOINT ioscribe_put", err);

	if (rc >= 0)
		rc = copy_rows(pg, "COPY event FROM STDIN (FORMAT binary)", rows, n, ret_known, err);
	if (rc >= 0)
		return scribe_pg_run(pg, "RELEASE SAVEPOINT ioscribe_put", err);
	return *ret_known ? scribe_pg_run(pg, "ROLLBACK TO SAVEPOINT ioscribe_put; RELEASE SAVEPOINT ioscribe_put", err)
			  : rc;
}

int scribe_pg_put(void *db, const struct scribe_store_row *rows, size_t n, bool *ret_fresh, struct scribe_err *err)
{
	struct scribe_pg *pg = db;
	bool known = false;
	int rc = 0;

	for (size_t i = 0; i < n && rc >= 0; i++)
		rc = need_day(pg, day_of(rows[i].v[SCRIBE_COLUMN_time_us]), err);
	if (rc >= 0 && !pg->by_staging) {
		rc = put_directly(pg, rows, n, &known, err);
		if (rc >= 0 && !known) {
			memset(ret_fresh, 1, n * sizeof(*ret_fresh));
			return 0;
		}
		pg->by_staging = STAGING_BATCHES + 1;
	}
	if (rc < 0)
		return rc;
	pg->by_staging--;
	return put_by_staging(pg, rows, n, ret_fresh, err);
}

struct old_days {
	char names[SCRIBE_PG_MAX_DAYS][32];
	char before[32]; /* name of the first day to keep */
	int n;
};

static int on_partition(void *ctx, int n, const char *const *names, const struct scribe_sql_value *v,
			struct scribe_err *err)
{
	struct old_days *old = ctx;

	if (v && old->n < SCRIBE_PG_MAX_DAYS && v[0].len < sizeof(old->names[0]))
		snprintf(old->names[old->n++], sizeof(old->names[0]), "%s", v[0].text);
	return 0;
}

static int on_number(void *ctx, int n, const char *const *names, const struct scribe_sql_value *v,
		     struct scribe_err *err)
{
	if (v)
		*(int64_t *)ctx = v[0].i;
	return 0;
}

static int drop_day(struct scribe_pg *pg, const char *name, uint64_t *rows, struct scribe_err *err)
{
	char sql[128];
	int64_t n = 0;
	int rc = scribe_pg_begin(pg, err);

	/* Counted first, because DROP TABLE does not return a number. */
	snprintf(sql, sizeof(sql), "SELECT count(*) FROM %s", name);
	if (rc >= 0)
		rc = scribe_pg_query(pg, sql, false, NULL, 0, on_number, &n, err);
	snprintf(sql, sizeof(sql), "DROP TABLE %s", name);
	if (rc >= 0)
		rc = scribe_pg_run(pg, sql, err);
	if (rc >= 0)
		rc = scribe_pg_commit(pg, err);
	if (rc < 0)
		scribe_pg_roll_back(pg);
	else
		*rows += (uint64_t)n;
	return rc;
}

static int drop_days(struct scribe_pg *pg, int64_t before_us, uint64_t *rows, struct scribe_err *err)
{
	struct old_days old;
	struct scribe_sql_value value;
	int rc = 0;

	/* No whole day is over; "event_before" would also be sorted after all days. */
	if (day_of(before_us) < FIRST_DAY)
		return 0;
	name_of(day_of(before_us), old.before, sizeof(old.before));
	value = scribe_sql_text(old.before);
	do {
		old.n = 0;
		rc = scribe_pg_query(pg,
				     "SELECT relname::text FROM pg_inherits JOIN pg_class ON oid = inhrelid"
				     " WHERE inhparent = 'event'::regclass AND relname ~ '^event_[0-9]{8}$'"
				     " AND relname::text COLLATE \"C\" < $1 ORDER BY 1",
				     true, &value, 1, on_partition, &old, err);
		for (int i = 0; i < old.n && rc >= 0; i++)
			rc = drop_day(pg, old.names[i], rows, err);
	} while (rc >= 0 && old.n == SCRIBE_PG_MAX_DAYS);
	return rc;
}

/* The partly kept day and the shared partitions. */
static int forget_some(struct scribe_pg *pg, int64_t before_us, uint64_t *ret_rows, struct scribe_err *err)
{
	char sql[256];
	PGresult *res;
	int rc = scribe_pg_begin(pg, err);

	if (rc < 0)
		return rc;
	snprintf(sql, sizeof(sql),
		 "DELETE FROM event WHERE (job, rank, time_us, key) IN (SELECT job, rank, time_us, key"
		 " FROM event WHERE time_us < %" PRId64 " LIMIT %d)",
		 before_us, FORGET_AT_A_TIME);
	res = PQexec(pg->conn, sql);
	if (PQresultStatus(res) != PGRES_COMMAND_OK) {
		rc = scribe_pg_failed(pg, res, err);
	} else {
		*ret_rows = strtoull(PQcmdTuples(res), NULL, 10);
		PQclear(res);
		rc = scribe_pg_commit(pg, err);
	}
	if (rc < 0)
		scribe_pg_roll_back(pg);
	return rc;
}

int scribe_pg_forget(void *db, int64_t before_us, uint64_t *ret_rows, struct scribe_err *err)
{
	struct scribe_pg *pg = db;
	uint64_t all = 0, rows = 1;
	int rc = drop_days(pg, before_us, &all, err);

	while (rc >= 0 && rows) {
		rc = forget_some(pg, before_us, &rows, err);
		all += rc < 0 ? 0 : rows;
	}
	*ret_rows = all;
	return rc;
}
