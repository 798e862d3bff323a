// SPDX-License-Identifier: BSD-3-Clause
/*
 * Samples of this node to one sink. Keeps the line being sent and the newest one after it; older ones are
 * dropped and counted. Works without a daemon. Must not know what a sample contains, nor kinds of sinks.
 */
#include "util/cmd/publish/publish_cmd.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "logfmt/base/proto.h"
#include "util/publish/node_sample.h"
#include "util/publish/sink.h"

#define RETRY_MS      200
#define LOOK_MS       50   /* poll interval of a sink without a descriptor */
#define END_MS        1000 /* to send the last sample after a signal */
#define REST_MS       5000 /* for the sink to deliver what it accepted */
#define STUCK_SECONDS 8    /* SIGALRM so long after a signal, because sinks may hang */
#define NODE          64   /* bytes of a node's name with NUL, as in messages of jobs */

struct node_publisher {
	const char *self;
	struct scribe_sink *sink;
	char node[NODE];
	struct scribe_out line, next;
	size_t sent;
	unsigned long long missing;
	struct scribe_err why; /* the sink's last failure; empty after a success */
};

static volatile sig_atomic_t interrupted;
static int wake = -1; /* eventfd: also ends a wait that starts just after the signal */

static void on_signal(int sig)
{
	const uint64_t one = 1;
	const int code = errno;

	(void)sig;
	interrupted = 1;
	alarm(STUCK_SECONDS);
	if (write(wake, &one, sizeof(one)) < 0)
		(void)0;
	errno = code;
}

int scribe_publish_node_seconds(const char *value, int *ret_seconds, struct scribe_err *err)
{
	char *end;
	long n = strtol(value, &end, 10);

	if (value[0] < '0' || value[0] > '9' || *end || n < 1 || n > 3600)
		return scribe_err_set(err, -EINVAL, "--node: '%.40s' is no number of seconds from 1 to 3600", value);
	*ret_seconds = (int)n;
	return 0;
}

static int take_sample(struct node_publisher *p, struct scribe_err *err)
{
	struct scribe_out *to = p->sent ? &p->next : &p->line;
	/* A new sample replaces one that waits, but not one that is partly sent: lines must stay whole. */
	struct scribe_node_sample s;
	struct timespec now;
	int rc = scribe_node_sample_read("", &s, err);

	if (rc < 0)
		return rc;
	p->missing += to->len > 0;
	to->len = 0;
	clock_gettime(CLOCK_REALTIME, &now);
	scribe_node_sample_put(&s, p->node, (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000, to);
	return to->error ? scribe_err_set(err, -to->error, "out of memory") : 0;
}

static void line_done(struct node_publisher *p)
{
	const struct scribe_out done = p->line;

	p->line = p->next;
	p->next = done;
	p->next.len = p->sent = 0;
	p->why.text[0] = 0;
}

/* Returns ms to wait before the next call; 0: none; negative: until the sink's descriptor is writable. */
static int send_some(struct node_publisher *p)
{
	struct scribe_sink *sink = p->sink;
	struct scribe_err err = {0};
	size_t n = 0;
	int rc = sink->is_open ? 0 : sink->kind->open(sink, &err);

	if (rc >= 0)
		rc = sink->kind->send(sink, p->line.buf + p->sent, p->line.len - p->sent, &n, &err);
	p->sent += n;
	if (rc == -EPIPE) { /* the next reader must get the line from its start */
		p->missing += sink->kind->close(sink, 0);
		p->sent = 0;
	}
	if (rc < 0) {
		if (!p->why.text[0])
			scribe_complain(p->self, "%s; it is tried again", err.text);
		p->why = err;
		return RETRY_MS;
	}
	if (p->sent == p->line.len)
		line_done(p);
	return n ? 0 : sink->fd >= 0 ? -1 : LOOK_MS;
}

/* Sends until `until_ms` or a signal; with `at_the_end`, when a signal has come, until all is sent. */
static void send_until(struct node_publisher *p, int64_t until_ms, bool at_the_end)
{
	int64_t left_ms;

	while ((left_ms = until_ms - scribe_msg_now_ms()) > 0 && (at_the_end ? p->line.len > 0 : !interrupted)) {
		const int wait_ms = p->line.len ? send_some(p) : (int)left_ms;
		struct pollfd fds[] = {{.fd = at_the_end ? -1 : wake, .events = POLLIN},
				       {.fd = wait_ms < 0 ? p->sink->fd : -1, .events = POLLOUT}};

		if (wait_ms)
			poll(fds, 2, wait_ms < 0 ? RETRY_MS : wait_ms);
	}
}

static int run(struct node_publisher *p, int seconds, struct scribe_err *err)
{
	int64_t due_ms = scribe_msg_now_ms();

	while (!interrupted) {
		int rc = take_sample(p, err);

		if (rc < 0)
			return rc;
		/* Intervals that passed meanwhile (a suspended node) are skipped, not sent in a burst. */
		do
			due_ms += (int64_t)seconds * 1000;
		while (due_ms <= scribe_msg_now_ms());
		send_until(p, due_ms, false);
	}
	send_until(p, scribe_msg_now_ms() + END_MS, true);
	return 0;
}

static int report(struct node_publisher *p, const struct scribe_err *err)
{
	p->missing += (p->line.len > 0) + (p->next.len > 0);
	if (p->sink->is_open)
		p->missing += p->sink->kind->close(p->sink, REST_MS);
	if (err->text[0])
		return scribe_complain_err(p->self, err);
	if (!p->missing)
		return SCRIBE_EXIT_OK;
	return scribe_complain(p->self, "%llu sample%s missing in %s: %s", p->missing,
			       p->missing == 1 ? " is" : "s are", p->sink->spec,
			       p->why.text[0]    ? p->why.text
			       : p->sink->why[0] ? p->sink->why
						 : "it did not take them in time");
}

static void watch_signals(void)
{
	const struct sigaction on_end = {.sa_handler = on_signal}, ignore = {.sa_handler = SIG_IGN};

	sigaction(SIGPIPE, &ignore, NULL);
	sigaction(SIGTERM, &on_end, NULL);
	sigaction(SIGINT, &on_end, NULL);
	sigaction(SIGHUP, &on_end, NULL);
}

int scribe_publish_node(const char *self, struct scribe_sink *sink, int seconds)
{
	const struct scribe_sink_options *o = &sink->options;
	struct node_publisher p = {.self = self, .sink = sink};
	struct scribe_err err = {0};
	int rc, status;

	if (o->is_csv || o->every > 1 || o->rate || o->modules != UINT64_MAX) {
		scribe_complain(self, "--node: samples are not thinned, nor CSV: no csv, every, rate, modules");
		return SCRIBE_EXIT_USAGE;
	}
	wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (wake < 0)
		return scribe_complain(self, "cannot make an eventfd: %s", strerror(errno));
	gethostname(p.node, sizeof(p.node) - 1);
	watch_signals();
	rc = scribe_out_open_memory(&p.line, &err);
	if (rc == 0)
		rc = scribe_out_open_memory(&p.next, &err);
	if (rc == 0)
		rc = run(&p, seconds, &err);
	status = report(&p, &err);
	scribe_out_close(&p.line);
	scribe_out_close(&p.next);
	return status;
}
