// SPDX-License-Identifier: BSD-3-Clause
/*
 * A publisher: reads the operations of one job from the daemon's ring, makes messages of them, sends
 * these to one sink. Owns the ring's end, the sink and a buffer of lines; the ring is the queue, so that a
 * sink that blocks costs nobody else anything. Runs in the process `ioscribe-publish` with the identity of
 * whoever started it. Must not know what messages say, nor kinds of sinks.
 */
#include "util/cmd/publish/publish_cmd.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "logfmt/base/proto.h"
#include "util/cmd/publish/publish_guard.h"
#include "util/link/service_link.h"
#include "util/publish/message.h"
#include "util/publish/publish_ring.h"
#include "util/publish/sink.h"

#define ANSWER_MS 10000
#define LOOK_MS   50     /* between looks at an empty ring */
#define RETRY_MS  200    /* between attempts at a sink, or at a daemon that is gone */
#define AGAIN_MS  30000  /* another daemon, when one is gone */
#define REST_MS   5000   /* for what is left when the job has ended */
#define TOTALS_MS 10000  /* between totals in the stream */
#define LINES     131072 /* bytes of messages sent at once */

struct publisher {
	const char *self, *key, *job; /* "job_id" or "pid", and its value */
	char socket[SCRIBE_PATH_MAX];
	int notify; /* -1: nobody waits */
	int node_seconds; /* between samples of the node; 0: a job's operations */
	struct scribe_publish_ring ring;
	struct scribe_sink sink;
	struct scribe_messages *messages;
	struct scribe_out lines;
	size_t sent;          /* bytes of them */
	size_t extra;         /* bytes at their beginning that are no new operation's message */
	unsigned long long undelivered; /* messages that the sink had taken */
	bool had_reader;      /* the sink has been open before */
	uint64_t lost;        /* operations, in rings that are closed */
	int64_t totals_ms;    /* when totals are due again */
	int64_t give_up_ms;   /* 0: the job goes on */
	struct scribe_err why; /* the sink's last failure; no text: none */
};

static int take(void *ctx, int key, const char *value, struct scribe_err *err)
{
	struct publisher *p = ctx;
	char *end;

	if (key == SCRIBE_PUBLISH_KEY_NODE)
		return scribe_publish_node_seconds(value, &p->node_seconds, err);
	if (key != SCRIBE_PUBLISH_KEY_NOTIFY) {
		p->key = key == SCRIBE_PUBLISH_KEY_JOB ? "job_id" : "pid";
		p->job = value;
		return 0;
	}
	p->notify = (int)strtol(value, &end, 10);
	if (value[0] < '0' || value[0] > '9' || *end || p->notify > 1023)
		return scribe_err_set(err, -EINVAL, "--notify %.20s is no descriptor", value);
	return 0;
}

static void nap(int ms)
{
	const struct timespec t = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000l};

	nanosleep(&t, NULL);
}

/* The job is over, or nobody wants more: what is left has so long. */
static void ends(struct publisher *p)
{
	if (!p->give_up_ms)
		p->give_up_ms = scribe_msg_now_ms() + REST_MS;
}

/* Is there still time to send anything? */
static bool goes_on(struct publisher *p)
{
	if (scribe_publish_guard_ends() || scribe_publish_ring_ended(&p->ring))
		ends(p);
	return !p->give_up_ms || scribe_msg_now_ms() < p->give_up_ms;
}

/* ---- the sink ---- */

/* Whoever reads now has had no open yet: they go in front of the first line that was not sent as a whole. */
static int tell_opens(struct publisher *p, struct scribe_err *err)
{
	struct scribe_out all;
	size_t from = p->sent;
	int rc;

	const bool again = p->had_reader;

	p->had_reader = true;
	while (from && p->lines.buf[from - 1] != '\n')
		from--;
	rc = scribe_out_open_memory(&all, err);
	if (rc < 0)
		return rc;
	scribe_messages_begin(p->messages, again, &all);
	p->extra = all.len + (from < p->extra ? p->extra - from : 0);
	scribe_out_bytes(&all, p->lines.buf + from, p->lines.len - from);
	scribe_out_close(&p->lines);
	p->lines = all;
	p->sent = 0;
	return 0;
}

/* Have the sink open. 0, or negative: later. */
static int reach(struct publisher *p, struct scribe_err *err)
{
	int rc = p->sink.is_open ? 1 : p->sink.kind->open(&p->sink, err);

	return rc == 0 ? tell_opens(p, err) : rc < 0 ? rc : 0;
}

