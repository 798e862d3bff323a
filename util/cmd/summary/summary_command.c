// SPDX-License-Identifier: BSD-3-Clause
/* The command `ioscribe summary`: one screen about a log, also in brief for `ioscribe run`. */
#include <stdlib.h>
#include <unistd.h>

#include "util/cmd/summary/summary.h"
#include "util/tool/command.h"

struct options {
	bool brief, json;
	int files;
};

static int take(void *ctx, int key, const char *value, struct scribe_err *err)
{
	struct options *o = ctx;
	char *end;
	long n;

	if (key != 'f') {
		*(key == 'b' ? &o->brief : &o->json) = true;
		return 0;
	}
	n = strtol(value, &end, 10);
	if (*end || end == value || n < 0 || n > SCRIBE_SUMMARY_FILES)
		return scribe_err_set(err, -1, "--files takes a number from 0 to %d, not '%.40s'", SCRIBE_SUMMARY_FILES,
				      value);
	o->files = (int)n;
	return 0;
}

static int print_summary(const char *path, const struct options *o, struct scribe_err *err)
{
	struct scribe_summary s;
	struct scribe_out out = {0};
	int rc = scribe_summary_read(&s, path, err);

	if (rc >= 0 && !o->brief)
		rc = scribe_summary_find_reads(&s, err);
	if (rc >= 0)
		rc = scribe_out_open(&out, STDOUT_FILENO, err);
	if (rc >= 0) {
		if (o->json)
			scribe_summary_print_json(&s, &out, o->files);
		else if (o->brief)
			scribe_summary_print_brief(&s, &out);
		else
			scribe_summary_print(&s, &out, o->files);
		rc = scribe_out_flush(&out, err);
	}
	scribe_out_close(&out);
	scribe_summary_free(&s);
	return rc;
}

static int compare(char **paths, struct scribe_err *err)
{
	static struct scribe_summary s[2];
	struct scribe_out out = {0};
	int rc = scribe_summary_read(&s[0], paths[0], err);

	if (rc >= 0)
		rc = scribe_summary_read(&s[1], paths[1], err);
	if (rc >= 0)
		rc = scribe_out_open(&out, STDOUT_FILENO, err);
	if (rc >= 0) {
		scribe_summary_print_compared(&s[0], &s[1], &out);
		rc = scribe_out_flush(&out, err);
	}
	scribe_out_close(&out);
	for (int i = 0; i < 2; i++)
		scribe_summary_free(&s[i]);
	return rc;
}

static int cmd_summary(int argc, char **argv)
{
	struct options o = {.files = 10};
	struct scribe_err err = {0};
	int first, status = scribe_args_read(&scribe_command_summary, argc, argv, take, &o, &first);

	if (status >= 0)
		return status;
	if (argc - first > 1 && (o.json || o.brief)) {
		scribe_complain(argv[0], "--json and --brief take one log; see ioscribe summary --help");
		return SCRIBE_EXIT_USAGE;
	}
	if ((argc - first > 1 ? compare(argv + first, &err) : print_summary(argv[first], &o, &err)) < 0)
		return scribe_complain_err(argv[0], &err);
	return SCRIBE_EXIT_OK;
}

static const struct scribe_option options[] = {
	{"brief", 'b', NULL, "print about fifteen lines, as ioscribe run does at its end"},
	{"json", 'j', NULL, "print JSON (docs/summary.schema.json)"},
	{"files", 'f', "N", "list the N files with most bytes moved (10)"},
	{NULL, 0, NULL, NULL},
};

static const char *const examples[] = {
	"ioscribe summary job.darshan",
	"one screen about the job",
	"ioscribe summary before.darshan after.darshan",
	"what changed, and by how much",
	NULL,
};

const struct scribe_command scribe_command_summary = {
	.name = "summary",
	.summary = "tell in short what a log says",
	.main = cmd_summary,
	.operands = "LOG [LOG]",
	.min_operands = 1,
	.max_operands = 2,
	.options = options,
	.about = "Prints the job, the time of its I/O, the slowest file, findings (ioscribe advise), what each\n"
		 "module moved and how fast, the access sizes, activity over time where the log has heatmaps,\n"
		 "the busiest files, how the processes ended, and the ledger: whether all operations seen were\n"
		 "recorded, and if not, what was lost or is approximate. Lines have at most 80 columns, but for\n"
		 "names of files at their end. Of two logs it prints what changed: findings, figures, files.\n\n"
		 "The performance is estimated as Darshan does: bytes moved by the time of the slowest rank\n"
		 "in files of its own plus the time of the slowest rank in each shared file. Incomplete logs\n"
		 "are summarised too and say so.",
	.examples = examples,
};
