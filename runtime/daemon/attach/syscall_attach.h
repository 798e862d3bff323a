/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RUNTIME_DAEMON_ATTACH_SYSCALL_ATTACH_H
#define RUNTIME_DAEMON_ATTACH_SYSCALL_ATTACH_H

#include "runtime/daemon/state/daemon.h"

/* Attaches; after a failure not again for a second. */
int scribe_sysattach_now(struct scribe_daemon *d, struct scribe_err *err);
/* For an announced process: detached after attach_linger_ms, at least 5 s, if it does not join. */
int scribe_sysattach_soon(struct scribe_daemon *d, struct scribe_err *err);
void scribe_sysattach_tick(struct scribe_daemon *d);
/* With adopted programs of an earlier daemon. */
void scribe_sysattach_resume(struct scribe_daemon *d);
/* After all programs are detached or left to the next daemon. */
void scribe_sysattach_end(struct scribe_daemon *d);

/* Living processes that started without programs and have not waited; ended ones are in SCRIBE_L_LATE_PROCS. */
uint64_t scribe_sysattach_late(const struct scribe_job *job);

bool scribe_sysattach_is_late(const struct scribe_process *p);

/* The process has waited: no system call of its program is missing. */
void scribe_sysattach_waited(const struct scribe_process *p);
/* Stops recording a hook's process and its ancestors. */
void scribe_sysattach_spare(struct scribe_process *p);

#endif
