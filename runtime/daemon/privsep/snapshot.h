/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Work on what the daemon knows now, in a copy of it (fork) that can do nothing but compute and
 * write to descriptors that it is given: what takes long, or reads what users wrote. The daemon
 * goes on meanwhile, and what it changes the copy does not see. Must not know what is worked on.
 */
#ifndef RUNTIME_DAEMON_PRIVSEP_SNAPSHOT_H
#define RUNTIME_DAEMON_PRIVSEP_SNAPSHOT_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define SCRIBE_SNAPSHOTS_MAX   8   /* at once; more wait */
#define SCRIBE_SNAPSHOT_CPU_S  300 /* processor time that one may take */
#define SCRIBE_SNAPSHOT_WALL_S 900 /* it ends itself, whatever it waits for */
#define SCRIBE_SNAPSHOT_FDS    4   /* that one keeps, at most */

/* Zeroed, it is none. */
struct scribe_snapshot {
	pid_t pid; /* 0 none */
	int sock;  /* brings the answer */
};

/* What the copy does: fills the answer; 0 or a negative errno. */
typedef int (*scribe_snapshot_fn)(void *ctx, void *answer);

/*
 * Begin. The copy keeps `fds` (negative ones are left out) and standard error. 0; -EAGAIN: as many as
 * may are at work, later; another negative errno: no process can be had.
 */
int scribe_snapshot_start(struct scribe_snapshot *s, const int *fds, size_t nfds, scribe_snapshot_fn fn, void *ctx,
			  size_t answer_bytes);
/*
 * Has it ended? Never waits. *ret_rc: what fn has returned, and then `answer` holds what it filled in;
 * -EPIPE where it ended otherwise: by an error of its own, a limit, or a system call that it may not
 * make. The answer comes from a process that may have read what users wrote: check it.
 */
bool scribe_snapshot_answered(struct scribe_snapshot *s, void *answer, size_t answer_bytes, int *ret_rc);
/* Nobody wants its answer any more: it ends by itself. */
void scribe_snapshot_stop(struct scribe_snapshot *s);
/* Those that were stopped and have ended since. */
void scribe_snapshots_reap(void);
/* Processor time of all that have ended, in seconds. */
double scribe_snapshots_cpu(void);

#endif
