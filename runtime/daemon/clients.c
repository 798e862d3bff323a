/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Connections: who they are, which conversation they hold; and how the runtime's
 * own in MPI programs begins: HELLO (the rest: fetch.c). The peer's credentials decide whose
 * records are spoken of; a peer that is not a traced process gets one answer
 * and is hung up.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "runtime/daemon/daemon.h"
#include "runtime/daemon/keep.h"
#include "runtime/daemon/notice.h"
#include "runtime/daemon/service.h"
#include "runtime/daemon/streams.h"

#define CLIENTS_MAX     4096
#define CLIENTS_OF_ROOT 256                        /* of these: that users cannot take */
#define STUCK_NS        2000000000ull              /* a peer that takes no answer for so long is hung up */
#define OUTGOING_MAX    (4ull * SCRIBE_OUTBOX_MAX) /* bytes that wait for all users together */
#define ACCEPTED_A_TURN 64                         /* connections; then those that are there are served */

int scribe_clients_listen(struct scribe_daemon *d, const struct scribe_config *c, struct scribe_err *err)
{
	const char *base = access("/run", W_OK) == 0 ? "/run" : "/tmp";
	struct sockaddr_un at = {.sun_family = AF_UNIX};

	snprintf(d->socket_dir, sizeof(d->socket_dir), "%s/ioscribe-XXXXXX", base);
	if (!mkdtemp(d->socket_dir)) {
		d->socket_dir[0] = 0;
		return scribe_err_set(err, -errno, "cannot make a directory in %s: %s", base,
				      strerror(errno));
	}
	snprintf(d->socket, sizeof(d->socket), "%s/socket", d->socket_dir);
	snprintf(at.sun_path, sizeof(at.sun_path), "%s", d->socket);
	d->listen = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (d->listen < 0 || bind(d->listen, (struct sockaddr *)&at, sizeof(at)) < 0 ||
	    listen(d->listen, 512) < 0)
		return scribe_err_set(err, -errno, "cannot listen on %s: %s", d->socket, strerror(errno));
	/* the job's user may connect, nobody may look around; we can still remove it without privileges */
	if (chmod(d->socket_dir, 0711) < 0 || chown(d->socket, c->uid, c->gid) < 0 ||
	    chmod(d->socket, 0600) < 0)
		return scribe_err_set(err, -errno, "cannot give %s to its user: %s", d->socket,
				      strerror(errno));
	return scribe_loop_watch(d, d->listen, &d->listen);
}

void scribe_clients_close(struct scribe_daemon *d)
{
	/* first: a peer that is hung up may look whether it is gone */
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
		scribe_outbox_clear(&c->outbox);
		close(c->fd);
		free(c);
	}
}

/* May one more connection of this user come in? NULL, or why not. */
static const char *full_for(const struct scribe_daemon *d, uid_t uid)
{
	unsigned all = 0, users = 0, own = 0;

	for (const struct scribe_client *c = d->clients; c; c = c->next) {
		all++;
		users += c->uid != 0;
		own += c->uid == uid;
	}
	if (all >= CLIENTS_MAX || (uid && users >= CLIENTS_MAX - CLIENTS_OF_ROOT))
		return "too many connections";
	return uid && d->service && own >= d->service->config.user_connections
		       ? "too many connections of this user"
		       : NULL;
}

struct scribe_client *scribe_clients_add(struct scribe_daemon *d, int fd)
{
	struct scribe_client *c = calloc(1, sizeof(*c)), **at;
	struct ucred cred;
	socklen_t len = sizeof(cred);
	const char *full;

	if (!c || getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &len) < 0) {
		free(c);
		close(fd);
		return NULL;
	}
	*c = (struct scribe_client){.fd = fd,
				    .pid = cred.pid,
				    .uid = cred.uid,
				    .gid = cred.gid,
				    .rank = -1,
				    .noticed = d->service,
				    .moved_ns = scribe_now_ns()};
	full = full_for(d, c->uid);
	if (full)
		scribe_client_refuse(c, SCRIBE_ST_FAILED, full);
	if (full || scribe_loop_watch(d, fd, c) < 0) {
		scribe_outbox_clear(&c->outbox);
		close(fd);
		free(c);
		return NULL;
	}
	/* served in the order they came: a rank's HELLO before a later one's FETCH */
	for (at = &d->clients; *at; at = &(*at)->next)
		;
	*at = c;
	return c;
}

