/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UTIL_LOGS_OBFUSCATE_H
#define UTIL_LOGS_OBFUSCATE_H

#include "logfmt/counters/records.h"
#include "util/logs/logfile.h"

uint32_t scribe_obfuscate_hash(const void *bytes, size_t n, uint32_t key);

void scribe_obfuscate_jobid(struct scribe_log_job *job, uint32_t key);
void scribe_obfuscate_uid(struct scribe_log_job *job, uint32_t key);

void scribe_obfuscate_exe(const char *exe, uint32_t key, char *to, size_t cap);

/* Writes mount point and number to `to`. NULL: a stream or heatmap, which keeps its name. */
const char *scribe_obfuscate_name(const struct scribe_log *log, const char *name, size_t len, uint32_t key, char *to,
				  size_t cap);

void scribe_obfuscate_process(struct scribe_process_record *p, uint32_t key, int uid, int exe, int names);

#endif
