// SPDX-License-Identifier: BSD-3-Clause
/*
 * Stands in for libldms where there is none: the functions that ioscribe-publish finds by name. The "host" is
 * a folder, the "port" a file in it that messages are appended to, a line each; a thread says what LDMS's
 * would. As long as the file PORT.down is there nothing is reached, and connections end; with PORT.hangs a
 * connection is waited for without an end. With STANDIN_MESSAGES it is a version with message channels, whose
 * transports take one argument less.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/streams/ldms_standin.h"

enum { CONNECTED = 0, REJECTED = 1, ERROR = 2, DISCONNECTED = 3, SENT = 6 };

struct event {
	int type;
	void *data;
	size_t bytes;
};

typedef void (*event_fn)(void *x, struct event *e, void *arg);

struct transport {
	char auth[64], path[600];
	event_fn on_event;
	void *arg;
	int type; /* that it is told now */
	unsigned refused;
};

static void *say(void *arg)
{
	struct transport *t = arg;
	struct event e = {.type = t->type};

	usleep(1000);
	t->on_event(t, &e, t->arg);
	return NULL;
}

static void say_aside(struct transport *t, int type)
{
	pthread_t thread;

	t->type = type;
	pthread_create(&thread, NULL, say, t);
	pthread_join(thread, NULL);
}

static int is_there(const struct transport *t, const char *what)
{
	char path[700];

	snprintf(path, sizeof(path), "%s.%s", t->path, what);
	return access(path, F_OK) == 0;
}

static void *make(const char *xprt, const char *auth)
{
	struct transport *t = strcmp(xprt, "sock") ? NULL : calloc(1, sizeof(*t));

	if (t)
		snprintf(t->auth, sizeof(t->auth), "%s", auth);
	else
		errno = ENOENT;
	return t;
}

/* As libldms declares them. */
int ldms_xprt_connect_by_name(void *x, const char *host, const char *port, event_fn on_event, void *arg);
void ldms_xprt_close(void *x);
#ifdef STANDIN_MESSAGES
void *ldms_xprt_new_with_auth(const char *xprt, const char *auth, void *options);
int ldms_msg_publish(void *x, const char *tag, int type, void *cred, uint32_t perm, const char *data, size_t bytes);

void *ldms_xprt_new_with_auth(const char *xprt, const char *auth, void *options)
{
	return options ? NULL : make(xprt, auth);
}

int ldms_msg_publish(void *x, const char *tag, int type, void *cred, uint32_t perm, const char *data, size_t bytes)
{
	struct transport *t = x;

	/* no quota, now and then */
	if (++t->refused % 5 == 0)
		return EAGAIN;
	return cred || perm != 0444 ? EINVAL : standin_put(x, "msg", tag, type, data, bytes);
}
#else
void *ldms_xprt_new_with_auth(const char *xprt, void *log, const char *auth, void *options);

void *ldms_xprt_new_with_auth(const char *xprt, void *log, const char *auth, void *options)
{
	return options || log ? NULL : make(xprt, auth);
}
#endif

int ldms_xprt_connect_by_name(void *x, const char *host, const char *port, event_fn on_event, void *arg)
{
	struct transport *t = x;

	snprintf(t->path, sizeof(t->path), "%s/%s", host, port);
	t->on_event = on_event;
	t->arg = arg;
	while (is_there(t, "hangs"))
		pause();
	say_aside(t, is_there(t, "down") ? ERROR : strcmp(t->auth, "none") ? REJECTED : CONNECTED);
	return 0;
}

void ldms_xprt_close(void *x)
{
	(void)x;
}

int standin_put(void *x, const char *api, const char *tag, int type, const char *data, size_t bytes)
{
	struct transport *t = x;
	char *line;
	int fd, n;

	if (is_there(t, "down")) {
		say_aside(t, DISCONNECTED);
		return ENOTCONN;
	}
	/* a string, with its NUL */
	if (type != 1 || data[bytes - 1] || strlen(data) != bytes - 1)
		return EINVAL;
	fd = open(t->path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
	n = asprintf(&line, "%s %s %s\n", api, tag, data);
	if (fd < 0 || n < 0 || write(fd, line, (size_t)n) != n)
		abort();
	free(line);
	close(fd);
	say_aside(t, SENT);
	return 0;
}
