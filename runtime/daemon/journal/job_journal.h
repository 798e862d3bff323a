/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a service notes of its jobs while they go on (one journal a job, in
 * DIR/state), and how the next daemon, which has adopted the kernel's side,
 * takes the jobs up from there. Without a journal every call here does nothing.
 */
#ifndef RUNTIME_DAEMON_JOURNAL_JOB_JOURNAL_H
#define RUNTIME_DAEMON_JOURNAL_JOB_JOURNAL_H

#include "runtime/daemon/state/daemon.h"
#include "runtime/daemon/state/shm_copy.h"

struct scribe_counter_slot;
struct scribe_stream_more;
struct scribe_stream_use;

/* A job has begun, by this request of this peer. */
void scribe_job_journal_begin(struct scribe_job *job, const struct scribe_client *c, const char *text, size_t bytes);
void scribe_job_journal_process(struct scribe_process *p);
void scribe_job_journal_name(struct scribe_job *job, uint32_t slot, uint32_t generation,
			     const struct scribe_name_entry *name);
void scribe_job_journal_exec(struct scribe_process *p, const char *argv, size_t bytes, const char *exe);
/* The arguments of whoever started it. */
void scribe_job_journal_parent_cmdline(struct scribe_process *p, const char *argv, size_t bytes);
/* Its environment so far; `env`: all of it. */
void scribe_job_journal_env(struct scribe_process *p, const struct scribe_rankenv *env);
/* A record drained: of one that lives it counts at once, else when `drained` has followed. */
void scribe_job_journal_record(struct scribe_process *p, const struct scribe_slot_view *view, bool lives);
/* The last `records` noted are all of them. */
void scribe_job_journal_drained(struct scribe_process *p, uint64_t records);
/* It counts a stream, or an MPI-IO file, in its own memory. */
void scribe_job_journal_place(struct scribe_process *p, const struct scribe_stream_use *use, uint32_t slot,
		       uint32_t generation);
/* What was taken out of such a memory, as scribe_shm_counters_add takes it. */
void scribe_job_journal_stream(struct scribe_process *p, const struct scribe_stream_use *use, uint64_t id,
			const struct scribe_stream_copy *c);
/* Calls of these modules (bits) of a process may be missing: kept, and noted; `why`: for people. */
void scribe_mark_incomplete(struct scribe_process *p, uint64_t modules, const char *why);
void scribe_job_journal_end(struct scribe_process *p, enum scribe_process_end kind);
void scribe_job_journal_hello(struct scribe_process *p, int64_t rank, int64_t size, const char *pmix_namespace);
/* Settings that a process has brought, as scribe_jobenv_apply takes them. */
void scribe_job_journal_settings(struct scribe_job *job, const char *lines, size_t bytes);
void scribe_job_journal_ending(struct scribe_job *job);
/* The unit's log is about to be written at `path`. */
void scribe_job_journal_claimed(struct scribe_job *job, const struct scribe_log_unit *u, const char *path);
/* The unit's log is written (or there is none). */
void scribe_job_journal_committed(struct scribe_job *job, const struct scribe_log_unit *u,
			   const struct scribe_msg_log *m);
/* What the ring gave up to this position is noted. */
void scribe_job_journal_position(struct scribe_job *job, uint64_t position);
/* This daemon has read the journals, and serves. */
void scribe_job_journal_survived(struct scribe_daemon *d);
/* The job is gone: so is its journal. */
void scribe_job_journal_forget(struct scribe_job *job);

/* Folder of the service's pins: "/sys/fs/bpf/ioscribe", with a number for another directory than the usual.
 */
void scribe_job_journal_pins(const char *dir, char *ret_path, size_t cap);
/*
 * Adopt what an earlier daemon of this directory has left, and go on with its
 * jobs. 0 also when there is nothing; what cannot be used is said and removed.
 */
int scribe_job_journal_resume(struct scribe_daemon *d, struct scribe_err *err);

#endif
