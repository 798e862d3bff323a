// SPDX-License-Identifier: BSD-3-Clause
/*
 * Windows for `ioscribe trace`. A forked copy of the daemon builds the log; the client compresses and writes it with
 * its own identity. The connection owns memory file and copy, the job the window. Must not know how
 * segments are kept.
 */
#include "runtime/daemon/control/trace_session.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/daemon/base/subuids.h"
#include "runtime/daemon/control/connection.h"
#include "runtime/daemon/operations/segment_windows.h"
#include "runtime/daemon/operations/segments.h"
#include "runtime/daemon/output/log_commit.h"

/* per node; root is exempt */
#define WINDOWS_A_USER      8u
#define PART_BYTES          (SCRIBE_MSG_MAX - sizeof(struct scribe_msg_header))
#define PARTS_PER_ITERATION 8

int scribe_trace_session_time(const char *text, uint32_t *ret_ms, struct scribe_err *err)
{
	char *end;
	unsigned long long ms = strtoull(text, &end, 10);

	if (text[0] < '0' || text[0] > '9' || *end || !ms || ms > SCRIBE_WINDOW_MS_MOST)
		return scribe_err_set(err, -EINVAL, "ms: '%.60s' is no time of 1 to %u", text, SCRIBE_WINDOW_MS_MOST);
	*ret_ms = (uint32_t)ms;
	return 0;
}

static int may_open(const struct scribe_daemon *d, const struct scribe_client *c, struct scribe_err *err)
{
	unsigned n = 0;

	/* a window takes memory, and ends with its connection */
	for (const struct scribe_client *other = d->clients; other; other = other->next)
		n += other->traces && !other->gone && scribe_subuids_same(other->uid, c->uid);
	if (n < WINDOWS_A_USER || !c->uid)
		return 0;
	return scribe_err_set(err, -EDQUOT, "user %u has %u windows already", (unsigned)c->uid, n);
}

int scribe_trace_session_open(struct scribe_daemon *d, struct scribe_client *c, struct scribe_job *job, uint32_t ms,
			      struct scribe_err *err)
{
	int rc;

	if (c->traces)
		return scribe_err_set(err, -EPROTO, "a second window on one connection");
	if (!ms)
		return scribe_err_set(err, -EINVAL, "ms is needed: how long the window is");
	if (job->state >= SCRIBE_JOB_CLOSED)
		return scribe_err_set(err, -ENOENT, "job %.100s has ended already", job->spec.id);
	rc = may_open(d, c, err);
	if (rc == 0)
		rc = scribe_windows_open(job, c->id, ms, err);
	c->traces = rc == 0;
	return rc < 0 ? rc : scribe_client_send(c, SCRIBE_MSG_JOB_OK, NULL, 0);
}

/* The window of this connection, of which the log is the answer; otherwise all of the job. */
int scribe_trace_session_stop(struct scribe_client *c, struct scribe_job *job, struct scribe_err *err)
{
	if (scribe_windows_stop(job, c->traces ? c->id : 0) || c->traces)
		return c->traces ? 0 : scribe_client_send(c, SCRIBE_MSG_JOB_OK, NULL, 0);
	return scribe_err_set(err, -ENOENT, "no window is open on this job");
}

void scribe_trace_session_clear(struct scribe_client *c)
{
	scribe_snapshot_stop(&c->trace_copy);
	if (c->trace_log > 0)
		close(c->trace_log);
	c->trace_log = 0;
}

void scribe_trace_session_lost(struct scribe_daemon *d, struct scribe_client *c)
{
	if (!c->traces)
		return;
	scribe_trace_session_clear(c);
	c->traces = false;
	for (struct scribe_job *job = d->jobs; job; job = job->next)
		scribe_windows_drop(job, c->id);
}

struct to_write {
	struct scribe_job *w;
	const struct scribe_window *window;
	struct scribe_commit_plan plan;
	int fd;
};

static int write_window(void *ctx, void *err)
{
	const struct to_write *x = ctx;

	return scribe_commit_window(x->w, x->window, &x->plan, x->fd, err);
}

