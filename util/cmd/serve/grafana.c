// SPDX-License-Identifier: BSD-3-Clause
/*
 * The protocol of Grafana's JSON data source (simpod-json-datasource, simple-json). A target is a question's name; its
 * payload has parameters and selects from the result. Must not know HTTP.
 */
#include "util/cmd/serve/grafana.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <yajl/yajl_tree.h>

#include "util/cmd/serve/answer.h"

/* Limits for a body of at most 64 KiB. */
#define MAX_DEPTH   32
#define MAX_TARGETS 64

struct asked {
	yajl_val payload, filters;
	char from_us[24], to_us[24], number[32];
};

/* NULL: not an object, or no such key of that type. */
static yajl_val get(yajl_val from, const char *key, yajl_type type)
{
	const char *path[] = {key, NULL};

	return YAJL_IS_OBJECT(from) ? yajl_tree_get(from, path, type) : NULL;
}

static const char *text_of(yajl_val from, const char *key)
{
	yajl_val v = get(from, key, yajl_t_any);

	return YAJL_IS_STRING(v) ? YAJL_GET_STRING(v) : YAJL_IS_NUMBER(v) ? YAJL_GET_NUMBER(v) : NULL;
}

/* Grafana's spellings of "no condition"; "$job" is a variable that was not replaced. */
static bool is_all(const char *value)
{
	return !*value || !strcmp(value, "$__all") || !strcmp(value, "All") || *value == '$';
}

static const char *value_of(void *ctx, const char *name)
{
	struct asked *a = ctx;
	const char *value = text_of(a->payload, name);

	/* A filter overrides the payload; the time range is only a default. */
	for (size_t i = 0; YAJL_IS_ARRAY(a->filters) && i < a->filters->u.array.len; i++) {
		yajl_val filter = a->filters->u.array.values[i];
		const char *key = text_of(filter, "key"), *operator= text_of(filter, "operator");

		if (key && !strcmp(key, name) && operator&& !strcmp(operator, "="))
			value = text_of(filter, "value");
	}
	if (value)
		return is_all(value) ? NULL : value;
	return !strcmp(name, "from_us") ? a->from_us : !strcmp(name, "to_us") ? a->to_us : NULL;
}

/* Format: 2026-11-24T10:00:00.000Z. Otherwise `to` stays empty. */
static void read_time(yajl_val range, const char *key, char *to, size_t cap)
{
	const char *text = text_of(range, key), *rest;
	struct tm tm = {0};
	int ms = 0;

	rest = text ? strptime(text, "%Y-%m-%dT%H:%M:%S", &tm) : NULL;
	if (!rest)
		return;
	if (*rest == '.')
		ms = atoi(rest + 1);
	snprintf(to, cap, "%" PRId64, ((int64_t)timegm(&tm) * 1000 + (ms < 1000 ? ms : 0)) * 1000);
}

static void read_asked(yajl_val body, yajl_val target, struct asked *ret)
{
	yajl_val range = get(body, "range", yajl_t_object);

	memset(ret, 0, sizeof(*ret));
	ret->payload = get(target, "payload", yajl_t_object);
	if (!ret->payload)
		ret->payload = get(target, "data", yajl_t_object);
	ret->filters = get(body, "adhocFilters", yajl_t_array);
	read_time(range, "from", ret->from_us, sizeof(ret->from_us));
	read_time(range, "to", ret->to_us, sizeof(ret->to_us));
}

static int query_target(struct scribe_serve *s, yajl_val body, yajl_val target, yajl_gen json, struct scribe_err *err)
{
	const char *name = text_of(target, "target"), *type = text_of(target, "type"), *format;
	struct scribe_answer_want want = {.value = value_of, .grafana = true};
	struct asked asked;

	/* Not errors: a dashboard that is being edited sends such targets. */
	if (YAJL_IS_TRUE(get(target, "hide", yajl_t_any)) || (name && !*name))
		return 0;
	if (!name)
		return scribe_err_set(err, -EINVAL, "a target without its name");
	read_asked(body, target, &asked);
	want.ctx = &asked;
	format = text_of(asked.payload, "format");
	want.table = (type && !strcmp(type, "table")) || (format && !strcmp(format, "table"));
	return scribe_answer(s, name, &want, json, err);
}

static int on_query(struct scribe_serve *s, yajl_val body, yajl_gen json, struct scribe_err *err)
{
	yajl_val targets = get(body, "targets", yajl_t_array);
	int rc = 0;

	if (!targets)
		return scribe_err_set(err, -EINVAL, "no list of targets");
	if (targets->u.array.len > MAX_TARGETS)
		return scribe_err_set(err, -EINVAL, "more than %d targets", MAX_TARGETS);
	yajl_gen_array_open(json);
	for (size_t i = 0; i < targets->u.array.len && rc >= 0; i++)
		rc = query_target(s, body, targets->u.array.values[i], json, err);
	yajl_gen_array_close(json);
	return rc;
}

