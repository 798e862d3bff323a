/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RUNTIME_DAEMON_BASE_SD_NOTIFY_H
#define RUNTIME_DAEMON_BASE_SD_NOTIFY_H

#include <stdint.h>

/* Sends a state ("READY=1") to NOTIFY_SOCKET, if set. */
void scribe_notify(const char *state);
/* Interval of watchdog messages, ns; 0: none. */
uint64_t scribe_notify_watchdog(void);
/* The passed listening packet socket (close-on-exec, nonblocking); -1: none. */
int scribe_notify_socket(void);

#endif
