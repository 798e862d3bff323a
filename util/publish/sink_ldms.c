// SPDX-License-Identifier: BSD-3-Clause
/*
 * Messages to an LDMS daemon by streams, as Darshan's connector, or message channels. libldms is loaded by
 * function name, because versions differ. LDMS's threads call on_event. Must not know what messages contain.
 */
#include "util/publish/sink_ldms.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <time.h>

#include "logfmt/base/proto.h"

#define CONNECT_MS  5000
#define WAIT_NS     1000000
#define AHEAD_MOST  4096 /* messages accepted but not sent; LDMS keeps them in memory */
#define STREAM_TAG  "darshanConnector"
#define LINE_MOST   1048000u /* bytes of a message: LDMS's limit per transfer, beyond any message */
#define TYPE_JSON   1        /* LDMSD_STREAM_JSON, LDMS_MSG_JSON */
#define PERMISSIONS 0444

/* enum ldms_xprt_event_type, unchanged since LDMS 4.3. */
enum { CONNECTED = 0, REJECTED = 1, FAILED = 2, DISCONNECTED = 3, RECEIVED = 4, SENT = 6 };

struct event {
	int type; /* the first field of struct ldms_xprt_event */
};

typedef void (*on_event_fn)(void *x, const struct event *e, void *arg);

static struct {
	void *(*new3)(const char *xprt, const char *auth, void *options);
	void *(*new4)(const char *xprt, void *log, const char *auth, void *options);
	int (*connect)(void *x, const char *host, const char *port, on_event_fn on_event, void *arg);
	void (*close)(void *x);
	int (*stream_publish)(void *x, const char *tag, int type, const char *data, size_t bytes);
	int (*msg_publish)(void *x, const char *tag, int type, void *cred, uint32_t perm, const char *data,
			   size_t bytes);
	bool is_loaded;
} ldms;

struct transport {
	void *x;
	char xprt[64], host[256], port[32], auth[64];
	const char *tag;
	bool is_msg;
	int state;      /* -1: connecting; otherwise the last connection event */
	uint64_t taken; /* messages accepted by LDMS */
	uint64_t sent;  /* messages that LDMS reported as sent */
	char *line;     /* LINE_MOST bytes */
	struct transport *next;
};

/* Closed transports are never freed, because LDMS's threads may still call on_event with them. */
static struct transport *closed;

static void *function(void *library, const char *name)
{
	return library ? dlsym(library, name) : NULL;
}

static int load(struct scribe_err *err)
{
	void *core, *streams;
	void *make;

	if (ldms.is_loaded)
		return 0;
	core = dlopen("libldms.so.0", RTLD_NOW | RTLD_GLOBAL);
	if (!core)
		core = dlopen("libldms.so", RTLD_NOW | RTLD_GLOBAL);
	if (!core)
		return scribe_err_set(err, -ENOENT, "libldms cannot be loaded: %s", dlerror());
	streams = dlopen("libldmsd_stream.so.0", RTLD_NOW | RTLD_GLOBAL);
	if (!streams)
		streams = dlopen("libldmsd_stream.so", RTLD_NOW | RTLD_GLOBAL);
	make = function(core, "ldms_xprt_new_with_auth");
	*(void **)&ldms.msg_publish = function(core, "ldms_msg_publish");
	/* The version with the message API dropped the logging argument of this function. */
	*(void **)(ldms.msg_publish ? (void *)&ldms.new3 : (void *)&ldms.new4) = make;
	*(void **)&ldms.connect = function(core, "ldms_xprt_connect_by_name");
	*(void **)&ldms.close = function(core, "ldms_xprt_close");
	*(void **)&ldms.stream_publish = function(streams, "ldmsd_stream_publish");
	if (!make || !ldms.connect || !ldms.close)
		return scribe_err_set(err, -ENOSYS, "libldms lacks a function of LDMS 4.3 or later");
	ldms.is_loaded = true;
	return 0;
}

