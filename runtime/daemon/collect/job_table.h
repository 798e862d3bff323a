/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A job in the kernel's table, and the programs that the table is for.
 */
#ifndef RUNTIME_DAEMON_COLLECT_JOB_TABLE_H
#define RUNTIME_DAEMON_COLLECT_JOB_TABLE_H

#include "runtime/daemon/state/daemon.h"

/* Load the programs for the pool that `c` asks for, if they are not yet; attached they are with a job. */
int scribe_jobs_load(struct scribe_daemon *d, const struct scribe_config *c, struct scribe_err *err);
/* Who joins the job when it executes a program. */
int scribe_job_table_match(const struct scribe_job *job, struct scribe_job_entry *entry, struct scribe_err *err);
/* What the job may hold. Among many no job may take all: what it floods is its own share. */
void scribe_job_table_quotas(struct scribe_job *job, struct scribe_job_entry *entry);
/* The kernel alone drops only what every job excludes. */
void scribe_job_table_exclude(struct scribe_daemon *d, struct scribe_job *job);
/* Its own libraries' loading is not the job's I/O. */
void scribe_job_table_exclude_libraries(struct scribe_job *job);
/* Its configuration is another from now on; `alignment_before` stays where records are kept already. */
void scribe_job_changed(struct scribe_job *job, uint32_t alignment_before);

#endif
