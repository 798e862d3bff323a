// SPDX-License-Identifier: BSD-3-Clause
/* Rows of `ioscribe top` as table, JSON or InfluxDB's line protocol. Must not know where rows come from. */
#include "util/cmd/top/print.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <wchar.h>

#include "logfmt/file/names.h"
#include "util/text/quoted.h"

/* Terminal columns of the next character; *n: its bytes, at least 1. */
static int character(const char *at, size_t *n)
{
	mbstate_t state = {0};
	wchar_t c;
	size_t len = mbrtowc(&c, at, strlen(at), &state);
	int width;

	*n = 1;
	if (len == 0 || len > 16)
		return 1;
	width = wcwidth(c);
	*n = len;
	return width < 0 ? 1 : width;
}

static int columns_of(const char *text)
{
	int all = 0;

	for (size_t n; *text; text += n)
		all += character(text, &n);
	return all;
}

void scribe_top_fit(const struct scribe_top_column *column, const char *cell, int width, char *to)
{
	const bool tail = !column->width && column->left && !strcmp(column->head, "FILE");
	int all = columns_of(cell), used = 0, pad;
	size_t n, at = 0;

	if (tail && all > width && width > 3) {
		at = (size_t)snprintf(to, SCRIBE_TOP_CELL, "...");
		used = 3;
		for (; all > width - 3; cell += n)
			all -= character(cell, &n);
	}
	pad = width - used - (all < width - used ? all : width - used);
	for (int i = 0; i < pad && !column->left; i++)
		to[at++] = ' ';
	for (; *cell; cell += n) {
		int one = character(cell, &n);

		if (used + one > width)
			break;
		memcpy(to + at, cell, n);
		at += n;
		used += one;
	}
	for (int i = 0; i < pad && column->left && column->width; i++)
		to[at++] = ' ';
	to[at] = 0;
}

static void print_table(struct scribe_out *out, const struct scribe_top_rows *rows, size_t most,
			enum scribe_top_view view, const struct scribe_top_names *names)
{
	static char cell[SCRIBE_TOP_CELL], fitted[SCRIBE_TOP_CELL];
	const struct scribe_top_column *all = scribe_top_columns(view);

	for (size_t i = 0; i < most + 1; i++) {
		for (const struct scribe_top_column *c = all; c->head; c++) {
			if (i)
				c->cell(&rows->row[i - 1], names, cell);
			else
				strcpy(cell, c->head);
			scribe_top_fit(c, cell, c->width ? c->width : (int)sizeof(fitted) - 8, fitted);
			scribe_out_printf(out, "%s", c == all ? "" : " ");
			scribe_out_text(out, fitted);
		}
		scribe_out_text(out, "\n");
	}
	if (view == SCRIBE_TOP_JOBS && scribe_top_most_metadata(rows, cell, sizeof(cell)))
		scribe_out_printf(out, "%s\n", cell);
}

static int put_text(struct scribe_out *out, const char *key, const char *text)
{
	int rc = scribe_json_text(out, key, text, strlen(text));

	scribe_out_text(out, ",");
	return rc;
}

/* NAN (not measured) becomes null. */
static void put_real(struct scribe_out *out, const char *key, double v)
{
	scribe_out_printf(out, ",\"%s\":", key);
	if (isnan(v))
		scribe_out_text(out, "null");
	else
		scribe_json_real(out, v);
}

/* Where most opens and stats of the last second are. */
static int print_json_metadata(struct scribe_out *out, const struct scribe_top_row *r)
{
	int rc;

	put_real(out, "failed_lookups_per_second", r->failed_s);
	if (!r->job->folder[0])
		return 0;
	scribe_out_text(out, ",");
	rc = scribe_json_text(out, "metadata_folder", r->job->folder, strlen(r->job->folder));
	put_real(out, "metadata_folder_part", r->job->folder_part);
	scribe_out_text(out, ",");
	return rc < 0 ? rc : scribe_json_text(out, "metadata_mount", r->job->mount, strlen(r->job->mount));
}

static int print_json_row(struct scribe_out *out, const struct scribe_top_row *r, enum scribe_top_view view,
			  const struct scribe_top_names *names)
{
	char layers[64];
	const char *name;
	size_t len;
	int rc = put_text(out, "job", r->job->id);

	rc = rc < 0 ? rc : put_text(out, "user", r->job->user);
	if (view == SCRIBE_TOP_PROCESSES) {
		scribe_out_printf(out, "\"pid\":%d,", (int)r->process->pid);
		rc = rc < 0 ? rc : put_text(out, "program", r->process->program);
	}
	if (r->rank >= 0)
		scribe_out_printf(out, "\"rank\":%" PRId64 ",\"world\":%u,", r->rank, r->unit);
	scribe_top_layers(r, layers, sizeof(layers));
	rc = rc < 0 ? rc : put_text(out, "layers", r->modules ? layers : "");
	if (view == SCRIBE_TOP_FILES) {
		name = scribe_top_name(names, r, &len);
		rc = rc < 0 ? rc : scribe_json_text(out, "file", name, len);
		scribe_out_text(out, ",");
	}
	scribe_out_printf(out,
			  "\"uid\":%u,\"processes\":%u,\"bytes_read\":%" PRIu64 ",\"bytes_written\":%" PRIu64
			  ",\"operations\":%" PRIu64,
			  r->job->uid, r->processes, r->bytes[0], r->bytes[1], r->operations);
	put_real(out, "read_bytes_per_second", r->bytes_s[0]);
	put_real(out, "written_bytes_per_second", r->bytes_s[1]);
	put_real(out, "operations_per_second", r->ops_s);
	put_real(out, "opens_per_second", r->opens_s);
	put_real(out, "stats_per_second", r->stats_s);
	if (view == SCRIBE_TOP_JOBS)
		rc = rc < 0 ? rc : print_json_metadata(out, r);
	put_real(out, "mean_seconds", r->latency_s);
	put_real(out, "longest_seconds", r->longest_s);
	put_real(out, "mean_bytes", r->size);
	return rc;
}

