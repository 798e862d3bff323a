// SPDX-License-Identifier: BSD-3-Clause
/* The work of ioscribe-export. Each format is a table of functions (export_format.h). */
#include "util/cmd/export/export.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "util/cmd/export/export_format.h"
#include "util/tool/command.h"

#define MAX_TABLES 64

struct export
{
	const struct scribe_export_format *format;
	int several; /* the format accepts more than one log */
	int needs_output;
	char *tables[MAX_TABLES + 1];
	int ntables;
	int skipped; /* unreadable logs, already reported */
	struct scribe_export_options o;
};

static int take(void *ctx, int key, const char *value, struct scribe_err *err)
{
	struct export *e = ctx;

	switch (key) {
	case 'j':
		e->format = &scribe_export_json;
		e->several = e->needs_output = 0;
		return 0;
	case 'l':
		e->format = &scribe_export_json_lines;
		e->several = 1;
		e->needs_output = 0;
		return 0;
	case 'c':
		e->format = &scribe_export_csv;
		e->several = e->needs_output = 0;
		return 0;
	case 's':
		e->format = &scribe_export_sqlite;
		e->several = e->needs_output = 1;
		e->o.output = value;
		return 0;
	case 'o':
		e->o.output = value;
		return 0;
	default:
		if (e->ntables == MAX_TABLES)
			return scribe_err_set(err, -E2BIG, "--table: at most %d", MAX_TABLES);
		if (!scribe_export_has_table(value))
			return scribe_err_set(err, -EINVAL, "--table: no table is named '%.40s'", value);
		e->tables[e->ntables++] = (char *)(uintptr_t)value;
		return 0;
	}
}

static int export_logs(struct export *e, char **paths, int n, struct scribe_err *err)
{
	void *ctx = NULL;
	int rc;

	e->o.logs = n;
	e->o.only = e->ntables ? e->tables : NULL;
	rc = e->format->open(&e->o, &ctx, err);
	if (rc < 0)
		return rc;
	for (int i = 0; i < n && rc >= 0; i++) {
		struct scribe_log log;

		rc = scribe_log_open(&log, paths[i], SCRIBE_LOG_NAMES, err);
		if (rc >= 0)
			rc = e->format->log(ctx, &log, err);
		scribe_log_close(&log);
		/* After a failed log, a format that can discard it (SQLite rolls back) continues with the next one. */
		if (rc < 0 && e->format->drop && e->format->drop(ctx)) {
			rc = 0;
			e->skipped++;
			scribe_complain_err(e->o.argv0, err);
		}
	}
	if (e->format->close(ctx, rc < 0, err) < 0 && rc >= 0)
		rc = -1;
	return rc;
}

static int usage(const char *argv0, const char *what)
{
	scribe_complain(argv0, "%s; see ioscribe export --help", what);
	return SCRIBE_EXIT_USAGE;
}

int scribe_export_main(int argc, char **argv)
{
	struct export e = {.o.argv0 = argv[0]};
	struct scribe_err err = {0};
	int first, status = scribe_args_read(&scribe_command_export, argc, argv, take, &e, &first);

	if (status >= 0)
		return status;
	if (!e.format)
		return usage(argv[0], "--json, --json-lines, --csv or --sqlite DB is missing");
	if (!e.several && argc - first > 1)
		return usage(argv[0], "one log at a time in this format (--json-lines and --sqlite take many)");
	if (export_logs(&e, argv + first, argc - first, &err) < 0)
		return scribe_complain_err(argv[0], &err);
	return e.skipped ? SCRIBE_EXIT_FAILED : SCRIBE_EXIT_OK;
}
