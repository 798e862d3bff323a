// SPDX-License-Identifier: BSD-3-Clause
/* Calls on the loop's epoll descriptor. Must not know what is waited for. */
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

	/* On failure the descriptor is just not watched. */
	(void)epoll_ctl(epoll, EPOLL_CTL_MOD, fd, &e);
}

void scribe_watch_end(int epoll, int fd)
{
	(void)epoll_ctl(epoll, EPOLL_CTL_DEL, fd, NULL);
}

int scribe_watch_edge(int epoll, int fd, void *what)
{
	/*
	 * The loop visits ring buffers and helpers in every iteration; level-triggered they would wake it without end.
	 */
	struct epoll_event e = {.events = EPOLLIN | EPOLLET, .data.ptr = what};

	return epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &e) < 0 ? -errno : 0;
}
