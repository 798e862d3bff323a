/* SPDX-License-Identifier: BSD-3-Clause */
/* Not installed. */
#ifndef UTIL_COMPAT_STATE_H
#define UTIL_COMPAT_STATE_H

#include <stddef.h>

#include "logfmt/file/reader.h"
#include "logfmt/file/writer.h"
#include "util/compat/darshan-logutils.h"

/* Puts, in this order. */
enum put_stage { PUT_NOTHING, PUT_JOB, PUT_EXE, PUT_MOUNTS, PUT_NAMES, PUT_MODULES };

struct darshan_fd_int_state {
	struct scribe_reader *reader; /* either reader or writer */
	struct scribe_writer *writer;
	struct {
		const char *bytes;
		size_t len;
	} raw[DARSHAN_MAX_MODS]; /* plain bytes read but not returned yet */
	int region;              /* read last: see compat_region */
	enum put_stage stage;
	bool job_written; /* by compat_begin */
	bool failed;
	struct scribe_log_job job;
	char *exe;
	struct scribe_mount *mounts;
	size_t nmounts;
	char *path;
};

/* Returns -1. */
int compat_error(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* A module id, or one of these. */
enum { REGION_JOB = -1, REGION_NAMES = -2, REGION_NONE = -3 };
void compat_region(darshan_fd fd, int region);

/* Writes job, exe and mounts, once. 0 or -1. */
int compat_begin(darshan_fd fd);

/* *buf: allocated when NULL, otherwise DEF_MOD_BUF_SIZE bytes. 1 or -1. */
int compat_from_record(int module, const void *rec, size_t len, void **buf);
/* NULL: out of memory or counts out of range. */
void *compat_to_record(int module, const void *buf, size_t *ret_len);
void compat_diff(int module, const void *rec1, const char *name1, const void *rec2, const char *name2);

size_t compat_sizeof(int module, const void *buf);

#endif
