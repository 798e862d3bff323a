/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads Darshan's logs of versions 3.00 to 3.41 and the single-region layout (docs/format.md), in either byte order.
 * Memory is one window per region in use and one record. The file is not trusted. A reader belongs to one thread.
 */
#ifndef LOGFMT_FILE_READER_H
#define LOGFMT_FILE_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "logfmt/base/err.h"
#include "logfmt/counters/module.h"
#include "logfmt/counters/records.h"
#include "logfmt/file/log_types.h"

#ifdef __cplusplus
extern "C" {
#endif

struct scribe_reader;

/* Failures: -SCRIBE_E_FORMAT, _TRUNCATED, _COMPRESSION, _VERSION, _LIMIT or -errno. The caller frees *ret_r. */
int scribe_reader_open(const char *path, struct scribe_reader **ret_r, struct scribe_err *err);
/* Duplicates `fd`, which must be seekable. `label` is for messages. */
int scribe_reader_open_fd(int fd, const char *label, struct scribe_reader **ret_r, struct scribe_err *err);
/* Returns NULL. */
struct scribe_reader *scribe_reader_free(struct scribe_reader *r);

/* Borrowed until the reader is freed. */
const struct scribe_reader_info *scribe_reader_info(const struct scribe_reader *r);
/*
 * Native order, with the newest module ids; the version string is the file's, lengths are those in the file. In the
 * single-region layout the map of each module with records is the one region.
 */
const struct scribe_log_header *scribe_reader_header(const struct scribe_reader *r);
const struct scribe_log_job *scribe_reader_job(const struct scribe_reader *r);
/* Command line; "": none. */
const char *scribe_reader_exe(const struct scribe_reader *r);
/* In the log's order (Darshan's: longest path first). Returns the number. */
size_t scribe_reader_mounts(const struct scribe_reader *r, const struct scribe_mount **ret_mounts);
/* Of the last failure. */
const struct scribe_err *scribe_reader_error(const struct scribe_reader *r);

/* Records of a module that this library can read. */
bool scribe_reader_has(const struct scribe_reader *r, int module);

/*
 * As this library knows it, otherwise as the single-region log describes it: such records are passed as they are,
 * with counters in native order. NULL: unknown. Borrowed until the reader is freed.
 */
const struct scribe_module *scribe_reader_module(const struct scribe_reader *r, int module);

/*
 * In file order, with duplicates. Names with a NUL come first; their escaped form follows under the same id.
 * 1: valid until the next call; 0: end; < 0: error.
 */
int scribe_reader_next_name(struct scribe_reader *r, struct scribe_name *ret_name);
void scribe_reader_rewind_names(struct scribe_reader *r);

/*
 * In the newest layout and native order; modules in any order, also alternately. 1, 0: end or module absent, < 0.
 * next_record copies; if `cap` is too small, -SCRIBE_E_BUFFER with the size in *ret_len, and the record stays next.
 * borrow_record does not copy: aligned to 8, valid until the next call of the module.
 */
int scribe_reader_next_record(struct scribe_reader *r, int module, void *buf, size_t cap, size_t *ret_len);
int scribe_reader_borrow_record(struct scribe_reader *r, int module, const void **ret_rec, size_t *ret_len);
void scribe_reader_rewind(struct scribe_reader *r, int module);

/*
 * A module's plain bytes in the file's order and version, in pieces, borrowed until the next call. 1, 0: end, < 0.
 * For unknown modules and tools that copy regions. A module is read by this or by records, not by both.
 */
int scribe_reader_borrow_raw(struct scribe_reader *r, int module, const void **ret_bytes, size_t *ret_len);

/*
 * Values of POSIX records before version 4 as the stock reader of 3.5.0 returns them, with its faults (see
 * stock_faults). Only for text that must equal Darshan's. Before the first record.
 */
void scribe_reader_as_stock(struct scribe_reader *r, bool on);
/* Names with a NUL only in escaped form, cut to 1,023 bytes: for callers of C strings. Before the first name. */
void scribe_reader_plain_names(struct scribe_reader *r, bool on);

/* DXT records as struct scribe_dxt_piece, which limits memory. Before the first record. */
void scribe_reader_dxt_in_pieces(struct scribe_reader *r, bool on);

/* Seconds as darshan-parser prints them: before log version 3.41 whole seconds + 1. */
double scribe_reader_runtime(const struct scribe_reader *r);

#ifdef __cplusplus
}
#endif

#endif
