/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UTIL_LOGS_PRINT_JOB_H
#define UTIL_LOGS_PRINT_JOB_H

#include "util/logs/logfile.h"
#include "util/text/outbuf.h"

void scribe_print_job(struct scribe_out *out, const struct scribe_log *log);

const char *scribe_compression_name(int comp_type);

int scribe_is_partial(const struct scribe_reader *r, int module);

/* The value of a line KEY=VALUE of the log's metadata, printable, in `capacity`; NULL: none. */
const char *scribe_metadata(const struct scribe_reader *r, const char *key, char *capacity, size_t cap);

/* The reason for missing records, from the metadata. May return `capacity` or a constant. */
const char *scribe_partial_why(const struct scribe_reader *r, char *capacity, size_t cap);

void scribe_print_partial(struct scribe_out *out, const char *module);

#endif
