/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writing logs in format 3.41, or in the single-region layout. Calls must come in the order of the file: job,
 * names, then records by ascending module; anything else is -SCRIBE_E_ORDER.
 * The header is written last, by finish: a file without it is no log.
 * The single-region layout has an order within a module, too: shared records (rank -1) before
 * those of single ranks; and names that hold a NUL come before those that do not.
 * A writer belongs to one thread.
 */
#ifndef LOGFMT_FILE_WRITER_H
#define LOGFMT_FILE_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "logfmt/base/err.h"
#include "logfmt/file/encode.h"
#include "logfmt/file/log_types.h"
#include "logfmt/counters/module.h"
#include "logfmt/counters/records.h"

#ifdef __cplusplus
extern "C" {
#endif

struct scribe_writer;

/* Write to `fd` (duplicated; at offset 0, must be seekable). NULL options: zlib. */
int scribe_writer_create_fd(int fd, const struct scribe_writer_options *options, struct scribe_writer **ret_w,
			    struct scribe_err *err);
/* Creates `path` (O_EXCL, O_NOFOLLOW, mode 0400 & ~umask); removed by free unless finished. */
int scribe_writer_create(const char *path, const struct scribe_writer_options *options,
			 struct scribe_writer **ret_w, struct scribe_err *err);
/* NULL allowed; returns NULL. */
struct scribe_writer *scribe_writer_free(struct scribe_writer *w);
/* The line of the last failure on this writer. */
const struct scribe_err *scribe_writer_error(const struct scribe_writer *w);

/*
 * Job record, command line and mounts. Command line and mounts together hold
 * 3,015 bytes: a longer command line is cut and ends in "<TRUNCATED>", mounts
 * that do not fit are left out, last first.
 */
int scribe_writer_job(struct scribe_writer *w, const struct scribe_log_job *job, const char *exe,
		      const struct scribe_mount *mounts, size_t n);
/*
 * A name: any bytes, at most SCRIBE_MAX_NAME_BYTES (-EINVAL). One with a NUL goes
 * to a place of its own (docs/format.md); among the others stands its escape.
 */
int scribe_writer_name(struct scribe_writer *w, uint64_t id, const char *bytes, size_t len);
/* One record in the newest layout; `len` must be its length (-EINVAL). */
int scribe_writer_record(struct scribe_writer *w, int module, const void *rec, size_t len);
/*
 * Say what a module is that this library does not know (id, name, version, record_bytes, counters), so that
 * its records can be written; the single-region layout keeps it for readers that do not know it either.
 * Before its first record; borrowed until finish. -EINVAL: the library knows the module, or the id is out of
 * range.
 */
int scribe_writer_module(struct scribe_writer *w, const struct scribe_module *m);
/*
 * Bytes of a module as they shall stand in the file, with their version: for
 * modules this library does not know, or regions carried over unread.
 */
int scribe_writer_raw(struct scribe_writer *w, int module, unsigned version, const void *bytes, size_t len);
/*
 * Records of a module, or names (module -1), as a complete zlib stream of what scribe_record_encode (version:
 * that of the module) and scribe_name_encode give: for who compresses in parallel. Darshan's layout and zlib
 * only (-EINVAL). Names with a NUL do not stand there.
 */
int scribe_writer_packed(struct scribe_writer *w, int module, const void *bytes, size_t len);
/* Mark a module as partial: records of it were lost. Any time before finish. */
void scribe_writer_partial(struct scribe_writer *w, int module);
/* Ends the last region, writes the header. Afterwards only free. */
int scribe_writer_finish(struct scribe_writer *w);

#ifdef __cplusplus
}
#endif

#endif