static void on_event(void *x, const struct event *e, void *arg)
{
	struct transport *t = arg;

	(void)x;
	if (e->type <= DISCONNECTED)
		__atomic_store_n(&t->state, e->type, __ATOMIC_RELEASE);
	else if (e->type == SENT)
		__atomic_fetch_add(&t->sent, 1, __ATOMIC_RELAXED);
}

static int state_of(const struct transport *t)
{
	return __atomic_load_n(&t->state, __ATOMIC_ACQUIRE);
}

static void nap(void)
{
	nanosleep(&(struct timespec){.tv_nsec = WAIT_NS}, NULL);
}

/* XPRT:HOST:PORT:AUTH with the defaults of Darshan's connector. HOST may be [IPv6]. */
static int take_rest(const char *rest, struct transport *t, struct scribe_err *err)
{
	const struct {
		char *to;
		size_t capacity;
		const char *fallback;
	} part[] = {{t->xprt, sizeof(t->xprt), "sock"},
		    {t->host, sizeof(t->host), "localhost"},
		    {t->port, sizeof(t->port), "412"},
		    {t->auth, sizeof(t->auth), "munge"}};

	for (size_t i = 0; i < sizeof(part) / sizeof(part[0]); i++) {
		const bool bracket = rest[0] == '[' && strchr(rest, ']');
		const char *end = bracket ? strchr(rest, ']') : rest + strcspn(rest, ":");
		const size_t n = (size_t)(end - rest) - bracket;

		if (n >= part[i].capacity)
			return scribe_err_set(err, -EINVAL, "'%.60s...' is too long", rest);
		snprintf(part[i].to, part[i].capacity, "%.*s", (int)n, rest + bracket);
		if (!n)
			snprintf(part[i].to, part[i].capacity, "%s", part[i].fallback);
		rest = end + bracket;
		if (*rest && *rest != ':')
			return scribe_err_set(err, -EINVAL, "XPRT:HOST:PORT:AUTH is expected");
		rest += *rest == ':';
	}
	return *rest ? scribe_err_set(err, -EINVAL, "XPRT:HOST:PORT:AUTH is expected") : 0;
}

static int check(const char *rest, struct scribe_err *err)
{
	struct transport t;

	return take_rest(rest, &t, err);
}

static bool host_of(const char *rest, unsigned n, char *host, size_t capacity)
{
	struct transport t;
	struct scribe_err err;

	return n == 0 && take_rest(rest, &t, &err) == 0 && snprintf(host, capacity, "%s", t.host) < (int)capacity;
}

static int connect_it(struct transport *t, struct scribe_err *err)
{
	const int64_t until = scribe_msg_now_ms() + CONNECT_MS;
	int rc;

	t->x = ldms.new3 ? ldms.new3(t->xprt, t->auth, NULL) : ldms.new4(t->xprt, NULL, t->auth, NULL);
	if (!t->x)
		return scribe_err_set(err, -EIO, "LDMS has no transport %s with authentication %s: %s", t->xprt,
				      t->auth, strerror(errno));
	t->state = -1;
	rc = ldms.connect(t->x, t->host, t->port, on_event, t);
	if (rc)
		return scribe_err_set(err, -EIO, "LDMS at %s:%s cannot be reached: %s", t->host, t->port,
				      strerror(rc < 0 ? -rc : rc));
	while (state_of(t) < 0 && scribe_msg_now_ms() < until)
		nap();
	if (state_of(t) == CONNECTED)
		return 0;
	return scribe_err_set(err, -EIO, "LDMS at %s:%s %s", t->host, t->port,
			      state_of(t) == REJECTED ? "has rejected the connection (authentication?)"
						      : "does not answer");
}

static void give_up(struct scribe_sink *s)
{
	struct transport *t = s->own;

	if (t && t->x)
		ldms.close(t->x);
	if (t) {
		t->next = closed;
		closed = t;
	}
	s->own = NULL;
	s->is_open = false;
}

