/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RUNTIME_DAEMON_OUTPUT_LOG_DELIVER_H
#define RUNTIME_DAEMON_OUTPUT_LOG_DELIVER_H

#include <stdbool.h>
#include <stddef.h>

struct scribe_job;
struct scribe_log_unit;

/* m: index in job->log; that entry receives errors. */
void scribe_deliver_unit(struct scribe_job *job, struct scribe_log_unit *u, size_t m);
/* Note to the job's other nodes: this node has records. */
void scribe_deliver_begun(struct scribe_job *job);
/* Note: this node has delivered everything; the last node merges. */
void scribe_deliver_done(struct scribe_job *job);
void scribe_deliver_tick(struct scribe_job *job);
bool scribe_deliver_busy(const struct scribe_job *job);
/* A log is being built, which has its own time limit. */
bool scribe_deliver_building(const struct scribe_job *job);
/* When the job is freed. */
void scribe_deliver_clear(struct scribe_job *job);

#endif
