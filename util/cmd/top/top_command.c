// SPDX-License-Identifier: BSD-3-Clause
/* `ioscribe top`: options, help and start of ioscribe-top, so that others do not load curses. */
#include <stddef.h>

#include "util/cmd/top/options.h"
#include "util/tool/command.h"
#include "util/tool/libexec.h"

static int cmd_top(int argc, char **argv)
{
	(void)argc;
	return scribe_libexec_run("ioscribe-top", "shows running jobs", argv);
}

static const struct scribe_option options[] = {
	{"job", SCRIBE_TOP_KEY_JOB, "ID", "only this job: the scheduler's number or name, or a run's process id"},
	{"view", SCRIBE_TOP_KEY_VIEW, "VIEW", "jobs (default), processes, ranks or files"},
	{"sort", SCRIBE_TOP_KEY_SORT, "KEY", "rate (default), read, write, ops, meta, mean, max, size, total or name"},
	{"filter", SCRIBE_TOP_KEY_FILTER, "TEXT", "only rows with this in the job, user, program or file"},
	{"pid", SCRIBE_TOP_KEY_PID, "PID", "only this process and its files"},
	{"interval", SCRIBE_TOP_KEY_INTERVAL, "SECONDS", "time between two samples, 0.1 to 3600 (default 2)"},
	{"rows", SCRIBE_TOP_KEY_ROWS, "N", "with --once, --json, --lines: at most so many rows (default 1000)"},
	{"once", SCRIBE_TOP_KEY_ONCE, NULL, "one sample as a table, and end; with --json or --lines, in that form"},
	{"json", SCRIBE_TOP_KEY_JSON, NULL, "a JSON object a sample, each a line"},
	{"lines", SCRIBE_TOP_KEY_LINES, NULL, "InfluxDB line protocol, a line a row"},
	{"count", SCRIBE_TOP_KEY_COUNT, "N", "with --json, --lines: end after so many samples"},
	{NULL, 0, NULL, NULL},
};

static const char *const examples[] = {
	"ioscribe top",
	"jobs of this node: yours, root's view is of all",
	"ioscribe top --job 1234 --view files --sort write",
	"the files of job 1234 that are written most now",
	"ioscribe top --once --json --view ranks | jq '.rows[] | select(.mean_seconds > 0.1)'",
	"ranks whose reads and writes take more than a tenth of a second",
	"ioscribe top --lines --interval 10",
	"for Telegraf's execd input",
	NULL,
};

const struct scribe_command scribe_command_top = {
	.name = "top",
	.summary = "show what running jobs read and write now",
	.main = cmd_top,
	.operands = "",
	.options = options,
	.about = "Asks the service of this node (ioscribed --service) what its jobs have counted, twice, and "
		 "shows "
		 "what has changed between: bytes and operations a second, mean time and size of a read or "
		 "write; "
		 "the longest time (MAX) and the totals are since the records began. Nothing is taken from "
		 "the "
		 "records, nothing is written, and no job is held up: the service gives a tenth of its own "
		 "time, "
		 "and a millisecond at once, to all who look.\n\n"
		 "A view has a row a job, process, rank or file, a file a row for each layer through which it "
		 "is used "
		 "(POSIX, STDIO, MPIIO, H5F, H5D, NCFILE, NCVAR). In the other views bytes and times are "
		 "those of "
		 "system calls and streams, and operations those of every layer. MEAN is the time in which an "
		 "operation was under way, by operations: where threads use a file at once, it is less than "
		 "what each "
		 "waits. Files of processes that have ended are not shown, what they moved counts to their "
		 "job. META/s are opens, stats and failed lookups; the job that makes most of them, more than a "
		 "hundred a second, is named in the last line, with the folder below which they are.\n\n"
		 "Keys: 1 to 4, or Tab: the views; Enter: what the selected row consists of, Backspace: back; "
		 "arrows, "
		 "Page Up and Down: select; s: next column to sort by, S: the one before; /: a text to filter "
		 "by; "
		 "space: pause; h: help; q: end.\n\n"
		 "You see your own jobs, root all. A job that ioscribe run traces without a service (its "
		 "private "
		 "daemon) cannot be seen. IOSCRIBE_DIR names another directory of the service than "
		 "/run/ioscribe.",
	.examples = examples,
};
