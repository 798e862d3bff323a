// SPDX-License-Identifier: BSD-3-Clause
/*
 * Tables into an SQLite database of many logs. A log is one transaction, identified by its bytes: adding it
 * again only adds missing tables. Names are only in table `file`.
 */
#include <errno.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/cmd/export/export_format.h"

/* Stored as PRAGMA user_version; newer ones are refused. */
#define SCHEMA_VERSION 1
#define BUSY_MS        60000 /* wait for another process that adds a log */

struct sqlite {
	const struct scribe_export_options *o;
	sqlite3 *db;
	sqlite3_stmt *insert;
	sqlite3_int64 log_id;
	uint64_t digest;
	int64_t bytes;
	int broken; /* the database itself failed: later logs are not tried */
	int is_known;
	int before;
	int added, completed, known;
};

static const char schema[] =
	"CREATE TABLE IF NOT EXISTS log (\n"
	"  log_id INTEGER PRIMARY KEY, path TEXT NOT NULL, bytes INTEGER NOT NULL, digest TEXT NOT NULL,\n"
	"  UNIQUE (digest, bytes));\n";

static int failed(struct sqlite *s, const char *what, struct scribe_err *err)
{
	s->broken = 1;
	return scribe_err_set(err, -EIO, "%s: %s: %s", s->o->output, what, sqlite3_errmsg(s->db));
}

static int run(struct sqlite *s, const char *sql, struct scribe_err *err)
{
	return sqlite3_exec(s->db, sql, NULL, NULL, NULL) == SQLITE_OK ? 0 : failed(s, "database", err);
}

/* 0: a new database or one of ours. */
static int check_version(struct sqlite *s, struct scribe_err *err)
{
	sqlite3_stmt *q;
	int version = -1;

	/* user_version is 0 in a new database; the PRAGMA fails for a file of another kind. */
	if (sqlite3_prepare_v2(s->db, "PRAGMA user_version", -1, &q, NULL) != SQLITE_OK)
		return failed(s, "not an SQLite database of ours", err);
	if (sqlite3_step(q) == SQLITE_ROW)
		version = sqlite3_column_int(q, 0);
	sqlite3_finalize(q);
	if (version < 0)
		return failed(s, "not an SQLite database of ours", err);
	if (version > SCHEMA_VERSION)
		return scribe_err_set(err, -SCRIBE_E_VERSION, "%s: made by a newer ioscribe (schema %d, this is %d)",
				      s->o->output, version, SCHEMA_VERSION);
	return 0;
}

static int sqlite_open(const struct scribe_export_options *o, void **ret_ctx, struct scribe_err *err)
{
	struct sqlite *s = calloc(1, sizeof(*s));

	if (!s)
		return scribe_err_set(err, -ENOMEM, "export: out of memory");
	s->o = o;
	*ret_ctx = s;
	return 0;
}

static int open_database(struct sqlite *s, struct scribe_err *err)
{
	char pragma[64];
	int rc;

	/* Created with the first readable log, so that a failed run creates no empty database. */
	if (s->db)
		return 0;
	snprintf(pragma, sizeof(pragma), "PRAGMA user_version = %d", SCHEMA_VERSION);
	if (sqlite3_open(s->o->output, &s->db) != SQLITE_OK)
		return failed(s, "cannot be opened", err);
	sqlite3_busy_timeout(s->db, BUSY_MS);
	rc = check_version(s, err);
	s->broken = rc < 0;
	if (rc >= 0)
		rc = run(s, schema, err);
	return rc < 0 ? rc : run(s, pragma, err);
}

static void print_counts(const struct sqlite *s)
{
	printf("%s: %d log%s added, %d already there", s->o->output, s->added, s->added == 1 ? "" : "s", s->known);
	if (s->completed)
		printf(", %d of them with tables added", s->completed);
	putchar('\n');
}

static void roll_back(struct sqlite *s)
{
	sqlite3_finalize(s->insert);
	s->insert = NULL;
	if (s->db && sqlite3_get_autocommit(s->db) == 0)
		sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
}

static bool drop_log(void *ctx)
{
	struct sqlite *s = ctx;

	roll_back(s);
	return !s->broken;
}

static int sqlite_close(void *ctx, int was_failure, struct scribe_err *err)
{
	struct sqlite *s = ctx;
	int rc = 0;

	roll_back(s);
	sqlite3_close(s->db);
	if (!was_failure && s->db) {
		print_counts(s);
		if (fflush(stdout) || ferror(stdout))
			rc = scribe_err_set(err, -EIO, "cannot write the output: %s", strerror(errno));
	}
	free(s);
	return rc;
}