static void send_parts(struct scribe_client *c)
{
	static char part[PART_BYTES];
	int rc = 0;

	for (int i = 0; i < PARTS_PER_ITERATION && c->trace_sent < c->traced.bytes && !c->send_queue.first && rc == 0;
	     i++) {
		/* the user could keep the file itself and hold its lock */
		ssize_t n = pread(c->trace_log, part, sizeof(part), (off_t)c->trace_sent);

		rc = n <= 0 ? -EIO
			    : scribe_send_queue_send(&c->send_queue, c->fd, SCRIBE_MSG_TRACE_PART, 0, part, (size_t)n,
						     -1);
		c->trace_sent += n > 0 ? (uint64_t)n : 0;
	}
	if (rc < 0 || c->trace_sent == c->traced.bytes)
		scribe_trace_session_clear(c);
}

static void hand_over(struct scribe_client *c, int rc, struct scribe_err *err)
{
	struct stat st = {0};

	err->text[sizeof(err->text) - 1] = 0;
	if (rc == 0 && fstat(c->trace_log, &st) < 0)
		rc = -errno;
	c->traced.bytes = (uint64_t)st.st_size;
	c->trace_sent = 0;
	if (rc < 0 && !err->text[0])
		scribe_err_set(err, rc, "the process that built the log of the window ended before it was done");
	if (rc == 0)
		rc = scribe_client_send(c, SCRIBE_MSG_TRACED, &c->traced, sizeof(c->traced));
	else
		rc = scribe_client_refuse(c, SCRIBE_ST_FAILED, err->text);
	if (rc < 0 || !st.st_size)
		scribe_trace_session_clear(c);
}

static void begin_log(struct scribe_job *job, const struct scribe_window *x, struct scribe_client *c)
{
	const struct scribe_window_sums sums = scribe_window_sums(x);
	struct to_write write = {.w = job, .window = x};
	struct scribe_err err = {0};
	int fds[2], rc;

	c->traced = (struct scribe_msg_traced){.segments = sums.ledger.v[SCRIBE_L_SEGMENTS],
					       .lost = sums.ledger.v[SCRIBE_L_SEGMENTS_NO_ROOM] +
						       sums.ledger.v[SCRIBE_L_SEGMENTS_NO_LEAF]};
	/* the fork has the window's operations in its own memory: the caller drops the window */
	write.fd = memfd_create("ioscribe-window", MFD_CLOEXEC);
	if (write.fd < 0) {
		hand_over(c, -errno, &err);
		return;
	}
	c->trace_log = fds[0] = write.fd;
	fds[1] = scribe_window_file(x);
	scribe_commit_plan_window(job, x, &write.plan);
	rc = scribe_snapshot_start(&c->trace_copy, fds, 2, write_window, &write, sizeof(err));
	if (rc < 0) /* fork failed: a longer iteration */
		hand_over(c, write_window(&write, &err), &err);
}

void scribe_trace_session_answer(struct scribe_job *job)
{
	const struct scribe_window *x;
	uint64_t id;

	while ((x = scribe_windows_closed(job, &id))) {
		struct scribe_client *c = job->daemon->clients;

		while (c && (c->id != id || c->gone))
			c = c->next;
		if (c)
			begin_log(job, x, c);
		scribe_windows_drop(job, id);
	}
}

void scribe_trace_session_tick(struct scribe_daemon *d)
{
	for (struct scribe_job *job = d->jobs; job; job = job->next) {
		scribe_segments_tick(job, false);
		scribe_trace_session_answer(job);
	}
	for (struct scribe_client *c = d->clients; c; c = c->next) {
		struct scribe_err err = {0};
		int rc;

		/* the end of a copy does not wake the loop */
		d->poll_fast = d->poll_fast || c->trace_log > 0;
		if (c->gone || c->trace_log <= 0)
			continue;
		if (!c->trace_copy.pid)
			send_parts(c);
		else if (scribe_snapshot_answered(&c->trace_copy, &err, sizeof(err), &rc))
			hand_over(c, rc, &err);
	}
}
