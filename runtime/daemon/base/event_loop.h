/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Descriptors that the daemon waits for; `what` is what epoll_wait(2) returns.
 */
#ifndef RUNTIME_DAEMON_BASE_EVENT_LOOP_H
#define RUNTIME_DAEMON_BASE_EVENT_LOOP_H

#include <stdbool.h>

/* Until it says something. 0, or -errno. */
int scribe_watch_in(int epoll, int fd, void *what);
/* Only when it says something new, not as long as it has something to say. 0, or -errno. */
int scribe_watch_edge(int epoll, int fd, void *what);
/* One that is waited for already: until it takes more, instead of until it says more; or that again. */
void scribe_watch_out(int epoll, int fd, void *what, bool out);

/*
 * Before it is closed. Closing is not enough: while a process that was forked still has it, the loop would
 * be woken for what is no more.
 */
void scribe_watch_end(int epoll, int fd);

#endif
