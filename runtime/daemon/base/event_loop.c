// SPDX-License-Identifier: BSD-3-Clause
/*
 * The calls on the loop's epoll descriptor; see event_loop.h. The pointer given with a descriptor
 * comes back with its events (loop.c tells by it what has happened). Nothing is allocated or owned
 * here. A change or removal that fails is ignored: then the descriptor is no longer watched. Main
 * thread of the daemon. Must not know what is waited for.
 */
#include "runtime/daemon/base/event_loop.h"

#include <errno.h>
#include <stddef.h>
#include <sys/epoll.h>

int scribe_watch_in(int epoll, int fd, void *what)
{
	struct epoll_event e = {.events = EPOLLIN, .data.ptr = what};

	return epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &e) < 0 ? -errno : 0;
}

void scribe_watch_out(int epoll, int fd, void *what, bool out)
{
	struct epoll_event e = {.events = out ? EPOLLOUT : EPOLLIN, .data.ptr = what};

	(void)epoll_ctl(epoll, EPOLL_CTL_MOD, fd, &e);
}

void scribe_watch_end(int epoll, int fd)
{
	(void)epoll_ctl(epoll, EPOLL_CTL_DEL, fd, NULL);
}

/*
 * Edge-triggered: one wake-up for what arrives, though nobody reads it at once. Used for ring
 * buffers and helpers' sockets, which the loop's turn visits anyhow; level-triggered they would
 * wake it without end.
 */
int scribe_watch_edge(int epoll, int fd, void *what)
{
	struct epoll_event e = {.events = EPOLLIN | EPOLLET, .data.ptr = what};

	return epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &e) < 0 ? -errno : 0;
}
