// SPDX-License-Identifier: BSD-3-Clause
/*
 * The work of ioscribe-query. The store is opened read-only; IOSCRIBE_DB can hold its address, which hides a password.
 * Must not know the tables.
 */
#include "util/cmd/query/query.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "logfmt/file/escape.h"
#include "util/store/analysis.h"
#include "util/store/question_folders.h"
#include "util/store/store.h"
#include "util/text/number.h"
#include "util/text/outbuf.h"
#include "util/text/quoted.h"
#include "util/tool/command.h"
#include "util/tool/user_number.h"

enum format { FORMAT_TABLE, FORMAT_CSV, FORMAT_JSON };

struct query {
	const char *db;
	enum format format;
	bool list;
	char folders[SCRIBE_QUESTION_FOLDERS];
	struct scribe_out out;
	uint64_t rows;
};

static int take(void *ctx, int key, const char *value, struct scribe_err *err)
{
	struct query *q = ctx;

	switch (key) {
	case 'd':
		q->db = value;
		return 0;
	case 'c':
	case 'j':
		if (q->format != FORMAT_TABLE)
			return scribe_err_set(err, -EINVAL, "--csv and --json: only one of them");
		q->format = key == 'c' ? FORMAT_CSV : FORMAT_JSON;
		return 0;
	case 'l':
		q->list = true;
		return 0;
	default:
		return scribe_question_folder_add(q->folders, sizeof(q->folders), value, err);
	}
}

static void put_value(struct query *q, const struct scribe_sql_value *v)
{
	char number[64];

	if (v->kind == SCRIBE_SQL_IS_INT)
		*scribe_put_i64(number, v->i) = 0;
	else if (v->kind == SCRIBE_SQL_IS_REAL)
		snprintf(number, sizeof(number), "%.15g", v->r); /* computed by a database: 17 digits show noise */
	else
		number[0] = 0;
	scribe_out_text(&q->out, number);
}

static int csv_row(struct query *q, int n, const char *const *names, const struct scribe_sql_value *v)
{
	int rc = 0;

	for (int i = 0; i < n && rc >= 0; i++) {
		scribe_out_text(&q->out, i ? "," : "");
		if (!v)
			rc = scribe_csv_utf8(&q->out, names[i], strlen(names[i]));
		else if (v[i].kind == SCRIBE_SQL_IS_TEXT)
			rc = scribe_csv_utf8(&q->out, v[i].text, v[i].len);
		else
			put_value(q, &v[i]);
	}
	scribe_out_text(&q->out, "\n");
	return rc;
}

static int json_row(struct query *q, int n, const char *const *names, const struct scribe_sql_value *v)
{
	int rc = 0;

	if (!v) {
		scribe_out_text(&q->out, "[");
		return 0;
	}
	scribe_out_text(&q->out, q->rows ? ",\n{" : "\n{");
	for (int i = 0; i < n && rc >= 0; i++) {
		scribe_out_text(&q->out, i ? "," : "");
		/* Invalid UTF-8 gets another key (quoted.h). */
		if (v[i].kind == SCRIBE_SQL_IS_TEXT) {
			rc = scribe_json_text(&q->out, names[i], v[i].text, v[i].len);
			continue;
		}
		scribe_out_printf(&q->out, "\"%s\":%s", names[i], v[i].kind == SCRIBE_SQL_IS_NULL ? "null" : "");
		if (v[i].kind != SCRIBE_SQL_IS_NULL)
			put_value(q, &v[i]);
	}
	scribe_out_text(&q->out, "}");
	return rc;
}

static int table_row(struct query *q, int n, const char *const *names, const struct scribe_sql_value *v)
{
	int rc = 0;

	for (int i = 0; i < n && rc >= 0; i++) {
		scribe_out_text(&q->out, i ? "\t" : "");
		if (!v)
			scribe_out_text(&q->out, names[i]);
		else if (v[i].kind == SCRIBE_SQL_IS_TEXT && scribe_name_printable(v[i].text, v[i].len))
			rc = scribe_csv_utf8(&q->out, v[i].text, v[i].len);
		else if (v[i].kind == SCRIBE_SQL_IS_TEXT)
			/* A tab in the text would move the columns, so control characters are escaped. */
			rc = scribe_csv_text(&q->out, v[i].text, v[i].len);
		else if (v[i].kind == SCRIBE_SQL_IS_NULL)
			scribe_out_text(&q->out, "-");
		else
			put_value(q, &v[i]);
	}
	scribe_out_text(&q->out, "\n");
	return rc;
}

