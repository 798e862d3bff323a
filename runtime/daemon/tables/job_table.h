/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RUNTIME_DAEMON_TABLES_JOB_TABLE_H
#define RUNTIME_DAEMON_TABLES_JOB_TABLE_H

#include "runtime/daemon/state/daemon.h"

/* Loads the programs if needed; jobs attach them. */
int scribe_jobs_load(struct scribe_daemon *d, const struct scribe_config *c, struct scribe_err *err);
/* Which processes join the job at exec. */
int scribe_job_table_match(const struct scribe_job *job, struct scribe_job_entry *entry, struct scribe_err *err);
/* Limits, so that no job uses the whole pool. */
void scribe_job_table_quotas(struct scribe_job *job, struct scribe_job_entry *entry);
/* The kernel drops early only what all jobs exclude. */
void scribe_job_table_exclude(struct scribe_daemon *d, struct scribe_job *job);
/* Loading our own libraries is not I/O of the job. */
void scribe_job_table_exclude_libraries(struct scribe_job *job);
/* After a change of its configuration; `alignment_before` remains in use if files are counted already. */
void scribe_job_changed(struct scribe_job *job, uint32_t alignment_before);

#endif
