/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of the C interface share. Not installed. */
#ifndef UTIL_COMPAT_STATE_H
#define UTIL_COMPAT_STATE_H

#include <stddef.h>

#include "logfmt/file/reader.h"
#include "logfmt/file/writer.h"
#include "util/compat/darshan-logutils.h"

/* How far the puts are; each may come once, in this order. */
enum put_stage { PUT_NOTHING, PUT_JOB, PUT_EXE, PUT_MOUNTS, PUT_NAMES, PUT_MODULES };

struct darshan_fd_int_state {
	struct scribe_reader *reader; /* one of the two */
	struct scribe_writer *writer;
	struct {
		const char *bytes;
		size_t len;
	} raw[DARSHAN_MAX_MODS]; /* plain bytes fetched and not yet asked for */
	int region;              /* the one read last: see compat_region */
	enum put_stage stage;
	bool job_written; /* job, exe and mounts have gone to the writer */
	bool failed;
	struct scribe_log_job job;
	char *exe;
	struct scribe_mount *mounts;
	size_t nmounts;
	char *path;
};

/* "Error: ..." on standard error; returns -1. */
int compat_error(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/*
 * A region that is come back to after another one, or after its end was told, is
 * read from its start again: callers of the stock library rely on it. Region: a
 * module id, or one of these.
 */
enum { REGION_JOB = -1, REGION_NAMES = -2, REGION_NONE = -3 };
void compat_region(darshan_fd fd, int region);

/* Hand job, exe and mounts to the writer, once. 0 or -1. */
int compat_begin(darshan_fd fd);

/*
 * A record of the library in the interface's layout, into *buf (allocated when
 * NULL, else DEF_MOD_BUF_SIZE bytes of the caller's). 1 or -1.
 */
int compat_from_record(int module, const void *rec, size_t len, void **buf);
/* The inverse, allocated; its length in *ret_len. NULL: out of memory or out of range. */
void *compat_to_record(int module, const void *buf, size_t *ret_len);
/* Two records, either of which may be NULL, as the rows of darshan-diff on standard output. */
void compat_diff(int module, const void *rec1, const char *name1, const void *rec2, const char *name2);

/* Bytes of a record in the interface's layout. */
size_t compat_sizeof(int module, const void *buf);

#endif
