/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reading logs in Darshan's format, versions 3.00 to 3.41, and in the single-region layout
 * (info->layout; docs/format.md), either byte order, zlib, bzip2 or uncompressed. Streaming:
 * memory is one window a region in use and one record, whatever the size of the log. Nothing of the file is trusted.
 * A reader belongs to one thread.
 */
#ifndef LOGFMT_FILE_READER_H
#define LOGFMT_FILE_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "logfmt/base/err.h"
#include "logfmt/file/log_types.h"
#include "logfmt/counters/module.h"
#include "logfmt/counters/records.h"

#ifdef __cplusplus
extern "C" {
#endif

struct scribe_reader;

/*
 * Open a log and read its header and job record. On failure one line in `err`
 * names the file, the region and the offset: -SCRIBE_E_FORMAT, _TRUNCATED,
 * _COMPRESSION, _VERSION, _LIMIT, or -errno. The caller frees *ret_r.
 */
int scribe_reader_open(const char *path, struct scribe_reader **ret_r, struct scribe_err *err);
/* The same on a descriptor that can be read at offsets; it is duplicated. `label` stands in messages. */
int scribe_reader_open_fd(int fd, const char *label, struct scribe_reader **ret_r, struct scribe_err *err);
/* NULL allowed; returns NULL. */
struct scribe_reader *scribe_reader_free(struct scribe_reader *r);

/* Borrowed until the reader is freed. Never NULL. */
const struct scribe_reader_info *scribe_reader_info(const struct scribe_reader *r);
/*
 * The header, native order, maps and versions under today's module ids; its
 * version string is the file's. Lengths are those in the file. Of a log in the
 * single-region layout it is what Darshan's would say, and the map of each module
 * that has records is the one region.
 */
const struct scribe_log_header *scribe_reader_header(const struct scribe_reader *r);
const struct scribe_log_job *scribe_reader_job(const struct scribe_reader *r);
/* Command line, NUL-terminated, "" if the log has none. */
const char *scribe_reader_exe(const struct scribe_reader *r);
/* Mounts in the log's order (longest path first in Darshan's logs). Returns how many. */
size_t scribe_reader_mounts(const struct scribe_reader *r, const struct scribe_mount **ret_mounts);
/* The line of the last failure on this reader. */
const struct scribe_err *scribe_reader_error(const struct scribe_reader *r);

/* Does the log hold records of the module (that this library can read)? */
bool scribe_reader_has(const struct scribe_reader *r, int module);

/*
 * The module as this library knows it, else as a log in the single-region layout describes it: its records are
 * then given as they stand there, counters in native order. NULL: nothing is known of it. Borrowed until the
 * reader is freed.
 */
const struct scribe_module *scribe_reader_module(const struct scribe_reader *r, int module);

/*
 * The next name of the log's name records, in file order, duplicates and all.
 * Names that hold a NUL come first; what stands for them among the others, for
 * readers that cannot take them, follows under the same id.
 * 1: *ret_name is set, its bytes are valid until the next call; 0: end; < 0: error.
 */
int scribe_reader_next_name(struct scribe_reader *r, struct scribe_name *ret_name);
void scribe_reader_rewind_names(struct scribe_reader *r);

/*
 * The next record of a module, in the newest layout (logfmt/counters/records.h) and
 * native order. Modules may be read in any order and alternately.
 * next_record copies into `buf`; when `cap` is too small it returns
 * -SCRIBE_E_BUFFER with the bytes needed in *ret_len and the record stays next.
 * borrow_record gives a pointer, aligned to 8, valid until the next call for
 * that module: no copy, preferred where speed counts.
 * 1: got one; 0: end (or the module is absent); < 0: error.
 */
int scribe_reader_next_record(struct scribe_reader *r, int module, void *buf, size_t cap, size_t *ret_len);
int scribe_reader_borrow_record(struct scribe_reader *r, int module, const void **ret_rec, size_t *ret_len);
void scribe_reader_rewind(struct scribe_reader *r, int module);

/*
 * Plain bytes of a module as they stand in the file, in its byte order and
 * version, piece by piece; borrowed until the next call. 1, 0 at the end, < 0.
 * For modules that this library does not know (info->unknown), and for tools
 * that carry regions over unread. Do not mix with records of the module.
 */
int scribe_reader_borrow_raw(struct scribe_reader *r, int module, const void **ret_bytes, size_t *ret_len);

/*
 * Give values as the stock reader of 3.5.0 does where that one is wrong, all in
 * POSIX records older than version 4: in logs of the other byte order META_TIME,
 * MAX_READ_TIME and MAX_WRITE_TIME keep their bytes unturned, and the last reals
 * of version 2 (four) and 3 (two: the variances) are 0. Only for text that must
 * equal Darshan's; off at first. Before the first record.
 */
void scribe_reader_as_stock(struct scribe_reader *r, bool on);
/*
 * Give of a name that holds a NUL only what stands for it in the name region: its
 * escape, cut to 1,023 bytes. For callers that take C strings; off at first.
 * Before the first name.
 */
void scribe_reader_plain_names(struct scribe_reader *r, bool on);

/*
 * Give records of extended tracing in pieces: borrow_record's are each a struct scribe_dxt_piece then, so
 * that a record takes no more memory than a piece of it. Off at first. Before the first record.
 */
void scribe_reader_dxt_in_pieces(struct scribe_reader *r, bool on);

/*
 * Seconds from start to end as darshan-parser prints them: with nanoseconds
 * from log version 3.41 on, whole seconds + 1 before.
 */
double scribe_reader_runtime(const struct scribe_reader *r);

#ifdef __cplusplus
}
#endif

#endif
