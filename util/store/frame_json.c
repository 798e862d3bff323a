// SPDX-License-Identifier: BSD-3-Clause
/*
 * {"columns": [{"text": NAME, "type": ...}], "rows": [[...]]} or {"error": LINE}, one row at a time. Must not
 * know processes.
 */
#include "util/store/frame_json.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <yajl/yajl_parse.h>

#include "util/store/json_numbers.h"
#include "util/store/question.h"

enum part { PART_NONE, PART_COLUMNS, PART_ROWS, PART_ERROR };

struct scribe_frame_json {
	yajl_handle yajl;
	const char *name;
	scribe_sql_row_fn *row;
	void *ctx;
	struct scribe_err *err;
	enum part part;
	int depth; /* open braces and brackets, at most 3 */
	bool is_text, has_columns, done;
	int ncolumns, n; /* n: values in the current row */
	char columns[SCRIBE_FRAME_COLUMNS][SCRIBE_QUESTION_NAME];
	const char *names[SCRIBE_FRAME_COLUMNS];
	struct scribe_sql_value values[SCRIBE_FRAME_COLUMNS];
	size_t at[SCRIBE_FRAME_COLUMNS]; /* offset of a text in `texts`, which may move */
	char *texts;
	size_t used, capacity;
};

/* Returns 0, which makes YAJL stop. */
static int refuse(struct scribe_frame_json *f, const char *what)
{
	scribe_err_set(f->err, -EIO, "%s: %s", f->name, what);
	return 0;
}

static int not_ours(struct scribe_frame_json *f)
{
	return refuse(f, "its output is no answer of python/ioscribe/analysis.py");
}

/* NULL: not allowed here. */
static struct scribe_sql_value *next_value(struct scribe_frame_json *f, enum scribe_sql_kind kind)
{
	struct scribe_sql_value *v = &f->values[f->n];

	if (f->part != PART_ROWS || f->depth != 3 || f->n == f->ncolumns) {
		not_ours(f);
		return NULL;
	}
	memset(v, 0, sizeof(*v));
	v->kind = kind;
	f->n++;
	return v;
}

static int on_null(void *ctx)
{
	return next_value(ctx, SCRIBE_SQL_IS_NULL) != NULL;
}

static int on_bool(void *ctx, int is_true)
{
	struct scribe_sql_value *v = next_value(ctx, SCRIBE_SQL_IS_INT);

	if (v)
		v->i = is_true;
	return v != NULL;
}

static int on_number(void *ctx, const char *s, size_t len)
{
	struct scribe_frame_json *f = ctx;
	struct scribe_sql_value *v = next_value(f, SCRIBE_SQL_IS_INT);
	char text[64];

	if (!v)
		return 0;
	if (scribe_json_int(s, len, &v->i)) /* integers keep 64 bits */
		return 1;
	if (len >= sizeof(text))
		return refuse(f, "a number of more than 63 digits");
	memcpy(text, s, len);
	text[len] = 0;
	v->kind = SCRIBE_SQL_IS_REAL;
	v->r = strtod(text, NULL);
	return 1;
}

static int add_column(struct scribe_frame_json *f, const char *s, size_t len)
{
	bool plain = len > 0 && len < SCRIBE_QUESTION_NAME;

	/* Names are used unescaped in JSON, CSV and tables. */
	for (size_t i = 0; i < len && plain; i++)
		plain = (unsigned char)s[i] >= ' ' && s[i] != '"' && s[i] != '\\';
	if (!plain)
		return refuse(f, "a column's name is empty, longer than 63 bytes, or has a quote, a backslash "
				 "or a control character");
	if (f->ncolumns == SCRIBE_FRAME_COLUMNS)
		return refuse(f, "more than 64 columns");
	memcpy(f->columns[f->ncolumns], s, len);
	f->names[f->ncolumns] = f->columns[f->ncolumns];
	f->ncolumns++;
	return 1;
}

static int add_text(struct scribe_frame_json *f, const char *s, size_t len)
{
	struct scribe_sql_value *v = next_value(f, SCRIBE_SQL_IS_TEXT);

	if (!v)
		return 0;
	if (len + 1 > f->capacity - f->used) {
		size_t capacity = 2 * f->capacity + len + 1;
		char *more = realloc(f->texts, capacity);

		if (!more)
			return refuse(f, "out of memory");
		f->texts = more;
		f->capacity = capacity;
	}
	memcpy(f->texts + f->used, s, len);
	f->texts[f->used + len] = 0;
	v->len = len;
	f->at[f->n - 1] = f->used;
	f->used += len + 1;
	return 1;
}