/* Descriptors are used up: the connection of a user that has been quiet for longest goes. */
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

	for (int n = 0; n < ACCEPTED_A_TURN; n++) {
		fd = accept4(d->listen, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
		if (fd >= 0)
			(void)scribe_clients_add(d, fd);
		else if ((errno != EMFILE && errno != ENFILE) || !shed(d))
			return;
	}
}

struct scribe_process *scribe_client_peer(struct scribe_daemon *d, struct scribe_client *c)
{
	struct scribe_process *p;

	scribe_events_take(d); /* its fork, exec and names may still wait in the ring */
	p = scribe_map_get(&d->by_tgid, (uint64_t)c->pid);
	return p && !p->ended && (!c->serial || p->serial == c->serial) ? p : NULL;
}

/* The kernel side ignores this thread's I/O: 0 ends that. */
void scribe_client_mute(struct scribe_daemon *d, const struct scribe_process *p, uint32_t tid)
{
	struct scribe_proc *proc = scribe_bpf_proc(d->bpf, p->index);
	char task[64];

	if (!proc || proc->serial != p->serial)
		return;
	snprintf(task, sizeof(task), "/proc/%d/task/%u", p->tgid, tid);
	if (tid && access(task, F_OK) < 0)
		tid = (uint32_t)p->tgid; /* counted in another pid namespace */
	__atomic_store_n(&proc->muted_tid, tid, __ATOMIC_RELEASE);
}

int scribe_client_refuse(struct scribe_client *c, unsigned status, const char *text)
{
	size_t n = strlen(text);

	if (c->noticed)
		scribe_notice_refused(c->uid, c->pid, text);
	scribe_outbox_send(&c->outbox, c->fd, SCRIBE_MSG_ERROR, status, text,
			   n < SCRIBE_TEXT_MAX ? n : SCRIBE_TEXT_MAX - 1, -1);
	return -EPROTO;
}

int scribe_client_send(struct scribe_client *c, unsigned type, const void *payload, size_t bytes)
{
	return scribe_outbox_send(&c->outbox, c->fd, type, 0, payload, bytes, -1);
}

static bool all_met(const struct scribe_unit *u)
{
	for (size_t i = 0; i < u->ranks.places; i++) {
		const struct scribe_rank *r = u->ranks.place[i].value;

		if (r && r->state == SCRIBE_RANK_IDLE)
			return false;
	}
	return true;
}

static int on_hello(struct scribe_daemon *d, struct scribe_client *c, const struct scribe_msg_hello *m)
{
	struct scribe_msg_hello_ok ok = {0};
	struct scribe_process *p = scribe_client_peer(d, c);
	const char *namespace = m->mpi == SCRIBE_MPI_MPICH ? "" : m->world;
	int rc;

	if (c->serial)
		return scribe_client_refuse(c, SCRIBE_ST_REFUSED, "a second HELLO");
	if (!p)
		return scribe_client_refuse(c, SCRIBE_ST_NOT_TRACED, "this process is not traced");
	if (m->size < 1 || m->rank < 0 || m->rank >= m->size)
		return scribe_client_refuse(c, SCRIBE_ST_BAD_MESSAGE, "HELLO with an impossible rank");
	rc = scribe_worlds_hello(&p->work->worlds, p, m->rank, m->size, namespace);
	if (rc < 0)
		return scribe_client_refuse(c, SCRIBE_ST_FAILED, "the daemon is out of memory");
	scribe_keep_hello(p, m->rank, m->size, namespace);
	c->serial = p->serial;
	c->work = p->work;
	ok.deadline_ms = p->work->config.deadline_ms;
	if (rc == 1 && p->rank->state == SCRIBE_RANK_IDLE)
		p->rank->state = SCRIBE_RANK_HELLO;
	if (rc == 1 && p->rank->state == SCRIBE_RANK_HELLO && !p->unit->committed) {
		c->rank = m->rank;
		ok.collective = p->work->config.collective && !p->work->config.unshared &&
				!scribe_fetch_in_vain(p->unit);
	}
	if (p->unit && p->unit->ranks.used == (size_t)m->size)
		ok.flags |= SCRIBE_HELLO_WHOLE_WORLD;
	if (p->unit && all_met(p->unit))
		ok.flags |= SCRIBE_HELLO_ALL_MET;
	return scribe_client_send(c, SCRIBE_MSG_HELLO_OK, &ok, sizeof(ok));
}

