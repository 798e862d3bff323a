/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Records a service's jobs (one journal per job, in DIR/state), so that the next daemon can resume them. Without a
 * journal every call does nothing.
 */
#ifndef RUNTIME_DAEMON_JOURNAL_JOB_JOURNAL_H
#define RUNTIME_DAEMON_JOURNAL_JOB_JOURNAL_H

#include "runtime/daemon/state/daemon.h"
#include "runtime/daemon/state/shm_copy.h"

struct scribe_counter_slot;
struct scribe_stream_more;
struct scribe_stream_use;

/* `text`: the client's request. */
void scribe_job_journal_begin(struct scribe_job *job, const struct scribe_client *c, const char *text, size_t bytes);
void scribe_job_journal_process(struct scribe_process *p);
void scribe_job_journal_name(struct scribe_job *job, uint32_t slot, uint32_t generation,
			     const struct scribe_name_entry *name);
void scribe_job_journal_exec(struct scribe_process *p, const char *argv, size_t bytes, const char *exe);
void scribe_job_journal_parent_cmdline(struct scribe_process *p, const char *argv, size_t bytes);
void scribe_job_journal_bypass(struct scribe_process *p, const char *library);
/* The state of the reader of its environment; with `env`: what the complete environment has of a rank. */
void scribe_job_journal_env(struct scribe_process *p, const struct scribe_rankenv *env);
/* Unless the process `lives`, it counts with scribe_job_journal_drained. */
void scribe_job_journal_record(struct scribe_process *p, const struct scribe_slot_view *view, bool lives);
/* The last `records` entries are complete. */
void scribe_job_journal_drained(struct scribe_process *p, uint64_t records);
/* The process counts a stream or MPI-IO file in its own memory. */
void scribe_job_journal_place(struct scribe_process *p, const struct scribe_stream_use *use, uint32_t slot,
			      uint32_t generation);
void scribe_job_journal_stream(struct scribe_process *p, const struct scribe_stream_use *use, uint64_t id,
			       const struct scribe_stream_copy *c);
/* Calls of modules (bits) may be missing; also updates the process. */
void scribe_mark_incomplete(struct scribe_process *p, uint64_t modules, const char *why);
void scribe_job_journal_end(struct scribe_process *p, enum scribe_process_end kind);
void scribe_job_journal_hello(struct scribe_process *p, int64_t rank, int64_t size, const char *pmix_namespace);
void scribe_job_journal_settings(struct scribe_job *job, const char *lines, size_t bytes);
void scribe_job_journal_ending(struct scribe_job *job);
void scribe_job_journal_budget(struct scribe_job *job);
/* Before the unit's log is written to `path`. */
void scribe_job_journal_claimed(struct scribe_job *job, const struct scribe_log_unit *u, const char *path);
/* The log is written, or not needed (m NULL). */
void scribe_job_journal_committed(struct scribe_job *job, const struct scribe_log_unit *u,
				  const struct scribe_msg_log *m);
/* An event that waits for others leaves the ring: the next daemon takes it from here, if it ends after the position. */
void scribe_job_journal_held(struct scribe_job *job, uint64_t begin, uint64_t end, const struct scribe_event *e,
			     const char *text);
void scribe_job_journal_position(struct scribe_job *job, uint64_t position);
/* This daemon has read the journals and serves. */
void scribe_job_journal_survived(struct scribe_daemon *d);
void scribe_job_journal_forget(struct scribe_job *job);

void scribe_job_journal_pins(const char *dir, char *ret_path, size_t cap);
/* Adopts an earlier daemon's state and resumes its jobs. 0 also if there is none; unusable state is removed. */
int scribe_job_journal_resume(struct scribe_daemon *d, struct scribe_err *err);

#endif