struct choices {
	yajl_gen json;
	const char *text, *value;
	struct scribe_serve *serve;
};

static void choice(struct choices *c, const char *text, const char *value)
{
	yajl_gen_map_open(c->json);
	scribe_json_pair(c->json, c->text, text);
	if (c->value)
		scribe_json_pair(c->json, c->value, value);
	yajl_gen_map_close(c->json);
}

static int on_choice(void *ctx, int n, const char *const *names, const struct scribe_sql_value *v,
		     struct scribe_err *err)
{
	struct choices *c = ctx;
	char value[32], text[320];

	if (!v)
		return 0;
	snprintf(value, sizeof(value), "%" PRId64, v[0].i);
	snprintf(text, sizeof(text), "%s", v[0].kind == SCRIBE_SQL_IS_TEXT ? v[0].text : value);
	for (int i = 1; i < n && c->value; i++)
		if (!strcmp(names[i], "exe") && v[i].kind == SCRIBE_SQL_IS_TEXT)
			snprintf(text, sizeof(text), "%s %.250s", value, v[i].text);
	choice(c, text, v[0].kind == SCRIBE_SQL_IS_TEXT ? v[0].text : value);
	return 0;
}

static int on_question(void *ctx, const char *name, struct scribe_err *err)
{
	choice(ctx, name, name);
	return 0;
}

static int put_choices(struct choices *c, const char *of, struct asked *asked, struct scribe_err *err)
{
	struct scribe_answer_want want = {.value = value_of, .ctx = asked};
	int rc;

	yajl_gen_array_open(c->json);
	if (!strcmp(of, "job"))
		rc = scribe_answer_rows(c->serve, "jobs", &want, c->json, on_choice, c, err);
	else if (!strcmp(of, "rank")) /* ranks exist only within a job */
		rc = value_of(asked, "job") ? scribe_answer_rows(c->serve, "ranks", &want, c->json, on_choice, c, err)
					    : 0;
	else if (!strcmp(of, "module"))
		rc = scribe_answer_rows(c->serve, "modules", &want, c->json, on_choice, c, err);
	else if (!strcmp(of, "analysis"))
		rc = scribe_question_each(c->serve->folders, on_question, c, err);
	else if (!strcmp(of, "metric")) {
		choice(c, "operations", "operations");
		choice(c, "bytes", "bytes");
		rc = 0;
	} else
		rc = scribe_err_set(err, -EINVAL, "'%.60s': not job, rank, module, metric or analysis", of);
	yajl_gen_array_close(c->json);
	return rc;
}

static int on_variable(struct scribe_serve *s, yajl_val body, yajl_gen json, struct scribe_err *err)
{
	struct choices c = {json, "__text", "__value", s};
	const char *of;
	struct asked asked;

	read_asked(body, body, &asked);
	of = text_of(asked.payload, "target");
	if (!of)
		of = text_of(body, "target");
	return put_choices(&c, of ? of : "", &asked, err);
}

static int on_options(struct scribe_serve *s, yajl_val body, yajl_gen json, struct scribe_err *err)
{
	struct choices c = {json, "label", "value", s};
	const char *of = text_of(body, "name");
	struct asked asked;

	read_asked(body, body, &asked);
	return put_choices(&c, of ? of : "", &asked, err);
}

static int on_tag_values(struct scribe_serve *s, yajl_val body, yajl_gen json, struct scribe_err *err)
{
	struct choices c = {json, "text", NULL, s};
	const char *of = text_of(body, "key");
	struct asked asked;

	read_asked(body, body, &asked);
	return put_choices(&c, of ? of : "", &asked, err);
}

static int on_tag_keys(struct scribe_serve *s, yajl_val body, yajl_gen json, struct scribe_err *err)
{
	static const char *const keys[] = {"job", "rank", "module"};

	yajl_gen_array_open(json);
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		yajl_gen_map_open(json);
		scribe_json_pair(json, "type", "string");
		scribe_json_pair(json, "text", keys[i]);
		yajl_gen_map_close(json);
	}
	yajl_gen_array_close(json);
	return 0;
}

static int on_name(void *ctx, const char *name, struct scribe_err *err)
{
	scribe_answer_string(((struct choices *)ctx)->json, name);
	return 0;
}

static int on_search(struct scribe_serve *s, yajl_val body, yajl_gen json, struct scribe_err *err)
{
	struct choices c = {.json = json, .serve = s};
	int rc;

	yajl_gen_array_open(json);
	rc = scribe_question_each(s->folders, on_name, &c, err);
	yajl_gen_array_close(json);
	return rc;
}

static void put_payload(yajl_gen json, const char *name, const char *about, bool select)
{
	yajl_gen_map_open(json);
	scribe_json_pair(json, "name", name);
	scribe_json_pair(json, "label", name);
	scribe_json_pair(json, "type", select ? "select" : "input");
	scribe_json_pair(json, "placeholder", about);
	yajl_gen_map_close(json);
}

