/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Runs a function in a forked copy of the daemon that can only compute and write to given descriptors: for work
 * that takes long or reads user data. Must not know what it computes.
 */
#ifndef RUNTIME_DAEMON_PRIVSEP_SNAPSHOT_H
#define RUNTIME_DAEMON_PRIVSEP_SNAPSHOT_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define SCRIBE_SNAPSHOTS_MAX   8   /* at a time */
#define SCRIBE_SNAPSHOT_CPU_S  300 /* processor time of each */
#define SCRIBE_SNAPSHOT_WALL_S 900
#define SCRIBE_SNAPSHOT_FDS    4 /* kept descriptors */

struct scribe_snapshot {
	pid_t pid; /* 0: not started */
	int sock;  /* for the answer */
};

/* Runs in the copy. 0 or a negative errno. */
typedef int (*scribe_snapshot_fn)(void *ctx, void *answer);

/* The copy keeps `fds` (negative: skipped) and standard error. -EAGAIN: SCRIBE_SNAPSHOTS_MAX are running. */
int scribe_snapshot_start(struct scribe_snapshot *s, const int *fds, size_t nfds, scribe_snapshot_fn fn, void *ctx,
			  size_t answer_bytes);
/*
 * *ret_rc: the result of fn; -EPIPE: it crashed, exceeded a limit or made a refused system call. Check the answer: the
 * process may have read user data.
 */
bool scribe_snapshot_answered(struct scribe_snapshot *s, void *answer, size_t answer_bytes, int *ret_rc);
/* Its answer is not needed; it ends by itself. */
void scribe_snapshot_stop(struct scribe_snapshot *s);
void scribe_snapshots_reap(void);
/* Processor time of all that have ended, in seconds. */
double scribe_snapshots_cpu(void);

#endif
