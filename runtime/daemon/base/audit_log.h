/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RUNTIME_DAEMON_BASE_AUDIT_LOG_H
#define RUNTIME_DAEMON_BASE_AUDIT_LOG_H

#include <sys/types.h>

/* Control characters of `text` become '?'. At most 200 lines in 10 s; further ones are counted. */
void scribe_audit_log_refused(uid_t uid, pid_t pid, const char *text);
/* Keys set by former names; pid 0: by the environment of a job's programs. */
void scribe_audit_log_old_keys(uid_t uid, pid_t pid, const char *text);
/* A log was stored elsewhere. */
void scribe_audit_log_no_place(uid_t uid, const char *text);

#endif