static bool has_rows(struct sqlite *s, const char *table)
{
	char *sql = sqlite3_mprintf("SELECT 1 FROM \"%w\" WHERE log_id = ? LIMIT 1", table);
	sqlite3_stmt *q = NULL;
	bool found = false;

	if (sql && sqlite3_prepare_v2(s->db, sql, -1, &q, NULL) == SQLITE_OK) {
		sqlite3_bind_int64(q, 1, s->log_id);
		found = sqlite3_step(q) == SQLITE_ROW;
	}
	sqlite3_finalize(q);
	sqlite3_free(sql);
	return found;
}

static bool is_wanted(void *ctx, const char *table)
{
	struct sqlite *s = ctx;

	return scribe_export_is_wanted(s->o, table) && !(s->is_known && has_rows(s, table));
}

static const char *sql_type(enum scribe_column_kind kind)
{
	switch (kind) {
	case SCRIBE_COL_INT:
	case SCRIBE_COL_ID:
		return "INTEGER";
	case SCRIBE_COL_REAL:
		return "REAL";
	default:
		return "TEXT";
	}
}

/* An older version may have created the table with fewer columns. */
static int add_columns(struct sqlite *s, const struct scribe_export_table *t, struct scribe_err *err)
{
	for (int i = 0; i < t->ncolumns; i++) {
		char sql[256];
		sqlite3_stmt *q;

		if (t->columns[i].kind == SCRIBE_COL_PLACE)
			continue;
		snprintf(sql, sizeof(sql), "SELECT 1 FROM pragma_table_info('%s') WHERE name = '%s'", t->name,
			 t->columns[i].name);
		if (sqlite3_prepare_v2(s->db, sql, -1, &q, NULL) != SQLITE_OK)
			return failed(s, t->name, err);
		if (sqlite3_step(q) != SQLITE_ROW) {
			sqlite3_finalize(q);
			snprintf(sql, sizeof(sql), "ALTER TABLE \"%s\" ADD COLUMN \"%s\" %s", t->name,
				 t->columns[i].name, sql_type(t->columns[i].kind));
			if (run(s, sql, err) < 0)
				return -1;
			continue;
		}
		sqlite3_finalize(q);
	}
	return 0;
}

static int create_table(struct sqlite *s, const struct scribe_export_table *t, struct scribe_err *err)
{
	sqlite3_str *sql = sqlite3_str_new(s->db);
	char *text;
	int rc, has_record = 0;

	sqlite3_str_appendf(sql, "CREATE TABLE IF NOT EXISTS \"%w\" (log_id INTEGER NOT NULL REFERENCES log", t->name);
	for (int i = 0; i < t->ncolumns; i++) {
		/* Names and mounts (PLACE) are not stored again: table `file` has them by record id. */
		if (t->columns[i].kind != SCRIBE_COL_PLACE)
			sqlite3_str_appendf(sql, ", \"%w\" %s", t->columns[i].name, sql_type(t->columns[i].kind));
		has_record |= !strcmp(t->columns[i].name, "record_id");
	}
	sqlite3_str_appendall(sql, ");");
	sqlite3_str_appendf(sql, "CREATE INDEX IF NOT EXISTS \"%w_log\" ON \"%w\" (log_id%s);", t->name, t->name,
			    has_record ? ", record_id" : "");
	text = sqlite3_str_finish(sql);
	if (!text)
		return scribe_err_set(err, -ENOMEM, "table %s: out of memory", t->name);
	rc = run(s, text, err);
	sqlite3_free(text);
	return rc < 0 ? rc : add_columns(s, t, err);
}

static int prepare_insert(struct sqlite *s, const struct scribe_export_table *t, struct scribe_err *err)
{
	sqlite3_str *sql = sqlite3_str_new(s->db);
	char *text;
	int n = 1, rc;

	sqlite3_str_appendf(sql, "INSERT INTO \"%w\" (log_id", t->name);
	for (int i = 0; i < t->ncolumns; i++)
		if (t->columns[i].kind != SCRIBE_COL_PLACE) {
			sqlite3_str_appendf(sql, ", \"%w\"", t->columns[i].name);
			n++;
		}
	sqlite3_str_appendall(sql, ") VALUES (?");
	while (--n > 0)
		sqlite3_str_appendall(sql, ", ?");
	sqlite3_str_appendall(sql, ")");
	text = sqlite3_str_finish(sql);
	if (!text)
		return scribe_err_set(err, -ENOMEM, "table %s: out of memory", t->name);
	sqlite3_finalize(s->insert);
	s->insert = NULL;
	rc = sqlite3_prepare_v2(s->db, text, -1, &s->insert, NULL);
	sqlite3_free(text);
	return rc == SQLITE_OK ? 0 : failed(s, t->name, err);
}

static int begin_table(void *ctx, const struct scribe_export_table *t, struct scribe_err *err)
{
	int rc = create_table(ctx, t, err);

	return rc < 0 ? rc : prepare_insert(ctx, t, err);
}

