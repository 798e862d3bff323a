// SPDX-License-Identifier: BSD-3-Clause
/* `ioscribe dxt` (darshan-dxt-parser): prints traced operations as text identical to that tool's, JSON or CSV. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "logfmt/file/names.h"
#include "util/cmd/dxt/dxt_rows.h"
#include "util/logs/dxt_filter.h"
#include "util/logs/logfile.h"
#include "util/logs/print_job.h"
#include "util/text/dxt_text.h"
#include "util/text/print_record.h"
#include "util/text/shown_name.h"
#include "util/tool/command.h"

struct layout {
	uint64_t id;
	struct scribe_lustre_record *record;
};

struct dxt {
	int show_incomplete, escape;
	struct scribe_dxt_filter filter; /* borrows strings from argv */
	struct scribe_dxt_rows rows;
	struct scribe_shown_name shown;
	struct scribe_out out;
	struct scribe_log log;
	struct layout *layouts; /* sorted by record id */
	size_t nlayouts, cap_layouts;
	struct scribe_err err;
};

/* threads_from: first version with thread ids; earlier segments have 32 bytes without one. */
static const struct trace_module {
	int module;
	unsigned threads_from;
} traces[] = {
	{SCRIBE_MOD_DXT_POSIX, 2},
	{SCRIBE_MOD_DXT_MPIIO, 3},
};

enum key { KEY_FILE = 1, KEY_RANK, KEY_FROM, KEY_TO, KEY_JSON, KEY_CSV };

static int take(void *ctx, int key, const char *value, struct scribe_err *err)
{
	struct dxt *d = ctx;

	switch (key) {
	case KEY_FILE:
		d->filter.file = value;
		return 0;
	case KEY_RANK:
		return scribe_dxt_filter_ranks(&d->filter, value, err);
	case KEY_FROM:
	case KEY_TO:
		return scribe_dxt_filter_time(&d->filter, key == KEY_TO, value, err);
	case KEY_JSON:
	case KEY_CSV:
		if (d->rows.format != SCRIBE_DXT_TEXT)
			return scribe_err_set(err, -EINVAL, "--json and --csv: only one of them");
		d->rows.format = key == KEY_JSON ? SCRIBE_DXT_JSON : SCRIBE_DXT_CSV;
		return 0;
	case 'e':
		d->escape = 1;
		return 0;
	default:
		d->show_incomplete = 1;
		return 0;
	}
}

static int by_id(const void *a, const void *b)
{
	const struct layout *x = a, *y = b;

	return x->id < y->id ? -1 : x->id > y->id;
}

static int layout_add(struct dxt *d, const void *record, size_t len)
{
	struct layout *l;

	if (d->nlayouts == d->cap_layouts) {
		size_t cap = d->cap_layouts ? 2 * d->cap_layouts : 64;
		struct layout *bigger = realloc(d->layouts, cap * sizeof(*bigger));

		if (!bigger)
			return -ENOMEM;
		d->layouts = bigger;
		d->cap_layouts = cap;
	}
	l = &d->layouts[d->nlayouts];
	l->record = malloc(len);
	if (!l->record)
		return -ENOMEM;
	memcpy(l->record, record, len);
	l->id = l->record->base.id;
	d->nlayouts++;
	return 0;
}

/* 0: complete, or incomplete data are to be printed. */
static int check_partial(struct dxt *d, int module)
{
	const char *name = scribe_module_by_id(module)->name;
	char why[512];

	if (!scribe_is_partial(d->log.reader, module))
		return 0;
	if (!d->show_incomplete)
		return scribe_err_set(&d->err, -SCRIBE_E_STATE,
				      "%s: the %s module's data are incomplete, %s; "
				      "--show-incomplete prints what there is",
				      d->log.path, name, scribe_partial_why(d->log.reader, why, sizeof(why)));
	if (d->rows.format != SCRIBE_DXT_TEXT)
		return 0;
	scribe_print_partial(&d->out, name);
	/* The wording, misspelling included, is darshan-dxt-parser's. */
	scribe_out_text(&d->out, "\n# To avoid this error, consult the darshan-runtime\n"
				 "# documentation and consider setting the\n"
				 "# DARSHAN_EXCLUDE_DIRS or DXT_TRIGGER_CONF_PATH\n"
				 "# environment variable to prevent Darshan from\n"
				 "# instrumenting unecessary files.\n");
	return 0;
}

/* Layouts are a separate module, so they are read before the traces. */
static int layouts_load(struct dxt *d)
{
	const void *record;
	size_t len;
	int rc = check_partial(d, SCRIBE_MOD_LUSTRE);

	if (rc < 0)
		return rc;
	while ((rc = scribe_reader_borrow_record(d->log.reader, SCRIBE_MOD_LUSTRE, &record, &len)) > 0)
		if (layout_add(d, record, len) < 0)
			return scribe_err_set(&d->err, -ENOMEM, "%s: LUSTRE records: out of memory", d->log.path);
	if (rc < 0) {
		d->err = *scribe_reader_error(d->log.reader);
		return rc;
	}
	if (d->nlayouts)
		qsort(d->layouts, d->nlayouts, sizeof(*d->layouts), by_id);
	return 0;
}

