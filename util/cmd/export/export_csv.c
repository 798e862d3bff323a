// SPDX-License-Identifier: BSD-3-Clause
/*
 * Tables as CSV (RFC 4180 with line feeds): one file per table, or one table on standard output. Text that does not
 * print is escaped. At the end all files are renamed, or none.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/cmd/export/export_format.h"
#include "util/text/number.h"
#include "util/text/outbuf.h"
#include "util/text/quoted.h"
#include "util/tool/output_file.h"

struct csv {
	const struct scribe_export_options *o;
	struct scribe_out out;
	struct scribe_output_file *files;
	int nfiles;
	int has_out;
	int made;
	int tables;
};

static int csv_open(const struct scribe_export_options *o, void **ret_ctx, struct scribe_err *err)
{
	struct csv *c = calloc(1, sizeof(*c));

	if (!c)
		return scribe_err_set(err, -ENOMEM, "export: out of memory");
	c->o = o;
	c->made = o->output && mkdir(o->output, 0777) == 0;
	if (o->output && !c->made && errno != EEXIST) {
		int code = errno;

		free(c);
		return scribe_err_set(err, -code, "%s: %s", o->output, strerror(code));
	}
	*ret_ctx = c;
	return 0;
}

static int end_table(struct csv *c, struct scribe_err *err)
{
	int rc = c->has_out ? scribe_out_flush(&c->out, err) : 0;

	scribe_out_close(&c->out);
	c->has_out = 0;
	if (c->nfiles && scribe_output_file_written(&c->files[c->nfiles - 1], rc < 0 ? NULL : err) < 0)
		rc = -1;
	return rc;
}

static int csv_close(void *ctx, int failed, struct scribe_err *err)
{
	struct csv *c = ctx;
	int rc = end_table(c, failed ? NULL : err);

	for (int i = 0; i < c->nfiles; i++)
		if (scribe_output_file_end(&c->files[i], failed || rc < 0, failed || rc < 0 ? NULL : err) < 0)
			rc = -1;
	/* A directory that this export created is removed after a failure, if empty. */
	if (c->made && (failed || rc < 0))
		rmdir(c->o->output);
	free(c->files);
	free(c);
	return rc;
}

static bool is_wanted(void *ctx, const char *table)
{
	const struct csv *c = ctx;

	return scribe_export_is_wanted(c->o, table);
}

static int begin_file(struct csv *c, const char *table, struct scribe_err *err)
{
	struct scribe_output_file *more = realloc(c->files, ((size_t)c->nfiles + 1) * sizeof(*more));
	char path[4096];
	int rc;

	if (!more)
		return scribe_err_set(err, -ENOMEM, "table %s: out of memory", table);
	c->files = more;
	if ((size_t)snprintf(path, sizeof(path), "%s/%s.csv", c->o->output, table) >= sizeof(path))
		return scribe_err_set(err, -ENAMETOOLONG, "%s: name too long", c->o->output);
	rc = scribe_output_file_open(&c->files[c->nfiles], path, err);
	if (rc == 0)
		c->nfiles++;
	return rc;
}

static int begin_table(void *ctx, const struct scribe_export_table *t, struct scribe_err *err)
{
	struct csv *c = ctx;
	int rc = end_table(c, err);

	if (rc == 0 && c->o->output)
		rc = begin_file(c, t->name, err);
	else if (rc == 0 && c->tables++) /* readers could not separate two tables on standard output */
		rc = scribe_err_set(err, -EINVAL, "several tables: name one with --table, or a folder with --output");
	if (rc < 0)
		return rc;
	rc = scribe_out_open(&c->out, c->o->output ? c->files[c->nfiles - 1].fd : STDOUT_FILENO, err);
	if (rc < 0)
		return rc;
	c->has_out = 1;
	for (int i = 0; i < t->ncolumns; i++)
		scribe_out_printf(&c->out, "%s%s", i ? "," : "", t->columns[i].name);
	scribe_out_text(&c->out, "\n");
	return 0;
}

static int put_cell(struct csv *c, const struct scribe_column *col, const struct scribe_cell *cell)
{
	if (cell->null)
		return 0;
	switch (col->kind) {
	case SCRIBE_COL_INT:
		scribe_out_done(&c->out, scribe_put_i64(scribe_out_room(&c->out, 32), cell->i));
		return 0;
	case SCRIBE_COL_ID:
		scribe_out_done(&c->out, scribe_put_u64(scribe_out_room(&c->out, 32), cell->id));
		return 0;
	case SCRIBE_COL_REAL:
		scribe_out_printf(&c->out, "%.17g", cell->r); /* 17 digits: reads back exactly */
		return 0;
	default:
		return scribe_csv_text(&c->out, cell->text.bytes, cell->text.len);
	}
}

static int put_row(void *ctx, const struct scribe_export_table *t, const struct scribe_cell *cells,
		   struct scribe_err *err)
{
	struct csv *c = ctx;

	for (int i = 0; i < t->ncolumns; i++) {
		if (i)
			scribe_out_bytes(&c->out, ",", 1);
		if (put_cell(c, &t->columns[i], &cells[i]) < 0)
			return scribe_err_set(err, -ENOMEM, "table %s: out of memory", t->name);
	}
	scribe_out_bytes(&c->out, "\n", 1);
	return c->out.error ? scribe_out_flush(&c->out, err) : 0;
}

static int put_log(void *ctx, struct scribe_log *log, struct scribe_err *err)
{
	struct scribe_export_sink sink = {begin_table, put_row, ctx, is_wanted};

	return scribe_export_log(log, &sink, err);
}

const struct scribe_export_format scribe_export_csv = {csv_open, put_log, NULL, csv_close};
