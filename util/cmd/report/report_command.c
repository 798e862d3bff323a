// SPDX-License-Identifier: BSD-3-Clause
/* `ioscribe report`: options, help and start of ioscribe-report, which has the page's files in it. */
#include <stddef.h>

#include "util/tool/command.h"
#include "util/tool/libexec.h"

static int cmd_report(int argc, char **argv)
{
	(void)argc;
	return scribe_libexec_run("ioscribe-report", "writes pages", argv);
}

static const struct scribe_option options[] = {
	{"output", 'o', "FILE", "write the page to this file"},
	{NULL, 0, NULL, NULL},
};

static const char *const examples[] = {
	"ioscribe report -o job.html job.darshan",
	"a page about the job for any browser",
	"ioscribe report -o changes.html before.darshan after.darshan",
	"what changed between two runs",
	"ioscribe report -o logs.html /var/log/darshan/2026/11",
	"all logs below a directory: worst ones, users, programs, file systems, days",
	NULL,
};

const struct scribe_command scribe_command_report = {
	.name = "report",
	.summary = "write a log as a page for a browser",
	.main = cmd_report,
	.operands = "LOG|DIR [LOG]",
	.min_operands = 1,
	.max_operands = 2,
	.options = options,
	.about = "Writes one HTML file that needs nothing else, also no network: how long the job ran, which share\n"
		 "of it was I/O, findings with what to do (ioscribe advise), I/O by rank and time, cost by module,\n"
		 "access sizes, files, ranks, directories, file systems, processes, counters, single operations\n"
		 "where they were traced, and what the tracer missed. Of two logs, what changed; of a directory,\n"
		 "all logs (*.darshan) below it, up to 19,999.",
	.examples = examples,
};
