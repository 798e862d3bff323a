// SPDX-License-Identifier: BSD-3-Clause
/*
 * A publisher: reads one job's operations from the daemon's ring and sends messages to one sink. The ring is
 * the queue, so a blocking sink delays only this process. Must not know kinds of sinks.
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
#define LOOK_MS   50     /* poll interval of an empty ring */
#define RETRY_MS  200    /* between attempts at a sink or a daemon */
#define AGAIN_MS  30000  /* wait for another daemon after one has exited */
#define REST_MS   5000   /* to send the rest after the job's end */
#define TOTALS_MS 10000  /* between totals in the stream */
#define LINES     131072 /* bytes of messages per batch */

struct publisher {
	const char *self, *key, *job;
	char socket[SCRIBE_PATH_MAX];
	int notify; /* -1: none */
	int node_seconds;
	struct scribe_publish_ring ring;
	struct scribe_sink sink;
	struct scribe_messages *messages;
	struct scribe_out lines;
	size_t sent;
	size_t extra;                   /* leading bytes of `lines` that are repeated opens or totals */
	unsigned long long undelivered; /* accepted by the sink, then lost */
	bool had_reader;
	uint64_t lost;
	int64_t totals_ms;     /* next totals are due */
	int64_t give_up_ms;    /* 0: the job still runs */
	struct scribe_err why; /* the sink's last failure; empty: none */
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

/* Sets the deadline for the rest. */
static void ends(struct publisher *p)
{
	if (!p->give_up_ms)
		p->give_up_ms = scribe_msg_now_ms() + REST_MS;
}

static bool goes_on(struct publisher *p)
{
	if (scribe_publish_guard_ends() || scribe_publish_ring_ended(&p->ring))
		ends(p);
	return !p->give_up_ms || scribe_msg_now_ms() < p->give_up_ms;
}

/*
 * A new reader has not received the opens of files in use: they are inserted before the first line that was
 * not sent completely.
 */
static int report_opens(struct publisher *p, struct scribe_err *err)
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

static int reach(struct publisher *p, struct scribe_err *err)
{
	int rc = p->sink.is_open ? 1 : p->sink.kind->open(&p->sink, err);

	return rc == 0 ? report_opens(p, err) : rc < 0 ? rc : 0;
}

static int send_some(struct publisher *p, struct scribe_err *err)
{
	struct pollfd capacity = {.fd = p->sink.fd, .events = POLLOUT};
	size_t n = 0;
	int rc = p->sink.kind->send(&p->sink, p->lines.buf + p->sent, p->lines.len - p->sent, &n, err);

	p->sent += n;
	/* -EPIPE: messages that the sink had accepted but not delivered are lost. */
	if (rc == -EPIPE)
		p->undelivered += p->sink.kind->close(&p->sink, 0);
	else if (rc == 0 && !n && capacity.fd >= 0)
		/* wait until the sink accepts more, but look again for the job's end */
		poll(&capacity, 1, LOOK_MS);
	else if (rc == 0 && !n)
		nap(LOOK_MS / 10);
	return rc;
}

/* Reports only the first of consecutive failures, and at once. */
static void failed(struct publisher *p, const struct scribe_err *err)
{
	if (!p->why.text[0])
		scribe_complain(p->self, "%s; it is tried again", err->text);
	p->why = *err;
}

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

/* After the daemon has exited while the job runs: its successor may have taken over the job. */
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

static unsigned long long lines_left(const struct publisher *p)
{
	unsigned long long n = 0;

	for (size_t i = p->sent > p->extra ? p->sent : p->extra; i < p->lines.len; i++)
		n += p->lines.buf[i] == '\n';
	return n;
}

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

static void put_totals(struct publisher *p, bool last)
{
	const int64_t now = scribe_msg_now_ms();

	/* Only at the start of a batch, so that `extra` counts their bytes. */
	if (p->lines.len || (!last && now < p->totals_ms))
		return;
	p->totals_ms = now + TOTALS_MS;
	scribe_messages_totals(p->messages, p->lost + scribe_publish_ring_lost(&p->ring), last, &p->lines);
	p->extra = p->lines.len;
}

static int publish(struct publisher *p, struct scribe_err *err)
{
	int rc = reach(p, err);

	/* Reports a missing sink before the first operation. */
	if (rc < 0)
		failed(p, err);
	err->text[0] = 0;
	for (;;) {
		/* Read before the ring: everything written before the end is then visible below. */
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

static int start_guard(const struct publisher *p, struct scribe_err *err)
{
	sigset_t ends;

	signal(SIGPIPE, SIG_IGN);
	sigemptyset(&ends);
	sigaddset(&ends, SIGTERM);
	if (p->notify < 0) {
		/* With --notify the terminal's signals are the parent's, and the publisher waits for its job's end. */
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
			(void)0; /* the parent has exited; the job's end will end this process */
		close(p->notify);
	}
	return rc;
}

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
				p->why.text[0]   ? p->why.text
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

	p = (struct publisher){.self = argv[0], .notify = -1, .ring = {.sock = -1}, .sink = {.fd = -1}};
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