void scribe_client_hang_up(struct scribe_daemon *d, struct scribe_client *c)
{
	struct scribe_process *p = c->work ? scribe_worlds_find(&c->work->worlds, c->serial) : NULL;

	if (p && c->rank >= 0 && p->rank->rank == c->rank &&
	    (c->fetching || p->rank->state == SCRIBE_RANK_FETCHED)) {
		p->rank->state = SCRIBE_RANK_FAILED;
		if (!p->ended)
			scribe_client_mute(d, p, 0);
	}
	scribe_fetch_drop(c);
	scribe_outbox_clear(&c->outbox);
	scribe_runlink_lost(d, c);
	close(c->fd);
	c->fd = -1;
	c->gone = true;
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
		free(c);
	}
}

/* A memory that has come while its process is looked for: events may end it meanwhile. */
static struct {
	int fd; /* -1: none */
	pid_t pid;
	struct scribe_msg_streams message;
} in_hand = {.fd = -1};

static int on_streams(struct scribe_daemon *d, struct scribe_client *c, const struct scribe_msg_streams *m,
		      int fd)
{
	struct scribe_process *p;

	if (fd < 0)
		return -EPROTO;
	in_hand.fd = fd;
	in_hand.pid = c->pid;
	in_hand.message = *m;
	p = scribe_client_peer(d, c);
	if (in_hand.fd >= 0 && p)
		scribe_streams_offered(d, p, &in_hand.message, in_hand.fd);
	else if (in_hand.fd >= 0)
		close(in_hand.fd);
	in_hand.fd = -1;
	return 0;
}

void scribe_clients_last_words(struct scribe_daemon *d, struct scribe_process *p)
{
	static char packet[SCRIBE_MSG_MAX] __attribute__((aligned(8)));
	const struct scribe_msg_streams *m = (const void *)(packet + sizeof(struct scribe_msg_header));

	if (in_hand.fd >= 0 && in_hand.pid == p->tgid) {
		scribe_streams_offered(d, p, &in_hand.message, in_hand.fd);
		in_hand.fd = -1;
	}
	if (d->listen < 0)
		return;
	scribe_clients_accept(d);
	for (struct scribe_client *c = d->clients; c; c = c->next) {
		struct scribe_msg_header h = {0};
		struct scribe_err err = {0};
		int fd = -1;

		if (c->pid != p->tgid || c->gone || c->own ||
		    recv(c->fd, &h, sizeof(h), MSG_PEEK | MSG_DONTWAIT) != (ssize_t)sizeof(h) ||
		    h.type != SCRIBE_MSG_STREAMS)
			continue;
		if (scribe_msg_recv(c->fd, packet, &fd, 0, &err) > 0 && fd >= 0)
			scribe_streams_offered(d, p, m, fd);
	}
}

