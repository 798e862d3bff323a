/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads what the kernel tells of a process only while that executes no new program, in a process of its own: a user can
 * make an exec last (patched kernels lock it out of /proc/PID/stat and of links there, CVE-2026-64375). Must not know
 * jobs.
 */
#ifndef RUNTIME_DAEMON_PRIVSEP_PROCFS_READER_H
#define RUNTIME_DAEMON_PRIVSEP_PROCFS_READER_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "logfmt/base/err.h"

struct scribe_file_number {
	uint64_t device, inode; /* as in struct stat; 0, 0: unknown */
};

struct scribe_process_look {
	uint64_t start_ticks; /* since boot; 0: unknown */
	struct scribe_file_number program, root, mounts;
	char exe[PATH_MAX]; /* empty: unknown */
};

/* A service's, before privileges are given up. Without it the caller's process reads by itself. */
int scribe_procfs_open(struct scribe_err *err);
void scribe_procfs_close(void);

/*
 * All unknown if the process has ended, or if its answer takes too long: at most 60 ms, and over time a twentieth of
 * the caller's time for one user's processes.
 */
void scribe_procfs_look(uid_t uid, pid_t pid, struct scribe_process_look *ret);
/* Its root directory, O_PATH; -1: unknown, as above. */
int scribe_procfs_root(uid_t uid, pid_t pid);
uint64_t scribe_procfs_start_ticks(uid_t uid, pid_t pid);

/* Of a path that leads to no user's process; a server of files that hangs is not asked. */
struct scribe_file_number scribe_file_number(const char *path);

#endif