/* Send some of the lines. 0, or negative: later. */
static int send_some(struct publisher *p, struct scribe_err *err)
{
	struct pollfd room = {.fd = p->sink.fd, .events = POLLOUT};
	size_t n = 0;
	int rc = p->sink.kind->send(&p->sink, p->lines.buf + p->sent, p->lines.len - p->sent, &n, err);

	p->sent += n;
	/* what it had taken and not delivered is lost with it */
	if (rc == -EPIPE)
		p->undelivered += p->sink.kind->close(&p->sink, 0);
	else if (rc == 0 && !n && room.fd >= 0)
		poll(&room, 1, LOOK_MS);
	else if (rc == 0 && !n)
		nap(LOOK_MS / 10);
	return rc;
}

/* The first failure of several is told at once: the sink may come back, or not. */
static void failed(struct publisher *p, const struct scribe_err *err)
{
	if (!p->why.text[0])
		scribe_complain(p->self, "%s; it is tried again", err->text);
	p->why = *err;
}

/* Send all lines, as long as there is time. */
static void deliver(struct publisher *p)
{
	while (p->sent < p->lines.len && goes_on(p)) {
		struct scribe_err err = {0};
		int rc = reach(p, &err);

		if (rc == 0)
			rc = send_some(p, &err);
		if (rc == 0)
			continue;
		failed(p, &err);
		nap(RETRY_MS);
	}
	if (p->sent < p->lines.len)
		return;
	p->lines.len = p->sent = p->extra = 0;
	p->why.text[0] = 0;
}

/* ---- the ring ---- */

/* Messages of what is there, as many as fit. */
static int fill(struct publisher *p)
{
	const struct scribe_publish_frame *f;
	int rc = 0;

	while (rc >= 0 && p->lines.len < LINES && (f = scribe_publish_ring_next(&p->ring))) {
		rc = scribe_messages_take(p->messages, f, &p->lines);
		scribe_publish_ring_done(&p->ring, f);
	}
	return rc < 0 ? rc : p->lines.error ? -p->lines.error : 0;
}

/* The daemon has gone while the job went on: another one may have taken it up. */
static int subscribe_again(struct publisher *p, struct scribe_err *err)
{
	const int64_t until = scribe_msg_now_ms() + AGAIN_MS;
	int rc;

	scribe_publish_guard_watch(NULL);
	scribe_publish_ring_close(&p->ring);
	do {
		nap(RETRY_MS);
		err->text[0] = 0;
		rc = scribe_publish_ring_open(&p->ring, p->socket, p->key, p->job, ANSWER_MS, err);
	} while (rc < 0 && !scribe_publish_guard_ends() && scribe_msg_now_ms() < until);
	if (rc == 0)
		scribe_publish_guard_watch(&p->ring);
	return rc;
}

/* Lines of operations that were not sent as a whole. */
static unsigned long long lines_left(const struct publisher *p)
{
	unsigned long long n = 0;

	for (size_t i = p->sent > p->extra ? p->sent : p->extra; i < p->lines.len; i++)
		n += p->lines.buf[i] == '\n';
	return n;
}

/* Messages of what was not taken from the ring. */
static unsigned long long frames_left(struct publisher *p)
{
	const struct scribe_publish_frame *f;
	unsigned long long n = 0;

	while ((f = scribe_publish_ring_next(&p->ring))) {
		p->lines.len = 0;
		n += scribe_messages_take(p->messages, f, &p->lines) != 0;
		scribe_publish_ring_done(&p->ring, f);
	}
	return n;
}

/* Totals go into the stream now and then, before what is sent next, and at its end. */
static void put_totals(struct publisher *p, bool last)
{
	const int64_t now = scribe_msg_now_ms();

	if (p->lines.len || (!last && now < p->totals_ms))
		return;
	p->totals_ms = now + TOTALS_MS;
	scribe_messages_totals(p->messages, p->lost + scribe_publish_ring_lost(&p->ring), last, &p->lines);
	p->extra = p->lines.len;
}

static int publish(struct publisher *p, struct scribe_err *err)
{
	int rc = reach(p, err);

	/* one that is not there is told before anything has to be sent */
	if (rc < 0)
		failed(p, err);
	err->text[0] = 0;
	for (;;) {
		/* read first: what was written before it ended is there then */
		const bool ended = scribe_publish_ring_ended(&p->ring) || scribe_publish_guard_ends();

		put_totals(p, false);
		rc = fill(p);
		if (rc < 0)
			return scribe_err_set(err, rc, "out of memory");
		if (p->lines.len) {
			deliver(p);
			if (p->give_up_ms && !goes_on(p))
				return 0;
			continue;
		}
		if (ended) {
			put_totals(p, true);
			deliver(p);
			return 0;
		}
		if (scribe_publish_ring_wait(&p->ring, LOOK_MS) || scribe_publish_ring_ended(&p->ring))
			continue;
		p->lost += scribe_publish_ring_lost(&p->ring);
		rc = subscribe_again(p, err);
		if (rc < 0)
			return rc;
	}
}

