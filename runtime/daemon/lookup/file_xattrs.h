/* SPDX-License-Identifier: BSD-3-Clause */
/* For static modules (runtime/core/module_table.h). A hanging file system costs the job one deadline. */
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

/* Queues the file if a module needs its attributes. */
void scribe_file_xattrs_request(struct scribe_job *job, const struct scribe_name_entry *name);
void scribe_file_xattrs_tick(struct scribe_job *job);
bool scribe_file_xattrs_busy(const struct scribe_job *job);
/* Queues all files of the unit again, and those in `theirs` (the ranks' log; -1: none). */
void scribe_file_xattrs_again(struct scribe_job *job, const struct scribe_log_unit *u, int theirs);
/* True at the latest layout_deadline_ms after scribe_file_xattrs_again(). */
bool scribe_file_xattrs_complete(struct scribe_job *job);
/* NULL: no attribute. Valid until the next call for the job. */
const void *scribe_file_xattrs_get(const struct scribe_job *job, const struct scribe_module_ops *ops, uint64_t id,
				   size_t *ret_bytes);
/* Number of files without an answer. */
uint64_t scribe_file_xattrs_silent(const struct scribe_job *job);
struct scribe_file_xattrs *scribe_file_xattrs_free(struct scribe_file_xattrs *a);

#endif