static int print_json(struct scribe_out *out, const struct scribe_top_rows *rows, size_t most,
		      enum scribe_top_view view, const struct scribe_top_names *names, int64_t real_ns)
{
	int rc = 0;

	scribe_out_text(out, "{\"time\":");
	scribe_json_real(out, (double)real_ns / 1e9);
	scribe_out_text(out, ",\"seconds\":");
	scribe_json_real(out, rows->seconds);
	scribe_out_printf(out, ",\"view\":\"%s\",\"rows_of_all\":%zu,\"rows\":[", scribe_top_view_name(view), rows->n);
	for (size_t i = 0; i < most && rc == 0; i++) {
		scribe_out_text(out, i ? ",{" : "{");
		rc = print_json_row(out, &rows->row[i], view, names);
		scribe_out_text(out, "}");
	}
	scribe_out_text(out, "]}\n");
	return rc;
}

/* A tag, escaped without loss; an empty value is omitted with its key. */
static void put_tag(struct scribe_out *out, const char *key, const char *value, size_t len)
{
	static char shown[SCRIBE_TOP_CELL];
	size_t n = scribe_name_escape(value, len, shown, sizeof(shown));
	const bool backslash = n > 1 && n < sizeof(shown) && shown[n - 1] == '\\';

	if (!n)
		return;
	scribe_out_printf(out, ",%s=", key);
	for (size_t i = 0; i < n - 2 * backslash && shown[i]; i++) {
		if (shown[i] == ',' || shown[i] == ' ' || shown[i] == '=')
			scribe_out_bytes(out, "\\", 1);
		scribe_out_bytes(out, &shown[i], 1);
	}
	scribe_out_text(out, backslash ? "\\x5c" : "");
}

static void put_tags(struct scribe_out *out, const struct scribe_top_row *r, enum scribe_top_view view,
		     const struct scribe_top_names *names)
{
	char text[64];
	size_t len;

	put_tag(out, "job", r->job->id, strlen(r->job->id));
	put_tag(out, "user", r->job->user, strlen(r->job->user));
	if (view == SCRIBE_TOP_PROCESSES) {
		put_tag(out, "pid", text, (size_t)snprintf(text, sizeof(text), "%d", (int)r->process->pid));
		put_tag(out, "program", r->process->program, strlen(r->process->program));
	}
	if (r->rank >= 0) {
		put_tag(out, "rank", text, (size_t)snprintf(text, sizeof(text), "%" PRId64, r->rank));
		put_tag(out, "world", text, (size_t)snprintf(text, sizeof(text), "%u", r->unit));
	}
	scribe_top_layers(r, text, sizeof(text));
	put_tag(out, "layers", text, r->modules ? strlen(text) : 0);
	if (view == SCRIBE_TOP_FILES) {
		const char *name = scribe_top_name(names, r, &len);

		put_tag(out, "file", name, len);
	}
}

static void put_field(struct scribe_out *out, const char *key, double v)
{
	if (isnan(v))
		return;
	scribe_out_printf(out, ",%s=", key);
	scribe_json_real(out, v);
}

/* Measurement, tags, fields, nanoseconds since 1970; integers end in i. */
static void print_line(struct scribe_out *out, const struct scribe_top_row *r, enum scribe_top_view view,
		       const struct scribe_top_names *names, int64_t real_ns)
{
	static const char *const of[] = {"job", "process", "rank", "file"};

	scribe_out_printf(out, "ioscribe_%s", of[view]);
	put_tags(out, r, view, names);
	scribe_out_printf(out,
			  " processes=%ui,bytes_read=%" PRIu64 "i,bytes_written=%" PRIu64 "i,operations=%" PRIu64 "i",
			  r->processes, r->bytes[0], r->bytes[1], r->operations);
	put_field(out, "read_bytes_per_second", r->bytes_s[0]);
	put_field(out, "written_bytes_per_second", r->bytes_s[1]);
	put_field(out, "operations_per_second", r->ops_s);
	put_field(out, "opens_per_second", r->opens_s);
	put_field(out, "stats_per_second", r->stats_s);
	put_field(out, "failed_lookups_per_second", view == SCRIBE_TOP_JOBS ? r->failed_s : NAN);
	put_field(out, "mean_seconds", r->latency_s);
	put_field(out, "longest_seconds", r->longest_s);
	put_field(out, "mean_bytes", r->size);
	scribe_out_printf(out, " %" PRId64 "\n", real_ns);
}

int scribe_top_print(struct scribe_out *out, enum scribe_top_format format, const struct scribe_top_rows *rows,
		     size_t most, enum scribe_top_view view, const struct scribe_top_names *names, int64_t real_ns)
{
	most = most < rows->n ? most : rows->n;
	if (format == SCRIBE_TOP_JSON)
		return print_json(out, rows, most, view, names, real_ns);
	if (format == SCRIBE_TOP_TABLE)
		print_table(out, rows, most, view, names);
	for (size_t i = 0; i < most && format == SCRIBE_TOP_LINES; i++)
		print_line(out, &rows->row[i], view, names, real_ns);
	return 0;
}
