/* SPDX-License-Identifier: BSD-3-Clause */
/* Descriptors watched by the daemon's loop; `what` is returned by epoll_wait(2). */
#ifndef RUNTIME_DAEMON_BASE_EVENT_LOOP_H
#define RUNTIME_DAEMON_BASE_EVENT_LOOP_H

#include <stdbool.h>

/* Level-triggered. 0 or -errno. */
int scribe_watch_in(int epoll, int fd, void *what);
/* Edge-triggered. 0 or -errno. */
int scribe_watch_edge(int epoll, int fd, void *what);
/* Of a watched descriptor: waits for writability (`out`) or for input. */
void scribe_watch_out(int epoll, int fd, void *what, bool out);

/* Call before close(): a forked process may keep the file open, and it would still wake the loop. */
void scribe_watch_end(int epoll, int fd);

#endif
