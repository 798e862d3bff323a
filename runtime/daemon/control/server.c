/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All connections: accept, dispatch one message each per loop iteration in order of arrival, and close, with
 * limits on their number, queued bytes and idle time. Also HELLO of ranks. The peer's credentials decide on the
 * records it may access.
 */
#include "runtime/daemon/control/server.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "logfmt/base/clock.h"
#include "runtime/daemon/attach/syscall_attach.h"
#include "runtime/daemon/base/audit_log.h"
#include "runtime/daemon/base/event_loop.h"
#include "runtime/daemon/control/attach_session.h"
#include "runtime/daemon/control/connection.h"
#include "runtime/daemon/control/job_session.h"
#include "runtime/daemon/control/live_session.h"
#include "runtime/daemon/control/log_check.h"
#include "runtime/daemon/control/publish_session.h"
#include "runtime/daemon/control/rank_session.h"
#include "runtime/daemon/control/run_session.h"
#include "runtime/daemon/control/status.h"
#include "runtime/daemon/control/trace_session.h"
#include "runtime/daemon/control/user_quota.h"
#include "runtime/daemon/journal/job_journal.h"
#include "runtime/daemon/programs/shm_counters.h"
#include "runtime/daemon/state/daemon.h"
#include "runtime/daemon/tables/heatmaps.h"

#define STUCK_NS               2000000000ull              /* disconnects a peer that reads nothing */
#define OUTGOING_MAX           (4ull * SCRIBE_OUTBOX_MAX) /* queued bytes of all users */
#define ACCEPTED_PER_ITERATION 64                         /* per loop iteration */

void scribe_clients_close(struct scribe_daemon *d)
{
	/* first: a peer may check whether it still exists */
	if (d->listen >= 0)
		close(d->listen);
	d->listen = -1;
	if (d->socket_dir[0]) {
		unlink(d->socket);
		rmdir(d->socket_dir);
		d->socket_dir[0] = 0;
	}
	while (d->clients) {
		struct scribe_client *c = d->clients;

		d->clients = c->next;
		if (c->answer)
			close(c->image);
		free(c->answer);
		scribe_trace_session_clear(c);
		scribe_send_queue_clear(&c->send_queue);
		scribe_check_free(c->check);
		close(c->fd);
		free(c);
	}
}

static void lost(struct scribe_daemon *d, struct scribe_client *c)
{
	struct scribe_process *p = c->job ? scribe_worlds_find(&c->job->worlds, c->proc_id) : NULL;

	if (p && c->rank >= 0 && p->rank->rank == c->rank && (c->fetching || p->rank->state == SCRIBE_RANK_FETCHED)) {
		/* it was to write a common log: the daemon writes it instead */
		p->rank->state = SCRIBE_RANK_FAILED;
		if (!p->ended)
			scribe_client_ignore_thread(d, p, 0);
	}
	scribe_fetch_drop(c);
	scribe_trace_session_lost(d, c);
	scribe_publish_session_lost(d, c);
	scribe_runlink_lost(d, c);
}

static int may_come(const struct scribe_daemon *d, uid_t uid, struct scribe_err *err)
{
	unsigned all = 0;
	int rc = scribe_user_may(d, uid, SCRIBE_QUOTA_CONNECTIONS, err);

	for (const struct scribe_client *c = d->clients; c; c = c->next)
		all++;
	if (rc == 0 && all >= SCRIBE_CLIENTS_MAX)
		rc = scribe_err_set(err, -EDQUOT, "too many connections");
	return rc < 0 ? rc : scribe_user_may(d, uid, SCRIBE_QUOTA_DESCRIPTORS, err);
}

struct scribe_client *scribe_clients_add(struct scribe_daemon *d, int fd)
{
	struct scribe_client *c = calloc(1, sizeof(*c)), **at;
	struct ucred cred;
	socklen_t len = sizeof(cred);
	struct scribe_err err = {0};
	bool full;

