/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * When the programs stand at system calls: from the first process that joins a job, or that is
 * announced, to some time after the last. How they are attached is bpf/user/load.h's affair.
 */
#ifndef RUNTIME_DAEMON_COLLECT_SYSCALL_ATTACH_H
#define RUNTIME_DAEMON_COLLECT_SYSCALL_ATTACH_H

#include "runtime/daemon/state/daemon.h"

/* From now on, if they do not yet; an error is tried again, after a second at the earliest. */
int scribe_sysattach_now(struct scribe_daemon *d, struct scribe_err *err);
/* The same for a process that is about to join: without it they are taken off after attach_linger_ms. */
int scribe_sysattach_soon(struct scribe_daemon *d, struct scribe_err *err);
/* Often: for who has joined, or no longer for anybody. */
void scribe_sysattach_tick(struct scribe_daemon *d);
/* An earlier daemon's programs have been adopted. */
void scribe_sysattach_resume(struct scribe_daemon *d);
/* All programs are detached, or left to the next daemon. */
void scribe_sysattach_end(struct scribe_daemon *d);

/*
 * Living processes of the job that began before the programs stood there, and have not waited for
 * that; the kernel counts those that end (SCRIBE_L_LATE_PROCS).
 */
uint64_t scribe_sysattach_late(const struct scribe_job *job);

/* Is it such a one? */
bool scribe_sysattach_is_late(const struct scribe_process *p);

/* The process has waited: its program's system calls have all been seen. */
void scribe_sysattach_waited(const struct scribe_process *p);
/* A hook's own process, and those above it, are no part of the job: nothing more of them is recorded. */
void scribe_sysattach_spare(struct scribe_process *p);

#endif
