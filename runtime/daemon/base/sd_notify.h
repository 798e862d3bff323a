/* SPDX-License-Identifier: BSD-3-Clause */
/* What a service manager and a service tell each other by environment and datagram. */
#ifndef RUNTIME_DAEMON_BASE_SD_NOTIFY_H
#define RUNTIME_DAEMON_BASE_SD_NOTIFY_H

#include <stdint.h>

/* Send a state ("READY=1") to NOTIFY_SOCKET; nothing happens without one. */
void scribe_notify(const char *state);
/* How often the manager wants a watchdog ping, ns; 0: never. */
uint64_t scribe_notify_watchdog(void);
/* The listening packet socket the manager has passed (close-on-exec, nonblocking); -1 none. */
int scribe_notify_socket(void);

#endif