/* NULL: this file has none. */
static const struct scribe_lustre_record *layout_find(const struct dxt *d, uint64_t id)
{
	struct layout key = {.id = id}, *found = NULL;

	if (d->nlayouts)
		found = bsearch(&key, d->layouts, d->nlayouts, sizeof(*d->layouts), by_id);
	return found ? found->record : NULL;
}

static struct scribe_dxt_place place_of(struct dxt *d, uint64_t id)
{
	struct scribe_dxt_place at = {.layout = layout_find(d, id)};
	struct scribe_mount mount;

	at.name = scribe_names_find(d->log.names, id, &at.name_len);
	mount = scribe_print_mount_of(d->log.mounts, d->log.nmounts, at.name);
	at.mount = mount.path;
	at.fs = mount.type;
	if (d->escape && d->rows.format == SCRIBE_DXT_TEXT)
		at.name = scribe_shown_name(&d->shown, at.name, &at.name_len);
	return at;
}

static bool is_wanted(const struct dxt *d, const struct scribe_base_record *base)
{
	size_t len;

	return scribe_dxt_filter_wants(&d->filter, base->rank, scribe_names_find(d->log.names, base->id, &len));
}

static int print_record(struct dxt *d, const struct trace_module *t, const struct scribe_dxt_record *r,
			const struct scribe_dxt_place *at, bool threads)
{
	struct scribe_dxt_piece whole = {.n = r->write_count + r->read_count, .segments = r->segments};

	if (d->rows.format == SCRIBE_DXT_TEXT) {
		scribe_dxt_text(&d->out, t->module, r, at, threads);
		return 0;
	}
	memcpy(&whole.head, r, sizeof(whole.head));
	return scribe_dxt_rows_piece(&d->rows, t->module, &whole, at, threads);
}

static int print_piece(struct dxt *d, const struct trace_module *t, const struct scribe_dxt_piece *p,
		       const struct scribe_dxt_place *at)
{
	if (d->rows.format != SCRIBE_DXT_TEXT)
		return scribe_dxt_rows_piece(&d->rows, t->module, p, at, false);
	scribe_dxt_text_piece(&d->out, t->module, p, at);
	return 0;
}

static int out_of_memory(struct dxt *d)
{
	return scribe_err_set(&d->err, -ENOMEM, "%s: traced operations: out of memory", d->log.path);
}

static int print_times(struct dxt *d, const struct trace_module *t, const void *record, size_t len, bool threads)
{
	struct scribe_dxt_record *r = malloc(len);
	struct scribe_dxt_place at;
	int rc = 0;

	if (!r)
		return out_of_memory(d);
	/* Copied because the filter changes the counts and segments in place. */
	memcpy(r, record, len);
	scribe_dxt_filter_times(&d->filter, r);
	if (r->write_count + r->read_count) {
		at = place_of(d, r->base.id);
		rc = print_record(d, t, r, &at, threads);
	}
	free(r);
	return rc < 0 ? out_of_memory(d) : 0;
}

static int print_trace(struct dxt *d, const struct trace_module *t)
{
	const char *name = scribe_module_by_id(t->module)->name;
	bool threads = scribe_reader_header(d->log.reader)->mod_ver[t->module] >= t->threads_from;
	struct scribe_dxt_place at = {0};
	const void *record;
	size_t len;
	int rc;

	if (d->rows.format == SCRIBE_DXT_TEXT)
		scribe_out_printf(&d->out,
				  "\n# ***************************************************\n"
				  "# %s module data\n"
				  "# ***************************************************\n",
				  name);
	rc = check_partial(d, t->module);
	if (rc < 0)
		return rc;
	/*
	 * Pieces bound the memory for huge records. A whole record is needed where threads are counted in
	 * its head, and where filtering by time changes the head's counts.
	 */
	scribe_reader_dxt_in_pieces(d->log.reader, !threads && !d->filter.by_time);
	while ((rc = scribe_reader_borrow_record(d->log.reader, t->module, &record, &len)) > 0) {
		const struct scribe_dxt_piece *piece = record;
		const struct scribe_dxt_record *whole = record;

		if (!is_wanted(d, &whole->base))
			continue;
		if (d->filter.by_time) {
			if (print_times(d, t, record, len, threads) < 0)
				return -1;
			continue;
		}
		if (threads || piece->first == 0)
			at = place_of(d, whole->base.id);
		if ((threads ? print_record(d, t, whole, &at, true) : print_piece(d, t, piece, &at)) < 0)
			return out_of_memory(d);
	}
	if (rc < 0)
		d->err = *scribe_reader_error(d->log.reader);
	return rc;
}

