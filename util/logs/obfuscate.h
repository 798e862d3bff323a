/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Replacing what tells who and what a log is about by keyed hashes, the same
 * ones that darshan-convert makes.
 */
#ifndef UTIL_LOGS_OBFUSCATE_H
#define UTIL_LOGS_OBFUSCATE_H

#include "logfmt/counters/records.h"
#include "util/logs/logfile.h"

/* Bob Jenkins' 32-bit hash of bytes ("lookup3", little endian), with a key. */
uint32_t scribe_obfuscate_hash(const void *bytes, size_t n, uint32_t key);

void scribe_obfuscate_jobid(struct scribe_log_job *job, uint32_t key);
void scribe_obfuscate_uid(struct scribe_log_job *job, uint32_t key);

/* The command line as a number, into `to`. */
void scribe_obfuscate_exe(const char *exe, uint32_t key, char *to, size_t cap);

/*
 * A record's name: mount point and a number. Streams ("<STDIN>") and heatmaps
 * keep theirs: returns NULL. The text is in `to`.
 */
const char *scribe_obfuscate_name(const struct scribe_log *log, const char *name, size_t len, uint32_t key,
				  char *to, size_t cap);

/* What a process record says of user and program. */
void scribe_obfuscate_process(struct scribe_process_record *p, uint32_t key, int uid, int exe, int names);

#endif
