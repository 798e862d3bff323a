/* SPDX-License-Identifier: BSD-3-Clause */
/* What the daemon says about those whom it refuses: one line each, on its standard error, within limits. */
#ifndef RUNTIME_DAEMON_BASE_AUDIT_LOG_H
#define RUNTIME_DAEMON_BASE_AUDIT_LOG_H

#include <sys/types.h>

/*
 * "ioscribed: refused uid U pid P: TEXT". Control characters of `text` become
 * '?'. At most 200 lines in 10 s; what is beyond is counted, and told in one
 * line with the first one after.
 */
void scribe_audit_log_refused(uid_t uid, pid_t pid, const char *text);
/* Keys that a client set by their old names; pid 0: a job's programs, by their environment. */
void scribe_audit_log_old_keys(uid_t uid, pid_t pid, const char *text);
/* A log cannot be written to its place: it goes elsewhere. */
void scribe_audit_log_no_place(uid_t uid, const char *text);

#endif
