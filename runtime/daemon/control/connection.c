/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A connection: the peer's identity from SO_PEERCRED, and a send queue so that no peer blocks the loop. When
 * closed it stays in the daemon's list as `gone` until the end of the iteration, because callers iterate over
 * the list. Must not know the sessions (server.c).
 */
#include "runtime/daemon/control/connection.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "runtime/daemon/base/audit_log.h"
#include "runtime/daemon/base/event_loop.h"
#include "runtime/daemon/tables/held_events.h"

/* Linux 6.16 */
#ifndef SO_PASSRIGHTS
#define SO_PASSRIGHTS 83
#endif

int scribe_clients_listen(struct scribe_daemon *d, const struct scribe_config *c, struct scribe_err *err)
{
	const char *base = access("/run", W_OK) == 0 ? "/run" : "/tmp";
	struct sockaddr_un at = {.sun_family = AF_UNIX};

	snprintf(d->socket_dir, sizeof(d->socket_dir), "%s/ioscribe-XXXXXX", base);
	if (!mkdtemp(d->socket_dir)) {
		d->socket_dir[0] = 0;
		return scribe_err_set(err, -errno, "cannot make a directory in %s: %s", base, strerror(errno));
	}
	snprintf(d->socket, sizeof(d->socket), "%s/socket", d->socket_dir);
	snprintf(at.sun_path, sizeof(at.sun_path), "%s", d->socket);
	d->listen = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (d->listen < 0 || bind(d->listen, (struct sockaddr *)&at, sizeof(at)) < 0 || listen(d->listen, 512) < 0)
		return scribe_err_set(err, -errno, "cannot listen on %s: %s", d->socket, strerror(errno));
	/* no listing for others; ours, to be removed without privileges */
	if (chmod(d->socket_dir, 0711) < 0 || chown(d->socket, c->uid, c->gid) < 0 || chmod(d->socket, 0600) < 0)
		return scribe_err_set(err, -errno, "cannot give %s to its user: %s", d->socket, strerror(errno));
	scribe_clients_take_no_descriptors(d->listen);
	return scribe_watch_in(d->epoll, d->listen, &d->listen);
}

void scribe_clients_take_no_descriptors(int listening)
{
	/* a peer could fill the descriptor table; older kernels refuse the option */
	(void)setsockopt(listening, SOL_SOCKET, SO_PASSRIGHTS, &(int){0}, sizeof(int));
}

struct scribe_process *scribe_client_peer(struct scribe_daemon *d, struct scribe_client *c)
{
	struct scribe_process *p = scribe_map_get(&d->by_tgid, (uint64_t)c->pid);

	/* the serial proves that the process id was not reused */
	return p && !p->ended && (!c->proc_id || p->proc_id == c->proc_id) ? p : NULL;
}

bool scribe_client_is_known(struct scribe_daemon *d, struct scribe_client *c)
{
	if (!d->bpf)
		return true;
	/* a message may overtake the kernel's events of its process */
	if (!c->known_at)
		c->known_at = scribe_bpf_put(d->bpf);
	if (scribe_held_taken_of(d, c->uid) < c->known_at)
		return false;
	c->known_at = 0;
	return true;
}

bool scribe_client_is_idle(const struct scribe_client *c)
{
	return !c->gone && !c->known_at && !c->check && !c->enrols && !c->awaits && !c->traces && !c->publishes &&
	       !c->fetching && !c->answer && !c->preparing && !c->look.what && !c->send_queue.first &&
	       c->trace_log <= 0;
}

void scribe_client_ignore_thread(struct scribe_daemon *d, const struct scribe_process *p, uint32_t tid)
{
	struct scribe_proc *proc = scribe_bpf_proc_of(d->bpf, p->index, p->proc_id);
	char task[64];

	if (!proc)
		return;
	snprintf(task, sizeof(task), "/proc/%d/task/%u", p->tgid, tid);
	if (tid && access(task, F_OK) < 0)
		tid = (uint32_t)p->tgid; /* an id of another pid namespace */
	__atomic_store_n(&proc->ignored_tid, tid, __ATOMIC_RELEASE);
}

int scribe_client_refuse(struct scribe_client *c, unsigned status, const char *text)
{
	size_t n = strlen(text);

	if (c->noticed)
		scribe_audit_log_refused(c->uid, c->pid, text);
	scribe_send_queue_send(&c->send_queue, c->fd, SCRIBE_MSG_ERROR, status, text,
			       n < SCRIBE_TEXT_MAX ? n : SCRIBE_TEXT_MAX - 1, -1);
	return -EPROTO;
}

int scribe_client_send(struct scribe_client *c, unsigned type, const void *payload, size_t bytes)
{
	return scribe_send_queue_send(&c->send_queue, c->fd, type, 0, payload, bytes, -1);
}

void scribe_client_hang_up(struct scribe_daemon *d, struct scribe_client *c)
{
	if (c->lost)
		c->lost(d, c);
	scribe_send_queue_clear(&c->send_queue);
	scribe_watch_end(d->epoll, c->fd);
	close(c->fd);
	c->fd = -1;
	c->gone = true;
}