static int open_any(struct scribe_sink *s, bool is_msg, struct scribe_err *err)
{
	const char *tag = getenv("DARSHAN_LDMS_STREAM");
	struct transport *t;
	int rc = load(err);

	if (rc < 0)
		return rc;
	if (is_msg ? !ldms.msg_publish : !ldms.stream_publish)
		return scribe_err_set(err, -ENOSYS, "this LDMS has no %s", is_msg ? "message channels" : "streams");
	t = calloc(1, sizeof(*t));
	if (t)
		t->line = malloc(LINE_MOST);
	if (!t || !t->line) {
		if (t)
			free(t->line);
		free(t);
		return scribe_err_set(err, -ENOMEM, "out of memory");
	}
	s->own = t;
	t->is_msg = is_msg;
	t->tag = tag && tag[0] ? tag : STREAM_TAG;
	rc = take_rest(s->rest, t, err);
	if (rc == 0)
		rc = connect_it(t, err);
	if (rc < 0)
		give_up(s);
	else
		s->is_open = true;
	return rc;
}

static int open_stream(struct scribe_sink *s, struct scribe_err *err)
{
	return open_any(s, false, err);
}

static int open_msg(struct scribe_sink *s, struct scribe_err *err)
{
	return open_any(s, true, err);
}

/* Messages that LDMS did not report as sent yet; 0 for versions without such reports. */
static uint64_t ahead_of(const struct transport *t)
{
	const uint64_t sent = __atomic_load_n(&t->sent, __ATOMIC_RELAXED);

	return sent && t->taken > sent ? t->taken - sent : 0;
}

/* Sends a message, NUL-terminated without its newline. 0, or an errno of either sign. */
static int publish(struct transport *t, const char *line, size_t n)
{
	if (n >= LINE_MOST)
		return EMSGSIZE;
	memcpy(t->line, line, n);
	t->line[n] = 0;
	if (t->is_msg)
		return ldms.msg_publish(t->x, t->tag, TYPE_JSON, NULL, PERMISSIONS, t->line, n + 1);
	return ldms.stream_publish(t->x, t->tag, TYPE_JSON, t->line, n + 1);
}

static int send_lines(struct scribe_sink *s, const char *lines, size_t bytes, size_t *ret_sent, struct scribe_err *err)
{
	struct transport *t = s->own;
	size_t at = 0;
	int rc = 0;

	while (at < bytes && ahead_of(t) < AHEAD_MOST && state_of(t) == CONNECTED) {
		const char *end = memchr(lines + at, '\n', bytes - at);

		rc = publish(t, lines + at, (size_t)(end - lines) - at);
		if (rc)
			break;
		t->taken++;
		at = (size_t)(end - lines) + 1;
	}
	*ret_sent = at;
	if (state_of(t) != CONNECTED)
		return scribe_err_set(err, -EPIPE, "LDMS at %s:%s has disconnected", t->host, t->port);
	rc = rc < 0 ? -rc : rc;
	/* Out of credits or buffers: retry later. */
	if (!rc || rc == EAGAIN || rc == ENOBUFS)
		return 0;
	return scribe_err_set(err, -EPIPE, "LDMS at %s:%s: %s", t->host, t->port, strerror(rc));
}

static size_t close_it(struct scribe_sink *s, int ms)
{
	const int64_t until = scribe_msg_now_ms() + ms;
	struct transport *t = s->own;
	size_t left = 0;

	if (!t)
		return 0;
	while (ahead_of(t) && state_of(t) == CONNECTED && scribe_msg_now_ms() < until)
		nap();
	left = ahead_of(t);
	give_up(s);
	return left;
}

const struct scribe_sink_kind scribe_sink_ldms = {
	.prefix = "ldms:",
	.form = "ldms:XPRT:HOST:PORT:AUTH",
	.check = check,
	.host = host_of,
	.open = open_stream,
	.send = send_lines,
	.close = close_it,
};

const struct scribe_sink_kind scribe_sink_ldms_msg = {
	.prefix = "ldms-msg:",
	.form = "ldms-msg:XPRT:HOST:PORT:AUTH",
	.check = check,
	.host = host_of,
	.open = open_msg,
	.send = send_lines,
	.close = close_it,
};
