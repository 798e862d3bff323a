// SPDX-License-Identifier: BSD-3-Clause
/* `ioscribe serve`: options, help and start of ioscribe-serve, so that others load neither databases nor HTTP. */
#include <stddef.h>

#include "util/tool/command.h"
#include "util/tool/libexec.h"

static int cmd_serve(int argc, char **argv)
{
	(void)argc;
	return scribe_libexec_run("ioscribe-serve", "shows stores", argv);
}

static const struct scribe_option options[] = {
	{"db", 'd', "DB", "the store: the file name of its SQLite database, or postgresql://..."},
	{"listen", 'l', "ADDRESS:PORT", "listen there (127.0.0.1:8750); port 0: one that is free"},
	{"token-file", 't', "FILE", "who asks has a token of FILE, not one made now; a line can name a user"},
	{"questions", 'q', "DIR", "look for questions in DIR, too, before those that are installed"},
	{"logs", 'L', "DIR", "offer a job's report (ioscribe report) if its log is below DIR"},
	{NULL, 0, NULL, NULL},
};

static const char *const examples[] = {
	"ioscribe serve --db io.sqlite",
	"prints the address of a page that shows the store, also while it is filled",
	"ioscribe serve --db postgresql://ioscribe@db.site/io --token-file /etc/ioscribe/token",
	"the same for a store in PostgreSQL, with a token that stays",
	NULL,
};

const struct scribe_command scribe_command_serve = {
	.name = "serve",
	.summary = "show a store of operations: a page, answers in JSON",
	.main = cmd_serve,
	.operands = "",
	.min_operands = 0,
	.max_operands = 0,
	.options = options,
	.about = "Answers by HTTP what ioscribe query answers, until a signal: to a page that lists the jobs and\n"
		 "shows each, also while it runs, and in JSON to dashboards. It listens at the loopback address by\n"
		 "default, and needs a token, which is in the printed address or in FILE. Nothing in the store\n"
		 "can be changed, and the page needs no other server. Answers are not encrypted: for other\n"
		 "machines put a server with TLS before it.\n\n"
		 "docs/store.md describes how to set up Grafana.",
	.examples = examples,
};