static int on_text(void *ctx, const unsigned char *s, size_t len)
{
	struct scribe_frame_json *f = ctx;
	char line[400];

	if (f->part == PART_COLUMNS && f->depth == 3)
		return f->is_text ? add_column(f, (const char *)s, len) : 1;
	if (f->part != PART_ERROR || f->depth != 1)
		return add_text(f, (const char *)s, len);
	len = len < sizeof(line) ? len : sizeof(line) - 1;
	memcpy(line, s, len);
	line[len] = 0;
	return refuse(f, line);
}

static int on_key(void *ctx, const unsigned char *key, size_t len)
{
	static const char *const keys[] = {"", "columns", "rows", "error"};
	struct scribe_frame_json *f = ctx;

	f->is_text = len == 4 && !memcmp(key, "text", 4);
	if (f->depth != 1)
		return 1;
	f->part = PART_NONE;
	for (int i = PART_COLUMNS; i <= PART_ERROR; i++)
		if (strlen(keys[i]) == len && !memcmp(keys[i], key, len))
			f->part = (enum part)i;
	return f->part == PART_NONE || (f->part == PART_ROWS) != f->has_columns ? not_ours(f) : 1;
}

static int on_open_object(void *ctx)
{
	struct scribe_frame_json *f = ctx;

	if (f->depth && (f->part != PART_COLUMNS || f->depth != 2))
		return not_ours(f);
	f->depth++;
	return 1;
}

static int on_close_object(void *ctx)
{
	struct scribe_frame_json *f = ctx;

	f->done = --f->depth == 0;
	return !f->done || f->part == PART_ROWS ? 1 : not_ours(f);
}

static int on_open_array(void *ctx)
{
	struct scribe_frame_json *f = ctx;
	int most = f->part == PART_ROWS ? 2 : f->part == PART_COLUMNS ? 1 : 0;

	if (!f->depth || f->depth > most)
		return not_ours(f);
	f->depth++;
	f->n = 0;
	f->used = 0;
	return 1;
}

static int on_close_array(void *ctx)
{
	struct scribe_frame_json *f = ctx;
	int rc = 0;

	f->depth--;
	if (f->part == PART_COLUMNS) {
		if (!f->ncolumns)
			return refuse(f, "an answer without columns");
		f->has_columns = true;
		rc = f->row(f->ctx, f->ncolumns, f->names, NULL, f->err);
	} else if (f->depth == 2) {
		if (f->n != f->ncolumns)
			return not_ours(f);
		for (int i = 0; i < f->n; i++)
			if (f->values[i].kind == SCRIBE_SQL_IS_TEXT)
				f->values[i].text = f->texts + f->at[i];
		rc = f->row(f->ctx, f->n, f->names, f->values, f->err);
	}
	return rc >= 0;
}

static const yajl_callbacks callbacks = {
	.yajl_null = on_null,
	.yajl_boolean = on_bool,
	.yajl_number = on_number,
	.yajl_string = on_text,
	.yajl_start_map = on_open_object,
	.yajl_map_key = on_key,
	.yajl_end_map = on_close_object,
	.yajl_start_array = on_open_array,
	.yajl_end_array = on_close_array,
};

struct scribe_frame_json *scribe_frame_json_new(const char *name, scribe_sql_row_fn *row, void *ctx,
						struct scribe_err *err)
{
	struct scribe_frame_json *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	f->yajl = yajl_alloc(&callbacks, NULL, f);
	if (!f->yajl)
		return scribe_frame_json_free(f);
	f->name = name;
	f->row = row;
	f->ctx = ctx;
	f->err = err;
	return f;
}

struct scribe_frame_json *scribe_frame_json_free(struct scribe_frame_json *f)
{
	if (f && f->yajl)
		yajl_free(f->yajl);
	if (f)
		free(f->texts);
	free(f);
	return NULL;
}

int scribe_frame_json_feed(struct scribe_frame_json *f, const void *bytes, size_t n)
{
	yajl_status status = yajl_parse(f->yajl, bytes, n);

	if (status == yajl_status_client_canceled)
		return f->err->code;
	if (status != yajl_status_ok) {
		not_ours(f);
		return f->err->code;
	}
	return f->done;
}
