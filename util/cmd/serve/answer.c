// SPDX-License-Identifier: BSD-3-Clause
/* Results of a question as a table in JSON. Must not know HTTP, nor what a question is about. */
#include "util/cmd/serve/answer.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/cmd/serve/slots.h"
#include "util/store/analysis.h"

void scribe_answer_string(yajl_gen json, const char *text)
{
	yajl_gen_string(json, (const unsigned char *)text, strlen(text));
}

void scribe_json_pair(yajl_gen json, const char *key, const char *text)
{
	scribe_answer_string(json, key);
	scribe_answer_string(json, text);
}

struct answer {
	const struct scribe_answer_want *want;
	yajl_gen json;
	bool open;
	uint64_t rows;
	int n; /* of the columns, for an answer without rows */
	char names[64][64];
};

static const char *wanted(const struct scribe_answer_want *want, const char *name)
{
	const char *value = want->value(want->ctx, name);

	return value && *value ? value : NULL;
}

static void put_value(yajl_gen json, const struct scribe_sql_value *v)
{
	if (v->kind == SCRIBE_SQL_IS_INT)
		yajl_gen_integer(json, v->i);
	else if (v->kind == SCRIBE_SQL_IS_TEXT)
		yajl_gen_string(json, (const unsigned char *)v->text, v->len);
	else if (v->kind != SCRIBE_SQL_IS_REAL || yajl_gen_double(json, v->r) != yajl_gen_status_ok)
		yajl_gen_null(json);
}

/* Filters by module and rank, for questions without such parameters. */
static bool is_wanted(const struct answer *a, int n, const char *const *names, const struct scribe_sql_value *v)
{
	char number[32];

	for (int i = 0; i < n; i++) {
		const char *value;

		if (strcmp(names[i], "module") && strcmp(names[i], "rank"))
			continue;
		value = wanted(a->want, names[i]);
		if (!value || v[i].kind == SCRIBE_SQL_IS_NULL)
			continue;
		snprintf(number, sizeof(number), "%" PRId64, v[i].i);
		if (strcmp(v[i].kind == SCRIBE_SQL_IS_TEXT ? v[i].text : number, value))
			return false;
	}
	return true;
}

static void table_begin(struct answer *a, int n, const char *const *names, const struct scribe_sql_value *v)
{
	a->open = true;
	yajl_gen_map_open(a->json);
	scribe_answer_string(a->json, "columns");
	yajl_gen_array_open(a->json);
	for (int i = 0; i < n; i++) {
		bool number = v && (v[i].kind == SCRIBE_SQL_IS_INT || v[i].kind == SCRIBE_SQL_IS_REAL);

		/* The first row determines the types. */
		yajl_gen_map_open(a->json);
		scribe_json_pair(a->json, "text", names[i]);
		scribe_json_pair(a->json, "type", number ? "number" : "string");
		yajl_gen_map_close(a->json);
	}
	yajl_gen_array_close(a->json);
	scribe_answer_string(a->json, "rows");
	yajl_gen_array_open(a->json);
}

static void table_end(struct answer *a)
{
	const char *names[64];

	for (int i = 0; i < a->n; i++)
		names[i] = a->names[i];
	if (!a->open)
		table_begin(a, a->n, names, NULL);
	yajl_gen_array_close(a->json);
	yajl_gen_map_close(a->json);
}

static int check_limits(struct answer *a, struct scribe_err *err)
{
	const unsigned char *text;
	size_t bytes = 0;

	if (++a->rows > SCRIBE_SERVE_ROWS)
		return scribe_err_set(err, -EINVAL, "a request of more than %d rows", SCRIBE_SERVE_ROWS);
	yajl_gen_get_buf(a->json, &text, &bytes);
	return bytes <= SCRIBE_SERVE_ANSWER
		       ? 0
		       : scribe_err_set(err, -EINVAL, "a request with an answer of more than %u MiB",
					SCRIBE_SERVE_ANSWER >> 20);
}

static int on_row(void *ctx, int n, const char *const *names, const struct scribe_sql_value *v, struct scribe_err *err)
{
	struct answer *a = ctx;
	int rc;

	if (!v) {
		a->n = n < 64 ? n : 64;
		for (int i = 0; i < a->n; i++)
			snprintf(a->names[i], sizeof(a->names[i]), "%s", names[i]);
		return 0;
	}
	rc = check_limits(a, err);
	if (rc < 0 || !is_wanted(a, n, names, v))
		return rc;
	if (!a->open)
		table_begin(a, n, names, v);
	yajl_gen_array_open(a->json);
	for (int i = 0; i < n; i++)
		put_value(a->json, &v[i]);
	yajl_gen_array_close(a->json);
	return 0;
}

static int set_parameters(struct scribe_question *q, const struct scribe_answer_want *want, struct scribe_err *err)
{
	char assignment[SCRIBE_QUESTION_NAME + 512];
	int rc = 0;

	for (int i = 0; i < q->nparameters && rc >= 0; i++) {
		const char *value = wanted(want, q->parameters[i].name);

		if (!value)
			continue;
		if (strlen(value) > 500)
			return scribe_err_set(err, -EINVAL, "%s: longer than 500 bytes", q->parameters[i].name);
		snprintf(assignment, sizeof(assignment), "%s=%s", q->parameters[i].name, value);
		rc = scribe_question_set(q, assignment, err);
	}
	return rc;
}

/* In Python without a connection here: ioscribe-query makes its own. */
static int run_question(struct scribe_serve *serve, const struct scribe_serve_request *r,
			const struct scribe_question *q, const struct scribe_sql_value *values, struct answer *a,
			struct scribe_err *err)
{
	struct scribe_ask from = {.db = serve->db, .folders = serve->folders, .uid = r->uid, .limit = r->limit};
	struct scribe_serve_slot *slot = NULL;
	int rc = q->python ? scribe_slot_processes(serve, r, err) : scribe_slot_take(serve, r, &slot, err);

	if (rc < 0)
		return rc;
	from.store = slot ? slot->store : NULL;
	rc = scribe_question_run(q, values, &from, on_row, a, err);
	if (slot)
		scribe_slot_give(serve, slot);
	else
		pthread_mutex_unlock(&serve->processes);
	return rc;
}

static int run(struct scribe_serve *serve, const struct scribe_serve_request *r, const char *question, struct answer *a,
	       struct scribe_err *err)
{
	struct scribe_sql_value values[SCRIBE_QUESTION_PARAMETERS];
	struct scribe_question q = {0};
	int rc = scribe_question_load(&q, serve->folders, question, err);

	/* Files may change while the server runs. */
	if (rc >= 0)
		rc = set_parameters(&q, a->want, err);
	if (rc >= 0)
		rc = scribe_question_values(&q, values, err);
	if (rc >= 0)
		rc = run_question(serve, r, &q, values, a, err);
	scribe_question_clear(&q);
	return rc;
}

int scribe_answer(struct scribe_serve *serve, const struct scribe_serve_request *r, const char *question,
		  const struct scribe_answer_want *want, yajl_gen json, struct scribe_err *err)
{
	struct answer *a = calloc(1, sizeof(*a));
	int rc;

	if (!a)
		return scribe_err_set(err, -ENOMEM, "answer: out of memory");
	a->want = want;
	a->json = json;
	rc = run(serve, r, question, a, err);
	if (rc >= 0)
		table_end(a);
	free(a);
	return rc;
}
