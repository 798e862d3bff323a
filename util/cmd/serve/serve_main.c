// SPDX-License-Identifier: BSD-3-Clause
/*
 * ioscribe-serve: opens the store read-only, creates or reads tokens, serves until a signal. The store is closed after
 * the server's threads have ended.
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "util/cmd/serve/http.h"
#include "util/cmd/serve/slots.h"
#include "util/tool/command.h"

#define DEFAULT_PLACE "127.0.0.1:8750"
#define END_SECONDS   5 /* limit for a question that does not abort: a long database step, a server that hangs */

struct options {
	const char *listen, *token_file;
	struct scribe_serve serve;
};

static int take(void *ctx, int key, const char *value, struct scribe_err *err)
{
	struct options *o = ctx;

	switch (key) {
	case 'd':
		o->serve.db = value;
		return 0;
	case 'l':
		o->listen = value;
		return 0;
	case 't':
		o->token_file = value;
		return 0;
	case 'L':
		o->serve.logs = value;
		return 0;
	default:
		return scribe_question_folder_add(o->serve.folders, sizeof(o->serve.folders), value, err);
	}
}

static void announce(const struct options *o, uint16_t port)
{
	int host = (int)(strrchr(o->listen, ':') - o->listen);

	/* Browsers do not send what follows '#'. A token from a file is not printed. */
	printf("http://%.*s:%u/page#token=%s\n", host, o->listen, port,
	       o->token_file ? "TOKEN" : o->serve.users.all[0].token);
	fflush(stdout);
}

static void on_alarm(int number)
{
	_exit(SCRIBE_EXIT_OK);
}

static void run(struct options *o, struct scribe_http *http, const sigset_t *ends)
{
	const struct timespec often = {.tv_nsec = 500000000};

	while (sigtimedwait(ends, NULL, &often) < 0)
		scribe_http_look(http);
	__atomic_store_n(&o->serve.stop, true, __ATOMIC_RELAXED);
	signal(SIGALRM, on_alarm);
	alarm(END_SECONDS);
	scribe_http_stop(http);
}

static int serve(struct options *o, struct scribe_err *err)
{
	const struct scribe_serve_request all = {.uid = SCRIBE_SERVE_ALL};
	struct scribe_serve_slot *slot;
	struct scribe_http *http;
	uint16_t port;
	sigset_t ends;
	int rc;

	sigemptyset(&ends);
	sigaddset(&ends, SIGINT);
	sigaddset(&ends, SIGTERM);
	sigaddset(&ends, SIGHUP);
	signal(SIGPIPE, SIG_IGN);
	rc = scribe_serve_users_read(o->token_file, &o->serve.users, err);
	if (rc >= 0)
		rc = scribe_question_folders(o->serve.folders, sizeof(o->serve.folders), err);
	if (rc >= 0)
		rc = scribe_slot_take(&o->serve, &all, &slot, err); /* an unusable store is an error at the start */
	if (rc >= 0)
		scribe_slot_give(&o->serve, slot);
	/* After the database is open, because that may hang; before threads exist, which inherit the mask. */
	sigprocmask(SIG_BLOCK, &ends, NULL);
	if (rc >= 0)
		rc = scribe_http_start(&o->serve, o->listen, &http, &port, err);
	if (rc >= 0) {
		announce(o, port);
		run(o, http, &ends);
	}
	scribe_slots_close(&o->serve);
	free(o->serve.users.all);
	return rc;
}

int main(int argc, char **argv)
{
	static const struct scribe_command *const commands[] = {&scribe_command_serve, NULL};
	static struct options o = {.listen = DEFAULT_PLACE,
				   .serve = {.lock = PTHREAD_MUTEX_INITIALIZER,
					     .given = PTHREAD_COND_INITIALIZER,
					     .processes = PTHREAD_MUTEX_INITIALIZER}};
	struct scribe_err err = {0};
	int first, status;

	scribe_commands_set(commands);
	status = scribe_args_read(&scribe_command_serve, argc, argv, take, &o, &first);
	if (status >= 0)
		return status;
	if (!o.serve.db) {
		scribe_complain(argv[0], "--db DB is missing; see ioscribe serve --help");
		return SCRIBE_EXIT_USAGE;
	}
	return serve(&o, &err) < 0 ? scribe_complain_err(argv[0], &err) : scribe_print_end(argv[0]);
}
