/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Names and directories of logs.
 */
#ifndef RUNTIME_DAEMON_OUTPUT_LOG_PATH_H
#define RUNTIME_DAEMON_OUTPUT_LOG_PATH_H

#include "runtime/daemon/state/daemon.h"

/* Path of the unit's log until it is complete: "….darshan_partial". */
int scribe_log_path_partial(struct scribe_job *job, const struct scribe_log_unit *u, char *ret_path, size_t cap,
			 struct scribe_err *err);
/* What the name of the directory of the job's parts begins with (logfmt/nodes/part.h). */
int scribe_log_path_stem(const struct scribe_job *job, char *ret_path, size_t cap);
/*
 * Make the directories of logs above; the place of a named file is the user's affair. -EAGAIN:
 * the file system has not answered yet, to be asked again.
 */
int scribe_log_path_prepare(struct scribe_job *job, const struct scribe_log_unit *u, struct scribe_preparing *at,
			 struct scribe_err *err);
/*
 * Bytes of a log's path that are the site's directory of logs, below which those of
 * the date belong to root; 0: there are none, or the place is the user's affair.
 */
size_t scribe_log_path_shared(const struct scribe_job *job, const char *path);
/* Bytes of a log's path as far as the directory that bears the user's name (%u); 0: none does. */
size_t scribe_log_path_own(const struct scribe_job *job, const char *path);
/* The final name for a partial one. */
int scribe_log_path_final(const struct scribe_job *job, const char *partial, uint64_t seconds, char *ret_path,
		       size_t cap);
/* Can the job's user write where its logs shall go? Told before CMD starts. */
int scribe_log_path_check(struct scribe_job *job, struct scribe_err *err);
/* Names for an empty log that is written and removed to try the place. */
int scribe_log_path_trial(const struct scribe_job *job, char *ret_partial, char *ret_path, size_t cap,
		       struct scribe_err *err);
/* Where a log goes that could not be written to its place: the same name in /tmp. */
int scribe_log_path_fallback(const char *wanted, char *ret_path, size_t cap);
/* Root process of rank 0 (else of any rank, else CMD); NULL none. */
struct scribe_process *scribe_log_path_leader(struct scribe_job *job, const struct scribe_log_unit *u);

#endif
