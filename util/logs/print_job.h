/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The lines that begin the text of every log: job, regions, mounts.
 */
#ifndef UTIL_LOGS_PRINT_JOB_H
#define UTIL_LOGS_PRINT_JOB_H

#include "util/logs/logfile.h"
#include "util/text/outbuf.h"

void scribe_print_job(struct scribe_out *out, const struct scribe_log *log);

/* "ZLIB", "BZIP2", "NONE" or "UNKNOWN". */
const char *scribe_compression_name(int comp_type);

/* Is the module marked as having lost records? */
int scribe_is_partial(const struct scribe_reader *r, int module);

/* Why modules are incomplete, as the log's metadata tell it; where they do not, that memory ran out. */
const char *scribe_partial_why(const struct scribe_reader *r, char *room, size_t cap);

/* The stock warning of a partial module, on the output. */
void scribe_print_partial(struct scribe_out *out, const char *module);

#endif
