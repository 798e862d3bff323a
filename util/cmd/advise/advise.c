// SPDX-License-Identifier: BSD-3-Clause
/* The command `ioscribe advise`. */
#include <unistd.h>

#include "util/advice/findings.h"
#include "util/tool/command.h"

struct options {
	struct scribe_rules rules;
	const char *rules_file;
	bool json, list;
};

static int take(void *ctx, int key, const char *value, struct scribe_err *err)
{
	struct options *o = ctx;

	if (key == 'r')
		o->rules_file = value;
	else
		*(key == 'j' ? &o->json : &o->list) = true;
	return 0;
}

static int advise(const char *path, const struct options *o, struct scribe_err *err)
{
	static struct scribe_findings found;
	struct scribe_facts facts = {0};
	struct scribe_log log;
	struct scribe_out out = {0};
	int rc = scribe_log_open(&log, path, SCRIBE_LOG_NAMES, err);

	if (rc >= 0)
		rc = scribe_facts_read(&facts, &log, err);
	if (rc >= 0)
		rc = scribe_out_open(&out, STDOUT_FILENO, err);
	if (rc >= 0) {
		scribe_findings_of(&facts, &o->rules, &found);
		if (o->json) {
			scribe_out_text(&out, "{\"schema\":\"ioscribe_advice\",\"version\":1,\"findings\":");
			scribe_findings_json(&facts, &found, &out);
			scribe_out_text(&out, "}\n");
		} else {
			scribe_findings_print(&facts, &found, &out);
		}
		rc = scribe_out_flush(&out, err);
	}
	scribe_out_close(&out);
	scribe_facts_clear(&facts);
	scribe_log_close(&log);
	return rc;
}

static int list(const struct options *o, struct scribe_err *err)
{
	struct scribe_out out;
	int rc = scribe_out_open(&out, STDOUT_FILENO, err);

	if (rc < 0)
		return rc;
	scribe_rules_print(&o->rules, &out);
	rc = scribe_out_flush(&out, err);
	scribe_out_close(&out);
	return rc;
}

static int cmd_advise(int argc, char **argv)
{
	struct options o = {0};
	struct scribe_err err = {0};
	int first, rc = 0, status = scribe_args_read(&scribe_command_advise, argc, argv, take, &o, &first);

	if (status >= 0)
		return status;
	if (!o.list && first == argc) {
		scribe_complain(argv[0], "no log named; see ioscribe advise --help");
		return SCRIBE_EXIT_USAGE;
	}
	scribe_rules_default(&o.rules);
	if (o.rules_file)
		rc = scribe_rules_file(&o.rules, o.rules_file, &err);
	if (rc >= 0)
		rc = o.list ? list(&o, &err) : advise(argv[first], &o, &err);
	scribe_rules_clear(&o.rules);
	return rc < 0 ? scribe_complain_err(argv[0], &err) : SCRIBE_EXIT_OK;
}

static const struct scribe_option options[] = {
	{"json", 'j', NULL, "print JSON (schema ioscribe_advice, version 1)"},
	{"rules", 'r', "FILE", "change and add rules: docs/advice.md"},
	{"list", 'l', NULL, "print the facts and rules, in the form of such a file, instead of findings"},
	{NULL, 0, NULL, NULL},
};

static const char *const examples[] = {
	"ioscribe advise job.darshan",
	"what was slow, with the evidence, and what to change",
	NULL,
};

const struct scribe_command scribe_command_advise = {
	.name = "advise",
	.summary = "print what was slow in a job, and what to change",
	.main = cmd_advise,
	.operands = "[LOG]",
	.min_operands = 0,
	.max_operands = 1,
	.options = options,
	.about = "Compares the log's counters with rules. Each finding has a severity, its evidence (numbers and\n"
		 "the file with the largest part) and what to do. Without findings it prints one line.",
	.examples = examples,
};
