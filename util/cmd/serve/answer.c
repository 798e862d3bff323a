// SPDX-License-Identifier: BSD-3-Clause
/*
 * Results of a question as JSON: a table, or time series for Grafana, which are collected because points of one
 * series are not adjacent. Must not know HTTP, nor what a question is about.
 */
#include "util/cmd/serve/answer.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/store/analysis.h"

/* More than a plot can show; also bounds the linear search for a label. */
#define MAX_SERIES 500
#define MAX_LABEL  256

void scribe_answer_string(yajl_gen json, const char *text)
{
	yajl_gen_string(json, (const unsigned char *)text, strlen(text));
}

void scribe_json_pair(yajl_gen json, const char *key, const char *text)
{
	scribe_answer_string(json, key);
	scribe_answer_string(json, text);
}

struct point {
	int series;
	int64_t value, time_ms;
};

struct answer {
	const struct scribe_answer_want *want;
	yajl_gen json;
	bool series, open;
	int metric;
	char (*labels)[MAX_LABEL];
	int nlabels;
	struct point *points;
	size_t npoints, capacity;
};

static bool is_time(const char *name)
{
	/* These columns are in microseconds; Grafana expects milliseconds. */
	return !strcmp(name, "time_us") || !strcmp(name, "first_us") || !strcmp(name, "last_us");
}

static const char *wanted(const struct scribe_answer_want *want, const char *name)
{
	const char *value = want->value ? want->value(want->ctx, name) : NULL;

	return value && *value ? value : NULL;
}

