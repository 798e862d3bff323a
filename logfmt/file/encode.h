/* SPDX-License-Identifier: BSD-3-Clause */
/* Building blocks of a log for programs that write it in parallel. Offsets in the file are up to the caller. */
#ifndef LOGFMT_FILE_ENCODE_H
#define LOGFMT_FILE_ENCODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "logfmt/base/err.h"
#include "logfmt/counters/records.h"
#include "logfmt/file/log_types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Version, magic, zlib, empty maps. */
void scribe_log_header_init(struct scribe_log_header *ret_header);
/* A complete zlib stream; a region is any number of them. The caller frees *ret_out. */
int scribe_deflate_region(const void *in, size_t n, void **ret_out, size_t *ret_n, struct scribe_err *err);
/* The job region before compression, at most SCRIBE_JOB_REGION_BYTES; the caller frees. */
int scribe_job_region_encode(const struct scribe_log_job *job, const char *exe, const struct scribe_mount *mounts,
			     size_t n, void **ret_out, size_t *ret_n, struct scribe_err *err);
/* Returns 8 + len + 1 bytes, and writes only if `cap` allows. 0: the name holds a NUL. */
size_t scribe_name_encode(uint64_t id, const char *bytes, size_t len, void *out, size_t cap);
/* As in the file (DXT: 32-byte segments). Returns the size, writes only if `cap` allows. 0: wrong `len`. */
size_t scribe_record_encode(int module, bool dxt_threads, const void *rec, size_t len, void *out, size_t cap);

#ifdef __cplusplus
}
#endif

#endif
