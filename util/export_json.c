// SPDX-License-Identifier: BSD-3-Clause
/*
 * Tables as JSON, by jansson: one document with an array a table, or one object
 * a line. Rows are written as they come; no document is held in memory.
 */
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/export.h"
#include "util/export_file.h"
#include "util/outbuf.h"

struct json {
	const struct scribe_export_options *o;
	struct scribe_out out;
	struct scribe_export_file file; /* where there is an output */
	int lines;                      /* one object a line */
	int tables;                     /* document: tables begun */
	int rows;                       /* rows of the table */
	const char *log;
};

static int json_open(const struct scribe_export_options *o, int lines, void **ret_ctx, struct scribe_err *err)
{
	struct json *j = calloc(1, sizeof(*j));
	int rc;

	if (!j)
		return scribe_err_set(err, -ENOMEM, "export: out of memory");
	j->o = o;
	j->lines = lines;
	rc = o->output ? scribe_export_file_open(&j->file, o->output, err) : 0;
	if (rc < 0) {
		free(j);
		return rc;
	}
	rc = scribe_out_open(&j->out, o->output ? j->file.fd : STDOUT_FILENO, err);
	if (rc < 0) {
		scribe_export_file_end(&j->file, 1, NULL);
		free(j);
		return rc;
	}
	*ret_ctx = j;
	return 0;
}

static int open_document(const struct scribe_export_options *o, void **ret_ctx, struct scribe_err *err)
{
	return json_open(o, 0, ret_ctx, err);
}

static int open_lines(const struct scribe_export_options *o, void **ret_ctx, struct scribe_err *err)
{
	return json_open(o, 1, ret_ctx, err);
}

static int json_close(void *ctx, int failed, struct scribe_err *err)
{
	struct json *j = ctx;
	int rc = scribe_out_flush(&j->out, failed ? NULL : err);

	scribe_out_close(&j->out);
	if (scribe_export_file_end(&j->file, failed || rc < 0, rc < 0 ? NULL : err) < 0)
		rc = -1;
	free(j);
	return rc;
}

static bool is_wanted(void *ctx, const char *table)
{
	const struct json *j = ctx;

	return scribe_export_is_wanted(j->o, table);
}

static int begin_table(void *ctx, const struct scribe_export_table *t, struct scribe_err *err)
{
	struct json *j = ctx;

	if (!j->lines)
		scribe_out_printf(&j->out, "%s\"%s\": [", j->tables ? "\n],\n" : "", t->name);
	j->tables++;
	j->rows = 0;
	return 0;
}

static json_t *id_value(uint64_t id)
{
	char text[24];

	snprintf(text, sizeof(text), "%llu", (unsigned long long)id);
	return json_string(text); /* beyond what JSON numbers hold exactly */
}

/* Text as it is, or escaped under another key when it is not UTF-8. */
static int add_text(json_t *row, const char *key, const struct scribe_cell *c)
{
	char other[80], *escaped;
	size_t need;
	json_t *v = json_stringn(c->text.bytes, c->text.len);
	int rc;

	if (v)
		return json_object_set_new(row, key, v);
	need = scribe_name_escape(c->text.bytes, c->text.len, NULL, 0);
	escaped = malloc(need + 1);
	if (!escaped)
		return -1;
	scribe_name_escape(c->text.bytes, c->text.len, escaped, need + 1);
	snprintf(other, sizeof(other), "%s_escaped", key);
	rc = json_object_set_new(row, other, json_string(escaped));
	free(escaped);
	return rc;
}

static int add_cell(json_t *row, const struct scribe_column *col, const struct scribe_cell *c)
{
	if (c->null)
		return json_object_set_new_nocheck(row, col->name, json_null());
	switch (col->kind) {
	case SCRIBE_COL_INT:
		return json_object_set_new_nocheck(row, col->name, json_integer(c->i));
	case SCRIBE_COL_ID:
		return json_object_set_new_nocheck(row, col->name, id_value(c->id));
	case SCRIBE_COL_REAL:
		return json_object_set_new_nocheck(row, col->name,
						   isfinite(c->r) ? json_real(c->r) : json_null());
	default:
		return add_text(row, col->name, c);
	}
}

static int dump(const char *bytes, size_t n, void *ctx)
{
	scribe_out_bytes(ctx, bytes, n);
	return 0;
}

static int put_row(void *ctx, const struct scribe_export_table *t, const struct scribe_cell *cells,
		   struct scribe_err *err)
{
	struct json *j = ctx;
	json_t *row = json_object();
	int rc = row ? 0 : -1;

	if (j->lines && rc == 0)
		rc = json_object_set_new_nocheck(row, "table", json_string(t->name));
	if (j->lines && j->o->logs > 1 && strcmp(t->name, "job") && rc == 0)
		rc = json_object_set_new(row, "log", json_string(j->log));
	for (int i = 0; i < t->ncolumns && rc == 0; i++)
		rc = add_cell(row, &t->columns[i], &cells[i]);
	if (!j->lines)
		scribe_out_text(&j->out, j->rows++ ? ",\n" : "\n");
	if (rc == 0)
		rc = json_dump_callback(row, dump, &j->out, JSON_COMPACT | JSON_REAL_PRECISION(17));
	if (j->lines)
		scribe_out_text(&j->out, "\n");
	json_decref(row);
	if (rc < 0)
		return scribe_err_set(err, -ENOMEM, "%s: table %s: a row cannot be made JSON", j->log,
				      t->name);
	if (j->out.error)
		return scribe_out_flush(&j->out, err);
	return 0;
}

static int put_log(void *ctx, struct scribe_log *log, struct scribe_err *err)
{
	struct json *j = ctx;
	struct scribe_export_sink sink = {begin_table, put_row, ctx, is_wanted};
	int rc;

	j->log = log->path;
	if (!j->lines)
		scribe_out_text(&j->out, "{\n");
	rc = scribe_export_log(log, &sink, err);
	if (!j->lines && rc >= 0)
		scribe_out_text(&j->out, j->tables ? "\n]\n}\n" : "}\n");
	return rc;
}

const struct scribe_export_format scribe_export_json = {open_document, put_log, NULL, json_close};
const struct scribe_export_format scribe_export_json_lines = {open_lines, put_log, NULL, json_close};