static int bind_cell(sqlite3_stmt *q, int at, const struct scribe_column *col, const struct scribe_cell *c)
{
	if (c->null)
		return sqlite3_bind_null(q, at);
	switch (col->kind) {
	case SCRIBE_COL_INT:
		return sqlite3_bind_int64(q, at, c->i);
	case SCRIBE_COL_ID:
		return sqlite3_bind_int64(q, at, (sqlite3_int64)c->id);
	case SCRIBE_COL_REAL:
		return sqlite3_bind_double(q, at, c->r);
	default: /* SQLite would not return invalid or unprintable text exactly, so that becomes a blob */
		if (scribe_name_printable(c->text.bytes, c->text.len))
			return sqlite3_bind_text64(q, at, c->text.bytes, c->text.len, SQLITE_STATIC, SQLITE_UTF8);
		return sqlite3_bind_blob64(q, at, c->text.bytes, c->text.len, SQLITE_STATIC);
	}
}

static int put_row(void *ctx, const struct scribe_export_table *t, const struct scribe_cell *cells,
		   struct scribe_err *err)
{
	struct sqlite *s = ctx;
	int at = 1, rc = sqlite3_bind_int64(s->insert, at++, s->log_id);

	for (int i = 0; i < t->ncolumns && rc == SQLITE_OK; i++)
		if (t->columns[i].kind != SCRIBE_COL_PLACE)
			rc = bind_cell(s->insert, at++, &t->columns[i], &cells[i]);
	if (rc == SQLITE_OK && sqlite3_step(s->insert) != SQLITE_DONE)
		rc = SQLITE_ERROR;
	if (rc != SQLITE_OK)
		return failed(s, t->name, err);
	sqlite3_reset(s->insert);
	return 0;
}

static int find_log(struct sqlite *s, const char *digest, struct scribe_err *err)
{
	sqlite3_stmt *q;
	int rc;

	if (sqlite3_prepare_v2(s->db, "SELECT log_id FROM log WHERE digest = ? AND bytes = ?", -1, &q, NULL) !=
	    SQLITE_OK)
		return failed(s, "log", err);
	sqlite3_bind_text(q, 1, digest, -1, SQLITE_STATIC);
	sqlite3_bind_int64(q, 2, s->bytes);
	rc = sqlite3_step(q);
	s->log_id = sqlite3_column_int64(q, 0);
	sqlite3_finalize(q);
	return rc == SQLITE_ROW ? 0 : failed(s, "log", err);
}

static int enter_log(struct sqlite *s, const char *path, struct scribe_err *err)
{
	sqlite3_stmt *q;
	char digest[24];
	int rc;

	snprintf(digest, sizeof(digest), "%016llx", (unsigned long long)s->digest);
	if (sqlite3_prepare_v2(s->db, "INSERT OR IGNORE INTO log (path, bytes, digest) VALUES (?, ?, ?)", -1, &q,
			       NULL) != SQLITE_OK)
		return failed(s, "log", err);
	sqlite3_bind_text(q, 1, path, -1, SQLITE_STATIC);
	sqlite3_bind_int64(q, 2, s->bytes);
	sqlite3_bind_text(q, 3, digest, -1, SQLITE_STATIC);
	/* UNIQUE (digest, bytes): the insert changes nothing for a known log. */
	rc = sqlite3_step(q);
	sqlite3_finalize(q);
	if (rc != SQLITE_DONE)
		return failed(s, "log", err);
	s->is_known = sqlite3_changes(s->db) == 0;
	s->log_id = sqlite3_last_insert_rowid(s->db);
	s->before = sqlite3_total_changes(s->db);
	return s->is_known ? find_log(s, digest, err) : 0;
}

static void count_log(struct sqlite *s)
{
	if (!s->is_known) {
		s->added++;
		return;
	}
	s->known++;
	s->completed += sqlite3_total_changes(s->db) > s->before;
}

static int put_log(void *ctx, struct scribe_log *log, struct scribe_err *err)
{
	struct sqlite *s = ctx;
	struct scribe_export_sink sink = {begin_table, put_row, ctx, is_wanted};
	int rc = scribe_export_digest(log->path, &s->digest, &s->bytes, err);

	if (rc >= 0)
		rc = open_database(s, err);
	/* IMMEDIATE takes the write lock here, where a second export waits up to BUSY_MS, not at its first insert. */
	if (rc >= 0)
		rc = run(s, "BEGIN IMMEDIATE", err);
	if (rc >= 0)
		rc = enter_log(s, log->path, err);
	if (rc >= 0)
		rc = scribe_export_log(log, &sink, err);
	sqlite3_finalize(s->insert);
	s->insert = NULL;
	if (rc >= 0)
		rc = run(s, "COMMIT", err);
	if (rc >= 0)
		count_log(s);
	return rc;
}

const struct scribe_export_format scribe_export_sqlite = {sqlite_open, put_log, drop_log, sqlite_close};
