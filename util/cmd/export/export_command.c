// SPDX-License-Identifier: BSD-3-Clause
/*
 * `ioscribe export`: options, help and start of ioscribe-export, so that others do not load libraries for JSON and SQL.
 */
#include <stddef.h>

#include "util/tool/command.h"
#include "util/tool/libexec.h"

static int cmd_export(int argc, char **argv)
{
	(void)argc;
	return scribe_libexec_run("ioscribe-export", "writes exports", argv);
}

static const struct scribe_option options[] = {
	{"json", 'j', NULL, "one JSON document, an array a table"},
	{"json-lines", 'l', NULL, "one JSON object a line; takes several logs"},
	{"csv", 'c', NULL, "CSV: a file a table in the folder of --output, or one --table on standard output"},
	{"sqlite", 's', "DB", "add the logs to the SQLite database DB, made if it is not there"},
	{"output", 'o', "PATH", "write to this file (JSON) or into this folder (CSV)"},
	{"table", 't', "NAME", "only this table; may be given several times"},
	{NULL, 0, NULL, NULL},
};

static const char *const examples[] = {
	"ioscribe export --json job.darshan | jq '.posix[] | select(.POSIX_BYTES_WRITTEN > 0) | .name'",
	"names of the files written",
	"ioscribe export --csv --table posix job.darshan",
	"the POSIX records, one a line",
	"ioscribe export --sqlite jobs.db logs/*.darshan",
	"add logs to a database; those that are there already are left alone",
	NULL,
};

const struct scribe_command scribe_command_export = {
	.name = "export",
	.summary = "write logs as JSON, CSV or into an SQLite database",
	.main = cmd_export,
	.operands = "LOG...",
	.min_operands = 1,
	.max_operands = -1,
	.options = options,
	.about = "A log becomes tables: job, metadata, mount, file, then one a module (posix, mpiio, stdio, "
		 "h5f,\n"
		 "h5d, pnetcdf_file, pnetcdf_var, lustre, dxt_posix, dxt_mpiio, heatmap, dfs, daos, apmpi, "
		 "apmpi_head, "
		 "and\n"
		 "ioscribe's posix_ext, process, ledger, layers, cache and mounts). Rows of a module have record id, "
		 "rank, "
		 "name, "
		 "mount and\n"
		 "type of the file system, then a column a counter under its usual name; heatmap has a row a "
		 "bin,\n"
		 "dxt_posix and dxt_mpiio a row an operation, lustre a row a layout component. "
		 "docs/export.md\n"
		 "describes every table.\n\n"
		 "Record ids are unsigned 64-bit numbers: strings in JSON, the same bits as signed integers "
		 "in\n"
		 "SQLite. Names that are no UTF-8 are escaped in JSON (NAME_escaped) and CSV, and blobs in "
		 "SQLite.\n\n"
		 "A database takes any number of logs, each in one transaction; a log whose bytes are in it\n"
		 "already is not added again; it gets the tables that --table left out the first time.\n"
		 "Logs that cannot be read are named, the others are added, and the exit status is 1.",
	.examples = examples,
};