static int on_metric(void *ctx, const char *name, struct scribe_err *err)
{
	struct choices *c = ctx;
	struct scribe_question q = {0};
	int rc = scribe_question_load(&q, c->serve->folders, name, err);

	if (rc >= 0) {
		yajl_gen_map_open(c->json);
		scribe_json_pair(c->json, "value", name);
		scribe_json_pair(c->json, "label", name);
		scribe_answer_string(c->json, "payloads");
		yajl_gen_array_open(c->json);
		for (int i = 0; i < q.nparameters; i++)
			put_payload(c->json, q.parameters[i].name, q.parameters[i].about,
				    !strcmp(q.parameters[i].name, "job") || !strcmp(q.parameters[i].name, "rank"));
		put_payload(c->json, "module", "rows of this module only", true);
		put_payload(c->json, "metric", "operations or bytes over time", true);
		put_payload(c->json, "format", "table: no series over time", false);
		yajl_gen_array_close(c->json);
		yajl_gen_map_close(c->json);
	}
	scribe_question_clear(&q);
	return rc;
}

static int on_metrics(struct scribe_serve *s, yajl_val body, yajl_gen json, struct scribe_err *err)
{
	struct choices c = {.json = json, .serve = s};
	int rc;

	yajl_gen_array_open(json);
	rc = scribe_question_each(s->folders, on_metric, &c, err);
	yajl_gen_array_close(json);
	return rc;
}

static int on_job(void *ctx, int n, const char *const *names, const struct scribe_sql_value *v, struct scribe_err *err)
{
	yajl_gen json = ctx;
	char title[32];

	if (!v || n < 6)
		return 0;
	snprintf(title, sizeof(title), "job %" PRId64, v[0].i);
	yajl_gen_map_open(json);
	scribe_answer_string(json, "time");
	yajl_gen_integer(json, v[4].i / 1000);
	scribe_answer_string(json, "timeEnd");
	yajl_gen_integer(json, v[5].i / 1000);
	scribe_answer_string(json, "isRegion");
	yajl_gen_bool(json, 1);
	scribe_json_pair(json, "title", title);
	scribe_json_pair(json, "text", v[3].kind == SCRIBE_SQL_IS_TEXT ? v[3].text : "");
	scribe_answer_string(json, "tags");
	yajl_gen_array_open(json);
	scribe_answer_string(json, "job");
	yajl_gen_array_close(json);
	yajl_gen_map_close(json);
	return 0;
}

static int on_annotations(struct scribe_serve *s, yajl_val body, yajl_gen json, struct scribe_err *err)
{
	struct scribe_answer_want want = {0};
	int rc;

	yajl_gen_array_open(json);
	rc = scribe_answer_rows(s, "jobs", &want, json, on_job, json, err);
	yajl_gen_array_close(json);
	return rc;
}

static const struct {
	const char *path;
	int (*answer)(struct scribe_serve *s, yajl_val body, yajl_gen json, struct scribe_err *err);
} paths[] = {
	{"/query", on_query},       {"/search", on_search},
	{"/metrics", on_metrics},   {"/metric-payload-options", on_options},
	{"/variable", on_variable}, {"/annotations", on_annotations},
	{"/tag-keys", on_tag_keys}, {"/tag-values", on_tag_values},
};

static bool is_deep(const char *s)
{
	int depth = 0;

	/* Checked before parsing: yajl sets no limit and frees its tree by recursion. */
	for (bool in_text = false; *s; s++) {
		if (in_text && *s == '\\' && s[1])
			s++;
		else if (*s == '"')
			in_text = !in_text;
		else if (!in_text && (*s == '[' || *s == '{') && ++depth > MAX_DEPTH)
			return true;
		else if (!in_text && (*s == ']' || *s == '}'))
			depth--;
	}
	return false;
}

int scribe_grafana(struct scribe_serve *s, const char *path, const char *body, yajl_gen json, struct scribe_err *err)
{
	char why[128] = "";
	yajl_val tree;
	size_t i = 0;
	int rc;

	while (i < sizeof(paths) / sizeof(paths[0]) && strcmp(paths[i].path, path))
		i++;
	if (i == sizeof(paths) / sizeof(paths[0]))
		return scribe_err_set(err, -ENOTDIR, "no such path");
	if (is_deep(body))
		return scribe_err_set(err, -EINVAL, "JSON of more than %d levels", MAX_DEPTH);
	tree = yajl_tree_parse(*body ? body : "{}", why, sizeof(why));
	if (!YAJL_IS_OBJECT(tree))
		rc = scribe_err_set(err, -EINVAL, "the body is no JSON object");
	else
		rc = paths[i].answer(s, tree, json, err);
	yajl_tree_free(tree);
	return rc;
}
