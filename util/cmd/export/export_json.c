// SPDX-License-Identifier: BSD-3-Clause
/* Tables as JSON: one document with an array per table, or one object per line. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/cmd/export/export_format.h"
#include "util/text/number.h"
#include "util/text/outbuf.h"
#include "util/text/quoted.h"
#include "util/tool/output_file.h"

struct json {
	const struct scribe_export_options *o;
	struct scribe_out out;
	struct scribe_output_file file;
	int lines;
	int tables;
	int rows;
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
	rc = o->output ? scribe_output_file_open(&j->file, o->output, err) : 0;
	if (rc < 0) {
		free(j);
		return rc;
	}
	rc = scribe_out_open(&j->out, o->output ? j->file.fd : STDOUT_FILENO, err);
	if (rc < 0) {
		scribe_output_file_end(&j->file, 1, NULL);
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
	/* The file is dropped after any failure, also of the last flush. */
	if (scribe_output_file_end(&j->file, failed || rc < 0, rc < 0 ? NULL : err) < 0)
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

static int put_cell(struct json *j, const struct scribe_column *col, const struct scribe_cell *c)
{
	struct scribe_out *out = &j->out;

	if (!c->null && (col->kind == SCRIBE_COL_TEXT || col->kind == SCRIBE_COL_PLACE))
		return scribe_json_text(out, col->name, c->text.bytes, c->text.len);
	scribe_out_bytes(out, "\"", 1);
	scribe_out_text(out, col->name);
	scribe_out_bytes(out, "\":", 2);
	if (c->null || (col->kind == SCRIBE_COL_REAL && !isfinite(c->r))) {
		scribe_out_bytes(out, "null", 4);
	} else if (col->kind == SCRIBE_COL_INT) {
		scribe_out_done(out, scribe_put_i64(scribe_out_room(out, 32), c->i));
	} else if (col->kind == SCRIBE_COL_REAL) {
		scribe_json_real(out, c->r);
	} else {
		/* Ids as strings: most JSON readers use doubles, which hold 53 bits exactly. */
		scribe_out_bytes(out, "\"", 1);
		scribe_out_done(out, scribe_put_u64(scribe_out_room(out, 32), c->id));
		scribe_out_bytes(out, "\"", 1);
	}
	return 0;
}

static int put_row(void *ctx, const struct scribe_export_table *t, const struct scribe_cell *cells,
		   struct scribe_err *err)
{
	struct json *j = ctx;
	const char *comma = "";
	int rc = 0;

	if (!j->lines)
		scribe_out_text(&j->out, j->rows++ ? ",\n" : "\n");
	scribe_out_bytes(&j->out, "{", 1);
	if (j->lines) {
		scribe_out_printf(&j->out, "\"table\":\"%s\"", t->name);
		comma = ",";
	}
	if (j->lines && j->o->logs > 1 && strcmp(t->name, "job")) {
		scribe_out_text(&j->out, comma);
		rc = scribe_json_text(&j->out, "log", j->log, strlen(j->log));
	}
	for (int i = 0; i < t->ncolumns && rc == 0; i++) {
		scribe_out_text(&j->out, comma);
		rc = put_cell(j, &t->columns[i], &cells[i]);
		comma = ",";
	}
	scribe_out_text(&j->out, j->lines ? "}\n" : "}");
	if (rc < 0)
		return scribe_err_set(err, -ENOMEM, "%s: table %s: out of memory", j->log, t->name);
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
	/* After an error the brackets stay open, so that half a document does not parse. */
	if (!j->lines && rc >= 0)
		scribe_out_text(&j->out, j->tables ? "\n]\n}\n" : "}\n");
	return rc;
}

const struct scribe_export_format scribe_export_json = {open_document, put_log, NULL, json_close};
const struct scribe_export_format scribe_export_json_lines = {open_lines, put_log, NULL, json_close};
