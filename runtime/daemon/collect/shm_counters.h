/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Streams that programs count themselves, in memory shared with the daemon
 * (logfmt/rules/streams.h). Nothing in that memory is believed but numbers of the
 * records that the kernel has said are theirs; it is read by pread, and written through a mapping.
 */
#ifndef RUNTIME_DAEMON_COLLECT_SHM_COUNTERS_H
#define RUNTIME_DAEMON_COLLECT_SHM_COUNTERS_H

#include "logfmt/rules/streams.h"
#include "runtime/daemon/model/counter_use.h"
#include "runtime/daemon/state/daemon.h"
#include "runtime/daemon/state/shm_copy.h"


/* A memory for a process that asks for one: its descriptor, which stays the daemon's, or -1. */
int scribe_shm_counters_make(struct scribe_daemon *d, struct scribe_process *p, const struct scribe_msg_streams *ask);
/* The kernel has said whose record a place of that memory is. */
void scribe_shm_counters_announced(struct scribe_daemon *d, struct scribe_process *p,
			      const struct scribe_event *e);
/* Add what was counted to records. The process goes on with fresh numbers. 0 or -ENOMEM. */
int scribe_shm_counters_take(struct scribe_daemon *d, struct scribe_process *p, struct scribe_records *records);
/*
 * What the place *at of a living process's memories has counted so far, and *at the next one; nothing is taken.
 * No operations: there is nothing to be told of it. False: there are no more.
 */
bool scribe_shm_counters_peek(struct scribe_daemon *d, struct scribe_process *p, uint32_t *at, unsigned tries,
			      struct scribe_live_record *ret_record);
/* Closed streams of all processes: their places are wanted again. */
void scribe_shm_counters_sweep(struct scribe_daemon *d);
/* It has executed another program at `when_ns`: the memory of the one before is at its end. */
int scribe_shm_counters_replaced(struct scribe_daemon *d, struct scribe_process *p, struct scribe_records *records,
			    uint64_t when_ns);
/*
 * What the journal says, read again: the kernel had said whose record a place is;
 * a use was taken, though its program may not have been told.
 */
int scribe_shm_counters_known(struct scribe_daemon *d, struct scribe_process *p,
			 const struct scribe_stream_use *use, uint32_t slot, uint32_t generation);
void scribe_shm_counters_known_taken(struct scribe_daemon *d, struct scribe_process *p,
				const struct scribe_stream_use *use);
/* A memory of a resumed job's: of the process where it was found, or of one above it. `fd` is taken over. */
void scribe_shm_counters_found(struct scribe_daemon *d, const struct scribe_job *job, int fd);
/* It has ended, and all was taken. */
void scribe_shm_counters_forget(struct scribe_daemon *d, struct scribe_process *p);
/* A job is forgotten while processes of it go on. */
void scribe_shm_counters_end_work(struct scribe_daemon *d, const struct scribe_job *job);
/* At the daemon's end. */
void scribe_shm_counters_clear(struct scribe_daemon *d);

/* Memories of programs of this user's jobs: a descriptor each. */
unsigned scribe_shm_counters_of_user(const struct scribe_daemon *d, uid_t uid);

#endif
