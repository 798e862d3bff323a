/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RUNTIME_DAEMON_PROGRAMS_SHM_COUNTERS_H
#define RUNTIME_DAEMON_PROGRAMS_SHM_COUNTERS_H

#include "logfmt/rules/streams.h"
#include "runtime/daemon/model/counter_use.h"
#include "runtime/daemon/state/daemon.h"
#include "runtime/daemon/state/shm_copy.h"

/* Returns a descriptor, which is the daemon's, or -1. */
int scribe_shm_counters_make(struct scribe_daemon *d, struct scribe_process *p, const struct scribe_msg_streams *ask);
/* The kernel reported which record owns an index. */
void scribe_shm_counters_announced(struct scribe_daemon *d, struct scribe_process *p, const struct scribe_ev_stream *e);
/* The process continues with new ones. -ENOMEM. */
int scribe_shm_counters_take(struct scribe_daemon *d, struct scribe_process *p, struct scribe_records *records);
/* Counts at index *at, which is advanced. Without operations: nothing to report. False: the end. */
bool scribe_shm_counters_peek(struct scribe_daemon *d, struct scribe_process *p, uint32_t *at, unsigned tries,
			      struct scribe_live_record *ret_record);
/* Takes closed uses. */
void scribe_shm_counters_sweep(struct scribe_daemon *d);
/* After exec at `when_ns`. */
int scribe_shm_counters_replaced(struct scribe_daemon *d, struct scribe_process *p, struct scribe_records *records,
				 uint64_t when_ns);
/* From the journal: a record; a use that was taken. */
int scribe_shm_counters_known(struct scribe_daemon *d, struct scribe_process *p, const struct scribe_stream_use *use,
			      uint32_t slot, uint32_t generation);
void scribe_shm_counters_known_taken(struct scribe_daemon *d, struct scribe_process *p,
				     const struct scribe_stream_use *use);
/* Mapped by a process of a resumed job. Takes over `fd`. */
void scribe_shm_counters_found(struct scribe_daemon *d, const struct scribe_job *job, int fd);
/* The process has ended and is drained. */
void scribe_shm_counters_forget(struct scribe_daemon *d, struct scribe_process *p);
/* The job is freed while processes continue. */
void scribe_shm_counters_end_work(struct scribe_daemon *d, const struct scribe_job *job);
void scribe_shm_counters_clear(struct scribe_daemon *d);

/* Of the user's jobs; a descriptor each. */
unsigned scribe_shm_counters_of_user(const struct scribe_daemon *d, uid_t uid);

#endif
