/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writing logs in format 3.41. Calls must come in the order of the file: job,
 * names, then records by ascending module; anything else is -SCRIBE_E_ORDER.
 * The header is written last, by finish: a file without it is no log.
 * A writer belongs to one thread.
 */
#ifndef LOGFMT_WRITER_H
#define LOGFMT_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "logfmt/base/err.h"
#include "logfmt/reader.h" /* struct scribe_mount */
#include "logfmt/records.h"

#ifdef __cplusplus
extern "C" {
#endif

struct scribe_writer;

struct scribe_writer_options {
	enum scribe_compression compression; /* 0: zlib */
	int level;        /* 0: the default (zlib 6, bzip2 9); else 1 to 9 */
	bool list_own;    /* list our own modules in the header, where stock readers meet ids that
	                     they do not know; else only in a trailer */
	bool dxt_threads; /* write 40-byte DXT segments (DXT_POSIX 2, DXT_MPIIO 3), which stock
	                     3.5.0 readers refuse; else thread ids are left out */
};

/* Write to `fd` (duplicated; at offset 0, must be seekable). NULL options: zlib. */
int scribe_writer_create_fd(int fd, const struct scribe_writer_options *options,
			    struct scribe_writer **ret_w, struct scribe_err *err);
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
 * Bytes of a module as they shall stand in the file, with their version: for
 * modules this library does not know, or regions carried over unread.
 */
int scribe_writer_raw(struct scribe_writer *w, int module, unsigned version, const void *bytes, size_t len);
/* Mark a module as partial: records of it were lost. Any time before finish. */
void scribe_writer_partial(struct scribe_writer *w, int module);
/* Ends the last region, writes the header. Afterwards only free. */
int scribe_writer_finish(struct scribe_writer *w);

/* ---- building blocks of a parallel writer: encode and compress, offsets are the caller's ---- */

/* A new log header: version, magic, zlib, all maps empty. */
void scribe_log_header_init(struct scribe_log_header *ret_header);
/*
 * One complete zlib stream of `n` bytes. A region is any number of these, one
 * after another. The caller frees *ret_out. n may be 0.
 */
int scribe_deflate_region(const void *in, size_t n, void **ret_out, size_t *ret_n, struct scribe_err *err);
/* The job region before compression; the caller frees. At most SCRIBE_JOB_REGION_BYTES. */
int scribe_job_region_encode(const struct scribe_log_job *job, const char *exe,
			     const struct scribe_mount *mounts, size_t n, void **ret_out, size_t *ret_n,
			     struct scribe_err *err);
/*
 * One name record before compression, into `out`; returns its bytes (8 + len + 1),
 * and writes nothing when `cap` is smaller. 0: the name holds a NUL.
 */
size_t scribe_name_encode(uint64_t id, const char *bytes, size_t len, void *out, size_t cap);
/*
 * A record as it stands in the file (DXT: 32-byte segments): bytes needed, and
 * written to `out` when `cap` allows. 0: `len` is not the record's length. For
 * fixed records the bytes are the record's own.
 */
size_t scribe_record_encode(int module, bool dxt_threads, const void *rec, size_t len, void *out, size_t cap);

#ifdef __cplusplus
}
#endif

#endif
