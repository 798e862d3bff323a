/* SPDX-License-Identifier: BSD-3-Clause */
/* Private to logfmt/. */
#ifndef LOGFMT_FILE_HEADER_H
#define LOGFMT_FILE_HEADER_H

#include "logfmt/base/err.h"
#include "logfmt/counters/records.h"
#include "logfmt/file/log_types.h"

/* Needs info->file_bytes; fills *ret_header and version, swapped, comp_type, job_off, job_len, unknown of *info. */
int scribe_header_decode(const char *label, const void *bytes, size_t len, struct scribe_log_header *ret_header,
			 struct scribe_reader_info *info, struct scribe_err *err);

bool scribe_header_has_trailer(const struct scribe_log_header *header);
/* Copies the trailer's maps into the header. */
int scribe_trailer_decode(const char *label, const struct scribe_log_trailer *bytes,
			  const struct scribe_reader_info *info, struct scribe_log_header *header,
			  struct scribe_err *err);

/* `len` plain bytes of the job region; *ret_text: offset of the string with command line and mounts. */
int scribe_job_decode(const char *label, const struct scribe_reader_info *info, const void *bytes, size_t len,
		      struct scribe_log_job *ret_job, size_t *ret_text, struct scribe_err *err);

/* "POSIX", or "module 21" in `buf`. */
const char *scribe_module_label(int id, char buf[24]);

#endif