static int serve_one(struct scribe_daemon *d, struct scribe_client *c)
{
	static char packet[SCRIBE_MSG_MAX] __attribute__((aligned(8)));
	const struct scribe_msg_header *h = (const void *)packet;
	struct scribe_err err = {0};
	int fd = -1;
	ssize_t n = scribe_msg_recv(c->fd, packet, &fd, 0, &err);

	if (n == -ETIMEDOUT)
		return 0;
	if (n == -EPROTO)
		return scribe_client_refuse(c, SCRIBE_ST_BAD_MESSAGE, err.text);
	if (n <= 0)
		return -EPIPE;
	c->moved_ns = scribe_now_ns();
	if (h->type == SCRIBE_MSG_STREAMS)
		return on_streams(d, c, (const void *)(h + 1), fd);
	if (fd >= 0)
		close(fd);
	switch (h->type) {
	case SCRIBE_MSG_HELLO:
		return on_hello(d, c, (const void *)(h + 1));
	case SCRIBE_MSG_FETCH:
		return scribe_fetch_message(d, c, (const void *)(h + 1));
	case SCRIBE_MSG_DONE:
		return scribe_fetch_done(d, c, (const void *)(h + 1));
	case SCRIBE_MSG_RUN_BEGIN:
	case SCRIBE_MSG_RUN_AGAIN:
	case SCRIBE_MSG_ENROL:
	case SCRIBE_MSG_END:
		return scribe_runlink_message(d, c, h);
	case SCRIBE_MSG_JOB_BEGIN:
	case SCRIBE_MSG_JOB_END:
	case SCRIBE_MSG_JOB_LIST:
	case SCRIBE_MSG_JOB_SHOW:
	case SCRIBE_MSG_JOB_FLUSH:
		return scribe_jobs_message(d, c, h);
	default:
		return scribe_client_refuse(c, SCRIBE_ST_BAD_MESSAGE, "not a message for the daemon");
	}
}

/* Send what waits for it. */
static void push(struct scribe_daemon *d, struct scribe_client *c)
{
	int n = scribe_outbox_flush(&c->outbox, c->fd);

	if (n < 0)
		scribe_client_hang_up(d, c);
	else if (n > 0)
		c->moved_ns = scribe_now_ns();
}

void scribe_clients_serve(struct scribe_daemon *d, struct scribe_client *c)
{
	if (!c->gone && c->outbox.first)
		push(d, c);
	/* who does not take its answers asks nothing more */
	if (!c->gone && !c->outbox.first && serve_one(d, c) < 0)
		scribe_client_hang_up(d, c);
}

/* Why a connection is of no use any more; NULL: it is. */
static const char *idle_for(struct scribe_daemon *d, const struct scribe_client *c)
{
	uint64_t quiet = scribe_now_ns() - c->moved_ns;
	const struct scribe_process *p;

	if (c->outbox.first)
		return !c->own && quiet > STUCK_NS ? "does not take its answers" : NULL;
	if (!d->service || c->own || c->run || c->asks || c->answer || c->fetching ||
	    quiet <= (uint64_t)d->service->config.silent_ms * 1000000)
		return NULL;
	p = c->work ? scribe_worlds_find(&c->work->worlds, c->serial) : NULL;
	return p && !p->ended ? NULL : "says nothing";
}

/* Those that hold a place for nothing; and when too much waits, those for whom most does. */
static void expire(struct scribe_daemon *d)
{
	size_t waits = 0;

	for (struct scribe_client *c = d->clients; c; c = c->next) {
		const char *why = c->gone ? NULL : idle_for(d, c);

		if (!c->gone && !why && c->uid && (waits += c->outbox.bytes) > OUTGOING_MAX)
			why = "too many answers wait";
		if (!c->gone && c->watched_out != (c->outbox.first != NULL)) {
			c->watched_out = c->outbox.first;
			scribe_loop_watch_out(d, c->fd, c, c->watched_out);
		}
		if (!why)
			continue;
		if (c->noticed)
			scribe_notice_refused(c->uid, c->pid, why);
		scribe_client_hang_up(d, c);
	}
}

bool scribe_clients_waiting(const struct scribe_daemon *d)
{
	for (const struct scribe_client *c = d->clients; c; c = c->next)
		if (!c->gone && c->outbox.first)
			return true;
	return false;
}

void scribe_clients_serve_all(struct scribe_daemon *d)
{
	for (struct scribe_client *c = d->clients; c; c = c->next)
		scribe_clients_serve(d, c);
	scribe_fetch_settle(d);
	expire(d);
	reap(d);
}
