// SPDX-License-Identifier: BSD-3-Clause
/*
 * ioscribe dxt: traces of single operations as text, line for line what
 * darshan-dxt-parser prints. Logs that name the thread of an operation get the
 * two further columns that newer stock tools print.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "logfmt/names.h"
#include "util/command.h"
#include "util/dxt_text.h"
#include "util/logfile.h"
#include "util/print_job.h"
#include "util/print_record.h"
#include "util/shown_name.h"

struct layout {
	uint64_t id;
	struct scribe_lustre_record *record;
};

struct dxt {
	int show_incomplete, escape;
	struct scribe_shown_name shown;
	struct scribe_out out;
	struct scribe_log log;
	struct layout *layouts; /* Lustre layouts by record id */
	size_t nlayouts, cap_layouts;
	struct scribe_err err;
};

/* `threads_from`: first version with thread ids. */
static const struct trace_module {
	int module;
	unsigned threads_from;
} traces[] = {
	{SCRIBE_MOD_DXT_POSIX, 2},
	{SCRIBE_MOD_DXT_MPIIO, 3},
};

static int take(void *ctx, int key, const char *value, struct scribe_err *err)
{
	struct dxt *d = ctx;

	(void)value, (void)err;
	if (key == 'e')
		d->escape = 1;
	else
		d->show_incomplete = 1;
	return 0;
}

/* ---- Lustre layouts ---- */

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

/* Refuse, or warn of, a module whose memory ran out in the job. */
static int check_partial(struct dxt *d, int module)
{
	const char *name = scribe_module_by_id(module)->name;

	if (!scribe_is_partial(d->log.reader, module))
		return 0;
	if (!d->show_incomplete)
		return scribe_err_set(
			&d->err, -SCRIBE_E_STATE,
			"%s: the %s module's data are incomplete, its memory ran out in the job; "
			"--show-incomplete prints what there is",
			d->log.path, name);
	scribe_print_partial(&d->out, name);
	scribe_out_text(&d->out, "\n# To avoid this error, consult the darshan-runtime\n"
				 "# documentation and consider setting the\n"
				 "# DARSHAN_EXCLUDE_DIRS or DXT_TRIGGER_CONF_PATH\n"
				 "# environment variable to prevent Darshan from\n"
				 "# instrumenting unecessary files.\n");
	return 0;
}

static int layouts_load(struct dxt *d)
{
	const void *record;
	size_t len;
	int rc = check_partial(d, SCRIBE_MOD_LUSTRE);

	if (rc < 0)
		return rc;
	while ((rc = scribe_reader_borrow_record(d->log.reader, SCRIBE_MOD_LUSTRE, &record, &len)) > 0)
		if (layout_add(d, record, len) < 0)
			return scribe_err_set(&d->err, -ENOMEM, "%s: LUSTRE records: out of memory",
					      d->log.path);
	if (rc < 0) {
		d->err = *scribe_reader_error(d->log.reader);
		return rc;
	}
	if (d->nlayouts)
		qsort(d->layouts, d->nlayouts, sizeof(*d->layouts), by_id);
	return 0;
}

static const struct scribe_lustre_record *layout_find(const struct dxt *d, uint64_t id)
{
	struct layout key = {.id = id}, *found = NULL;

	if (d->nlayouts)
		found = bsearch(&key, d->layouts, d->nlayouts, sizeof(*d->layouts), by_id);
	return found ? found->record : NULL;
}

static void print_record(struct dxt *d, const struct trace_module *t, const struct scribe_dxt_record *r)
{
	bool threads = scribe_reader_header(d->log.reader)->mod_ver[t->module] >= t->threads_from;
	struct scribe_dxt_place at = {.layout = layout_find(d, r->base.id)};
	struct scribe_mount mount;

	at.name = scribe_names_find(d->log.names, r->base.id, &at.name_len);
	mount = scribe_mount_of(d->log.mounts, d->log.nmounts, at.name);
	at.mount = mount.path;
	at.fs = mount.type;
	if (d->escape)
		at.name = scribe_shown_name(&d->shown, at.name, &at.name_len);
	scribe_dxt_text(&d->out, t->module, r, &at, threads);
}

/* ---- modules ---- */

static int print_trace(struct dxt *d, const struct trace_module *t)
{
	const char *name = scribe_module_by_id(t->module)->name;
	const void *record;
	size_t len;
	int rc;

	scribe_out_printf(&d->out,
			  "\n# ***************************************************\n"
			  "# %s module data\n"
			  "# ***************************************************\n",
			  name);
	rc = check_partial(d, t->module);
	if (rc < 0)
		return rc;
	while ((rc = scribe_reader_borrow_record(d->log.reader, t->module, &record, &len)) > 0)
		print_record(d, t, record);
	if (rc < 0)
		d->err = *scribe_reader_error(d->log.reader);
	return rc;
}

static int print_traces(struct dxt *d)
{
	int any = 0, rc;

	for (int i = 0; i < 2; i++)
		any |= scribe_reader_header(d->log.reader)->mod_map[traces[i].module].len != 0;
	if (!any) {
		scribe_out_text(&d->out, "\n# no DXT module data available for this Darshan log.\n");
		return 0;
	}
	rc = scribe_reader_has(d->log.reader, SCRIBE_MOD_LUSTRE) ? layouts_load(d) : 0;
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
	scribe_print_job(&d->out, &d->log);
	rc = print_traces(d);
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
	{"show-incomplete", 'i', NULL, "print what there is of modules whose memory ran out in the job"},
	{"escape", 'e', NULL,
	 "show names that hold control characters or no valid UTF-8 as \\xHH, losslessly"},
	{NULL, 0, NULL, NULL},
};

static const char *const examples[] = {
	"ioscribe dxt job.darshan",
	"every traced operation: module, rank, read or write, offset, length, start and end",
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
		 "darshan-dxt-parser; where the log names threads, two columns more.",
	.alias = "darshan-dxt-parser",
	.examples = examples,
};