static void put_value(struct answer *a, const char *name, const struct scribe_sql_value *v)
{
	if (v->kind == SCRIBE_SQL_IS_INT)
		yajl_gen_integer(a->json, a->want->grafana && is_time(name) ? v->i / 1000 : v->i);
	else if (v->kind == SCRIBE_SQL_IS_TEXT)
		yajl_gen_string(a->json, (const unsigned char *)v->text, v->len);
	else if (v->kind != SCRIBE_SQL_IS_REAL || yajl_gen_double(a->json, v->r) != yajl_gen_status_ok)
		yajl_gen_null(a->json);
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

static int series_begin(struct answer *a, int n, const char *const *names, struct scribe_err *err)
{
	const char *metric = wanted(a->want, "metric");

	a->metric = -1;
	for (int i = 1; i < n; i++)
		if (!strcmp(names[i], metric ? metric : "operations"))
			a->metric = i;
	if (a->metric < 0)
		return scribe_err_set(err, -EINVAL, "the answer has no metric '%.60s'", metric ? metric : "operations");
	a->labels = calloc(MAX_SERIES, sizeof(*a->labels));
	return a->labels ? 0 : scribe_err_set(err, -ENOMEM, "answer: out of memory");
}

/* The label consists of the row's texts and its rank. -1: too many series. */
static int series_of(struct answer *a, int n, const char *const *names, const struct scribe_sql_value *v)
{
	char label[MAX_LABEL] = "";
	size_t used = 0;

	for (int i = 1; i < n && used < sizeof(label); i++)
		if (v[i].kind == SCRIBE_SQL_IS_TEXT)
			used += (size_t)snprintf(label + used, sizeof(label) - used, "%s ", v[i].text);
		else if (!strcmp(names[i], "rank"))
			used += (size_t)snprintf(label + used, sizeof(label) - used, "rank %" PRId64 " ", v[i].i);
	if (used < sizeof(label))
		snprintf(label + used, sizeof(label) - used, "%s", names[a->metric]);
	for (int i = a->nlabels; i-- > 0;)
		if (!strcmp(a->labels[i], label))
			return i;
	if (a->nlabels == MAX_SERIES)
		return -1;
	memcpy(a->labels[a->nlabels], label, sizeof(label));
	return a->nlabels++;
}

static int series_add(struct answer *a, int n, const char *const *names, const struct scribe_sql_value *v,
		      struct scribe_err *err)
{
	int series = series_of(a, n, names, v);

	if (series < 0)
		return scribe_err_set(err, -EINVAL, "more than %d series", MAX_SERIES);
	if (a->npoints == a->capacity) {
		size_t capacity = a->capacity ? a->capacity * 2 : 1024;
		struct point *more = realloc(a->points, capacity * sizeof(*more));

		if (!more)
			return scribe_err_set(err, -ENOMEM, "answer: out of memory");
		a->points = more;
		a->capacity = capacity;
	}
	a->points[a->npoints++] = (struct point){series, v[a->metric].i, v[0].i / 1000};
	return 0;
}

static int by_series(const void *x, const void *y)
{
	const struct point *a = x, *b = y;

	if (a->series != b->series)
		return a->series < b->series ? -1 : 1;
	return a->time_ms < b->time_ms ? -1 : a->time_ms > b->time_ms;
}

static void series_end(struct answer *a)
{
	size_t at = 0;

	if (a->npoints)
		qsort(a->points, a->npoints, sizeof(*a->points), by_series);
	for (int i = 0; i < a->nlabels; i++) {
		yajl_gen_map_open(a->json);
		scribe_json_pair(a->json, "target", a->labels[i]);
		scribe_answer_string(a->json, "datapoints");
		yajl_gen_array_open(a->json);
		for (; at < a->npoints && a->points[at].series == i; at++) {
			yajl_gen_array_open(a->json);
			yajl_gen_integer(a->json, a->points[at].value);
			yajl_gen_integer(a->json, a->points[at].time_ms);
			yajl_gen_array_close(a->json);
		}
		yajl_gen_array_close(a->json);
		yajl_gen_map_close(a->json);
	}
}

static void table_begin(struct answer *a, int n, const char *const *names, const struct scribe_sql_value *v)
{
	a->open = true;
	yajl_gen_map_open(a->json);
	scribe_json_pair(a->json, "type", "table");
	scribe_answer_string(a->json, "columns");
	yajl_gen_array_open(a->json);
	for (int i = 0; i < n; i++) {
		bool number = v && (v[i].kind == SCRIBE_SQL_IS_INT || v[i].kind == SCRIBE_SQL_IS_REAL);

		/* The first row determines the types. */
		yajl_gen_map_open(a->json);
		scribe_json_pair(a->json, "text", names[i]);
		scribe_json_pair(a->json, "type",
				 a->want->grafana && is_time(names[i]) ? "time"
				 : number                              ? "number"
								       : "string");
		yajl_gen_map_close(a->json);
	}
	yajl_gen_array_close(a->json);
	scribe_answer_string(a->json, "rows");
	yajl_gen_array_open(a->json);
}

struct columns {
	struct answer a;
	int n;
	char names[64][64];
};

static int on_row(void *ctx, int n, const char *const *names, const struct scribe_sql_value *v, struct scribe_err *err)
{
	struct columns *c = ctx;
	struct answer *a = &c->a;

	if (!v) {
		c->n = n < 64 ? n : 64;
		for (int i = 0; i < c->n; i++)
			snprintf(c->names[i], sizeof(c->names[i]), "%s", names[i]);
		/* A first column time_us makes series, unless the request is for a table. */
		a->series = a->want->grafana && !a->want->table && n > 1 && !strcmp(names[0], "time_us");
		return a->series ? series_begin(a, n, names, err) : 0;
	}
	if (!is_wanted(a, n, names, v))
		return 0;
	if (a->series)
		return series_add(a, n, names, v, err);
	if (!a->open)
		table_begin(a, n, names, v);
	yajl_gen_array_open(a->json);
	for (int i = 0; i < n; i++)
		put_value(a, names[i], &v[i]);
	yajl_gen_array_close(a->json);
	return 0;
}

static void answer_end(struct columns *c)
{
	const char *names[64];

	if (c->a.series) {
		series_end(&c->a);
		return;
	}
	for (int i = 0; i < c->n; i++)
		names[i] = c->names[i];
	if (!c->a.open)
		table_begin(&c->a, c->n, names, NULL);
	yajl_gen_array_close(c->a.json);
	yajl_gen_map_close(c->a.json);
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

struct counted {
	struct scribe_serve *serve;
	yajl_gen json;
	scribe_sql_row_fn *row;
	void *ctx;
};

static int on_counted(void *ctx, int n, const char *const *names, const struct scribe_sql_value *v,
		      struct scribe_err *err)
{
	struct counted *c = ctx;
	const unsigned char *text;
	size_t bytes = 0;

	if (v && ++c->serve->rows > SCRIBE_SERVE_ROWS)
		return scribe_err_set(err, -EINVAL, "a request of more than %d rows", SCRIBE_SERVE_ROWS);
	yajl_gen_get_buf(c->json, &text, &bytes);
	if (bytes > SCRIBE_SERVE_ANSWER)
		return scribe_err_set(err, -EINVAL, "a request with an answer of more than %u MiB",
				      SCRIBE_SERVE_ANSWER >> 20);
	return c->row(c->ctx, n, names, v, err);
}

void scribe_answer_begin(struct scribe_serve *serve)
{
	serve->end_ms = scribe_msg_now_ms() + SCRIBE_SERVE_SECONDS * 1000;
	serve->rows = 0;
}

int scribe_answer_rows(struct scribe_serve *serve, const char *question, const struct scribe_answer_want *want,
		       yajl_gen json, scribe_sql_row_fn *row, void *ctx, struct scribe_err *err)
{
	struct scribe_sql_value values[SCRIBE_QUESTION_PARAMETERS];
	struct scribe_question q = {0};
	struct counted counted = {serve, json, row, ctx};
	const struct scribe_ask from = {
		.store = serve->store,
		.db = serve->db,
		.folders = serve->folders,
		.limit = {.end_ms = serve->end_ms, .seconds = SCRIBE_SERVE_SECONDS, .stop = &serve->stop}};
	int rc = scribe_question_load(&q, serve->folders, question, err);

	/* Files may change while the server runs. */
	if (rc >= 0)
		rc = set_parameters(&q, want, err);
	if (rc >= 0)
		rc = scribe_question_values(&q, values, err);
	if (rc >= 0)
		rc = scribe_question_run(&q, values, &from, on_counted, &counted, err);
	scribe_question_clear(&q);
	return rc;
}

int scribe_answer(struct scribe_serve *serve, const char *question, const struct scribe_answer_want *want,
		  yajl_gen json, struct scribe_err *err)
{
	struct columns *c = calloc(1, sizeof(*c));
	int rc;

	if (!c)
		return scribe_err_set(err, -ENOMEM, "answer: out of memory");
	c->a.want = want;
	c->a.json = json;
	rc = scribe_answer_rows(serve, question, want, json, on_row, c, err);
	if (rc >= 0)
		answer_end(c);
	free(c->a.labels);
	free(c->a.points);
	free(c);
	return rc;
}
