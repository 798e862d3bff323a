/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Building blocks of a log for who writes it in parallel: what stands in the file is
 * encoded and compressed here, where it stands is the caller's affair.
 */
#ifndef LOGFMT_FILE_ENCODE_H
#define LOGFMT_FILE_ENCODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "logfmt/base/err.h"
#include "logfmt/file/log_types.h"
#include "logfmt/counters/records.h"

#ifdef __cplusplus
extern "C" {
#endif

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
