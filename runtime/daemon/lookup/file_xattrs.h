/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What files say of themselves: extended attributes that static modules
 * (runtime/core/module_table.h) want, read by a helper of its own with the job user's
 * identity. A file system that does not answer costs a job one deadline, once,
 * and nobody else anything. Must not know what the attributes mean.
 */
#ifndef RUNTIME_DAEMON_LOOKUP_FILE_XATTRS_H
#define RUNTIME_DAEMON_LOOKUP_FILE_XATTRS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct scribe_file_xattrs;
struct scribe_name_entry;
struct scribe_module_ops;
struct scribe_log_unit;
struct scribe_job;

/* A name has become known: if a module wants to know more of such files, this one is asked soon. */
void scribe_file_xattrs_request(struct scribe_job *job, const struct scribe_name_entry *name);
/* Go on with what is under way. */
void scribe_file_xattrs_tick(struct scribe_job *job);
/* Is a file being asked, or to be? */
bool scribe_file_xattrs_busy(const struct scribe_job *job);
/*
 * The unit's log is due: ask all of its files once more, those that are still
 * there, and those that `theirs` (the ranks' own log, -1 none) names.
 */
void scribe_file_xattrs_again(struct scribe_job *job, const struct scribe_log_unit *u, int theirs);
/* Is nothing more to be waited for? True at the latest layout_deadline_ms after scribe_file_xattrs_again. */
bool scribe_file_xattrs_complete(struct scribe_job *job);
/* What the file of this id answered to the source; NULL nothing. Valid until the next call for the job. */
const void *scribe_file_xattrs_get(const struct scribe_job *job, const struct scribe_module_ops *ops, uint64_t id,
			     size_t *ret_bytes);
/* Files that have not answered in time. */
uint64_t scribe_file_xattrs_silent(const struct scribe_job *job);
/* NULL allowed; returns NULL. */
struct scribe_file_xattrs *scribe_file_xattrs_free(struct scribe_file_xattrs *a);

#endif