	if (!c || getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &len) < 0) {
		free(c);
		close(fd);
		return NULL;
	}
	*c = (struct scribe_client){.id = ++d->client_ids,
				    .fd = fd,
				    .pid = cred.pid,
				    .uid = cred.uid,
				    .gid = cred.gid,
				    .rank = -1,
				    .noticed = d->service,
				    .lost = lost,
				    .moved_ns = scribe_now_ns()};
	/* after SO_PEERCRED: quotas are per user */
	full = may_come(d, c->uid, &err) < 0;
	if (full)
		scribe_client_refuse(c, SCRIBE_ST_UNABLE, err.text);
	if (full || scribe_watch_in(d->epoll, fd, c) < 0) {
		scribe_send_queue_clear(&c->send_queue);
		close(fd);
		free(c);
		return NULL;
	}
	/* in order: a rank's HELLO precedes a later rank's FETCH */
	for (at = &d->clients; *at; at = &(*at)->next)
		;
	*at = c;
	return c;
}

/* Closes the user's connection that is idle longest. */
static bool shed(struct scribe_daemon *d)
{
	struct scribe_client *quietest = NULL;

	for (struct scribe_client *c = d->clients; c; c = c->next)
		if (!c->gone && c->uid && !c->own && (!quietest || c->moved_ns < quietest->moved_ns))
			quietest = c;
	if (quietest)
		scribe_client_hang_up(d, quietest);
	return quietest;
}

