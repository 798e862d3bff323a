/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RUNTIME_DAEMON_OUTPUT_LOG_PATH_H
#define RUNTIME_DAEMON_OUTPUT_LOG_PATH_H

#include "runtime/daemon/state/daemon.h"

/* Path of the unit's log until it is complete: "....darshan_partial". */
int scribe_log_path_partial(struct scribe_job *job, const struct scribe_log_unit *u, char *ret_path, size_t cap,
			    struct scribe_err *err);
/* Prefix of the directory for the job's parts (logfmt/nodes/part.h). */
int scribe_log_path_stem(const struct scribe_job *job, char *ret_path, size_t cap);
/* Makes the directories above a log, except above one named by the user. -EAGAIN: call again. */
int scribe_log_path_prepare(struct scribe_job *job, const struct scribe_log_unit *u, struct scribe_preparing *at,
			    struct scribe_err *err);
/* Length of the site's log directory in `path`, below which date directories belong to root; 0: none do. */
size_t scribe_log_path_shared(const struct scribe_job *job, const char *path);
/* Length of `path` up to the directory named after the user (%u); 0: none. */
size_t scribe_log_path_own(const struct scribe_job *job, const char *path);
int scribe_log_path_final(const struct scribe_job *job, const char *partial, uint64_t seconds, char *ret_path,
			  size_t cap);
/* Before CMD starts: tests whether the job's user can write logs. */
int scribe_log_path_check(struct scribe_job *job, struct scribe_err *err);
/* Names for a test of the directory. */
int scribe_log_path_trial(const struct scribe_job *job, char *ret_partial, char *ret_path, size_t cap,
			  struct scribe_err *err);
/* The same name in /tmp. */
int scribe_log_path_fallback(const char *wanted, char *ret_path, size_t cap);
/* First process of the lowest rank, or of the job for the rest; NULL: unknown. */
struct scribe_process *scribe_log_path_leader(struct scribe_job *job, const struct scribe_log_unit *u);

#endif
