/* SPDX-License-Identifier: BSD-3-Clause */
/* Header and job region of a log, checked and in today's form. Private to logfmt/. */
#ifndef LOGFMT_FILE_HEADER_H
#define LOGFMT_FILE_HEADER_H

#include "logfmt/base/err.h"
#include "logfmt/file/log_types.h"
#include "logfmt/counters/records.h"

/*
 * Check the first `len` bytes of a log of info->file_bytes bytes; fill *ret_header
 * and *info (version, swapped, comp_type, job_off, job_len, unknown).
 */
int scribe_header_decode(const char *label, const void *bytes, size_t len,
			 struct scribe_log_header *ret_header, struct scribe_reader_info *info,
			 struct scribe_err *err);

/* Does the header say that a trailer ends the file? */
bool scribe_header_has_trailer(const struct scribe_log_header *header);
/* Take the maps of a trailer (as read from the file's end) over into the header. */
int scribe_trailer_decode(const char *label, const struct scribe_log_trailer *bytes,
			  const struct scribe_reader_info *info, struct scribe_log_header *header,
			  struct scribe_err *err);

/*
 * Job record from the plain job region of `len` bytes; the string behind it
 * (command line and mounts) starts at *ret_text.
 */
int scribe_job_decode(const char *label, const struct scribe_reader_info *info, const void *bytes, size_t len,
		      struct scribe_log_job *ret_job, size_t *ret_text, struct scribe_err *err);

/* "POSIX", or "module 21" in `buf`. */
const char *scribe_module_label(int id, char buf[24]);

#endif