static int on_row(void *ctx, int n, const char *const *names, const struct scribe_sql_value *values,
		  struct scribe_err *err)
{
	static int (*const rows[])(struct query *, int, const char *const *,
				   const struct scribe_sql_value *) = {table_row, csv_row, json_row};
	struct query *q = ctx;
	int rc = rows[q->format](q, n, names, values);

	q->rows += values != NULL;
	return rc < 0 ? scribe_err_set(err, -ENOMEM, "answer: out of memory") : 0;
}

static int ask(struct query *q, char **operands, int n, struct scribe_err *err)
{
	struct scribe_sql_value values[SCRIBE_QUESTION_PARAMETERS];
	struct scribe_question question = {0};
	const char *user = getenv("IOSCRIBE_DB_UID"); /* set for an analysis that `ioscribe serve` runs for a user */
	struct scribe_ask from = {.db = q->db, .folders = q->folders, .uid = -1};
	int rc = scribe_question_load(&question, q->folders, operands[0], err);

	for (int i = 1; i < n && rc >= 0; i++)
		rc = scribe_question_set(&question, operands[i], err);
	if (rc >= 0)
		rc = scribe_question_values(&question, values, err);
	if (rc >= 0 && user && *user) {
		from.uid = scribe_user_number(user);
		rc = from.uid < 0 ? scribe_err_set(err, -EINVAL, "IOSCRIBE_DB_UID: '%.40s' is no user", user) : 0;
	}
	if (rc >= 0)
		rc = scribe_store_open(q->db, true, NULL, NULL, &from.store, err);
	if (rc >= 0 && from.uid >= 0)
		rc = scribe_store_narrow(from.store, from.uid, err);
	if (rc >= 0)
		rc = scribe_question_run(&question, values, &from, on_row, q, err);
	if (rc >= 0 && q->format == FORMAT_JSON)
		scribe_out_text(&q->out, q->rows ? "\n]\n" : "]\n");
	scribe_store_close(from.store);
	scribe_question_clear(&question);
	return rc;
}

static int list_one(void *ctx, const char *name, struct scribe_err *err)
{
	struct query *q = ctx;
	struct scribe_question question = {0};
	int rc = scribe_question_load(&question, q->folders, name, err);

	if (rc >= 0) {
		scribe_out_printf(&q->out, "%s: %s\n", name, question.about);
		for (int i = 0; i < question.nparameters; i++) {
			const struct scribe_question_parameter *p = &question.parameters[i];

			scribe_out_printf(&q->out, "    %s=%s  %s\n", p->name,
					  p->has_default ? p->value
					  : p->is_number ? "NUMBER"
							 : "TEXT",
					  p->about);
		}
	}
	scribe_question_clear(&question);
	return rc;
}

static int usage(const char *argv0, const char *what)
{
	scribe_complain(argv0, "%s; see ioscribe query --help", what);
	return SCRIBE_EXIT_USAGE;
}

int scribe_query_main(int argc, char **argv)
{
	static struct query q;
	struct scribe_err err = {0};
	int first, rc, status = scribe_args_read(&scribe_command_query, argc, argv, take, &q, &first);

	if (status >= 0)
		return status;
	if (!q.db)
		q.db = getenv("IOSCRIBE_DB");
	if (q.list ? first < argc : first == argc)
		return usage(argv[0], q.list ? "--list has no operands" : "QUESTION expected, or --list");
	if (!q.list && !q.db)
		return usage(argv[0], "--db DB is missing");
	rc = scribe_question_folders(q.folders, sizeof(q.folders), &err);
	if (rc >= 0)
		rc = scribe_out_open(&q.out, STDOUT_FILENO, &err);
	if (rc >= 0)
		rc = q.list ? scribe_question_each(q.folders, list_one, &q, &err)
			    : ask(&q, argv + first, argc - first, &err);
	if (scribe_out_flush(&q.out, rc < 0 ? NULL : &err) < 0)
		rc = -1;
	scribe_out_close(&q.out);
	return rc < 0 ? scribe_complain_err(argv[0], &err) : SCRIBE_EXIT_OK;
}