/* A terminal's signals are for the command, whose end is awaited, where there is one. */
static int start_guard(const struct publisher *p, struct scribe_err *err)
{
	sigset_t ends;

	signal(SIGPIPE, SIG_IGN);
	sigemptyset(&ends);
	sigaddset(&ends, SIGTERM);
	if (p->notify < 0) {
		sigaddset(&ends, SIGINT);
		sigaddset(&ends, SIGHUP);
	} else {
		signal(SIGINT, SIG_IGN);
		signal(SIGHUP, SIG_IGN);
	}
	return scribe_publish_guard_start(p->self, p->sink.spec, &ends, err);
}

static int open_all(struct publisher *p, struct scribe_err *err)
{
	int rc = start_guard(p, err);

	if (rc == 0)
		rc = scribe_messages_new(&p->messages, &p->sink.options, err);
	if (rc == 0)
		rc = scribe_out_open_memory(&p->lines, err);
	if (rc == 0)
		rc = scribe_publish_ring_open(&p->ring, p->socket, p->key, p->job, ANSWER_MS, err);
	if (rc == 0)
		scribe_publish_guard_watch(&p->ring);
	if (rc == 0 && p->notify >= 0) {
		if (write(p->notify, "", 1) < 0)
			(void)0; /* whoever started this is gone: the job's end tells */
		close(p->notify);
	}
	return rc;
}

/* What is missing, and why; the exit status. */
static int report(struct publisher *p, const struct scribe_err *err)
{
	const uint64_t lost = p->lost + scribe_publish_ring_lost(&p->ring);
	const int ms = p->give_up_ms ? scribe_msg_left_ms(p->give_up_ms) : REST_MS;
	unsigned long long left = lines_left(p);

	if (p->sink.is_open)
		p->undelivered += p->sink.kind->close(&p->sink, ms);
	left += frames_left(p) + p->undelivered;

	if (err->text[0])
		return scribe_complain_err(p->self, err);
	if (lost)
		scribe_complain(p->self, "%llu operations are missing in %s: they came faster than it took them",
				(unsigned long long)lost, p->sink.spec);
	if (left)
		scribe_complain(p->self, "%llu operations are missing in %s: %s", left, p->sink.spec,
				p->why.text[0]    ? p->why.text
				: p->sink.why[0] ? p->sink.why
						 : "it did not take them in time");
	return lost || left ? SCRIBE_EXIT_FAILED : SCRIBE_EXIT_OK;
}

int scribe_publish_main(int argc, char **argv)
{
	static struct publisher p;
	const char *socket = getenv(SCRIBE_ENV_SOCKET);
	struct scribe_err err = {0};
	int first, status;

	p = (struct publisher){.self = argv[0],
			       .notify = -1,
			       .ring = {.sock = -1},
			       .sink = {.fd = -1}};
	status = scribe_args_read(&scribe_command_publish, argc, argv, take, &p, &first);
	if (status >= 0)
		return status;
	if (!p.job == !p.node_seconds || scribe_sink_of(argv[first], &p.sink, &err) < 0) {
		if (err.text[0])
			scribe_complain_err(argv[0], &err);
		else
			scribe_complain(argv[0], "one of --job ID, --pid PID and --node SECONDS is needed");
		return SCRIBE_EXIT_USAGE;
	}
	if (p.node_seconds)
		return scribe_publish_node(argv[0], &p.sink, p.node_seconds);
	if (socket && socket[0])
		snprintf(p.socket, sizeof(p.socket), "%s", socket);
	else
		snprintf(p.socket, sizeof(p.socket), "%s/%s", scribe_job_dir(), SCRIBE_SERVICE_SOCKET);
	status = open_all(&p, &err);
	if (status == 0)
		status = publish(&p, &err);
	scribe_publish_guard_end();
	status = report(&p, &err);
	scribe_publish_guard_watch(NULL);
	scribe_publish_ring_close(&p.ring);
	scribe_out_close(&p.lines);
	scribe_messages_free(p.messages);
	return status;
}