void scribe_clients_accept(struct scribe_daemon *d)
{
	int fd;

	for (int n = 0; n < ACCEPTED_PER_ITERATION; n++) {
		fd = accept4(d->listen, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
		if (fd >= 0)
			(void)scribe_clients_add(d, fd);
		else if ((errno != EMFILE && errno != ENFILE) || !shed(d))
			return;
	}
}

static bool all_met(const struct scribe_log_unit *u)
{
	for (size_t i = 0; i < u->ranks.buckets; i++) {
		const struct scribe_rank *r = u->ranks.entry[i].value;

		if (r && r->state == SCRIBE_RANK_IDLE)
			return false;
	}
	return true;
}

/* Do the ranks of this world write its log? Not of a world on this node alone. */
static bool is_collective(struct scribe_process *p, int32_t size, bool is_first_hello)
{
	const struct scribe_config *config = &p->job->config;
	struct scribe_log_unit *u = p->unit;
	bool alone = u->ranks.used == (size_t)size;
	bool wanted = !strcmp(config->collective, "yes") || (!strcmp(config->collective, "auto") && !alone);
	int writer = wanted && !config->unshared ? SCRIBE_WRITER_RANKS : SCRIBE_WRITER_DAEMON;

	/*
	 * The first HELLO in MPI_Finalize decides for all ranks, because those that write wait for the others. In
	 * MPI_Init not all ranks may be known yet, and none waits.
	 */
	if (!u->writer && !is_first_hello)
		u->writer = writer;
	return (u->writer ? (int)u->writer : writer) == SCRIBE_WRITER_RANKS && !scribe_fetch_in_vain(u);
}

static int on_hello(struct scribe_daemon *d, struct scribe_client *c, const struct scribe_msg_hello *m)
{
	struct scribe_msg_hello_ok ok = {0};
	struct scribe_process *p = scribe_client_peer(d, c);
	/* those of MPICH have Hydra's port and group */
	const char *namespace = m->mpi == SCRIBE_MPI_MPICH ? "" : m->world;
	bool is_first;
	int rc;

	if (c->proc_id)
		return scribe_client_refuse(c, SCRIBE_ST_REFUSED, "a second HELLO");
	if (!p)
		return scribe_client_refuse(c, SCRIBE_ST_NOT_TRACED, "this process is not traced");
	if (m->size < 1 || m->rank < 0 || m->rank >= m->size)
		return scribe_client_refuse(c, SCRIBE_ST_BAD_MESSAGE, "HELLO with an impossible rank");
	rc = scribe_worlds_hello(&p->job->worlds, p, m->rank, m->size, namespace);
	if (rc < 0)
		return scribe_client_refuse(c, SCRIBE_ST_FAILED, "the daemon is out of memory");
	scribe_heatmaps_anchor(d, p);
	scribe_job_journal_hello(p, m->rank, m->size, namespace);
	c->proc_id = p->proc_id;
	c->job = p->job;
	ok.finalize_timeout_ms = p->job->config.finalize_timeout_ms;
	is_first = rc == 1 && p->rank->state == SCRIBE_RANK_IDLE;
	if (is_first)
		p->rank->state = SCRIBE_RANK_HELLO;
	if (rc == 1 && p->rank->state == SCRIBE_RANK_HELLO && !p->unit->committed) {
		c->rank = m->rank;
		ok.collective = is_collective(p, m->size, is_first);
	}
	if (p->unit && p->unit->ranks.used == (size_t)m->size)
		ok.flags |= SCRIBE_HELLO_WHOLE_WORLD;
	if (p->unit && all_met(p->unit))
		ok.flags |= SCRIBE_HELLO_ALL_MET;
	return scribe_client_send(c, SCRIBE_MSG_HELLO_OK, &ok, sizeof(ok));
}

static void reap(struct scribe_daemon *d)
{
	struct scribe_client **at = &d->clients;

	while (*at) {
		struct scribe_client *c = *at;

		if (!c->gone) {
			at = &c->next;
			continue;
		}
		*at = c->next;
		scribe_check_free(c->check);
		free(c);
	}
}

static int on_streams(struct scribe_daemon *d, struct scribe_client *c, const struct scribe_msg_streams *ask)
{
	struct scribe_process *p = scribe_client_peer(d, c);
	int fd = p ? scribe_shm_counters_make(d, p, ask) : -1;

	return fd < 0 ? -EPROTO : scribe_send_queue_send(&c->send_queue, c->fd, SCRIBE_MSG_STREAMS_OK, 0, NULL, 0, fd);
}

/* They may depend on events in the ring. */
static bool is_of_process(unsigned type)
{
	return type == SCRIBE_MSG_STREAMS || type == SCRIBE_MSG_START || type == SCRIBE_MSG_PROBED ||
	       type == SCRIBE_MSG_HELLO || type == SCRIBE_MSG_FETCH || type == SCRIBE_MSG_DONE ||
	       type == SCRIBE_MSG_JOB_READY;
}

/* Peeks: a message that has to wait stays in the socket. */
static bool may_serve(struct scribe_daemon *d, struct scribe_client *c)
{
	struct scribe_msg_header h;
	ssize_t n = recv(c->fd, &h, sizeof(h), MSG_PEEK | MSG_DONTWAIT);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return false;
	return n != (ssize_t)sizeof(h) || !is_of_process(h.type) || scribe_client_is_known(d, c);
}

/* Negative: close. Lengths are checked for each type. */
static int serve_one(struct scribe_daemon *d, struct scribe_client *c)
{
	static char packet[SCRIBE_MSG_MAX] __attribute__((aligned(8)));
	const struct scribe_msg_header *h = (const void *)packet;
	struct scribe_err err = {0};
	ssize_t n;

	if (!may_serve(d, c))
		return 0;
	n = scribe_msg_recv(c->fd, packet, NULL, 0, &err);
	if (n == -ETIMEDOUT)
		return 0;
	if (n == -EPROTO)
		return scribe_client_refuse(c, SCRIBE_ST_BAD_MESSAGE, err.text);
	if (n <= 0)
		return -EPIPE;
	c->moved_ns = scribe_now_ns();
	switch (h->type) {
	case SCRIBE_MSG_STREAMS:
		return on_streams(d, c, (const void *)(h + 1));
	case SCRIBE_MSG_START:
		return scribe_attach_session_start(d, c, (const void *)(h + 1));
	case SCRIBE_MSG_PROBED:
		return scribe_attach_session_probed(d, c, (const void *)(h + 1));
	case SCRIBE_MSG_HELLO:
		return on_hello(d, c, (const void *)(h + 1));
	case SCRIBE_MSG_FETCH:
		return scribe_fetch_message(d, c, (const void *)(h + 1));
	case SCRIBE_MSG_DONE:
		return scribe_fetch_done(d, c, (const void *)(h + 1));
	case SCRIBE_MSG_RUN_BEGIN:
	case SCRIBE_MSG_RUN_REATTACH:
	case SCRIBE_MSG_ENROL:
	case SCRIBE_MSG_END:
		return scribe_runlink_message(d, c, h);
	case SCRIBE_MSG_JOB_BEGIN:
	case SCRIBE_MSG_JOB_END:
	case SCRIBE_MSG_JOB_LIST:
	case SCRIBE_MSG_JOB_SHOW:
	case SCRIBE_MSG_JOB_TRACE:
	case SCRIBE_MSG_JOB_PUBLISH:
	case SCRIBE_MSG_JOB_READY:
	case SCRIBE_MSG_JOB_CHECK:
		return scribe_jobs_message(d, c, h);
	case SCRIBE_MSG_PUBLISH_TAKEN:
		return scribe_publish_session_taken(d, c, (const void *)(h + 1));
	case SCRIBE_MSG_LIVE_REQUEST:
		return scribe_live_session_message(d, c, (const void *)(h + 1));
	case SCRIBE_MSG_JOB_STATUS:
		return d->service ? scribe_status_message(d, c)
				  : scribe_client_refuse(c, SCRIBE_ST_REFUSED, "not a message for this socket");
	default:
		return scribe_client_refuse(c, SCRIBE_ST_BAD_MESSAGE, "not a message for the daemon");
	}
}

static void push(struct scribe_daemon *d, struct scribe_client *c)
{
	int n = scribe_send_queue_flush(&c->send_queue, c->fd);

	if (n < 0)
		scribe_client_hang_up(d, c);
	else if (n > 0)
		c->moved_ns = scribe_now_ns();
}

void scribe_clients_serve(struct scribe_daemon *d, struct scribe_client *c)
{
	if (!c->gone && c->send_queue.first)
		push(d, c);
	/* read no requests of a peer that does not read answers */
	if (!c->gone && !c->send_queue.first && !c->enrols && serve_one(d, c) < 0)
		scribe_client_hang_up(d, c);
}

/* NULL: keep it. Living ranks may be silent for any time. */
static const char *idle_for(struct scribe_daemon *d, const struct scribe_client *c)
{
	uint64_t quiet = scribe_now_ns() - c->moved_ns;
	const struct scribe_process *p;

	if (c->send_queue.first)
		return !c->own && quiet > STUCK_NS ? "does not take its answers" : NULL;
	if (!d->service || c->own || c->run || c->asks || c->check || c->answer || c->fetching || c->traces ||
	    c->publishes || quiet <= (uint64_t)d->service->config.client_idle_timeout_ms * 1000000)
		return NULL;
	p = c->job ? scribe_worlds_find(&c->job->worlds, c->proc_id) : NULL;
	return p && !p->ended ? NULL : "says nothing";
}

static void expire(struct scribe_daemon *d)
{
	size_t waits = 0;

	for (struct scribe_client *c = d->clients; c; c = c->next) {
		const char *why;

		if (!c->gone && c->watched_out != (c->send_queue.first != NULL)) {
			c->watched_out = c->send_queue.first;
			scribe_watch_out(d->epoll, c->fd, c, c->watched_out);
			if (c->watched_out) /* time without progress begins */
				c->moved_ns = scribe_now_ns();
		}
		why = c->gone ? NULL : idle_for(d, c);
		if (!c->gone && !why && c->uid && (waits += c->send_queue.bytes) > OUTGOING_MAX)
			why = "too many answers wait";
		if (!why)
			continue;
		if (c->noticed)
			scribe_audit_log_refused(c->uid, c->pid, why);
		scribe_client_hang_up(d, c);
	}
}

bool scribe_clients_waiting(const struct scribe_daemon *d)
{
	for (const struct scribe_client *c = d->clients; c; c = c->next)
		if (!c->gone && (c->send_queue.first || c->trace_log > 0))
			return true;
	return false;
}

void scribe_clients_serve_all(struct scribe_daemon *d)
{
	/* epoll does not report messages that waited for events */
	for (struct scribe_client *c = d->clients; c; c = c->next) {
		scribe_check_tick(c);
		scribe_clients_serve(d, c);
	}
	scribe_fetch_answer_ready(d);
	expire(d);
	reap(d);
}
