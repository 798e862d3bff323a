// SPDX-License-Identifier: BSD-3-Clause
/*
 * ioscribe-serve: opens the store read-only, creates or reads a token, serves until a signal. The store is closed after
 * the server's thread has ended.
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "util/cmd/serve/http.h"
#include "util/tool/command.h"

#define TOKEN_BYTES   16 /* random; printed as 32 digits */
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

/* The first line of the file, or a random token without a file. */
static int make_token(const char *path, char *token, struct scribe_err *err)
{
	unsigned char bytes[TOKEN_BYTES];
	FILE *f;

	if (!path) {
		if (getrandom(bytes, sizeof(bytes), 0) != sizeof(bytes))
			return scribe_err_set(err, -errno, "token: %s", strerror(errno));
		for (size_t i = 0; i < sizeof(bytes); i++)
			snprintf(token + 2 * i, 3, "%02x", bytes[i]);
		return 0;
	}
	f = fopen(path, "re");
	if (!f)
		return scribe_err_set(err, -errno, "%s: %s", path, strerror(errno));
	if (!fgets(token, SCRIBE_SERVE_TOKEN, f))
		*token = 0;
	fclose(f);
	token[strcspn(token, "\r\n")] = 0;
	/* A token is part of a URL: only characters that need no escape there. */
	if (strlen(token) < 16 ||
	    strspn(token, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~") != strlen(token))
		return scribe_err_set(err, -EINVAL,
				      "%s: its first line is no token: 16 to 255 letters, digits and -._~", path);
	return 0;
}

static void announce(const struct options *o, uint16_t port)
{
	int host = (int)(strrchr(o->listen, ':') - o->listen);

	/* Browsers do not send what follows '#'. A token from a file is not printed. */
	printf("http://%.*s:%u/page#token=%s\n", host, o->listen, port, o->token_file ? "TOKEN" : o->serve.token);
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
	struct scribe_http *http;
	uint16_t port;
	sigset_t ends;
	int rc;

	sigemptyset(&ends);
	sigaddset(&ends, SIGINT);
	sigaddset(&ends, SIGTERM);
	sigaddset(&ends, SIGHUP);
	signal(SIGPIPE, SIG_IGN);
	rc = make_token(o->token_file, o->serve.token, err);
	if (rc >= 0)
		rc = scribe_question_folders(o->serve.folders, sizeof(o->serve.folders), err);
	if (rc >= 0)
		rc = scribe_store_open(o->serve.db, true, NULL, NULL, &o->serve.store, err);
	/* After the database is open, because that may hang; before threads exist, which inherit the mask. */
	sigprocmask(SIG_BLOCK, &ends, NULL);
	if (rc >= 0)
		rc = scribe_http_start(&o->serve, o->listen, &http, &port, err);
	if (rc >= 0) {
		announce(o, port);
		run(o, http, &ends);
	}
	scribe_store_close(o->serve.store);
	return rc;
}

int main(int argc, char **argv)
{
	static const struct scribe_command *const commands[] = {&scribe_command_serve, NULL};
	static struct options o = {.listen = DEFAULT_PLACE};
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
