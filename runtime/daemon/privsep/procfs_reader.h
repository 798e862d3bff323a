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
#include "runtime/daemon/base/file_number.h"

struct scribe_process_look {
	struct scribe_file_number program, root, mounts;
	char exe[PATH_MAX]; /* empty: unknown */
};

/* A service's, before privileges are given up. Without it the caller's process reads by itself. */
int scribe_procfs_open(struct scribe_err *err);
void scribe_procfs_close(void);

/*
 * All unknown if the process has ended, or if its answer takes too long: 60 ms in the kernel and up to 200 ms for the
 * next reader to start, 1 s where the reader gets no processor; over time a twentieth of the caller's time for the
 * processes of one user.
 */
void scribe_procfs_look(uid_t uid, pid_t pid, struct scribe_process_look *ret);
/* Its root directory, O_PATH; -1: unknown, as above. */
int scribe_procfs_root(uid_t uid, pid_t pid);
/* Start time in ticks since boot, 0: it has ended. False: no answer in time, *ret is 0. */
bool scribe_procfs_start_ticks(uid_t uid, pid_t pid, uint64_t *ret);

#endif