static int print_traces(struct dxt *d)
{
	int any = 0, rc;

	for (int i = 0; i < 2; i++)
		any |= scribe_reader_header(d->log.reader)->mod_map[traces[i].module].len != 0;
	/* Not an error: darshan-dxt-parser prints one line and succeeds. */
	if (!any && d->rows.format == SCRIBE_DXT_TEXT) {
		scribe_out_text(&d->out, "\n# no DXT module data available for this Darshan log.\n");
		return 0;
	}
	rc = d->rows.format == SCRIBE_DXT_TEXT && scribe_reader_has(d->log.reader, SCRIBE_MOD_LUSTRE) ? layouts_load(d)
												      : 0;
	for (int i = 0; i < 2 && rc >= 0; i++)
		if (scribe_reader_header(d->log.reader)->mod_map[traces[i].module].len)
			rc = print_trace(d, &traces[i]);
	return rc;
}

static int print_log(struct dxt *d, const char *path)
{
	int rc = scribe_log_open(&d->log, path, SCRIBE_LOG_NAMES, &d->err);

	if (rc >= 0)
		rc = scribe_out_open(&d->out, STDOUT_FILENO, &d->err);
	if (rc < 0)
		return rc;
	d->escape |= d->out.terminal;
	d->rows.out = &d->out;
	if (d->rows.format == SCRIBE_DXT_TEXT)
		scribe_print_job(&d->out, &d->log);
	else
		scribe_dxt_rows_begin(&d->rows);
	rc = print_traces(d);
	if (d->rows.format != SCRIBE_DXT_TEXT && rc >= 0)
		scribe_dxt_rows_end(&d->rows);
	return scribe_out_flush(&d->out, rc < 0 ? NULL : &d->err) < 0 ? -1 : rc;
}

static int cmd_dxt(int argc, char **argv)
{
	struct dxt d = {0};
	int first, rc, status = scribe_args_read(&scribe_command_dxt, argc, argv, take, &d, &first);

	if (status >= 0)
		return status;
	rc = print_log(&d, argv[first]);
	for (size_t i = 0; i < d.nlayouts; i++)
		free(d.layouts[i].record);
	free(d.layouts);
	scribe_shown_name_clear(&d.shown);
	scribe_log_close(&d.log);
	scribe_out_close(&d.out);
	return rc < 0 ? scribe_complain_err(argv[0], &d.err) : SCRIBE_EXIT_OK;
}

static const struct scribe_option options[] = {
	{"show-incomplete", 'i', NULL, "print what there is of modules that are incomplete"},
	{"escape", 'e', NULL, "show names that hold control characters or no valid UTF-8 as \\xHH, losslessly"},
	{"file", KEY_FILE, "PATTERN", "only operations on files whose whole name matches this shell pattern"},
	{"rank", KEY_RANK, "LIST", "only operations of these ranks, such as 0,4-7"},
	{"from", KEY_FROM, "SECONDS", "only operations that start then or later, counted from the job's start"},
	{"to", KEY_TO, "SECONDS", "only operations that start before then"},
	{"json", KEY_JSON, NULL, "a JSON array, an object an operation"},
	{"csv", KEY_CSV, NULL, "CSV, a line an operation, the names of the columns first"},
	{NULL, 0, NULL, NULL},
};

static const char *const examples[] = {
	"ioscribe dxt job.darshan",
	"every traced operation: module, rank, read or write, offset, length, start and end",
	"ioscribe dxt --file '*.h5' --rank 0-3 --from 1.5 --to 2 job.darshan",
	"what four ranks did to their HDF5 files in half a second",
	"ioscribe dxt --json job.darshan | jq '[.[] | select(.operation == \"write\") | .length] | add'",
	"all bytes that were written",
	NULL,
};

const struct scribe_command scribe_command_dxt = {
	.name = "dxt",
	.summary = "print the traced operations of a log, as darshan-dxt-parser does",
	.main = cmd_dxt,
	.operands = "LOG",
	.min_operands = 1,
	.max_operands = 1,
	.options = options,
	.about = "Prints the operations that extended tracing recorded: for each file and rank a head and "
		 "then\n"
		 "one line an operation with module, rank, kind, number, offset, length in bytes, start and "
		 "end\n"
		 "in seconds; on Lustre also the targets that hold the bytes. The text is that of\n"
		 "darshan-dxt-parser; where the log names threads, two columns more.\n\n"
		 "An operation belongs to the time at which it starts. With --from or --to a record's counts "
		 "and\n"
		 "the numbers of its operations are of what is shown, and a record of which nothing is shown "
		 "is\n"
		 "left out.\n\n"
		 "--json and --csv give module, rank, name (null where the log has none), host, operation, "
		 "number,\n"
		 "offset, length, start, end and thread. A name that is no UTF-8 stands as name_escaped in "
		 "JSON.",
	.alias = "darshan-dxt-parser",
	.examples = examples,
};
