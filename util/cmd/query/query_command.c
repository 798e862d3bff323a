// SPDX-License-Identifier: BSD-3-Clause
/* `ioscribe query`: options, help and start of ioscribe-query, so that others do not load databases. */
#include <stddef.h>

#include "util/tool/command.h"
#include "util/tool/libexec.h"

static int cmd_query(int argc, char **argv)
{
	(void)argc;
	return scribe_libexec_run("ioscribe-query", "asks stores", argv);
}

static const struct scribe_option options[] = {
	{"db", 'd', "DB", "the store: the file name of its SQLite database, or postgresql://..."},
	{"csv", 'c', NULL, "CSV, the names of the columns first"},
	{"json", 'j', NULL, "a JSON array, an object a row"},
	{"list", 'l', NULL, "name the questions there are, and the parameters of each"},
	{"questions", 'q', "DIR", "look for questions in DIR, too, before those that are installed"},
	{NULL, 0, NULL, NULL},
};

static const char *const examples[] = {
	"ioscribe query --list",
	"the questions, and what they need",
	"ioscribe query --db io.sqlite operations",
	"operations and bytes of every job by module and operation",
	"ioscribe query --db io.sqlite --csv over_time job=4711 seconds=10 >job.csv",
	"what a job did in each ten seconds",
	NULL,
};

const struct scribe_command scribe_command_query = {
	.name = "query",
	.summary = "ask a store of operations a question",
	.main = cmd_query,
	.operands = "[QUESTION [NAME=VALUE...]]",
	.min_operands = 0,
	.max_operands = -1,
	.options = options,
	.about = "Answers questions from a database that ioscribe store has filled, also while it fills "
		 "it.\n\n"
		 "A question is a file NAME.sql, SQL with named parameters, or NAME.py, Python that returns "
		 "a\n"
		 "pandas DataFrame, described in its first lines; docs/store.md tells how to write one. They "
		 "are\n"
		 "looked for in the folders of --questions, of the environment variable IOSCRIBE_QUESTIONS "
		 "(with\n"
		 "colons between), and among those that are installed, in this order. Parameters are given "
		 "as\n"
		 "NAME=VALUE; those with a default may be left out. The database is opened so that a question "
		 "can\n"
		 "change nothing. Python is /usr/bin/python3, or what IOSCRIBE_PYTHON names; it needs "
		 "pandas.\n"
		 "Without --db the environment variable IOSCRIBE_DB names the store.",
	.examples = examples,
};
