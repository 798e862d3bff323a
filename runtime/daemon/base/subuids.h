/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RUNTIME_DAEMON_BASE_SUBUIDS_H
#define RUNTIME_DAEMON_BASE_SUBUIDS_H

#include <stdbool.h>
#include <sys/types.h>

/* Reads /etc/subuid or `path`, once at start; an unreadable file is empty. */
void scribe_subuids_read(const char *path);
/* First id of the range with `uid`, or `uid`. */
uid_t scribe_subuids_first(uid_t uid);
bool scribe_subuids_same(uid_t a, uid_t b);

#endif
