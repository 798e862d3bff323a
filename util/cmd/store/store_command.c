// SPDX-License-Identifier: BSD-3-Clause
/* `ioscribe store`: options, help and start of ioscribe-store, so that others do not load databases. */
#include <stddef.h>

#include "util/tool/command.h"
#include "util/tool/libexec.h"

static int cmd_store(int argc, char **argv)
{
	(void)argc;
	return scribe_libexec_run("ioscribe-store", "fills stores", argv);
}

static const struct scribe_option options[] = {
	{"db", 'd', "DB",
	 "the store: a file name, of an SQLite database, made if it is not there; or postgresql://..."},
	{"follow", 'f', NULL, "go on with what is written to files and topics, until a signal ends it"},
	{"stream-user", 's', "USER",
	 "whose connections to a socket speak for all users, as root's and those of who runs the store do"},
	{"erase", 'e', "USER", "erase all that the store has of this user's jobs, first"},
	{"keep", 'k', "DAYS", "delete operations and samples of more than DAYS days ago, now and every hour"},
	{NULL, 0, NULL, NULL},
};

static const char *const examples[] = {
	"ioscribe store --db io.sqlite logs/*.darshan",
	"the traced operations of finished logs",
	"ioscribe store --db io.sqlite --follow events.json",
	"messages of a running job, as they are written",
	"ioscribe store --db io.sqlite --keep 90 unix:events.sock",
	"messages of whoever connects to the socket; those of the last 90 days stay",
	"ioscribe store --db io.sqlite --follow kafka:broker1:9092,broker2:9092/io",
	"messages of a topic of Kafka, as they arrive",
	"ioscribe store --db postgresql://ioscribe@db.site/io unix:events.sock",
	"the same, into a PostgreSQL database",
	NULL,
};

const struct scribe_command scribe_command_store = {
	.name = "store",
	.summary = "put streamed or logged operations into a database",
	.main = cmd_store,
	.operands = "[INPUT...]",
	.min_operands = 0,
	.max_operands = -1,
	.options = options,
	.about = "Reads I/O operations into the database that ioscribe query asks. An INPUT is a file or "
		 "named\n"
		 "pipe with the messages of a stream, one JSON object a line, as Darshan's connector for LDMS "
		 "sends\n"
		 "them; - for standard input; unix:PATH, a socket that is made and listened at;\n"
		 "kafka:HOST:PORT[,HOST:PORT...]/TOPIC, a topic of Kafka, a message of which is one object; or a\n"
		 "finished log, whose traced operations (DXT) are taken. docs/store.md describes the tables.\n\n"
		 "An operation that is there already is not added again, and of a file or topic that was read "
		 "before\n"
		 "only what is new is read. Several stores may write to one database. Lines that are no message "
		 "are "
		 "named\n"
		 "with file and line, counted and left out, and the exit status is 1; a last line without its "
		 "end is\n"
		 "left for the next time. A job's operations come from its stream or from its log, whichever "
		 "was\n"
		 "there first. A job id that was silent for a day is another job's when it comes again. Samples of\n"
		 "nodes (ioscribe publish --node) are taken among messages.\n\n"
		 "A topic is read from the place that the database has, else from its beginning, in all its\n"
		 "partitions, up to where they end at that time; with --follow until a signal. No place is kept at\n"
		 "Kafka. librdkafka is loaded for it; the file that IOSCRIBE_KAFKA_CONFIG names holds settings of\n"
		 "its own, such as logins. While no broker answers, --follow waits, with one line; else the exit\n"
		 "status is 1 after ten seconds.\n\n"
		 "Where the disk is full or the database's server gone, inputs that cannot be read again "
		 "(pipes,\n"
		 "sockets) and topics wait, with one line, until it goes on; files are left at the last line that was "
		 "committed.",
	.examples = examples,
};
