/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writes logs of format 3.41 or the single-region layout. Calls in the order of the file: job, names, records by
 * ascending module; otherwise -SCRIBE_E_ORDER. The single-region layout also needs shared records (rank -1) before
 * others within a module, and names with a NUL before others. A writer belongs to one thread.
 */
#ifndef LOGFMT_FILE_WRITER_H
#define LOGFMT_FILE_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "logfmt/base/err.h"
#include "logfmt/counters/module.h"
#include "logfmt/counters/records.h"
#include "logfmt/file/encode.h"
#include "logfmt/file/log_types.h"

#ifdef __cplusplus
extern "C" {
#endif

struct scribe_writer;

/* Duplicates `fd`: seekable, empty. Options NULL: zlib. */
int scribe_writer_create_fd(int fd, const struct scribe_writer_options *options, struct scribe_writer **ret_w,
			    struct scribe_err *err);
/* O_EXCL, O_NOFOLLOW, mode 0400 & ~umask. Free removes the file unless finished. */
int scribe_writer_create(const char *path, const struct scribe_writer_options *options, struct scribe_writer **ret_w,
			 struct scribe_err *err);
/* Returns NULL. */
struct scribe_writer *scribe_writer_free(struct scribe_writer *w);
/* Of the last failure. */
const struct scribe_err *scribe_writer_error(const struct scribe_writer *w);

/* Limited to 3,015 bytes: a longer command line ends in "<TRUNCATED>", mounts that do not fit are dropped. */
int scribe_writer_job(struct scribe_writer *w, const struct scribe_log_job *job, const char *exe,
		      const struct scribe_mount *mounts, size_t n);
/* Any bytes, at most SCRIBE_MAX_NAME_BYTES (-EINVAL). Names with a NUL: docs/format.md. */
int scribe_writer_name(struct scribe_writer *w, uint64_t id, const char *bytes, size_t len);
/* Newest layout. -EINVAL: wrong `len`. */
int scribe_writer_record(struct scribe_writer *w, int module, const void *rec, size_t len);
/*
 * Describes an unknown module before its first record; the single-region layout stores the description. Borrowed
 * until finish. -EINVAL: known, or id out of range.
 */
int scribe_writer_module(struct scribe_writer *w, const struct scribe_module *m);
/* A module's bytes as in the file: unknown modules, or regions that are copied. */
int scribe_writer_raw(struct scribe_writer *w, int module, unsigned version, const void *bytes, size_t len);
/*
 * A complete zlib stream of scribe_record_encode's records or (module -1) scribe_name_encode's names, compressed in
 * parallel. Only zlib in Darshan's layout (-EINVAL); not for names with a NUL.
 */
int scribe_writer_packed(struct scribe_writer *w, int module, const void *bytes, size_t len);
/* Records were lost. Any time before finish. */
void scribe_writer_partial(struct scribe_writer *w, int module);
/* Afterwards only free. */
int scribe_writer_finish(struct scribe_writer *w);

#ifdef __cplusplus
}
#endif

#endif
